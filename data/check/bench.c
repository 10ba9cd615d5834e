/* bench.c - the speed of sink, as ratios to what the same machine reaches in
 * the same run.
 *
 *     cc -O3 data/check/bench.c -o bench -lm
 *     ./bench                this machine, products and steps, as parts of its
 *                            peak
 *     ./bench --peer FILE    the same beside another program's figures (peer.py
 *                            writes PyTorch's)
 *     ./bench help           gemm, step, ops and length, and their flags
 *
 * SPDX-License-Identifier: MIT
 *
 * Machines differ, and other programs share them. So every figure is a ratio to
 * a rate that the same run measures: the peak of fused multiply-adds where
 * arithmetic counts, a copy where memory does. The peak is the larger of one
 * taken before and one after, a time is the median of many. */
#define SINK_NO_MAIN
#define MORE_SETTINGS \
  struct Own { \
    int m, n, k, isa;           /* isa 0: the best */ \
    char peer[PATH_ROOM]; \
  } own;
#define MORE_OPTIONS \
  WHOLE("m", OWN, own.m, "768", 1, 65536, "rows of the product"), \
  WHOLE("n", OWN, own.n, "768", 1, 65536, "columns"), \
  WHOLE("k", OWN, own.k, "768", 1, 65536, "the inner size"), \
  {"isa", OWN, 'c', AT(own.isa), "", 0, 0, \
   "ISA_BEST, ISA_BASE, ISA_AVX2, ISA_AVX512", "instruction set"}, \
  NAME("peer", OWN, own.peer, "", "another program's figures for the same run"),
#define MORE_PROGRESS
#define MORE_BELONGS
#include "../../sink.c"

typedef struct Own Own;

static const char *const ISA_NAMES[] = {"base", "avx2", "avx512"};

/* Sorts t [n] and returns the one in the middle, of an even n the mean of
 * the two. */
static double median(double *t, int n) {
  for (int i = 1; i < n; i++)
    for (int j = i; j > 0 && t[j] < t[j - 1]; j--) {
      double swap = t[j];
      t[j] = t[j - 1];
      t[j - 1] = swap;
    }
  return (t[(n - 1) / 2] + t[n / 2]) / 2;
}

/* The peak's loop: `chains` vectors s, each s += a s again and again; every
 * addition needs the one before it in its own chain only. With |a| below half
 * an epsilon s keeps its value for ever. */
INLINE void spin(const int bytes, const int chains, int turns, real *x,
                 real a) {
  const int lanes = bytes / (int)sizeof(real);
  real s[TILE_MAX];
  for (int v = 0; v < chains; v++)
    lanes_copy(bytes, s + v * lanes, x);
  for (int turn = 0; turn < turns; turn++)
    for (int v = 0; v < chains; v++)
      lanes_axpy(bytes, s + v * lanes, a, s + v * lanes);
  for (int v = 0; v < chains; v++)
    lanes_axpy(bytes, x, 1, s + v * lanes);
}

/* Does the kernel round a*b + c once? -1 + (1 + eps)(1 - eps) is 0 when the
 * product is rounded first, and -eps^2 fused. */
static bool fma_fuses(Isa isa) {
  const real a[2] = {-1, 1 + (real)REAL_EPS}, b[2] = {1, 1 - (real)REAL_EPS};
  real c;
  matmul_at(isa, &c, 1, rows_of(a, 2), rows_of(b, 1), 1, 1, 2, false);
  return c != 0;
}

/* As many as registers hold beside `a`, or as the pipelines take. */
INLINE int chains_of(const int bytes) {
  if (tile_rows(bytes) == ROWS_MAX)
    return 16;
  return bytes == 16 ? 14 : 12;
}
INSTANCES(void, spin_for, (int turns, real *x, real a),
          spin(BYTES, chains_of(BYTES), turns, x, a))

/* GFLOP/s that independent fused multiply-adds (a multiply and an add where
 * nothing fuses) reach just now in `threads` equal tasks shared among OpenMP's
 * threads. Takes some 10 ms. The best of a few tries, since other programs only
 * ever make one slower. */
static double fma_peak(Isa isa, int threads) {
  enum { TURNS = 1 << 16, TRIES = 12 };
  const int bytes = 16 << isa;
  const double flops = 2.0 * chains_of(bytes) * bytes / (double)sizeof(real);
  double best = 0;
  for (int try = 0; try < TRIES; try++) {
    double start = seconds();
    PARALLEL
    for (int t = 0; t < threads; t++) {
      real x[LANES_MAX];
      for (int l = 0; l < LANES_MAX; l++)
        x[l] = (real)(l + 1);
      spin_for[isa](TURNS, x, (real)REAL_EPS / 8);
    }
    best = fmax(best, flops * TURNS * threads / (seconds() - start) * 1e-9);
  }
  return best;
}

