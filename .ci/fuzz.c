/* The readers of bytes from outside under libFuzzer; .ci/fuzz builds it around sink.c, with -DFUZZ_HF
 * around data/models/hf.c, with -DFUZZ_PAPER around data/paper/paper.c, which include sink.c and have its readers
 * too where they are changed. The environment's SINK_FUZZ says which reader it is. A checksum
 * that the fuzzer could not guess is made right here, so that it gets past it. Grammars, tokenizers,
 * ids and shards that are read well are also used: what a reader lets through must not break those who
 * believe it. */
#if defined FUZZ_HF
#include "../data/models/hf.c"
#define TOKENIZER_READ words_read
#elif defined FUZZ_PAPER
#include "../data/paper/paper.c"
#else
#include "../sink.c"
static int bytes_number(Bytes *b, uint64_t x, int bytes, Error *e) {
  unsigned char out[8];
  number_put(out, x, 8);
  return bytes_add(b, out, (size_t)bytes, e);
}
static int tokenizer_decode(const Tokenizer *t, const int32_t *id, size_t n, Bytes *out, Error *e) {
  for (size_t i = 0, length; i < n; i++) {
    const unsigned char *spelling = tokenizer_token(t, id[i], &length);
    bytes_add(out, spelling, length, e);
  }
  return e->status;
}
#endif
#include <stdint.h>
#ifndef TOKENIZER_READ
#define TOKENIZER_READ tokenizer_read
#endif

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n);

typedef struct Reader { const char *name; void (*run)(const uint8_t *p, size_t n, Error *e); } Reader;

static void fuzz_tokenizer(const uint8_t *p, size_t n, Error *e) {
    Bytes file = {0}, back = {0};
    Tokenizer t = {0};
    Ids ids = {0};
    bytes_add(&file, p, n, e);
    bytes_number(&file, hash64(0, p, n), 8, e);
    if (!TOKENIZER_READ(file.at, file.size, "own", &t, e)
        && !tokenizer_encode(&t, p, n < 300 ? n : 300, &ids, e)
        && tokenizer_decode(&t, ids.at, ids.size, &back, e)) abort();
    tokenizer_free(&t);
    ids_free(&ids);
    bytes_free(&file);
    bytes_free(&back);
}

#if defined FUZZ_HF

static void fuzz_json(const uint8_t *p, size_t n, Error *e) {
    Json json = {0};
    json_read(&json, p, n, "json", e);
    json_free(&json);
}

static void fuzz_index(const uint8_t *p, size_t n, Error *e) {
    Json json = {0};
    if (!json_read(&json, p, n, "index", e)) index_map(&json, e);
    json_free(&json);
}

/* Two bytes for the length of a config.json, two for that of the data behind the header. */
static void fuzz_model(const uint8_t *p, size_t n, Error *e) {
    Json config = {0}, header = {0};
    Folder f = {0};
    Settings s;
    Model list = {0};
    const Family *family = NULL;
    if (n < 12) return;
    size_t first = (size_t)number_at(p, 2), data = (size_t)number_at(p + 2, 2);
    p += 4;
    n -= 4;
    if (first > n || n - first < 8) return;
    if (!json_read(&config, p, first, "config", e)) family = family_read(&config, &s, e);
    if (e->status && getenv("SINK_SEED")) return;        /* a seed must be read well */
    *e = (Error){0};
    if (!header_read(&f, &header, p + first, n - first, n - first + data, "header", e)
        && !folder_sort(&f, e) && family && !config_resolve(&s.model, e)
        && s.model.layers * (s.model.experts + 1) < 99 && !model_list(&list, &s.model, e)) {
        Planned *plans = grab(list.n_tensors, sizeof *plans, e);
        f.shard = grab(1, sizeof *f.shard, e);
        if (plans && f.shard) plan(plans, &list, &f, family, e);
        free(plans);
        model_free(&list);
    }
    json_free(&config);
    json_free(&header);
    folder_free(&f);
}

/* Four bytes for the file's size; of at most 99 layers, since more take their time. */
static void fuzz_llama2c(const uint8_t *p, size_t n, Error *e) {
    Folder f = {0};
    Settings s;
    if (n >= BIN_HEAD + 4 && number_at(p + 12, 4) < 100)
        bin_open(&f, &s, "bin", p + 4, n - 4 + (size_t)number_at(p, 4), e);
    folder_free(&f);
}

/* tokenizer.json, tokenizer.model or tok512.bin; the same bytes are then encoded and decoded. */
static void fuzz_published_tokenizer(const uint8_t *p, size_t n, Error *e) {
    Bytes file = {.at = (unsigned char *)(uintptr_t)p, .size = n}, made = {0}, back = {0};
    Json none = {0};
    Making m = {.name = "tokenizer", .config = &none, .map = &none, .more = &none,
                .end = -1, .bos = -1, .last = -1, .most = 4096};
    Tokenizer t = {0};
    Ids ids = {0};
    if (!file_tokenizer(&m, &file, e) && !ends_find(&m, &none, e) && !making_write(&m, &made, e)
        && !words_read(made.at, made.size, "made", &t, e)
        && !tokenizer_encode(&t, p, n, &ids, e)
        && tokenizer_decode(&t, ids.at, ids.size, &back, e)) abort();
    making_free(&m);
    tokenizer_free(&t);
    ids_free(&ids);
    bytes_free(&made);
    bytes_free(&back);
}

