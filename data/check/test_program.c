/* test_program.c - training, checkpoints, evaluation, files and the command
 * line: chapters 10 to 12, 15 and 16 of sink.c, and ./sink as a user runs it.
 *
 *     cc -O2 -DSINK_DOUBLE data/check/test_program.c -o test -lm && ./test
 *
 * SPDX-License-Identifier: MIT
 */
#define SINK_NO_MAIN
#include "../paper/options.h"
#include "../later/later.h"
#include "../../sink.c"
#include "../later/later.c"
#include "../text/first.c"
#include "../text/teller.c"
#include "../text/vocabulary.c"
#include "../text/shards.c"
#include "../paper/tables.c"
#include "../paper/resume.c"
#define PROGRAM FROM_HERE "sink"
#include "harness.c"
#include "programs.c"

/* What ./paper has for --resume. */
static const Program GOES_ON = {
  .name = "sink", .start = trainer_resume, .log = log_keep};

/* =============================================================================
 * 1  Config */

/* Without flags: the paper's default, row 0, on every axis, at the sizes of a
 * minute's run. */
static void config__defaults(Test *t) {
  const Config c = config_of(t, "");
  const Config want = {.layers = 4,
                       .heads = 2,
                       .kv_heads = 2,
                       .dim = 64,
                       .head_dim = 32,
                       .ffn = 128,
                       .vocab = 2048,
                       .context = 128,
                       .rotary_dims = 32,
                       .rope_base = 10000,
                       .norm_eps = 1e-5,
                       .scale = 1,
                       .soft_cap = NAN,
                       .clip_high = 1,
                       .extra_logit = NAN,
                       .extra_norm = 1};
  fact(t, !differs(&c, &want), "--%s has another default", differs(&c, &want));
}

/* Several words ask for the tests that begin with any; one that none begins
 * with is told. */
static void left_out__words(Test *t) {
  static const struct {
    const char *words[3];
    bool out[3];
    const char *unknown;
  } ROWS[] = {
    {{"", "", ""}, {false, false, false}, NULL},
    {{"row", "", ""}, {false, true, true}, NULL},
    {{"row", "gra", ""}, {false, false, true}, NULL},
    {{"gra", "row", ""}, {false, false, true}, NULL},
    {{"-row", "", ""}, {true, false, false}, NULL},
    {{"row", "-row_f", ""}, {true, true, true}, NULL},
    {{"--first", "check", ""}, {true, true, false}, NULL},
    {{"row", "nobody", ""}, {false, true, true}, "nobody"}};
  static const TestEntry LIST[3] = {{"row_forward", NULL},
                                    {"gradients", NULL},
                                    {"checks", NULL}};
  EACH (i, ROWS) {
    char words[3][16], *argv[4] = {words[0]};
    int argc = 1;
    for (int k = 0; k < 3; k++) {
      snprintf(words[k], sizeof words[k], "%s", ROWS[i].words[k]);
      if (*words[k])
        argv[argc++] = words[k];
    }
    for (int k = 0; k < 3; k++)
      fact(t, left_out(LIST[k].name, argc, argv) == ROWS[i].out[k],
           "row %d: %s", i, LIST[k].name);
    const char *unknown = word_unknown(LIST, 3, argc, argv);
    const char *want = ROWS[i].unknown;
    fact(t, want ? unknown && !strcmp(unknown, want) : !unknown, "row %d", i);
  }
}

/* A model of blocks that ./hf has cannot be made here, not even forward. */
static void config_from_flags__without_hf(Test *t) {
  static const char *const FLAGS[] = {"--layers 4 --attention-period 2",
                                      "--experts 1", "--rope-scaling longrope"};
  EACH (i, FLAGS) {
    Config c;
    fact(t,
         config_from_flags(&c, FLAGS[i], fresh(t)) == 2 &&
             strstr(t->e.text, "Try: make hf"),
         "%s: %s", FLAGS[i], t->e.text);
  }
}

/* =============================================================================
 * 10  Training and checkpoints */

static void trainer_step__learns(Test *t) {
  static const char *const FLAGS[] = {
    "", FROM_TEXT "--sim sigmoid --normalizer one --schedule cosine",
    "--extra k --fix-token 1 --place post --pos learned",
    "--optimizer sgd --lr 1 --norm layer --tied",
    "--optimizer muon --place sandwich"};
  EACH (f, FLAGS) {
    Trainer *r = trainer_of(t, FLAGS[f]);
    double first = steps_of(t, r, 1), last = steps_of(t, r, 30);
    fact(t, last < first - 0.4 && last > 0 && r->step == 30, "%s: %g, %g",
         FLAGS[f], last, first);
    note(t, "%.2f to %.2f  ", first, last);
  }
}

/* Two forwards of 4 sequences are one of 8, and a step's loss is the mean over
 * its forwards. */
static void trainer_step__accumulates(Test *t) {
  Trainer *one = trainer_of(t, "--optimizer sgd --clip 0 --batch 8");
  Trainer *two =
      trainer_of(t, "--optimizer sgd --clip 0 --batch 4 --accumulate 2");
  for (int step = 1; step <= 3; step++) {
    within(t, steps_of(t, two, step), steps_of(t, one, step), 100 * REAL_EPS,
           "step %d", step);
    within(t, two->norm / one->norm, 1, 100 * REAL_EPS, "norm of step %d",
           step);
  }
  within(t,
         distance(one->m.count, one->m.params, two->m.params) *
             biggest(one->m.count, one->m.params),
         0, 30 * REAL_EPS, "parameters after 3 steps");
}

/* SGD leaves what it did in plain sight, in each of ten steps: w (1 - lr wd) -
 * lr g, g shrunk to the clip's norm, decay on all tensors or on matrices, and
 * the rate of the schedule. */
static void trainer_step__by_hand(Test *t) {
  static const struct {
    const char *flags;
    double clip, wd, lr, least;
    int warmup;
  } ROWS[] = {
    {"--clip 0 --wd 0", 0, 0, 0.5, 0.5, 0},
    {"--clip 1e-2 --wd 0", 1e-2, 0, 0.5, 0.5, 0},
    {"--clip 1e6 --wd 0", 0, 0, 0.5, 0.5, 0},
    {"--clip 0 --wd 0.3", 0, 0.3, 0.5, 0.5, 0},
    {"--clip 0 --wd 0.3 --decay matrices", 0, 0.3, 0.5, 0.5, 0},
    {"--clip 0 --wd 0 --lr 0.1 --warmup 4", 0, 0, 0.1, 0.1, 4},
    {"--clip 0 --wd 0 --lr 0.1 --warmup 4 --min-lr 2e-2 --schedule cosine", 0,
     0, .1, .02, 4}};
  EACH (row, ROWS) {
    const char *flags = ROWS[row].flags;
    const double top = ROWS[row].lr, least = ROWS[row].least;
    const int warmup = ROWS[row].warmup;
    char all[200];
    snprintf(all, sizeof all,
             "--optimizer sgd --lr 0.5 --warmup 0 --steps 10 --linear-bias %s",
             flags);
    Trainer *r = trainer_of(t, all);
    real *before = reals_of(t, r->m.count);
    for (int step = 0; step < 10; step++) {
      const double left = (step - warmup) / (10.0 - warmup);
      const double wave = (1 + cos(acos(-1) * left)) / 2;
      const double lr = left < 0 ? top * (step + 1) / warmup
                                 : least + (top - least) * wave;
      double square = 0, moved = 0, worst = 0;
      copy(before, r->m.params, r->m.count);
      steps_of(t, r, step + 1);
      const double clip = ROWS[row].clip > 0 ? ROWS[row].clip : r->norm;
      const double shrink = ROWS[row].clip > 0 ? clip / (r->norm + 1e-6) : 1;
      for (int k = 0; k < r->m.n_tensors; k++) {
        const Tensor *x = r->m.all[k];
        const bool decays = x->matrix || !strstr(flags, "matrices");
        for (idx i = 0; i < tensor_count(x); i++) {
          const double g = (double)x->d[i], now = (double)x->w[i];
          const double was = (double)before[x->w - r->m.params + i];
          const double kept = (1 - decays * lr * ROWS[row].wd) * was;
          worst = larger(worst, fabs(now - (kept - lr * shrink * g)));
          square += g * g;
          moved += (now - kept) * (now - kept);
        }
      }
      within(t, worst, 0, 4 * REAL_EPS, "%s: parameters", flags);
      within(t, sqrt(square) / r->norm, 1, 2e-5, "%s: norm", flags);
      within(t, sqrt(moved) / lr / clip, 1, 2e-4, "%s: norm of the step",
             flags);
      within(t, r->lr, lr, 1e-15, "%s: rate of step %d", flags, step);
      fact(t, r->norm > 0.02, "%s: norm %g", flags, r->norm);
    }
  }
}

/* AdamW's first step is lr, whatever the gradient's size. */
static void trainer_step__adamw_first(Test *t) {
  int near = 0;
  Trainer *r = trainer_of(t, "--lr 0.5 --warmup 0 --wd 0");
  real *before = reals_of(t, r->m.count);
  copy(before, r->m.params, r->m.count);
  steps_of(t, r, 1);
  for (idx i = 0; i < r->m.count; i++)
    near += fabs(fabs((double)r->m.params[i] - (double)before[i]) - 0.5) < 1e-3;
  fact(t, near > r->m.count / 3, "%d of %lld parameters moved by lr", near,
       r->m.count);
}

/* Each of AdamW's own flags reaches the step. */
static void trainer_step__adamw_flags(Test *t) {
  static const char *const FLAGS[] = {"--beta1 0.5", "--beta2 0.5",
                                      "--adam-eps 1e-2"};
  Trainer *one = trainer_of(t, "");
  steps_of(t, one, 3);
  EACH (i, FLAGS) {
    Trainer *r = trainer_of(t, FLAGS[i]);
    steps_of(t, r, 3);
    fact(t, distance(one->m.count, one->m.params, r->m.params) > 1e-4,
         "%s changes nothing", FLAGS[i]);
  }
}

/* A gradient that is not finite ends the step before it moves anything. */
static void trainer_finish__bad_gradient(Test *t) {
  Trainer *r = trainer_of(t, "");
  steps_of(t, r, 1);
  const Tensor *x = model_tensor(&r->m, "l0.wq");
  const real was = x->w[1];
  x->d[0] = (real)NAN;
  fact(t,
       trainer_finish(r, 1, fresh(t)) == 1 &&
           strstr(t->e.text, "the gradient of l0.wq") && r->step == 1 &&
           x->w[1] == was,
       "%s", t->e.text);
}

/* A run that breaks says at which step and in which tensor or block. */
static void trainer_step__diverges(Test *t) {
  static const struct {
    const char *flags, *tensor;
    double value;
    const char *said;
  } ROWS[] = {
    {"--layers 3", "l1.w1", NAN, "block 2 of 3, after its heads: "},
    {"--layers 3", "l0.wo", INFINITY, "block 1 of 3, after its heads: "},
    {"--layers 3 --place post", "l2.w3", NAN,
     "block 3 of 3, after its heads: "},
    /* every block is sound, the unembedding is not */
    {"", "wcls", INFINITY, ""}};
  Progress p = {0};
  EACH (i, ROWS) {
    Trainer *r = trainer_of(t, ROWS[i].flags);
    model_tensor(&r->m, ROWS[i].tensor)->w[0] = (real)ROWS[i].value;
    fact(t,
         trainer_step(r, fresh(t)) == 1 && strstr(t->e.text, ROWS[i].said) &&
             strstr(t->e.text, "Try: a smaller --lr") && r->step == 0 &&
             !strstr(t->e.text, "-1") && !strncmp(t->e.text, "step 0: ", 8),
         "%s: %s", ROWS[i].tensor, t->e.text);
    snprintf(r->s.log, sizeof r->s.log, SCRATCH "/log%d", i);
    /* nor does an evaluation pass over it */
    for (int look = 0; look < 3; look++) {
      r->loss = 1;
      int status = 0;
      if (look == 0)
        status = held_loss(&r->norm, r, 4, fresh(t));
      else if (look == 1)
        status = look_at_sink(r, &p, fresh(t));
      else
        status = train_run(r, &p, fresh(t));
      fact(t,
           status == 1 && strstr(t->e.text, ROWS[i].said) &&
               strstr(t->e.text, "diverges") &&
               !strncmp(t->e.text, "step 0: ", 8) && isnan(r->loss),
           "%d: %s", look, t->e.text);
    }
    /* the log says so */
    const char *last = strstr(text_in(t, r->s.log), "\n# ");
    fact(t, last && !strncmp(last + 3, t->e.text, strlen(t->e.text)),
         "%d: no log", i);
  }
}

/* A training whose rate is too large ends so by itself, and the log has room
 * for such numbers. */
static void trainer_step__diverges_wild(Test *t) {
  static const char *const WILD[] = {
    "--optimizer sgd --clip 0 --lr 1000 --sim identity --normalizer one",
    "--clip 0 --lr 1000 --optimizer sgd --act relu --place parallel"};
  Progress p = {0};
  EACH (f, WILD) {
    char step[40];
    Trainer *r = trainer_of(t, WILD[f]);
    while (r->step < 300 && !trainer_step(r, fresh(t)))
      continue;
    snprintf(step, sizeof step, "step %ld: ", r->step);
    fact(t,
         t->e.status == 1 && !strncmp(t->e.text, step, strlen(step)) &&
             strstr(t->e.text, "NaN or infinity: this"),
         "%s: %s%s", WILD[f], step, t->e.text);
    note(t, "%.60s  ", t->e.text);
    r->norm = r->lr = p.now[NORM_RATIO] = r->loss_sum = 1e300;
    Bytes *log = bytes_of(t);
    fact(t,
         !log_line(r, &p, log, fresh(t)) && log->size > 900 &&
             !bytes_add(log, "", 1, &t->e) &&
             strlen((char *)log->at) == log->size - 1 &&
             log->at[log->size - 2] == '\n',
         "log");
  }
}

/* Block 5 cannot be had. */
static const int32_t *next_of_five(Data *d, uint64_t number, int n, Error *e) {
  (void)n;
  d->document = 7 * number;
  d->offset = (size_t)number + 1;
  if (number == 5)
    fail(e, 1, "no more. Try: less");
  return d->train.at;
}

/* A step that fails leaves the loss and the place in the text of the
 * step before. */
static void trainer_step__fails(Test *t) {
  Trainer *r = trainer_of(t, "--batch 2");
  r->data.next = next_of_five;
  steps_of(t, r, 2);
  const double loss = r->loss;
  fact(t,
       trainer_step(r, fresh(t)) == 1 && strstr(t->e.text, "no more") &&
           r->step == 2 && r->data.sample == 4 && r->data.document == 21 &&
           r->data.offset == 4 && loss > 1 && fabs(r->loss - loss) <= 0,
       "sample %llu, document %llu, loss %g", (unsigned long long)r->data.sample,
       (unsigned long long)r->data.document, r->loss);
}

/* A trainer without data and with a handful of parameters, so that a
 * checkpoint is small; every number of a run that a checkpoint keeps has a
 * value of its own. */
static bool smallest_trainer(Test *t, Trainer *r, const char *flags) {
  Error *e = fresh(t);
  scratch_open();
  *r = (Trainer){.step = 123456789,
                 .loss = 1.5,
                 .loss_sum = 1.0 / 3,
                 .loss_steps = 9,
                 .tokenizer_hash = UINT64_C(0x123456789ABCDEF0),
                 .data = {.sample = UINT64_C(1) << 40,
                          .document = 77,
                          .offset = 5,
                          .source = UINT64_C(0xFEDCBA9876543210)}};
  settings_default(&r->s);
  settings_flags(&r->s,
                 "--layers 1 --heads 1 --dim 2 --ffn 1 --vocab 4 --context 4 "
                 "--lr 3e-3 --seed 5 --fix-token 2 --eps 0.25 --T 3 "
                 "--metric-rows plus1 --input repeat --n 7 --random-tokens 1,2 "
                 "--valid 0.123456789012345678 --bos --text a --out b --log c",
                 MODEL | TRAIN | DATA | MEASURE | EVAL | GENERAL | OUTPUT |
                     ALONE,
                 e);
  settings_flags(&r->s, flags, MODEL | TRAIN | DATA, e);
  if (e->status || config_resolve(&r->s.model, e) ||
      model_create(&r->m, &r->s.model, true, e)) {
    fact(t, false, "%s", e->text);
    return false;
  }
  r->m1 = reals(r->m.count);
  r->m2 = reals(r->m.count);
  model_init(&r->m, INIT_TORCH, 5);
  for (idx i = 0; i < r->m.count; i++) {
    r->m1[i] = (real)(i + 1) / 7;
    r->m2[i] = (real)(i + 1) / 1024;
  }
  return true;
}

/* All that a checkpoint keeps comes back: every flag but paths, parameters,
 * moments, places. */
static void checkpoint__round_trip(Test *t) {
  static const char *const FLAGS[] = {
    "", "--sim elu --normalizer pnorm --pnorm 2.5 --extra kv --vbias --pos t5",
    "--norm layer --place post --act gelu --linear-bias --tied --rope-base "
    "500 --window 3 --prefix 2",
    "--optimizer sgd --schedule cosine --init authors --beta2 0.987654321 "
    "--sink-token 16 --data-tokens 12345",
    "--batch 3 --accumulate 2 --steps 77 --warmup 9 --min-lr 1e-3 --wd 0.3 "
    "--decay matrices --clip 2 --beta1 0.8 --adam-eps 1e-7 --kernel mlp "
    "--combine add --norm-eps 1e-6 --scale 0.5"};
  enum { ROWS = sizeof FLAGS / sizeof *FLAGS };
  Trainer r, back;
  Settings none;
  settings_default(&none);
  for (int f = 0; f < 2 * ROWS; f++) {
    bool moments = f < ROWS;
    if (!smallest_trainer(t, &r, FLAGS[f % ROWS]))
      return;
    Bytes *b = checkpoint_of(t, &r, moments);
    fact(t, !checkpoint_load(SCRATCH "/model.ckpt", true, &back, fresh(t)),
         "%s", t->e.text);
    if (t->e.status)
      return;
    for (const Option *o = OPTIONS; o->flag; o++) {
      char x[PATH_ROOM], y[PATH_ROOM];
      option_text(o, &r.s, x, sizeof x);
      option_text(o, &back.s, y, sizeof y);
      if (o->groups & KEPT)
        fact(t, !strcmp(x, y), "--%s %s comes back as %s", o->flag, x, y);
    }
    fact(t, !back.s.out[0] && !back.s.log[0], "where it was written is kept");
    fact(t, same_numbers(r.m.count, r.m.params, back.m.params), "parameters");
    fact(t,
         moments
             ? back.m1 && back.m2 && same_numbers(r.m.count, r.m1, back.m1) &&
                   same_numbers(r.m.count, r.m2, back.m2)
             : !back.m1 && !back.m2,
         "moments");
    fact(t,
         back.step == r.step && back.tokenizer_hash == r.tokenizer_hash &&
             back.data.sample == r.data.sample && back.data.document == 77 &&
             back.data.offset == 5,
         "places: step %ld", back.step);
    fact(t,
         !moments ||
             (back.loss == r.loss && back.loss_sum == r.loss_sum &&
              back.loss_steps == 9 && back.data.source == r.data.source),
         "the run: loss %g", back.loss);
    Bytes *again = checkpoint_of(t, &back, moments);
    fact(t, bytes_same(again, b), "%s: written again, other bytes",
         FLAGS[f % ROWS]);
    trainer_free(&back);
    fact(t,
         !checkpoint_read(b->at, b->size, "x", false, &back, fresh(t)) &&
             !back.m1 && !back.m.grads,
         "to evaluate: %s", t->e.text);
    trainer_free(&back);
    trainer_free(&r);
  }
}

/* Whether these bytes are refused as a checkpoint in one line, with nothing
 * left to free. */
static bool checkpoint_refused(const unsigned char *at, size_t n,
                               const char *said) {
  Error e = {0};
  Trainer r;
  Settings none;
  unsigned char *copied = exactly(at, n);
  settings_default(&none);
  bool no = checkpoint_read(copied, n, "x.ckpt", true, &r, &e) == 1 &&
            !strncmp(e.text, "x.ckpt: expected ", 17) &&
            strstr(e.text, ". Try: ") && !strchr(e.text, '\n') &&
            strstr(e.text, said);
  if (!e.status)
    trainer_free(&r);
  free(copied);
  return no;
}

static void checkpoint_read__damage(Test *t) {
  Trainer r;
  if (!smallest_trainer(t, &r, ""))
    return;
  Bytes *b = checkpoint_of(t, &r, true);
  for (size_t n = 0; n < b->size; n++)
    fact(t, checkpoint_refused(b->at, n, "expected"), "cut to %zu bytes", n);
  for (size_t i = 0; i < b->size; i++) {
    b->at[i] ^= (unsigned char)(1 << i % 8);
    fact(t, checkpoint_refused(b->at, b->size, "expected"), "byte %zu changed",
         i);
    b->at[i] ^= (unsigned char)(1 << i % 8);
  }
  bytes_add(b, "", 1, fresh(t));
  fact(t, checkpoint_refused(b->at, b->size, "damaged"), "a byte more");
  note(t, "%zu bytes", b->size);
  trainer_free(&r);
}

/* Replaces the first `was` in b by `by`, of any length, and puts the length of
 * the text right. */
static bool replaced(Bytes *b, const char *was, const char *by) {
  const size_t n = strlen(was), m = strlen(by);
  const size_t text = (size_t)number_at(b->at + 16, 8);
  size_t at = 0;
  Error e = {0};
  Bytes out = {0};
  while (at + n <= b->size && memcmp(b->at + at, was, n))
    at++;
  if (at + n > b->size)
    return false;
  bytes_add(&out, b->at, 16, &e);
  bytes_number(&out, text + m - n, 8, &e);
  bytes_add(&out, b->at + 24, at - 24, &e);
  bytes_add(&out, by, m, &e);
  bytes_add(&out, b->at + at + n, b->size - at - n, &e);
  bytes_free(b);
  *b = out;
  return true;
}

