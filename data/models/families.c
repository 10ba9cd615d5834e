/* families.c - later families of published models, for hf.c, which includes it:
 * Qwen, Gemma, Phi-3, OLMo, gpt-oss.
 *
 * SPDX-License-Identifier: MIT
 *
 * Chapter 13 reads a folder's config.json by tables. Here are what these
 * families add to them:
 *
 *   qwen2        llama with biases of q, k and v
 *   qwen3        llama with QK-norm; heads may be wider than C / H
 *   gemma        llama with gains 1 + w; GeGLU by tanh; the embedding times
 *                sqrt(C)
 *   gemma2       sandwich norms with gains 1 + w; GeGLU by tanh; capped scores
 *                and logits; the embedding times sqrt(C); <q,k> over the root
 *                of another number than D; a window in every other block
 *   gemma3_text  that with QK-norm, without caps; a window in 5 of 6 blocks,
 *                which turn by a base of their own
 *   gemma3       its larger models: the same within text_config, beside an
 *                image part, which is left out. Texts alone are read: no token
 *                stands for a piece of an image
 *   olmo2        norms behind the branches alone; QK-norm over all heads of a
 *                row
 *   olmo3        that with a window in 3 of 4 blocks, whose angles YaRN leaves
 *                alone
 *   gpt_oss      a learned logit in every softmax (--extra logit); a window in
 *                every other block; biases; experts with an activation of their
 *                own, of which a row takes 4
 *   phi3         a llama whose q, k and v are one matrix, and gate and up
 *                another; maybe only the first dims of a head turn; LongRoPE's
 *                angles change with a text's length
 *
 * YaRN's angles serve all llama-like ones here. SmolLM and SmolLM2 are llamas
 * by their config.json. Where transformers 4 and 5 differ, 5 counts.
 *
 * Sources: the modelling code of transformers 5.23, and the files that were
 * published of each family. */

/* --- Which blocks have the window ----------------------------------------- */

/* Do L blocks slide by this period: of each period the block at the offset, or
 * (others) all but it? */
static bool period_fits(const bool *sliding, int L, int period, int offset,
                        bool others) {
  for (int l = 0; l < L; l++)
    if (sliding[l] != ((l % period == offset) != others))
      return false;
  return true;
}

/* The flags for a window in the blocks with sliding [layers]: in all blocks, in
 * one of each period, or in all but that one. */
static void window_flags(const Facts *f, const bool *sliding) {
  const int L = f->s->model.layers;
  const char *key = "sliding_window";
  char flags[80];
  int most = 0;
  for (int l = 0; l < L; l++)
    most += sliding[l];
  /* a window without a width: the library has no default either */
  if (most && !f->s->model.window) {
    if (fact_at(f, "sliding_window"))
      key = "use_sliding_window";
    fact_fails(f, key, "set where a layer has sliding_attention",
               fact_at(f, key));
  }
  if (!most)
    f->s->model.window = 0;
  if (!most || most == L || f->e->status)
    return;
  for (int period = 2; period <= L; period++)
    for (int others = 0; others < 2; others++)
      for (int offset = 0; offset < period; offset++) {
        if (!period_fits(sliding, L, period, offset, others))
          continue;
        snprintf(flags, sizeof flags, "--window-period %d --window-offset %d%s",
                 period, offset, others ? " --window-others" : "");
        flags_set(f, flags);
        return;
      }
  key = "max_window_layers";
  if (fact_at(f, "layer_types"))
    key = "layer_types";
  fact_fails(f, key, "such that windows come in a period", fact_at(f, key));
}

/* sliding [layers] of layer_types, where it is there: a word for each layer. */
static void layer_types(const Facts *f, bool *sliding) {
  const JsonValue *list = fact_at(f, "layer_types");
  const int L = f->s->model.layers;
  if (!list)
    return;
  if (list->kind != JSON_ARRAY || list->size != (size_t)L) {
    fact_fails(f, "layer_types", "a list with a word for each layer", list);
    return;
  }
  const JsonValue *v = list + 1;
  for (int l = 0; l < L; l++) {
    sliding[l] = json_is(f->j, v, "sliding_attention");
    if (!sliding[l] && !json_is(f->j, v, "full_attention"))
      fact_fails(f, "layer_types", "sliding_attention or full_attention", v);
    v = f->j->at + v->next;
  }
}

/* The flags for such a list, unless layer_types has another; frees it. */
static void sliding_flags(const Facts *f, bool *sliding) {
  if (sliding && !f->e->status)
    layer_types(f, sliding);
  if (sliding && !f->e->status)
    window_flags(f, sliding);
  free(sliding);
}

/* A window in all blocks but every period-th, unless layer_types has others. */
static void windows(const Facts *f, int period, const char *window) {
  const int L = f->s->model.layers;
  bool *sliding = grab(L, sizeof *sliding, f->e);
  cap_flag(f, "sliding_window", "window", window);
  for (int l = 0; sliding && l < L; l++)
    sliding[l] = (l + 1) % period != 0;
  sliding_flags(f, sliding);
}

#define SLIDING(key) "rope_parameters.sliding_attention." key

/* The base of blocks with a window, which nothing stretches. The library of
 * these families reads rope_type in rope_scaling, and not its older name. */
