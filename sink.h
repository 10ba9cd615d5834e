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
typedef struct Writing {   /* the caller's path; PATH.new; errno of the first fault; new folders */
  FILE *f; const char *path; char beside[1100]; int cause, made;
} Writing;

#define PI              3.14159265358979323846
#define SQRT_HALF       0.70710678118654752440
#define INV_SQRT_2PI    0.39894228040143267794
#define SQRT_2_OVER_PI  0.79788456080286535588

/* ---------- 1  Config and variants
 * The first row of every axis is the paper's default, so a zeroed enum is the baseline. A row is
 * called on the command line as its constant is here: SIM_EXP is `--sim exp`. SIM_ROWS counts. */

#define CHOICE(axis, ...)                                                                          \
    enum { __VA_ARGS__, axis##_ROWS }; static const char axis##_WORDS[] = #__VA_ARGS__

CHOICE(POS, POS_ROTARY, POS_NONE, POS_ABSOLUTE, POS_LEARNED, POS_RELATIVE, POS_T5, POS_ALIBI);
CHOICE(PAIR, PAIR_HALF, PAIR_INTERLEAVED);                /* the two dims of a rotated pair */
CHOICE(ROPE, ROPE_NONE, ROPE_LINEAR, ROPE_LLAMA3, ROPE_YARN, ROPE_LONGROPE);      /* stretched */
CHOICE(NORM, NORM_RMS, NORM_LAYER, NORM_DYT);
CHOICE(PLACE, PLACE_PRE, PLACE_POST, PLACE_PARALLEL, PLACE_SANDWICH);
CHOICE(ACT, ACT_SWIGLU, ACT_GEGLU, ACT_REGLU, ACT_GEGLUTANH, ACT_SWISH, ACT_GELU, ACT_RELU,
       ACT_GELUTANH);
CHOICE(BIAS, BIAS_ALL, BIAS_QKV, BIAS_ATTENTION, BIAS_FFN);     /* what has a bias */
CHOICE(COMBINE, COMBINE_CONCAT, COMBINE_ADD);
CHOICE(KERNEL, KERNEL_IDENTITY, KERNEL_ELU, KERNEL_MLP);
CHOICE(SIM, SIM_EXP, SIM_SIGMOID, SIM_ELU, SIM_IDENTITY, SIM_SOFTPICK, SIM_RECTIFIED, SIM_RELU);
CHOICE(NORMALIZER, NORMALIZER_SUM, NORMALIZER_ONE, NORMALIZER_CLAMP, NORMALIZER_PNORM,
       NORMALIZER_COUNT);
CHOICE(EXTRA, EXTRA_NONE, EXTRA_K, EXTRA_KV, EXTRA_ZERO, EXTRA_LOGIT, EXTRA_LOGN);
CHOICE(GAIN, GAIN_NONE, GAIN_LOGN);                       /* --score-scale */
CHOICE(SHIFT, SHIFT_NONE, SHIFT_LOGN, SHIFT_LEARNED);     /* --score-bias */
CHOICE(GATE, GATE_NONE, GATE_HEAD, GATE_ELEMENT, GATE_VALUE, GATE_STATIC);
CHOICE(ORDER, ORDER_FIRST, ORDER_LAST, ORDER_LOWFREQ);
CHOICE(VALUE, VALUE_ZERO, VALUE_E1, VALUE_ONES);
CHOICE(INIT, INIT_TORCH, INIT_AUTHORS, INIT_GPT2);
CHOICE(SCHEDULE, SCHEDULE_CONSTANT, SCHEDULE_COSINE);
CHOICE(OPTIMIZER, OPTIMIZER_ADAMW, OPTIMIZER_SGD, OPTIMIZER_MUON);
CHOICE(DECAY, DECAY_ALL, DECAY_MATRICES);
CHOICE(TOY, TOY_NONE, TOY_TRIGGER, TOY_BACKCOPY);         /* tasks of ./paper */
CHOICE(INPUT, INPUT_NATURAL, INPUT_RANDOM, INPUT_REPEAT);
CHOICE(METRIC, METRIC_REAL, METRIC_PLUS1);                /* the rows that it reads */
CHOICE(ABLATE, ABLATE_NONE, ABLATE_KEY1, ABLATE_VALUE1, ABLATE_VALUE1_MEAN, ABLATE_KSTAR);
enum { VOCAB_DEFAULT = 2048, SINK_TOKENS = 16 };   /* tokenizer.bin's; at most so many */

/* The model: one row chosen on each axis. Integers and doubles only, so that the table of options
 * (chapter 16) reads, checks, prints and stores every field alike. */
typedef struct Config {
  int layers, heads, kv_heads;      /* L, H, K; kv_heads 0 means H */
  int dim, head_dim, ffn;           /* C, D (0 means C / H), F */
  int vocab, context;               /* V (0 means VOCAB_DEFAULT); the longest T */
  int pos, rotary_dims, rope_pairing, rope_scaling; /* POS_*; r dims rotate, 0: D; PAIR_*, ROPE_* */
  double rope_base, rope_local; /* 10000; another one in layers with a window, 0: the same */
  double rope_factor, rope_low, rope_high;     /* ROPE_LINEAR: factor; LLAMA3, YARN: all */
  int rope_original;                /* of these: the context before it was stretched */
  int norm, place, behind_only;     /* NORM_*, PLACE_*; a sandwich without n1 and n2 (chapter 4) */
  double norm_eps;                  /* under the root of a norm (3.2) */
  int act, tied, embed_dim;    /* ACT_*: Table 11, the first four gated; a switch; E, 0 means C */
  int linear_bias, bias_in, score_by_layer; /* a switch, BIAS_*; scores of block l over l + 1 */
  int combine, kernel, sim, normalizer; /* COMBINE_*: Table 12 left; KERNEL_* .. : Table 15 */
  double pnorm, scale;         /* p (equation 43), 0 when unused; alpha (equation 29) */
  int extra, extra_shared;          /* EXTRA_*: Table 4; one k* for all heads: Table 12 right */
  int extra_dims, extra_order; /* d_a learned dims, 0 means D: Table 13; ORDER_* says which */
  int extra_value; double extra_norm; /* VALUE_*: the fixed v* of Table 5; its length */
  double extra_logit, soft_cap; /* a fixed logit, NAN: learned; X of the scores' cap, NAN: none */
  int gain, shift; double clip_low, clip_high; /* GAIN_*, SHIFT_*; G, X: 3.6 */
  int vbias, sink_token;            /* a switch, V biases; how many sink tokens x*: Table 4 */
  int gate, qk_norm, qk_whole, head_norm, v_scale, xsa; /* GATE_*; switches: not the paper's */
  int window, prefix; /* w keys, self included, 0: all (Figure 6); p that all rows see (Figure 5) */
  int window_period, window_offset, window_others; /* which layers have it: config_window */
  double embed_scale, score_divisor, logit_cap; /* 3.1, 3.7, loss; 0: none, D, none */
  /* Published models of several kinds of block; forward only (config_trains).
   * period 0: every block attends; else blocks with l % period == offset, and Mamba mixes the
   * others, by I channels of M states (0 means 2 C, 16), J taps (4) and rank R (C/16, up) */
  int attention_period, attention_offset, mamba_inner, mamba_state, mamba_conv, mamba_rank;
  /* X ffns of which a row takes the top ones (0 means 2), in every block or, with a period, in
   * blocks with l % period == offset; 0: one ffn everywhere. A limit: gpt-oss's (data/models) */
  int experts, expert_top, expert_period, expert_offset; double expert_limit, expert_slope;
} Config;

/* A named row of the paper: "sigmoid", "--sim sigmoid --normalizer one", "Table 15, 2"; its Sink_1
 * in percent, and loss. */
typedef struct Variant { const char *name, *flags, *source, *sink, *loss; } Variant;
extern const Variant VARIANTS[];         /* ends with a NULL name */

/* ---------- 2  Parameters: one table of tensors */

/* A norm: gain [C]; bias [C], of LayerNorm and DyT; slope [1], of DyT. NULL where it has none. */
typedef struct Norm { real *g, *b, *a; } Norm;

/* The parameters of block l, or their gradients. NULL where a variant has none. */
typedef struct Layer {
  Norm norm1, norm2, norm3, norm4;      /* before MHSA, before the ffn; behind them in a sandwich */
  real *wq, *wk, *wv, *wo;     /* [C,H*D] [C,K*D] [C,K*D] [H*D,C] ([D,C] when heads are added) */
  real *bq, *bk, *bv, *bo;     /* [H*D] [K*D] [K*D] [C]: with linear biases */
  real *w1, *w2, *w3;          /* gated: [C,F] [C,F] [F,C]; else [C,F] [F,C] and no w3 */
  real *b1, *b2, *b3;          /* the width of their product: with linear biases */
  real *kstar, *vstar;         /* [H,D], [1,D] when shared: the extra column's key and value */
  real *logit, *vplus;         /* [H]: the extra column's learned score; [H,D]: the value bias v+ */
  real *cscale, *sbias;        /* [H] [H]: c_h and f_h of data/later */
  real *phi1, *phi2;           /* [D,D] [D,D]: the mlp kernel */
  real *wg, *gate;             /* [C,G]: G gates a row; [H]: u of a static gate */
  Norm qnorm, knorm;           /* [D] [D], with --qk-whole [H*D] [K*D] */
  real *hnorm, *vscale;        /* [H*D] the head norm's gain; [H] c of --v-scale */
} Layer;

typedef struct Weights {
  real *wte, *win;             /* [V,E]; [E,C] when E differs from C */
  real *xstar, *wpe, *rel;     /* [n,C] n sink tokens; [rows,C] positions; [32,H] T5's bias */
  Norm normf;                  /* the final norm, absent under post-norm */
  real *wout, *wcls; Layer *layer;   /* [C,E] when E differs from C; [E,V], not when tied; [L] */
} Weights;

/* A model's list of tensors drives allocation, initialisation, AdamW, checkpoints and dumps. */
typedef struct Tensor {
  char name[32]; int rank, shape[2];   /* "l0.wq"; one or two dimensions, row-major */
  idx at, count;               /* its start in Model.params, -1: still in its file; its numbers */
  int init, layer;             /* how it starts (chapter 2); its block, or -1 */
  bool matrix;                 /* decayed under --decay matrices */
  size_t field;                /* offset of its pointer in Weights, Layer or the owner of its */
  int part;                    /* part, 0 but for parts that the paper's models lack (below) */
} Tensor;

/* What a published model may have in place of the paper's parts (data/models), without a backward.
 * A function that returns false leaves the work to the caller, who does it as the paper has it. */
struct Model; struct Acts; struct Trainer; struct Step;
typedef struct PublishedParts {
  /* the tensors of block l's mixer or ffn; the struct with the pointer to a tensor of these */
  bool (*list_mixer)(struct Model *m, int l, Error *e);
  bool (*list_ffn)(struct Model *m, int l, Error *e);
  void *(*owner)(const struct Model *m, const struct Tensor *t);
  /* what stays in its file: a row of wte; y = x W, W transposed where it is stored [out,in]; the
   * mean loss, by columns of W_cls */
  bool (*row)(const struct Model *m, real *to, idx id);
  bool (*linear)(const struct Model *m, real *y, const real *x, const real *w, bool transposed,
                 idx rows, idx in, idx out);
  bool (*loss)(const struct Model *m, struct Acts *a, const int *targets, int B, int T,
               double *mean);
  /* MHSA(x) and FFN(x) of block l, y and x [B,N,C]; the scratch Acts.published that they need */
  bool (*mix)(const struct Model *m, struct Acts *a, int l, real *y, const real *x, int B, idx N);
  bool (*feed)(const struct Model *m, struct Acts *a, int l, real *y, const real *x, idx rows);
  idx (*room)(const Config *c, int B, idx N);
  /* a file that is no checkpoint: false for one of no kind it knows. A model of more than `room`
   * bytes stays there. Around forwards, which read all of it so many times, progress is shown */
  bool (*open)(const char *path, double room, struct Trainer *t, Error *e);
  void (*begin)(const struct Model *m, double passes, bool loss, bool quiet);
  void (*end)(const struct Model *m, const Error *e);
  int (*fault)(const struct Model *m, Error *e);   /* 0, or what reading the file came to */
  void (*close)(struct Model *m);                  /* the file, and what is other's */
} PublishedParts;

typedef struct Model {
  Config c; int n_tensors; Tensor *tensor;
  idx count; real *params, *grads;   /* grads is NULL in a model that only evaluates */
  Weights w, d;                         /* the same memory by name: parameters, gradients */
  const PublishedParts *published;      /* NULL, or what it has in place of the paper's parts */
  struct ModelFile *file;               /* where its matrices are: data/models */
  struct OtherBlock *other;             /* [L] the pointers of those parts: data/models */
  bool plain;                  /* --plain: attention by 3.7's loops, not chapter 14's tiles */
  /* y = x W: published's, or eval --quantize's, which knows `rounding`; or NULL */
  bool (*linear)(const struct Model *m, real *y, const real *x, const real *w, bool transposed,
                 idx rows, idx in, idx out);
  const struct Rounding *rounding;
} Model;

const Tensor *model_tensor(const Model *m, const char *name);   /* NULL: the variant has none */
void model_free(Model *m);

/* ---------- 4  The block and the model */

/* What is kept of one block from forward to backward, for B sequences of N rows. */
typedef struct LayerActs {
  const real *x; /* [B,N,C] the block's input h^{l-1}: the array of the layer below */
  real *n1, *n1stat;           /* [B,N,C] norm 1's output; [B,N,2] its mean and 1/deviation */
  real *out1, *out2, *n3stat, *n4stat; /* MHSA's and FFN's outputs, or s1, s2; [B,N,2] of n3, n4 */
  real *q, *k, *v;             /* [B,N,H,D] [B,N,K,D] [B,N,K,D]; q, k rotated */
  real *fq, *fk, *hq, *hk;     /* phi(q), phi(k), the mlp's hidden layers; fq = q without phi */
  real *o, *osum; /* [B,N,H,D] head outputs; [B,N,D] their sum, when heads are added */
  real *av, *gate, *v0; /* o before v+ .., or o itself; [B,N,G] the gates; v before --gate value */
  real *q0, *k0, *qstat, *kstat; /* q, k before QK-norm; [B,N,H,2] [B,N,K,2] its stats */
  real *row_stat; /* [B,H,N] the one number a row of scores leaves for its backward (3.6) */
  real *s1, *n2, *n2stat;      /* [B,N,C] x + MHSA(..); [B,N,C] [B,N,2] */
  real *f1, *f2, *fa;          /* [B,N,F] x W1, x W2, and what W3 or, without a gate, W2 reads */
  real *s2; /* [B,N,C] u + FFN(..): before a post-norm the feature of Figure 7 left */
} LayerActs;

/* What attention reports of itself when asked: z_ij, scale s_ij / Z_i, m_ij; 0 where invisible.
 * [B,H,N,S] or NULL, S as config_columns, in the order *, x*, 1..T. */
typedef struct Probe { real *z, *weight, *metric; } Probe;

/* ABLATE_KEY1, _VALUE1 or _VALUE1_MEAN (14); [B] the column of each sequence, from 0, or -1 for *,
 * that an evaluation takes from all rows but its own, in all heads. */
typedef struct Ablation { int what; const int *column; } Ablation;

/* Table 7: token 1 reads p_t in place of p_1; and where they swap, token t reads p_1. */
typedef struct PositionEdit { int t; bool swap; } PositionEdit;   /* t from 2 on */
enum { SLICE = 160 };            /* rows of logits that exist at a time */

typedef struct Acts {
  int B, T, N;                 /* as given to acts_create; a forward may use fewer */
  idx past;                    /* rows before those of a forward: 0 but inside model_extend */
  LayerActs *layer; real *h0;  /* [L]; [B,N,C] H^0 */
  const real *h, *nf;          /* [B,N,C] the stream, h^L in the end; its final norm, if any */
  real *fnorm, *nfstat;        /* [B,N,C] [B,N,2] */
  real *published;             /* scratch of blocks that the paper's models lack (data/models) */
  real *embed, *vfixed;        /* [B,T,E] of wte, when E is not C; [D] v* of Table 5, or NULL */
  Probe *probe;                /* [L], or NULL: set by the caller before a forward */
  const Ablation *ablation;    /* or NULL, as it must be where a backward follows */
  const PositionEdit *edit;    /* likewise; t at most T, and no cache before the forward */
  /* likewise: -INFINITY into z of keys lo .. lo+n-1 that row i of b loses; returns their number */
  idx (*hide)(const struct Acts *a, int l, idx b, idx i, idx lo, idx n, real *z);
  const struct Isolation *isolation; /* what it knows: data/paper/known.c */
  /* or NULL; behind block l's backward, when dn still is the gradient of what its MHSA reads */
  void (*after)(const struct Acts *a, int l, int B, idx N);
  real *cosine, *sine, *sinusoid;  /* [N,r/2] of the rotations; [N,C] absolute positions */
  real *bias, *dbias; /* [H,2N-1] b_h by j-i from -(N-1); [B,H,2N-1] its gradient by sequence */
  real *dh, *dx, *dn;          /* [B,N,C] gradients that travel down the stack */
  real *dq, *dk, *dv, *dout, *dosum; /* like q, k, v, o, osum (dosum = dout: concatenated) */
  real *dphi, *df1, *df2;      /* like q: scratch of phi, QK-norm; like f1, f2: df1 is dfa first */
  real *dgate, *slot; /* like gate; [B,H,slot_size]: of k*, v+, .. by sequence (slots_end) */
  real *scratch; idx scratch_size; /* of attention: numbers for each thread */
  real *slice, *dslice, *logits; /* [SLICE,C] [SLICE,C] [SLICE,V]: rows on the way to the loss */
  real *outp, *doutp;          /* [SLICE,E] when E differs from C */
  double *loss_row;            /* [B,T] -log p of each target; -1 where no target is scored */
  int threads; idx size; real *arena; /* how many pieces scratch has; numbers in the arena */
  struct Pace { double began, last, took[2], retry, wait; bool less; } pace;     /* chapter 14 */
} Acts;

/* How much of a block's activations outlives the block: nothing, so that all blocks use the memory
 * of one; everything, for a backward; its keys and values, for rows to come. */
enum { ACTS_ONE, ACTS_ALL, ACTS_KEYS };
int  acts_create(Acts *a, const Model *m, int B, int T, int what, Error *e);
idx  acts_size(const Model *m, int B, int T, int what, Error *e);    /* numbers that it takes */
void acts_free(Acts *a);

/* Of block l: attention (3.7) as chapter 14 has it; the maps that a probe asks for after 3.7. */
void tiled_forward(const Model *m, Acts *a, int l, int B, idx R);
void tiled_backward(Model *m, Acts *a, int l, int B, idx N);
void plain_probe(const Model *m, const Acts *a, int l, int B, idx N);

/* What later papers do to norms, scores and heads, and Muon: data/later. NULL in ./sink, which
 * refuses it. x, y [rows,C]; k, v [rows,K,D]; z, dz, y [n]: of a row's keys, not *; seen: n_i. */
typedef struct Beyond {
  void (*dyt)(const Config *c, real *y, const real *x, const Norm *w, idx rows);
  void (*dyt_backward)(const Config *c, real *dx, const Norm *d, const real *dy, const real *x,
                       real *part, const Norm *w, idx rows);
  void (*qk_norm)(const Model *m, Acts *a, int l, real *k, idx rows);
  void (*qk_norm_backward)(Model *m, Acts *a, int l, idx rows);
  void (*scores)(const Config *c, const Layer *w, idx h, idx seen, idx n, real *z, real *y);
  void (*scores_backward)(const Config *c, const Layer *w, idx h, idx seen, idx n, real *dz,
                          const real *y, real *dc_df);
  void (*gate)(const Model *m, Acts *a, int l, real *v, const real *x, idx rows);
  void (*gate_backward)(Model *m, Acts *a, int l, real *dx, const real *x, idx rows);
  void (*leave)(const Model *m, Acts *a, int l, const real *v, idx rows);
  void (*leave_backward)(const Model *m, Acts *a, int l, int B, idx N);
  idx (*muon_room)(const Model *m, const Tensor *x);   /* size of tmp; x NULL: most */
  void (*muon_step)(const struct Step *s, idx R, idx C, real *w, const real *g, real *M, real *tmp);
} Beyond;

/* ---------- 6  The sink metrics */

enum { EPS_MOST = 12 };          /* thresholds at a time */
/* Means over sequences of everything that is measured, by layer, then head. */
typedef struct Sinks {
  int L, H, T, N, S, batch, n;     /* N rows and S columns as in the maps; n sequences so far */
  int heads, period, offset;       /* in all blocks that attend, by Config's attention_period; */
                                   /* others have 0 in all that is of heads, and are in no mean */
  int n_eps, bad, bad_head; double eps[EPS_MOST];  /* thresholds; where a NaN was met, from 1 */
  double *alpha, *over; /* [L,H,S] alpha_k; [n_eps,L,H,S] share of sequences with alpha_k > eps */
  double *entropy, *mass, *raw; /* [L,H] a row's entropy of m in nats; sum of weights, |weights| */
  double *hnorm, *prenorm;     /* [L+1,N] ||h_n^l||; [L,N] of the feature before a post-norm */
  double *qnorm, *knorm, *vnorm;   /* [L,N] means over heads */
  double *cosine, *product;    /* [L,H,2] cos(q_t, k_j), |q_t| |k_j|: first key; others, mean */
  double massive, median; /* largest |h| over the blocks' outputs; median |h| of that output */
  double loss;                     /* mean cross-entropy, when targets were given */
  double *sums; idx n_sums;        /* all of the arrays above in one */
  Probe *probe; real *maps, *extreme; /* [L], at maps [2,batch,H,N,S]; [batch,N,C] of largest |h| */
} Sinks;
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
  const struct Program *program; void *own;     /* who is asked, and its own settings */
  int argc; char **argv; const char *verb;      /* the command as it was given */
  const char *groups; bool given[200];          /* flags it takes; which of OPTIONS were given */
} Settings;