/* Wrong contents: in the head, where a number of so many bytes is, its new
 * value, and what is said; in the text, a line, and what it becomes. */
enum { SHORTER = -12, LONGER = -1 }; /* the file, by 12 bytes and by 8 */
static const struct {
  int at, bytes;
  uint64_t value;
  const char *said;
} HOSTILE_NUMBERS[] = {
  {0, 1, 'X', "expected a checkpoint"}, {8, 4, 2, "version"},
  {8, 4, UINT32_MAX, "version"}, {12, 4, 2, ""}, {12, 4, 12, ""},
  {16, 8, 0, ""}, {16, 8, 1, ""}, {16, 8, UINT64_MAX, ""},
  {16, 8, UINT64_MAX - 60, ""}, {16, 8, INT64_MAX, ""}, {16, 8, 100000, ""},
  {SHORTER, 0, 0, ""}, {LONGER, 0, 0, ""}};
static const char *const HOSTILE_TEXTS[][2] = {
  {"layers 1\n", "layers 0\n"}, {"layers 1\n", "layers 2000000000\n"},
  {"heads 1\n", "heads 0\n"}, {"layers 1\n", "layers -1\n"},
  {"accumulate 1\n", "accumulate 0\n"}, {"vocab 4\n", "vocab 0\n"},
  {"heads 1\n", "heads -1\n"}, {"fix-token 2\n", "fix-token -2\n"},
  {"window 0\n", "window -5\n"}, {"dim 2\n", "dim 0\n"},
  {"kv-heads 1\n", "kv-heads -1\n"}, {"pos rotary\n", "pos nowhere\n"},
  {"dim 2\n", "dim -2\n"}, {"layers 1\n", "layers 1e300\n"},
  {"context 4\n", "context -4\n"}, {"ffn 1\n", "ffn -1\n"},
  {"sim exp\n", "sim identity\n"}, {"layers 1\n", "layers inf\n"},
  {"ffn 1\n", "ffn 0\n"}, {"layers 1\n", "layers nan\n"},
  {"layers 1\n", "layers 1.5\n"}, {"vocab 4\n", "vocab -4\n"},
  {"layers 1\n", "layers 1 2\n"}, {"prefix 0\n", "prefix -1\n"},
  {"vocab 4\n", "vocab 5\n"}, {"dim 2\n", "dim 1048576\n"},
  {"layers 1\n", "nobody 1\n"}, {"layers 1\n", "layers\n"},
  {"scale 1\n", "scale nan\n"}, {"batch 8\n", "batch -8\n"},
  {"tied 0\n", "tied 7\n"}, {"norm-eps", "norm-EPS"},
  {"random-tokens 1,2\n",
   "random-tokens 1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,"
   "17,18,19,20,21,22,23,24,25,26,27\n"}};

/* Those under a right checksum are refused, and a wrong number of
 * parameters. */
static void checkpoint_read__hostile(Test *t) {
  enum {
    N = sizeof HOSTILE_NUMBERS / sizeof *HOSTILE_NUMBERS,
    M = sizeof HOSTILE_TEXTS / sizeof *HOSTILE_TEXTS
  };
  Trainer r;
  if (!smallest_trainer(t, &r, ""))
    return;
  Bytes *b = checkpoint_of(t, &r, false);
  const int count = 24 + (int)number_at(b->at + 16, 8) + 44;
  for (int i = 0; i < N + M + 8; i++) {
    Bytes *w = bytes_of(t);
    bytes_add(w, b->at, b->size, fresh(t));
    const char *what = "a number";
    if (i < N) {
      const int at = HOSTILE_NUMBERS[i].at;
      for (int k = 0; k < HOSTILE_NUMBERS[i].bytes; k++)
        w->at[at + k] = (unsigned char)(HOSTILE_NUMBERS[i].value >> 8 * k);
      if (at == SHORTER)
        w->size -= 12;
      if (at == LONGER)
        bytes_number(w, 0, 8, &t->e);
    } else if (i < N + M) {
      const char *const *text = HOSTILE_TEXTS[i - N];
      fact(t, replaced(w, text[0], text[1]), "no %s", text[0]);
      what = text[1];
    } else
      w->at[count + i - N - M] ^= 1; /* of the number of parameters */
    seal(w);
    fact(t,
         checkpoint_refused(w->at, w->size,
                            i < N ? HOSTILE_NUMBERS[i].said : ""),
         "%d is read: %s", i, what);
  }
  r.step = 8;
  b = checkpoint_of(t, &r, true);
  fact(t, checkpoint_refused(b->at, b->size, "damaged"),
       "a look 9 steps ago, after 8");
  trainer_free(&r);
}

/* A file of the other precision: the same numbers, rounded. */
static void checkpoint_read__other_precision(Test *t) {
  enum { OTHERS = sizeof(real) == 4 ? 8 : 4 };
  Trainer r, back;
  if (!smallest_trainer(t, &r, ""))
    return;
  Bytes *b = checkpoint_of(t, &r, true), *w = bytes_of(t);
  const size_t run = b->size - 40;
  const size_t head = 24 + (size_t)number_at(b->at + 16, 8) + 52;
  const real *parts[3] = {r.m.params, r.m1, r.m2};
  bytes_add(w, b->at, head, fresh(t));
  w->at[12] = OTHERS;
  for (idx i = 0; i < 3 * r.m.count; i++) {
    double d = (double)parts[i / r.m.count][i % r.m.count];
    bytes_number(w, OTHERS == 4 ? bits_of((float)d) : bits_of_double(d), OTHERS,
                 &t->e);
  }
  const size_t numbers = w->size;
  bytes_add(w, b->at + run, 40, &t->e);
  seal(w);
  Settings none;
  settings_default(&none);
  bool read = !checkpoint_read(w->at, w->size, "x", true, &back, &t->e);
  fact(t, read && back.loss_sum == r.loss_sum, "%s", t->e.text);
  if (!read)
    return;
  /* moments, and nothing of the run behind them */
  w->size = numbers + 8;
  /* what follows is not what is said */
  for (unsigned char part = 0; part < 8; part++) {
    w->at[head - 12] = part;
    seal(w);
    fact(t, checkpoint_refused(w->at, w->size, "damaged"), "parts %d", part);
  }
  real *const found[3] = {back.m.params, back.m1, back.m2};
  for (idx i = 0; i < 3 * r.m.count; i++) {
    real want = (real)(float)parts[i / r.m.count][i % r.m.count];
    fact(t, found[i / r.m.count][i % r.m.count] == want, "number %lld", i);
  }
  trainer_free(&r);
  trainer_free(&back);
}

/* A run that stops anywhere and goes on has the bits of one that does not: in a
 * text's second pass, in the middle of a grammar's document, in a shard.
 * Another shard is refused by its name. */
static void checkpoint__continues(Test *t) {
  static const char *const FLAGS[] = {
    FROM_TEXT, FROM_TEXT "--data-tokens 700 --accumulate 3",
    "--first-tokens 4 --optimizer muon",
    FROM_TEXT "--first-tokens text --fix-token 2",
    "--data-tokens 900 --random-tokens 2 --bos",
    "--optimizer sgd --schedule cosine --extra k",
    "--tokens " SCRATCH "/1.bin --end-token 0 --vocab 500 --bos --fix-token 2"};
  Settings s;
  Trainer on;
  Error e = {0};
  Bytes *shard = bytes_of(t);
  Rng r = {4};
  int32_t ids[3000];
  tale_files(t);
  for (int i = 0; i < 3000; i++)
    ids[i] = (int32_t)rng_below(&r, 60);
  shard_bytes(shard, ids, 3000, true);
  file_write(SCRATCH "/1.bin", shard->at, shard->size, &e);
  shard_bytes(shard, ids + 1, 2999, true);
  file_write(SCRATCH "/2.bin", shard->at, shard->size, &e);
  for (int k = 0; k < 14; k++) {
    const char *flags = FLAGS[k % 7];
    Trainer *whole = trainer_of(t, flags), *half = trainer_of(t, flags);
    if (!resume_settings_of(t, &s, flags, "", "/on.ckpt", NULL, 0))
      return;
    s.program = &GOES_ON;
    steps_of(t, whole, 12);
    steps_of(t, half, k < 7 ? 6 : k - 3);
    Bytes *end = checkpoint_of(t, whole, true),
          *middle = checkpoint_of(t, half, true);
    fact(t, middle->size == end->size && !bytes_same(middle, end),
         "all steps give no more");
    file_write(s.out, middle->at, middle->size, &e);
    if (trainer_begin(&on, &s, "", &e)) {
      fact(t, false, "%s", e.text);
      return;
    }
    fact(t,
         on.loss == half->loss && on.loss_sum == half->loss_sum &&
             on.step == half->step,
         "the last step's loss is %g, not %g", on.loss, half->loss);
    Trainer *const rest[] = {&on, half};
    EACH (i, rest) {
      within(t, steps_of(t, rest[i], 12), whole->loss, 0, "loss of step 12");
      Bytes *again = checkpoint_of(t, rest[i], true);
      fact(t, bytes_same(again, end), "%s: another file (%d)", flags, i);
    }
    trainer_free(&on);
  }
  snprintf(s.data.tokens, sizeof s.data.tokens, SCRATCH "/2.bin");
  fact(t,
       trainer_begin(&on, &s, "", &e) == 1 &&
           strstr(e.text, "found another in " SCRATCH "/2.bin. Try"),
       "another shard: %s", e.text);
}

#define ON "/on.ckpt"
static const struct {
  const char *flag, *value, *out;
  int step, status;
  const char *said;
} RESUMED[] = {
  {"--lr", "0.01", ON, 4, 0, ""},
  {"--variant", "alibi", ON, 0, 2, "--pos alibi: "},
  {"--lr", "0.02", ON, 0, 2, "--lr 0.02: "}, {"--heads", "2", ON, 4, 0, ""},
  {"--heads", "3", ON, 0, 2, "--heads 3: "},
  {"--save-every", "2", ON, 4, 0, ""}, {"--kv-heads", "2", ON, 4, 0, ""},
  {"--random-tokens", "3", ON, 0, 2, "has none"},
  {"--seed", "4", ON, 0, 2, "has 3"},
  {"--first-tokens", "4", ON, 0, 2, "has none"},
  {"--kv-heads", "1", ON, 0, 2, "--kv-heads 1: "},
  {"--threads", "3", ON, 4, 0, ""}, {"--steps", "40", ON, 4, 0, ""},
  {"--batch", "8", ON, 0, 2, "--batch 8: "}, {"--steps", "4", ON, 4, 0, ""},
  {"--sim", "sigmoid", ON, 0, 2, "has exp"}, {"--log-every", "2", ON, 4, 0, ""},
  {"--n", "50", ON, 4, 0, ""}, {"--eps", "0.2", ON, 0, 2, "--eps 0.2: "},
  {"--steps", "3", ON, 0, 2, "has already done 4"},
  {"--grammar", SCRATCH "/other.grammar", ON, 0, 1,
   "the text it was trained on"},
  {"--text", SCRATCH "/tale.txt", ON, 0, 1,
   "expected the text it was trained on"},
  {"--tokenizer", SCRATCH "/other.tok", ON, 0, 1, "expected the tokenizer"},
  {"--out", SCRATCH "/bare.ckpt", ON, 0, 1, "has only parameters"},
  {"--out", SCRATCH "/tale.tok", ON, 0, 1, "expected a checkpoint"},
  {"--out", SCRATCH "/none", ON, 0, 0, ""}};

/* --resume: every flag may be repeated, and but for three none be changed.
 * Other data and files are told apart. */
static void trainer_begin__refuses(Test *t) {
  Settings s;
  Trainer run, *on = trainer_of(t, "");
  Error e = {0};
  Tokenizer k;
  steps_of(t, on, 4);
  checkpoint_write(SCRATCH "/on.ckpt", on, &e);
  parameters_write(SCRATCH "/bare.ckpt", on, &e);
  file_write(SCRATCH "/other.grammar", TALE, strlen(TALE) - 1, &e);
  if (!tokenizer_train(&k, (const unsigned char *)TALE, strlen(TALE), 300, &e))
    tokenizer_save(SCRATCH "/other.tok", &k, &e);
  fact(t, !e.status, "%s", e.text);
  EACH (i, RESUMED) {
    const char *flag = RESUMED[i].flag, *value = RESUMED[i].value;
    char *argv[2] = {(char *)(uintptr_t)flag, (char *)(uintptr_t)value};
    if (!resume_settings_of(t, &s, "", "", RESUMED[i].out, argv, 2))
      return;
    s.program = &GOES_ON;
    if (!strcmp(flag, "--text"))
      s.data.grammar[0] = 0;
    const int status = trainer_begin(&run, &s, "", fresh(t));
    fact(t,
         status == RESUMED[i].status && strstr(t->e.text, RESUMED[i].said) &&
             (!status ||
              (strstr(t->e.text, "Try: ") && !strchr(t->e.text, '\n'))),
         "row %d, %s %s: status %d, %s", i, flag, value, status, t->e.text);
    if (status)
      continue;
    fact(t,
         run.step == RESUMED[i].step && run.m.c.heads == 2 && run.start == 0 &&
             (strcmp(flag, "--steps") || run.s.train.steps == atoi(value)),
         "row %d, %s %s: step %ld of %d", i, flag, value, run.step,
         run.s.train.steps);
    trainer_free(&run);
  }
  tokenizer_free(&k);
}

/* A training of 20 steps, with looks every third, stopped as by Ctrl-C: without
 * a last look. */
static Trainer *stopped_at(Test *t, const char *flags, int stop) {
  Trainer *part = trainer_of(t, flags);
  while (part->step < stop && !trainer_step(part, fresh(t)))
    if (part->step % 3 == 0 || part->step == 20) {
      part->loss_steps = 0;
      part->loss_sum = 0;
    }
  fact(t, part->step == stop, "stopped at %ld: %s", part->step, t->e.text);
  return part;
}

/* The log of a run that goes on: what came after the checkpoint is cut off and
 * written again, and a file with a gap, or of something else, is refused and
 * stays as it was. */
static void train_run__continues_the_log(Test *t) {
  static const char FLAGS[] =
      "--extra k --steps 20 --log-every 3 --first-tokens 5";
  static const int STOPS[] = {1, 6, 20}; /* in between, behind a line, done */
  Settings s;
  Trainer on, *r = trainer_of(t, FLAGS);
  Progress p;
  Error e = {0};
  snprintf(r->s.log, sizeof r->s.log, SCRATCH "/whole.csv");
  snprintf(r->s.out, sizeof r->s.out, SCRATCH "/whole.ckpt");
  p = (Progress){.name = "test"};
  fact(t, !train_run(r, &p, &e), "%s", e.text);
  const Bytes log = *file_of(t, SCRATCH "/whole.csv");
  /* the line of --first-tokens */
  const unsigned char *drawn = memchr(log.at, '\n', log.size);
  const size_t head =
      (size_t)((unsigned char *)memchr(drawn + 1, '\n', 200) - log.at) + 1;
  EACH (k, STOPS) {
    const int stop = STOPS[k];
    const struct {
      size_t cut;
      const char *tail;
      bool good;
    } ROWS[] = {
      {log.size, "", true}, {log.size - 20, "", stop < 20},
      {log.size, "99,1,2", true},
      {log.size, "# step 7: NaN\n", true}, {log.size, "# step 2: a\n9", true},
      {0, "", false}, {head, "", stop < 3}, {30, "", false},
      {head, "7", stop < 3}};
    Trainer *part = stopped_at(t, FLAGS, stop);
    EACH (i, ROWS) {
      Bytes *left = bytes_of(t);
      if (!resume_settings_of(t, &s, FLAGS, "", "/on.ckpt", NULL, 0))
        return;
      s.program = &GOES_ON;
      checkpoint_write(s.out, part, &e);
      snprintf(s.log, sizeof s.log, SCRATCH "/on.csv");
      bytes_add(left, log.at, ROWS[i].cut, &e);
      bytes_add(left, ROWS[i].tail, strlen(ROWS[i].tail), &e);
      file_write(s.log, left->at, left->size, &e);
      if (trainer_begin(&on, &s, "", &e)) {
        fact(t, false, "%s", e.text);
        return;
      }
      p = (Progress){.name = "test"};
      const int status = train_run(&on, &p, fresh(t));
      fact(t, status == !ROWS[i].good, "stop %d, log %d: %d, %s", stop, i,
           status, t->e.text);
      fact(t, bytes_same(file_of(t, s.log), status || stop == 20 ? left : &log),
           "stopped at %d, log %d: another file", stop, i);
      fact(t, status || (p.looks == 7 && p.look[6].step == 20), "%d looks",
           p.looks);
      trainer_free(&on);
    }
  }
  fact(t, !e.status, "%s", e.text);
}

/* A disk that is full and a name that cannot be taken: one line, and the old
 * file is whole. */
static void checkpoint_write__no_room(Test *t) {
  Trainer r;
  if (!smallest_trainer(t, &r, ""))
    return;
#ifdef _WIN32
  t->skip = "no limit on a file's size here";
#else
  struct rlimit room, little;
  Bytes *b = checkpoint_of(t, &r, true);
  if (getrlimit(RLIMIT_FSIZE, &room))
    t->skip = "no limit on a file's size here";
  else {
    little = room;
    little.rlim_cur = 64;
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &little);
    r.step++;
    int status = checkpoint_write(SCRATCH "/model.ckpt", &r, fresh(t));
    setrlimit(RLIMIT_FSIZE, &room);
    fact(t,
         status == 1 && strstr(t->e.text, "Try: ") &&
             strstr(t->e.text, "model.ckpt: cannot be written"),
         "no room: %s", t->e.text);
    fact(t, bytes_same(file_of(t, SCRATCH "/model.ckpt"), b),
         "the old file is gone");
    fact(t, file_missing(SCRATCH "/model.ckpt.new"),
         "something is left beside it");
    fact(t,
         !system("mkfifo " SCRATCH "/pipe") &&
             checkpoint_write(SCRATCH "/pipe", &r, fresh(t)) == 1 &&
             !system("test -p " SCRATCH "/pipe"),
         "a pipe: %s", t->e.text);
  }
#endif
  fact(t,
       !make_folder(SCRATCH "/folder") &&
           checkpoint_write(SCRATCH "/folder", &r, fresh(t)) == 1 &&
           strstr(t->e.text, "Try: "),
       "a folder's name: %s", t->e.text);
  fact(t, file_missing(SCRATCH "/folder.new"), "left beside the folder");
  trainer_free(&r);
}

/* A run: a line of the log every --log-every steps and at the end, the last
 * step's checkpoint. */
static void train_run__leaves(Test *t) {
#define TEN "--extra k --steps 10 --accumulate 2 "
  Trainer back, *by_hand = trainer_of(t, TEN);
  Trainer *r = trainer_of(t, TEN "--log-every 4 --save-every 3");
  Progress p;
  Error e = {0};
  snprintf(r->s.log, sizeof r->s.log, SCRATCH "/log.csv");
  snprintf(r->s.out, sizeof r->s.out, SCRATCH "/run.ckpt");
  p = (Progress){.name = "test"};
  fact(t, !train_run(r, &p, &e) && r->step == 10, "%s", e.text);
  char *log = text_in(t, SCRATCH "/log.csv");
  int lines = 0;
  long step = -1;
  double tokens = 0, loss = 0, alpha1 = 0, star = 0, mean = 0;
  for (char *line = strtok(log, "\n"); line;
       line = strtok(NULL, "\n"), lines++) {
    int n = sscanf(line, "%ld,%lf,%lf,%*f,%*f,%lf,%*f,%lf", &step, &tokens,
                   &loss, &alpha1, &star);
    if (!lines)
      fact(t, !strncmp(line, "step,tokens,loss,norm,lr,alpha_1,", 33), "%s",
           line);
    else
      fact(t,
           n == 5 && step == (lines < 3 ? 4 * lines : 10) &&
               tokens == (double)step * 128,
           "line %d: %s", lines, line);
  }
  fact(t, lines == 4, "%d lines", lines);
  /* the mean of the steps since the line before */
  for (int k = 8; k <= 10; k++)
    mean = steps_of(t, by_hand, k) / 2 + (k > 9 ? mean : 0);
  within(t, loss, mean, 1e-6, "the last line's loss");
  within(t, alpha1, p.now[ALPHA_1], 1e-6, "the last line's alpha_1");
  within(t, star, p.now[ALPHA_STAR], 1e-6, "the last line's alpha_*");
  fact(t, star > 0 && alpha1 > 0 && star + alpha1 < 2, "alpha_* %g, alpha_1 %g",
       star, alpha1);
  if (!checkpoint_load(SCRATCH "/run.ckpt", false, &back, &e)) {
    fact(t,
         back.step == 10 &&
             same_numbers(r->m.count, r->m.params, back.m.params),
         "the checkpoint is another's");
    trainer_free(&back);
  }
  fact(t, !e.status, "%s", e.text);
}

/* A log that has no room leaves the model. */
static void train_run__no_log(Test *t) {
  Trainer back, *r = trainer_of(t, "--steps 3");
  Progress p;
  Error e = {0};
  p = (Progress){.name = "test"};
  snprintf(r->s.log, sizeof r->s.log, SCRATCH "/full.csv");
  snprintf(r->s.out, sizeof r->s.out, SCRATCH "/full.ckpt");
  file_write(SCRATCH "/full.csv.new/file", "", 0, &e);
  fact(t,
       train_run(r, &p, fresh(t)) == 1 &&
           strstr(t->e.text, "full.csv.new: cannot be created"),
       "%s", t->e.text);
  fact(t,
       !checkpoint_load(SCRATCH "/full.ckpt", false, &back, &e) &&
           back.step == 3,
       "%s", e.text);
  if (!e.status)
    trainer_free(&back);
}

