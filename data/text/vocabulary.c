/* vocabulary.c - a tokenizer learnt from text, and a text's ids: the verb
 * tokenize. sink.c's chapter 8 says what a tokenizer is, and reads the file
 * that this writes.
 *
 * SPDX-License-Identifier: MIT
 *
 * ./paper and ./hf include this, behind teller.c. Training starts from the 256
 * bytes and merges, again and again, a text's most frequent pair of neighbours.
 * The tests are in data/check/test_text.c and test_source.c.
 */

/* ---- 1  Numbered pairs --- */

/* Distinct pairs of numbers >= 0, numbered 0, 1, ... in order of first sight,
 * found by hashing. */
typedef struct Pairs {
  struct Pair *at;             /* [room], 0 or a power of two */
  size_t size, room;           /* size of them are in use */
  uint32_t *slot;              /* [2 room], 1 + a pair's number, 0 for empty */
} Pairs;

/* `last` is BpeTrainer's; in data/models/words.c it is 1 + what ends here, 0
 * for nothing. */
typedef struct Pair {
  int32_t left, right;
  uint32_t last;
  int64_t count;   /* training only: how often the pair is in the text */
} Pair;

/* The slot of a pair, or the empty one where it would stand. */
static size_t pairs_slot(const Pairs *p, int32_t left, int32_t right) {
  uint64_t key = (uint64_t)(uint32_t)left << 32 | (uint32_t)right;
  /* 2^64 over the golden ratio: spreads keys over the high bits */
  key *= 0x9E3779B97F4A7C15u;
  size_t mask = 2 * p->room - 1, s = (size_t)(key >> 32) & mask;
  for (; p->slot[s]; s = (s + 1) & mask) {
    const Pair *q = &p->at[p->slot[s] - 1];
    if (q->left == left && q->right == right)
      break;
  }
  return s;
}
static int64_t pairs_find(const Pairs *p, int32_t left, int32_t right) {
  if (!p->room)
    return -1;
  return (int64_t)p->slot[pairs_slot(p, left, right)] - 1;
}
static void pairs_free(Pairs *p) {
  free(p->at);
  free(p->slot);
  *p = (Pairs){0};
}

static int pairs_grow(Pairs *p, Error *e) {
  Pairs q = {.size = p->size, .room = p->room ? 2 * p->room : 256};
  q.at = grab((idx)q.room, sizeof *q.at, e);
  q.slot = grab((idx)(2 * q.room), sizeof *q.slot, e);
  for (size_t i = 0; i < q.size && !e->status; i++) {
    q.at[i] = p->at[i];
    q.slot[pairs_slot(&q, q.at[i].left, q.at[i].right)] = (uint32_t)(i + 1);
  }
  pairs_free(e->status ? &q : p);
  if (!e->status)
    *p = q;
  return e->status;
}

static int64_t pairs_number(Pairs *p, int32_t left, int32_t right, Error *e) {
  int64_t number = pairs_find(p, left, right);
  if (number >= 0)
    return number;
  if (p->size == p->room && pairs_grow(p, e))
    return -1;
  p->at[p->size] = (Pair){.left = left, .right = right};
  p->slot[pairs_slot(p, left, right)] = (uint32_t)++p->size;
  return (int64_t)p->size - 1;
}

/* ---- 2  Training --- */

enum { TRAIN_BYTES_MAX = 1 << 30 };   /* so 32 bits number nodes and symbols */

/* The nodes are a tree of prefixes: (1 + the parent's number or 0, a byte). A
 * word's has how often it is in the text, count, and where in symbols it
 * starts, last. */
typedef struct BpeTrainer {
  Pairs nodes;
  Ids symbols;   /* the ids that spell words, a -1 after each */
  Pairs pairs;   /* the neighbours (left id, right id) in all words */
} BpeTrainer;

/* Counts a text's words; at first sight each is spelled by its bytes. */
static void bpe_words(BpeTrainer *r, const unsigned char *text, size_t n,
                      Error *e) {
  for (size_t at = 0, length; at < n; at += strlen(DOCUMENT_END))
    for (size_t end = at + document_length(text + at, n - at); at < end;
         at += length) {
      int64_t node = -1;
      length = piece_length(text + at, end - at);
      for (size_t i = 0; i < length && !e->status; i++)
        node = pairs_number(&r->nodes, (int32_t)(node + 1), text[at + i], e);
      if (e->status)
        return;
      Pair *word = &r->nodes.at[node];
      if (word->count++ > 0)
        continue;
      word->last = (uint32_t)r->symbols.size;
      for (size_t i = 0; i < length; i++)
        id_add(&r->symbols, TOKEN_BYTE + text[at + i], e);
      id_add(&r->symbols, -1, e);
    }
}

