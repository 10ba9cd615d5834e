/* programs.c - programs and files as a user has them, for the tests that
 * include it behind harness.c.
 *
 * SPDX-License-Identifier: MIT
 *
 * Whoever includes it defines PROGRAM before: FROM_HERE "sink", what its
 * tests run. */

/* Makes the checksum in a file's last 8 bytes right. */
static void seal(Bytes *b) {
  uint64_t h = hash64(0, b->at, b->size - 8);
  for (size_t i = 0; i < 8; i++)
    b->at[b->size - 8 + i] = (unsigned char)(h >> (8 * i));
}

/* n bytes on the heap with nothing behind them, so that reading past them
 * is seen. */
static unsigned char *exactly(const void *from, size_t n) {
  unsigned char *at = zeroed((idx)n, 1);
  if (n)
    memcpy(at, from, n);
  return at;
}

#ifndef TOKENIZER_READ
#define TOKENIZER_READ tokenizer_read
#endif

/* Are n bytes refused as a tokenizer in one line? */
static bool refused(const unsigned char *at, size_t n) {
  Error e = {0};
  Tokenizer k = {0};
  unsigned char *copied = exactly(at, n);
  bool no = TOKENIZER_READ(copied, n, "x.bin", &k, &e) == 1 && !k.token &&
            !k.pool.at && !k.close &&
            strstr(e.text, "x.bin: expected ") == e.text &&
            strstr(e.text, ". Try: ") && !strchr(e.text, '\n') &&
            strlen(e.text) < sizeof e.text - 1;
  tokenizer_free(&k);
  free(copied);
  return no;
}

/* A small world of people and things, for chapters 8 to 16. */
static const char TALE[] =
    "tale = [x=who] [y=who] [4-9 line] {2: \\n [3-5 line]|}\n"
    "line = {[^$x]|[^$x/he]} [verb] [a thing] {by [$y/his] [place]|}. | "
    "[^$y] {then|} [verb] the [thing],\n"
    "  [$y/he] said. | \"[^a thing],\" said [$x].\n"
    "who/he/his ~= Ann/she/her | Bob/he/his | Cid/he/his | Dot/she/her | "
    "Eve/she/her | Finn/he/his\n"
    "verb ~= saw | took | ate | lost | found | liked | hid\n"
    "thing ~= apple | owl | hour | house | unicorn | box | egg | "
    "red {coat|hat} | umbrella\n"
    "place = garden | school | inn | tower\n";

/* English, digits, UTF-8 and long runs. */
static const char SAMPLE[] =
    "The quick brown fox jumps over the lazy dog; the dog, being lazy, jumps "
    "over nothing.\n"
    "It's 1,024  km from here to there -- isn't it?   Yes, 12345678 "
    "metres!!!\n"
    "\n"
    "\tthe end\n"
    "na\xc3\xafve caf\xc3\xa9 \xe4\xb8\xad\xe6\x96\x87 \xf0\x9f\x99\x82 "
    "the the the there then<|endoftext|>aaaa aaaaaaa aaaaaaaaa aa ==== ====== "
    "the fox there over nothing 2024 2025 ";

/* A shard of n ids in llm.c's form, or in nanoGPT's without a header. */
static void shard_bytes(Bytes *out, const int32_t *ids, size_t n, bool head) {
  const uint64_t begins[256] = {20240520, 1, n};
  Error e = {0};
  out->size = 0;
  for (int i = 0; head && i < 256; i++)
    bytes_number(out, begins[i], 4, &e);
  for (size_t i = 0; i < n; i++)
    bytes_number(out, (uint64_t)ids[i], 2, &e);
  if (e.status)
    exit(1);
}

#ifdef SINK_DOUBLE
#define SCRATCH "out/files_double"
#else
#define SCRATCH "out/files_float"
#endif
#define FROM_TEXT " --text " SCRATCH "/tale.txt "

/* What the shell of Windows says otherwise, and what system() returns. */
#ifdef _WIN32
#define FROM_HERE ".\\"
#define GONE(folder) "if exist \"" folder "\" rmdir /s /q \"" folder "\""
#define EXIT_STATUS(returned) (returned)
#else
#include <sys/resource.h>
#define FROM_HERE "./"
#define GONE(folder) "rm -rf " folder
#define EXIT_STATUS(returned) ((returned) >> 8)
#endif

