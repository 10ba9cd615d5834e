/* test_families.c - [T8] the later families of published models
 * (data/models/families.c), for data/check/test_hf.c, which includes it: tiny
 * models against the library, as in its section 4.
 *
 * SPDX-License-Identifier: MIT */

#define LATER_TINY "data/check/golden/hf_families.txt"

static const char *const NEWER[6] = {
  "qwen2", "qwen3", "gemma2", "gemma3", "phi3", "others"};

static void families__against_library(Test *t) {
  library_compare(t, LATER_TINY, NEWER, 39);
}

/* The comparison sees what it is for: a model with a fault differs by more than
 * its bounds. */
static void faults_try(Test *t, const char *path, const Fault *fault, int n) {
  int tried = 0, told;
  double faintest = INFINITY, most[TINY_KINDS];
  Bytes text = {0};
  TinyCase c;
  Golden g = {.path = path, .line = 1};
  if (no_binary(t))
    return;
  fact(t, !golden_read(path, &text, &told, &g.e), "%s", g.e.text);
  for (g.at = (const char *)text.at; g.at && tiny_next(&g, &c);)
    for (int i = 0; i < n; i++) {
      if (strcmp(c.name, fault[i].name))
        continue;
      tiny_write(t, &c, 0, 0);
      const Golden one = tiny_compare(t, &c, "", false, &fault[i], most);
      fact(t, one.changed > 0, "%s, fault %d: worst %g", c.name, i, one.worst);
      faintest = fmin(faintest, one.worst);
      tried++;
    }
  fact(t, tried == n, "%d of %d faults tried", tried, n);
  note(t, "%d faults; the faintest shows by %.2g times its bound", tried,
       faintest);
  bytes_free(&text);
}

static void families__see_faults(Test *t) {
  static const Fault FAULTS[] = {
    WITH("qwen2", "--rope-base 5000"),
    OUTPUTS("qwen2", "wq wk", neighbours),
    WITH("qwen2-window", "--window-offset 1"),
    WITH("qwen2-window", "--window 4"),
    WITH("qwen3", "--norm-eps 0.001"), WITH("qwen3-bias", "--window 6"),
    WITH("qwen3-bias", "--rope-factor 1"),
    OUTPUTS("qwen3", "w1 w2", halves_swapped),
    WITH("gemma2", "--soft-cap none"), WITH("gemma2", "--logit-cap 4"),
    WITH("gemma2", "--embed-scale 1"), WITH("gemma2", "--score-divisor 12"),
    WITH("gemma2", "--act geglu"), WITH("gemma2", "--window-offset 1"),
    WITH("gemma2-plain", "--act geglutanh"),
    WITH("gemma3", "--rope-local 5000"),
    WITH("gemma3", "--rope-base 10000"), WITH("gemma3", "--window-offset 4"),
    WITH("gemma3", "--no-window-others"),
    WITH("gemma3-linear", "--rope-factor 4"),
    WITH("gemma3-image", "--score-divisor 12"),
    WITH("gemma3-image", "--rope-scaling none"),
    WITH("gemma3-image", "--rope-base 500000"),
    WITH("gemma3-image", "--rope-local 9000"),
    WITH("gemma3-image", "--norm-eps 0.001"),
    WITH("gemma3-image-f16", "--rope-factor 7"),
    OUTPUTS("phi3", "w1 w2", halves_swapped),
    OUTPUTS("phi3", "wq wk", neighbours),
    WITH("phi3-f16", "--window 4"), WITH("phi3-partial", "--rotary-dims 2"),
    WITH("llama-yarn", "--rope-low 0.2"),
    WITH("llama-yarn", "--rope-scaling llama3"),
    WITH("llama-yarn", "--score-divisor 16"),
    WITH("qwen3-yarn", "--rope-high 1.5"),
    WITH("olmo2", "--place pre"), WITH("olmo2", "--no-qk-whole"),
    WITH("olmo2-f16", "--window 20"),
    WITH("olmo2-bias", "--norm-eps 0.001"), WITH("olmo3", "--rope-local 10000"),
    WITH("olmo3", "--rope-scaling none"), WITH("olmo3", "--window 4"),
    WITH("olmo3-llama3", "--window-offset 0"),
    WITH("olmo3-llama3", "--rope-low 2"),
    WITH("gpt_oss", "--extra zero"), WITH("gpt_oss", "--expert-top 1"),
    WITH("gpt_oss", "--expert-limit 0.5"), WITH("gpt_oss", "--window-offset 1"),
    WITH("gpt_oss", "--score-divisor 12"),
    WITH("gpt_oss-f16", "--expert-limit 0.8"),
    WITH("gpt_oss-f16", "--expert-slope 1.702"),
    WITH("phi3-longrope", "--rope-original 24"),
    WITH("phi3-longrope", "--rope-factor 1.2"),
    WITH("phi3-longrope-short", "--rope-original 23"),
    WITH("phi3-longrope", "--rotary-dims 10"),
    WITH("gpt_oss-bf16", "--rope-base 400"),
    OUTPUTS("gpt_oss", "e1.w1 e1.w2", halves_swapped),
    OUTPUTS("gpt_oss", "e2.w1 e2.w2", backwards),
    OUTPUTS("gpt_oss", "router", backwards),
    OUTPUTS("gpt_oss-mxfp4", "e3.w3", neighbours),
    OUTPUTS("gpt_oss-mxfp4", "e3.w1", neighbours)};
  faults_try(t, LATER_TINY, FAULTS, (int)(sizeof FAULTS / sizeof *FAULTS));
}

/* Frequencies: the paper's, the linear stretch, and Llama 3.1's (base 500000,
 * D 128: 8, 1, 4, 8192), worked in wavelengths: pair 28 is kept, 29 to 34 lie
 * on the ramp, 35 is whole. */
