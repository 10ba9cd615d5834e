/* json.c - JSON, and safetensors, read. Chapters 11 and 12 of hf.c.
 *
 * SPDX-License-Identifier: MIT
 */

/* -----------------------------------------------------------------------------
 * 11  JSON
 *
 * RFC 8259 and nothing beside it: no comments, no NaN, no Infinity, no comma
 * too many, no key twice in an object, no half of a surrogate pair, no byte
 * that is not UTF-8. A text is read into a list of its values in the order in
 * which they begin, each of which knows where the one after it is:
 *
 *   {"a": [1, 2], "b": "c"}   object of 2  "a"  array of 2  1   2   "b"  "c"
 *                  number     0            1    2           3   4   5    6
 *                    next     7            2    5           4   5   6    7
 *
 * Strings are unescaped where they stand, which never makes them longer, and
 * end in a 0. Numbers stay text until someone asks, so that no integer of 64
 * bits loses its last digits on the way. */
enum {
  JSON_NULL, JSON_FALSE, JSON_TRUE, JSON_NUMBER, JSON_STRING, JSON_ARRAY,
  JSON_OBJECT
};
enum {
  JSON_DEPTH = 32,             /* the deepest file read here has 8 */
  JSON_BYTES = 1 << 27,        /* safetensors allows itself 100,000,000 */
  JSON_VALUES = 1 << 24        /* a million tensors have 12 million */
};

typedef struct JsonValue {
  uint32_t kind;
  uint32_t at;                 /* where its text begins */
  uint32_t size;               /* bytes of that, or elements, or pairs */
  uint32_t next;               /* the number of the value after all it holds */
} JsonValue;

typedef struct Json {
  const char *name;            /* the file, for errors; the caller's */
  char *text;
  uint32_t length, here;       /* bytes of the text; where the reader is */
  JsonValue *at;               /* [size] */
  uint32_t size, room;
} Json;

static void json_free(Json *j) {
  free(j->text);
  free(j->at);
  *j = (Json){0};
}

/* Puts u as UTF-8, of 1 to 4 bytes; returns how many. */
static size_t utf8_put(char to[4], uint32_t u) {
  const int more = (u >= 0x80) + (u >= 0x800) + (u >= 0x10000);
  uint32_t ones = 0; /* before a 0, as many as there are bytes */
  if (more)
    ones = 0xF00u >> (more + 1) & 0xF0;
  to[0] = (char)(ones | u >> 6 * more);
  for (int i = 1; i <= more; i++)
    to[i] = (char)(0x80 | (u >> 6 * (more - i) & 0x3F));
  return (size_t)more + 1;
}

/* Fails at the place where the reader is. */
static int json_fails(const Json *j, const char *expected, Error *e) {
  unsigned char c = (unsigned char)j->text[j->here];
  char found[16];
  if (j->here >= j->length)
    snprintf(found, sizeof found, "its end");
  else if (c > ' ' && c < 0x7F)
    snprintf(found, sizeof found, "%c", c);
  else
    snprintf(found, sizeof found, "byte 0x%02X", c);
  return fail(e, 1,
              "%s: expected %s at byte %u of its JSON, found %s. Try: another "
              "copy of it",
              j->name, expected, j->here, found);
}

/* Takes the next character if it is one of these. */
static bool json_one(Json *j, const char *of) {
  bool there = j->text[j->here] && strchr(of, j->text[j->here]);
  j->here += there;
  return there;
}

static void json_white(Json *j) {
  while (json_one(j, " \t\r\n")) {
  }
}

/* Takes the next character if it is one of these, and in any case the white
 * space before it and after it. */
static bool json_takes(Json *j, const char *of) {
  json_white(j);
  bool there = json_one(j, of);
  json_white(j);
  return there;
}

/* The four digits of a \uXXXX, where the reader is; -1 when there are fewer. */
static int32_t json_hex(Json *j) {
  char four[5] = "";
  for (int i = 0; i < 4 && isxdigit((unsigned char)j->text[j->here]); i++)
    four[i] = j->text[j->here++];
  return four[3] ? (int32_t)strtol(four, NULL, 16) : -1;
}

