/* shards.c - files of token ids in place of texts, for --tokens: a text that
 * another program made ids.
 *
 * SPDX-License-Identifier: MIT
 *
 * ./paper and ./hf include this. Numbers are little-endian, in one of these
 * three forms:
 *     llm.c      1024 bytes of header, 32-bit numbers: 20240520, a version, the
 *                count of ids; then the ids, 16 bits each, or 32 bits each
 *                where the first number is 20240801
 *     nanoGPT    the ids and nothing else, 16 bits each; none begins with an
 *                id of 54912 to 64911 and then 308, which are headers of llm.c
 *     .npy       NumPy's, of one dimension: 16, 32 or 64 bits each
 * A document ends at each id --end-token, and may go on in the next file of a
 * folder. There are --vocab ids, by default GPT-2's 50257 padded to a multiple
 * of 64. The last two are for --bos and --fix-token; a file that has them is
 * then refused. The tests are in data/check/test_text.c.
 */

enum {
  SHARD_VOCAB = 50304, SHARD_IDS = 16000000, SHARD_16 = 20240520,
  SHARD_32 = 20240801, SHARD_HEAD = 1024, ID_BYTES = sizeof(int32_t)
};

/* Where in a file the ids begin, of how many bytes each is, and how many are
 * said to follow. */
typedef struct ShardForm {
  size_t start;
  int width;
  bool negative;               /* an id's highest bit is its sign */
  unsigned long long count;
} ShardForm;

/* llm.c's versions are 1 of 16 bits, 7 of 32. */
static ShardForm shard_llmc(const unsigned char *bytes, size_t n, bool half) {
  const int width = half ? 2 : 4;
  const uint64_t version = half ? 1 : 7;
  if (n < SHARD_HEAD || number_at(bytes + 4, 4) != version)
    return (ShardForm){0};
  return (ShardForm){
      .start = SHARD_HEAD, .width = width, .count = number_at(bytes + 8, 4)};
}

/* Two bytes of length, four from version 2 on, then text. The first dimension
 * is the count; where another one is not 1, it does not fit the size. */
static ShardForm shard_npy(const unsigned char *bytes, size_t n) {
  const int digits = bytes[6] > 1 ? 4 : 2;
  const size_t before = 8 + (size_t)digits;
  ShardForm x = {.start = before + (size_t)number_at(bytes + 8, digits),
                 .width = 1};
  char head[128] = "", sign[2] = "";
  for (size_t i = 0; i + 1 < sizeof head && before + i < n; i++)
    head[i] = (char)bytes[before + i];
  sscanf(head,
         "{'descr': '<%1[iu]%1d', 'fortran_order': False, 'shape': (%llu,",
         sign, &x.width, &x.count);
  x.negative = *sign == 'i';
  return x;
}

/* What bytes without a header are, if no ids. Of ids every common one has an
 * upper byte below 9, and a text has no such byte, but in UTF-16 every other
 * one. Wider ids, below 262144, have uppers of 0 to 3. */
