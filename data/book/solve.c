/* solve.c - the tests of the puzzles, run by `make solve` on out/puzzle.c.
 *
 *     cc -I. -DSINK_DOUBLE data/book/solve.c -o out/solve -lm
 *     ./out/solve softmax__           the tests of one puzzle
 *
 * SPDX-License-Identifier: MIT
 *
 * PUZZLE is sink.c with one body to be written (puzzles.txt). The tests NAME__*
 * hold puzzle NAME. For the gradient of a norm, a row or a block differences
 * come first: they need no other source than its own forward. For a head numbers
 * by hand do: they name the line. test_sink.c's slow model follows. What `row`
 * or head_scores leaves unset is NaN here. */
#ifndef PUZZLE
#define PUZZLE "out/puzzle.c"
#endif
#define SINK_NO_MAIN
#include PUZZLE
#include "test_sink.c"

/* ----------
 * 1  What the tests share */

/* df/dh at 0 by differences of fourth order, from f at h, -h, 2h, -2h. */
static const double AT[] = {1, -1, 2, -2};

static double slope_of(const double f[4], double h) {
  return (8 * (f[0] - f[1]) - (f[2] - f[3])) / (12 * h);
}

static void fill(idx n, real *x, double value) {
  for (idx j = 0; j < n; j++)
    x[j] = (real)value;
}

/* The gradients of labs of these flags and of `more`, if any, in the plain
 * loops of chapter 3. */
static void gradients_hold(Test *t, const char *const *flags,
                           const char *const *more) {
  Tally y = {0};
  for (int i = 0; i < 2 && flags; i++, flags = more)
    LABS_OF (b, 2, 6, flags) {
      b.m.plain = true;
      check_gradients(t, &y, &b, 1);
    }
  tell_tally(t, &y);
}

/* Scores, weights and states of such labs beside those of the slow model. */
static void as_slow(Test *t, const char *const *flags) {
  LABS_OF (b, 2, 9, flags) {
    b.m.plain = true;
    compare_with_slow(t, &b, 1000 * REAL_EPS);
  }
}

/* ----------
 * 2  norm_backward */

enum { WIDTH = 300 };
typedef struct NormLab {
  Norm w;
  real g[WIDTH], b[WIDTH], dg[WIDTH], db[WIDTH];
  real x[WIDTH], y[WIDTH], dy[WIDTH], dx[WIDTH], stat[2];
} NormLab;

/* One row of C random numbers, and its gradient in s->dx, which begins at 0. */
static void norm_lab(NormLab *s, int C, bool centred, double eps) {
  Rng r = {3};
  *s = (NormLab){.w = {.g = {.rows = C}, .eps = eps}};
  s->w.g.w = s->g;
  s->w.g.d = s->dg;
  s->w.b.w = centred ? s->b : NULL;
  s->w.b.d = centred ? s->db : NULL;
  for (int i = 0; i < C; i++) {
    s->x[i] = (real)(1 + rng_normal(&r));
    s->dy[i] = (real)rng_normal(&r);
    s->g[i] = (real)(1 + 0.3 * rng_normal(&r));
  }
}

static void norm_lab_run(NormLab *s) {
  norm_forward(s->y, s->stat, s->x, &s->w, 1);
  norm_backward(s->dx, s->dy, s->x, s->stat, &s->w, 1);
}

static void norm_backward__differences(Test *t) {
  enum { C = 5 };
  const double h = 1e-3;
  for (int centred = 0; centred < 2; centred++) {
    NormLab s;
    norm_lab(&s, C, centred, 1e-5);
    norm_lab_run(&s);
    for (int k = 0; k < C; k++) {
      double f[4] = {0};
      real at = s.x[k];
      for (int p = 0; p < 4; p++) {
        s.x[k] = (real)((double)at + AT[p] * h);
        norm_forward(s.y, s.stat, s.x, &s.w, 1);
        for (int i = 0; i < C; i++)
          f[p] += (double)s.dy[i] * (double)s.y[i];
      }
      s.x[k] = at;
      within(t, (double)s.dx[k], slope_of(f, h), 1e-9, "dx[%d] of %s", k,
             centred ? "LayerNorm" : "RMSNorm");
    }
  }
}