/* What \ and the character after it stand for; the reader is at the latter. */
static int json_escape(Json *j, char **to, Error *e) {
  static const char LETTERS[] = "\"\\/bfnrt", MEANS[] = "\"\\/\b\f\n\r\t";
  char c = j->text[j->here];
  const char *at = c ? strchr(LETTERS, c) : NULL;
  if (at) {
    j->here++;
    *(*to)++ = MEANS[at - LETTERS];
    return 0;
  }
  if (c != 'u')
    return json_fails(j, "one of \"\\/bfnrtu after a backslash", e);
  j->here++;
  int32_t u = json_hex(j), low = 0;
  if (u >= 0xD800 && u < 0xDC00) {
    low = -1;
    if (j->text[j->here] == '\\' && j->text[j->here + 1] == 'u') {
      j->here += 2;
      low = json_hex(j);
    }
    if (low < 0xDC00 || low > 0xDFFF)
      return json_fails(j, "a whole surrogate pair", e);
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
    if (c < ' ')
      return json_fails(j, "a closing quote", e);
    j->here++;
    if (c != '\\')
      *to++ = (char)c;
    else if (json_escape(j, &to, e))
      return e->status;
  }
  v->size = (uint32_t)(to - (j->text + v->at));
  j->here++;
  *to = 0; /* over the closing quote, or before it */
  return 0;
}

static bool json_digits(Json *j) {
  uint32_t from = j->here;
  while (json_one(j, "0123456789")) {
  }
  return j->here > from;
}

static int json_number(Json *j, JsonValue *v, Error *e) {
  v->kind = JSON_NUMBER;
  v->at = j->here;
  json_one(j, "-");
  if (!json_one(j, "0") && !json_digits(j))
    return json_fails(j, "a value", e);
  if (json_one(j, ".") && !json_digits(j))
    return json_fails(j, "a digit", e);
  if (json_one(j, "eE")) {
    json_one(j, "+-");
    if (!json_digits(j))
      return json_fails(j, "a digit", e);
  }
  v->size = j->here - v->at;
  return 0;
}

static int json_word(Json *j, JsonValue *v, Error *e) {
  static const char *const WORDS[] = {"null", "false", "true"};
  for (uint32_t kind = JSON_NULL; kind <= JSON_TRUE; kind++) {
    size_t length = strlen(WORDS[kind]);
    if (strncmp(j->text + j->here, WORDS[kind], length))
      continue;
    v->kind = kind;
    j->here += (uint32_t)length;
    return 0;
  }
  return json_fails(j, "a value", e);
}

/* Refuses an object v that has a key twice. */
static int json_keys_differ(const Json *j, uint32_t v, Error *e) {
  uint32_t n = 0;
  if (j->at[v].size < 2)
    return 0;
  Spelling *s = grab(j->at[v].size, sizeof *s, e);
  if (!s)
    return e->status;
  for (uint32_t key = v + 1; key < j->at[v].next; key = j->at[key + 1].next)
    s[n++] = (Spelling){(unsigned char *)j->text + j->at[key].at,
                        j->at[key].size, 0};
  const Spelling *two = spelt_twice(s, n);
  if (two)
    fail(e, 1,
         "%s: expected each key once in its JSON, found \"%.100s\" twice. Try: "
         "another copy of it",
         j->name, (const char *)two->at);
  free(s);
  return e->status;
}

/* Room for one more value. */
static int json_grow(Json *j, Error *e) {
  if (j->size < j->room)
    return 0;
  uint32_t room = j->room ? 2 * j->room : 64;
  JsonValue *more = NULL;
  if (room > JSON_VALUES)
    return fail(e, 1,
                "%s: expected at most %u values in its JSON, found more. "
                "Try: another file",
                j->name, j->room);
  more = realloc(j->at, room * sizeof *more);
  if (!more)
    return fail(e, 1, "%s: out of memory for its JSON. Try: another machine",
                j->name);
  j->at = more;
  j->room = room;
  return 0;
}

static int json_value(Json *j, int depth, Error *e);

/* What array or object v holds, the reader being at its opening bracket: the
 * values, or the pairs of a key and a value, and the closing one. */
