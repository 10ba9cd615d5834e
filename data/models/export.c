/* export.c - a checkpoint as a folder of the llama family. Chapters 6 to 10 of
 * hf.c.
 *
 * SPDX-License-Identifier: MIT
 */

/* -----------------------------------------------------------------------------
 * 6  What llama can express */

/* Flags of a model whose every value has a counterpart there, with the
 * exceptions that llama_refuses names. All others must be as they are by
 * default, so that an axis that sink gains is refused until it is written
 * into this list. */
static const char LLAMA_FLAGS[] =
  " layers heads kv-heads dim head-dim ffn vocab context rope-base "
  "rope-pairing rope-scaling rope-factor rope-low rope-high rope-original "
  "norm-eps act linear-bias bias-in tied ";

/* An error that names the first flag of the resolved s->model that is neither
 * one of LLAMA_FLAGS nor as it is by default beside these. */
static int flags_refused(const Settings *s, const char *name, Error *e) {
  char text[PATH_ROOM], plain[PATH_ROOM], given[PATH_ROOM + 1] = "";
  Settings base;
  settings_default(&base);
  for (const Option *o = OPTIONS; o->flag; o++)
    if (o->groups & MODEL && has_word(LLAMA_FLAGS, o->flag)) {
      option_text(o, s, text, sizeof text);
      option_set(o, &base, text, false, e);
    }
  if (e->status || config_resolve(&base.model, e))
    return e->status;
  for (const Option *o = OPTIONS; o->flag; o++) {
    if (!(o->groups & MODEL) || has_word(LLAMA_FLAGS, o->flag))
      continue;
    option_text(o, s, text, sizeof text);
    option_text(o, &base, plain, sizeof plain);
    if (!strcmp(text, plain))
      continue;
    /* a switch has no value */
    if (o->kind != 'b')
      snprintf(given, sizeof given, " %s", text);
    return fail(e, 1,
                "%s: a llama has nothing like --%s%s. Try: a model trained "
                "without --%s",
                name, o->flag, given, o->flag);
  }
  return 0;
}

/* 0 when the resolved s->model is a llama; else the error names the first flag
 * that is not. */
static int llama_refuses(const Settings *s, const char *name, Error *e) {
  const Config *c = &s->model;
  char text[PATH_ROOM];
  /* before --score-divisor, which YaRN sets */
  if (c->rope_scaling >= ROPE_YARN)
    return fail(e, 1,
                "%s: export cannot write --rope-scaling %s. Try: a model "
                "trained without it",
                name, if_long(c) ? "longrope" : "yarn");
  if (flags_refused(s, name, e))
    return e->status;
  option_text(option_find("act", MODEL), s, text, sizeof text);
  if (!config_gated(c))
    return fail(e, 1,
                "%s: expected a gated feed-forward, as llama has, found --act "
                "%s. Try: a model trained with --act swiglu, geglu or reglu",
                name, text);
  if (c->linear_bias && c->bias_in == BIAS_QKV)
    return fail(e, 1,
                "%s: expected biases as llama has them, found --bias-in qkv. "
                "Try: a model trained with --bias-in attention",
                name);
  /* transformers checks it though head_dim makes it needless */
  if (c->dim % c->heads)
    return fail(e, 1,
                "%s: transformers needs --heads that divide --dim, found %d "
                "and %d. Try: a model trained with such heads",
                name, c->heads, c->dim);
  if (c->rope_scaling == ROPE_LLAMA3 && !(c->rope_low > 0))
    return fail(e, 1,
                "%s: transformers divides by --rope-low, which must be above "
                "0, found %g. Try: a model trained with --rope-low 1",
                name, c->rope_low);
  return 0;
}

/* The token that `generate` puts before a prompt, which is transformers'
 * bos. */
static int start_token(const Source *s) {
  if (s->fix_token == 1 && !s->first_tokens[0])
    return TOKEN_FIX;
  return s->bos ? TOKEN_BOS : TOKEN_END;
}

/* -----------------------------------------------------------------------------
 * 7  config.json */