/* Adds the pairs of word k, or with sign -1 takes them away. */
static void word_count(BpeTrainer *r, size_t k, int sign, Error *e) {
  const Pair *word = &r->nodes.at[k];
  for (const int32_t *s = r->symbols.at + word->last; s[1] >= 0; s++) {
    int64_t number = pairs_number(&r->pairs, s[0], s[1], e);
    if (number >= 0)
      r->pairs.at[number].count += sign * word->count;
  }
}

/* In every word the token `made` takes the place of a pair,
 * from left to right. */
static void bpe_merge(BpeTrainer *r, int32_t left, int32_t right, int32_t made,
                      Error *e) {
  for (size_t k = 0; k < r->nodes.size && !e->status; k++) {
    if (!r->nodes.at[k].count)   /* it only begins words */
      continue;
    int32_t *s = r->symbols.at + r->nodes.at[k].last, *to;
    while (s[1] >= 0 && (s[0] != left || s[1] != right))
      s++;
    if (s[1] < 0)
      continue;
    word_count(r, k, -1, e);   /* all of its pairs are there */
    for (to = s; *s >= 0; s++) {
      bool here = s[0] == left && s[1] == right;
      *to++ = here ? made : *s;
      s += here;
    }
    *to = -1;
    word_count(r, k, 1, e);
  }
}

/* The most frequent pair: of equals the lowest left id, then right id. NULL
 * when none occurs twice: merging it would save nothing. */
static const Pair *bpe_best(const BpeTrainer *r) {
  const Pair *best = NULL;
  for (size_t i = 0; i < r->pairs.size; i++) {
    const Pair *p = &r->pairs.at[i];
    const int64_t least = best ? best->count : 2;
    if (p->count < least)
      continue;
    if (!best || p->count > least || p->left < best->left ||
        (p->left == best->left && p->right < best->right))
      best = p;
  }
  return best;
}

static int tokenizer_train(Tokenizer *t, const unsigned char *text, size_t n,
                           int vocab, Error *e) {
  BpeTrainer r = {0};
  *t = (Tokenizer){0};
  if (vocab < TOKEN_MERGE || vocab > TOKENIZER_VOCAB_MAX)
    return fail(e, 2, "--vocab: expected %d to %d, found %d. Try: --vocab 2048",
                TOKEN_MERGE, TOKENIZER_VOCAB_MAX, vocab);
  if (n > TRAIN_BYTES_MAX)
    return fail(e, 1, "training text: expected at most 1 GiB, found %zu bytes. "
                "Try: less", n);
  if (!tokenizer_begin(t, vocab, e))
    bpe_words(&r, text, n, e);
  for (size_t k = 0; k < r.nodes.size && !e->status; k++)
    if (r.nodes.at[k].count)   /* else it only begins words */
      word_count(&r, k, 1, e);
  while (!e->status && t->vocab < vocab) {
    const Pair *best = bpe_best(&r);
    if (!best)
      fail(e, 1, "training text: too few pairs to merge. Try: more text, or "
           "--vocab %d", t->vocab);
    else if (!tokenizer_merge(t, best->left, best->right, "training text", e))
      bpe_merge(&r, best->left, best->right, t->vocab - 1, e);
  }
  if (e->status)
    tokenizer_free(t);
  pairs_free(&r.nodes);
  pairs_free(&r.pairs);
  ids_free(&r.symbols);
  return e->status;
}

/* ---- 3  Writing the file --- */

/* A number of 1 to 8 bytes, little-endian. */
static int bytes_number(Bytes *b, uint64_t x, int bytes, Error *e) {
  unsigned char out[8];
  number_put(out, x, 8);
  return bytes_add(b, out, (size_t)bytes, e);
}

static int tokenizer_bytes(const Tokenizer *t, Bytes *out, Error *e) {
  bytes_add(out, TOKENIZER_MAGIC, 8, e);
  bytes_number(out, TOKENIZER_OWN, 4, e);
  bytes_number(out, (uint64_t)t->vocab, 4, e);
  bytes_number(out, (uint64_t)(t->vocab - TOKEN_MERGE), 4, e);
  for (int id = TOKEN_MERGE; id < t->vocab; id++) {
    bytes_number(out, (uint64_t)t->token[id].left, 4, e);
    bytes_number(out, (uint64_t)t->token[id].right, 4, e);
  }
  bytes_number(out, hash64(0, out->at, out->size), 8, e);
  return e->status;
}
static int tokenizer_save(const char *path, const Tokenizer *t, Error *e) {
  Bytes file = {0};
  if (!tokenizer_bytes(t, &file, e))
    file_write(path, file.at, file.size, e);
  bytes_free(&file);
  return e->status;
}

/* ---- 4  tokenize train FILE|FOLDER .. --out FILE --- */

