/* test_hf.c - the tests of hf.c: published checkpoints. They run beside ./sink
 * and ./hf:
 *
 *     cc -O2 data/check/test_hf.c -o test_hf -lm && ./test_hf
 *
 * SPDX-License-Identifier: MIT */
#define HF_NO_MAIN
#include "../models/hf.c"
#define PROGRAM FROM_HERE "hf"
#define TOKENIZER_READ words_read
#include "../../test_sink.c"
#include "programs.c"
#include "ablated.c"
#include "rows.c"

/* -----------------------------------------------------------------------------
 * 1  Published files in the small, written here */

/* Did that fail? Then the test says of what, and why. */
static bool failed(Test *t, const char *of, int status, const Error *e) {
  fact(t, !status, "%s: %s", of, e->text);
  return status;
}

/* No call has failed so far. */
static void no_error(Test *t, const Error *e) {
  fact(t, !e->status, "%s", e->text);
}

/* Is there a program to run? Then SCRATCH is empty. */
static bool begun(Test *t) {
  if (no_binary(t))
    return false;
  scratch_open();
  return true;
}

/* It ends well, says where the result is, and on stderr what it left out,
 * or nothing. */
static bool hf_does(Test *t, const char *words) {
  Ran r = sink(words);
  const char *err = (const char *)r.err.at;
  const bool quiet = !*err || (!strncmp(err, "hf: left out: ", 14) &&
                               strchr(err, '\n')[1] == 0);
  const bool good = r.status == 0 && quiet &&
                    strstr((const char *)r.out.at, "out=");
  fact(t, good, "hf %s: exit status %d, %s", words, r.status, err);
  ran_free(&r);
  return good;
}

/* What `sink check` says of a model file; its last line, and how many lines
 * were measured. */
static int checked(Test *t, const char *path, char last[120], int *lines) {
  Error e = {0};
  FILE *page = printing();
  int status = check_model(path, page, &e);
  char *line = strtok(printed(t, page), "\n");
  *lines = 0;
  last[0] = 0;
  for (; line; line = strtok(NULL, "\n")) {
    fact(t, strlen(line) <= 100, "%zu columns: %.60s", strlen(line), line);
    if (strstr(line, "WRONG") && !strstr(line, " 0 WRONG"))
      note(t, "%s: %s", path, line);
    if (line[0] == ' ')
      ++*lines;
    else
      snprintf(last, 120, "%.119s", line);
  }
  return status;
}

#define DOWNLOAD SCRATCH "/from"
#define IMPORT DOWNLOAD " --force --out " SCRATCH "/x.model"

/* In texts that are written a ` stands for a quotation mark. */
static void unticked(char *at, size_t n) {
  for (size_t i = 0; i < n; i++)
    if (at[i] == '`')
      at[i] = '"';
}

/* Writes b to a file, and frees it. */
static void bytes_file(Test *t, const char *path, Bytes *b) {
  Error e = {0};
  fact(t, !file_write(path, b->at, b->size, &e), "%s", e.text);
  bytes_free(b);
}

/* Writes a text, unticked. */
static void text_file(Test *t, const char *path, const char *text) {
  Bytes b = {0};
  Error e = {0};
  bytes_add(&b, text, strlen(text), &e);
  unticked((char *)b.at, b.size);
  bytes_file(t, path, &b);
}

/* Tensors of small published models, in shapes by number: C 12, 2 heads, F 20,
 * V 11, 16 positions, 2 blocks; an own account of where each number goes. A row
 * is a family, in the order of NAMES_OF: what its blocks are called, and of
 * each tensor its name, its shape, how it lies (published_at) and what it is
 * here. @ stands for every block, 1@ for block 1. A name goes on with .weight;
 * with + there is a .bias too, with ! it is whole. Of three in one (t, h) the
 * last letter is q, k or v. */
static const char *const TENSORS_OF[] = {
  "h.: wte 11,12 = wte; wpe 16,12 = wpe; @ln_1+ 12 = norm1 norm1.b; "
  "@attn.c_attn+ 12,36 t w b; @attn.c_proj+ 12,12 = wo bo; "
  "@ln_2+ 12 = norm2 norm2.b; @mlp.c_fc+ 12,20 = w1 b1; "
  "@mlp.c_proj+ 20,12 = w2 b2; ln_f+ 12 = normf normf.b;",
  "gpt_neox.layers.: gpt_neox.embed_in 11,12 = wte; "
  "@input_layernorm+ 12 = norm1 norm1.b; "
  "@post_attention_layernorm+ 12 = norm2 norm2.b; "
  "@attention.query_key_value+ 36,12 h w b; @attention.dense+ 12,12 T wo bo; "
  "@mlp.dense_h_to_4h+ 20,12 T w1 b1; @mlp.dense_4h_to_h+ 12,20 T w2 b2; "
  "gpt_neox.final_layer_norm+ 12 = normf normf.b; embed_out 11,12 T wcls;",
  "decoder.layers.: decoder.embed_tokens 11,8 = wte; "
  "decoder.embed_positions 18,12 2 wpe; decoder.project_in 12,8 T win; "
  "decoder.project_out 8,12 T wout; @self_attn.q_proj+ 12,12 T wq bq; "
  "@self_attn.k_proj+ 12,12 T wk bk; @self_attn.v_proj+ 12,12 T wv bv; "
  "@self_attn.out_proj+ 12,12 T wo bo; "
  "@self_attn_layer_norm+ 12 = norm1 norm1.b; @fc1+ 20,12 T w1 b1; "
  "@fc2+ 12,20 T w2 b2; @final_layer_norm+ 12 = norm2 norm2.b;",
  "model.layers.: model.embed_tokens 11,12 = wte; "
  "0@self_attn.q_proj 12,12 T wq; 0@self_attn.k_proj 6,12 T wk; "
  "0@self_attn.v_proj 6,12 T wv; 0@self_attn.o_proj 12,12 T wo; "
  "0@feed_forward.gate_proj 20,12 T w1; 0@feed_forward.up_proj 20,12 T w2; "
  "0@feed_forward.down_proj 12,20 T w3; 1@mamba.in_proj 48,12 T m.in; "
  "1@mamba.conv1d+ 24,1,3 T m.conv m.conv.b; 1@mamba.x_proj 13,24 T m.x; "
  "1@mamba.dt_proj+ 24,5 T m.dt m.dt.b; 1@mamba.A_log! 24,4 T m.alog; "
  "1@mamba.D! 24 = m.skip; 1@mamba.out_proj 12,24 T m.out; "
  "1@mamba.dt_layernorm 5 = m.rnorm; 1@mamba.b_layernorm 4 = m.bnorm; "
  "1@mamba.c_layernorm 4 = m.cnorm; 1@feed_forward.router 3,12 T router; "
  "1@feed_forward.experts.0.gate_proj 20,12 T e0.w1; "
  "1@feed_forward.experts.0.up_proj 20,12 T e0.w2; "
  "1@feed_forward.experts.0.down_proj 12,20 T e0.w3; "
  "1@feed_forward.experts.1.gate_proj 20,12 T e1.w1; "
  "1@feed_forward.experts.1.up_proj 20,12 T e1.w2; "
  "1@feed_forward.experts.1.down_proj 12,20 T e1.w3; "
  "1@feed_forward.experts.2.gate_proj 20,12 T e2.w1; "
  "1@feed_forward.experts.2.up_proj 20,12 T e2.w2; "
  "1@feed_forward.experts.2.down_proj 12,20 T e2.w3; "
  "@input_layernorm 12 = norm1; @pre_ff_layernorm 12 = norm2; "
  "model.final_layernorm 12 = normf; lm_head 11,12 T wcls;",
  "model.layers.: model.embed_tokens 11,12 = wte; "
  "@input_layernorm 12 = norm1; @self_attn.q_proj 12,12 T wq; "
  "@self_attn.k_proj 6,12 T wk; @self_attn.v_proj 6,12 T wv; "
  "@self_attn.o_proj 12,12 T wo; @post_attention_layernorm 12 = norm2; "
  "@mlp.gate_proj 20,12 T w1; @mlp.up_proj 20,12 T w2; "
  "@mlp.down_proj 12,20 T w3; model.norm 12 = normf; lm_head 11,12 T wcls;"};

#define LLAMA_SHAPE \
  "`hidden_size`: 12, `num_attention_heads`: 2, `num_key_value_heads`: 1, " \
  "`num_hidden_layers`: 2, `intermediate_size`: 20, " \
  "`max_position_embeddings`: 16, `vocab_size`: 11"
enum { FAMILIES_OF = 6 };
static const char *const NAMES_OF[FAMILIES_OF] = {
  "gpt2", "gpt_neox", "opt", "jamba", "llama", "mistral"};
static const char *const CONFIGS_OF[FAMILIES_OF] = {
  "{`model_type`: `gpt2`, `n_embd`: 12, `n_head`: 2, `n_layer`: 2, `n_inner`: "
  "20, `n_positions`: 16, `vocab_size`: 11}",
  "{`architectures`: [`GPTNeoXForCausalLM`], `hidden_size`: 12, `vocab_size`: "
  "11, `num_attention_heads`: 2, `num_hidden_layers`: 2, `intermediate_size`: "
  "20.0, `max_position_embeddings`: 1.6e1, `rotary_pct`: 0.4}",
  "{`model_type`: `opt`, `hidden_size`: 12, `num_attention_heads`: 2, "
  "`ffn_dim`: 20, `num_hidden_layers`: 2, `max_position_embeddings`: 16, "
  "`vocab_size`: 11, `word_embed_proj_dim`: 8, `do_layer_norm_before`: false}",
  "{`model_type`: `jamba`, " LLAMA_SHAPE
  ", `attn_layer_period`: 2, `attn_layer_offset`: 0, `mamba_d_state`: 4, "
  "`mamba_d_conv`: 3, `mamba_dt_rank`: 5, `num_experts`: 3, "
  "`expert_layer_period`: 2, `expert_layer_offset`: 1}",
  "{`model_type`: `llama`, " LLAMA_SHAPE "}",
  "{`model_type`: `mistral`, " LLAMA_SHAPE "}"};

/* Number i of a tensor of this name: sixteenths from -8 to 8, which every
 * format holds. */
static double published(const char *name, idx i) {
  uint64_t h = hash_add(hash_add(HASH_START ^ 1, name, strlen(name)), &i,
                        sizeof i);
  return ((double)(hash_end(h) % 255) - 127) / 16;
}

/* A family's number. */
static int family_of(const char *name) {
  int f = 0;
  while (strcmp(NAMES_OF[f], name))
    f++;
  return f;
}

/* A tensor of a published family: its name there and here, its shape there, and
 * how it lies. */
typedef struct Theirs { char name[128], ours[96], shape[16], how; } Theirs;

/* x becomes the bias beside it, which has a number for each output. */
static void bias_of(Theirs *x) {
  const char *last = strchr("Th", x->how) ? "" : strrchr(x->shape, ',');
  if (last && *last)
    memmove(x->shape, last + 1, strlen(last));
  x->shape[strcspn(x->shape, ",")] = 0;
  if (x->how == 'T')
    x->how = '=';
}

/* The n-th tensor of a family; false when it has no more. */
static bool tensor_of(const char *family, int n, Theirs *x) {
  const char *row = TENSORS_OF[family_of(family)], *at;
  const int blocks = (int)strcspn(row, ":");
  char name[96], here[2][32];
  int used = 0, words;
  for (at = row + blocks + 1; *at; at += used) {
    words = sscanf(at, " %95s %15s %c %31[^ ;] %31[^;]", name, x->shape,
                   &x->how, here[0], here[1]);
    used = (int)strcspn(at, ";") + 1;
    const char *of = strchr(name, '@');
    const bool every = of == name, both = words == 5;
    const bool whole = strchr(name, '!') != NULL;
    const int copies = (every ? 2 : 1) * (both ? 2 : 1);
    if (n >= copies) {
      n -= copies;
      continue;
    }
    const int bias = both ? n % 2 : 0;
    const int l = every ? n / (1 + both) : name[0] - '0';
    if (of)
      snprintf(x->name, sizeof x->name, "%.*s%d.%s", blocks, row, l, of + 1);
    else
      snprintf(x->name, sizeof x->name, "%s", name);
    char *end = x->name + strlen(x->name) - (both || whole);
    if (whole)
      *end = 0;
    else
      strcpy(end, bias ? ".bias" : ".weight");
    if (of)
      snprintf(x->ours, sizeof x->ours, "l%d.%s", l, here[bias]);
    else
      snprintf(x->ours, sizeof x->ours, "%s", here[bias]);
    if (bias)
      bias_of(x);
    return true;
  }
  return false;
}

/* How many numbers a shape "N,M" has. */
static idx shape_product(const char *shape) {
  idx n = atol(shape);
  for (const char *at = strchr(shape, ','); at; at = strchr(at + 1, ','))
    n *= atol(at + 1);
  return n;
}

/* Appends x as F32 (so I32), F16 or BF16, and of F64 as many bytes. */
static void number_as(Bytes *b, const char *dtype, double x, Error *e) {
  const uint32_t bits = bits_of((float)x);
  if (!strcmp(dtype, "F32") || !strcmp(dtype, "I32"))
    bytes_number(b, bits, 4, e);
  else if (!strcmp(dtype, "BF16"))
    bytes_number(b, bits >> 16, 2, e);
  else if (!strcmp(dtype, "F16")) {
    /* exponents from -4 to 2: no subnormals */
    uint32_t half = (bits >> 16 & 0x8000) | ((bits >> 23 & 0xFF) - 112) << 10 |
                    (bits >> 13 & 0x3FF);
    bytes_number(b, x == 0 ? 0 : half, 2, e);
  } else
    bytes_number(b, 0, 8, e);
}

/* The tensors of a family from number `from` on, every step-th, as a file:
 * without the one of a name, and with `more` in its header. */
static void published_write(Test *t, const char *path, const char *family,
                            const char *dtype, int from, int step,
                            const char *without, const char *more) {
  Bytes head = {0}, data = {0}, all = {0};
  Error e = {0};
  Theirs x;
  bytes_print(&head, &e, "{\"__metadata__\": {\"format\": \"pt\"}%s", more);
  for (int n = 0; tensor_of(family, n, &x); n++) {
    if (n % step != from || (without && !strcmp(without, x.name)))
      continue;
    size_t begin = data.size;
    for (idx k = 0; k < shape_product(x.shape); k++)
      number_as(&data, dtype, published(x.name, k), &e);
    bytes_print(&head, &e,
                ", \"%s\": {\"dtype\": \"%s\", \"shape\": [%s], "
                "\"data_offsets\": [%zu, %zu]}",
                x.name, dtype, x.shape, begin, data.size);
  }
  bytes_add(&head, "}", 1, &e);
  unticked((char *)head.at, head.size);
  bytes_number(&all, head.size, 8, &e);
  bytes_add(&all, head.at, head.size, &e);
  bytes_add(&all, data.at, data.size, &e);
  bytes_file(t, path, &all);
  bytes_free(&head);
  bytes_free(&data);
}

#define TINY "data/check/golden/hf_tiny.txt"
#define FOLDER SCRATCH "/tiny"
#define IMPORTED SCRATCH "/tiny.model"

/* Kinds of numbers, and the bounds of their errors: relative to 1 + the largest
 * of their line, the weights' as they are. */
enum { TINY_HIDDEN, TINY_ATTN, TINY_LOGITS, TINY_KINDS };
static double tiny_bound(int kind) {
  static const double FLOAT[] = {2e-5, 1e-5, 5e-5};
  /* 10 digits leave 5e-10 */
  return REAL_EPS < 1e-10 ? 1e-9 : FLOAT[kind];
}

/* Does the name end so? */
static bool ends(const char *name, const char *with) {
  return strlen(name) >= strlen(with) &&
         !strcmp(name + strlen(name) - strlen(with), with);
}

/* <way, x> of each of the rows x [T,n]. */
static void tiny_way(double *y, const real *x, int T, int n, uint64_t k,
                     const char *of) {
  char name[40];
  snprintf(name, sizeof name, "way.%s", of);
  for (int t = 0; t < T; t++) {
    Rng r = {hash64(k, name, strlen(name))};
    y[t] = 0;
    for (int i = 0; i < n; i++)
      y[t] += (2 * rng_uniform(&r) - 1) * (double)x[(idx)t * n + i];
  }
}

/* Mean cross-entropy of ids 2 .. T by logits [T,V]. */
static double tiny_loss(const real *logits, const int *ids, int T, int V) {
  double loss = 0;
  for (int t = 0; t + 1 < T; t++) {
    double sum = 0;
    for (int i = 0; i < V; i++)
      sum += exp((double)logits[(idx)t * V + i]);
    loss += (log(sum) - (double)logits[(idx)t * V + ids[t + 1]]) / (T - 1);
  }
  return loss;
}

/* A run of a case: the model, its activations and logits [T,V] for ids [T], and
 * the case's K. */
typedef struct TinyRun {
  const Model *m;
  const Acts *a;
  const int *ids;
  int T;
  const real *logits;
  uint64_t k;
} TinyRun;

/* What a line of a run is about: its words, and the kind of its numbers. */
enum {
  LINE_HIDDEN, LINE_WAY, LINE_ATTN, LINE_ALPHA, LINE_KEY, LINE_VALUE,
  LINE_LOGITS, LINE_LOGITWAY, LINE_LOSS, LINES_COUNT
};
static const struct {
  const char *word;
  int kind;
} LINE_OF[] = {
  {"hidden", TINY_HIDDEN}, {"way", TINY_HIDDEN}, {"attn", TINY_ATTN},
  {"alpha", TINY_ATTN}, {"key", TINY_HIDDEN}, {"value", TINY_HIDDEN},
  {"logits", TINY_LOGITS}, {"logitway", TINY_LOGITS}, {"loss", TINY_LOGITS}};

/* The head of a line: which of LINE_OF it is, a block and a head. */
typedef struct TinyLine { int of, l, h; } TinyLine;

/* Reads the head of the next line; false: there is none, or this model has no
 * such numbers. */
static bool tiny_head(Golden *g, const Config *c, TinyLine *x) {
  char what[16];
  int used = 0, of = 0;
  if (g->e.status ||
      sscanf(g->at, "%15[a-z] %d %d :%n", what, &x->l, &x->h, &used) != 3 ||
      !used)
    return false;
  while (of < LINES_COUNT && strcmp(LINE_OF[of].word, what))
    of++;
  const bool stream = of == LINE_HIDDEN || of == LINE_WAY;
  if (of == LINES_COUNT || x->l < 0 || x->l >= c->layers + stream ||
      x->h < 0 || x->h >= c->heads) {
    fail(&g->e, 1, TINY ":%d: no %s %d %d in this model", g->line, what, x->l,
         x->h);
    return false;
  }
  x->of = of;
  g->at += used;
  return true;
}

/* y [n] = x [n]; returns n. */
static int doubles(double *y, const real *x, int n) {
  for (int i = 0; i < n; i++)
    y[i] = (double)x[i];
  return n;
}

/* Our numbers of what a line is about; how many. */
static int tiny_ours(const TinyRun *r, const TinyLine *x, double *ours) {
  const Config *c = &r->m->c;
  const int T = r->T, S = config_columns(c, T), l = x->l, h = x->h;
  const LayerActs *la = &r->a->layer[l < c->layers ? l : 0];
  const real *stream = l < c->layers ? la->x : r->a->h;
  const idx last = T - 1, head = last * c->kv_heads + h;
  const idx map = (idx)h * T * S;
  char of[12];
  snprintf(of, sizeof of, "%d", l);
  switch (x->of) {
  case LINE_HIDDEN:
    return doubles(ours, stream + last * c->dim, c->dim);
  case LINE_WAY:
    tiny_way(ours, stream, T, c->dim, r->k, of);
    return T;
  case LINE_ATTN:
    return doubles(ours, r->a->probe[l].weight + map + last * S, S);
  case LINE_ALPHA:
    for (int j = 0; j < S; j++)
      ours[j] = sink_alpha(c, T, METRIC_REAL, r->a->probe[l].metric + map, j);
    return S;
  case LINE_KEY:
    return doubles(ours, la->k + head * c->head_dim, c->head_dim);
  case LINE_VALUE:
    return doubles(ours, la->v + head * c->head_dim, c->head_dim);
  case LINE_LOGITS:
    return doubles(ours, r->logits + last * c->vocab, c->vocab);
  case LINE_LOGITWAY:
    tiny_way(ours, r->logits, T, c->vocab, r->k, "logits");
    return T;
  default:
    ours[0] = tiny_loss(r->logits, r->ids, T, c->vocab);
    return 1;
  }
}

/* Holds our numbers to the next line of a run; false: there is none. most: the
 * largest error of a kind. */
static bool tiny_line(Golden *g, const TinyRun *r, double *most) {
  TinyLine x;
  double theirs[160], ours[160], size = 0;
  if (!tiny_head(g, &r->m->c, &x))
    return false;
  const int n = tiny_ours(r, &x, ours), kind = LINE_OF[x.of].kind;
  if (!golden_numbers(g, n, theirs))
    return false;
  for (int i = 0; i < n && kind != TINY_ATTN; i++)
    size = fmax(size, fabs(theirs[i]));
  for (int i = 0; i < n; i++) {
    double error = fabs(ours[i] - theirs[i]) / (1 + size);
    golden_meet(g, ours[i], theirs[i], tiny_bound(kind) * (1 + size),
                LINE_OF[x.of].word);
    most[kind] = larger(most[kind], error);
  }
  return true;
}

#define X_TOK SCRATCH "/x.tok"

/* A vocabulary of GPT-2's alphabet: the 256 bytes (but byte 4, where `more`
 * begins with -), then `more`, as the pairs of a JSON object. */
static void letters_json(Bytes *b, const char *more, Error *e) {
  const bool less = *more == '-';
  int spare = 256;
  for (int c = 0; c < 256; c++) {
    const bool prints = (c > 32 && c < 127) || (c > 160 && c != 173);
    const int letter = prints ? c : spare++;
    bytes_print(b, e, "%s\"\\u%04x\": %d, ", c ? "" : "{",
                less && c == 4 ? 0x3000 : letter, c);
  }
  bytes_print(b, e, "%s}", more + less);
}

/* What a row may change in a tokenizer.json; NULL for what stands
 * in JSON_PLAIN. */
typedef struct Parts {
  const char *normalizer, *cuts, *added, *post, *model, *vocab, *merges;
} Parts;

#define ADDED(id, content, more) \
  "{`id`: " id ", `content`: `" content "`, " more "}"
#define RAW "`normalized`: false"
#define ONE_MORE(id, content, more) {.added = "[" ADDED(id, content, more) "]"}
#define ENDS(begin) \
  "[" ADDED("258", "</s>", RAW) "," ADDED("259", begin, RAW) "]"
#define BYTE_LEVEL(regex) \
  "{`type`: `ByteLevel`, `add_prefix_space`: false" regex "}"
#define LLAMA3_SPLIT \
  "{`type`: `Sequence`, `pretokenizers`: [{`type`: `Split`, " \
  "`pattern`: {`Regex`: `" \
  "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\\\r\\\\n\\\\p{L}\\\\p{N}]?\\\\p{L}+|" \
  "\\\\p{N}{1,3}| ?[^\\\\s\\\\p{L}\\\\p{N}]+[\\\\r\\\\n]*|" \
  "\\\\s*[\\\\r\\\\n]+|\\\\s+(?!\\\\S)|\\\\s+`}, " \
  "`behavior`: `Isolated`, `invert`: false}, " \
  BYTE_LEVEL(", `use_regex`: false") "]}"
#define TEMPLATE(single) \
  "{`type`: `TemplateProcessing`, `single`: [" single "], " \
  "`special_tokens`: {`<s>`: {`id`: `<s>`, `ids`: [259]}}}"
#define FRONT "{`SpecialToken`: {`id`: `<s>`}}"
#define TEXT_A "{`Sequence`: {`id`: `A`}}"
#define SIGN "\\u2581"

static const Parts JSON_PLAIN = {
  "null", BYTE_LEVEL(""), "[" ADDED("258", "<|endoftext|>", RAW) "]", "null",
  "", "`he`: 256, `\\u0120he`: 257", "[`h e`, `\\u0120 he`]"};

/* A part, or the plain one in its place. */
static const char *part_or(const char *given, const char *plain) {
  return given ? given : plain;
}

/* Writes path: a tokenizer.json of bytes, or of characters where vocab begins a
 * whole object. */
static void parts_write(Test *t, const char *path, const Parts *p) {
  const Parts *d = &JSON_PLAIN;
  const char *vocab = part_or(p->vocab, d->vocab);
  Bytes b = {0};
  Error e = {0};
  bytes_print(&b, &e, "{\"version\": \"1.0\", \"added_tokens\": %s,\n",
              part_or(p->added, d->added));
  bytes_print(&b, &e, "\"normalizer\": %s,\n",
              part_or(p->normalizer, d->normalizer));
  bytes_print(&b, &e, "\"pre_tokenizer\": %s,\n\"post_processor\": %s,\n",
              part_or(p->cuts, d->cuts), part_or(p->post, d->post));
  bytes_print(&b, &e, "\"model\": {%s \"vocab\": ",
              part_or(p->model, d->model));
  if (*vocab == '{')
    bytes_add(&b, vocab, strlen(vocab), &e);
  else
    letters_json(&b, vocab, &e);
  bytes_print(&b, &e, ", \"merges\": %s}}\n", part_or(p->merges, d->merges));
  unticked((char *)b.at, b.size);
  bytes_file(t, path, &b);
}

typedef const Tokenizer *Encoder;   /* what encodes a text */

/* It reads both versions of sink's tokenizers. */
static const Program BOTH = {.read_tokenizer = words_read};

/* ./hf makes X_TOK of `from`, which is opened. */
static bool tok_open(Test *t, const char *from, Tokenizer *k, Encoder *c) {
  char words[300];
  Error e = {0};
  snprintf(words, sizeof words, "tokenizer %s --force --out " X_TOK, from);
  *k = (Tokenizer){0};
  *c = k;
  if (!hf_does(t, words))
    return false;
  const bool good = !tokenizer_load(X_TOK, &BOTH, k, &e);
  fact(t, good, "%s: %s", from, e.text);
  return good;
}

/* Frees what tok_open or other_opens gave. */
static void other_close(Tokenizer *k, Encoder *c) {
  *c = NULL;
  tokenizer_free(k);
}

/* The ids of n bytes as text, with a space after each. */
static void ids_text(Encoder *c, const char *text, size_t n, char *to,
                     size_t room) {
  Ids ids = {0};
  Error e = {0};
  size_t at = 0;
  *to = 0;
  tokenizer_encode(*c, (const unsigned char *)text, n, &ids, &e);
  for (size_t i = 0; i < ids.size && at + 16 < room; i++)
    at += (size_t)snprintf(to + at, room - at, "%d ", ids.at[i]);
  if (e.status)
    snprintf(to, room, "%s", e.text);
  ids_free(&ids);
}

/* -----------------------------------------------------------------------------
 * 2  ./hf (data/models), run as a user runs it, and its files read back. What
 *    transformers makes of them, data/check/golden/hf_check.py shows. */

/* The checkpoint SCRATCH/m.ckpt of a model that learnt nothing, with these
 * flags after BASE. */
static bool model_file(Test *t, const char *flags, uint64_t tokenizer_hash) {
  Trainer r = {0};
  Error e = {0};
  char all[1024];
  snprintf(all, sizeof all, "%s%s", BASE, flags);
  settings_default(&r.s);
  settings_flags(&r.s, all, MODEL | TRAIN | DATA, &e);
  r.tokenizer_hash = tokenizer_hash;
  if (!e.status && !config_resolve(&r.s.model, &e) &&
      !model_create(&r.m, &r.s.model, false, &e)) {
    model_init(&r.m, INIT_TORCH, 3);
    parameters_write(SCRATCH "/m.ckpt", &r, &e);
  }
  r.tokenizer_hash = 0;
  trainer_free(&r);
  fact(t, !e.status, "%s: %s", flags, e.text);
  return !e.status;
}

/* A model that is exported and imported again (whose names and places
 * hf__families and imported__against_library know for themselves) has the flags
 * that it had. Where it pairs dims as transformers does it has the same
 * numbers, else the same logits. */
static void hf__returns(Test *t) {
  static const char *const FLAGS[] = {
    "", "--heads 4 --kv-heads 2 --head-dim 6 --tied",
    "--rope-pairing interleaved --heads 4 --kv-heads 1 --head-dim 8 "
    "--linear-bias --act geglu",
    "--rope-pairing interleaved --kv-heads 1 --act reglu "
    "--rope-scaling llama3 --rope-base 100 --rope-original 64 --rope-factor 4",
    "--kv-heads 1 --head-dim 6 --linear-bias --act geglu --rope-base 77.5 "
    "--norm-eps 1e-3",
    "--tied --rope-scaling llama3 --rope-original 64 --rope-factor 4 "
    "--rope-low 1.5",
    "--linear-bias --bias-in ffn --act reglu --rope-scaling linear "
    "--rope-factor 3",
    "--linear-bias --bias-in attention"};
  enum { B = 2, T = 9, ROOM = B * T * 11 };
  if (!begun(t))
    return;
  EACH (i, FLAGS) {
    Lab lab;
    Trainer back;
    Error e = {0};
    real ours[ROOM], theirs[ROOM];
    if (!lab_open(&lab, t, B, T, FLAGS[i]))
      return;
    for (idx k = 0; k < lab.m.count; k++)
      lab.m.params[k] = (real)(float)lab.m.params[k];
    Trainer r = {.m = lab.m};
    settings_default(&r.s);
    r.s.model = lab.m.c;
    parameters_write(SCRATCH "/m.ckpt", &r, &e);
    if (!hf_does(t, "export --force " SCRATCH "/m.ckpt " DOWNLOAD) ||
        !hf_does(t, IMPORT) ||
        failed(t, FLAGS[i],
               checkpoint_load(SCRATCH "/x.model", false, &back, &e) ||
                   acts_create(&back.a, &back.m, B, T, ACTS_ONE, &e),
               &e))
      return;
    const bool half = lab.m.c.rope_pairing == PAIR_HALF;
    r.s.model.rope_pairing = PAIR_HALF;
    const char *other = differs(&r.s.model, &back.s.model);
    fact(t, !other, "%s: --%s came back as another", FLAGS[i], other);
    lab_forward(&lab);
    model_logits(&lab.m, &lab.a, lab.a.nf, B * T, ours);
    model_forward(&back.m, &back.a, lab.ids, B, T);
    model_logits(&back.m, &back.a, back.a.nf, B * T, theirs);
    within(t, distance(ROOM, ours, theirs), 0, 100 * REAL_EPS,
           "logits of %.80s", FLAGS[i]);
    const bool same = lab.m.count == back.m.count &&
                      same_numbers(lab.m.count, lab.m.params, back.m.params);
    fact(t, same == half, "%s: the parameters %s", FLAGS[i],
         same ? "kept their order" : "differ");
    const Bytes *file = file_of(t, DOWNLOAD "/model.safetensors");
    fact(t, file->size && number_at(file->at, 8) % 8 == 0,
         "the numbers are not aligned");
    trainer_free(&back);
    lab_close(&lab);
  }
}

/* The model at path, of what was given, has these flags. */
static void flags_hold(Test *t, const char *path, const char *given,
                       const char *flags) {
  char flag[32], want[32], text[128];
  Trainer r;
  Error e = {0};
  int used = 0;
  if (failed(t, given, checkpoint_load(path, false, &r, &e), &e))
    return;
  for (; sscanf(flags, " --%31s %31s%n", flag, want, &used) == 2;
       flags += used) {
    option_text(option_find(flag, MODEL | DATA | EVAL), &r.s, text,
                sizeof text);
    fact(t, !strcmp(text, want), "%s: --%s %s, expected %s", given, flag, text,
         want);
  }
  fact(t, !*flags, "%s: %s", given, flags);
  trainer_free(&r);
}

/* Every flag that llama has reaches the key of that meaning. In a row: flags,
 * then keys and values, | between. */
static void hf__config(Test *t) {
  static const char *const ROWS[][2] = {
    {"", "`hidden_size`: 12,|`intermediate_size`: 7,|`num_hidden_layers`: 2,|"
     "`num_attention_heads`: 2,|`num_key_value_heads`: 2,|`head_dim`: 6,|"
     "`vocab_size`: 11,|`max_position_embeddings`: 80,|`hidden_act`: `silu`|"
     "`rms_norm_eps`: 1e-05,|`rope_theta`: 10000.0,|`rope_scaling`: null|"
     "`attention_bias`: false|`mlp_bias`: false|`tie_word_embeddings`: false|"
     "`bos_token_id`: null|`eos_token_id`: null|`model_type`: `llama`|"
     "`architectures`: [`LlamaForCausalLM`]"},
    {"--kv-heads 1", "`num_key_value_heads`: 1,"},
    {"--head-dim 10", "`head_dim`: 10,"},
    {"--act geglu", "`hidden_act`: `gelu`"},
    {"--act reglu", "`hidden_act`: `relu`"},
    {"--norm-eps 1", "`rms_norm_eps`: 1.0,"},
    {"--rope-base 512.5", "`rope_theta`: 512.5,"},
    {"--rope-scaling linear --rope-factor 3",
     "`rope_scaling`: {`rope_type`: `linear`, `factor`: 3.0}"},
    {"--rope-scaling llama3 --rope-factor 4 --rope-low 1.5 --rope-high 5 "
     "--rope-original 64",
     "{`rope_type`: `llama3`, `factor`: 4.0, `low_freq_factor`: 1.5, "
     "`high_freq_factor`: 5.0, `original_max_position_embeddings`: 64}"},
    {"--linear-bias", "`attention_bias`: true|`mlp_bias`: true"},
    {"--linear-bias --bias-in ffn", "`attention_bias`: false|`mlp_bias`: true"},
    {"--linear-bias --bias-in attention",
     "`attention_bias`: true|`mlp_bias`: false"},
    {"--tied", "`tie_word_embeddings`: true"}};
  char key[160];
  if (!begun(t))
    return;
  EACH (i, ROWS) {
    if (!model_file(t, ROWS[i][0], 0) ||
        !hf_does(t, "export --force " SCRATCH "/m.ckpt " SCRATCH "/llama"))
      return;
    const char *text = text_in(t, SCRATCH "/llama/config.json");
    for (const char *at = ROWS[i][1]; *at; at += *at == '|') {
      snprintf(key, sizeof key, "%.*s", (int)strcspn(at, "|"), at);
      unticked(key, strlen(key));
      fact(t, strstr(text, key) != NULL, "%s: no %s in %s", ROWS[i][0], key,
           text);
      at += strcspn(at, "|");
    }
  }
}

/* A token as tokenizer.json spells it: a byte that Latin-1 prints, or the next
 * from U+0100 on. */
