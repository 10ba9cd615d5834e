/* harness.c - what every test program here includes behind the program that it
 * tests: a test and its statements, a small model on the bench, main's loop.
 *
 *     ./test                           all tests
 *     ./test gradients row             those whose names begin so
 *     ./test -gradients                all but those
 *     ./test --first [NAME]            as far as the first that fails
 *
 * SPDX-License-Identifier: MIT
 *
 * A line for each test says its name, what was measured beside its bound, and
 * ok or FAIL. Under a FAIL stands the first statement that did not hold. A
 * test is a list of statements (`fact`, `within`), and its line shows the
 * measured number that came nearest to its bound. The exit status is 1 when a
 * test failed. */
#include <float.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ----------
 * 1  A test and its statements */

typedef struct Later Later;
struct Oracle;

typedef struct Test {
  int facts, wrong;        /* statements made, and those that did not hold */
  double error, bound;     /* the measured number nearest to its bound */
  char what[160];          /* what that number is */
  char note[500];          /* counts that belong on the line */
  char first[640];         /* the first statement that did not hold */
  const char *skip;        /* why this build cannot run it, or NULL */
  Error e;                 /* of the call that was made last with fresh(t) */
  Later *later;            /* what is freed when the test is done */
  bool tale;               /* programs.c: the files of tale_open are there */
  void (*after)(void);     /* called behind every test, or NULL */
  const struct Oracle *oracle;   /* test_sink.c: what the labs are held to */
} Test;

/* Prints what a function was given from `format` on. */
#define PRINT_ARGUMENTS(to, room) \
    do { \
      va_list args; \
      va_start(args, format); \
      vsnprintf(to, room, format, args); \
      va_end(args); \
    } while (0)

/* A statement that holds or does not; the text says what was found. */
static void fact(Test *t, bool holds, const char *format, ...) {
  t->facts++;
  if (holds || t->wrong++)
    return;
  PRINT_ARGUMENTS(t->first, sizeof t->first);
}

/* |got - want| <= bound; NaN never is. A bound of 0 asks for equality. */
static void within(Test *t, double got, double want, double bound,
                   const char *format, ...) {
  char what[160];
  PRINT_ARGUMENTS(what, sizeof what);
  double error = got == want ? 0 : fabs(got - want);
  fact(t, error <= bound, "%s: %.17g, expected %.17g within %.3g", what, got,
       want, bound);
  double worst = t->bound > 0 ? t->error / t->bound : 0;
  if (t->what[0] && (isnan(worst) || bound <= 0 || error / bound <= worst))
    return;
  t->error = error;
  t->bound = bound;
  snprintf(t->what, sizeof t->what, "%s", what);
}

/* Adds a remark to the test's line. */
static void note(Test *t, const char *format, ...) {
  size_t used = strlen(t->note);
  PRINT_ARGUMENTS(t->note + used, sizeof t->note - used);
}

/* An empty error for the call that follows; t->e is what became of it. */
static Error *fresh(Test *t) {
  t->e = (Error){0};
  return &t->e;
}

/* The configuration of these flags, which must be accepted; until the next
 * call. (A function with ... that returns a struct loses its arguments under
 * tcc 0.9.27.) */
static Config *config_kept(Test *t, const char *format, ...) {
  static Config c;
  char flags[1024];
  PRINT_ARGUMENTS(flags, sizeof flags);
  fact(t, !config_from_flags(&c, flags, fresh(t)), "%s: %s", flags, t->e.text);
  return &c;
}
#define config_of(t, ...) (*config_kept(t, __VA_ARGS__))

/* The first flag of two models that differs; NULL where none does. */
static const char *differs(const Config *a, const Config *b) {
  static Settings s;
  char one[PATH_ROOM], other[PATH_ROOM];
  for (const Option *o = OPTIONS; o->flag; o++) {
    if (!(o->groups & MODEL))
      continue;
    s.model = *a;
    option_text(o, &s, one, sizeof one);
    s.model = *b;
    option_text(o, &s, other, sizeof other);
    if (strcmp(one, other))
      return o->flag;
  }
  return NULL;
}

/* For each row i of a table. */
#define EACH(i, rows) \
    for (int i = 0; i < (int)(sizeof(rows) / sizeof *(rows)); i++)

