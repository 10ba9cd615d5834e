/* hf.c - models of sink as folders that Hugging Face's transformers library loads.
 *
 *     cc -O3 -DSINK_NO_MAIN data/hf.c sink.c -o hf -lm
 *     ./hf export out/model.ckpt out/llama              [--tokenizer FILE, the one it learnt with]
 *     >>> transformers.AutoModelForCausalLM.from_pretrained("out/llama")       then, in Python
 *
 * SPDX-License-Identifier: MIT
 *
 * A checkpoint is read by sink's own reader (chapter 10.1); what is written here are the four or
 * five files of a folder of the llama family:
 *
 *   config.json              the shape, and the ids that begin and end a text
 *   generation_config.json   the same ids; the likeliest token, not a drawn one
 *   model.safetensors        the parameters, as 32-bit floats
 *   tokenizer.json, tokenizer_config.json        the tokenizer, where the model has one
 *
 * llama is the paper's default model with fields of its own: rotary positions, RMSNorm before each
 * half of a block, a gated feed-forward (silu, gelu or relu), softmax, and, where asked for, fewer
 * key heads, wider heads, biases in all linear maps but the last, tied embeddings, stretched
 * angles. The paper's variants are what it has no words for: they are refused by the flag's name.
 *
 * Contents   1 What llama can express   2 config.json   3 model.safetensors   4 tokenizer.json
 *            5 The folder   6 Command line
 *
 * data/golden/hf_check.py holds the logits, the greedy text and the token ids of transformers
 * against sink's; the tests named hf__ in test_sink.c run this program and read its files back. */
#include "../sink.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* -------------------------------------------------------------------------------------------------
 * 1  What llama can express */

/* Flags of a model whose every value has a counterpart there, with the exceptions that
 * llama_refuses names. All others must be as they are by default, so that an axis that sink gains
 * is refused until it is written here. */
static const char *const LLAMA_FLAGS[] = {
    "layers", "heads", "kv-heads", "dim", "head-dim", "ffn", "vocab", "context",
    "rope-base", "rope-pairing", "rope-scaling", "rope-factor", "rope-low", "rope-high",
    "rope-original", "norm-eps", "act", "linear-bias", "tied", NULL};

static bool llama_has(const char *flag) {
    int i = 0;
    while (LLAMA_FLAGS[i] && strcmp(LLAMA_FLAGS[i], flag)) i++;
    return LLAMA_FLAGS[i] != NULL;
}

/* The value of a flag as sink prints it. */
static const char *flag_text(const Settings *s, const char *flag, char *text, size_t room) {
    option_text(option_find(flag, "m"), s, text, room);
    return text;
}

/* 0 when the resolved model s->model is a llama; else the error names the first flag that is not
 * and what to try. name is the checkpoint's. */
static int llama_refuses(const Settings *s, const char *name, Error *e) {
    const Config *c = &s->model;
    char text[PATH_ROOM], plain[PATH_ROOM];
    Settings base;
    settings_default(&base);
    for (const Option *o = OPTIONS; o->flag; o++)
        if (o->group == 'm' && llama_has(o->flag)) {
            option_text(o, s, text, sizeof text);
            option_set(o, &base, text, false, e);
        }
    if (e->status || config_resolve(&base.model, e)) return e->status;
    for (const Option *o = OPTIONS; o->flag; o++) {
        if (o->group != 'm' || llama_has(o->flag)) continue;
        option_text(o, s, text, sizeof text);
        option_text(o, &base, plain, sizeof plain);
        if (strcmp(text, plain))
            return fail(e, 1,
                        "%s: expected what llama can express, found --%s%s%s. Try: a model "
                        "trained without --%s",
                        name, o->flag, o->kind == 'b' ? "" : " ", o->kind == 'b' ? "" : text,
                        o->flag);
    }
    if (!config_gated(c))
        return fail(e, 1,
                    "%s: expected a gated feed-forward as llama's, found --act %s. Try: a model "
                    "trained with --act swiglu, geglu or reglu",
                    name, flag_text(s, "act", text, sizeof text));
    /* transformers checks it though head_dim makes it needless */
    if (c->dim % c->heads)
        return fail(e, 1,
                    "%s: expected --heads that divide --dim, which transformers asks for, found "
                    "%d and %d. Try: a model trained so",
                    name, c->heads, c->dim);
    if (c->rope_scaling == ROPE_LLAMA3 && !(c->rope_low > 0))
        return fail(e, 1,
                    "%s: expected --rope-low above 0, by which transformers divides, found %g. "
                    "Try: a model trained with --rope-low 1",
                    name, c->rope_low);
    return 0;
}

