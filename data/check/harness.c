/* harness.c - what every test program here includes behind the program that it tests: a test and
 * its statements, a model on the bench, the slow model, the covering array, files and programs as a
 * user has them, and main's loop.
 *
 *     ./test                           all tests
 *     ./test gradients                 those whose name begins so
 *     ./test -gradients                all but those
 *     ./test --first [NAME]            as far as the first that fails
 *
 * SPDX-License-Identifier: MIT
 *
 * One line a test: its name, what was measured beside its bound, and ok or FAIL; under a FAIL the
 * first statement that did not hold. A test is a list of statements (`fact`, `within`); the line
 * shows the measured number that came nearest to its bound. Exit status 1 when any test failed.
 *
 * Whoever includes it defines PROGRAM before: FROM_HERE "sink", what its tests run as a user does. */
#include <float.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>


/* =================================================================================================
 * 0  The frame
 *
 * 0.1  A test and its statements */

typedef struct Cover Cover;
typedef struct Later Later;

typedef struct Test {
  int facts, wrong;            /* statements made, and those that did not hold */
  double error, bound;         /* the measured number that came nearest to its bound */
  char what[160];              /* what that number is */
  char note[500];              /* counts that belong on the line */
  char first[640];             /* the first statement that did not hold */
  const char *skip;            /* why this build cannot run it, or NULL */
  int cores;                   /* threads when the program began */
  Cover *cover;                /* the covering array, made by the first test that asks (0.4) */
  Error e;                     /* of the call that was made last with fresh(t) */
  Later *later;                /* what is freed when the test is done */
  bool tale;                   /* the files of tale_open are there */
} Test;

/* Prints what a function was given from `format` on. */
#define PRINT_ARGUMENTS(to, room) \
    do { \
      va_list args; va_start(args, format); vsnprintf(to, room, format, args); va_end(args); \
    } while (0)

/* A statement that holds or does not; the text says what was found. */
static void fact(Test *t, bool holds, const char *format, ...) {
  t->facts++;
  if (holds || t->wrong++) return;
  PRINT_ARGUMENTS(t->first, sizeof t->first);
}

/* |got - want| <= bound; NaN never is. bound 0 asks for equality. */
static void within(Test *t, double got, double want, double bound, const char *format, ...) {
  char what[160];
  PRINT_ARGUMENTS(what, sizeof what);
  double error = got == want ? 0 : fabs(got - want);
  fact(t, error <= bound, "%s: %.17g, expected %.17g within %.3g", what, got, want, bound);
  bool first = !t->what[0];
  bool nearer = bound > 0 && !(error / bound <= t->error / (t->bound > 0 ? t->bound : 1e300));
  if (!first && !nearer) return;
  t->error = error;
  t->bound = bound;
  snprintf(t->what, sizeof t->what, "%s", what);
}

/* An empty error for the call that follows; t->e is what became of it. */
static Error *fresh(Test *t) { t->e = (Error){0}; return &t->e; }

/* The configuration of these flags, which sink.c must accept; until the next call. (A function
 * with ... that returns a struct loses its arguments under tcc 0.9.27.) */
static Config *config_kept(Test *t, const char *format, ...) {
  char flags[1024]; static Config c;
  PRINT_ARGUMENTS(flags, sizeof flags);
  fact(t, !config_from_flags(&c, flags, fresh(t)), "%s: %s", flags, t->e.text);
  return &c;
}
#define config_of(t, ...) (*config_kept(t, __VA_ARGS__))

/* Adds a remark to the test's line. */
static void note(Test *t, const char *format, ...) {
  size_t used = strlen(t->note);
  PRINT_ARGUMENTS(t->note + used, sizeof t->note - used);
}

/* The next of the words at *at, and on; false after the last. */
static bool word_next(const char **at, char word[16]) {
  int used = 0;
  if (sscanf(*at, "%15s%n", word, &used) != 1) return false;
  *at += used;
  return true;
}

/* For each row i of a table. */
#define EACH(i, rows) for (int i = 0; i < (int)(sizeof(rows) / sizeof *(rows)); i++)

/* Zeroed room for n doubles, for n reals; a test program may give up. */
static void *zeroed(idx n, size_t size) {
  void *p = calloc((size_t)(n > 0 ? n : 1), size);
  if (!p) { fprintf(stderr, "test_sink: out of memory\n"); exit(1); }
  return p;
}
static double *room(idx n) { return zeroed(n, sizeof(double)); }
static real *reals(idx n) { return (real *)room(n); }

/* Zeroed room of a test, with this behind it when the test is done. */
struct Later { Later *next; void (*release)(void *room); };

static void *later(Test *t, idx n, size_t size, void (*release)(void *room)) {
  Later *l = zeroed((idx)sizeof *l + n * (idx)size, 1);
  *l = (Later){t->later, release};
  t->later = l;
  return l + 1;
}

static void later_now(Test *t) {
  for (Later *l; (l = t->later); free(l)) {
    t->later = l->next;
    if (l->release) l->release(l + 1);
  }
}

/* Zeroed numbers of a test. */
static real *reals_of(Test *t, idx n) { return later(t, n, sizeof(real), NULL); }

static void release_bytes(void *room) { bytes_free(room); }
static Bytes *bytes_of(Test *t) { return later(t, 1, sizeof(Bytes), release_bytes); }

/* The largest |x|; NaN where one is. */
static double biggest(idx n, const real *x) {
  double most = 0;
  for (idx i = 0; i < n; i++) most = larger(most, fabs((double)x[i]));
  return most;
}

static bool same_numbers(idx n, const real *x, const real *y) {
  return !memcmp(x, y, (size_t)n * sizeof *x);
}

/* -------------------------------------------------------------------------------------------------
 * 0.2  A model on the bench: small odd sizes, random tokens, parameters of order 1 */

typedef struct Lab {
  Model m; Acts a; int B, T;
  int *ids, *targets;          /* [B,T]; the last id of the vocabulary is never fed */
  const char *flags;           /* after BASE */
  int n;                       /* of those that LABS goes through, from 1 */
  Probe *probe;                /* [L], once lab_maps has asked; and their memory */
  real *maps;
} Lab;

static const char BASE[] = "--layers 2 --heads 2 --dim 12 --ffn 7 --vocab 11 --context 80 ";

/* k* under --extra-dims: a dim that is fixed at 0. */
static bool frozen(const Model *m, const Tensor *x, idx i) {
  return strstr(x->name, ".kstar") && !config_learned_dim(&m->c, (int)(i % m->c.head_dim));
}

/* The torch start and a normal on top, so that no gain is 1, no bias 0 and no two tensors alike. */
static void lab_stir(Lab *b, uint64_t seed, double sigma) {
  Rng r = {seed};
  model_init(&b->m, INIT_TORCH, seed);
  for (int k = 0; k < b->m.n_tensors; k++) {
    const Tensor *x = &b->m.tensor[k];
    for (idx i = 0; i < x->count; i++) {
      double by = sigma * rng_normal(&r);          /* c_h and f_h at 1: else relu sees nothing */
      if (x->init == INITIAL_GAIN || x->init == INITIAL_SHIFT) b->m.params[x->at + i] = 1;
      if (b->m.c.sim >= SIM_SOFTPICK && strstr(x->name, ".wq")) b->m.params[x->at + i] *= 5;
      if (!frozen(&b->m, x, i)) b->m.params[x->at + i] += (real)by;
    }
  }
}

static void lab_close(Lab *b) {
  acts_free(&b->a); model_free(&b->m);
  free(b->ids); free(b->targets); free(b->probe); free(b->maps);
  *b = (Lab){0};
}

static void lab_draw(Lab *b, uint64_t seed) {
  Rng r = {seed};
  for (int i = 0; i < b->B * b->T; i++) {
    b->ids[i] = (int)rng_below(&r, (uint64_t)b->m.c.vocab - 1);
    b->targets[i] = (int)rng_below(&r, (uint64_t)b->m.c.vocab);
  }
}

struct Slow;
/* The blocks that data/models/hf.c has, in plain loops; NULL but in data/check/test_hf.c. */
static const struct SlowOthers {
  void (*mix)(const struct Slow *s, int l, double *y, const double *x);
  void (*feed)(const struct Slow *s, int l, double *y, const double *x);
} SLOW_OTHERS;

/* A stirred model of these flags (after BASE; a later flag wins) with gradients, if it has any, and
 * B sequences of T tokens. false and a failed statement when sink.c refuses it. */
static bool lab_open(Lab *b, Test *t, int B, int T, const char *flags) {
  Error no_backward = {0}, *e = fresh(t);
  Config c; char all[1200];
  snprintf(all, sizeof all, "%s%s", BASE, flags);
  *b = (Lab){.B = B, .T = T, .flags = flags};
  b->ids = zeroed(B * T, sizeof(int));
  b->targets = zeroed(B * T, sizeof(int));
  if (config_from_flags(&c, all, e) || model_create(&b->m, &c, !config_trains(&c, &no_backward), e)
      || acts_create(&b->a, &b->m, B, T, ACTS_ALL, e)) {
    fact(t, false, "%s: %s", flags, e->text);
    lab_close(b);
    return false;
  }
  lab_stir(b, 7, 0.3);
  lab_draw(b, 99);
  return true;
}

/* Closes the lab and opens that of the next flags; false after the last, which is NULL. */
static bool lab_next(Lab *b, Test *t, int B, int T, const char *const *flags) {
  int n = b->n;
  lab_close(b);
  if (!flags[n] || !lab_open(b, t, B, T, flags[n])) return false;
  b->n = n + 1;
  return true;
}

/* For each of these flags, or of a list that NULL ends, a lab b of test t, closed at the end of its
 * turn:    LABS(b, 2, 7, "", "--pos t5") lab_forward(&b); */
#define LABS(b, B, T, ...) LABS_OF(b, B, T, ((const char *const[]){__VA_ARGS__, NULL}))
#define LABS_OF(b, B, T, list) for (Lab b = {0}; lab_next(&b, t, B, T, list);)

/* Every pass from now on leaves its maps in b->probe. */
static void lab_maps(Lab *b) {
  int L = b->m.c.layers;
  idx map = (idx)b->B * b->m.c.heads * config_rows(&b->m.c, b->T) * config_columns(&b->m.c, b->T);
  b->a.probe = b->probe = zeroed(L, sizeof *b->probe);
  b->maps = reals(3 * L * map);
  for (int l = 0; l < L; l++) {
    real *at = b->maps + 3 * l * map;
    b->probe[l] = (Probe){.z = at, .weight = at + map, .metric = at + 2 * map};
  }
}

static void lab_forward(Lab *b) { model_forward(&b->m, &b->a, b->ids, b->B, b->T); }

static double lab_loss(Lab *b) {
  lab_forward(b);
  return model_loss(&b->m, &b->a, b->targets, b->B, b->T, false, 1);
}

/* Forward, loss and backward; the gradients are added to what is there. */
static double lab_backward(Lab *b, double share) {
  lab_forward(b);
  double loss = model_loss(&b->m, &b->a, b->targets, b->B, b->T, true, share);
  model_backward(&b->m, &b->a, b->ids, b->B, b->T);
  return loss;
}

/* The same, from gradients of 0. */
static double lab_gradients(Lab *b) { model_zero_grads(&b->m); return lab_backward(b, 1); }

