/* hf.c - published models for sink, and models of sink for Hugging Face's transformers library.
 *
 *     cc -O3 data/models/hf.c -o hf -lm
 *     ./hf gpt2 --out out/gpt2.model [--link]           a downloaded folder, or llama2.c's file
 *     ./hf export out/model.ckpt out/llama              [--tokenizer FILE, the one it learnt with]
 *     >>> transformers.AutoModelForCausalLM.from_pretrained("out/llama")       then, in Python
 *
 * SPDX-License-Identifier: MIT
 *
 * It has all of sink's verbs: ./hf eval, generate, dump and check work on published models too.
 *
 * Import. A folder of the families gpt2, gpt_neox, opt, llama, mistral, jamba and of those that
 * families.c adds becomes a model file (2). Gemma's gains and gpt-oss's 4 bits are rewritten there
 * (families.c); all other numbers are as they were published, copied or linked to. JSON, headers,
 * names and shapes are checked before they are believed, every tensor is accounted for, every
 * number must be finite, and a key or a value that sink does not know is refused by its name. The
 * folder's tokenizer becomes MODEL.tok (14), which is looked for beside the model.
 *
 * Export. A checkpoint is written as a folder of the llama family: rotary positions, RMSNorm before
 * each half of a block, a gated feed-forward (silu, gelu or relu), softmax, and, where asked for,
 * fewer key heads, wider heads, biases, tied embeddings, stretched angles. Variants of the paper
 * that it has no words for are refused by the flag's name.
 *
 * Contents   1 Half floats   2 Model files   3 The Mamba mixer   4 Experts   5 What Model.published
 *            leads to   6 What llama can express   7 config.json   8 model.safetensors
 *            9 tokenizer.json   10 The folder   11 JSON   12 safetensors, read   13 Families
 *            14 Tokenizers at work   15 Tokenizers, read (both: words.c)   16 Import
 *            17 Multiple choice   18 The statements on a model   19 Command line
 *
 * data/check/golden/hf_check.py holds the logits, the greedy text and the token ids of transformers
 * against sink's; data/check/test_hf.c runs this program and reads its files back. */
#define SINK_NO_MAIN
/* What the flags of this program fill. */
#define MORE_SETTINGS \
  struct HfOwn { \
    int link, questions, batch;   /* batch: of pace */ \
    char tokenizer[PATH_ROOM], choices[PATH_ROOM]; \
  } own;
#define FROM_FILES OWN              /* groups of flags */
#define LINKED (OWN << 1)
#define PACE (OWN << 2)
#define OWN_OPTIONS \
  SWITCH("link", LINKED, own.link, \
         "MODEL points into the published files, without a copy"), \
  NAME("tokenizer", FROM_FILES, own.tokenizer, "", \
       "not the folder's; of export: not the model's"), \
  NAME("choices", EVAL, own.choices, "", \
       "multiple choice: acc, acc_norm (Figure 10); hf choices"), \
  WHOLE("questions", EVAL, own.questions, "0", 1, 1e9, \
        "of these; default: all"), \
  WHOLE("batch", PACE, own.batch, "8", 1, 1e6, "sequences"),
#include "models.h"
#include "../paper/options.h"
#include "../later/later.h"
struct Trainer;
static bool parts_open(const char *path, double room, struct Trainer *t, struct Error *e);
#include "../../sink.c"
#include "../later/later.c"
#include "layers.c"
#include "../text/teller.c"
#include "../text/vocabulary.c"
#include "../text/shards.c"
#include "../text/first.c"
#include "../paper/pages.c"
#include "keys.h"
#include "unicode.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

typedef struct HfOwn HfOwn;

/* -------------------------------------------------------------------------------------------------
 * 1  Half floats
 *
 * BF16 is the upper half of a float. F16 has a sign, 5 bits of exponent and 10 of fraction:
 *
 *   exponent e = 1 .. 30    (1 + f / 1024) 2^(e - 15)      e + 112 and f, moved to a float's places
 *   e = 0                   f 2^-24: (1 + f / 1024) 2^-14 - 2^-14, which is exact
 *   e = 31                  infinity, NaN: e becomes 255, and f, a NaN's signs of origin, stays
 *
 * So every F16 and BF16 has its own float (test widen__every_half). Numbers are taken byte by byte,
 * the lower first, whatever the machine's order; compilers turn these loops into vector code. */
enum { DTYPE_F32, DTYPE_F16, DTYPE_BF16, DTYPES };

static size_t dtype_width(int dtype) { return dtype == DTYPE_F32 ? 4 : 2; }

WIDE(widen_f16, (idx n, real *restrict to, const unsigned char *restrict from), (n, to, from))
{
  const float least = 0x1p-14f;                            /* the least normal F16 */
  const uint32_t one = bits_of(least);
  for (idx i = 0; i < n; i++) {
    uint32_t h = from[2 * i] | (uint32_t)from[2 * i + 1] << 8, rest = (h & 0x7FFF) << 13;
    uint32_t normal = rest + (112u << 23), small = bits_of(float_of(rest + one) - least);
    uint32_t bits = rest < 1u << 23 ? small : rest >= 31u << 23 ? normal + (112u << 23) : normal;
    to[i] = (real)float_of(bits | (h & 0x8000) << 16);
  }
}

WIDE(widen_bf16, (idx n, real *restrict to, const unsigned char *restrict from), (n, to, from))
{
  for (idx i = 0; i < n; i++)
    to[i] = (real)float_of((uint32_t)from[2 * i] << 16 | (uint32_t)from[2 * i + 1] << 24);
}

WIDE(widen_f32, (idx n, real *restrict to, const unsigned char *restrict from), (n, to, from))
{
  for (idx i = 0; i < n; i++)
    to[i] = (real)float_of(from[4 * i] | (uint32_t)from[4 * i + 1] << 8
                           | (uint32_t)from[4 * i + 2] << 16 | (uint32_t)from[4 * i + 3] << 24);
}

/* to [n] = the numbers of a type DTYPE_*: exact, infinities and NaN as well. */
static void widen(int dtype, idx n, real *to, const unsigned char *from) {
  if (dtype == DTYPE_F16) widen_f16(n, to, from);
  else if (dtype == DTYPE_BF16) widen_bf16(n, to, from);
  else widen_f32(n, to, from);
}

/* -------------------------------------------------------------------------------------------------
 * 2  Model files: published weights as they are, read matrix by matrix           section 3, [T8]
 *
 * The models that section 3 measures have up to 52 billion parameters. Their numbers stay as they
 * were published, in 2 or 4 bytes each, in one file, which this chapter writes, or in the files
 * that were downloaded, to which this one then only points. Little-endian, in this order:
 *
 *   8   "SINKMOD1"          8  where the head begins          48  zeros
 *   ..  tensors in the order of the table of tensors, which is that of a forward; each begins at a
 *       multiple of 64
 *   the head, which ends the file:
 *   4   version, 1          4  links f          4  tensors n          8  tokenizer's hash (0: none)
 *   8   length of the text  .. the text: lines "flag value", every flag of the model and of data,
 *   f times, a file that holds tensors:
 *       8  its size         8  bytes of its header         8  hash64 of these
 *       4  length of the path      .. the path
 *   n times:
 *       4  length of the name      .. the name
 *       1  DTYPE_*   1  rank   1  IN_OUT or OUT_IN   1  zero      8 8  shape, in the table's order
 *       4  file, 0 this one, else the link     8 8 8  at, run, stride     8  checksum (0: unknown)
 *   8   hash64 of the head so far
 *
 * `at`, `run` and `stride` let a link point into a matrix that was published as a part of a larger
 * one: q, k and v of GPT-2 stand side by side in every row, those of GPT-NeoX head by head. A link
 * is known again by its size and by the hash of its header, which says where its tensors are.
 *
 * STREAMING. An evaluation brings all its sequences through a block before the next one, so each
 * weight is read once and then multiplies thousands of rows. In memory are the activations of one
 * block, the slab in hand, and what is not multiplied: gains, biases, positions. Of the embedding
 * only the rows of the tokens are read, and W_cls only when a loss is asked for.
 */
enum {
  MODEL_VERSION = 1, MODEL_START = 64, MODEL_HEAD = 36, LINKS_MAX = 1000,
  HEAD_MAX = 1 << 27,          /* bytes of a head, or of a link's header: safetensors' 10^8 fit */
  SLAB_SIZE = 1 << 22,         /* numbers of a slab, but for lines so long that .. */
  SLAB_LINES = 256             /* .. so many, of which it has a multiple, are more */
};
#define MODEL_MAGIC "SINKMOD1"

/* How a tensor lies in a file: row-major, or its transpose, as most published matrices do. */
enum { IN_OUT, OUT_IN };

/* Where the bytes of a tensor are: runs of `run` bytes, `stride` from the start of one to that of
 * the next, the first at `at`. One run of all of them where they lie together. */
typedef struct Extent { int file; uint64_t at, run, stride; } Extent;

/* The checksum of a tensor's bytes, in the making. */
typedef struct Sums { uint64_t sum, of_sums; } Sums;

/* A published file that a model file is made from: the number of its link, 0 where it is copied. */
typedef struct ModelSource { FILE *f; const char *path; uint64_t size; int link; } ModelSource;

/* What of a matrix W [in,out] is at hand: [n_in,n_out], from row in0 and column out0 on. */
typedef struct Slab { Matrix w; idx in0, n_in, out0, n_out; } Slab;

/* Where a tensor is, and what it is there. */
typedef struct Stored {
  Extent at; uint64_t bytes, hash; int dtype, order;
  struct ModelFile *in;        /* while that is open */
} Stored;
typedef struct ModelLink { uint64_t size, header, hash; char *path; } ModelLink;
typedef struct ModelHead {
  Settings s;                  /* the model's flags; all else by default */
  uint64_t tokenizer;
  Model list;                  /* c resolved, and the tensors in their order */
  Stored *stored;              /* [n_tensors] */
  int links; ModelLink *link;
} ModelHead;

/* A model file in the making. After model_file_begin returned 0, model_file_end must follow; on any
 * failure, and when e already holds an error, nothing is left of it. */
typedef struct ModelWriter {
  ModelHead head;
  Writing w;
  int next;                    /* how many tensors are done */
  uint64_t at, begun, left;    /* bytes written; where it began; what it still lacks */
  Sums sums;
  bool linked;                 /* the tensor in hand stays where it is */
  int sources; ModelSource *source;        /* [LINKS_MAX] */
} ModelWriter;

/* Of a tensor's bytes: sums of its numbers, taken as whole numbers of their width, and of these
 * sums (Fletcher's, in 64 bits). One damaged number changes it, and so do two that change places;
 * it runs at the memory's speed, and may come in pieces of whole numbers. */
static void sums_add(Sums *x, int dtype, const unsigned char *p, size_t n) {
  uint64_t sum = x->sum, of_sums = x->of_sums;
  if (dtype == DTYPE_F32)
    for (size_t i = 0; i < n; i += 4) {
      sum += (uint32_t)(p[i] | p[i + 1] << 8 | p[i + 2] << 16) | (uint32_t)p[i + 3] << 24;
      of_sums += sum;
    }
  else
    for (size_t i = 0; i < n; i += 2) {
      sum += (uint32_t)(p[i] | p[i + 1] << 8);
      of_sums += sum;
    }
  *x = (Sums){sum, of_sums};
}

/* Are n bytes finite numbers? The upper half of a float is a BF16. */
static bool all_finite(int dtype, const unsigned char *p, size_t n) {
  const size_t width = dtype_width(dtype);
  const int most = dtype == DTYPE_F16 ? 0x7C00 : 0x7F80;   /* the exponent of infinity and NaN */
  bool finite = true;
  for (size_t i = width; i <= n; i += width) finite &= ((p[i - 2] | p[i - 1] << 8) & most) != most;
  return finite;
}

/* Never 0, which stands for a checksum that nobody knows. */
static uint64_t sums_end(const Sums *x) {
  uint64_t hash = hash_end(x->sum * 0x9E3779B97F4A7C15u + x->of_sums);
  return hash ? hash : 1;
}

#ifdef _WIN32
static char *full_path(const char *path) { return _fullpath(NULL, path, 0); }
#else
/* From the root on; to be freed. NULL: errno says why. */
static char *full_path(const char *path) {
  char whole[4096] = "";
  if (path[0] != '/' && !getcwd(whole, sizeof whole)) return NULL;
  size_t room = strlen(whole) + strlen(path) + 2;
  char *out = malloc(room);
  if (out) snprintf(out, room, "%s%s%s", whole, whole[0] ? "/" : "", path);
  return out;
}
#endif

/* Files above 2 GB: to a place from the start; the size, which leaves it at its end. */
static bool file_seek(FILE *f, uint64_t at) { return !fseeko(f, (int64_t)at, SEEK_SET); }
static bool file_size(FILE *f, uint64_t *size) {
  int64_t at = fseeko(f, 0, SEEK_END) ? -1 : ftello(f);
  *size = (uint64_t)at;
  return at >= 0;
}

/* Do `bytes` bytes lie in a file of `size` bytes as x says? A run has whole numbers. */
static bool extent_fits(const Extent *x, uint64_t bytes, size_t width, uint64_t size) {
  if (!x->run || x->run % width || bytes % x->run || x->run > size || x->at > size - x->run)
    return false;
  uint64_t more = bytes / x->run - 1;                      /* runs after the first */
  return !more || (x->stride >= x->run && more <= (size - x->run - x->at) / x->stride);
}

/* n bytes from byte `from` of what x says of f. */
static bool extent_take(FILE *f, const Extent *x, uint64_t from, unsigned char *to, size_t n) {
  for (size_t some; n; from += some, to += some, n -= some) {
    uint64_t within = from % x->run, left = x->run - within;
    some = left < n ? (size_t)left : n;
    /* one run: the stride may be anything */
    uint64_t at = x->at + within + (from >= x->run ? from / x->run * x->stride : 0);
    if (!file_seek(f, at) || fread(to, 1, some, f) != some) return false;
  }
  return true;
}

/* hash64 of n bytes from `at` on; false when they are not there. */
static bool bytes_hash(FILE *f, uint64_t at, uint64_t n, uint64_t *hash) {
  unsigned char piece[1 << 12];
  uint64_t h = hash_start(0);
  if (!file_seek(f, at)) return false;
  for (size_t some; n; n -= some) {
    some = n < sizeof piece ? (size_t)n : sizeof piece;
    if (fread(piece, 1, some, f) != some) return false;
    h = hash_add(h, piece, some);
  }
  *hash = hash_end(h);
  return true;
}

/* --- The head, written and read --------------------------------------------------------------- */

static void head_link(Passage *c, ModelLink *l) {
  l->size = pass(c, l->size, 8);
  l->header = pass(c, l->header, 8);
  l->hash = pass(c, l->hash, 8);
  const uint64_t length = pass(c, l->path ? strlen(l->path) : 0, 4);
  if (l->header > HEAD_MAX || l->header > l->size || (!c->out && length > c->left))
    damaged(c->name, c->e);
  if (!c->out && !c->e->status) l->path = grab((idx)length + 1, 1, c->e);
  if (l->path) pass_bytes(c, l->path, (size_t)length);
  if (l->path && strlen(l->path) != length) damaged(c->name, c->e);
}

/* The entry of tensor t, which must be this one, and lie where its file has room for it. */
static void head_entry(Passage *c, const ModelHead *h, Stored *p, const Tensor *t, uint64_t size) {
  Error *e = c->e;
  char name[sizeof t->name];
  strcpy(name, t->name);
  const uint64_t length = pass(c, strlen(name), 4);
  if (length == strlen(name)) pass_bytes(c, name, strlen(name));
  if (length != strlen(name) || strcmp(name, t->name))
    fail(e, 1, "%s: expected %s, found another tensor. Try: the version of sink that wrote it",
         c->name, t->name);
  p->dtype = (int)pass(c, (uint64_t)p->dtype, 1);
  const uint64_t rank = pass(c, (uint64_t)t->rank, 1);
  p->order = (int)pass(c, (uint64_t)p->order, 1);
  const uint64_t none = pass(c, 0, 1), in = pass(c, (uint64_t)t->rows, 8),
                 out = pass(c, (uint64_t)t->cols, 8), file = pass(c, (uint64_t)p->at.file, 4);
  p->at.at = pass(c, p->at.at, 8);
  p->at.run = pass(c, p->at.run, 8);
  p->at.stride = pass(c, p->at.stride, 8);
  p->hash = pass(c, p->hash, 8);
  if (c->out || e->status) return;
  if (rank != (uint64_t)t->rank || in != (uint64_t)t->rows || out != (uint64_t)t->cols)
    fail(e, 1, "%s: expected %s [%d,%d], found [%llu,%llu]. Try: the version of sink that "
         "wrote it", c->name, t->name, t->rows, t->cols, (unsigned long long)in,
         (unsigned long long)out);
  else if (p->dtype >= DTYPES || p->order > OUT_IN || none || file > (uint64_t)h->links
           || (rank == 1 && p->order))
    fail(e, 1, "%s: expected %s in a type and a file that this sink knows, found others. Try: "
         "the version of sink that wrote it", c->name, t->name);
  if (e->status) return;
  p->at.file = (int)file;
  p->bytes = (uint64_t)tensor_count(t) * dtype_width(p->dtype);
  if (!extent_fits(&p->at, p->bytes, dtype_width(p->dtype), file ? h->link[file - 1].size : size))
    fail(e, 1, "%s: expected the %llu bytes of %s, found that its file ends before them. Try: "
         "an older copy", c->name, (unsigned long long)p->bytes, t->name);
}

/* The whole head but its checksum, of a file with `size` bytes of tensors. */
static void head_pass(Passage *c, ModelHead *h, uint64_t size) {
  Error *e = c->e;
  const uint64_t version = pass(c, MODEL_VERSION, 4), links = pass(c, (uint64_t)h->links, 4),
                 count = pass(c, (uint64_t)h->list.n_tensors, 4);
  h->tokenizer = pass(c, h->tokenizer, 8);
  if (version != MODEL_VERSION)
    fail(e, 1, "%s: expected version %d, found %llu. Try: the version of sink that wrote it",
         c->name, MODEL_VERSION, (unsigned long long)version);
  if (!c->out && links > LINKS_MAX) damaged(c->name, e);
  pass_settings(c, &h->s, MODEL | DATA);
  if (!c->out && !e->status && !model_list(&h->list, &h->s.model, e)) {
    if (count != (uint64_t)h->list.n_tensors)
      fail(e, 1, "%s: expected %d tensors, found %llu. Try: the version of sink that wrote "
           "it", c->name, h->list.n_tensors, (unsigned long long)count);
    h->stored = grab(h->list.n_tensors, sizeof *h->stored, e);
    h->link = grab((idx)links, sizeof *h->link, e);
    h->links = (int)links;
  }
  for (int i = 0; i < h->links && !e->status; i++) head_link(c, &h->link[i]);
  for (int i = 0; i < h->list.n_tensors && !e->status; i++)
    head_entry(c, h, &h->stored[i], h->list.all[i], size);
}

static void model_head_free(ModelHead *h) {
  for (int i = 0; i < h->links && h->link; i++) free(h->link[i].path);
  free(h->link); free(h->stored); model_free(&h->list);
  *h = (ModelHead){0};
}

/* p [n]: the head behind `size` bytes of tensors, checksum first. On failure nothing is held. */
static int model_head_read(const unsigned char *p, size_t n, uint64_t size, const char *name,
                           ModelHead *h, Error *e) {
  *h = (ModelHead){0};
  if (n < MODEL_HEAD || hash64(0, p, n - 8) != number_at(p + n - 8, 8)) return damaged(name, e);
  Passage c = {.at = p, .left = n - 8, .name = name, .e = e};
  head_pass(&c, h, size);
  if (!e->status && c.left) damaged(name, e);
  if (e->status) model_head_free(h);
  return e->status;
}

/* --- Writing one ------------------------------------------------------------------------------ */

/* Resolves s->model. 2 for a model that cannot be. */
static int model_file_begin(ModelWriter *w, const char *path, const Settings *s, uint64_t tokenizer,
                            Error *e) {
  static const unsigned char start[MODEL_START] = MODEL_MAGIC;     /* where: model_file_end */
  *w = (ModelWriter){.head = {.s = *s, .tokenizer = tokenizer}, .at = MODEL_START};
  ModelHead *h = &w->head;
  if (config_resolve(&h->s.model, e) || model_list(&h->list, &h->s.model, e)) return e->status;
  h->stored = grab(h->list.n_tensors, sizeof *h->stored, e);
  h->link = grab(LINKS_MAX, sizeof *h->link, e);
  w->source = grab(LINKS_MAX, sizeof *w->source, e);
  if (e->status || writing_begin(&w->w, path, e)) {
    free(w->source); model_head_free(h);
    return e->status;
  }
  writing_add(&w->w, start, MODEL_START);
  return 0;
}

/* Opens a published file with a header of so many bytes. Its number, 1 .., or 0 and an Error. */
static int model_file_source(ModelWriter *w, const char *path, uint64_t header, bool link,
                             Error *e) {
  ModelSource source = {.f = fopen(path, "rb"), .path = path};
  char beside[1032]; uint64_t hash = 0;
  snprintf(beside, sizeof beside, "%s.new", path);
  if (!source.f) fail(e, 1, "%s: %s. Try: check the path", path, strerror(errno));
  else if (!file_size(source.f, &source.size) || header > source.size || header > HEAD_MAX
           || !bytes_hash(source.f, 0, header, &hash))
    fail(e, 1, "%s: expected a header of %llu bytes, found it cut short. Try: download it "
         "again", path, (unsigned long long)header);
  else if (w->sources == LINKS_MAX)
    fail(e, 1, "%s: expected at most %d files of one model. Try: saving it in fewer", path,
         LINKS_MAX);
  else if (link && !file_missing(beside))      /* the model file in the making, which replaces it */
    fail(e, 1, "%s: expected a file beside those that it links to, found one of them. Try: another "
         "--out", w->w.path);
  else if (link) {
    char *whole = full_path(path);
    if (!whole) fail(e, 1, "%s: has no whole path, %s. Try: without --link", path, strerror(errno));
    w->head.link[w->head.links++] = (ModelLink){source.size, header, hash, whole};
    source.link = w->head.links;
  }
  if (!e->status) w->source[w->sources++] = source;
  else if (source.f) fclose(source.f);
  return e->status ? 0 : w->sources;
}

/* Is it this tensor's turn? Sets w->left to its bytes. */
static int model_turn(ModelWriter *w, const char *name, int dtype, int order, Error *e) {
  const ModelHead *h = &w->head;
  const Tensor *t = w->next < h->list.n_tensors ? h->list.all[w->next] : NULL;
  if (w->left)
    return fail(e, 1, "%s: expected %llu more bytes of %s, found the next tensor", w->w.path,
                (unsigned long long)w->left, t->name);
  if (!t || strcmp(t->name, name))
    return fail(e, 1, "%s: expected %s, found %s", w->w.path, t ? t->name : "no tensor", name);
  w->left = (uint64_t)tensor_count(t) * dtype_width(dtype);
  h->stored[w->next] = (Stored){.dtype = dtype, .order = t->rank == 2 ? order : IN_OUT};
  return 0;
}

/* n bytes of their tensor, from byte `from` of what x says of its source. */
static int source_take(const ModelWriter *w, const char *theirs, const Extent *x, uint64_t from,
                       unsigned char *to, size_t n, Error *e) {
  const ModelSource *source = &w->source[x->file - 1];
  if (e->status || extent_take(source->f, x, from, to, n)) return e->status;
  return fail(e, 1, "%s: expected %s, found it cut short. Try: download it again", source->path,
              theirs);
}

/* The next tensor, from memory: its bytes come in any number of pieces. */
static int model_file_tensor(ModelWriter *w, const char *name, int dtype, int order, Error *e) {
  static const unsigned char zeros[MODEL_START];
  if (e->status || model_turn(w, name, dtype, order, e)) return e->status;
  uint64_t pad = w->linked ? 0 : (MODEL_START - w->at % MODEL_START) % MODEL_START;
  writing_add(&w->w, zeros, (size_t)pad);
  w->begun = w->at += pad;
  w->sums = (Sums){0};
  return 0;
}

static int model_file_bytes(ModelWriter *w, const void *at, size_t n, Error *e) {
  if (e->status) return e->status;
  Stored *p = &w->head.stored[w->next];
  if (n > w->left || n % dtype_width(p->dtype))
    return fail(e, 1, "%s: expected %llu bytes more, found %zu", w->w.path,
                (unsigned long long)w->left, n);
  if (!w->linked) writing_add(&w->w, at, n);
  if (!w->linked) w->at += n;
  sums_add(&w->sums, p->dtype, at, n);
  w->left -= n;
  if (w->left || !n) return 0;
  p->at = (Extent){0, w->begun, w->at - w->begun, w->at - w->begun};
  p->hash = sums_end(&w->sums);
  w->next++;
  return 0;
}

