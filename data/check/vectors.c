/* vectors.c - attention with a sink, by its vectors: inputs and exact answers
 * for those who write attention kernels (data/check/vectors/README.md).
 *
 *     cc -O3 data/check/vectors.c -o vectors -lm && ./vectors --out out/vectors
 *     ./vectors check     the answers, held to one another, and nothing written
 *
 * SPDX-License-Identifier: MIT
 *
 * Each case is a folder: q, k, v, do and what else its operator reads; o, lse
 * and all gradients, float64 .npy; case.json. The numbers are those of sink.c's
 * own attention (3.7), in double. The plain loop of chapter 3 stands in where a
 * decoder has no such mask, and is held to sink.c wherever both apply.
 *
 * Contents   1 Operators and cases   2 Inputs   3 The answer by the plain loop
 *            4 How far off a right kernel may be   5 The answer by sink.c
 *            6 Closed forms   7 Differences   8 Files   9 The program
 */
#ifndef SINK_DOUBLE
#define SINK_DOUBLE
#endif
#define SINK_NO_MAIN
#include "../paper/options.h"
#include "../later/later.h"
#include "../../sink.c"
#include "../later/later.c"

/* ==========
 * 1  Operators and cases
 *
 * B sequences, H query heads on K key heads, T queries, S keys, D dims. Query i
 * stands at position i + offset, key j at position j, both from 0. */

enum {
  IN_Q, IN_K, IN_V, IN_DO, IN_DLSE, IN_SINK, IN_KSTAR, IN_VSTAR, IN_GATE,
  FIRST_OUT,
  OUT_O = FIRST_OUT, OUT_LSE, OUT_LSE_KEYS, OUT_DQ, OUT_DK, OUT_DV, OUT_DSINK,
  OUT_DKSTAR, OUT_DVSTAR, OUT_DGATE,
  ARRAYS
};

/* An axis a letter; k: K. */
static const struct { const char *name, *shape; } ARRAY[ARRAYS] = {
  {"q", "bhtd"}, {"k", "bksd"}, {"v", "bksd"}, {"do", "bhtd"}, {"dlse", "bht"},
  {"sink", "h"}, {"kstar", "hd"}, {"vstar", "hd"}, {"gate", "bht"},
  {"o", "bhtd"}, {"lse", "bht"}, {"lse_keys", "bht"}, {"dq", "bhtd"},
  {"dk", "bksd"}, {"dv", "bksd"}, {"dsink", "h"}, {"dkstar", "hd"},
  {"dvstar", "hd"}, {"dgate", "bht"}};

typedef struct Operator {
  const char *name, *flags;      /* of sink.c's decoder */
  const char *inputs;            /* besides q, k, v, do */
  bool sums;                     /* softmax: it has a log-sum-exp */
  bool shares;                   /* H = 2 K, else H = K */
  int window, prefix, tokens;    /* 0: none */
  const char *formula;
} Operator;

enum { LEARNED_DIMS = 4 };
#define SOFTMAX "o = sum_j a_j v_j, a_j = e^z_j / Z, Z = sum_j e^z_j"
#define LOGIT "softmax with e^sink[h] in Z: the sink has no value and no scale"
static const Operator OPERATORS[] = {
  {"softmax", "", "", true, false, 0, 0, 0, SOFTMAX},
  {"logit", "--extra logit", " sink ", true, false, 0, 0, 0, LOGIT},
  {"zero", "--extra zero", "", true, false, 0, 0, 0, "softmax with 1 in Z"},
  {"null-key", "--extra k", " kstar ", true, false, 0, 0, 0,
   "a key kstar[h], seen by all; its value is 0"},
  {"kv-bias", "--extra kv", " kstar vstar ", true, false, 0, 0, 0,
   "a key kstar[h] with the value vstar[h], seen by all"},
  {"kv-bias-dims", "--extra kv --extra-dims 4", " kstar vstar ", true, false,
   0, 0, 0, "kv-bias; kstar is 0, and stays so, but for its first 4 dims"},
  {"sigmoid", "--sim sigmoid --normalizer one", "", false, false, 0, 0, 0,
   "a_j = 1 / (1 + e^-z_j), no Z"},
  {"clamp", "--sim identity --normalizer clamp", "", false, false, 0, 0, 0,
   "a_j = z_j / max(|sum_j z_j|, 1)"},
  {"softpick", "--sim softpick", "", false, false, 0, 0, 0,
   "a_j = max(u_j, 0) / (sum_j |u_j| + 1e-8), u_j = e^(z_j-m) - e^-m, "
   "m = max(0, max_j z_j)"},
  {"gate", "--gate head", " gate ", true, false, 0, 0, 0,
   "softmax, then o_i / (1 + e^-gate[b,h,i])"},
  {"soft-cap", "--extra logit --soft-cap 2", " sink ", true, false, 0, 0, 0,
   "logit; z <- 2 tanh(z / 2), the sink is not capped"},
  {"window", "--extra logit", " sink ", true, false, 4, 0, 0,
   LOGIT ", in a window"},
  {"grouped", "--extra logit", " sink ", true, true, 0, 0, 0,
   LOGIT "; query head h reads key head floor(h K / H)"},
  {"alibi", "--extra logit --pos alibi", " sink ", true, false, 0, 0, 0,
   LOGIT "; z -= slopes[h] (i + offset - j)"},
  {"prefix", "--extra logit", " sink ", true, false, 0, 3, 0,
   LOGIT "; every row sees the prefix"},
  {"sink-token", "", "", true, false, 4, 0, 1,
   "softmax in a window that never forgets key 0"},
  {"sink-tokens", "", "", true, false, 4, 0, 3,
   "softmax in a window that never forgets keys 0, 1, 2"}};
enum { COUNT_OPERATORS = sizeof OPERATORS / sizeof *OPERATORS };

/* What is hard, and for which operators ("": all). x is the case's number. */
typedef struct Hard {
  const char *name, *operators, *about;
  int B, H, T, S;
  double x;
} Hard;

#define WITH_KEYS_LESS " softmax logit zero null-key kv-bias sigmoid clamp " \
  "softpick gate soft-cap grouped "
static const Hard HARDS[] = {
  {"square", "", "as many queries as keys, two sequences", 2, 4, 11, 11, 0},
  {"one-key", "", "one key: its weight is 1 without a sink", 1, 4, 1, 1, 0},
  {"equal", "", "all keys of a head are equal", 1, 4, 6, 6, 0},
  {"decode", "", "one query against a cache", 2, 4, 1, 17, 0},
  {"tail", "", "queries at the end of a longer cache", 1, 4, 4, 15, 0},
  {"no-keys", WITH_KEYS_LESS, "not causal; sequence 0 has no key, "
   "sequence 1 has 3 of 5: lengths", 2, 4, 3, 5, 0},
  {"early", " softmax logit zero null-key kv-bias grouped ",
   "more queries than keys: the first two see none", 1, 4, 6, 4, 0},
  {"sink-minus-inf", " logit ", "a sink that is not there", 1, 4, 6, 6,
   -INFINITY},
  {"sink-minus-20", " logit ", "a sink of weight 1e-9", 1, 4, 6, 6, -20},
  {"sink-0", " logit ", "equal to zero-square's operator", 1, 4, 6, 6, 0},
  {"sink-20", " logit ", "a sink of nearly all weight", 1, 4, 6, 6, 20},
  {"sink-100", " logit ", "e^100 is no float", 1, 4, 6, 6, 100},
  {"sink-1e4", " logit ", "e^9984 is no double: o and gradients are 0",
   1, 4, 6, 6, 9984},
  {"sinks-mixed", " logit grouped soft-cap ",
   "heads with sinks of -inf, -20, 2 and 100", 1, 4, 6, 6, 0},
  {"scores-1e4", " softmax logit zero null-key kv-bias grouped ",
   "scores of 9984, 0 and -9984 with ties", 1, 4, 6, 6, 9984},
  {"scores-minus-1e5", " softmax logit gate soft-cap softpick ",
   "all scores are -98304: below many a stand-in for -inf", 1, 4, 5, 5,
   -98304},
  {"scores-near", " softmax logit ", "scores 9984 + what they are elsewhere",
   1, 4, 6, 6, 9984},
  {"scale", " softmax logit kv-bias ", "scale is not 1/sqrt(D)", 1, 4, 6, 6, 0},
  {"full", " softmax logit ", "not causal", 1, 4, 6, 6, 0},
  {"dlse", " softmax logit kv-bias ", "the loss reads lse, too", 1, 4, 6, 6, 0},
  {"long", " logit window ", "beyond tiles of 64 and 128", 1, 2, 130, 130, 0},
  {"many-keys", " grouped ", "one query, 300 keys: kernels that split them",
   1, 4, 1, 300, 0},
  {"halves", " logit ", "softmax-first and softmax-second, merged by lse",
   1, 4, 12, 16, 0},
  {"first", " softmax ", "keys 0 .. 7 of logit-halves", 1, 4, 12, 8, 0},
  {"second", " softmax ", "keys 8 .. 15: queries 0 .. 3 see none",
   1, 4, 12, 8, 0},
  {"by-hand", " logit soft-cap ", "one key, dim 0 alone", 1, 2, 1, 1, 0},
  {"by-hand", " clamp softpick ", "two keys, dim 0 alone", 1, 2, 1, 2, 0},
  {"no-scores", " alibi ", "q = 0: the bias alone", 1, 4, 6, 6, -INFINITY}};