/* `peak`, and again so long as a rate is above it: other programs ran while it
 * was measured. */
static double peak_over(double peak, double rate, Isa isa, int threads) {
  enum { TRIES = 8 };
  int all = workers();
  for (int try = 0; try < TRIES && rate > peak; try++) {
    peak = fmax(peak, fma_peak(isa, threads));
    set_workers(1); /* what one thread reaches, the machine does */
    peak = fmax(peak, fma_peak(isa, 1));
    set_workers(all);
  }
  return peak;
}

/* "0.475": a rate as a part of the peak; "-" where it stays above, which is
 * no part. */
static const char *part_of(char text[16], double rate, double peak) {
  if (rate > peak)
    strcpy(text, "-");
  else
    snprintf(text, 16, "%.3g", rate / peak);
  return text;
}

/* The clock in GHz: shifts and exclusive ors take a cycle each, and wait for
 * the one before. */
static double clock_rate(void) {
  enum { TURNS = 1 << 20, TRIES = 15 };
  double best = 0;
  for (int try = 0; try < TRIES; try++) {
    double from = seconds();
    uint64_t x = (uint64_t)(from * 1e9) | 1;
    for (int i = 0; i < TURNS; i++)
      x ^= x >> 7;
    if (x)
      best = fmax(best, 2 * TURNS / (seconds() - from) * 1e-9);
  }
  return best;
}

/* GB/s of a copy between two arrays of n numbers, its reading and its writing
 * both counted; where they fit a cache it is the cache's. 0 without the memory.
 * Takes some 10 ms, or four copies. */
static double copy_rate(idx n) {
  enum { TRIES = 3 };
  Error e = {0};
  double best = 0;
  idx repeats = 1 + (1 << 20) / n;
  const double bytes = 2 * sizeof(real) * (double)(n * repeats);
  real *x = grab(2 * n, sizeof(real), &e);
  /* pages that nobody has written are all one page of zeros */
  for (idx i = 0; x && i < n; i++)
    x[i] = 1;
  for (int try = -1; x && try < TRIES; try++) {
    double from = seconds();
    for (idx r = 0; r < repeats; r++) {
      PARALLEL
      for (idx i = 0; i < n; i += CHUNK)
        copy(x + n + i, x + i, at_most(n - i, CHUNK));
    }
    if (try >= 0)
      best = fmax(best, bytes / (seconds() - from) * 1e-9);
  }
  free(x);
  return best;
}

enum { WAYS = 3 };
static const char *const WAY_NAMES[WAYS] = {"xW", "dyW^T", "x^Tdy"};

/* GFLOP/s of c [m,n] = a [m,k] b [k,n] in the three ways that training
 * multiplies: both factors by rows; b by columns; a by columns, added to c.
 * Medians of rounds through the three. */
static int gemm_rates(Isa isa, int m, int n, int k, double rate[WAYS],
                      Error *e) {
  enum { ROUNDS = 15 };
  real *a = grab((idx)m * k, sizeof(real), e);
  real *b = grab((idx)k * n, sizeof(real), e);
  real *c = grab((idx)m * n, sizeof(real), e);
  if (!e->status) {
    const struct {
      Matrix a, b;
      bool add;
    } ways[WAYS] = {
      {rows_of(a, k), rows_of(b, n), false},
      {rows_of(a, k), transpose_of(b, k), false},
      {transpose_of(a, m), rows_of(b, n), true}};
    double flop = 2.0 * m * n * k, took[WAYS][ROUNDS];
    int repeats = 1 + (int)(2e7 / flop), rounds = flop > 1e10 ? 5 : ROUNDS;
    Rng rng = {1};
    for (idx i = 0; i < (idx)m * k; i++)
      a[i] = (real)(rng_uniform(&rng) - 0.5);
    for (idx i = 0; i < (idx)k * n; i++)
      b[i] = (real)(rng_uniform(&rng) - 0.5);
    for (int r = -1; r < rounds; r++)
      for (int w = 0; w < WAYS; w++) {
        double from = seconds();
        for (int i = 0; i < repeats; i++)
          matmul_at(isa, c, n, ways[w].a, ways[w].b, m, n, k, ways[w].add);
        if (r >= 0)
          took[w][r] = (seconds() - from) / repeats;
      }
    for (int w = 0; w < WAYS; w++)
      rate[w] = flop / median(took[w], rounds) * 1e-9;
  }
  free(a);
  free(b);
  free(c);
  return e->status;
}