static int json_inside(Json *j, JsonValue *v, int depth, Error *e) {
  const bool object = v->kind == JSON_OBJECT;
  const char *end = object ? "}" : "]";
  if (depth == JSON_DEPTH)
    return json_fails(j, "at most 32 nested brackets", e);
  v->at = j->here++;
  if (json_takes(j, end))
    return 0;
  do {
    if (object) {
      if (j->text[j->here] != '"')
        return json_fails(j, "a key in quotes", e);
      if (json_value(j, depth + 1, e))
        return e->status;
      if (!json_takes(j, ":"))
        return json_fails(j, "a colon", e);
    }
    if (json_value(j, depth + 1, e))
      return e->status;
    v->size++;
  } while (json_takes(j, ","));
  if (!json_takes(j, end))
    return json_fails(j, "a comma or a closing bracket", e);
  return 0;
}

/* Reads one value, which may hold others, at this depth from 0. */
static int json_value(Json *j, int depth, Error *e) {
  if (json_grow(j, e))
    return e->status;
  uint32_t number = j->size++;
  JsonValue v = {0};
  j->at[number] = v;           /* null for whoever looks after a failure */
  char c = j->text[j->here];
  if (c == '[' || c == '{') {
    v.kind = c == '[' ? JSON_ARRAY : JSON_OBJECT;
    if (json_inside(j, &v, depth, e))
      return e->status;
  } else if (c == '"')
    json_string(j, &v, e);
  else if (c == '-' || (c >= '0' && c <= '9'))
    json_number(j, &v, e);
  else
    json_word(j, &v, e);
  v.next = j->size;
  j->at[number] = v;
  if (!e->status && v.kind == JSON_OBJECT)
    return json_keys_differ(j, number, e);
  return e->status;
}

/* The n bytes of a text; name is the file's, and is needed as long as an error
 * may be told of j. Free it whatever comes back. */
static int json_read(Json *j, const unsigned char *from, size_t n,
                     const char *name, Error *e) {
  *j = (Json){.name = name};
  if (n > JSON_BYTES)
    return fail(e, 1,
                "%s: expected at most %d bytes of JSON, found %zu. Try: "
                "another file",
                name, (int)JSON_BYTES, n);
  j->text = grab((idx)n + 1, 1, e);
  if (!j->text)
    return e->status;
  if (n)
    memcpy(j->text, from, n);
  j->length = (uint32_t)n;
  j->here = n ? (uint32_t)utf8_length(from, n) : 0;
  if (j->here < n)
    return json_fails(j, "UTF-8", e);
  j->here = 0;
  json_white(j);
  if (json_value(j, 0, e))
    return e->status;
  json_white(j);
  if (j->here < j->length)
    return json_fails(j, "nothing more", e);
  return 0;
}

static int json_load(Json *j, const char *path, Error *e) {
  Bytes b = {0};
  *j = (Json){0};
  if (!file_read(path, &b, e))
    json_read(j, b.at, b.size, path, e);
  bytes_free(&b);
  return e->status;
}

static bool json_kind(const JsonValue *v, uint32_t kind) {
  return v && v->kind == kind;
}

static bool json_is(const Json *j, const JsonValue *v, const char *text) {
  return json_kind(v, JSON_STRING) && v->size == strlen(text) &&
         !memcmp(j->text + v->at, text, v->size);
}

/* The value of a key, NULL where v is NULL or no object, or has no such key. */
static const JsonValue *json_find(const Json *j, const JsonValue *v,
                                  const char *key) {
  if (!json_kind(v, JSON_OBJECT))
    return NULL;
  for (const JsonValue *k = v + 1; k < j->at + v->next; k = j->at + k[1].next)
    if (json_is(j, k, key))
      return k + 1;
  return NULL;
}

/* The same, and NULL where it is null. */
static const JsonValue *json_get(const Json *j, const JsonValue *v,
                                 const char *key) {
  v = json_find(j, v, key);
  return v && v->kind != JSON_NULL ? v : NULL;
}

/* Is the value of this key this string? */
static bool json_says(const Json *j, const JsonValue *v, const char *key,
                      const char *text) {
  return json_is(j, json_find(j, v, key), text);
}