enum { COUNT_HARDS = sizeof HARDS / sizeof *HARDS };

typedef struct Case {
  const Operator *op;
  const Hard *hard;
  char name[48], closed[400];    /* its closed form; "" */
  int B, H, K, T, S, D, offset, window, prefix, tokens;
  int length[2];                 /* keys of each sequence */
  bool causal, has_lengths, narrow;   /* narrow: no 16-bit type */
  bool of_sink;                  /* sink.c's attention gave the answer */
  double root, cap;              /* scale; X of the soft-cap, or 0 */
  Model m;
  real *at[ARRAYS];              /* NULL: it has none */
  real *loop[ARRAYS];            /* the same by the loop, OUT_ alone */
  real *unit[ARRAYS], *cond[ARRAYS];   /* chapter 4 */
  double reach[ARRAYS];
} Case;

static bool is_hard(const Case *c, const char *name) {
  return !strcmp(c->hard->name, name);
}

/* May query i of sequence b see key j? */
static bool sees(const Case *c, idx b, idx i, idx j) {
  idx at = i + c->offset;
  bool before = j <= at || !c->causal;
  if (j >= c->length[b])
    return false;
  return (before && (!c->window || j > at - c->window)) || j < c->prefix
         || (j <= at && j < c->tokens);
}

static idx axis_length(const Case *c, char axis) {
  switch (axis) {
  case 'b':
    return c->B;
  case 'h':
    return c->H;
  case 'k':
    return c->K;
  case 't':
    return c->T;
  case 's':
    return c->S;
  default:
    return c->D;
  }
}

static idx array_size(const Case *c, int array) {
  idx n = 1;
  for (const char *axis = ARRAY[array].shape; *axis; axis++)
    n *= axis_length(c, *axis);
  return n;
}

/* Has the case this array? A gradient goes with its input. */
static bool case_has(const Case *c, int array) {
  const char *name = ARRAY[array].name;
  if (array <= IN_DO || array == OUT_O || (array >= OUT_DQ && array <= OUT_DV))
    return true;
  if (array == IN_DLSE)
    return is_hard(c, "dlse");
  if (array == OUT_LSE || array == OUT_LSE_KEYS)
    return c->op->sums;
  return has_word(c->op->inputs, array > FIRST_OUT ? name + 1 : name);
}

/* Rows of q and o, of k and v, and of a number a query. */
static idx query_row(const Case *c, idx b, idx h, idx i) {
  return ((b * c->H + h) * c->T + i) * c->D;
}
static idx key_row(const Case *c, idx b, idx h, idx j) {
  return ((b * c->K + h / (c->H / c->K)) * c->S + j) * c->D;
}
static idx query_at(const Case *c, idx b, idx h, idx i) {
  return (b * c->H + h) * c->T + i;
}

/* ==========
 * 2  Inputs
 *
 * Every number drawn is n/16 with |n| <= 63, so bfloat16 and half hold it: one
 * answer serves kernels of every type. Its deviation is 1.34, that of a score
 * about 1.8. No logarithm or cosine is in it: every machine draws alike. */
static void draw(Rng *r, real *x, idx n) {
  for (idx i = 0; i < n; i++) {
    int sum = 0;
    for (int k = 0; k < 3; k++)
      sum += (int)rng_below(r, 43) - 21;
    x[i] = (real)sum / 16;
  }
}

/* All keys of a head become its first. */
static void keys_equal(Case *c) {
  real *k = c->at[IN_K];
  idx row = c->S * c->D;
  for (idx bk = 0; bk < c->B * c->K; bk++)
    for (idx j = 1; j < c->S; j++)
      copy(k + bk * row + j * c->D, k + bk * row, c->D);
}

/* Scores x, 0, -x, .. by key, or x for all: from dim 0 alone, by the factors
 * 64 and x / (64 scale), which are exact in 16 bits. */
static void scores_of(Case *c, double x, bool alike) {
  zero(c->at[IN_Q], array_size(c, IN_Q));
  zero(c->at[IN_K], array_size(c, IN_K));
  c->root = 0.25;
  for (idx n = 0; n < array_size(c, IN_Q); n += c->D)
    c->at[IN_Q][n] = 64;
  for (idx n = 0; n < array_size(c, IN_K); n += c->D) {
    idx j = n / c->D % c->S;
    c->at[IN_K][n] = (real)(x / 16) * (real)(alike ? 1 : 1 - j % 3);
  }
}

/* Scores are x higher than drawn: dims 0 .. 3 give up their draw. */
static void scores_higher(Case *c, double x) {
  for (idx n = 0; n < array_size(c, IN_Q); n++)
    if (n % c->D < 4)
      c->at[IN_Q][n] = 64;
  for (idx n = 0; n < array_size(c, IN_K); n++)
    if (n % c->D < 4)
      c->at[IN_K][n] = (real)(x / (256 * c->root));
}

/* A key of score z0 and value v0 in dim 0, and a second one of z1 and v1 where
 * there is one; q = do = 1 there. */
static void keys_by_hand(Case *c, double z0, double z1, double v0, double v1) {
  for (int array = IN_Q; array <= IN_DO; array++)
    zero(c->at[array], array_size(c, array));
  c->root = 1;
  for (idx h = 0; h < c->H; h++) {
    idx row = key_row(c, 0, h, 0);
    c->at[IN_Q][query_row(c, 0, h, 0)] = 1;
    c->at[IN_DO][query_row(c, 0, h, 0)] = 1;
    c->at[IN_K][row] = (real)z0;
    c->at[IN_V][row] = (real)v0;
    if (c->S < 2)
      continue;
    c->at[IN_K][row + c->D] = (real)z1;
    c->at[IN_V][row + c->D] = (real)v1;
  }
  if (c->at[IN_SINK])
    zero(c->at[IN_SINK], c->H);
}

static void by_hand(Case *c) {
  if (!strcmp(c->op->name, "logit"))
    keys_by_hand(c, 1, 0, 2, 0);
  if (!strcmp(c->op->name, "soft-cap"))
    keys_by_hand(c, 3, 0, 2, 0);
  if (!strcmp(c->op->name, "clamp"))
    keys_by_hand(c, 2, -4, 1, -1);
  if (!strcmp(c->op->name, "softpick"))
    keys_by_hand(c, 1, -1, 1, -1);
}

/* Sinks of a case: all x, or a different one a head. */
static void set_sinks(Case *c) {
  static const real MIXED[] = {-INFINITY, -20, 2, 100};
  bool mixed = is_hard(c, "sinks-mixed");
  bool alike = !strncmp(c->hard->name, "sink-", 5) || is_hard(c, "no-scores");
  for (idx h = 0; alike && h < c->H; h++)
    c->at[IN_SINK][h] = (real)c->hard->x;
  for (idx h = 0; mixed && h < c->H; h++)
    c->at[IN_SINK][h] = MIXED[h % 4];
  for (idx h = 0; is_hard(c, "many-keys") && h < c->H; h++)
    c->at[IN_SINK][h] = (real)(4 + h);   /* 300 equal keys weigh e^5.7 */
}

/* Keys and values `from` and on of the case that is cut in halves. */
static int cut_from_whole(Case *c, uint64_t seed, Error *e);