static void local_base(const Facts *f, const char *keys, const char *fallback) {
  const JsonValue *old = fact_at(f, "rope_scaling.type");
  char text[64];
  if (old && !json_is(f->j, old, "default") &&
      !fact_at(f, "rope_scaling.rope_type"))
    fail(f->e, 1,
         "%s: expected rope_type in rope_scaling, found type %s alone, which "
         "the library ignores. Try: rope_type in its place, or "
         "\"rope_scaling\": null as the library has it",
         f->j->name, shown(f, old, text));
  fact_flag(f, keys, "rope-local", fallback);
  fact_must(f, SLIDING("rope_type"), "default");
}

/* Qwen: a window, if use_sliding_window says so, of the blocks from
 * max_window_layers on. */
static void layers_more(const Facts *f) {
  const int L = f->s->model.layers;
  const double from = fact_value(f, "max_window_layers", 28, 0, 1e12, false);
  bool *sliding = grab(L, sizeof *sliding, f->e);
  fact_at(f, "sliding_window"); /* unread where it is not used */
  if (fact_true(f, "use_sliding_window", false))
    cap_flag(f, "sliding_window", "window", "4096");
  for (int l = 0; sliding && l < L; l++)
    sliding[l] = f->s->model.window && l >= from;
  sliding_flags(f, sliding);
}

/* --- Qwen 2, Qwen 3 ------------------------------------------------------- */

#define QWEN2 "--linear-bias --bias-in qkv"

#define ATTENTION_AND_MLP \
  {"@", "model.layers.*.", AS_IS}, \
  {"wte", "model.embed_tokens", AS_IS}, \
  {"@norm1", "@input_layernorm", AS_IS}, \
  {"@wq", "@self_attn.q_proj", TURNED}, \
  {"@wk", "@self_attn.k_proj", TURNED}, \
  {"@wv", "@self_attn.v_proj", TURNED}, \
  {"@qnorm", "@self_attn.q_norm", AS_IS}, \
  {"@knorm", "@self_attn.k_norm", AS_IS}, \
  {"@wo", "@self_attn.o_proj", TURNED}, \
  {"normf", "model.norm", AS_IS}, \
  {"@w1", "@mlp.gate_proj", TURNED}, \
  {"@w2", "@mlp.up_proj", TURNED}, \
  {"@w3", "@mlp.down_proj", TURNED}

static const Counterpart QWEN3[] = {
  ATTENTION_AND_MLP,
  {"@norm2", "@post_attention_layernorm", AS_IS},
  {"wcls", "lm_head", TURNED},
  {NULL, NULL, AS_IS}};

/* --- Gemma 1, 2 and 3 ----------------------------------------------------- */

/* model: what the names of its tensors begin with. */
#define OF_GEMMA(model) \
  {"@", model "layers.*.", AS_IS}, \
  {"wte", model "embed_tokens", AS_IS}, \
  {"@norm1", "@input_layernorm", PLUS_ONE}, \
  {"@wq", "@self_attn.q_proj", TURNED}, \
  {"@wk", "@self_attn.k_proj", TURNED}, \
  {"@wv", "@self_attn.v_proj", TURNED}, \
  {"@qnorm", "@self_attn.q_norm", PLUS_ONE}, \
  {"@knorm", "@self_attn.k_norm", PLUS_ONE}, \
  {"@wo", "@self_attn.o_proj", TURNED}, \
  {"@w1", "@mlp.gate_proj", TURNED}, \
  {"@w2", "@mlp.up_proj", TURNED}, \
  {"@w3", "@mlp.down_proj", TURNED}, \
  {"normf", model "norm", PLUS_ONE}
#define BEHIND_TOO \
  {"@norm3", "@post_attention_layernorm", PLUS_ONE}, \
  {"@norm2", "@pre_feedforward_layernorm", PLUS_ONE}, \
  {"@norm4", "@post_feedforward_layernorm", PLUS_ONE}

/* post_attention_layernorm is before the ffn in Gemma 1, as in a llama, and
 * behind attention in the later ones. */
static const Counterpart GEMMA1[] = {
  OF_GEMMA("model."),
  {"@norm2", "@post_attention_layernorm", PLUS_ONE},
  {"wcls", "lm_head", TURNED},
  {NULL, NULL, AS_IS}};
static const Counterpart GEMMA[] = {
  OF_GEMMA("model."),
  BEHIND_TOO,
  {"wcls", "lm_head", TURNED},
  {NULL, NULL, AS_IS}};
static const Counterpart GEMMA_IMAGE[] = {
  OF_GEMMA("language_model.model."),
  BEHIND_TOO,
  {"wcls", "language_model.lm_head", TURNED},
  {NULL, NULL, AS_IS}};

/* The next tensor: n bytes at `at`, which go into the model file itself, with
 * --link as well. */
static int own_tensor(ModelWriter *w, const char *path, const char *theirs,
                      int dtype, int order, const unsigned char *at, size_t n,
                      Error *e) {
  if (!e->status && !all_finite(dtype, at, n))
    fail(e, 1,
         "%s: expected finite numbers in %s, found NaN or infinity. Try: "
         "another copy of the model",
         path, theirs);
  if (!e->status)
    model_file_tensor(w, w->head.list.all[w->next]->name, dtype, order, e);
  return e->status ? e->status : model_file_bytes(w, at, n, e);
}

/* The next tensor: 1 + each of the stored numbers, as a float, which is the
 * library's own sum. */