/* The numbers of a tensor by name; NULL when the variant has none. */
static real *lab_at(Lab *b, const char *name) {
  const Tensor *x = model_tensor(&b->m, name);
  return x ? b->m.params + x->at : NULL;
}

static void lab_fill(Lab *b, const char *name, double value) {
  const Tensor *x = model_tensor(&b->m, name);
  for (idx i = 0; x && i < x->count; i++) b->m.params[x->at + i] = (real)value;
}

/* Where both have a tensor of one shape, b's numbers become a's. */
static void lab_share(Lab *b, const Lab *from) {
  for (int k = 0; k < b->m.n_tensors; k++) {
    const Tensor *x = &b->m.tensor[k], *y = model_tensor(&from->m, x->name);
    if (y && x->count == y->count) copy(b->m.params + x->at, from->m.params + y->at, x->count);
  }
}

/* Largest difference of two arrays, relative to the largest number of the first; NaN where one is
 * in either. */
static double distance(idx n, const real *x, const real *y) {
  double most = 0, size = biggest(n, x);
  for (idx i = 0; i < n; i++) most = larger(most, fabs((double)x[i] - (double)y[i]));
  return size > 0 ? most / size : most;
}

/* -------------------------------------------------------------------------------------------------
 * 0.3  The slow model: the formula of sink.c's masthead once more, for one sequence, in double,
 *      with one loop for each index and nothing kept, shared or merged. It reads the parameters and
 *      Config, and nothing else. A new row of an axis is here once more. */
_Static_assert(POS_ROWS == 7 && PAIR_ROWS == 2 && ROPE_ROWS == 5 && NORM_ROWS == 3 && ACT_ROWS == 8
               && PLACE_ROWS == 4 && COMBINE_ROWS == 2 && KERNEL_ROWS == 3 && SIM_ROWS == 7
               && NORMALIZER_ROWS == 5 && EXTRA_ROWS == 6 && VALUE_ROWS == 3 && GAIN_ROWS == 2
               && SHIFT_ROWS == 3 && GATE_ROWS == 5, "a row is missing");

enum { WIDE_LAB = 400 };             /* no row of the models here is wider */

typedef struct Slow {
  const Model *m; int T, N, S;
  double *h;                   /* [L+1,N,C] H^0 .. H^L */
  double *sum;                 /* [L,N,C] the second residual sum of each block */
  double *q, *k, *v;           /* [L,N,H*D] [L,N,K*D] [L,N,K*D], rotated, before phi */
  double *z, *weight, *metric; /* [L,H,N,S] */
  double *nf, *logits;         /* [N,C] [T,V] */
  int what, cut;               /* ABLATE_*, and the row (-1: *) whose column others do without */
} Slow;

static void slow_close(Slow *s) {
  free(s->h); free(s->sum); free(s->q); free(s->k); free(s->v);
  free(s->z); free(s->weight); free(s->metric); free(s->nf); free(s->logits);
}

static Slow slow_open(const Model *m, int T) {
  const Config *c = &m->c;
  int N = T + c->sink_token, S = N + (c->extra != EXTRA_NONE), L = c->layers;
  idx map = (idx)L * c->heads * N * S, rows = (idx)L * N;
  Slow s = {.m = m, .T = T, .N = N, .S = S};
  s.h = room((rows + N) * c->dim); s.sum = room(rows * c->dim);
  s.q = room(rows * c->heads * c->head_dim);
  s.k = room(rows * c->kv_heads * c->head_dim); s.v = room(rows * c->kv_heads * c->head_dim);
  s.z = room(map); s.weight = room(map); s.metric = room(map);
  s.nf = room((idx)N * c->dim); s.logits = room((idx)T * c->vocab);
  return s;
}

static void slow_linear(double *y, const double *x, const real *w, const real *b, int in, int out) {
  for (int o = 0; o < out; o++) {
    y[o] = b ? (double)b[o] : 0;
    for (int i = 0; i < in; i++) y[o] += x[i] * (double)w[i * out + o];
  }
}

static void slow_norm_of(const Config *c, int n, double *y, const double *x, const real *g,
                         const real *b) {
  double mean = 0, square = 0;
  for (int i = 0; i < n && c->norm == NORM_LAYER; i++) mean += x[i] / n;
  for (int i = 0; i < n; i++) square += (x[i] - mean) * (x[i] - mean) / n;
  for (int i = 0; i < n; i++)
    y[i] = (x[i] - mean) / sqrt(square + c->norm_eps) * (double)g[i] + (b ? (double)b[i] : 0);
}

static void slow_norm(const Config *c, double *y, const double *x, const Norm *w) {
  if (c->norm != NORM_DYT) slow_norm_of(c, c->dim, y, x, w->g, w->b);
  else for (int i = 0; i < c->dim; i++)
    y[i] = tanh((double)w->a[0] * x[i]) * (double)w->g[i] + (double)w->b[i];
}

static double slow_act(int act, double x) {
  switch (act) {
  case ACT_SWIGLU: case ACT_SWISH: return x / (1 + exp(-x));
  case ACT_GEGLU:  case ACT_GELU:  return x * (1 + erf(x / sqrt(2))) / 2;
  case ACT_REGLU:  case ACT_RELU:  return fmax(x, 0);
  default: return x * (1 + tanh(sqrt(2 / acos(-1)) * (x + 0.044715 * x * x * x))) / 2;
  }
}

static double slow_pair(const Config *c, double turns) {
  return c->rotary_dims * log(c->rope_original / (turns * 2 * acos(-1))) / (2 * log(c->rope_base));
}

/* Llama 3.1's rule as its authors state it, in wavelengths; a third of it is a ramp. */
static double slow_frequency(const Config *c, int p) {
  double w = pow(c->rope_base, -2.0 * p / c->rotary_dims), wavelength = 2 * acos(-1) / w;
  if (c->rope_scaling == ROPE_NONE) return w;
  if (c->rope_scaling == ROPE_LINEAR) return w / c->rope_factor;
  if (wavelength <= c->rope_original / c->rope_high) return w;
  if (wavelength > c->rope_original / c->rope_low) return w / c->rope_factor;
  double smooth = (c->rope_original / wavelength - c->rope_low) / (c->rope_high - c->rope_low);
  double low = slow_pair(c, c->rope_low), high = slow_pair(c, c->rope_high);
  if (c->rope_scaling == ROPE_YARN) smooth = (p - low) / (high - low);     /* by pairs */
  return (1 - smooth) * w / c->rope_factor + smooth * w;
}

static int slow_window(const Config *c, int l) {
  bool named = !c->window_period || l % c->window_period == c->window_offset;
  return named != (bool)c->window_others ? c->window : 0;
}

static void slow_rotate(const Config *c, int l, double *x, int n) {
  bool half = c->rope_pairing == PAIR_HALF;
  for (int p = 0; p < c->rotary_dims / 2 && c->pos == POS_ROTARY; p++) {
    int u = half ? p : 2 * p, v = half ? p + c->rotary_dims / 2 : 2 * p + 1;
    double angle = n * slow_frequency(c, p), a = x[u], b = x[v];
    if (c->rope_local > 0 && slow_window(c, l))
      angle = n * pow(c->rope_local, -2.0 * p / c->rotary_dims);
    x[u] = a * cos(angle) - b * sin(angle);
    x[v] = a * sin(angle) + b * cos(angle);
  }
}

static double elu1(double x) { return x > 0 ? x + 1 : exp(x); }

static void slow_phi(const Config *c, const Layer *w, double *y, const double *x) {
  double hidden[WIDE_LAB];
  if (c->kernel == KERNEL_MLP) {
    slow_linear(hidden, x, w->phi1, NULL, c->head_dim, c->head_dim);
    for (int d = 0; d < c->head_dim; d++) hidden[d] = fmax(hidden[d], 0);
    slow_linear(y, hidden, w->phi2, NULL, c->head_dim, c->head_dim);
  }
  else for (int d = 0; d < c->head_dim; d++) y[d] = c->kernel == KERNEL_ELU ? elu1(x[d]) : x[d];
}

/* Bucket borders written out (as the authors' code has them), instead of a logarithm. */
static int slow_bucket(int n) {
  static const int BORDERS[] = {16, 19, 21, 24, 27, 31, 35, 40, 46, 52, 59, 67, 77, 87, 99, 113};
  int bucket = n < 16 ? n : 15;
  for (int b = 0; b < 16; b++) bucket += n >= BORDERS[b];
  return bucket;
}

static double slow_bias(const Model *m, int h, int i, int j) {
  int n = i > j ? i - j : 0, H = m->c.heads;
  switch (m->c.pos) {
  case POS_RELATIVE: return slow_bucket(n);
  case POS_T5:       return (double)m->w.rel[slow_bucket(n) * H + h];
  case POS_ALIBI:    return -n / pow(2, 8.0 * (h + 1) / H);
  default:           return 0;
  }
}

/* Tokens are numbered from 1, x* is 0; the window counts rows. */
static bool slow_visible(const Config *c, int l, int i, int j) {
  int token = j + 1 - c->sink_token, w = slow_window(c, l);
  return (j <= i && (!w || i - j < w)) || (1 <= token && token <= c->prefix);
}

/* What a key's score is before sim, of row i with n keys. */
static double slow_shaped(const Config *c, const Layer *w, int h, int n, double z) {
  double cap = c->soft_cap, log_n = log(n), y = cap > 0 ? cap * tanh(z / cap) : z;
  if (c->gain == GAIN_LOGN) y *= (double)w->cscale[h] * log_n;
  return c->shift == SHIFT_LOGN ? y - log_n : c->shift ? y + (double)w->sbias[h] : y;
}

/* s = sim(z) and s'. NaN for a row that is not known here. */
static long double slow_sim(int sim, long double z, long double *ds) {
  long double s = sim == SIM_SIGMOID ? 1 / (1 + expl(-z)) : expl(z);
  switch (sim) {
  case SIM_EXP:      *ds = s; return s;
  case SIM_SIGMOID:  *ds = s / (1 + expl(z)); return s;
  case SIM_ELU:      *ds = z > 0 ? 1 : s; return z > 0 ? z + 1 : s;
  case SIM_IDENTITY: *ds = 1; return z;
  case SIM_RELU:     *ds = z > 0; return fmaxl(z, 0);
  case SIM_SOFTPICK: *ds = s; return expm1l(z);            /* times e^-m: slow_row */
  case SIM_RECTIFIED: return *ds = z < 0 ? 0 : s;
  default:           return *ds = NAN;
  }
}

/* A row by its formulas, in long double; what is masked has s = 0 and derivative 0. */
typedef struct Scores {
  long double a[WIDE_LAB], deriv[WIDE_LAB], dlogz[WIDE_LAB], m[WIDE_LAB], Z;
} Scores;