static void case_edit(Case *c) {
  double x = c->hard->x;
  if (is_hard(c, "equal"))
    keys_equal(c);
  if (is_hard(c, "scale"))
    c->root = 0.375;
  if (is_hard(c, "full") || is_hard(c, "no-keys"))
    c->causal = false;
  if (is_hard(c, "no-keys")) {
    c->has_lengths = true;
    c->length[0] = 0;
    c->length[1] = 3;
  }
  if (is_hard(c, "scores-1e4") || is_hard(c, "scores-minus-1e5"))
    scores_of(c, x, x < 0);
  if (is_hard(c, "scores-near"))
    scores_higher(c, x);
  c->narrow = is_hard(c, "scores-near");
  if (is_hard(c, "long") && c->window)
    c->window = 64;
  if (is_hard(c, "by-hand"))
    by_hand(c);
  if (is_hard(c, "no-scores"))
    zero(c->at[IN_Q], array_size(c, IN_Q));
  if (c->at[IN_SINK])
    set_sinks(c);
  for (idx n = 0; !strcmp(c->op->name, "kv-bias-dims") && n < c->H * c->D; n++)
    if (n % c->D >= LEARNED_DIMS)
      c->at[IN_KSTAR][n] = 0;
}

static void case_close(Case *c) {
  for (int array = 0; array < ARRAYS; array++) {
    free(c->at[array]);
    free(c->loop[array]);
    free(c->unit[array]);
    free(c->cond[array]);
  }
  model_free(&c->m);
  *c = (Case){0};
}

/* The model of sink.c whose head this is. A decoder without a mask of its own
 * is causal; a prefix of all keys makes it see everything. */
static int case_model(Case *c, Error *e) {
  char flags[512];
  int prefix = c->causal ? c->prefix + c->tokens : c->S;
  Config config;
  int n = snprintf(flags, sizeof flags, "--layers 1 --heads %d --kv-heads %d "
                   "--head-dim %d --dim %d --ffn 1 --vocab 4 --context %d "
                   "--pos none ", c->H, c->K, c->D, c->H * c->D, c->S);
  if (prefix > 0)
    n += snprintf(flags + n, 40, "--prefix %d ", (int)at_most(prefix, c->S));
  if (c->window)
    n += snprintf(flags + n, 40, "--window %d ", c->window);
  snprintf(flags + n, sizeof flags - (size_t)n, "%s", c->op->flags);
  if (config_from_flags(&config, flags, e) || model_create(&c->m, &config, true, e))
    return e->status;
  c->m.layer[0].root = (real)c->root;
  c->cap = c->m.c.soft_cap > 0 ? c->m.c.soft_cap : 0;
  return 0;
}

/* A case with its inputs, and room for the rest. */
static int case_open(Case *c, const Operator *op, const Hard *hard, int D,
                     uint64_t seed, Error *e) {
  *c = (Case){.op = op, .hard = hard, .B = hard->B, .H = hard->H, .K = hard->H,
              .T = hard->T, .S = hard->S, .D = D, .offset = hard->S - hard->T,
              .window = op->window, .prefix = op->prefix, .tokens = op->tokens,
              .length = {hard->S, hard->S}, .causal = true,
              .root = 1 / sqrt((double)D)};
  snprintf(c->name, sizeof c->name, "%s-%s", op->name, hard->name);
  if (op->shares)
    c->K = c->H / 2;
  if (is_hard(c, "first"))
    c->offset = 4;
  Rng rng = {hash64(seed, c->name, strlen(c->name))};
  for (int array = 0; array < ARRAYS; array++) {
    idx n = array_size(c, array);
    if (!case_has(c, array))
      continue;
    c->at[array] = grab(n, sizeof(real), e);
    c->unit[array] = grab(n, sizeof(real), e);
    c->cond[array] = grab(n, sizeof(real), e);
    if (array >= FIRST_OUT)
      c->loop[array] = grab(n, sizeof(real), e);
    if (array < FIRST_OUT && !e->status)
      draw(&rng, c->at[array], n);
  }
  if (!e->status)
    case_edit(c);
  if (!e->status && (is_hard(c, "first") || is_hard(c, "second")))
    cut_from_whole(c, seed, e);
  if (!e->status)
    case_model(c, e);
  if (e->status)
    case_close(c);
  return e->status;
}

static const Operator *operator_of(const char *name) {
  for (int i = 0; i < COUNT_OPERATORS; i++)
    if (!strcmp(OPERATORS[i].name, name))
      return &OPERATORS[i];
  return NULL;
}
static const Hard *hard_of(const char *name) {
  for (int i = 0; i < COUNT_HARDS; i++)
    if (!strcmp(HARDS[i].name, name))
      return &HARDS[i];
  return NULL;
}

static int cut_from_whole(Case *c, uint64_t seed, Error *e) {
  Case whole;
  idx from = is_hard(c, "second") ? c->S : 0;
  if (case_open(&whole, operator_of("logit"), hard_of("halves"), c->D, seed, e))
    return e->status;
  copy(c->at[IN_Q], whole.at[IN_Q], array_size(c, IN_Q));
  copy(c->at[IN_DO], whole.at[IN_DO], array_size(c, IN_DO));
  for (idx b = 0; b < c->B; b++)
    for (idx h = 0; h < c->H; h++)
      for (int array = IN_K; array <= IN_V; array++)
        copy(c->at[array] + key_row(c, b, h, 0),
             whole.at[array] + key_row(&whole, b, h, from), c->S * c->D);
  case_close(&whole);
  return 0;
}

/* ==========
 * 3  The answer by the plain loop
 *
 * One row after another, as in sink.c 3.7, but for any mask, and for a loss
 * that reads lse too. The weights of a row are sink.c's (3.6), a = s/Z.
 *
 *   z_j  = scale <q, k_j> + bias, capped; -infinity where unseen; z_* the sink
 *   o    = g sum_j a_j v_j              g = 1, or 1 / (1 + e^-gate)
 *   lse  = log sum_j e^z_j, over * too  lse_keys without *
 *
 * BACKWARD, with L the loss, do = dL/do and dlse = dL/dlse:
 *
 *   da_j  = g <do, v_j>                 dv_j = g a_j do
 *   delta = sum_j a_j da_j - dlse       for dlse/dz_j = a_j = dlogz_j:
 *   dz_j  = (s'_j / Z) da_j - dlogz_j delta
 *   dq    = scale sum_j dz_j k_j        dk_j = scale dz_j q
 *   dsink = dz_*, summed over rows      dgate = (1 - g) sum_j a_j da_j
 *
 * A row that sees nothing, not even a sink, has o = 0 and lse = -infinity, and
 * no gradient comes from it. A row that sees its sink alone has o = a_* v*. */

typedef struct Row {
  idx b, h, i, n;                /* n: S + 1 */
  real g;
  real *z, *a, *deriv, *dlogz;   /* [n] 3.6; column 0 is * */
  real *da, *dz, *slope;         /* [n] slope: of the cap */
  real *size, *weight;           /* [n] sum |q_d k_d| scale and |bias|; ea */
  const real *q, *dout;          /* [D] */
} Row;

static const real *key_of(const Case *c, const Row *r, idx n, int what) {
  int star = what == IN_K ? IN_KSTAR : IN_VSTAR;
  if (n > 0)
    return c->at[what] + key_row(c, r->b, r->h, n - 1);
  return c->at[star] ? c->at[star] + r->h * c->D : NULL;
}

/* <q, k_j> scale, and the sum of the absolute products. */
static real score_of(const Case *c, const Row *r, const real *key, real *size) {
  real z = 0;
  *size = 0;
  for (idx d = 0; d < c->D; d++) {
    z += r->q[d] * key[d];
    *size += real_abs(r->q[d] * key[d]);
  }
  *size *= (real)c->root;
  return z * (real)c->root;
}