/* Ctrl-C at step 3; with --log-every 7 an error. */
static int stops_at_3(Trainer *t, const Progress *p, Error *e) {
  (void)p;
  if (t->step != 3)
    return 0;
  if (t->s.train.log_every == 7)
    return fail(e, 1, "no more. Try: less");
  raise(SIGINT);
  return 0;
}

/* A training that is stopped or fails has its checkpoint and is no success; a
 * second signal ends the program. */
static void train_run__stops(Test *t) {
  static const Program WATCHED = {.name = "sink", .watch = stops_at_3};
  static const char *const FLAGS[] = {
      "--steps 9", "--steps 9 --log-every 7 --save-every 2"};
  static const char *const SAYS[] = {"stopped at step 3 of 9; --out has",
                                     "no more"};
  for (int k = 0; k < 2; k++) {
    Trainer back;
    Trainer *r = trainer_of(t, FLAGS[k]);
    Progress p = {.name = "test"};
    r->s.program = &WATCHED;
    r->s.watched = (struct Films *)r;   /* not NULL: the program watches */
    snprintf(r->s.out, sizeof r->s.out, SCRATCH "/stop%d.ckpt", k);
    fact(t,
         train_run(r, &p, fresh(t)) == 1 && r->step == 3 &&
             strstr(t->e.text, SAYS[k]),
         "%s", t->e.text);
    interrupted = 0;
    fact(t, k || signal(SIGTERM, SIG_DFL) == SIG_DFL,
         "a second signal does not end it");
    fact(t,
         !checkpoint_load(r->s.out, false, &back, fresh(t)) && back.step == 3,
         "%s", t->e.text);
    if (!t->e.status)
      trainer_free(&back);
  }
}

/* From step 1 on neither a step nor the log can be written. */
static int breaks_at_1(Trainer *t, const Progress *p, Error *e) {
  (void)p;
  if (t->step != 1)
    return 0;
  t->m.wcls.w[0] = NAN;
  return file_write(SCRATCH "/also.csv.new/file", "", 0, e);
}

/* A training that diverges and then cannot write its log says both; one that
 * the log alone ends says it once. */
static void train_run__says_also(Test *t) {
  static const Program WATCHED = {.name = "sink", .watch = breaks_at_1};
  static const char *const FLAGS[] = {"--steps 9", "--steps 9 --save-every 1"};
  for (int k = 0; k < 2; k++) {
    Trainer *r = trainer_of(t, FLAGS[k]);
    Progress p = {.name = "test"};
    int was = dup(2);
    FILE *to = fopen(SCRATCH "/also", "w");
    r->s.program = &WATCHED;
    r->s.watched = (struct Films *)r;   /* not NULL: the program watches */
    snprintf(r->s.log, sizeof r->s.log, SCRATCH "/also.csv");
    dup2(fileno(to), 2);
    const int status = train_run(r, &p, fresh(t));
    fflush(stderr);
    dup2(was, 2);
    close(was);
    fclose(to);
    const char *log = "also.csv.new: cannot be created";
    fact(t, status == 1 && (strstr(t->e.text, log) != NULL) == k, "%s",
         t->e.text);
    const char *said = text_in(t, SCRATCH "/also");
    fact(t, (strstr(said, log) == NULL) == k, "%d: %s", k, said);
  }
}

/* Each number of a line of the log stands in its column; sink_1_at_0.2 does not
 * go by --eps. */
static void log_line__columns(Test *t) {
  static const double WANT[] = {
    20, 21, 1 + ALPHA_1, 1 + SINK_1, 1 + ALPHA_STAR, 1 + SINK_STAR,
    1 + NORM_RATIO, 0.5};
  Trainer *r = trainer_of(t, "--extra k --steps 4");
  Trainer *fixed = trainer_of(t, "--fix-token 1");
  Progress p = {.low = 0.5};
  Bytes *log = bytes_of(t);
  for (int k = 0; k < ROW; k++)
    p.now[k] = k + 1;
  steps_of(t, r, 4);
  r->norm = 20;
  r->lr = 21;
  log_line(r, &p, log, fresh(t));
  bytes_add(log, "", 1, &t->e);
  EACH (i, WANT)
    within(t, number_after((char *)log->at, "4,", i + 2), WANT[i], 1e-9,
           "column %d", i);
  fixed->s.eps = 1;
  fact(t,
       !look_at_sink(fixed, &p, fresh(t)) && p.now[SINK_1] == 0 && p.low > 0,
       "sink_1_at_0.2 is %g", p.low);
}

/* =============================================================================
 * 11  Evaluation */

/* [FIG4] evaluate() against the maps of one forward: alpha_k as the mean of
 * column k's weights over the rows i >= k, Sink as the share of heads and
 * sequences above eps, and the loss. */
static void evaluate__against_maps(Test *t) {
  enum { T = 10, N = 21, H = 2, L = 2 };
  static const char *const FLAGS[] = {
    "--layers 2 --eps 0.29",
    "--layers 2 --eps 0.2 --extra kv --fix-token 1 --lr 0.03",
    "--layers 2 --sim elu --normalizer one --eps 0.3 --fix-token 3 --lr 0.03"};
  EACH (f, FLAGS) {
    Trainer *r = trainer_of(t, FLAGS[f]);
    Sinks found, again;
    Acts a;
    int ids[N * T], targets[N * T], starts = 0, star = f == 1, S = T + star;
    steps_of(t, r, 20);
    if (evaluate(&found, &r->m, &r->data, &r->s, N, T, fresh(t)) ||
        evaluate(&again, &r->m, &r->data, &r->s, N, T, &t->e) ||
        acts_create(&a, &r->m, N, T, ACTS_ALL, &t->e)) {
      fact(t, false, "%s", t->e.text);
      return;
    }
    fact(t,
         data_probe(&r->data, &r->s.data, INPUT_NATURAL, N, T, ids, targets,
                    &starts) == N,
         "not %d sequences", N);
    real *maps = reals(L * N * H * T * S);
    a.probe = (Probe[L]){{.metric = maps}, {.metric = maps + N * H * T * S}};
    model_forward(&r->m, &a, ids, N, T);
    a.probe = NULL;
    within(t, found.loss, model_loss(&r->m, &a, targets, N, T, 0),
           40 * REAL_EPS, "loss");
    for (int column = 0; column < S; column++) {
      double mean = 0, over = 0;
      const int k = column - star < 0 ? 0 : column - star;
      for (int map = 0; map < L * N * H; map++) {
        double alpha = 0;
        for (int i = k; i < T; i++)
          alpha += (double)maps[(map * T + i) * S + column] / (T - k);
        mean += alpha / (L * N * H);
        over += (alpha > r->s.eps) / (double)(L * N * H);
      }
      within(t, sinks_alpha(&found, column), mean, 40 * REAL_EPS,
             "alpha of column %d", column);
      within(t, sinks_sink(&found, column, 0), over, 1e-12, "Sink of column %d",
             column);
      within(t, sinks_alpha(&again, column), sinks_alpha(&found, column), 0,
             "alpha again");
    }
    fact(t, found.n == N && again.loss == found.loss, "%d sequences", found.n);
    /* between the two ends it tells most */
    const double sink = sinks_sink(&found, star, 0);
    fact(t, sink > 0.01 && sink < 0.99, "%s: Sink_1 %g", FLAGS[f], sink);
    note(t, "Sink_1 %.3f  ", sink);
    free(maps);
    sinks_free(&found);
    sinks_free(&again);
    acts_free(&a);
  }
}

static void evaluate__refuses(Test *t) {
  static const struct {
    const char *flags;
    int T, status;
    const char *said;
  } ROWS[] = {
    {"--pos learned", 17, 2, "context ends at 16. Try: --T 16, the longest"},
    {"--pos learned --beyond", 17, 2, "the longest it has learned"},
    {"--pos learned", 16, 0, ""},
    {"--pos absolute", 17, 2, "--T 17: the model's context ends at 16"},
    {"", 17, 2, "or --beyond"},
    {"--pos absolute --beyond", 17, 0, ""}, {"--beyond", 20, 0, ""},
    {"", 16, 0, ""},
    {FROM_TEXT "--valid 1e-6", 8, 1,
     "9 tokens; on average they have 0. Try: a smaller --T"},
    {"--beyond", 400, 1, "longer documents"},
    {"--input random --beyond", 40, 0, ""},
    {"--input repeat", 8, 0, ""}};
  Sinks found;
  EACH (i, ROWS) {
    const char *flags = ROWS[i].flags;
    Trainer *r = trainer_of(t, flags);
    int status = evaluate(&found, &r->m, &r->data, &r->s, 3, ROWS[i].T,
                          fresh(t));
    fact(t,
         status == ROWS[i].status && strstr(t->e.text, ROWS[i].said) &&
             (!status || strstr(t->e.text, "Try: ")),
         "%s T %d: %s", flags, ROWS[i].T, t->e.text);
    if (!status) {
      double alpha = sinks_alpha(&found, 0);
      fact(t, found.n == 3 && found.T == ROWS[i].T && alpha > 0 && alpha < 1,
           "%s: alpha_1 %g", flags, alpha);
      sinks_free(&found);
    }
  }
}

/* The validation loss: log V before training; the mean over blocks of any
 * number of forwards. */
static void held_loss__blocks(Test *t) {
  Error e = {0};
  int ids[37 * 16], targets[37 * 16];
  Trainer *r = trainer_of(t, "--init gpt2 --fix-token 1");
  double before, after, sum = 0;
  held_loss(&before, r, 50, &e);
  within(t, before, log(320), 0.05, "an untrained model's loss, log 320");
  steps_of(t, r, 30);
  held_loss(&after, r, 37, &e);
  fact(t, after > 0 && after < before - 0.4, "%g after %g", after, before);
  fact(t, data_held(&r->data, &r->s.data, 37, 16, ids, targets) == 37, "%s",
       e.text);
  /* one by one through the trainer's own activations */
  for (int b = 0; b < 37; b++) {
    model_forward(&r->m, &r->a, ids + b * 16, 1, 16);
    sum += model_loss(&r->m, &r->a, targets + b * 16, 1, 16, 0) / 37;
  }
  within(t, after, sum, 40 * REAL_EPS, "37 blocks one by one");
}

/* =============================================================================
 * 12  The main job, and the page of an evaluation (11, 16.2) */

/* Three tiny trainings: the page holds a verdict, a line an arm, whose words
 * follow from the table's numbers by the rule printed under it, and the same
 * again for the same seed. The third run has more to learn and ends at equal
 * loss; without the sigmoid arm's scale it would not. */
static void demo_run__verdict(Test *t) {
  Settings s;
  char *page[3];
  if (!tale_open(t, &s, "--fix-token 1 --steps 12 --log-every 6"))
    return;
  for (int k = 0; k < 3; k++) {
    FILE *out = printing();
    if (k == 2)
      settings_flags(&s, "--layers 2 --context 32 --batch 2 --steps 40",
                     MODEL | TRAIN, fresh(t));
    fact(t, !demo_run(&s, out, fresh(t)), "%s", t->e.text);
    page[k] = printed(t, out);
  }
  const char *at = page[0], *table = strstr(at, " Sink_1 % ");
  fact(t, table != NULL, "no table in %.300s", at);
  if (!table)
    return;
  const double gap = number_after(table, "\nsigmoid ", 5) -
                     number_after(table, "\nsoftmax ", 5);
  within(t, number_after(table, "\nsoftmax ", 3), 1, 0, "softmax's row mass");
  within(t,
         number_after(table, "\nk-bias ", 4) +
             number_after(table, "\nk-bias ", 5),
         1, 0.0056, "alpha_* and row mass");
  fact(t, number_after(table, "\nsigmoid ", 3) < 0.5, "sigmoid's row mass");
  fact(t, strstr(page[2], "sigmoid's is equal to softmax's: ") != NULL, "%s",
       page[2]);
  within(t, number_after(at, "\nsoftmax  no sink on token 1: alpha_1 is", 0),
         number_after(table, "\nsoftmax ", 2), 0.0551, "softmax's alpha_1");
  within(t, number_after(at, "times even, alpha_1", 0),
         number_after(table, "\nk-bias ", 3), 0.0551, "k-bias's alpha_1");
  within(t, number_after(at, "\nsigmoid  no sink on token 1: alpha_1 is", 0),
         number_after(table, "\nsigmoid ", 2), 0.0551, "sigmoid's alpha_1");
  within(t, number_after(at, "softmax's:", 0), gap, 0.00101,
         "the gap of the losses");
  fact(t,
       strstr(at, "2 times even or more counts as a sink, below 1.5 as none;\n"
                  "losses within 0.05 nats count as equal.\n") &&
           strstr(at, "\nThis run took 12 of the usual 3000 steps.\nsoftmax "),
       "%s", at);
  fact(t,
       !strncmp(page[0], page[1], (size_t)(strstr(at, " s on ") - 4 - page[0])),
       "two runs differ");
}

/* The page of a demo whose arms all diverged: no verdict, but the step of
 * each. Returns the page up to the line with the time it took; *end is the
 * first arm's step. */
static char *diverged_page(Test *t, const Settings *s, const char *how,
                           int *end) {
  FILE *out = printing();
  const int status = demo_run(s, out, fresh(t));
  char *page = printed(t, out), *last = strstr(page, " s on ");
  while (last && last > page && last[-1] != '\n')
    last--;
  if (last)
    *last = 0;
  fact(t, status == 1 && strstr(t->e.text, "diverges here"),
       "%s: status %d: %s", how, status, t->e.text);
  for (int i = 0; i < 3; i++) {
    char says[60];
    snprintf(says, sizeof says, "No verdict, since %s diverged: step ",
             RUN_ARMS[i].name);
    const char *at = strstr(page, says);
    fact(t, at != NULL, "%s: %s in %s", how, says, page);
    if (at && !i)
      *end = atoi(at + strlen(says));
  }
  fact(t, !strstr(page, "Rule:") && !strstr(page, "nan"), "%s: %s", how, page);
  return page;
}

/* Arms that diverge, with a checkpoint, without one, and by their last update,
 * so that no step tells: no verdict, and --resume ends in the same page and
 * files, from all of them and from some. The third is for float: in double a
 * gradient overflows some steps before the loss does. */
static void demo_run__diverged(Test *t) {
  static const char *const HOW[] = {
      "--lr 100 --wd 10 --steps 90 --save-every 1",
      "--lr 1000 --wd 1000 --steps 90 --save-every 0",
      "--lr 100 --wd 1000 --steps 2"};
  Settings s;
  if (!tale_open(t, &s, "--warmup 0 --log-every 2"))
    return;
  s.program = &GOES_ON;
  for (int k = 0; k < (sizeof(real) == sizeof(float) ? 3 : 2); k++) {
    Bytes was[6] = {{0}};
    char *first = NULL, path[100];
    int kept = 0, end = 0;
    settings_flags(&s, HOW[k], TRAIN, fresh(t));
    snprintf(s.out, sizeof s.out, SCRATCH "/arms");
    for (int again = 0; again < 3; again++) {
      /* as if killed while the second arm ran */
      if (again == 2) {
        remove(SCRATCH "/arms/sigmoid.ckpt");
        remove(SCRATCH "/arms/sigmoid.csv");
      }
      s.resume = again > 0;
      s.force = !again;
      char *page = diverged_page(t, &s, HOW[k], &end);
      fact(t, !first || !strcmp(first, page), "%s, again %d: %s", HOW[k], again,
           page);
      for (int i = 0; i < 6; i++) {
        Bytes now = {0};
        snprintf(path, sizeof path, SCRATCH "/arms/%s.%s", RUN_ARMS[i / 2].name,
                 i % 2 ? "csv" : "ckpt");
        file_read(path, &now, fresh(t));
        fact(t, !again || bytes_same(&now, &was[i]), "%s, %d: %s changed",
             HOW[k], again, path);
        kept += !again && !(i % 2) && now.size;
        bytes_free(&was[i]);
        was[i] = now;
      }
      if (!first)
        first = page;
    }
    fact(t, kept == (k ? 0 : 3) && (k != 2 || end == 2), "%s: %d checkpoints",
         HOW[k], kept);
    note(t, "%d steps, %d checkpoints  ", end, kept);
    for (int i = 0; i < 6; i++)
      bytes_free(&was[i]);
    if (system(GONE(SCRATCH "/arms")))
      exit(1);
  }
  memset(s.out, 'a', 491);
  s.out[491] = 0;
  fact(t, demo_run(&s, stdout, fresh(t)) == 2 && strstr(t->e.text, "too long"),
       "%s", t->e.text);
}

/* Sinks of one sequence of 5 tokens at three thresholds, for a test to fill. */
static Sinks sinks_empty(Test *t, const Config *c) {
  Sinks s = {0};
  Model m;
  scratch_open();
  if (model_create(&m, c, false, fresh(t)) ||
      sinks_create(&s, &m, 5, 1, (const double[]){0.3, 0.2, 0.4}, 3, &t->e))
    exit(1);
  model_free(&m);
  s.n = 1;
  return s;
}

/* Every word of the verdict by its rule; and where no loss was measured, or the
 * job cut short. */
static void run_verdict__words(Test *t) {
  static const struct {
    double times[3], star, gap;
    int steps;
    const char *says[4];
  } ROWS[] = {
    {{2.1, 1.4, 1.4}, 2.1, 0.04, 3000, {"softmax  a sink on",
                                        "the sink moved to *",
                                        "sigmoid  no sink",
                                        "equal to softmax's"}},
    {{1.4, 1.4, 1.4}, 2.1, NAN, 400,
     {"softmax  no sink on", "k-bias   a sink on *", "sigmoid  no sink",
      "too little held-out text"}},
    {{1.6, 1.6, 1.6}, 1.9, 0.06, 3000, {"softmax  unclear on",
                                        "k-bias   unclear on *",
                                        "sigmoid  unclear", "above softmax's"}},
    {{2.1, 1.6, 2.1}, 2.1, -0.06, 4000, {"softmax  a sink on",
                                         "did not move clearly",
                                         "sigmoid  a sink", "below softmax's"}},
    {{2.1, 1, 1}, 1.9, -0.04, 2999, {"softmax  a sink on",
                                     "did not move clearly", "sigmoid  no sink",
                                     "softmax's: -0.040"}}};
  const Config c = config_of(t, "--dim 8"),
               k = config_of(t, "--dim 8 --extra k");
  EACH (r, ROWS) {
    Outcome o[3] = {{.c = c}, {.c = k}, {.c = c}};
    Bytes *said = bytes_of(t);
    for (int i = 0; i < 3; i++) {
      Sinks *s = &o[i].s;
      *s = sinks_empty(t, &o[i].c);
      o[i].even = s->even;
      o[i].loss = i == 2 ? 2 + ROWS[r].gap : 2;
      for (int h = 0; h < s->L * s->H; h++) {
        s->alpha[h * s->S] = ROWS[r].star * o[i].even;
        s->raw[h] = s->mass[h] = 1;
        s->alpha[h * s->S + config_column_first(&o[i].c)] = ROWS[r].times[i] *
                                                            o[i].even;
      }
    }
    for (int i = 0; i < 3; i++)
      sinks_row(&o[i].s, &o[i].c, o[i].loss, o[i].row);
    run_verdict(o, ROWS[r].steps, said, fresh(t));
    bytes_add(said, "", 1, &t->e);
    const char *text = (const char *)said->at,
               *cut = strstr(text, " of the usual 3000 steps.\n");
    EACH (w, ROWS[r].says)
      fact(t, strstr(text, ROWS[r].says[w]), "row %d, word %d: %s", r, w, text);
    fact(t, !cut == (ROWS[r].steps >= 3000) && !strstr(text, "nan"), "%d: %s",
         ROWS[r].steps, text);
    for (int i = 0; i < 3; i++)
      sinks_free(&o[i].s);
  }
}

/* keys_seen counts what `visible` shows, for every mask. */
static void keys_seen__as_visible(Test *t) {
  enum { N = 12 };
  for (int k = 0; k < 4 * 4 * 3; k++) {
    const int w = k % 4 * 3;
    const Config c = {.prefix = k / 4 % 4 * 2, .sink_token = k / 16};
    for (idx i = 0; i < N; i++) {
      idx seen = 0;
      for (idx j = 0; j < N; j++)
        seen += visible(&c, w, i, j);
      fact(t, keys_seen(&c, w, N, i) == seen, "row %d, mask %d", (int)i, k);
    }
  }
}

/* The page of `sink eval`, or only a map. */
static char *sinks_page(Test *t, const Sinks *s, const Config *c, int rows,
                        bool map) {
  FILE *out = printing();
  Model m;
  model_create(&m, c, false, fresh(t));
  if (map)
    heat_map("alpha", s, c, 3, out);
  else
    sinks_print(s, &m, rows, out);
  model_free(&m);
  return printed(t, out);
}

/* Blocks without attention: no rows in alpha's map, a norm alone in the table,
 * no part in a mean. */
