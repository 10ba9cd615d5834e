/* test_text.c - tokenizer, grammars, packing, interventions: chapters 8 and 9
 * of sink.c.
 *
 *     cc -O2 -DSINK_DOUBLE data/check/test_text.c -o test -lm && ./test
 *
 * SPDX-License-Identifier: MIT
 */
#define SINK_NO_MAIN
#include "../paper/options.h"
#include "../later/later.h"
#include "../../sink.c"
#include "../later/later.c"
#include "../text/first.c"
#include "../text/teller.c"
#include "../text/vocabulary.c"
#include "../text/shards.c"
#define PROGRAM FROM_HERE "sink"
#include "harness.c"
#include "programs.c"

/* =============================================================================
 * 8  Tokenizer
 *
 * Three things here know nothing of sink.c's ways: a cutter that tries each
 * kind of piece alone, an encoder that goes through the merges rank by rank, a
 * trainer that counts every pair anew. */

enum { ANY_BYTES, FEW_SIGNS, LONG_RUNS, SCRAPS, TEXT_MODES };

/* n bytes: any, of few letters and signs, in long runs, or scraps of SAMPLE. */
static void random_text(Rng *r, int mode, unsigned char *to, size_t n) {
  size_t from = 0, size = strlen(SAMPLE);
  for (size_t i = 0; i < n; i++) {
    switch (mode) {
    case ANY_BYTES: to[i] = (unsigned char)rng_below(r, 256); break;
    case FEW_SIGNS:
      to[i] = (unsigned char)"abe th  1.2\n\xc3\xa9"[rng_below(r, 14)];
      break;
    case LONG_RUNS:
      if (i && rng_below(r, 40))
        to[i] = to[i - 1];
      else
        to[i] = (unsigned char)"a 1=\n\xff\0"[rng_below(r, 7)];
      break;
    default:
      if (!i || !rng_below(r, 9))
        from = (size_t)rng_below(r, size);
      to[i] = (unsigned char)SAMPLE[from++ % size];
    }
  }
}

static void release_ids(void *room) { ids_free(room); }
static Ids *ids_of(Test *t) { return later(t, 1, sizeof(Ids), release_ids); }
static void ids_push(Ids *ids, int32_t id) {
  ids_add(ids, &id, 1, &(Error){0});
}

static bool bytes_are(const Bytes *b, const void *at, size_t n) {
  return b->size == n && (!n || !memcmp(b->at, at, n));
}

/* Whether from's tokens are at place `at` of all. */
static bool stands_at(const Ids *all, size_t at, const Ids *from) {
  return at + from->size <= all->size &&
         (!from->size ||
          !memcmp(all->at + at, from->at, from->size * sizeof *from->at));
}

static bool same_ids(const Ids *a, const Ids *b) {
  return a->size == b->size && stands_at(a, 0, b);
}

static void release_tokenizer(void *room) { tokenizer_free(room); }

/* A tokenizer trained on a mixture of all of that. */
static Tokenizer *sample_tokenizer(Test *t, int vocab) {
  enum { SIZE = 20000 };
  Rng r = {9};
  Tokenizer *k = later(t, 1, sizeof *k, release_tokenizer);
  unsigned char s[SIZE];
  random_text(&r, SCRAPS, s, 10000);
  random_text(&r, FEW_SIGNS, s + 10000, 8000);
  random_text(&r, LONG_RUNS, s + 18000, 2000);
  fact(t, !tokenizer_train(k, s, SIZE, vocab, fresh(t)) && k->vocab == vocab,
       "%s", t->e.text);
  return k;
}

/* Kinds 0 to 3: letter, digit, neither, white space. */
static bool oracle_is(int kind, unsigned char b) {
  const bool white = memchr(" \t\n\v\f\r", b, 6) != NULL;
  const bool digit = memchr("0123456789", b, 10) != NULL;
  const bool letter =
      b > 127 ||
      memchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ", b, 52);
  switch (kind) {
  case 0: return letter;
  case 1: return digit;
  case 2: return !white && !digit && !letter;
  default: return white;
  }
}

/* Length of the first piece: each of the four kinds tried on its own, the
 * longest taken. */
static size_t oracle_piece(const unsigned char *s, size_t n) {
  size_t longest = 0;
  for (int kind = 0; kind < 4; kind++) {
    size_t space = kind < 3 && n && s[0] == ' ', run = 0;
    while (space + run < n && oracle_is(kind, s[space + run]))
      run++;
    if (kind == 1 && run > 3)
      run = 3;
    if (run == 0)
      continue;
    if (space + run > PIECE_MAX)
      run = PIECE_MAX - space;
    if (kind == 3 && run > 1 && s[run - 1] == ' ' && run < n &&
        !oracle_is(3, s[run]))
      run--;
    if (space + run > longest)
      longest = space + run;
  }
  return longest;
}

/* Replaces each left, right in ids[0..n) by made, from the left; returns how
 * many ids remain. */
static size_t oracle_join(int32_t *ids, size_t n, int32_t left, int32_t right,
                          int32_t made) {
  size_t kept = 0;
  for (size_t i = 0; i < n; i++) {
    bool here = i + 1 < n && ids[i] == left && ids[i + 1] == right;
    ids[kept++] = here ? made : ids[i];
    i += here;
  }
  return kept;
}

/* BPE by the book: for each rank in turn, join all its occurrences
 * in the piece. */
static void oracle_encode(const Tokenizer *k, const unsigned char *text,
                          size_t n, Ids *out) {
  for (size_t length; n; text += length, n -= length) {
    size_t m = length = oracle_piece(text, n);
    int32_t ids[PIECE_MAX];
    for (size_t i = 0; i < length; i++)
      ids[i] = TOKEN_BYTE + text[i];
    for (int id = TOKEN_MERGE; id < k->vocab && m > 1; id++)
      m = oracle_join(ids, m, k->token[id].left, k->token[id].right, id);
    ids_add(out, ids, m, &(Error){0});
  }
}

/* The first merge that training by the book would not have chosen, or how many
 * there are. */
static size_t oracle_train(const Tokenizer *k, const unsigned char *text,
                           size_t n) {
  enum { SIDE = 360 }; /* above every vocabulary trained here */
  Ids s = {0};         /* ids of all pieces, -1 after each */
  size_t r = 0, mark = strlen(DOCUMENT_END);
  double *count = room(SIDE * SIDE);
  for (size_t length; n; text += length, n -= length) {
    size_t document = 0;
    while (document < n &&
           (n - document < mark || memcmp(text + document, DOCUMENT_END, mark)))
      document++;
    length = document ? oracle_piece(text, document) : mark;
    for (size_t i = 0; i < length && document; i++)
      ids_push(&s, TOKEN_BYTE + text[i]);
    ids_push(&s, -1);
  }
  for (; r < (size_t)(k->vocab - TOKEN_MERGE); r++) {
    int best = 0;
    memset(count, 0, SIDE * SIDE * sizeof *count);
    for (size_t i = 0; i + 1 < s.size; i++)
      if (s.at[i] >= 0 && s.at[i + 1] >= 0)
        count[s.at[i] * SIDE + s.at[i + 1]]++;
    for (int i = 0; i < SIDE * SIDE; i++)
      if (count[i] > count[best])
        best = i;
    int left = best / SIDE, right = best % SIDE;
    const TokenEntry *made = &k->token[TOKEN_MERGE + r];
    if (left != made->left || right != made->right)
      break;
    s.size = oracle_join(s.at, s.size, left, right, 259 + (int32_t)r);
  }
  free(count);
  ids_free(&s);
  return r;
}

/* A tokenizer from merges in order of rank, through the file's format; t->e has
 * what is wrong. */
static Tokenizer *tokenizer_of(Test *t, int32_t (*merges)[2], int n) {
  Tokenizer *k = later(t, 1, sizeof *k, release_tokenizer);
  Error *e = fresh(t);
  Bytes *b = bytes_of(t);
  bytes_add(b, "SINKTOK1\1\0\0\0", 12, e);
  bytes_number(b, (uint64_t)(259 + n), 4, e);
  bytes_number(b, (uint64_t)n, 4, e);
  for (int i = 0; i < 2 * n; i++)
    bytes_number(b, (uint64_t)merges[i / 2][i % 2], 4, e);
  bytes_number(b, 0, 8, e);
  seal(b);
  tokenizer_read(b->at, b->size, "x", k, e);
  return k;
}

/* Encoding as the oracle does, which knows no special id, and decoding back to
 * the same bytes. */
static void encode_and_back(Test *t, const Tokenizer *k, const void *text,
                            size_t n, const char *what) {
  Ids ids = {0}, slow = {0};
  Bytes back = {0};
  tokenizer_encode(k, text, n, &ids, fresh(t));
  tokenizer_decode(k, ids.at, ids.size, &back, &t->e);
  fact(t, !t->e.status && bytes_are(&back, text, n), "%s: other bytes %s", what,
       t->e.text);
  oracle_encode(k, text, n, &slow);
  fact(t, same_ids(&slow, &ids), "%s: %zu ids of %zu bytes", what, ids.size, n);
  ids_free(&ids);
  ids_free(&slow);
  bytes_free(&back);
}

/* The oracle cuts as chapter 8 says in words. A tokenizer that merges any
 * two of eight bytes shows where sink.c cuts; tokens that double in length
 * show that a piece, the blank before a word included, ends after
 * PIECE_MAX bytes. */
static void pieces__as_the_oracle_cuts(Test *t) {
  static const char TEXT[] = "It's 1,024  km\n  x \n\t\n y9999  ",
                    CUT[] = "It|'|s| 1|,|024| | km|\n | x| \n\t\n| y|999|9|  |";
  static const unsigned char KINDS[8] = {'a', 'Z',  '1', '2',
                                         ' ', '\n', '=', 0xC3};
  char cut[100] = "";
  for (size_t at = 0, n = strlen(TEXT), length; at < n; at += length) {
    length = oracle_piece((const unsigned char *)TEXT + at, n - at);
    strncat(cut, TEXT + at, length);
    strcat(cut, "|");
  }
  fact(t, !strcmp(cut, CUT), "the oracle cuts %s", cut);
  int32_t merges[64][2];
  Rng r = {1};
  /* all pairs, in an order drawn at random */
  for (int i = 0; i < 64; i++) {
    const int j = (int)rng_below(&r, (uint64_t)i + 1);
    memcpy(merges[i], merges[j], sizeof merges[i]);
    merges[j][0] = TOKEN_BYTE + KINDS[i / 8];
    merges[j][1] = TOKEN_BYTE + KINDS[i % 8];
  }
  const Tokenizer *c = tokenizer_of(t, merges, 64);
  unsigned char s[400];
  for (int trial = 0; trial < 4000; trial++) {
    const size_t n = 1 + (size_t)rng_below(&r, trial % 8 ? 12 : sizeof s);
    /* every other text has long runs */
    for (size_t i = 0; i < n; i++)
      s[i] = i && trial % 2 && rng_below(&r, 60) ? s[i - 1]
                                                 : KINDS[rng_below(&r, 8)];
    encode_and_back(t, c, s, n, "kinds");
  }
  for (int i = 0; i < 7; i++)
    merges[i][0] = merges[i][1] = i ? 258 + i : TOKEN_BYTE + 'x';
  c = tokenizer_of(t, merges, 7);
  for (int blank = 0; blank < 2; blank++) {
    memset(s, 'x', sizeof s);
    if (blank)
      s[0] = ' ';
    fact(t, oracle_piece(s, sizeof s) == 128, "a piece that begins with %c",
         s[0]);
    for (size_t n = 100; n < 400; n++)
      encode_and_back(t, c, s, n, "a long piece");
  }
}

static void tokenizer_encode__by_the_book(Test *t) {
  Rng r = {2};
  unsigned char s[1500] = {0};
  for (int vocab = 259; vocab <= 399; vocab += 70) {
    const Tokenizer *c = sample_tokenizer(t, vocab);
    encode_and_back(t, c, s, 0, "nothing");
    for (int b = 0; b < 256; b++) {
      memset(s, b, 300);
      encode_and_back(t, c, s, 1, "one byte");
      encode_and_back(t, c, s, 300, "300 equal bytes");
    }
    for (int trial = 0; trial < 120; trial++) {
      const size_t n = (size_t)rng_below(&r, sizeof s);
      random_text(&r, trial % TEXT_MODES, s, n);
      encode_and_back(t, c, s, n, "random");
    }
    encode_and_back(t, c, SAMPLE, strlen(SAMPLE), "SAMPLE");
    encode_and_back(t, c, "<|endoftext|><|bos|><|fix|>", 27, "special names");
  }
}

/* Whether two tokenizers would be the same file. */
static bool same_tokens(const Tokenizer *a, const Tokenizer *b) {
  Bytes x = {0}, y = {0};
  Error e = {0};
  const bool same = !tokenizer_bytes(a, &x, &e) &&
                    !tokenizer_bytes(b, &y, &e) && bytes_are(&x, y.at, y.size);
  bytes_free(&x);
  bytes_free(&y);
  return same;
}

