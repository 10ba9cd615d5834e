/* families.c - later families of published models, for data/hf.c, which includes it: Qwen 2 and 3.
 *
 * SPDX-License-Identifier: MIT
 *
 * Chapter 13 reads a folder's config.json by tables. Here are what these families add to them:
 *
 *   qwen2        llama with biases of q, k and v
 *   qwen3        llama with QK-norm; heads may be wider than C / H
 *
 * SmolLM and SmolLM2 are llamas by their config.json.
 *
 * Sources: the modelling code of transformers 5.23 and the published files of each. */

/* --- Which blocks have the window ------------------------------------------------------------- */

/* A window of all blocks, or of those in a period: --window-period and --window-offset. sliding
 * [layers]. */
static void window_flags(const Facts *f, const bool *sliding) {
  const int L = f->s->model.layers;
  char flags[80]; int most = 0;
  for (int l = 0; l < L; l++) most += sliding[l];
  if (!most) f->s->model.window = 0;
  if (!most || most == L) return;
  for (int period = 2; period <= L; period++)
    for (int offset = 0; offset < period; offset++) {
      int l = 0;
      while (l < L && sliding[l] == (l % period == offset)) l++;
      if (l < L) continue;
      snprintf(flags, sizeof flags, "--window-period %d --window-offset %d", period, offset);
      flags_set(f, flags);
      return;
    }
  fact_fails(f, "layer_types", "in a period", fact_at(f, "layer_types"));
}

/* sliding [layers] of layer_types, where it is there: each of its two words. */
static void layer_types(const Facts *f, bool *sliding) {
  const JsonValue *list = fact_at(f, "layer_types"), *v = list + 1;
  const int L = f->s->model.layers;
  if (!list) return;
  if (list->kind != JSON_ARRAY || list->size != (size_t)L) {
    fact_fails(f, "layer_types", "a list with a word for each layer", list);
    return;
  }
  for (int l = 0; l < L; l++, v = f->j->at + v->next) {
    sliding[l] = json_is(f->j, v, "sliding_attention");
    if (!sliding[l] && !json_is(f->j, v, "full_attention"))
      fact_fails(f, "layer_types", "sliding_attention or full_attention", v);
  }
}

/* Qwen: a window, if use_sliding_window says so, of the blocks from max_window_layers on. */
static void layers_more(const Facts *f) {
  const int L = f->s->model.layers;
  const JsonValue *first = fact_at(f, "max_window_layers");
  const bool none = json_find(f->j, f->j->at, "sliding_window") && !fact_at(f, "sliding_window");
  const bool some = fact_true(f, "use_sliding_window", false) && !none;
  bool *sliding = grab(L, sizeof *sliding, f->e); double from = 28;
  if (first && (!fact_number(f, first, &from) || !(from >= 0)))
    fact_fails(f, "max_window_layers", "a number of 0 or more", first);
  if (some) fact_flag(f, "sliding_window", "window", "4096");
  for (int l = 0; sliding && l < L; l++) sliding[l] = some && l >= from;
  if (sliding && !f->e->status) layer_types(f, sliding);
  if (sliding && !f->e->status) window_flags(f, sliding);
  free(sliding);
}

/* --- Qwen 2, Qwen 3 --------------------------------------------------------------------------- */

#define QWEN2 "--linear-bias --bias-in qkv"

#define ATTENTION_AND_MLP \
  {"@", "model.layers.*.", AS_IS}, {"wte", "model.embed_tokens", AS_IS}, \
  {"@norm1", "@input_layernorm", AS_IS}, {"@wq", "@self_attn.q_proj", TURNED}, \
  {"@wk", "@self_attn.k_proj", TURNED}, {"@wv", "@self_attn.v_proj", TURNED}, \
  {"@qnorm", "@self_attn.q_norm", AS_IS}, {"@knorm", "@self_attn.k_norm", AS_IS}, \
  {"@wo", "@self_attn.o_proj", TURNED}, {"normf", "model.norm", AS_IS}, \
  {"@w1", "@mlp.gate_proj", TURNED}, {"@w2", "@mlp.up_proj", TURNED}, \
  {"@w3", "@mlp.down_proj", TURNED}

/* The last row is the unembedding (chapter 16). */
static const Counterpart QWEN3[] = {
  ATTENTION_AND_MLP, {"@norm2", "@post_attention_layernorm", AS_IS}, {"wcls", "lm_head", TURNED},
  {NULL, NULL, AS_IS}};

static void qwen3_more(const Facts *f) {
  if (fact_true(f, "attention_bias", false)) flags_set(f, "--linear-bias --bias-in attention");
  layers_more(f);
}

/* --- Keys of config.json ---------------------------------------------------------------------- */

static const Fact LATER_FACTS[] = {
  {"w",      "head_dim",                               NUMBER, "head-dim", "128"},
  {"qw",     "use_mrope",                              ONLY,   NULL, "false"},
  {NULL, NULL, NUMBER, NULL, NULL}};
