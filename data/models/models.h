/* models.h - what published models add to sink.c's types. Included before
 * data/later/later.h.
 *
 * SPDX-License-Identifier: MIT
 *
 * The parts are defined in layers.c (angles, windows, biases, embeddings, caps),
 * mixers.c (Mamba, experts), families.c (LongRoPE, cut experts) and stored.c
 * (matrices that stay in their file). */
#ifndef MODELS_H
#define MODELS_H

#include <stdbool.h>

struct Config;
struct Model;
struct Acts;
struct LayerActs;
struct Error;
struct Tensor;
struct Bytes;
static void links_list(struct Bytes *names);
static int models_resolve(struct Config *c, struct Error *e);
static int models_setup(struct Model *m, struct Error *e);
static void models_tensors(struct Model *m, int l, const struct Tensor *after);
static bool models_lacks(const struct Model *m, int l, const char *name);
static void models_room(const struct Model *m, struct Acts *a,
                        struct LayerActs *la, bool keeps);
static bool long_keeps(const struct Model *m, int from, int T);

#define MODELS_CONFIG \
  int rope_scaling;             /* ROPE_*: stretched angles */ \
  double rope_local;            /* the base in layers with a window; 0: the same */ \
  double rope_factor, rope_low, rope_high; \
  int rope_original;            /* the context before it was stretched */ \
  int window_period, window_offset, window_others;   /* which layers have it */ \
  int embed_dim;                /* E, 0 means C */ \
  double embed_scale;           /* the embedding times this; 0: 1 */ \
  double score_divisor;         /* scores over its root; 0: D */ \
  int score_by_layer;           /* scores of block l over l + 1 */ \
  double logit_cap;             /* logits stay within X; 0: none */ \
  int bias_in;                  /* BIAS_* */ \
  /* blocks with l % period == offset attend, and Mamba mixes the others, by I \
   * channels of M states, J taps and rank R; period 0: every block attends */ \
  int attention_period, attention_offset; \
  int mamba_inner, mamba_state, mamba_conv, mamba_rank; \
  /* X ffns of which a row takes the top ones, in blocks with l % period == \
   * offset; a limit: gpt-oss's kind */ \
  int experts, expert_top, expert_period, expert_offset; \
  double expert_limit, expert_slope;
#define MODELS_LAYER \
  Tensor m_in, conv, conv_b, m_x;      /* [C,2I] [J,I] [I] [I,R+2M] */ \
  Norm r_norm, b_norm, c_norm;         /* [R] [M] [M] */ \
  Tensor m_dt, dt_b, a_log, skip;      /* [R,I] [I] [M,I] [I] */ \
  Tensor m_out;                        /* [I,C] */ \
  Tensor router, router_b;             /* [C,X] [X] */ \
  Tensor factors;                      /* of block 0: [r] LongRoPE's */ \
  struct Layer *expert;                /* [X], of which w1 .. b3 are set */
#define MODELS_MODEL \
  Tensor win, wout;             /* [E,C] [C,E] when E differs from C */ \
  struct ModelFile *file;       /* where its matrices are, or NULL */
#define MODELS_LAYER_ACTS
#define MODELS_ACTS \
  real *published;              /* scratch of Mamba and experts */ \
  real *embed, *outp, *doutp;   /* [B,T,E] of wte; [SLICE,E] */ \
  real *capped;                 /* [SLICE,V] logits behind their cap */ \
  real *local_cosine, *local_sine;   /* [N,r/2] of --rope-local */ \
  bool tabled;
#define MODELS_CHOICES \
  CHOICE(ROPE, ROPE_NONE, ROPE_LINEAR, ROPE_LLAMA3, ROPE_YARN, ROPE_LONGROPE); \
  CHOICE(BIAS, BIAS_ALL, BIAS_QKV, BIAS_ATTENTION, BIAS_FFN);
#define MODELS_RESOLVE(c, e) models_resolve(c, e)
#define MODELS_SETUP(m, e) models_setup(m, e)
#define MODELS_TENSORS(m, l, after) models_tensors(m, l, after)
#define MODELS_LACKS(m, l, name) models_lacks(m, l, name)
#define MODELS_ROOM(m, a, la, keeps) models_room(m, a, la, keeps)
#define MORE_OPEN(path, room, t, e) parts_open(path, room, t, e)
#define MORE_READS(names) links_list(names)
#define MORE_CACHE(m, from, T) long_keeps(m, from, T)

#endif
