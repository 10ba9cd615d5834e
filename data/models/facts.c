/* facts.c - what a published model's config.json says. Chapter 13 of hf.c; it
 * ends in families.c.
 *
 * SPDX-License-Identifier: MIT
 */

/* -----------------------------------------------------------------------------
 * 13  Families: what a published model is called here                      [T8]
 *
 * A family is a table of tensors (ours, theirs), rows of a table of keys of
 * config.json (theirs, our flag) and a function for what takes a sentence. In
 * names * stands for a number: of the block, and of the expert. What no table
 * names is refused by its name, be it a tensor, a value or a key: keys.h lists
 * those that change no number of a forward. null says nothing, except of a
 * window, a cap and YaRN's truncate; nor does an unread {} or [].
 *
 * Sources: the modelling code of transformers, and the files that were
 * published of each family. */

static const Counterpart GPT2[] = {
  {"@", "transformer.h.*.", AS_IS},
  {"wte", "transformer.wte", AS_IS},
  {"wpe", "transformer.wpe", AS_IS},
  {"@norm1", "@ln_1", AS_IS},
  {"@wq", "@attn.c_attn", THIRDS},
  {"@wk", "@attn.c_attn", THIRDS},
  {"@wv", "@attn.c_attn", THIRDS},
  /* [in,out], as here: its square one would fit turned as well */
  {"@wo", "@attn.c_proj", AS_IS},
  {"@norm2", "@ln_2", AS_IS},
  {"@w1", "@mlp.c_fc", AS_IS},
  {"@w2", "@mlp.c_proj", AS_IS},
  {"normf", "transformer.ln_f", AS_IS},
  {"wcls", "lm_head", TURNED},
  {NULL, NULL, AS_IS}};

static const Counterpart NEOX[] = {
  {"@", "gpt_neox.layers.*.", AS_IS},
  {"wte", "gpt_neox.embed_in", AS_IS},
  {"@norm1", "@input_layernorm", AS_IS},
  {"@wq", "@attention.query_key_value", HEADS},
  {"@wk", "@attention.query_key_value", HEADS},
  {"@wv", "@attention.query_key_value", HEADS},
  {"@wo", "@attention.dense", TURNED},
  {"@norm2", "@post_attention_layernorm", AS_IS},
  {"@w1", "@mlp.dense_h_to_4h", TURNED},
  {"@w2", "@mlp.dense_4h_to_h", TURNED},
  {"normf", "gpt_neox.final_layer_norm", AS_IS},
  {"wcls", "embed_out", TURNED},
  {NULL, NULL, AS_IS}};

/* final_layer_norm is the norm of the feed-forward in a block, and outside the
 * last norm. */
static const Counterpart OPT[] = {
  {"@", "model.decoder.layers.*.", AS_IS},
  {"wte", "model.decoder.embed_tokens", AS_IS},
  {"win", "model.decoder.project_in", TURNED},
  {"wpe", "model.decoder.embed_positions", LATER},
  {"@norm1", "@self_attn_layer_norm", AS_IS},
  {"@wq", "@self_attn.q_proj", TURNED},
  {"@wk", "@self_attn.k_proj", TURNED},
  {"@wv", "@self_attn.v_proj", TURNED},
  {"@wo", "@self_attn.out_proj", TURNED},
  {"@norm2", "@final_layer_norm", AS_IS},
  {"@w1", "@fc1", TURNED},
  {"@w2", "@fc2", TURNED},
  {"normf", "model.decoder.final_layer_norm", AS_IS},
  {"wout", "model.decoder.project_out", TURNED},
  {"wcls", "lm_head", TURNED},
  {NULL, NULL, AS_IS}};