static void sinks_print__blocks_that_attend(Test *t) {
  Config c = config_of(t, "--layers 4 --dim 8");
  Sinks s = sinks_empty(t, &c);
  /* as ./hf's Mamba blocks */
  s.attends[0] = s.attends[2] = false;
  s.heads = 2 * s.H;
  within(t, s.even, (1 + 1 / 2.0 + 1 / 3.0 + 1 / 4.0 + 1 / 5.0) / 5, 1e-12,
         "even");
  for (int h = 2; h < 8; h++)
    s.alpha[h * 5] = h / 2 % 2 ? 0.25 * (h / 4 + 1) : 0;
  within(t, sinks_alpha(&s, 0), 0.375, 1e-12,
         "alpha_1 of blocks 2 and 4, 0.25 and 0.5");
  s.over[2 * 5] = 1;
  within(t, sinks_sink(&s, 0, 0), 0.25, 1e-12,
         "one sink of four heads that attend");
  char *text = sinks_page(t, &s, &c, 1, false),
       *map = strstr(text, "alpha by layer");
  /* alone in their line */
  int norms = 0;
  for (char *at = text; (at = strstr(at, "        -\n")) != NULL; at++)
    norms++;
  fact(t,
       norms == 2 && strstr(text, "\n    1        -\n    2        -        -"),
       "%s", text);
  fact(t,
       map && !strstr(map, "\n    1 ") && strstr(map, "\n    2  0.25  0.25") &&
           !strstr(map, "\n    3 ") && strstr(map, "\n    4  0.50  0.50"),
       "%s", map);
  sinks_free(&s);
}

/* A dead model: a ratio of nothing to nothing is no 1, and its rows
 * have no entropy. */
static void sinks_print__nothing(Test *t) {
  Config c = config_of(t, "--layers 1 --dim 8");
  Sinks s = sinks_empty(t, &c);
  Numbers row = {0};
  Settings set = {.model = c, .eps = 0.3};
  sinks_finish(&s);
  char *text = sinks_page(t, &s, &c, 1, false),
       *line = strstr(text, "\n    1 ");
  fact(t,
       line &&
           !strncmp(line, "\n    1        -        -        -    0.000", 42) &&
           !strstr(text, "nan") && strstr(text, "median of its block 0: - times"),
       "%s", text);
  fact(t, line && strstr(line, "0.000        -    0.000\n"),
       "its entropy: %.90s", line);
  eval_numbers(&row, &s, &set, fresh(t));
  for (int i = 0; i < row.n; i++)
    fact(t, strcmp(row.at[i].name, "norm_ratio") || isnan(row.at[i].x),
         "a ratio of 0 to 0");
  numbers_free(&row);
  sinks_free(&s);
}

/* The diagonal and the place before it, of rows 2 .. T: behind * and x*, whose
 * row is no token's. T = 3 has (0.2 + 0.3) / 2 and (0.8 + 0.1) / 2, whatever
 * row 1 has; T = 1 has none. */
static void sinks__self_and_prev(Test *t) {
  static const struct {
    const char *flags;
    int N, S;
    double even;
  } ROWS[] = {
      {"", 3, 3, (1 / 2.0 + 1 / 3.0) / 2},
      {"--extra k", 3, 4, (1 / 3.0 + 1 / 4.0) / 2},
      {"--sink-token", 4, 4, (1 / 3.0 + 1 / 4.0) / 2},
      {"--extra zero --sink-token", 4, 5, (1 / 4.0 + 1 / 5.0) / 2},
      {"--window 1", 3, 3, 1}, {"--prefix 3", 3, 3, 1 / 3.0}};
  static const real BY_HAND[3][3] = {
      {1, 0, 0}, {(real)0.8, (real)0.2, 0}, {(real)0.6, (real)0.1, (real)0.3}};
  EACH (r, ROWS)
    for (int T = 3; T >= 1; T -= 2) {
      const Config c = config_of(t, "%s", ROWS[r].flags);
      Model model;
      Sinks s;
      real m[20] = {0};
      const int N = ROWS[r].N - 3 + T, S = ROWS[r].S - 3 + T;
      for (int i = 0; i < T; i++)
        for (int j = 0; j < T; j++)
          m[(N - T + i) * S + S - T + j] = BY_HAND[i][j];
      for (int j = 0; j < S - T; j++)
        m[j] = m[(N - 1) * S + j] = 9;
      if (model_create(&model, &c, false, fresh(t)) ||
          sinks_create(&s, &model, T, 1, (double[]){0.3}, 1, &t->e))
        exit(1);
      fact(t, s.N == N && s.S == S, "%d rows, %d columns", s.N, s.S);
      measure_head(&s, &c, METRIC_REAL, 1, m, m);
      within(t, s.self[1], T > 1 ? 0.25 : 0, 1e-7, "alpha_self, %s",
             ROWS[r].flags);
      within(t, s.prev[1], T > 1 ? 0.45 : 0, 1e-7, "alpha_prev, %s",
             ROWS[r].flags);
      within(t, s.even_self, T > 1 ? ROWS[r].even : 1, 1e-12, "even, %s",
             ROWS[r].flags);
      sinks_free(&s);
      model_free(&model);
    }
}

/* [FIG19] Maps and the page of `sink eval`, read back as numbers. */
static void heat_map__print_alpha(Test *t) {
  Config c = config_of(t, "--layers 3 --heads 2 --dim 8 --extra k --context 5");
  Sinks s = sinks_empty(t, &c);
  s.loss = 1.5;
  for (int i = 0; i < 3 * 2 * 6; i++)
    s.alpha[i] = (double)(i % 6) / 10 + (double)(i / 6) / 100;
  for (int i = 0; i < 3 * 3 * 2 * 6; i++)
    s.over[i] = i / 36 == 1;
  for (int i = 1; i < 36; i += 6)
    s.over[i] = 0.25;
  for (int i = 0; i < 6; i++) {
    s.self[i] = 0.1 * i;
    s.prev[i] = 0.2 * i;
  }
  char *text = sinks_page(t, &s, &c, 0, true);
  for (int l = 0; l < 3; l++) {
    char row[20];
    snprintf(row, sizeof row, "\n    %d ", l + 1);
    for (int h = 0; h < 2; h++)
      within(t, number_after(text, row, h), s.alpha[(l * 2 + h) * 6 + 3],
             0.0051, "%d, %d", l, h);
  }
  fact(t, strstr(text, "token 3") && !strchr(text, '\x1b'),
       "no title, or colour in a file");
  text = sinks_page(t, &s, &c, 2, false);
  fact(t,
       strstr(text, "\n* ") && strstr(text, "\n1 ") && strstr(text, "\n2 ") &&
           !strstr(text, "\n3 "),
       "%s", text);
  /* Sink_1 at 0.2, 0.3 and 0.4 */
  const double row_1[] = {100, 25, 0};
  EACH (i, row_1)
    within(t, number_after(text, "\n1 ", i), row_1[i], 0,
           "Sink_1, threshold %d", i);
  within(t, number_after(text, "\n1 ", 3), sinks_alpha(&s, 1), 5.1e-5,
         "alpha_1");
  within(t, number_after(text, "\n* ", 3), sinks_alpha(&s, 0), 5.1e-5,
         "alpha_*");
  within(t, number_after(text, "\nself ", 0), 0.25, 5.1e-5, "alpha_self");
  within(t, number_after(text, "\nself ", 1), 0.25 / s.even_self, 5.1e-3,
         "x even");
  within(t, number_after(text, "\nprev ", 0), 0.5, 5.1e-5, "alpha_prev");
  sinks_free(&s);
}

/* Each number of the page of `eval` stands in its column. */
static void sinks_print__columns(Test *t) {
  static const double WANT[] = {2, 3, 4, 0.5, 0.6, 8, 9, 10, 11};
  const double even_2 = (1 / 2.0 + 1 / 3.0 + 1 / 4.0 + 1 / 5.0) / 4;
  Config c = config_of(t, "--layers 1 --heads 1 --dim 8 --context 5");
  Sinks s = sinks_empty(t, &c);
  for (int i = 0; i < 5; i++) {
    s.hnorm[i] = i ? 1 : 7;
    s.hnorm[5 + i] = i ? 1 : 2;
    s.knorm[i] = i ? 1 : 3;
    s.vnorm[i] = i ? 1 : 4;
    s.alpha[i] = 0.1;
  }
  s.cosine[0] = 0.5;
  s.cosine[1] = 0.6;
  s.product[0] = 8;
  s.product[1] = 9;
  s.entropy[0] = 10;
  s.raw[0] = 11;
  s.massive = 50;
  s.median = 4;
  const char *text = sinks_page(t, &s, &c, 2, false);
  const char *row = strstr(text, "mass\n");
  EACH (i, WANT)
    within(t, number_after(row, "\n    1 ", i), WANT[i], 1e-9,
           "block 1, column %d", i);
  within(t, number_after(text, "\n2 ", 4), 0.1 / even_2, 5.1e-3, "x even");
  fact(t,
       strstr(text, "a state 50 in size, median of its block 4: 12.5 times"),
       "%s", text);
  sinks_free(&s);
}

/* =============================================================================
 * 15  Files, memory, random numbers, errors */

/* SplitMix64's published outputs, and the moments of what is made of them. */
static void rng__outputs(Test *t) {
  static const uint64_t ZERO[] = {0xE220A8397B1DCDAFu, 0x6E789E6AA1B965F4u,
                                  0x06C45D188009454Fu};
  static const uint64_t SEED[] = {6457827717110365317u, 3203168211198807973u,
                                  9817491932198370423u, 4593380528125082431u,
                                  16408922859458223821u};
  Rng a = {0}, b = {1234567}, r = {1};
  for (int i = 0; i < 3; i++)
    fact(t, rng_next(&a) == ZERO[i], "output %d of seed 0", i);
  for (int i = 0; i < 5; i++)
    fact(t, rng_next(&b) == SEED[i], "output %d of seed 1234567", i);
  enum { COUNT = 200000 };
  const struct {
    const char *what;
    double want, bound;
  } MOMENTS[] = {
    {"mean of uniforms", 0.5, 0.0033},
    {"second moment of uniforms", 1.0 / 3, 0.0034},
    {"mean of normals", 0, 0.0112}, {"second moment of normals", 1, 0.0158},
    {"fourth moment of normals", 3, 0.11}};
  double sum[5] = {0}, low = 1, high = 0, seen[7] = {0};
  for (int i = 0; i < COUNT; i++) {
    double x = rng_uniform(&r), y = rng_normal(&r);
    const double power[] = {x, x * x, y, y * y, y * y * y * y};
    low = smaller(low, x);
    high = larger(high, x);
    EACH (k, power)
      sum[k] += power[k] / COUNT;
    seen[rng_below(&r, 7)] += 7.0 / COUNT;
  }
  fact(t, low >= 0 && low < 1e-4 && high < 1 && high > 1 - 1e-4,
       "uniform: %g to %g", low, high);
  EACH (k, MOMENTS)
    within(t, sum[k], MOMENTS[k].want, MOMENTS[k].bound, "%s", MOMENTS[k].what);
  for (int i = 0; i < 7; i++)
    within(t, seen[i], 1, 0.028, "share of %d below 7", i);
  for (int i = 0; i < 100; i++)
    fact(t, rng_below(&r, 1) == 0, "a number below 1");
  const uint64_t wide = (uint64_t)1 << 40;
  for (int i = 0; i < 100; i++)
    fact(t, rng_below(&r, wide) < wide, "a number below 2^40");
}

/* FNV-1a's published values for "", "a" and "foobar", each mixed by one
 * SplitMix64 step. And of numbers: their bytes as in a file, on a machine of
 * either order. */
static void hash64__outputs(Test *t) {
  static const struct {
    const char *text;
    uint64_t fnv;
  } KNOWN[] = {
    {"", 0xCBF29CE484222325u}, {"a", 0xAF63DC4C8601EC8Cu},
    {"foobar", 0x85944171F73967E8u}};
  EACH (i, KNOWN)
    fact(t,
         hash64(0, KNOWN[i].text, strlen(KNOWN[i].text)) ==
             rng_next(&(Rng){KNOWN[i].fnv}),
         "hash of \"%s\"", KNOWN[i].text);
  fact(t,
       hash64(0, "ab", 2) != hash64(1, "ab", 2) &&
           hash64(0, "ab", 2) != hash64(0, "ba", 2) &&
           hash64(0, "ab", 2) != hash64(0, "ab", 1),
       "seed, order or length do not matter");
  static const char FOUR[] = "\4\3\2\1\xfe\xff\xff\xff",
                    EIGHT[] = "\0\0\0\0\0\0\0\xc0";
  fact(t,
       hash_numbers(3, (int32_t[]){0x1020304, -2}, 8, 4) ==
               hash64(3, FOUR, 8) &&
           hash_numbers(0, (double[]){-2}, 8, 8) == hash64(0, EIGHT, 8) &&
           hash_numbers(0, "abc", 3, 1) == hash64(0, "abc", 3),
       "of numbers");
}

/* A growing array, and little-endian numbers in it. */
static void bytes__round_trip(Test *t) {
  static const uint64_t NUMBERS[] = {
      0, 1, 255, 256, 0x0123456789ABCDEFu, UINT64_MAX};
  Bytes b = {0};
  Error e = {0};
  unsigned char block[1000];
  size_t at = 0;
  for (int i = 0; i < 1000; i++)
    block[i] = (unsigned char)(i * 7);
  for (size_t n = 0; n < 1000; n++)
    bytes_add(&b, block, n, &e);
  fact(t, !e.status && b.size == 499500 && b.room >= b.size, "%zu bytes",
       b.size);
  for (size_t n = 0; n < 1000; at += n++)
    fact(t, !memcmp(b.at + at, block, n), "block %zu", n);
  bytes_free(&b);
  fact(t, !b.at && !b.size && !b.room, "freed");
  EACH (i, NUMBERS)
    for (int width = 1; width <= 8; width++) {
      uint64_t mask = width == 8 ? UINT64_MAX : ((uint64_t)1 << 8 * width) - 1;
      b.size = 0;
      bytes_number(&b, NUMBERS[i], width, &e);
      fact(t,
           b.size == (size_t)width &&
               number_at(b.at, width) == (NUMBERS[i] & mask) &&
               b.at[0] == (NUMBERS[i] & 255),
           "number %d in %d bytes", i, width);
    }
  fact(t,
       bytes_add(&b, block, SIZE_MAX - 4, &e) == 1 && strstr(e.text, "Try: "),
       "room for everything: %s", e.text);
  bytes_free(&b);
}

/* What is written comes back, byte for byte, whatever stood there; a file that
 * cannot be read or written is status 1 and a line with its name. Nothing is
 * left beside, and of a file that is asked for or fails none of the folders
 * that were made for it. */
static void file__round_trip(Test *t) {
  static const char PATH[] = SCRATCH "/file", DEEP[] = SCRATCH "/a/b/file";
  static const size_t SIZES[] = {200000, 32769, 32768, 32767, 1, 0};
  static unsigned char data[200000];
  char longest[1300];
  const struct {
    const char *path;
    bool write;
    int status;
  } WRONG[] = {
    {"tokenizer.bin/file", true, 1}, {"no/such/folder/file", false, 1},
    {PATH, false, 1},
    {".", false, 1}, {".", true, 1}, {longest, true, 2}};
  Bytes *b = bytes_of(t);
  snprintf(longest, sizeof longest, "%01299d", 0);
  for (int i = 0; i < 200000; i++)
    data[i] = (unsigned char)(i % 251);
  scratch_open();
  EACH (k, SIZES) {
    b->size = 0;
    fact(t,
         !file_write(PATH, data, SIZES[k], fresh(t)) &&
             !file_read(PATH, b, &t->e) &&
             bytes_same(b, &(Bytes){data, SIZES[k], 0}),
         "%zu of %zu bytes", b->size, SIZES[k]);
    fact(t, file_missing(SCRATCH "/file.new"), "something is left beside");
  }
  remove(PATH);
  EACH (i, WRONG) {
    const char *path = WRONG[i].path;
    Error *e = fresh(t);
    int status = WRONG[i].write ? file_write(path, data, 9, e)
                                : file_read(path, b, e);
    fact(t,
         status == WRONG[i].status && t->e.status == status &&
             strstr(t->e.text, "Try: ") && *t->e.text == *path,
         "%.20s: status %d, %s", path, status, t->e.text);
  }
  fact(t, file_missing("..new"), "a file that could not be renamed is left");
  fact(t,
       file_write(DEEP, data, 9, &(Error){.status = 1}) && file_missing(DEEP),
       "what fails leaves a file");
  fact(t, !file_write(DEEP, data, 9, fresh(t)), "folders are not made: %s",
       t->e.text);
}

/* A file in the making that a killed process left is replaced. Of two that
 * write one file at once the first says so and fails: what stands there is
 * whole at any moment. */
static void writing__two_at_once(Test *t) {
  static const char PATH[] = SCRATCH "/file", NEW[] = SCRATCH "/file.new";
  Writing one, two;
  Error *e = fresh(t);
  if (*QUOTE == '"') {
    t->skip = "a file that is open keeps its name";
    return;
  }
  scratch_open();
  file_write(PATH, "old", 3, e);
  file_write(NEW, "a killed process left it", 24, e);
  writing_begin(&one, PATH, e);
  writing_add(&one, "the first", 9);
  writing_begin(&two, PATH, e);
  writing_add(&two, "the ", 4);
  fact(t,
       !e->status && writing_end(&one, e) == 1 &&
           strstr(e->text, "/file: another process") &&
           !strcmp(text_in(t, PATH), "old") && !file_missing(NEW),
       "the first: %s", e->text);
  writing_add(&two, "second", 6);
  fact(t,
       !writing_end(&two, fresh(t)) &&
           !strcmp(text_in(t, PATH), "the second") && file_missing(NEW),
       "the second: %s", e->text);
}

/* Neither a disk that fills in the middle of a file nor an error before its end
 * replaces what was there. */
static void writing_end__half_a_file(Test *t) {
  static const char PATH[] = SCRATCH "/file";
  Writing w;
  scratch_open();
  file_write(PATH, "old", 3, fresh(t));
#ifndef _WIN32
  static unsigned char data[200000];   /* more than a buffer of stdio */
  struct rlimit room, little;
  if (!getrlimit(RLIMIT_FSIZE, &room)) {
    little = room;
    little.rlim_cur = 100000;
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &little);
    int status = file_write(PATH, data, sizeof data, fresh(t));
    setrlimit(RLIMIT_FSIZE, &room);
    fact(t,
         status == 1 && !strcmp(text_in(t, PATH), "old") &&
             file_missing(SCRATCH "/file.new"),
         "half a file: %s", t->e.text);
  }
#endif
  writing_begin(&w, PATH, fresh(t));
  writing_add(&w, "new", 3);
  fail(&t->e, 1, "later");
  fact(t,
       writing_end(&w, &t->e) == 1 && !strcmp(text_in(t, PATH), "old") &&
           file_missing(SCRATCH "/file.new"),
       "what failed replaces a file");
}

/* The folder of this program, and files beside it where there are none here. */
static void program_folder__beside(Test *t) {
  Source s = {0};
  char path[PATH_ROOM];
  program_folder(s.home, "some/where/else");
  const size_t n = strlen(s.home);
  fact(t, n && strchr("/\\", s.home[n - 1]), "home is %s", s.home);
  /* then it does not come from argv[0] */
  if (!file_missing("/proc/self/exe"))
    fact(t, strcmp(s.home, "some/where/") != 0, "home is %s", s.home);
  strcpy(s.home, "data/");
  fact(t,
       !strcmp(located(path, "text/story.txt", &s, fresh(t)),
               "data/text/story.txt") &&
           !strcmp(located(path, "data/text/story.txt", &s, &t->e),
                   "data/text/story.txt") &&
           !t->e.status,
       "%s", t->e.text);
  located(path, "no/such/file", &s, &t->e);
  fact(t,
       t->e.status == 1 &&
           strstr(t->e.text, "not found here or beside the program"),
       "%s", t->e.text);
}

/* The first error stays; a text too long is cut; memory that is not to be had
 * is an error. */
static void fail__keeps_the_first(Test *t) {
  const idx counts[] = {-1, PTRDIFF_MAX, PTRDIFF_MAX / 8};
  Error *e = fresh(t);
  fact(t, fail(e, 2, "%s: %d", "first", 7) == 2 && fail(e, 1, "second") == 2,
       "status %d", e->status);
  fact(t, !strcmp(e->text, "first: 7"), "%s", e->text);
  fail(fresh(t), 1, "%01999d", 0);
  fact(t, strlen(e->text) == sizeof e->text - 1, "%zu characters",
       strlen(e->text));
  EACH (i, counts)
    fact(t,
         !grab(counts[i], 16, fresh(t)) && e->status == 1 &&
             strstr(e->text, "Try: "),
         "grabbing %lld: %s", counts[i], e->text);
  unsigned char *p = grab(1000, 3, fresh(t));
  for (int i = 0; p && i < 3000; i++)
    fact(t, p[i] == 0, "memory is not zeroed");
  fact(t, p && !e->status, "%s", e->text);
  free(p);
}

/* One thread is always to be had, more only where OpenMP is; 0 is all. Clocks
 * do not go back. */
static void set_workers__says_so(Test *t) {
  const int before = workers();
  double now = seconds();
  fact(t, set_workers(1) == 0 && workers() == 1 && worker() == 0, "one thread");
#ifdef _OPENMP
  const int least = 3, cores = omp_get_num_procs();
#else
  const int least = 1, cores = 1;
#endif
  const int refused = set_workers(3);
  fact(t, refused == (least == 1) && workers() == least, "three: %d, %d",
       refused, workers());
  set_workers(1);
  fact(t, set_workers(0) == 0 && workers() == cores, "0 gives %d of %d threads",
       workers(), cores);
  set_workers(before);
  for (int i = 0; i < 1000; i++) {
    double last = now;
    now = seconds();
    fact(t, now >= last && now - last < 60, "the clock went from %.9g to %.9g",
         last, now);
  }
}

/* =============================================================================
 * 16  Command line */

/* A choice's constant; its word is the same in small letters, with - for _. */
#define IS(axis, row) [axis##_##row] = #row

