/* test_sink.c - the mathematics of sink.c tested, under its chapter numbers and in its order.
 *
 *     cc -O2 -DSINK_DOUBLE test_sink.c -o test -lm && ./test
 *
 * SPDX-License-Identifier: MIT
 *
 * data/check/harness.c says how tests are run and read; data/check has those of programs, files and
 * text.
 *
 * The double build is the oracle: there the gradients are held against differences of fourth
 * order, and every bound that comes from rounding is a multiple of the build's epsilon. Four things
 * here know nothing of sink.c but its parameters: the slow model of the harness's 0.3, which spells
 * out the formula with plain loops in double; the difference quotients of chapters 3 and 4; the
 * golden numbers of an independent model in PyTorch, at the end of chapter 6; numbers worked by hand.
 *
 * Tags in brackets are those of sink.c's masthead; `make xref` follows them. */
#define SINK_NO_MAIN
#include "data/paper/options.h"
#include "sink.c"
#include "data/later/later.c"
#include "data/text/teller.c"
#include "data/text/vocabulary.c"
#include "data/text/shards.c"
#include "data/text/first.c"
#define PROGRAM FROM_HERE "sink"   /* what the tests run as a user does */
#include "data/check/harness.c"

/* A NaN anywhere in either array is the distance, and a failed statement outranks a skip. */
static void frame__verdicts(Test *t) {
  static const struct { Test of; const char *is; } ROWS[] = {
    {{.facts = 2}, "ok"}, {{.facts = 2, .wrong = 1}, "FAIL"}, {{0}, "FAIL"},
    {{.skip = "none"}, "skip"}, {{.facts = 2, .skip = "none"}, "skip"},
    {{.facts = 2, .wrong = 1, .skip = "none"}, "FAIL"}};
  EACH(i, ROWS) fact(t, !strcmp(verdict(&ROWS[i].of), ROWS[i].is), "row %d: %s", i, ROWS[i].is);
  for (int i = 0; i < 3; i++) {
    const real x[] = {1, 3, 2}; const double slow[] = {1, 3, 2};
    real ill[] = {1, 3, 2}; double ill_slow[] = {1, 3, 2};
    ill_slow[i] = NAN; ill[i] = (real)NAN;
    fact(t, isnan(biggest(3, ill)) && isnan(distance(3, ill, x)) && isnan(distance(3, x, ill)) &&
         isnan(slow_distance(3, ill, slow)) && isnan(slow_distance(3, x, ill_slow)), "NaN, %d", i);
  }
  within(t, number_after("a=1 to-2 b=-3e-3 c", "a=", 2), -3e-3, 0, "a number below 0");
}

/* What shapes a model is an axis of the covering array, but for its sizes, and for what is forward
 * only (data/check/test_hf.c). */
static void frame__axes(Test *t) {
  for (const Option *o = OPTIONS; o->flag; o++) {
    char flag[64], sizes[] = "--layers --dim --ffn --vocab --context --norm-eps "
                             "--attention- --mamba- --expert";
    bool found = false;
    snprintf(flag, sizeof flag, "--%s", o->flag);
    for (char *size = strtok(sizes, " "); size; size = strtok(NULL, " "))
      found |= !strncmp(flag, size, strlen(size));
    for (int a = 0; a < N_AXES; a++) {
      found |= !strcmp(AXES[a].name, o->flag);
      for (int i = 0; i < MOST_ROWS && AXES[a].rows[i]; i++)
        found |= strstr(AXES[a].rows[i], flag) != NULL;
    }
    fact(t, found || o->groups & MODEL ? 0 : 1, "%s is on no axis of chapter 0.4", flag);
  }
}

/* =================================================================================================
 * 1  Config and variants */

/* Without flags: the paper's default, row 0, on every axis, at the sizes of a minute's run. */
static void config__defaults(Test *t) {
  const Config c = config_of(t, ""), want = {
    .layers = 4, .heads = 2, .kv_heads = 2, .dim = 64, .head_dim = 32, .ffn = 128, .vocab = 2048,
    .context = 128, .embed_dim = 64, .rotary_dims = 32, .rope_base = 10000, .rope_factor = 8,
    .rope_low = 1, .rope_high = 4, .rope_original = 8192, .norm_eps = 1e-5, .scale = 1,
    .soft_cap = NAN, .clip_high = 1, .extra_logit = NAN, .extra_norm = 1};
  fact(t, !differs(&c, &want), "--%s has another default", differs(&c, &want));
}

/* What follows from other fields; p = 1 is the plain sum [E43]. */
static void config_resolve__fills(Test *t) {
  Config c = config_of(t, "--heads 4 --dim 64 --normalizer pnorm");
  fact(t, c.head_dim == 16 && c.kv_heads == 4 && c.embed_dim == 64 && c.rotary_dims == 16,
       "D %d K %d E %d r %d", c.head_dim, c.kv_heads, c.embed_dim, c.rotary_dims);
  fact(t, c.normalizer == NORMALIZER_PNORM && c.pnorm == 2, "p is %g unless given", c.pnorm);
  c = config_of(t, "--heads 4 --head-dim 6 --kv-heads 2 --embed-dim 9 --rotary-dims 4");
  fact(t, c.head_dim == 6 && c.kv_heads == 2 && c.embed_dim == 9 && c.rotary_dims == 4, "given");
  c = config_of(t, "--dim 40 --attention-period 2 --experts 3");
  fact(t, c.mamba_inner == 80 && c.mamba_state == 16 && c.mamba_conv == 4 && c.mamba_rank == 3 &&
       c.expert_top == 2, "Mamba of %d channels, %d states, %d taps, rank %d; top %d experts",
       c.mamba_inner, c.mamba_state, c.mamba_conv, c.mamba_rank, c.expert_top);
  c = config_of(t, "--experts 1");
  fact(t, c.expert_top == 1 && !c.mamba_inner, "the top %d of 1, and %d channels", c.expert_top,
       c.mamba_inner);
  c = config_of(t, "--sim sigmoid --normalizer pnorm --pnorm 1");
  fact(t, c.normalizer == NORMALIZER_SUM && c.pnorm == 0, "p = 1 gives normalizer %d, p %g",
       c.normalizer, c.pnorm);
  Config again = c;
  fact(t, !config_resolve(&again, fresh(t)), "resolving twice: %s", t->e.text);
  fact(t, again.normalizer == c.normalizer && again.pnorm == c.pnorm
           && again.head_dim == c.head_dim, "resolving twice changes the model");
}

/* A refusal: status 2, and one line that names the flag and says what to try. */
static void refusal(Test *t, const char *flags, int status, const Error *e, const char *named) {
  fact(t, status == 2 && e->status == 2, "%s: status %d", flags, status);
  fact(t, status == 0 || (strstr(e->text, named) && strstr(e->text, "Try: ")
                          && !strchr(e->text, '\n')), "%s: \"%s\"", flags, e->text);
}

/* Every refusal of chapter 1. */
static void config_resolve__refuses(Test *t) {
  static const struct { const char *flags, *named; } WRONG[] = {
    {"--heads 3", "--heads"}, {"--window 3 --window-period 2 --window-offset 2", "--window-offset"},
    {"--heads 4 --kv-heads 3", "--kv-heads"}, {"--kernel elu --sim identity --extra k", "--kernel"},
    {"--head-dim 5", "rotary"}, {"--attention-period 3 --attention-offset 3", "--attention-offset"},
    {"--kv-heads 4", "--kv-heads"}, {"--sim identity --normalizer pnorm --pnorm 0.5", "--pnorm"},
    {"--rotary-dims 34", "--rotary-dims"}, {"--sim identity --normalizer pnorm --pnorm 1", "--sim"},
    {"--rotary-dims 3", "rotary"}, {"--kernel elu --sim identity --extra logit", "--kernel"},
    {"--extra k --extra-dims 33", "--extra-dims"}, {"--experts 2 --expert-top 3", "--expert-top"},
    {"--prefix 129", "--prefix"}, {"--kernel elu --sim identity --score-bias logn", "--score-bias"},
    {"--window 0", "--window"}, {"--attention-period 8 --attention-offset 4", "--attention-offset"},
    {"--experts 257", "--experts"}, {"--kernel elu --sim identity --extra kv", "--kernel"},
    {"--experts 4 --expert-period 2 --expert-offset 2", "--expert-offset"},
    {"--mamba-state 0", "--mamba-state"}, {"--rope-scaling yarn --rope-high 0.9", "--rope-high"},
    {"--linear-bias --bias-in out", "--bias-in"}, {"--normalizer pnorm --pnorm -1", "--pnorm"},
    {"--normalizer pnorm --pnorm 0", "--pnorm"}, {"--rope-scaling yarn --rope-low 0", "--rope-low"},
    {"--sim identity", "--sim"}, {"--kernel mlp --sim identity", "--sim"},
    {"--kernel mlp --sim identity --normalizer pnorm --pnorm 0.5", "--pnorm"},
    {"--kernel elu --sim identity --extra k --normalizer pnorm --pnorm 0.9", "--pnorm"},
    {"--kernel elu --sim identity --extra kv --normalizer pnorm --pnorm 0.5", "--pnorm"},
    {"--kernel elu --sim identity --extra logit --normalizer pnorm --pnorm 0.99", "--pnorm"},
    {"--rope-scaling llama3 --rope-low 3 --rope-high 3", "--rope-high"},
    {"--kernel elu --sim identity --score-bias learned --normalizer pnorm --pnorm 0.5", "--pnorm"}};
  EACH(i, WRONG) {
    Config c; int status = config_from_flags(&c, WRONG[i].flags, fresh(t));
    refusal(t, WRONG[i].flags, status, &t->e, WRONG[i].named);
  }
  for (int i = 0; i < 2; i++) {                            /* in a file, not by a flag */
    Config c = config_of(t, "--normalizer pnorm");
    c.pnorm = i ? (double)NAN : -1;
    refusal(t, "a file's p", config_resolve(&c, fresh(t)), &t->e, "--pnorm");
  }
}

/* The nearest neighbours of the refusals are accepted: nothing else is refused. */
static void config_resolve__near_misses(Test *t) {
  static const char *const RIGHT[] = {
    "--heads 3 --head-dim 20", "--experts 2 --expert-top 2 --expert-period 64 --expert-offset 63",
    "--heads 3 --dim 63 --pos none", "--kernel elu --sim identity --normalizer clamp --extra logit",
    "--heads 4 --kv-heads 2", "--kernel elu --sim identity --score-bias logn --normalizer pnorm",
    "--kv-heads 1", "--kernel elu --sim identity --score-bias logn --normalizer one", "--experts 1",
    "--rotary-dims 32", "--kernel elu --sim identity --normalizer pnorm --extra zero", "--prefix 0",
    "--head-dim 5 --pos none", "--kernel elu --sim identity --normalizer pnorm --pnorm 0.5",
    "--head-dim 5 --rotary-dims 4", "--kernel mlp --sim identity --normalizer clamp --extra k",
    "--rotary-dims 3 --pos alibi", "--kernel elu --sim identity --normalizer pnorm --pnorm 1",
    "--extra k --extra-dims 32", "--kernel elu --sim sigmoid --extra kv --normalizer pnorm",
    "--prefix 128", "--kernel elu --sim identity --normalizer one --extra k", "--normalizer pnorm",
    "--window 1", "--attention-offset 9 --expert-offset 9 --expert-top 9", "--kernel elu --extra k",
    "--window 999", "--rope-scaling yarn --rope-low 0.01 --rope-high 0.02", "--attention-period 1",
    "--window 3 --window-period 2 --window-offset 1", "--sim identity --normalizer pnorm --extra k",
    "--attention-period 8 --attention-offset 3", "--rope-scaling linear --rope-low 4 --rope-high 4",
    "--bias-in qkv", "--context 2 --score-scale logn --score-bias learned", "--score-scale logn",
    "--attention-period 2 --attention-offset 1 --place parallel --sink-token --prefix 3",
    "--kernel mlp", "--sim identity --normalizer pnorm --pnorm 1.5", "--kernel elu --sim identity",
    "--kernel elu --sim identity --extra kv --normalizer pnorm --pnorm 1.5",
    "--normalizer pnorm --pnorm 0.01", "--sim sigmoid --normalizer pnorm --pnorm 0.5", "--scale -1",
    "--sim identity --normalizer one", "--extra k --extra-value ones --extra-norm 20",
    "--sim identity --normalizer clamp", "--kernel elu --sim identity --extra zero",
    "--sim elu --extra logit", "--rope-scaling llama3 --rope-low 0", "--extra k --extra-value e1",
    "--extra-shared", "--context 1 --score-bias logn", "--extra-logit none", "--soft-cap 1e-30",
    "--extra-dims 3", "--soft-cap none",
    "--extra zero --vbias --sink-token --prefix 3 --window 4 --place post --combine add --tied"};
  EACH(i, RIGHT) config_kept(t, "%s", RIGHT[i]);
}

/* Every row of VARIANTS resolves, is named once, has a source, and is what --variant sets. */
static void variants__resolve(Test *t) {
  int n = 0, operations = 0;
  for (const Variant *v = VARIANTS; v->name; v++, n++) {
    const Config c = config_of(t, "%s", v->flags), named = config_of(t, "--variant %s", v->name);
    fact(t, !differs(&c, &named), "--variant %s: --%s", v->name, differs(&c, &named));
    fact(t, v->source && *v->source && v->sink && v->loss, "%s has no source", v->name);
    for (const Variant *u = VARIANTS; u != v; u++)
      fact(t, strcmp(u->name, v->name), "%s twice", v->name);
    operations += !strncmp(v->source, "Table 15", 8);
  }
  fact(t, operations == 11, "%d of Table 15's 11 operations [T15]", operations);
  note(t, "%d variants", n);
}

/* Table 15 [T6] [T15], row by row: which similarity, kernel and normaliser each operation is. */
static void variants__table_15(Test *t) {
#define IS_OF(kernel, sim, normalizer) KERNEL_##kernel, SIM_##sim, NORMALIZER_##normalizer
  static const struct { const char *name; int kernel, sim, normalizer; } ROWS[] = {
    {"softmax", IS_OF(IDENTITY, EXP, SUM)}, {"sigmoid", IS_OF(IDENTITY, SIGMOID, ONE)},
    {"sigmoid-sum", IS_OF(IDENTITY, SIGMOID, SUM)}, {"elu", IS_OF(IDENTITY, ELU, ONE)},
    {"elu-sum", IS_OF(IDENTITY, ELU, SUM)}, {"elu-kernel-sum", IS_OF(ELU, IDENTITY, SUM)},
    {"elu-kernel", IS_OF(ELU, IDENTITY, ONE)}, {"linear-clamp", IS_OF(IDENTITY, IDENTITY, CLAMP)},
    {"linear", IS_OF(IDENTITY, IDENTITY, ONE)}, {"mlp-clamp", IS_OF(MLP, IDENTITY, CLAMP)},
    {"mlp", IS_OF(MLP, IDENTITY, ONE)}};
  EACH(i, ROWS) {
    const Config c = config_of(t, "--variant %s", ROWS[i].name);
    fact(t, c.kernel == ROWS[i].kernel && c.sim == ROWS[i].sim &&
             c.normalizer == ROWS[i].normalizer,
         "%s is kernel %d, sim %d, normalizer %d", ROWS[i].name, c.kernel, c.sim, c.normalizer);
  }
}

/* [T13] Which dims of k* are learned, in order of preference, written out by hand. */
static void config_learned_dim__orders(Test *t) {
  static const struct { const char *flags; int D; int order[8]; } ROWS[] = {
    {"--head-dim 8 --extra-order first", 8, {0, 1, 2, 3, 4, 5, 6, 7}},
    {"--head-dim 8 --extra-order last", 8, {7, 6, 5, 4, 3, 2, 1, 0}},
    {"--head-dim 8 --extra-order lowfreq", 8, {3, 7, 2, 6, 1, 5, 0, 4}},
    {"--head-dim 8 --extra-order lowfreq --rope-pairing interleaved", 8, {6, 7, 4, 5, 2, 3, 0, 1}},
    {"--head-dim 8 --extra-order lowfreq --rotary-dims 4", 8, {4, 5, 6, 7, 1, 3, 0, 2}},
    {"--head-dim 8 --extra-order lowfreq --rotary-dims 6 --rope-pairing interleaved", 8,
     {6, 7, 4, 5, 2, 3, 0, 1}},
    {"--head-dim 7 --extra-order lowfreq --rotary-dims 2", 7, {2, 3, 4, 5, 6, 0, 1}},
    {"--head-dim 5 --extra-order last --pos none", 5, {4, 3, 2, 1, 0}},
    {"--head-dim 5 --extra-order lowfreq --pos none", 5, {4, 1, 3, 0, 2}},
    {"--head-dim 1 --extra-order lowfreq --pos none", 1, {0}},
    {"--head-dim 8 --extra-order lowfreq --rotary-dims 3 --pos none", 8, {2, 3, 4, 5, 6, 7, 0, 1}}};
  EACH(i, ROWS) for (int n = 1; n <= ROWS[i].D; n++) {
    const Config c = config_of(t, "%s --extra k --extra-dims %d", ROWS[i].flags, n);
    for (int rank = 0; rank < ROWS[i].D; rank++) fact(t, config_learned_dim(&c, ROWS[i].order[rank])
        == (rank < n), "%s, %d learned: dim %d", ROWS[i].flags, n, ROWS[i].order[rank]);
  }
}

/* Rows, columns and who stands where, with and without * and x*; layers with a window [FIG6]. */
static void config_columns__by_variant(Test *t) {
  static const struct { const char *flags; int rows, columns, star, first; } ROWS[] = {
    {"", 9, 9, -1, 0}, {"--extra k", 9, 10, 0, 1}, {"--extra zero", 9, 10, 0, 1},
    {"--vbias", 9, 9, -1, 0}, {"--sink-token", 10, 10, 0, 1},
    {"--sink-token --extra logit", 10, 11, 0, 2}, {"--sink-token 4", 13, 13, 0, 4},
    {"--sink-token=3 --extra logit", 12, 13, 0, 4}, {"--sink-token 0", 9, 9, -1, 0}};
  EACH(i, ROWS) {
    const Config c = config_of(t, "%s", ROWS[i].flags);
    fact(t, config_rows(&c, 9) == ROWS[i].rows && config_columns(&c, 9) == ROWS[i].columns
         && config_column_star(&c) == ROWS[i].star && config_column_first(&c) == ROWS[i].first,
         "%s: %d rows, %d columns, * at %d, token 1 at %d", ROWS[i].flags, config_rows(&c, 9),
         config_columns(&c, 9), config_column_star(&c), config_column_first(&c));
  }
  const Config third = config_of(t, "--window 5 --window-period 3 --window-offset 1");
  const Config every = config_of(t, "--window 5");
  for (int l = 0; l < 9; l++) fact(t, config_window(&third, l) == (l % 3 == 1 ? 5 : 0)
      && config_window(&every, l) == 5, "window of layer %d", l);
}

/* Which blocks attend and which have experts; Jamba's 32. */
static void config_attends__periods(Test *t) {
  Config c = config_of(t, "--layers 32 --attention-period 8 --attention-offset 4 --experts 16 "
                          "--expert-period 2 --expert-offset 1");
  fact(t, config_attending(&c) == 4, "%d blocks attend", config_attending(&c));
  for (int l = 0; l < 32; l++) {
    fact(t, config_attends(&c, l) == (l == 4 || l == 12 || l == 20 || l == 28), "block %d", l);
    fact(t, config_experts(&c, l) == (l & 1 ? 16 : 0), "block %d's experts", l);
  }
  c = config_of(t, "--layers 3 --experts 5 --attention-offset 2 --expert-offset 2");
  for (int l = 0; l < 3; l++) fact(t, config_attends(&c, l) && config_experts(&c, l) == 5,
      "without a period block %d is of another kind", l);
  c = config_of(t, "--layers 3 --expert-period 2");
  fact(t, !config_experts(&c, 0) && config_attending(&c) == 3, "no experts, yet some");
}

/* A model without a backward is refused wherever one would begin; its neighbours are not. */
static void config_trains__refuses(Test *t) {
  static const struct { const char *flags, *named; } ROWS[] = {
    {"--layers 4 --attention-period 2", "--attention-period"},
    {"--layers 4 --attention-period 4 --attention-offset 3 --experts 2", "--attention-period"},
    {"--experts 1", "--experts"},
    {"--layers 4 --experts 3 --expert-period 4 --expert-offset 3", "--experts"},
    {"--attention-period 1", NULL}, {"--rope-scaling longrope", "--rope-scaling longrope"},
    {"--layers 2 --experts 3 --expert-period 4 --expert-offset 3", NULL},
    {"--linear-bias --bias-in qkv --score-by-layer --mamba-state 3 --expert-top 2", NULL}};
  EACH(i, ROWS) {
    const char *flags = ROWS[i].flags, *named = ROWS[i].named;
    const Config c = config_of(t, "%s", flags);
    Model m; Trainer r; Settings s;
    fact(t, config_trains(&c, fresh(t)) == (named ? 2 : 0), "%s: %s", flags, t->e.text);
    int status = model_create(&m, &c, true, fresh(t));
    fact(t, status == (named ? 2 : 0) && (!named || !m.params), "%s with gradients: status %d",
         flags, status);
    model_free(&m);
    if (!named) continue;
    refusal(t, flags, status, &t->e, named);
    fact(t, model_create(&m, &c, false, fresh(t)) == 2 && !m.params, "%s without data/models/hf.c: %s",
         flags, t->e.text);
    model_free(&m);
    settings_default(&s);
    settings_flags(&s, flags, MODEL, fresh(t));
    fact(t, !t->e.status && trainer_create(&r, &s, &t->e) == 2 && strstr(t->e.text, named),
         "a training of %s: %d, %s", flags, t->e.status, t->e.text);
  }
}