/* z, slope and size of row r. */
static void loop_scores(const Case *c, Row *r) {
  const real *star = key_of(c, r, 0, IN_K);
  r->size[0] = 0;
  r->slope[0] = 1;
  r->z[0] = c->m.c.extra == EXTRA_NONE ? -INFINITY : 0;
  if (star)
    r->z[0] = score_of(c, r, star, &r->size[0]);
  if (c->at[IN_SINK]) {
    r->z[0] = c->at[IN_SINK][r->h];
    r->size[0] = r->z[0] == -INFINITY ? 0 : real_abs(r->z[0]);
  }
  for (idx j = 0; j < c->S; j++) {
    real *z = &r->z[1 + j];
    r->slope[1 + j] = 1;
    r->size[1 + j] = 0;
    *z = -INFINITY;
    if (!sees(c, r->b, r->i, j))
      continue;
    *z = score_of(c, r, key_of(c, r, 1 + j, IN_K), &r->size[1 + j]);
    if (c->m.c.pos == POS_ALIBI) {
      idx far = r->i + c->offset - j;
      real slope = (real)pow(2, -8.0 * (double)(r->h + 1) / c->H);
      *z -= slope * (real)(far > 0 ? far : 0);
      r->size[1 + j] += slope * (real)c->S;
    }
    if (c->cap > 0) {
      real y = (real)(c->cap * tanh((double)*z / c->cap));
      r->slope[1 + j] = 1 - (real)(y / c->cap) * (real)(y / c->cap);
      *z = y;
    }
  }
}

/* o, lse and lse_keys; false where row r sees nothing. */
static bool loop_forward(Case *c, Row *r, real **to) {
  real *o = to[OUT_O] + query_row(c, r->b, r->h, r->i);
  idx at = query_at(c, r->b, r->h, r->i), n = r->n;
  real keys = vec_max(n - 1, r->z + 1), top = vec_max(n, r->z), sum = 0;
  zero(o, c->D);
  for (idx j = 1; keys > -INFINITY && j < n; j++)
    sum += real_exp(r->z[j] - keys);
  if (to[OUT_LSE]) {
    to[OUT_LSE_KEYS][at] = sum > 0 ? keys + real_log(sum) : -INFINITY;
    to[OUT_LSE][at] = -INFINITY;
  }
  if (!(top > -INFINITY))
    return false;
  real Z = c->m.seams.row->plain(&c->m.c, n, r->z, r->a, r->deriv, r->dlogz);
  if (to[OUT_LSE])
    to[OUT_LSE][at] = top + real_log(Z);
  for (idx j = 0; j < n; j++)
    if (key_of(c, r, j, IN_V))
      add_times(c->D, o, r->g * r->a[j], key_of(c, r, j, IN_V));
  return true;
}

static void loop_backward(Case *c, Row *r, real **to) {
  idx D = c->D, at = query_at(c, r->b, r->h, r->i);
  real *dq = to[OUT_DQ] + query_row(c, r->b, r->h, r->i), delta = 0;
  for (idx j = 0; j < r->n; j++) {
    const real *v = key_of(c, r, j, IN_V);
    r->da[j] = v ? r->g * vec_dot(D, r->dout, v) : 0;
    delta += r->a[j] * r->da[j];
  }
  if (to[OUT_DGATE])
    to[OUT_DGATE][at] = (1 - r->g) * delta;
  if (c->at[IN_DLSE])
    delta -= c->at[IN_DLSE][at];
  for (idx j = 0; j < r->n; j++) {
    const real *k = key_of(c, r, j, IN_K);
    real *dk = to[OUT_DKSTAR], *dv = to[OUT_DVSTAR];
    r->dz[j] = r->deriv[j] * r->da[j] - r->dlogz[j] * delta;
    if (j == 0 && to[OUT_DSINK])
      to[OUT_DSINK][r->h] += r->dz[0];
    real dscore = r->dz[j] * r->slope[j] * (real)c->root;
    if (!k || (j && !sees(c, r->b, r->i, j - 1)))
      continue;
    idx row = j ? key_row(c, r->b, r->h, j - 1) : r->h * D;
    dk = j ? to[OUT_DK] + row : dk + row;
    add_times(D, dq, dscore, k);
    for (idx d = 0; d < D; d++)
      if (j || config_learned_dim(&c->m.c, (int)d))
        dk[d] += dscore * r->q[d];
    if (j || dv)
      add_times(D, (j ? to[OUT_DV] : dv) + row, r->g * r->a[j], r->dout);
  }
}

/* ==========
 * 4  How far off a right kernel may be
 *
 * The answer is exact to some 1e-15; a kernel rounds. Let eps be the spacing of
 * its type at 1. Its weights are off by eps times
 *
 *   ea_j = |s'_j / Z| x_j + |a_j| (w + L),       L = sum_k |dlogz_k| x_k
 *   ea_* = .. + w, for who makes it as 1 - sum of the others
 *
 * where x_j is what the score is off by: w for roundings of the type (unit), or
 * the size of its products, sum_d |q_d k_jd| scale, for scores that are summed
 * in float at least (cond). From there on every sum of products becomes the sum
 * of their absolute values, so that each number has a bound of its own:
 *
 *   o    sum_j ea_j |v_j|             lse   w (1 + |lse|) + L
 *   dv_j sum_i ea_j |do_i|            delta sum_j (ea_j + w |a_j|) |da_j|
 *   dz_j (|s'_j/Z| |da_j| + |dlogz_j| |delta|) (w + x_j + L)
 *        + |dlogz_j| times that of delta + w |a_j| |da_j|, for s' = s (1 - s);
 *        dz_* also + w (|da_*| + |delta|)
 *
 * with |da_j| = sum_d |do_d v_jd|. A number below the type's smallest may be
 * lost: `reach` is the largest unit of an array if all weights were 1.
 *
 *   |got - answer| <= c (eps unit + eps' cond) + tiny reach,   eps' = that of
 *                                            float for the types of 16 bits */

typedef struct Bound { real w, x_of_size; bool ones; real **to; } Bound;

static real abs_dot(idx n, const real *x, const real *y) {
  real sum = 0;
  for (idx d = 0; d < n; d++)
    sum += real_abs(x[d] * y[d]);
  return sum;
}

static void add_abs(idx n, real *y, real a, const real *x) {
  for (idx d = 0; d < n; d++)
    y[d] += a * real_abs(x[d]);
}

/* One row's part of all bounds. */
static void bound_row(const Case *c, Row *r, const Bound *p) {
  idx D = c->D, at = query_at(c, r->b, r->h, r->i);
  idx row = query_row(c, r->b, r->h, r->i);
  real L = 0, delta = 0, edelta = 0, w = p->w;
  for (idx j = 0; j < r->n; j++)
    L += real_abs(r->dlogz[j]) * (w + p->x_of_size * r->size[j]);
  for (idx j = 0; j < r->n; j++) {
    real a = p->ones ? 1 : real_abs(r->a[j]);
    const real *v = key_of(c, r, j, IN_V);
    real x = w + p->x_of_size * r->size[j];
    real da = v ? r->g * abs_dot(D, r->dout, v) : 0;
    real lost = j == 0 && r->z[0] > -INFINITY ? w : 0;
    r->weight[j] = p->ones ? 1 : real_abs(r->deriv[j]) * x + a * (w + L) + lost;
    delta += a * da;
    edelta += (r->weight[j] + w * a) * da;
    if (v)
      add_abs(D, p->to[OUT_O] + row, r->g * r->weight[j], v);
  }
  if (c->at[IN_DLSE])
    delta += real_abs(c->at[IN_DLSE][at]);
  if (p->to[OUT_LSE]) {
    real lse = c->loop[OUT_LSE][at], keys = c->loop[OUT_LSE_KEYS][at];
    p->to[OUT_LSE][at] += w * (1 + real_abs(lse)) + L;
    if (keys > -INFINITY)
      p->to[OUT_LSE_KEYS][at] += w * (1 + real_abs(keys)) + L
                                 + p->x_of_size * vec_max(r->n - 1, r->size + 1);
  }
  if (p->to[OUT_DGATE])
    p->to[OUT_DGATE][at] += (1 - r->g) * (edelta + delta * w);
  for (idx j = 0; j < r->n; j++) {
    const real *k = key_of(c, r, j, IN_K), *v = key_of(c, r, j, IN_V);
    real x = w + p->x_of_size * r->size[j];
    real da = v ? r->g * abs_dot(D, r->dout, v) : 0;
    real deriv = p->ones ? 1 : real_abs(r->deriv[j]);
    real dlogz = p->ones ? 1 : real_abs(r->dlogz[j]);
    real dz = (deriv * da + dlogz * delta) * (w + x + L) + dlogz * edelta;
    dz += w * real_abs(r->a[j]) * da;
    if (j == 0 && r->z[0] > -INFINITY)
      dz += w * (da + delta);
    idx to = j ? key_row(c, r->b, r->h, j - 1) : r->h * D;
    if (j && !sees(c, r->b, r->i, j - 1))
      continue;
    if (j == 0 && p->to[OUT_DSINK])
      p->to[OUT_DSINK][r->h] += dz;
    if (!k)
      continue;
    add_abs(D, p->to[OUT_DQ] + row, dz * (real)c->root, k);
    add_abs(D, p->to[j ? OUT_DK : OUT_DKSTAR] + to, dz * (real)c->root, r->q);
    if (v)
      add_abs(D, p->to[j ? OUT_DV : OUT_DVSTAR] + to, r->g * r->weight[j],
              r->dout);
  }
}

