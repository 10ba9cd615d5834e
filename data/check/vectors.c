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

/* What an array is called, and its axes, a letter each; k: K. */
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
   "m = max(0, max_j z_j), a constant in the backward"},
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
  {"one-key", "", "one key: softmax without a sink gives it the weight 1", 1,
   4, 1, 1, 0},
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
  double root, cap;              /* scale; that of the soft-cap, or 0 */
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
  return (before && (!c->window || j > at - c->window)) || j < c->prefix ||
         (j <= at && j < c->tokens);
}

static idx axis_length(const Case *c, char axis) {
  switch (axis) {
  case 'b': return c->B;
  case 'h': return c->H;
  case 'k': return c->K;
  case 't': return c->T;
  case 's': return c->S;
  default: return c->D;
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
  if (array > FIRST_OUT)
    name++; /* dsink: sink */
  return has_word(c->op->inputs, name);
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
    c->at[IN_K][n] = x / 16;
    if (!alike)
      c->at[IN_K][n] *= (real)(1 - n / c->D % c->S % 3);
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
  if (is_hard(c, "scores-minus-1e5"))
    c->at[IN_SINK][0] = -INFINITY; /* no other score to hold on to */
  for (idx h = 0; is_hard(c, "many-keys") && h < c->H; h++)
    c->at[IN_SINK][h] = (real)(4 + h); /* 300 equal keys weigh e^5.7 */
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
  int prefix = c->prefix + c->tokens;
  Config config;
  if (!c->causal)
    prefix = c->S;
  int n = snprintf(flags, sizeof flags,
                   "--layers 1 --heads %d --kv-heads %d --head-dim %d "
                   "--dim %d --ffn 1 --vocab 4 --context %d --pos none ",
                   c->H, c->K, c->D, c->H * c->D, c->S);
  if (prefix > 0)
    n += snprintf(flags + n, 40, "--prefix %d ", (int)at_most(prefix, c->S));
  if (c->window)
    n += snprintf(flags + n, 40, "--window %d ", c->window);
  snprintf(flags + n, sizeof flags - (size_t)n, "%s", c->op->flags);
  if (config_from_flags(&config, flags, e) ||
      model_create(&c->m, &config, true, e))
    return e->status;
  c->m.layer[0].root = c->root;
  c->cap = fmax(c->m.c.soft_cap, 0); /* NaN: none */
  return 0;
}

/* A case with its inputs, and room for the rest. */
static int case_open(Case *c, const Operator *op, const Hard *hard, int D,
                     uint64_t seed, Error *e) {
  *c = (Case){.op = op,
              .hard = hard,
              .B = hard->B,
              .H = hard->H,
              .K = hard->H,
              .T = hard->T,
              .S = hard->S,
              .D = D,
              .offset = hard->S - hard->T,
              .window = op->window,
              .prefix = op->prefix,
              .tokens = op->tokens,
              .length = {hard->S, hard->S},
              .causal = true,
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
  idx from = is_hard(c, "second") * c->S;
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
  real *da;                      /* [n] */
  real *slope;                   /* [n] of the cap */
  real *size;                    /* [n] sum |q_d k_d| scale, and |bias| */
  real *weight;                  /* [n] ea of chapter 4 */
  const real *q, *dout;          /* [D] */
} Row;

/* What column j of a row reads, and where its gradients go. A sink has neither
 * key nor value: zeros. */
typedef struct KeyAt {
  const real *k, *v;             /* [D] */
  idx row;                       /* of the arrays dk, dv */
  int dk, dv;
} KeyAt;

enum { MOST_DIMS = 256 };
static const real ZEROS[MOST_DIMS];

static KeyAt column_of(const Case *c, const Row *r, idx j) {
  KeyAt x = {ZEROS, ZEROS, r->h * c->D, OUT_DKSTAR, OUT_DVSTAR};
  if (j > 0) {
    idx row = key_row(c, r->b, r->h, j - 1);
    return (KeyAt){c->at[IN_K] + row, c->at[IN_V] + row, row, OUT_DK, OUT_DV};
  }
  if (c->at[IN_KSTAR])
    x.k = c->at[IN_KSTAR] + x.row;
  if (c->at[IN_VSTAR])
    x.v = c->at[IN_VSTAR] + x.row;
  return x;
}

/* <q, k_j> scale, and the sum of the absolute products. */
static real score_of(const Case *c, const Row *r, const real *key, real *size) {
  real z = 0;
  *size = 0;
  for (idx d = 0; d < c->D; d++) {
    z += r->q[d] * key[d];
    *size += real_abs(r->q[d] * key[d]);
  }
  *size *= c->root;
  return z * c->root;
}

/* z, slope and size of row r. */
static void loop_scores(const Case *c, Row *r) {
  r->slope[0] = 1;
  r->z[0] = score_of(c, r, column_of(c, r, 0).k, &r->size[0]);
  if (c->m.c.extra == EXTRA_NONE)
    r->z[0] = -INFINITY;
  if (c->at[IN_SINK]) {
    r->z[0] = c->at[IN_SINK][r->h];
    if (r->z[0] > -INFINITY)
      r->size[0] = fabs(r->z[0]);
  }
  for (idx j = 0; j < c->S; j++) {
    real *z = &r->z[1 + j];
    r->slope[1 + j] = 1;
    r->size[1 + j] = 0;
    *z = -INFINITY;
    if (!sees(c, r->b, r->i, j))
      continue;
    *z = score_of(c, r, column_of(c, r, 1 + j).k, &r->size[1 + j]);
    if (c->m.c.pos == POS_ALIBI) {
      real slope = pow(2, -8.0 * (double)(r->h + 1) / c->H);
      *z -= slope * fmax((double)(r->i + c->offset - j), 0);
      r->size[1 + j] += slope * (real)c->S;
    }
    if (c->cap > 0) {
      *z = c->cap * tanh(*z / c->cap);
      r->slope[1 + j] = 1 - *z / c->cap * (*z / c->cap);
    }
  }
}

/* log(e^a + e^b) */
static real log_sum(real a, real b) {
  real top = fmax(a, b);
  if (top == -INFINITY)
    return top;
  return top + log1p(exp(fmin(a, b) - top));
}

/* o, lse and lse_keys; false where row r sees nothing. */
static bool loop_forward(Case *c, Row *r, real **to) {
  real *o = to[OUT_O] + query_row(c, r->b, r->h, r->i), keys = -INFINITY;
  idx at = query_at(c, r->b, r->h, r->i), n = r->n;
  zero(o, c->D);
  for (idx j = 1; j < n; j++)
    keys = log_sum(keys, r->z[j]);
  if (to[OUT_LSE]) {
    to[OUT_LSE_KEYS][at] = keys;
    to[OUT_LSE][at] = log_sum(keys, r->z[0]);
  }
  if (vec_max(n, r->z) == -INFINITY)
    return false;
  c->m.seams.row->plain(&c->m.c, n, r->z, r->a, r->deriv, r->dlogz);
  for (idx j = 0; j < n; j++)
    add_times(c->D, o, r->g * r->a[j], column_of(c, r, j).v);
  return true;
}

/* The gradients of row r, added to those of the rows before. */
static void loop_backward(Case *c, Row *r, real **to) {
  idx D = c->D, at = query_at(c, r->b, r->h, r->i);
  real *dq = to[OUT_DQ] + query_row(c, r->b, r->h, r->i), delta = 0;
  for (idx j = 0; j < r->n; j++) {
    r->da[j] = r->g * vec_dot(D, r->dout, column_of(c, r, j).v);
    delta += r->a[j] * r->da[j];
  }
  if (to[OUT_DGATE])
    to[OUT_DGATE][at] = (1 - r->g) * delta;
  if (c->at[IN_DLSE])
    delta -= c->at[IN_DLSE][at];
  for (idx j = 0; j < r->n; j++) {
    KeyAt x = column_of(c, r, j);
    real dz = r->deriv[j] * r->da[j] - r->dlogz[j] * delta;
    real dscore = dz * r->slope[j] * c->root;
    if (j == 0 && to[OUT_DSINK])
      to[OUT_DSINK][r->h] += dz;
    add_times(D, dq, dscore, x.k);
    for (idx d = 0; to[x.dk] && d < D; d++)
      if (j || config_learned_dim(&c->m.c, (int)d))
        to[x.dk][x.row + d] += dscore * r->q[d];
    if (to[x.dv])
      add_times(D, to[x.dv] + x.row, r->g * r->a[j], r->dout);
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
 *   |got - answer| <= f (eps unit + eps' cond) + tiny reach
 *
 * with eps' of float for the types of 16 bits. f leaves right kernels a factor
 * of 3 to 10; tiny is the least normal number, of half the least. */
static const struct Type { const char *name; double unit, cond, tiny; }
TYPES[] = {
  {"float64", 4 * 0x1p-52, 4 * 0x1p-52, 0x1p-1022},
  {"float32", 4 * 0x1p-23, 4 * 0x1p-23, 0x1p-126},
  {"bfloat16", 0x1p-7, 4 * 0x1p-23, 0x1p-126},
  {"float16", 0x1p-10, 4 * 0x1p-23, 0x1p-24}};

/* x_j = w + x_of_size times the size of score j. */
typedef struct Bound {
  real w, x_of_size;
  real **to;
} Bound;

static real abs_dot(idx n, const real *x, const real *y) {
  real sum = 0;
  for (idx d = 0; d < n; d++)
    sum += fabs(x[d] * y[d]);
  return sum;
}

/* y += |a x|, where there is a y. */
static void add_abs(idx n, real *y, idx at, real a, const real *x) {
  for (idx d = 0; y && d < n; d++)
    y[at + d] += fabs(a * x[d]);
}

/* Of o, lse, lse_keys: adds their bounds; returns that of delta. */
static real bound_forward(const Case *c, Row *r, const Bound *p, real L) {
  idx D = c->D, at = query_at(c, r->b, r->h, r->i);
  real edelta = 0, w = p->w;
  for (idx j = 0; j < r->n; j++) {
    KeyAt x = column_of(c, r, j);
    real off = w + p->x_of_size * r->size[j];
    r->da[j] = r->g * abs_dot(D, r->dout, x.v);
    r->weight[j] = fabs(r->deriv[j]) * off + fabs(r->a[j]) * (w + L);
    if (j == 0 && r->z[0] > -INFINITY)
      r->weight[0] += w;
    edelta += (r->weight[j] + w * fabs(r->a[j])) * r->da[j];
    add_abs(D, p->to[OUT_O], at * D, r->g * r->weight[j], x.v);
  }
  if (!p->to[OUT_LSE])
    return edelta;
  p->to[OUT_LSE][at] += w * (1 + fabs(c->loop[OUT_LSE][at])) + L;
  if (c->loop[OUT_LSE_KEYS][at] > -INFINITY)
    p->to[OUT_LSE_KEYS][at] += w * (1 + fabs(c->loop[OUT_LSE_KEYS][at])) + L +
                               p->x_of_size * vec_max(r->n - 1, r->size + 1);
  return edelta;
}

/* One row's part of all bounds. */
static void bound_row(const Case *c, Row *r, const Bound *p) {
  idx D = c->D, at = query_at(c, r->b, r->h, r->i);
  real L = 0, delta = 0, w = p->w;
  for (idx j = 0; j < r->n; j++)
    L += fabs(r->dlogz[j]) * (w + p->x_of_size * r->size[j]);
  real edelta = bound_forward(c, r, p, L);
  for (idx j = 0; j < r->n; j++)
    delta += fabs(r->a[j]) * r->da[j];
  if (c->at[IN_DLSE])
    delta += fabs(c->at[IN_DLSE][at]);
  if (p->to[OUT_DGATE])
    p->to[OUT_DGATE][at] += (1 - r->g) * (edelta + delta * w);
  for (idx j = 0; j < r->n; j++) {
    KeyAt x = column_of(c, r, j);
    real off = w + p->x_of_size * r->size[j], dlogz = fabs(r->dlogz[j]);
    real dz = (fabs(r->deriv[j]) * r->da[j] + dlogz * delta) * (w + off + L) +
              dlogz * edelta + w * fabs(r->a[j]) * r->da[j];
    if (j == 0 && r->z[0] > -INFINITY)
      dz += w * (r->da[0] + delta);
    if (j == 0)
      add_abs(1, p->to[OUT_DSINK], r->h, dz, &(real){1});
    add_abs(D, p->to[OUT_DQ], at * D, dz * c->root, x.k);
    add_abs(D, p->to[x.dk], x.row, dz * c->root, r->q);
    add_abs(D, p->to[x.dv], x.row, r->g * r->weight[j], r->dout);
  }
}

/* A row whose weights are all 1, each for itself. */
static void weights_one(Row *r) {
  zero(r->dlogz, r->n);
  for (idx j = 0; j < r->n; j++) {
    r->a[j] = 1;
    r->deriv[j] = 1;
  }
}

/* The answer by the loop to `to`; with bounds, unit, cond and reach too. */
static int loop_case(Case *c, real **to, bool bounds, Error *e) {
  idx n = c->S + 1;
  real *scratch = grab(8 * n, sizeof(real), e), *ones[ARRAYS] = {NULL};
  for (int array = FIRST_OUT; array < ARRAYS && !e->status; array++)
    if (to[array]) {
      zero(to[array], array_size(c, array));
      ones[array] = grab(array_size(c, array), sizeof(real), e);
    }
  for (idx row = 0; !e->status && row < (idx)c->B * c->H * c->T; row++) {
    Row r = {.b = row / c->T / c->H,
             .h = row / c->T % c->H,
             .i = row % c->T,
             .n = n,
             .g = 1,
             .z = scratch,
             .a = scratch + n,
             .deriv = scratch + 2 * n,
             .dlogz = scratch + 3 * n,
             .da = scratch + 4 * n,
             .slope = scratch + 5 * n,
             .size = scratch + 6 * n,
             .weight = scratch + 7 * n,
             .q = c->at[IN_Q] + row * c->D,
             .dout = c->at[IN_DO] + row * c->D};
    if (c->at[IN_GATE])
      r.g = 1 / (1 + real_exp(-c->at[IN_GATE][row]));
    loop_scores(c, &r);
    if (!loop_forward(c, &r, to))
      continue;
    loop_backward(c, &r, to);
    if (!bounds)
      continue;
    bound_row(c, &r, &(Bound){1, 0, c->unit});
    bound_row(c, &r, &(Bound){0, 1, c->cond});
    weights_one(&r);
    bound_row(c, &r, &(Bound){1, 0, ones});
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
  return !c->has_lengths && !c->at[IN_DLSE] && c->offset == c->S - c->T &&
         c->offset >= 0 && tokens;
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

/* The forward by sink.c; x [B,N,C] is scratch for a gate. */
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
  tiled_forward(m, a, 0, c->B, N); /* log Z of each row */
  for (idx bh = 0; c->at[OUT_LSE] && bh < c->B * c->H; bh++)
    copy(c->at[OUT_LSE] + bh * c->T, la->row_stat + bh * N + c->offset, c->T);
  attention_forward(m, a, 0, c->B, N); /* 3.7 */
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
  attention_backward(m, a, 0, c->B, N); /* 3.7 */
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
  if (c->of_sink)
    sink_case(c, e);
  return e->status;
}

/* The largest |x - y| of an array, in eps of double times unit + cond. */
static double apart(const Case *c, int array, real *const *x, real *const *y) {
  double worst = 0;
  for (idx i = 0; i < array_size(c, array); i++) {
    double bound = REAL_EPS * (c->unit[array][i] + c->cond[array][i]) + DBL_MIN;
    double one = x[array][i], other = y[array][i];
    if (one != other && !(fabs(one - other) / bound <= worst))
      worst = fabs(one - other) / bound;
    if (isnan(worst))
      return INFINITY;
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
 * A key matters if it is within 700 of the largest of scores and sink: e^-700
 * is nothing beside 1. Without a sink b = -infinity; b = 0 is a zero logit. */

static bool form_row_even(const Case *c, Row *r, real **want) {
  idx n = 0, at = query_at(c, r->b, r->h, r->i), D = c->D;
  real *o = want[OUT_O] + at * D, b = r->z[0], delta = 0;
  real top = vec_max(r->n - 1, r->z + 1), most = fmax(top, b);
  bool alike = true; /* all keys have the largest score, or are 700 below it */
  for (idx j = 1; j < r->n; j++) {
    alike = alike && (r->z[j] == top || r->z[j] < top - 700);
    n += r->z[j] == top;
    if (r->z[j] < top && r->z[j] > most - 700)
      return false;
  }
  real keys = top + log((double)n), lse = log_sum(keys, b);
  want[OUT_LSE][at] = lse;
  if (alike)
    want[OUT_LSE_KEYS][at] = keys;
  zero(o, D);
  for (idx j = 0; j < r->n && lse > -INFINITY; j++) {
    KeyAt x = column_of(c, r, j);
    real a = r->g * exp(r->z[j] - lse);
    if (j && r->z[j] < top)
      a = 0;
    add_times(D, o, a, x.v);
    if (j)
      delta += a * vec_dot(D, r->dout, x.v);
    if (j)
      add_times(D, want[OUT_DV] + x.row, a, r->dout);
  }
  if (want[OUT_DSINK] && lse > -INFINITY)
    want[OUT_DSINK][r->h] -= exp(b - lse) * delta;
  return true;
}

static void form_even(Case *c, real **want, real *scratch) {
  idx n = c->S + 1, done = 0, all = (idx)c->B * c->H * c->T;
  zero(want[OUT_DV], array_size(c, OUT_DV));
  if (want[OUT_DSINK])
    zero(want[OUT_DSINK], c->H);
  for (idx row = 0; row < all; row++) {
    Row r = {.b = row / c->T / c->H,
             .h = row / c->T % c->H,
             .i = row % c->T,
             .n = n,
             .g = 1,
             .z = scratch,
             .slope = scratch + n,
             .size = scratch + 2 * n,
             .q = c->at[IN_Q] + row * c->D,
             .dout = c->at[IN_DO] + row * c->D};
    if (c->at[IN_GATE])
      r.g = 1 / (1 + real_exp(-c->at[IN_GATE][row]));
    loop_scores(c, &r);
    done += form_row_even(c, &r, want);
  }
  for (idx i = 0; done < all && i < array_size(c, OUT_DV); i++)
    want[OUT_DV][i] = (real)NAN; /* of some rows alone */
  for (idx h = 0; done < all && want[OUT_DSINK] && h < c->H; h++)
    want[OUT_DSINK][h] = (real)NAN;
  if (done == all)
    snprintf(c->closed, sizeof c->closed,
             "the n keys of largest score c: "
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
                (real)(pow(r, (double)(i - j)) * (1 - r) /
                       (1 - pow(r, (double)(i + 1)))),
                c->at[IN_V] + key_row(c, row / c->T / c->H, h, j));
  }
  snprintf(c->closed, sizeof c->closed,
           "a_ij = r^(i-j) (1-r) / (1-r^(i+1)), "
           "r = e^-slope: a geometric series");
}

/* o = sum over halves of e^(lse_half - lse) o_half, lse with the sink. */
static int form_halves(Case *c, real **want, uint64_t seed, Error *e) {
  Case half;
  zero(want[OUT_O], array_size(c, OUT_O));
  for (int second = 0; second < 2; second++) {
    const Hard *hard = hard_of("first") + second;
    if (case_open(&half, operator_of("softmax"), hard, c->D, seed, e) ||
        case_answer(&half, e))
      return e->status;
    for (idx row = 0; row < (idx)c->B * c->H * c->T; row++)
      add_times(c->D, want[OUT_O] + row * c->D,
                real_exp(half.at[OUT_LSE][row] - c->at[OUT_LSE][row]),
                half.at[OUT_O] + row * c->D);
    case_close(&half);
  }
  snprintf(c->closed, sizeof c->closed,
           "o = e^(lse1 - lse) o1 + e^(lse2 - lse) o2, of softmax-first and "
           "softmax-second");
  return 0;
}

/* q = do = 1 in dim 0 of one query; sigma(x) = 1 / (1 + e^-x). */
static void form_by_hand(Case *c, real **want) {
  double p = 1 / (1 + exp(-1)), y = 2 * tanh(1.5), s = 1 / (1 + exp(-y));
  double Z = 1 - exp(-2) + 1e-8, a = (1 - exp(-1)) / Z;
  double slope = 1 - tanh(1.5) * tanh(1.5);
  const struct {
    const char *op;
    double o, dq, dk[2], dv[2];
    const char *text;
  } HAND[] = {
    {"logit", 2 * p, 2 * p * (1 - p), {2 * p * (1 - p)}, {p},
     "z = 1, v = 2, sink 0: o = 2 p, dq = dk = -dsink = 2 p (1 - p) = "
     "0.39322387, dv = p = sigma(1), lse = log(1 + e)"},
    {"soft-cap", 2 * s, 6 * s * (1 - s) * slope, {2 * s * (1 - s) * slope}, {s},
     "z = 3, y = 2 tanh(3/2), v = 2, sink 0: o = 2 p, "
     "dk = 2 p (1 - p) (1 - tanh(3/2)^2), dq = 3 dk, p = sigma(y)"},
    {"clamp", 3, 0, {2, 1}, {1, -2},
     "z = (2, -4), v = (1, -1): a = z/2 = (1, -2), delta = 3, "
     "dz = (1/2 + 3/2, -1/2 + 3/2)"},
    {"softpick", a, (1 - a) / Z - exp(-2) * a / Z,
     {(1 - a) / Z, exp(-2) * a / Z}, {a, 0},
     "z = (1, -1), v = (1, -1): Z = 1 - e^-2 + 1e-8, "
     "a = ((1 - 1/e) / Z, 0), dz = ((1 - a_0) / Z, e^-2 a_0 / Z)"}};
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
 *   <dx, u> = (4 D(h) - D(2h)) / 3 + O(h^4)
 *      D(h) = (L(x + hu) - L(x - hu)) / 2h */

/* L(x + hu), where x was `was` and is so again. */
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

/* How far <dx, u> is from differences, relative to the sum of its terms'
 * sizes. */
static double off_difference(Case *c, int input, real **to, Error *e) {
  static const int GRADIENT[FIRST_OUT] = {
    OUT_DQ, OUT_DK, OUT_DV, 0, 0, OUT_DSINK, OUT_DKSTAR, OUT_DVSTAR, OUT_DGATE};
  static const double STEPS[] = {1, -1, 2, -2};
  double h = ldexp(1, -16);
  idx n = array_size(c, input);
  real *was = grab(2 * n, sizeof(real), e), *u = was + n;
  const real *dx = c->at[GRADIENT[input]];
  double L[4], sum = 0, size = 1;
  if (e->status)
    return NAN;
  if (!c->op->sums)
    h = ldexp(1, -22); /* kinks, not to be stepped over */
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
    L[k] = loss_beside(c, input, was, u, h * STEPS[k], to, e);
  free(was);
  double slope = (8 * (L[0] - L[1]) - (L[2] - L[3])) / (12 * h);
  return fabs(slope - sum) / size;
}

/* ==========
 * 8  Files */

/* A number of so many bytes, the lowest first. */
static void bytes_number(Bytes *b, uint64_t x, int bytes, Error *e) {
  for (; bytes > 0; bytes--, x >>= 8)
    bytes_add(b, (unsigned char[]){x & 255}, 1, e);
}

/* The head of NumPy's format 1.0, of numbers of so many bytes; `pair`: of two
 * such arrays. */
static void npy_head(const Case *c, int array, int bytes, bool pair, Bytes *out,
                     Error *e) {
  char head[160], axes[80] = "";
  if (pair)
    strcpy(axes, "2, ");
  for (const char *axis = ARRAY[array].shape; *axis; axis++)
    snprintf(axes + strlen(axes), sizeof axes - strlen(axes), "%lld, ",
             axis_length(c, *axis));
  int size = snprintf(head, sizeof head,
                      "{'descr': '<f%d', 'fortran_order': False, "
                      "'shape': (%s), }",
                      bytes, axes);
  size += snprintf(head + size, 80, "%*s", 64 - (10 + size) % 64, "\n");
  bytes_add(out, "\x93NUMPY\x01", 8, e);
  bytes_number(out, (uint64_t)size, 2, e);
  bytes_add(out, head, (size_t)size, e);
}

/* An array, float64; its unit and cond, float32 [2, ..]. */
static void npy_array(const Case *c, int array, Bytes *out, Error *e) {
  npy_head(c, array, 8, false, out, e);
  for (idx i = 0; i < array_size(c, array); i++)
    bytes_number(out, bits_of_double(c->at[array][i]), 8, e);
}
static void npy_bounds(const Case *c, int array, Bytes *out, Error *e) {
  real *const both[] = {c->unit[array], c->cond[array]};
  npy_head(c, array, 4, true, out, e);
  for (int k = 0; k < 2; k++)
    for (idx i = 0; i < array_size(c, array); i++)
      bytes_number(out, bits_of((float)fmax(both[k][i], 1e-37)), 4, e);
}

/* "name": [x, y], or null for none. */
static void json_list(const char *name, int n, const double *x, Bytes *out,
                      Error *e) {
  const char *before = "[", *end = "null";
  bytes_print(out, e, " \"%s\": ", name);
  for (int i = 0; i < n; i++) {
    bytes_print(out, e, "%s%.17g", before, x[i]);
    before = ", ";
    end = "]";
  }
  bytes_print(out, e, "%s,\n", end);
}

/* case.json. */
static void json_case(const Case *c, Bytes *out, Error *e) {
  static const char *const TRUTH[] = {"false", "true"};
  static const char *const FROM[] = {"the plain loop", "sink.c 3.7"};
  double lengths[2] = {c->length[0], c->length[1]}, slopes[8];
  bool alibi = c->m.c.pos == POS_ALIBI;
  for (int h = 0; h < c->H; h++)
    slopes[h] = pow(2, -8.0 * (h + 1) / c->H);
  bytes_print(out, e,
              "{\"name\": \"%s\", \"operator\": \"%s\",\n "
              "\"formula\": \"%s\",\n \"about\": \"%s\",\n "
              "\"closed\": \"%s\",\n \"answer\": \"%s\",\n",
              c->name, c->op->name, c->op->formula, c->hard->about, c->closed,
              FROM[c->of_sink]);
  bytes_print(out, e,
              " \"batch\": %d, \"heads\": %d, \"kv_heads\": %d, "
              "\"queries\": %d, \"keys\": %d, \"dim\": %d,\n",
              c->B, c->H, c->K, c->T, c->S, c->D);
  bytes_print(out, e,
              " \"scale\": %.17g, \"causal\": %s, \"offset\": %d, "
              "\"window\": %d, \"prefix\": %d, \"sink_tokens\": %d, "
              "\"soft_cap\": %g,\n",
              c->root, TRUTH[c->causal], c->offset, c->window, c->prefix,
              c->tokens, c->cap);
  json_list("lengths", c->has_lengths * c->B, lengths, out, e);
  json_list("slopes", alibi * c->H, slopes, out, e);
  const char *between = "";
  bytes_print(out, e, " \"types\": {");
  for (const struct Type *t = TYPES; t < TYPES + (c->narrow ? 2 : 4); t++) {
    bytes_print(out, e, "%s\n  \"%s\": [%.17g, %.17g, %.17g]", between, t->name,
                t->unit, t->cond, t->tiny);
    between = ",";
  }
  bytes_print(out, e, "},\n \"reach\": {");
  between = "";
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

/* Writes a file of a case, with its folders, and counts it. Without fsync: the
 * next run makes the same. */
static void keep(Kit *k, const Case *c, const char *name, Bytes *b, Error *e) {
  char path[PATH_ROOM + 120];
  snprintf(path, sizeof path, "%s/%s/%s", k->out, c->name, name);
  for (char *at = path; k->out[0] && (at = strchr(at + 1, '/')); *at = '/') {
    *at = 0;
    make_folder(path);
  }
  if (k->out[0] && !e->status) {
    FILE *f = fopen(path, "wb");
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
    npy_array(c, array, &b, e);
    snprintf(name, sizeof name, "%s.npy", ARRAY[array].name);
    keep(k, c, name, &b, e);
    if (array < FIRST_OUT)
      continue;
    npy_bounds(c, array, &b, e);
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

typedef struct Verdict {
  int passed, failed;
  bool loud;
} Verdict;

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

/* A whole number of a flag. */
static long number_of(const char *word, const char *value, long least,
                      long most, Error *e) {
  char *end;
  long n = strtol(value, &end, 10);
  if (!*value || *end || n < least || n > most)
    fail(e, 2, "%s %s: expected a whole number, %ld to %ld. Try: %s %ld", word,
         value, least, most, word, least);
  return n;
}

static int kit_flags(Kit *k, bool *check, int argc, char **argv, Error *e) {
  for (int i = 1; i < argc && !e->status; i++) {
    const char *word = argv[i], *value = "";
    if (!strcmp(word, "check")) {
      *check = true;
      continue;
    }
    if (i + 1 < argc)
      value = argv[++i];
    if (!strcmp(word, "--out") && *value && strlen(value) < PATH_ROOM)
      strcpy(k->out, value);
    else if (!strcmp(word, "--dim"))
      k->D = (int)number_of(word, value, LEARNED_DIMS, MOST_DIMS, e);
    else if (!strcmp(word, "--seed"))
      k->seed = (uint64_t)number_of(word, value, 0, INT32_MAX, e);
    else
      fail(e, 2,
           "%s: unknown flag, or no value after it. Try: ./vectors --out DIR",
           word);
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
  set_workers(1); /* the cases are small */
  if (!kit_flags(&k, &v.loud, argc, argv, &e)) {
    if (v.loud)
      k.out[0] = 0;
    kit_run(&k, &v, &e);
  }
  if (!e.status && v.loud)
    printf("%d cases, %d files, %.1f MB, their hash %016llx\n%d passed, %d "
           "failed\n",
           k.cases, k.files, k.bytes * 1e-6, (unsigned long long)k.hash,
           v.passed, v.failed);
  else if (!e.status)
    printf("%s: %d cases, %d files, %.1f MB, their hash %016llx\n", k.out,
           k.cases, k.files, k.bytes * 1e-6, (unsigned long long)k.hash);
  if (!e.status && v.failed)
    fail(&e, 1, "%d checks failed. Try: %s", v.failed,
         v.loud ? "the lines above" : "./vectors check");
  if (e.status)
    fprintf(stderr, "vectors: %s\n", e.text);
  return e.status;
}