/* Another program's figures, and whether one was of what ran. */
typedef struct Peer { Bytes text; bool met; } Peer;

/* The instruction set, and another program's figures: lines of two kinds, with
 * an empty string behind them. */
static int own_read(const Own *own, Isa *isa, Bytes *peer, Error *e) {
  *isa = own->isa ? (Isa)(own->isa - 1) : isa_best();
  if (*isa > isa_best())
    return fail(e, 2,
                "--isa: this machine does not have that instruction set. Try: "
                "--isa best");
  const char *file = own->peer;
  if (!file[0] || file_read(file, peer, e) || bytes_add(peer, "", 1, e))
    return e->status;
  const char *at = (const char *)peer->at;
  for (int line = 1; (*at || line == 1) && !e->status; line++) {
    const int n = (int)strcspn(at, "\n");
    int end = 0;
    double x = 0;
    if (sscanf(at, "step %*s %*d %lf%n", &x, &end) < 1)
      sscanf(at, "gemm %*d %*d %*d %*s %*d %lf%n", &x, &end);
    if (end + (at[end] == '\r') != n || !(x > 0 && x < INFINITY))
      fail(e, 1,
           "%s:%d: expected gemm M N K WAY THREADS GFLOPS or step NAME THREADS "
           "MS, found \"%.*s\". Try: python3 data/check/peer.py > FILE",
           file, line, n < 40 ? n : 40, at);
    at += n + (at[n] != 0);
  }
  return e->status;
}

/* "1.23": how many times the peer's speed this is, by its line that begins
 * with `key`. */
static const char *beside(char text[16], Peer *peer, const char *key,
                          double ours) {
  size_t n = strlen(key);
  *text = 0;
  const char *at = (const char *)peer->text.at;
  while (at) {
    if (!strncmp(at, key, n) && at[n] == ' ') {
      const double theirs = strtod(at + n, NULL);
      /* gemm has rates, step has times */
      const double times = *key == 'g' ? ours / theirs : theirs / ours;
      snprintf(text, 16, "%.3g", times);
      peer->met = true;
    }
    at = strchr(at, '\n');
    if (at)
      at++;
  }
  return text;
}

/* Frees the peer's figures; an error where none was of what was run. */
static int peer_close(Peer *peer, const Own *own, Error *e) {
  if (peer->text.at && !peer->met)
    fail(e, 1,
         "--peer %s: no line of it is of what ran on %d threads. Try: the "
         "sizes and --threads of its lines",
         own->peer, workers());
  bytes_free(&peer->text);
  return e->status;
}

/* bench gemm. Operations a cycle are those of one thread. */
static int bench_gemm(Settings *s, Error *e) {
  const Own *own = &s->own;
  Isa isa;
  Peer peer = {0};
  if (own_read(own, &isa, &peer.text, e))
    return e->status;
  double rate[WAYS], peak = fma_peak(isa, workers());
  if (gemm_rates(isa, own->m, own->n, own->k, rate, e))
    return e->status;
  double clock = clock_rate() * workers();
  peak = fmax(peak, fma_peak(isa, workers()));
  for (int w = 0; w < WAYS; w++)
    peak = peak_over(peak, rate[w], isa, workers());
  for (int w = 0, m = own->m, n = own->n, k = own->k; w < WAYS; w++) {
    char key[96], text[16], part[16];
    snprintf(key, sizeof key, "gemm %d %d %d %s %d", m, n, k, WAY_NAMES[w],
             workers());
    beside(text, &peer, key, rate[w]);
    printf("gflops=%.4g peak=%.4g ratio=%s m=%d n=%d k=%d way=%s isa=%s "
           "threads=%d fused=%d a_cycle=%.3g peak_a_cycle=%.3g%s%s\n",
           rate[w], peak, part_of(part, rate[w], peak), m, n, k, WAY_NAMES[w],
           ISA_NAMES[isa], workers(), fma_fuses(isa), rate[w] / clock,
           peak / clock, *text ? " times_peer=" : "", text);
  }
  return peer_close(&peer, own, e);
}

/* Multiply-adds count as two. Useful ones: what a mask hides, and scores made
 * again, do not count. Of attention, forward: 2 products of D for each
 * visible pair (of a prefix, none ahead of the query). */
static double attention_flops(const Config *c, int B, int T) {
  double seen = 0;
  idx N = config_rows(c, T);
  for (int l = 0; l < c->layers; l++)
    for (idx i = 0; i < N; i++) {
      idx w = c->window;
      seen += (double)(w && w < i + 1 ? w : i + 1);
    }
  return 4 * seen * B * c->heads * c->head_dim;
}