/* =================================================================================================
 * 2  Parameters: one table of tensors */

static idx counted(const Model *m, int layer) {
  idx sum = 0;
  for (int i = 0; i < m->n_tensors; i++) if (m->tensor[i].layer == layer) sum += m->tensor[i].count;
  return sum;
}

/* A model of these flags after others; false when it cannot be made. */
static bool model_of(Test *t, Model *m, const char *before, const char *flags, bool with_grads) {
  const Config c = config_of(t, "%s%s", before, flags);
  bool made = !t->e.status && !model_create(m, &c, with_grads, &t->e);
  fact(t, made, "%s: %s", flags, t->e.text);
  return made;
}

/* The parameter counts of the authors' configurations. The 60M model is made as it is (untouched
 * pages cost nothing); the 1B model from one of its blocks. */
static void model_create__counts(Test *t) {
  static const char SIZES[] =
      "--layers 10 --heads 8 --dim 768 --ffn 1536 --vocab 50432 --context 2048 ";
  static const struct { const char *flags; double non_embedding; } ROWS[] = {
    {"", 58998528}, {"--act geglu", 58998528}, {"--act reglu", 58998528}, {"--act relu", 47202048},
    {"--act gelu", 47202048}, {"--act swish", 47202048}, {"--pos learned", 58998528 + 2048 * 768},
    {"--sink-token --pos learned", 58998528 + 2050 * 768}, {"--extra kv", 58998528 + 2 * 10 * 768},
    {"--extra kv --extra-shared", 58998528 + 2 * 10 * 96}, {"--extra logit", 58998528 + 10 * 8},
    {"--vbias", 58998528 + 10 * 768}, {"--place post", 58998528 - 768},
    {"--kernel mlp", 58998528 + 10 * 18432}, {"--combine add", 58998528 - 10 * 516096},
    {"--pos t5", 58998528 + 32 * 8}};
  Model m;
  EACH(i, ROWS) {
    if (!model_of(t, &m, SIZES, ROWS[i].flags, false)) continue;
    idx ends = model_tensor(&m, "wte")->count + model_tensor(&m, "wcls")->count;
    within(t, (double)ends, 77463552, 0, "embedding and unembedding, %s", ROWS[i].flags);
    within(t, (double)(m.count - ends), ROWS[i].non_embedding, 0, "others, %s", ROWS[i].flags);
    fact(t, !m.grads, "a model that only evaluates has gradients");
    model_free(&m);
  }
  if (!model_of(t, &m, "--layers 1 --heads 16 ", "--dim 2048 --ffn 5632 --vocab 1", false)) return;
  double blocks = 22 * (double)counted(&m, 0) + (double)model_tensor(&m, "normf")->count;
  within(t, blocks, 1130457088, 0, "the 1B model without embeddings");
  within(t, blocks + 2.0 * 2048 * 50432, 1337026560, 0, "the 1B model");
  model_free(&m);
}

/* Names, shapes and the mark of --decay matrices. C 12, H 4, D 3, K 2, F 7, V 11, E 5. */
static void model_create__table(Test *t) {
  static const struct {
    const char *flags, *names; int rows, columns; bool matrix;
  } ROWS[] = {
    {"", "wte", 11, 5, true}, {"", "win", 5, 12, true}, {"", "l1.wq l0.wo", 12, 12, true},
    {"", "l0.wk l0.wv", 12, 6, true}, {"", "l0.w1 l0.w2", 12, 7, true}, {"", "l0.w3", 7, 12, true},
    {"", "wout", 12, 5, true}, {"", "wcls", 5, 11, true}, {"--act relu", "l0.w2", 7, 12, true},
    {"--combine add", "l0.wo", 3, 12, true}, {"", "l0.norm1 l1.norm2 normf", 12, 1, false},
    {"--linear-bias", "l0.bq l0.bo l0.b3", 12, 1, false},
    {"--linear-bias", "l0.bk l0.bv", 6, 1, false}, {"--linear-bias", "l0.b1 l0.b2", 7, 1, false},
    {"--linear-bias --act gelu", "l0.b2", 12, 1, false},
    {"--norm layer", "l0.norm1.b normf.b", 12, 1, false},
    {"--norm dyt", "l0.norm1 l1.norm2.b", 12, 1, false},
    {"--norm dyt", "l0.norm1.a normf.a", 1, 1, false},
    {"--place sandwich --norm layer", "l0.norm3 l1.norm4.b", 12, 1, false},
    {"--extra k", "l0.kstar", 4, 3, false}, {"--extra kv", "l0.kstar l0.vstar", 4, 3, false},
    {"--extra kv --extra-shared", "l1.kstar l0.vstar", 1, 3, false},
    {"--extra logit", "l0.logit", 4, 1, false}, {"--vbias", "l0.vplus", 4, 3, false},
    {"--kernel mlp", "l0.phi1 l1.phi2", 3, 3, true}, {"--pos learned", "wpe", 20, 12, true},
    {"--pos learned --sink-token", "wpe", 21, 12, true}, {"--pos t5", "rel", 32, 4, false},
    {"--pos learned --sink-token 3", "wpe", 23, 12, true}, {"--sink-token", "xstar", 12, 1, false},
    {"--sink-token 3", "xstar", 3, 12, false}, {"--sink-token 1", "xstar", 12, 1, false},
    {"--score-scale logn --score-bias learned", "l0.cscale l1.sbias", 4, 1, false},
    {"--gate static --v-scale", "l0.gate l1.vscale", 4, 1, false},
    {"--gate head", "l0.wg", 12, 4, true}, {"--gate element", "l0.wg", 12, 12, true},
    {"--gate value", "l0.wg", 12, 6, true}, {"--head-norm", "l0.hnorm", 12, 1, false},
    {"--qk-norm", "l0.qnorm l1.knorm", 3, 1, false}, {"--qk-norm --qk-whole", "l0.knorm", 6, 1,
     false}, {"--qk-norm --qk-whole", "l1.qnorm", 12, 1, false}};
  static const char SIZES[] =
      "--layers 2 --heads 4 --dim 12 --kv-heads 2 --ffn 7 --vocab 11 --context 20 "
      "--embed-dim 5 --pos none ";
  Model m; char name[16];
  EACH(i, ROWS) {
    if (!model_of(t, &m, SIZES, ROWS[i].flags, true)) continue;
    for (const char *at = ROWS[i].names; word_next(&at, name);) {
      const Tensor *x = model_tensor(&m, name), none = {0};
      if (!x) x = &none;
      fact(t, x->rank == 1 + (ROWS[i].columns > 1) && x->shape[0] == ROWS[i].rows &&
           x->shape[1] == ROWS[i].columns && x->matrix == ROWS[i].matrix &&
           x->count == (idx)ROWS[i].rows * ROWS[i].columns, "%s, %s: rank %d [%d,%d], matrix %d",
           ROWS[i].flags, name, x->rank, x->shape[0], x->shape[1], x->matrix);
    }
    model_free(&m);
  }
}

/* The default has 2 + 9 L + 1 tensors and none of the others; they lie end to end, and the named
 * pointers and those of the gradients point at them. */
static void model_create__layout(Test *t) {
  static const char *const NOT_THERE[] = {
    "win", "xstar", "wpe", "rel", "l0.norm1.b", "l0.bq", "l0.b3", "l0.phi1", "l0.kstar",
    "l0.norm1.a", "l0.norm3", "l0.vstar", "l0.logit", "l0.vplus", "normf.b", "wout", "l2.wq",
    "L0.wq", ""};
  LABS(b, 1, 4, "") {
    const Model *m = &b.m;
    fact(t, m->n_tensors == 21, "%d tensors", m->n_tensors);
    EACH(i, NOT_THERE) fact(t, !model_tensor(m, NOT_THERE[i]), "the default has %s", NOT_THERE[i]);
    idx at = 0;
    for (int i = 0; i < m->n_tensors; at += m->tensor[i++].count)
      fact(t, m->tensor[i].at == at, "%s is not at %lld", m->tensor[i].name, at);
    fact(t, at == m->count, "%lld numbers, not %lld", m->count, at);
    fact(t, !m->w.layer[0].bq && !m->w.rel && !m->d.layer[1].kstar, "a pointer to no tensor");
  }
  LABS(b, 1, 4, "--linear-bias --norm dyt --extra kv --vbias --kernel mlp --sink-token "
                "--pos t5 --embed-dim 5 --place sandwich") {
    const Model *m = &b.m;
    const Layer *w = &m->w.layer[1], *d = &m->d.layer[1];
#define ENDS(name) {#name, m->w.name, m->d.name}
#define OF_1(name) {"l1." #name, w->name, d->name}
    const struct { const char *name; const real *w, *d; } POINTERS[] = {
      ENDS(wte), ENDS(win), ENDS(xstar), ENDS(rel), ENDS(wout), ENDS(wcls), OF_1(wq), OF_1(wk),
      OF_1(wv), OF_1(wo), OF_1(bq), OF_1(bk), OF_1(bv), OF_1(bo), OF_1(w1), OF_1(w2), OF_1(w3),
      OF_1(b1), OF_1(b2), OF_1(b3), OF_1(kstar), OF_1(vstar), OF_1(vplus), OF_1(phi1), OF_1(phi2),
      {"normf", m->w.normf.g, m->d.normf.g}, {"normf.b", m->w.normf.b, m->d.normf.b},
      {"l1.norm1", w->norm1.g, d->norm1.g}, {"l1.norm1.b", w->norm1.b, d->norm1.b},
      {"l1.norm1.a", w->norm1.a, d->norm1.a}, {"l1.norm2", w->norm2.g, d->norm2.g},
      {"l1.norm2.b", w->norm2.b, d->norm2.b}, {"l1.norm3", w->norm3.g, d->norm3.g},
      {"l1.norm4.a", w->norm4.a, d->norm4.a}};
    EACH(i, POINTERS) {
      const Tensor *x = model_tensor(m, POINTERS[i].name);
      fact(t, x && POINTERS[i].w == m->params + x->at && POINTERS[i].d == m->grads + x->at,
           "%s is elsewhere", POINTERS[i].name);
    }
  }
}

/* --bias-in says which maps have a bias. */
static void model_create__biases(Test *t) {
  static const struct { const char *flags, *absent, *present; } BIASES[] = {
    {"--linear-bias --bias-in qkv", "bo b1 b2 b3", "bq bk bv"},
    {"--linear-bias --bias-in attention", "b1 b2 b3", "bq bk bv bo"},
    {"--linear-bias --bias-in ffn", "bq bk bv bo", "b1 b2 b3"},
    {"--linear-bias --bias-in ffn --act relu", "bq bk bv bo b3", "b1 b2"},
    {"--bias-in attention", "bq bk bv bo b1 b2 b3", ""}};
  EACH(i, BIASES) LABS(b, 1, 4, BIASES[i].flags) for (int there = 0; there < 2; there++) {
    const char *at = there ? BIASES[i].present : BIASES[i].absent;
    for (char name[20] = "l1."; word_next(&at, name + 3);)
      fact(t, !model_tensor(&b.m, name) == !there, "%s: %s", b.flags, name);
  }
}

/* Parameters of published models from models of one block at its real width. OPT's table of
 * positions has two rows more in its file, which no token reads. */
static void model_create__published_counts(Test *t) {
  static const struct { const char *name, *flags; int layers; double count; } ROWS[] = {
    {"gpt2", "--heads 12 --dim 768 --ffn 3072 --vocab 50257 --context 1024 --pos learned "
             "--norm layer --act gelutanh --linear-bias --tied", 12, 124439808},
    {"pythia-70m", "--heads 8 --dim 512 --ffn 2048 --vocab 50304 --rotary-dims 16 --norm layer "
                   "--act gelu --linear-bias --place parallel", 6, 70426624},
    {"opt-125m", "--heads 12 --dim 768 --ffn 3072 --vocab 50272 --context 2048 --pos learned "
                 "--norm layer --act relu --linear-bias --tied", 12, 125239296 - 2 * 768},
    {"opt-350m", "--heads 16 --dim 1024 --ffn 4096 --vocab 50272 --context 2048 --pos learned "
                 "--norm layer --act relu --linear-bias --tied --place post --embed-dim 512",
     24, 331196416 - 2 * 1024}};
  Model m;
  EACH(i, ROWS) {
    if (!model_of(t, &m, "--layers 1 ", ROWS[i].flags, false)) return;
    within(t, (double)m.count + (ROWS[i].layers - 1) * (double)counted(&m, 0), ROWS[i].count, 0,
           "parameters of %s", ROWS[i].name);
    fact(t, !model_tensor(&m, "normf") == (i == 3) && !model_tensor(&m, "wout") == (i != 3)
             && !model_tensor(&m, "win.b"), "%s: a final norm, a projection", ROWS[i].name);
    model_free(&m);
  }
}

/* A tensor starts normal of this deviation, uniform within this half-width, or as one number. */
enum { NORMAL, UNIFORM, EXACTLY };

static void start_is(Test *t, Lab *b, const char *name, int init, int kind, double size) {
  model_init(&b->m, init, 3);
  const Tensor *x = model_tensor(&b->m, name);
  const real *w = b->m.params + x->at;
  double n = (double)x->count, mean = 0, square = 0, most = biggest(x->count, w);
  double sigma = kind == UNIFORM ? size / sqrt(3) : size, fourth = kind == UNIFORM ? 0.8 : 2;
  for (idx j = 0; j < x->count; j++) {
    mean += (double)w[j] / n;
    square += (double)w[j] * (double)w[j] / n;
  }
  if (kind == EXACTLY)
    within(t, fabs(mean - sigma) + fabs(sqrt(square) - sigma), 0, 0, "%s, %s", name, b->flags);
  else {                                                   /* five standard errors */
    within(t, mean / sigma, 0, 5 / sqrt(n), "mean of %s, init %d", name, init);
    within(t, square / (sigma * sigma), 1, 5 * sqrt(fourth / n), "variance of %s, init %d, %s",
           name, init, b->flags);
  }
  if (kind == UNIFORM)
    fact(t, most <= size && most > size * (1 - 12 / n), "%s reaches %g of %g", name, most, size);
  if (kind == NORMAL && n > 999)
    fact(t, most > 2.5 * sigma, "%s is not normal: at most %g sigma", name, most / sigma);
}

/* What tensors start as under --init torch, authors, gpt2: a kind under the first; the others have
 * no uniform starts, and biases of 0. C 64, H 4, D 16, F 96, V 400, L 3. */
static void model_init__laws(Test *t) {
  const double narrow = 0.02 / sqrt(6), swiglu = 1 / (sqrt(96) * 3), a = sqrt(0.4);
  const double f = 1 / sqrt(96), g = a / sqrt(96);
  const struct { const char *flags, *names; int kind; double size[3]; } ROWS[] = {
    {"--sink-token --pos learned", "wte wpe xstar", NORMAL, {1, a / 8, 0.02}},
    {"--sink-token 3 --embed-dim 25", "wte xstar", NORMAL, {1, a / 8, 0.02}},
    {"--embed-dim 25", "win wcls", UNIFORM, {1.0 / 5, a / 5, 0.02}},
    {"--embed-dim 25", "wout", UNIFORM, {1.0 / 8, a / 8, 0.02}},
    {"--gate element", "l0.wq l1.wk l2.wv l0.wg l1.w1 l2.w2 wcls", UNIFORM, {1.0 / 8, a / 8, 0.02}},
    {"--kernel mlp", "l0.phi1 l1.phi2", UNIFORM, {1.0 / 4, a / 4, 0.02}},
    {"", "l0.wo", UNIFORM, {1.0 / 8, a / 8, narrow}},
    {"--combine add", "l0.wo", UNIFORM, {1.0 / 4, a / 4, narrow}},
    {"", "l2.w3", UNIFORM, {f, swiglu, narrow}}, {"--act geglu", "l0.w3", UNIFORM, {f, g, narrow}},
    {"--act relu", "l0.w2", UNIFORM, {f, g, narrow}},
    {"--linear-bias", "l0.bq l1.bk l2.bv l0.bo l1.b1 l2.b2", UNIFORM, {1.0 / 8, 0, 0}},
    {"--linear-bias --combine add", "l0.bo", UNIFORM, {1.0 / 4, 0, 0}},
    {"--linear-bias --act relu", "l0.b2", UNIFORM, {f, 0, 0}},
    {"--linear-bias", "l0.b3", UNIFORM, {f, 0, 0}},
    {"--extra kv --vbias", "l0.kstar l1.vstar l2.vplus", NORMAL, {0.02, 0.02, 0.02}},
    {"--extra logit --heads 64 --head-dim 2", "l0.logit", NORMAL, {0.02, 0.02, 0.02}},
    {"--place sandwich", "l0.norm1 l1.norm2 l2.norm3 l0.norm4 normf", EXACTLY, {1, 1, 1}},
    {"--norm dyt", "l0.norm2.a normf.a", EXACTLY, {0.5, 0.5, 0.5}},
    {"--norm layer --pos t5", "l0.norm1.b normf.b rel", EXACTLY, {0, 0, 0}}};
  EACH(i, ROWS) {
    char flags[300], name[16];
    snprintf(flags, sizeof flags, "--layers 3 --heads 4 --dim 64 --ffn 96 --vocab 400 "
                                  "--context 128 %s", ROWS[i].flags);
    LABS(b, 1, 4, flags) for (int init = 0; init < 3; init++)
      for (const char *at = ROWS[i].names; word_next(&at, name);) {
        const double size = ROWS[i].size[init];
        const int kind = init && ROWS[i].kind == UNIFORM ? NORMAL : ROWS[i].kind;
        start_is(t, &b, name, init, size > 0 ? kind : EXACTLY, size);
      }
  }
}

/* A seed gives a tensor its numbers in every variant; another seed, name or layer, others. */
static void model_init__streams(Test *t) {
  LABS(a, 1, 4, "") LABS(b, 1, 4, "--extra kv --sim sigmoid --pos learned --vbias --place post "
                                  "--norm layer --sink-token") {
    for (int init = 0; init < 3; init++) {
      model_init(&a.m, init, 11); model_init(&b.m, init, 11);
      for (int k = 0; k < a.m.n_tensors; k++) {
        const Tensor *x = &a.m.tensor[k], *y = model_tensor(&b.m, x->name);
        fact(t, y ? same_numbers(x->count, a.m.params + x->at, b.m.params + y->at)
                  : !strcmp(x->name, "normf"), "%s differs between variants of one seed", x->name);
      }
    }
    model_init(&a.m, INIT_TORCH, 11); model_init(&b.m, INIT_TORCH, 12);
    fact(t, lab_at(&a, "l0.wq")[0] != lab_at(&b, "l0.wq")[0], "seeds 11 and 12 start alike");
    fact(t, lab_at(&a, "l0.wq")[0] != lab_at(&a, "l1.wq")[0], "layers start alike");
    fact(t, lab_at(&a, "l0.wq")[0] != lab_at(&a, "l0.wk")[0], "q and k start alike");
  }
}

/* =================================================================================================
 * 3  Operators
 *
 * 3.1 to 3.3  Embedding, normalisation, linear */

/* [T7] Token 1 reads p_t, and where they swap token t reads p_1: a forward of a model whose table
 * was written so. Without attention the states of repeated tokens change places. */
static void edited(Test *t, Lab *b, const PositionEdit *edit) {
  enum { T = 7, LAST = 4 };
  int C = b->m.c.dim, first = b->m.c.sink_token, N = T + first, n = 2 * N * C;
  real *table = b->m.w.wpe ? b->m.w.wpe : b->a.sinusoid;
  real *plain = reals_of(t, n), *other = reals_of(t, n);
  real *p_1 = table + first * C, *p_t = p_1 + LAST * C, kept[64];
  copy(kept, p_1, C);
  lab_forward(b);
  copy(plain, b->a.nf, n);
  b->a.edit = edit;
  lab_forward(b);
  copy(other, b->a.nf, n);
  b->a.edit = NULL;
  copy(p_1, p_t, C);
  if (edit->swap) copy(p_t, kept, C);
  lab_forward(b);
  within(t, distance(n, b->a.nf, other), 0, 0, "%s: a table so written", b->flags);
  fact(t, fabs((double)other[first * C] - (double)plain[first * C]) > 1e-3, "edit: no change");
  if (edit->swap) copy(p_t, p_1, C);           /* back again: no attention, one token */
  copy(p_1, kept, C);
  for (int i = 0; i < 2 * T; i++) b->ids[i] = 3;
  lab_fill(b, "l0.wo", 0); lab_fill(b, "l1.wo", 0);
  lab_forward(b);
  copy(plain, b->a.nf, n);
  b->a.edit = edit;
  lab_forward(b);
  for (int i = 0; i < N; i++) {
    int from = i == first ? first + LAST : edit->swap && i == first + LAST ? first : i;
    within(t, distance(C, plain + from * C, b->a.nf + i * C), 0, 0, "%s: row %d", b->flags, i);
  }
}
static void embed_forward__edited(Test *t) {
  for (int swap = 0; swap < 2; swap++)
    LABS(b, 2, 7, "--pos learned", "--pos learned --sink-token 3", "--pos absolute",
         "--pos absolute --sink-token --extra k") edited(t, &b, &(const PositionEdit){5, swap});
}

/* [E5] p_n = (sin n, cos n, sin 0.01 n, cos 0.01 n) at C = 4, from n = 0 (x* if present). */
static void embed_forward__absolute(Test *t) {
  static const double ROWS[][4] = {
    {0, 1, 0, 1},
    {0.84147098480789651, 0.54030230586813972, 0.0099998333341666647, 0.99995000041666528},
    {0.90929742682568170, -0.41614683654714239, 0.019998666693333079, 0.99980000666657778}};
  LABS(b, 1, 5, "--dim 4 --pos absolute", "--dim 4 --pos absolute --sink-token") {
    lab_fill(&b, "wte", 0); lab_fill(&b, "xstar", 0);
    lab_forward(&b);
    for (int n = 0; n < 3; n++) for (int ch = 0; ch < 4; ch++)
      within(t, (double)b.a.h0[n * 4 + ch], ROWS[n][ch], 2 * REAL_EPS, "p_%d[%d]", n, ch);
  }
}