static void rope_frequency__stretched(Test *t) {
  Config c = {.rotary_dims = 96, .rope_base = 10000};
  within(t, rope_frequency(&c, 0), 1, 0, "pair 0");
  within(t, rope_frequency(&c, 15), 0.056234132519034908, 1e-16,
         "pair 15 of 48");
  within(t, rope_frequency(&c, 24), 0.01, 1e-17, "pair 24 of 48");
  c.rope_scaling = ROPE_LINEAR;
  c.rope_factor = 4;
  within(t, rope_frequency(&c, 24), 0.0025, 1e-17, "linear");
  c = (Config){.rotary_dims = 128,
               .rope_base = 500000,
               .rope_scaling = ROPE_LLAMA3,
               .rope_factor = 8,
               .rope_low = 1,
               .rope_high = 4,
               .rope_original = 8192};
  int ramp = 0;
  for (int p = 0; p < 64; p++) {
    double plain = pow(500000, -p / 64.0), w = rope_frequency(&c, p);
    within(t, w / plain, slow_frequency(&c, p) / plain, 8 * DBL_EPSILON,
           "llama3, pair %d", p);
    fact(t, p > 28 || w == plain, "pair %d is stretched", p);
    fact(t, p < 35 || fabs(w * 8 / plain - 1) < 1e-14,
         "pair %d is not stretched whole", p);
    ramp += w < plain && w > plain / 7.99;
  }
  fact(t, ramp == 6, "%d pairs on the ramp", ramp);
  /* gpt-oss's: pairs 8.092779 to 17.398025 of 32, which turn 32 times and
   * once in 4096 */
  c = (Config){.rotary_dims = 64,
               .rope_base = 150000,
               .rope_scaling = ROPE_YARN,
               .rope_factor = 32,
               .rope_low = 1,
               .rope_high = 32,
               .rope_original = 4096};
  for (int p = 0; p < 32; p++) {
    double plain = pow(150000, -p / 32.0);
    double ramp_p = (p - 8.092779) / (17.398025 - 8.092779);
    ramp_p = fmin(fmax(ramp_p, 0), 1);
    within(t, rope_frequency(&c, p) / plain, 1 - ramp_p + ramp_p / 32, 1e-6,
           "yarn, pair %d", p);
  }
}

/* Keys put in front of a case's config.json, and the flags that they become. */
typedef struct LaterFact { const char *name, *text, *wants; } LaterFact;

static const LaterFact LATER_ROWS[] = {
  /* what a key that is not there counts as */
  {"gpt_oss", "-sliding_window `use_cache`: true", "--window 128"},
  {"gpt_oss", "-rms_norm_eps `use_cache`: true", "--norm-eps 1e-05"},
  {"gpt_oss", "`rope_parameters`: {`rope_type`: `default`}, `rope_theta`: null",
   "--rope-base 150000"},
  {"gemma2", "-attn_logit_softcapping `use_cache`: true", "--soft-cap 50"},
  {"gemma2", "-final_logit_softcapping `use_cache`: true", "--logit-cap 30"},
  {"olmo3", "-sliding_window `use_cache`: true", "--window 4096"},
  {"olmo3", "`rope_parameters`: null, `rope_theta`: null",
   "--rope-base 500000"},
  {"phi3-longrope", "-original_max_position_embeddings `use_cache`: true",
   "--rope-original 4096"},
  {"qwen2",
   "-sliding_window `use_sliding_window`: true, `max_window_layers`: 0, "
   "`layer_types`: null", "--window 4096"},
  {"qwen2",
   "-max_window_layers `use_sliding_window`: true, `sliding_window`: 6, "
   "`layer_types`: null", "--window 0"},
  {"qwen2", "`sliding_window`: 5", "--window 0"},
  {"qwen2",
   "`use_sliding_window`: true, `sliding_window`: null, `layer_types`: null",
   "--window 0"},
  {"qwen2",
   "`use_sliding_window`: true, `sliding_window`: 6, `layer_types`: null",
   "--window 0"},
  {"qwen2",
   "`use_sliding_window`: true, `sliding_window`: 7, "
   "`max_window_layers`: 0, `layer_types`: null",
   "--window 7 --window-period 0"},
  {"qwen2",
   "`use_sliding_window`: true, `sliding_window`: 6, "
   "`layer_types`: [`sliding_attention`, `full_attention`, "
   "`sliding_attention`]",
   "--window 6 --window-period 2 --window-offset 0"},
  {"gemma2",
   "`final_logit_softcapping`: null, `attn_logit_softcapping`: null, "
   "`sliding_window`: 9",
   "--logit-cap 0 --soft-cap none --window 9 --window-period 2 "
   "--window-offset 0"},
  {"gemma2", "`layer_types`: null, `query_pre_attn_scalar`: null",
   "--window 5 --window-period 2 --window-offset 0 --score-divisor 256 "
   "--embed-scale 6"},
  {"gemma2",
   "`sliding_window`: null, `layer_types`: [`full_attention`, "
   "`full_attention`, `full_attention`, `full_attention`]",
   "--window 0 --window-period 0"},
  {"gemma2", "`hidden_act`: `silu`, `sliding_window_size`: 9",
   "--act geglutanh --window 5"},
  {"gemma2",
   "`layer_types`: [`sliding_attention`, `full_attention`, "
   "`full_attention`, `sliding_attention`]",
   "--window 5 --window-period 3 --window-offset 0"},
  {"gemma2",
   "`layer_types`: [`sliding_attention`, `full_attention`, "
   "`sliding_attention`, `sliding_attention`]",
   "--window-period 3 --window-offset 1 --window-others 1"},
  {"gemma3", "`layer_types`: null, `_sliding_window_pattern`: null",
   "--window 5 --window-period 6 --window-offset 5 --window-others 1 "
   "--rope-local 10000 --rope-base 1000000"},
  {"gemma3", "`_sliding_window_pattern`: 3, `layer_types`: null",
   "--window-period 6 --window-offset 5 --window-others 1"},
  {"gemma3",
   "`rope_parameters`: null, "
   "`rope_scaling`: {`rope_type`: `linear`, `factor`: 8}",
   "--rope-scaling linear --rope-factor 8 --rope-base 1000000 "
   "--rope-local 10000"},
  {"gemma2", "-sliding_window `use_cache`: true",
   "--window 4096 --window-period 2"},
  {"gemma3-image", "-sliding_window `use_cache`: true",
   "--heads 8 --kv-heads 4 --context 131072 --norm-eps 1e-06 "
   "--score-divisor 256 --act geglutanh --window 4096 --window-period 6 "
   "--window-offset 5 --window-others 1 --linear-bias 0 --tied 1 "
   "--rope-scaling linear --rope-factor 8 --rope-base 1000000 "
   "--rope-local 10000 --soft-cap none --logit-cap 0"},
  {"gemma3-image",
   "`rope_theta`: 2000, `rope_local_base_freq`: 300, "
   "`tie_word_embeddings`: false",
   "--rope-base 2000 --rope-local 300 --tied 1"},
  {"phi3",
   "`auto_map`: {`AutoConfig`: `configuration_phi3.Phi3Config`, "
   "`AutoTokenizer`: `x`}, `sliding_window`: 262144, "
   "`attention_bias`: false",
   "--window 262144 --rotary-dims 8"},
  {"phi3-longrope",
   "`rope_parameters`: null, `rope_scaling`: {`type`: `su`, "
   "`short_factor`: [1, 1, 1, 1, 1, 1, 1, 1], "
   "`long_factor`: [1, 2, 3, 4, 5, 6, 7, 8]}, "
   "`max_position_embeddings`: 65536",
   "--rope-scaling longrope --rope-factor 2 --rope-original 16 "
   "--rotary-dims 16"},
  {"olmo2", "`head_dim`: 8",
   "--head-dim 8 --qk-whole 1 --behind-only 1 --place sandwich"},
  {"olmo3", "`layer_types`: null, `rope_parameters`: null, `rope_theta`: 500",
   "--window 5 --window-period 4 --window-offset 3 --window-others 1 "
   "--rope-base 500 --rope-local 500000 --rope-scaling none"},
  {"gpt_oss",
   "`swiglu_limit`: null, `swiglu_alpha`: null, `layer_types`: null, "
   "`sliding_window`: 7",
   "--expert-limit 7 --expert-slope 1.702 --window 7 --window-period 2 "
   "--window-offset 0 --experts 5 --expert-top 2 --extra logit "
   "--linear-bias 1"},
  {"gpt_oss",
   "`experts_per_token`: 2, `initial_context_length`: 16, `hidden_act`: `gelu`",
   "--act swiglu --bias-in all --tied 0"},
  {"gpt_oss", "`quantization_config`: {`quant_method`: `mxfp4`}",
   "--head-dim 12"}};