/* The next tensor, `theirs` in its source: copied, or linked to and read for its checksum. */
static int model_file_copy(ModelWriter *w, const char *theirs, int dtype, int order,
                           const Extent *from, Error *e) {
  enum { COPIED = 1 << 16 };
  const ModelSource *source = &w->source[from->file - 1];
  const int at = w->next;
  const char *ours = at < w->head.list.n_tensors ? w->head.list.all[at]->name : theirs;
  w->linked = source->link;
  if (model_file_tensor(w, ours, dtype, order, e)) return e->status;
  const uint64_t bytes = w->left;
  if (!extent_fits(from, bytes, dtype_width(dtype), source->size))
    return fail(e, 1, "%s: expected %llu bytes for %s, found them outside its file", source->path,
                (unsigned long long)bytes, theirs);
  unsigned char *piece = grab(COPIED, 1, e);
  for (uint64_t done = 0; done < bytes && !e->status;) {
    size_t some = bytes - done < COPIED ? (size_t)(bytes - done) : COPIED;
    if (!source_take(w, theirs, from, done, piece, some, e) && !all_finite(dtype, piece, some))
      fail(e, 1, "%s: expected finite numbers in %s, found NaN or infinity. Try: a copy of the "
           "model that is whole", source->path, theirs);
    model_file_bytes(w, piece, some, e);
    if (interrupted) fail(e, 1, "stopped by Ctrl-C: nothing is kept. Try: the same command");
    done += some;
  }
  free(piece);
  if (w->linked && !e->status)
    w->head.stored[at].at = (Extent){source->link, from->at, from->run, from->stride};
  w->linked = false;
  return e->status;
}

static int model_file_end(ModelWriter *w, Error *e) {
  const Model *list = &w->head.list;
  unsigned char start[8];
  if (!e->status && (w->left || w->next < list->n_tensors))
    fail(e, 1, "%s: expected %s, found the end", w->w.path, list->all[w->next]->name);
  Passage c = {.out = true, .w = w->w, .hash = hash_start(0), .name = w->w.path, .e = e};
  if (!e->status) {
    head_pass(&c, &w->head, w->at);
    pass(&c, hash_end(c.hash), 8);
    if (fflush(c.w.f) || !file_seek(c.w.f, 8))
      fail(e, 1, "%s: cannot be written, %s. Try: free some space", w->w.path, strerror(errno));
    number_put(start, w->at, 8);
    writing_add(&c.w, start, 8);
  }
  writing_end(&c.w, e);
  for (int i = 0; i < w->sources; i++) fclose(w->source[i].f);
  free(w->source); model_head_free(&w->head);
  return e->status;
}

/* --- Reading its tensors ---------------------------------------------------------------------- */

/* An open model file, and what stands between it and a forward. */
struct ModelFile {
  char *name;                  /* the model file's */
  ModelHead head;              /* but its list, which is the model's */
  FILE **file;                 /* [1 + links] */
  unsigned char *raw;          /* a slab as it is in the file, */
  real *slab;                  /* and as it is multiplied */
  Sums sums;                   /* of the tensor in hand */
  Error fault;                 /* why a read failed, once one has */
  bool quiet;                  /* no progress */
  double start, shown, waited, took;   /* seconds: began, last shown; waited for files, in all */
  uint64_t read, expected;     /* bytes since `start`, and how many there will be */
};

static void model_file_close(struct ModelFile *f) {
  if (!f) return;
  for (int i = 0; i <= f->head.links && f->file; i++) if (f->file[i]) fclose(f->file[i]);
  free(f->file); free(f->raw); free(f->slab); free(f->name);
  model_head_free(&f->head); free(f);
}

/* Is it read anew by every forward? All matrices of the blocks that linear_forward multiplies, and
 * the largest two: wte, if a row of it is a token's, and wcls, if a slab of it is some columns. */
static bool tensor_streams(const Tensor *t, const Stored *p) {
  const char *last = strrchr(t->name, '.');
  if (!t->matrix || t->rank != 2) return false;
  if (t->layer >= 0) return strcmp(last, ".phi1") && strcmp(last, ".phi2");
  return (!strcmp(t->name, "wte") && p->order == IN_OUT)
      || (!strcmp(t->name, "wcls") && p->order == OUT_IN);
}

/* How many lines of so many numbers make a slab, of at most `lines`. */
static idx slab_lines(idx lines, idx line) {
  idx some = SLAB_SIZE / line / SLAB_LINES * SLAB_LINES;
  if (some < SLAB_LINES) some = SLAB_LINES;
  return some < lines ? some : lines;
}

/* "model: 41 %, 212 s left; 147 s so far, 3.0 of them for the disk", on a terminal, in place. */
static void stream_show(struct ModelFile *f, bool end) {
  double now = seconds(), part = f->expected ? (double)f->read / (double)f->expected : 0;
  if (f->quiet || !isatty(fileno(stderr)) || (!end && now - f->shown < 0.2)) return;
  f->shown = now;
  if (end) fprintf(stderr, "\r\033[K");
  else if (part > 0)
    fprintf(stderr, "\r%s: %.0f %%, %.0f s left; %.0f s so far, %.1f of them for the disk "
            "\033[K", f->name, 100 * part, (now - f->start) * (1 - part) / part, now - f->start,
            f->waited);
  fflush(stderr);
}

/* The file that holds a tensor's bytes. */
static const char *stored_file(const struct ModelFile *f, const Stored *p) {
  return p->at.file ? f->head.link[p->at.file - 1].path : f->name;
}

/* n bytes of tensor t from byte `from` on; false, and a fault, when they are not to be had. */
static bool stored_take(const Tensor *t, uint64_t from, size_t n) {
  const Stored *p = t->stored;
  struct ModelFile *f = p->in;
  double before = seconds();
  bool good = extent_take(f->file[p->at.file], &p->at, from, f->raw, n);
  f->waited += seconds() - before;
  f->read += n;
  if (!good)
    fail(&f->fault, 1, "%s: expected all of %s, found it cut short. Try: an older copy",
         stored_file(f, p), t->name);
  return good;
}

/* The next slab of tensor t [in,out], or of the transpose of t [out,in]; *s is zeroed before the
 * first. False after the last, and from the first fault on. */
static bool stored_slab(const Tensor *t, bool transposed, Slab *s) {
  const Stored *p = t->stored;
  struct ModelFile *f = p->in;
  /* W [in,out]; its lines, one after the other in the file, are columns of W or rows */
  bool columns = (p->order == OUT_IN) != transposed;
  idx in = transposed ? t->cols : t->rows, out = transposed ? t->rows : t->cols;
  idx lines = columns ? out : in, line = columns ? in : out;
  idx done = columns ? s->out0 + s->n_out : s->in0 + s->n_in;
  if (f->fault.status) return false;
  if (done == 0) f->sums = (Sums){0};
  if (done == lines) {
    if (p->hash && p->hash != sums_end(&f->sums))
      fail(&f->fault, 1, "%s: expected the checksum of %s, found another: it is damaged. "
           "Try: an older copy", stored_file(f, p), t->name);
    return false;
  }
  idx some = slab_lines(lines, line);
  if (some > lines - done) some = lines - done;
  size_t width = dtype_width(p->dtype), n = (size_t)(some * line) * width;
  if (!stored_take(t, (uint64_t)(done * line) * width, n)) return false;
  if (p->hash) sums_add(&f->sums, p->dtype, f->raw, n);
  PARALLEL
  for (idx i = 0; i < some; i++)
    widen(p->dtype, line, f->slab + i * line, f->raw + (size_t)(i * line) * width);
  *s = columns ? (Slab){transpose_of(f->slab, in), 0, in, done, some}
         : (Slab){rows_of(f->slab, out), done, some, 0, out};
  stream_show(f, false);
  return true;
}

/* to = row `row` of t; zeros after a fault. */
static void stored_row(const Tensor *t, idx row, real *to) {
  const Stored *p = t->stored;
  struct ModelFile *f = p->in;
  idx line = t->cols;
  size_t n = (size_t)line * dtype_width(p->dtype);
  if (f->fault.status || !stored_take(t, (uint64_t)row * n, n)) zero(to, line);
  else widen(p->dtype, line, to, f->raw);
}

/* Reads tensor t to its place among the parameters, [in,out] there. */
static void stored_whole(const Tensor *t) {
  const Stored *p = t->stored;
  idx out = t->cols;
  for (Slab s = {0}; stored_slab(t, false, &s);) {
    real *to = t->w + s.in0 * out + s.out0;
    if (p->order == IN_OUT) copy(to, s.w.at, s.n_in * out);
    else transpose(to, out, s.w.at, s.n_in, s.n_out, s.n_in);
  }
}

/* Files that the model links to: opened, and known again. */
static int links_open(struct ModelFile *f, Error *e) {
  for (int i = 0; i < f->head.links && !e->status; i++) {
    const ModelLink *l = &f->head.link[i];
    uint64_t size = 0, hash = 0;
    f->file[i + 1] = fopen(l->path, "rb");
    if (!f->file[i + 1])
      fail(e, 1, "%s: expected the file it links to, %s, found %s. Try: hf FOLDER again, "
           "without --link", f->name, l->path, strerror(errno));
    else if (!file_size(f->file[i + 1], &size) || size != l->size
             || !bytes_hash(f->file[i + 1], 0, l->header, &hash) || hash != l->hash)
      fail(e, 1, "%s: expected %s as it was, %llu bytes, found another file there. Try: hf "
           "FOLDER again", f->name, l->path, (unsigned long long)l->size);
  }
  return e->status;
}

static void stored_product(const Tensor *W, bool transposed, real *y, const real *x, idx rows);
static bool stored_loss(const Model *m, Acts *a, const int *targets, int B, int T, double *mean);
static int stored_fault(const Model *m, Error *e);
static void parts_begin(const Model *m, double passes, bool loss, bool quiet);
static void parts_end(const Model *m, const Error *e);

/* Memory for what stays and for a slab, and the tensors that stay. */
static int model_fill(Model *m, bool whole, Error *e) {
  struct ModelFile *f = m->file;
  idx kept = 0, room = 1, at = 0;
  for (int i = 0; i < m->n_tensors; i++) {
    Tensor *t = m->all[i];
    Stored *p = &f->head.stored[i];
    idx in = t->rows, out = t->cols;
    idx slab = p->order == OUT_IN ? in * slab_lines(out, in) : out * slab_lines(in, out);
    if (slab > room) room = slab;
    p->in = f;
    t->stored = p;
    t->product = !whole && tensor_streams(t, p) ? stored_product : NULL;
    if (!t->product) kept += tensor_count(t);
  }
  m->params = grab(kept, sizeof(real), e);
  f->raw = grab(room, 4, e);
  f->slab = grab(room, sizeof(real), e);
  m->seams.fault = stored_fault;
  if (e->status) return e->status;
  for (int i = 0; i < m->n_tensors; i++) {
    Tensor *t = m->all[i];
    if (t->product) continue;
    t->w = m->params + at;
    at += tensor_count(t);
    stored_whole(t);
  }
  if (!whole) {
    m->seams.embed = models_embed;
    m->seams.loss = stored_loss;
    m->seams.begin = parts_begin;
    m->seams.end = parts_end;
  }
  return model_fault(m, e);
}

/* The head of the open file `of`. On failure nothing is held. */
static int model_head_open(FILE *of, const char *path, ModelHead *h, Error *e) {
  unsigned char start[16]; Bytes head = {0}; uint64_t size = 0, at = 0;
  if (!file_size(of, &size) || !file_seek(of, 0) || fread(start, 1, 16, of) != 16
      || (at = number_at(start + 8, 8)) < MODEL_START || at > size || size - at > HEAD_MAX)
    damaged(path, e);
  else {
    head.size = (size_t)(size - at);
    head.at = grab((idx)head.size, 1, e);
    if (head.at && (!file_seek(of, at) || fread(head.at, 1, head.size, of) != head.size))
      damaged(path, e);
  }
  if (!e->status) model_head_read(head.at, head.size, at, path, h, e);
  bytes_free(&head);
  return e->status;
}

/* Behind the names of files those that model files among them are links to. */
static void links_list(Bytes *names) {
  const size_t size = names->size;
  for (size_t at = 0; at < size; at += strlen((char *)names->at + at) + 1) {
    ModelHead h = {0}; Error none = {0}; char magic[9] = "";
    const char *name = (const char *)names->at + at;
    FILE *f = fopen(name, "rb");
    const bool ours = f && fread(magic, 1, 8, f) == 8 && !strcmp(magic, MODEL_MAGIC);
    if (ours) model_head_open(f, name, &h, &none);
    for (int i = 0; i < h.links; i++)
      bytes_add(names, h.link[i].path, strlen(h.link[i].path) + 1, &none);
    if (f) fclose(f);
    model_head_free(&h);
  }
}

/* The head of the open file `of`, which f takes over, and then its model. Of a model of at most
 * `room` bytes all is in memory afterwards, and the file closed. Nothing is held on failure. */
static int model_file_open(FILE *of, const char *path, double room, Trainer *t, Error *e) {
  struct ModelFile *f = grab(1, sizeof *f, e);
  if (f) f->name = grab((idx)strlen(path) + 1, 1, e);
  if (e->status) { free(f); fclose(of); return e->status; }
  strcpy(f->name, path);
  model_head_open(of, path, &f->head, e);
  f->file = e->status ? NULL : grab(1 + f->head.links, sizeof *f->file, e);
  if (!f->file) { fclose(of); model_file_close(f); return e->status; }
  f->file[0] = of;
  t->s = f->head.s;
  t->s.train.steps = 0;        /* not known */
  char words[PATH_ROOM + 8];   /* its tokenizer lies beside it */
  snprintf(words, sizeof words, "%s.tok", path);
  if (strlen(words) < PATH_ROOM && !file_missing(words)) strcpy(t->s.data.tokenizer, words);
  t->tokenizer_hash = f->head.tokenizer;
  model_move(&t->m, &f->head.list);
  t->m.file = f;
  const bool whole = (double)t->m.count * sizeof(real) <= room;
  if (!links_open(f, e)) model_fill(&t->m, whole, e);
  if (e->status) trainer_free(t);
  else if (whole) {
    model_file_close(f);
    t->m.file = NULL;
    t->m.seams.fault = NULL;
    for (int i = 0; i < t->m.n_tensors; i++) t->m.all[i]->stored = NULL;
  }
  return e->status;
}

/* Is it a model file? Then it is opened. A published folder is none yet, and is told so. */
static bool parts_open(const char *path, double room, Trainer *t, Error *e) {
  char magic[8], config[PATH_ROOM + 16];
  FILE *f = strcmp(path, "-") ? fopen(path, "rb") : NULL, *published;
  const bool ours = f && fread(magic, 1, 8, f) == 8 && !memcmp(magic, MODEL_MAGIC, 8);
  *t = (Trainer){0};
  if (ours) model_file_open(f, path, room, t, e);
  else if (f) fclose(f);
  snprintf(config, sizeof config, "%s/config.json", path);
  if (ours || !(published = fopen(config, "rb"))) return ours;
  fclose(published);
  return fail(e, 1, "%s: a published folder. Try: hf %s --out FILE, and FILE here", path, path);
}

/* A checkpoint, or a model that stays in its file. */
static int checkpoint_open(const char *path, Trainer *t, Error *e) {
  return parts_open(path, 0, t, e) ? e->status : checkpoint_load(path, false, t, e);
}

/* How much a forward reads. */
static void parts_begin(const Model *m, double passes, bool loss, bool quiet) {
  struct ModelFile *f = m->file;
  if (!f) return;
  double bytes = 0;
  for (int i = 0; i < m->n_tensors; i++) {
    const Tensor *t = m->all[i];
    bool last = !strcmp(t->name, m->c.tied ? "wte" : "wcls");
    if (t->product && (t->layer >= 0 || (loss && last))) bytes += (double)f->head.stored[i].bytes;
  }
  f->start = seconds();
  f->waited = 0;
  f->read = 0;
  f->expected = (uint64_t)(passes * bytes);
  f->quiet = quiet;
}

static void parts_end(const Model *m, const Error *e) {
  struct ModelFile *f = m->file;
  if (!f) return;
  stream_show(f, true);
  f->took = seconds() - f->start;
  if (!f->quiet && !e->status)
    fprintf(stderr, "read %.2f GB: %.1f s waiting for the disk, %.1f s computing\n",
            (double)f->read * 1e-9, f->waited, f->took - f->waited);
  f->quiet = true;
}

/* -------------------------------------------------------------------------------------------------
 * 3  The Mamba mixer, forward only                  [MAMBA] Gu and Dao 2023; Jamba, Lieber 2024
 *
 * Blocks that the paper's own models lack: this mixer in place of attention, and experts (4) in
 * place of one ffn. Of every 8 blocks of Jamba one attends, and of every 2 one has experts. Block
 * l, from 0:
 *
 *     l        0   1   2   3   4   5   6   7   8          --attention-period 8 --attention-offset 4
 *     mixer    M   M   M   M   A   M   M   M   M          --experts 16
 *     ffn      1   X   1   X   1   X   1   X   1          --expert-period 2 --expert-offset 1
 *
 * Without a period every block is of the one kind. The sink metrics look at attention, so there is
 * always a block that attends: of Jamba's 32 they are blocks 4, 12, 20 and 28.
 *
 * Of the models in Table 8 Jamba alone is not all attention: 28 of its 32 blocks mix their rows by
 * a recurrence, without a map of weights. Its sinks are those of the other 4 (Sink_1 88.48 %,
 * Appendix B.3). With u_t [C] the normed row t and I = 2 C channels:
 *
 *   (x, z) = u W_in                                    W_in [C,2I]: x the first I columns, z a gate
 *   a_t    = silu(b + sum_{j=1..J} w_j * x_(t-J+j))    J = 4 taps; the last, w_J, meets x_t itself
 *   (r, b, c) = a W_x                                  W_x [I,R+2M]; each of the three is normed
 *   dt     = softplus(r W_dt + b_dt)                   W_dt [R,I]: how long the row lasts, above 0
 *   S_t    = e^(dt A) * S_(t-1) + dt a_t b_t^T         S [M,I], S_0 = 0;  A = -e^A_log [M,I]
 *   y_t    = (c_t S_t + skip * a_t) * silu(z_t)        skip [I] passes the row itself by
 *   MAMBA(u)_t = y_t W_out                             W_out [I,C]
 *
 * * is element by element, channel by channel. b and c [M] are shared by all channels; element
 * [m,i] of S has its own rate A_mi < 0 and takes dt_i b_m a_i in. The three norms of r, b and c
 * (RMSNorm with gains and no bias, eps as elsewhere) are Jamba's; plain Mamba has none.
 *
 * It is S' = A S + b a, held at one a for a time dt, to first order in dt. Unrolled, with M = 1 and
 * one channel, S_t = sum_(s<=t) e^(A (dt_(s+1) + .. + dt_t)) dt_s b_s a_s: row s has the weight
 * c_t b_s dt_s e^(..), as in the linear row of Table 15 (identity similarity, Z = 1: <c_t, b_s> as
 * <q, k>) with a decay that the rows between set. Nothing ties the sum of these weights, which is
 * where the paper finds no sink. There are no positions, windows, prefixes or k*.
 *
 * Numerics. softplus(v) = max(v, 0) + log1p(e^-|v|), in double, does not overflow. dt > 0 and A < 0
 * keep e^(dt A) within 0..1, so S does not grow by itself.
 *
 * A task owns a sequence and CHUNK channels and goes down the rows. S takes [M,I] a sequence. There
 * is no backward: Seams.forward_only says so. */
/* What the mixer makes on its way, one set for all blocks. */
typedef struct MambaActs {
  real *xz;                    /* [B,N,2I] both halves of u W_in */
  real *a;                     /* [B,N,I] what the taps make of x, activated */
  real *p;                     /* [B,N,R+2M] a W_x: r, b, c before their norms, */
  real *r, *bc;                /* [B,N,R] [B,N,2M] and after */
  real *dt, *y;                /* [B,N,I] the step; the mixer's output before W_out */
  real *rate;                  /* [M,I] -e^A_log */
  real *state;                 /* [B,M,I] S; after a forward that of the last row */
} MambaActs;

/* dt_i = softplus(v) of n numbers, in place. */
static void softplus(idx n, real *v) {
  for (idx j = 0; j < n; j++) {
    double x = (double)v[j];
    v[j] = (real)((x > 0 ? x : 0) + log1p(exp(-fabs(x))));
  }
}

/* One row t of n <= CHUNK channels: S = e^(dt A) S + dt a b^T, y = c S + skip a. state, rate [M,I]
 * at the stride I; y, dt, a, skip [n]; b, c [M]. */
WIDE(scan_row,
     (idx n, idx M, idx I, real *restrict state, real *restrict y, const real *restrict rate,
      const real *restrict dt, const real *restrict a, const real *restrict skip,
      const real *restrict b, const real *restrict c), (n, M, I, state, y, rate, dt, a, skip, b, c))
{
  real fade[CHUNK];
  for (idx j = 0; j < n; j++) y[j] = skip[j] * a[j];
  for (idx m = 0; m < M; m++) {
    real *S = state + m * I;
    const real *A = rate + m * I;
    for (idx j = 0; j < n; j++) fade[j] = dt[j] * A[j];
    vec_exp(n, fade, fade, 0);
    for (idx j = 0; j < n; j++) S[j] = fade[j] * S[j] + dt[j] * a[j] * b[m];
    for (idx j = 0; j < n; j++) y[j] += S[j] * c[m];
  }
}

/* a [rows,I] = silu(b + sum_j w_j x_(t-J+j)), x in xz [rows,2I], 0 before t = 1. taps [J,I]. */
static void taps_forward(real *a, const real *xz, const real *taps, const real *bias, idx rows,
                         idx N, idx I, idx J) {
  PARALLEL
  for (idx n = 0; n < rows; n++)
    for (idx from = 0; from < I; from += CHUNK) {
      idx some = I - from < CHUNK ? I - from : CHUNK, t = n % N;
      real sum[CHUNK];
      copy(sum, bias + from, some);
      /* tap j, from 0, meets row t - (J-1) + j */
      for (idx j = J - 1 > t ? J - 1 - t : 0; j < J; j++) {
        const real *x = xz + (n - (J - 1) + j) * 2 * I + from, *w = taps + j * I + from;
        for (idx i = 0; i < some; i++) sum[i] += w[i] * x[i];
      }
      act_swish(some, sum, a + n * I + from, NULL);
    }
}

/* y [rows,I] from what lies in p, for rows of B sequences of N: the recurrence and the gate. */
static void scan_forward(const MambaActs *p, const Layer *w, idx B, idx N, idx I, idx M) {
  idx blocks = (I + CHUNK - 1) / CHUNK;
  PARALLEL
  for (idx j = 0; j < M * I; j++) p->rate[j] = -real_exp(w->a_log.w[j]);    /* A = -e^A_log */
  PARALLEL
  for (idx task = 0; task < B * blocks; task++) {
    idx b = task / blocks, from = task % blocks * CHUNK;
    idx some = I - from < CHUNK ? I - from : CHUNK;
    real *state = p->state + b * M * I + from, gate[CHUNK];
    for (idx m = 0; m < M; m++) zero(state + m * I, some);               /* S_0 = 0 */
    for (idx n = b * N; n < (b + 1) * N; n++) {
      const real *bc = p->bc + n * 2 * M;
      real *y = p->y + n * I + from;
      scan_row(some, M, I, state, y, p->rate + from, p->dt + n * I + from,
               p->a + n * I + from, w->skip.w + from, bc, bc + M);
      act_swish(some, p->xz + (2 * n + 1) * I + from, gate, NULL);     /* silu(z) */
      vec_multiply(some, y, gate);
    }
  }
}

/* The set lies end to end in Acts.published. */
static MambaActs mamba_acts(const Model *m, const Acts *a, int B, idx N) {
  idx I = m->c.mamba_inner, M = m->c.mamba_state, R = m->c.mamba_rank, rows = B * N;
  idx sizes[] = {rows * 2 * I, rows * I, rows * (R + 2 * M), rows * R, rows * 2 * M,
                 rows * I,     rows * I, M * I,              B * M * I};
  MambaActs p;
  real **fields[] = {&p.xz, &p.a, &p.p, &p.r, &p.bc, &p.dt, &p.y, &p.rate, &p.state};
  real *at = a->published;
  for (int i = 0; i < 9; at += sizes[i++]) *fields[i] = at;
  return p;
}

/* y [B,N,C] = MAMBA(u), overwritten; u [B,N,C]. */
static void mamba_forward(const Model *m, Acts *a, int l, real *y, const real *u, int B, idx N) {
  const Config *c = &m->c;
  const Layer *w = &m->layer[l];
  const MambaActs acts = mamba_acts(m, a, B, N), *p = &acts;
  idx I = c->mamba_inner, M = c->mamba_state, R = c->mamba_rank;
  idx rows = B * N, P = R + 2 * M;
  linear_forward(p->xz, u, &w->m_in, rows);         /* (x, z) = u W_in */
  taps_forward(p->a, p->xz, w->conv.w, w->conv_b.w, rows, N, I, c->mamba_conv);
  linear_forward(p->p, p->a, &w->m_x, rows);       /* (r, b, c) = a W_x, normed */
  PARALLEL
  for (idx n = 0; n < rows; n++) {
    const real *from = p->p + n * P;
    real *bc = p->bc + n * 2 * M, stat[2];
    norm_row(R, c->norm_eps, p->r + n * R, stat, from, w->r_norm.g.w, NULL);
    norm_row(M, c->norm_eps, bc, stat, from + R, w->b_norm.g.w, NULL);
    norm_row(M, c->norm_eps, bc + M, stat, from + R + M, w->c_norm.g.w, NULL);
  }
  linear_forward(p->dt, p->r, &w->m_dt, rows); /* dt = softplus(r W_dt + b) */
  PARALLEL
  for (idx n = 0; n < rows; n++) softplus(I, p->dt + n * I);
  scan_forward(p, w, B, N, I, M);
  linear_forward(y, p->y, &w->m_out, rows);
}