/* Of all matrices forward, a token: 2 for each weight. */
static double matrix_flops(const Model *m) {
  double weights = m->c.tied ? (double)m->c.vocab * m->c.dim : 0;
  for (int i = 0; i < m->n_tensors; i++)
    if (m->all[i]->matrix && m->all[i] != &m->wte && m->all[i] != &m->wpe)
      weights += (double)tensor_count(m->all[i]);
  return 2 * weights;
}

/* Of a step: a matrix costs its backward twice its forward, and so do
 * attention's two products. */
static double step_flops(const Model *m, int B, int T) {
  return 3 * (matrix_flops(m) * B * config_rows(&m->c, T) +
              attention_flops(&m->c, B, T));
}

/* One training: the median time of a step, its operations and tokens, and the
 * MB of all numbers that it keeps: parameters, gradients, AdamW's two moments,
 * the arrays of a pass. Of --steps, 1 to 15, after three, or as many, that warm
 * up. */
typedef struct Timed { double seconds, flop, tokens, mb; } Timed;
static Timed step_time(const Settings *s, double patience, Error *e) {
  Trainer t;
  if (trainer_create(&t, s, e))
    return (Timed){0};
  t.a.seen = 1; /* all threads at once, as after a first pass (14.2) */
  double took[15], all = 0;
  int n = 0, most = (int)fmin(fmax(s->train.steps, 1), 15);
  for (int i = -(int)at_most(most, 3);
       i < most && (n < 3 || all < patience) && !e->status; i++) {
    double from = seconds();
    trainer_step(&t, e);
    if (i < 0)
      continue;
    took[n] = seconds() - from;
    all += took[n++];
  }
  const Train *p = &s->train;
  double tokens = (double)p->batch * p->accumulate * s->model.context;
  double flop = step_flops(&t.m, p->batch, s->model.context) * p->accumulate;
  double mb = 1e-6 * sizeof(real) * ((double)t.a.size + 4 * (double)t.m.count);
  trainer_free(&t);
  return (Timed){e->status ? 0 : median(took, n), flop, tokens, mb};
}

/* Random letters: for a --vocab of fewer than the tokenizer's tokens. */
enum { LETTER_IDS = 27 };
static int letters_open(Data *d, const Source *s, int T, Error *e) {
  enum { LETTERS = 20000 };
  Rng rng = {1};
  (void)s;
  (void)T;
  for (int i = 0; i < LETTERS; i++) {
    int32_t id = (int32_t)rng_below(&rng, LETTER_IDS);
    ids_add(i < LETTERS / 10 ? &d->held : &d->train, &id, 1, e);
  }
  d->vocab = LETTER_IDS;
  d->end = d->bos = -1;
  return ids_add(&d->starts, &(int32_t){0}, 1, e);
}

/* What follows `key` and any " :\t" in the first line of Linux's file that
 * holds it. */
static const char *system_says(const char *path, const char *key, char *line,
                               int room) {
  FILE *f = fopen(path, "r");
  char *found = NULL;
  while (f && !found && fgets(line, room, f))
    found = strstr(line, key);
  if (f)
    fclose(f);
  if (!found)
    return "";
  found[strcspn(found, "\n")] = 0;
  return found + strlen(key) + strspn(found + strlen(key), " :\t");
}

/* bench step: whole training steps; memory_mb is the most that the program
 * held, where Linux says. */
static int bench_step(Settings *s, Error *e) {
  const Program letters = {.open = letters_open};
  const int vocab = s->model.vocab;
  if (vocab >= LETTER_IDS && vocab < 2048 && !s->data.text[0])
    s->data.program = &letters;
  double peak = fma_peak(isa_best(), workers());
  Timed t = step_time(s, INFINITY, e);
  peak = fmax(peak, fma_peak(isa_best(), workers()));
  if (e->status)
    return e->status;
  double rate = t.flop / t.seconds * 1e-9;
  char part[16];
  peak = peak_over(peak, rate, isa_best(), workers());
  char line[128];
  const char *held = system_says("/proc/self/status", "VmHWM", line,
                                 sizeof line);
  const double kib = strtod(held, NULL);
  printf("step_ms=%.4g tok_per_s=%.0f gflops=%.4g ratio=%s peak=%.1f "
         "threads=%d memory_mb=%.0f\n",
         1e3 * t.seconds, t.tokens / t.seconds, rate,
         part_of(part, rate, peak), peak, workers(), kib * 1024e-6);
  return 0;
}