/* A key, with what stands before it, and a flag's number as one that is no
 * integer: transformers refuses 1 where it wants 1.0. It reads back to the
 * same bits. */
static void print_real(Bytes *out, const Settings *s, const char *key,
                       const char *flag, Error *e) {
  char text[PATH_ROOM];
  option_text(option_find(flag, MODEL), s, text, sizeof text);
  bytes_print(out, e, "%s: %.60s", key, text);
  if (!strpbrk(text, ".e"))
    bytes_print(out, e, ".0");
}

/* "rope_theta" and "rope_scaling": every version of transformers reads them. */
static void print_rope(Bytes *out, const Settings *s, Error *e) {
  const Config *c = &s->model;
  bool llama3 = c->rope_scaling == ROPE_LLAMA3;
  print_real(out, s, "  \"rope_theta\"", "rope-base", e);
  bytes_print(out, e, ",\n  \"rope_scaling\": ");
  if (c->rope_scaling == ROPE_NONE) {
    bytes_print(out, e, "null,\n");
    return;
  }
  bytes_print(out, e, "{\"rope_type\": \"%s\"", llama3 ? "llama3" : "linear");
  print_real(out, s, ", \"factor\"", "rope-factor", e);
  if (llama3) {
    print_real(out, s, ", \"low_freq_factor\"", "rope-low", e);
    print_real(out, s, ", \"high_freq_factor\"", "rope-high", e);
    bytes_print(out, e, ", \"original_max_position_embeddings\": %d",
                c->rope_original);
  }
  bytes_print(out, e, "},\n");
}

/* The ids that begin and end a text; null for a model without a tokenizer. */
static void print_ids(Bytes *out, const Tokenizer *k, int start, Error *e) {
  char bos[16] = "null", end[16] = "null";
  if (k->published)
    start = k->bos;
  if (k->vocab && start >= 0)
    snprintf(bos, sizeof bos, "%d", start);
  if (k->vocab)
    snprintf(end, sizeof end, "%d", k->end);
  bytes_print(out, e, "  \"bos_token_id\": %s,\n  \"eos_token_id\": %s,\n", bos,
              end);
}

/* The name there of an activation with a gate. Their gelu is x Phi(x), the one
 * of --act geglu. */
static const char *hidden_act(int act) {
  _Static_assert(ACT_ROWS == 8,
                 "a new activation: its hidden_act, where it is gated");
  switch (act) {
  case ACT_SWIGLU:
    return "silu";
  case ACT_GEGLU:
    return "gelu";
  case ACT_REGLU:
    return "relu";
  default:
    return "gelu_pytorch_tanh";
  }
}

static const char *truth(bool x) { return x ? "true" : "false"; }

static int config_json(Bytes *out, const Trainer *t, const Tokenizer *k,
                       Error *e) {
  const Config *c = &t->s.model;
  bool attention = c->linear_bias && c->bias_in != BIAS_FFN;
  bool ffn = c->linear_bias && c->bias_in != BIAS_ATTENTION;
  bytes_print(out, e,
              "{\n  \"architectures\": [\"LlamaForCausalLM\"],\n"
              "  \"model_type\": \"llama\",\n"
              "  \"torch_dtype\": \"float32\",\n"
              "  \"vocab_size\": %d,\n"
              "  \"hidden_size\": %d,\n"
              "  \"intermediate_size\": %d,\n"
              "  \"num_hidden_layers\": %d,\n"
              "  \"num_attention_heads\": %d,\n"
              "  \"num_key_value_heads\": %d,\n"
              "  \"head_dim\": %d,\n"
              "  \"hidden_act\": \"%s\",\n"
              "  \"max_position_embeddings\": %d,\n",
              c->vocab, c->dim, c->ffn, c->layers, c->heads, c->kv_heads,
              c->head_dim, hidden_act(c->act), c->context);
  print_real(out, &t->s, "  \"rms_norm_eps\"", "norm-eps", e);
  bytes_print(out, e, ",\n");
  print_rope(out, &t->s, e);
  bytes_print(out, e,
              "  \"attention_bias\": %s,\n  \"mlp_bias\": %s,\n"
              "  \"tie_word_embeddings\": %s,\n",
              truth(attention), truth(ffn), truth(c->tied));
  print_ids(out, k, start_token(&t->s.data), e);
  /* a padding id would take its row of the embedding out of later training */
  return bytes_print(out, e, "  \"pad_token_id\": null\n}\n");
}