/* The token that `sink generate` puts before a prompt: what transformers calls bos. */
static int start_token(const Source *s) {
    return s->fix_token == 1 ? TOKEN_FIX : s->bos ? TOKEN_BOS : TOKEN_END;
}

/* -------------------------------------------------------------------------------------------------
 * 2  config.json */

/* Appends formatted text of at most 1,000 bytes. */
static int say(Bytes *out, Error *e, const char *format, ...) {
    char text[1024];
    va_list args;
    va_start(args, format);
    int n = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (n < 0 || n >= (int)sizeof text) return fail(e, 1, "a line of JSON is too long");
    return bytes_add(out, text, (size_t)n, e);
}

/* A flag's number as a JSON number that is no integer: transformers refuses 1 where it wants 1.0.
 * It reads back to the same bits. */
static void say_real(Bytes *out, const Settings *s, const char *key, const char *flag, Error *e) {
    char text[PATH_ROOM];
    flag_text(s, flag, text, sizeof text);
    say(out, e, "\"%s\": %.60s%s", key, text, strpbrk(text, ".e") ? "" : ".0");
}

/* "rope_theta" and "rope_scaling": every version of transformers reads these; those from 5 on turn
 * them into their rope_parameters. */
static void say_rope(Bytes *out, const Settings *s, Error *e) {
    const Config *c = &s->model;
    say(out, e, "  ");
    say_real(out, s, "rope_theta", "rope-base", e);
    if (c->rope_scaling == ROPE_PLAIN) { say(out, e, ",\n  \"rope_scaling\": null,\n"); return; }
    bool llama3 = c->rope_scaling == ROPE_LLAMA3;
    say(out, e, ",\n  \"rope_scaling\": {\"rope_type\": \"%s\", ", llama3 ? "llama3" : "linear");
    say_real(out, s, "factor", "rope-factor", e);
    if (llama3) {
        say(out, e, ", ");
        say_real(out, s, "low_freq_factor", "rope-low", e);
        say(out, e, ", ");
        say_real(out, s, "high_freq_factor", "rope-high", e);
        say(out, e, ", \"original_max_position_embeddings\": %d", c->rope_original);
    }
    say(out, e, "},\n");
}

/* The ids that begin and end a text; null for a model that knows no tokenizer. */
static void say_ids(Bytes *out, const Trainer *t, Error *e) {
    if (t->tokenizer_hash)
        say(out, e, "  \"bos_token_id\": %d,\n  \"eos_token_id\": %d,\n",
            start_token(&t->s.data), TOKEN_END);
    else say(out, e, "  \"bos_token_id\": null,\n  \"eos_token_id\": null,\n");
}

static int config_json(Bytes *out, const Trainer *t, Error *e) {
    const Config *c = &t->s.model;
    const char *bias = c->linear_bias ? "true" : "false";
    say(out, e, "{\n  \"architectures\": [\"LlamaForCausalLM\"],\n  \"model_type\": \"llama\",\n"
                "  \"torch_dtype\": \"float32\",\n");
    say(out, e, "  \"vocab_size\": %d,\n  \"hidden_size\": %d,\n  \"intermediate_size\": %d,\n",
        c->vocab, c->dim, c->ffn);
    say(out, e, "  \"num_hidden_layers\": %d,\n  \"num_attention_heads\": %d,\n", c->layers,
        c->heads);
    say(out, e, "  \"num_key_value_heads\": %d,\n  \"head_dim\": %d,\n", c->kv_heads, c->head_dim);
    /* transformers' gelu is x Phi(x), the one of --act geglu */
    say(out, e, "  \"hidden_act\": \"%s\",\n  \"max_position_embeddings\": %d,\n  ",
        c->act == ACT_SWIGLU ? "silu" : c->act == ACT_GEGLU ? "gelu" : "relu", c->context);
    say_real(out, &t->s, "rms_norm_eps", "norm-eps", e);
    say(out, e, ",\n");
    say_rope(out, &t->s, e);
    say(out, e, "  \"attention_bias\": %s,\n  \"mlp_bias\": %s,\n", bias, bias);
    say(out, e, "  \"tie_word_embeddings\": %s,\n", c->tied ? "true" : "false");
    say_ids(out, t, e);
    /* a padding id here would take that row of the embedding out of further training */
    return say(out, e, "  \"pad_token_id\": null\n}\n");
}