static int plus_one_copy(ModelWriter *w, const char *theirs, int dtype,
                         const Extent *from, Error *e) {
  const idx n = tensor_count(w->head.list.all[w->next]);
  const size_t width = dtype_width(dtype);
  unsigned char *raw = grab(n, width, e), *sums = grab(n, 4, e);
  real *number = grab(n, sizeof *number, e);
  if (!e->status &&
      !source_take(w, theirs, from, 0, raw, (size_t)n * width, e)) {
    widen(dtype, n, number, raw);
    for (idx i = 0; i < n; i++)
      number_put(sums + 4 * i, bits_of(1 + (float)number[i]), 4);
    own_tensor(w, w->source[from->file - 1].path, theirs, DTYPE_F32, IN_OUT,
               sums, 4 * (size_t)n, e);
  }
  free(raw);
  free(sums);
  free(number);
  return e->status;
}

/* What all Gemmas have. */
static void gemma_any(const Facts *f) {
  char text[64];
  snprintf(text, sizeof text, "--embed-scale %.17g",
           sqrt((double)f->s->model.dim));
  flags_set(f, text);
}

/* The first configs say gelu, and mean that by tanh. */
static void gemma1_more(const Facts *f) {
  const bool gelu = json_is(f->j, fact_at(f, "hidden_act"), "gelu");
  fact_act(f, gelu ? "" : "hidden_act", "gelu_pytorch_tanh", true);
  gemma_any(f);
}

/* What Gemma 2 and 3 have. */
static void gemma_more(const Facts *f, int period) {
  refuse_yarn(f); /* it would share the divisor */
  gemma_any(f);
  fact_at(f, "hidden_act"); /* the library reads hidden_activation */
  windows(f, period, "4096");
}

static void gemma2_more(const Facts *f) {
  cap_flag(f, "attn_logit_softcapping", "soft-cap", "50");
  cap_flag(f, "final_logit_softcapping", "logit-cap", "30");
  fact_at(f, "sliding_window_size"); /* beside sliding_window, unread */
  gemma_more(f, 2);
}

static void gemma3_more(const Facts *f) {
  const int period = (int)fact_value(f, "sliding_window_pattern", 6, 1, 1024,
                                     true);
  /* which the library writes beside layer_types and does not read */
  fact_at(f, "_sliding_window_pattern");
  local_base(f, SLIDING("rope_theta") "|rope_local_base_freq", "10000");
  /* the library ignores a cap in gemma3's text_config */
  if (f->top == f->j->at)
    cap_flag(f, "final_logit_softcapping", "logit-cap", "");
  else
    fact_must(f, "final_logit_softcapping", "null");
  gemma_more(f, period);
}

/* gemma3's settings are those of text_config. Beside it stand the image part's,
 * and whether the embedding is tied, which the library does not read inside. */
static void image_facts(Facts *f) {
  const JsonValue *text = fact_at(f, "text_config");
  const JsonValue *image = fact_at(f, "vision_config");
  fact_at(f, "boi_token_index|eoi_token_index|image_token_index|boi_token_id|"
             "eoi_token_id|image_token_id|mm_tokens_per_image");
  for (const JsonValue *v = image; image && v < f->j->at + image->next; v++)
    f->read[v - f->j->at] = true;
  fact_must(f, "text_config.model_type", "gemma3_text");
  if (!json_kind(text, JSON_OBJECT))
    fact_fails(f, "text_config", "an object", text);
  else
    f->top = text;
}

/* Leaves gemma3's image part out; every name has to be of it or of the text
 * part. Some files have the names that the library has in memory, which become
 * the published ones. */
static int image_out(Folder *f, Error *e) {
  static const char *const IMAGE[] = {"vision_tower.",
                                      "multi_modal_projector."};
  static const char HELD[] = "model.language_model.";
  static const char TEXT[] = "language_model.model.";
  for (idx i = 0; i < f->tensors; i++) {
    Entry *x = &f->tensor[i];
    const char *name = x->name;
    if (!strncmp(name, "model.", 6))
      name += 6;
    for (int k = 0; k < 2; k++)
      x->used = x->used || !strncmp(name, IMAGE[k], strlen(IMAGE[k]));
    f->left_out += x->used;
    if (x->used)
      continue;
    /* as long; the name is in the header's text, which is the folder's own */
    if (!strncmp(x->name, HELD, sizeof HELD - 1))
      memcpy((char *)x->name, TEXT, sizeof TEXT - 1);
    if (!strcmp(x->name, "lm_head.weight"))
      x->name = "language_model.lm_head.weight";
    if (strncmp(x->name, "language_model.", 15))
      return fail(e, 1,
                  "%s: expected language_model.*, vision_tower.*, "
                  "multi_modal_projector.*, found %.100s too. Try: the "
                  "config.json that belongs to it",
                  f->shard[x->file].path, x->name);
  }
  return folder_sort(f, e);
}

/* --- OLMo 2, OLMo 3 ------------------------------------------------------- */

#define OLMO "--place sandwich --behind-only --qk-norm --qk-whole"

static const Counterpart OLMO2[] = {
  ATTENTION_AND_MLP,
  {"@norm3", "@post_attention_layernorm", AS_IS},
  {"@norm4", "@post_feedforward_layernorm", AS_IS},
  {"wcls", "lm_head", TURNED},
  {NULL, NULL, AS_IS}};