static void tokenizer_train__by_the_book(Test *t) {
  Rng r = {4};
  unsigned char s[6000];
  for (int trial = 0; trial < 8; trial++) {
    Tokenizer k, again;
    const size_t n = sizeof s / 2 + (size_t)rng_below(&r, sizeof s / 2);
    int vocab = trial % 4 ? 320 : 280;
    random_text(&r, trial % TEXT_MODES, s, n);
    if (trial % 4 == 3)
      memcpy(s + n / 2, DOCUMENT_END DOCUMENT_END, 26);
    /* runs have few pairs */
    while (tokenizer_train(&k, s, n, vocab, fresh(t))) {
      const char *hint = strstr(t->e.text, "Try: more text, or --vocab ");
      fact(t, hint && t->e.status == 1 && !k.token, "%s", t->e.text);
      if (!hint || vocab <= atoi(hint + 27))
        return;
      vocab = atoi(hint + 27);
    }
    const int same = (int)oracle_train(&k, s, n);
    fact(t, vocab > 265 && same == vocab - 259, "text %d: %d merges", trial,
         same);
    fact(t,
         !tokenizer_train(&again, s, n, vocab, fresh(t)) &&
             same_tokens(&again, &k),
         "text %d: another one", trial);
    tokenizer_free(&k);
    tokenizer_free(&again);
  }
}

static int trained(Test *t, Tokenizer *k, const char *text, int vocab) {
  return tokenizer_train(k, (const unsigned char *)text, strlen(text), vocab,
                         fresh(t));
}

/* Ties by hand, the order of documents, and vocabularies that cannot be had. */
static void tokenizer_train__by_hand(Test *t) {
  static const char
      ONE[] = "low lower<|endoftext|>newest widest<|endoftext|>low low",
      TWO[] = "<|endoftext|>newest widest<|endoftext|><|endoftext|>low "
              "low<|endoftext|>low lower";
  /* lo and ow occur 4 times, and l < o; then lo+w; then the lowest left id, a
   * blank and low */
  static const int32_t EXPECT[3][2] = {{3 + 'l', 3 + 'o'},
                                       {259, 3 + 'w'},
                                       {3 + ' ', 260}};
  static const struct {
    const char *text;
    int vocab, status;
    const char *hint;
  } WRONG[] = {
    {"abab cd", 261, 1, "--vocab 260"}, {"", 260, 1, "--vocab 259"},
    {"", 258, 2, "259 to 262144"},
    {"", TOKENIZER_VOCAB_MAX + 1, 2, "259 to 262144"}};
  Tokenizer a, b;
  fact(t,
       !trained(t, &a, ONE, 262) && !trained(t, &b, TWO, 262) &&
           same_tokens(&a, &b),
       "the order of documents plays a part %s", t->e.text);
  EACH (i, EXPECT)
    fact(t,
         a.token[259 + i].left == EXPECT[i][0] &&
             a.token[259 + i].right == EXPECT[i][1],
         "merge %d is %d %d", i, a.token[259 + i].left, a.token[259 + i].right);
  tokenizer_free(&a);
  tokenizer_free(&b);
  EACH (i, WRONG)
    fact(t,
         trained(t, &a, WRONG[i].text, WRONG[i].vocab) == WRONG[i].status &&
             !a.token && strstr(t->e.text, WRONG[i].hint),
         "%d: %s", WRONG[i].vocab, t->e.text);
  fact(t, !trained(t, &a, "", 259) && a.vocab == 259, "bytes alone: %s",
       t->e.text);
  tokenizer_free(&a);
}

/* A file cut, changed or longer. */
static void tokenizer_read__damage(Test *t) {
  Tokenizer *k = sample_tokenizer(t, 300), back;
  Bytes *b = bytes_of(t), *w = bytes_of(t);
  fact(t,
       !tokenizer_bytes(k, b, fresh(t)) && b->size == 28 + 8 * 41 &&
           !memcmp(b->at, "SINKTOK1\1\0\0\0\x2c\1\0\0\x29\0\0\0", 20),
       "%zu bytes", b->size);
  fact(t,
       !tokenizer_read(b->at, b->size, "x", &back, &t->e) &&
           back.hash == number_at(b->at + b->size - 8, 8) &&
           !tokenizer_bytes(&back, w, &t->e) && bytes_are(w, b->at, b->size) &&
           !memcmp(back.pool.at, k->pool.at, k->token[300].start),
       "another one %s", t->e.text);
  tokenizer_free(&back);
  for (size_t n = 0; n < b->size; n++)
    fact(t, refused(b->at, n), "cut to %zu bytes", n);
  for (size_t i = 0; i < b->size; i++)
    for (int bit = 1; bit < 256; bit += bit < 128 ? bit : 127) {
      w->at[i] ^= (unsigned char)bit;
      fact(t, refused(w->at, w->size), "with byte %zu changed, it is read", i);
      w->at[i] ^= (unsigned char)bit;
    }
  bytes_add(w, "", 1, &t->e);
  fact(t, refused(w->at, w->size), "with a byte more, it is read");
}

/* Wrong contents under a right checksum. */
static void tokenizer_read__contents(Test *t) {
  static const struct {
    size_t at;
    int size;
    uint64_t value;
    const char *found;
  } WRONG[] = {
    {0, 1, 'X', "which begins"}, {8, 1, 3, "of ./sink"}, {8, 1, 2, "make hf"},
    {15, 1, 255, "262144"}, {16, 1, 40, "of ./sink"}, {12, 1, 2, "of ./sink"},
    {12, 1, 0x2d, "of ./sink"}, {20, 1, 2, "merge 0"}, {24, 1, 0, "merge 0"},
    {21, 1, 1, "merge 0"}, {30, 1, 255, "merge 1"}, {35, 1, 255, "merge 1"},
    /* a merge made of itself */
    {20, 4, 259, "merge 0 to be a new pair of ids 3 to 258"},
    {24, 4, 259, "merge 0 to be a new pair of ids 3 to 258"},
    /* a pair merged twice: that of merge 3 */
    {20 + 8 * 7, 8, 0, "merge 7 to be a new pair of ids 3 to 265"}};
  Tokenizer *k = sample_tokenizer(t, 300), back;
  Bytes *b = bytes_of(t), *w = bytes_of(t);
  tokenizer_bytes(k, b, fresh(t));
  bytes_add(w, b->at, b->size, &t->e);
  EACH (i, WRONG) {
    uint64_t value = WRONG[i].value;
    if (WRONG[i].size == 8)
      value = number_at(b->at + 20 + 8 * 3, 8);
    memcpy(w->at, b->at, b->size);
    for (int j = 0; j < WRONG[i].size; j++, value >>= 8)
      w->at[WRONG[i].at + (size_t)j] = (unsigned char)value;
    seal(w);
    fact(t,
         refused(w->at, w->size) &&
             tokenizer_read(w->at, w->size, "x", &back, fresh(t)) &&
             strstr(t->e.text, WRONG[i].found),
         "byte %zu: %s", WRONG[i].at, t->e.text);
  }
  /* each twice the one before; the eighth: 129 bytes */
  int32_t merges[8][2];
  for (int i = 0; i < 8; i++)
    merges[i][0] = merges[i][1] = i ? 258 + i : 100;
  merges[7][1] = 100;
  tokenizer_of(t, merges, 8);
  fact(t,
       strstr(t->e.text,
              "merge 7 to be a new pair of ids 3 to 265, in at most 128"),
       "%s", t->e.text);
}

/* Thousands of files at random: what is read encodes a text and decodes it. */
static void tokenizer_read__tampered(Test *t) {
  enum { TRIALS = 6000 };
  Rng r = {5};
  Tokenizer *k = sample_tokenizer(t, 300), back;
  Bytes *b = bytes_of(t), *w = bytes_of(t);
  int accepted = 0;
  tokenizer_bytes(k, b, fresh(t));
  bytes_add(w, b->at, b->size, &t->e);
  for (int trial = 0; trial < TRIALS; trial++) {
    w->size = b->size;
    memcpy(w->at, b->at, b->size);
    for (uint64_t changes = 1 + rng_below(&r, 3); changes--;) {
      const size_t at = trial % 2 ? 20 + 4 * (size_t)rng_below(&r, 82)
                                  : (size_t)rng_below(&r, b->size - 8);
      w->at[at] = (unsigned char)rng_below(&r, 256);
    }
    if (trial % 8 == 7)
      w->size = (size_t)rng_below(&r, b->size);
    if (w->size >= 8)
      seal(w);
    if (!tokenizer_read(w->at, w->size, "x", &back, fresh(t)) &&
        ++accepted % 50 == 0)
      encode_and_back(t, &back, SAMPLE, strlen(SAMPLE), "a tampered file");
    tokenizer_free(&back);
  }
  fact(t, accepted > 100 && accepted < TRIALS - 100,
       "%d tampered files are read", accepted);
}

static void tokenizer__special_ids(Test *t) {
  static const struct {
    const char *text;
    size_t length;
  } TEXTS[] = {
    {"", 0}, {"<|endoftext|>", 0}, {"a<|endoftext|>b", 1}, {"<|endoftext|", 12},
    {"<<|endoftext|><|endoftext|>", 1}, {"<|endoftex<|endoftext|>", 10},
    {"abc<", 4}};
  static const int32_t SPECIAL[] = {1, 0, 2, 3 + 'x'},
                       WRONG[][2] = {{70, -1},
                                     {70, 300},
                                     {70, INT32_MAX},
                                     {70, INT32_MIN}};
  EACH (i, TEXTS) {
    const char *text = TEXTS[i].text;
    const size_t n = document_length((const unsigned char *)text, strlen(text));
    fact(t, n == TEXTS[i].length, "%s: a document of %zu bytes", text, n);
  }
  Tokenizer *k = sample_tokenizer(t, 300);
  Bytes *b = bytes_of(t);
  fact(t,
       !tokenizer_decode(k, SPECIAL, 4, b, fresh(t)) &&
           bytes_are(b, "<|bos|><|endoftext|><|fix|>x", 28),
       "special ids: %zu bytes", b->size);
  EACH (i, WRONG)
    fact(t,
         tokenizer_decode(k, WRONG[i], 2, b, fresh(t)) == 1 &&
             strstr(t->e.text, "at place 1") && strstr(t->e.text, "0 to 299"),
         "%s", t->e.text);
}

/* The shipped vocabulary on the sample of the shipped grammar. */
static void tokenizer__shipped(Test *t) {
  Tokenizer *k = later(t, 1, sizeof *k, release_tokenizer);
  Bytes *text = bytes_of(t);
  Ids *ids = ids_of(t);
  fact(t,
       !tokenizer_load("tokenizer.bin", &SINK, k, fresh(t)) &&
           k->vocab == 2048 && !file_read("data/text/story.txt", text, &t->e),
       "%d tokens %s", k->vocab, t->e.text);
  const Tokenizer *c = k;
  tokenizer_encode(c, text->at, text->size, ids, &t->e);
  const double ratio = (double)text->size / (double)ids->size;
  fact(t, ratio > 2.5, "%.3f bytes a token", ratio);
  note(t, "%.2f bytes a token", ratio);
  encode_and_back(t, c, text->at, text->size, "stories");
  encode_and_back(t, c, SAMPLE, strlen(SAMPLE), "SAMPLE");
}

/* =============================================================================
 * 9  Text, grammars, packing, interventions (grammars: data/text/teller.c)
 *
 * 9.1  Grammars */

/* Document number of a grammar given as text, or the error. */
static char *told(Test *t, const char *text, uint64_t number) {
  Grammar g = {0};
  Error *e = fresh(t);
  Bytes *b = bytes_of(t);
  if (!grammar_read(&g, (const unsigned char *)text, strlen(text), "g", e))
    grammar_document(&g, 1, number, b, e);
  grammar_free(&g);
  if (e->status)
    bytes_add(b, e->text, strlen(e->text), &(Error){0});
  bytes_add(b, "", 1, &(Error){0});
  return (char *)b->at;
}