/* Four bytes for how much the tensors before the head take. */
static void fuzz_model_head(const uint8_t *p, size_t n, Error *e) {
    Bytes head = {0};
    ModelHead h;
    if (n < 4) return;
    bytes_add(&head, p + 4, n - 4, e);
    bytes_number(&head, hash64(0, p + 4, n - 4), 8, e);
    if (!model_head_read(head.at, head.size, number_at(p, 4), "head", &h, e)) model_head_free(&h);
    bytes_free(&head);
}

static void fuzz_choices(const uint8_t *p, size_t n, Error *e) {
    Choices c;
    size_t all = 0;
    if (choices_read(p, n, "choices", &c, e)) return;
    for (int i = 0; i < c.n; i++)
        for (int k = 0; k <= c.question[i].endings; k++)
            all += strlen((char *)c.text + c.question[i].field[k]);
    if (all > n) abort();
    choices_free(&c);
}

static const Reader READERS[] = {
    {"json", fuzz_json}, {"index", fuzz_index}, {"model", fuzz_model}, {"llama2c", fuzz_llama2c},
    {"published_tokenizer", fuzz_published_tokenizer}, {"model_head", fuzz_model_head},
    {"choices", fuzz_choices}, {"tokenizer_2", fuzz_tokenizer}, {NULL, NULL}};

#elif defined FUZZ_PAPER

static void fuzz_grammar(const uint8_t *p, size_t n, Error *e) {
    Grammar g = {0};
    Bytes text = {0};
    if (!grammar_read(&g, p, n, "grammar", e)) grammar_document(&g, 1, 1, &text, e);
    grammar_free(&g);
    bytes_free(&text);
}

static void fuzz_shard(const uint8_t *p, size_t n, Error *e) {
    Bytes ids = {0};
    shard_read(p, n, "shard", 500, &ids, e);
    for (size_t at = 0; at < ids.size; at += 4) if (number_at(ids.at + at, 4) >= 500) abort();
    bytes_free(&ids);
}

static void fuzz_experiments(const uint8_t *p, size_t n, Error *e) {
    Experiments x = {0};
    if (!experiments_read(&x, p, n, "experiments", e)) experiments_free(&x);
}

static void fuzz_result(const uint8_t *p, size_t n, Error *e) {
    Result r = {0};
    if (!result_read(&r, p, n, "result", e)) result_free(&r);
}

static const Reader READERS[] = {
    {"grammar", fuzz_grammar}, {"shard", fuzz_shard}, {"experiments", fuzz_experiments},
    {"result", fuzz_result}, {NULL, NULL}};

#else

static void fuzz_checkpoint(const uint8_t *p, size_t n, Error *e) {
    Bytes file = {0};
    Trainer t = {0};
    bytes_add(&file, p, n, e);
    bytes_number(&file, hash_end(hash_add(HASH_START, p, n)), 8, e);
    if (!checkpoint_read(file.at, file.size, "checkpoint", true, &t, e)) trainer_free(&t);
    bytes_free(&file);
}

static void fuzz_ids(const uint8_t *p, size_t n, Error *e) {
    Bytes text = {0};
    Ids ids = {0}, starts = {0};
    bytes_add(&text, p, n, e);
    ids_parse(&text, "ids", 99, &ids, &starts, e);
    bytes_free(&text);
    ids_free(&ids);
    ids_free(&starts);
}

/* Words of a command line, a line each. */
static void fuzz_flags(const uint8_t *p, size_t n, Error *e) {
    Settings s;
    char text[2048], *words[99];
    int count = 0;
    snprintf(text, sizeof text, "%.*s", (int)n, (const char *)p);
    for (char *w = strtok(text, "\n"); w && count < 99; w = strtok(NULL, "\n")) words[count++] = w;
    settings_default(&s);
    if (!settings_parse(&s, count, words, ~0u, e))
        config_resolve(&s.model, e);
}

static const Reader READERS[] = {
    {"tokenizer", fuzz_tokenizer}, {"checkpoint", fuzz_checkpoint}, {"ids", fuzz_ids}, {"flags", fuzz_flags}, {NULL, NULL}};

#endif

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n) {
    static const Reader *reader;
    Error e = {0};
    if (!reader) {
        const char *name = getenv("SINK_FUZZ");
        for (reader = READERS; reader->name && (!name || strcmp(reader->name, name)); reader++);
        if (!reader->name) abort();
    }
    reader->run(p, n, &e);
    /* one line, and never a status without; none for a seed */
    if (e.status && (getenv("SINK_SEED") || !e.text[0] || strchr(e.text, '\n'))) abort();
    return 0;
}