/* The processor, its caches and how it multiplies and adds, in a line. */
static void say_machine(Isa isa) {
  char line[512], path[80];
  const char *name = system_says("/proc/cpuinfo", "model name", line,
                                 sizeof line);
  printf("%s; threads %d; caches", *name ? name : "processor not named",
         workers());
  for (int i = 0; i < 4; i++) {
    snprintf(path, sizeof path,
             "/sys/devices/system/cpu/cpu0/cache/index%d/type", i);
    if (!strcmp(system_says(path, "", line, sizeof line), "Instruction"))
      continue;
    snprintf(path, sizeof path,
             "/sys/devices/system/cpu/cpu0/cache/index%d/size", i);
    name = system_says(path, "", line, sizeof line);
    if (!*name && i == 0)
      name = "not named";
    printf(" %s", name);
  }
  printf("; %s, multiplies and adds %s; %s\n", ISA_NAMES[isa],
         fma_fuses(isa) ? "fused" : "apart",
         sizeof(real) == 4 ? "float" : "double");
}

/* A line of bench all: a product on so many threads, in each way. */
static void product_line(const int shape[3], int threads, Isa isa,
                         Peer *peer, Error *e) {
  const int m = shape[0], n = shape[1], k = shape[2];
  char key[96], text[16], part[16];
  double rate[WAYS], peak = fma_peak(isa, threads);
  if (gemm_rates(isa, m, n, k, rate, e))
    return;
  peak = fmax(peak, fma_peak(isa, threads));
  for (int w = 0; w < WAYS; w++)
    peak = peak_over(peak, rate[w], isa, threads);
  printf("%5d x %6d x %5d %8d %8.1f", m, n, k, threads, peak);
  for (int w = 0; w < WAYS; w++) {
    snprintf(key, sizeof key, "gemm %d %d %d %s %d", m, n, k, WAY_NAMES[w],
             threads);
    printf("  %5s %-8s", part_of(part, rate[w], peak),
           beside(text, peer, key, rate[w]));
  }
  putchar('\n');
  fflush(stdout);
}

/* A line of bench all: a step of the model with these settings. */
static void step_line(const char *name, const Settings *s, Peer *peer,
                      Error *e) {
  const int threads = workers();
  char key[96], text[16], part[16];
  double peak = fma_peak(isa_best(), threads);
  const Timed t = step_time(s, 12, e);
  if (e->status)
    return;
  const double rate = t.flop / t.seconds * 1e-9, ms = 1e3 * t.seconds;
  peak = fmax(peak, fma_peak(isa_best(), threads));
  peak = peak_over(peak, rate, isa_best(), threads);
  snprintf(key, sizeof key, "step %s %d", name, threads);
  printf("%-22s %7d %8.1f %6.0f  %5s %s\n", name, threads, ms, t.mb,
         part_of(part, rate, peak), beside(text, peer, key, ms));
  fflush(stdout);
}

/* Products m x n x k, and steps by their flags. */
static const int SHAPES[][3] = {{768, 768, 768},
                                {2048, 1536, 768},
                                {1024, 2048, 64},
                                {64, 2048, 1024},
                                {256, 50432, 768}};
#define B60M \
  "--dim 768 --layers 10 --heads 8 --ffn 1536 --vocab 50432 --batch 1"
static const char *const STEPS[][3] = {
  {"run", "", RUN_FLAGS},
  {"dim256",
   "--dim 256 --layers 6 --heads 4 --ffn 512 --context 256 --batch 8", ""},
  {"60M", "--context 256", B60M},
  {"60M-T2048", "--context 2048", B60M},
  {"gpt2",
   "--dim 768 --layers 12 --heads 12 --ffn 3072 --vocab 50257 --pos learned "
   "--norm layer --act gelutanh --linear-bias --tied --batch 4 --context 64",
   ""}};

/* bench all: the table of data/check/README.md; with --peer, beside each ratio
 * to the peak that to the peer. Products run on one thread and on all. */
static int bench_all(Settings *s, Error *e) {
  Isa isa;
  Peer peer = {0};
  const int most = workers();
  if (own_read(&s->own, &isa, &peer.text, e))
    return e->status;
  const char *times = peer.text.at ? ", times the peer" : "";
  say_machine(isa);
  printf("\n%-22s %7s %8s   of the peak%s\n%31s", "product", "threads", "peak",
         times, "");
  for (int w = 0; w < WAYS; w++)
    printf("  %-14s", WAY_NAMES[w]);
  putchar('\n');
  for (size_t i = 0; i < sizeof SHAPES / sizeof *SHAPES; i++)
    for (int threads = 1; threads <= most && !e->status;
         threads += most > 1 ? most - 1 : 1) {
      set_workers(threads);
      product_line(SHAPES[i], threads, isa, &peer, e);
      set_workers(most);
    }
  printf("\n%-22s %7s %8s %6s   of the peak%s\n", "step", "threads", "ms", "MB",
         times);
  for (size_t i = 0; i < sizeof STEPS / sizeof *STEPS && !e->status; i++) {
    Settings now = *s;
    settings_flags(&now, STEPS[i][1], MODEL | TRAIN | DATA, e);
    settings_flags(&now, STEPS[i][2], MODEL | TRAIN | DATA, e);
    if (!e->status)
      step_line(STEPS[i][0], &now, &peer, e);
  }
  return peer_close(&peer, &s->own, e);
}