/* The answer by the loop to `to`; with bounds, unit, cond and reach too. */
static int loop_case(Case *c, real **to, bool bounds, Error *e) {
  idx n = c->S + 1;
  real *scratch = grab(9 * n, sizeof(real), e), *ones[ARRAYS] = {NULL};
  for (int array = FIRST_OUT; array < ARRAYS && !e->status; array++)
    if (to[array]) {
      zero(to[array], array_size(c, array));
      ones[array] = grab(array_size(c, array), sizeof(real), e);
    }
  for (idx row = 0; !e->status && row < (idx)c->B * c->H * c->T; row++) {
    Row r = {.b = row / c->T / c->H, .h = row / c->T % c->H, .i = row % c->T,
             .n = n, .g = 1, .z = scratch, .a = scratch + n,
             .deriv = scratch + 2 * n, .dlogz = scratch + 3 * n,
             .da = scratch + 4 * n, .dz = scratch + 5 * n,
             .slope = scratch + 6 * n, .size = scratch + 7 * n,
             .weight = scratch + 8 * n, .q = c->at[IN_Q] + row * c->D,
             .dout = c->at[IN_DO] + row * c->D};
    if (c->at[IN_GATE])
      r.g = 1 / (1 + real_exp(-c->at[IN_GATE][row]));
    loop_scores(c, &r);
    if (!loop_forward(c, &r, to))
      continue;
    loop_backward(c, &r, to);
    if (!bounds)
      continue;
    bound_row(c, &r, &(Bound){1, 0, false, c->unit});
    bound_row(c, &r, &(Bound){0, 1, false, c->cond});
    bound_row(c, &r, &(Bound){1, 0, true, ones});
  }
  for (int array = FIRST_OUT; array < ARRAYS; array++) {
    for (idx i = 0; ones[array] && i < array_size(c, array); i++)
      c->reach[array] = fmax(c->reach[array], (double)ones[array][i]);
    free(ones[array]);
  }
  free(scratch);
  return e->status;
}

/* ==========
 * 5  The answer by sink.c
 *
 * Its decoder has as many queries as keys. Queries at the end of a longer cache
 * are the last rows of such a square: do = 0 in the rows before, whose q then
 * reaches nothing. What it has no form of: keys that are fewer in one sequence,
 * queries before the first key, a dlse, and keys 0 .. n-1 that a window keeps
 * for the rows after them alone, unless all queries stand there. */
static bool sink_can(const Case *c) {
  bool tokens = c->tokens <= 1 || c->offset >= c->tokens - 1;
  return !c->has_lengths && !c->at[IN_DLSE] && c->offset == c->S - c->T
         && c->offset >= 0 && tokens;
}

/* Between [B,heads,rows,D], the case's, and [B,N,heads,D], the decoder's, where
 * the case's rows begin at `from`. */
static void lay(const Case *c, real *theirs, real *ours, idx heads, idx rows,
                idx from, bool back) {
  idx D = c->D, N = c->S;
  for (idx b = 0; b < c->B; b++)
    for (idx h = 0; h < heads; h++)
      for (idx i = 0; i < rows; i++) {
        real *x = theirs + ((b * N + from + i) * heads + h) * D;
        real *y = ours + ((b * heads + h) * rows + i) * D;
        if (back)
          copy(y, x, D);
        else
          copy(x, y, D);
      }
}

/* gate [B,H,T] goes in as x W_g: x's first H numbers are a row's, W_g the unit
 * matrix; its gradient comes back in dx. */
static void lay_gate(const Case *c, real *x, real *gate, bool back) {
  for (idx b = 0; b < c->B; b++)
    for (idx h = 0; h < c->H; h++)
      for (idx i = 0; i < c->T; i++) {
        real *theirs = x + (b * c->S + c->offset + i) * c->m.c.dim + h;
        real *ours = gate + query_at(c, b, h, i);
        if (back)
          *ours = *theirs;
        else
          *theirs = *ours;
      }
}

static void sink_forward(Case *c, Acts *a, real *x) {
  Model *m = &c->m;
  LayerActs *la = &a->layer[0];
  Layer *w = &m->layer[0];
  idx N = c->S, D = c->D, rows = c->B * N;
  biases_tabulate(m, a);
  lay(c, la->q, c->at[IN_Q], c->H, c->T, c->offset, false);
  lay(c, la->k, c->at[IN_K], c->K, N, 0, false);
  lay(c, la->v, c->at[IN_V], c->K, N, 0, false);
  if (c->at[IN_SINK])
    copy(w->logit.w, c->at[IN_SINK], c->H);
  if (c->at[IN_KSTAR])
    copy(w->kstar.w, c->at[IN_KSTAR], c->H * D);
  if (c->at[IN_VSTAR])
    copy(w->vstar.w, c->at[IN_VSTAR], c->H * D);
  if (c->at[IN_GATE]) {
    lay_gate(c, x, c->at[IN_GATE], false);
    for (idx h = 0; h < c->H; h++)
      w->wg.w[h * c->H + h] = 1;
    m->seams.qkv(m, a, 0, la->k, la->v, x, rows);
  }
  tiled_forward(m, a, 0, c->B, N);       /* log Z of each row */
  for (idx bh = 0; c->at[OUT_LSE] && bh < c->B * c->H; bh++)
    copy(c->at[OUT_LSE] + bh * c->T, la->row_stat + bh * N + c->offset, c->T);
  attention_forward(m, a, 0, c->B, N);   /* 3.7 */
  if (c->at[IN_GATE])
    m->seams.leave(m, a, 0, la->v, rows);
  lay(c, la->o, c->at[OUT_O], c->H, c->T, c->offset, true);
}

static void sink_backward(Case *c, Acts *a, const real *x, real *dx) {
  Model *m = &c->m;
  Layer *w = &m->layer[0];
  idx N = c->S, D = c->D, rows = c->B * N;
  lay(c, a->dout, c->at[IN_DO], c->H, c->T, c->offset, false);
  slots_begin(m, a, 0, c->B, N);
  if (c->at[IN_GATE])
    m->seams.leave_backward(m, a, 0, c->B, N);
  attention_backward(m, a, 0, c->B, N);  /* 3.7 */
  slots_end(m, a, 0, c->B, N);
  if (c->at[IN_GATE]) {
    m->seams.v_backward(m, a, 0, dx, x, rows);
    lay_gate(c, dx, c->at[OUT_DGATE], true);
  }
  lay(c, a->dq, c->at[OUT_DQ], c->H, c->T, c->offset, true);
  lay(c, a->dk, c->at[OUT_DK], c->K, N, 0, true);
  lay(c, a->dv, c->at[OUT_DV], c->K, N, 0, true);
  if (c->at[IN_SINK])
    copy(c->at[OUT_DSINK], w->logit.d, c->H);
  if (c->at[IN_KSTAR])
    copy(c->at[OUT_DKSTAR], w->kstar.d, c->H * D);
  if (c->at[IN_VSTAR])
    copy(c->at[OUT_DVSTAR], w->vstar.d, c->H * D);
}

static int sink_case(Case *c, Error *e) {
  Acts a;
  idx n = (idx)c->B * c->S * c->m.c.dim;
  real *x = grab(2 * n, sizeof(real), e);
  if (!e->status && !acts_create(&a, &c->m, c->B, c->S, ACTS_ALL, e)) {
    sink_forward(c, &a, x);
    sink_backward(c, &a, x, x + n);
    acts_free(&a);
  }
  free(x);
  return e->status;
}

