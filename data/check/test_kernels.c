/* test_kernels.c - matrix multiply and vector maths: chapter 13 of sink.c.
 * `./test exhaustive` tries the vector maths on every float.
 *
 *     cc -O2 -DSINK_DOUBLE data/check/test_kernels.c -o test -lm && ./test
 *
 * SPDX-License-Identifier: MIT
 */
#define _POSIX_C_SOURCE 200809L   /* as in sink.c, before any header */
#define _FILE_OFFSET_BITS 64
#include <stdbool.h>
#include <stdlib.h>

static bool no_memory;
static void *malloc_or_not(size_t n) { return no_memory ? NULL : malloc(n); }
#define malloc malloc_or_not

#define SINK_NO_MAIN
#include "../paper/options.h"
#include "../later/later.h"
#include "../../sink.c"
#include "../later/later.c"
#include "harness.c"

/* =============================================================================
 * 13  Matrix multiply and vector maths */

/* p, whose c was `was` before: the largest error, in units of its bound.
 * Nothing may be written between the rows of c. */
static double product_error(Test *t, const Product *p, const real *was) {
  const Matrix a = p->a, b = p->b;
  double worst = 0;
  for (idx i = 0; i < p->m; i++)
    for (idx j = 0; j < p->ldc; j++) {
      double want = (double)was[i * p->ldc + j], both = fabs(want);
      if (j < p->n && !p->add)
        want = both = 0;
      for (idx x = 0; x < p->k && j < p->n; x++) {
        double y = (double)a.at[i * a.row + x * a.col] *
                   (double)b.at[x * b.row + j * b.col];
        want += y;
        both += fabs(y);
      }
      double error = fabs((double)p->c[i * p->ldc + j] - want);
      if (j >= p->n) {
        fact(t, error == 0, "a number between the rows changed");
        continue;
      }
      double sums = (double)(p->k + 2) * both;
      double bound = fmin(sums, 100 * sqrt((double)p->k + 1));
      worst = larger(worst, error / (REAL_EPS * bound + 1e-300));
    }
  return worst;
}

/* Sizes m, n, k of product number k: of 1200 out of SIZES, then large ones. */
static void product_sizes(int k, Rng *r, idx size[3]) {
  static const int SIZES[] = {0, 1, 2, 3, 5, 8, 13, 17, 33, 64, 97};
  static const int LARGE[][3] = {{17, 192, 643},
                                 {101, 209, 257},
                                 {97, 803, 40},
                                 {200, 97, 257},
                                 {16, 703, 256}};
  for (int i = 0; i < 3; i++)
    size[i] = k < 1200 ? SIZES[rng_below(r, 11)] : LARGE[k / 24 % 5][i];
}

/* Product number k, in the three ways to make it. */
static void product_holds(Test *t, int k, Rng *r) {
  enum { A, B, C, WAS, HERE, SHARED, ARRAYS };
  idx size[3];
  product_sizes(k, r, size);
  idx m = size[0], n = size[1], inner = size[2], ldc = n + 3, nc = m * ldc;
  bool ta = k & 1, tb = k & 2, add = k & 4;
  idx lda = (ta ? m : inner) + (idx)rng_below(r, 3);
  idx ldb = (tb ? inner : n) + (idx)rng_below(r, 3);
  Isa isa = (Isa)(k / 8 % ((int)isa_best() + 1));
  idx length[ARRAYS] = {
    (ta ? inner : m) * lda, (tb ? n : inner) * ldb, nc, nc, nc, nc};
  real *of[ARRAYS];
  for (int i = A; i < ARRAYS; i++)
    of[i] = reals(length[i]);
  for (int i = A; i <= C; i++)
    for (idx j = 0; j < length[i]; j++)
      of[i][j] = (real)rng_normal(r);
  for (int i = WAS; i < ARRAYS; i++)
    copy(of[i], of[C], nc);
  Matrix a = ta ? transpose_of(of[A], lda) : rows_of(of[A], lda);
  Matrix b = tb ? transpose_of(of[B], ldb) : rows_of(of[B], ldb);
  const Product p = {of[C], ldc, a, b, m, n, inner, add};
  matmul_at(isa, of[C], ldc, a, b, m, n, inner, add);
  matmul(of[SHARED], ldc, a, b, m, n, inner, add);
  if (isa == isa_best())
    matmul_here(of[HERE], ldc, a, b, m, n, inner, add);
  else
    product_here(isa, k & 8, (Product){of[HERE], ldc, a, b, m, n, inner, add});
  size_t bytes = (size_t)nc * sizeof(real);
  fact(t,
       !memcmp(of[C], of[HERE], bytes) &&
           (isa != isa_best() || !memcmp(of[C], of[SHARED], bytes)),
       "the three differ at %lld %lld %lld", m, n, inner);
  double worst = product_error(t, &p, of[WAS]);
  within(t, worst, 0, 1, "%lld x %lld x %lld, in units of its bound", m, n,
         inner);
  for (int i = A; i < ARRAYS; i++)
    free(of[i]);
}

