/* test_paper.c - the tests of paper.c and pages.c: the tables and figures; and
 * of onset.c.
 *
 *     cc -O2 -DSINK_DOUBLE data/check/test_paper.c -o test_paper -lm
 *
 * SPDX-License-Identifier: MIT */
#define PAPER_NO_MAIN
#include "../paper/paper.c"
#define PROGRAM FROM_HERE "paper"
#include "../../test_sink.c"
#include "programs.c"
#include "ablated.c"

/* -----------------------------------------------------------------------------
 * 0  Fine-tuning and Table 7's edits, beside sink.c in pages.c */

static const Program STARTS = {.name = "paper",
                               .start = trainer_start,
                               .log = log_keep,
                               .edit = position_edit};

/* --start FILE beside a flag, where the run writes, and what comes of it. */
static const struct {
  const char *flag, *value, *start, *out;
  int resume, step, status;
  const char *said;
} START_ROWS[] = {
  {"--seed", "4", "/base.ckpt", "/tuned.ckpt", 1, 0, 2, "has 3"},
  {"--context", "32", "/base.ckpt", "/new", 0, 0, 0, ""},
  {"--seed", "3", "/base.ckpt", "/on.ckpt", 1, 0, 2, "started from none"},
  {"--kv-heads", "2", "/base.ckpt", "/new", 0, 0, 0, ""},
  {"--seed", "8", "/none.ckpt", "/new", 0, 0, 1, "none.ckpt"},
  {"--pos", "learned", "/base.ckpt", "/new", 0, 0, 2, "--pos learned: "},
  {"--seed", "3", "/base.ckpt", "/tuned.ckpt", 1, 2, 0, ""},
  {"--heads", "2", "/base.ckpt", "/new", 0, 0, 0, ""},
  {"--heads", "4", "/base.ckpt", "/new", 0, 0, 2, "--heads 4: "},
  {"--lr", "0.5", "/base.ckpt", "/new", 0, 0, 0, ""},
  {"--seed", "8", "/base.ckpt", "/new", 1, 0, 0, ""},
  {"--variant", "alibi", "/base.ckpt", "/new", 0, 0, 2, "--pos alibi"},
  {"--kv-heads", "1", "/base.ckpt", "/new", 0, 0, 2,
   "has 2, which --start keeps"},
  {"--seed", "8", "/tale.tok", "/new", 0, 0, 1, "expected a checkpoint"},
  {"--tokenizer", SCRATCH "/other.tok", "/base.ckpt", "/new", 0, 0, 1,
   "expected the tokenizer"},
  {"--seed", "3", "/tuned.ckpt", "/tuned.ckpt", 1, 0, 2,
   "started from other parameters"},
  {"--seed", "3", "/on.ckpt", "/tuned.ckpt", 1, 0, 2,
   "started from other parameters"}};

/* --start: every flag of the model may be repeated, and none but a context be
 * changed; with --resume it must be what the run was begun from. */
static void trainer_start__refuses(Test *t) {
  Settings s;
  Trainer run, *base = trainer_of(t, ""), *on = trainer_of(t, "");
  Error e = {0};
  Tokenizer k;
  steps_of(t, base, 3);
  steps_of(t, on, 4);
  checkpoint_write(SCRATCH "/base.ckpt", base, &e);
  checkpoint_write(SCRATCH "/on.ckpt", on, &e);
  if (tiny_settings(&s, "", &e) && !trainer_restart(base, &s, &e))
    steps_of(t, base, 2);
  checkpoint_write(SCRATCH "/tuned.ckpt", base, &e);
  if (!tokenizer_train(&k, (const unsigned char *)TALE, strlen(TALE), 300, &e))
    tokenizer_save(SCRATCH "/other.tok", &k, &e);
  fact(t, !e.status, "%s", e.text);
  EACH (i, START_ROWS) {
    const char *flag = START_ROWS[i].flag, *value = START_ROWS[i].value;
    char *argv[2] = {(char *)(uintptr_t)flag, (char *)(uintptr_t)value};
    if (!resume_settings_of(t, &s, "", START_ROWS[i].start, START_ROWS[i].out,
                            argv, 2))
      return;
    s.resume = START_ROWS[i].resume;
    s.program = &STARTS;
    const int status = trainer_begin(&run, &s, "", fresh(t));
    fact(t,
         status == START_ROWS[i].status &&
             strstr(t->e.text, START_ROWS[i].said) &&
             (!status ||
              (strstr(t->e.text, "Try: ") && !strchr(t->e.text, '\n'))),
         "row %d, %s %s: status %d, %s", i, flag, value, status, t->e.text);
    if (status)
      continue;
    fact(t,
         run.step == START_ROWS[i].step && run.m.c.heads == 2 &&
             run.start == base->start &&
             (strcmp(flag, "--context") ||
              (run.m.c.context == 32 && run.s.model.context == 32)),
         "row %d, %s %s: step %ld of %d", i, flag, value, run.step,
         run.s.train.steps);
    trainer_free(&run);
  }
  tokenizer_free(&k);
}

/* These runs of row k end step 12 alike: loss, norm, the bytes of a file. */
static void runs_end_alike(Test *t, Trainer *const run[4], int k,
                           const char *flags) {
  Bytes *want = NULL;
  for (int i = 0; i < 4; i++) {
    steps_of(t, run[i], 12);
    within(t, run[i]->loss, run[0]->loss, 0, "loss of step 12, row %d, run %d",
           k, i);
    fact(t, run[i]->norm > 0 && run[i]->norm == run[0]->norm, "norm %g",
         run[i]->norm);
    Bytes *got = checkpoint_of(t, run[i], true);
    if (!i)
      want = got;
    fact(t, bytes_same(got, want), "%s: another file %d", flags, i);
  }
}

/* [FIG30] Fine-tuning: twice the same bytes; those of a training whose start
 * was written over by hand; and, of a run that stops and goes on, of one that
 * does not. Nothing of the first training but the parameters is left in it. */
static void trainer_restart__from_parameters(Test *t) {
  static const char BASE_RUN[] = "--extra k --lr 0.02";
  static const char *const FLAGS[] = {
    FROM_TEXT "--lr 3e-3 --schedule cosine --batch 2 --seed 9 --clip 0.5 "
              "--steps 12 --warmup 0",
    "--optimizer sgd --seed 5 --bos --accumulate 2 --steps 12"};
  Settings s;
  Error e = {0};
  EACH (k, FLAGS) {
    char flags[400];
    snprintf(flags, sizeof flags, "--extra k %s", FLAGS[k]);
    Trainer *base = trainer_of(t, BASE_RUN), *tuned = trainer_of(t, BASE_RUN);
    Trainer *by_hand = trainer_of(t, flags), read, on;
    Trainer *const all[] = {by_hand, tuned, &read, &on};
    steps_of(t, base, 15);
    steps_of(t, tuned, 15);
    copy(by_hand->m.params, base->m.params, base->m.count);
    by_hand->start = parameters_hash(&base->m);
    /* the same, from the file: the flags of the model are its own */
    if (!resume_settings_of(t, &s, FLAGS[k], "/base.ckpt", "/on.ckpt", NULL, 0))
      return;
    s.resume = 0;
    s.force = 1;
    s.program = &STARTS;
    (k ? parameters_write : checkpoint_write)(s.start, base, &e);
    Settings again = s;
    again.model.heads = 1;   /* not the flags', so not heeded */
    if (trainer_begin(&read, &again, "", &e) ||
        trainer_restart(tuned, &s, &e)) {
      fact(t, false, "%s", e.text);
      return;
    }
    fact(t,
         tuned->step == 0 && tuned->loss_steps == 0 &&
             biggest(tuned->m.count, tuned->m1) == 0 &&
             biggest(tuned->m.count, tuned->m2) == 0 && tuned->data.sample == 0,
         "not anew");
    fact(t, same_numbers(base->m.count, base->m.params, tuned->m.params),
         "other parameters");
    steps_of(t, tuned, 5);
    checkpoint_write(s.out, tuned, &e);
    s.resume = 1;
    if (trainer_begin(&on, &s, "", &e)) {
      fact(t, false, "%s", e.text);
      return;
    }
    fact(t, on.step == 5 && on.start == tuned->start, "step %ld", on.step);
    runs_end_alike(t, all, k, FLAGS[k]);
    trainer_free(&read);
    trainer_free(&on);
  }
  fact(t, !e.status, "%s", e.text);
}

/* Table 7's flags measure a model so written; the model's own parameters do
 * not change. */
static void evaluate__edits_positions(Test *t) {
  enum { T = 12, PLACE = 5 };
  static const char *const FLAGS[] = {
      "--pos learned", "--pos learned --sink-token --fix-token 1"};
  for (int f = 0; f < 4; f++) {
    Sinks plain, edited, by_hand;
    bool swap = f >= 2;
    Trainer *r = trainer_of(t, FLAGS[f % 2]);
    steps_of(t, r, 10);
    Settings asks = r->s;
    asks.program = &STARTS;
    *(swap ? &asks.swap_position : &asks.replace_position) = PLACE;
    const size_t size = (size_t)r->m.count * sizeof(real);
    const uint64_t hash = hash64(0, r->m.params, size);
    evaluate(&plain, &r->m, &r->data, &r->s, 9, T, fresh(t));
    evaluate(&edited, &r->m, &r->data, &asks, 9, T, &t->e);
    fact(t, hash == hash64(0, r->m.params, size),
         "an edit leaves something behind");
    write_positions(&r->m, PLACE, swap);
    evaluate(&by_hand, &r->m, &r->data, &r->s, 9, T, &t->e);
    if (t->e.status) {
      fact(t, false, "%s", t->e.text);
      return;
    }
    fact(t,
         !memcmp(edited.sums, by_hand.sums,
                 (size_t)edited.n_sums * sizeof(double)) &&
             edited.loss == by_hand.loss && edited.loss != plain.loss,
         "%s: loss %g, not %g", FLAGS[f % 2], edited.loss, by_hand.loss);
    sinks_free(&plain);
    sinks_free(&edited);
    sinks_free(&by_hand);
  }
}

static void position_edit__refuses(Test *t) {
  static const struct {
    const char *flags;
    int T, status;
    const char *said;
  } ROWS[] = {
    {"--pos learned --replace-position 16", 16, 0, ""},
    {"--pos learned --swap-position 2", 16, 0, ""},
    {"--pos absolute --replace-position 5", 8, 0, ""},
    {"--pos learned --replace-position 9", 8, 2,
     "the model reads only 8 tokens"},
    {"--pos learned --swap-position 9", 8, 2, "--swap-position 9: "},
    {"--pos learned --replace-position 5 --swap-position 5", 8, 2,
     "cannot be combined"},
    {"--replace-position 5", 8, 2,
     "--replace-position 5: this model has no position embeddings"},
    {"--pos alibi --swap-position 5", 8, 2,
     "--swap-position 5: this model has no position"}};
  EACH (i, ROWS) {
    Trainer *r = trainer_of(t, ROWS[i].flags);
    Sinks found;
    r->s.program = &STARTS;
    const int status = evaluate(&found, &r->m, &r->data, &r->s, 3, ROWS[i].T,
                                fresh(t));
    fact(t,
         status == ROWS[i].status && strstr(t->e.text, ROWS[i].said) &&
             (!status || strstr(t->e.text, "Try: ")),
         "%s: %s", ROWS[i].flags, t->e.text);
    if (!status)
      sinks_free(&found);
  }
}

/* Several x* have no form of the authors. Sink and alpha of each are of its own
 * column, behind * where there is one. */
static void sink_tokens__measured(Test *t) {
  Trainer *r = trainer_of(t, "--sink-token 2 --extra k");
  Sinks s;
  Settings plus1 = r->s;
  plus1.metric_rows = METRIC_PLUS1;
  plus1.program = &STARTS;
  fact(t, evaluate(&s, &r->m, &r->data, &plus1, 1, 4, fresh(t)) == 2,
       "evaluated");
  LABS (b, 1, 4, "--sink-token 2", "--sink-token 2 --extra k") {
    Settings set = {.model = b.m.c, .eps = 0.3};
    Numbers all = {0};
    int k, found = 0;
    if (sinks_create(&s, &b.m, 4, 1, &set.eps, 1, fresh(t)))
      exit(1);
    for (idx i = 0; i < s.L * s.H * s.S; i++)
      s.alpha[i] = (double)(i % s.S);
    edited_put(&all, &s, &set, fresh(t));
    for (int i = 0; i < all.n; i++)
      if (sscanf(all.at[i].name, "alpha_x%d", &k) == 1 && ++found)
        within(t, all.at[i].x, k - (b.m.c.extra ? 0 : 1), 0,
               "column of x*%d, %s", k, b.flags);
    fact(t, found == 2 && !t->e.status, "%d x*", found);
    numbers_free(&all);
    sinks_free(&s);
  }
}

/* Table 7 of m.ckpt by eval's flags: in words, in JSON and in CSV. */
static void edit_answers(Test *t, Settings *s, bool swap) {
  const char *flag = swap ? "swap-position" : "replace-position";
  const char *words = swap ? "swapped with p_5: Sink_1"
                           : "replaced by p_5: Sink_1";
  const char *out = said(t, EVAL_NINE " --input repeat --%s 5 "
                            "--json " SCRATCH "/r.json --csv " SCRATCH "/r.csv",
                         flag);
  const char *at = text_in(t, SCRATCH "/r.json");
  s->replace_position = 5 * !swap;
  s->swap_position = 5 * swap;
  Sinks found = evaluated(t, s);
  const char *line = strstr(out, words);
  const double alpha_1 = sinks_alpha(&found, 0);
  const double alpha_5 = sinks_alpha(&found, 4);
  fact(t, line, "no line with %s", words);
  if (line)
    within(t, number_after(line, "alpha_5 ", 0), alpha_5, 6e-5, "alpha_5");
  within(t, number_after(at, "\"alpha_1\": ", 0), alpha_1, 1e-6, "in JSON");
  within(t, number_after(at, "\"alpha_t\": ", 0), alpha_5, 1e-6, "in JSON");
  within(t, csv_number(t, SCRATCH "/r.csv", 1, "alpha_t"), alpha_5, 1e-6,
         "in CSV");
  sinks_free(&found);
}

/* What an evaluation of m.ckpt and a training that starts from it refuse; that
 * writes over nothing that it reads. */
static void starts_refused(Test *t) {
#define STARTED \
  "train --quiet --steps 1 --batch 2 --T 8 --force" FROM_TEXT "--start"
  static const char *const READ[][2] = {
    {STARTED " " SCRATCH "/m.ckpt --out " SCRATCH "/m.ckpt",
     "/m.ckpt: this command reads or writes it, too. Try"},
    {STARTED "=" SCRATCH "/m.ckpt --out " SCRATCH "/m.ckpt",
     "/m.ckpt: this command reads or writes it, too. Try"},
    {STARTED " " SCRATCH "/m.ckpt --log " SCRATCH "/../../" SCRATCH "/m.ckpt",
     "this command reads or w"},
    {STARTED " " SCRATCH "/m.ckpt --out " SCRATCH "/tale.tok",
     "/tale.tok: this command reads or writes it, too"},
    {STARTED " " SCRATCH "/m.ckpt --log " SCRATCH "/tale.tok",
     "/tale.tok: this command reads or writes it, too"},
    {STARTED " " SCRATCH "/m.ckpt --out " SCRATCH "/tale.txt",
     "/tale.txt: this command reads or writes it, too"}};
  sink_fails(t, EVAL_NINE " --swap-position 99", 2,
             "--swap-position 99: the model reads only 12 tokens");
  sink_fails(t, "train --quiet --start " SCRATCH "/m.ckpt --steps 1", 2,
             "/m.ckpt: expected the text to train on, found none. "
             "Try: --text " SCRATCH "/tale.txt\n");
  sink_fails(t,
             "train --start " SCRATCH "/m.ckpt --quiet --context 9" FROM_TEXT,
             2, "has 16, which --start");
  Bytes *model = file_of(t, SCRATCH "/m.ckpt");
  Bytes *words = file_of(t, SCRATCH "/tale.tok");
  EACH (i, READ)
    sink_fails(t, READ[i][0], 2, READ[i][1]);
  fact(t,
       bytes_same(model, file_of(t, SCRATCH "/m.ckpt")) &&
           bytes_same(words, file_of(t, SCRATCH "/tale.tok")),
       "what was read is another file");
  sink_fails(t, "train --quiet --steps 1 --start " SCRATCH FROM_TEXT, 1,
             "Try: a file; ./hf");
}

/* A model of learned positions: Table 7 by eval's flags, in words and in
 * both files; and the same model trained further by --start, in one go and
 * in two. */
static void paper__edits_and_starts(Test *t) {
  static const struct {
    const char *out;
    int steps;
    const char *more, *said;
  } RUNS_OF[] = {
    {"/whole.ckpt", 6, "", "starting from " SCRATCH "/m.ckpt, step 9"},
    {"/parts.ckpt", 2, "", "starting from " SCRATCH "/m.ckpt, step 9"},
    {"/parts.ckpt", 6, "--resume", "resuming from step 2 of 6"}};
  Settings s;
  char command[900];
  if (no_binary(t) || !tale_open(t, &s, ""))
    return;
  said(t, "train --pos learned --steps 9 --quiet "
          "--out " SCRATCH "/m.ckpt" SMALL_RUN);
  s.input = INPUT_REPEAT;
  s.program = &STARTS;
  edit_answers(t, &s, false);
  edit_answers(t, &s, true);
  EACH (i, RUNS_OF) {
    snprintf(command, sizeof command,
             "train --start " SCRATCH "/m.ckpt --text " SCRATCH "/tale.txt "
             "--tokenizer " SCRATCH "/tale.tok --batch 2 --lr 1e-3 --warmup 0 "
             "--T 8 --first-tokens text --steps %d --out " SCRATCH "%s %s",
             RUNS_OF[i].steps, RUNS_OF[i].out, RUNS_OF[i].more);
    answers(t, PROGRAM, command, 0, RUNS_OF[i].said);
  }
  fact(t, files_same(SCRATCH "/whole.ckpt", SCRATCH "/parts.ckpt"),
       "a fine-tuning that went on has other bytes");
  starts_refused(t);
}

/* A table of experiments that must be one. */
static void table_open(Experiments *x, const char *text) {
  Error e = {0};
  if (!experiments_read(x, (const unsigned char *)text, strlen(text), "t", &e))
    return;
  fprintf(stderr, "%s\n", e.text);
  exit(1);
}

static bool is(const char *a, const char *b) { return !strcmp(a, b); }

/* The text has this part, which is made as printf makes it. */
static void has_part(Test *t, const char *text, const char *format, ...) {
  char part[400];
  PRINT_ARGUMENTS(part, sizeof part);
  fact(t, text && strstr(text, part), "no '%s' in\n%.480s", part,
       text ? text : "");
}

static const char ALL_FIELDS[] =
    "# a comment\nseeds 4 6\n"
    "corpus books books.txt 00000000000000ff\n"
    "corpus told story.grammar\n"
    "domain wiki wiki.txt 10\n"
    "recipe small --layers 2\n"
    "recipe bos small\n --fix-token 1\n"
    "item table4 section 7.3, Table 4: Biases\n"
    "note of\n k\n"
    "columns sink_* loss\n"
    "row default bos | . 3.73\n"
    "row k bos --extra k +map +domains | ~73.34 -\n"
    "row tuned bos after=k --lr 1 | 0.44* 1\n"
    "row late | 1 2\n"
    "claim one differs headline Table 4: it moves\n"
    "rule k.alpha_1 < default.alpha_1 by 0.5\n"
    "needs default.times_1 > 2\n"
    "item other somewhere: Other\n"
    "row late small\n"
    "claim two ordered more here: in order\n"
    "rule late.loss > k.loss > default.loss\n"
    "claim three equal long here: the same\n"
    "rule late.loss = 3 within 0.25\n"
    "claim four exact twice here: always\n"
    "rule late.sink_1..5 <= 0.5";

/* The claims of ALL_FIELDS, every field of them. */
static void claims_read(Test *t, const Experiments *x) {
  const Claim *c = x->claim;
  fact(t,
       x->claims == 4 && c[0].headline && !c[1].headline &&
           c[0].kind == CLAIM_DIFFERS && c[0].item == 0 && c[1].item == 1 &&
           is(c[0].statement, "it moves"),
       "claims");
  fact(t,
       c[0].sides == 2 && c[0].side[0].row == 1 &&
           is(c[0].side[0].measure, "alpha_1") && c[0].relation == LESS &&
           c[0].margin == 0.5 && c[0].needs == 1 && c[0].needed[0] == GREATER &&
           c[0].side[3].row == -1 && c[0].side[3].number == 2 &&
           c[0].side[2].row == 0,
       "the first claim");
  fact(t,
       c[1].kind == CLAIM_ORDERED && c[1].sides == 3 &&
           c[1].relation == GREATER && c[1].side[2].row == 0 && !c[1].longer &&
           c[1].more && c[2].longer && !c[2].more,
       "the second");
  fact(t,
       c[2].kind == CLAIM_EQUAL && c[2].side[1].number == 3 &&
           c[2].margin == 0.25,
       "third");
  fact(t,
       c[3].kind == CLAIM_EXACT && c[3].relation == NOT_ABOVE && c[3].longer &&
           c[3].twice && !c[2].twice && is(c[3].side[0].measure, "sink_1..5"),
       "the fourth");
}

/* 1: a table by hand, every field of it. */
static void experiments_read__by_hand(Test *t) {
  Experiments x;
  table_open(&x, ALL_FIELDS);
  const Corpus *p = x.corpus;
  const Row *row = x.row;
  const Item *item = x.item;
  const Shown *s = x.shown;
  fact(t, x.seeds == 4 && x.headline_seeds == 6, "seeds %d %d", x.seeds,
       x.headline_seeds);
  fact(t,
       x.corpora == 3 && p[0].hash == 255 && !p[0].grammar && p[1].grammar &&
           !p[1].domain && p[2].domain,
       "corpora");
  fact(t, x.rows == 4 && is(row[0].flags, "--layers 2 --fix-token 1"), "%s",
       row[0].flags);
  fact(t,
       is(row[1].flags, "--layers 2 --fix-token 1 --extra k") &&
           is(row[1].also, "map domains"),
       "%s, %s", row[1].flags, row[1].also);
  fact(t, row[2].after == 1 && row[1].after == -1, "after %d", row[2].after);
  fact(t,
       row[0].checksum != row[1].checksum && row[1].checksum != row[2].checksum,
       "checksums");
  fact(t,
       x.items == 2 && item[0].columns == 2 && item[0].count == 4 &&
           item[1].from == 4 && item[1].count == 1 &&
           is(item[0].reference, "section 7.3, Table 4") &&
           is(item[0].title, "Biases") && is(item[0].note, "of  k") &&
           !item[1].note,
       "items");
  fact(t, s[3].row == 3 && s[4].row == 3, "late is rows %d, %d", s[3].row,
       s[4].row);
  fact(t,
       isnan(s[0].paper[0].value) && s[0].paper[1].value == 3.73 &&
           s[1].paper[0].second_hand && s[1].paper[0].value == 73.34 &&
           isnan(s[1].paper[1].value) && s[2].paper[0].value == 0.44 &&
           is(s[2].paper[0].text, "0.44*") && s[3].paper[1].value == 2,
       "the paper's numbers");
  claims_read(t, &x);
  experiments_free(&x);
}

/* What stands behind the head of a table, and what is said of it. */
#define RULE "rule a.loss < b.loss\n"
#define PICTURE "picture map\n"
#define A_NEED "needs a.x > 1\n"
#define FOUR_SIDES "a.x < a.x < a.x < a.x < "
#define SIXTEEN FOUR_SIDES FOUR_SIDES FOUR_SIDES FOUR_SIDES
static const char *const TABLES_REFUSED[][2] = {
  {"rule a.loss < c.loss\n",
   "t:8: expected a row that stands somewhere, found 'c'"},
  {RULE A_NEED "needs c.x > 1\n",
   "t:10: expected a row that stands somewhere, found 'c'"},
  {RULE "corpus c c.txt 2\ncorpus b c.txt 3\n",
   "t:10: expected a new corpus, found 'b'"},
  {RULE "row d nothing\n", "flags, or a recipe above, found 'nothing'"},
  {RULE "claim d ordered s: t\nrule a.x < b.x > a.x\n", "one relation"},
  {RULE "picture dots 1 2 3 4 5 6 7 8 9\n", "fewer words, found '9'"},
  {RULE "picture dots\n", "of what it is a picture, found 'dots'"},
  {RULE "claim d odd s: t\n", "differs, equal, ordered or exact"},
  {"rule a.loss\n", "two sides"},
  {RULE "row d | 3\n", "t:9: expected a row that stands somewhere, found 'd'"},
  {RULE "row d r --dim 8 +valud\n", "valid, found '+valud'"},
  {RULE "row d r --dim 8 +until\n", "+onset beside +until or +rise, found 'd'"},
  {RULE "row d r --dim 8 +onset +dense\n", "without +dense and +valid"},
  {RULE "corpus x x.grammar times\n", "times N, N from 1 to 99, found ''"},
  {RULE "picture pie loss\n", "a kind of picture, found 'pie'"},
  {RULE "row a r\n", "flags once"},
  {RULE "claim d equal s: t\nrule a.loss = 1\n", "within what"},
  {"rule a.loss <= b.loss\n", "relation of the claim's kind"},
  {"rule a < b.loss\n", "ROW.MEASURE or a number, found 'a'"},
  {"rule a.loss = b.loss\n", "relation of the claim's kind"},
  {"rule a.loss < b.loss by 1 2\n", "the end of the rule"},
  {RULE RULE, "one rule below a claim"},
  {RULE "row d r | 1 2\n", "as many numbers as columns"},
  {"rule a.m > 1 from x\n", "found 'x'"},
  {RULE "row d r after=z\n", "a row above, found 'z'"},
  {"rule a.loss < b.loss from 1\n", "from NUMBER"},
  {RULE "columns x\n", "columns below an item"},
  {RULE "row A r\n", "expected a name, found 'A'"},
  {"", "t:7: expected a rule below the claim"},
  {RULE "row d r |\n", "a number for each column"},
  {"rule a.loss < b.loss by x\n", "a margin"},
  {RULE "item j no title\n", "REFERENCE: TITLE"},
  {RULE "seeds 3 2\n", "two counts of seeds"},
  {RULE "corpus x x.txt\n", "NAME FILE HASH"},
  {RULE "foo\n", "t:9: expected row, claim"},
  {RULE "corpus x x.grammar times 0\n", "times N"},
  {RULE PICTURE PICTURE PICTURE PICTURE PICTURE PICTURE PICTURE,
   "at most 6 pictures, found"},
  {"rule a.m > 1 foo 2\n", "< > = <= or >=, found 'foo'"},
  {"rule a.m > 1 by 2 fro 2\n", "the end of the rule, found 'fro 2'"},
  {"rule 1 < 2\n", "ROW.MEASURE on one side"},
  {RULE "needs 1 < 2\n", "ROW.MEASURE on one side"},
  {RULE "needs a.x = 1 with 2\n", "within what they are equal, found 'with'"},
  {RULE "seeds 2.5 3\n", "the second no smaller, found '2.5'"},
  {RULE "recipe r --dim 8\n", "a name that no recipe above has, found 'r'"},
  {RULE "needs a.x = 1\n", "within what they are equal"},
  {RULE "needs a.x = 1 within 0\n", "within what they are equal"},
  {RULE "needs a.x > 1 within 1\n", "the end of the line"},
  {RULE A_NEED A_NEED A_NEED A_NEED A_NEED, "at most 4 needs"},
  {A_NEED RULE, "t:8: expected at most 4 needs below a claim and its rule"},
  {"rule\n a.loss < b.loss\nfoo\n", "t:10: expected row, claim"},
  {RULE "item j s: t\ncolumns 1 2 3 4 5 6 7 8 9 10\n",
   "at most 9 columns, found '10'"},
  {RULE "claim d ordered s: t\nrule " SIXTEEN "a.x\n", "at most 16 sides"},
  {RULE "row d r +cache +domains +grid +known +map +onset +rise +signs +swap "
        "+until +cache +cache +cache\n",
   "fewer flags, found 'cache'"},
  {RULE "item i s: t\n", "a name that no item above has, found 'i'"},
  {RULE "claim c differs s: t\n", "a name that no claim above has, found 'c'"},
  {RULE "note x\nnote y\n", "one note an item, found 'y'"},
  {RULE "row d r --dim 9 | 3.7x\n", "a number for each column"},
  {RULE "seeds 3 100\n", "two counts of seeds"},
  {RULE "corpus x x.grammar times 3 4\n", "times N"},
  {RULE "domain twenty-nine-letters-are-a-lot x.grammar\n",
   "at most 28 letters, found 'twenty"},
  {RULE "row aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa r\n", "a name, found"}};

