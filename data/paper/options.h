/* Rows of OPTIONS and BELONGS (sink.c, 16.1) that only the companions have:
 * what later papers and published models change in a model; the page of a
 * model, tables of several, ablations; Jamba's layers, which run forward only.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef OWN_SETTINGS
#define OWN_SETTINGS            /* of one program */
#endif
#define MORE_SETTINGS \
  int ablate, isolate, isolate_blocks, probe; \
  int replace_position, swap_position;           /* t of Table 7, 0: p_1 stays */ \
  int inputs, how_many, top_k;                   /* eval; generate */ \
  double temperature, top_p; \
  char prompt[PATH_ROOM], domains[PATH_ROOM], lengths[PATH_ROOM]; \
  int signs, quantize, sinks, cache_size;        /* signs.c */ \
  char cache[16], positions[8]; \
  OWN_SETTINGS

#define PAPER_CHOICES \
  CHOICE(TOY, TOY_NONE, TOY_TRIGGER, TOY_BACKCOPY); \
  CHOICE(ABLATE, ABLATE_NONE, ABLATE_KEY1, ABLATE_VALUE1, ABLATE_VALUE1_MEAN, \
         ABLATE_KSTAR);

/* The sink as a training saw it at one step. */
typedef struct Look {
  long step;
  double loss, norm;            /* the mean since the look before; the gradient's */
  double alpha1, alpha_star;    /* of token 1 and of the column * (or x*): alpha, Sink, in 0..1 */
  double sink1, sink_star;
  double ratio, held;           /* of norms; the loss on held documents, 0: not asked for */
} Look;
enum { LOOKS = 1024 };
/* of Progress; holds: the held loss is looked at too */
#define MORE_PROGRESS \
  bool holds; \
  int looks; \
  Look look[LOOKS];

#define LATER_OPTIONS \
  REAL("soft-cap", MODEL, model.soft_cap, "none", 1e-30, 1e30, \
       "scores are capped at X"), \
  AXIS("score-scale", MODEL, model.gain, GAIN, \
         "scores are multiplied by c_h log(n)"), \
  AXIS("score-bias", MODEL, model.shift, SHIFT, "added to the scores"), \
  REAL("clip-low", MODEL, model.clip_low, "0", -1e6, 0, \
       "G: weights a become (X - G) a + G, cut [0]"), \
  REAL("clip-high", MODEL, model.clip_high, "1", 1, 1e6, "X: at 0 and 1"), \
  REAL("extra-logit", MODEL, model.extra_logit, "none", -1e6, 1e6, \
       "stays at X; none: learned"), \
  AXIS("gate", MODEL, model.gate, GATE, "of a head's output or values"), \
  SWITCH("qk-norm", MODEL, model.qk_norm, "RMSNorm of q and k in a head"), \
  SWITCH("qk-whole", MODEL, model.qk_whole, \
         "over all heads of a row (OLMo 2)"), \
  SWITCH("head-norm", MODEL, model.head_norm, "RMSNorm of a head's output"), \
  SWITCH("v-scale", MODEL, model.v_scale, "one learned factor a head"), \
  SWITCH("xsa", MODEL, model.xsa, "output without its own value's part"), \
  WHOLE("sparse-top", MODEL, model.sparse_top, "0", 1, 1e6, \
        "a row attends to N keys, or blocks of them"), \
  WHOLE("sparse-block", MODEL, model.sparse_block, "0", 1, 1e6, \
        "keys of a block; its own is always one [0]"), \
  SWITCH("sparse-first", MODEL, model.sparse_first, \
         "the first block is always one"), \
  SWITCH("behind-only", MODEL, model.behind_only, \
         "a sandwich without norms 1, 2 (OLMo 2)"), \
  AXIS("toy", TRAIN, data.toy, TOY, "a known mechanism; ./paper has both"),