static void olmo3_more(const Facts *f) {
  /* whatever the old rope_theta says */
  local_base(f, SLIDING("rope_theta"), "500000");
  windows(f, 4, "4096");
}

/* --- gpt-oss -------------------------------------------------------------- */

/* An expert's ffn, with s = --expert-slope, X = --expert-limit and f1, f2 as in
 * sink.c, 3.10:
 *
 *   fa = (1 + max(-X, min(X, f2))) f / (1 + e^(-s f)),  f = min(X, f1) */
static void cut_ffn_forward(const Config *c, const Layer *w, LayerActs *la,
                            real *y, const real *x, idx rows) {
  idx n = rows * c->ffn;
  const real most = (real)c->expert_limit;
  const real slope = (real)(c->expert_slope > 0 ? c->expert_slope : 1.702);
  linear_forward(la->f1, x, &w->w1, rows);
  linear_forward(la->f2, x, &w->w2, rows);
  PARALLEL
  for (idx from = 0; from < n; from += CHUNK) {
    real f[CHUNK], gate[CHUNK];
    const idx some = chunk(n, from);
    for (idx j = 0; j < some; j++) {
      f[j] = la->f1[from + j] > most ? most : la->f1[from + j];
      gate[j] = slope * f[j];
    }
    vec_sigmoid(some, gate, gate);
    for (idx j = 0; j < some; j++) {
      real f2 = la->f2[from + j];
      if (f2 > most)
        f2 = most;
      else if (f2 < -most)
        f2 = -most;
      la->fa[from + j] = (1 + f2) * f[j] * gate[j];
    }
  }
  linear_forward(y, la->fa, &w->w3, rows);
}

static const Counterpart GPT_OSS[] = {
  ATTENTION_AND_MLP,
  {"@norm2", "@post_attention_layernorm", AS_IS},
  {"@logit", "@self_attn.sinks", BARE},
  {"@router", "@mlp.router", TURNED},
  {"@e*.w1", "@mlp.experts.gate_up_proj", STACKED | BARE},
  {"@e*.b1", "@mlp.experts.gate_up_proj_bias", STACKED | BARE},
  {"@e*.w2", "@mlp.experts.gate_up_proj", STACKED | BARE},
  {"@e*.b2", "@mlp.experts.gate_up_proj_bias", STACKED | BARE},
  {"@e*.w3", "@mlp.experts.down_proj", STACKED | BARE},
  {"@e*.b3", "@mlp.experts.down_proj_bias", STACKED | BARE},
  {"wcls", "lm_head", TURNED},
  {NULL, NULL, AS_IS}};

/* W_1's and W_2's columns, and their biases, are stored by turns: which of the
 * two is x, 0 or 1? -1 where it is neither. */
static int stacked_half(const Tensor *x) {
  const char last = x->name[strlen(x->name) - 1];
  if (last == '1')
    return 0;
  return last == '2' ? 1 : -1;
}

/* The stored shape of an expert's tensor; returns its rank. */
static int stacked_shape(const Config *c, const Tensor *x, uint64_t *shape) {
  shape[0] = (uint64_t)c->experts;
  shape[1] = (uint64_t)x->rows;
  shape[2] = (uint64_t)x->cols;
  if (stacked_half(x) >= 0)
    shape[x->rank] *= 2;
  return x->rank + 1;
}

/* MXFP4 is 4 bits a number, a sign and one of these, two in a byte, the lower
 * first; 32 of them in a row share a power of 2, the byte `scale` - 127. BF16
 * has them up to 252. The stored rows are outputs. */
static const float FP4[8] = {0, 0.5f, 1, 1.5f, 2, 3, 4, 6};
enum { FP4_BLOCK = 32, FP4_BYTES = FP4_BLOCK / 2 };

/* W's shape [X,in,out] becomes that of its bytes and, without the last dim, of
 * its scales. */
static void packed_shape(uint64_t *shape) {
  const uint64_t in = shape[1];
  shape[1] = shape[2];
  shape[2] = (in + FP4_BLOCK - 1) / FP4_BLOCK;
  shape[3] = FP4_BYTES;
}

/* to [2 n]: a row of n numbers. */
static void unpack(idx n, unsigned char *to, const unsigned char *raw,
                   const unsigned char *scale) {
  for (idx i = 0; i < n; i++) {
    const int code = raw[i / 2] >> i % 2 * 4;
    float x = FP4[code & 7] * ldexpf(1, scale[i / FP4_BLOCK] - 127);
    if (code & 8)
      x = -x;
    number_put(to + 2 * i, bits_of(x) >> 16, 2);
  }
}

/* Where in s the part of the expert lies whose tensor is next. file: numbers of
 * the sources. */
static Extent stacked_extent(const ModelWriter *w, const Entry *s,
                             const int *file) {
  const uint64_t X = (uint64_t)w->head.s.model.experts;
  const uint64_t each = (s->end - s->begin) / X;
  int expert = 0;
  sscanf(w->head.list.all[w->next]->name, "l%*d.e%d.", &expert);
  return (Extent){file[s->file], s->begin + each * (uint64_t)expert, each,
                  each};
}

/* The bytes of that part. */
static unsigned char *stacked_bytes(const ModelWriter *w, const Entry *s,
                                    const int *file, Error *e) {
  const Extent at = stacked_extent(w, s, file);
  const size_t n = (size_t)at.run;
  unsigned char *raw = grab((idx)n, 1, e);
  source_take(w, s->name, &at, 0, raw, n, e);
  return raw;
}