/* For keys_refused. */
static const char *const LATER_KEYS[] = {
  "qwen2 attention_bias true",
  "phi3 rope_parameters {`partial_rotary_factor`:0.4} |an even number",
  "qwen2 layer_types 5 a list",
  "phi3 rope_parameters {`partial_rotary_factor`:1.5} |above 0, to 1",
  "qwen2 qk_layernorm true",
  "qwen3 model_type `qwen2`,`attention_bias`:null |q_proj.bias [48]",
  "qwen2 model_type `qwen3`,`head_dim`:8 |q_norm.weight [8]",
  "olmo3 sliding_window null set where",
  "qwen2 max_window_layers `a` a number",
  "^gemma3-image tie_word_embeddings false |lm_head.weight",
  "qwen2 quantization_config {`bits`:4} null",
  "gemma3-image num_attention_heads 4 |[48,64], found",
  "qwen2 layer_types [`chunked`,1,1] |found chunked",
  "qwen2 hidden_act `quick_gelu` silu, swish",
  "qwen2-window use_sliding_window false set where",
  "qwen2 layer_types [1] |a word for each layer",
  "qwen2 layer_types [1,1,1] |or full_attention",
  "gemma3-image hidden_size null |[97,2304], found",
  "qwen2 partial_rotary_factor 0.5 1", "gpt_oss quantization_config `fp8`",
  "qwen2 use_mrope true false", "phi3 attention_bias true false",
  "gpt_oss swiglu_limit 0 a number",
  ("qwen3 model_type `llama`,`layer_types`:null,`max_window_layers`:null,"
   "`use_sliding_window`:null "
   "|found model.layers.0.self_attn.k_norm.weight too"),
  "qwen3-bias sliding_window null set where",
  "gemma3-image num_hidden_layers null |layers.7.input",
  "qwen3 attention_bias true |q_proj.bias [48]",
  "gemma2 model_type `gemma` |found attn_logit_soft",
  "qwen3-bias use_sliding_window null set where",
  "gpt_oss attention_bias false |k_proj.bias too",
  "qwen3 head_dim null |[512,32], found",
  "gpt_oss sliding_window null set where",
  ("gemma2 rope_parameters {`rope_type`:`yarn`,`factor`:4,`rope_theta`:100,"
   "`original_max_position_embeddings`:16} |linear or llama3, found yarn"),
  "gemma3-image depth 4",
  "gemma2 query_pre_attn_scalar -1 a number",
  "gemma3-image model_type `gemma2` |to be gemma3_text",
  "gemma2 final_logit_softcapping 0 a number",
  "gpt_oss quantization_config {`bits`:4} |found bits",
  "gemma2 tie_word_embeddings false |lm_head.weight",
  "gemma2 attn_logit_softcapping `a` a number",
  "gemma2 use_bidirectional_attention true false",
  "gemma3-image intermediate_size null |[9216,64]",
  "gemma2 model_type `gemma3` |text_config to be",
  "^gemma3-image text_config 5 |text_config to be",
  "gemma2 attention_bias true |q_proj.bias [48]",
  "gemma3 sliding_window_pattern 1.5 an integer",
  "gemma2 sliding_window null set where",
  "gemma3 sliding_window null set where",
  ("gemma3 rope_parameters {`full_attention`:{`rope_type`:`yarn`,`factor`:4,"
   "`rope_theta`:100,`original_max_position_embeddings`:16}} |found yarn"),
  "gpt_oss num_local_experts 4 |of [4,32]",
  ("gemma3 rope_parameters {`sliding_attention`:{`rope_type`:`linear`}} "
   "|to be default"),
  ("gemma3 rope_parameters {`full_attention`:{`partial_rotary_factor`:1}} "
   "|found parti"),
  "gemma3 rope_parameters {`rope_type`:`linear`,`factor`:2} |rope_type to be",
  "^gemma3-image mm_tokens 4",
  "phi3 rope_parameters null,`rope_scaling`:{`type`:1} |or longrope",
  "gemma3 attn_logit_softcapping 50 null",
  "phi3 rope_scaling {`type`:`longrope`} |rope_parameters",
  "gemma3-image vocab_size null |[262208,64], found",
  "gemma3-image final_logit_softcapping 3 null",
  "gemma3-image quantization_config {`bits`:4} null",
  "gemma3-image sliding_window null set where",
  "gemma3-image head_dim null |[2048,64], found",
  "^gemma3-image quantization_config {`bits`:4}",
  ("phi3-longrope rope_parameters null,`rope_scaling`:{`type`:`longrope`,"
   "`short_factor`:[1,1,1,1,1,1,1,1],`long_factor`:[1,2]} "
   "|long_factor to be a number above 0 for"),
  "phi3 rope_parameters {`rope_type`:`longrope`} |short_factor to",
  "phi3 full_attn_mod 2 1, found 2",
  "gpt_oss quantization_config {`quant_method`:1} |to be mxfp4",
  "phi3 num_key_value_heads 4 |of [96,32], found",
  "olmo2 num_key_value_heads 4 |of [32,32], found",
  "phi3 intermediate_size 56 |gate_up_proj",
  "gpt_oss intermediate_size 36 |of [5,32,72]",
  ("llama-yarn rope_parameters {`rope_type`:`yarn`,`factor`:4,`mscale`:1,"
   "`original_max_position_embeddings`:16,`rope_theta`:100} |found mscale: 1"),
  "olmo2 clip_qkv 8",
  ("llama-yarn rope_parameters {`rope_type`:`yarn`,`factor`:4,`beta_slow`:0,"
   "`original_max_position_embeddings`:16} |beta_slow to be"),
  "qwen2 use_sliding_window 1 true or",
  "llama-yarn rope_parameters {`rope_type`:`yarn`,`factor`:4} |original_max",
  "olmo2 rope_parameters {`full_attention`:{`rope_theta`:1}} |to be null",
  "olmo2 sliding_window 5",
  "olmo2 model_type `olmo` |found olmo. Try",
  "gpt_oss-mxfp4 intermediate_size 64 |of [5,128,2,16]",
  "olmo2 model_type `llama` |input_layernorm.weight",
  "olmo2 attention_bias true |q_proj.bias [32]",
  ("olmo3 rope_parameters {`sliding_attention`:{`rope_type`:`linear`}} "
   "|to be default"),
  "gpt_oss num_experts_per_tok 6 |-top 6 exceeds",
  "gpt_oss num_local_experts 300 an integer of 1",
  ("gemma3 rope_parameters null,`rope_scaling`:{`type`:`linear`,`factor`:2} "
   "|type linear alone"),
  ("olmo3 rope_parameters null,`rope_scaling`:{`type`:`linear`,`factor`:2} "
   "|type linear alone"),
  "gemma3-image rope_scaling {`type`:`linear`,`factor`:2} |type linear alone",
  "gemma3 rope_parameters {`type`:`linear`,`factor`:2} |type to be null",
  "olmo3 rope_parameters {`factor`:2,`full_attention`:{}} |factor to be null",
  ("olmo3 rope_parameters {`original_max_position_embeddings`:16,"
   "`full_attention`:{}} |rope_parameters.original_max_position_embeddings"),
  ("olmo3 rope_parameters {`attention_factor`:2,`full_attention`:{}} "
   "|attention_factor to be null"),
  ("olmo3 rope_parameters {`full_attention`:{`truncate`:false}} "
   "|full_attention.truncate to be"),
  ("llama-yarn rope_parameters {`rope_type`:`yarn`,`truncate`:null} "
   "|rope_parameters.truncate to be"),
  "gpt_oss model_type `llama` |found layer_types",
  "gpt_oss rope_parameters null |of type yarn or"};

