/* sink.h - the types of sink.c, and what its chapters and the companions need of later chapters.
 * SPDX-License-Identifier: MIT
 *
 * Everything stands in sink.c's order; its masthead has the formula, the letters and the contents.
 * A comment [B,N,C] is the shape of an array. Row vectors: y = x W, W stored [in, out], as in the
 * paper. dw, the gradient of w, has its shape, is summed with +=, and zeroed by model_zero_grads.
 *
 * Errors: a function that can fail returns 0 or a status and fills one line of text (struct Error).
 * Only main prints and exits. Status 1: a file, the data, the numbers or a check; 2: wrong usage.
 */
#ifndef SINK_H
#define SINK_H

#include <float.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* The precision. The double build (-DSINK_DOUBLE) is the oracle of the float build. A float must be
 * computed as a float (16 widens halves alone): 13.3 rounds by adding, which x87's digits break. */
#if FLT_EVAL_METHOD % 16 || (defined __TINYC__ && defined __i386__)
#error "sink: expected FLT_EVAL_METHOD 0. Try: -msse2 -mfpmath=sse; s390x: -fexcess-precision=fast"
#endif
#ifdef SINK_DOUBLE
typedef double real;
#define REAL_EPS 2.220446049250313e-16
#else
typedef float real;
#define REAL_EPS 1.1920928955078125e-07
#endif

/* Fast-math changes the numbers, and loses NaN. No compiler tells all of it: */
/* sink_main tries, at run time, whether sums keep their order. */
#if defined __FAST_MATH__ || defined __ASSOCIATIVE_MATH__ \
    || defined __RECIPROCAL_MATH__ || defined __NO_SIGNED_ZEROS__ \
    || (defined __FINITE_MATH_ONLY__ && __FINITE_MATH_ONLY__)
#error "sink: expected exact arithmetic. Try: -O3 without -Ofast, -f..-math.."
#endif

/* Counts and offsets: signed and wide, so that they mix with int and no product overflows. */
typedef long long idx;
static inline idx at_most(idx n, idx most) { return n < most ? n : most; }

/* A matrix: element (i, j) lies at at[i*row + j*col]. One of the strides is 1. */
typedef struct Matrix { const real *at; idx row, col; } Matrix;

/* One line that a user can act on: "FILE: expected X, found Y. Try: COMMAND". */
typedef struct Error { int status; char text[640]; } Error; enum { PATH_ROOM = 512 };

typedef struct Rng { uint64_t state; } Rng;     /* SplitMix64 (Steele, Lea and Flood 2014) */
typedef struct Bytes { unsigned char *at; size_t size, room; } Bytes;     /* a growing array */

/* A file in the making. After writing_begin returned 0, writing_end must follow: it gives the file
 * its name, or where e holds an error leaves what stood there. */
typedef struct Writing {   /* the caller's path; PATH.new */
  FILE *f; const char *path; char beside[1100];
} Writing;

#define PI              3.14159265358979323846
#define SQRT_HALF       0.70710678118654752440
#define INV_SQRT_2PI    0.39894228040143267794
#define SQRT_2_OVER_PI  0.79788456080286535588

/* ---------- 1  Config and variants
 * The first row of every axis is the paper's default, so a zeroed enum is the
 * baseline. The command line calls a row as its constant is called here:
 * SIM_EXP is `--sim exp`. SIM_ROWS counts the rows.
 *
 * A companion (data/) may bring further rows, fields and tensors. It defines
 * the MORE_ macros below before it includes sink.c, which leaves them empty. */

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
#define MORE_CHOICES            /* axes besides */
#define MORE_VARIANTS           /* rows of VARIANTS */
#define MORE_RESOLVE(c, e) 0    /* 0, or 2 and an error: rows that do not fit */
#define MORE_DUMP(d)            /* arrays of a dump besides */
#define MORE_SETUP(m, e) 0      /* fills in the seams of a model (chapter 2) */
#endif

#ifndef MORE_OPEN
#define MORE_OPEN(path, room, t, e) false   /* a file that is no checkpoint */
#define MORE_HELP false         /* are flags of published models shown? */
#endif