/* One row worked by hand: x = (3, 4), gains (2, -1), biases (10, 20); and a row of zeros. */
static void norm_forward__by_hand(Test *t) {
  const double rms = 1 / sqrt(12.5 + 1e-5), deviation = 1 / sqrt(0.25 + 1e-5);
  const double want[2][4] = {{6 * rms, -4 * rms, 0, 0},
                             {10 - deviation, 20 - 0.5 * deviation, 10, 20}};
  LABS(b, 1, 2, "--dim 2 --pos none --heads 1", "--dim 2 --pos none --heads 1 --norm layer") {
    real *e = lab_at(&b, "wte"), *g = lab_at(&b, "l0.norm1"), *bias = lab_at(&b, "l0.norm1.b");
    b.ids[0] = 0; b.ids[1] = 1;
    e[0] = 3; e[1] = 4; e[2] = 0; e[3] = 0;
    g[0] = 2; g[1] = -1;
    if (bias) { bias[0] = 10; bias[1] = 20; }
    lab_forward(&b);
    for (int i = 0; i < 4; i++) within(t, (double)b.a.layer[0].n1[i], want[bias != NULL][i],
        32 * REAL_EPS, "row %d, %s", i / 2, b.flags);
  }
}

/* What norms must forget: RMSNorm a factor, LayerNorm a constant as well (both but for eps). */
static void norm_forward__invariances(Test *t) {
  LABS(b, 1, 2, "--pos none --norm-eps 0", "--pos none --norm-eps 0 --norm layer") {
    real *e = lab_at(&b, "wte"), *n1 = b.a.layer[0].n1;
    int C = b.m.c.dim;
    b.ids[0] = 0; b.ids[1] = 1;
    for (int ch = 0; ch < C; ch++) e[C + ch] = 8 * e[ch] + (b.m.c.norm == NORM_LAYER ? 3 : 0);
    lab_forward(&b);
    within(t, distance(C, n1, n1 + C), 0, 16 * REAL_EPS, "%s", b.flags);
    fact(t, biggest(C, n1) > 0.5, "the norm is nearly 0");
  }
}

/* q, k, v = n(x) W + b, with key heads of their own width; o W_O + b_O and the residual. */
static void linear__with_biases(Test *t) {
  LABS(b, 2, 5, "--pos none --linear-bias --heads 4 --kv-heads 2") {
    lab_forward(&b);
    const LayerActs *a = &b.a.layer[0];
    const Layer *w = &b.m.w.layer[0];
    const struct { const char *name; const real *y, *x, *w, *b, *plus; int in, out; } ROWS[] = {
      {"q", a->q, a->n1, w->wq, w->bq, NULL, 12, 12}, {"k", a->k, a->n1, w->wk, w->bk, NULL, 12, 6},
      {"v", a->v, a->n1, w->wv, w->bv, NULL, 12, 6},
      {"s1", a->s1, a->o, w->wo, w->bo, a->x, 12, 12},
      {"f1", a->f1, a->n2, w->w1, w->b1, NULL, 12, 7},
      {"f2", a->f2, a->n2, w->w2, w->b2, NULL, 12, 7},
      {"s2", a->s2, a->fa, w->w3, w->b3, a->s1, 7, 12}};
    EACH(r, ROWS) for (int n = 0; n < 10; n++) {
      double x[12], y[12]; int in = ROWS[r].in, out = ROWS[r].out;
      for (int i = 0; i < in; i++) x[i] = (double)ROWS[r].x[n * in + i];
      slow_linear(y, x, ROWS[r].w, ROWS[r].b, in, out);
      for (int o = 0, at = n * out; o < out; o++, at++) {
        const double plus = ROWS[r].plus ? (double)ROWS[r].plus[at] : 0;
        within(t, (double)ROWS[r].y[at], y[o] + plus, 256 * REAL_EPS, "%s", ROWS[r].name);
      }
    }
  }
}

/* -------------------------------------------------------------------------------------------------
 * 3.4  Positions inside the dot product */

/* Runs the lab with its maps; the scores z [B,H,N,S] of layer 0. */
static real *scores(Lab *b) {
  lab_maps(b);
  lab_forward(b);
  return b->probe[0].z;
}

/* [E8] With one token repeated, a score depends on i - j alone, and lengths do not depend on i. */
static void rotate__relative(Test *t) {
  LABS(b, 1, 40, "") {
    double spread = 0;
    for (int i = 0; i < 40; i++) b.ids[i] = 4;
    const real *z = scores(&b);
    for (int h = 0; h < 2; h++, z += 1600) for (int i = 1; i < 40; i++) {
      for (int j = 1; j <= i; j++) within(t, (double)z[i * 40 + j], (double)z[(i - 1) * 40 + j - 1],
          64 * REAL_EPS, "z(%d,%d) against its neighbour up the diagonal", i, j);
      spread = larger(spread, fabs((double)z[i * 40] - (double)z[0]));
    }
    fact(t, spread > 0.1, "the distance does not matter");
  }
}

/* (F4) The two pairings are one model with the dims of q and k renamed. */
static void rotate__pairings(Test *t) {
  LABS(a, 1, 12, "--linear-bias") LABS(b, 1, 12, "--linear-bias --rope-pairing interleaved") {
    int D = a.m.c.head_dim, HD = 2 * D;
    for (int l = 0; l < 2; l++) for (int key = 0; key < 2; key++)
      for (int from = 0; from < HD; from++) {
        const Layer *v = &a.m.w.layer[l], *w = &b.m.w.layer[l];
        int d = from % D, to = from - d + (d < D / 2 ? 2 * d : 2 * d - D + 1);
        for (int i = 0; i < 12; i++)
          (key ? w->wk : w->wq)[i * HD + to] = (key ? v->wk : v->wq)[i * HD + from];
        (key ? w->bk : w->bq)[to] = (key ? v->bk : v->bq)[from];
      }
    lab_forward(&a); lab_forward(&b);
    within(t, distance(12 * 12, a.a.nf, b.a.nf), 0, 256 * REAL_EPS, "states when renamed");
  }
}

/* [E6] [E7] [T3] With q = 0 a score is its bias: relative's bucket number for every head, T5's
 * learned table, ALiBi's slopes at 8, 16 and 6 heads. A key ahead of its query has distance 0. */
static void distance_bias__tables(Test *t) {
  static const struct { const char *flags; int heads; double slope[8]; } ROWS[] = {
    {"--pos alibi --dim 16 --heads 8", 8,
     {0.5, 0.25, 0.125, 0.0625, 0.03125, 0.015625, 0.0078125, 0.00390625}},
    {"--pos alibi --prefix 3 --dim 16 --heads 8", 3, {0.5, 0.25, 0.125}},
    {"--pos alibi --dim 12 --heads 6", 6,
     {0.39685026299204984, 0.15749013123685915, 0.0625, 0.024803141437003115,
      0.0098431332023036968, 0.00390625}},
    {"--pos alibi --dim 16 --heads 16", 4, {0.70710678118654752, 0.5, 0.35355339059327376, 0.25}},
    {"--pos relative", 2, {0}}, {"--pos relative --prefix 3", 2, {0}}, {"--pos t5", 2, {0}},
    {"--pos t5 --prefix 3 --sink-token", 2, {0}}};
  EACH(r, ROWS) LABS(b, 1, 40, ROWS[r].flags) {
    const Config *c = &b.m.c;
    int N = config_rows(c, 40);
    lab_fill(&b, "l0.wq", 0);
    const real *z = scores(&b);
    for (int h = 0; h < ROWS[r].heads; h++) for (int i = 0; i < N; i++)
      for (int j = 0; j < N; j++) {
        if (!slow_visible(c, 0, i, j)) continue;
        int n = i > j ? i - j : 0;
        double want = c->pos == POS_ALIBI ? -n * ROWS[r].slope[h]
                    : c->pos == POS_T5 ? (double)b.m.w.rel[slow_bucket(n) * 2 + h] : slow_bucket(n);
        within(t, (double)z[(h * N + i) * N + j], want, 32 * REAL_EPS,
               "%s, head %d, distance %d", b.flags, h, i - j);
      }
  }
  fact(t, position_bucket(-5) == 0 && position_bucket(1 << 20) == 31, "the ends");
}

/* -------------------------------------------------------------------------------------------------
 * 3.5  Activations and the kernel phi */

/* One number through the ffn's activation. */
static double activate(int act, double x) {
  real in = (real)x, out;
  return ACTS[act](1, &in, &out, NULL), (double)out;
}

/* [T11] Against libm's formulas on a grid, and at 1 and -2 against tables of the error function. */
static void activate__formulas(Test *t) {
  static const struct { int gated, bare; double at_1, at_minus_2; } KNOWN[] = {
    {ACT_SWIGLU, ACT_SWISH, 0.73105857863000487, -0.23840584404423511},
    {ACT_GEGLU, ACT_GELU, 0.84134474606854293, -0.045500263896358414},
    {ACT_REGLU, ACT_RELU, 1, 0},
    {ACT_GEGLUTANH, ACT_GELUTANH, 0.84119199060827670, -0.045402305912224865}};
  _Static_assert(2 * sizeof KNOWN / sizeof *KNOWN == ACT_ROWS, "a new activation: its numbers");
  EACH(i, KNOWN) for (int gated = 0; gated < 2; gated++) {
    const int act = gated ? KNOWN[i].gated : KNOWN[i].bare;
    within(t, activate(act, 1), KNOWN[i].at_1, 4 * REAL_EPS, "act %d at 1", act);
    within(t, activate(act, -2), KNOWN[i].at_minus_2, 4 * REAL_EPS, "act %d at -2", act);
    for (double x = -12; x <= 12; x += 0.125) within(t, activate(act, x), slow_act(act, x),
        8 * REAL_EPS * fmax(1, fabs(x)), "act %d at %g", act, x);
    fact(t, activate(act, -100) > -1e-30 && activate(act, 0) == 0 && activate(act, 1e4) == 1e4,
         "act %d at -100, 0 and 1e4", act);
  }
}

/* phi(x) is elu(x) + 1, or max(x phi1, 0) phi2, the same for every head, for q and for k [T15]. */
static void kernel_forward__formulas(Test *t) {
  LABS(b, 2, 6, "--kernel elu", "--kernel mlp", "--kernel identity",
       "--kernel mlp --heads 4 --kv-heads 2 --head-dim 8") {
    int D = b.m.c.head_dim;
    const LayerActs *a = &b.a.layer[1];
    lab_forward(&b);
    for (int key = 0; key < 2; key++) {
      const real *x = key ? a->k : a->q, *y = key ? a->fk : a->fq;
      for (int row = 0; row < 12 * (key ? b.m.c.kv_heads : b.m.c.heads); row++) {
        double in[8], want[8];
        for (int d = 0; d < D; d++) in[d] = (double)x[row * D + d];
        slow_phi(&b.m.c, &b.m.w.layer[1], want, in);
        for (int d = 0; d < D; d++) within(t, (double)y[row * D + d], want[d], 128 * REAL_EPS,
            "phi(%s), %s", key ? "k" : "q", b.flags);
      }
    }
  }
}

/* -------------------------------------------------------------------------------------------------
 * 3.6  One row of scores */

/* Is a row of this similarity and normaliser refused? Else c is one. */
static bool row_refused(Config *c, int sim, int normalizer, double p) {
  Settings s; Error e = {0};
  settings_default(&s);
  s.model.sim = sim;
  s.model.normalizer = normalizer;
  s.model.pnorm = p;
  *c = s.model;
  return config_resolve(&s.model, &e) != 0;
}

/* [T15] [E43] Weights, derivatives, dlogz, Z and metric of random rows of every length, for every
 * similarity and normaliser; a fifth of each row is masked, and there all is 0, not nearly 0. */
static void row_as_formula(Test *t, const Config *c, int n, const real *z, Scores *want) {
  static const char *const NAMES[] = {"weight", "made again", "derivative", "dlogz", "metric"};
  real a[400], spare[400], b[400], deriv[400], dlogz[400], m[400]; double exact[400];
  for (int j = 0; j < n; j++) exact[j] = (double)z[j];
  slow_row(c, n, 9, exact, want);
  copy(a, z, n);
  real row_stat = row_forward(c, n, 9, a, spare);
  row_backward(c, n, z, row_stat, b, deriv, dlogz);
  row_metric(c, n, a, row_stat, m);
  double bound = 4 * REAL_EPS * (8 + 2 * sqrt(n)) * fmax(1, c->pnorm);
  long double Z = row_normalizer(c, row_stat);            /* of zeros alone 0, or rectified's 1 */
  within(t, (double)(want->Z != 0 ? Z / want->Z : 1 + Z * (1 - Z)), 1, bound,
         "Z of sim %d, normalizer %d, p %g", c->sim, c->normalizer, c->pnorm);
  for (int j = 0; j < n; j++) {
    const real got[] = {a[j], b[j], deriv[j], dlogz[j], m[j]};
    const long double to[] = {want->a[j], want->a[j], want->deriv[j], want->dlogz[j], want->m[j]};
    const double scale = z[j] > -INFINITY ? 0.1 : 0;
    for (int y = 0; y < 5; y++)
      within(t, (double)got[y], (double)to[y], bound * fmax(scale, fabs((double)to[y])),
             "%s of sim %d, normalizer %d, %g, n %d", NAMES[y], c->sim, c->normalizer, c->pnorm, n);
  }
}

static void row__every_operation(Test *t) {
  static const struct { int normalizer; double p; } NORMALIZERS[] = {
    {NORMALIZER_SUM, 0}, {NORMALIZER_ONE, 0}, {NORMALIZER_CLAMP, 0}, {NORMALIZER_PNORM, 0.5},
    {NORMALIZER_PNORM, 1.5}, {NORMALIZER_PNORM, 2}, {NORMALIZER_PNORM, 3}, {NORMALIZER_PNORM, 7},
    {NORMALIZER_COUNT, 0}};
  static const int LENGTHS[] = {1, 2, 3, 7, 33, 257, 400}; Scores want;
  Rng r = {17}; int over = 0, under = 0, refusals = 0;
  for (int sim = 0; sim < SIM_ROWS; sim++) EACH(k, NORMALIZERS) for (int x = 0; x < 70; x++) {
    Config c;
    if (row_refused(&c, sim, NORMALIZERS[k].normalizer, NORMALIZERS[k].p) && ++refusals) continue;
    bool clamp = c.normalizer == NORMALIZER_CLAMP; int n = LENGTHS[x % 7]; real z[400];
    double shift = x % 3 - 1.0, spread = clamp && x % 2 ? 0.02 : 2;
    for (int j = 0; j < n; j++) z[j] = (real)(spread * (shift + rng_normal(&r)));
    const int seen = (int)rng_below(&r, (uint64_t)n);        /* by its query, for one */
    for (int j = 0; j < n; j++) if (j != seen && rng_below(&r, 5) == 0) z[j] = (real)-INFINITY;
    row_as_formula(t, &c, n, z, &want);
    over += clamp && want.Z > 1;
    under += clamp && want.Z == 1;
  }
  fact(t, over > 20 && under > 20, "the clamp bound %d rows and left %d alone", over, under);
  fact(t, refusals == 70 * 19, "%d of 63 operations refused", refusals / 70);
  note(t, "clamp %d rows over 1, %d not", over, under);
}

/* The results of a row whose scores are all the same. */
typedef struct Flat { real a[8], deriv[8], dlogz[8], m[8], row_stat; } Flat;

/* A row of n scores z, made again as the backward does; NaN where that fails. */
static Flat flat_row(int sim, int normalizer, double p, int n, double z) {
  const Config c = {.sim = sim, .normalizer = normalizer, .pnorm = p}; Flat f;
  real row[8], spare[8], again[8];
  for (int j = 0; j < n; j++) row[j] = f.a[j] = (real)z;
  f.row_stat = row_forward(&c, n, n, f.a, spare);
  row_metric(&c, n, f.a, f.row_stat, f.m);
  row_backward(&c, n, row, f.row_stat, again, f.deriv, f.dlogz);
  double error = fabs((double)again[0] - (double)f.a[0]), least = REAL_EPS > 1e-10 ? 1e-37 : 1e-307;
  if (!(error <= 1e-2 * fabs((double)f.a[0]) + least)) f.a[0] = (real)NAN;
  return f;
}

/* Scores of any size: a softmax row starts from -infinity and not from a finite stand-in, so that
 * a row of hugely negative scores is uniform as it must be, not zero. */
static void row_forward__extremes(Test *t) {
  static const double SIZES[] = {-1e5, -1e4, -745, -104, 0, 89, 710, 1e4, 1e5};
  EACH(i, SIZES) for (int n = 1; n <= 8; n += 7) {
    double z = SIZES[i], tight = fmax(4 * REAL_EPS, fabs(z) * REAL_EPS);
    Flat f = flat_row(SIM_EXP, NORMALIZER_SUM, 0, n, z);
    within(t, (double)f.a[0], 1.0 / n, 4 * REAL_EPS, "softmax of %d scores of %g", n, z);
    within(t, (double)f.deriv[0], 1.0 / n, tight, "its derivative at %g", z);
    within(t, (double)f.m[0], 1.0 / n, 4 * REAL_EPS, "its metric at %g", z);
    for (double p = 0.5; p < 5; p *= 2) {
      if (p == 1) continue;
      f = flat_row(SIM_EXP, NORMALIZER_PNORM, p, n, z);
      within(t, (double)f.a[0], pow(n, -1 / p), 16 * REAL_EPS, "p %g, %d times %g", p, n, z);
      within(t, (double)f.dlogz[0], 1.0 / n, 4 * tight, "its dlogz at %g", z);
    }
    f = flat_row(SIM_EXP, NORMALIZER_CLAMP, 0, n, z);
    within(t, (double)f.a[0], fmin(exp(z), 1.0 / n), tight, "clamped exp at %g", z);
    within(t, (double)f.dlogz[0], z > 0 || (n > 1 && z == 0) ? 1.0 / n : 0, tight, "at %g", z);
  }
  fact(t, isinf((double)flat_row(SIM_EXP, NORMALIZER_ONE, 0, 2, 1e4).a[1]),
       "exp with Z = 1 hides its overflow");
}

/* sigmoid / (sigmoid + 1e-8): at z = -18.42 the two are equal, and further down nothing is left. */
static void row_forward__tiny_sigmoids(Test *t) {
  static const double Z[] = {-17, -18, -18.420680743952367, -20, -25, -40, -80};
  EACH(i, Z) {
    double s = 1 / (1 + exp(-(double)(real)Z[i])), e = (double)(real)1e-8, share = s / (s + e);
    Flat f = flat_row(SIM_SIGMOID, NORMALIZER_SUM, 0, 1, Z[i]);
    Flat g = flat_row(SIM_SIGMOID, NORMALIZER_ONE, 0, 1, Z[i]);
    within(t, (double)f.a[0] / share, 1, 32 * REAL_EPS, "sigmoid/(sigmoid + 1e-8) at %g", Z[i]);
    within(t, (double)f.m[0] / share, 1, 32 * REAL_EPS, "its metric at %g", Z[i]);
    within(t, (double)g.a[0] / s, 1, 32 * REAL_EPS, "sigmoid at %g", Z[i]);
    within(t, (double)g.m[0] / share, 1, 32 * REAL_EPS, "metric of Z = 1 at %g", Z[i]);
    fact(t, g.dlogz[0] == 0, "Z = 1 has a gradient");
    if (i == 2) within(t, (double)f.a[0], 0.5, 1e-6, "half");
  }
}

/* [E43] The p-norm's traps: a row of zeros has weights, metric, derivatives and dlogz 0. A sigmoid
 * so far down that s^p underflows has (1/n)^(1/p) all the same, and where s itself is denormal. */
static void row_forward__pnorm_traps(Test *t) {
  const double deep = REAL_EPS > 1e-10 ? -80 : -700, denormal = REAL_EPS > 1e-10 ? -95 : -730;
  for (double p = 1.5; p < 5; p *= 1.5) {
    double weight = pow(5, -1 / p);
    Flat f = flat_row(SIM_IDENTITY, NORMALIZER_PNORM, p, 5, 0);
    for (int j = 0; j < 5; j++)
      fact(t, f.a[j] == 0 && f.m[j] == 0 && f.deriv[j] == 0 && f.dlogz[j] == 0,
           "a row of zeros at p %g: a %g m %g deriv %g dlogz %g", p, (double)f.a[j],
           (double)f.m[j], (double)f.deriv[j], (double)f.dlogz[j]);
    for (int k = 0; k < 2; k++) {
      double z = k ? denormal : deep, bound = k ? 1e-2 : 64 * REAL_EPS;
      f = flat_row(SIM_SIGMOID, NORMALIZER_PNORM, p, 5, z);
      within(t, (double)f.a[0], weight, bound, "weight at %g, p %g", z, p);
      within(t, (double)f.deriv[0], weight, bound, "derivative at %g, p %g", z, p);
      within(t, (double)f.dlogz[0], 0.2, bound, "dlogz at %g, p %g", z, p);
    }
    f = flat_row(SIM_IDENTITY, NORMALIZER_PNORM, p, 5, -3);
    within(t, (double)f.a[0], -weight, 16 * REAL_EPS, "weight of negative scores, p %g", p);
    within(t, (double)f.dlogz[0], -1.0 / 15, 16 * REAL_EPS, "their dlogz, p %g", p);
  }
}