static const Counterpart JAMBA[] = {
  {"@", "model.layers.*.", AS_IS},
  {"wte", "model.embed_tokens", AS_IS},
  {"@norm1", "@input_layernorm", AS_IS},
  {"@wq", "@self_attn.q_proj", TURNED},
  {"@wk", "@self_attn.k_proj", TURNED},
  {"@wv", "@self_attn.v_proj", TURNED},
  {"@wo", "@self_attn.o_proj", TURNED},
  {"@m.in", "@mamba.in_proj", TURNED},
  {"@m.conv", "@mamba.conv1d", TAPS},
  {"@m.x", "@mamba.x_proj", TURNED},
  {"@m.rnorm", "@mamba.dt_layernorm", AS_IS},
  {"@m.bnorm", "@mamba.b_layernorm", AS_IS},
  {"@m.cnorm", "@mamba.c_layernorm", AS_IS},
  {"@m.dt", "@mamba.dt_proj", TURNED},
  {"@m.alog", "@mamba.A_log", TURNED | BARE},
  {"@m.skip", "@mamba.D", BARE},
  {"@m.out", "@mamba.out_proj", TURNED},
  {"@norm2", "@pre_ff_layernorm", AS_IS},
  {"@w1", "@feed_forward.gate_proj", TURNED},
  {"@w2", "@feed_forward.up_proj", TURNED},
  {"@w3", "@feed_forward.down_proj", TURNED},
  {"@router", "@feed_forward.router", TURNED},
  {"@e*.w1", "@feed_forward.experts.*.gate_proj", TURNED},
  {"@e*.w2", "@feed_forward.experts.*.up_proj", TURNED},
  {"@e*.w3", "@feed_forward.experts.*.down_proj", TURNED},
  {"normf", "model.final_layernorm", AS_IS},
  {"wcls", "lm_head", TURNED},
  {NULL, NULL, AS_IS}};

/* What some files also hold and no forward needs: masks, a number to mask
 * with, frequencies. */
static const char *const NEEDLESS[] = {
  "transformer.h.*.attn.bias",
  "transformer.h.*.attn.masked_bias",
  "gpt_neox.layers.*.attention.bias",
  "gpt_neox.layers.*.attention.masked_bias",
  "gpt_neox.layers.*.attention.rotary_emb.inv_freq",
  "model.layers.*.self_attn.rotary_emb.inv_freq",
  "model.rotary_emb.inv_freq",
  NULL};

/* config.json as it is read. */
typedef struct Facts {
  const Json *j;
  const JsonValue *top;        /* the object with the settings */
  Settings *s;                 /* what becomes of them */
  bool *read;                  /* [j->size] what was asked for */
  Error *e;
} Facts;

/* The value of the first of these keys, apart by |, that is there and not null;
 * a.b stands for b in a. All of them count as read from now on, also where the
 * value is not used: keys_known then lets them pass. */
static const JsonValue *fact_at(const Facts *f, const char *keys) {
  const JsonValue *first = NULL;
  char key[64];
  for (const char *at = keys; *at; at += *at == '|') {
    const JsonValue *v = f->top;
    while (v && *at && *at != '|') {
      size_t n = strcspn(at, ".|");
      snprintf(key, sizeof key, "%.*s", (int)n, at);
      v = json_get(f->j, v, key);
      if (v && (at[n] != '.' || v->kind == JSON_OBJECT))
        f->read[v - f->j->at] = true;
      at += n + (at[n] == '.');
    }
    at += strcspn(at, "|");
    if (!first)
      first = v;
  }
  return first;
}

/* A value in an error. */
static const char *shown(const Facts *f, const JsonValue *v, char text[64]) {
  static const char *const WORDS[] = {
    [JSON_NULL] = "null",    [JSON_FALSE] = "false",
    [JSON_TRUE] = "true",    [JSON_ARRAY] = "a list",
    [JSON_OBJECT] = "an object"};
  if (!v)
    snprintf(text, 64, "none");
  else if (v->kind == JSON_NUMBER || v->kind == JSON_STRING)
    snprintf(text, 64, "%.*s", (int)at_most(v->size, 40), f->j->text + v->at);
  else
    snprintf(text, 64, "%s", WORDS[v->kind]);
  return text;
}

/* Of these keys, apart by |, the one whose value v is. Where v is none's: the
 * last whose object is there, else the first. */