/* c = a b and c += a b at odd sizes, both orientations of either factor and
 * every instruction set, against sums in double: within (k + 2) eps of the sum
 * of absolute products and 100 eps sqrt(k + 1), and nothing written between the
 * rows of c. matmul and matmul_here give the bits of the best set. The last 120
 * are shared by 1 to 5 threads, three sizes in the packed form and two in
 * place: all have the bits of the form in place on one thread. */
static void matmul__sizes(Test *t) {
  Rng r = {7};
  const int before = workers();
  for (int k = 0; k < 1320; k++) {
    set_workers(k < 1200 ? 1 : 1 + k % 5);
    product_holds(t, k, &r);
  }
  set_workers(before);
  note(t, "%d instruction sets", (int)isa_best() + 1);
}

/* A NaN stays in its row or column, and infinities multiply as arithmetic
 * has them. */
static void matmul__nan(Test *t) {
  enum { M = 53, N = 37, K = 41 };
  for (int kind = 0; kind < 4; kind++) {
    real a[M * K], b[K * N], c[M * N];
    for (int i = 0; i < M * K; i++)
      a[i] = 1;
    for (int i = 0; i < K * N; i++)
      b[i] = 1;
    Matrix A = kind & 1 ? transpose_of(a, M) : rows_of(a, K);
    Matrix B = kind & 2 ? transpose_of(b, K) : rows_of(b, N);
    a[52 * A.row + 40 * A.col] = (real)NAN;
    b[40 * B.row + 36 * B.col] = (real)INFINITY;
    a[3 * A.row + 40 * A.col] = 0; /* 0 times infinity */
    /* a way is a set, and packed or not */
    for (int way = 0; way < 2 * ((int)isa_best() + 1); way++) {
      product_here((Isa)(way / 2), way % 2,
                   (Product){c, N, A, B, M, N, K, false});
      for (int at = 0; at < M * N; at++) {
        const int i = at / N, j = at % N;
        const double x = (double)c[at];
        bool holds = x == (i == 3 ? K - 1 : K);
        if (j == 36)
          holds = isinf(x);
        if (i == 52 || (i == 3 && j == 36))
          holds = isnan(x);
        fact(t, holds, "c(%d,%d) = %g, way %d, orientation %d", i, j, x, way,
             kind);
      }
    }
  }
}

/* Without memory for its panels a product has the same bits. */
static void matmul__no_memory(Test *t) {
  enum { M = 101, N = 209, K = 257 };
  real *a = reals(M * K), *b = reals(K * N);
  real *c[2] = {reals(M * N), reals(M * N)};
  Rng r = {3};
  for (int i = 0; i < M * K; i++)
    a[i] = (real)rng_normal(&r);
  for (int i = 0; i < K * N; i++)
    b[i] = (real)rng_normal(&r);
  for (int way = 0; way < 4 * ((int)isa_best() + 1); way++) {
    const Matrix A = way & 2 ? transpose_of(a, M) : rows_of(a, K);
    for (int k = 0; k < 2; k++) {
      no_memory = k;
      product_here((Isa)(way / 4), way & 1,
                   (Product){c[k], N, A, rows_of(b, N), M, N, K, false});
    }
    no_memory = false;
    fact(t, same_numbers(M * N, c[0], c[1]), "way %d", way);
  }
  free(a);
  free(b);
  free(c[0]);
  free(c[1]);
}

/* -1 + (1 + e)(1 - e) is -e^2 when the multiply-add rounds once, and 0 when the
 * product is rounded first: one of both at every instruction set. ./bench gemm
 * says which. */
static void matmul__rounds_one_way(Test *t) {
  const real e = (real)REAL_EPS, a[] = {-1, 1 + e}, b[] = {1, 1 - e};
  for (Isa isa = ISA_BASE; isa <= isa_best(); isa++) {
    real c[1];
    matmul_at(isa, c, 1, rows_of(a, 2), rows_of(b, 1), 1, 1, 2, false);
    fact(t, c[0] == 0 || c[0] == -e * e, "set %d: %g", (int)isa, (double)c[0]);
  }
}