/* text [], an object in one line, without this key, if it has it. */
static void key_out(char *text, const char *key) {
  char word[80];
  int depth = 0;
  snprintf(word, sizeof word, "\"%s\": ", key);
  char *from = strstr(text, word), *to = from;
  if (!from)
    return;
  for (; *to && (depth || *to != ',') && (depth || *to != '}'); to++)
    depth += (*to == '[' || *to == '{') - (*to == ']' || *to == '}');
  if (*to == ',')
    memmove(from, to + 2, strlen(to + 2) + 1);
  else
    memmove(from - 2, to, strlen(to) + 1);
}

/* FOLDER with the model of the case of this name; the text in its config,
 * instead of its keys; -KEY before it goes. gemma3-image: in the published
 * one's text_config; ^gemma3-image: beside that. */
static void later_given(Test *t, const char *name, const char *given) {
  Bytes file = {0};
  Golden g = {.path = LATER_TINY, .line = 1};
  TinyCase c;
  int told, used;
  static char old[4000], config[5000];
  char key[64], *top = old;
  const bool beside = *name == '^';
  const bool image = !strcmp(name + beside, "gemma3-image");
  fact(t, !golden_read(LATER_TINY, &file, &told, &g.e), "%s", g.e.text);
  for (g.at = (const char *)file.at;
       g.at && tiny_next(&g, &c) && strcmp(c.name, name + beside);)
    continue;
  tiny_write(t, &c, 0, image);
  snprintf(old, sizeof old, "%.*s", (int)strcspn(c.config[image], "\n"),
           c.config[image]);
  if (image && !beside)
    top = strstr(old, "text_config\": {") + strlen("text_config\": ");
  if (sscanf(given, "-%63s %n", key, &used) == 1) {
    key_out(top, key);
    given += used;
  }
  for (const char *at = given; *at == '`'; at += strcspn(at, "`")) {
    if (sscanf(at, "`%63[^`]`: %n", key, &used) != 1)
      break;
    key_out(top, key);
    int depth = 0;
    for (at += used; *at && (depth || *at != ','); at++)
      depth += (*at == '[' || *at == '{') - (*at == ']' || *at == '}');
  }
  snprintf(config, sizeof config, "%.*s{%s, %s\n", (int)(top - old), old, given,
           top + 1);
  text_file(t, FOLDER "/config.json", config);
  bytes_free(&file);
}