static void slow_row(const Config *c, int n, int keys, const double *z, Scores *r) {
  bool picks = c->sim == SIM_SOFTPICK;
  long double s[WIDE_LAB], ds[WIDE_LAB], sum = 0, size = 0, power = 0, p = c->pnorm, top = 0,
              e = c->sim == SIM_EXP || c->sim == SIM_RECTIFIED ? 0 : (long double)(real)1e-8;
  for (int j = 0; j < n && picks; j++) top = fmaxl(top, z[j]);
  for (int j = 0; j < n; j++) {
    s[j] = ds[j] = 0;
    if (!(z[j] > -INFINITY)) continue;
    s[j] = slow_sim(c->sim, z[j], &ds[j]);
    if (picks) s[j] *= expl(-top), ds[j] *= expl(-top);
    sum += s[j];
    size += fabsl(s[j]);
    power += p != 0 ? powl(fabsl(s[j]), p) : 0;
  }
  switch (c->normalizer) {
  case NORMALIZER_SUM:   r->Z = (picks ? size : sum) + e; break;
  case NORMALIZER_COUNT: r->Z = keys; break;
  case NORMALIZER_ONE:   r->Z = 1; break;
  case NORMALIZER_CLAMP: r->Z = fmaxl(fabsl(sum), 1); break;
  case NORMALIZER_PNORM: r->Z = powl(power, 1 / p); break;
  default:               r->Z = NAN;
  }
  for (int j = 0; j < n; j++) {
    r->a[j] = r->Z != 0 ? s[j] / r->Z : 0;               /* a p-norm of zeros, by decision */
    r->deriv[j] = r->Z != 0 ? ds[j] / r->Z : 0;
    r->m[j] = size > 0 ? fabsl(s[j]) / (size + e) : 0;
    r->dlogz[j] = 0;
    if (c->normalizer == NORMALIZER_SUM && r->Z != 0) r->dlogz[j] = ds[j] / r->Z;
    if (picks) r->dlogz[j] *= (s[j] > 0) - (s[j] < 0);
    if (picks && s[j] <= 0) r->a[j] = r->deriv[j] = r->m[j] = 0;
    if (c->normalizer == NORMALIZER_CLAMP && fabsl(sum) > 1) r->dlogz[j] = ds[j] / sum;
    if (c->normalizer == NORMALIZER_PNORM && s[j] != 0)
      r->dlogz[j] = powl(fabsl(s[j]), p - 1) * (s[j] < 0 ? -1 : 1) * ds[j] / powl(r->Z, p);
  }
}

/* The output of row i of head h, and its places in the maps. */
static void slow_head_row(Slow *s, int l, int h, int i, double *o) {
  const Config *c = &s->m->c; const Layer *w = &s->m->w.layer[l];
  int D = c->head_dim, H = c->heads, K = c->kv_heads, N = s->N, extra = c->extra != EXTRA_NONE;
  bool local = c->rope_local > 0 && slow_window(c, l) && c->rope_scaling == ROPE_YARN;
  int column[160], kh = h / (H / K), star = (c->extra_shared ? 0 : h) * D, n = 0, keys = 0;
  double z[160], fq[WIDE_LAB], fk[WIDE_LAB]; Scores row;
  double root = c->score_divisor > 0 && !local ? sqrt(c->score_divisor) : sqrt(D);
  const double *q = s->q + ((idx)l * N + i) * H * D + h * D;
  if (c->score_by_layer) root *= l + 1;
  slow_phi(c, w, fq, q);
  bool no_key = s->what == ABLATE_KEY1 && s->cut != i;
  for (int j = 0; j < N; j++) keys += slow_visible(c, l, i, j);
  if (extra && !(no_key && s->cut == -1)) {
    double dot = 0;
    for (int d = 0; d < D && w->kstar; d++) dot += fq[d] * (double)w->kstar[star + d];
    z[n] = c->extra == EXTRA_ZERO ? 0 : c->extra == EXTRA_LOGN ? log(keys) : dot / root;
    if (c->extra == EXTRA_LOGIT) z[n] = w->logit ? (double)w->logit[h] : c->extra_logit;
    column[n++] = 0;
  }
  for (int j = 0; j < N; j++) {
    if (!slow_visible(c, l, i, j) || (no_key && s->cut == j)) continue;
    double dot = 0;
    slow_phi(c, w, fk, s->k + ((idx)l * N + j) * K * D + kh * D);
    for (int d = 0; d < D; d++) dot += fq[d] * fk[d];
    z[n] = slow_shaped(c, w, h, keys, dot / root + slow_bias(s->m, h, i, j));
    column[n++] = j + extra;
  }
  slow_row(c, n, keys, z, &row);
  for (int d = 0; d < D; d++) o[d] = 0;
  for (int x = 0; x < n; x++) {
    idx at = (((idx)l * H + h) * N + i) * s->S + column[x];
    s->z[at] = z[x];
    s->metric[at] = (double)row.m[x];
    double a = (double)row.a[x], spread = c->clip_high - c->clip_low;
    if (spread != 1) a = fmin(fmax(spread * a + c->clip_low, 0), 1);
    s->weight[at] = c->scale * a;
    for (int d = 0; d < D; d++) {
      double fixed = c->extra_value == VALUE_ONES ? c->extra_norm / sqrt(D)
                   : c->extra_value == VALUE_E1 && d == 0 ? c->extra_norm : 0;
      double v = !extra || column[x] > 0
                     ? s->v[((idx)l * N + column[x] - extra) * K * D + kh * D + d]
                 : w->vstar ? (double)w->vstar[star + d] : fixed;
      if (s->what > ABLATE_KEY1 && s->cut != i && column[x] == s->cut + extra) {
        v = 0;
        for (int j = 0; j < N && s->what == ABLATE_VALUE1_MEAN; j++)
          v += s->v[((idx)l * N + j) * K * D + kh * D + d] / N;
      }
      o[d] += c->scale * a * v;
    }
  }
}

/* RMSNorm of x [n] in place, with these gains. */
static void slow_rms(const Config *c, int n, double *x, const real *g) {
  double square = 0;
  for (int i = 0; i < n; i++) square += x[i] * x[i] / n;
  for (int i = 0; i < n; i++) x[i] *= (double)g[i] / sqrt(square + c->norm_eps);
}

/* The gate of number u of a row, whose input is x [C]. */
static double slow_gate(const Config *c, const Layer *w, int u, const double *x) {
  int wide = c->gate == GATE_HEAD ? c->heads
                                  : c->head_dim * (c->gate == GATE_VALUE ? c->kv_heads : c->heads);
  double z = w->gate ? (double)w->gate[u] : 0;
  for (int i = 0; w->wg && i < c->dim; i++) z += x[i] * (double)w->wg[i * wide + u];
  return 1 / (1 + exp(-z));
}

/* What becomes of the output o [D] of a head on its way to W_O; v [D] is the row's value there. */
static void slow_leave(const Config *c, const Layer *w, int h, double *o, const double *v,
                       const double *x) {
  int D = c->head_dim; double along = 0, length = 1e-8;
  for (int d = 0; d < D; d++) along += o[d] * v[d], length += v[d] * v[d];
  for (int d = 0; d < D; d++) {
    if (c->xsa) o[d] -= along * v[d] / length;
    if (c->vbias) o[d] += (double)w->vplus[h * D + d];
    if (c->v_scale) o[d] *= (double)w->vscale[h];
    if (c->gate == GATE_HEAD || c->gate == GATE_STATIC) o[d] *= slow_gate(c, w, h, x);
    if (c->gate == GATE_ELEMENT) o[d] *= slow_gate(c, w, h * D + d, x);
  }
  if (c->head_norm) slow_rms(c, D, o, w->hnorm + h * D);
}

/* y [N,C] = MHSA(x). */
static void slow_mhsa(Slow *s, int l, double *y, const double *x) {
  const Config *c = &s->m->c;
  const Layer *w = &s->m->w.layer[l];
  int D = c->head_dim, H = c->heads, K = c->kv_heads, N = s->N, C = c->dim;
  int whole = c->qk_whole, add = c->combine == COMBINE_ADD;
  for (int n = 0; n < N; n++) {
    idx row = (idx)l * N + n;
    slow_linear(s->q + row * H * D, x + n * C, w->wq, w->bq, C, H * D);
    slow_linear(s->k + row * K * D, x + n * C, w->wk, w->bk, C, K * D);
    slow_linear(s->v + row * K * D, x + n * C, w->wv, w->bv, C, K * D);
    for (int u = 0; u < K * D && c->gate == GATE_VALUE; u++)
      s->v[row * K * D + u] *= slow_gate(c, w, u, x + n * C);
    for (int h = 0; h < H && c->qk_norm; h += whole ? H : 1)
      slow_rms(c, whole ? H * D : D, s->q + (row * H + h) * D, w->qnorm.g);
    for (int h = 0; h < K && c->qk_norm; h += whole ? K : 1)
      slow_rms(c, whole ? K * D : D, s->k + (row * K + h) * D, w->knorm.g);
    for (int h = 0; h < H; h++) slow_rotate(c, l, s->q + (row * H + h) * D, n);
    for (int h = 0; h < K; h++) slow_rotate(c, l, s->k + (row * K + h) * D, n);
  }
  for (int i = 0; i < N; i++) {
    double o[WIDE_LAB], all[WIDE_LAB] = {0};
    for (int h = 0; h < H; h++) {
      slow_head_row(s, l, h, i, o);
      slow_leave(c, w, h, o, s->v + (((idx)l * N + i) * K + h / (H / K)) * D, x + i * C);
      for (int d = 0; d < D; d++) all[(add ? 0 : h * D) + d] += o[d];
    }
    slow_linear(y + i * C, all, w->wo, w->bo, add ? D : H * D, C);
  }
}

static void slow_ffn(const Config *c, const Layer *w, double *y, const double *x) {
  bool gated = c->act < ACT_SWISH; double f1[WIDE_LAB], f2[WIDE_LAB];
  slow_linear(f1, x, w->w1, w->b1, c->dim, c->ffn);
  if (gated) slow_linear(f2, x, w->w2, w->b2, c->dim, c->ffn);
  for (int f = 0; f < c->ffn; f++) f1[f] = slow_act(c->act, f1[f]) * (gated ? f2[f] : 1);
  slow_linear(y, f1, gated ? w->w3 : w->w2, gated ? w->b3 : w->b2, c->ffn, c->dim);
}

static bool slow_attends(const Config *c, int l) {
  return !c->attention_period || l % c->attention_period == c->attention_offset;
}

/* What block l does with a normed row: its ffn, or its experts. */
static void slow_second(const Slow *s, int l, double *y, const double *x) {
  const Config *c = &s->m->c;
  bool routed = c->experts && (!c->expert_period || l % c->expert_period == c->expert_offset);
  if (routed) SLOW_OTHERS.feed(s, l, y, x);
  else slow_ffn(c, &s->m->w.layer[l], y, x);
}

/* [E2] [E3] One block, x to y, each [N,C]. */
static void slow_block(Slow *s, int l, double *y, const double *x) {
  const Config *c = &s->m->c;
  const Layer *w = &s->m->w.layer[l];
  int C = c->dim, N = s->N;
  double *in = room((idx)N * C), *o = room((idx)N * C), *sum = s->sum + (idx)l * N * C;
  bool bare = c->place == PLACE_POST || c->behind_only; double u[WIDE_LAB], f[WIDE_LAB];
  memcpy(in, x, (size_t)N * (size_t)C * sizeof *in);
  for (int n = 0; n < N && !bare; n++) slow_norm(c, in + n * C, x + n * C, &w->norm1);
  if (slow_attends(c, l)) slow_mhsa(s, l, o, in);
  else SLOW_OTHERS.mix(s, l, o, in);
  for (int n = 0; n < N; n++) {
    double *o_n = o + n * C, *y_n = y + n * C;
    if (c->place == PLACE_SANDWICH) {
      memcpy(u, o_n, (size_t)C * sizeof *u);
      slow_norm(c, o_n, u, &w->norm3);
    }
    for (int i = 0; i < C; i++) o_n[i] += x[n * C + i];
    if (c->place == PLACE_POST) {
      slow_norm(c, u, o_n, &w->norm1);
      slow_second(s, l, f, u);
      for (int i = 0; i < C; i++) sum[n * C + i] = u[i] + f[i];
      slow_norm(c, y_n, sum + n * C, &w->norm2);
      continue;
    }
    if (bare) memcpy(u, o_n, (size_t)C * sizeof *u);
    else slow_norm(c, u, c->place == PLACE_PARALLEL ? x + n * C : o_n, &w->norm2);
    slow_second(s, l, f, u);
    if (c->place == PLACE_SANDWICH) {
      memcpy(u, f, (size_t)C * sizeof *u);
      slow_norm(c, f, u, &w->norm4);
    }
    for (int i = 0; i < C; i++) y_n[i] = sum[n * C + i] = o_n[i] + f[i];
  }
  free(in); free(o);
}