static const struct {
  const char *flag;
  int rows;
  const char *words[10];
} CHOICES[] = {
  {"pos", POS_ROWS,
   {IS(POS, ROTARY), IS(POS, NONE), IS(POS, ABSOLUTE), IS(POS, LEARNED),
    IS(POS, RELATIVE), IS(POS, T5), IS(POS, ALIBI)}},
  {"rope-pairing", PAIR_ROWS, {IS(PAIR, HALF), IS(PAIR, INTERLEAVED)}},
  {"norm", NORM_ROWS, {IS(NORM, RMS), IS(NORM, LAYER), IS(NORM, DYT)}},
  {"place", PLACE_ROWS,
   {IS(PLACE, PRE), IS(PLACE, POST), IS(PLACE, PARALLEL), IS(PLACE, SANDWICH)}},
  {"act", ACT_ROWS,
   {IS(ACT, SWIGLU), IS(ACT, GEGLU), IS(ACT, REGLU), IS(ACT, GEGLUTANH),
    IS(ACT, SWISH), IS(ACT, GELU), IS(ACT, RELU), IS(ACT, GELUTANH)}},
  {"combine", COMBINE_ROWS, {IS(COMBINE, CONCAT), IS(COMBINE, ADD)}},
  {"kernel", KERNEL_ROWS,
   {IS(KERNEL, IDENTITY), IS(KERNEL, ELU), IS(KERNEL, MLP)}},
  {"sim", SIM_ROWS,
   {IS(SIM, EXP), IS(SIM, SIGMOID), IS(SIM, ELU), IS(SIM, IDENTITY),
    IS(SIM, SOFTPICK), IS(SIM, RECTIFIED), IS(SIM, RELU), IS(SIM, SPARSEMAX),
    IS(SIM, ENTMAX)}},
  {"normalizer", NORMALIZER_ROWS,
   {IS(NORMALIZER, SUM), IS(NORMALIZER, ONE), IS(NORMALIZER, CLAMP),
    IS(NORMALIZER, PNORM), IS(NORMALIZER, COUNT)}},
  {"extra", EXTRA_ROWS,
   {IS(EXTRA, NONE), IS(EXTRA, K), IS(EXTRA, KV), IS(EXTRA, ZERO),
    IS(EXTRA, LOGIT), IS(EXTRA, LOGN)}},
  {"score-scale", GAIN_ROWS, {IS(GAIN, NONE), IS(GAIN, LOGN)}},
  {"score-bias", SHIFT_ROWS,
   {IS(SHIFT, NONE), IS(SHIFT, LOGN), IS(SHIFT, LEARNED)}},
  {"extra-order", ORDER_ROWS,
   {IS(ORDER, FIRST), IS(ORDER, LAST), IS(ORDER, LOWFREQ)}},
  {"extra-value", VALUE_ROWS,
   {IS(VALUE, ZERO), IS(VALUE, E1), IS(VALUE, ONES)}},
  {"init", INIT_ROWS, {IS(INIT, TORCH), IS(INIT, AUTHORS), IS(INIT, GPT2)}},
  {"schedule", SCHEDULE_ROWS, {IS(SCHEDULE, CONSTANT), IS(SCHEDULE, COSINE)}},
  {"optimizer", OPTIMIZER_ROWS,
   {IS(OPTIMIZER, ADAMW), IS(OPTIMIZER, SGD), IS(OPTIMIZER, MUON)}},
  {"gate", GATE_ROWS,
   {IS(GATE, NONE), IS(GATE, HEAD), IS(GATE, ELEMENT), IS(GATE, VALUE),
    IS(GATE, STATIC)}},
  {"decay", DECAY_ROWS, {IS(DECAY, ALL), IS(DECAY, MATRICES)}},
  {"toy", TOY_ROWS, {IS(TOY, NONE), IS(TOY, TRIGGER), IS(TOY, BACKCOPY)}},
  {"metric-rows", METRIC_ROWS, {IS(METRIC, REAL), IS(METRIC, PLUS1)}},
  {"input", INPUT_ROWS,
   {IS(INPUT, NATURAL), IS(INPUT, RANDOM), IS(INPUT, REPEAT)}},
  {"ablate", ABLATE_ROWS,
   {IS(ABLATE, NONE), IS(ABLATE, KEY1), IS(ABLATE, VALUE1),
    IS(ABLATE, VALUE1_MEAN), IS(ABLATE, KSTAR)}}};

/* Every choice by its words: as many as its enum has rows, each at the place of
 * its constant, the default first. And a word that is none of them. */
static void option__choices(Test *t) {
  static const char *const WRONG[] = {"nothing", "",         "0",
                                      "SIM_EXP", "pre|post", "sum "};
  int rows = 0, choices = 0;
  for (const Option *o = OPTIONS; o->flag; o++)
    choices += o->kind == 'c';
  EACH (i, CHOICES) {
    const Option *o = option_find(CHOICES[i].flag,
                                  MODEL | TRAIN | MEASURE | EVAL);
    char room[VALUE_ROOM], word[VALUE_ROOM];
    Settings s;
    const char *words = option_value(o, room);
    for (int row = 0; row < CHOICES[i].rows; row++) {
      option_word(o, row, word);
      for (char *p = word; *p; p++)
        if (*p == '-')
          *p = '_';
        else if (*p >= 'a')
          *p = (char)(*p - 32);
      const char *said = CHOICES[i].words[row];
      fact(t, said && !strcmp(word, said), "--%s %s has the place of %s",
           o->flag, word, said ? said : "none: CHOICES here lacks it");
    }
    fact(t, !*option_word(o, CHOICES[i].rows, word), "--%s has %s as well",
         o->flag, word);
    settings_default(&s);
    fact(t, *(int *)((char *)&s + o->field) == 0, "--%s is not its first word",
         o->flag);
    rows -= CHOICES[i].rows;
    for (int row = 0; *option_word(o, row, word); row++, rows++) {
      int is = -1;
      fact(t, !option_set(o, &s, word, true, fresh(t)), "--%s: %s", o->flag,
           t->e.text);
      memcpy(&is, (char *)&s + o->field, sizeof is);
      fact(t, is == row, "--%s %s gives row %d", o->flag, word, is);
    }
    EACH (w, WRONG)
      fact(t,
           option_set(o, &s, WRONG[w], true, fresh(t)) == 2 &&
               strstr(t->e.text, o->flag) && strstr(t->e.text, words),
           "--%s \"%s\": %s", o->flag, WRONG[w], t->e.text);
  }
  fact(t, choices == (int)(sizeof CHOICES / sizeof *CHOICES), "%d choices",
       choices);
  fact(t, rows == 0, "%d words more than rows", rows);
}

/* settings_parse of up to `most` words, and the defaults of the rest. */
static int parsed(Settings *s, const char *const *given, int most,
                  unsigned groups, int *n_words, Error *e) {
  int argc = 0;
  while (argc < most && given[argc])
    argc++;
  settings_default(s);
  s->argv = (char **)given;
  settings_parse(s, argc, (char **)given, groups, e);
  *n_words = s->n_words;
  return e->status;
}

/* Numbers: whole or not, and bounded. */
static void option__numbers(Test *t) {
  Settings lines;
  fact(t, option_set(option_find("text", DATA), &lines, "a\nb", true, fresh(t))
       == 2, "--text of two lines, which a checkpoint could not keep");
  /* what a flag takes, and what it does not */
  static const char *const ROWS[] = {
    "layers 1 1024 1e2 / 0 -1 1.5 2x two 1025 1e9 nan",
    "scale -2.5 1e-300 / nan inf 1e7 1,5",
    "norm-eps 0 1 / -1e-9 1.1", "vocab 1 / 1e300", "rope-base 1 / 0.5",
    "lr 0 / -1", "beta1 0 / 1",
    "beta2 0 / 1", "valid 0 / 0.95", "eps 0 / 1.5", "T 1 / 0", "clip 0 / -1",
    "seed 2147483647 / -1", "steps 0 / -1", "threads 0 / -1", "window 1 / 0",
    "prefix 0 / -1"};
  EACH (i, ROWS) {
    char row[80], *x;
    const Option *o = option_find(strtok(strcpy(row, ROWS[i]), " "),
                                  KEPT | GENERAL);
    for (bool wrong = false; (x = strtok(NULL, " ")) != NULL;
         wrong |= *x == '/') {
      Settings s;
      const int status = *x == '/' ? 0 : option_set(o, &s, x, true, fresh(t));
      fact(t,
           wrong ? status == 2 && strstr(t->e.text, o->flag) &&
                       strstr(t->e.text, "Try: ")
                 : !status,
           "--%s \"%s\": status %d, %s", o->flag, x, status, t->e.text);
    }
  }
}

/* What option_text prints, option_set reads back to the same bits, for every
 * option: its default, bounds and choices, and doubles that need 17 digits. */
static void option_text__round_trip(Test *t) {
  static const char *const DOUBLES[] = {
    "0.1", "-0.30000000000000004", "5e-324", "1.7976931348623157e308", "-2.5",
    "123456789.123",
    "3.3333333333333335e-9", "1e-300", "123456.789"};
  for (const Option *o = OPTIONS; o->flag; o++) {
    /* every verb sets every row's default */
    for (const Option *p = OPTIONS; p < o; p++)
      fact(t, p->field != o->field || !strcmp(p->fallback, o->fallback),
           "two of --%s", o->flag);
    /* as strings are */
    if (o->kind == 'f')
      continue;
    int values = 2;
    if (o->kind == 'd')
      values = sizeof DOUBLES / sizeof *DOUBLES;
    if (o->kind == 'c')
      values = 1;
    char words[VALUE_ROOM], value[PATH_ROOM], text[PATH_ROOM], again[PATH_ROOM];
    for (const char *p = option_value(o, words); o->kind == 'c' && *p; p++)
      values += *p == '|';
    for (int i = -1; i < values; i++) {
      Settings a, b;
      settings_default(&a);
      settings_default(&b);
      if (i < 0 && o->kind == 'c')
        option_word(o, 0, value);
      else if (i < 0)
        snprintf(value, sizeof value, "%s", o->fallback);
      else if (o->kind == 'd')
        snprintf(value, sizeof value, "%s", DOUBLES[i]);
      else if (o->kind == 'c')
        option_word(o, i, value);
      else if (o->kind == 's')
        snprintf(value, sizeof value, "%s", i ? "a b" : "x/y");
      else
        snprintf(value, sizeof value, "%.0f", i ? o->least : o->most);
      fact(t, !option_set(o, &a, value, false, fresh(t)), "--%s: %s", o->flag,
           t->e.text);
      option_text(o, &a, text, sizeof text);
      fact(t, !option_set(o, &b, text, false, fresh(t)), "--%s: %s", o->flag,
           t->e.text);
      option_text(o, &b, again, sizeof again);
      fact(t, !strcmp(text, again) && !memcmp(&a, &b, sizeof a), "%s %s: %s",
           o->flag, value, text);
      fact(t,
           o->kind == 'd' ? strtod(text, NULL) == strtod(value, NULL)
                          : !strcmp(text, value),
           "--%s %s printed as %s", o->flag, value, text);
    }
    const Option *found = option_find(o->flag, o->groups);
    fact(t, found && (found == o || found->groups != o->groups),
         "--%s is not found", o->flag);
    fact(t, o->help && *o->help && o->value, "--%s has no help", o->flag);
  }
}

/* Words, flags and the groups of flags that a verb takes; a missing value; too
 * long a path. */
static void settings_parse__words(Test *t) {
  static const struct {
    unsigned groups;
    const char *words[8];
    int status, n_words;
  } ROWS[] = {
    {MODEL, {"model.bin", "--layers", "3", "other"}, 0, 2},
    {MODEL, {"--steps", "3"}, 2, 0},
    {TRAIN, {"--layers", "3"}, 2, 0},
    {MODEL | TRAIN, {"--steps", "3", "--layers", "3"}, 0, 0},
    {MODEL, {"--layers"}, 2, 0}, {MODEL, {"--nonsense"}, 2, 0},
    {MODEL, {"--"}, 2, 0},
    {MODEL, {"--layer", "3"}, 2, 0}, {TRAIN, {"--variant", "sigmoid"}, 2, 0},
    {MODEL, {"--variant", "sigmoid"}, 0, 0},
    {MODEL, {"--variant", "nobody"}, 2, 0},
    {MODEL, {"--variant"}, 2, 0}, {MODEL, {"--tied", "--vbias", "x"}, 0, 1},
    {OUTPUT, {"--out", "file"}, 0, 0}, {MODEL, {""}, 0, 1},
    {0, {"--layers", "3"}, 2, 0},
    {MODEL, {"--layers=3", "--kv_heads=1", "-heads", "1"}, 0, 0},
    {MODEL, {"--tied=1", "x"}, 0, 1},
    {MODEL, {"--heads="}, 2, 0}, {MODEL, {"--heads", " 2"}, 2, 0},
    {MODEL, {"-"}, 0, 1},
    /* a switch that counts takes a whole number, and no other word */
    {MODEL, {"--sink-token", "3", "x"}, 0, 1},
    {MODEL, {"--sink-token", "x", "3"}, 0, 2},
    {MODEL, {"--sink-token"}, 0, 0}, {MODEL, {"--sink-token", "--tied"}, 0, 0},
    {MODEL, {"--sink-token", "17"}, 2, 0},
    {MODEL, {"--sink-token", "3.5"}, 0, 1},
    {MODEL, {"--sink-token=-1"}, 2, 0},
    {MODEL, {"--no-sink-token", "3"}, 0, 1}};
  Settings s;
  int n;
  char path[PATH_ROOM + 1];
  EACH (r, ROWS) {
    int status = parsed(&s, ROWS[r].words, 8, ROWS[r].groups, &n, fresh(t));
    fact(t,
         status == ROWS[r].status &&
             (status ? strstr(t->e.text, "Try: ") != NULL
                     : n == ROWS[r].n_words),
         "row %d: status %d, %d words, %s", r, status, n, t->e.text);
  }
  for (int length = PATH_ROOM; length >= PATH_ROOM - 1; length--) {
    snprintf(path, sizeof path, "%0*d", length, 0);
    int status = parsed(&s, (const char *const[]){"--out", path}, 2, OUTPUT, &n,
                        fresh(t));
    fact(t,
         status == (length < PATH_ROOM ? 0 : 2) &&
             (status || !strcmp(s.out, path)),
         "a path of %d: %s", length, t->e.text);
  }
}

/* Words and flags beyond their room, and a control character in an error. */
static void settings_flags__many(Test *t) {
  char flags[9000] = "";
  Settings s;
  settings_default(&s);
  for (int i = 0; i < 70; i++)
    strcat(flags, "a ");
  fact(t,
       settings_flags(&s, flags, MODEL, fresh(t)) == 2 &&
           strstr(t->e.text, "too many"),
       "%s", t->e.text);
  for (int i = 0; i < 900; i++)
    strcat(flags, "--tied ");
  fact(t,
       settings_flags(&s, flags, MODEL, fresh(t)) == 2 &&
           strstr(t->e.text, "too many flags"),
       "%s", t->e.text);
  fail(fresh(t), 1, "a\nb\33c");
  fact(t, !strcmp(t->e.text, "a?b?c"), "%s", t->e.text);
}

static const char *const IDLE[][2] = {
  {"--pos none --rotary-dims 4 --extra k --extra-dims 3 --extra-order lowfreq",
   ""},
  {"--variant k-bias-20e1 --extra-norm 3 --extra-dims 2 --sink-token 3", ""},
  {"--pos none --rotary-dims 4",
   "an effect only with --pos rotary or --extra-order lowfreq."},
  {"eval: --ids a --text b", "--text: has an effect only without --ids."},
  {"--start m --init gpt2", "init: has an effect only without --start."},
  {"--pos none --rope-base 500", "base: has an effect only with --pos rotary."},
  {"--random-tokens 1,9 --context 8 --T 8", "1,9: the last token is 8"},
  {"--fix-token 128 --random-tokens 1,128 --bos --seed 7", ""},
  {"--fix-token 129", "fix-token 129: the last token is 128"},
  {"--fix-token 0", ""}, {"eval: --fix-token 0", ""},
  {"generate: --fix-token 70", "at 1, the start of the text"},
  {"--end-token 3", "--tokens."}, {"generate: --temperature 0 --seed 3", ""},
  {"--pnorm 2", "--normalizer pnorm."},
  {"--extra k --extra-norm 2", "--extra-value e1|ones."},
  {"--min-lr 0.1", "--schedule cosine."},
  {"--tokens a --vocab 9 --end-token 3 --valid 0.1", ""},
  {"eval: --T 300 --fix-token 300", ""},
  {"eval: --input random --ids a", "without --ids."},
  {"--normalizer pnorm --pnorm 1", ""},
  {"--context 32 --T 33", "the last token is 32"},
  {"run: --extra-dims 2", "--extra k|kv."},
  {"eval: --fix-token 65", "the last token is 64"},
  {"generate: --grammar g --prompt a", "prompt: has an"},
  {"generate: --fix-token 2", "at 1, the start of the text"},
  {"--extra-shared --extra logit", "--extra k|kv."},
  {"dump: --pnorm 3", "--normalizer pnorm."},
  {"--extra-order last --extra k", "--extra-dims."},
  {"--optimizer sgd --beta2 0.5", "--optimizer sgd."},
  {"--tokens a --tokenizer b", "without --tokens."},
  {"generate: --grammar g --seed 3 --n 2", ""},
  {"--valid 0.1 --grammar g", "without --grammar."},
  {"--min-lr 0.1 --schedule cosine --lr 0.3", ""},
  {"--extra kv --extra-value e1", "--extra k."},
  {"--first-tokens 16 --fix-token 3", ""},
  {"eval: --ids a --first-tokens 3", "without --ids."},
  {"eval: --first-tokens other", ""}, {"generate: --first-tokens natural", ""},
  {"--save-every 3", "--out."}, {"--text a'b`c", ""},
  {"run: --scale 2", "as run has its own rows"},
  {"--valid 0", "--valid: has an effect only above 0"},
  {"--grammar g --bos --fix-token 2 --tokenizer t --plain", ""},
  {"generate: --grammar g --bos", "without --grammar."},
  {"generate: --bos --tokenizer t", ""}, {"tokenize: --tokenizer b --bos", ""},
  {"eval: --seed 3", "isolate or --probe."},
  {"eval: --ablate key1 --seed 3", ""}, {"run: --init torch --steps 2000", ""},
  {"generate: --first-tokens 5 --temperature 0 --seed 3", ""}};

/* A flag of what is not chosen is refused where it is given; the command that
 * is echoed shows what was typed. */
static void settings_refuse_idle__rows(Test *t) {
  static const Verb OF_PAPER[] = {{"generate", "", GENERAL | GENERATE, "",
                                   grammar_generate},
                                  {"tokenize", "", GENERAL | TOKENIZE, "",
                                   vocabulary_tokenize},
                                  SINK_VERBS{0}};
  const Program program = {.name = "paper", .verbs = OF_PAPER};
  EACH (i, IDLE) {
    char verb[12] = "train";
    const char *row = IDLE[i][0], *said = IDLE[i][1];
    const char *colon = strstr(row, ": "), *flags = colon ? colon + 2 : row;
    if (colon)
      snprintf(verb, sizeof verb, "%.*s", (int)(colon - row), row);
    Settings s;
    settings_default(&s);
    s.program = &program;
    s.verb = verb;
    s.groups = verb_find(&program, verb)->groups;
    if (!strcmp(verb, "run"))
      settings_flags(&s, RUN_FLAGS, MODEL | TRAIN | DATA, &t->e);
    settings_flags(&s, flags, s.groups, fresh(t));
    const int status = settings_refuse_idle(&s, &t->e);
    fact(t, *said ? status == 2 && strstr(t->e.text, said) : !status,
         "%s %s: %s", verb, flags, t->e.text);
  }
}

/* Later flags win, a variant is its flags where it stands; --flag=value; -h. A
 * Trainer's min-lr is lr/10 where none is given. */
static void settings_parse__order(Test *t) {
  static const struct {
    const char *flags;
    int sim;
    double scale;
  } ROWS[] = {
    {"--sim elu --sim sigmoid", SIM_SIGMOID, 1},
    {"--variant sigmoid --sim elu", SIM_ELU, 1},
    {"--sim elu --variant sigmoid --scale 3", SIM_SIGMOID, 3},
    {"--scale 3 --variant scale-0.2", SIM_EXP, 0.2}};
  static const char *const LR[] = {"--lr", "0.5", "--min-lr", "0"};
  static const char *const FORMS[] = {
    "--layers=3", "--norm_eps=1e-3", "--out=a=b", "--bos", "--prompt=--help",
    "--help", "-h", "--nothing"};
  char many[1023] = "";
  Config last;
  Settings s;
  int n;
  for (int i = 0; i < 60; i++)
    strcat(many, "--scale 0.5 ");
  strcat(many, "--sim sigmoid");
  fact(t,
       config_from_flags(&last, many, fresh(t)) == 2 || last.sim == SIM_SIGMOID,
       "the last of 61 flags is dropped in silence");
  EACH (r, ROWS) {
    Config c = config_of(t, "%s", ROWS[r].flags);
    fact(t, c.sim == ROWS[r].sim && c.scale == ROWS[r].scale,
         "%s: sim %d, scale %g", ROWS[r].flags, c.sim, c.scale);
  }
  for (int words = 4; words >= 0; words -= 2) {
    fact(t, !parsed(&s, LR, words, TRAIN, &n, fresh(t)), "%s", t->e.text);
    within(t, s.train.min_lr, (double[]){-1, -1, 0}[words / 2], 1e-17,
           "%d words", words);
  }
  Trainer made = {0};
  if (trainer_made(t, &made, "--schedule cosine"))
    within(t, made.s.train.min_lr, 1e-3, 1e-17, "min-lr of a Trainer");
  trainer_free(&made);
  fact(t,
       !parsed(&s, FORMS, 5, MODEL | DATA | OUTPUT | GENERATE, &n, fresh(t)) &&
           s.model.layers == 3 && s.data.bos && !n &&
           s.model.norm_eps == 1e-3 && !strcmp(s.out, "a=b") &&
           !strcmp(s.prompt, "--help") &&
           !parsed(&s, FORMS + 6, 2, MODEL, &n, fresh(t)) && s.help,
       "%s", t->e.text);
  parsed(&s, LR, 0, TRAIN, &n, fresh(t));
  const double defaults[][2] = {
    {s.train.lr, 4e-3}, {s.train.beta1, 0.9}, {s.train.beta2, 0.95},
    {s.train.wd, 0.1},
    {s.train.clip, 1}, {s.train.adam_eps, 1e-8}, {s.eps, 0.3}, {s.eval_T, 64},
    {s.eval_n, 100}};
  EACH (i, defaults)
    within(t, defaults[i][0], defaults[i][1], 0, "default %d of the paper", i);
}