static int vocabulary_train(Settings *s, Error *e) {
  enum { TOLD_BYTES = 8000000 };   /* of --grammar */
  Tokenizer t = {0};
  Bytes in = {0}, names = {0};
  const int n = s->n_words;
  size_t ends = 0;   /* text_read adds one to each text */
  if (n < 2 && !s->data.grammar[0])
    return fail(e, 2, "tokenize train: expected texts or --grammar FILE. %s",
                HINT);
  if (!s->out[0])
    return fail(e, 2, "tokenize train: expected --out FILE. %s", HINT);
  s->data.tokenizer[0] = 0;   /* none is read, and one may be replaced */
  if (outputs_ready(s, (const char *[]){s->out}, 1, e))
    return e->status;
  for (int i = 1; i < n && !e->status; i++)
    files_list(s->words[i], &names, e);
  for (size_t at = 0; at < names.size && !e->status;
       at += strlen((char *)names.at + at) + 1) {
    text_read((char *)names.at + at, &in, e);
    ends += strlen(DOCUMENT_END);
  }
  bytes_free(&names);
  if (s->data.grammar[0])
    grammar_documents(s, 1, TOLD_BYTES, &in, e);
  if (in.size == ends)
    fail(e, 1, "tokenize train: expected documents, found none. Try: other "
         "texts");
  int vocab = s->model.vocab ? s->model.vocab : VOCAB_DEFAULT;
  if (!e->status && !tokenizer_train(&t, in.at, in.size, vocab, e) &&
      !tokenizer_save(s->out, &t, e))
    printf("vocabulary=%d text=%zu out=%s\n", t.vocab, in.size - ends, s->out);
  tokenizer_free(&t);
  bytes_free(&in);
  return e->status;
}

/* ---- 5  tokenize encode|decode [FILE] --- */

/* Prints the ids of a text. */
static void tokenize_encode(Told *w, const Settings *s, const char *path,
                            Error *e) {
  const Tokenizer *t = &w->t.data.tokenizer;
  if (w->in.size > 2 && !memcmp(w->in.at, "\xEF\xBB\xBF", 3))
    fprintf(stderr, "%s: %s: its byte order mark is tokenized, too\n",
            s->program->name, path);
  if (s->data.bos)
    id_add(&w->ids, t->bos, e);
  tokenizer_encode(t, w->in.at, w->in.size, &w->ids, e);
  for (size_t i = 0; i < w->ids.size && !e->status; i++)
    printf("%d%c", w->ids.at[i], i + 1 < w->ids.size ? ' ' : '\n');
}

/* Prints what ids spell. */
static void tokenize_decode(Told *w, const char *path, Error *e) {
  Data *d = &w->t.data;
  const Tokenizer *t = &d->tokenizer;
  if (ids_parse(&w->in, path, t->vocab, &w->ids, &d->starts, e) ||
      tokenizer_decode(t, w->ids.at, w->ids.size, &w->out, e))
    return;
  bool blank = t->blank && w->out.size && w->out.at[0] == ' ';   /* encode's */
  if (w->out.size)
    fwrite(w->out.at + blank, 1, w->out.size - blank, stdout);
}

static int verb_tokenize(Settings *s, Error *e) {
  Told w = {0};
  Data *d = &w.t.data;
  const char *what = s->words[0] ? s->words[0] : "";
  const char *path = s->n_words > 1 ? s->words[1] : "-";
  bool encode = !strcmp(what, "encode");
  if (!encode && strcmp(what, "decode"))
    fail(e, 2, "tokenize: expected train, encode or decode, found '%s'. %s",
         what, HINT);
  else if (s->n_words > 2)
    fail(e, 2, "tokenize %s: expected one file, found %d. Try: one at a time, "
         "or - for standard input", what, s->n_words - 1);
  else if (!data_open_tokenizer(d, &s->data, e) &&
           !first_open(d, &s->data, 0, e) && !file_read(path, &w.in, e)) {
    if (encode)
      tokenize_encode(&w, s, path, e);
    else
      tokenize_decode(&w, path, e);
  }
  return told_end(&w, e);
}

static int vocabulary_tokenize(Settings *s, Error *e) {
  bool train = s->n_words && !strcmp(s->words[0], "train");
  if (train && settings_refuse_idle(s, e))
    return e->status;
  if (train)
    return vocabulary_train(s, e);
  if (s->out[0])
    return fail(e, 2, "--out: has an effect only with tokenize train. Try: "
                "> %s", s->out);
  const char *idle = NULL;
  if (s->n_words && !strcmp(s->words[0], "decode") && s->data.bos)
    return fail(e, 2, "--bos: has an effect only with tokenize encode. Try: "
                "leave it out");
  if (s->force)
    idle = "force";
  else if (s->model.vocab)
    idle = "vocab";
  else if (s->data.grammar[0])
    idle = "grammar";
  if (idle)
    return fail(e, 2, "--%s: has an effect only with tokenize train. Try: "
                "leave it out", idle);
  return verb_tokenize(s, e);
}