static int generation_json(Bytes *out, const Trainer *t, const Tokenizer *k,
                           Error *e) {
  bytes_print(out, e, "{\n");
  print_ids(out, k, start_token(&t->s.data), e);
  if (k->vocab)
    bytes_print(out, e, "  \"pad_token_id\": %d,\n", k->end);
  return bytes_print(out, e, "  \"do_sample\": false\n}\n");
}

/* -----------------------------------------------------------------------------
 * 8  model.safetensors
 *
 *   8   N, the length of the header, little-endian
 *   N   the header, JSON: name -> {dtype, shape, data_offsets [begin, end) from
 *       the header's end}; padded with spaces, so that the numbers begin at a
 *       multiple of 8
 *   ..  the numbers, end to end in the header's order, row-major, little-endian
 *
 * Matrices are [out, in] there and [in, out] here. Rotated heads: a pair of
 * transformers is always dims (p, p + D/2). Where ours is (2p, 2p + 1), the
 * columns of W_Q and W_K (and their biases) are written in the order
 * 0 2 4 .. 1 3 5 .. within each head. That moves q and k alike, and no product
 * <q, k> changes. */

/* How a tensor of ours lies there. */
enum {
  AS_IS = 0,       /* number by number, as GPT-2's matrices, [in,out] too */
  TURNED = 1,      /* a matrix [out,in], as everyone else's */
  ROTATED = 2,     /* besides: its columns are heads that a rotation turns */
  THIRDS = 4,      /* q, k or v: a third of each row of [in,3 out] (GPT-2) */
  HEADS = 8,       /* the same, of each head's rows of [3 out,in] (NeoX) */
  LATER = 16,      /* after two more rows (OPT's positions) */
  TAPS = 32,       /* [out,1,in] (a convolution) */
  BARE = 64,       /* its name is whole: no .weight behind it */
  PLUS_ONE = 128,  /* a gain less 1 (Gemma) */
  FUSED = 256,     /* rows behind those of others (Phi-3: fused_rows) */
  STACKED = 512,   /* one of all experts', BARE (gpt-oss: stacked_copy) */
  IN_CONFIG = 1024 /* numbers of config.json (LongRoPE: long_copy) */
};

/* A parameter of ours and the name there of it and of its bias, behind which
 * stands .weight or .bias. The bias of w1 is b1 here, that of norm1 is norm1.b.
 * In both names * is the number of a block, or of an expert; @ stands for l*.
 * in ours, and in theirs for what a table's first row says. A table's last row
 * is the unembedding (plan). */
typedef struct Counterpart {
  const char *ours, *theirs;
  int how;
} Counterpart;

static const Counterpart LLAMA[] = {
  {"@", "model.layers.*.", AS_IS},
  {"wte", "model.embed_tokens", AS_IS},
  {"@norm1", "@input_layernorm", AS_IS},
  {"@wq", "@self_attn.q_proj", TURNED | ROTATED},
  {"@wk", "@self_attn.k_proj", TURNED | ROTATED},
  {"@wv", "@self_attn.v_proj", TURNED},
  {"@wo", "@self_attn.o_proj", TURNED},
  {"@norm2", "@post_attention_layernorm", AS_IS},
  {"@w1", "@mlp.gate_proj", TURNED},
  {"@w2", "@mlp.up_proj", TURNED},
  {"@w3", "@mlp.down_proj", TURNED},
  {"normf", "model.norm", AS_IS},
  {"wcls", "lm_head", TURNED},
  {NULL, NULL, AS_IS}};

/* Does name fit a pattern, in which each * stands for a number? These go to
 * number [2]. */
