/* hf.c - published models for sink, and models of sink for Hugging Face's
 * transformers library.
 *
 *     cc -O3 data/models/hf.c -o hf -lm
 *     ./hf gpt2 --out out/gpt2.model [--link]
 *     ./hf export out/model.ckpt out/llama [--tokenizer FILE]
 *     >>> transformers.AutoModelForCausalLM.from_pretrained("out/llama")
 *
 * gpt2 is a downloaded folder, or llama2.c's file; FILE is the tokenizer that
 * the model learnt with; the last line is Python's.
 *
 * SPDX-License-Identifier: MIT
 *
 * It has all of sink's verbs: ./hf eval, generate, dump and check work on
 * published models too.
 *
 * Import. A folder of the families gpt2, gpt_neox, opt, llama, mistral, jamba
 * and of those that families.c adds becomes a model file (2). Gemma's gains and
 * gpt-oss's 4 bits are rewritten there (families.c); all other numbers are as
 * they were published, copied or linked to. JSON, headers, names and shapes are
 * checked before they are believed, every tensor is accounted for, every number
 * must be finite, and a key or a value that sink does not know is refused by
 * its name. The folder's tokenizer becomes MODEL.tok (14), which is looked for
 * beside the model.
 *
 * Export. A checkpoint is written as a folder of the llama family: rotary
 * positions, RMSNorm before each half of a block, a gated feed-forward (silu,
 * gelu or relu), softmax, and, where asked for, fewer key heads, wider heads,
 * biases, tied embeddings, stretched angles. Variants of the paper that it has
 * no words for are refused by the flag's name.
 *
 * Contents   1 Half floats, 2 model files                         stored.c
 *            3 The Mamba mixer, 4 experts, 5 their set-up       mixers.c
 *            6 What llama can express, 7 config.json,
 *            8 model.safetensors, 9 tokenizer.json,
 *            10 the folder                                      export.c
 *            11 JSON, 12 safetensors, read                      json.c
 *            13 Families                                        facts.c and
 *                                                               families.c
 *            14 Tokenizers at work, 15 tokenizers, read         words.c
 *            16 Import                                          import.c
 *            17 Multiple choice                                 choices.c
 *            18 The statements on a model                       measured.c
 *            19 Command line                                    here
 *
 * data/check/golden/hf_check.py holds the logits, the greedy text and the token
 * ids of transformers against sink's; data/check/test_hf.c runs this program
 * and reads its files back. */
#define SINK_NO_MAIN
/* What the flags of this program fill. */
#define OWN_SETTINGS \
  struct HfOwn { \
    int link, questions, batch;   /* batch: of pace */ \
    char tokenizer[PATH_ROOM], choices[PATH_ROOM]; \
  } own;
#define FROM_FILES OWN              /* groups of flags */
#define LINKED (OWN << 1)
#define PACE (OWN << 2)
#define OWN_OPTIONS \
  SWITCH("link", LINKED, own.link, \
         "MODEL links to the published files, without a copy"), \
  NAME("tokenizer", FROM_FILES, own.tokenizer, "", \
       "replaces the folder's; a .bin's; of export the model's"), \
  NAME("choices", EVAL, own.choices, "", \
       "multiple choice: acc, acc_norm (Figure 10); hf choices"), \
  WHOLE("questions", EVAL, own.questions, "0", 1, 1e9, \
        "how many questions; default: all"), \
  WHOLE("batch", PACE, own.batch, "8", 1, 1e6, "sequences"),
#include "models.h"
#include "../paper/options.h"
#include "../later/later.h"
struct Trainer;
typedef struct HfOwn HfOwn;
static bool parts_open(const char *path, double room, struct Trainer *t,
                       struct Error *e);
#include "../../sink.c"
#include "../later/later.c"
#include "layers.c"
#include "../text/first.c"
#include "../text/teller.c"
#include "../text/vocabulary.c"
#include "../text/shards.c"
#include "../paper/pages.c"
#include "keys.h"
#include "unicode.h"
#include "stored.c"
#include "mixers.c"
#include "export.c"
#include "json.c"
#include "facts.c"
#include "families.c"
#include "words.c"
#include "import.c"
#include "choices.c"
#include "measured.c"