/* Units in the last place of `want` between got and want, denormal
 * results included. */
static double ulps(real got, long double want) {
  const bool single = REAL_EPS > 1e-10;
  const int digits = single ? FLT_MANT_DIG : DBL_MANT_DIG;
  const int least = single ? -149 : -1074;
  const long double most = single ? (long double)FLT_MAX : (long double)DBL_MAX;
  if (isinf((double)got) || want > most)
    return isinf((double)got) && want > most * (1 - REAL_EPS) ? 0 : 1e9;
  int e;
  frexpl(want, &e);
  const int place = e - digits < least ? least : e - digits;
  long double unit = ldexpl(1, place);
  return (double)(fabsl((long double)got - want) / unit);
}

/* The functions of 13.3 and later.c's tanh, and a bound of the error that these
 * state, in ulp of a float. */
typedef enum VecOp {
  VEC_EXP, VEC_SIGMOID, VEC_SQRT, VEC_CUMULATIVE, VEC_LOG, VEC_TANH, VEC_POW
} VecOp;
static Spans *const *const SPANS_OF[] = {
  exp_for, sigmoid_for, sqrt_for, cumulative_for, log_for, tanh_for, pow_for};
static const struct VecRow {
  const char *name;
  VecOp op;
  real p;
  double bound;
} VEC_ROWS[] = {
  {"exp", VEC_EXP, 0, 1.1},
  {"sigmoid", VEC_SIGMOID, 0, 2.5},
  {"sqrt", VEC_SQRT, 0, 0.8},
  {"cumulative", VEC_CUMULATIVE, 0, 4.8},
  {"log", VEC_LOG, 0, 0.51},
  {"tanh", VEC_TANH, 0, 3},
  {"pow -0.25", VEC_POW, (real)-0.25, 0.54},
  {"pow 2.5", VEC_POW, (real)2.5, 0.54}};
enum {
  VEC_ROWS_COUNT = sizeof VEC_ROWS / sizeof VEC_ROWS[0],
  PATTERNS = 1 << 24
};

/* By libm, in the next wider type. tcc 0.9.27 loses f(a) in g(f(a), (long
 * double)b): `power`. */