static void oracle_spell(const Tokenizer *t, int id, char *out) {
  size_t n;
  const unsigned char *bytes = tokenizer_token(t, id, &n);
  for (size_t i = 0; i < n; i++) {
    int letter = bytes[i], next = 0x100;
    for (int b = 0; b <= bytes[i]; b++) {
      bool prints = (b >= '!' && b <= '~') || (b >= 0xA1 && b != 0xAD);
      if (b == bytes[i] && !prints)
        letter = next;
      next += !prints;
    }
    if (letter == '"' || letter == '\\')
      *out++ = '\\';
    if (letter < 0x80)
      *out++ = (char)letter;
    else {
      *out++ = (char)(0xC0 + letter / 64);
      *out++ = (char)(0x80 + letter % 64);
    }
  }
  *out = 0;
}

#define TO_LLAMA "export --force " SCRATCH "/m.ckpt " SCRATCH "/llama"

/* tokenizer.json holds tokens by id, and its merges come back: an import makes
 * of it the file that was trained, and an export of that the same folder. A
 * text begins as `generate` does. */
static void hf__tokenizer(Test *t) {
  static const struct {
    const char *flags, *bos, *back;
    int id;
  } STARTS[] = {
    {"--vocab 330", "\"bos_token\": \"<|endoftext|>\"", "--bos 0 --fix-token 0",
     TOKEN_END},
    {"--vocab 330 --bos", "\"bos_token\": \"<|bos|>\"", "--bos 1 --fix-token 0",
     TOKEN_BOS},
    {"--vocab 330 --bos --fix-token 1", "\"bos_token\": \"<|fix|>\"",
     "--fix-token 1", TOKEN_FIX}};
  static const char AGAIN[] =
      "export --force " SCRATCH "/x.model " SCRATCH "/again";
  Settings s;
  Error e = {0};
  Tokenizer k = {0};
  char spelt[4 * PIECE_MAX], line[9 * PIECE_MAX];
  if (no_binary(t) || !tale_open(t, &s, ""))
    return;
  fact(t, !tokenizer_load(SCRATCH "/tale.tok", &BOTH, &k, &e), "%s", e.text);
  EACH (i, STARTS) {
    if (!model_file(t, STARTS[i].flags, k.hash) ||
        !hf_does(t, TO_LLAMA " --tokenizer " SCRATCH "/tale.tok"))
      return;
    const char *config = text_in(t, SCRATCH "/llama/config.json");
    const char *more = text_in(t, SCRATCH "/llama/tokenizer_config.json");
    const char *said = text_in(t, SCRATCH "/llama/generation_config.json");
    within(t, number_after(config, "\"bos_token_id\": ", 0), STARTS[i].id, 0,
           "bos");
    within(t, number_after(config, "\"eos_token_id\": ", 0), 0, 0, "eos");
    within(t, number_after(said, "\"bos_token_id\": ", 0), STARTS[i].id, 0,
           "bos");
    fact(t, strstr(more, STARTS[i].bos) != NULL, "%s", more);
    if (!hf_does(t, SCRATCH "/llama --force --out " SCRATCH "/x.model"))
      return;
    flags_hold(t, SCRATCH "/x.model", STARTS[i].flags, STARTS[i].back);
    fact(t, files_same(SCRATCH "/x.model.tok", SCRATCH "/tale.tok"),
         "another tokenizer");
    for (int f = hf_does(t, AGAIN) ? 0 : FILES; f < FILES; f++) {
      snprintf(line, sizeof line, SCRATCH "/again/%s", FILE_NAMES[f]);
      snprintf(spelt, sizeof spelt, SCRATCH "/llama/%s", FILE_NAMES[f]);
      fact(t, files_same(line, spelt), "%s: another %s", STARTS[i].flags,
           FILE_NAMES[f]);
    }
  }
  const char *at = strstr(text_in(t, SCRATCH "/llama/tokenizer.json"),
                          "\"vocab\": {");
  for (int id = 0; id < k.vocab && at; id++) {
    oracle_spell(&k, id, spelt);
    snprintf(line, sizeof line, "\n\"%s\": %d%s", spelt, id,
             id + 1 < k.vocab ? "," : "},");
    const char *next = strstr(at, line);
    fact(t, next && (!id || next == at), "token %d: %s", id, line + 1);
    at = next ? next + strlen(line) : NULL;
  }
  fact(t, at && k.vocab > 309, "%d tokens", k.vocab);
  tokenizer_free(&k);
}

/* Models that are no llama; behind | what is named, where it is not
 * the flags. */
static const char *const NO_LLAMAS[] = {
  "--pos none", "--pos learned", "--rotary-dims 4", "--norm layer",
  "--place post", "--place parallel", "--act gelu", "--act swish",
  "--combine add", "--kernel elu",
  "--kernel mlp --sim identity --normalizer one|--kernel mlp",
  "--rope-scaling longrope", "--sim sigmoid --normalizer one|--sim sigmoid",
  "--normalizer pnorm --pnorm 2|--normalizer pnorm", "--scale 0.5",
  "--extra k", "--extra zero", "--vbias|--vbias.", "--sink-token|--sink-token.",
  "--window 5", "--prefix 3", "--embed-dim 8",
  "--linear-bias --bias-in qkv|--bias-in qkv",
  "--heads 5 --head-dim 4|--heads that divide --dim",
  "--rope-scaling llama3 --rope-low 0|--rope-low, which must be above 0",
  "--rope-scaling yarn", "--rope-local 50", "--embed-scale 2", "--logit-cap 3",
  "--score-divisor 5"};

/* Writes SCRATCH/twice.tok, in which two tokens spell abc: it merges a b, b c,
 * (ab) c and a (bc). A byte b has id 3 + b. Returns its hash. */
static uint64_t twice_write(Error *e) {
  static const int MERGES[][2] = {
    {100, 101}, {101, 102}, {259, 102}, {100, 260}};
  Bytes b = {0};
  bytes_add(&b, "SINKTOK1", 8, e);
  for (int i = 0; i < 3; i++)
    bytes_number(&b, (uint64_t[]){1, 263, 4}[i], 4, e);
  for (int i = 0; i < 8; i++)
    bytes_number(&b, (uint64_t)MERGES[i / 2][i % 2], 4, e);
  const uint64_t hash = hash64(0, b.at, b.size);
  bytes_number(&b, hash, 8, e);
  file_write(SCRATCH "/twice.tok", b.at, b.size, e);
  bytes_free(&b);
  return hash;
}

/* Those models, and files that cannot be, are refused; nothing is written. */
static void hf__refuses(Test *t) {
  static const char *const WORDS[][3] = {
    {"tokenizer " SCRATCH "/none --out " SCRATCH "/x.tok", "1",
     "none: No such file or directory. Try: check the path"},
    {"tokenizer " SCRATCH "/tale.txt --out " SCRATCH "/x.tok", "1",
     "found another file or a damaged one"},
    {"export " SCRATCH "/none " SCRATCH "/llama", "1", "none: "},
    {"export " SCRATCH "/tale.tok " SCRATCH "/llama", "1",
     "expected a checkpoint"},
    {TO_LLAMA " --tokenizer " SCRATCH "/none", "1", "none: "},
    {TO_LLAMA " --tokenizer " SCRATCH "/twice.tok", "1",
     "found 261 and 262 alike"},
    {"export " SCRATCH "/m.ckpt " SCRATCH "/tale.tok --tokenizer " SCRATCH
     "/tale.tok", "1", "tale.tok/"}};
  char flags[80];
  Settings s;
  Error e = {0};
  Tokenizer k = {0};
  usage_hold(t, &(Program){.verbs = HF_VERBS});
  if (no_binary(t) || !tale_open(t, &s, ""))
    return;
  EACH (i, NO_LLAMAS) {
    const char *said = strchr(NO_LLAMAS[i], '|');
    snprintf(flags, sizeof flags, "%.*s", (int)strcspn(NO_LLAMAS[i], "|"),
             NO_LLAMAS[i]);
    if (model_file(t, flags, 0))
      sink_fails(t, TO_LLAMA, 1, said ? said + 1 : flags);
  }
  const uint64_t twice = twice_write(&e);
  tokenizer_load(SCRATCH "/tale.tok", &BOTH, &k, &e);
  no_error(t, &e);
  EACH (i, WORDS) {
    bool last = strstr(WORDS[i][0], "twice") != NULL;
    if (model_file(t, "--vocab 320", last ? twice : k.hash))
      sink_fails(t, WORDS[i][0], atoi(WORDS[i][1]), WORDS[i][2]);
  }
  fact(t, file_missing(SCRATCH "/llama/config.json"), "something was written");
  tokenizer_free(&k);
}

/* The export of hf__keeps, made several times. */
static const char TO_KEPT[] = "export --force " SCRATCH "/m.ckpt " SCRATCH
                              "/a/llama --tokenizer " SCRATCH "/tale.tok";

/* A command writes neither over what is there without --force, nor over what
 * it reads: the folder of that export, or a model that is links to it and
 * its vocabulary. */
static void keeps_others(Test *t) {
  static const char *const POINTED[] = {
    "eval " SCRATCH "/l.model --input random --n 1 --T 4 --csv " SCRATCH
    "/a/llama/model.safetensors",
    "export " SCRATCH "/l.model " SCRATCH "/a/llama",
    "train --quiet --steps 0 --start " SCRATCH "/l.model" FROM_TEXT "--out "
    SCRATCH "/l.model.tok"};
  sink_fails(t, SCRATCH "/m.ckpt --out " SCRATCH "/n.model", 2,
             "m.ckpt: already a model of sink");
  sink_fails(t, "tokenizer.bin --out " SCRATCH "/n.model", 2,
             "tokenizer.bin: expected a published model, found another file");
  sink_fails(t, "export " SCRATCH "/m.ckpt " SCRATCH "/a/llama", 1,
             "config.json: already exists");
  make_folder(SCRATCH "/b");
  make_folder(SCRATCH "/c");
  file_write(SCRATCH "/b/tokenizer.json", "{}", 2, fresh(t));
  sink_fails(t,
             "export " SCRATCH "/m.ckpt " SCRATCH "/b --tokenizer " SCRATCH
             "/tale.tok",
             1, "tokenizer.json: already exists");
  file_write(SCRATCH "/c/config.json.part", "mine", 4, fresh(t));
  sink_fails(t,
             "export " SCRATCH "/m.ckpt " SCRATCH "/c --tokenizer " SCRATCH
             "/tale.tok",
             1, "config.json.part: already exists");
  sink_fails(t,
             SCRATCH "/a/llama --link --force --out " SCRATCH
                     "/a/llama/model.safetensors",
             2, "model.safetensors: this command reads or writes it, too");
  if (!hf_does(t, SCRATCH "/a/llama --link --out " SCRATCH "/l.model"))
    return;
  sink_fails(t, SCRATCH "/l.model --out " SCRATCH "/n.model", 2,
             "l.model: already a model of sink");
  EACH (i, POINTED) {
    char words[400];
    snprintf(words, sizeof words, "%s --force", POINTED[i]);
    sink_fails(t, words, 2, "this command reads or writes it, too");
  }
  /* in one line, so before the work */
  sink_fails(t,
             "eval " SCRATCH
             "/l.model --input random --n 1 --T 4 --choices " SCRATCH "/none",
             1, "/none: ");
}

/* Files of an export as it was, of one that fails, and of one that takes
 * its place. */
static void keeps_rounds(Test *t, uint64_t tokenizer_hash) {
  static const char *const NAMES[] = {"model.safetensors", "config.json",
                                      "tokenizer.json", "mine"};
  Bytes *was[4];
  char path[256];
  /* this one cannot be made */
  make_folder(SCRATCH "/a/llama/tokenizer_config.json.part.new");
  for (int round = 0; round < 3; round++) {
    if (round == 1)
      sink_fails(t, TO_KEPT, 1, "tokenizer_config.json.part.new");
    if (round == 2) {
      rmdir(SCRATCH "/a/llama/tokenizer_config.json.part.new");
      hf_does(t, TO_KEPT);
    }
    for (int i = 0; i < 4; i++) {
      snprintf(path, sizeof path, SCRATCH "/a/llama/%s", NAMES[i]);
      Bytes *now = file_of(t, path);
      if (!round)
        was[i] = now;
      bool same = bytes_same(now, was[i]);
      fact(t, same == (round < 2 || i > 1), "round %d: %s %s", round, path,
           same ? "is as before" : "has changed");
      snprintf(path, sizeof path, SCRATCH "/a/llama/%s.part", NAMES[i]);
      fact(t, file_missing(path), "%s is left", path);
    }
    if (!round)   /* another model from here on */
      model_file(t, "--vocab 320 --kv-heads 1", tokenizer_hash);
  }
}

/* An export takes an older one's place with --force; one that fails leaves it
 * as it was. */
static void hf__keeps(Test *t) {
  Settings s;
  Trainer r = {0};
  Error e = {0};
  Tokenizer k = {0};
  if (no_binary(t) || !tale_open(t, &s, ""))
    return;
  tokenizer_load(SCRATCH "/tale.tok", &BOTH, &k, &e);
  if (!model_file(t, "--vocab 320", k.hash) || !hf_does(t, TO_KEPT))
    return;
  file_write(SCRATCH "/a/llama/mine", "note", 4, &e);
  keeps_others(t);
  keeps_rounds(t, k.hash);
  /* rows without a token say nothing */
  if (model_file(t, "--vocab 400", k.hash))
    said(t, "generate " SCRATCH
            "/m.ckpt --temperature 9 --n 99 --tokenizer " SCRATCH "/tale.tok");
  if (model_file(t, "", 0))
    sink_fails(t, TO_KEPT, 1, "expected no tokenizer");
  if (!checkpoint_load(SCRATCH "/m.ckpt", false, &r, &e))
    r.m.params[3] = (real)NAN;
  parameters_write(SCRATCH "/m.ckpt", &r, &e);
  sink_fails(t, TO_KEPT, 1, "m.ckpt: its weights are not finite");
  trainer_free(&r);
  tokenizer_free(&k);
}

/* -----------------------------------------------------------------------------
 * 3  ./hf FOLDER --out MODEL: what is published, read and accounted for.
 *    References from the library itself are in data/check/golden; here are the
 *    files that it would not write. */

/* Appends a little-endian length, the header, and so many bytes of data. */
static void st_bytes(Bytes *b, uint64_t length, const char *header, size_t n,
                     size_t data, Error *e) {
  bytes_number(b, length, 8, e);
  bytes_add(b, header, n, e);
  for (size_t i = 0; i < data; i++)
    bytes_add(b, "", 1, e);
}

static const char GPT2_JSON[] =
    "{`model_type`: `gpt2`, `n_layer`: 1, `n_head`: 2, `n_embd`: 4, "
    "`vocab_size`: 5, `n_positions`: 6}";

/* A model whose model.safetensors holds these bytes is refused with
 * these words. */
static void st_fails(Test *t, const Bytes *b, const char *said) {
  Error e = {0};
  text_file(t, DOWNLOAD "/config.json", GPT2_JSON);
  file_write(DOWNLOAD "/model.safetensors", b->at, b->size, &e);
  no_error(t, &e);
  sink_fails(t, IMPORT, 1, said);
}

#define ENTRY(name, dtype, shape, place) \
    "\"" name "\": {\"dtype\": \"" dtype "\", \"shape\": [" shape "], " \
    "\"data_offsets\": [" place "]}"

#define ST_NONE  "expected tensor transformer.wte.weight [5,4], found none"
#define ST_ODD   "expected a dtype, a shape and data_offsets"
#define ST_SHAPE "expected a shape of plain integers whose product fits 64 bits"
#define ST_BYTES "expected as many bytes"

#define ONE(dtype, shape, place) "{" ENTRY("a", dtype, shape, place) "}"

/* Headers, bytes of data behind them, what is said. What is right fails for
 * want of tensors. */
static const struct {
  const char *header;
  size_t data;
  const char *said;
} ST_ROWS[] = {
  /* what is right */
  {"{}", 0, ST_NONE}, {"{}      ", 0, ST_NONE},
  {" \t\r\n{} \t\r\n", 0, ST_NONE},
  {ONE("F32", "2, 0", "0, 0"), 0, ST_NONE},
  {ONE("I32", "", "0, 4"), 4, ST_NONE},
  {"{" ENTRY("a", "F32", "1", "4, 8") ", " ENTRY("b", "F32", "1", "0, 4") "}",
   8, ST_NONE},
  {"{\"__metadata__\": {\"format\": \"pt\"}, "
   ENTRY("a", "F32", "1", "0, 4") "}", 4, ST_NONE},
  {"{\"a\": {\"new\": {\"x\": [1]}, \"data_offsets\": [0, 1], \"shape\": [2], "
   "\"dtype\": \"F4\"}}", 1, ST_NONE},
  /* JSON, UTF-8, an object */
  {"\xFF", 0, "expected UTF-8 at byte 0 of its JSON, found byte 0xFF"},
  {"{", 0, "expected a key in quotes at byte 1 of its JSON, found its end"},
  {"", 0, "expected a value at byte 0 of its JSON, found its end"},
  {"[]", 0, "expected a header that is a JSON object"},
  {"{} {}", 0, "expected nothing more at byte 3"},
  {"{\"a\": [[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[", 0,
   "at most 32 nested brackets"},
  /* places */
  {"{" ENTRY("a", "U8", "16", "0, 16") "," ENTRY("b", "U8", "16", "0, 16") "}",
   16,
   "to begin at byte 16 of the data, where the one before it ends, found 0"},
  {ONE("U8", "4", "4, 8"), 8, "to begin at byte 0 of the data"},
  {"{" ENTRY("a", "U8", "4", "0, 4") ", " ENTRY("b", "U8", "4", "6, 10") "}",
   10, "tensor b to begin at byte 4 of the data, "
   "where the one before it ends, found 6"},
  {"{" ENTRY("a", "U8", "4", "0, 4") ", " ENTRY("b", "U8", "4", "2, 6") "}",
   6, "tensor b to begin at byte 4 of the data, "
   "where the one before it ends, found 2"},
  {ONE("U8", "4", "4, 0"), 4, ST_ODD},
  {ONE("I32", "2, 2", "0, 16"), 17,
   "expected 16 bytes after the header, found 17"},
  {ONE("I32", "2, 2", "0, 16"), 14,
   "expected 16 bytes after the header, found 14"},
  {"{}", 1, "expected 0 bytes after the header, found 1"},
  /* shapes */
  {ONE("I32", "2, 2", "0, 4"), 4, ST_BYTES},
  {ONE("U8", "1", "0, 18446744073709551617"), 1, ST_ODD},
  {ONE("F4", "3", "0, 1"), 1, ST_BYTES},
  {ONE("U8", "18446744073709551616", "0, 16"), 16, ST_SHAPE},
  {ONE("U8", "2, 18446744073709551614", "0, 16"), 16, ST_SHAPE},
  {ONE("U8", "2, 9223372036854775807", "0, 16"), 16, ST_BYTES},
  {ONE("F32", "2, 4611686018427387904", "0, 16"), 16, ST_BYTES},
  {ONE("F32", "2, 2305843009213693952", "0, 0"), 0, ST_BYTES},
  {ONE("U8", "1", "-0, 1"), 1, ST_ODD},
  {ONE("U8", "-1", "0, 1"), 1, ST_SHAPE},
  {ONE("U8", "1", "0, 1, 1"), 1, ST_ODD},
  {ONE("U8", "1.0", "0, 1"), 1, ST_SHAPE},
  {ONE("U8", "1e0", "0, 1"), 1, ST_SHAPE},
  {ONE("U8", "\\\"1\\\"", "0, 1"), 1, "expected a value at byte"},
  {ONE("U8", "1", "0"), 1, ST_ODD},
  {ONE("U8", "\"1\"", "0, 1"), 1, ST_SHAPE},
  {ONE("U8", "1,1,1,1,1,1,1,1", "0, 1"), 1, ST_NONE},
  {ONE("U8", "1", "0.0, 1"), 1, ST_ODD},
  {ONE("U8", "1", "0, 1e0"), 1, ST_ODD},
  {ONE("U8", "1", "00, 1"), 1, "expected a comma or a closing bracket"},
  {ONE("U8", "1,1,1,1,1,1,1,1,1", "0, 1"), 1,
   "at most 8 dimensions of a, found 9"},
  /* entries and names */
  {"{\"a\": 1}", 0, ST_ODD}, {"{\"a\": null}", 0, ST_ODD},
  {"{\"a\": {}}", 0, ST_ODD},
  {"{\"a\": {\"dtype\": \"U8\", \"shape\": [1], \"offsets\": [0, 1]}}", 1,
   ST_ODD},
  {"{\"a\": {\"dtype\": 1, \"shape\": [1], \"data_offsets\": [0, 1]}}", 1,
   ST_ODD},
  {"{\"a\": {\"dtype\": \"U8\", \"shape\": 1, \"data_offsets\": [0, 1]}}", 1,
   ST_ODD},
  {ONE("F33", "1", "0, 4"), 4,
   "expected a dtype of safetensors for a, found F33"},
  {ONE("f32", "1", "0, 4"), 4, "found f32"},
  {"{" ENTRY("a", "U8", "1", "0, 1") ", " ENTRY("a", "U8", "1", "1, 2") "}", 2,
   "expected each key once in its JSON, found \"a\" twice"},
  {"{" ENTRY("\\u0061", "U8", "0", "0, 0") ", "
   ENTRY("a", "U8", "0", "0, 0") "}", 0, "found \"a\" twice"},
  {"{" ENTRY("", "U8", "1", "0, 1") "}", 1,
   "expected names of 1 to 1024 bytes"},
  {"{" ENTRY("a\\u0000b", "U8", "1", "0, 1") "}", 1,
   "expected names of 1 to 1024 bytes"},
  {"{\"__metadata__\": {\"format\": 1}}", 0,
   "expected strings in __metadata__"},
  {"{\"__metadata__\": []}", 0, "expected strings in __metadata__"},
  {"{" ENTRY("a\\u000ab\\u007f", "U8", "1", "0, 2") "}", 2,
   "bytes of a?b? as"}};

/* Every rule of the format, and lengths N of a header in files of
 * some bytes. */
static void hf__safetensors(Test *t) {
  static const struct {
    uint64_t length;   /* N, as the file says it */
    size_t size;       /* of the file, in bytes */
  } LENGTHS[] = {
    {0, 0}, {0, 7}, {3, 10}, {4, 11}, {UINT64_MAX, 16}, {UINT64_MAX - 7, 16},
    {1000, 108}};
  if (!begun(t))
    return;
  Bytes *b = bytes_of(t);
  Error e = {0};
  EACH (i, ST_ROWS) {
    size_t n = strlen(ST_ROWS[i].header);
    b->size = 0;
    st_bytes(b, n, ST_ROWS[i].header, n, ST_ROWS[i].data, &e);
    st_fails(t, b, ST_ROWS[i].said);
  }
  EACH (i, LENGTHS) {
    b->size = 0;
    bytes_number(b, LENGTHS[i].length, 8, &e);
    while (b->size < LENGTHS[i].size)
      bytes_add(b, " ", 1, &e);
    b->size = LENGTHS[i].size;
    if (LENGTHS[i].size < 8)
      st_fails(t, b, "expected 8 bytes and a header");
    else
      st_fails(t, b, "expected a header of at most 100000000 bytes within");
  }
  no_error(t, &e);
}

/* A name at its limit and one byte beyond; a tensor and a byte too many. */
static void hf__safetensors_limits(Test *t) {
  enum { TENSORS = 1000001, LIMIT = 100000000 };
  if (!begun(t))
    return;
  Bytes *b = bytes_of(t);
  Error e = {0};
  for (int round = 0; round < 2; round++) {
    char name[1100] = "{\"";
    for (int i = 0; i < 1024 + round; i++)
      strcat(name + i, "n");
    strcat(name, "\": {\"dtype\": \"U8\", \"shape\": [0], "
                 "\"data_offsets\": [0, 0]}}");
    b->size = 0;
    st_bytes(b, strlen(name), name, strlen(name), 0, &e);
    st_fails(t, b, round ? "(1025 bytes)" : ST_NONE);
  }
  b->size = 0;
  bytes_number(b, 0, 8, &e);
  for (int i = 0; i < TENSORS; i++)
    bytes_print(b, &e, "%s\"%d\":0", i ? "," : "{", i);
  bytes_add(b, "}", 1, &e);
  for (size_t n = b->size - 8, i = 0; i < 8; i++, n >>= 8)
    b->at[i] = n & 0xFF;
  st_fails(t, b, "expected at most 1000000 tensors");
  /* a header above the limit in a file that has room for it: nothing but its
   * ends is written */
  b->size = 0;
  st_bytes(b, LIMIT + 1, "{}", 2, 0, &e);
  st_fails(t, b, "within the file's 10");
  FILE *f = fopen(DOWNLOAD "/model.safetensors", "r+b");
  if (f) {
    fseek(f, LIMIT + 8, SEEK_SET);
    fputc(' ', f);
    fclose(f);
  }
  sink_fails(t, IMPORT, 1,
             "within the file's 100000009, found a length of 100000001");
  fact(t, f && !e.status, "%s", e.text);
}

/* Texts of a config.json that are no JSON, and some that are: what is said. */
static const char NOT_YET[] = "expected vocab_size to be an integer",
                  VALUE[] = "expected a value";
static const struct { const char *text, *said; } JSON_ROWS[] = {
  {"{`model_type`: `opt`}", NOT_YET}, {"{`a`: 1e+}", "expected a digit"},
  {"{`a`: [1,]}", VALUE},
  {" {`model_type`:`\\u006fp\\u0074`}\r\n\t", NOT_YET},
  {"{`a`: `b\nc`}", "a closing quote"},
  {"{`model_type`: `opt`, `x`: [null, true, false, -0, 1.5e-05, 1E+2, 0.5, {}, "
   "[], `\\\"\\\\\\/\\b\\f\\n\\r\\t\\uD83d\\uDE00\xC3\xA9`]}", NOT_YET},
  {"", "expected a value at byte 0 of its JSON, found its end"},
  {"{`a`: 1,}", "a key in quotes"},
  {"\xEF\xBB\xBF{}", "found byte 0xEF"},
  {"{`a`: `\\uD83D\\u0041`}", "a whole surrogate pair"},
  {"nul", VALUE}, {"True", VALUE}, {"NaN", VALUE}, {"{`a`: NaN}", VALUE},
  {"{`a`: 01}", "expected a comma"}, {"{`a`: `\\", "after a backslash"},
  {"{`a`: Infinity}", VALUE}, {"{`a`: 0x10}", "a comma"},
  {"{a: 1}", "a key in quotes"}, {"{`a`: -Infinity}", VALUE},
  {"{`a`: 1]", "a closing bracket"}, {"{`a`: `b", "a closing quote"},
  {"{`a`: +1}", VALUE}, {"{`a`: 1.}", "expected a digit"},
  {"{`a`: 1e}", "expected a digit"}, {"{`a`: .5}", VALUE},
  {"{`a`: -}", VALUE}, {"{,}", "a key in quotes"}, {"{`a`: }", VALUE},
  {"{`a`: [1 2]}", "a comma or a closing bracket"},
  {"{`a`: `\\u12`}", "four hexadecimal digits"}, {"{`a` 1}", "a colon"},
  {"{`a`: [1}", "a closing bracket"}, {"{`a`: `\t`}", "a closing quote"},
  {"{'a': 1}", "a key in quotes"},
  {"{`a`: `\\uDE00`}", "four hexadecimal digits of a character"},
  {"{`a`: 1", "a comma or a closing bracket"},
  {"{`a`: `\\uD83Dx`}", "a whole surrogate pair"},
  {"{`a`: `\\x`}", "after a backslash"},
  {"{`a`: `\\uD83D\\uD83D`}", "a whole surrogate pair"},
  {"{`a`: `\\u12g4`}", "four hexadecimal digits"},
  {"{`a`: `\\uD83D`}", "a whole surrogate pair"},
  {"{`a`: `\\uD83D\\uE000`}", "a whole surrogate pair"},
  {"{`a`: `\\uD83D\\uDBFF`}", "a whole surrogate pair"},
  {"{`a`: `\\uDFFF`}", "four hexadecimal digits of a character"},
  {"{`a`: `\\uDC00\\uDC00`}", "four hexadecimal digits of a character"},
  {"{`model_type`: `\\u007a\\u00e9\\u07ff\\u0800\\u20AC\\ufffd\\ud83d\\ude00"
   "\\uDBFF\\uDFFF\"}",
   "found z\xC3\xA9\xDF\xBF\xE0\xA0\x80\xE2\x82\xAC\xEF\xBF\xBD"
   "\xF0\x9F\x98\x80\xF4\x8F\xBF\xBF. Try"},
  {"{\"model_type\": \"\\\"\\\\\\/\\n\\u0000\"}", "found \"\\/?. Try"},
  {"{\"a\": 1, \"b\": 2, \"a\": 3}", "found \"a\" twice"},
  {"{\"a\": {\"b\": {\"c\": 1, \"c\": 1}}}", "found \"c\" twice"},
  {"{} // end", "expected nothing more"}, {"/ {}", VALUE},
  {"{}}", "expected nothing more"},
  {"{`a`: `\xC0\x80`}", "expected UTF-8 at byte 7"},
  {"{`a`: `\xED\xA0\x80`}", "UTF-8"},
  {"{`a`: `\xF4\x90\x80\x80`}", "expected UTF-8"},
  {"{`a`: `\xE2\x82`}", "UTF-8"},
  {"[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]",
   "expected model_type"},
  {"[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]",
   "at most 32 nested brackets"}};

/* Of an object that breaks off nothing can be found, whatever its memory held
 * before. */
static void json_value__half_read(Test *t) {
  char text[] = "{\"a\": ";
  JsonValue before[64];
  Json j = {.name = "half", .text = text, .length = sizeof text - 1,
            .at = before, .room = 64};
  for (int i = 0; i < 64; i++)
    before[i] = (JsonValue){JSON_OBJECT, 0, 9, 64};
  fact(t, json_value(&j, 0, fresh(t)) && strstr(t->e.text, "found its end"),
       "%s", t->e.text);
  fact(t, !json_get(&j, j.at, "a"), "half an object has a key");
}

/* Every rule of JSON, and a 0 byte in a text. */
static void hf__json(Test *t) {
  if (!begun(t))
    return;
  EACH (i, JSON_ROWS) {
    text_file(t, DOWNLOAD "/config.json", JSON_ROWS[i].text);
    sink_fails(t, IMPORT, 1, JSON_ROWS[i].said);
  }
  Bytes *b = bytes_of(t);
  Error e = {0};
  bytes_add(b, "{\"a\": \"b\0c\"}", 12, &e);
  file_write(DOWNLOAD "/config.json", b->at, b->size, &e);
  sink_fails(t, IMPORT, 1,
             "expected a closing quote at byte 8 of its JSON, found byte 0x00");
}

/* An index and its files: each tensor in the file that it says, once, and
 * no other. */
static void hf__shards(Test *t) {
#define MISSING(name, shard) \
  "expected tensor " name " in " shard ".safetensors, found none"
#define MAP(entries) \
  "{`metadata`: {`total_size`: 1}, `weight_map`: {" entries "}}"
  static const char NAME[] = "expected the name of a file beside it for a";
#define TWO(a, b) MAP("`a`: `" a ".safetensors`, `b`: `" b ".safetensors`")
  static const struct { const char *index, *said; } ROWS[] = {
    {TWO("1", "2"), "expected tensor transformer.wte.weight"},
    {TWO("2", "2"), MISSING("a", "2")},
    {"{`weight_map`: {}}", "expected a weight_map"},
    {TWO("2", "1"), MISSING("a", "2")},
    {"{}", "expected a weight_map"},
    {TWO("1", "3"), "each tensor once, found a in"},
    {"{`weight_map`: [`a`]}", "expected a weight_map"},
    {MAP("`a`: `1.safetensors\\u0000`"), NAME},
    {MAP("`a`: 1"), NAME}, {MAP("`a`: ``"), NAME}, {MAP("`a`: `..`"), NAME},
    {MAP("`a`: `x/1`"), NAME}, {MAP("`a`: `/1`"), NAME},
    {MAP("`a`: `c:1`"), NAME}, {MAP("`a`: `x..1`"), NAME},
    {MAP("`a`: `.hidden`"), NAME}, {MAP("`a`: `x\\\\1`"), NAME},
    {MAP("`a`: `none.safetensors`"), "none.safetensors: "},
    {TWO("1", "1"), MISSING("b", "1")},
    {MAP("`a`: `3.safetensors`"), "expected b in the weight_map, found it in"},
    {MAP("`a`: `1.safetensors`, `b`: `2.safetensors`, `c`: `2.safetensors`"),
     MISSING("c", "2")}};
  static const char *const SHARDS[] = {
      "{" ENTRY("a", "U8", "1", "0, 1") "}",
      "{" ENTRY("b", "U8", "1", "0, 1") "}",
      "{" ENTRY("a", "U8", "1", "0, 1") ", " ENTRY("b", "U8", "0", "1, 1") "}"};
  char path[256];
  Error e = {0};
  if (!begun(t))
    return;
  text_file(t, DOWNLOAD "/snapshots", "");
  sink_fails(t, IMPORT, 1, "the folder in " DOWNLOAD "/snapshots");
  remove(DOWNLOAD "/snapshots");
  text_file(t, DOWNLOAD "/adapter_config.json", "{}");
  sink_fails(t, IMPORT, 1, "found an adapter");
  text_file(t, DOWNLOAD "/config.json", GPT2_JSON);
  sink_fails(t, IMPORT, 1, "found an adapter");
  remove(DOWNLOAD "/adapter_config.json");
  sink_fails(t, IMPORT, 1, "from/model.safetensors: expected this file, or");
  text_file(t, DOWNLOAD "/pytorch_model.bin", "PK");
  sink_fails(t, IMPORT, 1, "found a pytorch_model.bin");
  for (int i = 0; i < 3; i++) {
    Bytes b = {0};
    st_bytes(&b, strlen(SHARDS[i]), SHARDS[i], strlen(SHARDS[i]), 1, &e);
    snprintf(path, sizeof path, DOWNLOAD "/%d.safetensors", i + 1);
    bytes_file(t, path, &b);
  }
  EACH (i, ROWS) {
    text_file(t, DOWNLOAD "/model.safetensors.index.json", ROWS[i].index);
    sink_fails(t, IMPORT, 1, ROWS[i].said);
  }
  /* a whole file goes before an index */
  text_file(t, DOWNLOAD "/model.safetensors", "");
  sink_fails(t, IMPORT, 1, "model.safetensors: expected 8 bytes");
  no_error(t, &e);
}

/* Where number (i, o) of part `part` (q, k, v) lies in the tensor there: C 12,
 * 2 heads of 6. */
static idx published_at(char how, idx in, idx out, idx i, idx o, int part) {
  if (how == '2')
    return (i + 2) * out + o;
  if (how == 'T')
    return o * in + i;
  if (how == 't')
    return in == 1 ? part * 12 + o : i * 36 + part * 12 + o;
  if (how == 'h')
    return ((o / 6 * 3 + part) * 6 + o % 6) * in + i;
  return i * out + o;
}

/* All of a model's numbers against what was published, each where
 * it belongs. */