static void scratch_close(void) {
  if (system(GONE(SCRATCH)))
    fprintf(stderr, "tests: " SCRATCH " is left\n");
}

static void scratch_open(void) {
  scratch_close();
  make_folder("out");
  if (make_folder(SCRATCH)) {
    fprintf(stderr, "no " SCRATCH " can be made\n");
    exit(1);
  }
}

/* A checkpoint without moments. */
static int parameters_write(const char *path, const Trainer *t, Error *e) {
  Trainer bare = *t;
  bare.m1 = NULL;
  return checkpoint_write(path, &bare, e);
}

static const Program READS_ALL = {
  .name = "sink", .open = other_open, .first = first_open};

/* Settings of a tiny model that reads tale.tok, with these flags; false
 * when refused. */
static bool tiny_settings(Settings *s, const char *flags, Error *e) {
  static const char TINY[] =
      "--layers 1 --heads 2 --dim 16 --ffn 20 --context 16 --batch 4 "
      "--warmup 5 --steps 30 --seed 3 --lr 1e-2 --quiet "
      "--tokenizer " SCRATCH "/tale.tok --T 8 --n 10";
  enum {
    GROUPS = MODEL | TRAIN | DATA | MEASURE | GENERAL | EVAL | ALONE | TABLES
  };
  settings_default(s);
  s->data.program = &READS_ALL;
  settings_flags(s, TINY, GROUPS, e);
  settings_flags(s, flags, GROUPS, e);
  if (!s->data.text[0] && !s->data.grammar[0] && !s->data.tokens[0])
    settings_flags(s, "--grammar " SCRATCH "/tale.grammar", DATA, e);
  return !e->status;
}

/* Writes TALE, 150 of its documents as a text, and a tokenizer of 320 tokens
 * trained on them. In the text are white space around documents, UTF-8, CR LF,
 * an empty document. */
static bool tale_open(Test *t, Settings *s, const char *flags) {
  static const char OTHERS[] = "caf\xc3\xa9 \xe4\xb8\xad\xe6\x96\x87, "
                               "na\xc3\xafve.\r\nA second line\r\n";
  Error *e = fresh(t);
  Grammar g = {0};
  Bytes text = {0};
  Tokenizer k = {0};
  scratch_open();
  file_write(SCRATCH "/tale.grammar", TALE, strlen(TALE), e);
  if (!e->status)
    grammar_read(&g, (const unsigned char *)TALE, strlen(TALE), "tale", e);
  for (uint64_t n = 0; n < 150 && !e->status; n++) {
    grammar_document(&g, 7, n, &text, e);
    bytes_add(&text, "\n" DOCUMENT_END "\n\n", 16, e);
    if (n == 70)
      bytes_add(&text, DOCUMENT_END " \n" DOCUMENT_END, 28, e);
    if (n == 90)
      bytes_add(&text, OTHERS, strlen(OTHERS), e);
  }
  if (!e->status)
    file_write(SCRATCH "/tale.txt", text.at, text.size, e);
  if (!e->status && !tokenizer_train(&k, text.at, text.size, 320, e))
    tokenizer_save(SCRATCH "/tale.tok", &k, e);
  grammar_free(&g);
  tokenizer_free(&k);
  bytes_free(&text);
  if (!e->status)
    tiny_settings(s, flags, e);
  t->tale = !e->status;
  fact(t, t->tale, "%s: %s", flags, e->text);
  return !e->status;
}

/* The files of tale_open, once. A test without them gives up. */
static void tale_files(Test *t) {
  Settings s;
  if (!t->tale && !tale_open(t, &s, ""))
    exit(1);
}

/* A trainer of tiny_settings with these flags, on the files of tale_open. */
static bool trainer_made(Test *t, Trainer *r, const char *flags) {
  Settings s;
  tale_files(t);
  bool made = tiny_settings(&s, flags, fresh(t)) &&
              !trainer_create(r, &s, &t->e);
  fact(t, made, "%s: %s", flags, t->e.text);
  return made;
}