#ifdef MODELS_H                  /* ./hf: data/models/models.h */
#define PUBLISHED_OPTIONS \
  REAL("score-divisor", MODEL, model.score_divisor, "0", 1e-6, 1e12, \
       "scores are divided by its root [D]"), \
  WHOLE("embed-dim", MODEL, model.embed_dim, "0", 1, 1e6, \
        "width of the embedding; default: dim"), \
  AXIS("rope-scaling", MODEL, model.rope_scaling, ROPE, \
         "stretched angles"), \
  REAL("rope-factor", MODEL, model.rope_factor, "8", 1, 1e6, \
       "by how much"), \
  REAL("rope-low", MODEL, model.rope_low, "1", 0, 1e6, \
       "turns below which it is whole"), \
  REAL("rope-high", MODEL, model.rope_high, "4", 0, 1e6, \
       "turns above which it is kept"), \
  WHOLE("rope-original", MODEL, model.rope_original, "8192", 1, 1.6e7, \
        "the context before"), \
  REAL("rope-local", MODEL, model.rope_local, "0", 1, 1e12, \
       "--rope-base where the window is"), \
  AXIS("bias-in", MODEL, model.bias_in, BIAS, "with --linear-bias"), \
  SWITCH("score-by-layer", MODEL, model.score_by_layer, \
         "scores of block l are divided by l + 1"), \
  WHOLE("window-period", MODEL, model.window_period, "0", 1, 1024, \
        "where l mod N = offset [all]"), \
  WHOLE("window-offset", MODEL, model.window_offset, "0", 0, 1024, \
        "see --window-period"), \
  SWITCH("window-others", MODEL, model.window_others, \
         "all layers but these have it"), \
  REAL("embed-scale", MODEL, model.embed_scale, "0", 1e-6, 1e6, \
       "the embedding times X"), \
  REAL("logit-cap", MODEL, model.logit_cap, "0", 1e-6, 1e30, \
       "logits are capped at X"),

#define JAMBA_OPTIONS \
  WHOLE("attention-period", MODEL, model.attention_period, "0", 1, 1024, \
        "where l mod N = offset"), \
  WHOLE("attention-offset", MODEL, model.attention_offset, "0", 0, 1024, \
        "see --attention-period"), \
  WHOLE("mamba-inner", MODEL, model.mamba_inner, "0", 1, 1e6, \
        "channels; default: 2 dim"), \
  WHOLE("mamba-state", MODEL, model.mamba_state, "0", 1, 4096, \
        "states; default: 16"), \
  WHOLE("mamba-conv", MODEL, model.mamba_conv, "0", 1, 4096, \
        "taps; default: 4"), \
  WHOLE("mamba-rank", MODEL, model.mamba_rank, "0", 1, 1e6, \
        "of the step; default: dim / 16"), \
  WHOLE("experts", MODEL, model.experts, "0", 1, 256, \
        "feed-forwards; default: one"), \
  WHOLE("expert-top", MODEL, model.expert_top, "0", 1, 256, \
        "how many of them a row takes [2]"), \
  WHOLE("expert-period", MODEL, model.expert_period, "0", 1, 1024, \
        "where l mod N = offset [all]"), \
  WHOLE("expert-offset", MODEL, model.expert_offset, "0", 0, 1024, \
        "see --expert-period"), \
  REAL("expert-limit", MODEL, model.expert_limit, "0", 1e-6, 1e6, \
       "gpt-oss's, cut at X [Jamba's]"), \
  REAL("expert-slope", MODEL, model.expert_slope, "0", 1e-6, 1e6, \
       "of their sigmoid [1.702]"),

#else
#define PUBLISHED_OPTIONS
#define JAMBA_OPTIONS
#endif

/* What stands around a word with spaces for the shell, and one inside. */
#ifdef _WIN32
#define QUOTE "\""
#define QUOTED "\\\""
#else
#define QUOTE "'"
#define QUOTED "'\\''"
#endif

