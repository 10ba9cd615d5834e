/* import.c - a folder or a file as a model file. Chapter 16 of hf.c.
 *
 * SPDX-License-Identifier: MIT
 */

/* -----------------------------------------------------------------------------
 * 16  Import: a folder or a file as a model file of sink
 *
 * Before a number is copied every tensor is accounted for: each that the family
 * needs is there once in its shape, and else only what is known to be needless.
 * Then they are copied, or only pointed at (--link), in the order in which a
 * forward reads them, bit by bit but for those that families.c rewrites: the
 * file says how a tensor lies (2). */

/* The shape that a tensor of ours has there; returns its rank. */
static int their_shape(const Config *c, const Tensor *x, int how,
                       uint64_t shape[RANK_MOST]) {
  const uint64_t in = (uint64_t)x->rows, out = (uint64_t)x->cols;
  const bool matrix = x->rank == 2;
  uint64_t before;
  shape[0] = in;
  shape[1] = out;
  if (matrix && (how & TURNED || how == HEADS)) {
    shape[0] = out;
    shape[1] = in;
  }
  if (how == LATER)
    shape[0] += 2;
  if (how == THIRDS)
    shape[matrix] *= 3;
  if (how == HEADS)
    shape[0] *= 3;
  if (how & FUSED)
    shape[0] = fused_rows(c, x->name, &before);
  if (how & STACKED)
    return stacked_shape(c, x, shape);
  if (how != TAPS)
    return x->rank;
  shape[0] = out;
  shape[1] = 1;
  shape[2] = in;
  return 3;
}