/* Steps until `steps` are done; the last loss, NaN and a failed statement when
 * a step fails. */
static double steps_of(Test *t, Trainer *r, int steps) {
  Error *e = fresh(t);
  while (r->step < steps && !trainer_step(r, e))
    continue;
  fact(t, !e->status, "%s", e->text);
  return e->status ? NAN : r->loss;
}

/* p_1 of a model overwritten by p_t, or swapped with it: what an edit
 * only says. */
static void write_positions(Model *m, int at, bool swap) {
  int C = m->c.dim, first = m->c.sink_token;
  for (int ch = 0; ch < C; ch++) {
    real *p_1 = &m->wpe.w[first * C + ch];
    real *p_t = &m->wpe.w[(first + at - 1) * C + ch];
    real was = *p_1;
    *p_1 = *p_t;
    if (swap)
      *p_t = was;
  }
}

/* The k-th number (from 0) after a phrase, a - before it its sign; NaN when
 * there is none. */
static double number_after(const char *text, const char *phrase, int k) {
  const char *at = strstr(text, phrase);
  for (at = at ? at + strlen(phrase) : NULL; at && *at; at++) {
    const bool minus = *at == '-' && !isalnum((unsigned char)at[-1]);
    if (!isdigit((unsigned char)at[minus]))
      continue;
    char *end;
    double x = strtod(at, &end);
    if (k-- == 0)
      return x;
    at = end - 1;
  }
  return NAN;
}

/* What a program said, each with a 0 behind it, and its exit status. */
typedef struct Ran {
  int status;
  Bytes out, err;
} Ran;

static void ran_free(Ran *r) {
  bytes_free(&r->out);
  bytes_free(&r->err);
}

static bool no_binary(Test *t) {
  const bool none = file_missing(PROGRAM) && file_missing(PROGRAM ".exe");
  if (none)
    t->skip = "no " PROGRAM " here: make builds it";
  return none;
}

/* Runs a program with these words for the shell; what it wrote comes by way of
 * files in SCRATCH. */
static Ran ran(const char *program, const char *words) {
  Ran r = {0};
  Error e = {0};
  char command[1500];
  snprintf(command, sizeof command, "%s %s >" SCRATCH "/out 2>" SCRATCH "/err",
           program, words);
  r.status = EXIT_STATUS(system(command));
  file_read(SCRATCH "/out", &r.out, &e);
  bytes_add(&r.out, "", 1, &e);
  file_read(SCRATCH "/err", &r.err, &e);
  bytes_add(&r.err, "", 1, &e);
  if (e.status)
    r.status = -1;
  return r;
}

static Ran sink(const char *words) { return ran(PROGRAM, words); }

/* It fails with this status and one line of help on stderr, and says nothing
 * on stdout. */
static void sink_fails(Test *t, const char *words, int status,
                       const char *said) {
  Ran r = sink(words);
  const char *err = (const char *)r.err.at;
  bool one_line = strchr(err, '\n') == err + r.err.size - 2;
  fact(t, r.status == status, "sink %s: exit %d, not %d: %s", words, r.status,
       status, err);
  fact(t,
       !strncmp(err, &PROGRAM[2], strlen(PROGRAM) - 2) && strstr(err, said) &&
           one_line && strstr(err, "Try: "),
       "sink %s: %s", words, err);
  fact(t, r.out.size == 1, "sink %s: %s", words, (const char *)r.out.at);
  ran_free(&r);
}

/* It ends well and leaves stderr empty; *out is what it wrote, for the caller
 * to free. */
static bool sink_does(Test *t, const char *words, Ran *r) {
  *r = sink(words);
  fact(t, r->status == 0 && r->err.size == 1, PROGRAM " %s: exit status %d, %s",
       words, r->status, (const char *)r->err.at);
  if (r->status)
    ran_free(r);
  return r->status == 0;
}

/* What it printed, "" where it did not end well; the last four of
 * these stay. */
static const char *said(Test *t, const char *format, ...) {
  static Ran kept[4];
  static int turn;
  Ran *r = &kept[turn++ % 4];
  char words[1400];
  PRINT_ARGUMENTS(words, sizeof words);
  ran_free(r);
  return sink_does(t, words, r) ? (const char *)r->out.at : "";
}