/* A plain integer of 64 bits: no sign, no point, no exponent. */
static bool json_count(const Json *j, const JsonValue *v, uint64_t *n) {
  if (!json_kind(v, JSON_NUMBER))
    return false;
  *n = 0;
  for (uint32_t i = 0; i < v->size; i++) {
    char c = j->text[v->at + i];
    if (c < '0' || c > '9')
      return false;
    uint64_t digit = (uint64_t)(c - '0');
    if (*n > (UINT64_MAX - digit) / 10)
      return false;
    *n = 10 * *n + digit;
  }
  return true;
}

/* -----------------------------------------------------------------------------
 * 12  safetensors, read: one file or many (the layout is 8's)
 *
 * The header is believed when it names every byte of the file: its tensors,
 * sorted by where they begin, have neither hole nor overlap and end with the
 * file. Names, shapes and lengths are checked before anything is taken from
 * them, so that what follows may add and multiply. A folder of many files
 * (shards) has model.safetensors.index.json, whose weight_map says which tensor
 * is where. */
enum {
  HEADER_MOST = 100000000,     /* the limit of the format's own reader */
  TENSORS_MOST = 1000000,
  NAME_MOST = 1024,
  RANK_MOST = 8
};

/* The formats of a number and their bits. The first FORMATS_READ, in the order
 * of DTYPE_*, are read, and U8 where it holds gpt-oss's numbers of 4 bits. */
static const struct {
  const char *tag;
  int bits;
} FORMATS[] = {
  [DTYPE_F32] = {"F32", 32},
  [DTYPE_F16] = {"F16", 16},
  [DTYPE_BF16] = {"BF16", 16},
  {"BOOL", 8}, {"U8", 8}, {"I8", 8}, {"U16", 16}, {"I16", 16}, {"U32", 32},
  {"I32", 32}, {"U64", 64}, {"I64", 64}, {"F64", 64}, {"C64", 64}, {"F4", 4},
  {"F6_E2M3", 6}, {"F6_E3M2", 6}, {"F8_E5M2", 8}, {"F8_E4M3", 8},
  {"F8_E8M0", 8}, {"F8_E4M3FNUZ", 8}, {"F8_E5M2FNUZ", 8}};
enum {
  FORMATS_READ = DTYPES,
  FORMATS_ALL = sizeof FORMATS / sizeof FORMATS[0]
};

/* A tensor of a file. */
typedef struct Entry {
  const char *name;            /* in its header's text */
  int file;                    /* the number of its file */
  int format;                  /* its place in FORMATS */
  int rank;
  uint64_t shape[RANK_MOST];
  uint64_t begin, end;         /* bytes of the file, from its start */
  bool used;                   /* by the model, or of the image part */
} Entry;

typedef struct Shard {
  char path[1024];
  uint64_t size;               /* of the file */
  uint64_t head;               /* bytes that say what is in it: 8 + N */
  Json header;
} Shard;

/* All tensors of a published model, sorted by name. */
typedef struct Folder {
  const char *path;            /* the caller's */
  Shard *shard;                /* [shards] */
  int shards;
  Entry *tensor;               /* [tensors] */
  idx tensors;
  idx left_out;                /* known, and no part of a text's model */
  char *names;                 /* of tensors that no header names */
} Folder;

static void folder_free(Folder *f) {
  for (int i = 0; i < f->shards; i++)
    json_free(&f->shard[i].header);
  free(f->shard);
  free(f->tensor);
  free(f->names);
  *f = (Folder){0};
}

static int by_place(const void *a, const void *b) {
  const Entry *x = a, *y = b;
  if (x->begin != y->begin)
    return x->begin < y->begin ? -1 : 1;
  return (x->end > y->end) - (x->end < y->end);
}

static int by_tensor_name(const void *a, const void *b) {
  return strcmp(((const Entry *)a)->name, ((const Entry *)b)->name);
}

/* The entry v of a header: format, shape, place, which still counts from the
 * header's end. */