static const char *shard_other(const unsigned char *bytes, size_t n) {
  static const struct {
    const char *magic, *is;
  } KINDS[] = {
    {"\x1f\x8b\x08", "a gzip file"},       {"PK\3\4", "a zip file"},
    {"PAR1", "a Parquet file"},            {"\x28\xb5\x2f\xfd", "a zstd file"},
    {"SINK", "a file of sink"},            {"%PDF", "a PDF file"},
    {"GGUF", "a GGUF file"},               {"ARROW1", "an Arrow file"},
    {"MMIDIDX", "an index of Megatron's"}, {"\x89HDF", "an HDF5 file"},
    {"\x80\2\x8a\n", "PyTorch's pickle"},  {"BZh", "a bzip2 file"},
    {"\xfd" "7zXZ", "an xz file"},         {"\x7f" "ELF", "a program"},
    {"\x89PNG", "a picture"},              {"\xff\xfe", "a text"},
    {"\xfe\xff", "a text"}};
  size_t low = 0, plain = 0, upper = 0, lower = 0;
  for (size_t i = 0; i < sizeof KINDS / sizeof *KINDS; i++)
    if (n > 8 && !memcmp(bytes, KINDS[i].magic, strlen(KINDS[i].magic)))
      return KINDS[i].is;
  if (n > 10 && !memcmp(bytes + 8, "{\"", 2) && number_at(bytes, 8) < n)
    return "safetensors";
  for (size_t i = 0; i < n; i++)
    low += bytes[i] < '\t';
  for (size_t i = 0; i + 1 < n; i += 2) {
    const uint64_t id = number_at(bytes + i, 2);
    plain += id >= '\t' && id <= '~';
    if (i % 4)
      upper += id > 3;
    else
      lower += id > 1;
  }
  if (64 * low < n || plain == n / 2)
    return "a text";
  if (n >= 4 && lower && !upper)   /* of one id there is no upper half */
    return "wider ones and no header";
  return NULL;
}

static int shard_refuse(const char *name, const char *found, Error *e) {
  const char *hint = "ids in NumPy's .npy", *file = "";
  if (strstr(found, "text")) {
    hint = "--text ";
    file = name;
  }
  return fail(e, 1, "%s: expected token ids of 2 bytes each, found %s. Try: "
              "%s%s", name, found, hint, file);
}

/* The number at bytes[at] is no id below `below`. Says which it is, and names
 * the --vocab that has all ids. A negative one is moved up until its sign is the
 * highest of 64 bits, and is divided down again. */
static int shard_outside(const ShardForm *x, const unsigned char *bytes,
                         size_t n, size_t at, const char *name, int below,
                         Error *e) {
  const size_t width = (size_t)x->width, place = (at - x->start) / width;
  const uint64_t id = number_at(bytes + at, x->width);
  const int unused = 64 - 8 * x->width;
  uint64_t largest = id;
  char larger[40] = "another file";
  if (x->negative && id >> (8 * x->width - 1))
    return fail(e, 1, "%s: expected ids from 0 on, found %lld at place %zu. "
                "Try: another file", name,
                (long long)(id << unused) / (1LL << unused), place);
  for (; at < n; at += width)
    if (number_at(bytes + at, x->width) > largest)
      largest = number_at(bytes + at, x->width);
  if (largest < SHARD_IDS - 2)
    snprintf(larger, sizeof larger, "--vocab %d in training", (int)largest + 3);
  return fail(e, 1, "%s: expected ids below %d, found %llu at place %zu. Try: "
              "%s", name, below, (unsigned long long)id, place, larger);
}

/* Appends the ids, of ID_BYTES each; those from `below` on are refused. */
static int shard_read(const unsigned char *bytes, size_t n, const char *name,
                      int below, Bytes *out, Error *e) {
  ShardForm x = {.width = 2, .count = n / 2};
  uint64_t magic = n >= 4 ? number_at(bytes, 4) : 0;
  const char *other;
  if (magic == SHARD_16 || magic == SHARD_32)
    x = shard_llmc(bytes, n, magic == SHARD_16);
  else if (magic / 10000 == 2024)
    x.width = 1;   /* another file of llm.c */
  else if (n > 12 && !memcmp(bytes, "\x93NUMPY", 6))
    x = shard_npy(bytes, n);
  else if (n && (other = shard_other(bytes, n)))
    return shard_refuse(name, other, e);
  bool wide = x.width == 2 || x.width == 4 || x.width == 8;
  if (!wide || x.start >= n || (n - x.start) % (size_t)x.width ||
      (n - x.start) / (size_t)x.width != x.count)
    return fail(e, 1, "%s: expected ids of 2 bytes each (after a header of "
                "llm.c or NumPy, as many as it says), found %zu bytes. Try: a "
                "whole file of one dimension, in NumPy of type <u2 or <u4",
                name, n);
  for (size_t at = x.start; at < n && !e->status; at += (size_t)x.width) {
    uint64_t id = number_at(bytes + at, x.width);
    if (id >= (uint64_t)below)
      return shard_outside(&x, bytes, n, at, name, below, e);
    bytes_add(out, &(int32_t){(int32_t)id}, ID_BYTES, e);
  }
  return e->status;
}

