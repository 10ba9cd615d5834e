/* later.h - what data/later and data/models add to sink.c's types. Included
 * before sink.c, behind data/models/models.h where that is wanted.
 *
 * SPDX-License-Identifier: MIT
 *
 * The rows are defined in later.c. A model without any of them is the paper's:
 * of the seams (sink.h, Seams) more_setup then fills in tensors, lacks, room,
 * step_room and step alone, and room adds only a late_slot that nothing reads. */
#ifndef LATER_H
#define LATER_H
#include <stdbool.h>

#ifndef MODELS_CONFIG            /* data/models/models.h has not been read */
#define MODELS_CONFIG
#define MODELS_LAYER
#define MODELS_MODEL
#define MODELS_LAYER_ACTS
#define MODELS_ACTS
#define MODELS_CHOICES
#define MODELS_RESOLVE(c, e) 0
#define MODELS_SETUP(m, e) 0
#define MODELS_TENSORS(m, l, after)
#define MODELS_LACKS(m, l, name) false
#define MODELS_ROOM(m, a, la, keeps)
#endif

struct Config;
struct Model;
struct Dump;
struct Error;
static int more_resolve(struct Config *c, struct Error *e);
static int more_setup(struct Model *m, struct Error *e);
static void more_dump(struct Dump *d);

#define MORE_CONFIG \
  double soft_cap;              /* X of the scores' cap; NAN: none */ \
  int gain, shift;              /* GAIN_*, SHIFT_*: section 3 */ \
  double clip_low, clip_high;   /* G, X of clipped weights */ \
  double extra_logit;           /* a fixed z_i*; NAN: learned */ \
  int gate;                     /* GATE_* */ \
  int qk_norm, qk_whole;        /* of a head's dims; of all heads at once */ \
  int head_norm, v_scale, xsa;  /* switches: the way out of a head */ \
  int sparse_top, sparse_block; /* how many keys or blocks, and a block's keys */ \
  int sparse_first;             /* a switch: token 1's block is one of them */ \
  int behind_only;              /* a sandwich without n1 and n2 */ \
  MODELS_CONFIG
#define MORE_NORM Tensor a;     /* [1] the slope of DyT */
#define MORE_LAYER \
  Norm norm3, norm4;            /* behind MHSA and FFN, in a sandwich */ \
  Norm qnorm, knorm;            /* [D], with --qk-whole [H*D] [K*D] */ \
  Tensor cscale, sbias;         /* [H] c_h and f_h of the scores */ \
  Tensor wg, gate;              /* [C,G]; [H] u of a static gate */ \
  Tensor vscale, hnorm;         /* [H]; [H*D] the head norm's gain */ \
  MODELS_LAYER
#define MORE_LAYER_ACTS \
  real *out1, *out2;            /* [B,N,C] MHSA's and FFN's output: sandwich */ \
  real *n3stat, *n4stat;        /* [B,N,2] */ \
  real *av;                     /* [B,N,H,D] heads before the way out */ \
  real *gate, *v0;              /* [B,N,G]; v before --gate value */ \
  real *q0, *k0, *qstat, *kstat;   /* before QK-norm; [B,N,H,2] [B,N,K,2] */ \
  MODELS_LAYER_ACTS
/* hide: -INFINITY into z of keys lo .. lo+n-1 that row i of b loses. after:
 * behind block l's backward, when dn is the gradient of what MHSA reads;
 * watched: the seam in whose place backward_watch calls it. */
#define MORE_ACTS \
  real *dgate, *dqk;            /* like gate; like q: scratch of QK-norm */ \
  real *late_slot;              /* [B,H,D+3] dhnorm, dc, df, dv-scale */ \
  real *chosen;                 /* [threads,N] blocks' scores */ \
  real *kept;                   /* [2,C] rows of P while it is edited (T7) */ \
  const struct Ablation *ablation; \
  void (*hide)(const struct Acts *a, int l, idx b, idx i, idx lo, idx n, \
               real *z); \
  const struct Isolation *isolation; \
  void (*after)(const struct Acts *a, int l, int B, idx N); \
  void (*watched)(struct Model *m, struct Acts *a, int l, int B, idx N); \
  MODELS_ACTS