/* Both answers; sink.c's is kept where it has one. */
static int case_answer(Case *c, Error *e) {
  if (loop_case(c, c->loop, true, e))
    return e->status;
  for (int array = FIRST_OUT; array < ARRAYS; array++)
    if (c->at[array])
      copy(c->at[array], c->loop[array], array_size(c, array));
  c->of_sink = sink_can(c);
  return c->of_sink ? sink_case(c, e) : 0;
}

/* The largest |x - y| of an array, in eps of double times unit + cond. */
static double apart(const Case *c, int array, real *const *x, real *const *y) {
  double worst = 0;
  for (idx i = 0; i < array_size(c, array); i++) {
    double bound = (double)(c->unit[array][i] + c->cond[array][i]);
    double one = (double)x[array][i], other = (double)y[array][i];
    double off = one == other ? 0 : fabs(one - other)
                                    / (REAL_EPS * bound + DBL_MIN);
    if (off > worst || isnan(off))
      worst = isnan(off) ? INFINITY : off;
  }
  return worst;
}

/* ==========
 * 6  Closed forms
 *
 * EVEN. Where the keys that matter to a row have one score c, n of them, and a
 * sink b, the weights are e^(c - lse) and a_* = e^(b - lse), with
 *
 *   lse = log(n e^c + e^b)       o = g (e^(c - lse) sum of their v + a_* v*)
 *   dv_j = sum_i g e^(c - lse) do_i
 *   dsink = -sum_i a_* delta_i, delta_i = g e^(c - lse) sum of their <do, v>
 *
 * A key matters if it is within 700 of the largest of scores and sink: e^-700 is
 * nothing beside 1. Without a sink b = -infinity; b = 0 is a zero logit. */

static bool form_row_even(const Case *c, Row *r, real **want) {
  idx n = 0, row = query_row(c, r->b, r->h, r->i);
  idx at = query_at(c, r->b, r->h, r->i);
  real *o = want[OUT_O] + row, b = r->z[0], top = vec_max(r->n - 1, r->z + 1);
  real most = top > b ? top : b, delta = 0;
  bool alike = true;             /* the keys, if not below the sink by 700 */
  for (idx j = 1; j < r->n; j++) {
    alike = alike && (r->z[j] == top || r->z[j] < top - 700);
    n += r->z[j] == top && top > -INFINITY;
    if (r->z[j] < top && r->z[j] > most - 700)
      return false;
  }
  real keys = n ? top + real_log((real)n) : -INFINITY;
  real lse = keys > b ? keys + (real)log1p(exp(b - keys))
                      : b + (real)log1p(exp(keys - b));
  if (!(most > -INFINITY))
    lse = -INFINITY;
  want[OUT_LSE][at] = lse;
  if (alike)
    want[OUT_LSE_KEYS][at] = keys;
  zero(o, c->D);
  for (idx j = 0; j < r->n && lse > -INFINITY; j++) {
    const real *v = key_of(c, r, j, IN_V);
    real a = r->z[j] == top || j == 0 ? r->g * real_exp(r->z[j] - lse) : 0;
    if (v)
      add_times(c->D, o, a, v);
    if (v && j)
      delta += a * vec_dot(c->D, r->dout, v);
    if (j)
      add_times(c->D, want[OUT_DV] + key_row(c, r->b, r->h, j - 1), a, r->dout);
  }
  if (want[OUT_DSINK] && lse > -INFINITY)
    want[OUT_DSINK][r->h] -= real_exp(b - lse) * delta;
  return true;
}

static void form_even(Case *c, real **want, real *scratch) {
  idx n = c->S + 1, done = 0, all = (idx)c->B * c->H * c->T;
  zero(want[OUT_DV], array_size(c, OUT_DV));
  if (want[OUT_DSINK])
    zero(want[OUT_DSINK], c->H);
  for (idx row = 0; row < all; row++) {
    Row r = {.b = row / c->T / c->H, .h = row / c->T % c->H, .i = row % c->T,
             .n = n, .g = 1, .z = scratch, .slope = scratch + n,
             .size = scratch + 2 * n, .q = c->at[IN_Q] + row * c->D,
             .dout = c->at[IN_DO] + row * c->D};
    if (c->at[IN_GATE])
      r.g = 1 / (1 + real_exp(-c->at[IN_GATE][row]));
    loop_scores(c, &r);
    done += form_row_even(c, &r, want);
  }
  for (idx i = 0; done < all && i < array_size(c, OUT_DV); i++)
    want[OUT_DV][i] = (real)NAN;         /* of some rows alone */
  for (idx h = 0; done < all && want[OUT_DSINK] && h < c->H; h++)
    want[OUT_DSINK][h] = (real)NAN;
  if (done == all)
    snprintf(c->closed, sizeof c->closed, "the n keys of largest score c: "
             "lse = log(n e^c + e^sink), o = e^(c - lse) sum of their v");
}

/* ALiBi alone (Proposition 3): a_ij = r^(i-j) (1 - r) / (1 - r^(i+1)). */
static void form_alibi(Case *c, real **want) {
  zero(want[OUT_O], array_size(c, OUT_O));
  for (idx row = 0; row < (idx)c->B * c->H * c->T; row++) {
    idx h = row / c->T % c->H, i = row % c->T;
    double r = exp(-pow(2, -8.0 * (double)(h + 1) / c->H));
    for (idx j = 0; j <= i; j++)
      add_times(c->D, want[OUT_O] + row * c->D,
                (real)(pow(r, (double)(i - j)) * (1 - r)
                       / (1 - pow(r, (double)(i + 1)))),
                c->at[IN_V] + key_row(c, row / c->T / c->H, h, j));
  }
  snprintf(c->closed, sizeof c->closed, "a_ij = r^(i-j) (1-r) / (1-r^(i+1)), "
           "r = e^-slope: a geometric series");
}

/* o = sum over halves of e^(lse_half - lse) o_half, lse with the sink. */
static int form_halves(Case *c, real **want, uint64_t seed, Error *e) {
  Case half;
  zero(want[OUT_O], array_size(c, OUT_O));
  for (int second = 0; second < 2; second++) {
    if (case_open(&half, operator_of("softmax"),
                  hard_of(second ? "second" : "first"), c->D, seed, e)
        || case_answer(&half, e))
      return e->status;
    for (idx row = 0; row < (idx)c->B * c->H * c->T; row++)
      add_times(c->D, want[OUT_O] + row * c->D,
                real_exp(half.at[OUT_LSE][row] - c->at[OUT_LSE][row]),
                half.at[OUT_O] + row * c->D);
    case_close(&half);
  }
  snprintf(c->closed, sizeof c->closed, "o = e^(lse1 - lse) o1 + e^(lse2 - lse) "
           "o2, of softmax-first and softmax-second");
  return 0;
}

/* q = do = 1 in dim 0 of one query; sigma(x) = 1 / (1 + e^-x). */
static void form_by_hand(Case *c, real **want) {
  double p = 1 / (1 + exp(-1)), y = 2 * tanh(1.5), s = 1 / (1 + exp(-y));
  double Z = 1 - exp(-2) + 1e-8, a = (1 - exp(-1)) / Z;
  double slope = 1 - tanh(1.5) * tanh(1.5);
  const struct { const char *op; double o, dq, dk[2], dv[2]; const char *text; }
  HAND[] = {
    {"logit", 2 * p, 2 * p * (1 - p), {2 * p * (1 - p)}, {p},
     "z = 1, v = 2, sink 0: o = 2 p, dq = dk = -dsink = 2 p (1 - p) = "
     "0.39322387, dv = p = sigma(1), lse = log(1 + e)"},
    {"soft-cap", 2 * s, 6 * s * (1 - s) * slope, {2 * s * (1 - s) * slope}, {s},
     "z = 3, y = 2 tanh(3/2), v = 2, sink 0: o = 2 p, dk = 2 p (1 - p) "
     "(1 - tanh(3/2)^2), dq = 3 dk, p = sigma(y)"},
    {"clamp", 3, 0, {2, 1}, {1, -2},
     "z = (2, -4), v = (1, -1): a = z/2 = (1, -2), delta = 3, "
     "dz = (1/2 + 3/2, -1/2 + 3/2)"},
    {"softpick", a, (1 - a) / Z - exp(-2) * a / Z,
     {(1 - a) / Z, exp(-2) * a / Z}, {a, 0},
     "z = (1, -1), v = (1, -1): Z = 1 - e^-2 + 1e-8, a = ((1 - 1/e) / Z, 0), "
     "dz = ((1 - a_0) / Z, e^-2 a_0 / Z)"}};
  for (size_t k = 0; k < sizeof HAND / sizeof *HAND; k++) {
    if (strcmp(c->op->name, HAND[k].op))
      continue;
    want[OUT_O][0] = (real)HAND[k].o;
    want[OUT_DQ][0] = (real)HAND[k].dq;
    for (idx j = 0; j < c->S; j++) {
      want[OUT_DK][j * c->D] = (real)HAND[k].dk[j];
      want[OUT_DV][j * c->D] = (real)HAND[k].dv[j];
    }
    snprintf(c->closed, sizeof c->closed, "%s", HAND[k].text);
  }
}