static int entry_read(Entry *x, const Json *j, const JsonValue *v, Error *e) {
  const JsonValue *dtype = json_get(j, v, "dtype");
  const JsonValue *shape = json_get(j, v, "shape");
  const JsonValue *place = json_get(j, v, "data_offsets");
  uint64_t count = 1, d;
  if (!json_kind(dtype, JSON_STRING) || !json_kind(shape, JSON_ARRAY) ||
      !json_kind(place, JSON_ARRAY) || place->size != 2 ||
      !json_count(j, place + 1, &x->begin) ||
      !json_count(j, place + 2, &x->end) || x->end < x->begin)
    return fail(e, 1,
                "%s: expected a dtype, a shape and data_offsets [begin, end] "
                "of tensor %.100s, found another entry. Try: another copy of "
                "it",
                j->name, x->name);
  while (x->format < FORMATS_ALL && !json_is(j, dtype, FORMATS[x->format].tag))
    x->format++;
  if (x->format == FORMATS_ALL)
    return fail(e, 1,
                "%s: expected a dtype of safetensors for %.100s, found %.20s. "
                "Try: another copy of it",
                j->name, x->name, j->text + dtype->at);
  if (shape->size > RANK_MOST)
    return fail(e, 1,
                "%s: expected at most %d dimensions of %.100s, found %u. Try: "
                "another file",
                j->name, RANK_MOST, x->name, shape->size);
  x->rank = (int)shape->size;
  for (int i = 0; i < x->rank; i++) {
    if (!json_count(j, shape + 1 + i, &d) || (d && count > UINT64_MAX / d))
      return fail(e, 1,
                  "%s: expected a shape of plain integers whose product fits "
                  "64 bits of %.100s, found another. Try: another copy of it",
                  j->name, x->name);
    x->shape[i] = d;
    count *= d;
  }
  uint64_t bits = (uint64_t)FORMATS[x->format].bits;
  if (count > UINT64_MAX / bits || count * bits % 8 ||
      count * bits / 8 != x->end - x->begin)
    return fail(e, 1,
                "%s: expected as many bytes of %.100s as its shape and %s ask "
                "for, found %llu. Try: another copy of it",
                j->name, x->name, FORMATS[x->format].tag,
                (unsigned long long)(x->end - x->begin));
  return 0;
}

/* "__metadata__" maps strings to strings. */
static int metadata_check(const Json *j, const JsonValue *v, Error *e) {
  bool good = v->kind == JSON_OBJECT;
  for (const JsonValue *key = v + 1; good && key < j->at + v->next;
       key = j->at + key[1].next)
    good = key[1].kind == JSON_STRING;
  if (good)
    return 0;
  return fail(e, 1,
              "%s: expected strings in __metadata__, found something else. "
              "Try: another copy of it",
              j->name);
}

/* Refuses n tensors x that do not fill the bytes from 0 to `bytes` without a
 * hole or an overlap; sorts them by where they begin. */
static int places_check(const char *name, Entry *x, idx n, uint64_t bytes,
                        Error *e) {
  uint64_t at = 0;
  qsort(x, (size_t)n, sizeof *x, by_place);
  for (idx i = 0; i < n; i++) {
    if (x[i].begin != at)
      return fail(e, 1,
                  "%s: expected tensor %.100s to begin at byte %llu of the "
                  "data, where the one before it ends, found %llu. Try: "
                  "another copy of it",
                  name, x[i].name, (unsigned long long)at,
                  (unsigned long long)x[i].begin);
    at = x[i].end;
  }
  if (at == bytes)
    return 0;
  return fail(e, 1,
              "%s: expected %llu bytes after the header, found %llu. Try: "
              "download it again",
              name, (unsigned long long)at, (unsigned long long)bytes);
}

/* Appends to f the tensors of a file of `size` bytes. head: the first `data` of
 * these, 8 and the header. */
