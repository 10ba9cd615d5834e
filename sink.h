/* sink.h - the types of Part I of sink.c, and what makes a model and its room.
 * SPDX-License-Identifier: MIT
 *
 * sink.c's masthead has the formula, the letters and the contents; the types of
 * later parts stand before its chapter 8. [B,N,C] is the shape of an array.
 * y = x W has row vectors and W [in, out], as in the paper. dw, the gradient of
 * w, has w's shape; a backward adds to it.
 *
 * Errors: a function that can fail returns 0 or a status, and fills an Error
 * that begins as {0}; the first one stays. Only main prints it. Status 1: a
 * file, the data, the numbers or a check; 2: wrong usage.
 *
 * A PROGRAM that includes sink.c calls, in this order:
 *   config_from_flags, which resolves; model_create, all 0; model_init draws
 *   or checkpoint_load: no data, and gradients only if with_moments
 *   acts_create: room for B sequences of T tokens; a backward needs ACTS_ALL
 *   model_zero_grads, model_forward, model_loss of share 1 (0: a loss alone),
 *   model_backward; or sinks_create, sinks_measure .. there, sinks_finish
 * or settings_default, settings_flags, trainer_create, trainer_step ..; each
 * _free, harmless on {0} and twice. B or T beyond the room (sinks_measure alone
 * refuses it), an id from V on, another order: a crash, or wrong numbers. */
#ifndef SINK_H
#define SINK_H

#include <float.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
#error "sink: this is C11, not C++. Try: a C compiler"
#endif
/* Floats must be computed as floats: x87's further digits break 13.3, which
 * rounds by adding. (Method 16 widens _Float16 only.) */
#if FLT_EVAL_METHOD % 16 || (defined __TINYC__ && defined __i386__)
#error "sink: expected FLT_EVAL_METHOD 0. Try: -msse2 -mfpmath=sse; s390x: -fexcess-precision=fast"
#endif
/* Fast-math changes numbers and loses NaN. Its macros do not show all of it, so
 * sink_main tests the arithmetic, too. */
#if defined __FAST_MATH__ || defined __ASSOCIATIVE_MATH__ \
    || defined __RECIPROCAL_MATH__ || defined __NO_SIGNED_ZEROS__ \
    || (defined __FINITE_MATH_ONLY__ && __FINITE_MATH_ONLY__)
#error "sink: expected exact arithmetic. Try: -O3 without -Ofast, -f..-math.."
#endif

/* The precision: the double build is the oracle of the float one. */
#ifdef SINK_DOUBLE
typedef double real;
#define REAL_EPS 2.220446049250313e-16
#else
typedef float real;
#define REAL_EPS 1.1920928955078125e-07
#endif

/* Counts and offsets: signed, to mix with int; too wide to overflow. */
typedef long long idx;
static inline idx at_most(idx n, idx most) { return n < most ? n : most; }

/* Element (i, j) of a matrix is at[i*row + j*col]. One of the strides is 1. */
typedef struct Matrix {
  const real *at;
  idx row, col;
} Matrix;

/* A line that a user can act on: "FILE: expected X, found Y. Try: COMMAND". */
typedef struct Error {
  int status;
  char text[640];
} Error;
enum { PATH_ROOM = 512 };

typedef struct Rng {
  uint64_t state;               /* SplitMix64 (Steele, Lea and Flood 2014) */
} Rng;

#define PI              3.14159265358979323846
#define SQRT_HALF       0.70710678118654752440
#define INV_SQRT_2PI    0.39894228040143267794
#define SQRT_2_OVER_PI  0.79788456080286535588

/* ---------- 1  Config and variants
 * The first row of an axis, 0, is the default: the paper's, or as F1 to F4 say.
 * SIM_EXP is `--sim exp`; SIM_ROWS counts the rows. A companion (data/) adds
 * rows, fields and tensors by the MORE_ macros, before sink.c: all, or none. */