/* Room for every output, NaN throughout: what no form fills is not compared. */
static int outputs_open(const Case *c, real **to, Error *e) {
  for (int array = 0; array < ARRAYS; array++) {
    to[array] = NULL;
    if (array < FIRST_OUT || !c->at[array])
      continue;
    to[array] = grab(array_size(c, array), sizeof(real), e);
    for (idx i = 0; !e->status && i < array_size(c, array); i++)
      to[array][i] = (real)NAN;
  }
  return e->status;
}
static void outputs_close(real **to) {
  for (int array = 0; array < ARRAYS; array++)
    free(to[array]);
}

/* How far the answer is from its closed form, in eps of its bounds; how many
 * numbers have one. */
static double off_form(Case *c, uint64_t seed, idx *numbers, Error *e) {
  real *want[ARRAYS], *scratch = grab(3 * (c->S + 1), sizeof(real), e);
  double worst = 0;
  *numbers = 0;
  if (!e->status && !outputs_open(c, want, e)) {
    if (c->op->sums && c->m.c.pos != POS_ALIBI)
      form_even(c, want, scratch);
    if (is_hard(c, "no-scores"))
      form_alibi(c, want);
    if (is_hard(c, "by-hand"))
      form_by_hand(c, want);
    if (is_hard(c, "halves"))
      form_halves(c, want, seed, e);
    for (int array = FIRST_OUT; array < ARRAYS; array++)
      for (idx i = 0; want[array] && i < array_size(c, array); i++) {
        if (isnan(want[array][i]))
          want[array][i] = c->at[array][i];
        else
          ++*numbers;
      }
    for (int array = FIRST_OUT; array < ARRAYS; array++)
      if (want[array])
        worst = fmax(worst, apart(c, array, want, c->at));
    outputs_close(want);
  }
  free(scratch);
  return worst;
}

/* ==========
 * 7  Differences
 *
 * Along a drawn direction u of one input x, with L = <do, o> + <dlse, lse>:
 *
 *   <dx, u> = (4 D(h) - D(2h)) / 3 + O(h^4),  D(h) = (L(x+hu) - L(x-hu)) / 2h */

static double loss_beside(Case *c, int input, const real *was, const real *u,
                          double h, real **to, Error *e) {
  double loss = 0;
  for (idx i = 0; i < array_size(c, input); i++)
    c->at[input][i] = was[i] + (real)h * u[i];
  if (loop_case(c, to, false, e))
    return NAN;
  for (idx i = 0; i < array_size(c, OUT_O); i++)
    loss += (double)(c->at[IN_DO][i] * to[OUT_O][i]);
  for (idx i = 0; c->at[IN_DLSE] && i < array_size(c, OUT_LSE); i++)
    loss += (double)(c->at[IN_DLSE][i] * to[OUT_LSE][i]);
  copy(c->at[input], was, array_size(c, input));
  return loss;
}

/* Relative to the largest terms of <dx, u>. */
static double off_difference(Case *c, int input, real **to, Error *e) {
  static const int GRADIENT[FIRST_OUT] = {
    OUT_DQ, OUT_DK, OUT_DV, 0, 0, OUT_DSINK, OUT_DKSTAR, OUT_DVSTAR, OUT_DGATE};
  const double h = 1.0 / 8192;
  idx n = array_size(c, input);
  real *was = grab(2 * n, sizeof(real), e), *u = was + n;
  const real *dx = c->at[GRADIENT[input]];
  double L[4], sum = 0, size = 1;
  if (e->status)
    return NAN;
  Rng rng = {(uint64_t)input + 1};
  draw(&rng, u, n);
  copy(was, c->at[input], n);
  for (idx i = 0; i < n; i++) {
    if (input == IN_KSTAR && !config_learned_dim(&c->m.c, (int)(i % c->D)))
      u[i] = 0;
    sum += (double)(dx[i] * u[i]);
    size += fabs((double)(dx[i] * u[i]));
  }
  for (int k = 0; k < 4; k++)
    L[k] = loss_beside(c, input, was, u, h * (k / 2 + 1) * (k % 2 ? -1 : 1), to,
                       e);
  free(was);
  double slope = (8 * (L[0] - L[1]) - (L[2] - L[3])) / (12 * h);
  return fabs(slope - sum) / size;
}

/* ==========
 * 8  Files */

/* NumPy's format 1.0. bounds: the float array [2, ..] of unit and cond. */
static void npy(const Case *c, int array, bool bounds, Bytes *out, Error *e) {
  char head[160], axes[80] = "";
  idx n = array_size(c, array);
  if (bounds)
    strcpy(axes, "2, ");
  for (const char *axis = ARRAY[array].shape; *axis; axis++)
    snprintf(axes + strlen(axes), sizeof axes - strlen(axes), "%lld, ",
             axis_length(c, *axis));
  int size = snprintf(head, sizeof head, "{'descr': '<f%d', 'fortran_order': "
                      "False, 'shape': (%s), }", bounds ? 4 : 8, axes);
  size += snprintf(head + size, 80, "%*s", 64 - (10 + size) % 64, "\n");
  bytes_add(out, "\x93NUMPY\x01", 8, e);
  bytes_number(out, (uint64_t)size, 2, e);
  bytes_add(out, head, (size_t)size, e);
  for (idx i = 0; i < (bounds ? 2 * n : n); i++) {
    const real *x = i < n ? c->unit[array] + i : c->cond[array] + i - n;
    if (bounds)
      bytes_number(out, bits_of((float)fmax((double)*x, 1e-37)), 4, e);
    else
      bytes_number(out, bits_of_double((double)c->at[array][i]), 8, e);
  }
}

static void json_case(const Case *c, Bytes *out, Error *e) {
  const char *types = c->narrow ? "\"float64\", \"float32\""
      : "\"float64\", \"float32\", \"bfloat16\", \"float16\"";
  bytes_print(out, e, "{\"name\": \"%s\", \"operator\": \"%s\",\n \"formula\": "
              "\"%s\",\n \"about\": \"%s\",\n \"closed\": \"%s\",\n \"answer\": "
              "\"%s\",\n", c->name, c->op->name, c->op->formula, c->hard->about,
              c->closed, c->of_sink ? "sink.c 3.7" : "the plain loop");
  bytes_print(out, e, " \"batch\": %d, \"heads\": %d, \"kv_heads\": %d, "
              "\"queries\": %d, \"keys\": %d, \"dim\": %d,\n \"scale\": %.17g, "
              "\"causal\": %s, \"offset\": %d, \"window\": %d, \"prefix\": %d, "
              "\"sink_tokens\": %d, \"soft_cap\": %g,\n", c->B, c->H, c->K, c->T,
              c->S, c->D, c->root, c->causal ? "true" : "false", c->offset,
              c->window, c->prefix, c->tokens, c->cap);
  if (c->has_lengths)
    bytes_print(out, e, " \"lengths\": [%d%s", c->length[0], c->B > 1 ? ", " : "");
  if (c->has_lengths && c->B > 1)
    bytes_print(out, e, "%d", c->length[1]);
  bytes_print(out, e, c->has_lengths ? "],\n" : " \"lengths\": null,\n");
  bytes_print(out, e, " \"slopes\": ");
  for (int h = 0; h < c->H && c->m.c.pos == POS_ALIBI; h++)
    bytes_print(out, e, "%s%.17g", h ? ", " : "[", pow(2, -8.0 * (h + 1) / c->H));
  bytes_print(out, e, c->m.c.pos == POS_ALIBI ? "],\n" : "null,\n");
  bytes_print(out, e, " \"types\": [%s],\n \"reach\": {", types);
  const char *between = "";
  for (int array = FIRST_OUT; array < ARRAYS; array++) {
    if (!c->at[array])
      continue;
    bytes_print(out, e, "%s\"%s\": %.3g", between, ARRAY[array].name,
                c->reach[array]);
    between = ", ";
  }
  bytes_print(out, e, "}}\n");
}