#define FOLDER_IMPORT FOLDER " --out " IMPORTED

/* A file is refused with NaN in its last tensor: the last norm, copied (qwen3)
 * or with 1 added (gemma2); the scales of MXFP4. It is not where that is of
 * gemma3's image part, which is left out. Or part of a name is another. */
static void families__files(Test *t) {
  static const char LAST[] = "expected finite numbers in model.norm.weight";
  static const char *const OF[][4] = {
    {"qwen3", NULL, NULL, LAST}, {"gemma2", NULL, NULL, LAST},
    {"gemma3", NULL, NULL, LAST},
    {"phi3", NULL, NULL, LAST}, {"olmo2", NULL, NULL, LAST},
    {"gemma3-image", NULL, NULL, NULL},
    {"gpt_oss-mxfp4", NULL, NULL,
     "in model.layers.2.mlp.experts.gate_up_proj_blocks"},
    {"gemma3-image", "language_model.model.n", "model.language_modes.n",
     "modes.norm.weight too"},
    {"gemma3-image", "language_model.model.n", "language_model.model.m",
     "norm.weight [64], found"},
    {"gemma3-image", "model.layers.6.mlp.up", "model.layers.7.mlp.up",
     "6.mlp.up_proj.weight [40"},
    {"gemma3-image", "vision_tower.post", "vision_towel.post",
     "vision_towel.post_layernorm.b"},
    {"gemma3-image-bf16", "lm_head", "lm_tail", "found lm_tail.weight too"}};
  if (no_binary(t))
    return;
  EACH (i, OF) {
    const char *from = OF[i][1], *wants = OF[i][3];
    Bytes file = {0};
    Error e = {0};
    later_given(t, OF[i][0], "`use_cache`: true");
    file_read(FOLDER "/model.safetensors", &file, &e);
    const size_t n = from ? strlen(from) : 4;
    size_t at = from ? 0 : file.size - n;
    while (from && at + n < file.size && memcmp(file.at + at, from, n))
      at++;
    memcpy(file.at + at, from ? OF[i][2] : "\xFF\xFF\xFF\xFF", n);
    file_write(FOLDER "/model.safetensors", file.at, file.size, &e);
    fact(t, !e.status, "%s", e.text);
    if (wants)
      sink_fails(t, FOLDER_IMPORT, 1, wants);
    Ran r = sink(FOLDER_IMPORT);
    fact(t, wants || strstr((const char *)r.err.at, "image part, 23 tensors"),
         "nothing said");
    ran_free(&r);
    bytes_free(&file);
  }
}

/* A value becomes a flag, or is refused by its name. */
static void families__facts(Test *t) {
  if (no_binary(t))
    return;
  keys_refused(t, LATER_KEYS, sizeof LATER_KEYS / sizeof *LATER_KEYS,
               FOLDER_IMPORT, later_given);
  EACH (i, LATER_ROWS) {
    const LaterFact *x = &LATER_ROWS[i];
    later_given(t, x->name, x->text);
    if (hf_does(t, FOLDER_IMPORT))
      flags_hold(t, IMPORTED, x->text, x->wants);
    if (strstr(x->wants, "longrope -"))
      sink_fails(t, "stream " IMPORTED, 2, "longrope. Try");
  }
}

/* A line "text": the text has the library's ids, and they spell what the
 * library says. */
static void words_compare(Test *t, const char *name, const char *s,
                          Encoder *c) {
  Json j = {0};
  Bytes back = {0};
  Ids ids = {0};
  Error e = {0};
  uint64_t id;
  size_t same = 0;
  json_read(&j, (const unsigned char *)s, strcspn(s, "\n"), name, &e);
  if (failed(t, name, e.status, &e))
    return;
  /* hf_keys.txt has no second text */
  const bool both = j.at->size == 3;
  const JsonValue *text = json_at(&j, j.at, 0);
  const JsonValue *spelt = both ? json_at(&j, j.at, 1) : NULL;
  const JsonValue *theirs = json_at(&j, j.at, both ? 2 : 1);
  tokenizer_encode(*c, (const unsigned char *)j.text + text->at, text->size,
                   &ids, &e);
  while (same < ids.size && same < theirs->size &&
         json_count(&j, theirs + 1 + same, &id) && (uint64_t)ids.at[same] == id)
    same++;
  tokenizer_decode(*c, ids.at, ids.size, &back, &e);
  const size_t blank = (*c)->blank && back.size && back.at[0] == ' ';
  const bool spells =
      !spelt ||
      (back.size == spelt->size + blank &&
       (!spelt->size ||
        !memcmp(back.at + blank, j.text + spelt->at, spelt->size)));
  fact(t, same == ids.size && same == theirs->size && spells,
       "%s, %s: %zu ids, then others", name, j.text + text->at, same);
  bytes_free(&back);
  ids_free(&ids);
  json_free(&j);
}