/* H^0 of row n: the embedding (projected), or x*, and what the position adds. */
static void slow_embed(const Slow *s, const int *ids, int n, double *h) {
  const Config *c = &s->m->c;
  const Weights *w = &s->m->w;
  int C = c->dim, E = c->embed_dim; double e[WIDE_LAB];
  for (int i = 0; i < E && n >= s->N - s->T; i++)
    e[i] = (double)w->wte[ids[n - (s->N - s->T)] * E + i]
           * (c->embed_scale > 0 ? c->embed_scale : 1);
  if (n < s->N - s->T) for (int i = 0; i < C; i++) h[i] = (double)w->xstar[n * C + i];
  else if (E != C) slow_linear(h, e, w->win, NULL, E, C);
  else memcpy(h, e, (size_t)C * sizeof *h);
  for (int i = 0; i < C; i++) {
    double angle = n / pow(10000, 2.0 * (i / 2) / C);
    if (c->pos == POS_LEARNED) h[i] += (double)w->wpe[n * C + i];
    if (c->pos == POS_ABSOLUTE) h[i] += i % 2 ? cos(angle) : sin(angle);
  }
}

/* The whole model on ids [T]. */
static void slow_forward(Slow *s, const int *ids) {
  const Config *c = &s->m->c;
  const Weights *w = &s->m->w;
  int C = c->dim, E = c->embed_dim, V = c->vocab, N = s->N;
  for (int n = 0; n < N; n++) slow_embed(s, ids, n, s->h + n * C);
  for (int l = 0; l < c->layers; l++)
    slow_block(s, l, s->h + (idx)(l + 1) * N * C, s->h + (idx)l * N * C);
  for (int n = 0; n < N; n++) {
    const double *h = s->h + ((idx)c->layers * N + n) * C;
    double *nf = s->nf + n * C, out[WIDE_LAB];
    if (c->place == PLACE_POST) memcpy(nf, h, (size_t)C * sizeof *nf);
    else slow_norm(c, nf, h, &w->normf);
    if (n < N - s->T) continue;
    if (E != C) slow_linear(out, nf, w->wout, NULL, C, E);
    double *logit = s->logits + (n - (N - s->T)) * V;
    for (int v = 0; v < V; v++) for (int i = 0; i < E; i++)
      logit[v] += (E != C ? out[i] : nf[i])
          * (double)(c->tied ? w->wte[v * E + i] : w->wcls[i * V + v]);
    for (int v = 0; c->logit_cap > 0 && v < V; v++)
      logit[v] = c->logit_cap * tanh(logit[v] / c->logit_cap);
  }
}

/* The same between x and the slow model's y, relative to the largest of y. */
static double slow_distance(idx n, const real *x, const double *y) {
  double most = 0, size = 0;
  for (idx i = 0; i < n; i++) {
    most = larger(most, fabs((double)x[i] - y[i]));
    size = larger(size, fabs(y[i]));
  }
  return size > 0 ? most / size : most;
}

/* Runs every sequence of the lab both ways and compares every state, map and logit. */
static void compare_with_slow(Test *t, Lab *b, double bound, const char *label) {
  const Config *c = &b->m.c; Acts *a = &b->a;
  int T = b->T, N = config_rows(c, T), S = config_columns(c, T), C = c->dim, V = c->vocab;
  idx map = (idx)c->heads * N * S, rows = (idx)N * C, L = c->layers;
  real *logits = reals(SLICE * V);
  if (!b->probe) lab_maps(b);
  lab_forward(b);
  for (int seq = 0; seq < b->B; seq++) {
    Slow s = slow_open(&b->m, T);
    if (a->ablation) {
      s.what = a->ablation->what;
      s.cut = a->ablation->column[seq];
    }
    slow_forward(&s, b->ids + seq * T);
    for (int l = 0; l < L; l++) {
      const LayerActs *y = &a->layer[l]; const Probe *p = &b->probe[l];
      idx head = slow_attends(c, l) ? (idx)N * c->head_dim : 0, K = c->kv_heads * head;
      const struct { const char *name; const real *got; const double *want; idx n; } ROWS[] = {
        {"input", y->x, s.h, rows}, {"q", y->q, s.q, c->heads * head}, {"k", y->k, s.k, K},
        {"v", y->v, s.v, K}, {"scores", p->z, s.z, map}, {"weights", p->weight, s.weight, map},
        {"metric", p->metric, s.metric, map}, {"sum", y->s2, s.sum, rows}};
      EACH(x, ROWS) within(t, slow_distance(ROWS[x].n, ROWS[x].got + seq * ROWS[x].n,
          ROWS[x].want + l * ROWS[x].n), 0, bound, "%s, block %d, %s", ROWS[x].name, l + 1, label);
    }
    within(t, slow_distance(rows, a->h + seq * rows, s.h + L * rows), 0, bound, "H^L, %s", label);
    model_logits(&b->m, a, a->nf + seq * rows + (N - T) * C, T, logits);
    within(t, slow_distance((idx)T * V, logits, s.logits), 0, bound, "logits, %s", label);
    slow_close(&s);
  }
  free(logits);
}

/* -------------------------------------------------------------------------------------------------
 * 0.4  A covering array: configurations among which every pair of rows of any two axes occurs,
 *      unless config_resolve refuses every way to complete the pair. A row is the flags that choose
 *      it; an axis without rows has the words of its option. The rules of config_resolve name the
 *      axes of two groups, and none names both. */

enum { AXIS_FREE, AXIS_SCORES, AXIS_WIDTHS, MOST_ROWS = 8 };

typedef struct CoverAxis { const char *name; int group; const char *rows[MOST_ROWS]; } CoverAxis;

static const CoverAxis AXES[] = {
  {"pos", AXIS_WIDTHS, {NULL}}, {"rotary-dims", AXIS_WIDTHS, {"", "--rotary-dims 2"}},
  {"rope-pairing", AXIS_FREE, {NULL}},
  {"rope-scaling", AXIS_FREE, {"", "--rope-scaling linear --rope-factor 3",
      "--rope-scaling llama3 --rope-base 100 --rope-original 64 --rope-factor 4 --rope-low 0.5 "
      "--rope-high 3", "--rope-scaling yarn --rope-base 9 --rope-original 12 --rope-low 0.5"}},
  {"rope-local", AXIS_FREE, {"", "--rope-local 40"}}, {"norm", AXIS_FREE, {NULL}},
  {"place", AXIS_FREE, {"", "--place post", "--place parallel", "--place sandwich --behind-only",
                        "--place sandwich"}}, {"act", AXIS_FREE, {NULL}},
  {"linear-bias", AXIS_FREE, {"", "--linear-bias", "--linear-bias --bias-in qkv",
                         "--linear-bias --bias-in attention", "--linear-bias --bias-in ffn"}},
  {"score-by-layer", AXIS_FREE, {"", "--score-by-layer"}}, {"tied", AXIS_FREE, {"", "--tied"}},
  {"embed-scale", AXIS_FREE, {"", "--embed-scale 1.7"}}, {"logit-cap", AXIS_FREE, {"",
      "--logit-cap 1.5"}}, {"score-divisor", AXIS_FREE, {"", "--score-divisor 9"}},
  {"embed-dim", AXIS_FREE, {"", "--embed-dim 5"}}, {"combine", AXIS_FREE, {NULL}},
  {"kernel", AXIS_SCORES, {NULL}}, {"sim", AXIS_SCORES, {NULL}},
  {"normalizer", AXIS_SCORES, {"", "--normalizer one", "--normalizer clamp",
      "--normalizer pnorm --pnorm 0.5", "--normalizer pnorm --pnorm 2",
      "--normalizer pnorm --pnorm 3", "--normalizer count"}},
  {"clip", AXIS_SCORES, {"", "--clip-low -0.02 --clip-high 1.2"}},
  {"scale", AXIS_FREE, {"", "--scale 0.7"}},
  {"soft-cap", AXIS_FREE, {"", "--soft-cap 2.5"}}, {"score-scale", AXIS_FREE, {NULL}},
  {"score-bias", AXIS_SCORES, {NULL}}, {"extra-logit", AXIS_FREE, {"", "--extra-logit -0.7"}},
  {"extra", AXIS_SCORES, {NULL}}, {"extra-shared", AXIS_FREE, {"", "--extra-shared"}},
  {"extra-dims", AXIS_FREE, {"", "--extra-dims 2"}}, {"extra-order", AXIS_FREE, {NULL}},
  {"extra-value", AXIS_SCORES, {"", "--extra-value e1 --extra-norm 2",
                           "--extra-value ones --extra-norm 3"}},
  {"vbias", AXIS_FREE, {"", "--vbias"}},
  {"sink-token", AXIS_FREE, {"", "--sink-token", "--sink-token 3"}},
  {"gate", AXIS_FREE, {NULL}}, {"qk-norm", AXIS_FREE, {"", "--qk-norm --qk-whole", "--qk-norm"}},
  {"head-norm", AXIS_FREE, {"", "--head-norm --norm-eps 0.1"}},
  {"v-scale", AXIS_FREE, {"", "--v-scale"}},
  {"xsa", AXIS_FREE, {"", "--xsa --norm-eps 0.1"}},    /* it leaves a lone row rounding alone */
  {"window", AXIS_FREE, {"", "--window 3"}},
  {"window-period", AXIS_FREE, {"", "--window-period 2 --window-offset 1",
                           "--window-period 3 --window-offset 1 --window-others"}},
  {"prefix", AXIS_FREE, {"", "--prefix 1", "--prefix 3"}},
  {"kv-heads", AXIS_FREE, {"", "--kv-heads 1", "--kv-heads 2"}},
  {"heads", AXIS_WIDTHS, {"", "--heads 4"}}, {"head-dim", AXIS_WIDTHS, {"", "--head-dim 4"}}};
enum { N_AXES = (int)(sizeof AXES / sizeof AXES[0]), MOST_CONFIGS = 400 };

typedef struct Pick { int row[N_AXES]; } Pick;

struct Cover {
  Pick pick[MOST_CONFIGS];
  int n, pairs, refused, covered;
  int rows[N_AXES];                                    /* of each axis */
  char seen[N_AXES][MOST_ROWS][N_AXES][MOST_ROWS];     /* a < b; 1 covered, 2 refused */
  char *flags[MOST_CONFIGS + 1];                       /* of every pick; NULL after the last */
  char *axis[N_AXES * MOST_ROWS + 1];                  /* of every row beside the defaults */
};

