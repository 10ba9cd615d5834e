/* test_source.c - ./paper as a user runs it on what ./sink has not: grammars,
 * ids in files, first tokens, a vocabulary of one's own, text from a model:
 * data/text.
 *
 *     make paper && cc -O2 data/check/test_source.c -o test -lm && ./test
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
#define PROGRAM FROM_HERE "paper"
#include "harness.c"
#include "programs.c"

/* The same text from a file and from standard input gives the same model,
 * shards too; eval finds the interventions in the checkpoint, repeats the fixed
 * token and says what it leaves out. */
static void paper__sources(Test *t) {
  static const char MODEL_FLAGS[] =
      " --layers 1 --dim 16 --ffn 20 --context 16 --batch 2 --steps 2 "
      "--random-tokens 3 --fix-token 1 --data-tokens 900 --bos --quiet --force "
      "--out ";
  static const struct { const char *kind, *file, *more; } FROM[] = {
    {"text", SCRATCH "/tale.txt", "--tokenizer " SCRATCH "/tale.tok"},
    {"tokens", SCRATCH "/tale.bin", "--vocab 400 --end-token 3"}};
  Settings s;
  Trainer back, again;
  Error e = {0};
  Bytes shard = {0};
  if (no_binary(t) || !tale_open(t, &s, ""))
    return;
  for (const unsigned char *at = file_of(t, SCRATCH "/tale.txt")->at; *at; at++)
    bytes_number(&shard, *at == '<' ? 3 : *at, 2, &e);
  file_write(SCRATCH "/tale.bin", shard.at, shard.size, &e);
  EACH (k, FROM) {
    const char *kind = FROM[k].kind, *file = FROM[k].file, *more = FROM[k].more;
    said(t, "train --%s %s %s%s" SCRATCH "/m.ckpt", kind, file, more,
         MODEL_FLAGS);
    said(t, "train --%s - %s%s" SCRATCH "/again.ckpt < %s", kind, more,
         MODEL_FLAGS, file);
    if (checkpoint_load(SCRATCH "/m.ckpt", false, &back, &e) ||
        checkpoint_load(SCRATCH "/again.ckpt", false, &again, &e))
      break;
    fact(t,
         same_numbers(back.m.count, back.m.params, again.m.params) &&
             back.data.source == again.data.source,
         "standard input gives another model (%d)", k);
    trainer_free(&again);
    const Source *d = &back.s.data;
    fact(t,
         d->fix_token == 1 && d->bos && d->data_tokens == 900 &&
             !strcmp(d->random_tokens, "3") &&
             d->end_token == (k ? 3 : 50256) &&
             back.m.c.vocab == (k ? 400 : 320) &&
             (back.tokenizer_hash == 0) == (k == 1),
         "%d: the checkpoint keeps %d %d %g %s %d, %d ids", k, d->fix_token,
         d->bos, d->data_tokens, d->random_tokens, d->end_token,
         back.m.c.vocab);
    trainer_free(&back);
    const char *out = said(t, "eval " SCRATCH "/m.ckpt --T 8 --n 5 --%s %s %s",
                           kind, file, k ? "" : more);
    fact(t,
         strstr(out, "token 1 fixed, without its") &&
             strstr(out, "training's random tokens"),
         "%.200s", out);
  }
  sink_fails(t,
             "eval " SCRATCH "/m.ckpt --T 8 --n 5 " FROM_TEXT
             "--tokenizer " SCRATCH "/tale.tok",
             1, "expected a vocabulary of 400");
  sink_fails(t, "eval " SCRATCH "/m.ckpt --T 8 --n 5 --tokens tokenizer.bin", 1,
             "found a file of sink");
  fact(t, !e.status, "%s", e.text);
  bytes_free(&shard);
}

/* Documents of a grammar, as many as are asked for. */
static void paper__documents(Test *t) {
  Settings s;
  if (no_binary(t) || !tale_open(t, &s, ""))
    return;
  for (int n = 1; n < 4; n += 2) {
    const char *at =
        said(t, "generate --grammar " SCRATCH "/tale.grammar --n %d", n);
    int found = 0;
    for (; (at = strstr(at, DOCUMENT_END)); at++)
      found++;
    fact(t, found == n, "%d documents, expected %d", found, n);
  }
}