/* What each grammar tells; where a line is named, what it lacks there. */
#define END "a document with an end"
#define NINE "a whole number of at most nine digits"
#define FORMS "one form, or as many as the head has, found the end of the line"
static const struct {
  const char *text;
  int line;
  const char *told;
} TELLS[] = {
  {"s = plain   text\n  goes on # not this\n# nor this\n\n", 0,
   "plain text goes on"},
  {"s = [^a w], [a v].\nw = owl\nv = house\n", 0, "An owl, a house."},
  {"s = [a\n  w], [a  v].\nw = owl\nv = house\n", 0, "an owl, a house."},
  /* each remembers the next: not drawn 8^8 times */
  {"s = [x:a]\na = [y:b]\nb = [z:c]\nc = [u:d]\nd = [v:e]\ne = [w:f]\n"
   "f = [p:g]\ng = [q:h]\nh = end\n", 0, "end"},
  {"s = [^a w] [a v]\nw = hour\nv = unicorn\n", 0, "An hour a unicorn"},
  {"s = [a b] [a c] [a d] [a e] [a f] [a g] [a h]\nb = honest\n"
   "c = honour\nd = heir\ne = uninked\nf = unimpressed\n"
   "g = utmost\nh = utter", 0,
   "an honest an honour an heir an uninked an unimpressed an utmost an utter"},
  {"s = [a b] [a c] [a d] [a e] [a f] [a g] [a h] [a i]\nb = use\n"
   "c = usual\nd = one\ne = once\nf = european\ng = utensil\n"
   "h = umbrella\ni = Owl", 0,
   "a use a usual a one a once a european a utensil an umbrella an Owl"},
  {"s = [x:w] [$x] [y=$x][$y] {} {|} .\nw = a\n", 0, "a a a."},
  {"s = [p:p/he] {[$p/his]|[$p/his]} [p=p] [$p] [$p/his].\np/he/his = Ann/she/her",
   0, "she her Ann her."},
  {"s = [3 w]\nw = {|}", 0, ""},
  {"s = [a b] [a c] [a d] [a e]\nb = European\nc = unidentified\n"
   "d = ewe\ne = honor", 0,
   "a European an unidentified a ewe an honor"},
  /* nothing is remembered */
  {"s = [x:w] [y:w] [$x][$y]\nw = {|}", 0, ""},
  {"s = [3 w].\nw = , {|}", 0, ",,,."},
  {"s = [3 w] [^2-2 w]\nw=x", 0, "x x x X X"},
  {"s = [n/s] [n] [n/n]\nn/s = [c] [b] {[b]|[b]}\nb/s = box/boxes\nc = red", 0,
   "red boxes boxes red box box red box box"},
  {"s = a \\[b\\] \\/ \\| \\{\\} \\# \\\\ \\n c", 0, "a [b] / | {} # \\\nc"},
  {"s = {0: no|2: yes} \"[^w]\"\nw = 'quick'", 0, "yes \"'Quick'\""},
  {"s = [^w] [^z] x[^y]\nw = \"q\"\nz = zoo\ny = {|} a", 0,
   "\"Q\" Zoo x A"},
  {"s = [x=w][$x]\r\nw/q = a/b\r\n", 0, "a"},
  {"s = { {a} } {,} { b }!", 0, "a, b!"},
  {"s = a {?} {!} {:} {;} {.}", 0, "a?!:;."},
  {"s = [w/v]\nw/v = [x]\nx/v = one/two", 0, "two"},
  {"s = [n/s]\nn/s = [b]/[b]s\nb/s = x/y", 0, "xs"},
  {"s = [n/s]\nn/s = [c]\nc = [b]\nb/s = x/y", 0, "x"},
  {"s = [x=n] [$x+$x] [$x-9] [$x*$x] [$x/2] [$x%2]\nn = 7", 0, "14 -2 49 3 1"},
  {"s = [x=n] [y=$x-9][$y/2] [$y%2]. [z:$x+1], [$z*$y] [z=$z*10][$z]\nn = 7", 0,
   "-1 0. 8, -16 80"},
  {"s = [x=n] [$x*$x] [$x+9999] [0-0 $x+1] [2 $x+1]\nn = 999999999", 0,
   "999999998000000001 1000009998 1000000000 1000000000"},
  {"s = [x=n] [$x/60]:[$x%60] [$x/of] [x=$x+1] [$x/of]\nn/of = 125/b", 0,
   "2:5 b 126"},
  {"s = a\\tb \\n\\t[w]\\n\nw = c \\t", 0, "a\tb\n\tc \t\n"},
  {"", 2, "a rule, found the end of the file"},
  {"a/b/c/d/e/f/g/h/i = x", 1, "at most 8 forms"},
  {"s = [t]", 1, "the name of a rule, found t"},
  {"s = [x=t] [$x+1]\nt = 1234567890", 1, NINE},
  {"s = a\ns = b", 2, "a new rule, found s"},
  {"s a", 1, "= or ~= after a rule's name, found a"},
  {"s = [$t]", 1, "a variable of the grammar, found t"},
  {"s = [x=t] [$x+1]\nt = ten", 1, NINE},
  {"s = [x=n] [$x+1]\nn = -999999999", 0, "-999999998"},
  {"s = [$t] [t=s2]\ns2=a", 1, "a variable that is remembered by now, found t"},
  /* copies before their rule: seven, and eight */
  {"s = b{0: [p=$q][q=$r][r=$u][u=$v][v=$x][x=$y][y=$z][z=w]|}\nw = a", 0,
   "b"},
  {"s = b{0: [o=$p][p=$q][q=$r][r=$u][u=$v][v=$x][x=$y][y=$z][z=w]|}\nw = a",
   1, "a variable of the grammar, found o"},
  {"s = a\nt = {b|[s]\n", 2, "} to close a {, found the end of the line"},
  {"s = a\nt = b}\n", 2, "the end of the rule, found }. Try: \\} for a plain }"},
  {"s = a]", 1, "the end of the rule, found ]. Try: \\] for a plain ]"},
  {"s = {a]}", 1, "} to close a {, found ]. Try: \\] or \\/ for a plain ]"},
  {"s = a\nt/b/b = c/d/e", 2, "a new form, found b. Try: another name"},
  {"s/s/b/s = a/b/c/d", 1, "a new form, found s"},
  {"s = [x=t] [$x+1]\nt = 1-2", 1, NINE},
  {"s = [s/u]", 1, "a form of that rule or variable, found u"},
  {"s = \n  a [s]\n", 1, END}, {"s/t/u = a/b", 1, FORMS},
  {"s = a b [s", 1, "] after a reference, found the end of the line"},
  {"s/t = a/b/c", 1, FORMS},
  {"s = a\n\n  b\n  [x=w/w]\nw=a", 4, "] after a reference, found /"},
  {"s = a [5-2 t]", 1, "a range such as 2-5"},
  {"s = [x=t] [y=$x*$x] [$y+1]\nt = 99999", 1, NINE},
  {"s = 0: a", 1, "a weight above 0"},
  {"s = 12345: a", 1, "a weight of at most four digits, found 1"},
  {"s = \\7:30", 0, "7:30"},
  {"s = b\n  [x=t] [$x/0]\nt = 1", 2, "a divisor, found 0"},
  {"s = [x=t] [x=u]\nt/a = b\nu = b", 1, "rules with the same forms, found x"},
  {"s = [x=t] [x=u]\nt/a = b\nu/c = b", 1,
   "rules with the same forms, found x"},
  {"s = {{{{{{{{{{{{{{{{{{{{", 1, "at most 16 { inside another"},
  {"s = {{{{{{{{{{{{{{{{{a}}}}}}}}}}}}}}}}}", 1, "at most 16 { inside another"},
  {"s = {{{{{{{{{{{{{{{{a}}}}}}}}}}}}}}}}", 0, "a"},
  {"s = {a/b}", 1, "} to close a {, found /"},
  {"s = [9999 t]\nt = [9999 u]\nu=\n", 3, END},
  {"s = a\\\n", 1, "a mark after \\"},
  {"s = [t+1]\nt = 1", 1, "] after a reference, found +"},
  {"\xc3\xa9 = 1", 1, "the name of a rule in the first column, found byte 195"},
  {"s = a [x=t] [s]\nt = {|}", 2, END},
  {"s = [x=t] [$x%$x]\nt = 0", 1, "a divisor, found 0"},
  {"s = [x=t] [$x+1]\nt = -", 1, NINE}, {"s = [x=t] [$x+1]\nt = {|}", 1, NINE},
  {"s = [x=t] [$x+$y]\nt = 1", 1, "a variable of the grammar, found y"},
  {"s = [x=t] [$x+$y] [y=t]\nt = 1", 1,
   "a variable that is remembered by now, found y"},
  {"s = [x=t] [$x+]\nt = 1", 1,
   "$ and a variable's name, or a number, found ]"},
  {"s = [x=t] [$x+12345]\nt = 1", 1,
   "$ and a variable's name, or a number, found 1"},
  {"s = [x=t] [$x+1/of]\nt/of = 1/2", 1, "] after a reference, found /"}};

static void grammar__tells(Test *t) {
  EACH (i, TELLS) {
    char *s = told(t, TELLS[i].text, 0), begin[200];
    const int line = TELLS[i].line;
    snprintf(begin, sizeof begin, "g:%d: expected %s", line, TELLS[i].told);
    const bool begins = !strncmp(s, begin, strlen(begin));
    const bool one_line = strstr(s, " Try: ") && !strchr(s, '\n');
    fact(t, line ? begins && one_line : !strcmp(s, TELLS[i].told),
         "%.60s: %.300s", TELLS[i].text, s);
  }
}

/* What is remembered, 100,000 bytes, and told again and again, is refused
 * before it is much. */
static void grammar_document__bounded(Test *t) {
  static const char *const ROWS[] = {"9", "5000", "9999"};
  EACH (i, ROWS) {
    char text[300];
    snprintf(text, sizeof text,
             "s = [x:a][%s $x]\na = [10 b]\nb = [10 c]\nc = [10 d]\nd = %0100d",
             ROWS[i], 0);
    char *s = told(t, text, 1);
    const size_t n = strlen(s);
    fact(t,
         i ? strstr(s, "rules or 1048576 bytes") != NULL
           : n > 1000000 && n < 1 << 20,
         "%s times: %zu bytes: %.200s", ROWS[i], n, s);
  }
  /* rules in each other, rules in all, bytes remembered and not told */
  for (int more = 0; more < 2; more++) {
    Bytes *deep = bytes_of(t);
    char all[80], none[80], kept[1200];
    for (int i = 1; i < 100 + more; i++)
      bytes_print(deep, fresh(t), "r%d = [r%d]\n", i, i + 1);
    bytes_print(deep, &t->e, "r%d =", 100 + more);
    bytes_add(deep, "", 1, &t->e);
    snprintf(all, sizeof all, "s = [%d a]\na = [9999 b]\nb = {|}",
             13 + more);
    snprintf(none, sizeof none, "s = [x=b][%d a]\na = [9999 $x]\nb = {|}",
             26 + more);
    snprintf(kept, sizeof kept, "s = [%d x=a]\na = %01000d", 1040 + 20 * more,
             0);
    const char *const texts[] = {(char *)deep->at, all, none, kept};
    EACH (i, texts) {
      const char *s = told(t, texts[i], 1);
      fact(t, more ? strstr(s, "found none 100 deep") != NULL : !*s,
           "limit %d: %.200s", i, s);
    }
  }
  enum { MOST = 1 << 21 };
  Grammar g;
  unsigned char *large = later(t, MOST + 1, 1, NULL);
  grammar_read(&g, large, MOST + 1, "g", fresh(t));
  fact(t, strstr(t->e.text, "at most 2 MiB, found 2097153"), "%s", t->e.text);
  grammar_read(&g, large, MOST, "g", fresh(t));
  fact(t, strstr(t->e.text, "a rule, found the end"), "%s", t->e.text);
}

/* The draws have the shares that they should. (That a document depends on the
 * grammar, the seed and its number alone, grammar__domains and
 * data_batch__endless show.) */
static void grammar_document__shares(Test *t) {
  int distinct = 0, a = 0;
  for (uint64_t n = 0; n < 20000; n++) {
    char *two = told(t, "s = [x=w] [y=w] [$x] [$y]\nw = a|b", n),
         *s = told(t, "s ~= a|b|c", n);
    distinct += two[0] != two[2];
    a += *s == 'a';
  }
  /* eight draws of one of two are all the same in 1 of 256 */
  within(t, 20000 - distinct, 20000 / 256.0, 35, "two variables hold the same");
  within(t, a / 20000.0, 20.0 / 47, 0.015, "share of the first of 1/3, 1/4, 1/5");
}

/* Damaged grammars give an error or documents. */
static void grammar_read__damage(Test *t) {
  static const char WHOLE[] = "s/q ~= [^a 2-3 x:t/q] {2: [$x/q]|b\\n} / 3: "
                              "[y=$x]\n  c | [u]\nt/q = f/g | [u]\n# c\n"
                              "u = {h|} [m=w] [$m%7] [m=$m*$m]\nw = 12\n";
  enum { TRIALS = 12000, SIZE = sizeof WHOLE - 1 };
  Rng r = {5};
  int read = 0;
  Bytes *out = bytes_of(t);
  for (int i = 0; i < TRIALS; i++) {
    Grammar g;
    Error *e = fresh(t);
    const size_t size = SIZE - (size_t)(rng_below(&r, 2) * rng_below(&r, SIZE));
    unsigned char *at = exactly(WHOLE, size);
    for (uint64_t k = rng_below(&r, 6); size && k--;) {
      unsigned char *to = at + rng_below(&r, size);
      *to = (unsigned char)(rng_below(&r, 3)
                                ? (uint64_t)WHOLE[rng_below(&r, SIZE)]
                                : rng_below(&r, 256));
    }
    if (!grammar_read(&g, at, size, "g", e)) {
      read++;
      out->size = 0;
      for (uint64_t n = 0; n < 3; n++)
        grammar_document(&g, 0, n, out, e);
      grammar_free(&g);
    }
    fact(t,
         !e->status ||
             (!strncmp(e->text, "g:", 2) && strstr(e->text, " Try: ")),
         "%d", i);
    free(at);
  }
  fact(t, read > TRIALS / 20 && read < TRIALS * 19 / 20,
       "%d damaged grammars are read", read);
}

