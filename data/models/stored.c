/* stored.c - model files: published weights as they are. Chapters 1 and 2 of
 * hf.c, which includes it.
 *
 * SPDX-License-Identifier: MIT
 */

/* -----------------------------------------------------------------------------
 * 1  Half floats
 *
 * BF16 is the upper half of a float. F16 has a sign, 5 bits of exponent and 10
 * of fraction:
 *
 *   exponent e = 1 .. 30    (1 + f / 1024) 2^(e - 15): a float has e + 112 and
 *                           f at its own places
 *   e = 0                   f 2^-24: (1 + f / 1024) 2^-14 - 2^-14, exactly
 *   e = 31                  infinity, NaN: e becomes 255, and f, the payload of
 *                           a NaN, stays
 *
 * So every F16 and BF16 has its own float (test widen__every_half). Numbers are
 * taken byte by byte, the lower first, whatever the machine's order. */
enum { DTYPE_F32, DTYPE_F16, DTYPE_BF16, DTYPES };

static size_t dtype_width(int dtype) { return dtype == DTYPE_F32 ? 4 : 2; }

WIDE(widen_f16, (idx n, real *restrict to, const unsigned char *restrict from),
     (n, to, from)) {
  /* the least normal F16 */
  const float least = 0x1p-14f;
  const uint32_t one = bits_of(least);
  for (idx i = 0; i < n; i++) {
    uint32_t h = from[2 * i] | (uint32_t)from[2 * i + 1] << 8;
    uint32_t rest = (h & 0x7FFF) << 13;
    uint32_t normal = rest + (112u << 23);
    uint32_t small = bits_of(float_of(rest + one) - least);
    uint32_t bits = normal;
    if (rest < 1u << 23)
      bits = small;
    else if (rest >= 31u << 23)
      bits = normal + (112u << 23);
    to[i] = (real)float_of(bits | (h & 0x8000) << 16);
  }
}

WIDE(widen_bf16, (idx n, real *restrict to, const unsigned char *restrict from),
     (n, to, from)) {
  for (idx i = 0; i < n; i++)
    to[i] = (real)float_of((uint32_t)from[2 * i] << 16 |
                           (uint32_t)from[2 * i + 1] << 24);
}

WIDE(widen_f32, (idx n, real *restrict to, const unsigned char *restrict from),
     (n, to, from)) {
  for (idx i = 0; i < n; i++)
    to[i] = (real)float_of(from[4 * i] | (uint32_t)from[4 * i + 1] << 8 |
                           (uint32_t)from[4 * i + 2] << 16 |
                           (uint32_t)from[4 * i + 3] << 24);
}

/* to [n] = the numbers of a type DTYPE_*: exact, infinities and NaN as well. */
static void widen(int dtype, idx n, real *to, const unsigned char *from) {
  if (dtype == DTYPE_F16)
    widen_f16(n, to, from);
  else if (dtype == DTYPE_BF16)
    widen_bf16(n, to, from);
  else
    widen_f32(n, to, from);
}

/* -----------------------------------------------------------------------------
 * 2  Model files: published weights as they are, read matrix by matrix
 *                                                         sections 3, B.4, [T8]
 *
 * The models that section 3 measures have up to 52 billion parameters. Their
 * numbers stay as they were published, in 2 or 4 bytes each, in one file, which
 * this chapter writes, or in the files that were downloaded, to which this one
 * then only points. Little-endian, in this order:
 *
 *   8   "SINKMOD1"
 *   8   where the head begins
 *   48  zeros
 *   ..  tensors in the order of the table of tensors, which is that of a
 *       forward; each begins at a multiple of 64
 *
 * The head, which ends the file:
 *
 *   4   version, 1
 *   4   links f
 *   4   tensors n
 *   8   tokenizer's hash (0: none)
 *   8   length of the text, and the text: lines "flag value", every flag of the
 *       model and of data
 *   f times, a file that holds tensors:
 *       8       its size
 *       8       bytes of its header
 *       8       hash64 of these
 *       4       length of the path, and the path
 *   n times:
 *       4       length of the name, and the name
 *       1       DTYPE_*
 *       1       rank
 *       1       IN_OUT or OUT_IN
 *       1       zero
 *       8 8     shape, in the table's order
 *       4       file, 0 this one, else the link
 *       8 8 8   at, run, stride
 *       8       checksum (0: unknown)
 *   8   hash64 of the head so far
 *
 * `at`, `run` and `stride` let a link point into a matrix that was published as
 * a part of a larger one: q, k and v of GPT-2 stand side by side in every row,
 * those of GPT-NeoX head by head. A link is known again by its size and by the
 * hash of its header, which says where its tensors are.
 *
 * STREAMING. An evaluation brings as many sequences as 1.6 GB hold through a
 * block before the next one, so each weight is read once for them and
 * multiplies thousands of rows. In memory are the activations of one block, the
 * slab in hand, and what is not multiplied: gains, biases, positions. Of the
 * embedding only the rows of the tokens are read, and W_cls only when a loss is
 * asked for. */