/* x = (3, 4), g = 1: 1/sigma = sqrt(2)/5, and xn xn^T / 2 = (9, 12; 12, 16) / 25. */
static void norm_backward__by_hand(Test *t) {
  NormLab s;
  norm_lab(&s, 2, false, 0);
  fill(2, s.g, 1);
  s.x[0] = 3;
  s.x[1] = 4;
  s.dy[0] = 1;
  s.dy[1] = 0;
  norm_lab_run(&s);
  within(t, (double)s.dx[0], 0.64 * sqrt(2) / 5, 1e-15, "dx[0]");
  within(t, (double)s.dx[1], -0.48 * sqrt(2) / 5, 1e-15, "dx[1]");
}

/* A norm forgets its row's length, so that moving x along itself changes
 * nothing; LayerNorm forgets a constant as well. */
static void norm_backward__along_x(Test *t) {
  for (int centred = 0; centred < 2; centred++) {
    NormLab s;
    norm_lab(&s, WIDTH, centred, 0);
    norm_lab_run(&s);
    within(t, (double)vec_dot(WIDTH, s.dx, s.x), 0, 1e-12, "<dx, x>");
    if (centred)
      within(t, (double)vec_sum(WIDTH, s.dx), 0, 1e-12, "the sum of dx");
    fact(t, biggest(WIDTH, s.dx) > 0.1, "dx is nearly 0");
  }
}

/* dx is added to: a residual's gradient may stand there. */
static void norm_backward__adds(Test *t) {
  NormLab s, more;
  norm_lab(&s, 5, false, 1e-5);
  norm_lab(&more, 5, false, 1e-5);
  fill(5, more.dx, 10);
  norm_lab_run(&s);
  norm_lab_run(&more);
  for (int i = 0; i < 5; i++)
    within(t, (double)more.dx[i], 10 + (double)s.dx[i], 1e-14,
           "dx[%d], which was 10", i);
}

/* ----------
 * 3  rotate */

/* The lab's rotation of x [N,D], one head; `back` by the negative angle. */
static void turn(Lab *b, real *x, bool back) {
  rotate(&b->m.c, &b->a, 0, x, b->T, b->T, 1, back ? -1 : 1);
}

static real *rotated(Test *t, Lab *b, const real *x, bool back) {
  idx n = (idx)b->T * b->m.c.head_dim;
  real *y = reals_of(t, n);
  copy(y, x, n);
  turn(b, y, back);
  return y;
}

static real *random_reals(Test *t, idx n, uint64_t seed) {
  Rng r = {seed};
  real *x = reals_of(t, n);
  for (idx j = 0; j < n; j++)
    x[j] = (real)rng_normal(&r);
  return x;
}

#define TURNED "--heads 1 --dim 6 --layers 1 "
#define TURNS(b) \
    LABS(b, 1, 5, TURNED, TURNED "--rope-pairing interleaved --rotary-dims 4")

/* d<dy, R x>/dx_k is row k of R^T dy. */
static void rotate__differences(Test *t) {
  TURNS (b) {
    idx n = 5 * 6;
    lab_forward(&b);
    real *x = random_reals(t, n, 1), *dy = random_reals(t, n, 2);
    const real *dx = rotated(t, &b, dy, true);
    for (idx k = 0; k < n; k++) {
      double f[4];
      real at = x[k];
      for (int p = 0; p < 4; p++) {
        x[k] = (real)((double)at + AT[p] * 1e-2);
        f[p] = (double)vec_dot(n, dy, rotated(t, &b, x, false));
      }
      x[k] = at;
      within(t, (double)dx[k], slope_of(f, 1e-2), 1e-10, "dx[%d], row %d, %s",
             (int)(k % 6), (int)(k / 6), b.flags);
    }
  }
}

/* A pair (1, 2) of the first frequency, w = 1, by n radians. */
static void rotate__by_hand(Test *t) {
  TURNS (b) {
    int other = b.n == 1 ? 3 : 1;
    real x[30] = {0};
    lab_forward(&b);
    for (int n = 0; n < 5; n++) {
      x[6 * n] = 1;
      x[6 * n + other] = 2;
    }
    turn(&b, x, false);
    for (int n = 0; n < 5; n++) {
      within(t, (double)x[6 * n], cos(n) - 2 * sin(n), 1e-14, "x of row %d, %s",
             n, b.flags);
      within(t, (double)x[6 * n + other], sin(n) + 2 * cos(n), 1e-14,
             "y of row %d, %s", n, b.flags);
    }
  }
}