/* What is wrong is named by its line. */
static void experiments_read__refuses(Test *t) {
  static const char HEAD[] =
      "corpus b b.txt 1\nrecipe r --layers 1\nitem i s: t\ncolumns loss\n"
      "row a r\nrow b r --dim 8\nclaim c differs s: t\n";
  EACH (i, TABLES_REFUSED) {
    const char *rest = TABLES_REFUSED[i][0], *said = TABLES_REFUSED[i][1];
    char text[1024];
    Experiments x;
    Error e = {0};
    int n = snprintf(text, sizeof text, "%s%s", HEAD, rest);
    int status = experiments_read(&x, (const unsigned char *)text, (size_t)n,
                                  "t", &e);
    fact(t, status == 1 && strstr(e.text, said) && strstr(e.text, "Try: "),
         "%.60s: %d, %s", rest, status, e.text);
    if (!status)
      experiments_free(&x);
  }
  /* a 0 ends no statement: there is room for one */
  unsigned char zeros[20 * 19];
  Experiments x;
  Error e = {0};
  for (int i = 0; i < 20; i++)
    memcpy(zeros + 19 * i, "domain d e.grammar", 19);
  fact(t,
       experiments_read(&x, zeros, sizeof zeros, "t", &e) == 1 &&
           strstr(e.text, "NAME FILE"),
       "%s", e.text);
}

/* Damages b in one place at a time, or cuts it: taken, or refused with advice.
 * How many are? */
static int damaged_taken(Test *t, Bytes *b, int trials, const char *odd,
                         bool (*take)(const Bytes *b, size_t n, Error *e)) {
  Rng r = {21};
  int taken = 0;
  for (int i = 0; i < trials; i++) {
    Error e = {0};
    size_t at = rng_below(&r, b->size);
    unsigned char was = b->at[at];
    if (i & 1)
      b->at[at] = (unsigned char)rng_below(&r, 256);
    else
      b->at[at] = (unsigned char)odd[rng_below(&r, strlen(odd))];
    if (take(b, i % 5 ? b->size : at, &e))
      taken++;
    else
      fact(t, strstr(e.text, "Try: ") != NULL, "%s", e.text);
    b->at[at] = was;
  }
  note(t, "%d of %d damaged ones are read", taken, trials);
  return taken;
}

static bool table_taken(const Bytes *b, size_t n, Error *e) {
  Experiments x;
  bool taken = !experiments_read(&x, b->at, n, "damaged", e);
  if (taken)
    experiments_free(&x);
  return taken;
}

static bool result_taken(const Bytes *b, size_t n, Error *e) {
  Result r;
  bool taken = !result_read(&r, b->at, n, "damaged", e);
  if (taken)
    result_free(&r);
  return taken;
}

/* The table that comes with sink: its rows are models that can be made, and
 * no two the same run; and damaged in one place it is read or refused, under
 * ASan too. */
static void experiments_read__shipped(Test *t) {
  char *text = text_in(t, EXPERIMENTS_FILE);
  Bytes b = {.at = (unsigned char *)text, .size = strlen(text)};
  Experiments x;
  table_open(&x, text);
  for (int i = 0; i < x.rows; i++) {
    Settings s;
    Error e = {0};
    settings_default(&s);
    settings_flags(&s, x.row[i].flags, MODEL | TRAIN | DATA, &e);
    s.model.vocab = VOCAB_DEFAULT;
    fact(t, !e.status && !config_resolve(&s.model, &e), "%s: %s", x.row[i].name,
         e.text);
    for (int k = 0; k < i; k++)
      fact(t, x.row[i].checksum != x.row[k].checksum,
           "%s and %s are the same run", x.row[i].name, x.row[k].name);
  }
  note(t, "%d items, %d rows, %d claims; ", x.items, x.rows, x.claims);
  experiments_free(&x);
  fact(t, damaged_taken(t, &b, 400, " \n|.<#", table_taken) > 0,
       "no damaged table is read");
}

/* What a variant says that the paper prints in this column; "." is nothing. */
static const char *variant_says(const Variant *v, const char *column,
                                char star[16]) {
  const char *both = strchr(v->sink, '/');   /* "* STAR / FIRST" */
  snprintf(star, 16, ".");
  sscanf(v->sink, "* %15s", star);
  if (is(column, "sink_*"))
    return star;
  if (is(column, "loss"))
    return v->loss;
  if (!is(column, "sink_1"))
    return ".";
  return both ? both + 2 : v->sink;
}

/* VARIANTS and the table say the same twice: with a variant's flags the default
 * row is a row there, and what the paper prints of it stands in both, but for
 * what is second-hand. */
static void variants__as_in_the_table(Test *t) {
  Experiments x;
  int numbers = 0;
  char flags[2 * FLAGS_ROOM];
  table_open(&x, text_in(t, EXPERIMENTS_FILE));
  for (const Variant *v = VARIANTS; strncmp(v->source, "beyond", 6); v++) {
    /* another recipe's */
    const bool other = is(v->name, "prefix-5") || is(v->name, "addition");
    const Shown *s = x.shown;
    const Item *item = x.item;
    char star[16];
    snprintf(flags, sizeof flags, "%s%s%s",
             x.row[experiments_row(&x, "default")].flags, *v->flags ? " " : "",
             v->flags);
    while (s < x.shown + x.showns && !is(x.row[s->row].flags, flags))
      s++;
    fact(t, (s == x.shown + x.showns) == other, "%s, %s: no such row", v->name,
         v->flags);
    if (s == x.shown + x.showns)
      continue;
    while (s - x.shown >= item->from + item->count)
      item++;
    for (int c = 0; c < item->columns; c++) {
      const char *text = s->paper[c].text;
      const char *told = variant_says(v, item->column[c], star);
      if (*text == '.' || *text == '~')
        continue;
      const size_t n = strcspn(text, "*");
      fact(t, n == strlen(told) && !strncmp(text, told, n), "%s: %s %s",
           v->name, item->column[c], text);
      numbers++;
    }
  }
  fact(t, numbers > 70, "%d numbers", numbers);
  experiments_free(&x);
}

/* 2: what is written is read; names with [i] and ..k. */
static void result__round_trip(Test *t) {
  Result back, r = {.row = "k-bias",
                    .flags = "--dim 64 then --lr 1",
                    .seed = 7,
                    .checksum = 0x0123456789ABCDEFu};
  Error e = {0};
  Bytes text = {0}, again = {0};
  double many[500], odd[3] = {NAN, 0.1, -1e-7};
  for (int i = 0; i < 500; i++)
    many[i] = i;
  result_add(&r, "many", many, 500, &e);
  result_add(&r, "odd", odd, 3, &e);
  result_add(&r, "none", odd, 0, &e);   /* left out: a line has a number */
  for (int k = 1; k <= 5; k++)
    record(&r, &e, k, "sink_%d", k);
  fact(t,
       !result_text(&r, &text, &e) &&
           !result_read(&back, text.at, text.size, "r", &e),
       "%s", e.text);
  fact(t,
       is(back.row, "k-bias") && is(back.flags, r.flags) && !back.ended[0] &&
           back.seed == 7 && back.checksum == r.checksum,
       "the head");
  static const struct {
    const char *name;
    double is;
  } NUMBERS[] = {
    {"many[499]", 499}, {"many[500]", NAN}, {"many[-1]", NAN}, {"odd", NAN},
    {"odd[2]", -1e-7}, {"sink_1..5", 15}, {"sink_2..3", 5}, {"sink_1..6", NAN},
    {"absent", NAN}};
  EACH (i, NUMBERS) {
    double x = result_number(&back, NUMBERS[i].name), want = NUMBERS[i].is;
    fact(t, isnan(want) ? isnan(x) : x == want, "%s: %g", NUMBERS[i].name, x);
  }
  fact(t, !result_text(&back, &again, &e) && bytes_same(&again, &text),
       "twice, it differs");
  /* a clone may have changed ends of lines */
  Bytes *crlf = bytes_of(t), *lines = bytes_of(t);
  for (size_t i = 0; i < text.size; i++) {
    if (text.at[i] == '\n')
      bytes_add(crlf, "\r", 1, &e);
    bytes_add(crlf, text.at + i, 1, &e);
  }
  scratch_open();
  file_write(SCRATCH "/crlf.csv", crlf->at, crlf->size, &e);
  fact(t,
       !lines_read(SCRATCH "/crlf.csv", lines, &e) && crlf->size > text.size &&
           bytes_same(lines, &text),
       "CR LF: %s", e.text);
  fact(t, damaged_taken(t, &text, 300, ",\n# ", result_taken) > 20,
       "few damaged ones are read");
  result_free(&back);
  result_free(&r);
  bytes_free(&text);
  bytes_free(&again);
}

/* A line of no kind, a word behind a number, a list without one. */
static void result_read__refuses(Test *t) {
  static const char *const BAD[] = {"#foo x\n", "a,1x,2\n", "a,\n", "a\n"};
  EACH (i, BAD) {
    char text[80];
    Result r;
    int n = snprintf(text, sizeof text, "# sink result 1\n%s", BAD[i]);
    fact(t,
         result_read(&r, (const unsigned char *)text, (size_t)n, "r",
                     fresh(t)) == 1,
         "%s is read", BAD[i]);
  }
}

/* The numbers of a run of 40 steps that has its map, held losses and a grid. */
static void row_numbers(Test *t, const Result *r) {
  int n, m, best = 0;
  const double *map = result_find(r, "map_alpha_1", &n);
  double mean = 0;
  for (int k = 0; k < n; k++) {
    mean += map[k] / n;
    if (map[k] > map[best])
      best = k;
  }
  within(t, mean, result_number(r, "alpha_1"), 64 * DBL_EPSILON,
         "mean of the map");
  within(t, result_number(r, "times_1") * result_number(r, "even"), mean,
         64 * DBL_EPSILON, "even");
  within(t, result_number(r, "loss") - result_number(r, "train_loss"),
         result_number(r, "gap"), 64 * DBL_EPSILON, "gap");
  fact(t, result_find(r, "curve_tokens", &n)[40] == 40 * 2 * 16 && n == 41,
       "%d looks", n);
  fact(t, result_find(r, "curve_valid", &m) && m == n, "held losses");
  fact(t,
       result_number(r, "diverged") == 0 && result_number(r, "steps") == 40 &&
           result_number(r, "parameters") > 0,
       "facts of the run");
  const double *maps = result_find(r, "map", &n);
  const double *shape = result_find(r, "map_shape", &m);
  fact(t,
       maps && n == (int)(shape[2] * shape[3]) && fabs(maps[0] - 1) < 1e-5 &&
           maps[1] == 0,
       "the map's first row");
  fact(t, best == shape[0] * result_number(r, "shape[1]") + shape[1],
       "the head with the most");
  fact(t, isnan(result_number(r, "alpha_*")), "alpha_* of a model without *");
  fact(t,
       result_number(r, "alpha_1@random") > 0 &&
           result_number(r, "alpha_1@repeat") > 0,
       "@");
  const double *loss = result_find(r, "curve_loss", &n);
  double last = 0;
  for (int i = 36; i <= 40; i++)   /* 40 / 10 + 1 looks */
    last += loss[i] / 5;
  fact(t, isnan(loss[0]) && !isnan(loss[1]), "the first look");
  within(t, result_number(r, "train_loss"), last, 1e-12, "train_loss");
  within(t, result_number(r, "sink_1:0.2"), result_number(r, "grid_sink_1[2]"),
         0, "eps 0.2");
  within(t, result_number(r, "sink_1:0.4"), result_number(r, "grid_sink_1[6]"),
         0, "eps 0.4");
}

/* Row 0's result has all that claim 0 compares, and of claim 1 one not. */
static void claims_lack(Test *t, const Claim *claim, const Result *r) {
  const char *lacks = claim_lacks(&claim[1], 0, r);
  fact(t,
       !claim_lacks(&claim[0], 0, r) && !claim_lacks(&claim[1], 1, r) &&
           lacks && is(lacks, "alfa_1"),
       "a claim's measure that is missing: %s", lacks ? lacks : "none");
}

/* A run that Ctrl-C stops says that it will start again, and, of one that can
 * be resumed, how. */
static void run_stops(Test *t, const Experiments *x, const Settings *s) {
  static const char *const SAID[] = {
      "plain 3 is not finished and will start again. Try: the same command",
      "star 3 is not finished and will start again. Try: the same command with "
      "--parts"};
  Result stopped;
  interrupted = 1;
  EACH (row, SAID)
    fact(t,
         row_run(&stopped, x, row, x->corpus, 3, s, fresh(t)) == 1 &&
             strstr(t->e.text, SAID[row]) &&
             (row == 1 || !strstr(t->e.text, "--parts")),
         "%s", t->e.text);
  interrupted = 0;
}

/* At once: before the row that another goes on from is trained. */
static void rows_refused(Test *t, const Experiments *x, const Settings *s) {
  static const struct { const char *row, *says; } REFUSED[] = {
    {"swapped", "row swapped: +swap needs position embeddings"},
    {"words", "none.tok: "},
    {"toy", "row toy: a toy has no further measurement +map"}};
  EACH (i, REFUSED) {
    const int row = experiments_row(x, REFUSED[i].row);
    Result r;
    row_run(&r, x, row, x->corpus, 1, s, fresh(t));
    has_part(t, t->e.text, REFUSED[i].says);
  }
}

/* 4: twice the same bytes, for another seed others; a run that diverges or is
 * stopped says so. */
static void row_run__repeats(Test *t) {
  static const char TEXT[] =
      "corpus story story.grammar\ncorpus long story.grammar times 3\n"
      "recipe tiny --layers 2 --dim 16 --ffn 16 --context 16 --batch 2 "
      "--steps 40 --warmup 5\n"
      "item i s: t\n"
      "row plain tiny --fix-token 1 +map +valid +grid\n"
      "row star tiny --extra k --place post\n"
      "row wild tiny --lr 900 --clip 0 --init torch --sim identity "
      "--normalizer one\n"
      "row swapped after=plain +swap\nrow words tiny --tokenizer=none.tok\n"
      "row toy --toy trigger --steps 3 +map\n"
      "claim has differs s: c\nrule plain.alpha_1 < 1\n"
      "needs plain.diverged < 1\nneeds plain.alpha_1/wiki < 1\n"
      "claim lacks differs s: c\nrule plain.alfa_1 < star.alpha_1\n";
  static const struct { int row, seed, corpus; } RUNS[] = {
    {0, 3, 0}, {0, 3, 0}, {0, 4, 0}, {1, 1, 0}, {2, 1, 0}, {1, 1, 1}};
  Experiments x;
  Settings s;
  Error e = {0};
  Bytes *text[6];
  settings_default(&s);
  s.quiet = 1;
  table_open(&x, TEXT);
  EACH (i, RUNS) {
    const Corpus *on = &x.corpus[RUNS[i].corpus];
    Result r;
    if (row_run(&r, &x, RUNS[i].row, on, RUNS[i].seed, &s, &e))
      break;
    fact(t,
         i == 4 || (result_number(&r, "steps") == (i == 5 ? 120 : 40) &&
                    !strstr(r.flags, "times 3") == (i < 5)),
         "run %d: %s", i, r.flags);
    result_text(&r, text[i] = bytes_of(t), &e);
    if (i == 0) {
      row_numbers(t, &r);
      claims_lack(t, x.claim, &r);
    }
    if (i == 3)
      fact(t,
           result_number(&r, "alpha_*") > 0 &&
               result_number(&r, "times_*") > 0 &&
               result_number(&r, "norm_ratio_before") > 0,
           "a column * and a post-norm");
    if (i == 4)
      fact(t,
           result_number(&r, "diverged") == 1 && strstr(r.ended, "diverges") &&
               result_number(&r, "steps") < 40 &&
               isnan(result_number(&r, "alpha_1")),
           "wild: %g, '%s'", result_number(&r, "steps"), r.ended);
    result_free(&r);
  }
  fact(t, !e.status && bytes_same(text[0], text[1]), "two runs differ: %s",
       e.text);
  fact(t, !e.status && memcmp(text[0]->at + 300, text[2]->at + 300, 300),
       "seeds are the same");
  run_stops(t, &x, &s);
  rows_refused(t, &x, &s);
  experiments_free(&x);
}

/* The only number of that name. */
static double measured(Test *t, const Result *r, const char *name) {
  int n, times = 0;
  const double *x = result_find(r, name, &n);
  for (int i = 0; i < r->lists; i++)
    times += is(r->list[i].name, name);
  fact(t, x && n == 1 && times == 1, "%s: %d times, %d numbers", name, times,
       n);
  return x && n ? *x : NAN;
}

/* Each curve has its own field of the looks, that of the start first. */
static void measure_curves__by_hand(Test *t) {
  static const char *const NAMES[] = {"loss",       "norm",    "alpha_1",
                                      "sink_1",     "alpha_*", "sink_*",
                                      "norm_ratio", "valid"};
  static Progress p;
  Trainer m = {.s.train = {.batch = 1, .accumulate = 1},
               .s.model.context = 8,
               .m.c.extra = EXTRA_K};
  const Look start = {.loss = 11,
                      .norm = 12,
                      .alpha1 = 13,
                      .sink1 = 14,
                      .alpha_star = 15,
                      .sink_star = 16,
                      .ratio = 17,
                      .held = 18};
  Result r = {0};
  int n;
  p = (Progress){.looks = 1, .holds = true};
  p.look[0] = (Look){.step = 3,
                     .loss = 1,
                     .norm = 2,
                     .alpha1 = 3,
                     .sink1 = 4,
                     .alpha_star = 5,
                     .sink_star = 6,
                     .ratio = 7,
                     .held = 8};
  measure_curves(&r, &m, &p, &start, "c_", fresh(t));
  for (int k = 0; k < 8; k++) {
    char name[40];
    snprintf(name, sizeof name, "c_%s", NAMES[k]);
    const double *x = result_find(&r, name, &n);
    fact(t, x && n == 2 && x[0] == 11 + k && x[1] == 1 + k, "%s", name);
  }
  result_free(&r);
}

static const char AFTER_TABLE[] =
    "corpus story story.grammar\ncorpus wrong story.grammar 1\n"
    "corpus long story.grammar times 3\n"
    "recipe tiny --layers 1 --dim 16 --ffn 16 --context 16 --batch 2 "
    "--steps 20 --warmup 5\n"
    "item i s: t\nrow plain tiny\n"
    "row next after=plain tiny --steps 3 --lr 0.01\n"
    "row other after=plain tiny --heads 4\nrow few tiny --data-tokens 500\n";

/* A row that goes on from another has its curve, then its own; what it may not
 * change, another text, and the data of a longer corpus. */
static void row_run__after(Test *t) {
  Experiments x;
  Settings s, now;
  Result r, base;
  int n, m;
  if (!tale_open(t, &s, ""))
    return;
  s.quiet = 1;
  table_open(&x, AFTER_TABLE);
  if (row_run(&base, &x, 0, x.corpus, 1, &s, fresh(t)) ||
      row_run(&r, &x, 1, x.corpus, 1, &s, fresh(t))) {
    fact(t, false, "%s", t->e.text);
    return;
  }
  const double *was = result_find(&base, "curve_alpha_1", &n);
  const double *curve = result_find(&r, "curve_alpha_1", &m);
  fact(t, curve && n == m && !memcmp(was, curve, (size_t)n * sizeof *was),
       "the row it goes on from");
  const double *tune = result_find(&r, "tune_alpha_1", &m);
  fact(t,
       tune && m == 4 && fabs(tune[0] - was[n - 1]) < 0.01 &&
           tune[3] != tune[0],
       "it goes on");
  fact(t,
       measured(t, &r, "steps") == 3 &&
           strstr(r.flags, "--steps 20 --warmup 5 then --layers"),
       "%s", r.flags);
  result_free(&r);
  fact(t,
       row_run(&r, &x, 2, x.corpus, 1, &s, fresh(t)) == 2 &&
           strstr(t->e.text, "row other: --heads 4: plain has"),
       "%s", t->e.text);
  fact(t,
       row_run(&r, &x, 0, &x.corpus[1], 1, &s, fresh(t)) == 1 &&
           strstr(t->e.text, "expected the grammar with hash"),
       "%s", t->e.text);
  fact(t,
       !row_settings(&now, &x.row[3], &x.corpus[2], 1, &s, fresh(t)) &&
           now.data.data_tokens == 1500,
       "%g", now.data.data_tokens);
  x.corpus[2].times = 99;
  snprintf(x.row[3].flags, sizeof x.row[3].flags, "--steps 30000000");
  fact(t,
       row_settings(&now, &x.row[3], &x.corpus[2], 1, &s, fresh(t)) == 2 &&
           strstr(t->e.text, "30000000 is too many 99 times"),
       "%s", t->e.text);
  result_free(&base);
  experiments_free(&x);
}

/* NaN where, after the last look, all input meets it (seed 1), or drawn ids
 * alone do. */
static int late_nan(Trainer *r, Progress *p, Bytes *log, const char *line,
                    Error *e) {
  real *w = r->m.wcls.w;
  if (r->s.train.seed == 2)
    w = r->m.wte.w + TOKEN_BOS * r->m.c.dim;
  if (line && r->step == r->s.train.steps)
    w[0] = (real)NAN;
  return log_keep(r, p, log, line, e);
}

/* A NaN that only the last measurements meet is a divergence, too. */
static void row_run__late_nan(Test *t) {
  static const char *const SAYS[] = {"step 20: the loss: NaN or", "step 20: "};
  Program late = ROW_PROGRAM;
  Experiments x;
  Settings s;
  if (!tale_open(t, &s, ""))
    return;
  late.log = late_nan;
  s.quiet = 1;
  s.program = &late;
  table_open(&x, AFTER_TABLE);
  for (int seed = 1; seed <= 2; seed++) {
    Result r;
    if (row_run(&r, &x, 0, x.corpus, seed, &s, fresh(t))) {
      fact(t, false, "%s", t->e.text);
      continue;
    }
    fact(t, !strncmp(r.ended, SAYS[seed - 1], strlen(SAYS[seed - 1])), "%s",
         r.ended);
    within(t, measured(t, &r, "diverged"), 1, 0, "seed %d: diverged", seed);
    fact(t, isnan(result_number(&r, "loss")) == (seed == 1), "seed %d: a loss",
         seed);
    result_free(&r);
  }
  experiments_free(&x);
}

/* Makes a folder of the name that the result will have. */
static int result_in_the_way(Trainer *r, Progress *p, Bytes *log,
                             const char *line, Error *e) {
  make_folder(SCRATCH "/results/story/plain-2.csv");
  return log_keep(r, p, log, line, e);
}

/* A run that is finished is not made again; made again to verify it, it is the
 * same, or not, or another build's. */
static void runs_train__once(Test *t) {
  static const char CSV[] = SCRATCH "/results/story/plain-1.csv";
  Settings s;
  Command q = {.s = &s, .own = &s.own, .item = -1};
  if (!tale_open(t, &s, ""))
    return;
  s.quiet = 1;
  strcpy(s.own.results, SCRATCH "/results");
  s.own.only_seed = 1;
  table_open(&q.x, AFTER_TABLE);
  q.corpus = q.x.corpus;
  fact(t,
       run_verify(&q, fresh(t)) == 1 && strstr(t->e.text, "none of the runs"),
       "%s", t->e.text);
  fact(t, !runs_train(&q, fresh(t)) && !file_missing(CSV), "%s", t->e.text);
  interrupted = 1;
  fact(t, !runs_train(&q, fresh(t)), "what is finished is run again: %s",
       t->e.text);
  interrupted = 0;
  fact(t, !run_verify(&q, fresh(t)), "%s", t->e.text);
  char *was = text_in(t, CSV), *steps = strstr(was, "\nsteps,20");
  if (!steps)
    return;
  steps[8] = '1';
  file_write(CSV, was, strlen(was), fresh(t));
  fact(t,
       run_verify(&q, fresh(t)) == 1 &&
           strstr(t->e.text, "expected the same bytes"),
       "%s", t->e.text);
  strstr(was, "#build ")[7] = '?';
  file_write(CSV, was, strlen(was), fresh(t));
  fact(t, run_verify(&q, fresh(t)) == 1 && strstr(t->e.text, "made by ?"), "%s",
       t->e.text);
  /* a result that cannot be written keeps its part */
  Program blocks = ROW_PROGRAM;
  blocks.log = result_in_the_way;
  s.program = &blocks;
  strcpy(s.own.parts, SCRATCH "/parts");
  s.own.only_seed = 2;
  Bytes names = {0};
  fact(t, runs_train(&q, fresh(t)) == 1, "%s", t->e.text);
  fact(t, !files_list(SCRATCH "/parts", &names, fresh(t)) && names.size > 9,
       "its part is lost");
  bytes_free(&names);
  experiments_free(&q.x);
}

enum { LAYER_NUMBERS = 20 };
static const char *const LAYER_NAMES[LAYER_NUMBERS] = {
    "alpha_3",   "sink_3",      "sink_1:0.2", "sink_1:0.4",
    "alpha_*",   "sink_*",      "entropy",    "mass",
    "cos_1",     "cos_rest",    "product_1",  "product_rest",
    "key_ratio", "value_ratio", "best_1",     "norm_ratio_before",
    "massive",   "median",      "alpha_self", "alpha_prev"};

/* These numbers of a model with a column * and a post-norm, by the arrays of an
 * evaluation: means over its heads, or the largest. */
static void layers_by_hand(const Sinks *q, double want[LAYER_NUMBERS]) {
  const int H = q->H, all = q->L * H;
  want[16] = q->massive;
  want[17] = q->median;
  for (int i = 0; i < all; i++) {
    const double *a = q->alpha + i * q->S, *o = q->over + i * q->S;
    const double *k = q->knorm + i / H * q->N, *v = q->vnorm + i / H * q->N;
    const double mean[] = {a[3],
                           o[3],
                           o[all * q->S + 1],
                           o[2 * all * q->S + 1],
                           a[0],
                           o[0],
                           q->entropy[i],
                           q->mass[i],
                           q->cosine[2 * i],
                           q->cosine[2 * i + 1],
                           q->product[2 * i],
                           q->product[2 * i + 1],
                           norm_ratio(k, q->N),
                           norm_ratio(v, q->N)};
    EACH (j, mean)
      want[j] += mean[j] / all;
    want[14] = fmax(want[14], a[1]);
    want[15] = fmax(want[15], norm_ratio(q->prenorm + i / H * q->N, q->N));
    want[18] += q->self[i] / all;
    want[19] += q->prev[i] / all;
  }
}

/* What a result has of evaluations on each input, and of the layers. */
static void measure_layers__by_hand(Test *t) {
  enum { L = 3, H = 2, T = 12 };
  static const char *const STEMS[] = {"alpha_1", "sink_1", "times_1"};
  Trainer r;
  Error e = {0};
  Result found = {0};
  Sinks q;
  int n;
  Rng stir = {5};
  if (!trainer_made(t, &r, "--layers 3 --extra kv --place post --T 12 --n 9 "
                           "--eps 0.1"))
    return;
  for (idx i = 0; i < r.m.count; i++)
    r.m.params[i] += (real)(0.5 * rng_normal(&stir));
  for (int input = INPUT_REPEAT; input >= INPUT_NATURAL; input--) {
    r.s.input = input;
    if (evaluate(&q, &r.m, &r.data, &r.s, 9, T, &e)) {
      fact(t, false, "%s", e.text);
      return;
    }
    if (!input) {
      measure_columns(&found, &q, &r.m.c, &e);
      measure_layers(&found, &q, &r.m.c, &e);
    } else if (input == INPUT_REPEAT)
      measure_inputs(&found, &r, &r.s, &e);
    const double alpha = sinks_alpha(&q, 1);
    const double of[] = {alpha, sinks_sink(&q, 1, 0),
                         alpha / sink_uniform(&r.m, T)};
    for (int k = 0; k < 3; k++) {
      char at[40];
      snprintf(at, sizeof at, input ? "%s@%s" : "%s", STEMS[k], INPUTS[input]);
      within(t, measured(t, &found, at), of[k], 1e-12, "%s", at);
    }
    if (input)
      sinks_free(&q);
  }
  double want[LAYER_NUMBERS] = {0};
  layers_by_hand(&q, want);
  for (int i = 0; i < L * H; i++) {
    const double *v = q.vnorm + i / H * q.N;
    within(t, result_find(&found, "map_alpha_*", &n)[i], q.alpha[i * q.S], 0,
           "head %d", i);
    double one = result_find(&found, "vnorm_1", &n)[i / H];
    within(t, one / result_find(&found, "vnorm_rest", &n)[i / H],
           norm_ratio(v, q.N), 1e-12, "%g", one - v[0]);
  }
  for (int k = 0; k < LAYER_NUMBERS; k++)
    within(t, measured(t, &found, LAYER_NAMES[k]), want[k], 1e-12,
           LAYER_NAMES[k]);
  within(t, measured(t, &found, "times_*"), want[4] / sink_uniform(&r.m, T),
         1e-12, "times_*");
  within(t, measured(t, &found, "times_self"),
         want[18] / even_weight(&r.m, T, 0), 1e-12, "self");
  sinks_free(&q);
  result_free(&found);
  trainer_free(&r);
}