static void published_compare(Test *t, const Model *m, const char *family) {
  idx seen = 0, wrong = 0;
  Theirs x;
  for (int n = 0; tensor_of(family, n, &x) && !t->wrong; n++) {
    const bool fused = x.how == 't' || x.how == 'h';
    for (int part = 0; part < (fused ? 3 : 1); part++) {
      char ours[104];
      snprintf(ours, sizeof ours, "%s%.*s", x.ours, fused, &"qkv"[part]);
      const Tensor *here = model_tensor(m, ours);
      fact(t, here != NULL, "%s: no tensor %s", family, ours);
      if (!here)
        return;
      /* a vector is [n,1] here, and one row there */
      idx in = here->rank == 2 ? here->rows : 1, out = tensor_count(here) / in;
      for (idx k = 0; k < tensor_count(here); k++) {
        idx at = published_at(x.how, in, out, k / out, k % out, part);
        wrong += here->w[k] != (real)published(x.name, at);
      }
      fact(t, !wrong, "%s: %s has %lld numbers not of %s", family, ours,
           (long long)wrong, x.name);
      seen += tensor_count(here);
    }
  }
  fact(t, seen == m->count, "%s: %lld of %lld there", family, (long long)seen,
       (long long)m->count);
}

/* [FIG10] HellaSwag in the harness's form: what the rule of its Python makes of
 * these lines. */
static void hf__choices(Test *t) {
  static const char LINES[] =
      "{`ind`: 1, `activity_label`: `Roof work`, `ctx_a`: `A man is  there "
      "[step] now.`, `ctx_b`: `he Sits`, `endings`: [`is [title] up [a\\nb] "
      "x`, ` b\\tc \\u00e9 `, `c\\\\d`, `d   e`], `label`: 3}\n\n"
      "{`activity_label`: `A`, `ctx_a`: `x`, `ctx_b`: ``, "
      "`endings`: [`p`, `[q] r`], `label`: `0`}\r\n"
      "{`activity_label`: `B`, `ctx_a`: `[note [title] here] go [title]`, "
      "`ctx_b`: ``, `endings`: [`\\u00a0\\u3000up\\u2009`, "
      "`[title] \\u00a0 [a [b] c]`], `label`: 1}\n"
      " \t\r\n";
  static const char WANT[] =
      "3\tRoof work: A man is there now. He sits\tis. up [a\\nb] x\t"
      "b\\tc \xc3\xa9\tc\\\\d\td  e\n"
      "0\tA: x\tp\t r\n"
      "1\tB: go. \tup\t \xc2\xa0 c]\n";
  static const char *const BAD[][2] = {
    {"{`label`: 1}", ":1: expected activity_label"},
    {"", "expected one question per line"},
    {"{`activity_label`: `A`, `ctx_a`: `x`, `ctx_b`: ``, "
     "`endings`: [`p`, `q`], `label`: 2}", ":1: expected activity_label"},
    {"{`activity_label`: `A`, `ctx_a`: `x\\u0000`, `ctx_b`: ``, "
     "`endings`: [`p`, `q`], `label`: 1}", ":1: expected activity_label"},
    {"{`activity_label`: `A`, `ctx_a`: `x`, `ctx_b`: ``, "
     "`endings`: [`p`, `q\\u0000`], `label`: 1}",
     ":1: expected activity_label"},
    {"[1", ":1: "}};
  if (!begun(t))
    return;
  text_file(t, SCRATCH "/h.jsonl", LINES);
  for (int mark = 0; mark < 2; mark++) {
    if (mark) {   /* the same behind a byte order mark */
      const Bytes *b = file_of(t, SCRATCH "/h.jsonl");
      Bytes *more = bytes_of(t);
      Error e = {0};
      bytes_add(more, "\xEF\xBB\xBF", 3, &e);
      bytes_add(more, b->at, b->size, &e);
      bytes_file(t, SCRATCH "/h.jsonl", more);
    }
    if (!hf_does(t,
                 "choices " SCRATCH "/h.jsonl --force --out " SCRATCH "/h.txt"))
      return;
    const char *got = text_in(t, SCRATCH "/h.txt");
    fact(t, !strcmp(got, WANT), "%s", got);
  }
  EACH (i, BAD) {
    text_file(t, SCRATCH "/h.jsonl", BAD[i][0]);
    sink_fails(t, "choices " SCRATCH "/h.jsonl --force --out " SCRATCH "/h.txt",
               1, BAD[i][1]);
  }
  text_file(t, SCRATCH "/h.jsonl",
            "{`activity_label`: `A`, `ctx_a`: `x`, `ctx_b`: ``, `endings`: "
            "[`1`, `2`, `3`, `4`, `5`, `6`, `7`, `8`, `9`], `label`: 8}\n");
  hf_does(t, "choices " SCRATCH "/h.jsonl --force --out " SCRATCH "/h.txt");
}

/* The dump of x.model has its loss and parameters, and gradients where it has
 * a backward. */
static void dumped(Test *t, Trainer *r) {
  static const char WORDS[] = "dump " SCRATCH "/x.model --ids " SCRATCH
                              "/ids --out " SCRATCH "/d";
  const bool back = !r->m.seams.forward_only;
  int ids[10] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
  real loss, theirs = NAN;
  Error e = {0};
  text_file(t, SCRATCH "/ids", "1 2 3 4 5 6 7 8 9 10\n");
  const char *out = said(t, WORDS);
  if (acts_create(&r->a, &r->m, 1, 9, ACTS_ONE, &e))
    return;
  fact(t,
       !strstr(out, "without gradients: --") == back &&
           file_missing(SCRATCH "/d/grad.wte.npy") == !back &&
           file_missing(SCRATCH "/d/param.l1.e2.w3.npy") == !r->m.c.experts,
       "%s", out);
  model_forward(&r->m, &r->a, ids, 1, 9);
  loss = (real)model_loss(&r->m, &r->a, ids + 1, 1, 9, 0);
  const Bytes *b = file_of(t, SCRATCH "/d/loss.npy");
  if (b->size > sizeof theirs)
    memcpy(&theirs, b->at + b->size - sizeof theirs, sizeof theirs);
  within(t, (double)theirs, (double)loss, 1e-6 * fmax(10, (double)loss),
         "loss of the dump");
}

/* One tensor more in a header, without numbers. */
#define MORE(name, dtype) \
  ", `" name "`: {`dtype`: `" dtype "`, `shape`: [0], " \
  "`data_offsets`: [0, 0]}"

/* A family's model as three files and their index. */
static void published_shards(Test *t, const char *family, const char *dtype) {
  Bytes index = {0};
  Error e = {0};
  char path[256];
  Theirs x;
  bytes_print(&index, &e, "{`weight_map`: {");
  for (int n = 0; tensor_of(family, n, &x); n++)
    bytes_print(&index, &e, "%s`%s`: `%d.safetensors`", n ? "," : "", x.name,
                n % 3);
  bytes_add(&index, "}}", 2, &e);
  unticked((char *)index.at, index.size);
  bytes_file(t, DOWNLOAD "/model.safetensors.index.json", &index);
  for (int i = 0; i < 3; i++) {
    snprintf(path, sizeof path, DOWNLOAD "/%d.safetensors", i);
    published_write(t, path, family, dtype, i, 3, NULL, "");
  }
}

/* Every tensor of every family lands where it belongs, in all formats, with
 * and without the prefix of its name, from one file and from three, copied
 * and linked. */
static void hf__families(Test *t) {
  static const char *const DTYPES_OF[] = {"F32", "F16", "BF16"};
  static const char *const BUFFERS[] = {
    ", `h.1.attn.bias`: {`dtype`: `BOOL`, `shape`: [1,0,16], "
    "`data_offsets`: [0, 0]}",
    MORE("gpt_neox.layers.1.attention.rotary_emb.inv_freq", "I64")
    MORE("gpt_neox.layers.0.attention.masked_bias", "U8"),
    "", "",
    MORE("model.layers.1.self_attn.rotary_emb.inv_freq", "F32")};
  if (no_binary(t))
    return;
  for (int f = 0; f < FAMILIES_OF - 1; f++)
    for (int d = 0; d < 3; d++) {
      scratch_open();
      text_file(t, DOWNLOAD "/config.json", CONFIGS_OF[f]);
      if (d == 1)
        published_shards(t, NAMES_OF[f], DTYPES_OF[d]);
      else
        published_write(t, DOWNLOAD "/model.safetensors", NAMES_OF[f],
                        DTYPES_OF[d], 0, 1, NULL, BUFFERS[f]);
      for (int linked = 0; linked < 2 && !t->wrong; linked++) {
        Trainer r;
        Error e = {0};
        if (!hf_does(t, linked ? IMPORT " --link" : IMPORT))
          break;
        fact(t, !checkpoint_load(SCRATCH "/x.model", false, &r, &e), "%s",
             e.text);
        if (e.status)
          break;
        published_compare(t, &r.m, NAMES_OF[f]);
        if (d == 0 && !linked)
          dumped(t, &r);
        trainer_free(&r);
      }
    }
}

/* What config.json says beside CONFIGS_OF, or without more, and the flag that
 * it becomes. */
static const struct { const char *family, *text, *flags; } FACTS_TAKEN[] = {
  {"gpt2", "",
   "--pos learned --norm layer --act gelutanh --tied 1 --place pre "
   "--linear-bias 1 --context 16 --ffn 20 --norm-eps 1e-05 "
   "--score-by-layer 0"},
  {"gpt2",
   "`scale_attn_by_inverse_layer_idx`: true, `layer_norm_epsilon`: 1E-6, "
   "`activation_function`: `gelu`",
   "--score-by-layer 1 --norm-eps 1e-06 --act gelu"},
  {"gpt2", "`activation_function`: `gelu_fast`", "--act gelutanh"},
  {"gpt2", "`activation_function`: `relu`", "--act relu"},
  {"gpt2", "`activation_function`: `silu`", "--act swish"},
  {"gpt2", "`reorder_and_upcast_attn`: true, `attn_pdrop`: 0.5",
   "--act gelutanh"},
  {"gpt_neox", "",
   "--pos rotary --rotary-dims 2 --act gelu --place parallel --tied 0 "
   "--linear-bias 1"},
  {"gpt_neox",
   "`hidden_act`: `gelu_fast`, `use_parallel_residual`: false, "
   "`layer_norm_eps`: 1e-3, `rotary_emb_base`: 500",
   "--act gelutanh --place pre --norm-eps 0.001 --rope-base 500"},
  {"gpt_neox",
   "`rope_parameters`: {`rope_theta`: 50.5, `rope_type`: `default`, "
   "`partial_rotary_factor`: 0.7}", "--rope-base 50.5 --rotary-dims 4"},
  {"gpt_neox",
   "`rope_parameters`: {`partial_rotary_factor`: 1, `rope_type`: `yarn`, "
   "`factor`: 4, `original_max_position_embeddings`: 16}",
   "--rotary-dims 6 --rope-scaling yarn"},
  {"gpt_neox", "`rope_parameters`: {`partial_rotary_factor`: 0.1}",
   "--pos none"},
  {"opt", "",
   "--place post --embed-dim 8 --act relu --pos learned --tied 1 --context 16"},
  {"opt", "`_remove_final_layer_norm`: true, `scale_embeddings`: false",
   "--place post"},
  {"llama", "",
   "--pos rotary --norm rms --act swiglu --context 16 --kv-heads 1 "
   "--head-dim 6 --tied 0 --norm-eps 1e-06 --rope-base 10000"},
  {"llama",
   "`head_dim`: null, `rope_scaling`: null, `hidden_act`: `gelu`, "
   "`rope_theta`: 500000.0",
   "--head-dim 6 --act geglu --rope-base 500000"},
  {"llama", "`rope_scaling`: {`type`: `linear`, `factor`: 4, `rope_theta`: 9}",
   "--rope-scaling linear --rope-factor 4 --rope-base 9"},
  {"llama",
   "`rope_scaling`: {`rope_type`: `llama3`, `factor`: 8.0, "
   "`low_freq_factor`: 1.5, `high_freq_factor`: 5, "
   "`original_max_position_embeddings`: 64}",
   "--rope-high 5"},
  {"llama",
   "`rope_parameters`: {`rope_type`: `llama3`, `factor`: 8.0, "
   "`low_freq_factor`: 1.5, `high_freq_factor`: 5, "
   "`original_max_position_embeddings`: 64}",
   "--rope-original 64"},
  {"llama",
   "`pretraining_tp`: 2, `eos_token_id`: [1, 2], `rope_interleaved`: null, "
   "`unsloth_fixed`: true, `unsloth_version`: `2024.9`", "--rope-pairing half"},
  {"mistral", "", "--window 4096"},
  {"mistral", "`sliding_window`: null", "--window 0"},
  {"mistral", "`sliding_window`: 5", "--window 5"},
  {"jamba", "",
   "--pos none --attention-period 2 --attention-offset 0 --mamba-inner 24 "
   "--mamba-state 4 --mamba-conv 3 --mamba-rank 5 --experts 3 --expert-top 2 "
   "--expert-period 2 --expert-offset 1"},
  {"jamba", "`auto_map`: {`AutoModel`: `x.y`}, `num_experts_per_tok`: 1",
   "--expert-top 1"}};

/* A key and its value that are refused: what it has to be, or nothing for one
 * that is not read. */
static const char *const KEYS_REFUSED[] = {
  "gpt2 layer_norm_epsilon 0.00000000000000000000000000000000000000001 "
  "a number",
  "gpt2 rope_theta 5",
  "gpt_neox rope_parameters {`partial_rotary_factor`:1.5} |a number of 0 to 1",
  "gpt2 activation_function 1 silu",
  "llama rope_parameters {`rope_type`:`dynamic`} |found dynamic",
  "gpt2 activation_function `quick_gelu` silu, swish",
  "mistral attention_bias true false",
  "gpt2 tie_word_embeddings false |lm_head.weight [11,12]",
  "gpt2 add_cross_attention true false",
  "gpt2 add_cross_attention `false` false without quotes",
  "mistral sliding_window 0 an integer",
  "gpt2 tie_word_embeddings 1 true or false",
  "jamba num_experts_per_tok 4 |--expert-top 4 exceeds",
  "gpt2 layer_norm_epsilon -1 a number of 0 to 1",
  "llama partial_rotary_factor 0.5 1, found 0.5",
  "gpt2 quantization_config {`bits`:4} null",
  "llama rope_scaling `yarn` of type default",
  "gpt2 scale_attn_weights 0 true, found 0",
  "gpt2 layer_norm_epsilon `1e-5` a number",
  "gpt2 scale_attn_weights false true",
  "jamba mamba_inner_layernorms false true",
  "gpt2 is_encoder_decoder true false",
  "jamba mamba_expand 2.5 an integer",
  "gpt2 num_attention_heads 1",
  "llama rope_parameters `yarn`",
  "llama sliding_window 5",
  "gpt_neox rope_parameters {`rope_type`:`yarn`,`factor`:4,"
  "`partial_rotary_factor`:0.4,`original_max_position_embeddings`:16} "
  "|linear or llama3, found yarn",
  "gpt_neox rope_parameters {`partial_rotary_factor`:0.5} |be an even number",
  "gpt_neox tie_word_embeddings true |embed_out.weight to be the",
  "llama attention_multiplier 0.5",
  "gpt_neox attention_bias false |attention.dense.bias too",
  "jamba sliding_window 5 null, found 5",
  "gpt_neox partial_rotary_factor 0.5 0.4, found 0.5",
  "llama head_dim 8 |q_proj.weight of [16,12]",
  "gpt_neox rope_theta 500 10000, found 500",
  "llama mlp_bias true |gate_proj.bias [20]",
  "opt enable_bias false |found decoder.layers.0.fc1.bias too",
  "llama rope_interleaved true false",
  "opt layer_norm_elementwise_affine false true",
  "llama rope_scaling {`factor`:4} |a rope_type in rope_scaling, found none",
  "opt pruned_heads {`1`:[0]}",
  "llama rope_parameters [1]",
  "jamba num_local_experts 3",
  "llama rope_scaling {`type`:`default`},`rope_parameters`:{`rope_theta`:5} "
  "|rope_parameters to be",
  "llama rope_scaling {`type`:`default`,`mrope_section`:[1]} "
  "|found mrope_section: a",
  "llama rope_scaling {`type`:`default`,`partial_rotary_factor`:0.5} "
  "|to be 1, found",
  "llama rope_parameters {`full_attention`:{`rope_theta`:5}} "
  "|_attention to be null",
  "llama rope_scaling {`type`:`dynamic`,`factor`:4} |dynamic. Try: default there",
  "llama clip_qkv 8",
  "llama rope_parameters false",
  "mistral rope_parameters {`rope_type`:`longrope`} |found longrope",
  "llama rope_scaling {`type`:`linear`} |rope_scaling.factor to be",
  "llama rope_scaling {} |a rope_type in rope_scaling, found none",
  "llama a\\u0000 8 |found a: 8",
  "llama rope_scaling {`type`:`yarn`,`factor`:4} |original_max",
  "llama final_logit_softcapping 30",
  "llama partial_rotary_factor `1` 1 without quotes",
  "llama attention_bias true |q_proj.bias [12]",
  "mistral layer_types [1]",
  "jamba mamba_conv_bias false true",
  "jamba mamba_proj_bias true false",
  "jamba hidden_act `gelu` silu, found gelu",
  "jamba sliding_window `null` null without"};

/* Whole files that are no config of a model. */
#define LLAMA_SO_FAR(more) "{`model_type`: `llama`" more "}"
static const char *const NO_CONFIGS[][2] = {
  {"{}", "olmo2, olmo3 or gpt_oss, found none"},
  {"{`model_type`: `gpt2 `}", "found gpt2 "},
  {"{`model_type`: `qwen4`}", "found qwen4"},
  {"{`model_type`: 1}", "found 1"},
  {"{`architectures`: [`BertModel`]}", "found BertModel"},
  {"{`architectures`: []}", "found none"},
  {LLAMA_SO_FAR(""),
   "vocab_size to be an integer of 1 to 16000000, found none"},
  {LLAMA_SO_FAR(", `vocab_size`: 0"), "integer"},
  {LLAMA_SO_FAR(", `vocab_size`: 1.5"), "integer"},
  {LLAMA_SO_FAR(", `vocab_size`: 1e300"), "integer"},
  {LLAMA_SO_FAR(", `vocab_size`: [1]"), "list"},
  {LLAMA_SO_FAR(", `vocab_size`: 5"), "expected num_hidden_layers to be"},
  {LLAMA_SO_FAR(", `vocab_size`: 5, `num_hidden_layers`: 1"),
   "expected num_attention_heads to be"},
  {"{`model_type`: `gpt2`, `vocab_size`: 5, `n_layer`: 1, `n_head`: 3, "
   "`n_embd`: 4, `n_positions`: 2}",
   "that sink supports, found --heads does not divide --dim"}};

/* A folder with a family's model and its config, which begins with
 * this text. */
static void facts_given(Test *t, const char *family, const char *text) {
  const char *like = strcmp(family, "mistral") ? family : "llama";
  char config[1500];
  published_write(t, DOWNLOAD "/model.safetensors", like, "BF16", 0, 1, NULL,
                  "");
  snprintf(config, sizeof config, "{%s%s%s", text, *text ? ", " : "",
           CONFIGS_OF[family_of(family)] + 1);
  text_file(t, DOWNLOAD "/config.json", config);
}

/* A value of config.json becomes a flag. */
static void hf__facts(Test *t) {
  if (!begun(t))
    return;
  EACH (i, FACTS_TAKEN) {
    facts_given(t, FACTS_TAKEN[i].family, FACTS_TAKEN[i].text);
    if (!hf_does(t, IMPORT))
      return;
    flags_hold(t, SCRATCH "/x.model", FACTS_TAKEN[i].text,
               FACTS_TAKEN[i].flags);
  }
}

/* What a key that config.json lacks counts as. */
static void family_read__defaults(Test *t) {
  static const struct {
    const char *text, *flags[10];
  } ROWS[] = {
    {"{`model_type`: `jamba`, `vocab_size`: 5, `num_hidden_layers`: 8, "
     "`num_attention_heads`: 2, `hidden_size`: 8, `intermediate_size`: 8, "
     "`max_position_embeddings`: 16}",
     {"attention-period 8", "attention-offset 4", "mamba-state 16",
      "mamba-conv 4", "mamba-inner 16", "experts 16", "expert-top 2",
      "expert-period 2", "expert-offset 1"}},
    {"{`model_type`: `gpt_neox`, `vocab_size`: 5, `num_hidden_layers`: 1, "
     "`num_attention_heads`: 2, `hidden_size`: 16, `intermediate_size`: 8, "
     "`max_position_embeddings`: 16}",
     {"norm-eps 1e-05", "rotary-dims 2"}}};
  EACH (i, ROWS) {
    Json j = {0};
    Settings s;
    char text[400], is[PATH_ROOM], flag[32];
    snprintf(text, sizeof text, "%s", ROWS[i].text);
    unticked(text, strlen(text));
    fact(t,
         !json_read(&j, (const unsigned char *)text, strlen(text), "x",
                    fresh(t)) &&
             family_read(&j, &s, &t->e),
         "%s", t->e.text);
    for (int k = 0; k < 10 && ROWS[i].flags[k] && !t->e.status; k++) {
      sscanf(ROWS[i].flags[k], "%31s", flag);
      option_text(option_find(flag, MODEL), &s, is, sizeof is);
      fact(t, !strcmp(is, strchr(ROWS[i].flags[k], ' ') + 1), "--%s: %s",
           ROWS[i].flags[k], is);
    }
    json_free(&j);
  }
}

/* Rows "model key value what it has to be", each in a folder that `given`
 * makes. After | stands what is said instead; where nothing follows, the key is
 * one that nobody reads. */
static void keys_refused(Test *t, const char *const *row, size_t n,
                         const char *words,
                         void (*given)(Test *, const char *, const char *)) {
  for (size_t i = 0; i < n; i++) {
    char of[16], key[48], value[160], wanted[64] = "", text[224];
    sscanf(row[i], "%15s %47s %159s %63[^\n]", of, key, value, wanted);
    snprintf(text, sizeof text, "`%s`: %s", key, value);
    given(t, of, text);
    snprintf(text, sizeof text, *wanted ? "%s to be %s" : "found %s: ", key,
             wanted);
    sink_fails(t, words, 1, *wanted == '|' ? wanted + 1 : text);
  }
}

/* A value that has no flag is refused by its name, and so is a file that is
 * no config. */
static void hf__facts_refused(Test *t) {
  if (!begun(t))
    return;
  keys_refused(t, KEYS_REFUSED, sizeof KEYS_REFUSED / sizeof *KEYS_REFUSED,
               IMPORT, facts_given);
  /* neighbours in the list of keys that change nothing */
  facts_given(t, "llama", "`use_cache is_decoder`: 5");
  sink_fails(t, IMPORT, 1, "found use_cache is_decoder: 5");
  EACH (i, NO_CONFIGS) {
    text_file(t, DOWNLOAD "/config.json", NO_CONFIGS[i][0]);
    sink_fails(t, IMPORT, 1, NO_CONFIGS[i][1]);
  }
}

/* NaN and infinity are refused by the tensor's name. A tied unembedding holds
 * the same numbers. */
static void hf__finite(Test *t) {
  static const struct {
    const char *family, *dtype, *end;
    size_t n;
    const char *said;
  } ROWS[] = {
    {"gpt2", "F32", "\1\0\x80\x7F", 4, "ln_f.bias"},
    {"opt", "F16", "\1\xFE", 2, "norm.bias"},
    {"gpt_neox", "F16", "\0\x7C", 2, "embed_out.weight"},
    {"llama", "BF16", NULL, 264, ""},
    {"jamba", "BF16", "\x80\xFF", 2, "lm_head.weight"}};
  static const char TIED[] = "{`model_type`: `llama`, "
                             "`tie_word_embeddings`: true, " LLAMA_SHAPE "}";
  const char *path = DOWNLOAD "/model.safetensors";
  if (!begun(t))
    return;
  for (int i = 0; i < 10; i++) {
    const char *end = ROWS[i / 2].end;
    const char *words = i % 2 ? IMPORT " --link" : IMPORT;
    const char *config = CONFIGS_OF[family_of(ROWS[i / 2].family)];
    text_file(t, DOWNLOAD "/config.json", end ? config : TIED);
    published_write(t, path, ROWS[i / 2].family, ROWS[i / 2].dtype, 0, 1, NULL,
                    "");
    /* over the last numbers: `end`, or the first ones, which are wte's */
    Bytes *b = file_of(t, path);
    const void *over = end;
    if (!end)
      over = b->at + 8 + number_at(b->at, 8);
    memcpy(b->at + b->size - ROWS[i / 2].n, over, ROWS[i / 2].n);
    bytes_file(t, path, b);
    if (end)
      sink_fails(t, words, 1, ROWS[i / 2].said);
    else
      hf_does(t, words);
  }
  /* a first number, and an unembedding that is not tied */
  text_file(t, DOWNLOAD "/config.json", CONFIGS_OF[0]);
  published_write(t, path, "gpt2", "F32", 0, 1, NULL, "");
  Bytes *b = file_of(t, path);
  memcpy(b->at + 8 + number_at(b->at, 8), "\0\0\xC0\x7F", 4);
  bytes_file(t, path, b);
  sink_fails(t, IMPORT, 1, "expected finite numbers in wte.weight");
  text_file(t, DOWNLOAD "/config.json", TIED);
  published_write(t, path, "llama", "BF16", 0, 1, NULL, "");
  sink_fails(t, IMPORT, 1, "to be the embedding, to which");
}

/* Every tensor is accounted for by name, and a refusal leaves what stood
 * at --out. */
static void hf__accounts(Test *t) {
#define TOO(name, dtype) NULL, MORE(name, dtype), "found " name " too"
  static const struct { const char *family, *without, *more, *said; } ROWS[] = {
    {"gpt2", "wpe.weight", "",
     "expected tensor transformer.wpe.weight [16,12], found none"},
    {"gpt2", "h.1.mlp.c_fc.bias", "",
     "expected tensor transformer.h.1.mlp.c_fc.bias [20]"},
    {"gpt2", TOO("h.2.attn.c_attn.bias", "F32")},
    {"gpt2", TOO("h.2.attn.bias", "U8")},
    {"gpt2", TOO("h.01.attn.bias", "U8")},
    {"gpt2", TOO("h.0.attn.bias.x", "U8")},
    {"gpt2", TOO("h..attn.bias", "U8")},
    {"gpt2", TOO("score.weight", "F32")},
    {"gpt2", TOO("layers.0.attention.bias", "U8")},
    {"gpt_neox", TOO("h.0.attn.bias", "U8")},
    {"gpt2", NULL, MORE("transformer.wte.weight", "F32"),
     "transformer.wte.weight of [11,12], found [0]"},
    {"gpt2", "wte.weight", MORE("wte.weight", "I8"),
     "wte.weight of [11,12], found [0]"},
    {"gpt_neox", NULL, MORE("gpt_neox.layers.1.attention.dense_bias", "F32"),
     "dense_bias too"},
    {"gpt_neox", "embed_out.weight", "",
     "expected tensor embed_out.weight [11,12]"},
    {"opt", TOO("decoder.final_layer_norm.weight", "F32")},
    {"llama", TOO("model.layers.9999999999.self_attn.rotary_emb.inv_freq",
                  "F32")},
    {"jamba", TOO("model.layers.1.feed_forward.experts.3.up_proj.weight",
                  "F32")},
    {"jamba", "model.layers.1.feed_forward.experts.2.up_proj.weight", "",
     "expected tensor model.layers.1.feed_forward.experts.2.up_proj.weight "
     "[20,12]"}};
  if (!begun(t))
    return;
  text_file(t, SCRATCH "/x.model", "mine");
  EACH (i, ROWS) {
    text_file(t, DOWNLOAD "/config.json",
              CONFIGS_OF[family_of(ROWS[i].family)]);
    published_write(t, DOWNLOAD "/model.safetensors", ROWS[i].family, "F32", 0,
                    1, ROWS[i].without, ROWS[i].more);
    sink_fails(t, IMPORT, 1, ROWS[i].said);
  }
  text_file(t, DOWNLOAD "/config.json", CONFIGS_OF[0]);
  published_write(t, DOWNLOAD "/model.safetensors", "gpt2", "I32", 0, 1, NULL,
                  "");
  sink_fails(t, IMPORT, 1, "in F32, F16 or BF16, found I32");
  published_write(t, DOWNLOAD "/model.safetensors", "gpt2", "F64", 0, 1, NULL,
                  "");
  sink_fails(t, IMPORT, 1, "in F32, F16 or BF16, found F64");
  fact(t,
       !strcmp(text_in(t, SCRATCH "/x.model"), "mine") &&
           file_missing(SCRATCH "/x.model.new"),
       "--out has changed");
}

/* llama2.c's tensors, in the file's order. */
enum { C2 = 8, F2 = 12, L2 = 2, H2 = 4, K2 = 2, V2 = 10, CONTEXT2 = 6 };
static const struct {
  const char *ours;
  int in, out, copies;   /* a copy is [out,in] */
} BIN_ORDER[] = {
  {"wte", V2, C2, 1}, {"norm1", 1, C2, L2}, {"wq", C2, C2, L2},
  {"wk", C2, C2 / H2 * K2, L2}, {"wv", C2, C2 / H2 * K2, L2},
  {"wo", C2, C2, L2}, {"norm2", 1, C2, L2}, {"w1", C2, F2, L2},
  {"w3", F2, C2, L2}, {"w2", C2, F2, L2}, {"normf", 1, C2, 1},
  {"", CONTEXT2, C2 / H2, 1}, {"wcls", C2, V2, 1}};

/* Such a file, its numbers 0.5, 1.5, .. in the order of the file. */
static void bin_bytes(Bytes *b, bool tied, Error *e) {
  const int32_t head[7] = {C2, F2, L2, H2, K2, tied ? V2 : -V2, CONTEXT2};
  float value = 0.5f;
  for (int i = 0; i < 7; i++)
    bytes_number(b, (uint32_t)head[i], 4, e);
  for (int i = 0; i < 13 - tied; i++)
    for (int n = BIN_ORDER[i].copies * BIN_ORDER[i].in * BIN_ORDER[i].out;
         n > 0; n--)
      bytes_number(b, bits_of(value++), 4, e);
}

/* The model that bin_bytes has a file of: its numbers are `value`, `value` + 1,
 * .. in the file's order. */
static void bin_holds(Test *t, const Model *m, bool tied, float value) {
  idx seen = 0;
  for (int i = 0; i < 13 - tied; i++)
    for (int l = 0; l < BIN_ORDER[i].copies; l++) {
      char name[32] = "";
      int in = BIN_ORDER[i].in, out = BIN_ORDER[i].out;
      if (BIN_ORDER[i].copies > 1)
        snprintf(name, sizeof name, "l%d.", l);
      strcat(name, BIN_ORDER[i].ours);
      const Tensor *x = model_tensor(m, name);
      fact(t, !x == !*name, "no %s", name);
      for (int k = 0; x && k < in * out; k++) {
        /* wte is [V,C] in both; the others are turned */
        idx at = i == 0 ? k : (idx)(k % in) * out + k / in;
        real is = x->w[at];
        fact(t, is == (real)(value + (float)k), "%s: %g at %d", name,
             (double)is, k);
      }
      value += (float)(in * out);
      seen += x ? tensor_count(x) : 0;
    }
  fact(t, seen == m->count, "%lld numbers of %lld", (long long)seen,
       (long long)m->count);
}

/* llama2.c's file: its header and its order. */
static void hf__llama2c(Test *t) {
  if (!begun(t))
    return;
  for (int tied = 0; tied < 2; tied++) {
    Bytes b = {0};
    Error e = {0};
    Trainer r;
    bin_bytes(&b, tied, &e);
    bytes_file(t, SCRATCH "/x.bin", &b);
    text_file(t, SCRATCH "/x.model.tok", "an older one's");
    if (!hf_does(t, SCRATCH "/x.bin --force --out " SCRATCH "/x.model") ||
        failed(t, "x.bin", checkpoint_load(SCRATCH "/x.model", false, &r, &e),
               &e))
      return;
    const Config *c = &r.m.c;
    fact(t,
         c->dim == C2 && c->ffn == F2 && c->layers == L2 && c->heads == H2 &&
             c->kv_heads == K2 && c->vocab == V2 && c->context == CONTEXT2 &&
             c->tied == tied && c->rope_pairing == PAIR_INTERLEAVED &&
             c->pos == POS_ROTARY && c->act == ACT_SWIGLU &&
             c->norm == NORM_RMS && c->norm_eps == 1e-5 &&
             c->rope_base == 10000,
         "another model");
    fact(t, file_missing(SCRATCH "/x.model.tok"), "an older vocabulary stays");
    bin_holds(t, &r.m, tied, 0.5f);
    trainer_free(&r);
  }
}

#define MAKE_Y SCRATCH "/x.bin --out " SCRATCH "/y.model"

/* What is a file, and no llama2.c's. */
static void llama2c_others(Test *t) {
  static const char ONE[] = "found one file of a folder";
  static const char *const TEXTS[][2] = {
    {"PK\003\004 and twenty-four bytes more", ONE},
    {"short", "x.bin: expected a folder"},
    {"{\"metadata\": \"twenty-four bytes more\"}", ONE}};
  /* of a shard: its header's length, and that */
  static const char SHARD[40] = "\30\0\0\0\0\0\0\0{\"a\": {\"dtype\": \"F32\"}}";
  EACH (i, TEXTS) {
    text_file(t, SCRATCH "/x.bin", TEXTS[i][0]);
    sink_fails(t, MAKE_Y, 1, TEXTS[i][1]);
  }
  file_write(SCRATCH "/x.bin", SHARD, sizeof SHARD, fresh(t));
  sink_fails(t, MAKE_Y, 1, ONE);
}

/* A number of its head that cannot be, a byte too many or too few, and
 * other files. */
static void hf__llama2c_refuses(Test *t) {
  static const struct {
    int at, value, more;
    const char *said;
  } WRONG[] = {
    {0, C2, 1, "bytes for the shape in its header"},
    {4, 0, 0, "expected kv-heads of 1"},
    {0, C2, -4, "bytes for the shape"},
    {6, 1 << 30, 0, "expected context"},
    {0, 0, 0, "expected dim of 1 to 1000000 in"},
    {5, -2147483647 - 1, 0, "expected vocab"},
    {0, -C2, 0, "expected dim"},
    {4, 3, 0, "expected heads that"},
    {5, 0, 0, "expected vocab"},
    {0, 0x616B3432, 0,
     "expected version 0 of llama2.c's format, found a later one"},
    {1, 0, 0, "expected ffn"},
    {2, 1 << 20, 0, "expected layers"},
    {2, '{', 0, "bytes for the shape"},   /* 123 layers */
    {3, 6, 0, "expected heads that"},
    {6, CONTEXT2 + 1, 0, "bytes for the shape"},
    {5, V2, 0, "bytes for the shape"}};
  Bytes *b = bytes_of(t), *bad = bytes_of(t);
  Error e = {0};
  if (!begun(t))
    return;
  bin_bytes(b, false, &e);
  EACH (i, WRONG) {
    bad->size = 0;
    bytes_add(bad, b->at, b->size, &e);
    for (int k = 0; k < 4; k++)
      bad->at[4 * WRONG[i].at + k] = ((uint32_t)WRONG[i].value >> 8 * k) & 0xFF;
    if (WRONG[i].more > 0)
      bytes_add(bad, "", 1, &e);
    file_write(SCRATCH "/x.bin", bad->at,
               bad->size - (WRONG[i].more < 0 ? 4 : 0), &e);
    sink_fails(t, MAKE_Y, 1, WRONG[i].said);
  }
  /* a tokenizer that is named has to be one */
  file_write(SCRATCH "/x.bin", b->at, b->size, &e);
  text_file(t, SCRATCH "/x.json", "{");
  sink_fails(t, MAKE_Y " --tokenizer " SCRATCH "/x.json", 1,
             "x.json: expected");
  sink_fails(t, MAKE_Y " --tokenizer " SCRATCH "/none", 1,
             "none: No such file or directory. Try: check the path");
  no_error(t, &e);
  llama2c_others(t);
  sink_fails(t, SCRATCH "/none --out " SCRATCH "/y.model", 1,
             "found none. Try: check the path");
  fact(t, file_missing(SCRATCH "/y.model"), "something was written");
}