enum {
  MODEL_VERSION = 1,
  MODEL_START = 64,            /* bytes before the first tensor */
  MODEL_HEAD = 36,             /* bytes of the shortest head */
  LINKS_MAX = 1000,
  /* bytes of a head, or of a link's header: safetensors' 10^8 fit */
  HEAD_MAX = 1 << 27,
  /* A slab has a multiple of SLAB_LINES lines, and at most SLAB_SIZE numbers
   * unless so many lines have more. */
  SLAB_SIZE = 1 << 22,
  SLAB_LINES = 256
};
#define MODEL_MAGIC "SINKMOD1"

/* How a tensor lies in a file: row-major, or its transpose, as most published
 * matrices do. */
enum { IN_OUT, OUT_IN };

/* Where the bytes of a tensor are: runs of `run` bytes, `stride` from the start
 * of one to that of the next, the first at `at`. One run of all of them where
 * they lie together. */
typedef struct Extent {
  int file;
  uint64_t at, run, stride;
} Extent;

/* The checksum of a tensor's bytes, in the making. */
typedef struct Sums {
  uint64_t sum, of_sums;
} Sums;

/* A published file that a model file is made from: the number of its link, 0
 * where it is copied. */
typedef struct ModelSource {
  FILE *f;
  const char *path;
  uint64_t size;
  int link;
} ModelSource;

/* What of a matrix W [in,out] is at hand: [n_in,n_out], from row in0 and column
 * out0 on. */
typedef struct Slab {
  Matrix w;
  idx in0, n_in, out0, n_out;
} Slab;

/* Where a tensor is, and what it is there. */
typedef struct Stored {
  Extent at;
  uint64_t bytes, hash;
  int dtype, order;
  struct ModelFile *in;        /* while that is open */
} Stored;

/* A published file that a model file points into: its size, the bytes of its
 * header and their hash64. */
typedef struct ModelLink {
  uint64_t size, header, hash;
  char *path;
} ModelLink;

typedef struct ModelHead {
  Settings s;                  /* the model's flags; all else by default */
  uint64_t tokenizer;
  Model list;                  /* c resolved, and the tensors in their order */
  Stored *stored;              /* [n_tensors] */
  int links;
  ModelLink *link;
} ModelHead;

/* A model file in the making. After model_file_begin returned 0, model_file_end
 * must follow; on any failure, and when e already holds an error, nothing is
 * left of it. */
typedef struct ModelWriter {
  ModelHead head;
  Writing w;
  int next;                    /* how many tensors are done */
  uint64_t at;                 /* bytes written */
  uint64_t begun, left;        /* of the tensor in hand: its start, its rest */
  Sums sums;
  bool linked;                 /* the tensor in hand stays where it is */
  int sources;
  ModelSource *source;         /* [LINKS_MAX] */
} ModelWriter;

/* Of a tensor's bytes: sums of its numbers, taken as whole numbers of their
 * width, and of these sums (Fletcher's, in 64 bits). One damaged number changes
 * it, and so do two that change places; it runs at the memory's speed, and may
 * come in pieces of whole numbers. */