/* What is refused: one line with the file's name, and nothing is left. */
static void paper__wrong_texts(Test *t) {
  static const char *const ROWS[][2] = {
    {"train --quiet --steps 0 --tokens - < " SCRATCH "/empty",
     "as many as it says), found 0"},
    {"train --quiet --steps 0 --tokens " SCRATCH "/tale.txt",
     "found a text. Try: --text"},
    {"train --quiet --steps 0 --tokens tokenizer.bin", "found a file of sink"},
    {"train --quiet --steps 0 --grammar " SCRATCH "/bad.grammar",
     "bad.grammar:2: expected"},
    {"generate --grammar " SCRATCH "/bad.grammar", "bad.grammar:2: expected"},
    {"generate " SCRATCH "/empty", "expected a checkpoint"},
    {"generate " SCRATCH "/m.ckpt --tokenizer tokenizer.bin",
     "expected the tokenizer"},
    {"generate --grammar " SCRATCH "/latin.grammar",
     "latin.grammar:2: expected UTF-8 text, found 0xE9. Try: iconv"},
    {"tokenize train " SCRATCH "/tale.txt --out tokenizer.bin",
     "tokenizer.bin: already exists"},
    {"tokenize encode " SCRATCH "/none", "none: "},
    {"tokenize train /dev/null --vocab 259 --out " SCRATCH "/none.tok",
     "tokenize train: expected documents, found none"},
    {"tokenize decode " SCRATCH "/bad.grammar",
     "bad.grammar:1: expected token ids"},
    {"tokenize train " SCRATCH "/i --out " SCRATCH "/t",
     "/t.new: already exists"},
    {"tokenize train " SCRATCH "/tale.txt --out " SCRATCH "/tale.tok",
     "already exists"}};
  Settings s;
  Error e = {0};
  if (no_binary(t) || !tale_open(t, &s, ""))
    return;
  file_write(SCRATCH "/empty", "", 0, &e);
  file_write(SCRATCH "/i", "1 2 3\n", 6, &e);
  file_write(SCRATCH "/t.new", "1 2 3\n", 6, &e);
  file_write(SCRATCH "/latin.grammar", "s = a\r\nt = \xe9\n", 13, &e);
  file_write(SCRATCH "/bad.grammar", "s = a\nt = }\n", 12, &e);
  said(t, "train --quiet --steps 0 --out " SCRATCH "/m.ckpt" SMALL_RUN);
  EACH (i, ROWS)
    sink_fails(t, ROWS[i][0], 1, ROWS[i][1]);
  sink_fails(t, "tokenize train " SCRATCH "/t.new --force --out " SCRATCH "/t",
             2, "/t.new: this command reads or writes it, too");
  fact(t,
       !strcmp(text_in(t, SCRATCH "/t.new"), "1 2 3\n") &&
           file_missing(SCRATCH "/t"),
       "another file, or one more");
  fact(t,
       system("cd out && ." PROGRAM
              " train --quiet --grammar away 2> ../" SCRATCH "/err"),
       "ends well");
  const char *err = text_in(t, SCRATCH "/err");
  fact(t, strstr(err, "away: not found here or beside"), "%s", err);
}

/* Text to ids and back, by file and by standard input. */
static void paper__tokenize(Test *t) {
  Settings s;
  Bytes text = {0};
  if (no_binary(t) || !tale_open(t, &s, ""))
    return;
  bytes_add(&text, SAMPLE, strlen(SAMPLE), fresh(t));
  for (int i = 0; i < 256; i++)
    bytes_number(&text, (uint64_t)i, 1, &t->e);
  file_write(SCRATCH "/text", text.at, text.size, &t->e);
  for (int input = 0; input < 2; input++) {
    const char *from = input ? "<" : "",
               *ids = said(t, "tokenize encode %s" SCRATCH "/text", from);
    const size_t n = strlen(ids);
    fact(t, n >= 400 && ids[n - 1] == '\n', "%zu bytes of ids", n);
    file_write(SCRATCH "/ids", ids, n, &t->e);
    said(t, "tokenize decode %s" SCRATCH "/ids", from);
    fact(t, files_same(SCRATCH "/out", SCRATCH "/text"),
         "another text comes back");
  }
  file_write(SCRATCH "/bom", "\xef\xbb\xbf", 3, &t->e);
  sink_fails(t, "tokenize encode a b", 2, "expected one file, found 2");
  sink_fails(t, "tokenize decode a --bos", 2, "only with tokenize encode");
  answers(t, PROGRAM, "tokenize encode " SCRATCH "/bom", 0,
          "242 190 194\n|paper: " SCRATCH "/bom:");
  bytes_free(&text);
}

enum { CONTEXT = 16 }; /* of SMALL_RUN */
#define GENERATE "generate " SCRATCH "/m.ckpt --tokenizer " SCRATCH "/tale.tok "
#define GENERATED_MODEL \
  "train --quiet --steps 4 --window 11 --sink-token --out " SCRATCH \
  "/m.ckpt" SMALL_RUN

/* The likeliest token behind ids: when the context is full the first stays
 * while the oldest others go. y [V] is scratch. */