/* A token that stays comes at its share, no other ever. K 1 is greedy; of
 * equals the smaller id. */
static void token_draw__top(Test *t) {
  const double SHARE[] = {.1, .3, .2, .2, .15, .05};
  static const struct {
    int k;
    double p, heat;
    const char *drawn;
  } ROWS[] = {{0, 1, 1, "012345"},   {1, 1, 1, "1"},      {1, 1, 50, "1"},
              {2, 1, 1, "12"},       {3, 1, 1, "123"},    {99, 1, 1, "012345"},
              {0, 0, 1, "1"},        {0, 0.29, 1, "1"},   {0, 0.31, 1, "12"},
              {3, 0.5, 0, "1"},      {0, 0.69, 1, "123"}, {0, 0.71, 1, "1234"},
              {0, 0.94, 1, "01234"}, {3, 0.42, 1, "1"},   {3, 0.5, 1, "12"},
              {2, 0.61, 1, "12"},    {0, 0.29, 50, "12"}};
  EACH (r, ROWS) {
    Settings s = {.top_k = ROWS[r].k,
                  .top_p = ROWS[r].p,
                  .temperature = ROWS[r].heat};
    const double cold = 1 / fmax(ROWS[r].heat, 0.01);
    double seen[6] = {0}, share[6], sum = 0;
    Rng rng = {7};
    real y[6];
    for (int v = 0; v < 6; v++) {
      y[v] = (real)log(SHARE[v]);
      share[v] = 0;
      if (strchr(ROWS[r].drawn, '0' + v))
        share[v] = pow(SHARE[v], cold);
      sum += share[v];
    }
    for (int i = 0; i < 20000; i++)
      seen[likeliest_draw(y, 6, &s, &rng, fresh(t))] += 1 / 20000.0;
    for (int v = 0; v < 6; v++)
      within(t, seen[v], share[v] / sum, share[v] > 0 ? 0.02 : 0,
             "row %d: token %d", r, v);
  }
}

/* -----------------------------------------------------------------------------
 * 16.2  The program itself: ./sink, run as a user runs it */

/* Every variant is listed with its flags; every verb, and every flag of a verb,
 * has its help, in sections, what only published models have with --all. */
static void sink__pages(Test *t) {
  char line[400];
  int rows = -1; /* of the list, but for its heading */
  if (no_binary(t))
    return;
  scratch_open();
  const char *list = said(t, "list");
  /* rows that ./sink has not */
  bool later = false;
  for (const Variant *v = VARIANTS; v->name; v++) {
    later |= !strcmp(v->name, "parallel");
    snprintf(line, sizeof line, "\n%-15s %-14s %-15s %4s ", v->name, v->source,
             v->sink, v->loss);
    const char *at = strstr(list, line), *flags = at ? at + strlen(line) : "";
    flags += strspn(flags, " \n");
    fact(t, later ? !at : at && !strncmp(flags, v->flags, strlen(v->flags)),
         "sink list: %s", v->name);
  }
  for (const char *at = list; *at && *at != '\n'; at += strcspn(at, "\n") + 1)
    rows += *at != ' ';
  fact(t, strstr(list, "\nText: " SHIPPED_TEXT) && rows > 20,
       "sink list: %d rows", rows);
  /* ./sink has none from here on */
  const Option *const more = option_find("soft-cap", MODEL);
  for (const Verb *v = VERBS; v->name; v++) {
    const char *all = said(t, "help %s", v->name);
    for (const Option *o = OPTIONS; o < more; o++) {
      snprintf(line, sizeof line, "\n  --%s ", o->flag);
      const Option *has = option_find(o->flag, v->groups);
      fact(t, !strstr(all, line) == !(has && has < more),
           "sink help %s: --%s is missing, or too much", v->name, o->flag);
    }
  }
}

static void sink__usage(Test *t) { usage_hold(t, &SINK); }

#define OF_SIZE \
  " --layers 1 --heads 1 --dim 16 --ffn 20 --batch 1 --threads 1 --context "
static const struct {
  const char *words, *line;
  int lines, numbers;
} BENCH_ROWS[] = {
  {"gemm --m 7 --n 9 --k 5 --threads 1 --peer " SCRATCH "/peer", "times_peer=",
   2, 1},
  {"gemm --m 1 --n 7 --k 9 --threads 1 --isa base", "gflops=", 3, 6},
  {"step" OF_SIZE "20", "step_ms=", 1, 6},
  {"ops" OF_SIZE "20", "whole step ", 1, 4},
  {"length" OF_SIZE "256", "    256 ", 1, 5},
  {"length" OF_SIZE "64", "     64 ", 1, 5}};
static const char *const BENCH_PEERS[] = {
  "gemm 7 9 5 xW 1 .5\r\nstep run 2 15\ngemm 7 9 5 x^Tdy 1 .5\r\n", "", "\n",
  "\r\n", "gemm 7 9 5 xW 1\n", "gemm 7 9 5 xW 1 nan\n", "step run 2 0\n",
  "step run 2 -1\n", "step run 2 inf\n", "step run 2 1 2\n",
  "step run 2 1\nhello\n"};
static const char *const BENCH_WRONG[][2] = {
  {"gemm --peer " SCRATCH "/none", "none: "},
  {"--peer " SCRATCH "/none", "none: "},
  {"gemm --isa sse", "--isa sse: expected best|base"},
  {"gemm --m 0", "--m 0: expected a whole"},
  {"gemm --layers 2", "--layers: not a flag"},
  {"step --peer x", "--peer: not a flag"},
  {"step --heads 3", "--heads does not divide"},
  {"gems", "gems: "}};

/* ./bench: what is wrong is refused in one line: a peer's file, a flag. */
static void bench__refuses(Test *t) {
  if (file_missing("bench") && file_missing("bench.exe"))
    t->skip = "no ./bench: make builds it";
  if (t->skip)
    return;
  scratch_open();
  enum {
    FILES = sizeof BENCH_PEERS / sizeof *BENCH_PEERS,
    ALL = FILES + sizeof BENCH_WRONG / sizeof *BENCH_WRONG
  };
  for (int i = 1; i < ALL; i++) {
    const bool peer = i < FILES;
    const char *const *wrong = BENCH_WRONG[peer ? 0 : i - FILES];
    if (peer)
      file_write(SCRATCH "/peer", BENCH_PEERS[i], strlen(BENCH_PEERS[i]),
                 fresh(t));
    Ran r = ran(FROM_HERE "bench", peer ? BENCH_ROWS[0].words : wrong[0]);
    const char *err = (const char *)r.err.at;
    const char *said = peer ? "expected gemm M N K WAY" : wrong[1];
    fact(t,
         r.status && r.out.size == 1 && strstr(err, said) &&
             strstr(err, "Try: ") && strchr(err, '\n') == err + r.err.size - 2,
         "bench %d: %s", i, err);
    ran_free(&r);
  }
  const Ran fails = ran(FROM_HERE "bench",
                        "length" OF_SIZE "8 --lr 1e3 --wd 1e3 --warmup 0");
  const char *why = (const char *)fails.err.at;
  const char *heads = strchr((char *)fails.out.at, '\n');
  fact(t, fails.status == 1 && strstr(why, "Try: ") && heads && !heads[1],
       "bench: %s", heads);
  ran_free((Ran *)&fails);
}

/* ./bench: so many lines of a kind, whose first numbers are finite and above 0;
 * a peer's figures beside ours, as their ratio. */
static void bench__figures(Test *t) {
  if (file_missing("bench") && file_missing("bench.exe"))
    t->skip = "no ./bench: make builds it";
  if (t->skip)
    return;
  scratch_open();
  Ran three = ran(FROM_HERE "bench", "gemm --m 1 --n 7 --k 9 --threads 3");
  /* without OpenMP it says so */
  fact(t, strstr((char *)three.out.at, "threads=3 ") || three.err.size > 1,
       "--threads 3: %s", (const char *)three.out.at);
  ran_free(&three);
  file_write(SCRATCH "/peer", BENCH_PEERS[0], strlen(BENCH_PEERS[0]), fresh(t));
  EACH (i, BENCH_ROWS) {
    Ran r = ran(FROM_HERE "bench", BENCH_ROWS[i].words);
    const char *words = BENCH_ROWS[i].words, *line = BENCH_ROWS[i].line;
    const char *out = (const char *)r.out.at, *at = out;
    int lines = 0;
    for (; (at = strstr(at, line)) != NULL; at++, lines++)
      for (int k = 0; k < BENCH_ROWS[i].numbers; k++) {
        const double x = number_after(at, line, k);
        const bool rest = k == 2 && !strncmp(words, "length", 6);
        fact(t, (x > 0 || (rest && x == 0)) && x < 1e12,
             "bench %s: number %d is %g: %s", words, k, x, out);
      }
    for (at = out; (at = strstr(at, "ratio=")) != NULL; at++)
      fact(t, at[6] == '-' || atof(at + 6) <= 1, "bench %s: %s", words, out);
    if (i == 0)
      within(t, number_after(out, "times_peer=", 0) * 0.5,
             number_after(out, "gflops=", 0),
             number_after(out, "gflops=", 0) / 50, "times the peer");
    fact(t,
         r.status == 0 && r.err.size == 1 && lines == BENCH_ROWS[i].lines &&
             !strstr(out, "nan"),
         "bench %s: %d lines of %s, %s%s", words, lines, line, out,
         (char *)r.err.at);
    ran_free(&r);
  }
}

/* As said(), of ./paper, which writes what was measured as CSV and JSON too;
 * the last two stay. */
static const char *paper_said(Test *t, const char *words) {
  static Ran kept[2];
  static int turn;
  Ran *r = &kept[turn++ % 2];
  ran_free(r);
  *r = ran(FROM_HERE "paper", words);
  fact(t, r->status == 0 && r->err.size == 1, "paper %s: exit status %d, %s",
       words, r->status, (const char *)r->err.at);
  return (const char *)r->out.at;
}

#define TRAINED \
  "train --quiet --steps 1 --text " SCRATCH "/tale.txt" SMALL_SIZE " "

/* What a command is refused with. */
typedef struct Refused {
  const char *words;
  int status;
  const char *said;
} Refused;

static const Refused OF_SINK_ALONE[] = {
  {TRAINED "--out " SCRATCH "/m.ckpt", 1,
   "is not replaced. Try: another name, or --force"},
  {TRAINED "--resume --out " SCRATCH "/n", 2,
   "not a flag of this command. Try: make paper"},
  {TRAINED "--out " SCRATCH "/n --log " SCRATCH "/f/../n", 2,
   "/n.new: this command reads or writes it, too"},
  {TRAINED "--out " SCRATCH "/n --log " SCRATCH "/m.ckpt", 1, "already exists"},
  {"train --quiet --start m", 2,
   "--start: not a flag of this command. Try: make paper"},
  {"eval " SCRATCH "/m.ckpt --swap-position 3", 2,
   "not a flag of this command. Try: make paper"},
  {TRAINED "--out " SCRATCH "/n --report " SCRATCH "/p", 2, "make paper"},
  {"eval " SCRATCH "/m.ckpt --T 8 --ids " SCRATCH "/i", 1,
   "have 3. Try: a smaller --T, longer"},
  {"run --quiet --out " SCRATCH "/f", 1, "/f/k-bias.csv: already exists"},
  {TRAINED "--out " SCRATCH "/r.new --log " SCRATCH "/r", 2,
   "this command reads or writes it, too"},
  {EVALUATED "--random-tokens 2", 2, "not a flag of"},
  {EVALUATED "--json -", 2, "not a flag of this command. Try: make paper"},
  {"run --csv -", 2, "make paper"},
  {TRAINED "--out " SCRATCH "/fresh/", 1, "this is a folder or a device"},
  {TRAINED "--out " SCRATCH "/nest --log " SCRATCH "/nest/l", 1,
   "/nest: this is a folder or a device"},
  {TRAINED "--out -", 2, "-: only --csv and --json"},
  {TRAINED "--log -", 2, "-: only --csv and"},
  {"dump --ids " SCRATCH "/i --vocab 9 --out " SCRATCH "/f", 1,
   "config.json: already exists"},
  {"dump --ids " SCRATCH "/i --vocab 9 --out " SCRATCH "/own", 1,
   "loss.npy: already exists"},
  {"dump " SCRATCH "/m.ckpt --ids " SCRATCH "/i --out " SCRATCH "/g --seed 5",
   2, "--seed: has an effect only without a MODEL"}};
static const Refused OF_PAPER_TOO[] = {
  {TRAINED "--out " SCRATCH "/m.ckpt", 1,
   "is not replaced. Try: another name, --resume to continue, or --force"},
  {TRAINED "--resume --out " SCRATCH "/n --log " SCRATCH "/i", 1,
   "not the log of this"},
  {TRAINED "--resume --out " SCRATCH "/n --report " SCRATCH "/i", 1,
   "/i: already exists and is not replaced. Try: another name, or --force"},
  {EVALUATED "--force --csv " SCRATCH "/m.ckpt", 2,
   "/m.ckpt: this command reads or writes it, too"},
  {"run --quiet --out " SCRATCH "/g --csv " SCRATCH "/g/softmax.csv", 2,
   "this command reads or writes it, too"},
  {"run --quiet --steps 0 --resume --out " SCRATCH "/f --csv " SCRATCH "/i", 1,
   "/i: already exists and is not replaced. Try: another name, or --force"},
  {EVALUATED "--csv=" SCRATCH "/i", 1,
   "Try: another name, or --force to replace it"},
  {EVALUATED "--json " SCRATCH "/n --csv " SCRATCH "//n", 2,
   "this command reads or writes it, too"},
  {EVALUATED "--json " SCRATCH "/r --csv " SCRATCH "/r.new", 2,
   "this command reads or writes it, too"},
  {EVALUATED "--json - --csv -", 2, "-: this command reads or"}};

/* What is there stays without --force, two of one name are refused however they
 * are spelt, - is standard output and nothing else there, and a training
 * without --out says so. */
static void sink__outputs(Test *t) {
  static const char *const AT[] = {SCRATCH "/i", SCRATCH "/f/k-bias.csv",
                                   SCRATCH "/f/config.json",
                                   SCRATCH "/own/loss.npy"};
  Settings s;
  if (no_binary(t) || !tale_open(t, &s, ""))
    return;
  said(t, "%s--out " SCRATCH "/m.ckpt", TRAINED);
  EACH (i, AT)
    file_write(AT[i], "1 2 3\n", 6, fresh(t));
  EACH (i, OF_SINK_ALONE)
    sink_fails(t, OF_SINK_ALONE[i].words, OF_SINK_ALONE[i].status,
               OF_SINK_ALONE[i].said);
  EACH (i, OF_PAPER_TOO)
    answers(t, FROM_HERE "paper", OF_PAPER_TOO[i].words,
            OF_PAPER_TOO[i].status, OF_PAPER_TOO[i].said);
  EACH (i, AT)
    fact(t, !strcmp(text_in(t, AT[i]), "1 2 3\n"), "%s: another file", AT[i]);
  said(t, "%s--force --out " SCRATCH "/m.ckpt", TRAINED);
  const char *json = paper_said(t, EVALUATED "--json -");
  const char *csv = paper_said(t, EVALUATED "--csv -");
  fact(t,
       !strncmp(json, "{\"", 2) &&
           strstr(json, "}\n") == json + strlen(json) - 2,
       "%s", json);
  fact(t,
       !strncmp(csv, "text,read,", 10) &&
           !strchr(strchr(csv, '\n') + 1, '\n')[1],
       "%s", csv);
  Bytes *name = bytes_of(t);
  /* no UTF-8 */
  quoted(name, "\xc3\xa9", true, &t->e);
  quoted(name, "\xe9", true, &t->e);
  fact(t, name->size == 12 && !memcmp(name->at, "\"\xc3\xa9\"\"\\u00e9\"", 12),
       "a name in JSON");
  answers(t, PROGRAM, TRAINED, 0,
          "|sink: without --out FILE the model is not saved");
}

static const char *const READ_TOO[] = {
  "eval " SCRATCH "/m.ckpt --json " SCRATCH "/tale.txt",
  "eval " SCRATCH "/m.ckpt --csv " SCRATCH "/./tale.txt",
  "eval " SCRATCH "/m.ckpt --csv " SCRATCH "/link.txt",
  "eval " SCRATCH "/m.ckpt --csv " SCRATCH "/tale.tok",
  "eval " SCRATCH "/m.ckpt --text " SCRATCH "/folder --csv " SCRATCH
  "/folder/a.txt",
  "train --quiet --steps 0 --out tokenizer.bin",
  "train --quiet --steps 0 --log tokenizer.bin",
  "train --quiet --steps 0 --out " SHIPPED_TEXT,
  "train --quiet --steps 0 --out ./data/../" SHIPPED_TEXT,
  "dump " SCRATCH "/m.ckpt --ids " SCRATCH "/d/config.json --out " SCRATCH "/d",
  "eval " SCRATCH "/m.ckpt --csv " SCRATCH "/hard.txt",
  "eval " SCRATCH "/m.ckpt --csv " SCRATCH "/here/tale.txt",
  "eval " SCRATCH "/m.ckpt --text - --csv " SCRATCH "/tale.txt < " SCRATCH
  "/hard.txt",
  "train --quiet --steps 0 --text - --out " SCRATCH "/tale.txt < " SCRATCH
  "/tale.txt"};

/* No command replaces what it reads, with --force neither: a model's text, the
 * tokenizer and the text that nobody named, a file of a folder, a link, another
 * spelling, standard input. */
static void sink__reads_stay(Test *t) {
  static const char *const STAY[] = {SCRATCH "/tale.txt", SCRATCH "/tale.tok",
                                     SCRATCH "/folder/a.txt",
                                     SCRATCH "/d/config.json",
                                     SCRATCH "/m.ckpt"};
  Settings s;
  Bytes *was[5];
  char words[600];
  if (no_binary(t) || !tale_open(t, &s, ""))
    return;
  if (*QUOTE == '"') {
    t->skip = "no inodes";
    return;
  }
  said(t, "train --quiet --steps 1 --text " SCRATCH "/tale.txt" SMALL_SIZE
          "--out " SCRATCH "/m.ckpt --force");
  file_copy(t, SCRATCH "/tale.txt", SCRATCH "/folder/a.txt");
  file_write(SCRATCH "/d/config.json", "1 2 3\n", 6, fresh(t));
  remove(SCRATCH "/link.txt");
  if (symlink("tale.txt", SCRATCH "/link.txt") ||
      symlink(".", SCRATCH "/here") ||
      link(SCRATCH "/tale.txt", SCRATCH "/hard.txt"))
    exit(1);
  EACH (i, STAY)
    was[i] = file_of(t, STAY[i]);
  EACH (i, READ_TOO) {
    snprintf(words, sizeof words, "%s --force", READ_TOO[i]);
    if (strstr(words, "--csv") || strstr(words, "--json"))
      answers(t, FROM_HERE "paper", words, 2,
              "this command reads or writes it, too. Try: another name");
    else
      sink_fails(t, words, 2,
                 "this command reads or writes it, too. Try: another name");
  }
  EACH (i, STAY)
    fact(t, bytes_same(was[i], file_of(t, STAY[i])), "%s is another file",
         STAY[i]);
  /* as /dev/stdout: the link would become a file */
  answers(t, FROM_HERE "paper",
          "eval " SCRATCH "/m.ckpt --csv /dev/stdnone --force", 1,
          "this is a folder or a device");
}

/* Is this build of sink.c's own trial of its arithmetic refused by sink.h, or
 * at run time? */
static bool exact_refused(Test *t, const char *compiler, const char *flag) {
  char command[400];
  snprintf(command, sizeof command,
           "%s %s -fsyntax-only -x c sink.h > " SCRATCH "/cc 2>&1", compiler,
           flag);
  if (system(command))
    return strstr(text_in(t, SCRATCH "/cc"), "exact arithmetic") != NULL;
  snprintf(command, sizeof command,
           "%s -O1 %s " SCRATCH "/exact.c -o " SCRATCH "/exact -lm 2> " SCRATCH
           "/cc && " SCRATCH "/exact",
           compiler, flag);
  return EXIT_STATUS(system(command)) == 2;
}

/* Compilers that may change sums, quotients or constants, or lose NaN, are
 * refused: by what they define, or by a trial when a program begins. */