static void sums_add(Sums *x, int dtype, const unsigned char *p, size_t n) {
  uint64_t sum = x->sum, of_sums = x->of_sums;
  if (dtype == DTYPE_F32)
    for (size_t i = 0; i < n; i += 4) {
      sum += (uint32_t)(p[i] | p[i + 1] << 8 | p[i + 2] << 16) |
             (uint32_t)p[i + 3] << 24;
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
  /* the exponent of infinity and NaN */
  const int most = dtype == DTYPE_F16 ? 0x7C00 : 0x7F80;
  bool finite = true;
  for (size_t i = width; i <= n; i += width)
    finite &= ((p[i - 2] | p[i - 1] << 8) & most) != most;
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
  if (path[0] != '/' && !getcwd(whole, sizeof whole))
    return NULL;
  size_t room = strlen(whole) + strlen(path) + 2;
  char *out = malloc(room);
  if (out)
    snprintf(out, room, "%s%s%s", whole, whole[0] ? "/" : "", path);
  return out;
}
#endif

/* To a place from the start, in files above 2 GB as well. */
static bool file_seek(FILE *f, uint64_t at) {
  return !fseeko(f, (int64_t)at, SEEK_SET);
}

/* The size of a file, which is at its end afterwards. */
static bool file_size(FILE *f, uint64_t *size) {
  int64_t at = fseeko(f, 0, SEEK_END) ? -1 : ftello(f);
  *size = (uint64_t)at;
  return at >= 0;
}

/* Can `bytes` bytes lie in a file of `size` bytes as x says? A run has whole
 * numbers, of this width. */
static bool extent_fits(const Extent *x, uint64_t bytes, size_t width,
                        uint64_t size) {
  if (!x->run || x->run % width || bytes % x->run || x->run > size ||
      x->at > size - x->run)
    return false;
  /* runs after the first */
  uint64_t more = bytes / x->run - 1;
  return !more ||
         (x->stride >= x->run && more <= (size - x->run - x->at) / x->stride);
}

/* n bytes from byte `from` of what x says of f. */
static bool extent_take(FILE *f, const Extent *x, uint64_t from,
                        unsigned char *to, size_t n) {
  for (size_t some; n; from += some, to += some, n -= some) {
    uint64_t within = from % x->run, left = x->run - within;
    some = left < n ? (size_t)left : n;
    uint64_t at = x->at + within;
    /* of one run the stride may be anything */
    if (from >= x->run)
      at += from / x->run * x->stride;
    if (!file_seek(f, at) || fread(to, 1, some, f) != some)
      return false;
  }
  return true;
}

/* hash64 of n bytes from `at` on; false when they are not there. */
static bool bytes_hash(FILE *f, uint64_t at, uint64_t n, uint64_t *hash) {
  unsigned char piece[1 << 12];
  uint64_t h = HASH_START;
  if (!file_seek(f, at))
    return false;
  for (size_t some; n; n -= some) {
    some = n < sizeof piece ? (size_t)n : sizeof piece;
    if (fread(piece, 1, some, f) != some)
      return false;
    h = hash_add(h, piece, some);
  }
  *hash = hash_end(h);
  return true;
}

/* --- The head, written and read ------------------------------------------- */

/* A link; its path is grabbed when it is read. */
static void head_link(Passage *c, ModelLink *l) {
  l->size = pass(c, l->size, 8);
  l->header = pass(c, l->header, 8);
  l->hash = pass(c, l->hash, 8);
  const uint64_t length = pass(c, l->path ? strlen(l->path) : 0, 4);
  if (l->header > HEAD_MAX || l->header > l->size ||
      (!c->out && length > c->left))
    damaged(c->name, c->e);
  if (!c->out && !c->e->status)
    l->path = grab((idx)length + 1, 1, c->e);
  if (l->path)
    pass_bytes(c, l->path, (size_t)length);
  if (l->path && strlen(l->path) != length)
    damaged(c->name, c->e);
}

/* The entry of tensor t, which must be this one, and lie where its file has
 * room for it: this one has `size` bytes of tensors. */
static void head_entry(Passage *c, const ModelHead *h, Stored *p,
                       const Tensor *t, uint64_t size) {
  Error *e = c->e;
  char name[sizeof t->name];
  strcpy(name, t->name);
  const uint64_t length = pass(c, strlen(name), 4);
  if (length == strlen(name))
    pass_bytes(c, name, strlen(name));
  if (length != strlen(name) || strcmp(name, t->name))
    fail(e, 1,
         "%s: expected %s, found another tensor. Try: the version of sink that "
         "wrote it",
         c->name, t->name);
  p->dtype = (int)pass(c, (uint64_t)p->dtype, 1);
  const uint64_t rank = pass(c, (uint64_t)t->rank, 1);
  p->order = (int)pass(c, (uint64_t)p->order, 1);
  const uint64_t none = pass(c, 0, 1);
  const uint64_t in = pass(c, (uint64_t)t->rows, 8);
  const uint64_t out = pass(c, (uint64_t)t->cols, 8);
  const uint64_t file = pass(c, (uint64_t)p->at.file, 4);
  p->at.at = pass(c, p->at.at, 8);
  p->at.run = pass(c, p->at.run, 8);
  p->at.stride = pass(c, p->at.stride, 8);
  p->hash = pass(c, p->hash, 8);
  if (c->out || e->status)
    return;
  if (rank != (uint64_t)t->rank || in != (uint64_t)t->rows ||
      out != (uint64_t)t->cols)
    fail(e, 1,
         "%s: expected %s [%d,%d], found [%llu,%llu]. Try: the version of sink "
         "that wrote it",
         c->name, t->name, t->rows, t->cols, (unsigned long long)in,
         (unsigned long long)out);
  else if (p->dtype >= DTYPES || p->order > OUT_IN || none ||
           file > (uint64_t)h->links || (rank == 1 && p->order))
    fail(e, 1,
         "%s: expected %s in a known type and file, found others. Try: the "
         "version of sink that wrote it",
         c->name, t->name);
  if (e->status)
    return;
  p->at.file = (int)file;
  p->bytes = (uint64_t)tensor_count(t) * dtype_width(p->dtype);
  if (file)
    size = h->link[file - 1].size;
  if (!extent_fits(&p->at, p->bytes, dtype_width(p->dtype), size))
    fail(e, 1,
         "%s: expected %llu bytes of %s, found that its file ends before them. "
         "Try: hf FOLDER again",
         c->name, (unsigned long long)p->bytes, t->name);
}

/* The whole head but its checksum, of a file with `size` bytes of tensors. */
static void head_pass(Passage *c, ModelHead *h, uint64_t size) {
  Error *e = c->e;
  const uint64_t version = pass(c, MODEL_VERSION, 4);
  const uint64_t links = pass(c, (uint64_t)h->links, 4);
  const uint64_t count = pass(c, (uint64_t)h->list.n_tensors, 4);
  h->tokenizer = pass(c, h->tokenizer, 8);
  if (version != MODEL_VERSION)
    fail(e, 1,
         "%s: expected version %d, found %llu. Try: the version of sink that "
         "wrote it",
         c->name, MODEL_VERSION, (unsigned long long)version);
  if (!c->out && links > LINKS_MAX)
    damaged(c->name, e);
  pass_settings(c, &h->s, MODEL | DATA);
  if (!c->out && !e->status && !model_list(&h->list, &h->s.model, e)) {
    if (count != (uint64_t)h->list.n_tensors)
      fail(e, 1,
           "%s: expected %d tensors, found %llu. Try: the version of sink that "
           "wrote it",
           c->name, h->list.n_tensors, (unsigned long long)count);
    h->stored = grab(h->list.n_tensors, sizeof *h->stored, e);
    h->link = grab((idx)links, sizeof *h->link, e);
    h->links = (int)links;
  }
  for (int i = 0; i < h->links && !e->status; i++)
    head_link(c, &h->link[i]);
  for (int i = 0; i < h->list.n_tensors && !e->status; i++)
    head_entry(c, h, &h->stored[i], h->list.all[i], size);
}

static void model_head_free(ModelHead *h) {
  for (int i = 0; i < h->links && h->link; i++)
    free(h->link[i].path);
  free(h->link);
  free(h->stored);
  model_free(&h->list);
  *h = (ModelHead){0};
}

/* p [n]: the head behind `size` bytes of tensors, checksum first. On failure
 * nothing is held. */
static int model_head_read(const unsigned char *p, size_t n, uint64_t size,
                           const char *name, ModelHead *h, Error *e) {
  *h = (ModelHead){0};
  if (n < MODEL_HEAD || hash64(0, p, n - 8) != number_at(p + n - 8, 8))
    return damaged(name, e);
  Passage c = {.at = p, .left = n - 8, .name = name, .e = e};
  head_pass(&c, h, size);
  if (!e->status && c.left)
    damaged(name, e);
  if (e->status)
    model_head_free(h);
  return e->status;
}

/* --- Writing one ---------------------------------------------------------- */

/* Resolves a copy of s->model. 2 for one that cannot be. Where the head begins
 * is written by model_file_end. */
static int model_file_begin(ModelWriter *w, const char *path, const Settings *s,
                            uint64_t tokenizer, Error *e) {
  static const unsigned char start[MODEL_START] = MODEL_MAGIC;
  *w = (ModelWriter){.head = {.s = *s, .tokenizer = tokenizer},
                     .at = MODEL_START};
  ModelHead *h = &w->head;
  if (config_resolve(&h->s.model, e) || model_list(&h->list, &h->s.model, e))
    return e->status;
  h->stored = grab(h->list.n_tensors, sizeof *h->stored, e);
  h->link = grab(LINKS_MAX, sizeof *h->link, e);
  w->source = grab(LINKS_MAX, sizeof *w->source, e);
  if (e->status || writing_begin(&w->w, path, e)) {
    free(w->source);
    model_head_free(h);
    return e->status;
  }
  writing_add(&w->w, start, MODEL_START);
  return 0;
}

/* Opens a published file with a header of so many bytes. Its number, 1 .., or 0
 * and an Error. */
static int model_file_source(ModelWriter *w, const char *path, uint64_t header,
                             bool link, Error *e) {
  ModelSource source = {.f = fopen(path, "rb"), .path = path};
  char beside[1032]; /* a model file in the making that replaces it */
  uint64_t hash = 0;
  snprintf(beside, sizeof beside, "%s.new", path);
  if (!source.f)
    fail(e, 1, "%s: %s. Try: check the path", path, strerror(errno));
  else if (!file_size(source.f, &source.size) || header > source.size ||
           header > HEAD_MAX || !bytes_hash(source.f, 0, header, &hash))
    fail(e, 1,
         "%s: expected a header of %llu bytes, found it cut short. Try: "
         "download it again",
         path, (unsigned long long)header);
  else if (w->sources == LINKS_MAX)
    fail(e, 1,
         "%s: expected at most %d files of one model. Try: saving it in fewer",
         path, LINKS_MAX);
  else if (link && same_file(beside, w->w.beside))
    fail(e, 1,
         "%s: expected a file beside those that it links to, found one of "
         "them. Try: another --out",
         w->w.path);
  else if (link) {
    char *whole = full_path(path);
    if (!whole)
      fail(e, 1, "%s: its full path cannot be found: %s. Try: without --link",
           path, strerror(errno));
    w->head.link[w->head.links++] = (ModelLink){source.size, header, hash,
                                                whole};
    source.link = w->head.links;
  }
  if (!e->status)
    w->source[w->sources++] = source;
  else if (source.f)
    fclose(source.f);
  return e->status ? 0 : w->sources;
}

/* Is it this tensor's turn? Sets w->left to its bytes. */
static int model_turn(ModelWriter *w, const char *name, int dtype, int order,
                      Error *e) {
  const ModelHead *h = &w->head;
  const Tensor *t = w->next < h->list.n_tensors ? h->list.all[w->next] : NULL;
  if (w->left)
    return fail(e, 1,
                "%s: expected %llu more bytes of %s, found the next tensor",
                w->w.path, (unsigned long long)w->left, t->name);
  if (!t || strcmp(t->name, name))
    return fail(e, 1, "%s: expected %s, found %s", w->w.path,
                t ? t->name : "no tensor", name);
  w->left = (uint64_t)tensor_count(t) * dtype_width(dtype);
  h->stored[w->next] = (Stored){.dtype = dtype, .order = IN_OUT};
  if (t->rank == 2)
    h->stored[w->next].order = order;
  return 0;
}

/* n bytes of their tensor, from byte `from` of what x says of its source. */
static int source_take(const ModelWriter *w, const char *theirs,
                       const Extent *x, uint64_t from, unsigned char *to,
                       size_t n, Error *e) {
  const ModelSource *source = &w->source[x->file - 1];
  if (e->status || extent_take(source->f, x, from, to, n))
    return e->status;
  return fail(e, 1,
              "%s: expected %s, found it cut short. Try: download it again",
              source->path, theirs);
}

/* The next tensor, from memory: its bytes come in any number of pieces. */
static int model_file_tensor(ModelWriter *w, const char *name, int dtype,
                             int order, Error *e) {
  static const unsigned char zeros[MODEL_START];
  if (e->status || model_turn(w, name, dtype, order, e))
    return e->status;
  uint64_t pad = 0;
  if (!w->linked)
    pad = (MODEL_START - w->at % MODEL_START) % MODEL_START;
  writing_add(&w->w, zeros, (size_t)pad);
  w->begun = w->at += pad;
  w->sums = (Sums){0};
  return 0;
}

/* The next n bytes of the tensor in hand. */
static int model_file_bytes(ModelWriter *w, const void *at, size_t n,
                            Error *e) {
  if (interrupted)
    fail(e, 1, "stopped by Ctrl-C; nothing was saved. Try: the same command");
  if (e->status)
    return e->status;
  Stored *p = &w->head.stored[w->next];
  if (n > w->left || n % dtype_width(p->dtype))
    return fail(e, 1, "%s: expected %llu bytes more, found %zu", w->w.path,
                (unsigned long long)w->left, n);
  if (!w->linked) {
    writing_add(&w->w, at, n);
    w->at += n;
  }
  sums_add(&w->sums, p->dtype, at, n);
  w->left -= n;
  if (w->left || !n)
    return 0;
  p->at = (Extent){0, w->begun, w->at - w->begun, w->at - w->begun};
  p->hash = sums_end(&w->sums);
  w->next++;
  return 0;
}

/* The next tensor, `theirs` in its source: copied, or linked to and read for
 * its checksum. */
static int model_file_copy(ModelWriter *w, const char *theirs, int dtype,
                           int order, const Extent *from, Error *e) {
  enum { COPIED = 1 << 16 };
  const ModelSource *source = &w->source[from->file - 1];
  const int at = w->next;
  const char *ours = theirs;
  if (at < w->head.list.n_tensors)
    ours = w->head.list.all[at]->name;
  w->linked = source->link;
  if (model_file_tensor(w, ours, dtype, order, e))
    return e->status;
  const uint64_t bytes = w->left;
  if (!extent_fits(from, bytes, dtype_width(dtype), source->size))
    return fail(e, 1,
                "%s: expected %llu bytes for %s, found them outside its file",
                source->path, (unsigned long long)bytes, theirs);
  unsigned char *piece = grab(COPIED, 1, e);
  for (uint64_t done = 0; done < bytes && !e->status;) {
    size_t some = bytes - done < COPIED ? (size_t)(bytes - done) : COPIED;
    if (!source_take(w, theirs, from, done, piece, some, e) &&
        !all_finite(dtype, piece, some))
      fail(e, 1,
           "%s: expected finite numbers in %s, found NaN or infinity. Try: "
           "another copy of the model",
           source->path, theirs);
    model_file_bytes(w, piece, some, e);
    done += some;
  }
  free(piece);
  if (w->linked && !e->status)
    w->head.stored[at].at = (Extent){source->link, from->at, from->run,
                                     from->stride};
  w->linked = false;
  return e->status;
}

/* The head, and where it begins. */
static int model_file_end(ModelWriter *w, Error *e) {
  const Model *list = &w->head.list;
  unsigned char start[8];
  if (!e->status && (w->left || w->next < list->n_tensors))
    fail(e, 1, "%s: expected %s, found the end", w->w.path,
         list->all[w->next]->name);
  Passage c = {.out = true,
               .w = w->w,
               .hash = HASH_START,
               .name = w->w.path,
               .e = e};
  if (!e->status) {
    head_pass(&c, &w->head, w->at);
    pass(&c, hash_end(c.hash), 8);
    if (fflush(c.w.f) || !file_seek(c.w.f, 8))
      fail(e, 1, "%s: cannot be written: %s. Try: free some space", w->w.path,
           strerror(errno));
    number_put(start, w->at, 8);
    writing_add(&c.w, start, 8);
  }
  writing_end(&c.w, e);
  for (int i = 0; i < w->sources; i++)
    fclose(w->source[i].f);
  free(w->source);
  model_head_free(&w->head);
  return e->status;
}

/* --- Reading its tensors -------------------------------------------------- */

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
  double start, shown;         /* seconds: when it began, was last shown */
  double waited, took;         /* seconds: waiting for files, in all */
  uint64_t read, expected;     /* bytes since `start`, and how many will be */
};