static void rotate__back(Test *t) {
  TURNS (b) {
    lab_forward(&b);
    const real *x = random_reals(t, 30, 1), *y = rotated(t, &b, x, false);
    fact(t, distance(30, x, y) > 0.1, "nothing turns, %s", b.flags);
    within(t, distance(30, x, rotated(t, &b, y, true)), 0, 1e-14, "R^T R x, %s",
           b.flags);
    within(t, (double)vec_dot(30, y, y), (double)vec_dot(30, x, x), 1e-13,
           "the length, %s", b.flags);
  }
}

/* ----------
 * 4  softmax, row_backward, clamp */

enum { LONGEST = 33 };
typedef struct Weights {
  real a[LONGEST], deriv[LONGEST], dlogz[LONGEST], Z;
} Weights;

static const char *const SIM_NAMES[] = {
  "exp", "sigmoid", "elu + 1", "identity"};
static const char *const Z_NAMES[] = {"a sum", "Z = 1", "a clamp"};

static void weigh(Weights *w, int sim, int normalizer, int n, const real *z) {
  const Config c = {.sim = sim, .normalizer = normalizer};
  fill(n, w->a, NAN);
  fill(n, w->deriv, NAN);
  fill(n, w->dlogz, NAN);
  w->Z = row(&c, n, z, w->a, w->deriv, w->dlogz);
}

/* dz by the two factors, dz_k = s'/Z da_k - dlogz_k delta, beside differences
 * of L = sum_j da_j a_j. */
static void dz_holds(Test *t, int sim, int normalizer, int n,
                     const real *from) {
  static const double DA[] = {1, -1, 0.5, 2, -0.3};
  const double h = 1e-3;
  real z[8];
  Weights w;
  double delta = 0;
  copy(z, from, n);
  weigh(&w, sim, normalizer, n, z);
  for (int j = 0; j < n; j++)
    delta += DA[j] * (double)w.a[j];
  for (int k = 0; k < n; k++) {
    const double dz = (double)w.deriv[k] * DA[k] - (double)w.dlogz[k] * delta;
    double f[4] = {0};
    for (int p = 0; p < 4; p++) {
      Weights moved;
      z[k] = (real)((double)from[k] + AT[p] * h);
      weigh(&moved, sim, normalizer, n, z);
      for (int j = 0; j < n; j++)
        f[p] += DA[j] * (double)moved.a[j];
    }
    z[k] = from[k];
    within(t, dz, slope_of(f, h), 1e-9, "dz[%d] of %s over %s", k,
           SIM_NAMES[sim], Z_NAMES[normalizer]);
  }
}

static void softmax__by_hand(Test *t) {
  const real z[] = {0, (real)log(3)};
  Weights w;
  weigh(&w, SIM_EXP, NORMALIZER_SUM, 2, z);
  within(t, (double)w.a[0], 0.25, 4 * REAL_EPS, "a of z = 0");
  within(t, (double)w.a[1], 0.75, 4 * REAL_EPS, "a of z = log 3");
  within(t, (double)w.Z, 4.0 / 3, 8 * REAL_EPS, "Z e^-top, top = log 3");
}

/* The weights of a row sum to 1, two of them are apart by e^(z_i - z_j), and
 * what is masked has exactly 0. */
static void softmax__sums_to_one(Test *t) {
  Rng r = {5};
  Weights w;
  real z[LONGEST];
  for (int n = 1; n <= LONGEST; n += 8) {
    double sum = 0;
    for (int j = 0; j < n; j++)
      z[j] = (real)(j % 4 == 1 ? -INFINITY : 3 * rng_normal(&r));
    weigh(&w, SIM_EXP, NORMALIZER_SUM, n, z);
    for (int j = 0; j < n; j++) {
      const double ratio = exp((double)z[j] - (double)z[0]);
      const double bound = j % 4 == 1 ? 0 : 16 * REAL_EPS;
      sum += (double)w.a[j];
      within(t, (double)w.a[j], ratio * (double)w.a[0], bound,
             "a[%d] of %d, z is %g", j, n, (double)z[j]);
    }
    within(t, sum, 1, 1e-14, "the sum of %d weights", n);
  }
}