/* The next of the words at *at, and on; false after the last. */
static bool word_next(const char **at, char word[16]) {
  int used = 0;
  if (sscanf(*at, "%15s%n", word, &used) != 1)
    return false;
  *at += used;
  return true;
}

/* Zeroed room for n numbers; a test program may give up. */
static void *zeroed(idx n, size_t size) {
  void *p = calloc((size_t)(n > 0 ? n : 1), size);
  if (!p) {
    fprintf(stderr, "tests: out of memory\n");
    exit(1);
  }
  return p;
}

static double *room(idx n) { return zeroed(n, sizeof(double)); }

static real *reals(idx n) { return (real *)room(n); }

/* Zeroed room of a test, freed with what it holds when the test is done. */
struct Later {
  Later *next;
  void (*release)(void *room);
};

static void *later(Test *t, idx n, size_t size, void (*release)(void *room)) {
  Later *l = zeroed((idx)sizeof *l + n * (idx)size, 1);
  *l = (Later){t->later, release};
  t->later = l;
  return l + 1;
}

static void later_now(Test *t) {
  for (Later *l; (l = t->later); free(l)) {
    t->later = l->next;
    if (l->release)
      l->release(l + 1);
  }
}

static real *reals_of(Test *t, idx n) {
  return later(t, n, sizeof(real), NULL);
}

static void release_bytes(void *bytes) { bytes_free(bytes); }

static Bytes *bytes_of(Test *t) {
  return later(t, 1, sizeof(Bytes), release_bytes);
}

/* The largest |x|; NaN where one is, as larger() of 7.1 keeps it. */
static double biggest(idx n, const real *x) {
  double most = 0;
  for (idx i = 0; i < n; i++)
    most = larger(most, fabs((double)x[i]));
  return most;
}

static bool same_numbers(idx n, const real *x, const real *y) {
  return !memcmp(x, y, (size_t)n * sizeof *x);
}

/* The largest difference of two arrays, relative to the largest number of the
 * first. NaN where one is in either. */
static double distance(idx n, const real *x, const real *y) {
  double most = 0, size = biggest(n, x);
  for (idx i = 0; i < n; i++)
    most = larger(most, fabs((double)x[i] - (double)y[i]));
  return size > 0 ? most / size : most;
}

/* ----------
 * 2  A model on the bench: small odd sizes, random tokens, parameters of order
 *    1
 */

/* A tensor by its full name ("l3.wq", "wte"), or NULL. */
static Tensor *model_tensor(const Model *m, const char *name) {
  for (int i = 0; i < m->n_tensors; i++)
    if (!strcmp(m->all[i]->name, name))
      return m->all[i];
  return NULL;
}

/* Its numbers; NULL where the variant has no such tensor. */
static real *named(const Model *m, const char *name) {
  const Tensor *x = model_tensor(m, name);
  return x ? x->w : NULL;
}

static real *named_at(const Model *m, int l, const char *name) {
  char full[40];
  snprintf(full, sizeof full, "l%d.%s", l, name);
  return named(m, full);
}

typedef struct Lab {
  Model m;
  Acts a;
  int B, T;
  int *ids, *targets;      /* [B,T]; lab_draw never feeds the last id */
  const char *flags;       /* after BASE */
  int n;                   /* of those that LABS goes through, from 1 */
  Probe *probe;            /* [L], once lab_maps has asked for maps */
  real *maps;              /* their memory */
  const struct Oracle *oracle;
} Lab;

static const char BASE[] =
    "--layers 2 --heads 2 --dim 12 --ffn 7 --vocab 11 --context 80 ";

/* k* under --extra-dims: is number i a dim that is fixed at 0? */
static bool frozen(const Model *m, const Tensor *x, idx i) {
  int d = (int)(i % m->c.head_dim);
  return strstr(x->name, ".kstar") && !config_learned_dim(&m->c, d);
}

/* The torch start and a normal on top: no gain is 1, no bias 0, and no two
 * tensors are alike. Rows of later papers see something too: c_h and f_h begin
 * at 1, and queries are larger where scores below 0 count nothing. */
static void lab_stir(Lab *b, uint64_t seed, double sigma) {
  Rng r = {seed};
  model_init(&b->m, INIT_TORCH, seed);
  for (int k = 0; k < b->m.n_tensors; k++) {
    const Tensor *x = b->m.all[k];
    real *w = x->w;
    bool one = strstr(x->name, ".cscale") || strstr(x->name, ".sbias");
    bool large = b->m.c.sim > SIM_IDENTITY && strstr(x->name, ".wq");
    for (idx i = 0; i < tensor_count(x); i++) {
      double by = sigma * rng_normal(&r);
      if (one)
        w[i] = 1;
      if (large)
        w[i] *= 5;
      if (!frozen(&b->m, x, i))
        w[i] += (real)by;
    }
  }
}