/* Where the numbers of a tensor of ours lie in the stored one. */
static Extent their_extent(const Config *c, const Tensor *x, int how,
                           const Entry *s) {
  const uint64_t bytes = (uint64_t)FORMATS[s->format].bits / 8;
  const uint64_t all = s->end - s->begin;
  const char last = x->name[strlen(x->name) - 1];
  Extent at = {0, s->begin, all, all}; /* which file: copy_tensors */
  uint64_t in = (uint64_t)x->rows, out = (uint64_t)x->cols, part = 2;
  /* a bias is a row */
  if (x->rank == 1) {
    in = 1;
    out = (uint64_t)x->rows;
  }
  if (last == 'q')
    part = 0;
  if (last == 'k')
    part = 1;
  /* the first two rows are for padding */
  if (how == LATER) {
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
  if (how == THIRDS)
    at.run = bytes * out;
  /* the rows of q, of k and of v of one head, then those of the next */
  if (how == HEADS)
    at.run = bytes * (uint64_t)c->head_dim * in;
  if (how == THIRDS || how == HEADS) {
    at.at += part * at.run;
    at.stride = 3 * at.run;
  }
  return at;
}

/* Where a tensor of ours comes from. */
typedef struct Planned {
  Entry *from;
  Entry *scales;               /* those of packed numbers */
  int how;
} Planned;

/* By its name in full, or without the family's prefix. */
static Entry *entry_find(const Folder *f, const Family *family,
                         const char *name) {
  size_t n = strlen(family->prefix);
  Entry *x = folder_find(f, name);
  if (!x && !strncmp(name, family->prefix, n))
    x = folder_find(f, name + n);
  return x;
}

/* "[3,4]" */
static void shape_text(char text[160], int rank, const uint64_t *shape) {
  int n = snprintf(text, 160, "[");
  for (int i = 0; i < rank; i++)
    n += snprintf(text + n, 160 - (size_t)n, "%s%llu", i ? "," : "",
                  (unsigned long long)shape[i]);
  snprintf(text + n, 160 - (size_t)n, "]");
}

/* A tensor of the folder, its format and shape checked. `packed`: its numbers
 * are bytes. */
static int plan_entry(Entry **to, const char *name, int rank,
                      const uint64_t *shape, bool packed, const Folder *f,
                      const Family *family, Error *e) {
  const char *formats = packed ? "U8" : "F32, F16 or BF16";
  char wanted[160], found[160];
  shape_text(wanted, rank, shape);
  Entry *s = entry_find(f, family, name);
  if (!s)
    return fail(e, 1,
                "%s: expected tensor %s %s, found none of this name. Try: a %s "
                "with all its files",
                f->path, name, wanted, family->type);
  shape_text(found, s->rank, s->shape);
  if (strcmp(wanted, found))
    return fail(e, 1,
                "%s: expected %s of %s, found %s. Try: the config.json that "
                "belongs to it",
                f->shard[s->file].path, name, wanted, found);
  bool good = s->format < FORMATS_READ;
  if (packed)
    good = !strcmp(FORMATS[s->format].tag, "U8");
  if (!good)
    return fail(e, 1,
                "%s: expected %s in %s, found %s. Try: a model that is not "
                "quantised, saved in one of these",
                f->shard[s->file].path, name, formats, FORMATS[s->format].tag);
  s->used = true;
  *to = s;
  return 0;
}

/* Where tensor i of the model comes from. */
static int plan_tensor(Planned *p, const Model *list, int i, const Folder *f,
                       const Family *family, Error *e) {
  const Tensor *x = list->all[i];
  char name[160], packed[176];
  uint64_t shape[RANK_MOST];
  if (counterpart(family->tensors, x, name, &p->how, e) || p->how & IN_CONFIG)
    return e->status;
  int rank = their_shape(&list->c, x, p->how, shape);
  snprintf(packed, sizeof packed, "%s_blocks", name);
  if (!(p->how & STACKED) || x->rank < 2 || !entry_find(f, family, packed))
    return plan_entry(&p->from, name, rank, shape, false, f, family, e);
  packed_shape(shape);
  if (plan_entry(&p->from, packed, 4, shape, true, f, family, e))
    return e->status;
  snprintf(packed, sizeof packed, "%s_scales", name);
  return plan_entry(&p->scales, packed, 3, shape, true, f, family, e);
}

static bool same_bytes(const Folder *f, const Entry *a, const Entry *b,
                       Error *e) {
  const Entry *x[2] = {a, b};
  uint64_t hash[2];
  if (a->format != b->format)
    return false;
  for (int i = 0; i < 2; i++) {
    const char *path = f->shard[x[i]->file].path;
    FILE *in = fopen(path, "rb");
    const bool good = in && bytes_hash(in, x[i]->begin, x[i]->end - x[i]->begin,
                                       &hash[i]);
    if (in)
      fclose(in);
    if (!good)
      return !fail(e, 1, "%s: cannot be read. Try: check the disk", path);
  }
  return hash[0] == hash[1];
}

/* Is this a buffer that nothing reads? */
static bool needless(const Family *family, const Config *c, const char *name) {
  int number[2] = {0, 0};
  const size_t n = strlen(family->prefix);
  for (int i = 0; NEEDLESS[i]; i++) {
    bool ours = !strncmp(NEEDLESS[i], family->prefix, n);
    if (ours && (fits(NEEDLESS[i], name, number) ||
                 fits(NEEDLESS[i] + n, name, number)))
      return number[0] < c->layers;
  }
  return false;
}

/* Every tensor of the model, and every one that is stored, or an error that
 * names the first. */
static int plan(Planned *p, const Model *list, const Folder *f,
                const Family *family, Error *e) {
  const Entry *embedding = NULL;
  const Counterpart *last = family->tensors;
  while (last[1].ours)
    last++;
  for (int i = 0; i < list->n_tensors; i++) {
    if (plan_tensor(&p[i], list, i, f, family, e))
      return e->status;
    if (!strcmp(list->all[i]->name, "wte"))
      embedding = p[i].from;
  }
  for (idx i = 0; i < f->tensors; i++) {
    const Entry *x = &f->tensor[i];
    const size_t n = strlen(last->theirs);
    /* a tied unembedding may be there as well */
    if (list->c.tied && !strncmp(x->name, last->theirs, n) &&
        !strcmp(x->name + n, ".weight")) {
      if (same_bytes(f, x, embedding, e))
        continue;
      return fail(e, 1,
                  "%s: expected %s to be the embedding, to which config.json "
                  "ties it, found other numbers. Try: "
                  "\"tie_word_embeddings\": false there",
                  f->shard[x->file].path, x->name);
    }
    if (!x->used && !needless(family, &list->c, x->name))
      return fail(e, 1,
                  "%s: expected the tensors of a %s of %d layers, found %.100s "
                  "too. Try: the config.json that belongs to it",
                  f->shard[x->file].path, family->type, list->c.layers,
                  x->name);
  }
  return 0;
}

/* The tensors of a plan, in the model's order. */
static int copy_tensors(ModelWriter *w, const Planned *p, const Folder *f,
                        bool link, Error *e) {
  int *source = grab(f->shards, sizeof *source, e);
  stop_gently();
  for (int i = 0; i < f->shards && !e->status; i++)
    source[i] = model_file_source(w, f->shard[i].path, f->shard[i].head, link,
                                  e);
  for (int i = 0; i < w->head.list.n_tensors && !e->status; i++) {
    const Tensor *x = w->head.list.all[i];
    const Entry *s = p[i].from;
    if (p[i].how & IN_CONFIG) {
      long_copy(w, f->path, e);
      continue;
    }
    const bool turned = p[i].how & TURNED || p[i].how == HEADS ||
                        p[i].how == TAPS;
    const int order = turned && x->rank == 2 ? OUT_IN : IN_OUT;
    Extent at = their_extent(&w->head.list.c, x, p[i].how, s);
    at.file = source[s->file];
    if (p[i].how & PLUS_ONE)
      plus_one_copy(w, s->name, s->format, &at, e);
    else if (p[i].how & STACKED)
      stacked_copy(w, s, p[i].scales, source, e);
    else
      model_file_copy(w, s->name, s->format, order, &at, e);
  }
  free(source);
  return e->status;
}

/* llama2.c's file, as if it were a safetensors file of a llama: 7 integers of
 * 32 bits (dim, hidden, layers, heads, key heads, vocabulary, context; a
 * vocabulary below 0 means an unembedding of its own), then 32-bit floats, end
 * to end: each row of this table, of all blocks in turn. Heads pair dims (2p,
 * 2p + 1). */
enum { BIN_HEAD = 28, BIN_NAME = 160 };

/* "" stands for cosines and sines [T,D], which are made anew. */
static const char *const BIN[] = {
  "wte",      "l*.norm1", "l*.wq", "l*.wk", "l*.wv", "l*.wo",
  "l*.norm2", "l*.w1",    "l*.w3", "l*.w2", "normf", "",
  "wcls"};

/* Fills s->model from the head. */
static int bin_head(Settings *s, const unsigned char head[BIN_HEAD],
                    const char *path, Error *e) {
  static const char *const FLAGS[] = {
    "dim", "ffn", "layers", "heads", "kv-heads", "vocab", "context"};
  settings_default(s);
  if (number_at(head, 4) == 0x616B3432)
    return fail(e, 1,
                "%s: expected version 0 of llama2.c's format, found a later "
                "one. Try: its export.py with --version 0",
                path);
  for (int i = 0; i < 7; i++) {
    const Option *o = option_find(FLAGS[i], MODEL);
    int64_t n = (int32_t)(uint32_t)number_at(head + 4 * i, 4);
    char text[32];
    if (o->field == offsetof(Settings, model.vocab)) {
      s->model.tied = n > 0;
      if (n < 0)
        n = -n;
    }
    if (n < (int64_t)o->least || n > (int64_t)o->most)
      return fail(e, 1,
                  "%s: expected %s of %.10g to %.10g in a file of llama2.c, "
                  "found %lld. Try: check that it is one",
                  path, o->flag, o->least, o->most, (long long)n);
    snprintf(text, sizeof text, "%lld", (long long)n);
    option_set(o, s, text, true, e);
  }
  s->model.rope_pairing = PAIR_INTERLEAVED;
  const Config *c = &s->model;
  if (c->dim % c->heads || c->heads % c->kv_heads)
    return fail(e, 1,
                "%s: expected heads that divide the width and key heads that "
                "divide the heads, found %d, %d and %d. Try: check that it is "
                "llama2.c's",
                path, c->dim, c->heads, c->kv_heads);
  return e->status;
}

/* Resolves s->model, which `from` described. */
static int settings_resolve(Settings *s, const char *from, Error *e) {
  Error own = {0};
  if (!config_resolve(&s->model, &own))
    return 0;
  /* what to try is told of flags, which a folder has not */
  char *hint = strstr(own.text, " Try: ");
  if (hint)
    *hint = 0;
  return fail(e, 1,
              "%s: expected a model that sink supports, found %s Try: another "
              "model",
              from, own.text);
}

/* Fills s->model and f, as folder_open does, from a file of `size` bytes. */
static int bin_open(Folder *f, Settings *s, const char *path,
                    const unsigned char head[BIN_HEAD], uint64_t size,
                    Error *e) {
  Model list = {0};
  uint64_t at = BIN_HEAD;
  *f = (Folder){.path = path};
  if (bin_head(s, head, path, e) || settings_resolve(s, path, e) ||
      model_list(&list, &s->model, e))
    return e->status;
  f->shard = grab(1, sizeof *f->shard, e);
  f->tensor = grab(list.n_tensors, sizeof *f->tensor, e);
  f->names = grab(list.n_tensors, BIN_NAME, e);
  if (!e->status && !path_make(f->shard[0].path, e, "%s", path))
    f->shards = 1;
  for (size_t i = 0; i < sizeof BIN / sizeof BIN[0] && !e->status; i++) {
    if (!*BIN[i])
      at += 4 * (uint64_t)list.c.context * (uint64_t)list.c.head_dim;
    for (int k = 0; k < list.n_tensors && !e->status; k++) {
      const Tensor *ours = list.all[k];
      char *name = f->names + f->tensors * BIN_NAME;
      int how, number[2];
      if (!fits(BIN[i], ours->name, number) ||
          counterpart(LLAMA, ours, name, &how, e))
        continue;
      Entry *x = &f->tensor[f->tensors++];
      *x = (Entry){.name = name,
                   .format = DTYPE_F32,
                   .begin = at,
                   .end = at + 4 * (uint64_t)tensor_count(ours)};
      x->rank = their_shape(&list.c, ours, how, x->shape);
      at = x->end;
    }
  }
  model_free(&list);
  if (e->status)
    return e->status;
  f->shard[0].head = BIN_HEAD;
  if (at != size)
    return fail(e, 1,
                "%s: expected %llu bytes for the shape in its header, found "
                "%llu. Try: download it again",
                path, (unsigned long long)at, (unsigned long long)size);
  return folder_sort(f, e);
}

/* Opens a folder, or a file of llama2.c (*one), as the resolved s->model and f,
 * to be freed. */
static const Family *published_open(Folder *f, Settings *s, const char *from,
                                    bool *one, Error *e) {
  unsigned char head[BIN_HEAD];
  char name[1024];
  uint64_t size = 0;
  Json config = {0};
  const Family *family = NULL;
  FILE *in = fopen(from, "rb");
  /* of a folder no byte can be read */
  *one = in && fread(head, 1, sizeof head, in) == sizeof head;
  if (*one && !file_size(in, &size))
    fail(e, 1, "%s: cannot be read. Try: check the disk", from);
  if (in)
    fclose(in);
  if (*one) {
    if (!memcmp(head, "GGUF", 4))
      fail(e, 1,
           "%s: expected a folder or a file of llama2.c, found a GGUF file. "
           "Try: the folder of safetensors that it was made of",
           from);
    bool json = head[0] == '{' && (head[1] == '"' || isspace(head[1]));
    bool tensors = head[8] == '{' && number_at(head, 8) <= size - 8;
    if (!memcmp(head, "PK\003\004", 4) || json || tensors)
      fail(e, 1,
           "%s: expected a folder or a file of llama2.c, found one file of a "
           "folder. Try: the folder with its config.json",
           from);
    if (e->status || bin_open(f, s, from, head, size, e))
      return NULL;
    return &FAMILIES[LLAMA_FAMILY];
  }
  /* the library would load the model that this file names, and add it */
  if (folder_has(name, from, "adapter_config.json", e))
    fail(e, 1,
         "%s: expected a whole model in its folder, found an adapter (LoRA). "
         "Try: merge_and_unload() and save_pretrained in Python, or another "
         "folder for the model alone",
         name);
  bool whole = folder_has(name, from, "config.json", e);
  if (!whole && folder_has(name, from, "snapshots", e))
    fail(e, 1,
         "%s: expected a folder with config.json, found a cache of downloads. "
         "Try: the folder in %s",
         from, name);
  if (!whole && !e->status)
    fail(e, 1,
         "%s: expected a folder with config.json or a file of llama2.c, found "
         "none. Try: check the path, or download the model first, as "
         "config.json and safetensors (no GGUF is read)",
         from);
  path_make(name, e, "%s/config.json", from);
  if (!e->status && !json_load(&config, name, e))
    family = family_read(&config, s, e);
  json_free(&config);
  if (family && !folder_open(f, from, e) &&
      (family->tensors != GEMMA_IMAGE || !image_out(f, e)))
    settings_resolve(s, from, e);
  return family;
}

/* A published model as the model file `out`; a folder, or a file of llama2.c.
 * tokenizer: a file or folder, "" for the folder's own, which goes to
 * `out`.tok. The folder's own, where it cannot be read, does not keep a model
 * from being looked at with ids made elsewhere: that is told on stderr. A named
 * one has to be readable. Prints a line. */
static int import_model(const char *from, const char *out, bool link,
                        const char *tokenizer, Error *e) {
  Bytes file = {0};
  Tokenizer t = {0};
  char words[1024];
  bool one;
  Settings s;
  Folder f = {0};
  ModelWriter w;
  Error own = {0};
  const Family *family = published_open(&f, &s, from, &one, e);
  path_make(words, e, "%s.tok", out);
  if (!e->status && *tokenizer)
    tokenizer_named(tokenizer, s.model.vocab, &file, &t, e);
  else if (!e->status && !one &&
           tokenizer_from(from, s.model.vocab, &file, &t, &own))
    fprintf(stderr, "hf: its tokenizer is left out: %s\n", own.text);
  if (*tokenizer || !one) {
    s.data.bos = t.bos == TOKEN_BOS;
    if (t.published)
      s.data.bos = t.published->begins;
  }
  s.data.fix_token = t.vocab && !t.published && t.bos == TOKEN_FIX;
  if (!e->status && !model_file_begin(&w, out, &s, t.hash, e)) {
    int tensors = w.head.list.n_tensors;
    idx count = w.head.list.count;
    Planned *p = grab(tensors, sizeof *p, e);
    if (p && !plan(p, &w.head.list, &f, family, e))
      copy_tensors(&w, p, &f, link, e);
    free(p);
    if (!model_file_end(&w, e) && t.vocab)
      file_write(words, file.at, file.size, e);
    else if (!e->status)
      remove(words); /* an older model's, with --force */
    if (!e->status && f.left_out)
      fprintf(stderr,
              "hf: left out: the image part, %lld tensors (vision_tower.*, "
              "multi_modal_projector.*). Texts alone: no image tokens\n",
              (long long)f.left_out);
    if (!e->status)
      printf("family=%s tensors=%d parameters=%lld files=%d linked=%s "
             "tokenizer=%s out=%s\n",
             family->type, tensors, (long long)count, f.shards,
             link ? "yes" : "no", t.vocab ? words : "none", out);
  }
  tokenizer_free(&t);
  bytes_free(&file);
  folder_free(&f);
  return e->status;
}