static const char *fact_named(const Facts *f, const char *keys,
                              const JsonValue *v) {
  char one[128];
  for (const char *at = keys; *at; at += *at == '|') {
    const int n = (int)strcspn(at, "|");
    snprintf(one, sizeof one, "%.*s", n, at);
    char *dot = strrchr(one, '.');
    if (v && fact_at(f, one) == v)
      return at;
    if (!v && dot)
      *dot = 0;
    if (!v && dot && json_kind(fact_at(f, one), JSON_OBJECT))
      keys = at;
    at += n;
  }
  return keys;
}

static int fact_fails(const Facts *f, const char *keys, const char *expected,
                      const JsonValue *v) {
  char text[64];
  const char *key = fact_named(f, keys, v);
  shown(f, v, text);
  /* a string that might be read as something else */
  const bool unlike = isdigit((unsigned char)*text) ||
                      has_word("true false null", text);
  const char *mark = json_kind(v, JSON_STRING) && unlike ? "\"" : "";
  return fail(f->e, 1, "%s: expected %.*s to be %s, found %s%s%s. Try: %s",
              f->j->name, (int)strcspn(key, "|"), key, expected, mark, text,
              mark, v ? "another model; no other value is supported"
                      : "the model's whole config.json");
}

static bool fact_number(const Facts *f, const JsonValue *v, double *x) {
  char text[64];
  /* a longer one is cut by shown */
  if (!json_kind(v, JSON_NUMBER) || v->size > 40)
    return false;
  *x = strtod(shown(f, v, text), NULL);
  return true;
}

/* A number of least to most; integers may be written as 10000.0. Where no key
 * is there, fallback: NAN for a number that has to be there. */
static double fact_value(const Facts *f, const char *keys, double fallback,
                         double least, double most, bool whole) {
  const JsonValue *v = fact_at(f, keys);
  char bounds[128];
  double x = fallback;
  snprintf(bounds, sizeof bounds, "%s of %.10g to %.10g",
           whole ? "an integer" : "a number", least, most);
  if ((v && !fact_number(f, v, &x)) || !(x >= least && x <= most) ||
      (whole && x != floor(x)))
    fact_fails(f, keys, bounds, v);
  return f->e->status ? fallback : x;
}

/* Sets a flag from a number. Where no key is there, from fallback, which may be
 * NULL for a number that has to be there, or "" for the flag's default. */
static void fact_flag(const Facts *f, const char *keys, const char *flag,
                      const char *fallback) {
  const Option *o = option_find(flag, MODEL);
  const JsonValue *v = fact_at(f, keys);
  const bool whole = o->kind == 'i';
  char text[64];
  if (!v && fallback) {
    if (*fallback)
      option_set(o, f->s, fallback, true, f->e);
    return;
  }
  const double x = fact_value(f, keys, NAN, o->least, o->most, whole);
  if (f->e->status)
    return;
  if (whole)
    snprintf(text, sizeof text, "%.0f", x);
  else
    shown(f, v, text);
  option_set(o, f->s, text, true, f->e);
}

static bool fact_true(const Facts *f, const char *key, bool fallback) {
  const JsonValue *v = fact_at(f, key);
  if (!v)
    return fallback;
  if (v->kind != JSON_TRUE && v->kind != JSON_FALSE)
    fact_fails(f, key, "true or false", v);
  return v->kind == JSON_TRUE;
}

/* Refuses any value of the key but this one, and but none. "false" is not
 * false: it counts as true in the library. */
static void fact_must(const Facts *f, const char *key, const char *value) {
  const JsonValue *v = fact_at(f, key);
  const bool number = isdigit((unsigned char)*value);
  const bool string = !number && !strstr("true false null", value);
  char text[64];
  double x = 0;
  const bool same = v && !strcmp(shown(f, v, text), value);
  if (!v || (same && string == (v->kind == JSON_STRING)))
    return;
  if (number && fact_number(f, v, &x) && x == strtod(value, NULL))
    return;
  snprintf(text, sizeof text, "%.40s%s", value, same ? " without quotes" : "");
  fact_fails(f, key, text, v);
}