static const char *axis_flags(int a, int i, char text[2 * VALUE_ROOM]) {
  char word[VALUE_ROOM];
  if (AXES[a].rows[0]) return i < MOST_ROWS && AXES[a].rows[i] ? AXES[a].rows[i] : NULL;
  if (!*option_word(option_find(AXES[a].name, MODEL), i, word)) return NULL;
  text[0] = 0;
  if (i) snprintf(text, 2 * VALUE_ROOM, "--%s %s", AXES[a].name, word);
  return text;
}

static int axis_rows(int a) {
  int n = 0; char text[2 * VALUE_ROOM];
  while (axis_flags(a, n, text)) n++;
  if (n > MOST_ROWS) printf("--%s has %d rows: a larger MOST_ROWS\n", AXES[a].name, n), exit(1);
  return n;
}

static void pick_flags(const Pick *p, char *text, size_t size) {
  size_t used = 0;
  text[0] = 0;
  for (int a = 0; a < N_AXES; a++) {
    char axis[2 * VALUE_ROOM];
    const char *row = axis_flags(a, p->row[a], axis);
    if (*row) used += (size_t)snprintf(text + used, size - used, "%s%s", used ? " " : "", row);
  }
}

static char *pick_text(const Pick *p) {
  char *text = zeroed(1024, 1);
  pick_flags(p, text, 1024);
  return text;
}

static bool pick_resolves(const Pick *p) {
  char flags[1024], all[1024 + sizeof BASE]; Config c; Error e = {0};
  pick_flags(p, flags, sizeof flags);
  snprintf(all, sizeof all, "%s%s", BASE, flags);
  return !config_from_flags(&c, all, &e);
}

/* Is there a way to complete the pair? Walks the rows of one group of axes, then of the other. */
static bool pair_possible(const Cover *v, int a, int i, int b, int j) {
  for (int group = AXIS_SCORES; group <= AXIS_WIDTHS; group++) {
    Pick p = {{0}};
    for (;;) {
      p.row[a] = i; p.row[b] = j;
      if (pick_resolves(&p)) return true;
      int x = 0;                                       /* count up in mixed radix */
      for (; x < N_AXES; x++) {
        if (x == a || x == b || AXES[x].group != group) continue;
        if (++p.row[x] < v->rows[x]) break;
        p.row[x] = 0;
      }
      if (x == N_AXES) break;
    }
  }
  return false;
}

/* How many pairs p would cover that nothing covers yet, looking only at axes marked in set. */
static int pick_gain(const Cover *v, const Pick *p, const bool *set) {
  int gain = 0;
  for (int b = 1; b < N_AXES; b++) for (int a = 0; a < b; a++)
    gain += set[a] && set[b] && !v->seen[a][p->row[a]][b][p->row[b]];
  return gain;
}

/* A candidate with the pair: axes with rules by chance until they resolve, others greedily. */
static bool candidate(const Cover *v, Pick *p, Rng *r, int a, int i, int b, int j) {
  bool set[N_AXES];
  for (int tries = 0; tries < 2000; tries++) {
    for (int x = 0; x < N_AXES; x++) {
      set[x] = AXES[x].group != AXIS_FREE || x == a || x == b;
      p->row[x] = AXES[x].group != AXIS_FREE ? (int)rng_below(r, (uint64_t)v->rows[x]) : 0;
    }
    p->row[a] = i; p->row[b] = j;
    if (!pick_resolves(p)) continue;
    for (int from = (int)rng_below(r, N_AXES), k = 0; k < N_AXES; k++) {
      int x = (from + k) % N_AXES, best = 0, most = -1;
      if (set[x]) continue;
      set[x] = true;
      int first = (int)rng_below(r, (uint64_t)v->rows[x]);
      for (int n = 0; n < v->rows[x]; n++) {
        p->row[x] = (first + n) % v->rows[x];
        int gain = pick_gain(v, p, set);
        if (gain > most) { most = gain; best = p->row[x]; }
      }
      p->row[x] = best;
    }
    if (pick_resolves(p)) return true;
  }
  return false;
}

static void cover_free(Cover *v) {
  for (int i = 0; v && v->flags[i]; i++) free(v->flags[i]);
  for (int i = 0; v && v->axis[i]; i++) free(v->axis[i]);
  free(v);
}

/* Puts the best of twelve configurations with this pair into the array; none: the counts tell. */
static void cover_pair(Cover *v, Rng *r, int a, int i, int b, int j) {
  Pick best = {{0}}, p;
  bool all[N_AXES]; int most = -1;
  for (int x = 0; x < N_AXES; x++) all[x] = true;
  for (int n = 0; n < 12 && candidate(v, &p, r, a, i, b, j); n++) {
    int gain = pick_gain(v, &p, all);
    if (gain > most) { most = gain; best = p; }
  }
  if (most < 0 || v->n == MOST_CONFIGS) return;
  v->pick[v->n] = best;
  v->flags[v->n++] = pick_text(&best);
  for (int y = 1; y < N_AXES; y++) for (int x = 0; x < y; x++) {
    char *seen = &v->seen[x][best.row[x]][y][best.row[y]];
    v->covered += !*seen;
    *seen = 1;
  }
}

/* The array, made once. A pair without a completion is marked refused. */
static const Cover *covering(Test *t) {
  if (t->cover) return t->cover;
  Cover *v = t->cover = zeroed(1, sizeof *v);
  Rng r = {6};
  for (int a = 0; a < N_AXES; a++) v->rows[a] = axis_rows(a);
  for (int b = 1; b < N_AXES; b++) for (int a = 0; a < b; a++)
    for (int i = 0; i < v->rows[a]; i++) for (int j = 0; j < v->rows[b]; j++) {
      v->pairs++;
      if (v->seen[a][i][b][j]) continue;
      if (pair_possible(v, a, i, b, j)) cover_pair(v, &r, a, i, b, j);
      else { v->seen[a][i][b][j] = 2; v->refused++; }
    }
  for (int a = 0, n = 0; a < N_AXES; a++) for (int i = a > 0; i < v->rows[a]; i++) {
    Pick p = {{0}};
    p.row[a] = i;
    if (pick_resolves(&p)) v->axis[n++] = pick_text(&p);
  }
  return v;
}

/* A lab b for each configuration of the array. */
#define LABS_OF_COVER(b, B, T) LABS_OF(b, B, T, (const char *const *)covering(t)->flags)

/* -------------------------------------------------------------------------------------------------
 * 0.5  Programs and files as a user has them, and what several chapters share */

typedef struct Golden {
  const char *path;            /* of the text, for errors */
  const char *at;              /* what is left of the text, which ends in a 0 byte */
  int line, changed;           /* of the file, from 1; numbers that differ by more than bound */
  long numbers;                /* compared so far */
  double bound, worst;         /* relative to the scale of each kind of number */
  char first[400], what[160];  /* the first that differed; the one that came nearest to bound */
  Error e;                     /* what is wrong with the text itself */
} Golden;

/* The text, checked against its last line, "end CONFIGS LINES SUM". 0, or 1 with an error. */
static int golden_read(const char *path, Bytes *text, int *configs, Error *e) {
  static const char *const TRY = "Try: git checkout data/check/golden";
  int lines = 0, told = -1, used = 0;
  unsigned long long sum = 0;
  text->size = 0;
  *configs = 0;
  if (file_read(path, text, e)) return 1;
  if (bytes_add(text, "", 1, e)) return 1;
  size_t size = text->size - 1, last = size; const char *at = (const char *)text->at;
  while (last > 1 && at[last - 2] != '\n') last--;
  if (last) last--;                                        /* where the last line begins */
  for (size_t i = 0; i < last; i++) lines += at[i] == '\n';
  if (sscanf(at + last, "end %d %d %16llx%n", configs, &told, &sum, &used) != 3
      || strcmp(at + last + used, "\n"))
    return fail(e, 1, "%s: expected a last line \"end CONFIGS LINES SUM\", found %.40s. %s",
                path, size ? at + last : "nothing", TRY);
  if (told != lines || hash64(0, at, last) != sum)
    return fail(e, 1, "%s: expected %d lines of sum %016llx, found %d of %016llx. %s", path,
                told, sum, lines, (unsigned long long)hash64(0, at, last), TRY);
  return 0;
}

/* Steps over these words if the text goes on with them; an error if not. */
static bool golden_words(Golden *g, const char *format, ...) {
  char words[64];
  PRINT_ARGUMENTS(words, sizeof words);
  size_t n = strlen(words);
  if (g->e.status) return false;
  if (strncmp(g->at, words, n)) {
    fail(&g->e, 1, "%s:%d: expected \"%s\", found \"%.*s\"", g->path, g->line, words,
         (int)strcspn(g->at, "\n") < 40 ? (int)strcspn(g->at, "\n") : 40, g->at);
    return false;
  }
  g->at += n;
  return true;
}

/* n numbers, a space before each, and the end of the line. */
static bool golden_numbers(Golden *g, int n, double *x) {
  for (int i = 0; i < n && !g->e.status; i++) {
    char *end = NULL;
    if (*g->at == ' ') x[i] = strtod(g->at + 1, &end);
    if (!end || end == g->at + 1 || !isfinite(x[i]))
      fail(&g->e, 1, "%s:%d: expected number %d of %d, found \"%.*s\"", g->path, g->line,
           i + 1, n, (int)strcspn(g->at, " \n"), g->at);
    else g->at = end;
  }
  if (!golden_words(g, "\n")) return false;
  g->line++;
  return true;
}

/* One of our numbers beside the twin's. */
static void golden_meet(Golden *g, double ours, double theirs, double scale, const char *what) {
  double error = ours == theirs ? 0 : fabs(ours - theirs) / scale;
  g->numbers++;
  if (error > g->worst) {
    g->worst = error;
    snprintf(g->what, sizeof g->what, "%s, %s:%d", what, g->path, g->line - 1);
  }
  if (error <= g->bound || g->changed++) return;
  snprintf(g->first, sizeof g->first, "%s:%d: %s is %.12g here, %.12g there", g->path,
           g->line - 1, what, ours, theirs);
}

/* Makes the checksum in a file's last 8 bytes right. */
static void seal(Bytes *b) {
  uint64_t h = hash64(0, b->at, b->size - 8);
  for (size_t i = 0; i < 8; i++) b->at[b->size - 8 + i] = (unsigned char)(h >> (8 * i));
}

/* n bytes on the heap with nothing behind them, so that reading past them is seen. */
static unsigned char *exactly(const void *from, size_t n) {
  unsigned char *at = zeroed((idx)n, 1);
  if (n) memcpy(at, from, n);
  return at;
}

#ifndef TOKENIZER_READ
#define TOKENIZER_READ tokenizer_read
#endif

/* Are n bytes refused as a tokenizer in one line? */
static bool refused(const unsigned char *at, size_t n) {
  Error e = {0}; Tokenizer k = {0}; unsigned char *copied = exactly(at, n);
  bool no = TOKENIZER_READ(copied, n, "x.bin", &k, &e) == 1 && !k.token && !k.pool.at &&
            !k.close && strstr(e.text, "x.bin: expected ") == e.text && strstr(e.text,
            ". Try: ") && !strchr(e.text, '\n') && strlen(e.text) < sizeof e.text - 1;
  tokenizer_free(&k); free(copied);
  return no;
}