static void lab_close(Lab *b) {
  acts_free(&b->a);
  model_free(&b->m);
  free(b->ids);
  free(b->targets);
  free(b->probe);
  free(b->maps);
  *b = (Lab){0};
}

static void lab_draw(Lab *b, uint64_t seed) {
  Rng r = {seed};
  for (int i = 0; i < b->B * b->T; i++) {
    b->ids[i] = (int)rng_below(&r, (uint64_t)b->m.c.vocab - 1);
    b->targets[i] = (int)rng_below(&r, (uint64_t)b->m.c.vocab);
  }
}

/* A stirred model of these flags (after BASE; a later flag wins) with
 * gradients, if it has any, and B sequences of T tokens. false and a failed
 * statement where it is refused. */
static bool lab_open(Lab *b, Test *t, int B, int T, const char *flags) {
  Error *e = fresh(t);
  Config c;
  char all[1200];
  snprintf(all, sizeof all, "%s%s", BASE, flags);
  *b = (Lab){.B = B, .T = T, .flags = flags, .oracle = t->oracle};
  b->ids = zeroed(B * T, sizeof(int));
  b->targets = zeroed(B * T, sizeof(int));
  if (config_from_flags(&c, all, e) || model_create(&b->m, &c, false, e) ||
      (!b->m.seams.forward_only && model_grads(&b->m, e)) ||
      acts_create(&b->a, &b->m, B, T, ACTS_ALL, e)) {
    fact(t, false, "%s: %s", flags, e->text);
    lab_close(b);
    return false;
  }
  lab_stir(b, 7, 0.3);
  lab_draw(b, 99);
  return true;
}

/* One model alone (make gradients) may have two differences at a kink. */
static long slack(void) { return getenv("SINK_FLAGS") ? 400 : 0; }

/* Closes the lab and opens that of the next flags; false after the last: NULL
 * ends them. SINK_FLAGS, of make gradients, stands for all of them. */
static bool lab_next(Lab *b, Test *t, int B, int T, const char *const *flags) {
  const char *const own[] = {getenv("SINK_FLAGS"), NULL};
  int n = b->n;
  if (own[0])
    flags = own;
  lab_close(b);
  if (!flags[n] || !lab_open(b, t, B, T, flags[n]))
    return false;
  b->n = n + 1;
  return true;
}

/* For each of these flags, or of a list that NULL ends, a lab b of test t,
 * closed at the end of its turn:
 *
 *   LABS (b, 2, 7, "", "--pos t5")
 *     lab_forward(&b); */
#define LABS(b, B, T, ...) \
    LABS_OF(b, B, T, ((const char *const[]){__VA_ARGS__, NULL}))
#define LABS_OF(b, B, T, list) for (Lab b = {0}; lab_next(&b, t, B, T, list);)

/* Every pass from now on leaves its maps in b->probe. */
static void lab_maps(Lab *b) {
  int L = b->m.c.layers, N = config_rows(&b->m.c, b->T);
  idx map = (idx)b->B * b->m.c.heads * N * config_columns(&b->m.c, b->T);
  free(b->probe);
  free(b->maps);
  b->a.probe = b->probe = zeroed(L, sizeof *b->probe);
  b->maps = reals(3 * L * map);
  for (int l = 0; l < L; l++) {
    real *at = b->maps + 3 * l * map;
    b->probe[l] = (Probe){.z = at, .weight = at + map, .metric = at + 2 * map};
  }
}

static void lab_forward(Lab *b) {
  model_forward(&b->m, &b->a, b->ids, b->B, b->T);
}

static double lab_loss(Lab *b) {
  lab_forward(b);
  return model_loss(&b->m, &b->a, b->targets, b->B, b->T, 0);
}

/* Forward, loss and backward; the gradients are added to what is there. */
static double lab_backward(Lab *b, double share) {
  lab_forward(b);
  double loss = model_loss(&b->m, &b->a, b->targets, b->B, b->T, share);
  model_backward(&b->m, &b->a, b->ids, b->B, b->T);
  return loss;
}