/* The next tensor, an expert's part of s: as it is, or its half of the columns,
 * or unpacked by what `scales` (NULL: none) says. file: the sources'
 * numbers. */
static int stacked_copy(ModelWriter *w, const Entry *s, const Entry *scales,
                        const int *file, Error *e) {
  const Tensor *x = w->head.list.all[w->next];
  const int half = stacked_half(x), dtype = scales ? DTYPE_BF16 : s->format;
  const size_t width = dtype_width(dtype), n = (size_t)tensor_count(x);
  if (half < 0 && !scales) {
    const Extent at = stacked_extent(w, s, file);
    return model_file_copy(w, s->name, dtype, IN_OUT, &at, e);
  }
  unsigned char *raw = stacked_bytes(w, s, file, e), *scale = NULL;
  unsigned char *to = grab((idx)n, width, e);
  if (scales)
    scale = stacked_bytes(w, scales, file, e);
  const idx in = x->rows, out = x->cols;
  const idx blocks = (in + FP4_BLOCK - 1) / FP4_BLOCK;
  for (idx o = 0; scales && !e->status && o < out; o++) {
    const idx row = half < 0 ? o : 2 * o + half;
    unpack(in, to + 2 * o * in, raw + row * blocks * FP4_BYTES,
           scale + row * blocks);
  }
  for (size_t i = 0; !scales && !e->status && i < n; i++)
    memcpy(to + i * width, raw + (2 * i + (size_t)half) * width, width);
  own_tensor(w, w->source[file[s->file] - 1].path, s->name, dtype,
             scales ? OUT_IN : IN_OUT, to, n * width, e);
  free(raw);
  free(to);
  free(scale);
  return e->status;
}

static void gpt_oss_more(const Facts *f) {
  const bool all = fact_true(f, "attention_bias", true);
  flags_set(f, all ? "--linear-bias" : "--linear-bias --bias-in ffn");
  /* the library has one of its own */
  if (!fact_at(f, ROPE_TYPE))
    fact_fails(f, "rope_scaling", "of type yarn or default", NULL);
  /* these the library does not read */
  fact_at(f, "hidden_act");
  fact_at(f, "experts_per_token");
  fact_at(f, "initial_context_length");
  fact_must(f, "quantization_config.quant_method", "mxfp4");
  fact_at(f, "quantization_config.modules_to_not_convert");
  fact_at(f, "quantization_config.dequantize");
  windows(f, 2, "128");
}

/* --- Phi-3 ---------------------------------------------------------------- */

static const Counterpart PHI3[] = {
  {"@", "model.layers.*.", AS_IS},
  {"wte", "model.embed_tokens", AS_IS},
  {"@norm1", "@input_layernorm", AS_IS},
  {"@wq", "@self_attn.qkv_proj", TURNED | FUSED},
  {"@wk", "@self_attn.qkv_proj", TURNED | FUSED},
  {"@wv", "@self_attn.qkv_proj", TURNED | FUSED},
  {"@wo", "@self_attn.o_proj", TURNED},
  {"@norm2", "@post_attention_layernorm", AS_IS},
  {"@w1", "@mlp.gate_up_proj", TURNED | FUSED},
  {"@w2", "@mlp.gate_up_proj", TURNED | FUSED},
  {"@w3", "@mlp.down_proj", TURNED},
  {"normf", "model.norm", AS_IS},
  {"@rope", "", IN_CONFIG},
  {"wcls", "lm_head", TURNED},
  {NULL, NULL, AS_IS}};

/* Rows of the stored matrix [out,in] in which W_Q, W_K and W_V, or W_1 and W_2,
 * lie one after the other; how many of them come before this one's. */
static uint64_t fused_rows(const Config *c, const char *name,
                           uint64_t *before) {
  const char last = name[strlen(name) - 1];
  const uint64_t D = (uint64_t)c->head_dim, F = (uint64_t)c->ffn;
  const uint64_t Q = (uint64_t)c->heads * D, K = (uint64_t)c->kv_heads * D;
  *before = 0;
  if (last == 'k')
    *before = Q;
  if (last == 'v')
    *before = Q + K;
  if (last == '2')
    *before = F;
  return last == '1' || last == '2' ? 2 * F : Q + 2 * K;
}

/* LongRoPE: pair p turns by base^(-2p/r) / factor[p]. Texts of up to the
 * original context have one list of factors, longer ones another. All dims that
 * turn also grow by --rope-factor. Before block 0 of each forward the tables of
 * sink.c, 3.4, are made anew for its rows; N counts cached ones. */
static void long_tabulate(const Model *m, Acts *a, idx N) {
  const Config *c = &m->c;
  const idx half = c->rotary_dims / 2;
  const real *factor = m->layer[0].factors.w;
  if (N > c->rope_original)
    factor += half;
  for (idx p = 0; p < half; p++) {
    const double plain = pow(c->rope_base, -2.0 * (double)p / c->rotary_dims);
    const real w = (real)(plain / (double)factor[p]);
    for (idx n = a->past; n < N; n++) {
      const double angle = (double)((real)n * w);
      a->cosine[n * half + p] = (real)(c->rope_factor * cos(angle));
      a->sine[n * half + p] = (real)(c->rope_factor * sin(angle));
    }
  }
}