/* -------------------------------------------------------------------------------------------------
 * 4  Experts, forward only                                [MOE] Shazeer et al. 2017; Jamba
 *
 *   p     = softmax(x W_r)                  W_r [C,X]: one number for each of X ffns
 *   MOE(x) = sum over the `top` largest p_e of  p_e FFN_e(x)
 *
 * FFN_e is 3.10 with matrices of its own. The kept p_e are those of the softmax over all X: their
 * sum is below 1 and says how sure the router is (Jamba; Mixtral and gpt-oss divide by the sum,
 * which is a softmax over the kept). With X = 1, p = 1 and MOE is the plain ffn, bit by bit. Of
 * equal p the lower e is taken. Jamba: X = 16, top 2, in every other block.
 *
 * Rows are gathered by expert: each ffn runs over its own rows, and its matrices are read once for
 * all of them, and not at all where no row takes it. A row's sum runs over rising e, whatever rows
 * are beside it. There is no backward: Seams.forward_only says so. */
/* gate [X <= CHUNK]: from scores to p_e of the `top` largest, over their sum if asked for, else 0.
 * One NaN makes all NaN. */
static void router_row(idx X, idx top, bool shared, real *gate) {
  real p[CHUNK], most = vec_max(X, gate);
  bool taken[CHUNK] = {false};
  vec_exp(X, p, gate, most);
  vec_scale(X, p, 1 / vec_sum(X, p));
  zero(gate, X);
  for (idx k = 0; k < top; k++) {
    idx best = -1;
    for (idx e = 0; e < X; e++)
      if (!taken[e] && (best < 0 || p[e] > p[best])) best = e;
    taken[best] = true;
    gate[best] = p[best];
  }
  if (shared) vec_scale(X, gate, 1 / vec_sum(X, gate));
}

static void cut_ffn_forward(const Config *c, const Layer *w, LayerActs *la, real *y, const real *x,
                            idx rows);           /* families.c */

/* y [rows,C] = MOE(x), overwritten; x [rows,C]. a->published becomes gate [rows,X], p_e where row n
 * takes expert e, else 0; then an expert's rows, and what it makes of them. f1, f2, fa: scratch. */
static void experts_forward(const Model *m, Acts *a, int l, real *y, const real *x, int B, idx N) {
  const Config *c = &m->c;
  const Layer *w = &m->layer[l];
  idx C = c->dim, X = c->experts, rows = B * N;
  real *gates = a->published, *in = gates + rows * X, *made = in + rows * C;
  const bool cut = if_cut(c);
  linear_forward(gates, x, &w->router, rows);
  PARALLEL
  for (idx n = 0; n < rows; n++) router_row(X, c->expert_top, cut, gates + n * X);
  zero(y, rows * C);
  for (idx e = 0; e < X; e++) {
    idx R = 0;                                           /* the rows of expert e, in order */
    for (idx n = 0; n < rows; n++)
      if (gates[n * X + e] != 0) copy(in + R++ * C, x + n * C, C);
    if (!R) continue;
    (cut ? cut_ffn_forward : ffn_forward)(c, &w->expert[e], &a->layer[l], made, in, R);
    R = 0;
    for (idx n = 0; n < rows; n++) {
      real gate = gates[n * X + e], *y_n = y + n * C;
      if (gate == 0) continue;                         /* y += p_e FFN_e(x) */
      const real *out = made + R++ * C;
      for (idx ch = 0; ch < C; ch++) y_n[ch] += gate * out[ch];
    }
  }
}

/* -------------------------------------------------------------------------------------------------
 * 5  Their tensors, and those that stay in their file: what Model.published leads to
 */

/* Scratch: of the Mamba mixer or of the experts, which are not at work at the same time. */
static idx parts_room(const Config *c, int B, idx N) {
  idx rows = B * N, I = c->mamba_inner, M = c->mamba_state, R = c->mamba_rank;
  idx mamba = rows * (5 * I + 2 * R + 4 * M) + (1 + B) * M * I;
  idx experts = c->experts ? rows * (c->experts + 2 * c->dim) : 0;
  if (config_attending(c) == c->layers) mamba = 0;
  return mamba > experts ? mamba : experts;
}

/* Slabs of 256 rows, or a multiple, leave the order of a sum as it is (the multiply's blocks of k),
 * so a model has the same bits from its file as in memory. No rows, no reading. */
static void stored_product(const Tensor *W, bool transposed, real *y, const real *x, idx rows) {
  idx in = transposed ? W->cols : W->rows, out = transposed ? W->rows : W->cols;
  if (!rows) return;
  for (Slab s = {0}; stored_slab(W, transposed, &s);)
    matmul(y + s.out0, out, (Matrix){x + s.in0, in, 1}, s.w, rows, s.n_out, s.n_in, s.in0 > 0);
}

/* Columns v0 .. v0+n-1 of a row of logits, y [n], of which `target` may be one: adds them to the
 * row's sums at[0], the largest logit, and at[1] = sum_v e^(y_v - that), and *loss = -y_target. */
static void cross_entropy_part(idx v0, idx n, real *y, idx target, double at[2], double *loss) {
  real most = vec_max(n, y);
  if (target >= v0 && target < v0 + n) *loss = -(double)y[target - v0];    /* y is overwritten */
  if ((double)most > at[0]) {
    if (at[1] != 0) at[1] *= exp(at[0] - (double)most);  /* NaN stays NaN */
    at[0] = (double)most;
  }
  vec_exp(n, y, y, (real)at[0]);
  at[1] += (double)vec_sum(n, y);
}

/* model_loss by slabs of W_cls of all E rows: the whole batch meets one before the next is read. */
static bool stored_loss(const Model *m, Acts *a, const int *targets, int B, int T, double *mean) {
  const Config *c = &m->c;
  const Tensor *cls = c->tied ? &m->wte : &m->wcls;
  if (!cls->product) return false;
  idx C = c->dim, E = c->embed_dim, N = config_rows(c, T);
  idx from = c->prefix > 1 ? c->prefix - 1 : 0, per = T > from ? T - from : 0, count = B * per;
  double (*sums)[2] = grab((idx)B * T, sizeof *sums, &m->file->fault), total = 0;
  *mean = NAN;
  if (!sums) return true;
  for (idx i = 0; i < B * T; i++) sums[i][0] = -INFINITY;
  for (Slab w = {0}; stored_slab(cls, c->tied, &w);)
    for (idx s0 = 0; s0 < count; s0 += SLICE) {
      idx R = count - s0 < SLICE ? count - s0 : SLICE, V = w.n_out;
      for (idx r = 0; r < R; r++) {
        idx b = (s0 + r) / per, t = from + (s0 + r) % per;
        copy(a->slice + r * C, a->nf + (b * N + (N - T + t)) * C, C);
      }
      if (E != C) linear_forward(a->outp, a->slice, &m->wout, R);
      const real *in = E != C ? a->outp : a->slice;
      matmul(a->logits, V, rows_of(in, E), w.w, R, V, E, false);
      cap_logits(c, R * V, a->logits);
      PARALLEL
      for (idx r = 0; r < R; r++) {
        idx at = (s0 + r) / per * T + from + (s0 + r) % per;
        cross_entropy_part(w.out0, V, a->logits + r * V, targets[at], sums[at], &a->loss_row[at]);
      }
    }
  for (idx b = 0; b < B; b++)
    for (idx t = from; t < T; t++) {
      double *loss = &a->loss_row[b * T + t], *sum = sums[b * T + t];
      *loss = log(sum[1]) + sum[0] + *loss;
      total += *loss;
    }
  free(sums);
  *mean = count ? total / (double)count : 0;
  return true;
}

static int stored_fault(const Model *m, Error *e) {
  const Error *fault = m->file ? &m->file->fault : NULL;
  return fault && fault->status ? fail(e, fault->status, "%s", fault->text) : 0;
}

static void parts_close(Model *m) {
  model_file_close(m->file);
  for (int l = 0; m->layer && l < m->c.layers; l++) free(m->layer[l].expert);
}

static void models_room(const Model *m, Acts *a, LayerActs *la, bool keeps) {
  const Config *c = &m->c;
  idx narrow = c->embed_dim != c->dim ? c->embed_dim : 0, slice = SLICE * narrow;
  idx local = c->rope_local > 0 && c->pos == POS_ROTARY ? a->N * (c->rotary_dims / 2) : 0;
  bool caps = keeps && c->logit_cap > 0;
  if (la) return;
  const Room room[] = {
    {&a->embed, (idx)a->B * a->T * narrow}, {&a->published, parts_room(c, a->B, a->N)},
    {&a->outp, slice}, {&a->doutp, keeps ? slice : 0}, {&a->local_cosine, local},
    {&a->local_sine, local}, {&a->capped, caps ? (idx)SLICE * c->vocab : 0}};
  arena_take(a, room, sizeof room / sizeof *room);
}

static int models_setup(Model *m, Error *e) {
  const Config *c = &m->c;
  Seams *s = &m->seams;
  s->tensor_room = 6 * c->experts;
  m->embed = c->embed_dim;
  for (int l = 0; l < c->layers; l++) {
    Layer *w = &m->layer[l];
    w->window = config_window(c, l);
    w->root = score_scale(c, l);
    if (!config_attends(c, l)) w->mix = mamba_forward;
    if (!config_experts(c, l)) continue;
    s->forward_only = "--experts";
    w->feed = experts_forward;
    w->expert = grab(c->experts, sizeof(Layer), e);
    for (int x = 0; w->expert && x < c->experts; x++) w->expert[x].feed = feed_forward;
  }
  if (if_long(c)) s->forward_only = "--rope-scaling longrope";
  if (config_attending(c) < c->layers) {
    s->forward_only = "--attention-period, the Mamba mixer";
  }
  if (c->embed_dim != c->dim || c->embed_scale > 0) {
    s->embed = models_embed;
    s->embed_backward = models_embed_backward;
  }
  if (c->embed_dim != c->dim || c->logit_cap > 0) {
    s->logits = models_logits;
    s->logits_backward = models_logits_backward;
  }
  if (c->rope_scaling != ROPE_NONE || c->rope_local > 0) s->tables = models_tables;
  s->close = parts_close;
  return e->status;
}

/* -------------------------------------------------------------------------------------------------
 * 6  What llama can express */

/* Flags of a model whose every value has a counterpart there, with the exceptions that
 * llama_refuses names. All others must be as they are by default, so that an axis that sink gains
 * is refused until it is written here. */
static const char LLAMA_FLAGS[] =
  " layers heads kv-heads dim head-dim ffn vocab context rope-base rope-pairing rope-scaling "
  "rope-factor rope-low rope-high rope-original norm-eps act linear-bias bias-in tied ";

/* 0 when the resolved s->model is a llama; else the error names the first flag that is not. */
static int llama_refuses(const Settings *s, const char *name, Error *e) {
  const Config *c = &s->model;
  char text[PATH_ROOM], plain[PATH_ROOM]; Settings base;
  settings_default(&base);
  for (const Option *o = OPTIONS; o->flag; o++)
    if (o->groups & MODEL && has_word(LLAMA_FLAGS, o->flag)) {
      option_text(o, s, text, sizeof text);
      option_set(o, &base, text, false, e);
    }
  if (e->status || config_resolve(&base.model, e)) return e->status;
  for (const Option *o = OPTIONS; o->flag; o++) {
    if (!(o->groups & MODEL) || has_word(LLAMA_FLAGS, o->flag)) continue;
    option_text(o, s, text, sizeof text);
    option_text(o, &base, plain, sizeof plain);
    if (strcmp(text, plain))
      return fail(e, 1, "%s: expected what llama can express, found --%s%s%s. Try: a model "
                        "trained without --%s", name, o->flag, o->kind == 'b' ? "" : " ",
                  o->kind == 'b' ? "" : text, o->flag);
  }
  option_text(option_find("act", MODEL), s, text, sizeof text);
  if (!config_gated(c))
    return fail(e, 1, "%s: expected a gated feed-forward as llama's, found --act %s. Try: a "
                      "model trained with --act swiglu, geglu or reglu", name, text);
  if (c->linear_bias && c->bias_in == BIAS_QKV)
    return fail(e, 1, "%s: expected biases as llama has them, found --bias-in qkv. Try: a "
                      "model trained with --bias-in attention", name);
  /* transformers checks it though head_dim makes it needless */
  if (c->dim % c->heads)
    return fail(e, 1, "%s: expected --heads that divide --dim, which transformers asks for, "
                      "found %d and %d. Try: a model trained so", name, c->heads, c->dim);
  if (c->rope_scaling >= ROPE_YARN)
    return fail(e, 1, "%s: expected angles that export writes, found --rope-scaling %s. Try: a "
                      "model trained without it", name, if_long(c) ? "longrope" : "yarn");
  if (c->rope_scaling == ROPE_LLAMA3 && !(c->rope_low > 0))
    return fail(e, 1, "%s: expected --rope-low above 0, by which transformers divides, found "
                      "%g. Try: a model trained with --rope-low 1", name, c->rope_low);
  return 0;
}

/* The token that `generate` puts before a prompt: what transformers calls bos. */
static int start_token(const Source *s) {
  return s->fix_token == 1 && !s->first_tokens[0] ? TOKEN_FIX : s->bos ? TOKEN_BOS : TOKEN_END;
}

/* -------------------------------------------------------------------------------------------------
 * 7  config.json */

/* A key, with what stands before it, and a flag's number as one that is no integer: transformers
 * refuses 1 where it wants 1.0. It reads back to the same bits. */
static void print_real(Bytes *out, const Settings *s, const char *key, const char *flag, Error *e) {
  char text[PATH_ROOM];
  option_text(option_find(flag, MODEL), s, text, sizeof text);
  bytes_print(out, e, "%s: %.60s%s", key, text, strpbrk(text, ".e") ? "" : ".0");
}

/* "rope_theta" and "rope_scaling", which every version of transformers reads. */
static void print_rope(Bytes *out, const Settings *s, Error *e) {
  const Config *c = &s->model;
  bool llama3 = c->rope_scaling == ROPE_LLAMA3;
  print_real(out, s, "  \"rope_theta\"", "rope-base", e);
  bytes_print(out, e, ",\n  \"rope_scaling\": ");
  if (c->rope_scaling == ROPE_NONE) { bytes_print(out, e, "null,\n"); return; }
  bytes_print(out, e, "{\"rope_type\": \"%s\"", llama3 ? "llama3" : "linear");
  print_real(out, s, ", \"factor\"", "rope-factor", e);
  if (llama3) {
    print_real(out, s, ", \"low_freq_factor\"", "rope-low", e);
    print_real(out, s, ", \"high_freq_factor\"", "rope-high", e);
    bytes_print(out, e, ", \"original_max_position_embeddings\": %d", c->rope_original);
  }
  bytes_print(out, e, "},\n");
}

/* The ids that begin and end a text; null for a model that knows no tokenizer. */
static void print_ids(Bytes *out, const Tokenizer *k, int start, Error *e) {
  char bos[16] = "null", end[16] = "null";
  if (k->published) start = k->bos;
  if (k->vocab && start >= 0) snprintf(bos, sizeof bos, "%d", start);
  if (k->vocab) snprintf(end, sizeof end, "%d", k->end);
  bytes_print(out, e, "  \"bos_token_id\": %s,\n  \"eos_token_id\": %s,\n", bos, end);
}

static int config_json(Bytes *out, const Trainer *t, const Tokenizer *k, Error *e) {
  const Config *c = &t->s.model;
  bool attention = c->linear_bias && c->bias_in != BIAS_FFN;
  bool ffn = c->linear_bias && c->bias_in != BIAS_ATTENTION;
  _Static_assert(ACT_ROWS == 8, "a new activation: its hidden_act, where it is gated");
  /* transformers' gelu is x Phi(x), the one of --act geglu */
  const char *act = c->act == ACT_SWIGLU ? "silu" : c->act == ACT_GEGLU ? "gelu"
                    : c->act == ACT_REGLU ? "relu" : "gelu_pytorch_tanh";
  bytes_print(out, e, "{\n  \"architectures\": [\"LlamaForCausalLM\"],\n  \"model_type\": "
              "\"llama\",\n  \"torch_dtype\": \"float32\",\n  \"vocab_size\": %d,\n  "
              "\"hidden_size\": %d,\n  \"intermediate_size\": %d,\n  \"num_hidden_layers\": "
              "%d,\n  \"num_attention_heads\": %d,\n  \"num_key_value_heads\": %d,\n  "
              "\"head_dim\": %d,\n  \"hidden_act\": \"%s\",\n  \"max_position_embeddings\": "
              "%d,\n", c->vocab, c->dim, c->ffn, c->layers, c->heads, c->kv_heads, c->head_dim,
              act, c->context);
  print_real(out, &t->s, "  \"rms_norm_eps\"", "norm-eps", e);
  bytes_print(out, e, ",\n");
  print_rope(out, &t->s, e);
  bytes_print(out, e, "  \"attention_bias\": %s,\n  \"mlp_bias\": %s,\n"
                      "  \"tie_word_embeddings\": %s,\n", attention ? "true" : "false",
              ffn ? "true" : "false", c->tied ? "true" : "false");
  print_ids(out, k, start_token(&t->s.data), e);
  /* a padding id here would take that row of the embedding out of further training */
  return bytes_print(out, e, "  \"pad_token_id\": null\n}\n");
}

static int generation_json(Bytes *out, const Trainer *t, const Tokenizer *k, Error *e) {
  bytes_print(out, e, "{\n");
  print_ids(out, k, start_token(&t->s.data), e);
  if (k->vocab) bytes_print(out, e, "  \"pad_token_id\": %d,\n", k->end);
  return bytes_print(out, e, "  \"do_sample\": false\n}\n");
}

/* -------------------------------------------------------------------------------------------------
 * 8  model.safetensors
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

/* How a tensor of ours lies there. */
enum {
  AS_IS = 0,                   /* number by number; so do GPT-2's matrices, which are [in,out] */
  TURNED = 1,                  /* a matrix [out,in], as everyone else's */
  ROTATED = 2,                 /* besides: its columns are heads that a rotation turns */
  THIRDS = 4,                  /* q, k or v, a third of each row of [in,3 out] (GPT-2) */
  HEADS = 8,                   /* q, k or v, a third of each head's rows of [3 out,in] (NeoX) */
  LATER = 16,                  /* after two more rows (OPT's positions) */
  TAPS = 32,                   /* [out,1,in] (a convolution) */
  BARE = 64,                   /* its name is whole: no .weight behind it */
  PLUS_ONE = 128,              /* a gain less 1 (Gemma) */
  FUSED = 256,                 /* rows behind those of others (Phi-3: fused_rows) */
  STACKED = 512,               /* one of all experts', BARE (gpt-oss: stacked_copy) */
  IN_CONFIG = 1024             /* numbers of config.json (LongRoPE: long_copy) */
};

/* A parameter of ours and the name there of it and of its bias, behind which stands .weight or
 * .bias. The bias of w1 is b1 here, that of norm1 is norm1.b. * is the number of a block, or of an
 * expert; @ stands for l*. here and for what a table's first row says there. A table's last row is
 * the unembedding (plan). */
typedef struct Counterpart { const char *ours, *theirs; int how; } Counterpart;

static const Counterpart LLAMA[] = {
  {"@", "model.layers.*.", AS_IS}, {"wte", "model.embed_tokens", AS_IS},
  {"@norm1", "@input_layernorm", AS_IS}, {"@wq", "@self_attn.q_proj", TURNED | ROTATED},
  {"@wk", "@self_attn.k_proj", TURNED | ROTATED}, {"@wv", "@self_attn.v_proj", TURNED},
  {"@wo", "@self_attn.o_proj", TURNED}, {"@norm2", "@post_attention_layernorm", AS_IS},
  {"@w1", "@mlp.gate_proj", TURNED}, {"@w2", "@mlp.up_proj", TURNED},
  {"@w3", "@mlp.down_proj", TURNED}, {"normf", "model.norm", AS_IS}, {"wcls", "lm_head", TURNED},
  {NULL, NULL, AS_IS}};

/* Does name fit a pattern, in which each * stands for a number? number [2] gets them. */
static bool fits(const char *pattern, const char *name, int number[2]) {
  char whole[64]; int n = 0;
  if (pattern && *pattern == '@') {
    snprintf(whole, sizeof whole, "l*.%s", pattern + 1);
    pattern = whole;
  }
  for (; pattern && *pattern; pattern++) {
    if (*pattern != '*') {
      if (*name++ != *pattern) return false;
      continue;
    }
    bool zero = *name == '0';
    int from = 0, digits = 0;
    for (; *name >= '0' && *name <= '9'; name++, digits++)
      if (digits < 7) from = 10 * from + (*name - '0');
    if (!digits || (zero && digits > 1)) return false;
    number[n++] = from;
  }
  return pattern && !*name;
}

/* The pattern with its numbers put in. */
static void filled(const char *pattern, const int number[2], char *out, size_t room) {
  size_t at = 0; int n = 0;
  for (; *pattern && at + 12 < room; pattern++)
    if (*pattern != '*') out[at++] = *pattern;
    else at += (size_t)snprintf(out + at, room - at, "%d", number[n++]);
  out[at] = 0;
}

/* Name and place there of a tensor of ours; an error where the family has none. */
static int counterpart(const Counterpart *p, const Tensor *x, char theirs[160], int *how,
                       Error *e) {
  const char *blocks = p++->theirs;
  char whole[160]; int number[2] = {0, 0}; bool bias = false;
  for (; p->ours && !fits(p->ours, x->name, number); p++) {
    const bool matrix = !strncmp(p->ours, "@w", 2);
    snprintf(whole, sizeof whole, "%s%s", matrix ? "@b" : p->ours, matrix ? p->ours + 2 : ".b");
    bias = fits(whole, x->name, number);
    if (bias) break;
  }
  if (!p->ours)
    return fail(e, 1, "%s: expected a tensor that this family has, found another. Try: "
                      "another model", x->name);
  const bool block = *p->theirs == '@';
  snprintf(whole, sizeof whole, "%s%s", block ? blocks : "", p->theirs + block);
  filled(whole, number, theirs, 160 - sizeof ".weight");
  if (!(p->how & BARE)) strcat(theirs, bias ? ".bias" : ".weight");
  *how = bias ? p->how & (ROTATED | THIRDS | HEADS) : p->how;
  return 0;
}

/* Where output o of W_Q or W_K, as transformers counts, stands among the columns here. */
static idx head_column(const Config *c, idx o) {
  idx D = c->head_dim, d = o % D, half = D / 2;
  if (c->rope_pairing == PAIR_HALF) return o;
  return o - d + (d < half ? 2 * d : 2 * (d - half) + 1);
}

static int numbers_write(Bytes *out, const Model *m, const Tensor *x, int how, Error *e) {
  const real *from = x->w;
  bool turned = how & TURNED;
  /* rows of the written tensor, their length, and the steps between its elements here */
  idx rows = turned ? x->cols : x->rows, length = tensor_count(x) / rows;
  idx row = turned ? 1 : length, step = turned ? rows : 1;
  for (idx o = 0; o < rows; o++) {
    const real *at = from + (how & ROTATED ? head_column(&m->c, o) : o) * row;
    for (idx i = 0; i < length; i++)
      if (bytes_number(out, bits_of((float)at[i * step]), 4, e)) return e->status;
  }
  return 0;
}

static int safetensors(Bytes *out, const Model *m, Error *e) {
  Bytes header = {0}; char theirs[160]; int how; idx at = 0;
  bytes_print(&header, e, "{\"__metadata__\": {\"format\": \"pt\"}");
  for (int k = 0; k < m->n_tensors && !e->status; k++) {
    const Tensor *x = m->all[k];
    if (counterpart(LLAMA, x, theirs, &how, e)) break;
    bool turned = how & TURNED;
    bytes_print(&header, e, ",\n\"%s\": {\"dtype\": \"F32\", \"shape\": [", theirs);
    if (x->rank == 1) bytes_print(&header, e, "%d], ", x->rows);
    else bytes_print(&header, e, "%d, %d], ", turned ? x->cols : x->rows,
                     turned ? x->rows : x->cols);
    bytes_print(&header, e, "\"data_offsets\": [%lld, %lld]}", (long long)at,
                (long long)(at + 4 * tensor_count(x)));
    at += 4 * tensor_count(x);
  }
  bytes_print(&header, e, "}");
  while (header.size % 8 && !e->status) bytes_print(&header, e, " ");
  /* room for all of it at once: it may be most of the memory */
  *out = (Bytes){.room = 8 + header.size + (size_t)at};
  if (!e->status) out->at = grab((idx)out->room, 1, e);
  if (!e->status && !bytes_number(out, header.size, 8, e))
    bytes_add(out, header.at, header.size, e);
  for (int k = 0; k < m->n_tensors && !e->status; k++)
    if (!counterpart(LLAMA, m->all[k], theirs, &how, e))
      numbers_write(out, m, m->all[k], how, e);
  bytes_free(&header);
  return e->status;
}

/* -------------------------------------------------------------------------------------------------
 * 9  tokenizer.json: a byte-level BPE
 *
 * There a token is spelt with a letter for each byte: a printable byte is its own letter in
 * Latin-1, and the other 68, in rising order, are U+0100, U+0101, .. (the alphabet of GPT-2). The
 * text is spelt so first and cut into pieces after that; the cuts of chapter 8 are then an
 * expression of bytes, and exact even where a piece ends inside a character.
 *
 * One thing differs: a text that spells <|endoftext|>, <|bos|> or <|fix|> gives the id there, and
 * bytes in sink. And as `generate` does, a text gets the token that begins a sequence in
 * front, unless it is encoded with add_special_tokens=False. */