/* max(|sum|, 1) on four equal scores of the identity: the sum's sign is dropped in Z and kept in
 * dlogz; at |sum| = 1 exactly nothing binds. */
static void row_forward__clamp_branches(Test *t) {
  static const struct { double z, a, deriv, dlogz, m; } ROWS[] = {
    {2, 0.25, 0.125, 0.125, 0.25}, {-2, -0.25, 0.125, -0.125, 0.25}, {0.25, 0.25, 1, 0, 0.25},
    {-0.25, -0.25, 1, 0, 0.25},    {0.0625, 0.0625, 1, 0, 0.25},     {0, 0, 1, 0, 0}};
  EACH(i, ROWS) {
    double z = ROWS[i].z;
    Flat f = flat_row(SIM_IDENTITY, NORMALIZER_CLAMP, 0, 4, z);
    within(t, (double)f.a[1], ROWS[i].a, 2 * REAL_EPS, "weight at %g", z);
    within(t, (double)f.deriv[1], ROWS[i].deriv, 2 * REAL_EPS, "derivative at %g", z);
    within(t, (double)f.dlogz[1], ROWS[i].dlogz, 2 * REAL_EPS, "dlogz at %g", z);
    within(t, (double)f.m[1], ROWS[i].m, 4e-8 / fmax(0.0625, fabs(z)), "metric at %g", z);
  }
}

/* A score that is not a number makes weights that are not, in every operation. */
static void row_forward__nan(Test *t) {
  for (int sim = 0; sim < SIM_ROWS; sim++)
    for (int normalizer = 0; normalizer < NORMALIZER_ROWS; normalizer++)
      for (int at = 0; at < 3; at++) {
        const Config c = {.sim = sim, .normalizer = normalizer, .pnorm = 2};
        real z[] = {1, -2, (real)0.5}, spare[3], m[3];
        z[at] = (real)NAN;
        row_metric(&c, 3, z, row_forward(&c, 3, 3, z, spare), m);
        fact(t, isnan((double)z[at]) && isnan((double)m[at]),
             "sim %d, %d: weight %g, metric %g", sim, normalizer, (double)z[at], (double)m[at]);
      }
}

/* -------------------------------------------------------------------------------------------------
 * 3.7  Attention */

/* The mask as pictures: rows are queries, columns keys; a sink token is the first of each. */
static void visible__pictures(Test *t) {
  static const struct { const char *flags; int N; const char *rows[6]; } PICTURES[] = {
    {"", 5, {"1....", "11...", "111..", "1111.", "11111"}},
    {"--window 2", 5, {"1....", "11...", ".11..", "..11.", "...11"}},
    {"--window 1", 4, {"1...", ".1..", "..1.", "...1"}},
    {"--window 5", 5, {"1....", "11...", "111..", "1111.", "11111"}},
    {"--prefix 3", 5, {"111..", "111..", "111..", "1111.", "11111"}},
    {"--prefix 1", 4, {"1...", "11..", "111.", "1111"}},
    {"--prefix 2 --window 2", 6, {"11....", "11....", "111...", "1111..", "11.11.", "11..11"}},
    {"--sink-token", 4, {"1...", "11..", "111.", "1111"}},
    {"--sink-token --window 2", 5, {"1....", "11...", ".11..", "..11.", "...11"}},
    {"--sink-token --prefix 2", 5, {"111..", "111..", "111..", "1111.", "11111"}},
    {"--sink-token --prefix 2 --window 2", 6,
     {"111...", "111...", ".11...", ".111..", ".1111.", ".11.11"}},
    {"--sink-token 2", 4, {"1...", "11..", "111.", "1111"}},
    {"--sink-token 3 --prefix 2", 6,
     {"1..11.", "11.11.", "11111.", "11111.", "11111.", "111111"}},
    {"--sink-token 2 --prefix 1 --window 2", 5, {"1.1..", "111..", ".11..", "..11.", "..111"}}};
  EACH(p, PICTURES) {
    const Config c = config_of(t, "%s", PICTURES[p].flags);
    for (int i = 0; i < PICTURES[p].N; i++) for (int j = 0; j < PICTURES[p].N; j++)
      fact(t, visible(&c, 0, i, j) == (PICTURES[p].rows[i][j] == '1'),
           "%s: row %d, key %d", PICTURES[p].flags, i, j);
  }
  const Config c = config_of(t, "--window 2 --window-period 2 --window-offset 1");
  for (int l = 0; l < 4; l++) fact(t, visible(&c, l, 3, 0) == (l % 2 == 0), "layer %d's window", l);
}

/* [E4] THE FORMULA for every similarity, normaliser, kernel and extra column, over 70 rows, so that
 * tiles of 32 rows, windows, prefixes and x* cross: every score, weight and metric. */
static void attention__against_slow(Test *t) {
  static const char *const MASKS[] = {
    "", "--window 5 --pos none", "--prefix 40 --pos t5",
    "--window 33 --prefix 3 --heads 4 --kv-heads 2 --rotary-dims 2",
    "--sink-token --window 20 --pos alibi",
    "--sink-token 4 --prefix 35 --kv-heads 1 --scale 0.7 --vbias --extra-shared",
    "--window 32 --combine add"};
  static const char *const NAMES[] = {"kernel", "sim", "normalizer", "extra"};
  int n = 0, refusals = 0;
  enum { ALL = KERNEL_ROWS * SIM_ROWS * 7 * EXTRA_ROWS };
  for (int k = 0; k < ALL; k++) {
    const int row[] = {k / (ALL / KERNEL_ROWS), k / 7 / EXTRA_ROWS % SIM_ROWS,
                       k / EXTRA_ROWS % 7, k % EXTRA_ROWS};
    char flags[400], all[700];
    Pick p = {{0}};
    for (int a = 0; a < N_AXES; a++)
      EACH(x, NAMES) if (!strcmp(AXES[a].name, NAMES[x])) p.row[a] = row[x];
    pick_flags(&p, flags, sizeof flags);
    snprintf(all, sizeof all, "%s --layers 1 %s", MASKS[n % 7], flags);
    if (!pick_resolves(&p)) { refusals++; continue; }
    LABS(b, 1, 70, all) for (int plain = 0; plain < 2; plain++) {
      b.m.plain = plain;                           /* 3.7's loops; chapter 14's tiles */
      compare_with_slow(t, &b, 1000 * REAL_EPS, all);
    }
    n++;
  }
  fact(t, n + refusals == ALL && n > 250, "%d operations", n);
  note(t, "%d operations, %d refused", n, refusals);
}

/* [T4] A logit near 0 hides among many keys: at +20 the extra column takes all, at -60 nothing. */
static void attention__logit(Test *t) {
  LABS(b, 1, 40, "--extra logit --layers 1") LABS(none, 1, 40, "--layers 1") {
    lab_fill(&b, "l0.logit", 20);
    compare_with_slow(t, &b, 1000 * REAL_EPS, "a logit of 20");
    double most = biggest(40 * 12, b.a.layer[0].o);
    fact(t, most < 1e-5, "o is %g", most);
    lab_fill(&b, "l0.logit", -60);
    lab_forward(&b); lab_forward(&none);
    within(t, distance(40 * 12, none.a.layer[0].o, b.a.layer[0].o), 0, 16 * REAL_EPS, "logit -60");
  }
}

/* How far the last states of two labs lie apart, relative to the first's. */
static double outputs_apart(Lab *a, Lab *b) {
  lab_forward(a); lab_forward(b);
  idx n = (idx)a->B * config_rows(&a->m.c, a->T) * a->m.c.dim;
  return distance(n, a->a.nf, b->a.nf);
}

/* Two sets of flags that must give one model from the same parameters; `set` prepares b. */
static void same_model(Test *t, const char *one, const char *other, double bound,
                       void (*set)(Lab *, Lab *)) {
  LABS(a, 2, 40, one) LABS(b, 2, 40, other) {
    lab_share(&b, &a);
    if (set) set(&a, &b);
    within(t, outputs_apart(&a, &b), 0, bound, "%s as %s", other, one);
    fact(t, biggest(40 * 12, a.a.nf) > 0.1, "%s is nearly 0", one);
  }
}

/* The model of `other` must differ from that of `one`, by more than rounding. */
static void other_model(Test *t, const char *one, const char *other) {
  LABS(a, 2, 40, one) LABS(b, 2, 40, other) {
    lab_share(&b, &a);
    double d = outputs_apart(&a, &b);
    fact(t, d > 1e-3, "%s differs from %s by %g only", other, one, d);
  }
}

static void key_of_zero(Lab *a, Lab *b) {
  static const char *const NAMES[] = {"l0.kstar", "l0.vstar", "l0.logit", "l1.kstar", "l1.vstar",
                                      "l1.logit"};
  (void)a;
  EACH(i, NAMES) lab_fill(b, NAMES[i], 0);
}

/* The per-head k* and v* of b become copies of a's shared ones. */
static void spread_shared(Lab *a, Lab *b) {
  for (int l = 0; l < 2; l++) for (int h = 0; h < 2; h++) {
    copy(b->m.w.layer[l].kstar + h * 6, a->m.w.layer[l].kstar, 6);
    copy(b->m.w.layer[l].vstar + h * 6, a->m.w.layer[l].vstar, 6);
  }
}

/* Two key heads of b become copies of a's single one. */
static void spread_keys(Lab *a, Lab *b) {
  for (int l = 0; l < 2; l++) for (int i = 0; i < 12; i++) for (int h = 0; h < 2; h++) {
    copy(b->m.w.layer[l].wk + i * 12 + h * 6, a->m.w.layer[l].wk + i * 6, 6);
    copy(b->m.w.layer[l].wv + i * 12 + h * 6, a->m.w.layer[l].wv + i * 6, 6);
  }
}

/* Biases beyond those of q, k and v become 0. */
static void no_other_biases(Lab *a, Lab *b) {
  static const char *const NAMES[] = {"l0.bo", "l0.b1", "l0.b2", "l0.b3", "l1.bo", "l1.b1",
                                      "l1.b2", "l1.b3"};
  (void)a;
  EACH(i, NAMES) lab_fill(b, NAMES[i], 0);
}

/* [E29] [T14] The scale of a's weights goes into b's W_O. */
static void scale_into_wo(Lab *a, Lab *b) {
  for (int l = 0; l < 2; l++)
    for (int i = 0; i < 144; i++) b->m.w.layer[l].wo[i] *= (real)a->m.c.scale;
}

/* What leaves the scores of 40 keys as they are, and a logit of 0.4. */
static void scores_kept(Lab *a, Lab *b) {
  const double log_n = log(a->T);
  lab_fill(b, "l0.cscale", 1 / log_n); lab_fill(b, "l0.sbias", 0); lab_fill(b, "l0.logit", 0.4);
  lab_fill(b, "l1.cscale", 1 / log_n); lab_fill(b, "l1.sbias", 0); lab_fill(b, "l1.logit", 0.4);
}

static void scores_of_30(Lab *a, Lab *b) {
  for (int x = 0; x < 4; x++) lab_fill(x < 2 ? a : b, x % 2 ? "l0.sbias" : "l1.sbias", 30);
}

/* Rows of the axes that must come to the same: neutral elements and equivalences, exactly (bound
 * 0) where the same operations run; and [T4] rows that must not. */
static void attention__equivalences(Test *t) {
  const double tight = 2000 * REAL_EPS;
  const struct { const char *one, *other; double bound; void (*set)(Lab *, Lab *); } SAME[] = {
    {"", "--window 40", 0, NULL}, {"--sim sigmoid", "--sim sigmoid --window 40", 0, NULL},
    {"", "--prefix 1", 0, NULL}, {"", "--window-period 2", 0, NULL},
    {"--window 5", "--window 5 --window-period 1", 0, NULL},
    {"--pos none", "--rope-scaling linear --rope-factor 1e6", 1e-4, NULL},
    {"--extra zero", "--extra kv", tight, key_of_zero},
    {"--extra zero", "--extra k", tight, key_of_zero},
    {"--extra zero", "--extra logit", tight, key_of_zero},
    {"--extra k", "--extra k --extra-value ones --extra-norm 0", tight, NULL},
    {"", "--soft-cap 1e30", tight, NULL}, {"", "--score-bias logn", tight, NULL},
    {"--prefix 40", "--prefix 40 --score-scale logn", tight, scores_kept},
    {"--sim sigmoid", "--sim sigmoid --score-bias learned", 0, scores_kept},
    {"--extra zero", "--extra logit --extra-logit 0", 0, NULL},
    {"--extra logit --extra-logit 0.4", "--extra logit", 0, scores_kept},
    {"--extra zero --window 1", "--extra logn --window 1", 0, NULL},
    {"", "--clip-low 0 --clip-high 1", 0, NULL}, {"--sim relu --normalizer one --scale 0.025 "
     "--prefix 40", "--sim relu --normalizer count --prefix 40", tight, NULL},
    {"--soft-cap 1 --score-bias learned", "--sim rectified --soft-cap 1 --score-bias learned", 0,
     scores_of_30},
    {"--soft-cap 1 --score-bias learned", "--sim softpick --soft-cap 1 --score-bias learned", 1e-6,
     scores_of_30},
    {"--extra zero --score-bias logn", "--extra logn", tight, NULL},
    {"--extra kv --extra-shared", "--extra kv", 0, spread_shared},
    {"--kv-heads 1", "--kv-heads 2", 0, spread_keys},
    {"--heads 1", "--heads 1 --combine add", 0, NULL},
    {"--layers 1", "--layers 1 --score-by-layer", 0, NULL},
    {"--linear-bias --bias-in qkv", "--linear-bias", 0, no_other_biases},
    {"", "--attention-period 1", 0, NULL}, {"", "--expert-period 2 --mamba-inner 5", 0, NULL},
    {"--heads 1 --kernel mlp --sim sigmoid",
     "--heads 1 --combine add --kernel mlp --sim sigmoid", 0, NULL},
    {"--scale 0.3", "", tight, scale_into_wo},
    {"--scale -2 --sim elu --normalizer one", "--sim elu --normalizer one", tight, scale_into_wo},
    {"--sim sigmoid --normalizer pnorm --pnorm 1", "--sim sigmoid", 0, NULL},
    {"--normalizer pnorm --pnorm 1.0000001", "", 1e-4, NULL}};
  static const struct { const char *one, *other; } APART_FROM[] = {
    {"", "--score-by-layer"}, {"", "--window 5"}, {"", "--prefix 3"}, {"", "--extra zero"},
    {"", "--extra k"}, {"--extra k", "--extra k --extra-value e1"}, {"", "--vbias"},
    {"", "--pos none"}, {"--sim sigmoid", "--sim sigmoid --extra k"}, {"", "--soft-cap 1"},
    {"", "--score-scale logn"}, {"--sim sigmoid", "--sim sigmoid --score-bias logn"},
    {"--extra zero", "--extra logn"}, {"--extra zero", "--extra logit --extra-logit 1"},
    {"", "--sim softpick"}, {"", "--sim rectified"}, {"", "--clip-low -0.1"},
    {"", "--clip-high 1.5"}, {"--sim relu --normalizer one", "--sim relu --normalizer count"}};
  EACH(i, SAME) same_model(t, SAME[i].one, SAME[i].other, SAME[i].bound, SAME[i].set);
  EACH(i, APART_FROM) other_model(t, APART_FROM[i].one, APART_FROM[i].other);
}

/* One ablation of two sequences' columns: as the slow model has it; rows up to the column's own
 * stay; something after them changes, but not by v* = 0, which only a mean is missed from, and not
 * by the last column. */
static void ablation_is_right(Test *t, Lab *b, Lab *plain, const Ablation *cut) {
  const Config *c = &b->m.c; idx N = b->a.N, C = c->dim;
  b->a.ablation = cut;
  compare_with_slow(t, b, 1000 * REAL_EPS, b->flags);
  lab_forward(plain);
  for (int seq = 0; seq < 2; seq++) {
    int j = cut->column[seq];
    const real *with = b->a.nf + seq * N * C, *without = plain->a.nf + seq * N * C;
    fact(t, c->prefix || j < 0 || same_numbers((j + 1) * C, with, without),
         "%s: row %d or before has changed", b->flags, j);
    bool inert = cut->what == ABLATE_VALUE1 && j == -1 && !b->m.w.layer[0].vstar &&
                 c->extra_value == VALUE_ZERO;
    double by = distance(N * C, with, without);
    fact(t, j == 69 || (by > 1e-6) != inert, "%s: %d of %d changes %g", b->flags, cut->what, j, by);
  }
  b->a.ablation = NULL;
}

/* Ablations in every mask, scoring and extra column against the slow model. */
static void attention__ablations(Test *t) {
  static const char *const FLAGS[] = {
    "", "--window 5 --pos none --extra kv", "--prefix 40 --pos t5",
    "--window 33 --prefix 3 --heads 4 --kv-heads 2 --rotary-dims 2 --vbias",
    "--sink-token --window 20 --pos alibi --scale 0.7 --extra logit",
    "--sink-token 4 --prefix 35 --kv-heads 1 --sim sigmoid --normalizer one",
    "--extra k --extra-value ones --extra-norm 2", "--extra kv --extra-shared --combine add",
    "--kernel elu --sim identity --normalizer sum", "--sim sigmoid --normalizer pnorm --pnorm 2",
    "--kernel mlp --sim identity --normalizer clamp", "--extra zero --place post"};
  int n = 0;
  EACH(f, FLAGS) LABS(b, 2, 70, FLAGS[f]) LABS(plain, 2, 70, FLAGS[f]) {
    int first = b.m.c.sink_token, has_star = b.m.c.extra != EXTRA_NONE || first;
    const int columns[][2] = {{first, 34}, {has_star ? first - 1 : 30, first},
                              {50, b.m.c.extra ? -1 : 69}};
    for (int what = ABLATE_KEY1; what <= ABLATE_VALUE1_MEAN; what++) {
      EACH(k, columns) ablation_is_right(t, &b, &plain, &(Ablation){what, columns[k]});
      within(t, outputs_apart(&b, &plain), 0, 0, "%s: after the ablation", FLAGS[f]);
      n += 3;
    }
  }
  note(t, "%d ablations", n);
}

/* Ablations that must not show, and beside each the one that must: of a column that has no weight
 * or a value of zero; and rows made from a cache have the bits of the whole. */
static void attention__ablations_inert(Test *t) {
  const int star[] = {-1}, first[] = {0};
  const Ablation no_star = {ABLATE_KEY1, star}, no_key = {ABLATE_KEY1, first},
                 no_value = {ABLATE_VALUE1, first};
  LABS(b, 1, 40, "--extra logit --layers 1") LABS(cut, 1, 40, "--extra logit --layers 1") {
    cut.a.ablation = &no_star;
    fact(t, outputs_apart(&b, &cut) > 1e-3, "a logit of order 1 is missed by nobody");
    lab_fill(&b, "l0.logit", -60); lab_fill(&cut, "l0.logit", -60);
    within(t, outputs_apart(&b, &cut), 0, 16 * REAL_EPS, "a column of weight e^-60");
  }
  LABS(b, 1, 40, "--layers 1") LABS(cut, 1, 40, "--layers 1") {
    cut.a.ablation = &no_value;
    fact(t, outputs_apart(&b, &cut) > 1e-3, "a value is missed by nobody");
    b.ids[0] = cut.ids[0] = 10;                          /* fed nowhere else */
    zero(lab_at(&b, "wte") + 10 * 12, 12);               /* so key and value are 0 */
    zero(lab_at(&cut, "wte") + 10 * 12, 12);
    within(t, outputs_apart(&b, &cut), 0, 0, "v_1 = 0 set to 0");
    cut.a.ablation = &no_key;
    fact(t, outputs_apart(&b, &cut) > 1e-3, "its key is missed by nobody");
  }
  LABS(b, 1, 70, "--kv-heads 1") for (int what = ABLATE_KEY1; what <= ABLATE_VALUE1; what++) {
    const Ablation x = {what, first}; Acts cache;
    if (acts_create(&cache, &b.m, 1, 70, ACTS_KEYS, fresh(t))) exit(1);
    b.a.ablation = cache.ablation = &x;
    lab_forward(&b);
    model_extend(&b.m, &cache, b.ids, 37, 0);
    int R = model_extend(&b.m, &cache, b.ids, 70, 37);
    fact(t, R == 33 && same_numbers(33 * 12, cache.nf, b.a.nf + 37 * 12), "%d, cached", what);
    acts_free(&cache);
  }
}

/* [T4] x* is an input row: it gives what a token with the embedding x* gives before the text. */
static void sink_token__is_a_row(Test *t) {
  static const char *const FLAGS[] = {
    "", "--pos learned", "--pos absolute --window 4", "--pos alibi --norm layer",
    "--pos t5 --extra kv --place post", "--kernel elu --sim identity --pos none"};
  EACH(f, FLAGS) {
    char flags[200];
    for (int n = 1; n <= 3; n += 2) {
      snprintf(flags, sizeof flags, "%s --sink-token %d --context %d", FLAGS[f], n, 80 - n);
      LABS(a, 1, 9, flags) LABS(b, 1, 9 + n, FLAGS[f]) {
        lab_share(&b, &a);
        copy(lab_at(&b, "wte") + (11 - n) * 12, lab_at(&a, "xstar"), n * 12);
        for (int i = 0; i < n; i++) b.ids[i] = 11 - n + i;
        for (int i = 0; i < 9; i++) b.ids[n + i] = a.ids[i] %= 11 - n;
        lab_forward(&a); lab_forward(&b);
        within(t, distance((9 + n) * 12, b.a.nf, a.a.nf), 0, 0, "states, %s", flags);
      }
    }
  }
}

/* =================================================================================================
 * 4  The block and the model */