/* The two files of a tokenizer of hf_words.txt. */
static void tokenizer_write(Golden *g) {
  static const char *const FILES_OF[][2] = {
    {"json ", FOLDER "/tokenizer.json"},
    {"config ", FOLDER "/tokenizer_config.json"}};
  for (int i = 0; i < 2 && !g->e.status; i++) {
    golden_skip(g);
    if (golden_words(g, FILES_OF[i][0]))
      file_write(FILES_OF[i][1], g->at, strcspn(g->at, "\n"), &g->e);
  }
}

/* Tiny tokenizers of every family; an imported Qwen 2 with its own writes the
 * greedy text. */
static void families__tokenizers(Test *t) {
  Bytes file = {0};
  Golden g = {.path = "data/check/golden/hf_words.txt", .line = 1};
  TinyCase model;
  int told, end, bos, front, kinds = 0, texts = 0;
  char name[32], prompt[100], wanted[200];
  Tokenizer k;
  Encoder c;
  fact(t, !golden_read(g.path, &file, &told, &g.e), "%s", g.e.text);
  g.at = (const char *)file.at;
  if (no_binary(t) || t->wrong || !tiny_next(&g, &model))
    return;
  tiny_write(t, &model, 0, 0);
  g = model.runs;
  golden_skip(&g);
  fact(t, sscanf(g.at, "greedy %99[^|]|%199[^\n]", prompt, wanted) == 2,
       "no greedy text");
  for (golden_skip(&g); sscanf(g.at, "tokenizer %31s %d %d %d", name, &end,
                               &bos, &front) == 4;) {
    tokenizer_write(&g);
    if (failed(t, name, g.e.status, &g.e) || !tok_open(t, FOLDER, &k, &c))
      break;
    fact(t, k.end == end && k.bos == bos && k.published->begins == front,
         "%s: %d", name, k.bos);
    for (golden_skip(&g); !strncmp(g.at, "text ", 5); golden_skip(&g), texts++)
      words_compare(t, name, g.at + 5, &c);
    fact(t,
         strcmp(name, "gpt_oss") ||
             cased_length(k.published, (void *)"\u4E2DB", 4) == 3,
         "B");
    other_close(&k, &c);
    if (kinds++ || !hf_does(t, FOLDER " --out " IMPORTED))
      continue;
    const char *s = said(
        t, "generate " IMPORTED " --temperature 0 --n 8 --prompt \"%s\"",
        prompt);
    fact(t, !strncmp(s, wanted, strlen(wanted)), "%s, expected %s", s, wanted);
  }
  fact(t, kinds == 7 && texts == kinds * 18, "%d tokenizers, %d texts", kinds,
       texts);
  bytes_free(&file);
}

/* The files of one folder of hf_keys.txt; `model` is what MODEL stands for. */
static void keys_write(Test *t, Golden *g, const char *model, Error *e) {
  Json j = {0};
  json_read(&j, (const unsigned char *)model, strcspn(model, "\n"), "model", e);
  char name[40], path[200];
  while (!e->status && sscanf(g->at, "file %39s", name) == 1) {
    Bytes *out = bytes_of(t);
    golden_skip(g);
    const size_t n = strcspn(g->at, "\n");
    const char *at = strstr(g->at, "\"MODEL\""), *end = g->at + n;
    const char *of = model; /* what stands for "MODEL" */
    size_t size = strcspn(model, "\n");
    if (!strcmp(name, "vocab.json")) {
      of = strstr(model, "\"vocab\":") + 8;
      size = (size_t)(strstr(of, ",\"merges\"") - of);
    }
    if (!strcmp(name, "merges.txt")) {
      const JsonValue *list = json_get(&j, j.at, "merges");
      for (uint32_t i = 0; i < list->size; i++)
        bytes_print(out, e, "%s\n", json_text(&j, json_at(&j, list, i)));
    } else if (at && at < end) {
      bytes_add(out, g->at, (size_t)(at - g->at), e);
      bytes_add(out, of, size, e);
      bytes_add(out, at + 7, (size_t)(end - at - 7), e);
    } else
      bytes_add(out, g->at, n, e);
    snprintf(path, sizeof path, FOLDER "/%s", name);
    file_write(path, out->at, out->size, e);
    golden_skip(g);
  }
  json_free(&j);
}

/* Folders that name tokens in more than one place, from hf_keys.txt: each gives
 * the library's ids and its token in front, or is refused in a line that says
 * what to try. */
static void families__folders(Test *t) {
  static const char *const FILES_OF[] = {
    "tokenizer.json", "tokenizer_config.json", "vocab.json", "merges.txt",
    "special_tokens_map.json", "added_tokens.json"};
  Bytes file = {0};
  Golden g = {.path = "data/check/golden/hf_keys.txt", .line = 1};
  int told, number, front, taken = 0, refused = 0, texts = 0, models = 0;
  char name[32], verb[32], found[600], at[80];
  const char *model[8];
  char names[8][32];
  fact(t, !golden_read(g.path, &file, &told, &g.e), "%s", g.e.text);
  g.at = (const char *)file.at;
  if (no_binary(t) || t->wrong)
    return;
  scratch_open();
  for (golden_skip(&g);
       models < 8 && sscanf(g.at, "model %31s", names[models]) == 1; models++) {
    golden_skip(&g);
    model[models] = g.at;
    golden_skip(&g);
  }
  while (sscanf(g.at, "case %d %31s %31s %d", &number, name, verb, &front) ==
             4 &&
         !t->wrong) {
    Tokenizer k;
    Encoder c;
    Error e = {0};
    int i = 0;
    while (i < models - 1 && strcmp(names[i], name))
      i++;
    EACH (f, FILES_OF) {
      snprintf(found, sizeof found, FOLDER "/%s", FILES_OF[f]);
      remove(found);
    }
    golden_skip(&g);
    keys_write(t, &g, model[i], &e);
    snprintf(at, sizeof at, "folder %d", number);
    if (failed(t, at, e.status, &e))
      break;
    if (!strcmp(verb, "refused")) {
      sink_fails(t, "tokenizer " FOLDER " --force --out " X_TOK, 1, "expected");
      refused++;
      continue;
    }
    if (!tok_open(t, FOLDER, &k, &c))
      break;
    const int begins = k.published->begins ? k.bos : -1;
    fact(t, begins == front, "%s: %d in front, expected %d", at, begins, front);
    for (; !strncmp(g.at, "text ", 5); golden_skip(&g), texts++)
      words_compare(t, at, g.at + 5, &c);
    taken++;
    other_close(&k, &c);
  }
  fact(t, taken + refused == told && taken > 50 && texts == 3 * taken,
       "%d, %d, %d of %d folders", taken, refused, texts, told);
  note(t, "%d folders, %d texts, %d refused", taken, texts, refused);
  bytes_free(&file);
}