static void sink__exact(Test *t) {
  static const struct {
    const char *flag;
    bool gcc, clang;
  } FLAGS[] = {
    {"-O3", false, false}, {"-Ofast", true, true}, {"-ffast-math", true, true},
    {"-ffinite-math-only", true, true},
    {"-funsafe-math-optimizations", true, true},
    {"-freciprocal-math", true, true}, {"-fno-honor-nans", false, true},
    {"-fno-honor-infinities", false, true},
    {"-fsingle-precision-constant", true, false}};
  static const char
      HEAD[] = "#include <math.h>\n#include <stdbool.h>\n",
      MAIN[] = "}\nint main(void) { return arithmetic_is_exact() ? 0 : 2; }\n";
  int tried = 0;
  scratch_open();
  const char *from = strstr(text_in(t, "sink.c"),
                            "static bool arithmetic_is_exact(");
  Bytes *b = bytes_of(t);
  bytes_add(b, HEAD, sizeof HEAD - 1, fresh(t));
  bytes_add(b, from, from ? (size_t)(strstr(from, "\n}\n") + 1 - from) : 0,
            &t->e);
  bytes_add(b, MAIN, sizeof MAIN - 1, &t->e);
  file_write(SCRATCH "/exact.c", b->at, b->size, &t->e);
  for (int clang = 0; clang < 2; clang++) {
    const char *compiler = clang ? "clang" : "gcc";
    char version[80];
    snprintf(version, sizeof version, "%s --version > " SCRATCH "/cc 2>&1",
             compiler);
    if (system(version))
      continue;
    tried++;
    EACH (i, FLAGS)
      if (i == 0 || (clang ? FLAGS[i].clang : FLAGS[i].gcc))
        fact(t, exact_refused(t, compiler, FLAGS[i].flag) == (i > 0),
             "%s %s: %s", compiler, FLAGS[i].flag, text_in(t, SCRATCH "/cc"));
  }
  if (!tried)
    t->skip = "neither gcc nor clang";
  else if (!system("gcc -O0 -fsingle-precision-constant sink.c -o " SCRATCH
                   "/fast -lm 2> " SCRATCH "/cc"))
    answers(t, SCRATCH "/fast", "list", 2,
            "||sink: built with inexact arithmetic. Try: ");
}

/* From elsewhere data/ and the tokenizer are found beside the program. */
static void sink__elsewhere(Test *t) {
  static const char *const ROWS[][2] = {
    {"list", "variant"},
    {"train --quiet --steps 1 --layers 1 --dim 16 --context 16 --fix-token 1 "
     "--out m", "text=" SHIPPED_TEXT},
    {"eval m --T 8 --n 2", "m on " SHIPPED_TEXT
     " (held-out text): 2 sequences"},
    {"eval m --T 8 --n 2", ", token 1 fixed, rows real"},
    {"eval m --T 8 --n 2 --fix-token 0", "part begins), rows real"},
    {"check prop1", "0 WRONG"},
    {"train --quiet --steps 0 --input random", "text=" SHIPPED_TEXT}};
  if (no_binary(t))
    return;
  scratch_open();
  make_folder(AWAY);
  file_write(AWAY "/prop1", "a", 1, fresh(t));
  EACH (i, ROWS)
    answers_elsewhere(t, ROWS[i][0], ROWS[i][1]);
}

static void sink__wrong_files(Test *t) {
  static const char *const ROWS[][2] = {
    {"eval " SCRATCH "/none", "none: "},
    {"eval " SCRATCH "/short.ckpt", "damaged or cut short"},
    {"eval data/text/story.grammar", "expected a checkpoint"},
    {"eval " SCRATCH "/m.ckpt --tokenizer tokenizer.bin",
     "expected the tokenizer it was trained"},
    {"train --quiet --steps 0 --out " SCRATCH "/d/m --text " SCRATCH "/none",
     "none: "},
    {"train --quiet --steps 0 --text " SCRATCH "/empty",
     "expected documents, found none"},
    {"train --quiet --steps 0 --text - < " SCRATCH "/empty",
     "expected documents, found none"},
    {"train --quiet --steps 0 --text " SCRATCH "/ids", "at least 129 tokens"},
    {"train --quiet --steps 0 --tokenizer " SCRATCH "/m.ckpt",
     "expected a tokenizer, which"},
    {"train --quiet --steps 0 --out " SCRATCH "/empty/x" SMALL_RUN, "empty/x"},
    {"dump --out " SCRATCH "/d --ids " SCRATCH "/none", "none: "},
    {"dump --vocab 9 --out " SCRATCH "/d --ids " SCRATCH "/ids",
     "ids:2: expected ids below 9, the vocabulary"},
    {"dump --vocab 9 --out " SCRATCH "/d --ids " SCRATCH "/uneven",
     "lines of equal length"},
    {"dump --vocab 9 --prefix 3 --out " SCRATCH "/d --ids " SCRATCH "/short",
     "beyond any --prefix"},
    {"dump --out " SCRATCH "/d --ids " SCRATCH "/ids",
     "lines of equal length, of 2 to 129"},
    {"dump --out " SCRATCH "/d --ids " SCRATCH "/empty", "of 2 to 129 ids"},
    {"dump --context 2 --out " SCRATCH "/d --ids " SCRATCH "/long",
     "of 2 to 3 ids"}};
  Settings s;
  Error e = {0};
  if (no_binary(t) || !tale_open(t, &s, ""))
    return;
  file_write(SCRATCH "/empty", "", 0, &e);
  file_write(SCRATCH "/bad.grammar", "s = a\nt = }\n", 12, &e);
  file_write(SCRATCH "/ids", "1 2 3\n7 8 9\n4 5\n", 16, &e);
  file_write(SCRATCH "/long", "1 2 3 4\n", 8, &e);
  file_write(SCRATCH "/uneven", "1 2\n3 4 5 6\n", 12, &e);
  file_write(SCRATCH "/short", "1 2 3\n", 6, &e);
  said(t, "train --quiet --steps 1 --out " SCRATCH "/m.ckpt" SMALL_RUN);
  const Bytes *b = file_of(t, SCRATCH "/m.ckpt");
  file_write(SCRATCH "/short.ckpt", b->at, b->size - b->size / 3, &e);
  fact(t, !e.status, "%s", e.text);
  EACH (i, ROWS)
    sink_fails(t, ROWS[i][0], 1, ROWS[i][1]);
  /* more than 32 GB, whatever the machine has and lends */
  answers(t, *QUOTE == '"' ? PROGRAM : "ulimit -v 32000000; " PROGRAM,
          "dump --vocab 16000000 --layers 1 --dim 4096 --out " SCRATCH
          "/d --ids " SCRATCH "/ids",
          1,
          sizeof(void *) > 4 ? "||sink: out of memory: 524562.8 MB"
                             : "||sink: out of memory: 8589.9 MB");
  fact(t, file_missing(SCRATCH "/d/m"), "what is refused leaves a file");
}

/* One array of a dump: its type, its shape, its numbers as double. */
typedef struct Npy {
  char type[3];
  int rank;
  idx shape[6], count;
  double *at;
} Npy;

/* Reads NAME.npy as NumPy does: magic, version 1.0, a padded header in one
 * line, the data. */
static bool npy_read(Test *t, const char *name, Npy *a, int rank,
                     const idx *has) {
  char path[200], header[200] = "", shape[100] = "";
  Bytes b = {0};
  snprintf(path, sizeof path, SCRATCH "/dump/%s.npy", name);
  *a = (Npy){.count = 1};
  bool good = !file_read(path, &b, fresh(t)) && b.size > 10 &&
              !memcmp(b.at, "\x93NUMPY\x01\x00", 8);
  const size_t length = good ? (size_t)number_at(b.at + 8, 2) : 0;
  good = good && (10 + length) % 64 == 0 && 10 + length <= b.size &&
         length < sizeof header && b.at[9 + length] == '\n';
  if (good)
    memcpy(header, b.at + 10, length - 1);
  good = good && sscanf(header,
                        "{'descr': '<%2[a-z0-9]', 'fortran_order': False, "
                        "'shape': (%90[0-9, ]",
                        a->type, shape) >= 1;
  for (char *at = strtok(shape, ", "); good && at && a->rank < 6;
       at = strtok(NULL, ", "))
    a->count *= a->shape[a->rank++] = atoi(at);
  /* (5,) and not (5) */
  if (a->rank == 1)
    good = good && strstr(header, ",)");
  const size_t width = good ? (size_t)(a->type[1] - '0') : 1;
  const char *end = good ? strchr(header, '}') : NULL;
  good = end && !end[1 + strspn(end + 1, " ")] &&
         b.size == 10 + length + (size_t)a->count * width;
  a->at = room(good ? a->count : 1);
  for (idx i = 0; good && i < a->count; i++) {
    const uint64_t bits = number_at(b.at + 10 + length + (size_t)i * width,
                                    (int)width);
    const uint32_t low = (uint32_t)bits;
    float f;
    memcpy(&f, &low, 4);
    if (width == 4)
      a->at[i] = a->type[0] == 'i' ? (int32_t)low : (double)f;
    else
      memcpy(&a->at[i], &bits, 8);
  }
  for (int i = 0; i < rank; i++)
    good = good && a->shape[i] == has[i];
  good = good && a->rank == rank;
  fact(t, good, "%s.npy: %s %s", name, header, t->e.text);
  bytes_free(&b);
  return good;
}

/* An array of the dump against numbers made here, relative to their largest. */
static void npy_is(Test *t, const char *name, const real *want, double bound,
                   int rank, const idx *shape) {
  Npy a;
  double worst = 0;
  if (npy_read(t, name, &a, rank, shape)) {
    const double most = biggest(a.count, want);
    for (idx i = 0; i < a.count; i++)
      worst = larger(worst, fabs(a.at[i] - (double)want[i]));
    within(t, worst / (most > 0 ? most : 1), 0, bound, "%s", name);
  }
  free(a.at);
}

/* Draws ids [B,T], then targets [B,T], below V; the text is lines of
 * T+1 of them. */
static void ids_drawn(int *ids, char *text, size_t room_of, int B, int T,
                      int V) {
  Rng rng = {8};
  for (int i = 0; i < B * (T + 1); i++) {
    const int id = (int)rng_below(&rng, (uint64_t)V);
    const int b = i / (T + 1), k = i % (T + 1);
    char end = i % 3 ? ' ' : ',';
    if (k == T)
      end = '\n';
    snprintf(text + strlen(text), room_of - strlen(text), "%d%c", id, end);
    if (k < T)
      ids[b * T + k] = id;
    if (k > 0)
      ids[B * T + b * T + k - 1] = id;
  }
}

/* The model of sink__dump: of more than SLICE rows. */
static const char DUMPED[] = "--layers 2 --heads 4 --kv-heads 2 --dim 16 "
                             "--ffn 20 --vocab 40 --context 200 --extra kv "
                             "--place post --vbias --norm layer --linear-bias";
enum {
  DUMP_B = 2,
  DUMP_T = 167,
  DUMP_L = 2,
  DUMP_H = 4,
  DUMP_C = 16,
  DUMP_V = 40,
  DUMP_S = DUMP_T + 1,
  DUMP_D = DUMP_C / DUMP_H,
  DUMP_MAP = DUMP_B * DUMP_H * DUMP_T * DUMP_S
};

/* The states: embedding and blocks before the last norm in `hidden`, what each
 * block adds up to in `prenorm`. */
static void dumped_states(Test *t, const Lab *b) {
  enum { B = DUMP_B, T = DUMP_T, L = DUMP_L, C = DUMP_C };
  for (int prenorm = 0; prenorm < 2; prenorm++) {
    const char *name = prenorm ? "prenorm" : "hidden";
    Npy x;
    const idx shape[] = {prenorm ? L : L + 1, B, T, C};
    const bool same = npy_read(t, name, &x, 4, shape);
    for (idx k = 0; same && k < x.count; k++) {
      const idx l = k / (B * T * C), at = k % (B * T * C);
      const real *state = b->a.h;
      if (prenorm)
        state = b->a.layer[l].s2;
      else if (l < L)
        state = b->a.layer[l].x;
      fact(t, fabs(x.at[k] - (double)state[at]) < 1e-4, "%s: number %lld", name,
           k);
    }
    free(x.at);
  }
}

/* q and k [L,B,H,T,D]: a key stands once for each query head that reads it. */
static void dumped_heads(Test *t, const Lab *b) {
  enum { B = DUMP_B, T = DUMP_T, L = DUMP_L, H = DUMP_H, D = DUMP_D };
  for (int key = 0; key < 2; key++) {
    const char *name = key ? "k" : "q";
    Npy x;
    const bool same = npy_read(t, name, &x, 5, (idx[]){L, B, H, T, D});
    for (int k = 0; same && k < L * B * H * T * D; k++) {
      const int l = k / D / T / H / B, h = k / D / T % H;
      const int row = k / D / T / H % B * T + k / D % T;
      const real want =
          key ? b->a.layer[l].k[(row * H / 2 + h / 2) * D + k % D]
              : b->a.layer[l].q[(row * H + h) * D + k % D];
      fact(t, fabs(x.at[k] - (double)want) < 1e-4, "%s: number %d", name, k);
    }
    free(x.at);
  }
}

/* alpha [L,B,H,S] is the mean of a column of metric over the rows that can see
 * its key; ids [B,T+1] are those of the text. */
static void dumped_columns(Test *t, const real *metric, const int *ids) {
  enum { B = DUMP_B, T = DUMP_T, L = DUMP_L, H = DUMP_H, S = DUMP_S };
  Npy x;
  bool same = npy_read(t, "alpha", &x, 4, (idx[]){L, B, H, S});
  for (int k = 0; same && k < L * B * H * S; k++) {
    const int map = k / S, column = k % S, from = column ? column - 1 : 0;
    double alpha = 0;
    for (int j = from; j < T; j++)
      alpha += (double)metric[(map * T + j) * S + column] / (T - from);
    within(t, x.at[k], alpha, 1e-5, "alpha %d of map %d", column, map);
  }
  free(x.at);
  same = npy_read(t, "ids", &x, 2, (idx[]){B, T + 1});
  for (int k = 0; same && k < B * T; k++)
    fact(t, (int)x.at[k / T * (T + 1) + k % T] == ids[k], "id %d", k);
  free(x.at);
}

/* `sink dump` against the same model, forward and backward made here. */
static void sink__dump(Test *t) {
  enum {
    B = DUMP_B,
    T = DUMP_T,
    L = DUMP_L,
    H = DUMP_H,
    V = DUMP_V,
    S = DUMP_S,
    MAP = DUMP_MAP
  };
  Lab b;
  int ids[2 * B * T];
  char text[1200] = "";
  static real z[L * MAP], weight[L * MAP], metric[L * MAP], logits[B * T * V];
  if (no_binary(t) || !lab_open(&b, t, B, T, DUMPED))
    return;
  scratch_open();
  ids_drawn(ids, text, sizeof text, B, T, V);
  file_write(SCRATCH "/ids", text, strlen(text), fresh(t));
  said(t,
       "dump --all --seed 3 --init gpt2 --ids " SCRATCH "/ids --out " SCRATCH
       "/dump %s%s",
       BASE, DUMPED);
  memcpy(b.ids, ids, B * T * sizeof *ids);
  memcpy(b.targets, ids + B * T, B * T * sizeof *ids);
  model_init(&b.m, INIT_GPT2, 3);
  lab_maps(&b);
  lab_forward(&b);
  b.a.probe = NULL;
  const real loss = (real)lab_gradients(&b);
  for (int l = 0; l < L; l++) {
    copy(z + l * MAP, b.probe[l].z, MAP);
    copy(weight + l * MAP, b.probe[l].weight, MAP);
    copy(metric + l * MAP, b.probe[l].metric, MAP);
  }
  model_logits(&b.m, &b.a, b.a.nf, B * T, logits);
  npy_is(t, "loss", &loss, 1e-5, 0, NULL);
  npy_is(t, "logits", logits, 1e-5, 3, (idx[]){B, T, V});
  npy_is(t, "z", z, 1e-5, 5, (idx[]){L, B, H, T, S});
  npy_is(t, "attn", weight, 1e-5, 5, (idx[]){L, B, H, T, S});
  npy_is(t, "metric", metric, 1e-5, 5, (idx[]){L, B, H, T, S});
  /* a parameter, and its gradient */
  for (int i = 0; i < 2 * b.m.n_tensors; i++) {
    const Tensor *x = b.m.all[i / 2];
    char name[64];
    snprintf(name, sizeof name, "%s.%s", i % 2 ? "grad" : "param", x->name);
    npy_is(t, name, i % 2 ? x->d : x->w, i % 2 ? 1e-3 : 1e-7, x->rank,
           (idx[]){x->rows, x->cols});
  }
  dumped_states(t, &b);
  dumped_heads(t, &b);
  dumped_columns(t, metric, ids);
  lab_close(&b);
}

/* The gates of 3 tokens, and of x* where they are of values, in a dump; 1/2 for
 * a static one. */
static void sink__dump_gates(Test *t) {
  static const struct {
    const char *flags;
    int rank, own, each;
    idx shape[5];
  } ROWS[] = {
    {"--gate head", 4, 4, 1, {2, 1, 4, 3}},
    {"--gate static", 4, 4, 1, {2, 1, 4, 3}},
    {"--gate element", 5, 4, 4, {2, 1, 4, 3, 4}},
    {"--gate value", 5, 2, 4, {2, 1, 4, 4, 4}}};
  Lab b;
  if (file_missing(FROM_HERE "paper") && file_missing(FROM_HERE "paper.exe"))
    t->skip = "no ./paper here: make paper builds it";
  else
    EACH (r, ROWS) {
      const int each = ROWS[r].each, own = ROWS[r].own;
      const int rows = (int)ROWS[r].shape[3];
      char all[200], words[500];
      Npy x;
      snprintf(all, sizeof all,
               "--sink-token --heads 4 --kv-heads 2 --head-dim 4 %s",
               ROWS[r].flags);
      snprintf(words, sizeof words,
               "dump --all --seed 3 --ids " SCRATCH "/ids --out " SCRATCH
               "/dump %s%s",
               BASE, all);
      scratch_open();
      file_write(SCRATCH "/ids", "1 2 3 4\n", 8, fresh(t));
      /* which has data/later/later.c */
      answers(t, FROM_HERE "paper", words, 0, "");
      if (!lab_open(&b, t, 1, 3, all))
        return;
      memcpy(b.ids, (int[]){1, 2, 3}, 3 * sizeof *b.ids);
      model_init(&b.m, INIT_TORCH, 3);
      lab_forward(&b);
      const bool same = npy_read(t, "gate", &x, ROWS[r].rank, ROWS[r].shape);
      for (int i = 0; same && i < x.count; i++) {
        const int n = 4 - rows + i / each % rows, h = i / each / rows % 4;
        const int l = i / each / rows / 4;
        const real *g = b.a.layer[l].gate + (n * own + h / (4 / own)) * each +
                        i % each;
        within(t, x.at[i], (double)*g, 1e-5, "%s: number %d", all, i);
        fact(t, (*g == (real)0.5) == (r == 1), "%s: a gate of %g", all,
             (double)*g);
      }
      free(x.at);
      lab_close(&b);
    }
}

/* Logits, weights and alpha of a dump have the tokens' rows, and not those of
 * x*. */
static void sink__dump_rows(Test *t) {
  enum { T = 3, S = 5, H = 4, L = 2, V = 40 };
  static const char ALL[] = "--sink-token 2 --layers 2 --heads 4 --dim 16 "
                            "--ffn 20 --vocab 40 --context 8 ";
  static real logits[T * V];
  static const int IDS[] = {1, 2, 3};
  Lab b;
  Npy x = {0}, m = {0};
  if (no_binary(t))
    return;
  scratch_open();
  file_write(SCRATCH "/ids", "1 2 3 4\n", 8, fresh(t));
  said(t, "dump --seed 3 --ids " SCRATCH "/ids --out " SCRATCH "/dump %s%s",
       BASE, ALL);
  if (!lab_open(&b, t, 1, T, ALL))
    return;
  memcpy(b.ids, IDS, sizeof IDS);
  model_init(&b.m, INIT_TORCH, 3);
  lab_forward(&b);
  model_logits(&b.m, &b.a, b.a.nf + 2 * b.m.c.dim, T, logits);
  npy_is(t, "logits", logits, 1e-5, 3, (idx[]){1, T, V});
  lab_close(&b);
  bool read = npy_read(t, "attn", &x, 5, (idx[]){L, 1, H, T, S});
  for (int k = 0; read && k < L * H * T; k++)
    for (int j = 0; j < S; j++)
      fact(t, (x.at[k * S + j] > 0) == (j <= k % T + 2), "row %d, column %d", k,
           j);
  free(x.at);
  x.at = NULL;
  read = npy_read(t, "metric", &m, 5, (idx[]){L, 1, H, T, S}) &&
         npy_read(t, "alpha", &x, 4, (idx[]){L, 1, H, S});
  for (int k = 0; read && k < L * H * S; k++) {
    const int from = k % S > 2 ? k % S - 2 : 0;
    double alpha = 0;
    for (int i = from; i < T; i++)
      alpha += m.at[(k / S * T + i) * S + k % S] / (T - from);
    within(t, x.at[k], alpha, 1e-5, "alpha %d", k);
  }
  free(x.at);
  free(m.at);
}

enum { OF_SINK = 6 }; /* the rows behind these are ./hf's */
static const char *const DUMP_FLAGS[] = {
  "--kernel mlp --sim identity --normalizer pnorm --pnorm 3",
  "--init gpt2 --seed 7 --all",
  "--extra k --extra-value ones --extra-norm 3 --extra-dims 2 --extra-order "
  "last",
  "--extra kv --extra-shared --pos alibi --vbias --all",
  "--extra logit --init authors",
  "--layers 2 --window 3 --sink-token 3 --pos learned",
  "--prefix 3 --place post --norm layer --linear-bias --bias-in qkv --pos "
  "absolute --all",
  "--rope-scaling llama3 --rope-original 16 --rope-low 0.5 --act gelu "
  "--kv-heads 1 --embed-dim 4",
  "--place parallel --score-by-layer --combine add --scale -0.5 --rotary-dims "
  "2 --norm-eps 0",
  "--layers 2 --window 3 --window-period 2 --window-offset 1 --sink-token 3 "
  "--pos learned"};