/* The letter of a byte. */
static int letter_of(int b) {
  if (b <= 0x20) return 0x100 + b;                         /* the first 33 of the 68 */
  if (b < 0x7F) return b;
  if (b <= 0xA0) return 0x100 + 33 + (b - 0x7F);           /* 34 more */
  return b == 0xAD ? 0x100 + 67 : b;
}

/* A token's letters in UTF-8, as inside a JSON string. None is a control character. */
static void print_token(Bytes *out, const Tokenizer *t, int id, Error *e) {
  size_t length;
  const unsigned char *bytes = tokenizer_token(t, id, &length);
  for (size_t i = 0; i < length; i++) {
    int u = letter_of(bytes[i]);
    if (u >= 0x80) bytes_print(out, e, "%c%c", 0xC0 | u >> 6, 0x80 | (u & 0x3F));
    else bytes_print(out, e, "%s%c", u == '"' || u == '\\' ? "\\" : "", u);
  }
}

/* The name of a token that is none of bytes: printable, and its own letters. */
static const char *token_name(const Tokenizer *t, int id, char name[32]) {
  size_t length;
  const unsigned char *bytes = tokenizer_token(t, id, &length);
  snprintf(name, 32, "%.*s", (int)length, (const char *)bytes);
  return name;
}

typedef struct Spelling { const unsigned char *at; size_t length; int id; } Spelling;

static int by_spelling(const void *a, const void *b) {
  const Spelling *x = a, *y = b;
  size_t shorter = x->length < y->length ? x->length : y->length;
  int order = memcmp(x->at, y->at, shorter);
  return order ? order : (x->length > y->length) - (x->length < y->length);
}

/* Sorts n spellings; the first that the next one repeats, NULL when all differ. */
static const Spelling *spelt_twice(Spelling *s, size_t n) {
  if (n) qsort(s, n, sizeof *s, by_spelling);
  for (size_t i = 1; i < n; i++) if (!by_spelling(&s[i - 1], &s[i])) return &s[i - 1];
  return NULL;
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
  const Spelling *two = spelt_twice(s, (size_t)t->vocab);
  if (two)
    fail(e, 1, "%s: expected tokens spelt differently, which tokenizer.json asks for, found %d "
         "and %d alike. Try: ./hf tokenize train makes none such", path, two[0].id, two[1].id);
  free(s);
  return e->status;
}

/* The classes of chapter 8.2 among the letters, and its pieces of at most PIECE_MAX bytes. White
 * space leaves its last byte to the piece after it when that byte is a space. */
_Static_assert(PIECE_MAX == 128, "SPLIT counts to 128");
#define IN_WORD   "A-Za-z\u00a1-\u00ac\u00ae-\u00ff\u0122-\u0143"
#define IN_WHITE  "\u0109-\u010d\u0120"
#define BLANK     "\u0120"
#define SPLIT                                                                                      \
    BLANK "[" IN_WORD "]{1,127}|[" IN_WORD "]{1,128}|" BLANK "?[0-9]{1,3}|"                        \
    BLANK "[^" IN_WORD "0-9" IN_WHITE "]{1,127}|[^" IN_WORD "0-9" IN_WHITE "]{1,128}|"             \
    "[" IN_WHITE "]{1,127}(?=" BLANK "[^" IN_WHITE "])|[" IN_WHITE "]{1,128}"

static int tokenizer_json(Bytes *out, const Tokenizer *t, int start, Error *e) {
  char name[32];
  bytes_print(out, e, "{\"version\": \"1.0\", \"truncation\": null, \"padding\": null,\n"
                      "\"added_tokens\": [");
  for (int id = 0; id < TOKEN_BYTE; id++)
    bytes_print(out, e, "%s\n{\"id\": %d, \"content\": \"%s\", \"single_word\": false, "
                        "\"lstrip\": false, \"rstrip\": false, \"normalized\": false, "
                        "\"special\": true}", id ? "," : "", id, token_name(t, id, name));
  bytes_print(out, e, "],\n\"normalizer\": null,\n\"pre_tokenizer\": {\"type\": \"Sequence\", "
              "\"pretokenizers\": [\n{\"type\": \"ByteLevel\", \"add_prefix_space\": false, "
              "\"trim_offsets\": true, \"use_regex\": false},\n{\"type\": \"Split\", "
              "\"pattern\": {\"Regex\": \"%s\"}, \"behavior\": \"Isolated\", \"invert\": "
              "false}]},\n", SPLIT);
  token_name(t, start, name);
  bytes_print(out, e, "\"post_processor\": {\"type\": \"TemplateProcessing\",\n\"single\": "
              "[{\"SpecialToken\": {\"id\": \"%s\", \"type_id\": 0}}, {\"Sequence\": {\"id\": "
              "\"A\", \"type_id\": 0}}],\n\"pair\": [{\"SpecialToken\": {\"id\": \"%s\", "
              "\"type_id\": 0}}, {\"Sequence\": {\"id\": \"A\", \"type_id\": 0}}, {\"Sequence\": "
              "{\"id\": \"B\", \"type_id\": 1}}],\n\"special_tokens\": {\"%s\": {\"id\": \"%s\", "
              "\"ids\": [%d], \"tokens\": [\"%s\"]}}},\n", name, name, name, name, start, name);
  bytes_print(out, e, "\"decoder\": {\"type\": \"ByteLevel\", \"add_prefix_space\": false, "
              "\"trim_offsets\": true, \"use_regex\": false},\n\"model\": {\"type\": \"BPE\", "
              "\"dropout\": null, \"unk_token\": null, \"continuing_subword_prefix\": null, "
              "\"end_of_word_suffix\": null, \"fuse_unk\": false, \"byte_fallback\": "
              "false,\n\"vocab\": {");
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
  return bytes_print(out, e, "]}}\n");
}

static int tokenizer_config_json(Bytes *out, const Tokenizer *t, int start, int context, Error *e) {
  char bos[32], end[32];
  token_name(t, TOKEN_END, end);
  return bytes_print(out, e, "{\n  \"tokenizer_class\": \"PreTrainedTokenizerFast\",\n  "
                     "\"bos_token\": \"%s\",\n  \"eos_token\": \"%s\",\n  \"pad_token\": "
                     "\"%s\",\n  \"clean_up_tokenization_spaces\": false,\n  "
                     "\"model_input_names\": [\"input_ids\", \"attention_mask\"],\n  "
                     "\"model_max_length\": %d\n}\n", token_name(t, start, bos), end, end, context);
}

/* -------------------------------------------------------------------------------------------------
 * 10  The folder */

enum { WEIGHTS, CONFIG, GENERATION, TOKENIZER, TOKENIZER_CONFIG, FILES };
static const char *const FILE_NAMES[FILES] = {
  "model.safetensors", "config.json", "generation_config.json", "tokenizer.json",
  "tokenizer_config.json"};

/* A path as printf would print it. */
static int path_make(char path[1024], Error *e, const char *format, ...) {
  va_list args;
  va_start(args, format);
  int n = vsnprintf(path, 1024, format, args);
  va_end(args);
  if (n < 1024) return 0;
  return fail(e, 2, "%.60s..: this path is too long. Try: a shorter one", path);
}

/* Writes the files that are not empty, all of them beside their names before the first is renamed:
 * a disk that is full, or a program that is ended, leaves the folder's older files as they were. */
static int folder_write(const Settings *s, const char *folder, const Bytes *files, Error *e) {
  char path[FILES][1024], beside[FILES][1024]; const char *written[FILES];
  for (int i = 0; i < FILES; i++) {
    if (path_make(path[i], e, "%s/%s", folder, FILE_NAMES[i]) ||
        path_make(beside[i], e, "%s.part", path[i])) return e->status;
    written[i] = files[i].size ? path[i] : "";
  }
  if (outputs_ready(s, written, FILES, e)) return e->status;
  for (int i = 0; i < FILES && !e->status; i++)
    if (files[i].size) file_write(beside[i], files[i].at, files[i].size, e);
  for (int i = 0; i < FILES && !e->status; i++)
    if (files[i].size && !take_name(beside[i], path[i]))
      fail(e, 1, "%s: cannot take its name, %s. Try: another folder", beside[i], strerror(errno));
  for (int i = 0; i < FILES && e->status; i++) remove(beside[i]);
  return e->status;
}

static int tokenizer_from(const char *from, int most, Bytes *out, Tokenizer *words, Error *e);

/* Are the model's own words, published ones or none, what the folder has? transformers takes what
 * lies there, so that another's are an error. */
static bool words_there(const Tokenizer *words, int most, const char *folder, Error *e) {
  Tokenizer there; Bytes file = {0}; Error own = {0};
  const bool read = !tokenizer_from(folder, most, &file, &there, &own), none = read && !file.size;
  const bool same = none ? !words->vocab : read && there.hash == words->hash;
  if (!none && !same) fail(e, 1, "%s: expected no tokenizer but the model's own, found another. "
                                 "Try: another folder", folder);
  tokenizer_free(&there); bytes_free(&file);
  return same;
}

/* The checkpoint `model` as a folder. The tokenizer it was trained with, if any, is --tokenizer, or
 * the one it names, or tokenizer.bin. A published one's files are not made anew: they are to be
 * copied. Prints a line on stdout. */
static int export_folder(const Settings *s, const char *model, const char *folder, Error *e) {
  Trainer t; Tokenizer words = {0}; Bytes files[FILES] = {{0}}; bool there = true;
  const char *tokenizer = s->own.tokenizer; char beside[PATH_ROOM];
  if (checkpoint_load(model, false, &t, e)) return e->status;
  if (!*tokenizer)
    tokenizer = file_missing(t.s.data.tokenizer) ? "tokenizer.bin" : t.s.data.tokenizer;
  if (t.tokenizer_hash) tokenizer = located(beside, tokenizer, &s->data, e);
  int start = start_token(&t.s.data);
  for (idx i = 0; i < t.m.count; i++)
    if (!isfinite(t.m.params[i])) fail(e, 1, "%s: its weights are no numbers. Try: another", model);
  if (!e->status && !llama_refuses(&t.s, model, e) && t.tokenizer_hash &&
      !tokenizer_load(tokenizer, &s->data, &words, e)) {
    if (words.hash != t.tokenizer_hash)
      fail(e, 1, "%s: expected the tokenizer it was trained with, found another in %s. Try: "
                 "--tokenizer FILE", model, tokenizer);
    if (!e->status && !words.published && !spellings_differ(&words, tokenizer, e)) {
      tokenizer_json(&files[TOKENIZER], &words, start, e);
      tokenizer_config_json(&files[TOKENIZER_CONFIG], &words, start, t.s.model.context, e);
    }
  }
  if (!e->status && !files[TOKENIZER].size)
    there = words_there(&words, t.s.model.vocab, folder, e);
  if (!e->status && !safetensors(&files[WEIGHTS], &t.m, e) &&
      !config_json(&files[CONFIG], &t, &words, e) &&
      !generation_json(&files[GENERATION], &t, &words, e) && !folder_write(s, folder, files, e))
    printf("tensors=%d parameters=%lld bytes=%zu vocabulary=%d tokenizer=%s out=%s\n",
           t.m.n_tensors, (long long)t.m.count, files[WEIGHTS].size, t.s.model.vocab,
           t.tokenizer_hash ? tokenizer : "none", folder);
  if (!e->status && !there)
    fprintf(stderr, "hf: left out: the published tokenizer. Copy its files to %s from the folder "
                    "that it came from\n", folder);
  for (int i = 0; i < FILES; i++) bytes_free(&files[i]);
  tokenizer_free(&words); trainer_free(&t);
  return e->status;
}

/* -------------------------------------------------------------------------------------------------
 * 11  JSON
 *
 * RFC 8259 and nothing beside it: no comments, no NaN, no Infinity, no comma too many, no key twice
 * in an object, no half of a surrogate pair, no byte that is not UTF-8. A text is read into a list
 * of its values in the order in which they begin, each of which knows where the one after it is:
 *
 *   {"a": [1, 2], "b": "c"}      object of 2   "a"   array of 2   1   2   "b"   "c"
 *                     number     0             1     2            3   4   5     6
 *                       next     7             2     5            4   5   6     7
 *
 * Strings are unescaped where they stand, which never makes them longer, and end in a 0. Numbers
 * stay text until someone asks, so that no integer of 64 bits loses its last digits on the way. */
enum { JSON_NULL, JSON_FALSE, JSON_TRUE, JSON_NUMBER, JSON_STRING, JSON_ARRAY, JSON_OBJECT };
enum {
  JSON_DEPTH = 32,             /* the deepest file read here has 8 */
  JSON_BYTES = 1 << 27,        /* safetensors allows itself 100,000,000 */
  JSON_VALUES = 1 << 24        /* a million tensors are 12 million values: 16 bytes each here */
};

typedef struct JsonValue {
  uint32_t kind;
  uint32_t at, size;           /* its bytes of text; elements of an array, pairs of an object */
  uint32_t next;               /* the number of the value after it and all that it holds */
} JsonValue;

typedef struct Json {
  const char *name;            /* the file, for errors; the caller's */
  char *text;
  uint32_t length, here;       /* bytes of the text; where the reader is */
  JsonValue *at;               /* [size] */
  uint32_t size, room;
} Json;

static void json_free(Json *j) { free(j->text); free(j->at); *j = (Json){0}; }

/* Puts u as UTF-8, of 1 to 4 bytes; returns how many. */
static size_t utf8_put(char to[4], uint32_t u) {
  const int more = u < 0x80 ? 0 : u < 0x800 ? 1 : u < 0x10000 ? 2 : 3;
  to[0] = (char)((more ? 0xF00u >> (more + 1) & 0xF0 : 0) | u >> 6 * more);
  for (int i = 1; i <= more; i++) to[i] = (char)(0x80 | (u >> 6 * (more - i) & 0x3F));
  return (size_t)more + 1;
}

/* Fails at the place where the reader is. */
static int json_fails(const Json *j, const char *expected, Error *e) {
  unsigned char c = (unsigned char)j->text[j->here];
  char found[16];
  if (j->here >= j->length) snprintf(found, sizeof found, "its end");
  else if (c > ' ' && c < 0x7F) snprintf(found, sizeof found, "%c", c);
  else snprintf(found, sizeof found, "byte 0x%02X", c);
  return fail(e, 1, "%s: expected %s at byte %u of its JSON, found %s. Try: another copy of it",
              j->name, expected, j->here, found);
}

/* Takes the next character if it is one of these. */
static bool json_one(Json *j, const char *of) {
  bool there = j->text[j->here] && strchr(of, j->text[j->here]);
  j->here += there;
  return there;
}

static void json_white(Json *j) { while (json_one(j, " \t\r\n")) {} }

/* The same, with the white space before and after it. */
static bool json_takes(Json *j, const char *of) {
  json_white(j);
  bool there = json_one(j, of);
  json_white(j);
  return there;
}

/* The four digits of a \uXXXX, where the reader is; -1 when they are not four. */
static int32_t json_hex(Json *j) {
  char four[5] = "";
  for (int i = 0; i < 4 && isxdigit((unsigned char)j->text[j->here]); i++)
    four[i] = j->text[j->here++];
  return four[3] ? (int32_t)strtol(four, NULL, 16) : -1;
}

/* What \ and the character after it stand for, the reader being at that character. */
static int json_escape(Json *j, char **to, Error *e) {
  static const char LETTERS[] = "\"\\/bfnrt", MEANS[] = "\"\\/\b\f\n\r\t";
  char c = j->text[j->here];
  const char *at = c ? strchr(LETTERS, c) : NULL;
  if (at) {
    j->here++;
    *(*to)++ = MEANS[at - LETTERS];
    return 0;
  }
  if (c != 'u') return json_fails(j, "one of \"\\/bfnrtu after a backslash", e);
  j->here++;
  int32_t u = json_hex(j), low = 0;
  if (u >= 0xD800 && u < 0xDC00) {
    low = -1;
    if (j->text[j->here] == '\\' && j->text[j->here + 1] == 'u') {
      j->here += 2;
      low = json_hex(j);
    }
    if (low < 0xDC00 || low > 0xDFFF) return json_fails(j, "a whole surrogate pair", e);
    u = 0x10000 + ((u - 0xD800) << 10 | (low - 0xDC00));
  }
  if (u < 0 || (u >= 0xDC00 && u <= 0xDFFF))
    return json_fails(j, "four hexadecimal digits of a character", e);
  *to += utf8_put(*to, (uint32_t)u);
  return 0;
}

/* The reader is at the opening quote. */
static int json_string(Json *j, JsonValue *v, Error *e) {
  char *to = j->text + j->here + 1;
  v->kind = JSON_STRING;
  v->at = ++j->here;
  while (j->text[j->here] != '"') {
    unsigned char c = (unsigned char)j->text[j->here];
    if (c < ' ') return json_fails(j, "a closing quote", e);
    j->here++;
    if (c != '\\') *to++ = (char)c;
    else if (json_escape(j, &to, e)) return e->status;
  }
  v->size = (uint32_t)(to - (j->text + v->at));
  j->here++;
  *to = 0;                                                 /* the closing quote, or before it */
  return 0;
}

static bool json_digits(Json *j) {
  uint32_t from = j->here;
  while (json_one(j, "0123456789")) {}
  return j->here > from;
}

static int json_number(Json *j, JsonValue *v, Error *e) {
  v->kind = JSON_NUMBER;
  v->at = j->here;
  json_one(j, "-");
  if (!json_one(j, "0") && !json_digits(j)) return json_fails(j, "a value", e);
  if (json_one(j, ".") && !json_digits(j)) return json_fails(j, "a digit", e);
  if (json_one(j, "eE")) {
    json_one(j, "+-");
    if (!json_digits(j)) return json_fails(j, "a digit", e);
  }
  v->size = j->here - v->at;
  return 0;
}

static int json_word(Json *j, JsonValue *v, Error *e) {
  static const char *const WORDS[] = {"null", "false", "true"};
  for (uint32_t kind = JSON_NULL; kind <= JSON_TRUE; kind++) {
    size_t length = strlen(WORDS[kind]);
    if (strncmp(j->text + j->here, WORDS[kind], length)) continue;
    v->kind = kind;
    j->here += (uint32_t)length;
    return 0;
  }
  return json_fails(j, "a value", e);
}

static int json_keys_differ(const Json *j, uint32_t v, Error *e) {
  uint32_t n = 0;
  Spelling *s = j->at[v].size > 1 ? grab(j->at[v].size, sizeof *s, e) : NULL;
  if (!s) return e->status;
  for (uint32_t key = v + 1; key < j->at[v].next; key = j->at[key + 1].next)
    s[n++] = (Spelling){(unsigned char *)j->text + j->at[key].at, j->at[key].size, 0};
  const Spelling *two = spelt_twice(s, n);
  if (two)
    fail(e, 1, "%s: expected each key once in its JSON, found \"%.100s\" twice. Try: another "
               "copy of it", j->name, (const char *)two->at);
  free(s);
  return e->status;
}

/* Reads one value, which may hold others, at this depth from 0. */
static int json_value(Json *j, int depth, Error *e) {
  if (j->size == j->room) {
    uint32_t room = j->room ? 2 * j->room : 64;
    JsonValue *more = room <= JSON_VALUES ? realloc(j->at, room * sizeof *more) : NULL;
    if (!more)
      return fail(e, 1, "%s: expected JSON that fits into memory, found more than %u values. "
                        "Try: another file", j->name, j->room);
    j->at = more;
    j->room = room;
  }
  uint32_t number = j->size++, count = 0;
  JsonValue v = {0};
  char c = j->text[j->here];
  if (c == '[' || c == '{') {
    const char *end = c == '[' ? "]" : "}";
    v.kind = c == '[' ? JSON_ARRAY : JSON_OBJECT;
    if (depth == JSON_DEPTH) return json_fails(j, "at most 32 brackets in each other", e);
    v.at = j->here++;
    for (json_white(j); !(count == 0 && json_takes(j, end)); count++) {
      if (c == '{') {
        if (j->text[j->here] != '"') return json_fails(j, "a key in quotes", e);
        if (json_value(j, depth + 1, e)) return e->status;
        if (!json_takes(j, ":")) return json_fails(j, "a colon", e);
      }
      if (json_value(j, depth + 1, e)) return e->status;
      if (json_takes(j, ",")) continue;
      if (!json_takes(j, end)) return json_fails(j, "a comma or a closing bracket", e);
      count++;
      break;
    }
    v.size = count;
  } else if (c == '"') json_string(j, &v, e);
  else if (c == '-' || (c >= '0' && c <= '9')) json_number(j, &v, e);
  else json_word(j, &v, e);
  v.next = j->size;
  j->at[number] = v;
  return !e->status && v.kind == JSON_OBJECT ? json_keys_differ(j, number, e) : e->status;
}

/* The n bytes of a text; name is the file's, and must outlive j. Free it whatever comes back. */
static int json_read(Json *j, const unsigned char *from, size_t n, const char *name, Error *e) {
  *j = (Json){.name = name};
  if (n > JSON_BYTES)
    return fail(e, 1, "%s: expected at most %d bytes of JSON, found %zu. Try: another file",
                name, (int)JSON_BYTES, n);
  j->text = grab((idx)n + 1, 1, e);
  if (!j->text) return e->status;
  if (n) memcpy(j->text, from, n);
  j->length = (uint32_t)n;
  j->here = n ? (uint32_t)utf8_length(from, n) : 0;
  if (j->here < n) return json_fails(j, "UTF-8", e);
  j->here = 0;
  json_white(j);
  if (json_value(j, 0, e)) return e->status;
  json_white(j);
  return j->here == j->length ? 0 : json_fails(j, "nothing more", e);
}

static int json_load(Json *j, const char *path, Error *e) {
  Bytes b = {0};
  *j = (Json){0};
  if (!file_read(path, &b, e)) json_read(j, b.at, b.size, path, e);
  bytes_free(&b);
  return e->status;
}

static bool json_kind(const JsonValue *v, uint32_t kind) { return v && v->kind == kind; }

static bool json_is(const Json *j, const JsonValue *v, const char *text) {
  return json_kind(v, JSON_STRING) && v->size == strlen(text) &&
         !memcmp(j->text + v->at, text, v->size);
}

/* The value of a key, NULL where v is NULL or no object, or has no such key. */
static const JsonValue *json_find(const Json *j, const JsonValue *v, const char *key) {
  if (!json_kind(v, JSON_OBJECT)) return NULL;
  for (const JsonValue *k = v + 1; k < j->at + v->next; k = j->at + k[1].next)
    if (json_is(j, k, key)) return k + 1;
  return NULL;
}

/* The same, and NULL where it is null. */
static const JsonValue *json_get(const Json *j, const JsonValue *v, const char *key) {
  v = json_find(j, v, key);
  return v && v->kind != JSON_NULL ? v : NULL;
}

/* Is the value of this key this string? */
static bool json_says(const Json *j, const JsonValue *v, const char *key, const char *text) {
  return json_is(j, json_find(j, v, key), text);
}

/* A plain integer of 64 bits: no sign, no point, no exponent. */
static bool json_count(const Json *j, const JsonValue *v, uint64_t *n) {
  if (!json_kind(v, JSON_NUMBER)) return false;
  *n = 0;
  for (uint32_t i = 0; i < v->size; i++) {
    char c = j->text[v->at + i];
    if (c < '0' || c > '9') return false;
    uint64_t digit = (uint64_t)(c - '0');
    if (*n > (UINT64_MAX - digit) / 10) return false;
    *n = 10 * *n + digit;
  }
  return true;
}

/* -------------------------------------------------------------------------------------------------
 * 12  safetensors, read: one file or many (the layout is 8's)
 *
 * The header is believed when it names every byte of the file: its tensors, sorted by where they
 * begin, have neither hole nor overlap and end with the file. Names, shapes and lengths are checked
 * before anything is taken from them, so that what follows may add and multiply. A folder of many
 * files (shards) has model.safetensors.index.json, whose weight_map says which tensor is where. */
enum {
  HEADER_MOST = 100000000,     /* the limit of the format's own reader */
  TENSORS_MOST = 1000000, NAME_MOST = 1024, RANK_MOST = 8
};

/* The formats of a number and their bits. The first FORMATS_READ, in the order of DTYPE_*, are
 * read, and U8 where it holds gpt-oss's numbers of 4 bits. */
static const struct { const char *tag; int bits; } FORMATS[] = {
  [DTYPE_F32] = {"F32", 32}, [DTYPE_F16] = {"F16", 16}, [DTYPE_BF16] = {"BF16", 16},
  {"BOOL", 8}, {"U8", 8}, {"I8", 8}, {"U16", 16}, {"I16", 16}, {"U32", 32}, {"I32", 32},
  {"U64", 64}, {"I64", 64}, {"F64", 64}, {"C64", 64}, {"F4", 4}, {"F6_E2M3", 6}, {"F6_E3M2", 6},
  {"F8_E5M2", 8}, {"F8_E4M3", 8}, {"F8_E8M0", 8}, {"F8_E4M3FNUZ", 8}, {"F8_E5M2FNUZ", 8}};
enum { FORMATS_READ = DTYPES, FORMATS_ALL = sizeof FORMATS / sizeof FORMATS[0] };