/* The files of all cases, counted, and the hash of their bytes. */
typedef struct Kit {
  char out[PATH_ROOM];           /* "": none is written */
  uint64_t seed, hash;
  int D, cases, files;
  double bytes;
} Kit;

/* Without fsync: the next run makes the same. */
static void keep(Kit *k, const Case *c, const char *name, Bytes *b, Error *e) {
  char path[PATH_ROOM + 120];
  snprintf(path, sizeof path, "%s/%s/%s", k->out, c->name, name);
  for (char *at = path; k->out[0] && (at = strchr(at + 1, '/')); *at = '/') {
    *at = 0;
    make_folder(path);
  }
  FILE *f = k->out[0] && !e->status ? fopen(path, "wb") : NULL;
  if (k->out[0] && !e->status) {
    bool whole = f && fwrite(b->at, 1, b->size, f) == b->size;
    if (f && fclose(f))
      whole = false;
    if (!whole)
      fail(e, 1, "%s: cannot be written, %s. Try: another --out", path,
           strerror(errno));
  }
  k->hash = hash64(k->hash, b->at, b->size);
  k->bytes += (double)b->size;
  k->files++;
  bytes_free(b);
}

static void case_write(Kit *k, const Case *c, Error *e) {
  Bytes b = {0};
  char name[40];
  for (int array = 0; array < ARRAYS && !e->status; array++) {
    if (!c->at[array])
      continue;
    npy(c, array, false, &b, e);
    snprintf(name, sizeof name, "%s.npy", ARRAY[array].name);
    keep(k, c, name, &b, e);
    if (array < FIRST_OUT)
      continue;
    npy(c, array, true, &b, e);
    snprintf(name, sizeof name, "%s.unit.npy", ARRAY[array].name);
    keep(k, c, name, &b, e);
  }
  json_case(c, &b, e);
  keep(k, c, "case.json", &b, e);
}

/* ==========
 * 9  The program */

/* Do numbers survive a type of 8 bits of significand, as bfloat16 has? */
static bool fits_16_bits(const Case *c) {
  for (int array = 0; array < FIRST_OUT; array++)
    for (idx i = 0; c->at[array] && i < array_size(c, array); i++) {
      int exponent;
      double m = 256 * frexp((double)c->at[array][i], &exponent);
      if (isfinite(m) && (m != floor(m) || exponent > 15 || exponent < -6))
        return false;
    }
  return true;
}

enum { OFF_LOOP = 256, OFF_FORM = 256 };   /* eps of the bounds of chapter 4 */

typedef struct Verdict { int passed, failed; bool loud; } Verdict;

static void verdict_add(Verdict *v, const Case *c, const char *what, double x,
                        double bound) {
  bool good = x <= bound;
  v->passed += good;
  v->failed += !good;
  if (v->loud || !good)
    printf("%-26s %-44s %9.2g  bound %7.2g  %s\n", c->name, what, x, bound,
           good ? "ok" : "FAIL");
}

/* sink.c against the loop, closed forms, and with `loud` differences. */
static void case_check(Case *c, uint64_t seed, Verdict *v, Error *e) {
  double worst = 0;
  idx numbers = 0;
  char what[64];
  for (int array = FIRST_OUT; c->of_sink && array < ARRAYS; array++)
    if (c->at[array])
      worst = fmax(worst, apart(c, array, c->at, c->loop));
  if (c->of_sink)
    verdict_add(v, c, "sink.c and the loop, in eps", worst, OFF_LOOP);
  double form = off_form(c, seed, &numbers, e);
  snprintf(what, sizeof what, "%lld numbers in closed form, in eps", numbers);
  if (numbers)
    verdict_add(v, c, what, form, OFF_FORM);
  if (!c->narrow)
    verdict_add(v, c, "inputs that 16 bits do not hold", !fits_16_bits(c), 0);
  real *to[ARRAYS];
  if (!v->loud || e->status || outputs_open(c, to, e))
    return;
  for (int input = 0; input < FIRST_OUT; input++) {
    snprintf(what, sizeof what, "d%s and differences", ARRAY[input].name);
    if (c->at[input] && input != IN_DO && input != IN_DLSE)
      verdict_add(v, c, what, off_difference(c, input, to, e), 1e-5);
  }
  outputs_close(to);
}

/* All cases in turn. */
static int kit_run(Kit *k, Verdict *v, Error *e) {
  for (int i = 0; i < COUNT_OPERATORS && !e->status; i++)
    for (int j = 0; j < COUNT_HARDS && !e->status; j++) {
      Case c;
      const char *for_some = HARDS[j].operators;
      if (*for_some && !has_word(for_some, OPERATORS[i].name))
        continue;
      if (case_open(&c, &OPERATORS[i], &HARDS[j], k->D, k->seed, e))
        break;
      if (!case_answer(&c, e))
        case_check(&c, k->seed, v, e);
      if (!e->status)
        case_write(k, &c, e);
      case_close(&c);
      k->cases++;
    }
  return e->status;
}

static const char USAGE[] =
    "vectors: inputs and exact answers for kernels of attention with a sink\n"
    "  ./vectors [--out DIR]   writes them [out/vectors]\n"
    "  ./vectors check         holds them to one another, and writes nothing\n"
    "    --dim N    of a head, 4 to 256 [16]\n"
    "    --seed N   of the inputs [0]\n"
    "then: python3 data/check/vectors/check_numpy.py, and its README.md\n";

static int kit_flags(Kit *k, bool *check, int argc, char **argv, Error *e) {
  for (int i = 1; i < argc && !e->status; i++) {
    const char *word = argv[i], *value = i + 1 < argc ? argv[i + 1] : "";
    char *end = NULL;
    if (!strcmp(word, "check")) {
      *check = true;
    } else if (!strcmp(word, "--out") && *value) {
      snprintf(k->out, sizeof k->out, "%s", value);
      i++;
    } else if (!strcmp(word, "--dim") || !strcmp(word, "--seed")) {
      long n = strtol(value, &end, 10);
      bool dim = word[2] == 'd';
      if (!*value || *end || n < (dim ? 4 : 0) || n > (dim ? 256 : INT32_MAX))
        return fail(e, 2, "%s %s: expected a whole number. Try: --dim 64, "
                    "--seed 1", word, value);
      if (dim)
        k->D = (int)n;
      else
        k->seed = (uint64_t)n;
      i++;
    } else
      fail(e, 2, "%s: not known here. Try: ./vectors --out DIR", word);
  }
  return e->status;
}

int main(int argc, char **argv) {
  Error e = {0};
  Kit k = {.out = "out/vectors", .D = 16};
  Verdict v = {0};
  if (argc > 1 && (!strcmp(argv[1], "help") || !strcmp(argv[1], "--help"))) {
    fputs(USAGE, stdout);
    return 0;
  }
  set_workers(1);                        /* the cases are small */
  if (!kit_flags(&k, &v.loud, argc, argv, &e)) {
    if (v.loud)
      k.out[0] = 0;
    kit_run(&k, &v, &e);
  }
  if (e.status)
    fprintf(stderr, "vectors: %s\n", e.text);
  else if (v.loud)
    printf("%d cases, %d files, %.1f MB, their hash %016llx\n%d passed, %d "
           "failed\n", k.cases, k.files, k.bytes * 1e-6,
           (unsigned long long)k.hash, v.passed, v.failed);
  else
    printf("%s: %d cases, %d files, %.1f MB, their hash %016llx\n", k.out,
           k.cases, k.files, k.bytes * 1e-6, (unsigned long long)k.hash);
  if (!e.status && v.failed)
    fprintf(stderr, "vectors: %d checks failed. Try: ./vectors check\n",
            v.failed);
  return e.status ? e.status : v.failed > 0;
}