/* Only differences of scores matter: e^1000 does not overflow, e^-1000 does not
 * make a row of zeros. */
static void softmax__large_scores(Test *t) {
  static const double BY[] = {1000, -1000};
  EACH (i, BY) {
    const real z[] = {(real)BY[i], (real)(BY[i] + log(3)), (real)-INFINITY};
    Weights w;
    weigh(&w, SIM_EXP, NORMALIZER_SUM, 3, z);
    within(t, (double)w.a[0], 0.25, 1e-12, "a of z = %g", BY[i]);
    within(t, (double)w.a[1], 0.75, 1e-12, "a of z = %g + log 3", BY[i]);
    within(t, (double)w.a[2], 0, 0, "a of a masked key");
  }
}

static void row_backward__differences(Test *t) {
  static const real Z[] = {
    (real)0.3, (real)-1.2, (real)1.7, (real)-0.4, (real)0.9};
  for (int sim = SIM_EXP; sim <= SIM_ELU; sim++)
    for (int normalizer = NORMALIZER_SUM; normalizer <= NORMALIZER_ONE;
         normalizer++)
      dz_holds(t, sim, normalizer, 5, Z);
}

/* The table of 3.6, and the derivative of one weight alone: Z = 1. */
static void row_backward__by_hand(Test *t) {
  const real z[] = {0, (real)log(3)};
  static const struct {
    int sim, normalizer;
    double deriv[2], dlogz[2], Z;
  } ROWS[] = {
      {SIM_EXP, NORMALIZER_SUM, {0.25, 0.75}, {0.25, 0.75}, 4.0 / 3},
      {SIM_SIGMOID, NORMALIZER_SUM, {0.2, 0.15}, {0.2, 0.15}, 1.25 + 1e-8},
      {SIM_SIGMOID, NORMALIZER_ONE, {0.25, 0.1875}, {0, 0}, 1}};
  EACH (i, ROWS) {
    Weights w;
    const char *of = SIM_NAMES[ROWS[i].sim];
    const char *by = Z_NAMES[ROWS[i].normalizer];
    weigh(&w, ROWS[i].sim, ROWS[i].normalizer, 2, z);
    within(t, (double)w.Z, ROWS[i].Z, 1e-14, "the returned Z, %s over %s", of,
           by);
    for (int j = 0; j < 2; j++) {
      within(t, (double)w.deriv[j], ROWS[i].deriv[j], 2e-8,
             "s'/Z of key %d, %s over %s", j, of, by);
      within(t, (double)w.dlogz[j], ROWS[i].dlogz[j], 2e-8,
             "dlogz of key %d, %s over %s", j, of, by);
    }
  }
}

/* A key that is not seen moves nothing. */
static void row_backward__masked(Test *t) {
  const real z[] = {1, (real)-INFINITY, 2};
  for (int sim = SIM_EXP; sim <= SIM_ELU; sim++) {
    Weights w;
    weigh(&w, sim, NORMALIZER_SUM, 3, z);
    within(t, (double)w.deriv[1], 0, 0, "s'/Z of a masked key, %s",
           SIM_NAMES[sim]);
    within(t, (double)w.dlogz[1], 0, 0, "dlogz of a masked key, %s",
           SIM_NAMES[sim]);
  }
}

/* softmax's top stays, and sigmoid's 1e-8 makes 0 of a row of nothing. */
static void row_backward__large_scores(Test *t) {
  static const real FAR[] = {1000, 1000}, NONE[] = {-1000, -1000};
  Weights w;
  weigh(&w, SIM_EXP, NORMALIZER_SUM, 2, FAR);
  within(t, (double)w.deriv[0], 0.5, 1e-15, "s'/Z of two scores of 1000, exp");
  weigh(&w, SIM_SIGMOID, NORMALIZER_SUM, 2, NONE);
  within(t, (double)w.a[0], 0, 0, "a of two scores of -1000, sigmoid");
}