static void flags_set(const Facts *f, const char *flags) {
  settings_flags(f->s, flags, MODEL, f->e);
}

/* The activation; `gated` is that of a feed-forward with a gate. */
static void fact_act(const Facts *f, const char *key, const char *fallback,
                     bool gated) {
  /* theirs, ours, ours with a gate */
  static const char *const NAMES_OF_ACTS[][3] = {
    {"silu", "swish", "swiglu"},
    {"swish", "swish", "swiglu"},
    {"relu", "relu", "reglu"},
    {"gelu", "gelu", "geglu"},
    {"gelu_python", "gelu", "geglu"},
    {"gelu_new", "gelutanh", "geglutanh"},
    {"gelu_pytorch_tanh", "gelutanh", "geglutanh"},
    {"gelu_fast", "gelutanh", "geglutanh"}};
  const JsonValue *v = fact_at(f, key);
  char text[64];
  if (json_kind(v, JSON_STRING))
    fallback = shown(f, v, text);
  else if (v)
    fallback = "";
  for (size_t i = 0; i < sizeof NAMES_OF_ACTS / sizeof NAMES_OF_ACTS[0]; i++)
    if (!strcmp(NAMES_OF_ACTS[i][0], fallback)) {
      option_set(option_find("act", MODEL), f->s, NAMES_OF_ACTS[i][1 + gated],
                 true, f->e);
      return;
    }
  fact_fails(f, key,
             "silu, swish, relu, gelu, gelu_python, gelu_new, "
             "gelu_pytorch_tanh or gelu_fast",
             v);
}

static void fact_yarn(const Facts *f); /* families.c */

#define ROPE(key) \
  "rope_scaling." key "|rope_parameters." key \
  "|rope_parameters.full_attention." key
#define ROPE_TYPE ROPE("rope_type") "|" ROPE("type")
#define ROPE_BASE ROPE("rope_theta") "|rope_theta"

/* Rotary positions: how the angles are stretched. */
static void fact_rope(const Facts *f) {
  const JsonValue *v = fact_at(f, ROPE_TYPE), *old = fact_at(f, "rope_scaling");
  /* not both spellings at once */
  if (old)
    fact_must(f, "rope_parameters", "null");
  if ((!v && !old) || json_is(f->j, v, "default"))
    return;
  bool llama3 = json_is(f->j, v, "llama3");
  if (json_is(f->j, v, "dynamic"))
    fail(f->e, 1,
         "%s: expected rope_scaling of type default, linear, llama3 or yarn, "
         "found dynamic. Try: default there, without factor: the same up to "
         "max_position_embeddings",
         f->j->name);
  else if (!v && json_kind(old, JSON_OBJECT))
    fail(f->e, 1, "%s: expected a rope_type in rope_scaling, found none. Try: "
         "null there, if nothing is scaled", f->j->name);
  else if (!v)
    fact_fails(f, "rope_scaling", "of type default, linear, llama3 or yarn",
               old);
  else if (!llama3 && !json_is(f->j, v, "linear") && !json_is(f->j, v, "yarn"))
    fact_fails(f, ROPE_TYPE, "default, linear, llama3 or yarn", v);
  if (f->e->status)
    return;
  if (json_is(f->j, v, "yarn")) {
    fact_yarn(f);
    return;
  }
  flags_set(f, llama3 ? "--rope-scaling llama3" : "--rope-scaling linear");
  fact_flag(f, ROPE("factor"), "rope-factor", NULL);
  if (!llama3)
    return;
  fact_flag(f, ROPE("low_freq_factor"), "rope-low", NULL);
  fact_flag(f, ROPE("high_freq_factor"), "rope-high", NULL);
  fact_flag(f, ROPE("original_max_position_embeddings"), "rope-original", NULL);
}

/* YaRN's m becomes a part of --score-divisor (fact_yarn). Refused where Gemma 2
 * and 3 set that divisor themselves, and where only a part of a head turns. */