#define BY_LIBM(type, f) \
    { \
      type d = (type)x, power = (type)p; \
      switch (op) { \
      case VEC_EXP: return exp##f(d); \
      case VEC_SIGMOID: \
        if (d < 0) \
          return exp##f(d) / (1 + exp##f(d)); \
        return 1 / (1 + exp##f(-d)); \
      case VEC_SQRT: return sqrt##f(d); \
      case VEC_CUMULATIVE: return erfc##f(-d * sqrt##f((type)0.5)) / 2; \
      case VEC_LOG: return log##f(d); \
      case VEC_TANH: return tanh##f(d); \
      default: return pow##f(fabs##f(d), power); \
      } \
    }
static long double vec_want(VecOp op, real x, real p) {
  if (REAL_EPS > 1e-10)
    BY_LIBM(double, )
  BY_LIBM(long double, l)
}

/* A float of these bits; in the double build a double that begins so. */
static real real_of_bits(uint32_t bits) {
  real x;
  uint64_t wide = (uint64_t)bits << 32 | (bits * 2654435761u);
  if (sizeof x == sizeof bits)
    memcpy(&x, &bits, sizeof bits);
  else
    memcpy(&x, &wide, sizeof x);
  return x;
}

typedef struct Worst {
  double ulp;
  real x, y;
  Isa isa;
} Worst;

/* The worst error of one function over every stride-th pattern from `from` on,
 * at every instruction set. 1e9 where a NaN or an infinity is missing or out
 * of place. */
static Worst vec_worst(const struct VecRow *r, uint64_t from, uint64_t to,
                       uint64_t stride) {
  enum { BATCH = 1021 };   /* no multiple of a vector's width */
  Worst w = {0};
  real x[BATCH], y[3][BATCH];
  while (from < to) {
    int n = 0;
    for (; n < BATCH && from < to; from += stride)
      x[n++] = real_of_bits((uint32_t)from);
    for (Isa isa = ISA_BASE; isa <= isa_best(); isa++)
      map(SPANS_OF[r->op][isa], n, y[isa], x, r->p);
    for (int i = 0; i < n; i++) {
      long double want = vec_want(r->op, x[i], r->p);
      for (Isa isa = ISA_BASE; isa <= isa_best(); isa++) {
        real got = y[isa][i];
        const bool nan_here = isnan((double)got), nan_there = isnan(want);
        /* it is rounded as well as can be, or NaN where it must be */
        if (got == (real)want || (nan_here && nan_there))
          continue;
        double ulp = nan_here || nan_there ? 1e9 : ulps(got, want);
        if (ulp > w.ulp)
          w = (Worst){ulp, x[i], got, isa};
      }
    }
  }
  return w;
}

/* Each function over patterns of every exponent, a stride apart, or (`make
 * exhaustive`, stride 1) over every float. The double build calls libm, and its
 * erfc sees a rounded argument. */
static void vec_scan(Test *t, uint64_t stride) {
  static Worst part[256];
  for (int k = 0; k < VEC_ROWS_COUNT; k++) {
    const struct VecRow *r = &VEC_ROWS[k];
    Worst w = {0};
    PARALLEL
    for (int c = 0; c < 256; c++)
      part[c] = vec_worst(r, (uint64_t)c * PATTERNS + (uint64_t)c * 37 % stride,
                          (uint64_t)(c + 1) * PATTERNS, stride);
    for (int c = 0; c < 256; c++)
      if (part[c].ulp > w.ulp)
        w = part[c];
    double bound = r->op == VEC_CUMULATIVE ? 2000 : 4;
    if (REAL_EPS > 1e-10)
      bound = r->bound;
    within(t, w.ulp, 0, bound, "ulp of %s(%.9g), set %d", r->name, (double)w.x,
           (int)w.isa);
    if (stride == 1)
      printf("%-12s at most %.4f ulp, at %.9g (%a) at set %d: %.9g\n", r->name,
             w.ulp, (double)w.x, (double)w.x, (int)w.isa, (double)w.y);
  }
}

static void vec_map__accuracy(Test *t) {
  vec_scan(t, REAL_EPS > 1e-10 ? 2039 : 16381);
}
static void vec_map__every_float(Test *t) { vec_scan(t, 1); }

/* NaN, infinities, zeros and what overflows or vanishes, at every
 * instruction set. */
static void vec_map__special(Test *t) {
  const real inf = (real)INFINITY, nan = (real)NAN, least = real_of_bits(1);
  const real in[] = {
    -inf, inf, nan, 0, (real)-0.0, 1, -1, 10000, -10000, least};
  const real half = (real)0.5, e = (real)exp(1);
  const real tiny = (real)log((double)least);
  const struct {
    VecOp op;
    real p, out[10];
  } ROWS[] = {
    {VEC_EXP, 0, {0, inf, nan, 1, 1, e, 1 / e, inf, 0, 1}},
    {VEC_SIGMOID, 0, {0, 1, nan, half, half, e / (1 + e), 1 / (1 + e), 1, 0,
                      half}},
    {VEC_SQRT, 0, {nan, inf, nan, 0, 0, 1, nan, 100, nan,
                   (real)sqrt((double)least)}},
    {VEC_CUMULATIVE, 0, {0, 1, nan, half, half, (real)0.84134474606854293,
                         (real)0.15865525393145707, 1, 0, half}},
    {VEC_LOG, 0, {nan, inf, nan, -inf, -inf, 0, nan, (real)log(1e4), nan,
                  tiny}},
    {VEC_TANH, 0, {-1, 1, nan, 0, 0, (real)tanh(1), (real)-tanh(1), 1, -1,
                   least}},
    {VEC_POW, 2, {inf, inf, nan, 0, 0, 1, 1, (real)1e8, (real)1e8, 0}},
    {VEC_POW, -2, {0, 0, nan, inf, inf, 1, 1, (real)1e-8, (real)1e-8, inf}},
    {VEC_POW, half, {inf, inf, nan, 0, 0, 1, 1, 100, 100,
                     (real)sqrt((double)least)}}};
  for (Isa isa = ISA_BASE; isa <= isa_best(); isa++)
    EACH (r, ROWS) {
      real out[10];
      map(SPANS_OF[ROWS[r].op][isa], 10, out, in, ROWS[r].p);
      EACH (i, out) {
        const double want = (double)ROWS[r].out[i], got = (double)out[i];
        const bool near = isfinite(want) &&
                          fabs(got - want) <= 4 * REAL_EPS * fabs(want);
        bool holds = got == want || near;
        if (isnan(want))
          holds = isnan(got);
        fact(t, holds,
             "set %d, function %d, p %g of %g: %.9g and not %.9g", (int)isa,
             (int)ROWS[r].op, (double)ROWS[r].p, (double)in[i], got, want);
      }
    }
}

/* An element's bits are its own: whatever stands before and behind it, and
 * how many. */
static void vec_map__places(Test *t) {
  enum { ROOM = 100 };
  real x[ROOM], whole[ROOM], y[ROOM + 1];
  Rng r = {5};
  for (int i = 0; i < ROOM; i++)
    x[i] = (real)(4 * rng_normal(&r));
  for (Isa isa = ISA_BASE; isa <= isa_best(); isa++)
    EACH (k, VEC_ROWS) {
      const struct VecRow *row = &VEC_ROWS[k];
      map(SPANS_OF[row->op][isa], ROOM, whole, x, row->p);
      for (int from = 0; from < ROOM; from += 7)
        for (int n = 0; from + n <= ROOM; n++) {
          copy(y, x + from, n);
          y[n] = 77;
          map(SPANS_OF[row->op][isa], n, y, y, row->p);
          bool same = y[n] == 77;
          for (int i = 0; i < n; i++)
            same = same &&
                   (y[i] == whole[from + i] ||
                    (isnan((double)y[i]) && isnan((double)whole[from + i])));
          fact(t, same, "%s of %d from %d, set %d", row->name, n, from,
               (int)isa);
        }
    }
}

/* Sums and maximum of every length from 0, so that every tail of a vector
 * loop is met. */
static void vec__lengths(Test *t) {
  real x[300], y[301], z[300];
  Rng r = {4};
  for (int i = 0; i < 300; i++)
    x[i] = (real)rng_normal(&r);
  for (int n = 0; n < 300; n++) {
    double sum = 0, dot = 0, size = 0, both = 0, most = -INFINITY;
    for (int i = 0; i < n; i++) {
      z[i] = x[299 - i];
      sum += (double)x[i];
      size += fabs((double)x[i]);
      dot += (double)x[i] * (double)z[i];
      both += fabs((double)x[i] * (double)z[i]);
      most = fmax(most, (double)x[i]);
    }
    within(t, (double)vec_sum(n, x), sum, (8 + n / 8.0) * REAL_EPS * size,
           "sum of %d", n);
    within(t, (double)vec_dot(n, x, z), dot, (8 + n / 8.0) * REAL_EPS * both,
           "dot of %d", n);
    fact(t, (double)vec_max(n, x) == most, "max of %d is %g", n,
         (double)vec_max(n, x));
    for (Isa isa = ISA_BASE; n >= PARTS && isa <= isa_best(); isa++) {
      within(t, (double)fold_for[isa](false, n, x, NULL), sum,
             (8 + n / 8.0) * REAL_EPS * size, "sum of %d, set %d", n, (int)isa);
      within(t, (double)fold_for[isa](false, n, x, z), dot,
             (8 + n / 8.0) * REAL_EPS * both, "dot of %d, set %d", n, (int)isa);
      fact(t, (double)fold_for[isa](true, n, x, NULL) == most,
           "max of %d, set %d", n, (int)isa);
    }
    copy(y + 1, x, n);
    fact(t,
         vec_sum(n, y + 1) == vec_sum(n, x) &&
             vec_dot(n, y + 1, z) == vec_dot(n, x, z),
         "sums of %d moved", n);
    y[n] = 77;
    vec_exp(n, y, x, x[299]);
    for (int i = 0; i < n; i++)
      fact(t, ulps(y[i], expl((long double)(x[i] - x[299]))) <= 4,
           "exp, %d of %d", i, n);
    fact(t, y[n] == 77, "exp of %d writes past its end", n);
  }
  const real odd[] = {1, (real)NAN, 3, -5};
  fact(t, vec_max(4, odd) == 3 && vec_max(0, odd) == (real)-INFINITY,
       "max with NaN, of nothing");
  fact(t, isnan((double)vec_sum(4, odd)) && isnan((double)vec_dot(4, odd, odd)),
       "NaN in a sum");
  fact(t, vec_sum(0, odd) == 0 && vec_dot(0, odd, odd) == 0, "sums of nothing");
}

static const TestEntry TESTS[] = {
  RUNS(matmul__sizes), RUNS(matmul__nan), RUNS(matmul__no_memory),
  RUNS(matmul__rounds_one_way),
  RUNS(vec_map__accuracy), RUNS(vec_map__special), RUNS(vec_map__places),
  RUNS(vec__lengths)};

int main(int argc, char **argv) {
  /* this takes minutes, on all cores */
  if (argc > 1 && !strcmp(argv[1], "exhaustive")) {
    Test t = {0};
    double start = seconds();
    vec_map__every_float(&t);
    report("vec_map__every_float", &t, seconds() - start);
    return t.wrong > 0;
  }
  return tests_run(TESTS, sizeof TESTS / sizeof *TESTS, argc, argv,
                   (Test){.after = NULL});
}