static int by_text(const void *a, const void *b) {
  return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* How many of n strings differ; sorts them. */
static int distinct_of(char **s, int n) {
  int found = n > 0;
  qsort(s, (size_t)n, sizeof *s, by_text);
  for (int i = 1; i < n; i++)
    found += strcmp(s[i - 1], s[i]) != 0;
  return found;
}

/* Document n of seed 1. */
static char *document_of(Test *t, const Grammar *g, int n) {
  Bytes *b = bytes_of(t);
  grammar_document(g, 1, (uint64_t)n, b, fresh(t));
  bytes_add(b, "", 1, &t->e);
  fact(t,
       !t->e.status && strlen((char *)b->at) == b->size - 1 &&
           utf8_length(b->at, b->size) == b->size,
       "%s: document %d: %s", g->name, n, t->e.text);
  return (char *)b->at;
}

/* The stories are written as English is and have many words; cuts
 * them into these. */
static void stories_read(Test *t, char **documents, int n) {
  enum { MOST = 400000 };
  static const char BREAKS[] = " \n.,;:!?\"()-";
  static const char *const WRONG[] = {
    "  ", " ,", " .", "[", "]", "{", "}", "$", "\\", "..", ",,", " \n", "\n ",
    " a a", " a e",
    " a i", " an b", " an t", " the the ", "\t"};
  char **words = later(t, MOST, sizeof *words, NULL);
  int n_words = 0;
  for (int i = 0; i < n; i++) {
    char *s = documents[i];
    const size_t size = strlen(s);
    EACH (k, WRONG)
      fact(t, !strstr(s, WRONG[k]), "\"%s\" in %.60s", WRONG[k], s);
    fact(t, s[0] >= 'A' && s[0] <= 'Z' && s[size - 1] > ' ' && size > 149,
         "a story: %.60s", s);
    for (char *w = strtok(s, BREAKS); w && n_words < MOST;
         w = strtok(NULL, BREAKS))
      words[n_words++] = w;
  }
  const int kinds = distinct_of(words, n_words);
  fact(t, kinds > 2500, "%d distinct words", kinds);
  note(t, "stories: %d words, %d distinct; ", n_words, kinds);
}

/* Whether an equation of plain numbers at the start of a line is right: "12 + 7
 * = 19" and "p / q = r remainder s". -1 where there is none. */
static int sum_right(const char *line) {
  long a, b, c, r;
  char op, after;
  int n = sscanf(line, "%ld %c %ld = %ld%c", &a, &op, &b, &c, &after);
  if (n == 5 && op == '/' &&
      sscanf(line, "%*d / %*d = %*d remainder %ld", &r) == 1)
    return b > 0 && a == b * c + r && r >= 0 && r < b;
  if (n != 5 || (after != '\n' && after != '.') || !strchr("+-x/", op))
    return -1;
  switch (op) {
  case '+': return c == a + b;
  case '-': return c == a - b;
  case 'x': return c == a * b;
  default: return b != 0 && c == a / b;
  }
}

/* A function and its check, "\treturn X + K" and "assert F(A) == B": is B
 * right? -1: none. */
static int assert_right(const char *body) {
  char x[40], y[40], op;
  long k, a, b;
  const char *check = strstr(body, "assert ");
  if (sscanf(body, "\treturn %39s %c %ld", x, &op, &k) != 3 ||
      !strchr("+*%", op) || !check ||
      check > strchr(strchr(body, '\n') + 1, '\n') + 1 ||
      sscanf(check, "assert %39[a-z_](%ld) == %ld", y, &a, &b) != 3)
    return -1;
  if (op == '+')
    return b == a + k;
  return b == (op == '*' ? a * k : a % k);
}

/* The second of the day that a line of a log tells, -1 where it tells none. */
static int second_of(const char *line) {
  int h, m, s;
  if (strlen(line) < 16 || sscanf(line + 7, "%2d:%2d:%2d", &h, &m, &s) != 3)
    return -1;
  return h < 24 && m < 60 && s < 60 ? (h * 60 + m) * 60 + s : -1;
}

/* What lines count is right: sums, the checks of functions, the times of a log,
 * which never fall. Adds to the numbers of each that were found. */
static void document_counts(Test *t, const char *path, const char *line,
                            int found[3]) {
  const bool arithmetic = strstr(path, "arithmetic");
  const bool log = strstr(path, "log.");
  for (int before = 0; line;
       line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL) {
    const int sum = arithmetic ? sum_right(line) : -1;
    const int check = assert_right(line);
    const int now = log && *line ? second_of(line) : before;
    fact(t, sum && check && now >= before, "%s: %.80s", path, line);
    found[0] += sum > 0;
    found[1] += check > 0;
    found[2] += log && *line;
    before = now;
  }
}

/* Every grammar of data/: its sample, documents that differ and stay short,
 * what it counts. */
static void grammar__domains(Test *t) {
  enum { DOCUMENTS = 500 };
  Bytes *names = bytes_of(t), *file = bytes_of(t), *sample = bytes_of(t),
        *b = bytes_of(t);
  int domains = 0, found[3] = {0};
  fact(t, !files_list("data/text", names, fresh(t)), "%s", t->e.text);
  for (size_t at = 0; at < names->size;
       at += strlen((char *)names->at + at) + 1) {
    char path[300], *dot, *documents[DOCUMENTS];
    Grammar g = {0};
    Error *e = fresh(t);
    snprintf(path, sizeof path, "%s", (const char *)names->at + at);
    if (!(dot = strstr(path, ".grammar")) || dot[8])
      continue;
    file->size = sample->size = b->size = 0;
    if (!file_read(path, file, e))
      grammar_read(&g, file->at, file->size, path, e);
    const bool story = !strcmp(path, STORY_GRAMMAR);
    snprintf(dot, 5, ".txt");
    file_read(path, sample, e);
    for (uint64_t n = 0; n < 6 && !grammar_document(&g, 1, n, b, e); n++)
      bytes_add(b, "\n" DOCUMENT_END "\n", strlen(DOCUMENT_END) + 2, e);
    fact(t, !e->status && bytes_are(b, sample->at, sample->size),
         "%s is not what its grammar tells. %s Try: make samples", path,
         e->text);
    if (e->status)   /* g is empty */
      continue;
    for (int n = 0; n < DOCUMENTS; n++) {
      const char *s = documents[n] = document_of(t, &g, n);
      fact(t, strlen(s) > 59 && strlen(s) < 11999, "%s: %zu bytes", path,
           strlen(s));
      document_counts(t, path, s, found);
    }
    fact(t, distinct_of(documents, DOCUMENTS) == DOCUMENTS,
         "%s: some are the same", path);
    if (story)
      stories_read(t, documents, DOCUMENTS);
    grammar_free(&g);
    domains++;
  }
  fact(t, domains >= 6 && found[0] > 500 && found[1] > 100 && found[2] > 5000,
       "too few");
  note(t, "%d domains; %d sums, %d checks, %d times", domains, found[0],
       found[1], found[2]);
}

/* -----------------------------------------------------------------------------
 * 9.2  Packing [S2] [FIG1] and interventions */

/* The data of flags with their settings, and room for B sequences
 * of T tokens. */
typedef struct Feed {
  Settings s; Data d; int B, T, *ids, *targets;
} Feed;

static void feed_room(Feed *f, int B, int T) {
  free(f->ids);
  f->B = B;
  f->T = T;
  f->ids = zeroed((idx)2 * B * T, sizeof *f->ids);
  f->targets = f->ids + B * T;
}

static void feed_close(void *room) {
  Feed *f = room;
  data_close(&f->d);
  free(f->ids);
}

/* With the files of tale_open. T is 0 for an evaluation. Without its data a
 * test gives up. */
static Feed *feed_open(Test *t, int seed, int B, int T, const char *format,
                       ...) {
  Feed *f = later(t, 1, sizeof *f, feed_close);
  Error e = {0};
  char flags[200];
  PRINT_ARGUMENTS(flags, sizeof flags);
  tale_files(t);
  feed_room(f, B, T);
  tiny_settings(&f->s, flags, &e);
  f->s.data.vocab = f->s.model.vocab;
  if (!e.status && !data_open(&f->d, &f->s.data, seed, T, &e))
    return f;
  fprintf(stderr, "test_sink: %s: %s\n", flags, e.text);
  exit(1);
}

static void feed_next(Test *t, Feed *f) {
  if (data_batch(&f->d, &f->s.data, f->B, f->T, f->ids, f->targets, fresh(t)))
    fact(t, false, "%s", t->e.text);
}

static bool same_data(const Data *a, const Data *b) {
  return same_ids(&a->train, &b->train) && same_ids(&a->held, &b->held);
}

/* Whether data_open refuses these flags with this status and these words, and
 * says what to do. */
static void data_refused(Test *t, const char *flags, int T, int status,
                         const char *said) {
  Settings s;
  Data d;
  tiny_settings(&s, flags, fresh(t));
  s.data.vocab = s.model.vocab;
  const int found = data_open(&d, &s.data, 0, T, &t->e);
  fact(t,
       found == status && strstr(t->e.text, said) &&
           strstr(t->e.text, " Try: "),
       "%s: %s", flags, t->e.text);
}

/* Adds a document as a training must see it: its tokens and the separator. */
static void oracle_document(const Data *d, const unsigned char *text, size_t n,
                            bool bos, Ids *out) {
  if (bos)
    ids_push(out, TOKEN_BOS);
  oracle_encode(&d->tokenizer, text, n, out);
  ids_push(out, TOKEN_END);
}

/* Every document of a text is in the training or among the held ones, in order,
 * never in both; none is lost or cut, and nothing else is there; and the held
 * ones are the same whatever the seed. */
static void data_open__shares_out(Test *t) {
  static const char *const FLAGS[] = {FROM_TEXT "--valid 0.3",
                                      FROM_TEXT "--valid 0.3 --bos",
                                      FROM_TEXT "--valid 1e-6"};
  tale_files(t);
  const Bytes *text = file_of(t, SCRATCH "/tale.txt");
  EACH (f, FLAGS) {
    const Data *d = &feed_open(t, 0, 1, 16, FLAGS[f])->d,
               *other = &feed_open(t, 5, 1, 16, FLAGS[f])->d;
    Ids *one = ids_of(t);
    size_t train = 0, held = 0, n_held = 0, documents = 0;
    for (size_t at = 0; at < text->size;) {
      size_t end = at + document_length(text->at + at, text->size - at),
             from = at;
      while (from < end && strchr(" \n\r", text->at[from]))
        from++;
      at = end + strlen(DOCUMENT_END);
      if (from == end)
        continue;
      one->size = 0;
      oracle_document(d, text->at + from, end - from, f == 1, one);
      documents++;
      if (n_held < d->starts.size && d->starts.at[n_held] == (int32_t)held &&
          stands_at(&d->held, held, one)) {
        held += one->size;
        n_held++;
      } else {
        fact(t, stands_at(&d->train, train, one), "document %zu is nowhere",
             documents);
        train += one->size;
      }
    }
    fact(t,
         documents == 150 && train == d->train.size && held == d->held.size &&
             n_held == d->starts.size &&
             (f < 2 ? n_held > 25 && n_held < 65 : !n_held),
         "%s: %zu documents, %zu held", FLAGS[f], documents, n_held);
    fact(t, same_data(other, d), "%s: seed 5 holds others", FLAGS[f]);
    if (f == 0)
      note(t, "%zu of %zu documents held", n_held, documents);
  }
}

/* The tokens of the k-th held document; they are d's. */
static Ids held_document(const Data *d, size_t k) {
  const Ids *starts = &d->starts;
  const size_t from = (size_t)starts->at[k],
               to = k + 1 < starts->size ? (size_t)starts->at[k + 1]
                                         : d->held.size;
  return (Ids){.at = d->held.at + from, .size = to - from};
}

/* A grammar's held documents: the same for every seed, and none among a
 * training's first. */
static void data_open__grammar_held(Test *t) {
  static const int SEEDS[3] = {0, 1, 77};
  Feed *f[3];
  EACH (i, SEEDS)
    f[i] = feed_open(t, SEEDS[i], 1, 16, "--data-tokens 20000");
  const Data *d = &f[0]->d;
  fact(t, d->starts.size == 200 && d->starts.at[0] == 0, "%zu held documents",
       d->starts.size);
  for (size_t k = 0; k < d->starts.size; k++) {
    const Ids one = held_document(d, k);
    fact(t, one.size > 1 && one.at[one.size - 1] == TOKEN_END,
         "held document %zu: no end", k);
    EACH (i, SEEDS) {
      const Ids *train = &f[i]->d.train;
      size_t at = 0;
      while (at + one.size <= train->size && !stands_at(train, at, &one))
        at++;
      fact(t, at + one.size > train->size, "seed %d is told held document %zu",
           SEEDS[i], k);
    }
  }
  for (int i = 1; i < 3; i++) {
    const Ids start = {.at = f[i]->d.train.at, .size = 200};
    fact(t, same_ids(&f[i]->d.held, &d->held), "seed %d holds others",
         SEEDS[i]);
    fact(t, !stands_at(&d->train, 0, &start),
         "seeds 0 and %d are told the same", SEEDS[i]);
  }
}

/* The number of the training block that a sequence is, by its tokens, the first
 * that was not seen where several are the same; -1 when it is none. */
static idx block_number(const Feed *f, const double *seen) {
  idx found = -1;
  for (idx k = 0; k < f->d.blocks && (found < 0 || seen[found] > 0); k++) {
    const int32_t *block = f->d.train.at + k * (f->T + 1);
    int same = 0;
    while (same < f->T && f->ids[same] == block[same] &&
           f->targets[same] == block[same + 1])
      same++;
    if (same == f->T)
      found = k;
  }
  return found;
}

static bool same_batch(const Feed *a, const Feed *b) {
  return !memcmp(a->ids, b->ids, sizeof(int) * 2 * (size_t)(a->B * a->T));
}

/* Blocks of T+1 tokens that do not overlap, targets one later; each once
 * in a pass, in an order that differs by pass and by seed and is the same
 * for the same. */
static void data_batch__orders(Test *t) {
  enum { T = 16 };
  int moved[3] = {0};
  Feed *f = feed_open(t, 0, 1, T, FROM_TEXT),
       *same = feed_open(t, 0, 1, T, FROM_TEXT),
       *other = feed_open(t, 1, 1, T, FROM_TEXT),
       *three = feed_open(t, 0, 3, T, FROM_TEXT);
  /* a batch of 3 is three batches of 1 */
  feed_next(t, three);
  const idx blocks = f->d.blocks;
  idx *first = later(t, blocks, sizeof *first, NULL);
  fact(t, blocks == (idx)f->d.train.size / (T + 1) && blocks > 100,
       "%lld blocks", blocks);
  /* the third is seed 1's first */
  for (int pass = 0; pass < 3; pass++) {
    Feed *now = pass < 2 ? f : other;
    double *seen = later(t, blocks, sizeof *seen, NULL);
    for (idx b = 0; b < blocks; b++) {
      feed_next(t, now);
      const idx k = block_number(now, seen);
      fact(t, k >= 0 && seen[k]++ == 0, "pass %d: sequence %lld is block %lld",
           pass, b, k);
      if (pass == 0)
        first[b] = k;
      if (pass == 0 && b < 3)
        fact(t, !memcmp(three->ids + b * T, f->ids, sizeof(int) * T),
             "batch of 3: %lld", b);
      moved[pass] += (pass ? first[b] : b) != k;
      if (pass == 2)
        continue;
      feed_next(t, same);
      fact(t, same_batch(f, same), "the same seed, another block %lld", b);
    }
    fact(t, moved[pass] > blocks * 3 / 4, "pass %d: %d blocks moved", pass,
         moved[pass]);
  }
  /* as a checkpoint may say: a block too */
  f->d.sample = UINT64_MAX;
  feed_next(t, f);
}

/* The six orders of three blocks, over many passes: each a sixth of them. A
 * pass's follows from the seed and the pass's eight bytes, whatever the
 * machine's order of bytes and width of a pointer. */
static void data_batch__evenly(Test *t) {
  enum { PASSES = 3000 };
  int count[9] = {0};
  Feed *f = feed_open(t, 0, 3, 16, FROM_TEXT "--data-tokens 51");
  for (int pass = 0; pass < PASSES && f->d.blocks == 3; pass++) {
    const unsigned char le[8] = {(unsigned char)pass,
                                 (unsigned char)(pass >> 8)};
    Rng r = {hash64(f->d.seed, le, sizeof le)};
    const int j = (int)rng_below(&r, 3), k = (int)rng_below(&r, 2);
    const int order[3] = {j ? 0 : 2, j == 1 ? 2 : 1, j};
    feed_next(t, f);
    fact(t, f->d.order[2] == j && f->d.order[1] == order[k], "pass %d: order",
         pass);
    count[3 * f->d.order[0] + f->d.order[1]]++;
  }
  for (int i = 0; i < 9; i++)
    within(t, count[i], i % 4 ? PASSES / 6 : 0,
           i % 4 ? 5 * sqrt(PASSES * 5 / 36.0) : 0,
           "passes that begin with %d %d", i / 3, i % 3);
}

/* The endless stream is the documents one after another, whatever the batch,
 * and with <|bos|>. */
static void data_batch__endless(Test *t) {
  enum { T = 13, B = 3, ROUNDS = 60 };
  for (int bos = 0; bos < 2; bos++) {
    Ids *all = ids_of(t);
    Bytes *text = bytes_of(t);
    Feed *f = feed_open(t, 4, B, T, bos ? "--bos" : "");
    for (uint64_t n = 0; all->size < B * (T + 1) * ROUNDS; n++) {
      text->size = 0;
      grammar_document(&((Generated *)f->d.drawn_from)->grammar, f->d.seed, n,
                       text, fresh(t));
      oracle_document(&f->d, text->at, text->size, bos, all);
    }
    fact(t, feed_open(t, HELD_SEED - 1, B, T, "")->d.seed != HELD_SEED,
         "trains on held documents");
    for (int i = 0; i < B * ROUNDS; i++) {
      if (i % B == 0)
        feed_next(t, f);
      for (int k = 0; k < T; k++) {
        const int32_t *at = all->at + i * (T + 1) + k;
        fact(t,
             f->ids[i % B * T + k] == at[0] &&
                 f->targets[i % B * T + k] == at[1],
             "block %d, token %d", i, k);
      }
    }
    fact(t, f->d.sample == B * ROUNDS && f->d.document > 2, "document %d",
         (int)f->d.document);
  }
}

/* --data-tokens: exactly so many, the first ones of the source, none for an
 * evaluation (T 0). */
static void data_open__limits(Test *t) {
  static const char *const SOURCES[] = {FROM_TEXT,
                                        "--grammar " SCRATCH "/tale.grammar"};
  EACH (k, SOURCES) {
    const Data
        *d = &feed_open(t, 0, 1, 16, "%s --data-tokens 1000", SOURCES[k])->d,
        *more = &feed_open(t, 0, 1, 16, "%s --data-tokens 3000", SOURCES[k])->d,
        *none = &feed_open(t, 0, 0, 0, "%s --data-tokens 1000", SOURCES[k])->d;
    fact(t,
         d->train.size == 1000 && more->train.size == 3000 &&
             d->blocks == 1000 / 17 && stands_at(&more->train, 0, &d->train) &&
             !none->train.size && d->held.size == more->held.size &&
             d->held.size > 0 && none->held.size,
         "%s: %zu tokens, %zu held", SOURCES[k], d->train.size, d->held.size);
  }
}

#define FIFTY "-a-part-of-a-name-that-has-fifty-letters-and-marks"
static const char *const WRONG_TEXTS[][2] = {
  {SCRATCH "/whole" FIFTY FIFTY FIFTY, "s = [t"},
  {SCRATCH "/latin1", "one\ntwo\ncaf\xe9 x\n"},
  {SCRATCH "/deeper/c.txt", "a \xe4\xb8"},
  {SCRATCH "/blank", " \n\n<|endoftext|> \n"},
  {SCRATCH "/bom", "\xef\xbb\xbf"},
  {SCRATCH "/nothing", ""},
  {SCRATCH "/utf16", "\xff\xfeh"},
  {SCRATCH "/utf16b", "\xfe\xffh"}};

/* Too little, what is missing or of another kind, other encodings, texts of
 * no document. */
static void data_open__refuses(Test *t) {
#define TEXT_OF "--text " SCRATCH
  static const struct {
    const char *flags;
    int T, status;
    const char *said;
  } ROWS[] = {
    {FROM_TEXT "--data-tokens 16", 16, 1,
     "at least 17 tokens to train on, found 16"},
    {FROM_TEXT, 100000, 1, "at least 100001 tokens to train on, found "},
    {FROM_TEXT "--grammar x", 16, 2, "cannot be combined"},
    {TEXT_OF "/none.txt", 16, 1, SCRATCH "/none.txt: "},
    {"--grammar " SCRATCH "/none", 16, 1, "/none: "},
    {"--grammar " SCRATCH "/whole" FIFTY FIFTY FIFTY, 16, 1, FIFTY
     ":1: expected ] after"},
    {FROM_TEXT "--tokenizer " SCRATCH "/none", 16, 1, SCRATCH "/none: "},
    {FROM_TEXT "--tokenizer " SCRATCH "/tale.txt", 16, 1,
     "expected a tokenizer, which begins"},
    {"--grammar " SCRATCH "/tale.txt", 16, 1, "tale.txt:1: expected "},
    {"--tokens " SCRATCH "/none", 16, 1, SCRATCH "/none: "},
    {FROM_TEXT "--tokens x", 16, 2, "cannot be combined"},
    {"--tokens x --grammar y", 16, 2, "cannot be combined"},
    {TEXT_OF "/latin1", 16, 1,
     "/latin1: expected UTF-8 text, found 0xE9 after 11 bytes. Try"},
    {TEXT_OF "/deeper", 16, 1,
     "/c.txt: expected UTF-8 text, found 0xE4 after 2 bytes. Try"},
    {TEXT_OF "/utf16", 16, 1,
     "/utf16: expected UTF-8 text, found 0xFF after 0 bytes. Try"},
    {TEXT_OF "/utf16b", 16, 1, "or -f utf-16"},
    {"--text tokenizer.bin", 16, 1, "found 0x00"},
    {TEXT_OF "/blank", 16, 1, "/blank: expected documents, found none"},
    {TEXT_OF "/bom", 16, 1, "/bom: expected documents, found none"},
    {TEXT_OF "/nothing", 16, 1, "/nothing: expected documents, found none"},
    {TEXT_OF "/broken", 16, 1, "/broken/link.txt: "},
    {TEXT_OF "/none_in", 16, 1, "this folder has no files of its own"}};
  tale_files(t);
  if (make_folder(SCRATCH "/deeper") || make_folder(SCRATCH "/none_in") ||
      make_folder(SCRATCH "/broken") ||
      symlink("none.txt", SCRATCH "/broken/link.txt"))
    exit(1);
  EACH (i, WRONG_TEXTS)
    file_write(WRONG_TEXTS[i][0], WRONG_TEXTS[i][1], strlen(WRONG_TEXTS[i][1]),
               &t->e);
  fact(t, !t->e.status, "%s", t->e.text);
  EACH (i, ROWS)
    data_refused(t, ROWS[i].flags, ROWS[i].T, ROWS[i].status, ROWS[i].said);
  Data many = {.held.size = (size_t)1 << 31}; /* and the text adds none */
  const Source text = {.text = SCRATCH "/tale.txt",
                       .tokenizer = "tokenizer.bin",
                       .data_tokens = -1,
                       .program = &SINK};
  fact(t,
       text_open(&many, &text, 16, fresh(t)) == 1 &&
           strstr(t->e.text, "tokens, found 2147483648. Try: "),
       "%s", t->e.text);
  tokenizer_free(&many.tokenizer);
}

/* Which bytes are UTF-8: how far `good` reaches. */
static void utf8_length__rows(Test *t) {
  static const struct {
    const char *at;
    size_t n, good;
  } ROWS[] = {
    {"plain", 5, 5}, {"", 0, 0}, {"\xc3\xa9\xe4\xb8\xad\xf0\x9f\x90\x88", 9, 9},
    {"a\xc3", 2, 1},
    {"a\xe4\xb8", 3, 1}, {"\xf0\x9f\x90", 3, 0}, {"ab\x80", 3, 2},
    {"\xc0\x80", 2, 0},
    {"\xc1\xbf", 2, 0}, {"\xe0\x9f\xbf", 3, 0}, {"\xe0\xa0\x80", 3, 3},
    {"\xed\x9f\xbf", 3, 3},
    {"\xed\xa0\x80", 3, 0}, {"\xf0\x8f\xbf\xbf", 4, 0},
    {"\xf0\x90\x80\x80", 4, 4}, {"\0a", 2, 2},
    {"\xf4\x8f\xbf\xbf", 4, 4}, {"\xf4\x90\x80\x80", 4, 0},
    {"\xf5\x80\x80\x80", 4, 0},
    {"\xf8\x90\x80\x80\x80", 5, 0}, {"\xff\xfe", 2, 0}, {"\xc3\x28", 2, 0},
    {"\xe4\xb8\xc0", 3, 0},
    {"\xf0\x90\x80\xff", 4, 0}};
  EACH (i, ROWS)
    within(t, (double)utf8_length((const unsigned char *)ROWS[i].at, ROWS[i].n),
           (double)ROWS[i].good, 0, "row %d: bytes of UTF-8", i);
}

/* A folder is the documents of its plain files in order, and no others. */
static void data_open__folder(Test *t) {
  static const char *const FILES[][2] = {
    {SCRATCH "/f/b.txt", "second file, a document<|endoftext|>third"},
    {SCRATCH "/f/a.txt", "\xef\xbb\xbf first of all"}, {SCRATCH "/f/a", ""},
    {SCRATCH "/f/.hidden", "hidden \xff"},
    {SCRATCH "/f/deeper/c.txt", "deeper \xff"},
    {SCRATCH "/f/c", "the fourth, without a separator\n"},
    {SCRATCH "/all",
     "first of all<|endoftext|>second file, a document<|endoftext|>third"
     "<|endoftext|>the fourth, without a separator\n"}};
  static const char LIST[] = SCRATCH "/f/a\0" SCRATCH "/f/a.txt\0" SCRATCH
                                     "/f/b.txt\0" SCRATCH "/f/c";
  Bytes *names = bytes_of(t);
  tale_files(t);
  EACH (i, FILES)
    file_write(FILES[i][0], FILES[i][1], strlen(FILES[i][1]), &t->e);
  fact(t,
       !files_list(SCRATCH "/f", names, &t->e) &&
           bytes_are(names, LIST, sizeof LIST),
       "%zu bytes of names: %s %s", names->size, (const char *)names->at,
       t->e.text);
  for (int i = 0; i < 2; i++) {
    const char *flags = i ? "--valid 0.5 --text " SCRATCH
                          : "--valid 1e-6 --text " SCRATCH;
    const Data *d = &feed_open(t, 0, 1, 16, "%s/f", flags)->d;
    fact(t,
         same_data(d, &feed_open(t, 0, 1, 16, "%s/all", flags)->d) &&
             (d->held.size > 0) == (i > 0),
         "%zu and %zu tokens", d->train.size, d->held.size);
  }
}

/* Of one document the end is held, cut at white space, and nothing is lost. */
static void data_open__one_document(Test *t) {
  Bytes *text = bytes_of(t), *back = bytes_of(t);
  tale_files(t);
  for (int i = 0; i < 400; i++)
    bytes_add(text, i % 7 ? "w\xc3\xb6rter " : "line\n", i % 7 ? 8 : 5, &t->e);
  file_write(SCRATCH "/one", text->at, text->size, &t->e);
  for (int k = 0; k < 6; k++) {
    const int T = k % 2 ? 16 : 0;
    const double valid = 0.25 - 0.031 * (k / 2);
    const Data *d =
        &feed_open(t, 0, 1, T, "--valid %g --text " SCRATCH "/one", valid)->d;
    fact(t,
         d->starts.size == 1 && d->held.at[d->held.size - 1] == TOKEN_END &&
             (T || !d->train.size),
         "%zu documents held", d->starts.size);
    back->size = 0;
    if (T)
      tokenizer_decode(&d->tokenizer, d->train.at, d->train.size - 1, back,
                       &t->e);
    const size_t cut = back->size;
    tokenizer_decode(&d->tokenizer, d->held.at, d->held.size - 1, back, &t->e);
    const unsigned char *tail = text->at + text->size - (back->size - cut);
    fact(t,
         (T ? back->size == text->size : !cut) &&
             (*tail == ' ' || *tail == '\n') &&
             !memcmp(tail - cut, back->at, back->size),
         "cut at %zu of %zu", cut, text->size);
    within(t, (double)(back->size - cut) / (double)text->size, valid, 0.01,
           "the share held");
  }
  fact(t, !t->e.status, "%s", t->e.text);
}

/* A document without white space is cut between two characters of UTF-8. */
static void data_open__no_white_space(Test *t) {
  Bytes *text = bytes_of(t), *held = bytes_of(t);
  tale_files(t);
  for (int n = 400; n < 403; n++) {   /* half of the last quarter: any byte */
    while (text->size < 3 * (size_t)n)
      bytes_add(text, "\xe8\xa9\xb1", 3, &t->e);
    file_write(SCRATCH "/plain", text->at, text->size, &t->e);
    const Data *d =
        &feed_open(t, 0, 1, 16, "--valid 0.25 --text " SCRATCH "/plain")->d;
    held->size = 0;
    tokenizer_decode(&d->tokenizer, d->held.at, d->held.size - 1, held, &t->e);
    fact(t, held->size > 100 && held->size % 3 == 0, "%zu bytes held of %zu",
         held->size, text->size);
  }
}

/* Shards in both forms give their ids; damaged ones one line, and what was read
 * before stays. */
static void shard_read__forms(Test *t) {
  static const struct {
    int head, at, bytes;
    uint64_t value;
    long size;
    const char *said;
  } WRONG[] = {
    {1, 8, 4, 301, 0, "as many as it says), found 1624 bytes"},
    {1, 8, 4, 0, 0, "as many as it says), found 1624 bytes"},
    {1, 8, 4, 0xffffffff, 0, "as many as it says), found 1624 bytes"},
    {1, 4, 4, 7, 0, "as many as it says), found 1624 bytes"},
    {1, 0, 0, 0, 1623, "found 1623 bytes"},
    {1, 0, 0, 0, 1023, "found 1023 bytes"},
    {1, 0, 0, 0, 4, "found 4 bytes"},
    {1, 8, 4, 0, 1024, "found 1024 bytes"},
    {0, 0, 0, 0, 599, "found 599 bytes"},
    {0, 0, 0, 0, -1, "found 0 bytes"},
    {0, 20, 2, 50257, 0, "ids below 50257, found 50257 at place 10"},
    {1, 1024 + 598, 2, 65535, 0, "ids below 50257, found 65535 at place 299"},
    /* of version 1, not 7 */
    {1, 0, 4, 20240801, 0, "as many as it says), found 1624 bytes"}};
  int32_t ids[300];
  Bytes *b = bytes_of(t), *out = bytes_of(t);
  Rng r = {3};
  for (int i = 0; i < 300; i++)
    ids[i] = (int32_t)rng_below(&r, 50257);
  ids[0] = 0x1234;
  for (int head = 0; head < 2; head++) {
    shard_bytes(b, ids, 300, head);
    fact(t,
         !shard_read(b->at, b->size, "s", 50257, out, fresh(t)) &&
             out->size == (head ? 2 : 1) * sizeof ids &&
             !memcmp(out->at + out->size - sizeof ids, ids, sizeof ids),
         "form %d: %zu bytes, %s", head, out->size, t->e.text);
  }
  EACH (i, WRONG) {
    shard_bytes(b, ids, 300, WRONG[i].head);
    for (int k = 0; k < WRONG[i].bytes; k++)
      b->at[WRONG[i].at + k] = (unsigned char)(WRONG[i].value >> 8 * k);
    size_t size = b->size;
    if (WRONG[i].size)
      size = WRONG[i].size < 0 ? 0 : (size_t)WRONG[i].size;
    unsigned char *exact = exactly(b->at, size);
    const char *text = fresh(t)->text;
    fact(t,
         shard_read(exact, size, "s", 50257, out, &t->e) == 1 &&
             strstr(text, WRONG[i].said) && !strncmp(text, "s: ", 3) &&
             strstr(text, " Try: "),
         "row %d: %s", i, text);
    free(exact);
  }
}

static const int32_t SHARD_OF_FOUR[4] = {0, 50256, 128255, 7};

/* NumPy's files of ids are read; two dimensions, floats, other orders of bytes
 * are refused. */
static const struct {
  const char *head;
  int width;
  const char *said;
} NUMPY_FILES[] = {
  {"'<u2', 'fortran_order': False, 'shape': (4,), }", 2, NULL},
  {"'<u4', 'fortran_order': False, 'shape': (4,), }", 4, NULL},
  {"'<i4', 'fortran_order': False, 'shape': (4,), }", 4, NULL},
  {"'<i8', 'fortran_order': False, 'shape': (4,), }", 8, NULL},
  {"'<i8', 'fortran_order': False, 'shape': (5,), }", 8,
   "as many as it says), found "},
  {"'<u2', 'fortran_order': False, 'shape': (2, 2), }", 2, "one dimension"},
  {"'<u2', 'fortran_order': True, 'shape': (4,), }", 2, "one dimension"},
  {"'<f4', 'fortran_order': False, 'shape': (4,), }", 4,
   "as many as it says"},
  {"'>u2', 'fortran_order': False, 'shape': (4,), }", 2,
   "as many as it says"},
  {"|u1', 'fortran_order': False, 'shape': (4,), }", 1,
   "as many as it says"}};

/* b becomes the head of a file of version 1: {'descr': DESCR, in 118 bytes. */
static void numpy_head(Test *t, Bytes *b, const char *descr) {
  char head[119];
  snprintf(head, sizeof head, "{'descr': %-107s\n", descr);
  b->size = 0;
  bytes_add(b, "\x93NUMPY\1\0\x76\0", 10, fresh(t));
  bytes_add(b, head, 118, &t->e);
}

static void shard_read__numpy(Test *t) {
  const int32_t *const ids = SHARD_OF_FOUR;
  const size_t size = sizeof SHARD_OF_FOUR;
  Bytes *b = bytes_of(t), *out = bytes_of(t);
  EACH (i, NUMPY_FILES) {
    const int most = NUMPY_FILES[i].width > 2 ? 128256 : 50257;
    numpy_head(t, b, NUMPY_FILES[i].head);
    out->size = 0;
    for (int k = 0; k < 4; k++)
      bytes_number(b, ids[k] < most ? (uint64_t)ids[k] : 9,
                   NUMPY_FILES[i].width, &t->e);
    unsigned char *exact = exactly(b->at, b->size);
    const bool read = !shard_read(exact, b->size, "s", most, out, &t->e);
    if (NUMPY_FILES[i].said)
      fact(t, !read && strstr(t->e.text, NUMPY_FILES[i].said), "%s: %s",
           NUMPY_FILES[i].head, t->e.text);
    else
      fact(t,
           read && out->size == size &&
               (most < 128256 || !memcmp(out->at, ids, size)),
           "%s: %s", NUMPY_FILES[i].head, t->e.text);
    free(exact);
  }
  /* version 2: 4 bytes of length */
  b->size = out->size = 0;
  bytes_add(b, "\x93NUMPY\2\0\x74\0\0\0", 12, fresh(t));
  char second[117];
  snprintf(second, sizeof second, "%-115s\n",
           "{'descr': '<u2', 'fortran_order': False, 'shape': (4,), }");
  bytes_add(b, second, 116, &t->e);
  for (int k = 0; k < 4; k++)
    bytes_number(b, (uint64_t)ids[k] % 50257, 2, &t->e);
  fact(t,
       !shard_read(b->at, b->size, "s", 50257, out, &t->e) &&
           out->size == size && !memcmp(out->at, ids, 8),
       "version 2: %s", t->e.text);
}

/* A number below 0 is told as it is, and one above 2^63 too. */
static void shard_read__negative(Test *t) {
  static const struct {
    const char *type, *said;
    int width;
    uint64_t id;
  } ROWS[] = {
    {"i2", "expected ids from 0 on, found -2 at place 1. Try", 2, 65534},
    {"u2", "expected ids below 9, found 65534 at place 1. Try", 2, 65534},
    {"i2", "expected ids below 9, found 32767 at place 1. Try", 2, 32767},
    {"i4", "expected ids from 0 on, found -100 at place 1. Try", 4, 4294967196},
    {"i8", "expected ids from 0 on, found -1 at place 1. Try", 8, UINT64_MAX},
    {"u8", "ids below 9, found 18446744073709551615 at place 1. Try: another",
     8, UINT64_MAX}};
  EACH (i, ROWS) {
    Bytes *b = bytes_of(t), *out = bytes_of(t);
    char descr[80];
    snprintf(descr, sizeof descr,
             "'<%s', 'fortran_order': False, 'shape': (2,), }", ROWS[i].type);
    numpy_head(t, b, descr);
    bytes_number(b, 5, ROWS[i].width, &t->e);
    bytes_number(b, ROWS[i].id, ROWS[i].width, &t->e);
    fact(t,
         shard_read(b->at, b->size, "s", 9, out, &t->e) == 1 &&
             strstr(t->e.text, ROWS[i].said),
         "%s: %s", ROWS[i].type, t->e.text);
  }
}

/* What has no header: its first bytes (`magic` of them, 0: all of the string),
 * what follows them 40 times (`n` bytes, 0: 2), and what it is; NULL: ids. None
 * of these may be trained on without a word: headers, halves of ids, the
 * letters of a text. */
static void shard_read__other_files(Test *t) {
  static const struct {
    const char *first, *each, *is;
    size_t magic, n;
  } OTHERS[] = {
    {"\x1f\x8b\x08", "\7\5", "found a gzip file", 0, 0},
    {"PK\3\4", "\7\5", "found a zip file", 0, 0},
    {"PAR1", "\7\5", "found a Parquet file", 0, 0},
    {"\x28\xb5\x2f\xfd", "\7\5", "found a zstd file", 0, 0},
    {"SINKTOK1", "\7\5", "found a file of sink", 0, 0},
    {"%PDF-1", "\7\5", "found a PDF file", 0, 0},
    {"\xff\xfe", "a\0", "found a text. Try: --text s", 0, 0},
    {"", "a\0", "found a text. Try: --text s", 0, 0},
    {"\1\0\1\0", "a\0", NULL, 4, 0},
    {"", "a\5\0\0", "found wider ones", 0, 4},
    {"", "\5\2\1\0", "found wider ones", 0, 4},
    {"", "\5\2\3\0", "found wider ones", 0, 4},
    {"", "\5\2\4\0", NULL, 0, 4},
    {"\xd6\xd7\x34\x01", "\7\5", "as many as it says", 0, 0},
    {"GGUF", "\7\5", "a GGUF file", 0, 0},
    {"ARROW1", "\7\5", "an Arrow file", 0, 0},
    {"MMIDIDX", "\7\5", "an index", 0, 0},
    {"\x89HDF", "\7\5", "an HDF5 file", 0, 0},
    {"\x80\2\x8a\n", "\7\5", "PyTorch's", 0, 0},
    {"\x80\2\7\5", "\7\5", NULL, 0, 0},
    {"BZh9", "\7\5", "a bzip2 file", 0, 0},
    {"\xfd" "7zXZ", "\7\5", "an xz file", 0, 0},
    {"\x7f" "ELF", "\7\5", "a program", 0, 0},
    {"\x89PNG", "\7\5", "a picture", 0, 0},
    {"\7\7\7\7\7\7\7\7{\"", "\7\5", NULL, 10, 0},
    {"\20\0\0\0\0\0\0\0{\"", "\7\5", "found safetensors", 10, 0}};
  Bytes *b = bytes_of(t), *out = bytes_of(t);
  EACH (i, OTHERS) {
    const size_t n = OTHERS[i].n ? OTHERS[i].n : 2;
    size_t magic = OTHERS[i].magic;
    if (!magic)
      magic = strlen(OTHERS[i].first);
    b->size = out->size = 0;
    bytes_add(b, OTHERS[i].first, magic, fresh(t));
    for (int k = 0; k < 40; k++)
      bytes_add(b, OTHERS[i].each, n, &t->e);
    unsigned char *exact = exactly(b->at, b->size);
    const bool read = !shard_read(exact, b->size, "s", 50257, out, &t->e);
    if (OTHERS[i].is)
      fact(t, !read && !out->size && strstr(t->e.text, OTHERS[i].is),
           "row %d: %s", i, t->e.text);
    else
      fact(t, read, "row %d: %s", i, t->e.text);
    free(exact);
  }
  fact(t,
       shard_read((const unsigned char *)SAMPLE, strlen(SAMPLE), "s", 50304,
                  out, fresh(t)) == 1 &&
           strstr(t->e.text, "found a text. Try: --text s"),
       "%s", t->e.text);
}

/* llm.c's shards of 32 bits are read: a header of 256 numbers, then the ids. */
static void shard_read__wide(Test *t) {
  static const uint64_t HEAD[] = {20240801, 7, 4};
  const size_t size = sizeof SHARD_OF_FOUR;
  Bytes *b = bytes_of(t), *out = bytes_of(t);
  for (int k = 0; k < 256; k++)
    bytes_number(b, k < 3 ? HEAD[k] : 0, 4, fresh(t));
  for (int k = 0; k < 4; k++)
    bytes_number(b, (uint64_t)SHARD_OF_FOUR[k], 4, &t->e);
  fact(t,
       !shard_read(b->at, b->size, "s", 128256, out, &t->e) &&
           out->size == size && !memcmp(out->at, SHARD_OF_FOUR, size),
       "32 bits: %s", t->e.text);
  fact(t,
       shard_read(b->at, b->size, "s", 50304, out, fresh(t)) == 1 &&
           strstr(t->e.text, "found 128255 at place 2. Try: --vocab 128258"),
       "%s", t->e.text);
  for (int more = 0; more < 2; more++) {   /* as much as --vocab may be */
    number_put(b->at + 1024 + 8, 15999997 + (uint64_t)more, 4);
    const char *hint = more ? "Try: another file" : "Try: --vocab 16000000";
    fact(t,
         shard_read(b->at, b->size, "s", 50304, out, fresh(t)) == 1 &&
             strstr(t->e.text, hint),
         "%s", t->e.text);
  }
  number_put(b->at + 1024, 4000000000, 4);
  fact(t,
       shard_read(b->at, b->size, "s", 50304, out, fresh(t)) == 1 &&
           strstr(t->e.text,
                  "found 4000000000 at place 0. Try: another file"),
       "%s", t->e.text);
}

/* A grammar whose lines end in CR LF, or that begins with a byte order mark, is
 * the same text, with the same hash. */
static void grammar_load__line_ends(Test *t) {
  Bytes *crlf = bytes_of(t);
  tale_files(t);
  bytes_add(crlf, "\xEF\xBB\xBF", 3, fresh(t));
  for (const char *at = TALE; *at; at++)
    bytes_add(crlf, *at == '\n' ? "\r\n" : at, *at == '\n' ? 2 : 1, &t->e);
  file_write(SCRATCH "/crlf.grammar", crlf->at, crlf->size, &t->e);
#define FIVE_HUNDRED "--data-tokens 500"
  const Data *a = &feed_open(t, 3, 1, 16, FIVE_HUNDRED)->d;
  const Data *b = &feed_open(t, 3, 1, 16,
                             FIVE_HUNDRED " --grammar " SCRATCH "/crlf.grammar")
                       ->d;
  fact(t, same_data(a, b) && a->source == b->source && a->train.size == 500,
       "%zu tokens", b->train.size);
}

/* A folder of shards: documents end at the id told, may go on in the next file,
 * are shared out as a text's, and --bos and --fix-token have the vocabulary's
 * last ids. The shards have the tokens of the tale's text, and a separator more
 * where one document in ten ends. */
static void data_open__shards(Test *t) {
  enum { T = 16 };
#define SHARDS " --tokens " SCRATCH "/shards --vocab "
  static const struct {
    const char *flags;
    int status;
    const char *said;
  } WRONG[] = {
    {"--end-token 0" SHARDS "300", 1,
     "shards/a.bin: expected ids below 300, found "},
    {SHARDS "500", 2, "--end-token 50256: expected an id below 500"},
    {"--end-token 128001" SHARDS "500", 2,
     "--end-token 128001: expected an id below 500"},
    {"--end-token 499 --fix-token 1" SHARDS "500", 2, "an id below 498"},
    {"--end-token 50304 --tokens " SCRATCH "/shards", 2,
     "--end-token 50304: expected an id below 50304. Try: --vocab 50307"},
    {"--end-token 0 --fix-token 1" SHARDS "320", 1,
     "expected ids below 318, found 31"},
    {"--end-token 0 --bos" SHARDS "321", 1,
     "expected ids below 319, found 319 at place "}};
  Bytes *b = bytes_of(t);
  Ids *ids = ids_of(t);
  const Ids *all = &feed_open(t, 0, 1, T, FROM_TEXT "--valid 1e-6")->d.train;
  for (size_t i = 0, ends = 0; i < all->size; i++) {
    ids_push(ids, all->at[i]);
    if (all->at[i] == TOKEN_END && ends++ % 10 == 0)
      ids_push(ids, TOKEN_END);
  }
  const size_t cut = ids->size / 2;
  fact(t, ids->at[cut - 1] != TOKEN_END && ids->at[cut] != TOKEN_END,
       "no document is cut");
  shard_bytes(b, ids->at, cut, true);
  file_write(SCRATCH "/shards/a.bin", b->at, b->size, &t->e);
  shard_bytes(b, ids->at + cut, ids->size - cut, false);
  file_write(SCRATCH "/shards/b.bin", b->at, b->size, &t->e);
  fact(t, !t->e.status, "%s", t->e.text);
  for (int bos = 0; bos < 2; bos++) {
    const char *more = bos ? "--bos --fix-token 2 --valid 0.3" : "--valid 0.3";
    Feed *text = feed_open(t, 0, 1, T, FROM_TEXT "%s", more);
    Feed *f = feed_open(t, 0, 1, T, "--end-token 0 %s" SHARDS "500", more);
    Ids *const parts[] = {&f->d.train, &f->d.held};
    EACH (k, parts)
      for (size_t i = 0; i < parts[k]->size; i++)
        if (parts[k]->at[i] == 498)
          parts[k]->at[i] = TOKEN_BOS;
    fact(t,
         same_data(&f->d, &text->d) &&
             same_ids(&f->d.starts, &text->d.starts) && f->d.starts.size > 25,
         "%zu and %zu tokens", f->d.train.size, f->d.held.size);
    feed_next(t, f);
    fact(t,
         f->d.vocab == 500 && bos == (f->ids[1] == 499 && f->targets[0] == 499),
         "position 2 holds %d", f->ids[1]);
  }
  EACH (i, WRONG)
    data_refused(t, WRONG[i].flags, T, WRONG[i].status, WRONG[i].said);
}

#define ONE_OF(n, entropy) \
  ": token 1 one of " #n ", exp(entropy) " #entropy ": "

/* --first-tokens by hand: of 8 ids, 0 to 2 reserved, which are drawn in a
 * training, whose text has 3 four times, 5 and 7 twice of 12, 4 and 6 never, or
 * (T 0) after one that drew from `own`, in words, and how often each of 8,000
 * draws; ! begins a refusal. */
static const struct {
  const char *what, *own;
  int T;
  const char *told;
  int often[5];
} FIRST_TOKENS[] = {
  {"1", "", 1, "1" ONE_OF(1, 1.0) "5", {[2] = 8000}},
  {"2", "", 1, "2" ONE_OF(2, 2.0) "4 6", {[1] = 4000, [3] = 4000}},
  {"3", "2", 0, "3" ONE_OF(3, 3.0) "3 5 7", {2667, 0, 2667, 0, 2667}},
  {"5", "", 1, "5" ONE_OF(5, 5.0) "3 4 5 6 7", {1600, 1600, 1600, 1600, 1600}},
  {"text", "", 1, "text" ONE_OF(3, 2.8) "3 5 7", {4000, 0, 2000, 0, 2000}},
  {"text", "text", 0, "text" ONE_OF(3, 2.8) "3 5 7", {4000, 0, 2000, 0, 2000}},
  {"text", "2", 0, "text" ONE_OF(1, 1.0) "4", {[1] = 8000}},
  /* counts of 7 ids alone */
  {"text", "text7", 0, "text" ONE_OF(1, 1.0) "4", {[1] = 8000}},
  {"other", "text", 0, "other" ONE_OF(2, 2.0) "4 6", {[1] = 4000, [3] = 4000}},
  {"other", "2", 0, "other" ONE_OF(3, 3.0) "3 5 7", {2667, 0, 2667, 0, 2667}},
  {"other", "", 0, "other" ONE_OF(5, 5.0) "3 4 5 6 7",
   {1600, 1600, 1600, 1600, 1600}},
  {"natural", "2", 0, "natural", {0}},
  {"other", "5", 0, "!other: there are no such tokens.", {0}},
  {"other", "2", 1, "!other: expected N, N^X, N:SET",
   {0}},
  {"2:absent", "", 3, "2:absent" ONE_OF(2, 2.0) "4 6",
   {[1] = 4000, [3] = 4000}},
  {"1:absent", "", 3, "1:absent" ONE_OF(1, 1.0) "6", {[3] = 8000}},
  {"2:common", "", 3, "2:common" ONE_OF(2, 2.0) "3 5", {4000, 0, 4000}},
  {"3^1:common", "", 3, "3^1:common" ONE_OF(3, 2.8) "3 5 7",
   {4000, 0, 2000, 0, 2000}},
  {"5^1", "", 3, "5^1" ONE_OF(3, 2.8) "3 5 7", {4000, 0, 2000, 0, 2000}},
  {"2^0.5:common", "", 3, "2^0.5:common" ONE_OF(2, 2.0) "3 5", {4686, 0, 3314}},
  /* 3 is a third: q = 1 / (1 + 2/3) */
  {"1:q0.6", "", 3, "1:q0.6" ONE_OF(1, 1.0) "3", {8000}},
  /* q = 1 / (1 + 2/6) */
  {"1:q0.7", "", 3, "1:q0.7" ONE_OF(1, 1.0) "5", {[2] = 8000}},
  /* q of 1 and 0.43 */
  {"2:q0.7wide", "", 3, "2:q0.7wide" ONE_OF(2, 2.0) "3 4", {4000, 4000}},
  {"2:50%", "", 3, "2:50%" ONE_OF(2, 2.0) "3 5", {4000, 0, 4000}},
  {"5:100%", "", 3, "5:100%" ONE_OF(5, 5.0) "3 4 5 6 7",
   {1600, 1600, 1600, 1600, 1600}},
  /* q of 1; of 1/3 and 1/2: q is 6^(-1/3) */
  {"3:q0.55wide", "", 3, "3:q0.55wide" ONE_OF(3, 3.0) "3 4 5",
   {2667, 2667, 2667}},
  /* 4 and 2 times, squared */
  {"2^2:common", "", 3, "2^2:common" ONE_OF(2, 1.6) "3 5", {6400, 0, 1600}},
  {"5^2", "", 3, "5^2" ONE_OF(3, 2.4) "3 5 7", {5333, 0, 1333, 0, 1333}},
  {"4:q0.6wide", "", 3, "!4:q0.6wide: ", {0}},
  /* 0 and 2 of 12 */
  {"2:20%", "", 3, "2:20%" ONE_OF(2, 2.0) "4 7", {0, 4000, 0, 0, 4000}},
  {"2:common", "2:common", 0, "2:common" ONE_OF(3, 2.8) "3 5 7",
   {4000, 0, 2000, 0, 2000}},
  {"other", "2:common", 0, "other" ONE_OF(2, 2.0) "4 6",
   {[1] = 4000, [3] = 4000}},
  {"2:common", "2:common7", 0, "!and the model 7. Try: --tokenizer", {0}},
  {"2:common", "2", 0, "!2:common: only for the text of a training. Try:", {0}},
  {"3:absent", "", 3,
   "!3:absent: expected 1 or more, of 2 that there are. Try: --first-tokens 16",
   {0}},
  {"2^1:absent", "", 3, "!2^1:absent: there are no such tokens.", {0}},
  {"2:q0.999wide", "", 3,
   "!2:q0.999wide: its two halves share tokens. Try: without wide", {0}},
  {"3:q0.75wide", "", 3, "!3:q0.75wide: its two halves share tokens.", {0}},
  {"1:q0.5wide", "", 3, "!1:q0.5wide: expected 2 or more, of 5 that there are.",
   {0}},
  {"2^", "", 1, "!2^: expected N, N^X, N:SET", {0}},
  {"2^3", "", 1,
   "!2^3: expected N, N^X, N:SET, N^X:SET (N 1 to 5, X at",
   {0}},
  {"2:", "", 1, "!2:: expected N", {0}},
  {"2^3:common", "", 1, "!2^3:common: expected N, N^X, N:SET", {0}},
  {"2:few", "", 1, "!2:few: expected N, N^X, N:SET", {0}},
  {"2:q0", "", 1, "!2:q0: expected", {0}},
  {"2:q1.5", "", 1, "!2:q1.5: expected", {0}},
  {"2:101%", "", 1, "!2:101%: expected", {0}},
  {"2:5", "", 1, "!2:5: expected", {0}},
  {"2:5%wide", "", 1, "!2:5%wide: expected", {0}},
  {"6:common", "", 1, "!6:common: exp", {0}},
  {"natural", "", 1, "!natural: expected N, N^X, N:SET", {0}},
  {"6", "", 0, "!6: expected N, N^X", {0}},
  {"0", "", 1, "!0: expected", {0}},
  {"-1", "", 1, "!-1: expected", {0}},
  {"2.5", "", 1, "!2.5: expected", {0}},
  {"few", "", 1, "!few: expected N, N^X", {0}}};

static void first_tokens__by_hand(Test *t) {
  int32_t ids[] = {3, 0, 5, 3, 1, 7, 3, 2, 5, 7, 3, 0}, held[] = {4, 0, 4};
  double counts[8] = {0, 0, 0, 4, 0, 2, 0, 2};
  EACH (r, FIRST_TOKENS) {
    const char *what = FIRST_TOKENS[r].what, *own = FIRST_TOKENS[r].own;
    const char *told = FIRST_TOKENS[r].told;
    const int T = FIRST_TOKENS[r].T, *wanted = FIRST_TOKENS[r].often;
    Source s = {.first_counts = counts};
    Data d = {.vocab = 8,
              .bos = 1,
              .fix = 2,
              .train = {ids, T ? 12 : 0, 0},
              .held = {held, 3, 0}};
    int often[8] = {0};
    strcpy(s.first_tokens, what);
    strcpy(s.first_own, own);
    char *seven = strchr(s.first_own, '7');
    if (seven) {
      s.vocab = 7;
      *seven = 0;
    }
    const int status = first_open(&d, &s, T, fresh(t));
    const bool no = *told == '!';
    const char *found = strstr(no ? t->e.text : d.drawn, "tokens ");
    const size_t size = strlen(told) + 1 - 2 * (size_t)no;
    fact(t, status == 2 * no && found && !strncmp(found + 7, told + no, size),
         "%s after %s: %s%s", what, own, d.drawn, t->e.text);
    for (uint64_t k = 0; k < 8000 && d.first && !no; k++)
      often[fixed_id(&d, 5, k)]++;
    for (int v = 0; v < 5; v++)
      within(t, often[v + 3], wanted[v], wanted[v] % 8000 ? 180 : 0, "%s",
             told);
    free(d.first);
  }
}

/* What block set k of [T10]'s test holds: training's blocks at the first pass
 * (0) and the second (1), held blocks (2), natural, random, repeated input (3,
 * 4, 5). Returns how many start a document, of an input alone. */
static int feed_kind(Test *t, Feed *f, int k, int held, int T) {
  int starts = 0;
  feed_room(f, k < 2 ? (int)f->d.blocks : held, T);
  for (int pass = 0; pass <= k && k < 2; pass++)
    feed_next(t, f);
  if (k == 2)
    data_held(&f->d, &f->s.data, held, T, f->ids, f->targets);
  if (k > 2)
    data_probe(&f->d, &f->s.data, k - 3, held, T, f->ids, f->targets, &starts);
  return starts;
}

/* Of the N ids, evenly spread from `from` on, is v the i-th? Without an N
 * <|fix|> alone is. */
static bool is_drawn(int v, int i, int N, int from, int V) {
  if (!N)
    return v == TOKEN_FIX;
  return i < N && v == from + (int)floor((i + 0.5) * (V - from) / N);
}

/* [T10] --fix-token p, --first-tokens N there or at 1, and --random-tokens (N
 * 320), against blocks without: input p and the target before it are <|fix|>,
 * or of the N, evenly, a block's the same at the second pass (k 1); no more is
 * changed. So are held blocks (2), and but for random tokens natural, random,
 * repeated input (3, 4, 5). */
static const struct {
  int N, p;
  const char *flags, *base;
} FIXED[] = {
  {1, 1, "--first-tokens 1", ""},
  {4, 1, "--first-tokens 4", ""},
  {0, 1, "--fix-token 1", ""},
  {16, 3, "--first-tokens 16 --fix-token 3", ""},
  {0, 2, "--fix-token 2", ""},
  {317, 9, "--first-tokens 317 --fix-token 9", ""},
  {0, 8, "--fix-token 8", ""},
  {0, 9, "--fix-token 9", ""},
  {0, 10, "--fix-token 10", ""},
  {320, 1, "--random-tokens 1", ""},
  {320, 3, "--random-tokens 5,3", "--random-tokens 5"},
  {4, 3, "--random-tokens 5,3 --first-tokens 4",
   "--random-tokens 5 --first-tokens 4"}};

static void fix_token__two_places(Test *t) {
  enum { T = 8, V = 320, HELD = 60 };
  static int drawn[2000]; /* of the first pass, for the second */
  for (int r = 0; r < 72; r++) {
    const int N = FIXED[r / 6].N, p = FIXED[r / 6].p, k = r % 6;
    int often[V] = {0};
    double sum = 0, distinct = 0;
    Feed *plain = feed_open(t, 0, 1, T, FROM_TEXT "--valid 0.3 %s",
                            FIXED[r / 6].base);
    Feed *f = feed_open(t, 0, 1, T, FROM_TEXT "--valid 0.3 %s",
                        FIXED[r / 6].flags);
    const int starts = feed_kind(t, f, k, HELD, T);
    const bool same_starts = feed_kind(t, plain, k, HELD, T) == starts;
    const int place = p <= T + (k < 4) && (k < 3 || N < V) ? p : 0;
    const int from = N < V ? TOKEN_BYTE : 0;
    const bool repeats = N && N < V && k == 5;
    for (int i = 0; i < f->B * T; i++) {
      const int at = i % T + 1, *ids = f->ids + i + 1 - at;
      const int id = place > T ? f->targets[i + T - at]
                               : ids[place ? place - 1 : 0];
      const int input = at == place || repeats ? id : plain->ids[i];
      const int target = at + 1 == place ? id : plain->targets[i];
      often[id] += at == 1 && (place || repeats);
      if (k == 0)
        drawn[f->d.order[i / T]] = id;
      fact(t, k != 1 || !place || drawn[f->d.order[i / T]] == id,
           "%d: another, second pass", N);
      fact(t,
           f->ids[i] == input && same_starts &&
               (k > 3 || f->targets[i] == target),
           "%d", i);
    }
    for (int v = 0, i = 0; v < V && (place || repeats); v++) {
      const bool one = is_drawn(v, i, N, from, V);
      const double each = one ? f->B / fmax(N, 1) : 0;
      within(t, often[v], each, one * (N > 1) * (6 * sqrt(each) + 6),
             "N %d, %d: %d", N, k, v);
      i += one;
      sum += v * often[v];
      distinct += often[v] > 0;
    }
    if (!place || k > 1 || N < 300)
      continue;
    /* n draws of N: N (1 - e^(-n/N)) different ones are expected, and
     * a mean of N/2 */
    within(t, distinct, N * (1 - exp(-f->B / (double)N)), 4 * sqrt(N),
           "N %d: distinct ids", N);
    within(t, sum / f->B, from + (N - 1) / 2.0, 5 * N / sqrt(12 * f->B),
           "N %d: mean id", N);
  }
}

/* What an evaluation feeds, in f; how many sequences, and how many
 * start a document. */
static int feed_probe(Feed *f, int input, int *starts) {
  return data_probe(&f->d, &f->s.data, input, f->B, f->T, f->ids,
                    input == INPUT_NATURAL ? f->targets : NULL, starts);
}

/* [S3.3] [T1] An evaluation feeds starts of held documents and their sequels;
 * none has an end. */
static void data_probe__natural(Test *t) {
  enum { N = 300 };
  Feed *f = feed_open(t, 0, 0, 0, "");
  const size_t documents = f->d.starts.size;
  int T = 1000, whole = 0, starts;
  /* T is what the shortest has: one too few for it */
  for (size_t k = 0; k < documents; k++) {
    const int length = (int)held_document(&f->d, k).size;
    T = length < T ? length : T;
  }
  feed_room(f, N, T);
  const int got = feed_probe(f, INPUT_NATURAL, &starts);
  for (size_t k = 0; k < documents; k++) {
    const Ids one = held_document(&f->d, k);
    if ((int)one.size <= T)
      continue;
    for (int i = 0, b = whole * T; i < T && whole < starts; i++)
      fact(t, f->ids[b + i] == one.at[i] && f->targets[b + i] == one.at[i + 1],
           "sequence %d is not the start of document %zu", whole, k);
    whole++;
  }
  fact(t, got == N && starts == whole && whole < (int)documents, "%d starts",
       starts);
  for (int i = 0; i < N * T; i++)
    fact(t, f->ids[i] != TOKEN_END, "%d crosses an end", i / T);
  /* documents, all too short: one pass says so */
  enum { SHORT = 1 << 20 };
  int32_t *at = later(t, SHORT, sizeof *at, NULL),
          *ids = later(t, 3 * SHORT, sizeof *ids, NULL);
  for (int k = 0; k < SHORT; k++)
    at[k] = 3 * k;
  const Data many = {.vocab = 9,
                     .starts = {at, SHORT, 0},
                     .held = {ids, 3 * SHORT, 0}};
  fact(t,
       !data_probe(&many, &(Source){0}, INPUT_NATURAL, 1, 3, ids, ids, &starts),
       "a long one");
}

/* Random ids, one id repeated; the same again. */
static void data_probe__drawn(Test *t) {
  enum { N = 300, T = 60 };
  Feed *f = feed_open(t, 0, 0, 0, ""), *again = feed_open(t, 0, 0, 0, "");
  feed_room(f, N, T);
  feed_room(again, N, T);
  for (int input = INPUT_RANDOM; input <= INPUT_REPEAT; input++) {
    int low = 1 << 30, high = 0, changes = 0, starts;
    const int got = feed_probe(f, input, &starts);
    feed_probe(again, input, &starts);
    fact(t, got == N && !starts && same_batch(f, again), "input %d: others",
         input);
    for (int i = 0; i < N * T; i++) {
      low = f->ids[i] < low ? f->ids[i] : low;
      high = f->ids[i] > high ? f->ids[i] : high;
      changes += i % T && f->ids[i] != f->ids[i - 1];
    }
    fact(t,
         low >= 0 && low < 20 && high < 320 && high > 300 &&
             (input == INPUT_REPEAT ? !changes
                                    : changes > N * (T - 1) * 9 / 10),
         "input %d: ids %d to %d, %d changes", input, low, high, changes);
  }
}

/* The validation's blocks: the held tokens in their order. */
static void data_held__blocks(Test *t) {
  enum { T = 9, N = 5000 };
  Feed *f = feed_open(t, 0, 0, 0, FROM_TEXT "--valid 0.3");
  const int blocks = (int)f->d.held.size / (T + 1);
  feed_room(f, N, T);
  int got = data_held(&f->d, &f->s.data, N, T, f->ids, f->targets);
  fact(t, got == blocks && got > 100, "%d blocks", got);
  for (int i = 0; i < blocks * T; i++) {
    const int32_t *at = f->d.held.at + i / T * (T + 1) + i % T;
    fact(t, f->ids[i] == at[0] && f->targets[i] == at[1], "block %d, place %d",
         i / T, i % T);
  }
  /* a few: spread over the text, or the first of them */
  for (int k = 0; k < 4; k++) {
    const int size = (int)f->d.held.size,
              step = k % 2 ? T : (size / T - 1) / 7 * T;
    f->d.alike = k % 2;
    if (k == 2)
      f->d.starts.size = 1;
    got = k < 2 ? data_held(&f->d, &f->s.data, 7, T, f->ids, f->targets)
                : data_probe(&f->d, &f->s.data, INPUT_NATURAL, 7, T, f->ids,
                             f->targets, &(int){0});
    fact(t, got == 7, "%d blocks, not the 7 that were asked for", got);
    for (int b = 0; b < 7; b++) {
      const int at = k >= 2 ? b * step : (k ? b : b * blocks / 7) * (T + 1);
      fact(t, f->targets[b * T + T - 1] == f->d.held.at[at + T], "%d: block %d",
           k, b);
    }
  }
}

static void positions_parse__refuses(Test *t) {
  static const struct {
    const char *text;
    int n, last;
  } ROWS[] = {
    {"", 0, 0}, {"1", 1, 1}, {"1,2", 2, 2}, {"7,3,16777216", 3, 16777216},
    {"1,2,3,4", 4, 4},
    {"1,2,3,4,5", -1, 0}, {"0", -1, 0}, {"-1", -1, 0}, {"1,", -1, 0},
    {",1", -1, 0},
    {"1;2", -1, 0}, {"x", -1, 0}, {"1 2", -1, 0}, {"16777217", -1, 0},
    {"1,,2", -1, 0},
    {"99999999999999999999999", -1, 0}, {"2.5", -1, 0}, {"1,2x", -1, 0}};
  EACH (r, ROWS) {
    int at[5] = {-1, -1, -1, -1, -1}, n = 0;
    const int status = positions_parse("random-tokens", ROWS[r].text, at, 4,
                                       fresh(t));
    while (!status && n < 4 && at[n])
      n++;
    fact(t,
         ROWS[r].n < 0 ? status == 2 && strstr(t->e.text, "Try: ") != NULL
                       : !status && n == ROWS[r].n && !at[n] &&
                             (!n || at[n - 1] == ROWS[r].last),
         "%s: %d positions %s", ROWS[r].text, n, t->e.text);
  }
}

static const TestEntry TESTS[] = {
  RUNS(pieces__as_the_oracle_cuts), RUNS(tokenizer_encode__by_the_book),
  RUNS(tokenizer_train__by_the_book), RUNS(tokenizer_train__by_hand),
  RUNS(tokenizer_read__damage), RUNS(tokenizer_read__contents),
  RUNS(tokenizer_read__tampered), RUNS(tokenizer__special_ids),
  RUNS(tokenizer__shipped), RUNS(grammar__tells),
  RUNS(grammar_document__bounded), RUNS(grammar_document__shares),
  RUNS(grammar_read__damage), RUNS(grammar__domains),
  RUNS(data_open__shares_out), RUNS(data_open__grammar_held),
  RUNS(data_batch__orders), RUNS(data_batch__evenly), RUNS(data_batch__endless),
  RUNS(data_open__limits), RUNS(data_open__refuses), RUNS(utf8_length__rows),
  RUNS(data_open__folder), RUNS(data_open__one_document),
  RUNS(data_open__no_white_space),
  RUNS(shard_read__forms), RUNS(shard_read__numpy), RUNS(shard_read__negative),
  RUNS(shard_read__other_files), RUNS(shard_read__wide),
  RUNS(grammar_load__line_ends), RUNS(data_open__shards),
  RUNS(first_tokens__by_hand), RUNS(fix_token__two_places),
  RUNS(data_probe__natural), RUNS(data_probe__drawn), RUNS(data_held__blocks),
  RUNS(positions_parse__refuses)};

int main(int argc, char **argv) {
  return tests_run(TESTS, sizeof TESTS / sizeof *TESTS, argc, argv,
                   (Test){.after = scratch_close});
}