static void refuse_yarn(const Facts *f) {
  if (f->s->model.rope_scaling == ROPE_YARN)
    fact_fails(f, ROPE_TYPE, "default, linear or llama3",
               fact_at(f, ROPE_TYPE));
}

/* What is done with a key, and for which families. Rows of a table go in order:
 * YaRN's angles ask for head_dim, dim, heads and rope-base. */
enum { NUMBER, ONLY, SWITCH, ACT, GATED, ANGLES };
typedef struct Fact {
  /* letters; behind a ! all but these, * for all: gpt2 g, gpt_neox n, opt o,
   * llama l, mistral m, jamba j, qwen2 q, qwen3 w, gemma f, gemma2 a, gemma3
   * and gemma3_text b, phi3 p, olmo2 c, olmo3 d, gpt_oss e (FAMILIES) */
  const char *families;
  const char *keys;            /* apart by |, as fact_at reads them */
  int what;
  const char *flag;
  const char *without;         /* what counts where no key is there */
} Fact;

static const Fact FACTS[] = {
  /* NUMBER: what a flag gets. Where no key is there, NULL is an error and ""
   * the flag's default. */
  {"!b",       "vocab_size",                     NUMBER, "vocab",     NULL},
  {"g",        "n_layer",                        NUMBER, "layers",    NULL},
  {"!gb",      "num_hidden_layers",              NUMBER, "layers",    NULL},
  {"g",        "n_head",                         NUMBER, "heads",     NULL},
  {"!gb",      "num_attention_heads",            NUMBER, "heads",     NULL},
  {"!gnob",    "num_key_value_heads",            NUMBER, "kv-heads",  ""},
  {"g",        "n_embd",                         NUMBER, "dim",       NULL},
  {"!gb",      "hidden_size",                    NUMBER, "dim",       NULL},
  {"lmjqpcd",  "head_dim",                       NUMBER, "head-dim",  ""},
  {"w",        "head_dim",                       NUMBER, "head-dim",  "128"},
  {"abf",      "head_dim",                       NUMBER, "head-dim",  "256"},
  {"o",        "ffn_dim",                        NUMBER, "ffn",       NULL},
  {"!gob",     "intermediate_size",              NUMBER, "ffn",       NULL},
  {"o",        "word_embed_proj_dim",            NUMBER, "embed-dim", ""},
  {"g",        "n_positions",                    NUMBER, "context",   NULL},
  {"!gjb",     "max_position_embeddings",        NUMBER, "context",   NULL},
  {"j",        "max_position_embeddings|n_ctx",  NUMBER, "context",   NULL},
  /* Gemma3TextConfig's defaults (configuration_gemma3.py), which gemma3's files
   * leave out. More of them are in the other rows of b, here and in families.c,
   * and in gemma3_more and gemma_more there. */
  {"b",        "vocab_size",                     NUMBER, "vocab",     "262208"},
  {"b",        "num_hidden_layers",              NUMBER, "layers",    "26"},
  {"b",        "num_attention_heads",            NUMBER, "heads",     "8"},
  {"b",        "num_key_value_heads",            NUMBER, "kv-heads",  "4"},
  {"b",        "hidden_size",                    NUMBER, "dim",       "2304"},
  {"b",        "intermediate_size",              NUMBER, "ffn",       "9216"},
  {"b",        "max_position_embeddings",        NUMBER, "context",   "131072"},
  {"g",        "layer_norm_epsilon",             NUMBER, "norm-eps",  "1e-5"},
  {"n",        "layer_norm_eps",                 NUMBER, "norm-eps",  "1e-5"},
  {"lmjqwabf", "rms_norm_eps",                   NUMBER, "norm-eps",  "1e-6"},
  {"j",        "attn_layer_period",              NUMBER, "attention-period", "8"},
  {"j",        "attn_layer_offset",              NUMBER, "attention-offset", "4"},
  {"j",        "mamba_d_state",                  NUMBER, "mamba-state", "16"},
  {"j",        "mamba_d_conv",                   NUMBER, "mamba-conv", "4"},
  {"j",        "num_experts",                    NUMBER, "experts",   "16"},
  {"j",        "num_experts_per_tok",            NUMBER, "expert-top", "2"},
  {"j",        "expert_layer_period",            NUMBER, "expert-period", "2"},
  {"j",        "expert_layer_offset",            NUMBER, "expert-offset", "1"},
  /* the activation, and one of a feed-forward with a gate */
  {"g",        "activation_function",            ACT,    NULL,        "gelu_new"},
  {"n",        "hidden_act",                     ACT,    NULL,        "gelu"},
  {"o",        "activation_function",            ACT,    NULL,        "relu"},
  {"lmqwpcd",  "hidden_act",                     GATED,  NULL,        "silu"},
  /* ANGLES: a NUMBER, and then how the angles are stretched (fact_rope) */
  {"n",        ROPE("rope_theta") "|rotary_emb_base",
                                                 ANGLES, "rope-base", ""},
  {"lmqwacf",  ROPE_BASE,                        ANGLES, "rope-base", ""},
  /* SWITCH: the flags that true sets */
  {"g",        "scale_attn_by_inverse_layer_idx", SWITCH, "--score-by-layer", "false"},
  {"n",        "use_parallel_residual",          SWITCH, "--place parallel", "true"},
  {"o",        "enable_bias",                    SWITCH, "--linear-bias", "true"},
  /* ONLY: any other value is refused */
  {"g",        "scale_attn_weights",             ONLY,   NULL,        "true"},
  {"*",        "add_cross_attention",            ONLY,   NULL,        "false"},
  {"o",        "layer_norm_elementwise_affine",  ONLY,   NULL,        "true"},
  {"lmqwacf",  ROPE("partial_rotary_factor") "|partial_rotary_factor",
                                                 ONLY,   NULL,        "1"},
  {"lm",       "rope_interleaved",               ONLY,   NULL,        "false"},
  {"mjp",      "attention_bias",                 ONLY,   NULL,        "false"},
  {"mjp",      "mlp_bias",                       ONLY,   NULL,        "false"},
  {"j",        "hidden_act", /* Mamba's too */   ONLY,   NULL,        "silu"},
  {"j",        "mamba_conv_bias",                ONLY,   NULL,        "true"},
  {"j",        "mamba_proj_bias",                ONLY,   NULL,        "false"},
  {"j",        "mamba_inner_layernorms",         ONLY,   NULL,        "true"},
  {"j",        "sliding_window",                 ONLY,   NULL,        "null"},
  {"!e",       "quantization_config",            ONLY,   NULL,        "null"},
  {"*",        "is_encoder_decoder",             ONLY,   NULL,        "false"},
  {NULL, NULL, NUMBER, NULL, NULL}};