/* It ends with this status, and `said` is in what it wrote: a |, what went to
 * stdout, a | and what went to stderr. */
static void answers(Test *t, const char *program, const char *words, int status,
                    const char *said) {
  Ran r = ran(program, words);
  Bytes *all = bytes_of(t);
  Error *e = fresh(t);
  bytes_add(all, "|", 1, e);
  bytes_add(all, r.out.at, r.out.size - 1, e);
  bytes_add(all, "|", 1, e);
  bytes_add(all, r.err.at, r.err.size, e);
  fact(t, r.status == status && strstr((char *)all->at, said),
       "%s %s: %d, and no %s in %.500s", program, words, r.status, said,
       (char *)all->at);
  ran_free(&r);
}

/* Copies a file if it is there; the copy of a program runs, too. */
static void file_copy(Test *t, const char *from, const char *to) {
  Bytes *b = bytes_of(t);
  if (!file_read(from, b, fresh(t)) && !file_write(to, b->at, b->size, &t->e))
    chmod(to, 0777);
}

/* As answers(), with status 0, from another folder, where a data/ is empty. */
static void answers_elsewhere(Test *t, const char *words, const char *said) {
#define AWAY SCRATCH "/away"
  make_folder(AWAY);
  make_folder(AWAY "/data");
  make_folder(AWAY "/out");
  make_folder(AWAY "/" SCRATCH);
  if (chdir(AWAY))
    exit(1);
  answers(t, "." FROM_HERE "." FROM_HERE "." PROGRAM, words, 0, said);
  if (chdir("../../.."))
    exit(1);
}

/* A row of data/check/usage.txt holds. Is it one of this program? */
static bool usage_row(Test *t, char *line) {
  static const char *const PROGRAMS[] = {"sink", "paper", "hf"};
  char name[16] = "", *part = strstr(line, " => "), *to;
  int status = 0, at = 0;
  bool known = false;
  sscanf(line, "%d %15s %n", &status, name, &at);
  EACH (i, PROGRAMS)
    known |= !strcmp(name, PROGRAMS[i]);
  fact(t, part && known && at, "data/check/usage.txt: %s", line);
  if (t->wrong || !part || strcmp(name, &PROGRAM[2]))
    return false;
#ifdef _WIN32
  if (strstr(line, " /dev/"))   /* no such file there */
    return false;
#endif
  *part = 0;
  part += 4;
  while ((to = strstr(part, "\\n")) != NULL) {
    memmove(to, to + 1, strlen(to));
    *to = '\n';
  }
  if (status)
    sink_fails(t, line + at, status, part);
  else
    fact(t, strstr(said(t, line + at, SCRATCH), part) != NULL, "%s: no %s",
         line + at, part);
  return true;
}

/* A page of help has at most 80 columns, and each flag once. */
static void help_page(Test *t, const char *name, const char *page) {
  char flag[40];
  for (size_t n; (n = strcspn(page, "\n")) > 0 || *page;
       page += n + (page[n] != 0)) {
    fact(t, n <= 80, "%.100s: over 80 columns", page);
    snprintf(flag, sizeof flag, "\n%.*s ",
             (int)(2 + strcspn(page + (n > 2) * 2, " \n")), page);
    fact(t, strncmp(page, "  --", 4) || !strstr(page, flag), "%s: %stwice",
         name, flag + 1);
  }
}

/* The rows of data/check/usage.txt: status, program, words, and a part of the
 * answer; a line is a comment or a row. And every page of help is found by
 * `help VERB`, `VERB --help`, `VERB -h`. */