/* -----------------------------------------------------------------------------
 * 4  [T8] Published models: tiny ones of every family, as the library that
 *    publishes them writes them, imported by ./hf and held against what that
 *    library computes. golden/hf_tiny.py, which wrote hf_tiny.txt, states its
 *    format and how a tensor's numbers follow from its name. */

/* A tensor of a published file. */
typedef struct Listed {
  char name[96], dtype[8];
  int rank, dim[4];
  idx count;
} Listed;

/* Where a case's lines are. */
typedef struct TinyCase {
  char name[40];
  uint64_t k;
  int configs, layouts;
  const char *config[2];   /* a config.json, to the end of its line */
  Golden layout[2], runs;
} TinyCase;

/* The next word of a "file" line. */
static bool listed_read(Golden *g, Listed *x) {
  int used = 0;
  *x = (Listed){.count = 1};
  if (sscanf(g->at, " %95[^: \n]:%7[A-Z0-9]:%n", x->name, x->dtype, &used) !=
          2 ||
      !used) {
    fail(&g->e, 1, TINY ":%d: expected NAME:DTYPE:DIMS, found \"%.40s\"",
         g->line, g->at);
    return false;
  }
  for (g->at += used; *g->at >= '0' && *g->at <= '9' && x->rank < 4;
       x->rank++) {
    char *end;
    x->dim[x->rank] = (int)strtol(g->at, &end, 10);
    x->count *= x->dim[x->rank];
    g->at = end + (*end == ',');
  }
  return true;
}

/* Its numbers u [count] in case k, not yet rounded. */
static void listed_draw(const Listed *x, uint64_t k, double *u) {
  static const char *const EMBEDDINGS[] = {"wte", "wpe", "embed_tokens",
                                           "embed_positions", "embed_in"};
  bool embedding = false, vector = x->rank == 1;
  for (int i = 0; i < 5; i++)
    embedding = embedding || strstr(x->name, EMBEDDINGS[i]);
  int inputs = x->rank ? x->dim[strstr(x->name, ".c_") ? 0 : x->rank - 1] : 1;
  Rng r = {hash64(k, x->name, strlen(x->name))};
  for (idx i = 0; i < x->count; i++) {
    double v = rng_uniform(&r), w = 2 * v - 1;
    if (!strcmp(x->dtype, "BOOL"))
      u[i] = v < 0.5;
    else if (!strcmp(x->dtype, "U8"))
      u[i] = ends(x->name, "scales") ? 122 + floor(6 * v) : 256 * v;
    else if (embedding)
      u[i] = w;
    else if (ends(x->name, "dt_proj.bias"))
      u[i] = w - 1.5;
    else if (ends(x->name, "A_log"))
      u[i] = 0.375 + w;
    else if (vector && ends(x->name, ".weight") && k < 1000)
      u[i] = 1 + w / 2;
    else if (vector && ends(x->name, ".weight"))
      u[i] = 1 + floor(w * 512) / 1024;   /* by steps, from K = 1000 on */
    else if (vector && ends(x->name, ".bias"))
      u[i] = w / 2;
    else
      u[i] = x->rank > 1 ? w * (2 / sqrt(inputs)) : w;
  }
}

/* How many bytes hold a number of this type. */
static int dtype_bytes(const char *dtype) {
  if (!strcmp(dtype, "F32"))
    return 4;
  return !strcmp(dtype, "BOOL") || !strcmp(dtype, "U8") ? 1 : 2;
}

/* u as this type has it, to the nearest, ties to even. */
static uint64_t dtype_bits(const char *dtype, double u) {
  const float f = (float)u;
  const uint32_t bits = bits_of(f);
  int e;
  if (dtype_bytes(dtype) == 1)
    return (uint64_t)u;
  if (dtype_bytes(dtype) == 4)
    return bits;
  if (!strcmp(dtype, "BF16"))
    return (bits + 0x7FFF + (bits >> 16 & 1)) >> 16;
  /* steps of 2^(e - 11), or 2^-24 */
  frexp(f, &e);
  e = e - 11 > -24 ? e - 11 : -24;
  return (bits >> 31 << 15) + (uint64_t)(e + 24) * 1024 +
         (uint64_t)nearbyint(ldexp(fabs(f), -e));
}

/* The file of one line into FOLDER, as the library wrote it; its tensors into
 * the index. */
static void tiny_file(Golden *g, Test *t, uint64_t k, Bytes *index) {
  char file[64] = "", path[256];
  unsigned long long sum = 0;
  int used = 0;
  Listed x;
  Bytes head = {0}, body = {0};
  Error e = {0};
  if (sscanf(g->at, "file %63s %16llx%n", file, &sum, &used) != 2) {
    fail(&g->e, 1, TINY ":%d: expected \"file NAME HASH64\", found \"%.40s\"",
         g->line, g->at);
    return;
  }
  bytes_number(&head, 0, 8, &e);
  bytes_print(&head, &e, "{\"__metadata__\":{\"format\":\"pt\"}");
  for (g->at += used; *g->at == ' ' && listed_read(g, &x);) {
    double *u = room(x.count);
    size_t begin = body.size;
    listed_draw(&x, k, u);
    for (idx i = 0; i < x.count; i++)
      bytes_number(&body, dtype_bits(x.dtype, u[i]), dtype_bytes(x.dtype), &e);
    bytes_print(&head, &e, ",\"%s\":{\"dtype\":\"%s\",\"shape\":[", x.name,
                x.dtype);
    for (int i = 0; i < x.rank; i++)
      bytes_print(&head, &e, "%s%d", i ? "," : "", x.dim[i]);
    bytes_print(&head, &e, "],\"data_offsets\":[%zu,%zu]}", begin, body.size);
    bytes_print(index, &e, "%s\n\"%s\": \"%s\"", index->size ? "," : "", x.name,
                file);
    free(u);
  }
  bytes_print(&head, &e, "}");
  while (head.size % 8)
    bytes_add(&head, " ", 1, &e);
  for (int i = 0; i < 8; i++)
    head.at[i] = (unsigned char)((head.size - 8) >> 8 * i);
  bytes_add(&head, body.at, body.size, &e);
  uint64_t ours = hash64(0, head.at, head.size);
  fact(t, ours == sum,
       TINY ":%d: %s has hash %016llx, the library's has %016llx", g->line,
       file, (unsigned long long)ours, sum);
  snprintf(path, sizeof path, FOLDER "/%s", file);
  fact(t, !file_write(path, head.at, head.size, &e), "%s", e.text);
  bytes_free(&head);
  bytes_free(&body);
  golden_words(g, "\n");
  g->line++;
}

/* FOLDER with the model of a case in one layout and under one config. */
static void tiny_write(Test *t, const TinyCase *c, int layout, int config) {
  Golden g = c->layout[layout];
  Bytes *index = bytes_of(t), *text = bytes_of(t);
  Error e = {0};
  int files = 0;
  scratch_open();
  for (; !strncmp(g.at, "file ", 5) && !g.e.status; files++)
    tiny_file(&g, t, c->k, index);
  if (files > 1) {
    bytes_print(text, &e, "{\"metadata\": {}, \"weight_map\": {");
    bytes_add(text, index->at, index->size, &e);
    bytes_print(text, &e, "\n}}\n");
    file_write(FOLDER "/model.safetensors.index.json", text->at, text->size,
               &e);
  }
  text->size = 0;
  bytes_add(text, c->config[config], strcspn(c->config[config], "\n"), &e);
  file_write(FOLDER "/config.json", text->at, text->size, &e);
  fact(t, files > 0 && !g.e.status && !e.status, "%s: %s%s", c->name, g.e.text,
       e.text);
}

/* Goes to the next line. */
static void golden_skip(Golden *g) {
  g->at += strcspn(g->at, "\n");
  g->at += *g->at == '\n';
  g->line++;
}

/* The next case; g is then after it. false at the end of the text. */
static bool tiny_next(Golden *g, TinyCase *c) {
  unsigned long long k;
  *c = (TinyCase){0};
  while (*g->at && strncmp(g->at, "case ", 5))
    golden_skip(g);
  if (sscanf(g->at, "case %39s %llu", c->name, &k) != 2)
    return false;
  c->k = k;
  golden_skip(g);
  for (; !strncmp(g->at, "config ", 7) && c->configs < 2; golden_skip(g))
    c->config[c->configs++] = g->at + 7;
  for (; !strncmp(g->at, "layout", 6) && c->layouts < 2; c->layouts++) {
    golden_skip(g);
    c->layout[c->layouts] = *g;
    while (!strncmp(g->at, "file ", 5))
      golden_skip(g);
  }
  c->runs = *g;
  while (*g->at && strncmp(g->at, "case ", 5))
    golden_skip(g);
  return c->configs && c->layouts && !strncmp(c->runs.at, "run ", 4);
}

/* The runs of a case, by the model that was imported of it. */
static void tiny_runs(Golden *g, Test *t, Model *m, uint64_t k, double *most) {
  Error e = {0};
  int T, used, ids[32], V = m->c.vocab;
  while (sscanf(g->at, "run %d :%n", &T, &used) == 1 && T > 0 && T <= 32 &&
         !g->e.status) {
    double id[32];
    Acts a = {0};
    idx map = (idx)m->c.heads * T * config_columns(&m->c, T);
    g->at += used;
    if (!golden_numbers(g, T, id))
      return;
    for (int i = 0; i < T; i++)
      ids[i] = (int)id[i];
    real *maps = reals(2 * m->c.layers * map), *logits = reals(T * V);
    Probe *probe = zeroed(m->c.layers, sizeof *probe);
    for (int l = 0; l < m->c.layers; l++)
      probe[l] = (Probe){.weight = maps + 2 * l * map,
                         .metric = maps + (2 * l + 1) * map};
    if (!acts_create(&a, m, 1, T, ACTS_ALL, &e)) {
      const TinyRun run = {m, &a, ids, T, logits, k};
      a.probe = probe;
      model_forward(m, &a, ids, 1, T);
      model_logits(m, &a, a.nf, T, logits);
      model_fault(m, &e);
      while (tiny_line(g, &run, most)) {
      }
    }
    fact(t, !e.status && !g->e.status, "%s%s", e.text, g->e.text);
    acts_free(&a);
    free(maps);
    free(logits);
    free(probe);
    if (e.status)
      return;
  }
}

/* A fault in the model of a case: other flags; or of these tensors of every
 * block, side by side, output (input) number i is what number from(i) of n was;
 * from NULL: the matrix is turned. */
typedef struct Fault {
  const char *name, *flags, *outputs, *inputs;
  int (*from)(int i, int n);
} Fault;

/* q, k and v of 3 heads of 8, side by side, taken as if head by head. */
static int by_head(int i, int n) {
  (void)n;
  return i / 8 % 3 * 24 + i / 24 * 8 + i % 8;
}

/* q, k and v of 4 heads of 10, head by head, taken as if side by side. */
static int by_thirds(int i, int n) {
  (void)n;
  return i / 10 % 3 * 40 + i / 30 * 10 + i % 10;
}

/* Rows of positions that begin two too late. */
static int two_later(int i, int n) {
  (void)n;
  return i < 2 ? i : i - 2;
}

/* Rotary pairs in a head of 8: of neighbours instead of halves, or turned the
 * other way. */
static int neighbours(int i, int n) {
  (void)n;
  return i / 8 * 8 + i % 4 * 2 + i % 8 / 4;
}
static int other_way(int i, int n) {
  (void)n;
  return i / 8 * 8 + (i + 4) % 8;
}

/* 4 query heads of 8, of which every second shares a key head. */
static int groups(int i, int n) {
  (void)n;
  return (i / 16 + i / 8 % 2 * 2) * 8 + i % 8;
}

static int backwards(int i, int n) { return n - 1 - i; }
static int halves_swapped(int i, int n) { return (i + n / 2) % n; }

/* Of Mamba's r, b and c in one row: 3, 4 and 4 numbers. */
static int b_and_c_swapped(int i, int n) {
  (void)n;
  if (i < 3)
    return i;
  return i < 7 ? i + 4 : i - 4;
}

/* Puts lines of block l in another order; from NULL: turns one
 * square matrix. */
static void fault_lines(Model *m, int l, const char *names, bool inputs,
                        const Fault *f) {
  enum { LINES = 256, LONG = 128 };
  static real was[LINES][LONG];
  struct {
    real *at;
    int step, size;
  } line[LINES];
  int n = 0, used;
  char name[16], whole[32];
  for (; sscanf(names, " %15s%n", name, &used) == 1; names += used) {
    snprintf(whole, sizeof whole, "l%d.%s", l, name);
    const Tensor *x = model_tensor(m, strcmp(name, "wpe") ? whole : name);
    if (!x)
      return;
    const int in = x->rows, out = x->cols, count = inputs ? in : out;
    for (int j = 0; j < count && n < LINES; j++, n++) {
      real *at = x->w;
      line[n].at = inputs ? at + (idx)j * out : at + j;
      line[n].step = inputs ? 1 : out;
      line[n].size = inputs ? out : in;
    }
  }
  for (int k = 0; k < n; k++)
    for (int i = 0; i < line[k].size; i++)
      was[k][i] = line[k].at[i * line[k].step];
  for (int k = 0; k < n; k++)
    for (int i = 0; i < line[k].size; i++) {
      const real moved = f->from ? was[f->from(k, n)][i] : was[i][k];
      line[k].at[i * line[k].step] = moved;
    }
}

/* Other flags are another model, of the same numbers as far as both
 * have them. */
static void fault_make(const Fault *f, Trainer *r, Error *e) {
  if (f->flags) {
    Model was;
    r->s.model = r->m.c;
    settings_flags(&r->s, f->flags, MODEL, e);
    model_move(&was, &r->m);
    model_create(&r->m, &r->s.model, false, e);
    for (int i = 0; i < r->m.n_tensors && !e->status; i++) {
      Tensor *x = r->m.all[i], *from = model_tensor(&was, x->name);
      if (from)
        copy(x->w, from->w, at_most(tensor_count(x), tensor_count(from)));
    }
    model_free(&was);
  }
  const bool once = f->inputs && strstr(f->inputs, "wpe");
  for (int l = 0; l < r->m.c.layers && !(once && l); l++) {
    if (f->outputs)
      fault_lines(&r->m, l, f->outputs, false, f);
    if (f->inputs)
      fault_lines(&r->m, l, f->inputs, true, f);
  }
}

/* Imports FOLDER (words: further flags), and compares what came of it, with its
 * fault if any. */
static Golden tiny_compare(Test *t, const TinyCase *c, const char *words,
                           bool open, const Fault *fault, double *most) {
  Golden g = c->runs;
  Trainer r = {0};
  Error e = {0};
  char all[256];
  snprintf(all, sizeof all, FOLDER " --out " IMPORTED " %s", words);
  g.bound = 1;
  if (hf_does(t, all)) {
    if (open)
      checkpoint_open(IMPORTED, &r, &e);
    else
      checkpoint_load(IMPORTED, false, &r, &e);
    if (fault && !e.status)
      fault_make(fault, &r, &e);
    fact(t, !e.status, "%s: %s", c->name, e.text);
    if (!e.status)
      tiny_runs(&g, t, &r.m, c->k, most);
    trainer_free(&r);
    int lines;
    char last[120];
    if (fault)
      return g;
    fact(t, !checked(t, IMPORTED, last, &lines) && lines >= 5, "%s: %s",
         c->name, last);
  }
  return g;
}

/* Every family and variant, dtype, way to store it, and spelling of its config;
 * imported as a copy whose matrices stay in the file, and as links that are
 * read at once. */
static void library_compare(Test *t, const char *path,
                            const char *const FAMILY[6], int least) {
  Bytes *text = bytes_of(t);
  TinyCase c;
  Golden g = {.path = path, .line = 1};
  double most[6][TINY_KINDS] = {{0}}, worst = 0;
  char what[160] = "";
  int cases = 0, told, imports = 0;
  long numbers = 0;
  if (no_binary(t))
    return;
  fact(t, !golden_read(path, text, &told, &g.e), "%s", g.e.text);
  for (g.at = (const char *)text->at; g.at && tiny_next(&g, &c) && !t->wrong;
       cases++) {
    int f = 0;
    while (f < 5 && strncmp(c.name, FAMILY[f], strlen(FAMILY[f])))
      f++;
    for (int config = 0; config < c.configs; config++)
      for (int layout = 0; layout < c.layouts; layout++)
        for (int link = 0; link < 2 && !t->wrong; link++, imports++) {
          tiny_write(t, &c, layout, config);
          Golden one = tiny_compare(t, &c, link ? "--link" : "", !link, NULL,
                                    most[f]);
          fact(t, one.numbers > 500 && !one.changed,
               "%s, layout %d, config %d: %d of %ld numbers differ; the first: "
               "%s",
               c.name, layout, config, one.changed, one.numbers, one.first);
          numbers += one.numbers;
          if (one.worst > worst) {
            worst = one.worst;
            snprintf(what, sizeof what, "of its bound: %s, %.100s", c.name,
                     one.what);
          }
        }
  }
  fact(t, cases == told && cases >= least, "%d cases of %d", cases, told);
  within(t, worst, 0, 1, "%s", what);
  note(t,
       "%d cases, %d imports, %ld numbers; largest errors of hidden states, "
       "weights, logits:",
       cases, imports, numbers);
  for (int f = 0; f < 6; f++)
    note(t, " %s %.1e %.1e %.1e", FAMILY[f], most[f][0], most[f][1],
         most[f][2]);
}

static void imported__against_library(Test *t) {
  library_compare(t, TINY, NAMES_OF, 28);
}

#define WITH(name, flags) {name, flags, NULL, NULL, NULL}
#define OUTPUTS(name, tensors, from) {name, NULL, tensors, NULL, from}
#include "test_families.c"

/* The comparison with the library sees a fault in the import. */
static void imported__sees_faults(Test *t) {
  static const Fault FAULTS[] = {
    WITH("gpt2", "--act gelu"), WITH("gpt2", "--norm-eps 0.001"),
    OUTPUTS("gpt2", "wo", NULL), OUTPUTS("gpt2", "wq wk wv", by_head),
    WITH("gpt2-inner", "--act gelutanh"),
    WITH("gpt2-inverse", "--no-score-by-layer"),
    OUTPUTS("gpt_neox", "wq wk wv", by_thirds),
    WITH("gpt_neox", "--act gelutanh"), WITH("gpt_neox", "--rotary-dims 4"),
    WITH("gpt_neox", "--place pre"),
    WITH("gpt_neox-sequential", "--place parallel"),
    WITH("gpt_neox-sequential", "--rope-base 5000"),
    {"opt", NULL, NULL, "wpe", two_later},
    {"opt-350m", NULL, NULL, "wpe", two_later},
    WITH("opt", "--act gelu"),
    OUTPUTS("llama", "wq wk", neighbours), OUTPUTS("llama", "wq wk", other_way),
    {"llama", NULL, "wq", "wo", groups},
    OUTPUTS("llama", "w1 w2", halves_swapped),
    WITH("llama", "--norm-eps 0.001"), WITH("llama-linear", "--rope-factor 1"),
    WITH("llama3", "--rope-factor 7"), WITH("llama3", "--rope-low 1.5"),
    WITH("llama3", "--rope-high 3.5"), WITH("llama3", "--rope-original 48"),
    WITH("mistral", "--window 6"), WITH("mistral", "--window 4"),
    {"jamba", NULL, NULL, "m.conv", backwards},
    OUTPUTS("jamba", "m.in", halves_swapped),
    OUTPUTS("jamba", "m.x", b_and_c_swapped),
    OUTPUTS("jamba", "w1 w2", halves_swapped),
    WITH("jamba", "--expert-top 1"), WITH("jamba", "--norm-eps 0.001")};
  faults_try(t, TINY, FAULTS, (int)(sizeof FAULTS / sizeof *FAULTS));
}

/* What eval says of gpt-oss's own logits: their column, and with the row's mass
 * it makes 1. */
static void families__sink_logits(Test *t) {
  char *at;
  double alpha = 0, mass = 0;
  if (no_binary(t))
    return;
  later_given(t, "gpt_oss", "`use_cache`: true");
  if (!hf_does(t, FOLDER_IMPORT))
    return;
  const char *out = said(t, "eval " IMPORTED
                            " --input random --T 24 --n 8 --quiet");
  fact(t,
       (at = strstr(out, "\n* ")) &&
           sscanf(at, "\n* %*s %*s %*s %lf", &alpha) == 1 &&
           (at = strstr(out, "Row mass ")) &&
           sscanf(at, "Row mass %lf", &mass) == 1,
       "%s", out);
  within(t, alpha + mass, 1, 2e-3, "the logits' share and the rest");
  fact(t, alpha > 0.05 && alpha < 0.5, "alpha_* %g", alpha);
}
/* -----------------------------------------------------------------------------
 * 5  Published tokenizers at work, from files made by hand and at random */

#define STORIES "../shared/models/stories260K.bin"
#define STORIES_TOKENS "../shared/models/tok512.bin"

/* A file in the making; tokens and merges in the order of their ids
 * and ranks. */
typedef struct Other {
  int cut, space, flags, n, merges;
  uint64_t end, bos;
  Bytes classes, forms, combining, tokens, spelt, joins;
} Other;

/* Adds a token; returns its id. */
static int other_token(Other *o, int kind, const char *s, size_t n) {
  Error e = {0};
  bytes_number(&o->tokens, (uint64_t)kind, 1, &e);
  bytes_number(&o->tokens, n, 2, &e);
  bytes_add(&o->spelt, s, n, &e);
  return o->n++;
}

/* Adds a merge of two tokens into a third. */
static void other_merge(Other *o, int left, int right, int made, int rank) {
  Error e = {0};
  for (int i = 0; i < 4; i++)
    bytes_number(&o->joins, (uint64_t)(int[]){left, right, made, rank}[i], 4,
                 &e);
  o->merges++;
}

/* Adds a range of characters that have this value. */
static void other_range(Bytes *b, uint64_t first, uint64_t last,
                        uint64_t value) {
  Error e = {0};
  for (int i = 0; i < 3; i++)
    bytes_number(b, (uint64_t[]){first, last, value}[i], 4, &e);
}

/* The 256 bytes, ids 0 to 255, and the classes of a few characters: letters
 * a, U+00E9 (2 bytes), U+5DDD (3), U+1D400 (4); a number U+00BD; white
 * space U+3000. */
static Other other_begin(int cut, int space, int flags) {
  static const unsigned RANGES[][3] = {
    {'\t', '\r', 2}, {' ', ' ', 2}, {'0', '9', 1}, {'A', 'Z', 0}, {'a', 'z', 0},
    {0xBD, 0xBD, 1}, {0xE9, 0xE9, 0}, {0x17F, 0x17F, 0}, {0x3000, 0x3000, 2},
    {0x5DDD, 0x5DDD, 0}, {0x1D400, 0x1D400, 0}};
  Other o = {.cut = cut, .space = space, .flags = flags, .bos = 256};
  for (int b = 0; b < 256; b++) {
    const char c = (char)b;
    other_token(&o, cut == CUT_BESIDE ? KIND_BYTE : KIND_TEXT, &c, 1);
  }
  for (int i = 0; i < 11; i++)
    other_range(&o.classes, RANGES[i][0], RANGES[i][1], RANGES[i][2]);
  other_token(&o, KIND_MARK, "<s>", 3); /* 256 */
  return o;
}

/* The file, its parts freed. */
static void other_end(Other *o, Bytes *out) {
  Error e = {0};
  const uint64_t head[] = {2,
                           (uint64_t)o->n,
                           (uint64_t)o->merges,
                           (uint64_t)o->cut,
                           (uint64_t)o->space,
                           (uint64_t)o->flags,
                           o->end,
                           o->bos,
                           o->classes.size / 12,
                           o->forms.size / 16,
                           o->combining.size / 12,
                           o->spelt.size};
  Bytes *const parts[] = {&o->classes, &o->forms, &o->combining,
                          &o->tokens,  &o->spelt, &o->joins};
  out->size = 0;
  bytes_add(out, "SINKTOK1", 8, &e);
  for (int i = 0; i < 12; i++)
    bytes_number(out, head[i], 4, &e);
  for (int i = 0; i < 6; i++) {
    bytes_add(out, parts[i]->at, parts[i]->size, &e);
    bytes_free(parts[i]);
  }
  bytes_number(out, 0, 8, &e);
  seal(out);
}

/* Ends the file and opens it. */
static bool other_opens(Test *t, Other *o, Tokenizer *k, Encoder *c) {
  Error e = {0};
  Bytes *b = bytes_of(t);
  other_end(o, b);
  *c = k;
  const bool good = !words_read(b->at, b->size, "x", k, &e);
  fact(t, good, "%s", e.text);
  return good;
}

/* Ids as their spellings with | between them; a byte's token in CUT_BESIDE
 * as <XX>. */
static void spelt_out(const Tokenizer *k, const Ids *ids, char *to,
                      size_t room) {
  size_t at = 0, n;
  *to = 0;
  for (size_t i = 0; i < ids->size && at + 40 < room; i++) {
    const unsigned char *s = tokenizer_token(k, ids->at[i], &n);
    if (i)
      at += (size_t)snprintf(to + at, room - at, "|");
    if (k->published->kind[ids->at[i]] == KIND_BYTE)
      at += (size_t)snprintf(to + at, room - at, "<%02X>", s[0]);
    else
      at += (size_t)snprintf(to + at, room - at, "%.*s", (int)n,
                             (const char *)s);
  }
}

/* A text is encoded as these tokens; closes both. */
static void spells(Test *t, Tokenizer *k, Encoder *c, bool open,
                   const char *text, size_t n, const char *wanted) {
  Ids ids = {0};
  Bytes back = {0};
  Error e = {0};
  char found[400];
  if (open) {
    tokenizer_encode(*c, (const unsigned char *)text, n, &ids, &e);
    spelt_out(k, &ids, found, sizeof found);
    tokenizer_decode(k, ids.at, ids.size, &back, &e);
    fact(t, !e.status && !strcmp(found, wanted), "%s: %s, not %s%s", text,
         found, wanted, e.text);
  }
  other_close(k, c);
  ids_free(&ids);
  bytes_free(&back);
}

#define U_E9 "\xC3\xA9"            /* U+00E9 */
#define U_BD "\xC2\xBD"            /* U+00BD */
#define U_3000 "\xE3\x80\x80"      /* U+3000 */
#define U_5DDD "\xE5\xB7\x9D"      /* U+5DDD */
#define U_1D400 "\xF0\x9D\x90\x80" /* U+1D400 */
#define U_17F "\xC5\xBF"           /* U+017F */

/* Every piece of a row is a token and is not merged: the ids show the cuts,
 * found by hand. */
static void pieces__published(Test *t) {
  static const struct {
    int cut;
    const char *pieces;
  } ROWS[] = {
    {CUT_GPT2, "It|'s| 1024|  | km|!"},
    {CUT_GPT2, "a|\n|\n|b|  "},
    {CUT_GPT2, "a|\t|b| |\t|b| |"},
    {CUT_GPT2, "I|'ll| we|'ve| you|'re| I|'m| I|'d|'t"},
    {CUT_GPT2, "\xFF\xC3| a|\xC3(|a|\xE5\xB7"},
    {CUT_GPT2, "I|'|LL| we|'|Ve"},
    {CUT_LLAMA3, "a|  \n\n| | b"},
    {CUT_LLAMA3, "\n|a|\n| a|  "},
    {CUT_GPT2, "'s|'|x|''|"},
    {CUT_GPT2, "a" U_E9 U_5DDD U_1D400 "|" U_BD "12| " U_BD "| " U_E9 "| .|"
     U_3000 "|x"},
    {CUT_GPT2, " \n"},
    {CUT_LLAMA3, "It|'s| |102|4|  | km|!"},
    {CUT_LLAMA3, "a| \r\n \n|\t|\t|1| "},
    {CUT_GPT2, "a|" U_3000 "|b| " U_3000 "| b"},
    {CUT_LLAMA3, "I|'LL| we|'Ve| I|'D|'" U_17F "|x"},
    {CUT_GPT2, "...?!| --|" U_17F "|'|" U_17F},
    {CUT_LLAMA3, "123|456|7|a|" U_BD "12|3"},
    {CUT_LLAMA3, "(a|.b|\tc| ((|a|1|a"},
    {CUT_LLAMA3, "a|!\n\r\n|b| !|a|  |"},
    {CUT_LLAMA3, U_3000 U_5DDD "|" U_3000 U_3000 "| !|" U_E9},
    {CUT_LLAMA3, "''|ss|'|1"}};
  EACH (i, ROWS) {
    Tokenizer k;
    Encoder c;
    char text[200] = "", wanted[200];
    size_t n = 0;
    Other o = other_begin(ROWS[i].cut, SPACE_PLAIN, 1);
    snprintf(wanted, sizeof wanted, "%s", ROWS[i].pieces);
    for (const char *s = ROWS[i].pieces; *s;) {
      const size_t length = strcspn(s, "|");
      bool known = length < 2;
      for (const char *r = ROWS[i].pieces; r < s; r += strcspn(r, "|") + 1)
        known = known || (strcspn(r, "|") == length && !memcmp(r, s, length));
      if (!known)
        other_token(&o, KIND_TEXT, s, length);
      memcpy(text + n, s, length);
      n += length;
      s += length + (s[length] == '|');
    }
    if (wanted[strlen(wanted) - 1] == '|')
      wanted[strlen(wanted) - 1] = 0;
    spells(t, &k, &c, other_opens(t, &o, &k, &c), text, n, wanted);
  }
}

/* Marks, spaces and characters, by hand. Ids of KIND_BYTE show as <XX>. */
static void tokenizer_encode__spaces(Test *t) {
  static const struct {
    int space;
    const char *text, *ids;
  } ROWS[] = {
    {SPACE_EACH, "", ""},
    {SPACE_EACH, "a", " a"},
    {SPACE_EACH, " a", " | a"},
    {SPACE_FIRST, "<s>a", "<s>|a"},
    {SPACE_FIRST, "##a", "##|a"},
    {SPACE_EACH, "\xE2\x96\x81" "a", " | a"},
    {SPACE_NONE, "\xE2\x96\x81\xE2\x96\x81" "a", " | a"},
    {SPACE_EACH, "<s>a<s> b", "<s>| a|<s>| | |b"},
    {SPACE_ALWAYS, "<s>a<s> a", "<s>| a|<s>| a"},
    {SPACE_EACH, "<s><s>", "<s>|<s>"},
    {SPACE_FIRST, "a", " a"},
    {SPACE_NONE, "<s>>#", "<s>>|<23>"},
    {SPACE_EACH, "<s", " |<3C>|<73>"},
    {SPACE_FIRST, " a", " a"},
    {SPACE_FIRST, "b##a", " |b|##|a"},
    {SPACE_ALWAYS, "b##a", " |b|##| a"},
    {SPACE_NONE, "#####a#", "###|##|a|<23>"},
    {SPACE_NONE, "a a", "a| a"},
    {SPACE_NONE, U_E9 "a" U_5DDD "\xFF", U_E9 "a|<E5>|<B7>|<9D>|<FF>"},
    {SPACE_NONE, "b" U_E9 "ab", "b|" U_E9 "a|b"},
    {SPACE_EACH, "##a", " |##|a"}};
  EACH (i, ROWS) {
    Tokenizer k;
    Encoder c;
    Other o = other_begin(CUT_BESIDE, ROWS[i].space, 2);
    const int a = other_token(&o, KIND_TEXT, "a", 1);
    const int b = other_token(&o, KIND_TEXT, " ", 1);
    const int ab = other_token(&o, KIND_TEXT, " a", 2);
    const int e2 = other_token(&o, KIND_TEXT, U_E9, 2);
    const int ea = other_token(&o, KIND_TEXT, U_E9 "a", 3);
    other_token(&o, KIND_TEXT, "b", 1);
    other_token(&o, KIND_RUN, "##", 2);
    other_token(&o, KIND_RUN, "###", 3);
    other_token(&o, KIND_MARK, "<s>>", 4);
    other_merge(&o, b, a, ab, 0);
    other_merge(&o, e2, a, ea, 1);
    const bool open = other_opens(t, &o, &k, &c);
    fact(t,
         open && k.bos == 256 && k.end == 0 && k.fix == -1 &&
             k.published->begins,
         "row %d: the ids that begin and end", i);
    spells(t, &k, &c, open, ROWS[i].text, strlen(ROWS[i].text), ROWS[i].ids);
  }
  Error e = {0};
  fact(t,
       scratch_room(&(Scratch){0}, SIZE_MAX, &e) == 1 &&
           strstr(e.text, "Try: a text with spaces"),
       "a word of SIZE_MAX bytes: %s", e.text);
}

/* Joins the neighbours of the lowest rank in ids [size], the leftmost first,
 * until none are left to join; a merge is left, right, made, rank. Returns how
 * many ids there are then. */
static int joined_slowly(int *ids, int size, int merge[][4], int merges) {
  for (;;) {
    int best = -1, place = 0;
    for (int i = 0; i + 1 < size; i++)
      for (int m = 0; m < merges; m++)
        if (merge[m][0] == ids[i] && merge[m][1] == ids[i + 1] &&
            (best < 0 || merge[m][3] < merge[best][3])) {
          best = m;
          place = i;
        }
    if (best < 0)
      return size;
    ids[place] = merge[best][2];
    memmove(ids + place + 1, ids + place + 2,
            (size_t)(size - place - 2) * sizeof *ids);
    size--;
  }
}

/* A vocabulary drawn at random: tokens by their spellings and ids, and merges,
 * each of left, right, made and rank. */
enum { SYMBOLS = 5, SPELT = 40, DRAWN = 60 };
static const char *const SYMBOL[SYMBOLS] = {"a", "b", "c", U_E9, " "};
typedef struct Ranked {
  int symbols, n, merges;
  char spelt[SPELT][64];
  int token[SPELT], merge[DRAWN][4];
} Ranked;