/* -----------------------------------------------------------------------------
 * 19  Command line: sink's verbs, and these */

static int verb_check_hf(Settings *s, Error *e) {
  const char **words = s->words;
  const int n = s->n_words;
  /* the name of a check has neither . nor / */
  if (n == 1 && strpbrk(words[0], "./") && file_missing(words[0]))
    return fail(e, 1,
                "%s: no such model. Try: check the path, or hf check list",
                words[0]);
  if (n != 1 || file_missing(words[0]))
    return verb_check(s, e);
  return check_model(words[0], stdout, e);
}

/* The standard error of a share p of n questions, as the harness states it. */
static double share_error(double p, int n) {
  return n > 1 ? sqrt(p * (1 - p) / (n - 1)) : 0;
}

/* What eval measures besides: --choices. */
static int choices_measure(Numbers *besides, Bytes *said, const Settings *s,
                           Trainer *t, Error *e) {
  const HfOwn *own = &s->own;
  Chosen x;
  if (!own->choices[0] || choices_answer(&x, &t->m, &t->data, s, e))
    return e->status;
  bytes_print(said, e,
              "\n%d questions of %s: acc %.4f +- %.4f, acc_norm %.4f +- %.4f\n",
              x.n, own->choices, x.acc, share_error(x.acc, x.n), x.acc_norm,
              share_error(x.acc_norm, x.n));
  put(besides, e, x.n, "questions");
  put(besides, e, x.acc, "acc");
  return put(besides, e, x.acc_norm, "acc_norm");
}

/* A cache that forgets turns the keys that it keeps to new places. LongRoPE's
 * tables also lengthen a key, which turning does not take back. */
static int verb_cache_hf(Settings *s, Error *e) {
  const char **words = s->words;
  const int n = s->n_words;
  Trainer t = {0};
  if (n == 1 && !checkpoint_open(words[0], &t, e) && if_long(&t.m.c))
    fail(e, 2,
         "stream: does not support --rope-scaling longrope. Try: hf eval %s",
         words[0]);
  trainer_free(&t);
  if (e->status)
    return e->status;
  return verb_cache(s, e);
}

static int out_wanted(const Settings *s, const char *verb, Error *e) {
  if (s->out[0])
    return 0;
  return fail(e, 2, "%s: expected --out FILE. Try: hf help %s", verb, verb);
}

static int verb_import(Settings *s, Error *e) {
  const char **words = s->words;
  const int n = s->n_words;
  const HfOwn *own = &s->own;
  if (n != 1)
    return fail(e, 2,
                "expected a folder and --out, or a verb. Try: hf gpt2 --out "
                "out/gpt2.model, or hf help");
  char beside[PATH_ROOM + 8], magic[9] = "";
  FILE *f = fopen(words[0], "rb");
  const bool ours = f && fread(magic, 1, 8, f) == 8 && !strncmp(magic, "SINK", 4);
  if (f)
    fclose(f);
  if (ours && strcmp(magic, CHECKPOINT_MAGIC) && strcmp(magic, MODEL_MAGIC))
    return fail(e, 2, "%s: expected a published model, found another file of "
                "sink. Try: hf help", words[0]);
  if (ours)
    return fail(e, 2, "%s: already a model of sink. Try: hf eval %s", words[0],
                words[0]);
  snprintf(beside, sizeof beside, "%s.tok", s->out);
  if (out_wanted(s, "import", e) ||
      outputs_ready(s, (const char *[]){s->out, beside}, 2, e))
    return e->status;
  return import_model(words[0], s->out, own->link, own->tokenizer, e);
}

static int verb_export(Settings *s, Error *e) {
  const char **words = s->words;
  const int n = s->n_words;
  static const char *const NAMES[] = {"config.json", "config.json.part",
                                      "model.safetensors.part"};
  enum { ASKED = sizeof NAMES / sizeof *NAMES };
  char at[ASKED][1024];
  const char *path[ASKED];
  if (n != 2)
    return fail(e, 2,
                "export: expected a model file and a folder. Try: hf help "
                "export");
  s->n_words = 1; /* words[1] is where it goes */
  for (int i = 0; i < ASKED; i++) {
    path_make(at[i], e, "%s/%s", words[1], NAMES[i]);
    path[i] = at[i];
  }
  if (e->status || outputs_ready(s, path, ASKED, e))
    return e->status;
  return export_folder(s, words[0], words[1], e);
}