#define CHOICE_ROWS(axis, ...)                                                 \
    enum { __VA_ARGS__, axis##_ROWS };                                         \
    static const char axis##_WORDS[] = #__VA_ARGS__
#define CHOICE(axis, ...) CHOICE_ROWS(axis, __VA_ARGS__)

CHOICE(POS, POS_ROTARY, POS_NONE, POS_ABSOLUTE, POS_LEARNED, POS_RELATIVE,
       POS_T5, POS_ALIBI);
CHOICE(PAIR, PAIR_HALF, PAIR_INTERLEAVED);    /* which two dims rotate together */
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
CHOICE(DECAY, DECAY_ALL, DECAY_MATRICES);
CHOICE(TOY, TOY_NONE, TOY_TRIGGER, TOY_BACKCOPY);         /* tasks of ./paper */
CHOICE(INPUT, INPUT_NATURAL, INPUT_RANDOM, INPUT_REPEAT);
CHOICE(METRIC, METRIC_REAL, METRIC_PLUS1);    /* the rows that it reads */
CHOICE(ABLATE, ABLATE_NONE, ABLATE_KEY1, ABLATE_VALUE1, ABLATE_VALUE1_MEAN,
       ABLATE_KSTAR);
enum { VOCAB_DEFAULT = 2048, SINK_TOKENS = 16 };

/* The model: one row chosen on each axis. Integers and doubles only, so that
 * the table of options (chapter 16) treats every field alike. */
typedef struct Config {
  int layers, heads;            /* L, H */
  int kv_heads;                 /* K; 0 means H */
  int dim, head_dim, ffn;       /* C, D (0 means C / H), F */
  int vocab, context;           /* V (0 means VOCAB_DEFAULT); the longest T */
  int pos;                      /* POS_* */
  int rotary_dims;              /* r: how many dims rotate; 0 means D */
  int rope_pairing;             /* PAIR_* */
  double rope_base;             /* 10000 */
  int norm, place;              /* NORM_*, PLACE_* */
  double norm_eps;              /* under the root of a norm (3.2) */
  int act;                      /* ACT_*: Table 11; the first four are gated */
  int tied, linear_bias;        /* switches: W_cls is W_E^T; a bias in x W */
  int combine;                  /* COMBINE_*: Table 12 left */
  int kernel, sim, normalizer;  /* Table 15 */
  double pnorm, scale;          /* p of equation 43; alpha of equation 29 */
  int extra;                    /* EXTRA_*: Table 4 */
  int extra_shared;             /* one k* for all heads: Table 12 right */
  int extra_dims, extra_order;  /* d_a learned dims, 0 means D: Table 13 */
  int extra_value;              /* VALUE_*: the fixed v* of Table 5 */
  double extra_norm;            /* and its length */
  int vbias;                    /* a switch: the V biases of Table 4 */
  int sink_token;               /* how many rows x* stand before the text */
  int window, prefix;           /* w keys, 0: all (Figure 6); p (Figure 5) */
  MORE_CONFIG
} Config;

/* A named row of the paper, its Sink_1 in percent and its loss as printed:
 * "sigmoid", "--sim sigmoid --normalizer one", "Table 15, 2", "0.44", "3.70" */
typedef struct Variant {
  const char *name, *flags, *source, *sink, *loss;
} Variant;
extern const Variant VARIANTS[];         /* ends with a NULL name */

/* ---------- 2  Parameters */

struct Model;
struct Acts;
struct LayerActs;
struct Step;

/* A tensor carries its gradient. y = x W takes `rows` numbers to `cols`. */
typedef struct Tensor {
  char name[32];                /* "l0.wq" */
  int rank, rows, cols;         /* row-major; a vector has rank 1 and cols 1 */
  int init, layer;              /* how it starts; its block, or -1 */
  double start;                 /* the number, where it is not drawn */
  bool matrix;                  /* decayed under --decay matrices */
  real *w, *d;                  /* NULL where the variant has none */
  /* NULL, or y [n,out] = x [n,in] W of a companion, whose W lies elsewhere;
   * W^T where transposed */
  void (*product)(const struct Tensor *W, bool transposed, real *y,
                  const real *x, idx n);
  void *stored;                 /* for that */
} Tensor;

typedef struct Norm {
  Tensor g, b;                  /* gain [C]; bias [C], of LayerNorm alone */
  double eps;
  /* NULL, or what a companion has in place of 3.2 */
  void (*forward)(const struct Norm *w, real *y, const real *x, idx rows);
  void (*backward)(struct Norm *w, real *dx, const real *dy, const real *x,
                   real *stat, idx rows);
  MORE_NORM
} Norm;

/* The parameters of one block. */
typedef struct Layer {
  Norm norm1, norm2;            /* before, or behind, MHSA and FFN */
  Tensor wq, wk, wv, wo;        /* [C,H*D] [C,K*D] [C,K*D] [H*D,C]; Table 12: [D,C] */
  Tensor bq, bk, bv, bo;        /* with linear biases */
  Tensor w1, w2, w3;            /* gated: [C,F] [C,F] [F,C]; else [C,F] [F,C] */
  Tensor b1, b2, b3;
  Tensor kstar, vstar;          /* [H,D], shared [1,D]: Table 4's biases */
  Tensor logit, vplus;          /* [H] z_i* itself; [H,D] the value bias */
  Tensor phi1, phi2;            /* [D,D]: the mlp kernel */
  int window;                   /* w of this block, 0: all */
  real root;                    /* what <q, k> is multiplied by: 1/sqrt(D) */
  MORE_LAYER
} Layer;

/* Which row of scores a function of the seams is called for. */
typedef struct RowAt {
  int l;                        /* block, from 0 */
  idx b, h, i;                  /* sequence, head, query */
  idx lo;                       /* z[1 + j] is the score of key lo + j */
} RowAt;

/* How a row of scores becomes weights (3.6, 14.1). c: the model's. */
typedef struct RowKind {
  real (*plain)(const Config *c, idx n, const real *z, real *a, real *deriv,
                real *dlogz);
  real (*forward)(const Config *c, idx n, real *z, real *spare);
  void (*backward)(const Config *c, idx n, const real *z, real row_stat,
                   real *a, real *deriv, real *dlogz);
  real (*normalizer)(const Config *c, real row_stat);
  void (*metric)(const Config *c, idx n, const real *a, real Z, real *m);
} RowKind;

/* SEAMS: what a companion puts in place of a part of the paper's decoder, or
 * adds to it. MORE_SETUP fills them in; in ./sink all are NULL but `row`. */
typedef struct Seams {
  const RowKind *row;
  const char *forward_only;     /* the flag of a part without a backward */
  /* chapter 2: appends the tensors that follow those of `after` in block l */
  void (*tensors)(struct Model *m, int l, const char *after);
  int tensor_room;              /* more tensors of a block than some 60 */
  /* does block l lack a tensor of the paper's? */
  bool (*lacks)(const struct Model *m, int l, const char *name);
  /* 3.1: rows [T,C] from ids [T]; backward of all B sequences, dh [B,N,C] */
  void (*embed)(const struct Model *m, struct Acts *a, const int *ids, int T,
                real *rows);
  void (*embed_backward)(struct Model *m, struct Acts *a, const int *ids, int B,
                         int T, const real *dh);
  /* 3.4: tables of rotation for rows up to N */
  void (*tables)(const struct Model *m, struct Acts *a, idx N);
  /* 3.7: scores z [1+n] before sim; y [1+n] is kept for the backward */
  void (*scores)(const struct Model *m, const struct Acts *a, const RowAt *at,
                 idx n, real *z, real *y);
  void (*scores_backward)(struct Model *m, const struct Acts *a, const RowAt *at,
                          idx n, real *dz, const real *y);
  /* 3.7: weights a [1+n] behind Z; da before delta is taken */
  void (*weights)(const struct Model *m, const struct Acts *a, const RowAt *at,
                  idx n, real *w);
  void (*weights_backward)(const struct Model *m, const struct Acts *a,
                           const RowAt *at, idx n, const real *w, real *da);
  /* 3.7: before, and behind, the heads of a block in the backward */
  void (*slots)(struct Model *m, struct Acts *a, int l, int B, idx N, bool begin);
  /* 4: behind q, k, v, before they rotate; x is what W_Q reads */
  void (*qkv)(const struct Model *m, struct Acts *a, int l, real *k, real *v,
              const real *x, idx rows);
  void (*qk_backward)(struct Model *m, struct Acts *a, int l, idx rows);
  void (*v_backward)(struct Model *m, struct Acts *a, int l, real *dx,
                     const real *x, idx rows);
  /* 4: from la->o, heads as they come, to la->o, what W_O reads; with v+ */
  void (*leave)(const struct Model *m, struct Acts *a, int l, const real *v,
                idx rows);
  void (*leave_backward)(struct Model *m, struct Acts *a, int l, int B, idx N);
  /* 4: a block in place of the paper's two; MHSA and FFN of one block */
  void (*block)(const struct Model *m, struct Acts *a, int l, int B, idx N);
  void (*block_backward)(struct Model *m, struct Acts *a, int l, int B, idx N);
  bool (*mix)(const struct Model *m, struct Acts *a, int l, real *y,
              const real *x, int B, idx N);
  bool (*feed)(const struct Model *m, struct Acts *a, int l, real *y,
               const real *x, idx rows);
  /* 5: logits [R,V] of rows [R,C]; from a->logits, dy, to a->dslice */
  void (*logits)(const struct Model *m, struct Acts *a, const real *rows, idx R,
                 real *logits);
  void (*logits_backward)(struct Model *m, struct Acts *a, idx R);
  bool (*loss)(const struct Model *m, struct Acts *a, const int *targets, int B,
               int T, double *mean);
  /* 14: arrays besides, placed by arena_take; la: of a block, or NULL */
  void (*room)(const struct Model *m, struct Acts *a, struct LayerActs *la,
               bool keeps);
  /* 5: an optimiser besides; the scratch that its step of t needs, 0 where
   * AdamW steps t; t NULL: the most */
  idx (*step_room)(const struct Model *m, const Tensor *t);
  void (*step)(const struct Step *s, Tensor *t, real *m1, real *scratch);
  /* around the forwards of an evaluation, which read a file so many times */
  void (*begin)(const struct Model *m, double passes, bool loss, bool quiet);
  void (*end)(const struct Model *m, const Error *e);
  int (*fault)(const struct Model *m, Error *e);   /* 0, or a forward's error */
  void (*close)(struct Model *m);
} Seams;

typedef struct Model {
  Config c;
  Tensor wte, xstar;            /* [V,C]; [n,C] n sink tokens */
  Tensor wpe, rel;              /* [rows,C] learned positions; [32,H] T5's bias */
  Norm normf;                   /* the final norm, absent under post-norm */
  Tensor wcls;                  /* [C,V], absent where it is tied */
  Layer *layer;                 /* [L] */
  Tensor **all;                 /* [n_tensors] all of these, in one order */
  int n_tensors;
  idx count;                    /* numbers in params; all tensors end to end */
  real *params, *grads;         /* grads: NULL in a model that only evaluates */
  Seams seams;
  bool plain;                   /* --plain: 3.7's loops, not chapter 14's tiles */
  MORE_MODEL
} Model;

Tensor *model_tensor(const Model *m, const char *name);   /* NULL: it has none */
void model_free(Model *m);

/* ---------- 4  The block and the model */

/* What one block keeps from forward to backward, for B sequences of N rows. */
typedef struct LayerActs {
  const real *x;                /* [B,N,C] the block's input h^{l-1} */
  real *n1, *n1stat;            /* [B,N,C] norm 1's output; [B,N,2] its mu, r */
  real *q, *k, *v;              /* [B,N,H,D] [B,N,K,D] [B,N,K,D]; rotated */
  real *fq, *fk;                /* phi(q), phi(k); q and k without a kernel */
  real *hq, *hk;                /* the mlp kernel's hidden layers */
  real *o, *osum;               /* [B,N,H,D] heads; [B,N,D] their sum, if added */
  real *row_stat;               /* [B,H,N] one number a row of scores (14.1) */
  real *s1, *s2;                /* [B,N,C] x + MHSA(..); u + FFN(..) */
  real *n2, *n2stat;            /* [B,N,C] [B,N,2] */
  real *f1, *f2, *fa;           /* [B,N,F] x W1, x W2, and what W3 (W2) reads */
  const real *cosine, *sine;    /* [N,r/2] this block's rotations */
  MORE_LAYER_ACTS
} LayerActs;

/* Maps that attention fills when asked: z_ij, scale s_ij / Z_i, m_ij; 0 where
 * invisible. [B,H,N,S] or NULL, columns in the order *, x*, 1..T. */
typedef struct Probe { real *z, *weight, *metric; } Probe;

enum { SLICE = 160 };           /* rows of logits that exist at a time */

typedef struct Acts {
  int B, T, N;                  /* room; a forward may use less of it */
  idx past;                     /* rows in the cache before a forward's own */
  LayerActs *layer;             /* [L] */
  real *h0;                     /* [B,N,C] H^0 */
  const real *h, *nf;           /* [B,N,C] the stream; its final norm */
  real *fnorm, *nfstat;         /* [B,N,C] [B,N,2] */
  real *vfixed;                 /* [D] the fixed v* of Table 5, or NULL */
  Probe *probe;                 /* [L] or NULL: set before a forward */
  real *cosine, *sine;          /* [N,r/2] of the rotations */
  real *sinusoid;               /* [N,C] absolute positions */
  real *bias, *dbias;           /* [H,2N-1] b_h by j-i; [B,H,2N-1] its gradient */
  real *dh, *dx, *dn;           /* [B,N,C] gradients that go down the stack */
  real *dq, *dk, *dv;           /* like q, k, v */
  real *dout, *dosum;           /* like o, osum */
  real *dphi, *df1, *df2;       /* like q: scratch of phi; like f1, f2 */
  real *slot;                   /* [B,H,slot_size]: dk*, dv*, dv+, dlogit */
  real *scratch;                /* of attention, scratch_size for each thread */
  idx scratch_size;
  real *slice, *dslice;         /* [SLICE,C] rows on the way to the loss */
  real *logits;                 /* [SLICE,V] */
  double *loss_row;             /* [B,T] -log p of a target; -1: not scored */
  int threads;                  /* how many pieces scratch has */
  idx size;
  real *arena;                  /* all arrays, `size` numbers */
  struct Pace {
    double began, last, took[2], retry, wait;
    bool less;
  } pace;                       /* chapter 14 */
  MORE_ACTS
} Acts;

/* What outlives a block's forward: nothing, and all blocks share the memory of
 * one; everything, for a backward; its keys and values, for later rows. */
enum { ACTS_ONE, ACTS_ALL, ACTS_KEYS };
int  model_extend(const Model *m, Acts *a, const int *ids, int T, int from);
int  acts_create(Acts *a, const Model *m, int B, int T, int what, Error *e);
idx  acts_size(const Model *m, int B, int T, int what, Error *e);
void acts_free(Acts *a);

/* Attention of block l (3.7) by tiles: chapter 14. */
extern const RowKind PAPER_ROW;
void tiled_forward(const Model *m, Acts *a, int l, int B, idx R);
void tiled_backward(Model *m, Acts *a, int l, int B, idx N);

/* ---------- 6  The sink metrics */

enum { EPS_MOST = 12 };         /* thresholds at a time */

/* Means over sequences of all that is measured, by block, then head. */
typedef struct Sinks {
  int L, H, T, N, S, batch;
  int n;                        /* sequences so far */
  int heads;                    /* in all blocks that attend */
  bool *attends;                /* [L]; other blocks are in no mean over heads */
  double even, even_self;       /* alpha_1 of even rows; alpha_self */
  int n_eps;
  double eps[EPS_MOST];
  int bad, bad_head;            /* where a NaN was met, from 1 */
  double *alpha;                /* [L,H,S] alpha_k */
  double *over;                 /* [n_eps,L,H,S] share with alpha_k > eps */
  double *entropy, *mass, *raw; /* [L,H] of a row: nats; sum of weights, |weights| */
  double *self, *prev;          /* [L,H] mean m_ii, m_i,i-1 over rows 2 .. T */
  double *told, *plain_entropy; /* [L,H] rows that weigh anything; -sum m log m */
  double *hnorm, *prenorm;      /* [L+1,N] |h_n^l|; [L,N] before a post-norm */
  double *qnorm, *knorm, *vnorm;   /* [L,N] means over heads */
  double *cosine, *product;     /* [L,H,2] cos(q_t, k_j), |q_t| |k_j| */
  double massive, median;       /* largest |h| over blocks; median |h| there */
  double loss;                  /* mean cross-entropy, with targets */
  double *sums;                 /* [n_sums] all of the arrays above */
  idx n_sums;
  Probe *probe;                 /* [L] */
  real *maps, *extreme;         /* [2,batch,H,N,S]; [batch,N,C] */
} Sinks;
/* Behind the place where a NaN was met. */
#define NOT_FINITE                                                             \
    ": expected numbers, found NaN or infinity. Try: another copy of the model"
int  sinks_create(Sinks *s, const Model *m, int T, int batch, const double *eps,
                  int n_eps, Error *e);
void sinks_watch(Sinks *s, int block, int head, double x);
int  sinks_measure(Sinks *s, Model *m, Acts *a, const int *ids,
                   const int *targets, int B, int rows, Error *e);
void sinks_finish(Sinks *s);
void sinks_free(Sinks *s);

/* ---------- 8  Tokenizer */

typedef struct Ids {
  int32_t *at; size_t size, room;
} Ids;                         /* a growing array of token ids */

typedef struct TokenEntry {
  uint32_t start;              /* of its spelling in Tokenizer.pool; it ends at the next one's */
  int32_t left, right;         /* of a merge: the pair that becomes this token */
} TokenEntry;

/* Never changed once made. */
typedef struct Tokenizer {
  int vocab, end, bos, fix;    /* V; ids after a document, before one, of --fix-token, -1 none */
  bool blank;                  /* a space goes before a text */
  TokenEntry *token; Bytes pool;    /* [V + 1]; their spellings, joined */
  int32_t *slot; size_t slots;      /* the ids that merges make, by their pair's hash; 0: empty */
  uint64_t hash;               /* of the file that it was read from, which checkpoints keep */
  /* of a published model's, which data/models/words.c has: its ways, and what it knows; or NULL */
  int (*encode)(const struct Tokenizer *t, const unsigned char *text, size_t n, Ids *out, Error *e);
  void (*close)(struct Tokenizer *t);
  struct Published *published;
} Tokenizer;
typedef int TokenizerReader(const unsigned char *bytes, size_t n, const char *name, Tokenizer *t,
                            Error *e);
int tokenizer_decode(const Tokenizer *t, const int32_t *id, size_t n, Bytes *out, Error *e);

/* ---------- 9  Text, packing, interventions */

#define DOCUMENT_END "<|endoftext|>"     /* between the documents of a text */
#define SHIPPED_TEXT "data/text/stories.txt"

/* Where a training's tokens come from, and how far it has read. */
typedef struct Data {
  Tokenizer tokenizer;
  int vocab, end, bos, fix;    /* how many ids there are, and the ids that are not text's */
  Ids train, held, starts; /* tokens; tokens held back; where the held documents start in held */
  bool alike;                  /* its documents are: the first ones show as much as all */
  idx blocks, pass; int32_t *order;         /* the pass that order [blocks] is of */
  double *first, draws; bool first_kept;    /* 9.3: [V] weights; their sum; does a checkpoint */
  char drawn[800];                          /* keep them? the same in words */
  uint64_t seed, sample;       /* sample: blocks read so far */
  uint64_t source; char name[PATH_ROOM], read[2 * PATH_ROOM];  /* its hash64; what is held of it */
  /* Of a text without end (data/text, toys.c), else NULL: n tokens, block `number`; the place in
   * it, which a checkpoint keeps; what it knows; frees that. */
  const int32_t *(*next)(struct Data *d, uint64_t number, int n, Error *e);
  uint64_t document; size_t offset;
  void *drawn_from; void (*close)(struct Data *d);
} Data;

/* ---------- 10 to 12  Settings of a run: everything that a command line can say */

typedef struct Train {
  int init, batch, accumulate, steps;           /* INIT_*; B of a forward; forwards a step; steps */
  int schedule, optimizer, decay, warmup, seed, save_every, log_every;   /* SCHEDULE_* .. DECAY_* */
  double lr, min_lr, wd, clip, beta1, beta2, adam_eps;   /* min_lr < 0: lr / 10; clip 0: none */
} Train;

/* where tokens come from, and what is done to them */
typedef struct Source {
  char text[PATH_ROOM], grammar[PATH_ROOM], tokens[PATH_ROOM], tokenizer[PATH_ROOM];
  int end_token, vocab; char home[PATH_ROOM];   /* of --tokens; --vocab; the program's folder */
  int fix_token; char first_tokens[16];         /* where <|fix|> is, 0 nowhere; in its place */
  double *first_counts; char first_own[16];     /* of the model: Data.first, if kept; the flag */
  char random_tokens[64];                       /* "1,2": positions drawn anew (section 5) */
  double data_tokens;          /* at most so many training tokens, 0 all (Figure 5) */
  int bos; double valid;       /* <|bos|> before every document; share of them for validation */
  uint64_t own; char own_name[PATH_ROOM]; int whole, from_start; /* the model's text: 9.2, 9.4 */
  int toy;                                      /* a task of ./paper instead, 0 none */
  /* What a companion has besides, or NULL: opens --grammar, --tokens, --toy; fills Data.first; */
  int (*open)(struct Data *d, const struct Source *s, int T, Error *e);
  int (*first)(struct Data *d, const struct Source *s, int T, Error *e);
  TokenizerReader *read_tokenizer;              /* reads a published model's tokenizer too */
} Source;

#ifndef MORE_SETTINGS
#define MORE_SETTINGS            /* a companion's own */
#endif
enum { WORDS_MOST = 64 };
typedef struct Settings {
  Config model; Train train; Source data;
  double eps;                                   /* threshold of Sink */
  int eval_T, eval_n, eval_k, metric_rows, input, ablate, isolate, isolate_blocks, probe;
  int replace_position, swap_position, beyond;          /* t of Table 7, 0: p_1 stays */
  int threads, quiet, plain, all, resume, help, force;
  char out[PATH_ROOM], log[PATH_ROOM], csv[PATH_ROOM], json[PATH_ROOM], report[PATH_ROOM];
  char start[PATH_ROOM], ids[PATH_ROOM], prompt[PATH_ROOM], domains[PATH_ROOM], lengths[PATH_ROOM];
  int inputs, how_many, top_k; double temperature, top_p;            /* eval; generate */
  int signs, quantize, sinks, cache_size; char cache[16], positions[8];   /* data/paper/signs.c */
  const struct Program *program;                /* who is asked */
  int argc; char **argv; const char *verb;      /* the command as it was given */
  unsigned groups; bool given[200];             /* flags it takes; which of OPTIONS were given */
  const char *words[WORDS_MOST]; int n_words;   /* those that are no flags */
  MORE_SETTINGS
} Settings;

#define SINK_VERSION "1.0"
enum { FLAGS_ROOM = 1024 };      /* bytes of a command's flags */
void settings_default(Settings *s);
/* Reads argv into s; groups says which flags the verb takes. The model is resolved later, when the
 * vocabulary is known. */
int  settings_parse(Settings *s, int argc, char **argv, unsigned groups, Error *e);
int  settings_count(const Settings *s, Error *e);     /* 2 for a flag that changes nothing */
int  outputs_ready(const Settings *s, const char *const *path, int n, Error *e);
void data_close(Data *d);

typedef struct Trainer {
  Settings s; Model m; Acts a; Data data;
  real *m1, *m2, *scratch; double *first; int *ids;   /* moments; scratch; first_counts; [2,B,T] */
  uint64_t tokenizer_hash, start;    /* start: of the parameters that it began from, 0: drawn */
  bool random_tokens;          /* of a model that was read: its training had some */
  long step; double loss, norm, lr;                 /* steps done; of the last step */
  double loss_sum; long loss_steps; /* over the steps since the last look at the sink */
} Trainer;
void trainer_free(Trainer *t);

/* The sink as a training saw it at one step: loss is the mean since the look before, norm the
 * gradient's; of token 1 and of the column * (or x*) the mean weight alpha and Sink, both in 0..1;
 * the norm ratio; and the loss on held documents, 0 unless it was asked for. */
typedef struct Look {
  long step; double loss, norm, alpha1, alpha_star, sink1, sink_star, ratio, held;
} Look; enum { LOOKS = 1024 };

/* What an evaluation says of a model in a row: a column each of its tables. */
enum { SINK_1, SINK_STAR, ALPHA_1, TIMES_EVEN, ALPHA_STAR, ROW_MASS, NORM_RATIO,
       HELD_LOSS, ROW };

/* The line that a training shows, and its looks. */
typedef struct Progress {
  const char *name;
  bool quiet;
  bool has_star, holds;        /* a column *; the held loss is looked at too */
  double start, shown;         /* seconds; when it was last shown, 0: not */
  long from;                   /* the step at `start` */
  double now[ROW], low;        /* the last look; its Sink_1 at eps 0.2 */
  int looks;
  Look look[LOOKS];
} Progress;

/* A row of numbers and texts with names: of a table, of CSV and JSON. */
typedef struct Number {
  char name[40];
  const char *text;            /* NULL: x */
  double x;
} Number;
typedef struct Numbers { Number *at; int n; } Numbers;

typedef struct HeatMap { const char *title, *column_name; const Sinks *s; int column; } HeatMap;
/* What a training and an evaluation leave of a model: a column of the tables and of the page. */
typedef struct Outcome {
  const char *name, *source;   /* "softmax", "Table 10" */
  Config c; Sinks s; Progress p;     /* s.n = 0: nothing was measured; its looks */
  double even, loss;           /* alpha of even rows; nats a token, over so many tokens, */
  idx tokens; char text[PATH_ROOM], read[2 * PATH_ROOM];   /* of what Data.name and .read say */
  bool star; char ended[640];  /* has it a column * or x*? why its training ended early, or "" */
  struct HeadMap *map;         /* NULL, or a companion's for a page */
} Outcome;

int  look_at_sink(Trainer *t, Progress *p, Error *e);
void sinks_row(const Sinks *s, const Config *c, double loss, double row[ROW]);
int  evaluate(Sinks *out, Model *m, const Data *d, const Settings *s, int n, int T,
                    int *starts, Error *e);
enum { HELD_BLOCKS = 64 };       /* of context tokens each, for the held loss of a result */
void heat_maps(const HeatMap *maps, int n, FILE *out);
void progress_start(Progress *p, const char *name, bool quiet);
void progress_show(const Trainer *t, Progress *p);

/* ---------- 13  Matrix multiply and vector maths */

/* The row-major matrix at `at`, rows ld elements apart; its transpose: only the strides change. */
static inline Matrix rows_of(const real *at, idx ld) { return (Matrix){at, ld, 1}; }
static inline Matrix transpose_of(const real *at, idx ld) { return (Matrix){at, 1, ld}; }

/* The instruction sets that the kernels are built for; the highest that this processor offers. */
typedef enum Isa { ISA_BASE, ISA_AVX2, ISA_AVX512 } Isa; Isa isa_best(void);

/* c[m,n] = a[m,k] b[k,n], or c += a b when add; rows of c begin ldc apart, c overlaps neither a nor
   b, m, n, k >= 0. Shared among threads. Each element of c sums over k in one order: its bits
   depend on the instruction set, and neither on the number of threads nor on m and n. */
void matmul(real *c, idx ldc, Matrix a, Matrix b, idx m, idx n, idx k, bool add);
bool fma_fuses(Isa isa);                 /* does the kernel round a*b + c once? */

/* y[i] = e^(x[i] - less), 1 / (1 + e^-x[i]), sqrt(x[i]), Phi(x[i]) (the normal's distribution),
   log(x[i]), tanh(x[i]), |x[i]|^p for i < n; y may be x. NaN stays NaN, sqrt and log of a negative
   number are NaN, results below the normal floats are denormal. 13.3 has the errors. */
void vec_exp(idx n, real *y, const real *x, real less), vec_sigmoid(idx n, real *y, const real *x);
void vec_sqrt(idx n, real *y, const real *x), vec_cumulative(idx n, real *y, const real *x);
void vec_log(idx n, real *y, const real *x), vec_tanh(idx n, real *y, const real *x);
void vec_pow(idx n, real *y, const real *x, real p);

/* Sum, maximum (-INFINITY for n = 0; a NaN is passed over) and dot product, in an order that
   depends on n alone; sum and maximum have the same bits at every instruction set. */
real vec_sum(idx n, const real *x), vec_max(idx n, const real *x);
real vec_dot(idx n, const real *x, const real *y);

/* y += x and y *= x, for x, y [n] apart; y *= a. */
void vec_add(idx n, real *y, const real *x), vec_multiply(idx n, real *y, const real *x);
void vec_scale(idx n, real *y, real a);
void zero(real *x, idx n), copy(real *y, const real *x, idx n);   /* x [n] = 0; y [n] = x */
real real_exp(real x), real_log(real x), real_pow(real x, real y), real_abs(real x);

/* ---------- 15  Files, memory, random numbers, errors */

#ifdef _OPENMP
#define PARALLEL _Pragma("omp parallel for schedule(static)")
#else
#define PARALLEL
#endif
int worker(void);               /* this thread's number, from 0 */
int workers(void);              /* how many a parallel loop uses */
int set_workers(int n);         /* n > 0, or 0: all; 1 when n are not to be had */

/* Keeps the first error; returns its status. */
int fail(Error *e, int status, const char *format, ...);
/* Zeroed; NULL and an error when it is not to be had. */
void *grab(idx count, size_t size, Error *e);

uint64_t rng_next(Rng *r);                  /* 64 uniform bits */
uint64_t rng_below(Rng *r, uint64_t n);     /* 0 .. n-1 */
double rng_uniform(Rng *r);                 /* [0,1), 53 bits */
double rng_normal(Rng *r);                  /* N(0,1), Box and Muller */

uint64_t hash64(uint64_t seed, const void *bytes, size_t n);
uint64_t hash_start(uint64_t seed);         /* the same in pieces */
uint64_t hash_add(uint64_t h, const void *bytes, size_t n);
uint64_t hash_end(uint64_t h);

int bytes_add(Bytes *b, const void *from, size_t n, Error *e);
int bytes_print(Bytes *b, Error *e, const char *format, ...);   /* to 2047 */
void bytes_free(Bytes *b);
/* Numbers of 1 to 8 bytes, little-endian. */
void number_put(unsigned char *p, uint64_t x, int bytes);
uint64_t number_at(const unsigned char *p, int bytes);

size_t utf8_length(const unsigned char *text, size_t n); /* before what is not */
int file_read(const char *path, Bytes *out, Error *e);   /* "-": stdin */
int file_write(const char *path, const void *at, size_t n, Error *e);
bool file_missing(const char *path);
/* Appends path and a 0; of a folder the paths of its plain files, each with a
 * 0, sorted by their bytes, hidden ones left out. None is an error. */
int files_list(const char *path, Bytes *names, Error *e);
int writing_begin(Writing *w, const char *path, Error *e);
void writing_add(Writing *w, const void *at, size_t n);
int writing_end(Writing *w, Error *e);
double seconds(void);           /* of a clock on the wall: never in a result */

/* ---------- 16  Command line */

/* Who takes an option: a group of settings, or a verb. */
enum {
  MODEL = 1,
  TRAIN = 2,
  DATA = 4,
  MEASURE = 8,
  KEPT = MODEL | TRAIN | DATA | MEASURE,   /* a checkpoint keeps these */
  OUTPUT = 16,
  TABLES = 32,
  GENERAL = 64,
  FORCE = 128,
  RUN = 256,
  ALONE = 512,                  /* train */
  EVAL = 1024,
  TOKENIZE = 2048,
  GENERATE = 4096,
  DUMP = 8192,
  STREAM = 1 << 14,             /* of companions */
  OWN = 1 << 15                 /* from here on: of one program */
};

typedef struct Option {
  const char *flag;
  unsigned groups;
  char kind;             /* i int, d double, b switch, c choice, s string, */
  size_t field;          /* f a name of what is read; offset in Settings */
  const char *fallback;  /* the default as text; "": the first choice, none */
  double least, most;    /* bounds of a number that is given; room of a string */
  const char *value;     /* its name; of a choice SIM_WORDS, say (chapter 1) */
  const char *help;
} Option;
extern const Option OPTIONS[];   /* ends with a NULL flag */

#define AT(field) offsetof(Settings, field)
#define WHOLE(flag, groups, field, fallback, least, most, help) \
  {flag, groups, 'i', AT(field), fallback, least, most, "N", help}
#define REAL(flag, groups, field, fallback, least, most, help) \
  {flag, groups, 'd', AT(field), fallback, least, most, "X", help}
#define SWITCH(flag, groups, field, help) \
  {flag, groups, 'b', AT(field), "0", 0, 1, "", help}
#define AXIS(flag, groups, field, axis, help) \
  {flag, groups, 'c', AT(field), "", 0, 0, axis##_WORDS, help}
#define STRING(flag, groups, field, value, help) \
  {flag, groups, 's', AT(field), "", 0, sizeof((Settings *)0)->field, value, \
   help}
#define NAME(flag, groups, field, fallback, help) \
  {flag, groups, 'f', AT(field), fallback, 0, PATH_ROOM, "FILE", help}

#ifndef MORE_OPTIONS
#define MORE_OPTIONS    /* a companion's rows of OPTIONS */
#endif
#ifndef MORE_BELONGS
#define MORE_BELONGS    /* and of BELONGS */
#endif

bool has_word(const char *words, const char *word);   /* of "word word" */
const Option *option_find(const char *flag, unsigned groups);
/* NULL, or "with --window": when alone a flag changes something. */
const char *option_idle(const char *flag, const Settings *s);
int option_set(const Option *o, void *base, const char *text, bool bounded,
               Error *e);
void option_text(const Option *o, const void *base, char *text, size_t room);
int settings_flags(Settings *s, const char *flags, unsigned groups, Error *e);

typedef struct Verb {
  const char *name, *words;     /* "eval", "MODEL .." */
  unsigned groups;
  const char *help;
  int (*run)(Settings *s, Error *e);
} Verb;

/* A check (chapter 7): `run` prints a line for each statement by holds(),
 * control() or refutes(). */
typedef struct Page Page;
typedef struct Check {
  const char *name, *about;     /* a heading, and a sentence in a line of its own */
  void (*run)(Page *p);
} Check;

/* ./sink has a name alone. A companion in data/ has more, and sink's verbs
 * beside its own; what it has not is NULL. */
typedef struct Program {
  const char *name;
  const Verb *verbs;            /* its own, ended by a NULL name */
  const Check *checks;          /* more checks, ended by one without lines */
  const Verb *other;            /* whose word is the first, if that is no verb */
  /* the page of a run, a training or an evaluation: n models, a table and what
   * is said of them */
  int (*page)(const char *path, const char *verb, const Settings *s,
              const Outcome *o, int n, const char *table, const char *verdict,
              Error *e);
  /* these three: Source */
  int (*open)(Data *d, const Source *s, int T, Error *e);
  int (*first)(Data *d, const Source *s, int T, Error *e);
  TokenizerReader *read_tokenizer;
  int (*heads)(Outcome *o, Trainer *t, const Settings *s, Error *e);   /* o->map */
  int (*start)(Trainer *t, const Settings *s, Error *e);     /* --start */
  /* --replace-position, --swap-position, of T tokens (Table 7): edits P, and
   * puts it back; without a it only says what cannot be */
  int (*edit)(Model *m, Acts *a, const Settings *s, int T, bool back, Error *e);
} Program;

#endif