/* Rows whose sum is above 1, below -1, and between. */
static void clamp__differences(Test *t) {
  static const real ROWS[][3] = {{2, 1, (real)0.5},
                                 {-2, (real)-1.5, (real)0.5},
                                 {(real)0.1, (real)-0.3, (real)0.2}};
  EACH (i, ROWS)
    for (int sim = SIM_EXP; sim <= SIM_IDENTITY; sim++)
      dz_holds(t, sim, NORMALIZER_CLAMP, 3, ROWS[i]);
}

static void clamp__by_hand(Test *t) {
  const real z[] = {2, -4};
  static const double A[] = {1, -2};
  Weights w;
  weigh(&w, SIM_IDENTITY, NORMALIZER_CLAMP, 2, z);
  within(t, (double)w.Z, 2, 0, "Z of (2, -4)");
  for (int j = 0; j < 2; j++) {
    within(t, (double)w.a[j], A[j], 0, "a[%d] of (2, -4)", j);
    within(t, (double)w.deriv[j], 0.5, 0, "s'/Z of key %d, (2, -4)", j);
    within(t, (double)w.dlogz[j], -0.5, 0, "dlogz of key %d, (2, -4)", j);
  }
}

/* Up to |sum| = 1 the weights are the scores, and no key knows of another. */
static void clamp__up_to_one(Test *t) {
  static const real ROWS[][2] = {{(real)0.25, (real)0.5},
                                 {(real)0.5, (real)0.5},
                                 {(real)-0.25, (real)-0.75}};
  EACH (i, ROWS) {
    Weights w;
    weigh(&w, SIM_IDENTITY, NORMALIZER_CLAMP, 2, ROWS[i]);
    for (int j = 0; j < 2; j++) {
      within(t, (double)w.a[j], (double)ROWS[i][j], 0, "a[%d] of row %d", j, i);
      within(t, (double)w.deriv[j], 1, 0, "s'/Z of key %d, row %d", j, i);
      within(t, (double)w.dlogz[j], 0, 0, "dlogz of key %d, row %d", j, i);
    }
  }
}

/* The clamp of exp: Z is max(sum e^z, 1), however large or small z is. */
static void clamp__of_exp(Test *t) {
  static const struct { double z, a; } ROWS[] = {
      {1000, 0.5}, {0, 0.5}, {-1, 0.36787944117144233}, {-1000, 0}};
  EACH (i, ROWS) {
    const real z[] = {(real)ROWS[i].z, (real)ROWS[i].z};
    Weights w;
    weigh(&w, SIM_EXP, NORMALIZER_CLAMP, 2, z);
    within(t, (double)w.a[1], ROWS[i].a, 1e-15, "a of two scores of %g",
           ROWS[i].z);
  }
  /* one visible key: Z = e^5, so dlogz = 1 and nothing moves a = 1 */
  const real ONE[] = {5, (real)-INFINITY};
  Weights w;
  weigh(&w, SIM_EXP, NORMALIZER_CLAMP, 2, ONE);
  within(t, (double)w.dlogz[0], 1, 1e-15, "dlogz of one visible key, z = 5");
}

/* ----------
 * 5  head, null_key, head_backward, block_backward */

static const char *const HEADS[] = {
    "", "--scale 0.7 --window 3", "--extra kv --sim sigmoid --linear-bias",
    "--heads 4 --kv-heads 2 --head-dim 4 --pos alibi",
    "--sink-token --prefix 2 --extra k --sim elu --normalizer one", NULL};

static void head__differences(Test *t) { gradients_hold(t, HEADS, NULL); }

/* With q = 0 all scores are 0, and row i is the mean of what it sees: v* and
 * the values up to its own. */
static void head__by_hand(Test *t) {
  LABS (b, 1, 3, "--layers 1 --heads 1 --dim 2 --pos none --extra kv",
        "--layers 1 --heads 1 --dim 2 --pos none --extra kv --scale 0.5") {
    b.m.plain = true;
    lab_fill(&b, "l0.wq", 0);
    lab_forward(&b);
    const LayerActs *la = &b.a.layer[0];
    for (int d = 0; d < 2; d++) {
      double sum = (double)lab_at(&b, "l0.vstar")[d];
      for (int i = 0; i < 3; i++) {
        sum += (double)la->v[2 * i + d];
        within(t, (double)la->o[2 * i + d], b.m.c.scale * sum / (i + 2), 1e-14,
               "o_%d[%d], %s", i + 1, d, b.flags);
      }
    }
  }
}