/* A verb that makes --out of one file or folder. */
static int verb_converts(Settings *s, const char *verb,
                         int (*convert)(const char *from, const char *to,
                                        Error *e),
                         Error *e) {
  const char **words = s->words;
  if (s->n_words != 1)
    return fail(e, 2, "%s: expected one file or folder. Try: hf help %s", verb,
                verb);
  if (out_wanted(s, verb, e) ||
      outputs_ready(s, (const char *[]){s->out}, 1, e))
    return e->status;
  return convert(words[0], s->out, e);
}

static int verb_tokenizer(Settings *s, Error *e) {
  s->data.tokenizer[0] = 0;   /* none is read, and one may be replaced */
  return verb_converts(s, "tokenizer", import_tokenizer, e);
}

static int verb_choices(Settings *s, Error *e) {
  return verb_converts(s, "choices", import_choices, e);
}

/* Four numbers of tensor t in F16, of about the size that trained ones have:
 * gains of 1, no biases, all others of either sign and 1/128 to 1/64 (a sign,
 * exponent 8, 10 bits). */
static uint64_t synthetic_four(const Tensor *t, Rng *rng) {
  switch (t->init) {
  case INITIAL_ONE:
    return 0x3C003C003C003C00u;
  case INITIAL_ZERO:
  case INITIAL_BIAS:
    return 0;
  default:
    return (rng_next(rng) & 0x83FF83FF83FF83FFu) | 0x2000200020002000u;
  }
}

/* A model file of this shape in F16. */
static int synthetic_model(const Settings *s, Error *e) {
  enum { PIECE_NUMBERS = 1 << 18 };
  ModelWriter w;
  Rng rng = {1};
  unsigned char *piece = grab(PIECE_NUMBERS, 2, e);
  if (e->status || model_file_begin(&w, s->out, s, 0, e)) {
    free(piece);
    return e->status;
  }
  for (int i = 0; i < w.head.list.n_tensors && !e->status; i++) {
    const Tensor *t = w.head.list.all[i];
    bool rows = !strcmp(t->name, "wte") || !strcmp(t->name, "wpe");
    model_file_tensor(&w, t->name, DTYPE_F16, rows ? IN_OUT : OUT_IN, e);
    for (idx n = tensor_count(t); n > 0 && !e->status; n -= PIECE_NUMBERS) {
      for (idx k = 0; k < PIECE_NUMBERS / 4; k++)
        number_put(piece + 8 * k, synthetic_four(t, &rng), 8);
      model_file_bytes(&w, piece, 2 * (size_t)at_most(n, PIECE_NUMBERS), e);
    }
  }
  free(piece);
  return model_file_end(&w, e);
}

/* Of a forward: 2 operations for each weight and row, of experts' as many as a
 * row takes; 4 D for each key that a row's head sees. */
static double forward_flops(const Model *m, int B, int T) {
  const Config *c = &m->c;
  const idx N = config_rows(c, T);
  double weights = 0, seen = 0;
  if (c->tied)
    weights = (double)c->vocab * c->embed_dim;
  for (int i = 0; i < m->n_tensors; i++) {
    const Tensor *t = m->all[i];
    double taken = 1; /* the share of rows that take it */
    if (t->rank != 2 || !t->matrix || !strcmp(t->name, "wte") ||
        !strcmp(t->name, "wpe"))
      continue;
    if (strstr(t->name, ".e"))
      taken = (double)c->expert_top / c->experts;
    weights += (double)tensor_count(t) * taken;
  }
  for (int l = 0; l < c->layers; l++) {
    const idx w = config_window(c, l), most = config_attends(c, l) ? N : 0;
    for (idx i = 1; i <= most; i++)
      seen += (double)(w && w < i ? w : i);
  }
  return B * (2 * weights * (double)N + 4 * seen * c->heads * c->head_dim);
}