static bool fits(const char *pattern, const char *name, int number[2]) {
  char whole[64];
  int n = 0;
  if (*pattern == '@') {
    snprintf(whole, sizeof whole, "l*.%s", pattern + 1);
    pattern = whole;
  }
  for (; *pattern; pattern++) {
    if (*pattern != '*') {
      if (*name++ != *pattern)
        return false;
      continue;
    }
    bool zero = *name == '0';
    int from = 0, digits = 0;
    for (; *name >= '0' && *name <= '9'; name++, digits++)
      if (digits < 7)
        from = 10 * from + (*name - '0');
    if (!digits || (zero && digits > 1))
      return false;
    number[n++] = from;
  }
  return !*name;
}

/* The pattern with its numbers put in. */
static void filled(const char *pattern, const int number[2], char *out,
                   size_t room) {
  size_t at = 0;
  int n = 0;
  for (; *pattern && at + 12 < room; pattern++)
    if (*pattern != '*')
      out[at++] = *pattern;
    else
      at += (size_t)snprintf(out + at, room - at, "%d", number[n++]);
  out[at] = 0;
}

/* Name and place there of a tensor of ours; an error where it has none. */
static int counterpart(const Counterpart *p, const Tensor *x, char theirs[160],
                       int *how, Error *e) {
  const char *blocks = p++->theirs;
  char whole[160];
  int number[2] = {0, 0};
  bool bias = false;
  for (; p->ours && !fits(p->ours, x->name, number); p++) {
    if (!strncmp(p->ours, "@w", 2))
      snprintf(whole, sizeof whole, "@b%s", p->ours + 2);
    else
      snprintf(whole, sizeof whole, "%s.b", p->ours);
    bias = fits(whole, x->name, number);
    if (bias)
      break;
  }
  if (!p->ours)
    return fail(e, 1,
                "%s: expected a tensor that this family has, found another. "
                "Try: another model",
                x->name);
  const bool block = *p->theirs == '@';
  snprintf(whole, sizeof whole, "%s%s", block ? blocks : "", p->theirs + block);
  filled(whole, number, theirs, 160 - sizeof ".weight");
  if (!(p->how & BARE))
    strcat(theirs, bias ? ".bias" : ".weight");
  *how = p->how;
  if (bias)
    *how &= ROTATED | THIRDS | HEADS;
  return 0;
}

/* Where output o of W_Q or W_K, as transformers counts, stands among the
 * columns here. */
static idx head_column(const Config *c, idx o) {
  idx D = c->head_dim, d = o % D, half = D / 2;
  if (c->rope_pairing == PAIR_HALF)
    return o;
  if (d < half)
    return o - d + 2 * d;
  return o - d + 2 * (d - half) + 1;
}

/* Adds the numbers of x to out as they lie there. */
static int numbers_write(Bytes *out, const Model *m, const Tensor *x, int how,
                         Error *e) {
  /* the written tensor's rows, their length, and the steps here from one row to
   * the next and within one */
  idx rows = x->rows, length = tensor_count(x) / rows, row = length, step = 1;
  if (how & TURNED) {
    rows = x->cols;
    length = tensor_count(x) / rows;
    row = 1;
    step = rows;
  }
  for (idx o = 0; o < rows; o++) {
    idx column = o;
    if (how & ROTATED)
      column = head_column(&m->c, o);
    const real *at = x->w + column * row;
    for (idx i = 0; i < length; i++)
      if (bytes_number(out, bits_of((float)at[i * step]), 4, e))
        return e->status;
  }
  return 0;
}