typedef struct Entry {         /* a tensor of a file */
  const char *name;            /* in its header's text */
  int file, format, rank;      /* number of its file; of FORMATS */
  uint64_t shape[RANK_MOST];
  uint64_t begin, end;         /* bytes of the file, from its start */
  bool used;                   /* by the model, or known to be needless */
} Entry;

typedef struct Shard {
  char path[1024];
  uint64_t size;               /* of the file */
  uint64_t head;               /* bytes that say what is in it: 8 + N */
  Json header;
} Shard;

typedef struct Folder {        /* all tensors of a published model, sorted by name */
  const char *path;            /* the caller's */
  Shard *shard;                /* [shards] */
  int shards;
  Entry *tensor;               /* [tensors] */
  idx tensors, left_out;       /* left_out: known, and no part of a text's model */
  char *names;                 /* of tensors that no header names */
} Folder;

static void folder_free(Folder *f) {
  for (int i = 0; i < f->shards; i++) json_free(&f->shard[i].header);
  free(f->shard); free(f->tensor); free(f->names);
  *f = (Folder){0};
}

static int by_place(const void *a, const void *b) {
  const Entry *x = a, *y = b;
  if (x->begin != y->begin) return x->begin < y->begin ? -1 : 1;
  return (x->end > y->end) - (x->end < y->end);
}

static int by_tensor_name(const void *a, const void *b) {
  return strcmp(((const Entry *)a)->name, ((const Entry *)b)->name);
}

/* The entry v of a header: format, shape, place, which still counts from the header's end. */
static int entry_read(Entry *x, const Json *j, const JsonValue *v, Error *e) {
  const JsonValue *dtype = json_get(j, v, "dtype"), *shape = json_get(j, v, "shape"),
              *place = json_get(j, v, "data_offsets");
  uint64_t count = 1, d;
  if (!json_kind(dtype, JSON_STRING) || !json_kind(shape, JSON_ARRAY) ||
      !json_kind(place, JSON_ARRAY) || place->size != 2 ||
      !json_count(j, place + 1, &x->begin) || !json_count(j, place + 2, &x->end) ||
      x->end < x->begin)
    return fail(e, 1, "%s: expected a dtype, a shape and data_offsets [begin, end] of tensor "
                      "%.100s, found another entry. Try: another copy of it", j->name, x->name);
  while (x->format < FORMATS_ALL && !json_is(j, dtype, FORMATS[x->format].tag)) x->format++;
  if (x->format == FORMATS_ALL)
    return fail(e, 1, "%s: expected a dtype of safetensors for %.100s, found %.20s. Try: "
                      "another copy of it", j->name, x->name, j->text + dtype->at);
  if (shape->size > RANK_MOST)
    return fail(e, 1, "%s: expected at most %d dimensions of %.100s, found %u. Try: another "
                      "file", j->name, RANK_MOST, x->name, shape->size);
  x->rank = (int)shape->size;
  for (int i = 0; i < x->rank; i++) {
    if (!json_count(j, shape + 1 + i, &d) || (d && count > UINT64_MAX / d))
      return fail(e, 1, "%s: expected a shape of plain integers whose product fits 64 bits "
                  "of %.100s, found another. Try: another copy of it", j->name, x->name);
    x->shape[i] = d;
    count *= d;
  }
  uint64_t bits = (uint64_t)FORMATS[x->format].bits;
  if (count > UINT64_MAX / bits || count * bits % 8 || count * bits / 8 != x->end - x->begin)
    return fail(e, 1, "%s: expected as many bytes of %.100s as its shape and %s ask for, found "
                      "%llu. Try: another copy of it", j->name, x->name,
                FORMATS[x->format].tag, (unsigned long long)(x->end - x->begin));
  return 0;
}

/* "__metadata__" maps strings to strings. */
static int metadata_check(const Json *j, const JsonValue *v, Error *e) {
  bool good = v->kind == JSON_OBJECT;
  for (const JsonValue *key = v + 1; good && key < j->at + v->next; key = j->at + key[1].next)
    good = key[1].kind == JSON_STRING;
  return good ? 0 : fail(e, 1, "%s: expected strings in __metadata__, found something else. Try: "
                               "another copy of it", j->name);
}

/* Sorted by where they begin, the n tensors x fill the bytes from 0 to `bytes`. */
static int places_check(const char *name, Entry *x, idx n, uint64_t bytes, Error *e) {
  uint64_t at = 0;
  qsort(x, (size_t)n, sizeof *x, by_place);
  for (idx i = 0; i < n; i++) {
    if (x[i].begin != at)
      return fail(e, 1, "%s: expected tensor %.100s to begin at byte %llu of the data, where "
                        "the one before it ends, found %llu. Try: another copy of it", name,
                  x[i].name, (unsigned long long)at, (unsigned long long)x[i].begin);
    at = x[i].end;
  }
  if (at == bytes) return 0;
  return fail(e, 1, "%s: expected %llu bytes after the header, found %llu. Try: download it "
                    "again", name, (unsigned long long)at, (unsigned long long)bytes);
}

/* Appends to f the tensors of a file of `size` bytes; head: its first `data`, 8 and the header. */
static int header_read(Folder *f, Json *j, const unsigned char *head, size_t data, uint64_t size,
                       const char *name, Error *e) {
  if (json_read(j, head + 8, data - 8, name, e)) return e->status;
  const JsonValue *top = j->at;
  if (top->kind != JSON_OBJECT)
    return fail(e, 1, "%s: expected a header that is a JSON object, found another value. Try: "
                      "another copy of it", name);
  if ((uint64_t)top->size + (uint64_t)f->tensors > TENSORS_MOST)
    return fail(e, 1, "%s: expected at most %d tensors, found more. Try: another file", name,
                TENSORS_MOST);
  Entry *x = realloc(f->tensor, ((size_t)f->tensors + top->size + 1) * sizeof *x);
  if (!x) return fail(e, 1, "%s: no memory for its header. Try: a smaller model", name);
  f->tensor = x;
  x += f->tensors;
  idx n = 0;
  for (const JsonValue *key = top + 1; key < j->at + top->next; key = j->at + key[1].next) {
    const char *own = j->text + key->at;
    if (json_is(j, key, "__metadata__")) {
      if (metadata_check(j, key + 1, e)) return e->status;
      continue;
    }
    if (!key->size || key->size > NAME_MOST || strlen(own) != key->size)
      return fail(e, 1, "%s: expected names of 1 to %d bytes and no 0 among them, found "
                        "%.60s (%u bytes). Try: another copy of it", name, NAME_MOST, own,
                  key->size);
    x[n] = (Entry){.name = own, .file = f->shards};
    if (entry_read(&x[n++], j, key + 1, e)) return e->status;
  }
  if (places_check(name, x, n, size - data, e)) return e->status;
  for (idx i = 0; i < n; i++) { x[i].begin += data; x[i].end += data; }
  f->tensors += n;
  return 0;
}

/* Appends the file at path: its size, its header, its tensors. */
static int shard_open(Folder *f, const char *path, Error *e) {
  Shard *s = realloc(f->shard, (size_t)(f->shards + 1) * sizeof *s);
  if (!s) return fail(e, 1, "%s: no memory. Try: a smaller model", path);
  f->shard = s;
  s += f->shards;
  *s = (Shard){0};
  unsigned char eight[8];
  if (path_make(s->path, e, "%s", path)) return e->status;
  FILE *in = fopen(path, "rb");
  if (!in) return fail(e, 1, "%s: %s. Try: check the path", path, strerror(errno));
  uint64_t N = 0;
  if (!file_size(in, &s->size) || !file_seek(in, 0) || s->size < 8 || fread(eight, 1, 8, in) != 8)
    fail(e, 1, "%s: expected 8 bytes and a header, found fewer. Try: download it again", path);
  else N = number_at(eight, 8);
  if (!e->status && (N > HEADER_MOST || N > s->size - 8))
    fail(e, 1, "%s: expected a header of at most %d bytes within the file's %llu, found a "
               "length of %llu. Try: download it again", path, HEADER_MOST,
         (unsigned long long)s->size, (unsigned long long)N);
  s->head = 8 + N;
  unsigned char *head = e->status ? NULL : grab((idx)s->head, 1, e);
  if (head) {
    memcpy(head, eight, 8);
    if (fread(head + 8, 1, (size_t)N, in) != N)
      fail(e, 1, "%s: cannot be read, %s. Try: check the disk", path, strerror(errno));
    else header_read(f, &s->header, head, 8 + (size_t)N, s->size, path, e);
  }
  free(head); fclose(in);
  f->shards++;
  return e->status;
}

static Entry *folder_find(const Folder *f, const char *name) {
  Entry key = {.name = name};
  return f->tensors ? bsearch(&key, f->tensor, (size_t)f->tensors, sizeof key, by_tensor_name)
                    : NULL;
}

/* Sorts all tensors by name; none may be there twice. */
static int folder_sort(Folder *f, Error *e) {
  if (f->tensors) qsort(f->tensor, (size_t)f->tensors, sizeof *f->tensor, by_tensor_name);
  for (idx i = 1; i < f->tensors; i++) {
    const Entry *x = &f->tensor[i - 1];
    if (!strcmp(x->name, x[1].name))
      return fail(e, 1, "%s: expected each tensor once, found %.100s in %.100s too. Try: "
                        "another copy of them", f->shard[x->file].path, x->name,
                  f->shard[x[1].file].path);
  }
  return 0;
}

/* The map of an index from tensors to files, which lie in its folder: their names are checked. */
static const JsonValue *index_map(const Json *j, Error *e) {
  const JsonValue *map = json_get(j, j->at, "weight_map");
  if (!json_kind(map, JSON_OBJECT) || !map->size) {
    fail(e, 1, "%s: expected a weight_map of tensors to files, found none. Try: another copy "
               "of it", j->name);
    return NULL;
  }
  for (const JsonValue *key = map + 1; key < j->at + map->next; key = j->at + key[1].next) {
    const char *shard = j->text + key[1].at;
    if (key[1].kind != JSON_STRING || !key[1].size || *shard == '.' ||
        strlen(shard) != key[1].size || strpbrk(shard, "/\\:") || strstr(shard, ".."))
      fail(e, 1, "%s: expected the name of a file beside it for %.100s, found something "
                 "else. Try: another copy of it", j->name, j->text + key->at);
  }
  return map;
}

/* The shards that an index names, each with the tensors that it says and no others: the tensors
 * of a map differ, so that it has them all when they are found and are as many. */
static int shards_open(Folder *f, const Json *j, Error *e) {
  const JsonValue *map = index_map(j, e);
  if (e->status) return e->status;
  const JsonValue *end = j->at + map->next;
  size_t own = strlen(f->path) + 1;            /* where in a path the name begins */
  char path[1024];
  for (const JsonValue *key = map + 1; !e->status && key < end; key = j->at + key[1].next) {
    int k = 0;
    while (k < f->shards && strcmp(f->shard[k].path + own, j->text + key[1].at)) k++;
    if (k == f->shards && !path_make(path, e, "%s/%s", f->path, j->text + key[1].at))
      shard_open(f, path, e);
  }
  if (!e->status) folder_sort(f, e);
  for (const JsonValue *key = map + 1; !e->status && key < end; key = j->at + key[1].next) {
    const char *name = j->text + key->at, *shard = j->text + key[1].at;
    const Entry *x = folder_find(f, name);
    if (!x || strlen(name) != key->size || strcmp(shard, f->shard[x->file].path + own))
      fail(e, 1, "%s: expected tensor %.100s in %.100s, found none. Try: download both again",
           j->name, name, shard);
  }
  for (idx i = 0; !e->status && f->tensors > (idx)map->size && i < f->tensors; i++)
    if (!json_find(j, map, f->tensor[i].name))
      fail(e, 1, "%s: expected %.100s in the weight_map, found it in %.100s alone. Try: "
                 "download both again", j->name, f->tensor[i].name,
           f->shard[f->tensor[i].file].path);
  return e->status;
}

/* Has the folder a file of this name? Its path is made. */
static bool folder_has(char path[1024], const char *folder, const char *name, Error *e) {
  return !path_make(path, e, "%s/%s", folder, name) && !file_missing(path);
}

/* Reads every header of the folder at path, which must outlive f. A whole file goes before an
 * index, as in transformers. Free f whatever comes back. */
static int folder_open(Folder *f, const char *path, Error *e) {
  char name[1024];
  *f = (Folder){.path = path};
  const bool whole = folder_has(name, path, "model.safetensors", e);
  if (!whole && folder_has(name, path, "model.safetensors.index.json", e)) {
    Json index;
    if (!json_load(&index, name, e)) shards_open(f, &index, e);
    json_free(&index);
    return e->status;
  }
  bool pickled = folder_has(name, path, "pytorch_model.bin", e) ||
                 folder_has(name, path, "pytorch_model.bin.index.json", e);
  path_make(name, e, "%s/model.safetensors", path);
  if (!whole && pickled)
    return fail(e, 1, "%s: expected this file, found a pytorch_model.bin, which is a program "
                      "to run and not a table to read. Try: the model's page for its branch "
                      "with safetensors (refs/pr/..), or save_pretrained in Python", name);
  return e->status || shard_open(f, name, e) ? e->status : folder_sort(f, e);
}

/* -------------------------------------------------------------------------------------------------
 * 13  Families: what a published model is called here                                     [T8]
 *
 * A family is a table of tensors (ours, theirs), rows of a table of keys of config.json (theirs,
 * our flag) and a function for what takes a sentence. In names * stands for a number: of the block,
 * and of the expert. What no table names is refused by its name, be it a tensor, a value or a key:
 * keys.h lists those that change no number of a forward; null, and an unread {} or [], say nothing.
 *
 * Sources: the modelling code of transformers and the published files of each. */

static const Counterpart GPT2[] = {
  {"@", "transformer.h.*.", AS_IS}, {"wte", "transformer.wte", AS_IS},
  {"wpe", "transformer.wpe", AS_IS}, {"@norm1", "@ln_1", AS_IS}, {"@wq", "@attn.c_attn", THIRDS},
  {"@wk", "@attn.c_attn", THIRDS}, {"@wv", "@attn.c_attn", THIRDS},
  /* [in,out], as here: its square one would fit turned as well */
  {"@wo", "@attn.c_proj", AS_IS}, {"@norm2", "@ln_2", AS_IS}, {"@w1", "@mlp.c_fc", AS_IS},
  {"@w2", "@mlp.c_proj", AS_IS}, {"normf", "transformer.ln_f", AS_IS},
  {"wcls", "lm_head", TURNED}, {NULL, NULL, AS_IS}};

static const Counterpart NEOX[] = {
  {"@", "gpt_neox.layers.*.", AS_IS}, {"wte", "gpt_neox.embed_in", AS_IS},
  {"@norm1", "@input_layernorm", AS_IS}, {"@wq", "@attention.query_key_value", HEADS},
  {"@wk", "@attention.query_key_value", HEADS}, {"@wv", "@attention.query_key_value", HEADS},
  {"@wo", "@attention.dense", TURNED}, {"@norm2", "@post_attention_layernorm", AS_IS},
  {"@w1", "@mlp.dense_h_to_4h", TURNED}, {"@w2", "@mlp.dense_4h_to_h", TURNED},
  {"normf", "gpt_neox.final_layer_norm", AS_IS}, {"wcls", "embed_out", TURNED},
  {NULL, NULL, AS_IS}};

/* final_layer_norm is the norm of the feed-forward in a block, and the last one outside. */
static const Counterpart OPT[] = {
  {"@", "model.decoder.layers.*.", AS_IS}, {"wte", "model.decoder.embed_tokens", AS_IS},
  {"win", "model.decoder.project_in", TURNED}, {"wpe", "model.decoder.embed_positions", LATER},
  {"@norm1", "@self_attn_layer_norm", AS_IS}, {"@wq", "@self_attn.q_proj", TURNED},
  {"@wk", "@self_attn.k_proj", TURNED}, {"@wv", "@self_attn.v_proj", TURNED},
  {"@wo", "@self_attn.out_proj", TURNED}, {"@norm2", "@final_layer_norm", AS_IS},
  {"@w1", "@fc1", TURNED}, {"@w2", "@fc2", TURNED},
  {"normf", "model.decoder.final_layer_norm", AS_IS}, {"wout", "model.decoder.project_out", TURNED},
  {"wcls", "lm_head", TURNED}, {NULL, NULL, AS_IS}};

static const Counterpart JAMBA[] = {
  {"@", "model.layers.*.", AS_IS}, {"wte", "model.embed_tokens", AS_IS},
  {"@norm1", "@input_layernorm", AS_IS}, {"@wq", "@self_attn.q_proj", TURNED},
  {"@wk", "@self_attn.k_proj", TURNED}, {"@wv", "@self_attn.v_proj", TURNED},
  {"@wo", "@self_attn.o_proj", TURNED}, {"@m.in", "@mamba.in_proj", TURNED},
  {"@m.conv", "@mamba.conv1d", TAPS}, {"@m.x", "@mamba.x_proj", TURNED},
  {"@m.rnorm", "@mamba.dt_layernorm", AS_IS}, {"@m.bnorm", "@mamba.b_layernorm", AS_IS},
  {"@m.cnorm", "@mamba.c_layernorm", AS_IS}, {"@m.dt", "@mamba.dt_proj", TURNED},
  {"@m.alog", "@mamba.A_log", TURNED | BARE}, {"@m.skip", "@mamba.D", BARE},
  {"@m.out", "@mamba.out_proj", TURNED}, {"@norm2", "@pre_ff_layernorm", AS_IS},
  {"@w1", "@feed_forward.gate_proj", TURNED}, {"@w2", "@feed_forward.up_proj", TURNED},
  {"@w3", "@feed_forward.down_proj", TURNED}, {"@router", "@feed_forward.router", TURNED},
  {"@e*.w1", "@feed_forward.experts.*.gate_proj", TURNED},
  {"@e*.w2", "@feed_forward.experts.*.up_proj", TURNED},
  {"@e*.w3", "@feed_forward.experts.*.down_proj", TURNED},
  {"normf", "model.final_layernorm", AS_IS}, {"wcls", "lm_head", TURNED}, {NULL, NULL, AS_IS}};

/* What some files also hold and no forward needs: masks, a number to mask with, frequencies. */
static const char *const NEEDLESS[] = {
  "transformer.h.*.attn.bias", "transformer.h.*.attn.masked_bias",
  "gpt_neox.layers.*.attention.bias", "gpt_neox.layers.*.attention.masked_bias",
  "gpt_neox.layers.*.attention.rotary_emb.inv_freq",
  "model.layers.*.self_attn.rotary_emb.inv_freq", "model.rotary_emb.inv_freq", NULL};

/* config.json j as it is read: top is the object with the settings, s what becomes of them, read
 * [j->size] what was asked for. */
typedef struct Facts {
  const Json *j; const JsonValue *top; Settings *s; bool *read; Error *e;
} Facts;

/* The value of the first of these keys, apart by |, that is there, not null; a.b: b in a. */
static const JsonValue *fact_at(const Facts *f, const char *keys) {
  const JsonValue *first = NULL; char key[64];
  for (const char *at = keys; *at; at += *at == '|') {
    const JsonValue *v = f->top;
    while (v && *at && *at != '|') {
      size_t n = strcspn(at, ".|");
      snprintf(key, sizeof key, "%.*s", (int)n, at);
      v = json_get(f->j, v, key);
      if (v && (at[n] != '.' || v->kind == JSON_OBJECT)) f->read[v - f->j->at] = true;
      at += n + (at[n] == '.');
    }
    at += strcspn(at, "|");
    if (!first) first = v;
  }
  return first;
}

/* A value in an error. */
static const char *shown(const Facts *f, const JsonValue *v, char text[64]) {
  static const char *const WORDS[] = {"null", "false", "true", "", "", "a list", "an object"};
  if (!v) snprintf(text, 64, "none");
  else if (v->kind == JSON_NUMBER || v->kind == JSON_STRING)
    snprintf(text, 64, "%.*s", v->size < 40 ? (int)v->size : 40, f->j->text + v->at);
  else snprintf(text, 64, "%s", WORDS[v->kind]);
  return text;
}

static int fact_fails(const Facts *f, const char *keys, const char *expected, const JsonValue *v) {
  char text[64];
  return fail(f->e, 1, "%s: expected %.*s to be %s, found %s. Try: another model; sink knows "
              "no other value", f->j->name, (int)strcspn(keys, "|"), keys, expected,
              shown(f, v, text));
}

static bool fact_number(const Facts *f, const JsonValue *v, double *x) {
  char text[64];
  if (!json_kind(v, JSON_NUMBER) || v->size > 40) return false;    /* shown cuts it there */
  *x = strtod(shown(f, v, text), NULL);
  return true;
}

/* A number of least to most; integers may be written as 10000.0. Where no key is there, fallback:
 * NAN for a number that has to be there. */
static double fact_value(const Facts *f, const char *keys, double fallback, double least,
                         double most, bool whole) {
  const JsonValue *v = fact_at(f, keys);
  char bounds[128]; double x = fallback;
  snprintf(bounds, sizeof bounds, "%s of %.10g to %.10g", whole ? "an integer" : "a number", least,
           most);
  if ((v && !fact_number(f, v, &x)) || !(x >= least && x <= most) || (whole && x != floor(x)))
    fact_fails(f, keys, bounds, v);
  return f->e->status ? fallback : x;
}

/* Sets a flag from a number. Where no key is there, from fallback, which may be NULL for a number
 * that has to be there, or "" for the flag's default. */
static void fact_flag(const Facts *f, const char *keys, const char *flag, const char *fallback) {
  const Option *o = option_find(flag, MODEL);
  const JsonValue *v = fact_at(f, keys);
  const bool whole = o->kind == 'i';
  char text[64];
  if (!v && fallback) {
    if (*fallback) option_set(o, f->s, fallback, true, f->e);
    return;
  }
  const double x = fact_value(f, keys, NAN, o->least, o->most, whole);
  if (f->e->status) return;
  if (whole) snprintf(text, sizeof text, "%.0f", x);
  else shown(f, v, text);
  option_set(o, f->s, text, true, f->e);
}

static bool fact_true(const Facts *f, const char *key, bool fallback) {
  const JsonValue *v = fact_at(f, key);
  if (!v) return fallback;
  if (v->kind != JSON_TRUE && v->kind != JSON_FALSE) fact_fails(f, key, "true or false", v);
  return v->kind == JSON_TRUE;
}

/* Refuses any value of the key but this one, and but none. "false" is not false: it counts as true
 * in the library. */
static void fact_must(const Facts *f, const char *key, const char *value) {
  const JsonValue *v = fact_at(f, key);
  const bool number = isdigit((unsigned char)*value);
  const bool string = !number && !strstr("true false null", value);
  char text[64]; double x = 0;
  const bool same = v && !strcmp(shown(f, v, text), value);
  if (!v || (same && string == (v->kind == JSON_STRING))) return;
  if (number && fact_number(f, v, &x) && x == strtod(value, NULL)) return;
  snprintf(text, sizeof text, "%.40s%s", value, same ? " without quotes" : "");
  fact_fails(f, key, text, v);
}

static void flags_set(const Facts *f, const char *flags) {
  settings_flags(f->s, flags, MODEL, f->e);
}

/* The activation: with a gate it is a member of another row. */
static void fact_act(const Facts *f, const char *key, const char *fallback, bool gated) {
  static const char *const NAMES_OF_ACTS[][3] = {       /* theirs, ours, ours with a gate */
    {"silu", "swish", "swiglu"}, {"swish", "swish", "swiglu"}, {"relu", "relu", "reglu"},
    {"gelu", "gelu", "geglu"}, {"gelu_python", "gelu", "geglu"},
    {"gelu_new", "gelutanh", "geglutanh"}, {"gelu_pytorch_tanh", "gelutanh", "geglutanh"},
    {"gelu_fast", "gelutanh", "geglutanh"}};
  const JsonValue *v = fact_at(f, key);
  char text[64];
  if (v) fallback = v->kind == JSON_STRING ? shown(f, v, text) : "";
  for (size_t i = 0; i < sizeof NAMES_OF_ACTS / sizeof NAMES_OF_ACTS[0]; i++)
    if (!strcmp(NAMES_OF_ACTS[i][0], fallback)) {
      option_set(option_find("act", MODEL), f->s, NAMES_OF_ACTS[i][1 + gated], true, f->e);
      return;
    }
  fact_fails(f, key, "silu, relu or a gelu", v);
}

static void fact_yarn(const Facts *f);           /* families.c */

/* Rotary positions: how the angles are stretched. */
#define ROPE(key) "rope_scaling." key "|rope_parameters." key "|rope_parameters.full_attention." key
#define ROPE_TYPE ROPE("rope_type") "|" ROPE("type")
#define ROPE_BASE ROPE("rope_theta") "|rope_theta"
static void fact_rope(const Facts *f) {
  const JsonValue *v = fact_at(f, ROPE_TYPE), *old = fact_at(f, "rope_scaling");
  if (old) fact_must(f, "rope_parameters", "null");        /* not both spellings at once */
  if ((!v && !old) || json_is(f->j, v, "default")) return;
  bool llama3 = json_is(f->j, v, "llama3");
  if (json_is(f->j, v, "dynamic"))
    fail(f->e, 1, "%s: expected rope_scaling of type default, linear, llama3 or yarn, found "
         "dynamic. Try: \"rope_scaling\": null there, the same up to max_position_embeddings",
         f->j->name);
  else if (!llama3 && !json_is(f->j, v, "linear") && !json_is(f->j, v, "yarn"))
    fact_fails(f, "rope_scaling", "of type default, linear, llama3 or yarn", v);
  if (f->e->status || json_is(f->j, v, "yarn")) {
    if (!f->e->status) fact_yarn(f);
    return;
  }
  flags_set(f, llama3 ? "--rope-scaling llama3" : "--rope-scaling linear");
  fact_flag(f, ROPE("factor"), "rope-factor", NULL);
  if (!llama3) return;
  fact_flag(f, ROPE("low_freq_factor"), "rope-low", NULL);
  fact_flag(f, ROPE("high_freq_factor"), "rope-high", NULL);
  fact_flag(f, ROPE("original_max_position_embeddings"), "rope-original", NULL);
}