/* A file beside tokenizer.json, and the ids of a text; or without one, what the
 * message says behind "expected the added token". */
#define DECODER(id, content, more) \
  "{`added_tokens_decoder`: {`" id "`: {`content`: `" content "`, " more "}}}"
#define BY_CONFIG DOWNLOAD "/tokenizer_config.json"
#define BY_MAP DOWNLOAD "/special_tokens_map.json"
#define BY_LIST DOWNLOAD "/added_tokens.json"
static const struct FolderToken {
  const char *path, *json, *text, *ids;
} FOLDER_TOKENS[] = {
  {BY_LIST, "{}", "he<a>", "256 60 97 62 "},
  {BY_LIST, "{`<|endoftext|>`: 258}", "he<|endoftext|>", "256 258 "},
  {BY_LIST, "{`<a>`: 259}", "he<a>", "256 259 "},
  {BY_LIST, "{`<a>`: 260, `<b>`: 259}", "he<a> <b>", "256 260 32 259 "},
  {BY_LIST, "{`he`: 256}", " he", "32 256 "},
  {BY_CONFIG, DECODER("258", "<|endoftext|>", "`rstrip`: true, " RAW),
   "<|endoftext|>  he", "258 256 "},
  {BY_CONFIG, DECODER("259", "<a>", RAW), "<a>he", "259 256 "},
  {BY_CONFIG, "{`pad_token`: `<a>`, `extra_special_tokens`: [`<b>`]}",
   "<b><a>", "260 259 "},
  {BY_MAP, "{`additional_special_tokens`: [`<a>`], `bos_token`: `<b>`}",
   "<b><a>", "259 260 "},
  {BY_LIST, "{`<a>`: 261}", NULL,
   "`<a>` with id 259, the next free one, found 261. Try: 259 in"},
  {BY_LIST, "{`<a>`: 258}", NULL,
   "`<a>` with id 259, the next free one, found 258. Try: 259 in"},
  {BY_LIST, "{`<|endoftext|>`: 9}", NULL,
   "`<|endoftext|>` with id 258, the vocabulary's, found 9. T"},
  {BY_LIST, "{`<a>`: true}", NULL,
   "`<a>` with its id, found no number. Try: hf eval"},
  {BY_CONFIG, DECODER("9999", "<a>", RAW), NULL,
   "`<a>` with id 259, the next free one, found 9999"},
  {BY_CONFIG, DECODER("7", "he", RAW), NULL,
   "`he` with id 256, the vocabulary's, found 7. Try: 256"},
  {BY_CONFIG, DECODER("258", "<|endoftext|>", "`normalized`: true"), NULL,
   "`<|endoftext|>` with normalized false, as where it was added before, "
   "found true. Try: false"},
  {BY_CONFIG, DECODER("259", "<a>", "`single_word`: true"), NULL,
   "`<a>` without single_word, found"},
  {BY_CONFIG, DECODER("259", "<a>", "`normalized`: true, `lstrip`: true"), NULL,
   "`<a>` with lstrip or rstrip not to be normalized, found that it is"}};

static void folder_token_holds(Test *t, const struct FolderToken *x) {
  char said[200], found[100];
  Tokenizer k;
  Encoder c;
  text_file(t, x->path, x->json);
  if (x->text && tok_open(t, DOWNLOAD, &k, &c)) {
    ids_text(&c, x->text, strlen(x->text), found, sizeof found);
    fact(t, !strcmp(found, x->ids), "%s: %s, not %s", x->json, found, x->ids);
    other_close(&k, &c);
  } else if (!x->text) {
    snprintf(said, sizeof said, "%s: expected the added token %s", x->path,
             x->ids);
    unticked(said, strlen(said));
    sink_fails(t, "tokenizer " DOWNLOAD " --force --out " X_TOK, 1, said);
  }
  remove(x->path);
}

/* Tokens beside tokenizer.json, or beside vocab.json and merges.txt: those that
 * agree with it or are the next ones are added; each other is refused by its
 * name, its file and both values. */
static void families__folder_tokens(Test *t) {
  char found[100];
  Tokenizer k;
  Encoder c;
  Bytes *b = bytes_of(t);
  Error e = {0};
  if (!begun(t))
    return;
  parts_write(t, DOWNLOAD "/tokenizer.json", &JSON_PLAIN);
  EACH (i, FOLDER_TOKENS)
    folder_token_holds(t, &FOLDER_TOKENS[i]);
  remove(DOWNLOAD "/tokenizer.json");
  letters_json(b, "`he`: 256, `\\u0120he`: 257, `<|endoftext|>`: 258", &e);
  bytes_add(b, "", 1, &e);
  text_file(t, DOWNLOAD "/vocab.json", (const char *)b->at);
  text_file(t, DOWNLOAD "/merges.txt", "h e\n\xC4\xA0 he\n");
  text_file(t, DOWNLOAD "/added_tokens.json",
            "{`<a>`: 259, `<|endoftext|>`: 258}");
  if (tok_open(t, DOWNLOAD, &k, &c)) {
    ids_text(&c, "he<a>", 5, found, sizeof found);
    fact(t, !strcmp(found, "256 259 "), "vocab.json: %s", found);
  }
  other_close(&k, &c);
}