#define MEASURE_OPTIONS \
  SWITCH("resume", RUN | ALONE, resume, \
         "continue --out FILE to the same bits, or start it"), \
  STRING("csv", TABLES, csv, "FILE", \
         "the results as CSV; - is standard output"), \
  STRING("json", TABLES, json, "FILE", "the results as JSON; or -"), \
  STRING("report", RUN | ALONE | EVAL, report, "FILE", \
         "curves, maps and norms [train: OUT.html]"), \
  WHOLE("n", ALONE, eval_n, "100", 1, 1e6, "sequences it is measured on"), \
  NAME("start", ALONE, start, "", \
       "a model to train further, from step 0 (Figure 30)"), \
  WHOLE("replace-position", EVAL, replace_position, "0", 2, 1.6e7, \
        "p_1 becomes p_N (Table 7)"), \
  WHOLE("swap-position", EVAL, swap_position, "0", 2, 1.6e7, \
        "p_1 and p_N swap places"), \
  SWITCH("inputs", EVAL, inputs, \
         "natural, random, repeat, a line each (Table 1)"), \
  NAME("domains", EVAL, domains, "", \
       "a folder: a line for each text in it (Figure 9)"), \
  STRING("lengths", EVAL, lengths, "16,64", "a line for each T (Figure 3)"), \
  AXIS("ablate", EVAL, ablate, ABLATE, "the loss without it, and a control"), \
  WHOLE("isolate", EVAL, isolate, "0", 1, 1.6e7, \
        "row N sees only itself: is it a sink?"), \
  WHOLE("isolate-blocks", EVAL, isolate_blocks, "2", 1, 1024, \
        "in the first N blocks"), \
  WHOLE("seed", EVAL, train.seed, "0", 0, INT32_MAX, \
        "--ablate, --isolate, --probe draw by it [MODEL's]"), \
  SWITCH("probe", EVAL, probe, \
         "which block knows row 1: its norm, a linear probe"), \
  SWITCH("signs", EVAL, signs, \
         "row mass, entropy, dead heads, kurtosis, .., by block"), \
  WHOLE("quantize", EVAL, quantize, "0", 2, 24, \
        "the loss with N bits a number"), \
  STRING("cache", STREAM, cache, "dense|window|sink+window|recompute", \
         "a policy [all]"), \
  WHOLE("cache-size", STREAM, cache_size, "0", 1, 1.6e7, \
        "keys a row sees [the context]"), \
  WHOLE("sinks", STREAM, sinks, "4", 1, 1.6e7, \
        "the first of them, which stay"), \
  {"positions", STREAM, 's', AT(positions), "cache", 0, 8, "cache|text", \
   "what numbers the keys"}, \
  WHOLE("n", STREAM, how_many, "0", 2, 1.6e7, "tokens of the text [4096]"),

/* Text without end, text as ids, and other first tokens (data/text). */
#define TEXT_OPTIONS \
  WHOLE("vocab", TOKENIZE, model.vocab, "0", 259, 262144, \
        "size for tokenize train [2048]"), \
  NAME("grammar", DATA | TOKENIZE | GENERATE, data.grammar, "", \
       "a grammar, expanded endlessly"), \
  NAME("tokens", DATA, data.tokens, "", \
       "ids as of llm.c, nanoGPT or NumPy; folder; -"), \
  WHOLE("end-token", DATA, data.end_token, "50256", 0, 1.6e7, \
        "ends a document of --tokens"), \
  STRING("first-tokens", DATA | GENERATE, data.first_tokens, "N", \
         "or one of N|text|other|natural, N[^X][:SET] (Table 10)"),

#define DRAW_OPTIONS \
  STRING("prompt", GENERATE, prompt, "TEXT", \
         "how the text begins: at most 511 bytes"), \
  WHOLE("seed", GENERATE, train.seed, "0", 0, INT32_MAX, \
        "of random numbers"), \
  WHOLE("n", GENERATE, how_many, "0", 1, 1.6e7, "tokens [100], of a grammar documents [1]"), \
  REAL("temperature", GENERATE, temperature, "0.8", 0, 100, \
       "0 takes the likeliest"), \
  WHOLE("top-k", GENERATE, top_k, "0", 1, 1.6e7, \
        "draw among the N likeliest [all]"), \
  REAL("top-p", GENERATE, top_p, "1", 0, 1, \
       "then among the fewest likeliest that hold X"),