#define MORE_MODEL MODELS_MODEL
#define MORE_NORMS , NORM_DYT
#define MORE_PLACES , PLACE_PARALLEL, PLACE_SANDWICH
#define MORE_SIMS , SIM_SOFTPICK, SIM_RECTIFIED, SIM_RELU, SIM_SPARSEMAX, SIM_ENTMAX
#define MORE_NORMALIZERS , NORMALIZER_COUNT
#define MORE_EXTRAS , EXTRA_LOGN
#define MORE_OPTIMIZERS , OPTIMIZER_MUON
#define MORE_CHOICES \
  CHOICE(GAIN, GAIN_NONE, GAIN_LOGN); \
  CHOICE(SHIFT, SHIFT_NONE, SHIFT_LOGN, SHIFT_LEARNED); \
  CHOICE(GATE, GATE_NONE, GATE_HEAD, GATE_ELEMENT, GATE_VALUE, GATE_STATIC); \
  PAPER_CHOICES MODELS_CHOICES
#define MORE_RESOLVE(c, e) more_resolve(c, e)
#define MORE_SETUP(m, e) more_setup(m, e)
#define MORE_DUMP(d) more_dump(d)

#define MORE_VARIANTS \
  {"parallel", "--place parallel", "beyond: GPT-NeoX (2204.06745)", "", ""}, \
  {"softpick", "--sim softpick", "beyond: softpick (2504.20966)", "", ""}, \
  {"rectified", "--sim rectified", "beyond: rectified-only (2504.20966)", \
   "", ""}, \
  {"relu-n", "--sim relu --normalizer count", \
   "beyond: ReLU over n (2309.08586)", "", ""}, \
  {"clipped-softmax", "--clip-low -0.03", \
   "beyond: clipped softmax (2306.12929)", "", ""}, \
  {"null-logit", "--extra logit --extra-logit 4", \
   "beyond: off-by-one, its 0 made 4", "", ""}, \
  {"softmax-n", "--extra logn", "beyond: softmax_n (2023), its n made n_i", \
   "", ""}, \
  {"soft-cap", "--soft-cap 50", "beyond: Gemma 2 (2408.00118)", "", ""}, \
  {"scalable-softmax", "--score-scale logn", "beyond: SSMax (2501.19399)", \
   "", ""}, \
  {"score-bias", "--sim sigmoid --normalizer one --score-bias learned", \
   "beyond: sigmoid attention (2409.04431)", "", ""}, \
  {"gate-head", "--gate head", "beyond: gates (2505.06708)", "", ""}, \
  {"gate-element", "--gate element", "beyond: gates (2505.06708)", "", ""}, \
  {"gate-value", "--gate value", "beyond: gates (2505.06708)", "", ""}, \
  {"gate-static", "--gate static", "beyond: no input (2603.05498)", "", ""}, \
  {"qk-norm", "--qk-norm", "beyond: QK-norm (2010.04245)", "", ""}, \
  {"head-norm", "--head-norm", "beyond: arXiv 2605.06611", "", ""}, \
  {"v-scale", "--v-scale", "beyond: arXiv 2603.17771", "", ""}, \
  {"xsa", "--xsa", "beyond: XSA (2603.09078)", "", ""}, \
  {"sandwich", "--place sandwich", "beyond: Gemma 2 (2408.00118)", "", ""}, \
  {"dyt", "--norm dyt", "beyond: DyT (2503.10622)", "", ""}, \
  {"top-8", "--sparse-top 8", "beyond: the 8 keys of largest score", "", ""}, \
  {"blocks", "--sparse-top 3 --sparse-block 8", "beyond: MoBA (2502.13189)", \
   "", ""}, \
  {"blocks-first", "--sparse-top 3 --sparse-block 8 --sparse-first", \
   "beyond: NSA's first block (2502.11089)", "", ""}, \
  {"sparsemax", "--sim sparsemax", "beyond: sparsemax (1602.02068)", "", ""}, \
  {"entmax", "--sim entmax", "beyond: 1.5-entmax (1905.05702)", "", ""}, \
  {"sink-token-4", "--sink-token 4", \
   "beyond: 4; StreamingLLM (2309.17453) learns 1", "", ""},

#endif