/* A small world of people and things, for chapters 8 to 16. */
static const char TALE[] = "tale = [x=who] [y=who] [4-9 line] {2: \\n [3-5 line]|}\n"
    "line = {[^$x]|[^$x/he]} [verb] [a thing] {by [$y/his] [place]|}. | [^$y] {then|} [verb] the "
    "[thing],\n  [$y/he] said. | \"[^a thing],\" said [$x].\n"
    "who/he/his ~= Ann/she/her | Bob/he/his | Cid/he/his | Dot/she/her | Eve/she/her | "
    "Finn/he/his\nverb ~= saw | took | ate | lost | found | liked | hid\n"
    "thing ~= apple | owl | hour | house | unicorn | box | egg | red {coat|hat} | umbrella\n"
    "place = garden | school | inn | tower\n";

/* English, digits, UTF-8 and long runs. */
static const char SAMPLE[] =
    "The quick brown fox jumps over the lazy dog; the dog, being lazy, jumps over nothing.\n"
    "It's 1,024  km from here to there -- isn't it?   Yes, 12345678 metres!!!\n\n\tthe end\n"
    "na\xc3\xafve caf\xc3\xa9 \xe4\xb8\xad\xe6\x96\x87 \xf0\x9f\x99\x82 the the the there then"
    "<|endoftext|>aaaa aaaaaaa aaaaaaaaa aa ==== ====== the fox there over nothing 2024 2025 ";

/* A shard of n ids in llm.c's form, or in nanoGPT's without a header. */
static void shard_bytes(Bytes *out, const int32_t *ids, size_t n, bool head) {
  Error e = {0};
  out->size = 0;
  for (int i = 0; head && i < 256; i++)
    bytes_number(out, i == 0 ? 20240520 : i == 1 ? 1 : i == 2 ? n : 0, 4, &e);
  for (size_t i = 0; i < n; i++) bytes_number(out, (uint64_t)ids[i], 2, &e);
  if (e.status) exit(1);
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
  if (system(GONE(SCRATCH))) fprintf(stderr, "test_sink: " SCRATCH " is left\n");
}

static void scratch_open(void) {
  scratch_close();
  make_folder("out");
  if (make_folder(SCRATCH)) { fprintf(stderr, "no " SCRATCH " can be made\n"); exit(1); }
}

/* Settings of a tiny model that reads tale.tok, with these flags; false when refused. */
static bool tiny_settings(Settings *s, const char *flags, Error *e) {
  settings_default(s);
  s->data.open = other_open, s->data.first = first_open;
  settings_flags(s, "--layers 1 --heads 2 --dim 16 --ffn 20 --context 16 --batch 4 --warmup 5 "
                    "--steps 30 --seed 3 --lr 1e-2 --quiet --tokenizer " SCRATCH "/tale.tok "
                    "--T 8 --n 10", MODEL | TRAIN | DATA | MEASURE | GENERAL | EVAL | ALONE | TABLES, e);
  settings_flags(s, flags, MODEL | TRAIN | DATA | MEASURE | GENERAL | EVAL | ALONE | TABLES, e);
  if (!s->data.text[0] && !s->data.grammar[0] && !s->data.tokens[0])
    settings_flags(s, "--grammar " SCRATCH "/tale.grammar", DATA, e);
  if (s->train.min_lr < 0) s->train.min_lr = s->train.lr / 10;
  return !e->status;
}

/* Writes TALE, 150 of its documents as a text, and a tokenizer of 320 tokens trained on them. In
 * the text are white space around documents, UTF-8, CR LF, an empty document. */
static bool tale_open(Test *t, Settings *s, const char *flags) {
  static const char OTHERS[] =
      "caf\xc3\xa9 \xe4\xb8\xad\xe6\x96\x87, na\xc3\xafve.\r\nA second line\r\n";
  Error *e = fresh(t);
  Grammar g = {0}; Bytes text = {0}; Tokenizer k = {0};
  scratch_open();
  file_write(SCRATCH "/tale.grammar", TALE, strlen(TALE), e);
  if (!e->status) grammar_read(&g, (const unsigned char *)TALE, strlen(TALE), "tale", e);
  for (uint64_t n = 0; n < 150 && !e->status; n++) {
    grammar_document(&g, 7, n, &text, e);
    bytes_add(&text, "\n" DOCUMENT_END "\n\n", 16, e);
    if (n == 70) bytes_add(&text, DOCUMENT_END " \n" DOCUMENT_END, 28, e);
    if (n == 90) bytes_add(&text, OTHERS, strlen(OTHERS), e);
  }
  if (!e->status) file_write(SCRATCH "/tale.txt", text.at, text.size, e);
  if (!e->status && !tokenizer_train(&k, text.at, text.size, 320, e))
    tokenizer_save(SCRATCH "/tale.tok", &k, e);
  grammar_free(&g); tokenizer_free(&k); bytes_free(&text);
  if (!e->status) tiny_settings(s, flags, e);
  t->tale = !e->status;
  fact(t, t->tale, "%s: %s", flags, e->text);
  return !e->status;
}

/* The files of tale_open, once. A test without them gives up. */
static void tale_files(Test *t) { Settings s; if (!t->tale && !tale_open(t, &s, "")) exit(1); }

/* A trainer of tiny_settings with these flags, on the files of tale_open. */
static bool trainer_made(Test *t, Trainer *r, const char *flags) {
  Settings s;
  tale_files(t);
  bool made = tiny_settings(&s, flags, fresh(t)) && !trainer_create(r, &s, &t->e);
  fact(t, made, "%s: %s", flags, t->e.text);
  return made;
}

/* Steps until `steps` are done; the last loss, NaN and a failed statement when a step fails. */
static double steps_of(Test *t, Trainer *r, int steps) {
  Error *e = fresh(t);
  while (r->step < steps && !trainer_step(r, e)) continue;
  fact(t, !e->status, "%s", e->text);
  return e->status ? NAN : r->loss;
}

/* p_1 of a model overwritten by p_t, or swapped with it: what an edit only says. */
static void write_positions(Model *m, int at, bool swap) {
  int C = m->c.dim, first = m->c.sink_token;
  for (int ch = 0; ch < C; ch++) {
    real *p_1 = &m->w.wpe[first * C + ch], *p_t = &m->w.wpe[(first + at - 1) * C + ch];
    real was = *p_1;
    *p_1 = *p_t;
    if (swap) *p_t = was;
  }
}

/* The k-th number (from 0) after a phrase, a - before it its sign; NaN when there is none. */
static double number_after(const char *text, const char *phrase, int k) {
  const char *at = strstr(text, phrase);
  for (at = at ? at + strlen(phrase) : NULL; at && *at; at++) {
    const bool minus = *at == '-' && !isalnum((unsigned char)at[-1]);
    if (!isdigit((unsigned char)at[minus])) continue;
    char *end; double x = strtod(at, &end);
    if (k-- == 0) return x;
    at = end - 1;
  }
  return NAN;
}

/* What a program said, each with a 0 behind it, and its exit status. */
typedef struct Ran {
  int status; Bytes out, err;
} Ran;

static void ran_free(Ran *r) { bytes_free(&r->out); bytes_free(&r->err); }

static bool no_binary(Test *t) {
  const bool none = file_missing(PROGRAM) && file_missing(PROGRAM ".exe");
  if (none) t->skip = "no " PROGRAM " here: make builds it";
  return none;
}

/* Runs a program with these words for the shell; what it wrote comes by way of files in SCRATCH. */
static Ran ran(const char *program, const char *words) {
  Ran r = {0}; Error e = {0}; char command[1500];
  snprintf(command, sizeof command, "%s %s >" SCRATCH "/out 2>" SCRATCH "/err", program, words);
  r.status = EXIT_STATUS(system(command));
  file_read(SCRATCH "/out", &r.out, &e); bytes_add(&r.out, "", 1, &e);
  file_read(SCRATCH "/err", &r.err, &e); bytes_add(&r.err, "", 1, &e);
  if (e.status) r.status = -1;
  return r;
}

static Ran sink(const char *words) { return ran(PROGRAM, words); }

/* It fails with this status and one line of help on stderr, and says nothing on stdout. */
static void sink_fails(Test *t, const char *words, int status, const char *said) {
  Ran r = sink(words);
  const char *err = (const char *)r.err.at;
  bool one_line = strchr(err, '\n') == err + r.err.size - 2;
  fact(t, r.status == status, "sink %s: exit %d, not %d: %s", words, r.status, status, err);
  fact(t, !strncmp(err, &PROGRAM[2], strlen(PROGRAM) - 2) && strstr(err, said) && one_line
          && strstr(err, "Try: "), "sink %s: %s", words, err);
  fact(t, r.out.size == 1, "sink %s: %s", words, (const char *)r.out.at);
  ran_free(&r);
}

/* It ends well and leaves stderr empty; *out is what it wrote, for the caller to free. */
static bool sink_does(Test *t, const char *words, Ran *r) {
  *r = sink(words);
  fact(t, r->status == 0 && r->err.size == 1, PROGRAM " %s: exit status %d, %s", words, r->status,
       (const char *)r->err.at);
  if (r->status) ran_free(r);
  return r->status == 0;
}

/* What it printed, "" where it did not end well; the last four of these stay. */
static const char *said(Test *t, const char *format, ...) {
  static Ran kept[4]; static int turn;
  Ran *r = &kept[turn++ % 4]; char words[1400];
  PRINT_ARGUMENTS(words, sizeof words);
  ran_free(r);
  return sink_does(t, words, r) ? (const char *)r->out.at : "";
}

/* It ends with this status; `said` is in a |, what it printed, a | and what went to stderr. */
static void answers(Test *t, const char *program, const char *words, int status, const char *said) {
  Ran r = ran(program, words); Bytes *all = bytes_of(t); Error *e = fresh(t);
  bytes_add(all, "|", 1, e); bytes_add(all, r.out.at, r.out.size - 1, e);
  bytes_add(all, "|", 1, e); bytes_add(all, r.err.at, r.err.size, e);
  fact(t, r.status == status && strstr((char *)all->at, said), "%s %s: %d, and no %s in %.500s",
       program, words, r.status, said, (char *)all->at);
  ran_free(&r);
}

/* A file if it is there; a copy of a program runs too. */
static void file_copy(Test *t, const char *from, const char *to) {
  Bytes *b = bytes_of(t);
  if (!file_read(from, b, fresh(t)) && !file_write(to, b->at, b->size, &t->e)) chmod(to, 0777);
}

/* As answers(), with status 0, from another folder, where a data/ is empty. */
static void answers_elsewhere(Test *t, const char *words, const char *said) {
#define AWAY SCRATCH "/away"
  make_folder(AWAY); make_folder(AWAY "/data"); make_folder(AWAY "/out");
  if (make_folder(AWAY "/" SCRATCH), chdir(AWAY)) exit(1);
  answers(t, "." FROM_HERE "." FROM_HERE "." PROGRAM, words, 0, said);
  if (chdir("../../..")) exit(1);
}

/* The rows of data/check/usage.txt: status, program, words, and a part of the answer; a line is a comment
 * or a row. And every page of help has at most 80 columns, and is found by `help VERB`, `VERB
 * --help`, `VERB -h`. */