/* What a run with looks is measured on, and as what: at looks, of 64 sequences,
 * and at the end, of 70. */
enum { CURVE_OTHER, AT_OTHER, AT_NATURAL, AT_BLOCK, CURVE_OWN, ONSET_SETS };
static const char *const ONSET_SETS_NAMED[ONSET_SETS] = {
    "curve_other_%s", "%s@other", "%s@natural", "%s@block", "curve_%s"};

/* The last numbers of set k are those of an evaluation on d as s asks. Returns
 * its alpha_1. */
static double onset_set_by_hand(Test *t, Trainer *r, const Data *d,
                                const Settings *s, int k,
                                const Result *found) {
  static const char *const STEMS[] = {"times_1", "sink_1", "norm_ratio"};
  const bool curve = k == CURVE_OTHER || k == CURVE_OWN;
  Sinks q;
  int n;
  evaluate(&q, &r->m, d, s, curve ? 64 : 70, r->s.eval_T, fresh(t));
  const double even = sink_uniform(&r->m, r->s.eval_T);
  const double alpha = sinks_alpha(&q, 1);
  const double want[] = {alpha / even, sinks_sink(&q, 1, 0), sinks_ratio(&q)};
  for (int i = 0; i < (k == CURVE_OWN ? 1 : 3); i++) {
    char name[40];
    snprintf(name, sizeof name, ONSET_SETS_NAMED[k], STEMS[i]);
    const double *got = result_find(found, name, &n);
    within(t, got ? got[n - 1] : NAN, want[i], 1e-12, "%s", name);
  }
  sinks_free(&q);
  return alpha;
}

/* Makes the embeddings of first tokens longer. */
static void firsts_stretch(Trainer *r, real by) {
  for (int v = 0; v < r->m.c.vocab * 16; v++)
    if (r->data.first[v / 16] > 0)
      r->m.wte.w[v] *= by;
}

/* One look in two is kept. A norm of 2.5 times the others' is not large, one of
 * 5 times is. */
static void onset_looks_by_hand(Test *t, Trainer *r, Watch *w, Progress *p) {
  Look start;
  w->every = 2;
  w->tokens = 1;
  p->looks = 0;
  watch_places(w, &r->m.c);
  for (r->step = 0; r->step < 3; r->step++)
    onset_look(w, r, p, &start, fresh(t));
  fact(t,
       p->looks == 1 && p->look[0].step == 2 &&
           w->onset[ONSET_OTHER_SINK].looks == 2 && p->look[0].ratio > 2 &&
           p->look[0].ratio < 3 && !w->onset[ONSET_NORM].looks,
       "of three");
  firsts_stretch(r, 2);
  fact(t,
       !onset_look(w, r, p, &start, fresh(t)) &&
           w->onset[ONSET_NORM].looks == 1 &&
           !w->onset[ONSET_OTHER_NORM].looks,
       "a large norm");
}

/* What a run has at its last look and end, by evaluations: on first tokens as
 * in training, others, the text's, and blocks that begin anywhere; 2.5 times
 * even is a sink. */
static void onset_run__by_hand(Test *t) {
  static Progress p;
  static Watch w;
  static const char *const FLAGS[] = {"--extra kv --first-tokens 4",
                                      "--extra kv"};
  EACH (f, FLAGS) {
    const bool anywhere = f == 1;
    Trainer r;
    Error e = {0};
    Result found = {0};
    Look start;
    Data others;
    if (!trainer_made(t, &r, FLAGS[f]))
      return;
    r.s.train.steps = 8;
    r.s.eval_n = 70;
    r.s.eps = 0.25;
    if (!anywhere)
      firsts_stretch(&r, (real)2.6);
    p = (Progress){.name = "run"};
    memset(&w, 0, sizeof w);
    if (onset_run(&r, &p, &start, 0, &found, &e)) {
      fact(t, false, "%s", e.text);
      return;
    }
    fact(t, p.looked == 8, "the last look at step %ld", p.looked);
    Settings as = r.s, natural = r.s;
    snprintf(as.data.first_own, 9, "4");
    snprintf(as.data.first_tokens, 9, "other");
    snprintf(natural.data.first_tokens, 9, "natural");
    firsts_draw(&others, &r.data, &as.data, 0, &e);
    seen_open(&w, &r, &e);
    for (int k = 0; k < ONSET_SETS; k++) {
      const Data *d = k == CURVE_OTHER || k == AT_OTHER ? &others : &w.seen;
      if (k != CURVE_OWN && anywhere != (k == AT_BLOCK))
        continue;
      w.even = onset_set_by_hand(t, &r, d, k == AT_NATURAL ? &natural : &r.s, k,
                                 &found) / 2.5;
    }
    w.others = others;
    if (anywhere)
      free(w.seen.starts.at);
    else
      onset_looks_by_hand(t, &r, &w, &p);
    r.s.eval_T = (int)r.data.held.size / 70;
    seen_open(&w, &r, &e);
    fact(t, !anywhere || w.seen.starts.at == r.data.starts.at,
         "a last block without a target");
    free(others.first);
    result_free(&found);
    trainer_free(&r);
  }
}

/* At most 128 steps of 70,400 tokens. A relative bias has its onset at once. */
static bool onset_run_long(Test *t, Progress *p, double until, Result *found) {
  Trainer r;
  Look start;
  *p = (Progress){.name = "run"};
  if (!trainer_made(t, &r, "--first-tokens 4 --pos relative --batch 44 "
                           "--accumulate 100"))
    return false;
  r.s.train.steps = 128;
  onset_run(&r, p, &start, until, found, fresh(t));
  trainer_free(&r);
  return true;
}

/* A step of so many tokens has its look. A run ends at its onset, or at five
 * times as many tokens. */
static void onset_run__by_hand_long(Test *t) {
  static Progress p;
  Result found = {0};
  if (!onset_run_long(t, &p, 1, &found))
    return;
  fact(t, p.looks == 3 && p.look[0].step == 1, "%d looks, from %ld on", p.looks,
       p.look[0].step);
  fact(t,
       measured(t, &found, "least_null") == measured(t, &found, "least_sink"),
       "its null");
  result_free(&found);
  if (!onset_run_long(t, &p, 5, &found))
    return;
  fact(t, p.looks == 5, "%d looks, five times as far as the onset", p.looks);
  result_free(&found);
}

static const char PART_TABLE[] =
    "corpus story story.grammar\n"
    "recipe tiny --layers 2 --dim 16 --ffn 16 --context 16 --batch 2 "
    "--steps 600 --warmup 5\n"
    "item i s: t\n"
    "row plain tiny --extra k\n"
    "row looked tiny --first-tokens 4 +onset\n"
    "row next tiny after=plain --steps 3\n";

/* Ctrl-C between two looks, which are every 20 steps. */
static int stops_at_310(Trainer *r, const Progress *p, Error *e) {
  (void)p;
  if (r->step == 310)
    interrupted = 1;
  return e->status;
}

/* Leaves the part of row 0, and its two names. */
static void part_leave(Test *t, const Experiments *x, const Settings *s,
                       char out[PATH_ROOM], char log[PATH_ROOM]) {
  Program stops = ROW_PROGRAM;
  Settings now;
  Trainer half = {0};
  Progress *p = later(t, 1, sizeof *p, NULL);
  Result r = {.seed = 1,
              .checksum = x->row[0].checksum,
              .row = "plain",
              .corpus = "story"};
  stops.watch = stops_at_310;
  *p = (Progress){.name = "half"};
  if (row_settings(&now, &x->row[0], x->corpus, 1, s, fresh(t)) ||
      trainer_create(&half, &now, &t->e)) {
    fact(t, false, "%s", t->e.text);
    return;
  }
  result_describe(&r, x, &x->row[0], x->corpus, &half.data);
  part_open(&half, &r, &x->row[0], s, &t->e);
  half.s.program = &stops;
  half.s.watched = (struct Films *)p;   /* not NULL: the program watches */
  fact(t, train_run(&half, p, &t->e) == 1 && half.step == 310, "%s", t->e.text);
  interrupted = 0;
  strcpy(out, half.s.out);
  strcpy(log, half.s.log);
  trainer_free(&half);
  fact(t, !file_missing(out) && !file_missing(log), "no part");
}

/* A run that was stopped goes on to the bytes of one that was not; its part is
 * gone then. Runs with looks of their own have none. */
static void part_read__goes_on(Test *t) {
  char out[PATH_ROOM] = "", log[PATH_ROOM] = "";
  Experiments x;
  Settings s;
  Error e = {0};
  Result r;
  Bytes *whole = bytes_of(t), *again = bytes_of(t);
  settings_default(&s);
  s.quiet = 1;
  scratch_open();
  table_open(&x, PART_TABLE);
  if (row_run(&r, &x, 0, x.corpus, 1, &s, &e)) {
    fact(t, false, "%s", e.text);
    return;
  }
  result_text(&r, whole, &e);
  result_free(&r);
  strcpy(s.own.parts, SCRATCH "/parts");
  part_leave(t, &x, &s, out, log);
  fact(t, !row_run(&r, &x, 0, x.corpus, 1, &s, &e), "%s", e.text);
  fact(t, !file_missing(out), "its part is gone before its result is kept");
  part_remove(&r);
  fact(t, file_missing(out) && file_missing(log), "its part stays");
  result_text(&r, again, &e);
  result_free(&r);
  fact(t, bytes_same(whole, again),
       "other bytes than a run that was not stopped");
  for (int row = 1; row < 3; row++) {
    Trainer other = {0};
    r.seed = 1;
    part_open(&other, &r, &x.row[row], &s, &e);
    fact(t, !other.s.out[0], "%s has a part", x.row[row].name);
  }
  interrupted = 1;
  fact(t,
       row_run(&r, &x, 0, x.corpus, 2, &s, &e) == 1 &&
           strstr(e.text, "not finished and will resume"),
       "%s", e.text);
  interrupted = 0;
  experiments_free(&x);
}

/* --verify: the old lines in their order, and new ones between them. */
static void text_repeats__by_hand(Test *t) {
  static const struct {
    const char *was;
    bool same;
    int more;
  } ROWS[] = {
    {"a,1\nb,2\nc,3\n", true, 0}, {"a,1\nc,3\n", true, 1}, {"b,2\n", true, 2},
    {"a,1\nb,3\nc,3\n", false, 2}, {"c,3\na,1\n", false, 2},
    {"a,1\nb,2\nc,3\nd,4\n", false, 0}};
  const Bytes now = {.at = (unsigned char *)(uintptr_t)"a,1\nb,2\nc,3\n",
                     .size = 12};
  EACH (r, ROWS) {
    int more = 0;
    const Bytes was = {.at = (unsigned char *)(uintptr_t)ROWS[r].was,
                       .size = strlen(ROWS[r].was)};
    fact(t,
         text_repeats(&now, &was, &more) == ROWS[r].same &&
             more == ROWS[r].more,
         "%s: %d more", ROWS[r].was, more);
  }
}

/* Table 7's numbers, from models whose table is written so, for t as far as the
 * sequences go. */
static void measure_swaps__by_hand(Test *t) {
  enum { T = 16 };
  Settings s;
  Trainer r;
  Error e = {0};
  Result found = {0};
  double between = 0;
  if (!tale_open(t, &s, "") ||
      !trainer_made(t, &r, "--pos learned --T 16 --n 23 --eps 0.21 --lr 0.03"))
    return;
  r.s.program = &STARTS;
  steps_of(t, &r, 25);
  fact(t, !measure_swaps(&found, &r.m, &r.data, &r.s, &e), "%s", e.text);
  fact(t, found.lists == 3 * 2 * 4, "%d numbers", found.lists);
  real *was = reals(r.m.count);
  copy(was, r.m.params, r.m.count);
  r.s.input = INPUT_REPEAT;
  for (int k = 0; k < 6; k++) {
    static const char *const STEMS[] = {"sink_1", "sink_t", "alpha_1",
                                        "alpha_t"};
    Sinks by_hand;
    int at = 5 * (k / 2 + 1);
    write_positions(&r.m, at, k % 2);
    if (evaluate(&by_hand, &r.m, &r.data, &r.s, 23, T, &e))
      break;
    const double want[] = {sinks_sink(&by_hand, 0, 0),
                           sinks_sink(&by_hand, at - 1, 0),
                           sinks_alpha(&by_hand, 0),
                           sinks_alpha(&by_hand, at - 1)};
    for (int i = 0; i < 4; i++) {
      char name[40];
      snprintf(name, sizeof name, "%s@%s%d", STEMS[i],
               k % 2 ? "swap" : "replace", at);
      within(t, measured(t, &found, name), want[i], 0, "%s", name);
    }
    between += want[0] * (1 - want[0]) + want[1] * (1 - want[1]);
    sinks_free(&by_hand);
    copy(r.m.params, was, r.m.count);
  }
  fact(t, between > 0.01, "every Sink is 0 or 1, and tells nothing");
  fact(t, !e.status, "%s", e.text);
  free(was);
  result_free(&found);
  trainer_free(&r);
  if (!trainer_made(t, &r, ""))
    return;
  r.s.program = &STARTS;
  fact(t, measure_swaps(&found, &r.m, &r.data, &r.s, &e) == 2 && !found.lists,
       "swaps of a model without positions to swap: %s", e.text);
  result_free(&found);
  trainer_free(&r);
}

enum { GRID_N = 13, GRID_H = 8, GRID_MOST = 32 };

/* alpha_1 [N,H] of every sequence and head over T tokens by hand; of how
 * many sequences. */
static int grid_alphas(Trainer *r, int T, double alpha[GRID_N * GRID_H]) {
  enum { N = GRID_N, H = GRID_H };
  const int S = T + 1;
  int ids[N * GRID_MOST], targets[N * GRID_MOST], starts;
  int got = data_probe(&r->data, &r->s.data, INPUT_NATURAL, N, T, ids, targets,
                       &starts);
  real *maps = reals(N * H * T * S);
  Probe probe = {.metric = maps};
  Acts a;
  if (acts_create(&a, &r->m, N, T, ACTS_ALL, &(Error){0}))
    exit(1);
  a.probe = &probe;
  model_forward(&r->m, &a, ids, got, T);
  for (int map = 0; map < got * H; map++) {
    alpha[map] = 0;
    for (int i = 0; i < T; i++)
      alpha[map] += (double)maps[(map * T + i) * S + 1] / T;
  }
  acts_free(&a);
  free(maps);
  return got;
}

/* [FIG3] alpha_1 of every sequence by hand, and the share of heads and
 * sequences above eps. */
static void measure_grid__by_hand(Test *t) {
  Settings s;
  Trainer r;
  Error e = {0};
  Result found = {0};
  double between = 0;
  int n;
  if (!tale_open(t, &s, "") ||
      !trainer_made(t, &r,
                    "--context 40 --extra kv --heads 8 --n 13 --input random"))
    return;
  /* so that heads differ, and some are sinks */
  Rng stir = {5};
  for (idx i = 0; i < r.m.count; i++)
    r.m.params[i] += (real)(0.7 * rng_normal(&stir));
  fact(t, !measure_grid(&found, &r.m, &r.data, &r.s, &e), "%s", e.text);
  const double *length = result_find(&found, "grid_T", &n);
  fact(t, n == 2 && length[0] == 16 && length[1] == 32, "%d lengths", n);
  const double *eps = result_find(&found, "grid_eps", &n);
  for (int x = 0; x < n; x++)
    within(t, eps[x], 0.1 + 0.05 * x, 1e-15, "eps %d", x);
  fact(t, n == 9, "%d thresholds", n);
  const double *sink = result_find(&found, "grid_sink_1", &n);
  fact(t, n == 18, "%d numbers", n);
  const double *alphas = result_find(&found, "grid_alpha_1", &n);
  fact(t, n == 2, "alpha_1 of %d lengths", n);
  for (int k = 0; k < 2 && !t->wrong; k++) {
    const int T = 16 << k;
    double alpha[GRID_N * GRID_H], mean = 0;
    const int all = grid_alphas(&r, T, alpha) * GRID_H;
    for (int map = 0; map < all; map++)
      mean += alpha[map] / all;
    within(t, alphas[k], mean, 1e-6, "alpha_1 of T %d", T);
    for (int x = 0; x < 9; x++) {
      double over = 0;
      for (int map = 0; map < all; map++)
        over += alpha[map] > eps[x];
      within(t, sink[k * 9 + x], over / all, 1e-12, "T %d, eps %g", T, eps[x]);
      if (x > 3)
        between += over * (all - over);
      if (x == 4)
        note(t, "Sink_1 %.3f  ", over / all);
      if (x)
        fact(t, sink[k * 9 + x] <= sink[k * 9 + x - 1], "rises with eps");
    }
  }
  fact(t, between > 0, "every Sink above 0.25 is 0 or 1, and tells nothing");
  result_free(&found);
  trainer_free(&r);
}

/* The numbers of `story`, or of the run's own text under another name, are
 * those of an evaluation on it. */
static bool domain_by_hand(Test *t, Trainer *r, const Result *found,
                           const char *name) {
  Error e = {0};
  Data d;
  Sinks seen;
  Settings one = r->s;
  const char *flags = FROM_TEXT;
  if (is(name, "story"))
    flags = "--grammar data/text/story.grammar";
  one.data.text[0] = 0;
  if (settings_flags(&one, flags, DATA, &e) ||
      data_open(&d, &one.data, 0, 0, &e) ||
      evaluate(&seen, &r->m, &d, &one, one.eval_n, one.eval_T, &e)) {
    fact(t, false, "%s", e.text);
    return false;
  }
  const struct {
    const char *stem;
    double want;
  } ALL[] = {{"alpha_1", sinks_alpha(&seen, 0)},
             {"sink_1", sinks_sink(&seen, 0, 0)},
             {"sink_1:0.2", sinks_sink(&seen, 0, 1)},
             {"sink_1:0.4", sinks_sink(&seen, 0, 2)},
             {"loss", seen.loss}};
  EACH (j, ALL) {
    char at[40];
    snprintf(at, sizeof at, "%s/%s", ALL[j].stem, name);
    within(t, measured(t, found, at), ALL[j].want, 0, "%s", at);
  }
  sinks_free(&seen);
  data_close(&d);
  return true;
}

/* [FIG9] of each corpus and domain that is at hand what an evaluation on it
 * says; what is not at hand has no numbers, and another text than the table's
 * is one line. */
static void measure_domains__by_hand(Test *t) {
  static const char *const TEXT =
      "corpus tale tale.txt 0\ncorpus long tale.txt 0 times 3\n"
      "domain story story.grammar\ndomain told tale.txt %016llx\n"
      "domain away nowhere.txt 0\n";
  static const char *const NAMES[] = {"story", "tale", "told"};
  enum { WITH_TEXTS, WITHOUT, OTHER_TEXT };
  Settings s;
  Trainer r;
  Experiments x = {0};
  if (!tale_open(t, &s, "") ||
      !trainer_made(t, &r, FROM_TEXT "--fix-token 2 --eps 0.17 --lr 0.03"))
    return;
  steps_of(t, &r, 20);
  uint64_t hash = r.data.source;
  for (int k = WITH_TEXTS; k <= OTHER_TEXT; k++) {
    const char *folder = k == WITHOUT ? "" : SCRATCH;
    Result found = {0};
    Error wrong = {0};
    char text[300];
    snprintf(text, sizeof text, TEXT,
             (unsigned long long)(hash + (k == OTHER_TEXT)));
    table_open(&x, text);
    int status = measure_domains(&found, &r, &x, folder, &wrong);
    fact(t, status == (k == OTHER_TEXT), "%s", wrong.text);
    if (k == OTHER_TEXT)
      fact(t,
           strstr(wrong.text, "tale.txt: expected the text with hash") &&
               strstr(wrong.text, "Try: "),
           "%s", wrong.text);
    if (!status)
      fact(t, found.lists == (k == WITHOUT ? 5 : 15), "%d numbers",
           found.lists);
    fact(t, measure_domains(NULL, &r, &x, folder, &wrong) == status,
         "asked first");
    for (int i = 0; !status && i < (k == WITHOUT ? 1 : 3); i++)
      if (!domain_by_hand(t, &r, &found, NAMES[i]))
        break;
    if (k == WITH_TEXTS)
      fact(t,
           result_number(&found, "loss/story") !=
               result_number(&found, "loss/tale"),
           "two texts of one loss");
    result_free(&found);
    experiments_free(&x);
  }
  trainer_free(&r);
}

/* Token 1 stands behind the column * of a model that has one. */
static void measures__starred(Test *t) {
  Settings s;
  Trainer r;
  Experiments x;
  Result found = {0};
  Sinks q;
  if (!tale_open(t, &s, "") ||
      !trainer_made(t, &r, "--pos learned --extra k --T 16 --n 9"))
    return;
  r.s.program = &STARTS;
  table_open(&x, "domain story story.grammar\n");
  measure_domains(&found, &r, &x, "", fresh(t));
  measure_swaps(&found, &r.m, &r.data, &r.s, fresh(t));
  Settings one = r.s;
  Data d;
  one.data.text[0] = one.data.grammar[0] = 0;
  settings_flags(&one, "--grammar data/text/story.grammar", DATA, fresh(t));
  data_open(&d, &one.data, 0, 0, &t->e);
  if (!evaluate(&q, &r.m, &d, &one, 9, 16, &t->e)) {
    within(t, measured(t, &found, "alpha_1/story"), sinks_alpha(&q, 1), 0,
           "story");
    sinks_free(&q);
  }
  data_close(&d);
  one = r.s;
  one.input = INPUT_REPEAT;
  one.swap_position = 5;
  if (!evaluate(&q, &r.m, &r.data, &one, 9, 16, fresh(t))) {
    within(t, measured(t, &found, "alpha_1@swap5"), sinks_alpha(&q, 1), 0,
           "alpha_1");
    within(t, measured(t, &found, "alpha_t@swap5"), sinks_alpha(&q, 5), 0,
           "alpha_t");
    sinks_free(&q);
  }
  result_free(&found);
  experiments_free(&x);
  trainer_free(&r);
}

static const char *const TOY_ARMS[] = {"", "--extra k ", "--extra logit ",
                                       "--extra zero ",
                                       "--sim sigmoid --normalizer one "};
#define TRIGGER_TOY \
  "--toy trigger --layers 1 --heads 1 --dim 16 --context 16 --pos none " \
  "--init gpt2 --batch 16 --lr 3e-3 --warmup 0 --wd 0 --clip 0 --quiet --n 20 "
#define BACKCOPY_TOY \
  "--toy backcopy --layers 1 --heads 1 --dim 32 --ffn 64 --context 32 " \
  "--pos learned --batch 16 --lr 1e-2 --warmup 0 --quiet --n 20 "

enum {
  TOY_GROUPS = MODEL | TRAIN | DATA | MEASURE | EVAL | GENERAL | OUTPUT | ALONE
};

/* The settings that these flags say, in two strings, with what --toy opens. */
static void toy_settings(Settings *s, const char *flags, const char *more,
                         Error *e) {
  static const Program WITH_TOYS = {.name = "paper", .open = toys_open};
  settings_default(s);
  s->data.program = &WITH_TOYS;
  settings_flags(s, flags, TOY_GROUPS, e);
  settings_flags(s, more, TOY_GROUPS, e);
}

/* Runs a toy with these flags, two strings; false and a failed statement when
 * it fails. */
static bool toy_done(Test *t, Result *r, const char *flags, const char *more) {
  static Progress p;
  Settings s;
  Error e = {0};
  *r = (Result){0};
  toy_settings(&s, flags, more, &e);
  p = (Progress){.name = "toy"};
  if (!e.status && !toy_run(&s, &p, r, &e))
    return true;
  fact(t, false, "%s%s: %s", flags, more, e.text);
  return false;
}

/* What x_1 .. x_T are, and y_j = their mean up to the trigger, which stands at
 * 3 .. T alike. */
static void trigger_draw__rules(Test *t) {
  enum { C = 7, T = 6, N = 2000 };
  real x[T * C], y[T * C], again[2 * T * C];
  int often[T] = {0};
  double sum = 0, square = 0;
  for (int n = 0; n < N; n++) {
    int at = trigger_draw(x, y, C, T, 5, (uint64_t)n);
    fact(t, at >= 2 && at < T, "trigger at row %d", at);
    if (at < 2 || at >= T)
      return;
    often[at]++;
    for (int i = 0; i < T; i++) {
      const real *row = x + i * C;
      fact(t,
           row[0] == (i == 0) && row[1] == (i == at) &&
               row[C - 1] == (i && i != at),
           "flags of row %d: %g %g %g", i, (double)row[0], (double)row[1],
           (double)row[C - 1]);
      for (int k = 2; k < C - 1; k++) {
        fact(t, i ? row[k] >= -1 && row[k] < 1 : row[k] == 0, "x_%d,%d: %g", i,
             k, (double)row[k]);
        if (i) {
          sum += (double)row[k];
          square += (double)(row[k] * row[k]);
        }
      }
      for (int k = 0; k < C; k++) {
        double mean = 0;
        for (int j = 0; j <= at; j++)
          mean += (double)x[j * C + k] / (at + 1);
        if (i == at)
          within(t, (double)y[i * C + k], mean, 4 * REAL_EPS, "y %d", i);
        else
          within(t, (double)y[i * C + k], 0, 0, "y %d", i);
      }
    }
  }
  for (int at = 2; at < T; at++)
    within(t, often[at], N / 4, 5 * sqrt(N * 0.25 * 0.75), "triggers at row %d",
           at);
  within(t, sum / (N * 20), 0, 5 * sqrt(1.0 / 3 / (N * 20)),
         "mean of the contents");
  within(t, square / (N * 20), 1.0 / 3, 5 * sqrt(4.0 / 45 / (N * 20)),
         "their square");
  trigger_draw(again, again + T * C, C, T, 5, N - 1);
  fact(t, !memcmp(again, x, sizeof x) && !memcmp(again + T * C, y, sizeof y),
       "another drawing");
  trigger_draw(again, again + T * C, C, T, 6, N - 1);
  fact(t, memcmp(again, x, sizeof x), "seed 6 draws what seed 5 did");
}

static void trigger_loss__gradients(Test *t) {
#define ONE_HEAD "--heads 1 --dim 7 --pos none "
  enum { C = 7, T = 6, B = 3 };
  static const char *const TENSORS[] = {"l0.wq", "l0.wk",    "l0.wv",
                                        "l0.wo", "l0.kstar", "l0.logit"};
  real x[B * T * C], y[B * T * C];
  if (REAL_EPS > 1e-10) {
    t->skip = "the double build is the oracle";
    return;
  }
  for (int n = 0; n < B; n++)
    trigger_draw(x + n * T * C, y + n * T * C, C, T, 9, (uint64_t)n);
  LABS (b, B, T, ONE_HEAD, ONE_HEAD "--extra k", ONE_HEAD "--extra logit",
        ONE_HEAD "--extra zero", ONE_HEAD "--sim sigmoid --normalizer one") {
    int seen = 0;
    model_zero_grads(&b.m);
    trigger_loss(&b.m, &b.a, x, y, B, T, true);
    EACH (k, TENSORS) {
      const Tensor *at = model_tensor(&b.m, TENSORS[k]);
      for (idx i = 0; at && i < tensor_count(at); i++, seen++) {
        const double h = 1e-3;
        double slope = 0, weight[] = {1, -8, 0, 8, -1};
        real *w = at->w + i, was = *w;
        for (int s = -2; s <= 2; s++) {
          *w = (real)((double)was + s * h);
          slope += weight[s + 2] * trigger_loss(&b.m, &b.a, x, y, B, T, false) /
                   (12 * h);
        }
        *w = was;
        within(t, (double)at->d[i], slope, 1e-10, "%s d%s", b.flags,
               TENSORS[k]);
      }
    }
    fact(t, seen == 4 * C * C + (b.n == 2 ? C : b.n == 3), "%d numbers", seen);
  }
}

/* Letters by their ids; "^" is the beginning of a text. */
static const char TOY_LETTERS[64] = "^ etaoinshrdlcumwfgypbvkjxqz";

/* Draws `blocks` blocks of T characters: the copy rule holds at every trigger.
 * Counts what follows each other character. */
static void backcopy_pairs(Test *t, const Data *d, int blocks, int T,
                           double after[64][64], double from[64]) {
  int32_t block[64];
  for (int n = 0; n < blocks; n++) {
    backcopy_draw(d, 8, (uint64_t)n, block, T);
    fact(t, block[0] == 0 && block[1] > 0 && !backcopy_trigger(d, block[1]),
         "it begins %c%c", TOY_LETTERS[block[0]], TOY_LETTERS[block[1]]);
    after[0][block[1]]++;
    from[0]++;
    for (int i = 1; i + 1 < T; i++) {
      fact(t, block[i + 1] > 0 && block[i + 1] < d->vocab, "id %d",
           block[i + 1]);
      if (backcopy_trigger(d, block[i]))
        fact(t, block[i + 1] == block[i - 1], "%c after %c%c",
             TOY_LETTERS[block[i + 1]], TOY_LETTERS[block[i - 1]],
             TOY_LETTERS[block[i]]);
      else {
        after[block[i]][block[i + 1]]++;
        from[block[i]]++;
      }
    }
  }
}