/* Draws a merge, and the token that it makes; none if it is there, or long. */
static void ranked_merge(Ranked *v, Other *o, Rng *r) {
  const int a = (int)rng_below(r, (uint64_t)v->n);
  const int b = (int)rng_below(r, (uint64_t)v->n);
  const int left = v->token[a], right = v->token[b];
  char both[128];
  int made = 0;
  snprintf(both, sizeof both, "%s%s", v->spelt[a], v->spelt[b]);
  if (strlen(both) > 20)
    return;
  for (int i = 0; i < v->merges; i++)
    if (v->merge[i][0] == left && v->merge[i][1] == right)
      return;
  while (made < v->n && strcmp(v->spelt[made], both))
    made++;
  if (made == v->n) {
    strcpy(v->spelt[made], both);
    v->token[v->n++] = other_token(o, KIND_TEXT, both, strlen(both));
  }
  const int row[4] = {left, right, v->token[made], 0};
  memcpy(v->merge[v->merges++], row, sizeof row);
}

/* Puts the merges in any order, and gives them ranks, some in common. */
static void ranked_order(Ranked *v, Rng *r) {
  for (int i = v->merges - 1; i > 0; i--) {
    const int k = (int)rng_below(r, (uint64_t)i + 1);
    int swap[4];
    memcpy(swap, v->merge[i], sizeof swap);
    memcpy(v->merge[i], v->merge[k], sizeof swap);
    memcpy(v->merge[k], swap, sizeof swap);
  }
  for (int i = 0; i < v->merges; i++)
    v->merge[i][3] = i && rng_below(r, 3) == 0 ? v->merge[i - 1][3] : i;
}

/* Draws all of it, and a file in the making. */
static Other ranked_draw(Ranked *v, bool beside, Rng *r) {
  Other o = other_begin(beside ? CUT_BESIDE : CUT_GPT2,
                        beside ? SPACE_NONE : SPACE_PLAIN, 0);
  *v = (Ranked){.symbols = beside ? SYMBOLS : 3};
  for (; v->n < v->symbols; v->n++) {
    const char *s = SYMBOL[v->n];
    snprintf(v->spelt[v->n], sizeof *v->spelt, "%s", s);
    v->token[v->n] = *s;
    if (beside)
      v->token[v->n] = other_token(&o, KIND_TEXT, s, strlen(s));
  }
  for (int i = 0; i < 400 && v->merges < DRAWN && v->n < SPELT; i++)
    ranked_merge(v, &o, r);
  ranked_order(v, r);
  for (int i = 0; i < v->merges; i++) {
    const int *row = v->merge[i];
    other_merge(&o, row[0], row[1], row[2], row[3]);
  }
  return o;
}

/* Random merges of three letters, the space and U+00E9, in random order and
 * with ranks in common, against the rule itself: look through all neighbours
 * for the lowest rank, join, again. Texts are one piece of up to 300 symbols
 * under gpt2 (no space in them), and not cut under beside. */
static void tokenizer_encode__ranks(Test *t) {
  enum { MOST = 300 };
  static Ranked v;
  Rng r = {77};
  int joined = 0, trials = 300, cuts = 0;
  for (int trial = 0; trial < trials; trial++) {
    const bool beside = trial % 2;
    Other o = ranked_draw(&v, beside, &r);
    Tokenizer k;
    Encoder c;
    Ids ids = {0};
    Error e = {0};
    char text[2 * MOST + 1];
    int slow[MOST], size = 1 + (int)rng_below(&r, MOST), length = 0;
    for (int i = 0; i < size; i++) {
      const int s = (int)rng_below(&r, (uint64_t)v.symbols);
      slow[i] = v.token[s];
      length += snprintf(text + length, sizeof text - (size_t)length, "%s",
                         SYMBOL[s]);
    }
    const int before = size;
    size = joined_slowly(slow, size, v.merge, v.merges);
    joined += before - size;
    if (other_opens(t, &o, &k, &c)) {
      tokenizer_encode(c, (const unsigned char *)text, (size_t)length, &ids,
                       &e);
      bool same = (int)ids.size == size;
      for (int i = 0; same && i < size; i++)
        same = ids.at[i] == slow[i];
      fact(t, same, "trial %d: %zu ids, expected %d: %.60s", trial, ids.size,
           size, text);
      cuts += beside && (int)k.published->beside.size < SYMBOLS * SYMBOLS;
    }
    other_close(&k, &c);
    ids_free(&ids);
  }
  fact(t, joined > 30 * trials && cuts > 10,
       "%d joins, %d texts that can be cut", joined, cuts);
}

/* Is this file read? It then encodes and decodes without a fault; else the
 * error has its hint. */
static bool read_and_used(Test *t, const Bytes *w, int trial) {
  static const char TEXT[] =
      "aba ab##b <s>A\xCC\x80\xCC\x81 \xC3\x80\xCC\x83\xFF" U_5DDD "a";
  Error bad = {0};
  Tokenizer back;
  Ids ids = {0};
  Bytes text = {0};
  Encoder c = &back;
  bool good = !words_read(w->at, w->size, "x", &back, &bad);
  if (good) {
    tokenizer_encode(c, (const unsigned char *)TEXT, sizeof TEXT - 1, &ids,
                     &bad);
    tokenizer_decode(&back, ids.at, ids.size, &text, &bad);
    fact(t, !bad.status, "trial %d: %s", trial, bad.text);
  } else
    fact(t, strstr(bad.text, ". Try: ") && !strchr(bad.text, '\n'), "%s",
         bad.text);
  tokenizer_free(&back);
  ids_free(&ids);
  bytes_free(&text);
  return good;
}

/* Where parts of a file begin, and some of its n tokens. */
typedef struct OtherAt {
  size_t forms, tokens, merges, n;
  int a, b, ab;
} OtherAt;

/* A file with something of every kind. */
static OtherAt other_whole(Bytes *out, Error *e) {
  Other o = other_begin(CUT_BESIDE, SPACE_EACH, 2);
  OtherAt at = {.forms = 56 + 12 * 11};
  at.a = other_token(&o, KIND_TEXT, "a", 1);
  at.b = other_token(&o, KIND_TEXT, "b", 1);
  at.ab = other_token(&o, KIND_TEXT, "ab", 2);
  const int aba = other_token(&o, KIND_TEXT, "aba", 3);
  const int ba = other_token(&o, KIND_TEXT, "ba", 2);
  other_token(&o, KIND_RUN, "#", 1);
  other_token(&o, KIND_NAME, "", 0);
  other_merge(&o, at.a, at.b, at.ab, 0);
  other_merge(&o, at.ab, at.a, aba, 1);
  other_merge(&o, at.b, at.a, ba, 1);
  for (uint64_t i = 0; i < 4; i++) {
    bytes_number(&o.forms, 0xC0 + i, 4, e);
    bytes_number(&o.forms, i == 3 ? 0xC0 : 'A', 4, e);
    bytes_number(&o.forms, 0x300 + i, 4, e);
    bytes_number(&o.forms, 1, 4, e);
  }
  other_range(&o.combining, 0x300, 0x303, 230);
  at.n = (size_t)o.n;
  at.tokens = at.forms + 64 + 12;
  at.merges = at.tokens + 3 * at.n + o.spelt.size;
  other_end(&o, out);
  return at;
}

/* A head, a table or a token of that file b that cannot be, under a right
 * checksum. w is room for as many bytes. */
static void other_wrong(Test *t, const OtherAt *p, const Bytes *b, Bytes *w) {
  const size_t forms = p->forms, tokens = p->tokens, merges = p->merges;
  const uint64_t a = (uint64_t)p->a, x = (uint64_t)p->b;
  const struct {
    size_t at;
    int bytes;
    uint64_t value;
    const char *said;
  } WRONG[] = {
    {12, 4, 0, "1 to 524288 tokens"}, {64, 4, 3, "sorted ranges"},
    {tokens + 1, 1, 2, "token 0 of"}, {12, 4, 1 << 20, "1 to 524288 tokens"},
    {tokens, 1, KINDS_COUNT, "token 0 of"}, {16, 4, UINT32_MAX, "merges"},
    {32, 4, 270, "cuts, spaces"}, {36, 4, 270, "cuts, spaces"},
    {20, 4, 0, "cuts, spaces"}, {tokens + 2, 1, 9, "token 0 of"},
    {tokens + 1, 1, 0, "token 0 of"}, {20, 4, CUTS_COUNT, "cuts, spaces"},
    {40, 4, 12, "bytes"}, {forms + 9, 1, 0, "canonical forms"},
    {24, 4, SPACES_COUNT, "cuts, spaces"},
    {forms + 12, 1, 2, "canonical forms"}, {28, 4, 4, "cuts, spaces"},
    {56, 4, 14, "sorted ranges"}, {60, 4, 33, "sorted ranges"},
    {36, 4, UINT32_MAX, "cuts, spaces"}, {48, 4, 5, "bytes"},
    {60, 4, 0x110000, "sorted ranges"}, {40, 4, UINT32_MAX, "bytes"},
    {44, 4, UINT32_MAX, "bytes"}, {52, 4, UINT32_MAX, "bytes"},
    {52, 4, 4, "bytes"}, {tokens, 1, KIND_NAME, "for 0x00"},
    {merges, 1, 7, "merge 0 to spell"},
    {forms, 1, 0xC5, "sorted canonical forms"},
    {merges, 1, x, "merge 0 to spell"},
    {forms + 4, 1, 0xC0, "canonical forms"},
    {forms + 6, 1, 0xFF, "canonical forms"},
    {tokens + 3 * (p->n - 1) + 1, 1, 9, "token 263 of"},
    {tokens + 3 * (size_t)p->ab + 1, 1, 1, "alike"},
    {merges + 8, 1, a, "to spell"}, {merges + 4, 1, a, "to spell"},
    {merges + 2, 1, 1, "merge 0 to spell"},
    {merges + 12, 1, 1, "merge 0 of rank"},
    {merges + 44, 1, 0, "merge 2 of rank"},
    {merges + 28, 1, 5, "merge 1 of rank"}};
  EACH (i, WRONG) {
    Error bad = {0};
    Tokenizer back;
    memcpy(w->at, b->at, b->size);
    for (int j = 0; j < WRONG[i].bytes; j++)
      w->at[WRONG[i].at + (size_t)j] = (unsigned char)(WRONG[i].value >> 8 * j);
    seal(w);
    fact(t,
         refused(w->at, w->size) &&
             words_read(w->at, w->size, "x", &back, &bad) &&
             strstr(bad.text, WRONG[i].said),
         "row %d: %s, expected %s", i, bad.text, WRONG[i].said);
  }
  /* one pair twice */
  memcpy(w->at, b->at, b->size);
  memcpy(w->at + merges + 16, w->at + merges, 12);
  seal(w);
  fact(t, refused(w->at, w->size), "a pair merged twice is read");
}

/* A space is white space where the cuts go by classes: else they would not end.
 * Its class is the third number of the second range. */
static void other_space(Test *t, Bytes *b) {
  Other o = other_begin(CUT_GPT2, SPACE_NONE, 0);
  Tokenizer back;
  Error e = {0};
  other_end(&o, b);
  fact(t, !refused(b->at, b->size), "a good file is refused");
  b->at[76] = 0;
  seal(b);
  words_read(b->at, b->size, "x", &back, &e);
  fact(t, strstr(e.text, "x: expected a space to be white"), "%s", e.text);
}

/* A file as it must be, with parts that cannot be, and with bytes at random. */
static void tokenizer_read__published(Test *t) {
  Rng r = {3};
  Bytes *b = bytes_of(t), *w = bytes_of(t);
  Error e = {0};
  const OtherAt at = other_whole(b, &e);
  bytes_add(w, b->at, b->size, &e);
  fact(t, !refused(b->at, b->size), "a good file is refused");
  other_wrong(t, &at, b, w);
  other_space(t, bytes_of(t));
  int accepted = 0, trials = 6000;
  for (int trial = 0; trial < trials; trial++) {
    memcpy(w->at, b->at, b->size);
    for (uint64_t changes = 1 + rng_below(&r, 3); changes--;)
      w->at[12 + rng_below(&r, b->size - 20)] =
          (unsigned char)rng_below(&r, trial % 2 ? 4 : 256);
    seal(w);
    accepted += read_and_used(t, w, trial);
  }
  fact(t, accepted > 100 && accepted < trials - 100, "%d of %d are read",
       accepted, trials);
}

/* -----------------------------------------------------------------------------
 * 6  Published tokenizers: ./hf makes sink's of them */

/* What a tokenizer.json has that is not plain; a text, and its ids. */
static const struct {
  Parts p;
  const char *text, *ids;
} JSON_TEXTS[] = {
  {{0}, "he he<|endoftext|> h", "256 257 258 32 104 "},
  {{.merges = "[[`h`, `e`], [`\\u0120`, `he`]]"}, "he he", "256 257 "},
  {{.merges = "[`\\u0120 he`, `h e`]"}, "he he", "256 257 "},
  {{.merges = "[`h e`]"}, "he he", "256 32 256 "},
  {{.vocab = "-`he`: 256, `\\u0120he`: 257"}, "\4h\4e he!\4!\4",
   "104 101 257 33 33 "},
  {{.merges = "[`h e`]", .model = "`ignore_merges`: true,"}, "he he",
   "256 257 "},
  {{.model = "`type`: `BPE`, `dropout`: null, `unk_token`: null, "
    "`continuing_subword_prefix`: ``, `end_of_word_suffix`: null,"}, "he",
   "256 "},
  {{.cuts = LLAMA3_SPLIT}, "1234'LL he", "49 50 51 52 39 76 76 257 "},
  {{.normalizer = "{`type`: `NFC`}"}, "e\xCC\x81", "195 169 "},
  {{.normalizer = "{`type`: `Sequence`, `normalizers`: []}"}, "e\xCC\x81",
   "101 204 129 "},
  {{.added = "[" ADDED("258", "</s>", RAW) ", "
    ADDED("259", "  ", "`special`: false") ", "
    ADDED("260", "   ", "`special`: false") "]",
    .normalizer = "{`type`: `NFC`}"}, "he    he</s>", "256 260 257 258 "},
  {{.added = "[" ADDED("258", "</s>", RAW) ", " ADDED("256", "he", RAW) "]"},
   "hehe he", "256 256 32 256 "},
  {{.added = "[" ADDED("258", "</s>", RAW) ", " ADDED("259", "bb", RAW) ", "
    ADDED("260", "bbb", "`normalized`: true") "]"}, "bbb", "259 98 "},
  {{.vocab = "`he`: 256, `\\u0120he`: 257, `\\u65e5 x`: 258, `</s>`: 300",
    .added = "[" ADDED("300", "</s>", RAW) "]"}, "he</s>", "256 300 "}};

/* What stands in front of every text: is there something, and its id. */
static const struct {
  Parts p;
  bool begins;
  int bos;
} JSON_FRONTS[] = {
  {{0}, false, 258},
  {{.added = ENDS("<go>"), .post = TEMPLATE(FRONT ", " TEXT_A)}, true, 259},
  {{.added = ENDS("<s>"), .post = TEMPLATE(TEXT_A)}, false, 259},
  {{.added = ENDS("<s>"), .post = "{`type`: `Sequence`, `processors`: ["
    BYTE_LEVEL("") ", " TEMPLATE(FRONT ", " TEXT_A) "]}"}, true, 259},
  {ONE_MORE("258", "</s>", RAW), false, -1}};

/* Every part of a tokenizer.json that sink has reaches the ids. */
static void hf__tokenizer_json(Test *t) {
  char found[400];
  Tokenizer k;
  Encoder c;
  if (!begun(t))
    return;
  EACH (i, JSON_TEXTS) {
    parts_write(t, SCRATCH "/t.json", &JSON_TEXTS[i].p);
    if (tok_open(t, SCRATCH "/t.json", &k, &c)) {
      ids_text(&c, JSON_TEXTS[i].text, strlen(JSON_TEXTS[i].text), found,
               sizeof found);
      fact(t, !strcmp(found, JSON_TEXTS[i].ids), "row %d: %s, expected %s", i,
           found, JSON_TEXTS[i].ids);
    }
    other_close(&k, &c);
  }
  EACH (i, JSON_FRONTS) {
    parts_write(t, SCRATCH "/t.json", &JSON_FRONTS[i].p);
    if (tok_open(t, SCRATCH "/t.json", &k, &c))
      fact(t,
           k.published->begins == JSON_FRONTS[i].begins &&
               k.bos == JSON_FRONTS[i].bos && k.end == 258,
           "front %d: %d, %d, %d", i, k.published->begins, k.bos, k.end);
    other_close(&k, &c);
  }
}

#define OWN_CUTS(behavior) \
  "{`type`: `Sequence`, `pretokenizers`: [" \
  BYTE_LEVEL(", `use_regex`: false") ", {`type`: `Split`, " \
  "`pattern`: {`Regex`: `" SPLIT "`}, `behavior`: `" behavior "`}]}"
#define PREPEND "{`type`: `Prepend`, `prepend`: `" SIGN "`}"
#define METASPACE(more) \
  "{`type`: `Metaspace`, `replacement`: `" SIGN "`, `split`: false" more "}"

/* What a tokenizer.json has that would change ids, or cannot be. */
static const char OF_OWN[] = "with values of its own";
static const struct {
  Parts p;
  const char *said;
} JSON_REFUSED[] = {
  {{.model = "`type`: `Unigram`,"}, "a model that is not BPE"},
  {{.model = "`dropout`: 0.1,"}, "dropout"},
  {{.cuts = BYTE_LEVEL(", `use_regex`: false")}, OF_OWN},
  {{.model = "`continuing_subword_prefix`: `##`,"},
   "continuing_subword_prefix"},
  {{.model = "`end_of_word_suffix`: `</w>`,"}, "end_of_word_suffix"},
  {{.normalizer = "{`type`: `NFKC`}"}, "normalizer `NFKC`"},
  {{.cuts = OWN_CUTS("Removed")}, OF_OWN},
  {{.normalizer = "{`type`: `Sequence`, `normalizers`: [{`type`: `Strip`}]}"},
   "`Strip`"},
  {{.normalizer = "{`type`: `Prepend`, `prepend`: `x`}"}, OF_OWN},
  {{.normalizer = "{`type`: `Replace`, `pattern`: {`Regex`: ` `}, "
    "`content`: `" SIGN "`}"}, OF_OWN},
  {{.normalizer = PREPEND}, OF_OWN},
  {{.cuts = METASPACE("")}, "characters without byte_fallback"},
  {{.cuts = "{`type`: `Split`, `pattern`: {`String`: ` `}, "
    "`behavior`: `Isolated`}"}, OF_OWN},
  {{.cuts = "{`type`: `Digits`, `individual_digits`: true}"},
   "pre_tokenizer `Digits`"},
  {{.cuts = "null"}, "no pre_tokenizer"},
  {{.cuts = "{`type`: `Whitespace`}"}, OF_OWN},
  {{.cuts = "{`type`: `ByteLevel`, `add_prefix_space`: true}"}, OF_OWN},
  {{.cuts = "{`type`: `Sequence`, `pretokenizers`: [{`type`: `Digits`}, "
    BYTE_LEVEL("") "]}"}, OF_OWN},
  {{.cuts = OWN_CUTS("Isolated")}, "sink's own with other"},
  {{.normalizer = "{`type`: `NFC`}", .cuts = OWN_CUTS("Isolated")}, OF_OWN},
  {{.cuts = "{`type`: `Metaspace`, `replacement`: `" SIGN "`}"}, OF_OWN},
  {{.cuts = "{`type`: `Metaspace`, `replacement`: `_`, `split`: false}"},
   OF_OWN},
  {{.cuts = METASPACE(""), .model = "`byte_fallback`: true,"},
   "expected a token for every byte"},
  {{.normalizer = "{`type`: `Sequence`, `normalizers`: [" PREPEND ", "
    "{`type`: `Replace`, `pattern`: {`String`: ` `}, `content`: `" SIGN "`}]}",
    .cuts = "{`type`: `Sequence`, `pretokenizers`: [{`type`: `Split`, "
    "`pattern`: {`String`: ` `}, `behavior`: `MergedWithPrevious`}, "
    BYTE_LEVEL("") "]}", .model = "`byte_fallback`: true,"}, OF_OWN},
  {{.cuts = METASPACE(", `prepend_scheme`: `always`, "
                      "`add_prefix_space`: false"),
    .model = "`byte_fallback`: true,"}, OF_OWN},
  {{.post = "{`type`: `RobertaProcessing`}"},
   "post_processor `RobertaProcessing`"},
  {{.post = TEMPLATE(TEXT_A ", " FRONT)}, OF_OWN},
  {{.post = TEMPLATE(FRONT)}, OF_OWN},
  {{.post = TEMPLATE(FRONT ", " FRONT ", " TEXT_A)}, OF_OWN},
  {{.post = TEMPLATE(FRONT ", " TEXT_A)}, OF_OWN},   /* there is no 259 */
  {{.added = "{}"}, "added_tokens that are not a list"},
  {ONE_MORE("-1", "</s>", RAW), "without id"},
  {{.added = "[{}]"}, "without id"},
  {ONE_MORE("258", "<x>", RAW), "no token that ends a text"},
  {{.added = "[{`id`: 258, `content`: [1, 2, 3]}]"}, "without id or content"},
  {ONE_MORE("258", "", RAW), "without id or content"},
  {ONE_MORE("258", "</s>", "`lstrip`: true"), "lstrip"},
  {ONE_MORE("258", "</s>", "`rstrip`: true"), "rstrip"},
  {ONE_MORE("258", "</s>", "`single_word`: true"), "single_word"},
  {ONE_MORE("258", " ", "`lstrip`: true, `rstrip`: true, " RAW),
   "white space as a token with lstrip"},
  {{.added = "[" ADDED("258", "</s>", "`rstrip`: true, " RAW) ","
    ADDED("259", " ", "`lstrip`: true, " RAW) "]"},
   "white space as a token with lstrip"},
  {ONE_MORE("256", "</s>", RAW), "of id 256, found `he` and `</s>`."},
  {ONE_MORE("258", "he", RAW), "found 256 and 258 alike"},
  {{.merges = "[1]"}, "is not a pair"},
  {ONE_MORE("524288", "</s>", RAW), "with id 258, the next"},
  {{.merges = "{}"}, "no merges"},
  {{.added = "[" ADDED("258", "</s>", RAW) ","
    ADDED("259", "\\u00e9", "`normalized`: true") "]",
    .normalizer = "{`type`: `NFC`}"}, "to pass the normalizer"},
  {{.vocab = "`he`: 256.0, `\\u0120he`: 257"}, "an id that is not a number"},
  {{.vocab = "{`h`: 0, `e`: 1, `he`: 2, `\\u0120`: 3, `\\u0120he`: 4}",
    .added = "[" ADDED("5", "</s>", RAW) "]"},
   "expected a token for every byte, found none for 0x21"},
  {{.vocab = "-`he`: 256, `\\u0120he`: 257", .model = "`unk_token`: `he`,"},
   "an unk_token"},
  {{.merges = "[`he`]"}, "a merge that is not a pair"},
  {{.merges = "[[`h`, `e`, `x`]]"}, "is not a pair"},
  {{.merges = "[`h x`]"}, "expected merge 0 of tokens into a token"},
  {{.merges = "[`h e`, `h e`]"}, "merge 1 to be new"}};

/* Each row is refused. */
static void hf__tokenizer_refuses(Test *t) {
  if (!begun(t))
    return;
  EACH (i, JSON_REFUSED) {
    parts_write(t, SCRATCH "/t.json", &JSON_REFUSED[i].p);
    char said[80];
    snprintf(said, sizeof said, "%s", JSON_REFUSED[i].said);
    unticked(said, strlen(said));
    sink_fails(t, "tokenizer " SCRATCH "/t.json --out " X_TOK, 1, said);
  }
  text_file(t, SCRATCH "/t.json", "{}");
  sink_fails(t, "tokenizer " SCRATCH "/t.json --out " X_TOK, 1,
             "a model that is not BPE");
  fact(t, file_missing(X_TOK), "something was written");
}

/* SentencePiece's characters in a tokenizer.json: what its parts do about
 * spaces and marks. */
static void hf__tokenizer_characters(Test *t) {
#define REPLACE \
  "{`type`: `Replace`, `pattern`: {`String`: ` `}, `content`: `" SIGN "`}"
#define SPACED "{`type`: `Sequence`, `normalizers`: [" PREPEND ", " REPLACE "]}"
  static const struct {
    const char *normalizer, *cuts, *more, *text, *ids;
  } ROWS[] = {
    {SPACED, "null", RAW, "a", " a"},
    {SPACED, "null", RAW, " a", " | a"},
    {SPACED, "null", RAW, "a<s>ab", " a|<s>| a|b"},
    {SPACED, "null", RAW, "\n", " |<0A>"},
    {SPACED, "null", "`normalized`: true", "<s>a", "<s>|a"},
    {SPACED, "null", "`normalized`: true", "b<s>", " |b|<3C>|<73>|<3E>"},
    {REPLACE, "null", RAW, "ab a", "ab| a"},
    {REPLACE, "null", RAW, " a<s>a", " a|<s>|a"},
    {"null", METASPACE(", `prepend_scheme`: `first`"), RAW, "a<s>a",
     " a|<s>|a"},
    {"null", METASPACE(", `prepend_scheme`: `first`"), RAW, " a", " a"},
    {"null", METASPACE(", `prepend_scheme`: `always`"), RAW, "a<s>a",
     " a|<s>| a"},
    {"null", METASPACE(", `prepend_scheme`: `never`"), RAW, "ab a", "ab| a"},
    {"null", METASPACE(", `add_prefix_space`: true"), RAW, "a<s>a",
     " a|<s>| a"},
    {"null", METASPACE(", `add_prefix_space`: false"), RAW, "a<s>a",
     "a|<s>|a"}};
  char added[200];
  Tokenizer k;
  Encoder c;
  Bytes *b = bytes_of(t);
  Error e = {0};
  if (!begun(t))
    return;
  bytes_print(b, &e, "{\"<unk>\": 0, \"<s>\": 1, \"</s>\": 2, ");
  for (int i = 0; i < 256; i++)
    bytes_print(b, &e, "\"<0x%02X>\": %d, ", (unsigned)i, 3 + i);
  bytes_print(b, &e,
              "\"" SIGN "\": 259, \"a\": 260, \"b\": 261, \"" SIGN
              "a\": 262, \"ab\": 263, \" b\": 264}");
  bytes_add(b, "", 1, &e);
  for (int i = 0; i < (int)(sizeof ROWS / sizeof *ROWS) && !e.status; i++) {
    snprintf(added, sizeof added, "[{\"id\": 1, \"content\": \"<s>\", %s}]",
             ROWS[i].more);
    const Parts p = {.normalizer = ROWS[i].normalizer,
                     .cuts = ROWS[i].cuts,
                     .added = added,
                     .model = "\"byte_fallback\": true,",
                     .vocab = (const char *)b->at,
                     .merges = "[\"" SIGN " a\", \"a b\"]"};
    parts_write(t, SCRATCH "/t.json", &p);
    const bool open = tok_open(t, SCRATCH "/t.json", &k, &c);
    fact(t, open && k.published->kind[264] == KIND_NAME,
         "row %d: \" b\" is no name", i);
    spells(t, &k, &c, open, ROWS[i].text, strlen(ROWS[i].text), ROWS[i].ids);
  }
  no_error(t, &e);
}

/* SentencePiece's pieces, written as tokenizer.model and as llama2.c's file. */
typedef struct Pieces {
  int n;
  char text[64][16];
  float score[64];
  int type[64];
} Pieces;

/* <unk>, <s>, </s>, then a, b, U+00E9, the sign, and what random pairs of
 * these spell; the bytes have ids after all of them, or, as llama2.c wants
 * them, 3 to 258. */
static void pieces_draw(Pieces *p, Rng *r) {
  static const struct {
    const char *text;
    int type;   /* 1 a piece of text, 2 what is unknown, 3 a mark */
  } BASIC[] = {{"<unk>", 2}, {"<s>", 3}, {"</s>", 3}, {"a", 1}, {"b", 1},
               {U_E9, 1}, {"\xE2\x96\x81", 1}};
  *p = (Pieces){0};
  for (; p->n < 7; p->n++) {
    strcpy(p->text[p->n], BASIC[p->n].text);
    p->type[p->n] = BASIC[p->n].type;
    p->score[p->n] = -1000 - (float)p->n;
  }
  while (p->n < 40) {
    char both[40];
    const int a = 3 + (int)rng_below(r, (uint64_t)p->n - 3);
    const int b = 3 + (int)rng_below(r, (uint64_t)p->n - 3);
    snprintf(both, sizeof both, "%s%s", p->text[a], p->text[b]);
    bool known = strlen(both) > 12;
    for (int i = 0; i < p->n; i++)
      known = known || !strcmp(p->text[i], both);
    if (known)
      continue;
    strcpy(p->text[p->n], both);
    p->type[p->n] = 1;
    p->score[p->n++] = -(float)rng_below(r, 20);   /* some in common */
  }
}

/* A number as protocol buffers have it: 7 bits a byte, the low ones first. */
static void proto_number(Bytes *b, uint64_t n, Error *e) {
  for (; n > 127; n >>= 7)
    bytes_number(b, (n & 127) | 128, 1, e);
  bytes_number(b, n, 1, e);
}

/* The key of a field, and its value or, of type 2, the length of
 * what follows. */
static void proto(Bytes *b, int field, int type, uint64_t n, Error *e) {
  proto_number(b, (uint64_t)(field << 3 | type), e);
  proto_number(b, n, e);
}

/* A piece of tokenizer.model. */
static void proto_piece(Bytes *b, const char *s, float score, int type,
                        Error *e) {
  Bytes p = {0};
  proto(&p, 1, 2, strlen(s), e);
  bytes_add(&p, s, strlen(s), e);
  bytes_number(&p, 2 << 3 | 5, 1, e);
  bytes_number(&p, bits_of(score), 4, e);
  if (type != 1)
    proto(&p, 3, 0, (uint64_t)type, e);
  proto(b, 1, 2, p.size, e);
  bytes_add(b, p.at, p.size, e);
  bytes_free(&p);
}

/* tokenizer.model; `trainer` and `normalizer` are pairs of a field and a
 * number, ended by 0. */
static void model_write(Test *t, const Pieces *p, const int *trainer,
                        const int *normalizer) {
  Bytes b = {0}, *s = bytes_of(t);
  Error e = {0};
  char byte[8];
  for (int i = 0; i < p->n; i++)
    proto_piece(&b, p->text[i], p->score[i], p->type[i], &e);
  for (unsigned c = 0; c < 256; c++) {
    snprintf(byte, sizeof byte, "<0x%02X>", c);
    proto_piece(&b, byte, 0, 6, &e);
  }
  for (int part = 0; part < 2; part++) {
    s->size = 0;
    for (const int *at = part ? normalizer : trainer; *at; at += 2)
      proto(s, at[0], 0, (uint64_t)(int64_t)at[1], &e);
    proto(&b, 2 + part, 2, s->size, &e);
    if (s->size)
      bytes_add(&b, s->at, s->size, &e);
  }
  bytes_file(t, SCRATCH "/t.model", &b);
}

static const int TRAINED[] = {3, 2, 35, 1, 0}, NORMAL[] = {3, 1, 4, 0, 0};

/* Every way to cut a piece in two is a merge, of the higher score first.
 * Returns how many. */
static int pieces_merges(const Pieces *p, int merge[][4]) {
  char both[40];
  int n = 0;
  for (int a = 3; a < p->n; a++)
    for (int b = 3; b < p->n; b++)
      for (int k = 7; k < p->n; k++) {
        const int row[4] = {a, b, k, -(int)p->score[k]};
        snprintf(both, sizeof both, "%s%s", p->text[a], p->text[b]);
        if (!strcmp(both, p->text[k]))
          memcpy(merge[n++], row, sizeof row);
      }
  return n;
}

/* The id of a character of the pieces, by its first byte. */
static int slow_piece(char c) {
  switch (c) {
  case 'a': return 3;
  case 'b': return 4;
  case ' ': return 6;
  default: return 5;   /* U+00E9 */
  }
}

/* The ids of text, which has only the pieces' characters, with a space in
 * front; returns how many. */
static int slow_pieces(const char *text, int *ids, int merge[][4], int merges) {
  int n = 0;
  ids[n++] = 6;
  for (const char *c = text; *c; c += ids[n++] == 5 ? 2 : 1)
    ids[n] = slow_piece(*c);
  return joined_slowly(ids, n, merge, merges);
}

/* Of a folder's tokenizer.model, beside which tokenizer_config.json and
 * added_tokens.json name more tokens. */
static void pieces_named_beside(Test *t) {
  Tokenizer k;
  Encoder c;
  char found[100];
  /* a token that the config alone names */
  text_file(t, DOWNLOAD "/tokenizer_config.json",
            "{`additional_special_tokens`: [`[X]`]}");
  if (tok_open(t, DOWNLOAD, &k, &c)) {
    char last[16];
    snprintf(last, sizeof last, " %d ", k.vocab - 1);
    ids_text(&c, "a[X]", 4, found, sizeof found);
    const size_t n = strlen(found), tail = strlen(last);
    fact(t,
         k.published->kind[k.vocab - 1] == KIND_MARK && n > tail &&
             !strcmp(found + n - tail, last),
         "%s, not ..%s", found, last);
  }
  /* the two begin alike, which may not be */
  char more[40];
  snprintf(more, sizeof more, "{`[X]y`: %d}", k.vocab - 1);
  other_close(&k, &c);
  text_file(t, DOWNLOAD "/added_tokens.json", more);
  sink_fails(t, "tokenizer " DOWNLOAD " --force --out " X_TOK, 1,
             "that share no characters");
  remove(DOWNLOAD "/added_tokens.json");
  /* in front, too */
  text_file(t, DOWNLOAD "/tokenizer_config.json",
            "{`additional_special_tokens`: [`[X]`, `<s>`], `bos_token`: `[X]`, "
            "`add_bos_token`: true}");
  if (tok_open(t, DOWNLOAD, &k, &c))
    fact(t, k.published->begins && k.bos == k.vocab - 1, "%d in front, not %d",
         k.bos, k.vocab - 1);
  other_close(&k, &c);
  text_file(t, DOWNLOAD "/tokenizer_config.json",
            "{`added_tokens_decoder`: "
            "{`9999`: {`content`: `[X]`, `special`: true}}}");
  sink_fails(t, "tokenizer " DOWNLOAD " --force --out " X_TOK, 1, "with id ");
  text_file(t, DOWNLOAD "/tokenizer_config.json",
            "{`eos_token`: `[X]`, `extra_special_tokens`: []}");
  sink_fails(t, "tokenizer " DOWNLOAD " --force --out " X_TOK, 1,
             "another as eos_token");
  text_file(t, DOWNLOAD "/tokenizer_config.json",
            "{`add_prefix_space`: false}");
  sink_fails(t, "tokenizer " DOWNLOAD " --force --out " X_TOK, 1,
             "an add_prefix_space");
}