/* --first-tokens text counts on where a float stands still, and a checkpoint
 * keeps the counts. */
static void first_open__counts(Test *t) {
  static const char AT[] = SCRATCH "/m.ckpt";
  enum { IDS_ALL = (1 << 24) + 3 };
  Source s = {.first_tokens = "text"};
  Error e = {0};
  Trainer r = {0};
  Data d = {.vocab = 11,
            .bos = 1,
            .fix = 2,
            .train = {grab(IDS_ALL, 4, &e), IDS_ALL, 0}};
  for (size_t i = 0; !e.status && i < IDS_ALL; i++)
    d.train.at[i] = 3;
  fact(t, !e.status && !first_open(&d, &s, 1, &e) && d.first[3] == IDS_ALL,
       "%s", e.text);
  if (begun(t) && model_file(t, "--first-tokens text", 0))
    checkpoint_load(AT, false, &r, &e);
  r.s.data.first_counts = d.first;
  if (r.m.count && !parameters_write(AT, &r, &e))
    trainer_free(&r);
  fact(t, !checkpoint_load(AT, false, &r, &e) && r.first[3] == IDS_ALL,
       "kept: %s", e.text);
  trainer_free(&r);
  free(d.first);
  free(d.train.at);
}

/* MXFP4's sixteen numbers, by its table, under five scales; 255 is no
 * number, and two are too large for some. Every one is a BF16 of its own,
 * the least too. */
static void unpack__by_hand(Test *t) {
  static const double TABLE[16] = {
    0, 0.5, 1, 1.5, 2, 3, 4, 6, 0, -0.5, -1, -1.5, -2, -3, -4, -6};
  static const int SCALES[] = {0, 100, 127, 130, 252};
  unsigned char raw[16], to[64], scale[1];
  for (int i = 0; i < 16; i++)
    raw[i] = (unsigned char)((2 * i) % 16 | (2 * i + 1) % 16 << 4);
  EACH (k, SCALES) {
    real got[32];
    scale[0] = (unsigned char)SCALES[k];
    unpack(32, to, raw, scale);
    widen(DTYPE_BF16, 32, got, to);
    for (int i = 0; i < 32; i++)
      fact(t, (double)got[i] == ldexp(TABLE[i % 16], SCALES[k] - 127),
           "code %d, scale %d: %g", i % 16, SCALES[k], (double)got[i]);
  }
  for (scale[0] = 253; scale[0]; scale[0]++) {
    unpack(32, to, raw, scale);
    fact(t, !all_finite(DTYPE_BF16, to, 64), "scale %d is finite", scale[0]);
  }
}

#define ONLY(x) {.rank = 2, .rows = 1, .cols = 1, .w = &x}

/* One expert of gpt-oss's with W_1 = W_2 = W_3 = 1:
 *
 *   h -> (1 + cut f2) f / (1 + e^(-s f)) + b3
 *   f = cut f1, f1 = h + b1, f2 = h + b2
 *
 * NaN stays. The kept of a router share 1. */
static void cut_ffn_forward__by_hand(Test *t) {
  static const double H[] = {0, 0.3, -0.4, 1.9, 5, -5, NAN};
  enum { KINDS = sizeof H / sizeof *H, ROWS = 43 * KINDS /* above CHUNK */ };
  real one = 1, b1 = (real)0.25, b2 = (real)-0.5, b3 = 2;
  real x[ROWS], y[ROWS], f1[ROWS], f2[ROWS];
  Layer w = {.w1 = ONLY(one),
             .w2 = ONLY(one),
             .w3 = ONLY(one),
             .b1 = ONLY(b1),
             .b2 = ONLY(b2),
             .b3 = ONLY(b3)};
  w.w1.bias = &w.b1;
  w.w2.bias = &w.b2;
  w.w3.bias = &w.b3;
  LayerActs la = {.f1 = f1, .f2 = f2, .fa = f1};
  for (int slope = 0; slope < 2; slope++) {
    const Config c = {.dim = 1,
                      .ffn = 1,
                      .expert_limit = 2,
                      .expert_slope = slope ? 0.5 : 0};
    for (int i = 0; i < ROWS; i++)
      x[i] = (real)H[i % KINDS];
    cut_ffn_forward(&c, &w, &la, y, x, ROWS);
    for (int i = 0; i < ROWS; i++) {
      const double h = H[i % KINDS], f = fmin(2, h + 0.25);
      const double up = fmax(-2, fmin(2, h - 0.5)), s = slope ? 0.5 : 1.702;
      const double want = 2 + (1 + up) * f / (1 + exp(-s * f));
      if (isnan(h))
        fact(t, isnan(y[i]), "NaN became %g", (double)y[i]);
      else
        within(t, (double)y[i], want, 8 * REAL_EPS * (1 + fabs(want)), "of %g",
               h);
    }
  }
  real gate[4] = {1, 3, 2, 3}, plain[4] = {1, 3, 2, 3};
  router_row(4, 2, true, gate);
  router_row(4, 2, false, plain);
  fact(t, gate[0] == 0 && gate[2] == 0 && gate[1] == gate[3],
       "what is not kept, and equals");
  within(t, (double)gate[1], 0.5, REAL_EPS, "shared");
  within(t, (double)plain[1], exp(3) / (exp(1) + 2 * exp(3) + exp(2)),
         4 * REAL_EPS, "not shared");
}