/* The parts of a step, in its order. A part is run alone, on the arrays that a
 * step has left. */
typedef enum Part {
  PART_BATCH,
  PART_ZERO,
  PART_EMBED,
  PART_NORM,
  PART_LINEAR,
  PART_ROTATE,
  PART_ATTENTION,
  PART_FFN,
  PART_LOSS,
  PART_FFN_BACK,
  PART_ATTENTION_BACK,
  PART_LINEAR_BACK,
  PART_NORM_BACK,
  PART_EMBED_BACK,
  PART_CLIP,
  PART_STEP,
  PARTS_OF_STEP
} Part;

static void run_part(Trainer *t, Part part, Error *e) {
  const Config *c = &t->m.c;
  Acts *a = &t->a;
  Model *m = &t->m;
  int B = t->s.train.batch, T = t->s.model.context;
  int *targets = t->ids + (idx)B * T;
  idx N = config_rows(c, T), rows = B * N;
  const Tensor *bad;
  for (int l = 0; l < c->layers; l++) {
    LayerActs *la = &a->layer[l];
    Layer *w = &m->layer[l];
    if (part == PART_NORM) {
      norm_forward(la->n1, la->n1stat, la->x, &w->norm1, rows);
      norm_forward(la->n2, la->n2stat, la->s1, &w->norm2, rows);
    } else if (part == PART_NORM_BACK) {
      norm_backward(a->dx, a->dn, la->x, la->n1stat, &w->norm1, rows);
      norm_backward(a->dx, a->dn, la->s1, la->n2stat, &w->norm2, rows);
    } else if (part == PART_LINEAR) {
      linear_forward(la->q, la->n1, &w->wq, rows);
      linear_forward(la->k, la->n1, &w->wk, rows);
      linear_forward(la->v, la->n1, &w->wv, rows);
      linear_forward(la->s1, la->osum, &w->wo, rows);
    } else if (part == PART_LINEAR_BACK) {
      linear_backward(a->dosum, false, a->dh, la->osum, &w->wo, rows);
      linear_backward(a->dn, false, a->dq, la->n1, &w->wq, rows);
      linear_backward(a->dn, true, a->dk, la->n1, &w->wk, rows);
      linear_backward(a->dn, true, a->dv, la->n1, &w->wv, rows);
    } else if (part == PART_ROTATE && c->pos == POS_ROTARY) {
      rotate(c, a, l, la->q, rows, N, c->heads, 1);
      rotate(c, a, l, la->k, rows, N, c->kv_heads, 1);
      /* and back, as the backward does */
      rotate(c, a, l, la->q, rows, N, c->heads, -1);
      rotate(c, a, l, la->k, rows, N, c->kv_heads, -1);
    } else if (part == PART_ATTENTION)
      (m->plain ? attention_forward : tiled_forward)(m, a, l, B, N);
    else if (part == PART_ATTENTION_BACK)
      (m->plain ? attention_backward : tiled_backward)(m, a, l, B, N);
    else if (part == PART_FFN)
      ffn_forward(c, w, la, la->s2, la->n2, rows);
    else if (part == PART_FFN_BACK)
      ffn_backward(c, w, la, a, a->dn, a->dh, la->n2, rows);
  }
  if (part == PART_BATCH)
    data_batch(&t->data, &t->s.data, B, T, t->ids, targets, e);
  if (part == PART_ZERO)
    model_zero_grads(m);
  if (part == PART_EMBED)
    embed_forward(m, a, t->ids, B, T);
  if (part == PART_LOSS)
    model_loss(m, a, targets, B, T, 1);
  if (part == PART_EMBED_BACK)
    embed_backward(m, a, t->ids, B, T, a->dh);
  if (part == PART_CLIP)
    gradient_norm(m, &bad);
  if (part == PART_STEP)
    trainer_update(t, 1);
}

/* What a part does in a step: operations, or numbers that it moves. */
typedef struct PartWork {
  const char *name;
  double flop, numbers;
} PartWork;