/* llama2.c's file of the pieces, whose bytes have ids 3 to 258. */
static void bin_write(Test *t, const Pieces *p) {
  Bytes bin = {0};
  Error e = {0};
  bytes_number(&bin, 20, 4, &e);
  for (int id = 0; id < p->n + 256 && !e.status; id++) {
    char byte[8], s[16] = "";
    snprintf(byte, sizeof byte, "<0x%02X>", (unsigned)(id - 3) & 255);
    const int piece = id < 3 ? id : id - 256;
    const bool one = id >= 3 && id < 259;
    for (const char *from = one ? byte : p->text[piece]; *from;)
      if (!strncmp(from, "\xE2\x96\x81", 3)) {
        strcat(s, " ");
        from += 3;
      } else {
        s[strlen(s) + 1] = 0;
        s[strlen(s)] = *from++;
      }
    bytes_number(&bin, bits_of(one ? 0 : p->score[piece]), 4, &e);
    bytes_number(&bin, strlen(s), 4, &e);
    bytes_add(&bin, s, strlen(s), &e);
  }
  bytes_file(t, SCRATCH "/t.bin", &bin);
}

/* Random texts have the same pieces under tokenizer.model, c, and llama2.c's
 * file, c2, as by the merges of `trial`. Returns how many were joined. */
static int pieces_agree(Test *t, int trial, Encoder c, Encoder c2,
                        int merge[][4], int merges, Rng *r) {
  static const char *const LETTERS[] = {"a", "b", U_E9, " "};
  int joined = 0;
  for (int i = 0; i < 40; i++) {
    char text[400] = "";
    int slow[400], size = 1 + (int)rng_below(r, 150);
    Ids ids = {0}, ids2 = {0};
    Error e = {0};
    for (int j = 0; j < size; j++)
      strcat(text, LETTERS[rng_below(r, 4)]);
    const int n = slow_pieces(text, slow, merge, merges);
    tokenizer_encode(c, (unsigned char *)text, strlen(text), &ids, &e);
    tokenizer_encode(c2, (unsigned char *)text, strlen(text), &ids2, &e);
    bool same = (int)ids.size == n && (int)ids2.size == n;
    for (int j = 0; same && j < n; j++)
      same = ids.at[j] == slow[j] && ids2.at[j] == slow[j] + 256;
    fact(t, same, "%d: %zu and %zu ids, not %d: %.60s", trial, ids.size,
         ids2.size, n, text);
    joined += size + 1 - n;
    ids_free(&ids);
    ids_free(&ids2);
  }
  return joined;
}

/* No space in front; and one as transformers puts it when it is not to be as it
 * always was. */
static void pieces_spaces(Test *t, Rng *r) {
  static const int NO_SPACE[] = {3, 0, 4, 0, 0};
  for (int i = 0; i < 2; i++) {
    Pieces p;
    Tokenizer k;
    Encoder c;
    pieces_draw(&p, r);
    model_write(t, &p, TRAINED, i ? NORMAL : NO_SPACE);
    text_file(t, DOWNLOAD "/tokenizer_config.json",
              i ? "{\"legacy\": false}" : "{}");
    const bool moved = take_name(SCRATCH "/t.model",
                                 DOWNLOAD "/tokenizer.model");
    if (tok_open(t, DOWNLOAD, &k, &c))
      fact(t, moved && k.published->space == (i ? SPACE_FIRST : SPACE_NONE),
           "%d: %d", i, k.published->space);
    other_close(&k, &c);
  }
}

/* The same pieces from both files, and what stands beside them in a folder. */
static void hf__sentencepiece(Test *t) {
  static int merge[1000][4];
  Rng r = {41};
  int joined = 0, merges;
  if (!begun(t))
    return;
  for (int trial = 0; trial < 12; trial++) {
    Pieces p;
    Tokenizer k, k2;
    Encoder c, c2;
    pieces_draw(&p, &r);
    merges = pieces_merges(&p, merge);
    model_write(t, &p, TRAINED, NORMAL);
    bin_write(t, &p);
    if (tok_open(t, SCRATCH "/t.model", &k, &c)) {
      fact(t,
           k.published->begins && k.bos == 1 && k.end == 2 &&
               k.published->space == SPACE_EACH,
           "%d %d %d %d", k.published->begins, k.bos, k.end,
           k.published->space);
      if (tok_open(t, SCRATCH "/t.bin", &k2, &c2))
        joined += pieces_agree(t, trial, c, c2, merge, merges, &r);
      other_close(&k2, &c2);
    }
    other_close(&k, &c);
  }
  fact(t, joined > 12 * 40 * 20, "%d joins", joined);
  pieces_spaces(t, &r);
  pieces_named_beside(t);
}

/* Settings of SentencePiece that would change ids, and files that are cut
 * short anywhere. */
static void hf__sentencepiece_refuses(Test *t) {
  static const char SETTINGS[] = "not BPE with byte fallback",
                    TEXT[] = "changes text";
  static const struct {
    int trainer[9], normalizer[9];
    const char *said;
  } ROWS[] = {
    {{35, 1, 0}, {4, 0, 0}, SETTINGS},
    {{3, 1, 35, 1, 0}, {4, 0, 0}, SETTINGS},
    {{3, 2, 0}, {4, 0, 0}, SETTINGS},
    {{3, 2, 35, 1, 24, 1, 0}, {4, 0, 0}, SETTINGS},
    {{3, 2, 35, 1, 0}, {3, 1, 0}, TEXT},
    {{3, 2, 35, 1, 0}, {4, 1, 0}, TEXT},
    {{3, 2, 35, 1, 0}, {4, 0, 5, 0, 0}, TEXT},
    /* -1: named <s> and </s> all the same */
    {{3, 2, 35, 1, 42, -1, 41, -1, 0}, {4, 0, 0}, NULL},
    {{3, 2, 35, 1, 42, 9999, 0}, {4, 0, 0}, "no token that ends a text"},
    {{3, 2, 35, 1, 41, 9999, 0}, {4, 0, 0}, "no token that begins a text"}};
  static const char UNUSED[] = "a piece of an unknown type";
  static const struct {
    int type;
    const char *text, *said;
  } PIECES[] = {
    {5, NULL, UNUSED}, {7, NULL, UNUSED},
    {1, "xa", "a character that is no piece"}, {1, "a", "alike"},
    {1, "\xC3", "a damaged one"}};
  Rng r = {5};
  Pieces p;
  Bytes *b = bytes_of(t);
  Error e = {0};
  static const char WORDS[] = "tokenizer " SCRATCH
                              "/t.model --force --out " X_TOK;
  if (!begun(t))
    return;
  pieces_draw(&p, &r);
  EACH (i, ROWS) {
    model_write(t, &p, ROWS[i].trainer, ROWS[i].normalizer);
    if (ROWS[i].said)
      sink_fails(t, WORDS, 1, ROWS[i].said);
    else
      hf_does(t, WORDS);
  }
  EACH (i, PIECES) {
    p.type[20] = PIECES[i].type;
    if (PIECES[i].text)
      strcpy(p.text[20], PIECES[i].text);
    model_write(t, &p, TRAINED, NORMAL);
    sink_fails(t, WORDS, 1, PIECES[i].said);
  }
  pieces_draw(&p, &r);
  model_write(t, &p, TRAINED, NORMAL);
  file_read(SCRATCH "/t.model", b, &e);
  for (int i = 0; i < 30 && !e.status; i++) {
    file_write(SCRATCH "/t.model", b->at, (size_t)rng_below(&r, b->size), &e);
    answers(t, PROGRAM, WORDS, 1, ". Try: ");
  }
  no_error(t, &e);
}

/* What tokenizer_config.json says, and which tokens end and begin a text then;
 * or what is said of it. */
static const struct {
  const char *config;
  int end, bos, begins;
  const char *said;
} FOLDERS[] = {
  {NULL, 258, 258, 0, NULL},
  {"{`bos_token`: {`content`: `</s>`}, `eos_token`: `</s>`, "
   "`unk_token`: `</s>`, `pad_token`: `<pad>`, `add_prefix_space`: false, "
   "`add_bos_token`: true}", 260, 260, 1, NULL},
  {"{`bos_token`: `<pad>`, `eos_token`: `</s>`, `add_bos_token`: false}",
   260, 259, 0, NULL},
  {"{`eos_token`: null, `model_max_length`: 8}", 258, 258, 0, NULL},
  {"{`tokenizer_class`: `Qwen2Tokenizer`}", 0, 0, 0,
   "found a tokenizer_class other than GPT2"},
  {"{`add_prefix_space`: true}", 0, 0, 0, "found an add_prefix_space"},
  {"{`add_eos_token`: true}", 0, 0, 0, "found add_eos_token"},
  {"{`auto_map`: [`tok.My`, null]}", 0, 0, 0, "found auto_map"},
  {"{`split_special_tokens`: true}", 0, 0, 0, "found split_special_tokens"},
  {"{", 0, 0, 0, "tokenizer_config.json: "}};

/* The folder of row i: the first has fewer tokens; every second one ends its
 * lines as Windows does, with a version in front. */
static void vocabulary_folder(Test *t, int i) {
  static const char FEW[] =
      "`he`: 256, `\\u0120he`: 257, `<|endoftext|>`: 258";
  static const char ALL[] =
      "`he`: 256, `\\u0120he`: 257, `<|endoftext|>`: 258, `<pad>`: 259, "
      "`</s>`: 260";
  Bytes *b = bytes_of(t);
  Error e = {0};
  letters_json(b, i ? ALL : FEW, &e);
  bytes_add(b, "", 1, &e);
  text_file(t, DOWNLOAD "/vocab.json", (const char *)b->at);
  if (i % 2)
    text_file(t, DOWNLOAD "/merges.txt",
              "#version: 0.2\r\nh e\r\n\xC4\xA0 he\r\n\r\n");
  else
    text_file(t, DOWNLOAD "/merges.txt", "h e\n\xC4\xA0 he");
  if (FOLDERS[i].config)
    text_file(t, DOWNLOAD "/tokenizer_config.json", FOLDERS[i].config);
}

/* A folder: which file is read, what tokenizer_config.json says, and vocab.json
 * with merges.txt. */
static void hf__tokenizer_folder(Test *t) {
  static const char WORDS[] = "tokenizer " DOWNLOAD " --force --out " X_TOK;
  static const char TEXT[] = "he he</s><pad><|endoftext|>";
  Tokenizer k;
  Encoder c;
  char found[300];
  if (!begun(t))
    return;
  EACH (i, FOLDERS) {
    vocabulary_folder(t, i);
    if (FOLDERS[i].said) {
      sink_fails(t, WORDS, 1, FOLDERS[i].said);
      continue;
    }
    if (tok_open(t, DOWNLOAD, &k, &c)) {
      ids_text(&c, TEXT, strlen(TEXT), found, sizeof found);
      fact(t,
           k.end == FOLDERS[i].end && k.bos == FOLDERS[i].bos &&
               k.published->begins == FOLDERS[i].begins,
           "row %d: end %d, begin %d, in front %d", i, k.end, k.bos,
           k.published->begins);
      fact(t,
           !strncmp(found, "256 257 ", 8) &&
               !strstr(found + 8, "258") == (i == 1) &&
               !strstr(found, "260") == (i != 1 && i != 2),
           "row %d: %s", i, found);
    }
    other_close(&k, &c);
  }
  text_file(t, DOWNLOAD "/tokenizer_config.json", "{}");
  text_file(t, DOWNLOAD "/merges.txt", "he\n");
  sink_fails(t, WORDS, 1, "a merge that is not a pair");
  text_file(t, DOWNLOAD "/merges.txt", "h zz\nh e\n");
  sink_fails(t, WORDS, 1, "found \"h\" and \"zz\". Try");
  /* tokenizer.json comes first */
  parts_write(t, DOWNLOAD "/tokenizer.json", &JSON_PLAIN);
  if (tok_open(t, DOWNLOAD, &k, &c))
    fact(t, k.end == 258 && k.vocab == 259, "%d", k.vocab);
  other_close(&k, &c);
}

/* Texts, and what form NFC makes of them: the cases of Unicode Standard
 * Annex 15. */
static const char *const NFC_ROWS[][2] = {
  {"", ""}, {"plain", "plain"}, {"e\xCC\x81", U_E9},
  {"xe\xCC\x81y", "x" U_E9 "y"},
  {U_E9 "\xCC\xA3", "\xE1\xBA\xB9\xCC\x81"},   /* below comes before above */
  {"a\xCC\x85\xCC\x81", "a\xCC\x85\xCC\x81"},  /* one of its class is between */
  {"a\xCC\x81\xCC\xA3", "\xE1\xBA\xA1\xCC\x81"},
  {"a\xCC\x81\xCC\x80", "\xC3\xA1\xCC\x80"},
  {"\xE2\x84\xAB", "\xC3\x85"}, {"A\xCC\x8A", "\xC3\x85"},
  {"\xE2\x84\xA6", "\xCE\xA9"},
  /* d, dot above, dot below */
  {"\xE1\xB8\x8B\xCC\xA3", "\xE1\xB8\x8D\xCC\x87"},
  {"\xCD\x84", "\xCC\x88\xCC\x81"}, {"\xCC\x81" "e", "\xCC\x81" "e"},
  {"\xE0\xA5\x98", "\xE0\xA4\x95\xE0\xA4\xBC"},  /* excluded from composition */
  {"\xE0\xA4\x95\xE0\xA4\xBC", "\xE0\xA4\x95\xE0\xA4\xBC"},
  {"\xE0\xA7\x87\xE0\xA6\xBE", "\xE0\xA7\x8B"},  /* two starters compose */
  {"\xE1\x84\x80\xE1\x85\xA1\xE1\x86\xA8", "\xEA\xB0\x81"},
  {"\xEA\xB0\x80\xE1\x86\xA8", "\xEA\xB0\x81"},
  {"\xEA\xB0\x81", "\xEA\xB0\x81"},
  {"\xEA\xB0\x81\xE1\x86\xA8", "\xEA\xB0\x81\xE1\x86\xA8"},
  {"\xE1\x84\x80\xCC\x81\xE1\x85\xA1", "\xE1\x84\x80\xCC\x81\xE1\x85\xA1"},
  /* Hangul: the vowel behind the 21, the first letter behind the 19, what
   * stands before the first tail, behind the last, behind all syllables */
  {"\xE1\x84\x80\xE1\x85\xB6", "\xE1\x84\x80\xE1\x85\xB6"},
  {"\xE1\x84\x93\xE1\x85\xA1", "\xE1\x84\x93\xE1\x85\xA1"},
  {"\xEA\xB0\x80\xE1\x86\xA7", "\xEA\xB0\x80\xE1\x86\xA7"},
  {"\xEA\xB0\x80\xE1\x87\x83", "\xEA\xB0\x80\xE1\x87\x83"},
  {"\xED\x9E\xA4", "\xED\x9E\xA4"},
  {"\xF0\xAF\xA0\x80", "\xE4\xB8\xBD"}, {"\xEF\xAC\x9D", "\xD7\x99\xD6\xB4"},
  {"e\xCC\x81\xFF", U_E9 "?"},
  /* U+1DFA is Unicode 14's; to the library it is no mark */
  {"e\xE1\xB7\xBA\xCC\x81", "e\xE1\xB7\xBA\xCC\x81"},
  /* 0061 0315 0300 05AE 0300 */
  {"a\xCC\x95\xCC\x80\xD6\xAE\xCC\x80", "\xC3\xA0\xD6\xAE\xCC\x80\xCC\x95"}};

/* Those rows; the byte FF has a token here, which comes back for the ?. */
static void nfc_rows(Test *t, const Tokenizer *k) {
  EACH (i, NFC_ROWS) {
    const char *from = NFC_ROWS[i][0], *to = NFC_ROWS[i][1];
    const bool stray = strchr(from, '\xFF') != NULL;
    Ids ids = {0};
    Bytes back = {0};
    Error e = {0};
    tokenizer_encode(k, (const unsigned char *)from, strlen(from), &ids, &e);
    tokenizer_decode(k, ids.at, ids.size, &back, &e);
    const size_t n = strlen(to) - stray;
    fact(t,
         back.size == n + stray && (!n || !memcmp(back.at, to, n)) &&
             (!stray || back.at[n] == 0xFF),
         "row %d: %.*s, expected %s", i, (int)back.size,
         back.size ? (const char *)back.at : "", to);
    ids_free(&ids);
    bytes_free(&back);
  }
}

/* So many marks out of order in a row take no long time. */
static void nfc_many(Test *t, const Tokenizer *k) {
  enum { PAIRS = 200000 };
  Bytes many = {0}, back = {0};
  Ids ids = {0};
  Error e = {0};
  bytes_add(&many, "x", 1, &e);
  for (int i = 0; i < PAIRS; i++)
    bytes_add(&many, "\xCC\x81\xCC\xA3", 4, &e);
  const double start = seconds();
  tokenizer_encode(k, many.at, many.size, &ids, &e);
  fact(t, seconds() - start < 20, "%g s", seconds() - start);
  tokenizer_decode(k, ids.at, ids.size, &back, &e);
  size_t below = 0;
  while (1 + 2 * below + 2 < back.size && back.at[1 + 2 * below + 1] == 0xA3)
    below++;
  fact(t, !e.status && back.size == many.size && below == PAIRS,
       "%zu below first", below);
  bytes_free(&many);
  bytes_free(&back);
  ids_free(&ids);
}

/* Form NFC, as bytes come back. */
static void hf__tokenizer_nfc(Test *t) {
  const Parts nfc = {.normalizer = "{\"type\": \"NFC\"}"};
  Tokenizer k;
  Encoder c;
  if (!begun(t))
    return;
  parts_write(t, SCRATCH "/t.json", &nfc);
  if (tok_open(t, SCRATCH "/t.json", &k, &c)) {
    nfc_rows(t, &k);
    nfc_many(t, &k);
  }
  other_close(&k, &c);
}

#define VECTORS "../shared/models/tokenizers/"

/* A library's texts have its ids, and come back. The texts lie between lines of
 * __ggml_vocab_test__; there is a line of ids for each. */
static void vectors_hold(Test *t, const char *name, Tokenizer *k, Encoder *c) {
  static const char BETWEEN[] = "\n__ggml_vocab_test__\n";
  char path[200], found[4000];
  int texts = 0, same = 0;
  Error e = {0};
  snprintf(path, sizeof path, VECTORS "%s.vectors.inp", name);
  const char *in = text_in(t, path);
  snprintf(path, sizeof path, VECTORS "%s.vectors.out", name);
  const char *line = text_in(t, path);
  for (const char *s = in, *next; s; s = next, texts++) {
    Ids ids = {0};
    Bytes back = {0};
    next = strstr(s, BETWEEN);
    const size_t n = next ? (size_t)(next - s) : strlen(s);
    const size_t width = strcspn(line, "\n");
    ids_text(c, s, n, found, sizeof found);
    size_t size = strlen(found), from = width > 0 && *line == ' ';
    while (size && found[size - 1] == ' ')
      size--;
    const bool good = size == width - from && !memcmp(found, line + from, size);
    fact(t, good, "%s, text %d: %.100s, expected %.*s", name, texts, found,
         (int)(width < 100 ? width : 100), line);
    tokenizer_encode(*c, (const unsigned char *)s, n, &ids, &e);
    tokenizer_decode(k, ids.at, ids.size, &back, &e);
    const size_t blank = k->published->space > SPACE_NONE && n;
    fact(t, back.size == n + blank && (!n || !memcmp(back.at + blank, s, n)),
         "%s, text %d does not come back", name, texts);
    same += good;
    line += width + (line[width] == '\n');
    if (next)
      next += strlen(BETWEEN);
    ids_free(&ids);
    bytes_free(&back);
  }
  fact(t, texts == 47, "%d texts", texts);
  note(t, "%s: %d of %d; ", name, same, texts);
}

/* The libraries' vectors. */
static void hf__tokenizer_vectors(Test *t) {
  static const char *const ROWS[][2] = {
    {"gpt-2", "gpt-2.tokenizer.json"},
    {"llama-spm", "llama2.tokenizer.model"},
    /* LLaMA-3 published its vectors alone */
    {"llama-bpe", "llama3.tokenizer.json"}};
  static const char *const NEOX_TEXTS[][2] = {
    {"Hello world", "12092 1533 "}, {"a  b", "66 50276 67 "},
    {"<|endoftext|>Hi", "0 12764 "},
    {"a   b\n\n  c", "66 50275 67 535 50276 68 "}};
  Tokenizer k;
  Encoder c;
  char path[200], found[4000];
  if (file_missing(VECTORS "gpt-2.vectors.inp")) {
    t->skip = "no " VECTORS " here";
    return;
  }
  if (!begun(t))
    return;
  for (int i = 0; i < 3; i++) {
    snprintf(path, sizeof path, VECTORS "%s", ROWS[i][1]);
    if (file_missing(path)) {
      note(t, "%s: no vocabulary; ", ROWS[i][0]);
      continue;
    }
    if (!tok_open(t, path, &k, &c))
      continue;
    vectors_hold(t, ROWS[i][0], &k, &c);
    other_close(&k, &c);
  }
  if (tok_open(t, VECTORS "gpt-neox.tokenizer.json", &k, &c))
    for (int i = 0; i < 4; i++) {
      ids_text(&c, NEOX_TEXTS[i][0], strlen(NEOX_TEXTS[i][0]), found,
               sizeof found);
      fact(t, !strcmp(found, NEOX_TEXTS[i][1]), "gpt-neox, %s: %s",
           NEOX_TEXTS[i][0], found);
    }
  note(t, "gpt-neox: 4 of 4");
  other_close(&k, &c);
}

/* A trained model, the whole way: its tokenizer is found beside it and begins
 * the text, or not. */
static void hf__tells(Test *t) {
  static const char TOLD[] =
      " Once upon a time, there was a little girl named Lily. She loved to "
      "play outside in the park. One day, she saw a big, r\n";
  static const char *const WORDS[][2] = {
    {"", TOLD}, {" --no-bos", NULL},
    {" --prompt \"Once upon a time, there\"", TOLD + 1},
    {" --tokenizer " SCRATCH "/tale.tok", NULL}};
  char words[300];
  Settings s;
  if (file_missing(STORIES) || file_missing(STORIES_TOKENS)) {
    t->skip = "no ../shared/models here";
    return;
  }
  if (no_binary(t) || !tale_open(t, &s, ""))
    return;
  if (hf_does(t,
              STORIES " --out " SCRATCH "/s.model --tokenizer " STORIES_TOKENS))
    for (int i = 0; i < 4; i++) {
      snprintf(words, sizeof words,
               "generate " SCRATCH "/s.model --temperature 0 --n %d%s",
               i == 2 ? 33 : 40, WORDS[i][0]);
      Ran r = sink(words);
      const char *out = (const char *)r.out.at;
      if (i == 3)
        fact(t,
             r.status == 1 && strstr((const char *)r.err.at, "the tokenizer"),
             "%s: %s", words, (const char *)r.err.at);
      else if (WORDS[i][1])
        fact(t, !r.status && !strncmp(out, WORDS[i][1], 90), "%s: %s", words,
             out);
      else
        fact(t, !r.status && !strstr(out, "Once upon"), "%s: %s", words, out);
      ran_free(&r);
    }
}

#define X_MODEL SCRATCH "/x.model"
#define TALE_TOK " --tokenizer " SCRATCH "/tale.tok "
#define UNKNOWN "; the model's own is not known"

/* Words, CSV, JSON and a table of several say what was read, and how much of
 * it. A published model's own text is not known. */
static void text_named(Test *t) {
  static const char *const ROWS[][3] = {
    {TALE_TOK, SHIPPED_TEXT, "all of it" UNKNOWN},
    {"--input random", "", ""},
    {TALE_TOK FROM_TEXT, SCRATCH "/tale.txt", "all of it" UNKNOWN},
    {TALE_TOK "--valid 0.5" FROM_TEXT, SCRATCH "/tale.txt",
     "--valid 0.5" UNKNOWN},
    {"--ids " SCRATCH "/ids", SCRATCH "/ids", "all of it"}};
  static const char *const FORMS[][2] = {
    {"", "|" X_MODEL " on %s (%s): 2 seq"},
    {"--csv -", "|text,read,eps,"},
    {"--csv -", "\n\"%s\",\"%s\",0.3,8,2,"},
    {"--json -", "|{\"text\": \"%s\", \"read\": \"%s\", \"eps\": 0.3"}};
  char words[400], want[400];
  EACH (i, ROWS)
    EACH (f, FORMS) {
      snprintf(words, sizeof words, "eval " X_MODEL " %s --T 8 --n 2 %s",
               ROWS[i][0], FORMS[f][0]);
      snprintf(want, sizeof want, FORMS[f][1], ROWS[i][1], ROWS[i][2]);
      if (i == 1 && f == 0)   /* no text */
        answers(t, PROGRAM, words, 0, "|" X_MODEL ": 2 seq");
      else
        answers(t, PROGRAM, words, 0, want);
    }
  answers(t, PROGRAM,
          "eval " X_MODEL " " X_MODEL TALE_TOK "--T 8 --n 2 --csv -", 0,
          "\n\"" X_MODEL "\",\"stories\",\"natural\",\"all of it" UNKNOWN
          "\",");
}

#define TO " " SCRATCH "/f.ckpt "
#define START \
  "train --start " X_MODEL FROM_TEXT "--batch 1 --n 2 --context 8 --out" TO \
  "--steps "

/* A published model's own text is not known. The tokenizer of an older model of
 * its name is gone. Trained further, in a smaller context, it keeps its
 * tokenizer and what begins its texts, which an export tells; the tokenizer's
 * files are the published ones or missing, and no others. */
static void hf__names_its_text(Test *t) {
  static const struct {
    const char *words;
    int status;
    const char *said;
  } ON[] = {
    {START "1", 0, "steps=1 "},
    {START "2 --resume", 0, "steps=2 "},
    {START "2 --resume --context 9", 2, "--context 9: "},
    {"eval" TO "--n 2", 0, " of 8 tokens, "},
    {"eval" TO "--T 9", 2, "the model's context ends at 8"},
    {"export" TO SCRATCH "/to", 0, "left out: the published tokenizer. Copy"},
    {"export --force" TO SCRATCH, 1,
     "expected no tokenizer but the model's own, found another"}};
  Settings s;
  if (no_binary(t) || !tale_open(t, &s, ""))
    return;
  text_file(t, SCRATCH "/tokenizer.json", "{}");
  text_file(t, SCRATCH "/ids", "1 2 3 4 5 6 7 8 9\n9 8 7 6 5 4 3 2 1\n");
  if (!model_file(t, "--vocab 320", 0) ||
      !hf_does(t, "export " SCRATCH "/m.ckpt " DOWNLOAD))
    return;
  parts_write(t, DOWNLOAD "/tokenizer.json",
              &(Parts){.added = ENDS("<s>"),
                       .post = TEMPLATE(FRONT ", " TEXT_A)});
  fact(t, hf_does(t, IMPORT) && !file_missing(X_MODEL ".tok"), "no tokenizer");
  EACH (i, ON)
    answers(t, PROGRAM, ON[i].words, ON[i].status, ON[i].said);
  flags_hold(t, SCRATCH "/f.ckpt", "--start",
             " --context 8 --tokenizer " X_MODEL ".tok --bos 1");
  /* its tokenizer is there */
  Ran r = sink("export --force" TO DOWNLOAD);
  fact(t, !r.status && r.err.size == 1, "%s", (const char *)r.err.at);
  const char *json = text_in(t, DOWNLOAD "/config.json");
  fact(t,
       strstr(json, "_embeddings\": 8,") &&
           strstr(json, "bos_token_id\": 259,") &&
           strstr(json, "eos_token_id\": 258,"),
       "%s", json);
  ran_free(&r);
  remove(DOWNLOAD "/tokenizer.json");
  fact(t, hf_does(t, IMPORT) && file_missing(X_MODEL ".tok"),
       "an older model's tokenizer");
  text_named(t);
}

/* -----------------------------------------------------------------------------
 * 7  Blocks that sink.c lacks: the Mamba mixer and the experts, forward only */

/* Block 1 of two is Mamba's with experts: order and pointers. C 12 F 7 I 5 M 3
 * J 4 R 2 X 2. */
static void model_list__blocks(Test *t) {
  Lab b;
  if (!lab_open(&b, t, 1, 4,
                "--attention-period 2 --mamba-inner 5 --mamba-state 3 "
                "--experts 2 --mamba-rank 2 --expert-period 2 "
                "--expert-offset 1"))
    return;
  const Model *m = &b.m;
  const Layer *w = &m->layer[1];
  const struct {
    const char *name;
    int rank, rows, columns;
    const real *at;
  } ROWS[] = {
    {"l1.norm1", 1, 12, 1, w->norm1.g.w}, {"l1.m.in", 2, 12, 10, w->m_in.w},
    {"l1.m.conv", 2, 4, 5, w->conv.w}, {"l1.m.conv.b", 1, 5, 1, w->conv_b.w},
    {"l1.m.x", 2, 5, 8, w->m_x.w}, {"l1.m.rnorm", 1, 2, 1, w->r_norm.g.w},
    {"l1.m.bnorm", 1, 3, 1, w->b_norm.g.w},
    {"l1.m.cnorm", 1, 3, 1, w->c_norm.g.w},
    {"l1.m.dt", 2, 2, 5, w->m_dt.w}, {"l1.m.dt.b", 1, 5, 1, w->dt_b.w},
    {"l1.m.alog", 2, 3, 5, w->a_log.w}, {"l1.m.skip", 1, 5, 1, w->skip.w},
    {"l1.m.out", 2, 5, 12, w->m_out.w}, {"l1.norm2", 1, 12, 1, w->norm2.g.w},
    {"l1.router", 2, 12, 2, w->router.w},
    {"l1.e0.w1", 2, 12, 7, w->expert[0].w1.w},
    {"l1.e0.w2", 2, 12, 7, w->expert[0].w2.w},
    {"l1.e0.w3", 2, 7, 12, w->expert[0].w3.w},
    {"l1.e1.w1", 2, 12, 7, w->expert[1].w1.w},
    {"l1.e1.w2", 2, 12, 7, w->expert[1].w2.w},
    {"l1.e1.w3", 2, 7, 12, w->expert[1].w3.w},
    {"normf", 1, 12, 1, m->normf.g.w}};
  enum { ALL = sizeof ROWS / sizeof *ROWS };
  int first = 0;
  while (first < m->n_tensors && strcmp(m->all[first]->name, "l1.norm1"))
    first++;
  for (int i = 0; i < ALL && first + i < m->n_tensors; i++) {
    const Tensor *x = m->all[first + i];
    fact(t,
         !strcmp(x->name, ROWS[i].name) && x->rank == ROWS[i].rank &&
             x->rows == ROWS[i].rows && x->cols == ROWS[i].columns &&
             x->layer == (i + 1 < ALL ? 1 : -1),
         "tensor %d is %s [%d,%d] of layer %d, expected %s", i, x->name,
         x->rows, x->cols, x->layer, ROWS[i].name);
    const Tensor *before = m->all[first + i - 1];
    fact(t, x->w == before->w + tensor_count(before), "%s is not where %s ends",
         x->name, before->name);
    fact(t, ROWS[i].at == x->w, "%s is elsewhere", x->name);
  }
  fact(t, m->n_tensors == first + ALL + 1, "%d tensors", m->n_tensors);
  fact(t,
       &m->layer[0].wq == model_tensor(m, "l0.wq") &&
           &m->layer[0].w3 == model_tensor(m, "l0.w3"),
       "block 0 is elsewhere");
  fact(t,
       !w->wq.w && !w->wo.w && !w->w1.w && !m->layer[0].m_in.w &&
           !m->layer[0].expert,
       "a pointer to a tensor that is absent");
  lab_close(&b);
}

/* How many numbers a tensor has. */
static double size_of(const Model *m, const char *name) {
  const Tensor *x = model_tensor(m, name);
  return x ? (double)tensor_count(x) : 0;
}

/* Parameters of Jamba, from a block of each kind at its width, its ffns from
 * F = 14, not 14336. */
static void model_list__jamba(Test *t) {
  Config c;
  Model m;
  Error e = {0};
  static const char FLAGS[] =
      "--layers 2 --heads 32 --kv-heads 8 --dim 4096 --ffn 14 --vocab 1 --pos "
      "none --attention-period 2 --attention-offset 1 --experts 16 "
      "--expert-period 2";
  if (failed(t, "Jamba",
             config_from_flags(&c, FLAGS, &e) ||
                 model_create(&m, &c, false, &e),
             &e))
    return;
  double norms = 2 * 4096, router = size_of(&m, "l0.router");
  double expert = size_of(&m, "l0.e0.w1") + size_of(&m, "l0.e0.w2") +
                  size_of(&m, "l0.e0.w3");
  double mixer = (double)counted(&m, 0) - norms - 16 * expert - router;
  double attention = (double)counted(&m, 1) - norms - expert;
  double ffn = expert * 14336 / 14;
  within(t, mixer, 105308448, 0, "a Mamba mixer of Jamba");
  within(t, attention, 41943040, 0, "an attention of Jamba");
  within(t,
         2.0 * 65536 * 4096 + 4096 + 32 * norms + 28 * mixer + 4 * attention +
             16 * ffn + 16 * (16 * ffn + router),
         51570323328, 0, "parameters of Jamba");
  model_free(&m);
}

/* Block 0 of two is Mamba's; 1 attends. */
#define MAMBA \
  "--attention-period 2 --attention-offset 1 --mamba-inner 5 " \
  "--mamba-state 3 --mamba-rank 2 "

static const char *const PUBLISHED[] = {
  MAMBA,
  MAMBA "--mamba-conv 1 --mamba-state 1 --mamba-rank 1 --place post",
  MAMBA "--mamba-conv 9 --norm layer --place parallel --sink-token "
  "--linear-bias",
  MAMBA "--experts 5 --expert-top 3 --extra kv --window 4",
  MAMBA "--layers 4 --attention-period 4 --experts 3 --expert-period 2 "
  "--pos none --kv-heads 1",
  "--experts 4",
  "--experts 6 --expert-top 1 --act gelu --linear-bias --place post",
  "--experts 3 --expert-top 3 --expert-period 2 --expert-offset 1 "
  "--place parallel --prefix 3",
  NULL};

/* [MAMBA] [MOE] Against plain loops, over 40 rows of two sequences; then over
 * many channels, and in all kinds of Jamba's blocks, and with attention and
 * experts in one of them. */