/* YaRN's m is put into the divisor of all scores (families.c), which has to be its own. */
static void refuse_yarn(const Facts *f) {
  if (f->s->model.rope_scaling == ROPE_YARN)
    fact_fails(f, "rope_scaling", "of type default, linear or llama3", fact_at(f, ROPE_TYPE));
}

/* A row for each key: the families that it counts for, by their letters in FAMILIES; what is done
 * with it. Rows go in order: YaRN's angles ask for head_dim and the context. */
enum { NUMBER, ONLY, SWITCH, ACT, GATED, ANGLES };
typedef struct Fact {
  const char *families;        /* !: all but these; *: all */
  const char *keys;            /* apart by |, as fact_at reads them */
  int what;
  const char *flag, *without;  /* without: what counts where no key is there */
} Fact;

static const Fact FACTS[] = {
  /* NUMBER: what a flag gets; NULL: it has to be there, "": the flag's default */
  {"!b",     "vocab_size",                             NUMBER, "vocab",    NULL},
  {"g",      "n_layer",                                NUMBER, "layers",   NULL},
  {"!gb",    "num_hidden_layers",                      NUMBER, "layers",   NULL},
  {"g",      "n_head",                                 NUMBER, "heads",    NULL},
  {"!gb",    "num_attention_heads",                    NUMBER, "heads",    NULL},
  {"!gnob",  "num_key_value_heads",                    NUMBER, "kv-heads", ""},
  {"g",      "n_embd",                                 NUMBER, "dim",      NULL},
  {"!gb",    "hidden_size",                            NUMBER, "dim",      NULL},
  {"lmjqpcd", "head_dim",                              NUMBER, "head-dim", ""},
  {"w",      "head_dim",                               NUMBER, "head-dim", "128"},
  {"abf",    "head_dim",                               NUMBER, "head-dim", "256"},
  {"o",      "ffn_dim",                                NUMBER, "ffn",      NULL},
  {"!gob",   "intermediate_size",                      NUMBER, "ffn",      NULL},
  {"o",      "word_embed_proj_dim",                    NUMBER, "embed-dim", ""},
  {"g",      "n_positions",                            NUMBER, "context",  NULL},
  {"!gjb",   "max_position_embeddings",                NUMBER, "context",  NULL},
  {"j",      "max_position_embeddings|n_ctx",          NUMBER, "context",  NULL},
  /* Gemma3TextConfig's defaults (configuration_gemma3.py), which gemma3's files leave out; more of
   * them: the other rows of b, here and in families.c, gemma3_more and gemma_more there */
  {"b",      "vocab_size",                             NUMBER, "vocab",    "262208"},
  {"b",      "num_hidden_layers",                      NUMBER, "layers",   "26"},
  {"b",      "num_attention_heads",                    NUMBER, "heads",    "8"},
  {"b",      "num_key_value_heads",                    NUMBER, "kv-heads", "4"},
  {"b",      "hidden_size",                            NUMBER, "dim",      "2304"},
  {"b",      "intermediate_size",                      NUMBER, "ffn",      "9216"},
  {"b",      "max_position_embeddings",                NUMBER, "context",  "131072"},
  {"g",      "layer_norm_epsilon",                     NUMBER, "norm-eps", "1e-5"},
  {"n",      "layer_norm_eps",                         NUMBER, "norm-eps", "1e-5"},
  {"lmjqwabf", "rms_norm_eps",                         NUMBER, "norm-eps", "1e-6"},
  {"j",      "attn_layer_period",                      NUMBER, "attention-period", "8"},
  {"j",      "attn_layer_offset",                      NUMBER, "attention-offset", "4"},
  {"j",      "mamba_d_state",                          NUMBER, "mamba-state", "16"},
  {"j",      "mamba_d_conv",                           NUMBER, "mamba-conv", "4"},
  {"j",      "num_experts",                            NUMBER, "experts",  "16"},
  {"j",      "num_experts_per_tok",                    NUMBER, "expert-top", "2"},
  {"j",      "expert_layer_period",                    NUMBER, "expert-period", "2"},
  {"j",      "expert_layer_offset",                    NUMBER, "expert-offset", "1"},
  /* the activation, and one of a feed-forward with a gate */
  {"g",      "activation_function",                    ACT,    NULL, "gelu_new"},
  {"n",      "hidden_act",                             ACT,    NULL, "gelu"},
  {"o",      "activation_function",                    ACT,    NULL, "relu"},
  {"lmqwpcd", "hidden_act",                            GATED,  NULL, "silu"},
  /* ANGLES: a NUMBER, and then how the angles are stretched (fact_rope) */
  {"n",      ROPE("rope_theta") "|rotary_emb_base",    ANGLES, "rope-base", ""},
  {"lmqwacf", ROPE_BASE,                               ANGLES, "rope-base", ""},
  /* SWITCH: the flags that true sets */
  {"g",      "scale_attn_by_inverse_layer_idx",        SWITCH, "--score-by-layer", "false"},
  {"n",      "use_parallel_residual",                  SWITCH, "--place parallel", "true"},
  {"o",      "enable_bias",                            SWITCH, "--linear-bias", "true"},
  /* ONLY: any other value is refused */
  {"g",      "scale_attn_weights",                     ONLY,   NULL, "true"},
  {"*",      "add_cross_attention",                    ONLY,   NULL, "false"},
  {"o",      "layer_norm_elementwise_affine",          ONLY,   NULL, "true"},
  {"lmqwacf", ROPE("partial_rotary_factor") "|partial_rotary_factor", ONLY, NULL, "1"},
  {"lm",     "rope_interleaved",                       ONLY,   NULL, "false"},
  {"mjp",    "attention_bias",                         ONLY,   NULL, "false"},
  {"mj",     "mlp_bias",                               ONLY,   NULL, "false"},
  {"j",      "hidden_act",                             ONLY,   NULL, "silu"},  /* Mamba's too */
  {"j",      "mamba_conv_bias",                        ONLY,   NULL, "true"},
  {"j",      "mamba_proj_bias",                        ONLY,   NULL, "false"},
  {"j",      "mamba_inner_layernorms",                 ONLY,   NULL, "true"},
  {"j",      "sliding_window",                         ONLY,   NULL, "null"},
  {"!e",     "quantization_config",                    ONLY,   NULL, "null"},
  {"*",      "is_encoder_decoder",                     ONLY,   NULL, "false"},
  {NULL, NULL, NUMBER, NULL, NULL}};

/* Refuses the first key of an object that nobody has read and that may count. */
static void keys_known(const Facts *f, const JsonValue *object) {
  for (const JsonValue *key = object + 1, *end = f->j->at + object->next;
       key < end && !f->e->status; key = f->j->at + key[1].next) {
    char word[66], text[64];
    const JsonValue *v = key + 1;
    const bool nothing = v->kind == JSON_NULL || (v->kind >= JSON_ARRAY && !v->size);
    snprintf(word, sizeof word, " %.62s ", f->j->text + key->at);
    if (f->read[v - f->j->at] && v->kind == JSON_OBJECT) keys_known(f, v);
    else if (!f->read[v - f->j->at] && !nothing
             && (!strstr(IDLE, word) || strlen(word) != key->size + 2))
      fail(f->e, 1, "%s: expected keys that sink knows, found %.60s: %s. Try: without it, "
           "where it changes no number; else another model", f->j->name, f->j->text + key->at,
           shown(f, v, text));
  }
}