/* The copy rule at every trigger; elsewhere P of the text's pairs, within what
 * drawing leaves. */
static void backcopy_draw__rules(Test *t) {
  enum { T = 60, N = 3000 };
  /* a: 6, b: 5, c: 4 are the triggers; then x: 3, y: 2, z: 1. Pairs run round
   * the end */
  static const char TEXT[] = "abcxabcyaX" DOCUMENT_END
                             "b,acx7bay\xc3\xa9  cabz";
  /* x: then a, b, b; y: a, blank; z: a; blank: c; what begins a text: x 3, y 2,
   * z, blank */
  static const struct {
    char one, two;
    double p;
  } PAIRS[] = {
    {'x', 'a', 1.0 / 3}, {'x', 'b', 2.0 / 3}, {'y', 'a', 0.5}, {'y', ' ', 0.5},
    {'z', 'a', 1}, {' ', 'c', 1}, {'^', 'x', 3.0 / 7}, {'^', 'y', 2.0 / 7},
    {'^', 'z', 1.0 / 7}};
  Data d;
  Settings s;
  Error e = {0};
  int32_t block[T];
  double after[64][64] = {{0}}, from[64] = {0};
  scratch_open();
  file_write(SCRATCH "/toy.txt", TEXT, sizeof TEXT - 1, &e);
  toy_settings(&s, "--toy backcopy --text " SCRATCH "/toy.txt", "", &e);
  if (data_open(&d, &s.data, 0, T, &e)) {
    fact(t, false, "%s", e.text);
    return;
  }
  fact(t, d.vocab == 28 && strlen(TOY_LETTERS) == 28, "%d ids", d.vocab);
  for (int id = 0; id < d.vocab; id++)
    fact(t, backcopy_trigger(&d, id) == (id && strchr("abc", TOY_LETTERS[id])),
         "%c", TOY_LETTERS[id]);
  backcopy_pairs(t, &d, N, T, after, from);
  EACH (k, PAIRS) {
    int one = (int)(strchr(TOY_LETTERS, PAIRS[k].one) - TOY_LETTERS);
    int two = (int)(strchr(TOY_LETTERS, PAIRS[k].two) - TOY_LETTERS);
    double p = PAIRS[k].p, n = from[one] > 0 ? from[one] : 1;
    within(t, after[one][two] / n, p, 5 * sqrt(p * (1 - p) / n), "%c after %c",
           PAIRS[k].two, PAIRS[k].one);
  }
  int again[2 * T], targets[2 * T];
  data_batch(&d, &s.data, 2, T - 1, again, targets, &e);
  backcopy_draw(&d, d.seed, 1, block, T);
  for (int i = 0; i + 1 < T; i++)
    fact(t, again[T - 1 + i] == block[i] && targets[T - 1 + i] == block[i + 1],
         "token %d", i);
  data_close(&d);
}

/* Three rows with a column *, the second a trigger:
 *           *     1    2    3        z        1    2    3
 *   1       .     .    .                      .    .    .
 *   2 >     0.2   0.6  0.2                    5    3
 *   3       0.5   0.3  0.1  0.1               1    2    4 */
static void toy_measure__by_hand(Test *t) {
  Config c;
  Error e = {0};
  ToySums x = {0};
  const bool trigger[3] = {false, true, false};
  const real m[12] = {(real)0.9, (real)0.1, 0,         0,
                      (real)0.2, (real)0.6, (real)0.2, 0,
                      (real)0.5, (real)0.3, (real)0.1, (real)0.1};
  const real z[12] = {9, 9, 9, 9, 9, 5, 3, 0, 9, 1, 2, 4};
  config_from_flags(&c, "--extra k", &e);
  toy_measure(&x, &c, 0.29, 3, trigger, z, m, m, NULL);
  double even = exp(-0.75 * log(0.75) - 0.25 * log(0.25)) / 2;
  const struct {
    int which;
    double want;
  } ROWS[] = {{TOY_ALPHA_1, 0.3},
              {TOY_ALPHA_1_TRIGGER, 0.6},
              {TOY_ALPHA_PREVIOUS_TRIGGER, 0.6},
              {TOY_WEIGHT_1, 0.3},
              {TOY_WEIGHT_1_TRIGGER, 0.6},
              {TOY_ALPHA_STAR, 0.5},
              {TOY_ALPHA_STAR_TRIGGER, 0.2},
              {TOY_GATE, 0.5},
              {TOY_GATE_TRIGGER, 0.8},
              {TOY_LOGIT_GAP, -2},
              {TOY_LOGIT_GAP_TRIGGER, 2},
              {TOY_EVENNESS_TRIGGER, even},
              {TOY_EVEN, 0.25},
              {TOY_SINK_1, 1}};
  EACH (k, ROWS)
    within(t, x.sum[ROWS[k].which], ROWS[k].want, 4 * REAL_EPS, "number %d",
           ROWS[k].which);
  toy_measure(&x, &c, 0.31, 3, trigger, z, m, m, NULL);
  fact(t, x.sum[TOY_SINK_1] == 1 && x.count[TOY_SINK_1] == 2,
       "0.3 is above 0.31");
}

/* Three rows of 3 columns, without * or triggers; then with a gate on each of
 * the head's dims. */
static void toy_measure__without_star(Test *t) {
  Config c;
  Error e = {0};
  ToySums x = {0};
  const bool none[3] = {false, false, false};
  const real w[9] = {1, 0, 0, 3, 1, 0, 2, 2, 4};
  const real p[9] = {1, 0,          0,          (real)0.75, (real)0.25,
                     0, (real)0.25, (real)0.25, (real)0.5};
  config_from_flags(&c, "", &e);
  toy_measure(&x, &c, 0.5, 3, none, w, w, p, NULL);
  const struct {
    int which;
    double want;
  } MEANS[] = {{TOY_ALPHA_1, 0.5},
               {TOY_WEIGHT_1, 2.5},
               {TOY_GATE, 6},
               {TOY_LOGIT_GAP, 0.5},
               {TOY_EVEN, 5.0 / 12}};
  EACH (k, MEANS)
    within(t, toy_mean(&x, MEANS[k].which), MEANS[k].want, 1e-15, "mean %d",
           MEANS[k].which);
  /* 0.1 of a row of 4, 0.7 of one of 8 */
  const real open[12] = {0, 0, 0, 0, (real)0.1, (real)0.3,
                         0, 0, 1, 1, (real)0.2, (real)0.6};
  c.gate = GATE_ELEMENT;
  c.heads = 1;
  c.head_dim = 4;
  toy_measure(&x, &c, 0.5, 3, none, w, w, p, open);
  within(t, x.sum[TOY_GATE], 12 + 0.4 + 5.6, 99 * REAL_EPS, "gates");
  fact(t,
       x.count[TOY_ALPHA_STAR] + x.count[TOY_GATE_TRIGGER] +
               x.sum[TOY_SINK_1] ==
           0,
       "others");
}

/* W_V = 1 and W_O = 0: nothing comes out, so errors are the targets; values are
 * what is read, in row 1 of length 1. The second step of a training reads
 * sequences 16 and on. */
static void play_look__by_hand(Test *t) {
  enum { T = 16, C = 16, B = 16 };
  Play y = {0};
  Settings s;
  Error e = {0};
  real x[2 * T * C];
  double loss[2] = {0}, values = 0, error = 0, most = 0;
  toy_settings(&s, TRIGGER_TOY, "--n 32", &e);
  if (play_create(&y, &s, &e)) {
    fact(t, false, "%s", e.text);
    return;
  }
  zero(y.t.m.params, y.t.m.count);
  for (int k = 0; k < C; k++)
    y.t.m.layer[0].wv.w[k * C + k] = 1;
  play_look(&y);
  for (int n = 0; n < 2 * B; n++) {
    trigger_draw(x, x + T * C, C, T, HELD_SEED, (uint64_t)n);
    for (int i = T * C; i < 2 * T * C; i++) {
      loss[n / B] += (double)(x[i] * x[i]) / (B * T * C);
      most = larger(most, fabs((double)x[i]));
      error += fabs((double)x[i]) / (2 * B * T * C);
    }
    for (int i = 1; i < T; i++)
      values += length(C, x + i * C) / (2 * B * (T - 1));
  }
  within(t, toy_mean(&y.seen, TOY_LOSS), (loss[0] + loss[1]) / 2,
         100 * REAL_EPS, "loss");
  within(t, trigger_loss(&y.t.m, &y.t.a, y.x, y.y, B, T, false), loss[1],
         100 * REAL_EPS, "last");
  within(t, toy_value_ratio(&y.seen), 1 / values, 100 * REAL_EPS, "values");
  within(t, toy_mean(&y.seen, TOY_LOSS_TRIGGER), (loss[0] + loss[1]) / 2 * T,
         T * REAL_EPS, "loss");
  within(t, toy_mean(&y.seen, TOY_ERROR), error, 100 * REAL_EPS, "error");
  within(t, y.seen.worst, most, 0, "the largest");
  play_step(&y, &e);
  play_step(&y, &e);
  trigger_draw(x, x + T * C, C, T, (uint64_t)s.train.seed + 1, B);
  fact(t, same_numbers(T * C, x, y.x), "step 2 reads other sequences");
  play_free(&y);
  y = (Play){0};
  toy_settings(&s, BACKCOPY_TOY, "--n 32", &e);
  if (!play_create(&y, &s, &e))
    play_look(&y);
  /* the first query of a sequence is of neither kind */
  const double *of = y.seen.count;
  fact(t, of[TOY_LOSS_BIGRAM] + of[TOY_LOSS_TRIGGER] + 32 == of[TOY_LOSS], "%g",
       of[TOY_LOSS]);
  play_free(&y);
}

/* Every arm of both: the same bytes on three threads, and other bytes from
 * another seed. */
static void toy_run__same_bits(Test *t) {
  int most = workers();
  for (int run = 0; run < 10; run++) {
    const char *flags = run % 2 ? BACKCOPY_TOY "--steps 3 "
                                : TRIGGER_TOY "--steps 12 ";
    Bytes *text[3];
    for (int k = 0; k < 3; k++) {
      Result r;
      Error e = {0};
      char more[100];
      snprintf(more, sizeof more, "%s%s", TOY_ARMS[run / 2],
               k == 2 ? "--seed 1" : "");
      set_workers(k == 1 ? 3 : 1);
      if (!toy_done(t, &r, flags, more))
        return;
      set_workers(most);
      fact(t, !result_text(&r, text[k] = bytes_of(t), &e), "%s", e.text);
      result_free(&r);
    }
    fact(t, bytes_same(text[0], text[1]), "%s%s: other bytes", flags,
         TOY_ARMS[run / 2]);
    fact(t, !bytes_same(text[0], text[2]), "%s%s: the same bytes", flags,
         TOY_ARMS[run / 2]);
  }
}

/* Muon steps in both toys: what is measured is not AdamW's. */
static void toy_run__muon(Test *t) {
  for (int toy = 0; toy < 2; toy++) {
    const char *flags = toy ? BACKCOPY_TOY "--steps 3 "
                            : TRIGGER_TOY "--steps 12 ";
    Result own, other;
    if (!toy_done(t, &own, flags, "--optimizer muon") ||
        !toy_done(t, &other, flags, ""))
      return;
    fact(t,
         own.values == other.values &&
             memcmp(own.value, other.value,
                    (size_t)own.values * sizeof *own.value),
         "%s: --optimizer muon changes nothing", flags);
    result_free(&own);
    result_free(&other);
  }
}

/* The rows of both maps sum to 1, and none sees ahead. */
static void toy_maps_sound(Test *t, const Result *r, int rows, int columns) {
  for (int k = 0; k < 2; k++) {
    int n;
    const double *map = result_find(r, k ? "after" : "before", &n);
    fact(t, map && n == rows * columns, "%d numbers", n);
    for (int i = 0; map && i < rows; i++) {
      double sum = 0, ahead = 0;
      const double *row = map + i * columns;
      for (int j = 0; j < columns; j++)
        sum += row[j];
      for (int j = i + 1 + columns - rows; j < columns; j++)
        ahead += row[j];
      within(t, sum, 1, 20 * REAL_EPS, "row %d", i);
      fact(t, ahead == 0, "row %d sees ahead", i);
    }
  }
}

/* Short trainings: the loss falls, the maps are those of the model, and what a
 * result must have. */
static void toy_run__learns(Test *t) {
  static const double SIZES[] = {1024, 1040, 1025, 1024, 1024};
  enum { SIGMOID = 4 };
  for (int arm = 0; arm < 5; arm++) {
    Result r;
    int n, rows = 16, columns = 16 + (arm > 0 && arm < SIGMOID);
    if (!toy_done(t, &r, TRIGGER_TOY "--steps 500 ", TOY_ARMS[arm]))
      return;
    double loss = result_number(&r, "loss") / result_number(&r, "loss_start");
    fact(t, loss < 0.85, "%s: the loss is %g of what it was", TOY_ARMS[arm],
         loss);
    within(t, result_number(&r, "parameters"), SIZES[arm], 0, "parameters");
    within(t, result_number(&r, "tokens"), 500 * 16 * 16, 0, "tokens");
    fact(t, !isnan(result_number(&r, "alpha_*")) == (columns > 16), "alpha_*");
    const double *shape = result_find(&r, "toy_shape", &n);
    fact(t, shape && n == 3 && shape[1] == rows && shape[2] == columns,
         "toy_shape");
    if (arm < SIGMOID)
      toy_maps_sound(t, &r, rows, columns);
    const double *tokens = result_find(&r, "curve_tokens", &n);
    fact(t, tokens[n - 2] == 467 * 16 * 16,
         "a look at %g, not at 500 (29 / 30)^2", tokens[n - 2]);
    if (!arm)
      within(t, result_number(&r, "weight_1"), result_number(&r, "alpha_1"),
             1e-12, "rows sum to 1");
    note(t, "%.2f ", loss);
    result_free(&r);
  }
  Result r;
  int n;
  if (!toy_done(t, &r, BACKCOPY_TOY "--steps 200 ", ""))
    return;
  double loss = result_number(&r, "loss@trigger");
  double all = result_number(&r, "loss");
  double bigram = result_number(&r, "loss@bigram");
  double least = result_number(&r, "entropy@bigram");
  fact(t, all < result_number(&r, "loss_start") - 1 && loss < 1.2,
       "loss %g, %g", all, loss);
  fact(t, bigram > least - 0.1 && bigram < least + 0.3,
       "bigrams %g, entropy %g", bigram, least);
  const double *curve = result_find(&r, "curve_loss", &n);
  fact(t,
       curve && n > 25 && n <= 31 && isnan(curve[0]) &&
           curve[n - 1] < curve[1] - 1,
       "%d", n);
  note(t, "backcopy %.2f, @trigger %.2f", all, loss);
  result_free(&r);
  if (!toy_done(t, &r, TRIGGER_TOY "--steps 300 --optimizer sgd --lr 1e3 ", ""))
    return;
  fact(t,
       r.ended[0] && result_number(&r, "diverged") == 1 &&
           !result_find(&r, "after", &n),
       "it went on: %s", r.ended);
  result_free(&r);
}

/* A toy's numbers agree with each other: its last look, its losses, its even
 * share; stopped, it says that nothing was saved; diverged, it has none. */
static void toy_run__numbers(Test *t) {
  static Progress p;
  Settings s;
  Result r = {0};
  Play y = {0};
  int n;
  toy_settings(&s, BACKCOPY_TOY, "--n 300", fresh(t));
  if (!play_create(&y, &s, &t->e))
    play_look(&y);
  fact(t, y.seen.count[TOY_SINK_1] == BACKCOPY_HELD, "%g sequences",
       y.seen.count[TOY_SINK_1]);
  play_step(&y, &t->e);
  play_watch(&y, &p, &t->e);
  fact(t, !y.t.loss_steps && y.t.loss_sum == 0, "a look's losses");
  fact(t, p.looked == 1, "a look at step %ld", p.looked);
  play_free(&y);
  if (!toy_done(t, &r, TRIGGER_TOY "--steps 60 ", ""))
    return;
  const double *ratio = result_find(&r, "curve_value_ratio", &n);
  within(t, ratio[n - 1], measured(t, &r, "value_ratio"), 0, "value_ratio");
  within(t, measured(t, &r, "loss") - measured(t, &r, "train_loss"),
         measured(t, &r, "gap"), 0, "gap");
  within(t, measured(t, &r, "alpha_1") / measured(t, &r, "even"),
         measured(t, &r, "times_1"), 0, "times_1");
  const double *before = result_find(&r, "toy_trigger", &n);
  real x[256], z[256];
  const int at = trigger_draw(x, z, 16, 16, HELD_SEED, 0);
  fact(t, before && before[at] == 1, "the first held sequence");
  result_free(&r);
  interrupted = 1;
  toy_settings(&s, TRIGGER_TOY "--steps 60 ", "", fresh(t));
  fact(t,
       toy_run(&s, &p, &r, &t->e) == 1 &&
           strstr(t->e.text, "nothing was saved"),
       "%s", t->e.text);
  interrupted = 0;
  result_free(&r);
  if (!toy_done(t, &r, TRIGGER_TOY "--steps 300 --optimizer sgd --lr 1e3 ", ""))
    return;
  fact(t,
       r.ended[0] && isnan(result_number(&r, "alpha_1")) &&
           isnan(result_number(&r, "error_most")),
       "numbers of a run that diverged");
  result_free(&r);
}

static void toy_run__refuses(Test *t) {
  static const char *const FLAGS[] = {
    TRIGGER_TOY "--layers 2", TRIGGER_TOY "--heads 2", TRIGGER_TOY "--dim 3",
    BACKCOPY_TOY "--bos", TRIGGER_TOY "--pos rotary",
    TRIGGER_TOY "--sink-token", BACKCOPY_TOY "--fix-token 1",
    BACKCOPY_TOY "--prefix 3", BACKCOPY_TOY "--random-tokens 2",
    BACKCOPY_TOY "--first-tokens 4", TRIGGER_TOY "--context 2",
    TRIGGER_TOY "--accumulate 2", TRIGGER_TOY "--window 4",
    BACKCOPY_TOY "--data-tokens 900"};
  static Progress p;
  EACH (k, FLAGS) {
    Settings s;
    Error e = {0};
    Result r = {0};
    toy_settings(&s, FLAGS[k], "", &e);
    fact(t, toy_run(&s, &p, &r, &e) == 2 && strstr(e.text, "Try: "), "%s: %s",
         FLAGS[k], e.text);
    result_free(&r);
  }
  Settings s;
  Error e = {0}, f = {0};
  Trainer r;
  toy_settings(&s, TRIGGER_TOY, "", &e);
  fact(t, trainer_create(&r, &s, &e) == 2 && strstr(e.text, "--toy trigger"),
       "%s", e.text);
  fact(t, demo_run(&s, stdout, &f) == 2 && strstr(f.text, "--toy"), "%s",
       f.text);
}

static void toy_print__maps(Test *t) {
  Result r = {0};
  Error e = {0};
  const double shape[] = {TOY_TRIGGER, 2, 3};
  const double tokens[] = {0, 2}, trigger[] = {0, 1};
  const double before[] = {0.5, 0.5, 0, 0.04, 0.36, 0.6};
  const double after[] = {1, 0, 0, 0, 0.94, 0.06};
  result_add(&r, "toy_shape", shape, 3, &e);
  result_add(&r, "toy_tokens", tokens, 2, &e);
  result_add(&r, "toy_trigger", trigger, 2, &e);
  result_add(&r, "before", before, 6, &e);
  result_add(&r, "after", after, 6, &e);
  scratch_open();
  FILE *out = printing();
  toy_print(&r, out);
  char *text = printed(t, out);
  const char *rows[] = {"before", " * 1 v",      "  1   5 5 .", " > t   . 4 6",
                        "after",  "  1   # . .", " > t   . 9 1"};
  EACH (k, rows)
    has_part(t, text, "%s", rows[k]);
  /* a list that was cut: no picture */
  for (int k = 0; k < 4; k++) {
    r.list[k].n--;
    toy_print(&r, out = printing());
    r.list[k].n++;
    fact(t, !*printed(t, out), "%s with one number less is drawn",
         r.list[k].name);
  }
  result_free(&r);
}

/* Against closed forms of 1, 2 and 4 degrees of freedom, printed tables, and
 * Simpson's rule. */
static void student__known(Test *t) {
  /* p, nu, t to six decimals */
  static const double quantiles[][3] = {
    {0.975, 1, 12.706205}, {0.975, 2, 4.302653},   {0.975, 10, 2.228139},
    {0.995, 4, 4.604095},  {0.95, 5, 2.015048},    {0.975, 30, 2.042272},
    {0.9995, 3, 12.923979}, {0.5, 7, 0},           {0.025, 10, -2.228139}};
  EACH (i, quantiles) {
    const double *q = quantiles[i];
    within(t, student_quantile(q[0], q[1]), q[2], 5.1e-7, "t of %g, nu %g",
           q[0], q[1]);
  }
  for (double x = -40; x < 41; x += 0.37) {
    double u = x / sqrt(1 + x * x / 4);
    within(t, student(x, 1), 0.5 + atan(x) / PI, 1e-13, "P(T <= %g), nu 1", x);
    within(t, student(x, 2), 0.5 + x / (2 * sqrt(2 + x * x)), 1e-13,
           "P(T <= %g), nu 2", x);
    within(t, student(x, 4), 0.5 + 0.375 * u * (1 - u * u / 12), 1e-13,
           "P(T <= %g), nu 4", x);
  }
  /* at 1.75 it is slowest */
  static const double nus[] = {2.5, 7.3, 60, 197, 1000, 950};
  for (int k = 0; k < 6; k++) {
    double nu = nus[k], top = k < 5 ? 3.1 : 1.75, sum = 0;
    const int n = 4000;
    for (int i = 0; i <= n; i++) {
      double x = top * i / n, weight = i % 2 ? 4 : 2;
      if (i == 0 || i == n)
        weight = 1;
      sum += weight * pow(1 + x * x / nu, -(nu + 1) / 2);
    }
    double scale = exp(lgamma((nu + 1) / 2) - lgamma(nu / 2)) / sqrt(nu * PI);
    within(t, student(top, nu), 0.5 + scale * sum * top / n / 3, 1e-12, "nu %g",
           nu);
    within(t, student(student_quantile(0.9, nu), nu), 0.9, 1e-13,
           "there and back, nu %g", nu);
  }
  fact(t, student(0, 3) == 0.5 && student(-INFINITY, 3) == 0, "0 and the end");
  /* a small tail keeps its digits: of nu 2, 1 / (2 t^2) (1 - 3 / (2 t^2) ..) */
  within(t, student(-1e6, 2) * 2e12, 1, 1e-11, "the tail of nu 2 at -1e6");
}

/* Means 2 and 7, squared errors 1/3 and 5/3: nu = 4 / (1/18 + 25/27),
 * t = 5 / sqrt(2). */
static void welch__by_hand(Test *t) {
  static const double a[] = {1, 2, 3}, b[] = {4, 6, 8, 10}, five = 5;
  static const double same[] = {0.1, 0.1, 0.1};
  Estimate d = welch(a, 3, b, 4);
  within(t, d.value, 5, 1e-15, "difference");
  within(t, d.error * d.error, 2, 1e-14, "squared error");
  within(t, d.nu, 4 / (1 / 18.0 + 25 / 27.0), 1e-13, "degrees of freedom");
  within(t, d.low, 5 - 2.7562848743595714 * sqrt(2), 1e-12, "low end");
  within(t, d.high, 5 + 2.7562848743595714 * sqrt(2), 1e-12, "high end");
  within(t, estimate_p(&d, 0), 0.02337676760030371, 1e-13, "p at 0");
  within(t, estimate_p(&d, d.low), 0.05, 1e-13, "p at the interval's end");
  /* one sample: mean 7, error^2 5/3 */
  d = welch(&five, 1, b, 4);
  within(t, d.nu, 3, 1e-14, "nu of one sample");
  within(t, d.low, 2 - 3.18244630528371 * sqrt(5 / 3.0), 1e-12,
         "low end of one sample");
  d = welch(same, 3, same, 2);
  fact(t,
       d.value == 0 && d.low == 0 && d.high == 0 && estimate_p(&d, 0) == 1 &&
           estimate_p(&d, 1) == 0,
       "no spread: %g [%g, %g]", d.value, d.low, d.high);
}

/* 0.005 x 4, 0.01 x 3, 0.03 x 2, and 0.04 x 1, not below the one before; of a
 * family of six x 6. */
static void holm__by_hand(Test *t) {
  static const double p[] = {0.01, NAN, 0.04, 0.03, 0.005};
  static const double want[] = {0.03, 0, 0.06, 0.06, 0.02};
  static const double ties[] = {0.02, 0.02, 0.9, 0.8};
  static const double large[] = {0.08, 0.08, 1, 1};
  double got[5];
  holm(got, p, 5, 4);
  for (int i = 0; i < 5; i++)
    if (i == 1)
      fact(t, isnan(got[i]), "without p got %g", got[i]);
    else
      within(t, got[i], want[i], 1e-16, "Holm's p of %g", p[i]);
  holm(got, ties, 4, 4);
  for (int i = 0; i < 4; i++)
    within(t, got[i], large[i], 1e-16, "Holm's p of %g", ties[i]);
  holm(got, p, 5, 6);
  within(t, got[4], 0.03, 1e-16, "two are untested");
}

static const char FOUR_ROWS[] =
    "seeds 3 5\n"
    "item one Table 1: Rows\n"
    "note a < b\n"
    "columns sink_1 loss\n"
    "row a --steps 1 | 18.18 3.73\n"
    "row b --steps 2 | - ~3.70\n"
    "row c --steps 3 | 1.00* .\n"
    "row d after=a --steps 4\n"
    "row e --lr 1\n";

/* A claim on rows of one number each, and the verdict. */
typedef struct TestCase {
  const char *rule;     /* KIND|RULE */
  int seeds;
  double value[15];     /* [sides and needs][seeds] */
  Verdict verdict;
  const char *why;      /* a part of what is said */
} TestCase;