/* Are the keys of `from` tokens turned as a forward of T turns them? */
static bool long_keeps(const Model *m, int from, int T) {
  const Config *c = &m->c;
  const bool was = config_rows(c, from) > c->rope_original;
  return !if_long(c) || was == (config_rows(c, T) > c->rope_original);
}

/* The two lists of r / 2 numbers each, checked, and put as floats at `to`,
 * unless that is NULL. */
static void long_lists(const Facts *f, int r, unsigned char *to) {
  static const char *const LISTS[] = {ROPE("short_factor"),
                                      ROPE("long_factor")};
  for (int i = 0; i < 2 && !f->e->status; i++) {
    const JsonValue *list = fact_at(f, LISTS[i]);
    bool good = json_kind(list, JSON_ARRAY) && 2 * list->size == (uint32_t)r;
    for (uint32_t p = 0; good && p < list->size; p++) {
      double x = 0;
      good = fact_number(f, list + 1 + p, &x) && x > 0 && isfinite((float)x) &&
             (float)x > 0;
      if (good && to)
        number_put(to + 2 * i * r + 4 * p, bits_of((float)x), 4);
    }
    if (!good)
      fact_fails(f, LISTS[i], "a number above 0 for each pair that turns",
                 list);
  }
}

/* The model's next tensor, l0.rope: both lists of the folder's config.json. */
static int long_copy(ModelWriter *w, const char *folder, Error *e) {
  const int r = (int)tensor_count(w->head.list.all[w->next]);
  char path[1024];
  Json j = {0};
  unsigned char *to = grab(r, 4, e);
  if (!path_make(path, e, "%s/config.json", folder))
    json_load(&j, path, e);
  Facts f = {&j, j.at, NULL, grab(j.size, 1, e), e};
  if (!e->status)
    long_lists(&f, r, to);
  own_tensor(w, path, "rope_scaling", DTYPE_F32, IN_OUT, to, 4 * (size_t)r, e);
  free(f.read);
  free(to);
  json_free(&j);
  return e->status;
}

/* LongRoPE's flags. The library reads original_max_position_embeddings beside
 * rope_scaling, not in it. */
static void fact_long(const Facts *f, int r) {
  const Config *c = &f->s->model;
  char flags[80];
  fact_flag(f, "original_max_position_embeddings", "rope-original", "4096");
  fact_at(f, ROPE("original_max_position_embeddings"));
  const double longer = (double)c->context / c->rope_original;
  const double by = fact_value(f, ROPE("factor"), longer, 1e-12, 1e12, false);
  double grows = 1;
  if (by > 1)
    grows = sqrt(1 + log(by) / log(c->rope_original));
  grows = fact_value(f, ROPE("attention_factor"), grows, 1, 1e6, false);
  long_lists(f, r, NULL);
  snprintf(flags, sizeof flags, "--rope-scaling longrope --rope-factor %.17g",
           grows);
  if (!f->e->status)
    flags_set(f, flags);
}

/* D, before the config is resolved. */
static int head_width(const Config *c) {
  return c->head_dim ? c->head_dim : c->dim / c->heads;
}

/* The first int(width of a head * partial_rotary_factor) dims turn. */
static void phi3_more(const Facts *f) {
  const Config *c = &f->s->model;
  const JsonValue *type = fact_at(f, ROPE_TYPE);
  const JsonValue *v =
      fact_at(f, ROPE("partial_rotary_factor") "|partial_rotary_factor");
  const JsonValue *old = fact_at(f, "rope_scaling");
  if (old)
    fact_must(f, "rope_parameters", "null");
  if (old && old->kind != JSON_OBJECT)
    fact_fails(f, "rope_scaling", "an object", old);
  const bool longer = json_is(f->j, type, "longrope") ||
                      json_is(f->j, type, "su");
  double part = 1;
  char flags[64];
  if (type && !longer && !json_is(f->j, type, "default"))
    fact_fails(f, ROPE_TYPE, "default or longrope", type);
  if (v && (!fact_number(f, v, &part) || !(part > 0 && part <= 1)))
    fact_fails(f, "partial_rotary_factor", "a number above 0, to 1", v);
  fact_flag(f, ROPE_BASE, "rope-base", "");
  fact_at(f, "original_max_position_embeddings");
  if (f->e->status)
    return;
  const int turned = (int)(head_width(c) * part);
  if (turned % 2 || !turned)
    fact_fails(f, "partial_rotary_factor", "an even number of a head's dims",
               v);
  snprintf(flags, sizeof flags, "--rotary-dims %d", turned);
  if (v && !f->e->status)
    flags_set(f, flags);
  if (longer && !f->e->status)
    fact_long(f, turned);
}

/* --- YaRN ----------------------------------------------------------------- */

/* The pair that turns so often in the original context, or a place between two
 * of them. */
static double yarn_pair(const Config *c, int r, double turns) {
  return r * log(c->rope_original / (turns * 2 * PI)) / (2 * log(c->rope_base));
}

/* Pairs up to beta_fast's keep their angles, those from beta_slow's are
 * divided, and a ramp lies in between, from a whole pair to a whole pair unless
 * truncate is false. Those two pairs' turns are what the rule in layers.c asks
 * for. The library also makes q and k longer, by m each; here the scores are
 * that much larger: <q,k> m^2 / sqrt(D) = <q,k> / sqrt(D / m^4). */