/* The same, from gradients of 0. */
static double lab_gradients(Lab *b) {
  model_zero_grads(&b->m);
  return lab_backward(b, 1);
}

static real *lab_at(Lab *b, const char *name) { return named(&b->m, name); }

static void lab_fill(Lab *b, const char *name, double value) {
  const Tensor *x = model_tensor(&b->m, name);
  for (idx i = 0; x && i < tensor_count(x); i++)
    x->w[i] = (real)value;
}

/* Where both have a tensor of one shape, b's numbers become from's. */
static void lab_share(Lab *b, const Lab *from) {
  for (int k = 0; k < b->m.n_tensors; k++) {
    const Tensor *x = b->m.all[k], *y = model_tensor(&from->m, x->name);
    if (y && tensor_count(x) == tensor_count(y))
      copy(x->w, y->w, tensor_count(x));
  }
}

/* ----------
 * 3  The tests are run */

typedef struct TestEntry {
  const char *name;
  void (*run)(Test *);
} TestEntry;
#define RUNS(name) {#name, name}

/* What fails is not skipped. A test that states nothing fails. */
static const char *verdict(const Test *t) {
  if (t->wrong || !(t->facts || t->skip))
    return "FAIL";
  return t->skip ? "skip" : "ok";
}

/* The line of a test, and under a FAIL what did not hold. */
static void report(const char *name, const Test *t, double took) {
  char measured[400];
  if (t->skip)
    snprintf(measured, sizeof measured, "%s", t->skip);
  else if (t->what[0])
    snprintf(measured, sizeof measured, "%.2g (bound %.2g) %.60s", t->error,
             t->bound, t->what);
  else
    snprintf(measured, sizeof measured, "%d of %d facts hold",
             t->facts - t->wrong, t->facts);
  printf("%-32s %-76s %5.2f s  %s\n", name, measured, took, verdict(t));
  if (t->note[0])
    printf("    %s\n", t->note);
  if (t->wrong)
    printf("    %d of %d facts fail; the first: %s\n", t->wrong, t->facts,
           t->first);
  fflush(stdout);
}

/* Is a test left out? It runs if its name begins with one of the words, or if
 * there are none, and if it begins with no word behind a minus. */
static bool left_out(const char *name, int argc, char **argv) {
  bool out = false, named = false, wanted = false;
  for (int k = 1; k < argc; k++) {
    bool minus = argv[k][0] == '-';
    const char *word = argv[k] + minus;
    bool begins = !strncmp(name, word, strlen(word));
    out |= minus && begins;
    named |= !minus;
    wanted |= !minus && begins;
  }
  return out || (named && !wanted);
}

/* The first word that no test begins with, NULL: none. */
static const char *word_unknown(const TestEntry *tests, int n, int argc,
                                char **argv) {
  for (int k = 1; k < argc; k++) {
    int i = 0;
    while (i < n && strncmp(tests[i].name, argv[k], strlen(argv[k])))
      i++;
    if (i == n && argv[k][0] != '-')
      return argv[k];
  }
  return NULL;
}

/* Runs those that the words do not leave out, each beginning as `like`. */
static int tests_run(const TestEntry *tests, int n_tests, int argc, char **argv,
                     Test like) {
  bool first = argc > 1 && !strcmp(argv[1], "--first");
  const char *unknown = word_unknown(tests, n_tests, argc, argv);
  if (unknown) {
    fprintf(stderr, "tests: none begins with %s\n", unknown);
    return 1;
  }
  int passed = 0, failed = 0, skipped = 0;
  set_workers(1); /* the models are too small to share */
  for (int i = 0; i < n_tests && !(first && failed); i++) {
    if (left_out(tests[i].name, argc, argv))
      continue;
    Test t = like;
    double start = seconds();
    tests[i].run(&t);
    later_now(&t);
    report(tests[i].name, &t, seconds() - start);
    if (t.after)
      t.after();
    passed += *verdict(&t) == 'o';
    skipped += *verdict(&t) == 's';
    failed += *verdict(&t) == 'F';
  }
  if (passed + failed + skipped == 0) {
    fprintf(stderr, "tests: all are left out\n");
    return 1;
  }
  printf("%d passed, %d failed", passed, failed);
  if (skipped)
    printf(", %d skipped", skipped);
  printf("\n");
  return failed > 0;
}