static void usage_hold(Test *t, const Program *program) {
  static const char *const FORMS[] = {"help %s", "%s --help", "%s -h", "list"};
  int ours = 0;
  if (no_binary(t))
    return;
  scratch_open();
  Bytes *rows = bytes_of(t);
  fact(t,
       !file_read("data/check/usage.txt", rows, fresh(t)) &&
           !bytes_add(rows, "", 1, &t->e),
       "rows");
  for (char *line = strtok((char *)rows->at, "\n"); line;
       line = strtok(NULL, "\n"))
    if (*line != '#')
      ours += usage_row(t, line);
  fact(t, ours > 16, "%d rows for " PROGRAM, ours);
  size_t options = 0;
  while (OPTIONS[options].flag)
    options++;
  fact(t, options <= sizeof ((Settings *)0)->given,
       "%zu options: Settings.given has no room", options);
  for (int k = -1; k < 0 || program->verbs[k].name; k++) {
    const char *name = k < 0 ? "" : program->verbs[k].name;
    for (int i = 0; i < 4 - (k >= 0 || program != &SINK); i++) {
      const char *page = said(t, FORMS[i], name);
      fact(t,
           strstr(page, name) &&
               (i > 2 || !strcmp(page, said(t, FORMS[0], name))),
           "%s", name);
      help_page(t, name, page);
    }
  }
}

/* What a file holds, and a 0 behind it; a failed statement where it cannot
 * be read. */
static Bytes *file_of(Test *t, const char *path) {
  Bytes *b = bytes_of(t);
  Error e = {0};
  fact(t, !file_read(path, b, &e), "%s", e.text);
  if (bytes_add(b, "", 1, &(Error){0}))
    exit(1);
  b->size--;
  return b;
}

static char *text_in(Test *t, const char *path) {
  return (char *)file_of(t, path)->at;
}

/* A page to be printed on, and what it became. */
static FILE *printing(void) {
  FILE *out = fopen(SCRATCH "/page.txt", "wb");
  if (!out)
    exit(1);
  return out;
}

static char *printed(Test *t, FILE *out) {
  fclose(out);
  return text_in(t, SCRATCH "/page.txt");
}

static bool bytes_same(const Bytes *a, const Bytes *b) {
  return a->size == b->size && (!a->size || !memcmp(a->at, b->at, a->size));
}

/* Two files of the same bytes, and not empty. */
static bool files_same(const char *path, const char *other) {
  Bytes a = {0}, b = {0};
  Error e = {0};
  bool same = !file_read(path, &a, &e) && !file_read(other, &b, &e) && a.size &&
              bytes_same(&a, &b);
  bytes_free(&a);
  bytes_free(&b);
  return same;
}

/* What stands behind the next such character; NULL where there is none. */
static const char *text_behind(const char *text, char c) {
  const char *at = strchr(text, c);
  return at ? at + 1 : NULL;
}

/* A CSV file's number in `row`, counted from 1, of the column so named; NaN if
 * there is none. */
static double csv_number(Test *t, const char *path, int row, const char *name) {
  const char *head = (const char *)file_of(t, path)->at, *line = head;
  size_t n = strlen(name);
  int column = 0;
  for (; strncmp(head, name, n) || (head[n] != ',' && head[n] != '\n');
       column++) {
    head += strcspn(head, ",\n");
    if (*head++ != ',') {
      column = -1;
      break;
    }
  }
  for (int i = 0; i < row && line; i++)
    line = text_behind(line, '\n');
  for (int i = 0; i < column && line; i++)
    line = text_behind(line, ',');
  return line && *line && column >= 0 ? strtod(line, NULL) : NAN;
}

static void release_trainer(void *trainer) { trainer_free(trainer); }

/* As trainer_made. A test without its trainer gives up. */
static Trainer *trainer_of(Test *t, const char *flags) {
  Trainer *r = later(t, 1, sizeof *r, release_trainer);
  if (trainer_made(t, r, flags))
    return r;
  fprintf(stderr, "test: %s\n", t->first);
  exit(1);
}

/* The bytes of a checkpoint, written and read back through the disk. */
static Bytes *checkpoint_of(Test *t, const Trainer *r, bool with_moments) {
  static const char PATH[] = SCRATCH "/model.ckpt";
  Error *e = fresh(t);
  if (with_moments)
    checkpoint_write(PATH, r, e);
  else
    parameters_write(PATH, r, e);
  fact(t, !e->status, "%s", e->text);
  return file_of(t, PATH);
}