static void fact_yarn(const Facts *f) {
  static const char *const PLACES[] = {"rope_scaling", "rope_parameters"};
  Config *c = &f->s->model;
  const bool whole = fact_true(f, ROPE("truncate"), true);
  /* the library takes null for false, and a missing key for true */
  for (int i = 0; i < 2; i++) {
    const JsonValue *v = json_find(f->j, fact_at(f, PLACES[i]), "truncate");
    char key[64];
    snprintf(key, sizeof key, "%s.truncate", PLACES[i]);
    if (json_kind(v, JSON_NULL))
      fact_fails(f, key, "true or false", v);
  }
  char flags[160];
  fact_flag(f, ROPE("factor"), "rope-factor", NULL);
  fact_flag(f, ROPE("original_max_position_embeddings"), "rope-original", NULL);
  double turns[2] = {fact_value(f, ROPE("beta_fast"), 32, 1e-12, 1e12, false),
                     fact_value(f, ROPE("beta_slow"), 1, 1e-12, 1e12, false)};
  double m = 1;
  if (c->rope_factor > 1)
    m = 0.1 * log(c->rope_factor) + 1;
  m = fact_value(f, ROPE("attention_factor"), m, 0.01, 100, false);
  if (!f->e->status && !(c->rope_base > 1))
    fact_fails(f, "rope_theta", "above 1", fact_at(f, ROPE_BASE));
  if (f->e->status)
    return;
  const int r = head_width(c);
  double low = yarn_pair(c, r, turns[0]), high = yarn_pair(c, r, turns[1]);
  if (whole) {
    low = floor(low);
    high = ceil(high);
  }
  if (low < 0)
    low = 0;
  if (high > r - 1)
    high = r - 1;
  if (high == low)
    high += 0.001;
  turns[0] = c->rope_original * pow(c->rope_base, -2 * low / r) / (2 * PI);
  turns[1] = c->rope_original * pow(c->rope_base, -2 * high / r) / (2 * PI);
  snprintf(flags, sizeof flags,
           "--rope-scaling yarn --rope-high %.17g --rope-low %.17g "
           "--score-divisor %.17g",
           turns[0], turns[1], r / (m * m * m * m));
  if (!(turns[0] > turns[1]))
    fact_fails(f, "rope_scaling.beta_fast", "of a pair before beta_slow's",
               fact_at(f, ROPE("beta_fast")));
  else
    flags_set(f, flags);
}

/* --- Keys of config.json -------------------------------------------------- */

static const Fact LATER_FACTS[] = {
  {"pcde",     "rms_norm_eps",                   NUMBER, "norm-eps",  "1e-5"},
  {"b",        ROPE_BASE,                        ANGLES, "rope-base", "1000000"},
  {"d",        ROPE_BASE,                        ANGLES, "rope-base", "500000"},
  {"e",        "head_dim", /* for YaRN */        NUMBER, "head-dim",  "64"},
  {"e",        ROPE_BASE,                        ANGLES, "rope-base", "150000"},
  {"e",        "num_local_experts|num_experts",  NUMBER, "experts",   "128"},
  {"e",        "num_experts_per_tok",            NUMBER, "expert-top", "4"},
  {"e",        "swiglu_limit",                   NUMBER, "expert-limit", "7"},
  {"e",        "swiglu_alpha",                   NUMBER, "expert-slope", "1.702"},
  {"!bd",      "rope_parameters.full_attention", ONLY,   NULL,        "null"},
  /* the library does not read truncate there, and nothing else beside the two
   * kinds of layers */
  {"d", "rope_scaling.truncate|rope_parameters.full_attention.truncate",
                                                 ONLY,   NULL,        "true"},
  {"bd", "rope_parameters.original_max_position_embeddings",
                                                 ONLY,   NULL,        "null"},
  {"bd",       "rope_parameters.attention_factor", ONLY, NULL,        "null"},
  {"bd",       "rope_parameters.beta_fast",      ONLY,   NULL,        "null"},
  {"bd",       "rope_parameters.beta_slow",      ONLY,   NULL,        "null"},
  {"bd",       "rope_parameters.low_freq_factor", ONLY,  NULL,        "null"},
  {"bd",       "rope_parameters.high_freq_factor", ONLY, NULL,        "null"},
  {"bd",       "rope_parameters.rope_type",      ONLY,   NULL,        "null"},
  {"bd",       "rope_parameters.rope_theta",     ONLY,   NULL,        "null"},
  {"bd",       "rope_parameters.type",           ONLY,   NULL,        "null"},
  {"bd",       "rope_parameters.factor",         ONLY,   NULL,        "null"},
  {"p",        "sliding_window",                 NUMBER, "window",    ""},
  {"wabfcd",   "attention_bias",                 SWITCH,
   "--linear-bias --bias-in attention", "false"},
  /* Phi-4-mini's */
  {"p",        "lm_head_bias",                   ONLY,   NULL,        "false"},
  {"p",        "full_attn_mod",                  ONLY,   NULL,        "1"},
  {"p",        "interpolate_factor",             ONLY,   NULL,        "1"},
  {"ab",       "query_pre_attn_scalar",          NUMBER, "score-divisor", "256"},
  {"ab",       "hidden_activation",              GATED,  NULL,        "gelu_pytorch_tanh"},
  {"abf",      "use_bidirectional_attention",    ONLY,   NULL,        "false"},
  {"f",        "hidden_activation",              ONLY,   NULL,        "gelu_pytorch_tanh"},
  /* Gemma 3's code ignores it */
  {"b",        "attn_logit_softcapping",         ONLY,   NULL,        "null"},
  {"qw",       "use_mrope",                      ONLY,   NULL,        "false"},
  {NULL, NULL, NUMBER, NULL, NULL}};