#ifndef MORE_CONFIG
#define MORE_CONFIG             /* fields of Config */
#define MORE_NORM               /* of Norm */
#define MORE_LAYER              /* of Layer */
#define MORE_MODEL              /* of Model */
#define MORE_LAYER_ACTS         /* of LayerActs */
#define MORE_ACTS               /* of Acts */
#define MORE_NORMS              /* rows of the axes: ", NORM_..." */
#define MORE_PLACES
#define MORE_SIMS
#define MORE_NORMALIZERS
#define MORE_EXTRAS
#define MORE_OPTIMIZERS
#define MORE_CHOICES            /* further axes */
#define MORE_VARIANTS           /* rows of VARIANTS */
#define MORE_RESOLVE(c, e) 0    /* 0, or 2 and an error: rows that do not fit */
#define MORE_DUMP(d)            /* further arrays of a dump */
#define MORE_SETUP(m, e) 0      /* fills in a model's seams (14.3) */
#endif

#define CHOICE_ROWS(axis, ...)                                                 \
    enum { __VA_ARGS__, axis##_ROWS };                                         \
    static const char axis##_WORDS[] = #__VA_ARGS__
#define CHOICE(axis, ...) CHOICE_ROWS(axis, __VA_ARGS__)

CHOICE(POS, POS_ROTARY, POS_NONE, POS_ABSOLUTE, POS_LEARNED, POS_RELATIVE,
       POS_T5, POS_ALIBI);      /* from POS_RELATIVE on: a bias b_h (3.4) */
CHOICE(PAIR, PAIR_HALF, PAIR_INTERLEAVED);   /* which two dims rotate together */
CHOICE(NORM, NORM_RMS, NORM_LAYER MORE_NORMS);
CHOICE(PLACE, PLACE_PRE, PLACE_POST MORE_PLACES);
CHOICE(ACT, ACT_SWIGLU, ACT_GEGLU, ACT_REGLU, ACT_GEGLUTANH, ACT_SWISH,
       ACT_GELU, ACT_RELU, ACT_GELUTANH);
CHOICE(COMBINE, COMBINE_CONCAT, COMBINE_ADD);
CHOICE(KERNEL, KERNEL_IDENTITY, KERNEL_ELU, KERNEL_MLP);
CHOICE(SIM, SIM_EXP, SIM_SIGMOID, SIM_ELU, SIM_IDENTITY MORE_SIMS);
CHOICE(NORMALIZER, NORMALIZER_SUM, NORMALIZER_ONE, NORMALIZER_CLAMP,
       NORMALIZER_PNORM MORE_NORMALIZERS);
CHOICE(EXTRA, EXTRA_NONE, EXTRA_K, EXTRA_KV, EXTRA_ZERO,
       EXTRA_LOGIT MORE_EXTRAS);
MORE_CHOICES
CHOICE(ORDER, ORDER_FIRST, ORDER_LAST, ORDER_LOWFREQ);
CHOICE(VALUE, VALUE_ZERO, VALUE_E1, VALUE_ONES);
CHOICE(INIT, INIT_TORCH, INIT_AUTHORS, INIT_GPT2);
CHOICE(SCHEDULE, SCHEDULE_CONSTANT, SCHEDULE_COSINE);
CHOICE(OPTIMIZER, OPTIMIZER_ADAMW, OPTIMIZER_SGD MORE_OPTIMIZERS);
CHOICE(METRIC, METRIC_REAL, METRIC_PLUS1);    /* which rows it reads */
enum { VOCAB_DEFAULT = 2048, SINK_TOKENS = 16 };

/* The model: one row on each axis. All fields are int or double, so that the
 * table of options (chapter 16) treats them alike. */
typedef struct Config {
  int layers, heads;            /* L, H */
  int kv_heads;                 /* K; 0 means H */
  int dim, head_dim, ffn;       /* C, D (0 means C / H), F */
  int vocab, context;           /* V (0 means VOCAB_DEFAULT); the longest T */
  int pos;                      /* POS_* */
  int rotary_dims;              /* r: dims that rotate; 0 means D */
  int rope_pairing;             /* PAIR_* */
  double rope_base;             /* 10000 */
  int norm, place;              /* NORM_*, PLACE_* */
  double norm_eps;              /* under the root of a norm (3.2) */
  int act;                      /* ACT_*: Table 11; the first four are gated */
  int tied, linear_bias;        /* switches: W_cls is W_E^T; a bias in x W */
  int combine;                  /* COMBINE_*: Table 12 left */
  int kernel, sim, normalizer;  /* Table 15 */
  double pnorm, scale;          /* p > 0 of eq. 43 (0: 2); alpha of eq. 29 */
  int extra;                    /* EXTRA_*: Table 4 */
  int extra_shared;             /* one k* for all heads: Table 12 right */
  int extra_dims, extra_order;  /* d_a learned dims, 0 means D: Table 13 */
  int extra_value;              /* VALUE_*: the fixed v* of Table 5 */
  double extra_norm;            /* its length m */
  int vbias;                    /* a switch: the V biases of Table 4 */
  int sink_token;               /* how many rows x* stand before the text */
  int window, prefix;           /* w keys, 0: all (Figure 6); p (Figure 5) */
  MORE_CONFIG
} Config;

/* A row of the paper, with Sink_1 in percent and the loss in nats as printed:
 * "sigmoid", "--sim sigmoid --normalizer one", "Table 15, 2", "0.44", "3.70" */
typedef struct Variant {
  const char *name, *flags, *source, *sink, *loss;
} Variant;
extern const Variant VARIANTS[];         /* ends with a NULL name */

/* ---------- 2  Parameters */

typedef struct Model Model;
typedef struct Layer Layer;
typedef struct Acts Acts;
typedef struct LayerActs LayerActs;
struct Step;

/* A tensor and its gradient. y = x W maps `rows` numbers to `cols`. */
typedef struct Tensor {
  char name[32];                /* "l0.wq" */
  int rank, rows, cols;         /* row-major; a vector has rank 1 and cols 1 */
  int init, layer;              /* INITIAL_*; its block, or -1 */
  int fan_in;                   /* rows; for a bias its matrix's */
  double start;                 /* its first value, if not drawn */
  bool matrix;                  /* decayed under --decay matrices */
  real *w, *d;                  /* NULL where the variant has none */
  struct Tensor *bias;          /* b [cols] of y = x W + b, or NULL */
  /* NULL, or a companion's y [n,out] = x [n,in] W, or W^T, for a W that lies
   * elsewhere, in `stored` */
  void (*product)(const struct Tensor *W, bool transposed, real *y,
                  const real *x, idx n);
  void *stored;
} Tensor;

typedef struct Norm {
  Tensor g, b;                  /* gain [C]; bias [C], of LayerNorm alone */
  double eps;
  /* NULL, or a companion's in place of 3.2 */
  void (*forward)(const struct Norm *w, real *y, const real *x, idx rows);
  void (*backward)(struct Norm *w, real *dx, const real *dy, const real *x,
                   real *stat, idx rows);
  MORE_NORM
} Norm;

/* Block l's token mixer or feed-forward: from x to y [B,N,C]. */
typedef void Sublayer(const Model *m, Acts *a, int l, real *y, const real *x,
                      int B, idx N);

/* The parameters of one block. */
struct Layer {
  Norm norm1, norm2;            /* before, or after, MHSA and FFN */
  Tensor wq, wk, wv, wo;        /* [C,H*D] [C,K*D] [C,K*D] [H*D,C] (3.9: [D,C]) */
  Tensor bq, bk, bv, bo;        /* with linear biases */
  Tensor w1, w2, w3;            /* [C,F]; if gated [C,F]; the last [F,C] */
  Tensor b1, b2, b3;
  Tensor kstar, vstar;          /* [H,D], shared [1,D]: Table 4's biases */
  Tensor logit, vplus;          /* [H] z_i* itself; [H,D] the value bias */
  Tensor phi1, phi2;            /* [D,D]: the mlp kernel */
  Sublayer *mix, *feed;         /* mhsa_forward, feed_forward, or others */
  int window;                   /* w of this block, 0: all */
  real root;                    /* what <q, k> is multiplied by: 1/sqrt(D) */
  MORE_LAYER
};

/* The row of scores that a seam is called for. */
typedef struct RowAt {
  int l;                        /* block, from 0 */
  idx b, h, i;                  /* sequence, head, query */
  idx lo;                       /* z[1 + j] is the score of key lo + j */
} RowAt;

/* How scores z [n] become weights a [n]. The paper's: row, row_metric (3.6),
 * row_forward, row_backward, row_normalizer (14.1). */
typedef struct RowKind {
  real (*plain)(const Config *c, idx n, const real *z, real *a, real *deriv,
                real *dlogz);
  real (*forward)(const Config *c, idx n, real *z, real *spare);
  void (*backward)(const Config *c, idx n, const real *z, real row_stat,
                   real *a, real *deriv, real *dlogz);
  real (*normalizer)(const Config *c, real row_stat);
  void (*metric)(const Config *c, idx n, const real *a, real Z, real *m);
} RowKind;

/* SEAMS: what a companion adds to the paper's decoder or replaces in it.
 * MORE_SETUP fills them in, or a program behind model_create, which calls
 * tensors and lacks. In ./sink all are NULL but `row`. A number names the
 * section that calls. Those that get a RowAt run in parallel over b and h. */
typedef struct Seams {
  const RowKind *row;
  const char *forward_only;     /* the flag of a part without a backward */
  /* 2: appends the tensors of block l that follow `after`; how many more than
   * 64 a block may have; does block l lack a tensor of the paper's? */
  void (*tensors)(Model *m, int l, const Tensor *after);
  int tensor_room;
  bool (*lacks)(const Model *m, int l, const char *name);
  /* 3.1: rows [T,C] from ids [T]; backward from dh [B,N,C] */
  void (*embed)(const Model *m, Acts *a, const int *ids, int T, real *rows);
  void (*embed_backward)(Model *m, Acts *a, const int *ids, int B, int T,
                         const real *dh);
  void (*tables)(const Model *m, Acts *a, idx N);   /* 3.4: rotations, N rows */
  /* 3.7: scores z [1+n] before sim, -INFINITY where masked, which must stay,
   * and at z[0] without *; y [1+n] is kept for the backward */
  void (*scores)(const Model *m, const Acts *a, const RowAt *at, idx n, real *z,
                 real *y);
  void (*scores_backward)(Model *m, const Acts *a, const RowAt *at, idx n,
                          real *dz, const real *y);
  /* 3.7: weights a [1+n], divided by Z; their da, before delta, map linearly */
  void (*weights)(const Model *m, const Acts *a, const RowAt *at, idx n,
                  real *weight);
  void (*weights_backward)(const Model *m, const Acts *a, const RowAt *at,
                           idx n, const real *weight, real *da);
  /* 3.7: before (begin) and after the heads of a block's backward */
  void (*slots)(Model *m, Acts *a, int l, int B, idx N, bool begin);
  /* 4: after q, k, v, before they rotate; x is what W_Q reads */
  void (*qkv)(const Model *m, Acts *a, int l, real *k, real *v, const real *x,
              idx rows);
  void (*qk_backward)(Model *m, Acts *a, int l, idx rows);
  void (*v_backward)(Model *m, Acts *a, int l, real *dx, const real *x,
                     idx rows);
  /* 4: takes la->o from the heads' outputs to what W_O reads, with v+ */
  void (*leave)(const Model *m, Acts *a, int l, const real *v, idx rows);
  void (*leave_backward)(Model *m, Acts *a, int l, int B, idx N);
  void (*block)(const Model *m, Acts *a, int l, int B, idx N); /* 4: a block */
  void (*block_backward)(Model *m, Acts *a, int l, int B, idx N);
  /* 5: logits y [R,V] of rows [R,C]; a->dslice from dy in a->logits; the loss */
  void (*logits)(const Model *m, Acts *a, const real *rows, idx R, real *y);
  void (*logits_backward)(Model *m, Acts *a, idx R);
  bool (*loss)(const Model *m, Acts *a, const int *targets, int B, int T,
               double *mean);
  /* 10.2: another optimiser's step of t; its scratch, 0 if AdamW steps t, the
   * most of all if t is NULL */
  void (*step)(const struct Step *s, Tensor *t, real *m1, real *scratch);
  idx (*step_room)(const Model *m, const Tensor *t);
  /* 14: further arrays, placed by arena_take; la: a block's, or NULL */
  void (*room)(const Model *m, Acts *a, LayerActs *la, bool keeps);
  /* 11.0: around an evaluation whose forwards read a file `passes` times;
   * fault: 0, or the status of a forward that could not read it */
  void (*begin)(const Model *m, double passes, bool loss, bool quiet);
  void (*end)(const Model *m, const Error *e);
  int (*fault)(const Model *m, Error *e);
  void (*close)(Model *m);
} Seams;

struct Model {
  Config c;
  int embed;                    /* width of wte and W_cls: C */
  Tensor wte, xstar;            /* [V,C]; [n,C] n sink tokens */
  Tensor wpe, rel;              /* [rows,C] learned P; [32,H] T5's bias */
  Norm normf;                   /* the final norm, absent under post-norm */
  Tensor wcls;                  /* [C,V], absent where it is tied */
  Layer *layer;                 /* [L] */
  Tensor **all;                 /* [n_tensors] in here: a Model must not move */
  int n_tensors;
  idx count;                    /* numbers in params, tensors end to end */
  real *params, *grads;         /* grads: NULL in a model that only evaluates */
  Seams seams;
  bool plain;                   /* --plain: 3.7's loops, no tiles */
  MORE_MODEL
};

int model_create(Model *m, const Config *c, bool with_grads, Error *e);
void model_zero_grads(Model *m);
void model_free(Model *m);

/* ---------- 4  The block and the model */

/* What a block keeps from forward to backward, for B sequences of N rows. */
struct LayerActs {
  const real *x;                /* [B,N,C] the block's input h^l, l from 0 */
  real *n1, *n1stat;            /* [B,N,C] norm 1's output; [B,N,2] mu, 1/sigma */
  real *q, *k, *v;              /* [B,N,H,D] [B,N,K,D] [B,N,K,D]; rotated */
  real *fq, *fk;                /* phi(q), phi(k); q and k without a kernel */
  real *hq, *hk;                /* the mlp kernel's hidden layers */
  real *o, *osum;               /* [B,N,H,D] heads; [B,N,D] their sum (3.9) */
  real *row_stat;               /* [B,H,N] one number a row of scores (14.1) */
  real *s1, *s2;                /* [B,N,C] x + MHSA(..); u + FFN(..) */
  real *n2, *n2stat;            /* [B,N,C] [B,N,2] */
  real *f1, *f2, *fa;           /* [B,N,F] x W1, x W2, and what W3 reads */
  const real *cosine, *sine;    /* [N,r/2] this block's rotations */
  MORE_LAYER_ACTS
};

/* Maps [B,H,N,S] or NULL, for attention to fill: z_ij, scale s_ij / Z_i, m_ij;
 * 0 where invisible. Columns are *, x*, 1..T. */
typedef struct Probe { real *z, *weight, *metric; } Probe;

enum { SLICE = 160 };           /* rows of logits at a time */

struct Acts {
  int B, T, N;                  /* room; a smaller pass packs by its own B, N */
  idx past;                     /* cached rows, set by the caller; then B = 1 */
  LayerActs *layer;             /* [L] */
  real *h0;                     /* [B,N,C] H^0 */
  const real *h, *nf;           /* [B,N,C] the stream; its final norm */
  real *fnorm, *nfstat;         /* [B,N,C] [B,N,2] */
  real *vfixed;                 /* [D] the fixed v* of Table 5, or NULL */
  Probe *probe;                 /* [L] or NULL: set before a forward */
  real *cosine, *sine;          /* [N,r/2] of the rotations */
  real *sinusoid;               /* [N,C] absolute positions */
  real *bias, *dbias;           /* [H,2N-1] b_h(i-j) at N-1 + j-i; [B,H,2N-1] */
  real *dh, *dx, *dn;           /* [B,N,C] gradients, down the stack */
  real *dq, *dk, *dv;           /* like q, k, v */
  real *dout, *dosum;           /* like o, osum */
  real *dphi, *df1, *df2;       /* like q: scratch of phi; like f1, f2 */
  real *slot;                   /* [B,H,slot_size]: dk*, dv*, dv+, dlogit */
  real *scratch;                /* of attention, scratch_size for each thread */
  idx scratch_size;
  real *slice, *dslice;         /* [SLICE,C] rows on the way to the loss */
  real *logits;                 /* [SLICE,V] */
  double *loss_row;             /* [B,T] -log p of a target; -1: not scored */
  int threads;                  /* pieces of scratch */
  double seen, cpu, lost, retry;   /* seconds: how a pass keeps pace (14.2) */
  idx size;
  real *arena;                  /* all arrays, `size` numbers */
  MORE_ACTS
};

/* What outlives a block's forward: nothing, so all blocks share the memory of
 * one; everything, for a backward; keys and values, for later rows. */
enum { ACTS_ONE, ACTS_ALL, ACTS_KEYS };
int acts_create(Acts *a, const Model *m, int B, int T, int what, Error *e);
void acts_free(Acts *a);

/* The paper's row (14.1); attention of block l (3.7) in tiles (14.2). */
extern const RowKind PAPER_ROW;
void tiled_forward(const Model *m, Acts *a, int l, int B, idx R);
void tiled_backward(Model *m, Acts *a, int l, int B, idx N);

/* ---------- 6  The sink metrics */

enum { EPS_MOST = 12 };         /* most thresholds at a time */

/* What a measurement finds: sums over sequences; sinks_finish makes means. */
typedef struct Sinks {
  int L, H, T, N, S, batch;
  int n;                        /* sequences so far */
  int heads;                    /* in all blocks that attend */
  bool *attends;                /* [L]; if false, in no mean over heads */
  double even, even_self;       /* alpha_1 of even rows; alpha_self */
  int n_eps;
  double eps[EPS_MOST];
  int starts;                   /* sequences that start a document */
  char bad[64];                 /* where a NaN was met, or "" */
  double *alpha;                /* [L,H,S] alpha_k */
  double *over;                 /* [n_eps,L,H,S] share with alpha_k > eps */
  double *entropy, *mass, *raw; /* [L,H] nats of a row; its weights' sum; |..| */
  double *self, *prev;          /* [L,H] mean m_ii, m_i,i-1 over rows 2 .. T */
  double *weighing;             /* [L,H] rows with a nonzero weight */
  double *plain_entropy;        /* [L,H] -sum m log m */
  double *hnorm, *prenorm;      /* [L+1,N] |h_n^l|; [L,N] before a post-norm */
  double *knorm, *vnorm;        /* [L,N] means over heads */
  double *cosine, *product;     /* [L,H,2] cos(q_t, k_j), |q_t| |k_j| */
  double massive, median;       /* largest |h| over blocks; median |h| there */
  double loss;                  /* mean cross-entropy, with targets */
  double *sums;                 /* [n_sums] all arrays above */
  idx n_sums;
  Probe *probe;                 /* [L] */
  real *maps, *extreme;         /* [2,batch,H,N,S]; [batch,N,C] */
} Sinks;

#endif