static void model_file_close(struct ModelFile *f) {
  if (!f)
    return;
  for (int i = 0; i <= f->head.links && f->file; i++)
    if (f->file[i])
      fclose(f->file[i]);
  free(f->file);
  free(f->raw);
  free(f->slab);
  free(f->name);
  model_head_free(&f->head);
  free(f);
}

/* Is it read anew by every forward? All matrices of the blocks that
 * linear_forward multiplies, and the largest two: wte, if a row of it is a
 * token's, and wcls, if a slab of it is some columns. */
static bool tensor_streams(const Tensor *t, const Stored *p) {
  const char *last = strrchr(t->name, '.');
  if (!t->matrix || t->rank != 2)
    return false;
  if (t->layer >= 0)
    return strcmp(last, ".phi1") && strcmp(last, ".phi2");
  return (!strcmp(t->name, "wte") && p->order == IN_OUT) ||
         (!strcmp(t->name, "wcls") && p->order == OUT_IN);
}

/* How many lines of so many numbers make a slab, of at most `lines`. */
static idx slab_lines(idx lines, idx line) {
  idx some = SLAB_SIZE / line / SLAB_LINES * SLAB_LINES;
  if (some < SLAB_LINES)
    some = SLAB_LINES;
  return at_most(some, lines);
}