static int header_read(Folder *f, Json *j, const unsigned char *head,
                       size_t data, uint64_t size, const char *name, Error *e) {
  if (json_read(j, head + 8, data - 8, name, e))
    return e->status;
  const JsonValue *top = j->at;
  if (top->kind != JSON_OBJECT)
    return fail(e, 1,
                "%s: expected a header that is a JSON object, found another "
                "value. Try: another copy of it",
                name);
  if ((uint64_t)top->size + (uint64_t)f->tensors > TENSORS_MOST)
    return fail(e, 1,
                "%s: expected at most %d tensors, found more. Try: another "
                "file",
                name, TENSORS_MOST);
  Entry *x = realloc(f->tensor,
                     ((size_t)f->tensors + top->size + 1) * sizeof *x);
  if (!x)
    return fail(e, 1, "%s: out of memory for its header. Try: a smaller model",
                name);
  f->tensor = x;
  x += f->tensors;
  idx n = 0;
  for (const JsonValue *key = top + 1; key < j->at + top->next;
       key = j->at + key[1].next) {
    const char *own = j->text + key->at;
    if (json_is(j, key, "__metadata__")) {
      if (metadata_check(j, key + 1, e))
        return e->status;
      continue;
    }
    if (!key->size || key->size > NAME_MOST || strlen(own) != key->size)
      return fail(e, 1,
                  "%s: expected names of 1 to %d bytes without a 0 byte, found "
                  "%.60s (%u bytes). Try: another copy of it",
                  name, NAME_MOST, own, key->size);
    x[n] = (Entry){.name = own, .file = f->shards};
    if (entry_read(&x[n++], j, key + 1, e))
      return e->status;
  }
  if (places_check(name, x, n, size - data, e))
    return e->status;
  for (idx i = 0; i < n; i++) {
    x[i].begin += data;
    x[i].end += data;
  }
  f->tensors += n;
  return 0;
}

/* Appends the file at path: its size, its header, its tensors. */
static int shard_open(Folder *f, const char *path, Error *e) {
  Shard *s = realloc(f->shard, (size_t)(f->shards + 1) * sizeof *s);
  if (!s)
    return fail(e, 1, "%s: out of memory. Try: a smaller model", path);
  f->shard = s;
  s += f->shards;
  *s = (Shard){0};
  unsigned char eight[8];
  if (path_make(s->path, e, "%s", path))
    return e->status;
  FILE *in = fopen(path, "rb");
  if (!in)
    return fail(e, 1, "%s: %s. Try: download it again", path, strerror(errno));
  uint64_t N = 0;
  if (!file_size(in, &s->size) || !file_seek(in, 0) || s->size < 8 ||
      fread(eight, 1, 8, in) != 8)
    fail(e, 1,
         "%s: expected 8 bytes and a header, found fewer. Try: download it "
         "again",
         path);
  else
    N = number_at(eight, 8);
  if (!e->status && (N > HEADER_MOST || N > s->size - 8))
    fail(e, 1,
         "%s: expected a header of at most %d bytes within the file's %llu, "
         "found a length of %llu. Try: download it again (git: git lfs pull)",
         path, HEADER_MOST, (unsigned long long)s->size, (unsigned long long)N);
  s->head = 8 + N;
  unsigned char *head = NULL;
  if (!e->status)
    head = grab((idx)s->head, 1, e);
  if (head) {
    memcpy(head, eight, 8);
    if (fread(head + 8, 1, (size_t)N, in) != N)
      fail(e, 1, "%s: cannot be read: %s. Try: check the disk", path,
           strerror(errno));
    else
      header_read(f, &s->header, head, 8 + (size_t)N, s->size, path, e);
  }
  free(head);
  fclose(in);
  f->shards++;
  return e->status;
}

static Entry *folder_find(const Folder *f, const char *name) {
  Entry key = {.name = name};
  if (!f->tensors)
    return NULL;
  return bsearch(&key, f->tensor, (size_t)f->tensors, sizeof key,
                 by_tensor_name);
}

/* Sorts all tensors by name; none may be there twice. */
static int folder_sort(Folder *f, Error *e) {
  if (f->tensors)
    qsort(f->tensor, (size_t)f->tensors, sizeof *f->tensor, by_tensor_name);
  for (idx i = 1; i < f->tensors; i++) {
    const Entry *x = &f->tensor[i - 1];
    if (!strcmp(x->name, x[1].name))
      return fail(e, 1,
                  "%s: expected each tensor once, found %.100s in %.100s too. "
                  "Try: another copy of them",
                  f->shard[x->file].path, x->name, f->shard[x[1].file].path);
  }
  return 0;
}

/* The map of an index from tensors to files, which lie in its folder: their
 * names are checked. */