static void published__against_slow(Test *t) {
#define JAMBA_SHAPE \
  "--heads 4 --kv-heads 2 --dim 32 --ffn 40 --pos none --norm-eps 1e-6 " \
  "--mamba-state 4 --mamba-rank 3 --experts 4 --attention-period 4 "
  static const struct {
    const char *flags;
    int T;
  } ROWS[] = {
    {"--attention-period 2 --attention-offset 1 --mamba-inner 530 "
     "--mamba-state 17 --mamba-rank 20", 9},
    {JAMBA_SHAPE
     "--layers 8 --attention-offset 2 --expert-period 2 --expert-offset 1", 1},
    {JAMBA_SHAPE
     "--layers 8 --attention-offset 2 --expert-period 2 --expert-offset 1", 24},
    {JAMBA_SHAPE
     "--layers 4 --attention-offset 1 --expert-period 2 --expert-offset 1", 1},
    {JAMBA_SHAPE
     "--layers 4 --attention-offset 1 --expert-period 2 --expert-offset 1",
     24}};
  LABS_OF (b, 2, 40, PUBLISHED)
    compare_with_slow(t, &b, 2000 * REAL_EPS);
  EACH (f, ROWS)
    LABS (b, 1, ROWS[f].T, ROWS[f].flags)
      compare_with_slow(t, &b, 4000 * REAL_EPS);
}

/* [MAMBA] One state a channel, one tap, a repeated token and no eps in the
 * norms: r, b and c, each of one number, are then +-1 times their gains, dt and
 * a are the same in every row, and
 *   S_t = dt b a (1 - f^t) / (1 - f),  f = e^(-dt e^A_log)
 * which is a geometric sum. */
static void mamba_forward__closed_form(Test *t) {
  enum { I = 6, T = 33 };
  Lab b;
  if (!lab_open(&b, t, 1, T,
                "--attention-period 2 --attention-offset 1 --mamba-inner 6 "
                "--mamba-state 1 --mamba-rank 1 --mamba-conv 1 --norm-eps 0 "
                "--layers 2"))
    return;
  const Layer *w = &b.m.layer[0];
  MambaActs acts = mamba_acts(&b.m, &b.a, 1, T), *p = &acts;
  for (int i = 0; i < T; i++)
    b.ids[i] = 3;
  lab_forward(&b);
  for (int i = 0; i < I; i++) {
    double x = (double)p->xz[i], z = (double)p->xz[I + i], most = 0;
    double u = (double)w->conv.w[i] * x + (double)w->conv_b.w[i];
    double a = u / (1 + exp(-u));
    double r = (p->p[0] > 0 ? 1 : -1) * (double)w->r_norm.g.w[0];
    double bb = (p->p[1] > 0 ? 1 : -1) * (double)w->b_norm.g.w[0];
    double cc = (p->p[2] > 0 ? 1 : -1) * (double)w->c_norm.g.w[0];
    double dt = log(1 + exp(r * (double)w->m_dt.w[i] + (double)w->dt_b.w[i]));
    double f = exp(-dt * exp((double)w->a_log.w[i]));
    for (int n = 0; n < T; n++) {
      double state = dt * bb * a * (1 - pow(f, n + 1)) / (1 - f);
      double y = (cc * state + (double)w->skip.w[i] * a) * z / (1 + exp(-z));
      within(t, (double)p->y[n * I + i], y, 1000 * REAL_EPS * (1 + fabs(y)),
             "row %d", n + 1);
      most = larger(most, fabs(y));
    }
    within(t, (double)p->state[i], dt * bb * a * (1 - pow(f, T)) / (1 - f),
           1000 * REAL_EPS * (1 + fabs(dt * a / (1 - f))),
           "last state of channel %d", i);
    fact(t, most > 1e-4, "channel %d is 0", i);
  }
  lab_close(&b);
}

/* Does a change of row 0 reach row n: with the last tap alone, with the first
 * alone, with a state that forgets, with one that lasts? */
static bool mamba_reaches(int how, int n) {
  switch (how) {
  case 0: return n == 0;
  case 1: return n == 3 || n == 0;
  case 2: return n < 4;
  default: return true;
  }
}

/* The last tap meets the row itself and the first the row three before; a state
 * that lasts (A -> 0) carries row 1 to the end, one that does not (A ->
 * -infinity) forgets it at once. */
static void mamba_forward__reaches(Test *t) {
  enum { T = 12, I = 5 };
  for (int how = 0; how < 4; how++)
    LABS (b, 1, T, MAMBA) {
      real *taps = lab_at(&b, "l0.m.conv"), before[T * I];
      lab_fill(&b, "l0.m.alog", how == 3 ? -20 : 20);
      for (int k = 0; k < 4 * I && how < 2; k++)
        taps[k] = k / I == (how ? 0 : 3);
      for (int i = 0; i < T; i++)
        b.ids[i] = 2;
      lab_forward(&b);
      const real *made = mamba_acts(&b.m, &b.a, 1, T).y;
      copy(before, made, T * I);
      b.ids[0] = 7;
      lab_forward(&b);
      for (int n = 0; n < T; n++) {
        double d = distance(I, before + n * I, made + n * I);
        fact(t, mamba_reaches(how, n) ? d > 1e-9 : d == 0,
             "case %d: row %d moves by %g", how, n + 1, d);
      }
    }
}

/* Expert by expert: one expert is the plain ffn, bit by bit; equal experts, of
 * which each of X has p = 1/X, give top/X of it, for the p are not divided by
 * their sum; all of them give all of it. */
static void experts_forward__alike(Test *t) {
  static const struct {
    const char *flags;
    int X, top;
  } ROWS[] = {
    {"--experts 1", 1, 1},
    {"--experts 4", 4, 2},
    {"--experts 4 --expert-top 1", 4, 1},
    {"--experts 4 --expert-top 3", 4, 3},
    {"--experts 5 --expert-top 5", 5, 5},
    {"--experts 1 --act gelu --linear-bias", 1, 1}};
  EACH (f, ROWS)
    LABS (plain, 2, 9, f < 5 ? "" : "--act gelu --linear-bias")
      LABS (b, 2, 9, ROWS[f].flags) {
        lab_share(&b, &plain);
        for (int l = 0; l < 2; l++) {
          char name[32], own[32];
          static const char *const NAMES[] = {"w1", "w2", "w3",
                                              "b1", "b2", "b3"};
          snprintf(name, sizeof name, "l%d.router", l);
          if (ROWS[f].X > 1)
            lab_fill(&b, name, 0);
          for (int e = 0; e < ROWS[f].X; e++)
            for (int k = 0; k < 6; k++) {
              snprintf(name, sizeof name, "l%d.%s", l, NAMES[k]);
              snprintf(own, sizeof own, "l%d.e%d.%s", l, e, NAMES[k]);
              const Tensor *x = model_tensor(&plain.m, name);
              fact(t, !x == !model_tensor(&b.m, own), "%s and %s", name, own);
              if (x)
                copy(lab_at(&b, own), x->w, tensor_count(x));
            }
        }
        lab_forward(&plain);
        lab_forward(&b);
        if (ROWS[f].X == 1)
          within(t, distance(2 * 9 * 12, plain.a.nf, b.a.nf), 0, 0,
                 "one expert, %s", ROWS[f].flags);
        const LayerActs *x = &plain.a.layer[0], *y = &b.a.layer[0];
        for (int i = 0; i < 2 * 9 * 12; i++)
          within(t, (double)y->s2[i] - (double)y->s1[i],
                 ((double)x->s2[i] - (double)x->s1[i]) * ROWS[f].top /
                     ROWS[f].X,
                 64 * REAL_EPS, "FFN times %d/%d", ROWS[f].top, ROWS[f].X);
        /* of equal p the lower e are taken */
        for (int n = 0; n < 18 && ROWS[f].X > 1; n++)
          for (int e = 0; e < ROWS[f].X; e++) {
            const double p = e < ROWS[f].top ? 1.0 / ROWS[f].X : 0;
            within(t, (double)b.a.published[n * ROWS[f].X + e], p,
                   2 * REAL_EPS, "p_%d", e);
          }
      }
}

/* By hand: n2 row x = (1, 0, ..) and router columns (0, log 2, log 5), so p =
 * (1, 2, 5)/8 and the top 2 weigh 2/8 and 5/8, not 2/7 and 5/7. A router that
 * is NaN makes its rows NaN. */
static void experts_forward__not_renormalised(Test *t) {
  static const double OF_8[] = {1, 2, 5}, P[] = {0, 2.0 / 8, 5.0 / 8};
  Lab b;
  if (!lab_open(&b, t, 1, 5, "--experts 3 --layers 1 --norm layer"))
    return;
  /* n2 = its bias, in every row */
  lab_fill(&b, "l0.norm2", 0);
  lab_fill(&b, "l0.norm2.b", 0);
  lab_at(&b, "l0.norm2.b")[0] = 1;
  for (int e = 0; e < 3; e++)
    lab_at(&b, "l0.router")[e] = (real)log(OF_8[e]);
  lab_forward(&b);
  for (int n = 0; n < 5; n++)
    for (int e = 0; e < 3; e++)
      within(t, (double)b.a.published[n * 3 + e], P[e], 4 * REAL_EPS,
             "p_%d of row %d", e, n + 1);
  lab_at(&b, "l0.router")[1] = (real)NAN;
  lab_forward(&b);
  for (int i = 0; i < 60; i++)
    fact(t, isnan((double)b.a.nf[i]), "number %d is %g, a router NaN", i,
         (double)b.a.nf[i]);
  lab_close(&b);
}

/* Rows see nothing ahead; the same bits beside others, in one block's memory,
 * on any threads. */
static void published__same_bits(Test *t) {
  enum { T = 9, B = 3 };
  LABS_OF (b, B, T, PUBLISHED) {
    Acts one;
    Error e = {0};
    const Config *c = &b.m.c;
    idx N = config_rows(c, T), rows = N * c->dim, first = N - T;
    real *whole = reals(B * rows);
    if (acts_create(&one, &b.m, B, T, ACTS_ONE, &e))
      exit(1);
    lab_forward(&b);
    copy(whole, b.a.nf, B * rows);
    model_forward(&b.m, &one, b.ids, B, T);
    fact(t, !memcmp(whole, one.nf, (size_t)(B * rows) * sizeof(real)),
         "one block, %s", b.flags);
    for (int s = 0; s < B; s++) {
      model_forward(&b.m, &one, b.ids + s * T, 1, T);
      fact(t, !memcmp(whole + s * rows, one.nf, (size_t)rows * sizeof(real)),
           "sequence %d alone, %s", s, b.flags);
    }
    for (int changed = 0; changed < T; changed++) {
      int was = b.ids[changed];
      b.ids[changed] = (was + 1) % 10;
      model_forward(&b.m, &one, b.ids, 1, T);
      idx before = (changed < c->prefix ? 0 : first + changed) * c->dim;
      fact(t, !memcmp(whole, one.nf, (size_t)before * sizeof(real)),
           "token %d changes an earlier row, %s", changed + 1, b.flags);
      fact(t,
           distance(c->dim, whole + (N - 1) * c->dim,
                    one.nf + (N - 1) * c->dim) > 1e-12,
           "token %d does not reach the last row, %s", changed + 1, b.flags);
      b.ids[changed] = was;
    }
    acts_free(&one);
    int most = workers();
    if (!set_workers(3)) {
      Acts more;
      if (acts_create(&more, &b.m, B, T, ACTS_ONE, &e))
        exit(1);
      model_forward(&b.m, &more, b.ids, B, T);
      fact(t, !memcmp(whole, more.nf, (size_t)(B * rows) * sizeof(real)),
           "3 threads, %s", b.flags);
      acts_free(&more);
      set_workers(most);
    }
    free(whole);
  }
}

/* Rows that are made later are those of a whole forward, in which a Mamba block
 * makes all anew. */
static void published__extend(Test *t) {
  for (int i = 0; PUBLISHED[i]; i++) {
    int how = strstr(PUBLISHED[i], "--attention-period") ? EXTEND_ANEW : 0;
    if (!extend_one(t, PUBLISHED[i], SHORT_PROMPTS, 75, how))
      return;
  }
  extend_one(t, "--rope-scaling longrope --rope-original 27", SHORT_PROMPTS, 75,
             0);
}

/* The sink metrics, where not every block attends. */
static void published__sinks(Test *t) {
  LABS (b, 3, 12,
        MAMBA
        "--layers 4 --attention-period 3 --extra k --sink-token --kv-heads 1",
        "--experts 3") {
    bool attends[4];
    for (int l = 0; l < 4; l++)
      attends[l] = slow_attends(&b.m.c, l);
    lab_against_slow(t, &b, METRIC_REAL, attends);
    lab_against_slow(t, &b, METRIC_PLUS1, attends);
  }
}

/* A cache that drops nothing gives what a dense one gives, where blocks with a
 * window turn by a base of their own, too. */
static void stream__local_angles(Test *t) {
  enum { T = 12 };
  LABS (b, 1, T,
        "--layers 3 --window 5 --window-period 2 --rope-local 50") {
    double all[T], text[T];
    Error e = {0};
    stream(all, &b.m, b.ids, b.targets, T, &POLICIES[0], T, 0, &e);
    stream(text, &b.m, b.ids, b.targets, T, &POLICIES[POLICIES_KNOWN - 1], T, 0,
           &e);
    no_error(t, &e);
    for (int i = 0; i < T; i++)
      within(t, text[i], all[i], 0, "token %d", i + 1);
  }
}

/* eval --signs where blocks are forward only: all but the gradient, which
 * says why. */
static void signs__forward_only(Test *t) {
  LABS (b, 1, 9, MAMBA "--layers 4 --attention-period 3 --kv-heads 1") {
    Signs g;
    Error e = {0};
    Settings s;
    Data d = {.vocab = b.m.c.vocab};
    settings_default(&s);
    s.input = INPUT_RANDOM;
    fact(t, !signs(&g, &b.m, &d, &s, 3, 9, &e) && strstr(g.why, "forward only"),
         "%s", g.why);
    for (int k = 0; k < SIGNS_ALL; k++)
      for (int l = 0; l <= 4; l++)
        fact(t,
             isnan(g.x[l][k]) ==
                 (k == G_GRADIENT ||
                  (k < G_NORM && l < 4 && !config_attends(&b.m.c, l))),
             "block %d: %s", l + 1, SIGNS_COLUMNS[k].name);
    signs_free(&g);
  }
}

/* Questions of a file, escapes undone, and the lines that are none. */
static void choices_read__lines(Test *t) {
  static const char GOOD[] = "\xEF\xBB\xBF"
                             "1\tA\\tb\tx\\n\ty\\\\n\\q\r\n\r\n0\t\tu\t\tw\n"
                             " \xC2\xA0\n \r\n";
  static const struct { const char *text, *said; } BAD[] = {
    {"", "expected one question per line, found none"},
    {"\n\n", "found none"},
    {"0\ta\tb", ":1: "},
    {"2\ta\tb\tc", ":1: "},
    {"\n1\ta\tb\tc\nx\ta\tb\tc", ":3: "},
    {"12\ta\tb\tc", ":1: "},
    {"1", ":1: "},
    {"1\t", ":1: "},
    {"1\ta\tb\tc\n\t\t\t\n", ":2: "},
    {"1\t0\t1\t2\t3\t4\t5\t6\t7\t8\t9\t", ":1: "}};
  Choices c;
  Error e = {0};
  fact(t,
       !choices_read((const unsigned char *)GOOD, sizeof GOOD - 1, "f", &c, &e),
       "%s", e.text);
  if (e.status)
    return;
  const char *const want[2][4] = {{"A\tb", "x\n", "y\\n\\q", NULL},
                                  {"", "u", "", "w"}};
  fact(t,
       c.n == 2 && c.question[0].gold == 1 && c.question[1].gold == 0 &&
           c.question[0].endings == 2 && c.question[1].endings == 3,
       "%d questions", c.n);
  for (int i = 0; i < c.n; i++)
    for (int k = 0; k <= c.question[i].endings; k++)
      fact(t,
           !strcmp((const char *)c.text + c.question[i].field[k], want[i][k]),
           "question %d, field %d: %s", i, k, c.text + c.question[i].field[k]);
  choices_free(&c);
  EACH (i, BAD) {
    Error bad = {0};
    int status = choices_read((const unsigned char *)BAD[i].text,
                              strlen(BAD[i].text), "f", &c, &bad);
    fact(t,
         status == 1 && strstr(bad.text, BAD[i].said) &&
             strstr(bad.text, ". Try: ") && !c.text && !c.question,
         "%s: %d %s", BAD[i].text, status, bad.text);
  }
  static const char NINE[] = "8\ta\t1\t2\t3\t4\t5\t6\t7\t8\t9\n";
  static const char ZERO[] = "0\ta\0b\tx\ty\n";
  fact(t,
       !choices_read((const unsigned char *)NINE, sizeof NINE - 1, "f", &c,
                     &e) &&
           c.question[0].endings == 9,
       "%s", e.text);
  choices_free(&c);
  fact(t,
       choices_read((const unsigned char *)ZERO, sizeof ZERO - 1, "f", &c,
                    &e) == 1,
       "a 0 byte is read");
}

/* acc_norm divides by characters; of equals the first wins. */
static void question_judge__by_hand(Test *t) {
  static const char LINES[] = "1\tc\t" U_E9 U_E9 U_E9 "\tabcd\n"
                              "0\tc\tab\tcd\n";
  Choices c;
  Error e = {0};
  int right[2] = {0};
  choices_read((const unsigned char *)LINES, sizeof LINES - 1, "f", &c, &e);
  question_judge(&c, &c.question[0], (const double[]){-3, -3.2}, right);
  fact(t, right[0] == 0 && right[1] == 1, "characters: %d %d", right[0],
       right[1]);
  question_judge(&c, &c.question[1], (const double[]){-1, -1}, right);
  fact(t, right[0] == 1 && right[1] == 2, "equal: %d %d", right[0], right[1]);
  choices_free(&c);
  within(t, share_error(0.5, 5), 0.25, 0, "the error of 5");
  within(t, share_error(1, 1), 0, 0, "the error of 1");
}

/* What a prefix leaves unscored counts nothing; a NaN is no answer. */
static void choices_log_p__edges(Test *t) {
  static const int32_t FIVE[] = {1, 2, 3, 4, 5};
  static const Choice ONE_OF = {0, 5, 2};
  Settings s;
  Ids ids = {0};
  settings_default(&s);
  ids_add(&ids, FIVE, 5, fresh(t));
  LABS (b, 1, 9, "--layers 1 --prefix 8", "--layers 1") {
    const bool odd = !b.m.c.prefix;
    double log_p = 0;
    if (odd)
      b.m.params[b.m.count - 1] = (real)NAN;
    const int status = choices_log_p(&log_p, &b.m, &ONE_OF, 1, &ids, &s,
                                     fresh(t));
    if (odd)
      fact(t, status == 1 && strstr(t->e.text, "is not finite"), "%g %s", log_p,
           t->e.text);
    else
      fact(t, !status && log_p == 0, "inside a prefix: %g", log_p);
  }
  ids_free(&ids);
}

/* Without a context an ending has no blank in front, and is of two tokens at
 * least: the first is not scored. */
static void choices_encode__no_context(Test *t) {
  static const char LINES[] = "0\t\tthe cat\tdog\n0\t\ta\tb\n";
  Settings s;
  Trainer r;
  Choices c;
  Choice of[2];
  Ids ids = {0}, alone = {0};
  Error e = {0}, bad = {0};
  if (!tale_open(t, &s, "") || !trainer_made(t, &r, "--context 48"))
    return;
  choices_read((const unsigned char *)LINES, sizeof LINES - 1, "f", &c, &e);
  tokenizer_encode(&r.data.tokenizer, (const unsigned char *)"the cat", 7,
                   &alone, &e);
  choices_encode(&r.data, &r.s, &c, &c.question[0], &ids, of, 48, &e);
  fact(t,
       !e.status && of[0].length == (int)alone.size &&
           !memcmp(ids.at, alone.at, alone.size * sizeof *alone.at),
       "another text: %s", e.text);
  choices_encode(&r.data, &r.s, &c, &c.question[1], &ids, of, 48, &bad);
  fact(t, strstr(bad.text, "at least one token"), "%s", bad.text);
  choices_free(&c);
  ids_free(&ids);
  ids_free(&alone);
  trainer_free(&r);
}

/* [E1] log p of an ending on its own, without padding or company: the sum over
 * its tokens. */
static double ending_log_p(Test *t, Trainer *r, const Settings *s,
                           const char *context, const char *ending) {
  enum { ROOM = 64, VOCAB = 400 };
  char text[600];
  int32_t bos = r->data.bos;
  Ids ids = {0}, alone = {0};
  Acts a;
  Error e = {0};
  double sum = 0;
  snprintf(text, sizeof text, "%s %s", context, ending);
  if (s->data.bos) {
    ids_add(&ids, &bos, 1, &e);
    ids_add(&alone, &bos, 1, &e);
  }
  tokenizer_encode(&r->data.tokenizer, (const unsigned char *)text,
                   strlen(text), &ids, &e);
  /* blanks at the context's end are the ending's */
  size_t context_end = strlen(context);
  while (context_end && context[context_end - 1] == ' ')
    context_end--;
  tokenizer_encode(&r->data.tokenizer, (const unsigned char *)context,
                   context_end, &alone, &e);
  int T = (int)ids.size - 1, from = (int)alone.size, V = r->m.c.vocab;
  int cut = T > r->m.c.context ? T - r->m.c.context : 0;
  T -= cut;
  if (T > ROOM || V > VOCAB || acts_create(&a, &r->m, 1, T, ACTS_ONE, &e)) {
    fact(t, false, "%d tokens, %s", T, e.text);
    return NAN;
  }
  static real logits[ROOM * VOCAB];
  model_forward(&r->m, &a, (const int *)ids.at + cut, 1, T);
  model_logits(&r->m, &a, a.nf, T, logits);
  for (int i = from > cut ? from - cut - 1 : 0; i < T; i++) {
    double all = 0;
    for (int v = 0; v < V; v++)
      all += exp((double)logits[i * V + v]);
    sum += (double)logits[i * V + ids.at[cut + i + 1]] - log(all);
  }
  acts_free(&a);
  ids_free(&ids);
  ids_free(&alone);
  return sum;
}

/* What the program says of SCRATCH/m.ckpt, alone and in a table, and without
 * the file. */
static void eval_choices(Test *t, const char *said) {
#define CHOSEN(more) \
  "eval " SCRATCH "/m.ckpt --text " SCRATCH "/tale.txt --tokenizer " SCRATCH \
  "/tale.tok --T 8 --n 4 " more " --choices " SCRATCH
  if (no_binary(t))
    return;
  answers(t, PROGRAM, CHOSEN("") "/choices", 0, said);
  answers(t, PROGRAM, CHOSEN("--inputs") "/choices", 0,
          " questions       acc  acc_norm  read");
  sink_fails(t, CHOSEN("") "/none", 1, "none: ");
  sink_fails(t,
             "eval " SCRATCH "/m.ckpt --T 8 --n 4 " FROM_TEXT
             "--tokenizer " SCRATCH "/tale.tok --questions 5",
             2, "--questions: has an effect only with --choices");
}

static const char *const ASKED_OF[] = {
  "the cat", "a dog ran", "house", "saw it", "and \xc3\xa9t\xc3\xa9", "there",
  "in", "Tom", "went far away from", "x"};

/* One of these words. */
static const char *word_draw(Rng *r) { return ASKED_OF[rng_below(r, 10)]; }

/* Questions of random words: their file, how many are right by log P and by
 * log P per character, and for how many these two differ. */
typedef struct Asked {
  Bytes file;
  int right[2], differ;
} Asked;

/* A context, which for every fourth question ends in blanks. */
static void context_draw(char context[200], int i, Rng *r) {
  *context = 0;
  for (int k = (int)rng_below(r, 5); k >= 0; k--) {
    strcat(context, word_draw(r));
    if (k)
      strcat(context, " ");
    else if (i % 4 == 0)
      strcat(context, "  ");
  }
}

/* Ending k: a word, and for every second ending another one. */
static void ending_draw(char ending[100], int k, Rng *r) {
  strcpy(ending, word_draw(r));
  if (k % 2) {
    strcat(ending, " ");
    strcat(ending, word_draw(r));
  }
}

/* Question i. Every third has another right ending than the best. */
static void question_draw(Test *t, Asked *a, Trainer *r, int i, Rng *rng,
                          Error *e) {
  char context[200], ending[4][100];
  int best[2] = {0}, endings = 2 + i % 3;
  double most[2] = {-INFINITY, -INFINITY};
  context_draw(context, i, rng);
  for (int k = 0; k < endings; k++) {
    ending_draw(ending[k], k, rng);
    int size = 0;
    for (const char *at = ending[k]; *at; at++)
      size += (*at & 0xC0) != 0x80;
    double log_p = ending_log_p(t, r, &r->s, context, ending[k]);
    fact(t, isfinite(log_p), "log P of %s is %g", ending[k], log_p);
    double is[2] = {log_p, log_p / size};
    for (int x = 0; x < 2; x++)
      if (is[x] > most[x]) {
        most[x] = is[x];
        best[x] = k;
      }
  }
  int gold = i % 3 ? best[i % 2] : (best[0] + 1) % endings;
  for (int x = 0; x < 2; x++)
    a->right[x] += best[x] == gold;
  a->differ += best[0] != best[1];
  bytes_print(&a->file, e, "%d\t%s", gold, context);
  for (int k = 0; k < endings; k++)
    bytes_print(&a->file, e, "\t%s", ending[k]);
  bytes_print(&a->file, e, "\n");
}

/* acc and acc_norm of 60 questions against endings looked at one at a time,
 * with and without bos, and where a context is longer than the model's. */
static void choices_answer__oracle(Test *t) {
  static const char *const FLAGS[] = {"--context 48", "--context 48 --bos",
                                      "--context 7"};
  Settings s;
  if (!tale_open(t, &s, ""))
    return;
  EACH (f, FLAGS) {
    Trainer r;
    Error e = {0};
    char said[100];
    Asked a = {0};
    Rng rng = {3};
    if (!trainer_made(t, &r, FLAGS[f]))
      return;
    steps_of(t, &r, 20);
    for (int i = 0; i < 60; i++)
      question_draw(t, &a, &r, i, &rng, &e);
    file_write(SCRATCH "/choices", a.file.at, a.file.size, &e);
    strcpy(r.s.own.choices, SCRATCH "/choices");
    r.s.own.questions = 0;
    Chosen got;
    choices_answer(&got, &r.m, &r.data, &r.s, &e);
    fact(t, !e.status && got.n == 60, "%s", e.text);
    within(t, got.acc, a.right[0] / 60.0, 1e-12, "acc, %s", FLAGS[f]);
    within(t, got.acc_norm, a.right[1] / 60.0, 1e-12, "acc_norm, %s", FLAGS[f]);
    fact(t, a.differ > 5 && a.right[0] > 10 && a.right[0] < 50,
         "%d differ, %d right", a.differ, a.right[0]);
    r.s.own.questions = 7;
    choices_answer(&got, &r.m, &r.data, &r.s, &e);
    fact(t, !e.status && got.n == 7, "%d questions", got.n);
    if (f == 0)
      parameters_write(SCRATCH "/m.ckpt", &r, &e);
    snprintf(said, sizeof said,
             "60 questions of " SCRATCH "/choices: acc %.4f +- ",
             a.right[0] / 60.0);
    bytes_free(&a.file);
    trainer_free(&r);
    if (f == 0)
      eval_choices(t, said);
  }
}

/* A number that is not what it must be is seen, whatever is measured. */
static void measured__sees(Test *t) {
  static const struct {
    double (*off)(Place s);
    int map, at;   /* z, weight, metric; of the last block's [2,12,12] */
    double most;   /* what a good model has */
  } ROWS[] = {
    {off_row, 1, 287, 1e-3}, {off_sum, 1, 287, 1e-3}, {off_alone, 2, 0, 1e-3},
    {off_score, 0, 287, 1e-3}, {over_bound, 2, 287, 1}};
  Page p = {.e = fresh(t)};
  Toy *y = toy(&p, RANDOM, "--pos none");
  const Probe *of = &y->a.probe[2];
  real *const maps[] = {of->z, of->weight, of->metric};
  EACH (i, ROWS) {
    real *at = maps[ROWS[i].map] + ROWS[i].at, was = *at;
    fact(t, trained_worst(y, ROWS[i].off) <= ROWS[i].most, "row %d: good", i);
    *at += 2;
    fact(t, trained_worst(y, ROWS[i].off) > ROWS[i].most, "row %d: bad", i);
    *at = was;
  }
  const idx n = (idx)y->T * y->m.c.dim;
  real *before = reals(4 * n);
  for (int l = 0; l < 4; l++)
    copy(before + l * n, toy_state(y, l, 1), n);
  fact(t, first_half_moved(y, before) == 0, "nothing moved");
  before[3 * n] += 1;   /* the last block's first state */
  fact(t, first_half_moved(y, before) == 1, "one number moved");
  free(before);
  toy_free(y);
}

/* [E10] Every variant and every row of an axis, with parameters of order 1:
 * each statement that is measured comes out as it must, so that what a model is
 * said to have is what it has. */
static void check_model__every_variant(Test *t) {
  static const char *const MORE[] = {
    "--pos alibi --window 8", "--prefix 5", "--extra k --sink-token",
    "--pos t5", "--kv-heads 1", "--score-by-layer", "--scale 0.2", "--pos none",
    "--pos alibi", "--pos relative", "--prefix 20",
    "--kernel elu --sim identity --score-scale logn", "--xsa --extra k",
    "--head-norm --sim sigmoid --normalizer one", "--pos none --extra logn",
    "--pos none --sim relu --normalizer count", "--sim rectified --xsa",
    "--window 1 --sink-token", "--xsa --head-norm", "--xsa --place sandwich"};
  enum { EXTRA = (int)(sizeof MORE / sizeof *MORE) };
  int models = 0, rows = 0, measured = 0, n;
  char last[120];
  scratch_open();
  char *const *axis = covering()->axis;
  while (VARIANTS[models].name)
    models++;
  while (axis[rows])
    rows++;
  for (int i = 0; i < models + EXTRA + rows; i++) {
    const char *flags;
    if (i < models)
      flags = VARIANTS[i].flags;
    else if (i < models + EXTRA)
      flags = MORE[i - models];
    else
      flags = axis[i - models - EXTRA];
    Trainer r = {0};
    Error e = {0};
    char all[400];
    settings_default(&r.s);
    snprintf(all, sizeof all,
             "--layers 2 --dim 12 --head-dim 4 --heads 2 --ffn 10 --vocab 13 "
             "--context 40 %s",
             flags);
    if (failed(t, flags,
               settings_flags(&r.s, all, MODEL, &e) ||
                   config_resolve(&r.s.model, &e) ||
                   model_create(&r.m, &r.s.model, true, &e),
               &e))
      continue;
    Rng rng = {7};
    for (int k = 0; k < r.m.n_tensors; k++) {
      const Tensor *x = r.m.all[k];
      bool gain = strstr(x->name, "norm") && !strstr(x->name, ".b");
      for (idx j = 0; j < tensor_count(x); j++)
        x->w[j] = (real)(0.4 * rng_normal(&rng) + gain);
    }
    fact(t, !parameters_write(SCRATCH "/any.ckpt", &r, &e), "%s: %s", flags,
         e.text);
    fact(t, !checked(t, SCRATCH "/any.ckpt", last, &n) && n >= 4, "%s: %s",
         flags, last);
    measured += n;
    trainer_free(&r);
  }
  fact(t, check_model(SCRATCH "/none.ckpt", stdout, &(Error){0}) == 1,
       "no file");
  note(t, "%d models, %d lines", models + EXTRA, measured);
}

/* -----------------------------------------------------------------------------
 * 8  Model files */

/* An F16 by its definition. */
static double slow_half(unsigned h) {
  int exponent = h >> 10 & 31;
  double fraction = h & 1023, sign = h >> 15 ? -1 : 1;
  if (exponent == 31)
    return fraction > 0 ? NAN : sign * INFINITY;
  if (exponent == 0)
    return sign * ldexp(fraction, -24);
  return sign * ldexp(1024 + fraction, exponent - 25);
}

/* Rows of any length at any place have the same numbers, and nothing is written
 * beyond their ends; raw [4 all] and got [all] are room. */
static void widen_rows(Test *t, int all, unsigned char *raw, real *got) {
  Rng r = {1};
  for (int i = 0; i < 4 * all; i++)
    raw[i] = (unsigned char)rng_below(&r, 256);
  for (int n = 0; n < 70; n += 3) {
    widen(DTYPE_F32, n, got, raw + n);
    got[n] = 7;
    widen(DTYPE_F16, n, got + n + 1, raw + n + 1);
    for (int i = 0; i < n; i++) {
      const float want = float_of((uint32_t)number_at(raw + n + 4 * i, 4));
      fact(t,
           isnan(want) ? isnan((double)got[i]) : (double)got[i] == (double)want,
           "F32");
      double half = slow_half((unsigned)number_at(raw + n + 1 + 2 * i, 2));
      fact(t, isnan(half) || (double)got[n + 1 + i] == half,
           "F16 at an odd place");
    }
    fact(t, got[n] == 7, "written beyond the end");
  }
}

/* All 65,536 numbers of either kind, in one row, so that every lane of a vector
 * meets some. */
static void widen__every_half(Test *t) {
  enum { ALL = 1 << 16 };
  unsigned char *raw = zeroed(4 * ALL, 1);
  real *got = reals(ALL);
  int nans = 0, subnormal = 0;
  for (unsigned i = 0; i < ALL; i++) {
    raw[2 * i] = (unsigned char)(i & 255);
    raw[2 * i + 1] = (unsigned char)(i >> 8);
  }
  widen(DTYPE_F16, ALL, got, raw);
  for (unsigned i = 0; i < ALL; i++) {
    double want = slow_half(i), x = (double)got[i];
    fact(t, isnan(want) ? isnan(x) : x == want && !signbit(x) == !signbit(want),
         "F16 %04x is %.17g, expected %.17g", i, x, want);
    nans += isnan(want) != 0;   /* any number but 0 is true */
    subnormal += want != 0 && fabs(want) < 0x1p-14;
#ifndef SINK_DOUBLE
    const uint32_t bits = bits_of(got[i]);
    fact(t,
         !isnan(want) ||
             bits == (0x7F800000u | (i & 0x8000u) << 16 | (i & 1023u) << 13),
         "NaN %04x became %08x", i, (unsigned)bits);
#endif
  }
  fact(t, nans == 2046 && subnormal == 2046, "%d NaN, %d subnormal", nans,
       subnormal);
  widen(DTYPE_BF16, ALL, got, raw);
  for (unsigned i = 0; i < ALL; i++) {
    const float want = float_of((uint32_t)i << 16);
    fact(t,
         isnan(want) ? isnan((double)got[i])
                     : !memcmp(&(real){(real)want}, &got[i], sizeof(real)),
         "BF16 %04x", i);
  }
  widen_rows(t, ALL, raw, got);
  fact(t,
       dtype_width(DTYPE_F32) == 4 && dtype_width(DTYPE_F16) == 2 &&
           dtype_width(DTYPE_BF16) == 2,
       "widths");
  free(raw);
  free(got);
}