/* The hash of n bytes of numbers of that width, each one's lowest byte first,
 * whatever order the machine has. */
static uint64_t hash_numbers(uint64_t seed, const void *x, size_t n,
                             size_t width) {
  bool turned = !*(char *)&(int){1};   /* the highest byte lies first */
  size_t flip = turned * (width - 1);
  uint64_t h = HASH_START ^ seed;
  for (size_t i = 0; i < n; i++)
    h = hash_add(h, (const char *)x + (i ^ flip), 1);
  return hash_end(h);
}

/* The ids of all files, and where their documents are. */
static void tokens_read_all(const Source *s, int below, Bytes *all,
                            Bytes *documents, Error *e) {
  Bytes names = {0}, file = {0};
  files_list(s->tokens, &names, e);
  for (size_t at = 0; at < names.size && !e->status;
       at += strlen((char *)names.at + at) + 1) {
    const char *name = (const char *)names.at + at;
    file.size = 0;
    if (!file_read(name, &file, e))
      shard_read(file.at, file.size, name, below, all, e);
  }
  for (size_t at = 0, end; at < all->size && !e->status; at = end + ID_BYTES) {
    end = at;
    while (end < all->size &&
           memcmp(all->at + end, &(int32_t){s->end_token}, ID_BYTES))
      end += ID_BYTES;
    if (at < end)
      bytes_add(documents, &(Document){at, end}, sizeof(Document), e);
  }
  bytes_free(&names);
  bytes_free(&file);
}

/* Tokenizer.encode: the text is ids already. */
static int tokens_encode(const Tokenizer *t, const unsigned char *text,
                         size_t n, Ids *out, Error *e) {
  (void)t;
  return ids_add(out, (const int32_t *)(const void *)text, n / ID_BYTES, e);
}

static int tokens_open(Data *d, const Source *s, int T, Error *e) {
  Bytes all = {0}, documents = {0};
  d->tokenizer.encode = tokens_encode;
  d->vocab = s->vocab ? s->vocab : SHARD_VOCAB;
  d->end = s->end_token;
  d->bos = d->vocab - 2;
  d->fix = d->vocab - 1;
  int below = s->bos || s->fix_token ? d->bos : d->vocab;
  if (d->end >= below && s->vocab)
    return fail(e, 2, "--end-token %d: expected an id below %d. Try: "
                "--end-token N, the id that ends your documents", d->end,
                below);
  if (d->end >= below)
    return fail(e, 2, "--end-token %d: expected an id below %d. Try: --vocab "
                "%d", d->end, below, d->end + 3);
  tokens_read_all(s, below, &all, &documents, e);
  d->source = hash_numbers(0, all.at, all.size, ID_BYTES);
  if (!e->status)
    data_share(d, s, T, &all, &documents, e);
  bytes_free(&all);
  bytes_free(&documents);
  return e->status;
}

/* Program.open of a program that knows no toys. */
static int other_open(Data *d, const Source *s, int T, Error *e) {
  if (s->toy)
    return fail(e, 2, "--toy: only ./paper has it. Try: make paper");
  if (!!s->text[0] + !!s->grammar[0] + !!s->tokens[0] > 1)
    return fail(e, 2, "--text, --grammar and --tokens cannot be combined. Try: "
                "one of them");
  if (s->tokens[0])
    return tokens_open(d, s, T, e);
  return s->grammar[0] ? grammar_open(d, s, T, e) : text_open(d, s, T, e);
}