/* "model: 41 %, 212 s left; 147 s so far, 3.0 of them for the disk", on a
 * terminal, in place. */
static void stream_show(struct ModelFile *f, bool end) {
  double now = seconds(), part = 0;
  if (f->expected)
    part = (double)f->read / (double)f->expected;
  if (f->quiet || !isatty(fileno(stderr)) || (!end && now - f->shown < 0.2))
    return;
  f->shown = now;
  if (end)
    fprintf(stderr, "\r\033[K");
  else if (part > 0)
    fprintf(stderr,
            "\r%s: %.0f %%, %.0f s left; %.0f s so far, %.1f of them for the "
            "disk \033[K",
            f->name, 100 * part, (now - f->start) * (1 - part) / part,
            now - f->start, f->waited);
  fflush(stderr);
}

/* The file that holds a tensor's bytes. */
static const char *stored_file(const struct ModelFile *f, const Stored *p) {
  return p->at.file ? f->head.link[p->at.file - 1].path : f->name;
}

/* n bytes of tensor t from byte `from` on; false, and a fault, when they are
 * not to be had. */
static bool stored_take(const Tensor *t, uint64_t from, size_t n) {
  const Stored *p = t->stored;
  struct ModelFile *f = p->in;
  double before = seconds();
  bool good = extent_take(f->file[p->at.file], &p->at, from, f->raw, n);
  f->waited += seconds() - before;
  f->read += n;
  if (!good)
    fail(&f->fault, 1,
         "%s: %s cannot be read whole. Try: check the disk, or hf FOLDER again",
         stored_file(f, p), t->name);
  return good;
}