/* The whole file: header and numbers. */
static int safetensors(Bytes *out, const Model *m, Error *e) {
  Bytes header = {0};
  char theirs[160];
  int how;
  idx at = 0;
  bytes_print(&header, e, "{\"__metadata__\": {\"format\": \"pt\"}");
  for (int k = 0; k < m->n_tensors && !e->status; k++) {
    const Tensor *x = m->all[k];
    if (counterpart(LLAMA, x, theirs, &how, e))
      break;
    bytes_print(&header, e, ",\n\"%s\": {\"dtype\": \"F32\", \"shape\": [",
                theirs);
    if (x->rank == 1)
      bytes_print(&header, e, "%d], ", x->rows);
    else if (how & TURNED)
      bytes_print(&header, e, "%d, %d], ", x->cols, x->rows);
    else
      bytes_print(&header, e, "%d, %d], ", x->rows, x->cols);
    bytes_print(&header, e, "\"data_offsets\": [%lld, %lld]}", (long long)at,
                (long long)(at + 4 * tensor_count(x)));
    at += 4 * tensor_count(x);
  }
  bytes_print(&header, e, "}");
  while (header.size % 8 && !e->status)
    bytes_print(&header, e, " ");
  /* room for all of it at once: it may be most of the memory */
  *out = (Bytes){.room = 8 + header.size + (size_t)at};
  if (!e->status)
    out->at = grab((idx)out->room, 1, e);
  if (!e->status && !bytes_number(out, header.size, 8, e))
    bytes_add(out, header.at, header.size, e);
  for (int k = 0; k < m->n_tensors && !e->status; k++)
    if (!counterpart(LLAMA, m->all[k], theirs, &how, e))
      numbers_write(out, m, m->all[k], how, e);
  bytes_free(&header);
  return e->status;
}

/* -----------------------------------------------------------------------------
 * 9  tokenizer.json: a byte-level BPE
 *
 * There a token is spelt with a letter for each byte: a printable byte is its
 * own letter in Latin-1, and the other 68, in rising order, are U+0100 and on
 * (the alphabet of GPT-2). The text is spelt so first and cut into pieces after
 * that; the cuts of sink.c, 8.1, are then an expression of bytes, and exact
 * even where a piece ends inside a character.
 *
 * One thing differs: a text that spells <|endoftext|>, <|bos|> or <|fix|> gives
 * the id there, and bytes in sink. And as in `generate`, the token that
 * begins a sequence comes before a text, unless that is encoded with
 * add_special_tokens=False. */

/* The letter of a byte. */
static int letter_of(int b) {
  /* the first 33 of the 68 */
  if (b <= 0x20)
    return 0x100 + b;
  if (b < 0x7F)
    return b;
  /* 34 more */
  if (b <= 0xA0)
    return 0x100 + 33 + (b - 0x7F);
  return b == 0xAD ? 0x100 + 67 : b;
}

/* A token's letters in UTF-8, as inside a JSON string. No letter is a control
 * character. */
static void print_token(Bytes *out, const Tokenizer *t, int id, Error *e) {
  size_t length;
  const unsigned char *bytes = tokenizer_token(t, id, &length);
  for (size_t i = 0; i < length; i++) {
    int u = letter_of(bytes[i]);
    if (u == '"' || u == '\\')
      bytes_print(out, e, "\\");
    if (u < 0x80)
      bytes_print(out, e, "%c", u);
    else
      bytes_print(out, e, "%c%c", 0xC0 | u >> 6, 0x80 | (u & 0x3F));
  }
}

/* The name of a token that is none of bytes: printable, and its own letters. */
static const char *token_name(const Tokenizer *t, int id, char name[32]) {
  size_t length;
  const unsigned char *bytes = tokenizer_token(t, id, &length);
  snprintf(name, 32, "%.*s", (int)length, (const char *)bytes);
  return name;
}

typedef struct Spelling {
  const unsigned char *at;
  size_t length;
  int id;
} Spelling;

static int by_spelling(const void *a, const void *b) {
  const Spelling *x = a, *y = b;
  size_t shorter = x->length < y->length ? x->length : y->length;
  int order = memcmp(x->at, y->at, shorter);
  if (order)
    return order;
  return (x->length > y->length) - (x->length < y->length);
}

/* Sorts n spellings. Returns the first that the next one repeats, NULL when all
 * of them differ. */
static const Spelling *spelt_twice(Spelling *s, size_t n) {
  if (n)
    qsort(s, n, sizeof *s, by_spelling);
  for (size_t i = 1; i < n; i++)
    if (!by_spelling(&s[i - 1], &s[i]))
      return &s[i - 1];
  return NULL;
}