#ifndef OWN_OPTIONS
#define OWN_OPTIONS             /* of one program */
#endif
#ifndef MORE_OPTIONS
#define MORE_OPTIONS \
  LATER_OPTIONS PUBLISHED_OPTIONS JAMBA_OPTIONS MEASURE_OPTIONS TEXT_OPTIONS \
  DRAW_OPTIONS \
  OWN_OPTIONS
#endif

/* When they act (option_idle: m is the model's Config). */
#ifdef MODELS_H
#define PUBLISHED_BELONGS \
  {"rope-scaling rope-local", "with --pos rotary", rotary}, \
  {"rope-factor", "with --rope-scaling", m->rope_scaling}, \
  {"rope-low rope-high", "with --rope-scaling llama3|yarn", \
   m->rope_scaling == ROPE_LLAMA3 || m->rope_scaling == ROPE_YARN}, \
  {"rope-original", "with --rope-scaling llama3|yarn|longrope", \
   m->rope_scaling > ROPE_LINEAR}, \
  {"bias-in", "with --linear-bias", m->linear_bias}, \
  {"window-period rope-local", "with --window", m->window}, \
  {"window-offset window-others", "with --window-period", m->window_period}, \
  {"expert-slope", "with --expert-limit", m->expert_limit > 0}, \
  {"expert-top expert-period expert-limit", "with --experts", m->experts}, \
  {"expert-offset", "with --expert-period", m->expert_period}, \
  {"attention-offset mamba-inner mamba-state mamba-conv mamba-rank", \
   "with --attention-period", m->attention_period},
#else
#define PUBLISHED_BELONGS
#endif
#define MORE_BELONGS \
  PUBLISHED_BELONGS \
  {"extra-logit", "with --extra logit", m->extra == EXTRA_LOGIT}, \
  {"init", "without --start", !s->start[0]}, \
  {"qk-whole", "with --qk-norm", m->qk_norm}, \
  {"sim kernel normalizer scale extra", \
   "with train, as film has its own rows", strcmp(s->verb, "film")}, \
  {"save-every", "with train or run, as film keeps no checkpoint", \
   strcmp(s->verb, "film")}, \
  {"norm-eps", "with --qk-norm or --head-norm, or without --norm dyt", \
   m->norm != NORM_DYT || m->qk_norm || m->head_norm}, \
  {"fix-token", "at 1, the start of the text", \
   strcmp(s->verb, "generate") || s->data.fix_token <= 1}, \
  {"behind-only", "with --place sandwich", m->place == PLACE_SANDWICH}, \
  {"isolate-blocks", "with --isolate", s->isolate}, \
  {"positions", "with --cache", s->cache[0]}, \
  {"replace-position swap-position", "without --signs, --isolate and --probe", \
   !s->signs && !s->isolate && !s->probe}, \
  {"text grammar tokens ids", "without --domains", !s->domains[0]}, \
  {"grammar tokens end-token first-tokens", "without --ids", !s->ids[0]}, \
  {"input", "without --inputs", !s->inputs}, \
  {"tokenizer", "with tokenize encode or decode", \
   strcmp(s->verb, "tokenize") || !s->out[0]}, \
  {"bos", "with tokenize encode", \
   strcmp(s->verb, "tokenize") || !s->out[0]}, \
  {"T", "without --lengths", !s->lengths[0]}, \
  {"top-k top-p", "with --temperature", s->temperature > 0}, \
  {"end-token", "with --tokens", s->data.tokens[0]}, \
  {"tokenizer", "without --tokens", !s->data.tokens[0]}, \
  {"valid", "without --grammar", !s->data.grammar[0]}, \
  {"valid tokenizer", "without --toy", !s->data.toy}, \
  {"prompt temperature top-k top-p bos fix-token first-tokens tokenizer plain", \
   "without --grammar", strcmp(s->verb, "generate") || !s->data.grammar[0]}, \
  {"seed", "with --ablate, --isolate or --probe", \
   strcmp(s->verb, "eval") || s->isolate || s->probe || s->ablate},