/* Refuses the first key of an object that nobody has read, unless it is known
 * to change no number. */
static void keys_known(const Facts *f, const JsonValue *object) {
  for (const JsonValue *key = object + 1, *end = f->j->at + object->next;
       key < end && !f->e->status; key = f->j->at + key[1].next) {
    char word[66], text[64];
    const JsonValue *v = key + 1;
    const bool nothing = v->kind == JSON_NULL ||
                         (v->kind >= JSON_ARRAY && !v->size);
    snprintf(word, sizeof word, " %.62s ", f->j->text + key->at);
    if (f->read[v - f->j->at] && v->kind == JSON_OBJECT)
      keys_known(f, v);
    else if (!f->read[v - f->j->at] && !nothing &&
             (!strstr(IDLE, word) || strchr(f->j->text + key->at, ' ') ||
              strlen(word) != key->size + 2))
      fail(f->e, 1,
           "%s: expected known keys, found %.60s: %s. Try: remove it if it "
           "changes no number, or another model",
           f->j->name, f->j->text + key->at, shown(f, v, text));
  }
}

/* Every row of a table that is of a family, in their order. */
static void facts_read(const Facts *f, const Fact *x, char family) {
  for (; x->families; x++) {
    const bool named = strchr(x->families, family);
    const bool but = *x->families == '!';
    if (named == but && *x->families != '*')
      continue;
    bool yes = x->without && !strcmp(x->without, "true");
    switch (x->what) {
    case NUMBER:
      fact_flag(f, x->keys, x->flag, x->without);
      break;
    case ONLY:
      fact_must(f, x->keys, x->without);
      break;
    case SWITCH:
      if (fact_true(f, x->keys, yes))
        flags_set(f, x->flag);
      break;
    case ANGLES:
      fact_flag(f, x->keys, x->flag, x->without);
      fact_rope(f);
      break;
    default:
      fact_act(f, x->keys, x->without, x->what == GATED);
    }
  }
}