/* Every row of a table that is of a family, in their order. */
static void facts_read(const Facts *f, const Fact *x, char family) {
  for (; x->families; x++) {
    const bool named = strchr(x->families, family), but = *x->families == '!';
    if (named == but && *x->families != '*') continue;
    bool yes = x->without && !strcmp(x->without, "true");
    switch (x->what) {
    case NUMBER: fact_flag(f, x->keys, x->flag, x->without); break;
    case ONLY:   fact_must(f, x->keys, x->without); break;
    case SWITCH: if (fact_true(f, x->keys, yes)) flags_set(f, x->flag); break;
    case ANGLES: fact_flag(f, x->keys, x->flag, x->without); fact_rope(f); break;
    default:     fact_act(f, x->keys, x->without, x->what == GATED);
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
  double part = 0.25; char flags[64], same[64];
  if (v && (!fact_number(f, v, &part) || !(part >= 0 && part <= 1)))
    fact_fails(f, "rotary_pct", "a number of 0 to 1", v);
  if (f->e->status) return;
  fact_must(f, "partial_rotary_factor", v ? shown(f, v, same) : "0.25");   /* others' names */
  option_text(option_find("rope-base", MODEL), f->s, same, sizeof same);
  fact_must(f, "rope_theta", same);
  int turned = (int)(c->dim / c->heads * part);
  if (turned % 2) fact_fails(f, "rotary_pct", "an even number of a head's dims", v);
  if (turned < c->dim / c->heads) refuse_yarn(f);          /* m lengthens the turned dims alone */
  /* --rotary-dims 0 would be all of them */
  if (turned) snprintf(flags, sizeof flags, "--rotary-dims %d", turned);
  flags_set(f, turned ? flags : "--pos none");
  if (!fact_true(f, "attention_bias", true)) flags_set(f, "--bias-in ffn");
}

static void opt_more(const Facts *f) {
  const bool no_last = fact_true(f, "_remove_final_layer_norm", false);
  if (!fact_true(f, "do_layer_norm_before", true)) flags_set(f, "--place post");
  else if (no_last) fact_must(f, "_remove_final_layer_norm", "false");
}

static void llama_more(const Facts *f) {
  bool attention = fact_true(f, "attention_bias", false), ffn = fact_true(f, "mlp_bias", false);
  if (attention || ffn) flags_set(f, "--linear-bias");
  if (attention != ffn) flags_set(f, attention ? "--bias-in attention" : "--bias-in ffn");
}

/* null is no window; without the key, the library's default. */
static void mistral_more(const Facts *f) {
  bool none = json_find(f->j, f->top, "sliding_window") != NULL;
  fact_flag(f, "sliding_window", "window", none ? "" : "4096");
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
  if (c->experts == 1) c->experts = c->expert_top = c->expert_period = c->expert_offset = 0;
}

#include "families.c"

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
/* A new one: a row behind these, keys in FACTS or LATER_FACTS, a name in family_read, HF_VERBS. */
static const Family FAMILIES[] = {
  {"gpt2",     "GPT2LMHeadModel",    "transformer.", GPT2,  'g', LEARNED "--linear-bias",
   gpt2_more, true},
  {"gpt_neox", "GPTNeoXForCausalLM", "gpt_neox.",    NEOX,  'n', "--norm layer --linear-bias",
   neox_more, false},
  {"opt",      "OPTForCausalLM",     "model.",       OPT,   'o', LEARNED, opt_more,     true},
  {"llama",    "LlamaForCausalLM",   "model.",       LLAMA, 'l', "",      llama_more,   false},
  {"mistral",  "MistralForCausalLM", "model.",       LLAMA, 'm', "",      mistral_more, false},
  {"jamba",    "JambaForCausalLM",   "model.",       JAMBA, 'j', "--pos none", jamba_more, false},
  {"qwen2",    "Qwen2ForCausalLM",   "model.",       LLAMA, 'q', QWEN2, layers_more, false},
  {"qwen3",    "Qwen3ForCausalLM",   "model.",       QWEN3, 'w', "--qk-norm", layers_more, false},
  {"gemma",    "GemmaForCausalLM",   "model.",       GEMMA1, 'f', "",     gemma1_more,  true},
  {"gemma2",   "Gemma2ForCausalLM",  "model.",       GEMMA, 'a', "--place sandwich", gemma2_more,
   true},
  {"phi3",     "Phi3ForCausalLM",    "model.",       PHI3,  'p', "",      phi3_more,    false},
  {"gemma3_text", "Gemma3ForCausalLM", "model.",     GEMMA, 'b', "--place sandwich --qk-norm",
   gemma3_more, true},
  {"gemma3",   "Gemma3ForConditionalGeneration", "", GEMMA_IMAGE, 'b',
   "--place sandwich --qk-norm", gemma3_more, true},
  {"olmo2",    "Olmo2ForCausalLM",   "model.",       OLMO2, 'c', OLMO,    NULL,         false},
  {"olmo3",    "Olmo3ForCausalLM",   "model.",       OLMO2, 'd', OLMO,    olmo3_more,   false},
  {"gpt_oss",  "GptOssForCausalLM",  "model.",       GPT_OSS, 'e', "--extra logit", gpt_oss_more,
   false},
  {NULL, NULL, NULL, NULL, 0, NULL, NULL, false}};
enum { LLAMA_FAMILY = 3 };       /* whose names llama2.c's tensors get */

/* The family of a config.json, by its model_type, else by the first of its architectures. Fills
 * s->model; NULL and an error for one that sink cannot be. */
static const Family *family_read(const Json *j, Settings *s, Error *e) {
  Facts f = {j, j->at, s, grab(j->size, 1, e), e};
  if (e->status) return NULL;
  const JsonValue *type = fact_at(&f, "model_type"), *list = fact_at(&f, "architectures");
  const JsonValue *first = json_kind(list, JSON_ARRAY) && list->size ? list + 1 : NULL;
  const Family *family = FAMILIES; char text[64];
  while (family->type && (type ? !json_is(j, type, family->type)
                               : !json_is(j, first, family->architecture))) family++;
  if (!family->type) {
    fail(e, 1, "%s: expected model_type gpt2, gpt_neox, opt, llama, mistral, jamba, qwen2, "
         "qwen3, gemma, gemma2, gemma3, gemma3_text, phi3, olmo2, olmo3 or gpt_oss, found %s. Try: "
         "a model of these", j->name, shown(&f, type ? type : first, text));
    free(f.read);
    return NULL;
  }
  settings_default(s);
  if (family->tensors == GEMMA_IMAGE) image_facts(&f);
  flags_set(&f, family->flags);
  facts_read(&f, FACTS, family->letter);
  facts_read(&f, LATER_FACTS, family->letter);
  if (family->more) family->more(&f);
  fact_at(&f, "tie_word_embeddings");
  f.top = j->at;
  if (fact_true(&f, "tie_word_embeddings", family->tied)) flags_set(&f, "--tied");
  if (!e->status) keys_known(&f, j->at);
  free(f.read);
  return e->status ? NULL : family;
}

#include "words.c"                                          /* chapters 14 and 15 */

/* -------------------------------------------------------------------------------------------------
 * 16  Import: a folder or a file as a model file of sink
 *
 * Before a number is copied every tensor is accounted for: each that the family needs is there once
 * in its shape, and nothing else is there. Then they are copied, or only pointed at (--link), in
 * the order in which a forward reads them, bit by bit but for those that families.c rewrites: the
 * file says how a tensor lies (2). */

/* The shape that a tensor of ours has there; returns its rank. */
static int their_shape(const Config *c, const Tensor *x, int how, uint64_t shape[RANK_MOST]) {
  uint64_t in = (uint64_t)x->rows, out = (uint64_t)x->cols;
  bool turned = how & TURNED || how == HEADS, matrix = x->rank == 2;
  shape[0] = matrix && turned ? out : in;
  shape[1] = turned ? in : out;
  if (how == LATER) shape[0] += 2;
  if (how == THIRDS) shape[matrix] *= 3;
  if (how == HEADS) shape[0] *= 3;
  if (how & FUSED) shape[0] = fused_rows(c, x->name, &in);
  if (how & STACKED) return stacked_shape(c, x, shape);
  if (how != TAPS) return x->rank;
  shape[0] = out;
  shape[1] = 1;
  shape[2] = in;
  return 3;
}

/* Where the numbers of a tensor of ours lie in the stored one. */
static Extent their_extent(const Config *c, const Tensor *x, int how, const Entry *s) {
  uint64_t bytes = (uint64_t)FORMATS[s->format].bits / 8, all = s->end - s->begin;
  Extent at = {0, s->begin, all, all};         /* which file: copy_tensors */
  const char *last = x->name + strlen(x->name) - 1;
  uint64_t part = *last == 'q' ? 0 : *last == 'k' ? 1 : 2;
  if (how == LATER) {                          /* the first two rows are for padding */
    at.at += 2 * bytes * (uint64_t)x->cols;
    at.run = bytes * (uint64_t)tensor_count(x);
  }
  if (how & FUSED) {
    uint64_t before;
    fused_rows(c, x->name, &before);
    at.at += before * bytes * (uint64_t)x->rows;
    at.run = bytes * (uint64_t)tensor_count(x);
  }
  /* each row holds q, k and v of all heads, one after the other */
  if (how == THIRDS) at.run = bytes * (uint64_t)(x->rank == 2 ? x->cols : x->rows);
  /* the rows of q, of k and of v of one head, then those of the next */
  if (how == HEADS)
    at.run = bytes * (uint64_t)c->head_dim * (uint64_t)(x->rank == 2 ? x->rows : 1);
  if (how == THIRDS || how == HEADS) {
    at.at += part * at.run;
    at.stride = 3 * at.run;
  }
  return at;
}

typedef struct Planned { Entry *from, *scales; int how; } Planned;

/* By its name in full, or without the family's prefix. */
static Entry *entry_find(const Folder *f, const Family *family, const char *name) {
  size_t n = strlen(family->prefix);
  Entry *x = folder_find(f, name);
  return x || strncmp(name, family->prefix, n) ? x : folder_find(f, name + n);
}

static void shape_text(char text[160], int rank, const uint64_t *shape) {
  int n = snprintf(text, 160, "[");
  for (int i = 0; i < rank; i++)
    n += snprintf(text + n, 160 - (size_t)n, "%s%llu", i ? "," : "", (unsigned long long)shape[i]);
  snprintf(text + n, 160 - (size_t)n, "]");
}

/* A tensor of the folder, its format and shape checked; packed: its numbers are bytes. */
static int plan_entry(Entry **to, const char *name, int rank, const uint64_t *shape, bool packed,
                      const Folder *f, const Family *family, Error *e) {
  char wanted[160], found[160];
  shape_text(wanted, rank, shape);
  Entry *s = entry_find(f, family, name);
  if (!s)
    return fail(e, 1, "%s: expected tensor %s %s, found none of this name. Try: a %s with all "
                      "its files", f->path, name, wanted, family->type);
  shape_text(found, s->rank, s->shape);
  if (strcmp(wanted, found))
    return fail(e, 1, "%s: expected %s of %s, found %s. Try: the config.json that belongs to "
                      "it", f->shard[s->file].path, name, wanted, found);
  if (packed ? strcmp(FORMATS[s->format].tag, "U8") : s->format >= FORMATS_READ)
    return fail(e, 1, "%s: expected %s in %s, found %s. Try: a model that is not quantised, saved "
                      "in one of these", f->shard[s->file].path, name,
                packed ? "U8" : "F32, F16 or BF16", FORMATS[s->format].tag);
  s->used = true;
  *to = s;
  return 0;
}

static int plan_tensor(Planned *p, const Model *list, int i, const Folder *f,
                       const Family *family, Error *e) {
  const Tensor *x = list->all[i];
  char name[160], packed[176]; uint64_t shape[RANK_MOST];
  if (counterpart(family->tensors, x, name, &p->how, e) || p->how & IN_CONFIG) return e->status;
  int rank = their_shape(&list->c, x, p->how, shape);
  snprintf(packed, sizeof packed, "%s_blocks", name);
  if (!(p->how & STACKED) || x->rank < 2 || !entry_find(f, family, packed))
    return plan_entry(&p->from, name, rank, shape, false, f, family, e);
  packed_shape(shape);
  plan_entry(&p->from, packed, 4, shape, true, f, family, e);
  snprintf(packed, sizeof packed, "%s_scales", name);
  return e->status ? e->status : plan_entry(&p->scales, packed, 3, shape, true, f, family, e);
}

static bool same_bytes(const Folder *f, const Entry *a, const Entry *b) {
  const Entry *x[2] = {a, b}; uint64_t hash[2];
  for (int i = 0; i < 2; i++) {
    FILE *in = fopen(f->shard[x[i]->file].path, "rb");
    const bool good = in && bytes_hash(in, x[i]->begin, x[i]->end - x[i]->begin, &hash[i]);
    if (in) fclose(in);
    if (!good) return false;
  }
  return a->format == b->format && hash[0] == hash[1];
}

/* Is this a buffer that nothing reads? */
static bool needless(const Family *family, const Config *c, const char *name) {
  int number[2] = {0, 0};
  const size_t n = strlen(family->prefix);
  for (int i = 0; NEEDLESS[i]; i++) {
    bool ours = !strncmp(NEEDLESS[i], family->prefix, n);
    if (ours && (fits(NEEDLESS[i], name, number) || fits(NEEDLESS[i] + n, name, number)))
      return number[0] < c->layers;
  }
  return false;
}

/* Every tensor of the model, and every one that is stored, or an error that names the first. */
static int plan(Planned *p, const Model *list, const Folder *f, const Family *family, Error *e) {
  const Entry *embedding = NULL;
  const Counterpart *last = family->tensors;
  while (last[1].ours) last++;
  for (int i = 0; i < list->n_tensors; i++) {
    if (plan_tensor(&p[i], list, i, f, family, e)) return e->status;
    if (!strcmp(list->all[i]->name, "wte")) embedding = p[i].from;
  }
  for (idx i = 0; i < f->tensors; i++) {
    const Entry *x = &f->tensor[i];
    const size_t n = strlen(last->theirs);
    if (list->c.tied && !strncmp(x->name, last->theirs, n) && !strcmp(x->name + n, ".weight")) {
      if (same_bytes(f, x, embedding)) continue;           /* said twice */
      return fail(e, 1, "%s: expected %s to be the embedding, to which config.json ties it, found "
                  "other numbers. Try: \"tie_word_embeddings\": false there",
                  f->shard[x->file].path, x->name);
    }
    if (!x->used && !needless(family, &list->c, x->name))
      return fail(e, 1, "%s: expected the tensors of a %s of %d layers, found %.100s too. "
                        "Try: the config.json that belongs to it", f->shard[x->file].path,
                  family->type, list->c.layers, x->name);
  }
  return 0;
}

/* The tensors of a plan, in the model's order. */
static int copy_tensors(ModelWriter *w, const Planned *p, const Folder *f, bool link, Error *e) {
  int *source = grab(f->shards, sizeof *source, e);
  stop_gently();
  for (int i = 0; i < f->shards && !e->status; i++)
    source[i] = model_file_source(w, f->shard[i].path, f->shard[i].head, link, e);
  for (int i = 0; i < w->head.list.n_tensors && !e->status; i++) {
    const Tensor *x = w->head.list.all[i];
    const Entry *s = p[i].from;
    if (p[i].how & IN_CONFIG) {
      long_copy(w, f->path, e);
      continue;
    }
    bool turned = p[i].how & TURNED || p[i].how == HEADS || p[i].how == TAPS;
    Extent at = their_extent(&w->head.list.c, x, p[i].how, s);
    at.file = source[s->file];
    if (p[i].how & PLUS_ONE) plus_one_copy(w, s->name, s->format, &at, e);
    else if (p[i].how & STACKED) stacked_copy(w, s, p[i].scales, source, e);
    else model_file_copy(w, s->name, s->format, turned && x->rank == 2 ? OUT_IN : IN_OUT, &at, e);
  }
  free(source);
  return e->status;
}

/* llama2.c's file, as if it were a safetensors file of a llama: 7 integers of 32 bits (dim, hidden,
 * layers, heads, key heads, vocabulary, context; a vocabulary below 0 means an unembedding of its
 * own), then 32-bit floats, end to end: each row of this table, of all blocks in turn. Heads pair
 * dims (2p, 2p + 1). */
enum { BIN_HEAD = 28, BIN_NAME = 160 };

static const char *const BIN[] = {
  "wte", "l*.norm1", "l*.wq", "l*.wk", "l*.wv", "l*.wo", "l*.norm2", "l*.w1", "l*.w3", "l*.w2",
  "normf", "",                 /* cosines and sines [T,D], which are made anew */
  "wcls"};

/* Fills s->model from the head. */
static int bin_head(Settings *s, const unsigned char head[BIN_HEAD], const char *path, Error *e) {
  static const char *const FLAGS[] = {"dim", "ffn", "layers", "heads", "kv-heads", "vocab",
                                      "context"};
  settings_default(s);
  if (number_at(head, 4) == 0x616B3432)
    return fail(e, 1, "%s: expected the first format of llama2.c, found a later one. Try: its "
                      "export.py with --version 0", path);
  for (int i = 0; i < 7; i++) {
    const Option *o = option_find(FLAGS[i], MODEL);
    int64_t n = (int32_t)(uint32_t)number_at(head + 4 * i, 4);
    char text[32];
    if (o->field == offsetof(Settings, model.vocab)) {
      s->model.tied = n > 0;
      if (n < 0) n = -n;
    }
    if (n < (int64_t)o->least || n > (int64_t)o->most)
      return fail(e, 1, "%s: expected %s of %.10g to %.10g in a file of llama2.c, found %lld. Try: "
                  "check that it is one", path, o->flag, o->least, o->most, (long long)n);
    snprintf(text, sizeof text, "%lld", (long long)n);
    option_set(o, s, text, true, e);
  }
  s->model.rope_pairing = PAIR_INTERLEAVED;
  const Config *c = &s->model;
  if (c->dim % c->heads || c->heads % c->kv_heads)
    return fail(e, 1, "%s: expected heads that divide the width and key heads that divide "
                      "them, found %d, %d and %d. Try: check that it is llama2.c's",
                path, c->dim, c->heads, c->kv_heads);
  return e->status;
}

/* Resolves s->model, which `from` described. */
static int settings_resolve(Settings *s, const char *from, Error *e) {
  Error own = {0};
  if (!config_resolve(&s->model, &own)) return 0;
  return fail(e, 1, "%s: expected a model that sink can be, found %s", from, own.text);
}

/* Fills s->model and f, as folder_open does, from the file at path of `size` bytes. */
static int bin_open(Folder *f, Settings *s, const char *path, const unsigned char head[BIN_HEAD],
                    uint64_t size, Error *e) {
  Model list = {0}; uint64_t at = BIN_HEAD;
  *f = (Folder){.path = path};
  if (bin_head(s, head, path, e) || settings_resolve(s, path, e) ||
      model_list(&list, &s->model, e)) return e->status;
  f->shard = grab(1, sizeof *f->shard, e);
  f->tensor = grab(list.n_tensors, sizeof *f->tensor, e);
  f->names = grab(list.n_tensors, BIN_NAME, e);
  if (!e->status && !path_make(f->shard[0].path, e, "%s", path)) f->shards = 1;
  for (size_t i = 0; i < sizeof BIN / sizeof BIN[0] && !e->status; i++) {
    if (!*BIN[i]) at += 4 * (uint64_t)list.c.context * (uint64_t)list.c.head_dim;
    for (int k = 0; k < list.n_tensors && !e->status; k++) {
      const Tensor *ours = list.all[k];
      char *name = f->names + f->tensors * BIN_NAME;
      int how, number[2];
      if (!fits(BIN[i], ours->name, number) || counterpart(LLAMA, ours, name, &how, e)) continue;
      Entry *x = &f->tensor[f->tensors++];
      *x = (Entry){.name = name, .format = DTYPE_F32, .begin = at,
                   .end = at + 4 * (uint64_t)tensor_count(ours)};
      x->rank = their_shape(&list.c, ours, how, x->shape);
      at = x->end;
    }
  }
  model_free(&list);
  if (e->status) return e->status;
  f->shard[0].head = BIN_HEAD;
  if (at != size)
    return fail(e, 1, "%s: expected %llu bytes for the shape that it begins with, found %llu. "
                      "Try: download it again", path, (unsigned long long)at,
                (unsigned long long)size);
  return folder_sort(f, e);
}

/* Opens a folder, or a file of llama2.c (*one), as the resolved s->model and f, to be freed. */
static const Family *published_open(Folder *f, Settings *s, const char *from, bool *one, Error *e) {
  unsigned char head[BIN_HEAD]; char name[1024]; uint64_t size = 0; Json config = {0};
  const Family *family = NULL;
  FILE *in = fopen(from, "rb");
  *one = in && fread(head, 1, sizeof head, in) == sizeof head;     /* a folder cannot be read */
  if (*one && !file_size(in, &size)) fail(e, 1, "%s: cannot be read. Try: check the disk", from);
  if (in) fclose(in);
  if (*one) {
    if (!memcmp(head, "PK\003\004", 4) || head[0] == '{' || head[8] == '{')
      fail(e, 1, "%s: expected a folder or a file of llama2.c, found one file of a folder. "
                 "Try: the folder with its config.json", from);
    return e->status || bin_open(f, s, from, head, size, e) ? NULL : &FAMILIES[LLAMA_FAMILY];
  }
  if (!path_make(name, e, "%s/config.json", from) && !json_load(&config, name, e))
    family = family_read(&config, s, e);
  json_free(&config);
  if (family && !folder_open(f, from, e) &&
      (family->tensors != GEMMA_IMAGE || !image_out(f, e))) settings_resolve(s, from, e);
  return family;
}

/* A published model as the model file `out`; a folder, or a file of llama2.c. tokenizer: a file or
 * folder, "" for the folder's own, which goes to `out`.tok. One that sink cannot be does not keep
 * a model from being looked at with ids made elsewhere: it is told on stderr. Prints a line. */
static int import_model(const char *from, const char *out, bool link, const char *tokenizer,
                        Error *e) {
  Bytes file = {0}; Tokenizer t = {0}; char words[1024]; bool one;
  Settings s; Folder f = {0}; ModelWriter w; Error own = {0};
  const Family *family = published_open(&f, &s, from, &one, e);
  path_make(words, e, "%s.tok", out);
  if (!e->status && *tokenizer) tokenizer_named(tokenizer, s.model.vocab, &file, &t, e);
  else if (!e->status && !one && tokenizer_from(from, s.model.vocab, &file, &t, &own))
    fprintf(stderr, "hf: without its tokenizer: %s\n", own.text);
  if (*tokenizer || !one) s.data.bos = t.published ? t.published->begins : t.bos == TOKEN_BOS;
  s.data.fix_token = t.vocab && !t.published && t.bos == TOKEN_FIX;
  if (!e->status && !model_file_begin(&w, out, &s, t.hash, e)) {
    int tensors = w.head.list.n_tensors;
    idx count = w.head.list.count;
    Planned *p = grab(tensors, sizeof *p, e);
    if (p && !plan(p, &w.head.list, &f, family, e)) copy_tensors(&w, p, &f, link, e);
    free(p);
    if (!model_file_end(&w, e) && t.vocab) file_write(words, file.at, file.size, e);
    else if (!e->status) remove(words);                    /* an older model's, with --force */
    if (!e->status && f.left_out)
      fprintf(stderr, "hf: left out: the image part, %lld tensors (vision_tower.*, "
              "multi_modal_projector.*). Texts alone: no image tokens\n", (long long)f.left_out);
    if (!e->status)
      printf("family=%s tensors=%d parameters=%lld files=%d linked=%s tokenizer=%s out=%s\n",
             family->type, tensors, (long long)count, f.shards, link ? "yes" : "no",
             t.vocab ? words : "none", out);
  }
  tokenizer_free(&t); bytes_free(&file); folder_free(&f);
  return e->status;
}

/* -------------------------------------------------------------------------------------------------
 * 17  Multiple choice                                                     appendix B.3, [FIG10]
 *
 * A question is a context and a few endings, one of them right. The model's answer is the ending
 * with the largest log p, summed over its tokens (acc), or per character (acc_norm): the rule of
 * the LM evaluation harness for HellaSwag. Context and ending, joined by a blank, are encoded as
 * one text; the tokens beyond as many as the context alone has are the ending's, and so is white
 * space at the context's end. Of a text longer than the model's context the last tokens are taken.
 * The harness puts no bos first: --no-bos.
 *
 * --choices FILE has a question a line, fields between tabs: the number of the right ending, from
 * 0; the context; the endings. \t, \n and \\ stand for a tab, a new line and a backslash. Blank
 * lines say nothing, nor does a byte order mark at the start; so in HellaSwag's file.
 *
 * hf choices makes it of HellaSwag's own file, a question a line of JSON: activity_label, ctx_a,
 * ctx_b, endings, label. The harness reads it as the context "LABEL: CTX_A CTX_B", CTX_B with its
 * first letter large and the others small (here those of ASCII), and in every text, less the white
 * space at its ends, " [title]" becomes ". ", then what stands in [] is dropped, and two blanks
 * become one. */
enum { ENDINGS_MOST = 9 };

/* Strings that begin at text + field[..], the context first; `gold`, from 0, is right. */
typedef struct Question { int gold, endings; size_t field[1 + ENDINGS_MOST]; } Question;
typedef struct Choices { unsigned char *text; int n; Question *question; } Choices;

static void choices_free(Choices *c) { free(c->text); free(c->question); *c = (Choices){0}; }

/* What Python's str.strip takes away. */
static bool is_white(uint32_t code) {
  static const Range WHITES[] = {
    {0x09, 0x0D, 1}, {0x1C, 0x20, 1}, {0x85, 0x85, 1}, {0xA0, 0xA0, 1}, {0x1680, 0x1680, 1},
    {0x2000, 0x200A, 1}, {0x2028, 0x2029, 1}, {0x202F, 0x202F, 1}, {0x205F, 0x205F, 1},
    {0x3000, 0x3000, 1}};
  return range_value(WHITES, (int)(sizeof WHITES / sizeof *WHITES), code, 0);
}

/* Where n bytes of text end without the white space at their end; *from: where they begin. */
static size_t text_end(const unsigned char *text, size_t n, size_t *from) {
  size_t end = 0, length; uint32_t code;
  *from = n;
  for (size_t at = 0; at < n; at += length) {
    length = char_at(text + at, n - at, &code);
    if (is_white(code)) continue;
    if (!end) *from = at;
    end = at + length;
  }
  return end;
}

/* The next line of n > 0 bytes without its end, *size of it; returns all its bytes. */
static size_t line_next(const unsigned char *p, size_t n, size_t *size) {
  const unsigned char *end = memchr(p, '\n', n);
  const size_t whole = end ? (size_t)(end - p) + 1 : n;
  *size = whole - (end != NULL);
  if (*size && p[*size - 1] == '\r') --*size;
  return whole;
}

static size_t mark_length(const unsigned char *p, size_t n) {      /* of a byte order mark */
  return n >= 3 && !memcmp(p, "\xEF\xBB\xBF", 3) ? 3 : 0;
}

/* Turns the field of n bytes at `from`, escapes undone, into a string at `to`; its length. */
static size_t field_plain(unsigned char *to, const unsigned char *from, size_t n) {
  size_t length = 0;
  for (size_t i = 0; i < n; i++) {
    unsigned char c = from[i], next = i + 1 < n ? from[i + 1] : 0;
    bool escape = c == '\\' && (next == 't' || next == 'n' || next == '\\');
    to[length++] = !escape ? c : next == 't' ? '\t' : next == 'n' ? '\n' : '\\';
    i += escape;
  }
  to[length] = 0;
  return length;
}

/* 1 with the number of the line that is none; on failure nothing is held. */
static int choices_read(const unsigned char *p, size_t n, const char *name, Choices *out,
                        Error *e) {
  const size_t mark = mark_length(p, n);
  int lines = 1;
  *out = (Choices){0};
  p += mark, n -= mark;
  for (size_t i = 0; i < n; i++) lines += p[i] == '\n';
  out->text = grab((idx)n + lines + 1, 1, e);              /* every field grows by its end */
  out->question = grab(lines, sizeof *out->question, e);
  size_t at = 0;
  for (int line = 1; !e->status && line <= lines; line++) {
    Question *q = &out->question[out->n];
    size_t size = 0, blank, whole = n ? line_next(p, n, &size) : 0;
    if (size && !memchr(p, '\t', size) && !text_end(p, size, &blank)) size = 0;
    *q = (Question){.gold = -1, .endings = -1};
    for (size_t from = 0, field; size && from <= size; from += field + 1) {
      const unsigned char *tab = memchr(p + from, '\t', size - from);
      field = (tab ? (size_t)(tab - p) : size) - from;
      if (q->gold < 0) {
        if (field != 1 || !isdigit(p[from])) break;
        q->gold = p[from] - '0';
      } else if (++q->endings > ENDINGS_MOST) break;
      else {
        q->field[q->endings] = at;
        at += field_plain(out->text + at, p + from, field) + 1;
      }
    }
    if (size && (q->endings < 2 || q->endings > ENDINGS_MOST || q->gold >= q->endings))
      fail(e, 1, "%s:%d: expected the number of the right ending from 0, a context and 2 to "
           "%d endings between tabs, found another line. Try: hf choices FILE.jsonl --out %s",
           name, line, ENDINGS_MOST, name);
    out->n += size > 0;
    p += whole;
    n -= whole;
  }
  if (!e->status && !out->n)
    fail(e, 1, "%s: expected a question a line, found none. Try: hf choices FILE.jsonl --out "
         "%s", name, name);
  if (e->status) choices_free(out);
  return e->status;
}

/* A context with an ending: `length` tokens from `at`; those from `scored` on are the ending's. */
typedef struct Choice { size_t at; int length, scored; } Choice;

/* Encodes a question's endings, one Choice each, behind ids. */
static int choices_encode(Data *d, const Settings *s, const Choices *c, const Question *q, Ids *ids,
                          Choice *out, int most, Error *e) {
  const unsigned char *context = c->text + q->field[0];
  const size_t size = strlen((const char *)context);
  const int32_t bos = d->bos;
  Ids alone = {0}; Bytes text = {0}; size_t from_here;
  tokenizer_encode(&d->tokenizer, context, text_end(context, size, &from_here), &alone, e);
  for (int k = 0; k < q->endings && !e->status; k++) {
    const char *ending = (const char *)c->text + q->field[1 + k];
    size_t from = ids->size;
    text.size = 0;
    bytes_add(&text, context, size, e);
    bytes_add(&text, " ", size > 0, e);
    bytes_add(&text, ending, strlen(ending), e);
    if (s->data.bos) ids_add(ids, &bos, 1, e);
    tokenizer_encode(&d->tokenizer, text.at, text.size, ids, e);
    int length = (int)(ids->size - from), scored = (int)alone.size + (s->data.bos ? 1 : 0);
    int cut = length > most + 1 ? length - most - 1 : 0;
    if (scored >= length) scored = length - 1;           /* the last token at least */
    out[k] = (Choice){from + (size_t)cut, length - cut, scored > cut ? scored - cut : 1};
    if (length < 2)
      fail(e, 1, "--choices: expected endings of a token or more, found \"%.40s\". Try: "
           "--bos", ending);
  }
  ids_free(&alone); bytes_free(&text);
  return e->status;
}

/* The tokens that are fed of the longest of n choices, all but its last. */
static int choices_longest(const Choice *c, int n) {
  int T = 1;
  while (n--) if (c[n].length - 1 > T) T = c[n].length - 1;
  return T;
}

/* log p of every choice, `batch` of them at a time. */
static int choices_log_p(double *log_p, Model *m, const Choice *choice, int n, const Ids *tokens,
                           const Settings *s, Error *e) {
  Acts a = {0};
  int most = choices_longest(choice, n), batch = evaluation_batch(m, n, most, e);
  int *ids = grab(2 * (idx)batch * most, sizeof(int), e);
  if (!e->status) acts_create(&a, m, batch, most, ACTS_ONE, e);
  if (m->seams.begin) m->seams.begin(m, (n + batch - 1) / batch, true, s->quiet);
  for (int from = 0; from < n && !e->status; from += batch) {
    const Choice *c = &choice[from];
    int B = n - from < batch ? n - from : batch, T = choices_longest(c, B);
    int *targets = ids + (idx)B * T;
    for (int b = 0; b < B; b++)                          /* what is short ends in token 0 */
      for (int t = 0; t < T; t++) {
        const bool fed = t < c[b].length - 1;
        ids[b * T + t] = fed ? tokens->at[c[b].at + (size_t)t] : 0;
        targets[b * T + t] = fed ? tokens->at[c[b].at + (size_t)t + 1] : 0;
      }
    model_forward(m, &a, ids, B, T);
    model_loss(m, &a, targets, B, T, false, 1);
    for (int b = 0; b < B; b++)
      for (int t = c[b].scored - 1; t < c[b].length - 1; t++)
        if (!(a.loss_row[(idx)b * T + t] < 0))       /* -1 inside a prefix */
          log_p[from + b] -= a.loss_row[(idx)b * T + t];
    for (int b = 0; b < B && !model_fault(m, e); b++)
      if (!isfinite(log_p[from + b]))
        fail(e, 1, "--choices: ending %d has no finite log p. Try: another model", from + b);
  }
  if (m->seams.end) m->seams.end(m, e);
  acts_free(&a); free(ids);
  return e->status;
}

/* Of the first --questions of --choices the share that m answers rightly, by log p and by log p a
 * character. 1 for a file that cannot be read; 2 where d has no tokenizer. */
typedef struct Chosen { int n; double acc, acc_norm; } Chosen;
static int choices_answer(Chosen *out, Model *m, Data *d, const Settings *s, Error *e) {
  const HfOwn *own = &s->own;
  Bytes file = {0}; Choices c = {0}; Ids ids = {0}; int n = 0, right[2] = {0};
  *out = (Chosen){0};
  if (!d->tokenizer.vocab)
    return fail(e, 2, "--choices %s: expected a tokenizer to read it with, found ids alone. "
                      "Try: --text FILE or --grammar FILE", own->choices);
  if (!file_read(own->choices, &file, e)) choices_read(file.at, file.size, own->choices, &c, e);
  bytes_free(&file);
  if (own->questions && c.n > own->questions) c.n = own->questions;
  Choice *choice = grab((idx)c.n * ENDINGS_MOST, sizeof *choice, e);
  double *log_p = grab((idx)c.n * ENDINGS_MOST, sizeof *log_p, e);
  for (int i = 0; i < c.n && !e->status; n += c.question[i++].endings)
    choices_encode(d, s, &c, &c.question[i], &ids, choice + n, m->c.context, e);
  if (!e->status) choices_log_p(log_p, m, choice, n, &ids, s, e);
  for (int i = 0, at = 0; i < c.n && !e->status; at += c.question[i++].endings) {
    const Question *q = &c.question[i];
    int best[2] = {0}; double most[2] = {-INFINITY, -INFINITY};
    for (int k = 0; k < q->endings; k++) {
      int size = 0;                                        /* UTF-8 bytes that begin one */
      for (const unsigned char *at_k = c.text + q->field[1 + k]; *at_k; at_k++)
        size += (*at_k & 0xC0) != 0x80;
      double is[2] = {log_p[at + k], log_p[at + k] / (size ? size : 1)};
      for (int x = 0; x < 2; x++)
        if (is[x] > most[x]) { most[x] = is[x]; best[x] = k; }
    }
    for (int x = 0; x < 2; x++) right[x] += best[x] == q->gold;
  }
  out->n = c.n;
  out->acc = c.n ? (double)right[0] / c.n : 0;
  out->acc_norm = c.n ? (double)right[1] / c.n : 0;
  choices_free(&c); ids_free(&ids); free(choice); free(log_p);
  return e->status;
}

/* The harness's form of a text, added to out with a tab, a new line and a backslash escaped. */
static void choice_text(Bytes *out, const char *from, size_t n, Error *e) {
  static const char TITLE[] = " [title]";
  enum { WIDTH = sizeof TITLE - 1 };
  Bytes titled = {0}, plain = {0}; size_t at;
  const size_t stop = text_end((const unsigned char *)from, n, &at);
  while (at < stop) {
    const bool title = stop - at >= WIDTH && !memcmp(from + at, TITLE, WIDTH);
    bytes_add(&titled, title ? ". " : from + at, title ? 2 : 1, e);
    at += title ? WIDTH : 1;
  }
  const char *s = (const char *)titled.at, *end = s + titled.size;
  while (s < end && !e->status) {
    const size_t left = (size_t)(end - s);
    const char *line = memchr(s, '\n', left), *close = memchr(s, ']', left);
    const bool dropped = *s == '[' && close && (!line || close < line);
    if (!dropped) bytes_add(&plain, s, 1, e);
    s = dropped ? close + 1 : s + 1;
  }
  for (size_t i = 0; i < plain.size; i++) {
    char c = (char)plain.at[i];
    if (c == '\t' || c == '\n' || c == '\\')
      bytes_print(out, e, "\\%c", c == '\t' ? 't' : c == '\n' ? 'n' : c);
    else bytes_add(out, &c, 1, e);
    if (c == ' ' && i + 1 < plain.size && plain.at[i + 1] == ' ') i++;
  }
  bytes_free(&plain); bytes_free(&titled);
}

static int choice_line(Bytes *out, const Json *j, Error *e) {
  const JsonValue *parts[] = {json_get(j, j->at, "activity_label"), json_get(j, j->at, "ctx_a"),
                          json_get(j, j->at, "ctx_b")};
  const JsonValue *endings = json_get(j, j->at, "endings"), *label = json_get(j, j->at, "label");
  const int right = label && label->size == 1 ? j->text[label->at] - '0' : -1;
  Bytes text = {0};
  bool good = json_kind(endings, JSON_ARRAY) && endings->size >= 2 &&
              endings->size <= ENDINGS_MOST && right >= 0 && right < (int)endings->size;
  for (int i = 0; i < 3; i++) good = good && json_kind(parts[i], JSON_STRING);
  for (uint32_t i = 0; good && i < endings->size; i++)
    good = json_at(j, endings, i)->kind == JSON_STRING;
  if (!good)
    return fail(e, 1, "%s: expected activity_label, ctx_a, ctx_b, 2 to %d endings and the "
                "label of one of them, found another line. Try: hellaswag_val.jsonl", j->name,
                ENDINGS_MOST);
  for (int i = 0; i < 3; i++) {
    bytes_print(&text, e, "%s", i == 1 ? ": " : i ? " " : "");
    size_t from = text.size;
    bytes_add(&text, j->text + parts[i]->at, parts[i]->size, e);
    for (size_t k = from; i == 2 && k < text.size; k++)
      text.at[k] = (unsigned char)(k == from ? toupper(text.at[k]) : tolower(text.at[k]));
  }
  bytes_print(out, e, "%d\t", right);
  choice_text(out, (const char *)text.at, text.size, e);
  for (const JsonValue *x = endings + 1; x < j->at + endings->next; x = j->at + x->next) {
    bytes_print(out, e, "\t");
    choice_text(out, j->text + x->at, x->size, e);
  }
  bytes_print(out, e, "\n");
  bytes_free(&text);
  return e->status;
}

static int import_choices(const char *path, const char *to, Error *e) {
  Bytes file = {0}, out = {0}; int questions = 0, line = 0;
  if (!file_read(path, &file, e) && !file_ready(to, e))
    for (size_t at = mark_length(file.at, file.size); at < file.size && !e->status;) {
      size_t n, blank; char name[PATH_ROOM + 32]; Json j = {0};
      const unsigned char *text = file.at + at;
      at += line_next(text, file.size - at, &n);
      snprintf(name, sizeof name, "%.500s:%d", path, ++line);
      if (!text_end(text, n, &blank)) continue;
      if (!json_read(&j, text, n, name, e) && !choice_line(&out, &j, e)) questions++;
      json_free(&j);
    }
  if (!e->status && !out.size)
    fail(e, 1, "%s: expected a question a line, found none. Try: hellaswag_val.jsonl", path);
  if (!e->status && !file_write(to, out.at, out.size, e))
    printf("questions=%d out=%s\n", questions, to);
  bytes_free(&file); bytes_free(&out);
  return e->status;
}

/* -------------------------------------------------------------------------------------------------
 * 18  [E1] [E4] [E10] The statements of chapter 7 on a trained or a published model
 *
 * A statement is measured where the model has what it presupposes; where the states of a repeated
 * token must part, that they do is the control. Propositions 1 to 4 become questions: their bound
 * on A_ti must hold, but whether "no attention sink on repeated tokens" does, the model says.
 * A model of any size is read from its file, once for each of three forwards: a token again and
 * again, random tokens, and these with their second half changed. */
enum { TRAINED_T = 32 };     /* even rows: alpha_1 = H_32/32 = 0.127, far below 0.3 */

/* Trained models amplify a rounding more than toys: large states, and scores of tens of nats. */
#define TRAINED_STATES (10 * STATES)
#define TRAINED_ROWS (100 * STATES)

/* What a model has: rows that sum to the scale; a token 1 that sees itself alone; states of a
 * repeated token that stay equal (7.2), or need not; what propositions 1, 2, 3 and 4 are about;
 * scores that are q k^T; no prefix as far as the second half; states of such a token that part. */
enum { SUMS = 1, LONE_FIRST = 2, EQUAL = 4, NOT_EQUAL = 8, NONE = 16, RELATIVE = 32, ALIBI = 64,
       ROTARY = 128, DOT_SCORES = 256, SECOND_HALF = 512, APART_SURELY = 1024 };

/* Whether the states of a repeated token, which are not all equal by law, must part. They do by
 * their positions, and by row sums that grow with the keys; but log n or 1 / n may take that back,
 * a row that sees itself alone has no others, and a sum of ReLUs may be 0 or 1 in every row. Nor is
 * a sum felt behind XSA or a head norm: without x*, o is a multiple of the one v. */
static bool parts_surely(const Config *c) {
  bool sums = c->sim < SIM_SOFTPICK && !config_clips(c) && c->normalizer != NORMALIZER_CLAMP;
  bool grow = c->normalizer != NORMALIZER_COUNT && c->extra != EXTRA_LOGN && c->shift != SHIFT_LOGN
              && !c->sparse_top;
  return c->pos == POS_LEARNED || c->pos == POS_ABSOLUTE || config_attending(c) < c->layers
      || (sums && grow && c->window != 1 && (c->sink_token || (!c->xsa && !c->head_norm)));
}

static int premises(const Config *c) {
  _Static_assert(POS_ROWS == 7 && KERNEL_ROWS == 3 && SIM_ROWS - SIM_SOFTPICK == 5
                 && NORMALIZER_ROWS == 5 && EXTRA_ROWS == 6 && PLACE_ROWS == 4 && GATE_ROWS == 5,
                 "a new row: which premises has it?");
  bool soft = c->sim == SIM_EXP, sums = c->normalizer == NORMALIZER_SUM && !c->extra
                                     && !c->sink_token && c->sim < SIM_SOFTPICK && !config_clips(c)
                                     && !(c->gain && c->sim == SIM_IDENTITY);   /* row 1 has 0 */
  bool equal = sums && c->pos != POS_LEARNED && c->pos != POS_ABSOLUTE
            && config_attending(c) == c->layers;
  bool law = equal && soft && !c->window && !c->prefix && !c->sparse_top;
  bool shaped = config_score_mod(c), all = !c->sparse_top;
  return sums * SUMS | (sums && soft && c->prefix < 2) * LONE_FIRST
       | (equal ? EQUAL : NOT_EQUAL) | (law && c->pos == POS_NONE) * NONE
       | (law && !shaped && (c->pos == POS_RELATIVE || c->pos == POS_T5)) * RELATIVE
       | (law && !shaped && c->pos == POS_ALIBI) * ALIBI
       | (equal && soft && all && !shaped && c->pos == POS_ROTARY) * ROTARY
       | (c->kernel == KERNEL_IDENTITY && all && !shaped) * DOT_SCORES
       | (c->prefix <= TRAINED_T / 2) * SECOND_HALF | parts_surely(c) * APART_SURELY;
}

/* The states was [L+1,T,C] of the random tokens, of which the second half was changed since: how
 * many numbers of the first half moved; how many states of the second did not. */
static double first_half_moved(const Toy *y, const real *was) {
  idx C = y->m.c.dim, T = y->T;
  double moved_numbers = 0;
  for (int l = 0; l <= y->m.c.layers; l++)
    moved_numbers += differing(T / 2 * C, was + l * T * C, toy_state(y, l, 1));
  return moved_numbers;
}
static double second_half_stayed(const Toy *y, const real *was) {
  idx C = y->m.c.dim, T = y->T;
  double stayed = 0;
  for (int l = 0; l <= y->m.c.layers; l++)
    for (int t = (int)T / 2 + 1; t <= T; t++)
      stayed += !(differing(C, was + (l * T + t - 1) * C, toy_state(y, l, t)) > 0);
  return stayed;
}

/* Is key i visible to row t, behind the sink tokens? */
static bool place_seen(Place s) {
  int first = s.y->m.c.sink_token - 1;
  return visible(&s.y->m.c, s.y->m.layer[s.l].window, first + s.t, first + s.i);
}

/* The largest f over all blocks that attend, heads, rows, and the keys up to t that a row sees. */
static double trained_worst(const Toy *y, double f(Place s)) {
  double most = -INFINITY;
  for (Place s = {.y = y}; s.l < y->m.c.layers; s.l++)
    for (s.h = 0; s.h < y->m.c.heads && config_attends(&y->m.c, s.l); s.h++)
      for (s.t = 1; s.t <= y->T; s.t++)
        for (s.i = 1; s.i <= s.t; s.i++)
          if (place_seen(s))
            most = larger(most, f(s));
  return most;
}
/* The largest and the least alpha_1 of a head. */
static double largest_alpha(const Toy *y) {
  double most = -INFINITY;
  for (int n = 0; n < y->m.c.layers * y->m.c.heads; n++)
    if (config_attends(&y->m.c, n / y->m.c.heads))
      most = larger(most, head_alpha(y, n, 1));
  return most;
}
static double least_alpha(const Toy *y) {
  double least = INFINITY;
  for (int n = 0; n < y->m.c.layers * y->m.c.heads; n++)
    if (config_attends(&y->m.c, n / y->m.c.heads))
      least = smaller(least, head_alpha(y, n, 1));
  return least;
}

static double off_alone(Place s) { return s.t == 1 ? fabs(1 - A_ti(s)) : 0; }
static double off_sum(Place s) { return s.i == s.t ? off_scale(s) : 0; }

/* <q, k> and |q||k| as the model left them, and what scores are divided by. */
static const real *trained_q(Place s) {
  const Config *c = &s.y->m.c;
  return s.y->a.layer[s.l].q + ((idx)(c->sink_token + s.t - 1) * c->heads + s.h) * c->head_dim;
}
static const real *trained_k(Place s) {
  const Config *c = &s.y->m.c;
  int h = s.h / (c->heads / c->kv_heads);
  return s.y->a.layer[s.l].k + ((idx)(c->sink_token + s.i - 1) * c->kv_heads + h) * c->head_dim;
}
static double trained_root(Place s) {
  return 1 / (double)s.y->m.layer[s.l].root;
}
static double trained_xi(Place s) {
  int D = s.y->m.c.head_dim;
  return length(D, trained_q(s)) * length(D, trained_k(s)) / trained_root(s);
}

/* Scores off <q, k>/sqrt(d_h) + b, relative to 1 + |q||k|/sqrt(d_h). */
static double off_score(Place s) {
  double z = vec_dot(s.y->m.c.head_dim, trained_q(s), trained_k(s)) / trained_root(s);
  return fabs(score(s) - z - closed_bias(s.y, s.h, s.t - s.i)) / (1 + trained_xi(s));
}

/* xi of a row; the largest A_ti over equation 28's bound, whose t is how many keys the row sees. */
static double xi_of_row(Place s) {
  s.i = 1;
  return trained_xi(s);
}
static double over_bound(Place s) {
  double xi = xi_of_row(s), share = A_ti(s);
  int seen = 0;
  for (s.i = 1; s.i <= s.t; s.i++)
    seen += place_seen(s);
  return seen > 1 ? share / equation28(xi, seen) : 0;
}

/* A row's weights and metric off what its own scores make of them. */
static double off_row(Place s) {
  const Config *c = &s.y->m.c;
  double z[TRAINED_T + 1 + SINK_TOKENS];
  int from = 1 - !!c->extra - c->sink_token;
  if (s.i != s.t)
    return 0;
  for (s.i = from; s.i <= s.y->T; s.i++) {
    bool seen = s.i <= -c->sink_token || place_seen(s);   /* * always */
    if (c->sparse_top && s.i > -c->sink_token && score(s) == 0)
      seen = false;                      /* left out: its score is not kept */
    z[s.i - from] = seen ? score(s) : NAN;
  }
  return closed_off(s, from, z);
}

/* What is measured, and no more. */
static void says(Page *p, const char *what, double x) {
  fprintf(p->out, " %-54s %11.6g\n", what, x);
}

/* T tokens for y: n of one stream of the seed, then of another; n = 0: one token repeated. */
static void trained_feed(Toy *y, int n, int vocab) {
  Rng rng = {1}, other = {2};
  for (int t = 0; t < y->T; t++) {
    int id = (int)rng_below(&rng, (uint64_t)vocab);
    int changed = (id + 1 + (int)rng_below(&other, (uint64_t)vocab - 1)) % vocab;
    y->ids[t] = n == 0 ? (t ? y->ids[0] : id) : t < n ? id : changed;
  }
  toy_forward(y);
}

/* Each statement where the model has what it presupposes; where Z holds 1e-8, up to that. */
static void check_random(Page *p, const Toy *y, const real *was) {
  const Config *c = &y->m.c;
  int has = premises(c);
  double more = c->sim == SIM_EXP ? 0 : EPS_IN_Z;
  if (has & SECOND_HALF) {
    holds(p, "eq. 1: numbers of earlier tokens moved by later ones", first_half_moved(y, was), 0);
    holds(p, "  changed tokens that moved no state of theirs", second_half_stayed(y, was), 0);
  }
  if (has & LONE_FIRST)
    holds(p, "sec. 3.1: the first token sees itself alone: 1 - A_11", trained_worst(y, off_alone),
          0);
  if (has & DOT_SCORES)
    holds(p, "eq. 4: scores off <q, k>/sqrt(d_h) + b, relative", trained_worst(y, off_score),
          SCORES + more);
  holds(p, "eq. 4, 29: weights and metric off what the scores make", trained_worst(y, off_row),
        SCORES + more);
  if (has & SUMS)
    holds(p, "eq. 29: row sums off the scale", trained_worst(y, off_sum), STATES + more);
  if (has & LONE_FIRST)
    holds(p, "sec. 3.2: alpha_1 >= 1/T: largest 1 / (T alpha_1)", 1 / (y->T * least_alpha(y)),
          1 + STATES);
}

static void check_repeated(Page *p, const Toy *y) {
  const Config *c = &y->m.c;
  int has = premises(c);
  double spread = toy_spread(y, 1, y->T, y), most = largest_alpha(y);
  double more = c->sim == SIM_EXP ? 0 : EPS_IN_Z;
  if (has & EQUAL)
    holds(p, "eq. 10-17: repeated token: states apart, all blocks", spread, TRAINED_STATES + more);
  else if (has & APART_SURELY)
    control(p, "eq. 10-17: repeated token: states apart, all blocks", spread, 10 * APART);
  else
    says(p, "eq. 10-17: repeated token: states apart, all blocks", spread);
  if (has & NONE)
    holds(p, "eq. 18: no positions: A_ti off 1/t", trained_worst(y, off_even), TRAINED_ROWS);
  if (has & RELATIVE)
    holds(p, "eq. 20: A_ti off e^g(t-i) / sum e^g(n)", trained_worst(y, off_bias), TRAINED_ROWS);
  if (has & ALIBI)
    holds(p, "eq. 22: ALiBi: A_ti off its closed form", trained_worst(y, off_equation22),
          TRAINED_ROWS);
  if (has & ROTARY) {
    holds(p, "eq. 28: rotary: A_ti / bound, t > 1", trained_worst(y, over_bound), 1 + TRAINED_ROWS);
    says(p, "  which speaks up to xi = 0.726; the largest xi", trained_worst(y, xi_of_row));
  }
  if (!(has & EQUAL))
    says(p, "Table 1: the largest alpha_1 of a head, states apart", most);
  else if (most <= 0.3)
    holds(p, "prop. 1-4: \"no sink\": the largest alpha_1 of a head", most, 0.3);
  else
    refutes(p, "prop. 1-4, printed: no sink; the largest alpha_1", most, 0.3);
}

static int check_model(const char *path, FILE *out, Error *e) {
  Page p = {.out = out, .e = e};
  Toy *y = &p.toy[0];
  Trainer t = {0}; char positions[PATH_ROOM];
  real *was = NULL;
  if (checkpoint_open(path, &t, e)) return e->status;
  option_text(option_find("pos", MODEL), &t.s, positions, sizeof positions);
  y->m = t.m;                                              /* it is the toy's now */
  t.m = (Model){0};
  trainer_free(&t);
  const Config *c = &y->m.c;
  idx L = c->layers, C = c->dim;
  int T = c->context < TRAINED_T ? c->context : TRAINED_T;
  if (c->vocab < 2 || T < 4)
    fail(e, 1, "%s: expected 2 tokens and 4 positions or more, found %d and %d. Try: another "
               "model", path, c->vocab, T);
  else if (!acts_create(&y->a, &y->m, 1, T, ACTS_ALL, e)) {
    y->maps = maps_create(&y->a, c, e);
    was = grab((L + 1) * T * C, sizeof(real), e);
    y->T = T;
  }
  if (!e->status) {
    fprintf(out, "%s: %d blocks of %d heads, positions %s; %d tokens\n", path, c->layers,
            c->heads, positions, y->T);
    parts_begin(&y->m, 3, false, !isatty(fileno(stderr)));
    trained_feed(y, T / 2, c->vocab);
    for (idx l = 0; l <= L; l++) copy(was + l * T * C, toy_state(y, (int)l, 1), T * C);
    trained_feed(y, T, c->vocab);
    if (!model_fault(&y->m, e)) check_random(&p, y, was);
    trained_feed(y, 0, c->vocab);
    parts_end(&y->m, e);
    if (!model_fault(&y->m, e)) check_repeated(&p, y);
  }
  toy_free(y);
  free(was);
  return e->status ? e->status : page_total(&p, "hf");
}

/* -------------------------------------------------------------------------------------------------
 * 19  Command line: sink's verbs, and these */

static int verb_check_hf(Settings *s, Error *e) {
  const char **words = s->words;
  const int n = s->n_words;
  if (n == 1 && strpbrk(words[0], "./") && file_missing(words[0]))   /* no check is named so */
    return fail(e, 1, "%s: no such model. Try: check the path, or hf check list", words[0]);
  if (n != 1 || file_missing(words[0])) return verb_check(s, e);
  return check_model(words[0], stdout, e);
}

/* The standard error of a share p of n questions, as the harness states it. */
static double share_error(double p, int n) { return n > 1 ? sqrt(p * (1 - p) / (n - 1)) : 0; }

/* What eval measures besides: --choices. */
static int choices_measure(Numbers *besides, Bytes *said, const Settings *s, Trainer *t, Error *e) {
  const HfOwn *own = &s->own;
  Chosen x;
  if (!own->choices[0] || choices_answer(&x, &t->m, &t->data, s, e)) return e->status;
  bytes_print(said, e, "\n%d questions of %s: acc %.4f +- %.4f, acc_norm %.4f +- %.4f\n", x.n,
              own->choices, x.acc, share_error(x.acc, x.n), x.acc_norm,
              share_error(x.acc_norm, x.n));
  put(besides, e, x.n, "questions"); put(besides, e, x.acc, "acc");
  return put(besides, e, x.acc_norm, "acc_norm");
}

/* A cache that forgets turns keys back, and LongRoPE's tables, which also stretch, do not. */
static int verb_cache_hf(Settings *s, Error *e) {
  const char **words = s->words;
  const int n = s->n_words;
  Trainer t = {0};
  if (n == 1 && !checkpoint_open(words[0], &t, e) && if_long(&t.m.c))
    fail(e, 2, "stream: expected angles that stay as they are, found --rope-scaling longrope. Try: "
               "hf eval %s", words[0]);
  trainer_free(&t);
  return e->status ? e->status : verb_cache(s, e);
}

static int out_wanted(const Settings *s, const char *verb, Error *e) {
  return s->out[0] ? 0 : fail(e, 2, "%s: expected --out FILE. Try: hf help %s", verb, verb);
}

static int verb_import(Settings *s, Error *e) {
  const char **words = s->words;
  const int n = s->n_words;
  const HfOwn *own = &s->own;
  if (n != 1)
    return fail(e, 2, "expected a folder and --out, or a verb. Try: hf gpt2 --out "
                      "out/gpt2.model, or hf help");
  char beside[PATH_ROOM + 8], magic[5] = ""; FILE *f = fopen(words[0], "rb");
  const bool ours = f && fread(magic, 1, 4, f) == 4 && !strcmp(magic, "SINK");
  if (f) fclose(f);
  if (ours) return fail(e, 2, "%s: it is sink's own already. Try: hf eval %s", words[0], words[0]);
  snprintf(beside, sizeof beside, "%s.tok", s->out);
  return out_wanted(s, "import", e) || outputs_ready(s, (const char *[]){s->out, beside}, 2, e)
       ? e->status : import_model(words[0], s->out, own->link, own->tokenizer, e);
}

static int verb_export(Settings *s, Error *e) {
  const char **words = s->words;
  const int n = s->n_words;
  char at[1024];
  if (n != 2) return fail(e, 2, "export: expected a model file and a folder. Try: hf help export");
  s->n_words = 1;   /* words[1] is where it goes */
  return path_make(at, e, "%s/config.json", words[1])
      || outputs_ready(s, (const char *[]){at}, 1, e) ? e->status
       : export_folder(s, words[0], words[1], e);
}

static int verb_converts(Settings *s, const char *verb,
                         int (*convert)(const char *from, const char *to, Error *e), Error *e) {
  const char **words = s->words;
  if (s->n_words != 1)
    return fail(e, 2, "%s: expected one file or folder. Try: hf help %s", verb, verb);
  return out_wanted(s, verb, e) || outputs_ready(s, (const char *[]){s->out}, 1, e) ? e->status
       : convert(words[0], s->out, e);
}
static int verb_tokenizer(Settings *s, Error *e) {
  return verb_converts(s, "tokenizer", import_tokenizer, e);
}
static int verb_choices(Settings *s, Error *e) {
  return verb_converts(s, "choices", import_choices, e);
}

/* A model file of this shape in F16 with numbers of about the size that trained ones have: gains of
 * 1, no biases, all others of either sign and 1/128 to 1/64. */
static int synthetic_model(const Settings *s, Error *e) {
  enum { PIECE_NUMBERS = 1 << 18 };
  ModelWriter w; Rng rng = {1};
  unsigned char *piece = grab(PIECE_NUMBERS, 2, e);
  if (e->status || model_file_begin(&w, s->out, s, 0, e)) { free(piece); return e->status; }
  for (int i = 0; i < w.head.list.n_tensors && !e->status; i++) {
    const Tensor *t = w.head.list.all[i];
    bool whole = t->init == INITIAL_ONE || t->init == INITIAL_ZERO || t->init == INITIAL_BIAS;
    bool rows = !strcmp(t->name, "wte") || !strcmp(t->name, "wpe") || t->rank == 1;
    model_file_tensor(&w, t->name, DTYPE_F16, rows ? IN_OUT : OUT_IN, e);
    for (idx n = tensor_count(t); n > 0 && !e->status; n -= PIECE_NUMBERS) {
      for (idx k = 0; k < PIECE_NUMBERS / 4; k++)      /* a sign, exponent 8, 10 bits */
        number_put(piece + 8 * k, t->init == INITIAL_ONE ? 0x3C003C003C003C00u : whole ? 0
                   : (rng_next(&rng) & 0x83FF83FF83FF83FFu) | 0x2000200020002000u, 8);
      model_file_bytes(&w, piece, 2 * (size_t)(n < PIECE_NUMBERS ? n : PIECE_NUMBERS), e);
    }
  }
  free(piece);
  return model_file_end(&w, e);
}

/* Of a forward: 2 operations for each weight and row, of experts' as many as a row takes; 4 D for
 * each key that a row's head sees. */
static double forward_flops(const Model *m, int B, int T) {
  const Config *c = &m->c;
  const idx N = config_rows(c, T);
  double weights = c->tied ? (double)c->vocab * c->embed_dim : 0, seen = 0;
  for (int i = 0; i < m->n_tensors; i++) {
    const Tensor *t = m->all[i];
    if (t->rank == 2 && t->matrix && strcmp(t->name, "wte") && strcmp(t->name, "wpe"))
      weights += (double)tensor_count(t)
                 * (strstr(t->name, ".e") ? (double)c->expert_top / c->experts : 1);
  }
  for (int l = 0; l < c->layers; l++)
    for (idx i = 1, w = config_window(c, l); i <= N; i++) seen += (double)(w && w < i ? w : i);
  return B * (2 * weights * (double)N + 4 * seen * c->heads * c->head_dim);
}

/* GFLOP/s of a square multiply just now, the best of three. */
static double multiply_rate(Error *e) {
  enum { N = 768 };
  real *x = grab(3 * N * N, sizeof(real), e);
  double best = 0;
  for (int try = 0; x && try < 3; try++) {
    double from = seconds();
    matmul(x, N, rows_of(x + N * N, N), rows_of(x + 2 * N * N, N), N, N, N, false);
    best = fmax(best, 2e-9 * N * N * N / (seconds() - from));
  }
  free(x);
  return best;
}

/* hf pace: an evaluation of --batch sequences of --context random tokens, their loss included, by
 * a model that stays in its file --out; that is made first where it is missing. ratio is to a
 * square multiply, and counts the time that is not spent on waiting for the file; ratio_of_cpu,
 * where other programs are running, only that which the processor gave to this one. */
static int verb_pace(Settings *s, Error *e) {
  Trainer t = {0}; Sinks x = {0}; Rng rng = {2};
  if (!s->out[0])
    return fail(e, 2, "pace: expected --out FILE, a model file, which is made where there is "
                      "none. Try: --out out/pace.model --dim 1024 --ffn 4096");
  if (file_missing(s->out) && !file_ready(s->out, e)) synthetic_model(s, e);
  if (e->status || checkpoint_open(s->out, &t, e)) return e->status;
  const Config *c = &t.m.c;
  int B = s->own.batch, T = s->model.context;
  int *ids = t.ids = grab(2 * (idx)B * T, sizeof(int), e);
  for (idx i = 0; ids && i < 2 * (idx)B * T; i++) ids[i] = (int)rng_below(&rng, (uint64_t)c->vocab);
  if (!t.m.file)
    fail(e, 2, "%s: expected a model file, found a checkpoint. Try: another --out", s->out);
  else if (T > c->context)
    fail(e, 2, "pace: expected --context of at most the model's %d, found %d. Try: --context %d",
         c->context, T, c->context);
  double peak = multiply_rate(e);
  if (!e->status && !sinks_create(&x, &t.m, T, B, &s->eps, 1, e)
      && !acts_create(&t.a, &t.m, B, T, ACTS_ONE, e)) {
    const struct ModelFile *f = t.m.file;
    parts_begin(&t.m, 1, true, s->quiet);
    clock_t from = clock();
    sinks_measure(&x, &t.m, &t.a, ids, ids + (idx)B * T, B, METRIC_REAL, e);
    double cpu = (double)(clock() - from) / CLOCKS_PER_SEC / workers();
    parts_end(&t.m, e);
    double computed = f->took - f->waited, gflop = forward_flops(&t.m, B, T) * 1e-9;
    peak = fmax(peak, multiply_rate(e));
    if (!e->status)
      printf("seconds=%.1f waiting=%.1f computing=%.1f cpu=%.1f gb=%.2f gflops=%.1f "
             "ratio=%.3f ratio_of_cpu=%.3f multiply=%.1f activations_mb=%.0f parameters=%.0f "
             "threads=%d\n", f->took, f->waited, computed, cpu, (double)f->read * 1e-9,
             gflop / computed, gflop / computed / peak, gflop / cpu / peak, peak,
             (double)t.a.size * sizeof(real) * 1e-6, (double)t.m.count, workers());
  }
  sinks_free(&x); trainer_free(&t);
  return e->status;
}

/* What is wrong with the questions is told before the work. */
static int verb_run_hf(Settings *s, Error *e) { return run_filmed(s, NULL, e); }
static int verb_eval_hf(Settings *s, Error *e) {
  const char *name = s->own.choices;
  Bytes file = {0};
  Choices c = {0};
  if (s->own.questions && !name[0])
    fail(e, 2, "--questions: it belongs to --choices. Try: with that, or without it");
  if (!e->status && name[0] && !file_read(name, &file, e))
    choices_read(file.at, file.size, name, &c, e);
  bytes_free(&file);
  choices_free(&c);
  return e->status ? e->status : eval_more(s, choices_measure, e);
}

static const Verb HF_VERBS[] = {
  {"import",    "FOLDER|FILE.bin",  FROM_FILES | LINKED | OUTPUT,
   "a published model as --out, and .tok\n"
   "    gpt2, gpt_neox, opt, llama, mistral, jamba, qwen2, qwen3, gemma,\n"
   "    gemma2, gemma3 (its text part), gemma3_text, phi3, olmo2, olmo3,\n"
   "    gpt_oss; FILE.bin is llama2.c's.\n"
   "    The word import may be left out", verb_import},
  {"export",    "MODEL FOLDER",     FROM_FILES | FORCE,
   "a llama for transformers\n    config.json, model.safetensors, tokenizer.json", verb_export},
  {"tokenizer", "FOLDER|FILE",      OUTPUT,
   "a tokenizer alone\n    tokenizer.json, .model, vocab.json with merges.txt, llama2.c's",
   verb_tokenizer},
  {"choices",   "FILE.jsonl",       OUTPUT, "HellaSwag as eval --choices reads it", verb_choices},
  {"check",     "[NAME|MODEL]",     0, "the propositions, on toys or on a model", verb_check_hf},
  {"stream", "MODEL", DATA | GENERAL | TABLES | STREAM, "a cache of keys that forgets",
   verb_cache_hf},
  {"tokenize", "train|encode|decode [FILE]", OUTPUT | GENERAL | TOKENIZE,
   "text and its ids; a vocabulary of texts", vocabulary_tokenize},
  {"generate", "[MODEL]", GENERAL | GENERATE,
   "text from a model or a grammar", grammar_generate},
  PAGED_VERBS(verb_run_hf, verb_eval_hf),
  {"pace",      "", MODEL | GENERAL | OUTPUT | PACE, "how fast a model in its file is measured",
   verb_pace},
  {NULL, NULL, 0, NULL, NULL}};

#ifndef HF_NO_MAIN               /* the tests and .ci/fuzz.c have another entry */
int main(int argc, char **argv) {
  static const Check checks[] = {LATER_CHECK, {0}};
  const Program hf = {.name = "hf", .verbs = HF_VERBS, .page = run_page,
                      .watch = film_watch, .checks = checks, .start = trainer_start,
                      .log = log_keep,
                      .edit = position_edit,
                      .open = other_open, .first = first_open, .read_tokenizer = words_read};
  char *more[WORDS_MOST + 64] = {argv[0], "import"}; Near near = {.word = argc > 1 ? argv[1] : ""};
  for (const Verb *v = NULL; (v = verb_after(v, &hf)) != NULL; ) near_look(&near, v->name, v->name);
  if (argc < 2 || argc > WORDS_MOST || argv[1][0] == '-' || verb_find(&hf, argv[1])
      || (near.best[0] && file_missing(argv[1]))) return sink_main(&hf, argc, argv);
  for (int i = 1; i < argc; i++) more[i + 1] = argv[i];    /* hf FOLDER --out MODEL */
  return sink_main(&hf, argc + 1, more);
}
#endif