/* The next slab of tensor t [in,out], or of the transpose of t [out,in]; *s is
 * zeroed before the first. False after the last, and after any fault. */
static bool stored_slab(const Tensor *t, bool transposed, Slab *s) {
  const Stored *p = t->stored;
  struct ModelFile *f = p->in;
  /* W [in,out] */
  idx in = t->rows, out = t->cols;
  if (transposed) {
    in = t->cols;
    out = t->rows;
  }
  /* its lines, one after the other in the file, are rows of W or columns */
  bool columns = (p->order == OUT_IN) != transposed;
  idx lines = in, line = out, done = s->in0 + s->n_in;
  if (columns) {
    lines = out;
    line = in;
    done = s->out0 + s->n_out;
  }
  if (f->fault.status)
    return false;
  if (done == 0)
    f->sums = (Sums){0};
  if (done == lines) {
    if (p->hash && p->hash != sums_end(&f->sums))
      fail(&f->fault, 1,
           "%s: the checksum of %s does not match. Try: hf FOLDER again",
           stored_file(f, p), t->name);
    return false;
  }
  idx some = at_most(slab_lines(lines, line), lines - done);
  size_t width = dtype_width(p->dtype), n = (size_t)(some * line) * width;
  if (!stored_take(t, (uint64_t)(done * line) * width, n))
    return false;
  if (p->hash)
    sums_add(&f->sums, p->dtype, f->raw, n);
  PARALLEL
  for (idx i = 0; i < some; i++)
    widen(p->dtype, line, f->slab + i * line,
          f->raw + (size_t)(i * line) * width);
  if (columns)
    *s = (Slab){transpose_of(f->slab, in), 0, in, done, some};
  else
    *s = (Slab){rows_of(f->slab, out), done, some, 0, out};
  stream_show(f, false);
  return true;
}