/* GFLOP/s of a square multiply just now, the best of three. */
static double multiply_rate(Error *e) {
  enum { N = 768 };
  real *x = grab(3 * N * N, sizeof(real), e);
  double best = 0;
  for (int k = 0; x && k < 3; k++) {
    double from = seconds();
    matmul(x, N, rows_of(x + N * N, N), rows_of(x + 2 * N * N, N), N, N, N,
           false);
    best = fmax(best, 2e-9 * N * N * N / (seconds() - from));
  }
  free(x);
  return best;
}

/* What was asked of a model must be what it is, but for --context. */
static int pace_same(const Settings *s, const Trainer *t, Error *e) {
  char given[PATH_ROOM], has[PATH_ROOM];
  for (const Option *o = OPTIONS; o->flag && !e->status; o++) {
    if (!(o->groups & MODEL) || !s->given[o - OPTIONS] ||
        !strcmp(o->flag, "context"))
      continue;
    option_text(o, s, given, sizeof given);
    option_text(o, &t->s, has, sizeof has);
    if (strcmp(given, has))
      fail(e, 2, "--%s %s: %s has %s. Try: another --out", o->flag, given,
           s->out, has);
  }
  return e->status;
}

/* hf pace: an evaluation of --batch sequences of --context random tokens, their
 * loss included, by a model that stays in its file --out; that is made first
 * where it is missing. ratio is to a square multiply, and counts the time that
 * is not spent on waiting for the file; ratio_of_cpu, where other programs are
 * running, only that which the processor gave to this one. */
static int verb_pace(Settings *s, Error *e) {
  Trainer t = {0};
  Sinks x = {0};
  Rng rng = {2};
  if (!s->out[0])
    return fail(e, 2,
                "pace: expected --out FILE, a model file, which is made if "
                "there is none. Try: --out out/pace.model --dim 1024 --ffn "
                "4096");
  if (file_missing(s->out) &&
      !outputs_ready(s, (const char *[]){s->out}, 1, e))
    synthetic_model(s, e);
  if (e->status || checkpoint_open(s->out, &t, e))
    return e->status;
  const Config *c = &t.m.c;
  int B = s->own.batch, T = s->model.context;
  int *ids = t.ids = grab(2 * (idx)B * T, sizeof(int), e);
  for (idx i = 0; ids && i < 2 * (idx)B * T; i++)
    ids[i] = (int)rng_below(&rng, (uint64_t)c->vocab);
  if (!t.m.file)
    fail(e, 2,
         "%s: expected a model file, found a checkpoint. Try: another --out",
         s->out);
  else if (T > c->context)
    fail(e, 2,
         "pace: expected --context of at most the model's %d, found %d. Try: "
         "--context %d",
         c->context, T, c->context);
  else
    pace_same(s, &t, e);
  double peak = multiply_rate(e);
  if (!e->status && !sinks_create(&x, &t.m, T, B, &s->eps, 1, e) &&
      !acts_create(&t.a, &t.m, B, T, ACTS_ONE, e)) {
    const struct ModelFile *f = t.m.file;
    parts_begin(&t.m, 1, true, s->quiet);
    clock_t from = clock();
    sinks_measure(&x, &t.m, &t.a, ids, ids + (idx)B * T, B, METRIC_REAL, e);
    double cpu = (double)(clock() - from) / CLOCKS_PER_SEC / workers();
    parts_end(&t.m, e);
    double computed = f->took - f->waited;
    double gflop = forward_flops(&t.m, B, T) * 1e-9;
    peak = fmax(peak, multiply_rate(e));
    if (!e->status)
      printf("seconds=%.1f waiting=%.1f computing=%.1f cpu=%.1f gb=%.2f "
             "gflops=%.1f ratio=%.3f ratio_of_cpu=%.3f multiply=%.1f "
             "activations_mb=%.0f parameters=%.0f threads=%d\n",
             f->took, f->waited, computed, cpu, (double)f->read * 1e-9,
             gflop / computed, gflop / computed / peak, gflop / cpu / peak,
             peak, (double)t.a.size * sizeof(real) * 1e-6, (double)t.m.count,
             workers());
  }
  sinks_free(&x);
  trainer_free(&t);
  return e->status;
}