static int generation_json(Bytes *out, const Trainer *t, Error *e) {
    say(out, e, "{\n");
    say_ids(out, t, e);
    if (t->tokenizer_hash) say(out, e, "  \"pad_token_id\": %d,\n", TOKEN_END);
    return say(out, e, "  \"do_sample\": false\n}\n");
}

/* -------------------------------------------------------------------------------------------------
 * 3  model.safetensors
 *
 *   8   N, the length of the header, little-endian
 *   N   the header, JSON: name -> {dtype, shape, data_offsets [begin, end) from the header's end};
 *       padded with spaces, so that the numbers begin at a multiple of 8
 *   ..  the numbers, end to end in the header's order, row-major, little-endian
 *
 * Matrices are [out, in] there and [in, out] here. Rotated heads: a pair of transformers is always
 * dims (p, p + D/2). Where ours is (2p, 2p + 1), the columns of W_Q and W_K (and their biases) are
 * written in the order 0 2 4 .. 1 3 5 .. within each head. That moves q and k alike and no product
 * <q, k> changes. */

typedef struct Counterpart {
    const char *ours, *theirs;   /* of a block without "l0." and "model.layers.0." */
    bool turned, rotated;        /* a matrix x W; its columns are heads that a rotation turns */
} Counterpart;

static const Counterpart COUNTERPARTS[] = {
    {"wte",   "model.embed_tokens.weight",        false, false},     /* [V,C] in both */
    {"norm1", "input_layernorm.weight",           false, false},
    {"wq",    "self_attn.q_proj.weight",          true,  true},
    {"wk",    "self_attn.k_proj.weight",          true,  true},
    {"wv",    "self_attn.v_proj.weight",          true,  false},
    {"wo",    "self_attn.o_proj.weight",          true,  false},
    {"bq",    "self_attn.q_proj.bias",            false, true},
    {"bk",    "self_attn.k_proj.bias",            false, true},
    {"bv",    "self_attn.v_proj.bias",            false, false},
    {"bo",    "self_attn.o_proj.bias",            false, false},
    {"norm2", "post_attention_layernorm.weight",  false, false},
    {"w1",    "mlp.gate_proj.weight",             true,  false},     /* (act(x W1) * x W2) W3 */
    {"w2",    "mlp.up_proj.weight",               true,  false},
    {"w3",    "mlp.down_proj.weight",             true,  false},
    {"b1",    "mlp.gate_proj.bias",               false, false},
    {"b2",    "mlp.up_proj.bias",                 false, false},
    {"b3",    "mlp.down_proj.bias",               false, false},
    {"normf", "model.norm.weight",                false, false},
    {"wcls",  "lm_head.weight",                   true,  false},     /* absent when tied */
    {NULL, NULL, false, false}};

static const Counterpart *counterpart(const Tensor *x, Error *e) {
    const char *name = x->layer < 0 ? x->name : strchr(x->name, '.') + 1;
    const Counterpart *p = COUNTERPARTS;
    while (p->ours && strcmp(p->ours, name)) p++;
    if (p->ours) return p;
    fail(e, 1, "%s: expected a tensor that llama has, found another. Try: sink list", x->name);
    return NULL;
}