/* [E1] to [E8] [FIG1] [T5] [T11] [T12] Every axis at once: the model against the slow one, for each
 * row of the covering array; and over 70 tokens, in tiles, for every row of every axis beside the
 * defaults. */
static void model_forward__against_slow(Test *t) {
  LABS_OF_COVER(b, 2, 7) compare_with_slow(t, &b, 1000 * REAL_EPS, b.flags);
  LABS_OF(b, 1, 70, (const char *const *)covering(t)->axis)
    compare_with_slow(t, &b, 1000 * REAL_EPS, b.flags);
  note(t, "%d configurations", covering(t)->n);
}

/* The families of published models at tiny sizes, each with what sets it apart: a tied head, few
 * rotated dims, OPT-350m's projections, post-norm and no final norm, grouped heads with a D of
 * their own, biases of q, k, v, a window. One token, and 24. */
static void published__families(Test *t) {
  static const struct { const char *name, *flags; } ROWS[] = {
    {"gpt2", "--layers 3 --heads 3 --dim 24 --ffn 40 --context 32 --pos learned --norm layer "
             "--act gelutanh --linear-bias --tied --score-by-layer"},
    {"gpt_neox", "--layers 3 --heads 4 --dim 40 --ffn 160 --rotary-dims 2 --norm layer "
                 "--act gelu --linear-bias --place parallel"},
    {"gpt_neox, sequential", "--layers 3 --heads 4 --dim 64 --ffn 99 --rotary-dims 8 "
                             "--norm layer --act gelu --linear-bias"},
    {"opt", "--layers 2 --heads 3 --dim 24 --ffn 40 --context 32 --pos learned --norm layer "
            "--act relu --linear-bias --tied"},
    {"opt-350m", "--layers 3 --heads 3 --dim 24 --ffn 40 --context 32 --pos learned --norm "
                 "layer --act relu --linear-bias --tied --place post --embed-dim 12"},
    {"llama", "--layers 3 --heads 4 --kv-heads 2 --dim 32 --ffn 56 --head-dim 12 "
              "--rope-scaling llama3 --rope-base 1e4 --rope-original 64 --linear-bias "
              "--bias-in attention"},
    {"qwen2", "--layers 2 --heads 4 --kv-heads 2 --dim 32 --ffn 56 --rope-base 1e6 "
              "--norm-eps 1e-6 --linear-bias --bias-in qkv --tied"},
    {"mistral", "--layers 3 --heads 4 --kv-heads 2 --dim 32 --ffn 56 --window 5"}};
  EACH(i, ROWS) for (int T = 1; T <= 24; T += 23)
    LABS(b, 1, T, ROWS[i].flags) compare_with_slow(t, &b, 4000 * REAL_EPS, ROWS[i].name);
}

/* One pass by the loops of 3.7 and one in the tiles of chapter 14: every state, map, logit and
 * gradient of one must be the other's, within 1e-12 in double and 2e-4 in float: relative to the
 * largest number of an array; of a gradient, to its tensor's largest or a thousandth of all's. */
static void tiles_against_plain(Test *t, int B, int T, const char *flags) {
  const double bound = REAL_EPS > 1e-10 ? 2e-4 : 1e-12;
  LABS(b, B, T, flags) LABS(plain, B, T, flags) {
    const Config *c = &b.m.c;
    idx N = config_rows(c, T), map = B * c->heads * N * config_columns(c, T), rows = B * N;
    plain.m.plain = true;
    lab_maps(&b);
    lab_maps(&plain);
    double loss = lab_gradients(&b), loss2 = lab_gradients(&plain);
    within(t, loss2, loss, bound * fabs(loss), "loss, %s", flags);
    within(t, distance(rows * c->dim, b.a.nf, plain.a.nf), 0, bound, "states, %s", flags);
    for (int l = 0; l < c->layers; l++) {
      const LayerActs *x = &b.a.layer[l], *y = &plain.a.layer[l];
      const real *z = b.probe[l].z, *z2 = plain.probe[l].z;
      within(t, distance(rows * c->heads * c->head_dim, x->o, y->o), 0, bound,
             "o of layer %d, %s", l, flags);
      within(t, distance(rows * c->heads, x->row_stat, y->row_stat), 0, bound,
             "row_stat of layer %d, %s", l, flags);
      for (int k = 0; k < 3; k++) within(t, distance(map, z + k * map, z2 + k * map), 0, bound,
          "map %d of layer %d, %s", k, l, flags);
    }
    double all = biggest(b.m.count, b.m.grads);   /* terms cancel: of cscale, of DyT's one slope */
    for (int n = 0; n < b.m.n_tensors; n++) {
      const Tensor *x = &b.m.tensor[n];
      const real *from = b.m.grads + x->at, *to = plain.m.grads + x->at;
      double size = biggest(x->count, from), most = distance(x->count, from, to);
      if (size > 0) most *= size;                      /* absolute */
      double least = strstr(x->name, ".cscale") || x->count == 1 ? all : all / 1000;
      within(t, most / fmax(size, least), 0, bound, "grad of %s, %s", x->name, flags);
    }
  }
}

/* For rows by the dozen: where tiles, windows, prefixes, x* and key heads cut across each other. */
static const char *const TILED[] = {
  "", "--window 5 --pos t5 --xsa", "--prefix 40 --extra kv --linear-bias",
  "--window 33 --prefix 3 --heads 4 --kv-heads 2 --rotary-dims 2",
  "--sink-token --window 20 --sim sigmoid --extra logit --scale 0.7",
  "--sink-token 5 --prefix 35 --kv-heads 1 --sim identity --normalizer clamp --extra k",
  ("--window 32 --vbias --kernel mlp --normalizer pnorm --pnorm 0.5 --extra k --pos alibi "
   "--extra-value ones --extra-norm 3"),
  "--pos relative --kernel elu --sim identity --window 40", NULL};

/* The plain attention of 3.7 and the tiles of chapter 14 are one function: in every configuration
 * of the covering array, and over 70 rows and 530 (copies). */
static void tiles__as_plain(Test *t) {
  const Cover *v = covering(t);
  for (int i = 0; i < v->n; i++) tiles_against_plain(t, 2, 7, v->flags[i]);
  for (int i = 0; TILED[i]; i++) {
    tiles_against_plain(t, 1, 70, TILED[i]);
    tiles_against_plain(t, 1, 530, TILED[i]);
  }
  note(t, "%d configurations", v->n);
}

/* The maps that an evaluation measures are --plain's own: a look through both, number by number. */
static void tiles__sinks_plain(Test *t) {
  const double eps = 0.3;
  LABS(b, 3, 40, "", "--extra kv --scale 0.5", "--sink-token --prefix 3",
       "--sim sigmoid --normalizer one --window 9 --kv-heads 1") {
    Sinks s[2];
    for (int plain = 0; plain < 2; plain++) {
      b.m.plain = plain;
      if (sinks_create(&s[plain], &b.m.c, 40, 3, &eps, 1, fresh(t))) exit(1);
      sinks_measure(&s[plain], &b.m, &b.a, b.ids, b.targets, 3, METRIC_REAL, &t->e);
      sinks_finish(&s[plain]);
      fact(t, !t->e.status, "%s", t->e.text);
    }
    fact(t, sinks_alpha(&s[1], config_column_first(&b.m.c)) > 0, "no sink at all");
    within(t, s[1].loss, s[0].loss, 1000 * REAL_EPS, "loss, %s", b.flags);
    for (idx i = 0; i < s[0].n_sums; i++) within(t, s[1].sums[i], s[0].sums[i],
        1000 * REAL_EPS * (1 + fabs(s[0].sums[i])), "sum %lld, %s", i, b.flags);
    for (int plain = 0; plain < 2; plain++) sinks_free(&s[plain]);
  }
}

/* Changing token t changes no bit before t, and something at t; a prefix sees to its end. */
static void model_forward__causal(Test *t) {
  LABS_OF_COVER(b, 1, 7) {
    const Config *c = &b.m.c; int N = config_rows(c, 7), C = c->dim;
    real *before = reals_of(t, N * C);
    for (int changed = 0; changed < 7; changed++) {
      int own = changed + N - 7, first = changed < c->prefix ? 0 : own;    /* may change */
      lab_draw(&b, 5);
      lab_forward(&b);
      copy(before, b.a.nf, N * C);
      b.ids[changed] = (b.ids[changed] + 1) % 10;
      lab_forward(&b);
      fact(t, same_numbers(first * C, before, b.a.nf),
           "token %d changes an earlier row, %s", changed + 1, b.flags);
      fact(t, !same_numbers(C, before + own * C, b.a.nf + own * C),
           "token %d does not change its own row, %s", changed + 1, b.flags);
    }
  }
}

/* States depend on no neighbour in the batch, nor on the room or past contents of the Acts. */
static void model_forward__batches(Test *t) {
  LABS(b, 3, 9, "", "--pos t5 --sink-token --extra kv", "--pos alibi --window 3 --prefix 2",
       "--pos absolute --combine add --kernel mlp", "--embed-dim 5 --pos learned") {
    int N = config_rows(&b.m.c, 9), rows = N * 12; real *whole = reals_of(t, 3 * rows);
    double mean = lab_loss(&b), sum = 0;
    copy(whole, b.a.nf, 3 * rows);
    for (int s = 0; s < 3; s++) {
      model_forward(&b.m, &b.a, b.ids + s * 9, 1, 9);
      fact(t, same_numbers(rows, whole + s * rows, b.a.nf), "%d alone, %s", s, b.flags);
      sum += model_loss(&b.m, &b.a, b.targets + s * 9, 1, 9, false, 1) / 3;
    }
    within(t, sum, mean, 16 * REAL_EPS * mean, "mean of the losses, %s", b.flags);
    model_forward(&b.m, &b.a, b.ids, 1, 4);              /* fewer tokens than room */
    fact(t, b.m.c.prefix || same_numbers((N - 5) * 12, whole, b.a.nf), "4 of 9, %s", b.flags);
  }
}

/* Arrays of a pass, by the shapes of struct Acts and LayerActs, each with its length. Those that a
 * variant lacks are NULL, those that share another's memory stand here once. */
typedef struct ActsArray { const char *name; real *at; idx n; } ActsArray;

static int acts_arrays(const Lab *b, ActsArray *out) {
  const Config *c = &b->m.c; const Acts *a = &b->a;
  idx rows = (idx)a->B * a->N, C = c->dim, D = c->head_dim, H = c->heads, F = c->ffn;
  idx X = rows * C, Q = rows * H * D, K = rows * c->kv_heads * D;
  int n = 0, half = c->rotary_dims / (c->rope_local > 0 ? 1 : 2);
  const ActsArray whole[] = {
    {"h0", a->h0, X}, {"fnorm", a->fnorm, X}, {"nfstat", a->nfstat, 2 * rows},
    {"embed", a->embed, (idx)a->B * a->T * c->embed_dim}, {"cosine", a->cosine, a->N * half},
    {"sine", a->sine, a->N * half}, {"sinusoid", a->sinusoid, a->N * C},
    {"bias", a->bias, H * (2 * a->N - 1)}, {"dbias", a->dbias, a->B * H * (2 * a->N - 1)},
    {"dh", a->dh, X}, {"dx", a->dx, X}, {"dn", a->dn, X}, {"dq", a->dq, Q}, {"dk", a->dk, K},
    {"dv", a->dv, K}, {"dout", a->dout, Q}, {"dgate", a->dgate, rows * config_gates(c)},
    {"dosum", a->dosum == a->dout ? NULL : a->dosum, rows * D}, {"dphi", a->dphi, Q},
    {"df1", a->df1, rows * F}, {"df2", a->df2, rows * F},
    {"slot", a->slot, a->B * H * slot_size(c)}};
  EACH(i, whole) out[n++] = whole[i];
  for (int l = 0; l < c->layers; l++) {
    const LayerActs *y = &a->layer[l];
    const ActsArray block[] = {
      {"n1", y->n1, X}, {"n1stat", y->n1stat, 2 * rows}, {"q", y->q, Q}, {"k", y->k, K},
      {"v", y->v, K}, {"fq", y->fq == y->q ? NULL : y->fq, Q},
      {"fk", y->fk == y->k ? NULL : y->fk, K}, {"hq", y->hq, Q}, {"hk", y->hk, K}, {"o", y->o, Q},
      {"av", y->av == y->o ? NULL : y->av, Q}, {"gate", y->gate, rows * config_gates(c)},
      {"v0", y->v0, K}, {"q0", y->q0, Q}, {"k0", y->k0, K}, {"qstat", y->qstat, 2 * rows * H},
      {"kstat", y->kstat, 2 * rows * c->kv_heads},
      {"osum", y->osum, rows * D}, {"row_stat", y->row_stat, rows * H}, {"s1", y->s1, X},
      {"n2", y->n2, X}, {"n2stat", y->n2stat, 2 * rows}, {"f1", y->f1, rows * F},
      {"f2", y->f2, rows * F}, {"fa", y->fa, rows * F}, {"s2", y->s2, X},
      {"out1", y->out1 == y->s1 ? NULL : y->out1, X},
      {"out2", y->out2 == y->s2 ? NULL : y->out2, X}, {"n3stat", y->n3stat, 2 * rows},
      {"n4stat", y->n4stat, 2 * rows}};
    EACH(i, block) out[n++] = block[i];
  }
  return n;
}

/* No operator writes beyond its array. Sizes are rounded up to 16 numbers (acts_create), so most
 * arrays of these odd models end in room that nobody owns: a mark there outlives a whole step. */
static void acts__stay_within(Test *t) {
  const real mark = (real)12345.5; idx marks = 0;
  LABS_OF_COVER(b, 1, 9) {
    ActsArray at[100];
    int n = acts_arrays(&b, at);
    for (int pass = 0; pass < 2; pass++) {
      for (int k = 0; k < n; k++) for (idx j = at[k].n; at[k].at && j % 16; j++) {
        fact(t, at[k].at[j] == (pass ? mark : 0), "%s: %s[%lld] of %lld is %g, %s",
             b.flags, at[k].name, j, at[k].n, (double)at[k].at[j],
             pass ? "written beyond the end" : "a part of another array");
        at[k].at[j] = mark;
        marks += pass;
      }
      if (!pass) lab_backward(&b, 1);
    }
  }
  note(t, "%d configurations, %lld marks", covering(t)->n, marks);
}

/* With the memory of one block for all of them a forward has the same bits, again and again. */
static void model_forward__one_layer(Test *t) {
  LABS_OF_COVER(b, 2, 7) {
    Acts one;
    if (acts_create(&one, &b.m, 2, 7, ACTS_ONE, fresh(t))) exit(1);
    idx n = 2 * (idx)config_rows(&b.m.c, 7) * 12; double loss = lab_loss(&b);
    for (int again = 0; again < 2; again++) {
      model_forward(&b.m, &one, b.ids, 2, 7);
      within(t, distance(n, b.a.h, one.h), 0, 0, "h^L, %s", b.flags);
      within(t, distance(n, b.a.nf, one.nf), 0, 0, "nf, %s", b.flags);
      within(t, model_loss(&b.m, &one, b.targets, 2, 7, false, 1), loss, 0, "loss, %s", b.flags);
    }
    fact(t, one.layer[1].s2 == one.layer[0].s2 && one.layer[1].fa == one.layer[0].fa &&
         b.a.layer[1].s2 != b.a.layer[0].s2, "layers have memory of their own, %s", b.flags);
    acts_free(&one);
  }
  note(t, "%d configurations", covering(t)->n);
}

/* Through a key-value cache and as a whole (extend_one): every row of every axis beside the
 * defaults, and the covering array; windows and prefixes that end inside and outside of a tile and
 * of a prompt; and sizes at which a multiply cuts its sums, a forward its bands of rows. */
static void model_extend__as_whole(Test *t) {
  static const int SHORT[] = {1, 2, 26, 55, 0}, LONG[] = {250, 300, 0};
  static const char *const MORE[] = {
    "--window 33 --sink-token --prefix 5 --extra kv --pos t5 --layers 3",
    "--window 40 --pos alibi --normalizer pnorm --pnorm 2", "--prefix 30 --pos learned",
    "--window 20 --prefix 28 --sim identity --normalizer clamp --sink-token 4 --pos absolute"};
  static const char *const LARGE[] = {
    "--context 320 --dim 96 --ffn 300 --vocab 1500",
    "--context 320 --dim 64 --ffn 520 --vocab 400 --window 270 --place post --sim sigmoid "
    "--embed-dim 48 --kernel mlp --normalizer one --pos relative"};
  const Cover *v = covering(t);
  int count = 0;
  for (int i = 0; v->axis[i]; i++) count += extend_one(t, v->axis[i], SHORT, 75);
  for (int i = 0; v->flags[i]; i++) count += extend_one(t, v->flags[i], SHORT, 75);
  EACH(i, MORE) count += extend_one(t, MORE[i], SHORT, 75);
  EACH(i, LARGE) count += extend_one(t, LARGE[i], LONG, 320);
  note(t, "%d configurations", count);
}

/* -------------------------------------------------------------------------------------------------
 * 3, 4  Gradients against differences of fourth order
 *
 * (8 (f(+h) - f(-h)) - (f(+2h) - f(-2h))) / 12h, for single numbers of each tensor and for all of
 * them at once along a random direction. One bound for every tensor of every variant, relative to
 * the tensor's largest gradient. Where differences at two steps do not agree with each other there
 * is a kink (ReLU, elu + 1's second derivative, the clamp) between the points, or rounding: that
 * number says nothing and is counted as skipped. At a wrong gradient they do agree. */

enum { SAMPLES = 16 };
static const double GRADIENT_BOUND = 1e-6;

typedef struct Tally {
  long checked, skipped;       /* difference quotients */
  int zeros;                   /* tensors that must have gradient 0 */
  int over, under, faint;      /* rows that the clamp binds, or not; tensors of dead heads */
  double worst; char where[300];
} Tally;

static double difference(Lab *b, const Tensor *x, const double *along, const real *kept, double h) {
  static const int STEPS[] = {1, -1, 2, -2}; double f[4];
  for (int s = 0; s < 4; s++) {
    for (idx i = 0; i < x->count; i++)
      if (along[i] != 0) b->m.params[x->at + i] = (real)((double)kept[i] + STEPS[s] * h * along[i]);
    f[s] = lab_loss(b);
  }
  copy(b->m.params + x->at, kept, x->count);
  return (8 * (f[0] - f[1]) - (f[2] - f[3])) / (12 * h);
}

/* One quotient along `along` against the gradient's share; the bound is relative to size. */
static void judge(Test *t, Tally *y, Lab *b, const Tensor *x, const double *along, double size,
                  const char *flags) {
  static const double STEPS[] = {3e-4, 6e-5, 1e-5, 2e-6, 2e-3};
  real *kept = reals(x->count);
  copy(kept, b->m.params + x->at, x->count);
  double want = 0, found[5], error = INFINITY;
  for (idx i = 0; i < x->count; i++) want += along[i] * (double)b->m.grads[x->at + i];
  double slack = b->m.c.sim == SIM_SOFTPICK ? 20 : 1;     /* its m, a constant, shows as e / Z */
  bool agree = false;
  for (int s = 0; s < 5 && error > GRADIENT_BOUND / 20; s++) {
    found[s] = difference(b, x, along, kept, STEPS[s]);
    error = smaller(error, fabs(found[s] - want) / size / slack);
    for (int r = 0; r < s; r++) agree |= fabs(found[s] - found[r]) <= GRADIENT_BOUND / 2 * size;
  }
  bool right = error <= GRADIENT_BOUND;
  free(kept);
  if (!right && !agree && !isnan(error)) { y->skipped++; return; }
  y->checked++;
  if (!(error <= y->worst)) {
    y->worst = error;
    snprintf(y->where, sizeof y->where, "%s, %.200s", x->name, flags);
  }
  fact(t, right, "%s: gradient %.9g, difference %.9g, off by %.2g of the largest; %s", x->name,
       want, found[0], error, flags);
}

/* How many of layer l's *rows the clamp binds, by the forward's row_stat [B,H,N]. */
static int rows_bound(const Lab *b, int l, int *rows) {
  const Config *c = &b->m.c; int over = 0;
  *rows = b->B * c->heads * config_rows(c, b->T);
  for (int i = 0; i < *rows; i++) {
    double row_stat = (double)b->a.layer[l].row_stat[i];
    over += c->sim == SIM_EXP ? row_stat > 0 : fabs(row_stat) > 1;
  }
  return over;
}

/* The table of expected zeros. A tensor's gradient is 0 for one of two reasons:
 *   k*, the logit    with v* = 0 they act through Z alone, and Z is 1 or n in this whole layer
 *   b_K, sbias       it adds one number to all scores of a row, which exp with a Z that scales
 *                    forgets: only without extra column; b_K's without rotation, kernel, soft-cap,
 *                    QK-norm too; and only to rounding
 *   cscale           it multiplies all scores of a row, which a Z that scales forgets where s is a
 *                    multiple of z: likewise, and but for the e in Z */
static bool must_be_zero(const Lab *b, const Tensor *x, double *most) {
  const Config *c = &b->m.c; const char *last = strrchr(x->name, '.');
  if (x->layer < 0 || !last) return false;
  int rows, over = rows_bound(b, x->layer, &rows);
  bool clamp = c->normalizer == NORMALIZER_CLAMP;
  *most = 0;
  if (!strcmp(last, ".logit") ||
      (!strcmp(last, ".kstar") && c->extra == EXTRA_K && !c->extra_value))
    return c->normalizer == NORMALIZER_ONE || c->normalizer == NORMALIZER_COUNT || (clamp && !over);
  *most = 1e-12;
  bool scales = c->normalizer == NORMALIZER_SUM || c->normalizer == NORMALIZER_PNORM ||
                (clamp && over == rows);
  bool forgets = (c->sim == SIM_EXP ? scales : c->sim == SIM_RECTIFIED) && !c->extra;
  bool multiple = (c->sim == SIM_IDENTITY || c->sim == SIM_RELU) && scales && !c->shift
               && (!c->extra || c->extra == EXTRA_ZERO);
  if (!strcmp(last, ".cscale")) return multiple && (*most = 1e-6) > 0;
  return forgets && (!strcmp(last, ".sbias") || (!strcmp(last, ".bk") && !(c->soft_cap > 0)
                     && !c->qk_norm && c->kernel == KERNEL_IDENTITY && c->pos != POS_ROTARY));
}