static void head__as_slow(Test *t) { as_slow(t, HEADS); }

static const char *const NULL_KEYS[] = {
    "--extra k", "--extra kv --pos alibi --prefix 2",
    "--extra logit --window 3",
    "--extra zero --pos none --heads 4 --kv-heads 2 --head-dim 4",
    "--sink-token --extra k --pos t5 --prefix 2", "--pos relative --window 2",
    NULL};

static void null_key__differences(Test *t) {
  gradients_hold(t, NULL_KEYS, NULL);
}

/* Two tokens, D = 4, a bias of -1 on the key before:
 *
 *   <q_1, k*> = 6, <q_1, k_1> = 2, <q_2, k_1> = 4, <q_2, k_2> = 8 */
static void null_key__by_hand(Test *t) {
  static const real Q[] = {1, 1, 0, 0, 2, 2, 0, 0};
  static const real K[] = {2, 0, 0, 0, 2, 2, 9, 9};
  static const real STAR[] = {3, 3, 0, 0}, BIAS[] = {-1, 0, 0};
  const double want[2][3] = {{3, 1, -INFINITY}, {6, 1, 4}};
  LABS (b, 1, 2, "--heads 1 --dim 4 --layers 1 --extra k --pos none") {
    Head x = {.N = 2,
              .D = 4,
              .of_q = 4,
              .of_k = 4,
              .root = (real)0.5,
              .q = Q,
              .k = K,
              .kstar = STAR,
              .bias = BIAS + 1};
    for (int i = 0; i < 2; i++) {
      real z[3], other[3];
      fill(3, z, NAN);
      head_scores(&b.m, &b.a, &x, i, z, other);
      for (int j = 0; j < 3; j++)
        within(t, (double)z[j], want[i][j], 0, "z of query %d, column %d",
               i + 1, j);
    }
  }
}

static void null_key__as_slow(Test *t) { as_slow(t, NULL_KEYS); }

static void head_backward__differences(Test *t) {
  gradients_hold(t, HEADS, NULL_KEYS);
}

/* 3.7's example beside a null key, with q_2 = 2, 1/sqrt(D) = 1/2, scale 2 and
 * v* = 1: a = (1/2; 1/8, 3/8), da = (2; 2, -2), delta = 1/2 and
 * dz = (3/4; 3/16, -15/16). Only row 2 has a do; all gradients start at 1. */
static void head_backward__by_hand(Test *t) {
  const real log3 = (real)log(3), log4 = (real)log(4);
  const real q[] = {0, 2}, k[] = {0, 9, log3, 9}, v[] = {1, 9, -1, 9};
  const real vstar[] = {1}, dout[] = {0, 1};
  LABS (b, 1, 2, "--heads 1 --dim 4 --layers 1 --extra kv --pos none") {
    real dq[] = {1, 1}, dk[] = {1, 1, 1, 1}, dv[] = {1, 1, 1, 1};
    real dkstar[] = {1}, dvstar[] = {1}, dlogit[] = {1}, dbias[] = {1, 1, 1};
    static const real BIAS[] = {0, 0};
    Head x = {.N = 2, .D = 1, .of_q = 1, .of_k = 2, .root = (real)0.5,
              .scale = 2, .q = q, .k = k, .v = v, .kstar = &log4,
              .vstar = vstar, .bias = BIAS + 1, .dout = dout, .dq = dq,
              .dk = dk, .dv = dv,
              .dkstar = dkstar, .dvstar = dvstar, .dlogit = dlogit,
              .dbias = dbias + 1};
    lab_forward(&b);
    head_backward(&b.m, &b.a, &x);
    const struct { const char *of; double got, want; } SAYS[] = {
        {"dv_1 = scale a do, added", (double)dv[0], 1 + 0.25},
        {"dv_2 = scale a do, added", (double)dv[2], 1 + 0.75},
        {"dv* = scale a* do, added", (double)*dvstar, 1 + 1},
        {"dk_1 = dz q / sqrt(D), added", (double)dk[0], 1 + 0.1875},
        {"dk_2 = dz q / sqrt(D), added", (double)dk[2], 1 - 0.9375},
        {"dk* = dz* q / sqrt(D), added", (double)*dkstar, 1 + 0.75},
        {"dq_2 = (sum dz k + dz* k*) / sqrt(D)", (double)dq[1],
         0.5 * (0.75 * (double)log4 - 0.9375 * (double)log3)},
        {"dq_1, overwritten", (double)dq[0], 0},
        {"dlogit = dz*, added", (double)*dlogit, 1 + 0.75},
        {"dbias of distance 1, added", (double)dbias[0], 1 + 0.1875},
        {"dbias of distance 0, added", (double)dbias[1], 1 - 0.9375}};
    EACH (i, SAYS)
      within(t, SAYS[i].got, SAYS[i].want, 1e-14, "%s", SAYS[i].of);
  }
}