#define SINK_VERSION "1.0"
enum { WORDS_MOST = 64, FLAGS_ROOM = 1024 };      /* of a command: words that are no flags; bytes */
void settings_default(Settings *s);
/* Reads argv into s; groups says which flags the verb takes. Leaves the words that are not flags in
 * words. The model is resolved later, when the vocabulary is known. */
int  settings_parse(Settings *s, int argc, char **argv, const char *groups,
                    const char **words, int *n_words, Error *e);
int  settings_count(const Settings *s, Error *e);     /* 2 for a flag that changes nothing */
int  outputs_ready(const Settings *s, const char *const *path, int n, Error *e);
void data_close(Data *d);

typedef struct Trainer {
  Settings s; Model m; Acts a; Data data;
  real *m1, *m2, *muon; double *first; int *ids;   /* moments; scratch; first_counts; [2,B,T] */
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

/* The line that a training shows, and its looks. */
typedef struct Progress {
  const char *name; bool quiet, live, has_star, holds;   /* on a terminal; also of the held loss */
  double start, shown; long from;      /* when it was last shown, 0: not; the step at `start` */
  double alpha1, sink1, sink1_low, alpha_star, sink_star, ratio, mass;   /* low: at 0.2 */
  int looks; Look look[LOOKS];
} Progress;

typedef struct HeatMap { const char *title, *column_name; const Sinks *s; int column; } HeatMap;
/* m of one head, T rows (the real tokens) by S columns, mean over sequences; and of one of them
 * the first rows, and its tokens as text. */
enum { HEAD_MAP = 64, MAP_TOKENS = 24, TOKEN_ROOM = 24,    /* no more rows than these are kept */
       MAP_WIDE = HEAD_MAP + 1 + SINK_TOKENS };
typedef struct HeadMap {
  int layer, head, T, S;       /* T 0: there is none */
  double m[HEAD_MAP * MAP_WIDE], one[MAP_TOKENS * MAP_WIDE];
  char token[MAP_TOKENS][TOKEN_ROOM];
} HeadMap;

/* What a training and an evaluation leave of a model: a column of the tables and of the page. */
typedef struct Outcome {
  const char *name, *source;   /* "softmax", "Table 10" */
  Config c; Sinks s; Progress p;     /* s.n = 0: nothing was measured; its looks */
  double even, loss;           /* alpha of even rows; nats a token, over so many tokens, */
  idx tokens; char text[PATH_ROOM], read[2 * PATH_ROOM];   /* of what Data.name and .read say */
  bool star; char ended[640];  /* has it a column * or x*? why its training ended early, or "" */
  HeadMap map[2];              /* for a page: of the heads with the most and the least sink */
} Outcome;

int  look_at_sink(Trainer *t, Progress *p, Error *e);
int  evaluate(Sinks *out, Model *m, const Data *d, const Settings *s, int n, int T,
                    int *starts, Error *e);
enum { HELD_BLOCKS = 64 };       /* of context tokens each, for the held loss of a result */
void heat_maps(const HeatMap *maps, int n, FILE *out);
void progress_start(Progress *p, const char *name, bool quiet);
void progress_show(const Trainer *t, Progress *p);

/* What one run left: named lists of numbers, and the lines that say how it came about. */
typedef struct Numbers { char name[40]; int at, n; } Numbers;     /* value[at .. at + n) */
typedef struct Result {
  char row[48], corpus[40]; int seed; uint64_t checksum;   /* its row's */
  /* the command that repeats it; every flag of its training; text, tokenizer; compiler, set */
  char command[512], flags[2 * FLAGS_ROOM + 64], data[PATH_ROOM], build[256];
  char ended[640]; Numbers *list; int lists; double *value; int values;   /* ended: why, or "" */
} Result;

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
int  worker(void), workers(void);        /* this thread's number, from 0; how many a loop uses */
int  set_workers(int n);                 /* n > 0, or all; 1 when n are not to be had */

int  fail(Error *e, int status, const char *format, ...);    /* keeps the first; its status */
void *grab(idx count, size_t size, Error *e); /* zeroed; NULL and an error when not to be had */
uint64_t rng_next(Rng *r), rng_below(Rng *r, uint64_t n);    /* 64 uniform bits; 0 .. n-1 */
double   rng_uniform(Rng *r), rng_normal(Rng *r);     /* [0,1), 53 bits; N(0,1), Box and Muller */
uint64_t hash64(uint64_t seed, const void *bytes, size_t n); /* FNV-1a, mixed */
uint64_t hash_start(uint64_t seed), hash_end(uint64_t h);    /* the same in pieces */
uint64_t hash_add(uint64_t h, const void *bytes, size_t n);
/* n bytes of numbers of that width, their lowest byte first: alike on every machine */
uint64_t hash_numbers(uint64_t seed, const void *x, size_t n, size_t width);
int  bytes_add(Bytes *b, const void *from, size_t n, Error *e);  /* b->at is no longer NULL */
int  bytes_print(Bytes *b, Error *e, const char *format, ...);   /* text of up to 2047 bytes */
void bytes_free(Bytes *b), number_put(unsigned char *p, uint64_t x, int bytes);
int  bytes_number(Bytes *b, uint64_t x, int bytes, Error *e);   /* little-endian */
uint64_t number_at(const unsigned char *p, int bytes);
size_t utf8_length(const unsigned char *text, size_t n);    /* bytes before the first that is not */
int  file_read(const char *path, Bytes *out, Error *e);      /* "-" is standard input */
/* Appends path and a 0; of a folder instead its plain files' paths, but hidden ones', each with a
 * 0, sorted by their bytes. An empty folder is an error. */
int  files_list(const char *path, Bytes *names, Error *e);
int  file_write(const char *path, const void *at, size_t n, Error *e);   /* beside, then renamed */
int  writing_begin(Writing *w, const char *path, Error *e), writing_end(Writing *w, Error *e);
void writing_add(Writing *w, const void *at, size_t n);
int  file_ready(const char *path, Error *e);     /* can it be written? Leaves nothing */
bool file_missing(const char *path); double seconds(void);   /* wall clock: never in a result */

/* ---------- 16  Command line */

typedef struct Option {
  const char *flag; char group, kind;   /* 16.1; i int, d double, b switch, c choice, s string */
  size_t field; const char *fallback;            /* offset in Settings; the default, as text */
  double least, most;          /* bounds of a number that is given */
  const char *value, *help;    /* its name; of a choice SIM_WORDS, say (chapter 1) */
} Option;
extern const Option OPTIONS[];   /* ends with a NULL flag */
const Option *option_find(const char *flag, const char *groups);
const char *option_idle(const char *flag, const Settings *s);   /* what it needs beside it; NULL */
int  option_set(const Option *o, void *base, const char *text, bool bounded, Error *e);
void option_text(const Option *o, const void *base, char *text, size_t room);
int  settings_flags(Settings *s, const char *flags, const char *groups, Error *e);

typedef struct Verb {
  const char *name, *words, *groups, *help;
  int (*run)(Settings *s, const char **words, int n, Error *e);
} Verb;

/* Rows of OPTIONS (16.1) of what only published models have. */
#define PUBLISHED_OPTIONS \
  {"embed-dim", MODEL('i', embed_dim), "0", 1, 1 << 20, "E", "the embedding's; default: dim"}, \
  {"rotary-dims", MODEL('i', rotary_dims), "0", 1, 1 << 20, "R", "dims rotated; default: all"}, \
  {"rope-base", MODEL('d', rope_base), "10000", 1, 1e12, "X", "base of the rotary frequencies"}, \
  {"rope-pairing", MODEL('c', rope_pairing), WORDS("half", PAIR), "which dims pair"}, \
  {"rope-scaling", MODEL('c', rope_scaling), WORDS("none", ROPE), "stretched angles"}, \
  {"rope-factor", MODEL('d', rope_factor), "8", 1, 1e6, "X", "by how much"}, \
  {"rope-low", MODEL('d', rope_low), "1", 0, 1e6, "X", "turns below which it is whole"}, \
  {"rope-high", MODEL('d', rope_high), "4", 0, 1e6, "X", "turns above which it is kept"}, \
  {"rope-original", MODEL('i', rope_original), "8192", 1, 1 << 24, "T", "the context before"}, \
  {"linear-bias", MODEL('b', linear_bias), ON_OFF, "a bias in every linear map but the last"}, \
  {"bias-in", MODEL('c', bias_in), WORDS("all", BIAS), "with --linear-bias"}, \
  {"score-by-layer", MODEL('b', score_by_layer), ON_OFF, "scores of block l over l + 1"}, \
  {"window-period", MODEL('i', window_period), "0", 1, 1024, "N", "where l mod N = offset [all]"}, \
  {"window-offset", MODEL('i', window_offset), "0", 0, 1024, "N", "see --window-period"},

/* Its rows of what is measured, put out and put in; MORE_OPTIONS are data/paper/options.h's. */
#define COMMON_OPTIONS \
  {"eps", 'e', 'd', AT(eps), "0.3", 0, 1, "X", "threshold of Sink (Figure 3)"}, \
  {"T", 'e', 'i', AT(eval_T), "64", 1, 1 << 24, "T", "tokens of an evaluated sequence"}, \
  {"n", 'a', 'i', AT(eval_n), "100", 1, 1 << 20, "N", "sequences"}, \
  {"k", 'a', 'i', AT(eval_k), "4", 1, 1 << 20, "K", "print Sink_1 .. Sink_K"}, \
  {"metric-rows", 'e', 'c', AT(metric_rows), WORDS("real", METRIC), "plus1: the authors' form"}, \
  {"input", 'e', 'c', AT(input), WORDS("natural", INPUT), "what is fed (Table 1)"}, \
  {"replace-position", 'a', 'i', AT(replace_position), "0", 2, 1 << 24, "T", "p_1 becomes p_T"}, \
  {"swap-position", 'a', 'i', AT(swap_position), "0", 2, 1 << 24, "T", "p_1 and p_T swap places"}, \
  {"beyond", 'a', 'b', AT(beyond), ON_OFF, "--T may be more than the model's context"}, \
  {"out", 'u', 's', AT(out), STRING("FILE"), "where the result goes"}, \
  {"csv", 'j', 's', AT(csv), STRING("FILE"), "the results as CSV; - is standard output"}, \
  {"json", 'j', 's', AT(json), STRING("FILE"), "the results as JSON; or -"}, \
  {"quiet", 'o', 'b', AT(quiet), ON_OFF, "no progress"}, \
  {"force", 'u', 'b', AT(force), ON_OFF, "replace files that are there"}, \
  {"resume", 'r', 'b', AT(resume), ON_OFF, "go on with --out FILE to the same bits, or begin it"}, \
  {"start", 'f', 's', AT(start), STRING("MODEL"), "train it further, from step 0 (Figure 30)"}, \
  {"plain", 'l', 'b', AT(plain), ON_OFF, "the plain loops of 3.7, not tiles: same to rounding"}, \
  {"threads", 'o', 'i', AT(threads), "0", 0, 1024, "N", "0, the default: all; the same bits"}, \
  {"ids", 'i', 's', AT(ids), STRING("FILE"), "lines of T+1 token ids; - is standard input"}, \
  {"all", 'w', 'b', AT(all), ON_OFF, "also q, k, z, gates, features before a post-norm"}, \
  {"prompt", 'g', 's', AT(prompt), STRING("TEXT"), "how the text begins"}, \
  {"seed", 's', 'i', AT(train.seed), "0", 0, 2147483647, "N", "of what is drawn"}, \
  {"n", 'g', 'i', AT(how_many), "0", 1, 1 << 24, "N", "tokens [100], documents of a grammar [1]"}, \
  {"temperature", 'g', 'd', AT(temperature), "0.8", 0, 100, "X", "0 takes the likeliest"}, \
  {"top-k", 'g', 'i', AT(top_k), "0", 1, 1 << 24, "K", "draw among the K likeliest [all]"}, \
  {"top-p", 'g', 'd', AT(top_p), "1", 0, 1, "P", "then among the fewest likeliest that hold P"},
#ifndef MORE_OPTIONS
#define MORE_OPTIONS
#endif

/* The sections of a verb's help, each by the flag that it begins with. */
static const char *const SECTIONS[][2] = {
  {"layers", "Model"}, {"combine", "Attention"}, {"init", "Optimiser"}, {"eps", "Measuring"},
  {"text", "Data"}, {"out", "Output"}, {"ids", "Input"}, {"embed-dim", "Of published models"},
  {"report", "Pages, tables"}, {"cache", "The cache"}, {"attention-period", "Of Jamba"}, {NULL}};

/* Our flag, or what to do without one; behind a 0 what llm.c, nanoGPT, transformers call it. */
static const char *const THEIRS[] = {
  "--lr\0 learning-rate ", "--prompt\0 start ", "--norm-eps\0 rms-norm-eps ", "--act\0 hidden-act ",
  "--context\0 block-size sequence-length max-position-embeddings ", "--heads\0 n-head ",
  "--kv-heads\0 num-key-value-heads n-kv-heads ", "--layers\0 n-layer ", "--wd\0 weight-decay ",
  "--dim\0 hidden-size n-embd d-model ", "--ffn\0 intermediate-size ", "--clip\0 max-grad-norm ",
  "--warmup\0 warmup-steps ", "--accumulate\0 gradient-accumulation-steps ",
  "--steps\0 max-iters num-iterations num-train-epochs epochs ", "--temperature\0 do-sample ",
  "--rope-base\0 rope-theta ", "--tied\0 tie-word-embeddings ", "--tokens\0 input-bin train-bin ",
  "--text\0 train-file dataset ", "--log-every\0 logging-steps log-interval eval-interval ",
  "--save-every\0 save-steps ", "--start\0 init-from model-name-or-path ", "--n\0 max-new-tokens ",
  "without it, as the paper trains\0 dropout attention-dropout ",
  "without it: all runs on the processor, in float\0 device dtype compile bf16 fp16 ",
  "make paper; ./paper help\0 report inputs domains lengths ablate isolate probe repro all readme ",
  "make paper or hf; ./paper help, ./hf help\0 signs quantize stream cache sinks cache-size ",
  "make hf, and ./hf help\0 import export tokenizer choices pace link experts attention-period ",
  "make bench, and ./bench help\0 bench gemm step ops length isa ", NULL};

/* What flags belong to (of verbs, where those are named): "--extra k|kv" is one of these values,
 * "--window" any but none, "or" one of them, "!" none. Where that is not so they are refused if
 * given, and not echoed. A flag that the verb does not take counts as said. */
static const char *const BELONGS[][3] = {
  {" rope-base rope-local rope-scaling ", "--pos rotary"}, {" bias-in ", "--linear-bias"},
  {" window-period rope-local ", "--window"}, {" pnorm ", "--normalizer pnorm"},
  {" rope-factor ", "--rope-scaling linear|llama3|yarn"}, {" extra-order ", "--extra-dims"},
  {" rope-low rope-high rope-original ", "--rope-scaling llama3|yarn"}, {" qk-whole ", "--qk-norm"},
  {" rotary-dims rope-pairing ", "--pos rotary or --extra-order lowfreq"}, {" init ", "!--start"},
  {" extra-shared extra-dims ", "--extra k|kv"}, {" extra-value ", "--extra k"},
  {" extra-norm ", "--extra-value e1|ones"}, {" extra-logit ", "--extra logit"},
  {" window-offset window-others ", "--window-period"}, {" bos tokenizer ", "!--out", "tokenize"},
  {" isolate-blocks ", "--isolate"}, {" positions ", "--cache"}, {" min-lr ", "--schedule cosine"},
  {" behind-only ", "--place sandwich"}, {" replace-position swap-position ", "!--signs"},
  {" expert-slope ", "--expert-limit"}, {" expert-top expert-period expert-limit ", "--experts"},
  {" attention-offset mamba-inner mamba-state mamba-conv mamba-rank ", "--attention-period"},
  {" expert-offset ", "--expert-period"}, {" save-every ", "--out"}, {" end-token ", "--tokens"},
  {" beta1 beta2 adam-eps ", "--optimizer adamw|muon"}, {" tokenizer ", "!--tokens"},
  {" valid ", "--text or --tokens", "train run"}, {" top-k top-p ", "--temperature"},
  {" valid ", "--text or --tokens or --domains", "eval"}, {" input ", "!--inputs or --ids"},
  {" text grammar tokens tokenizer end-token fix-token first-tokens bos valid ", "!--ids"},
  {" text grammar tokens ids ", "!--domains"}, {" T ", "!--lengths"},
  {" prompt temperature top-k top-p bos fix-token first-tokens tokenizer plain ", "!--grammar",
   "generate"}, {" seed ", "--temperature or --first-tokens", "generate"},
  {" seed ", "--ablate key1|value1-mean|kstar, --isolate or --probe", "eval"}, {NULL}};

typedef struct Check Check;      /* a table of chapter 7: heading, lines, and what follows */
/* ./sink, all NULL but its name; or a companion in data/, which has sink's verbs beside its own. */
typedef struct Program {
  const char *name;
  const Verb *verbs;           /* its own, ended by a NULL name */
  const Option *options;       /* its own, ended by a NULL flag; fields are offsets in own */
  void *own; const Check *checks;     /* its settings; more checks, ended by one without lines */
  const Verb *other;           /* whose word is the first one, when that is no verb */
  /* the page of a run, a training or an evaluation: n models, a table, what is said of them */
  int (*page)(const char *path, const char *verb, const Settings *s, const Outcome *o, int n,
              const char *table, const char *verdict, Error *e);
  int (*open)(Data *d, const Source *s, int T, Error *e);             /* these three: Source */
  int (*first)(Data *d, const Source *s, int T, Error *e);
  TokenizerReader *read_tokenizer;
  int (*survey)(const Settings *s, const char **words, int n, Error *e);     /* eval of several */
  int (*heads)(Outcome *o, Trainer *t, const Settings *s, Error *e);         /* fills o->map */
  /* what eval measures besides: numbers with names, and what is said; so --ablate, --isolate .. */
  int (*measure)(Result *besides, Bytes *said, const Settings *s, Trainer *t, Error *e);
  int (*ablate)(Result *besides, Bytes *said, const Settings *s, Trainer *t, Error *e);
} Program;

#endif