static const TestCase VERDICT_CASES[] = {
  {"differs|a.m < b.m", 3, {1, 2, 3, 11, 12, 13}, REPRODUCED, ""},
  {"differs|a.m > b.m", 3, {1, 2, 3, 11, 12, 13}, OPPOSITE, ""},
  {"differs|a.m > b.m", 3, {11, 12, 13, 1, 2, 3}, REPRODUCED, ""},
  {"differs|a.m < b.m", 3, {1, 2, 3, 2, 3, 4}, UNDECIDED, "holds 0"},
  {"differs|a.m < b.m by 9.9", 3, {1, 2, 3, 11, 12, 13}, REPRODUCED, ""},
  {"differs|a.m < b.m by 10.1", 3, {1, 2, 3, 11, 12, 13}, UNDECIDED,
   "below 10.1"},
  {"differs|a.m < b.m by 15", 3, {1, 2, 3, 11, 12, 13}, WEAKER, ""},
  {"differs|a.m < b.m by 15", 3, {1, 2, 3, 1, 3, 3}, NOT_REPRODUCED, ""},
  {"differs|a.times_1 > 1.5", 3, {1.3, 1.33, 1.36}, WEAKER, ""},
  {"differs|1.5 < a.times_*", 3, {0, 0, 0, 1.3, 1.33, 1.36}, WEAKER, ""},
  {"differs|a.times_1 > 1.5", 3, {0.9, 1, 1.1}, NOT_REPRODUCED, ""},
  {"differs|a.times_1 > 1.5", 3, {0.5, 0.55, 0.6}, OPPOSITE, ""},
  {"differs|a.times_1 > 1.5", 3, {1, 1.4, 1.8}, UNDECIDED, "holds 0"},
  {"differs|a.times_1 > 1.5 by 0.5", 3, {0.6, 0.65, 0.7}, NOT_REPRODUCED, ""},
  {"differs|a.times_1@repeat < 1.5", 3, {2, 2.1, 2.2}, OPPOSITE, ""},
  {"differs|a.times_1 < 1.5", 3, {1, 1.05, 1.1}, REPRODUCED, ""},
  {"differs|a.norm_ratio > 1.5", 3, {1.2, 1.25, 1.3}, WEAKER, ""},
  {"differs|a.norm_ratio@other > 1.5", 3, {1.2, 1.25, 1.3}, WEAKER, ""},
  {"differs|a.value_ratio < 1 by 0.5", 3, {0.8, 0.81, 0.82}, WEAKER, ""},
  {"differs|a.value_ratio < 1 by 0.5", 3, {1.6, 1.61, 1.62}, OPPOSITE, ""},
  {"differs|a.m > 2", 3, {1, 1.1, 1.2}, OPPOSITE, ""},
  {"differs|a.m > 2 from 0.5", 3, {1, 1.1, 1.2}, WEAKER, ""},
  {"differs|a.m > 9 from 0.5", 3, {1, 1.1, 1.2}, NOT_REPRODUCED, ""},
  {"differs|a.m > 2 from 0.5", 3, {0.1, 0.2, 0.3}, OPPOSITE, ""},
  {"differs|a.m > b.m by 1", 3, {1, 2, 3, 11, 12, 13}, OPPOSITE, ""},
  {"differs|a.m > b.m by 11", 3, {1, 2, 3, 11, 12, 13}, NOT_REPRODUCED, ""},
  {"differs|a.m < 4", 3, {1, 2, 3, 0, 0, 0}, UNDECIDED, "holds 0"},
  {"differs|a.m < 9", 3, {1, 2, 3, 0, 0, 0}, REPRODUCED, ""},
  {"differs|a.m < b.m", 3, {0, 0, 0, 0.5, 0.5, 0.5}, REPRODUCED, "no spread"},
  {"differs|a.m < b.m", 3, {0.1, 0.1, 0.1, 0.1, 0.1, 0.1}, NOT_REPRODUCED,
   "no spread"},
  {"differs|a.m < b.m by 1", 3, {0, 0, 0, 0.5, 0.5, 0.5}, WEAKER, "no spread"},
  {"differs|a.m < b.m", 3, {1, 1, 1, 0.5, 0.5, 0.5}, OPPOSITE, "no spread"},
  {"differs|a.m < b.m", 1, {1, 9}, UNDECIDED, "1 seed"},
  {"differs|4 < a.m", 1, {0, 9}, UNDECIDED, "1 seed"},
  {"differs|a.m < b.m", 3, {1, 2, 3, 11, NAN, 13}, UNDECIDED,
   "b.m of seed 2 is not there"},
  {"differs|a.m < b.m", 3, {NAN, NAN, NAN, 11, 12, 13}, UNDECIDED,
   "a.m of seed 1"},
  {"equal|a.m = b.m within 5", 3, {1, 2, 3, 1.5, 2, 3}, REPRODUCED, ""},
  {"equal|a.m = b.m within 2", 3, {1, 2, 3, 1.5, 2, 3}, UNDECIDED,
   "over the margin"},
  {"equal|a.m = b.m within 2", 3, {1, 2, 3, 11, 12, 13}, NOT_REPRODUCED, ""},
  {"equal|a.m = b.m within 2", 3, {11, 12, 13, 1, 2, 3}, NOT_REPRODUCED, ""},
  {"equal|a.m = b.m within 2", 3, {1, 1, 1, 2, 2, 2}, REPRODUCED, "no spread"},
  {"equal|a.m = b.m within 1", 3, {1, 1, 1, 2, 2, 2}, NOT_REPRODUCED,
   "no spread"},
  {"equal|a.m = b.m within 1", 3, {2, 2, 2, 1, 1, 1}, NOT_REPRODUCED,
   "no spread"},
  {"equal|a.m = b.m within 0.6", 3, {1, 2, 3, 1.5, 2.6, 3.4}, UNDECIDED,
   "over the margin"},
  {"equal|a.m = a.x within 0.6", 3, {1, 2, 3, 1.5, 2.5, 3.5}, REPRODUCED,
   "no spread"},
  {"differs|a.m < b.m", 3, {1, 2, 3, 1.5, 2.6, 3.4}, UNDECIDED, "holds 0"},
  {"differs|a.m < a.x", 3, {1, 2, 3, 1.5, 2.6, 3.4}, REPRODUCED, ""},
  {"differs|a.m < d.m", 3, {1, 2, 3, 1.5, 2.6, 3.4}, REPRODUCED, ""},
  {"differs|d.m > a.m", 3, {1.5, 2.6, 3.4, 1, 2, 3}, REPRODUCED, ""},
  {"differs|a.m < b.loss", 3, {1, 2, 3, 1.5, 2.6, 3.4}, UNDECIDED, "holds 0"},
  {"differs|a.loss < b.loss@2", 3, {1, 2, 3, 1.5, 2.6, 3.4}, REPRODUCED, ""},
  {"differs|a.m > a.x", 3, {1, 2, 3, 1.5, 2.6, 3.4}, OPPOSITE, ""},
  {"ordered|a.m < b.m < c.m < d.m", 3, {3, 3, 3, 4, 4, 4, 1, 1, 1, 2, 2, 2},
   NOT_REPRODUCED, ""},
  {"ordered|a.m < b.m < c.m", 3, {1, 1, 1, 2, 2, 2, 3, 3, 3}, REPRODUCED,
   "no spread"},
  {"ordered|a.m > b.m > c.m", 3, {1, 1, 1, 2, 2, 2, 3, 3, 3}, OPPOSITE,
   "tau -1.00"},
  {"ordered|a.m < b.m < c.m", 3, {1, 1, 1, 1, 1, 1, 1, 1, 1}, NOT_REPRODUCED,
   "tau 0.00"},
  {"ordered|a.m < b.m < c.m", 3, {1, 1, 1, 3, 3, 3, 2, 2, 2}, WEAKER,
   "tau 0.33"},
  {"ordered|a.m < b.m < c.m", 3, {1, 1, 3, 2, 3, 2, 3, 2, 1}, UNDECIDED,
   "holds 0"},
  {"ordered|a.m < 2 < c.m", 3, {1, 1, 1, 0, 0, 0, 3, 3, 3}, REPRODUCED,
   "tau 1.00"},
  {"ordered|a.m < b.m < c.m", 1, {1, 2, 3}, UNDECIDED, "1 seed"},
  /* 3/5, which a sum that begins at 0 rounds to less */
  {"ordered|a.m < b.m < c.m", 5, {1, 1, 1, 1, 1, 1, 1, 1, 2, 1, 1, 2, 2, 3, 2},
   REPRODUCED, "tau 0.60"},
  {"exact|a.m <= b.m", 3, {1, 2, 3, 1, 2, 3}, REPRODUCED, "3 of 3 seeds"},
  {"exact|a.m < b.m", 3, {1, 2, 3, 2, 2, 4}, NOT_REPRODUCED,
   "a.m of seed 2: 2 against 2"},
  {"exact|a.m > b.m", 3, {1, 2, 3, 0, 1, 2}, REPRODUCED, ""},
  {"exact|a.m = 0", 3, {0, 0, 1e-9, 0, 0, 0}, NOT_REPRODUCED, "seed 3"},
  {"exact|a.m = 0", 2, {0, -1, 0, 0}, NOT_REPRODUCED, "seed 2: -1 against 0"},
  {"exact|0 = a.m", 2, {0, 0, 0, -1}, NOT_REPRODUCED,
   "a.m of seed 2: -1 against 0"},
  {"exact|a.m = 0 within 1e-6", 3, {0, 0, 1e-9, 0, 0, 0}, REPRODUCED, ""},
  {"exact|a.m > b.m", 2, {1, 2, 0, 2}, NOT_REPRODUCED, "seed 2"},
  {"exact|a.m < b.m by 1", 2, {1, 2, 0.5, 1.5}, REPRODUCED, ""},
  {"exact|a.m > b.m by 1", 2, {0.5, 1.5, 1, 2}, REPRODUCED, ""},
  {"exact|a.m <= b.m by 1", 2, {1, 2, 0.5, 1.5}, REPRODUCED, ""},
  {"exact|a.m >= b.m within 1", 2, {1, 2, 2, 2.5}, REPRODUCED, ""},
  {"exact|a.m >= b.m within 1", 2, {1, 2, 2, 3.5}, NOT_REPRODUCED, "seed 2"},
  {"exact|a.m = 0", 1, {0, 0}, UNDECIDED, "1 seed"},
  {"exact|a.m = 0", 1, {1, 0}, NOT_REPRODUCED, "seed 1"},
  {"exact|a.m = 0", 3, {NAN, 0, 0, 0}, UNDECIDED, "seed 1 is not there"},
  {"exact|a.m = 0", 3, {NAN, 0, 1, 0}, NOT_REPRODUCED, "seed 3: 1 against 0"},
  {"differs|a.m < b.m\nneeds a.times_1 > 2", 2, {1, 2, 11, 12, 1, 1.6},
   UNDECIDED, "needs a.times_1 > 2, found 1.3 (no sink to judge)"},
  {"differs|a.m < b.m\nneeds a.times_1 > 2", 2, {1, 2, 11, 12, 1, 3.6},
   REPRODUCED, ""},
  {"differs|a.m < b.m\nneeds a.x < b.x", 2, {1, 2, 11, 12, 7, 7, 5, 5},
   UNDECIDED, "needs a.x < b.x, found 7 and 5"},
  {"differs|a.m < b.m\nneeds a.x > 2\nneeds b.x < a.x", 2,
   {1, 2, 11, 12, 5, 5, 0, 0, 7, 7, 5, 5}, UNDECIDED,
   "needs b.x < a.x, found 7 and 5"},
  {"differs|a.m < b.m\nneeds a.x = b.x within 1", 3,
   {1, 2, 3, 11, 12, 13, 7, 7, 9, 6, 5.5, NAN}, UNDECIDED,
   "needs a.x = b.x within 1, found 7 and 5.75"},
  {"differs|a.m < b.m\nneeds a.x = b.x within 1", 2, {1, 2, 11, 12, 6, 7, 5, 6},
   REPRODUCED, ""},
  {"differs|a.m < b.m\nneeds a.x = b.x within 1", 3,
   {1, 2, 3, 11, 12, 13, 6, 7, 9, 5, 6, NAN}, UNDECIDED, "b.x of seed 3"},
  {"differs|a.m < b.m\nneeds a.x > 2", 2, {1, 2, 11, 12, 3, NAN}, UNDECIDED,
   "a.x of seed 2"},
  {"exact|a.m = 0\nneeds a.x > 2", 2, {1, 1, 0, 0, 1, 1}, UNDECIDED,
   "needs a.x > 2"}};

/* One claim, KIND|RULE. value [side_count][seeds]: the rule's sides, then each
 * need's left and right; NAN where a run has no number; what stands for a
 * number is not read. */
static void claim_judge(Judged *j, const char *of, const double *value,
                        int seeds) {
  char text[1000];
  Experiments x;
  const char *rule = strchr(of, '|') + 1;
  snprintf(text, sizeof text, "%sclaim k %.*s T1: It is so\nrule %s\n",
           FOUR_ROWS, (int)(rule - 1 - of), of, rule);
  table_open(&x, text);
  int wanted[SIDES + 2 * NEEDS];
  EACH (k, wanted)
    wanted[k] = seeds;
  claim_estimate(j, &(Case){&x, x.claim, value, seeds, wanted});
  j->corrected = j->p;
  claim_decide(j, x.claim);
  experiments_free(&x);
}

/* Estimates, and p of three seeds, nu 2: 1 - sqrt(t^2 / (2 + t^2)). By hand
 * t = 0.45 / e, e^2 = 0.0025 / 3, from what has no effect, 1; then t = 1.5 / e,
 * 2 / e and twice 4 / e, e^2 = 1 / 3, the latter from 5 and -5; of taus 1, 1/3
 * and -1/3 e^2 = 4/27. Exact: the range over seeds. */
static void judge_mean__by_hand(Test *t) {
  static const struct {
    const char *rule;
    double value[9], estimate, tt, low, high;
  } CASES[] = {
    {"differs|a.times_1 > 1.5", {0.5, 0.55, 0.6}, -0.95, 243, 0, 0},
    {"differs|a.times_1 > 1.5", {2, 3, 4}, 1.5, 6.75, 0, 0},
    {"differs|a.m > 1", {2, 3, 4}, 2, 12, 0, 0},
    {"equal|a.m = 2 within 5", {2, 3, 4}, 1, 48, 0, 0},
    {"equal|a.m = 2 within 5", {0, 1, 2}, -1, 48, 0, 0},
    {"ordered|a.m < b.m < c.m", {1, 1, 2, 2, 3, 3, 3, 2, 1}, 1 / 3.0, 0.75, -1,
     1},
    {"exact|a.m > b.m", {2, 3, 5, 0, 1, 2}, 7 / 3.0, 0, 2, 3},
    {"exact|a.m = b.m", {0, 1, 2, 2, 4, 4}, -7 / 3.0, 0, -3, -2},
    {"exact|a.m >= b.m", {2, 3, 5, 0, 1, 2}, 7 / 3.0, 0, 2, 3},
    {"exact|a.m <= b.m", {0, 1, 2, 2, 4, 4}, 7 / 3.0, 0, 2, 3}};
  EACH (i, CASES) {
    Judged j;
    const double tt = CASES[i].tt;
    claim_judge(&j, CASES[i].rule, CASES[i].value, 3);
    within(t, j.estimate, CASES[i].estimate, 1e-14, "%s", CASES[i].rule);
    if (tt > 0)
      within(t, j.p, 1 - sqrt(tt / (2 + tt)), 1e-12, "p of %s", CASES[i].rule);
    if (CASES[i].high != 0)
      fact(t, j.low == CASES[i].low && j.high == CASES[i].high, "%g", j.low);
  }
}

/* The rules at their borders: d is M, a tenth of it, less; an interval that
 * holds 0, or reaches M; and Holm's p, which a headline claim has, beside
 * its own. */
static void claim_decide__by_hand(Test *t) {
  enum { D = CLAIM_DIFFERS, E = CLAIM_EQUAL, O = CLAIM_ORDERED };
  static const struct {
    int kind;
    double M, d, low, high, p, corrected;
    Verdict is;
  } CASES[] = {
    {D, 1, 1, 0.1, 2, 0.04, NAN, REPRODUCED},
    {D, 1, 1, 0.1, 2, 0.04, 0.05, REPRODUCED},
    {D, 1, 1, 0.1, 2, 0.04, 0.06, UNDECIDED},
    {D, 10, 1, 0.1, 2, 0.04, NAN, WEAKER},
    {D, 10, 0.9, 0.1, 1.7, 0.04, NAN, NOT_REPRODUCED},
    {D, 10, 6, 2, 10, 0.04, NAN, UNDECIDED},
    {D, 10, 3, -1, 7, 0.3, NAN, NOT_REPRODUCED},
    {D, 1, -1, -2, -0.1, 0.04, NAN, OPPOSITE},
    {D, 0, -1, -2, -0.1, 0.04, NAN, OPPOSITE},
    {D, 0, -1, -2, -0.1, 0.04, 0.06, UNDECIDED},
    {D, 2, 0, 0, 0, 1, NAN, NOT_REPRODUCED},
    {D, 0, 0, -1, 1, 1, NAN, UNDECIDED},
    {E, 3, 1, -0.9, 2.9, 0.04, NAN, REPRODUCED},
    {E, 3, 1, -0.9, 2.9, 0.04, 0.06, UNDECIDED},
    {O, 0, 0.5, 0.1, 0.9, 0.04, NAN, UNDECIDED},
    {O, 0, 0.6, 0.3, 0.9, 0.04, NAN, REPRODUCED},
    {O, 0, -0.6, -0.9, -0.3, 0.04, NAN, OPPOSITE},
    {O, 0, 0.07, 0.01, 0.1, 0.04, NAN, WEAKER}};
  EACH (i, CASES) {
    Judged j = {.tested = true,
                .estimate = CASES[i].d,
                .low = CASES[i].low,
                .p = CASES[i].p,
                .high = CASES[i].high,
                .corrected = CASES[i].corrected};
    claim_decide(&j, &(Claim){.kind = (ClaimKind)CASES[i].kind,
                              .margin = CASES[i].M});
    fact(t,
         j.verdict == CASES[i].is &&
             (CASES[i].corrected > 0.05) == !!strstr(j.why, "corrected"),
         "%d: %s, %s", i, VERDICT_NAMES[j.verdict], j.why);
  }
}

/* Each kind of rule with numbers for which the verdict can be seen by eye. */
static void claim_judge__verdicts(Test *t) {
  int seen[VERDICT_KINDS] = {0};
  EACH (i, VERDICT_CASES) {
    const TestCase *c = &VERDICT_CASES[i];
    Judged j;
    claim_judge(&j, c->rule, c->value, c->seeds);
    seen[j.verdict]++;
    fact(t, j.verdict == c->verdict && strstr(j.why, c->why),
         "%s: %s, expected %s; %g [%g, %g] p %g: %s, expected %s", c->rule,
         VERDICT_NAMES[j.verdict], VERDICT_NAMES[c->verdict], j.estimate, j.low,
         j.high, j.p, j.why, c->why);
    fact(t, j.tested || (j.verdict == UNDECIDED && isnan(j.p)),
         "%s: p of no test", c->rule);
    if (!strcmp(c->why, "1 seed"))
      fact(t, !j.tested && !strstr(j.why, "holds in"), "%s is tested: %s",
           c->rule, j.why);
  }
  for (int v = 0; v < VERDICT_KINDS; v++)
    fact(t, seen[v] > 3, "only %d are %s", seen[v], VERDICT_NAMES[v]);
}

/* Writes a result to where `folder` keeps it, and frees it. */
static void result_leave(Result *r, const char *folder) {
  Bytes text = {0};
  Error e = {0};
  char path[PATH_ROOM];
  result_text(r, &text, &e);
  result_path(path, folder, r->corpus, r->row, r->seed, &e);
  if (e.status || file_write(path, text.at, text.size, &e))
    exit(1);
  bytes_free(&text);
  result_free(r);
}

/* A result of row for seed with m, loss and times_1. */
static void leave_result(const Experiments *x, const char *row, int seed,
                         double m, const char *ended, uint64_t twist,
                         Error *e) {
  Result r = {.seed = seed,
              .corpus = "tale",
              .data = "x 00000000000000ab, tokenizer"};
  snprintf(r.row, sizeof r.row, "%s", row);
  snprintf(r.ended, sizeof r.ended, "%s", ended);
  r.checksum = x->row[experiments_row(x, row)].checksum ^ twist;
  record(&r, e, m, "sink_1");
  record(&r, e, 3 + m, "loss");
  record(&r, e, m / 2, "alpha_1");
  record(&r, e, 4, "times_1");
  result_leave(&r, SCRATCH);
}

/* Rows a (5 seeds), b, c and d with claims on them, in SCRATCH. */
static void results_open(Test *t, Experiments *x, Results *r, Error *e) {
  static const char CLAIMS[] =
      "claim far differs headline T1: It is | far\nrule a.sink_1 < b.sink_1 by "
      "0.1\n"
      "needs a.times_1 > 2\nneeds a.loss = b.loss within 9\n"
      "claim near differs headline T2: It is near\nrule a.sink_1 > 0.118\n"
      "claim gone equal T3: It is gone\nrule a.loss = c.loss within 1\n"
      "claim ends exact T4: It ends\nrule c.diverged = 0\n"
      "claim old differs twice T5: It is old\nrule a.loss < d.loss\n"
      "claim lost differs T6: It is lost\nrule a.nothing < 3\n"
      "item away Figure 9: Published checkpoints\n";
  char text[2000];
  snprintf(text, sizeof text, "%s%s", FOUR_ROWS, CLAIMS);
  scratch_open();
  *r = (Results){0};
  table_open(x, text);
  for (int seed = 1; seed <= 5; seed++) {
    leave_result(x, "a", seed, 0.10 + 0.01 * seed, "", 0, e);
    leave_result(x, "b", seed, 0.80 + 0.02 * seed, "", 0, e);
    if (seed <= 3)
      leave_result(x, "c", seed, 0.1, seed == 2 ? "step 7" : "", 0, e);
    if (seed <= 3)
      leave_result(x, "d", seed, 0.1, "", seed == 3, e);
  }
  if (!e->status)
    file_write(SCRATCH "/tale/d-1.csv", "# sink result 1\nhalf", 20, e);
  if (!e->status)
    results_load(r, x, SCRATCH, "tale", e);
  fact(t, !e->status, "%s", e->text);
}

/* The claims of results_open by its files. Near: a's mean 0.13, error
 * sqrt(0.00025 / 5), t = 0.012 / 0.00707. */
static void claims_of_files(Test *t, const Experiments *x, const Judged *j) {
  static const struct {
    Verdict is;
    const char *why;
  } WANT[] = {
    {REPRODUCED, ""},
    {UNDECIDED, "holds 0"},
    {UNDECIDED, "c diverged (seed 2)"},
    {NOT_REPRODUCED, "c.diverged of seed 2"},
    {UNDECIDED, "6 of 8 runs; 1 void: the row or text changed; 1 damaged"},
    {UNDECIDED, "a.nothing of seed 1 is not there"}};
  EACH (i, WANT)
    fact(t, j[i].verdict == WANT[i].is && strstr(j[i].why, WANT[i].why),
         "%s: %s, %s", x->claim[i].name, VERDICT_NAMES[j[i].verdict], j[i].why);
  within(t, j[0].estimate, 0.73, 1e-12, "b - a");
  fact(t, j[0].n[0] == 5 && j[0].n[1] == 5 && j[1].n[1] == 0 && j[4].n[0] == 1,
       "seeds %d %d %d %d", j[0].n[0], j[0].n[1], j[1].n[1], j[4].n[0]);
  within(t, j[1].p, 2 * student(-0.012 / sqrt(0.00025 / 5), 4), 1e-9,
         "p of near");
  within(t, j[0].corrected, 2 * j[0].p, 1e-18,
         "Holm's p of the smaller of two");
  within(t, j[1].corrected, j[1].p, 1e-12, "Holm's p of the larger");
  fact(t, isnan(j[2].corrected) && isnan(j[5].corrected),
       "Holm's p of no headline");
}

/* Which runs are there, which are to be made again, and of how many seeds. */
static void runs_of_files(Test *t, const Results *r) {
  static const struct {
    const char *row;
    int seed, there;
  } FILES[] = {
    {"a", 1, 1}, {"c", 2, 1}, {"c", 4, 0}, {"d", 1, -1}, {"d", 3, -1}};
  const Experiments *x = r->x;
  const int c = experiments_row(x, "c");
  fact(t,
       results_number(r, c, 2, "diverged") == 1 &&
           results_number(r, c, 1, "diverged") == 0 &&
           isnan(results_number(r, c, 2, "loss")) &&
           isnan(results_number(r, c, 4, "diverged")),
       "what a run that diverged has");
  EACH (i, FILES) {
    const int row = experiments_row(x, FILES[i].row);
    fact(t,
         result_there(x, row, SCRATCH, "tale", FILES[i].seed) ==
             FILES[i].there,
         "%s %d", FILES[i].row, FILES[i].seed);
  }
  fact(t, row_again(x, 0, 1) && !row_again(x, 3, 1) && row_again(x, 3, 2),
       "rows again");
  /* a to d on the first corpus, another, a longer */
  for (int i = 0; i < 12; i++)
    fact(t,
         row_seeds(x, i / 3, i % 3 == 0, 1 + i % 3 / 2) ==
             "535535333335"[i] - '0',
         "%d", i);
}

/* A result is void where the corpus of its name has another hash, or is read
 * another number of times. */
static void texts_of_files(Test *t, Experiments *x) {
  static const struct {
    Corpus is;
    int there;
  } TEXTS[] = {
    {{.name = "tale", .file = "x", .hash = 0xab, .times = 1}, 1},
    {{.name = "tale", .file = "x", .hash = 0xac, .times = 1}, -1},
    {{.name = "tale", .file = "x", .hash = 0xab, .times = 3}, -1},
    {{.name = "tale", .file = "toy", .hash = 0xac, .times = 1}, -1}};
  x->corpora = 1;
  EACH (i, TEXTS) {
    x->corpus[0] = TEXTS[i].is;
    fact(t, result_there(x, 0, SCRATCH, "tale", 1) == TEXTS[i].there, "text %d",
         i);
  }
}

/* Row e of the item has no result, a to d have all but alpha_9. */
static void columns_of_files(Test *t, const Results *r) {
  Item one = r->x->item[0];
  one.column[0] = "alpha_9";
  fact(t, !column_lacks(r, &one), "a column before each row has a result");
  one.count = 4;
  const char *lacks = column_lacks(r, &one);
  fact(t, lacks && is(lacks, "alpha_9"), "a misspelt column");
  one.column[0] = "alpha_9/wiki";
  fact(t, !column_lacks(r, &one), "a domain's column");
  fact(t, !column_lacks(r, &r->x->item[0]), "no misspelt column");
}

/* From files to verdicts. */
static void claims_judge__files(Test *t) {
  Experiments x;
  Results r;
  Error e = {0};
  results_open(t, &x, &r, &e);
  claims_of_files(t, &x, r.judged);
  runs_of_files(t, &r);
  /* of a and d, on the first corpus */
  x.claim[4].more = true;
  fact(t, row_seeds(&x, 3, true, 1) == 5 && row_seeds(&x, 3, false, 1) == 3,
       "more seeds");
  bytes_add(&r.notes, "", 1, &e);
  const char *notes = (const char *)r.notes.at;
  fact(t,
       strstr(notes, "d-3.csv is void") &&
           strstr(notes, "d-1.csv: not a whole res"),
       "notes");
  columns_of_files(t, &r);
  texts_of_files(t, &x);
  /* a corpus that is not the first has three seeds; one read twice has five */
  x.corpus[0] = (Corpus){.name = "other", .file = "x"};
  x.corpus[1] = (Corpus){.name = "tale", .file = "x", .times = 2};
  for (; x.corpora <= 2; x.corpora++) {
    results_free(&r);
    results_load(&r, &x, SCRATCH, "tale", &e);
    const Judged *j = r.judged;
    fact(t,
         !r.first && j[0].n[0] == 1 + 2 * x.corpora &&
             j[0].verdict == REPRODUCED && isnan(j[4].corrected),
         "%d seeds, %s", j[0].n[0], j[0].why);
  }
  /* of c and d the former has diverged; what is a domain is not the first; a
   * result under another's name is none */
  x.corpora = 2;
  x.corpus->domain = true;
  x.claim[2].side[0].row = 3;
  results_free(&r);
  results_load(&r, &x, SCRATCH, "tale", &e);
  fact(t, r.first, "a domain is the first");
  has_part(t, r.judged[2].why, "c diverged (seed 2)");
  file_copy(t, SCRATCH "/tale/a-1.csv", SCRATCH "/tale/a-2.csv");
  file_copy(t, SCRATCH "/tale/a-1.csv", SCRATCH "/tale/b-1.csv");
  file_copy(t, SCRATCH "/tale/a-1.csv", SCRATCH "/told/a-1.csv");
  fact(t,
       result_there(&x, 0, SCRATCH, "tale", 2) == -1 &&
           result_there(&x, 1, SCRATCH, "tale", 1) == -1 &&
           result_there(&x, 0, SCRATCH, "told", 1) == -1,
       "under another's name");
  results_free(&r);
  experiments_free(&x);
}

static const char RUNS_ASKED[] =
    "seeds 3 5\ndomain d d.grammar\ncorpus one one.grammar\ncorpus two "
    "two.grammar\n"
    "item i s: t\nrow a --lr 1\nrow b --lr 2\n"
    "claim c differs headline s: t\nrule a.loss < 1\n"
    "item j s: t\nrow late --lr 3\n";

/* The runs that a command is for, by text, item, row, seed and --seeds. */
static void run_next__by_hand(Test *t) {
  static const struct { int corpus, item, only, seed, seeds, runs;
  } ROWS[] = {{1, -1, -1, -1, 0, 11}, {2, -1, -1, -1, 0, 3},
              {2, 0, -1, -1, 0, 6},   {1, 1, -1, -1, 0, 3},
              {2, -1, 1, -1, 0, 3},   {1, -1, -1, 7, 0, 3},
              {1, 0, -1, -1, 2, 4}};
  Command q = {.item = -1};
  Own own = {.results = SCRATCH "/none"};
  scratch_open();
  table_open(&q.x, RUNS_ASKED);
  q.own = &own;
  EACH (i, ROWS) {
    q.corpus = &q.x.corpus[ROWS[i].corpus];
    q.item = ROWS[i].item;
    q.only = ROWS[i].only;
    own.only_seed = ROWS[i].seed;
    own.seeds = ROWS[i].seeds;
    int n = 0;
    for (int row = 0, seed = -1, there; run_next(&q, &row, &seed, &there);)
      n += there == 0;
    fact(t, n == ROWS[i].runs, "%d: %d runs", i, n);
  }
  fact(t, corpus_asked(&q.x, "", fresh(t)) == &q.x.corpus[1],
       "the first corpus");
  fact(t, !corpus_asked(&q.x, "d", fresh(t)), "a domain is trained on");
  experiments_free(&q.x);
}