static void usage_hold(Test *t, const Program *program) {
  static const char *const FORMS[] = {"help %s", "%s --help", "%s -h", "list"},
      *const PROGRAMS[] = {"sink", "paper", "hf"};
  int ours = 0; char flag[40];
  if (no_binary(t)) return;
  scratch_open(); Bytes *rows = bytes_of(t);
  fact(t, !file_read("data/check/usage.txt", rows, fresh(t)) && !bytes_add(rows, "", 1, &t->e), "rows");
  for (char *line = strtok((char *)rows->at, "\n"), *part, *to; line; line = strtok(NULL, "\n")) {
    char name[16] = ""; int status = 0, at = 0; bool known = false;
    if (*line == '#') continue;
    sscanf(line, "%d %15s %n", &status, name, &at);
    EACH(i, PROGRAMS) known |= !strcmp(name, PROGRAMS[i]);
    fact(t, (part = strstr(line, " => ")) && known && at, "data/check/usage.txt: %s", line);
    if (t->wrong || !part || strcmp(name, &PROGRAM[2])) continue;
    ours++;
    *part = 0;
    part += 4;
    while ((to = strstr(part, "\\n")) != NULL) memmove(to, to + 1, strlen(to)), *to = '\n';
    if (status) sink_fails(t, line + at, status, part);
    else fact(t, strstr(said(t, line + at, SCRATCH), part) != NULL, "%s: no %s", line + at, part);
  }
  fact(t, ours > 16, "%d rows for " PROGRAM, ours);
  const Verb *v = NULL;
  do {
    for (int i = 0; i < 4 - (v || program != &SINK); i++) {
      const char *name = v ? v->name : "", *page = said(t, FORMS[i], name);
      fact(t, strstr(page, name) && (i > 2 || !strcmp(page, said(t, FORMS[0], name))), "%s", name);
      for (size_t n; (n = strcspn(page, "\n")) > 0 || *page; page += n + (page[n] != 0)) {
        fact(t, n <= 80, "%.100s: over 80 columns", page);
        snprintf(flag, sizeof flag, "\n%.*s ", (int)(2 + strcspn(page + (n > 2) * 2, " \n")), page);
        fact(t, strncmp(page, "  --", 4) || !strstr(page, flag), "%s: %stwice", name, flag + 1);
      }
    }
  } while ((v = verb_after(v, program)) != NULL);
}

/* The first flag of two models that differs; NULL where none does. */
static const char *differs(const Config *a, const Config *b) {
  Settings s; char one[PATH_ROOM], other[PATH_ROOM];
  for (const Option *o = OPTIONS; o->flag; o++) {
    if (o->groups & MODEL ? 0 : 1) continue;
    s.model = *a;
    option_text(o, &s, one, sizeof one);
    s.model = *b;
    option_text(o, &s, other, sizeof other);
    if (strcmp(one, other)) return o->flag;
  }
  return NULL;
}

/* What a file holds, and a 0 behind it; a failed statement where it cannot be read. */
static Bytes *file_of(Test *t, const char *path) {
  Bytes *b = bytes_of(t); Error e = {0};
  fact(t, !file_read(path, b, &e), "%s", e.text);
  if (bytes_add(b, "", 1, &(Error){0})) exit(1);
  b->size--;
  return b;
}

static char *text_in(Test *t, const char *path) { return (char *)file_of(t, path)->at; }

/* A page to be printed on, and what it became. */
static FILE *printing(void) {
  FILE *out = fopen(SCRATCH "/page.txt", "wb");
  if (!out) exit(1);
  return out;
}

static char *printed(Test *t, FILE *out) { fclose(out); return text_in(t, SCRATCH "/page.txt"); }

static bool bytes_same(const Bytes *a, const Bytes *b) {
  return a->size == b->size && (!a->size || !memcmp(a->at, b->at, a->size));
}

/* Two files of the same bytes, and not empty. */
static bool files_same(const char *path, const char *other) {
  Bytes a = {0}, b = {0}; Error e = {0};
  bool same = !file_read(path, &a, &e) && !file_read(other, &b, &e) && a.size && bytes_same(&a, &b);
  bytes_free(&a); bytes_free(&b);
  return same;
}

/* A CSV file's number in `row`, counted from 1, of the column so named; NaN if there is none. */
static double csv_number(Test *t, const char *path, int row, const char *name) {
  const char *head = (const char *)file_of(t, path)->at, *line = head;
  size_t n = strlen(name);
  int column = 0;
  for (; strncmp(head, name, n) || (head[n] != ',' && head[n] != '\n'); column++) {
    head += strcspn(head, ",\n");
    if (*head++ != ',') { column = -1; break; }
  }
  for (int i = 0; i < row && line; i++) line = (line = strchr(line, '\n')) ? line + 1 : NULL;
  for (int i = 0; i < column && line; i++) line = (line = strchr(line, ',')) ? line + 1 : NULL;
  return line && *line && column >= 0 ? strtod(line, NULL) : NAN;
}

#define SMALL_SIZE                                                                                 \
    " --tokenizer " SCRATCH "/tale.tok --layers 1 --dim 16 --ffn 20 --context 16 --batch 2 "
#define SMALL_RUN " --force --text " SCRATCH "/tale.txt" SMALL_SIZE

/* What `check` prints: nothing comes out WRONG, and the last line counts so many that hold, fail as
 * they must and are refuted. Under each heading stands a sentence, and before the last line what is
 * printed and what is so of each that is refuted. */
static void checks_hold(Test *t, const Program *program, int holds, int must_fail) {
  char line[512], last[512] = "";
  FILE *page = tmpfile();
  fact(t, page != NULL, "no temporary file");
  if (!page) return;
  fact(t, !checks_run(program, NULL, page, fresh(t)), "%s", t->e.text);
  rewind(page);
  int lines = 0, wrong = 0, said = 0, headings = 0, listed = 0, controls = 0;
  for (bool blank = false, heading = false; fgets(line, sizeof line, page); lines++) {
    size_t n = strcspn(line, "\n");
    const char *printed = strstr(line, " printed: ");
    said += heading && line[0] == ' ' && n > 20 && line[n - 1] == '.';
    headings += heading = blank && islower((unsigned char)line[0]);
    listed += printed && strstr(printed, "; so: ");
    controls += n > 7 && !strcmp(line + n - 7, "control\n");
    blank = n == 0;
    wrong += n >= 5 && !strncmp(line + n - 5, "WRONG", 5) && !strstr(line, "0 WRONG");
    fact(t, n <= 100, "%d columns: %.60s", (int)n, line);
    if (line[0] != '\n') snprintf(last, sizeof last, "%.*s", (int)n, line);
  }
  fclose(page);
  int hold = 0, fails = 0, refuted = 0, count = 1;
  fact(t, sscanf(last, "%d hold, %d controls fail as they must, %d refuted as printed, %d WRONG",
                 &hold, &fails, &refuted, &count) == 4, "the last line: %s", last);
  fact(t, hold == holds && fails == must_fail && refuted == 5 && !count && !wrong, "%s", last);
  fact(t, headings > 8 && said == headings && listed == refuted && controls > 9,
       "%d sentences for %d headings, %d refuted, %d controls", said, headings, listed, controls);
  note(t, "%s, %d lines", last, lines);
}

/* -------------------------------------------------------------------------------------------------
 * 0.6  The tests are run */

typedef struct TestEntry { const char *name; void (*run)(Test *); } TestEntry;
#define RUNS(name) {#name, name}

/* What fails is not skipped. A test that states nothing fails. */
static const char *verdict(const Test *t) {
  return t->wrong || !(t->facts || t->skip) ? "FAIL" : t->skip ? "skip" : "ok";
}

/* The line of a test, and under a FAIL what did not hold. */
static void report(const char *name, const Test *t, double took) {
  char measured[400];
  if (t->skip) snprintf(measured, sizeof measured, "%s", t->skip);
  else if (t->what[0])
    snprintf(measured, sizeof measured, "%.2g (bound %.2g) %.60s", t->error, t->bound, t->what);
  else snprintf(measured, sizeof measured, "%d of %d facts hold", t->facts - t->wrong, t->facts);
  printf("%-32s %-76s %5.2f s  %s\n", name, measured, took, verdict(t));
  if (t->note[0]) printf("    %s\n", t->note);
  if (t->wrong) printf("    %d of %d facts fail; the first: %s\n", t->wrong, t->facts, t->first);
  fflush(stdout);
}

/* Runs the tests whose name begins as the words say, but not as a word after a minus. */
static int tests_run(const TestEntry *tests, int n_tests, int argc, char **argv) {
  bool first = argc > 1 && !strcmp(argv[1], "--first");    /* stop at the first that fails */
  int passed = 0, failed = 0, skipped = 0, cores = workers(); const char *is; Cover *cover = NULL;
  set_workers(1);                                          /* too small models to share */
  for (int i = 0; i < n_tests; i++) {
    bool out = false;
    for (int k = 1; k < argc; k++) {
      bool minus = argv[k][0] == '-';
      out |= minus == !strncmp(tests[i].name, &argv[k][minus], strlen(&argv[k][minus]));
    }
    if (out) continue;
    Test t = {.cover = cover, .cores = cores};
    double start = seconds();
    tests[i].run(&t);
    later_now(&t);
    cover = t.cover;
    report(tests[i].name, &t, seconds() - start);
    scratch_close();
    is = verdict(&t);
    *(*is == 'o' ? &passed : *is == 's' ? &skipped : &failed) += 1;
    if (first && failed) break;
  }
  cover_free(cover);
  if (passed + failed + skipped == 0) {
    fprintf(stderr, "test_sink: no test begins with %s\n", argv[argc - 1]);
    return 1;
  }
  printf("%d passed, %d failed", passed, failed);
  if (skipped) printf(", %d skipped", skipped);
  printf("\n");
  return failed > 0;
}

/* -------------------------------------------------------------------------------------------------
 * 0.7  What a companion's tests share with those of chapters 4 to 6 */

typedef struct Cached { Lab b; Acts cache, whole; } Cached;

/* One configuration through a key-value cache and as a whole. The last row's logits, and every row
 * made, must be equal to the bit: the sums of a row do not depend on which rows go with it. */
static void extend_as_whole(Test *t, Cached *x, int T, int from) {
  const Model *m = &x->b.m;
  int N = config_rows(&m->c, T), C = m->c.dim, V = m->c.vocab;
  int R = model_extend(m, &x->cache, x->b.ids, T, from); real got[2048], want[2048];
  bool kept = from && from >= m->c.prefix && config_attending(&m->c) == m->c.layers;
  fact(t, R == (kept ? T - from : N), "%d rows, %d tokens after %d, %s", R, T, from, x->b.flags);
  model_forward(m, &x->whole, x->b.ids, 1, T);
  within(t, distance((idx)R * C, x->whole.nf + (idx)(N - R) * C, x->cache.nf), 0, 0,
         "%d rows of %d, %s", R, N, x->b.flags);
  model_logits(m, &x->cache, x->cache.nf + (idx)(R - 1) * C, 1, got);
  model_logits(m, &x->whole, x->whole.nf + (idx)(N - 1) * C, 1, want);
  within(t, distance(V, want, got), 0, 0, "logits of token %d after %d, %s", T, from, x->b.flags);
  fact(t, biggest(V, want) > 0, "no logits, %s", x->b.flags);
}

/* Prompts of these lengths, the last 0: after each a dozen tokens one by one, seven at once, and
 * other tokens in their place. Then a cache read one place off must show. false: no models. */