static const JsonValue *index_map(const Json *j, Error *e) {
  const JsonValue *map = json_get(j, j->at, "weight_map");
  if (!json_kind(map, JSON_OBJECT) || !map->size) {
    fail(e, 1,
         "%s: expected a weight_map of tensors to files, found none. Try: "
         "another copy of it",
         j->name);
    return NULL;
  }
  for (const JsonValue *key = map + 1; key < j->at + map->next;
       key = j->at + key[1].next) {
    const char *shard = j->text + key[1].at;
    if (key[1].kind != JSON_STRING || !key[1].size || *shard == '.' ||
        strlen(shard) != key[1].size || strpbrk(shard, "/\\:") ||
        strstr(shard, ".."))
      fail(e, 1,
           "%s: expected the name of a file beside it for %.100s, found "
           "something else. Try: another copy of it",
           j->name, j->text + key->at);
  }
  return map;
}

/* The shards that an index names, each with the tensors that it says and no
 * others: the tensors of a map differ, so that it has them all when they are
 * found and are as many. */
static int shards_open(Folder *f, const Json *j, Error *e) {
  const JsonValue *map = index_map(j, e);
  if (e->status)
    return e->status;
  const JsonValue *end = j->at + map->next;
  size_t own = strlen(f->path) + 1; /* where in a path the name begins */
  char path[1024];
  for (const JsonValue *key = map + 1; !e->status && key < end;
       key = j->at + key[1].next) {
    int k = 0;
    while (k < f->shards && strcmp(f->shard[k].path + own, j->text + key[1].at))
      k++;
    if (k == f->shards &&
        !path_make(path, e, "%s/%s", f->path, j->text + key[1].at))
      shard_open(f, path, e);
  }
  if (!e->status)
    folder_sort(f, e);
  for (const JsonValue *key = map + 1; !e->status && key < end;
       key = j->at + key[1].next) {
    const char *name = j->text + key->at, *shard = j->text + key[1].at;
    const Entry *x = folder_find(f, name);
    if (!x || strlen(name) != key->size ||
        strcmp(shard, f->shard[x->file].path + own))
      fail(e, 1,
           "%s: expected tensor %.100s in %.100s, found none. Try: download "
           "both again",
           j->name, name, shard);
  }
  for (idx i = 0; !e->status && f->tensors > (idx)map->size && i < f->tensors;
       i++)
    if (!json_find(j, map, f->tensor[i].name))
      fail(e, 1,
           "%s: expected %.100s in the weight_map, found it in %.100s alone. "
           "Try: download both again",
           j->name, f->tensor[i].name, f->shard[f->tensor[i].file].path);
  return e->status;
}

/* Has the folder a file of this name? Its path is made. */
static bool folder_has(char path[1024], const char *folder, const char *name,
                       Error *e) {
  struct stat is;
  return !path_make(path, e, "%s/%s", folder, name) &&
         (!stat(path, &is) || (errno != ENOENT && errno != ENOTDIR));
}

/* Reads every header of the folder at path, which must outlive f. A whole file
 * goes before an index, as in transformers. Free f whatever comes back. */
static int folder_open(Folder *f, const char *path, Error *e) {
  char name[1024];
  *f = (Folder){.path = path};
  const bool whole = folder_has(name, path, "model.safetensors", e);
  if (!whole && folder_has(name, path, "model.safetensors.index.json", e)) {
    Json index;
    if (!json_load(&index, name, e))
      shards_open(f, &index, e);
    json_free(&index);
    return e->status;
  }
  bool pickled = folder_has(name, path, "pytorch_model.bin", e) ||
                 folder_has(name, path, "pytorch_model.bin.index.json", e);
  path_make(name, e, "%s/model.safetensors", path);
  if (!whole && pickled)
    return fail(e, 1,
                "%s: expected this file, found a pytorch_model.bin, which "
                "holds code and is not read. Try: a branch of the model with "
                "safetensors (refs/pr/..), or save_pretrained in Python",
                name);
  if (!e->status && !whole)
    return fail(e, 1,
                "%s: expected this file, or model.safetensors.index.json and "
                "the files that it names, found neither. Try: download the "
                "model's safetensors into the folder (no GGUF is read)",
                name);
  if (e->status || shard_open(f, name, e))
    return e->status;
  return folder_sort(f, e);
}