/* Their vocabulary maps spellings to ids, so no two ids may be spelt alike.
 * Training never makes such a pair, since a token is always joined in the same
 * order; a file may hold one. */
static int spellings_differ(const Tokenizer *t, const char *path, Error *e) {
  Spelling *s = grab(t->vocab, sizeof *s, e);
  if (!s)
    return e->status;
  for (int id = 0; id < t->vocab; id++) {
    s[id].at = tokenizer_token(t, id, &s[id].length);
    s[id].id = id;
  }
  const Spelling *two = spelt_twice(s, (size_t)t->vocab);
  if (two)
    fail(e, 1,
         "%s: tokenizer.json needs tokens of different spelling, found %d and "
         "%d alike. Try: a vocabulary of ./hf tokenize train",
         path, two[0].id, two[1].id);
  free(s);
  return e->status;
}

/* The classes of sink.c, 8.1, among the letters, and its pieces of at most
 * PIECE_MAX bytes. White space leaves its last byte to the piece after it when
 * that byte is a space. */
_Static_assert(PIECE_MAX == 128, "SPLIT counts to 128");
#define IN_WORD   "A-Za-z\u00a1-\u00ac\u00ae-\u00ff\u0122-\u0143"
#define IN_WHITE  "\u0109-\u010d\u0120"
#define BLANK     "\u0120"
#define SPLIT \
  BLANK "[" IN_WORD "]{1,127}|" \
  "[" IN_WORD "]{1,128}|" \
  BLANK "?[0-9]{1,3}|" \
  BLANK "[^" IN_WORD "0-9" IN_WHITE "]{1,127}|" \
  "[^" IN_WORD "0-9" IN_WHITE "]{1,128}|" \
  "[" IN_WHITE "]{1,127}(?=" BLANK "[^" IN_WHITE "])|" \
  "[" IN_WHITE "]{1,128}"

/* The vocabulary, spellings to ids, and the list of merges, in their order. */
static void print_vocabulary(Bytes *out, const Tokenizer *t, Error *e) {
  bytes_print(out, e, "\"vocab\": {");
  for (int id = 0; id < t->vocab && !e->status; id++) {
    bytes_print(out, e, "%s\n\"", id ? "," : "");
    print_token(out, t, id, e);
    bytes_print(out, e, "\": %d", id);
  }
  bytes_print(out, e, "},\n\"merges\": [");
  for (int id = TOKEN_MERGE; id < t->vocab && !e->status; id++) {
    const TokenEntry *pair = &t->token[id];
    bytes_print(out, e, "%s\n\"", id > TOKEN_MERGE ? "," : "");
    print_token(out, t, pair->left, e);
    bytes_print(out, e, " ");
    print_token(out, t, pair->right, e);
    bytes_print(out, e, "\"");
  }
  bytes_print(out, e, "]");
}