/* The first row of a softmax sees one key, with a weight of 1 whatever its
 * score: dz_11 = 0, and dq_1 with it. */
static void head_backward__first_row(Test *t) {
  LABS (b, 1, 4, "--layers 1 --heads 1") {
    b.m.plain = true;
    for (int again = 0; again < 2; again++) {
      lab_gradients(&b);
      within(t, biggest(12, b.a.dq), 0, 1e-15, "dq of row 1, backward %d",
             again + 1);
      fact(t, biggest(12, b.a.dq + 12) > 1e-6, "dq of row 2 is %g",
           biggest(12, b.a.dq + 12));
    }
  }
}

static void head_backward__as_tiles(Test *t) {
  for (int i = 0; HEADS[i]; i++)
    tiles_against_plain(t, 2, 40, HEADS[i]);
  tiles_against_plain(t, 1, 40, "--extra logit --pos t5");
}

static const char *const POSTS[] = {
    "--place post", "--place post --norm layer --act relu --linear-bias",
    "--place post --extra k --layers 1", NULL};

static void block_backward__differences(Test *t) {
  gradients_hold(t, POSTS, NULL);
}

/* Without MHSA and FFN a block is y = n2(n1(x)). At x = (3, 4) that is
 * n1(x), whose backward is norm_backward's number by hand. A second backward
 * has the same. */
static void block_backward__by_hand(Test *t) {
  LABS (b, 1, 1,
        "--place post --layers 1 --heads 1 --dim 2 --pos none --norm-eps 0") {
    static const real X[] = {3, 4};
    lab_fill(&b, "l0.wo", 0);
    lab_fill(&b, "l0.w3", 0);
    lab_fill(&b, "l0.norm1", 1);
    lab_fill(&b, "l0.norm2", 1);
    copy(lab_at(&b, "wte") + 2 * b.ids[0], X, 2);
    lab_forward(&b);
    for (int again = 1; again <= 2; again++) {
      b.a.dh[0] = 1;
      b.a.dh[1] = 0;
      block_backward(&b.m, &b.a, 0, 1, 1);
      within(t, (double)b.a.dh[0], 0.64 * sqrt(2) / 5, 1e-14,
             "dx[0], backward %d", again);
      within(t, (double)b.a.dh[1], -0.48 * sqrt(2) / 5, 1e-14,
             "dx[1], backward %d", again);
    }
  }
}

/* ----------
 * 6  loss, alpha; adamw has the tests of chapter 5 */

static void loss__differences(Test *t) {
  static const char *const FLAGS[] = {
      "", "--prefix 3", "--sink-token --prefix 2 --tied", NULL};
  gradients_hold(t, FLAGS, NULL);
}

/* Logits of 0 know nothing: the loss is ln V, V = 11. */
static void loss__by_hand(Test *t) {
  LABS (b, 1, 5, "", "--prefix 3", "--sink-token") {
    lab_fill(&b, "wcls", 0);
    within(t, lab_loss(&b), log(11), 1e-14, "the loss, %s", b.flags);
  }
}

/* A second backward finds another's gradient in a->dh. Rows that are not scored
 * have 0 there all the same, and half the share is half the gradient. */