/* to = row `row` of t, its checksum unread; zeros after a fault. */
static void stored_row(const Tensor *t, idx row, real *to) {
  const Stored *p = t->stored;
  struct ModelFile *f = p->in;
  idx line = t->cols;
  size_t n = (size_t)line * dtype_width(p->dtype);
  if (f->expected)   /* parts_begin does not know the rows */
    f->expected += n;
  if (f->fault.status || !stored_take(t, (uint64_t)row * n, n))
    zero(to, line);
  else
    widen(p->dtype, line, to, f->raw);
}

/* Reads tensor t to its place among the parameters, [in,out] there. */
static void stored_whole(const Tensor *t) {
  const Stored *p = t->stored;
  idx out = t->cols;
  for (Slab s = {0}; stored_slab(t, false, &s);) {
    real *to = t->w + s.in0 * out + s.out0;
    if (p->order == IN_OUT)
      copy(to, s.w.at, s.n_in * out);
    else
      transpose(to, out, s.w.at, s.n_in, s.n_out, s.n_in);
  }
}

/* Files that the model links to: opened, and known again. */
static int links_open(struct ModelFile *f, Error *e) {
  for (int i = 0; i < f->head.links && !e->status; i++) {
    const ModelLink *l = &f->head.link[i];
    uint64_t size = 0, hash = 0;
    f->file[i + 1] = fopen(l->path, "rb");
    if (!f->file[i + 1])
      fail(e, 1,
           "%s: expected the file it links to, %s, found %s. Try: hf FOLDER "
           "again, without --link",
           f->name, l->path, strerror(errno));
    else if (!file_size(f->file[i + 1], &size) || size != l->size ||
             !bytes_hash(f->file[i + 1], 0, l->header, &hash) ||
             hash != l->hash)
      fail(e, 1,
           "%s: %s, %llu bytes, has changed since the import. Try: hf FOLDER "
           "again",
           f->name, l->path, (unsigned long long)l->size);
  }
  return e->status;
}

static void stored_product(const Tensor *W, bool transposed, real *y,
                           const real *x, idx rows);
static bool stored_loss(const Model *m, Acts *a, const int *targets, int B,
                        int T, double *mean);
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
    idx slab = out * slab_lines(in, out);
    if (p->order == OUT_IN)
      slab = in * slab_lines(out, in);
    if (slab > room)
      room = slab;
    p->in = f;
    t->stored = p;
    t->product = NULL;
    if (!whole && tensor_streams(t, p))
      t->product = stored_product;
    else
      kept += tensor_count(t);
  }
  m->params = grab(kept, sizeof(real), e);
  f->raw = grab(room, 4, e);
  f->slab = grab(room, sizeof(real), e);
  m->seams.fault = stored_fault;
  if (e->status)
    return e->status;
  for (int i = 0; i < m->n_tensors; i++) {
    Tensor *t = m->all[i];
    if (t->product)
      continue;
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
  unsigned char start[16];
  Bytes head = {0};
  uint64_t size = 0, at = 0;
  if (file_size(of, &size) && file_seek(of, 0) &&
      fread(start, 1, 16, of) == 16)
    at = number_at(start + 8, 8);
  if (at < MODEL_START || at > size || size - at > HEAD_MAX)
    damaged(path, e);
  else {
    head.size = (size_t)(size - at);
    head.at = grab((idx)head.size, 1, e);
    if (head.at &&
        (!file_seek(of, at) || fread(head.at, 1, head.size, of) != head.size))
      damaged(path, e);
  }
  if (!e->status)
    model_head_read(head.at, head.size, at, path, h, e);
  bytes_free(&head);
  return e->status;
}

/* NULL for a pipe, too: what is read to look at it would be missing for the one
 * who reads it. */