/* What is asked together and is not one thing, and what an item has not. */
static void command_words__refuses(Test *t) {
  static const struct {
    const char *words[2];
    int n;
    Own own;
    const char *said;
  } ROWS[] = {
      {{"i"},
       1,
       {.only_seed = -1, .show = 1, .verify = 1},
       "--verify: --show asks"},
      {{"i"}, 1, {.only_seed = 1, .seeds = 2}, "--seeds: --seed names"},
      {{"i"},
       1,
       {.only_seed = -1, .show = 1, .row = "a"},
       "--row: --show covers"},
      {{"i"}, 1, {.only_seed = -1, .row = "late"}, "--row late: i has no"},
      {{"i", "j"}, 2, {.only_seed = -1}, "j: unexpected"},
      {{"i"}, 1, {.only_seed = -1, .predict = 1}, "--predict: works only"}};
  Settings s;
  Command q = {.s = &s};
  settings_default(&s);
  table_open(&q.x, RUNS_ASKED);
  EACH (i, ROWS) {
    const char *words[2] = {ROWS[i].words[0], ROWS[i].words[1]};
    q.own = &ROWS[i].own;
    q.item = q.only = -1;
    fact(t,
         command_words(&q, words, ROWS[i].n, fresh(t)) == 2 &&
             strstr(t->e.text, ROWS[i].said),
         "%d: %s", i, t->e.text);
  }
  experiments_free(&q.x);
}

/* p 0.036 is enough, 0.072 not: Holm's beside b.sink_1 > 0.84 (p 0.23); a
 * second look's. */
static void claims_judge__holm(Test *t) {
  Experiments x;
  Results r;
  Error e = {0};
  results_open(t, &x, &r, &e);
  Claim *far = &x.claim[0], *near = &x.claim[1];
  far->side[0] = far->side[1];
  far->side[1] = (Side){.row = -1, .number = 0.84};
  far->relation = GREATER;
  near->side[1].number = 0.108;
  claims_judge(&r, &e);
  const Judged *j = &r.judged[1];
  within(t, j->corrected, 2 * j->p, 1e-15, "Holm's p");
  fact(t,
       j->p > 0.025 && j->p < 0.05 && j->verdict == UNDECIDED &&
           strstr(j->why, "the corrected p is above 0.05"),
       "%g: %s", j->p, j->why);
  /* b of 3 seeds; a has 5 for near */
  far->headline = false;
  far->side[1] = near->side[0];
  claims_judge(&r, &e);
  fact(t, r.judged->n[0] == 3 && r.judged->n[1] == 5, "seeds %d %d",
       *r.judged->n, r.judged->n[1]);
  fact(t, j->verdict == REPRODUCED && j->corrected == j->p, "%g alone: %s",
       j->p, j->why);
  /* a second look */
  near->twice = true;
  near->headline = false;
  for (; r.times < 3; r.times++) {
    claims_judge(&r, &e);
    if (r.times == 1)
      fact(t, j->n[0] == 3 && isnan(j->corrected), "a first look");
    else
      fact(t,
           j->n[0] == 5 && j->verdict == UNDECIDED && j->corrected == 2 * j->p,
           "again");
  }
  results_free(&r);
  experiments_free(&x);
}

/* Lines of at most so many columns. */
static void is_narrow(Test *t, const Bytes *text, int most) {
  const char *at = (const char *)text->at;
  for (const char *end; at && (end = strchr(at, '\n')); at = end + 1)
    fact(t, end - at <= most, "%d columns: %.*s", (int)(end - at),
         (int)(end - at), at);
}

/* What is shown of results_open's files: a table, the list, the ledger, the
 * pages; sink_ in per cent, a mean 13 %, spread sqrt(2.5). */
static const char *const SHOWN_OF_FILES[5][17] = {
    {"paper         ours", "18.18  13.0 +- 1.6", "86.0 +- 3.2", "~3.70",
     "1 of 3, 1 void, 1 damaged", "\nRows not run yet: 1. ./paper one ",
     "(tale)\na < b\n", "range of 3: c.d", "3, 1 diverged",
     "reproduced           It is | far (T1; headline)",
     "rule far: a.sink_1 < b.sink_1 by 0.1; needs a.times_1 > 2, a.loss",
     " within 9\n", "(corrected < 0.0001), n 5 and 5", "0.73 [0.691, 0.769]",
     "rule gone: a.loss = c.loss within 1", "c diverged (seed 2)"},
    {"one             14/19      3/6    Table 1: Rows",
     "\naway          Figure 9: Published checkpoints\n",
     "d-3.csv is void: the row changed\n"},
    {"On tale 1 of 6 claims reproduced, 1 not reproduced, 3 undecided, "
     "1 not run yet. \nHolm corrects p of 2 he",
     "claims; 2 could be tested.\n", "\nnot reproduced      one    ends "},
    {"# Rows\n\n1 of 6 claims reproduced, 1 not reproduced, 3 undecided, "
     "1 not run",
     "(Table 1). [All",
     "| row | sink_1 %, paper | ours | loss, paper | ours | alpha_1 | x even "
     "| seeds |\n|---|",
     "| a | 18.18 | 13.0 \302\261 1.6 | 3.73 | 3.130 \302\261 0.016 "
     "| 0.065 \302\261 0.008 | ",
     "| **reproduced** | It is \\| far | T1 | 0.730 \302\261 0.039 |\n",
     "| **undecided**: c diverged (seed 2) | It is gone |",
     "- `far`, differs, headline: `a.sink_1 < b.sink_1 by 0.1; "
     "needs a.times_1 > 2, a.loss"},
    {"# On tale: the headline claims\n",
     "On tale 1 of 6 claims reproduced, 1 not",
     "| **reproduced** | It is \\| far | T1 | 0.73 [0.691, 0.769] "
     "| < 0.0001 | < 0.0001 |\n"}};

static void item_text__shows(Test *t) {
  Experiments x;
  Results r;
  Paper p;
  Error e = {0};
  Bytes *out[5];
  for (int i = 0; i < 5; i++)
    out[i] = bytes_of(t);
  results_open(t, &x, &r, &e);
  item_text(out[0], &r, 0, &e);
  items_text(out[1], &r, &e);
  ledger(out[2], &r, &e);
  corpus_markdown(out[4], &r, &e);
  told_open(&p, &x, SCRATCH, &(Corpus){.name = "tale"}, &e);
  item_markdown(out[3], &p, 0, &e);
  told_close(&p);
  for (int i = 0; i < 5; i++) {
    fact(t, !bytes_add(out[i], "", 1, &e), "%s", e.text);
    for (int k = 0; SHOWN_OF_FILES[i][k]; k++)
      has_part(t, (char *)out[i]->at, "%s", SHOWN_OF_FILES[i][k]);
  }
  is_narrow(t, out[0], 100);
  is_narrow(t, out[2], 100);
  /* two headline claims and a long one */
  r.first = false;
  r.times = 2;
  out[2]->size = 0;
  verdicts_count(out[2], &r, &e);
  has_part(t, (char *)out[2]->at, "On tale 1 of 3 claims reproduced");
  item_text(out[2], &r, 0, &e);
  bytes_add(out[2], "", 1, &e);
  has_part(t, (char *)out[2]->at + 200, "(T5; second look)");
  has_part(t, (char *)out[2]->at + 200, "(T3; not in this text's total)");
  results_free(&r);
  experiments_free(&x);
}

/* Every shipped item in narrow lines: columns that do not fit beside each other
 * stand in blocks. */
static void item_text__narrow(Test *t) {
  Experiments x;
  Results r;
  Error e = {0};
  char *text = text_in(t, EXPERIMENTS_FILE);
  table_open(&x, text);
  results_load(&r, &x, RESULTS_FOLDER, x.corpus->name, &e);
  for (int i = 0; i < x.items; i++) {
    Bytes *out = bytes_of(t);
    int blocks = 0;
    item_text(out, &r, i, &e);
    bytes_add(out, "", 1, &e);
    is_narrow(t, out, 100);
    for (const char *at = (char *)out->at;
         (at = strstr(at, "\ntrigger-softmax  ")); at++)
      blocks++;
    fact(t, (blocks > 1) == is(x.item[i].name, "toy-trigger"), "%s: %d",
         x.item[i].name, blocks);
  }
  Bytes *list = bytes_of(t);
  fact(t, !items_text(list, &r, &e) && !bytes_add(list, "", 1, &e), "%s",
       e.text);
  is_narrow(t, list, 80);
  results_free(&r);
  experiments_free(&x);
}

static void readme_with__marks(Test *t) {
  static const char README[] =
      "# x\n<!-- results -->\nold\n<!-- /results -->\nrest\n";
  static const char *const bad[] = {
      "# x\n", "<!-- /results -->\n<!-- results -->\n",
      "<!-- results -->\n<!-- results -->\n<!-- /results -->\n",
      "<!-- results -->\n", "in `<!-- results -->`\n<!-- /results -->\n"};
  Error e = {0};
  Bytes *once = bytes_of(t), *twice = bytes_of(t);
  readme_with(once, "README.md", README, sizeof README - 1, "new\n", 4, &e);
  bytes_add(once, "", 1, &e);
  fact(t,
       !e.status &&
           !strcmp((char *)once->at,
                   "# x\n<!-- results -->\nnew\n<!-- /results -->\nrest\n"),
       "%s", (char *)once->at);
  readme_with(twice, "README.md", (char *)once->at, once->size - 1, "new\n", 4,
              &e);
  fact(t,
       !e.status && twice->size == once->size - 1 &&
           !memcmp(twice->at, once->at, twice->size),
       "a second time it is not the same");
  for (int i = 0; i < 5; i++) {
    e = (Error){0};
    fact(t,
         readme_with(bytes_of(t), "README.md", bad[i], strlen(bad[i]), "new\n",
                     4, &e) &&
             strstr(e.text, "README.md: expected one line"),
         "%s was taken", bad[i]);
  }
  static const char CRLF[] =
      "# x\r\n<!-- results -->\r\nold\r\n<!-- /results -->\r\n";
  fact(t,
       !readme_with(bytes_of(t), "README.md", CRLF, sizeof CRLF - 1, "new\n", 4,
                    fresh(t)),
       "CR LF: %s", t->e.text);
}

/* A finding stands where the verdicts are those that it was written by, on the
 * first text alone. */
static void finding_of__verdicts(Test *t) {
  Experiments x;
  Results r;
  Paper p;
  char says[FINDING];
  results_open(t, &x, &r, fresh(t));
  results_free(&r);
  static const char *const LINES[][2] = {
    {"#\none +++ Stale\n", "Rows"}, {"#\none +?\?-.? New\n", "New"}};
  for (int i = 0; i < 2; i++) {
    file_write(SCRATCH "/findings.txt", LINES[i][0], strlen(LINES[i][0]),
               fresh(t));
    told_open(&p, &x, SCRATCH, &(Corpus){.name = "tale"}, &t->e);
    finding_of(says, &p, 0);
    fact(t, is(says, LINES[i][1]), "%s", says);
    p.runs.first = false;
    finding_of(says, &p, 0);
    fact(t, is(says, "Rows"), "on another text: %s", says);
    told_close(&p);
  }
  experiments_free(&x);
}

/* Where a mark lies on the strip, in per cent of it. */
static void strip_place__by_hand(Test *t) {
  static const struct {
    const char *measure;
    double x, at;
  } ROWS[] = {
    {"loss", 5, 50}, {"alpha_1", 0.3, 30}, {"sink_1", 40, 40},
    {"times_1", 1, 50}, {"least_sink", 10, 75}, {"tokens", 1e7, 75},
    {"norm_ratio", 1e4, 100}, {"loss", 1, 0}, {"loss", NAN, NAN}};
  EACH (i, ROWS) {
    const double at = strip_place(ROWS[i].measure, ROWS[i].x);
    fact(t, isnan(ROWS[i].at) ? isnan(at) : fabs(at - ROWS[i].at) < 1e-6,
         "%s %g: %g", ROWS[i].measure, ROWS[i].x, at);
  }
}

/* Another text's ledger, flag, and a number beyond all measure. */
static void ledger__other_text(Test *t) {
  Experiments x;
  Results r;
  Bytes *out = bytes_of(t);
  char flag[64];
  results_open(t, &x, &r, fresh(t));
  r.first = false;
  ledger(out, &r, &t->e);
  bytes_add(out, "", 1, &t->e);
  fact(t, !strstr((char *)out->at, " gone "),
       "a claim of the first text alone");
  fact(t, is(corpus_flag(flag, &r), " --corpus tale"), "%s", flag);
  leave_result(&x, "a", 1, 1e31, "", 0, &t->e);
  results_free(&r);
  results_load(&r, &x, SCRATCH, "tale", &t->e);
  fact(t, isnan(results_number(&r, 0, 1, "sink_1")), "beyond all measure");
  results_free(&r);
  experiments_free(&x);
}

/* The page says what the results say: another verdict is another word there,
 * and another count. */
static void summary_text__verdicts(Test *t) {
  Experiments x;
  Results r;
  Error e = {0};
  results_open(t, &x, &r, &e);
  Corpora on = {[BOOKS] = &r};
  Bytes *was = bytes_of(t), *now = bytes_of(t), *pictures = bytes_of(t);
  summary_text(was, on, &e);
  bytes_add(was, "", 1, &e);
  has_part(t, (char *)was->at,
           "| 1 | It is \\| far | yes | not run | not run | not asked "
           "| loss |\n");
  has_part(t, (char *)was->at,
           "5 seeds reproduce 1 of 2 headline claims, 0 in fair tests; 1 undecided.\n");
  has_part(t, (char *)was->at,
           "| 1 | a, b | 18.18, - | 13.0, 86.0 | 0.065 \302\261 0.008, 0.430 ");
  r.judged[0].verdict = OPPOSITE;
  on[STORY] = &r;
  summary_text(now, on, &e);
  bytes_add(now, "", 1, &e);
  has_part(t, (char *)now->at,
           "| 1 | It is \\| far | opposite | not run | opposite |");
  has_part(t, (char *)now->at,
           "reproduce 0 of 2 headline claims; 1 opposite, 1 undecided.\n");
  fact(t, !effects_draw(pictures, on, &e) && !onset_q_draw(pictures, &r, &e),
       "%s", e.text);
  bytes_add(pictures, "", 1, &e);
  has_part(t, (char *)pictures->at, ">1  It is | far</text>");
  fact(t, !strstr((char *)pictures->at, "nan"), "a place that is no number");
  results_free(&r);
  experiments_free(&x);
}

/* Lines of the shipped pages are of at most 110 columns, a character of UTF-8
 * being one. */
static int page_lines(Test *t, const char *at) {
  int lines = 0;
  for (const char *end; (end = strchr(at, '\n')); at = end + 1, lines++) {
    int columns = 0;
    for (const char *c = at; c < end; c++)
      columns += (*c & 0xC0) != 0x80;
    fact(t, columns <= 110, "%d columns: %.*s", columns, (int)(end - at), at);
  }
  return lines;
}

/* The same text, but for the last digits of its numbers: other compilers
 * round otherwise. */
static bool same_page(const char *a, const char *b) {
  while (*a && *b) {
    if (isdigit((unsigned char)*a) && isdigit((unsigned char)*b)) {
      char *a_ends, *b_ends;
      const double x = strtod(a, &a_ends), y = strtod(b, &b_ends);
      if (fabs(x - y) > 0.001 + 0.002 * fabs(y))
        return false;
      a = a_ends;
      b = b_ends;
      continue;
    }
    if (*a != *b)
      return false;
    a++;
    b++;
  }
  return !*a && !*b;
}

/* A page of the shipped results is what is made of them again. */
static void page_shipped(Test *t, const char *name, Bytes *section) {
  Bytes *page = bytes_of(t);
  char path[200];
  Error e = {0};
  snprintf(path, sizeof path, RESULTS_FOLDER "/%s", name);
  fact(t,
       !page_with(page, RESULTS_FOLDER, name, section, &e) &&
           !bytes_add(page, "", 1, &e),
       "%s", e.text);
  bytes_add(section, "", 1, &e);
  fact(t,
       !strstr((char *)section->at, "nan") &&
           same_page((char *)page->at, text_in(t, path)),
       "%s is of other results. Try: make readme", path);
  section->size = 0;
}

/* Every page that is shipped; the summary in 120 lines, which README.md quotes;
 * a finding's verdicts are those of today. */
static void pages__shipped(Test *t) {
  Experiments x;
  Paper p;
  Error e = {0};
  Bytes svg[SUMMARY_PICTURES] = {{0}}, *section = bytes_of(t);
  const char *kept = text_in(t, RESULTS_FOLDER "/SUMMARY.md");
  const char *readme = text_in(t, "README.md");
  const char *findings = text_in(t, RESULTS_FOLDER "/" FINDINGS_FILE);
  const char *at = findings;
  char name[200], letters[VERDICTS_SAID];
  int quoted = 0, told = 0;
  table_open(&x, text_in(t, EXPERIMENTS_FILE));
  fact(t, !told_open(&p, &x, RESULTS_FOLDER, x.corpus, &e), "%s", e.text);
  for (int i = 0; i < x.items; i++) {
    if (is_elsewhere(&x, i))
      continue;
    snprintf(name, sizeof name, "pages/%.90s.md", x.item[i].name);
    item_markdown(section, &p, i, &e);
    page_shipped(t, name, section);
    verdict_letters(letters, &p.runs, i);
    snprintf(name, sizeof name, "\n%.90s ", x.item[i].name);
    const char *line = strstr(findings, name);
    told += line != NULL;
    snprintf(name, sizeof name, "\n%.90s %s ", x.item[i].name, letters);
    fact(t, line == strstr(findings, name),
         FINDINGS_FILE ": the verdicts of %s are %s", x.item[i].name, letters);
  }
  for (; (at = strchr(at, '\n')) != NULL; at++)
    told -= at[1] && at[1] != '#' && at[1] != '\n';
  fact(t, told == 0, FINDINGS_FILE " has lines of no item");
  for (int k = 0; k < x.corpora; k++) {
    const Results *r = k ? &p.others[k] : &p.runs;
    if (!r->judged)
      continue;
    snprintf(name, sizeof name, "pages/on-%.90s.md", r->corpus);
    corpus_markdown(section, r, &e);
    page_shipped(t, name, section);
  }
  index_markdown(section, &p, &e);
  page_shipped(t, "README.md", section);
  told_summary(section, svg, &p, &e);
  page_shipped(t, "SUMMARY.md", section);
  fact(t, page_lines(t, kept) <= 120, "SUMMARY.md has %d lines",
       page_lines(t, kept));
  at = strstr(readme, "In its words:\n\n-");
  for (at = at ? strchr(at, '-') : at; at && *at == '-'; quoted++) {
    char line[200];
    const int n = (int)strcspn(at, "\n");
    snprintf(line, sizeof line, "\n%.*s\n", n, at);
    has_part(t, kept, "%s", line);
    at += n + 1;
  }
  fact(t, quoted == 3, "README.md quotes %d lines of SUMMARY.md", quoted);
  for (int k = 0; k < SUMMARY_PICTURES; k++)
    bytes_free(&svg[k]);
  told_close(&p);
  experiments_free(&x);
}

/* What is written by hand stays, and new pages begin; so a second time, too. */
static void pages_renew__twice(Test *t) {
  Experiments x;
  Results r;
  Paper p;
  Error e = {0};
  results_open(t, &x, &r, &e);
  results_free(&r);
  const char *const hand[] = {"README.md", "SUMMARY.md", "pages/one.md"};
  for (int i = 0; i < 3; i++) {
    char path[200], text[200];
    snprintf(path, sizeof path, SCRATCH "/%s", hand[i]);
    snprintf(text, sizeof text,
             "by hand\n<!-- results -->\nold\n<!-- /results -->\nbelow\n");
    file_write(path, text, strlen(text), &e);
  }
  fact(t, !told_open(&p, &x, SCRATCH, &(Corpus){.name = "tale"}, &e), "%s",
       e.text);
  for (int turn = 0; turn < 2; turn++) {
    fact(t, !pages_renew(&p, SCRATCH, &e), "%s", e.text);
    char *one = text_in(t, SCRATCH "/pages/one.md");
    fact(t,
         !strncmp(one, "by hand\n<!--", 12) && strstr(one, "-->\nbelow\n") &&
             !strstr(one, "\nold\n"),
         "%.99s", one);
    has_part(t, text_in(t, SCRATCH "/README.md"),
             "- [one, Table 1](pages/one.md): Rows. 1 of 6 ");
    has_part(t, text_in(t, SCRATCH "/README.md"),
             "- `away`, Figure 9: Published checkpoints\n");
    has_part(t, text_in(t, SCRATCH "/pages/on-tale.md"),
             "<!-- results -->\n# On tale: ");
  }
  told_close(&p);
  experiments_free(&x);
}

/* What the pages are made of, by hand; all else stays as it is, escaped. */
static void html_markdown__by_hand(Test *t) {
  static const char *const CASES[][2] = {
    {"# A `b` *c* d*\n",
     "<h1 id=\"a-b-c-d\">A <code>b</code> <em>c</em> d*</h1>\n"},
    {"a < b,\nk* and alpha_* & x* **c**: \\| \\<i> [1, 2]\n\n",
     "<p>a &lt; b, k* and alpha_* &amp; x* <b>c</b>: | &lt;i&gt; [1, 2]</p>\n"},
    {"- a [p](../i.html#q);\n  b [r](s.md)\n- c\nd\n\n- e\n",
     "<ul>\n<li>a <a href=\"../i.html#q\">p</a>; b r</li>\n<li>c d</li>\n"
     "</ul>\n<ul>\n<li>e</li>\n</ul>\n"},
    {"| a | b, paper | c |\n|---|--:|---|\n| x \\| y |  | `z` |\n"
     "| **opposite**: w | 1 | 2 |\n",
     "<div class=\"wide\" role=\"region\" tabindex=\"0\" "
     "aria-label=\"table\"><table>\n"
     "<tr><th scope=\"col\">a</th>"
     "<th scope=\"col\" class=\"paper\">b, paper</th>"
     "<th scope=\"col\" class=\"l\">c</th></tr>\n"
     "<tr><th scope=\"row\">x | y</th><td class=\"paper\"></td>"
     "<td class=\"l\"><code>z</code></td></tr>\n"
     "<tr class=\"no\"><td>\342\207\204 <b>opposite</b>: w</td>"
     "<td class=\"paper\">1</td><td class=\"l\">2</td></tr>\n"
     "</table></div>\n"},
    {"<details><summary>s</summary>\n\np\n\n</details>\n",
     "<details><summary>s</summary>\n<p>p</p>\n</details>\n"}};
  EACH (i, CASES) {
    Error e = {0};
    Html h = {.e = &e};
    Bytes text = {0};
    bytes_add(&text, CASES[i][0], strlen(CASES[i][0]), &e);
    html_markdown(&h, &text, NULL);
    bytes_add(&h.text, "", 1, &e);
    fact(t, is((char *)h.text.at, CASES[i][1]), "%s", (char *)h.text.at);
    bytes_free(&h.text);
  }
}

static int count_of(const char *text, const char *what) {
  int n = 0;
  for (const char *at = strstr(text, what); at; at = strstr(at + 1, what))
    n++;
  return n;
}

/* Commands on published models, their status, and what they say. */
static const struct {
  const char *words;
  int status;
  const char *said[3];
} PUBLISHED[] = {
  {"fig10 --models none", 0,
   {"\npythia-12b        EleutherAI/pythia-12b\n",
    "  ./hf choices hellaswag_val.jsonl --out TEXTS/hellaswag.txt\n",
    "none/llama3-8b.model --text TEXTS/books.txt "
    "--choices TEXTS/hellaswag.txt --csv "}},
  {"table7-gpt2 --models no[ne", 0,
   {"1 not in the folder no[ne",
    "./hf " QUOTE "no[ne/gpt2-xl" QUOTE " --link --out "
    QUOTE "no[ne/gpt2-xl.model" QUOTE "\n",
    "no[ne/gpt2-xl.model" QUOTE " --input repeat --swap-position 30 "
    "--csv out/table7-"}},
  {"table1-left --texts .", 0,
   {"3 not in the folder models", "\n1 at hand:\n",
    "             repeat     64 "}},
  {"table1-left", 2, {"3 not in", "1 at hand", "expected --texts FOLDER"}},
  {"table1-left --commands", 0,
   {"./hf eval models/gpt2-xl.model models/mistral-7b.model models/llama"}},
  {"table7-gpt2", 0, {"62.28           0.20", "1 at hand", "repeat"}},
  {"eval models/gpt2-xl.model --input repeat --replace-position 15 "
   "--csv out/replace", 0, {"repeat"}},
  {"eval models/gpt2-xl.model --input repeat --swap-position 30 "
   "--csv out/swap", 0, {"repeat"}},
  {"fig8-right", 0, {"No weights of it were published."}}};

/* A model that cannot be read is said once: `said` is why. */
static void published_fails(Test *t, const char *said) {
  Ran r = ran("." FROM_HERE "." FROM_HERE "." PROGRAM, "table7-gpt2");
  const char *err = (const char *)r.err.at;
  fact(t,
       r.status == 1 && count_of(err, "\n") == 1 &&
           count_of(err, ". Try: ") == 1 && strstr(err, said),
       "%s", err);
  ran_free(&r);
}

/* An item of published models where one of them is at hand: the paper's
 * numbers, the commands for the others, and what is measured, in SCRATCH, as
 * the commands themselves measure it. */
static void sink__published(Test *t) {
#define HOME SCRATCH "/at"
  Settings s;
  if (no_binary(t) || !tale_open(t, &s, ""))
    return;
  /* where programs write there */
  file_write(HOME "/" SCRATCH "/out", "", 0, &t->e);
  file_copy(t, SCRATCH "/tale.tok", HOME "/tokenizer.bin");
  file_copy(t, "data/text/letter.txt", HOME "/books.txt");
  file_copy(t, SHIPPED_TEXT, HOME "/" SHIPPED_TEXT);
  /* hf: checkpoints do */
  file_copy(t, PROGRAM, HOME "/hf");
  file_copy(t, PROGRAM ".exe", HOME "/hf.exe");
  said(t, "train --quiet --steps 2 --pos learned --text " HOME "/books.txt "
          "--out " HOME "/models/gpt2-xl.model" SMALL_SIZE
          "--context 72 --valid 0.5");
  if (chdir(HOME))
    exit(1);
  EACH (i, PUBLISHED) {
    const char *words = PUBLISHED[i].words, *const *said = PUBLISHED[i].said;
    Ran r = ran("." FROM_HERE "." FROM_HERE "." PROGRAM, words);
    const char *out = (const char *)r.out.at, *err = (const char *)r.err.at;
    fact(t, r.status == PUBLISHED[i].status, "%s: %d, %s", words, r.status,
         err);
    for (int k = 0; k < 3 && said[k]; k++)
      fact(t, strstr(out, said[k]) || strstr(err, said[k]),
           "%s: no \"%s\" in\n%s%s", words, said[k], out, err);
    ran_free(&r);
  }
  /* a broken file is named by ./hf; where that is missing, advice says so */
  file_write("models/gpt2-xl.model", "", 1, fresh(t));
  published_fails(t, "paper: models/gpt2-xl.model: expected a ");
  remove("hf");
  remove("hf.exe");
  published_fails(t, "make hf");
  if (chdir("../../.."))
    exit(1);
  fact(t,
       files_same(HOME "/out/table7-gpt2-gpt2-xl-3.csv", HOME "/out/replace") &&
           files_same(HOME "/out/table7-gpt2-gpt2-xl-6.csv", HOME "/out/swap"),
       "what commands do not");
}

/* Number k, from 0, of the cells of the table row `name`; NaN for a cell of "-"
 * or none. */
static double page_cell(const char *page, const char *name, int k) {
  char begins[64];
  snprintf(begins, sizeof begins, "<tr><th scope=\"row\">%s</th>", name);
  const char *at = strstr(page, begins), *end = at ? strstr(at, "</tr>") : NULL;
  for (at = at ? strstr(at, "<td>") : NULL; at && at < end;
       at = strstr(at + 4, "<td>"))
    if (k-- == 0)
      return !strncmp(at + 4, "-<", 2) ? NAN : atof(at + 4);
  return NAN;
}

/* Every element of a page is closed, in order. */
static void page_closes(Test *t, const char *page) {
  char open[40][16];
  int depth = 0;
  for (const char *at = page + 15; (at = strchr(at, '<')) != NULL; at++) {
    const char *end = strchr(at, '>');
    bool closes = at[1] == '/';
    char name[16];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(at + 1 + closes, " />"),
             at + 1 + closes);
    bool bad = !end || (closes && (!depth || strcmp(open[depth - 1], name))) ||
               depth > 38;
    fact(t, !bad, "%.60s does not match", at);
    if (bad)
      break;
    if (closes)
      depth--;
    else if (end[-1] != '/')
      strcpy(open[depth++], name);
  }
  fact(t, depth == 0, "%d elements are not closed", depth);
}

/* A page has these figures, each explained by a caption or a legend, and texts
 * beside its pictures. */
