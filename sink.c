/* sink.c - "When Attention Sink Emerges in Language Models" (ICLR 2025), as one C file.
 *
 *     cc -O3 sink.c -o sink -lm             the whole build; add -fopenmp for every core
 *     ./sink run                  three short trainings: a sink emerges, moves, and fails to appear
 *     ./sink check                          the paper's propositions, proved or refuted on the spot
 *
 * SPDX-License-Identifier: MIT
 *
 * Language models pour attention onto their first token, though it means nothing. The paper asks
 * why, and answers with some sixty trainings: softmax obliges every row of weights to sum to one,
 * so a head that has nothing to say needs a place to put them. This file holds what it takes to
 * check that answer: the decoder with every variant the paper tries, forward and hand-written
 * backward, the optimiser, the metrics, and the propositions as executable checks.
 *
 * THE FORMULA. Every attention of the paper is these lines, with one row (choice) on each axis:
 *
 *   q, k, v = LN(x) W (+ b)       head h reads key head floor(h K/H); the first r <= D dims rotate
 *   z_ij = <phi(R_i q_i), phi(R_j k_j)> / sqrt(D) + b_h(i-j)             kernel, rotation, distance
 *   z_i* = <phi(R_i q_i), k*> / sqrt(D)                                 the extra column: unrotated
 *          or, not the paper's: 0, a learned or fixed number, log n_i   n_i: the keys i sees
 *   s_ij = sim(z_ij) where visible, else 0     visible: (j <= i and j > i-w), or j is one of the p
 *                                              tokens of the prefix
 *   Z_i  = sum s + e | 1 | max(|sum s|, 1) | (sum |s|^p)^(1/p) | n_i      e = 0 for exp, 1e-8 else
 *   o_i  = scale sum_j (s_ij / Z_i) v_j + v+             every sum is over * and all visible keys
 *          not the paper's: clipped weights (3.6); what data/later does to q, k, v, z and o
 *   m_ij = |s_ij| / (sum |s| + e)                                        what the sink metric reads
 *
 * and its backward, from do as far as dz, with a_j = s_j / Z:
 *
 *   da_j = scale <do, v_j>     delta = sum_j a_j da_j     dz_j = (s'_j / Z) da_j - dlogz_j delta
 *   dlogz_j = dlog Z / dz_j = s'_j / Z | 0 | s'_j / sum s where |sum s| > 1, else 0
 *             | (|s_j| / Z)^(p-1) sign(s_j) s'_j / Z | 0
 *
 * For this the forward keeps one number a row, row_stat: for softmax log Z, FlashAttention's
 * logsumexp (others: 3.6). The backward makes the scores z again, so memory grows with T, not T^2.
 *
 * LETTERS, where a section says nothing else:
 *   B sequences   T tokens   N rows: T and any x*     S columns of a map: N, N+1 with *   L layers
 *   C width of the model (the paper's d)   F of the ffn   E of the embedding   V vocabulary
 *   H query heads   K key heads   D width of a head (d_h)   r <= D of its dims are rotated
 *   i query   j key   h head   l layer: in code from 0   n row   t token, from 1   x, h^l states
 *   z score, the paper's logit   s = sim(z)   Z normaliser   a = s/Z weight, its attention score A
 *   m the metric's A   scale   C.4's alpha, equation 29; alpha_k is chapter 6's alone
 *   *  the extra column, with key k* and value v*: a null key, K bias or KV bias
 *   x* a sink token    v+ the value bias    b_h the bias of a distance    R_i rotation (3.4)
 *   w window   p prefix (and the power of the p-norm)   dw the gradient by w, whatever w is
 *
 * EQUATIONS. A tag leads to the function, here or in data/, and to the test (`make xref`).
 *   [E1] the objective        [E2] pre-norm block        [E3] post-norm block       [E4] attention
 *   [E5] absolute positions   [E6] relative bias         [E7] ALiBi                 [E8] rotary (9)
 *   [E10] states of a repeated token stay equal (10 to 17)    [P1] no positions (18)
 *   [P2] relative (19, 20)    [P3] ALiBi (21, 22)             [P4] rotary (23 to 28)
 *   [E29] the scale (to 31)   [E32] scale = learning rate and start (32 to 42)      [M1] alpha_k
 *   [E43] p-norm              [E44] p-norm as a temperature                         [M2] Sink_k
 *   [S2] packing              [S3.3] the inputs: natural, random, repeated
 *   [T1] repeated tokens      [T2] weight decay          [T3] positions             [T4] biases, x*
 *   [T5] fixed v*             [T6] [T15] phi, sim, Z     [T7] p_1 edited            [T8] models
 *   [T9] learning rate        [T10] --batch, fixed token [T11] activations          [T12] heads
 *   [T13] dims of k*          [T14] scale                [FIG1] block, packing
 *   [FIG2] norms and angles, Figures 11 to 18 too        [FIG3] T and eps
 *   [FIG4] while it trains    [FIG5] prefix; less data, Figure 28 too         [FIG6] window
 *   [FIG7] [FIG8] massive activations, before LN too     [FIG9] domains             [FIG10] tasks
 *   [FIG19] heads, to Figure 27                          [FIG29] p-norm    [FIG30] fine-tuning
 *   [MAMBA] [MOE] layers of published models, forward only: data/models
 *
 * CONTENTS. Part I is all of the paper's mathematics; a reader may stop after it.
 *   Part I    the mathematics   1 Config and variants   2 Parameters   3 Operators
 *                               4 The block and the model   5 Loss, AdamW, schedule
 *                               6 The sink metrics   7 The propositions, executable
 *   Part II   the data          8 Tokenizer   9 Text, packing, interventions
 *   Part III  the experiments   10 Training (train_run, 10.3), checkpoints   11 Evaluation, dump
 *                               12 The main job
 *   Part IV   plumbing          13 Matrix multiply, vector maths   14 Attention in tiles, a cache
 *                               15 Files, memory, random numbers, errors   16 Command line
 *
 * WHERE TO CHANGE WHAT, in this order. If a place is forgotten, the build or a test fails.
 *   an axis row   its CHOICE in sink.h; RULES, chapter 1; its tensors, 2;
 *                 its arrays, take_all in 14; its operator, both ways: positions 3.1 and 3.4 (in
 *                 the enum biases last; SCHEMES, 7.1), norm 3.2, activation 3.5 (gated ones first),
 *                 phi 3.5, sim and Z 3.6, extra column 3.7, heads 3.9, block 4; data/later;
 *                 STATE_ROWS, 7.2; closed_row() in data/paper/pages.c, premises() in data/models;
 *                 test_sink.c 0.3, and its tables of an axis
 *   a variant     VARIANTS, chapter 1; to be trained, a row of data/paper/experiments.txt
 *   a flag        its field in sink.h; OPTIONS, 16.1; of the model, its axis in test_sink.c 0.4
 *   a check       its measure, and a line of a table in chapter 7; of a new table, CHECKS, 16.3
 *
 * WHERE THE PAPER AND ITS AUTHORS' CODE DIFFER (sail-sg/Attention-Sink af49727), or say nothing:
 *   F1  learning rate: constant after the warm-up as in their code; the paper's cosine is an option
 *   F2  start: PyTorch's (`torch`), since their own (`authors`) seems bypassed on several GPUs
 *   F3  relative positions: a fixed bias equal to the bucket number, as in their code; T5's is `t5`
 *   F4  rotary pairs dims (c, c + r/2), as in their code; absolute positions are equation 5's
 *   F5  weight decay is decoupled and acts on every parameter; the paper writes it into the loss
 *   F6  the metric reads the T real rows; --metric-rows plus1 adds the dummy row of their code
 *   F7  the threshold is applied per sequence, then averaged, as in their code
 *   F8  heads are added before W_O, which is then [D,C]; sink tokens are input rows from position 0
 */
#define _POSIX_C_SOURCE 200809L    /* fsync, fileno, isatty, mkdir, clock_gettime: chapter 15 */
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
#endif

/* PARALLEL (sink.h) shares a loop's iterations among threads. WIDE(f, (parameters), (their names))
 * { body } reads as void f(parameters) { body }: its plain loops are compiled for every instruction
 * set of the processor family, and the best instance runs. INSTANCES makes the table of these by
 * Isa (sink.h); BYTES is the width of each one's vectors. */
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

/* ==========
 * PART I   THE MATHEMATICS
 * ==========
 *
 * 1  Config and variants   paper: sections 2, 7; tables
 *
 * A model is one row on each axis of THE FORMULA. struct Config (sink.h) holds each row's number:
 *
 *   axis          rows, the default first                                varied by the paper in
 *   positions     rotary; none, absolute, learned, relative, t5, alibi   Table 3, appendix A
 *   block         pre; post, parallel          norm: rms; layer          section 7.2
 *                 sandwich                     norm: dyt (+)             not the paper's
 *   ffn           swiglu; geglu, reglu, swish, gelu, relu; (ge)gelutanh  Table 11
 *   heads         concatenated; added          key heads: H; fewer       Table 12 left
 *   kernel phi    identity; elu + 1, mlp                                 Tables 6, 15
 *   similarity    exp; sigmoid, elu + 1, identity                        Tables 6, 15
 *                 softpick, rectified, relu                              not the paper's
 *   normaliser    sum; one, clamp, p-norm      scale: 1; any             Tables 14, 15, equation 43
 *                 count; weights: as they are; clipped                   not the paper's
 *   extra column  none; k, kv, zero, logit     shared; d_a dims; v*      Tables 4, 5, 12, 13
 *                 logn; a fixed logit                                    not the paper's
 *   scores        as they are; soft-cap, scale, bias (+)                 not the paper's
 *   q, k; v, o    as they are; QK-norm; gates, XSA, V-scale, head norm (+)
 *   others        value bias v+; sink token x*: none; one                Table 4
 *                 several sink tokens                                    not the paper's
 *   mask          causal; window w; prefix p                             Figures 5, 6
 *   (+) data/later has these; ./paper, ./hf and ./bench take their flags, ./sink does not
 *
 * t5, parallel, layer, (ge)gelutanh, fewer key heads, zero and logit are not the paper's: published
 * models need them, or they are close relatives of its rows. For any two rows of two axes that
 * go together, a test compares gradients with differences of the loss (gradients__every_pair).
 *
 * The paper's experiments are then nothing but flags. They vary one model of some 60 million
 * parameters besides the embeddings (section 4: L = 10, d = 768, H = 8, so d_h = 96, F = 1536).
 * The columns Sink_1 and loss repeat what it reports; a smaller model will not match them. (In its
 * Tables 6 and 15 an asterisk marks a Sink_1 of proxy scores, the m_ij above.)
 *
 *   "18.18"             Sink_1 at threshold 0.3 and T = 64, in percent
 *   "* 74.12 / 0.00"    Sink_*, then Sink_1: a sink that moved to the extra column or to x*
 *   "-"                 the training failed    ""   not printed, or lost in our copy (Tables 5, 13)
 *
 * What to see: a sink appears where the weights of a row are positive and have a constant sum (the
 * paper's inner dependence), and hardly at all with Z = 1. A null key or sink token takes it. */
const Variant VARIANTS[] = {
  /* name, flags, source, Sink_1 in %, loss */
  /* [T15] Section 7.4: the eleven operations as printed; [T6] has some. Compare 2 and 3 */
  {"softmax", "", "Table 15, 1", "18.18", "3.73"},
  {"sigmoid", "--sim sigmoid --normalizer one", "Table 15, 2", "0.44", "3.70"},
  {"sigmoid-sum", "--sim sigmoid", "Table 15, 3", "30.24", "3.74"},
  {"elu", "--sim elu --normalizer one", "Table 15, 4", "0.80", "3.69"},
  {"elu-sum", "--sim elu", "Table 15, 5", "-", "-"},
  {"elu-kernel-sum", "--kernel elu --sim identity", "Table 15, 6", "53.65", "4.19"},
  {"elu-kernel", "--kernel elu --sim identity --normalizer one", "Table 15, 7", "-", "-"},
  {"linear-clamp", "--sim identity --normalizer clamp", "Table 15, 8", "-", "-"},
  {"linear", "--sim identity --normalizer one", "Table 15, 9", "0.00", "3.99"},
  {"mlp-clamp", "--kernel mlp --sim identity --normalizer clamp", "Table 15, 10", "0.19", "3.85"},
  {"mlp", "--kernel mlp --sim identity --normalizer one", "Table 15, 11", "0.74", "3.91"},
  /* [T4] Section 7.3: who takes the sink over. A token or a key does, a value alone does not */
  {"sink-token", "--sink-token", "Table 4, 2", "* 74.12 / 0.00", "3.72"},
  {"kv-bias", "--extra kv", "Table 4, 3", "* 72.76 / 0.04", "3.72"},
  {"k-bias", "--extra k", "Table 4, 4", "* 73.34 / 0.00", "3.72"},
  {"v-bias", "--vbias", "Table 4, 5", "17.53", "3.73"},
  /* [T12] One k* (and v*) for all heads: with a v* the first token gets part of the sink back */
  {"kv-bias-shared", "--extra kv --extra-shared", "Table 12 right", "* 56.61 / 12.44", "3.72"},
  {"k-bias-shared", "--extra k --extra-shared", "Table 12 right", "* 68.31 / 0.23", "3.72"},
  /* [T5] k* with a fixed v*: the longer v*, the more of the sink returns to x_1 */
  {"k-bias-e1", "--extra k --extra-value e1 --extra-norm 1", "Table 5, v'", "0.06", ""},
  {"k-bias-20e1", "--extra k --extra-value e1 --extra-norm 20", "Table 5, 20v'", "25.88", ""},
  {"k-bias-ones", "--extra k --extra-value ones --extra-norm 1",
   "Table 5, v''", "* 69.74 / 2.15", "3.72"},
  {"k-bias-20ones", "--extra k --extra-value ones --extra-norm 20",
   "Table 5, 20v''", "* 0.00 / 11.21", "3.73"},
  /* [T13] d_a = 1 of 96 dims; the paper's d_a = 64 has Sink_* 69.19 and Sink_1 0.04 */
  {"k-bias-1dim", "--extra k --extra-dims 1", "Table 13", "4.74", ""},
  /* [T3] Section 7.1: a sink under every scheme, and without any. relative: see F3 and 3.4 */
  {"nope", "--pos none", "Table 3", "20.35", "3.81"},
  {"absolute", "--pos absolute", "Table 3", "32.73", "3.74"},
  {"learned", "--pos learned", "Table 3", "33.13", "3.79"},
  {"relative", "--pos relative", "Table 3", "35.53", "5.45"},
  {"alibi", "--pos alibi", "Table 3", "20.78", "3.71"},
  {"post-norm", "--place post", "Section 7.2", "13.54", ""},
  /* [T11] Appendix C.3. In the authors' code the three without a gate keep F = 1536, and so have
   * 47,202,048 parameters without the embeddings, where the others have 58,998,528 */
  {"relu", "--act relu", "Table 11", "16.90", "3.82"},
  {"gelu", "--act gelu", "Table 11", "14.76", "3.79"},
  {"swish", "--act swish", "Table 11", "17.89", "3.80"},
  {"reglu", "--act reglu", "Table 11", "13.88", "3.75"},
  {"geglu", "--act geglu", "Table 11", "17.86", "3.73"},
  {"addition", "--combine add", "Table 12 left", "21.76", "3.74"},
  /* [T14] Weights that sum to alpha; m_ij divides by their sum, so that Sink_1 compares */
  {"scale-2", "--scale 2", "Table 14 left", "29.10", "3.72"},
  {"scale-0.2", "--scale 0.2", "Table 14 left", "9.41", "3.72"},
  {"scale-0.05", "--scale 0.05", "Table 14 left", "4.53", "3.78"},
  /* [FIG29] [FIG5] [FIG6] Shown as figures only, without numbers */
  {"pnorm-half", "--normalizer pnorm --pnorm 0.5", "Figure 29", "", ""},
  {"sigmoid-pnorm-2", "--sim sigmoid --normalizer pnorm --pnorm 2", "Figure 29", "", ""},
  {"prefix-5", "--prefix 5", "Figure 5", "", ""},
  {"window-32", "--window 32", "Figure 6", "", ""},
  /* Relatives of the paper's rows that it does not train */
  {"t5", "--pos t5", "beyond: T5 (1910.10683)", "", ""},
  {"off-by-one", "--extra zero", "beyond: off-by-one (2410.17174)", "", ""},
  {"sink-logit", "--extra logit", "beyond: gpt-oss (2508.10925)", "", ""},
  {"parallel", "--place parallel", "beyond: GPT-NeoX (2204.06745)", "", ""},
  /* Not the paper's: what others did. (+) from soft-cap on, but sandwich and sink-token-4 */
  {"softpick", "--sim softpick", "beyond: softpick (2504.20966)", "", ""},
  {"rectified", "--sim rectified", "beyond: rectified-only (2504.20966)", "", ""},
  {"relu-n", "--sim relu --normalizer count", "beyond: ReLU over n (2309.08586)", "", ""},
  {"clipped-softmax", "--clip-low -0.03", "beyond: clipped softmax (2306.12929)", "", ""},
  {"null-logit", "--extra logit --extra-logit 4", "beyond: off-by-one, its 0 made 4", "", ""},
  {"softmax-n", "--extra logn", "beyond: softmax_n (softmax1, 2023)", "", ""},
  {"soft-cap", "--soft-cap 50", "beyond: Gemma 2 (2408.00118)", "", ""},
  {"scalable-softmax", "--score-scale logn", "beyond: SSMax (2501.19399)", "", ""},
  {"score-bias", "--sim sigmoid --normalizer one --score-bias learned",
   "beyond: sigmoid attention (2409.04431)", "", ""},
  {"gate-head", "--gate head", "beyond: gates (2505.06708)", "", ""},
  {"gate-element", "--gate element", "beyond: gates (2505.06708)", "", ""},
  {"gate-value", "--gate value", "beyond: gates (2505.06708)", "", ""},
  {"gate-static", "--gate static", "beyond: no input (2603.05498)", "", ""},
  {"qk-norm", "--qk-norm", "beyond: QK-norm (2010.04245)", "", ""},
  {"head-norm", "--head-norm", "beyond: arXiv 2605.06611", "", ""},
  {"v-scale", "--v-scale", "beyond: arXiv 2603.17771", "", ""},
  {"xsa", "--xsa", "beyond: XSA (2603.09078)", "", ""},
  {"sandwich", "--place sandwich", "beyond: Gemma 2 (2408.00118)", "", ""},
  {"dyt", "--norm dyt", "beyond: DyT (2503.10622)", "", ""},
  {"sink-token-4", "--sink-token 4", "beyond: StreamingLLM (2309.17453)", "", ""},
  {0}
};

/* SwiGLU, GeGLU, ReGLU (Table 11) and Gemma's GeGLU by tanh multiply act(x W1) by x W2 (3.10). */
static bool config_gated(const Config *c) { return c->act <= ACT_GEGLUTANH; }
_Static_assert(ACT_ROWS == 8, "a new activation: gated? Then here too; and in slow_act");

/* Does --gate gate o, the output of a head? And G: how many gates a row has, of o or of v. */
static bool config_gates_o(const Config *c) { return c->gate && c->gate != GATE_VALUE; }
static int config_gates(const Config *c) {
  if (c->gate == GATE_VALUE) return c->kv_heads * c->head_dim;
  if (c->gate == GATE_ELEMENT) return c->heads * c->head_dim;
  return c->gate ? c->heads : 0;
}

/* Does data/later change scores before sim? Are weights clipped (3.6)? Does it change o? */
static bool config_score_mod(const Config *c) { return c->soft_cap > 0 || c->gain || c->shift; }
static bool config_clips(const Config *c) { return c->clip_low < 0 || c->clip_high > 1; }
static bool config_leaves(const Config *c) {
  return c->xsa || c->v_scale || c->head_norm || config_gates_o(c);
}

/* What a sequence of T tokens is made of, and where things stand in its maps of attention:
 *
 *   rows      x*  1  2 ... T      hidden states, and the queries i of a map   N = T, and any x*
 *   columns * x*  1  2 ... T      the keys j of a map                         S = N, + 1 with *
 *
 *   model               N      S      column of token 1    column "star"
 *   default             T      T      0                    -1
 *   --extra k           T      T+1    1                    0, which is *
 *   --sink-token        T+1    T+1    1                    0, which is x*
 *   both                T+1    T+2    2                    0, which is *
 *   --sink-token 4      T+4    T+4    4                    0, the first of x*1 .. x*4
 *
 * x* is an input: it has a row, passes through every block and can be looked at by its own query.
 * The extra column * has a key and a value in each head, but no query and no hidden state. v+ is
 * neither: it is added to a head's output and has no column. */
static int config_rows(const Config *c, int T) { return T + c->sink_token; }   /* N */

/* S, the width of every map that leaves this file; the columns of Sink_1 and Sink_* (Table 4). */
static int config_columns(const Config *c, int T) { return config_rows(c, T) + (c->extra ? 1 : 0); }
static int config_column_first(const Config *c) { return (c->extra ? 1 : 0) + c->sink_token; }
static int config_column_star(const Config *c) { return c->extra || c->sink_token ? 0 : -1; }

/* [FIG6] w of layer l (from 0), or 0 when the layer sees all. In the paper every layer has the
 * window, and through n of them a token still reaches back n (w-1) places. Published models give it
 * to some layers only: to one in each period, at the offset, or (window_others) to all but that. */
static int config_window(const Config *c, int l) {
  bool named = !c->window_period || l % c->window_period == c->window_offset;
  return named != c->window_others ? c->window : 0;
}

/* Published models mix kinds of blocks (Jamba): does block l, from 0, attend? How many blocks do?
 * How many experts has l? Mamba and the experts stand in data/models, forward only. */
static bool config_attends(const Config *c, int l) {
  return !c->attention_period || l % c->attention_period == c->attention_offset;
}
static int config_attending(const Config *c) {
  int n = 0;
  for (int l = 0; l < c->layers; l++) n += config_attends(c, l);
  return n;
}
static int config_experts(const Config *c, int l) {
  return !c->expert_period || l % c->expert_period == c->expert_offset ? c->experts : 0;
}

/* 0, or 2 with one line for a model with parts of data/models, which have no backward. */
static int config_trains(const Config *c, Error *e) {
  const char *what = NULL;
  for (int l = 0; l < c->layers; l++)
    if (config_experts(c, l)) what = "--experts";
  if (c->rope_scaling == ROPE_LONGROPE) what = "--rope-scaling longrope";
  if (config_attending(c) < c->layers) what = "--attention-period, the Mamba mixer";
  return what ? fail(e, 2, "%s: forward only. Try: ./hf eval MODEL, or without it", what) : 0;
}

/* [T13] Table 13 learns d_a of the D dims of k* and leaves the others 0, without saying which. It
 * matters under rotary: k* is not rotated and q is. With the half-split pair (0, D/2) learned,
 *
 *   z_i* sqrt(D) = (q_0 cos i - q_(D/2) sin i) k*_0 + (q_0 sin i + q_(D/2) cos i) k*_(D/2)
 *
 * swings with a period of 2 pi tokens, as w_0 = 1 (3.4). The slowest pair of the paper's D = 96 has
 * w = 0.000121, 0.25 radians in all of its 2048: only there does k* look alike from everywhere.
 *
 * `first`, the default, and `last` count from an end. `lowfreq` takes the dims that rotate slowest:
 * those that do not, then pairs by falling index, the lower dim first. Of D = 8, all rotated:
 *
 *   first             0 1 2 3 4 5 6 7          last   7 6 5 4 3 2 1 0
 *   lowfreq, half     3 7 2 6 1 5 0 4          lowfreq, interleaved   6 7 4 5 2 3 0 1
 *
 * A dim that is not learned starts at 0 and gets gradient 0 (3.7); AdamW and its decay leave a 0
 * alone. Tests: config_learned_dim__orders, gradients__frozen_dims. */
static bool config_learned_dim(const Config *c, int d) {
  int D = c->head_dim, learned = c->extra_dims ? c->extra_dims : D;
  int half = c->rotary_dims / 2, r = 2 * half, rank;       /* rank 0 is learned first */
  if (c->extra_order == ORDER_FIRST) rank = d;
  else if (c->extra_order == ORDER_LAST) rank = D - 1 - d;
  else if (d >= r) rank = d - r;
  else {
    /* dim d is number `second` (0 or 1) of pair `pair`; the last pair is the slowest */
    int pair = c->rope_pairing == PAIR_HALF ? d % half : d / 2;
    int second = c->rope_pairing == PAIR_HALF ? d / half : d % 2;
    rank = D - r + 2 * (half - 1 - pair) + second;
  }
  return rank < learned;
}

/* Fills the fields that follow from others: D = C/H, K = H, E = C and r = D unless they are given.
 * None of them is 0 afterwards, so resolving twice changes nothing. */
static void config_fill(Config *c) {
  if (!c->vocab) c->vocab = VOCAB_DEFAULT;
  if (!c->head_dim) c->head_dim = c->dim / c->heads;
  if (!c->kv_heads) c->kv_heads = c->heads;                /* H/K query heads share a key head */
  if (!c->embed_dim) c->embed_dim = c->dim;
  if (!c->rotary_dims) c->rotary_dims = c->head_dim;       /* lowfreq reads it without rotary */
  if (c->normalizer == NORMALIZER_PNORM && c->pnorm == 0) c->pnorm = 2;
  if (c->extra != EXTRA_K) c->extra_value = VALUE_ZERO;    /* elsewhere v* is learned or zero */
  if (c->place != PLACE_SANDWICH) c->behind_only = 0;
  /* The 1-norm of positive scores is their sum. Where it is not, both are refused. */
  if (c->normalizer == NORMALIZER_PNORM && c->pnorm == 1) {
    c->normalizer = NORMALIZER_SUM;
    c->pnorm = 0;
  }
  if (c->attention_period) {   /* as Mamba's authors have it */
    if (!c->mamba_inner) c->mamba_inner = 2 * c->dim;
    if (!c->mamba_state) c->mamba_state = 16;
    if (!c->mamba_conv) c->mamba_conv = 4;
    if (!c->mamba_rank) c->mamba_rank = (c->dim + 15) / 16;
  }
  if (c->experts && !c->expert_top) c->expert_top = c->experts < 2 ? c->experts : 2;
}

_Static_assert(KERNEL_ROWS == 3 && SIM_ROWS == 7 && NORMALIZER_ROWS == 5 && EXTRA_ROWS == 6,
               "a new row: which signs have its scores, and beside what is it refused?");
/* Calls config_fill, and refuses rows that mean nothing together, with what to try. Returns 0 or 2.
 *
 * The sign of s matters. exp, sigmoid and elu + 1 are positive. The identity is positive where the
 * elu kernel makes q and k so; but k* and the logit bypass this kernel. Where s can be < 0, its sum
 * can pass through 0 in the middle of a training and is refused: hence the paper's max(|sum s|, 1).
 * So is a p-norm of p < 1, whose slope p |s|^(p-1) sign s has no bound near 0.
 *
 * ALiBi and a learned T5 bias can make the elu kernel's scores negative too; the paper tries
 * neither, and they are not refused. A score bias makes them so from the start: refused as k* is.
 * Tests: config_resolve__refuses, config_resolve__near_misses (what must pass). */
static int config_resolve(Config *c, Error *e) {
  bool divides = c->head_dim || c->dim % c->heads == 0;
  config_fill(c);
  bool p_norm = c->normalizer == NORMALIZER_PNORM, sum = c->normalizer == NORMALIZER_SUM;
  bool identity = c->sim == SIM_IDENTITY, elu = c->kernel == KERNEL_ELU;
  bool raw_key = c->extra == EXTRA_K || c->extra == EXTRA_KV || c->extra == EXTRA_LOGIT;
  bool own_sum = c->sim == SIM_SOFTPICK || c->sim == SIM_RECTIFIED;
  int D = c->head_dim, period = c->attention_period;
  int attending = period < c->layers ? period : c->layers;
  /* what must not be, and what to say of it, with two numbers at most */
  const struct { bool wrong; const char *says; int a, b; } RULES[] = {
    {!divides, "--heads %d does not divide --dim %d. Try: another --heads, or --head-dim",
     c->heads, c->dim},
    {c->heads % c->kv_heads, "--kv-heads %d does not divide --heads %d. Try: a divisor",
     c->kv_heads, c->heads},
    {c->rotary_dims > D, "--rotary-dims %d is more than a head's dims. Try: at most %d",
     c->rotary_dims, D},
    {c->pos == POS_ROTARY && c->rotary_dims % 2, "--pos rotary rotates pairs, and %d dims are "
     "odd. Try: an even --head-dim or --rotary-dims", c->rotary_dims, 0},
    {c->rope_scaling >= ROPE_LLAMA3 && (!(c->rope_high > c->rope_low)
                                        || (c->rope_scaling == ROPE_YARN && !(c->rope_low > 0))),
     "--rope-high is not above --rope-low. Try: --rope-low 1 --rope-high 4", 0, 0},
    {c->extra_dims > D, "--extra-dims %d is more than a head's dims. Try: at most %d",
     c->extra_dims, D},
    {c->prefix > c->context, "--prefix %d is longer than the context. Try: at most %d",
     c->prefix, c->context},
    {c->window_period && c->window_offset >= c->window_period,
     "--window-offset %d: no block has it. Try: at most %d",
     c->window_offset, c->window_period - 1},
    {period && c->attention_offset >= attending,
     "--attention-offset %d: no block attends. Try: at most %d",
     c->attention_offset, attending - 1},
    {c->expert_period && c->expert_offset >= c->expert_period,
     "--expert-offset %d: no block has it. Try: at most %d",
     c->expert_offset, c->expert_period - 1},
    {c->experts && c->expert_top > c->experts,
     "--expert-top %d is more than the --experts %d there are. Try: fewer",
     c->expert_top, c->experts},
    {p_norm && !(c->pnorm > 0), "--pnorm is not above 0. Try: --pnorm 2", 0, 0},
    {p_norm && c->pnorm < 1 && identity && (!elu || raw_key || c->shift), "--pnorm below 1 with "
     "scores of either sign has no slope at 0. Try: --pnorm 2, or --sim exp", 0, 0},
    {identity && sum && !elu, "--sim identity has scores of either sign, whose plain sum can "
     "be 0. Try: --normalizer clamp, one or pnorm, or --kernel elu", 0, 0},
    {identity && elu && raw_key && sum, "--kernel elu keeps scores positive, but k* and a logit "
     "enter raw. Try: --normalizer one or clamp, or --extra zero", 0, 0},
    {identity && c->shift && sum, "--score-bias makes scores of either sign with --sim identity. "
     "Try: --normalizer one or clamp, or --sim exp", 0, 0},
    {own_sum && !sum, "--sim softpick and rectified have their own sum, and no other normaliser. "
     "Try: --normalizer sum", 0, 0},
    {own_sum && elu, "--kernel elu keeps scores positive, and --sim softpick and rectified are for "
     "either sign. Try: --kernel identity", 0, 0},
    {c->sim == SIM_EXP && c->normalizer == NORMALIZER_COUNT, "--normalizer count bounds no e^z. "
     "Try: --sim relu or sigmoid, or --normalizer sum", 0, 0},
    {config_clips(c) && !sum, "--clip-low and --clip-high are for weights that sum to 1. Try: "
     "--normalizer sum", 0, 0},
    {(c->gain || c->shift == SHIFT_LEARNED) && c->context == 1, "--score-scale and --score-bias "
     "start from the context's logarithm, and that of 1 is 0. Try: --context 2", 0, 0},
  };
  for (size_t i = 0; i < sizeof RULES / sizeof RULES[0]; i++)
    if (RULES[i].wrong) return fail(e, 2, RULES[i].says, RULES[i].a, RULES[i].b);
  return 0;
}

/* ==========
 * 2  Parameters: one table of tensors   paper: sections 2 and 4, Table 4
 *
 * A row is one tensor. model_list makes of the rows the list that allocation, initialisation,
 * AdamW, checkpoints, gradient checks and dumps walk. A matrix is [in, out], row-major: y = x W.
 *
 * How a tensor starts under --init (F2). N(0, v) has variance v, U(+-a) deviation a / sqrt(3):
 *
 *                    torch                     authors                      gpt2
 *   INITIAL_EMBED    N(0, 1)                   N(0, 0.4 / C)                N(0, 0.02^2)
 *   INITIAL_LINEAR   U(+-1/sqrt(fan_in))       N(0, 0.4 / fan_in)           N(0, 0.02^2)
 *   INITIAL_OUT      as LINEAR                 as LINEAR                    N(0, 0.02^2 / 2L)
 *   INITIAL_DOWN     as LINEAR                 N(0, 1/(fan_in L^2))         N(0, 0.02^2 / 2L)
 *   INITIAL_BIAS     U(+-1/sqrt(fan_in))       0                            0
 *   INITIAL_SMALL    N(0, 0.02^2) under all three: k*, v*, v+ and the logit
 *   INITIAL_ZERO, _ONE, _HALF   that number: biases, gains, the slopes of DyT
 *   INITIAL_GAIN     1 / log(context), INITIAL_SHIFT - log(context): cscale, sbias (data/later)
 *
 * torch is PyTorch's default, authors their code's own (only SwiGLU's DOWN has its own law). gpt2
 * shrinks what writes into the residual stream, whose 2L terms then have the variance of one. On
 * several GPUs their code builds the model without memory, and PyTorch's start fills it (F2).
 *
 * The row of wte of a token has length 27.7 (torch), 0.63 (authors) or 0.55 (gpt2) in the paper's
 * model. The stream starts from it, and so do the norm ratios of Figure 7. An absolute position has
 * length 19.6 (3.1): 0.7 of a token's under torch, 31 times it under authors. With --tied the
 * unembedding is wte^T: under torch its logits have a deviation near sqrt(C), not of order 1.
 *
 * Weights of the paper's model (C = 768, H = 8, D = 96, F = 1536, L = 10; model_create__counts):
 *
 *   a block        4 C C + 3 C F + 2 C                 2,359,296 + 3,538,944 + 1,536 =  5,899,776
 *   all blocks     10 of them, and the final gain C                                    58,998,528
 *   embeddings     2 V C, with the authors' V = 50,432 (GPT-NeoX's, padded)            77,463,552
 *   KV biases      2 L H D        15,360  (K biases half; shared, an eighth)
 *   V biases       L H D           7,680          sink token  C        768
 *   added heads    W_O is [D,C]: 73,728 a block instead of 589,824
 *   mlp kernel     2 D D a block  18,432          learned positions  [2048,C]  1,572,864 */
enum {
  INITIAL_ZERO, INITIAL_ONE, INITIAL_HALF, INITIAL_GAIN, INITIAL_SHIFT,   /* numbers */
  INITIAL_EMBED, INITIAL_LINEAR, INITIAL_OUT, INITIAL_DOWN, INITIAL_BIAS, INITIAL_SMALL
};

typedef struct TensorRow {
  const char *name;
  size_t field;        /* offset of the pointer in struct Weights, Layer or Norm */
  int shape[2], init;  /* of a vector [n]; INITIAL_* */
  bool matrix;         /* what --decay matrices decays; --decay all takes all (F5) */
  bool present;        /* does the model have it? */
} TensorRow;
enum { ALWAYS = true };
#define NAMED(in, field) #field, offsetof(in, field)

/* Appends the tensors of rows that the model has. t holds what they share: the block (or -1), the
 * part and, for a norm, its offset. A name is `whole` and the row's; block 0 puts "l0." before.
 * Tensors lie end to end in one array. The bounds of OPTIONS keep its length in idx: below
 * 6 * 2^60, of 1024 blocks with five matrices of 2^20 x 2^30 and 256 experts. */
static int list_rows(Model *m, const TensorRow *rows, const char *whole, Tensor t, Error *e) {
  enum { MORE = 64 };
  size_t start = t.field;
  for (; rows->name && !e->status; rows++) {
    if (!rows->present) continue;
    if (t.layer < 0) snprintf(t.name, sizeof t.name, "%s%s", whole, rows->name);
    else snprintf(t.name, sizeof t.name, "l%d.%s%s", t.layer, whole, rows->name);
    t.rank = rows->shape[1] ? 2 : 1;
    t.shape[0] = rows->shape[0];
    t.shape[1] = t.rank == 2 ? rows->shape[1] : 1;   /* a vector [n] is kept as [n,1] */
    t.init = rows->init;
    t.matrix = rows->matrix;
    t.field = start + rows->field;
    t.at = m->count;
    t.count = (idx)t.shape[0] * t.shape[1];
    m->count += t.count;
    if (m->n_tensors % MORE == 0) {
      Tensor *more = realloc(m->tensor, (size_t)(m->n_tensors + MORE) * sizeof *more);
      if (!more) return fail(e, 1, "a list of %d tensors: no memory", m->n_tensors + MORE);
      m->tensor = more;
    }
    m->tensor[m->n_tensors++] = t;
  }
  return e->status;
}

/* Appends a norm, whose struct lies at the offset `field`: "l0.norm1", "l0.norm1.b", "..a". */
static void list_norm(Model *m, int layer, const char *name, size_t field, Error *e) {
  int C = m->c.dim, norm = m->c.norm;
  const TensorRow rows[] = {
    {"",   offsetof(Norm, g), {C}, INITIAL_ONE,  false, ALWAYS},              /* gain */
    {".b", offsetof(Norm, b), {C}, INITIAL_ZERO, false, norm != NORM_RMS},    /* bias */
    {".a", offsetof(Norm, a), {1}, INITIAL_HALF, false, norm == NORM_DYT},    /* slope of tanh */
    {0}
  };
  list_rows(m, rows, name, (Tensor){.layer = layer, .field = field}, e);
}

/* Appends the attention of block l: "l0.wq" and so on. W_Q, W_K, W_V hold heads side by side: head
 * h of W_Q, and key head h of W_K and W_V, has the columns h D .. h D + D - 1. */
static void list_attention(Model *m, int l, Error *e) {
  const Config *c = &m->c;
  int C = c->dim, D = c->head_dim, H = c->heads, K = c->kv_heads, G = config_gates(c);
  int S = c->extra_shared ? 1 : H;   /* copies of k* and v* */
  int O = c->combine == COMBINE_ADD ? D : H * D;   /* what W_O reads */
  bool bias_qkv = c->linear_bias && c->bias_in != BIAS_FFN;
  bool bias_out = bias_qkv && c->bias_in != BIAS_QKV;
  bool kv = c->extra == EXTRA_KV, kstar = kv || c->extra == EXTRA_K;
  bool logit = c->extra == EXTRA_LOGIT && isnan(c->extra_logit);
  bool shift = c->shift == SHIFT_LEARNED, phi = c->kernel == KERNEL_MLP;
  bool by_input = c->gate && c->gate != GATE_STATIC;
  const TensorRow rows[] = {
    {NAMED(Layer, wq),     {C, H * D}, INITIAL_LINEAR, true,  ALWAYS},
    {NAMED(Layer, wk),     {C, K * D}, INITIAL_LINEAR, true,  ALWAYS},
    {NAMED(Layer, wv),     {C, K * D}, INITIAL_LINEAR, true,  ALWAYS},
    {NAMED(Layer, bq),     {H * D},    INITIAL_BIAS,   false, bias_qkv},
    {NAMED(Layer, bk),     {K * D},    INITIAL_BIAS,   false, bias_qkv},
    {NAMED(Layer, bv),     {K * D},    INITIAL_BIAS,   false, bias_qkv},
    {NAMED(Layer, phi1),   {D, D},     INITIAL_LINEAR, true,  phi},   /* Table 15, 10, 11: 3.5 */
    {NAMED(Layer, phi2),   {D, D},     INITIAL_LINEAR, true,  phi},
    {NAMED(Layer, cscale), {H},        INITIAL_GAIN,   false, c->gain},   /* data/later: c_h */
    {NAMED(Layer, sbias),  {H},        INITIAL_SHIFT,  false, shift},   /* data/later: f_h */
    /* Tables 4, 5, 12 and 13: learned, in every block anew. Without vstar v* is 0, or fixed */
    {NAMED(Layer, kstar),  {S, D},     INITIAL_SMALL,  false, kstar},
    {NAMED(Layer, vstar),  {S, D},     INITIAL_SMALL,  false, kv},
    {NAMED(Layer, logit),  {H},        INITIAL_SMALL,  false, logit},   /* z_i* itself */
    {NAMED(Layer, vplus),  {H, D},     INITIAL_SMALL,  false, c->vbias},   /* v+ */
    /* Not the paper's: data/later */
    {NAMED(Layer, wg),     {C, G},     INITIAL_LINEAR, true,  by_input},   /* u = x W_g */
    {NAMED(Layer, gate),   {H},        INITIAL_ZERO,   false, c->gate == GATE_STATIC},   /* u */
    {NAMED(Layer, vscale), {H},        INITIAL_ONE,    false, c->v_scale},   /* c */
    {NAMED(Layer, hnorm),  {H * D},    INITIAL_ONE,    false, c->head_norm},
    {"qnorm", offsetof(Layer, qnorm.g), {c->qk_whole ? H * D : D}, INITIAL_ONE, false, c->qk_norm},
    {"knorm", offsetof(Layer, knorm.g), {c->qk_whole ? K * D : D}, INITIAL_ONE, false, c->qk_norm},
    {NAMED(Layer, wo),     {O, C},     INITIAL_OUT,    true,  ALWAYS},
    {NAMED(Layer, bo),     {C},        INITIAL_BIAS,   false, bias_out},
    {0}
  };
  list_rows(m, rows, "", (Tensor){.layer = l}, e);
}

/* Appends the ffn of block l. The paper's linear maps have no biases. w2 is the second branch where
 * there is a gate, else the way back. An expert has a part, and names that begin with `whole`. */
static void list_ffn(Model *m, int l, const char *whole, int part, Error *e) {
  const Config *c = &m->c;
  int C = c->dim, F = c->ffn;
  bool gated = config_gated(c);
  bool bias = c->linear_bias && (c->bias_in == BIAS_ALL || c->bias_in == BIAS_FFN);
  const TensorRow rows[] = {
    {NAMED(Layer, w1), {C, F}, INITIAL_LINEAR, true,  ALWAYS},
    {NAMED(Layer, w2), {C, F}, INITIAL_LINEAR, true,  gated},
    {NAMED(Layer, w2), {F, C}, INITIAL_DOWN,   true,  !gated},
    {NAMED(Layer, w3), {F, C}, INITIAL_DOWN,   true,  gated},
    {NAMED(Layer, b1), {F},    INITIAL_BIAS,   false, bias},
    {NAMED(Layer, b2), {gated ? F : C}, INITIAL_BIAS, false, bias},
    {NAMED(Layer, b3), {C},    INITIAL_BIAS,   false, bias && gated},
    {0}
  };
  list_rows(m, rows, whole, (Tensor){.layer = l, .part = part}, e);
}

/* What published models have in place of the paper's parts (data/models), and what later papers do
 * to norms, scores and heads (data/later); in ./sink nothing. */
static const PublishedParts PUBLISHED_PARTS;
static const Beyond BEYOND;

/* Fills in the list of tensors. w.layer and d.layer are allocated, their pointers still NULL. */
static int model_list(Model *m, const Config *c, Error *e) {
  int V = c->vocab, C = c->dim, E = c->embed_dim, X = c->sink_token;
  int P = config_rows(c, c->context);   /* positions: of the sink tokens, then of the context */
  const TensorRow first[] = {
    {NAMED(Weights, wte),   {V, E},         INITIAL_EMBED,  true,  ALWAYS},   /* W_E */
    {NAMED(Weights, win),   {E, C},         INITIAL_LINEAR, true,  E != C},
    {NAMED(Weights, xstar), {C},            INITIAL_EMBED,  false, X == 1},   /* x*: Table 4 */
    {NAMED(Weights, xstar), {X, C},         INITIAL_EMBED,  false, X > 1},
    {NAMED(Weights, wpe),   {P, C},         INITIAL_EMBED,  true,  c->pos == POS_LEARNED},
    {NAMED(Weights, rel),   {32, c->heads}, INITIAL_ZERO,   false, c->pos == POS_T5},   /* b_h */
    {0}
  };
  /* LN(H^L) W_cls, behind the final norm; a tied W_cls is W_E^T */
  const TensorRow last[] = {
    {NAMED(Weights, wout),  {C, E},         INITIAL_LINEAR, true,  E != C},
    {NAMED(Weights, wcls),  {E, V},         INITIAL_LINEAR, true,  !c->tied},
    {0}
  };
  const PublishedParts *p = PUBLISHED_PARTS.open ? &PUBLISHED_PARTS : NULL;
  *m = (Model){.c = *c, .published = p, .linear = PUBLISHED_PARTS.linear};
  if (!p && config_trains(c, e)) return e->status;
  const char *beyond = c->norm == NORM_DYT ? "--norm dyt" : c->qk_norm ? "--qk-norm"
                     : c->gate ? "--gate" : config_leaves(c) ? "--head-norm, --v-scale and --xsa"
                     : config_score_mod(c) ? "--soft-cap, --score-scale and --score-bias" : NULL;
  if (beyond && !BEYOND.leave) return fail(e, 2, "%s: for ./paper. Try: make paper", beyond);
  m->w.layer = grab(c->layers, sizeof(Layer), e);
  m->d.layer = grab(c->layers, sizeof(Layer), e);
  list_rows(m, first, "", (Tensor){.layer = -1}, e);
  for (int l = 0; l < c->layers; l++) {
    if (!c->behind_only) list_norm(m, l, "norm1", offsetof(Layer, norm1), e);
    if (!p || !p->list_mixer(m, l, e)) list_attention(m, l, e);
    if (!c->behind_only) list_norm(m, l, "norm2", offsetof(Layer, norm2), e);
    if (!p || !p->list_ffn(m, l, e)) list_ffn(m, l, "", 0, e);
    if (c->place != PLACE_SANDWICH) continue;
    list_norm(m, l, "norm3", offsetof(Layer, norm3), e);
    list_norm(m, l, "norm4", offsetof(Layer, norm4), e);
  }
  if (c->place != PLACE_POST) list_norm(m, -1, "normf", offsetof(Weights, normf), e);
  list_rows(m, last, "", (Tensor){.layer = -1}, e);
  if (e->status) model_free(m);
  return e->status;
}

/* Sets every pointer of w to its tensor in the memory at base. What a model lacks stays NULL. A
 * matrix that stays in its file (data/models) has at < 0; its pointer leads to its list entry. */
static void model_point(Model *m, Weights *w, real *base) {
  for (int i = 0; i < m->n_tensors; i++) {
    Tensor *t = &m->tensor[i];
    real *here = t->at < 0 ? (real *)(void *)t : base + t->at;
    void *owner = t->part ? m->published->owner(m, t)
                          : t->layer < 0 ? (void *)w : &w->layer[t->layer];
    memcpy((char *)owner + t->field, &here, sizeof here);   /* a field known by its offset */
  }
}

/* Makes room for gradients, all 0, laid out as the parameters are. */
static int model_grads(Model *m, Error *e) {
  m->grads = grab(m->count, sizeof(real), e);
  if (m->grads) model_point(m, &m->d, m->grads);
  return e->status;
}

/* A model with all parameters 0, and gradients when asked for. c must be resolved. On failure there
 * is nothing to free. Parameters and gradients each take 546 MB in float for the paper's model. */
static int model_create(Model *m, const Config *c, bool with_grads, Error *e) {
  *m = (Model){0};
  if ((with_grads && config_trains(c, e)) || model_list(m, c, e)) return e->status;
  m->params = grab(m->count, sizeof(real), e);
  if (m->params) model_point(m, &m->w, m->params);
  if (with_grads) model_grads(m, e);
  if (e->status) model_free(m);
  return e->status;
}

/* Also after a failed model_create; m is empty afterwards. */
void model_free(Model *m) {
  if (m->published) m->published->close(m);
  free(m->tensor); free(m->w.layer); free(m->d.layer); free(m->params); free(m->grads);
  *m = (Model){0};
}

/* The one place that zeroes them: every backward below adds to the gradients of its parameters. */
static void model_zero_grads(Model *m) {
  idx piece = 4096;
  PARALLEL
  for (idx at = 0; at < m->count; at += piece)
    zero(m->grads + at, at_most(m->count - at, piece));
}

/* A tensor by its full name ("l3.wq", "wte"); NULL when the variant has none. */
const Tensor *model_tensor(const Model *m, const char *name) {
  for (int i = 0; i < m->n_tensors; i++)
    if (!strcmp(m->tensor[i].name, name)) return &m->tensor[i];
  return NULL;
}

/* The table of starts above: the standard deviation, or -a where the start is U(+-a). */
static double init_spread(const Config *c, int kind, int fan_in, int init) {
  double fan = sqrt((double)fan_in), depth = sqrt(2.0 * c->layers);
  if (kind == INITIAL_SMALL) return 0.02;
  if (kind == INITIAL_BIAS && init != INIT_TORCH) return 0;
  if (init == INIT_GPT2) return kind == INITIAL_OUT || kind == INITIAL_DOWN ? 0.02 / depth : 0.02;
  if (kind == INITIAL_EMBED) return init == INIT_TORCH ? 1 : sqrt(0.4 / c->dim);
  if (init == INIT_TORCH) return -1 / fan;
  return kind == INITIAL_DOWN && c->act == ACT_SWIGLU ? 1 / (fan * c->layers) : sqrt(0.4) / fan;
}

/* Every tensor draws from a stream of its own, seeded by its name: two variants of one seed start
 * alike where both have it (test model_init__streams). */
static void model_init(Model *m, int init, uint64_t seed) {
  double log_context = log(m->c.context);
  const double number[] = {[INITIAL_ZERO] = 0, [INITIAL_ONE] = 1, [INITIAL_HALF] = 0.5,
                           [INITIAL_GAIN] = 1 / log_context, [INITIAL_SHIFT] = -log_context};
  for (int i = 0; i < m->n_tensors; i++) {
    const Tensor *t = &m->tensor[i], *matrix = t;
    Rng rng = {hash64(seed, t->name, strlen(t->name))};
    if (t->init == INITIAL_BIAS) {   /* the fan-in of l0.bq is that of l0.wq (PyTorch) */
      char name[sizeof t->name];
      strcpy(name, t->name);
      *strrchr(name, 'b') = 'w';
      matrix = model_tensor(m, name);
    }
    double spread = init_spread(&m->c, t->init, matrix->shape[0], init);
    bool kstar = strstr(t->name, ".kstar");
    for (idx n = 0; n < t->count; n++) {
      double x = spread < 0 ? spread * (1 - 2 * rng_uniform(&rng)) : spread * rng_normal(&rng);
      if (t->init <= INITIAL_SHIFT) x = number[t->init];
      if (kstar && !config_learned_dim(&m->c, (int)(n % m->c.head_dim))) x = 0;   /* frozen */
      m->params[t->at + n] = (real)x;
    }
  }
}

/* ==========
 * 3  Operators, forward and backward side by side
 *
 * They make one block (section 2; Figure 1 left [FIG1]), which chapter 4 puts together. A block
 * reads the residual stream x = h^{l-1} and writes y = h^l; n1 .. n4 are norms:
 *
 *   pre [E2]          post [E3]               parallel (GPT-NeoX's)       sandwich (Gemma 2's)
 *
 *   x -----+          x -----+                x -----+-----------+        x -----+
 *   |      n1         |      |                |      n1          n2       |      n1
 *   |     MHSA        |     MHSA              |     MHSA        FFN       |     MHSA
 *   + <----+          + <----+                + <----+           |        |      n3
 *   u -----+          n1                      u                  |        + <----+
 *   |      n2         u -----+                |                  |        u -----+
 *   |     FFN         |     FFN               + <----------------+        |      n2
 *   + <----+          + <----+                y                           |     FFN
 *   y                 n2                                                  |      n4
 *                     y                                                   + <----+
 *                                                                         y
 *
 *   MHSA   3.3 W_Q, W_K, W_V -> 3.4 rotation -> 3.5 phi -> 3.6, 3.7 attention -> 3.8 -> 3.9 W_O
 *   FFN    3.10       norms   3.2        before the first block   3.1 embedding
 *
 * Rows (tokens) meet in 3.7 and nowhere else. A forward overwrites its output. A backward adds to
 * the gradients of its parameters, and says of its input's gradient whether it adds (dx +=) or
 * overwrites (dx =). Above each step of a backward stands the forward's line.
 *
 * No two iterations of a PARALLEL loop write one number, so bits do not depend on the number of
 * threads: sums over rows (gain, bias, embedding) are shared out by columns. Acts (sink.h, 4) has
 * gradients on their way (a->dq) and, by block in LayerActs (la->q), what a forward keeps.
 *
 * ----------
 * 3.1  Embedding and positions added to the input   H^0 = X W_E + P   section 2, [E5] [T4]
 *
 *   h_n = f wte[id] (W_in) + p_n    row n of a sequence; x*, if there are any, come first
 *
 * The paper's X has one-hot rows: X W_E copies rows of W_E. W_in [E,C] is there when E is not C. f
 * is 1, or Gemma's sqrt(C) (--embed-scale). P is absolute [E5], a table of learned rows, or 0: then
 * the position enters the scores only (3.4), or nowhere (NoPE). Appendix B.1: without P a repeated
 * token starts from equal states and, under softmax, keeps them in all blocks. So on repeated
 * tokens Table 1 has a Sink_1 of 62.28 in GPT2-XL, whose P is learned, and 0.00 in LLaMA3-8B
 * (rotary). Positions count from 0, as in the authors' code, x* first; the paper's from 1.
 *
 * Backward. h is linear in each of wte, W_in, x* and P. From dh_n, summed over the sequences:
 *   dp_n     += dh_n        a row of the learned table         dx*_n += dh_n     the rows of x*
 *   dwte[id] += f dh_n      over all n that hold id; other ids get 0
 *   with W_in: e = f wte[id], h = e W_in + p:  dW_in += e^T dh  de = dh W_in^T  dwte[id] += f de */

enum {
  CHANNELS = 32,   /* columns a task owns where gradients are summed over rows */
  CHUNK = 256      /* numbers handled at a time on the stack */
};

/* How many of n numbers a loop that goes by CHUNK handles from number `from` on. */
static idx chunk(idx n, idx from) { return at_most(n - from, CHUNK); }

/* [E5] p_n = (sin w_1 n, cos w_1 n, sin w_2 n, ...), w_i = 10000^(-2(i-1)/C). Channel ch from 0 is
 * the sine (even) or cosine (odd) of frequency i = ch/2 + 1, rounded down. Each pair has sin^2 +
 * cos^2 = 1, so |p_n| = sqrt(C/2) at every n. The authors: sines first (F4), channels renamed. */
static double absolute_position(int C, int n, int ch) {
  double angle = n * pow(10000.0, -(double)(ch - ch % 2) / C);
  return ch % 2 ? cos(angle) : sin(angle);
}

/* N, the rows of a forward over T tokens: x* are rows of the first forward, not of later ones. */
static idx forward_rows(const Config *c, const Acts *a, int T) {
  return a->past ? T : config_rows(c, T);
}

/* The position that row n reads: n, but for [T7]. There an evaluation replaces p_1 by p_t, or swaps
 * the two, to ask whether GPT2-XL's sink depends on it. Token 1 is row `first`, behind any x*. */
static idx position_row(const PositionEdit *edit, idx n, idx first) {
  if (edit && n == first) return first + edit->t - 1;
  return edit && edit->swap && n == first + edit->t - 1 ? first : n;
}

/* ids [B,T] to h = H^0 [B,N,C], at positions from a->past on. */
static void embed_forward(const Model *m, Acts *a, const int *ids, int B, int T, real *h) {
  const Config *c = &m->c;
  idx C = c->dim, E = c->embed_dim, N = forward_rows(c, a, T), first = N - T;
  const real *table = m->w.wpe ? m->w.wpe : a->sinusoid;   /* P [rows,C], or NULL */
  for (idx b = 0; b < B; b++) {
    real *h_b = h + b * N * C;   /* [N,C] */
    real *rows = h_b + first * C;   /* [T,C] the tokens' rows */
    real *e_b = E == C ? rows : a->embed + b * T * E;   /* [T,E] rows of wte */
    /* e_t = f wte[id_t];  h_t = e_t W_in */
    for (int t = 0; t < T; t++) {
      int id = ids[b * T + t];
      if (!m->published || !m->published->row(m, e_b + t * E, id))
        copy(e_b + t * E, m->w.wte + id * E, E);
    }
    if (c->embed_scale > 0) vec_scale(T * E, e_b, (real)c->embed_scale);
    if (E != C) matmul(rows, C, rows_of(e_b, E), rows_of(m->w.win, C), T, C, E, false);
    /* h_n = x*_n: input rows like any other from here on */
    if (first) copy(h_b, m->w.xstar, first * C);
    /* h_n += p_n, N rows of either table */
    for (idx n = 0; table && n < N; n++)
      vec_add(C, h_b + n * C, table + position_row(a->edit, a->past + n, first) * C);
  }
}

/* to += f * from, for rows of `width` columns, on CHANNELS columns: `block` and those after it. */
static void add_block(real *to, real f, const real *from, idx block, idx width) {
  for (idx ch = block; ch < block + CHANNELS && ch < width; ch++) to[ch] += f * from[ch];
}

/* dh [B,N,C] is the gradient of H^0. With a projection, a->embed [B,T,E] holds the rows that the
 * forward picked until dW_in has read them, and from then on their gradient. */
static void embed_backward(Model *m, Acts *a, const int *ids, int B, int T, const real *dh) {
  const Config *c = &m->c;
  idx C = c->dim, E = c->embed_dim, N = config_rows(c, T), first = N - T;
  real f = c->embed_scale > 0 ? (real)c->embed_scale : 1;
  for (idx b = 0; E != C && b < B; b++) {
    const real *drows = dh + (b * N + first) * C;   /* [T,C] the tokens' rows */
    real *e_b = a->embed + b * T * E;   /* [T,E] */
    /* h = e W_in:  dW_in += e^T dh, then de = dh W_in^T over e */
    matmul(m->d.win, C, transpose_of(e_b, E), rows_of(drows, C), E, C, T, true);
    matmul(e_b, E, rows_of(drows, C), transpose_of(m->w.win, C), T, E, C, false);
  }
  PARALLEL
  for (idx block = 0; block < (C > E ? C : E); block += CHANNELS)
    for (idx b = 0; b < B; b++)
      for (idx n = 0; n < N; n++) {
        const real *dh_n = dh + (b * N + n) * C;
        idx token = b * T + n - first;
        /* h_n = x*_n, or f wte[id] (W_in) */
        if (n < first) add_block(m->d.xstar + n * C, 1, dh_n, block, C);
        else
          add_block(m->d.wte + ids[token] * E, f, E == C ? dh_n : a->embed + token * E, block, E);
        /* h_n = .. + p_n */
        if (c->pos == POS_LEARNED) add_block(m->d.wpe + n * C, 1, dh_n, block, C);
      }
}

/* ----------
 * 3.2  Normalisation   RMSNorm: y = g x r      LayerNorm: y = g (x - mu) r + b
 *
 *   r = 1 / sqrt(mean_c (x_c - mu)^2 + eps), with mu = mean_c x_c, and mu = 0 for RMSNorm
 *
 * The paper's LN is an RMSNorm with a gain; its code starts that at 1, with eps = 1e-5. A norm
 * forgets the length of its row. Divided by its RMS, the massive h_1 of section 3.1 is as long as
 * the other rows. Its few huge channels stay, the rest shrink, and its key lies elsewhere.
 *
 * Backward, through the normalised row n_c = (x_c - mu) r: y_c = g_c n_c + b_c, so dn_c = g_c dy_c.
 * With v = mean_k (x_k - mu)^2 and r = (v + eps)^(-1/2):
 *
 *   dv/dx_c    =  2 (x_c - mu) / C            what goes through mu adds -2/C mean_k (x_k - mu) = 0
 *   dr/dx_c    = -r^3/2 dv/dx_c  =  -r^2 n_c / C
 *   dn_k/dx_c  =  r (1[k = c] - 1/C) + (x_k - mu) dr/dx_c  =  r (1[k = c] - 1/C - n_k n_c / C)
 *
 * RMSNorm has no mu, and so no term -1/C. With dn = dL/dn, dx_c = sum_k dn_k (dn_k/dx_c) is
 *
 *   dx_c += r (dn_c - mean dn - n_c mean(dn n))           the middle term only for LayerNorm
 *   dg_c += sum over rows of dy_c n_c      db_c += sum over rows of dy_c
 *
 * A second pass takes the variance, so no large squares are subtracted. A row of zeros gives b. */

_Static_assert(NORM_ROWS == 3, "a new norm: its bias (2), its row and its gains, both ways");
/* One row: y = g (x - mu) r + b, for x, y [C]. stat [2] becomes mu, r. */
WIDE(norm_row,
     (const Config *c, idx C, real *restrict y, real *stat, const real *restrict x, const Norm *w),
     (c, C, y, stat, x, w)) {
  const real *g = w->g, *b = w->b;
  real mu = c->norm == NORM_LAYER ? vec_sum(C, x) / (real)C : 0;
  for (idx ch = 0; ch < C; ch++) y[ch] = x[ch] - mu;   /* until r is known */
  real r = 1 / (real)sqrt((double)(vec_dot(C, y, y) / (real)C) + c->norm_eps);
  for (idx ch = 0; ch < C; ch++) y[ch] *= r * g[ch];
  if (b) for (idx ch = 0; ch < C; ch++) y[ch] += b[ch];
  stat[0] = mu;
  stat[1] = r;
}

/* x, y [rows,C]; stat [rows,2]. */
static void norm_forward(const Config *c, real *y, real *stat, const real *x, const Norm *w,
                         idx rows) {
  idx C = c->dim;
  if (w->a) {   /* DyT: data/later */
    BEYOND.dyt(c, y, x, w, rows);
    return;
  }
  PARALLEL
  for (idx n = 0; n < rows; n++) norm_row(c, C, y + n * C, stat + 2 * n, x + n * C, w);
}

/* One row of dx += r (dn - mean dn - n mean(dn n)), with dn = g dy and n = (x - mu) r. */
WIDE(norm_row_backward,
     (const Config *c, idx C, real *restrict dx, const real *restrict dy, const real *restrict x,
      const real *stat, const real *restrict g),
     (c, C, dx, dy, x, stat, g)) {
  real mu = stat[0], r = stat[1], mean = 0, along = 0, dn[CHUNK], off[CHUNK];
  for (idx from = 0; from < C; from += CHUNK) {
    idx some = chunk(C, from);
    for (idx j = 0; j < some; j++) dn[j] = g[from + j] * dy[from + j];
    for (idx j = 0; j < some; j++) off[j] = x[from + j] - mu;
    if (c->norm == NORM_LAYER) mean += vec_sum(some, dn);
    along += vec_dot(some, dn, off);   /* sum dn (x - mu) */
  }
  mean *= r / (real)C;   /* from the sum to r mean dn */
  along = along * r / (real)C * r * r;   /* r^2 mean(dn n), as n = off r */
  for (idx ch = 0; ch < C; ch++) dx[ch] += r * g[ch] * dy[ch] - mean - (x[ch] - mu) * along;
}

/* One row's part of dg += dy n and db += dy, on `width` columns. */
WIDE(norm_gains,
     (idx width, real *restrict dg, real *restrict db, const real *restrict dy,
      const real *restrict x, const real *stat),
     (width, dg, db, dy, x, stat)) {
  real mu = stat[0], r = stat[1];
  for (idx ch = 0; ch < width; ch++) dg[ch] += dy[ch] * (x[ch] - mu) * r;   /* dy n */
  if (db) for (idx ch = 0; ch < width; ch++) db[ch] += dy[ch];
}

/* dx [rows,C] and the gradients d of w are added to, from dy [rows,C] and the input x. */
static void norm_backward(const Config *c, real *dx, const Norm *d, const real *dy, const real *x,
                          real *stat, const Norm *w, idx rows) {
  idx C = c->dim;
  if (w->a) {   /* DyT has no stat, and uses its place as scratch: data/later */
    BEYOND.dyt_backward(c, dx, d, dy, x, stat, w, rows);
    return;
  }
  PARALLEL
  for (idx n = 0; n < rows; n++)
    norm_row_backward(c, C, dx + n * C, dy + n * C, x + n * C, stat + 2 * n, w->g);
  PARALLEL
  for (idx block = 0; block < C; block += CHANNELS)
    for (idx n = 0; n < rows; n++)
      norm_gains(at_most(C - block, CHANNELS), d->g + block, d->b ? d->b + block : NULL,
                 dy + n * C + block, x + n * C + block, stat + 2 * n);
}

/* ----------
 * 3.3  Linear   y = x W + b        x [rows,in], W [in,out], y [rows,out]
 *
 *   dx = dy W^T (or +=)        dW += x^T dy        db += sum over rows of dy
 *
 * From y_no = sum_i x_ni W_io + b_o: x_ni reaches the loss through the outputs of its own row,
 * dx_ni = sum_o dy_no W_io, and W_io through every row, dW_io = sum_n x_ni dy_no.
 *
 * The paper's projections have no b; --linear-bias is for published models. m->linear multiplies by
 * matrices that stay in their file (data/models) or are rounded (--quantize). Cost: rows * in * out
 * multiplications forward, twice that backward. Test: linear__with_biases. */

/* b [out], or NULL. y may not overlap x. */
static void linear_forward(const Model *m, real *y, const real *x, const real *w, const real *b,
                           idx rows, idx in, idx out) {
  if (!m->linear || !m->linear(m, y, x, w, false, rows, in, out))
    matmul(y, out, rows_of(x, in), rows_of(w, out), rows, out, in, false);
  if (!b) return;
  PARALLEL
  for (idx n = 0; n < rows; n++) vec_add(out, y + n * out, b);
}

/* dx [rows,in] is overwritten, or added to when `add`. dx may overlap neither dy nor x. */
static void linear_backward(real *dx, bool add, real *dw, real *db, const real *dy, const real *x,
                            const real *w, idx rows, idx in, idx out) {
  /* y = x W + b:  dx = dy W^T */
  matmul(dx, in, rows_of(dy, out), transpose_of(w, out), rows, in, out, add);
  /* dW += x^T dy: the sum over rows lies inside the product */
  matmul(dw, out, transpose_of(x, in), rows_of(dy, out), in, out, rows, true);
  if (!db) return;
  /* db += sum_n dy_n, down the columns */
  PARALLEL
  for (idx block = 0; block < out; block += CHANNELS)
    for (idx n = 0; n < rows; n++) add_block(db, 1, dy + n * out, block, out);
}

/* ----------
 * 3.4  Positions inside the dot product   [E6] [E7] [E8] [T3], Appendix A
 *
 * Rotary [E8] rotates pairs of dims of q and k by an angle that grows with the position n:
 *   (x, y) <- (x cos - y sin, x sin + y cos),  angle = n w_c,  w_c = 10000^(-2c/r),  c = 0 .. r/2-1
 *
 * The paper's row q R_(-n) is R_n q here. As R_i^T R_j = R_(j-i), <R_i q, R_j k> = <q, R_(j-i) k>
 * knows the distance alone. For one pair, q at angle a and k at b: |q| |k| cos(b - a + (j-i) w_c).
 * Lengths stay: |z_ij| <= |q||k|/sqrt(D), the xi of Proposition 4 (whose proof omits the root).
 *
 *   dims of a head, r = 8    0   1   2   3   4   5   6   7
 *   half-split    pair       0   1   2   3   0   1   2   3     (c, c + r/2): the authors' code
 *   interleaved   pair       0   0   1   1   2   2   3   3     (2c, 2c + 1): equation 9
 *
 * The two are one model with its dims renamed (F4). With r < D the dims from r on stand still.
 * Backward: x' = R_n x, so dx = R_n^T dx' = R_(-n) dx': the same loop with the sine negated.
 *
 * Relative [E6], T5 and ALiBi [E7] add a distance bias b_h(i-j) to the score, after the division
 * by sqrt(D); a key ahead of its query, inside a prefix, counts as distance 0:
 *   relative   b(n) = bucket(n): the number itself, fixed, one for all heads: the authors' (F3)
 *   t5         b_h(n) = rel[bucket(n), h], learned and shared by all layers
 *   alibi      b_h(n) = -n 2^(-8h/H), h = 1..H: equation 7, also where H is no power of 2
 *
 * The sign of a bias matters. `relative` favours the farthest key: with all <q,k> equal and T = 64
 * alpha_1 is 0.334 in every head, above 0.3 with nothing learned. So Proposition 2 fails there
 * (7.6), and some of Table 3's row "Relative" (35.53, loss 5.45) may be the bias itself.
 *
 * Backward: b is added to z, so db_h(i-j) += dz_ij over all rows, layers and sequences; only T5
 * learns from it, drel[bucket(n),h] += db_h(n). */

/* w of a pair, in radians a position. Published models stretch it for a longer context: ROPE_LINEAR
 * divides all by a factor; Llama 3.1 and YaRN divide pairs with fewer than `low` turns in the
 * original context, keep those above `high`, and blend between. longrope: data/models. */
static double rope_frequency(const Config *c, int pair) {
  double w = pow(c->rope_base, -2.0 * pair / c->rotary_dims);
  if (c->rope_scaling == ROPE_NONE) return w;
  if (c->rope_scaling == ROPE_LINEAR) return w / c->rope_factor;
  double turns = c->rope_original * w / (2 * PI);   /* in the original context */
  double kept = (turns - c->rope_low) / (c->rope_high - c->rope_low);   /* 0: divided, 1: w */
  if (c->rope_scaling == ROPE_YARN)   /* it blends by the logarithm of the turns */
    kept = log(turns / c->rope_low) / log(c->rope_high / c->rope_low);
  kept = fmin(fmax(kept, 0), 1);
  return w * (kept + (1 - kept) / c->rope_factor);
}

/* [E6] with the paper's B = 32 and D = 128, as the authors' code computes it: one bucket each
 * for 0 to 15, then 16 from 16 * 8^(k/16) on (8 = D/(B/2)): 16, 19, 21, 24, 27, .., 99, 113. The
 * printed floor stands before the factor B/2, and would send 16..127 all to bucket 16. */
static int position_bucket(idx distance) {
  if (distance < 16) return distance < 0 ? 0 : (int)distance;
  int bucket = 16 + (int)(16 * log((double)distance / 16) / log(8.0));
  return bucket < 31 ? bucket : 31;   /* all from 113 on */
}

_Static_assert(POS_ROWS == 7, "a new scheme: added in 3.1, rotated in 4, or a bias: also take_all");
/* b_h(distance), head h from 0 (so ALiBi's exponent has h + 1), for the three that have one. */
static double distance_bias(const Model *m, int h, idx distance) {
  const Config *c = &m->c;
  idx n = distance > 0 ? distance : 0;
  if (c->pos == POS_RELATIVE) return position_bucket(n);
  if (c->pos == POS_T5) return m->w.rel[position_bucket(n) * c->heads + h];
  return -(double)n * pow(2.0, -8.0 * (h + 1) / c->heads);
}

/* Does layer l turn by --rope-local, as Gemma 3's layers with a window do? */
static bool rope_is_local(const Config *c, int l) {
  return c->rope_local > 0 && config_window(c, l);
}

/* Tables of the model's scheme: cosine, sine [N,r/2], then --rope-local's; sinusoid [N,C]. */
static void positions_tabulate(const Config *c, Acts *a, int N) {
  int half = c->rotary_dims / 2, C = c->dim, tables = c->rope_local > 0 ? 2 : 1;
  for (int p = 0; a->cosine && p < half; p++)
    for (idx n = 0; n < tables * N; n++) {
      double w = n < N ? rope_frequency(c, p) : pow(c->rope_local, -2.0 * p / c->rotary_dims);
      real angle = (real)(n % N) * (real)w;
      a->cosine[n * half + p] = (real)cos(angle);
      a->sine[n * half + p] = (real)sin(angle);
    }
  for (int n = 0; a->sinusoid && n < N; n++)
    for (int ch = 0; ch < C; ch++)
      a->sinusoid[(idx)n * C + ch] = (real)absolute_position(C, n, ch);
}

/* Biases [H,2N-1] by j - i from -(N-1) to N-1, so that a row of scores adds a run of them. */
static void biases_tabulate(const Model *m, Acts *a) {
  idx N = a->N;
  for (int h = 0; a->bias && h < m->c.heads; h++)
    for (idx u = 0; u < 2 * N - 1; u++)
      a->bias[h * (2 * N - 1) + u] = (real)distance_bias(m, h, N - 1 - u);
}

/* Where b_h(0) stands in head h's row of that table: index it by j - i. NULL without a bias. */
static const real *head_bias(const Acts *a, idx h) {
  return a->bias ? a->bias + h * (2 * a->N - 1) + a->N - 1 : NULL;
}

/* Rotates n pairs (u, v) of one head in place, back where sign is -1; pairs lie `step` apart. */
WIDE(rotate_pairs,
     (idx n, real *restrict u, real *restrict v, const idx step, const real *restrict cosine,
      const real *restrict sine, real sign),
     (n, u, v, step, cosine, sine, sign)) {
  for (idx p = 0; p < n; p++) {
    real u_p = u[p * step], v_p = v[p * step], s = sign * sine[p];
    u[p * step] = u_p * cosine[p] - v_p * s;
    v[p * step] = u_p * s + v_p * cosine[p];
  }
}

/* x [B*N,heads,D] = R_n x in place, in layer l; sign = 1 forward, -1 for the gradient. */
static void rotate(const Config *c, const Acts *a, int l, real *x, idx rows, idx N, idx heads,
                   int sign) {
  idx D = c->head_dim, half = c->rotary_dims / 2;
  idx step = c->rope_pairing == PAIR_HALF ? 1 : 2, apart = step == 1 ? half : 1;
  PARALLEL
  for (idx n = 0; n < rows; n++) {
    idx position = a->past + n % N + (rope_is_local(c, l) ? a->N : 0);
    const real *cosine = a->cosine + position * half;   /* [r/2] */
    const real *sine = a->sine + position * half;
    for (int h = 0; h < heads; h++) {
      real *x_h = x + (n * heads + h) * D;   /* [D] */
      rotate_pairs(half, x_h, x_h + apart, step, cosine, sine, (real)sign);
    }
  }
}

/* T5: dbias [B,H,2N-1], the gradient by j - i, goes to the buckets, in one order. */
static void t5_backward(Model *m, const Acts *a, int B, idx N) {
  idx H = m->c.heads, width = 2 * N - 1;
  for (idx b = 0; b < B; b++)
    for (int h = 0; h < H; h++)
      for (idx u = 0; u < width; u++)
        /* z_ij += rel[bucket(i-j), h], i - j = N-1-u */
        m->d.rel[position_bucket(N - 1 - u) * H + h] += a->dbias[(b * H + h) * width + u];
}

/* ----------
 * 3.5  Activations and the kernel phi   [T11] [T15]
 *
 * The ffn takes act(x W_1) (3.10); elu + 1 is a kernel and a similarity. f' is computed from x.
 *
 *   swish    x g,  g = 1/(1 + e^-x)          derivative g (1 + x (1 - g)),  by g' = g (1 - g)
 *   gelu     x Phi(x), by erf (Table 11's)   Phi(x) + x phi(x), phi = Phi' the normal density
 *   gelutanh x (1 + tanh(u))/2 = x g         g + x g (1 - g) 2u'
 *            u = sqrt(2/pi) (x + 0.044715 x^3),  g = 1/(1 + e^-2u): swish's g at 2u
 *   relu     max(x, 0)                       1 above 0, else 0 (as PyTorch)
 *   elu + 1  e^min(x,0) + max(x,0)           e^min(x,0): 1 above 0, e^x below
 *
 * elu + 1 takes e^ of min(x, 0) only: nothing overflows. A masked z, -infinity, has f = f' = 0. */

/* f(x) of n numbers, and f'(x) unless df is NULL; n <= CHUNK for swish and the gelus. */
typedef void Activation(idx n, const real *x, real *f, real *df);

WIDE(act_swish, (idx n, const real *x, real *f, real *df), (n, x, f, df)) {
  real g[CHUNK];
  vec_sigmoid(n, g, x);
  if (df) for (idx j = 0; j < n; j++) df[j] = g[j] * (1 + x[j] * (1 - g[j]));
  for (idx j = 0; j < n; j++) f[j] = x[j] * g[j];
}

static void act_gelu(idx n, const real *x, real *f, real *df) {
  real Phi[CHUNK], density[CHUNK];
  vec_cumulative(n, Phi, x);   /* not (1 + erf)/2, which has no digits left below -6 */
  if (df) {
    for (idx j = 0; j < n; j++) density[j] = -x[j] * x[j] / 2;   /* phi sqrt(2 pi) = e^(-x^2/2) */
    vec_exp(n, density, density, 0);
    for (idx j = 0; j < n; j++) df[j] = Phi[j] + x[j] * density[j] * (real)INV_SQRT_2PI;
  }
  for (idx j = 0; j < n; j++) f[j] = x[j] * Phi[j];
}

static void act_gelutanh(idx n, const real *x, real *f, real *df) {
  real a = 2 * (real)SQRT_2_OVER_PI, b = (real)0.044715; /* 2u = a (x + b x^3) */
  real g[CHUNK] = {0};
  for (idx j = 0; j < n; j++) g[j] = a * x[j] * (1 + b * x[j] * x[j]);
  vec_sigmoid(n, g, g);
  for (idx j = 0; df && j < n; j++)
    df[j] = g[j] + x[j] * g[j] * (1 - g[j]) * (a * (1 + 3 * b * x[j] * x[j]));
  for (idx j = 0; j < n; j++) f[j] = x[j] * g[j];
}

static void act_relu(idx n, const real *x, real *f, real *df) {
  if (df) for (idx j = 0; j < n; j++) df[j] = x[j] > 0;
  for (idx j = 0; j < n; j++) f[j] = x[j] < 0 ? 0 : x[j];
}

/* f may not lie over x: it is written before x is read again. */
static void elu_plus_one(idx n, const real *x, real *f, real *df) {
  for (idx j = 0; j < n; j++) f[j] = x[j] > 0 ? 0 : x[j];
  vec_exp(n, f, f, 0);   /* e^min(x,0) */
  if (df) copy(df, f, n);
  for (idx j = 0; j < n; j++) f[j] += x[j] > 0 ? x[j] : 0;   /* + max(x,0) */
}

/* What acts on x W_1, beside a gate or without one. */
static Activation *const ACTS[] = {
  [ACT_SWIGLU] = act_swish, [ACT_GEGLU] = act_gelu, [ACT_REGLU] = act_relu,
  [ACT_SWISH] = act_swish, [ACT_GELU] = act_gelu, [ACT_RELU] = act_relu,
  [ACT_GELUTANH] = act_gelutanh, [ACT_GEGLUTANH] = act_gelutanh};
_Static_assert(sizeof ACTS / sizeof ACTS[0] == ACT_ROWS, "an activation for each row");

_Static_assert(KERNEL_ROWS == 3, "a new phi: its forward, and its backward below");
/* phi acts on q and k alike, head by head, after the rotation; k* joins later, past it. x, y
 * [rows,D], a row for each head of each token. Rows 6, 7, 10 and 11 of Table 15:
 *   elu   y = elu(x) + 1      every score is positive, so that it can be summed
 *   mlp   y = r phi2, r = max(u, 0), u = x phi1     scores have either sign. One pair of matrices
 *         in a layer, for all heads, for q and k: the authors' form; the paper has no formula
 * hidden [rows,D] keeps r. Test: kernel_forward__formulas. */
static void kernel_forward(const Config *c, const Layer *w, real *y, real *hidden, const real *x,
                           idx rows) {
  idx D = c->head_dim, n = rows * D;
  if (c->kernel == KERNEL_ELU) {
    PARALLEL
    for (idx from = 0; from < n; from += CHUNK)
      elu_plus_one(chunk(n, from), x + from, y + from, NULL);
    return;
  }
  /* u = x phi1;  r = max(u, 0) over it;  y = r phi2 */
  matmul(hidden, D, rows_of(x, D), rows_of(w->phi1, D), rows, D, D, false);
  PARALLEL
  for (idx j = 0; j < n; j++) hidden[j] = hidden[j] > 0 ? hidden[j] : 0;
  matmul(y, D, rows_of(hidden, D), rows_of(w->phi2, D), rows, D, D, false);
}

/* dx [rows,D] holds dy on entry and dx on return; x is the kernel's input, the rotated q or k: both
 * add to the one pair dphi1, dphi2. scratch [rows,D] holds dr, then du. */
static void kernel_backward(const Config *c, const Layer *w, Layer *d, real *dx, const real *x,
                            const real *hidden, real *scratch, idx rows) {
  idx D = c->head_dim, n = rows * D;
  if (c->kernel == KERNEL_ELU) {
    PARALLEL
    for (idx from = 0; from < n; from += CHUNK) {
      real f[CHUNK], df[CHUNK];   /* f: not needed here */
      elu_plus_one(chunk(n, from), x + from, f, df);
      /* y = elu(x) + 1:  dx = dy (elu + 1)'(x) */
      vec_multiply(chunk(n, from), dx + from, df);
    }
    return;
  }
  /* y = r phi2:  dr = dy phi2^T, dphi2 += r^T dy */
  linear_backward(scratch, false, d->phi2, NULL, dx, hidden, w->phi2, rows, D, D);
  /* r = max(u, 0):  du = dr where r > 0, else 0 */
  PARALLEL
  for (idx j = 0; j < n; j++) scratch[j] = hidden[j] > 0 ? scratch[j] : 0;
  /* u = x phi1:  dx = du phi1^T over dy, dphi1 += x^T du */
  linear_backward(dx, false, d->phi1, NULL, scratch, x, w->phi1, rows, D, D);
}

/* ----------
 * 3.6  One row of scores   [E29] [E43] [E44] [T6] [T14] [T15], section 7.4, Appendix C.4
 *
 * The scores z [n] of one query become its weights a [n]; column 0 is *, then come n - 1 keys.
 *
 *   s_j = sim(z_j)    each similarity from its own score          a_j = s_j / Z
 *   Z = Z(s)          the one number in which the keys of a row meet
 *
 *   sim        s            s'                 normaliser   Z                      sum = sum_j s_j
 *   exp        e^z          s                  sum          sum + e                e = 0 for exp,
 *   sigmoid    1/(1+e^-z)   s (1 - s)          one          1                      1e-8 else
 *   elu        elu(z) + 1   1 above 0, else s  clamp        max(|sum|, 1)
 *   identity   z            1                  p-norm       (sum_j |s_j|^p)^(1/p)
 *   relu       max(z, 0)    1 above 0, else 0  count        n_i: how many keys the mask shows
 *   rectified  e^z, but 0 where z < 0; then as exp, sum     (count, and these three sims, are
 *   softpick   max(e^z - 1, 0) / (sum |e^z - 1| + e)        not the paper's)
 *
 * Section 7.4 asks what Z does. Table 15 answers: sigmoid over its sum has a sink (30.24 %), with
 * Z = 1 hardly any (0.44 %). What a row does not see has z = -infinity, the mask M of equation 4:
 * there s = 0 and s' = 0. The scale [E29] is not in a: 3.7 applies it to the output.
 *
 * FORWARD for exp. e^z overflows in float above z = 88.7, so all is taken relative to the row's
 * maximum, top: a_j = e^(z_j - top) / (Z e^-top), whose largest term is e^0 = 1. The top cancels:
 *   sum     Z e^-top = sum_j e^(z_j - top), between 1 and n         log Z = top + log of it
 *   p-norm  Z e^-top = (sum_j e^(p (z_j - top)))^(1/p)              log Z = top + log(sum_j ..) / p
 *   clamp   Z e^-top = max(sum, 1) e^-top                           log Z = max(log sum, 0)
 *   one     has no top to cancel with: e^z may overflow, as it does in the formula
 *
 * BACKWARD. Write X|k for the partial derivative of X by z_k, and da_j = dL/da_j.
 *   s_j|k = s'_k if j = k, else 0                                   s_j has its own score only
 *   a_j|k = s_j|k / Z - s_j Z|k / Z^2                               quotient rule on a_j = s_j / Z
 *         = (s'_k / Z) 1[j = k] - a_j dlogz_k                       dlogz_k = Z|k / Z = (log Z)|k
 *   dz_k  = sum_j da_j a_j|k                                        chain rule
 *         = (s'_k / Z) da_k - dlogz_k delta                         delta = sum_j a_j da_j
 *
 * The first term moves the weight itself, the second moves all weights through Z. Each normaliser:
 *   sum     Z = sum + e              Z|k = s'_k                     dlogz_k = s'_k / Z
 *   one     Z = 1, count Z = n_i     Z|k = 0                        0
 *   clamp   Z = |sum| if |sum| > 1   Z|k = sign(sum) s'_k           s'_k / sum, by either sign
 *           Z = 1 else               Z|k = 0                        0, at |sum| = 1 as well
 *   p-norm  Z^p = sum_j |s_j|^p      p Z^(p-1) Z|k = p |s_k|^(p-1) sign(s_k) s'_k
 *                                    dlogz_k = (|s_k| / Z)^(p-1) sign(s_k) s'_k / Z
 * exp has s' = s, so s'/Z = a, and dlogz = a for the sum, a^p for the p-norm. Hence
 *   softmax   dz_k = a_k (da_k - delta)         exp with a p-norm   dz_k = a_k da_k - a_k^p delta
 *
 * SOFTPICK. Every term is multiplied by e^-m, m = max(0, top). The factor cancels but for e, so the
 * derivative holds m fixed: u_j = e^(z_j - m) - e^-m, u'_j = e^(z_j - m); both are 0 if masked.
 *   a_j = max(u_j, 0) / Z    Z = sum_j |u_j| + e    s'_k = u'_k above 0, else 0
 *                                                   dlogz_k = sign(u_k) u'_k / Z   0 at u = 0
 * A key with a score below 0 gets no weight, and through Z lessens the weights of all others.
 *
 * CLIPPED (--clip-low G <= 0, --clip-high X >= 1): a'_j = min(max((X - G) a_j + G, 0), 1), 0 or 1
 * at finite scores too. da_j = (X - G) da'_j, or 0 where a'_j was cut; then delta and dz as above.
 *
 * By hand, with da = (1, -1):
 *                    z             a             s'/Z         dlogz         delta  dz
 *   softmax          (0, log 3)    (1/4, 3/4)    a            a             -0.5   (3/8, -3/8)
 *   sigmoid / sum    (0, log 3)    (0.4, 0.6)    (0.2, 0.15)  (0.2, 0.15)   -0.2   (0.24, -0.12)
 *   identity, clamp  (2, -4)       (1, -2)       1/2          -1/2           3     (2, 1)
 *   softpick         (log 3, -log 2)  (4/5, 0)   (6/5, 0)     (6/5, -1/5)    0.8   (0.24, 0.16)
 *
 * KEPT for the backward is row_stat, one number a row. For exp it is log Z, or log sum under clamp:
 * its sign tells the branch. Else it is the signed sum, softpick's sum |u|, or Z (p-norm, count).
 *
 * EDGES. One visible key under softmax has a = 1 and dz = 0 exactly: A_11 = 1 of section 3.2. A row
 * of zeros has p-norm 0, where the formula has 0/0: by decision a = dz = 0. [E44] With exp and
 * p > 1 a row's sum grows with t (7.9). At p = 2, 3, 4 training diverged (C.4). */

static void sim_sigmoid(idx n, const real *z, real *s, real *ds) {
  vec_sigmoid(n, s, z);
  /* s = 1/(1 + e^-z):  s' = e^-z / (1 + e^-z)^2 = s (1 - s) */
  if (ds) for (idx j = 0; j < n; j++) ds[j] = s[j] * (1 - s[j]);
}

/* A masked z, -infinity, must not reach the sum. */
static void sim_identity(idx n, const real *z, real *s, real *ds) {
  if (ds) for (idx j = 0; j < n; j++) ds[j] = z[j] == -INFINITY ? 0 : 1;
  for (idx j = 0; j < n; j++) s[j] = z[j] == -INFINITY ? 0 : z[j];   /* a NaN stays one */
}

/* u and u' of softpick. Near 0 e^z - 1 has its digits from expm1; far from it e^z may overflow. */
static void sim_softpick(idx n, const real *z, real *u, real *du) {
  real top = vec_max(n, z), m = top > 0 ? top : 0, less = real_exp(-m);
  vec_exp(n, u, z, m);
  if (du) copy(du, u, n);
  for (idx j = 0; j < n; j++)
    u[j] = real_abs(z[j]) < 1 ? less * (real)expm1(z[j]) : u[j] - less;
  for (idx j = 0; j < n; j++) if (z[j] == -INFINITY) u[j] = 0;
}

/* By SIM_*: s and s' of a row z, both 0 where z is masked. NULL: exp and rectified, by row_exp. */
static Activation *const SIMS[] = {
  [SIM_SIGMOID] = sim_sigmoid, [SIM_ELU] = elu_plus_one, [SIM_IDENTITY] = sim_identity,
  [SIM_SOFTPICK] = sim_softpick, [SIM_RECTIFIED] = NULL, [SIM_RELU] = act_relu};
_Static_assert(sizeof SIMS / sizeof SIMS[0] == SIM_ROWS, "a function for each similarity");
_Static_assert(NORMALIZER_ROWS == 5, "a new Z: row_normalizer, and row_* both ways, also of exp");

static bool is_exp(const Config *c) { return !SIMS[c->sim]; }

/* e, from the authors' code (operations 3, 5, 6 of Table 15). exp needs none: its sum is >= 1. */
static const real NORMALIZER_EPS = (real)1e-8;

/* [E43] (sum_j |s_j|^p)^(1/p) of s [n] as M (sum_j (|s_j|/M)^p)^(1/p), M = max |s_j|: no power
 * overflows, and the sum is between 1 and n. 0 for a row of zeros. The paper writes s^p, which for
 * negative s has no real value unless p is whole: hence |s|. spare [n] is scratch. */
static real p_norm(idx n, const real *s, double p, real *spare) {
  for (idx j = 0; j < n; j++) spare[j] = real_abs(s[j]);
  real most = vec_max(n, spare), M = most > 0 ? most : 1;
  for (idx j = 0; j < n; j++) spare[j] /= M;
  vec_pow(n, spare, spare, (real)p);
  return M * real_pow(vec_sum(n, spare), (real)(1 / p));
}

/* Z of a row from its row_stat; for exp it may overflow where its logarithm does not. */
static real row_normalizer(const Config *c, real row_stat) {
  if (is_exp(c))   /* a log sum below 0: the clamp's 1 */
    return real_exp(c->normalizer == NORMALIZER_CLAMP && row_stat < 0 ? 0 : row_stat);
  switch (c->normalizer) {
  case NORMALIZER_SUM:   return row_stat + NORMALIZER_EPS;
  case NORMALIZER_CLAMP: return real_abs(row_stat) > 1 ? real_abs(row_stat) : 1;   /* [T15] */
  case NORMALIZER_ONE:   return 1;
  default:               return row_stat;
  }
}

/* row_forward for exp, relative to the maximum. */
static real row_exp(const Config *c, idx n, real *z, real *spare) {
  bool rectified = c->sim == SIM_RECTIFIED;
  for (idx j = 0; rectified && j < n; j++) if (z[j] < 0) z[j] = -INFINITY;   /* a NaN stays one */
  real top = c->normalizer == NORMALIZER_ONE ? 0 : vec_max(n, z);
  if (rectified && top == -INFINITY) {   /* no score is left */
    for (idx j = 0; j < n; j++) if (z[j] == top) z[j] = 0;
    return 0;
  }
  if (c->normalizer == NORMALIZER_PNORM) { /* log Z = top + log(sum e^(p (z - top))) / p */
    real p = (real)c->pnorm;   /* [E44] a temperature 1/p */
    for (idx j = 0; j < n; j++) z[j] -= top;
    for (idx j = 0; j < n; j++) spare[j] = p * z[j];
    vec_exp(n, spare, spare, 0);
    real shift = real_log(vec_sum(n, spare)) / p;
    vec_exp(n, z, z, shift);   /* a = e^(z - log Z) */
    return top + shift;
  }
  vec_exp(n, z, z, top);   /* s e^-top */
  if (c->normalizer == NORMALIZER_ONE) return 0;
  real sum = vec_sum(n, z), log_sum = top + real_log(sum); /* sum of s e^-top */
  if (c->normalizer == NORMALIZER_CLAMP && log_sum < 0) sum = real_exp(-top);   /* Z = 1 */
  vec_scale(n, z, 1 / sum);   /* a = s e^-top / (Z e^-top) */
  return log_sum;
}

/* z [n] of a row that sees `seen` keys becomes the weights a = s/Z. Returns row_stat; spare [n]. */
static real row_forward(const Config *c, idx n, idx seen, real *z, real *spare) {
  if (is_exp(c)) return row_exp(c, n, z, spare);
  SIMS[c->sim](n, z, spare, NULL);
  bool picks = c->sim == SIM_SOFTPICK;
  for (idx j = 0; picks && j < n; j++) {   /* |u|, and max(u, 0) */
    z[j] = real_abs(spare[j]);
    spare[j] = spare[j] < 0 ? 0 : spare[j];
  }
  real row_stat = c->normalizer == NORMALIZER_PNORM ? p_norm(n, spare, c->pnorm, z)
                : c->normalizer == NORMALIZER_COUNT ? (real)seen : vec_sum(n, picks ? z : spare);
  real Z = row_normalizer(c, row_stat);
  for (idx j = 0; j < n; j++) z[j] = Z == 0 ? 0 : spare[j] / Z;   /* 0/0 of a row of zeros: 0 */
  return row_stat;
}

/* row_backward for exp: s' = s. Its a = e^(z - log Z) is the forward's but for log Z's rounding. */
static void row_exp_backward(const Config *c, idx n, const real *z, real row_stat, real *a,
                             real *deriv, real *dlogz) {
  bool clamped = c->normalizer == NORMALIZER_CLAMP && !(row_stat > 0);   /* Z = 1 stays 1 */
  real log_Z = clamped ? 0 : row_stat;
  vec_exp(n, a, z, log_Z);
  for (idx j = 0; c->sim == SIM_RECTIFIED && j < n; j++) if (z[j] < 0) a[j] = 0;
  copy(deriv, a, n);
  if (c->normalizer == NORMALIZER_ONE || clamped) zero(dlogz, n);   /* Z = 1 */
  else if (c->normalizer == NORMALIZER_PNORM) {   /* (s/Z)^p */
    for (idx j = 0; j < n; j++) dlogz[j] = (real)c->pnorm * (z[j] - log_Z);   /* log of it */
    vec_exp(n, dlogz, dlogz, 0);
  } else copy(dlogz, a, n);   /* s'/sum = a */
}

/* From z [n] and row_stat a = s/Z, deriv = s'/Z, dlogz = dlog Z/dz, each [n], none overlaps z. */
static void row_backward(const Config *c, idx n, const real *z, real row_stat, real *a, real *deriv,
                         real *dlogz) {
  if (is_exp(c)) {
    row_exp_backward(c, n, z, row_stat, a, deriv, dlogz);
    return;
  }
  real Z = row_normalizer(c, row_stat);
  SIMS[c->sim](n, z, a, deriv);   /* s and s'; then both over Z */
  for (idx j = 0; j < n; j++) a[j] = Z == 0 ? 0 : a[j] / Z;
  for (idx j = 0; j < n; j++) deriv[j] = Z == 0 ? 0 : deriv[j] / Z;
  switch (c->normalizer) {
  case NORMALIZER_SUM:   /* s'/Z; softpick's is sign(u) u'/Z, and its s' that of max(u, 0) */
    copy(dlogz, deriv, n);
    for (idx j = 0; c->sim == SIM_SOFTPICK && j < n; j++)
      if (a[j] <= 0) {
        dlogz[j] = a[j] < 0 ? -deriv[j] : 0;
        a[j] = deriv[j] = 0;
      }
    break;
  case NORMALIZER_CLAMP:   /* [T15] s'/sum = sign(sum) s'/Z, or 0 */
    if (real_abs(row_stat) <= 1) zero(dlogz, n);
    else for (idx j = 0; j < n; j++) dlogz[j] = row_stat > 0 ? deriv[j] : -deriv[j];
    break;
  /* |a|^(p-1) sign(a) s'/Z as h (h s'/Z), h = |a|^((p-1)/2) (vec_pow takes |a|): for p < 1 the
   * whole power of a small a might overflow before a small s' multiplies it. It is 0 at s = 0: the
   * limit for p > 1; for p < 1 s' is 0 there too, or s is the zero logit, which learns nothing */
  case NORMALIZER_PNORM:
    vec_pow(n, dlogz, a, (real)((c->pnorm - 1) / 2));   /* h */
    for (idx j = 0; j < n; j++) {
      real x = dlogz[j] * (dlogz[j] * deriv[j]);
      dlogz[j] = a[j] == 0 ? 0 : a[j] < 0 ? -x : x;
    }
    break;
  default:   /* Z is no function of the scores */
    zero(dlogz, n);
  }
}

/* a' = min(max((X - G) a + G, 0), 1) in place. A masked weight stays 0. */
static void row_clip(const Config *c, idx n, real *a) {
  real G = (real)c->clip_low, width = (real)(c->clip_high - c->clip_low);
  for (idx j = 0; config_clips(c) && j < n; j++) {
    real y = width * a[j] + G;
    a[j] = y < 0 ? 0 : y > 1 ? 1 : y;
  }
}

/* From da' to da, in place; a as it was before the clip. */
static void row_clip_backward(const Config *c, idx n, const real *a, real *da) {
  real G = (real)c->clip_low, width = (real)(c->clip_high - c->clip_low);
  for (idx j = 0; config_clips(c) && j < n; j++) {
    real y = width * a[j] + G;
    da[j] *= y < 0 || y > 1 ? 0 : width;   /* width = X - G */
  }
}

/* What the sink metric reads: m [n] = |s| / (sum |s| + e), the paper's proxy scores (section 7.4).
 * As |s| = |a| Z, m = |a| / (sum |a| + e/Z). No scale is in it: else none could pass 0.3 at scale
 * 0.2, where Table 14 has Sink_1 = 9.41 %. A row of zeros has m = 0. An infinite weight (exp with
 * Z = 1) gives NaN. Where m misleads, and why raw mass, sum |scale a| (6), stands beside Sink:
 *
 *   Z = sum    nowhere if s >= 0: m is a; softpick and rectified take m = |a|, of sum 1 or less
 *   other Z    a row of little weight counts as much as any
 *   clip       a row weighs less than its m says
 *   gates      a head whose gate is shut has its sink still; mass does not tell either */
static void row_metric(const Config *c, idx n, const real *a, real row_stat, real *m) {
  for (idx j = 0; j < n; j++) m[j] = real_abs(a[j]);
  if (c->sim == SIM_SOFTPICK || c->sim == SIM_RECTIFIED) return;
  real Z = row_normalizer(c, row_stat), sum = vec_sum(n, m);
  if (c->sim != SIM_EXP && Z != 0) sum += NORMALIZER_EPS / real_abs(Z);
  for (idx j = 0; j < n; j++) m[j] = sum == 0 ? 0 : m[j] / sum;
}

/* ----------
 * 3.7  Attention   [E4] [E29] [T4] [T12], and THE FORMULA
 *
 * [E4] A = Softmax(Q K^T / sqrt(d_h) + M), O = A V in each head. Here 3.6 stands for Softmax, b is
 * the distance bias of 3.4, and a column * joins the keys. Query i of a head, step by step:
 *
 *     column     0       1 .. N
 *   z_i [1+N]   z_i*  |  <q_i, k_j> / sqrt(D) + b(i-j)        -infinity where not visible
 *   a_i [1+N]   s_ij / Z_i                                    3.6
 *   o_i [D]     scale (a_i* v* + sum_j a_ij v_j)   a clipped, if at all; it is 3.8's av_i
 *
 * q and k come rotated (3.4) and through phi (3.5). These are plain loops over i and j, for
 * `--plain`. By default chapter 14 does it in tiles; a test holds one to the other, both ways.
 *
 * THE EXTRA COLUMN. Section 7.3 in these terms (Table 4: Sink_*, Sink_1):
 *
 *   default      no column *                                                   -        18.18 %
 *   sink token   x* is a row of the input, a key like any other here           74.12     0.00
 *   KV biases    z_i* = <q_i, k*> / sqrt(D), v* learned                        72.76     0.04
 *   K biases     the same with v* = 0: * takes weight and gives nothing        73.34     0.00
 *   V biases     no column; v+ joins every output, outside the weights         -        17.53
 *
 * k* and v* are the paper's attention biases; others call k* a null key, PyTorch bias_k. Beyond the
 * paper z_i* may be 0 (softmax-off-by-one) or a number, with v* = 0. k* has no position: it is not
 * rotated, so <R_i q, k*> depends on i, and every row sees it, with no distance bias. Under
 * softmax a column with v* = 0 is a gate. Let u be the sum of e^z_ij over the keys: their weights
 * sum to u / (u + e^z_i*), not to 1. Under Z = 1 such a column changes nothing.
 *
 * BACKWARD, from do = dL/do. Component d of the output is
 *     o_id = scale (sum_j a_ij v_jd + a_i* v*_d),               so that
 *       da_ij = scale sum_d do_id v_jd = scale <do_i, v_j>       da_i* = scale <do_i, v*>
 *       dv_jd = scale sum_i a_ij do_id                           dv*_d = scale sum_i a_i* do_id
 *     a = s / Z in row i (3.6), with * among the columns of the sum:
 *       delta_i = sum_j a_ij da_ij                dz_ij = (s'_ij / Z_i) da_ij - dlogz_ij delta_i
 *     z_ij = sum_d q_id k_jd / sqrt(D) + b(i-j),  z_i* = sum_d q_id k*_d / sqrt(D), or the logit
 *       dq_id = (sum_j dz_ij k_jd + dz_i* k*_d) / sqrt(D)
 *       dk_jd = sum_i dz_ij q_id / sqrt(D)                       dk*_d = sum_i dz_i* q_id / sqrt(D)
 *       db(n) = sum of dz_ij over i - j = n                      dlogit = sum_i dz_i*
 * delta_i is <do_i, o_i> where a is not clipped; FlashAttention computes it so. With v* = 0 a K
 * bias has da_i* = 0 and learns from dz_i* = -dlogz_i* delta_i alone. With Z = 1 that is 0, too.
 *
 * Cost of a head: N^2 pairs (i,j) of D multiply-adds, twice forward (z, o), five times backward (z
 * again, da, dq, dk, dv). Tests: 3.7 of test_sink.c; data/paper has [E4] [T4] in closed form. */

/* [FIG5] [FIG6] The mask: (j <= i and j > i-w) or j in the prefix. Rows i, columns j; o is seen:
 *
 *     causal         window 3       prefix 3       window 2,      window 2, prefix 2,
 *                    (Figure 6)     (Figure 5)     prefix 2       and the sink token x*
 *     * 1 2 3 4 5    * 1 2 3 4 5    * 1 2 3 4 5    * 1 2 3 4 5      x* 1 2 3 4 5
 *                                                             x*    o  o o . . .
 *  1  o o . . . .    o o . . . .    o o o o . .    o o o . . .  1   o  o o . . .
 *  2  o o o . . .    o o o . . .    o o o o . .    o o o . . .  2   .  o o . . .
 *  3  o o o o . .    o o o o . .    o o o o . .    o o o o . .  3   .  o o o . .
 *  4  o o o o o .    o . o o o .    o o o o o .    o o o o o .  4   .  o o o o .
 *  5  o o o o o o    o . . o o o    o o o o o o    o o o . o o  5   .  o o . o o
 *
 * w counts the query itself, as section 6 does. Only rows 1 .. w see token 1 then, and
 * alpha_1 is at most w/T: 0.5 for w = 32 and T = 64. Every row sees * and the prefix, x*'s row too.
 * The prefix counts tokens, so a window forgets x* like any key. x* see each other causally. */
static bool visible(const Config *c, int l, idx i, idx j) {
  int w = config_window(c, l), first = c->sink_token;   /* x* stand before the p */
  return (j <= i && (!w || j > i - w)) || (j >= first && j < first + c->prefix);
}

/* n_i: how many keys the mask shows row i of N, whatever their scores. */
static idx keys_seen(const Config *c, int l, idx N, idx i) {
  idx w = config_window(c, l), first = c->sink_token, last = at_most(first + c->prefix, N);
  idx own = w ? at_most(w, i + 1) : i + 1, seen = own;   /* up to i, and what a prefix adds */
  for (idx j = first; j < last; j++) if (j > i || j <= i - own) seen++;
  return seen;
}

/* D, or --score-divisor: Gemma's or YaRN's; layers that turn by --rope-local do without YaRN's. */
static double score_divisor(const Config *c, int l) {
  bool local = c->rope_scaling == ROPE_YARN && rope_is_local(c, l);
  return c->score_divisor > 0 && !local ? c->score_divisor : c->head_dim;
}
/* What <q, k> is multiplied by: 1/sqrt(D), and in some published models also 1/(l+1), so that the
 * deeper a block, the evener its rows begin. A distance bias and a logit are outside of it. */
static real score_scale(const Config *c, int l) {
  return (real)(1 / sqrt(score_divisor(c, l)) / (c->score_by_layer ? l + 1 : 1));
}

/* k* [D] of head h, NULL where none is learned. Shared: one row for all heads (Table 12). */
static const real *extra_key(const Config *c, const Layer *w, idx h) {
  return w->kstar ? w->kstar + (c->extra_shared ? 0 : h) * c->head_dim : NULL;
}

/* v* [D] of head h, learned, or fixed by acts_create; NULL where it is zero. */
static const real *extra_value(const Config *c, const Layer *w, const Acts *a, idx h) {
  return w->vstar ? w->vstar + (c->extra_shared ? 0 : h) * c->head_dim : a->vfixed;
}

/* [T5] The fixed v* [D], of length extra_norm: e_1 or (1, .., 1)/sqrt(D), times it. */
static void fixed_value(const Config *c, real *v) {
  double n = c->extra_norm, each = n / sqrt((double)c->head_dim);
  for (int d = 0; d < c->head_dim; d++) v[d] = c->extra_value == VALUE_ONES ? (real)each : 0;
  if (c->extra_value == VALUE_E1) v[0] = (real)n;
}

_Static_assert(EXTRA_ROWS == 6, "a new column: its score, its value, and the backward below");
/* [T4] z_i*, from q_i [D]. k* itself has no rotation, phi or distance bias. */
static real extra_score(const Model *m, int l, idx h, idx seen, const real *q_i) {
  const Config *c = &m->c;
  const Layer *w = &m->w.layer[l];
  switch (c->extra) {
  case EXTRA_NONE:  return -INFINITY;
  case EXTRA_ZERO:  return 0;
  case EXTRA_LOGIT: return w->logit ? w->logit[h] : (real)c->extra_logit;
  case EXTRA_LOGN:  return real_log((real)seen);
  default:          return vec_dot(c->head_dim, q_i, extra_key(c, w, h)) * score_scale(c, l);
  }
}

/* Scores z [1+N] of q_i [D]: column 0 is *, 1 + j is key j. k: the head's key 0. y [N] is
 * what BEYOND.scores_backward will ask for, or NULL. Returns n_i. */
static idx row_scores(const Model *m, const Acts *a, int l, idx b, idx h, idx N, idx i,
                       const real *q_i, const real *k, real *z, real *y) {
  const Config *c = &m->c;
  const real *bias = head_bias(a, h);   /* by j - i, or NULL */
  idx D = c->head_dim, Kw = c->kv_heads * D, seen = keys_seen(c, l, N, i);
  for (idx j = 0; j < N; j++) {
    z[1 + j] = -INFINITY;
    if (!visible(c, l, i, j)) continue;   /* M of equation 4 */
    z[1 + j] = vec_dot(D, q_i, k + j * Kw) * score_scale(c, l);
    if (bias) z[1 + j] += bias[j - i];   /* [E6] [E7], after the division */
  }
  if (a->hide) seen -= a->hide(a, l, b, i, 0, N, z + 1);   /* eval --isolate */
  z[0] = extra_score(m, l, h, seen, q_i);
  if (config_score_mod(c)) BEYOND.scores(c, &m->w.layer[l], h, seen, N, z + 1, y);
  return seen;
}

/* y [n] += a x [n] */
static void add_times(idx n, real *restrict y, real a, const real *restrict x) {
  for (idx d = 0; d < n; d++) y[d] += a * x[d];
}

/* This thread's scratch: here rows of N+1 numbers. */
static real *attention_scratch(const Acts *a) { return a->scratch + worker() * a->scratch_size; }

/* Head h of sequence b: from q, k, v to av and row_stat. A row of q and o holds H heads, one of k
 * and v holds K, so a head's rows lie Qw and Kw numbers apart, from `at` and `kv` on. */
static void head_forward(const Model *m, Acts *a, int l, idx b, idx h, idx N) {
  const Config *c = &m->c;
  const Layer *w = &m->w.layer[l];
  const LayerActs *la = &a->layer[l];
  idx D = c->head_dim, H = c->heads, K = c->kv_heads, Qw = H * D, Kw = K * D;
  idx at = b * N * Qw + h * D, kv = b * N * Kw + h / (H / K) * D;
  const real *k = la->fk + kv, *v = la->v + kv, *vstar = extra_value(c, w, a, h);
  real scale = (real)c->scale, *row = attention_scratch(a), *spare = row + N + 1;
  for (idx i = 0; i < N; i++) {
    real *o_i = la->av + at + i * Qw, *a_i = row;   /* [D] [1+N] */
    /* z_i, then a_i = s/Z in its place, 0 where not visible */
    idx seen = row_scores(m, a, l, b, h, N, i, la->fq + at + i * Qw, k, row, NULL);
    la->row_stat[(b * H + h) * N + i] = row_forward(c, N + 1, seen, row, spare);
    row_clip(c, N + 1, row);
    /* o_i = scale (a_i* v* + sum_j a_ij v_j) */
    zero(o_i, D);
    if (vstar) add_times(D, o_i, a_i[0], vstar);
    for (idx j = 0; j < N; j++) add_times(D, o_i, a_i[1 + j], v + j * Kw);   /* v_j [D] */
    for (idx d = 0; d < D; d++) o_i[d] *= scale;
  }
}

/* From la->fq [B,N,H,D], la->fk and la->v [B,N,K,D] to la->av [B,N,H,D], row_stat [B,H,N]. */
static void attention_forward(const Model *m, Acts *a, int l, int B, idx N) {
  idx H = m->c.heads;
  PARALLEL
  for (idx bh = 0; bh < B * H; bh++) head_forward(m, a, l, bh / H, bh % H, N);
}

/* A slot has the gradients of one head in one sequence, so that no two tasks add to one number: k*,
 * v*, v+, hnorm, [D] each, then logit, cscale, sbias, vscale, one number each. */
static idx slot_size(const Config *c) { return 4 * c->head_dim + 4; }

/* Head h of sequence b backward: dq is overwritten, the others are added to. */
static void head_backward(const Model *m, Acts *a, int l, idx b, idx h, idx N) {
  const Config *c = &m->c;
  const Layer *w = &m->w.layer[l];
  const LayerActs *la = &a->layer[l];
  idx D = c->head_dim, H = c->heads, K = c->kv_heads, Qw = H * D, Kw = K * D;
  idx at = b * N * Qw + h * D, kv = b * N * Kw + h / (H / K) * D, bh = b * H + h;
  const real *k = la->fk + kv, *v = la->v + kv;   /* key 0, value 0 */
  const real *kstar = extra_key(c, w, h), *vstar = extra_value(c, w, a, h);
  real *dk = a->dk + kv, *dv = a->dv + kv;   /* [N,D], rows Kw apart */
  real *dkstar = a->slot + bh * slot_size(c), *dvstar = dkstar + D, *dlogit = dkstar + 4 * D;
  real *dbias = a->dbias ? a->dbias + bh * (2 * N - 1) + N - 1 : NULL;   /* by j - i */
  real *z = attention_scratch(a), *a_i = z + N + 1, *deriv = a_i + N + 1, *dlogz = deriv + N + 1;
  real *da = dlogz + N + 1, *y = da + N + 1, *dz = z;
  real scale = (real)c->scale, root = score_scale(c, l);
  for (idx i = 0; i < N; i++) {
    const real *q_i = la->fq + at + i * Qw, *do_i = a->dout + at + i * Qw;   /* [D] */
    real *dq_i = a->dq + at + i * Qw;   /* [D] */
    /* the scores again, then a = s/Z, s'/Z, dlogz: 0 where not visible, as is dz */
    idx seen = row_scores(m, a, l, b, h, N, i, q_i, k, z, y);
    row_backward(c, N + 1, z, la->row_stat[bh * N + i], a_i, deriv, dlogz);
    /* o_i = scale (a_i* v* + sum_j a_ij v_j) */
    da[0] = vstar ? scale * vec_dot(D, do_i, vstar) : 0;
    for (idx j = 0; j < N; j++) da[1 + j] = scale * vec_dot(D, do_i, v + j * Kw);
    /* a_ij = s_ij / Z_i, clipped */
    row_clip_backward(c, N + 1, a_i, da);
    real delta = vec_dot(N + 1, a_i, da);   /* sum_j a_j da_j, and of * */
    for (idx j = 0; j < N + 1; j++) dz[j] = deriv[j] * da[j] - dlogz[j] * delta;
    /* dv, from the a_ij that the values were weighted by: clipped */
    row_clip(c, N + 1, a_i);
    add_times(D, dvstar, scale * a_i[0], do_i);
    for (idx j = 0; j < N; j++) add_times(D, dv + j * Kw, scale * a_i[1 + j], do_i);
    /* z_ij = <q_i, k_j> / sqrt(D) + b(i-j), and what data/later makes of it */
    if (config_score_mod(c)) BEYOND.scores_backward(c, w, h, seen, N, dz + 1, y, dlogit + 1);
    zero(dq_i, D);
    for (idx j = 0; j < N; j++) {
      add_times(D, dq_i, dz[1 + j] * root, k + j * Kw);
      add_times(D, dk + j * Kw, dz[1 + j] * root, q_i);
      if (dbias) dbias[j - i] += dz[1 + j];
    }
    /* [T4] z_i* = <q_i, k*> / sqrt(D), a K bias, or the logit */
    if (kstar) add_times(D, dq_i, dz[0] * root, kstar);
    add_times(D, dkstar, dz[0] * root, q_i);
    *dlogit += dz[0];
  }
}

/* Zeroes what the backward of a block adds to. */
static void slots_begin(const Config *c, Acts *a, int B, idx N) {
  idx Kw = c->kv_heads * c->head_dim;
  if (a->dgate) zero(a->dgate, B * N * config_gates(c));
  zero(a->dk, B * N * Kw);   /* [B,N,K,D], of all query heads of a key head */
  zero(a->dv, B * N * Kw);
  zero(a->slot, (idx)B * c->heads * slot_size(c));   /* [B,H,slot_size] */
}

/* Adds up the slots [B,H] in order. [T12] Shared k*, v*: row 0. [T13] Fixed dims of k* get none. */
static void slots_end(Model *m, const Acts *a, int l, int B) {
  const Config *c = &m->c;
  Layer *d = &m->d.layer[l];
  idx D = c->head_dim, H = c->heads;
  for (idx bh = 0; bh < B * H; bh++) {
    const real *slot = a->slot + bh * slot_size(c);
    idx h = bh % H, star = (c->extra_shared ? 0 : h) * D;
    for (idx x = 0; x < D; x++) {
      if (d->kstar && config_learned_dim(c, (int)x)) d->kstar[star + x] += slot[x];
      if (d->vstar) d->vstar[star + x] += slot[D + x];
      if (d->vplus) d->vplus[h * D + x] += slot[2 * D + x];
      if (d->hnorm) d->hnorm[h * D + x] += slot[3 * D + x];
    }
    real *const per_head[] = {d->logit, d->cscale, d->sbias, d->vscale};   /* [H] each */
    for (int x = 0; x < 4; x++)
      if (per_head[x]) per_head[x][h] += slot[4 * D + x];
  }
}

/* From a->dout [B,N,H,D] to a->dq (overwritten), a->dk, a->dv [B,N,K,D], a->dbias and slots (added
 * to). A task owns dk and dv of its sequence and key head; its H/K query heads add in turn. */
static void attention_backward(Model *m, Acts *a, int l, int B, idx N) {
  idx K = m->c.kv_heads, group = m->c.heads / K;
  PARALLEL
  for (idx task = 0; task < B * K; task++)
    for (idx h = task % K * group; h < (task % K + 1) * group; h++)
      head_backward(m, a, l, task / K, h, N);
}

/* ----------
 * 3.8  The value bias   o_i = av_i + v+   [T4]
 *
 * v+ [H,D] is added to what the weights make of the values, in place: it has no column, and no row
 * can give it a smaller share. Backward: the gradient of av is that of o, and dv+ = sum_i do_i.
 * What later papers do at this place, and before it to q, k, v and z: data/later. */

/* o = av + v+: la->o [rows,H,D], here the same array as la->av, holds av. */
static void vplus_forward(const Model *m, int l, const LayerActs *la, idx rows) {
  idx Q = m->c.heads * m->c.head_dim;
  PARALLEL
  for (idx n = 0; n < rows; n++) vec_add(Q, la->o + n * Q, m->w.layer[l].vplus);
}

/* dv+ = sum_i do_i, in a slot for each head and sequence. a->dout [B,N,H,D] stays: dav = do. */
static void vplus_backward(const Config *c, Acts *a, int B, idx N) {
  idx D = c->head_dim, H = c->heads;
  PARALLEL
  for (idx bh = 0; bh < B * H; bh++)
    for (idx n = bh / H * N; n < (bh / H + 1) * N; n++)
      vec_add(D, a->slot + bh * slot_size(c) + 2 * D, a->dout + (n * H + bh % H) * D);
}

/* ----------
 * 3.9  Heads put together: concatenated, or added before W_O   [E4] [T12] (F8)
 *
 *   concat   O = [o_1, .., o_H] W_O         W_O [H*D,C]       equation 4
 *   add      O = (o_1 + .. + o_H) W_O       W_O [D,C]         Appendix C.4
 *
 * The paper gives no shape for its "addition". Concatenation is a sum already: [o_1, .., o_H] W_O =
 * sum_h o_h W_O^h, with W_O^h [D,C] the rows of W_O that meet head h. So it would change nothing to
 * add the heads behind a W_O^h each. What can be meant is one W_O of D rows for all heads.
 *
 * Backward: osum = sum_h o_h gives do_h = dosum for every h. The product with W_O: chapter 4. */

_Static_assert(COMBINE_ROWS == 2, "a new way: forward and backward");
/* What W_O multiplies: o itself [rows,H*D], or the sum of its heads [rows,D]. */
static const real *combine_forward(const Config *c, LayerActs *la, idx rows) {
  idx D = c->head_dim, H = c->heads;
  if (c->combine == COMBINE_CONCAT) return la->o;
  PARALLEL
  for (idx n = 0; n < rows; n++) {   /* o_1 + .. + o_H */
    zero(la->osum + n * D, D);
    for (idx h = 0; h < H; h++) vec_add(D, la->osum + n * D, la->o + (n * H + h) * D);
  }
  return la->osum;
}

/* From a->dosum [rows,D] to a->dout [rows,H,D]. Where heads are concatenated they are one array. */
static void combine_backward(const Config *c, Acts *a, idx rows) {
  idx D = c->head_dim, H = c->heads;
  if (c->combine == COMBINE_CONCAT) return;
  PARALLEL
  for (idx n = 0; n < rows * H; n++) copy(a->dout + n * D, a->dosum + n / H * D, D);
}

/* ----------
 * 3.10  Feed-forward   [T11], Appendix C.3
 *
 *   gated   y = (act(x W1) * x W2) W3     W1, W2 [C,F]  W3 [F,C]     swiglu, geglu, reglu
 *   else    y = act(x W1) W2              W1 [C,F]      W2 [F,C]     swish, gelu, relu, gelutanh
 *
 * Backward, with f1 = x W1, f2 = x W2 (1 when not gated), fa = act(f1) * f2 element by element:
 *   y = fa W3            dfa = dy W3^T               dW3 += fa^T dy
 *   fa = act(f1) f2      df1 = dfa f2 act'(f1)       df2 = dfa act(f1)           product rule
 *   f1 = x W1            dx = df1 W1^T               dW1 += x^T df1
 *   f2 = x W2            dx += df2 W2^T              dW2 += x^T df2 */

/* x, y [rows,C]. Fills la->f1, f2 (gated), fa [rows,F]; without a backward fa is f1's array. */
static void ffn_forward(const Model *m, const Layer *w, LayerActs *la, real *y, const real *x,
                        idx rows) {
  const Config *c = &m->c;
  idx C = c->dim, F = c->ffn, n = rows * F;
  bool gated = config_gated(c);
  linear_forward(m, la->f1, x, w->w1, w->b1, rows, C, F);
  if (gated) linear_forward(m, la->f2, x, w->w2, w->b2, rows, C, F);
  PARALLEL   /* fa = act(f1) * f2 */
  for (idx from = 0; from < n; from += CHUNK) {
    ACTS[c->act](chunk(n, from), la->f1 + from, la->fa + from, NULL);
    if (gated) vec_multiply(chunk(n, from), la->fa + from, la->f2 + from);
  }
  linear_forward(m, y, la->fa, gated ? w->w3 : w->w2, gated ? w->b3 : w->b2, rows, F, C);
}

/* dx [rows,C] is overwritten, from dy and x [rows,C]; a->df1 [rows,F] holds dfa first. */
static void ffn_backward(const Config *c, const Layer *w, Layer *d, const LayerActs *la, Acts *a,
                         real *dx, const real *dy, const real *x, idx rows) {
  idx C = c->dim, F = c->ffn, n = rows * F;
  bool gated = config_gated(c);
  /* y = fa W3 + b3 (W2, b2 when not gated):  dfa = dy W3^T, dW3 += fa^T dy, db3 += sum of dy */
  linear_backward(a->df1, false, gated ? d->w3 : d->w2, gated ? d->b3 : d->b2, dy, la->fa,
                  gated ? w->w3 : w->w2, rows, F, C);
  PARALLEL
  for (idx from = 0; from < n; from += CHUNK) {
    real f[CHUNK], df[CHUNK], *df1 = a->df1 + from;   /* act(f1), act'(f1); dfa */
    idx some = chunk(n, from);
    ACTS[c->act](some, la->f1 + from, f, df);
    /* fa = act(f1) * f2:  df2 = dfa act(f1), df1 = dfa f2 act'(f1) */
    if (gated) {
      vec_multiply(some, f, df1);
      copy(a->df2 + from, f, some);
      vec_multiply(some, df, la->f2 + from);
    }
    vec_multiply(some, df1, df);
  }
  /* f1 = x W1 + b1, f2 = x W2 + b2:  dx = df1 W1^T + df2 W2^T */
  linear_backward(dx, false, d->w1, d->b1, a->df1, x, w->w1, rows, C, F);
  if (gated) linear_backward(dx, true, d->w2, d->b2, a->df2, x, w->w2, rows, C, F);
}

/* ==========
 * 4  The block and the model   section 2, [E2] [E3], Figure 1 left
 *
 * A block is drawn at the head of chapter 3. From the stream x = h^{l-1} [B,N,C] it makes y = h^l:
 *
 *   pre [E2]   u = x + MHSA(n1 x)          y = u + FFN(n2 u)        a final norm ends the stack
 *   post [E3]  u = n1(x + MHSA(x))         y = n2(u + FFN(u))       no final norm
 *   parallel   u = x + MHSA(n1 x)          y = u + FFN(n2 x)        a final norm
 *   sandwich   u = x + n3(MHSA(n1 x))      y = u + n4(FFN(n2 u))    a final norm
 *              without n1 and n2 under --behind-only (OLMo 2's)
 *
 * One function serves the four: s1 and s2 are its two sums. The paper closes every stack by Y =
 * LN(H^L) W_cls; under post-norm the last n2 is that LN, as in the authors' code.
 *
 * Why it matters (section 7.2). Under pre-norm the stream is a plain sum, h^L = h^0 + every block's
 * two branches: a massive activation, once written, stays until a block takes it back. A post-norm
 * rescales the sum in each block. The sink survives this (Sink_1 is 13.54 % against 18.18), but the
 * massive activations are then in s2, the "features before LN" of Figure 7 left, not in h^l.
 *
 * The first row. Under a causal mask row 1 sees itself alone, so h_1 is a function of x_1 alone
 * (section 3.1). With softmax A_11 = 1, whatever W_Q, W_K and the positions in the score; pre-norm:
 *
 *   h_1^l = FFN(LN(o_1 + h_1)) + o_1 + h_1,   o_1 = LN(h_1) [W^1 .. W^H] W_O,   h_1 of block l-1
 *
 * where the paper's W^{l,h} has lost its subscript V. So a token that always stands first reaches
 * every block as the same vector: a bias that the model can shape. An extra column takes a share of
 * A_11, a prefix of 2 or more shows row 1 other tokens, and with sink tokens the first row is x*.
 * `sink check first` measures what moves row 1, `paper check causal` that no row sees ahead.
 *
 * Backward. The Jacobian of y = u + F(u) is 1 + F', so du = dy + F'^T dy: the gradient of a sum
 * goes to both terms. Each backward below is its forward read from the last line to the first.
 *
 * Cost of a row in a block, in multiplications: C D (2H + 2K) for MHSA's matrices, 2 D H for each
 * key, 3 C F for a gated ffn (2 C F else). The paper's model: 5.9 million for the matrices, and 1.6
 * million at the mean of 1024 keys of its context. Backward: 2 (3.3), 2.5 (3.7) times as many. */

/* y = MHSA(x) [B,N,C], the paper's O^l by equation 4; x is n1's output, or the stream. One multiply
 * serves all heads (list_attention). K < H is grouped-query attention; the paper has K = H. */
static void mhsa_forward(const Model *m, Acts *a, int l, real *y, const real *x, int B, idx N) {
  const Config *c = &m->c;
  const Layer *w = &m->w.layer[l];
  LayerActs *la = &a->layer[l];
  idx C = c->dim, D = c->head_dim, H = c->heads, K = c->kv_heads;
  idx rows = B * N, cached = a->past * K * D;
  real *k = la->k + cached, *v = la->v + cached;   /* past those of earlier rows */
  /* q = x W_Q + b_Q [B,N,H,D], k = x W_K + b_K and v = x W_V + b_V [B,N,K,D] */
  linear_forward(m, c->qk_norm ? la->q0 : la->q, x, w->wq, w->bq, rows, C, H * D);
  linear_forward(m, c->qk_norm ? la->k0 : k, x, w->wk, w->bk, rows, C, K * D);
  linear_forward(m, v, x, w->wv, w->bv, rows, C, K * D);
  if (c->gate) BEYOND.gate(m, a, l, v, x, rows);   /* g, of x; v = g v0 under --gate value */
  if (c->qk_norm) BEYOND.qk_norm(m, a, l, k, rows);   /* q = norm(q0), k = norm(k0) */
  /* q = R_i q, k = R_j k [E8], in place: to rotate back needs no copy. v is never rotated. */
  if (c->pos == POS_ROTARY) {
    rotate(c, a, l, la->q, rows, N, H, 1);
    rotate(c, a, l, k, rows, N, K, 1);
  }
  /* phi after the rotation, as in the authors' code; the paper leaves the order open. For the
   * identity fq and fk are the arrays q and k (take_all). */
  if (c->kernel != KERNEL_IDENTITY) {
    kernel_forward(c, w, la->fq, la->hq, la->q, rows * H);
    kernel_forward(c, w, la->fk + cached, la->hk, k, rows * K);
  }
  /* av = scale A_h v in every head (3.7), by default in tiles (14) */
  if (m->plain) attention_forward(m, a, l, B, N);
  else tiled_forward(m, a, l, B, N);
  if (m->plain && a->probe) plain_probe(m, a, l, B, N);
  /* o = av + v+ (3.8), or with more steps (data/later); v: of these rows */
  if (config_leaves(c)) BEYOND.leave(m, a, l, v, rows);
  else if (w->vplus) vplus_forward(m, l, la, rows);
  /* O = combine(o) W_O + b_O: [H*D,C], or [D,C] where heads are added (F8) */
  linear_forward(m, y, combine_forward(c, la, rows), w->wo, w->bo, rows,
                 c->combine == COMBINE_ADD ? D : H * D, C);
}

/* dx = MHSA'^T dy, for dx, dy, x [B,N,C]; and the gradients of all that MHSA learns. dq holds the
 * gradient of phi(q), then of R q, then of q: one array, rotated in place. So does dk. */
static void mhsa_backward(Model *m, Acts *a, int l, real *dx, const real *dy, const real *x, int B,
                          idx N) {
  const Config *c = &m->c;
  const Layer *w = &m->w.layer[l];
  Layer *d = &m->d.layer[l];
  const LayerActs *la = &a->layer[l];
  idx C = c->dim, D = c->head_dim, H = c->heads, K = c->kv_heads, rows = B * N;
  bool sum = c->combine == COMBINE_ADD;
  /* y = combine(o) W_O + b_O:  do = dy W_O^T, dW_O += o^T dy, db_O += sum over rows of dy. dosum is
   * dout itself when concatenated. */
  linear_backward(a->dosum, false, d->wo, d->bo, dy, sum ? la->osum : la->o, w->wo, rows,
                  sum ? D : H * D, C);
  combine_backward(c, a, rows);
  slots_begin(c, a, B, N);
  /* o = av + v+ (3.8):  dav = do, in dout; or with more steps dout becomes dav, dv gets a part */
  if (config_leaves(c)) BEYOND.leave_backward(m, a, l, B, N);
  else if (w->vplus) vplus_backward(c, a, B, N);
  /* av = scale A v (3.7, scores made again):  dphi(q), dphi(k), dv from dav; k*, v*, logit, b_h */
  if (m->plain) attention_backward(m, a, l, B, N);
  else tiled_backward(m, a, l, B, N);
  slots_end(m, a, l, B);
  /* fq = phi(R q), fk = phi(R k):  dRq = phi'^T dphi(q). la->q and la->k are rotated. The mlp's two
   * matrices served both, so both calls add to their gradients; dphi is scratch, as long as q. */
  if (c->kernel != KERNEL_IDENTITY) {
    kernel_backward(c, w, d, a->dq, la->q, la->hq, a->dphi, rows * H);
    kernel_backward(c, w, d, a->dk, la->k, la->hk, a->dphi, rows * K);
  }
  /* R_i q, R_j k:  dq = R^T dRq, where R^T = R^-1 rotates back */
  if (c->pos == POS_ROTARY) {
    rotate(c, a, l, a->dq, rows, N, H, -1);
    rotate(c, a, l, a->dk, rows, N, K, -1);
  }
  if (c->qk_norm) BEYOND.qk_norm_backward(m, a, l, rows);   /* q = norm(q0): dq0 over dq; so dk0 */
  /* q = x W_Q + b_Q, and so k, v: x is used three times.  dx = dq W_Q^T + dk W_K^T + dv W_V^T,
   * dW_Q += x^T dq, dW_K += x^T dk, dW_V += x^T dv */
  linear_backward(dx, false, d->wq, d->bq, a->dq, x, w->wq, rows, C, H * D);
  linear_backward(dx, true, d->wk, d->bk, a->dk, x, w->wk, rows, C, K * D);
  if (c->gate) BEYOND.gate_backward(m, a, l, dx, x, rows);   /* gates read x; v = g v0: dv0 in dv */
  linear_backward(dx, true, d->wv, d->bv, a->dv, x, w->wv, rows, C, K * D);
}

/* y [n] += x [n]: a residual sum forward, a gradient that meets another one backward. */
static void add_rows(real *y, const real *x, idx n) {
  PARALLEL
  for (idx j = 0; j < n; j += CHUNK) vec_add(chunk(n, j), y + j, x + j);
}

/* A branch of a block, y = x + F(x) as the placement has it: F is MHSA for k = 0, FFN for k = 1. */
typedef struct Branch {
  const real *x, *read;   /* where it leaves the stream; what norm 1 or 2 reads */
  real *n, *nstat, *out, *outstat;   /* what norm 1 or 2 leaves; F's output, n3's or n4's stat */
  real *sum;   /* y, before a post-norm */
  const Norm *norm, *behind;   /* norm 1 or 2; n3 or n4 */
} Branch;

_Static_assert(PLACE_ROWS == 4, "a new block: what its branches read, and both ways");
/* w holds the block's parameters, or their gradients. */
static Branch branch_of(const Config *c, const LayerActs *la, const Layer *w, int k) {
  const real *u = c->place == PLACE_POST ? la->n1 : la->s1;
  Branch mhsa = {.x = la->x, .read = la->x, .n = la->n1, .nstat = la->n1stat, .out = la->out1,
                 .outstat = la->n3stat, .sum = la->s1, .norm = &w->norm1, .behind = &w->norm3};
  Branch ffn = {.x = u, .read = u, .n = la->n2, .nstat = la->n2stat, .out = la->out2,
                .outstat = la->n4stat, .sum = la->s2, .norm = &w->norm2, .behind = &w->norm4};
  Branch b = k ? ffn : mhsa;
  if (c->place == PLACE_POST) b.read = b.sum;
  if (c->place == PLACE_PARALLEL) b.read = la->x;   /* the ffn does not see what attention found */
  return b;
}

/* One block: the stream a->h [B,N,C] goes from h^{l-1}, wherever that lies, by way of u to the
 * block's output, which is la->s2, or la->n2 under post-norm. All arrays stay for the backward. The
 * input is not read any more when the output's array is begun, so blocks may share arrays. */
static void block_forward(const Model *m, Acts *a, int l, int B, idx N) {
  const Config *c = &m->c;
  const Layer *w = &m->w.layer[l];
  const PublishedParts *p = m->published;
  LayerActs *la = &a->layer[l];
  bool post = c->place == PLACE_POST, bare = post || c->behind_only;
  idx rows = B * N;
  la->x = a->h;
  for (int k = 0; k < 2; k++) {
    Branch b = branch_of(c, la, w, k);
    const real *in = bare ? b.x : b.n;   /* what F reads */
    /* out = F(norm x), or F(x) */
    if (!bare) norm_forward(c, b.n, b.nstat, b.read, b.norm, rows);
    bool done = p && (k ? p->feed(m, a, l, b.out, in, rows) : p->mix(m, a, l, b.out, in, B, N));
    if (!done && k == 0) mhsa_forward(m, a, l, b.out, in, B, N);
    if (!done && k == 1) ffn_forward(m, w, la, b.out, in, rows);
    /* sum = x + out, in a sandwich x + norm(out) */
    if (c->place == PLACE_SANDWICH) norm_forward(c, b.sum, b.outstat, b.out, b.behind, rows);
    add_rows(b.sum, b.x, rows * c->dim);
    if (post) norm_forward(c, b.n, b.nstat, b.read, b.norm, rows);
    a->h = post ? b.n : b.sum;
  }
}

/* a->dh [B,N,C] holds the gradient of the block's output on entry, and of its input on return; each
 * branch adds to it. With MHSA'^T for the transposed Jacobian of MHSA at its input, and so on, and
 * ds1, ds2 for the gradients of the sums, the two turns of the loop below are:
 *
 *          post             pre               parallel                      sandwich
 *   ds2    n2'^T dy         dy                dy                            dy
 *   dn     FFN'^T ds2       FFN'^T ds2        FFN'^T ds2                    FFN'^T n4'^T ds2
 *   du     ds2 + dn         ds2 + n2'^T dn    ds2                           ds2 + n2'^T dn
 *
 *   ds1    n1'^T du         du                du                            du
 *   dn     MHSA'^T ds1      MHSA'^T ds1       MHSA'^T ds1                   MHSA'^T n3'^T ds1
 *   dx     ds1 + dn         ds1 + n1'^T dn    ds1 + n1'^T dn + n2'^T dn1    ds1 + n1'^T dn
 *
 * (dn1: the first dn. --behind-only: no n1', n2'.) In all but post-norm dy itself is a term of dx.
 * In the code dh is the stream's gradient, dn that of what F reads, dx what dh becomes through a
 * norm behind F. In parallel dx gathers the terms of the two norms and joins dh at the end. */
static void block_backward(Model *m, Acts *a, int l, int B, idx N) {
  const Config *c = &m->c;
  const Layer *w = &m->w.layer[l];
  Layer *d = &m->d.layer[l];
  const LayerActs *la = &a->layer[l];
  bool post = c->place == PLACE_POST, parallel = c->place == PLACE_PARALLEL;
  bool sandwich = c->place == PLACE_SANDWICH, bare = post || c->behind_only;
  idx rows = B * N, n = rows * c->dim;
  real *dh = a->dh, *dx = a->dx, *dn = a->dn;
  for (int k = 1; k >= 0; k--) {
    Branch b = branch_of(c, la, w, k), db = branch_of(c, la, d, k);
    const real *in = bare ? b.x : b.n, *dout = sandwich ? dx : dh;
    if (k || !parallel) zero(dx, n);
    /* post-norm: norm(sum) went on, and dh becomes the gradient of the sum */
    if (post) {
      norm_backward(c, dx, db.norm, dh, b.read, b.nstat, b.norm, rows);
      copy(dh, dx, n);
    }
    /* sum = x + out, in a sandwich x + norm(out): dh is the gradient of both terms */
    if (sandwich) norm_backward(c, dx, db.behind, dh, b.out, b.outstat, b.behind, rows);
    /* out = F(in) */
    if (k) ffn_backward(c, w, d, la, a, dn, dout, in, rows);
    else mhsa_backward(m, a, l, dn, dout, in, B, N);
    /* in = x, or norm(x). In parallel the ffn's branch passes u by: it waits in dx for MHSA's. */
    if (bare) add_rows(dh, dn, n);
    else norm_backward(c, parallel ? dx : dh, db.norm, dn, b.read, b.nstat, b.norm, rows);
    if (parallel && k == 0) add_rows(dh, dx, n);
  }
}

/* The embedding. Leaves the stream a->h = H^0 [B,N,C]; returns N, the rows of a sequence. */
static idx forward_begin(const Model *m, Acts *a, const int *ids, int B, int T) {
  /* b_h(i-j): T5's may have moved since the last forward, but not within a cache's life */
  if (!a->past) biases_tabulate(m, a);
  embed_forward(m, a, ids, B, T, a->h0);
  a->h = a->h0;
  return forward_rows(&m->c, a, T);
}

/* 1 when a forward so far could not read a matrix from its file (data/models). */
int model_fault(const Model *m, Error *e) {
  return m->published ? m->published->fault(m, e) : 0;
}

/* The LN of Y = LN(H^L) W_cls (section 2): a->h = h^L to a->nf [B,N,C], for W_cls to take. */
static void forward_end(const Model *m, Acts *a, int B, idx N) {
  bool post = m->c.place == PLACE_POST;   /* its last n2 is that LN */
  if (!post) norm_forward(&m->c, a->fnorm, a->nfstat, a->h, &m->w.normf, B * N);
  a->nf = post ? a->h : a->fnorm;
}

/* ids [B,T] to a->nf [B,N,C]. The logits are chapter 5's, a slice of rows at a time. B and T may be
 * less than acts_create made room for; arrays then fill from their start. a->h is h^L before the
 * final norm, as in Figures 11 to 14 (B.3). With ACTS_ALL a->layer[l].x is h^l, for l < L. */
static void model_forward(const Model *m, Acts *a, const int *ids, int B, int T) {
  idx N = forward_begin(m, a, ids, B, T);
  for (int l = 0; l < m->c.layers; l++) block_forward(m, a, l, B, N);
  forward_end(m, a, B, N);
}

/* From a->dh [B,N,C], the gradient of a->nf that model_loss left, to every parameter but those of
 * the unembedding, which model_loss has served; a tied wte receives its second part here. Gradients
 * are added to what is there: forward, loss and backward of two half batches, each with the share
 * 1/2, are one step of the whole. Leaves the gradient of H^0 in a->dh. */
static void model_backward(Model *m, Acts *a, const int *ids, int B, int T) {
  const Config *c = &m->c;
  idx N = config_rows(c, T), rows = B * N, n = rows * c->dim;
  /* T5's b_h(i-j) is one table for all blocks, whose gradients gather in dbias on the way down */
  if (a->dbias) zero(a->dbias, B * c->heads * (2 * N - 1));
  /* nf = normf(h^L) */
  if (c->place != PLACE_POST) {
    zero(a->dx, n);
    norm_backward(c, a->dx, &m->d.normf, a->dh, a->h, a->nfstat, &m->w.normf, rows);
    copy(a->dh, a->dx, n);
  }
  /* h^l = block_l(h^{l-1}), from the last to the first */
  for (int l = c->layers - 1; l >= 0; l--) {
    block_backward(m, a, l, B, N);
    if (a->after) a->after(a, l, B, N);   /* eval --signs: dn is the gradient at MHSA's input */
  }
  /* bias = rel[bucket(i-j)], and H^0 = X W_E + P */
  if (a->dbias) t5_backward(m, a, B, N);
  embed_backward(m, a, ids, B, T, a->dh);
}

/* ==========
 * 5  Loss, AdamW, schedule   sections 2, 4, 6; [E1]
 *
 * [E1] The objective is the expectation of the loss over sequences; here, the mean of
 * -log p(x_{t+1} | x_1 .. x_t) over the scored targets of a batch. The paper prints the sum of
 * log p (sections 2 and 6) without the minus that a minimum needs. A sequence brings T + 1 tokens,
 * T inputs and T targets, as the authors' samples of 2049 tokens do for a context of 2048.
 *
 * With a prefix of p tokens (section 6, Figure 5) the first p-1 predictions are not scored, since
 * those rows have seen their answer. The first token is never a target: p = 0 scores as p = 1.
 *
 *   rows          1     2     3     4     5          T = 5, p = 3
 *   predicts     x_2   x_3   x_4   x_5   x_6
 *   scored        -     -    yes   yes   yes         n = 3 targets a sequence
 *
 * A batch has n scored targets. share is 1, or 1/k where a step adds the gradients of k forwards.
 *
 *   y = nf W_cls     L = (1/n) sum over rows of (log S - y_target)     S = sum_v e^{y_v}
 *
 *   dy_v = share (softmax(y)_v - 1[v = target]) / n     as d log S / dy_v = e^{y_v} / S
 *   dnf  = dy W_cls^T          dW_cls += nf^T dy        a row of dy sums to 0
 *
 * Numerics. The maximum is subtracted before exp, so no term overflows and S e^-max is between 1
 * and V. A row's loss is a double; below 6e-8, where S e^-max is a float near 1, it reads 0. A
 * logit of NaN or +infinity makes the loss NaN, and a training then ends. Equal logits have the
 * loss ln V: 7.62 for V = 2048, 10.83 for the paper's 50432; its 60M model ends at 3.73.
 *
 * Cost: C V multiplications a row forward and twice that backward; at the paper's sizes 38.7
 * million, against 59 million for the matrices of its ten blocks. SLICE = 160 rows at a time are 32
 * MB of logits in float; the 16 x 2048 rows of the authors' forward would be 6.6 GB. */

/* y [n] <- X tanh(y / X), where logits have a cap X, as Gemma 2's. */
static void cap_logits(const Config *c, idx n, real *y) {
  if (!(c->logit_cap > 0)) return;
  PARALLEL
  for (idx i = 0; i < n; i++) y[i] = (real)(c->logit_cap * tanh((double)y[i] / c->logit_cap));
}

/* y = nf W_cls: rows [R,C] of nf to logits [R,V]; R at most SLICE. There is no bias, as in the
 * paper. Where the embedding is narrower, y = out W_cls of out = nf W_out [R,E], which a->outp
 * keeps. Where it is tied, W_cls [E,V] is wte [V,E] read with its strides exchanged. */
static void model_logits(const Model *m, Acts *a, const real *rows, idx R, real *logits) {
  idx C = m->c.dim, E = m->c.embed_dim, V = m->c.vocab;
  bool tied = m->c.tied;
  const real *w = tied ? m->w.wte : m->w.wcls;
  if (E != C) linear_forward(m, a->outp, rows, m->w.wout, NULL, R, C, E);
  const real *in = E != C ? a->outp : rows;   /* [R,E] */
  if (!m->linear || !m->linear(m, logits, in, w, tied, R, E, V))
    matmul(logits, V, rows_of(in, E), tied ? transpose_of(w, E) : rows_of(w, V), R, V, E, false);
  cap_logits(&m->c, R * V, logits);
}

/* From dy [R,V], in a->logits: overwrites a->dslice [R,C], adds to the gradients of W_cls (or wte)
 * and W_out. Reads a->slice and a->outp as model_logits of this slice left them. */
static void logits_backward(Model *m, Acts *a, idx R) {
  const Config *c = &m->c;
  idx C = c->dim, E = c->embed_dim, V = c->vocab;
  const real *in = E != C ? a->outp : a->slice;   /* [R,E]: what W_cls multiplied */
  real *din = E != C ? a->doutp : a->dslice;
  Matrix dy = rows_of(a->logits, V), dy_t = transpose_of(a->logits, V);
  /* y = in W_cls:  din = dy W_cls^T;  dW_cls [E,V] += in^T dy, or dwte [V,E] += dy^T in */
  matmul(din, E, dy, c->tied ? rows_of(m->w.wte, E) : transpose_of(m->w.wcls, V), R, E, V, false);
  if (c->tied) matmul(m->d.wte, E, dy_t, rows_of(in, E), V, E, R, true);
  else matmul(m->d.wcls, V, transpose_of(in, E), dy, E, V, R, true);
  /* in = nf W_out:  dnf = din W_out^T;  dW_out += nf^T din */
  if (E != C)
    linear_backward(a->dslice, false, m->d.wout, NULL, a->doutp, a->slice, m->w.wout, R, C, E);
}

/* -log p of the target. The logits y [V] are overwritten, by dy where weight = share / n is not 0.
 *
 *   -log p = log sum_v e^(y_v - max) + max - y_target
 *   dy_v   = weight (e^(y_v - max) / sum - 1[v = target])
 *   capped: y = X tanh(z / X), dz_v = dy_v (1 - (y_v / X)^2); y_v comes back from e^(y_v - max) */
static double cross_entropy(const Config *c, real *y, int target, real weight) {
  idx V = c->vocab;
  real most = vec_max(V, y), right = y[target];
  vec_exp(V, y, y, most);
  real sum = vec_sum(V, y);
  if (weight != 0) {
    vec_scale(V, y, weight / sum);   /* softmax(y) share / n */
    y[target] -= weight;   /* less 1[v = target] share / n */
    for (idx v = 0; c->logit_cap > 0 && v < V; v++) {
      double y_v = (double)(v == target ? right : most) / c->logit_cap;
      if (v != target && y[v] > 0) y_v += log((double)(y[v] * sum / weight)) / c->logit_cap;
      y[v] *= (real)(1 - y_v * y_v);
    }
  }
  return log(sum) + most - right;
}

/* After model_forward: the mean of -log p over the scored targets [B,T], of which t is the token
 * after input t. 0 when the prefix leaves none. Each row's -log p goes to a->loss_row [B,T], -1
 * where not scored. SLICE rows at a time, maybe of several sequences, are in a->slice [SLICE,C].
 *
 * with_grads also adds share dL to the gradients of W_cls (or wte) and W_out, and overwrites a->dh
 * [B,N,C] with share dL/dnf. Rows that are not scored, x*'s among them, keep dh = 0: they learn
 * only through rows that see them. */
static double model_loss(Model *m, Acts *a, const int *targets, int B, int T, bool with_grads,
                         double share) {
  const Config *c = &m->c;
  idx C = c->dim, V = c->vocab, N = config_rows(c, T);
  idx from = c->prefix > 1 ? c->prefix - 1 : 0;   /* p-1: the first scored, from 0 */
  idx per = T > from ? T - from : 0, count = B * per;
  real weight = with_grads && count ? (real)(share / (double)count) : 0;
  for (idx i = 0; i < B * T; i++) a->loss_row[i] = -1;
  if (with_grads) zero(a->dh, B * N * C);
  double sum = 0;
  if (m->published && m->published->loss(m, a, targets, B, T, &sum)) return sum;
  for (idx s0 = 0; s0 < count; s0 += SLICE) {
    idx R = at_most(count - s0, SLICE), token[SLICE], row[SLICE];
    for (idx r = 0; r < R; r++) {
      /* scored row s0 + r: token t of sequence b, further down where x* stand first */
      idx b = (s0 + r) / per, t = from + (s0 + r) % per;
      token[r] = b * T + t;
      row[r] = b * N + (N - T) + t;
      copy(a->slice + r * C, a->nf + row[r] * C, C);
    }
    model_logits(m, a, a->slice, R, a->logits);
    PARALLEL
    for (idx r = 0; r < R; r++)
      a->loss_row[token[r]] = cross_entropy(c, a->logits + r * V, targets[token[r]], weight);
    if (!with_grads) continue;
    logits_backward(m, a, R);
    for (idx r = 0; r < R; r++) copy(a->dh + row[r] * C, a->dslice + r * C, C);
  }
  /* in the order of the tokens, so that neither threads nor slices can change the sum */
  for (idx b = 0; b < B; b++)
    for (idx t = from; t < T; t++) sum += a->loss_row[b * T + t];
  return count ? sum / (double)count : 0;
}

/* ----------
 * The optimiser (F5)                        AdamW: Loshchilov and Hutter 2017; [E32] writes it out
 *
 *   w <- (1 - lr wd) w                                            decoupled decay, before the step
 *   m <- b1 m + (1 - b1) g        v <- b2 v + (1 - b2) g^2              equations 37, 38
 *   w <- w - lr (m / (1 - b1^t)) / (sqrt(v / (1 - b2^t)) + eps)         equation 39
 * SGD: the same decay, then w <- w - lr g (equation 32). t counts steps from 1. Muon: data/later
 *
 * m and v are running means that start at 0. After t steps of a constant g they are (1 - b1^t) g,
 * (1 - b2^t) g^2: hence the division. The first step, whatever b1 and b2 (the authors': 0.9, 0.95),
 * is lr g / (|g| + eps), lr times g's sign: |g| cancels. Let a model use U = a W: dL/dW = a dL/dU.
 * AdamW cancels this a, so U moves by a lr: a is a start and an lr times a, with eps/a and wd/a
 * (equations 36 to 42). SGD keeps it, and U moves by a^2 lr (32 to 35). The scale of Table 14 left
 * is such a factor of W_O, but for clipping; `paper check scale` trains both sides for 200 steps.
 *
 * Weight decay ([T2], 18.18 % at the default wd = 0.1). Section 6 adds gamma |theta|^2 to the loss.
 * The authors' code has AdamW's, which is not divided by sqrt(v), on every parameter (F5). A number
 * without gradient, as wte's of a token that never comes, shrinks by 1 - lr wd a step: at lr = 4e-4
 * and wd = 0.1 to 0.45 in the paper's 20000 steps; at wd = 5, the end of Table 2, to 1/e in 500.
 *
 * Numerics: in real, in the order of torch.optim.AdamW; the factors of a step are computed in
 * double. Floats just below 1 lie 6e-8 apart: 1 - lr wd keeps lr wd = 4e-5 to 0.02 %, and loses it
 * below 3e-8. eps keeps g = 0 at 0/eps = 0. Tests: optimizer_step__*. */

/* The same for all n: decay = 1 - lr wd, step = lr / (1 - b1^t), root = 1 / sqrt(1 - b2^t). */
typedef struct Factors { real decay, b1, b2, eps, shrink, lr, step, root; } Factors;

/* AdamW on n <= CHUNK numbers. */
WIDE(adamw,
     (const Factors *f, idx n, real *restrict w, const real *restrict g, real *restrict m,
      real *restrict v),
     (f, n, w, g, m, v)) {
  real sqrt_v[CHUNK];
  const Factors c = *f;
  for (idx j = 0; j < n; j++) {
    real grad = c.shrink * g[j];
    m[j] = c.b1 * m[j] + (1 - c.b1) * grad;   /* equation 37 */
    v[j] = c.b2 * v[j] + (1 - c.b2) * grad * grad;   /* 38 */
  }
  vec_sqrt(n, sqrt_v, v);
  for (idx j = 0; j < n; j++)   /* 39, the decay with it */
    w[j] = c.decay * w[j] - c.step * m[j] / (sqrt_v[j] * c.root + c.eps);
}

typedef struct Step {   /* one step of the optimiser */
  int optimizer; double lr, beta1, beta2, eps, wd;   /* OPTIMIZER_* */
  long t;   /* counts from 1: the moments' bias correction */
  double shrink;   /* what clipping leaves of the gradient: 1, or less */
} Step;

/* One step of w [n] by shrink times its gradient g [n], and of the moments m, v [n], which SGD does
 * not touch. CHUNK at a time: the square roots need no array of length n. */
static void optimizer_step(const Step *s, idx n, real *w, const real *g, real *m, real *v) {
  Factors f = {.decay = (real)(1 - s->lr * s->wd), .b1 = (real)s->beta1, .b2 = (real)s->beta2,
               .eps = (real)s->eps, .shrink = (real)s->shrink, .lr = (real)s->lr,
               .step = (real)(s->lr / (1 - pow(s->beta1, (double)s->t))),
               .root = (real)(1 / sqrt(1 - pow(s->beta2, (double)s->t)))};
  PARALLEL
  for (idx from = 0; from < n; from += CHUNK) {
    idx some = chunk(n, from);
    if (s->optimizer == OPTIMIZER_SGD)
      for (idx j = from; j < from + some; j++) w[j] = f.decay * w[j] - f.lr * (f.shrink * g[j]);
    else adamw(&f, some, w + from, g + from, m + from, v + from);
  }
}

/* The sum of x^2, for x [n]: SHARES of fixed borders, each by dot products of CHUNK, are added up
 * in double and in order, to the same bits on any number of threads. */
static double square_sum(idx n, const real *x) {
  enum { SHARES = 64 };
  double part[SHARES], sum = 0;
  PARALLEL
  for (idx p = 0; p < SHARES; p++) {
    idx from = n * p / SHARES, to = n * (p + 1) / SHARES;
    part[p] = 0;
    for (idx j = from; j < to; j += CHUNK)
      part[p] += vec_dot(chunk(to, j), x + j, x + j);
  }
  for (idx p = 0; p < SHARES; p++) sum += part[p];
  return sum;
}

/* (F1) The learning rate of step s, counted from 0: lr (s+1)/warmup while s < warmup; then
 *
 *   constant   lr, as every configuration of the authors' code has it (their min_lr is lr)
 *   cosine     min_lr + (lr - min_lr) (1 + cos(pi u)) / 2,  u = (s - warmup) / (steps - warmup)
 *
 * the latter as section 4 says; u would be 1 at s = steps, one past the last. lr = 4e-4, 100 of
 * 20000 steps, min_lr = 4e-5: 4e-6 at s = 0, 4e-4 at 99, 2.2e-4 at 10050. [T9] At one product of lr
 * and steps, Sink_1 is 23.44 % for 8e-4, 18.18 for 4e-4, 16.81 for 2e-4, 6.29 for 1e-4. */
static double schedule_lr(int schedule, double lr, double min_lr, int warmup, int steps, int step) {
  if (step < warmup) return lr * (step + 1) / warmup;
  if (schedule == SCHEDULE_CONSTANT) return lr;
  double done = steps > warmup ? (double)(step - warmup) / (steps - warmup) : 1;
  return min_lr + (lr - min_lr) * (1 + cos(PI * fmin(done, 1))) / 2;
}

/* The global norm sqrt(sum g^2), for clipping (chapter 10; the authors clip at 1). *bad: the first
 * tensor whose sum is not finite, else NULL. In float it overflows from gradients near 1e18. */
static double gradient_norm(const Model *m, const Tensor **bad) {
  double total = 0;
  *bad = NULL;
  for (idx i = 0; i < m->n_tensors; i++) {
    const Tensor *t = &m->tensor[i];
    double sum = square_sum(t->count, m->grads + t->at);
    if (!isfinite(sum) && !*bad) *bad = t;
    total += sum;
  }
  return sqrt(total);
}

/* ==========
 * 6  The sink metrics   sections 3.1 and 3.2; [M1] [M2]
 *
 * [M1]  alpha_k = 1/(T-k+1) sum over rows i = k..T of m_ik     a head's importance score of token k
 * [M2]  Sink_k^eps = mean over layers and heads of 1[alpha_k > eps], strictly
 *
 * m is the paper's A where weights sum to 1, and its proxy score elsewhere (section 7.4; row_metric
 * of 3.6): neither the scale nor a sign is in it. With T = 3:
 *
 *        row 1   1.0                 alpha_1 = (1.0 + 0.8 + 0.6) / 3 = 0.8
 *        row 2   0.8  0.2            alpha_2 = (0.2 + 0.2) / 2       = 0.2
 *        row 3   0.6  0.2  0.2       alpha_3 = 0.2
 *
 * so this head has a sink on token 1 at eps = 0.3. The indicator is taken for each sequence, then
 * averaged over the sequences, 100 in the paper (F7): a head counts by how often it has one, not by
 * its mean alpha. The paper's eps is 0.3 and its T 64; the default model has Sink_1 = 18.18 %.
 *
 * 1/T <= alpha_1 <= 1, since A_11 = 1 (section 3.2, where i != 0 should read i != 1). With an extra
 * column A_11 is less, and a row of an mlp kernel can be 0 altogether. Rows that spread evenly give
 * alpha_1 = 0.0741 at T = 64 (sink_uniform): eps = 0.3 is four times that. Below T = 10 even rows
 * pass for sinks: shorter sequences must not be judged. Sink of one sequence moves in steps of
 * 1/(L H). Mean alpha_1, which moves earlier, and its multiple of the even value stand beside Sink.
 *
 * A map m [N,S] has the rows and columns drawn in chapter 1. x*'s row is no token's: plus1 alone
 * reads it. Alpha of * and x* is a mean over the T real rows; a window may hide x*. The
 * authors' code adds a dummy row that gives * all its weight (F6): alpha_* = (1 + sum)/(T+1), which
 * passes 0.3 from a mean of 0.289 over 64 rows on. It also sums over all rows, where the paper sums
 * over i >= k. That differs inside a prefix, whose rows see ahead. */

/* [M1] alpha of column j of one head's map m [N,S]; columns *, x*, 1..T, rows x*, 1..T. rows:
 * METRIC_REAL, or METRIC_PLUS1, the authors' form. What is invisible is 0 in m and adds nothing. */
static double sink_alpha(const Config *c, int T, int rows, const real *m, idx j) {
  /* the row and the column of token 1: behind all x*, one column more with * */
  idx N = config_rows(c, T), S = config_columns(c, T), first = N - T, token1 = S - T;
  bool authors = rows == METRIC_PLUS1;
  /* token k+1 has T-k rows, from its own on, and * and x* have all T; the authors sum over T */
  idx k = j > token1 ? j - token1 : 0;
  double sum = 0, count = (double)(T - k);
  for (idx i = authors ? first : first + k; i < N; i++) sum += m[i * S + j];
  /* a row more, *'s dummy or x*'s own, counts for * and x*; a token has 0 there but in a prefix */
  if (authors && c->extra && j == 0) sum += 1;
  else if (authors && first) sum += m[j];
  return sum / (authors && j < token1 ? count + 1 : count);
}

/* The mean over layers and heads of a column, 0 .. n-1, of at [L,H,n]. */
static double column_mean(const Sinks *s, const double *at, idx n, int column) {
  double sum = 0;
  for (idx i = 0; i < s->L * s->H; i++) sum += at[i * n + column];
  return sum / s->heads;
}
/* [M1] of a column, and raw mass, averaged over layers, heads and sequences: no threshold. */
static double sinks_alpha(const Sinks *s, int k) { return column_mean(s, s->alpha, s->S, k); }
static double sinks_mass(const Sinks *s) { return column_mean(s, s->raw, 1, 0); }
/* [M2] Sink_k^eps[x], in 0..1, of a column: config_column_first for Sink_1, _star for Sink_*. */
static double sinks_sink(const Sinks *s, int column, int x) {
  return column_mean(s, s->over + (idx)x * s->L * s->H * s->S, s->S, column);
}

/* alpha_1 if every row spread its weight evenly over what the mask shows it, mean over layers:
 *
 *   causal        H_T / T = (1 + 1/2 + .. + 1/T)/T  0.0741 at T = 64
 *   * or x*       (1/T) sum over i of 1/(i+1)       0.0587: one column more to share with
 *   window w      H_w / T                           0.0634 at w = 32; rows beyond w give token 1 0
 *   prefix p      (1 + H_T - H_p) / T               0.0541 at p = 5; rows 1..p see p tokens */
static double sink_uniform(const Config *c, int T) {
  idx N = config_rows(c, T), first = N - T;
  double sum = 0;
  for (int l = 0; l < c->layers; l++)
    for (idx i = first; i < N; i++)
      if (config_attends(c, l) && visible(c, l, i, first))
        sum += 1.0 / (double)(keys_seen(c, l, N, i) + (c->extra ? 1 : 0));
  return sum / config_attending(c) / T;
}

/* [FIG7] [FIG8] [FIG29] Norm of the first row (x*'s when there is one) over the others' mean; norms
 * [N] are means over sequences. Captions print t != 0 for t != 1. No others, or all 0: 1. */
static double norm_ratio(const double *norms, idx N) {
  double sum = 0;
  for (idx n = 1; n < N; n++) sum += norms[n];
  return N > 1 && sum != 0 ? norms[0] / (sum / (double)(N - 1)) : 1;
}

/* The largest ratio over the outputs of the blocks, l = 1 .. L. The paper finds massive activations
 * where weights are non-negative and sum to 1 (Figure 8 left), none for sigmoid without
 * normalisation (Figure 8 middle), nor with K or KV biases (Figure 7 middle). */
static double sinks_ratio(const Sinks *s) {
  double most = 0;
  for (int l = 1; l <= s->L; l++) most = fmax(most, norm_ratio(s->hnorm + l * s->N, s->N));
  return most;
}

/* Makes room, its sums 0, to measure up to `batch` sequences of T tokens at a time at n_eps <=
 * EPS_MOST thresholds, of which eps[0] is the one quoted. On failure nothing is held. */
static int sinks_create(Sinks *s, const Config *c, int T, int batch, const double *eps, int n_eps,
                        Error *e) {
  idx L = c->layers, H = c->heads, N = config_rows(c, T);
  idx S = config_columns(c, T), map = batch * H * N * S;
  *s = (Sinks){.L = c->layers, .H = c->heads, .T = T, .N = (int)N, .S = (int)S, .batch = batch,
               .n_eps = n_eps, .heads = c->heads * config_attending(c),
               .period = c->attention_period,
               .offset = c->attention_period ? c->attention_offset : 0};
  memcpy(s->eps, eps, (size_t)n_eps * sizeof *eps);
  const struct { double **field; idx size; } MEANS[] = {   /* all in one array, sums */
    {&s->alpha, L * H * S}, {&s->over, n_eps * L * H * S}, {&s->entropy, L * H},
    {&s->mass, L * H}, {&s->hnorm, (L + 1) * N}, {&s->prenorm, L * N}, {&s->qnorm, L * N},
    {&s->knorm, L * N}, {&s->vnorm, L * N}, {&s->cosine, 2 * L * H}, {&s->product, 2 * L * H},
    {&s->raw, L * H}};
  enum { ARRAYS = sizeof MEANS / sizeof MEANS[0] };
  for (int i = 0; i < ARRAYS; i++) s->n_sums += MEANS[i].size;
  s->sums = grab(s->n_sums, sizeof(double), e);
  s->probe = grab(L, sizeof(Probe), e);
  s->maps = grab(2 * map, sizeof(real), e);
  s->extreme = grab(batch * N * c->dim, sizeof(real), e);
  if (e->status) { sinks_free(s); return e->status; }
  for (idx i = 0, at = 0; i < ARRAYS; at += MEANS[i].size, i++) *MEANS[i].field = s->sums + at;
  /* all blocks have the same two maps, each while it is measured */
  for (idx l = 0; l < L; l++) s->probe[l] = (Probe){.weight = s->maps, .metric = s->maps + map};
  return 0;
}

/* Frees whatever part of s exists; harmless on a zeroed struct. */
void sinks_free(Sinks *s) {
  free(s->sums); free(s->probe); free(s->maps); free(s->extreme);
  *s = (Sinks){0};
}

/* Has block l maps? Means over heads leave out blocks without attention (data/models). */
static bool sinks_attends(const Sinks *s, int l) {
  return !s->period || l % s->period == s->offset;
}

/* A NaN is above no eps and would pass for no sink. So the first x that is not finite ends a
 * measurement. block: from 1; -1 the embedding, L+1 the loss. head: from 1; 0 none. */
static void sinks_watch(Sinks *s, int block, int head, double x) {
  if (!s->bad && !isfinite(x)) { s->bad = block; s->bad_head = head; }
}

#define NOT_FINITE ": expected numbers, found NaN or infinity. Try: another copy of the model"
static int sinks_fault(const Sinks *s, Error *e) {
  if (s->bad < 0) return fail(e, 1, "the embedding" NOT_FINITE);
  if (s->bad > s->L) return fail(e, 1, "the loss" NOT_FINITE);
  return fail(e, 1, s->bad_head ? "block %d of %d, head %d of %d" NOT_FINITE
              : "block %d of %d, after its heads" NOT_FINITE, s->bad, s->L, s->bad_head, s->H);
}

/* |x|, for x [n]: the l2 norm of sections 3.1 and 7. */
static double length(idx n, const real *x) { return sqrt(vec_dot(n, x, x)); }

/* Adds to *to the mean of |x_h| over the n rows of x [n,D]. */
static void add_lengths(double *to, idx n, idx D, const real *x) {
  for (idx h = 0; h < n; h++) *to += length(D, x + h * D) / (double)n;
}

/* The maps of one head in one sequence, m and weight [N,S]; lh = l H + h. Adds alpha of every
 * column, for each eps 1[alpha > eps] of this sequence (F7), and as means over the T rows
 *
 *   entropy   -sum_j m_ij log m_ij in nats, * and x* included; 0 for a row on one key; even causal
 *             rows give log(T!)/T = 3.206 at T = 64
 *   mass      sum over the keys of scale s/Z: 1 for a plain softmax, 1 - A_* with an extra column,
 *             anything for Z = 1
 *   raw       the same of |scale s/Z|; why: row_metric */
static void measure_head(Sinks *s, const Config *c, int rows, idx lh, const real *m,
                         const real *weight) {
  idx S = s->S, first = s->N - s->T, keys = c->extra ? 1 : 0;
  for (idx j = 0; j < S; j++) {
    double alpha = sink_alpha(c, s->T, rows, m, j);
    s->alpha[lh * S + j] += alpha;
    for (idx x = 0; x < s->n_eps; x++)
      s->over[(x * s->L * s->H + lh) * S + j] += isnan(alpha) ? NAN : alpha > s->eps[x];
  }
  for (idx i = first; i < s->N; i++) {
    const real *p = m + i * S, *w = weight + i * S;   /* [S] */
    double entropy = 0, mass = 0, raw = 0;
    for (idx from = 0; from < S; from += CHUNK) {
      real log_p[CHUNK];
      idx some = chunk(S, from);
      vec_log(some, log_p, p + from);
      for (idx j = 0; j < some; j++)   /* 0 log 0 = 0 */
        if (p[from + j] > 0) entropy -= (double)p[from + j] * (double)log_p[j];
    }
    for (idx j = keys; j < S; j++) { mass += w[j]; raw += fabs(w[j]); }
    s->entropy[lh] += entropy / s->T;
    s->mass[lh] += mass / s->T;
    s->raw[lh] += raw / s->T;
  }
}

/* [FIG2] Section 3.1: <q_t, k_j> = |q_t| |k_j| cos(q_t, k_j), after positions, before phi. Without
 * kernel and bias the score is this over sqrt(D). The paper finds that the angle makes the sink:
 * |q_t| |k_1| is rather small, but cos(q_t, k_1) large. (It prints "keys and values" for the two.)
 *
 * Adds the mean over the rows but the first of cos and of |q| |k|. Index 0: with the key of the
 * first row (x*'s when there is one), seen or not. Index 1: the mean over the other keys up to the
 * row's own that its mask shows; keys ahead, inside a prefix, are left out. Length 0: cos = 0. */
static void measure_angles(Sinks *s, const Config *c, const LayerActs *la, idx b, int l, int h) {
  idx D = c->head_dim, H = c->heads, K = c->kv_heads, N = s->N, at = 2 * (l * H + h);
  const real *q = la->q + (b * N * H + h) * D;   /* [N,D], rows H D apart */
  const real *k = la->k + (b * N * K + (h / (H / K))) * D; /* [N,D], rows K D apart */
  for (idx i = 1; i < N; i++) {
    const real *q_i = q + i * (H * D);
    double keys[2] = {0}, angles[2] = {0}, products[2] = {0}, norm = length(D, q_i);
    for (idx j = 0; j <= i; j++) {
      if (j && !visible(c, l, i, j)) continue;
      const real *k_j = k + j * (K * D);
      double both = norm * length(D, k_j);
      keys[j > 0]++;
      angles[j > 0] += both > 0 ? (double)vec_dot(D, q_i, k_j) / both : 0;
      products[j > 0] += both;
    }
    for (int x = 0; x < 2; x++) {   /* a row sees its own key: there is one of either */
      s->cosine[at + x] += angles[x] / keys[x] / (double)(N - 1);
      s->product[at + x] += products[x] / keys[x] / (double)(N - 1);
    }
  }
}

static int by_size(const void *a, const void *b) {
  real x = *(const real *)a, y = *(const real *)b;
  return (x > y) - (x < y);
}

/* The largest |x|, for x [n]; -1 when all of them are NaN. */
static real largest(idx n, const real *x) {
  real most = -1;
  for (idx j = 0; j < n; j++) if (real_abs(x[j]) > most) most = real_abs(x[j]);
  return most;
}

/* [FIG2], Figures 11 to 14. Of the stream h^l [B,N,C]: adds each row's |h^l|. Keeps, by sequence,
 * the block's output with the largest |h| so far; H^0, which no block has written, is no output. */
static void measure_stream(Sinks *s, const real *h, int l, int B, int C) {
  idx N = s->N, n = N * C;
  for (idx b = 0; b < B; b++, h += n) {
    real *extreme = s->extreme + b * n;
    for (idx i = 0; i < N; i++) {
      s->hnorm[l * N + i] += length(C, h + i * C);
      sinks_watch(s, l ? l : -1, 0, s->hnorm[l * N + i]);
    }
    if (l == 1 || (l > 1 && largest(n, h) > largest(n, extreme))) copy(extreme, h, n);
  }
}

/* The massive activations of Sun et al. 2024, without their threshold, which small models never
 * reach: the largest |h| over the blocks' outputs of sequence b, and the median |h| of the output
 * it stands in (of an even count the upper of the two middle numbers). */
static void measure_massive(Sinks *s, idx b, int C) {
  idx n = s->N * C;
  real *h = s->extreme + b * n;   /* [N,C]; in the end |h|, rising */
  if (s->bad) return;   /* a NaN has no place in an order */
  for (idx j = 0; j < n; j++) h[j] = real_abs(h[j]);
  qsort(h, (size_t)n, sizeof(real), by_size);
  s->massive += h[n - 1]; s->median += h[n / 2];
}

/* [FIG7] Measures sequence b inside block l, from 0, while its activations are there: heads, and by
 * row the norms: |s2|, which is Figure 7 left's "before LN" under post-norm and the block's output
 * elsewhere; |q|, |k|, |v|, means over heads. A rotation leaves |q| and |k| as they are. */
static void measure_layer(Sinks *s, const Model *m, const Acts *a, idx b, int l, int rows) {
  const Config *c = &m->c;
  const LayerActs *la = &a->layer[l];
  idx N = s->N, C = c->dim, D = c->head_dim, H = c->heads, K = c->kv_heads, map = N * s->S;
  if (!config_attends(c, l)) H = K = 0;   /* no q, k, v: |s2| alone */
  for (int h = 0; h < H; h++) {
    idx head = (b * H + h) * map, lh = l * H + h;
    measure_head(s, c, rows, lh, s->probe[l].metric + head, s->probe[l].weight + head);
    measure_angles(s, c, la, b, l, h);
    /* finite only where its terms are */
    double all = s->mass[lh] + s->product[2 * lh] + s->product[2 * lh + 1];
    for (idx n = 0; n < N; n++)
      all += vec_sum(D, la->v + ((b * N + n) * K + h / (H / K)) * D);
    sinks_watch(s, l + 1, h + 1, all);
  }
  for (idx n = 0; n < N; n++) {
    idx row = b * N + n, at = l * N + n;
    s->prenorm[at] += length(C, la->s2 + row * C);
    add_lengths(&s->qnorm[at], H, D, la->q + row * H * D);
    add_lengths(&s->knorm[at], K, D, la->k + row * K * D);
    add_lengths(&s->vnorm[at], K, D, la->v + row * K * D);
  }
}

/* Runs B sequences (at most the batch of sinks_create, and what a has room for) and adds what is
 * seen. ids, targets [B,T]; without targets no loss is added. rows as in sink_alpha. Any number of
 * calls, then sinks_finish once. It is model_forward with a look after each block, so that neither
 * a nor s has to hold more than one block's activations and maps. */
static int sinks_measure(Sinks *s, Model *m, Acts *a, const int *ids, const int *targets, int B,
                         int rows, Error *e) {
  int C = m->c.dim;
  if (B > s->batch)
    return fail(e, 1, "measure: expected at most %d sequences at a time, found %d", s->batch, B);
  a->probe = s->probe;                 /* attention fills the maps of a forward that finds it */
  idx N = forward_begin(m, a, ids, B, s->T);
  measure_stream(s, a->h, 0, B, C);
  for (int l = 0; l < s->L; l++) {
    block_forward(m, a, l, B, N);
    for (idx b = 0; b < B; b++) measure_layer(s, m, a, b, l, rows);
    measure_stream(s, a->h, l + 1, B, C);
  }
  forward_end(m, a, B, N);
  a->probe = NULL;
  for (idx b = 0; b < B; b++) measure_massive(s, b, C);
  /* the mean over B sequences, weighted by B: sequences of one length weigh alike */
  if (targets) s->loss += model_loss(m, a, targets, B, s->T, false, 1) * B;
  sinks_watch(s, s->L + 1, 0, s->loss);
  s->n += B;
  return model_fault(m, e) || !s->bad ? e->status : sinks_fault(s, e);
}

/* Sums to means over the n sequences, once. over: the share of them in which a head is a sink. */
static void sinks_finish(Sinks *s) {
  double n = s->n ? s->n : 1;
  for (idx i = 0; i < s->n_sums; i++) s->sums[i] /= n;
  s->massive /= n; s->median /= n; s->loss /= n;
}

/* ==========
 * 7  The propositions, executable   Appendix B.1 and C.4; sections 3.1, 3.2, 7
 *
 * Statements of the paper that need no training are decided here (others: `paper check`), on toys:
 * three blocks, two heads, a dozen tokens, weights of order 1, so that nothing hides in rounding. A
 * line of `sink check` is a row of a table below. It comes out as one of
 *
 *   holds               the deviation is within its bound, or the number is the one stated
 *   control             the statement where its premise is missing: it must fail, and does
 *   refuted as printed  the paper's sentence or equation is wrong; a counterexample was measured
 *   WRONG               anything else: `sink check` then ends with status 1
 *
 * One lemma runs through Appendix B.1, in whose letters A_ti has the query t and the key i. Let the
 * input repeat a token, and let h_1 = .. = h_T enter a block. Then all values are one v, and a head
 * gives o_t = r_t v, r_t being the sum of row t of the weights. All else in a block acts on each
 * token alone. So the states stay equal if r_t is the same for all t in every head (and, but for
 * chance, only then), whatever the norm, ffn or score.
 *
 * Bounds are multiples of REAL_EPS, so that one page serves the float and the double build. STATES:
 * through three blocks a number passes some 60 additions of terms of order 1 in each, and an error
 * grows at most 25 times (measured). SCORES: a weight's relative error is its score's absolute one,
 * the largest score, about 40, times its rotation, at most 64 radians. EPS_IN_Z: Z = sum + 1e-8
 * makes r_t = 1 - 1e-8/sum. APART: what must differ differs by as much. */
#define STATES (1000 * REAL_EPS)
#define SCORES (4000 * REAL_EPS)
#define EPS_IN_Z 1e-6
#define APART 1e-3

/* ----------
 * 7.1  Lines, toys and their maps   16.3 builds the toys and prints the page */

/* How a measured number must stand to its bound. EQUALS: to the digits given. FAILS_*: a control.
 * REFUTES: then the printed statement is wrong. DECIDES: holds, or refuted. SAYS: no bound. */
enum { AT_MOST, AT_LEAST, EQUALS, FAILS_BY, FAILS_BELOW, REFUTES, DECIDES, SAYS };

/* A line of the page. Its toy has the flags of the table's first line, then its own before a |.
 * Those after the | are of a second toy to compare with. A * in front stands for each of the first
 * INSIDE schemes in turn. With --pos t5 x also sets T5's table: x n for bucket n (1: min(n, 16),
 * equation 6 as printed; 0: random). The first line of a table measures nothing: name, heading and
 * flags of all its toys; x is the seed of their tokens, 0 for a repeated one. Behind a \n stands
 * what the table says in a sentence; of a line that is refuted, what is printed and what is so. */
typedef struct Toy Toy;
typedef struct Page Page;
typedef struct Line {
  const char *reference, *text, *flags;
  double (*measure)(Toy *y);
  double x;   /* for the measure */
  int relation; double bound;
} Line;

enum { TOKENS = 512, WIDEST = 32,   /* of the longest and of the widest toy */
       TOY_VOCAB = 13, INSIDE = 5 };   /* position schemes inside the score */

/* A tiny model and the sequence it was last run on, with every map recorded. */
struct Toy {
  Page *page;
  const Line *line;   /* that is measured on it */
  double x;   /* that line's x */
  Toy *other;   /* that line's second toy */
  Model m; Acts a;
  int T, ids[TOKENS + 1];
  real *maps;   /* [L,3,H,N,S]: z, weight, metric */
  real *before;   /* [L+1,T,C] or NULL: the states of an earlier run */
};

static const char *const SCHEMES[] = {   /* the first INSIDE act in the score */
  "--pos none", "--pos relative", "--pos alibi", "--pos t5", "--pos rotary", "--pos absolute",
  "--pos learned"};
_Static_assert(sizeof SCHEMES / sizeof *SCHEMES == POS_ROWS, "here, closed_bias, check_states");

/* Operations of Table 15. */
#define SIGMOID_1 "--sim sigmoid --normalizer one "
#define ELU_1 "--sim elu --normalizer one "
#define LINEAR_1 "--sim identity --normalizer one "
#define MLP_1 LINEAR_1 "--kernel mlp "
#define LINEAR_CLAMP "--sim identity --normalizer clamp "

/* A toy with these flags after its default ones, or NULL; the worse for l of b and, if n > 0, a. */
static Toy *toy(Page *p, uint64_t seed, const char *format, ...);
static double worse(const Line *l, int n, double a, double b);

/* Runs y on its ids; toy_feed first fills T + 1 of them, all the same for seed 0, else drawn. */
static void toy_forward(Toy *y) { model_forward(&y->m, &y->a, y->ids, 1, y->T); }
static void toy_feed(Toy *y, uint64_t seed) {
  Rng rng = {seed};
  for (int t = 0; t <= y->T; t++) y->ids[t] = seed ? (int)rng_below(&rng, TOY_VOCAB) : 7;
  toy_forward(y);
}

/* h_t^l [C], tokens from 1, l = 0 .. L; t = 0 is x*. */
static const real *toy_state(const Toy *y, int l, int t) {
  const real *h = l == y->m.c.layers ? y->a.h : y->a.layer[l].x;
  return h + (idx)(y->m.c.sink_token + t - 1) * y->m.c.dim;
}

/* Row t of a map of head h: [i-1] is token i's, [-1] the extra column's or the sink token's. */
enum { MAP_Z, MAP_WEIGHT, MAP_METRIC };
static const real *toy_row(const Toy *y, int map, int l, int h, int t) {
  const Config *c = &y->m.c;
  idx rows = (idx)((3 * l + map) * c->heads + h) * config_rows(c, y->T) + c->sink_token + t - 1;
  return y->maps + rows * config_columns(c, y->T) + config_column_first(c);
}

/* |a - b| / |b|; how many of n numbers are not the same: NaN where one is no number. */
static double apart(idx n, const real *a, const real *b) {
  double gap = 0, size = 0;
  for (idx j = 0; j < n; j++) {
    gap += ((double)a[j] - (double)b[j]) * ((double)a[j] - (double)b[j]);
    size += (double)b[j] * (double)b[j];
  }
  return gap == 0 ? 0 : sqrt(gap / size);
}
static double differing(idx n, const real *a, const real *b) {
  double count = 0;
  for (idx j = 0; j < n; j++) count += isfinite(a[j] - b[j]) ? a[j] != b[j] : NAN;
  return count;
}

/* The larger, the smaller; a NaN wins either. */
static double larger(double a, double b) { return b > a || b != b ? b : a; }
static double smaller(double a, double b) { return b < a || b != b ? b : a; }

/* The largest f of row (or column) t of head h, over all t in the first `blocks`, 0: all. */
static double worst_row(const Toy *y, double blocks,
                        double (*f)(const Toy *y, int l, int h, int t)) {
  double worst = -INFINITY;
  for (int l = 0; l < (blocks > 0 ? (int)blocks : y->m.c.layers); l++)
    for (int h = 0; h < y->m.c.heads && config_attends(&y->m.c, l); h++)
      for (int t = 1; t <= y->T; t++) worst = larger(worst, f(y, l, h, t));
  return worst;
}

/* The largest distance (apart) of h_t^l from x [C] for from <= t <= to. toy_spread: of states of y,
 * all blocks, tokens from `from` on, from the states of token t of the other toy. */
static double toy_off(const Toy *y, int l, int from, int to, const real *x) {
  double worst = 0;
  for (int t = from; t <= to; t++)
    worst = larger(worst, apart(y->m.c.dim, toy_state(y, l, t), x));
  return worst;
}
static double toy_spread(const Toy *y, int from, const Toy *other, int t) {
  double worst = 0;
  for (int l = 0; l <= y->m.c.layers; l++)
    worst = larger(worst, toy_off(y, l, from, y->T, toy_state(other, l, t)));
  return worst;
}

/* ----------
 * 7.2  [E10] Equations 10 to 17: the states of a repeated token stay equal
 *
 * A cell for each row below and position scheme; 16.3 measures them. '=': all h_t^l agree, and
 * equal those of the token alone (T = 1). 'x': they part. Positions added to the input part them,
 * as h_t^0 = x W_E + p_t; the rest is r_t. s(n) is s at the distance n, sum_t its sum over n < t:
 *
 *   softmax, any positive similarity over its sum   r_t = 1, times the scale, under any mask
 *   V biases                                        o_t = v + v+
 *   clamp                                           r_t = sum_t / max(|sum_t|, 1)
 *   Z = 1                                           r_t = sum_t, and t s(0) without positions
 *   p-norm of softmax                               r_t = t^(1-1/p) without positions
 *   an extra column of weight A_t* and value v*     o_t = (1 - A_t*) v + A_t* v*
 *   another first token                             every row gives it another share */
typedef struct StateRow {
  const char *name;
  bool agree;   /* where the positions act inside the score */
  double gain;   /* not 0: W_K = gain W_Q, so that s(0) = gain |q|^2 / sqrt(D) > 0 is large */
  int closed;   /* closed form in so many blocks: data/paper/paper.c */
  const char *flags, *reference;
} StateRow;

static const StateRow STATE_ROWS[] = {
  {"softmax",                   1,  0, 3, "", "Table 15, 1"},
  {"post-norm",                 1,  0, 0, "--place post", ""},
  {"parallel residual",         1,  0, 0, "--place parallel", ""},
  {"LayerNorm, GELU, biases",   1,  0, 0, "--norm layer --act gelu --linear-bias", ""},
  {"heads added, one key head", 1,  0, 0, "--combine add --kv-heads 1", ""},
  {"scale 0.2",                 1,  0, 3, "--scale 0.2", "eq. 29"},
  {"V biases",                  1,  0, 0, "--vbias", ""},
  {"window of 4",               1,  0, 3, "--window 4", "Figure 6"},
  {"prefix of 5",               1,  0, 3, "--prefix 5", "Figure 5"},
  {"window of 4, prefix of 5",  1,  0, 0, "--window 4 --prefix 5", ""},
  {"sigmoid / sum",             1,  0, 1, "--sim sigmoid", "Table 15, 3"},
  {"elu + 1 / sum",             1,  0, 1, "--sim elu", "Table 15, 5"},
  {"elu kernel / sum",          1,  0, 0, "--kernel elu --sim identity", ""},
  {"linear / clamp, sums >= 1", 1, 16, 0, LINEAR_CLAMP, ""},
  {"linear / clamp",            0,  0, 1, LINEAR_CLAMP, "Table 15, 8"},
  {"mlp / clamp",               0,  0, 0, LINEAR_CLAMP "--kernel mlp", ""},
  {"sigmoid, Z = 1",            0,  0, 1, SIGMOID_1, "Table 15, 2"},
  {"elu + 1, Z = 1",            0,  0, 1, ELU_1, "Table 15, 4"},
  {"elu kernel, Z = 1",         0,  0, 0, LINEAR_1 "--kernel elu", ""},
  {"linear, Z = 1",             0,  0, 1, LINEAR_1, "Table 15, 9"},
  {"mlp, Z = 1",                0,  0, 0, MLP_1, ""},
  {"softmax, p-norm 1/2",       0,  0, 1, "--normalizer pnorm --pnorm 0.5", "eq. 43"},
  {"softmax, p-norm 2",         0,  0, 0, "--normalizer pnorm --pnorm 2", ""},
  {"sigmoid, p-norm 2",         0,  0, 1, "--sim sigmoid --normalizer pnorm --pnorm 2", "eq. 43"},
  {"K biases",                  0,  0, 1, "--extra k", "Table 4"},
  {"K biases of 2 dims",        0,  0, 1, "--extra k --extra-dims 2", "Table 13"},
  {"K biases, v* fixed",        0,  0, 0, "--extra k --extra-value e1", ""},
  {"K biases, sigmoid / sum",   0,  0, 1, "--extra k --sim sigmoid", "Table 4"},
  {"K biases, sigmoid, Z = 1",  0,  0, 0, SIGMOID_1 "--extra k", ""},
  {"KV biases",                 0,  0, 1, "--extra kv", "Table 4"},
  {"zero logit",                0,  0, 1, "--extra zero", "beyond"},
  {"learned logit",             0,  0, 1, "--extra logit", "beyond"},
  {"fixed logit",               0,  0, 1, "--extra logit --extra-logit -1", "beyond"},
  {"log n logit, sigmoid",      0,  0, 1, "--sim sigmoid --extra logn", "beyond"},
  {"softpick, K biases",        0,  0, 1, "--sim softpick --extra k", "beyond"},
  {"rectified, K biases",       0,  0, 1, "--sim rectified --extra k", "beyond"},
  {"relu, Z = 1",               0,  0, 1, "--sim relu --normalizer one", "beyond"},
  {"sigmoid over n, KV biases", 0,  0, 1, "--sim sigmoid --normalizer count --extra kv", "beyond"},
  {"clipped softmax",           0,  0, 0, "--clip-low -0.5 --clip-high 1.2", ""},
  {"sink token",                0,  0, 0, "--sink-token", ""},
  {"3 sink tokens",             0,  0, 0, "--sink-token 3", ""},
  {"another first token",       0,  0, 0, NULL, ""},
  /* data/later's */
  {"sandwich, DyT",             1,  0, 0, "--place sandwich --norm dyt", ""},
  {"scores before sim",         1,  0, 0, "--soft-cap 2 --score-scale logn --score-bias learned",
   ""},
  {"a gate a head, XSA",        1,  0, 0, "--gate head --xsa", "beyond"},
  {"a gate a dim, head norm",   1,  0, 0, "--gate element --head-norm", "beyond"},
  {"gated values, QK-norm",     1,  0, 0, "--gate value --qk-norm", "beyond"},
  {"a static gate, V-scale",    1,  0, 0, "--gate static --v-scale", "beyond"},
};
enum { N_STATE_ROWS = (int)(sizeof STATE_ROWS / sizeof *STATE_ROWS), BEYOND_ROWS = 6 };
_Static_assert(KERNEL_ROWS == 3 && SIM_ROWS == 7 && NORMALIZER_ROWS == 5 && EXTRA_ROWS == 6
               && GATE_ROWS == 5,
               "a new row: which states must agree? Add it to STATE_ROWS and to closed_row()");

static const Line STATES_OF[] = {
  {"states", "Equations 10 to 17: states of repeated tokens\nThey stay equal where the weights of "
   "every row have one sum, whatever else a block has.", "", NULL, 0, 0, 0}};

static void keys_from_queries(Model *m, double gain) {
  for (int l = 0; l < m->c.layers && gain != 0; l++)
    for (idx n = 0; n < (idx)m->c.dim * m->c.heads * m->c.head_dim; n++)
      m->w.layer[l].wk[n] = (real)(gain * (double)m->w.layer[l].wq[n]);
}

/* ----------
 * 7.3  [E10] Equation 16 itself */

/* y [out] = x [in] W, or LN(x) W where there is a gain: plain loops in double, not the model's. */
static void times(double *y, const double *x, const real *gain, const real *w, int in, int out) {
  double square = 0;
  for (int i = 0; i < in; i++) square += x[i] * x[i];
  double root = sqrt(square / in + 1e-5);   /* 1e-5: the default norm_eps */
  for (int o = 0; o < out; o++) {
    y[o] = 0;
    for (int i = 0; i < in; i++)
      y[o] += (gain ? x[i] / root * (double)gain[i] : x[i]) * (double)w[i * out + o];
  }
}

/* Equation 16 (and section 3.1's h_1): what a block makes of a token that sees but its own value.
 *   u = x + Concat_h(LN(x) W_V^h) W_O      x <- u + FFN(LN(u))         W_Q and W_K do not occur
 * How far h_1^l, .., h_x^l lie from that, chained from the embedding of the first token. */
static double equation16(Toy *y) {
  const Config *c = &y->m.c; int C = c->dim, Q = c->heads * c->head_dim, F = c->ffn;
  double x[WIDEST], v[WIDEST], o[WIDEST], f1[WIDEST], f2[WIDEST], worst = 0;
  real closed[WIDEST];
  for (int i = 0; i < C; i++) x[i] = y->m.w.wte[y->ids[0] * C + i];
  for (int l = 0; l < c->layers; l++) {
    const Layer *w = &y->m.w.layer[l];
    times(v, x, w->norm1.g, w->wv, C, Q);
    times(o, v, NULL, w->wo, Q, C);
    for (int i = 0; i < C; i++) x[i] += o[i];
    times(f1, x, w->norm2.g, w->w1, C, F);
    times(f2, x, w->norm2.g, w->w2, C, F);
    for (int i = 0; i < F; i++) f1[i] = f1[i] / (1 + exp(-f1[i])) * f2[i];
    times(o, f1, NULL, w->w3, F, C);
    for (int i = 0; i < C; i++) closed[i] = (real)(x[i] += o[i]);
    worst = larger(worst, toy_off(y, l + 1, 1, (int)y->x, closed));
  }
  return worst;
}

static const Line EQ16[] = {
  {"rules", "Equation 16 itself\nEach state is what the token's own value and the ffn make of it; "
   "no other token comes in.", "", NULL, 0, 0, 0},
  {"eq. 16", "h_t^l by the equation itself, 5 schemes", "*", equation16, 12, AT_MOST, STATES}};

/* ----------
 * 7.4  Section 3.1: the first token's states are a function of x_1 alone
 *
 * A_11 = e^z / e^z = 1 to the bit, as z - max = 0 and e^0 = 1. Over another sum: s/(s + 1e-8). */
enum { BY_TOKENS, BY_SCORES, STAR_BY_TOKENS };

/* How many numbers of h_1^0 .. h_1^L move with later tokens, or W_Q and W_K; or x*'s with all. */
static double h1_moved(Toy *y) {
  int C = y->m.c.dim, L = y->m.c.layers, token = y->x == STAR_BY_TOKENS ? 0 : 1;
  real before[4][WIDEST];   /* of three blocks */
  double count = 0;
  for (int l = 0; l <= L; l++) copy(before[l], toy_state(y, l, token), C);
  for (int t = token; t < y->T && y->x != BY_SCORES; t++) y->ids[t] = (y->ids[t] + 1) % TOY_VOCAB;
  for (int l = 0; l < L && y->x == BY_SCORES; l++) {
    y->m.w.layer[l].wq[0] += 1;
    y->m.w.layer[l].wk[0] += 1;
  }
  toy_forward(y);
  for (int l = 0; l <= L; l++) count += differing(C, before[l], toy_state(y, l, token));
  return count;
}

/* 100 (1 - A_11) at the score x. */
static double share_of_eps(Toy *y) {
  real z[2] = {-INFINITY, (real)y->x}, spare[2];
  row_forward(&y->m.c, 2, 1, z, spare);
  return 100 * (1 - (double)z[1]);
}

static const Line FIRST[] = {
  {"first", "Section 3.1: the first token sees only itself\nIts row of a causal softmax has one "
   "entry, 1: later tokens, W_Q and W_K cannot move it.", "--context 9", NULL, 1, 0, 0},
  {"sec. 3.1", "h_1 moved by later tokens: softmax", "*", h1_moved, BY_TOKENS, AT_MOST, 0},
  {"sec. 3.1", "  post-norm", "--place post", h1_moved, BY_TOKENS, AT_MOST, 0},
  {"sec. 3.1", "  sigmoid, Z = 1", SIGMOID_1, h1_moved, BY_TOKENS, AT_MOST, 0},
  {"sec. 3.1", "  K biases", "--extra k", h1_moved, BY_TOKENS, AT_MOST, 0},
  {"sec. 3.1", "  a prefix of 3", "--prefix 3", h1_moved, BY_TOKENS, FAILS_BY, 1},
  {"sec. 3.1", "h_1 moved by W_Q, W_K: softmax", "*", h1_moved, BY_SCORES, AT_MOST, 0},
  {"sec. 3.1", "  post-norm", "--place post", h1_moved, BY_SCORES, AT_MOST, 0},
  {"sec. 3.1", "  sigmoid, Z = 1", SIGMOID_1, h1_moved, BY_SCORES, FAILS_BY, 1},
  {"sec. 3.1", "  K biases", "--extra k", h1_moved, BY_SCORES, FAILS_BY, 1},
  {"sec. 3.1", "h_1 = FFN(LN(o+h))+o+h, o = LN(h) W_V W_O", "*", equation16, 1, AT_MOST, STATES},
  {"Table 4", "x* moved by the tokens", "--sink-token", h1_moved, STAR_BY_TOKENS, AT_MOST, 0},
  {"Table 15, 3", "sigmoid / sum, z = -11.6: 1 - A_11 in percent",
   "--sim sigmoid", share_of_eps, -11.6, EQUALS, 0.1089799}};

/* ----------
 * 7.5  [P1] Proposition 1, no positions: A_ti = 1/t
 *
 * So alpha_k = (H_T - H_(k-1))/(T-k+1), with H_n = 1 + 1/2 + .. + 1/n: no sink at eps = 0.3 from
 * T = 10 on. A window has A_ti = 1/min(t,w), a prefix 1/max(t,p); alpha_1: sink_uniform. */

static double harmonic(int n) { return n < 1 ? 0 : 1.0 / n + harmonic(n - 1); }

/* Equation 7's m; and b_h(n), what the scheme adds to a score at the distance n. */
static double alibi_slope(const Toy *y, int h) { return pow(2, -8.0 * (h + 1) / y->m.c.heads); }
static double closed_bias(const Toy *y, int h, int n) {
  int pos = y->m.c.pos;
  return pos == POS_RELATIVE ? position_bucket(n) : pos == POS_ALIBI ? -n * alibi_slope(y, h)
       : pos == POS_T5 ? (double)y->m.w.rel[position_bucket(n) * y->m.c.heads + h] : 0;
}

/* The relative error of equation 18, 20 or 22: in a row; in the first x blocks, 0: in all. */
static double row_proposition(const Toy *y, int l, int h, int t) {
  const real *A = toy_row(y, MAP_METRIC, l, h, t);
  int w = y->m.c.window, p = y->m.c.prefix, pos = y->m.c.pos;
  double worst = 0, m = alibi_slope(y, h), sum = 0, seen = fmax(p, w ? fmin(t, w) : t);
  for (int n = 0; n < t; n++) sum += exp(closed_bias(y, h, n));
  for (int i = 1; i <= y->T; i++) {
    if (!visible(&y->m.c, l, t - 1, i - 1)) continue;
    double closed = pos == POS_NONE ? 1 / seen
                  : pos == POS_ALIBI ? exp(-m * (t - i)) * (1 - exp(-m)) / (1 - exp(-m * t))
                  : exp(closed_bias(y, h, t - i)) / sum;
    worst = larger(worst, fabs((double)A[i - 1] / closed - 1));
  }
  return worst;
}
static double proposition(Toy *y) { return worst_row(y, y->x, row_proposition); }

/* [M1] alpha_k of one head; rows as sink_alpha. */
static double toy_alpha(const Toy *y, int l, int h, int k, int rows) {
  const Config *c = &y->m.c;
  idx map = (idx)config_rows(c, y->T) * config_columns(c, y->T), j = config_column_first(c) + k - 1;
  return sink_alpha(c, y->T, rows, y->a.probe[l].metric + h * map, j);
}

/* The least favourable alpha_k over all blocks, of head 1, 2, .. or, for 0, of all heads. */
static double worst_alpha(const Toy *y, int head, int k, int rows) {
  int from = head ? head - 1 : 0, to = head ? head : y->m.c.heads;
  double worst = NAN;
  for (int l = 0, found = 0; l < y->m.c.layers; l++)
    for (int h = from; h < to && config_attends(&y->m.c, l); h++)
      worst = worse(y->line, found++, worst, toy_alpha(y, l, h, k, rows));
  return worst;
}

/* alpha_1; alpha_x; alpha_x over all rows, as the authors' code takes it. */
static double alpha_1(Toy *y) { return worst_alpha(y, 0, 1, METRIC_REAL); }
static double alpha_x(Toy *y) { return worst_alpha(y, 0, (int)y->x, METRIC_REAL); }
static double alpha_all(Toy *y) { return worst_alpha(y, 0, (int)y->x, METRIC_PLUS1); }

static double head_harmonic(const Toy *y, int l, int h, int k) {
  double closed = (harmonic(y->T) - harmonic(k - 1)) / (y->T - k + 1);
  return fabs(toy_alpha(y, l, h, k, METRIC_REAL) / closed - 1);
}
static double harmonic_off(Toy *y) { return worst_row(y, 0, head_harmonic); }

/* [M2] Sink_1 at eps of one sequence: the share of heads whose alpha_1 is above. */
static double sink_at(const Toy *y, double eps) {
  int over = 0, H = y->m.c.heads, heads = y->m.c.layers * H;
  for (int i = 0; i < heads; i++) over += toy_alpha(y, i / H, i % H, 1, METRIC_REAL) > eps;
  return (double)over / heads;
}
static double sink_1(Toy *y) { return sink_at(y, y->x); }

static const Line PROP1[] = {
  {"prop1", "Proposition 1: no positions\nEqual states give equal scores, and t equal scores the "
   "weight 1/t each: no sink.", "--context 64 --pos none", NULL, 0, 0, 0},
  {"eq. 18", "A_ti = 1/t: every block, head, row and key", "", proposition, 0, AT_MOST, SCORES},
  {"prop. 1", "alpha_k = (H_T - H_(k-1))/(T-k+1), all k", "", harmonic_off, 0, AT_MOST, SCORES},
  {"prop. 1", "alpha_1 = H_64/64", "", alpha_1, 0, EQUALS, 0.07412329537},
  {"prop. 1", "no sink: Sink_1 at eps = 0.3, T = 10", "--context 10", sink_1, 0.3, AT_MOST, 0},
  {"prop. 1", "  T = 9: uniform rows pass for sinks", "--context 9", sink_1, 0.3, FAILS_BY, 1},
  {"Figure 6", "window of 8: A_ti = 1/min(t,w)", "--window 8", proposition, 0, AT_MOST, SCORES},
  {"Figure 6", "  alpha_1 = H_8/64", "--window 8", alpha_1, 0, EQUALS, 0.042466518},
  {"Figure 6", "  window of 16", "--window 16", alpha_1, 0, EQUALS, 0.052823891},
  {"Figure 6", "  window of 32", "--window 32", alpha_1, 0, EQUALS, 0.063413987},
  {"Figure 5", "prefix of 5: A_ti = 1/max(t,p)", "--prefix 5", proposition, 0, AT_MOST, SCORES},
  {"Figure 5", "  alpha_1 = (1 + H_64 - H_5)/64", "--prefix 5", alpha_1, 0, EQUALS, 0.054071212},
  {"Figure 5", "  prefix of 2", "--prefix 2", alpha_1, 0, EQUALS, 0.066310795},
  {"Figure 5", "  prefix of 3", "--prefix 3", alpha_1, 0, EQUALS, 0.061102462},
  {"Figure 5", "  prefix of 4", "--prefix 4", alpha_1, 0, EQUALS, 0.057196212},
  {"Figure 5", "  prefix of 10", "--prefix 10", alpha_1, 0, EQUALS, 0.043983166},
  {"Figure 5", "  of 5: alpha_5 over i >= 5", "--prefix 5", alpha_x, 5, EQUALS, 0.044342626},
  {"Figure 5", "    over all rows, as they do", "--prefix 5", alpha_all, 5, EQUALS, 0.05767596},
  {"Table 6", "sigmoid, block 1: 1/t", SIGMOID_1, proposition, 1, AT_MOST, SCORES + EPS_IN_Z},
  {"Table 6", "  and in the blocks after it", SIGMOID_1, proposition, 0, FAILS_BY, APART}};

/* ----------
 * 7.6  [P2] [E6] Proposition 2, relative positions: A_ti = e^g(t-i) / sum_(n<t) e^g(n), equation 20
 *
 * The proof calls g "a monotonic non-increasing function". Equation 6 and the authors' code both
 * let it grow, so that the first token has the largest score of every row; those from the distance
 * 113 on (128 as printed) tie with it, at T = 64 none. What does hold:
 *
 *   g non-increasing               A_t1 is the least of its row: A_t1 <= 1/t, so alpha_1 <= H_T/T
 *   g constant from d on, T > d    A_t1 <= 1/(t-d) for t > d, so alpha_1 <= (d + H_(T-d))/T
 *
 * T5 itself learns b_h(bucket), and no order comes with that. Its last bucket starts at d = 113. */

/* The largest t A_t1, t > 1; alpha_1 over the bound (d + H_(T-d))/T, d = 113. */
static double row_first_share(const Toy *y, int l, int h, int t) {
  return t > 1 ? t * (double)toy_row(y, MAP_WEIGHT, l, h, t)[0] : 0;
}
static double first_share(Toy *y) { return worst_row(y, 0, row_first_share); }
static double alpha_over_bound(Toy *y) {
  return alpha_1(y) / ((113 + harmonic(y->T - 113)) / y->T);
}

/* How many distances have another bucket than the borders say; bucket(x) - bucket(0). */
static double bucket_errors(Toy *y) {
  static const int borders[] = {16, 19, 21, 24, 27, 31, 35, 40, 46, 52, 59, 67, 77, 87, 99, 113};
  int wrong = 0;
  for (int n = 0; n < (int)y->x; n++) {
    int bucket = n < 16 ? n : 15;
    for (int b = 0; b < 16; b++) bucket += n >= borders[b];
    wrong += position_bucket(n) != bucket;
  }
  return wrong;
}
static double bucket_growth(Toy *y) { return position_bucket((idx)y->x) - position_bucket(0); }

#define T5_512 "--pos t5 --layers 1 --context 512"
static const Line PROP2[] = {
  {"prop2", "Proposition 2: relative positions\nq k^T cancels, and the weights depend on the bias "
   "g(t-i) alone.", "--context 64 --pos relative", NULL, 0, 0, 0},
  {"eq. 6", "wrong buckets; 16 .. begin at 16, 19 .. 113", "", bucket_errors, 400, AT_MOST, 0},
  {"eq. 20", "A_ti = e^g(t-i) / sum e^g(n), every block", "", proposition, 0, AT_MOST, SCORES},
  {"prop. 2", "printed: g is non-increasing; g(63) - g(0)\nprinted: g never grows with the "
   "distance; so: equation 6's bucket grows, by 26", "", bucket_growth, 63, REFUTES, 0},
  {"prop. 2", "printed: no sink; alpha_1 of every head, T = 64\nprinted: no sink on repeated "
   "tokens; so: alpha_1 = 0.334 in every head", "", alpha_1, 0, REFUTES, 0.3},
  {"prop. 2", "printed: no sink; Sink_1 at eps = 0.3, T = 64\nprinted: hence Sink_1 = 0; so: "
   "Sink_1 = 100 %, whatever the weights", "", sink_1, 0.3, REFUTES, 0},
  {"eq. 20", "alpha_1 of their bucket: T = 16", "--context 16", alpha_1, 0, EQUALS, 0.664526988},
  {"eq. 20", "  T = 32", "--context 32", alpha_1, 0, EQUALS, 0.497329505},
  {"eq. 20", "  T = 64", "", alpha_1, 0, EQUALS, 0.33395803945},
  {"eq. 20", "  T = 128", "--context 128", alpha_1, 0, EQUALS, 0.211015881},
  {"eq. 20", "  T = 256", "--layers 1 --context 256", alpha_1, 0, EQUALS, 0.112853332},
  {"eq. 20", "  T = 512", "--layers 1 --context 512", alpha_1, 0, EQUALS, 0.058362967},
  {"eq. 6", "as printed: T = 32", "--pos t5 --context 32", alpha_1, 1, EQUALS, 0.417504318},
  {"eq. 6", "  T = 64", "--pos t5", alpha_1, 1, EQUALS, 0.22524188643},
  {"prop. 2", "g = -bucket: largest t A_t1, t > 1", "--pos t5", first_share, -1, AT_MOST, 1},
  {"prop. 2", "  no sink: alpha_1", "--pos t5", alpha_1, -1, EQUALS, 0.022022456},
  {"beyond", "T5's table rising by 40: alpha_1, T = 64", "--pos t5", alpha_1, 40, FAILS_BY, 0.3},
  {"beyond", "  over (d + H_(T-d))/T, d=113, T=512", T5_512, alpha_over_bound, 40, AT_MOST, 1},
  {"beyond", "  likewise T5's table at random", T5_512, alpha_over_bound, 0, AT_MOST, 1},
  {"eq. 20", "  A_ti = e^g(t-i) / sum e^g(n)", "--pos t5", proposition, 0, AT_MOST, SCORES}};

/* ----------
 * 7.7  [P3] [E7] Proposition 3, ALiBi: A_ti = e^(-m(t-i)) (1 - e^-m)/(1 - e^-mt), equation 22
 *
 * m is equation 7's slope. So alpha_1 < H_T/T; but the last columns of a steep head pass 0.3. */

/* Minus the least A_t,i+1 / A_ti over its closed form e^m, which is above 1. */
static double row_growth(const Toy *y, int l, int h, int t) {
  const real *A = toy_row(y, MAP_WEIGHT, l, h, t);
  double worst = -INFINITY;
  for (int i = 1; i < t; i++)
    worst = larger(worst, -(double)A[i] / (double)A[i - 1] / exp(alibi_slope(y, h)));
  return worst;
}
static double alibi_growth(Toy *y) { return -worst_row(y, 0, row_growth); }

/* alpha_1 of head x; alpha_-x of head 1. */
static double head_alpha(Toy *y) {
  int x = (int)y->x;
  return worst_alpha(y, x > 0 ? x : 1, x > 0 ? 1 : -x, METRIC_REAL);
}

static const Line PROP3[] = {
  {"prop3", "Proposition 3: ALiBi\nA row is a geometric series that grows with i: the first token "
   "has the least weight.", "--context 64 --pos alibi --heads 8 --head-dim 2", NULL, 0, 0, 0},
  {"eq. 22", "A_ti in closed form: all blocks, heads, rows", "", proposition, 0, AT_MOST, SCORES},
  {"prop. 3", "A_ti grows: least A_t,i+1/A_ti / e^m", "", alibi_growth, 0, AT_LEAST, 1 - SCORES},
  {"prop. 3", "A_t1 < 1/t: largest t A_t1, t > 1", "", first_share, 0, AT_MOST, 1},
  {"prop. 3", "no sink, T = 64: alpha_1 for m = 1/2", "", head_alpha, 1, EQUALS, 0.028252339},
  {"prop. 3", "  head 2, m = 1/4", "", head_alpha, 2, EQUALS, 0.035957189},
  {"prop. 3", "  head 3, m = 1/8", "", head_alpha, 3, EQUALS, 0.044729287},
  {"prop. 3", "  head 4, m = 1/16", "", head_alpha, 4, EQUALS, 0.053973698},
  {"prop. 3", "  head 5, m = 1/32", "", head_alpha, 5, EQUALS, 0.062023042},
  {"prop. 3", "  head 6, m = 1/64", "", head_alpha, 6, EQUALS, 0.067492413},
  {"prop. 3", "  head 7, m = 1/128", "", head_alpha, 7, EQUALS, 0.070657648},
  {"prop. 3", "  head 8, m = 1/256", "", head_alpha, 8, EQUALS, 0.072352696},
  {"eq. 22", "alpha_64 of head 1: (1-e^-m)/(1-e^-64m)", "", head_alpha, -64, EQUALS, 0.39346934},
  {"prop. 3", "  \"no sink\" does not cover the last token", "", head_alpha, -64, FAILS_BY, 0.3},
  {"prop. 3", "  nor the one before it: alpha_63", "", head_alpha, -63, FAILS_BY, 0.3}};

/* ----------
 * 7.8  [P4] [E8] Proposition 4, rotary: A_ti <= e^(2 xi) / (e^(2 xi) + t - 1), equation 28
 *
 * The appendix drops sqrt(d_h) from equation 18 on; with it the bound holds. At T = 64 it keeps
 * alpha_1 <= 0.3 only up to xi = 1.0946; beyond, a sink is possible. Let one pair of frequency w
 * carry q = (a, 0), k = (-a, 0):
 *
 *   z(n) = -xi cos(w n)      largest at the far end as long as w n < pi
 *
 * With w = 0.05, or pair 15 from 0 of the paper's d_h = 96 (w = 0.0562), alpha_1 passes 0.3 at xi
 * near 10. States of repeated tokens do not depend on W_Q and W_K (7.3): one forward gives every
 * LN(h), at which W_Q is aimed: a LN(h)^T/|LN(h)|^2 in the pair's column, else 0; W_K is -W_Q. */
#define ONE_PAIR "--heads 1 --head-dim 2 --context 3"
#define SLOW_PAIR "--heads 1 --head-dim 2 --rope-scaling linear --rope-factor 20"
#define SLOW_512 SLOW_PAIR " --context 512"
#define OWN_PAIR "--heads 1 --head-dim 96"

/* Equation 28's bound on a weight in a row of t keys, divided through: no xi overflows. */
static double equation28(double xi, int t) { return 1 / (1 + (t - 1) * exp(-2 * xi)); }

/* alpha_1 of z(n) = -xi cos(w n); for w = 0 the mean over t of equation 28's bound. */
static double alpha_rotary(double xi, double w, int T) {
  double sum = 0, closed = 0;
  for (int t = 1; t <= T; t++) {
    double e = exp(-xi * cos(w * (t - 1)));
    sum += e;
    closed += (w == 0 ? equation28(xi, t) : e / sum) / T;
  }
  return closed;
}

/* The xi at which that passes 0.3; for the w of 7.8 it grows with xi. */
static double xi_at_threshold(double w, int T) {
  double xi = 0, step = 20;
  for (int n = 0; n < 60; n++, step /= 2)
    if (alpha_rotary(xi + step, w, T) <= 0.3) xi += step;
  return xi;
}

/* Equations 25 to 28 in row t; q and k as the model left them, rotated. x picks one of: the score
 * off <q,k>/sqrt(D) + b, relative to 1 + |q||k|/sqrt(D); A_ti over the bound, t being the keys that
 * the row sees; A_t1 off equation 27; equation 25's error; xi. */
enum { SCORE_OFF, OVER_BOUND, EQ27_OFF, EQ25_OFF, XI, ROTARY_MEASURES };
static double row_rotary(const Toy *y, int l, int h, int t) {
  const Config *c = &y->m.c;
  idx D = c->head_dim, H = c->heads, K = c->kv_heads, first = c->sink_token;
  const real *q = y->a.layer[l].q + ((first + t - 1) * H + h) * D;
  const real *k = y->a.layer[l].k + (first * K + h / (H / K)) * D, *k_i = k;
  const real *A = toy_row(y, MAP_METRIC, l, h, t), *z = toy_row(y, MAP_Z, l, h, t);
  double root = sqrt(score_divisor(c, l)), norm = length(D, q);
  if (c->score_by_layer) root *= l + 1;
  double size = norm * length(D, k), sum = 0, most = 0, worst[ROTARY_MEASURES] = {0};
  int seen = 0;
  worst[XI] = size / root;
  for (int i = 0; i < t; i++, k_i += K * D) {
    if (!visible(c, l, first + t - 1, first + i)) continue;
    double dot = vec_dot(D, q, k_i), size_i = norm * length(D, k_i);
    double error = fabs((double)z[i] - (dot / root + closed_bias(y, h, t - 1 - i)));
    worst[SCORE_OFF] = larger(worst[SCORE_OFF], error / (1 + size_i / root));
    worst[EQ25_OFF] = larger(worst[EQ25_OFF], fabs(size * cos(dot / size) - dot));
    sum += exp(dot);
    most = larger(most, A[i]);
    seen++;
  }
  if (seen > 1) worst[OVER_BOUND] = most / equation28(worst[XI], seen);
  worst[EQ27_OFF] = fabs(exp((double)vec_dot(D, q, k)) / sum - (double)A[0]);
  return worst[(int)y->x];
}
static double rotary(Toy *y) { return worst_row(y, 0, row_rotary); }

/* The xi up to which equation 28 says alpha_1 <= 0.3 for T = x; that at which pair 15 passes it. */
static double xi_of_bound(Toy *y) { return xi_at_threshold(0, (int)y->x); }
static double xi_of_pair(Toy *y) { return xi_at_threshold(rope_frequency(&y->m.c, 15), y->T); }

/* Of a model aimed at xi = x: alpha_1; it over the mean bound; the largest A_ti over its bound. */
static double aimed(Toy *y) {
  idx C = y->m.c.dim, D = y->m.c.head_dim, pair = D == 96 ? 15 : 0;
  for (int l = 0; l < y->m.c.layers; l++) {
    const Layer *w = &y->m.w.layer[l];
    const real *n = y->a.layer[l].n1;   /* row 1; all rows are equal */
    double a = sqrt(y->x * sqrt((double)D)), square = (double)vec_dot(C, n, n);
    for (idx at = 0; at < C * D; at++) {
      w->wq[at] = at % D == pair ? (real)(a * (double)n[at / D] / square) : 0;
      w->wk[at] = -w->wq[at];
    }
  }
  toy_forward(y);
  return alpha_1(y);
}
static double aimed_over_bound(Toy *y) { return aimed(y) / alpha_rotary(y->x, 0, y->T); }
static double aimed_over_own(Toy *y) {
  aimed(y);
  y->x = OVER_BOUND;
  return rotary(y);
}

static const Line PROP4[] = {
  {"prop4", "Proposition 4: rotary\nAll scores of repeated tokens lie within xi = |q||k|/sqrt(d_h) "
   "of 0, which bounds every weight.", "--context 64 --pos rotary", NULL, 0, 0, 0},
  {"eq. 4", "the model's score is <q, k>/sqrt(d_h)", "", rotary, SCORE_OFF, AT_MOST, SCORES},
  {"eq. 28", "xi = |q||k|/sqrt(d_h): A_ti / bound", "", rotary, OVER_BOUND, AT_MOST, 1 + SCORES},
  {"eq. 28", "  -cos n, T = 3: A_31 / bound", ONE_PAIR, aimed_over_own, 1, EQUALS, 0.781036907},
  {"eq. 27", "printed: without the root; error of A_t1\nprinted: scores without sqrt(d_h); so: "
   "the model of equation 4 divides by it", "", rotary, EQ27_OFF, REFUTES, APART},
  {"eq. 25", "printed: <q,k> = |q||k|cos(<q,k>/|q||k|)\nprinted: the cosine of a cosine; so: "
   "<q,k> = |q||k|cos(their angle)", "", rotary, EQ25_OFF, REFUTES, APART},
  {"eq. 28", "says alpha_1 <= 0.3 up to xi, T = 64", "", xi_of_bound, 64, EQUALS, 1.0946297},
  {"eq. 28", "  T = 256", "", xi_of_bound, 256, EQUALS, 1.8031765},
  {"eq. 28", "  T = 1024", "", xi_of_bound, 1024, EQUALS, 2.5000552},
  {"eq. 28", "  T = 2048", "", xi_of_bound, 2048, EQUALS, 2.8472463},
  {"prop. 4", "alpha_1 / bound, xi = 2, T = 512", SLOW_512, aimed_over_bound, 2, AT_MOST, 1},
  {"prop. 4", "z(n) = -10 cos(0.05 n), T = 64: a sink", SLOW_PAIR, aimed, 10, FAILS_BY, 0.3},
  {"beyond", "  its closed form: xi = 10", SLOW_PAIR, aimed, 10, EQUALS, 0.302390121},
  {"beyond", "  xi = 20", SLOW_PAIR, aimed, 20, EQUALS, 0.475012217},
  {"beyond", "  xi = 40", SLOW_PAIR, aimed, 40, EQUALS, 0.680592587},
  {"beyond", "d_h = 96, pair 15: alpha_1 = 0.3, xi", OWN_PAIR, xi_of_pair, 0, EQUALS, 9.8636229},
  {"prop. 4", "  alpha_1 of the model at xi = 9.8", OWN_PAIR, aimed, 9.8, AT_MOST, 0.3},
  {"prop. 4", "  at xi = 9.9: a sink", OWN_PAIR, aimed, 9.9, FAILS_BY, 0.3},
  {"beyond", "  its closed form", OWN_PAIR, aimed, 9.9, EQUALS, 0.30072049}};

/* ----------
 * 7.9  [E43] [E44] The p-norm
 *
 * exp(z_j) / (sum exp(z)^p)^(1/p) = softmax(p z)_j^(1/p): a temperature 1/p, then a root that gives
 * a row softmax's proportions back, e^(z_i - z_j). It sums to between 1 and t^(1-1/p) (equal z). */

/* 8 random scores: how far the weights are off equation 44. */
static double pnorm_row(Toy *y) {
  enum { N = 9 };
  Config soft = y->m.c; Rng rng = {5}; real z[N] = {-INFINITY}, pz[N] = {-INFINITY}, spare[N];
  double p = soft.pnorm, worst = 0;
  soft.normalizer = NORMALIZER_SUM;
  for (int j = 1; j < N; j++) pz[j] = (real)p * (z[j] = (real)(2 * rng_normal(&rng)));
  row_forward(&y->m.c, N, N - 1, z, spare);
  row_forward(&soft, N, N - 1, pz, spare);
  for (int j = 1; j < N; j++)
    worst = larger(worst, fabs(z[j] / pow(pz[j], 1 / p) - 1));
  return worst;
}

/* The last row's sum in block 1, off t^(1-1/p) by a share. */
static double pnorm_sum(Toy *y) {
  double sum = vec_sum(y->T, toy_row(y, MAP_WEIGHT, 0, 0, y->T));
  return fabs(sum / pow(y->T, 1 - 1 / y->m.c.pnorm) - 1);
}

static const Line PNORMS[] = {
  {"pnorm", "Equations 43 and 44: the p-norm\np changes a row's sum, not its proportions: below 1 "
   "it shrinks, above 1 it grows.", "--context 64 --pos none --normalizer pnorm", NULL, 0, 0, 0},
  {"eq. 44", "softmax(p z)^(1/p): p = 1/4", "--pnorm 0.25", pnorm_row, 0, AT_MOST, SCORES},
  {"eq. 44", "  p = 1/2", "--pnorm 0.5", pnorm_row, 0, AT_MOST, SCORES},
  {"eq. 44", "  p = 2", "--pnorm 2", pnorm_row, 0, AT_MOST, SCORES},
  {"eq. 44", "  p = 4", "--pnorm 4", pnorm_row, 0, AT_MOST, SCORES},
  {"beyond", "64 equal scores: 1/64 at p = 1/2", "--pnorm 0.5", pnorm_sum, 0, AT_MOST, SCORES},
  {"beyond", "  8 at p = 2", "--pnorm 2", pnorm_sum, 0, AT_MOST, SCORES},
  {"beyond", "  22.6 at p = 4", "--pnorm 4", pnorm_sum, 0, AT_MOST, SCORES}};

/* ----------
 * 7.10  Section 3.2: [M1] [M2] the metric
 *
 * 1/T <= alpha_1 needs softmax without an extra column (chapter 6), and m without the scale. */
static double alpha_1_times_T(Toy *y) { return y->T * alpha_1(y); }
/* T alpha_1; learned logits of block 1 are 20 here, its mlp kernel is 0. */
static double alpha_range(Toy *y) {
  const Layer *w = &y->m.w.layer[0];
  for (int h = 0; h < y->m.c.heads && w->logit; h++) w->logit[h] = 20;
  if (w->phi1) zero(w->phi1, (idx)y->m.c.head_dim * y->m.c.head_dim);
  toy_forward(y);
  return alpha_1_times_T(y);
}

static double row_sum_off(const Toy *y, int l, int h, int t) {
  return fabs(vec_sum(y->T, toy_row(y, MAP_WEIGHT, l, h, t)) - y->m.c.scale);
}
static double sums_off(Toy *y) { return worst_row(y, 0, row_sum_off); }

/* Block 1's map m against the other toy's. */
static double metric_moved(Toy *y) {
  idx n = (idx)y->m.c.heads * y->T * y->T;
  return apart(n, y->a.probe[0].metric, y->other->a.probe[0].metric);
}

static double sink_by_eps(Toy *y) { return sink_at(y, 0) - sink_at(y, 1); }

static const Line METRIC[] = {
  {"metric", "Section 3.2: the metric\n1/T <= alpha_1 <= 1, since A_11 = 1; Sink_1 falls with eps; "
   "neither reads the scale.", "--context 16", NULL, 1, 0, 0},
  {"sec. 3.2", "alpha_1 >= 1/T, softmax: least T alpha_1", "*", alpha_range, 0, AT_LEAST, 1},
  {"sec. 3.2", "  with a learned logit of 20", "--extra logit", alpha_range, 0, FAILS_BELOW, 1},
  {"sec. 3.2", "  with an mlp kernel of 0", MLP_1, alpha_range, 0, FAILS_BELOW, 1},
  {"sec. 3.2", "alpha_1 <= 1: T alpha_1, T = 16", "*", alpha_range, 0, AT_MOST, 16 + STATES},
  {"sec. 3.2", "Sink_1, eps from 0 to 1: falls by", "--pos relative", sink_by_eps, 0, AT_LEAST, 1},
  {"eq. 29", "softmax: row sums off 1", "*", sums_off, 0, AT_MOST, STATES},
  {"eq. 29", "scale 0.2: row sums off 0.2", "* --scale 0.2", sums_off, 0, AT_MOST, STATES},
  {"eq. 29", "  the metric off scale 1's", "--scale 0.2 |", metric_moved, 0, AT_MOST, STATES}};

/* ==========
 * PART II   THE DATA */

/* ==========
 * 8  Tokenizer   section 2
 *
 * A model reads numbers, ids. Byte pair encoding (BPE) makes them of a text:
 * the text is cut into pieces, and every byte of a piece becomes an id. Then
 * neighbours are merged. There is a list of pairs of ids, each with the id
 * that it becomes; of the pairs in a piece the one that stands first in the
 * list is taken, and again, until no pair in the piece is in the list. The
 * list is learnt from a text (data/text/vocabulary.c): its pairs were the most
 * frequent ones, so a common word ends as one id.
 *
 * A piece is the longest of
 *     [ ] letters   one space or none, then bytes A-Z, a-z, and from 0x80 up
 *                   (so all of UTF-8 beyond ASCII)
 *     [ ] digits    one space or none, then one to three bytes 0-9
 *     [ ] others    one space or none, then bytes that are no letter, digit or
 *                   white space
 *     white         space, \t \n \v \f \r; if its last byte is a space and a
 *                   piece of another kind follows, that space is the follower's
 * and has at most PIECE_MAX bytes, as a token has. "It's 1,024  km" is cut
 * It|'|s| 1|,|024| | km.
 *
 * Ids 0 to 2 never come out of text, not even of text that spells their names:
 * chapter 9 writes them between documents.
 *
 * THE FILE, tokenizer.bin. Numbers are little-endian and unsigned; M is how
 * many merges there are.
 *     offset      bytes
 *     0           8       the letters SINKTOK1
 *     8           4       version, 1
 *     12          4       vocabulary size, 259 + M, at most 262144
 *     16          4       M
 *     20          8 M     in the list's order: left id, right id, 4 bytes each,
 *                         of tokens before it, from 3 on; no pair twice; no
 *                         token longer than 128 bytes
 *     20 + 8 M    8       hash64(0, .) of all bytes before it: also the
 *                         tokenizer's hash
 * A file of version 2 has a published model's tokenizer, which ./hf reads.
 */

enum {
  TOKEN_END = 0,       /* <|endoftext|>  stands after each document */
  TOKEN_BOS = 1,       /* <|bos|>        begins a document, with --bos */
  TOKEN_FIX = 2,       /* <|fix|>        an intervention writes it (9.3) */
  TOKEN_BYTE = 3,      /* 3 .. 258: the byte id - 3 */
  TOKEN_MERGE = 259,   /* 259 ..: what merge id - 259 makes */
  PIECE_MAX = 128, TOKENIZER_VOCAB_MAX = 1 << 18,
  TOKENIZER_OWN = 1, TOKENIZER_PUBLISHED = 2,
  TOKENIZER_HEAD = 20, TOKENIZER_TAIL = 8
};
#define TOKENIZER_MAGIC "SINKTOK1"

/* ---- 8.1  Cutting text --- */

enum ByteKind { LETTER, DIGIT, WHITE, OTHER };

/* By the rule of pieces; not ctype.h's, which depends on the locale. */
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

static const char HINT[] = "Try: sink help tokenize";

static int token_add(Tokenizer *t, const void *spelling, size_t n, Error *e) {
  if (bytes_add(&t->pool, spelling, n, e))
    return e->status;
  t->token[++t->vocab].start = (uint32_t)t->pool.size;
  return 0;
}

/* What every vocabulary has: three ids that are no text's, and the bytes. */
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

/* Where the id stands that a pair becomes. A pair that is no merge has a 0
 * there, which no merge makes. */
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

/* Adds the next merge and its token. Were tokens of any length, each could
 * have twice the bytes of the one before. */
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
    return fail(e, 1, "%s: expected merge %d of ids 3 to %d, new, of at most "
                "%d bytes, found %u and %u. %s", name, t->vocab - TOKEN_MERGE,
                t->vocab - 1, PIECE_MAX, (unsigned)left, (unsigned)right, HINT);
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

static int tokenizer_sealed(const unsigned char *bytes, size_t n, size_t size,
                            const char *name, Error *e) {
  size_t body = n - TOKENIZER_TAIL;
  if (n == size && number_at(bytes + body, 8) == hash64(0, bytes, body))
    return 0;
  return fail(e, 1, "%s: expected %zu bytes and their checksum, found %zu, "
              "damaged. %s", name, size, n, HINT);
}

/* After a failure t is empty. */
static int tokenizer_read(const unsigned char *bytes, size_t n,
                          const char *name, Tokenizer *t, Error *e) {
  *t = (Tokenizer){0};
  if (n < TOKENIZER_HEAD + TOKENIZER_TAIL || memcmp(bytes, TOKENIZER_MAGIC, 8))
    return fail(e, 1, "%s: expected a tokenizer, which begins with "
                TOKENIZER_MAGIC ", found another kind of file. %s", name, HINT);
  size_t vocab = (size_t)number_at(bytes + 12, 4);
  size_t merges = (size_t)number_at(bytes + 16, 4);
  if (number_at(bytes + 8, 4) != TOKENIZER_OWN || vocab > TOKENIZER_VOCAB_MAX
      || vocab != TOKEN_MERGE + merges)
    return fail(e, 1, "%s: expected sink's own tokenizer, of up to %d tokens, "
                "found another. Try: make hf, and ./hf", name,
                TOKENIZER_VOCAB_MAX);
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

static int tokenizer_load(const char *path, const Source *s, Tokenizer *out,
                          Error *e) {
  Bytes file = {0};
  *out = (Tokenizer){0};
  if (!file_read(path, &file, e)) {
    TokenizerReader *other = s->read_tokenizer;
    (other ? other : tokenizer_read)(file.at, file.size, path, out, e);
  }
  bytes_free(&file);
  return e->status;
}

/* ---- 8.3  Encoding and decoding --- */

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

static int tokenizer_decode(const Tokenizer *t, const int32_t *id, size_t n,
                            Bytes *out, Error *e) {
  for (size_t i = 0, length; i < n; i++) {
    if (id[i] < 0 || id[i] >= t->vocab)
      return fail(e, 1, "tokens: expected ids 0 to %d, found %d at place %zu. "
                  "Try: the tokenizer that made them", t->vocab - 1, id[i], i);
    const unsigned char *spelling = tokenizer_token(t, id[i], &length);
    bytes_add(out, spelling, length, e);
  }
  return e->status;
}

/* ==========
 * 9  Text, packing, interventions
 *
 * 9.1  Text   section 2
 *
 * A text is a row of documents: stories, chapters, articles, what stands by
 * itself. Between two of them stands <|endoftext|>, and white space before a
 * document does not count. --text names a file, standard input, or a folder,
 * whose files follow by name; a file's end ends a document. What is not UTF-8
 * is refused. Without --text sink reads the stories that come with it. */

enum { HELD_SEED = 0x5EED, FIRST_SEED = 0xF125 };

/* Appends a text and a separator. A byte order mark becomes white space. */
static int text_read(const char *path, Bytes *out, Error *e) {
  size_t before = out->size;
  if (file_read(path, out, e))
    return e->status;
  unsigned char *text = out->at + before;
  size_t n = out->size - before, good = utf8_length(text, n);
  if (good && memchr(text, 0, good))
    good = strlen((char *)text);
  if (good < n)
    return fail(e, 1, "%s: expected text in UTF-8, found 0x%02X behind %zu "
                "bytes. Try: iconv -t utf-8 -f latin1, or -f utf-16", path,
                text[good], good);
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
  return s->grammar[0] ? s->grammar : SHIPPED_TEXT;
}

/* A file of that name, or where there is none the one beside the program. */
static const char *located(char path[PATH_ROOM], const char *name,
                           const Source *s, Error *e) {
  if (!*s->home || !strcmp(name, "-") || !file_missing(name)
      || snprintf(path, PATH_ROOM, "%s%s", s->home, name) >= PATH_ROOM)
    return name;
  if (!file_missing(path))
    return path;
  fail(e, 1, "%s: it is neither here nor beside the program, in %s. Try: its "
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

/* All that --text names, and its documents, but for those of white space. */
static void source_read(const Source *s, Bytes *all, Bytes *documents,
                        Error *e) {
  Bytes names = {0};
  char room[PATH_ROOM];
  const char *name = s->text[0] ? s->text : located(room, SHIPPED_TEXT, s, e);
  files_list(name, &names, e);
  for (size_t at = 0; at < names.size; at += strlen(name) + 1) {
    name = (const char *)names.at + at;
    text_read(name, all, e);
  }
  for (size_t at = 0, end; at < all->size; at = end + strlen(DOCUMENT_END)) {
    end = at + document_length(all->at + at, all->size - at);
    while (at < end && isspace(all->at[at]))
      at++;
    if (at < end)
      bytes_add(documents, &(Document){at, end}, sizeof(Document), e);
  }
  bytes_free(&names);
}

/* ----------
 * 9.2  Packing   [S2] [FIG1] section 2
 *
 * A document becomes ids, followed by <|endoftext|> (after <|bos|> when asked).
 * All documents are joined and cut into blocks of T+1 tokens: T inputs, and the
 * same tokens one later as targets. A block may start inside a document, and
 * attention crosses documents, as in the paper. A training reads every block
 * once, which is a pass, then passes again, each time in a new random order.
 *
 * Some documents are held back, so that there is text to measure a loss on that
 * no training has seen: those whose number hashes below --valid, whatever the
 * seed. Where that leaves one side empty, the end of the last document is held
 * back instead, its share by length. An evaluation reads what was held back of
 * the model's own text, and all of another one, unless --valid is said. */

static uint64_t hash_number(uint64_t seed, uint64_t n) {
  return hash_numbers(seed, &n, 8, 8);
}

static bool document_held(double share, uint64_t number) {
  Rng draw = {hash_number(HELD_SEED, number)};
  return rng_uniform(&draw) < share;
}

/* Is it the model's own text, by hash or, if it has changed, by name? */
static bool data_own(const Data *d, const Source *s) {
  return s->own && (d->source == s->own || !strcmp(d->name, s->own_name));
}

static const char *data_whose(const Data *d, const Source *s) {
  if (d->source == s->own)
    return "";
  if (!s->own)
    return "; the model's own is not known";
  if (data_own(d, s))
    return "; changed since the training";
  return "; not the model's own, ";
}

/* Fills d->read: how much of the text is held, and in an evaluation, where T
 * is 0, whose text it is. */
static void data_describe(Data *d, const Source *s, double share, bool held,
                          int T) {
  const char *whose = T ? "" : data_whose(d, s);
  char much[32] = "all of it";
  if (share < 1)
    snprintf(much, sizeof much, "%g of it", share);
  snprintf(d->read, sizeof d->read, "%s%s%s",
           held ? "held-out documents" : much, whose,
           strchr(whose, ',') ? s->own_name : "");
}

/* Appends a document's tokens: --bos, its own, its end. */
static int data_encode(Data *d, const Source *s, const void *from, size_t n,
                       Ids *out, Error *e) {
  if (out == &d->held)
    id_add(&d->starts, (int32_t)out->size, e);
  if (s->bos)
    id_add(out, d->bos, e);
  if (s->tokens[0])
    ids_add(out, from, n / sizeof *out->at, e);
  else
    tokenizer_encode(&d->tokenizer, from, n, out, e);
  return id_add(out, d->end, e);
}

/* Where the last document is cut: of a text at white space. */
static size_t document_cut(const Bytes *all, Document last, double share,
                           size_t unit) {
  double n = (double)((last.to - last.from) / unit);
  size_t at = last.to - unit * (size_t)(n * share);
  while (unit == 1 && at < last.to && !isspace(all->at[at]))
    at++;
  return at;
}

/* Shares out the documents, of a text or of ids (data/text/shards.c). T 0: all
 * of another text than the model's own are held. */
static int data_share(Data *d, const Source *s, int T, const Bytes *all,
                      const Bytes *documents, Error *e) {
  const Document *of = (const Document *)(const void *)documents->at;
  size_t unit = s->tokens[0] ? sizeof *d->held.at : 1;
  size_t n = documents->size / sizeof *of, held = 0;
  double share = s->whole && !data_own(d, s) ? 0 : s->valid;
  if (!T && share == 0)
    share = 1;
  if (!n)
    fail(e, 1, "%s: expected documents, found none. Try: another file",
         d->name);
  for (size_t i = 0; i < n; i++)
    held += document_held(share, i);
  bool cut = share > 0 && share < 1 && (!held || held == n);
  for (size_t i = 0; i < n && !e->status; i++) {
    size_t from = of[i].from, to = of[i].to;
    size_t mid = cut || !document_held(share, i) ? to : from;
    if (cut && i + 1 == n)
      mid = document_cut(all, of[i], share, unit);
    bool room = s->data_tokens == 0
                || (double)d->train.size < s->data_tokens;
    if (T && room && from < mid)
      data_encode(d, s, all->at + from, mid - from, &d->train, e);
    if (mid < to)
      data_encode(d, s, all->at + mid, to - mid, &d->held, e);
  }
  data_describe(d, s, share, T || (s->whole && share < 1), T);
  if (d->held.size > INT32_MAX)   /* what d->starts can tell */
    fail(e, 1, "%s: expected below 2^31 held tokens, found %zu. Try: a smaller "
         "--valid", d->name, d->held.size);
  return e->status;
}

static int data_open_text(Data *d, const Source *s, int T, Error *e) {
  Bytes all = {0}, documents = {0};
  source_read(s, &all, &documents, e);
  d->source = hash64(0, all.at, all.size);
  if (!e->status)
    data_share(d, s, T, &all, &documents, e);
  bytes_free(&all);
  bytes_free(&documents);
  return e->status;
}

static int data_open_tokenizer(Data *d, const Source *s, Error *e) {
  Tokenizer *t = &d->tokenizer;
  char path[PATH_ROOM];
  if (tokenizer_load(located(path, s->tokenizer, s, e), s, t, e))
    return e->status;
  d->vocab = t->vocab;
  d->end = t->end;
  d->bos = t->bos;
  d->fix = t->fix;
  bool bos = s->bos && d->bos < 0;
  bool fix = s->fix_token && !s->first_tokens[0] && d->fix < 0;
  if (!bos && !fix)
    return 0;
  return fail(e, 2, "--%s: expected an id for it in %s, found none. Try: "
              "--tokenizer tokenizer.bin", bos ? "bos" : "fix-token",
              s->tokenizer);
}

/* What ./paper has and ./sink has not: 2, and which program to ask. */
static int data_refuse(const char *flag, Error *e) {
  return fail(e, 2, "--%s: for ./paper. Try: make paper", flag);
}

/* The flag of a text that ./sink does not read. */
static const char *source_other(const Source *s) {
  if (s->toy)
    return "toy";
  if (s->grammar[0])
    return "grammar";
  return s->tokens[0] ? "tokens" : "";
}

/* The tokens that --first-tokens draws (9.3). */
static int data_first(Data *d, const Source *s, int T, Error *e) {
  if (!s->first_tokens[0])
    return 0;
  return s->first ? s->first(d, s, T, e) : data_refuse("first-tokens", e);
}

/* seed orders the data, other than HELD_SEED; T 0: held documents alone. After
 * a failure d is empty. */
static int data_open(Data *d, const Source *s, int seed, int T, Error *e) {
  const char *other = source_other(s);
  *d = (Data){.pass = -1};
  d->seed = seed == HELD_SEED - 1 ? 0 : (uint64_t)seed + 1;
  if (!!s->text[0] + !!s->grammar[0] + !!s->tokens[0] > 1)
    return fail(e, 2, "--text, --grammar and --tokens exclude each other. Try: "
                "one of them");
  snprintf(d->name, sizeof d->name, "%s", source_name(s));
  if (*other && !s->open)
    data_refuse(other, e);
  else if (*other)
    s->open(d, s, T, e);
  else if (!data_open_tokenizer(d, s, e))
    data_open_text(d, s, T, e);
  if (s->data_tokens > 0 && (double)d->train.size > s->data_tokens)
    d->train.size = (size_t)s->data_tokens;
  d->blocks = (idx)d->train.size / (T + 1);
  if (T && !d->blocks && !d->next)
    fail(e, 1, "%s: expected at least %d tokens to train on, found %zu. Try: "
         "more text, or a smaller --context", d->name, T + 1, d->train.size);
  if (!e->status && d->blocks)
    d->order = grab(d->blocks, sizeof(int32_t), e);
  if (e->status || data_first(d, s, T, e))
    data_close(d);
  return e->status;
}

void data_close(Data *d) {
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

/* A pass's order follows from seed and pass: no checkpoint keeps it. */
static void data_shuffle(Data *d, idx pass) {
  Rng rng = {hash_number(d->seed, (uint64_t)pass)};
  for (idx i = 0; i < d->blocks; i++)
    d->order[i] = (int32_t)i;
  for (idx i = d->blocks - 1; i > 0; i--) {
    idx j = (idx)rng_below(&rng, (uint64_t)i + 1);
    int32_t swap = d->order[i];
    d->order[i] = d->order[j];
    d->order[j] = swap;
  }
  d->pass = pass;
}

/* [S2] The next block of T+1 tokens, NULL after a failure. Its number decides
 * its random tokens: the same at every pass, as in the authors' code. */
static const int32_t *data_block(Data *d, int T, uint64_t *number, Error *e) {
  *number = d->sample++;
  if (d->next)
    return d->next(d, *number, T + 1, e);
  uint64_t blocks = (uint64_t)d->blocks;
  idx pass = (idx)(*number / blocks);
  if (pass != d->pass)
    data_shuffle(d, pass);
  *number = (uint64_t)d->order[*number % blocks];
  return d->train.at + *number * ((uint64_t)T + 1);
}

/* ----------
 * 9.3  Interventions on a block   [T10] [FIG5] section 5; Table 10: --batch
 *
 * They overwrite, they do not insert: with token p changes the target before
 * it, which is scored.
 *   --fix-token p        <|fix|>, an id that text never has
 *   --random-tokens 1,2  ids drawn evenly from the whole vocabulary, once for a
 *                        block
 *   --first-tokens ..    at p, or 1, an id drawn once for a block, by weights
 *                        that data/text/first.c makes; --random-tokens then
 *                        draws by these too
 * While the sink is read no token is random, but for one of --first-tokens. */

/* "1,2" to positions [room + 1], a 0 behind them; 2 for anything else. */
static int positions_parse(const char *flag, const char *text, int *positions,
                           int room, Error *e) {
  int n = 0;
  for (const char *at = text; *at;) {
    char *end;
    long p = strtol(at, &end, 10);
    if (end == at || p < 1 || p > 1 << 24 || n == room
        || (*end && (*end != ',' || !end[1])))
      return fail(e, 2, "--%s %s: expected up to %d numbers from 1, like 1,2. "
                  "Try: --%s 16", flag, text, room, flag);
    positions[n++] = (int)p;
    at = end + (*end == ',');
  }
  positions[n] = 0;
  return 0;
}

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

/* Where a sequence is overwritten, 0 for nowhere. */
static int fixed_at(const Source *s) {
  if (!strcmp(s->first_tokens, "natural"))
    return 0;
  return s->fix_token ? s->fix_token : s->first_tokens[0] != 0;
}

/* What stands there: <|fix|>, or draw `number` of a seed by the weights. */
static int fixed_id(const Data *d, uint64_t seed, uint64_t number) {
  if (!d->first)
    return d->fix;
  Rng rng = {hash_number(seed, number)};
  double draw = floor(rng_uniform(&rng) * d->draws);
  int id = 0;
  while (id < d->vocab - 1 && draw >= d->first[id])
    draw -= d->first[id++];
  return id;
}

/* HELD_SEED says that the sink is read. 1024 is the authors' script's seed. */
static void intervene(const Data *d, const Source *s, uint64_t seed,
                      uint64_t number, int T, int *ids, int *targets,
                      Error *e) {
  int at[17];
  Rng rng = {hash_number(1024, number)};
  if (positions_parse("random-tokens", s->random_tokens, at, 16, e))
    return;
  overwrite(ids, targets, T, fixed_at(s), fixed_id(d, seed, number));
  for (int i = 0; at[i] && (d->first || seed != HELD_SEED); i++) {
    int id = (int)rng_below(&rng, (uint64_t)d->vocab);
    if (d->first)
      id = fixed_id(d, seed + (uint64_t)at[i], number);
    overwrite(ids, targets, T, at[i], id);
  }
}

/* B blocks: ids, targets [B,T]. */
static int data_batch(Data *d, const Source *s, int B, int T, int *ids,
                      int *targets, Error *e) {
  uint64_t number;
  for (int b = 0; b < B && !e->status; b++, ids += T, targets += T) {
    const int32_t *block = data_block(d, T, &number, e);
    if (!block)
      break;
    block_split(block, T, ids, targets);
    intervene(d, s, FIRST_SEED, number, T, ids, targets, e);
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
 * A fixed token is written here too; one of --first-tokens is repeated. */

/* What is read is spread over a text: neighbours may be of one chapter. Where
 * documents are alike the first serve; so they do for results (./paper). */
static bool data_spreads(const Data *d, const Source *s) {
  return !d->alike && !s->from_start;
}

static const char *const INPUTS[INPUT_ROWS] = {"natural", "random", "repeat"};
_Static_assert(INPUT_ROWS == 3, "a new input: its word, data_probe, pages.c");

static int probe_natural(const Data *d, const Source *s, int n, int T,
                         int *ids, int *targets, int *starts) {
  int documents = (int)d->starts.size, size = (int)d->held.size;
  int spare = data_spreads(d, s) ? (size / T - documents) / n : 0;
  idx stride = spare > 0 ? spare * T : T;
  int got = 0, before = -1;
  /* a pass over the documents takes the stretch at `skip` of each that has it;
   * one that finds none is the last */
  for (idx skip = 0; before < got && got < n; skip += stride) {
    before = got;
    for (int i = 0; i < documents && got < n; i++) {
      idx from = d->starts.at[i] + skip;
      idx end = i + 1 < documents ? d->starts.at[i + 1] : size;
      if (from + T + 1 > end)
        continue;
      block_split(d->held.at + from, T, ids, targets);
      intervene(d, s, HELD_SEED, (uint64_t)got++, T, ids, targets,
                &(Error){0});
      ids += T;
      targets += T;
    }
    if (skip == 0)
      *starts = got;
  }
  return got;
}

/* Fills ids [n,T], of natural input targets too; returns how many sequences
 * there are, *starts of them at a document's start. */
static int data_probe(const Data *d, const Source *s, int input, int n, int T,
                      int *ids, int *targets, int *starts) {
  Rng rng = {hash64(HELD_SEED, "probe", 5)};
  bool repeat = input == INPUT_REPEAT, first = repeat && d->first;
  *starts = 0;
  if (input == INPUT_NATURAL)
    return probe_natural(d, s, n, T, ids, targets, starts);
  for (int i = 0; i < n; i++, ids += T) {
    int once = (int)rng_below(&rng, (uint64_t)d->vocab);
    if (first)
      once = fixed_id(d, HELD_SEED, (uint64_t)i);
    for (int t = 0; t < T; t++)
      ids[t] = repeat ? once : (int)rng_below(&rng, (uint64_t)d->vocab);
    if (!first)
      intervene(d, s, HELD_SEED, (uint64_t)i, T, ids, NULL, &(Error){0});
  }
  return n;
}

/* Up to n blocks for a held loss; how many. */
static int data_held(const Data *d, const Source *s, int n, int T, int *ids,
                     int *targets, Error *e) {
  idx all = (idx)d->held.size / (T + 1), blocks = at_most(all, n);
  for (idx i = 0; i < blocks; i++) {
    idx at = data_spreads(d, s) ? i * all / blocks : i;
    block_split(d->held.at + at * (T + 1), T, ids, targets);
    intervene(d, s, FIRST_SEED, ~(uint64_t)i, T, ids, targets, e);
    ids += T;
    targets += T;
  }
  return (int)blocks;
}

/* ==========
 * PART III   THE EXPERIMENTS */

/* ==========
 * 10  Training and checkpoints   section 4
 *
 * 10.1  Checkpoints. Little-endian, in this order:
 *
 *   8   "SINKCKP1"          4  version, 1        4  bytes of a number, 4 or 8
 *   8   length of the text  .. the text: lines "flag value"
 *   8   the tokenizer's hash (0: none)           8  steps done
 *   8   8   8   the data: blocks read, document, offset in it
 *   4   what follows the parameters: 0 nothing, 3 moments and the run, 7 also the start; plus 8
 *       with --first-tokens text: how often it has each id, doubles, before the moments
 *   8   count of parameters .. parameters in the order of the table of tensors; then m and v
 *   8   8   8   8   the run: loss of the last step (a double); sum of the losses since the last
 *               look at the sink; how many those are; hash64 of the text or grammar
 *   8   the start (--start): hash64 of the parameters that the run began from
 *   8   hash64 of all that
 *
 * No clock or thread count: the same run, text and tokenizer by the same names give the same bytes.
 * A draw comes from --seed and its place. */
enum { CHECKPOINT_VERSION = 1, PARTS_RUN = 3, PARTS_START = 7, PARTS_FIRST = 8 };
#define CHECKPOINT_MAGIC "SINKCKP1"

/* One walk writes or reads: the order stands once. pass returns the number. */
typedef struct Passage {
  bool out;
  Writing w; uint64_t hash;   /* out */
  const unsigned char *at; size_t left;   /* in: what is left of the bytes */
  const char *name; Error *e;
} Passage;

static int damaged(const char *name, Error *e) {
  return fail(e, 1, "%s: expected a file not damaged or cut short. Try: an older copy", name);
}

static void pass_bytes(Passage *c, void *at, size_t n) {
  if (c->e->status || !n) return;
  if (c->out) {
    c->hash = hash_add(c->hash, at, n);
    writing_add(&c->w, at, n);
  } else if (n <= c->left) {
    memcpy(at, c->at, n);
    c->at += n, c->left -= n;
  } else damaged(c->name, c->e);
}

static uint64_t pass(Passage *c, uint64_t x, int bytes) {
  unsigned char at[8];
  number_put(at, x, bytes);
  pass_bytes(c, at, (size_t)bytes);
  return number_at(at, bytes);
}

INLINE float float_of(uint32_t bits) { float x; memcpy(&x, &bits, 4); return x; }
INLINE uint32_t bits_of(float x) { uint32_t bits; memcpy(&bits, &x, 4); return bits; }
INLINE double double_of(uint64_t bits) { double x; memcpy(&x, &bits, 8); return x; }
INLINE uint64_t bits_of_double(double x) { uint64_t bits; memcpy(&bits, &x, 8); return bits; }

static double pass_double(Passage *c, double x) { return double_of(pass(c, bits_of_double(x), 8)); }

/* Where a reader wants none of them, x is NULL. */
static void pass_numbers(Passage *c, real *x, idx n, int width) {
  for (idx i = 0; i < n && !c->e->status; i++) {
    real y = x ? x[i] : 0;
    if (width == 8) y = (real)pass_double(c, y);
    else y = (real)float_of((uint32_t)pass(c, bits_of((float)y), 4));
    if (x && !c->out) x[i] = y;
  }
}

static void settings_of(Settings *s, const char *groups, char *text, const char *file, Error *e) {
  Error wrong = {0};
  settings_default(s);
  for (char *line = strtok(text, "\n"); line && !wrong.status; line = strtok(NULL, "\n")) {
    char *value = strchr(line, ' ');
    if (value) *value++ = 0;
    const Option *o = value ? option_find(line, groups) : NULL;
    /* A default may lie outside the bounds: 0 often stands for another field's value. */
    if (o) option_set(o, s, value, strcmp(value, o->fallback) != 0, &wrong);
    else if (!value || strcmp(value, "0"))     /* 0: a companion's flag, not used */
      fail(&wrong, 1, "%.40s. Try: the version of sink that wrote it", line);
  }
  if (wrong.status || config_resolve(&s->model, &wrong))
    fail(e, 1, "%s: expected settings that this sink knows, found %s", file, wrong.text);
  strcpy(s->data.first_own, s->data.first_tokens);
}

/* The settings of `groups` as a text behind its length. */
static void pass_settings(Passage *c, Settings *s, const char *groups) {
  char value[PATH_ROOM]; Bytes text = {0}; Error *e = c->e;
  for (const Option *o = OPTIONS; c->out && o->flag; o++) {
    option_text(o, s, value, sizeof value);
    if (strchr(groups, o->group) && (o->kind != 's' || value[0]) && !strchr(value, '\n'))
      bytes_print(&text, e, "%s %s\n", o->flag, value);
  }
  uint64_t length = pass(c, text.size, 8);
  if (c->out) pass_bytes(c, text.at, text.size);
  else if (length > c->left) damaged(c->name, e);
  else if (!bytes_add(&text, c->at, (size_t)length, e) && !bytes_add(&text, "", 1, e)) {
    settings_of(s, groups, (char *)text.at, c->name, e);
    c->at += length, c->left -= length;
  }
  bytes_free(&text);
}

static int moments_create(Trainer *t, Error *e) {
  t->m1 = grab(t->m.count, sizeof(real), e);
  t->m2 = grab(t->m.count, sizeof(real), e);
  return e->status;
}

/* Before memory is taken: does what is left of the file fit its model? */
static void checkpoint_room(Passage *c, Trainer *t, uint64_t count, int parts, int width,
                            bool with_moments) {
  Error *e = c->e; Model list = {0}; int run = parts & ~PARTS_FIRST;
  if (model_list(&list, &t->s.model, e)) return;
  uint64_t expected = (uint64_t)list.count, left = expected * (unsigned)width * (run ? 3 : 1)
    + (run ? 32u : 0u) + (run == PARTS_START ? 8u : 0u)
    + (parts & PARTS_FIRST ? 8 * (uint64_t)t->s.model.vocab : 0);
  model_free(&list);
  if (count != expected || c->left != left || (run && run != PARTS_RUN && run != PARTS_START))
    fail(e, 1, "%s: expected %llu parameters, found another number. Try: an older copy", c->name,
         (unsigned long long)expected);
  else if (!model_create(&t->m, &t->s.model, with_moments, e) && with_moments && run)
    moments_create(t, e);
  if (parts & PARTS_FIRST && !e->status)
    t->s.data.first_counts = t->first = grab(t->m.c.vocab, sizeof(double), e);
}

static void checkpoint_pass(Passage *c, Trainer *t, bool with_moments) {
  char magic[] = CHECKPOINT_MAGIC; Error *e = c->e; Source *d = &t->s.data;
  pass_bytes(c, magic, 8);
  pass(c, CHECKPOINT_VERSION, 4);
  int width = (int)pass(c, sizeof(real), 4);
  if (width != 4 && width != 8) damaged(c->name, e);
  pass_settings(c, &t->s, "mtde");
  t->tokenizer_hash = pass(c, t->tokenizer_hash, 8);
  t->step = (long)pass(c, (uint64_t)t->step, 8);
  t->data.sample = pass(c, t->data.sample, 8);
  t->data.document = pass(c, t->data.document, 8);
  t->data.offset = (size_t)pass(c, t->data.offset, 8);
  int parts = !with_moments ? 0 : t->start ? PARTS_START : PARTS_RUN;
  if (d->first_counts) parts |= PARTS_FIRST;
  parts = (int)pass(c, (uint64_t)parts, 4);
  uint64_t count = pass(c, (uint64_t)t->m.count, 8);
  if (!c->out && !e->status) checkpoint_room(c, t, count, parts, width, with_moments);
  pass_numbers(c, t->m.params, t->m.count, width);
  for (int v = 0; parts & PARTS_FIRST && v < t->m.c.vocab && !e->status; v++)
    d->first_counts[v] = pass_double(c, d->first_counts[v]);
  if (!(parts & PARTS_RUN) || e->status) return;
  pass_numbers(c, t->m1, t->m.count, width);
  pass_numbers(c, t->m2, t->m.count, width);
  t->loss = pass_double(c, t->loss);
  t->loss_sum = pass_double(c, t->loss_sum);
  t->loss_steps = (long)pass(c, (uint64_t)t->loss_steps, 8);
  t->data.source = pass(c, t->data.source, 8);
  if ((parts & PARTS_START) == PARTS_START) t->start = pass(c, t->start, 8);
}

static int checkpoint_write(const char *path, const Trainer *t, bool with_moments, Error *e) {
  Passage c = {.out = true, .hash = hash_start(0), .e = e};
  Trainer same = *t;   /* which each pass_ returns unchanged */
  if (writing_begin(&c.w, path, e)) return e->status;
  checkpoint_pass(&c, &same, with_moments);
  pass(&c, hash_end(c.hash), 8);
  return writing_end(&c.w, e);
}

/* After a failure t is empty. */
static int checkpoint_read(const unsigned char *p, size_t n, const char *name, Trainer *t,
                           bool with_moments, Error *e) {
  Passage c = {.at = p, .left = n - 8, .name = name, .e = e};   /* all but its hash */
  *t = (Trainer){0};
  if (n < 24 || memcmp(p, CHECKPOINT_MAGIC, 8) || number_at(p + 8, 4) != CHECKPOINT_VERSION)
    return fail(e, 1, "%s: expected a checkpoint of sink, version %d, found something else. "
                "Try: ./sink train --out FILE; ./hf for a published model", name,
                CHECKPOINT_VERSION);
  if (hash64(0, p, n - 8) != number_at(p + n - 8, 8)) return damaged(name, e);
  checkpoint_pass(&c, t, with_moments);
  if (t->loss_steps < 0 || t->loss_steps > t->step) damaged(name, e);
  if (e->status) trainer_free(t);
  return e->status;
}

static int checkpoint_load(const char *path, Trainer *t, bool with_moments, Error *e) {
  Bytes held = {0};
  *t = (Trainer){0};
  if (PUBLISHED_PARTS.open && PUBLISHED_PARTS.open(path, INFINITY, t, e)) return e->status;
  if (!file_read(path, &held, e)) checkpoint_read(held.at, held.size, path, t, with_moments, e);
  bytes_free(&held);
  return e->status;
}

/* ----------
 * 10.2  A run   section 4 */

void trainer_free(Trainer *t) {
  model_free(&t->m); acts_free(&t->a); data_close(&t->data);
  free(t->m1); free(t->m2); free(t->ids); free(t->first); free(t->muon);
  *t = (Trainer){0};
}

/* 2 for plus1 with several x*: the authors' dummy row stands for one. */
static int metric_refuses(const Config *c, int rows, Error *e) {
  return rows != METRIC_PLUS1 || c->sink_token < 2 ? 0
       : fail(e, 2, "--metric-rows plus1: it knows one sink token, and there are %d. Try: "
              "--metric-rows real", c->sink_token);
}

static int trainer_room(Trainer *t, Error *e) {
  int B = t->s.train.batch, T = t->s.model.context;
  if (metric_refuses(&t->m.c, t->s.metric_rows, e)) return e->status;
  t->ids = grab(2 * (idx)B * T, sizeof(int), e);
  bool muon = t->s.train.optimizer == OPTIMIZER_MUON;
  if (muon && !BEYOND.muon_room)
    return fail(e, 2, "--optimizer muon: for ./paper. Try: make paper");
  if (muon) t->muon = grab(BEYOND.muon_room(&t->m, NULL), sizeof(real), e);
  t->m.plain = t->s.plain;
  t->s.data.first_counts = t->data.first_kept ? t->data.first : NULL;
  strcpy(t->s.data.first_own, t->s.data.first_tokens);
  return e->status ? e->status : acts_create(&t->a, &t->m, B, T, ACTS_ALL, e);
}

static int trainer_create(Trainer *t, const Settings *s, Error *e) {
  *t = (Trainer){.s = *s};
  t->s.data.vocab = s->model.vocab;
  if (data_open(&t->data, &t->s.data, s->train.seed, s->model.context, e)) return e->status;
  int known = t->data.vocab;
  if (t->s.model.vocab == 0) t->s.model.vocab = known;
  else if (t->s.model.vocab < known)
    fail(e, 2, "--vocab %d: %s has %d tokens. Try: another --tokenizer, or --vocab %d",
         t->s.model.vocab, t->s.data.tokenizer, known, known);
  t->tokenizer_hash = t->data.tokenizer.hash;
  if (e->status || config_resolve(&t->s.model, e) || model_create(&t->m, &t->s.model, true, e)
      || trainer_room(t, e) || moments_create(t, e)) trainer_free(t);
  else model_init(&t->m, s->train.init, (uint64_t)s->train.seed);
  return e->status;
}

/* Does it name a file? --text, --grammar, --tokens, --tokenizer. */
static bool option_file(const Option *o) {
  return o->group == 'd' && o->kind == 's' && o->most == 0;
}

/* The settings of a run that goes on: of `was` what its file fixes, and how its text is made ids;
 * all else of s. --resume fixes all but when it ends and saves; --start the model, and its context
 * where positions are learned. The command line must not contradict that. */
static int settings_go_on(Settings *now, const Settings *was, const Settings *s, const char *flags,
                          bool resume, Error *e) {
  const char *words[WORDS_MOST], *groups = resume ? "mtde" : "m"; int n = 0;
  char old[PATH_ROOM], new[PATH_ROOM];
  *now = *s;
  for (const Option *o = OPTIONS; o->flag; o++) {
    bool fixed = strchr(groups, o->group) != NULL;
    bool ids = !strcmp(o->flag, "tokenizer") || (!strcmp(o->flag, "bos") && was->data.bos);
    bool named = option_file(o) && !*o->fallback && source_named(&s->data);   /* another text */
    if (named || !(fixed || (ids && !s->data.tokens[0]))) continue;
    option_text(o, was, old, sizeof old);
    option_set(o, now, old, false, e);
  }
  if (settings_parse(now, s->argc, s->argv, s->groups, words, &n, e) || settings_count(now, e) ||
      settings_flags(now, flags, "m", e)) return e->status;
  memcpy(now->out, s->out, PATH_ROOM);   /* sink run's arms have files of their own */
  memcpy(now->log, s->log, PATH_ROOM);
  Config c = now->model;
  if (!config_resolve(&c, &(Error){0})) now->model = c;   /* a contradiction is named below */
  for (const Option *o = OPTIONS; o->flag; o++) {
    /* these move no bit of a step that is done */
    if (!strcmp(o->flag, "steps") || strstr(o->flag, "-every") || option_file(o)) continue;
    if (!resume && !strcmp(o->flag, "context") && was->model.pos != POS_LEARNED) continue;
    option_text(o, was, old, sizeof old);
    option_text(o, now, new, sizeof new);
    if (strchr(groups, o->group) && strcmp(old, new))
      return fail(e, 2, "--%s %s: %s has %s, and %s. Try: without it", o->flag, new,
                  resume ? s->out : s->start, *old ? old : "none", resume ? "--resume changes "
                  "--steps, --save-every, --log-every" : "--start keeps the model");
  }
  return 0;
}

static int tokenizer_same(const Trainer *t, const char *path, Error *e) {
  if (t->tokenizer_hash == t->data.tokenizer.hash) return 0;
  return fail(e, 1, "%s: expected the tokenizer it was trained with, found another in %s. Try: %s",
              path, t->s.data.tokenizer,
              t->tokenizer_hash ? "--tokenizer FILE" : "eval --tokens: it had none");
}

/* The text must be the same, by its hash; the run goes on at its place. */
static int resume_data(Trainer *t, Error *e) {
  Data was = t->data; Source *d = &t->s.data;
  d->vocab = t->m.c.vocab;
  if (data_open(&t->data, d, t->s.train.seed, t->s.model.context, e)
      || tokenizer_same(t, t->s.out, e)) return e->status;
  if (was.source && was.source != t->data.source)
    return fail(e, 1, "%s: expected the text it was trained on, found another in %s. Try: "
                "--text, --grammar or --tokens as before", t->s.out, source_name(d));
  t->data.sample = was.sample; t->data.document = was.document; t->data.offset = was.offset;
  return 0;
}

static uint64_t parameters_hash(const Model *m) {
  uint64_t hash = hash_numbers(0, m->params, (size_t)m->count * sizeof(real), sizeof(real));
  return hash ? hash : 1;
}

static int trainer_resume(Trainer *t, const Settings *s, const char *flags, Error *e) {
  Settings now; Trainer from = {0};
  if (checkpoint_load(s->out, t, true, e)) return e->status;
  if (!t->m1) fail(e, 1, "%s: it has parameters alone. Try: without --resume", s->out);
  else if (!settings_go_on(&now, &t->s, s, flags, true, e) && now.train.steps < t->step)
    fail(e, 2, "--steps %d: %s has done %ld. Try: more", now.train.steps, s->out, t->step);
  if (!e->status) t->s = now;
  if (!e->status && s->start[0] && !checkpoint_load(s->start, &from, false, e)
      && t->start != parameters_hash(&from.m))
    fail(e, 2, "--start %s: %s was begun from %s. Try: without it", s->start, s->out,
         t->start ? "other parameters" : "none");
  trainer_free(&from);
  if (e->status || resume_data(t, e) || trainer_room(t, e)) trainer_free(t);
  else if (!s->quiet)
    fprintf(stderr, "sink: %s goes on from step %ld of %d\n", s->out, t->step, now.train.steps);
  return e->status;
}

/* Fine-tuning ([FIG30], appendix D): t's model and parameters, all else from s. The tokenizer must
 * be t's own (unless ids come alone), or where it had none, one of as many ids. */
static int trainer_restart(Trainer *t, const Settings *s, Error *e) {
  Trainer was = *t;   /* t is made anew in its place */
  Settings now = *s;
  now.model = was.m.c;
  if (was.m.c.pos != POS_LEARNED) now.model.context = s->model.context;
  acts_free(&was.a);
  data_close(&was.data);
  if (!trainer_create(t, &now, e)) {
    bool same = was.tokenizer_hash ? was.tokenizer_hash == t->tokenizer_hash
              : was.m.c.vocab == t->data.vocab;
    if (!same && !now.data.tokens[0])
      fail(e, 1, "%s: expected the tokenizer of the model. Try: --tokenizer FILE",
           now.data.tokenizer);
    copy(t->m.params, was.m.params, was.m.count);
    t->start = parameters_hash(&was.m);
    if (e->status) trainer_free(t);
  }
  trainer_free(&was);
  return e->status;
}

/* From --out with --resume, from --start, or from the seed. After a failure t holds no memory. */
static int trainer_begin(Trainer *t, const Settings *s, const char *flags, Error *e) {
  Settings now = *s;
  if (s->resume && !s->out[0])
    return fail(e, 2, "--resume: expected --out, where the run is. Try: --resume --out FILE");
  if (s->resume && !file_missing(s->out)) return trainer_resume(t, s, flags, e);
  if (s->resume && !s->quiet) fprintf(stderr, "sink: %s is not there: it begins now\n", s->out);
  if (!s->start[0])
    return settings_count(s, e) || settings_flags(&now, flags, "m", e) ? e->status
         : trainer_create(t, &now, e);
  if (checkpoint_load(s->start, t, false, e)) return e->status;
  const char *text = t->data.source ? source_name(&t->s.data) : "FILE";
  if (!source_named(&s->data) && !s->data.toy && strcmp(text, SHIPPED_TEXT))
    fail(e, 2, "--start %s: expected the text to train on, found none. Try: %s %s", s->start,
         t->s.data.grammar[0] ? "--grammar" : t->s.data.tokens[0] ? "--tokens" : "--text", text);
  if (e->status || settings_go_on(&now, &t->s, s, flags, false, e)) trainer_free(t);
  else {
    if (!s->quiet) fprintf(stderr, "sink: the run begins from %s, step %ld\n", s->start, t->step);
    trainer_restart(t, &now, e);
  }
  return e->status;
}

/* Where a forward of ids [T] first meets NaN or infinity, into e. */
static int forward_fault(Model *m, const int *ids, int T, Error *e) {
  Sinks s; Acts a = {0};
  if (!sinks_create(&s, &m->c, T, 1, (double[]){0}, 1, e) && !acts_create(&a, m, 1, T, ACTS_ONE, e))
    sinks_measure(&s, m, &a, ids, ids, 1, METRIC_REAL, e);
  acts_free(&a); sinks_free(&s);
  return e->status;
}

/* Not finite: the training has diverged, with t->loss NAN. Any other error passes on. */
static int step_fault(Trainer *t, const Error *why, Error *e) {
  const char *end = strstr(why->text, NOT_FINITE);
  if (!end) return why->status ? fail(e, why->status, "%s", why->text) : 0;
  t->loss = NAN;
  return fail(e, 1, "step %ld: %.*s: NaN or infinity: this variant diverges here. Try: a smaller "
              "--lr", t->step, (int)(end - why->text), why->text);
}

/* Names what is not finite: bad, or where a forward first meets it. */
static int diverged(Trainer *t, const Tensor *bad, Error *e) {
  Error why = {0}; const int T = t->s.model.context;
  if (bad) fail(&why, 1, "the gradient of %s" NOT_FINITE, bad->name);
  for (int b = 0; b < t->s.train.batch && !why.status; b++)
    forward_fault(&t->m, t->ids + (idx)b * T, T, &why);
  fail(&why, 1, "the loss" NOT_FINITE);
  return step_fault(t, &why, e);
}

static void trainer_update(Trainer *t, double shrink) {
  const Train *p = &t->s.train;
  t->lr = schedule_lr(p->schedule, p->lr, p->min_lr, p->warmup, p->steps, (int)t->step);
  for (int i = 0; i < t->m.n_tensors; i++) {
    const Tensor *x = &t->m.tensor[i];
    Step s = {.optimizer = p->optimizer, .lr = t->lr, .beta1 = p->beta1, .beta2 = p->beta2,
              .eps = p->adam_eps, .wd = p->decay == DECAY_ALL || x->matrix ? p->wd : 0,
              .t = t->step + 1, .shrink = shrink};
    real *w = t->m.params + x->at, *g = t->m.grads + x->at, *m1 = t->m1 + x->at;
    if (t->muon && BEYOND.muon_room(&t->m, x))
      BEYOND.muon_step(&s, x->shape[0], x->shape[1], w, g, m1, t->muon);
    else optimizer_step(&s, x->count, w, g, m1, t->m2 + x->at);
  }
}

static int trainer_finish(Trainer *t, Error *e) {
  double clip = t->s.train.clip; const Tensor *bad;
  t->norm = gradient_norm(&t->m, &bad);
  if (bad) return diverged(t, bad, e);
  double shrink = clip / (t->norm + 1e-6);   /* 1e-6: PyTorch's */
  trainer_update(t, clip > 0 && t->norm > clip ? shrink : 1);
  t->step++, t->loss_steps++;
  t->loss_sum += t->loss;
  return 0;
}

/* One step. What is not finite ends it before a parameter moves. */
static int trainer_step(Trainer *t, Error *e) {
  const Train *p = &t->s.train;
  int B = p->batch, T = t->s.model.context, *targets = t->ids + (idx)B * T;
  model_zero_grads(&t->m);
  t->loss = 0;
  for (int i = 0; i < p->accumulate; i++) {
    if (data_batch(&t->data, &t->s.data, B, T, t->ids, targets, e)) return e->status;
    model_forward(&t->m, &t->a, t->ids, B, T);
    t->loss += model_loss(&t->m, &t->a, targets, B, T, true, 1.0 / p->accumulate) / p->accumulate;
    if (!isfinite(t->loss)) return diverged(t, NULL, e);
    model_backward(&t->m, &t->a, t->ids, B, T);
  }
  return trainer_finish(t, e);
}

/* ----------
 * 10.3  A training to its end: looks at the sink, the log, checkpoints   section 4, [FIG4] */

/* The one mutable global. At Ctrl-C a training ends after the step in hand, and saves; at a second
 * one the program ends at once: files are whole at any moment (chapter 15). */
static volatile sig_atomic_t interrupted;
static void on_interrupt(int number) {
  interrupted = number; signal(SIGINT, SIG_DFL); signal(SIGTERM, SIG_DFL);
}
static void stop_gently(void) { signal(SIGINT, on_interrupt); signal(SIGTERM, on_interrupt); }

enum { LOOK_N = 16 };

/* LOOK_N held sequences into p; eps[1] is 0.2 (evaluate). */
int look_at_sink(Trainer *t, Progress *p, Error *e) {
  const Settings *s = &t->s; Sinks seen;
  Error why = {0}; int starts, T = (int)at_most(s->eval_T, s->model.context);
  if (evaluate(&seen, &t->m, &t->data, s, LOOK_N, T, &starts, &why)) return step_fault(t, &why, e);
  int first = config_column_first(&t->m.c), star = config_column_star(&t->m.c);
  p->has_star = star >= 0;
  p->alpha1 = sinks_alpha(&seen, first);
  p->sink1 = sinks_sink(&seen, first, 0);
  p->sink1_low = sinks_sink(&seen, first, 1);
  p->alpha_star = star < 0 ? 0 : sinks_alpha(&seen, star);
  p->sink_star = star < 0 ? 0 : sinks_sink(&seen, star, 0);
  p->ratio = sinks_ratio(&seen), p->mass = sinks_mass(&seen);
  sinks_free(&seen);
  return 0;
}

/* Mean cross-entropy over up to n held blocks of the model's context; NAN where there is none. */
static int trained_loss(double *loss, Trainer *t, int n, Error *e) {
  enum { BATCH = 16 };
  Model *m = &t->m; Acts a = {0}; Error why = {0};
  int T = m->c.context, *ids = grab(2 * (idx)n * T, sizeof(int), &why), got = 0; double sum = 0;
  if (!why.status && !acts_create(&a, m, BATCH, T, ACTS_ONE, &why)) {
    got = data_held(&t->data, &t->s.data, n, T, ids, ids + (idx)n * T, &why);
    for (int b = 0; b < got && !why.status; b += BATCH) {
      int B = (int)at_most(got - b, BATCH);
      model_forward(m, &a, ids + (idx)b * T, B, T);
      sum += model_loss(m, &a, ids + (idx)(n + b) * T, B, T, false, 1) * B;
      for (int i = b; !isfinite(sum) && i < b + B; i++) forward_fault(m, ids + (idx)i * T, T, &why);
    }
  }
  acts_free(&a); free(ids);
  *loss = got ? sum / got : NAN;
  return step_fault(t, &why, e);
}

/* sink_1 is at --eps; a # line says what --first-tokens draws. --resume takes its looks here. */
static const char LOG_HEAD[] =
    "step,tokens,loss,norm,lr,alpha_1,sink_1,alpha_star,sink_star,norm_ratio,sink_1_at_0.2\n";

/* Keeps a line of the log as a look; its step. */
static long look_keep(Progress *p, const char *line) {
  Look now = {0};
  if (sscanf(line, "%ld,%*f,%lf,%lf,%*f,%lf,%lf,%lf,%lf,%lf", &now.step, &now.loss, &now.norm,
             &now.alpha1, &now.sink1, &now.alpha_star, &now.sink_star, &now.ratio) != 8)
    return now.step;
  if (p->looks == LOOKS)   /* full: every other one goes */
    for (p->looks = 0; p->looks < LOOKS / 2; p->looks++)
      p->look[p->looks] = p->look[2 * p->looks + 1];
  p->look[p->looks++] = now;
  return now.step;
}

/* The log to go on with: its lines up to t->step, the last of them the last look's. */
static int log_begin(const Trainer *t, Progress *p, Bytes *log, Error *e) {
  const char *path = t->s.log;
  long looked = t->step - t->loss_steps, last = 0;
  if (!(t->step || t->s.resume) || !path[0] || file_missing(path))
    return bytes_print(log, e, t->data.drawn[0] ? "%s# %s\n" : "%s", LOG_HEAD, t->data.drawn);
  if (file_read(path, log, e) || bytes_add(log, "", 1, e)) return e->status;
  const char *text = (const char *)log->at, *line = text + sizeof LOG_HEAD - 1;
  if (strncmp(text, LOG_HEAD, sizeof LOG_HEAD - 1))
    return fail(e, 1, "%s: it is not the log of this run. Try: another --log", path);
  for (const char *end; (end = strchr(line, '\n')); line = end + 1) {
    if (!strncmp(line, "# step ", 7) || strtol(line, NULL, 10) > t->step) break;
    last = look_keep(p, line);
  }
  log->size = (size_t)(line - text);
  if (last != looked)
    fail(e, 1, "%s: it ends at step %ld, not at %ld. Try: another --log", path, last, looked);
  return e->status;
}

static int log_line(Trainer *t, Progress *p, Bytes *log, Error *e) {
  char line[2048]; const Train *r = &t->s.train;
  double tokens = (double)t->step * r->batch * r->accumulate * t->s.model.context;
  int n = snprintf(line, sizeof line,
                   "%ld,%.0f,%.6f,%.6f,%.6g,%.6f,%.6f,%.6f,%.6f,%.6f,%.6f\n", t->step, tokens,
                   t->loss_sum / (double)t->loss_steps, t->norm, t->lr, p->alpha1, p->sink1,
                   p->alpha_star, p->sink_star, p->ratio, p->sink1_low);
  t->loss_sum = 0, t->loss_steps = 0;
  look_keep(p, line);
  return bytes_add(log, line, (size_t)n, e);
}

/* What a run leaves, the log first: so it has every line of a checkpoint's run. */
static int run_save(const Trainer *t, const Bytes *log, bool checkpoint, Error *e) {
  if (t->s.log[0] && file_write(t->s.log, log->at, log->size, e)) return e->status;
  return checkpoint && t->s.out[0] ? checkpoint_write(t->s.out, t, true, e) : 0;
}

/* To the last step, a fault or Ctrl-C, saving on the way. Of a run that diverges the log ends with
 * a line "# step N: why", which --resume drops. */
static int train_run(Trainer *t, Progress *p, Error *e) {
  enum { FOLLOW = 2 };   /* seconds: how old a log may be that is watched */
  const Train *r = &t->s.train; Bytes log = {0};
  bool saved = t->step > 0;   /* is this step's checkpoint there? */
  if (!log_begin(t, p, &log, e) && r->steps)   /* a run that goes on meets its errors again */
    look_at_sink(t, p, t->step ? &(Error){0} : e);
  double logged = p->start = seconds();
  p->from = t->step;
  stop_gently();
  while (t->step < r->steps && !e->status && !interrupted) {
    if (trainer_step(t, e)) break;
    saved = r->save_every && t->step % r->save_every == 0;
    if (t->step % r->log_every == 0 || t->step == r->steps) {
      if (look_at_sink(t, p, e) || log_line(t, p, &log, e)) break;
      if (p->holds) trained_loss(&p->look[p->looks - 1].held, t, LOOK_N, e);
    }
    progress_show(t, p);
    if (saved || seconds() - logged > FOLLOW) {
      run_save(t, &log, saved, e);
      logged = seconds();
    }
  }
  bool ended = e->status && isnan(t->loss);
  if (ended) bytes_print(&log, &(Error){0}, "# %s\n", e->text);
  if (ended || (e->status && t->step > p->from)) run_save(t, &log, false, &(Error){0});
  if (!e->status && !saved) run_save(t, &log, true, e);
  bytes_free(&log);
  if (t->step < r->steps)
    fail(e, 1, "stopped at step %ld of %d, and %s", t->step, r->steps,
         t->s.out[0] ? "--out has it. Try: the same command with --resume"
                     : "nothing is kept. Try: again; train and run have --out FILE");
  return e->status;
}

/* ==========
 * 11  Evaluation   sections 3.1 to 3.3 */

/* --replace-position, --swap-position (3.1): what is read for p_1; x->t 0: p_1. Checks T too. */
static int position_edit(PositionEdit *x, const Settings *s, const Config *c, int T, Error *e) {
  bool swap = s->swap_position != 0;
  const char *flag = swap ? "swap-position" : "replace-position";
  *x = (PositionEdit){swap ? s->swap_position : s->replace_position, swap};
  if (T > c->context && (!s->beyond || c->pos == POS_LEARNED))
    return fail(e, 2, "--T %d: the model was made for %d tokens. Try: --T %d%s", T, c->context,
                c->context, s->beyond ? ": it learnt no more" : ", or --beyond");
  if (s->replace_position && swap)
    return fail(e, 2, "--replace-position and --swap-position exclude each other. Try: one");
  if (x->t && c->pos != POS_LEARNED && c->pos != POS_ABSOLUTE)
    return fail(e, 2, "--%s %d: this model adds no positions to its input. Try: a model of "
                "--pos learned or absolute", flag, x->t);
  if (x->t > T) return fail(e, 2, "--%s %d: %d tokens are fed. Try: a larger --T", flag, x->t, T);
  return 0;
}

/* Sequences of a batch: 16; of a model still in its file all n, as each batch reads it. Fewer where
 * these have no room: two maps of H T^2 numbers each. */
static int evaluation_batch(const Model *m, int n, int T, Error *e) {
  const Config *c = &m->c;
  enum { ROOM = 1600000000 };   /* bytes: with all else, below 2 GB */
  double maps = 2.0 * c->heads * config_rows(c, T) * config_columns(c, T),
         extreme = (double)config_rows(c, T) * c->dim;
  if (!m->file && n > 16) n = 16;
  while (n > 1 && !e->status && ROOM <
         sizeof(real) * ((double)acts_size(m, n, T, ACTS_ONE, e) + n * (maps + extreme)))
    n = (n + 1) / 2;
  return n;
}

static int none_held(const Data *d, int T, Error *e) {
  int longest = 0, end = (int)d->held.size; char shorter[32] = "";
  for (size_t i = d->starts.size; i--; end = d->starts.at[i])
    if (end - d->starts.at[i] > longest) longest = end - d->starts.at[i];
  if (longest > 2) snprintf(shorter, sizeof shorter, "--T %d, ", longest - 1);
  const char *more = "a larger --valid or a longer text";
  if (!d->source) more = "longer lines";   /* of --ids, which are no text with a hash */
  if (d->alike) more = "a grammar of longer documents";
  return fail(e, 1, "no held document has %d tokens: %zu are held, at most %d in one. Try: %s%s",
              T + 1, d->held.size, longest, shorter, more);
}

/* n sequences of T tokens, *starts of them at a document's start. After a failure out is empty. */
static int evaluate_at(Sinks *out, Model *m, const Data *d, const Settings *s, const double *eps,
                       int n_eps, int n, int T, int *starts, Error *e) {
  bool scored = s->input == INPUT_NATURAL; Acts a = {0}; PositionEdit edit;
  *out = (Sinks){0};
  if (position_edit(&edit, s, &m->c, T, e) || metric_refuses(&m->c, s->metric_rows, e))
    return e->status;
  int *ids = grab(2 * (idx)n * T, sizeof(int), e);
  int got = ids ? data_probe(d, &s->data, s->input, n, T, ids, ids + (idx)n * T, starts) : 0;
  int batch = evaluation_batch(m, got, T, e);
  if (!got) none_held(d, T, e);
  if (!e->status && !sinks_create(out, &m->c, T, batch, eps, n_eps, e))
    acts_create(&a, m, batch, T, ACTS_ONE, e);
  a.edit = edit.t ? &edit : NULL;
  if (m->published && !e->status)
    m->published->begin(m, (got + batch - 1) / batch, scored, s->quiet);
  for (int b = 0; b < got && !e->status; b += batch)
    sinks_measure(out, m, &a, ids + (idx)b * T, scored ? ids + (idx)(n + b) * T : NULL,
                  (int)at_most(got - b, batch), s->metric_rows, e);
  sinks_finish(out);
  if (m->published) m->published->end(m, e);
  acts_free(&a); free(ids);
  if (e->status) sinks_free(out);
  return e->status;
}

int evaluate(Sinks *out, Model *m, const Data *d, const Settings *s, int n, int T, int *starts,
             Error *e) {
  return evaluate_at(out, m, d, s, (double[]){s->eps, 0.2, 0.4}, 3, n, T, starts, e);
}

static void outcome_begin(Outcome *o, const Trainer *t, int T) {
  o->c = t->m.c;
  o->even = sink_uniform(&o->c, T);
  o->star = config_column_star(&o->c) >= 0;
  idx blocks = (idx)t->data.held.size / (o->c.context + 1);
  o->tokens = at_most(blocks, HELD_BLOCKS) * o->c.context;
  if (t->s.input != INPUT_NATURAL) return;
  strcpy(o->text, t->data.name), strcpy(o->read, t->data.read);
}

/* Sinks of eval_n sequences of eval_T tokens, and what a page shows besides. */
static int outcome_measure(Outcome *o, Trainer *t, const Settings *s, int *starts, Error *e) {
  if (evaluate(&o->s, &t->m, &t->data, s, s->eval_n, s->eval_T, starts, e)) return e->status;
  outcome_begin(o, t, o->s.T);
  return s->program->heads ? s->program->heads(o, t, s, e) : 0;
}

/* ----------
 * 11.1  The numbers of an evaluation */

static int result_add(Result *r, const char *name, const double *x, int n, Error *e) {
  Numbers *list = realloc(r->list, ((size_t)r->lists + 1) * sizeof *list);
  if (list) r->list = list;
  double *value = realloc(r->value, ((size_t)r->values + (size_t)n + 1) * sizeof *value);
  if (value) r->value = value;
  if (!list || !value) return fail(e, 1, "memory: no room for %d numbers. Try: again", n);
  list += r->lists++;
  *list = (Numbers){.at = r->values, .n = n};
  snprintf(list->name, sizeof list->name, "%s", name);
  memcpy(value + r->values, x, (size_t)n * sizeof *x);
  r->values += n;
  return 0;
}
static void result_free(Result *r) { free(r->list); free(r->value); *r = (Result){0}; }

static int put_list(Result *r, Error *e, const double *x, int n, const char *format, ...) {
  char name[sizeof r->list->name];
  va_list args;
  va_start(args, format);
  bool cut = vsnprintf(name, sizeof name, format, args) >= (int)sizeof name;
  va_end(args);
  return cut ? fail(e, 1, "%s..: this name is too long. Try: a shorter one", name)
             : result_add(r, name, x, n, e);
}
#define put(r, e, x, ...) put_list(r, e, (double[]){x}, 1, __VA_ARGS__)

/* A column of a table: its name in CSV and JSON, its heading, and how it shows unit times x. */
typedef struct Column { const char *name, *head, *below, *form; int width; double unit; } Column;

enum { SINK_1, SINK_STAR, ALPHA_1, TIMES_EVEN, ALPHA_STAR, ROW_MASS, NORM_RATIO, HELD_LOSS, ROW };
static const Column ROW_COLUMNS[ROW] = {
  {"sink_1",     "Sink_1",  "%",     "%.1f", 8, 100},
  {"sink_star",  "Sink_*",  "%",     "%.1f", 8, 100},
  {"alpha_1",    "alpha_1", "",      "%.3f", 8, 1},
  {"times_even", "x even",  "",      "%.2f", 7, 1},
  {"alpha_star", "alpha_*", "",      "%.3f", 8, 1},
  {"mass",       "row",     "mass",  "%.2f", 6, 1},
  {"norm_ratio", "norm",    "ratio", "%.2f", 7, 1},
  {"loss",       "valid",   "loss",  "%.3f", 7, 1}};

static void sinks_row(const Sinks *s, const Config *c, double loss, double row[ROW]) {
  int first = config_column_first(c), star = config_column_star(c);
  for (int i = 0; i < ROW; i++) row[i] = NAN;
  if (!s->n) return;
  row[SINK_1] = sinks_sink(s, first, 0);
  row[ALPHA_1] = sinks_alpha(s, first);
  row[TIMES_EVEN] = row[ALPHA_1] / sink_uniform(c, s->T);
  row[ROW_MASS] = sinks_mass(s);
  row[NORM_RATIO] = sinks_ratio(s);
  if (loss > 0) row[HELD_LOSS] = loss;
  if (star < 0) return;
  row[SINK_STAR] = sinks_sink(s, star, 0);
  row[ALPHA_STAR] = sinks_alpha(s, star);
}

static const char *cell_text(char text[32], const Column *c, double x) {
  snprintf(text, 32, isfinite(x) ? c->form : "-", c->unit * x);
  return text;
}

enum { LABELS = 4 };
/* A row of --csv and --json: texts, then numbers. */
typedef struct Measured { char label[LABELS][2 * PATH_ROOM]; Result all; } Measured;

/* In JSON a text that is no UTF-8 is read as Latin-1. */
static void quoted(Bytes *out, const char *text, bool json, Error *e) {
  const unsigned char *at = (const unsigned char *)text;
  size_t n = strlen(text); int most = json && utf8_length(at, n) < n ? 0x7F : 0xFF;
  bytes_add(out, "\"", 1, e);
  for (; *at; at++)
    if (*at < 32 || *at > most) bytes_print(out, e, json ? "\\u%04x" : " ", *at);
    else {
      if (*at == '"' || (json && *at == '\\')) bytes_add(out, json ? "\\" : "\"", 1, e);
      bytes_add(out, at, 1, e);
    }
  bytes_add(out, "\"", 1, e);
}

/* --csv - or --json -: nothing else goes to stdout */
static bool results_alone(const Settings *s) {
  return !strcmp(s->csv, "-") || !strcmp(s->json, "-");
}

/* n rows as --csv, below their names, and as --json; a number that is not there is empty, or null.
 * `labels` ends with NULL; where the first is the text, the JSON is an object, not a list. */
static int rows_write(const Measured *row, int n, const char *const *labels, const Settings *s,
                      Error *e) {
  bool list = strcmp(labels[0], "text") != 0;
  for (int json = 0; json < 2; json++) {
    const char *path = json ? s->json : s->csv, *comma = json ? ", " : ",";
    Bytes out = {0};
    if (!path[0]) continue;
    for (int i = 0; !json && labels[i]; i++) bytes_print(&out, e, i ? ",%s" : "%s", labels[i]);
    for (int i = 0; !json && i < row->all.lists; i++)
      bytes_print(&out, e, ",%s", row->all.list[i].name);
    for (const Measured *m = row; m < row + n; m++) {
      bytes_print(&out, e, !json ? "\n" : m > row ? ",\n {" : list ? "[{" : "{");
      for (int i = 0; labels[i]; i++) {
        bytes_print(&out, e, json ? "%s\"%s\": " : "%s", i ? comma : "", labels[i]);
        quoted(&out, m->label[i], json, e);
      }
      for (int i = 0; i < m->all.lists; i++) {
        double x = m->all.value[m->all.list[i].at];
        bytes_print(&out, e, json ? "%s\"%s\": " : "%s", comma, m->all.list[i].name);
        bytes_print(&out, e, isfinite(x) ? "%.8g" : json ? "null" : "", x);
      }
      if (json) bytes_print(&out, e, "}");
    }
    bytes_print(&out, e, json && list ? "]\n" : "\n");
    if (strcmp(path, "-")) file_write(path, out.at, out.size, e);
    else if (!e->status) fwrite(out.at, 1, out.size, stdout);
    bytes_free(&out);
  }
  return e->status;
}

static int eval_numbers(Result *all, const Sinks *r, const Result *besides, const Settings *s,
                        Error *e) {
  int edited = s->replace_position + s->swap_position;
  int there = config_column_first(&s->model) + edited - 1;
  double row[ROW];
  sinks_row(r, &s->model, r->loss, row);
  put(all, e, s->eps, "eps"); put(all, e, r->T, "T"); put(all, e, r->n, "n");
  for (int k = 0; k < ROW; k++) put(all, e, row[k], "%s", ROW_COLUMNS[k].name);
  for (int j = 0; j < s->model.sink_token && s->model.sink_token > 1; j++) {
    int column = (s->model.extra ? 1 : 0) + j;
    put(all, e, sinks_sink(r, column, 0), "sink_x%d", j + 1);
    put(all, e, sinks_alpha(r, column), "alpha_x%d", j + 1);
  }
  put(all, e, r->massive, "massive"); put(all, e, r->median, "median");
  if (edited) {
    put(all, e, sinks_sink(r, there, 0), "sink_t");
    put(all, e, sinks_alpha(r, there), "alpha_t");
  }
  for (int i = 0; i < besides->lists; i++)
    put(all, e, besides->value[besides->list[i].at], "%s", besides->list[i].name);
  return e->status;
}

/* ----------
 * 11.2  sink dump: every tensor of one forward and backward as .npy, to check in NumPy */

typedef struct Dump {
  Settings *s; const Config *c; Acts *a;
  bool drawn;   /* the model */
  idx B, T, N, S;
  Passage file; char path[PATH_ROOM + 80];
  Error *e;
} Dump;

static void npy_end(Dump *d) { if (d->file.w.f) writing_end(&d->file.w, d->e); }

/* Begins another file. NumPy's format 1.0: magic, a header padded to a multiple of 64, numbers. */
static void npy_begin(Dump *d, const char *name, int rank, const idx *shape) {
  const char *type = !strcmp(name, "ids") ? "i4" : sizeof(real) == 4 ? "f4" : "f8";
  char magic[] = "\x93NUMPY\x01"; Bytes head = {0};
  bytes_print(&head, d->e, "{'descr': '<%s', 'fortran_order': False, 'shape': (", type);
  for (int i = 0; i < rank; i++) bytes_print(&head, d->e, i ? " %lld," : "%lld,", shape[i]);
  bytes_print(&head, d->e, "), }");
  bytes_print(&head, d->e, "%*s", 64 - (10 + (int)head.size) % 64, "\n");   /* 10: magic, length */
  npy_end(d);
  snprintf(d->path, sizeof d->path, "%s/%s.npy", d->s->out, name);
  d->file = (Passage){.out = true, .e = d->e};
  if (!d->e->status && !writing_begin(&d->file.w, d->path, d->e)) {
    pass_bytes(&d->file, magic, 8);
    pass(&d->file, head.size, 2);
    pass_bytes(&d->file, head.at, head.size);
  }
  bytes_free(&head);
}
static void npy_add(Dump *d, const real *x, idx n) {
  pass_numbers(&d->file, (real *)x, n, sizeof(real));
}

/* Of an older dump no array stays. */
static void dump_forget(const Dump *d) {
  Bytes names = {0}; char kind[16]; const char *folder = d->s->out;
  if (!d->e->status && !file_missing(d->path)) files_list(folder, &names, d->e);
  for (size_t at = 0; at < names.size; at += strlen((char *)names.at + at) + 1) {
    const char *path = (char *)names.at + at, *name = path + strlen(folder) + 1;
    const char *npy = strstr(name, ".npy");
    snprintf(kind, sizeof kind, " %.*s ", (int)strcspn(name, "."), name);
    if (npy && !npy[4] && strstr(" param grad q k z gate prenorm ", kind)) remove(path);
  }
  bytes_free(&names);
}

/* config.json: what makes the dump again, under the flags that take it. */
static void dump_config(Dump *d) {
  char value[PATH_ROOM]; Bytes out = {0};
  const char *kept = d->drawn ? "mlw init seed " : "mlw";
  d->s->groups = "mlw";   /* a MODEL takes none of them, yet option_idle reads them */
  for (const Option *o = OPTIONS; o->flag; o++) {
    option_text(o, d->s, value, sizeof value);
    if (option_find(o->flag, kept) != o || option_idle(o->flag, d->s)
        || option_set(o, d->s, value, true, &(Error){0})) continue;   /* no flag takes this value */
    bool word = o->kind == 'c' || !strcmp(value, "none");
    if (o->kind == 'b' && o->most == 1) strcpy(value, strcmp(value, "0") ? "true" : "false");
    bytes_print(&out, d->e, word ? "%s  \"%s\": \"%s\"" : "%s  \"%s\": %s",
                out.size ? ",\n" : "{\n", o->flag, value);
  }
  bytes_add(&out, "\n}\n", 3, d->e);
  snprintf(d->path, sizeof d->path, "%s/config.json", d->s->out);
  dump_forget(d);
  file_write(d->path, out.at, out.size, d->e);
  bytes_free(&out);
}

/* Lines of ids. starts: where in out each line that is not empty begins. */
static int ids_parse(const Bytes *text, const char *name, int vocab, Ids *out, Ids *starts,
                     Error *e) {
  int line = 1; bool begun = false;
  for (size_t i = 0; i < text->size && !e->status; i++) {
    int c = text->at[i];
    if (isdigit(c)) {
      int64_t id = c - '0';
      for (; i + 1 < text->size && isdigit(text->at[i + 1]) && id < vocab; i++)
        id = 10 * id + (text->at[i + 1] - '0');
      if (id >= vocab || out->size == INT32_MAX)
        return fail(e, 1, "%s:%d: expected ids below the vocabulary's %d, and below 2^31 of them. "
                    "Try: smaller or fewer ones", name, line, vocab);
      if (!begun) id_add(starts, (int32_t)out->size, e);
      id_add(out, (int32_t)id, e);
      begun = true;
    } else if (c == '\n') line++, begun = false;
    else if (!isspace(c) && c != ',')
      return fail(e, 1, "%s:%d: expected token ids. Try: numbers separated by blanks", name, line);
  }
  return e->status;
}

static int data_ids(Data *d, const char *path, int vocab, Error *e) {
  Bytes text = {0};
  *d = (Data){.vocab = vocab, .end = -1, .bos = -1, .fix = -1, .read = "all of it"};
  snprintf(d->name, sizeof d->name, "%s", path);
  if (!file_read(path, &text, e)) ids_parse(&text, path, vocab, &d->held, &d->starts, e);
  bytes_free(&text);
  return e->status;
}

static void dump_maps(Dump *d, const char *name, size_t field) {
  idx L = d->c->layers, H = d->c->heads, shape[] = {L, d->B, H, d->T, d->S};
  npy_begin(d, name, 5, shape);
  for (idx l = 0; l < L; l++) {
    const real *map = *(real *const *)((const char *)&d->a->probe[l] + field);
    for (idx bh = 1; bh <= d->B * H; bh++) npy_add(d, map + (bh * d->N - d->T) * d->S, d->T * d->S);
  }
}

static void dump_alpha(Dump *d) {
  idx L = d->c->layers, BH = d->B * d->c->heads, S = d->S;
  npy_begin(d, "alpha", 4, (idx[]){L, d->B, d->c->heads, S});
  for (idx i = 0; i < L * BH; i++) {
    const real *m = d->a->probe[i / BH].metric + i % BH * d->N * S;
    for (idx j = 0; j < S; j++)
      npy_add(d, &(real){(real)sink_alpha(d->c, (int)d->T, METRIC_REAL, m, j)}, 1);
  }
}

/* The last `rows` rows of an array [B,N,own,D], or [B,N,own] of rank 4, for each query head. */
static void dump_heads(Dump *d, const char *name, size_t field, idx own, idx rows, int rank) {
  idx L = d->c->layers, B = d->B, H = d->c->heads, D = rank == 5 ? d->c->head_dim : 1;
  npy_begin(d, name, rank, (idx[]){L, B, H, rows, D});
  for (idx i = 0; i < L * B * H * rows; i++) {   /* (l, b, h, n), in that order */
    idx h = i / rows % H, n = (i / rows / H % B + 1) * d->N - rows + i % rows;
    const char *layer = (const char *)&d->a->layer[i / rows / H / B];
    npy_add(d, *(real *const *)(layer + field) + (n * own + h / (H / own)) * D, D);
  }
}

static void dump_states(Dump *d) {
  const Config *c = d->c; const Acts *a = d->a;
  idx L = c->layers, B = d->B, H = c->heads, N = d->N, C = c->dim;
  npy_begin(d, "hidden", 4, (idx[]){L + 1, B, N, C});
  for (idx l = 0; l <= L; l++) npy_add(d, l < L ? a->layer[l].x : a->h, B * N * C);
  if (!d->s->all) return;
  bool post = c->place == PLACE_POST;
  if (post) npy_begin(d, "prenorm", 4, (idx[]){L, B, N, C});
  for (idx l = 0; post && l < L; l++) npy_add(d, a->layer[l].s2, B * N * C);
  bool value = c->gate == GATE_VALUE, each = value || c->gate == GATE_ELEMENT;
  dump_heads(d, "q", offsetof(LayerActs, q), H, N, 5);
  dump_heads(d, "k", offsetof(LayerActs, k), c->kv_heads, N, 5);
  if (c->gate)
    dump_heads(d, "gate", offsetof(LayerActs, gate), value ? c->kv_heads : H,
               value ? N : d->T, each ? 5 : 4);
}

static void dump_logits(Dump *d, const Model *m) {
  idx C = m->c.dim, V = m->c.vocab;
  real *y = grab(SLICE * V, sizeof(real), d->e);
  npy_begin(d, "logits", 3, (idx[]){d->B, d->T, V});
  for (idx b = 0; b < d->B; b++)
    for (idx t = 0, some; t < d->T && !d->e->status; t += some) {
      some = at_most(d->T - t, SLICE);
      model_logits(m, d->a, d->a->nf + ((b + 1) * d->N - d->T + t) * C, some, y);
      npy_add(d, y, some * V);
    }
  free(y);
}

static void dump_tensors(Dump *d, const Model *m, const char *what, const real *numbers) {
  for (const Tensor *t = m->tensor; numbers && t < m->tensor + m->n_tensors; t++) {
    char name[64];
    snprintf(name, sizeof name, "%s.%s", what, t->name);
    npy_begin(d, name, t->rank, (idx[]){t->shape[0], t->shape[1]});
    npy_add(d, numbers + t->at, t->count);
  }
}

/* Gives a maps that a forward fills. The caller frees them and a->probe. */
static real *maps_create(Acts *a, const Config *c, Error *e) {
  idx map = a->B * (idx)c->heads * config_rows(c, a->T) * config_columns(c, a->T);
  real *maps = grab(3 * c->layers * map, sizeof(real), e), *at = maps;
  a->probe = grab(c->layers, sizeof(Probe), e);
  for (int l = 0; l < c->layers && !e->status; l++, at += 3 * map)
    a->probe[l] = (Probe){.z = at, .weight = at + map, .metric = at + 2 * map};
  return maps;
}

/* A forward over B lines of T + 1 ids, and a backward where m has gradients. */
static void dump_run(Dump *d, Model *m, Acts *a, const Ids *file) {
  int B = (int)d->B, T = (int)d->T, *ids = grab(2 * (idx)B * T, sizeof(int), d->e);
  real *maps = maps_create(a, &m->c, d->e);
  d->a = a;
  dump_config(d);
  if (!d->e->status) {
    int *targets = ids + (idx)B * T;
    for (idx b = 0; b < B; b++)
      block_split(file->at + b * (T + 1), T, ids + b * T, targets + b * T);
    model_forward(m, a, ids, B, T);
    real loss = (real)model_loss(m, a, targets, B, T, m->grads, 1);
    dump_logits(d, m);   /* before the backward: it shares scratch */
    if (m->grads) model_backward(m, a, ids, B, T);
    npy_begin(d, "ids", 2, (idx[]){B, T + 1});
    for (size_t i = 0; i < file->size; i++) pass(&d->file, (uint32_t)file->at[i], 4);
    npy_begin(d, "loss", 0, NULL);
    npy_add(d, &loss, 1);
    dump_tensors(d, m, "param", m->params);
    dump_tensors(d, m, "grad", m->grads);
    dump_states(d);
    dump_maps(d, "attn", offsetof(Probe, weight));
    dump_maps(d, "metric", offsetof(Probe, metric));
    if (d->s->all) dump_maps(d, "z", offsetof(Probe, z));
    dump_alpha(d);
    npy_end(d);
    for (int b = 0; b < B && !isfinite(loss); b++)
      forward_fault(m, ids + b * (idx)T, T, d->e);
    if (!d->e->status) printf("loss=%.6f out=%s\n", loss, d->s->out);
  }
  free(ids); free(maps); free(a->probe); a->probe = NULL;
}

/* ==========
 * 12  The main job   Tables 4, 10 and 15 in small
 *
 * `sink run` trains one small model three times from one seed on the same tokens:
 *   softmax    the first token of every sequence fixed      Table 10: a sink on token 1
 *   k-bias     the same with a learned key k*, value 0      Table 4:  the sink moves to *
 *   sigmoid    the same without normalisation               Table 15: no sink, at equal loss
 * and ends with a verdict, by the rule that it states: of a column's alpha over that of even rows.
 *
 * A row of t sigmoids begins with the sum t/2, where softmax has 1. The scale brings it to that
 * size, and is a smaller start and rate of W_O (equation 42). At 1 the arm ends at 3.50 nats. */
static const double SHOWS = 2, ABSENT = 1.5, ALIKE = 0.05;

/* What the rule says of an alpha that is so many times what even rows give. */
static const char *by_rule(double times, const char *sink, const char *unclear, const char *none) {
  return times >= SHOWS ? sink : times < ABSENT ? none : unclear;
}

enum { ARMS = 3 };
static const Variant RUN_ARMS[ARMS] = {
  {"softmax", "", "Table 10", 0, 0},
  {"k-bias", "--extra k", "Table 4", 0, 0},
  {"sigmoid", "--sim sigmoid --normalizer one --scale 0.05", "Table 15", 0, 0}};

/* Training's defaults, but for these. */
#define RUN_STEPS "3000"
#define RUN_FLAGS "--init gpt2 --steps " RUN_STEPS " --fix-token 1"

static void run_table(const Outcome *o, const Settings *s, FILE *out, Error *e) {
  static const char *const LABEL[] = {"arm", "text", "read", NULL};
  Measured rows[ARMS] = {0}; int n = 0;   /* sequences, of an arm that did not diverge */
  fprintf(out, "\n%-8s %-9s", "arm", "paper");
  for (int k = 0; k < ROW; k++) fprintf(out, " %*s", ROW_COLUMNS[k].width, ROW_COLUMNS[k].head);
  fprintf(out, " %8s\n%18s", "sink", "");
  for (int k = 0; k < ROW; k++) fprintf(out, " %*s", ROW_COLUMNS[k].width, ROW_COLUMNS[k].below);
  fprintf(out, " %8s\n", "on 1?");
  for (int i = 0; i < ARMS; i++) {
    double row[ROW]; char text[32];
    sinks_row(&o[i].s, &o[i].c, o[i].loss, row);
    if (o[i].s.n) n = o[i].s.n;
    strcpy(rows[i].label[0], o[i].name), strcpy(rows[i].label[1], o[i].text);
    strcpy(rows[i].label[2], o[i].read);
    fprintf(out, "%-8s %-9s", o[i].name, o[i].source);
    for (int k = 0; k < ROW; k++) {
      fprintf(out, " %*s", ROW_COLUMNS[k].width, cell_text(text, &ROW_COLUMNS[k], row[k]));
      put(&rows[i].all, e, row[k], "%s", ROW_COLUMNS[k].name);
    }
    double times = row[TIMES_EVEN];
    fprintf(out, " %8s\n", isfinite(times) ? by_rule(times, "yes", "unclear", "no") : "-");
  }
  fprintf(out, "Sink: share of heads with alpha > %g, over %d sequences of %d tokens. alpha_1: "
          "mean share\nof token 1 in a row's weights; x even: its multiple of what even rows give. "
          "row mass: what\nthe weights of a row on tokens sum to. norm ratio: the largest ||h_1|| "
          "over the mean of\nthe others. valid loss: nats a token, over %lld tokens.\n"
          "Text: %s (%s).\n", s->eps, n, s->eval_T, o->tokens, o->text, o->read);
  rows_write(rows, ARMS, LABEL, s, e);
  for (int i = 0; i < ARMS; i++) result_free(&rows[i].all);
}

/* At up to ten looks of the first arm. An arm that is done and whose log is lost has none. */
static void run_history(const Outcome *o, FILE *out) {
  int n = o->p.looks, shown = n < 10 ? n : 10;
  fprintf(out, "\n%-17s", "x even at step");
  for (int k = 1; k <= shown; k++) fprintf(out, " %6ld", o->p.look[n * k / shown - 1].step);
  for (int i = 0; i < ARMS; i++) {
    fprintf(out, "\n%-8s %-8s", o[i].name, o[i].star ? "alpha_*" : "alpha_1");
    const Look *look = o[i].p.look, *end = look + o[i].p.looks;
    for (int k = 1; k <= shown; k++) {
      while (end - look > 1 && look->step < o->p.look[n * k / shown - 1].step) look++;
      double alpha = o[i].star ? look->alpha_star : look->alpha1;
      fprintf(out, look < end ? " %6.2f" : "      -", alpha / o[i].even);
    }
  }
  fprintf(out, "\n");
}

/* Shares of a row that hardly weighs say little: `heavy` counts a head by the mass of its rows. */
static void run_verdict(const Outcome *o, int steps, Bytes *out, Error *e) {
  const Sinks *s = &o[2].s; double row[ARMS][ROW], heavy = 0;
  for (int i = 0; i < ARMS; i++) sinks_row(&o[i].s, &o[i].c, o[i].loss, row[i]);
  double sink = row[0][TIMES_EVEN], left = row[1][TIMES_EVEN], sigmoid = row[2][TIMES_EVEN],
         star = row[1][ALPHA_STAR] / o[1].even, gap = o[2].loss - o[0].loss;
  for (int i = 0, first = config_column_first(&o[2].c); i < s->L * s->H; i++)
    heavy += s->alpha[i * s->S + first] * s->mass[i] / (o[2].even * s->heads * row[2][ROW_MASS]);
  bool there = sink >= SHOWS;
  const char *moved = star < SHOWS ? "none shows on the bias" : "one emerged on the bias";
  if (there)
    moved = star < SHOWS || left >= ABSENT ? "it did not move clearly" : "it moved onto the bias";
  bytes_print(out, e, "Verdict: under softmax a sink %s on the first token (alpha_1 %.1f times "
              "even), with a\nkey bias %s (alpha_* %.1f times, alpha_1 %.1f), and under "
              "sigmoid\nattention without normalisation %s (alpha_1 %.1f times even, %.1f with\n"
              "heads counted by their row mass, %.2f)",
              by_rule(sink, "emerged", "is unclear", "did not emerge"), sink, moved, star, left,
              by_rule(sigmoid, "one appeared", "it is unclear",
                      there ? "it failed to appear" : "none appeared"),
              sigmoid, heavy, row[2][ROW_MASS]);
  bytes_print(out, e, isnan(gap) ? ".\nNo loss was measured: too little text is held.\n"
              : " at %s loss (%+.3f nats).\n", gap > ALIKE ? "a higher" : gap < -ALIKE ? "a lower"
              : "equal", gap);
  if (steps < atoi(RUN_STEPS))
    bytes_print(out, e, "These are %d of the job's " RUN_STEPS " steps.\n", steps);
  bytes_print(out, e, "Rule, fixed before the run: a sink shows from %g times even, and is "
              "absent below %g;\nlosses within %g nats are equal.\n", SHOWS, ABSENT, ALIKE);
}

static void run_report(const Outcome *o, const Settings *s, FILE *out, Bytes *verdict, Error *e) {
  HeatMap maps[2 * ARMS]; int n = 0;
  Error files = {0};   /* must not cost the verdict */
  run_table(o, s, out, &files);
  for (int i = 0; i < ARMS; i++) {
    if (o[i].ended[0])
      bytes_print(verdict, e, "No verdict, since %s diverged: %s\n", o[i].name, o[i].ended);
    maps[n++] = (HeatMap){o[i].name, "token 1", &o[i].s, config_column_first(&o[i].c)};
    if (o[i].star) maps[n++] = (HeatMap){"", "*", &o[i].s, 0};
  }
  if (!verdict->size) {
    run_history(o, out);
    fprintf(out, "\nalpha by layer (down) and head (across)\n");
    heat_maps(maps, n, out);
    run_verdict(o, s->train.steps, verdict, e);
  }
  bytes_add(verdict, "", 1, e);
  if (!e->status) fprintf(out, "\n%s", verdict->at);
  if (files.status) fail(e, files.status, "%s", files.text);
}

/* Has the training diverged? That is a result: the error becomes why. */
static bool has_ended(char why[640], const Trainer *t, Error *e) {
  if (!e->status || interrupted || !isnan(t->loss)) return false;
  strcpy(why, e->text);
  *e = (Error){0};
  return true;
}

typedef char ArmFiles[2][PATH_ROOM];   /* an arm's checkpoint and log, "" without --out */

/* One arm, from the seed or from its files, to its numbers; the first's settings become *base. */
static void run_arm(Outcome *o, const Variant *arm, Settings *base, ArmFiles f, Error *e) {
  Settings s = *base; Trainer t; int starts;
  strcpy(s.out, f[0]), strcpy(s.log, f[1]);
  if (trainer_begin(&t, &s, arm->flags, e)) return;
  if (arm == RUN_ARMS) *base = t.s;
  o->name = arm->name; o->source = arm->source;
  outcome_begin(o, &t, t.s.eval_T);
  progress_start(&o->p, arm->name, base->quiet);
  if (!train_run(&t, &o->p, e) && !interrupted && !trained_loss(&o->loss, &t, HELD_BLOCKS, e))
    outcome_measure(o, &t, &t.s, &starts, e);
  has_ended(o->ended, &t, e);
  trainer_free(&t);
}

/* Where all of it goes: with --out into that folder, the page too. */
static int run_outputs(Settings *s, ArmFiles file[ARMS], Error *e) {
  const char *path[2 * ARMS + 3] = {s->csv, s->json, s->report};
  if (strlen(s->out) > 490)   /* run.html would be elsewhere */
    return fail(e, 2, "--out %.40s: this path is too long. Try: a shorter one", s->out);
  if (s->program->page && !s->report[0])
    snprintf(s->report, PATH_ROOM, "%.490s/run.html", s->out[0] ? s->out : "out");
  for (int i = 0; i < ARMS; i++) {
    path[2 * i + 3] = file[i][0], path[2 * i + 4] = file[i][1];
    if (!s->out[0]) continue;
    snprintf(file[i][0], PATH_ROOM, "%.490s/%s.ckpt", s->out, RUN_ARMS[i].name);
    snprintf(file[i][1], PATH_ROOM, "%.490s/%s.csv", s->out, RUN_ARMS[i].name);
  }
  return outputs_ready(s, path, 2 * ARMS + 3, e);
}

static int read_once(const Settings *s, Error *e) {
  return strcmp(s->data.text, "-") && strcmp(s->data.tokens, "-") && strcmp(s->ids, "-") ? 0
       : fail(e, 2, "-: it can be read once, and is needed more often. Try: a file");
}

/* --out keeps each arm's training, --resume goes on: an arm that is done is measured again, one not
 * there yet has the first one's settings. */
static int demo_run(const Settings *s, FILE *out, Error *e) {
  if (s->data.toy) return fail(e, 2, "--toy: run trains on text. Try: ./paper toy-trigger");
  if (read_once(s, e)) return e->status;
  Outcome *o = grab(ARMS, sizeof *o, e);
  ArmFiles file[ARMS] = {0};
  Settings base = *s; Bytes verdict = {0}; double start = seconds();
  base.eval_T = (int)at_most(base.eval_T, base.model.context);   /* unless said */
  if (!e->status) run_outputs(&base, file, e);
  for (int i = 0; i < ARMS && !e->status && !interrupted; i++)
    run_arm(&o[i], &RUN_ARMS[i], &base, file[i], e);
  if (!e->status && !interrupted) {
    run_report(o, &base, out, &verdict, e);
    fprintf(out, "%.0f s on %d thread%s.\n", seconds() - start, workers(),
            workers() > 1 ? "s" : "");
    if (!s->program->page) fprintf(out, "Curves and maps on a page: make run, or ./paper run\n");
    else if (!e->status && !s->program->page(base.report, "run", &base, o, ARMS, NULL,
                                             (const char *)verdict.at, e))
      fprintf(out, "The page: %s\n", base.report);
    for (int i = 0; i < ARMS; i++)
      if (o[i].ended[0]) fail(e, 1, "%s", o[i].ended);
  }
  for (int i = 0; o && i < ARMS; i++) sinks_free(&o[i].s);
  bytes_free(&verdict); free(o);
  if (interrupted)   /* between arms or in a measurement */
    fail(e, 1, "stopped by Ctrl-C: no verdict. Try: %s", s->out[0]
         ? "the same command with --resume" : "--out FOLDER, which --resume goes on with");
  return e->status;
}

/* ==========
 * PART IV   PLUMBING */

/* ==========
 * 13  Matrix multiply and vector maths
 *
 * Nine tenths of a training step is c[i][j] += a[i][p] * b[p][j]. Three plain loops reach a few
 * percent of a processor's peak. To feed it:
 * Lanes. One instruction works on a vector of neighbours in a row of B and of C: 4 floats on every
 * x86-64 and ARM machine, 8 with AVX2, 16 with AVX-512.
 * Registers. A multiply-add takes some 4 cycles and two begin in each, so 8 must be under way. The
 * sums of a tile of C are, in registers for DEPTH steps of p: 8 x 32 or 48 floats with AVX-512,
 * 6 x 16 with AVX2, 6 x 8 in plain x86-64, 8 x 8 on ARM.
 * Panels. B, and in a large product A, is packed one tile wide: a tile reads consecutive bytes.
 * Order. An element of C is a sum over DEPTH steps of p, added to C, then the next DEPTH, whatever
 * tile or task it falls in: one thread and sixteen give the same bits.
 *
 * GCC fuses multiplies and adds in its default mode, not under -std=c11 (fma_fuses tells). */

/* --- 13.1  Lanes: the only lines that know how to say "vector" to a compiler ---
 *
 * `bytes` is 16, 32 or 64 and constant. VECTOR(p) in a statement is the vector at p; as an argument
 * it would have another calling convention in every instance. Arrays only reached so live in
 * registers, where loops count 0, 1, 2, ..; with steps of `lanes` Clang does not unroll. */

#if defined(__GNUC__) && !defined(__TINYC__)
#define LANES(bytes) vector_size(bytes), aligned(sizeof(real)), may_alias
typedef real Lanes16 __attribute__((LANES(16)));
typedef real Lanes32 __attribute__((LANES(32)));
typedef real Lanes64 __attribute__((LANES(64)));
#define VECTOR(p) (*(L *)(p))
#define WITH_LANES(statement) \
    if (bytes == 64) { typedef Lanes64 L; statement; } \
    else if (bytes == 32) { typedef Lanes32 L; statement; } \
    else { typedef Lanes16 L; statement; }

#define FETCH(p, writes) __builtin_prefetch(p, writes)
typedef real Four __attribute__((LANES(4 * sizeof(real))));

/* {a0, b0, a1, b1} and {a2, b2, a3, b3}; GCC takes the order as integers of real's size. */
#ifdef __clang__
#define LOW(a, b) __builtin_shufflevector(a, b, 0, 4, 1, 5)
#define HIGH(a, b) __builtin_shufflevector(a, b, 2, 6, 3, 7)
#else
typedef __typeof__(_Generic((real)0, float: (int32_t)0, default: (int64_t)0)) FourOrder
    __attribute__((vector_size(4 * sizeof(real))));
#define LOW(a, b) __builtin_shuffle(a, b, (FourOrder){0, 4, 1, 5})
#define HIGH(a, b) __builtin_shuffle(a, b, (FourOrder){2, 6, 3, 7})
#endif

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
#define WITH_LANES(statement) \
    for (int lane = 0; lane < bytes / (int)sizeof(real); lane++) statement;

INLINE void transpose4(real *to, idx ldt, const real *from, idx ld) {
  for (idx p = 0; p < 4; p++)
    for (idx j = 0; j < 4; j++) to[p * ldt + j] = from[j * ld + p];
}
#endif

INLINE idx pieces(idx n, idx size) { return (n + size - 1) / size; }   /* rounded up */
INLINE Matrix matrix_from(Matrix a, idx i, idx j) {
  return (Matrix){a.at + i * a.row + j * a.col, a.row, a.col};
}

/* c += a b for one vector, with the same a in every lane; lane by lane; c = b. */
INLINE void lanes_axpy(int bytes, real *c, real a, const real *b) {
  WITH_LANES(VECTOR(c) += a * VECTOR(b))
}
INLINE void lanes_fma(int bytes, real *c, const real *a, const real *b) {
  WITH_LANES(VECTOR(c) += VECTOR(a) * VECTOR(b))
}
INLINE void lanes_copy(int bytes, real *c, const real *b) { WITH_LANES(VECTOR(c) = VECTOR(b)) }

/* to [n,m] = from [m,n] transposed: 16 by 4 at a time, a whole cache line of `to`, while one of
   the next 16 rows is fetched: cold rows take 0.8 of their time so. */
INLINE void transpose(real *to, idx ldt, const real *from, idx ld, idx m, idx n) {
  enum { BLOCK = 16 };
  idx n4 = n - n % 4;
  for (idx i = 0; i < m; i += BLOCK) {
    idx last = i + at_most(m - i, BLOCK), last4 = last - (last - i) % 4;
    for (idx j = 0; j < n4; j += 4)
      for (idx q = i; q < last4; q += 4) {
        FETCH(from + (q + BLOCK + j / 4 % 4) * ld + j, 0);
        transpose4(to + j * ldt + q, ldt, from + q * ld + j, ld);
      }
    for (idx q = i; q < last; q++)   /* what is left of these rows */
      for (idx p = q < last4 ? n4 : 0; p < n; p++) to[p * ldt + q] = from[q * ld + p];
  }
}

/* --- 13.2  The product --- */

enum {
  LANES_MAX = 64 / (int)sizeof(real),
  ROWS_MAX = 8, COLS_MAX = 3,   /* the largest tile, in rows and in vectors */
  TILE_MAX = ROWS_MAX * COLS_MAX * LANES_MAX,
  DEPTH = 1024 / (int)sizeof(real),   /* steps of p between two visits of C */
  SPREAD = 256, GROUP = 4,   /* columns of B, and tiles of rows of A, packed at a time */
  FEW_ROWS = 16, SOME_ROWS = 96,   /* up to so many rows B is read in place: always, or if */
  SMALL = 1 << 18,   /* its k rows span so many elements at most, a quarter if A is packed */
  BAND = 96, WAIT = 768, MANY = 192,   /* packed: rows of A; columns of B, at most, and at least */
  PACKING = 24,   /* multiply-adds that cost as much as packing a number */
  GRAIN = 1 << 21   /* multiply-adds that cost as much as waking threads */
};

typedef struct Product { real *c; idx ldc; Matrix a, b; idx m, n, k; bool add; } Product;

/* The rows of a whole tile, by its registers: AVX-512 and ARM have 32. And its width: packed rows
   have one address, which leaves room for sums. */
INLINE int tile_rows(int bytes) {
#ifdef __x86_64__
  return bytes == 64 ? 8 : 6;
#else
  return (void)bytes, 8;
#endif
}
INLINE int tile_width(int bytes, bool packed) {
  return (packed && bytes == 64 ? 3 : 2) * bytes / (int)sizeof(real);
}

/* A tile of `rows` rows and `cols` vectors of the row-major b; m and n of it lie in C. With
   `packed` A is a panel too, and C is fetched ahead. */
INLINE void tile(int bytes, const int rows, const int cols, bool packed, Product t) {
  int lanes = bytes / (int)sizeof(real), width = cols * lanes, parts = packed ? rows : 1;
  idx down = packed ? 1 : t.a.row;
  const real *a = t.a.at, *b = t.b.at;
  real sum[TILE_MAX] = {0}, out[TILE_MAX];   /* out: a variable index needs memory */
  for (idx part = 0, p = 0; part < parts; part++) {
    for (int v = 0; packed && part < t.m && v <= cols; v++)
      FETCH(t.c + part * t.ldc + at_most(v * lanes, t.n - 1), 1);
    idx end = part + 1 < parts ? (part + 1) * (t.k / (2 * rows)) : t.k;
    for (; p < end; p++, a += packed ? rows : t.a.col, b += t.b.row)
      for (idx i = 0; i < rows; i++)
        for (int v = 0; v < cols; v++)
          lanes_axpy(bytes, sum + i * width + v * lanes, a[i * down], b + v * lanes);
  }

  if (t.m == rows && t.n == width) {
    for (idx i = 0; i < rows; i++)
      for (int v = 0; v < cols; v++) {
        real *at = t.c + i * t.ldc + v * lanes, *s = sum + i * width + v * lanes;
        if (t.add) lanes_axpy(bytes, s, 1, at);
        lanes_copy(bytes, at, s);
      }
    return;
  }
  for (int i = 0; i < rows; i++)
    for (int v = 0; v < cols; v++)
      lanes_copy(bytes, out + i * width + v * lanes, sum + i * width + v * lanes);
  for (idx i = 0; i < t.m; i++, t.c += t.ldc)
    for (idx j = 0; j < t.n; j++) {
      real s = out[i * width + j];
      t.c[j] = t.add ? s + t.c[j] : s;
    }
}

INLINE void tile_that_fits(int bytes, bool packed, Product t) {
  int rows = tile_rows(bytes), lanes = bytes / (int)sizeof(real);
  bool tall = packed || t.m > rows / 2;
  if (bytes == 64 && packed && t.n > 2 * lanes) tile(bytes, rows, 3, packed, t);
  else if (tall && t.n > lanes) tile(bytes, rows, 2, packed, t);
  else if (tall) tile(bytes, rows, 1, packed, t);
  else if (t.n > lanes) tile(bytes, rows / 2, 2, packed, t);
  else tile(bytes, rows / 2, 1, packed, t);
}

/* Packs b[k,n] into panels of `width` columns: that of columns j .. j+width begins at to + j*k
   and holds its k rows one after the other, 0 where n has ended. For A, b is its transpose. */
INLINE void pack(real *to, const int width, Matrix b, idx n, idx k) {
  idx copied = b.col == 1 ? n - n % width : 0;
  for (idx p = 0; p < k; p++)
    for (idx j = 0; j < copied; j += width)
      memcpy(to + j * k + p * width, b.at + p * b.row + j, sizeof(real) * (size_t)width);

  for (idx j = copied; j < n; j += width) {
    idx nr = at_most(n - j, width);
    if (nr < width) zero(to + j * k, width * k);
    if (b.row == 1) transpose(to + j * k, width, b.at + j * b.col, b.col, nr, k);
    else
      for (idx p = 0; p < k; p++)
        for (idx q = 0; q < nr; q++) to[j * k + p * width + q] = b.at[p * b.row + j + q];
  }
}

/* A small product, k > 0. Few rows or a small B are not worth packing: B is read in place up to
   column `ready`. So are rows of A; a transposed A, a page a step, is packed a GROUP of tiles at a
   time, and so is a last tile that is not full. */
INLINE void product(int bytes, Product w) {
  int rows = tile_rows(bytes), width = tile_width(bytes, false), group = GROUP * rows;
  bool transposed = w.a.col != 1;
  bool small = w.m <= SOME_ROWS && w.k * w.b.row <= (transposed ? SMALL / 4 : SMALL);
  bool in_place = w.b.col == 1 && (w.m <= FEW_ROWS || small);
  _Alignas(64) real panels[DEPTH * SPREAD], packed[GROUP * ROWS_MAX * DEPTH];
  for (idx j0 = 0; j0 < w.n; j0 += SPREAD)
    for (idx p = 0; p < w.k; p += DEPTH) {
      idx n = at_most(w.n - j0, SPREAD), rest = n % width, k = at_most(w.k - p, DEPTH);
      /* A rest of half a tile needs no zeros. */
      idx ready = !in_place ? 0 : rest == width / 2 ? n : n - rest;
      pack(panels, width, matrix_from(w.b, p, j0 + ready), n - ready, k);
      for (idx i = 0; i < w.m; i += rows) {
        idx left = w.m - i, at = transposed ? i % group : 0;
        Matrix a = matrix_from(w.a, i, p);
        if (transposed || left < rows) {
          if (at == 0) pack(packed, rows, (Matrix){a.at, a.col, a.row}, at_most(left, group), k);
          a = transpose_of(packed + at * k, rows);
        }
        for (idx j = 0; j < n; j += width)
          tile_that_fits(bytes, false, (Product){
              w.c + i * w.ldc + j0 + j, w.ldc, a,
              j < ready ? rows_of(w.b.at + p * w.b.row + j0 + j, w.b.row)
                        : rows_of(panels + (j - ready) * k, width),
              at_most(left, rows), at_most(n - j, width), k, w.add || p > 0});
      }
    }
}

/* A large product. A panel of B stays in L1 while BAND packed rows of A pass by from L2, where
   `room` keeps WAIT columns of B for the next rows; where none follow, one panel. */
INLINE void product_packed(int bytes, Product w, real *room) {
  int rows = tile_rows(bytes), width = tile_width(bytes, true);
  _Alignas(64) real tall[BAND * DEPTH];
  for (idx j0 = 0; j0 < w.n; j0 += WAIT)
    for (idx p = 0; p < w.k; p += DEPTH)
      for (idx i0 = 0; i0 < w.m; i0 += BAND) {
        idx k = at_most(w.k - p, DEPTH), m = at_most(w.m - i0, BAND);
        idx end = at_most(w.n, j0 + WAIT);
        Matrix a = matrix_from(w.a, i0, p);
        pack(tall, rows, (Matrix){a.at, a.col, a.row}, m, k);
        for (idx j = j0; j < end; j += width) {
          idx n = at_most(end - j, width);
          real *panel = room + (w.m > BAND) * (j - j0) * k;
          if (i0 == 0) pack(panel, width, matrix_from(w.b, p, j), n, k);
          for (idx i = 0; i < m; i += rows)
            tile_that_fits(bytes, true, (Product){
                w.c + (i0 + i) * w.ldc + j, w.ldc, transpose_of(tall + i * k, rows),
                rows_of(panel, width), at_most(m - i, rows), n, k, w.add || p > 0});
        }
      }
}

/* --- 13.3  Vector maths ---

   libm works number by number. The functions below have no branches (`either`), so a loop over them
   becomes vector code. A span is one vector of the widest instance. The end of an array is a whole
   span too, so an element's bits do not depend on where it stands.

   Coefficients have the smallest maximal relative error (Remez's exchange in 40 digits). The
   largest errors over all floats (`make exhaustive`), in units in the last place (ulp), where
   rounding alone is 0.5, powers over every 61st float:
     exp 1.012   sigmoid 2.402   sqrt 0.760   Phi 4.757   log 0.5001   pow 0.529   tanh 2.603 */

enum { SPAN = 16, PARTS = 32 };
typedef enum VecOp {
  VEC_EXP, VEC_SIGMOID, VEC_SQRT, VEC_CUMULATIVE, VEC_LOG, VEC_TANH, VEC_POW
} VecOp;

#ifdef SINK_DOUBLE
#define exp_of exp
INLINE double sigmoid_of(double x) { return x < 0 ? exp(x) / (1 + exp(x)) : 1 / (1 + exp(-x)); }
#define sqrt_of sqrt
INLINE double cumulative_of(double x) { return erfc(-x * SQRT_HALF) / 2; }
#define log_of log
#define tanh_of tanh
INLINE double pow_of(double x, double p) { return pow(fabs(x), p); }
INLINE double either(bool first, double a, double b) { return first ? a : b; }
#else

/* first ? a : b. As written there the compiler might branch. */
INLINE float either(bool first, float a, float b) {
  uint32_t mask = 0u - (uint32_t)first;
  return float_of((bits_of(a) & mask) | (bits_of(b) & ~mask));
}
INLINE double either_double(bool first, double a, double b) {
  uint64_t mask = (uint64_t)0 - (uint64_t)first;
  return double_of((bits_of_double(a) & mask) | (bits_of_double(b) & ~mask));
}

/* e^x = 2^n e^r with n = round(x / ln 2) and |r| <= ln 2 / 2.
   n: adding 1.5 * 2^23 leaves no bits for a fraction; the sum's low bits are n.
   r: ln 2 = 355/512 - 2.1219444e-4; n times the first part is exact (8 + 9 bits).
   e^r - 1 = r + r^2 q(r), with an error of 3.2e-9 of e^r or 0.05 ulp. */
INLINE float exp_less_1(float x, uint32_t *n) {
  float shift = 0x1.8p23f, t = x * 1.44269504f + shift, m = t - shift;
  float r = x - m * 0.693359375f + m * 2.12194440e-4f;
  float q = 0x1.fffffcp-2f + r * (0x1.555492p-3f + r * (0x1.5558bp-5f
                + r * (0x1.123988p-7f + r * 0x1.6a4ca4p-10f)));
  *n = bits_of(t) - bits_of(shift);
  return r + r * r * q;
}

/* e^100 is infinite. e^-104 is 0, by choice: for a product that vanishes an Intel core takes 150
   cycles. 2^n, -150 <= n <= 144, exceeds a float's exponents, so it is multiplied in as two
   factors; only the second product can round. A NaN passes through p. */
INLINE float exp_of(float x) {
  float low = either(x < -104.0f, 0, x), z = either(low > 100.0f, 100.0f, low);
  uint32_t n;
  float p = 1 + exp_less_1(z, &n);
  uint32_t e = n + 254, half = e >> 1;   /* n + 2 * 127 */
  return either(x < -104.0f, 0, p * float_of(half << 23) * float_of((e - half) << 23));
}

/* 1 / (1 + e^-x), for x < 0 as e^x / (1 + e^x): nothing overflows, tiny results keep digits. */
INLINE float sigmoid_of(float x) {
  float e = exp_of(-fabsf(x));
  return either(x < 0, e, 1) / (1 + e);
}

/* sqrt(x) = x r with r = 1/sqrt(x). Halving the exponent in the bits of x gives r to 3.5 %.
   Newton's step r (3 - x r^2) / 2 takes an error e to 1.5 e^2, after three below rounding; then
   y + (x - y^2) r / 2. Below 2^-100, where bits get lost, x is scaled by 2^48 and y by 2^-24. */
INLINE float sqrt_of(float x) {
  uint32_t tiny = 0u - (uint32_t)(x < 0x1p-100f);   /* all ones if so */
  float z = x * float_of(bits_of(1) + (tiny & (48u << 23))), h = 0.5f * z;
  float r = float_of(0x5F375A86u - (bits_of(z) >> 1));
  r = r * (1.5f - h * r * r);
  r = r * (1.5f - h * r * r);
  r = r * (1.5f - h * r * r);
  float y = z * r;
  float s = (y + 0.5f * r * (z - y * y)) * float_of(bits_of(1) - (tiny & (24u << 23)));
  return either(x < 0, (float)NAN, either(x <= 0x1.fffffep127f, s, x));
}

/* Phi(x), with y = |x|: Phi(-y) = e^(-y^2 / 2) R(y), and Phi(y) = 1 - Phi(-y). Phi(-15) is 0.
   e^: low is what rounding y^2 loses, from the upper half h of y's digits and the lower half d,
   whose products are exact; a factor 1 - low / 2 puts it back.
   R: (y + 3.5) R(y) is a polynomial in u = (y - 3.5) / (y + 3.5), which takes [0, 15] to
   [-1, 0.62], with a relative error of 8.0e-9 or 0.13 ulp. */
INLINE float cumulative_of(float x) {
  float size = fabsf(x), y = either(size > 15.0f, 15.0f, size);
  float h = float_of(bits_of(y) & 0xFFFFF000u), d = y - h, square = y * y;
  float low = 2 * h * d + d * d - (square - h * h), e = exp_of(-0.5f * square);
  float t = 1 / (y + 3.5f), u = 2 * y * t - 1;   /* has its digits near y = 0 */
  float R = t * (0x1.7d241ap-1f + u * (-0x1.21914ep-1f + u * (0x1.42feccp-2f
                + u * (-0x1.db5a92p-4f + u * (0x1.1d2d4ep-6f + u * (0x1.a992aap-8f
                + u * (-0x1.9fde6ap-9f + u * (-0x1.038b12p-11f + u * (0x1.b6a45ap-12f
                + u * 0x1.c7e3dap-14f)))))))));
  float below = (e - e * (0.5f * low)) * R;
  return either(x < 0, below, 1 - below);
}

/* log2 x for x >= 0, in double, where every float is a normal number. x = 2^n m with m from
   sqrt(1/2) to sqrt(2): n is what stands in the exponent of x / sqrt(1/2); 1024 keeps it positive.
   log2 m = s P(s^2), s = (m - 1) / (m + 1), to 4.2e-12. log2 0 is finite: times 0 it gives 0. */
INLINE double log2_of(double x) {
  uint64_t root = 0x3FE6A09E667F3BCDu, bias = (uint64_t)1024 << 52;   /* sqrt(1/2) */
  uint64_t b = bits_of_double(x) + bias, e = (b - root) >> 52;   /* n + 1024 */
  double n = double_of(e | bits_of_double(0x1p52)) - (0x1p52 + 1024);
  double m = double_of(b - (e << 52)), s = (m - 1) / (m + 1), z = s * s;
  double log2 = n + s * (2.8853900817900862 + z * (0.96179667334179749
              + z * (0.57708358496515137 + z * (0.41167271899777669 + z * 0.34073010658534338))));
  return either_double(x == 0, -0x1p1000, either_double(x < 0x1p128, log2, x));
}
INLINE float log_of(float x) {
  return either(x < 0, (float)NAN, (float)(log2_of((double)x) * 0.69314718055994531));
}

/* tanh |x| = u / (u + 2) with u = e^(2|x|) - 1 = 2^n (e^r - 1) + 2^n - 1: near 0, where n is 0, u
   has all its digits. From |x| = 10 on it is 1. */
INLINE float tanh_of(float x) {
  float size = 2 * fabsf(x), y = either(size > 20.0f, 20.0f, size);
  uint32_t n;
  float p = exp_less_1(y, &n), power = float_of((n + 127) << 23);   /* 2^n */
  float u = power * p + (power - 1);
  return either(x < 0, -1, 1) * (u / (u + 2));
}

/* |x|^p = 2^(n + f) with n + f = p log2 |x|, |f| <= 1/2, in double, for a float has too few digits
   for it. 2^f has a relative error of 1.9e-9; beyond +-160 a float is 0 or infinite. */
INLINE float pow_of(float x, float p) {
  double shift = 0x1.8p52, L = (double)p * log2_of((double)fabsf(x));
  double low = either_double(L < -160, -160, L), z = either_double(low > 160, 160, low);
  double t = z + shift, f = z - (t - shift);   /* n in t's bits */
  double q = 1.0000000005543519 + f * (0.69314720573795455 + f * (0.24022646890500643
           + f * (0.055503287760615288 + f * (0.0096184889379913822
           + f * (0.0013399931513208265 + f * 0.00015345820883833847)))));
  return (float)(q * double_of((bits_of_double(t) + 1023) << 52));
}
#endif

#define FILL(value) for (int l = 0; l < SPAN; l++) y[l] = value;
INLINE void span(VecOp op, real *y, const real *x, real p) {
  if (op == VEC_EXP) FILL(exp_of(x[l] - p))
  else if (op == VEC_SIGMOID) FILL(sigmoid_of(x[l]))
  else if (op == VEC_SQRT) FILL(sqrt_of(x[l]))
  else if (op == VEC_CUMULATIVE) FILL(cumulative_of(x[l]))
  else if (op == VEC_LOG) FILL(log_of(x[l]))
  else if (op == VEC_TANH) FILL(tanh_of(x[l]))
  else FILL(pow_of(x[l], p))
}

/* y = op(x) for n >= SPAN; y may be x. The last span, which overlaps another, is computed first. */
INLINE void map(VecOp op, idx n, real *y, const real *x, real p) {
  real some[SPAN], last[SPAN];
  span(op, last, x + n - SPAN, p);
  for (idx i = 0; i < n - SPAN; i += SPAN) {
    span(op, some, x + i, p);
    memcpy(y + i, some, sizeof some);
  }
  memcpy(y + n - SPAN, last, sizeof last);
}

/* s[0..half) takes in s[half..2 half): its sums, or the larger of each two. */
INLINE void fold_half(real *s, const int half, bool largest) {
  if (largest) for (int l = 0; l < half; l++) s[l] = s[l + half] > s[l] ? s[l + half] : s[l];
  else for (int l = 0; l < half; l++) s[l] += s[l + half];
}
INLINE real fold_tree(real *s, bool largest) {
  fold_half(s, 16, largest); fold_half(s, 8, largest); fold_half(s, 4, largest);
  fold_half(s, 2, largest); fold_half(s, 1, largest);
  return s[0];
}

/* The n elements before `end`, n < PARTS, as the last of rest [PARTS], and 0 before them. */
INLINE void rest_of(real *rest, const real *end, int n) {
  for (int l = 0; l < PARTS; l++) rest[l] = either(l < PARTS - n, 0, end[l - PARTS]);
}

INLINE void fold_add(int bytes, real *s, const real *x, const real *y) {
  for (int v = 0, lanes = bytes / (int)sizeof(real); v < PARTS / lanes; v++)
    if (y) lanes_fma(bytes, s + v * lanes, x + v * lanes, y + v * lanes);
    else lanes_axpy(bytes, s + v * lanes, 1, x + v * lanes);
}
/* sum_i x_i, or sum_i x_i y_i where y is given, for n >= PARTS. Each of PARTS sums takes every
   PARTS-th, of the rest one at most: a single sum would wait for each addition. */
INLINE real fold_sum(int bytes, idx n, const real *x, const real *y) {
  real s[PARTS] = {0}, x_rest[PARTS], y_rest[PARTS];
  for (idx i = 0; i + PARTS <= n; i += PARTS) fold_add(bytes, s, x + i, y ? y + i : NULL);
  rest_of(x_rest, x + n, (int)(n % PARTS));
  if (y) rest_of(y_rest, y + n, (int)(n % PARTS));
  fold_add(bytes, s, x_rest, y ? y_rest : NULL);
  return fold_tree(s, false);
}

/* max_i x_i for n >= PARTS; an element met twice changes nothing. */
INLINE real fold_max(idx n, const real *x) {
  real s[PARTS];
  for (int l = 0; l < PARTS; l++) s[l] = -(real)INFINITY;
  for (; n >= PARTS; n -= PARTS, x += PARTS)
    for (int l = 0; l < PARTS; l++) s[l] = x[l] > s[l] ? x[l] : s[l];
  for (int l = 0; l < PARTS; l++) s[l] = x[n - PARTS + l] > s[l] ? x[n - PARTS + l] : s[l];
  return fold_tree(s, true);
}

/* --- 13.4  One instance per instruction set, and the choice among them --- */

Isa isa_best(void) {
  if (!PROCESSOR_HAS("avx2") || !PROCESSOR_HAS("fma")) return ISA_BASE;
  return PROCESSOR_HAS("avx512f") ? ISA_AVX512 : ISA_AVX2;
}

INSTANCES(void, product_for, (Product p), product(BYTES, p))
INSTANCES(void, packed_for, (Product p, real *room), product_packed(BYTES, p, room))
/* exp, the most used, has its own loop: a fifth faster. */
INSTANCES(void, map_for, (VecOp op, idx n, real *y, const real *x, real p),
          if (op == VEC_EXP) map(VEC_EXP, n, y, x, p); else map(op, n, y, x, p))
INSTANCES(real, fold_for, (bool largest, idx n, const real *x, const real *y),
          return largest ? fold_max(n, x) : fold_sum(BYTES, n, x, y))

/* On this thread, the empty sum included. */
static void product_here(Isa isa, Product p) {
  if (p.k > 0) product_for[isa](p);
  else if (!p.add) for (idx i = 0; i < p.m; i++) zero(p.c + i * p.ldc, p.n);
}

/* Each thread gets a part of C, cut so that the largest costs least. Packing A pays with MANY
   columns, on a Xeon with 128 not yet. */
static void matmul_at(Isa isa, real *c, idx ldc, Matrix a, Matrix b, idx m, idx n, idx k,
                      bool add) {
  int rows = tile_rows(16 << isa), width = tile_width(16 << isa, true);
  if ((double)m * (double)n * (double)k < GRAIN) {
    product_here(isa, (Product){c, ldc, a, b, m, n, k, add});
    return;
  }
  idx across = 1, wide = n, high = m, threads = workers(), least = m * n + PACKING * (m + n);
  for (idx i = 1; i <= threads; i++) {
    idx x = at_most(n, pieces(pieces(n, i), width) * width);
    idx y = at_most(m, pieces(pieces(m, threads / i), rows) * rows);
    idx cost = x * y + PACKING * (x + y);
    if (cost < least) least = cost, across = i, wide = x, high = y;
  }
  idx each = (at_most(wide, WAIT) + width) * DEPTH;
  real *room = m > FEW_ROWS && n >= MANY
             ? malloc((size_t)(threads * each + LANES_MAX) * sizeof(real)) : NULL;
  idx skip = (idx)(-(uintptr_t)room % 64 / sizeof(real));   /* to a cache line */
  PARALLEL
  for (idx task = 0; task < threads; task++) {
    idx i = task / across * high, j = task % across * wide;
    if (i >= m || j >= n) continue;
    Product part = {c + i * ldc + j, ldc, matrix_from(a, i, 0), matrix_from(b, 0, j),
                    at_most(m - i, high), at_most(n - j, wide), k, add};
    if (room) packed_for[isa](part, room + skip + task * each);
    else product_here(isa, part);
  }
  free(room);
}

void matmul(real *c, idx ldc, Matrix a, Matrix b, idx m, idx n, idx k, bool add) {
  matmul_at(isa_best(), c, ldc, a, b, m, n, k, add);
}

/* On the calling thread alone, inside parallel loops. Takes 288 KiB of stack. */
static void matmul_here(real *c, idx ldc, Matrix a, Matrix b, idx m, idx n, idx k, bool add) {
  product_here(isa_best(), (Product){c, ldc, a, b, m, n, k, add});
}

/* -1 + (1 + eps)(1 - eps) is 0 when the product is rounded first, and -eps^2 fused. */
bool fma_fuses(Isa isa) {
  const real a[2] = {1, 1 + (real)REAL_EPS}, b[2] = {-1, 1 - (real)REAL_EPS};
  real c;
  matmul_at(isa, &c, 1, rows_of(a, 2), rows_of(b, 1), 1, 1, 2, false);
  return c != 0;
}

static void vec_map_at(Isa isa, VecOp op, idx n, real *y, const real *x, real p) {
  real few[SPAN] = {0};
  if (n >= SPAN) { map_for[isa](op, n, y, x, p); return; }
  copy(few, x, n);
  map_for[isa](op, SPAN, few, few, p);
  copy(y, few, n);
}
#define MAPS(name, op) \
    void name(idx n, real *y, const real *x) { vec_map_at(isa_best(), op, n, y, x, 0); }
MAPS(vec_sigmoid, VEC_SIGMOID) MAPS(vec_sqrt, VEC_SQRT)
MAPS(vec_cumulative, VEC_CUMULATIVE) MAPS(vec_log, VEC_LOG) MAPS(vec_tanh, VEC_TANH)
void vec_exp(idx n, real *y, const real *x, real less) {
  vec_map_at(isa_best(), VEC_EXP, n, y, x, less);
}
void vec_pow(idx n, real *y, const real *x, real p) { vec_map_at(isa_best(), VEC_POW, n, y, x, p); }

static real fold_any(bool largest, idx n, const real *x, const real *y) {
  real few[PARTS], factors[PARTS] = {0}, none = largest ? -(real)INFINITY : 0;
  if (n >= PARTS) return fold_for[isa_best()](largest, n, x, y);
  for (idx l = 0; l < PARTS; l++) few[l] = l < n ? x[l] : none;
  if (y) copy(factors, y, n);
  return fold_for[isa_best()](largest, PARTS, few, y ? factors : NULL);
}

real vec_sum(idx n, const real *x) { return fold_any(false, n, x, NULL); }
real vec_max(idx n, const real *x) { return fold_any(true, n, x, NULL); }
real vec_dot(idx n, const real *x, const real *y) { return fold_any(false, n, x, y); }

WIDE(vec_add, (idx n, real *restrict y, const real *restrict x), (n, y, x)) {
  for (idx j = 0; j < n; j++) y[j] += x[j];
}
WIDE(vec_multiply, (idx n, real *restrict y, const real *restrict x), (n, y, x)) {
  for (idx j = 0; j < n; j++) y[j] *= x[j];
}
WIDE(vec_scale, (idx n, real *y, real a), (n, y, a)) { for (idx j = 0; j < n; j++) y[j] *= a; }

void zero(real *x, idx n) { if (n > 0) memset(x, 0, (size_t)n * sizeof(real)); }
void copy(real *y, const real *x, idx n) { if (n > 0) memcpy(y, x, (size_t)n * sizeof(real)); }

/* Single numbers: libm in double, rounded once. */
real real_exp(real x) { return (real)exp(x); }
real real_log(real x) { return (real)log(x); }
real real_pow(real x, real y) { return (real)pow(x, y); }
real real_abs(real x) { return x < 0 ? -x : x; }

/* ==========
 * 14  Attention in tiles, with a cache
 *
 * The numbers of 3.7 as matrix multiplies. A head goes down its rows in tiles of R <= TILE queries,
 * and a tile meets all n = hi - lo keys that any of its queries sees. Forward: q k^T and a v, with
 * 3.6 row by row between. Backward: z again, da = do v^T, dq = dz k, dk += dz^T q, dv += a^T do.
 *
 * FlashAttention (Dao et al. 2022) cuts the keys too (online softmax). Here 3.6 takes whole rows,
 * whatever sim and Z; scratch: 4.8 MB a thread for D = 96, N = 2048. Test: tiles__as_plain. */
enum { TILE = 32 };

/* A task's sizes and scratch. k and v transposed let a product read its right factor by rows. Of a
   long sequence x, dk and dv are copies: in place, a head's rows are up to a page apart. */
typedef struct Tile {
  idx N, D, ld, row;   /* rows; head width; length of a row of the maps; of x, dk and dv */
  real *kt, *vt;   /* [D,ld] [D,ld] */
  real *x, *dk, *dv;   /* [N,D]; x: v or, backward, k */
  real *z, *a, *da;   /* [TILE,ld] each; z becomes a or, backward, dz in place */
  real *deriv, *dlogz, *y;   /* [ld] each, of one row: s'/Z, log Z's gradient; y of row_scores */
} Tile;

/* Of 1 + N numbers, so that the second, key 0, begins a cache line in every row. */
static idx tile_row(idx N) { return (N + 16) / 16 * 16; }
static idx tile_size(const Config *c, idx N) {   /* leaving needs 3 D; no cache line is shared */
  return (5 * c->head_dim + 3 * TILE + 3) * tile_row(N) + 64;
}

/* This thread's piece of scratch, for N <= a->N rows. */
static Tile tile_of(const Config *c, const Acts *a, idx N, const real *k, real *x) {
  idx D = c->head_dim, ld = tile_row(N), size = D * ld, tile = TILE * ld, row = c->kv_heads * D;
  Tile t = {.N = N, .D = D, .ld = ld, .kt = attention_scratch(a), .x = x, .row = row};
  t.vt = t.kt + size;   t.z = t.vt + size + 15;   t.a = t.z + tile;   t.da = t.a + tile;
  t.deriv = t.da + tile;   t.dlogz = t.deriv + ld;   t.y = t.dlogz + ld;
  transpose(t.kt, ld, k, row, N, D);
  if (a->past || N <= 2 * DEPTH) return t;
  t.x = t.y + ld + 1;   t.dk = t.x + size;   t.dv = t.dk + size;   t.row = D;
  for (idx j = 0; j < N; j++) copy(t.x + j * D, x + j * row, D);
  return t;
}

/* The keys [lo,hi) that rows i0 <= i < i1 see, and, masked, those between a prefix and a window. */
typedef struct Span { idx lo, hi; } Span;
static Span span_of(const Config *c, int l, idx N, idx i0, idx i1) {
  int w = config_window(c, l), first = c->sink_token;
  Span s = {.lo = w && i0 - w + 1 > 0 ? i0 - w + 1 : 0, .hi = i1};
  if (c->prefix) {
    if (s.lo > first) s.lo = first;
    if (s.hi < first + c->prefix) s.hi = at_most(first + c->prefix, N);
  }
  return s;
}

/* How many of the tile's columns row i reads: up to its key, or the prefix's last. */
static idx row_columns(const Config *c, int l, idx N, Span tile, idx i) {
  return span_of(c, l, N, i, i + 1).hi - tile.lo;
}

/* Scores of rows [i0,i1) of head h into t->z, behind a place for *: row_columns each. q: row i0. */
static void tile_scores(const Model *m, const Acts *a, int l, idx h, const Tile *t, const real *q,
                        Span span, idx i0, idx i1) {
  const Config *c = &m->c;
  const real *bias = head_bias(a, h);
  idx w = config_window(c, l);
  matmul_here(t->z + 1, t->ld, rows_of(q, c->heads * t->D), rows_of(t->kt + span.lo, t->ld),
              i1 - i0, span.hi - span.lo, t->D, false);
  for (idx i = i0; i < i1; i++) {
    real *keys = t->z + (i - i0) * t->ld + 1;   /* keys[j] is key lo + j */
    idx seen = row_columns(c, l, t->N, span, i);
    vec_scale(seen, keys, score_scale(c, l));
    if (bias) vec_add(seen, keys, bias + span.lo - i);   /* a run of the table */
    for (idx j = span.lo; w && j < i - w + 1; j++)   /* what lies behind the window */
      if (!visible(c, l, i, j)) keys[j - span.lo] = -INFINITY;
    for (idx j = i + 1; c->prefix && j < c->sink_token; j++)   /* x* ahead, before the prefix */
      keys[j - span.lo] = -INFINITY;
  }
}

/* A row's z, a and m [1+n], of * and span's keys, into a probe's maps [B,H,N,S]; the rest is 0. */
static void probe_row(const Config *c, const Probe *p, idx row, idx N, Span span, const real *z,
                      const real *a, const real *m) {
  idx extra = c->extra ? 1 : 0, S = extra + N;
  const real *from[] = {z, a, m};
  real *map[] = {p->z, p->weight, p->metric}, factor[] = {1, (real)c->scale, 1};
  for (idx k = 0; k < 3; k++) {
    if (!map[k]) continue;
    real *to = map[k] + row * S, *keys = to + extra;
    zero(to, S);
    if (z[0] != -INFINITY) to[0] = factor[k] * from[k][0];
    for (idx j = span.lo; j < span.hi; j++)
      if (z[1 + j - span.lo] != -INFINITY) keys[j] = factor[k] * from[k][1 + j - span.lo];
  }
}

/* The rows under --plain, whose forward keeps no map, are made once more. */
void plain_probe(const Model *m, const Acts *a, int l, int B, idx N) {
  const Config *c = &m->c;
  const LayerActs *la = &a->layer[l];
  idx D = c->head_dim, H = c->heads, K = c->kv_heads;
  PARALLEL
  for (idx bh = 0; bh < B * H; bh++) {
    idx h = bh % H, first = bh / H * N;   /* the sequence's first row */
    const real *k = la->fk + (first * K + h / (H / K)) * D;
    real *z = attention_scratch(a), *row = z + N + 1, *spare = row + N + 1;
    for (idx i = 0; i < N; i++) {
      const real *q_i = la->fq + ((first + i) * H + h) * D;
      idx seen = row_scores(m, a, l, bh / H, h, N, i, q_i, k, z, NULL);
      copy(row, z, N + 1);
      real row_stat = row_forward(c, N + 1, seen, row, spare);
      row_metric(c, N + 1, row, row_stat, spare);
      row_clip(c, N + 1, row);
      probe_row(c, &a->probe[l], bh * N + i, N, (Span){0, N}, z, row, spare);
    }
  }
}

/* ABLATIONS. eval --ablate takes one column j from all rows but j's own, in all blocks and heads:
 *   key      z_ij = -infinity      i spreads its weight over what else it sees
 *   value    o_i loses a_ij v_j    the weight is still spent, and buys nothing
 *   mean     v_j becomes the mean of the sequence's v
 * Returns which column of a tile's row i is ablated, 0 for *, -1 for none. own: the row's keys. */
static idx ablated_column(const Acts *a, idx b, idx i, Span own) {
  idx j = a->ablation ? a->ablation->column[b] : i;
  if (j < 0) return 0;
  return j != i && j >= own.lo && j < own.hi ? 1 + j - own.lo : -1;
}

/* Head h forward: rows a->past .. N-1, those before being cached. Row i is row i of k and v, and
 * row i - past of q, o, row_stat and the maps. Tiles begin at multiples of TILE wherever the rows
 * begin, so a row made from a cache has the bits of the whole forward. */
static void tiled_head(const Model *m, Acts *a, int l, idx b, idx h, const Tile *t) {
  const Config *c = &m->c;
  const Layer *w = &m->w.layer[l];
  const LayerActs *la = &a->layer[l];
  idx D = t->D, N = t->N, ld = t->ld, R = N - a->past, Qw = c->heads * D;
  idx row0 = (b * c->heads + h) * R - a->past;
  idx q0 = (b * R - a->past) * Qw + h * D;   /* row 0's place, were it there */
  const real *vstar = extra_value(c, w, a, h);
  /* what an ablation takes from each row's weight goes to the mean v, or nowhere */
  real taken[TILE], *mean = a->ablation && a->ablation->what == ABLATE_VALUE1_MEAN ? t->vt : NULL;
  if (mean) {   /* vt is free: it is the backward's */
    zero(mean, D);
    for (idx j = 0; j < N; j++) vec_add(D, mean, t->x + j * t->row);
    vec_scale(D, mean, (real)(1 / (double)N));
  }
  for (idx i0 = a->past, i1; i0 < N; i0 = i1) {
    idx start = i0 - i0 % TILE;
    i1 = at_most(start + TILE, N);
    Span span = span_of(c, l, N, start, i1);
    idx n = span.hi - span.lo;
    tile_scores(m, a, l, h, t, la->fq + (q0 + i0 * Qw), span, i0, i1);
    for (idx i = i0; i < i1; i++) {   /* a = s/Z */
      real *row = t->z + (i - i0) * ld;
      idx seen = row_columns(c, l, N, span, i), keys = keys_seen(c, l, N, i);
      Span own = {span.lo, span.lo + seen};
      if (a->hide) keys -= a->hide(a, l, b, i, own.lo, seen, row + 1);
      row[0] = extra_score(m, l, h, keys, la->fq + q0 + i * Qw);
      if (config_score_mod(c)) BEYOND.scores(c, w, h, keys, seen, row + 1, NULL);
      idx cut = ablated_column(a, b, i, own);
      if (cut >= 0 && a->ablation->what == ABLATE_KEY1) row[cut] = -INFINITY;
      if (a->probe) copy(t->a, row, seen + 1);
      real row_stat = la->row_stat[row0 + i] = row_forward(c, seen + 1, keys, row, t->deriv);
      zero(row + 1 + seen, n - seen);   /* the product takes all n columns */
      if (a->probe) row_metric(c, seen + 1, row, row_stat, t->dlogz);
      row_clip(c, seen + 1, row);
      if (a->probe) probe_row(c, &a->probe[l], row0 + i, N, own, t->a, row, t->dlogz);
      taken[i - i0] = cut < 0 ? 0 : row[cut];
      if (cut >= 0) row[cut] = 0;
    }
    matmul_here(la->av + (q0 + i0 * Qw), Qw, rows_of(t->z + 1, ld),
                rows_of(t->x + span.lo * t->row, t->row), i1 - i0, D, n, false);
    for (idx i = i0; i < i1; i++) {   /* o = scale (a v + a_* v*) */
      real *o_i = la->av + (q0 + i * Qw);
      if (vstar) add_times(D, o_i, t->z[(i - i0) * ld], vstar);
      if (mean) add_times(D, o_i, taken[i - i0], mean);
      vec_scale(D, o_i, (real)c->scale);
    }
  }
}

/* THREADS OF A PASS. A parallel loop ends with its last thread. Waiting threads spin: where
 * another program takes a core, a step of 17 ms lasts 700. So passes run on one thread less while
 * that is faster: the second one tries it. All are tried again after 16 to 256 times what they
 * took. While wait is 0 one slow forward is forgiven. */
static void take_less(struct Pace *p, bool less) {
  if (less == p->less) return;
  set_workers(workers() + (less ? -1 : 1));
  p->less = less;
  p->last = INFINITY;
}
static void pace(struct Pace *p, double took, double now) {
  p->took[p->less] = p->wait < 1 ? fmin(took, p->last) : took;
  p->last = took;
  if (p->took[1] == 0) take_less(p, true);
  else if (p->took[0] < p->took[1]) {
    take_less(p, false);
    p->wait *= 0.98;
  } else if (!p->less) {
    p->wait = fmin(fmax(2 * p->wait, 16), 256);
    p->retry = now + p->wait * took;
    take_less(p, true);
  }
}

/* attention_forward (3.7) of R rows of q, o and row_stat against N = past + R rows of k and v. */
void tiled_forward(const Model *m, Acts *a, int l, int B, idx R) {
  idx D = m->c.head_dim, K = m->c.kv_heads, group = m->c.heads / K, N = a->past + R;
  struct Pace *p = &a->pace;
  if (l == 0) {
    p->began = seconds();
    if (p->wait > 0 && p->began > p->retry) take_less(p, false);
  }
  PARALLEL
  for (idx task = 0; task < B * K; task++) {
    idx b = task / K, kh = task % K, k0 = (b * N * K + kh) * D;
    Tile t = tile_of(&m->c, a, N, a->layer[l].fk + k0, a->layer[l].v + k0);
    for (idx h = kh * group; h < (kh + 1) * group; h++) tiled_head(m, a, l, b, h, &t);
  }
  double now = seconds();
  if (l == m->c.layers - 1 && (workers() > 1 || p->less)) pace(p, now - p->began, now);
}

/* dz = s'/Z da - dlogz delta for a row, with the scale in da and in delta. */
WIDE(row_gradient,
     (idx n, real *restrict dz, const real *restrict deriv, const real *restrict dlogz,
      const real *restrict da, real scale, real delta), (n, dz, deriv, dlogz, da, scale, delta)) {
  for (idx j = 0; j < n; j++) dz[j] = deriv[j] * (scale * da[j]) - dlogz[j] * delta;
}

/* head_backward (3.7) for a tile from row i0: da of all rows; z, a, delta, dz row by row; dq, and a
 * part of dk and dv, of all again. The scale, there in da, is here in delta, dz and a. */
static void tile_backward(const Model *m, Acts *a, int l, idx b, idx h, const Tile *t, idx i0) {
  const Config *c = &m->c;
  const Layer *w = &m->w.layer[l];
  const LayerActs *la = &a->layer[l];
  idx D = t->D, N = t->N, ld = t->ld, R = at_most(N - i0, TILE), bh = b * c->heads + h;
  idx Qw = c->heads * D, q0 = (b * N + i0) * Qw + h * D;
  Span span = span_of(c, l, N, i0, i0 + R);
  idx n = span.hi - span.lo, row = t->row, from = span.lo * row;
  const real *kstar = extra_key(c, w, h), *vstar = extra_value(c, w, a, h);
  const real *q = la->fq + q0, *dout = a->dout + q0;   /* [R,D]: the tile's rows */
  real *dq = a->dq + q0, scale = (real)c->scale;
  real *dkstar = a->slot + bh * slot_size(c), *dvstar = dkstar + D, *dlogit = dkstar + 4 * D;
  real *dbias = a->dbias ? a->dbias + bh * (2 * N - 1) + N - 1 : NULL;
  /* o_i = scale (sum_j a_ij v_j + a_i* v*), but for the scale */
  matmul_here(t->da + 1, ld, rows_of(dout, Qw), rows_of(t->vt + span.lo, ld), R, n, D, false);
  for (idx i = 0; i < R; i++) t->da[i * ld] = vstar ? vec_dot(D, dout + i * Qw, vstar) : 0;
  tile_scores(m, a, l, h, t, q, span, i0, i0 + R);
  for (idx i = 0; i < R; i++) {
    real *z = t->z + i * ld, *a_i = t->a + i * ld, *da = t->da + i * ld;
    idx seen = row_columns(c, l, N, span, i0 + i), keys = keys_seen(c, l, N, i0 + i);
    z[0] = extra_score(m, l, h, keys, q + i * Qw);
    if (config_score_mod(c)) BEYOND.scores(c, w, h, keys, seen, z + 1, t->y);
    /* a_ij = s_ij / Z_i. What is masked has a = deriv = dlogz = 0, and so dz = 0 */
    row_backward(c, seen + 1, z, la->row_stat[bh * N + i0 + i], a_i, t->deriv, t->dlogz);
    row_clip_backward(c, seen + 1, a_i, da);
    real delta = scale * vec_dot(seen + 1, a_i, da);
    row_gradient(seen + 1, z, t->deriv, t->dlogz, da, scale, delta);   /* dz, over z */
    row_clip(c, seen + 1, a_i);   /* as v met it */
    if (config_score_mod(c)) BEYOND.scores_backward(c, w, h, keys, seen, z + 1, t->y, dlogit + 1);
    /* z_ij = .. + b(i-j), z_i* = logit: both take dz before it is divided by sqrt(D) */
    if (dbias) vec_add(seen, dbias + span.lo - (i0 + i), z + 1);
    *dlogit += z[0];
    vec_scale(seen + 1, z, score_scale(c, l));
    if (scale != 1) vec_scale(seen + 1, a_i, scale);
    zero(z + 1 + seen, n - seen);
    zero(a_i + 1 + seen, n - seen);
  }
  /* z_ij = <q_i, k_j>/sqrt(D): dq in full, but a part of dk, since other rows see k_j too; dv */
  matmul_here(dq, Qw, rows_of(t->z + 1, ld), rows_of(t->x + from, row), R, D, n, false);
  matmul_here(t->dk + from, row, transpose_of(t->z + 1, ld), rows_of(q, Qw), n, D, R, true);
  matmul_here(t->dv + from, row, transpose_of(t->a + 1, ld), rows_of(dout, Qw), n, D, R, true);
  for (idx i = 0; i < R; i++) {   /* z_i* = <q_i, k*>/sqrt(D), a_i* v* */
    if (kstar) add_times(D, dq + i * Qw, t->z[i * ld], kstar);
    if (kstar) add_times(D, dkstar, t->z[i * ld], q + i * Qw);
    if (w->vstar) add_times(D, dvstar, t->a[i * ld], dout + i * Qw);
  }
}

/* attention_backward (3.7). dv holds XSA's part already. A task owns its key head's dk and dv. */
void tiled_backward(Model *m, Acts *a, int l, int B, idx N) {
  const LayerActs *la = &a->layer[l];
  idx D = m->c.head_dim, K = m->c.kv_heads, group = m->c.heads / K, Kw = K * D;
  PARALLEL
  for (idx task = 0; task < B * K; task++) {
    idx b = task / K, kh = task % K, k0 = b * N * Kw + kh * D;
    Tile t = tile_of(&m->c, a, N, la->fk + k0, la->fk + k0);
    real *dk = a->dk + k0, *dv = a->dv + k0;
    transpose(t.vt, t.ld, la->v + k0, Kw, N, D);   /* for do v^T, which is da */
    if (t.dk) zero(t.dk, 2 * D * t.ld);
    else t.dk = dk, t.dv = dv;
    for (idx h = kh * group; h < (kh + 1) * group; h++)
      for (idx i0 = 0; i0 < N; i0 += TILE) tile_backward(m, a, l, b, h, &t, i0);
    for (idx j = 0; t.dk != dk && j < N; j++) {
      copy(dk + j * Kw, t.dk + j * D, D);
      vec_add(D, dv + j * Kw, t.dv + j * D);
    }
  }
}

/* THE KV CACHE. model_forward of one sequence ids [T] whose first `from` tokens went through a
 * before: their keys and values still lie in every block's fk and v. Makes the R rows after them,
 * to the same bits. Returns R: all under --plain, with Mamba blocks, or from inside a prefix. */
static int model_extend(const Model *m, Acts *a, const int *ids, int T, int from) {
  if (m->plain || from < m->c.prefix || config_attending(&m->c) < m->c.layers) from = 0;
  a->past = from ? config_rows(&m->c, from) : 0;
  idx R = forward_rows(&m->c, a, T - from);
  model_forward(m, a, ids + from, 1, T - from);
  a->past = 0;
  return (int)R;
}

/* MEMORY OF A PASS. Every array of struct Acts lies in one arena. A walk over the lists of them
 * adds up their sizes and, once there is an arena, places them. No pass allocates. */
typedef struct Room { real **at; idx n; } Room;   /* an array, and how many numbers */

/* What the variant lacks is NULL. Sizes round up to 16, for alignment. */
static void arena_take(Acts *a, const Room *room, size_t n) {
  for (; n--; room++) {
    *room->at = a->arena && room->n ? a->arena + a->size : NULL;
    a->size += (room->n + 15) / 16 * 16;
  }
}

/* A block, but for its keys and values. Without a backward an array is free once it has been read
 * for the last time, and its memory serves another:
 *   n1, o, n2     not post: n1 is read last by W_V or W_g, o by W_O, before n2 is made
 *   n1, o         post: o is read before n1 is made, and n1 = u stays until s2 has it
 *   s1, s2        post: s1 is read last by n1
 *   s2 or n2      the output, with the stream h0 [rows,C] that comes in
 *   out1, out2    sandwich: n3 reads out1 before out2 is made; s1 and s2 elsewhere
 *   f1, fa        the activation works in place */
static void take_layer(const Config *c, Acts *a, LayerActs *la, idx rows, bool keeps) {
  idx C = rows * c->dim, F = rows * c->ffn, heads = rows * c->heads, own = rows * c->kv_heads;
  idx Q = heads * c->head_dim, K = own * c->head_dim;
  bool phi = c->kernel != KERNEL_IDENTITY, mlp = c->kernel == KERNEL_MLP;
  bool post = c->place == PLACE_POST, sandwich = c->place == PLACE_SANDWICH;
  bool leaves = config_leaves(c), qk = c->qk_norm;
  const Room room[] = {
    {&la->n1, keeps || C > Q ? C : Q}, {&la->n1stat, 2 * rows}, {&la->q, Q}, {&la->fq, phi ? Q : 0},
    {&la->hq, mlp ? Q : 0}, {&la->hk, mlp ? K : 0}, {&la->row_stat, heads}, {&la->o, keeps ? Q : 0},
    {&la->av, keeps && leaves ? Q : 0}, {&la->gate, rows * config_gates(c)},
    {&la->v0, keeps && c->gate == GATE_VALUE ? K : 0}, {&la->q0, qk ? Q : 0}, {&la->k0, qk ? K : 0},
    {&la->qstat, qk ? 2 * heads : 0}, {&la->kstat, qk ? 2 * own : 0},
    {&la->osum, c->combine == COMBINE_ADD ? rows * c->head_dim : 0}, {&la->s1, C},
    {&la->n2, keeps ? C : 0}, {&la->n2stat, 2 * rows}, {&la->f1, F},
    {&la->f2, config_gated(c) ? F : 0}, {&la->fa, keeps ? F : 0}, {&la->s2, keeps ? C : 0},
    {&la->out1, sandwich ? C : 0}, {&la->out2, sandwich && keeps ? C : 0},
    {&la->n3stat, sandwich ? 2 * rows : 0}, {&la->n4stat, sandwich ? 2 * rows : 0}};
  arena_take(a, room, sizeof room / sizeof *room);
  if (!phi) la->fq = la->q;
  if (!keeps) {
    la->o = la->n1;
    la->n2 = post ? a->h0 : la->n1;
    la->fa = la->f1;
    la->s2 = post ? la->s1 : a->h0;
    la->out2 = la->out1;
  }
  if (!sandwich) la->out1 = la->s1, la->out2 = la->s2;
  if (!keeps || !leaves) la->av = la->o;
}

/* All arrays. A backward's serve all blocks: each ends before the next begins. */
static void take_all(const Model *m, Acts *a, int what) {
  const Config *c = &m->c;
  bool all = what == ACTS_ALL, post = c->place == PLACE_POST, add = c->combine == COMBINE_ADD;
  bool phi = c->kernel != KERNEL_IDENTITY, rotary = c->pos == POS_ROTARY;
  idx N = a->N, rows = a->B * N, D = c->head_dim, E = c->embed_dim != c->dim ? c->embed_dim : 0;
  idx C = rows * c->dim, Q = rows * c->heads * D, heads = a->B * c->heads, biases = 2 * N - 1;
  idx half = rotary ? N * c->rotary_dims / (c->rope_local > 0 ? 1 : 2) : 0;   /* or two */
  idx back = all ? 1 : 0, K = rows * c->kv_heads * D, F = back * rows * c->ffn;
  a->size = (idx)((64 - (uintptr_t)a->arena % 64) / sizeof(real));   /* begins a cache line */
  arena_take(a, &(Room){&a->h0, C}, 1);
  for (int l = 0; l < c->layers; l++) {
    LayerActs *la = &a->layer[l];
    *la = a->layer[0];
    if (l == 0 || all) take_layer(c, a, la, rows, all);
    if (l > 0 && what == ACTS_ONE) continue;   /* k and v: what later rows ask for */
    arena_take(a, (Room[]){{&la->k, K}, {&la->v, K}, {&la->fk, phi ? K : 0}}, 3);
    if (!phi) la->fk = la->k;
  }
  a->scratch_size = tile_size(c, N);
  const Room room[] = {
    {&a->fnorm, post ? 0 : back * C}, {&a->nfstat, post ? 0 : 2 * rows},
    {&a->embed, (idx)a->B * a->T * E}, {&a->scratch, a->threads * a->scratch_size},
    {&a->published, m->published ? m->published->room(c, a->B, N) : 0}, {&a->cosine, half},
    {&a->sine, half}, {&a->sinusoid, c->pos == POS_ABSOLUTE ? N * c->dim : 0},
    {&a->bias, c->pos >= POS_RELATIVE ? c->heads * biases : 0},
    {&a->vfixed, c->extra_value != VALUE_ZERO ? D : 0}, {&a->slice, (idx)SLICE * c->dim},
    {&a->logits, (idx)SLICE * c->vocab}, {&a->outp, SLICE * E}, {&a->dslice, back * SLICE * c->dim},
    {&a->doutp, back * SLICE * E}, {&a->dh, back * C}, {&a->dx, back * C}, {&a->dn, back * C},
    {&a->dq, back * Q}, {&a->dk, back * K}, {&a->dv, back * K}, {&a->dout, back * Q},
    {&a->dosum, add ? back * rows * D : 0},
    {&a->dphi, c->kernel == KERNEL_MLP || c->qk_norm ? back * Q : 0},
    {&a->df1, F}, {&a->df2, config_gated(c) ? F : 0}, {&a->dgate, back * rows * config_gates(c)},
    {&a->slot, back * heads * slot_size(c)},
    {&a->dbias, c->pos == POS_T5 ? back * heads * biases : 0}};
  arena_take(a, room, sizeof room / sizeof *room);
  if (!all) a->fnorm = a->layer[0].n1;   /* the last block is through */
  if (!add) a->dosum = a->dout;
}

idx acts_size(const Model *m, int B, int T, int what, Error *e) {
  Acts a = {.B = B, .T = T, .N = config_rows(&m->c, T), .threads = workers()};
  a.layer = grab(m->c.layers, sizeof(LayerActs), e);
  if (!e->status) take_all(m, &a, what);
  free(a.layer);
  return a.size;
}

/* Room for B sequences of T tokens, all 0 but tables of positions and v*. A pass must not run
 * on more threads than there are now. On failure nothing is held. ACTS_KEYS is model_extend's. */
int acts_create(Acts *a, const Model *m, int B, int T, int what, Error *e) {
  *a = (Acts){.B = B, .T = T, .N = config_rows(&m->c, T), .threads = workers()};
  a->layer = grab(m->c.layers, sizeof(LayerActs), e);
  a->loss_row = grab((idx)B * T, sizeof(double), e);
  if (!e->status) take_all(m, a, what);
  a->arena = grab(a->size, sizeof(real), e);
  if (e->status) { acts_free(a); return e->status; }
  take_all(m, a, what);
  positions_tabulate(&m->c, a, a->N);
  if (a->vfixed) fixed_value(&m->c, a->vfixed);
  return 0;
}

void acts_free(Acts *a) {
  take_less(&a->pace, false);
  free(a->layer); free(a->loss_row); free(a->arena);
  *a = (Acts){0};
}

/* ==========
 * 15  Files, memory, random numbers, errors */

#include <dirent.h>
#include <sys/stat.h>
#ifdef _WIN32
#include <direct.h>
#include <fcntl.h>
#include <io.h>
#define QUOTE "\""   /* of a word with spaces, for the shell */
#define NEW_FILE "wb"
#define unlink _unlink   /* not of a file that is open: that keeps its name */
#define fileno _fileno
static bool to_disk(FILE *f) { return !_commit(fileno(f)); }
static bool is_terminal(FILE *f) { return _isatty(fileno(f)); }
__declspec(dllimport) unsigned long __stdcall GetModuleFileNameA(void *, char *, unsigned long);
#define own_path(path, room) (long)GetModuleFileNameA(NULL, path, room)
#define make_folder _mkdir
#define rmdir _rmdir
static void streams_begin(void) { for (int f = 0; f < 3; f++) _setmode(f, _O_BINARY); }
/* rename() replaces no file; this does, and waits for the disk. */
__declspec(dllimport) int __stdcall MoveFileExA(const char *, const char *, unsigned long);
static bool take_name(const char *from, const char *to) {
  errno = EACCES;   /* where it does not */
  return MoveFileExA(from, to, 1 | 8) != 0;
}
double seconds(void) { return (double)clock() / CLOCKS_PER_SEC; }   /* there by the wall */
#else
#include <unistd.h>
#define QUOTE "'"
#define NEW_FILE "wbx"   /* x: none that another process has just made */
static bool to_disk(FILE *f) { return !fsync(fileno(f)) || errno == EINVAL || errno == ENOTSUP; }
static bool is_terminal(FILE *f) { return isatty(fileno(f)); }
#define own_path(path, room) (long)readlink("/proc/self/exe", path, room)
#define make_folder(path) mkdir(path, 0777)
static void streams_begin(void) { signal(SIGXFSZ, SIG_IGN); }   /* too long a file: a full disk */
static bool take_name(const char *from, const char *to) { return !rename(from, to); }
double seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}
#endif

#ifdef _OPENMP
int worker(void) { return omp_get_thread_num(); }
int workers(void) { return omp_get_max_threads(); }
int set_workers(int n) { omp_set_num_threads(n > 0 ? n : omp_get_num_procs()); return 0; }
#else
int worker(void) { return 0; }
int workers(void) { return 1; }
int set_workers(int n) { return n > 1; }
#endif

int fail(Error *e, int status, const char *format, ...) {
  if (e->status) return e->status;
  va_list args;
  va_start(args, format);
  vsnprintf(e->text, sizeof e->text, format, args);
  va_end(args);
  /* one line stays one, whatever names hold */
  for (char *c = e->text; *c; c++) if ((unsigned char)*c < ' ' || *c == 0x7F) *c = '?';
  return e->status = status;
}

void *grab(idx count, size_t size, Error *e) {
  bool fits = count >= 0 && size && (uint64_t)count <= PTRDIFF_MAX / size;
  void *p = fits ? calloc(count ? (size_t)count : 1, size) : NULL;
  if (!p)
    fail(e, 1, "memory: %.1f MB are not to be had. Try: a smaller --T, --batch, --context, --dim "
         "or --layers", (double)count * (double)size / 1e6);
  return p;
}

uint64_t rng_next(Rng *r) {
  uint64_t x = (r->state += 0x9E3779B97F4A7C15u);
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
  return x ^ (x >> 31);
}
double rng_uniform(Rng *r) { return (double)(rng_next(r) >> 11) * 0x1p-53; }
/* By multiplication: a number below n is off its share by less than n / 2^53. */
uint64_t rng_below(Rng *r, uint64_t n) { return (uint64_t)(rng_uniform(r) * (double)n); }
double rng_normal(Rng *r) {
  double u = 1 - rng_uniform(r), v = rng_uniform(r);   /* u in (0,1] */
  return sqrt(-2 * log(u)) * cos(2 * PI * v);
}

/* FNV-1a (Fowler, Noll, Vo), then one SplitMix64 step. */
uint64_t hash_start(uint64_t seed) { return 0xCBF29CE484222325u ^ seed; }
uint64_t hash_end(uint64_t h) { return rng_next(&(Rng){h}); }
uint64_t hash_add(uint64_t h, const void *bytes, size_t n) {
  const unsigned char *p = bytes;
  for (size_t i = 0; i < n; i++) h = (h ^ p[i]) * 0x100000001B3u;
  return h;
}
uint64_t hash64(uint64_t seed, const void *bytes, size_t n) {
  return hash_end(hash_add(hash_start(seed), bytes, n));
}
/* RFC 3629. The second byte tells codes that have a shorter form, surrogates, and what is above
 * 0x10FFFF. */
size_t utf8_length(const unsigned char *text, size_t n) {
  for (size_t at = 0, more; at < n; at += more + 1) {
    const unsigned char b = text[at];
    more = b < 0x80 ? 0 : b < 0xE0 ? 1 : b < 0xF0 ? 2 : 3;
    if ((b >= 0x80 && b < 0xC2) || b > 0xF4 || n - at <= more)
      return at;
    int least = b == 0xE0 ? 0xA0 : b == 0xF0 ? 0x90 : 0x80;
    int most = b == 0xED ? 0x9F : b == 0xF4 ? 0x8F : 0xBF;
    for (size_t i = 1; i <= more; i++, least = 0x80, most = 0xBF)
      if (text[at + i] < least || text[at + i] > most)
        return at;
  }
  return n;
}
uint64_t hash_numbers(uint64_t seed, const void *x, size_t n, size_t width) {
  const size_t flip = *(char *)&(int){1} ? 0 : width - 1;   /* turns round the bytes of a number */
  uint64_t h = hash_start(seed);
  for (size_t i = 0; i < n; i++) h = hash_add(h, (const char *)x + (i ^ flip), 1);
  return hash_end(h);
}

int bytes_add(Bytes *b, const void *from, size_t n, Error *e) {
  if (!b->at || n > b->room - b->size) {
    size_t room = b->room ? b->room : 256;
    while (room - b->size < n && room <= SIZE_MAX / 2) room *= 2;
    unsigned char *at = room - b->size < n ? NULL : realloc(b->at, room);
    if (!at) return fail(e, 1, "memory: %zu more bytes are not to be had. Try: a smaller file", n);
    b->at = at; b->room = room;
  }
  if (n) memcpy(b->at + b->size, from, n);
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
void bytes_free(Bytes *b) { free(b->at); *b = (Bytes){0}; }

void number_put(unsigned char *p, uint64_t x, int bytes) {
  for (int i = 0; i < bytes; i++) p[i] = (unsigned char)(x >> (8 * i) & 0xFF);
}
int bytes_number(Bytes *b, uint64_t x, int bytes, Error *e) {
  unsigned char out[8];
  number_put(out, x, 8);
  return bytes_add(b, out, (size_t)bytes, e);
}
uint64_t number_at(const unsigned char *p, int bytes) {
  uint64_t x = 0;
  for (int i = bytes - 1; i >= 0; i--) x = x << 8 | p[i];
  return x;
}

/* Appends to out, which the caller frees in any case. */
int file_read(const char *path, Bytes *out, Error *e) {
  FILE *f = strcmp(path, "-") ? fopen(path, "rb") : stdin;
  unsigned char buffer[1 << 15]; size_t n;
  if (!f) return fail(e, 1, "%s: %s. Try: check the path", path, strerror(errno));
  while ((n = fread(buffer, 1, sizeof buffer, f)) > 0)
    if (bytes_add(out, buffer, n, e)) break;
  if (ferror(f))
    fail(e, 1, "%s: cannot be read, %s. Try: check that it is a file", path, strerror(errno));
  if (f != stdin) fclose(f);
  return e->status;
}

static int by_name(const void *a, const void *b) { return strcmp(a, b); }
int files_list(const char *path, Bytes *names, Error *e) {
  char name[1100] = ""; struct stat is; Bytes found = {0};   /* found: rows as long as name */
  DIR *folder = opendir(path);
  if (!folder) return bytes_add(names, path, strlen(path) + 1, e);
  for (struct dirent *entry; (entry = readdir(folder)) && !e->status;) {
    int n = snprintf(name, sizeof name, "%s/%s", path, entry->d_name);
    if (entry->d_name[0] != '.' && n < (int)sizeof name && !stat(name, &is) && S_ISREG(is.st_mode))
      bytes_add(&found, name, sizeof name, e);
  }
  closedir(folder);
  if (!found.size) fail(e, 1, "%s: expected files in this folder, found none. Try: a file", path);
  else qsort(found.at, found.size / sizeof name, sizeof name, by_name);
  for (size_t i = 0; i < found.size; i += sizeof name)
    bytes_add(names, found.at + i, strlen((char *)found.at + i) + 1, e);
  bytes_free(&found);
  return e->status;
}

/* Leaves nothing of a file, nor a folder that was made for it. */
static void writing_undo(Writing *w) {
  if (w->f) remove(w->beside);
  for (int n = (int)strlen(w->beside); w->made && n >= w->made; n--)
    if (w->beside[n] == '/') w->beside[n] = 0, rmdir(w->beside);
}
/* A reader of PATH finds the old file or the new one, whole: the bytes go to PATH.new first, a new
 * file in place of what a killed process left. Where two processes write PATH at once, the first
 * loses that name and fails. Folders are made, and again where another process takes one away. */
int writing_begin(Writing *w, const char *path, Error *e) {
  struct stat is; int tries = 9, why = 0;
  *w = (Writing){.path = path};
  if (snprintf(w->beside, sizeof w->beside, "%s.new", path) >= (int)sizeof w->beside)
    return fail(e, 2, "%.60s..: this path is too long. Try: a shorter one", path);
  do {
    for (char *at = w->beside; (at = strchr(at + 1, '/')); *at = '/') {
      *at = 0;
      if (make_folder(w->beside)) why = why || errno == EEXIST ? why : errno;
      else if (!w->made) w->made = (int)(at - w->beside);
    }
    if (!stat(path, &is) && !S_ISREG(is.st_mode))
      fail(e, 1, "%s: a folder or a device is there. Try: another name", path);
    else if (!unlink(w->beside) || errno == ENOENT) w->f = fopen(w->beside, NEW_FILE);
  } while (!w->f && !e->status && errno == ENOENT && --tries);
  if (w->f) return 0;
  fail(e, 1, "%s: cannot be made, %s. Try: another folder", w->beside,
       strerror(why && errno == ENOENT ? why : errno));
  writing_undo(w);
  return e->status;
}
static void writing_failed(Writing *w) { if (!w->cause) w->cause = errno ? errno : EIO; }
void writing_add(Writing *w, const void *at, size_t n) {
  errno = 0;
  if (!w->cause && n && fwrite(at, 1, n, w->f) != n) writing_failed(w);
}
int writing_end(Writing *w, Error *e) {
  struct stat own, there;   /* Windows has no inodes: 0 and 0 */
  errno = 0;
  if (fflush(w->f) || !to_disk(w->f)) writing_failed(w);
  bool lost = fstat(fileno(w->f), &own) || stat(w->beside, &there) || own.st_ino != there.st_ino;
  if (fclose(w->f)) writing_failed(w);
  if (lost) w->f = NULL;   /* what stands there is another's, and stays */
  if (lost && !w->cause)
    return fail(e, 1, "%s: another process writes it, too. Try: another name", w->path);
  if (!w->cause && !e->status && take_name(w->beside, w->path)) return 0;
  writing_failed(w);
  writing_undo(w);
  return fail(e, 1, "%s: cannot be written, %s. Try: free some space, or another folder", w->path,
              strerror(w->cause));
}
int file_write(const char *path, const void *at, size_t n, Error *e) {
  Writing w;
  if (writing_begin(&w, path, e)) return e->status;
  writing_add(&w, at, n);
  return writing_end(&w, e);
}
bool file_missing(const char *path) { return stat(path, &(struct stat){0}) && errno == ENOENT; }
int file_ready(const char *path, Error *e) {
  Writing w;
  if (path[0] && !writing_begin(&w, path, e)) fclose(w.f), writing_undo(&w);
  return e->status;
}

/* Of the path that the system told in home; else of argv[0]: a name alone is PATH's first. */
static void program_folder(char home[PATH_ROOM], long told, const char *name, const char *path) {
  bool found = told > 0 || strpbrk(name, "/\\"); struct stat is;
  size_t size = told > 0 ? (size_t)told : (size_t)snprintf(home, PATH_ROOM, "%.500s", name);
  for (size_t n; path && *path && !found; path += n + (path[n] == ':')) {
    n = strcspn(path, ":");
    size = (size_t)snprintf(home, PATH_ROOM, "%.*s/%.99s", (int)(n ? n : 1), n ? path : ".", name);
    found = size < PATH_ROOM && !stat(home, &is) && S_ISREG(is.st_mode) && is.st_mode & 0111;
  }
  while (size && (!found || !strchr("/\\", home[size - 1]))) size--;
  home[size] = 0;
}

/* Is it among words with a space on either side? */
static bool has_word(const char *words, const char *word) {
  char spaced[72];
  snprintf(spaced, sizeof spaced, " %s ", word);
  return strstr(words, spaced) != NULL;
}
/* No command replaces a file that it reads; one that is there only with --force, or with `on`. */
static int may_replace(const Settings *s, const char *path, bool on, Error *e) {
  struct stat is;
  for (int i = 0; i < s->argc; i++) {   /* FILE, --text FILE or --text=FILE */
    const char *word = s->argv[i], *flag = i ? s->argv[i - 1] : "", *value = strchr(word, '=');
    char name[16];
    if (*word == '-' && value) flag = word, word = value + 1;
    const char *at = flag + strspn(flag, "-");
    snprintf(name, sizeof name, "%.*s", at > flag ? (int)strcspn(at, "=") : 0, at);
    if (!strcmp(word, path) && !has_word(" out log csv json report variant ", name))
      return fail(e, 2, "%s: it is read, too. Try: another name", path);
  }
  if (s->force || on || stat(path, &is) || !S_ISREG(is.st_mode) || !is.st_size) return 0;
  bool resumes = !file_missing(s->out) && option_find("resume", s->groups);
  return fail(e, 1, "%s: it is there already, and stays. Try: another name, %s--force to replace "
              "it", path, resumes ? "--resume to go on, " : "");
}

/* Asked before the work, "" for none: can each be written, is it a file of its own, however spelt,
 * and may it and the one beside it replace what is there? A run that goes on replaces its own. */
int outputs_ready(const Settings *s, const char *const *path, int n, Error *e) {
  Writing w; char beside[sizeof w.beside];
  for (int i = 0; i < n; i++) {
    const char *to = path[i];
    bool screen = !strcmp(to, "-"), same = screen && !strcmp(s->csv, s->json);
    if (screen && to != s->csv && to != s->json)
      return fail(e, 2, "-: only --csv and --json go there. Try: a file's name");
    if (*to && !screen) {
      bool on = s->resume && (to == s->out || to == s->log || !file_missing(s->out));
      snprintf(beside, sizeof beside, "%s.new", to);
      if (may_replace(s, to, on, e) || may_replace(s, beside, on, e) || writing_begin(&w, to, e))
        return e->status;
      for (int j = 0; j < i; j++) {   /* whose file beside it is now there? */
        snprintf(beside, sizeof beside, "%s.new", path[j]);
        same = same || (*path[j] && (!file_missing(beside) || !strcmp(beside, to)
                                     || !strcmp(path[j], w.beside)));
      }
      fclose(w.f), writing_undo(&w);
    }
    if (same) return fail(e, 2, "%s: two results would go there. Try: another name for one", to);
  }
  return e->status;
}

/* ==========
 * 16  Command line
 *
 * 16.1  One table of options drives parsing, help, config.json, checkpoints and the echoed command.
 * Groups: m the model, t the training, f only `sink train`, d the data, e what is measured, a only
 * by eval, u --out, j CSV and JSON, o progress and threads, l the plain loops, r going on, i ids, w
 * more, g generation, s a seed without training; of the companions y eval of several, v streams, p
 * the page, x reproduction, b benches. A verb takes groups, m first, then a space and flags. */

#define AT(field) offsetof(Settings, field)
#define MODEL(kind, field) 'm', kind, AT(model.field)
#define TRAIN(kind, field) 't', kind, AT(train.field)
#define DATA(kind, field) 'd', kind, AT(data.field)
#define ON_OFF "0", 0, 1, ""
#define WORDS(first, axis) first, 0, 0, axis##_WORDS
#define STRING(name) "", 0, 0, name

const Option OPTIONS[] = {
  {"layers", MODEL('i', layers), "4", 1, 1024, "L", "blocks (paper: 10)"},
  {"heads", MODEL('i', heads), "2", 1, 1024, "H", "query heads (paper: 8; Table 12)"},
  {"kv-heads", MODEL('i', kv_heads), "0", 1, 1024, "K", "key heads; default: as many as heads"},
  {"dim", MODEL('i', dim), "64", 1, 1 << 20, "C", "width of the model (paper: 768)"},
  {"head-dim", MODEL('i', head_dim), "0", 1, 1 << 20, "D", "width of a head; default: C / H"},
  {"ffn", MODEL('i', ffn), "128", 1, 1 << 20, "F", "hidden width (paper: 1536)"},
  {"vocab", MODEL('i', vocab), "0", 1, 1 << 24, "V", "vocabulary; default: the tokenizer's"},
  {"context", MODEL('i', context), "128", 1, 1 << 24, "T", "longest sequence (paper: 2048)"},
  {"pos", MODEL('c', pos), WORDS("rotary", POS), "positions (Table 3, appendix A)"},
  {"norm", MODEL('c', norm), WORDS("rms", NORM), "RMSNorm; LayerNorm; DyT (./paper)"},
  {"norm-eps", MODEL('d', norm_eps), "1e-5", 0, 1, "X", "inside the norm's root"},
  {"place", MODEL('c', place), WORDS("pre", PLACE), "of the norms (section 7.2)"},
  {"act", MODEL('c', act), WORDS("swiglu", ACT), "the feed-forward's activation (Table 11)"},
  {"tied", MODEL('b', tied), ON_OFF, "the embedding is the unembedding"},
  {"combine", MODEL('c', combine), WORDS("concat", COMBINE), "heads put together (Table 12)"},
  {"kernel", MODEL('c', kernel), WORDS("identity", KERNEL), "phi (section 7.4, Table 15)"},
  {"sim", MODEL('c', sim), WORDS("exp", SIM), "similarity s(z) (Table 15)"},
  {"normalizer", MODEL('c', normalizer), WORDS("sum", NORMALIZER), "Z (Table 15)"},
  {"pnorm", MODEL('d', pnorm), "0", 1e-3, 1e3, "P", "p of --normalizer pnorm; 2 unless given"},
  {"scale", MODEL('d', scale), "1", -1e6, 1e6, "A", "of the weights (Table 14, equation 29)"},
  {"soft-cap", MODEL('d', soft_cap), "none", 1e-30, 1e30, "X", "scores stay within X (./paper)"},
  {"score-divisor", MODEL('d', score_divisor), "0", 1e-6, 1e12, "X", "scores over its root [D]"},
  {"score-scale", MODEL('c', gain), WORDS("none", GAIN), "c_h log(n) times the scores (./paper)"},
  {"score-bias", MODEL('c', shift), WORDS("none", SHIFT), "added to the scores (./paper)"},
  {"clip-low", MODEL('d', clip_low), "0", -1e6, 0, "G", "weights a become (X - G) a + G, cut [0]"},
  {"clip-high", MODEL('d', clip_high), "1", 1, 1e6, "X", "at 0 and 1"},
  {"extra", MODEL('c', extra), WORDS("none", EXTRA), "a null key (Table 4)"},
  {"extra-logit", MODEL('d', extra_logit), "none", -1e6, 1e6, "X", "it stays X; or none: learned"},
  {"extra-shared", MODEL('b', extra_shared), ON_OFF, "one k*, v* for all heads (Table 12)"},
  {"extra-dims", MODEL('i', extra_dims), "0", 1, 1 << 20, "N", "learned dims (Table 13) [all]"},
  {"extra-order", MODEL('c', extra_order), WORDS("first", ORDER), "which those are"},
  {"extra-value", MODEL('c', extra_value), WORDS("zero", VALUE), "its v* (Table 5)"},
  {"extra-norm", MODEL('d', extra_norm), "1", -1e6, 1e6, "M", "its length m"},
  {"vbias", MODEL('b', vbias), ON_OFF, "a value bias v+ (Table 4)"},
  {"gate", MODEL('c', gate), WORDS("none", GATE), "of a head's output or values (./paper)"},
  {"qk-norm", MODEL('b', qk_norm), ON_OFF, "RMSNorm of q and k in a head (./paper)"},
  {"head-norm", MODEL('b', head_norm), ON_OFF, "RMSNorm of a head's output (./paper)"},
  {"v-scale", MODEL('b', v_scale), ON_OFF, "one learned factor a head (./paper)"},
  {"xsa", MODEL('b', xsa), ON_OFF, "output without its own value's part (./paper)"},
  {"sink-token", MODEL('b', sink_token), "0", 0, SINK_TOKENS, "[N]",
   "a learned first row x* (Table 4), or N"},
  {"window", MODEL('i', window), "0", 1, 1 << 24, "W", "keys a row sees (Figure 6) [all]"},
  {"prefix", MODEL('i', prefix), "0", 0, 1 << 24, "P", "tokens all see, unscored (Figure 5)"},
  PUBLISHED_OPTIONS
  {"window-others", MODEL('b', window_others), ON_OFF, "all layers but these have it"},
  {"rope-local", MODEL('d', rope_local), "0", 1, 1e12, "X", "--rope-base where the window is"},
  {"embed-scale", MODEL('d', embed_scale), "0", 1e-6, 1e6, "X", "the embedding times X"},
  {"logit-cap", MODEL('d', logit_cap), "0", 1e-6, 1e30, "X", "logits stay within X"},
  {"init", TRAIN('c', init), WORDS("torch", INIT), "how parameters start"},
  {"batch", TRAIN('i', batch), "8", 1, 1 << 20, "B", "sequences (paper: 512; Table 10)"},
  {"accumulate", TRAIN('i', accumulate), "1", 1, 1 << 20, "N", "forwards of a step"},
  {"steps", TRAIN('i', steps), "2000", 0, 1 << 30, "N", "steps of the optimiser (paper: 20000)"},
  {"lr", TRAIN('d', lr), "4e-3", 0, 1e3, "X", "learning rate (paper: 4e-4; Table 9)"},
  {"min-lr", TRAIN('d', min_lr), "-1", 0, 1e3, "X", "end of the cosine; default: lr / 10"},
  {"warmup", TRAIN('i', warmup), "100", 0, 1 << 30, "N", "steps of linear warm-up"},
  {"schedule", TRAIN('c', schedule), WORDS("constant", SCHEDULE), "after the warm-up"},
  {"optimizer", TRAIN('c', optimizer), WORDS("adamw", OPTIMIZER), "muon: ./paper"},
  {"wd", TRAIN('d', wd), "0.1", 0, 1e3, "G", "weight decay gamma, decoupled (Table 2)"},
  {"decay", TRAIN('c', decay), WORDS("all", DECAY), "what it acts on"},
  {"clip", TRAIN('d', clip), "1", 0, 1e9, "X", "largest gradient norm; 0: no clipping"},
  {"beta1", TRAIN('d', beta1), "0.9", 0, 0.999999, "X", "AdamW's first moment"},
  {"beta2", TRAIN('d', beta2), "0.95", 0, 0.999999, "X", "AdamW's second moment"},
  {"adam-eps", TRAIN('d', adam_eps), "1e-8", 1e-30, 1, "X", "AdamW's epsilon"},
  {"seed", TRAIN('i', seed), "0", 0, 2147483647, "N", "start, order of the data"},
  {"save-every", TRAIN('i', save_every), "0", 0, 1 << 30, "N", "steps between saves [last only]"},
  {"log-every", TRAIN('i', log_every), "100", 1, 1 << 30, "N", "steps between looks at the sink"},
  {"log", 'f', 's', AT(log), STRING("FILE"), "a CSV line every --log-every steps"},
  {"toy", 't', 'c', AT(data.toy), WORDS("none", TOY), "a known mechanism; ./paper has both"},
  {"text", DATA('s', text), STRING("FILE"), "file, folder or - [the shipped stories]"},
  {"grammar", DATA('s', grammar), STRING("FILE"), "rules that generate text without end (./paper)"},
  {"tokens", DATA('s', tokens), STRING("FILE"), "ids of llm.c, nanoGPT, NumPy (./paper)"},
  {"end-token", DATA('i', end_token), "50256", 0, 1 << 24, "ID", "ends a document of --tokens"},
  {"tokenizer", DATA('s', tokenizer), "tokenizer.bin", 0, 0, "FILE", "the vocabulary"},
  {"fix-token", DATA('i', fix_token), "0", 1, 1 << 24, "POS", "<|fix|> at this place (Table 10)"},
  {"first-tokens", DATA('s', first_tokens), "", 0, 16, "N",
   "or one of N|text|other|natural (Table 10; ./paper)"},
  {"random-tokens", 't', 's', AT(data.random_tokens), "", 0, 64, "1,2", "drawn anew (section 5)"},
  {"data-tokens", 't', 'd', AT(data.data_tokens), "0", 1, 1e15, "N", "tokens at most (Figure 5)"},
  {"bos", DATA('b', bos), ON_OFF, "<|bos|> before every document; or --no-bos"},
  {"valid", DATA('d', valid), "0.05", 0, 0.9, "SHARE", "of the documents, for validation"},
  COMMON_OPTIONS MORE_OPTIONS {0}
};

enum { VALUE_ROOM = 96 };
/* Word i of a choice, "exp" of "SIM_EXP, SIM_ELU"; "" beyond the last. */
static const char *option_word(const Option *o, int i, char word[VALUE_ROOM]) {
  const char *at = o->value; char *to = word;
  for (; i > 0 && at; i--) at = strchr(at + 1, ' ');
  for (at = at ? strchr(at, '_') + 1 : ""; *at && *at != ','; at++)
    *to++ = *at == '_' ? '-' : (char)tolower((unsigned char)*at);
  *to = 0;
  return word;
}

/* The name of the option's value, or a choice's words: "exp|elu". */
static const char *option_value(const Option *o, char text[VALUE_ROOM]) {
  char word[VALUE_ROOM];
  if (o->kind != 'c') return o->value;
  *text = 0;
  for (int i = 0; *option_word(o, i, word); i++) strcat(strcat(text, i ? "|" : ""), word);
  return text;
}

/* The Levenshtein distance from a to b, or most + 1 where it is larger. */
static int edits(const char *a, const char *b, int most) {
  for (; *a && *a == *b; a++) b++;
  if (!*a || !*b || !most) return (int)at_most((idx)(strlen(a) + strlen(b)), most + 1);
  int change = edits(a + 1, b + 1, most - 1);
  int less = edits(a + 1, b, most - 1), more = edits(a, b + 1, most - 1);
  return 1 + (int)at_most(change, at_most(less, more));
}
/* Of the words looked at the nearest to `word`; or "". */
typedef struct Near { const char *word; int edits; char best[64]; } Near;
/* A part of a word, or what it begins, is one edit away. */
static void near_look(Near *n, const char *right) {
  int size = (int)strlen(n->word), length = (int)strlen(right);
  int most = (int)at_most((at_most(size, length) + 2) / 3, 3);
  const char *part = strstr(n->word, right);
  bool holds = (size > 2 && !strncmp(right, n->word, (size_t)size))
               || (part && length > 2 + (part > n->word));
  int found = holds ? 1 : edits(n->word, right, most) + (*right != *n->word);   /* it rarely errs */
  if (found > most || (n->best[0] && found >= n->edits)) return;
  n->edits = found; snprintf(n->best, sizeof n->best, "%s", right);
}

int option_set(const Option *o, void *base, const char *text, bool bounded, Error *e) {
  void *at = (char *)base + o->field;
  size_t room = o->kind == 's' && o->most > 0 ? (size_t)o->most : PATH_ROOM;
  char *end, word[VALUE_ROOM];
  Near near = {.word = text}; int row = 0; double x = strtod(text, &end);
  bool may_lack = !strcmp(o->fallback, "none") && o->kind == 'd';   /* then NAN is none */
  bool number = *text && !*end && !isspace((unsigned char)*text)
                && (o->kind == 'd' || x == floor(x))
                && (!bounded || (x >= o->least && x <= o->most));
  if (may_lack && !strcmp(text, "none")) *(double *)at = NAN;
  else if (o->kind == 's' && strlen(text) < room) strcpy(at, text);
  else if (o->kind == 's')
    fail(e, 2, "--%s %.40s..: this is too long. Try: a shorter one", o->flag, text);
  else if (o->kind == 'c') {
    for (; *option_word(o, row, word) && strcmp(word, text); row++) near_look(&near, word);
    if (*word) *(int *)at = row;
    else fail(e, 2, "--%s %s: expected one of %s. Try: --%s %s", o->flag, text,
              option_value(o, word), o->flag, near.best[0] ? near.best : o->fallback);
  } else if (!number) {
    if (end == text || isnan(x)) x = atof(o->fallback);
    x = fmin(fmax(o->kind == 'd' ? x : floor(x), o->least), o->most);
    snprintf(word, sizeof word, "%.15g", x);   /* the nearest that may be */
    fail(e, 2, "--%s %s: expected %sa %snumber, %.10g to %.10g. Try: --%s %s", o->flag, text,
         may_lack ? "none or " : "", o->kind == 'd' ? "" : "whole ", o->least, o->most, o->flag,
         may_lack ? "none" : word);
  } else if (o->kind == 'd') *(double *)at = x;
  else *(int *)at = (int)x;
  return e->status;
}

/* The field of option o as text that option_set reads back to the same bits. */
void option_text(const Option *o, const void *base, char *text, size_t room) {
  const void *at = (const char *)base + o->field;
  char word[VALUE_ROOM];
  if (o->kind == 's') snprintf(text, room, "%s", (const char *)at);
  else if (o->kind == 'c') snprintf(text, room, "%s", option_word(o, *(const int *)at, word));
  else if (o->kind == 'd') {
    double x = *(const double *)at;
    snprintf(text, room, isnan(x) ? "none" : "%.15g", x);
    if (!isnan(x) && strtod(text, NULL) != x) snprintf(text, room, "%.17g", x);
  } else snprintf(text, room, "%d", *(const int *)at);
}

static const Program SINK = {.name = "sink"};
void settings_default(Settings *s) {
  memset(s, 0, sizeof *s);
  s->program = &SINK;
  s->verb = s->groups = "";
  for (const Option *o = OPTIONS; o->flag; o++) option_set(o, s, o->fallback, false, &(Error){0});
}

static bool option_in(const Option *o, const char *groups) {
  return has_word(groups, o->flag) || memchr(groups, o->group, strcspn(groups, " "));
}
/* The option after o: the program's own follow OPTIONS. The first after NULL. */
static const Option *option_after(const Option *o, const Program *program) {
  const Option *end = OPTIONS + sizeof OPTIONS / sizeof *OPTIONS - 1;
  o = o ? o + 1 : OPTIONS;
  return o->flag ? o : o == end ? program->options : NULL;
}
static const Option *option_named(const char *flag, const char *groups, const Program *program) {
  for (const Option *o = NULL; (o = option_after(o, program)) != NULL;)
    if (!strcmp(o->flag, flag) && option_in(o, groups)) return o;
  return NULL;
}
const Option *option_find(const char *flag, const char *groups) {
  return option_named(flag, groups, &SINK);
}

/* Does one of the flags in `what`, of BELONGS, hold? Also where the verb has none of them. */
static bool is_chosen(const Settings *s, const char *what) {
  char flag[24], values[24], is[PATH_ROOM]; bool known = false;
  for (const char *at = what; (at = strstr(at, "--")) != NULL; at += 2) {
    int n = sscanf(at, "--%23[a-z-] %23[a-z0-9|-]", flag, values);
    const Option *o = option_find(flag, s->groups);
    if (!o) continue;
    known = true;
    option_text(o, s, is, sizeof is);
    bool any = n < 2 || !strcmp(values, "or");   /* no value is named */
    const char *word = any ? NULL : strstr(values, is);   /* whole: a | or the end follows */
    if (any ? *is && strcmp(is, "0") : word && strchr("|", word[strlen(is)])) return *what != '!';
  }
  return !known || *what == '!';
}
const char *option_idle(const char *flag, const Settings *s) {
  for (int i = 0; BELONGS[i][0]; i++)
    if (has_word(BELONGS[i][0], flag) && !is_chosen(s, BELONGS[i][1])
        && (!BELONGS[i][2] || (*s->verb && strstr(BELONGS[i][2], s->verb)))) return BELONGS[i][1];
  return NULL;
}

int settings_count(const Settings *s, Error *e) {
  if (!*s->groups) return e->status;   /* of no verb */
  bool trains = option_find("context", s->groups) != NULL;
  bool begins = option_find("prompt", s->groups) != NULL;   /* a text, with one token */
  int most = begins ? 1 : trains ? s->model.context : s->eval_T;
  const char *more = begins ? "" : trains ? " or a longer --context" : " or a longer --T";
  for (const Option *o = OPTIONS; o->flag && !e->status; o++) {
    char is[PATH_ROOM]; int at[17] = {0};
    if (!s->given[o - OPTIONS]) continue;
    option_text(o, s, is, sizeof is);
    if (!strcmp(s->verb, "run") && has_word(" sim kernel normalizer scale extra ", o->flag))
      fail(e, 2, "--%s: the arms have their own. Try: sink train", o->flag);
    const char *to = option_idle(o->flag, s);
    if (to && *to == '!')
      fail(e, 2, "--%s: it changes nothing beside %s. Try: without one of them", o->flag, to + 1);
    else if (to) fail(e, 2, "--%s: it belongs to %s. Try: with that, or without it", o->flag, to);
    if (has_word(" fix-token random-tokens T ", o->flag)) positions_parse(o->flag, is, at, 16, e);
    for (int i = 0; at[i]; i++)
      if (at[i] > most)
        fail(e, 2, "--%s %s: there are %d tokens. Try: up to %d%s", o->flag, is, most, most, more);
  }
  return e->status;
}

/* What THEIRS advises for a word to someone who can use these groups, or NULL. */
static const char *advice(const char *word, const char *groups) {
  for (int i = 0; THEIRS[i]; i++) {
    const char *ours = THEIRS[i], *theirs = ours + strlen(ours) + 1;
    if (has_word(theirs, word) && (*ours != '-' || option_find(ours + 2, groups))) return ours;
  }
  return NULL;
}
/* A flag that the verb does not take: its name here, or the nearest that it takes. */
static int flag_unknown(const Settings *s, const char *word, const char *flag,
                        const char *groups, Error *e) {
  const char *ours = advice(flag, groups); Near near = {.word = flag};
  if (ours) return fail(e, 2, "%s: no such flag here. Try: %s", word, ours);
  for (const Option *o = NULL; (o = option_after(o, s->program)) != NULL;)
    if (option_in(o, groups)) near_look(&near, o->flag);
  return near.best[0] ? fail(e, 2, "%s: no such flag here. Try: --%s", word, near.best)
       : fail(e, 2, "%s: no such flag here. Try: %s help %s", word, s->program->name, s->verb);
}

/* A flag is --flag value or --flag=value. One dash does for two, and _ for -. A switch needs no
 * value; one that counts takes the next word where that is a whole number. */
int settings_parse(Settings *s, int argc, char **argv, const char *groups, const char **words,
                   int *n_words, Error *e) {
  for (int i = 0; i < argc && !e->status; i++) {
    const char *word = argv[i], *at = word + strspn(word, "-"), *value = strchr(at, '=');
    char flag[64];
    if (at == word || !strcmp(word, "-")) {
      if (!words || *n_words >= WORDS_MOST)
        return fail(e, 2, "%s: a word too many. Try: sink help", word);
      words[(*n_words)++] = word;
      continue;
    }
    snprintf(flag, sizeof flag, "%.*s", (int)strcspn(at, "="), at);
    for (char *c = flag; *c; c++) if (*c == '_') *c = '-';
    if (value) value++;
    if ((s->help = !strcmp(flag, "h") || !strcmp(flag, "help"))) return 0;
    bool no = !strncmp(flag, "no-", 3) && !value;   /* of a switch that a model has on */
    bool variant = !strcmp(flag, "variant") && groups[0] == 'm';
    const char *next = i + 1 < argc ? argv[i + 1] : "";
    const Option *ours = option_find(flag + (no ? 3 : 0), groups);   /* not the program's own */
    const Option *o = ours ? ours : option_named(flag, groups, s->program);
    if (!variant && (!o || (no && o->kind != 'b'))) return flag_unknown(s, word, flag, groups, e);
    bool counts = o && o->most > 1 && !no && *next && !next[strspn(next, "0123456789")];
    if (!value && o && o->kind == 'b' && !counts) value = no ? "0" : "1";
    if (!value && ++i < argc) value = argv[i];
    if (!value)
      return fail(e, 2, "%s: expected a value after it. Try: %s help", word, s->program->name);
    if (ours) s->given[ours - OPTIONS] = true;
    if (o) option_set(o, ours ? (void *)s : s->own, value, true, e);
    else {   /* the flags of a row of VARIANTS */
      Near near = {.word = value}; const Variant *v = VARIANTS;
      for (; v->name && strcmp(v->name, value); v++) near_look(&near, v->name);
      if (v->name) settings_flags(s, v->flags, "m", e);
      else fail(e, 2, "--variant %s: no such row. Try: %s%s", value,
                near.best[0] ? "--variant " : "sink list", near.best);
    }
  }
  if (words && s->train.min_lr < 0) s->train.min_lr = s->train.lr / 10;
  return e->status;
}

int settings_flags(Settings *s, const char *flags, const char *groups, Error *e) {
  char text[4096], *argv[sizeof text / 2]; int argc = 0;
  if (snprintf(text, sizeof text, "%s", flags) >= (int)sizeof text)
    return fail(e, 2, "too many flags in one string. Try: fewer");
  for (char *word = strtok(text, " "); word; word = strtok(NULL, " ")) argv[argc++] = word;
  return settings_parse(s, argc, argv, groups, NULL, NULL, e);
}
static int config_from_flags(Config *c, const char *flags, Error *e) {
  Settings s;
  settings_default(&s);
  if (settings_flags(&s, flags, "m", e)) return e->status;
  *c = s.model;
  return config_resolve(c, e);
}

/* ----------
 * 16.2  Text for a terminal. NO_COLOR: no-color.org. */

static bool wants_colour(FILE *f) {
  const char *no = getenv("NO_COLOR"), *term = getenv("TERM");
  return is_terminal(f) && !(no && *no) && !(term && !strcmp(term, "dumb"));
}

/* Text on the colour of a weight 0 .. 1, of rising luminance: a map also reads in grey. */
static void heat_cell(const char *text, double x, bool colour, FILE *out) {
  static const unsigned char ramp[] = {233, 17, 18, 54, 90, 126, 162, 168, 174, 180, 222, 229};
  int n = (int)sizeof ramp, i = (int)fmin(fmax(x * n, 0), n - 1);
  if (colour) fprintf(out, "\x1b[48;5;%dm\x1b[38;5;%dm", ramp[i], x > 0.55 ? 16 : 255);
  fprintf(out, colour ? "%s\x1b[0m" : "%s", text);
}

/* [FIG19] Maps side by side: alpha of a column by layer and head, below a title and the column. */
void heat_maps(const HeatMap *maps, int n, FILE *out) {
  bool colour = wants_colour(out);
  for (int line = -2; line < maps->s->L; line++) {
    if (line >= 0 && !sinks_attends(maps->s, line)) continue;
    if (line < 0) fprintf(out, "%6s", "");
    else fprintf(out, "%5d ", line + 1);
    for (const HeatMap *map = maps; map < maps + n; map++) {
      const Sinks *s = map->s;
      int cells = 6 * s->H, width = map == maps + n - 1 ? 0 : cells > 10 ? cells + 1 : 11;
      fputc(' ', out);
      if (line < 0) fprintf(out, "%-*s", width, line == -2 ? map->title : map->column_name);
      for (int h = 0; line >= 0 && h < s->H; h++) {
        double alpha = s->alpha[((idx)line * s->H + h) * s->S + map->column];
        char text[32];
        snprintf(text, sizeof text, colour ? "%5.2f " : "%6.2f", alpha);
        heat_cell(text, alpha, colour, out);
      }
      if (line >= 0 && width) fprintf(out, "%*s", width - cells, "");
    }
    fputc('\n', out);
  }
}

void progress_start(Progress *p, const char *name, bool quiet) {
  *p = (Progress){.name = name, .quiet = quiet, .live = is_terminal(stderr), .start = seconds()};
}
/* On a terminal two lines that rewrite themselves; elsewhere a line now and then. */
void progress_show(const Trainer *t, Progress *p) {
  const Train *r = &t->s.train;
  double now = seconds();
  bool due = p->live ? now - p->shown >= 0.2 : t->step % (r->steps > 9 ? r->steps / 10 : 1) == 0;
  if (p->quiet || (!due && t->step < r->steps)) return;
  double tokens = (double)r->batch * r->accumulate * t->s.model.context;
  double per = (now - p->start) / fmax((double)(t->step - p->from), 1);
  int full = (int)(12.0 * (double)t->step / r->steps);
  char star[32] = "";
  if (p->has_star) snprintf(star, sizeof star, " Sink_* %.1f%%", 100 * p->sink_star);
  const char *up = p->live && p->shown > 0 ? "\x1b[2A" : "", *clear = p->live ? "\x1b[K" : "";
  fprintf(stderr, "%s%-8s [%.*s%.*s] %5ld/%d  loss %.3f  %6.0f tok/s  %4.0f s left%s%s  "
          "Sink_1 %.1f%%@0.2 %.1f%%@%g alpha_1 %.3f%s norm ratio %.2f%s\n", up, p->name, full,
          "############", 12 - full, "............", t->step, r->steps, t->loss, tokens / per,
          per * (r->steps - (double)t->step), clear, p->live ? "\n" : "", 100 * p->sink1_low,
          100 * p->sink1, t->s.eps, p->alpha1, star, p->ratio, clear);
  p->shown = now;
}

/* What a column j of a map is called: "*", "x*", "x*1" .. where there are several, or a token. */
static const char *column_label(char text[16], const Config *c, int j) {
  int first = config_column_first(c), star = c->extra ? 1 : 0;
  if (j >= first) snprintf(text, 16, "%d", j - first + 1);
  else snprintf(text, 16, j < star ? "*" : c->sink_token > 1 ? "x*%d" : "x*", j - star + 1);
  return text;
}

static void sinks_print(const Sinks *s, const Config *c, int kmax, FILE *out) {
  int first = config_column_first(c), star = config_column_star(c);
  bool post = c->place == PLACE_POST;
  double even = sink_uniform(c, s->T);
  char name[16], of_star[16];
  const HeatMap maps[] = {{"alpha", "token 1", s, first},
                          {"", column_label(of_star, c, star), s, star}};
  fprintf(out, "column    Sink 0.2      Sink  Sink 0.4     alpha    x even\n");
  for (int j = star >= 0 ? star : first; j < s->S && j < first + kmax; j++) {
    double alpha = sinks_alpha(s, j);
    column_label(name, c, j);
    fprintf(out, "%-8s %8.2f%% %8.2f%% %8.2f%% %9.4f %9.2f\n", name, 100 * sinks_sink(s, j, 1),
            100 * sinks_sink(s, j, 0), 100 * sinks_sink(s, j, 2), alpha, alpha / even);
  }
  fprintf(out, "Sink at eps %g in the middle; even rows give alpha_1 = %.4f. Row mass %.3f.\n\n"
          "block |h1|/|h| |k1|/|k| |v1|/|v| cos q,k1  cos q,k  |q||k1|   |q||k|  entropy     "
          "mass%s\n", s->eps[0], even, sinks_mass(s), post ? "   pre-LN" : "");
  for (int l = 0; l < s->L; l++) {
    idx row = (idx)l * s->N;
    double is[10] = {norm_ratio(s->hnorm + row + s->N, s->N), norm_ratio(s->knorm + row, s->N),
                     norm_ratio(s->vnorm + row, s->N), [9] = norm_ratio(s->prenorm + row, s->N)};
    for (idx at = (idx)l * s->H; at < (idx)(l + 1) * s->H; at++) {   /* means over heads */
      const double of_head[] = {s->cosine[2 * at], s->cosine[2 * at + 1], s->product[2 * at],
                                s->product[2 * at + 1], s->entropy[at], s->raw[at]};
      for (int i = 0; i < 6; i++) is[3 + i] += of_head[i] / s->H;
    }
    fprintf(out, "%5d", l + 1);
    for (int i = 0; i < (post ? 10 : 9); i++)
      if (sinks_attends(s, l) || i == 0 || i == 9) fprintf(out, " %8.3f", is[i]);
      else fprintf(out, " %8s", i == 1 ? "Mamba" : "-");
    fputc('\n', out);
  }
  fprintf(out, "|h1|/|h|: norm of the first row of a block's output over the others' mean. cos, "
          "|q||k|: of a query\nwith the first key, and with another. entropy: of a row, nats. "
          "mass: the sum of its |weights|.\nMassive activation: largest |h| %.3g, median beside it "
          "%.3g: %.1f times.\n\nalpha by layer (down) and head (across)\n",
          s->massive, s->median, s->median > 0 ? s->massive / s->median : 0);
  heat_maps(maps, star >= 0 ? 2 : 1, out);
}

/* ----------
 * 16.3  The page of check: the toys of chapter 7, and how their lines are judged and printed */

enum { FINDING_HOLDS, FINDING_FAILS, FINDING_REFUTED, FINDING_WRONG, FINDINGS };
struct Page {
  FILE *out; Error *e;
  int count[FINDINGS]; Line refuted[16];
  const Line *heading;   /* of the table that is run */
  Toy toy[4]; int toys;   /* the last four toys; an older one is freed */
};

static const char *const FINDING[FINDINGS] = {"holds", "control", "refuted as printed", "WRONG"};

static const struct { const char *sign; int finding; } RELATION[] = {
  [AT_MOST] = {"<=", FINDING_HOLDS}, [AT_LEAST] = {">=", FINDING_HOLDS},
  [EQUALS] = {"=", FINDING_HOLDS},   [FAILS_BY] = {">=", FINDING_FAILS},
  [SAYS] = {"<=", FINDING_HOLDS},    [FAILS_BELOW] = {"<", FINDING_FAILS},
  [DECIDES] = {"<=", FINDING_HOLDS}, [REFUTES] = {">", FINDING_REFUTED}};

static double worse(const Line *l, int n, double a, double b) {
  if (n == 0) return b;
  if (l->relation == EQUALS) return fabs(b - l->bound) > fabs(a - l->bound) || b != b ? b : a;
  return !strcmp(RELATION[l->relation].sign, "<=") ? larger(a, b) : smaller(a, b);
}

static const char *number(char text[32], double x) {
  snprintf(text, 32, x != 0 && fabs(x) < 0.01 ? "%.1e" : fabs(x) < 0.1 ? "%.5g" : "%.6g", x);
  return text;
}
static int first_line(const char *text) { return (int)strcspn(text, "\n"); }

/* Under "=" x may be off by SCORES and half a unit of the last digit given. Not finite is WRONG. */
static void page_line(Page *p, const Line *l, double x) {
  char measured[32], limit[32]; const char *sign = RELATION[l->relation].sign;
  double bound = l->bound, unit = 1;
  while (unit > 1e-11 && fabs(bound / unit - round(bound / unit)) > 1e-4) unit /= 10;
  bool good = *sign == '=' ? fabs(x - bound) <= unit / 2 + SCORES
            : isfinite(x) && ((sign[1] && x == bound) || (*sign == '<' ? x < bound : x > bound));
  int finding = good ? RELATION[l->relation].finding
              : l->relation == DECIDES && isfinite(x) ? FINDING_REFUTED : FINDING_WRONG;
  fprintf(p->out, " %-11s %-47.*s %8s", l->reference, first_line(l->text), l->text,
          number(measured, x));
  if (finding == FINDING_REFUTED && p->count[finding] < 16) p->refuted[p->count[finding]] = *l;
  if (l->relation != SAYS) {
    fprintf(p->out, " %2s %-8s %s", sign, number(limit, bound), FINDING[finding]);
    p->count[finding]++;
  }
  fprintf(p->out, "\n");
}

static void check_states(Page *p) {   /* the cells of 7.2 */
  fprintf(p->out, "%31snone  rel. alibi    t5  rot.  abs. learn.  = worst    alone  x least\n", "");
  const StateRow *end = STATE_ROWS + N_STATE_ROWS - (BEYOND.leave ? 0 : BEYOND_ROWS);
  for (const StateRow *r = STATE_ROWS; r < end; r++) {
    const char *flags = r->flags ? r->flags : "";
    double worst = 0, alone = 0, least = INFINITY; int first = r->flags ? 1 : 2;
    fprintf(p->out, " %-28s", r->name);
    for (int x = 0; x < POS_ROWS; x++) {
      bool agree = r->agree && x < INSIDE;
      Toy *one = toy(p, 1, "%s %s", SCHEMES[x], flags);
      Toy *y = toy(p, 1, "%s %s", SCHEMES[x], flags);
      if (!one || !y) return;
      keys_from_queries(&one->m, r->gain); keys_from_queries(&y->m, r->gain);
      one->T = 1;
      toy_feed(one, 0); toy_feed(y, 0);
      if (first == 2) { y->ids[0] = 3; toy_forward(y); }
      bool plus = y->m.c.sim != SIM_EXP && y->m.c.normalizer == NORMALIZER_SUM;
      double bound = STATES + (plus ? EPS_IN_Z : 0);
      double spread = toy_spread(y, first, y, first), single = toy_spread(y, 1, one, 1);
      bool good = agree ? spread <= bound && single <= bound : APART <= spread && isfinite(spread);
      if (agree) { worst = larger(worst, spread); alone = larger(alone, single); }
      else least = smaller(least, spread);
      p->count[!good ? FINDING_WRONG : agree ? FINDING_HOLDS : FINDING_FAILS]++;
      fprintf(p->out, "     %c", !good ? '!' : agree ? '=' : 'x');
    }
    if (r->agree) fprintf(p->out, "   %8.1e %8.1e %8.1e\n", worst, alone, least);
    else fprintf(p->out, "   %26.1e\n", least);
  }
  fprintf(p->out, " = they agree with each other and with the token alone, to %.1e (%.0e where Z "
          "holds 1e-8)\n x they part by %.0e or more: controls     ! neither, or the wrong one\n",
          STATES, STATES + EPS_IN_Z, APART);
}

static int page_total(const Page *p) {
  const int *n = p->count;
  if (n[FINDING_REFUTED]) fprintf(p->out, "\nRefuted as printed\n");
  for (int i = 0; i < n[FINDING_REFUTED] && i < 16; i++) {
    const char *text = p->refuted[i].text, *said = text + first_line(text);
    fprintf(p->out, " %-11s %s\n", p->refuted[i].reference, *said ? said + 1 : text);
  }
  fprintf(p->out, "\n%d hold, %d controls fail as they must, %d refuted as printed, %d WRONG\n",
          n[FINDING_HOLDS], n[FINDING_FAILS], n[FINDING_REFUTED], n[FINDING_WRONG]);
  return !n[FINDING_WRONG] ? 0
       : fail(p->e, 1, "check: expected all to be as it must, found %d WRONG. Try: sink check | "
              "grep '[!W]'", n[FINDING_WRONG]);
}

static void toy_free(Toy *y) {
  free(y->a.probe); acts_free(&y->a); model_free(&y->m); free(y->maps); free(y->before);
  *y = (Toy){0};
}

/* Normal numbers, a stream a tensor. Matrices nearly keep a vector's length; gains are near 1. */
static void toy_fill(Model *m, uint64_t seed) {
  for (int i = 0; i < m->n_tensors; i++) {
    const Tensor *t = &m->tensor[i];
    Rng rng = {hash64(seed, t->name, strlen(t->name))};
    bool gain = strstr(t->name, "norm") && !strstr(t->name, ".b");
    bool rows = !t->matrix || !strcmp(t->name, "wte") || !strcmp(t->name, "wpe");
    double spread = gain ? 0.25 : rows ? 1 : 1 / sqrt((double)t->shape[0]);
    for (idx n = 0; n < t->count; n++) {
      int d = (int)(n % m->c.head_dim);
      bool frozen = strstr(t->name, ".kstar") && !config_learned_dim(&m->c, d);
      m->params[t->at + n] = frozen ? 0 : (real)(spread * rng_normal(&rng) + gain);
    }
  }
}

static int toy_room(Toy *y, Page *p, int T) {
  if (!acts_create(&y->a, &y->m, 1, T, ACTS_ALL, p->e)) y->maps = maps_create(&y->a, &y->m.c, p->e);
  y->page = p; y->T = T;
  if (p->e->status) toy_free(y);
  return p->e->status;
}

static Toy *toy(Page *p, uint64_t seed, const char *format, ...) {
  char flags[512] = "--layers 3 --heads 2 --dim 12 --head-dim 4 --ffn 10 --context 12 --vocab 13 ";
  size_t n = strlen(flags);   /* 13: TOY_VOCAB */
  Toy *y = &p->toy[p->toys++ % 4];
  Config c;
  va_list args;
  va_start(args, format);
  vsnprintf(flags + n, sizeof flags - n, format, args);
  va_end(args);
  toy_free(y);
  if (p->e->status || config_from_flags(&c, flags, p->e)
      || model_create(&y->m, &c, true, p->e) || toy_room(y, p, c.context)) return NULL;
  toy_fill(&y->m, seed);
  return y;
}

/* A toy of line l with these flags, up to a |, after the table's; fed. T5's table: Line, 7.1. */
static Toy *line_toy(Page *p, const Line *l, const char *flags, const char *scheme) {
  Toy *y = toy(p, 1, "%s %.*s %s", p->heading->flags, (int)strcspn(flags, "|"), flags, scheme);
  if (!y) return NULL;
  int H = y->m.c.heads;
  y->line = l; y->x = l->x;
  for (int n = 0; n < 32 * H && strstr(l->flags, "t5") && y->m.w.rel && l->x != 0; n++)
    y->m.w.rel[n] = (real)(l->x * (l->x == 1 && n / H > 16 ? 16 : n / H));
  toy_feed(y, (uint64_t)p->heading->x);
  return y;
}

/* Of the schemes of a line with a * the worst counts. */
static void page_measure(Page *p, const Line *l) {
  bool each = *l->flags == '*';
  const char *flags = l->flags + each, *bar = strchr(flags, '|');
  double worst = NAN;
  for (int x = 0; x < (each ? INSIDE : 1); x++) {
    Toy *y = line_toy(p, l, flags, each ? SCHEMES[x] : "");
    if (y && bar) y->other = line_toy(p, l, bar + 1, "");
    if (p->e->status) return;
    worst = worse(l, x, worst, l->measure(y));
  }
  page_line(p, l, worst);
}

#define LINES(table) table, (int)(sizeof table / sizeof *table)
struct Check { const Line *line; int lines; void (*more)(Page *p); };
static const Check CHECKS[] = {
  {LINES(STATES_OF), check_states}, {LINES(EQ16), NULL}, {LINES(FIRST), NULL},
  {LINES(PROP1), NULL}, {LINES(PROP2), NULL}, {LINES(PROP3), NULL}, {LINES(PROP4), NULL},
  {LINES(PNORMS), NULL}, {LINES(METRIC), NULL}, {0}};

static int checks_run(const Program *program, const char *name, FILE *out, Error *e) {
  const Check *const tables[] = {CHECKS, program->checks};
  Page p = {.out = out, .e = e};
  Near near = {.word = name ? name : ""};
  int ran = 0, threads = workers(); bool list = !strcmp(near.word, "list");
  set_workers(1);   /* toys are too small to share */
  for (int k = 0; k < 2; k++)
    for (const Check *c = tables[k]; c && c->line && !e->status; c++) {
      const Line *l = p.heading = c->line;
      bool lines = c->more != check_states; int n = first_line(l->text);
      if (list) fprintf(out, "  %-9s %.*s\n", l->reference, n, l->text);
      near_look(&near, l->reference);
      if (strncmp(l->reference, near.word, strlen(near.word))) continue;
      if (!ran++)
        fprintf(out, "What the paper states, measured on toy models; %s build, eps = %.1e\n"
                " holds: within the bound, or the number stated   control: it must fail, and does\n"
                " refuted as printed: listed at the end           WRONG: anything else\n",
                sizeof(real) == sizeof(double) ? "double" : "float", REAL_EPS);
      fprintf(out, "\n%-9s%-*.*s%s\n %s\n", l->reference, lines ? 51 : 0, n, l->text,
              lines ? " measured    bound" : "", l->text + n + (l->text[n] == '\n'));
      for (int i = 1; i < c->lines && !e->status; i++) page_measure(&p, &l[i]);
      if (c->more && !e->status) c->more(&p);
    }
  for (int i = 0; i < 4; i++) toy_free(&p.toy[i]);
  set_workers(threads);
  if (list) return 0;
  if (!ran && !file_missing(name))
    fail(e, 2, "check of a model is a verb of hf. Try: make hf, and ./hf check MODEL");
  else if (!ran)
    fail(e, 2, "check %s: no check has this name. Try: %s check %s", name,
         near.best[0] || program->checks ? program->name : "make paper, ./paper",
         near.best[0] ? near.best : "list");
  return e->status ? e->status : page_total(&p);
}

/* ----------
 * 16.4  Verbs */

/* A blank and a word, quoted where a shell needs it. */
static void word_add(Bytes *out, const char *word, Error *e) {
  const char *quote = *word && !strpbrk(word, " \t\n'\"`$&;()*?[]{}!<>|\\#~") ? "" : QUOTE;
  bytes_print(out, e, " %s", quote);
  for (; *word; word++)
    bytes_add(out, *word == *QUOTE ? "'\\''" : word, *word == *QUOTE ? 4 : 1, e);
  bytes_print(out, e, "%s", quote);
}

/* The command that repeats the work: flags that count, less defaults; of run all given. */
static void command_text(const Settings *s, Bytes *out, Error *e) {
  Settings base; char value[PATH_ROOM], fallback[PATH_ROOM];
  settings_default(&base);
  bytes_print(out, e, "%s %s", s->program->name, s->verb);
  for (const Option *o = OPTIONS; o->flag; o++) {
    if (option_find(o->flag, s->groups) != o) continue;
    option_text(o, s, value, sizeof value);
    option_text(o, &base, fallback, sizeof fallback);
    bool given = s->given[o - OPTIONS] && !strcmp(s->verb, "run");
    if ((!given && !strcmp(value, fallback)) || option_idle(o->flag, s)) continue;
    bytes_print(out, e, " --%s", o->flag);
    if (o->kind != 'b' || strcmp(value, "1")) word_add(out, value, e);
  }
  bytes_add(out, "", 1, e);
}

typedef struct Work {
  Trainer t; Outcome o; Measured row;
  Ids ids; Bytes in, out, table; Result besides;
} Work;
static int work_end(Work *w, Error *e) {
  trainer_free(&w->t); sinks_free(&w->o.s); ids_free(&w->ids); bytes_free(&w->in);
  bytes_free(&w->out); bytes_free(&w->table); result_free(&w->besides); result_free(&w->row.all);
  return e->status;
}

static int verb_run(Settings *s, const char **words, int n, Error *e) {
  (void)words; (void)n; return demo_run(s, results_alone(s) ? stderr : stdout, e);
}

static int verb_train(Settings *s, const char **words, int n, Error *e) {
  Work w = {.o = {.name = "train", .source = ""}}; Trainer *t = &w.t;
  Outcome *o = &w.o; const Progress *p = &o->p;
  const Column six = {.form = "%.6f", .unit = 1}; const double never = s->train.steps ? 0 : NAN;
  char page[PATH_ROOM + 8] = "", cell[5][32];   /* page: "" where no --report, no --out is given */
  int starts; (void)words; (void)n;
  if (s->program->page)
    snprintf(page, sizeof page, "%s%s", s->report[0] ? s->report : s->out,
             s->out[0] && !s->report[0] ? ".html" : "");
  if (outputs_ready(s, (const char *[]){s->out, s->log, page}, 3, e)
      || trainer_begin(t, s, "", e)) return work_end(&w, e);
  if (!s->out[0]) fprintf(stderr, "sink: this model will not be kept. --out FILE keeps it\n");
  if (*t->data.drawn && !s->quiet) fprintf(stderr, "sink: %s\n", t->data.drawn);
  Settings seen = t->s;
  seen.eval_T = (int)at_most(seen.eval_T, seen.model.context);
  outcome_begin(o, t, seen.eval_T);
  progress_start(&o->p, "train", s->quiet);
  if (!train_run(t, &o->p, e) && !trained_loss(&o->loss, t, HELD_BLOCKS, e))
    printf("steps=%ld loss=%s valid_loss=%s valid_tokens=%lld alpha_1=%s sink_1=%s mass=%s "
           "parameters=%lld text=%s%s%s\n", t->step, cell_text(cell[0], &six, t->loss + never),
           cell_text(cell[1], &six, o->loss), o->tokens,
           cell_text(cell[2], &six, p->alpha1 + never), cell_text(cell[3], &six, p->sink1 + never),
           cell_text(cell[4], &six, p->mass + never), t->m.count, t->data.name,
           s->out[0] ? " out=" : "", s->out);
  has_ended(o->ended, t, e);
  if (!e->status && page[0]
      && (o->ended[0] || (o->p.looks && !outcome_measure(o, t, &seen, &starts, e))))
    s->program->page(page, "train", &seen, o, 1, NULL, o->ended, e);
  if (o->ended[0]) fail(e, 1, "%s", o->ended);
  return work_end(&w, e);
}

/* A model; a published one of more than `room` bytes stays in its file. Its own settings of model,
 * training and data hold, and what the command line says on top of them; all else is s's. */
static int open_model(Settings *s, const char *path, double room, Trainer *t, Error *e) {
  const char *words[WORDS_MOST]; int n = 0;
  if (!PUBLISHED_PARTS.open || !PUBLISHED_PARTS.open(path, room, t, e))
    checkpoint_load(path, t, false, e);
  if (e->status) return e->status;
  Settings now = *s; Source *d = &now.data;
  now.model = t->s.model; now.train = t->s.train; now.data = t->s.data;
  d->open = s->data.open; d->first = s->data.first; d->read_tokenizer = s->data.read_tokenizer;
  strcpy(d->home, s->data.home);
  if (file_missing(d->tokenizer)) strcpy(d->tokenizer, "tokenizer.bin");
  bool reads = option_find("valid", s->groups) != NULL;   /* its text, where it is still there */
  bool lost = reads && source_named(d) && file_missing(source_name(d));
  d->own = t->data.source;
  if (d->own) strcpy(d->own_name, source_name(d));
  if (source_named(&s->data) || lost || !reads) d->text[0] = d->grammar[0] = d->tokens[0] = 0;
  t->random_tokens = d->random_tokens[0] != 0;   /* the metric is of text that has none (9.4) */
  d->random_tokens[0] = 0;
  now.eval_T = (int)at_most(now.eval_T, now.model.context);   /* unless --T is said */
  settings_parse(&now, s->argc, s->argv, s->groups, words, &n, e);
  d->whole = !now.given[option_find("valid", "d") - OPTIONS];
  if (settings_count(&now, e)) return e->status;
  if (lost && !source_named(d) && !now.ids[0] && !now.domains[0] && now.input == INPUT_NATURAL)
    return fail(e, 1, "%s: its text, %s, is not there. Try: --text FILE", path,
                source_name(&t->s.data));
  *s = t->s = now;
  t->m.plain = s->plain;
  return 0;
}

static int open_data(Settings *s, Trainer *t, const char *path, Error *e) {
  uint64_t hash = t->tokenizer_hash; const int vocab = s->data.vocab = t->m.c.vocab;
  if (s->ids[0]) s->data.fix_token = s->data.first_tokens[0] = 0;   /* they are fed as they are */
  if (s->ids[0]) return data_ids(&t->data, s->ids, vocab, e);
  if (t->m.file && !hash && s->input != INPUT_NATURAL && !fixed_at(&s->data)) {
    t->data.vocab = vocab;   /* drawn ids need no tokenizer */
    return 0;
  }
  if (data_open(&t->data, &s->data, 0, 0, e)) return e->status;
  bool own = !source_named(&s->data) && !strcmp(s->data.own_name, SHIPPED_TEXT);
  if (own && t->data.source != s->data.own && s->input == INPUT_NATURAL)
    return fail(e, 1, "%s: its text is not " SHIPPED_TEXT " as it is now. Try: --text FILE, or "
                "./paper and --grammar data/text/story.grammar", path);
  if (s->data.tokens[0]) return 0;   /* ids alone: they are below the model's --vocab */
  if (hash) return tokenizer_same(t, path, e);
  return t->data.vocab == vocab ? 0
       : fail(e, 1, "%s: expected a vocabulary of %d, found %d in %s. Try: --ids FILE", path,
              vocab, t->data.vocab, s->data.tokenizer);
}

static int results_ready(const Settings *s, Error *e) {
  return outputs_ready(s, (const char *[]){s->csv, s->json, s->report}, 3, e);
}

static void eval_print(const Work *w, const Settings *s, int starts) {
  const Sinks *r = &w->o.s;
  int first = config_column_first(&s->model), swap = s->swap_position;
  int edited = swap + s->replace_position, there = first + edited - 1; char edit[48];
  snprintf(edit, sizeof edit, "p_1 %s p_%d", swap ? "swapped with" : "replaced by", edited);
  printf(s->input == INPUT_NATURAL ? "%s on %s (%s)" : "%s", w->o.name, w->o.text, w->o.read);
  printf(": %d sequences of %d tokens, %s", r->n, r->T, INPUTS[s->input]);
  if (s->input == INPUT_NATURAL) printf(" (%d at the start of a document)", starts);
  if (*w->t.data.drawn) printf(", %s", w->t.data.drawn);
  else if (s->data.fix_token) printf(", token %d fixed", s->data.fix_token);
  if (w->t.random_tokens) printf(", its training's random tokens not drawn");
  if (edited) printf(", %s", edit);
  printf(", rows %s\n\n", s->metric_rows == METRIC_REAL ? "real" : "plus1");
  sinks_print(r, &s->model, s->eval_k, stdout);
  if (edited)   /* Table 7's two numbers */
    printf("\n%s: Sink_1 %.2f%%, Sink_%d %.2f%%; alpha_1 %.4f, alpha_%d %.4f\n", edit,
           100 * sinks_sink(r, first, 0), edited, 100 * sinks_sink(r, there, 0),
           sinks_alpha(r, first), edited, sinks_alpha(r, there));
  if (s->input == INPUT_NATURAL) printf("\nloss %.4f nats a token\n", r->loss);
  if (w->table.size) printf("\n%s", w->table.at);
  printf("%.*s", (int)w->out.size, w->out.at);
}

static int verb_eval(Settings *s, const char **words, int n, Error *e) {
  const Program *program = s->program;
  if (!n) return fail(e, 2, "eval: expected a model file. Try: sink eval out/model.ckpt");
  Work w = {.o = {.name = words[0], .source = ""}}; int starts = 0;
  bool several = n > 1 || s->inputs || s->domains[0] || s->lengths[0];
  if (several && !program->survey)
    return fail(e, 2, "eval of several models: paper has it. Try: make paper, and ./paper eval");
  if (results_ready(s, e)) return e->status;
  if (several) return program->survey(s, words, n, e);
  double kept = s->signs || s->quantize ? INFINITY : 0;   /* these need it in memory */
  if (open_model(s, words[0], kept, &w.t, e) || open_data(s, &w.t, words[0], e)
      || outcome_measure(&w.o, &w.t, s, &starts, e)
      || (program->ablate && program->ablate(&w.besides, &w.table, s, &w.t, e))
      || (program->measure && program->measure(&w.besides, &w.out, s, &w.t, e)))
    return work_end(&w, e);
  w.o.loss = w.o.s.loss; w.o.tokens = (idx)w.o.s.n * w.o.s.T;
  if (!results_alone(s)) eval_print(&w, s, starts);
  const char *drawn = w.t.data.drawn, *labels[] = {"text", "read", *drawn ? "first" : NULL, NULL};
  strcpy(w.row.label[0], w.o.text), strcpy(w.row.label[1], w.o.read), strcpy(w.row.label[2], drawn);
  if (!eval_numbers(&w.row.all, &w.o.s, &w.besides, s, e)) rows_write(&w.row, 1, labels, s, e);
  if (s->report[0] && program->page)
    program->page(s->report, "eval", s, &w.o, 1, (const char *)w.table.at, "", e);
  return work_end(&w, e);
}

static int verb_check(Settings *s, const char **words, int n, Error *e) {
  return checks_run(s->program, n ? words[0] : NULL, stdout, e);
}

static int verb_list(Settings *s, const char **words, int n, Error *e) {
  (void)s; (void)words; (void)n;
  printf("variant         paper          its Sink_1 %%    loss flags\n");
  for (const Variant *v = VARIANTS; v->name; v++) {
    int at = printf(strncmp(v->source, "beyond", 6) ? "%-15s %-14s %-15s %4s "
                    : "%-16s %-38s %s%s", v->name, v->source, v->sink, v->loss);
    printf("%s%s\n", at + (int)strlen(v->flags) > 79 ? "\n                " : "", v->flags);
  }
  printf("\n--variant NAME sets a row's flags; * a / b: Sink_* and Sink_1; -: it failed.\n"
         "Table 6: rows of Table 15. A flag and no row: --optimizer muon (2502.16982).\n"
         "./sink refuses DyT, QK-norm, gates and what else is data/later's: ./paper.\n"
         "Text: " SHIPPED_TEXT ", or --text FILE; ./paper: --grammar, --tokens.\n");
  return e->status;
}

static int verb_tokenize(Settings *s, const char **words, int n, Error *e) {
  Work w = {0}; Data *d = &w.t.data; const Tokenizer *t = &d->tokenizer;
  const char *what = n ? words[0] : "", *path = n > 1 ? words[1] : "-";
  bool encode = !strcmp(what, "encode");
  if (settings_count(s, e)) return e->status;
  if (!strcmp(what, "train"))
    return fail(e, 2, "tokenize train: for ./paper. Try: make paper");
  if (n > 2 || s->model.vocab || s->data.grammar[0]
      || (!encode && (s->data.bos || strcmp(what, "decode"))))
    return fail(e, 2, "tokenize%s%s: expected encode or decode, and a file. %s",
                n ? " " : "", what, HINT);
  if (s->out[0] || s->force)
    return fail(e, 2, "--%s: tokenize %s writes to standard output. Try: without it",
                s->out[0] ? "out" : "force", what);
  if (data_open_tokenizer(d, &s->data, e) || file_read(path, &w.in, e)) return work_end(&w, e);
  if (encode) {
    if (s->data.bos) id_add(&w.ids, t->bos, e);
    if (w.in.size > 2 && !memcmp(w.in.at, "\xEF\xBB\xBF", 3))
      fprintf(stderr, "sink: %s: its byte order mark has ids too\n", path);
    tokenizer_encode(t, w.in.at, w.in.size, &w.ids, e);
    for (size_t i = 0; i < w.ids.size && !e->status; i++)
      printf("%d%c", w.ids.at[i], i + 1 < w.ids.size ? ' ' : '\n');
  } else if (!ids_parse(&w.in, path, t->vocab, &w.ids, &d->starts, e)
             && !tokenizer_decode(t, w.ids.at, w.ids.size, &w.out, e) && w.out.size) {
    bool blank = t->blank && w.out.at[0] == ' ';   /* which encoding adds */
    fwrite(w.out.at + blank, 1, w.out.size - blank, stdout);
  }
  return work_end(&w, e);
}

typedef struct Scored { double x; int id; } Scored;
static int likelier(const void *a, const void *b) {
  const Scored *p = a, *q = b;
  return p->x > q->x ? -1 : p->x < q->x ? 1 : p->id - q->id;
}

/* The likeliest of y [V] at temperature 0, else a draw from softmax(y / temperature): of the K
 * likeliest (--top-k), of equals the smaller ids; then of the fewest that hold P (--top-p). */
static int token_draw(const real *y, int V, const Settings *s, Rng *rng, Error *e) {
  Scored *by = grab(V, sizeof *by, e);
  int best = 0, kept = s->top_k && s->top_k < V ? s->top_k : V;
  double sum = 0, held = 0;
  for (int v = 0; by && v < V; v++) {
    by[v] = (Scored){y[v], v};
    if (y[v] > y[best]) best = v;
  }
  if (isnan(vec_sum(V, y)) || !isfinite(y[best]))
    fail(e, 1, "generate: expected logits that are numbers, found others. Try: another model");
  if (!e->status && s->temperature > 0) {
    if (kept < V || s->top_p < 1) qsort(by, (size_t)V, sizeof *by, likelier);
    for (int i = 0; i < kept; i++) sum += by[i].x = exp((by[i].x - y[best]) / s->temperature);
    for (int i = 0; i < kept && s->top_p < 1; i++)
      if ((held += by[i].x) >= s->top_p * sum) kept = i + 1;
    if (s->top_p < 1) sum = held;
    double draw = rng_uniform(rng);
    for (int i = 0; i < kept && draw >= 0; i++)
      if ((draw -= by[i].x / sum) < 0) best = by[i].id;
  }
  free(by);
  return best;
}

/* Up to `most` tokens after w->ids. The prompt is one forward, a token after it one row: the KV
 * cache. A full context drops the oldest but the first; keys move, and a token is a forward. */
static void generate(Work *w, const Settings *s, int most, Error *e) {
  const Tokenizer *known = &w->t.data.tokenizer; const Model *m = &w->t.m;
  int C = m->c.context, V = m->c.vocab;
  Rng rng = {hash64((uint64_t)s->train.seed, "generate", 8)};
  real *y = grab(V, sizeof(real), e);
  int *row = grab(C, sizeof(int), e);
  stop_gently();
  for (int i = 0, from = 0; i < most && !e->status && !interrupted; i++) {
    int size = (int)w->ids.size, have = size < C ? size : C;
    if (size > C) from = 0;   /* the context was full before */
    for (int k = 0; k < have; k++) row[k] = w->ids.at[k ? size - have + k : 0];
    int R = model_extend(m, &w->t.a, row, have, from);
    model_logits(m, &w->t.a, w->t.a.nf + (idx)(R - 1) * m->c.dim, 1, y);
    if (!isfinite(vec_sum(V, y))) forward_fault(&w->t.m, row, have, e);
    int32_t next = model_fault(m, e) ? 0 : token_draw(y, V, s, &rng, e);
    if (e->status || next == known->end) break;
    from = have; w->out.size = 0;
    id_add(&w->ids, next, e);
    if (next < known->vocab) tokenizer_decode(known, &next, 1, &w->out, e);
    if (w->out.size) fwrite(w->out.at, 1, w->out.size, stdout);
    fflush(stdout);
  }
  fputc('\n', stdout); free(y); free(row);
}

static int verb_generate(Settings *s, const char **words, int n, Error *e) {
  Work w = {0}; Data *d = &w.t.data; const Tokenizer *known = &d->tokenizer;
  if (s->data.grammar[0])
    data_refuse("grammar", e);
  else if (!n)
    fail(e, 2, "generate: expected one model. Try: sink help generate");
  else if (!open_model(s, words[0], 4e9, &w.t, e) && !data_open_tokenizer(d, &s->data, e)
           && !tokenizer_same(&w.t, words[0], e) && !data_first(d, &s->data, 0, e)
           && !acts_create(&w.t.a, &w.t.m, 1, s->model.context, ACTS_KEYS, e)) {
    const int32_t start = fixed_at(&s->data) == 1 ? fixed_id(d, (uint64_t)s->train.seed, 0)
                        : s->data.bos ? known->bos : known->end;
    id_add(&w.ids, start, e);
    tokenizer_encode(known, (const unsigned char *)s->prompt, strlen(s->prompt), &w.ids, e);
    fputs(s->prompt, stdout);
    generate(&w, s, s->how_many ? s->how_many : 100, e);
  }
  return work_end(&w, e);
}

static int verb_dump(Settings *s, const char **words, int n, Error *e) {
  Work w = {0}; Model *m = &w.t.m; const Ids *ids = &w.t.data.held, *starts = &w.t.data.starts;
  char config[PATH_ROOM + 16]; Error forward = {0};
  if (!s->ids[0] || !s->out[0])
    return fail(e, 2, "dump: expected --ids FILE and --out FOLDER. Try: sink help dump");
  if (n) {
    s->groups = "iouwl";   /* the model has its own settings */
    open_model(s, words[0], INFINITY, &w.t, e);
  } else if (!config_resolve(&s->model, e) && !model_create(m, &s->model, false, e))
    model_init(m, s->train.init, (uint64_t)s->train.seed);
  m->plain = s->plain;
  snprintf(config, sizeof config, "%s/config.json", s->out);
  if (!e->status) data_ids(&w.t.data, s->ids, m->c.vocab, e);
  int B = (int)starts->size, size = (int)ids->size, T = (B > 1 ? starts->at[1] : size) - 1;
  for (int b = 1; b <= B; b++)
    if ((b < B ? starts->at[b] : size) != (idx)b * (T + 1))
      fail(e, 1, "%s: expected %d ids in line %d as before. Try: lines of one length", s->ids,
           T + 1, b);
  if (T < 1) fail(e, 1, "%s: expected at least 2 ids. Try: a line like 1 2 3", s->ids);
  if (T > m->c.context)
    fail(e, 1, "%s: expected at most %d ids a line. Try: shorter ones", s->ids, m->c.context + 1);
  if (e->status || outputs_ready(s, (const char *[]){config}, 1, e)) return work_end(&w, e);
  if (config_trains(&m->c, &forward))
    printf("without gradients: %.*s\n", (int)strcspn(forward.text, "."), forward.text);
  else model_grads(m, e);
  Dump d = {.s = s, .c = &m->c, .drawn = !n, .B = B, .T = T, .N = config_rows(&m->c, T),
            .S = config_columns(&m->c, T), .e = e};
  if (!e->status && !acts_create(&w.t.a, m, B, T, ACTS_ALL, e)) dump_run(&d, m, &w.t.a, ids);
  return work_end(&w, e);
}

static int verb_help(Settings *s, const char **words, int n, Error *e);
static const Verb VERBS[] = {
  {"run", "", "mtdeoprujl n ", "a sink emerges, moves, stays away\n"
   "    unless said: " RUN_FLAGS, verb_run},
  {"train", "", "mtdeoprful", "text in, checkpoint out", verb_train},
  {"eval", "MODEL ..", "deoapiyjl force ", "the sink, norms and the alpha map", verb_eval},
  {"check", "[NAME]", "", "the paper's propositions, on toys", verb_check},
  {"list", "", "", "the paper's variants by name", verb_list},
  {"tokenize", "encode|decode [FILE]", "ou vocab grammar tokenizer bos ", "text and its ids",
   verb_tokenize},
  {"generate", "[MODEL]", "gsol grammar tokenizer fix-token first-tokens bos ",
   "text from a model", verb_generate},
  {"dump", "[MODEL]", "miouwls init ", "every tensor of a pass, for NumPy", verb_dump},
  {"help", "[VERB]", "w", "this page; a verb's flags", verb_help},
  {0}
};

/* The verb after v, a program's own before sink's; the first after NULL. */
static const Verb *verb_after(const Verb *v, const Program *program) {
  const Verb *end = VERBS + sizeof VERBS / sizeof *VERBS - 1;
  v = v ? v + 1 : program->verbs ? program->verbs : VERBS;
  return v->name ? v : v == end ? NULL : VERBS;
}
static const Verb *verb_find(const Program *program, const char *name) {
  const Verb *v = verb_after(NULL, program);
  while (v && strcmp(v->name, name)) v = verb_after(v, program);
  return v;
}

/* near may know words that are no verbs. */
static int verb_unknown(const Program *program, Near near, Error *e) {
  const char *ours = advice(near.word, "");
  if (ours) return fail(e, 2, "there is no verb '%s' here. Try: %s", near.word, ours);
  for (const Verb *v = NULL; (v = verb_after(v, program));) near_look(&near, v->name);
  return fail(e, 2, "there is no verb '%s'. Try: %s %s", near.word, program->name,
              near.best[0] ? near.best
              : program->other ? "list" : "help; make paper, ./paper list");
}

/* A verb's flags in sections; what only published models have with --all. */
static int help_verb(const Program *program, const Verb *v, bool all) {
  bool model = v->groups[0] == 'm', hidden = false; const char *heading = NULL;
  printf("%s %s %s\n    %s\n", program->name, v->name, v->words, v->help);
  if (model) printf("\n  %-24sa row of `sink list`: its flags\n", "--variant NAME");
  for (const Option *o = NULL; (o = option_after(o, program)) != NULL;) {
    bool said = o->fallback[0] && o->fallback[0] != '-' && strcmp(o->fallback, "0");
    char left[128], value[VALUE_ROOM];
    for (int k = 0; SECTIONS[k][0]; k++)
      if (!strcmp(o->flag, SECTIONS[k][0])) heading = SECTIONS[k][1];
    if (o == program->options) heading = program->name;
    if (heading) hidden = !all && !strncmp(heading, "Of ", 3);
    if (hidden || option_named(o->flag, v->groups, program) != o) continue;
    if (heading) printf("\n%s\n", heading);
    heading = NULL;
    snprintf(left, sizeof left, "--%s %s", o->flag, option_value(o, value));
    printf(strlen(left) > 22 ? "  %s\n%26s%s" : "  %-24s%s%s", left, "", o->help);
    printf(said ? " [%s]\n" : "%.0s\n", o->fallback);
  }
  if (model && !all) printf("\nOf published models: %s help %s --all\n", program->name, v->name);
  return 0;
}

static int verb_help(Settings *s, const char **words, int n, Error *e) {
  const Program *program = s->program;
  const Verb *v = n ? verb_find(program, words[0]) : NULL;
  if (n && !v && !(v = program->other)) return verb_unknown(program, (Near){.word = words[0]}, e);
  if (v) return help_verb(program, v, s->all || PUBLISHED_PARTS.open);
  printf("%s: \"When Attention Sink Emerges in Language Models\" as one C file.\n\n"
         "  %s VERB [MODEL] [--flag value ...]\n\n", program->name, program->name);
  while ((v = verb_after(v, program)))
    if (verb_find(program, v->name) == v)   /* not sink's where the program has its own */
      printf("  %-9s %-27s %.*s\n", v->name, v->words, first_line(v->help), v->help);
  printf("\nBegin with: %s run. A verb's flags: %s VERB --help.\nExit status: 0 done, 1 something "
         "failed, 2 wrong usage.\n", program->name, program->name);
  return 0;
}

/* Before a verb: no word too many, no flag that changes nothing. A training is echoed. */
static int verb_begin(const Settings *s, const Verb *v, const char **words, int n, Error *e) {
  bool trains = v->run == verb_run || v->run == verb_train, text = trains && !s->data.text[0];
  int most = strchr(v->words, ' ') ? WORDS_MOST : *v->words != 0;   /* "MODEL ..", "[NAME]", "" */
  if (s->threads && set_workers(s->threads))   /* else OMP_NUM_THREADS may say */
    fprintf(stderr, "sink: no OpenMP, so 1 thread and not %d: the same bits\n", s->threads);
  if (n > most)
    return fail(e, 2, "%s: a word too many. Try: %s %s %s%s", words[most], s->program->name,
                text ? v->name : "help", text ? "--text " : v->name, text ? words[most] : "");
  if (s->resume || (!s->start[0] && !n && settings_count(s, e))) return e->status;
  if (trains && !s->quiet) {
    Bytes command = {0};
    command_text(s, &command, e);
    if (!e->status) fprintf(stderr, "%s\n", command.at);
    bytes_free(&command);
  }
  return e->status;
}

static int sink_main(const Program *program, int argc, char **argv) {
  Settings s; Error e = {0};
  const char *words[WORDS_MOST], *name = argc > 1 ? argv[1] : "help"; int n = 0;
  streams_begin(); settings_default(&s);
  s.program = program; s.own = program->own; s.data.open = program->open;
  s.data.first = program->first; s.data.read_tokenizer = program->read_tokenizer;
  program_folder(s.data.home, own_path(s.data.home, PATH_ROOM - 1), argv[0], getenv("PATH"));
  for (const Option *o = program->options; o && o->flag; o++)
    option_set(o, s.own, o->fallback, false, &e);
  if (!strcmp(name, "--help") || !strcmp(name, "-h")) name = "help";
  if (!strcmp(name, "--version"))
    return printf("%s " SINK_VERSION ", %zu-byte numbers\n", program->name, sizeof(real)) < 0
           || fflush(stdout);
  const Verb *v = verb_find(program, name);
  int used = v ? 2 : 1;   /* words before the verb's own */
  if (!v) v = program->other;
  if (v && v->run == verb_run) settings_flags(&s, RUN_FLAGS, "mtd", &e);
  s.argc = argc > used ? argc - used : 0; s.argv = argv + used;
  if (v) s.verb = v->name, s.groups = v->groups;
  if (!v) verb_unknown(program, (Near){.word = name}, &e);
  else if (!settings_parse(&s, s.argc, s.argv, s.groups, words, &n, &e) && s.help)
    help_verb(program, v, PUBLISHED_PARTS.open);
  else if (!e.status && !verb_begin(&s, v, words, n, &e)) v->run(&s, words, n, &e);
  if (!e.status && (fflush(stdout) || ferror(stdout)))
    fail(&e, 1, "the output cannot be written. Try: free some space");
  if (e.status) fprintf(stderr, "%s: %s\n", program->name, e.text);
  return e.status;
}

#ifndef SINK_NO_MAIN
int main(int argc, char **argv) { return sink_main(&SINK, argc, argv); }
#endif