/* A random number that the type can say, below 1: its bytes, and what it is. */
static real stored_number(Rng *r, int dtype, unsigned char at[4]) {
  uint64_t bits = rng_next(r);
  if (dtype == DTYPE_F16) {
    unsigned h = (unsigned)(bits & 0x83FF) | (unsigned)(9 + bits % 3 * 2) << 10;
    at[0] = (unsigned char)(h & 255);
    at[1] = (unsigned char)(h >> 8);
    return (real)slow_half(h);
  }
  uint32_t word = bits_of((float)(rng_uniform(r) * 0.6 - 0.3));
  if (dtype == DTYPE_BF16)
    word &= 0xFFFF0000u;
  for (int i = 0; i < 4; i++)
    at[i] = (unsigned char)(word >> (8 * i) & 255);
  if (dtype == DTYPE_BF16)
    memmove(at, at + 2, 2);
  return (real)float_of(word);
}

/* Tensor x with new numbers that its type can say, and its bytes as they lie in
 * a file. */
static unsigned char *tensor_drawn(Model *m, const Tensor *x, int dtype,
                                   int order, Rng *r) {
  size_t width = dtype_width(dtype);
  idx in = x->rows, out = x->cols;
  unsigned char *raw = zeroed(tensor_count(x) * (idx)width, 1);
  for (idx i = 0; i < in; i++)
    for (idx o = 0; o < out; o++) {
      unsigned char at[4];
      idx place = order == OUT_IN ? o * in + i : i * out + o;
      real *to = x->w + i * out + o;
      *to = stored_number(r, dtype, at);
      if (frozen(m, x, i * out + o)) {
        *to = 0;
        memset(at, 0, 4);
      }
      memcpy(raw + (size_t)place * width, at, width);
    }
  return raw;
}

/* Gives m new parameters and writes them as a model file, of types and orders
 * by `kind`. */
static bool model_written(Test *t, Model *m, const char *path, int kind) {
  Settings s;
  Error e = {0};
  ModelWriter w;
  Rng r = {(uint64_t)kind};
  settings_default(&s);
  s.model = m->c;
  if (failed(t, path, model_file_begin(&w, path, &s, 77, &e), &e))
    return false;
  for (int k = 0; k < m->n_tensors; k++) {
    const Tensor *x = m->all[k];
    int dtype = (kind + k) % DTYPES, order = (kind + k) / 2 % 2;
    /* as published ones stand, but sometimes the other way */
    if (!strcmp(x->name, "wte"))
      order = kind % 5 == 4 ? OUT_IN : IN_OUT;
    if (!strcmp(x->name, "wcls"))
      order = kind % 5 == 4 ? IN_OUT : OUT_IN;
    unsigned char *raw = tensor_drawn(m, x, dtype,
                                      x->rank == 2 ? order : IN_OUT, &r);
    size_t n = (size_t)tensor_count(x) * dtype_width(dtype), half = n / 8 * 4;
    model_file_tensor(&w, x->name, dtype, order, &e);
    if (half)
      model_file_bytes(&w, raw, half, &e);
    model_file_bytes(&w, raw + half, n - half, &e);
    free(raw);
  }
  fact(t, !model_file_end(&w, &e), "%s", e.text);
  return !e.status;
}

/* As `generate` goes on: 5 tokens, then two after their keys, from a file and
 * in memory. */
static void extend_from_file(Test *t, const Model *m, const Model *file,
                             const int *ids, const char *flags) {
  real got[64], want[64];
  Acts a[2];
  Error e = {0};
  int V = m->c.vocab, C = m->c.dim;
  if (failed(t, flags,
             acts_create(&a[0], m, 1, 7, ACTS_KEYS, &e) ||
                 acts_create(&a[1], file, 1, 7, ACTS_KEYS, &e),
             &e))
    return;
  for (int from = 0; from < 7; from += from ? 1 : 5) {
    int T = from ? from + 1 : 5, R = model_extend(m, &a[0], ids, T, from);
    fact(t, model_extend(file, &a[1], ids, T, from) == R,
         "%d rows in memory, %s", R, flags);
    within(t, distance((idx)R * C, a[0].nf, a[1].nf), 0, 0, "token %d, %s", T,
           flags);
    model_logits(m, &a[0], a[0].nf + (idx)(R - 1) * C, 1, want);
    model_logits(file, &a[1], a[1].nf + (idx)(R - 1) * C, 1, got);
    within(t, distance(V, want, got), 0, 0, "logits after %d tokens, %s", T,
           flags);
  }
  fact(t, !model_fault(file, &e), "%s: %s", flags, e.text);
  acts_free(&a[0]);
  acts_free(&a[1]);
}

/* Of every configuration: the same bits from a file, slab by slab or read
 * whole, as in memory. */
static void model_file__same_bits(Test *t) {
  const Cover *v = covering();
  const char *path = SCRATCH "/model.bin";
  int streamed = 0;
  scratch_open();
  for (int i = 0; i < v->n; i++) {
    char flags[1024];
    Lab b;
    Acts a;
    Trainer whole, open;
    Error e = {0};
    pick_flags(&v->pick[i], flags, sizeof flags);
    if (!lab_open(&b, t, 2, 7, flags) || !model_written(t, &b.m, path, i))
      return;
    if (failed(t, flags,
               checkpoint_load(path, false, &whole, &e) ||
                   checkpoint_open(path, &open, &e) ||
                   acts_create(&a, &open.m, 2, 7, ACTS_ONE, &e),
               &e))
      return;
    const Model *m = &open.m;
    fact(t,
         !whole.m.file && whole.m.count == b.m.count &&
             same_numbers(b.m.count, b.m.params, whole.m.params),
         "%s: parameters", flags);
    fact(t, open.tokenizer_hash == 77 && !memcmp(&m->c, &b.m.c, sizeof m->c),
         "%s", flags);
    fact(t,
         m->file && m->layer[1].wq.product && !m->layer[1].wq.w &&
             !m->layer[0].norm1.g.product,
         "%s: which tensors stay in the file", flags);
    for (int k = 0; k < m->n_tensors; k++)
      streamed += m->all[k]->product != NULL;
    double loss = lab_loss(&b);
    for (int again = 0; again < 2; again++) {
      model_forward(m, &a, b.ids, 2, 7);
      double got = model_loss(&open.m, &a, b.targets, 2, 7, 0);
      fact(t, !model_fault(m, &e), "%s: %s", flags, e.text);
      within(t, distance(2 * config_rows(&m->c, 7) * 12, b.a.nf, a.nf), 0, 0,
             "nf, %s", flags);
      within(t, got, loss, 0, "loss, %s", flags);
    }
    extend_from_file(t, &b.m, m, b.ids, flags);
    acts_free(&a);
    trainer_free(&whole);
    trainer_free(&open);
    lab_close(&b);
  }
  note(t, "%d configurations, %d matrices streamed", v->n, streamed);
}

/* Two of the matrices, w1 of columns and w2 of rows, and W_cls of a loss lie in
 * two slabs. */
static void slabs_cut(Test *t, const Model *m) {
  static const char *const NAMES[] = {"l0.w1", "l0.w2", "wte"};
  for (int k = 0; k < 3; k++) {
    int slabs = 0;
    const Tensor *x = model_tensor(m, NAMES[k]);
    for (Slab s = {0}; x->product && stored_slab(x, k == 2, &s); slabs++)
      fact(t,
           k == 1 ? s.n_out == 264 && s.in0 == slabs * 15872
                  : s.n_in == 264 && s.out0 == slabs * 15872,
           "slab %d of %s", slabs, NAMES[k]);
    fact(t, slabs == 2, "%s in %d slabs", NAMES[k], slabs);
  }
}

/* A NaN in the first of the slabs of wte is not forgotten in the second. */
static void slabs_nan(Test *t, const char *path, Trainer *r, Acts *a,
                      const int *targets, int T) {
  FILE *file = fopen(path, "r+b");
  unsigned char nan[4] = {0, 0, 0xC0, 0x7F};
  Error e = {0};
  fact(t,
       file && file_seek(file, 64 + 4 * 264 * 4) &&
           fwrite(nan, 1, 4, file) == 4 && !fclose(file),
       "a NaN is not written");
  model_loss(&r->m, a, targets, 1, T, 0);
  for (int i = 0; i < T; i++)
    fact(t, isnan(a->loss_row[i]), "row %d: %g", i, a->loss_row[i]);
  fact(t, model_fault(&r->m, &e) && strstr(e.text, "checksum of wte"), "%s",
       e.text);
  fact(t, !stored_slab(model_tensor(&r->m, "l0.w1"), false, &(Slab){0}),
       "a slab");
}

/* Matrices of several slabs, w1 of columns and w2 of rows, and a loss over
 * slabs of W_cls. A slab has at most 2^22 / 264 = 15,887 lines, of which 62
 * times 256 are used. */
static void model_file__slabs(Test *t) {
  enum { T = 24 };   /* rows with their largest logit in either slab */
  const char *path = SCRATCH "/model.bin";
  Lab b;
  Acts a;
  Trainer open;
  Error e = {0};
  scratch_open();
  if (!lab_open(
          &b, t, 1, T,
          "--layers 1 --dim 264 --ffn 17000 --vocab 30000 --act gelu --tied"))
    return;
  if (!model_written(t, &b.m, path, 0))
    return;
  if (failed(t, path,
             checkpoint_open(path, &open, &e) ||
                 acts_create(&a, &open.m, 1, T, ACTS_ONE, &e),
             &e))
    return;
  slabs_cut(t, &open.m);
  parts_begin(&open.m, 1, true, true);
  double loss = lab_loss(&b);
  model_forward(&open.m, &a, b.ids, 1, T);
  within(t, distance(T * 264, b.a.nf, a.nf), 0, 0, "nf");
  within(t, model_loss(&open.m, &a, b.targets, 1, T, 0), loss,
         16 * REAL_EPS * loss, "loss");
  const struct ModelFile *f = open.m.file;
  parts_end(&open.m, &e);
  /* each weight once: wte for the loss, w1 and w2; wq, wk, wv, wo; and rows
   * of wte */
  fact(t,
       f->read == 30000 * 264 * 4 + 17000 * 264 * (2 + 2) +
                      264 * 264 * (2 + 4 + 2 + 2) + T * 264 * 4,
       "%llu bytes", (unsigned long long)f->read);
  fact(t, f->waited >= 0 && f->waited <= f->took, "%g of %g s", f->waited,
       f->took);
  fact(t, !model_fault(&open.m, &e), "%s", e.text);
  slabs_nan(t, path, &open, &a, b.targets, T);
  acts_free(&a);
  trainer_free(&open);
  lab_close(&b);
}

/* An evaluation, all sequences through a block at a time, has the sums of
 * batches of 16. */
static void evaluate__streamed(Test *t) {
  Settings s;
  Error e = {0};
  Data d = {0};
  Trainer open;
  Sinks in_memory, streamed;
  Lab b;
  Bytes lines = {0};
  Rng r = {5};
  scratch_open();
  settings_default(&s);
  settings_flags(&s, "--T 9 --n 37 --quiet", MEASURE | EVAL | GENERAL, &e);
  for (int i = 0; i < 37; i++)
    for (int k = 0; k < 10; k++)
      bytes_print(&lines, &e, "%d%c", (int)rng_below(&r, 11),
                  k < 9 ? ' ' : '\n');
  file_write(SCRATCH "/ids", lines.at, lines.size, &e);
  data_ids(&d, SCRATCH "/ids", 11, &e);
  fact(t,
       !e.status && d.held.size == 370 && d.starts.size == 37 &&
           d.starts.at[36] == 360,
       "%zu ids in %zu lines: %s", d.held.size, d.starts.size, e.text);
  if (!lab_open(&b, t, 1, 9, "--kv-heads 1 --norm layer --linear-bias"))
    return;
  if (!model_written(t, &b.m, SCRATCH "/model.bin", 3))
    return;
  checkpoint_open(SCRATCH "/model.bin", &open, &e);
  if (!e.status && !evaluate(&in_memory, &b.m, &d, &s, 37, 9, &e) &&
      !evaluate(&streamed, &open.m, &d, &s, 37, 9, &e)) {
    fact(t, in_memory.n == 37 && streamed.n == 37 && streamed.starts == 37,
         "%d sequences", streamed.n);
    fact(t, in_memory.batch == 16 && streamed.batch == 37, "%d sequences",
         streamed.batch);
    for (idx k = 0; k < in_memory.n_sums; k++)
      within(t, streamed.sums[k], in_memory.sums[k], 0, "number %lld", k);
    within(t, streamed.loss, in_memory.loss, 4 * REAL_EPS, "loss");
    sinks_free(&in_memory);
    sinks_free(&streamed);
  }
  no_error(t, &e);
  bytes_free(&lines);
  data_close(&d);
  trainer_free(&open);
  lab_close(&b);
}

/* A published file in the small: a header of 24 bytes; q, k and v in one matrix
 * of BF16, side by side in every row as GPT-2 has them, or head by head as
 * GPT-NeoX; and the other tensors as they come. b gets the same numbers. */
static void links_source(Lab *b, bool heads, Bytes *file, Error *e) {
  enum { C = 12, D = 6 };
  Rng r = {9};
  bytes_add(file, "a header of 24 bytes, so", 24, e);
  for (int i = 0; i < 3 * C * C; i++) { /* [C,3C], or [3C,C] */
    unsigned char at[4];
    real x = stored_number(&r, DTYPE_BF16, at);
    bytes_add(file, at, 2, e);
    int row = i / (heads ? C : 3 * C), column = i % (heads ? C : 3 * C);
    int which = heads ? row / D % 3 : column / C; /* q, k or v */
    int in = heads ? column : row;
    int out = heads ? row / (3 * D) * D + row % D : column % C;
    real *to[3] = {lab_at(b, "l0.wq"), lab_at(b, "l0.wk"), lab_at(b, "l0.wv")};
    to[which][in * C + out] = x;
  }
  for (int k = 0; k < b->m.n_tensors; k++) {
    const Tensor *x = b->m.all[k];
    if (strchr("qkv", x->name[strlen(x->name) - 1]))
      continue;
    unsigned char *raw = tensor_drawn(&b->m, x, DTYPE_F32, IN_OUT, &r);
    bytes_add(file, raw, 4 * (size_t)tensor_count(x), e);
    free(raw);
  }
}

/* The model file at path, of that source, as links or copies. */
static void links_write(Test *t, const Config *c, const char *path,
                        const char *source, bool heads, bool link, Error *e) {
  enum { C = 12, D = 6, HEADER = 24 };
  Settings s;
  ModelWriter w;
  size_t rest = HEADER + 2 * 3 * C * C;
  settings_default(&s);
  s.model = *c;
  model_file_begin(&w, path, &s, 0, e);
  int f = model_file_source(&w, source, HEADER, link, e);
  fact(t, f == 1, "source %d: %s", f, e->text);
  for (int k = 0; k < w.head.list.n_tensors && !e->status; k++) {
    const Tensor *x = w.head.list.all[k];
    static const char QKV[] = "qkv";
    const char *part = strchr(QKV, x->name[strlen(x->name) - 1]);
    uint64_t which = part ? (uint64_t)(part - QKV) : 0;
    Extent at = {f, rest, 4 * (uint64_t)tensor_count(x), 0};
    uint64_t run = 2 * C * (heads ? D : 1);
    if (part)
      at = (Extent){f, HEADER + which * run, run, 3 * run};
    else
      rest += at.run;
    model_file_copy(&w, x->name, part ? DTYPE_BF16 : DTYPE_F32,
                    part && heads ? OUT_IN : IN_OUT, &at, e);
  }
  model_file_end(&w, e);
}

/* Its source with another header, cut, or gone, which a model of links tells
 * from one that is as it was. */
static void links_changed(Test *t, const char *path, const char *source,
                          bool link, Bytes *file) {
  for (int what = 0; what < 3; what++) {
    Trainer back;
    Error e = {0};
    int status;
    file->at[3] ^= what < 2;
    file_write(source, file->at, file->size - (what == 1), &e);
    if (what == 2) {
      remove(source);
      status = checkpoint_open(path, &back, &e);
    } else
      status = checkpoint_load(path, false, &back, &e);
    const bool no = status == 1;
    const char *said = what < 2 ? "has changed since the" : "published, found";
    fact(t, no == link && (!no || strstr(e.text, said)), "%d: %s", what,
         e.text);
    if (!no)
      trainer_free(&back);
  }
}

/* Links to a published file and copies of it give the same bits, both ways that
 * q, k and v lie in it. */
static void model_file__links(Test *t) {
  const char *source = SCRATCH "/published", *path = SCRATCH "/model.bin";
  for (int way = 0; way < 4; way++) {
    bool heads = way & 1, link = way & 2;
    Lab b;
    Trainer back;
    Error e = {0};
    Bytes file = {0};
    scratch_open();
    if (!lab_open(&b, t, 2, 7, "--layers 1"))
      return;
    links_source(&b, heads, &file, &e);
    if (!e.status)
      file_write(source, file.at, file.size, &e);
    links_write(t, &b.m.c, path, source, heads, link, &e);
    if (failed(t, path, e.status || checkpoint_load(path, false, &back, &e),
               &e))
      return;
    fact(t, same_numbers(b.m.count, b.m.params, back.m.params), "way %d", way);
    trainer_free(&back);
    links_changed(t, path, source, link, &file);
    bytes_free(&file);
    lab_close(&b);
  }
}

/* What a writer refuses, after which neither the file nor the one beside it
 * is there. */
static void model_file_end__refuses(Test *t) {
  static const char *const SAID[] = {
    "expected l0.norm1, found l0.wq", "expected wcls, found the",
    "264 bytes more", "outside its file", "found it cut short", "12 more bytes",
    "check the path", "outside its file"};
  const char *path = SCRATCH "/model.bin";
  unsigned char zeros[1 << 12] = {0};
  LABS (b, 1, 5, "--layers 1")
    for (int what = 0; what < 8; what++) {
      Settings s;
      Error e = {0}, of_file = {0};
      ModelWriter w;
      scratch_open();
      file_write(SCRATCH "/source", zeros, 100, &of_file);
      settings_default(&s);
      s.model = b.m.c;
      model_file_begin(&w, path, &s, 0, &e);
      if (what == 4)
        model_file_source(&w, SCRATCH "/source", 101, false, &e);
      if (what == 6)
        model_file_source(&w, SCRATCH "/none", 1, false, &e);
      for (int k = 0; k < w.head.list.n_tensors - (what == 1); k++) {
        const Tensor *x = w.head.list.all[k];
        size_t n = 2 * (size_t)tensor_count(x);
        /* of 100 bytes: up to 264, 103 */
        if (what == 3 || (what == 7 && k == 1)) {
          Extent at = {model_file_source(&w, SCRATCH "/source", 1, false, &e),
                       0, n, 0};
          if (k == 1)
            at = (Extent){at.file, 15, 8, 40};
          model_file_copy(&w, x->name, DTYPE_F16, IN_OUT, &at, &e);
          break;
        }
        model_file_tensor(&w, what == 0 && k == 1 ? "l0.wq" : x->name,
                          DTYPE_F16, IN_OUT, &e);
        if (what == 2)
          n += 2;
        if (what == 5 && k == 1)
          n -= 12;
        model_file_bytes(&w, zeros, n, &e);
      }
      fact(t, model_file_end(&w, &e) == 1 && strstr(e.text, SAID[what]),
           "%d: %s", what, e.text);
      fact(t, file_missing(path) && file_missing(SCRATCH "/model.bin.new"),
           "%d leaves a file", what);
    }
}

/* The bytes of a small model file; *head says where its head begins. */
static Bytes model_file_of(Test *t, size_t *head) {
  Lab b;
  Error e = {0};
  Bytes file = {0};
  scratch_open();
  if (!lab_open(&b, t, 1, 5, "--norm layer --tied --pos learned") ||
      !model_written(t, &b.m, SCRATCH "/model.bin", 1))
    exit(1);
  file_read(SCRATCH "/model.bin", &file, &e);
  *head = (size_t)number_at(file.at + 8, 8);
  lab_close(&b);
  return file;
}

/* Is a head [n] of a file with `size` bytes of tensors refused, in one line?
 * Freed either way. */
static bool head_refused(const unsigned char *p, size_t n, uint64_t size,
                         Error *e) {
  ModelHead h;
  /* its end is where reading must end */
  unsigned char *copied = zeroed((idx)n, 1);
  if (n)
    memcpy(copied, p, n);
  *e = (Error){0};
  bool no = model_head_read(copied, n, size, "x", &h, e);
  if (!no)
    model_head_free(&h);
  free(copied);
  return no && e->status == 1 && !strncmp(e->text, "x: expected ", 12) &&
         strstr(e->text, ". Try: ") && !strchr(e->text, '\n');
}

/* The last entry of a head, counted from the head's end: a number in it that
 * cannot be, and what is said. */
static const struct Wrong {
  size_t from_end;
  int bytes;
  uint64_t value;
  const char *said;
} HEAD_WRONG[] = {
  {16, 8, 1, ""},   /* stride: not read where all is one run */
  {24, 8, 0, "ends before"}, {24, 8, 3, "ends before"},
  {24, 8, UINT64_MAX - 3, "ends before"},
  {32, 8, UINT64_MAX - 7, "ends before"}, {32, 8, 1 << 20, "ends before"},
  {36, 4, 1, "known type and file"}, {44, 8, 7, "[12,7]"}, {52, 8, 2, "[2,1]"},
  {53, 1, 1, "known type and file"}, {54, 1, 1, "known type and file"},
  {54, 1, 2, "known type and file"}, {55, 1, 2, "[12,1]"},
  {56, 1, 3, "known type and file"}};

/* Those numbers, under a checksum that fits. */
static void head_wrong(Test *t, Bytes *head, size_t at) {
  EACH (k, HEAD_WRONG) {
    const struct Wrong *x = &HEAD_WRONG[k];
    Error e = {0};
    unsigned char was[8], *p = head->at + head->size - 8 - x->from_end;
    memcpy(was, p, 8);
    for (int i = 0; i < x->bytes; i++)
      p[i] = (unsigned char)(x->value >> 8 * i & 255);
    seal(head);
    bool no = head_refused(head->at, head->size, at, &e);
    fact(t, no == (x->said[0] != 0) && strstr(e.text, x->said), "%d: %s", k,
         e.text);
    memcpy(p, was, 8);
  }
}

/* No damage gets past the checksum; and with a checksum made to fit, every byte
 * is changed to some others, which must be refused in one line or leave a head
 * that can be freed. */
static void model_head_read__hostile(Test *t) {
  size_t at;
  Bytes file = model_file_of(t, &at), head = {0};
  Error e = {0};
  bytes_add(&head, file.at + at, file.size - at, &e);
  size_t n = head.size;
  fact(t, !head_refused(head.at, n, at, &e) && !e.status, "as written: %s",
       e.text);
  for (size_t i = 0; i < n; i++) {
    head.at[i] ^= 0x40;
    fact(t, head_refused(head.at, n, at, &e) && strstr(e.text, "damaged"),
         "%zu: %s", i, e.text);
    head.at[i] ^= 0x40;
    fact(t, head_refused(head.at, i, at, &e), "cut to %zu: %s", i, e.text);
  }
  int refused = 0, tried = 0;
  for (size_t i = 0; i + 8 < n; i++)
    for (int bit = 0; bit < 9; bit++, tried++) {
      unsigned char was = head.at[i];
      head.at[i] = (unsigned char)(bit < 8 ? was ^ 1 << bit : 0);
      seal(&head);
      refused += head_refused(head.at, n, at, &e);
      fact(t, !e.status || strstr(e.text, ". Try: "), "byte %zu bit %d: %s", i,
           bit, e.text);
      head.at[i] = was;
    }
  note(t, "%d of %d changes with a fitting checksum refused", refused, tried);
  fact(t, refused > tried / 2, "%d of %d", refused, tried);
  head_wrong(t, &head, at);
  /* behind the last entry */
  bytes_add(&head, "more", 4, &e);
  seal(&head);
  fact(t, head_refused(head.at, n + 4, at, &e) && strstr(e.text, "damaged"),
       "%s", e.text);
  bytes_free(&file);
  bytes_free(&head);
}

/* Is this file refused? e says why. */
static bool file_refused(const char *path, const Bytes *file, Error *e) {
  Trainer r;
  *e = (Error){0};
  file_write(path, file->at, file->size, e);
  const bool no = checkpoint_load(path, false, &r, e) == 1;
  if (!no)
    trainer_free(&r);
  return no;
}

/* Two numbers that change places are told by the checksum. */
static void numbers_swapped(Test *t, const char *path, Bytes *file, size_t at) {
  int swapped = 0;
  for (size_t i = 64; i + 4 < at; i += 4 * 51) {
    unsigned char *p = file->at + i, x[8];
    Error e = {0};
    memcpy(x, p, 8);
    bool same = !memcmp(p, p + 4, 4);
    memcpy(p, x + 4, 4);
    memcpy(p + 4, x, 4);
    const bool no = file_refused(path, file, &e);
    memcpy(p, x, 8);
    swapped += no;
    fact(t, no || same, "bytes %zu and on change places", i);
  }
  fact(t, swapped > 10, "%d exchanges found", swapped);
}

/* Cut short it has no head; cut while it is open, its numbers are missed. */
static void file_cut(Test *t, const char *path, const Bytes *file) {
  Trainer r;
  Error e = {0};
  for (size_t n = 0; n < file->size; n += 1 + n / 5) {
    e = (Error){0};
    file_write(path, file->at, n, &e);
    fact(t, checkpoint_open(path, &r, &e) == 1 && strstr(e.text, ". Try: "),
         "%zu: %s", n, e.text);
  }
  e = (Error){0};
  file_write(path, file->at, file->size, &e);
  if (!checkpoint_open(path, &r, &e) &&
      !acts_create(&r.a, &r.m, 1, 5, ACTS_ONE, &e)) {
    int ids[5] = {1, 2, 3, 4, 5};
    FILE *f = fopen(path, "wb");
    if (f)
      fclose(f);
    model_forward(&r.m, &r.a, ids, 1, 5);
    fact(t, model_fault(&r.m, &e) && strstr(e.text, "read whole"), "%s", e.text);
  } else
    no_error(t, &e);
  trainer_free(&r);
}

/* Damage to the tensors: found when they are read, whichever way, and named. */
static void model_file__damage(Test *t) {
  const char *path = SCRATCH "/model.bin";
  size_t at;
  Bytes file = model_file_of(t, &at);
  int whole = 0, streamed = 0, tried = 0;
  for (size_t i = 64; i < at; i += 37) {
    Trainer r;
    Error e = {0};
    file.at[i] ^= 1;
    whole += file_refused(path, &file, &e) && strstr(e.text, "checksum of");
    file.at[i] ^= 1;
    e = (Error){0};
    if (!checkpoint_open(path, &r, &e) &&
        !acts_create(&r.a, &r.m, 1, 5, ACTS_ONE, &e)) {
      int ids[5] = {1, 2, 3, 4, 5};
      model_forward(&r.m, &r.a, ids, 1, 5);
      model_loss(&r.m, &r.a, ids, 1, 5, 0);
      model_fault(&r.m, &e);
    }
    if (e.status)
      streamed += strstr(e.text, "checksum of") != NULL;
    trainer_free(&r);
    tried++;
  }
  numbers_swapped(t, path, &file, at);
  /* what is not found lies between two tensors */
  fact(t, whole == streamed && whole > tried * 8 / 10, "%d, %d of %d", whole,
       streamed, tried);
  file_cut(t, path, &file);
  bytes_free(&file);
}

#define MODEL_EVAL "eval " SCRATCH "/m.model --quiet --T 8 "

/* What SCRATCH/m.model holds is what pace makes, F16 in the right order. An
 * evaluation that printed `out` has the loss of this program's own forward of
 * the same parameters; want is what it must say. */
static void streams_numbers(Test *t, const char *out, char want[64],
                            Error *e) {
  Trainer m = {0};
  if (!checkpoint_load(SCRATCH "/m.model", false, &m, e) &&
      !acts_create(&m.a, &m.m, 2, 8, ACTS_ONE, e)) {
    int rows[32], odd = 0;
    /* F16 whose bytes change places are none of these */
    for (idx i = 0; i < m.m.count; i++) {
      const double x = fabs((double)m.m.params[i]);
      odd += x != 0 && x != 1 && !(x >= 0x1p-7 && x < 0x1p-6);
    }
    fact(t, !odd, "%d numbers that pace does not make", odd);
    for (int i = 0; i < 32; i++) { /* ids, then targets */
      int at = i % 8 + i / 16;
      rows[i] = i / 8 % 2 ? 9 - at : 1 + at;
    }
    model_forward(&m.m, &m.a, rows, 2, 8);
    double loss = model_loss(&m.m, &m.a, rows + 16, 2, 8, 0);
    snprintf(want, 64, "loss %.4f nats", loss);
    fact(t, strstr(out, want) && strstr(out, "2 sequences of 8 tok"),
         "no %s in %s", want, out);
  }
  no_error(t, e);
  trainer_free(&m);
}

/* A model file from the command line: made, evaluated from ids, dumped,
 * checked. ./sink says whose it is. */
static void sink__streams(Test *t) {
  static const struct {
    const char *words, *said;
    int status;
  } ROWS[] = {
    {"dump " SCRATCH "/m.model --ids " SCRATCH "/ids --out " SCRATCH "/dump",
     "", 0},
    {MODEL_EVAL "--input repeat --n 2", "2 sequences", 0}, /* no tokenizer */
    {MODEL_EVAL "--ids " SCRATCH "/ids --quantize 8", "Rounded to 8 bits", 0},
    {"check " SCRATCH "/m.model", " 0 WRONG", 0},
    {MODEL_EVAL, "or eval --ids FILE", 1},
    {MODEL_EVAL "--ids " SCRATCH "/odd", "odd:2: expected token ids", 1},
    {MODEL_EVAL "--ids " SCRATCH "/none", "none: ", 1},
    {MODEL_EVAL "--ids " SCRATCH "/ids --T 9", "to measure on has 10 tokens",
     1}};
  static const char IDS[] = "1 2 3 4 5 6 7 8 9\n9 8 7 6 5 4 3 2 1\n";
  static const char ODD[] = "1 2 3 4 5 6 7 8 9\n# 10 11\n";
  Error e = {0};
  char want[64] = "";
  if (!begun(t))
    return;
  file_write(SCRATCH "/p.model.new", "mine", 4, &e);
  sink_fails(t, "pace --out " SCRATCH "/p.model", 1, "p.model.new");
  const char *out = said(t,
                         "pace --quiet --out " SCRATCH
                         "/m.model --layers 2 --dim 32 --ffn 48 --vocab 50 "
                         "--norm layer --linear-bias --context 16 --batch 3 "
                         "--tied --embed-scale 2");
  fact(t, strstr(out, "seconds=") && strstr(out, " ratio="), "%s", out);
  sink_fails(t, "pace --out " SCRATCH "/m.model --context 17", 2,
             "at most the model's 16, found");
  sink_fails(t, "pace --out " SCRATCH "/m.model --context 16 --layers 3", 2,
             "--layers 3: " SCRATCH "/m.model has 2");
  file_write(SCRATCH "/ids", IDS, strlen(IDS), &e);
  file_write(SCRATCH "/odd", ODD, strlen(ODD), &e);
  out = said(t, MODEL_EVAL "--ids " SCRATCH "/ids --csv " SCRATCH "/csv");
  streams_numbers(t, out, want, &e);
  EACH (k, ROWS)
    answers(t, PROGRAM, ROWS[k].words, ROWS[k].status, ROWS[k].said);
  /* all of a pipe */
  answers(t, "cat " SCRATCH "/ids | " PROGRAM, MODEL_EVAL "--ids -", 0, want);
  answers(t, "./sink", "eval " SCRATCH "/m.model", 1,
          "./hf for a published model");
}

/* A checkpoint of ./sink, whose settings lack the flags of ./hf alone, at a
 * width that is no default; and one beside the program is replaced. */
static void hf__reads_sink(Test *t) {
  if (!begun(t))
    return;
  for (int twice = 0; twice < 2; twice++)
    answers(t, "./sink",
            "train --layers 1 --dim 16 --ffn 16 --context 20 --batch 1 --steps "
            "1 --quiet --valid 0.4 --text data/text/letter.txt --force --out "
            "sink-test.ckpt",
            0, "steps=1 ");
  answers(t, PROGRAM, "eval sink-test.ckpt --quiet --n 1", 0,
          ": 1 sequences of 20 tokens");
  remove("sink-test.ckpt");
}

static const TestEntry TESTS[] = {
  RUNS(rope_frequency__stretched), RUNS(families__against_library),
  RUNS(first_open__counts), RUNS(families__see_faults), RUNS(families__files),
  RUNS(families__facts), RUNS(families__sink_logits), RUNS(unpack__by_hand),
  RUNS(cut_ffn_forward__by_hand), RUNS(model_list__blocks),
  RUNS(model_list__jamba), RUNS(published__against_slow),
  RUNS(mamba_forward__closed_form), RUNS(mamba_forward__reaches),
  RUNS(experts_forward__alike), RUNS(experts_forward__not_renormalised),
  RUNS(published__same_bits), RUNS(published__extend), RUNS(published__sinks),
  RUNS(stream__local_angles), RUNS(signs__forward_only),
  RUNS(families__tokenizers), RUNS(families__folders),
  RUNS(families__folder_tokens), RUNS(sink__names_programs), RUNS(hf__config),
  RUNS(hf__reads_sink), RUNS(hf__tokenizer), RUNS(hf__refuses), RUNS(hf__keeps),
  RUNS(hf__safetensors), RUNS(hf__safetensors_limits), RUNS(hf__json),
  RUNS(json_value__half_read),
  RUNS(hf__shards), RUNS(hf__choices), RUNS(hf__families), RUNS(hf__facts),
  RUNS(family_read__defaults), RUNS(hf__facts_refused), RUNS(hf__finite),
  RUNS(hf__accounts), RUNS(hf__returns), RUNS(hf__llama2c),
  RUNS(hf__llama2c_refuses), RUNS(pieces__published),
  RUNS(tokenizer_encode__spaces), RUNS(tokenizer_encode__ranks),
  RUNS(tokenizer_read__published), RUNS(hf__tokenizer_json),
  RUNS(hf__tokenizer_characters), RUNS(hf__tokenizer_refuses),
  RUNS(hf__sentencepiece), RUNS(hf__sentencepiece_refuses),
  RUNS(hf__tokenizer_folder), RUNS(hf__tokenizer_nfc),
  RUNS(hf__tokenizer_vectors), RUNS(hf__tells), RUNS(hf__names_its_text),
  RUNS(choices_read__lines), RUNS(question_judge__by_hand),
  RUNS(choices_log_p__edges), RUNS(choices_encode__no_context),
  RUNS(choices_answer__oracle), RUNS(imported__against_library),
  RUNS(imported__sees_faults), RUNS(measured__sees),
  RUNS(check_model__every_variant), RUNS(widen__every_half),
  RUNS(model_file__same_bits), RUNS(model_file__slabs),
  RUNS(evaluate__streamed), RUNS(model_file__links),
  RUNS(model_file_end__refuses), RUNS(model_head_read__hostile),
  RUNS(model_file__damage), RUNS(sink__streams)};

int main(int argc, char **argv) {
  return tests_run(TESTS, sizeof TESTS / sizeof *TESTS, argc, argv,
                   (Test){.after = scratch_close, .oracle = &ALL_ROWS});
}