/* Where output o of W_Q or W_K, as transformers counts, stands among the columns here. */
static idx head_column(const Config *c, idx o) {
    idx D = c->head_dim, d = o % D, half = D / 2;
    if (c->rope_pairing == PAIR_HALF) return o;
    return o - d + (d < half ? 2 * d : 2 * (d - half) + 1);
}

static int numbers_write(Bytes *out, const Model *m, const Tensor *x, const Counterpart *p,
                         Error *e) {
    const real *from = m->params + x->at;
    bool turned = p->turned;
    /* rows of the written tensor, their length, and the steps between its elements here */
    idx rows = turned ? x->shape[1] : x->shape[0], length = x->count / rows;
    idx row = turned ? 1 : length, step = turned ? rows : 1;
    for (idx o = 0; o < rows; o++) {
        const real *at = from + (p->rotated ? head_column(&m->c, o) : o) * row;
        for (idx i = 0; i < length; i++) {
            float number = (float)at[i * step];
            uint32_t bits;
            memcpy(&bits, &number, sizeof bits);
            if (bytes_number(out, bits, sizeof bits, e)) return e->status;
        }
    }
    return 0;
}

static int safetensors(Bytes *out, const Model *m, Error *e) {
    Bytes header = {0};
    idx at = 0;
    say(&header, e, "{\"__metadata__\": {\"format\": \"pt\"}");
    for (int k = 0; k < m->n_tensors && !e->status; k++) {
        const Tensor *x = &m->tensor[k];
        const Counterpart *p = counterpart(x, e);
        if (!p) break;
        say(&header, e, ",\n\"");
        if (x->layer >= 0) say(&header, e, "model.layers.%d.", x->layer);
        say(&header, e, "%s\": {\"dtype\": \"F32\", \"shape\": [", p->theirs);
        if (x->rank == 1) say(&header, e, "%d], ", x->shape[0]);
        else say(&header, e, "%d, %d], ", x->shape[p->turned], x->shape[!p->turned]);
        say(&header, e, "\"data_offsets\": [%lld, %lld]}", (long long)at,
            (long long)(at + 4 * x->count));
        at += 4 * x->count;
    }
    say(&header, e, "}");
    while (header.size % 8 && !e->status) say(&header, e, " ");
    /* room for all of it at once: it may be most of the memory */
    *out = (Bytes){.room = 8 + header.size + (size_t)at};
    if (!e->status) out->at = grab((idx)out->room, 1, e);
    if (!e->status) {
        bytes_number(out, header.size, 8, e);
        bytes_add(out, header.at, header.size, e);
        for (int k = 0; k < m->n_tensors && !e->status; k++)
            numbers_write(out, m, &m->tensor[k], counterpart(&m->tensor[k], e), e);
    }
    bytes_free(&header);
    return e->status;
}

/* -------------------------------------------------------------------------------------------------
 * 4  tokenizer.json: a byte-level BPE
 *
 * There a token is spelt with a letter for each byte: a printable byte is its own letter in
 * Latin-1, and the other 68, in rising order, are U+0100, U+0101, .. (the alphabet of GPT-2). The
 * text is spelt so first and cut into pieces after that; the cuts of chapter 8 are then an
 * expression of bytes, and exact even where a piece ends inside a character.
 *
 * One thing differs: a text that spells <|endoftext|>, <|bos|> or <|fix|> gives the id there, and
 * bytes in sink. And as `sink generate` does, a text gets the token that begins a sequence in
 * front, unless it is encoded with add_special_tokens=False. */

/* The letter of a byte. */
static int letter_of(int b) {
    if (b <= 0x20) return 0x100 + b;                         /* the first 33 of the 68 */
    if (b < 0x7F) return b;
    if (b <= 0xA0) return 0x100 + 33 + (b - 0x7F);           /* 34 more */
    return b == 0xAD ? 0x100 + 67 : b;
}