/* The work of all parts of a step of B sequences of T tokens. */
static void step_work(const Model *m, int B, int T,
                      PartWork work[PARTS_OF_STEP]) {
  const Config *c = &m->c;
  const double rows = (double)B * config_rows(c, T), C = c->dim, L = c->layers;
  const double V = c->vocab, P = (double)m->count;
  const double Q = c->heads * c->head_dim, K = c->kv_heads * c->head_dim;
  const double O = c->combine == COMBINE_ADD ? c->head_dim : Q;
  const double linear = 2 * rows * L * C * (Q + 2 * K + O);
  const double ffn = 2 * rows * L * C * c->ffn * (config_gated(c) ? 3 : 2);
  const double attention = attention_flops(c, B, T);
  const double turned = c->pos == POS_ROTARY ? 4 * L * rows * (Q + K) : 0;
  const PartWork all[PARTS_OF_STEP] = {
    [PART_BATCH] = {"batch", 0, 0},
    [PART_ZERO] = {"zero gradients", 0, P},
    [PART_EMBED] = {"embed", 0, 2 * rows * C},
    [PART_NORM] = {"norms", 0, 4 * L * rows * C},
    [PART_LINEAR] = {"q, k, v, o", linear, 0},
    [PART_ROTATE] = {"rotary", 0, turned},
    [PART_ATTENTION] = {"attention", attention, 0},
    [PART_FFN] = {"ffn", ffn, 0},
    [PART_LOSS] = {"logits and loss, both ways", 6 * rows * V * C, 0},
    [PART_FFN_BACK] = {"ffn, backward", 2 * ffn, 0},
    [PART_ATTENTION_BACK] = {"attention, backward", 2 * attention, 0},
    [PART_LINEAR_BACK] = {"q, k, v, o, backward", 2 * linear, 0},
    [PART_NORM_BACK] = {"norms, backward", 0, 8 * L * rows * C},
    [PART_EMBED_BACK] = {"embed, backward", 0, 3 * rows * C},
    [PART_CLIP] = {"gradient norm", 0, P},
    [PART_STEP] = {"AdamW", 0, 7 * P}};
  memcpy(work, all, sizeof all);
}

enum { OPS_ROUNDS = 7, COPY_MOST = (1 << 27) / (int)sizeof(real) };

/* Seconds of a whole step and of each part of one, part by part, round by
 * round. Round -1 warms up. */
static int ops_time(Trainer *t, double took[PARTS_OF_STEP + 1][OPS_ROUNDS],
                    Error *e) {
  for (int i = -1; i < OPS_ROUNDS && !e->status; i++)
    for (int part = -1; part < PARTS_OF_STEP && !e->status; part++) {
      double from = seconds();
      if (part < 0)
        trainer_step(t, e);
      else
        run_part(t, (Part)part, e);
      if (i >= 0)
        took[part + 1][i] = seconds() - from;
    }
  return e->status;
}

/* The line of a part that takes `each` of a step's seconds. */
static void part_line(const PartWork *w, double each, double step,
                      double peak) {
  const double gflop = w->flop / each * 1e-9;
  const double gb = w->numbers * sizeof(real) / each * 1e-9;
  char ratio[16];
  printf("%-28s %9.3f %6.1f%%", w->name, 1e3 * each, 100 * each / step);
  if (gflop > 0)
    printf(" %8.1f GFLOP/s %6s of the peak", gflop,
           part_of(ratio, gflop, peak));
  else if (gb > 0) {
    const idx n = at_most((idx)w->numbers / 2, COPY_MOST);
    double memory = 0;
    for (int try = 0; try < 8 && memory < gb; try++)
      memory = fmax(memory, copy_rate(n));
    printf(" %8.1f GB/s    %6s of a copy", gb, part_of(ratio, gb, memory));
  }
  putchar('\n');
}

/* The table of a step of A batches, B sequences in all. */
static void ops_print(const Trainer *t, int A, int B, double peak,
                      double took[PARTS_OF_STEP + 1][OPS_ROUNDS]) {
  const int T = t->s.model.context;
  PartWork work[PARTS_OF_STEP];
  step_work(&t->m, B, T, work);
  const double step = median(took[0], OPS_ROUNDS);
  const double all = step_flops(&t->m, B, T) / step * 1e-9;
  double sum = 0;
  char ratio[16];
  for (int part = 0; part < PARTS_OF_STEP; part++) {
    const double each = A * median(took[part + 1], OPS_ROUNDS);
    const double rate = work[part].flop / each * 1e-9;
    peak = peak_over(peak, fmax(all, rate), isa_best(), workers());
  }
  printf("%d thread%s; peak %.1f GFLOP/s, a copy that moves 256 MiB %.1f GB/s; "
         "a step is %.0f tokens\n\n",
         workers(), workers() > 1 ? "s" : "", peak, copy_rate(COPY_MOST),
         (double)B * T);
  printf("%-28s %9s %7s   %s\n", "part of a step", "ms", "share",
         "rate, and its ratio");
  for (int part = 0; part < PARTS_OF_STEP; part++) {
    /* once in a step, or in each batch */
    const double times = part == PART_ZERO || part >= PART_CLIP ? 1 : A;
    const double each = times * median(took[part + 1], OPS_ROUNDS);
    sum += each;
    part_line(&work[part], each, step, peak);
  }
  printf("%-28s %9.3f %6.1f%%\n", "the rest", 1e3 * (step - sum),
         100 * (1 - sum / step));
  printf("%-28s %9.3f %6.1f%% %8.3g GFLOP/s %6s of the peak\n", "whole step",
         1e3 * step, 100.0, all, part_of(ratio, all, peak));
}