static void page_explains(Test *t, const char *page, int figures) {
  int explained = 0;
  for (const char *at = page; (at = strstr(at, "<figure")) != NULL; at++) {
    const char *end = strstr(at, "</figure>");
    const char *caption = strstr(at, "<figcaption>");
    const char *legend = strstr(at, "<p class=\"key\">");
    const char *table = strstr(at, "<caption>");
    explained += end && ((caption && caption < end) ||
                         (legend && legend < end) || (table && table < end));
  }
  fact(t, count_of(page, "<figure") == figures && explained == figures,
       "%d figures, %d explained, expected %d", count_of(page, "<figure"),
       explained, figures);
  fact(t,
       count_of(page, "role=\"img\" aria-label=\"") +
               count_of(page, "aria-hidden") ==
           count_of(page, "<svg"),
       "%d texts beside %d pictures", count_of(page, "aria-label"),
       count_of(page, "<svg"));
}

/* No text of a picture reaches over its edge: a letter of 11 px is some 6 px
 * wide; those of .fine have 7 px. */
static void page_cuts_none(Test *t, const char *page) {
  int wide = 0, left = 0;
  double x, size = 1;
  const char *cut = NULL;
  for (const char *at = page; (at = strchr(at, '<')) != NULL; at++) {
    if (!strncmp(at, "<svg ", 5)) {
      sscanf(strstr(at, "viewBox"), "viewBox=\"%d %*d %d", &left, &wide);
      size = strncmp(at, "<svg class=\"fine\"", 17) ? 1 : 7 / 11.;
    }
    const bool middle = sscanf(at, "<text class=\"middle\" x=\"%lf", &x) == 1;
    const bool ends = sscanf(at, "<text class=\"end\" x=\"%lf", &x) == 1;
    if (!middle && !ends && sscanf(at, "<text class=\"\" x=\"%lf", &x) != 1)
      continue;
    const char *text = strchr(at, '>') + 1;
    double letters = size * (double)strcspn(text, "<");
    for (const char *name = text;
         (name = strchr(name, '&')) && name < strchr(text, '<'); name++)
      letters -= size * (double)strcspn(name, ";"); /* &lt; is one */
    double before = 0, behind = 5.6 * letters;
    if (middle)
      before = behind = 3.05 * letters;
    if (ends) {
      before = 6.6 * letters;
      behind = 0;
    }
    x -= left;
    if (before > x || x + behind > wide)
      cut = at;
  }
  fact(t, !cut, "%.90s is cut", cut);
}

/* Every element is closed in order, nothing is fetched or run, every figure has
 * a caption and its pictures texts, no number is nan or inf, and it is small
 * (of any number of figures, -1: 3 MB). */
static char *page_sound(Test *t, const char *path, int figures) {
  static const char *const NEVER[] = {"nan",     "NaN",  "-inf", ">inf", " inf",
                                      "<script", "http", "src=", "url("};
  /* in words, why a training ended */
  static const char WHY[] = "NaN or infinity:";
  size_t most = figures < 0 ? 3000000 : 300000;
  char *page = text_in(t, path);
  fact(t, !strncmp(page, "<!DOCTYPE html>", 15), "%.60s", page);
  page_closes(t, page);
  page_explains(t, page, figures < 0 ? count_of(page, "<figure") : figures);
  page_cuts_none(t, page);
  EACH (i, NEVER) {
    const int may = strstr(WHY, NEVER[i]) ? count_of(page, WHY) : 0;
    fact(t, count_of(page, NEVER[i]) == may, "%s: %s", path, NEVER[i]);
  }
  fact(t, strlen(page) < most, "%zu bytes", strlen(page));
  return page;
}

/* The levels of the cells of the picture behind `label`, as its paths draw
 * them: up to 64 rows of 66, each 11 x 11 from where its frame begins. Returns
 * how many are drawn twice or outside. */
static int page_levels(const char *page, const char *label, int *levels) {
  const char *at = strstr(page, label), *end = at ? strstr(at, "</svg>") : NULL;
  const char *frame = "<rect class=\"axis\" x=\"";
  const int left = (int)number_after(at ? at : "", frame, 0);
  int wrong = 0;
  for (int level = 1; level < 7; level++) {
    at = at ? strstr(at, "<path fill") : NULL;
    if (!at || at > end)
      return -1;
    const char *close = strstr(at, "/>");
    for (at = strstr(at, " d=\"") + 4; at < close && *at == 'M';
         at = strchr(at, 'z') + 1) {
      int x, y, wide, high;
      if (sscanf(at, "M%d %dh%dv%d", &x, &y, &wide, &high) != 4)
        return -1;
      for (int j = 0; j < wide / 11; j++) {
        int i = (y - 16) / 11 * 66 + (x - left) / 11 + j;
        if (i < 0 || i >= 64 * 66 || levels[i])
          wrong++;
        else
          levels[i] = level;
      }
    }
  }
  return wrong;
}

enum { REPORT_T = 12, REPORT_B = 16 };

/* Measures a model on 20 sequences and writes the page of it; false and a
 * failed statement where that fails. */
static bool report_made(Test *t, Trainer *r, Outcome *o) {
  Error *e = fresh(t);
  o->name = "a<b";
  bool fails = outcome_measure(o, r, &r->s, e) || outcome_heads(o, r, &r->s, e);
  r->s.eval_n = 99;   /* 20 are read */
  fails = fails || report_write(SCRATCH "/p.html", "train", &r->s, o, NULL,
                                "x < y & z\xe9\1", e);
  if (fails)
    fact(t, false, "%s", e->text);
  return !fails;
}

/* A head's map is the mean of those of the sequences, m [B], `apart` numbers
 * from each other; and the page's cells are drawn of the first one's
 * weights, `raw`. */
static void report_cells(Test *t, const char *page, const HeadMap *map,
                         const real *m, idx apart, const real *raw) {
  static const double FROM[] = {0.01, 0.02, 0.05, 0.1, 0.2, 0.5};
  enum { B = REPORT_B };
  char label[160];
  int levels[64 * 66] = {0}, drawn = 0;
  snprintf(label, sizeof label, "Attention map of block %d, head %d,",
           map->layer + 1, map->head + 1);
  int wrong = page_levels(page, label, levels);
  for (int at = 0; at < map->T * map->S; at++) {
    const int drawn_as = levels[at / map->S * 66 + at % map->S];
    double mean = 0;
    int level = 0;
    for (int b = 0; b < B; b++)
      mean += (double)m[b * apart + at] / B;
    within(t, map->m[at], mean, 1e-12, "map at %d", at);
    within(t, map->one[at], (double)raw[at], 0, "the first sequence at %d", at);
    while (level < 6 && (double)raw[at] >= FROM[level])
      level++;
    wrong += drawn_as != level;
    drawn += drawn_as > 0;
  }
  fact(t, wrong == 0 && drawn > 20, "%d cells of %d are wrong", wrong, drawn);
}

/* What the page says of a head whose alpha is this, and the tokens ids [T]
 * beside the rows of its map, below the columns and in the table. */
static void report_words(Test *t, const char *page, const Trainer *r,
                         const HeadMap *map, const char *which, bool star,
                         double alpha, const int *ids) {
  const int column = star ? 0 : config_column_first(&r->m.c);
  char label[160], token[TOKEN_ROOM];
  has_part(t, page, "<p>Block %d, head %d, %s on %s: alpha %.2f, %s</p>",
           map->layer + 1, map->head + 1, which,
           star ? "the key bias *" : "token 1", alpha,
           alpha > r->s.eps ? "a sink" : "no sink");
  for (int i = 0; i < map->T; i++) {
    token_text(token, &r->data, ids[i]);
    snprintf(label, sizeof label, "%s</text>", token);
    fact(t, is(token, map->token[i]) && count_of(page, label) >= 4, "few %s",
         label);
    has_part(t, page, "<th scope=\"row\">%d %s</th><td>%.2f</td>", i + 1, token,
             map->one[i * map->S + column]);
  }
}

/* The heads with the most and the least alpha are those of the evaluation, and
 * their maps those of a probe of the same sequences. */
static void report_maps(Test *t, const char *page, Trainer *r, Outcome *o) {
  enum { T = REPORT_T, B = REPORT_B };
  const bool starred = config_column_first(&r->m.c) > 0;
  const int column = SINK_COLUMN;
  const int L = o->s.L, H = 2, S = o->s.S, N = o->s.N, whole = B * H * N * S;
  int ids[B * T], targets[B * T], starts;
  double best[2] = {-1, 2};
  Acts a;
  Probe probe[4] = {{0}};
  if (acts_create(&a, &r->m, B, T, ACTS_ALL, fresh(t))) {
    fact(t, false, "%s", t->e.text);
    return;
  }
  for (int i = 0; i < L * H; i++) {
    best[0] = larger(best[0], o->s.alpha[i * S + column]);
    best[1] = smaller(best[1], o->s.alpha[i * S + column]);
  }
  data_probe(&r->data, &r->s.data, INPUT_NATURAL, B, T, ids, targets, &starts);
  real *maps = reals(2 * L * whole);
  for (int l = 0; l < L; l++) {
    probe[l].metric = maps + 2 * l * whole;
    probe[l].weight = probe[l].metric + whole;
  }
  a.probe = probe;
  model_forward(&r->m, &a, ids, B, T);
  for (int k = 0; k < 2; k++) {
    const HeadMap *map = &o->map[k];
    const real *m = probe[map->layer].metric + (map->head * N + N - T) * S;
    within(t, o->s.alpha[(map->layer * H + map->head) * S + column], best[k], 0,
           "head %d", k);
    fact(t, map->T == T && map->S == S, "%d x %d", map->T, map->S);
    report_cells(t, page, map, m, H * N * S, m + whole);
    report_words(t, page, r, map, k ? "least" : "most", starred, best[k], ids);
  }
  acts_free(&a);
  free(maps);
}

/* head_map() against a probe of the same sequences, and the page's cells
 * against the first of them, whose tokens stand beside them; the numbers of the
 * tables against those of evaluate(). */
static void report_write__maps(Test *t) {
  static const char *const FLAGS[] = {
      "--layers 2", "--layers 2 --extra k --sink-token --T 12",
      "--sim elu --normalizer one --layers 3 --T 12"};
  Settings s;
  if (!tale_open(t, &s, ""))
    return;
  EACH (f, FLAGS) {
    Trainer r;
    Outcome *o = zeroed(1, sizeof *o);
    if (!trainer_made(t, &r, FLAGS[f]))
      return;
    steps_of(t, &r, 30);
    r.s.eval_T = REPORT_T;
    r.s.eval_n = 20;
    /* all heads are sinks, or few */
    r.s.eps = f == 1 ? 1e-3 : 0.3;
    r.s.train.steps = f;
    if (!report_made(t, &r, o))
      return;
    char *page = page_sound(t, SCRATCH "/p.html", 6);
    fact(t,
         strstr(page, "x &lt; y &amp; z? ") &&
             !strstr(page, " at rate ") == !f && strstr(page, "a&lt;b") &&
             strstr(page, "over 20 sequences of 12 tokens"),
         "not as read, or as known");
    within(t, page_cell(page, "a&lt;b", 2),
           sinks_alpha(&o->s, config_column_first(&r.m.c)), 5.1e-4, "alpha_1");
    fact(t, !config_column_first(&r.m.c) == (f != 1), "row %d: a column *", f);
    report_maps(t, page, &r, o);
    /* of 4 tokens: room for the label */
    for (int k = 0; k < 2; k++) {
      o->map[k].T -= 8;
      o->map[k].S -= 8;
    }
    report_write(SCRATCH "/p.html", "train", &r.s, o, NULL, "", fresh(t));
    page_sound(t, SCRATCH "/p.html", 6);
    sinks_free(&o->s);
    free(o->map);
    free(o);
    trainer_free(&r);
  }
}

/* Whatever the values, an axis has three ticks or more, by logarithms one or
 * more, each with a name of its own and in it. */
static void axis_end__ranges(Test *t) {
  static const double ROWS[][2] = {{0, 1},           {-3, 7},
                                   {0x1p53, 0x1p53}, {-0x1p60, -0x1p60},
                                   {5, 5},           {1e9, 1e9 + 1e-3},
                                   {1, 1 + 1e-12},   {0, 0},
                                   {1e-9, 2e-9},     {1e15, 1e15 + 8},
                                   {0.3, 7e12}};
  for (int i = 0; i < 4 * (int)(sizeof ROWS / sizeof *ROWS); i++) {
    Axis a = {.tight = i % 2, .log = i / 2 % 2};
    if (a.log && ROWS[i / 4][0] <= 0)
      continue;
    axis_see(&a, ROWS[i / 4][0]);
    axis_see(&a, ROWS[i / 4][1]);
    axis_end(&a, 30, 330);
    /* the one value that a tight axis has is its one tick */
    bool one = a.tight && ROWS[i / 4][0] == ROWS[i / 4][1];
    one = one && fabs(ROWS[i / 4][0]) < 0x1p50;   /* else 1 is no step of it */
    const int least = one || a.log ? 1 : 3, most = one ? 1 : 9;
    fact(t, a.to > a.from && a.n >= least && (a.log || a.n <= most),
         "%g: %d ticks", a.from, a.n);
    for (int k = 0; k < a.n; k++) {
      const double place = axis_place(&a, a.at[k]);
      const double said = strtod(a.text[k], NULL);
      fact(t,
           place > 29.9 && place < 330.1 &&
               (!k || strcmp(a.text[k], a.text[k - 1])) &&
               fabs(said - a.at[k]) <= 1e-6 * (a.to - a.from),
           "%g: %s", a.from, a.text[k]);
    }
  }
  static Series line;
  Axis x = {.log = true}, y = {.log = true};
  line_add(&line, 0, 1);
  line_add(&line, 1, 0);
  fact(t, !lines_seen(&x, &y, &line, 1) && !x.seen && !y.seen,
       "0 is seen by a logarithm");
  fact(t, cut_at("ab\303\251", 3) == 2 && cut_at("ab\303\251", 4) == 4,
       "cut in a character");
}

/* ---- The page of the whole paper ---- */

/* The results that come with sink, of seeds 1 .. `seeds` and rows for which row
 * % every is 0, into SCRATCH; with `holes` every third number is NAN, with
 * `wild` any may be anything. */
static void results_copy(const Experiments *x, int seeds, int every, bool holes,
                         bool wild) {
  static const double ODD[] = {INFINITY, -INFINITY, NAN, 1e300, -1e300,
                               1e-300,   -1,        0,   2.5};
  Rng g = {7};
  for (int row = 0; row < x->rows; row += every)
    for (int seed = 1; seed <= seeds; seed++) {
      Result r;
      Bytes text = {0};
      Error e = {0};
      char path[PATH_ROOM];
      result_path(path, RESULTS_FOLDER, x->corpus->name, x->row[row].name, seed,
                  &e);
      /* a row that is not run yet */
      if (file_missing(path))
        continue;
      if (file_read(path, &text, &e) ||
          result_read(&r, text.at, text.size, path, &e))
        exit(1);
      for (int i = 0; i < r.values; i++) {
        if (holes && i % 3 == 0)
          r.value[i] = NAN;
        if (wild && rng_below(&g, 4) == 0)
          r.value[i] = ODD[rng_below(&g, 9)];
      }
      bytes_free(&text);
      result_leave(&r, SCRATCH "/results");
    }
}

/* Has no run of the item's rows been made yet? */
static bool item_waits(const Experiments *x, const Item *item) {
  for (int i = 0; i < 3 * item->count; i++) {
    char path[PATH_ROOM];
    const Row *row = &x->row[x->shown[item->from + i / 3].row];
    result_path(path, RESULTS_FOLDER, x->corpus->name, row->name, i % 3 + 1,
                &(Error){0});
    if (!file_missing(path))
      return false;
  }
  return true;
}

/* The page of item k is sound and linked to, unless it is elsewhere; how many
 * figures it has. `all` results are there, or `nothing`. *most becomes the size
 * of the largest page. */
static int item_page_sound(Test *t, const Experiments *x, int k, bool all,
                           bool nothing, const char *page, size_t *most) {
  const char *item = x->item[k].name;
  char name[120];
  snprintf(name, sizeof name, "<a href=\"p/%.80s.html\">", item);
  fact(t, (strstr(page, name) == NULL) == is_elsewhere(x, k), "%s in the index",
       name);
  if (is_elsewhere(x, k))
    return 0;
  snprintf(name, sizeof name, SCRATCH "/p/%.80s.html", item);
  char *own = page_sound(t, name, -1);
  bool waits = nothing || item_waits(x, &x->item[k]);
  const int has = count_of(own, "<figure>"), folds = count_of(own, "<details");
  *most = (size_t)larger((double)*most, (double)strlen(own));
  fact(t, has > 0 || !all || waits, "%s has no picture", name);
  fact(t, !all || !strstr(own, "Nothing was measured"), "%s: not all is drawn",
       name);
  snprintf(name, sizeof name, "<a href=\"../p.html#item-%.80s\">All items</a>",
           item);
  has_part(t, own, "%s", name);
  const char *fold = strstr(own, "<details"), *one = strstr(own, "</figure>");
  one = one && all && folds ? strstr(one + 1, "</figure>") : NULL;
  fact(t, !one || one > fold, "%s: two charts before the folds", name);
  return has;
}

/* Every kind of picture of the shipped table, with hostile words in its titles:
 * without results, with one seed, with rows missing and holes, with any
 * numbers, and with all there is. */
static void paper_write__sound(Test *t) {
  static const struct {
    const char *what;
    int seeds, every;
    bool holes, wild, all;
  } CASES[] = {
    {"nothing", 0, 1, false, false, false},
    {"one seed", 1, 1, false, false, false},
    {"holes", 3, 2, true, false, false},
    {"wild", 3, 1, false, true, false},
    {"all", 0, 1, false, false, true}};
  static const char *const ALL[][2] = {
      {"fig3", "eps 0.5</span>"},
      {"table4", "Block 3, head 1, most on token 1: alpha"},
      {"table4", "Mean weight on token 1 (alpha_1); Mean weight on * or x*"}};
  EACH (i, CASES) {
    Experiments x;
    Error e = {0};
    char *text = text_in(t, EXPERIMENTS_FILE);
    bool all = CASES[i].all, nothing = !CASES[i].seeds && !all;
    table_open(&x, text);
    scratch_open();
    x.item[0].title = "Loss & sink <while> \"rates\"";
    x.claim[0].statement = "the sink < leaves";
    results_copy(&x, CASES[i].seeds, CASES[i].every, CASES[i].holes,
                 CASES[i].wild);
    fact(t,
         !paper_write(SCRATCH "/p.html", &(Settings){0}, &x,
                      all ? RESULTS_FOLDER : SCRATCH "/results", x.corpus, &e),
         "%s", e.text);
    char *page = page_sound(t, SCRATCH "/p.html", -1);
    size_t most = strlen(page);
    int figures = 0;
    for (int k = 0; k < x.items; k++)
      figures += item_page_sound(t, &x, k, all, nothing, page, &most);
    fact(t,
         count_of(page, "<tr id=\"") ==
             x.claims + count_of(page, "<tr id=\"item-"),
         "claims");
    fact(t, strlen(page) < 160000, "%zu bytes", strlen(page));
    has_part(t, page, "Loss &amp; sink &lt;while&gt; &quot;rates&quot;");
    has_part(t, page, "the sink &lt; leaves");
    fact(t, nothing == !figures, "%s: figures", CASES[i].what);
    EACH (k, ALL)
      if (all) {
        char name[80];
        snprintf(name, sizeof name, SCRATCH "/p/%s.html", ALL[k][0]);
        has_part(t, text_in(t, name), "%s", ALL[k][1]);
      }
    note(t, "%s: %zu bytes, a page up to %zu, %d figures  ", CASES[i].what,
         strlen(page), most, figures);
    experiments_free(&x);
  }
}

/* Where in the picture the tick named `text` stands: its attribute x or y. */
static double tick_at(const char *svg, const char *text,
                      const char *attribute) {
  char ends[40];
  double at = NAN;
  snprintf(ends, sizeof ends, ">%s</text>", text);
  const char *end = strstr(svg, ends);
  if (!end)
    return NAN;
  for (const char *from = svg; (from = strstr(from, "<text ")) && from < end;
       from++)
    at = atof(strstr(from, attribute) + strlen(attribute));
  return at;
}

/* A table, and what its index says and, behind NULL, its item's page. */
static const char BIASES[] =
    "seeds 3 3\ncorpus a a.grammar\ncorpus b b.grammar\n"
    "item one Table 4: Biases\n"
    "columns sink_1 loss\npicture dots sink_1\npicture curves loss\n"
    "row low --lr 0.001 | 40 3.5\n"
    "row high --lr 0.1 | . -\n"
    "claim up differs headline s: higher\n"
    "rule low.sink_1 < high.sink_1 by 0.01\n"
    "claim down differs s: lower\n"
    "rule low.sink_1 > high.sink_1 by 0.01\n"
    "item two Figure 10: Others' models\n"
    "item three Figure 2: Late\n"
    "row late --lr 1\n";

static const char *const BIASES_SAY[] = {
  "6 of 9 runs are there", "An attention sink is a token",
  "~ second-hand, * on proxy scores",
  "<tr id=\"item-one\"><th colspan=\"6\"><a href=\"p/one.html\">Biases</a>"
  "<span class=\"where\">1 of 2 claims reproduced, 1 opposite. "
  "Biases (Table 4)</span></th></tr>\n"
  "<tr id=\"up\" class=\"yes\"><td>\342\234\223 reproduced</td>"
  "<td><a href=\"p/one.html\">higher</a></td>"
  "<td>low sink_1</td><td>20</td><td>40</td>"
  "<td><i style=\"left:20%\">\342\227\217</i>"
  "<b style=\"left:40%\">\342\227\206</b></td></tr>\n"
  "<tr id=\"down\" class=\"no\"><td>\342\207\204 opposite</td>",
  "<li><code>two</code>, Figure 10: Others' models</li>",
  "<code>./sink report</code>", "text</th><td>a.grammar</td>",
  "sink " SINK_VERSION "<", "of rows of headline and `more` claims 1 to 3<",
  "machine</th><td>", NULL,
  "<h1 id=\"biases\">Biases</h1>",
  "<a href=\"../p.html#item-one\">All items</a>",
  "scope=\"row\">low</th><td class=\"paper\">40</td><td>20 \302\261 10</td>",
  "scope=\"row\">high</th><td class=\"paper\"></td><td>70 \302\261 10</td>",
  "<tr class=\"yes\"><td>\342\234\223 <b>reproduced</b></td>"
  "<td class=\"l\">higher</td>",
  "<code>up</code>, differs, headline: "
  "<code>low.sink_1 &lt; high.sink_1 by 0.01</code>. 0.5 [",
  "on b: opposite</li>", "Sink on token 1 (sink_1)</h3>", "Training loss (loss)</h3>"};

static const double BIASES_LOW[] = {0.1, 0.2, 0.3};
static const double BIASES_HIGH[] = {0.6, 0.7, 0.8};

/* The results of rows low and high in SCRATCH; on b the other way round. */
static void biases_left(Test *t, const Experiments *x) {
  static const double CURVE_TOKENS[] = {0, 1e6, 2e6}, LOSS[] = {NAN, 4, 2};
  Error e = {0};
  for (int corpus = 0; corpus < 2; corpus++)
    for (int row = 0; row < 2; row++)
      for (int seed = 1; seed <= 3; seed++) {
        const double *sink = row == corpus ? BIASES_LOW : BIASES_HIGH;
        Result r = {.seed = seed, .checksum = x->row[row].checksum};
        snprintf(r.row, sizeof r.row, "%s", x->row[row].name);
        strcpy(r.corpus, corpus ? "b" : "a");
        record(&r, &e, sink[seed - 1], "sink_1");
        record(&r, &e, 4 + row, "loss");
        result_add(&r, "curve_tokens", CURVE_TOKENS, 3, &e);
        result_add(&r, "curve_loss", LOSS, 3, &e);
        result_leave(&r, SCRATCH "/results");
      }
  fact(t, !e.status, "%s", e.text);
}

/* Each dot lies at its run's Sink, the mark at the paper's. */
static void dots_drawn(Test *t, const char *dots) {
  double zero = tick_at(dots, "0", "x=\"");
  double each = (tick_at(dots, "80", "x=\"") - zero) / 80;
  const char *circle = dots;
  for (int i = 0; i < 6; i++) {
    circle = strstr(circle + 1, "<path fill=\"none\"");
    double share = i < 3 ? BIASES_LOW[i] : BIASES_HIGH[i - 3];
    within(t, atof(strstr(circle, "d=\"M") + 4), zero + 100 * each * share,
           0.11, "dot %d", i);
  }
  const char *mark = strstr(dots, "<path fill=\"#d55e00\"");
  within(t, mark ? atof(strstr(mark, " d=\"M") + 5) : 0, zero + 40 * each, 0.11,
         "the paper's");
}

/* The line begins at 1M tokens and loss 4, and ends at 2M and loss 2. */
static void line_drawn(Test *t, const char *lines) {
  double x0 = tick_at(lines, "1", "x=\"");
  double x1 = x0 + (tick_at(lines, "1.8", "x=\"") - x0) / .8;
  double y2 = tick_at(lines, "2", "y=\"") - 4;
  double y4 = tick_at(lines, "4", "y=\"") - 4;
  double want[] = {x0, y4, x1, y2}, at[4] = {0};
  const char *path_of = strstr(lines, "<path class=\"line\"");
  const char *d = path_of ? strstr(path_of, " d=\"M") : NULL;
  fact(t,
       d && sscanf(d, " d=\"M%lf %lfL%lf %lf\"", at, at + 1, at + 2, at + 3) ==
                4,
       "%.80s", d ? d : "no line");
  for (int i = 0; i < 4; i++)
    within(t, at[i], want[i], 0.11, "the line, %d", i);
}

/* By hand: cells, verdicts, words, and where dots, lines and the paper's mark
 * are drawn. */
static void paper_write__numbers(Test *t) {
  Experiments x;
  Error e = {0};
  scratch_open();
  table_open(&x, BIASES);
  const Picture *second = &x.item[0].picture[1];
  fact(t,
       x.item[0].pictures == 2 && second->kind == PICTURE_CURVES &&
           second->words == 1 && is(second->word[0], "loss"),
       "its pictures");
  biases_left(t, &x);
  paper_write(SCRATCH "/p.html", &(Settings){0}, &x, SCRATCH "/results",
              x.corpus, &e);
  fact(t, !e.status, "%s", e.text);
  char *page = page_sound(t, SCRATCH "/p.html", 0);
  EACH (i, BIASES_SAY)
    if (BIASES_SAY[i])
      has_part(t, page, "%s", BIASES_SAY[i]);
    else
      page = page_sound(t, SCRATCH "/p/one.html", 2);
  has_part(t, text_in(t, SCRATCH "/p/three.html"),
           "<code>./paper three</code>, 0 of 3 runs.");
  const char *dots = strstr(page, "(sink_1)</h3>");
  const char *lines = strstr(page, "(loss)</h3>");
  if (!dots || !lines) {
    fact(t, false, "a picture is not there");
    return;
  }
  dots_drawn(t, dots);
  line_drawn(t, lines);
  experiments_free(&x);
}

/* Every item is listed, every verb has its help, what is no verb is an item,
 * and the report. */
static void sink__items(Test *t) {
  static const char *const NAMES[] = {"ITEM", "list",  "report", "readme",
                                      "run",  "train", "help"};
  char line[80], *text = text_in(t, EXPERIMENTS_FILE);
  Experiments x;
  if (no_binary(t))
    return;
  table_open(&x, text);
  scratch_open();
  const char *list = said(t, "list"), *help = said(t, "help");
  for (int i = 0; i < x.items; i++) {
    snprintf(line, sizeof line, "\n%s ", x.item[i].name);
    fact(t, strstr(list, line) != NULL, "list has no %s", x.item[i].name);
  }
  experiments_free(&x);
  EACH (i, NAMES) {
    snprintf(line, sizeof line, "\n  %s ", NAMES[i]);
    const char *at = strstr(help, line);
    fact(t, at && !strstr(at + 1, line), "help has %s twice, or not at all",
         NAMES[i]);
  }
  answers(t, PROGRAM, "toy-trigger --show", 0, "trigger-softmax, seed 1\n");
  answers(t, PROGRAM, "table2 --commands", 0,
          "||paper: all runs of table2 on books are done. ");
  answers(t, PROGRAM,
          "all --commands --row trigger-k --seed 2147483647 --results \"a 'b\"",
          0, "--results 'a '\\''b' --threads ");
  answers(t, PROGRAM, "fig8-right --commands", 0,
          "||No weights of it were published. Try: ");
  /* the table and the results are found */
  answers_elsewhere(t, "list", list);
  usage_hold(t, &(Program){.verbs = PAPER_VERBS});
  sink_fails(t, "report --out " SCRATCH, 1, "this is a folder or a device");
  sink_fails(t, "list --results " SCRATCH "/none", 1, "no such folder");
  file_write(SCRATCH "/none/a", "", 0, fresh(t));   /* no results */
  file_write(SCRATCH "/none/findings.txt", "by hand", 7, fresh(t));
  sink_fails(t, "report --results " SCRATCH "/none --out " SCRATCH
             "/none/findings.txt --force", 2,
             "this command reads or writes it");
  answers(t, PROGRAM,
          "report --results " SCRATCH "/none --out " SCRATCH "/deep/r.html", 0,
          "The page: " SCRATCH "/deep/r.html\n");
  char *page = page_sound(t, SCRATCH "/deep/r.html", 0);
  has_part(t, page, "Trained on books: 0 of ");
  has_part(t, page_sound(t, SCRATCH "/deep/r/table4.html", 0),
           "0 of 10 claims reproduced, 10 not");
  sink_fails(t,
             "report --results " SCRATCH "/none --out " SCRATCH "/deep/r.html",
             1, "--force");
  remove(SCRATCH "/deep/r.html");
  sink_fails(t,
             "report --results " SCRATCH "/none --out " SCRATCH "/deep/r.html",
             1, "r/table4.html");
}