/* A token's letters in UTF-8, as inside a JSON string. None is a control character. */
static void say_token(Bytes *out, const Tokenizer *t, int id, Error *e) {
    size_t length;
    const unsigned char *bytes = tokenizer_token(t, id, &length);
    for (size_t i = 0; i < length; i++) {
        int u = letter_of(bytes[i]);
        if (u >= 0x80) say(out, e, "%c%c", 0xC0 | u >> 6, 0x80 | (u & 0x3F));
        else say(out, e, "%s%c", u == '"' || u == '\\' ? "\\" : "", u);
    }
}

typedef struct Spelling { const unsigned char *at; size_t length; int id; } Spelling;

static int by_spelling(const void *a, const void *b) {
    const Spelling *x = a, *y = b;
    size_t shorter = x->length < y->length ? x->length : y->length;
    int order = memcmp(x->at, y->at, shorter);
    return order ? order : (x->length > y->length) - (x->length < y->length);
}

/* Their vocabulary maps spellings to ids, so no two ids may be spelt alike. Training never makes
 * such a pair, since a token is always joined in the same order; a file may hold one. */
static int spellings_differ(const Tokenizer *t, const char *path, Error *e) {
    Spelling *s = grab(t->vocab, sizeof *s, e);
    if (!s) return e->status;
    for (int id = 0; id < t->vocab; id++) {
        s[id].at = tokenizer_token(t, id, &s[id].length);
        s[id].id = id;
    }
    qsort(s, (size_t)t->vocab, sizeof *s, by_spelling);
    for (int i = 1; i < t->vocab && !e->status; i++)
        if (!by_spelling(&s[i - 1], &s[i]))
            fail(e, 1,
                 "%s: expected tokens spelt differently, which tokenizer.json asks for, found %d "
                 "and %d alike. Try: sink tokenize train makes none such",
                 path, s[i - 1].id, s[i].id);
    free(s);
    return e->status;
}

/* The classes of chapter 8.2 among the letters, and its pieces of at most PIECE_MAX bytes. White
 * space leaves its last byte to the piece after it when that byte is a space. */
_Static_assert(PIECE_MAX == 128, "PIECES counts to 128");
#define WORD   "A-Za-z\\u00a1-\\u00ac\\u00ae-\\u00ff\\u0122-\\u0143"
#define WHITE  "\\u0109-\\u010d\\u0120"
#define SPACE  "\\u0120"
#define PIECES                                                                                     \
    SPACE "[" WORD "]{1,127}|[" WORD "]{1,128}|" SPACE "?[0-9]{1,3}|"                              \
    SPACE "[^" WORD "0-9" WHITE "]{1,127}|[^" WORD "0-9" WHITE "]{1,128}|"                         \
    "[" WHITE "]{1,127}(?=" SPACE "[^" WHITE "])|[" WHITE "]{1,128}"