/* bench ops: where a step's time goes. For a part that multiplies, its rate as
 * a ratio to the peak; for one that moves numbers from array to array, GB/s,
 * counting every array once for reading and once for writing, as a ratio to a
 * copy of as many; "-" where it stays above either. What the parts do not cover
 * is sums of the residual stream, kernels phi and the like. */
static int bench_ops(Settings *s, Error *e) {
  double took[PARTS_OF_STEP + 1][OPS_ROUNDS];
  Trainer t;
  if (trainer_create(&t, s, e))
    return e->status;
  t.a.seen = 1; /* all threads, as in step_time */
  const int A = s->train.accumulate, B = A * s->train.batch;
  double peak = fma_peak(isa_best(), workers());
  ops_time(&t, took, e);
  peak = fmax(peak, fma_peak(isa_best(), workers()));
  if (!e->status)
    ops_print(&t, A, B, peak, took);
  trainer_free(&t);
  return e->status;
}

/* bench length: time and memory of a step by its length, T = 128, 256, .. up to
 * --context, or a shorter --context alone, with one sequence a step. A token's
 * time outside attention should not depend on T, its time in attention be
 * proportional to T, as all memory but the parameters'. */
static int bench_length(Settings *s, Error *e) {
  enum { COUNT = 3 };
  int longest = s->model.context;
  s->train.batch = s->train.accumulate = 1;
  printf("%7s %10s %21s %21s %11s %9s\n", "T", "ms a step",
         "us a token in attn", "us a token elsewhere", "activations", "in all");
  for (int T = longest < 128 ? longest : 128; T <= longest && !e->status;
       T *= 2) {
    Trainer t;
    double step[COUNT], attn[COUNT];
    s->model.context = T;
    if (trainer_create(&t, s, e))
      break;
    for (int i = -1; i < COUNT && !e->status; i++) {
      double from = seconds(), half;
      trainer_step(&t, e);
      half = seconds();
      run_part(&t, PART_ATTENTION, e);
      run_part(&t, PART_ATTENTION_BACK, e);
      if (i >= 0) {
        step[i] = half - from;
        attn[i] = seconds() - half;
      }
    }
    if (!e->status) {
      double whole = median(step, COUNT), in = median(attn, COUNT);
      in = fmin(in, whole);   /* they are timed apart */
      double mb = sizeof(real) * 1e-6;
      printf("%7d %10.3g %21.2f %21.2f %8.1f MB %6.0f MB\n", T, 1e3 * whole,
             1e6 * in / T, 1e6 * (whole - in) / T, mb * (double)t.a.size,
             mb * ((double)t.a.size + 4 * (double)t.m.count));
      fflush(stdout);
    }
    trainer_free(&t);
  }
  return e->status;
}

static const Verb BENCH_VERBS[] = {
  {"all", "", OWN | GENERAL, "this machine: parts of its peak", bench_all},
  {"gemm", "", OWN | GENERAL, "the matrix multiply, three orientations",
   bench_gemm},
  {"step", "", MODEL | TRAIN | DATA | GENERAL,
   "whole training steps, 15 at most", bench_step},
  {"ops", "", MODEL | TRAIN | DATA | GENERAL,
   "the share of each operator in a step", bench_ops},
  {"length", "", MODEL | TRAIN | DATA | GENERAL,
   "time and memory of a step of one sequence, by its length", bench_length},
  SINK_VERBS {0}
};

int main(int argc, char **argv) {
  const Program bench = {.name = "bench",
                         .verbs = BENCH_VERBS,
                         .other = BENCH_VERBS};
  char *all[] = {argv[0], "all", NULL};
  if (argc > 1)
    return sink_main(&bench, argc, argv);
  return sink_main(&bench, 2, all);
}