/* The whole file; `start` is the token that begins a text. */
static int tokenizer_json(Bytes *out, const Tokenizer *t, int start, Error *e) {
  char name[32];
  bytes_print(out, e,
              "{\"version\": \"1.0\", \"truncation\": null, "
              "\"padding\": null,\n"
              "\"added_tokens\": [");
  for (int id = 0; id < TOKEN_BYTE; id++)
    bytes_print(out, e,
                "%s\n{\"id\": %d, \"content\": \"%s\", "
                "\"single_word\": false, \"lstrip\": false, "
                "\"rstrip\": false, \"normalized\": false, "
                "\"special\": true}",
                id ? "," : "", id, token_name(t, id, name));
  bytes_print(out, e,
              "],\n\"normalizer\": null,\n"
              "\"pre_tokenizer\": {\"type\": \"Sequence\", "
              "\"pretokenizers\": [\n"
              "{\"type\": \"ByteLevel\", \"add_prefix_space\": false, "
              "\"trim_offsets\": true, \"use_regex\": false},\n"
              "{\"type\": \"Split\", \"pattern\": {\"Regex\": \"%s\"}, "
              "\"behavior\": \"Isolated\", \"invert\": false}]},\n",
              SPLIT);
  token_name(t, start, name);
  bytes_print(out, e,
              "\"post_processor\": {\"type\": \"TemplateProcessing\",\n"
              "\"single\": "
              "[{\"SpecialToken\": {\"id\": \"%s\", \"type_id\": 0}}, "
              "{\"Sequence\": {\"id\": \"A\", \"type_id\": 0}}],\n"
              "\"pair\": "
              "[{\"SpecialToken\": {\"id\": \"%s\", \"type_id\": 0}}, "
              "{\"Sequence\": {\"id\": \"A\", \"type_id\": 0}}, "
              "{\"Sequence\": {\"id\": \"B\", \"type_id\": 1}}],\n"
              "\"special_tokens\": {\"%s\": {\"id\": \"%s\", \"ids\": [%d], "
              "\"tokens\": [\"%s\"]}}},\n",
              name, name, name, name, start, name);
  bytes_print(out, e,
              "\"decoder\": {\"type\": \"ByteLevel\", "
              "\"add_prefix_space\": false, \"trim_offsets\": true, "
              "\"use_regex\": false},\n"
              "\"model\": {\"type\": \"BPE\", \"dropout\": null, "
              "\"unk_token\": null, \"continuing_subword_prefix\": null, "
              "\"end_of_word_suffix\": null, \"fuse_unk\": false, "
              "\"byte_fallback\": false,\n");
  print_vocabulary(out, t, e);
  return bytes_print(out, e, "}}\n");
}

static int tokenizer_config_json(Bytes *out, const Tokenizer *t, int start,
                                 int context, Error *e) {
  char bos[32], end[32];
  token_name(t, TOKEN_END, end);
  return bytes_print(out, e,
                     "{\n  \"tokenizer_class\": \"PreTrainedTokenizerFast\",\n"
                     "  \"bos_token\": \"%s\",\n"
                     "  \"eos_token\": \"%s\",\n"
                     "  \"pad_token\": \"%s\",\n"
                     "  \"clean_up_tokenization_spaces\": false,\n"
                     "  \"model_input_names\": "
                     "[\"input_ids\", \"attention_mask\"],\n"
                     "  \"model_max_length\": %d\n}\n",
                     token_name(t, start, bos), end, end, context);
}

/* -----------------------------------------------------------------------------
 * 10  The folder */

enum { WEIGHTS, CONFIG, GENERATION, TOKENIZER, TOKENIZER_CONFIG, FILES };
static const char *const FILE_NAMES[FILES] = {
  "model.safetensors", "config.json", "generation_config.json",
  "tokenizer.json", "tokenizer_config.json"};

/* A path as printf would print it. */
static int path_make(char path[1024], Error *e, const char *format, ...) {
  va_list args;
  va_start(args, format);
  int n = vsnprintf(path, 1024, format, args);
  va_end(args);
  if (n < 1024)
    return 0;
  return fail(e, 2, "%.60s..: this path is too long. Try: a shorter one", path);
}

/* Writes the files that are not empty, all of them beside their names before
 * the first is renamed: a disk that is full, or a program that ends before,
 * leaves the older files as they were. */
static int folder_write(const Settings *s, const char *folder,
                        const Bytes *files, Error *e) {
  char path[FILES][1024], beside[FILES][1024];
  const char *written[2 * FILES];
  for (int i = 0; i < FILES; i++) {
    if (path_make(path[i], e, "%s/%s", folder, FILE_NAMES[i]) ||
        path_make(beside[i], e, "%s.part", path[i]))
      return e->status;
    written[i] = files[i].size ? path[i] : "";
    written[FILES + i] = files[i].size ? beside[i] : "";
  }
  if (outputs_ready(s, written, 2 * FILES, e))
    return e->status;
  for (int i = 0; i < FILES && !e->status; i++)
    if (files[i].size)
      file_write(beside[i], files[i].at, files[i].size, e);
  for (int i = 0; i < FILES && !e->status; i++)
    if (files[i].size && !take_name(beside[i], path[i]))
      fail(e, 1, "%s: cannot be renamed: %s. Try: another folder", beside[i],
           strerror(errno));
  for (int i = 0; i < FILES && e->status; i++)
    if (files[i].size)
      remove(beside[i]);
  return e->status;
}