static int tokenizer_json(Bytes *out, const Tokenizer *t, int start, Error *e) {
    say(out, e, "{\"version\": \"1.0\", \"truncation\": null, \"padding\": null,\n"
                "\"added_tokens\": [");
    for (int id = 0; id < TOKEN_BYTE; id++) {
        say(out, e, "%s\n{\"id\": %d, \"content\": \"", id ? "," : "", id);
        say_token(out, t, id, e);
        say(out, e, "\", \"single_word\": false, \"lstrip\": false, \"rstrip\": false, "
                    "\"normalized\": false, \"special\": true}");
    }
    say(out, e, "],\n\"normalizer\": null,\n\"pre_tokenizer\": {\"type\": \"Sequence\", "
                "\"pretokenizers\": [\n{\"type\": \"ByteLevel\", \"add_prefix_space\": false, "
                "\"trim_offsets\": true, \"use_regex\": false},\n{\"type\": \"Split\", "
                "\"pattern\": {\"Regex\": \"%s\"}, \"behavior\": \"Isolated\", "
                "\"invert\": false}]},\n", PIECES);
    say(out, e, "\"post_processor\": {\"type\": \"TemplateProcessing\",\n");
    for (int pair = 0; pair < 2; pair++) {
        say(out, e, "\"%s\": [{\"SpecialToken\": {\"id\": \"", pair ? "pair" : "single");
        say_token(out, t, start, e);
        say(out, e, "\", \"type_id\": 0}}, {\"Sequence\": {\"id\": \"A\", \"type_id\": 0}}%s],\n",
            pair ? ", {\"Sequence\": {\"id\": \"B\", \"type_id\": 1}}" : "");
    }
    say(out, e, "\"special_tokens\": {\"");
    say_token(out, t, start, e);
    say(out, e, "\": {\"id\": \"");
    say_token(out, t, start, e);
    say(out, e, "\", \"ids\": [%d], \"tokens\": [\"", start);
    say_token(out, t, start, e);
    say(out, e, "\"]}}},\n\"decoder\": {\"type\": \"ByteLevel\", \"add_prefix_space\": false, "
                "\"trim_offsets\": true, \"use_regex\": false},\n"
                "\"model\": {\"type\": \"BPE\", \"dropout\": null, \"unk_token\": null, "
                "\"continuing_subword_prefix\": null, \"end_of_word_suffix\": null, "
                "\"fuse_unk\": false, \"byte_fallback\": false,\n\"vocab\": {");
    for (int id = 0; id < t->vocab && !e->status; id++) {
        say(out, e, "%s\n\"", id ? "," : "");
        say_token(out, t, id, e);
        say(out, e, "\": %d", id);
    }
    say(out, e, "},\n\"merges\": [");
    for (int id = TOKEN_MERGE; id < t->vocab && !e->status; id++) {
        const Pair *pair = &t->merges.at[id - TOKEN_MERGE];
        say(out, e, "%s\n\"", id > TOKEN_MERGE ? "," : "");
        say_token(out, t, pair->left, e);
        say(out, e, " ");
        say_token(out, t, pair->right, e);
        say(out, e, "\"");
    }
    return say(out, e, "]}}\n");
}

static int tokenizer_config_json(Bytes *out, const Tokenizer *t, int start, int context, Error *e) {
    say(out, e, "{\n  \"tokenizer_class\": \"PreTrainedTokenizerFast\",\n  \"bos_token\": \"");
    say_token(out, t, start, e);
    say(out, e, "\",\n  \"eos_token\": \"");
    say_token(out, t, TOKEN_END, e);
    say(out, e, "\",\n  \"pad_token\": \"");
    say_token(out, t, TOKEN_END, e);
    return say(out, e, "\",\n  \"clean_up_tokenization_spaces\": false,\n"
                       "  \"model_input_names\": [\"input_ids\", \"attention_mask\"],\n"
                       "  \"model_max_length\": %d\n}\n", context);
}

/* -------------------------------------------------------------------------------------------------
 * 5  The folder */

enum { WEIGHTS, CONFIG, GENERATION, TOKENIZER, TOKENIZER_CONFIG, FILES };
static const char *const FILE_NAMES[FILES] = {
    "model.safetensors", "config.json", "generation_config.json", "tokenizer.json",
    "tokenizer_config.json"};

static int path_of(char path[1024], const char *folder, int file, const char *more, Error *e) {
    if (snprintf(path, 1024, "%s/%s%s", folder, FILE_NAMES[file], more) < 1024) return 0;
    return fail(e, 2, "%.60s..: this path is too long. Try: a shorter one", folder);
}

/* Writes the files that are not empty, all of them beside their names before the first is renamed:
 * a disk that is full, or a program that is ended, leaves the folder's older files as they were. */
static int folder_write(const char *folder, const Bytes *files, Error *e) {
    char path[1024], beside[1024];
    if (path_of(path, folder, CONFIG, "", e) || file_ready(path, e)) return e->status;
    if (!files[TOKENIZER].size && !path_of(path, folder, TOKENIZER, "", e)) {
        FILE *f = fopen(path, "rb");     /* transformers would take it for this model's */
        if (f) {
            fclose(f);
            return fail(e, 1,
                        "%s: expected no tokenizer beside a model that has none, found one. "
                        "Try: another folder", path);
        }
    }
    for (int i = 0; i < FILES && !e->status; i++)
        if (files[i].size && !path_of(beside, folder, i, ".part", e))
            file_write(beside, files[i].at, files[i].size, e);
    for (int i = 0; i < FILES && !e->status; i++)
        if (files[i].size && !path_of(beside, folder, i, ".part", e) &&
            !path_of(path, folder, i, "", e) && rename(beside, path))
            fail(e, 1, "%s: cannot take its name, %s. Try: another folder", beside,
                 strerror(errno));
    Error ignored = {0};
    for (int i = 0; i < FILES && e->status; i++)
        if (!path_of(beside, folder, i, ".part", &ignored)) remove(beside);
    return e->status;
}