/* Is number i of tensor x one that nothing in this batch reaches? An id that is not fed (unless the
 * head is tied), a position past the end, a bucket no row sees, a frozen dim. */
static bool unreached(const Lab *b, const Tensor *x, idx i) {
  const Config *c = &b->m.c;
  int N = config_rows(c, b->T), row = (int)(i / x->shape[1]); bool seen = false;
  if (!strcmp(x->name, "wte")) {
    for (int n = 0; n < b->B * b->T; n++) seen |= b->ids[n] == row;
    return !seen && !c->tied;
  }
  if (!strcmp(x->name, "wpe")) return row >= N;
  if (!strcmp(x->name, "rel")) {
    for (int l = 0; l < c->layers; l++) for (int p = 0; p < N; p++) for (int j = 0; j < N; j++)
      seen |= slow_visible(c, l, p, j) && slow_bucket(p > j ? p - j : 0) == row;
    return !seen;
  }
  return frozen(&b->m, x, i);
}

/* In float a difference of losses has few digits, and only one quotient is worth having: along the
 * whole gradient, where it must be the gradient's length, at the best of three steps. */
static void check_length(Test *t, Lab *b) {
  static const double STEPS[] = {0.02, 0.004, 0.001};
  lab_gradients(b);
  double square = 0, error = INFINITY;
  for (idx i = 0; i < b->m.count; i++) square += (double)b->m.grads[i] * (double)b->m.grads[i];
  real *kept = reals(b->m.count);
  copy(kept, b->m.params, b->m.count);
  for (int s = 0; s < 3; s++) {
    double f[2], h = STEPS[s] / fmax(1, sqrt(square));
    for (int side = 0; side < 2; side++) {
      double by = (side ? -h : h) / sqrt(square);
      for (idx i = 0; i < b->m.count; i++)
        b->m.params[i] = (real)((double)kept[i] + by * (double)b->m.grads[i]);
      f[side] = lab_loss(b);
    }
    error = smaller(error, fabs((f[0] - f[1]) / (2 * h * sqrt(square)) - 1));
  }
  free(kept);
  within(t, error, 0, 0.02, "%s", b->flags);
}

/* Every tensor of the lab: its zeros, one quotient along a random direction, and `samples` single
 * ones. In float a difference has too few digits for that: check_length. */
static void check_gradients(Test *t, Tally *y, Lab *b, int samples) {
  Rng r = {31};
  if (REAL_EPS > 1e-10) { check_length(t, b); return; }
  lab_gradients(b);
  double largest = biggest(b->m.count, b->m.grads);
  for (int l = 0; l < b->m.c.layers && b->m.c.normalizer == NORMALIZER_CLAMP; l++) {
    int rows, over = rows_bound(b, l, &rows);
    y->over += over;
    y->under += rows - over;
  }
  for (int k = 0; k < b->m.n_tensors; k++) {
    const Tensor *x = &b->m.tensor[k];
    const real *g = b->m.grads + x->at;
    double size = biggest(x->count, g), *along = room(x->count);
    double most = 1e-6;                /* heads may see nothing; whether, the differences tell */
    bool faint = b->m.c.sim >= SIM_SOFTPICK && size <= most * largest;
    bool zero = must_be_zero(b, x, &most) || faint;
    if (faint) most = 1e-6;
    y->faint += faint;
    y->zeros += zero;
    if (zero) fact(t, size <= most * largest, "%s: %g, %s", x->name, size, b->flags);
    else fact(t, size > 1e-9 * largest, "%s is %g of %g; %s", x->name, size, largest, b->flags);
    for (idx i = 0; i < x->count; i++) {
      bool out = unreached(b, x, i);
      along[i] = out ? 0 : rng_below(&r, 2) ? 1 : -1;
      fact(t, !out || g[i] == 0, "%s[%lld] is not reached and has gradient %g; %s", x->name, i,
           (double)g[i], b->flags);
    }
    double unit = zero ? largest : size;
    judge(t, y, b, x, along, unit * sqrt((double)x->count), b->flags);
    memset(along, 0, (size_t)x->count * sizeof *along);
    for (int s = 0; s < samples; s++) {
      idx i = (idx)rng_below(&r, (uint64_t)x->count);
      if (frozen(&b->m, x, i)) continue;
      along[i] = 1;
      judge(t, y, b, x, along, unit, b->flags);
      along[i] = 0;
    }
    free(along);
  }
}

static void tell_tally(Test *t, const Tally *y) {
  if (REAL_EPS > 1e-10) return;
  note(t, "%ld quotients, %ld skipped, %d zeros as expected", y->checked, y->skipped, y->zeros);
  fact(t, y->faint * 100 <= y->checked, "%d gradients of nearly 0", y->faint);
  fact(t, y->skipped * 200 <= y->checked, "%ld skipped, %ld checked", y->skipped, y->checked);
  t->error = y->worst;
  t->bound = GRADIENT_BOUND;
  snprintf(t->what, sizeof t->what, "%.100s", y->where);
}

/* [E1] to [E8], [E29], [E43], [T4], [T11], [T12], [T13], [T15] Every pair of rows of two axes. */
static void gradients__every_pair(Test *t) {
  const Cover *v = covering(t);
  Tally y = {0};
  LABS_OF_COVER(b, 2, 7) check_gradients(t, &y, &b, SAMPLES);
  fact(t, v->pairs == v->refused + v->covered, "%d pairs, %d checked", v->pairs, v->covered);
  /* softpick and rectified: six normalisers, a kernel; exp and count; six normalisers, a clip */
  fact(t, v->refused == 21, "%d refused: each other pair can be completed", v->refused);
  note(t, "%d pairs = %d refused + %d checked, %d configurations; ", v->pairs, v->refused,
       v->covered, v->n);
  tell_tally(t, &y);
  if (REAL_EPS > 1e-10) return;
  fact(t, y.over > 20 && y.under > 20, "the clamp bound %d rows and left %d", y.over, y.under);
  note(t, "; clamp %d over 1, %d not", y.over, y.under);
}

/* Every similarity, normaliser, kernel and extra column: the quadruples that pairs leave out. */
static void gradients__every_operation(Test *t) {
  static const char *const REST[] = {
    "--pos none --linear-bias", "", "--sink-token --vbias --heads 4 --kv-heads 2 --rotary-dims 2",
    "--pos t5 --prefix 3 --extra-shared",
    "--window 3 --linear-bias --extra-dims 2 --extra-order lowfreq",
    "--scale 0.7 --pos alibi --linear-bias", "--extra-dims 3 --extra-order last"};
  static const char *const KERNELS[] = {"identity", "elu", "mlp"},
      *const NORMALIZERS[] = {"sum", "one", "clamp", "pnorm --pnorm 0.5", "pnorm --pnorm 2",
                              "count"},
      *const EXTRAS[] = {"none", "k", "kv", "zero", "logit", "k --extra-value e1"};
  Tally y = {0}; int n = 0;
  for (int i = 0; i < 6 * 6 * 3 * SIM_ROWS; i++) {
    char flags[400], all[600], sim[VALUE_ROOM]; Config c;
    snprintf(flags, sizeof flags, "%s --kernel %s --sim %s --normalizer %s --extra %s", REST[i % 7],
             KERNELS[i % 3], option_word(option_find("sim", MODEL), i / 3 % SIM_ROWS, sim),
             NORMALIZERS[i / 3 / SIM_ROWS % 6], EXTRAS[i / 18 / SIM_ROWS]);
    snprintf(all, sizeof all, "%s%s", BASE, flags);
    if (config_from_flags(&c, all, fresh(t))) continue;
    LABS(b, 1, 6, flags) check_gradients(t, &y, &b, 1);
    tiles_against_plain(t, 1, 6, flags);
    n++;
  }
  fact(t, n > 250, "%d operations", n);
  note(t, "%d operations; ", n);
  tell_tally(t, &y);
}

static void gradients__tiles(Test *t) {
  Tally y = {0};
  LABS_OF(b, 1, 70, TILED) check_gradients(t, &y, &b, 0);
  tell_tally(t, &y);
}

/* Rows wider than the pieces of 64 and 256 numbers that sums over them go in, with odd ends; an
 * embedding wider than the model; and the same models forward. */
static void gradients__wide(Test *t) {
  Tally y = {0};
  LABS(b, 2, 9,
       "--layers 1 --dim 300 --ffn 270 --heads 3 --head-dim 70 --embed-dim 20 --norm layer "
       "--linear-bias",
       "--layers 1 --dim 20 --ffn 390 --embed-dim 333 --tied --act relu --linear-bias --vocab 70",
       "--layers 1 --dim 260 --ffn 20 --head-dim 4 --norm dyt --place post",
       "--layers 1 --dim 266 --heads 2 --head-dim 130 --kernel mlp --sim elu --extra kv --vbias "
       "--sink-token --pos learned --act gelu --place post") {
    for (idx i = 0; i < b.m.count; i++) b.m.params[i] /= 4;              /* z of order 1 */
    compare_with_slow(t, &b, 1000 * REAL_EPS, b.flags);
    check_gradients(t, &y, &b, 1);
  }
  tell_tally(t, &y);
}

/* At 0 ReLU's derivative is 0, in the ffn and the mlp kernel: nothing comes through zeros. */
static void gradients__at_zero(Test *t) {
  static const struct { const char *flags, *zeros, *below; } ROWS[] = {
    {"--act relu", "l1.w1", "l1.w1"}, {"--act reglu", "l1.w1", "l1.w1"},
    {"--kernel mlp", "l1.phi1", "l1.wq"}};
  EACH(f, ROWS) LABS(b, 1, 7, ROWS[f].flags) {
    const Tensor *x = model_tensor(&b.m, ROWS[f].zeros), *y = model_tensor(&b.m, ROWS[f].below);
    lab_fill(&b, ROWS[f].zeros, 0);
    lab_gradients(&b);
    within(t, biggest(x->count, b.m.grads + x->at), 0, 0, "d%s, %s", x->name, b.flags);
    within(t, biggest(y->count, b.m.grads + y->at), 0, 0, "d%s, %s", y->name, b.flags);
    fact(t, biggest(b.m.count, b.m.grads) > 1e-3, "no gradient at all, %s", b.flags);
  }
}

/* T5's table with a sink token, more heads and sequences than rows: nothing of one backward's sums
 * by distance, of the T+1 rows of every head and sequence, is there in the next. */
static void gradients__t5_again(Test *t) {
  LABS(b, 5, 2, "--pos t5 --sink-token --heads 4") {
    const Tensor *x = model_tensor(&b.m, "rel");
    real *once = reals_of(t, x->count);
    for (int n = 0; n < 3; n++) {
      lab_gradients(&b);
      if (!n) copy(once, b.m.grads + x->at, x->count);
      fact(t, biggest(x->count, once) > 0 && same_numbers(x->count, once, b.m.grads + x->at),
           "backward %d: rel off by %g", n, distance(x->count, once, b.m.grads + x->at));
    }
  }
}

/* Gradients are added to what is there: twice is double, and a share is a share. The input's own
 * gradient a.dh is not kept from one backward to the next. */
static void gradients__accumulate(Test *t) {
  const Cover *v = covering(t);
  for (int k = 0; k < v->n; k += 3) LABS(b, 2, 7, v->flags[k]) {
    idx n = b.m.count; real *once = reals_of(t, n), *half = reals_of(t, n);
    lab_gradients(&b);
    copy(once, b.m.grads, n);
    lab_backward(&b, 1);
    for (idx i = 0; i < n; i++) half[i] = b.m.grads[i] / 2;
    for (int i = 0; i < b.m.n_tensors; i++) {
      const Tensor *x = &b.m.tensor[i]; double most;
      if (!must_be_zero(&b, x, &most) && biggest(x->count, once + x->at) > 1e-9 * biggest(n, once))
        within(t, distance(x->count, once + x->at, half + x->at), 0, 64 * REAL_EPS,
               "%s twice, %s", x->name, b.flags);
    }
    model_zero_grads(&b.m);
    lab_backward(&b, 0.5);
    for (idx i = 0; i < n; i++) half[i] = b.m.grads[i] * 2;
    fact(t, same_numbers(n, once, half) || distance(n, once, half) < 64 * REAL_EPS,
         "half a share is off by %g, %s", distance(n, once, half), b.flags);
  }
}

/* [T10] A batch's gradient is its sequences' mean (each with its share), however accumulated. */
static void gradients__of_a_batch(Test *t) {
  LABS(b, 3, 7, "--extra kv --vbias --pos t5 --sink-token --linear-bias") {
    real *whole = reals_of(t, b.m.count);
    lab_gradients(&b);
    copy(whole, b.m.grads, b.m.count);
    model_zero_grads(&b.m);
    for (int s = 0; s < 3; s++) {
      model_forward(&b.m, &b.a, b.ids + s * 7, 1, 7);
      model_loss(&b.m, &b.a, b.targets + s * 7, 1, 7, true, 1.0 / 3);
      model_backward(&b.m, &b.a, b.ids + s * 7, 1, 7);
    }
    for (int k = 0; k < b.m.n_tensors; k++) {
      const Tensor *x = &b.m.tensor[k];
      double off = distance(x->count, whole + x->at, b.m.grads + x->at);
      within(t, off, 0, 512 * REAL_EPS, "%s", x->name);
    }
  }
}

/* [T13] Frozen dims of k* start at 0, have gradient 0 and stay 0 under AdamW; learned ones move. */
static void gradients__frozen_dims(Test *t) {
  LABS(b, 1, 8, "--extra k --extra-dims 1", "--extra kv --extra-dims 2 --extra-order last",
       "--extra k --extra-dims 3 --extra-order lowfreq --extra-shared",
       "--extra k --extra-dims 4 --rotary-dims 2 --extra-order lowfreq --rope-pairing "
       "interleaved") {
    model_init(&b.m, INIT_TORCH, 5);
    const Tensor *x = model_tensor(&b.m, "l1.kstar");
    real *w = b.m.params + x->at, *g = b.m.grads + x->at, moment[64] = {0}, second[64] = {0};
    for (int step = 1; step <= 3; step++) {
      Step s = {OPTIMIZER_ADAMW, 0.01, 0.9, 0.95, 1e-8, 0.1, step, 1};
      lab_gradients(&b);
      for (idx i = 0; i < x->count; i++)
        fact(t, frozen(&b.m, x, i) ? w[i] == 0 && g[i] == 0 : w[i] != 0 && fabs((double)g[i]) > 0,
             "k*[%lld] is %g, its gradient %g, %s", i, (double)w[i], (double)g[i], b.flags);
      optimizer_step(&s, x->count, w, g, moment, second);
    }
  }
}

/* One whole training of n steps with this many threads; its last loss. */
static double train(Lab *b, int threads, int n) {
  double loss = 0; int before = workers();
  const Tensor *bad;
  real *moment = reals(b->m.count), *second = reals(b->m.count);
  set_workers(threads);
  model_init(&b->m, INIT_TORCH, 21);
  for (int step = 1; step <= n; step++) {
    Step s = {OPTIMIZER_ADAMW, 0.01, 0.9, 0.95, 1e-8, 0.1, step, 1};
    loss = lab_gradients(b);
    real clip = (real)fmin(1, 1 / gradient_norm(&b->m, &bad));
    for (idx i = 0; i < b->m.count; i++) b->m.grads[i] *= clip;
    optimizer_step(&s, b->m.count, b->m.params, b->m.grads, moment, second);
  }
  set_workers(before);
  free(moment); free(second);
  return loss;
}

/* The same bits on 1, 2 and 16 threads. */
static void same_on_threads(Test *t, const char *flags, int steps) {
  LABS(one, 3, 50, flags) LABS(b, 3, 50, flags, flags) {
    int threads = b.n == 1 ? 2 : 16; double loss = train(&one, 1, steps);
    within(t, train(&b, threads, steps), loss, 0, "loss on %d threads, %s", threads, flags);
    fact(t, same_numbers(b.m.count, b.m.params, one.m.params) && same_numbers(b.m.count, b.m.grads,
                one.m.grads), "parameters or gradients on 1 and %d threads, %s", threads, flags);
  }
}

/* Three steps of models large enough for threads to share their products, then one step of every
 * configuration of the covering array, so that each operator that reduces over rows, heads or
 * sequences is there in each of its forms. */
static void threads__same_bits(Test *t) {
  static const char *const FLAGS[] = {
    "", "--kv-heads 1 --extra kv --vbias --pos t5 --sink-token --linear-bias",
    "--kernel mlp --combine add --norm layer --embed-dim 5",
    "--dim 72 --heads 4 --ffn 300 --place post --pos learned --linear-bias --window 20",
    ("--dim 64 --ffn 520 --vocab 400 --tied --sim elu --extra logit --normalizer pnorm "
     "--place parallel")};
  int most = workers();
  if (set_workers(16)) { t->skip = "one thread in this build"; return; }
  const Cover *v = covering(t);
  EACH(f, FLAGS) same_on_threads(t, FLAGS[f], 3);
  for (int f = 0; f < v->n; f++) same_on_threads(t, v->flags[f], 1);
  note(t, "%d configurations", 5 + v->n);
  set_workers(most);
}

/* All of it together: a fixed batch is learned by heart. */
static void train__learns_by_heart(Test *t) {
  LABS(b, 2, 8, "--dim 24 --ffn 32", "--dim 24 --ffn 32 --sim sigmoid --normalizer one",
       "--dim 24 --ffn 32 --place post --extra kv",
       "--dim 24 --ffn 32 --pos learned --sink-token --act relu --tied") {
    for (int i = 0; i < 16; i++) b.ids[i] = i < 8 ? i : 17 - i;
    double start = train(&b, 1, 1);
    fact(t, start > 1 && start < 20, "loss at the start %g, %s", start, b.flags);
    within(t, train(&b, 1, 150), 0, 0.05, "loss after 150 steps, %s", b.flags);
  }
}

/* =================================================================================================
 * 5  Loss, AdamW, schedule */

/* [E1] Mean cross-entropy of every target; tied, projected, with a sink token, post-norm. */
static void model_loss__direct(Test *t) {
  LABS(b, 3, 9, "", "--tied", "--embed-dim 5", "--embed-dim 5 --tied", "--sink-token",
       "--place post", "--norm layer --extra kv", "--vocab 300") {
    double loss = lab_loss(&b), sum = 0;
    within(t, loss, slow_loss(&b, 0), 2000 * REAL_EPS, "loss, %s", b.flags);
    for (int i = 0; i < 27; i++) sum += b.a.loss_row[i] / 27;
    within(t, sum, loss, 1e-14 * loss, "mean of loss_row, %s", b.flags);
    double again = model_loss(&b.m, &b.a, b.targets, 3, 9, true, 1);
    within(t, again, loss, 0, "with gradients, %s", b.flags);
  }
}

/* [FIG5] With a prefix of p the first p-1 predictions, whose rows have seen their answer, are
 * not scored: loss_row is -1 there, their targets do not matter, and p = 1 scores everything. */
static void model_loss__prefix(Test *t) {
  for (int p = 0; p <= 9; p++) {
    char flags[60];
    snprintf(flags, sizeof flags, "--prefix %d", p);
    LABS(b, 2, 9, flags) {
      int from = p > 1 ? p - 1 : 0; double loss = lab_loss(&b);
      within(t, loss, slow_loss(&b, from), 2000 * REAL_EPS, "loss with a prefix of %d", p);
      for (int i = 0; i < 18; i++) fact(t, (b.a.loss_row[i] == -1) == (i % 9 < from),
          "loss_row[%d] is %g, prefix %d", i, b.a.loss_row[i], p);
      for (int i = 0; i < 18; i++) if (i % 9 < from) b.targets[i] = 0;
      within(t, lab_loss(&b), loss, 0, "with other targets inside the prefix of %d", p);
    }
  }
  LABS(b, 1, 3, "--prefix 9") {                            /* nothing is left to score */
    within(t, lab_backward(&b, 1), 0, 0, "loss when the prefix is all");
    within(t, biggest(b.m.count, b.m.grads), 0, 0, "gradient when the prefix is all");
  }
}

/* SLICE rows of logits exist at a time: batches just below, at and above its multiples, with the
 * closed forms dy = (softmax - 1[target]) / n, dW_cls = nf^T dy and dnf = dy W_cls^T in double. */
static void model_loss__slices(Test *t) {
  static const int SIZES[][2] = {
    {1, SLICE - 1}, {1, SLICE}, {1, SLICE + 1}, {2, SLICE}, {3, 107}, {7, 80}, {1, 1}};
  enum { V = 11, C = 12 };
  EACH(k, SIZES) LABS(b, SIZES[k][0], SIZES[k][1], "--layers 1 --context 300") {
    int rows = b.B * b.T; double dw[C * V] = {0}, *dnf = room(rows * C), loss = 0;
    lab_forward(&b);
    for (int n = 0; n < rows; n++) {
      double y[V] = {0}, total = 0; const real *nf = b.a.nf + n * C;
      for (int v = 0; v < V; v++) {
        for (int i = 0; i < C; i++) y[v] += (double)nf[i] * (double)b.m.w.wcls[i * V + v];
        total += exp(y[v]);
      }
      loss += (log(total) - y[b.targets[n]]) / rows;
      for (int v = 0; v < V; v++) {
        double dy = (exp(y[v]) / total - (v == b.targets[n])) / rows;
        for (int i = 0; i < C; i++) {
          dw[i * V + v] += (double)nf[i] * dy;
          dnf[n * C + i] += (double)b.m.w.wcls[i * V + v] * dy;
        }
      }
    }
    model_zero_grads(&b.m);
    double ours = model_loss(&b.m, &b.a, b.targets, b.B, b.T, true, 1);
    within(t, ours, loss, 500 * REAL_EPS, "loss of %d x %d", b.B, b.T);
    within(t, slow_distance(C * V, b.m.d.wcls, dw), 0, 500 * REAL_EPS, "dW_cls, row %d", k);
    within(t, slow_distance(rows * C, b.a.dh, dnf), 0, 500 * REAL_EPS, "dnf, row %d", k);
    free(dnf);
  }
}