static bool extend_one(Test *t, const char *flags, const int *prompts, int T) {
  Cached x = {0};
  if (!lab_open(&x.b, t, 1, T, flags)) return false;
  const Model *m = &x.b.m; int C = m->c.dim, ten = m->c.vocab - 1, *ids = x.b.ids;
  if (acts_create(&x.cache, m, 1, T, ACTS_KEYS, fresh(t)) ||
      acts_create(&x.whole, m, 1, T, ACTS_ONE, &t->e)) return fact(t, 0, "%s", t->e.text), false;
  for (int l = 0; m->w.layer[0].cscale && l < m->c.layers; l++)
    vec_scale(m->c.heads, m->w.layer[l].cscale, (real)0.25);    /* e^z of Z = 1 is a float */
  for (; *prompts; prompts++) {
    int at = *prompts;
    lab_draw(&x.b, 31 + (uint64_t)at);
    extend_as_whole(t, &x, at, 0);
    for (int n = at; n < at + 12; n++) extend_as_whole(t, &x, n + 1, n);
    extend_as_whole(t, &x, at + 19, at + 12);
    ids[at] = (ids[at] + 1) % ten;
    extend_as_whole(t, &x, at + 2, at);
  }
  ids[29] = (ids[30] + 1) % ten;                           /* XSA forgets what is like itself */
  model_extend(m, &x.cache, ids, 30, 0);
  model_extend(m, &x.cache, ids + 1, 30, 29);              /* token 31 where token 30 belongs */
  model_forward(m, &x.whole, ids, 1, 31);
  double off = distance(C, x.whole.nf + (config_rows(&m->c, 31) - 1) * C, x.cache.nf);
  bool blind = m->c.sim >= SIM_SOFTPICK || m->c.gain;      /* heads may see nothing, or one key */
  fact(t, off > 1e-5 || blind, "one place off shows by %g only, %s", off, flags);
  acts_free(&x.cache); acts_free(&x.whole); lab_close(&x.b);
  return true;
}

/* Mean of -log softmax(logits)[target] over targets from..T-1, from the slow model. */
static double slow_loss(const Lab *b, int from) {
  int T = b->T, V = b->m.c.vocab; double sum = 0;
  for (int s = 0; s < b->B; s++) {
    Slow slow = slow_open(&b->m, T);
    slow_forward(&slow, b->ids + s * T);
    for (int i = from; i < T; i++) {
      double total = 0;
      for (int v = 0; v < V; v++) total += exp(slow.logits[i * V + v]);
      sum += log(total) - slow.logits[i * V + b->targets[s * T + i]];
    }
    slow_close(&slow);
  }
  return sum / (b->B * (T - from));
}

static void release_sinks(void *room) { sinks_free(room); }

/* A lab measured over its B sequences with these thresholds. */
static Sinks *lab_measure(Test *t, Lab *b, double e0, double e1, double e2, int rows) {
  Sinks *s = later(t, 1, sizeof *s, release_sinks);
  if (sinks_create(s, &b->m.c, b->T, b->B, (double[]){e0, e1, e2}, 3, fresh(t))) exit(1);
  sinks_measure(s, &b->m, &b->a, b->ids, b->targets, b->B, rows, &t->e);
  fact(t, !t->e.status, "%s", t->e.text);
  sinks_finish(s);
  return s;
}

static int by_value(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static double slow_length(int n, const double *x) {
  double sum = 0;
  for (int i = 0; i < n; i++) sum += x[i] * x[i];
  return sqrt(sum);
}

/* What sinks_measure must find for these ids, added to the arrays of w. */
static void slow_measure(const Lab *b, const int *ids, int rows, Sinks *w) {
  const Config *c = &b->m.c;
  int L = c->layers, H = c->heads, K = c->kv_heads, D = c->head_dim, C = c->dim, T = b->T;
  Slow s = slow_open(&b->m, T);
  slow_forward(&s, ids);
  int N = s.N, S = s.S, first = N - T, token1 = S - T;
  for (int l = 0; l < L; l++) for (int h = 0; slow_attends(c, l) && h < H; h++) {
    const double *m = s.metric + (idx)(l * H + h) * N * S,
                 *weight = s.weight + (idx)(l * H + h) * N * S;
    for (int j = 0; j < S; j++) {
      int k = j - token1;                          /* counted from 0 */
      double sum = 0, n = T;
      for (int i = first; i < N; i++)
        sum += k <= 0 || i - first >= k || rows == METRIC_PLUS1 ? m[i * S + j] : 0;
      if (k > 0) n = T - k;
      if (rows == METRIC_PLUS1 && k < 0) { sum += c->extra && !j ? 1 : m[j]; n++; }
      if (rows == METRIC_PLUS1 && k >= 0 && first) sum += m[j];
      w->alpha[(l * H + h) * S + j] += sum / n;
      for (int x = 0; x < 3; x++)
        w->over[((idx)x * L * H + l * H + h) * S + j] += sum / n > w->eps[x];
    }
    for (int i = first; i < N; i++) for (int j = 0; j < S; j++) {
      if (m[i * S + j] > 0) w->entropy[l * H + h] -= m[i * S + j] * log(m[i * S + j]) / T;
      double of_key = j >= (c->extra != 0) ? weight[i * S + j] / T : 0;
      w->mass[l * H + h] += of_key, w->raw[l * H + h] += fabs(of_key);
    }
    for (int i = 1; i < N; i++) {
      double others = 0, sums[2] = {0};
      const double *q = s.q + (((idx)l * N + i) * H + h) * D;
      for (int j = 0; j <= i; j++) {
        const double *k = s.k + (((idx)l * N + j) * K + h / (H / K)) * D;
        double dot = 0, both = slow_length(D, q) * slow_length(D, k);
        for (int d = 0; d < D; d++) dot += q[d] * k[d];
        if (j == 0) {
          w->cosine[2 * (l * H + h)] += dot / both / (N - 1);
          w->product[2 * (l * H + h)] += both / (N - 1);
        } else if (slow_visible(c, l, i, j)) {
          others++;
          sums[0] += dot / both;
          sums[1] += both;
        }
      }
      if (others > 0) w->cosine[2 * (l * H + h) + 1] += sums[0] / others / (N - 1);
      if (others > 0) w->product[2 * (l * H + h) + 1] += sums[1] / others / (N - 1);
    }
  }
  for (int l = 0; l <= L; l++) for (int n = 0; n < N; n++) {
    w->hnorm[l * N + n] += slow_length(C, s.h + ((idx)l * N + n) * C);
    if (l == L) continue;
    w->prenorm[l * N + n] += slow_length(C, s.sum + ((idx)l * N + n) * C);
    for (int h = 0; h < H; h++)
      w->qnorm[l * N + n] += slow_length(D, s.q + (((idx)l * N + n) * H + h) * D) / H;
    for (int h = 0; h < K; h++)
      w->knorm[l * N + n] += slow_length(D, s.k + (((idx)l * N + n) * K + h) * D) / K;
    for (int h = 0; h < K; h++)
      w->vnorm[l * N + n] += slow_length(D, s.v + (((idx)l * N + n) * K + h) * D) / K;
  }
  double most = 0, *at = NULL;
  for (int l = 1; l <= L; l++) for (int i = 0; i < N * C; i++)
    if (fabs(s.h[(idx)l * N * C + i]) > most) {
      most = fabs(s.h[(idx)l * N * C + i]);
      at = s.h + (idx)l * N * C;
    }
  for (int i = 0; i < N * C; i++) at[i] = fabs(at[i]);
  qsort(at, (size_t)(N * C), sizeof *at, by_value);
  w->massive += most;
  w->median += at[N * C / 2];
  slow_close(&s);
}

/* Every field of Sinks on models of these flags against the slow recomputation, 3 sequences. */
static void lab_against_slow(Test *t, Lab *b, int rows) {
  Sinks *s = lab_measure(t, b, 0.3, 0.2, 0.1, rows), w;
  if (sinks_create(&w, &b->m.c, 12, 3, s->eps, 3, fresh(t))) exit(1);
  for (int q = 0; q < 3; q++) slow_measure(b, b->ids + q * 12, rows, &w);
  for (idx i = 0; i < w.n_sums; i++) w.sums[i] /= 3;
  w.massive /= 3; w.median /= 3;
  w.loss = slow_loss(b, b->m.c.prefix > 1 ? b->m.c.prefix - 1 : 0);
  int LH = s->L * s->H, LN = s->L * s->N, S = s->S;
#define FIELD(name, n) {#name, s->name, w.name, n}
  const struct { const char *name; const double *got, *want; int n; } FIELDS[] = {
    FIELD(alpha, LH * S), FIELD(entropy, LH), FIELD(mass, LH), FIELD(raw, LH),
    FIELD(over, 3 * LH * S), FIELD(hnorm, LN + s->N), FIELD(prenorm, LN), FIELD(qnorm, LN),
    FIELD(knorm, LN), FIELD(vnorm, LN), FIELD(cosine, 2 * LH), FIELD(product, 2 * LH),
    {"massive", &s->massive, &w.massive, 1}, {"median", &s->median, &w.median, 1},
    {"loss", &s->loss, &w.loss, 1}};
  /* the slow side writes into fields of the same layout: an overlap would spoil both alike */
  EACH(x, FIELDS) for (int y = 0; y < x; y++)
    fact(t, FIELDS[x].got + FIELDS[x].n <= FIELDS[y].got || FIELDS[y].got + FIELDS[y].n <=
                FIELDS[x].got, "%s and %s overlap", FIELDS[x].name, FIELDS[y].name);
  EACH(x, FIELDS) for (int i = 0; i < FIELDS[x].n; i++)
    within(t, FIELDS[x].got[i], FIELDS[x].want[i], 2000 * REAL_EPS * fmax(0.1,
           fabs(FIELDS[x].want[i])), "%s[%d], %s", FIELDS[x].name, i, b->flags);
  for (int j = 0; j < S; j++) {
    double alpha = 0, over = 0; int heads = 0;
    for (int i = 0; i < LH; i++) {
      if (!slow_attends(&b->m.c, i / s->H)) continue;
      heads++;
      alpha += w.alpha[i * S + j];
      over += w.over[(2 * LH + i) * S + j];
    }
    within(t, sinks_alpha(s, j), alpha / heads, 2000 * REAL_EPS, "sinks_alpha, column %d", j);
    within(t, sinks_sink(s, j, 2), over / heads, 1e-12, "sinks_sink, column %d", j);
  }
  sinks_free(&w);
}

static void sinks_against_slow(Test *t, const char *const *flags, int n) {
  const real below_1[] = {0, (real)0.25, (real)-0.5, (real)NAN};
  fact(t, largest(4, below_1) == (real)0.5 && largest(1, below_1 + 3) == -1, "largest");
  for (int f = 0; f < n; f++) LABS(b, 3, 12, flags[f], flags[f]) {
    /* H^0 far above what follows the first norm: no output of a block, so not massive */
    if (b.m.c.place == PLACE_POST) {
      for (int i = 0; i < 11 * 12; i++) b.m.w.wte[i] *= 50;
      for (int i = 0; i < 12 * 12; i++) b.m.w.layer[0].wq[i] /= 2500;
    }
    lab_against_slow(t, &b, b.n == 1 ? METRIC_REAL : METRIC_PLUS1);
  }
}