/* The checkpoint `model` as a folder; tokenizer is the path of the one it was trained with, and is
 * not read when it was trained with none. Prints a line on stdout. */
static int export_folder(const char *model, const char *folder, const char *tokenizer, Error *e) {
    Trainer t;
    Tokenizer words = {0};
    Bytes files[FILES] = {{0}};
    if (checkpoint_load(model, &t, false, e)) return e->status;
    int start = start_token(&t.s.data);
    if (!llama_refuses(&t.s, model, e) && t.tokenizer_hash &&
        !tokenizer_load(tokenizer, &words, e)) {
        if (words.hash != t.tokenizer_hash)
            fail(e, 1,
                 "%s: expected the tokenizer it was trained with, found another in %s. Try: "
                 "--tokenizer FILE",
                 model, tokenizer);
        if (!e->status && !spellings_differ(&words, tokenizer, e)) {
            tokenizer_json(&files[TOKENIZER], &words, start, e);
            tokenizer_config_json(&files[TOKENIZER_CONFIG], &words, start, t.s.model.context, e);
        }
    }
    if (!e->status && !safetensors(&files[WEIGHTS], &t.m, e) &&
        !config_json(&files[CONFIG], &t, e) && !generation_json(&files[GENERATION], &t, e) &&
        !folder_write(folder, files, e))
        printf("tensors=%d parameters=%lld bytes=%zu vocabulary=%d tokenizer=%s out=%s\n",
               t.m.n_tensors, (long long)t.m.count, files[WEIGHTS].size, t.s.model.vocab,
               t.tokenizer_hash ? tokenizer : "none", folder);
    for (int i = 0; i < FILES; i++) bytes_free(&files[i]);
    tokenizer_free(&words);
    trainer_free(&t);
    return e->status;
}

/* -------------------------------------------------------------------------------------------------
 * 6  Command line */

static const char USAGE[] =
    "hf: a model of sink as a folder that Hugging Face's transformers loads.\n\n"
    "  hf export MODEL FOLDER [--tokenizer FILE]\n"
    "      a llama: config.json, model.safetensors, tokenizer.json and what goes with them\n\n"
    "The tokenizer is the one that MODEL was trained with [tokenizer.bin].\n"
    "Exit status: 0 done, 1 a file or the model, 2 wrong usage.\n";

static int run(int argc, char **argv, Error *e) {
    const char *tokenizer = "tokenizer.bin", *words[3] = {"", "", ""};
    int n = 0;
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "--help") || !strcmp(argv[i], "-h")) {
            fputs(USAGE, stdout);
            return 0;
        }
        if (!strcmp(argv[i], "--tokenizer")) {
            if (++i == argc)
                return fail(e, 2, "--tokenizer: expected a file. Try: --tokenizer tokenizer.bin");
            tokenizer = argv[i];
        } else if (!strncmp(argv[i], "--", 2) || n == 3)
            return fail(e, 2, "%.60s: a word too many. Try: hf --help", argv[i]);
        else words[n++] = argv[i];
    }
    if (n != 3 || strcmp(words[0], "export"))
        return fail(e, 2, "expected export, a model file and a folder. Try: hf export "
                          "out/model.ckpt out/llama");
    return export_folder(words[1], words[2], tokenizer, e);
}

int main(int argc, char **argv) {
    Error e = {0};
    run(argc, argv, &e);
    if (!e.status && (fflush(stdout) || ferror(stdout)))
        fail(&e, 1, "the output cannot be written. Try: free some space");
    if (e.status) fprintf(stderr, "hf: %s\n", e.text);
    return e.status;
}