static void loss__again(Test *t) {
  LABS (b, 2, 5, "--prefix 3 --sink-token") {
    const idx n = 2 * 6 * b.m.c.dim;
    lab_forward(&b);
    model_loss(&b.m, &b.a, b.targets, 2, 5, 1);
    real *dh = reals_of(t, n);
    copy(dh, b.a.dh, n);
    vec_scale(n, dh, (real)0.5);
    fill(n, b.a.dh, 1);
    model_loss(&b.m, &b.a, b.targets, 2, 5, 0.5);
    for (idx j = 0; j < n; j++)
      within(t, (double)b.a.dh[j], (double)dh[j], 1e-15,
             "dh of row %d at half the share", (int)(j / b.m.c.dim % 6));
  }
}

/* The map of chapter 6: alpha = (0.8, 0.2, 0.2). */
static void alpha__by_hand(Test *t) {
  static const real MAP[] = {1, 0, 0,
                             (real)0.8, (real)0.2, 0,
                             (real)0.6, (real)0.2, (real)0.2};
  static const double WANT[] = {0.8, 0.2, 0.2};
  const Config c = config_of(t, "");
  for (int k = 0; k < 3; k++)
    within(t, sink_alpha(&c, 3, METRIC_REAL, MAP, k), WANT[k], 1e-15,
           "alpha_%d", k + 1);
  /* in a prefix row 1 sees token 2: the paper's alpha_2 leaves it out */
  static const real AHEAD[] = {(real)0.6, (real)0.4, 0,
                               (real)0.8, (real)0.2, 0,
                               (real)0.6, (real)0.2, (real)0.2};
  within(t, sink_alpha(&c, 3, METRIC_REAL, AHEAD, 1), 0.2, 1e-15,
         "alpha_2 where row 1 sees token 2");
  within(t, sink_alpha(&c, 3, METRIC_PLUS1, AHEAD, 1), 0.4, 1e-15,
         "the same, plus1");
  /* x*, 1, 2 in rows and columns: x*'s row sees the prefix; plus1 sums it */
  static const real BESIDE[] = {(real)0.5, (real)0.3, (real)0.2,
                                (real)0.6, (real)0.4, 0,
                                (real)0.5, (real)0.3, (real)0.2};
  static const double ALL[] = {1.6 / 3, 0.5, 0.4};
  const Config x = config_of(t, "--sink-token --prefix 2");
  for (int j = 0; j < 3; j++)
    within(t, sink_alpha(&x, 2, METRIC_PLUS1, BESIDE, j), ALL[j], 1e-15,
           "plus1 of column %d, beside x*", j);
}

static const TestEntry TESTS[] = {
    RUNS(norm_backward__differences), RUNS(norm_backward__by_hand),
    RUNS(norm_backward__along_x), RUNS(norm_backward__adds),
    RUNS(rotate__differences), RUNS(rotate__by_hand), RUNS(rotate__back),
    RUNS(rotate__relative), RUNS(softmax__by_hand),
    RUNS(softmax__sums_to_one), RUNS(softmax__large_scores),
    RUNS(row_backward__differences), RUNS(row_backward__by_hand),
    RUNS(row_backward__masked), RUNS(row_backward__large_scores),
    RUNS(clamp__differences), RUNS(clamp__by_hand),
    RUNS(clamp__up_to_one), RUNS(clamp__of_exp), RUNS(null_key__by_hand),
    RUNS(null_key__differences), RUNS(null_key__as_slow), RUNS(head__by_hand),
    RUNS(head__differences), RUNS(head__as_slow), RUNS(head_backward__by_hand),
    RUNS(head_backward__differences),
    RUNS(head_backward__first_row), RUNS(head_backward__as_tiles),
    RUNS(block_backward__differences), RUNS(block_backward__by_hand),
    RUNS(loss__differences), RUNS(loss__by_hand), RUNS(loss__again),
    {"loss__direct", model_loss__direct}, {"loss__slices", model_loss__slices},
    {"loss__extremes", model_loss__extremes},
    {"adamw__by_hand", optimizer_step__by_hand},
    {"adamw__as_published", optimizer_step__against_scalar},
    RUNS(alpha__by_hand), {"alpha__maps", sink_alpha__by_hand},
    {"alpha__of_star", sink_alpha__star_columns}};

int main(int argc, char **argv) {
  return tests_run(TESTS, sizeof TESTS / sizeof *TESTS, argc, argv,
                   (Test){.oracle = &PAPER});
}