static void gpt2_more(const Facts *f) {
  char four[32];
  snprintf(four, sizeof four, "%d", 4 * f->s->model.dim);
  fact_flag(f, "n_inner", "ffn", four);
}

/* The first int(width of a head * rotary_pct) dims turn. */
static void neox_more(const Facts *f) {
  const Config *c = &f->s->model;
  const JsonValue *v = fact_at(f, ROPE("partial_rotary_factor") "|rotary_pct");
  double part = 0.25;
  char flags[64] = "--pos none", same[64] = "0.25";
  if (v && (!fact_number(f, v, &part) || !(part >= 0 && part <= 1)))
    fact_fails(f, "rotary_pct", "a number of 0 to 1", v);
  if (f->e->status)
    return;
  /* other families' names of the two say the same, if anything */
  if (v)
    shown(f, v, same);
  fact_must(f, "partial_rotary_factor", same);
  option_text(option_find("rope-base", MODEL), f->s, same, sizeof same);
  fact_must(f, "rope_theta", same);
  int turned = (int)(c->dim / c->heads * part);
  if (turned % 2)
    fact_fails(f, "rotary_pct", "an even number of a head's dims", v);
  /* m lengthens the turned dims alone */
  if (turned < c->dim / c->heads)
    refuse_yarn(f);
  /* --rotary-dims 0 would be all of them */
  if (turned)
    snprintf(flags, sizeof flags, "--rotary-dims %d", turned);
  flags_set(f, flags);
  if (!fact_true(f, "attention_bias", true))
    flags_set(f, "--bias-in ffn");
}

static void opt_more(const Facts *f) {
  const bool no_last = fact_true(f, "_remove_final_layer_norm", false);
  if (!fact_true(f, "do_layer_norm_before", true))
    flags_set(f, "--place post");
  else if (no_last)
    fact_must(f, "_remove_final_layer_norm", "false");
}

static void llama_more(const Facts *f) {
  bool attention = fact_true(f, "attention_bias", false);
  bool ffn = fact_true(f, "mlp_bias", false);
  if (attention || ffn)
    flags_set(f, "--linear-bias");
  if (attention != ffn)
    flags_set(f, attention ? "--bias-in attention" : "--bias-in ffn");
}

/* A cap or a window that null takes away; without the key it is `fallback`, ""
 * for none. */
static void cap_flag(const Facts *f, const char *key, const char *flag,
                     const char *fallback) {
  const bool there = json_find(f->j, f->top, key) != NULL;
  fact_flag(f, key, flag, there ? "" : fallback);
}

static void mistral_more(const Facts *f) {
  cap_flag(f, "sliding_window", "window", "4096");
}

/* Experts stand in some blocks only, as attention does. */
static void jamba_more(const Facts *f) {
  const double expand = fact_value(f, "mamba_expand", 2, 1, 64, true);
  Config *c = &f->s->model;
  char text[64];
  if (!json_is(f->j, fact_at(f, "mamba_dt_rank"), "auto"))
    fact_flag(f, "mamba_dt_rank", "mamba-rank", "");
  snprintf(text, sizeof text, "%.0f", expand * c->dim);
  option_set(option_find("mamba-inner", MODEL), f->s, text, true, f->e);
  /* one expert is the plain feed-forward, without a router */
  if (c->experts == 1)
    c->experts = c->expert_top = c->expert_period = c->expert_offset = 0;
}