/* log V when nothing is known; no overflow at logits of +-1e4. */
static void model_loss__extremes(Test *t) {
  LABS(b, 1, 5, "") {
    lab_fill(&b, "wcls", 0);
    within(t, lab_loss(&b), log(11), 4 * REAL_EPS, "loss of equal logits");
    for (int i = 0; i < 12 * 11; i++) b.m.w.wcls[i] = (real)(i % 11 == 4 ? 1e4 : -1e4);
    for (int i = 0; i < 5; i++) b.targets[i] = 4;
    lab_fill(&b, "normf", 0);
    lab_at(&b, "normf")[0] = 1;
    for (int i = 0; i < 10; i++) lab_at(&b, "wte")[i * 12] = 50;
    double low = lab_backward(&b, 1);
    fact(t, b.a.nf[0] > 0.1, "the state is %g", (double)b.a.nf[0]);
    within(t, low, 0, 0, "loss of a target at +1e4");
    for (int i = 0; i < 5; i++) b.targets[i] = 3;
    double high = lab_backward(&b, 1);
    fact(t, high > 1e3 && high < 1e6, "loss of a target at -1e4 is %g", high);
    fact(t, isfinite(biggest(b.m.count, b.m.grads)), "gradients at +-1e4");
  }
}

/* [T2] AdamW by hand: from m = v = 0 the first step goes lr g / (|g| + eps) whatever the betas; the
 * decay acts before it; SGD is the same decay and lr g. */
static void optimizer_step__by_hand(Test *t) {
  Step s = {OPTIMIZER_ADAMW, 0.1, 0.9, 0.99, 1e-8, 0.5, 1, 1};
  real w[] = {2, -4, 1}, g[] = {3, -0.25, 0}, m[3] = {0}, v[3] = {0};
  optimizer_step(&s, 3, w, g, m, v);
  within(t, (double)w[0], 2 * 0.95 - 0.3 / (3 + 1e-8), 8 * REAL_EPS, "w under g = 3");
  within(t, (double)w[1], -4 * 0.95 + 0.025 / (0.25 + 1e-8), 8 * REAL_EPS, "w under g = -0.25");
  within(t, (double)w[2], 0.95, 2 * REAL_EPS, "w under g = 0: the decay alone");
  within(t, (double)m[0], 0.3, 2 * REAL_EPS, "m");
  within(t, (double)v[0], 0.09, 4 * REAL_EPS, "v");
  s.t = 2;
  optimizer_step(&s, 3, w, g, m, v);           /* g unchanged: m^ = g and v^ = g^2 again */
  within(t, (double)w[0], (1.9 - 0.3 / (3 + 1e-8)) * 0.95 - 0.3 / (3 + 1e-8), 8 * REAL_EPS,
         "w after two steps");
  s = (Step){.optimizer = OPTIMIZER_SGD, .lr = 0.1, .wd = 0.5, .t = 1, .shrink = 1};
  real x[] = {2, -4}, before[2];
  copy(before, m, 2);
  optimizer_step(&s, 2, x, g, m, v);
  within(t, (double)x[0], 1.9 - 0.3, 4 * REAL_EPS, "SGD under g = 3");
  within(t, (double)x[1], -3.8 + 0.025, 4 * REAL_EPS, "SGD under g = -0.25");
  fact(t, same_numbers(2, before, m), "SGD changed the moments");
}

/* 50 steps of random gradients on 600 numbers (more than two chunks) against AdamW as published:
 * the moments' bias corrections as they are defined, in double. Large eps and decay both show. */
static void optimizer_step__against_scalar(Test *t) {
  enum { COUNT = 600 };
  static const double SETTINGS[][5] = {
    {0.01, 0.9, 0.95, 1e-8, 0.1}, {0.02, 0.8, 0.999, 1e-2, 3}, {0.01, 0, 0.9, 1e-3, 0}};
  EACH(k, SETTINGS) {
    const double *x = SETTINGS[k], lr = x[0], b1 = x[1], b2 = x[2], eps = x[3], wd = x[4];
    real w[COUNT], g[COUNT], m[COUNT] = {0}, v[COUNT] = {0};
    double W[COUNT], M[COUNT] = {0}, U[COUNT] = {0}; Rng r = {8};
    for (int i = 0; i < COUNT; i++) W[i] = (double)(w[i] = (real)rng_normal(&r));
    for (int step = 1; step <= 50; step++) {
      Step s = {OPTIMIZER_ADAMW, lr, b1, b2, eps, wd, step, 1};
      for (int i = 0; i < COUNT; i++) {
        double y = (double)(g[i] = (real)(rng_normal(&r) * (1 + i % 3)));
        W[i] -= lr * wd * W[i];
        M[i] = b1 * M[i] + (1 - b1) * y;
        U[i] = b2 * U[i] + (1 - b2) * y * y;
        W[i] -= lr * (M[i] / (1 - pow(b1, step))) / (sqrt(U[i] / (1 - pow(b2, step))) + eps);
      }
      optimizer_step(&s, COUNT, w, g, m, v);
    }
    within(t, slow_distance(COUNT, w, W), 0, 100 * REAL_EPS, "w, settings %d", k);
    within(t, slow_distance(COUNT, m, M), 0, 100 * REAL_EPS, "m, settings %d", k);
    within(t, slow_distance(COUNT, v, U), 0, 400 * REAL_EPS, "v, settings %d", k);
  }
}

/* (F1) [T9] Warm-up lr (s+1)/warmup, then constant, or half a cosine to min_lr. */
static void schedule_lr__values(Test *t) {
  const double eighth = 0.1 + 0.45 * (1 + 0.70710678118654752);
  enum { FLAT = SCHEDULE_CONSTANT, FALL = SCHEDULE_COSINE };
  const struct { int schedule, warmup, steps, step; double want; } LRS[] = {
    {FLAT, 4, 20, 0, 0.25}, {FLAT, 4, 20, 2, 0.75}, {FLAT, 4, 20, 3, 1}, {FLAT, 4, 20, 4, 1},
    {FLAT, 4, 20, 19, 1}, {FLAT, 0, 20, 0, 1}, {FALL, 4, 20, 0, 0.25}, {FALL, 4, 20, 3, 1},
    {FALL, 4, 20, 4, 1}, {FALL, 4, 20, 12, 0.55}, {FALL, 4, 20, 20, 0.1}, {FALL, 4, 20, 28, 0.1},
    {FALL, 4, 20, 8, eighth}, {FALL, 0, 4, 1, eighth}, {FALL, 5, 5, 5, 0.1},
    {FALL, 9, 5, 4, 5.0 / 9}};
  EACH(i, LRS) within(t, schedule_lr(LRS[i].schedule, 2, 0.2, LRS[i].warmup, LRS[i].steps,
      LRS[i].step), 2 * LRS[i].want, 8 * DBL_EPSILON, "row %d", i);
}

/* The global norm, in double; the first tensor with a NaN or an infinity is named. */
static void gradient_norm__names_the_bad(Test *t) {
  LABS(b, 1, 5, "--dim 72 --heads 4 --ffn 300 --extra kv") {
    const Tensor *bad;
    real *g = b.m.grads; idx n = b.m.count; Rng r = {6}; double square = 0;
    for (idx i = 0; i < n; i++) {
      g[i] = (real)rng_normal(&r);
      square += (double)g[i] * (double)g[i];
    }
    within(t, gradient_norm(&b.m, &bad) / sqrt(square), 1, 64 * REAL_EPS, "norm of %lld", n);
    fact(t, !bad, "a tensor is called bad");
    for (int k = 0; k < 2 * b.m.n_tensors; k++) {        /* its first number, its last */
      const Tensor *x = &b.m.tensor[k / 2];
      real *at = g + x->at + (k % 2 ? x->count - 1 : 0), was = *at;
      g[n - 1] = (real)INFINITY;
      *at = (real)NAN;
      double norm = gradient_norm(&b.m, &bad);
      fact(t, bad == x && !isfinite(norm), "NaN in %s: named %s, norm %g", x->name,
           bad ? bad->name : "none", norm);
      *at = was;
      g[n - 1] = 1;
    }
    model_zero_grads(&b.m);
    within(t, gradient_norm(&b.m, &bad), 0, 0, "norm of no gradient");
  }
}

/* A parameter that is not a number ends in a NaN loss or in a gradient that names a tensor,
 * whichever parameter it is and in every variant: nothing swallows it on the way. */
static void model_backward__nan_is_seen(Test *t) {
  int planted = 0;
  for (const Variant *v = VARIANTS; v->name; v++) LABS(b, 1, 7, v->flags)
    for (int k = 0; k < b.m.n_tensors; k++, planted++) {
      const Tensor *x = &b.m.tensor[k], *bad;
      idx i = 0;
      while (i < x->count && unreached(&b, x, i)) i++;
      real *at = b.m.params + x->at + i, was = *at;
      *at = (real)NAN;
      double loss = lab_gradients(&b);
      gradient_norm(&b.m, &bad);
      fact(t, isnan(loss) || bad, "%s: NaN in %s gives the loss %g", v->name, x->name, loss);
      *at = was;
    }
  note(t, "%d tensors", planted);
}

/* =================================================================================================
 * 6  The sink metrics */

/* [M1] alpha of maps made by hand: all on column 1, all on the diagonal, uniform rows (H_T / T). */
static void sink_alpha__by_hand(Test *t) {
  enum { T = 64 };
  const Config c = config_of(t, "");
  real *first = reals_of(t, T * T), *diagonal = reals_of(t, T * T), *even = reals_of(t, T * T);
  double harmonic_T = 0;
  for (int i = 0; i < T; i++) {
    first[i * T] = diagonal[i * T + i] = 1;
    for (int j = 0; j <= i; j++) even[i * T + j] = (real)(1.0 / (i + 1));
    harmonic_T += 1.0 / (i + 1);
  }
  for (int rows = METRIC_REAL; rows <= METRIC_PLUS1; rows++) { /* the same without * and prefix */
    double left = harmonic_T;
    for (int k = 0; k < T; left -= 1.0 / ++k) {
      double one = sink_alpha(&c, T, rows, first, k), own = sink_alpha(&c, T, rows, diagonal, k);
      within(t, one, k == 0, 0, "alpha_%d, all on column 1", k + 1);
      within(t, own, 1.0 / (T - k), 1e-15, "alpha_%d of the diagonal", k + 1);
      within(t, sink_alpha(&c, T, rows, even, k), left / (T - k), 64 * REAL_EPS,
             "alpha_%d of even rows", k + 1);
    }
    within(t, sink_alpha(&c, T, rows, even, 0), 0.07412329537, fmax(4 * REAL_EPS, 5e-12),
           "even rows: H_64/64");
  }
}

/* (F6) * is seen by every row: alpha_* is the mean over the T real rows, or, in the authors' form,
 * over T+1 with a dummy row of 1: at T = 64 their 0.3 is a mean of 0.28906. x*'s counts there. */
static void sink_alpha__star_columns(Test *t) {
  enum { T = 64 };
  static const char *const FLAGS[] = {"--extra k", "--sink-token", "--extra kv --sink-token"};
  const double edge = (0.3 * 65 - 1) / 64;                 /* 0.2890625 */
  EACH(r, FLAGS) for (int above = 0; above < 2; above++) {
    const Config c = config_of(t, "%s", FLAGS[r]);
    int N = config_rows(&c, T), S = config_columns(&c, T), token1 = S - T;
    real *m = reals_of(t, N * S);
    double share = edge + (above ? 1e-5 : -1e-5);
    for (int i = 0; i < N; i++) {
      m[i * S] = (real)share;
      m[i * S + token1] = (real)(i >= c.sink_token ? 0.5 : 0);
    }
    if (c.sink_token) m[0] = 1;
    double ours = sink_alpha(&c, T, METRIC_REAL, m, 0);
    double theirs = sink_alpha(&c, T, METRIC_PLUS1, m, 0);
    within(t, ours, share, 4 * REAL_EPS, "alpha_*, %s", FLAGS[r]);
    fact(t, ours < 0.3, "%s passes 0.3", FLAGS[r]);
    within(t, theirs, (1 + 64 * share) / 65, 4 * REAL_EPS, "authors' alpha_*, %s", FLAGS[r]);
    fact(t, (theirs > 0.3) == above, "0.28906 of %s", FLAGS[r]);
    for (int rows = METRIC_REAL; rows <= METRIC_PLUS1; rows++)
      within(t, sink_alpha(&c, T, rows, m, token1), 0.5, 4 * REAL_EPS, "alpha_1, %s", FLAGS[r]);
  }
}

/* The even share for every mask: H_T/T, H_w/T, and one key more with an extra column or x*. */
static void sink_uniform__values(Test *t) {
  static const struct { const char *flags; double want; } ROWS[] = {
    {"", 0.07412329537}, {"--window 8", 0.0424665}, {"--window 16", 0.0528239},
    {"--window 32", 0.0634140}, {"--prefix 5", 0.05407}, {"--extra zero", 0.05873868},
    {"--sink-token", 0.05873868}, {"--sink-token --extra k", 0.05116292},
    {"--sink-token 2", 0.05116292}, {"--sink-token 3", 0.04618780},
    {"--layers 2 --window 8 --window-period 2", (0.07412329537 + 0.0424665) / 2}};
  EACH(i, ROWS) {
    const Config c = config_of(t, "%s", ROWS[i].flags);
    within(t, sink_uniform(&c, 64), ROWS[i].want, i < 1 ? 5e-12 : 5e-6, "%s", ROWS[i].flags);
  }
}

static void forget_queries(Lab *b) {
  for (int l = 0; l < b->m.c.layers; l++)
    zero(b->m.w.layer[l].wq, (idx)b->m.c.dim * b->m.c.heads * b->m.c.head_dim);
}

/* [M2] Strictly above eps: two even rows give alpha_1 = 0.75 exactly, which is not over 0.75. */
static void sinks__threshold_is_strict(Test *t) {
  LABS(b, 1, 2, "--pos none") {
    forget_queries(&b);
    const Sinks *s = lab_measure(t, &b, 0.75, 0.7499999, 0.7500001, METRIC_REAL);
    within(t, sinks_alpha(s, 0), 0.75, 0, "alpha_1");
    for (int k = 0; k < 3; k++) within(t, sinks_sink(s, 0, k), k == 1, 0, "over eps %d", k);
  }
}

/* A one-layer model without positions: ids 0 attract all weight, ids 1 none. */
#define ATTRACTOR "--layers 1 --heads 1 --dim 2 --pos none"
static void attract(Lab *b) {
  real *e = lab_at(b, "wte");
  lab_fill(b, "l0.wq", 9);                     /* q = 9 sqrt 2 (1, 1) for either */
  lab_fill(b, "l0.wk", 0); lab_fill(b, "l0.norm1", 1);
  e[0] = 0; e[1] = 1;                          /* id 0 = (0, 1), id 1 = (1, 0) */
  e[2] = 1; e[3] = 0;
  b->m.w.layer[0].wk[2] = b->m.w.layer[0].wk[3] = 9;   /* k = 9 sqrt 2 (1, 1) for id 0, else 0 */
}

/* (F7) The threshold is applied to each sequence and then averaged. Two sequences of two tokens
 * with alpha_1 = 1 and 0.5: half of them are over 0.7, though their mean 0.75 is. */
static void sinks__threshold_per_sequence(Test *t) {
  LABS(b, 2, 2, ATTRACTOR) {
    attract(&b);
    memcpy(b.ids, (int[]){0, 1, 1, 0}, 4 * sizeof(int));
    const Sinks *s = lab_measure(t, &b, 0.7, 0.4, 0.99, METRIC_REAL);
    within(t, sinks_alpha(s, 0), 0.75, 1e-6, "mean alpha_1");
    for (int k = 0; k < 3; k++)
      within(t, sinks_sink(s, 0, k), k == 1 ? 1 : 0.5, 0, "Sink_1 at eps %d", k);
  }
}

/* Entropy of even rows is the mean of log t, of attracted ones 0; the mass is the weights' sum: 1
 * for softmax, the scale, (t)^(1 - 1/p), t sigmoid(0) without a normaliser, and what * leaves. */
static void sinks__entropy_and_mass(Test *t) {
  static const struct { const char *flags; double power, factor; int T; } ROWS[] = {
    {"--pos none", 0, 1, 16}, {"--pos none --scale 0.2", 0, 0.2, 16},
    {"--pos none --normalizer pnorm", 0.5, 1, 16},
    {"--pos none --normalizer pnorm --pnorm 0.5", -1, 1, 16},
    {"--pos none --sim sigmoid --normalizer one", 1, 0.5, 16},
    {"--pos none --sim elu --normalizer one", 1, 1, 16},
    {"--pos none --extra zero", 2, 1, 16},               /* 2: t/(t + 1) */
    {"--pos none --context 300 --window 99", 0, 1, CHUNK + 9}};  /* rows in two pieces */
  EACH(r, ROWS) LABS(b, 2, ROWS[r].T, ROWS[r].flags) {
    forget_queries(&b);
    const Sinks *s = lab_measure(t, &b, 0.3, 0.2, 0.4, METRIC_REAL);
    double mass = 0, entropy = 0;
    for (int i = 1; i <= b.T; i++) {
      double seen = ROWS[r].power > 1 ? i + 1 : b.T > 99 && i > 99 ? 99 : i;
      mass += ROWS[r].factor * (ROWS[r].power > 1 ? i / seen : pow(i, ROWS[r].power)) / b.T;
      entropy += log(seen) / b.T;
    }
    for (int h = 0; h < 4; h++) {
      within(t, s->mass[h] / mass, 1, 64 * REAL_EPS + 1e-7, "mass, %s", b.flags);
      within(t, s->entropy[h], entropy, 64 * REAL_EPS + 1e-6, "entropy, %s", b.flags);
    }
  }
  LABS(b, 1, 4, ATTRACTOR) {
    attract(&b);
    for (int i = 0; i < 4; i++) b.ids[i] = i > 0;
    const Sinks *s = lab_measure(t, &b, 0.3, 0.2, 0.4, METRIC_REAL);
    within(t, s->entropy[0], 0, 1e-6, "entropy when all is on token 1");
    within(t, sinks_alpha(s, 0), 1, 1e-6, "alpha_1 when all is on token 1");
  }
}

/* [FIG7] [FIG8] [FIG29] The first row's norm over the mean of the others'. */
static void norm_ratio__by_hand(Test *t) {
  const double norms[] = {10, 1, 2, 3}, zeros[] = {1, 0, 0};
  within(t, norm_ratio(norms, 4), 5, 0, "10 over the mean of 1, 2, 3");
  within(t, norm_ratio(norms + 1, 3), 0.4, 0, "1 over the mean of 2, 3");
  within(t, norm_ratio(norms, 1), 1, 0, "a row alone");
  within(t, norm_ratio(zeros, 3), 1, 0, "rows of zeros");
  LABS(b, 1, 6, "") {
    Sinks *s = lab_measure(t, &b, 0.3, 0.2, 0.4, METRIC_REAL);
    for (int n = 0; n < 6; n++) { /* H^0 does not count; of the rest, the largest */
      s->hnorm[n] = n ? 1 : 100;
      s->hnorm[6 + n] = n ? 1 : 7;
      s->hnorm[12 + n] = n ? 2 : 8;
    }
    within(t, sinks_ratio(s), 7, 0, "largest ratio over the blocks");
  }
}

/* [FIG2] Every field of Sinks on real models against the slow recomputation, 3 sequences. */
static void sinks__against_slow(Test *t) {
  static const char *const FLAGS[] = {
    "", "--extra kv --place post --pos none", "--sink-token --kv-heads 1",
    "--extra k --sink-token 3 --window 4 --prefix 3",
    "--sim identity --normalizer clamp --norm layer --prefix 4",
    "--heads 4 --kv-heads 2 --rotary-dims 2 --sim sigmoid --normalizer one --layers 3"};
  sinks_against_slow(t, FLAGS, sizeof FLAGS / sizeof *FLAGS);
}

/* Block by block in the memory of one, every number has the bits of when all blocks are kept. */
static void sinks__one_layer(Test *t) {
  LABS_OF_COVER(b, 3, 12) {
    int rows = (b.n - 1) % 2; const Sinks *all = lab_measure(t, &b, 0.3, 0.2, 0.1, rows);
    acts_free(&b.a);
    if (acts_create(&b.a, &b.m, 3, 12, ACTS_ONE, fresh(t))) exit(1);
    const Sinks *one = lab_measure(t, &b, 0.3, 0.2, 0.1, rows);
    for (idx k = 0; k < all->n_sums; k++)
      within(t, one->sums[k], all->sums[k], 0, "number %lld, %s", k, b.flags);
    fact(t, one->massive == all->massive && one->median == all->median && one->loss == all->loss,
         "largest %g, %g, loss %g, %g, %s", one->massive, all->massive, one->loss, all->loss,
         b.flags);
  }
}