static int tokenizer_from(const char *from, int most, Bytes *out,
                          Tokenizer *words, Error *e);

/* Are the model's own words, published ones or none, what the folder has?
 * transformers takes what lies there, so that another's are an error. */
static bool words_there(const Tokenizer *words, int most, const char *folder,
                        Error *e) {
  Tokenizer there;
  Bytes file = {0};
  Error own = {0};
  const bool read = !tokenizer_from(folder, most, &file, &there, &own);
  const bool none = read && !file.size;
  bool same;
  if (none)
    same = !words->vocab;
  else
    same = read && there.hash == words->hash;
  if (!none && !same)
    fail(e, 1,
         "%s: expected no tokenizer but the model's own, found another. Try: "
         "another folder",
         folder);
  tokenizer_free(&there);
  bytes_free(&file);
  return same;
}

/* Reads the tokenizer of the checkpoint `model`, t, and makes the folder's two
 * files of it, but of a published one none. */
static void export_words(const Settings *s, const char *model, const Trainer *t,
                         const char *tokenizer, Tokenizer *words, Bytes *files,
                         Error *e) {
  const int start = start_token(&t->s.data);
  if (tokenizer_load(tokenizer, s->program, words, e))
    return;
  if (words->hash != t->tokenizer_hash)
    fail(e, 1,
         "%s: expected the tokenizer it was trained with, found another in "
         "%s. Try: --tokenizer FILE",
         model, tokenizer);
  if (e->status || words->published || spellings_differ(words, tokenizer, e))
    return;
  tokenizer_json(&files[TOKENIZER], words, start, e);
  tokenizer_config_json(&files[TOKENIZER_CONFIG], words, start,
                        t->s.model.context, e);
}

/* The checkpoint `model` as a folder. The tokenizer it was trained with, if
 * any, is --tokenizer, or the one it names, or tokenizer.bin. A published one's
 * files are not made anew: they are to be copied. Prints a line on stdout. */
static int export_folder(const Settings *s, const char *model,
                         const char *folder, Error *e) {
  Trainer t;
  Tokenizer words = {0};
  Bytes files[FILES] = {{0}};
  bool there = true;
  const char *tokenizer = s->own.tokenizer;
  char beside[PATH_ROOM];
  if (checkpoint_load(model, false, &t, e))
    return e->status;
  if (!*tokenizer) {
    tokenizer = t.s.data.tokenizer;
    if (file_missing(tokenizer))
      tokenizer = "tokenizer.bin";
  }
  if (t.tokenizer_hash)
    tokenizer = located(beside, tokenizer, &s->data, e);
  for (idx i = 0; i < t.m.count; i++)
    if (!isfinite(t.m.params[i]))
      fail(e, 1, "%s: its weights are not finite. Try: another", model);
  if (!e->status && !llama_refuses(&t.s, model, e) && t.tokenizer_hash)
    export_words(s, model, &t, tokenizer, &words, files, e);
  if (!e->status && !files[TOKENIZER].size)
    there = words_there(&words, t.s.model.vocab, folder, e);
  if (!e->status && !safetensors(&files[WEIGHTS], &t.m, e) &&
      !config_json(&files[CONFIG], &t, &words, e) &&
      !generation_json(&files[GENERATION], &t, &words, e) &&
      !folder_write(s, folder, files, e))
    printf("tensors=%d parameters=%lld bytes=%zu vocabulary=%d tokenizer=%s "
           "out=%s\n",
           t.m.n_tensors, (long long)t.m.count, files[WEIGHTS].size,
           t.s.model.vocab, t.tokenizer_hash ? tokenizer : "none", folder);
  if (!e->status && !there)
    fprintf(stderr,
            "hf: left out: the published tokenizer. Copy its files to %s from "
            "the original folder\n",
            folder);
  for (int i = 0; i < FILES; i++)
    bytes_free(&files[i]);
  tokenizer_free(&words);
  trainer_free(&t);
  return e->status;
}