/* --- The table of families ------------------------------------------------ */

typedef struct Family {
  const char *type, *architecture;
  const char *prefix;          /* of names; some files leave it out */
  const Counterpart *tensors;
  char letter;                 /* in FACTS */
  const char *flags;           /* of all its models */
  void (*more)(const Facts *f);          /* NULL: nothing */
  bool tied;                   /* where config.json does not say */
} Family;

#define LEARNED "--pos learned --norm layer "

/* A new family needs a row behind these, keys in FACTS or LATER_FACTS, and its
 * name in family_read and in HF_VERBS. */
static const Family FAMILIES[] = {
  {"gpt2", "GPT2LMHeadModel", "transformer.", GPT2, 'g',
   LEARNED "--linear-bias", gpt2_more, true},
  {"gpt_neox", "GPTNeoXForCausalLM", "gpt_neox.", NEOX, 'n',
   "--norm layer --linear-bias", neox_more, false},
  {"opt", "OPTForCausalLM", "model.", OPT, 'o',
   LEARNED, opt_more, true},
  {"llama", "LlamaForCausalLM", "model.", LLAMA, 'l',
   "", llama_more, false},
  {"mistral", "MistralForCausalLM", "model.", LLAMA, 'm',
   "", mistral_more, false},
  {"jamba", "JambaForCausalLM", "model.", JAMBA, 'j',
   "--pos none", jamba_more, false},
  {"qwen2", "Qwen2ForCausalLM", "model.", LLAMA, 'q',
   QWEN2, layers_more, false},
  {"qwen3", "Qwen3ForCausalLM", "model.", QWEN3, 'w',
   "--qk-norm", layers_more, false},
  {"gemma", "GemmaForCausalLM", "model.", GEMMA1, 'f',
   "", gemma1_more, true},
  {"gemma2", "Gemma2ForCausalLM", "model.", GEMMA, 'a',
   "--place sandwich", gemma2_more, true},
  {"phi3", "Phi3ForCausalLM", "model.", PHI3, 'p',
   "", phi3_more, false},
  {"gemma3_text", "Gemma3ForCausalLM", "model.", GEMMA, 'b',
   "--place sandwich --qk-norm", gemma3_more, true},
  {"gemma3", "Gemma3ForConditionalGeneration", "", GEMMA_IMAGE, 'b',
   "--place sandwich --qk-norm", gemma3_more, true},
  {"olmo2", "Olmo2ForCausalLM", "model.", OLMO2, 'c',
   OLMO, NULL, false},
  {"olmo3", "Olmo3ForCausalLM", "model.", OLMO2, 'd',
   OLMO, olmo3_more, false},
  {"gpt_oss", "GptOssForCausalLM", "model.", GPT_OSS, 'e',
   "--extra logit", gpt_oss_more, false},
  {NULL, NULL, NULL, NULL, 0, NULL, NULL, false}};
enum { LLAMA_FAMILY = 3 };       /* whose names llama2.c's tensors get */

/* Is this the family of a model_type, or, where that is NULL, of the first of
 * its architectures? */
static bool family_is(const Family *x, const Json *j, const JsonValue *type,
                      const JsonValue *first) {
  if (type)
    return json_is(j, type, x->type);
  return json_is(j, first, x->architecture);
}

/* The family of a config.json. Fills s->model; NULL and an error for one that
 * sink cannot be. */
static const Family *family_read(const Json *j, Settings *s, Error *e) {
  Facts f = {j, j->at, s, grab(j->size, 1, e), e};
  if (e->status)
    return NULL;
  const JsonValue *type = fact_at(&f, "model_type");
  const JsonValue *list = fact_at(&f, "architectures"), *first = NULL;
  if (json_kind(list, JSON_ARRAY) && list->size)
    first = list + 1;
  const Family *family = FAMILIES;
  char text[64];
  while (family->type && !family_is(family, j, type, first))
    family++;
  if (!family->type) {
    fail(e, 1,
         "%s: expected model_type gpt2, gpt_neox, opt, llama, mistral, jamba, "
         "qwen2, qwen3, gemma, gemma2, gemma3, gemma3_text, phi3, olmo2, olmo3 "
         "or gpt_oss, found %s. Try: a model of these",
         j->name, shown(&f, type ? type : first, text));
    free(f.read);
    return NULL;
  }
  settings_default(s);
  if (family->tensors == GEMMA_IMAGE)
    image_facts(&f);
  flags_set(&f, family->flags);
  facts_read(&f, FACTS, family->letter);
  facts_read(&f, LATER_FACTS, family->letter);
  if (family->more)
    family->more(&f);
  fact_at(&f, "tie_word_embeddings");
  f.top = j->at;
  if (fact_true(&f, "tie_word_embeddings", family->tied))
    flags_set(&f, "--tied");
  if (!e->status)
    keys_known(&f, j->at);
  free(f.read);
  return e->status ? NULL : family;
}