static int32_t likeliest(Trainer *r, const Ids *ids, real *y) {
  const int size = (int)ids->size, n = size < CONTEXT ? size : CONTEXT;
  int row[CONTEXT];
  for (int k = 0; k < n; k++)
    row[k] = ids->at[k ? size - n + k : 0];
  model_forward(&r->m, &r->a, row, 1, n);
  /* x* is row 0 */
  model_logits(&r->m, &r->a, r->a.nf + n * r->m.c.dim, 1, y);
  int32_t best = 0;
  for (int v = 1; v < r->m.c.vocab; v++)
    if (y[v] > y[best])
      best = v;
  return best;
}

/* `generate` at temperature 0 against whole forwards made here. */
static void paper__generate(Test *t) {
  static const char PROMPT[] = "Ann told Bob a story";
  Settings s;
  Trainer back;
  Ids ids = {0};
  Bytes text = {0};
  if (no_binary(t) || !tale_open(t, &s, ""))
    return;
  said(t, GENERATED_MODEL);
  sink_fails(t, "generate " SCRATCH "/m.ckpt --first-tokens text", 2,
             "only for the text of a training. Try: other");
  const char *out =
      said(t, GENERATE "--temperature 0 --n 30 --prompt \"%s\"", PROMPT);
  const char *plain = said(
      t, GENERATE "--temperature 0 --n 30 --plain --prompt \"%s\"", PROMPT);
  Error *e = fresh(t);
  fact(t, !strcmp(out, plain), "--plain: another");
  if (checkpoint_load(SCRATCH "/m.ckpt", NULL, &back, e) ||
      tokenizer_load(SCRATCH "/tale.tok", s.program, &back.data.tokenizer, e) ||
      acts_create(&back.a, &back.m, 1, CONTEXT, ACTS_ONE, e)) {
    fact(t, false, "%s", e->text);
    return;
  }
  ids_add(&ids, (int32_t[]){TOKEN_END}, 1, e);
  tokenizer_encode(&back.data.tokenizer, (const unsigned char *)PROMPT,
                   strlen(PROMPT), &ids, e);
  bytes_add(&text, PROMPT, strlen(PROMPT), e);
  const int prompted = (int)ids.size;
  real *y = reals(back.m.c.vocab);
  for (int i = 0; i < 30; i++) {
    const int32_t best = likeliest(&back, &ids, y);
    if (best == TOKEN_END)
      break;
    ids_add(&ids, &best, 1, e);
    tokenizer_decode(&back.data.tokenizer, &best, 1, &text, e);
  }
  bytes_add(&text, "\n", 2, e);
  fact(t, !e->status && !strcmp(out, (const char *)text.at), "%s and not %s",
       out, (const char *)text.at);
  fact(t, prompted < CONTEXT && ids.size > CONTEXT + 5, "%d tokens, then %zu",
       prompted, ids.size);
  free(y);
  ids_free(&ids);
  bytes_free(&text);
  trainer_free(&back);
}

/* A seed repeats a text, another seed tells another; a NaN is refused. */
static void paper__generate_seeds(Test *t) {
  Settings s;
  Trainer back;
  if (no_binary(t) || !tale_open(t, &s, ""))
    return;
  said(t, GENERATED_MODEL);
  const char *zero = said(t, GENERATE "--seed 0");
  const char *one = said(t, GENERATE "--seed 1");
  fact(t,
       !strcmp(zero, said(t, GENERATE "--seed 0")) &&
           !strcmp(one, said(t, GENERATE "--seed 1")),
       "another text, the same seed");
  fact(t, strcmp(zero, one), "the same text, another seed: %s", zero);
  if (checkpoint_load(SCRATCH "/m.ckpt", NULL, &back, fresh(t))) {
    fact(t, false, "%s", t->e.text);
    return;
  }
  back.m.layer[0].wq.w[8] = (real)NAN;
  parameters_write(SCRATCH "/nan.ckpt", &back, &t->e);
  answers(t, PROGRAM, "generate " SCRATCH "/nan.ckpt --temperature 0", 1,
          "the logits: ");
  trainer_free(&back);
}

/* From elsewhere a grammar is found beside the program. */
static void paper__elsewhere(Test *t) {
  if (no_binary(t))
    return;
  scratch_open();
  answers_elsewhere(t, "generate --grammar data/text/story.grammar",
                    "\n<|endoftext|>");
  answers_elsewhere(t, "tokenize encode ../../../data/text/story.txt", " ");
}