static FILE *regular_open(const char *name) {
  struct stat is;
  if (stat(name, &is) || !S_ISREG(is.st_mode))
    return NULL;
  return fopen(name, "rb");
}

/* Adds to the names of files those that model files among them link to. */
static void links_list(Bytes *names) {
  const size_t size = names->size;
  for (size_t at = 0; at < size; at += strlen((char *)names->at + at) + 1) {
    ModelHead h = {0};
    Error none = {0};
    char magic[9] = "";
    const char *name = (const char *)names->at + at;
    FILE *f = regular_open(name);
    const bool ours = f && fread(magic, 1, 8, f) == 8 &&
                      !strcmp(magic, MODEL_MAGIC);
    if (ours)
      model_head_open(f, name, &h, &none);
    for (int i = 0; i < h.links; i++)
      bytes_add(names, h.link[i].path, strlen(h.link[i].path) + 1, &none);
    if (f)
      fclose(f);
    model_head_free(&h);
  }
}

/* The head of the open file `of`, which f takes over, and then its model. Of a
 * model of at most `room` bytes all is in memory afterwards, and the file
 * closed. Nothing is held on failure. */
static int model_file_open(FILE *of, const char *path, double room, Trainer *t,
                           Error *e) {
  struct ModelFile *f = grab(1, sizeof *f, e);
  if (f)
    f->name = grab((idx)strlen(path) + 1, 1, e);
  if (e->status) {
    free(f);
    fclose(of);
    return e->status;
  }
  strcpy(f->name, path);
  model_head_open(of, path, &f->head, e);
  if (!e->status)
    f->file = grab(1 + f->head.links, sizeof *f->file, e);
  if (!f->file) {
    fclose(of);
    model_file_close(f);
    return e->status;
  }
  f->file[0] = of;
  t->s = f->head.s;
  t->s.train.steps = 0;      /* not known */
  char words[PATH_ROOM + 8]; /* its tokenizer lies beside it */
  snprintf(words, sizeof words, "%s.tok", path);
  if (strlen(words) < PATH_ROOM && !file_missing(words))
    strcpy(t->s.data.tokenizer, words);
  t->tokenizer_hash = f->head.tokenizer;
  model_move(&t->m, &f->head.list);
  t->m.file = f;
  const bool whole = (double)t->m.count * sizeof(real) <= room;
  if (!links_open(f, e))
    model_fill(&t->m, whole, e);
  if (e->status)
    trainer_free(t);
  else if (whole) {
    model_file_close(f);
    t->m.file = NULL;
    t->m.seams.fault = NULL;
    for (int i = 0; i < t->m.n_tensors; i++)
      t->m.all[i]->stored = NULL;
  }
  return e->status;
}

/* Is it a model file? Then it is opened. A published folder is none yet, and is
 * told so. */
static bool parts_open(const char *path, double room, Trainer *t, Error *e) {
  char magic[8], config[PATH_ROOM + 16];
  FILE *f = regular_open(path);
  const bool ours = f && fread(magic, 1, 8, f) == 8 &&
                    !memcmp(magic, MODEL_MAGIC, 8);
  *t = (Trainer){0};
  if (ours)
    model_file_open(f, path, room, t, e);
  else if (f)
    fclose(f);
  if (ours)
    return true;
  snprintf(config, sizeof config, "%s/config.json", path);
  FILE *published = fopen(config, "rb");
  if (!published)
    return false;
  fclose(published);
  return fail(e, 1,
              "%s: a published folder must be imported first. Try: hf %s --out "
              "FILE, then use FILE",
              path, path);
}

/* A checkpoint, or a model that stays in its file. */
static int checkpoint_open(const char *path, Trainer *t, Error *e) {
  if (parts_open(path, 0, t, e))
    return e->status;
  return checkpoint_load(path, false, t, e);
}

/* How much so many passes of a forward read. */
static void parts_begin(const Model *m, double passes, bool loss, bool quiet) {
  struct ModelFile *f = m->file;
  if (!f)
    return;
  double bytes = 0;
  for (int i = 0; i < m->n_tensors; i++) {
    const Tensor *t = m->all[i];
    bool last = !strcmp(t->name, m->c.tied ? "wte" : "wcls");
    if (t->product && (t->layer >= 0 || (loss && last)))
      bytes += (double)f->head.stored[i].bytes;
  }
  f->start = seconds();
  f->waited = 0;
  f->read = 0;
  f->expected = (uint64_t)(passes * bytes);
  f->quiet = quiet;
}

static void parts_end(const Model *m, const Error *e) {
  struct ModelFile *f = m->file;
  if (!f)
    return;
  stream_show(f, true);
  f->took = seconds() - f->start;
  if (!f->quiet && !e->status)
    fprintf(stderr,
            "read %.2f GB: %.1f s waiting for the disk, %.1f s computing\n",
            (double)f->read * 1e-9, f->waited, f->took - f->waited);
  f->quiet = true;
}