/* A weight that is no number, in any tensor, ends a measurement where it is met first. */
static void sinks__not_finite(Test *t) {
  static const struct { const char *tensor; int at; const char *said; } ROWS[] = {
    {"wte", -1, "the embedding: "}, {"l0.norm1", 0, "block 1 of 2, head 1 of 2: "},
    {"l0.wq", 0, "block 1 of 2, head 1 of 2: "}, {"l0.wk", -1, "block 1 of 2, head 2 of 2: "},
    {"l1.wv", -1, "block 2 of 2, head 2 of 2: "}, {"l1.logit", 1, "block 2 of 2, head 2 of 2: "},
    {"l0.wo", 5, "block 1 of 2, after its heads: "}, {"l1.w3", 0, "block 2 of 2, after its heads"},
    {"normf", 0, "the loss: "}, {"wcls", 0, "the loss: "}};
  for (int k = 0; k < 2 * (int)(sizeof ROWS / sizeof *ROWS); k++) LABS(b, 2, 12, "--extra logit") {
      Sinks s = {0};
      const Tensor *x = model_tensor(&b.m, ROWS[k / 2].tensor);
      for (idx i = 0; i < x->count; i++)
        if (ROWS[k / 2].at < 0 ? i % x->shape[1] == x->shape[1] - 1 : i == ROWS[k / 2].at)
          b.m.params[x->at + i] = k % 2 ? (real)INFINITY : (real)NAN;
      sinks_create(&s, &b.m.c, 12, 2, (double[]){0.3}, 1, fresh(t));
      fact(t, sinks_measure(&s, &b.m, &b.a, b.ids, b.targets, 2, METRIC_REAL, &t->e) == 1 &&
           !strncmp(t->e.text, ROWS[k / 2].said, strlen(ROWS[k / 2].said)) &&
           strstr(t->e.text, "found NaN or infinity. Try: "), "%s: %s", x->name, t->e.text);
      sinks_free(&s);
    }
}

/* Three sequences measured in parts, in an Acts with room for more, give the same means. */
static void sinks__in_parts(Test *t) {
  LABS(b, 3, 12, "--extra k --window 5") {
    const Sinks *whole = lab_measure(t, &b, 0.3, 0.2, 0.1, METRIC_REAL);
    Sinks parts; Error *e = fresh(t);
    if (sinks_create(&parts, &b.m.c, 12, 2, whole->eps, 3, e)) exit(1);
    sinks_measure(&parts, &b.m, &b.a, b.ids, b.targets, 2, METRIC_REAL, e);
    sinks_measure(&parts, &b.m, &b.a, b.ids + 24, b.targets + 24, 1, METRIC_REAL, e);
    fact(t, sinks_measure(&parts, &b.m, &b.a, b.ids, b.targets, 3, METRIC_REAL, e) == 1,
         "three sequences at once, with room for two");
    sinks_finish(&parts);
    fact(t, parts.n == 3 && !b.a.probe, "%d sequences", parts.n);
    for (int i = 0; i < 4 * whole->S; i++)
      within(t, parts.alpha[i], whole->alpha[i], 1e-15, "alpha[%d]", i);
    for (int i = 0; i < 24; i++)
      within(t, parts.vnorm[i], whole->vnorm[i], 1e-14 * whole->vnorm[i], "vnorm[%d]", i);
    within(t, parts.loss, whole->loss, 1e-14 * whole->loss, "loss");
    sinks_free(&parts);
  }
}

/* -------------------------------------------------------------------------------------------------
 * The golden numbers: chapters 1 to 6 against an independent model in PyTorch, whose derivatives
 * are autograd's. data/check/golden/golden.txt has its results for a covering array of configurations;
 * data/check/golden/golden.py, which wrote it, states the format and how parameters, tokens and
 * directions follow from a configuration's number. */

#define GOLDEN "data/check/golden/golden.txt"

/* A line of n of our numbers; their scale is the largest of the twin's. */
static void golden_row(Golden *g, const char *what, int n, const real *ours) {
  double theirs[160], scale = 0;
  if (!golden_numbers(g, n, theirs)) return;
  for (int i = 0; i < n; i++) scale = larger(scale, fabs(theirs[i]));
  for (int i = 0; i < n; i++) golden_meet(g, (double)ours[i], theirs[i], scale, what);
}

/* The parameters and tokens of configuration k. */
static void golden_fill(Lab *b, uint64_t k) {
  for (int j = 0; j < b->m.n_tensors; j++) {
    const Tensor *x = &b->m.tensor[j];
    const char *leaf = x->layer < 0 ? x->name : strchr(x->name, '.') + 1;
    bool gain = !strncmp(leaf, "norm", 4) && !leaf[5];   /* norm1 .. norm4, normf */
    bool map = x->rank == 2 && (*leaf == 'w' || *leaf == 'p') && strcmp(leaf, "wte")
               && strcmp(leaf, "wpe");
    double size = map ? 2 / sqrt(x->shape[0]) : 1;
    Rng r = {hash64(k, x->name, strlen(x->name))};
    for (idx i = 0; i < x->count; i++) {
      double u = 2 * rng_uniform(&r) - 1; real w = (real)(gain ? 1 + u / 2 : u * size);
      b->m.params[x->at + i] = frozen(&b->m, x, i) ? 0 : w;
    }
  }
  Rng r = {hash64(k, "ids", 3)};
  for (int s = 0; s < b->B; s++) for (int i = 0; i <= b->T; i++) {
    int id = (int)rng_below(&r, (uint64_t)b->m.c.vocab);
    if (i < b->T) b->ids[s * b->T + i] = id;
    if (i > 0) b->targets[s * b->T + i - 1] = id;
  }
}

/* <way, x> of a tensor, way being configuration k's direction for it. */
static double golden_along(const Tensor *t, uint64_t k, const real *x) {
  char name[40];
  snprintf(name, sizeof name, "way.%s", t->name);
  Rng r = {hash64(k, name, strlen(name))};
  double sum = 0;
  for (idx i = 0; i < t->count; i++) sum += (2 * rng_uniform(&r) - 1) * (double)x[i];
  return sum;
}

/* Two logit rows, and two rows of weights and metric, from the forward that has run. */
static void golden_rows(Golden *g, Lab *b, const Probe *probe) {
  const Config *c = &b->m.c;
  int T = b->T, N = config_rows(c, T), S = config_columns(c, T); real logits[64];
  for (int n = 0; n < 2; n++) {
    int s = n, i = n ? T - 1 : T / 2;
    if (!golden_words(g, "logits %d %d :", s, i)) return;
    model_logits(&b->m, &b->a, b->a.nf + ((idx)s * N + N - T + i) * c->dim, 1, logits);
    golden_row(g, "a logit", c->vocab, logits);
  }
  for (int n = 0; n < 4; n++) {
    int l, h, s, i, used = 0; const char *name = n % 2 ? "metric" : "attn";
    if (!golden_words(g, "%s ", name)) return;
    if (sscanf(g->at, "%d %d %d %d%n", &l, &h, &s, &i, &used) != 4 || l != n / 2 || h < 0
        || h >= c->heads || s < 0 || s >= b->B || i < 0 || i >= T) {
      fail(&g->e, 1, GOLDEN ":%d: expected a layer, head, sequence and row", g->line);
      return;
    }
    g->at += used;
    const real *map = n % 2 ? probe[l].metric : probe[l].weight;
    if (!golden_words(g, " :")) return;
    golden_row(g, name, S, map + (((idx)s * c->heads + h) * N + N - T + i) * S);
  }
}

/* The steps that golden.py takes; grads [count] gets the gradient before the first. */
static void golden_steps(Lab *b, const char *decay, real *grads) {
  const Tensor *bad; bool all = !strcmp(decay, "all"), muon = !strcmp(decay, "muon");
  real *first = reals(b->m.count), *second = reals(b->m.count), *scratch = reals(1 << 12);
  for (int step = 1; step <= (muon ? 5 : 2); step++) {
    lab_gradients(b);
    if (step == 1) copy(grads, b->m.grads, b->m.count);
    double norm = gradient_norm(&b->m, &bad);
    for (int j = 0; j < b->m.n_tensors; j++) {
      const Tensor *x = &b->m.tensor[j];
      Step s = {OPTIMIZER_ADAMW, 0.01, 0.9, 0.95, 1e-3, all || x->matrix ? 0.1 : 0, step,
                norm > 1 ? 1 / (norm + 1e-6) : 1};
      real *w = b->m.params + x->at, *g = b->m.grads + x->at, *m = first + x->at;
      if (muon && muon_room(&b->m, x)) muon_step(&s, x->shape[0], x->shape[1], w, g, m, scratch);
      else optimizer_step(&s, x->count, w, g, m, second + x->at);
    }
  }
  free(first); free(second); free(scratch);
}

/* The lines "norm" to "after": gradients, and what two steps do. */
static void golden_grads(Golden *g, Lab *b, uint64_t k, const char *decay) {
  double total, one[3]; real *grads = reals(b->m.count), *moved = reals(b->m.count);
  copy(moved, b->m.params, b->m.count);
  golden_steps(b, decay, grads);
  for (idx i = 0; i < b->m.count; i++) moved[i] = (b->m.params[i] - moved[i]) / (real)0.01;
  copy(b->m.grads, grads, b->m.count);
  if (golden_words(g, "norm") && golden_numbers(g, 1, &total)) {
    const Tensor *bad;
    golden_meet(g, gradient_norm(&b->m, &bad), total, total, "the norm of all gradients");
  }
  for (int j = 0; j < b->m.n_tensors; j++) {
    int left = 0; char name[32] = "";
    sscanf(g->at, "grad %31[a-z0-9.]%n", name, &left);
    const Tensor *x = model_tensor(&b->m, name);
    if (!x || !golden_words(g, "grad %s", name) || !golden_numbers(g, 3, one)) {
      if (!g->e.status)
        fail(&g->e, 1, GOLDEN ":%d: expected a gradient of this, found \"%s\"", g->line, name);
      break;
    }
    double square = 0, scale = one[0] + 1e-3 * total;
    for (idx i = 0; i < x->count; i++)
      square += (double)grads[x->at + i] * (double)grads[x->at + i];
    golden_meet(g, sqrt(square), one[0], scale, name);
    golden_meet(g, golden_along(x, k, grads + x->at), one[1], scale, name);
    golden_meet(g, golden_along(x, k, moved + x->at), one[2], 1 + fabs(one[2]), name);
  }
  if (golden_words(g, "after") && golden_numbers(g, 1, one))
    golden_meet(g, lab_loss(b), one[0], fabs(one[0]), "the loss after the steps");
  free(grads); free(moved);
}

/* One configuration: the lines from g->at on, to the loss after the steps. */
static void golden_config(Golden *g, Test *t) {
  int k = -1, B = 0, T = 0, used = 0; char decay[16] = "", flags[1024]; size_t rest;
  if (sscanf(g->at, "config %d %d %d %15[a-z] %n", &k, &B, &T, decay, &used) != 4 || k < 0
      || B != 2 || T < 2 || T > 80 || (rest = strcspn(g->at + used, "\n")) >= sizeof flags) {
    fail(&g->e, 1, GOLDEN ":%d: expected \"config K 2 T DECAY flags\", found \"%.40s\"",
         g->line, g->at);
    return;
  }
  snprintf(flags, sizeof flags, "%.*s", (int)rest, g->at + used);
  g->at += used + (int)rest + 1;
  g->line++;
  LABS(b, B, T, flags) {
    golden_fill(&b, (uint64_t)k);
    lab_maps(&b);
    double loss = lab_loss(&b), theirs;
    b.a.probe = NULL;
    if (golden_words(g, "loss") && golden_numbers(g, 1, &theirs))
      golden_meet(g, loss, theirs, fabs(theirs), "the loss");
    golden_rows(g, &b, b.probe);
    if (!g->e.status) golden_grads(g, &b, (uint64_t)k, decay);
  }
  if (t->e.status) fail(&g->e, 1, "%s", t->e.text);
}

/* In double the file's 12 digits leave 5e-12. In float the parameters are rounded as well, and some
 * rows of scores divide by a small sum: 7e-4 was the most. */
static double golden_bound(void) { return REAL_EPS < 1e-10 ? 2e-11 : 2e-3; }

/* [E1] to [E8], [E29], [E43], [T4], [T11], [T12], [T13], [T15]: every pair of rows of two axes. */
static void golden__against_twin(Test *t) {
  Bytes *text = bytes_of(t); int configs, n = 0;
  Golden g = {.path = GOLDEN, .bound = golden_bound(), .line = 1};
  bool there = !golden_read(GOLDEN, text, &configs, &g.e);
  for (g.at = (const char *)text->at; there && n < configs && !g.e.status; n++)
    golden_config(&g, t);
  fact(t, there && golden_words(&g, "end "), "%s", g.e.text);
  fact(t, n >= 60, "%d configurations", n);
  fact(t, g.numbers > 0 && !g.changed, "%d of %ld: %s", g.changed, g.numbers, g.first);
  within(t, g.worst, 0, g.bound, "%s", g.what);
  note(t, "%d configurations, %ld numbers", n, g.numbers);
}

/* The comparison sees what it is for: each number of one configuration in turn gets another first
 * digit, and each time the comparison fails. In float a small number of a row may hide. */
static void golden__sees_a_digit(Test *t) {
  Bytes *text = bytes_of(t); int configs, tried = 0, seen = 0;
  fact(t, !golden_read(GOLDEN, text, &configs, fresh(t)), "%s", t->e.text);
  char *from = (char *)text->at, *end = from ? strstr(from, "\nconfig 1 ") : NULL;
  if (!end) { fact(t, false, "no second configuration"); return; }
  end[1] = 0;
  const Golden start = {.path = GOLDEN, .at = from, .line = 1, .bound = golden_bound()};
  Golden whole = start;
  golden_config(&whole, t);
  fact(t, !whole.e.status && !whole.changed && !*whole.at, "%s%s", whole.e.text, whole.first);
  for (char *p = strchr(from, '\n'); *p; p++) {
    if ((*p != ' ' && *p != '-') || !strchr("0123456789", p[1])) continue;
    char *digit = p + 1;
    while (*digit == '0' || *digit == '.') digit++;      /* the first that is not 0 */
    if (!strchr("123456789", *digit) || !*digit) digit = p + 1;
    char was = *digit;
    *digit = (char)(was == '9' ? '8' : was + 1);
    Golden g = start;
    golden_config(&g, t);
    tried++;
    seen += g.changed > 0 || g.e.status;
    fact(t, REAL_EPS > 1e-10 || g.changed > 0 || g.e.status, "not %c in %.28s", was, digit);
    *digit = was;
  }
  fact(t, tried > 100 && seen > tried * 9 / 10, "%d of %d changed digits were seen", seen, tried);
  note(t, "%d of %d changed digits were seen", seen, tried);
}

/* A file that is not there, is cut short, or has one other byte, is refused with one line. */
static void golden_read__damage(Test *t) {
  static const char DAMAGED[] = "out/test-golden.txt";
  Bytes *text = bytes_of(t), *again = bytes_of(t);
  int configs; Rng r = {3};
  fact(t, golden_read("data/check/golden/none.txt", again, &configs, fresh(t)) == 1
          && strstr(t->e.text, "data/check/golden/none.txt"), "no file: %s", t->e.text);
  fact(t, !golden_read(GOLDEN, text, &configs, fresh(t)), "%s", t->e.text);
  for (int n = 0; n < 40 && text->size > 100; n++) {
    bool cut = n % 2;
    size_t size = text->size - 1, at = n < 2 ? size - 1 : rng_below(&r, size);
    unsigned char was = text->at[at];
    text->at[at] = was == '7' ? '8' : '7';
    fact(t, !file_write(DAMAGED, text->at, cut ? at : size, fresh(t)), "%s", t->e.text);
    text->at[at] = was;
    int status = golden_read(DAMAGED, again, &configs, fresh(t));
    fact(t, status == 1 && strstr(t->e.text, "expected") && strstr(t->e.text, "Try: "),
         "%s byte %zu: status %d, %s", cut ? "cut at" : "another", at, status, t->e.text);
  }
  remove(DAMAGED);
}

/* =================================================================================================
 * 7  The propositions, executable */

/* Every similarity, kernel, normaliser, extra column and gate stands in a row of STATE_ROWS. */
static void checks__every_row(Test *t) {
  static const char *const NAMES[] = {"sim", "kernel", "normalizer", "extra", "gate"};
  EACH(i, NAMES) {
    char word[VALUE_ROOM], flag[2 * VALUE_ROOM];
    const Option *o = option_find(NAMES[i], MODEL);
    for (int row = 1; *option_word(o, row, word); row++) {
      bool found = false;
      snprintf(flag, sizeof flag, "--%s %s ", o->flag, word);
      for (const StateRow *r = STATE_ROWS; r < STATE_ROWS + N_STATE_ROWS; r++) {
        char flags[120];
        snprintf(flags, sizeof flags, "%s ", r->flags ? r->flags : "");
        found |= strstr(flags, flag) != NULL;
      }
      fact(t, found, "%sis in no row of STATE_ROWS", flag);
    }
  }
}

/* What is not finite is WRONG where there is a bound, in a control too; nor has it moved. */
static void checks__not_finite(Test *t) {
  const double ODD[] = {NAN, INFINITY, -INFINITY};
  const real x[] = {1, 2, (real)NAN, 4}, y[] = {1, 3, 3, (real)INFINITY};
  Page p = {.out = tmpfile(), .e = fresh(t)};
  if (!p.out) exit(1);
  for (int i = 0; i < 3 * SAYS; i++) {
    page_line(&p, &(Line){"x", "y", "", NULL, 0, i / 3, 1}, ODD[i % 3]);
    fact(t, p.count[FINDING_WRONG] == i + 1, "relation %d takes %g", i / 3, ODD[i % 3]);
  }
  for (int i = 0; i < 4; i++) {
    const double is = differing(1, x + i, y + i), back = differing(1, y + i, x + i);
    fact(t, i < 2 ? is == i && back == i : isnan(is) && isnan(back), "number %d: %g", i, is);
  }
  fclose(p.out);
}

/* [E10] [P1] [P2] [P3] [P4] [E32] [E44] The statements of ./sink; data/check/test_paper.c has all. A
 * name that no check has is a usage error. */
static void checks__hold(Test *t) {
  checks_hold(t, &SINK, 181, 248);
  fact(t, checks_run(&SINK, "prop9", stdout, fresh(t)) == 2
          && strstr(t->e.text, "sink check prop1"), "%s", t->e.text);
}

static const TestEntry TESTS[] = {
  RUNS(frame__verdicts), RUNS(frame__axes), RUNS(config__defaults), RUNS(config_resolve__fills),
  RUNS(config_resolve__refuses), RUNS(config_resolve__near_misses), RUNS(variants__resolve),
  RUNS(variants__table_15), RUNS(config_learned_dim__orders), RUNS(config_columns__by_variant),
  RUNS(config_attends__periods), RUNS(config_trains__refuses), RUNS(model_create__counts),
  RUNS(model_create__table), RUNS(model_create__layout), RUNS(model_create__biases),
  RUNS(model_create__published_counts), RUNS(model_init__laws), RUNS(model_init__streams),
  RUNS(embed_forward__edited), RUNS(embed_forward__absolute), RUNS(norm_forward__by_hand),
  RUNS(norm_forward__invariances), RUNS(linear__with_biases), RUNS(rotate__relative),
  RUNS(rotate__pairings), RUNS(distance_bias__tables), RUNS(activate__formulas),
  RUNS(kernel_forward__formulas), RUNS(row__every_operation), RUNS(row_forward__extremes),
  RUNS(row_forward__tiny_sigmoids), RUNS(row_forward__pnorm_traps),
  RUNS(row_forward__clamp_branches), RUNS(row_forward__nan), RUNS(visible__pictures),
  RUNS(attention__against_slow), RUNS(attention__logit), RUNS(attention__equivalences),
  RUNS(attention__ablations), RUNS(attention__ablations_inert), RUNS(sink_token__is_a_row),
  RUNS(model_forward__against_slow), RUNS(published__families), RUNS(tiles__as_plain),
  RUNS(tiles__sinks_plain), RUNS(model_forward__causal), RUNS(model_forward__batches),
  RUNS(acts__stay_within), RUNS(model_forward__one_layer), RUNS(model_extend__as_whole),
  RUNS(gradients__every_pair), RUNS(gradients__every_operation), RUNS(gradients__tiles),
  RUNS(gradients__wide), RUNS(gradients__at_zero), RUNS(gradients__t5_again),
  RUNS(gradients__accumulate), RUNS(gradients__of_a_batch), RUNS(gradients__frozen_dims),
  RUNS(threads__same_bits), RUNS(train__learns_by_heart), RUNS(model_loss__direct),
  RUNS(model_loss__prefix), RUNS(model_loss__slices), RUNS(model_loss__extremes),
  RUNS(optimizer_step__by_hand), RUNS(optimizer_step__against_scalar), RUNS(schedule_lr__values),
  RUNS(gradient_norm__names_the_bad), RUNS(model_backward__nan_is_seen), RUNS(sink_alpha__by_hand),
  RUNS(sink_alpha__star_columns), RUNS(sink_uniform__values), RUNS(sinks__threshold_is_strict),
  RUNS(sinks__threshold_per_sequence), RUNS(sinks__entropy_and_mass), RUNS(norm_ratio__by_hand),
  RUNS(sinks__against_slow), RUNS(sinks__one_layer), RUNS(sinks__not_finite), RUNS(sinks__in_parts),
  RUNS(golden__against_twin), RUNS(golden__sees_a_digit), RUNS(golden_read__damage),
  RUNS(checks__every_row), RUNS(checks__not_finite), RUNS(checks__hold)};

int main(int argc, char **argv) {
  return tests_run(TESTS, sizeof TESTS / sizeof *TESTS, argc, argv);
}