/* Puts files that no dump writes beside one; then they must still be there. */
static void kept_by_a_dump(Test *t, bool then) {
  static const char *const NAMES[] = {
    "q.npy.bak", "q.mine.npy", "grad.npy", "notes.npy", "param.wte.txt"};
  char path[80];
  EACH (i, NAMES) {
    snprintf(path, sizeof path, SCRATCH "/again/%s", NAMES[i]);
    if (then)
      fact(t, !remove(path), "%s, no array of a dump, is gone", path);
    else
      file_write(path, "a", 1, &t->e);
  }
}

/* A dump's config.json, put back into flags, makes the same dump: every file to
 * the byte. */
static void sink__dump_again(Test *t) {
  static const char OF_DUMP[] = "dump --ids " SCRATCH "/ids --out " SCRATCH;
  if (no_binary(t))
    return;
  EACH (i, DUMP_FLAGS) {
    const char *program = i < OF_SINK ? PROGRAM : FROM_HERE "hf";
    char flags[1100] = "", flag[32], value[32], other[PATH_ROOM], words[1400];
    if (i == OF_SINK && file_missing(FROM_HERE "hf") &&
        file_missing(FROM_HERE "hf.exe")) {
      note(t, "no ./hf here: %d rows of it are left out", 4);
      break;
    }
    Bytes names = {0}, all = {0};
    int n = 0, used, files = 0;
    scratch_open();
    file_write(SCRATCH "/ids", "1 2 3 4 5 6 7\n7 6 5 4 3 2 1\n", 28, fresh(t));
    snprintf(words, sizeof words,
             "%s/dump --layers 1 --dim 8 --ffn 6 --vocab 9 --context 6 %s",
             OF_DUMP, DUMP_FLAGS[i]);
    answers(t, program, words, 0, "");
    const char *own = text_in(t, SCRATCH "/dump/config.json");
    for (; (own = strchr(own, '"')); own += used) {
      if (sscanf(own, "\"%31[^\"]\": %31[^,\n]%n", flag, value, &used) < 2)
        break;
      n += snprintf(flags + n, sizeof flags - (size_t)n, " --%s%s %s",
                    *value == 'f' ? "no-" : "", flag,
                    strchr("ft", *value) ? "" : strtok(value, "\""));
    }
    fact(t, !strstr(flags, "--pnorm") == !strstr(DUMP_FLAGS[i], "pnorm"),
         "%s: %s", DUMP_FLAGS[i], flags);
    snprintf(words, sizeof words,
             "%s/again --layers 2 --dim 8 --ffn 6 --vocab 9 --context 6 "
             "--place post --all",
             OF_DUMP);
    answers(t, program, words, 0, "");
    kept_by_a_dump(t, false);
    snprintf(words, sizeof words, "%s/again --force%s", OF_DUMP, flags);
    /* an older dump leaves nothing */
    answers(t, program, words, 0, "");
    kept_by_a_dump(t, true);
    files_list(SCRATCH "/again", &all, &t->e);
    files_list(SCRATCH "/dump", &names, &t->e);
    for (size_t at = 0; at < names.size;
         at += strlen((char *)names.at + at) + 1, files++) {
      snprintf(other, sizeof other, SCRATCH "/again%s",
               strrchr((char *)names.at + at, '/'));
      fact(t, files_same((char *)names.at + at, other), "%s: another %s",
           DUMP_FLAGS[i], other);
    }
    fact(t,
         files > 17 && all.size == names.size + (size_t)files && !t->e.status,
         "%s: %d files %s", DUMP_FLAGS[i], files, t->e.text);
    bytes_free(&names);
    bytes_free(&all);
  }
}

static const char *dump_file(const char *name) {
  static char path[80];
  snprintf(path, sizeof path, SCRATCH "/dump/%s.npy", name);
  return path;
}

/* A dump that stops early leaves no array of the one before. */
static void sink__dump_stops(Test *t) {
  static const char WORDS[] =
      "dump --layers 1 --dim 8 --ffn 6 --vocab 9 --context 6 --force --ids "
      SCRATCH "/ids --out " SCRATCH "/dump";
  static const char *const NAMES[] = {"loss", "logits", "hidden", "attn",
                                      "metric", "alpha", "param.wte"};
  if (no_binary(t))
    return;
  scratch_open();
  file_write(SCRATCH "/ids", "1 2 3 4 5 6 7\n", 14, fresh(t));
  answers(t, PROGRAM, WORDS, 0, "");
  EACH (i, NAMES)
    fact(t, !file_missing(dump_file(NAMES[i])), "no %s before", NAMES[i]);
  make_folder(SCRATCH "/dump/ids.npy.new");   /* none can be written here */
  file_write(SCRATCH "/dump/ids.npy.new/a", "a", 1, &t->e);
  answers(t, PROGRAM, WORDS, 1, "ids.npy");
  EACH (i, NAMES)
    fact(t, file_missing(dump_file(NAMES[i])), "%s is still there", NAMES[i]);
}

/* The model's evaluation: ./sink and ./paper print the same, and the numbers of
 * evaluate() stand in the JSON and the CSV. */
static void evaluated_alike(Test *t, Settings *s) {
  const char *out = said(t, EVAL_NINE);
  const char *of_paper = paper_said(t, EVAL_NINE " --json " SCRATCH
                                       "/r.json --csv " SCRATCH "/r.csv");
  fact(t,
       strstr(out, "9 sequences of 12 tokens, natural") &&
           strstr(out, "token 1 fixed") && !strcmp(out, of_paper),
       "%s, and paper %s", out, of_paper);
  const char *json = text_in(t, SCRATCH "/r.json");
  const char *csv = text_in(t, SCRATCH "/r.csv");
  Sinks found = evaluated(t, s);
  const struct {
    const char *text, *name;
    int k;
    double want, bound;
  } NUMBERS[] = {
    {json, "\"alpha_1\": ", 0, sinks_alpha(&found, 1), 1e-5},
    {json, "\"alpha_star\": ", 0, sinks_alpha(&found, 0), 1e-5},
    {json, "\"loss\": ", 0, found.loss, 1e-4},
    {csv, "alpha_prev\n", 10, found.loss, 1e-4},
    {json, "\"alpha_self\": ", 0, sinks_self(&found), 1e-5},
    {json, "\"alpha_prev\": ", 0, sinks_prev(&found), 1e-5}};
  EACH (i, NUMBERS)
    within(t, number_after(NUMBERS[i].text, NUMBERS[i].name, NUMBERS[i].k),
           NUMBERS[i].want, NUMBERS[i].bound, "%s", NUMBERS[i].name);
  sinks_free(&found);
}

/* Train and eval: the same bits on any number of threads and from the echoed
 * command, whatever its words hold, and the numbers of evaluate() in the JSON;
 * dump says its flags. */
static void sink__train_and_eval(Test *t) {
  Settings s;
  char command[800];
  if (no_binary(t) || !tale_open(t, &s, FROM_TEXT))
    return;
  static const char FOUR[] =
      "train --steps 4 --fix-token 1 --extra k --log \"" SCRATCH
      "/a user's log.csv\" --out " SCRATCH "/m.ckpt" SMALL_RUN;
  snprintf(command, sizeof command, "%s --threads 1", FOUR);
  Ran r = sink(command);
  char *line = (char *)r.out.at;
  fact(t, r.status == 0 && !strncmp(line, "steps=4 loss=", 13), "%s",
       (char *)r.err.at);
  fact(t, !rename(SCRATCH "/m.ckpt", SCRATCH "/one.ckpt"), "no checkpoint");
  remove(SCRATCH "/a user's log.csv");
  snprintf(command, sizeof command, "%s --threads 3", FOUR);
  Ran again = sink(command);
  fact(t,
       again.status == 0 && files_same(SCRATCH "/m.ckpt", SCRATCH "/one.ckpt"),
       "sink %s: another model", command);
  fact(t, !strcmp(line, (char *)again.out.at), "another line: %s",
       (char *)again.out.at);
  /* under softmax alpha_* is the rest */
  const char *log = text_in(t, SCRATCH "/a user's log.csv");
  within(t, number_after(line, " mass=", 0) + number_after(log, "\n4,", 6), 1,
         2e-6, "mass");
  ran_free(&r);
  ran_free(&again);
  evaluated_alike(t, &s);
  file_write(SCRATCH "/ids", "1 2 3\n", 6, &t->e);
  said(t,
       "dump " SCRATCH "/m.ckpt --ids " SCRATCH "/ids --out " SCRATCH "/dump");
  /* flags that go together */
  const char *config = text_in(t, SCRATCH "/dump/config.json");
  fact(t,
       strstr(config, "\"extra-value\"") &&
           !strstr(config, "\"extra-logit\"") &&
           !strstr(config, "\"rope-factor\""),
       "%s", config);
}

#define OWN SCRATCH "/own.txt"
#define OTHER "; not the model's own)"
static const char *const OWN_TEXTS[][2] = {
  {"", OWN " (held-out text)"},
  {"--text " OWN, OWN " (held-out text)"},
  {"--valid 0", OWN " (all of it)"},
  {"--valid 0.4", OWN " (--valid 0.4)"},
  {"--ids " SCRATCH "/ids", SCRATCH "/ids (all of it)"},
  {"--input repeat", ""},
  {FROM_TEXT, SCRATCH "/tale.txt (all of it" OTHER},
  {FROM_TEXT "--valid 0.5", SCRATCH "/tale.txt (--valid 0.5" OTHER},
  /* the same text, renamed; then its own is gone, then changed */
  {"--text " SCRATCH "/b", SCRATCH "/b (held-out text)"},
  {"--input repeat", ""},
  {"", OWN " (held-out text; changed since the training)"}};

/* A model knows its text: it is read again while it is there. The first line,
 * CSV and JSON say which text was measured, how much of it, and whether it is
 * another one. */
static void sink__knows_its_text(Test *t) {
  Settings s;
  Bytes *text = bytes_of(t);
  if (no_binary(t) || !tale_open(t, &s, "") ||
      file_read("data/text/letter.txt", text, fresh(t)) ||
      file_read(SCRATCH "/tale.txt", text, &t->e) ||
      file_write(OWN, text->at, text->size, &t->e) ||
      file_write(SCRATCH "/ids", "5 6 7 8 9 1 2 3 4 5 6 7 8\n", 26, &t->e))
    return;
  const char *line =
      said(t, "train --quiet --steps 4 --valid 0.2 --text " OWN SMALL_SIZE
              "--out " SCRATCH "/m.ckpt");
  fact(t,
       strstr(line, "text=" OWN) &&
           number_after(line, "valid_tokens=", 0) >= 64,
       "%s", line);
  EACH (i, OWN_TEXTS) {
    char first[400], words[600];
    if (i == 8)
      rename(OWN, SCRATCH "/b");
    if (i == 9)
      sink_fails(t, "eval " SCRATCH "/m.ckpt", 1,
                 "/m.ckpt: its text, " OWN
                 ", is missing or has changed. Try: --text FILE");
    if (i == 10)
      file_write(OWN, text->at, text->size - 1, fresh(t));
    line = said(t, "eval " SCRATCH "/m.ckpt --T 12 --n 8 %s",
                OWN_TEXTS[i][0]);
    snprintf(words, sizeof words,
             "eval " SCRATCH "/m.ckpt --force --T 12 --n 8 %s --json " SCRATCH
             "/r.json --csv " SCRATCH "/r.csv",
             OWN_TEXTS[i][0]);
    fact(t, !strcmp(line, paper_said(t, words)),
         "%s: paper says something else", OWN_TEXTS[i][0]);
    snprintf(first, 400, SCRATCH "/m.ckpt%s%s: %d seq",
             *OWN_TEXTS[i][1] ? " on " : "", OWN_TEXTS[i][1], i == 4 ? 1 : 8);
    fact(t, !strncmp(line, first, strlen(first)), "%s: %.300s", OWN_TEXTS[i][0],
         line);
    const char *json = text_in(t, SCRATCH "/r.json");
    line = text_in(t, SCRATCH "/r.csv");
    fact(t,
         !strncmp(line, "text,read,eps,T,n,", 18) &&
             ((i != 5 && i != 9) || strstr(line, "\n\"\",\"\",0.3,12,")) &&
             (i != 6 || strstr(json, "{\"text\": \"" SCRATCH
                                     "/tale.txt\", \"read\": \"all of it; not "
                                     "the model's own\", \"eps\"")),
         "%s%s", line, json);
  }
}

/* What is read, said and kept at the edges: ids in place of a model's own text,
 * a text of one document, a full disk, an empty file of mktemp, a tokenizer
 * from stdin. */
static void sink__edges(Test *t) {
  Settings s;
  Bytes *one = bytes_of(t);
  if (no_binary(t) || !tale_open(t, &s, ""))
    return;
  for (int i = 0; i < 400; i++)
    bytes_add(one, "some words ", 11, fresh(t));
  file_write(SCRATCH "/one", one->at, one->size, &t->e);
  file_write(SCRATCH "/nothing", "", 0, &t->e);
  file_write(SCRATCH "/ids", "5 6 7 8 9 1 2 3 4 5 6 7 8\n", 26, &t->e);
  said(t, "train --quiet --steps 1 --fix-token 1 --out " SCRATCH
          "/m.ckpt" SMALL_RUN);
  const char *line = said(t, "eval " SCRATCH "/m.ckpt --T 12 --n 1 --ids "
                          SCRATCH "/ids");
  fact(t, *line && !strstr(line, "fixed"), "ids are fixed: %s", line);
  line = said(t, "eval " SCRATCH "/m.ckpt --T 2 --n 4");
  fact(t, strstr(line, "Sink at eps 0.3 says nothing here"), "%s", line);
  sink_fails(t, "train --quiet --steps 0 --vocab 300" SMALL_RUN, 2,
             "--vocab 300: ");
  said(t, "train --quiet --steps 0 --valid 0.9 --out " SCRATCH
          "/u.ckpt" SMALL_RUN " --text " SCRATCH "/one");
  said(t, "train --quiet --steps 0 --out " SCRATCH "/nothing --text " SCRATCH
          "/tale.txt" SMALL_SIZE);
  said(t, "train --quiet --steps 0 --out " SCRATCH "/t.ckpt" SMALL_RUN
          " --tokenizer - < " SCRATCH "/tale.tok");
  answers(t, PROGRAM, "train --steps 1" SMALL_RUN, 0,
          "train        1/1  loss ");
  if (!file_missing("/dev/full"))
    fact(t,
         EXIT_STATUS(system(PROGRAM " list > /dev/full 2> " SCRATCH "/cc")) ==
                 1 && strstr(text_in(t, SCRATCH "/cc"), "cannot be written"),
         "a full disk");
  line = said(t, "run --quiet --steps 1 --T 8 --n 5 --threads 3" SMALL_RUN);
  fact(t,
       strstr(line, "over 5 sequences of 8 tokens") &&
           strstr(line, "\nk-bias token 1\n"),
       "%s", line);
#ifdef _OPENMP
  fact(t, strstr(line, " s on 3 threads."), "%s", line);
#endif
}

/* A training that will show no sink says so at its start, and
 * what shows one. */
static void warn_no_sink__where(Test *t) {
  static const char LINE[] = "sink: small models form no sink on a text's own "
                             "first tokens; --fix-token 1 gives one\n";
  static const struct {
    const char *flags;
    bool said;
  } ROWS[] = {
    {"", true}, {"--fix-token 2", true}, {"--bos", true},
    {"--fix-token 1", false},
    {"--pos alibi", false}, {"--extra k", false},
    {"--sink-token", false}, {"--sim sigmoid", false}, {"--quiet", false}};
  Settings s;
  char words[400];
  if (no_binary(t) || !tale_open(t, &s, ""))
    return;
  EACH (i, ROWS) {
    snprintf(words, sizeof words, "train --steps 1 %s %s", ROWS[i].flags,
             SMALL_RUN);
    Ran r = sink(words);
    const char *line = strstr((char *)r.err.at, LINE);
    fact(t,
         r.status == 0 && !line == !ROWS[i].said &&
             (!line || !strstr(line + 1, LINE)),
         "%s: %s", ROWS[i].flags, (char *)r.err.at);
    ran_free(&r);
  }
}

/* A model with a NaN: no command ends as if it had measured something. */
static void sink__not_finite(Test *t) {
  static const char *const WORDS[] = {
    EVAL_NINE, EVAL_NINE " --input repeat",
    "dump " SCRATCH "/m.ckpt --ids " SCRATCH "/ids --out " SCRATCH "/dump"};
  if (no_binary(t))
    return;
  Trainer *r = trainer_of(t, "--steps 0");
  file_write(SCRATCH "/ids", "1 2 3 4 5\n", 10, fresh(t));
  r->m.layer[0].wq.w[8] = (real)NAN;
  parameters_write(SCRATCH "/m.ckpt", r, fresh(t));
  EACH (i, WORDS)
    sink_fails(t, WORDS[i], 1,
               "block 1 of 1, head 2 of 2: expected finite numbers");
}

/* By 3.7's loops a training and an evaluation are what the tiles make, on
 * any threads. */
static void sink__plain(Test *t) {
  static const char *const WORDS[] = {
    "train --quiet --steps 4 --extra kv --pos t5 --out " SCRATCH "/m.ckpt"
    SMALL_RUN,
    EVAL_NINE};
  Settings s;
  char command[900];
  if (no_binary(t) || !tale_open(t, &s, ""))
    return;
  EACH (i, WORDS) {
    const char *tiled = said(t, "%s", WORDS[i]);
    const char *plain = said(t, "%s --plain", WORDS[i]);
    fact(t, *tiled && !strcmp(tiled, plain), "%s --plain: %s, without %s",
         WORDS[i], plain, tiled);
  }
  said(t, "%s", WORDS[0]);
  fact(t, !rename(SCRATCH "/m.ckpt", SCRATCH "/tiled.ckpt"), "no checkpoint");
  said(t, "%s --plain --threads 1", WORDS[0]);
  fact(t, !files_same(SCRATCH "/m.ckpt", SCRATCH "/tiled.ckpt"),
       "--plain changes no bit");
  fact(t, !rename(SCRATCH "/m.ckpt", SCRATCH "/one.ckpt"), "no checkpoint");
  snprintf(command, sizeof command, "%s --plain --threads 3", WORDS[0]);
  /* without OpenMP it says that these are one */
  Ran three = sink(command);
  fact(t,
       three.status == 0 && files_same(SCRATCH "/m.ckpt", SCRATCH "/one.ckpt"),
       "another model on three threads: %s", (const char *)three.err.at);
  ran_free(&three);
  sink_fails(t, "eval " SCRATCH "/m.ckpt --plain --ablate key1", 2,
             "make paper");
}

static const TestEntry TESTS[] = {
  RUNS(left_out__words), RUNS(config__defaults),
  RUNS(config_from_flags__without_hf), RUNS(trainer_step__learns),
  RUNS(trainer_step__accumulates), RUNS(trainer_step__fails),
  RUNS(trainer_step__by_hand), RUNS(trainer_step__adamw_first),
  RUNS(trainer_step__adamw_flags), RUNS(trainer_finish__bad_gradient),
  RUNS(trainer_step__diverges), RUNS(trainer_step__diverges_wild),
  RUNS(checkpoint__round_trip), RUNS(checkpoint_read__damage),
  RUNS(checkpoint_read__hostile), RUNS(checkpoint_read__other_precision),
  RUNS(checkpoint__continues), RUNS(trainer_begin__refuses),
  RUNS(train_run__continues_the_log), RUNS(checkpoint_write__no_room),
  RUNS(train_run__leaves), RUNS(train_run__no_log), RUNS(train_run__stops),
  RUNS(train_run__says_also), RUNS(log_line__columns),
  RUNS(evaluate__against_maps),
  RUNS(evaluate__refuses), RUNS(held_loss__blocks), RUNS(demo_run__verdict),
  RUNS(demo_run__diverged), RUNS(run_verdict__words),
  RUNS(keys_seen__as_visible), RUNS(sinks_print__blocks_that_attend),
  RUNS(sinks_print__nothing), RUNS(sinks__self_and_prev),
  RUNS(heat_map__print_alpha), RUNS(sinks_print__columns), RUNS(rng__outputs),
  RUNS(hash64__outputs), RUNS(bytes__round_trip), RUNS(file__round_trip),
  RUNS(writing__two_at_once), RUNS(writing_end__half_a_file),
  RUNS(program_folder__beside), RUNS(fail__keeps_the_first),
  RUNS(set_workers__says_so), RUNS(option__choices), RUNS(option__numbers),
  RUNS(option_text__round_trip), RUNS(settings_parse__words),
  RUNS(settings_flags__many), RUNS(settings_refuse_idle__rows),
  RUNS(settings_parse__order), RUNS(token_draw__top), RUNS(sink__pages),
  RUNS(sink__usage), RUNS(bench__refuses), RUNS(bench__figures),
  RUNS(sink__outputs), RUNS(sink__reads_stay), RUNS(sink__exact),
  RUNS(sink__elsewhere), RUNS(sink__wrong_files), RUNS(sink__dump),
  RUNS(sink__dump_gates), RUNS(sink__dump_rows), RUNS(sink__dump_again),
  RUNS(sink__dump_stops), RUNS(sink__train_and_eval),
  RUNS(sink__knows_its_text), RUNS(sink__edges), RUNS(warn_no_sink__where),
  RUNS(sink__not_finite), RUNS(sink__plain)};

int main(int argc, char **argv) {
  return tests_run(TESTS, sizeof TESTS / sizeof *TESTS, argc, argv,
                   (Test){.after = scratch_close});
}