/* What is not finite has not moved, nor stayed. */
static void differing__not_finite(Test *t) {
  const real x[] = {1, 2, (real)NAN, 4}, y[] = {1, 3, 3, (real)INFINITY};
  for (int i = 0; i < 4; i++) {
    const double is = differing(1, x + i, y + i);
    const double back = differing(1, y + i, x + i);
    fact(t, i < 2 ? is == i && back == i : isnan(is) && isnan(back),
         "number %d: %g", i, is);
  }
}

/* Twice its bound, of either sign, in a toy's last number: what the checks
 * measure sees it. A NaN in a map is no share; all tokens change but x*. */
static void checks__see(Test *t) {
  static const struct {
    const char *flags;
    double (*off)(Place s);
    int map;            /* z, weight or metric */
    bool relative;
    double of, bound;   /* its bound, and what that has to be */
  } ROWS[] = {
    {"--pos none", off_even, 2, true, SCORES, 4000},
    {"--pos relative", off_equation20, 2, true, SCORES, 4000},
    {"--pos alibi", off_equation22, 2, true, SCORES, 4000},
    {"--pos rotary", off_equation4, 0, false, SCORES, 4000},
    {"--normalizer pnorm --pnorm 2", off_equation44, 1, true, SCORES, 4000},
    {"", off_scale, 1, false, STATES, 1000},
    {"", off_metric, 2, false, STATES, 1000}};
  Page p = {.e = fresh(t)};
  EACH (i, ROWS) {
    Toy *y = toy(&p, i < 4 ? REPEATED : RANDOM, "%s", ROWS[i].flags);
    const Probe *of = &y->a.probe[2];
    real *const maps[] = {of->z, of->weight, of->metric};
    real *last = maps[ROWS[i].map] + 287;   /* [2,12,12] */
    const double was = (double)*last;
    for (int sign = -1; sign <= 1; sign++) {
      double by = 2 * sign * ROWS[i].bound * REAL_EPS;
      *last = (real)(was + by * (ROWS[i].relative ? was : 1));
      fact(t, (greatest(y, ROWS[i].off) <= ROWS[i].of) == !sign, "row %d, %d",
           i, sign);
    }
    *last = (real)was;
  }
  Toy *y = toy(&p, REPEATED, ""), *one = alone(toy(&p, REPEATED, ""));
  Toy *star = toy(&p, REPEATED, "--sink-token");
  y->a.layer[2].s2[11 * 12] += (real)(2000 * REAL_EPS * length(12, one->a.h));
  fact(t,
       toy_spread(y, 1, 12, one) > STATES && APART >= 1e-3 && EPS_IN_Z <= 1e-6,
       "bounds");
  y->a.probe[2].metric[287] = y->a.probe[1].metric[0] = (real)NAN;
  fact(t, isnan(sink_share(y, 0.3)), "a share of NaN");
  other_tokens(star);
  fact(t, star->ids[0] != 7 && other_tokens(y)->ids[0] == 7, "x_1 behind x*");
  y->T = 5;
  toy_forward(y);
  fact(t, biggest(4, y->a.probe[0].metric + 1) == 0,
       "a map keeps what was longer");
  for (int i = 0; i < TOYS; i++)
    toy_free(&p.toy[i]);
}

/* [E4] [T15]  Every statement of `check`: sink.c's, and those of paper.c. */
static void checks__all(Test *t) {
  static const Program ALL = {.name = "paper", .checks = MORE_CHECKS};
  checks_hold(t, &ALL, 184, 89);
  /* ./sink says who has them */
  for (const Check *c = MORE_CHECKS; c->name; c++)
    fact(t,
         checks_run(SINK.checks, SINK.name, c->name, stdout, fresh(t)) == 2 &&
             strstr(t->e.text, "./paper check list"),
         "%s", t->e.text);
  char said[sizeof t->note + 5];
  snprintf(said, sizeof said, "%.*sWRONG", (int)strcspn(t->note, "W"), t->note);
  fact(t, strstr(text_in(t, "README.md"), said) != NULL,
       "README.md does not say: %s", said);
}

/* What the checks measure sees a score, a weight, a metric, a head's output and
 * a state that is off. */
static void off_closed__sees(Test *t) {
  Page p = {.e = fresh(t)};
  Toy *y = toy(&p, REPEATED, "--layers 1 --extra k");
  Toy *k = toy(&p, RANDOM, "--extra k"), *plain = toy(&p, RANDOM, "");
  const Probe *of = y->a.probe;
  real *const maps[] = {of->z, of->weight, of->metric};
  const int last = 2 * 12 * 13 - 1;   /* of 2 heads, 12 rows, 13 columns */
  fact(t,
       greatest(y, off_closed) < SCORES && off_gate(k, plain) < SCORES &&
           off_loops(plain, 1) < STATES,
       "as they are");
  EACH (i, maps) {
    maps[i][last] += 1;
    fact(t, greatest(y, off_closed) > 0.01, "map %d", i);
    maps[i][last] -= 1;
  }
  k->a.layer[0].o[0] += 1;
  plain->a.layer[0].s2[0] += 1;
  fact(t, off_gate(k, plain) > 0.01 && off_loops(plain, 1) > 0.01,
       "an output and a state");
  for (int i = 0; i < 3; i++)
    toy_free(&p.toy[i]);
}

enum { ABLATE_T = 10, ABLATE_N = 21 };

/* The slow model's mean loss [ABLATED,N] at the positions after token p, which
 * is drawn, from 1: untouched, without the sink's column, without token p's.
 * *drawn has a bit for each p. */
static void slow_losses(const Trainer *r, const int *ids, const int *targets,
                        double loss[ABLATED][ABLATE_N], int *drawn) {
  enum { T = ABLATE_T, N = ABLATE_N };
  const Oracle by = ablated_oracle();
  const Config *c = &r->m.c;
  const int first = c->sink_token, V = c->vocab, what = r->s.ablate;
  const bool star = what == ABLATE_KSTAR;
  int sink = first;
  if (star)
    sink = c->extra ? -1 : 0;
  Rng rng = {hash64((uint64_t)r->s.train.seed, "ablate", 6)};
  for (int b = 0; b < N; b++) {
    const int p = 2 + (int)rng_below(&rng, T / 2 - 1);
    const int from = p + 1 > c->prefix ? p + 1 : c->prefix;
    *drawn |= 1 << p;
    for (int k = 0; k < ABLATED; k++) {
      Slow slow = slow_open(&r->m, &by, T);
      slow.cut[0] = ABLATE_NONE;
      if (k)
        slow.cut[0] = star ? ABLATE_KEY1 : what;
      slow.cut[1] = k == 1 ? sink : first + p - 1;
      slow_forward(&slow, ids + b * T);
      for (int i = from; i <= T; i++) {
        const double *y = slow.logits + (i - 1) * V;
        double sum = 0;
        for (int v = 0; v < V; v++)
          sum += exp(y[v]);
        loss[k][b] += (log(sum) - y[targets[b * T + i - 1]]) / (T - from + 1);
      }
      slow_close(&slow);
    }
  }
}

/* ablate() against the slow model: for every sequence the loss at the positions
 * after the drawn token, untouched and with each column gone, and means and
 * spreads of these by hand. */
static void ablate__against_slow(Test *t) {
  enum { T = ABLATE_T, N = ABLATE_N };
  static const struct {
    const char *flags;
    int what;
  } ROWS[] = {
    {"--fix-token 1", ABLATE_KEY1},
    {"", ABLATE_VALUE1},
    {"--heads 1 --seed 4", ABLATE_VALUE1_MEAN},
    {"--extra k", ABLATE_KSTAR},
    {"--sink-token", ABLATE_KSTAR},
    {"--sink-token --prefix 7", ABLATE_KEY1}};
  Settings s;
  if (!tale_open(t, &s, ""))
    return;
  EACH (f, ROWS) {
    const char *flags = ROWS[f].flags;
    Trainer r;
    Error e = {0};
    Ablated got;
    int ids[N * T], targets[N * T], starts, drawn = 0;
    double loss[ABLATED][N] = {{0}};
    if (!trainer_made(t, &r, flags))
      return;
    steps_of(t, &r, 25);
    r.s.ablate = ROWS[f].what;
    fact(t, !ablate(&got, &r.m, &r.data, &r.s, N, T, &e), "%s", e.text);
    data_probe(&r.data, &r.s.data, INPUT_NATURAL, N, T, ids, targets, &starts);
    slow_losses(&r, ids, targets, loss, &drawn);
    for (int k = 0; k < ABLATED; k++) {
      double mean = 0, more = 0, square = 0, both = 0;
      for (int b = 0; b < N; b++) {
        mean += loss[k][b] / N;
        more += (loss[k][b] - loss[0][b]) / N;
      }
      for (int b = 0; b < N; b++) {
        square += pow(loss[k][b] - mean, 2) / (N - 1);
        both += pow(loss[k][b] - loss[0][b] - more, 2) / (N - 1);
      }
      double bound = 2000 * REAL_EPS;
      within(t, got.loss[k], mean, bound, "%s: loss %d", flags, k);
      within(t, got.spread[k], sqrt(square), bound, "%s: spread %d", flags, k);
      within(t, got.more[k], more, bound, "%s: more %d", flags, k);
      within(t, got.more_spread[k], sqrt(both), bound, "%s: its spread %d",
             flags, k);
      fact(t, !k || got.more_spread[k] > 1e-5,
           "%s: ablation %d changes nothing", flags, k);
    }
    fact(t, got.n == N && got.last == T / 2 && drawn == 0x3c, "%d, drawn %x",
         got.n, drawn);
    trainer_free(&r);
  }
}

/* What cannot be ablated, and the shortest sequence that can. */
static void ablate__refuses(Test *t) {
  static const struct {
    int what, input, T, status;
    const char *flags, *said;
  } REFUSED[] = {
    {ABLATE_KSTAR, INPUT_NATURAL, 10, 2, "",
     "no extra column and no sink token"},
    {ABLATE_KEY1, INPUT_RANDOM, 10, 2, "", "--input natural"},
    {ABLATE_KEY1, INPUT_NATURAL, 3, 2, "", "--T of at least 4"},
    {ABLATE_KEY1, INPUT_NATURAL, 400, 1, "",
     "no piece of text to measure on has 401 tokens"},
    {ABLATE_KEY1, INPUT_NATURAL, 4, 0, "", ""}};
  Settings s;
  if (!tale_open(t, &s, ""))
    return;
  for (int i = 0; i < 5; i++) {
    Trainer r;
    Error e = {0};
    Ablated got;
    if (!trainer_made(t, &r, REFUSED[i].flags))
      return;
    r.s.ablate = REFUSED[i].what;
    r.s.input = REFUSED[i].input;
    r.s.beyond = true;
    int status = ablate(&got, &r.m, &r.data, &r.s, 5, REFUSED[i].T, &e);
    fact(t,
         status == REFUSED[i].status && strstr(e.text, REFUSED[i].said) &&
             (!status || strstr(e.text, "Try: ")),
         "%d: %s", status, e.text);
    trainer_free(&r);
  }
}

#define TOKENIZER " --tokenizer " SCRATCH "/tale.tok"
#define OF_GRAMMAR " --grammar " SCRATCH "/tale.grammar" TOKENIZER
#define LOG_CSV SCRATCH "/log[1].csv"

/* The curve's ends in words, on the page, are the log's. */
static void curve_of_log(Test *t, const char *page) {
  char *log = text_in(t, LOG_CSV), *line = strrchr(log, ',');
  const char *at = strstr(page, "aria-label=\"Training loss");
  while (line > log && line[-1] != '\n')
    line--;
  double first = number_after(log, "at_0.2\n", 2);
  double last = number_after(line, ",", 1);
  within(t, number_after(at ? at : "", "train: from ", 0), first, 0.0051,
         "the curve's start");
  within(t, number_after(at ? at : "", "train: from ", 1), last, 0.0051,
         "the curve's end");
}

/* An ablation's numbers, printed and on the page, are the JSON's. */
static void ablation_told(Test *t) {
  static const char *const NAMES[] = {"untouched", "sink", "control"};
  static const char *const ROWS[] = {"untouched", "token 1", "control"};
  const char *out =
      said(t, "eval " SCRATCH "/m.ckpt --T 12 --n 9 --ablate value1 "
              "--json " SCRATCH "/r.json --report " SCRATCH "/e.html"
              OF_GRAMMAR);
  const char *told = strstr(out, "Ablation of token 1: its value");
  char *page = page_sound(t, SCRATCH "/e.html", 6);
  has_part(t, page, "paper eval " SCRATCH "/m.ckpt --T 12 --n 9");
  char *json = text_in(t, SCRATCH "/r.json");
  fact(t, told != NULL, "%s", out);
  for (int k = 0; k < 3; k++) {
    char name[64], row[64];
    snprintf(row, sizeof row, "\n%-10s", ROWS[k]);
    snprintf(name, sizeof name, "\"ablate_%s\":", NAMES[k]);
    double loss = number_after(json, name, 0);
    within(t, number_after(strstr(page, "<pre>"), row, 0), loss, 5.1e-5,
           "loss %s", NAMES[k]);
    within(t, number_after(told ? told : "", row, 0), loss, 5.1e-5,
           "printed %s", NAMES[k]);
    snprintf(name, sizeof name, "\"ablate_%s_more_spread\":", NAMES[k]);
    if (k)
      within(t, number_after(strstr(page, "<pre>"), row, 3),
             number_after(json, name, 0), 5.1e-5, "spread %s", NAMES[k]);
  }
}

/* The pages of train and eval: beside --out, or where --report says; the
 * curve's ends are the log's, and the ablation's numbers the JSON's. One that
 * diverges leaves its curves. */
static void sink__report(Test *t) {
  const char *quote = *QUOTE == '"' ? "&quot;" : "'";
  Settings s;
  if (no_binary(t) || !tale_open(t, &s, ""))
    return;
  said(t, "train --quiet --steps 9 --log-every 2 --T 12 --log " LOG_CSV
          " --out " SCRATCH "/m.ckpt" SMALL_RUN);
  char *page = page_sound(t, SCRATCH "/m.ckpt.html", 9);
  has_part(t, page,
           "<code>./paper train --quiet --steps 9 --log-every 2 --T 12 "
           "--log %s" LOG_CSV "%s", quote, quote);
  curve_of_log(t, page);
  ablation_told(t);
  sink_fails(t, "eval " SCRATCH "/m.ckpt --ablate kstar --T 12" OF_GRAMMAR, 2,
             "no extra column");
  sink_fails(t,
             "train --quiet" SMALL_RUN " --extra k --steps 90 --lr 1 --wd 1000 "
             "--warmup 30 --log-every 1 --T 12 --out " SCRATCH "/d",
             1, "diverges here");
  /* its curve */
  has_part(t, page_sound(t, SCRATCH "/d.html", -1), "train: the key bias *<");
  /* a first look that meets a NaN */
  Trainer back;
  Error e = {0};
  if (!checkpoint_load(SCRATCH "/m.ckpt", false, &back, &e))
    back.m.params[0] = (real)NAN;
  parameters_write(SCRATCH "/n.ckpt", &back, &e);
  sink_fails(t,
             "train --quiet --start " SCRATCH "/n.ckpt --steps 9 --T 12 "
             "--out " SCRATCH "/o --log " SCRATCH "/o.csv" OF_GRAMMAR,
             1, "diverges here");
  has_part(t, page_sound(t, SCRATCH "/o.html", -1),
           "The training diverged. <b>step 0: ");
  has_part(t, text_in(t, SCRATCH "/o.csv"), "\n# step 0: ");
  fact(t, !e.status && file_missing(SCRATCH "/o"), "a model: %s", e.text);
  trainer_free(&back);
}

/* This evaluation has the numbers of that row of all.csv. */
static bool survey_row(Test *t, int row, const char *words) {
  static const char *const NAMES[] = {"sink_1", "alpha_1", "norm_ratio",
                                      "loss",   "T",       "n"};
  if (!*said(t,
             "eval " SCRATCH "/%s --n 9" TOKENIZER
             " --force --csv " SCRATCH "/one.csv",
             words))
    return false;
  for (int k = 0; k < 6; k++)
    within(t, csv_number(t, SCRATCH "/all.csv", row, NAMES[k]),
           csv_number(t, SCRATCH "/one.csv", 1, NAMES[k]), 0, "%s, %s", words,
           NAMES[k]);
  return true;
}

/* A table of several models, inputs, texts and lengths has in each line
 * the numbers of that one evaluation; what cannot be read is said, and the
 * rest stands. */
static void sink__survey(Test *t) {
  Settings s;
  char line[64];
  if (no_binary(t) || !tale_open(t, &s, ""))
    return;
  for (int m = 0; m < 2; m++)
    said(t,
         "train --quiet --text " SCRATCH "/tale.txt" TOKENIZER
         " --context 16 --layers 2 --dim 16 --ffn 20 --steps 8 --seed %d "
         "--out " SCRATCH "/%c.ckpt",
         m, 'a' + m);
  answers(t, PROGRAM,
          "eval " SCRATCH "/a.ckpt " SCRATCH "/none.ckpt " SCRATCH "/b.ckpt "
          "--inputs --lengths 10,12 --n 9" TOKENIZER
          " --csv " SCRATCH "/all.csv --json " SCRATCH "/all.json",
          1,
          "|paper: eval: lines measured: 12, left out: 1, "
          "the first of " SCRATCH "/none.ckpt: " SCRATCH "/none.ckpt: ");
  for (int i = 0; i < 8; i++) {
    snprintf(line, sizeof line, "%c.ckpt --input %s --T %d", "ab"[i / 6],
             INPUTS[i / 2 % 3], i % 2 ? 12 : 10);
    if (!survey_row(t, i + 1, line))
      return;
  }
  fact(t,
       csv_number(t, SCRATCH "/all.csv", 1, "sink_1_at_0.1") >=
           csv_number(t, SCRATCH "/all.csv", 1, "sink_1_at_0.15"),
       "Sink rises with eps");
  char *json = text_in(t, SCRATCH "/all.json");
  fact(t,
       !strncmp(json, "[{\"model\": \"", 12) &&
           strstr(json, "/a.ckpt\", \"text\": \"tale\"") &&
           strstr(json, "\"read\": \"held-out text\"") &&
           strstr(json, "}]\n"),
       "%.120s", json);
  /* texts, a line each */
  file_copy(t, SCRATCH "/tale.txt", SCRATCH "/texts/one.en.txt");
  file_copy(t, SCRATCH "/tale.grammar", SCRATCH "/texts/two.grammar");
  said(t, "eval " SCRATCH "/a.ckpt --domains " SCRATCH "/texts --T 12 --n 9"
          TOKENIZER " --force --csv " SCRATCH "/all.csv");
  has_part(t, text_in(t, SCRATCH "/all.csv"), "\"one.en\",");
  Ran none = sink("eval " SCRATCH "/none.ckpt " SCRATCH "/nor.ckpt --n 1"
                  TOKENIZER);
  fact(t, count_of((char *)none.err.at, "\n") == 1, "two lines: %s",
       (char *)none.err.at);
  ran_free(&none);
  if (!survey_row(t, 1, "a.ckpt --T 12 --text " SCRATCH "/texts/one.en.txt"))
    return;
  survey_row(t, 2, "a.ckpt --T 12 --grammar " SCRATCH "/texts/two.grammar");
  answers(t, PROGRAM, "eval " SCRATCH "/a.ckpt --lengths 8,999 --n 1" TOKENIZER,
          1,
          "|paper: eval: lines measured: 1, left out: 1, "
          "the first of " SCRATCH "/a.ckpt: --lengths 999: the model's context "
          "ends at 16. Try: --lengths 16, or --b");
}

/* With --csv - and --json - standard output has the rows and nothing else; what
 * is for people, how far it is and what is wrong go to stderr. Nothing
 * measured: no rows. */
static void sink__rows_alone(Test *t) {
#define GENERATED_RUN " --force --grammar " SCRATCH "/tale.grammar" SMALL_SIZE
#define A_CKPT SCRATCH "/a.ckpt"
#define ALONE " --T 8 --n 4" OF_GRAMMAR
  static const struct {
    const char *words;
    int status, rows;
    const char *said;
  } ROWS[] = {
    {"run --steps 2 --T 8 --n 4 --report " SCRATCH "/p" GENERATED_RUN, 0, 3,
     "Rule: "},
    {"eval " A_CKPT " " SCRATCH "/no " A_CKPT ALONE, 1, 2,
     "out: 1, the first of " SCRATCH "/no: "},
    {"eval " A_CKPT " --inputs" ALONE, 0, 3, ""},
    {"eval no nor" ALONE, 1, 0,
     "paper: eval: lines measured: 0, left out: 2, the first of no: no: "}};
  Settings s;
  char words[600];
  if (no_binary(t) || !tale_open(t, &s, ""))
    return;
  said(t, "train --quiet --steps 1 --out " A_CKPT GENERATED_RUN);
  for (int i = 0; i < 8; i++) {
    const int json = i % 2, rows = ROWS[i / 2].rows;
    int lines = 0, commas = 0;
    snprintf(words, sizeof words, "%s --%s -", ROWS[i / 2].words,
             json ? "json" : "csv");
    Ran r = sink(words);
    const char *at = (char *)r.out.at, *err = (char *)r.err.at;
    fact(t, r.status == ROWS[i / 2].status && strstr(err, ROWS[i / 2].said),
         "%s: %s", words, err);
    for (; *at; at += strcspn(at, "\n") + 1) {
      int c = 0;
      for (const char *k = at; *k && *k != '\n'; k++)
        c += *k == ',';
      if (!lines)
        commas = c;
      fact(t, json ? at[1] == '{' && strstr(at, "}") : c == commas && c > 8,
           "%s: %s", words, at);
      lines++;
    }
    fact(t,
         lines == rows + (rows && !json) &&
             at == (char *)r.out.at + r.out.size - 1 &&
             (!json || !rows || (*r.out.at == '[' && !strcmp(at - 3, "}]\n"))),
         "%s: %d lines in %s", words, lines, (char *)r.out.at);
    ran_free(&r);
  }
}

/* Of 28 marks that crowd at the rules no number lies over another, a mark, a
 * rule or an edge. */
static void corner_place__crowd(Test *t) {
  Axis x = {.from = 0.1, .to = 10, .log = true, .first = 30, .last = 354};
  Axis y = x;
  Corner c[28];
  Rng r = {7};
  y.first = 268;
  y.last = 18;
  const double rule_x = axis_place(&x, CORNER), rule_y = axis_place(&y, CORNER);
  for (int k = 0; k < 28; k++)
    c[k] = (Corner){.x = rule_x + 70 * rng_uniform(&r) - 50,
                    .y = rule_y + 6 * rng_normal(&r),
                    .wide = k < 9 ? 4 : 8};
  for (int k = 0; k < 28; k++)
    corner_place(c, k, 28, &x, &y);
  for (int i = 0; i < 28 * 28; i++) {
    const Corner *a = &c[i / 28], *b = &c[i % 28];
    double right = a->left + a->wide, top = a->top - 5;
    bool over = b->x > a->left - 3 && b->x < right + 3 && b->y > top - 3 &&
                b->y < a->top + 3;
    bool text = fabs(a->top - b->top) < 6 && a->left < b->left + b->wide &&
                b->left < right;
    fact(t, (a == b || !text) && !over, "number %d over %d", i / 28, i % 28);
    fact(t,
         (right < rule_x || a->left > rule_x) &&
             (a->top < rule_y || top > rule_y) && top > y.last &&
             a->top < y.first && a->left > x.first && right < x.last,
         "number %d", i / 28);
  }
}

/* Table 7's flags reach a head's map and an ablation: those of a model
 * so written. */
static void head_map__edited(Test *t) {
  enum { T = 12, AT = 5 };
  static const char *const FLAGS[] = {"--pos learned --sink-token",
                                      "--pos learned"};
  Settings s;
  if (!tale_open(t, &s, ""))
    return;
  for (int swap = 0; swap < 2; swap++) {
    Trainer r;
    Error e = {0};
    HeadMap plain = {0}, map[2] = {{0}};
    Ablated cut[2];
    if (!trainer_made(t, &r, FLAGS[swap]))
      return;
    steps_of(t, &r, 10);
    r.s.ablate = ABLATE_KEY1;
    Settings asks = r.s;
    *(swap ? &asks.swap_position : &asks.replace_position) = AT;
    head_map(&plain, &r.m, &r.data, &r.s, T, &e);
    for (int k = 0; k < 2; k++) { /* by the flags, then by hand */
      const Settings *by = k ? &r.s : &asks;
      if (k)
        write_positions(&r.m, AT, swap);
      head_map(&map[k], &r.m, &r.data, by, T, &e);
      ablate(&cut[k], &r.m, &r.data, by, 9, T, &e);
    }
    fact(t,
         !e.status && map[0].T == T &&
             !memcmp(map[0].m, map[1].m, sizeof map[0].m) &&
             memcmp(map[0].m, plain.m, sizeof plain.m),
         "another map: %s", e.text);
    fact(t, !memcmp(cut[0].loss, cut[1].loss, sizeof cut[0].loss),
         "another ablation");
    trainer_free(&r);
  }
}

#include "test_onset.c"
#include "test_film.c"

static const TestEntry TESTS[] = {
  RUNS(trainer_start__refuses), RUNS(trainer_restart__from_parameters),
  RUNS(evaluate__edits_positions), RUNS(position_edit__refuses),
  RUNS(sink_tokens__measured), RUNS(paper__edits_and_starts),
  RUNS(experiments_read__by_hand), RUNS(experiments_read__refuses),
  RUNS(experiments_read__shipped), RUNS(variants__as_in_the_table),
  RUNS(result__round_trip), RUNS(result_read__refuses), RUNS(row_run__repeats),
  RUNS(measure_curves__by_hand), RUNS(row_run__after), RUNS(row_run__late_nan),
  RUNS(runs_train__once),
  RUNS(measure_grid__by_hand), RUNS(measure_swaps__by_hand),
  RUNS(measure_domains__by_hand), RUNS(measures__starred),
  RUNS(differing__not_finite), RUNS(checks__all), RUNS(checks__see),
  RUNS(off_closed__sees), RUNS(ablate__against_slow), RUNS(ablate__refuses),
  RUNS(report_write__maps), RUNS(axis_end__ranges), RUNS(student__known),
  RUNS(welch__by_hand), RUNS(holm__by_hand), RUNS(claim_judge__verdicts),
  RUNS(claims_judge__files), RUNS(judge_mean__by_hand),
  RUNS(claim_decide__by_hand), RUNS(play_look__by_hand),
  RUNS(claims_judge__holm), RUNS(run_next__by_hand),
  RUNS(command_words__refuses), RUNS(item_text__shows), RUNS(item_text__narrow),
  RUNS(readme_with__marks), RUNS(finding_of__verdicts),
  RUNS(strip_place__by_hand), RUNS(ledger__other_text),
  RUNS(summary_text__verdicts), RUNS(pages__shipped), RUNS(pages_renew__twice),
  RUNS(html_markdown__by_hand), RUNS(paper_write__sound),
  RUNS(paper_write__numbers), RUNS(trigger_draw__rules),
  RUNS(trigger_loss__gradients), RUNS(backcopy_draw__rules),
  RUNS(toy_measure__by_hand), RUNS(toy_measure__without_star),
  RUNS(measure_layers__by_hand), RUNS(onset_run__by_hand),
  RUNS(onset_run__by_hand_long), RUNS(part_read__goes_on),
  RUNS(text_repeats__by_hand), RUNS(toy_run__same_bits), RUNS(toy_run__muon),
  RUNS(toy_run__learns), RUNS(toy_run__refuses), RUNS(toy_run__numbers),
  RUNS(toy_print__maps), RUNS(sink__items), RUNS(sink__published),
  RUNS(sink__report), RUNS(sink__survey), RUNS(sink__names_programs),
  RUNS(sink__rows_alone), RUNS(head_map__edited), RUNS(corner_place__crowd),
  FILM_TESTS, ONSET_TESTS};

int main(int argc, char **argv) {
  return tests_run(TESTS, sizeof TESTS / sizeof TESTS[0], argc, argv,
                   (Test){.after = scratch_close, .oracle = &PAPER});
}