/* Settings of a command line whose words these are, over tiny_settings. */
static bool resume_settings_of(Test *t, Settings *s, const char *flags,
                               const char *start, const char *out, char **argv,
                               int argc) {
  bool fine = tiny_settings(s, flags, fresh(t));
  fact(t, fine, "%s", t->e.text);
  if (*start)
    snprintf(s->start, sizeof s->start, SCRATCH "%s", start);
  snprintf(s->out, sizeof s->out, SCRATCH "%s", out);
  memset(s->given, 0, sizeof s->given);
  s->resume = 1;
  s->groups = KEPT | GENERAL | OUTPUT | ALONE;
  s->argv = argv;
  settings_parse(s, argc, argv, s->groups, &t->e);
  fact(t, !t->e.status, "%s", t->e.text);
  return fine;
}

/* The numbers of evaluate() on the model m.ckpt: 9 sequences of 12 tokens, by
 * what s asks. */
static Sinks evaluated(Test *t, Settings *s) {
  Sinks found = {0};
  Trainer back = {0};
  if (!checkpoint_load(SCRATCH "/m.ckpt", NULL, &back, fresh(t))) {
    s->data.fix_token = back.s.data.fix_token;
    if (!data_open(&back.data, &s->data, 0, 0, &t->e))
      evaluate(&found, &back.m, &back.data, s, 9, 12, &t->e);
  }
  if (t->e.status) {
    fprintf(stderr, "test: %s\n", t->e.text);
    exit(1);
  }
  trainer_free(&back);
  return found;
}

/* Each flag that this program has and ./sink has not, and each row of a choice,
 * is answered by ./sink in one line with the program that has it. Of a verb's
 * own flags its help tells. */
static void sink__names_programs(Test *t) {
  static const char *const OF_SINK[] = {
    "train", "eval", "run", "dump", "check"};
  int flags = 0, rows = 0;
  char words[200], word[VALUE_ROOM];
  Bytes *help[5];
  if (file_missing(FROM_HERE "sink") && file_missing(FROM_HERE "sink.exe")) {
    t->skip = "no ./sink here: make sink builds it";
    return;
  }
  scratch_open();
  EACH (v, OF_SINK) {
    snprintf(words, sizeof words, "help %s", OF_SINK[v]);
    Ran r = ran(FROM_HERE "sink", words);
    help[v] = bytes_of(t);
    bytes_add(help[v], r.out.at, r.out.size, fresh(t));
    ran_free(&r);
  }
  for (const Option *o = OPTIONS; o->flag; o++) {
    int verb = 0;
    snprintf(words, sizeof words, "--%s ", o->flag);
    while (verb < 5 && !strstr((char *)help[verb]->at, words))
      verb++;
    if (verb < 5 && o->kind != 'c')
      continue;
    for (int row = 0; verb == 5 || *option_word(o, row, word); row++) {
      if (verb == 5)
        snprintf(words, sizeof words, "train --%s 1", o->flag);
      else
        snprintf(words, sizeof words, "%s --%s %s --help", OF_SINK[verb],
                 o->flag, word);
      Ran r = ran(FROM_HERE "sink", words);
      const char *err = (const char *)r.err.at, *hint = strstr(err, "Try: ");
      const bool named = r.status == 2 && hint && strstr(hint, "make ") &&
                         strchr(err, '\n') == err + r.err.size - 2;
      fact(t, named || (r.status == 0 && verb < 5), "sink %s: %d, %s", words,
           r.status, err);
      if (verb < 5)
        rows += named;
      else
        flags += named;
      ran_free(&r);
      if (verb == 5)
        break;
    }
  }
  fact(t, flags > 50 && rows == 11, "%d flags, %d rows", flags, rows);
  note(t, "%d flags, %d rows", flags, rows);
}

/* How ./sink and ./paper evaluate the model of a test, on the texts
 * of tale_open. */
#define OF_TALE " --tokenizer " SCRATCH "/tale.tok "
#define EVALUATED \
    "eval " SCRATCH "/m.ckpt --T 8 --n 5 --text " SCRATCH "/tale.txt" OF_TALE
#define EVAL_NINE EVALUATED "--force --T 12 --n 9"

#define SMALL_SIZE \
    " --tokenizer " SCRATCH "/tale.tok --layers 1 --dim 16 --ffn 20 " \
    "--context 16 --batch 2 "
#define SMALL_RUN " --force --text " SCRATCH "/tale.txt" SMALL_SIZE