/* A vocabulary trained as in memory. */
static void paper__tokenize_train(Test *t) {
  Settings s;
  Tokenizer k;
  Bytes text = {0};
  if (no_binary(t) || !tale_open(t, &s, ""))
    return;
  said(t, "tokenize train " SCRATCH "/tale.txt " SCRATCH
          "/tale.grammar --vocab 300 --out " SCRATCH "/new.tok");
  file_read(SCRATCH "/tale.txt", &text, &t->e);
  bytes_add(&text, DOCUMENT_END, 13, &t->e);
  file_read(SCRATCH "/tale.grammar", &text, &t->e);
  if (!tokenizer_train(&k, text.at, text.size, 300, &t->e)) {
    tokenizer_save(SCRATCH "/mine.tok", &k, &t->e);
    tokenizer_free(&k);
  }
  fact(t, !t->e.status && files_same(SCRATCH "/new.tok", SCRATCH "/mine.tok"),
       "another vocabulary %s", t->e.text);
  bytes_free(&text);
}

/* --first-tokens text: the log's second line says what is drawn, and so does an
 * evaluation, of another text too: the model keeps the counts. The flag draws
 * others, or none; --ids has none. */
static void paper__first_tokens(Test *t) {
#define TEXTS_OWN "train --steps 4 --first-tokens text --threads "
#define EVAL_MODEL "eval " SCRATCH "/m.ckpt --T 8 --n 8 "
  Settings s;
  if (no_binary(t) || !tale_open(t, &s, ""))
    return;
  file_write(SCRATCH "/ids", "5 6 7 8 9 1 2 3 4\n", 18, &t->e);
  Ran three = sink(TEXTS_OWN "3 --out " SCRATCH "/three" SMALL_RUN);
  Ran one = sink(TEXTS_OWN "1 --log " SCRATCH "/log --out " SCRATCH
                           "/m.ckpt" SMALL_RUN);
  fact(t, files_same(SCRATCH "/m.ckpt", SCRATCH "/three"),
       "three threads draw others");
  strtok(text_in(t, SCRATCH "/log"), "\n");
  char *drawn = strtok(NULL, "\n") + 2; /* behind "# " */
  const double n = number_after(drawn, "first tokens text: token 1 one of ", 0);
  fact(t,
       n > 50 && n < 317 && number_after(drawn, "exp(entropy) ", 0) < n &&
           strstr((char *)one.err.at, drawn) &&
           strstr(said(t, EVAL_MODEL), drawn),
       "%s", drawn);
  /* JSON spells some tokens otherwise */
  *strchr(strstr(drawn, "exp(entropy)"), ':') = 0;
  const char *const ROWS[][2] = {
    {FROM_TEXT, drawn}, {"--input repeat", drawn},
    {"--fix-token 2", "text: token 2 one of"},
    {"--first-tokens 4" FROM_TEXT,
     "first tokens 4: token 1 one of 4, exp(entropy) 4.0:|"},
    {"--first-tokens other", "other: token 1 one of"},
    {"--first-tokens natural", "s natural\""},
    {"--ids " SCRATCH "/ids", "\"read\": \"all of it\", \"eps\""}};
  EACH (i, ROWS)
    fact(t, strstr(said(t, EVAL_MODEL "--json - %s", ROWS[i][0]), ROWS[i][1]),
         "%s", ROWS[i][0]);
  fact(t,
       strlen(said(t, "generate " SCRATCH "/m.ckpt --n 9 --first-tokens 3")) >
           1,
       "it is mute");
  sink_fails(t, "train --quiet --steps 0 --first-tokens other" SMALL_RUN, 2,
             "(N 1 to 317, ");
  ran_free(&one);
  ran_free(&three);
  /* a set is kept as counts are */
  one = sink("train --steps 2 --first-tokens 4^1:common --force --log " SCRATCH
             "/log --out " SCRATCH "/m.ckpt" SMALL_RUN);
  strtok(text_in(t, SCRATCH "/log"), "\n");
  drawn = strtok(NULL, "\n") + 2;
  fact(t,
       strstr(drawn,
              "first tokens 4^1:common: token 1 one of 4, exp(entropy) ") &&
           strstr(said(t, EVAL_MODEL FROM_TEXT), drawn),
       "%s", drawn);
  fact(t,
       strstr(said(t, EVAL_MODEL "--first-tokens other"),
              "other: token 1 one of 313, "),
       "the rest of 317");
  sink_fails(t, EVAL_MODEL "--first-tokens 5:common", 2,
             "only for the text of a training. Try: other");
  ran_free(&one);
}

static const TestEntry TESTS[] = {
  RUNS(paper__sources), RUNS(paper__documents), RUNS(paper__wrong_texts),
  RUNS(paper__elsewhere), RUNS(paper__tokenize_train), RUNS(paper__tokenize),
  RUNS(paper__generate), RUNS(paper__generate_seeds),
  RUNS(paper__first_tokens)};

int main(int argc, char **argv) {
  return tests_run(TESTS, sizeof TESTS / sizeof *TESTS, argc, argv,
                   (Test){.after = scratch_close});
}
