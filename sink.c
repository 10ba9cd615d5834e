/* sink.c - "When Attention Sink Emerges in Language Models" (ICLR 2025), as one
 *          C file.
 *
 *     cc -O3 sink.c -o sink -lm    the whole build; -fopenmp adds every core
 *     ./sink run                   three runs: a sink emerges, moves, is absent
 *     ./sink check                 the propositions, confirmed or refuted
 *
 * SPDX-License-Identifier: MIT
 *
 * Language models pour attention onto their first token, even where it means
 * little. The paper trains dozens of models to learn why. Its answer is in part
 * softmax: a row of weights must sum to one, so the weights depend on each
 * other, and what no key needs has to go somewhere. To check that answer, this
 * file has the decoder with every variant of the paper, forward and backward by
 * hand, the optimiser, the metrics, and the propositions as executable checks.
 *
 * THE FORMULA. Every attention variant of the paper is these lines with one
 * choice on each axis; LETTERS, below, names the symbols:
 *
 *   q, k, v = LN(x) W + b (post: x W + b)    head h reads key head floor(h K/H)
 *   z_ij = <phi(R_i q_i), phi(R_j k_j)> / sqrt(D) + b_h(i-j)
 *   z_i* = <phi(R_i q_i), k*> / sqrt(D)     extra column: this, 0 or learned
 *   s_ij = sim(z_ij) where visible, else 0     i-w < j <= i, or j in the prefix
 *   Z_i  = sum s + 1e-8, or 1, or max(|sum s|, 1), or (sum |s|^p)^(1/p)
 *                                    exp has no 1e-8, here or in m
 *   o_i  = scale sum_j (s_ij / Z_i) v_j + v+      each sum: * and visible keys
 *   m_ij = |s_ij| / (sum |s| + 1e-8)        what the sink metric reads
 *
 * and its backward, from do to dz, with a_j = s_j / Z and s' = sim'(z):
 *
 *   da_j    = scale <do, v_j>
 *   delta   = sum_j a_j da_j
 *   dz_j    = (s'_j / Z) da_j - dlogz_j delta
 *   dlogz_j = dlog Z / dz_j
 *           = s'_j / Z                                where Z = sum s
 *           = 0                                       where Z = 1
 *           = s'_j / sum s where |sum s| > 1, else 0  of the clamp
 *           = (|s_j| / Z)^(p-1) sign(s_j) s'_j / Z    of the p-norm
 *
 * The backward recomputes each row from q and k: memory grows with T, not T^2.
 *
 * LETTERS, unless a section says otherwise:
 *   B sequences    T tokens    N rows: T and any x*    L layers    V vocabulary
 *   S columns of a map: N, N+1 with *    C width, the paper's d; its C is T
 *   F width of the feed-forward    H query heads    K key heads, H in the paper
 *   D width of a head, the paper's d_h    r <= D of its dims are rotated
 *   i query    j key    h head, from 0    n row    t token, from 1
 *   l layer, from 0 in code    x, h^l states
 *   z score, the paper's logit    s = sim(z)    Z normaliser
 *   a = s/Z weight, the paper's attention score A    m the metric's A
 *   scale  C.4's alpha, equation 30; alpha_k is the metric of chapter 6
 *   *  the extra column, a null key k* with value v*: a K or KV bias
 *   x* a sink token    v+ a learned value bias    b_h the bias of a distance
 *   R_i rotation, by an angle that grows with i (3.4)    phi kernel (3.5)
 *   w window    p length of the prefix, and the power of the p-norm
 *   dw = dL/dw with L the loss, for any w; but dlogz = dlog Z/dz, df = f' (3.5)
 *   real: float, or double under -DSINK_DOUBLE    idx: a count of 64 bits
 *   3.1 is a section of this file; `section 3.1` is the paper's
 *
 * CONTENTS. Part I is all of the paper's mathematics in its plainest form; a
 * reader may stop there. Part IV has fast forms of a row and of attention; a
 * test compares each with the plain form, which `--plain` runs.
 *
 * A companion is a program in data/ that includes sink.c and extends its model
 * through pointers: seams, a tensor's product, a norm's forward. In ./sink all
 * are NULL but seams.row, the paper's row (3.6), and a->past is 0, as it keeps
 * no keys for later tokens: skip every `if` on these.
 *
 *   Part I    1 Config and variants    2 Parameters    3 Operators
 *             4 The block and the model    5 Loss, AdamW, schedule
 *             6 The sink metrics    7 The propositions, executable
 *   Part II   8 Tokenizer    9 Text, packing, interventions
 *   Part III  10 Training (train_run, 10.3), checkpoints
 *             11 Evaluation, dump    12 The main job
 *   Part IV   13 Matrix multiply, vector maths
 *             14 Attention in tiles
 *             15 Files, memory, random numbers, errors    16 Command line
 *
 * Three lists to look things up in end this head; a first reading goes on at
 * chapter 1.
 *
 * EQUATIONS. A tag leads to the function, here or in data/, and to the test
 * (`make xref`).
 *   [E1] the objective   [E2] pre-norm block   [E3] post-norm block
 *   [E4] attention   [E5] absolute positions   [E6] relative bias   [E7] ALiBi
 *   [E8] rotary (9)   [E10] states of a repeated token stay equal (10 to 17)
 *   [P1] no positions (18)   [P2] relative (19, 20)   [P3] ALiBi (21, 22)
 *   [P4] rotary (23 to 28)   [E29] the scale (to 31)
 *   [E32] scale = learning rate and start (32 to 42)   [M1] alpha_k
 *   [E43] p-norm   [E44] p-norm as a temperature   [M2] Sink_k   [S2] packing
 *   [S3.3] the inputs: natural, random, repeated   [T1] repeated tokens
 *   [T2] weight decay   [T3] positions   [T4] biases, x*   [T5] fixed v*
 *   [T6] [T15] phi, sim, Z   [T7] p_1 edited   [T8] models   [T9] learning rate
 *   [T10] --batch, fixed token   [T11] activations   [T12] heads; a shared k*
 *   [T13] dims of k*   [T14] scale   [FIG1] block, packing
 *   [FIG2] norms and angles, Figures 11 to 18 too   [FIG3] T and eps
 *   [FIG4] size; while it trains   [FIG5] prefix; less data, Figure 28 too
 *   [FIG6] window   [FIG7] [FIG8] massive activations, before LN too
 *   [FIG9] domains   [FIG10] tasks   [FIG19] heads, to Figure 27
 *   [FIG29] p-norm   [FIG30] fine-tuning
 *
 * WHERE TO CHANGE WHAT, in this order. The build or a test fails if a place in
 * code is forgotten.
 *   a choice      its CHOICE in sink.h; its tensors (2); its operator, both
 *                 ways: positions 3.1 or 3.4, norm 3.2, activation and phi 3.5,
 *                 sim and Z 3.6 and 14.1, extra column 3.7, heads 3.9, block 4;
 *                 take_layer, take_all (14.3); what it refuses, config_resolve
 *                 (16.1); SCHEMES and INSIDE, or EQUAL_SUMS,
 *                 NEARLY_EQUAL_SUMS (Z has the 1e-8) or OTHER_SUMS (7);
 *                 the tests and companions that data/README.md lists;
 *                 `make gradients FLAGS='--sim NEW'` checks the gradients
 *   a choice that is not the paper's   a file that includes sink.c and fills in
 *                 seams (MORE_ macros and Seams, sink.h; data/later)
 *   a variant     VARIANTS (1); a row of data/paper/experiments.txt trains it
 *   a flag        its field (Config; Settings, before 8); OPTIONS (16.1)
 *   a metric      its array (Sinks, sink.h); sinks_create, measure_head (11.0);
 *                 its column, blocks_print (16.2)
 *   a check       a function of chapter 7; CHECKS (7.11)
 *
 * WHERE THE PAPER AND ITS AUTHORS' CODE DIFFER (sail-sg/Attention-Sink
 * af49727) or are silent. This file has:
 *   F1  learning rate: constant after the warm-up as in their code; the paper's
 *       cosine is an option
 *   F2  initialisation (2): PyTorch's, which seems to replace their own on
 *       several GPUs
 *   F3  relative positions: a fixed bias equal to the bucket number, as in
 *       their code; T5's is `t5`
 *   F4  rotary pairs dims (c, c + r/2), as in their code; absolute positions
 *       are equation 5's
 *   F5  weight decay is decoupled and acts on every parameter; the paper writes
 *       it into the loss
 *   F6  the metric reads the T real rows; --metric-rows plus1 adds *'s dummy
 *       row of their code (6)
 *   F7  the threshold is applied per sequence, then averaged, as in their code
 *   F8  Table 12 adds heads before W_O [D,C]; x* are rows, from position 0
 */
#define _POSIX_C_SOURCE 200809L    /* fsync, fileno ..: chapter 15 */
#define _FILE_OFFSET_BITS 64       /* files above 2 GB where long has 32 bits */
#include "sink.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#ifdef _OPENMP
#include <omp.h>
#define PARALLEL _Pragma("omp parallel for schedule(static)")
#else
#define PARALLEL
#endif

/* The kernels' instruction sets; isa_best is the best one this machine has. */
typedef enum Isa { ISA_BASE, ISA_AVX2, ISA_AVX512 } Isa;
Isa isa_best(void);

/* PARALLEL shares a loop's iterations among threads.
 *
 * Read WIDE(f, (int n), (n)) { body } as void f(int n) { body }. On x86-64 it
 * is compiled for each Isa, and the best that the machine has runs; elsewhere
 * once. INSTANCES makes the table; BYTES is a vector's width. */
#if defined(__GNUC__) && !defined(__TINYC__)
#define INLINE static inline __attribute__((always_inline))
#else
#define INLINE static inline
#endif
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__TINYC__)
#define PROCESSOR_HAS(set) __builtin_cpu_supports(set)
#define INSTANCES(type, name, parameters, call) \
    static type name##_base parameters { enum { BYTES = 16 }; call; } \
    __attribute__((target("avx2,fma"))) \
    static type name##_avx2 parameters { enum { BYTES = 32 }; call; } \
    __attribute__((target("avx512f,avx2,fma"))) \
    static type name##_avx512 parameters { enum { BYTES = 64 }; call; } \
    static type (*const name[]) parameters = {name##_base, name##_avx2, name##_avx512};
#else
#define PROCESSOR_HAS(set) false
#define INSTANCES(type, name, parameters, call) \
    static type name##_base parameters { enum { BYTES = 16 }; call; } \
    static type (*const name[]) parameters = {name##_base};
#endif
#define WIDE(name, parameters, arguments) \
    INLINE void name##_body parameters; \
    INSTANCES(void, name##_for, parameters, name##_body arguments) \
    void name parameters { name##_for[isa_best()] arguments; } \
    INLINE void name##_body parameters

/* WHAT PART I CALLS OF PART IV: matrix multiply and vector maths (13). */

/* The row-major matrix at `at`, rows ld elements apart; its transpose. */
static inline Matrix rows_of(const real *at, idx ld) {
  return (Matrix){at, ld, 1};
}
static inline Matrix transpose_of(const real *at, idx ld) {
  return (Matrix){at, 1, ld};
}

/* c[m,n] = a[m,k] b[k,n], or c += a b when add. Rows of c begin ldc apart; c
 * overlaps neither a nor b. An element sums over k in one order: its bits
 * depend on the instruction set, not on threads, m or n. */
void matmul(real *c, idx ldc, Matrix a, Matrix b, idx m, idx n, idx k, bool add);

/* y[i] = e^(x[i] - less), 1 / (1 + e^-x[i]), sqrt(x[i]), N(0,1)'s cumulative
 * distribution; i < n; y may be x. NaN stays NaN (13.3). */
void vec_exp(idx n, real *y, const real *x, real less);
void vec_sigmoid(idx n, real *y, const real *x);
void vec_sqrt(idx n, real *y, const real *x);
void vec_cumulative(idx n, real *y, const real *x);

/* Sum, maximum (-INFINITY for n = 0; skips NaN) and dot product, in an order
 * that depends on n alone. */
real vec_sum(idx n, const real *x);
real vec_max(idx n, const real *x);
real vec_dot(idx n, const real *x, const real *y);

/* y += x and y *= x, for x, y [n] that do not overlap; y *= a; x = 0; y = x. */
void vec_add(idx n, real *y, const real *x);
void vec_multiply(idx n, real *y, const real *x);
void vec_scale(idx n, real *y, real a);
void zero(real *x, idx n);
void copy(real *y, const real *x, idx n);

/* libm's exp, pow and fabs, in real */
real real_exp(real x);
real real_pow(real x, real y);
real real_abs(real x);

/* Threads, errors, random numbers (15). worker is this thread's number,
 * from 0; workers, how many a parallel loop uses; set_workers asks for n, 0 for
 * all, and returns 1 if it cannot have them. */
int worker(void);
int workers(void);
int set_workers(int n);
/* Sets a pass's threads: `begins` at its start, `tasks` to be shared (14.2). */
static void pace(Acts *a, bool begins, idx tasks);

/* Keeps the first error; returns its status. */
int fail(Error *e, int status, const char *format, ...);
/* Draws: uniform on 0 .. n-1; uniform on [0,1), with 53 bits; N(0,1), by Box
 * and Muller. hash64 is a hash of bytes. */
uint64_t rng_below(Rng *r, uint64_t n);
double rng_uniform(Rng *r);
double rng_normal(Rng *r);
uint64_t hash64(uint64_t seed, const void *bytes, size_t n);

/* ==========
 * PART I   THE MATHEMATICS
 * ==========
 *
 * 1  Config and variants   paper: sections 2, 7; tables
 *
 * The paper's model is softmax attention with rotary positions, pre-norm and
 * SwiGLU. Its experiments change one thing at a time, so a model here is one
 * choice on each of these axes, held in struct Config (sink.h):
 *
 *   axis          choices, the default first                varied in
 *   positions     rotary; none, absolute, learned,          Table 3,
 *                 relative, t5 (+), alibi                   appendix A
 *   block         pre; post    norm: rms; layer (+)         section 7.2
 *   ffn           swiglu; geglu, reglu, swish, gelu, relu   Table 11
 *                 (+) gelutanh, geglutanh
 *   heads         concatenated; added                       Table 12 left
 *                 (+) fewer key heads than query heads
 *   kernel phi    identity; elu + 1, mlp                    Tables 6, 15
 *   similarity    exp; sigmoid, elu + 1, identity           Tables 6, 15
 *   normaliser    sum; one, clamp, p-norm                   Table 15, eq. 43
 *   scale         1; any                                    Table 14
 *   extra column  none; k, kv; (+) zero, logit              Table 4
 *                 shared; d_a dims; a fixed v*              Tables 5, 12, 13
 *   others        value bias v+; sink token x*              Table 4
 *   mask          causal; window w; prefix p                Figures 5, 6
 *   (+) not in the paper but common in decoders, as are linear biases and a
 *       tied embedding
 *
 * gradients__every_pair (data/check/test_rows.c) compares the gradients of all
 * compatible pairs of choices with finite differences of the loss.
 *
 * A variant is a set of flags: `--variant sigmoid` sets c->sim to SIM_SIGMOID
 * and c->normalizer to NORMALIZER_ONE, and nothing else.
 *
 * The paper's model (section 4: L = 10, C = 768, H = 8, D = 96, F = 1536) has
 * some 60 million parameters besides the embeddings. Sink_1 and loss below are
 * the paper's for it; a smaller model does not reproduce them. This table is a
 * selection; data/paper/experiments.txt has the paper's tables.
 *
 *   "18.18"             Sink_1 at threshold 0.3 and T = 64, in percent; of
 *                       Table 15's 2, 4 and 6 to 11 on proxy scores (3.6)
 *   "* 74.12 / 0.00"    Sink_*, of * or of x*, then Sink_1
 *   "-"                 the training failed
 *   ""                  not printed, or not known (Tables 5, 13)
 *
 * The paper finds a sink where a row's weights are positive and depend on each
 * other through Z, their "inner dependence". Z = 1 almost removes the sink. A K
 * bias or a sink token draws it away from token 1. */
const Variant VARIANTS[] = {
  /* name, flags, source, Sink_1 in %, loss */
  /* [T15] Section 7.4: eleven operations, some also in [T6]. Compare 2 and 3 */
  {"softmax", "", "Table 15, 1", "18.18", "3.73"},
  {"sigmoid", "--sim sigmoid --normalizer one", "Table 15, 2", "0.44", "3.70"},
  {"sigmoid-sum", "--sim sigmoid", "Table 15, 3", "30.24", "3.74"},
  {"elu", "--sim elu --normalizer one", "Table 15, 4", "0.80", "3.69"},
  {"elu-sum", "--sim elu", "Table 15, 5", "-", "-"},
  {"elu-kernel-sum", "--kernel elu --sim identity",
   "Table 15, 6", "53.65", "4.19"},
  {"elu-kernel", "--kernel elu --sim identity --normalizer one",
   "Table 15, 7", "-", "-"},
  {"linear-clamp", "--sim identity --normalizer clamp",
   "Table 15, 8", "-", "-"},
  {"linear", "--sim identity --normalizer one", "Table 15, 9", "0.00", "3.99"},
  {"mlp-clamp", "--kernel mlp --sim identity --normalizer clamp",
   "Table 15, 10", "0.19", "3.85"},
  {"mlp", "--kernel mlp --sim identity --normalizer one",
   "Table 15, 11", "0.74", "3.91"},
  /* [T4] Section 7.3: a token or a key takes the sink over, a value does not */
  {"sink-token", "--sink-token", "Table 4, 2", "* 74.12 / 0.00", "3.72"},
  {"kv-bias", "--extra kv", "Table 4, 3", "* 72.76 / 0.04", "3.72"},
  {"k-bias", "--extra k", "Table 4, 4", "* 73.34 / 0.00", "3.72"},
  {"v-bias", "--vbias", "Table 4, 5", "17.53", "3.73"},
  /* [T12] One k* for all heads. With a v*, token 1 regains some of the sink */
  {"kv-bias-shared", "--extra kv --extra-shared",
   "Table 12 right", "* 56.61 / 12.44", "3.72"},
  {"k-bias-shared", "--extra k --extra-shared",
   "Table 12 right", "* 68.31 / 0.23", "3.72"},
  /* [T5] A fixed v*: the longer it is, the more sink returns to token 1 */
  {"k-bias-e1", "--extra k --extra-value e1 --extra-norm 1",
   "Table 5, v'", "0.06", ""},
  {"k-bias-20e1", "--extra k --extra-value e1 --extra-norm 20",
   "Table 5, 20v'", "25.88", ""},
  {"k-bias-ones", "--extra k --extra-value ones --extra-norm 1",
   "Table 5, v''", "* 69.74 / 2.15", "3.72"},
  {"k-bias-20ones", "--extra k --extra-value ones --extra-norm 20",
   "Table 5, 20v''", "* 0.00 / 11.21", "3.73"},
  /* [T13] d_a = 1 of 96 dims; d_a = 64 has Sink_* 69.19 and Sink_1 0.04 */
  {"k-bias-1dim", "--extra k --extra-dims 1", "Table 13", "4.74", ""},
  /* [T3] Section 7.1: a sink under every scheme, and without any (F3) */
  {"nope", "--pos none", "Table 3", "20.35", "3.81"},
  {"absolute", "--pos absolute", "Table 3", "32.73", "3.74"},
  {"learned", "--pos learned", "Table 3", "33.13", "3.79"},
  {"relative", "--pos relative", "Table 3", "35.53", "5.45"},
  {"alibi", "--pos alibi", "Table 3", "20.78", "3.71"},
  {"post-norm", "--place post", "Section 7.2", "13.54", ""},
  /* [T11] Appendix C.3. The three without a gate keep F = 1536 in the authors'
   * code: 47,202,048 parameters besides embeddings, not 58,998,528 */
  {"relu", "--act relu", "Table 11", "16.90", "3.82"},
  {"gelu", "--act gelu", "Table 11", "14.76", "3.79"},
  {"swish", "--act swish", "Table 11", "17.89", "3.80"},
  {"reglu", "--act reglu", "Table 11", "13.88", "3.75"},
  {"geglu", "--act geglu", "Table 11", "17.86", "3.73"},
  {"addition", "--combine add", "Table 12 left", "21.76", "3.74"},
  /* [T14] Rows sum to the scale. m_ij leaves it out, so Sink_1 can compare */
  {"scale-2", "--scale 2", "Table 14 left", "29.10", "3.72"},
  {"scale-0.2", "--scale 0.2", "Table 14 left", "9.41", "3.72"},
  {"scale-0.05", "--scale 0.05", "Table 14 left", "4.53", "3.78"},
  /* [FIG29] [FIG5] [FIG6] Shown in figures only, without numbers */
  {"pnorm-half", "--normalizer pnorm --pnorm 0.5", "Figure 29", "", ""},
  {"sigmoid-pnorm-2", "--sim sigmoid --normalizer pnorm --pnorm 2",
   "Figure 29", "", ""},
  {"prefix-5", "--prefix 5", "Figure 5", "", ""},
  {"window-32", "--window 32", "Figure 6", "", ""},
  /* Relatives of these rows that the paper does not train */
  {"t5", "--pos t5", "beyond: T5 (1910.10683)", "", ""},
  {"off-by-one", "--extra zero", "beyond: off-by-one (2410.17174)", "", ""},
  {"sink-logit", "--extra logit", "beyond: a learned logit", "", ""},
  MORE_VARIANTS
  {0}
};

static bool config_gated(const Config *c) { return c->act <= ACT_GEGLUTANH; }

/* The rows and columns that T tokens have in an attention map:
 *
 *   rows      x*  1  2 ... T      states, and the queries i of a map   N
 *   columns * x*  1  2 ... T      the keys j of a map                  S
 *
 *   model               N      S      column of token 1    column "star"
 *   default             T      T      0                    -1
 *   --extra k           T      T+1    1                    0, which is *
 *   --sink-token        T+1    T+1    1                    0, which is x*
 *   both                T+1    T+2    2                    0, which is *
 *
 * x* is an input: it has a row, with a state and a query in every block. The
 * extra column * has only a key and a value in each head. v+ has no column: it
 * is added to a head's output. */
static int config_rows(const Config *c, int T) { return T + c->sink_token; }

static int config_column_first(const Config *c) {
  return (c->extra != EXTRA_NONE) + c->sink_token;
}

static int config_columns(const Config *c, int T) {
  return T + config_column_first(c);
}

/* Fills in the fields that follow from others; idempotent. */
static void config_fill(Config *c) {
  if (!c->vocab)
    c->vocab = VOCAB_DEFAULT;
  if (!c->head_dim)
    c->head_dim = c->dim / c->heads;
  if (!c->kv_heads)
    c->kv_heads = c->heads;
  if (!c->rotary_dims)
    c->rotary_dims = c->head_dim;
  if (c->normalizer == NORMALIZER_PNORM && c->pnorm == 0)
    c->pnorm = 2;
  if (c->extra != EXTRA_K)           /* elsewhere v* is learned or zero */
    c->extra_value = VALUE_ZERO;
  /* of positive s the 1-norm is the sum */
  if (c->normalizer == NORMALIZER_PNORM && c->pnorm == 1 &&
      c->sim != SIM_IDENTITY) {
    c->normalizer = NORMALIZER_SUM;
    c->pnorm = 0;
  }
}

/* ==========
 * 2  Parameters: one list of tensors   paper: sections 2 and 4, Table 4
 *
 * A tensor carries its gradient d, of the same shape as w. model_list names
 * every tensor once, in the order of checkpoints and dumps. A matrix is
 * [in,out], row-major: y = x W.
 *
 *   wte [V,C]                         W_E
 *   xstar [C]; [n,C] for n > 1        x*                   --sink-token n
 *   wpe [N,C], N of --context         learned P            --pos learned
 *   rel [32,H]                        T5's b_h             --pos t5
 *   l0.norm1 [C]                      the gain of n1       .b: LayerNorm's bias
 *   l0.wq [C,HD]  l0.wk, l0.wv [C,KD]    W_Q, W_K, W_V
 *   l0.bq, l0.bk, l0.bv               biases of these      --linear-bias
 *   l0.phi1, l0.phi2 [D,D]            of the kernel        --kernel mlp
 *   l0.kstar, l0.vstar [H,D]          k*, v*; shared [1,D]   --extra k, kv
 *   l0.logit [H]                      z_i*                 --extra logit
 *   l0.vplus [H,D]                    v+                   --vbias
 *   l0.wo [HD,C]  l0.bo [C]           W_O
 *   l0.norm2 [C]                      the gain of n2
 *   l0.w1, l0.w2 [C,F]  l0.w3 [F,C]   the FFN              l0.b1, l0.b2, l0.b3
 *                                     without a gate w3 is named w2, b3 b2
 *   normf [C]  wcls [C,V]             the final norm (pre), W_cls (untied)
 *
 * How a tensor starts under --init (F2). N(0, v) has variance v; U(+-a) has
 * standard deviation a / sqrt(3):
 *
 *           torch                  authors               gpt2
 *   EMBED   N(0, 1)                N(0, 0.4 / C)         N(0, 0.02^2)
 *   LINEAR  U(+-1/sqrt(fan_in))    N(0, 0.4 / fan_in)    N(0, 0.02^2)
 *   OUT wo  as LINEAR              as LINEAR             N(0, 0.02^2 / 2L)
 *   DOWN w3 as LINEAR              N(0, 1/(fan_in L^2))  N(0, 0.02^2 / 2L)
 *   BIAS    U(+-1/sqrt(fan_in))    0                     0
 *   SMALL   N(0, 0.02^2) under all three: k*, v*, v+ and the logit
 *   STREAM  as EMBED: x*
 * Gains start at 1, the biases of norms and rel at 0.
 *
 * --decay matrices decays EMBED, LINEAR, OUT and DOWN alone. torch is PyTorch's
 * default. authors is the authors' own, whose DOWN is for SwiGLU only (other
 * ffn: LINEAR). gpt2 shrinks what writes into the residual stream, so that its
 * 2L branches together have the variance of one unshrunk.
 *
 * In the paper's model a row of wte has length 27.7 (torch), 0.63 (authors) or
 * 0.55 (gpt2): the stream, and the norm ratios of Figure 7, start from it.
 * Under torch a tied wte gives logits a standard deviation near sqrt(C).
 *
 * Weights of the paper's model (chapter 1):
 *
 *   a block        4 C C + 3 C F + 2 C                            5,899,776
 *   all blocks     10 of them, and the final gain C              58,998,528
 *   embeddings     2 V C, with the authors' padded V = 50,432    77,463,552
 *   KV biases      2 L H D (K biases half; shared, an eighth)        15,360
 *   V biases       L H D                                              7,680
 *
 * Test: model_create__counts. */
enum {
  INITIAL_ZERO, INITIAL_ONE,
  INITIAL_EMBED, INITIAL_LINEAR, INITIAL_OUT, INITIAL_DOWN,   /* matrices */
  INITIAL_STREAM, INITIAL_BIAS, INITIAL_SMALL
};

static Sublayer mhsa_forward, feed_forward;   /* chapters 4 and 3.10 */

static idx tensor_count(const Tensor *t) { return (idx)t->rows * t->cols; }

/* Appends t [rows,cols], if present, to the list; cols 0 makes a vector, with
 * t->cols 1. Block 0's names begin with "l0.". A companion may leave t out, or
 * append its own after it. */
static void list(Model *m, Tensor *t, bool present, const char *name, int l,
                 int rows, int cols, int init) {
  const Seams *s = &m->seams;
  if (present && !(s->lacks && s->lacks(m, l, name))) {
    if (l < 0)
      snprintf(t->name, sizeof t->name, "%s", name);
    else
      snprintf(t->name, sizeof t->name, "l%d.%s", l, name);
    t->rank = 1 + (cols > 0);
    t->rows = t->fan_in = rows;
    t->cols = cols ? cols : 1;
    t->init = init;
    t->layer = l;
    t->start = init == INITIAL_ONE;
    t->matrix = cols && init >= INITIAL_EMBED && init <= INITIAL_DOWN;
    m->count += tensor_count(t);
    m->all[m->n_tensors++] = t;
  }
  if (s->tensors)
    s->tensors(m, l, t);
}

/* The bias b of W: a number per column, initialised by W's fan-in. */
static void list_bias(Model *m, Tensor *W, Tensor *b, const char *name, int l) {
  list(m, b, m->c.linear_bias && W->rows, name, l, W->cols, 0, INITIAL_BIAS);
  b->fan_in = W->rows;
  W->bias = b;
}

static void list_norm(Model *m, Norm *w, bool present, const char *name,
                      int l) {
  char bias[16];
  snprintf(bias, sizeof bias, "%s.b", name);
  w->eps = m->c.norm_eps;
  list(m, &w->g, present, name, l, m->c.dim, 0, INITIAL_ONE);
  list(m, &w->b, present && m->c.norm != NORM_RMS, bias, l, m->c.dim, 0,
       INITIAL_ZERO);
}

/* In W_Q, W_K and W_V head h has the columns h D .. h D + D - 1. Where heads
 * are added, W_O reads D numbers (F8). */
static void list_attention(Model *m, Layer *w, int l) {
  const Config *c = &m->c;
  int C = c->dim, D = c->head_dim, H = c->heads, K = c->kv_heads;
  int copies = c->extra_shared ? 1 : H;   /* of k* and v* */
  int O = c->combine == COMBINE_ADD ? D : H * D;
  bool phi = c->kernel == KERNEL_MLP, kv = c->extra == EXTRA_KV;
  list(m, &w->wq, true, "wq", l, C, H * D, INITIAL_LINEAR);
  list(m, &w->wk, true, "wk", l, C, K * D, INITIAL_LINEAR);
  list(m, &w->wv, true, "wv", l, C, K * D, INITIAL_LINEAR);
  list_bias(m, &w->wq, &w->bq, "bq", l);
  list_bias(m, &w->wk, &w->bk, "bk", l);
  list_bias(m, &w->wv, &w->bv, "bv", l);
  list(m, &w->phi1, phi, "phi1", l, D, D, INITIAL_LINEAR);
  list(m, &w->phi2, phi, "phi2", l, D, D, INITIAL_LINEAR);
  /* Tables 4, 5, 12 and 13. Without vstar, v* is 0 or fixed */
  list(m, &w->kstar, kv || c->extra == EXTRA_K, "kstar", l, copies, D,
       INITIAL_SMALL);
  list(m, &w->vstar, kv, "vstar", l, copies, D, INITIAL_SMALL);
  list(m, &w->logit, c->extra == EXTRA_LOGIT, "logit", l, H, 0, INITIAL_SMALL);
  list(m, &w->vplus, c->vbias, "vplus", l, H, D, INITIAL_SMALL);
  list(m, &w->wo, true, "wo", l, O, C, INITIAL_OUT);
  list_bias(m, &w->wo, &w->bo, "bo", l);
}

/* Without a gate W3 is named w2, and b3 b2. */
static void list_ffn(Model *m, Layer *w, int l) {
  int C = m->c.dim, F = m->c.ffn;
  bool here = w->feed == feed_forward, gated = config_gated(&m->c);
  list(m, &w->w1, here, "w1", l, C, F, INITIAL_LINEAR);
  list(m, &w->w2, here && gated, "w2", l, C, F, INITIAL_LINEAR);
  list(m, &w->w3, here, gated ? "w3" : "w2", l, F, C, INITIAL_DOWN);
  list_bias(m, &w->w1, &w->b1, "b1", l);
  list_bias(m, &w->w2, &w->b2, "b2", l);
  list_bias(m, &w->w3, &w->b3, gated ? "b3" : "b2", l);
}

static int model_begin(Model *m, const Config *c, Error *e);   /* m->layer */

/* Lists the tensors of a resolved c; none has memory yet. */
static int model_list(Model *m, const Config *c, Error *e) {
  int C = c->dim, X = c->sink_token;
  if (model_begin(m, c, e))
    return e->status;
  list(m, &m->wte, true, "wte", -1, c->vocab, m->embed, INITIAL_EMBED);
  list(m, &m->xstar, X == 1, "xstar", -1, C, 0, INITIAL_STREAM);
  list(m, &m->xstar, X > 1, "xstar", -1, X, C, INITIAL_STREAM);
  list(m, &m->wpe, c->pos == POS_LEARNED, "wpe", -1, config_rows(c, c->context),
       C, INITIAL_EMBED);
  list(m, &m->rel, c->pos == POS_T5, "rel", -1, 32, c->heads, INITIAL_ZERO);
  for (int l = 0; l < c->layers; l++) {
    Layer *w = &m->layer[l];
    list_norm(m, &w->norm1, true, "norm1", l);
    if (w->mix == mhsa_forward)
      list_attention(m, w, l);
    list_norm(m, &w->norm2, true, "norm2", l);
    list_ffn(m, w, l);
  }
  /* under post-norm the last n2 is the final norm */
  list_norm(m, &m->normf, c->place != PLACE_POST, "normf", -1);
  list(m, &m->wcls, !c->tied, "wcls", -1, m->embed, c->vocab, INITIAL_LINEAR);
  return 0;
}

/* The table above, init its column: the standard deviation of t's start, or -a
 * for U(+-a); 0 where nothing is drawn. */
static double init_spread(const Config *c, const Tensor *t, int init) {
  int kind = t->init;
  double fan = sqrt(t->fan_in), depth = sqrt(2.0 * c->layers);
  bool writes = kind == INITIAL_OUT || kind == INITIAL_DOWN;
  bool embeds = kind == INITIAL_EMBED || kind == INITIAL_STREAM;
  if (kind < INITIAL_EMBED || (kind == INITIAL_BIAS && init != INIT_TORCH))
    return 0;
  if (kind == INITIAL_SMALL || init == INIT_GPT2)
    return writes ? 0.02 / depth : 0.02;
  if (init == INIT_TORCH)
    return embeds ? 1 : -1 / fan;
  if (embeds)
    return sqrt(0.4 / c->dim);
  if (kind == INITIAL_DOWN && c->act == ACT_SWIGLU)
    return 1 / (fan * c->layers);
  return sqrt(0.4) / fan;
}

static bool config_learned_dim(const Config *c, int d);   /* of k*: 3.7 */

/* t becomes mean + spread N(0,1), or mean + U(+-|spread|) if spread < 0. Its
 * name seeds its own random stream, so two variants with one seed start equal
 * in the tensors that both have (model_init__streams). */
static void tensor_draw(const Config *c, const Tensor *t, uint64_t seed,
                        double mean, double spread) {
  Rng rng = {hash64(seed, t->name, strlen(t->name))};
  bool kstar = strstr(t->name, ".kstar");
  for (idx n = 0; n < tensor_count(t); n++) {
    double x = spread < 0 ? 1 - 2 * rng_uniform(&rng) : rng_normal(&rng);
    t->w[n] = (real)(mean + spread * x);
    if (kstar && !config_learned_dim(c, (int)(n % c->head_dim)))
      t->w[n] = 0;   /* frozen: Table 13 */
  }
}

static void model_init(Model *m, int init, uint64_t seed) {
  for (int i = 0; i < m->n_tensors; i++) {
    const Tensor *t = m->all[i];
    tensor_draw(&m->c, t, seed, t->start, init_spread(&m->c, t, init));
  }
}

/* ==========
 * 3  Operators, forward and backward side by side
 *
 * These operators make one block (section 2; Figure 1 left [FIG1]; chapter 4),
 * which reads the residual stream x = h^{l-1} and writes y = h^l:
 *
 *   pre [E2]     x --> n1 --> MHSA --> + --> u --> n2 --> FFN --> + --> y
 *                |                     |     |                    |
 *                +---------------------+     +--------------------+
 *
 *   post [E3]    x --> MHSA --> + --> n1 --> u --> FFN --> + --> n2 --> y
 *                |              |            |             |
 *                +--------------+            +-------------+
 *
 *   n1, n2   norms: 3.2. The embedding, 3.1, precedes the first block
 *   MHSA     W_Q, W_K, W_V 3.3, rotation 3.4, phi 3.5, attention 3.6 and 3.7,
 *            v+ 3.8, W_O 3.9
 *   FFN      3.10
 *
 * Tokens mix in 3.7 only. A forward overwrites its output; a backward adds to
 * gradients unless it says otherwise. Each backward step stands below the
 * forward line that it differentiates.
 *
 * Iterations of a PARALLEL loop share no result, so the bits do not depend on
 * the number of threads. Acts (sink.h, 4) holds gradients in transit (a->dq);
 * its LayerActs hold what each block's forward keeps (la->q).
 *
 * ----------
 * 3.1  Embedding and added positions   H^0 = X W_E + P   section 2, [E5] [T4]
 *
 *   h_n = wte[id] + p_n        row n of a sequence; x*, if any, comes first
 *
 * The paper's X has one-hot rows: X W_E copies rows of W_E. P is sinusoidal
 * [E5], learned, or 0; if it is 0 the position enters the scores (3.4), or
 * nothing. Without P, * and x* the states of a repeated token start equal.
 * Softmax keeps them equal in all blocks (7.2), so only positions in the scores
 * can prefer a key (7.5 to 7.8). On repeated tokens Table 1 has Sink_1 =
 * 62.28 % in GPT2-XL (learned P) and 0.00 in LLaMA3-8B (rotary).
 * Positions count from 0, x* first; in the paper from 1.
 *
 * Backward. h is linear in wte, x* and P. From dh_n, summed over sequences:
 *   dwte[id] += dh_n    over all n that hold id; other ids get 0
 *   dp_n     += dh_n    a row of the learned table
 *   dx*_n    += dh_n    the rows of x* */

enum {
  CHANNELS = 32,   /* columns a task owns where it sums gradients over rows */
  CHUNK = 256      /* numbers handled at a time on the stack */
};

static real *offset(real *p, idx n) { return p ? p + n : NULL; }

/* The size of the CHUNK of n numbers that begins at `from`. */
static idx chunk(idx n, idx from) { return at_most(n - from, CHUNK); }

/* [E5] p_n = (sin f_1 n, cos f_1 n, sin f_2 n, ..), f_i = 10000^(-2(i-1)/C).
 * Channel ch, from 0, is the sine (even) or cosine (odd) of frequency
 * i = ch/2 + 1, rounded down. As sin^2 + cos^2 = 1, |p_n| = sqrt(C/2) at every
 * n. With C = 4, p_0 = (0, 1, 0, 1) and p_1 = (0.841, 0.540, 0.010, 1.000).
 *
 * The authors' code has all sines first (F4), which permutes the channels. */
static double absolute_position(int C, int n, int ch) {
  double angle = n * pow(10000.0, -(double)(ch - ch % 2) / C);
  return ch % 2 ? cos(angle) : sin(angle);
}

/* N, the rows of a forward over T tokens. In generation x* is among the a->past
 * earlier rows, whose keys are cached. */
static idx forward_rows(const Config *c, const Acts *a, int T) {
  return a->past ? T : config_rows(c, T);
}

/* ids [B,T] to a->h0 = H^0 [B,N,C], at positions from a->past on. */
static void embed_forward(const Model *m, Acts *a, const int *ids, int B,
                          int T) {
  idx C = m->c.dim, N = forward_rows(&m->c, a, T), first = N - T;
  const real *table = m->wpe.w ? m->wpe.w : a->sinusoid;   /* P, or NULL */
  for (idx b = 0; b < B; b++) {
    real *h_b = a->h0 + b * N * C;       /* [N,C] */
    real *tokens = h_b + first * C;      /* [T,C] */
    if (m->seams.embed)
      m->seams.embed(m, a, ids + b * T, T, tokens);
    else
      for (int t = 0; t < T; t++)
        copy(tokens + t * C, m->wte.w + ids[b * T + t] * C, C);
    if (first)
      copy(h_b, m->xstar.w, first * C);
    for (idx n = 0; table && n < N; n++)
      vec_add(C, h_b + n * C, table + (a->past + n) * C);
  }
}

/* Adds `from` to `to` in a task's columns, CHANNELS from `first` on. */
static void add_columns(real *to, const real *from, idx first, idx width) {
  for (idx ch = first; ch < first + CHANNELS && ch < width; ch++)
    to[ch] += from[ch];
}

/* dh [B,N,C] is the gradient of H^0. As rows may share an id, a task owns
 * columns and adds the rows in order. */
static void embed_backward(Model *m, Acts *a, const int *ids, int B, int T,
                           const real *dh) {
  idx C = m->c.dim, N = config_rows(&m->c, T), first = N - T;
  bool tokens = !m->seams.embed_backward;
  PARALLEL
  for (idx ch = 0; ch < C; ch += CHANNELS)
    for (idx b = 0; b < B; b++)
      for (idx n = 0; n < N; n++) {
        const real *dh_n = dh + (b * N + n) * C;
        idx t = n - first;
        /* h_n = x*_n, or wte[id] */
        if (t < 0)
          add_columns(m->xstar.d + n * C, dh_n, ch, C);
        else if (tokens)
          add_columns(m->wte.d + ids[b * T + t] * C, dh_n, ch, C);
        /* h_n = .. + p_n */
        if (m->wpe.d)
          add_columns(m->wpe.d + n * C, dh_n, ch, C);
      }
  if (!tokens)
    m->seams.embed_backward(m, a, ids, B, T, dh);
}

/* ----------
 * 3.2  Normalisation   RMSNorm: y = g xn    LayerNorm: y = g xn + b
 *
 *   xn_c = (x_c - mu) / sigma       sigma = sqrt(mean_c (x_c - mu)^2 + eps)
 *   mu = mean_c x_c for LayerNorm, 0 for RMSNorm
 *
 * The paper's LN is an RMSNorm; in the authors' code its gain starts at 1, and
 * eps (--norm-eps) is 1e-5. A norm discards a row's length: xn of the massive
 * h_1 of section 3.1 is as long as the others' but stays in a few channels, so
 * its key has another direction.
 *
 * Backward. As y_c = g_c xn_c + b_c, dxn_c = g_c dy_c. With var = mean_k
 * (x_k - mu)^2, so that 1/sigma = (var + eps)^(-1/2):
 *
 *   dvar/dx_c       = 2 (x_c - mu) / C    through mu: 0, as deviations sum to 0
 *   d(1/sigma)/dx_c = -dvar/dx_c / (2 sigma^3)  =  -xn_c / (C sigma^2)
 *   d(xn_k)/dx_c    = (1[k = c] - 1/C) / sigma + (x_k - mu) d(1/sigma)/dx_c
 *                   = (1[k = c] - 1/C - xn_k xn_c / C) / sigma
 *
 * RMSNorm, without mu, has no -1/C and no mean dxn. Summed over k with dxn_k:
 *
 *   dx_c += (dxn_c - mean dxn - xn_c mean(dxn xn)) / sigma
 *   dg_c += sum over rows of dy_c xn_c     db_c += sum over rows of dy_c
 *
 * By hand, RMSNorm with x = (3, 4), g = 1 and eps = 0: the mean square is 12.5,
 * so sigma = 3.536 and y = xn = (0.849, 1.131). With dy = (1, 0), mean(dxn xn)
 * is 0.424 and dx = (0.181, -0.136). <dx, x> = 0, as a longer x has the same y.
 *
 * The variance takes a second pass: mean x^2 - mu^2 would lose its digits. */

/* One row, x, y [C]; RMSNorm has b = NULL. stat [2] becomes mu, 1/sigma. */
WIDE(norm_row,
     (idx C, double eps, real *restrict y, real *stat, const real *restrict x,
      const real *g, const real *b),
     (C, eps, y, stat, x, g, b)) {
  real mu = 0;
  if (b)
    mu = vec_sum(C, x) / (real)C;
  for (idx ch = 0; ch < C; ch++)
    y[ch] = x[ch] - mu;                  /* until sigma is known */
  real inverse = 1 / (real)sqrt((double)(vec_dot(C, y, y) / (real)C) + eps);
  for (idx ch = 0; ch < C; ch++)
    y[ch] *= inverse * g[ch];
  if (b)
    vec_add(C, y, b);
  stat[0] = mu;
  stat[1] = inverse;
}

/* x, y [rows,C]; stat [rows,2]. */
static void norm_forward(real *y, real *stat, const real *x, const Norm *w,
                         idx rows) {
  idx C = w->g.rows;
  if (w->forward) {
    w->forward(w, y, x, rows);
    return;
  }
  PARALLEL
  for (idx n = 0; n < rows; n++)
    norm_row(C, w->eps, y + n * C, stat + 2 * n, x + n * C, w->g.w, w->b.w);
}

/* One row of dx += (dxn - mean dxn - xn mean(dxn xn)) / sigma. */
WIDE(norm_row_backward,
     (idx C, real *restrict dx, const real *restrict dy, const real *restrict x,
      const real *stat, const real *restrict g, bool centred),
     (C, dx, dy, x, stat, g, centred)) {
  real mu = stat[0], inverse = stat[1], sum = 0, dot = 0;
  real dxn[CHUNK], off[CHUNK];
  for (idx from = 0; from < C; from += CHUNK) {
    idx some = chunk(C, from);
    for (idx j = 0; j < some; j++) {
      dxn[j] = g[from + j] * dy[from + j];
      off[j] = x[from + j] - mu;
    }
    if (centred)
      sum += vec_sum(some, dxn);
    dot += vec_dot(some, dxn, off);      /* off = x - mu = xn sigma */
  }
  real mean = sum * (inverse / (real)C);           /* mean dxn / sigma */
  real mean_dxn_xn = dot * inverse / (real)C;
  /* 1/sigma twice: dx's own, and that of xn = (x - mu)/sigma */
  real pull = mean_dxn_xn * inverse * inverse;
  for (idx ch = 0; ch < C; ch++)
    dx[ch] += inverse * g[ch] * dy[ch] - mean - (x[ch] - mu) * pull;
}

/* One row's part of dg += dy xn and db += dy, on `width` columns. */
WIDE(norm_gains,
     (idx width, real *restrict dg, real *restrict db, const real *restrict dy,
      const real *restrict x, const real *stat),
     (width, dg, db, dy, x, stat)) {
  real mu = stat[0], inverse = stat[1];
  for (idx ch = 0; ch < width; ch++)
    dg[ch] += dy[ch] * (x[ch] - mu) * inverse;
  for (idx ch = 0; db && ch < width; ch++)
    db[ch] += dy[ch];
}

/* From dy [rows,C] adds to dx [rows,C] and to w's gradients; x [rows,C] is the
 * norm's input. */
static void norm_backward(real *dx, const real *dy, const real *x, real *stat,
                          Norm *w, idx rows) {
  idx C = w->g.rows;
  if (w->backward) {
    w->backward(w, dx, dy, x, stat, rows);
    return;
  }
  /* y = g xn + b, row by row */
  PARALLEL
  for (idx n = 0; n < rows; n++)
    norm_row_backward(C, dx + n * C, dy + n * C, x + n * C, stat + 2 * n,
                      w->g.w, w->b.w != NULL);
  /* g and b, down the columns */
  PARALLEL
  for (idx ch = 0; ch < C; ch += CHANNELS)
    for (idx n = 0; n < rows; n++)
      norm_gains(at_most(C - ch, CHANNELS), w->g.d + ch, offset(w->b.d, ch),
                 dy + n * C + ch, x + n * C + ch, stat + 2 * n);
}

/* ----------
 * 3.3  Linear   y = x W + b      x [rows,in], W [in,out], y [rows,out]
 *
 *   dx += dy W^T        dW += x^T dy        db += sum over rows of dy
 *
 * y[n,c] = sum_r x[n,r] W[r,c] + b[c]. x[n,r] reaches the loss through its own
 * row: dx[n,r] = sum_c dy[n,c] W[r,c]. W[r,c] reaches it through every row:
 * dW[r,c] = sum_n x[n,r] dy[n,c]. By hand: x = (1, 2) and W with rows (1, 0),
 * (3, 1) give y = (7, 2); dy = (2, -1) gives dx = (2, 5) and dW with rows
 * (2, -1), (4, -2).
 *
 * The paper's projections have no b. Test: model_forward__against_slow. */

static void add_row(real *y, const real *b, idx width, idx rows) {
  PARALLEL
  for (idx n = 0; n < rows; n++)
    vec_add(width, y + n * width, b);
}

/* y does not overlap x. */
static void linear_forward(real *y, const real *x, const Tensor *W, idx rows) {
  idx in = W->rows, out = W->cols;
  const Tensor *b = W->bias;
  if (W->product)
    W->product(W, false, y, x, rows);
  else
    matmul(y, out, rows_of(x, in), rows_of(W->w, out), rows, out, in, false);
  if (b && b->w)
    add_row(y, b->w, out, rows);
}

/* Adds to dx [rows,in], or overwrites it where `add` is false. dx overlaps
 * neither dy nor x. */
static void linear_backward(real *dx, bool add, const real *dy, const real *x,
                            Tensor *W, idx rows) {
  idx in = W->rows, out = W->cols;
  Tensor *b = W->bias;
  /* y = x W + b:  dx = dy W^T,  dW += x^T dy: the product sums over rows */
  matmul(dx, in, rows_of(dy, out), transpose_of(W->w, out), rows, in, out, add);
  matmul(W->d, out, transpose_of(x, in), rows_of(dy, out), in, out, rows, true);
  if (!b || !b->d)
    return;
  /* db += sum_n dy_n, down the columns */
  PARALLEL
  for (idx ch = 0; ch < out; ch += CHANNELS)
    for (idx n = 0; n < rows; n++)
      add_columns(b->d, dy + n * out, ch, out);
}

/* ----------
 * 3.4  Positions inside the dot product   [E6] [E7] [E8] [T3], Appendix A
 *
 * Rotary [E8] rotates pairs of dims of q and k by an angle that grows with the
 * position n:
 *
 *   (x, y) <- (x cos - y sin, x sin + y cos)     angle = n omega_c
 *   omega_c = 10000^(-2c/r), c = 0 .. r/2-1     radians a position; --rope-base
 *
 * The paper writes q as a row: q R_(-n) is (R_n q)^T, as R_(-n) = R_n^T.
 * Rotations add up, R_i^T R_j = R_(j-i), so <R_i q, R_j k> = <q, R_(j-i) k>
 * depends on the distance alone. Lengths are kept. By hand, r = 8 gives
 * omega_c = 1, 0.1, 0.01, 0.001. In pair c = 0, q = k = (1, 0) has
 * <R_i q, R_j k> = cos(i - j): 1, 0.54, -0.42, -0.99 at distances 0, 1, 2, 3.
 * In pair c = 2 all are near 1.
 *
 *   dims of a head, r = 8    0   1   2   3   4   5   6   7
 *   half-split    pair       0   1   2   3   0   1   2   3   the authors' code
 *   interleaved   pair       0   0   1   1   2   2   3   3   equation 9
 *
 * The two are one model with dims permuted (F4). Backward: y = R_n x gives
 * dx = R_(-n) dy, the sine negated. At an angle of 1, dy = (1, 0) gives
 * dx = (0.540, -0.841).
 *
 * Relative [E6], T5 and ALiBi [E7] add a bias b_h(i-j) to the score, after the
 * division by sqrt(D). A key ahead of its query, in a prefix, has distance 0:
 *
 *   relative   bucket(i-j): the bucket's number, fixed, as in their code (F3)
 *   t5         rel[bucket(i-j), h], learned, shared by all blocks
 *   alibi      -(i-j) 2^(-8h/H), h = 1..H (equation 7: 8/H as 2^(3 - log2 H))
 *
 * The bias of `relative` grows with the distance, so it favours the farthest
 * key: with all <q, k> equal and T = 64 it alone gives every head
 * alpha_1 = 0.334. So Proposition 2 does not hold (7.6), and Table 3's row
 * "Relative" (Sink_1 35.53, loss 5.45) may be partly the bias itself.
 *
 * Backward: z_ij = .. + b_h(i-j), so the bias of a distance gets the sum of
 * dz_ij over its pairs. Only T5 learns: drel[bucket(i-j),h] += dz_ij. */

/* [E6] with the paper's B = 32 buckets and largest distance 128, as the
 * authors' code computes it: one bucket each for 0 to 15, then bucket 16 + k
 * from distance 16 * 8^(k/16) on, 8 = 128/16. For distances n of 16 to 127 the
 * paper prints 16 + 16 floor(x), x = log(n/16) / log 8 < 1: always 16. T5 has
 * 16 + floor(16 x). */
static int position_bucket(idx distance) {
  if (distance < 0)
    return 0;
  if (distance < 16)
    return (int)distance;
  int bucket = 16 + (int)(16 * log((double)distance / 16) / log(8.0));
  return bucket < 31 ? bucket : 31;      /* all from 113 on */
}

/* b_h of a distance, h from 0. */
static double distance_bias(const Model *m, int h, idx distance) {
  const Config *c = &m->c;
  if (c->pos == POS_RELATIVE)
    return position_bucket(distance);
  if (c->pos == POS_T5)
    return m->rel.w[position_bucket(distance) * c->heads + h];
  if (c->pos == POS_ALIBI)
    return -fmax((double)distance, 0) * pow(2.0, -8.0 * (h + 1) / c->heads);
  return NAN;   /* no such scheme */
}

/* The tables of the model's scheme: cosine, sine [N,r/2]; sinusoid [N,C]. */
static void positions_tabulate(const Config *c, Acts *a, int N) {
  idx half = c->rotary_dims / 2, C = c->dim;
  for (idx p = 0; a->cosine && p < half; p++) {
    double w = pow(c->rope_base, -2.0 * (double)p / c->rotary_dims);
    for (idx n = 0; n < N; n++) {
      real angle = (real)n * (real)w;    /* as PyTorch's, in float */
      a->cosine[n * half + p] = (real)cos(angle);
      a->sine[n * half + p] = (real)sin(angle);
    }
  }
  for (int n = 0; a->sinusoid && n < N; n++)
    for (int ch = 0; ch < C; ch++)
      a->sinusoid[n * C + ch] = (real)absolute_position(c->dim, n, ch);
}

/* bias [H,2N-1]: bias[N-1 + j-i] of head h is b_h(i-j). Row i adds a slice. */
static void biases_tabulate(const Model *m, Acts *a) {
  idx N = a->N;
  for (int h = 0; a->bias && h < m->c.heads; h++)
    for (idx at = 0; at < 2 * N - 1; at++)
      a->bias[h * (2 * N - 1) + at] = (real)distance_bias(m, h, N - 1 - at);
}

/* Rotates the pairs (x[p step], y[p step]), p < pairs, in place; a sign of -1
 * rotates back. */
WIDE(rotate_pairs,
     (idx pairs, real *restrict x, real *restrict y, const idx step,
      const real *restrict cosine, const real *restrict sine, real sign),
     (pairs, x, y, step, cosine, sine, sign)) {
  for (idx p = 0; p < pairs; p++) {
    real x_p = x[p * step], y_p = y[p * step], s = sign * sine[p];
    x[p * step] = x_p * cosine[p] - y_p * s;
    y[p * step] = x_p * s + y_p * cosine[p];
  }
}

/* x [rows,heads,D] = R_n x in place, in block l, for sequences of N rows, if
 * positions are rotary; sign is 1 forward, -1 backward. */
static void rotate(const Config *c, const Acts *a, int l, real *x, idx rows,
                   idx N, idx heads, real sign) {
  const LayerActs *la = &a->layer[l];
  bool interleaved = c->rope_pairing == PAIR_INTERLEAVED;
  idx D = c->head_dim, half = c->rotary_dims / 2;
  idx step = interleaved ? 2 : 1, apart = interleaved ? 1 : half;
  if (c->pos != POS_ROTARY)
    return;
  PARALLEL
  for (idx n = 0; n < rows; n++) {
    const real *cosine = la->cosine + (a->past + n % N) * half;   /* [r/2] */
    const real *sine = la->sine + (a->past + n % N) * half;
    for (idx h = 0; h < heads; h++) {
      real *x_h = x + (n * heads + h) * D;   /* [D] */
      rotate_pairs(half, x_h, x_h + apart, step, cosine, sine, sign);
    }
  }
}

/* T5: adds dbias [B,H,2N-1], by j - i, to its buckets, in a fixed order. */
static void t5_backward(Model *m, const Acts *a, int B, idx N) {
  idx H = m->c.heads, width = 2 * N - 1;
  for (idx map = 0; map < B * H; map++)
    for (idx at = 0; at < width; at++)
      /* z_ij += rel[bucket(i-j), h], i - j = N-1 - at */
      m->rel.d[position_bucket(N - 1 - at) * H + map % H] +=
          a->dbias[map * width + at];
}

/* ----------
 * 3.5  Activations and the kernel phi   [T11] [T15]
 *
 * Activations of the ffn (3.10); elu + 1 is a kernel and a similarity. On the
 * right are the derivatives.
 *
 *   swish      x g,  g = 1/(1 + e^-x)       g (1 + x (1 - g)),  g' = g (1 - g)
 *   gelu       x cdf(x), of N(0,1)          cdf(x) + x density(x)
 *   gelutanh   x g,  g = 1/(1 + e^-poly)    g + x g (1 - g) poly'
 *              poly = 2 sqrt(2/pi) (x + 0.044715 x^3)
 *   relu       max(x, 0)                    1 above 0, else 0, as PyTorch
 *   elu + 1    e^min(x,0) + max(x,0)        e^min(x,0): 1 above 0, e^x below
 *
 * elu + 1 exponentiates only min(x, 0): nothing overflows, and a masked z of
 * -infinity has 0 in both columns. In numbers:
 *
 *   x           -3      -1       0       1       3
 *   swish     -0.142  -0.269     0     0.731   2.858
 *   gelu      -0.004  -0.159     0     0.841   2.996
 *   relu         0       0       0       1       3
 *   elu + 1    0.050   0.368     1       2       4     never negative */

/* f(x) of n <= CHUNK numbers (stack buffers); f'(x) unless df is NULL. */
typedef void Activation(idx n, const real *x, real *f, real *df);

WIDE(act_swish, (idx n, const real *x, real *f, real *df), (n, x, f, df)) {
  real g[CHUNK];
  vec_sigmoid(n, g, x);
  for (idx j = 0; df && j < n; j++)
    df[j] = g[j] * (1 + x[j] * (1 - g[j]));
  for (idx j = 0; j < n; j++)
    f[j] = x[j] * g[j];
}

static void act_gelu(idx n, const real *x, real *f, real *df) {
  real cdf[CHUNK], density[CHUNK];
  vec_cumulative(n, cdf, x);   /* in float (1 + erf)/2 would be 0 below -6 */
  if (df) {
    for (idx j = 0; j < n; j++)
      density[j] = -x[j] * x[j] / 2;
    vec_exp(n, density, density, 0);     /* sqrt(2 pi) density(x) */
    for (idx j = 0; j < n; j++)
      df[j] = cdf[j] + x[j] * density[j] * (real)INV_SQRT_2PI;
  }
  for (idx j = 0; j < n; j++)
    f[j] = x[j] * cdf[j];
}

static void act_gelutanh(idx n, const real *x, real *f, real *df) {
  real a = 2 * (real)SQRT_2_OVER_PI, b = (real)0.044715;   /* poly = a (x + b x^3) */
  real g[CHUNK] = {0};
  for (idx j = 0; j < n; j++)
    g[j] = a * x[j] * (1 + b * x[j] * x[j]);
  vec_sigmoid(n, g, g);
  for (idx j = 0; df && j < n; j++)
    df[j] = g[j] + x[j] * g[j] * (1 - g[j]) * (a * (1 + 3 * b * x[j] * x[j]));
  for (idx j = 0; j < n; j++)
    f[j] = x[j] * g[j];
}

static real positive(real x) { return x <= 0 ? 0 : x; }   /* NaN stays NaN */

static void act_relu(idx n, const real *x, real *f, real *df) {
  for (idx j = 0; df && j < n; j++)
    df[j] = x[j] > 0;
  for (idx j = 0; j < n; j++)
    f[j] = positive(x[j]);
}

/* Any n. f must not overlap x, which is read again after f is written. */
static void elu_plus_one(idx n, const real *x, real *f, real *df) {
  for (idx j = 0; j < n; j++)
    f[j] = x[j] > 0 ? 0 : x[j];
  vec_exp(n, f, f, 0);                   /* e^min(x,0) */
  if (df)
    copy(df, f, n);
  for (idx j = 0; j < n; j++)
    f[j] += positive(x[j]);
}

/* The activation of x W1, gated or not. */
static Activation *const ACTIVATIONS[] = {
  [ACT_SWIGLU] = act_swish, [ACT_GEGLU] = act_gelu, [ACT_REGLU] = act_relu,
  [ACT_GEGLUTANH] = act_gelutanh, [ACT_SWISH] = act_swish,
  [ACT_GELU] = act_gelu, [ACT_RELU] = act_relu, [ACT_GELUTANH] = act_gelutanh};
_Static_assert(sizeof ACTIVATIONS / sizeof *ACTIVATIONS == ACT_ROWS,
               "one for each row");

/* phi acts on the rotated q and k of each head, not on k*. x, y [rows,D] have a
 * row per head and token (Table 15, operations 6, 7, 10, 11):
 *
 *   elu   y = elu(x) + 1      <phi(q), phi(k)> > 0: their sum can divide
 *   mlp   y = max(x phi1, 0) phi2      scores of either sign
 *
 * By hand: q = (-1, 2) and k = (2, 1) are orthogonal. elu makes them (0.368, 3)
 * and (3, 2), with product 7.1: no two rows stay orthogonal.
 *
 * All heads, q and k share the two matrices, as in the authors' code; the paper
 * has no formula. hidden [rows,D] is max(x phi1, 0). Test:
 * attention__against_slow. */
static void kernel_forward(const Config *c, const Layer *w, real *y,
                           real *hidden, const real *x, idx rows) {
  idx n = rows * c->head_dim;
  if (c->kernel == KERNEL_ELU) {
    PARALLEL
    for (idx from = 0; from < n; from += CHUNK)
      elu_plus_one(chunk(n, from), x + from, y + from, NULL);
    return;
  }
  linear_forward(hidden, x, &w->phi1, rows);
  PARALLEL
  for (idx j = 0; j < n; j++)
    hidden[j] = positive(hidden[j]);
  linear_forward(y, hidden, &w->phi2, rows);
}

/* dx [rows,D] holds dy on entry and dx on return. x is the rotated q or k; both
 * add to dphi1 and dphi2. scratch [rows,D] holds dhidden. */
static void kernel_backward(const Config *c, Layer *w, real *dx, const real *x,
                            const real *hidden, real *scratch, idx rows) {
  idx n = rows * c->head_dim;
  if (c->kernel == KERNEL_ELU) {
    PARALLEL
    for (idx from = 0; from < n; from += CHUNK) {
      real f[CHUNK], df[CHUNK];
      elu_plus_one(chunk(n, from), x + from, f, df);
      /* y = elu(x) + 1:  dx = dy (elu + 1)'(x) */
      vec_multiply(chunk(n, from), dx + from, df);
    }
    return;
  }
  /* y = hidden phi2:  dhidden = dy phi2^T, dphi2 += hidden^T dy */
  linear_backward(scratch, false, dx, hidden, &w->phi2, rows);
  /* hidden = max(x phi1, 0):  nothing passes where hidden is 0 */
  PARALLEL
  for (idx j = 0; j < n; j++)
    scratch[j] = hidden[j] > 0 ? scratch[j] : 0;
  /* x phi1:  dx = scratch phi1^T overwrites dy, dphi1 += x^T scratch */
  linear_backward(dx, false, scratch, x, &w->phi1, rows);
}

/* ----------
 * 3.6  One row of scores   [E29] [E43] [E44] [T6] [T14] [T15], section 7.4
 *
 * Here the scores z [n] of one query become its weights a [n]. Softmax first:
 *
 *   s_j = e^z_j        Z = sum_j s_j        a_j = s_j / Z
 *
 * The weights are positive and sum to 1, whatever the scores: what one key gets
 * the others lose. The sink stems at least in part from this dependence, as the
 * paper finds when section 7.4 varies s and Z:
 *
 *   sim        s            s'                normaliser   Z
 *   exp        e^z          s                 sum          sum s + 1e-8
 *   sigmoid    1/(1+e^-z)   s (1 - s)         one          1
 *   elu        elu(z) + 1   1 above 0, or s   clamp        max(|sum s|, 1)
 *   identity   z            1                 p-norm       (sum |s|^p)^(1/p)
 *
 * exp has no 1e-8. In Table 15 sigmoid over its sum has a sink (30.24 %), with
 * Z = 1 hardly any (0.44 %).
 *
 * Which Z suits s. exp, sigmoid and elu + 1 are positive. So is the identity
 * under the elu kernel, unless k*, a logit, ALiBi or T5 makes a score negative.
 * Other sums can cross 0 in training: hence the paper's clamp. For p < 1 the
 * slope |s|^(p-1) of a p-norm is infinite at s = 0; dlogz is 0 there.
 *
 * A key that the row does not see has z = -infinity, the mask M of equation 4,
 * and s = s' = 0. The scale [E29] is not in a: 3.7 applies it to the output.
 *
 * BACKWARD. s_j depends on z_j alone, Z on every z_k. da_j is dL/da_j, and
 * dlogz_k = dlog Z/dz_k = dZ/dz_k / Z.
 *
 *   d(a_j)/dz_k = (s'_k / Z) 1[j = k] - a_j dlogz_k    quotient rule on s_j / Z
 *   dz_k = sum_j da_j d(a_j)/dz_k                      chain rule
 *        = (s'_k / Z) da_k - dlogz_k delta             delta = sum_j a_j da_j
 *
 * The first term moves the weight itself, the second all weights through Z, the
 * only number that the keys of a row share. Each normaliser:
 *
 *   sum     dZ/dz_k = s'_k               dlogz_k = s'_k / Z
 *   one     dZ/dz_k = 0                  0: no key depends on another
 *   clamp   dZ/dz_k = sign(sum) s'_k     s'_k / sum if |sum| > 1, as Z = |sum|
 *           Z = 1 else                   0, at |sum| = 1 as well
 *   p-norm  dZ/dz_k = |a_k|^(p-1) sign(s_k) s'_k   this / Z, as Z^p = sum |s|^p
 *
 * exp has s' = s, so softmax has dz_k = a_k (da_k - delta).
 *
 * By hand, with da = (1, -1):
 *                    z            a            s'/Z         dlogz        delta
 *   softmax          (0, log 3)   (1/4, 3/4)   a            a            -0.5
 *   sigmoid / sum    (0, log 3)   (0.4, 0.6)   (0.2, 0.15)  (0.2, 0.15)   -0.2
 *   identity, clamp  (2, -4)      (1, -2)      1/2          -1/2          3
 *   exp, p-norm 2    log (3, 4)   (0.6, 0.8)   a            (0.36, 0.64)  -0.2
 *
 * and dz = (3/8, -3/8), (0.24, -0.12), (2, 1) and (0.672, -0.672).
 *
 * NUMERICS. e^z overflows a float above z = 88.7, so exp subtracts the row's
 * largest score, top. The code's s and Z are then e^-top times the formula's,
 * which cancels in s/Z; so a clamp compares with e^-top, not 1. With Z = 1
 * nothing cancels: there top is 0, and exp may overflow as the formula does.
 *
 * EDGES. Under softmax a single visible key has a = 1 and dz = 0: A_11 = 1 of
 * section 3.2. In a row of zeros the p-norm's formula is 0/0; here a = dz = 0.
 * [E44] With exp and p > 1 the weights' sum can exceed 1 (7.9); at p = 2, 3, 4
 * the paper's training diverged. The paper writes s^p, which is not real for
 * negative s and fractional p: hence |s|. */

/* From the authors' code (Table 15, operations 3, 5, 6). */
static const real NORMALIZER_EPS = (real)1e-8;

/* s of one score, and its slope s'. A masked z has 0 for both. */
static real similarity(int sim, real z, real *slope) {
  real s;
  switch (sim) {
  case SIM_EXP:
    *slope = real_exp(z);
    return *slope;
  case SIM_SIGMOID:
    s = real_exp(z < 0 ? z : -z);        /* at most 1: nothing overflows */
    s = (z < 0 ? s : 1) / (1 + s);
    *slope = s * (1 - s);
    return s;
  case SIM_ELU:
    *slope = z > 0 ? 1 : real_exp(z);
    return z > 0 ? z + 1 : *slope;
  case SIM_IDENTITY:
    *slope = z == -INFINITY ? 0 : 1;
    return *slope != 0 ? z : 0;
  default:   /* a companion's, which has a row() of its own */
    *slope = NAN;
    return NAN;
  }
}

/* Z = (sum |s|^p)^(1/p) of s [n], as max |s| times that of s / max |s|: no
 * |s|^p overflows. */
static real p_norm(double p, idx n, const real *s) {
  real most = 0, powers = 0;
  for (idx j = 0; j < n; j++)
    if (real_abs(s[j]) > most)
      most = real_abs(s[j]);
  for (idx j = 0; most > 0 && j < n; j++)
    powers += real_pow(real_abs(s[j]) / most, (real)p);
  return most * real_pow(powers, (real)(1 / p));
}

/* From z [n] the weights a = s/Z and, for the backward, deriv = s'/Z and dlogz.
 * Returns Z, for exp Z e^-top. Chapter 14 has a faster form. */
static real row(const Config *c, idx n, const real *z, real *a, real *deriv,
                real *dlogz) {
  real top = 0, sum = 0, Z = 1;
  if (c->sim == SIM_EXP && c->normalizer != NORMALIZER_ONE)
    top = vec_max(n, z);
  real unit = real_exp(-top);            /* the clamp's 1, times e^-top */
  for (idx j = 0; j < n; j++) {
    a[j] = similarity(c->sim, z[j] - top, &deriv[j]);      /* s, s' */
    sum += a[j];
  }
  if (c->normalizer == NORMALIZER_SUM)
    Z = c->sim == SIM_EXP ? sum : sum + NORMALIZER_EPS;
  if (c->normalizer == NORMALIZER_CLAMP)                   /* [T15] */
    Z = real_abs(sum) > unit ? real_abs(sum) : unit;
  if (c->normalizer == NORMALIZER_PNORM)                   /* [E43] */
    Z = p_norm(c->pnorm, n, a);
  real divisor = Z == 0 ? INFINITY : Z;  /* a row of zeros has a = 0 */
  for (idx j = 0; j < n; j++) {
    real sign = a[j] < 0 ? -1 : 1;
    a[j] /= divisor;
    deriv[j] /= divisor;
    dlogz[j] = 0;
    if (c->normalizer == NORMALIZER_SUM)
      dlogz[j] = deriv[j];
    if (c->normalizer == NORMALIZER_CLAMP && real_abs(sum) > unit)
      dlogz[j] = sum < 0 ? -deriv[j] : deriv[j];
    if (c->normalizer == NORMALIZER_PNORM && a[j] != 0) {
      /* |a|^(p-1) sign s'/Z. For p < 1 and small a |a|^(p-1) alone could
       * overflow, so the small s'/Z is multiplied twice by |a|^((p-1)/2) */
      real half = real_pow(real_abs(a[j]), (real)((c->pnorm - 1) / 2));
      dlogz[j] = sign * half * (half * deriv[j]);
    }
  }
  return Z;
}

/* What the sink metric reads: m [n] = |s| / (sum |s| + 1e-8), section 7.4's
 * proxy scores; exp has no 1e-8. As |s| = |a| Z, m = |a| / (sum |a| + 1e-8/Z).
 * m omits the scale, else no head could pass 0.3 at scale 0.2, where Table 14
 * has Sink_1 = 9.41 %. A row of zeros has m = 0; an infinite weight (exp with
 * Z = 1) gives NaN. With Z = 1 a row of little weight counts as much as any, so
 * chapter 6 also has the raw mass, sum |scale a|. */
static void row_metric(const Config *c, idx n, const real *a, real Z, real *m) {
  for (idx j = 0; j < n; j++)
    m[j] = real_abs(a[j]);
  real sum = vec_sum(n, m);
  if (c->sim != SIM_EXP)
    sum += NORMALIZER_EPS / real_abs(Z);
  for (idx j = 0; j < n; j++)
    m[j] = sum == 0 ? 0 : m[j] / sum;
}

/* ----------
 * 3.7  Attention   [E4] [E29] [T4] [T12], and THE FORMULA
 *
 * [E4] A = Softmax(Q K^T / sqrt(d_h) + M), O = A V in each head. Column 0 of a
 * row is *; in a variant without it z_i* = -infinity, and maps have no *:
 *
 *     column     0       1 .. N
 *   z_i [1+N]   z_i*  |  <q_i, k_j> / sqrt(D) + b(i-j)      -infinity if unseen
 *   a_i [1+N]   s_ij / Z_i                                  3.6
 *   o_i [D]     scale (a_i* v* + sum_j a_ij v_j)
 *
 * q and k are rotated (3.4) and mapped by phi (3.5).
 *
 * THE EXTRA COLUMN, section 7.3, with Sink_* and Sink_1 of Table 4 in percent:
 *
 *   default      no column *                                -      18.18
 *   sink token   x* is an input row, a key like others     74.12    0.00
 *   KV biases    z_i* = <q_i, k*> / sqrt(D), v* learned    72.76    0.04
 *   K biases     the same with v* = 0                      73.34    0.00
 *   V biases     no column; v+ joins every output           -      17.53
 *
 * A K bias takes weight and gives nothing: token 1's value is small too
 * (section 7.3), and v* = 0 is the limit. Under softmax the column is a gate:
 * with E the sum of e^z_ij over the keys, their weights sum to
 * E / (E + e^z_i*), not 1. With Z = 1 a K bias changes m alone. k* has no
 * position: it is not rotated, gets no distance bias, and every row sees it.
 * z_i* may also be 0 (softmax-off-by-one) or a learned logit; then v* = 0.
 *
 * BACKWARD, from do = dL/do. Component d of the output is
 *     o_id = scale (sum_j a_ij v_jd + a_i* v*_d),  so that
 *       da_ij = scale <do_i, v_j>               da_i* = scale <do_i, v*>
 *       dv_j  = scale sum_i a_ij do_i           dv*   = scale sum_i a_i* do_i
 *     a = s / Z in row i (3.6), * among the columns of the sum:
 *       delta_i = sum_j a_ij da_ij
 *       dz_ij = (s'_ij / Z_i) da_ij - dlogz_ij delta_i
 *     z_ij = <q_i, k_j> / sqrt(D) + b(i-j),  z_i* = <q_i, k*> / sqrt(D):
 *       dq_i = (sum_j dz_ij k_j + dz_i* k*) / sqrt(D)
 *       dk_j = sum_i dz_ij q_i / sqrt(D)        dk* = sum_i dz_i* q_i / sqrt(D)
 *       db(n) = sum of dz_ij over i - j = n     dlogit = sum_i dz_i*
 * A fixed v* has no gradient; shared k*, v* sum over heads, too.
 *
 * By hand, with D = 1 and row 2 of two tokens: q_2 = 1, k = (0, log 3),
 * v = (1, -1) give a = (1/4, 3/4) and o_2 = -1/2. do_2 = 1 gives
 * da = v = (1, -1), so by 3.6 dz = (3/8, -3/8), dq_2 = -3/8 log 3,
 * dk = (3/8, -3/8) and dv = (1/4, 3/4). A K bias with k* = log 4 has weights
 * (1/2; 1/8, 3/8) for (*; 1, 2) and o_2 = -1/4: half the output in the same
 * direction, as E / (E + e^z*) = 4 / (4 + 4).
 *
 * Why the k* of a K bias learns: v* = 0 makes da_i* = 0, but s_i* is in Z. So
 * dz_i* = -dlogz_i* delta_i, -a_i* delta_i under softmax and 0 under Z = 1.
 * delta_i = <do_i, o_i>, before v+. If a shorter o_i lowers the loss, delta_i
 * is above 0: descent raises z_i*, and the gate closes.
 *
 * A head takes D multiplications per pair (i,j), N^2 pairs at most: twice
 * forward (z, o), five times backward (z again, da, dq, dk, dv). By default
 * chapter 14 does the same in tiles; tiles__as_plain compares the two. */

/* [FIG5] [FIG6] The mask: i-w < j <= i, or j in the prefix. o is visible:
 *
 *    causal         window 3       prefix 3       window 2,      window 2,
 *                   (Figure 6)     (Figure 5)     prefix 2       prefix 2, x*
 *    * 1 2 3 4 5    * 1 2 3 4 5    * 1 2 3 4 5    * 1 2 3 4 5      x* 1 2 3 4 5
 *                                                            x*    o  o o . . .
 * 1  o o . . . .    o o . . . .    o o o o . .    o o o . . .  1   o  o o . . .
 * 2  o o o . . .    o o o . . .    o o o o . .    o o o . . .  2   .  o o . . .
 * 3  o o o o . .    o o o o . .    o o o o . .    o o o o . .  3   .  o o o . .
 * 4  o o o o o .    o . o o o .    o o o o o .    o o o o o .  4   .  o o o o .
 * 5  o o o o o o    o . . o o o    o o o o o o    o o o . o o  5   .  o o . o o
 *
 * w, the block's window, counts the query itself, as in section 6; 0 is none.
 * With a window and no prefix only rows 1 .. w see token 1: alpha_1 <= w/T. A
 * window hides x*, which no prefix contains; x*'s own row sees the prefix. */
static bool visible(const Config *c, int w, idx i, idx j) {
  int first = c->sink_token;
  return (j <= i && (!w || j > i - w)) || (j >= first && j < first + c->prefix);
}

/* One head of one sequence and its gradients: arrays [N,D] of row stride of_q
 * (q, o: H heads) or of_k (k, v: K heads). root is 1/sqrt(D). */
typedef struct Head {
  RowAt at;                      /* block, sequence, head */
  idx N, D, of_q, of_k;
  int window;
  real root, scale;
  const real *q, *k, *v;
  const real *kstar, *vstar;     /* [D] or NULL */
  real star;                     /* z_i* where there is no k* */
  const real *bias;              /* bias[j-i] = b_h(i-j), or NULL */
  real *o, *row_stat;            /* [N,D]; [N] (14.1) */
  Probe map;                     /* its pointers are NULL if not asked for */
  idx first;                     /* this head's first row in the maps */
  const real *dout;              /* do. From here on NULL without gradients */
  real *dq, *dk, *dv;
  real *dkstar, *dvstar, *dvplus, *dlogit;   /* part of a->slot */
  real *dbias;                   /* as bias */
} Head;

/* Head h of sequence b in block l, where bh = b H + h, with N keys: q and k
 * after phi, key head floor(h K/H), and z_i* = -infinity without a column. As
 * heads run in parallel, each adds its gradients of k*, v*, v+ and the logit,
 * absent or not, to a slot of its own. slots_begin zeroes what a block's heads
 * add to; slots_end sums the slots in a fixed order (14.3). */
static Head head_of(const Model *m, const Acts *a, int l, idx bh, idx N);
static void slots_begin(Model *m, Acts *a, int l, int B, idx N);
static void slots_end(Model *m, Acts *a, int l, int B, idx N);

/* This thread's scratch: at least six rows of 1 + N. */
static real *attention_scratch(const Acts *a) {
  return a->scratch + worker() * a->scratch_size;
}

/* Fills row i of the maps asked for, at n keys: here all, in a tile those from
 * h->at.lo on. z, weight and metric begin with * (14.3). */
static void map_rows(const Config *c, const Head *h, idx i, idx n,
                     const real *z, const real *weight, const real *metric);

/* [T4] z_i*, from q_i [D]. */
static real star_score(const Head *h, const real *q_i) {
  return h->kstar ? vec_dot(h->D, q_i, h->kstar) * h->root : h->star;
}

static void add_times(idx n, real *restrict y, real a, const real *restrict x) {
  for (idx d = 0; d < n; d++)
    y[d] += a * x[d];
}

/* Scores z [1+N] of query i: column 0 is *, 1 + j is key j. kept is room for a
 * companion. */
static void head_scores(const Model *m, const Acts *a, Head *h, idx i, real *z,
                        real *kept) {
  const real *q_i = h->q + i * h->of_q;
  z[0] = star_score(h, q_i);
  for (idx j = 0; j < h->N; j++) {
    z[1 + j] = -INFINITY;                /* M of equation 4 */
    if (!visible(&m->c, h->window, i, j))
      continue;
    z[1 + j] = vec_dot(h->D, q_i, h->k + j * h->of_k) * h->root;
    if (h->bias)
      z[1 + j] += h->bias[j - i];        /* [E6] [E7] */
  }
  h->at.i = i;
  if (m->seams.scores)
    m->seams.scores(m, a, &h->at, h->N, z, kept);
}

/* One head: from q, k, v to o. weight [1+N] is a_i: a_i*, then every a_ij. */
static void head_forward(const Model *m, const Acts *a, Head *h) {
  idx N = h->N, D = h->D, n = N + 1;
  real *z = attention_scratch(a), *weight = z + n, *deriv = weight + n;
  real *dlogz = deriv + n, *metric = dlogz + n;
  for (idx i = 0; i < N; i++) {
    real *o_i = h->o + i * h->of_q;
    /* z_i, then a_i = s/Z: row(), 3.6 */
    head_scores(m, a, h, i, z, deriv);
    real Z = m->seams.row->plain(&m->c, n, z, weight, deriv, dlogz);
    if (a->probe)
      m->seams.row->metric(&m->c, n, weight, Z, metric);
    if (m->seams.weights)
      m->seams.weights(m, a, &h->at, N, weight);
    map_rows(&m->c, h, i, N, z, weight, metric);
    /* o_i = scale (a_i* v* + sum_j a_ij v_j) */
    zero(o_i, D);
    if (h->vstar)
      add_times(D, o_i, h->scale * weight[0], h->vstar);
    for (idx j = 0; j < N; j++)
      add_times(D, o_i, h->scale * weight[1 + j], h->v + j * h->of_k);
  }
}

/* One head backward: dq is overwritten, all else is added to. */
static void head_backward(Model *m, const Acts *a, Head *h) {
  idx N = h->N, D = h->D, n = N + 1;
  real *z = attention_scratch(a), *weight = z + n, *deriv = weight + n;
  real *dlogz = deriv + n, *da = dlogz + n, *kept = da + n;
  real *dz = z;                          /* dz overwrites z */
  for (idx i = 0; i < N; i++) {
    const real *q_i = h->q + i * h->of_q, *do_i = h->dout + i * h->of_q;
    real *dq_i = h->dq + i * h->of_q;
    /* row() again: a = s/Z, s'/Z, dlogz; all are 0 where not visible */
    head_scores(m, a, h, i, z, kept);
    m->seams.row->plain(&m->c, n, z, weight, deriv, dlogz);
    /* o_i = scale (a_i* v* + sum_j a_ij v_j) */
    da[0] = h->vstar ? h->scale * vec_dot(D, do_i, h->vstar) : 0;
    for (idx j = 0; j < N; j++)
      da[1 + j] = h->scale * vec_dot(D, do_i, h->v + j * h->of_k);
    if (m->seams.weights_backward)
      m->seams.weights_backward(m, a, &h->at, N, weight, da);
    /* a_ij = s_ij / Z_i */
    real delta = vec_dot(n, weight, da);
    for (idx j = 0; j < n; j++)
      dz[j] = deriv[j] * da[j] - dlogz[j] * delta;
    /* dv_j += scale a_ij do_i, with a_ij as a seam leaves it */
    if (m->seams.weights)
      m->seams.weights(m, a, &h->at, N, weight);
    add_times(D, h->dvstar, h->scale * weight[0], do_i);
    for (idx j = 0; j < N; j++)
      add_times(D, h->dv + j * h->of_k, h->scale * weight[1 + j], do_i);
    if (m->seams.scores_backward)
      m->seams.scores_backward(m, a, &h->at, N, dz, kept);
    /* z_ij = <q_i, k_j> / sqrt(D) + b(i-j) */
    zero(dq_i, D);
    for (idx j = 0; j < N; j++) {
      add_times(D, dq_i, dz[1 + j] * h->root, h->k + j * h->of_k);
      add_times(D, h->dk + j * h->of_k, dz[1 + j] * h->root, q_i);
      if (h->dbias)
        h->dbias[j - i] += dz[1 + j];
    }
    /* [T4] z_i* = <q_i, k*> / sqrt(D), or the logit */
    if (h->kstar)
      add_times(D, dq_i, dz[0] * h->root, h->kstar);
    add_times(D, h->dkstar, dz[0] * h->root, q_i);
    *h->dlogit += dz[0];
  }
}

/* From la->fq [B,N,H,D], la->fk and la->v [B,N,K,D] to la->o [B,N,H,D]. */
static void attention_forward(const Model *m, Acts *a, int l, int B, idx N) {
  idx H = m->c.heads;
  PARALLEL
  for (idx bh = 0; bh < B * H; bh++) {
    Head head = head_of(m, a, l, bh, N);
    head_forward(m, a, &head);
  }
}

/* From a->dout to a->dq [B,N,H,D], a->dk, a->dv [B,N,K,D], a->dbias and slots.
 * A task owns dk and dv of a sequence and key head; H/K query heads add to
 * them. */
static void attention_backward(Model *m, Acts *a, int l, int B, idx N) {
  idx K = m->c.kv_heads, group = m->c.heads / K;
  PARALLEL
  for (idx task = 0; task < B * K; task++)
    for (idx g = 0; g < group; g++) {
      Head head = head_of(m, a, l, task * group + g, N);
      head_backward(m, a, &head);
    }
}

/* [T13] Does k* learn dim d? In Table 13 it learns d_a of its D dims and the
 * others are 0; the paper does not say which. With rotary positions this
 * matters, as q is rotated and k* is not. If the pair (0, D/2) is learned, by
 * 3.4 with omega_0 = 1
 *
 *   z_i* sqrt(D) = (q_0 cos i - q_(D/2) sin i) k*_0
 *                + (q_0 sin i + q_(D/2) cos i) k*_(D/2)
 *
 * oscillates with a period of 2 pi tokens. The slowest pair of the paper's
 * D = 96 turns by 0.25 radians over all 2048 tokens: there every query sees
 * about the same k*. --extra-order says which dims are learned first:
 *
 *   first             0 1 2 3 4 5 6 7     (D = 8, all rotated)
 *   last              7 6 5 4 3 2 1 0
 *   lowfreq           3 7 2 6 1 5 0 4     the slowest half-split pair first
 *
 * lowfreq has dims r .. D-1 before the pairs, whatever --pos. A frozen dim
 * starts at 0, with gradient 0. Test: gradients__frozen_dims. */
static bool config_learned_dim(const Config *c, int d) {
  int D = c->head_dim, half = c->rotary_dims / 2, r = 2 * half;
  int learned = c->extra_dims ? c->extra_dims : D;
  if (c->extra_order == ORDER_FIRST)
    return d < learned;
  if (c->extra_order == ORDER_LAST)
    return D - 1 - d < learned;
  if (d >= r)   /* not in a pair: before all pairs */
    return d - r < learned;
  int pair = d % half, second = d / half;
  if (c->rope_pairing == PAIR_INTERLEAVED) {
    pair = d / 2;
    second = d % 2;
  }
  return D - r + 2 * (half - 1 - pair) + second < learned;
}

/* [T5] The fixed v* [D], of length extra_norm: e_1 or (1, .., 1)/sqrt(D). */
static void fixed_value(const Config *c, real *v) {
  double each = c->extra_norm / sqrt((double)c->head_dim);
  for (int d = 0; d < c->head_dim; d++)
    v[d] = c->extra_value == VALUE_ONES ? (real)each : 0;
  if (c->extra_value == VALUE_E1)
    v[0] = (real)c->extra_norm;
}

/* ----------
 * 3.8  The value bias   o_i <- o_i + v+   [T4]
 *
 * v+ [H,D] is added to each head's output. It has no column: it takes no
 * weight, and the sink stays on token 1 (Table 4). The forward is add_row
 * (3.3). Backward: do passes unchanged, dv+ = sum_i do_i. */

/* dv+ = sum_i do_i, from a->dout [B,N,H,D], in each head's slot. */
static void vplus_backward(const Model *m, Acts *a, int l, int B, idx N) {
  idx H = m->c.heads;
  PARALLEL
  for (idx bh = 0; bh < B * H; bh++) {
    Head head = head_of(m, a, l, bh, N);
    for (idx i = 0; i < N; i++)
      vec_add(head.D, head.dvplus, head.dout + i * head.of_q);
  }
}

/* ----------
 * 3.9  Heads put together: concatenated, or added before W_O   [E4] [T12] (F8)
 *
 *   concat   O = [o_1, .., o_H] W_O         W_O [H*D,C]       equation 4
 *   add      O = (o_1 + .. + o_H) W_O       W_O [D,C]         Appendix C.4
 *
 * Added heads have a sink too (Sink_1 21.76 % against 18.18), and so have 4, 2
 * and 1 heads (10.68, 12.95, 19.50). The paper gives no shape for "addition".
 * Concatenation is already a sum, [o_1, .., o_H] W_O = sum_h o_h W_O^h, with
 * W_O^h the rows of W_O for head h, so "addition" must mean one W_O of D rows
 * for all heads.
 *
 * Backward: osum = sum_h o_h gives do_h = dosum for every h. */

/* Fills la->osum [rows,D], W_O's input, if heads are added. If concatenated,
 * osum is the array o [rows,H*D]. */
static void combine_forward(const Config *c, LayerActs *la, idx rows) {
  idx D = c->head_dim, H = c->heads;
  if (c->combine == COMBINE_CONCAT)
    return;
  PARALLEL
  for (idx n = 0; n < rows; n++) {
    zero(la->osum + n * D, D);
    for (idx h = 0; h < H; h++)
      vec_add(D, la->osum + n * D, la->o + (n * H + h) * D);
  }
}

/* From a->dosum [rows,D] to a->dout [rows,H,D]; one array if concatenated. */
static void combine_backward(const Config *c, Acts *a, idx rows) {
  idx D = c->head_dim, H = c->heads;
  if (c->combine == COMBINE_CONCAT)
    return;
  PARALLEL
  for (idx n = 0; n < rows * H; n++)
    copy(a->dout + n * D, a->dosum + n / H * D, D);
}

/* ----------
 * 3.10  Feed-forward   [T11], Appendix C.3
 *
 *   gated   y = (act(x W1) * x W2) W3     swiglu, geglu, reglu, geglutanh
 *   else    y = act(x W1) W3              swish, gelu, relu, gelutanh
 *
 * Table 11 has a sink for every activation, Sink_1 = 13.88 to 18.18 %, and
 * calls the last matrix W2 if there is no gate.
 *
 * Backward, with f1 = x W1, f2 = x W2, fa = act(f1) * f2, element by element:
 *   y = fa W3            dfa = dy W3^T           dW3 += fa^T dy
 *   fa = act(f1) f2      df1 = dfa f2 act'(f1)   df2 = dfa act(f1)
 *   f1 = x W1            dx = df1 W1^T           dW1 += x^T df1
 *   f2 = x W2            dx += df2 W2^T          dW2 += x^T df2 */

/* x, y [rows,C]. Fills la->f1, f2 (gated), fa [rows,F]. */
static void ffn_forward(const Config *c, const Layer *w, LayerActs *la, real *y,
                        const real *x, idx rows) {
  idx n = rows * c->ffn;
  bool gated = config_gated(c);
  linear_forward(la->f1, x, &w->w1, rows);
  if (gated)
    linear_forward(la->f2, x, &w->w2, rows);
  /* fa = act(f1) * f2 */
  PARALLEL
  for (idx from = 0; from < n; from += CHUNK) {
    ACTIVATIONS[c->act](chunk(n, from), la->f1 + from, la->fa + from, NULL);
    if (gated)
      vec_multiply(chunk(n, from), la->fa + from, la->f2 + from);
  }
  linear_forward(y, la->fa, &w->w3, rows);
}

/* dx [rows,C] is overwritten, from dy and x; a->df1 [rows,F] is dfa first. */
static void ffn_backward(const Config *c, Layer *w, const LayerActs *la, Acts *a,
                         real *dx, const real *dy, const real *x, idx rows) {
  idx n = rows * c->ffn;
  bool gated = config_gated(c);
  /* y = fa W3 */
  linear_backward(a->df1, false, dy, la->fa, &w->w3, rows);
  PARALLEL
  for (idx from = 0; from < n; from += CHUNK) {
    real f[CHUNK], df[CHUNK], *df1 = a->df1 + from;
    idx some = chunk(n, from);
    ACTIVATIONS[c->act](some, la->f1 + from, f, df);
    /* fa = act(f1) * f2:  df2 = dfa act(f1),  df1 = dfa f2 act'(f1) */
    if (gated) {
      vec_multiply(some, f, df1);
      copy(a->df2 + from, f, some);
      vec_multiply(some, df, la->f2 + from);
    }
    vec_multiply(some, df1, df);
  }
  /* f1 = x W1, f2 = x W2:  dx = df1 W1^T + df2 W2^T */
  linear_backward(dx, false, a->df1, x, &w->w1, rows);
  if (gated)
    linear_backward(dx, true, a->df2, x, &w->w2, rows);
}

static void feed_forward(const Model *m, Acts *a, int l, real *y, const real *x,
                         int B, idx N) {
  ffn_forward(&m->c, &m->layer[l], &a->layer[l], y, x, B * N);
}

/* ==========
 * 4  The block and the model   section 2, [E2] [E3], Figure 1 left
 *
 * A block, drawn at the head of chapter 3, turns the stream x = h^{l-1} [B,N,C]
 * into y = h^l:
 *
 *   pre [E2]   u = x + MHSA(n1 x)     y = u + FFN(n2 u)     then a final norm
 *   post [E3]  u = n1(x + MHSA(x))    y = n2(u + FFN(u))    and no final norm
 *
 * The output is Y = LN(H^L) W_cls. Under post-norm the last n2 is that LN, as
 * in the authors' code.
 *
 * Norm placement (section 7.2). Under pre-norm the stream is a plain sum,
 * h^L = h^0 + every block's two branches: a massive activation, once written,
 * stays until a block removes it. Post-norm rescales the sum in each block. The
 * sink survives (Sink_1 13.54 % against 18.18), and massive activations are
 * then in u + FFN(u), the "features before LN" of Figure 7 left.
 *
 * The first row. Under a causal mask row 1 sees only itself: with softmax
 * A_11 = 1, whatever W_Q, W_K and the positions in the score. So h_1 is a
 * function of x_1 alone (section 3.1); under pre-norm, with the paper's o_1:
 *
 *   h_1^l = FFN(LN(o_1 + h_1)) + o_1 + h_1, o_1 = LN(h_1) W_V W_O, h_1 = h_1^{l-1}
 *
 * A token that is always first reaches each block as the same vector, a bias
 * that the model can shape. But an extra column takes a share of A_11, a prefix
 * of 2 or more shows row 1 other tokens, and a sink token makes x* the first
 * row. `sink check first` measures what changes row 1.
 *
 * Backward. The Jacobian of y = u + F(u) is 1 + F', so du = dy + F'^T dy: the
 * gradient of a sum goes to both terms. By hand, in one dim and without norms,
 * two branches F(x) = x/2 take x = 1 to u = 1.5 and y = 2.25; dy = 1 gives
 * du = 1 + 0.5 and dx = 1.5 + 0.75: the 1 reaches x whole, whatever the
 * branches do. Each backward below is its forward, read from the last line to
 * the first. */

/* y = MHSA(x) [B,N,C], the paper's O^l by equation 4. One product serves all
 * heads. K < H is grouped-query attention. */
static void mhsa_forward(const Model *m, Acts *a, int l, real *y, const real *x,
                         int B, idx N) {
  const Config *c = &m->c;
  const Layer *w = &m->layer[l];
  LayerActs *la = &a->layer[l];
  idx D = c->head_dim, H = c->heads, K = c->kv_heads, rows = B * N;
  idx cached = a->past * K * D;          /* keys of earlier rows (14) */
  real *k = la->k + cached, *v = la->v + cached;
  /* q = x W_Q [B,N,H,D], k = x W_K and v = x W_V [B,N,K,D] */
  linear_forward(la->q, x, &w->wq, rows);
  linear_forward(k, x, &w->wk, rows);
  linear_forward(v, x, &w->wv, rows);
  if (m->seams.qkv)
    m->seams.qkv(m, a, l, k, v, x, rows);
  /* q = R_i q, k = R_j k [E8], in place. v is never rotated. */
  rotate(c, a, l, la->q, rows, N, H, 1);
  rotate(c, a, l, k, rows, N, K, 1);
  /* phi after the rotation, as in the authors' code; the paper leaves the order
   * open. Without a kernel fq and fk are the arrays q and k. */
  if (c->kernel != KERNEL_IDENTITY) {
    kernel_forward(c, w, la->fq, la->hq, la->q, rows * H);
    kernel_forward(c, w, la->fk + cached, la->hk, k, rows * K);
  }
  /* o = scale A_h v in every head (3.7), by default in tiles (14) */
  if (m->plain)
    attention_forward(m, a, l, B, N);
  else
    tiled_forward(m, a, l, B, N);
  /* o = o + v+ */
  if (m->seams.leave)
    m->seams.leave(m, a, l, v, rows);
  else if (w->vplus.w)
    add_row(la->o, w->vplus.w, H * D, rows);
  /* O = combine(o) W_O */
  combine_forward(c, la, rows);
  linear_forward(y, la->osum, &w->wo, rows);
}

/* Overwrites dx = MHSA'^T dy [B,N,C]; adds the gradients of MHSA's parameters.
 * a->dq becomes the gradient of phi(R q), then of R q, then of q, in place. */
static void mhsa_backward(Model *m, Acts *a, int l, real *dx, const real *dy,
                          const real *x, int B, idx N) {
  const Config *c = &m->c;
  Layer *w = &m->layer[l];
  const LayerActs *la = &a->layer[l];
  idx H = c->heads, K = c->kv_heads, rows = B * N;
  /* y = combine(o) W_O:  do = dy W_O^T,  dW_O += o^T dy */
  linear_backward(a->dosum, false, dy, la->osum, &w->wo, rows);
  combine_backward(c, a, rows);
  slots_begin(m, a, l, B, N);
  /* o = o + v+ */
  if (m->seams.leave_backward)
    m->seams.leave_backward(m, a, l, B, N);
  else if (w->vplus.d)
    vplus_backward(m, a, l, B, N);
  /* o = scale A v:  dphi(q), dphi(k), dv; and k*, v*, the logit, b_h */
  if (m->plain)
    attention_backward(m, a, l, B, N);
  else
    tiled_backward(m, a, l, B, N);
  slots_end(m, a, l, B, N);
  /* phi(R q):  dRq = phi'^T dphi. The mlp's matrices served both q and k. */
  if (c->kernel != KERNEL_IDENTITY) {
    kernel_backward(c, w, a->dq, la->q, la->hq, a->dphi, rows * H);
    kernel_backward(c, w, a->dk, la->k, la->hk, a->dphi, rows * K);
  }
  /* R_i q, R_j k:  dq = R^T dRq, which rotates back */
  rotate(c, a, l, a->dq, rows, N, H, -1);
  rotate(c, a, l, a->dk, rows, N, K, -1);
  if (m->seams.qk_backward)
    m->seams.qk_backward(m, a, l, rows);
  /* q = x W_Q, k = x W_K, v = x W_V:  dx = dq W_Q^T + dk W_K^T + dv W_V^T */
  linear_backward(dx, false, a->dq, x, &w->wq, rows);
  linear_backward(dx, true, a->dk, x, &w->wk, rows);
  if (m->seams.v_backward)
    m->seams.v_backward(m, a, l, dx, x, rows);
  linear_backward(dx, true, a->dv, x, &w->wv, rows);
}

/* y [n] += x [n]: a residual sum, or the sum of two gradients. */
static void add_rows(real *y, const real *x, idx n) {
  PARALLEL
  for (idx j = 0; j < n; j += CHUNK)
    vec_add(chunk(n, j), y + j, x + j);
}

/* Block l, from 0, takes a->h [B,N,C] from h^l to h^{l+1}. Its arrays stay
 * for the backward. Where blocks share them (ACTS_ONE) y is written into x's
 * array, which is safe: x is last read by s1 = x + MHSA. */
static void block_forward(const Model *m, Acts *a, int l, int B, idx N) {
  const Layer *w = &m->layer[l];
  LayerActs *la = &a->layer[l];
  idx rows = B * N, n = rows * m->c.dim;
  la->x = a->h;
  if (m->seams.block) {
    m->seams.block(m, a, l, B, N);
  } else if (m->c.place == PLACE_PRE) {
    norm_forward(la->n1, la->n1stat, la->x, &w->norm1, rows);
    w->mix(m, a, l, la->s1, la->n1, B, N);
    add_rows(la->s1, la->x, n);                      /* u = x + MHSA(n1 x) */
    norm_forward(la->n2, la->n2stat, la->s1, &w->norm2, rows);
    w->feed(m, a, l, la->s2, la->n2, B, N);
    add_rows(la->s2, la->s1, n);                     /* y = u + FFN(n2 u) */
    a->h = la->s2;
  } else {
    w->mix(m, a, l, la->s1, la->x, B, N);
    add_rows(la->s1, la->x, n);
    norm_forward(la->n1, la->n1stat, la->s1, &w->norm1, rows);   /* u */
    w->feed(m, a, l, la->s2, la->n1, B, N);
    add_rows(la->s2, la->n1, n);
    norm_forward(la->n2, la->n2stat, la->s2, &w->norm2, rows);   /* y */
    a->h = la->n2;
  }
}

/* a->dh [B,N,C] holds dy on entry and dx on return. With MHSA'^T for the
 * transposed Jacobian of MHSA, and s1 = x + MHSA(.), s2 = u + FFN(.):
 *
 *          pre: MHSA reads n1, FFN n2         post: MHSA reads x, FFN u, in la->n1
 *                                             ds2 = n2'^T dy
 *   du  =  dy + n2'^T FFN'^T dy               du  = ds2 + FFN'^T ds2
 *                                             ds1 = n1'^T du
 *   dx  =  du + n1'^T MHSA'^T du              dx  = ds1 + MHSA'^T ds1
 *
 * By hand, post-norm, x = (3, 4), MHSA(x) = (x_2, 0), FFN = 0, g = 1, eps = 0:
 * s1 = (7, 4), s2 = u = (1.228, 0.702). dy = (1, 0) gives du = (0.246, -0.431),
 * ds1 = (0.043, -0.076), dx = (0.043, -0.032). ffn_ and mhsa_backward overwrite
 * a->dn, norm_backward adds. A companion's w->mix, w->feed have no backward. */
static void block_backward(Model *m, Acts *a, int l, int B, idx N) {
  Layer *w = &m->layer[l];
  const LayerActs *la = &a->layer[l];
  const Config *c = &m->c;
  idx rows = B * N, n = rows * c->dim;
  if (m->seams.block_backward) {
    m->seams.block_backward(m, a, l, B, N);
  } else if (c->place == PLACE_PRE) {
    ffn_backward(c, w, la, a, a->dn, a->dh, la->n2, rows);
    norm_backward(a->dh, a->dn, la->s1, la->n2stat, &w->norm2, rows);   /* du */
    mhsa_backward(m, a, l, a->dn, a->dh, la->n1, B, N);
    norm_backward(a->dh, a->dn, la->x, la->n1stat, &w->norm1, rows);    /* dx */
  } else {
    zero(a->dx, n);
    norm_backward(a->dx, a->dh, la->s2, la->n2stat, &w->norm2, rows);
    ffn_backward(c, w, la, a, a->dn, a->dx, la->n1, rows);
    add_rows(a->dx, a->dn, n);                                          /* du */
    zero(a->dh, n);
    norm_backward(a->dh, a->dx, la->s1, la->n1stat, &w->norm1, rows);
    mhsa_backward(m, a, l, a->dn, a->dh, la->x, B, N);
    add_rows(a->dh, a->dn, n);                                          /* dx */
  }
}

/* The embedding. Leaves the stream a->h = H^0 [B,N,C]. Returns N. */
static idx forward_begin(const Model *m, Acts *a, const int *ids, int B, int T) {
  idx N = forward_rows(&m->c, a, T);
  pace(a, true, 0);   /* this pass's threads */
  /* b_h(i-j): T5's may have changed since the last forward */
  if (!a->past)
    biases_tabulate(m, a);
  if (m->seams.tables)
    m->seams.tables(m, a, a->past + N);
  embed_forward(m, a, ids, B, T);
  a->h = a->h0;
  return N;
}

/* The LN of Y = LN(H^L) W_cls: a->h = h^L to a->nf [B,N,C]. */
static void forward_end(const Model *m, Acts *a, int B, idx N) {
  a->nf = a->h;   /* post-norm: the last n2 */
  if (m->c.place == PLACE_POST)
    return;
  norm_forward(a->fnorm, a->nfstat, a->h, &m->normf, B * N);
  a->nf = a->fnorm;
}

/* ids [B,T] to a->nf [B,N,C], from which chapter 5 makes logits. B and T may be
 * less than the room. a->h is h^L before the final norm, as in Figures 11 to
 * 14. With ACTS_ALL a->layer[l].x is h^l for l < L. */
static void model_forward(const Model *m, Acts *a, const int *ids, int B, int T) {
  idx N = forward_begin(m, a, ids, B, T);
  for (int l = 0; l < m->c.layers; l++)
    block_forward(m, a, l, B, N);
  forward_end(m, a, B, N);
}

/* From a->dh [B,N,C], the gradient of a->nf that model_loss left, to every
 * parameter but W_cls, which model_loss has done. Leaves the gradient of H^0 in
 * a->dh. */
static void model_backward(Model *m, Acts *a, const int *ids, int B, int T) {
  const Config *c = &m->c;
  idx N = config_rows(c, T), rows = B * N, n = rows * c->dim;
  /* the gradient of T5's bias, to which all blocks add */
  if (a->dbias)
    zero(a->dbias, B * c->heads * (2 * N - 1));
  /* nf = normf(h^L) */
  if (c->place != PLACE_POST) {
    zero(a->dx, n);
    norm_backward(a->dx, a->dh, a->h, a->nfstat, &m->normf, rows);
    copy(a->dh, a->dx, n);
  }
  /* h^{l+1} = block_l(h^l), from the last to the first */
  for (int l = c->layers - 1; l >= 0; l--)
    block_backward(m, a, l, B, N);
  /* bias = rel[bucket(i-j)],  H^0 = X W_E + P */
  if (a->dbias)
    t5_backward(m, a, B, N);
  embed_backward(m, a, ids, B, T, a->dh);
}

/* ==========
 * 5  Loss, AdamW, schedule   sections 1, 2, 4, 6; [E1]
 *
 * [E1] The loss is the mean of -log p(x_{t+1} | the tokens that reach row t)
 * over the scored targets of a batch. (Sections 2, 6 print sum log p, without
 * a minus.) A sequence has T + 1 tokens: T inputs and T targets.
 *
 * With a prefix of p >= 1 tokens (section 6, Figure 5) the first p-1 rows see
 * their answers, and are not scored:
 *
 *   rows          1     2     3     4     5          T = 5, p = 3
 *   predicts     x_2   x_3   x_4   x_5   x_6
 *   scored        -     -    yes   yes   yes         3 targets per sequence
 *
 * A batch has n scored targets. share is 1, or 1/k if a step accumulates the
 * gradients of k batches. v runs over the vocabulary, and Z is the sum over it:
 *
 *   y = nf W_cls     L = (1/n) sum of (log Z - y_target)     Z = sum_v e^{y_v}
 *
 *   dy_v = share (e^{y_v}/Z - 1[v = target]) / n    as dlog Z/dy_v = e^{y_v}/Z
 *   dnf  = dy W_cls^T          dW_cls += nf^T dy          a row of dy sums to 0
 *
 * By hand: logits (0, log 3), the second the target, give it probability 3/4:
 * its loss is 0.288 and dy = (1/4, -1/4).
 *
 * Numerics. The maximum is subtracted before exp: no term overflows. A row's
 * loss is a double. A NaN logit makes the loss NaN, which ends a training.
 * Equal logits have loss ln V: 7.62 for V = 2048, 10.83 for the authors' 50432,
 * whose model ends at 3.73. */

/* y [R,V] = nf W_cls, for R <= SLICE rows of nf. A tied W_cls is W_E^T. */
static void model_logits(const Model *m, Acts *a, const real *rows, idx R,
                         real *logits) {
  idx C = m->c.dim, V = m->c.vocab;
  const Tensor *E = &m->wte;
  if (m->seams.logits)
    m->seams.logits(m, a, rows, R, logits);
  else if (!m->c.tied)
    linear_forward(logits, rows, &m->wcls, R);
  else if (E->product)
    E->product(E, true, logits, rows, R);
  else
    matmul(logits, V, rows_of(rows, C), transpose_of(E->w, C), R, V, C, false);
}

/* From dy [R,V] in a->logits: overwrites a->dslice [R,C], adds to dW_cls. */
static void logits_backward(Model *m, Acts *a, idx R) {
  idx C = m->c.dim, V = m->c.vocab;
  if (m->seams.logits_backward) {
    m->seams.logits_backward(m, a, R);
  } else if (m->c.tied) {
    /* y = x W_E^T:  dx = dy W_E,  dW_E [V,C] += dy^T x */
    matmul(a->dslice, C, rows_of(a->logits, V), rows_of(m->wte.w, C), R, C, V,
           false);
    matmul(m->wte.d, C, transpose_of(a->logits, V), rows_of(a->slice, C), V, C,
           R, true);
  } else {
    linear_backward(a->dslice, false, a->logits, a->slice, &m->wcls, R);
  }
}

/* -log p of the target. y [V] are the logits on entry and, if
 * weight = share / n is not 0, dy on return:
 *
 *   -log p = log sum_v e^(y_v - max) + max - y_target
 *   dy_v   = weight (e^(y_v - max) / sum - 1[v = target]) */
static double cross_entropy(idx V, real *y, int target, real weight) {
  real most = vec_max(V, y), y_target = y[target];
  vec_exp(V, y, y, most);
  real sum = vec_sum(V, y);
  if (weight != 0) {
    vec_scale(V, y, weight / sum);
    y[target] -= weight;
  }
  return log(sum) + most - y_target;
}

/* After model_forward: the mean of -log p over the scored targets [B,T]; 0 if
 * the prefix leaves none. Each -log p goes to a->loss_row [B,T], -1 if not
 * scored. SLICE rows at a time pass through a->slice: all logits of the
 * authors' 16 sequences would take 6.6 GB.
 *
 * If share is not 0, dW_cls += share dL/dW_cls, and a->dh [B,N,C] becomes
 * share dL/dnf. Rows not scored, x*'s among them, keep dh = 0: their gradient
 * comes through the rows that see them. */
static double model_loss(Model *m, Acts *a, const int *targets, int B, int T,
                         double share) {
  const Config *c = &m->c;
  idx C = c->dim, V = c->vocab, N = config_rows(c, T);
  idx from = c->prefix ? c->prefix - 1 : 0;       /* the first scored, from 0 */
  idx per = T - at_most(from, T), count = B * per;
  double sum = 0;
  real weight = (real)(share / (double)count);
  for (idx i = 0; i < (idx)B * T; i++)
    a->loss_row[i] = -1;
  if (share != 0)
    zero(a->dh, B * N * C);
  if (m->seams.loss && m->seams.loss(m, a, targets, B, T, &sum))
    return sum;
  for (idx s0 = 0; s0 < count; s0 += SLICE) {
    idx R = at_most(count - s0, SLICE), token[SLICE], place[SLICE];
    for (idx r = 0; r < R; r++) {
      idx b = (s0 + r) / per, t = from + (s0 + r) % per;
      token[r] = b * T + t;
      place[r] = b * N + (N - T) + t;    /* after any rows of x* */
      copy(a->slice + r * C, a->nf + place[r] * C, C);
    }
    model_logits(m, a, a->slice, R, a->logits);
    PARALLEL
    for (idx r = 0; r < R; r++)
      a->loss_row[token[r]] = cross_entropy(V, a->logits + r * V,
                                            targets[token[r]], weight);
    /* in token order: neither threads nor slices change the sum */
    for (idx r = 0; r < R; r++)
      sum += a->loss_row[token[r]];
    if (share == 0)
      continue;
    logits_backward(m, a, R);
    for (idx r = 0; r < R; r++)
      copy(a->dh + place[r] * C, a->dslice + r * C, C);
  }
  return count ? sum / (double)count : 0;
}

/* ----------
 * The optimiser (F5)           AdamW: Loshchilov and Hutter 2017; [E32]
 *
 *   w <- (1 - lr wd) w                                  decay, before the step
 *   m <- b1 m + (1 - b1) g                              equation 37
 *   v <- b2 v + (1 - b2) g^2                            equation 38
 *   w <- w - lr (m / (1 - b1^t)) / (sqrt(v / (1 - b2^t)) + eps)          39
 *
 * SGD has the same decay, then w <- w - lr g (equation 32). t counts from 1.
 *
 * m and v are running means that start at 0. After t steps of a constant g they
 * are (1 - b1^t) g and (1 - b2^t) g^2; the division corrects this bias. So the
 * first step is lr times the sign of g, whatever b1, b2 (theirs: 0.9, 0.95).
 *
 * By hand, from w = 1 with lr = 0.1 and wd = 0: g = 2 gives m = v = 0.2,
 * corrected 2 and 4: w = 0.9. Then g = -1 gives m = 0.08, v = 0.24, corrected
 * 0.421 and 2.46: w = 0.873. The step follows m, not yet the new sign of g.
 *
 * A model may use U = alpha W; the scale of Table 14 left is such an alpha of
 * W_O. Then dL/dW = alpha dL/dU, and without clipping U moves as if trained
 * itself, from alpha W_0 at another rate:
 *   SGD     alpha^2 lr, if U has wd / alpha^2: a step adds -alpha^2 lr dL/dU
 *           to U (32 to 35)
 *   AdamW   alpha lr, if U has eps / alpha and wd / alpha (36 to 42): m and
 *           sqrt(v) for W are alpha times U's
 *
 * Weight decay ([T2]). Section 6 adds gamma |theta|^2 to the loss. AdamW's
 * decay, in the authors' code on every parameter (F5), is not divided by
 * sqrt(v). A weight without gradient shrinks to 1 - lr wd of itself a step: at
 * lr = 4e-4 to 0.45 in the paper's 20000 steps for wd = 0.1, to 1/e in 500 for
 * wd = 5, the end of Table 2.
 *
 * Numerics: in real, in the order of torch.optim.AdamW. Floats just below 1 are
 * 6e-8 apart: 1 - lr wd loses an lr wd below 3e-8. Tests: optimizer_step__*. */

typedef struct Step {
  int optimizer;                     /* OPTIMIZER_* */
  double lr, beta1, beta2, eps, wd;
  long t;
  double shrink;                     /* the factor of g from clipping */
} Step;

/* AdamW on n <= CHUNK numbers; decay, step and unbias are optimizer_step's. */
WIDE(adamw,
     (const Step *s, real decay, real step, real unbias, idx n,
      real *restrict w, const real *restrict g, real *restrict m,
      real *restrict v),
     (s, decay, step, unbias, n, w, g, m, v)) {
  real b1 = (real)s->beta1, b2 = (real)s->beta2, eps = (real)s->eps;
  real shrink = (real)s->shrink, sqrt_v[CHUNK];
  for (idx j = 0; j < n; j++) {
    real grad = shrink * g[j];
    m[j] = b1 * m[j] + (1 - b1) * grad;
    v[j] = b2 * v[j] + (1 - b2) * grad * grad;
  }
  vec_sqrt(n, sqrt_v, v);
  for (idx j = 0; j < n; j++)
    w[j] = decay * w[j] - step * m[j] / (sqrt_v[j] * unbias + eps);
}

/* One step of w [n] with gradient shrink g [n], and of m, v [n], which SGD does
 * not touch. */
static void optimizer_step(const Step *s, idx n, real *w, const real *g,
                           real *m, real *v) {
  double t = (double)s->t;
  real decay = (real)(1 - s->lr * s->wd), lr = (real)s->lr;
  real step = (real)(s->lr / (1 - pow(s->beta1, t)));
  real unbias = (real)(1 / sqrt(1 - pow(s->beta2, t)));
  if (s->optimizer == OPTIMIZER_SGD) {
    PARALLEL
    for (idx j = 0; j < n; j++)
      w[j] = decay * w[j] - lr * ((real)s->shrink * g[j]);
    return;
  }
  PARALLEL
  for (idx j = 0; j < n; j += CHUNK)
    adamw(s, decay, step, unbias, chunk(n, j), w + j, g + j, m + j, v + j);
}

/* sum x^2 of x [n]: CHUNKs in real, added in double in PARTS parts, in order
 * whatever the threads. */
static double square_sum(idx n, const real *x) {
  enum { PARTS = 64 };
  double part[PARTS], sum = 0;
  PARALLEL
  for (idx p = 0; p < PARTS; p++) {
    idx from = n * p / PARTS, to = n * (p + 1) / PARTS;
    part[p] = 0;
    for (idx j = from; j < to; j += CHUNK)
      part[p] += vec_dot(chunk(to, j), x + j, x + j);
  }
  for (idx p = 0; p < PARTS; p++)
    sum += part[p];
  return sum;
}

/* (F1) The learning rate of step s, from 0: lr (s+1)/warmup while s < warmup;
 * then
 *
 *   constant   lr, as in every configuration of the authors' code
 *   cosine     min_lr + (lr - min_lr) (1 + cos(pi done)) / 2, section 4
 *              done = (s - warmup) / (steps - warmup)
 *
 * [T9] With lr times steps held equal, Sink_1 is 23.44 % for 8e-4, 18.18 for
 * 4e-4, 16.81 for 2e-4 and 6.29 for 1e-4. */
static double schedule_lr(int schedule, double lr, double min_lr, int warmup,
                          int steps, int step) {
  if (step < warmup)
    return lr * (step + 1) / warmup;
  if (schedule == SCHEDULE_CONSTANT)
    return lr;
  double done = step < steps ? (double)(step - warmup) / (steps - warmup) : 1;
  return min_lr + (lr - min_lr) * (1 + cos(PI * done)) / 2;
}

/* The global norm sqrt(sum g^2); the authors clip at 1. *bad becomes the first
 * tensor whose sum is not finite, else NULL. */
static double gradient_norm(const Model *m, const Tensor **bad) {
  double total = 0;
  *bad = NULL;
  for (int i = 0; i < m->n_tensors; i++) {
    const Tensor *t = m->all[i];
    double sum = square_sum(tensor_count(t), t->d);
    if (!isfinite(sum) && !*bad)
      *bad = t;
    total += sum;
  }
  return sqrt(total);
}

/* ==========
 * 6  The sink metrics   sections 3.1 and 3.2; [M1] [M2]
 *
 * [M1]  alpha_k = 1/(T-k+1) sum over rows i = k..T of m_ik     of each head
 * [M2]  Sink_k^eps = mean over blocks and heads of 1[alpha_k > eps], strictly
 *
 * m is the paper's A where weights sum to 1, and its proxy score elsewhere
 * (section 7.4; row_metric of 3.6). With T = 3:
 *
 *   row 1   1.0               alpha_1 = (1.0 + 0.8 + 0.6) / 3 = 0.8
 *   row 2   0.8  0.2          alpha_2 = (0.2 + 0.2) / 2       = 0.2
 *   row 3   0.6  0.2  0.2     alpha_3 = 0.2
 *
 * This head has a sink on token 1 at eps = 0.3. With a K bias its map may be
 *
 *           *    1    2    3
 *   row 1   0.9  0.1            alpha_* = (0.9 + 0.7 + 0.8) / 3 = 0.8
 *   row 2   0.7  0.1  0.2       alpha_1 = (0.1 + 0.1 + 0.0) / 3 = 0.067
 *   row 3   0.8  0.0  0.1  0.1
 *
 * The sink has moved from token 1 to *, as in Table 4. The indicator is taken
 * per sequence, then averaged over sequences (F7), 100 in the paper: a head
 * counts by how often it has a sink. The paper has eps = 0.3 and T = 64.
 *
 * Under causal softmax without * and x* A_11 = 1, so 1/T <= alpha_1 <= 1
 * (section 3.2, whose i != 0 should read i != 1). Uniform weights, `even` in
 * print, give alpha_1 = 0.0741 at T = 64 (sink_uniform), a quarter of eps. At
 * T < 10 they pass for sinks. One sequence's Sink_1 moves in steps of 1/(L H),
 * when a head crosses eps. So tables also show mean alpha_1, which rises before
 * that, and its multiple of the even value.
 *
 * Chapter 1 draws the rows and columns of a map m [N,S]. x*'s own row is no
 * token's: alpha of * and of x* is a mean over the T real rows.
 *
 * The authors' code (--metric-rows plus1) adds a row with all its weight on *
 * (F6): alpha_* = (1 + sum of m_i*)/(T+1). For x* the row is x*'s own. plus1
 * sums over all rows, the paper over i >= k: inside a prefix rows see ahead. */

/* [M1] alpha of column j of a map m [N,S]. plus1: all rows, T+1 for *, x*. */
static double sink_alpha(const Config *c, int T, int form, const real *m, idx j) {
  idx N = config_rows(c, T), S = config_columns(c, T);
  idx first = N - T, token1 = S - T;     /* token 1's row and column */
  idx k = j > token1 ? j - token1 : 0;   /* [M1]'s k, less 1; 0 for * and x* */
  bool plus1 = form == METRIC_PLUS1;
  double sum = 0, count = (double)(T - k);
  for (idx i = plus1 ? first : first + k; i < N; i++)
    sum += m[i * S + j];
  if (plus1 && c->extra && j == 0)
    sum += 1;   /* *'s dummy row */
  else if (plus1 && first)
    sum += m[j];   /* the row of x*, of several the first */
  return sum / (count + (plus1 && j < token1));
}

/* Adds, for one head's map m [N,S] in one sequence, alpha of every column, and
 * 1[alpha > eps] for each eps (F7). lh = l H + h. A NaN stays. */
static void measure_sink(Sinks *s, const Config *c, int form, idx lh,
                         const real *m) {
  idx S = s->S, all = s->L * s->H;
  for (idx j = 0; j < S; j++) {
    double alpha = sink_alpha(c, s->T, form, m, j);
    s->alpha[lh * S + j] += alpha;
    for (idx x = 0; x < s->n_eps; x++)
      s->over[(x * all + lh) * S + j] +=
          isnan(alpha) ? NAN : alpha > s->eps[x];
  }
}

/* The mean of a column of at [L,H,n] over the s->heads heads that attend; the
 * others are 0. sinks_finish (11.0) has made sums means over sequences. */
static double column_mean(const Sinks *s, const double *at, idx n, int column) {
  double sum = 0;
  for (idx i = 0; i < s->L * s->H; i++)
    sum += at[i * n + column];
  return sum / s->heads;
}

/* Means over blocks, heads, sequences: [M1] of a column; the raw mass, 3.6. */
static double sinks_alpha(const Sinks *s, int column) {
  return column_mean(s, s->alpha, s->S, column);
}
static double sinks_raw(const Sinks *s) { return column_mean(s, s->raw, 1, 0); }

/* [M2] Sink of a column at eps[x], in 0..1. Sink_1: config_column_first's. */
static double sinks_sink(const Sinks *s, int column, int x) {
  return column_mean(s, s->over + (idx)x * s->L * s->H * s->S, s->S, column);
}

/* Does block l attend? A companion's may mix tokens differently. */
static bool block_attends(const Model *m, int l) {
  return m->layer[l].mix == mhsa_forward;
}

/* How many keys row i sees, without *: as many j as are visible(). */
static idx keys_seen(const Config *c, int w, idx N, idx i) {
  idx lo = w && i >= w ? i - w + 1 : 0, first = c->sink_token;
  idx seen = i + 1 - lo, end = at_most(first + c->prefix, N);
  for (idx j = first; j < end; j++)   /* of the prefix, those outside lo .. i */
    seen += j < lo || j > i;
  return seen;
}

/* Even rows: row i gives 1/n_i to each of the n_i columns it sees. Returns the
 * mean weight of token k over blocks and rows k .. T; for k = 0 that of a row's
 * own token, over rows 2 .. T (even_self, 11.0). */
static double even_weight(const Model *m, int T, int k) {
  const Config *c = &m->c;
  idx N = config_rows(c, T), first = N - T;
  int from = k ? k - 1 : 1;              /* first row, and k's column; from 0 */
  double sum = 0, blocks = 0;
  for (int l = 0; l < c->layers; l++) {
    int w = m->layer[l].window;
    if (!block_attends(m, l))
      continue;
    blocks++;
    for (idx i = first + from; i < N; i++)
      if (!k || visible(c, w, i, first + from))
        sum += 1 / (double)(keys_seen(c, w, N, i) + (c->extra != EXTRA_NONE));
  }
  return sum / blocks / (T - from);
}

/* The even alpha_1: H_T / T with H_n = 1 + 1/2 + .. + 1/n, 0.0741 at T = 64;
 * (H_(T+1) - 1) / T with * or x*, 0.0587. 7.5 has a window's and a prefix's. */
static double sink_uniform(const Model *m, int T) {
  return even_weight(m, T, 1);
}

/* [FIG7] [FIG8] [FIG29] The first row's norm over the mean of the others; norms
 * [N] are means over sequences. Captions print t != 0 for t != 1. NaN where
 * there are no others, or all are 0. */
static double norm_ratio(const double *norms, idx N) {
  double sum = 0;
  for (idx n = 1; n < N; n++)
    sum += norms[n];
  if (sum == 0)
    return NAN;
  return norms[0] / (sum / (double)(N - 1));
}

/* The largest ratio over the blocks' outputs. The paper finds massive
 * activations for weights that are non-negative and sum to 1 (Figure 8 left),
 * none for independent ones (middle), nor with K or KV biases (Figure 7). */
static double sinks_ratio(const Sinks *s) {
  double most = NAN;   /* fmax ignores a NaN */
  for (int l = 1; l <= s->L; l++)
    most = fmax(most, norm_ratio(s->hnorm + l * s->N, s->N));
  return most;
}

/* |x|, for x [n]: the l2 norm of sections 3.1 and 7. */
static double length(idx n, const real *x) { return sqrt(vec_dot(n, x, x)); }

/* [FIG2] Section 3.1: <q_t, k_j> = |q_t| |k_j| cos(q_t, k_j), after positions
 * and before phi. The paper finds that the angle makes the sink: |q_t| |k_1| is
 * rather small, but cos(q_t, k_1) large. (It prints "keys and values" for keys
 * and queries.)
 *
 * Adds cosine and product of one head of sequence b, as means over all rows but
 * the first. [0]: with the first row's key, as in Figure 2, even where a window
 * hides it. [1]: the row's mean over the other visible keys up to its own. */
static void measure_angles(Sinks *s, const Model *m, const LayerActs *la, idx b,
                           int l, idx h) {
  idx D = m->c.head_dim, H = m->c.heads, K = m->c.kv_heads, N = s->N;
  idx at = 2 * (l * H + h);
  const real *q = la->q + (b * N * H + h) * D;   /* rows H D apart */
  const real *k = la->k + (b * N * K + (h / (H / K))) * D;
  for (idx i = 1; i < N; i++) {
    const real *q_i = q + i * (H * D);
    double keys[2] = {0}, cosines[2] = {0}, products[2] = {0};
    double size = length(D, q_i);
    for (idx j = 0; j <= i; j++) {
      const real *k_j = k + j * (K * D);
      if (j && !visible(&m->c, m->layer[l].window, i, j))
        continue;
      double both = size * length(D, k_j);
      keys[j > 0]++;
      products[j > 0] += both;
      if (both > 0)
        cosines[j > 0] += (double)vec_dot(D, q_i, k_j) / both;
    }
    for (int other = 0; other < 2; other++) {
      s->cosine[at + other] += cosines[other] / keys[other] / (double)(N - 1);
      s->product[at + other] += products[other] / keys[other] / (double)(N - 1);
    }
  }
}

/* ==========
 * 7  The propositions, executable   Appendix B.1 and C.4; sections 3.1, 3.2, 7
 *
 * What the paper states that needs no training is decided here on toys: three
 * blocks, few heads, 9 to 512 tokens, weights of order 1 so that nothing hides
 * in rounding. A check measures it and prints lines, each with a verdict:
 *
 *   holds               a deviation is within its bound, a number is right
 *   control             without its premise it must fail, and does
 *   refuted as printed  the statement is wrong: this is a counterexample
 *   WRONG               anything else; `sink check` then ends with status 1
 *
 * As in Appendix B.1, A_ti has query t and key i, both from 1.
 *
 * Bounds on rounding are multiples of REAL_EPS, for the float and the double
 * build. STATES: in each block a number passes some 60 additions of terms of
 * order 1, each off by half a REAL_EPS; through all three blocks an error grows
 * at most 25 times, as measured. The product, 750, is below 1000.
 * SCORES: a weight's relative error is its score's absolute one: REAL_EPS times
 * the largest score, about 40, times its rotation, at most 64 radians: 2560.
 * EPS_IN_Z: a row sums to 1 - 1e-8/Z where Z = sum + 1e-8. APART: the least
 * difference of what must differ. NINE_DECIMALS: half a unit of the ninth, the
 * last of a stated number. */
#define STATES (1000 * REAL_EPS)
#define SCORES (4000 * REAL_EPS)
#define EPS_IN_Z 1e-6
#define APART 1e-3
#define NINE_DECIMALS 5e-10

/* ----------
 * 7.1  The page, and toys to measure on; a reader may go on to 7.2 */

/* Toys a page keeps, tokens of the longest, their vocabulary. */
enum { TOYS = 8, TOKENS = 512, TOY_VOCAB = 13 };

/* A tiny model, with the tokens and all maps of its last run. */
typedef struct Toy {
  Model m;
  Acts a;
  real *maps;
  int T, ids[TOKENS + 1];
} Toy;

enum {
  LINE_HOLDS, LINE_EQUALS, LINE_CONTROL, LINE_REFUTED, LINE_WRONG, LINE_KINDS
};

/* Counts a run's lines by verdict, and keeps its last TOYS toys. */
typedef struct Page {
  FILE *out;
  Error *e;
  int count[LINE_KINDS], toys;
  Toy toy[TOYS];
  char text[64];   /* of page_text */
} Page;

typedef struct Check {
  const char *name, *about;     /* a heading, then a sentence on its own line */
  void (*run)(Page *p);
} Check;

/* Prints what was measured, its bound and verdict. NaN, infinity are WRONG. */
static void page_line(Page *p, int kind, const char *what, double x,
                      double bound) {
  static const char *const SIGNS[] = {"<=", "=", ">=", ">="};
  static const char *const WORDS[] = {
    "holds", "holds", "control", "refuted as printed", "WRONG"};
  bool good = x >= bound;
  if (kind == LINE_HOLDS)
    good = x <= bound;
  if (kind == LINE_EQUALS)
    good = fabs(x - bound) <= NINE_DECIMALS + SCORES;
  int found = good && isfinite(x) ? kind : LINE_WRONG;
  p->count[found]++;
  fprintf(p->out, " %-54s %11.6g %2s %-10.6g %s\n", what, x, SIGNS[kind],
          bound, WORDS[found]);
}

/* holds: x <= bound. equals: |x - bound| is rounding. control and refutes: the
 * statement fails, x >= bound, without its premise or as printed. */
#define VERDICT(name, kind)                                                    \
  static void name(Page *p, const char *what, double x, double bound) {        \
    page_line(p, kind, what, x, bound);                                        \
  }
VERDICT(holds, LINE_HOLDS)
VERDICT(equals, LINE_EQUALS)
VERDICT(control, LINE_CONTROL)
VERDICT(refutes, LINE_REFUTED)

static const char *page_text(Page *p, const char *format, double x) {
  snprintf(p->text, sizeof p->text, format, x);
  return p->text;
}

/* Draws normal numbers: matrices nearly keep lengths, gains are near 1. */
static void toy_fill(Model *m, uint64_t seed) {
  for (int i = 0; i < m->n_tensors; i++) {
    const Tensor *t = m->all[i];
    bool gain = t->init == INITIAL_ONE;
    double spread = gain ? 0.25 : 1;
    if (t->matrix && t->init != INITIAL_EMBED)
      spread = 1 / sqrt(t->rows);
    tensor_draw(&m->c, t, seed, gain, spread);
  }
}

static void toy_forward(Toy *y) {
  if (y->T > 0)
    model_forward(&y->m, &y->a, y->ids, 1, y->T);
}

static void toy_free(Toy *y) {
  free(y->a.probe);
  acts_free(&y->a);
  model_free(&y->m);
  free(y->maps);
  *y = (Toy){0};
}

static int config_from_flags(Config *c, const char *flags, Error *e);
static real *maps_create(Acts *a, const Config *c, Error *e);

/* A toy of the default flags and these, run on one repeated token (seed
 * REPEATED) or on random ones (other seeds). If it cannot be made it is empty,
 * with no block and T = 0, and the checks end. */
enum { REPEATED, RANDOM };
static Toy *toy(Page *p, uint64_t seed, const char *format, ...) {
  char flags[512] = "--layers 3 --heads 2 --dim 12 --head-dim 4 --ffn 10 "
                    "--context 12 --vocab 13 ";
  size_t n = strlen(flags);
  Toy *y = &p->toy[p->toys++ % TOYS];
  Rng rng = {seed};
  Config c;
  va_list args;
  va_start(args, format);
  vsnprintf(flags + n, sizeof flags - n, format, args);
  va_end(args);
  toy_free(y);
  if (!config_from_flags(&c, flags, p->e)
      && !model_create(&y->m, &c, true, p->e)
      && !acts_create(&y->a, &y->m, 1, c.context, ACTS_ALL, p->e))
    y->maps = maps_create(&y->a, &c, p->e);
  if (p->e->status) {
    toy_free(y);
    return y;
  }
  toy_fill(&y->m, 1);
  y->T = c.context;
  for (int t = 0; t <= y->T; t++)
    y->ids[t] = seed ? (int)rng_below(&rng, TOY_VOCAB) : 7;
  toy_forward(y);
  return y;
}

/* Runs the toy again on its first token alone. */
static Toy *alone(Toy *y) {
  y->T = y->T > 0;
  toy_forward(y);
  return y;
}

/* The larger, the smaller; a NaN wins either. */
static double larger(double a, double b) { return b > a || b != b ? b : a; }
static double smaller(double a, double b) { return b < a || b != b ? b : a; }

/* h_t^l [C], l = 0 .. L; t = 0 is x*. */
static const real *toy_state(const Toy *y, int l, int t) {
  const real *h = l == y->m.c.layers ? y->a.h : y->a.layer[l].x;
  return h + (y->m.c.sink_token + t - 1) * y->m.c.dim;
}

/* The largest |a - b| / |b| over blocks and tokens from .. to: a is the token's
 * state in y, b that of token `from` in `other`, after the same block. */
static double toy_spread(const Toy *y, int from, int to, const Toy *other) {
  double worst = 0;
  for (int l = 0; l <= y->m.c.layers && other->T; l++)
    for (int t = from; t <= to; t++) {
      const real *a = toy_state(y, l, t), *b = toy_state(other, l, from);
      double gap = 0, size = 0;
      for (int c = 0; c < y->m.c.dim; c++) {
        gap += pow((double)a[c] - b[c], 2);
        size += pow(b[c], 2);
      }
      worst = larger(worst, sqrt(gap / size));
    }
  return worst;
}

/* A place in a toy's maps: block, head, query t, key i; i = 0 is the extra
 * column or the sink token. A_ti reads the metric's map. */
typedef struct Place { const Toy *y; int l, h, t, i; } Place;

static double entry(Place s, const real *map) {
  const Config *c = &s.y->m.c;
  idx row = s.h * config_rows(c, s.y->T) + c->sink_token + s.t - 1;
  idx column = config_column_first(c) + s.i - 1;
  return map[row * config_columns(c, s.y->T) + column];
}
static double score(Place s) { return entry(s, s.y->a.probe[s.l].z); }
static double weight(Place s) { return entry(s, s.y->a.probe[s.l].weight); }
static double A_ti(Place s) { return entry(s, s.y->a.probe[s.l].metric); }

static double greatest(const Toy *y, double f(Place s)) {
  double most = -INFINITY;
  for (Place s = {.y = y}; s.l < y->m.c.layers; s.l++)
    for (s.h = 0; s.h < y->m.c.heads; s.h++)
      for (s.t = 1; s.t <= y->T; s.t++)
        for (s.i = 1; s.i <= y->T; s.i++)
          if (visible(&y->m.c, y->m.layer[s.l].window, s.t - 1, s.i - 1))
            most = larger(most, f(s));
  return most;
}

/* [M1] alpha_k of head n, counted through all blocks; its mean over heads. */
static double head_alpha(const Toy *y, int n, int k) {
  const Config *c = &y->m.c;
  idx map = config_rows(c, y->T) * config_columns(c, y->T);
  const real *m = y->a.probe[n / c->heads].metric + n % c->heads * map;
  return sink_alpha(c, y->T, METRIC_REAL, m, config_column_first(c) + k - 1);
}
static double alpha(const Toy *y, int k) {
  int heads = y->m.c.layers * y->m.c.heads;
  double sum = 0;
  for (int n = 0; n < heads; n++)
    sum += head_alpha(y, n, k);
  return sum / heads;
}

/* [M2] Sink_1 of one sequence: the share of heads with alpha_1 > eps. */
static double sink_share(const Toy *y, double eps) {
  int heads = y->m.c.layers * y->m.c.heads;
  double over = 0;
  for (int n = 0; n < heads; n++) {
    double a = head_alpha(y, n, 1);
    over += isnan(a) ? NAN : a > eps;
  }
  return over / heads;
}

static const char *const SCHEMES[] = {   /* the first INSIDE act in the score */
  "--pos none", "--pos relative", "--pos alibi", "--pos t5", "--pos rotary",
  "--pos absolute", "--pos learned"};
enum { INSIDE = 5 };
_Static_assert(sizeof SCHEMES / sizeof *SCHEMES == POS_ROWS,
               "a new position: its flags here, before or behind INSIDE");

/* Operations of Table 15. */
#define SIGMOID_1 "--sim sigmoid --normalizer one"
#define ELU_1 "--sim elu --normalizer one"
#define LINEAR_1 "--sim identity --normalizer one"
#define LINEAR_CLAMP "--sim identity --normalizer clamp"
#define MLP_1 LINEAR_1 " --kernel mlp"

/* ----------
 * 7.2  [E10] Equations 10 to 17: the states of a repeated token stay equal
 *
 * Proof. Let h_1 = .. = h_T enter a block. All values are then one v, and a
 * head gives o_t = r_t v, where r_t is the sum of row t of the weights. All
 * else in a block acts on each token alone. So equal states leave it if (and,
 * but for chance, only if) r_t is the same for all t in every head, whatever
 * the norm, the ffn or the score; and so on, block by block. If the only row at
 * T = 1 has that sum too, every state equals the token's own at T = 1.
 *
 * Positions added to the input separate the states: h_t^0 = x W_E + p_t. Else
 * r_t decides; s(n) is s at distance n, and c_t = s(0) + .. + s(t-1):
 *
 *   softmax, a positive s over its sum   r_t = 1, times the scale, for any mask
 *   V biases                             o_t = v + v+
 *   clamp                                r_t = c_t / max(|c_t|, 1)
 *   Z = 1                                r_t = c_t; no positions: t s(0)
 *   p-norm of softmax                    no positions: r_t = t^(1-1/p)
 *   a column of weight A_t*, Z = sum     o_t = (1 - A_t*) v + A_t* v*
 *   another first token                  every row gives it another share */

static const char *const EQUAL_SUMS[] = {
  "--sim exp", "--place post", "--norm layer --act gelu --linear-bias",
  "--combine add --kv-heads 1", "--scale 0.2", "--vbias", "--window 4",
  "--prefix 5", "--window 4 --prefix 5", NULL};
static const char *const NEARLY_EQUAL_SUMS[] = {
  "--sim sigmoid", "--sim elu", "--kernel elu --sim identity", NULL};
static const char *const OTHER_SUMS[] = {
  LINEAR_CLAMP, LINEAR_CLAMP " --kernel mlp", SIGMOID_1, ELU_1,
  LINEAR_1 " --kernel elu", LINEAR_1, MLP_1, "--normalizer pnorm --pnorm 0.5",
  "--normalizer pnorm --pnorm 2", "--sim sigmoid --normalizer pnorm --pnorm 2",
  "--extra k", "--extra k --extra-dims 2", "--extra k --extra-value e1",
  "--extra k --sim sigmoid", "--extra k " SIGMOID_1, "--extra kv",
  "--extra zero", "--extra logit", "--sink-token", NULL};

/* For each of these flags: the states equal those of the token alone under the
 * first `inside` schemes, and differ from each other under the rest. */
static void state_rows(Page *p, const char *const *flags, int inside,
                       double bound) {
  for (; *flags; flags++) {
    double worst = 0, least = INFINITY;
    for (int x = 0; x < POS_ROWS; x++) {
      Toy *y = toy(p, REPEATED, "%s %s", SCHEMES[x], *flags);
      Toy *one = alone(toy(p, REPEATED, "%s %s", SCHEMES[x], *flags));
      if (x < inside)
        worst = larger(worst, toy_spread(y, 1, y->T, one));
      else
        least = smaller(least, toy_spread(y, 1, y->T, y));
    }
    if (inside)
      holds(p, *flags, worst, bound);
    control(p, inside ? "  where positions are added" : *flags, least, APART);
  }
}

static void check_states(Page *p) {
  state_rows(p, EQUAL_SUMS, INSIDE, STATES);
  state_rows(p, NEARLY_EQUAL_SUMS, INSIDE, STATES + EPS_IN_Z);
  state_rows(p, OTHER_SUMS, 0, 0);
}

/* ----------
 * 7.3  [E10] Equation 16 itself
 *
 *   u = h_t^(l-1) + Concat_h(LN(h_t^(l-1)) W_V^h) W_O    h_t^l = u + FFN(LN(u))
 *
 * No other token is in it, nor W_Q, nor W_K. So these are the states of the
 * token alone, T = 1, in a model where both matrices are 0. */

static Toy *without_scores(Toy *y) {
  for (int l = 0; l < y->m.c.layers; l++) {
    const Layer *w = &y->m.layer[l];
    zero(w->wq.w, tensor_count(&w->wq));
    zero(w->wk.w, tensor_count(&w->wk));
  }
  toy_forward(y);
  return y;
}

/* How far tokens 1 .. n are off equation 16, under the INSIDE schemes. */
static double off_equation16(Page *p, uint64_t seed, int n) {
  double worst = 0;
  for (int x = 0; x < INSIDE; x++) {
    Toy *y = toy(p, seed, SCHEMES[x]), *one = toy(p, seed, SCHEMES[x]);
    worst = larger(worst, toy_spread(y, 1, n, without_scores(alone(one))));
  }
  return worst;
}

static void check_rules(Page *p) {
  holds(p, "eq. 16: h_t^l from its own value, where P = 0",
        off_equation16(p, REPEATED, 12), STATES);
}

/* ----------
 * 7.4  Section 3.1: the first token's states are a function of x_1 alone
 *
 * Proof. Row 1 sees one key, so A_11 = e^z / e^z = 1, to the bit, since z - max
 * = 0 and e^0 = 1: its output is v_1, whatever z is. With Z = 1 A_11 is s
 * instead, and with an extra column it is less than 1: W_Q and W_K then matter.
 * A prefix lets row 1 see ahead. */

/* Runs the toy again with other tokens after the first, which may be x*. */
static Toy *other_tokens(Toy *y) {
  for (int t = 1 - y->m.c.sink_token; t < y->T; t++)
    y->ids[t] = (y->ids[t] + 1) % TOY_VOCAB;
  toy_forward(y);
  return y;
}

/* How far a change moves the states of the first token, or of x*. */
static double moved(Page *p, const char *flags, Toy *change(Toy *y)) {
  Toy *was = toy(p, RANDOM, flags), *is = toy(p, RANDOM, flags);
  int t = 1 - is->m.c.sink_token;
  return toy_spread(change(is), t, t, was);
}

static void check_first(Page *p) {
  static const char *const FLAGS[] = {
    "--pos none", "--pos relative", "--pos alibi", "--pos t5", "--pos rotary",
    "--place post", SIGMOID_1, "--extra k"};
  for (int n = 0; n < 8; n++) {
    double by_scores = moved(p, FLAGS[n], without_scores);
    holds(p, FLAGS[n], moved(p, FLAGS[n], other_tokens), 0);
    if (n < 6)
      holds(p, "  without W_Q and W_K", by_scores, 0);
    else
      control(p, "  without W_Q and W_K", by_scores, APART);
  }
  control(p, "--prefix 3", moved(p, "--prefix 3", other_tokens), APART);
  holds(p, "Table 4: x*", moved(p, "--sink-token", other_tokens), 0);
  holds(p, "h_1 = FFN(LN(o+h))+o+h, o = LN(h) W_V W_O",
        off_equation16(p, RANDOM, 1), STATES);
}

/* ----------
 * 7.5  [P1] Proposition 1, no positions: A_ti = 1/t, equation 18
 *
 * Proof. States are equal (7.2), so all queries are one q and all keys one k,
 * and every score of a row is the same z: A_ti = e^z / (t e^z) = 1/t.
 *
 * So alpha_k, the mean of A_tk over t = k .. T, is (H_T - H_(k-1))/(T-k+1) with
 * H_n = 1 + 1/2 + .. + 1/n: no sink at eps = 0.3 from T = 10 on. Row t sees
 * min(t,w) keys under a window, max(t,p) under a prefix, and A_ti is one over
 * that. */

static double harmonic(int n) {
  return n < 1 ? 0 : 1.0 / n + harmonic(n - 1);
}

static double off_even(Place s) {
  int w = s.y->m.c.window, p = s.y->m.c.prefix;
  double keys = fmax(p, w ? fmin(s.t, w) : s.t);
  return fabs(A_ti(s) * keys - 1);
}

static void check_prop1(Page *p) {
  Toy *y = toy(p, REPEATED, "--pos none --context 64");
  double H64 = harmonic(64), worst = 0;
  for (int k = 1; k <= y->T; k++) {
    double closed = (H64 - harmonic(k - 1)) / (65 - k);
    worst = larger(worst, fabs(alpha(y, k) / closed - 1));
  }
  holds(p, "eq. 18: A_ti = 1/t, every block, head, row and key",
        greatest(y, off_even), SCORES);
  holds(p, "prop. 1: alpha_k = (H_T - H_(k-1))/(T-k+1), all k", worst, SCORES);
  equals(p, "prop. 1: alpha_1 = H_64/64", alpha(y, 1), H64 / 64);
  y = toy(p, REPEATED, "--pos none --context 10");
  holds(p, "prop. 1: no sink: Sink_1 at T = 10", sink_share(y, 0.3), 0);
  y = toy(p, REPEATED, "--pos none --context 9");
  control(p, "  T = 9: uniform rows pass for sinks", sink_share(y, 0.3), 1);
  for (int w = 8; w <= 32; w *= 2) {
    y = toy(p, REPEATED, "--pos none --context 64 --window %d", w);
    holds(p, page_text(p, "Figure 6: window of %g: A_ti = 1/min(t,w)", w),
          greatest(y, off_even), SCORES);
    equals(p, "  alpha_1 = H_w/64", alpha(y, 1), harmonic(w) / 64);
  }
  for (int n = 2; n <= 10; n++) {
    y = toy(p, REPEATED, "--pos none --context 64 --prefix %d", n);
    holds(p, page_text(p, "Figure 5: prefix of %g: A_ti = 1/max(t,p)", n),
          greatest(y, off_even), SCORES);
    equals(p, "  alpha_1 = (1 + H_64 - H_p)/64", alpha(y, 1),
           (1 + H64 - harmonic(n)) / 64);
  }
}

/* ----------
 * 7.6  [P2] [E6] Proposition 2, relative positions: equation 20
 *
 *   A_ti = e^g(t-i) / sum_(n<t) e^g(n)
 *
 * Proof. States are equal, so a score is z + g(t-i) with one z: e^z cancels.
 *
 * The paper's conclusion, no sink, does not follow. It calls g "a monotonic
 * non-increasing function"; equation 6 and the authors' code let g grow, so no
 * score of a row exceeds the first token's. Only keys in its bucket tie with
 * it. The paper argues from the last bucket, which holds distances from 113 on
 * (128 as printed): none at T = 64. The two g agree up to T = 19: alpha_1 is
 * 0.665 at T = 16. At T = 64 it is 0.334 by their code's g, and 0.225, 3 times
 * even, by equation 6 as printed. What does hold:
 *
 *   g non-increasing    A_t1 is the least of its row: A_t1 <= 1/t, and so
 *                       alpha_1 <= H_T/T
 *   g constant from     in row t > d the first t - d keys tie: A_t1 <= 1/(t-d),
 *   d < T on            and so alpha_1 <= (d + H_(T-d))/T */

static double off_equation20(Place s) {
  double sum = 0;
  for (int n = 0; n < s.t; n++)
    sum += exp(position_bucket(n));
  return fabs(A_ti(s) * sum / exp(position_bucket(s.t - s.i)) - 1);
}

static void check_prop2(Page *p) {
  static const int FIRST_OF[] = {   /* the first distance of buckets 16 .. 31 */
    16, 19, 21, 24, 27, 31, 35, 40, 46, 52, 59, 67, 77, 87, 99, 113};
  static const double ALPHA[] = {   /* for T = 16, 32 .. 512 */
    0.664526988, 0.497329505, 0.333958039, 0.211015881, 0.112853332,
    0.058362967};
  Toy *y = toy(p, REPEATED, "--pos relative --context 64");
  int wrong = 0;
  for (int b = 0; b < 16; b++)
    wrong += position_bucket(FIRST_OF[b]) != 16 + b
             || position_bucket(FIRST_OF[b] - 1) != 15 + b;
  holds(p, "eq. 6: wrong buckets; 16 .. begin at 16, 19 .. 113", wrong, 0);
  holds(p, "eq. 20: A_ti = e^g(t-i) / sum e^g(n), every block",
        greatest(y, off_equation20), SCORES);
  refutes(p, "prop. 2, printed: g does not increase; g(0) = 0, g(63)",
          position_bucket(63), 1);
  y = toy(p, REPEATED, "--pos relative --context 16");   /* g as printed */
  refutes(p, "prop. 2, printed: no sink; alpha_1, T = 16", alpha(y, 1), 0.3);
  refutes(p, "  and so Sink_1 = 0; Sink_1", sink_share(y, 0.3), 1);
  for (int n = 0; n < 6; n++) {
    y = toy(p, REPEATED, "--pos relative --context %d", 16 << n);
    equals(p, page_text(p, "eq. 20: their alpha_1, T = %g", y->T),
           alpha(y, 1), ALPHA[n]);
  }
}

/* ----------
 * 7.7  [P3] [E7] Proposition 3, ALiBi: equation 22
 *
 *   A_ti = e^(-m(t-i)) (1 - e^-m)/(1 - e^-mt)
 *
 * Proof. This is equation 20 with g(n) = -m n, where m is equation 7's slope: a
 * geometric series. Weights grow by e^m from key to key, so A_t1 is less than
 * the mean 1/t of its row for t > 1, and alpha_1 < H_T/T. But the last columns
 * of a steep head pass 0.3. */

static double off_equation22(Place s) {
  double m = pow(2, -8.0 * (s.h + 1) / s.y->m.c.heads);
  double closed = exp(-m * (s.t - s.i)) * (1 - exp(-m)) / (1 - exp(-m * s.t));
  return fabs(A_ti(s) / closed - 1);
}

/* t A_t1 */
static double first_share(Place s) {
  return s.i == 1 && s.t > 1 ? s.t * A_ti(s) : 0;
}

static void check_prop3(Page *p) {
  static const double ALPHA[] = {
    0.028252339, 0.035957189, 0.044729287, 0.053973698,
    0.062023042, 0.067492413, 0.070657648, 0.072352696};
  Toy *y = toy(p, REPEATED, "--pos alibi --context 64 --heads 8 --head-dim 2");
  holds(p, "eq. 22: A_ti in closed form: all blocks, heads, rows",
        greatest(y, off_equation22), SCORES);
  holds(p, "prop. 3: A_t1 < 1/t: largest t A_t1, t > 1",
        greatest(y, first_share), 1);
  for (int n = 0; n < y->m.c.heads; n++)
    equals(p, page_text(p, "prop. 3: no sink: alpha_1 of head %g", n + 1),
           head_alpha(y, n, 1), ALPHA[n]);
  if (p->e->status)   /* no toy: it would have 0 heads to divide by */
    return;
  equals(p, "eq. 22: alpha_64 of head 1", head_alpha(y, 0, 64), 0.393469340);
  control(p, "  no sink, but on the last token", head_alpha(y, 0, 64), 0.3);
  control(p, "  and the one before it: alpha_63", head_alpha(y, 0, 63), 0.3);
}

/* ----------
 * 7.8  [P4] [E8] Proposition 4, rotary: equation 28
 *
 *   A_ti <= e^(2 xi) / (e^(2 xi) + t - 1)         xi = |q||k| / sqrt(d_h)
 *
 * Proof. States are equal, so all queries are one q and all keys one k but for
 * rotations, which keep lengths. By Cauchy-Schwarz every score lies within xi
 * of 0. So A_ti = 1/(1 + sum_(j != i) e^(z_j - z_i)), with t - 1 terms of at
 * least e^(-2 xi).
 *
 * The appendix drops sqrt(d_h) from equation 18 on; with it the bound holds and
 * falls to 0 as t grows, which is the proposition. But at T = 64 it keeps
 * alpha_1 <= 0.3 only up to xi = 1.0946; above, it allows a sink. Let one pair
 * of frequency w carry q = (a, 0), k = (-a, 0):
 *
 *   z(n) = -xi cos(w n)      largest at the far end where w T is about pi
 *
 * With w = 0.05 alpha_1 passes 0.3 at xi near 10. */

/* q_t and k_i [D] as the model left them, rotated; <q_t, k_i>; |q_t||k_i|. */
static const real *query(Place s) {
  const Config *c = &s.y->m.c;
  return s.y->a.layer[s.l].q + ((s.t - 1) * c->heads + s.h) * c->head_dim;
}
static const real *key(Place s) {
  const Config *c = &s.y->m.c;
  return s.y->a.layer[s.l].k + ((s.i - 1) * c->heads + s.h) * c->head_dim;
}
static double dot_of(Place s) {
  return vec_dot(s.y->m.c.head_dim, query(s), key(s));
}
static double lengths_of(Place s) {
  int D = s.y->m.c.head_dim;
  return length(D, query(s)) * length(D, key(s));
}

static double off_equation4(Place s) {
  return fabs(score(s) - dot_of(s) / sqrt(s.y->m.c.head_dim));
}

/* Equation 28's bound, in a form that cannot overflow; A_ti over it. */
static double equation28(double xi, int t) {
  return 1 / (1 + (t - 1) * exp(-2 * xi));
}
static double over_equation28(Place s) {
  double xi = lengths_of(s) / sqrt(s.y->m.c.head_dim);
  return s.t > 1 ? A_ti(s) / equation28(xi, s.t) : 0;
}

/* How far A_t1 is off equation 27 as printed, and <q, k> off equation 25. */
static double off_equation27(Place s) {
  double sum = 0;
  Place j = s;
  for (j.i = 1; j.i <= s.t; j.i++)
    sum += exp(dot_of(j));
  return s.i == 1 ? fabs(exp(dot_of(s)) / sum - A_ti(s)) : 0;
}
static double off_equation25(Place s) {
  double size = lengths_of(s);
  return fabs(size * cos(dot_of(s) / size) - dot_of(s));
}

/* Gives a toy z = -xi cos(w (t-i)), w the frequency of that pair. New W_Q and
 * W_K leave n = LN(h) as the toy's forward made it (7.3). W_Q is a n^T/|n|^2 in
 * the pair's column, a^2 = xi sqrt(D), else 0; W_K is -W_Q. */
static Toy *aimed(Toy *y, int pair, double xi) {
  int C = y->m.c.dim, D = y->m.c.head_dim;
  for (int l = 0; l < y->m.c.layers; l++) {
    const real *n = y->a.layer[l].n1;   /* row 1; all rows are equal */
    real *wq = y->m.layer[l].wq.w, *wk = y->m.layer[l].wk.w;
    for (int at = 0; at < C * D; at++) {
      double w = sqrt(xi * sqrt(D)) * n[at / D] / vec_dot(C, n, n);
      wq[at] = at % D == pair ? (real)w : 0;
      wk[at] = -wq[at];
    }
  }
  toy_forward(y);
  return y;
}

/* One head, whose pair 1 has the frequency 400^(-1/2) = 0.05. */
#define SLOW_PAIR "--heads 1 --head-dim 4 --rope-base 400 "

static void check_prop4(Page *p) {
  Toy *y = toy(p, REPEATED, "--pos rotary --context 64");
  holds(p, "eq. 4: the model's score is <q, k>/sqrt(d_h)",
        greatest(y, off_equation4), SCORES);
  holds(p, "eq. 28: xi = |q||k|/sqrt(d_h): A_ti / bound",
        greatest(y, over_equation28), 1 + SCORES);
  refutes(p, "eq. 27, printed: no sqrt(d_h); A_t1 is off by",
          greatest(y, off_equation27), APART);
  refutes(p, "eq. 25, printed: cos of a cosine; <q,k> is off by",
          greatest(y, off_equation25), APART);
  y = aimed(toy(p, REPEATED, SLOW_PAIR "--context 64"), 1, 10);
  control(p, "prop. 4: z(n) = -10 cos(0.05 n): alpha_1, T = 64", alpha(y, 1),
          0.3);
}

/* ----------
 * 7.9  [E43] [E44] The p-norm
 *
 * exp(z_j) / (sum exp(z)^p)^(1/p) = (exp(p z_j) / sum exp(p z))^(1/p) is
 * softmax(p z)_j^(1/p): a temperature 1/p, then a root that undoes it. Within a
 * row the proportions e^(z_i - z_j) stay softmax's; p changes its sum alone, to
 * between 1 and t^(1-1/p), the sum at t equal scores. */

static double off_equation44(Place s) {
  double p = s.y->m.c.pnorm, sum = 0;
  Place j = s;
  for (j.i = 1; j.i <= s.t; j.i++)
    sum += exp(p * score(j));
  return fabs(weight(s) / pow(exp(p * score(s)) / sum, 1 / p) - 1);
}

static void check_pnorm(Page *p) {
  static const double POWERS[] = {0.25, 0.5, 2, 4};
  for (int n = 0; n < 4; n++) {
    Toy *y = toy(p, RANDOM, "--normalizer pnorm --pnorm %g", POWERS[n]);
    holds(p, page_text(p, "eq. 44: softmax(p z)^(1/p), p = %g", POWERS[n]),
          greatest(y, off_equation44), SCORES);
  }
}

/* ----------
 * 7.10  Section 3.2: [M1] [M2] the metric
 *
 * alpha_1 is at least A_11/T = 1/T and at most 1: Sink_1 falls from 1 to 0
 * between these eps. That needs A_11 = 1, as under softmax; an extra column
 * takes a share of it, and the mlp kernel can make a row 0. */

static double row_sum(Place s) {
  double sum = 0;
  for (s.i = 1; s.i <= s.y->T; s.i++)
    sum += weight(s);
  return sum;
}
static double off_scale(Place s) {
  return fabs(row_sum(s) - s.y->m.c.scale);
}
static double off_metric(Place s) {
  return fabs(A_ti(s) * s.y->m.c.scale - weight(s));
}

static void check_metric(Page *p) {
  double low = 0, high = 0, sums = 0, metric = 0;
  for (int x = 0; x < INSIDE; x++) {
    Toy *y = toy(p, RANDOM, "--context 16 --scale 0.2 %s", SCHEMES[x]);
    low = larger(low, 1 - sink_share(y, 1.0 / 16));
    high = larger(high, sink_share(y, 1));
    sums = larger(sums, greatest(y, off_scale));
    metric = larger(metric, greatest(y, off_metric));
  }
  holds(p, "sec. 3.2: share of heads with alpha_1 <= 1/T", low, 0);
  holds(p, "sec. 3.2: share of heads with alpha_1 > 1", high, 0);
  holds(p, "eq. 29: scale 0.2: row sums off 0.2", sums, STATES);
  holds(p, "eq. 29: the metric, times 0.2, off the weights", metric, STATES);
}

/* ----------
 * 7.11  The checks by their names */

static const Check CHECKS[] = {
  {"states", "Equations 10 to 17: states of repeated tokens\n They stay equal "
   "where all rows of weights have the same sum, whatever else a block has.",
   check_states},
  {"rules", "Equation 16 itself\n Each state depends on the token's own value "
   "and the ffn alone, on no other token.", check_rules},
  {"first", "Section 3.1: the first token sees only itself\n Its row has one "
   "entry, 1: later tokens, W_Q and W_K do not alter its states.", check_first},
  {"prop1", "Proposition 1: no positions\n Equal states give equal scores, "
   "and t equal scores have weight 1/t each: no sink.", check_prop1},
  {"prop2", "Proposition 2: relative positions\n q k^T cancels, and the "
   "weights depend on the bias g(t-i) alone.", check_prop2},
  {"prop3", "Proposition 3: ALiBi\n A row is a geometric series that grows "
   "with i: the first token has the least weight.", check_prop3},
  {"prop4", "Proposition 4: rotary\n All scores of repeated tokens lie within "
   "xi = |q||k|/sqrt(d_h) of 0, which bounds every weight.", check_prop4},
  {"pnorm", "Equations 43 and 44: the p-norm\n p changes a row's sum, not its "
   "proportions: p < 1 shrinks the sum, p > 1 raises it.", check_pnorm},
  {"metric", "Section 3.2: the metric\n 1/T <= alpha_1 <= 1, since A_11 = 1; "
   "Sink_1 falls as eps rises; the scale changes neither.", check_metric},
  {0}};

static int page_total(const Page *p, const char *program) {
  const int *n = p->count;
  fprintf(p->out, "\n%d hold, %d controls fail as they must, %d refuted as "
          "printed, %d WRONG\n", n[LINE_HOLDS] + n[LINE_EQUALS],
          n[LINE_CONTROL], n[LINE_REFUTED], n[LINE_WRONG]);
  if (!n[LINE_WRONG])
    return 0;
  return fail(p->e, 1, "check: expected no WRONG lines, found %d. Try: %s "
              "check | grep -B1 WRONG", n[LINE_WRONG], program);
}

/* Runs checks whose names begin with `name`, all for NULL; "list" lists
 * them. */
static int checks_run(const Check *more, const char *program, const char *name,
                      FILE *out, Error *e) {
  const Check *const tables[] = {CHECKS, more};
  Page p = {.out = out, .e = e};
  int ran = 0, threads = workers();
  bool list = name && !strcmp(name, "list");
  set_workers(1);   /* toys are too small to share */
  for (int k = 0; k < 2; k++)
    for (const Check *c = tables[k]; c && c->name && !e->status; c++) {
      if (!list && name && strncmp(c->name, name, strlen(name)))
        continue;
      if (!ran++)
        fprintf(out, "The paper's statements on toys; rounding %.1e. Controls "
                "must fail\n", REAL_EPS);
      fprintf(out, "\n%-9s%s\n", c->name, c->about);
      if (!list)
        c->run(&p);
    }
  set_workers(threads);
  for (int n = 0; n < TOYS; n++)
    toy_free(&p.toy[n]);
  if (!ran)
    return fail(e, 2, "check %s: expected states, rules, first, prop1, prop2, "
                "prop3, prop4, pnorm, metric. Try: %s check list; for more, "
                "./paper check list or ./hf check MODEL", name, program);
  return e->status || list ? e->status : page_total(&p, program);
}

/* ==========
 * PART II   THE DATA */

/* The types of Parts II to IV, for companions too: skip to chapter 8. */

/* Zeroed memory; NULL and an error if there is none. */
void *grab(idx count, size_t size, Error *e);
void vec_log(idx n, real *y, const real *x);   /* y = log x, as vec_sqrt */
typedef struct Bytes {          /* a growing array */
  unsigned char *at;
  size_t size, room;
} Bytes;

/* A file being written. After writing_begin returns 0, writing_end must follow:
 * it gives the file its name, or if e holds an error leaves the old file. */
typedef struct Writing {
  FILE *f;
  const char *path;             /* the caller's */
  char beside[1100];            /* PATH.new */
} Writing;

#define HASH_START 0xCBF29CE484222325u   /* FNV's; hash64 begins: ^ seed */
uint64_t hash_add(uint64_t h, const void *bytes, size_t n);
uint64_t hash_end(uint64_t h);

int bytes_add(Bytes *b, const void *from, size_t n, Error *e);
int bytes_print(Bytes *b, Error *e, const char *format, ...);   /* <= 2047 bytes */
void bytes_free(Bytes *b);
/* Numbers of 1 to 8 bytes, little-endian. */
void number_put(unsigned char *p, uint64_t x, int bytes);
uint64_t number_at(const unsigned char *p, int bytes);

size_t utf8_length(const unsigned char *text, size_t n); /* its valid start */
int file_read(const char *path, Bytes *out, Error *e);   /* "-": stdin */
int file_write(const char *path, const void *at, size_t n, Error *e);
bool file_missing(const char *path);
bool file_is_stream(const char *path);
/* Appends path, or for a folder the paths of its plain files, sorted by bytes,
 * hidden ones left out; a 0 ends each. A folder without any is an error. */
int files_list(const char *path, Bytes *names, Error *e);
int writing_begin(Writing *w, const char *path, Error *e);
void writing_add(Writing *w, const void *at, size_t n);
int writing_end(Writing *w, Error *e);
double seconds(void);           /* of the wall clock: never in a result */
double cpu_seconds(void);       /* of all threads together */
int free_cores(int own);        /* for up to `own` threads; at least 1 */

void sinks_free(Sinks *s);

/* Follows the place where a NaN was met. */
#define NOT_FINITE                                                             \
    ": expected finite numbers, found NaN or infinity. Try: another copy"
idx acts_size(const Model *m, int B, int T, int what, Error *e);

/* ---------- Part II */

typedef struct Ids {            /* a growing array of token ids */
  int32_t *at;
  size_t size, room;
} Ids;

typedef struct TokenEntry {
  uint32_t start;               /* spelling in pool, to the next start */
  int32_t left, right;          /* of a merge: the pair it replaces */
} TokenEntry;

/* Never changed once made. */
typedef struct Tokenizer {
  int vocab;                    /* V */
  int end, bos, fix;            /* ids around a document, --fix-token; or -1 */
  bool blank;                   /* put a space before a text */
  TokenEntry *token;            /* [V + 1] */
  Bytes pool;                   /* their spellings, joined */
  int32_t *slot;                /* [slots] a pair's hash to its id; 0: empty */
  size_t slots;
  uint64_t hash;                /* of its file; checkpoints keep it */
  /* a published model's own (data/models/words.c), or NULL */
  int (*encode)(const struct Tokenizer *t, const unsigned char *text, size_t n,
                Ids *out, Error *e);
  void (*close)(struct Tokenizer *t);
  struct Published *published;
} Tokenizer;
typedef int TokenizerReader(const unsigned char *bytes, size_t n,
                            const char *name, Tokenizer *t, Error *e);

#define DOCUMENT_END "<|endoftext|>"   /* between the documents of a text */
#define SHIPPED_TEXT "data/text/stories.txt"

/* A training's tokens, and how far it has read them. */
typedef struct Data {
  Tokenizer tokenizer;
  int vocab;                    /* V: ids are below it, unchecked */
  int end, bos, fix;            /* ids that no text has; -1: none, not fixed */
  Ids train, held;              /* tokens to train on; held back */
  Ids starts;                   /* where the held documents start in held */
  int random[17];               /* places of random tokens (9.3), a 0 at last */
  bool alike;                   /* documents of one kind: the first will do */
  idx blocks, epoch;            /* the epoch of order [blocks] */
  int32_t *order;
  /* draw `number` of a seed for --first-tokens (9.3), or NULL */
  int (*draw)(const struct Data *d, uint64_t seed, uint64_t number);
  double *first, draws;         /* [V] weights; their sum */
  bool first_kept;              /* does a checkpoint keep them? */
  char drawn[800];              /* these in words */
  uint64_t seed, sample;        /* sample: blocks read so far */
  uint64_t source;              /* hash64 of the text */
  char name[PATH_ROOM], read[80];   /* read: how much is held */
  /* Of an endless text (data/text/teller.c), else NULL: n tokens of a block. */
  const int32_t *(*next)(struct Data *d, uint64_t number, int n, Error *e);
  uint64_t document;            /* the place in it, which a checkpoint keeps */
  size_t offset;
  void *drawn_from;             /* its state, */
  void (*close)(struct Data *d);   /* which this frees */
} Data;

/* What a command line says of the tokens and what is done to them. */
typedef struct Source {
  char text[PATH_ROOM], grammar[PATH_ROOM], tokens[PATH_ROOM];
  char tokenizer[PATH_ROOM];
  int end_token, vocab;         /* of --tokens; --vocab */
  char home[PATH_ROOM];         /* the program's folder */
  int fix_token;                /* place of <|fix|>, 0: none */
  char first_tokens[16];        /* what stands there instead */
  double *first_counts;         /* the training's Data.first, if kept */
  char first_own[16];           /* and its --first-tokens */
  char random_tokens[64];       /* "1,2": where they stand (section 5) */
  double data_tokens;           /* most training tokens, 0: all (Figure 5) */
  int bos;                      /* <|bos|> before every document */
  double valid;                 /* share of documents held back */
  uint64_t own;                 /* hash64 of a model's own text; 0: not known */
  char own_name[PATH_ROOM];
  int whole;                    /* no --valid: all of another text is held */
  int from_start;               /* as if Data.alike */
  int toy;                      /* a task of ./paper instead, 0: none */
  const struct Program *program;   /* opens it */
} Source;

/* ---------- Part III */

CHOICE(DECAY, DECAY_ALL, DECAY_MATRICES);
CHOICE(INPUT, INPUT_NATURAL, INPUT_RANDOM, INPUT_REPEAT);

typedef struct Train {
  int init, batch, accumulate;  /* INIT_*; B of a forward; forwards a step */
  int steps, schedule, optimizer, decay;  /* SCHEDULE_*, OPTIMIZER_*, DECAY_* */
  int warmup, seed, save_every, log_every;
  double lr, min_lr;            /* min_lr < 0: lr / 10 */
  double wd, clip;              /* clip 0: none */
  double beta1, beta2, adam_eps;
} Train;

#ifndef MORE_SETTINGS           /* a companion's own: all four, or none */
#define MORE_SETTINGS
#define MORE_PROGRESS
#define MORE_OPTIONS            /* rows of OPTIONS */
#define MORE_BELONGS            /* and of BELONGS */
#endif
#ifndef MORE_OPEN
#define MORE_OPEN(path, room, t, e) false   /* a file that is no checkpoint */
#define MORE_READS(names)       /* adds the files that these link to */
#endif

enum { WORDS_MOST = 64 };
/* Everything that a command line can say. */
typedef struct Settings {
  Config model;
  Train train;
  Source data;
  double eps;                   /* threshold of Sink */
  int eval_T, eval_n, eval_k, metric_rows, input, beyond;
  int threads, quiet, plain, all, resume, help, force;
  char out[PATH_ROOM], log[PATH_ROOM], csv[PATH_ROOM], json[PATH_ROOM];
  char report[PATH_ROOM], start[PATH_ROOM], ids[PATH_ROOM];
  const struct Program *program;   /* the one that runs */
  struct Films *watched;        /* for a companion's Program.watch */
  int argc;                     /* as given */
  char **argv;
  const char *verb;
  unsigned groups;              /* flags it takes */
  bool given[200];              /* which OPTIONS were given */
  const char *words[WORDS_MOST];   /* without the flags */
  int n_words;
  MORE_SETTINGS
} Settings;

#define SINK_VERSION "1.0"
void settings_default(Settings *s);
int settings_refuse_idle(const Settings *s, Error *e);   /* 2: an idle flag */
int outputs_ready(const Settings *s, const char *const *path, int n, Error *e);

typedef struct Trainer {
  Settings s;
  Model m;
  Acts a;
  Data data;
  real *m1, *m2, *scratch;      /* moments; room for Seams.step */
  double *first;                /* first_counts */
  int *ids;                     /* [2,B,T] */
  uint64_t tokenizer_hash;
  uint64_t start;               /* hash64 of the parameters of --start, or 0 */
  bool random_tokens;           /* a read model's training had some */
  long step;                    /* steps done */
  double loss, norm, lr;        /* of the last step */
  double loss_sum;              /* over the steps since the last look */
  long loss_steps;
} Trainer;

/* An evaluation's numbers: a row of its tables, with these columns. */
enum { SINK_1, SINK_STAR, ALPHA_1, TIMES_EVEN, ALPHA_STAR, ROW_MASS, NORM_RATIO,
       HELD_LOSS, ROW };

/* A training's progress line, and its last look at the sink. */
typedef struct Progress {
  const char *name;
  double start, shown;          /* seconds: it began, was last shown */
  long from;                    /* the step at `start` */
  double now[ROW], low;         /* the last look; its Sink_1 at eps 0.2 */
  long looked;                  /* its step */
  MORE_PROGRESS
} Progress;

/* What a training and an evaluation leave: a column of tables and page. */
typedef struct Outcome {
  const char *name;             /* "softmax" */
  Config c;
  Sinks s;                      /* s.n = 0: nothing was measured */
  Progress p;
  double even, loss;            /* alpha of even rows; nats a token */
  double row[ROW];              /* with that loss */
  idx tokens;                   /* over so many */
  char text[PATH_ROOM], read[80];   /* Data.name and .read */
  char ended[640];              /* why training ended early, or "" */
  struct HeadMap *map;          /* a companion's, or NULL */
} Outcome;

void sinks_row(const Sinks *s, const Config *c, double loss, double row[ROW]);
int evaluate(Sinks *out, Model *m, const Data *d, const Settings *s, int n,
             int T, Error *e);
enum { HELD_BLOCKS = 64 };   /* of context tokens, for a result's held loss */

/* ---------- Part IV */

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
  ALONE = 512,                  /* train, not run */
  EVAL = 1024,
  TOKENIZE = 2048,
  GENERATE = 4096,
  DUMP = 8192,
  STREAM = 1 << 14,             /* of companions */
  OWN = 1 << 15                 /* and up: of one program */
};

typedef struct Option {
  const char *flag;
  unsigned groups;
  char kind;             /* i int, d double, b switch, c choice, s string, */
  size_t field;          /* f a name of what is read; offset in Settings */
  const char *fallback;  /* the default as text; "": the first choice, none */
  double least, most;    /* bounds of a given number; room of a string */
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

bool has_word(const char *words, const char *word);   /* of "word word" */
const Option *option_find(const char *flag, unsigned groups);
/* NULL where the flag acts; else when it would, "with --window", say. */
const char *option_idle(const char *flag, const Settings *s);
int option_set(const Option *o, void *base, const char *text, bool bounded,
               Error *e);
void option_text(const Option *o, const void *base, char *text, size_t room);
int settings_flags(Settings *s, const char *flags, unsigned groups, Error *e);
/* Completes c, and refuses what does not go together: 0 or 2. */
static int config_resolve(Config *c, Error *e);

typedef struct Verb {
  const char *name, *words;     /* "eval", "MODEL .." */
  unsigned groups;
  const char *help;
  int (*run)(Settings *s, Error *e);
} Verb;

/* ./sink has a name and verbs. A companion in data/ has more, its own verbs
 * before SINK_VERBS; what it lacks is NULL. */
extern const Verb VERBS[];
typedef struct Program {
  const char *name;
  const Verb *verbs;            /* ended by a NULL name */
  const Check *checks;          /* more checks, ended by a NULL name */
  const Verb *other;            /* taken where the first word is no verb */
  /* before a training's first step and after each, where s->watched is set */
  int (*watch)(Trainer *t, const Progress *p, Error *e);
  /* makes a page of a run: its arms, and the verdict in words */
  int (*page)(const Outcome *o, const Settings *s, const char *verdict,
              FILE *out, Error *e);
  /* in place of text_open: --grammar, --tokens, --toy; --first-tokens (9.3) */
  int (*open)(Data *d, const Source *s, int T, Error *e);
  int (*first)(Data *d, const Source *s, int T, Error *e);
  TokenizerReader *read_tokenizer;   /* reads published ones, too */
  /* --start and --resume; what a log begins with (line NULL), and its lines */
  int (*start)(Trainer *t, const Settings *s, const char *flags, Error *e);
  int (*log)(Trainer *t, Progress *p, Bytes *log, const char *line, Error *e);
  /* --replace-position, --swap-position, of T tokens (Table 7): edits P, or
   * with `back` restores it; without a it only checks */
  int (*edit)(Model *m, Acts *a, const Settings *s, int T, bool back, Error *e);
} Program;

/* ==========
 * 8  Tokenizer   section 2
 *
 * A model reads token ids. Byte pair encoding (BPE) cuts a text into pieces,
 * and makes every byte of a piece an id. Then it merges neighbours by a list of
 * pairs, each with an id. Each step merges the pair that stands earliest in the
 * list; it stops when none of the piece's pairs is in it. The list is learnt
 * from a text (data/text/vocabulary.c), the most frequent pairs first, so a
 * common word ends as one id. The paper has GPT-NeoX's tokenizer, of some
 * 50,000 ids; this one is our own.
 *
 * A piece is of one kind, and as long as it can be:
 *   letters   one space or none, then bytes A-Z, a-z, and from 0x80 up (so
 *             all of UTF-8 beyond ASCII)
 *   digits    one space or none, then one to three bytes 0-9
 *   others    one space or none, then bytes that are no letter, digit or white
 *             space
 *   white     space, \t \n \v \f \r; if its last byte is a space and a piece
 *             of another kind follows, that space is the follower's
 * and has at most PIECE_MAX bytes, as a token has. "It's 1,024  km" is cut
 * It|'|s| 1|,|024| | km.
 *
 * No text encodes to ids 0 to 2, even where it spells their names: chapter 9
 * writes them.
 *
 * THE FILE, tokenizer.bin. Unsigned little-endian numbers; M merges:
 *   offset    bytes
 *   0         8      the letters SINKTOK1
 *   8         4      version, 1
 *   12        4      vocabulary size, 259 + M, at most 262144
 *   16        4      M
 *   20        8 M    in the list's order: left id, right id, 4 bytes each, of
 *                    tokens before it, from 3 on; no pair twice; no token
 *                    longer than 128 bytes
 *   20 + 8 M  8      hash64(0, .) of all bytes before it: also the tokenizer's
 *                    hash
 * A file of version 2 has a published model's tokenizer, which ./hf reads.
 */

enum {
  TOKEN_END = 0,       /* <|endoftext|>  stands after each document */
  TOKEN_BOS = 1,       /* <|bos|>        begins a document, with --bos */
  TOKEN_FIX = 2,       /* <|fix|>        an intervention writes it (9.3) */
  TOKEN_BYTE = 3,      /* 3 .. 258: the byte id - 3 */
  TOKEN_MERGE = 259,   /* 259 ..: what merge id - 259 makes */
  PIECE_MAX = 128, TOKENIZER_VOCAB_MAX = 1 << 18,
  TOKENIZER_OWN = 1,
  TOKENIZER_HEAD = 20, TOKENIZER_TAIL = 8
};
#define TOKENIZER_MAGIC "SINKTOK1"

/* ---- 8.1  Cutting text --- */

enum ByteKind { LETTER, DIGIT, WHITE, OTHER };

/* Not ctype.h's kinds, which depend on the locale. */
static enum ByteKind byte_kind(unsigned char b) {
  if ((b >= 'a' && b <= 'z') || (b >= 'A' && b <= 'Z') || b >= 0x80)
    return LETTER;
  if (b >= '0' && b <= '9')
    return DIGIT;
  return b == ' ' || (b >= '\t' && b <= '\r') ? WHITE : OTHER;
}

static size_t piece_length(const unsigned char *text, size_t n) {
  size_t end = n > 1 && text[0] == ' ' && byte_kind(text[1]) != WHITE;
  enum ByteKind kind = byte_kind(text[end]);
  size_t most = kind == DIGIT ? end + 3 : PIECE_MAX;
  while (end < n && end < most && byte_kind(text[end]) == kind)
    end++;
  bool follower = end < n && byte_kind(text[end]) != WHITE;
  return end - (kind == WHITE && follower && text[end - 1] == ' ');
}

/* ---- 8.2  Reading a tokenizer --- */

static const char HINT[] = "Try: ./paper help tokenize";

static int token_add(Tokenizer *t, const void *spelling, size_t n, Error *e) {
  if (bytes_add(&t->pool, spelling, n, e))
    return e->status;
  t->token[++t->vocab].start = (uint32_t)t->pool.size;
  return 0;
}

/* Begins any vocabulary: three ids that no text has, then the bytes. */
static int tokenizer_begin(Tokenizer *t, int vocab, Error *e) {
  static const char *const SPECIAL[TOKEN_BYTE] = {
    DOCUMENT_END, "<|bos|>", "<|fix|>"};
  *t = (Tokenizer){.end = TOKEN_END, .bos = TOKEN_BOS, .fix = TOKEN_FIX};
  t->slots = 1;
  while (t->slots < 2 * (size_t)vocab)
    t->slots *= 2;
  t->slot = grab((idx)t->slots, sizeof *t->slot, e);
  t->token = grab((idx)vocab + 1, sizeof *t->token, e);
  if (e->status)
    return e->status;
  for (int i = 0; i < TOKEN_BYTE; i++)
    token_add(t, SPECIAL[i], strlen(SPECIAL[i]), e);
  for (int b = 0; b < 256; b++)
    token_add(t, &(unsigned char){(unsigned char)b}, 1, e);
  return e->status;
}

static const unsigned char *tokenizer_token(const Tokenizer *t, int id,
                                            size_t *length) {
  *length = t->token[id + 1].start - t->token[id].start;
  return t->pool.at + t->token[id].start;
}

/* The slot of a pair. It holds the id that the pair becomes, or 0 if the pair
 * is no merge: no merge makes id 0. */
static int32_t *merge_slot(const Tokenizer *t, int32_t left, int32_t right) {
  uint64_t key = (uint64_t)left << 32 | (uint64_t)right;
  key *= 0x9E3779B97F4A7C15u;   /* 2^64 over the golden ratio spreads keys */
  for (size_t s = (size_t)(key >> 32);; s++) {
    int32_t *id = &t->slot[s & (t->slots - 1)];
    const TokenEntry *made = &t->token[*id];
    if (!*id || (made->left == left && made->right == right))
      return id;
  }
}

/* Adds the next merge and its token. Without a limit a token could be twice
 * as long as the one before. */
static int tokenizer_merge(Tokenizer *t, int32_t left, int32_t right,
                           const char *name, Error *e) {
  unsigned char both[2 * PIECE_MAX];
  size_t n = 0, more = 0;
  bool good = left >= TOKEN_BYTE && left < t->vocab && right >= TOKEN_BYTE
              && right < t->vocab && !*merge_slot(t, left, right);
  if (good) {
    const unsigned char *first = tokenizer_token(t, left, &n);
    const unsigned char *second = tokenizer_token(t, right, &more);
    memcpy(both, first, n);
    memcpy(both + n, second, more);
  }
  if (!good || n + more > PIECE_MAX)
    return fail(e, 1, "%s: expected merge %d to be a new pair of ids 3 to %d, "
                "in at most %d bytes, found %u and %u. %s", name,
                t->vocab - TOKEN_MERGE, t->vocab - 1, PIECE_MAX, (unsigned)left,
                (unsigned)right, HINT);
  TokenEntry *made = &t->token[t->vocab];
  made->left = left;
  made->right = right;
  *merge_slot(t, left, right) = t->vocab;
  return token_add(t, both, n + more, e);
}

static void tokenizer_free(Tokenizer *t) {
  if (t->close)
    t->close(t);
  bytes_free(&t->pool);
  free(t->token);
  free(t->slot);
  *t = (Tokenizer){0};
}

/* 0 if the file has `size` bytes and its checksum is right. */
static int tokenizer_sealed(const unsigned char *bytes, size_t n, size_t size,
                            const char *name, Error *e) {
  size_t body = n - TOKENIZER_TAIL;
  if (n == size && number_at(bytes + body, 8) == hash64(0, bytes, body))
    return 0;
  return fail(e, 1, "%s: expected %zu bytes with the right checksum, found "
              "%zu: damaged. Try: another copy", name, size, n);
}

/* After a failure t is empty. */
static int tokenizer_read(const unsigned char *bytes, size_t n,
                          const char *name, Tokenizer *t, Error *e) {
  *t = (Tokenizer){0};
  if (n < TOKENIZER_HEAD + TOKENIZER_TAIL || memcmp(bytes, TOKENIZER_MAGIC, 8))
    return fail(e, 1, "%s: expected a tokenizer, which begins with "
                TOKENIZER_MAGIC ". %s", name, HINT);
  size_t vocab = (size_t)number_at(bytes + 12, 4);
  size_t merges = (size_t)number_at(bytes + 16, 4);
  if (number_at(bytes + 8, 4) != TOKENIZER_OWN || vocab > TOKENIZER_VOCAB_MAX
      || vocab != TOKEN_MERGE + merges)
    return fail(e, 1, "%s: expected a tokenizer of ./sink, of at most %d "
                "tokens. Try: make hf, and ./hf", name, TOKENIZER_VOCAB_MAX);
  size_t size = TOKENIZER_HEAD + 8 * merges + TOKENIZER_TAIL;
  if (tokenizer_sealed(bytes, n, size, name, e))
    return e->status;
  tokenizer_begin(t, (int)vocab, e);
  const unsigned char *p = bytes + TOKENIZER_HEAD;
  for (size_t i = 0; i < merges && !e->status; i++, p += 8)
    tokenizer_merge(t, (int32_t)number_at(p, 4), (int32_t)number_at(p + 4, 4),
                    name, e);
  t->hash = number_at(p, 8);
  if (e->status)
    tokenizer_free(t);
  return e->status;
}

static int tokenizer_load(const char *path, const Program *program,
                          Tokenizer *out, Error *e) {
  TokenizerReader *read = program->read_tokenizer;
  Bytes file = {0};
  *out = (Tokenizer){0};
  if (!file_read(path, &file, e))
    (read ? read : tokenizer_read)(file.at, file.size, path, out, e);
  bytes_free(&file);
  return e->status;
}

/* ---- 8.3  Encoding --- */

static int ids_add(Ids *a, const int32_t *from, size_t n, Error *e) {
  size_t wide = sizeof *from;
  Bytes b = {(unsigned char *)a->at, a->size * wide, a->room * wide};
  if (!bytes_add(&b, from, n * wide, e))
    *a = (Ids){(int32_t *)(void *)b.at, b.size / wide, b.room / wide};
  return e->status;
}

static int id_add(Ids *a, int32_t id, Error *e) {
  return ids_add(a, &id, 1, e);
}

static void ids_free(Ids *a) {
  free(a->at);
  *a = (Ids){0};
}

/* The pair that stands first in the list makes the lowest id. */
static int piece_encode(const Tokenizer *t, const unsigned char *piece,
                        size_t n, Ids *out, Error *e) {
  int32_t id[PIECE_MAX];
  for (size_t i = 0; i < n; i++)
    id[i] = TOKEN_BYTE + piece[i];
  for (;;) {
    size_t at = 0;
    int32_t lowest = INT32_MAX;
    for (size_t i = 0; i + 1 < n; i++) {
      int32_t made = *merge_slot(t, id[i], id[i + 1]);
      if (!made || made >= lowest)
        continue;
      lowest = made;
      at = i;
    }
    if (lowest == INT32_MAX)
      return ids_add(out, id, n, e);
    id[at] = lowest;
    n--;
    memmove(id + at + 1, id + at + 2, (n - at - 1) * sizeof *id);
  }
}

static int tokenizer_encode(const Tokenizer *t, const unsigned char *text,
                            size_t n, Ids *out, Error *e) {
  if (t->encode)
    return t->encode(t, text, n, out, e);
  for (size_t at = 0, length; at < n && !e->status; at += length) {
    length = piece_length(text + at, n - at);
    piece_encode(t, text + at, length, out, e);
  }
  return e->status;
}

/* ==========
 * 9  Text, packing, interventions
 *
 * 9.1  Text   section 2
 *
 * A text is a sequence of documents: stories, chapters, articles. <|endoftext|>
 * separates them; white space at a document's start goes. --text names a file,
 * standard input (-) or a folder, whose files follow by name; the end of a file
 * ends a document. A text that is not UTF-8 or has a zero byte is refused.
 * Without --text sink reads the stories that come with it. */

/* HELD_SEED splits the text and draws random input (9.4). First tokens (9.3)
 * are drawn by it where the sink is measured, by LOSS_SEED in training and for
 * its valid loss. */
enum { HELD_SEED = 0x5EED, LOSS_SEED = 0xF125 };

/* Appends a text and a separator. A byte order mark becomes white space. */
static int text_read(const char *path, Bytes *out, Error *e) {
  size_t before = out->size;
  if (file_read(path, out, e) || bytes_add(out, "", 0, e))
    return e->status;
  unsigned char *text = out->at + before;
  size_t n = out->size - before;
  size_t good = strnlen((char *)text, utf8_length(text, n));
  if (good < n)
    return fail(e, 1, "%s: expected UTF-8 text, found 0x%02X after %zu bytes. "
                "Try: another file, or iconv -t utf-8 -f latin1, or -f utf-16",
                path, text[good], good);
  if (n > 2 && !memcmp(text, "\xEF\xBB\xBF", 3))
    memset(text, ' ', 3);
  return bytes_print(out, e, DOCUMENT_END);
}

static bool source_named(const Source *s) {
  return s->text[0] || s->grammar[0] || s->tokens[0];
}

static const char *source_name(const Source *s) {
  if (s->tokens[0])
    return s->tokens;
  if (s->text[0])
    return s->text;
  if (s->grammar[0])
    return s->grammar;
  return SHIPPED_TEXT;
}

/* The file `name`, or if there is none the one beside the program. */
static const char *located(char path[PATH_ROOM], const char *name,
                           const Source *s, Error *e) {
  if (!*s->home || !strcmp(name, "-") || !file_missing(name)
      || snprintf(path, PATH_ROOM, "%s%s", s->home, name) >= PATH_ROOM)
    return name;
  if (!file_missing(path))
    return path;
  fail(e, 1, "%s: not found here or beside the program, in %s. Try: its full "
       "path", name, s->home);
  return name;
}

/* Bytes before the first <|endoftext|>, or n. */
static size_t document_length(const unsigned char *text, size_t n) {
  size_t mark = strlen(DOCUMENT_END);
  for (size_t at = 0; at + mark <= n; at++)
    if (text[at] == DOCUMENT_END[0] && !memcmp(text + at, DOCUMENT_END, mark))
      return at;
  return n;
}

typedef struct Document {
  size_t from, to;   /* its bytes, in all that was read */
} Document;

/* Reads all that --text names; lists its documents but for blank ones. */
static void source_read(const Source *s, Bytes *all, Bytes *documents,
                        Error *e) {
  Bytes names = {0};
  char room[PATH_ROOM];
  const char *name = s->text[0] ? s->text : located(room, SHIPPED_TEXT, s, e);
  files_list(name, &names, e);
  for (size_t at = 0; at < names.size && !e->status; at += strlen(name) + 1) {
    name = (const char *)names.at + at;
    text_read(name, all, e);
  }
  for (size_t at = 0, end; at < all->size; at = end + strlen(DOCUMENT_END)) {
    end = at + document_length(all->at + at, all->size - at);
    while (at < end && byte_kind(all->at[at]) == WHITE)
      at++;
    if (at < end)
      bytes_add(documents, &(Document){at, end}, sizeof(Document), e);
  }
  bytes_free(&names);
}

/* ----------
 * 9.2  Packing   [S2] [FIG1] section 2
 *
 * A document becomes ids, then <|endoftext|>; with --bos, <|bos|> comes first.
 * All are joined and cut into blocks, the paper's chunks, of T+1 tokens: T
 * inputs and, one later, T targets. What is left after the last whole block is
 * not read. A block may start inside a document, as in the paper, and attention
 * crosses documents. An epoch reads every block once, in a new random order.
 *
 * Documents whose number hashes below --valid, whatever the seed, are held back
 * from training, to measure a loss on. If that leaves one side empty, the end
 * of the last document is held back instead, --valid of its length. An
 * evaluation reads what was held back of the model's own text, and all of any
 * other, unless --valid is given. */

static uint64_t hash_number(uint64_t seed, uint64_t n) {
  unsigned char bytes[8];
  number_put(bytes, n, 8);
  return hash64(seed, bytes, 8);
}

static bool document_held(double share, uint64_t number) {
  Rng draw = {hash_number(HELD_SEED, number)};
  return rng_uniform(&draw) < share;
}

/* Is it the model's own text, by hash or, if it has changed, by name? */
static bool data_own(const Data *d, const Source *s) {
  return s->own && (d->source == s->own || !strcmp(d->name, s->own_name));
}

/* Fills d->read: how much is held; in an evaluation (T = 0) also whose it
 * is. */
static void data_describe(Data *d, const Source *s, double share, bool held,
                          int T) {
  const char *whose = "; not the model's own";
  char much[32] = "held-out text";
  if (!held)
    snprintf(much, sizeof much, share < 1 ? "--valid %g" : "all of it", share);
  if (T || d->source == s->own)
    whose = "";
  else if (!s->own)
    whose = "; the model's own is not known";
  else if (data_own(d, s))
    whose = "; changed since the training";
  snprintf(d->read, sizeof d->read, "%s%s", much, whose);
}

static int data_encode(Data *d, const Source *s, const void *from, size_t n,
                       Ids *out, Error *e) {
  if (out == &d->held)
    id_add(&d->starts, (int32_t)out->size, e);
  if (s->bos)
    id_add(out, d->bos, e);
  tokenizer_encode(&d->tokenizer, from, n, out, e);
  return id_add(out, d->end, e);
}

/* Where to cut the last document: a text at the first white space in the
 * earlier half of what would be held, or at that half's end if it has none
 * (DNA, Chinese), but not inside a character of UTF-8. */
static size_t document_cut(const Bytes *all, Document last, double share,
                           size_t unit) {
  double n = (double)((last.to - last.from) / unit);
  size_t at = last.to - unit * (size_t)(n * share), half = (at + last.to) / 2;
  while (unit == 1 && at < half && byte_kind(all->at[at]) != WHITE)
    at++;
  while (unit == 1 && at < last.to && (all->at[at] & 0xC0) == 0x80)
    at++;
  return at;
}

/* Splits documents, of a text or of ids (data/text/shards.c): from .. mid is to
 * train on, mid .. to is held; an evaluation (T = 0) has held ones alone. */
static void data_share(Data *d, const Source *s, int T, const Bytes *all,
                       const Bytes *documents, Error *e) {
  const Document *of = (const Document *)(const void *)documents->at;
  size_t unit = s->tokens[0] ? sizeof *d->held.at : 1;
  size_t n = documents->size / sizeof *of, held = 0;
  double share = s->valid;
  if (s->whole && !data_own(d, s))
    share = 0;
  if (!T && share == 0)
    share = 1;
  if (!n)
    fail(e, 1, "%s: expected documents, found none. Try: another file",
         d->name);
  for (size_t i = 0; i < n; i++)
    held += document_held(share, i);
  bool cut = share > 0 && share < 1 && (!held || held == n);
  for (size_t i = 0; i < n && !e->status; i++) {
    size_t from = of[i].from, to = of[i].to, mid = to;
    if (!cut && document_held(share, i))
      mid = from;
    if (cut && i + 1 == n)
      mid = document_cut(all, of[i], share, unit);
    bool room = s->data_tokens == 0 || (double)d->train.size < s->data_tokens;
    if (T && room && from < mid)
      data_encode(d, s, all->at + from, mid - from, &d->train, e);
    if (mid < to)
      data_encode(d, s, all->at + mid, to - mid, &d->held, e);
  }
  data_describe(d, s, share, T || (s->whole && share < 1), T);
  if (d->held.size > INT32_MAX)   /* d->starts has 32 bits */
    fail(e, 1, "%s: expected fewer than 2^31 held-out tokens, found %zu. Try: "
         "a smaller --valid", d->name, d->held.size);
}

static int data_open_tokenizer(Data *d, const Source *s, Error *e) {
  Tokenizer *t = &d->tokenizer;
  char path[PATH_ROOM];
  if (tokenizer_load(located(path, s->tokenizer, s, e), s->program, t, e))
    return e->status;
  d->vocab = t->vocab;
  d->end = t->end;
  d->bos = t->bos;
  d->fix = t->fix;
  return 0;
}

static int text_open(Data *d, const Source *s, int T, Error *e) {
  Bytes all = {0}, documents = {0};
  if (data_open_tokenizer(d, s, e))
    return e->status;
  source_read(s, &all, &documents, e);
  d->source = hash64(0, all.at, all.size);
  data_share(d, s, T, &all, &documents, e);
  bytes_free(&all);
  bytes_free(&documents);
  return e->status;
}

static void data_close(Data *d) {
  if (d->close)
    d->close(d);
  tokenizer_free(&d->tokenizer);
  ids_free(&d->train);
  ids_free(&d->held);
  ids_free(&d->starts);
  free(d->order);
  free(d->first);
  *d = (Data){0};
}

/* Reads "1,2" into positions [room + 1], a 0 after them; else returns 2. */
static int positions_parse(const char *flag, const char *text, int *positions,
                           int room, Error *e) {
  int n = 0;
  for (const char *at = text; *at;) {
    char *end;
    long p = strtol(at, &end, 10);
    if (end == at || p < 1 || p > 1 << 24 || n == room
        || (*end && (*end != ',' || !end[1])))
      return fail(e, 2, "--%s %s: expected at most %d whole numbers from 1 to "
                  "16777216, such as 1,2. Try: --%s 1", flag, text, room, flag);
    positions[n++] = (int)p;
    at = end + (*end == ',');
  }
  positions[n] = 0;
  return 0;
}

/* `seed` orders the data: d->seed is seed + 1, or 0 where that is HELD_SEED,
 * from which a grammar's held documents are drawn. T = 0: an evaluation. After
 * a failure d is empty. */
static int data_open(Data *d, const Source *s, int seed, int T, Error *e) {
  const Program *program = s->program;
  *d = (Data){.epoch = -1};
  d->seed = seed == HELD_SEED - 1 ? 0 : (uint64_t)seed + 1;
  strcpy(d->name, source_name(s));
  positions_parse("random-tokens", s->random_tokens, d->random, 16, e);
  (program->open ? program->open : text_open)(d, s, T, e);
  d->alike |= s->from_start;
  if (s->data_tokens > 0 && (double)d->train.size > s->data_tokens)
    d->train.size = (size_t)s->data_tokens;
  d->blocks = (idx)d->train.size / (T + 1);
  if (T && !d->blocks && !d->next)
    fail(e, 1, "%s: expected at least %d tokens to train on, found %zu. Try: "
         "more text or --data-tokens, or a smaller --context", d->name, T + 1,
         d->train.size);
  d->order = grab(d->blocks, sizeof(int32_t), e);
  if (e->status || (program->first && program->first(d, s, T, e)))
    data_close(d);
  return e->status;
}

/* By Fisher and Yates. Seed and epoch give the order: no file keeps it. */
static void data_shuffle(Data *d, idx epoch) {
  Rng rng = {hash_number(d->seed, (uint64_t)epoch)};
  for (idx i = 0; i < d->blocks; i++)
    d->order[i] = (int32_t)i;
  for (idx i = d->blocks - 1; i > 0; i--) {
    idx j = (idx)rng_below(&rng, (uint64_t)i + 1);
    int32_t swap = d->order[i];
    d->order[i] = d->order[j];
    d->order[j] = swap;
  }
  d->epoch = epoch;
}

/* [S2] The next block of T+1 tokens, NULL after a failure. Its number decides
 * its random tokens: the same in every epoch, as in the authors' code. */
static const int32_t *data_block(Data *d, int T, uint64_t *number, Error *e) {
  *number = d->sample++;
  if (d->next)
    return d->next(d, *number, T + 1, e);
  uint64_t blocks = (uint64_t)d->blocks;
  idx epoch = (idx)(*number / blocks);
  if (epoch != d->epoch)
    data_shuffle(d, epoch);
  *number = (uint64_t)d->order[*number % blocks];
  return d->train.at + *number * ((uint64_t)T + 1);
}

/* ----------
 * 9.3  Tokens overwritten   [T10] [FIG5] section 5
 *
 * They overwrite, never insert. Token p is also row p-1's target, and scored.
 *   --fix-token p        <|fix|>, an id that text never has
 *   --random-tokens 1,2  ids drawn evenly from the vocabulary, once for a block
 *   --first-tokens ..    at p, else 1, and in the places of random tokens: ids
 *                        drawn once for a block by data/text/first.c
 * Random tokens are written last. A look has them only with
 * --first-tokens; eval never has them. */

static void block_split(const int32_t *block, int T, int *ids, int *targets) {
  memcpy(ids, block, (size_t)T * sizeof *ids);
  memcpy(targets, block + 1, (size_t)T * sizeof *targets);
}

static void overwrite(int *ids, int *targets, int T, int p, int id) {
  if (p >= 1 && p <= T)
    ids[p - 1] = id;
  if (targets && p >= 2 && p <= T + 1)
    targets[p - 2] = id;
}

/* The fixed token's position, 0 for none. */
static int fixed_at(const Source *s) {
  if (!strcmp(s->first_tokens, "natural"))
    return 0;
  return s->fix_token ? s->fix_token : s->first_tokens[0] != 0;
}

/* What stands there: <|fix|>, or draw `number` of a seed by --first-tokens. */
static int fixed_id(const Data *d, uint64_t seed, uint64_t number) {
  return d->draw ? d->draw(d, seed, number) : d->fix;
}

/* A block [T+1] as a forward reads it: ids, targets [T]. A block of NULL leaves
 * the ids that are there, and targets may be NULL. With HELD_SEED the sink is
 * being measured. */
static void block_feed(const Data *d, const Source *s, uint64_t seed,
                       uint64_t number, const int32_t *block, int T, int *ids,
                       int *targets) {
  const int *at = d->random;
  Rng rng = {hash_number(1024, number)};   /* the authors' script's seed */
  if (block)
    block_split(block, T, ids, targets);
  overwrite(ids, targets, T, fixed_at(s), fixed_id(d, seed, number));
  for (int i = 0; at[i] && (d->draw || seed != HELD_SEED); i++) {
    int id = d->draw ? d->draw(d, seed + (uint64_t)at[i], number)
                     : (int)rng_below(&rng, (uint64_t)d->vocab);
    overwrite(ids, targets, T, at[i], id);
  }
}

/* B blocks: ids, targets [B,T]. */
static int data_batch(Data *d, const Source *s, int B, int T, int *ids,
                      int *targets, Error *e) {
  for (int b = 0; b < B && !e->status; b++) {
    uint64_t number;
    const int32_t *block = data_block(d, T, &number, e);
    if (block)
      block_feed(d, s, LOSS_SEED, number, block, T, ids + (idx)b * T,
                 targets + (idx)b * T);
  }
  return e->status;
}

/* ----------
 * 9.4  What an evaluation feeds   [S3.3] [T1] section 3.3
 *
 *   natural   the first T tokens of held documents, as in the paper; then
 *             further stretches
 *   random    T tokens drawn evenly from the vocabulary
 *   repeat    one such token, T times
 *
 * A model's fixed token is written here too; `repeat` is Table 1's only without
 * it (--fix-token 0). --first-tokens draws the token that repeat repeats.
 * Natural input takes the first n documents of more than T ids, <|endoftext|>
 * counted. If they are fewer, further stretches are spread over them, since
 * neighbours may be of one chapter; but not where documents are alike, as for
 * ./paper's results. */

static const char *const INPUTS[INPUT_ROWS] = {"natural", "random", "repeat"};
_Static_assert(INPUT_ROWS == 3, "a new input: its word, data_probe, drawn.c");

static int probe_natural(const Data *d, const Source *s, int n, int T,
                         int *ids, int *targets, int *starts) {
  int documents = (int)d->starts.size, size = (int)d->held.size;
  int apart = d->alike ? 1 : (size / T - documents) / n;   /* in stretches */
  idx stride = (idx)(apart > 1 ? apart : 1) * T;
  int got = 0, before = -1;
  /* a round takes the stretch at `skip` of each document that has it; the next
   * lies a stride further on; a round that finds none is the last */
  for (idx skip = 0; before < got && got < n; skip += stride) {
    before = got;
    for (int i = 0; i < documents && got < n; i++) {
      idx from = d->starts.at[i] + skip;
      idx end = i + 1 < documents ? d->starts.at[i + 1] : size;
      if (from + T + 1 > end)
        continue;
      block_feed(d, s, HELD_SEED, (uint64_t)got, d->held.at + from, T,
                 ids + got * T, targets + got * T);
      got++;
    }
    if (skip == 0)
      *starts = got;
  }
  return got;
}

/* Fills ids [n,T], and targets of natural input. Returns how many sequences
 * there are, *starts of them at a document's start. */
static int data_probe(const Data *d, const Source *s, int input, int n, int T,
                      int *ids, int *targets, int *starts) {
  Rng rng = {hash64(HELD_SEED, "probe", 5)};
  bool repeat = input == INPUT_REPEAT, first = repeat && d->draw;
  *starts = 0;
  if (input == INPUT_NATURAL)
    return probe_natural(d, s, n, T, ids, targets, starts);
  for (int i = 0; i < n; i++, ids += T) {
    int once = first ? d->draw(d, HELD_SEED, (uint64_t)i)
                     : (int)rng_below(&rng, (uint64_t)d->vocab);
    for (int t = 0; t < T; t++) {
      if (!repeat)
        once = (int)rng_below(&rng, (uint64_t)d->vocab);
      ids[t] = once;
    }
    if (!first)
      block_feed(d, s, HELD_SEED, (uint64_t)i, NULL, T, ids, NULL);
  }
  return n;
}

/* Fills up to n blocks; returns how many. Block i draws its tokens (9.3) as
 * number ~i, which no block of the training has. */
static int data_held(const Data *d, const Source *s, int n, int T, int *ids,
                     int *targets) {
  idx all = (idx)d->held.size / (T + 1), blocks = at_most(all, n);
  for (idx i = 0; i < blocks; i++) {
    idx at = d->alike ? i : i * all / blocks;
    block_feed(d, s, LOSS_SEED, ~(uint64_t)i, d->held.at + at * (T + 1), T,
               ids + i * T, targets + i * T);
  }
  return (int)blocks;
}

/* ==========
 * PART III   THE EXPERIMENTS */

/* ==========
 * 10  Training and checkpoints   section 4
 *
 * 10.1  A run begins
 *
 * A Trainer is a run: its settings, model, moments and place in the text. It
 * starts from the seed. With ./paper it can resume from --out's file, to end in
 * the bytes of a run that never stopped (data/paper/resume.c), or start from
 * another model's parameters, to fine-tune it ([FIG30], appendix D;
 * data/paper/drawn.c). */

static void moments_create(Trainer *t, Error *e) {
  t->m1 = grab(t->m.count, sizeof(real), e);
  t->m2 = grab(t->m.count, sizeof(real), e);
}

/* A model and moments that were read stay; else the model is drawn from the
 * seed. */
static int trainer_ready(Trainer *t, Error *e) {
  Train *p = &t->s.train;
  Source *d = &t->s.data;
  Config *c = &t->s.model;
  Model *m = &t->m;
  d->vocab = c->vocab;
  if (data_open(&t->data, d, p->seed, c->context, e))
    return e->status;
  int known = t->data.vocab;
  if (p->min_lr < 0)
    p->min_lr = p->lr / 10;
  t->tokenizer_hash = t->data.tokenizer.hash;
  d->first_counts = t->data.first_kept ? t->data.first : NULL;
  strcpy(d->first_own, d->first_tokens);
  if (!c->vocab)
    c->vocab = known;
  if (!m->params && c->vocab < known)
    return fail(e, 2, "--vocab %d: %s has %d tokens. Try: another --tokenizer, "
                "or --vocab %d", c->vocab, d->tokenizer, known, known);
  if (config_resolve(c, e))
    return e->status;
  if (!m->params && !model_create(m, c, true, e))
    model_init(m, p->init, (uint64_t)p->seed);
  m->plain = t->s.plain;
  if (m->seams.step && p->optimizer > OPTIMIZER_SGD)
    t->scratch = grab(m->seams.step_room(m, NULL), sizeof(real), e);
  if (!t->m1)
    moments_create(t, e);
  t->ids = grab(2 * (idx)p->batch * c->context, sizeof(int), e);
  return acts_create(&t->a, m, p->batch, c->context, ACTS_ALL, e);
}

static void trainer_free(Trainer *t) {
  model_free(&t->m);
  acts_free(&t->a);
  data_close(&t->data);
  free(t->m1);
  free(t->m2);
  free(t->ids);
  free(t->first);
  free(t->scratch);
  *t = (Trainer){0};
}

static int trainer_create(Trainer *t, const Settings *s, Error *e) {
  *t = (Trainer){.s = *s};
  if (trainer_ready(t, e))
    trainer_free(t);
  return e->status;
}

static int tokenizer_same(const Trainer *t, const char *path, Error *e) {
  if (t->tokenizer_hash == t->data.tokenizer.hash)
    return 0;
  return fail(e, 1, "%s: expected the tokenizer it was trained with, found "
              "another in %s. Try: %s", path, t->s.data.tokenizer,
              t->tokenizer_hash ? "--tokenizer FILE"
              : "eval --ids FILE, as it had no tokenizer");
}

/* Warns, whatever the size, that small models have formed no sink under rotary
 * positions on a text's own first tokens. */
static void warn_no_sink(const Trainer *t) {
  const Config *c = &t->m.c;
  bool bare = c->sim == SIM_EXP && !c->extra && !c->sink_token;
  if (bare && c->pos == POS_ROTARY && fixed_at(&t->s.data) != 1)
    fprintf(stderr, "%s: small models form no sink on a text's own first "
            "tokens; --fix-token 1 gives one\n", t->s.program->name);
}

/* `flags` of a row come on top of s. After a failure t holds no memory. */
static int trainer_begin(Trainer *t, const Settings *s, const char *flags,
                         Error *e) {
  Settings now = *s;
  *t = (Trainer){0};
  if (s->resume || s->start[0])
    return s->program->start(t, s, flags, e);
  if (!settings_refuse_idle(s, e) && !settings_flags(&now, flags, MODEL, e)
      && !trainer_create(t, &now, e) && !s->quiet)
    warn_no_sink(t);
  return e->status;
}

/* ----------
 * 10.2  A step   [E1]
 *
 * A step draws B blocks of T+1 tokens; a forward and a backward add the
 * gradient of their mean loss to every dw. --accumulate N does this N times,
 * each for 1/N of the loss. Then the gradient is shrunk to the norm that --clip
 * allows, and the optimiser moves every parameter at the schedule's rate. A NaN
 * or infinity ends the step before any parameter moves. */

static int forward_fault(Model *m, const int *ids, int B, int T, Error *e);

/* Turns an error about a NaN or infinity into one that names the step after
 * which training diverged, and sets t->loss to NAN. Any other stays. */
static int step_fault(Trainer *t, Error *e) {
  const Error why = *e;
  const char *end = strstr(why.text, NOT_FINITE);
  if (!end)
    return e->status;
  t->loss = NAN;
  *e = (Error){0};
  return fail(e, 1, "step %ld: %.*s: NaN or infinity: this variant diverges "
              "here. Try: a smaller --lr", t->step, (int)(end - why.text),
              why.text);
}

/* The optimiser's step on `shrink` <= 1, the clip, times the gradients. */
static void trainer_update(Trainer *t, double shrink) {
  const Train *p = &t->s.train;
  t->lr = schedule_lr(p->schedule, p->lr, p->min_lr, p->warmup, p->steps,
                      (int)t->step);
  Step s = {.optimizer = p->optimizer, .lr = t->lr, .beta1 = p->beta1,
            .beta2 = p->beta2, .eps = p->adam_eps, .t = t->step + 1,
            .shrink = shrink};
  for (int i = 0; i < t->m.n_tensors; i++) {
    Tensor *x = t->m.all[i];
    idx at = x->w - t->m.params;
    s.wd = p->decay == DECAY_ALL || x->matrix ? p->wd : 0;
    if (t->scratch && t->m.seams.step_room(&t->m, x))
      t->m.seams.step(&s, x, t->m1 + at, t->scratch);
    else
      optimizer_step(&s, tensor_count(x), x->w, x->d, t->m1 + at, t->m2 + at);
  }
}

static int trainer_finish(Trainer *t, double loss, Error *e) {
  double clip = t->s.train.clip, shrink = 1;
  const Tensor *bad;
  t->norm = gradient_norm(&t->m, &bad);
  if (bad)
    return fail(e, 1, "the gradient of %s" NOT_FINITE, bad->name);
  if (clip > 0 && t->norm > clip)
    shrink = clip / (t->norm + 1e-6);   /* PyTorch's 1e-6 */
  trainer_update(t, shrink);
  t->step++;
  t->loss = loss;
  t->loss_steps++;
  t->loss_sum += loss;
  return 0;
}

/* After a failure the place in the text is the last step's, as a checkpoint
 * must have it; so is the loss, but after a divergence it is NAN. */
static int trainer_step(Trainer *t, Error *e) {
  const Data was = t->data;
  double loss = 0;
  int B = t->s.train.batch, T = t->s.model.context, k = t->s.train.accumulate;
  int *ids = t->ids, *targets = ids + (idx)B * T;   /* [B,T] each */
  model_zero_grads(&t->m);
  for (int i = 0;
       i < k && !data_batch(&t->data, &t->s.data, B, T, ids, targets, e); i++) {
    model_forward(&t->m, &t->a, ids, B, T);
    loss += model_loss(&t->m, &t->a, targets, B, T, 1.0 / k) / k;
    if (isfinite(loss))
      model_backward(&t->m, &t->a, ids, B, T);
    else
      forward_fault(&t->m, ids, B, T, e);
  }
  if (!e->status && !trainer_finish(t, loss, e))
    return 0;
  t->data.sample = was.sample;
  t->data.document = was.document;
  t->data.offset = was.offset;
  return step_fault(t, e);
}

/* ----------
 * 10.3  A training to its end: looks at the sink, the log, checkpoints
 * section 4, [FIG4]
 *
 * A look is a measurement (11.0) on LOOK_N sequences. */

/* The one mutable global. Ctrl-C or SIGTERM ends a training after the current
 * step, and saves; a second one ends the program at once, every file whole. */
static volatile sig_atomic_t interrupted;
static void on_interrupt(int number) {
  interrupted = number;
  signal(SIGINT, SIG_DFL);
  signal(SIGTERM, SIG_DFL);
}
static void stop_gently(void) {
  signal(SIGINT, on_interrupt);
  signal(SIGTERM, on_interrupt);
}

/* A line every ten seconds, and one at the end. */
static void progress_show(const Trainer *t, Progress *p) {
  double now = seconds(), left = t->s.train.steps - (double)t->step;
  double each = (now - p->start) / fmax((double)(t->step - p->from), 1);
  if (t->s.quiet || (left > 0 && now - p->shown < 10))
    return;
  fprintf(stderr, "%-8s %5ld/%d  loss %.3f  Sink_1 %4.1f%%  alpha_1 %.3f "
          "(step %ld)  %.0f s left\n", p->name, t->step, t->s.train.steps,
          t->loss, 100 * p->now[SINK_1], p->now[ALPHA_1], p->looked,
          each * left);
  p->shown = now;
}

enum { LOOK_N = 16 };

int look_at_sink(Trainer *t, Progress *p, Error *e) {
  int T = (int)at_most(t->s.eval_T, t->s.model.context);
  int first = config_column_first(&t->m.c);
  Sinks seen;
  if (evaluate(&seen, &t->m, &t->data, &t->s, LOOK_N, T, e))
    return step_fault(t, e);
  sinks_row(&seen, &t->m.c, 0, p->now);
  if (!first)   /* no * or x* */
    p->now[ALPHA_STAR] = p->now[SINK_STAR] = 0;
  p->low = sinks_sink(&seen, first, 1);   /* eps 0.2 */
  p->looked = t->step;
  sinks_free(&seen);
  return 0;
}

/* Mean cross-entropy over up to n held blocks of context tokens; NAN: none. */
static int held_loss(double *loss, Trainer *t, int n, Error *e) {
  enum { BATCH = 16 };
  Model *m = &t->m;
  Acts a;
  int T = m->c.context, got = 0;
  int *ids = grab(2 * (idx)n * T, sizeof(int), e);
  double sum = 0;
  if (!acts_create(&a, m, BATCH, T, ACTS_ONE, e))
    got = data_held(&t->data, &t->s.data, n, T, ids, ids + (idx)n * T);
  for (int b = 0; b < got && !e->status; b += BATCH) {
    int B = (int)at_most(got - b, BATCH), *at = ids + (idx)b * T;
    model_forward(m, &a, at, B, T);
    sum += model_loss(m, &a, at + (idx)n * T, B, T, 0) * B;
    if (!isfinite(sum))
      forward_fault(m, at, B, T, e);
  }
  acts_free(&a);
  free(ids);
  *loss = got ? sum / got : NAN;
  return step_fault(t, e);
}

/* A line of the log is a look at the sink: loss is the mean over the steps
 * since the line before, norm the last step's gradient norm before the clip,
 * sink_1 at --eps, norm_ratio the largest over the blocks (chapter 6). */
static const char LOG_HEAD[] =
    "step,tokens,loss,norm,lr,alpha_1,sink_1,alpha_star,sink_star,norm_ratio,"
    "sink_1_at_0.2\n";

static int log_line(Trainer *t, Progress *p, Bytes *log, Error *e) {
  const double *x = p->now;
  double tokens = (double)t->step * t->s.train.batch * t->s.train.accumulate
                  * t->m.c.context;
  char line[2048];
  int n = snprintf(line, sizeof line,
                   "%ld,%.0f,%.6f,%.6f,%.6g,%.6f,%.6f,%.6f,%.6f,%.6f,%.6f\n",
                   t->step, tokens, t->loss_sum / (double)t->loss_steps,
                   t->norm, t->lr, x[ALPHA_1], x[SINK_1], x[ALPHA_STAR],
                   x[SINK_STAR], x[NORM_RATIO], p->low);
  t->loss_sum = 0;
  t->loss_steps = 0;
  bytes_add(log, line, (size_t)n, e);
  if (t->s.program->log)
    t->s.program->log(t, p, log, line, e);
  return e->status;
}

/* 10.4 */
static int checkpoint_write(const char *path, const Trainer *t, Error *e);

/* Writes the log first: it then has every line of the checkpoint's run. A log
 * that cannot be written does not cost the checkpoint. */
static void run_save(const Trainer *t, const Bytes *log, bool checkpoint,
                     Error *e) {
  Error unlogged = {0};
  if (t->s.log[0])
    file_write(t->s.log, log->at, log->size, &unlogged);
  if (checkpoint && t->s.out[0])
    checkpoint_write(t->s.out, t, e);
  if (!e->status)
    *e = unlogged;
}

/* Trains to the last step, an error or Ctrl-C. Every --log-every steps, and at
 * the last, come a look at the sink and a line of the log; every --save-every
 * steps, and at the end, a checkpoint. An error saves one, too. A divergence
 * does not: the checkpoint before stays, and the log ends with a line
 * "# step N: why", which --resume drops. If a resumed run's first look fails,
 * at a NaN say, training goes on until a step or the next look does. */
static int train_run(Trainer *t, Progress *p, Error *e) {
  enum { FOLLOW = 2 };   /* seconds between saves of the log */
  const Train *r = &t->s.train;
  Bytes log = {0};
  Error passed = {0};
  bool saved = t->step > 0;   /* was this step's checkpoint written? */
  bytes_print(&log, e, LOG_HEAD);
  if (t->s.program->log)
    t->s.program->log(t, p, &log, NULL, e);
  if (!e->status && r->steps)
    look_at_sink(t, p, t->step ? &(Error){0} : e);
  if (t->s.watched)
    t->s.program->watch(t, p, e);
  double logged = p->start = p->shown = seconds();
  p->from = t->step;
  stop_gently();
  while (t->step < r->steps && !e->status && !interrupted) {
    if (trainer_step(t, e))
      break;
    bool due = r->save_every && t->step % r->save_every == 0;
    saved = false;
    if ((t->s.watched && t->s.program->watch(t, p, e))
        || ((t->step % r->log_every == 0 || t->step == r->steps)
            && (look_at_sink(t, p, e) || log_line(t, p, &log, e))))
      break;
    progress_show(t, p);
    if (due || seconds() - logged > FOLLOW) {
      saved = due;
      run_save(t, &log, due, e);
      logged = seconds();
    }
  }
  bool diverged = e->status && isnan(t->loss);
  if (diverged)
    bytes_print(&log, &passed, "# %s\n", e->text);
  if (!e->status && !saved)
    run_save(t, &log, true, e);
  else if (diverged || (e->status && t->step > p->from))
    run_save(t, &log, !diverged && !saved, &passed);
  if (passed.status && strcmp(passed.text, e->text))   /* another fault */
    fprintf(stderr, "%s: also: %s\n", t->s.program->name, passed.text);
  bytes_free(&log);
  if (t->step < r->steps)
    fail(e, 1, "stopped at step %ld of %d; %s", t->step, r->steps,
         t->s.out[0]
         ? "--out has a checkpoint. Try: the same with ./paper and --resume"
         : "no checkpoint was saved. Try: with --out");
  return e->status;
}

/* ----------
 * 10.4  Checkpoints. A file is little-endian and holds, in this order:
 *
 *   8   "SINKCKP1"          4  version, 1        4  bytes of a number, 4 or 8
 *   8   length of the text  .. the text: lines "flag value"
 *   8   the tokenizer's hash (0: none)           8  steps done
 *   8   8   8   the data: blocks read; a grammar's document; the offset in it
 *   4   parts, a sum: 3 for m, v and the run, 4 for the start, 8 for weights
 *   8   count of parameters .. parameters in the order of the table of tensors
 *   ..  parts has 8: with --first-tokens text, N^X or N:SET, a double per id
 *   ..  parts has 3: m, then v
 *   8   8   8   8   parts has 3, the run: loss of the last step, and sum of the
 *       losses since the last look at the sink, doubles; how many those are;
 *       hash64 of the text or grammar
 *   8   parts has 4: hash64 of the parameters that a fine-tuning began from
 *   8   hash64 of all bytes before it
 *
 * It holds no clock and no number of threads, so a run that is repeated writes
 * the same bytes. It holds no generator's state: every draw follows from --seed
 * and the draw's place. */
enum { CHECKPOINT_VERSION = 1, PARTS_RUN = 3, PARTS_START = 4, PARTS_FIRST = 8 };
#define CHECKPOINT_MAGIC "SINKCKP1"

/* The same walk over the fields writes and reads a file, so their order stands
 * in one place. Writing, a pass_ function takes a number and returns it;
 * reading, it returns the file's. */
typedef struct Passage {
  bool out;
  Writing w;                 /* out: the file, and the hash of its bytes */
  uint64_t hash;
  const unsigned char *at;   /* in: the bytes that are left */
  size_t left;
  bool with_moments;
  const char *name;
  Error *e;
} Passage;

static int damaged(const char *name, Error *e) {
  return fail(e, 1, "%s: expected a whole file, found it damaged or cut "
              "short. Try: an older copy", name);
}

static void pass_bytes(Passage *c, void *at, size_t n) {
  if (c->e->status || !n)
    return;
  if (c->out) {
    c->hash = hash_add(c->hash, at, n);
    writing_add(&c->w, at, n);
  } else if (n <= c->left) {
    memcpy(at, c->at, n);
    c->at += n;
    c->left -= n;
  } else
    damaged(c->name, c->e);
}

static uint64_t pass(Passage *c, uint64_t x, int bytes) {
  unsigned char at[8];
  number_put(at, x, bytes);
  pass_bytes(c, at, (size_t)bytes);
  return number_at(at, bytes);
}

INLINE float float_of(uint32_t bits) {
  float x;
  memcpy(&x, &bits, 4);
  return x;
}
INLINE uint32_t bits_of(float x) {
  uint32_t bits;
  memcpy(&bits, &x, 4);
  return bits;
}
INLINE double double_of(uint64_t bits) {
  double x;
  memcpy(&x, &bits, 8);
  return x;
}
INLINE uint64_t bits_of_double(double x) {
  uint64_t bits;
  memcpy(&bits, &x, 8);
  return bits;
}

static double pass_double(Passage *c, double x) {
  return double_of(pass(c, bits_of_double(x), 8));
}

/* x [n], of `width` bytes each in the file; NULL: skip them. */
static void pass_numbers(Passage *c, real *x, idx n, int width) {
  for (idx i = 0; i < n && !c->e->status; i++) {
    double y = x ? (double)x[i] : 0;
    if (width == 8)
      y = pass_double(c, y);
    else
      y = (double)float_of((uint32_t)pass(c, bits_of((float)y), 4));
    if (x && !c->out)
      x[i] = (real)y;
  }
}

/* Values but 0 at which a companion's flag is unused. */
static const char NOT_USED[] =
    "\nsoft-cap none\nscore-scale none\nscore-bias none\nclip-high 1\n"
    "extra-logit none\ngate none\nrope-scaling none\n"
    "rope-factor 8\nrope-low 1\nrope-high 4\nrope-original 8192\n"
    "bias-in all\ntoy none\n";

/* Reads lines "flag value" into s. A default may lie outside its flag's bounds:
 * 0 often stands for another field's value. A companion's flag must have a
 * value that leaves it unused. */
static void settings_lines(Passage *c, Settings *s, unsigned groups,
                           char *text) {
  Error wrong = {0};
  settings_default(s);
  for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
    char *value = line + strcspn(line, " "), unused[80];
    snprintf(unused, sizeof unused, "\n%.70s\n", line);
    if (*value)
      *value++ = 0;
    const Option *o = option_find(line, groups);
    bool embed = !strcmp(line, "embed-dim") && atoi(value) == s->model.dim;
    bool reads = has_word("grammar tokens end-token", line);   /* not sink's */
    if (o)
      option_set(o, s, value, strcmp(value, o->fallback) != 0, &wrong);
    else if (!embed && !reads && strcmp(value, "0")
             && !strstr(NOT_USED, unused))
      fail(&wrong, 1, "%.40s. Try: ./paper, ./hf or the version that wrote it",
           line);
  }
  if (wrong.status || config_resolve(&s->model, &wrong))
    fail(c->e, 1, "%s: expected known settings, found %s", c->name, wrong.text);
  strcpy(s->data.first_own, s->data.first_tokens);
}

/* Settings of `groups`, as a text after its length. */
static void pass_settings(Passage *c, Settings *s, unsigned groups) {
  char value[PATH_ROOM];
  Bytes text = {0};
  for (const Option *o = OPTIONS; c->out && o->flag; o++) {
    option_text(o, s, value, sizeof value);
    if (o->groups & groups && value[0] && !strchr(value, '\n'))
      bytes_print(&text, c->e, "%s %s\n", o->flag, value);
  }
  size_t n = (size_t)pass(c, text.size, 8);
  if (!c->out && n <= c->left)
    bytes_add(&text, c->at, n, c->e);
  bytes_add(&text, "", 1, c->e);
  pass_bytes(c, text.at, n);
  if (!c->out && !c->e->status)
    settings_lines(c, s, groups, (char *)text.at);
  bytes_free(&text);
}

/* Makes room for `count` parameters, if the settings have as many and at least
 * a byte of the file is left for each. A model to evaluate has neither
 * gradients nor moments. */
static void checkpoint_room(const Passage *c, Trainer *t, idx count,
                            int parts) {
  Error *e = c->e;
  Model list = {0};
  if (e->status)
    return;
  model_list(&list, &t->s.model, e);
  bool fits = count == list.count && (size_t)count <= c->left;
  model_free(&list);
  if (!fits)
    damaged(c->name, e);
  else if (!model_create(&t->m, &t->s.model, c->with_moments, e)
           && parts & PARTS_RUN && c->with_moments)
    moments_create(t, e);
  if (parts & PARTS_FIRST)
    t->first = grab(t->m.c.vocab, sizeof *t->first, e);
  t->s.data.first_counts = t->first;
}

static void checkpoint_pass(Passage *c, Trainer *t) {
  char magic[] = CHECKPOINT_MAGIC;
  int parts = 0;
  if (t->m1)
    parts = t->start ? PARTS_RUN + PARTS_START : PARTS_RUN;
  if (t->s.data.first_counts)
    parts += PARTS_FIRST;
  pass_bytes(c, magic, 8);
  pass(c, CHECKPOINT_VERSION, 4);
  int width = (int)pass(c, sizeof(real), 4);
  if (width != 4 && width != 8)
    damaged(c->name, c->e);
  pass_settings(c, &t->s, KEPT);
  t->tokenizer_hash = pass(c, t->tokenizer_hash, 8);
  t->step = (long)pass(c, (uint64_t)t->step, 8);
  t->data.sample = pass(c, t->data.sample, 8);
  t->data.document = pass(c, t->data.document, 8);
  t->data.offset = (size_t)pass(c, t->data.offset, 8);
  parts = (int)pass(c, (uint64_t)parts, 4);
  idx count = (idx)pass(c, (uint64_t)t->m.count, 8);
  if (!c->out)
    checkpoint_room(c, t, count, parts);
  pass_numbers(c, t->m.params, count, width);
  for (int v = 0; t->s.data.first_counts && v < t->m.c.vocab; v++)
    t->s.data.first_counts[v] = pass_double(c, t->s.data.first_counts[v]);
  if (!(parts & PARTS_RUN))
    return;
  pass_numbers(c, t->m1, count, width);
  pass_numbers(c, t->m2, count, width);
  t->loss = pass_double(c, t->loss);
  t->loss_sum = pass_double(c, t->loss_sum);
  t->loss_steps = (long)pass(c, (uint64_t)t->loss_steps, 8);
  t->data.source = pass(c, t->data.source, 8);
  if (parts & PARTS_START)
    t->start = pass(c, t->start, 8);
}

static int checkpoint_write(const char *path, const Trainer *t, Error *e) {
  Passage c = {.out = true, .hash = HASH_START, .e = e};
  Trainer same = *t;   /* every field comes back unchanged */
  if (writing_begin(&c.w, path, e))
    return e->status;
  checkpoint_pass(&c, &same);
  pass(&c, hash_end(c.hash), 8);
  return writing_end(&c.w, e);
}

/* Reads the n bytes at p into t, which a failure leaves empty. */
static int checkpoint_read(const unsigned char *p, size_t n, const char *name,
                           bool with_moments, Trainer *t, Error *e) {
  Passage c = {.at = p, .left = n - 8, .with_moments = with_moments,
               .name = name, .e = e};
  *t = (Trainer){0};
  if (n < 24 || memcmp(p, CHECKPOINT_MAGIC, 8)
      || number_at(p + 8, 4) != CHECKPOINT_VERSION)
    return fail(e, 1, "%s: expected a checkpoint of sink, version %d, found "
                "another file. Try: ./sink train --out FILE, or ./hf for a "
                "published model", name, CHECKPOINT_VERSION);
  if (hash64(0, p, n - 8) != number_at(p + n - 8, 8))
    return damaged(name, e);
  checkpoint_pass(&c, t);
  if (c.left || t->loss_steps < 0 || t->loss_steps > t->step)
    damaged(name, e);
  if (e->status)
    trainer_free(t);
  return e->status;
}

static int checkpoint_load(const char *path, bool with_moments, Trainer *t,
                           Error *e) {
  Bytes held = {0};
  *t = (Trainer){0};
  if (MORE_OPEN(path, INFINITY, t, e))
    return e->status;
  if (!file_read(path, &held, e))
    checkpoint_read(held.at, held.size, path, with_moments, t, e);
  bytes_free(&held);
  return e->status;
}

/* ==========
 * 11  Evaluation   sections 3.1 to 3.3
 *
 * An evaluation takes chapter 6's means over n sequences of T tokens: text of
 * held-out documents (data_probe), or random or repeated ids (Table 1). `eval`
 * takes --text, --tokenizer, --fix-token, --first-tokens, --bos and --valid of
 * the training, but its own --T, --eps, --metric-rows and --input. Of another
 * --text it reads all, unless --valid is given. */

/* ----------
 * 11.0  A measurement   sections 3.1, 3.2
 *
 * A measurement is a forward that reads each block's activations and two maps
 * before the next block overwrites them. Each forward adds to the sums in a
 * Sinks; sinks_finish turns them into means. */

/* The mean m of a row's own token, and of the one before it. */
static double sinks_self(const Sinks *s) { return column_mean(s, s->self, 1, 0); }
static double sinks_prev(const Sinks *s) { return column_mean(s, s->prev, 1, 0); }

/* Room, its sums 0, for `batch` sequences of T tokens at a time and n_eps <=
 * EPS_MOST thresholds; results quote eps[0].
 *
 * even_self: even rows give self and prev (H_T - 1) / (T - 1) with H_n = 1 +
 * 1/2 + .. + 1/n, 0.0594 at T = 64; with * or x* (H_(T+1) - 3/2) / (T - 1),
 * 0.0517. A window of 1 hides the token before, so there prev is 0. */
int sinks_create(Sinks *s, const Model *m, int T, int batch,
                 const double *eps, int n_eps, Error *e) {
  const Config *c = &m->c;
  idx L = c->layers, N = config_rows(c, T), S = config_columns(c, T);
  idx heads = L * c->heads, rows = L * N, map = batch * c->heads * N * S;
  *s = (Sinks){.L = c->layers, .H = c->heads, .T = T, .N = (int)N, .S = (int)S,
               .batch = batch, .n_eps = n_eps};
  memcpy(s->eps, eps, (size_t)n_eps * sizeof *eps);
  const struct { double **field; idx size; } MEANS[] = {
    {&s->alpha, heads * S}, {&s->over, n_eps * heads * S},
    {&s->entropy, heads}, {&s->weighing, heads}, {&s->plain_entropy, heads},
    {&s->mass, heads}, {&s->raw, heads}, {&s->self, heads}, {&s->prev, heads},
    {&s->cosine, 2 * heads}, {&s->product, 2 * heads}, {&s->hnorm, rows + N},
    {&s->prenorm, rows}, {&s->knorm, rows}, {&s->vnorm, rows}};
  enum { ARRAYS = sizeof MEANS / sizeof MEANS[0] };
  for (int i = 0; i < ARRAYS; i++)
    s->n_sums += MEANS[i].size;
  double *at = s->sums = grab(s->n_sums, sizeof(double), e);
  s->attends = grab(L, sizeof(bool), e);
  s->probe = grab(L, sizeof(Probe), e);
  s->maps = grab(2 * map, sizeof(real), e);
  s->extreme = grab(batch * N * c->dim, sizeof(real), e);
  if (e->status) {
    sinks_free(s);
    return e->status;
  }
  s->even = sink_uniform(m, T);
  s->even_self = T > 1 ? even_weight(m, T, 0) : 1;
  for (int i = 0; i < ARRAYS; i++) {
    *MEANS[i].field = at;
    at += MEANS[i].size;
  }
  for (int l = 0; l < L; l++) {
    s->probe[l] = (Probe){.weight = s->maps, .metric = s->maps + map};
    s->attends[l] = block_attends(m, l);
    if (s->attends[l])
      s->heads += c->heads;
  }
  return 0;
}

void sinks_free(Sinks *s) {
  free(s->sums);
  free(s->attends);
  free(s->probe);
  free(s->maps);
  free(s->extreme);
  *s = (Sinks){0};
}

/* Notes the first x not finite, for the error: a NaN is above no eps, so it
 * would pass for no sink. `where` formats block and head, from 1. */
static void sinks_watch(Sinks *s, double x, const char *where, int block,
                        int head) {
  if (!s->bad[0] && !isfinite(x))
    snprintf(s->bad, sizeof s->bad, where, block, s->L, head, s->H);
}

/* -sum p log p in nats, and sum p, for p [n] >= 0; 0 log 0 = 0. */
static double plogp(idx n, const real *p, double *sum) {
  double total = 0;
  *sum = 0;
  for (idx from = 0; from < n; from += CHUNK) {
    real log_p[CHUNK];
    idx some = chunk(n, from);
    vec_log(some, log_p, p + from);
    for (idx j = 0; j < some; j++)
      if (p[from + j] > 0) {
        total -= (double)p[from + j] * (double)log_p[j];
        *sum += (double)p[from + j];
      }
  }
  return total;
}

/* From the maps m and weight [N,S] of one head in one sequence (lh = l H + h)
 * adds what measure_sink does, and means over the T rows of
 *
 *   entropy   of p = m_i / sum m_i in nats, with * and x*, if the sum is not 0.
 *             Even causal rows of T = 64 have log(T!)/T = 3.206
 *   mass      sum of scale s/Z over keys: scale for a softmax, less scale a_*
 *             with an extra column, anything for Z = 1
 *   raw       the same of |scale s/Z|, which is printed as the row mass
 *
 * and over rows 2 .. T (0 if T = 1)
 *
 *   self      m_ii; row 1's is token 1's, which alpha_1 counts
 *   prev      m_i,i-1; row 1 has none */
static void measure_head(Sinks *s, const Config *c, int form, idx lh,
                         const real *m, const real *weight) {
  idx S = s->S, first = s->N - s->T;
  measure_sink(s, c, form, lh, m);
  for (idx i = first; i < s->N; i++) {
    double sum, mass = 0, raw = 0, nats = plogp(S, m + i * S, &sum);
    s->plain_entropy[lh] += nats / s->T;
    /* entropy of m / sum; 1 to rounding counts as 1 */
    if (sum > 0 && fabs(sum - 1) > 256 * REAL_EPS)
      nats = nats / sum + log(sum);
    s->weighing[lh] += sum > 0;
    for (idx j = c->extra != EXTRA_NONE; j < S; j++) {
      mass += weight[i * S + j];
      raw += fabs(weight[i * S + j]);
    }
    s->entropy[lh] += nats / s->T;
    s->mass[lh] += mass / s->T;
    s->raw[lh] += raw / s->T;
  }
  for (idx i = 1; i < s->T; i++) {       /* S - T: token 1's column */
    const real *own = m + (first + i) * S + S - s->T + i;
    s->self[lh] += own[0] / (double)(s->T - 1);
    s->prev[lh] += own[-1] / (double)(s->T - 1);
  }
}

/* The mean of |x_h| over the n rows of x [n,D]. */
static double mean_length(idx n, idx D, const real *x) {
  double sum = 0;
  for (idx h = 0; h < n; h++)
    sum += length(D, x + h * D) / (double)n;
  return sum;
}

/* The largest |x_j|, for x [n]; -1 when all of them are NaN. */
static real largest(idx n, const real *x) {
  real most = -1;
  for (idx j = 0; j < n; j++)
    if (real_abs(x[j]) > most)
      most = real_abs(x[j]);
  return most;
}

/* [FIG2], Figures 11 to 14. Adds |h^l| of each row of the stream h [B,N,C], and
 * keeps each sequence's block output with the largest entry |h_nc| so far. */
static void measure_stream(Sinks *s, const real *h, int l, int B, int C) {
  const char *place = l ? "block %d of %d, after its heads" : "the embedding";
  idx N = s->N, n = N * C;
  for (idx b = 0; b < B; b++) {
    const real *h_b = h + b * n;
    real *extreme = s->extreme + b * n;
    for (idx i = 0; i < N; i++) {
      s->hnorm[l * N + i] += length(C, h_b + i * C);
      sinks_watch(s, s->hnorm[l * N + i], place, l, 0);
    }
    if (l == 1 || (l > 1 && largest(n, h_b) > largest(n, extreme)))
      copy(extreme, h_b, n);
  }
}

/* [FIG7] Measures sequence b in block l: heads, and by row |s2| (post-norm:
 * Figure 7 left's "before LN") and |k|, |v|, means over heads. */
static void measure_layer(Sinks *s, const Model *m, const Acts *a, idx b, int l,
                          int form) {
  const Config *c = &m->c;
  const LayerActs *la = &a->layer[l];
  idx N = s->N, C = c->dim, D = c->head_dim, map = N * s->S;
  idx H = s->attends[l] * c->heads, K = s->attends[l] * c->kv_heads;
  for (idx h = 0; h < H; h++) {
    idx head = (b * H + h) * map, lh = l * H + h;
    measure_head(s, c, form, lh, s->probe[l].metric + head,
                 s->probe[l].weight + head);
    measure_angles(s, m, la, b, l, h);
    /* finite only if all its terms are */
    double all = s->mass[lh] + s->product[2 * lh] + s->product[2 * lh + 1];
    for (idx n = 0; n < N; n++)
      all += vec_sum(D, la->v + ((b * N + n) * K + h / (H / K)) * D);
    sinks_watch(s, all, "block %d of %d, head %d of %d", l + 1, (int)h + 1);
  }
  for (idx n = 0; n < N; n++) {
    idx row = b * N + n, at = l * N + n;
    s->prenorm[at] += length(C, la->s2 + row * C);
    s->knorm[at] += mean_length(K, D, la->k + row * K * D);
    s->vnorm[at] += mean_length(K, D, la->v + row * K * D);
  }
}

static int by_size(const void *a, const void *b) {
  real x = *(const real *)a, y = *(const real *)b;
  return (x > y) - (x < y);
}

/* Massive activations (Sun et al. 2024, without their threshold) of sequence b:
 * the largest entry |h_nc| of a block's output, and the median entry there, the
 * upper one of two. s->extreme is overwritten. */
static void measure_massive(Sinks *s, idx b, int C) {
  idx n = s->N * C;
  real *h = s->extreme + b * n;          /* [N,C] */
  if (s->bad[0])
    return;                              /* a NaN cannot be sorted */
  for (idx j = 0; j < n; j++)
    h[j] = real_abs(h[j]);
  qsort(h, (size_t)n, sizeof(real), by_size);
  s->massive += h[n - 1];
  s->median += h[n / 2];
}

/* 1 if a forward so far failed to read a matrix from a companion's file. */
int model_fault(const Model *m, Error *e) {
  return m->seams.fault ? m->seams.fault(m, e) : 0;
}

/* Measures sequences ids [B,T]; adds their loss if there are targets [B,T]. */
int sinks_measure(Sinks *s, Model *m, Acts *a, const int *ids,
                  const int *targets, int B, int form, Error *e) {
  int C = m->c.dim;
  if (B > s->batch || B > a->B || s->T > a->T)
    return fail(e, 1, "measure: %d sequences of %d tokens do not fit. Try: a "
                "larger Sinks or Acts", B, s->T);
  a->probe = s->probe;                   /* attention then fills the maps */
  idx N = forward_begin(m, a, ids, B, s->T);
  measure_stream(s, a->h, 0, B, C);
  for (int l = 0; l < s->L; l++) {
    block_forward(m, a, l, B, N);
    for (idx b = 0; b < B; b++)
      measure_layer(s, m, a, b, l, form);
    measure_stream(s, a->h, l + 1, B, C);
  }
  forward_end(m, a, B, N);
  a->probe = NULL;
  for (idx b = 0; b < B; b++)
    measure_massive(s, b, C);
  if (targets)
    s->loss += model_loss(m, a, targets, B, s->T, 0) * B;
  sinks_watch(s, s->loss, "the loss", 0, 0);
  s->n += B;
  if (!model_fault(m, e) && s->bad[0])
    fail(e, 1, "%s" NOT_FINITE, s->bad);
  return e->status;
}

/* Names in e the first block or head that is not finite on ids [B,T], whose
 * loss is NaN. ids serve as targets. Without room it names the loss alone. */
static int forward_fault(Model *m, const int *ids, int B, int T, Error *e) {
  Sinks s = {0};
  Acts a = {0};
  Error room = {0};
  if (!sinks_create(&s, m, T, 1, (double[]){0}, 1, &room))
    acts_create(&a, m, 1, T, ACTS_ONE, &room);
  for (int b = 0; b < B && !room.status && !e->status; b++, ids += T)
    sinks_measure(&s, m, &a, ids, ids, 1, METRIC_REAL, e);
  acts_free(&a);
  sinks_free(&s);
  return fail(e, 1, "the loss" NOT_FINITE);
}

/* Turns sums into means, once; entropy into one over the rows with a weight,
 * NaN if there are none. */
void sinks_finish(Sinks *s) {
  double n = fmax(s->n, 1);
  for (idx i = 0; i < s->n_sums; i++)
    s->sums[i] /= n;
  for (int i = 0; i < s->L * s->H; i++)
    if (s->attends[i / s->H])
      s->entropy[i] *= s->T / s->weighing[i];
  s->massive /= n;
  s->median /= n;
  s->loss /= n;
}

/* How many of n sequences a forward takes: at most 16, unless each forward
 * reads the model's file, halved while they take over 1.6 GB, down to one (a
 * head has two maps [N,S]). */
static int evaluation_batch(const Model *m, int n, int T, Error *e) {
  const Config *c = &m->c;
  double most = 1.6e9 / sizeof(real);   /* with all else, below 2 GB */
  double rows = (double)config_rows(c, T);
  double one = rows * (2.0 * c->heads * config_columns(c, T) + c->dim);
  if (!m->seams.begin && n > 16)
    n = 16;
  while (n > 1 && (double)acts_size(m, n, T, ACTS_ONE, e) + n * one > most)
    n = (n + 1) / 2;
  return n;
}

static void none_held(const Data *d, int T, Error *e) {
  idx n = (idx)d->starts.size, mean = (idx)d->held.size / (n + !n);
  fail(e, 1, "no piece of text to measure on has %d tokens; on average they "
       "have %lld. Try: a smaller --T, longer documents, or in a training a "
       "larger --valid", T + 1, mean);
}

/* At thresholds eps [n_eps]. After a failure out is empty. */
static int evaluate_at(Sinks *out, Model *m, const Data *d, const Settings *s,
                       const double *eps, int n_eps, int n, int T, Error *e) {
  const Config *c = &m->c;
  const Program *program = s->program;
  bool scored = s->input == INPUT_NATURAL;
  Acts a = {0};
  *out = (Sinks){0};
  if (T > c->context && (!s->beyond || c->pos == POS_LEARNED))
    return fail(e, 2, "--T %d: the model's context ends at %d. Try: --T %d%s",
                T, c->context, c->context, c->pos == POS_LEARNED
                ? ", the longest it has learned" : ", or --beyond");
  int got = 0, starts = 0;
  idx all = (idx)n * T;
  int *ids = grab(2 * all, sizeof(int), e);
  if (!e->status)
    got = data_probe(d, &s->data, s->input, n, T, ids, ids + all, &starts);
  if (!got)
    none_held(d, T, e);
  int batch = evaluation_batch(m, got, T, e);
  if (!e->status && !sinks_create(out, m, T, batch, eps, n_eps, e))
    acts_create(&a, m, batch, T, ACTS_ONE, e);
  if (program->edit && !e->status)
    program->edit(m, &a, s, T, false, e);
  if (m->seams.begin && !e->status)
    m->seams.begin(m, (got + batch - 1) / batch, scored, s->quiet);
  for (int b = 0; b < got && !e->status; b += batch) {
    int *at = ids + (idx)b * T;
    sinks_measure(out, m, &a, at, scored ? at + all : NULL,
                  (int)at_most(got - b, batch), s->metric_rows, e);
  }
  sinks_finish(out);
  out->starts = starts;
  if (m->seams.end)
    m->seams.end(m, e);
  if (program->edit && a.arena)
    program->edit(m, &a, s, T, true, e);
  acts_free(&a);
  free(ids);
  if (e->status)
    sinks_free(out);
  return e->status;
}

int evaluate(Sinks *out, Model *m, const Data *d, const Settings *s, int n,
             int T, Error *e) {
  const double eps[] = {s->eps, 0.2, 0.4};
  return evaluate_at(out, m, d, s, eps, 3, n, T, e);
}

/* ----------
 * 11.1  The numbers of an evaluation
 *
 * ROW_COLUMNS names them for all tables. NaN, which prints as -, is 0/0 or what
 * was not measured. data/paper/tables.c writes CSV and JSON. */

/* A column: its name in CSV and JSON, its heading, a format for unit * x. */
typedef struct Column {
  const char *name, *head, *form;
  int width;
  double unit;
} Column;

static const Column ROW_COLUMNS[ROW] = {
  {"sink_1",     "Sink_1 %",   "%.1f", 8, 100},
  {"sink_star",  "Sink_* %",   "%.1f", 8, 100},
  {"alpha_1",    "alpha_1",    "%.3f", 7, 1},
  {"times_even", "x even",     "%.2f", 6, 1},
  {"alpha_star", "alpha_*",    "%.3f", 7, 1},
  {"mass",       "row mass",   "%.2f", 8, 1},
  {"norm_ratio", "norm ratio", "%.2f", 10, 1},
  {"loss",       "loss",       "%.3f", 6, 1}};

static const char *cell_text(char text[32], const Column *c, double x) {
  if (!isfinite(x))
    return strcpy(text, "-");
  snprintf(text, 32, c->form, c->unit * x);
  return text;
}

/* A map's column j by name: *, x*, x*1 .. of several, or a token. */
static const char *column_label(char text[16], const Config *c, int j) {
  int first = config_column_first(c);
  if (j >= first)
    snprintf(text, 16, "%d", j - first + 1);
  else if (j == 0 && c->extra)
    snprintf(text, 16, "*");
  else
    snprintf(text, 16, c->sink_token > 1 ? "x*%d" : "x*", j + !c->extra);
  return text;
}

/* [FIG19] alpha of a column, by layer (down) and head (across). Where x* or *
 * stands before token 1, column 0's follows a token's. */
static void heat_map(const char *title, const Sinks *s, const Config *c,
                     int column, FILE *out) {
  const char *token = column < config_column_first(c) ? "" : "token ";
  char name[16];
  fprintf(out, "%s %s%s\n", title, token, column_label(name, c, column));
  for (int l = 0; l < s->L; l++) {
    if (!s->attends[l])
      continue;
    fprintf(out, "%5d ", l + 1);
    for (int h = l * s->H; h < (l + 1) * s->H; h++)
      fprintf(out, " %.2f ", s->alpha[(idx)h * s->S + column]);
    fputc('\n', out);
  }
  if (column)
    heat_map(title, s, c, 0, out);
}

/* A loss of 0 or NaN was not measured. */
void sinks_row(const Sinks *s, const Config *c, double loss, double row[ROW]) {
  int first = config_column_first(c);
  for (int k = 0; k < ROW; k++)
    row[k] = NAN;
  if (!s->n)
    return;
  row[SINK_1] = sinks_sink(s, first, 0);
  row[ALPHA_1] = sinks_alpha(s, first);
  row[TIMES_EVEN] = row[ALPHA_1] / s->even;
  row[ROW_MASS] = sinks_raw(s);
  row[NORM_RATIO] = sinks_ratio(s);
  if (loss > 0)
    row[HELD_LOSS] = loss;
  if (!first)   /* no * or x*, which have column 0 */
    return;
  row[SINK_STAR] = sinks_sink(s, 0, 0);
  row[ALPHA_STAR] = sinks_alpha(s, 0);
}

static void outcome_free(Outcome *o) {
  sinks_free(&o->s);
  free(o->map);
}

/* What pages and tables show of a training, measured or not. */
static void outcome_fill(Outcome *o, const Trainer *t, int T) {
  idx blocks = (idx)t->data.held.size / (t->m.c.context + 1);
  o->c = t->m.c;
  o->even = sink_uniform(&t->m, T);
  o->tokens = at_most(blocks, HELD_BLOCKS)
            * (o->c.context - o->c.prefix + (o->c.prefix > 0));   /* scored */
  sinks_row(&o->s, &o->c, o->loss, o->row);
  strcpy(o->text, t->data.name);
  strcpy(o->read, t->data.read);
}

static int outcome_measure(Outcome *o, Trainer *t, const Settings *s,
                           Error *e) {
  if (evaluate(&o->s, &t->m, &t->data, s, s->eval_n, s->eval_T, e))
    return e->status;
  outcome_fill(o, t, o->s.T);
  return 0;
}

/* ----------
 * 11.2  Ids from a file: of eval --ids, tokenize decode and dump */

/* Appends to out the text's ids, below vocab and separated by blanks or commas;
 * to starts, where each line of ids begins; to the text, a 0. */
static int ids_parse(Bytes *text, const char *name, int vocab, Ids *out,
                     Ids *starts, Error *e) {
  int line = 1;
  bool begun = false;
  bytes_add(text, "", 1, e);
  for (size_t i = 0; i + 1 < text->size && !e->status; i++) {
    const char *at = (const char *)text->at + i;
    size_t digits = strspn(at, "0123456789");
    if (digits) {
      long id = strtol(at, NULL, 10);
      if (id >= vocab || out->size == INT32_MAX)
        return fail(e, 1, "%s:%d: expected ids below %d, the vocabulary, and "
                    "fewer than 2^31 of them. Try: another file", name, line,
                    vocab);
      if (!begun)
        id_add(starts, (int32_t)out->size, e);
      id_add(out, (int32_t)id, e);
      begun = true;
      i += digits - 1;
    } else if (*at == '\n') {
      line++;
      begun = false;
    } else if (!isspace(text->at[i]) && *at != ',')
      return fail(e, 1, "%s:%d: expected token ids. Try: numbers separated by "
                  "spaces", name, line);
  }
  return e->status;
}

static int data_ids(Data *d, const char *path, int vocab, Error *e) {
  Bytes text = {0};
  *d = (Data){.vocab = vocab, .end = -1, .bos = -1, .fix = -1,
              .read = "all of it"};
  strcpy(d->name, path);
  if (!file_read(path, &text, e))
    ids_parse(&text, path, vocab, &d->held, &d->starts, e);
  bytes_free(&text);
  return e->status;
}

/* ----------
 * 11.3  sink dump
 *
 * It writes the arrays of a forward and backward as .npy, to be checked in
 * NumPy, and config.json, which makes the dump again if no MODEL was given:
 *
 *   ids       [B,T+1]      as given; the last of a row is only a target
 *   param.NAME, grad.NAME  tensors of chapter 2; gradients of the mean loss
 *   loss, logits           a number; [B,T,V]
 *   hidden    [L+1,B,N,C]  h^0 .. h^L, before the final norm
 *   attn, metric           [L,B,H,T,S]: scale s/Z, and m; columns *, x*, 1 .. T
 *   alpha     [L,B,H,S]    alpha_k of each sequence, from metric
 *   z, q, k, prenorm       with --all: scores, 0 where invisible [L,B,H,T,S];
 *                          q, k after positions [L,B,H,N,D]; what a block's
 *                          second post-norm reads [L,B,N,C]
 *
 * Maps have the T real rows; states have a row for each x*, too. */

typedef struct Dump {
  Settings *s;
  Model *m;
  Acts *a;
  idx B, T, N, S;
  Passage file;
  char path[PATH_ROOM + 80];
  Error *e;
} Dump;

static void npy_end(Dump *d) {
  if (d->file.w.f)
    writing_end(&d->file.w, d->e);
  d->file = (Passage){.out = true, .e = d->e};
}

/* Ends the last file and begins one in NumPy's format 1.0: magic, header padded
 * to a multiple of 64 bytes, numbers. Axes of 0 are left out. */
static void npy_begin(Dump *d, const char *name, const idx shape[5]) {
  const char *type = sizeof(real) == 4 ? "f4" : "f8";
  char magic[] = "\x93NUMPY\x01", head[256], axes[128] = "";
  if (!strcmp(name, "ids"))
    type = "i4";
  for (int i = 0, at = 0; i < 5; i++)
    if (shape[i])
      at += snprintf(axes + at, 21, at ? " %lld," : "%lld,", shape[i]);
  int n = snprintf(head, sizeof head, "{'descr': '<%s', 'fortran_order': False,"
                   " 'shape': (%s), }", type, axes);
  /* 10 bytes: the magic and the header's length */
  n += snprintf(head + n, 80, "%*s", 64 - (10 + n) % 64, "\n");
  npy_end(d);
  snprintf(d->path, sizeof d->path, "%s/%s.npy", d->s->out, name);
  if (outputs_ready(d->s, (const char *[]){d->path}, 1, d->e)
      || writing_begin(&d->file.w, d->path, d->e))
    return;
  pass_bytes(&d->file, magic, 8);
  pass(&d->file, (uint64_t)n, 2);
  pass_bytes(&d->file, head, (size_t)n);
}
static void npy_add(Dump *d, const real *x, idx n) {
  pass_numbers(&d->file, (real *)x, n, sizeof(real));
}

/* Removes an older dump's arrays, by their names. */
static void dump_forget(const Dump *d) {
  Bytes names = {0};
  size_t folder = strlen(d->s->out) + 1;
  if (!d->e->status && !file_missing(d->path))
    files_list(d->s->out, &names, d->e);
  const char *path = (const char *)names.at;
  for (size_t left = names.size, size; left; left -= size, path += size) {
    char kind[16] = "";
    const char *name = path + folder, *last = strrchr(name, '.');
    bool tensor = strchr(name, '.') != last;   /* param.NAME, grad.NAME */
    size = strlen(path) + 1;
    sscanf(name, "%15[^.]", kind);
    if (last && !strcmp(last, ".npy")
        && has_word(tensor ? "param grad" : "ids loss logits hidden attn"
                    " metric alpha q k z gate prenorm", kind))
      remove(path);
  }
  bytes_free(&names);
}

/* The flags that make this dump again: none that is idle or would refuse its
 * value, and no --init or --seed of a loaded model. */
static void dump_config(Dump *d) {
  char value[PATH_ROOM];
  Bytes out = {0};
  for (const Option *o = OPTIONS; o->flag; o++) {
    option_text(o, d->s, value, sizeof value);
    if (option_find(o->flag, MODEL | DUMP) != o || o->kind == 'f'
        || option_idle(o->flag, d->s)
        || option_set(o, d->s, value, true, &(Error){0}))
      continue;
    bool word = o->kind == 'c' || !strcmp(value, "none");
    if (o->kind == 'b' && o->most == 1)
      strcpy(value, strcmp(value, "0") ? "true" : "false");
    bytes_print(&out, d->e, word ? "%s  \"%s\": \"%s\"" : "%s  \"%s\": %s",
                out.size ? ",\n" : "{\n", o->flag, value);
  }
  bytes_add(&out, "\n}\n", 3, d->e);
  dump_forget(d);
  file_write(d->path, out.at, out.size, d->e);
  bytes_free(&out);
}

/* The T real rows of every block's map [B,H,N,S]: [L,B,H,T,S]. */
static void dump_map(Dump *d, const char *name, const real *map) {
  idx L = d->m->c.layers, H = d->m->c.heads, T = d->T, S = d->S;
  npy_begin(d, name, (idx[5]){L, d->B, H, T, S});
  for (idx i = 1; i <= L * d->B * H; i++)
    npy_add(d, map + (i * d->N - T) * S, T * S);
}

static void dump_alpha(Dump *d, const real *metric) {
  const Config *c = &d->m->c;
  idx H = c->heads, S = d->S;
  npy_begin(d, "alpha", (idx[5]){c->layers, d->B, H, S});
  for (idx j = 0; j < c->layers * d->B * H * S; j++) {
    const real *m = metric + j / S * d->N * S;
    real alpha = (real)sink_alpha(c, (int)d->T, METRIC_REAL, m, j % S);
    npy_add(d, &alpha, 1);
  }
}

/* Every block's q [B,N,H,D] or k [B,N,K,D], by query head: [L,B,H,N,D]. */
static void dump_heads(Dump *d, bool keys) {
  const Config *c = &d->m->c;
  idx H = c->heads, N = d->N, D = c->head_dim, own = keys ? c->kv_heads : H;
  npy_begin(d, keys ? "k" : "q", (idx[5]){c->layers, d->B, H, N, D});
  for (idx i = 0; i < c->layers * d->B * H * N; i++) {   /* l, b, h, n */
    const LayerActs *x = &d->a->layer[i / N / H / d->B];
    idx row = i / N / H % d->B * N + i % N, h = i / N % H * own / H;
    npy_add(d, (keys ? x->k : x->q) + (row * own + h) * D, D);
  }
}

/* Every block's input and the last output, or what second post-norms read. */
static void dump_states(Dump *d, bool prenorm) {
  idx L = d->m->c.layers, C = d->m->c.dim, n = d->B * d->N * C;
  npy_begin(d, prenorm ? "prenorm" : "hidden",
            (idx[5]){L + !prenorm, d->B, d->N, C});
  for (int l = 0; l < L; l++)
    npy_add(d, prenorm ? d->a->layer[l].s2 : d->a->layer[l].x, n);
  if (!prenorm)
    npy_add(d, d->a->h, n);
}

/* Row by row; more rows would have the same bits (13). x* has no logits. */
static void dump_logits(Dump *d) {
  idx V = d->m->c.vocab, C = d->m->c.dim;
  real *y = grab(V, sizeof(real), d->e);
  npy_begin(d, "logits", (idx[5]){d->B, d->T, V});
  for (idx n = 0; n < d->B * d->N && !d->e->status; n++) {
    if (n % d->N < d->N - d->T)
      continue;
    model_logits(d->m, d->a, d->a->nf + n * C, 1, y);
    npy_add(d, y, V);
  }
  free(y);
}

static void dump_tensors(Dump *d, bool gradients) {
  for (int i = 0; i < d->m->n_tensors; i++) {
    const Tensor *x = d->m->all[i];
    char name[64];
    snprintf(name, sizeof name, "%s.%s", gradients ? "grad" : "param", x->name);
    npy_begin(d, name, (idx[5]){x->rows, x->rank > 1 ? x->cols : 0});
    npy_add(d, gradients ? x->d : x->w, tensor_count(x));
  }
}

/* All blocks' maps, for a forward. The caller frees them and a->probe. */
static real *maps_create(Acts *a, const Config *c, Error *e) {
  idx map = a->B * (idx)c->heads * config_rows(c, a->T)
          * config_columns(c, a->T), all = c->layers * map;
  real *maps = grab(3 * all, sizeof(real), e), *at = maps;
  a->probe = grab(c->layers, sizeof(Probe), e);
  for (int l = 0; l < c->layers && !e->status; l++, at += map)
    a->probe[l] = (Probe){.z = at, .weight = at + all, .metric = at + 2 * all};
  return maps;
}

static void dump_run(Dump *d, const Ids *file) {
  Model *m = d->m;
  int B = (int)d->B, T = (int)d->T;
  int *ids = grab(2 * d->B * T, sizeof(int), d->e);
  real *room = maps_create(d->a, &m->c, d->e), loss = 0;
  const Probe *maps = d->a->probe;
  dump_config(d);
  if (!d->e->status) {
    int *targets = ids + d->B * T;
    for (idx b = 0; b < B; b++)
      block_split(file->at + b * (T + 1), T, ids + b * T, targets + b * T);
    model_forward(m, d->a, ids, B, T);
    loss = (real)model_loss(m, d->a, targets, B, T, m->grads ? 1 : 0);
    npy_begin(d, "ids", (idx[5]){B, T + 1});
    for (size_t i = 0; i < file->size; i++)
      pass(&d->file, (uint32_t)file->at[i], 4);
    npy_begin(d, "loss", (idx[5]){0});
    npy_add(d, &loss, 1);
    dump_logits(d);
    dump_states(d, false);
    dump_map(d, "attn", maps->weight);
    dump_map(d, "metric", maps->metric);
    dump_alpha(d, maps->metric);
    if (d->s->all) {
      dump_map(d, "z", maps->z);
      dump_heads(d, false);
      dump_heads(d, true);
      if (m->c.place == PLACE_POST)
        dump_states(d, true);
      MORE_DUMP(d);
    }
    dump_tensors(d, false);
    if (m->grads) {
      model_backward(m, d->a, ids, B, T);
      dump_tensors(d, true);
    }
    npy_end(d);
    if (!isfinite(loss))
      forward_fault(m, ids, B, T, d->e);
  }
  if (!d->e->status)
    printf("loss=%.6f out=%s\n", loss, d->s->out);
  free(ids);
  free(room);
  free(d->a->probe);
  d->a->probe = NULL;
}

/* ==========
 * 12  The main job   Tables 4, 10 and 15 in small
 *
 * `sink run` trains a small model three times, from one seed on the same
 * tokens. For each arm it prints a verdict in a line, and the numbers:
 *
 *   softmax   the first token of every sequence fixed      Table 10: a sink
 *   k-bias    the same with a learned key k*, value 0      Table 4: it moves
 *   sigmoid   the same without normalisation               Table 15: no sink
 *
 * At first t sigmoids sum to t/2, where softmax has 1. The scale brings the two
 * near. Without --clip it acts as a smaller start and learning rate of W_O
 * [E32]. At scale 1 this arm's loss ends at 3.29 nats, not 2.5. */
enum { ARMS = 3 };
static const Variant RUN_ARMS[ARMS] = {
  {"softmax", "", "Table 10", 0, 0},
  {"k-bias", "--extra k", "Table 4", 0, 0},
  {"sigmoid", "--sim sigmoid --normalizer one --scale 0.05", "Table 15", 0, 0}};

/* These replace training's defaults. */
#define RUN_STEPS "3000"
#define RUN_FLAGS "--init gpt2 --steps " RUN_STEPS " --fix-token 1"

/* The rule that run_verdict prints. SHOWS and ABSENT are multiples of the alpha
 * of even rows; ALIKE is in nats. */
static const double SHOWS = 2, ABSENT = 1.5, ALIKE = 0.05;

static const char *sink_word(double times) {
  if (times >= SHOWS)
    return "a sink";
  return times < ABSENT ? "no sink" : "unclear";
}

/* What a key bias did to the sink, in multiples of even rows' alpha: `sink` in
 * the softmax arm, `left` on token 1, `star` on *. */
static const char *moved_word(double sink, double left, double star) {
  if (sink < SHOWS)
    return sink_word(star);
  if (star < SHOWS || left >= ABSENT)
    return "the sink did not move clearly";
  return "the sink moved to *";
}

static const char *loss_word(double gap) {
  if (gap > ALIKE)
    return "above";
  return gap < -ALIKE ? "below" : "equal to";
}

static void run_verdict(const Outcome *o, int steps, Bytes *out, Error *e) {
  double gap = o[2].loss - o[0].loss, star = o[1].row[ALPHA_STAR] / o[1].even;
  double sink = o[0].row[TIMES_EVEN], left = o[1].row[TIMES_EVEN];
  double sigmoid = o[2].row[TIMES_EVEN];
  if (steps < atoi(RUN_STEPS))
    bytes_print(out, e, "This run took %d of the usual %s steps.\n", steps,
                RUN_STEPS);
  bytes_print(out, e, "softmax  %s on token 1: alpha_1 is %.1f times even.\n"
              "k-bias   %s%s: alpha_* is %.1f times even, alpha_1 %.1f.\n"
              "sigmoid  %s on token 1: alpha_1 is %.1f times even.\n",
              sink_word(sink), sink, moved_word(sink, left, star),
              sink < SHOWS ? " on *" : "", star, left, sink_word(sigmoid),
              sigmoid);
  if (isnan(gap))
    bytes_print(out, e, "No loss was measured: too little held-out text.\n");
  else
    bytes_print(out, e, "loss     sigmoid's is %s softmax's: %+.3f nats.\n",
                loss_word(gap), gap);
  bytes_print(out, e, "Rule: %g times even or more counts as a sink, below "
              "%g as none;\nlosses within %g nats count as equal.\n", SHOWS,
              ABSENT, ALIKE);
}

static void run_table(const Outcome *o, const Settings *s, FILE *out) {
  char text[32];
  int n = 0;   /* sequences, in an arm that did not diverge */
  fprintf(out, "\n%-8s", "");
  for (int k = 0; k < ROW; k++)
    fprintf(out, " %*s", ROW_COLUMNS[k].width, ROW_COLUMNS[k].head);
  for (int i = 0; i < ARMS; i++) {
    if (o[i].s.n)
      n = o[i].s.n;
    fprintf(out, "\n%-8s", o[i].name);
    for (int k = 0; k < ROW; k++)
      fprintf(out, " %*s", ROW_COLUMNS[k].width,
              cell_text(text, &ROW_COLUMNS[k], o[i].row[k]));
  }
  fprintf(out, "\nSink: share of heads with alpha > %g, over %d sequences of "
          "%d tokens. alpha_1: mean share\nof token 1 in a row's weights; x "
          "even: as a multiple of even rows. row mass: sum of a\nrow's "
          "|weights|, without *'s. norm ratio: largest ||h_1|| over the mean "
          "of the others. loss:\nnats per token, over %lld held-out tokens of "
          "%s (%s).\n", s->eps, n, s->eval_T, o->tokens, o->text, o->read);
}

/* If an arm diverged, there is no verdict and no map. */
static void run_report(const Outcome *o, const Settings *s, FILE *out,
                       Bytes *verdict, Error *e) {
  for (int i = 0; i < ARMS; i++)
    if (o[i].ended[0])
      bytes_print(verdict, e, "No verdict, since %s diverged: %s\n", o[i].name,
                  o[i].ended);
  bool whole = !verdict->size;
  if (whole)
    run_verdict(o, s->train.steps, verdict, e);
  if (bytes_add(verdict, "", 1, e))
    return;
  fprintf(out, "\n%s", verdict->at);
  run_table(o, s, out);
  if (!whole)
    return;
  fprintf(out, "\nalpha by layer (down) and head (across)\n");
  for (int i = 0; i < ARMS; i++)
    heat_map(o[i].name, &o[i].s, &o[i].c, config_column_first(&o[i].c), out);
}

/* A divergence is a result: its error goes to `why`, and the run continues. */
static bool take_divergence(char why[640], const Trainer *t, Error *e) {
  if (!e->status || interrupted || !isnan(t->loss))
    return false;
  strcpy(why, e->text);
  *e = (Error){0};
  return true;
}

static int outcome_train(Outcome *o, Trainer *t, const char *name, Error *e) {
  o->name = name;
  outcome_fill(o, t, (int)at_most(t->s.eval_T, t->m.c.context));
  o->p = (Progress){.name = name};
  if (!train_run(t, &o->p, e))
    held_loss(&o->loss, t, HELD_BLOCKS, e);
  return e->status;
}

static void run_arm(Outcome *o, const Variant *arm, Settings *s, Error *e) {
  Trainer t;
  if (trainer_begin(&t, s, arm->flags, e))
    return;
  if (!outcome_train(o, &t, arm->name, e) && !interrupted)
    outcome_measure(o, &t, &t.s, e);
  take_divergence(o->ended, &t, e);
  *s = t.s;
  trainer_free(&t);
}

/* Each arm opens these anew. */
static int read_again(const Settings *s, Error *e) {
  const char *const names[] = {
    source_name(&s->data), s->data.tokenizer, s->ids};
  for (int i = 0; i < 3; i++)
    if (file_is_stream(names[i]))
      fail(e, 2, "%s: a stream cannot be read twice. Try: a file", names[i]);
  return e->status;
}

/* Runs the arms; s becomes the first one's settings, which the rest take. With
 * --out each has a checkpoint and a log there. ./paper's --resume goes on with
 * these; it measures a finished arm again and begins a missing one. */
static int run_arms(Outcome *o, Settings *s, Error *e) {
  char file[2 * ARMS][PATH_ROOM] = {{0}};
  const char *path[2 * ARMS + 3] = {s->csv, s->json, s->report};
  if (strlen(s->out) > 490)
    return fail(e, 2, "--out %.40s: this path is too long. Try: a shorter one",
                s->out);
  s->eval_T = (int)at_most(s->eval_T, s->model.context);
  for (int i = 0; i < 2 * ARMS; i++) {
    path[3 + i] = file[i];
    if (s->out[0])
      snprintf(file[i], PATH_ROOM, "%.490s/%s.%s", s->out, RUN_ARMS[i / 2].name,
               i % 2 ? "csv" : "ckpt");
  }
  if (read_again(s, e) || outputs_ready(s, path, 2 * ARMS + 3, e))
    return e->status;
  if (!s->quiet)
    fprintf(stderr, "Three models, one after another:\n");
  for (int i = 0; i < ARMS && !e->status && !interrupted; i++) {
    Settings arm = *s;
    strcpy(arm.out, file[2 * i]);
    strcpy(arm.log, file[2 * i + 1]);
    run_arm(&o[i], &RUN_ARMS[i], &arm, e);
    if (!i)
      *s = arm;
  }
  if (interrupted)   /* between arms or in a measurement */
    fail(e, 1, "stopped by Ctrl-C before a verdict. Try: %s", s->out[0]
         ? "the same command with ./paper and --resume"
         : "--out FOLDER, from which ./paper can resume");
  return e->status;
}

static int demo_run(const Settings *s, FILE *out, Error *e) {
  Settings base = *s;
  Bytes verdict = {0};
  double start = seconds();
  Outcome *o = grab(ARMS, sizeof *o, e);
  if (!e->status && !run_arms(o, &base, e)) {
    run_report(o, &base, out, &verdict, e);
    fprintf(out, "%.0f s on %d thread%s.\n", seconds() - start, workers(),
            workers() > 1 ? "s" : "");
    if (!s->program->page)
      fprintf(out, "A page with a film, curves and maps: make run, or ./paper "
              "run\n");
    else if (!e->status)
      s->program->page(o, &base, (const char *)verdict.at, out, e);
  }
  for (int i = 0; o && i < ARMS; i++) {
    if (o[i].ended[0])
      fail(e, 1, "%s", o[i].ended);
    outcome_free(&o[i]);
  }
  bytes_free(&verdict);
  free(o);
  return e->status;
}

/* ==========
 * PART IV   PLUMBING */

/* ==========
 * 13  Matrix multiply and vector maths
 *
 * Nine tenths of a training step is c[i][j] += a[i][p] * b[p][j]. Plain loops
 * reach a few percent of a processor's peak; four measures approach it:
 *
 *   Lanes      One instruction works on neighbours in a row of B and C.
 *   Registers  A multiply-add takes some 4 cycles and two begin in each, so 8
 *              must be under way: a tile's sums, in registers for DEPTH steps.
 *   Panels     B, and in a large product A, is packed one tile wide, so that a
 *              tile reads consecutive bytes.
 *   Order      An element of C takes the sums of DEPTH steps of p in turn, in
 *              any tile or task: one thread and sixteen give the same bits.
 *
 *              x86-64   AVX2     AVX-512        ARM
 *   lanes      4        8        16             4       floats
 *   tile       6 x 8    6 x 16   8 x 32 or 48   8 x 8   floats
 *
 * A linear map takes rows * in * out multiplications, the logits C V a row, and
 * the backward of each twice that; 3.7 has a head's.
 *
 * GCC fuses multiply and add by default, not under -std=c11 (`bench gemm`). */

/* ----------
 * 13.1  Lanes: the only lines that say "vector" to a compiler
 *
 * `bytes` is a constant 16, 32 or 64; VECTOR(p) is the vector at p. No vector
 * is an argument, since instances would differ in calling convention. An array
 * that only VECTOR reaches lives in registers if its loops step by 1: Clang
 * does not unroll steps of `lanes`. */

#if defined(__GNUC__) && !defined(__TINYC__)
#define LANES(bytes) vector_size(bytes), aligned(sizeof(real)), may_alias
typedef real Lanes16 __attribute__((LANES(16)));
typedef real Lanes32 __attribute__((LANES(32)));
typedef real Lanes64 __attribute__((LANES(64)));
typedef real Four __attribute__((LANES(4 * sizeof(real))));
#define VECTOR(p) (*(L *)(p))
#define WITH_LANES(statement)                                                  \
  if (bytes == 64) {                                                           \
    typedef Lanes64 L;                                                         \
    statement;                                                                 \
  } else if (bytes == 32) {                                                    \
    typedef Lanes32 L;                                                         \
    statement;                                                                 \
  } else {                                                                     \
    typedef Lanes16 L;                                                         \
    statement;                                                                 \
  }
#define FETCH(p, writes) __builtin_prefetch(p, writes)

/* Picks from a0 .. a3, b0 .. b3, as 0 to 7; GCC takes a vector of numbers. */
#ifdef __clang__
#define SHUFFLE(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#else
typedef __typeof__(_Generic((real)0, float: (int32_t)0, default: (int64_t)0))
    Order __attribute__((vector_size(4 * sizeof(real))));
#define SHUFFLE(a, b, ...) __builtin_shuffle(a, b, (Order){__VA_ARGS__})
#endif
#define LOW(a, b) SHUFFLE(a, b, 0, 4, 1, 5)
#define HIGH(a, b) SHUFFLE(a, b, 2, 6, 3, 7)

/* to[p*ldt + j] = from[j*ld + p] for j, p < 4: rows interleaved twice. */
INLINE void transpose4(real *to, idx ldt, const real *from, idx ld) {
  Four a = *(const Four *)from, b = *(const Four *)(from + ld);
  Four c = *(const Four *)(from + 2 * ld), d = *(const Four *)(from + 3 * ld);
  Four ac_low = LOW(a, c), ac_high = HIGH(a, c);
  Four bd_low = LOW(b, d), bd_high = HIGH(b, d);
  *(Four *)to = LOW(ac_low, bd_low);
  *(Four *)(to + ldt) = HIGH(ac_low, bd_low);
  *(Four *)(to + 2 * ldt) = LOW(ac_high, bd_high);
  *(Four *)(to + 3 * ldt) = HIGH(ac_high, bd_high);
}
#else   /* number by number */
#define FETCH(p, writes) ((void)0)
#define VECTOR(p) (p)[lane]
#define WITH_LANES(statement)                                                  \
  for (int lane = 0; lane < bytes / (int)sizeof(real); lane++)                 \
    statement;

INLINE void transpose4(real *to, idx ldt, const real *from, idx ld) {
  for (idx p = 0; p < 4; p++)
    for (idx j = 0; j < 4; j++)
      to[p * ldt + j] = from[j * ld + p];
}
#endif

/* For one vector: c += a b with one number a; c += a b lane by lane; c = b. */
INLINE void lanes_axpy(int bytes, real *c, real a, const real *b) {
  WITH_LANES(VECTOR(c) += a * VECTOR(b))
}
INLINE void lanes_fma(int bytes, real *c, const real *a, const real *b) {
  WITH_LANES(VECTOR(c) += VECTOR(a) * VECTOR(b))
}
INLINE void lanes_copy(int bytes, real *c, const real *b) {
  WITH_LANES(VECTOR(c) = VECTOR(b))
}

/* n / size, rounded up. */
INLINE idx pieces(idx n, idx size) { return (n + size - 1) / size; }

INLINE Matrix matrix_from(Matrix a, idx i, idx j) {
  return (Matrix){a.at + i * a.row + j * a.col, a.row, a.col};
}

/* to [n,m] = from [m,n] transposed, 16 by 4 at a time: of floats a cache line
 * of `to`. Fetching the next 16 rows early cuts a cold one's time to 0.8. */
INLINE void transpose(real *to, idx ldt, const real *from, idx ld, idx m,
                      idx n) {
  enum { BLOCK = 16 };
  idx n4 = n - n % 4;
  for (idx i = 0; i < m; i += BLOCK) {
    idx last = i + at_most(m - i, BLOCK), last4 = last - (last - i) % 4;
    for (idx j = 0; j < n4; j += 4)
      for (idx q = i; q < last4; q += 4) {
        FETCH(from + (q + BLOCK + j / 4 % 4) * ld + j, 0);
        transpose4(to + j * ldt + q, ldt, from + q * ld + j, ld);
      }
    for (idx q = i; q < last; q++)   /* the rest of these rows */
      for (idx p = (q < last4) * n4; p < n; p++)
        to[p * ldt + q] = from[q * ld + p];
  }
}

/* ----------
 * 13.2  The product */

enum {
  LANES_MAX = 64 / (int)sizeof(real),
  ROWS_MAX = 8, COLS_MAX = 3,   /* the largest tile, in rows and in vectors */
  TILE_MAX = ROWS_MAX * COLS_MAX * LANES_MAX,
  DEPTH = 1024 / (int)sizeof(real),   /* steps of p at a time, BLIS's KC */
  BAND = 96, WAIT = 768,   /* packed rows of A, columns of B; BLIS's MC, NC */
  GROUP = 6,   /* tiles of A's rows at a time where `packed` is false */
  FEW_ROWS = 16,   /* B is read in place for at most so many rows of C, */
  SMALL = 1 << 18,   /* or for at most BAND if B spans so many numbers */
  MANY = 192,   /* columns from which packing A pays */
  PACKING = 24,   /* multiply-adds that cost as much as packing a number */
  SPARE = (1 << 16) / (int)sizeof(real),   /* packed numbers on the stack */
  GRAIN = 1 << 21   /* multiply-adds that cost as much as waking threads */
};

typedef struct Product {
  real *c;
  idx ldc;
  Matrix a, b;
  idx m, n, k;
  bool add;
} Product;

/* The part for C's rows i .. i+m and columns j .. j+n, or as many as it has. */
static Product product_part(Product p, idx i, idx j, idx m, idx n) {
  return (Product){p.c + i * p.ldc + j, p.ldc, matrix_from(p.a, i, 0),
                   matrix_from(p.b, 0, j), at_most(p.m - i, m),
                   at_most(p.n - j, n), p.k, p.add};
}

/* A whole tile's rows: AVX-512 and ARM have 32 vector registers. Its width:
 * AVX-512 adds a third vector if A is packed: one pointer serves all rows. */
INLINE int tile_rows(int bytes) {
#ifdef __x86_64__
  return bytes == 64 ? 8 : 6;
#else
  return (void)bytes, 8;
#endif
}
INLINE int tile_width(int bytes, bool packed) {
  return (2 + (packed && bytes == 64)) * bytes / (int)sizeof(real);
}

/* A whole tile: `rows` rows by `cols` vectors of the row-major b. With `packed`
 * A is a panel too, and C is prefetched. */
INLINE void tile(int bytes, const int rows, const int cols, bool packed,
                 Product t) {
  int lanes = bytes / (int)sizeof(real), width = cols * lanes;
  /* if packed, constants for the compiler */
  idx down = packed ? 1 : t.a.row, next = packed ? rows : t.a.col;
  const real *a = t.a.at, *b = t.b.at;
  real sum[TILE_MAX] = {0};
  for (int i = 0; packed && i < rows; i++)
    for (int v = 0; v <= cols; v++)
      FETCH(t.c + i * t.ldc + at_most(v * lanes, width - 1), 1);
  for (idx p = 0; p < t.k; p++, a += next, b += t.b.row)
    for (idx i = 0; i < rows; i++)
      for (int v = 0; v < cols; v++)
        lanes_axpy(bytes, sum + i * width + v * lanes, a[i * down],
                   b + v * lanes);
  for (idx i = 0; i < rows; i++)
    for (int v = 0; v < cols; v++) {
      real *at = t.c + i * t.ldc + v * lanes, *s = sum + i * width + v * lanes;
      if (t.add)
        lanes_axpy(bytes, s, 1, at);
      lanes_copy(bytes, at, s);
    }
}

/* Any tile; a partial one is computed whole in `out`. */
INLINE void tile_that_fits(int bytes, bool packed, Product t) {
  int rows = tile_rows(bytes), lanes = bytes / (int)sizeof(real);
  bool tall = packed || t.m > rows / 2;
  idx cols = pieces(t.n, lanes), width = cols * lanes;
  bool whole = t.m == (tall ? rows : rows / 2) && t.n == width;
  real out[TILE_MAX];
  Product w = t;
  if (!whole) {
    w.c = out;
    w.ldc = width;
    w.add = false;
  }
  if (bytes == 64 && packed && cols == 3)
    tile(bytes, rows, 3, packed, w);
  else if (tall && cols == 2)
    tile(bytes, rows, 2, packed, w);
  else if (tall)
    tile(bytes, rows, 1, packed, w);
  else if (cols == 2)
    tile(bytes, rows / 2, 2, packed, w);
  else
    tile(bytes, rows / 2, 1, packed, w);
  for (idx i = 0; !whole && i < t.m; i++)
    for (idx j = 0; j < t.n; j++) {
      real *c = t.c + i * t.ldc + j, s = out[i * width + j];
      if (t.add)
        s += *c;
      *c = s;
    }
}

/* Packs b [k,n] into panels: that of columns j .. j+width begins at to + j*k
 * and holds its k rows in turn, 0 beyond n. For A, b is its transpose. */
INLINE void pack(real *to, const int width, Matrix b, idx n, idx k) {
  idx whole = n - n % width, rest = n - whole;
  if (rest)
    zero(to + whole * k, width * k);
  for (idx j = 0; b.row == 1 && j < n; j += width)
    transpose(to + j * k, width, b.at + j * b.col, b.col, at_most(n - j, width),
              k);
  for (idx p = 0; b.row != 1 && p < k; p++) {
    const real *from = b.at + p * b.row;
    for (idx j = 0; j < whole; j += width)
      memcpy(to + j * k + p * width, from + j, sizeof(real) * (size_t)width);
    for (idx j = 0; j < rest; j++)
      to[whole * k + p * width + j] = from[whole + j];
  }
}

/* Few rows or a small B do not repay packing B. */
INLINE bool reads_b(bool packed, Product p) {
  bool small = p.m <= FEW_ROWS || (p.m <= BAND && p.k * p.b.row <= SMALL);
  return !packed && p.b.col == 1 && small;
}

/* The rows of A that pass a panel of B; the columns of B that stay packed for
 * the next rows, or one panel's. */
INLINE idx passing(int bytes, bool packed) {
  return packed ? BAND : GROUP * tile_rows(bytes);
}
INLINE idx waiting(int bytes, bool packed, Product p) {
  int width = tile_width(bytes, packed);
  if (p.m <= passing(bytes, packed) || reads_b(packed, p))
    return width;
  return at_most(pieces(p.n, width) * width, WAIT);
}

/* A panel of B (8 KB; AVX2 16, AVX-512 48) stays in L1 or L2 while a band of
 * A's rows passes from L2. The band's rows are packed if `packed` or if A is
 * transposed; else all but a last, partial tile's are read in place. `room`
 * holds packed B, then A. */
INLINE void product(int bytes, bool packed, Product w, real *room) {
  const int rows = tile_rows(bytes), width = tile_width(bytes, packed);
  idx keep = waiting(bytes, packed, w), most = passing(bytes, packed);
  bool in_place = reads_b(packed, w);
  real *band = room + keep * at_most(w.k, DEPTH);
  for (idx j0 = 0; j0 < w.n; j0 += WAIT)
    for (idx p = 0; p < w.k; p += DEPTH)
      for (idx i0 = 0; i0 < w.m; i0 += most) {
        idx k = at_most(w.k - p, DEPTH), end = at_most(w.n, j0 + WAIT);
        idx m = at_most(w.m - i0, most);
        idx unpacked = (!packed && w.a.col == 1) * (m - m % rows);
        Matrix a = matrix_from(w.a, i0 + unpacked, p);
        pack(band, rows, (Matrix){a.at, a.col, a.row}, m - unpacked, k);
        for (idx j = j0; j < end; j += width) {
          idx n = at_most(end - j, width);
          Matrix b = matrix_from(w.b, p, j);
          /* half a tile needs no zeros */
          if (!in_place || (n < width && n != width / 2)) {
            real *panel = room + (keep > width) * (j - j0) * k;
            if (i0 == 0)
              pack(panel, width, b, n, k);
            b = rows_of(panel, width);
          }
          for (idx i = 0; i < m; i += rows)
            tile_that_fits(bytes, packed, (Product){
                w.c + (i0 + i) * w.ldc + j, w.ldc,
                i < unpacked ? matrix_from(w.a, i0 + i, p)
                          : transpose_of(band + (i - unpacked) * k, rows),
                b, at_most(m - i, rows), n, k, w.add || p > 0});
        }
      }
}

/* ----------
 * 13.3  Vector maths
 *
 * libm works number by number. In float the functions below have no branches
 * (`either`), so a loop over them becomes vector code; in double they call
 * libm. A span is one vector of floats of the widest instance, at an array's
 * end too, so an element has the same bits anywhere.
 *
 * Coefficients have, unrounded, the least maximal relative error (Remez
 * exchange, 40 digits). Largest errors over all floats (`make exhaustive`), of
 * pow over every 61st, in units in the last place (ulp; rounding has 0.5):
 *   exp 1.012  sigmoid 2.402  sqrt 0.760  Phi 4.757  log 0.5001  pow 0.529 */

enum { SPAN = 16, PARTS = 32 };

/* first ? a : b, where a compiler might branch. */
INLINE double either_double(bool first, double a, double b) {
  uint64_t mask = (uint64_t)0 - (uint64_t)first;
  return double_of((bits_of_double(a) & mask) | (bits_of_double(b) & ~mask));
}

#ifdef SINK_DOUBLE
#define exp_of exp
#define sqrt_of sqrt
#define log_of log
#define abs_of fabs
#define either either_double
INLINE double cumulative_of(double x) { return erfc(-x * SQRT_HALF) / 2; }
INLINE double pow_of(double x, double p) { return pow(fabs(x), p); }
#else
#define abs_of fabsf
INLINE float either(bool first, float a, float b) {
  uint32_t mask = 0u - (uint32_t)first;
  return float_of((bits_of(a) & mask) | (bits_of(b) & ~mask));
}

/* e^x = 2^n e^r with n = round(x / ln 2) and |r| <= ln 2 / 2.
 * n: adding 1.5 * 2^23 leaves no bits for a fraction; the sum's low bits are n.
 * r: ln 2 = 355/512 - 2.1219444e-4; n times 355/512 is exact (8 + 9 bits).
 * Returns e^r - 1 = r + r^2 q(r), to 3.2e-9 of e^r or 0.05 ulp, and n. */
INLINE float exp_less_1(float x, uint32_t *n) {
  float shift = 0x1.8p23f, t = x * 1.44269504f + shift, m = t - shift;
  float r = x - m * 0.693359375f + m * 2.12194440e-4f;
  float q = 0x1.fffffcp-2f + r * (0x1.555492p-3f + r * (0x1.5558bp-5f
          + r * (0x1.123988p-7f + r * 0x1.6a4ca4p-10f)));
  *n = bits_of(t) - bits_of(shift);
  return r + r * r * q;
}

/* e^100 is infinite. Below -104 the result is set to 0: a product that
 * underflows takes an Intel core 150 cycles. 2^n, -150 <= n <= 144, exceeds a
 * float's exponents, so it is two factors; only the second product can round. A
 * NaN passes through p. */
INLINE float exp_of(float x) {
  float low = either(x < -104.0f, 0, x), z = either(low > 100.0f, 100.0f, low);
  uint32_t n;
  float p = 1 + exp_less_1(z, &n);
  uint32_t e = n + 254, half = e >> 1;   /* n + 2 * 127 */
  float power = p * float_of(half << 23) * float_of((e - half) << 23);
  return either(x < -104.0f, 0, power);
}

/* sqrt(x) = x r with r = 1/sqrt(x). Halving the exponent in x's bits gives r to
 * 3.5 %. Newton's step r (3 - x r^2) / 2 turns an error e into 1.5 e^2, after
 * three below rounding; y = x r then becomes y + (x - y^2) r / 2. Below 2^-100,
 * where bits get lost, x is scaled by 2^48 and y by 2^-24. */
INLINE float sqrt_of(float x) {
  bool tiny = x < 0x1p-100f;
  float z = x * either(tiny, 0x1p48f, 1), h = 0.5f * z;
  float r = float_of(0x5F375A86u - (bits_of(z) >> 1));
  r = r * (1.5f - h * r * r);
  r = r * (1.5f - h * r * r);
  r = r * (1.5f - h * r * r);
  float y = z * r;
  float s = (y + 0.5f * r * (z - y * y)) * either(tiny, 0x1p-24f, 1);
  return either(x < 0, (float)NAN, either(x <= FLT_MAX, s, x));
}

/* Phi(x), with y = |x|: Phi(-y) = e^(-y^2 / 2) R(y), and Phi(y) = 1 - Phi(-y).
 * Phi(-15) is 0.
 * e^: low is what rounding y^2 loses, from the upper half h of y's digits and
 * the lower half d, whose products are exact. A factor 1 - low / 2 restores it.
 * R: (y + 3.5) R(y) is a polynomial in u = (y - 3.5) / (y + 3.5), which takes
 * [0, 15] to [-1, 0.62], with a relative error of 3.3e-8 or 0.55 ulp. */
INLINE float cumulative_of(float x) {
  float size = fabsf(x), y = either(size > 15.0f, 15.0f, size);
  float h = float_of(bits_of(y) & 0xFFFFF000u), d = y - h, square = y * y;
  float low = 2 * h * d + d * d - (square - h * h), e = exp_of(-0.5f * square);
  float t = 1 / (y + 3.5f), u = 2 * y * t - 1;   /* keeps digits near y = 0 */
  float R = t * (0x1.7d241ap-1f + u * (-0x1.21914ep-1f + u * (0x1.42feccp-2f
          + u * (-0x1.db5a92p-4f + u * (0x1.1d2d4ep-6f + u * (0x1.a992aap-8f
          + u * (-0x1.9fde6ap-9f + u * (-0x1.038b12p-11f + u * (0x1.b6a45ap-12f
          + u * 0x1.c7e3dap-14f)))))))));
  float below = (e - e * (0.5f * low)) * R;
  return either(x < 0, below, 1 - below);
}

/* log2 x for x >= 0, in double, where every float is normal. x = 2^n m with m
 * from sqrt(1/2) to sqrt(2): n is the exponent of x / sqrt(1/2); 1024 keeps it
 * positive. log2 m = s P(s^2), s = (m - 1) / (m + 1), to 4.2e-12. log2 0 is
 * finite: times 0 it gives 0. */
INLINE double log2_of(double x) {
  uint64_t root = 0x3FE6A09E667F3BCDu, bias = (uint64_t)1024 << 52;
  uint64_t b = bits_of_double(x) + bias, e = (b - root) >> 52;   /* n + 1024 */
  double n = double_of(e | bits_of_double(0x1p52)) - (0x1p52 + 1024);
  double m = double_of(b - (e << 52)), s = (m - 1) / (m + 1), z = s * s;
  double log2 = n + s * (2.8853900817900862 + z * (0.96179667334179749
              + z * (0.57708358496515137 + z * (0.41167271899777669
              + z * 0.34073010658534338))));
  return either_double(x == 0, -0x1p1000, either_double(x < 0x1p128, log2, x));
}
INLINE float log_of(float x) {
  float log = (float)(log2_of((double)x) * 0.69314718055994531);
  return either(x < 0, (float)NAN, log);
}

/* |x|^p = 2^(n + f) with n + f = p log2 |x|, |f| <= 1/2, in double, since a
 * float has too few digits. 2^f has a relative error of 1.9e-9; beyond +-160 a
 * float is 0 or infinite. */
INLINE float pow_of(float x, float p) {
  double shift = 0x1.8p52, L = (double)p * log2_of((double)fabsf(x));
  double low = either_double(L < -160, -160, L);
  double z = either_double(low > 160, 160, low);
  double t = z + shift, f = z - (t - shift);   /* n in t's bits */
  double q = 1.0000000005543519 + f * (0.69314720573795455
           + f * (0.24022646890500643 + f * (0.055503287760615288
           + f * (0.0096184889379913822 + f * (0.0013399931513208265
           + f * 0.00015345820883833847)))));
  return (float)(q * double_of((bits_of_double(t) + 1023) << 52));
}
#endif

/* 1 / (1 + e^-x), for x < 0 as e^x / (1 + e^x): nothing overflows, and tiny
 * results keep their digits. */
INLINE real sigmoid_of(real x) {
  real e = exp_of(-abs_of(x));
  return either(x < 0, e, 1) / (1 + e);
}

/* y = value of x [n], n >= SPAN. y may be x, so the last span, which overlaps
 * another, is computed first. */
typedef void Spans(idx n, real *y, const real *x, real p);
#define SPANS(name, value)                                                     \
  INLINE void name##_span(real *y, const real *x, real p) {                    \
    (void)p;                                                                   \
    for (int l = 0; l < SPAN; l++)                                             \
      y[l] = value;                                                            \
  }                                                                            \
  INSTANCES(void, name, (idx n, real *y, const real *x, real p), {             \
    real some[SPAN];                                                           \
    real last[SPAN];                                                           \
    name##_span(last, x + n - SPAN, p);                                        \
    for (idx i = 0; i < n - SPAN; i += SPAN) {                                 \
      name##_span(some, x + i, p);                                             \
      memcpy(y + i, some, sizeof some);                                        \
    }                                                                          \
    memcpy(y + n - SPAN, last, sizeof last);                                   \
  })

INLINE real joined(bool largest, real a, real b) {
  if (largest)
    return b > a ? b : a;
  return a + b;
}

/* s [PARTS] += x, or x y if y is given; or s = max(s, x). */
INLINE void fold_part(int bytes, bool largest, real *s, const real *x,
                      const real *y) {
  int lanes = bytes / (int)sizeof(real);
  for (int l = 0; largest && l < PARTS; l++)
    s[l] = joined(largest, s[l], x[l]);
  for (int v = 0; !largest && v < PARTS / lanes; v++)
    if (y)
      lanes_fma(bytes, s + v * lanes, x + v * lanes, y + v * lanes);
    else
      lanes_axpy(bytes, s + v * lanes, 1, x + v * lanes);
}

INLINE void fold_half(bool largest, real *s, const int half) {
  for (int l = 0; l < half; l++)
    s[l] = joined(largest, s[l], s[l + half]);
}

/* The PARTS elements before `end`, but 0 for the first `taken`. */
INLINE void rest_of(real *rest, const real *end, idx taken) {
  for (int l = 0; l < PARTS; l++)
    rest[l] = either(l < taken, 0, end[l - PARTS]);
}

/* sum_i x_i, sum_i x_i y_i if y is given, or max_i x_i; n >= PARTS. Each of
 * PARTS sums takes every PARTS-th element, since a single sum would wait for
 * each addition. The last sums take the rest. */
INLINE real reduce(int bytes, bool largest, idx n, const real *x, const real *y) {
  real s[PARTS], x_rest[PARTS], y_rest[PARTS];
  idx taken = largest ? 0 : PARTS - n % PARTS;
  for (int l = 0; l < PARTS; l++)
    s[l] = largest ? -(real)INFINITY : 0;
  for (idx i = 0; i + PARTS <= n; i += PARTS)
    fold_part(bytes, largest, s, x + i, y ? y + i : NULL);
  rest_of(x_rest, x + n, taken);
  if (y)
    rest_of(y_rest, y + n, taken);
  fold_part(bytes, largest, s, x_rest, y ? y_rest : NULL);
  fold_half(largest, s, 16);
  fold_half(largest, s, 8);
  fold_half(largest, s, 4);
  fold_half(largest, s, 2);
  fold_half(largest, s, 1);
  return s[0];
}

/* ----------
 * 13.4  One instance per instruction set, and the choice among them */

Isa isa_best(void) {
  if (!PROCESSOR_HAS("avx2") || !PROCESSOR_HAS("fma"))
    return ISA_BASE;
  if (!PROCESSOR_HAS("avx512f"))
    return ISA_AVX2;
  return ISA_AVX512;
}

INSTANCES(void, product_for, (bool packed, Product p, real *room), {
  if (packed)
    product(BYTES, true, p, room);
  else
    product(BYTES, false, p, room);
})
INSTANCES(real, fold_for, (bool largest, idx n, const real *x, const real *y), {
  if (largest)
    return reduce(BYTES, true, n, x, NULL);
  return reduce(BYTES, false, n, x, y);
})
SPANS(exp_for, exp_of(x[l] - p))
SPANS(sigmoid_for, sigmoid_of(x[l]))
SPANS(sqrt_for, sqrt_of(x[l]))
SPANS(cumulative_for, cumulative_of(x[l]))
SPANS(log_for, log_of(x[l]))
SPANS(pow_for, pow_of(x[l], p))

/* On this thread; k may be 0. Up to SPARE packed numbers lie on the stack,
 * which may be small; without memory for more, each tile is packed alone. */
static void product_here(Isa isa, bool packed, Product p) {
  _Alignas(64) real few[SPARE];
  bool bands = packed || p.a.col != 1;
  idx high = ROWS_MAX + bands * at_most(p.m, passing(16 << isa, packed));
  idx wide = waiting(16 << isa, packed, p);
  idx size = (high + wide) * at_most(p.k, DEPTH), m = p.m, n = p.n;
  real *room = few, *more = NULL;
  if (size > SPARE)
    more = malloc((size_t)(size + LANES_MAX) * sizeof(real));
  if (more) {                            /* from the next cache line on */
    room = more + -(uintptr_t)more % 64 / sizeof(real);
  } else if (size > SPARE) {
    m = ROWS_MAX / 2;
    n = LANES_MAX / 4;
  }
  for (idx i = 0; p.k == 0 && !p.add && i < p.m; i++)
    zero(p.c + i * p.ldc, p.n);
  for (idx i = 0; i < p.m; i += m)
    for (idx j = 0; j < p.n; j += n)
      product_for[isa](packed, product_part(p, i, j, m, n), room);
  free(more);
}

/* Each thread gets a part of C, cut so that the largest is cheapest. */
static void matmul_at(Isa isa, real *c, idx ldc, Matrix a, Matrix b, idx m,
                      idx n, idx k, bool add) {
  Product all = {c, ldc, a, b, m, n, k, add};
  bool large = (double)m * (double)n * (double)k >= GRAIN;
  bool packed = large && m > FEW_ROWS && n >= MANY;
  int rows = tile_rows(16 << isa), width = tile_width(16 << isa, true);
  idx across = 1, wide = n, high = m, threads = large ? workers() : 1;
  idx least = INT64_MAX;
  for (idx i = 1; i <= threads; i++) {
    idx x = at_most(n, pieces(pieces(n, i), width) * width);
    idx y = at_most(m, pieces(pieces(m, threads / i), rows) * rows);
    idx cost = x * y + PACKING * (x + y);
    if (cost >= least)
      continue;
    least = cost;
    across = i;
    wide = x;
    high = y;
  }
  if (threads == 1) {
    product_here(isa, packed, all);
    return;
  }
  PARALLEL
  for (idx task = 0; task < threads; task++) {
    idx i = task / across * high, j = task % across * wide;
    if (i < m && j < n)
      product_here(isa, packed, product_part(all, i, j, high, wide));
  }
}

void matmul(real *c, idx ldc, Matrix a, Matrix b, idx m, idx n, idx k,
            bool add) {
  matmul_at(isa_best(), c, ldc, a, b, m, n, k, add);
}

/* On the calling thread alone, inside parallel loops. */
static void matmul_here(real *c, idx ldc, Matrix a, Matrix b, idx m, idx n,
                        idx k, bool add) {
  product_here(isa_best(), false, (Product){c, ldc, a, b, m, n, k, add});
}

static void map(Spans *spans, idx n, real *y, const real *x, real p) {
  real few[SPAN] = {0};
  if (n >= SPAN) {
    spans(n, y, x, p);
    return;
  }
  copy(few, x, n);
  spans(SPAN, few, few, p);
  copy(y, few, n);
}
void vec_exp(idx n, real *y, const real *x, real less) {
  map(exp_for[isa_best()], n, y, x, less);
}
void vec_pow(idx n, real *y, const real *x, real p) {
  map(pow_for[isa_best()], n, y, x, p);
}
#define MAPS(name, spans)                                                      \
  void name(idx n, real *y, const real *x) {                                   \
    map(spans[isa_best()], n, y, x, 0);                                        \
  }
MAPS(vec_sigmoid, sigmoid_for)
MAPS(vec_sqrt, sqrt_for)
MAPS(vec_cumulative, cumulative_for)
MAPS(vec_log, log_for)

static real fold_any(bool largest, idx n, const real *x, const real *y) {
  real few[PARTS], factors[PARTS] = {0};
  if (n >= PARTS)
    return fold_for[isa_best()](largest, n, x, y);
  real none = largest ? -(real)INFINITY : 0;
  for (idx l = 0; l < PARTS; l++)
    few[l] = l < n ? x[l] : none;
  if (y)
    copy(factors, y, n);
  return fold_for[isa_best()](largest, PARTS, few, y ? factors : NULL);
}
real vec_sum(idx n, const real *x) { return fold_any(false, n, x, NULL); }
real vec_max(idx n, const real *x) { return fold_any(true, n, x, NULL); }
real vec_dot(idx n, const real *x, const real *y) {
  return fold_any(false, n, x, y);
}

WIDE(vec_add, (idx n, real *restrict y, const real *restrict x), (n, y, x)) {
  for (idx j = 0; j < n; j++)
    y[j] += x[j];
}
WIDE(vec_multiply, (idx n, real *restrict y, const real *restrict x),
     (n, y, x)) {
  for (idx j = 0; j < n; j++)
    y[j] *= x[j];
}
WIDE(vec_scale, (idx n, real *y, real a), (n, y, a)) {
  for (idx j = 0; j < n; j++)
    y[j] *= a;
}

void zero(real *x, idx n) {
  if (n > 0)
    memset(x, 0, (size_t)n * sizeof(real));
}
void copy(real *y, const real *x, idx n) {
  if (n > 0)
    memcpy(y, x, (size_t)n * sizeof(real));
}

/* Single numbers: libm in double, rounded once. */
real real_exp(real x) { return (real)exp(x); }
real real_log(real x) { return (real)log(x); }
real real_pow(real x, real y) { return (real)pow(x, y); }
real real_abs(real x) { return x < 0 ? -x : x; }

/* ==========
 * 14  Attention in tiles
 *
 * 14.1  A row of scores, fast: 3.6 in vectors, without overflow
 *
 * row_stat, from which the backward makes a row again, is log Z for exp,
 * FlashAttention's logsumexp (under clamp log sum; its sign tells the branch),
 * else the signed sum or the p-norm. As in 3.6 exp is relative, unless Z = 1,
 * to the largest score, top:
 *
 *   sum     log Z = top + log(sum_j e^(z_j - top))
 *   p-norm  log Z = top + log(sum_j e^(p (z_j - top)))/p  [E44] temperature 1/p
 *   clamp   log Z = max(log sum, 0)
 *
 * Test: row__every_operation. */

static void sim_sigmoid(idx n, const real *z, real *s, real *ds) {
  vec_sigmoid(n, s, z);
  for (idx j = 0; ds && j < n; j++)
    ds[j] = s[j] * (1 - s[j]);
}

/* A masked z, -infinity, must not reach the sum; a NaN stays NaN. */
static void sim_identity(idx n, const real *z, real *s, real *ds) {
  for (idx j = 0; ds && j < n; j++)
    ds[j] = (real)(z[j] != -INFINITY);
  for (idx j = 0; j < n; j++)
    s[j] = z[j] == -INFINITY ? 0 : z[j];
}

/* s and s' of a row, by SIM_*; row_exp does exp. */
static Activation *const SIMS[] = {
  [SIM_SIGMOID] = sim_sigmoid, [SIM_ELU] = elu_plus_one,
  [SIM_IDENTITY] = sim_identity};
_Static_assert(sizeof SIMS / sizeof *SIMS + sizeof(int[]){0 MORE_SIMS} / sizeof(int)
                   == SIM_ROWS + 1, "one for each row but a companion's");

/* y [n] /= Z; 0 if Z is 0, as in a row of zeros. */
static void over_Z(idx n, real *y, real Z) {
  for (idx j = 0; j < n; j++)
    y[j] = Z == 0 ? 0 : y[j] / Z;
}

/* [E43] (sum_j |s_j|^p)^(1/p) of s [n], relative to the largest |s_j| so that
 * no power overflows; 0 for a row of zeros. spare [n] is scratch. */
static real vec_p_norm(idx n, const real *s, double p, real *spare) {
  for (idx j = 0; j < n; j++)
    spare[j] = real_abs(s[j]);
  real most = vec_max(n, spare), M = most > 0 ? most : 1;
  over_Z(n, spare, M);
  vec_pow(n, spare, spare, (real)p);
  return M * real_pow(vec_sum(n, spare), (real)(1 / p));
}

/* Z of a row from its row_stat; exp's may overflow where its log does not. */
static real row_normalizer(const Config *c, real row_stat) {
  bool clamp = c->normalizer == NORMALIZER_CLAMP;
  if (c->sim == SIM_EXP)
    return real_exp(clamp && row_stat < 0 ? 0 : row_stat);
  if (c->normalizer == NORMALIZER_SUM)
    return row_stat + NORMALIZER_EPS;
  if (clamp)
    return real_abs(row_stat) > 1 ? real_abs(row_stat) : 1;
  return c->normalizer == NORMALIZER_ONE ? 1 : row_stat;
}

static real row_exp(const Config *c, idx n, real *z, real *spare) {
  if (c->normalizer == NORMALIZER_ONE) {
    vec_exp(n, z, z, 0);
    return 0;
  }
  real top = vec_max(n, z);
  if (c->normalizer == NORMALIZER_PNORM) {
    real p = (real)c->pnorm;
    for (idx j = 0; j < n; j++) {
      z[j] -= top;
      spare[j] = p * z[j];
    }
    vec_exp(n, spare, spare, 0);
    real shift = real_log(vec_sum(n, spare)) / p;
    vec_exp(n, z, z, shift);             /* a = e^(z - log Z) */
    return top + shift;
  }
  vec_exp(n, z, z, top);                 /* s e^-top */
  real sum = vec_sum(n, z), log_sum = top + real_log(sum);
  if (c->normalizer == NORMALIZER_CLAMP && log_sum < 0)
    sum = real_exp(-top);                /* Z = 1 */
  vec_scale(n, z, 1 / sum);
  return log_sum;
}

/* z [n] becomes the weights a = s/Z. Returns row_stat. spare [n] is scratch. */
static real row_forward(const Config *c, idx n, real *z, real *spare) {
  if (c->sim == SIM_EXP)
    return row_exp(c, n, z, spare);
  SIMS[c->sim](n, z, spare, NULL);
  real row_stat = vec_sum(n, spare);
  if (c->normalizer == NORMALIZER_PNORM)
    row_stat = vec_p_norm(n, spare, c->pnorm, z);
  copy(z, spare, n);
  over_Z(n, z, row_normalizer(c, row_stat));
  return row_stat;
}

/* a = s/Z, deriv = s'/Z, dlogz = dlog Z/dz, from z; all [n]. */
static void row_backward(const Config *c, idx n, const real *z, real row_stat,
                         real *a, real *deriv, real *dlogz) {
  bool is_exp = c->sim == SIM_EXP, one = c->normalizer == NORMALIZER_ONE;
  if (c->normalizer == NORMALIZER_CLAMP)   /* [T15] is Z = 1? */
    one = is_exp ? !(row_stat > 0) : real_abs(row_stat) <= 1;
  if (is_exp) {                          /* s' = s, and e^(z - log Z) */
    vec_exp(n, a, z, one ? 0 : row_stat);
    copy(deriv, a, n);
  } else {
    real Z = row_normalizer(c, row_stat);
    SIMS[c->sim](n, z, a, deriv);
    over_Z(n, a, Z);
    over_Z(n, deriv, Z);
  }
  copy(dlogz, deriv, n);                 /* s'/Z */
  if (one)
    zero(dlogz, n);
  else if (c->normalizer == NORMALIZER_CLAMP && row_stat < 0)
    vec_scale(n, dlogz, -1);             /* Z = -sum; e^z has no such row */
  else if (c->normalizer == NORMALIZER_PNORM && is_exp) {   /* (s/Z)^p */
    for (idx j = 0; j < n; j++)
      dlogz[j] = (real)c->pnorm * (z[j] - row_stat);
    vec_exp(n, dlogz, dlogz, 0);
  } else if (c->normalizer == NORMALIZER_PNORM) {
    /* |a|^(p-1) sign(a) s'/Z, by halves as in 3.6 */
    vec_pow(n, dlogz, a, (real)((c->pnorm - 1) / 2));
    for (idx j = 0; j < n; j++) {
      real x = dlogz[j] * (dlogz[j] * deriv[j]);
      dlogz[j] = a[j] < 0 ? -x : x;
      if (a[j] == 0)
        dlogz[j] = 0;
    }
  }
}

const RowKind PAPER_ROW = {.plain = row, .forward = row_forward,
                           .backward = row_backward,
                           .normalizer = row_normalizer, .metric = row_metric};

/* ----------
 * 14.2  Attention by tiles
 *
 * 3.7 by matrix multiplies. A head goes down its rows in tiles of R <= TILE
 * queries; a tile meets all n = hi - lo keys that any of its queries sees.
 * Forward: q k^T and a v, with 14.1 row by row between. Backward: z again,
 * da = do v^T, dq = dz k, dk += dz^T q, dv += a^T do.
 *
 * FlashAttention (Dao et al. 2022) cuts the keys too, by online softmax. Whole
 * rows serve every sim and Z. For D = 96, N = 2048 a thread has 4.8 MB: 0.8 of
 * rows, the rest copies of k, v, dk and dv. Test: tiles__as_plain. */
enum { TILE = 32 };

/* A task's sizes and scratch. Transposed k and v let products read rows. x, dk
 * and dv are copies: in place a head's rows are up to a page apart. */
typedef struct Tile {
  idx ld;                                /* length of a row of z, a, da */
  idx lo, n;                             /* its keys lo .. lo+n */
  real *kt, *vt;                         /* [D,ld] [D,ld] */
  real *x, *dk, *dv;                     /* [N,D]; x: v or, backward, k */
  real *z, *a, *da;                      /* [TILE,ld]; z becomes a, or dz */
  real *deriv, *dlogz, *y;               /* [ld] of one row; y: of a seam */
} Tile;

/* Stride of rows of 1 + N numbers, whole cache lines. tile_of begins z a number
 * before a line, so that the first key begins one. */
static idx tile_row(idx N) { return (N + 16) / 16 * 16; }
static idx tile_size(const Config *c, idx N) {
  return (5 * c->head_dim + 3 * TILE + 3) * tile_row(N) + 64;
}

/* to [N,D] = from [N,D], rows ldt and ld apart. */
static void copy_rows(real *to, idx ldt, const real *from, idx ld, idx N,
                      idx D) {
  for (idx j = 0; j < N; j++)
    copy(to + j * ldt, from + j * ld, D);
}

/* A Tile in this thread's scratch: transposes k to kt, copies x [N,D]. */
static Tile tile_of(const Acts *a, const Head *h, const real *x) {
  idx D = h->D, N = h->N, ld = tile_row(N), size = D * ld, tile = TILE * ld;
  real *at = attention_scratch(a), *z = at + 5 * size + 15;
  Tile t = {.ld = ld, .kt = at, .vt = at + size,
            .x = at + 2 * size, .dk = at + 3 * size, .dv = at + 4 * size,
            .z = z, .a = z + tile, .da = z + 2 * tile, .deriv = z + 3 * tile,
            .dlogz = z + 3 * tile + ld, .y = z + 3 * tile + 2 * ld};
  transpose(t.kt, ld, h->k, h->of_k, N, D);
  copy_rows(t.x, D, x, h->of_k, N, D);
  return t;
}

/* The first key that rows from i0 on see, and the end of the keys that rows
 * below i1 see; some between are masked (prefix, window). */
static idx keys_begin(const Config *c, int w, idx i0) {
  idx lo = 0;
  if (w && i0 >= w)
    lo = i0 - w + 1;
  if (c->prefix)
    lo = at_most(lo, c->sink_token);
  return lo;
}
static idx keys_end(const Config *c, idx N, idx i1) {
  idx hi = c->sink_token + c->prefix;
  if (c->prefix && i1 < hi)
    return at_most(hi, N);
  return i1;
}

/* Begins a tile of rows from i0 to the next multiple of TILE, so that rows made
 * from a cache have the bits of a whole forward. Fills t->z with q k^T, after a
 * place for *. Returns the number of rows. */
static idx tile_begin(const Model *m, const Acts *a, const Head *h, Tile *t,
                      idx i0) {
  idx start = i0 - i0 % TILE, end = at_most(start + TILE, h->N), R = end - i0;
  const real *q = h->q + (i0 - a->past) * h->of_q;
  t->lo = keys_begin(&m->c, h->window, start);
  t->n = keys_end(&m->c, h->N, end) - t->lo;
  matmul_here(t->z + 1, t->ld, rows_of(q, h->of_q),
              rows_of(t->kt + t->lo, t->ld), R, t->n, h->D, false);
  return R;
}

/* z, row i's in t->z, becomes scores of the tile's first keys; returns how
 * many. */
static idx tile_scores(const Model *m, const Acts *a, Head *h, const Tile *t,
                       idx i, real *z) {
  const Config *c = &m->c;
  int w = h->window;
  idx seen = keys_end(c, h->N, i + 1) - t->lo;
  real *keys = z + 1;                    /* [j]: key lo + j */
  vec_scale(seen, keys, h->root);
  if (h->bias)
    vec_add(seen, keys, h->bias + t->lo - i);
  for (idx j = 0; (w || c->prefix) && j < seen; j++)
    if (!visible(c, w, i, t->lo + j))
      keys[j] = -INFINITY;
  z[0] = star_score(h, h->q + (i - a->past) * h->of_q);
  h->at.i = i;
  h->at.lo = t->lo;
  if (m->seams.scores)
    m->seams.scores(m, a, &h->at, seen, z, t->y);
  return seen;
}

/* z, row i's in t->z, becomes weights; fills the maps. */
static void tile_weights(const Model *m, const Acts *a, Head *h, const Tile *t,
                         idx i, real *z) {
  const Config *c = &m->c;
  const Seams *s = &m->seams;
  idx seen = tile_scores(m, a, h, t, i, z), r = i - a->past;
  if (a->probe)
    copy(t->a, z, seen + 1);
  real row_stat = h->row_stat[r] = s->row->forward(c, seen + 1, z, t->deriv);
  zero(z + 1 + seen, t->n - seen);       /* the product reads all */
  if (a->probe)
    s->row->metric(c, seen + 1, z, s->row->normalizer(c, row_stat), t->dlogz);
  if (s->weights)
    s->weights(m, a, &h->at, seen, z);
  map_rows(c, h, r, seen, t->a, z, t->dlogz);
}

/* One head forward, for rows a->past .. N-1; the rows before are cached. Row i
 * is row i of k and v, and row i - past of q, o, row_stat and maps. */
static void tiled_head(const Model *m, const Acts *a, Head *h, Tile *t) {
  for (idx i0 = a->past, R; i0 < h->N; i0 += R) {
    R = tile_begin(m, a, h, t, i0);
    real *o = h->o + (i0 - a->past) * h->of_q;
    for (idx i = 0; i < R; i++)
      tile_weights(m, a, h, t, i0 + i, t->z + i * t->ld);
    matmul_here(o, h->of_q, rows_of(t->z + 1, t->ld),
                rows_of(t->x + t->lo * h->D, h->D), R, h->D, t->n, false);
    for (idx i = 0; i < R; i++, o += h->of_q) {   /* o = scale (a v + a_* v*) */
      if (h->vstar)
        add_times(h->D, o, t->z[i * t->ld], h->vstar);
      vec_scale(h->D, o, h->scale);
    }
  }
}

/* THREADS OF A PASS. A thread that waits spins for some milliseconds, so n
 * threads use the time of n cores, unless another program takes some: then all
 * wait for the thread without a core. Once the passes have missed 20 ms of CPU
 * time, 0.3 of a core forgiven, one thread is dropped; a second later all are
 * tried. An Acts's first pass takes the free cores alone: a short run ends
 * before anything is measured. Of n threads as many as there are tasks count.
 * With `begins` nothing was missed since the last call. */
static void pace(Acts *a, bool begins, idx tasks) {
  double now = seconds(), cpu = cpu_seconds();
  int n = workers(), next = (int)at_most(n, a->threads);
  if (!begins && a->seen > 0)   /* nothing is lost before the first call */
    a->lost = fmax(0, a->lost + ((double)at_most(n, tasks) - 0.3)
                   * (now - a->seen) - (cpu - a->cpu));
  if (a->seen == 0)
    next = free_cores(next);
  else if (n > 1 && a->lost > 0.02)
    next = n - 1;
  else if (a->retry > 0 && now > a->retry)
    next = a->threads;
  if (next != n) {
    set_workers(next);
    a->lost = 0;
    a->retry = next < n ? now + 1 : 0;
  }
  a->seen = now;
  a->cpu = cpu;
}

/* attention_forward (3.7): R rows of q and o, past + R rows of k and v. */
void tiled_forward(const Model *m, Acts *a, int l, int B, idx R) {
  idx K = m->c.kv_heads, group = m->c.heads / K, N = a->past + R;
  pace(a, m->seams.begin, B * K);   /* a file may keep threads waiting */
  PARALLEL
  for (idx task = 0; task < B * K; task++) {
    Head h = head_of(m, a, l, task * group, N);
    Tile t = tile_of(a, &h, h.v);
    for (idx g = 0; g < group; g++) {
      h = head_of(m, a, l, task * group + g, N);
      tiled_head(m, a, &h, &t);
    }
  }
}

/* dz = s'/Z (scale da) - dlogz delta for a row: delta has the scale, da not. */
WIDE(row_gradient,
     (idx n, real *restrict dz, const real *restrict deriv,
      const real *restrict dlogz, const real *restrict da, real scale,
      real delta),
     (n, dz, deriv, dlogz, da, scale, delta)) {
  for (idx j = 0; j < n; j++)
    dz[j] = deriv[j] * (scale * da[j]) - dlogz[j] * delta;
}

/* Row i backward, which begins at `at` in the tile's arrays: z goes from q k^T
 * to dz/sqrt(D), a becomes scale a. */
static void tile_row_backward(Model *m, const Acts *a, Head *h, const Tile *t,
                              idx i, idx at) {
  const Seams *s = &m->seams;
  real *z = t->z + at, *w = t->a + at, *da = t->da + at;
  idx seen = tile_scores(m, a, h, t, i, z);
  /* a_ij = s_ij / Z_i; masked: a = deriv = dlogz = dz = 0 */
  s->row->backward(&m->c, seen + 1, z, h->row_stat[i], w, t->deriv, t->dlogz);
  if (s->weights_backward)
    s->weights_backward(m, a, &h->at, seen, w, da);
  real delta = h->scale * vec_dot(seen + 1, w, da);
  row_gradient(seen + 1, z, t->deriv, t->dlogz, da, h->scale, delta);
  if (s->weights)
    s->weights(m, a, &h->at, seen, w);
  if (s->scores_backward)
    s->scores_backward(m, a, &h->at, seen, z, t->y);
  /* z_ij = .. + b(i-j), z_i* = logit: both take dz without 1/sqrt(D) */
  if (h->dbias)
    vec_add(seen, h->dbias + t->lo - i, z + 1);
  *h->dlogit += z[0];
  vec_scale(seen + 1, z, h->root);
  vec_scale(seen + 1, w, h->scale);
  zero(z + 1 + seen, t->n - seen);
  zero(w + 1 + seen, t->n - seen);
}

/* head_backward (3.7) for a tile from row i0, with the scale in delta, dz and a
 * instead of da. */
static void tile_backward(Model *m, const Acts *a, Head *h, Tile *t, idx i0) {
  idx D = h->D, ld = t->ld, of_q = h->of_q, R = tile_begin(m, a, h, t, i0);
  idx n = t->n, from = t->lo * D;
  const real *q = h->q + i0 * of_q, *dout = h->dout + i0 * of_q;   /* [R,D] */
  real *dq = h->dq + i0 * of_q;
  /* o_i = scale (sum_j a_ij v_j + a_i* v*), without the scale */
  matmul_here(t->da + 1, ld, rows_of(dout, of_q), rows_of(t->vt + t->lo, ld), R,
              n, D, false);
  for (idx i = 0; i < R; i++) {
    t->da[i * ld] = 0;
    if (h->vstar)
      t->da[i * ld] = vec_dot(D, dout + i * of_q, h->vstar);
    tile_row_backward(m, a, h, t, i0 + i, i * ld);
  }
  /* z_ij = <q_i, k_j>/sqrt(D): all of dq, but this tile's part of dk */
  matmul_here(dq, of_q, rows_of(t->z + 1, ld), rows_of(t->x + from, D), R, D, n,
              false);
  matmul_here(t->dk + from, D, transpose_of(t->z + 1, ld), rows_of(q, of_q), n,
              D, R, true);
  matmul_here(t->dv + from, D, transpose_of(t->a + 1, ld), rows_of(dout, of_q),
              n, D, R, true);
  for (idx i = 0; i < R; i++, dq += of_q, q += of_q, dout += of_q) {
    real dz = t->z[i * ld];              /* z_i* = <q_i, k*>/sqrt(D), a_i* v* */
    if (h->kstar) {
      add_times(D, dq, dz, h->kstar);
      add_times(D, h->dkstar, dz, q);
    }
    if (h->vstar)
      add_times(D, h->dvstar, t->a[i * ld], dout);
  }
}

/* attention_backward (3.7). A task owns its key head's dk and dv. */
void tiled_backward(Model *m, Acts *a, int l, int B, idx N) {
  idx D = m->c.head_dim, K = m->c.kv_heads, group = m->c.heads / K, of_k = K * D;
  pace(a, false, B * K);
  PARALLEL
  for (idx task = 0; task < B * K; task++) {
    Head h = head_of(m, a, l, task * group, N);
    Tile t = tile_of(a, &h, h.k);
    transpose(t.vt, t.ld, h.v, of_k, N, D);   /* for da = do v^T */
    copy_rows(t.dk, D, h.dk, of_k, N, D);
    copy_rows(t.dv, D, h.dv, of_k, N, D);
    for (idx g = 0; g < group; g++) {
      h = head_of(m, a, l, task * group + g, N);
      for (idx i0 = 0; i0 < N; i0 += TILE)
        tile_backward(m, a, &h, &t, i0);
    }
    copy_rows(h.dk, of_k, t.dk, D, N, D);
    copy_rows(h.dv, of_k, t.dv, D, N, D);
  }
}

/* ----------
 * 14.3  The memory of a model and of a pass
 *
 * Heads lie side by side in a row of q, k, v and o: [B,N,H,D] and [B,N,K,D]. */

/* A slot: the dk*, dv*, dv+, dlogit of one head of one sequence. */
static idx slot_size(const Config *c) { return 3 * c->head_dim + 1; }

/* N keys, of which a->past are cached, and the R queries after these. The loops
 * of 3.7 have past = 0, so R = N. */
static Head head_of(const Model *m, const Acts *a, int l, idx bh, idx N) {
  const Config *c = &m->c;
  const Layer *w = &m->layer[l];
  const LayerActs *la = &a->layer[l];
  idx D = c->head_dim, H = c->heads, K = c->kv_heads, R = N - a->past;
  idx b = bh / H, h = bh % H, star0 = (c->extra_shared ? 0 : h) * D;
  idx q0 = b * R * H * D + h * D, k0 = b * N * K * D + h / (H / K) * D;
  Head head = {
    .at = {.l = l, .b = b, .h = h}, .N = N, .D = D, .of_q = H * D,
    .of_k = K * D, .window = w->window, .root = w->root, .scale = (real)c->scale,
    .q = la->fq + q0, .k = la->fk + k0, .v = la->v + k0,
    .kstar = offset(w->kstar.w, star0), .vstar = offset(w->vstar.w, star0),
    .bias = offset(a->bias, h * (2 * a->N - 1) + a->N - 1), .o = la->o + q0,
    .row_stat = la->row_stat + bh * R, .first = bh * R};
  if (c->extra == EXTRA_NONE)
    head.star = -INFINITY;
  if (a->vfixed)
    head.vstar = a->vfixed;
  if (w->logit.w)
    head.star = w->logit.w[h];
  if (a->probe)
    head.map = a->probe[l];
  if (!a->dq)
    return head;
  head.dout = a->dout + q0;
  head.dq = a->dq + q0;
  head.dk = a->dk + k0;
  head.dv = a->dv + k0;
  head.dkstar = a->slot + bh * slot_size(c);
  head.dvstar = head.dkstar + D;
  head.dvplus = head.dvstar + D;
  head.dlogit = head.dvplus + D;
  head.dbias = offset(a->dbias, bh * (2 * N - 1) + N - 1);
  return head;
}

/* Row i of each map that is asked for: z, weight times the scale, or metric, at
 * * and n keys from h->at.lo on; else 0. */
static void map_rows(const Config *c, const Head *h, idx i, idx n,
                     const real *z, const real *weight, const real *metric) {
  real *const maps[] = {h->map.z, h->map.weight, h->map.metric};
  const real *const rows[] = {z, weight, metric};
  idx extra = c->extra != EXTRA_NONE, S = h->N + extra;
  for (int k = 0; k < 3; k++) {
    const real *from = rows[k], factor = k == 1 ? h->scale : 1;
    if (!maps[k])
      continue;
    real *to = maps[k] + (h->first + i) * S;
    zero(to, S);
    if (extra && z[0] != -INFINITY)
      to[0] = factor * from[0];
    for (idx j = 0; j < n; j++)
      if (z[1 + j] != -INFINITY)
        to[extra + h->at.lo + j] = factor * from[1 + j];
  }
}

static void slots_begin(Model *m, Acts *a, int l, int B, idx N) {
  const Config *c = &m->c;
  idx kv = B * N * c->kv_heads * c->head_dim;
  zero(a->dk, kv);
  zero(a->dv, kv);
  zero(a->slot, B * c->heads * slot_size(c));
  if (m->seams.slots)
    m->seams.slots(m, a, l, B, N, true);
}

/* Adds n numbers of a slot to row r of dt, if the variant has t. */
static void take_slot(Tensor *t, idx r, const real *slot, idx n) {
  if (t->d)
    vec_add(n, t->d + r * n, slot);
}

/* Adds up the slots [B,H] in order. [T12] Shared k*, v* have row 0. [T13]
 * Frozen dims of k* get 0. */
static void slots_end(Model *m, Acts *a, int l, int B, idx N) {
  const Config *c = &m->c;
  Layer *w = &m->layer[l];
  idx D = c->head_dim, H = c->heads;
  for (idx bh = 0; bh < B * H; bh++) {
    real *slot = a->slot + bh * slot_size(c);
    idx h = bh % H, star = c->extra_shared ? 0 : h;
    for (int d = 0; d < D; d++)
      if (!config_learned_dim(c, d))
        slot[d] = 0;
    take_slot(&w->kstar, star, slot, D);
    take_slot(&w->vstar, star, slot + D, D);
    take_slot(&w->vplus, h, slot + 2 * D, D);
    take_slot(&w->logit, h, slot + 3 * D, 1);
  }
  if (m->seams.slots)
    m->seams.slots(m, a, l, B, N, false);
}

static int model_begin(Model *m, const Config *c, Error *e) {
  *m = (Model){.c = *c, .embed = c->dim, .seams = {.row = &PAPER_ROW}};
  m->layer = grab(c->layers, sizeof(Layer), e);
  for (int l = 0; m->layer && l < c->layers; l++) {
    Layer *w = &m->layer[l];
    w->mix = mhsa_forward;
    w->feed = feed_forward;
    w->window = c->window;
    w->root = (real)(1 / sqrt((double)c->head_dim));
  }
  if (!e->status && !MORE_SETUP(m, e))
    m->all = grab(c->layers * (idx)(64 + m->seams.tensor_room) + 16,
                  sizeof *m->all, e);
  if (e->status)
    model_free(m);
  return e->status;
}

/* Memory for all w, or all d, in the list's order; NULL and an error
 * without. */
static real *tensors_lay(Model *m, bool gradients, Error *e) {
  real *all = grab(m->count, sizeof(real), e), *at = all;
  for (int i = 0; all && i < m->n_tensors; i++) {
    Tensor *t = m->all[i];
    if (gradients)
      t->d = at;
    else
      t->w = at;
    at += tensor_count(t);
  }
  return all;
}

static int model_grads(Model *m, Error *e) {
  const char *what = m->seams.forward_only;
  if (what)
    return fail(e, 2,
                "%s: cannot be trained. Try: ./hf eval MODEL, or without it",
                what);
  m->grads = tensors_lay(m, true, e);
  return e->status;
}

/* A model with all parameters 0. c is resolved. On failure there is nothing to
 * free. A Model must not move: its list points into it. The paper's takes 546
 * MB in float, and as much for gradients. */
int model_create(Model *m, const Config *c, bool with_grads, Error *e) {
  if (model_list(m, c, e))
    return e->status;
  m->params = tensors_lay(m, false, e);
  if (with_grads)
    model_grads(m, e);
  if (e->status)
    model_free(m);
  return e->status;
}

void model_free(Model *m) {
  if (m->seams.close)
    m->seams.close(m);
  free(m->all);
  free(m->layer);
  free(m->params);
  free(m->grads);
  *m = (Model){0};
}

void model_zero_grads(Model *m) {
  idx piece = 4096;
  PARALLEL
  for (idx at = 0; at < m->count; at += piece)
    zero(m->grads + at, at_most(m->count - at, piece));
}

/* The numbers of an Acts lie in one arena: a pass allocates only panels (13.2).
 * Walks over lists of its arrays add up their sizes, then place them. */
typedef struct Room { real **at; idx n; } Room;   /* an array of n numbers */

/* Up to a row {0}. What the variant lacks is NULL. Sizes round up to 16, for
 * alignment. */
static void arena_take(Acts *a, const Room *room) {
  for (; room->at; room++) {
    *room->at = a->arena && room->n ? a->arena + a->size : NULL;
    a->size += (room->n + 15) / 16 * 16;
  }
}

/* A block's arrays except its keys and values. */
static void take_layer(const Model *m, Acts *a, LayerActs *la, idx rows,
                       bool keeps) {
  const Config *c = &m->c;
  idx C = rows * c->dim, F = rows * c->ffn, heads = rows * c->heads;
  idx Q = heads * c->head_dim, K = rows * c->kv_heads * c->head_dim;
  bool phi = c->kernel != KERNEL_IDENTITY, mlp = c->kernel == KERNEL_MLP;
  const Room room[] = {
    {&la->n1, C}, {&la->n1stat, 2 * rows}, {&la->q, Q}, {&la->fq, phi * Q},
    {&la->hq, mlp * Q}, {&la->hk, mlp * K}, {&la->row_stat, heads}, {&la->o, Q},
    {&la->osum, (c->combine == COMBINE_ADD) * rows * c->head_dim},
    {&la->s1, C}, {&la->n2, C}, {&la->n2stat, 2 * rows}, {&la->f1, F},
    {&la->f2, config_gated(c) * F}, {&la->fa, F}, {&la->s2, C}, {0}};
  arena_take(a, room);
  if (!phi)
    la->fq = la->q;
  if (c->combine == COMBINE_CONCAT)
    la->osum = la->o;
  if (m->seams.room)
    m->seams.room(m, a, la, keeps);
}

static void take_all(const Model *m, Acts *a, int what) {
  const Config *c = &m->c;
  bool all = what == ACTS_ALL, phi = c->kernel != KERNEL_IDENTITY;
  bool add = c->combine == COMBINE_ADD;
  idx N = a->N, rows = a->B * N, C = rows * c->dim, F = rows * c->ffn;
  idx heads = (idx)a->B * c->heads, Q = heads * N * c->head_dim;
  idx K = rows * c->kv_heads * c->head_dim;
  idx half = (c->pos == POS_ROTARY) * N * (c->rotary_dims / 2);
  a->size = (idx)((64 - (uintptr_t)a->arena % 64) / sizeof(real));
  a->scratch_size = tile_size(c, N);
  const Room room[] = {
    {&a->h0, C}, {&a->fnorm, C}, {&a->nfstat, 2 * rows},
    {&a->scratch, a->threads * a->scratch_size}, {&a->cosine, half},
    {&a->sine, half}, {&a->sinusoid, (c->pos == POS_ABSOLUTE) * N * c->dim},
    {&a->bias, (c->pos >= POS_RELATIVE) * c->heads * (2 * N - 1)},
    {&a->vfixed, (c->extra_value != VALUE_ZERO) * c->head_dim},
    {&a->slice, (idx)SLICE * c->dim}, {&a->logits, (idx)SLICE * c->vocab}, {0}};
  /* the backward's own; its blocks use them in turn */
  const Room backward[] = {
    {&a->dslice, (idx)SLICE * c->dim}, {&a->dh, C}, {&a->dx, C}, {&a->dn, C},
    {&a->dq, Q}, {&a->dk, K}, {&a->dv, K}, {&a->dout, Q},
    {&a->dosum, add * rows * c->head_dim},
    {&a->dphi, Q}, {&a->df1, F}, {&a->df2, F},
    {&a->slot, heads * slot_size(c)},
    {&a->dbias, (c->pos == POS_T5) * heads * (2 * N - 1)}, {0}};
  arena_take(a, room);
  for (int l = 0; l < c->layers; l++) {
    LayerActs *la = &a->layer[l];
    *la = a->layer[0];
    if (l == 0 || all)
      take_layer(m, a, la, rows, all);
    la->cosine = a->cosine;
    la->sine = a->sine;
    if (l > 0 && what == ACTS_ONE)       /* later rows read k and v */
      continue;
    arena_take(a, (Room[]){{&la->k, K}, {&la->v, K}, {&la->fk, phi * K}, {0}});
    if (!phi)
      la->fk = la->k;
  }
  if (all)
    arena_take(a, backward);
  if (!add)
    a->dosum = a->dout;
  if (m->seams.room)
    m->seams.room(m, a, NULL, all);
}

/* An Acts with its sizes, and no arena yet. */
static void acts_plan(Acts *a, const Model *m, int B, int T, int what,
                      Error *e) {
  *a = (Acts){.B = B, .T = T, .N = config_rows(&m->c, T), .threads = workers()};
  a->layer = grab(m->c.layers, sizeof(LayerActs), e);
  if (!e->status)
    take_all(m, a, what);
}

idx acts_size(const Model *m, int B, int T, int what, Error *e) {
  Acts a;
  acts_plan(&a, m, B, T, what, e);
  free(a.layer);
  return a.size;
}

/* Room for B sequences of T tokens, all 0 but position tables and v*. A pass
 * must not use more threads than there are now. On failure nothing is held. */
int acts_create(Acts *a, const Model *m, int B, int T, int what, Error *e) {
  acts_plan(a, m, B, T, what, e);
  a->loss_row = grab((idx)B * T, sizeof(double), e);
  a->arena = grab(a->size, sizeof(real), e);
  if (e->status) {
    acts_free(a);
    return e->status;
  }
  take_all(m, a, what);
  positions_tabulate(&m->c, a, a->N);
  if (a->vfixed)
    fixed_value(&m->c, a->vfixed);
  return 0;
}

void acts_free(Acts *a) {
  free(a->layer);
  free(a->loss_row);
  free(a->arena);
  if (a->retry > 0)
    set_workers(a->threads);
  *a = (Acts){0};
}

/* ==========
 * 15  Files, memory, random numbers, errors
 *
 * All that the program needs beyond the C library: POSIX calls, and in the
 * first branch what Windows has instead. */

#include <dirent.h>
#include <sys/stat.h>
#ifdef _WIN32
#include <direct.h>
#include <fcntl.h>
#include <io.h>
#define NEW_FILE "wb"
#define unlink _unlink   /* fails on an open file */
#define fileno _fileno
#define isatty _isatty
#define own_path(path, room) 0
#define make_folder _mkdir
#define to_disk(f) (!_commit(fileno(f)))
/* In text mode each \n would become two bytes. */
static void streams_begin(void) {
  for (int f = 0; f < 3; f++)
    _setmode(f, _O_BINARY);
}
/* rename() replaces no file; this does, and waits for the disk. */
__declspec(dllimport) int __stdcall MoveFileExA(const char *, const char *,
                                                unsigned long);
static bool take_name(const char *from, const char *to) {
  errno = EACCES;   /* if it fails */
  return MoveFileExA(from, to, 1 | 8) != 0;
}
/* clock() is wall time there. */
double seconds(void) { return (double)clock() / CLOCKS_PER_SEC; }
double cpu_seconds(void) { return INFINITY; }   /* unknown: none is lost */
#else
#include <unistd.h>
#define NEW_FILE "wbx"   /* x: not one that another process has just made */
#define own_path(path, room) readlink("/proc/self/exe", path, room)
#define make_folder(path) mkdir(path, 0777)
/* EINVAL, ENOTSUP: a file system without fsync. */
static bool to_disk(FILE *f) {
  return !fsync(fileno(f)) || errno == EINVAL || errno == ENOTSUP;
}
/* So a file over its size limit fails like a full disk, and kills nothing. */
static void streams_begin(void) { signal(SIGXFSZ, SIG_IGN); }
static bool take_name(const char *from, const char *to) {
  return !rename(from, to);
}
double cpu_seconds(void) { return (double)clock() / CLOCKS_PER_SEC; }
double seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}
#endif

#ifdef _OPENMP
int set_workers(int n) {
  omp_set_num_threads(n > 0 ? n : omp_get_num_procs());
  return 0;
}
#else
#define omp_get_num_procs() 1
#define omp_get_thread_num() 0
#define omp_get_max_threads() 1
int set_workers(int n) { return n > 1; }
#endif
int worker(void) { return omp_get_thread_num(); }
int workers(void) { return omp_get_max_threads(); }

int fail(Error *e, int status, const char *format, ...) {
  if (e->status)
    return e->status;
  va_list args;
  va_start(args, format);
  vsnprintf(e->text, sizeof e->text, format, args);
  va_end(args);
  /* One line, whatever the names in it hold. */
  for (char *c = e->text; *c; c++)
    if (iscntrl((unsigned char)*c))
      *c = '?';
  return e->status = status;
}

void *grab(idx count, size_t size, Error *e) {
  void *p = NULL;
  if ((uint64_t)count <= PTRDIFF_MAX / size)   /* a count below 0 is huge */
    p = calloc((size_t)count + !count, size);
  if (!p)
    fail(e, 1, "out of memory: %.1f MB needed. Try: a smaller --T, --batch, "
         "--context, --dim, --layers or --vocab, or fewer --threads",
         (double)count * (double)size / 1e6);
  return p;
}

uint64_t rng_next(Rng *r) {
  uint64_t x = (r->state += 0x9E3779B97F4A7C15u);
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
  return x ^ (x >> 31);
}
double rng_uniform(Rng *r) { return (double)(rng_next(r) >> 11) * 0x1p-53; }
/* Each number's probability, 1/n, has a relative error below 2 n / 2^53. */
uint64_t rng_below(Rng *r, uint64_t n) {
  return (uint64_t)(rng_uniform(r) * (double)n);
}
double rng_normal(Rng *r) {
  double u = 1 - rng_uniform(r), v = rng_uniform(r);   /* u in (0,1] */
  return sqrt(-2 * log(u)) * cos(2 * PI * v);
}

/* FNV-1a (Fowler, Noll and Vo), then one SplitMix64 step. */
uint64_t hash_end(uint64_t h) { return rng_next(&(Rng){h}); }
uint64_t hash_add(uint64_t h, const void *bytes, size_t n) {
  const unsigned char *p = bytes;
  for (size_t i = 0; i < n; i++)
    h = (h ^ p[i]) * 0x100000001B3u;
  return h;
}
uint64_t hash64(uint64_t seed, const void *bytes, size_t n) {
  return hash_end(hash_add(HASH_START ^ seed, bytes, n));
}

/* How many bytes are whole UTF-8 characters (RFC 3629). A code below LEAST has
 * a shorter form, and two forms would get two lists of ids. Surrogates (0xD800
 * to 0xDFFF) and codes above 0x10FFFF are no characters. */
size_t utf8_length(const unsigned char *text, size_t n) {
  static const uint32_t LEAST[] = {0, 0x80, 0x800, 0x10000};
  for (size_t at = 0, more; at < n; at += more + 1) {
    uint32_t code = text[at];
    more = (size_t)(code >= 0xC0) + (code >= 0xE0) + (code >= 0xF0);
    if (code >> 6 == 2 || code >= 0xF8 || n - at <= more)
      return at;
    code &= 0x7Fu >> more;
    for (size_t i = 1; i <= more; i++) {
      if (text[at + i] >> 6 != 2)
        return at;
      code = code << 6 | (text[at + i] & 0x3F);
    }
    if (code < LEAST[more] || code >> 11 == 0x1B || code > 0x10FFFF)
      return at;
  }
  return n;
}

/* Room doubles, so n bytes in small pieces cost at most 3 n copied ones. Adding
 * nothing also makes b->at non-NULL. */
int bytes_add(Bytes *b, const void *from, size_t n, Error *e) {
  if (!b->at || n > b->room - b->size) {
    size_t need = b->size + n, room = 2 * need + 256;
    void *at = NULL;
    if (need >= n && room > need)   /* neither is too large for a size_t */
      at = realloc(b->at, room);
    if (!at)
      return fail(e, 1, "out of memory: %zu bytes needed. Try: a smaller file",
                  need);
    b->at = at;
    b->room = room;
  }
  if (n)
    memcpy(b->at + b->size, from, n);
  b->size += n;
  return 0;
}
int bytes_print(Bytes *b, Error *e, const char *format, ...) {
  char text[2048];
  va_list args;
  va_start(args, format);
  int n = vsnprintf(text, sizeof text, format, args);
  va_end(args);
  if (n < 0 || n >= (int)sizeof text)
    return fail(e, 1, "a text of %d bytes is too long. Try: a shorter one", n);
  return bytes_add(b, text, (size_t)n, e);
}
void bytes_free(Bytes *b) {
  free(b->at);
  *b = (Bytes){0};
}

void number_put(unsigned char *p, uint64_t x, int bytes) {
  for (int i = 0; i < bytes; i++)
    p[i] = (unsigned char)(x >> (8 * i));
}
uint64_t number_at(const unsigned char *p, int bytes) {
  uint64_t x = 0;
  for (int i = bytes - 1; i >= 0; i--)
    x = x << 8 | p[i];
  return x;
}

/* Appends to out, which the caller always frees. */
int file_read(const char *path, Bytes *out, Error *e) {
  FILE *f = strcmp(path, "-") ? fopen(path, "rb") : stdin;
  unsigned char buffer[1 << 15];
  size_t n;
  if (!f)
    return fail(e, 1, "%s: %s. Try: check the path", path, strerror(errno));
  while ((n = fread(buffer, 1, sizeof buffer, f)) > 0)
    if (bytes_add(out, buffer, n, e))
      break;
  if (ferror(f))
    fail(e, 1, "%s: cannot be read: %s. Try: a file; ./hf imports a published "
         "model's folder", path, strerror(errno));
  if (f != stdin)
    fclose(f);
  return e->status;
}

static int by_name(const void *a, const void *b) { return strcmp(a, b); }
/* The list is sorted: a folder's order is the file system's, and the order of
 * texts decides a training's bits. A broken link counts as a file. */
int files_list(const char *path, Bytes *names, Error *e) {
  char name[1100];
  struct stat is;
  Bytes found = {0};   /* rows as long as name */
  DIR *folder = opendir(path);
  if (!folder)
    return bytes_add(names, path, strlen(path) + 1, e);
  for (struct dirent *at; (at = readdir(folder)) && !e->status;) {
    snprintf(name, sizeof name, "%s/%s", path, at->d_name);
    if (*at->d_name != '.' && (stat(name, &is) || S_ISREG(is.st_mode)))
      bytes_add(&found, name, sizeof name, e);
  }
  closedir(folder);
  if (found.size)
    qsort(found.at, found.size / sizeof name, sizeof name, by_name);
  else
    fail(e, 1, "%s: this folder has no files of its own; folders in it are "
         "not read. Try: a file, or one of them", path);
  for (size_t i = 0; i < found.size; i += sizeof name)
    bytes_add(names, found.at + i, strlen((char *)found.at + i) + 1, e);
  bytes_free(&found);
  return e->status;
}

/* A reader of PATH finds the old file or the new one, whole: bytes go to
 * PATH.new first, made anew even if a killed process left one. Missing folders
 * are made and stay; a link becomes a file. */
int writing_begin(Writing *w, const char *path, Error *e) {
  struct stat is;
  *w = (Writing){.path = path};
  if (e->status)
    return e->status;
  int n = snprintf(w->beside, sizeof w->beside, "%s.new", path);
  if (n >= (int)sizeof w->beside)
    return fail(e, 2, "%.60s..: this path is too long. Try: a shorter one",
                path);
  int why = 0;   /* that a folder could not be made, but for its parent */
  for (char *at = w->beside; (at = strchr(at + 1, '/')); *at = '/') {
    *at = 0;
    if (make_folder(w->beside) && errno != EEXIST && errno != ENOENT)
      why = errno;
  }
  bool device = !strncmp(path, "/dev/std", 8);   /* a link, to a file too */
  if (device || (!stat(path, &is) && !S_ISREG(is.st_mode)))
    return fail(e, 1, "%s: this is a folder or a device. Try: another name",
                path);
  if (!unlink(w->beside) || errno == ENOENT)
    w->f = fopen(w->beside, NEW_FILE);
  if (!w->f)
    fail(e, 1, "%s: cannot be created: %s. Try: another folder", w->beside,
         strerror(why && errno == ENOENT ? why : errno));
  return e->status;
}
/* writing_end reports a fault, by ferror. */
void writing_add(Writing *w, const void *at, size_t n) {
  if (n)
    fwrite(at, 1, n, w->f);
}
/* If two processes write PATH at once, the second takes the name PATH.new from
 * the first, which fails here, unless that happens just before the rename. */
int writing_end(Writing *w, Error *e) {
  struct stat is;
  bool done = !fflush(w->f) && !ferror(w->f) && to_disk(w->f);
  bool lost = !fstat(fileno(w->f), &is) && is.st_nlink == 0;
  if (fclose(w->f))
    done = false;
  if (lost)
    return fail(e, 1, "%s: another process is writing it. Try: another name",
                w->path);
  if (done && !e->status && take_name(w->beside, w->path))
    return 0;
  fail(e, 1, "%s: cannot be written: %s. Try: free some space, or another "
       "folder", w->path, strerror(errno));
  remove(w->beside);
  return e->status;
}
int file_write(const char *path, const void *at, size_t n, Error *e) {
  Writing w;
  if (writing_begin(&w, path, e))
    return e->status;
  writing_add(&w, at, n);
  return writing_end(&w, e);
}

/* How many of `own` threads have a free core, by Linux's count of running
 * threads. The first count takes all of ours as running, though they sleep: it
 * finds too many free, and below 2 is surely 1. Else a loop wakes ours and
 * counts again, for up to 1 ms. */
int free_cores(int own) {
  double begun = seconds();
  for (int all = 0, awake = 0;; awake = 1) {
    FILE *f = fopen("/proc/loadavg", "r");
    if (f && fscanf(f, "%*s %*s %*s %d", &all) != 1)
      all = 0;
    if (f)
      fclose(f);
    int left = (int)at_most(own, omp_get_num_procs() - all + own);
    if (left < 2)
      return 1;
    if (awake && (left == own || seconds() - begun > 1e-3))
      return left;
    PARALLEL
    for (int i = 0; i < own; i++)
      (void)worker();
  }
}

/* Can it be read only once, as standard input or a pipe? */
bool file_is_stream(const char *path) {
  struct stat is;
  return !strcmp(path, "-")
         || (!stat(path, &is) && !S_ISREG(is.st_mode) && !S_ISDIR(is.st_mode));
}

bool file_missing(const char *path) {
  return stat(path, &(struct stat){0}) && errno == ENOENT;
}

/* The program's folder, with its slash, which has data/: from the system's path
 * or else argv[0]; "" if neither has one. */
static void program_folder(char home[PATH_ROOM], const char *name) {
  if (own_path(home, PATH_ROOM - 1) <= 0)
    snprintf(home, PATH_ROOM, "%.500s", name);
  size_t size = strlen(home);
  while (size && !strchr("/\\", home[size - 1]))
    size--;
  home[size] = 0;
}

/* ==========
 * 16  Command line
 *
 * 16.1  One table of options drives parsing, help, checkpoints and config.json.
 * A verb takes the options of its groups. */

const Option OPTIONS[] = {
  WHOLE("layers", MODEL, model.layers, "4", 1, 1024, "blocks (paper: 10)"),
  WHOLE("heads", MODEL, model.heads, "2", 1, 1024,
        "query heads (paper: 8; Table 12)"),
  WHOLE("kv-heads", MODEL, model.kv_heads, "0", 1, 1024,
        "key heads; default: as many as heads"),
  WHOLE("dim", MODEL, model.dim, "64", 1, 1e6,
        "width of the model (paper: 768)"),
  WHOLE("head-dim", MODEL, model.head_dim, "0", 1, 1e6,
        "width of a head; default: dim / heads"),
  WHOLE("ffn", MODEL, model.ffn, "128", 1, 1e6,
        "hidden width (paper: 1536)"),
  WHOLE("vocab", MODEL, model.vocab, "0", 1, 1.6e7,
        "vocabulary; default: the tokenizer's"),
  WHOLE("context", MODEL, model.context, "128", 1, 1.6e7,
        "longest sequence (paper: 2048)"),
  AXIS("pos", MODEL, model.pos, POS, "positions (Table 3, appendix A)"),
  AXIS("norm", MODEL, model.norm, NORM, "RMSNorm or LayerNorm"),
  REAL("norm-eps", MODEL, model.norm_eps, "1e-5", 0, 1,
       "inside the norm's root"),
  AXIS("place", MODEL, model.place, PLACE, "where the norms are (section 7.2)"),
  AXIS("act", MODEL, model.act, ACT,
         "the feed-forward's activation (Table 11)"),
  SWITCH("tied", MODEL, model.tied, "the embedding is the unembedding"),
  AXIS("combine", MODEL, model.combine, COMBINE,
         "how heads are combined (Table 12)"),
  AXIS("kernel", MODEL, model.kernel, KERNEL, "phi (section 7.4, Table 15)"),
  AXIS("sim", MODEL, model.sim, SIM, "similarity s(z) (Table 15)"),
  AXIS("normalizer", MODEL, model.normalizer, NORMALIZER, "Z (Table 15)"),
  REAL("pnorm", MODEL, model.pnorm, "0", 0.1, 1e3,
       "p of --normalizer pnorm; default: 2"),
  REAL("scale", MODEL, model.scale, "1", -1e6, 1e6,
       "factor on the weights (Table 14, eq. 29)"),
  AXIS("extra", MODEL, model.extra, EXTRA, "a null key (Table 4)"),
  SWITCH("extra-shared", MODEL, model.extra_shared,
         "one k*, v* for all heads (Table 12)"),
  WHOLE("extra-dims", MODEL, model.extra_dims, "0", 1, 1e6,
        "learned dims (Table 13) [all]"),
  AXIS("extra-order", MODEL, model.extra_order, ORDER, "which dims those are"),
  AXIS("extra-value", MODEL, model.extra_value, VALUE,
       "v* of a null key (Table 5)"),
  REAL("extra-norm", MODEL, model.extra_norm, "1", -1e6, 1e6,
       "length m of that v*"),
  SWITCH("vbias", MODEL, model.vbias, "a value bias v+ (Table 4)"),
  {"sink-token", MODEL, 'b', AT(model.sink_token), "0", 0, SINK_TOKENS,
                                "[N]", "a learned first row x* (Table 4), or N"},
  WHOLE("window", MODEL, model.window, "0", 1, 1.6e7,
        "keys a row sees (Figure 6) [all]"),
  WHOLE("prefix", MODEL, model.prefix, "0", 0, 1.6e7,
        "tokens that all see, unscored (Figure 5)"),
  WHOLE("rotary-dims", MODEL, model.rotary_dims, "0", 1, 1e6,
        "dims of a head rotated; default: all"),
  REAL("rope-base", MODEL, model.rope_base, "10000", 1, 1e12,
       "base of the rotary frequencies"),
  AXIS("rope-pairing", MODEL, model.rope_pairing, PAIR,
         "which dims rotate together (equation 9)"),
  SWITCH("linear-bias", MODEL, model.linear_bias,
         "biases of q, k, v, o and the ffn"),

  AXIS("init", TRAIN | DUMP, train.init, INIT, "how weights are initialised"),
  WHOLE("batch", TRAIN, train.batch, "8", 1, 1e6,
        "sequences per pass (paper: 512; Table 10)"),
  WHOLE("accumulate", TRAIN, train.accumulate, "1", 1, 1e6,
        "passes per step"),
  WHOLE("steps", TRAIN, train.steps, "2000", 0, 1e9,
        "optimiser steps (paper: 20000)"),
  REAL("lr", TRAIN, train.lr, "4e-3", 0, 1e3,
       "learning rate (paper: 4e-4; Table 9)"),
  REAL("min-lr", TRAIN, train.min_lr, "-1", 0, 1e3,
       "end of the cosine; default: lr / 10"),
  WHOLE("warmup", TRAIN, train.warmup, "100", 0, 1e9,
        "steps of linear warm-up"),
  AXIS("schedule", TRAIN, train.schedule, SCHEDULE, "rate after warm-up"),
  AXIS("optimizer", TRAIN, train.optimizer, OPTIMIZER, "AdamW or SGD"),
  REAL("wd", TRAIN, train.wd, "0.1", 0, 1e3,
       "weight decay gamma, decoupled (Table 2)"),
  AXIS("decay", TRAIN, train.decay, DECAY, "what --wd applies to"),
  REAL("clip", TRAIN, train.clip, "1", 0, 1e9,
       "largest gradient norm; 0: no clipping"),
  REAL("beta1", TRAIN, train.beta1, "0.9", 0, 0.999999, "AdamW's first moment"),
  REAL("beta2", TRAIN, train.beta2, "0.95", 0, 0.999999,
       "AdamW's second moment"),
  REAL("adam-eps", TRAIN, train.adam_eps, "1e-8", 1e-30, 1, "AdamW's epsilon"),
  WHOLE("seed", TRAIN, train.seed, "0", 0, INT32_MAX,
        "of the weights and the data order"),
  WHOLE("save-every", TRAIN, train.save_every, "0", 0, 1e9,
        "steps between saves [last only]"),
  WHOLE("log-every", TRAIN, train.log_every, "100", 1, 1e9,
        "steps between measurements"),

  NAME("text", DATA, data.text, "",
       "file, folder or -; <|endoftext|> ends a document"),
  NAME("tokenizer", DATA | TOKENIZE | GENERATE, data.tokenizer,
       "tokenizer.bin", "the vocabulary"),
  WHOLE("fix-token", DATA | GENERATE, data.fix_token, "0", 0, 1.6e7,
        "place of the token <|fix|> (Table 10); 0: none"),
  STRING("random-tokens", TRAIN, data.random_tokens, "1,2",
         "places of random tokens (section 5)"),
  REAL("data-tokens", TRAIN, data.data_tokens, "0", 1, 1e15,
       "training tokens at most (Figure 5)"),
  SWITCH("bos", DATA | TOKENIZE | GENERATE, data.bos,
         "<|bos|> before every document; or --no-bos"),
  REAL("valid", DATA, data.valid, "0.05", 0, 0.9,
       "share of a training's documents held out"),

  REAL("eps", MEASURE, eps, "0.3", 0, 1, "threshold of Sink (Figure 3)"),
  WHOLE("T", MEASURE, eval_T, "64", 1, 1.6e7,
        "tokens per evaluated sequence"),
  WHOLE("n", EVAL | RUN, eval_n, "100", 1, 1e6, "sequences"),
  WHOLE("k", EVAL, eval_k, "4", 1, 1e6, "print Sink_1 .. Sink_K"),
  AXIS("metric-rows", MEASURE, metric_rows, METRIC,
         "plus1: the authors' form"),
  AXIS("input", MEASURE, input, INPUT, "what the model reads (Table 1)"),
  SWITCH("beyond", EVAL, beyond, "allow --T beyond the model's context"),

  STRING("out", OUTPUT, out, "FILE", "where to write the result"),
  STRING("log", ALONE, log, "FILE", "a CSV line every --log-every steps"),
  SWITCH("quiet", GENERAL, quiet, "no progress"),
  SWITCH("force", OUTPUT | TABLES | FORCE, force,
         "replace existing files"),
  SWITCH("plain", RUN | ALONE | EVAL | GENERATE | DUMP, plain,
         "plain loops (3.7), no tiles; equal up to rounding"),
  WHOLE("threads", GENERAL, threads, "0", 0, 1024,
        "0, the default: all, or OMP_NUM_THREADS; same results"),
  NAME("ids", EVAL | DUMP, ids, "",
       "lines of T+1 token ids; - is stdin"),
  SWITCH("all", DUMP, all, "also q, k, z, features before a post-norm"),
  WHOLE("seed", DUMP, train.seed, "0", 0, INT32_MAX, "of random weights"),
  MORE_OPTIONS {0}
};

enum { VALUE_ROOM = 96 };
/* The name of the option's value, or a choice's words: "exp|elu" of "SIM_EXP,
 * SIM_ELU". */
static const char *option_value(const Option *o, char text[VALUE_ROOM]) {
  char *to = text;
  if (o->kind != 'c')
    return o->value;
  for (const char *at = o->value; (at = strchr(at, '_'));) {
    while (*++at && !strchr(", ", *at))
      *to++ = (char)(*at == '_' ? '-' : tolower((unsigned char)*at));
    *to++ = '|';
  }
  to[-1] = 0;
  return text;
}

/* Word i of a choice; "" beyond the last. */
static const char *option_word(const Option *o, int i, char word[VALUE_ROOM]) {
  char text[VALUE_ROOM];
  const char *at = option_value(o, text);
  while (i-- > 0 && *at)
    at += strcspn(at, "|") + (strchr(at, '|') != NULL);
  snprintf(word, VALUE_ROOM, "%.*s", (int)strcspn(at, "|"), at);
  return word;
}

/* How many letters lie between two words' common beginning and end. */
static int differ(const char *a, const char *b) {
  while (*a && tolower((unsigned char)*a) == *b)
    a++, b++;
  idx n = (idx)strlen(a), m = (idx)strlen(b);
  while (n > 0 && m > 0 && a[n - 1] == b[m - 1])
    n--, m--;
  return (int)(n > m ? n : m);
}
/* The answer to `word`: the nearest of the words looked at. */
typedef struct Near { const char *word; char best[VALUE_ROOM]; int close; } Near;
/* Takes `right` if it is the nearest so far. A third of the word's letters, at
 * most three, may differ; the first, which is rarely wrong, counts twice. */
static void near_look(Near *n, const char *right, const char *answer) {
  int most = (int)at_most(((idx)strlen(n->word) + 2) / 3, 3);
  int close = 10 - differ(n->word, right);
  close -= tolower((unsigned char)*n->word) != *right;
  if (close < 10 - most || close <= n->close)
    return;
  n->close = close;
  snprintf(n->best, sizeof n->best, "%s", answer);
}

/* Looks through data/words.txt, lines of a word and its answer. An answer
 * without a blank is a flag, and counts if the verb has it. One with a blank is
 * advice for just this word or FLAG=VALUE, unless it names this program.
 * Without the file only our own words count. */
static void near_words(Near *n, const Settings *s, unsigned groups) {
  Bytes file = {0};
  Error e = {0};
  char path[PATH_ROOM], word[80], answer[80];
  file_read(located(path, "data/words.txt", &s->data, &e), &file, &e);
  bytes_add(&file, "\0", 2, &e);   /* without a file, too, line + 1 is text */
  for (char *line = (char *)file.at; line; line = strchr(line + 1, '\n'))
    if (sscanf(line, "%79s %79[^\r\n]", word, answer) == 2
        && !strstr(answer, s->program->name)
        && (option_find(answer, groups)
            || (strchr(answer, ' ') && !strcmp(word, n->word))))
      near_look(n, word, answer);
  bytes_free(&file);
}

/* An unknown word is answered by the known ones, or the program that has it. */
static int choice_set(const Option *o, const Settings *s, int *at,
                      const char *text, Error *e) {
  char word[VALUE_ROOM], key[2 * VALUE_ROOM];
  Near near = {.word = key, .best = "one of these"};
  for (int row = 0; *option_word(o, row, word); row++)
    if (!strcmp(word, text)) {
      *at = row;
      return 0;
    }
  snprintf(key, sizeof key, "%s=%s", o->flag, text);
  near_words(&near, s, 0);
  return fail(e, 2, "--%s %s: expected %s. Try: %s", o->flag, text,
              option_value(o, word), near.best);
}

/* A double may be none, NAN, if that is its default. */
static int number_set(const Option *o, void *at, const char *text,
                      bool bounded, Error *e) {
  char *end, advice[80] = "leave it out";
  double x = strtod(text, &end), usual = atof(o->fallback);
  bool whole = o->kind != 'd', none = !strcmp(o->fallback, "none");
  if (none && !strcmp(text, "none"))
    x = NAN;
  else if (end == text || *end || isspace((unsigned char)*text)
           || (whole && x != floor(x))
           || (bounded && !(x >= o->least && x <= o->most))) {
    if (o->kind == 'b')
      snprintf(advice, sizeof advice, "--%s, or --no-%s", o->flag, o->flag);
    else if (none || (usual >= o->least && usual <= o->most))
      snprintf(advice, sizeof advice, "--%s %s", o->flag, o->fallback);
    return fail(e, 2, "--%s %s: expected a %snumber from %.10g to %.10g. Try: "
                "%s", o->flag, text, whole ? "whole " : "", o->least, o->most,
                advice);
  }
  if (whole)
    *(int *)at = (int)x;
  else
    *(double *)at = x;
  return 0;
}

/* `bounded`: a number must lie within least and most. A default need not: 0
 * often means that another number decides (head-dim: C / H). */
int option_set(const Option *o, void *base, const char *text, bool bounded,
               Error *e) {
  void *at = (char *)base + o->field;
  if (o->kind == 'c')
    return choice_set(o, base, at, text, e);
  if (!strchr("sf", o->kind))
    return number_set(o, at, text, bounded, e);
  if (bounded && !*text)
    return fail(e, 2, "--%s: expected a value, found an empty one. Try: leave "
                "it out", o->flag);
  if (strlen(text) >= (size_t)o->most)
    return fail(e, 2, "--%s %.40s..: this is too long. Try: a shorter one",
                o->flag, text);
  if (o->groups & KEPT && strchr(text, '\n'))   /* a checkpoint keeps a line */
    return fail(e, 2, "--%s %.40s: this has several lines. Try: another name",
                o->flag, text);
  strcpy(at, text);
  return 0;
}

/* The field of option o as text that option_set reads back to the same bits. */
void option_text(const Option *o, const void *base, char *text, size_t room) {
  const char *at = (const char *)base + o->field;
  const int *whole = (const void *)at;
  const double *x = (const void *)at;
  char word[VALUE_ROOM];
  if (o->kind == 'c')
    at = option_word(o, *whole, word);
  if (strchr("csf", o->kind))
    snprintf(text, room, "%s", at);
  else if (o->kind != 'd')
    snprintf(text, room, "%d", *whole);
  else if (isnan(*x))
    snprintf(text, room, "none");
  else {
    snprintf(text, room, "%.15g", *x);
    if (strtod(text, NULL) != *x)
      snprintf(text, room, "%.17g", *x);
  }
}

static const Program SINK = {.name = "sink", .verbs = VERBS};
void settings_default(Settings *s) {
  memset(s, 0, sizeof *s);
  s->program = s->data.program = &SINK;
  s->verb = "train";
  for (const Option *o = OPTIONS; o->flag; o++)
    if (*o->fallback)
      option_set(o, s, o->fallback, false, &(Error){0});
}

const Option *option_find(const char *flag, unsigned groups) {
  for (const Option *o = OPTIONS; o->flag; o++)
    if (!strcmp(o->flag, flag) && o->groups & groups)
      return o;
  return NULL;
}

bool has_word(const char *words, const char *word) {
  size_t n;
  for (; *words; words += n + (words[n] == ' ')) {
    n = strcspn(words, " ");
    if (n == strlen(word) && !memcmp(words, word, n))
      return true;
  }
  return false;
}

const char *option_idle(const char *flag, const Settings *s) {
  const Config *m = &s->model;
  bool rotary = m->pos == POS_ROTARY, low = m->extra_order == ORDER_LOWFREQ;
  bool biased = m->extra == EXTRA_K || m->extra == EXTRA_KV;
  const struct {
    const char *flags, *when;
    bool is;
  } BELONGS[] = {
    {"rope-base", "with --pos rotary", rotary},
    {"rotary-dims rope-pairing", "with --pos rotary or --extra-order lowfreq",
     rotary || low},
    {"pnorm", "with --normalizer pnorm", m->normalizer == NORMALIZER_PNORM},
    {"extra-shared extra-dims", "with --extra k|kv", biased},
    {"extra-order", "with --extra-dims", m->extra_dims},
    {"extra-value", "with --extra k", m->extra == EXTRA_K},
    {"extra-norm", "with --extra-value e1|ones", m->extra_value},
    {"min-lr", "with --schedule cosine", s->train.schedule},
    {"beta1 beta2 adam-eps", "without --optimizer sgd",
     s->train.optimizer != OPTIMIZER_SGD},
    {"save-every", "with --out", s->out[0]},
    {"valid", "above 0: a training is measured on held-out text, by default "
     "0.05 of the documents",
     s->data.valid > 0 || s->groups & EVAL},
    {"input text tokenizer fix-token bos valid", "without --ids", !s->ids[0]},
    {"seed init", "without a MODEL",
     strcmp(s->verb, "dump") || !s->n_words},
    {"sim kernel normalizer scale extra",
     "with train, as run has its own rows", strcmp(s->verb, "run")},
    MORE_BELONGS
  };
  for (size_t i = 0; i < sizeof BELONGS / sizeof *BELONGS; i++)
    if (has_word(BELONGS[i].flags, flag) && !BELONGS[i].is)
      return BELONGS[i].when;
  return NULL;
}

/* Refuses flag o's positions, or T as one, beyond the sequence. */
static void positions_fit(const Option *o, const Settings *s, Error *e) {
  char is[PATH_ROOM];
  int at[17] = {0}, most = s->groups & MODEL ? s->model.context : s->eval_T;
  option_text(o, s, is, sizeof is);
  if (strcmp(is, "0"))
    positions_parse(o->flag, is, at, 16, e);
  for (int i = 0; at[i]; i++)
    if (at[i] > most)
      fail(e, 2, "--%s %s: the last token is %d. Try: at most %d, or a "
           "longer --%s", o->flag, is, most, most,
           s->groups & MODEL ? "context" : "T");
}

/* Hours of a run that ignored a given flag would pass for a run with it. */
int settings_refuse_idle(const Settings *s, Error *e) {
  for (const Option *o = OPTIONS; o->flag && s->groups; o++) {
    if (!s->given[o - OPTIONS])
      continue;
    const char *when = option_idle(o->flag, s);
    if (when)
      fail(e, 2, "--%s: has an effect only %s. Try: leave it out", o->flag,
           when);
    if (has_word("fix-token random-tokens T", o->flag))
      positions_fit(o, s, e);
  }
  return e->status;
}

static int flag_unknown(const Settings *s, const char *word, const char *flag,
                        unsigned groups, Error *e) {
  Near near = {.word = flag};
  if (groups & (EVAL | GENERATE | DUMP)
      && (option_find(flag, MODEL) || !strcmp(flag, "variant")))
    return fail(e, 2, "%s: the model already sets this. Try: leave it out",
                word);
  snprintf(near.best, sizeof near.best, "%s help %s", s->program->name, s->verb);
  for (const Option *o = OPTIONS; o->flag; o++)
    if (o->groups & groups)
      near_look(&near, o->flag, o->flag);
  near_words(&near, s, groups);
  return fail(e, 2, "%s: not a flag of this command. Try: %s%s", word,
              strchr(near.best, ' ') ? "" : "--", near.best);
}

/* A variant stands for its flags, in its place; later flags override them. */
static int variant_set(Settings *s, const char *name, Error *e) {
  Near near = {.word = name};
  for (const Variant *v = VARIANTS; v->name; v++) {
    if (!strcmp(v->name, name))
      return settings_flags(s, v->flags, MODEL, e);
    near_look(&near, v->name, v->name);
  }
  return fail(e, 2, "--variant %s: not in `sink list`; ./paper has more, of "
              "later papers. Try: %s%s", name,
              near.best[0] ? "--variant " : "sink list", near.best);
}

/* --flag value, or --flag=value; one dash does for two, and _ for -. A switch
 * needs no value; one that counts takes the next word if that is a number.
 * Returns whether `next` was the value. */
static bool flag_parse(Settings *s, const char *word, const char *next,
                       unsigned groups, Error *e) {
  char flag[64] = "";
  const char *value = strchr(word, '=');
  sscanf(word, "%*[-]%63[^=]", flag);
  for (char *c = flag; *c; c++)
    if (*c == '_')
      *c = '-';
  bool no = !value && !strncmp(flag, "no-", 3);
  bool variant = groups & MODEL && !strcmp(flag, "variant");
  const Option *o = option_find(flag + 3 * no, groups);
  bool needs = !o || o->kind != 'b';
  s->help = has_word("h help", flag);
  if (s->help)
    return false;
  if (!variant && (!o || (no && needs))) {
    flag_unknown(s, word, flag, groups, e);
    return false;
  }
  bool counts = !needs && o->most > 1 && next && *next
                && !next[strspn(next, "0123456789")];
  bool takes = !value && !no && (needs || counts);
  if (value)
    value++;
  else if (takes)
    value = next && strncmp(next, "--", 2) ? next : NULL;
  else
    value = no ? "0" : "1";
  if (!value)
    fail(e, 2, "%s: expected a value, found none. Try: %s help %s", word,
         s->program->name, s->verb);
  else if (variant)
    variant_set(s, value, e);
  else if (!option_set(o, s, value, true, e))
    s->given[o - OPTIONS] = true;
  return takes;
}

/* Reads argv into s, with the flags of `groups`. The model is resolved later,
 * when the vocabulary is known. */
int settings_parse(Settings *s, int argc, char **argv, unsigned groups,
                   Error *e) {
  int n = 0;
  for (int i = 0; i < argc && !e->status && !s->help; i++) {
    const char *word = argv[i], *next = i + 1 < argc ? argv[i + 1] : NULL;
    if (*word == '-' && strcmp(word, "-"))
      i += flag_parse(s, word, next, groups, e);
    else if (n < WORDS_MOST)
      s->words[n++] = word;
    else
      fail(e, 2, "%s: one argument too many. Try: fewer", word);
  }
  s->n_words = n;
  return e->status;
}

/* Flags in a string, of a variant, an arm or an experiment's row. If s->groups
 * is set, settings_refuse_idle finds those without effect. */
int settings_flags(Settings *s, const char *flags, unsigned groups, Error *e) {
  char text[4096], *argv[sizeof text / 2];
  int argc = 0;
  if (strlen(flags) >= sizeof text)
    return fail(e, 2, "too many flags in one string. Try: fewer");
  strcpy(text, flags);
  for (char *word = strtok(text, " "); word; word = strtok(NULL, " "))
    argv[argc++] = word;
  if (!settings_parse(s, argc, argv, groups, e) && s->n_words)
    fail(e, 2, "%s: expected only flags. Try: %s help", s->words[0],
         s->program->name);
  return e->status;
}

/* Completes c, then refuses what has no meaning. 3.6 says what the sign of s
 * allows; k* and the logit pass through no kernel. Tests:
 * config_resolve__refuses, __near_misses. */
static int config_resolve(Config *c, Error *e) {
  bool divides = c->head_dim || c->dim % c->heads == 0;
  config_fill(c);
  bool p_norm = c->normalizer == NORMALIZER_PNORM;
  bool sum = c->normalizer == NORMALIZER_SUM;
  bool identity = c->sim == SIM_IDENTITY, elu = c->kernel == KERNEL_ELU;
  bool raw = c->extra == EXTRA_K || c->extra == EXTRA_KV
             || c->extra == EXTRA_LOGIT;
  const struct {
    bool wrong;
    int is;            /* what stands for %d */
    const char *why;
  } RULES[] = {
    {!divides, c->dim, "--heads does not divide --dim %d. Try: another --heads, "
     "or --head-dim"},
    {c->heads % c->kv_heads, c->heads, "--kv-heads does not divide --heads %d. "
     "Try: a divisor"},
    {c->rotary_dims > c->head_dim, c->head_dim, "--rotary-dims exceeds the "
     "head's dims. Try: at most %d"},
    {c->pos == POS_ROTARY && c->rotary_dims % 2, c->rotary_dims, "--pos "
     "rotary rotates pairs of dims, and %d is odd. Try: an even --head-dim or "
     "--rotary-dims"},
    {c->extra_dims > c->head_dim, c->head_dim, "--extra-dims exceeds the "
     "head's dims. Try: at most %d"},
    {c->prefix > c->context, c->context, "--prefix is longer than the context. "
     "Try: at most %d"},
    {p_norm && c->pnorm < 1 && identity && (!elu || raw), 0, "--pnorm below 1 "
     "with scores of either sign has no slope at 0. Try: --pnorm 2, or --sim "
     "exp"},
    {identity && sum && !elu, 0, "--sim identity has scores of either sign, "
     "whose plain sum can be 0. Try: --normalizer clamp, one or pnorm, or "
     "--kernel elu"},
    {identity && sum && raw, 0, "--kernel elu leaves scores of k* and "
     "logits of either sign. Try: --normalizer one or clamp, or --extra zero"}};
  for (size_t i = 0; i < sizeof RULES / sizeof *RULES; i++)
    if (RULES[i].wrong)
      return fail(e, 2, RULES[i].why, RULES[i].is);
  return MORE_RESOLVE(c, e);
}

static int config_from_flags(Config *c, const char *flags, Error *e) {
  Settings s;
  settings_default(&s);
  if (settings_flags(&s, flags, MODEL, e))
    return e->status;
  *c = s.model;
  return config_resolve(c, e);
}

/* Do two names lead to one file, as links do? (On Windows st_ino is 0.) */
static bool same_file(const char *a, const char *b) {
  struct stat x, y;
  return !strcmp(a, b) || (!stat(a, &x) && !stat(b, &y) && x.st_ino
                           && x.st_ino == y.st_ino && x.st_dev == y.st_dev);
}

/* Adds a name and a 0; for a folder those of its files. */
static void name_add(Bytes *names, const Settings *s, const char *name) {
  char at[PATH_ROOM];
  Error none = {0};
  if (*name && strcmp(name, "-"))
    files_list(located(at, name, &s->data, &none), names, &none);
}

/* Lists what this command reads: its words, its flags' files, the default text
 * and tokenizer, a model's training text. */
static void names_read(Bytes *names, const Settings *s) {
  name_add(names, s, source_name(&s->data));
  name_add(names, s, s->data.own_name);
  name_add(names, s, "/dev/stdin");
  for (int i = 0; i < s->n_words; i++)
    name_add(names, s, s->words[i]);
  for (const Option *o = OPTIONS; o->flag; o++)
    if (o->kind == 'f')
      name_add(names, s, (const char *)s + o->field);
  MORE_READS(names);
}

/* May a result go to `path`? Never to what this command reads or writes, in
 * `names`; to a file with content only with --force, or if it continues it. */
static void output_claim(const Settings *s, const char *path, bool continues,
                         Bytes *names, Error *e) {
  struct stat is;
  const char *at = (const char *)names->at, *end = at + names->size;
  for (; at < end; at += strlen(at) + 1)
    if (same_file(path, at))
      fail(e, 2, "%s: this command reads or writes it, too. Try: another name",
           path);
  if (!s->force && !continues && !stat(path, &is) && S_ISREG(is.st_mode)
      && is.st_size)
    fail(e, 1, "%s: already exists and is not replaced. Try: another name, "
         "%sor --force to replace it", path,
         option_find("resume", s->groups) && !s->resume && s->out[0]
         && !file_missing(s->out) ? "--resume to continue, " : "");
  bytes_add(names, path, strlen(path) + 1, e);
}

/* Can all paths be written ("" is none)? Asked before hours of work, and of the
 * model last, since the others make folders. Each PATH.new is made for a while,
 * so that same_file knows two names of it. */
int outputs_ready(const Settings *s, const char *const *path, int n, Error *e) {
  enum { OUTPUTS = 16 };
  Writing w[OUTPUTS] = {{0}};
  Bytes names = {0};
  names_read(&names, s);
  for (int i = n - 1; i >= 0; i--) {
    const char *to = path[i];
    bool stream = !strcmp(to, "-");
    bool table = to == s->csv || to == s->json;
    bool continues = s->resume && !table
                     && (to == s->log || !file_missing(s->out));
    if (!*to)
      continue;
    if (stream && !table)
      fail(e, 2, "-: only --csv and --json can write there. Try: a file name");
    output_claim(s, to, continues || stream, &names, e);
    if (stream)
      continue;
    snprintf(w[i].beside, sizeof w[i].beside, "%s.new", to);
    output_claim(s, w[i].beside, s->resume, &names, e);
    if (!writing_begin(&w[i], to, e))
      fclose(w[i].f);
  }
  for (int i = 0; i < n; i++)
    if (w[i].f)
      remove(w[i].beside);
  bytes_free(&names);
  return e->status;
}

/* ----------
 * 16.2  What an evaluation prints */

/* Sink and alpha of the first columns, at three thresholds, on which claims may
 * depend. */
static void columns_print(const Sinks *s, const Model *m, int kmax, FILE *out) {
  const Config *c = &m->c;
  int first = config_column_first(c);
  char name[16];
  fprintf(out, "column    Sink 0.2      Sink  Sink 0.4     alpha    x even\n");
  for (int j = 0; j < s->S && j < first + kmax; j++) {
    double even = j > first ? even_weight(m, s->T, j - first + 1) : s->even;
    fprintf(out, "%-8s %8.2f%% %8.2f%% %8.2f%% %9.4f %9.2f\n",
            column_label(name, c, j), 100 * sinks_sink(s, j, 1),
            100 * sinks_sink(s, j, 0), 100 * sinks_sink(s, j, 2),
            sinks_alpha(s, j), sinks_alpha(s, j) / even);
  }
  if (s->T > 1) {
    double self = sinks_self(s), prev = sinks_prev(s);
    fprintf(out, "%-38s %9.4f %9.2f\n%-38s %9.4f %9.2f\n", "self", self,
            self / s->even_self, "prev", prev, prev / s->even_self);
  }
  fprintf(out, "Sink without a number: eps %g. x even: alpha over that of even "
          "rows (token 1: %.4f, for *, x* too).\nRow mass %.3f. self, prev: a "
          "row's share on its own token, and on the one before.\n", s->eps[0],
          s->even, sinks_raw(s));
  for (int x = 0; x < s->n_eps; x++)
    if (s->eps[x] > 0 && s->eps[x] < s->even && (!x || s->eps[x] != s->eps[0]))
      fprintf(out, "Sink at eps %g says nothing here: even rows pass it. Try: "
              "a longer --T\n", s->eps[x]);
}

static void blocks_print(const Sinks *s, bool post, FILE *out) {
  const double *const of_head[] = {s->cosine, s->cosine + 1, s->product,
                                   s->product + 1, s->entropy, s->raw};
  fprintf(out, "\nblock |h1|/|h| |k1|/|k| |v1|/|v| cos q,k1  cos q,k  |q||k1|"
          "   |q||k|  entropy     mass%s\n", post ? "   pre-LN" : "");
  for (int l = 0; l < s->L; l++) {
    idx row = (idx)l * s->N;
    double no = s->N > 1 ? 0 : NAN;   /* no angles */
    double is[10] = {norm_ratio(s->hnorm + row + s->N, s->N),
                     norm_ratio(s->knorm + row, s->N),
                     norm_ratio(s->vnorm + row, s->N), no, no, no, no,
                     [9] = norm_ratio(s->prenorm + row, s->N)};
    for (int i = 0; i < 6; i++)
      for (int h = l * s->H; h < (l + 1) * s->H; h++)
        is[3 + i] += of_head[i][i < 4 ? 2 * h : h] / s->H;
    int shown = s->attends[l] ? 9 + post : 1;
    fprintf(out, "%5d", l + 1);
    for (int i = 0; i < shown; i++)
      fprintf(out, isfinite(is[i]) ? " %8.3f" : "        -", is[i]);
    fputc('\n', out);
  }
  fprintf(out, "|h1|/|h|: norm of a block's first output row over the mean of "
          "the others. cos, |q||k|: of a query\nwith the first key, and with "
          "others. entropy: of a row, in nats. mass: sum of its |weights|, "
          "without *'s.\n");
}

static void sinks_print(const Sinks *s, const Model *m, int kmax, FILE *out) {
  const Config *c = &m->c;
  const Column times = {.form = "%.1f", .unit = 1};
  char text[32];
  columns_print(s, m, kmax, out);
  blocks_print(s, c->place == PLACE_POST, out);
  fprintf(out, "Massive activation: largest entry of a state %.3g in size, "
          "median of its block %.3g: %s times.\n\nalpha by layer (down) and "
          "head (across)\n",
          s->massive, s->median,
          cell_text(text, &times, s->massive / s->median));
  heat_map("alpha", s, c, config_column_first(c), out);
}

/* ----------
 * 16.3  Verbs */

typedef struct Work {
  Trainer t;
  Outcome o;
} Work;
static int work_end(Work *w, Error *e) {
  trainer_free(&w->t);
  outcome_free(&w->o);
  return e->status;
}

static int verb_run(Settings *s, Error *e) { return demo_run(s, stdout, e); }

static void cell_print(const char *name, double x) {
  printf(isfinite(x) ? "%s=%.6f " : "%s=- ", name, x);
}

static void train_print(const Trainer *t, const Outcome *o) {
  double never = t->step ? 0 : NAN;   /* then "-" */
  printf("steps=%ld ", t->step);
  cell_print("loss", t->loss + never);
  cell_print("valid_loss", o->loss);
  printf("valid_tokens=%lld ", o->tokens);
  cell_print("alpha_1", o->p.now[ALPHA_1] + never);
  cell_print("sink_1", o->p.now[SINK_1] + never);
  cell_print("mass", o->p.now[ROW_MASS] + never);
  printf("parameters=%lld text=%s", t->m.count, t->data.name);
  if (t->s.out[0])
    printf(" out=%s", t->s.out);
  printf("\n");
}

/* The caller frees o and t. */
static void train_some(Settings *s, Trainer *t, Outcome *o, Error *e) {
  const char *const path[] = {s->out, s->log, s->report};
  if (outputs_ready(s, path, 3, e) || trainer_begin(t, s, "", e))
    return;
  if (!s->out[0])
    fprintf(stderr, "%s: without --out FILE the model is not saved\n",
            s->program->name);
  if (!outcome_train(o, t, "train", e))
    train_print(t, o);
}

static int verb_train(Settings *s, Error *e) {
  Work w = {0};
  train_some(s, &w.t, &w.o, e);
  return work_end(&w, e);
}

/* A loaded model's settings of model, training and data need no repeating; the
 * command line is read again on top of them. */
static int model_settings(Settings *s, Trainer *t, Error *e) {
  Settings now = *s;
  Source *d = &now.data;
  now.model = t->s.model;
  now.train = t->s.train;
  now.data = t->s.data;
  d->program = s->data.program;
  strcpy(d->home, s->data.home);
  if (file_missing(d->tokenizer))
    strcpy(d->tokenizer, "tokenizer.bin");
  d->own = t->data.source;
  if (d->own)
    strcpy(d->own_name, source_name(d));
  if (source_named(&s->data) || file_missing(source_name(d))
      || !(s->groups & DATA))   /* its text is not read */
    d->text[0] = d->grammar[0] = d->tokens[0] = 0;
  t->random_tokens = d->random_tokens[0];   /* none for the metric (9.3) */
  d->random_tokens[0] = 0;
  now.eval_T = (int)at_most(now.eval_T, now.model.context);   /* unless given */
  settings_parse(&now, s->argc, s->argv, s->groups, e);
  d->whole = !now.given[option_find("valid", DATA) - OPTIONS];
  if (settings_refuse_idle(&now, e))
    return e->status;
  *s = t->s = now;
  t->m.plain = s->plain;
  return 0;
}

/* Opens what a loaded model is measured on: --ids, drawn ids, or text whose ids
 * mean what they did in training. */
static int eval_data_open(Settings *s, Trainer *t, const char *path, Error *e) {
  uint64_t hash = t->tokenizer_hash;
  int vocab = s->data.vocab = t->m.c.vocab;
  if (s->ids[0]) {   /* fed as they are */
    s->data.fix_token = s->data.first_tokens[0] = 0;
    return data_ids(&t->data, s->ids, vocab, e);
  }
  bool natural = s->input == INPUT_NATURAL;
  if (t->m.seams.begin && !hash && !natural && !fixed_at(&s->data)) {
    t->data.vocab = vocab;   /* drawn ids need no tokenizer */
    return 0;
  }
  bool own = natural && s->data.own && !source_named(&s->data);
  if (data_open(&t->data, &s->data, 0, 0, e))
    return e->status;
  if (own && t->data.source != s->data.own)
    return fail(e, 1, "%s: its text, %s, is missing or has changed. Try: "
                "--text FILE, or ./paper with --grammar or --tokens", path,
                s->data.own_name);
  if (s->data.tokens[0])   /* a file of ids, below the model's --vocab */
    return 0;
  if (hash)
    return tokenizer_same(t, path, e);
  if (t->data.vocab == vocab)
    return 0;
  return fail(e, 1, "%s: expected a vocabulary of %d, found %d in %s. "
              "Try: the model's --tokenizer FILE, or eval --ids FILE", path, vocab,
              t->data.vocab, s->data.tokenizer);
}

static void eval_print(const Work *w, const Settings *s) {
  const Sinks *r = &w->o.s;
  bool natural = s->input == INPUT_NATURAL;
  printf("%s", w->o.name);
  if (natural)
    printf(" on %s (%s)", w->o.text, w->o.read);
  printf(": %d sequences of %d tokens, %s", r->n, r->T, INPUTS[s->input]);
  if (natural)
    printf(" (%d where a document or its held part begins)", r->starts);
  if (*w->t.data.drawn)
    printf(", %s", w->t.data.drawn);
  else if (s->data.fix_token && s->data.fix_token <= r->T)
    printf(", token %d fixed", s->data.fix_token);
  if (w->t.random_tokens)
    printf(", without its training's random tokens");
  printf(", rows %s\n\n", s->metric_rows ? "plus1" : "real");
  sinks_print(r, &w->t.m, s->eval_k, stdout);
  if (r->loss > 0)
    printf("\nloss %.4f nats a token, of these sequences (valid_loss of train "
           "has blocks of\nthe whole context, which begin anywhere)\n", r->loss);
}

static int verb_eval(Settings *s, Error *e) {
  const char *path = s->words[0];
  Work w = {.o = {.name = path}};
  if (!path)
    fail(e, 2, "eval: expected a model file. Try: %s eval out/model.ckpt",
         s->program->name);
  else if (!checkpoint_load(path, false, &w.t, e)
           && !model_settings(s, &w.t, e)
           && !eval_data_open(s, &w.t, path, e)
           && !outcome_measure(&w.o, &w.t, s, e))
    eval_print(&w, s);
  return work_end(&w, e);
}

static int verb_check(Settings *s, Error *e) {
  return checks_run(s->program->checks, s->program->name, s->words[0], stdout, e);
}

static int verb_list(Settings *s, Error *e) {
  (void)s;
  printf("variant         paper          its Sink_1 %%    loss flags\n");
  for (const Variant *v = VARIANTS; v->name; v++) {
    int at = printf("%-15s %-14s %-15s %4s ", v->name, v->source, v->sink,
                    v->loss);
    if (at + (int)strlen(v->flags) > 79)
      printf("\n    ");
    printf("%s\n", v->flags);
  }
  printf("\n--variant NAME sets a row's flags; * a / b: Sink_* and Sink_1; -: "
         "failed.\nTable 6: rows of Table 15.\nText: " SHIPPED_TEXT
         ", or --text FILE; ./paper has --grammar, --tokens.\n");
  return e->status;
}

/* The shape of an --ids file: B lines of T + 1. */
static void dump_shape(Dump *d, const Data *data, Error *e) {
  idx B = (idx)data->starts.size, size = (idx)data->held.size;
  idx line = B ? size / B : 0;
  int most = d->m->c.context + 1;
  bool fits = line >= 2 && line <= most && size == B * line
              && line > d->m->c.prefix;
  for (idx b = 0; b < B; b++)
    fits = fits && data->starts.at[b] == b * line;
  if (!fits)
    fail(e, 1, "%s: expected lines of equal length, of 2 to %d ids, beyond any "
         "--prefix. Try: a line like 1 2 3", d->s->ids, most);
  d->B = B;
  d->T = line - 1;
  d->N = config_rows(&d->m->c, (int)d->T);
  d->S = config_columns(&d->m->c, (int)d->T);
}

/* Checks the ids and config.json before it writes; an array that is there
 * already stops it when its turn comes. */
static int verb_dump(Settings *s, Error *e) {
  Work w = {0};
  Model *m = &w.t.m;
  Dump d = {.s = s, .m = m, .a = &w.t.a, .e = e};
  if (!s->ids[0] || !s->out[0])
    return fail(e, 2, "dump: expected --ids FILE and --out FOLDER. "
                "Try: %s help dump", s->program->name);
  if (s->n_words) {   /* a model to load */
    s->groups &= ~(unsigned)MODEL;   /* it has its own settings */
    if (!checkpoint_load(s->words[0], false, &w.t, e))
      model_settings(s, &w.t, e);
  } else if (!config_resolve(&s->model, e)
             && !model_create(m, &s->model, false, e))
    model_init(m, s->train.init, (uint64_t)s->train.seed);
  m->plain = s->plain;
  snprintf(d.path, sizeof d.path, "%s/config.json", s->out);
  if (!e->status && !data_ids(&w.t.data, s->ids, m->c.vocab, e))
    dump_shape(&d, &w.t.data, e);
  if (e->status || outputs_ready(s, (const char *[]){d.path}, 1, e))
    return work_end(&w, e);
  if (m->seams.forward_only)
    printf("without gradients: %s: forward only\n", m->seams.forward_only);
  else
    model_grads(m, e);
  if (!acts_create(&w.t.a, m, (int)d.B, (int)d.T, ACTS_ALL, e))
    dump_run(&d, &w.t.data.held);
  return work_end(&w, e);
}

/* The verb of that name, else the one that takes any word, or NULL. */
static const Verb *verb_find(const Program *program, const char *name) {
  for (const Verb *v = program->verbs; v->name; v++)
    if (!strcmp(v->name, name))
      return v;
  return program->other;
}

/* `near` may have seen words besides verbs. */
static int verb_unknown(const Settings *s, Near near, Error *e) {
  for (const Verb *v = s->program->verbs; v->name; v++)
    near_look(&near, v->name, v->name);
  near_words(&near, s, 0);
  if (!near.best[0])
    snprintf(near.best, sizeof near.best, "%s help, or make paper and ./paper "
             "list", s->program->name);
  if (strchr(near.best, ' '))
    return fail(e, 2, "%.60s: unknown command. Try: %s", near.word, near.best);
  return fail(e, 2, "%.60s: unknown command. Try: %s %s", near.word,
              s->program->name, near.best);
}

static int help_verb(const Program *program, const Verb *v) {
  unsigned about = 0;
  printf("%s %s %s\n    %s\n", program->name, v->name, v->words, v->help);
  if (v->groups & MODEL)
    printf("\n  [X]: the default is X; of a|b|c it is the first, a\n\n"
           "  --variant NAME          a row of `sink list`: its flags\n");
  for (const Option *o = OPTIONS; o->flag; o++) {
    char value[VALUE_ROOM];
    if (option_find(o->flag, v->groups) != o)
      continue;
    if (about != (o->groups & KEPT))
      printf("\n");
    about = o->groups & KEPT;
    int at = printf("  --%s %s", o->flag, option_value(o, value));
    if (at > 24)
      at = printf("\n") - 1;
    printf("%*s%s", 26 - at, "", o->help);
    if (*o->fallback && *o->fallback != '-' && strcmp(o->fallback, "0"))
      printf(" [%s]", o->fallback);
    printf("\n");
  }
  return 0;
}

static int verb_help(Settings *s, Error *e) {
  const Program *program = s->program;
  const char *name = s->words[0];
  const Verb *v = name ? verb_find(program, name) : NULL;
  if (v)
    return help_verb(program, v);
  if (name)
    return verb_unknown(s, (Near){.word = name}, e);
  printf("%s: \"When Attention Sink Emerges in Language Models\" as one C "
         "file.\n\n  %s VERB [MODEL] [--flag value ...]\n\n", program->name,
         program->name);
  for (v = program->verbs; v->name; v++)
    if (verb_find(program, v->name) == v)   /* none before it has its name */
      printf("  %-9s %-27s %.*s\n", v->name, v->words,
             (int)strcspn(v->help, "\n"), v->help);
  printf("\nStart with: %s %s. Flags of a verb: %s VERB --help.\nExit "
         "status: 0 done, 1 something failed, 2 wrong usage.\n", program->name,
         program->verbs->name, program->name);
  return 0;
}

#define SINK_VERBS \
  {"run", "", KEPT | OUTPUT | TABLES | GENERAL | RUN, \
   "a sink emerges, moves, stays away\n    its arms decide --sim --kernel " \
   "--normalizer --scale --extra\n    these stand for the defaults: " \
   RUN_FLAGS, verb_run}, \
  {"train", "", KEPT | OUTPUT | GENERAL | ALONE, \
   "text in, checkpoint out", verb_train}, \
  {"eval", "MODEL", DATA | MEASURE | TABLES | GENERAL | EVAL, \
   "the sink, norms and the alpha map", verb_eval}, \
  {"check", "[NAME]", 0, "the paper's propositions, on toys", verb_check}, \
  {"list", "", 0, "the paper's variants by name", verb_list}, \
  {"dump", "[MODEL]", MODEL | OUTPUT | GENERAL | DUMP, \
   "every tensor of a pass, for NumPy", verb_dump}, \
  {"help", "[VERB]", 0, "this page; a verb's flags", verb_help},
const Verb VERBS[] = {SINK_VERBS {0}};

/* v->words: "" takes no word; one word, one; several, up to WORDS_MOST. */
static int verb_do(const Verb *v, Settings *s, Error *e) {
  int most = strchr(v->words, ' ') ? WORDS_MOST : v->words[0] != 0;
  bool reads = !most && option_find("text", v->groups) && !s->data.text[0];
  if (s->n_words > most)
    return fail(e, 2, "%s: unexpected argument. Try: %s help %s%s%s",
                s->words[most], s->program->name, v->name,
                reads ? ", or --text " : "", reads ? s->words[most] : "");
  if (s->threads && set_workers(s->threads))   /* 0: OMP_NUM_THREADS decides */
    fprintf(stderr, "%s: no OpenMP, so 1 thread, not %d; same results\n",
            s->program->name, s->threads);
  /* with a model this comes after reading it */
  if (!s->resume && !s->start[0] && !s->n_words && settings_refuse_idle(s, e))
    return e->status;
  return v->run(s, e);
}

/* Are sums, quotients, NaN, small numbers and constants what they should be? No
 * macro tells all of -funsafe-math.., -freciprocal-math, -fno-honor-nans,
 * crtfastmath.o, -fsingle-precision-constant. */
static bool arithmetic_is_exact(void) {
  volatile double x[] = {1, 1e-17, 49, 0, 1e-310, 0.1};
  volatile float tenth = 0.1f;
  double one = x[0], tiny = x[1], nan = x[3] / x[3];
  return one + tiny - one == 0 && x[2] / 49 == 1 && nan != nan
         && isinf(one / x[3]) && x[4] * x[0] > 0 && x[5] != (double)tenth;
}

int sink_main(const Program *program, int argc, char **argv) {
  Settings s;
  Error e = {0};
  const char *name = argc > 1 ? argv[1] : "help";
  if (!arithmetic_is_exact())
    fail(&e, 2, "built with inexact arithmetic. Try: a plain -O3");
  streams_begin();
  settings_default(&s);
  s.program = s.data.program = program;
  program_folder(s.data.home, argv[0]);
  if (has_word("--help -h", name))
    name = "help";
  const Verb *v = verb_find(program, name);
  /* where the verb's words begin: for `other` the name is one */
  int from = v && strcmp(v->name, name) ? 1 : 2;
  s.argv = argv + from;
  s.argc = argc - from;
  if (!strcmp(name, "--version"))
    printf("%s " SINK_VERSION ", %zu-byte numbers\n", program->name,
           sizeof(real));
  else if (!v)
    verb_unknown(&s, (Near){.word = name}, &e);
  else {
    s.verb = v->name;
    s.groups = v->groups;
    if (v->groups & RUN)
      settings_flags(&s, RUN_FLAGS, s.groups, &e);
    settings_parse(&s, s.argc, s.argv, s.groups, &e);
    if (s.help)
      help_verb(program, v);
    else if (!e.status)
      verb_do(v, &s, &e);
  }
  if (!e.status && (fflush(stdout) || ferror(stdout)))
    fail(&e, 1, "the output cannot be written. Try: free some space");
  if (e.text[0])
    fprintf(stderr, "%s: %s\n", program->name, e.text);
  return e.status;
}

#ifndef SINK_NO_MAIN
int main(int argc, char **argv) { return sink_main(&SINK, argc, argv); }
#endif