static int verb_run_hf(Settings *s, Error *e) { return run_filmed(s, NULL, e); }

/* What is wrong with the questions is told before the work. */
static int verb_eval_hf(Settings *s, Error *e) {
  const char *name = s->own.choices;
  Bytes file = {0};
  Choices c = {0};
  if (s->own.questions && !name[0])
    fail(e, 2,
         "--questions: has an effect only with --choices. Try: leave it out");
  if (file_is_stream(name))
    fail(e, 2, "--choices %s: a stream cannot be read twice. Try: save the "
         "questions first", name);
  if (!e->status && name[0] && !file_read(name, &file, e))
    choices_read(file.at, file.size, name, &c, e);
  bytes_free(&file);
  choices_free(&c);
  if (e->status)
    return e->status;
  return eval_more(s, choices_measure, e);
}

static const Verb HF_VERBS[] = {
  {"import", "FOLDER|FILE.bin", FROM_FILES | LINKED | OUTPUT,
   "a published model as --out, and .tok\n"
   "    gpt2, gpt_neox, opt, llama, mistral, jamba, qwen2, qwen3, gemma,\n"
   "    gemma2, gemma3 (its text part), gemma3_text, phi3, olmo2, olmo3,\n"
   "    gpt_oss; FILE.bin is llama2.c's.\n"
   "    The word import may be left out",
   verb_import},
  {"export", "MODEL FOLDER", FROM_FILES | FORCE,
   "a llama for transformers\n"
   "    config.json, model.safetensors, tokenizer.json",
   verb_export},
  {"tokenizer", "FOLDER|FILE", OUTPUT,
   "a tokenizer alone\n"
   "    tokenizer.json, .model, vocab.json with merges.txt, llama2.c's",
   verb_tokenizer},
  {"choices", "FILE.jsonl", OUTPUT,
   "HellaSwag as eval --choices reads it", verb_choices},
  {"check", "[NAME|MODEL]", 0,
   "the propositions, on toys or on a model", verb_check_hf},
  {"stream", "MODEL", DATA | GENERAL | TABLES | STREAM,
   "a cache of keys that forgets", verb_cache_hf},
  {"tokenize", "train|encode|decode [FILE]", OUTPUT | GENERAL | TOKENIZE,
   "text and its ids; a vocabulary of texts", vocabulary_tokenize},
  {"generate", "[MODEL]", GENERAL | GENERATE,
   "text from a model or a grammar", grammar_generate},
  PAGED_VERBS(verb_run_hf, verb_eval_hf),
  {"pace", "", MODEL | GENERAL | OUTPUT | PACE,
   "how fast a model in its file is measured", verb_pace},
  SINK_VERBS {0}};

#ifndef HF_NO_MAIN           /* the tests and .ci/fuzz.c have another entry */
int main(int argc, char **argv) {
  static const Check checks[] = {LATER_CHECK, {0}};
  const Program hf = {.name = "hf",
                      .verbs = HF_VERBS,
                      .page = run_page,
                      .watch = film_watch,
                      .checks = checks,
                      .start = trainer_start,
                      .log = log_keep,
                      .edit = position_edit,
                      .open = other_open,
                      .first = first_open,
                      .read_tokenizer = words_read};
  char *more[WORDS_MOST + 64] = {argv[0], "import"};
  Near near = {.word = argc > 1 ? argv[1] : ""};
  for (const Verb *v = HF_VERBS; v->name; v++)
    near_look(&near, v->name, v->name);
  if (argc < 2 || argc > WORDS_MOST || argv[1][0] == '-' ||
      verb_find(&hf, argv[1]) || (near.best[0] && file_missing(argv[1])))
    return sink_main(&hf, argc, argv);
  /* hf FOLDER --out MODEL */
  for (int i = 1; i < argc; i++)
    more[i + 1] = argv[i];
  return sink_main(&hf, argc + 1, more);
}
#endif
