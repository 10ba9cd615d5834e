/* test_later.c - the tests of what is not the paper's: the rows of later.c,
 * each from its definition, by identities and by numbers worked by hand. Some
 * bounds are for the double build alone. Their gradients and forms are held
 * with all others in data/check/test_rows.c, by its axes.
 *
 *     cc -O2 -DSINK_DOUBLE data/later/test_later.c -o test_later -lm &&
 *     ./test_later
 *
 * SPDX-License-Identifier: MIT
 */
#define SINK_NO_MAIN
#include "../paper/options.h"
#include "../later/later.h"
#include "../../sink.c"
#include "later.c"
#include "../text/first.c"
#include "../text/teller.c"
#include "../text/vocabulary.c"
#include "../text/shards.c"
#define PROGRAM FROM_HERE "sink"
#include "../check/harness.c"
#include "../check/programs.c"

/* ---- 1  Scores and their row: 3.6, 3.7 ---- */

/* A column of score b without a value is a gate on softmax: the keys have its
 * weights times g = 1 / (1 + e^(b - logsumexp)). */
static void null_logit__gate(Test *t) {
  enum { N = 7 };
  const double SLOTS[] = {-3, 0, 1.5, 20};
  EACH (k, SLOTS) {
    Config c = config_of(t, "--extra logit");
    real with[1 + N], plain[1 + N], spare[1 + N];
    double sum = 0;
    with[0] = (real)SLOTS[k];
    plain[0] = -INFINITY;
    for (int j = 1; j <= N; j++) {
      with[j] = plain[j] = (real)sin(5.0 * j);
      sum += exp((double)with[j]);
    }
    row_forward(&c, 1 + N, with, spare);
    row_forward(&c, 1 + N, plain, spare);
    for (int j = 1; j <= N; j++)
      within(t, (double)with[j],
             (double)plain[j] / (1 + exp(SLOTS[k] - log(sum))), 8 * REAL_EPS,
             "b = %g, key %d", SLOTS[k], j);
  }
}

/* z = (log 3, 0, - log 3, 1e4) under a cap of 2: tanh(log(3) / 2) = (3 - 1) /
 * (3 + 1), so y = (1, 0, -1, 2). Four keys, c_h = 3 and f_h = 0.25 make it 3
 * log(4) y + 0.25, and dz = (1, 2, 4, 8) gives dc_h = log(4) (1 - 4 + 16), df_h
 * = 15. What is masked stays out of everything. */
static void before_sim__by_hand(Test *t) {
  real c_h[] = {9, 3}, f_h[] = {9, (real)0.25}, three = (real)log(3);
  real z[] = {three, 0, -three, (real)1e4, -(real)INFINITY}, y[5];
  real dz[] = {1, 2, 4, 8, 0}, dc_df[] = {0, 0};
  const Config c =
      config_of(t, "--soft-cap 2 --score-scale logn --score-bias learned");
  const Layer w = {.cscale = {.w = c_h}, .sbias = {.w = f_h}};
  const double g = 3 * log(4);
  const double to[] = {g + 0.25, 0.25, 0.25 - g, 2 * g + 0.25, -INFINITY};
  const double back[] = {0.75 * g, 2 * g, 3 * g, 0, 0};
  scores_forward(&c, &w, 1, 4, 5, z, y);
  scores_backward(&c, &w, 1, 4, 5, dz, y, dc_df);
  for (int j = 0; j < 5; j++) {
    if (j < 4)
      within(t, (double)z[j], to[j], 16 * REAL_EPS, "score %d", j);
    within(t, (double)dz[j], back[j], 16 * REAL_EPS, "its gradient %d", j);
  }
  fact(t, z[4] == -INFINITY && y[4] == 0, "a masked key has score %g",
       (double)z[4]);
  within(t, (double)dc_df[0], 13 * log(4), 64 * REAL_EPS, "dc_h");
  within(t, (double)dc_df[1], 15, 0, "df_h");
}

/* How a model of c makes weights of a row. */
static const RowKind *kind_of(Test *t, const Config *c) {
  Model m = {.c = *c, .seams = {.row = &PAPER_ROW}};
  fact(t, !more_setup(&m, fresh(t)), "%s", t->e.text);
  return m.seams.row;
}

/* A row by its flags, forward and backward, in both forms. Its first column is
 * *: z[0] where `star`, else masked, and then left out of what is returned. */
typedef struct Row { real a[8], deriv[8], dlogz[8], m[8]; } Row;
static Row row_of(Test *t, const char *flags, int n, bool star,
                  const double *z) {
  const Config c = config_of(t, "%s", flags);
  const RowKind *k = kind_of(t, &c);
  real of[8] = {-(real)INFINITY}, again[8], plain[3][8];
  const int first = !star, all = n + first;
  Row r;
  for (int j = 0; j < n; j++)
    of[first + j] = (real)z[j];
  copy(r.a, of, all);
  const real row_stat = k->forward(&c, all, r.a, again);
  const real Z = k->normalizer(&c, row_stat);
  k->metric(&c, all, r.a, Z, r.m);
  k->backward(&c, all, of, row_stat, again, r.deriv, r.dlogz);
  const real theirs = k->plain(&c, all, of, plain[0], plain[1], plain[2]);
  within(t, (double)theirs, (double)Z, 8 * REAL_EPS * fabs((double)Z),
         "%s: Z in plain", flags);
  for (int j = 0; j < all; j++) {
    within(t, (double)again[j], (double)r.a[j], 8 * REAL_EPS,
           "%s: weight %d made again", flags, j);
    within(t, (double)plain[0][j], (double)r.a[j], 8 * REAL_EPS,
           "%s: weight %d", flags, j);
    within(t, (double)plain[1][j], (double)r.deriv[j], 8 * REAL_EPS,
           "%s: deriv %d", flags, j);
    within(t, (double)plain[2][j], (double)r.dlogz[j], 8 * REAL_EPS,
           "%s: dlogz %d", flags, j);
  }
  if (first) {
    fact(t, !(r.a[0] != 0 || r.m[0] != 0 || r.deriv[0] != 0 || r.dlogz[0] != 0),
         "%s: *", flags);
    memmove(r.a, r.a + 1, 7 * sizeof *r.a);
    memmove(r.m, r.m + 1, 7 * sizeof *r.m);
    memmove(r.deriv, r.deriv + 1, 7 * sizeof *r.deriv);
    memmove(r.dlogz, r.dlogz + 1, 7 * sizeof *r.dlogz);
  }
  return r;
}

/* A row worked by hand: its scores, and its weights, s'/Z, dlogz and m. The
 * 1e-8 in Z is left out of them. */
typedef struct RowCase {
  const char *flags;
  int n, star;
  double z[5], a[5], deriv[5], dlogz[5], m[5];
} RowCase;

static void row_compare(Test *t, int i, const RowCase *x) {
  const Row r = row_of(t, x->flags, x->n, x->star, x->z);
  /* z itself is rounded */
  const double big = REAL_EPS * fmax(1, fabs(x->z[0]));
  for (int j = 0; j < x->n; j++) {
    const double got[] = {(double)r.a[j], (double)r.deriv[j],
                          (double)r.dlogz[j], (double)r.m[j]};
    const double to[] = {x->a[j], x->deriv[j], x->dlogz[j], x->m[j]};
    for (int k = 0; k < 4; k++)
      within(t, got[k], to[k], 5e-8 + 16 * big, "row %d: %d of column %d", i, k,
             j);
    if (strstr(x->flags, "softpick") || strstr(x->flags, "rectified"))
      fact(t, r.m[j] == r.a[j], "%s, row %d: m is not the weight", x->flags, i);
  }
}

static void row__by_hand(Test *t) {
  const double inf = INFINITY, e = exp(1);
  const RowCase ROWS[] = {
    /* e^z - 1 = (2, -1/2), and so Z = 5/2 */
    {"--sim softpick", 2, 0, {log(3), -log(2)}, {0.8, 0}, {1.2, 0}, {1.2, -0.2},
     {0.8, 0}},
    {"--sim softpick", 4, 0, {log(3), -log(2), -inf, 0}, {0.8, 0, 0, 0},
     {1.2, 0, 0, 0}, {1.2, -0.2, 0, 0}, {0.8, 0, 0, 0}},
    /* none above 0: no weight, but Z = 1/2 + 3/4; far below 0 e^z - 1 is -1 */
    {"--sim softpick", 2, 0, {-log(2), -log(4)}, {0}, {0}, {-0.4, -0.2}, {0}},
    {"--sim softpick", 3, 0, {-1e4, -1e5, -200}, {0}, {0}, {0}, {0}},
    /* far above it is softmax, and e^z would overflow */
    {"--sim softpick", 2, 0, {1e4 + 1, 1e4}, {e / (e + 1), 1 / (e + 1)},
     {e / (e + 1), 1 / (e + 1)}, {e / (e + 1), 1 / (e + 1)},
     {e / (e + 1), 1 / (e + 1)}},
    {"--sim rectified", 4, 0, {log(2), -1, 0, -inf}, {2 / 3.0, 0, 1 / 3.0, 0},
     {2 / 3.0, 0, 1 / 3.0, 0}, {2 / 3.0, 0, 1 / 3.0, 0},
     {2 / 3.0, 0, 1 / 3.0, 0}},
    {"--sim rectified", 3, 0, {-1, -1e5, -inf}, {0}, {0}, {0}, {0}},
    {"--sim rectified", 2, 0, {1e4, 1e3}, {1, 0}, {1, 0}, {1, 0}, {1, 0}},
    {"--sim relu", 4, 0, {3, -2, 1, -inf}, {0.75, 0, 0.25, 0},
     {0.25, 0, 0.25, 0}, {0.25, 0, 0.25, 0}, {0.75, 0, 0.25, 0}},
    {"--sim relu", 2, 0, {0, -1}, {0}, {0}, {0}, {0}},
    {"--sim relu --normalizer count", 5, 0, {3, -2, 1, -1, -9}, {0.6, 0, 0.2},
     {0.2, 0, 0.2}, {0}, {0.75, 0, 0.25}},
    /* two keys beside *, which is none; one of three is masked */
    {"--sim relu --normalizer count", 3, 1, {2, 3, -2}, {1, 1.5, 0},
     {0.5, 0.5, 0}, {0}, {0.4, 0.6, 0}},
    {"--sim relu --normalizer count", 3, 0, {3, -inf, 1}, {1.5, 0, 0.5},
     {0.5, 0, 0.5}, {0}, {0.75, 0, 0.25}},
    {"--sim relu --normalizer pnorm --pnorm 2", 3, 0, {3, 0, 4}, {0.6, 0, 0.8},
     {0.2, 0, 0.2}, {0.12, 0, 0.16}, {3 / 7.0, 0, 4 / 7.0}},
    {"--sim relu --normalizer clamp", 2, 0, {0.5, -3}, {0.5, 0}, {1, 0}, {0},
     {1, 0}},
    {"--sim identity --normalizer count", 2, 0, {3, -1}, {1.5, -0.5},
     {0.5, 0.5}, {0}, {0.75, 0.25}},
    /* tau = 1/4; tau = 0 */
    {"--sim sparsemax", 4, 0, {1, 0.5, -inf, 0}, {0.75, 0.25, 0, 0},
     {1, 1, 0, 0}, {0}, {0.75, 0.25, 0, 0}},
    {"--sim entmax", 4, 0, {1.6, 1.2, -inf, -0.1}, {0.64, 0.36, 0, 0},
     {0.8, 0.6, 0, 0}, {0}, {0.64, 0.36, 0, 0}}};
  EACH (i, ROWS)
    row_compare(t, i, &ROWS[i]);
}

/* Near 0 the scores of softpick are e^z - 1 to the last digits, which e^z has
 * lost: beside the 1e-8 in Z that shows. */
static void softpick__small_scores(Test *t) {
  static const double SIZES[] = {1e-3, 1e-6, 1e-9, 1e-15, 0.99, 1.01, 30};
  EACH (k, SIZES) {
    const double z = (double)(real)SIZES[k], u = expm1(z) * exp(-z);
    const double e = (double)(real)1e-8;
    const Row r = row_of(t, "--sim softpick", 2, false, (double[]){z, -z});
    const double Z = u + fabs(expm1(-z)) * exp(-z) + e;
    within(t, (double)r.a[0] * Z / u, 1, 8 * REAL_EPS, "the weight at %g", z);
    within(t, (double)r.dlogz[1] * Z / exp(-2 * z), -1, 8 * REAL_EPS,
           "dlogz at %g", -z);
  }
}

/* A NaN among scores below 0, or alone, is no row without weight. */
static void row__nan(Test *t) {
  static const char *const FLAGS[] = {"--sim softpick", "--sim rectified",
                                      "--sim relu",
                                      "--sim relu --normalizer count",
                                      "--sim sparsemax", "--sim entmax"};
  EACH (k, FLAGS) {
    const Config c = config_of(t, "%s", FLAGS[k]);
    const RowKind *kind = kind_of(t, &c);
    const real of[] = {-(real)INFINITY, -1, (real)NAN, -2};
    real z[4], again[4], m[4], spare[4], deriv[4], dlogz[4];
    copy(z, of, 4);
    const real row_stat = kind->forward(&c, 4, z, spare);
    kind->backward(&c, 4, of, row_stat, again, deriv, dlogz);
    kind->metric(&c, 4, z, kind->normalizer(&c, row_stat), m);
    fact(t,
         isnan((double)z[2]) && isnan((double)m[2]) &&
             isnan((double)again[2]),
         "%s: no NaN", FLAGS[k]);
  }
}

/* 1.3 a - 0.1, cut at 0 and 1: what is cut has gradient 0. Under --clip-high 2
 * weights lie at 0 and 1 themselves, and have the gradient 2, the slope. The
 * first column stands for a masked key. */
static void row_clip__by_hand(Test *t) {
  const Config c = config_of(t, "--clip-low -0.1 --clip-high 1.2");
  const Config none = config_of(t, "");
  const double border = 0.1 / 1.3, to[] = {0, 0, 0.55, 1, 0};
  const double back[] = {0, 0, 1.3, 0, 0};
  const real from[] = {0, (real)0.02, (real)0.5, (real)0.98,
                       (real)(border * 0.99)};
  real a[5], da[] = {1, 1, 1, 1, 1};
  copy(a, from, 5);
  row_clip_backward(&c, 5, a, da);
  row_clip(&c, 5, a);
  for (int j = 0; j < 5; j++) {
    within(t, (double)a[j], to[j], 4 * REAL_EPS, "weight %d", j);
    within(t, (double)da[j], back[j], 4 * REAL_EPS, "its gradient %d", j);
  }
  const Config wide = config_of(t, "--clip-high 2");
  real edge[] = {0, (real)0.5, (real)0.75}, d_edge[] = {1, 1, 1};
  row_clip_backward(&wide, 3, edge, d_edge);
  fact(t, d_edge[0] == 2 && d_edge[1] == 2 && d_edge[2] == 0,
       "at 0 %g, at 1 %g, beyond %g", (double)d_edge[0], (double)d_edge[1],
       (double)d_edge[2]);
  copy(a, from, 5);
  row_clip(&none, 5, a);
  fact(t, same_numbers(5, a, from), "0 and 1 clip something");
}

/* A bias of -99 leaves softpick, rectified and relu no score above 0 from
 * the start: no weight, no NaN, and nothing to learn from, W_V included. */
static void gradients__dead_heads(Test *t) {
  static const char *const DEAD[] = {"l0.wq", "l1.wk", "l0.sbias", "l1.cscale",
                                     "l0.wv"};
  LABS (b, 2, 7, "--score-scale logn --score-bias learned --sim rectified",
        "--score-scale logn --score-bias learned --sim relu",
        "--score-scale logn --score-bias learned --sim relu --normalizer count",
        "--score-scale logn --score-bias learned --sim relu --normalizer pnorm",
        "--score-scale logn --score-bias learned --sim softpick") {
    lab_fill(&b, "l0.sbias", -99);
    lab_fill(&b, "l1.sbias", -99);
    double loss = lab_gradients(&b);
    fact(t, isfinite(loss), "the loss is %g, %s", loss, b.flags);
    EACH (k, DEAD) {
      const Tensor *x = model_tensor(&b.m, DEAD[k]);
      within(t, biggest(tensor_count(x), x->d), 0, 0, "d%s, %s",
             DEAD[k], b.flags);
    }
  }
}

/* One key: log 1 = 0 exactly, whatever c_h. --score-bias logn takes log(4) off.
 * A NaN stays one. */
static void before_sim__one_key(Test *t) {
  real c_h[] = {7}, z[] = {5, (real)NAN};
  const Layer w = {.cscale = {.w = c_h}};
  const Config scale = config_of(t, "--score-scale logn");
  const Config bias = config_of(t, "--score-bias logn");
  const Config cap = config_of(t, "--soft-cap 3");
  scores_forward(&bias, &(Layer){0}, 0, 4, 2, z, NULL);
  within(t, (double)z[0], 5 - log(4), 8 * REAL_EPS, "less log 4");
  scores_forward(&cap, &(Layer){0}, 0, 4, 2, z, NULL);
  within(t, (double)z[0], 3 * tanh((5 - log(4)) / 3), 8 * REAL_EPS, "capped");
  scores_forward(&scale, &w, 0, 1, 2, z, NULL);
  fact(t, z[0] == 0 && isnan((double)z[1]), "one key: %g, NaN: %g",
       (double)z[0], (double)z[1]);
}

/* n_i is what the mask shows: of --extra logn, whose * has the score log(n_i),
 * under every mask, with fewer rows than the prefix too, in tiles and in plain.
 * (Windows of some layers: test_rows.c.) */
static void keys_shown__as_visible(Test *t) {
  static const int SIZES[] = {2, 3, 5, 11, 45};
  EACH (k, SIZES)
    LABS (b, 1, SIZES[k], "--extra logn", "--extra logn --window 1",
          "--extra logn --window 3", "--extra logn --prefix 4",
          "--extra logn --prefix 2 --window 3",
          "--extra logn --window 9 --prefix 9",
          "--extra logn --sink-token --window 2 --prefix 3",
          "--extra logn --sink-token")
      for (int plain = 0; plain < 2; plain++) {
        const Config *c = &b.m.c;
        const int T = b.T, N = config_rows(c, T), S = config_columns(c, T);
        b.m.plain = plain;
        lab_maps(&b);
        lab_forward(&b);
        /* two blocks, two heads */
        for (int row = 0; row < 4 * N; row++) {
          const int l = row / N / 2, h = row / N % 2, i = row % N;
          int n = 0;
          for (int j = 0; j < N; j++)
            n += (j >= c->sink_token && j < c->sink_token + c->prefix) ||
                 (j <= i && (!c->window || j > i - c->window));
          within(t, (double)b.probe[l].z[((idx)h * N + i) * S], log(n),
                 4 * REAL_EPS, "%s: row %d of %d", b.flags, i, N);
        }
      }
}

/* What is learned of the scores starts from the context, under every start; a
 * fixed logit is none of it. */
static void scores__start(Test *t) {
  for (int init = 0; init < INIT_ROWS; init++)
    LABS (b, 1, 8,
          "--score-scale logn --score-bias learned --extra logit "
          "--extra-logit 2") {
      model_init(&b.m, init, 3);
      for (int h = 0; h < 2; h++) {
        within(t, (double)lab_at(&b, "l1.cscale")[h] * log(80), 1, 2 * REAL_EPS,
               "cscale");
        within(t, (double)lab_at(&b, "l1.sbias")[h] / log(80), -1, 2 * REAL_EPS,
               "sbias");
      }
      fact(t, !model_tensor(&b.m, "l0.logit"), "a fixed logit has a tensor");
    }
}

/* With one key a row, log(n_i) = 0: no score reaches sim, and what makes scores
 * has gradient 0. Under a null key the queries still meet k*. */
static void gradients__one_key(Test *t) {
  static const char *const DEAD[] = {"l0.cscale", "l1.cscale", "l0.wk",
                                     "l1.wk",     "rel",       "l0.wq"};
  LABS (b, 2, 7, "--window 1 --score-scale logn --pos t5",
        "--window 1 --score-scale logn --pos t5 --extra kv") {
    lab_gradients(&b);
    EACH (k, DEAD) {
      const Tensor *x = model_tensor(&b.m, DEAD[k]);
      bool meets = k == 5 && b.m.c.extra;
      fact(t, (biggest(tensor_count(x), x->d) > 0) == meets,
           "d%s is %g, %s", DEAD[k], biggest(tensor_count(x), x->d),
           b.flags);
    }
  }
}

/* The clip, the cap and the fixed logit are those of their sources. */
static void variants__numbers(Test *t) {
  const Config clip = config_of(t, "--variant clipped-softmax");
  const Config cap = config_of(t, "--variant soft-cap");
  const Config null = config_of(t, "--variant null-logit");
  fact(t, clip.clip_low == -0.03 && clip.clip_high == 1, "clipped at %g",
       clip.clip_low);
  fact(t, cap.soft_cap == 50 && null.extra_logit == 4, "%g, %g", cap.soft_cap,
       null.extra_logit);
}

/* What is refused, with status 2 and one line that names the flag; and its
 * nearest neighbours. */
static void scores__refuses(Test *t) {
  static const struct { const char *flags, *named; } WRONG[] = {
    {"--sim softpick --normalizer one", "--sim"},
    {"--sim softpick --kernel elu", "--kernel"},
    {"--sim rectified --normalizer clamp", "--sim"},
    {"--sim rectified --kernel elu", "--kernel"},
    {"--sim identity --kernel elu --extra logn --score-scale logn",
     "--score-scale beside --extra logn"},
    {"--sim softpick --normalizer count", "softpick"},
    {"--normalizer count", "--normalizer"},
    {"--sim rectified --normalizer pnorm", "--sim"},
    {"--clip-low 0.1", "--clip-low"},
    {"--clip-high 0.9", "--clip-high"},
    {"--clip-low -0.1 --normalizer pnorm", "--clip-low"},
    {"--clip-high 2 --sim elu --normalizer one", "--clip-high"},
    {"--soft-cap 0", "cap none"},
    {"--sparse-block 8", "--sparse-top 3"},
    {"--sim sparsemax --normalizer one", "sparsemax"},
    {"--sparse-top 1 --sparse-block 8 --sparse-first",
     "--sparse-block 8 --sparse-top 3"},
    {"--sim entmax --clip-low -0.1", "--clip-low"},
    {"--sim entmax --kernel elu", "entmax"},
    {"--soft-cap nan", "cap none"}, {"--soft-cap -1", "cap none"},
    {"--extra-logit inf", "none"},
    {"--context 1 --score-scale logn", "--score"},
    {"--context 1 --score-bias learned", "--score"}};
  static const char *const RIGHT[] = {
    "--sim softpick --normalizer pnorm --pnorm 1",
    "--sim rectified --kernel mlp --extra logit",
    "--sim relu --kernel elu --normalizer count",
    "--sim identity --normalizer count --extra k",
    "--clip-low 0 --clip-high 1 --normalizer one",
    "--clip-low -1 --sim relu --extra logn"};
  EACH (i, WRONG) {
    Config c;
    int status = config_from_flags(&c, WRONG[i].flags, fresh(t));
    fact(t,
         status == 2 && strstr(t->e.text, WRONG[i].named) &&
             strstr(t->e.text, "Try: "),
         "%s: %d, %s", WRONG[i].flags, status, t->e.text);
  }
  EACH (i, RIGHT)
    config_kept(t, "%s", RIGHT[i]);
}

/* Two rows of scores -1, and 2 and -3, taken as they are: the weights sum to
 * -1, and their sizes to (1 + 5) / 2. Without weight there is no mass, whatever
 * the proxy m says of it. */
static void sinks__raw_mass(Test *t) {
  LABS (b, 1, 2, "--layers 1 --heads 1 --sim identity --normalizer one",
        "--layers 1 --heads 1 --sim relu --score-bias learned "
        "--normalizer count") {
    Sinks s;
    double row[ROW];
    const Config *c = &b.m.c;
    const bool dead = c->sim == SIM_RELU;
    real map[] = {1, 0, (real)0.4, (real)0.6}, weight[] = {-1, 0, 2, -3};
    if (dead)
      zero(weight, 4);
    if (sinks_create(&s, &b.m, 2, 1, (double[]){0.3}, 1, fresh(t)))
      exit(1);
    measure_head(&s, c, METRIC_REAL, 0, map, weight);
    s.n = 1;
    sinks_row(&s, c, 0, row);
    within(t, row[ROW_MASS], dead ? 0 : 3, 0, "raw mass");
    within(t, s.mass[0], dead ? 0 : -1, 0, "the sum of the weights");
    sinks_free(&s);
  }
}

/* s* = e^1000 leaves m* without a value where v* = 0 keeps the loss a number:
 * no Sink_* then, while every other column has its own. */
static void sinks__no_number(Test *t) {
  LABS (b, 1, 3,
        "--layers 1 --normalizer one --extra logit --extra-logit 1000") {
    Sinks s;
    lab_maps(&b);
    lab_loss(&b);
    fact(t, isfinite(b.a.loss_row[0]), "the loss is %g", b.a.loss_row[0]);
    if (sinks_create(&s, &b.m, 3, 1, (double[]){0.3}, 1, fresh(t)))
      exit(1);
    measure_head(&s, &b.m.c, METRIC_REAL, 0, b.probe[0].metric,
                 b.probe[0].weight);
    fact(t, isnan(s.alpha[0]) && isnan(s.over[0]), "alpha_* %g, over %g",
         s.alpha[0], s.over[0]);
    fact(t, s.alpha[1] == 0 && s.over[1] == 0, "alpha_1 %g, over %g",
         s.alpha[1], s.over[1]);
    sinks_free(&s);
  }
}

/* none is a value of these flags: read, written and kept as such. */
static void options__none(Test *t) {
  static const char *const FLAGS[] = {"soft-cap", "extra-logit"};
  EACH (k, FLAGS) {
    const char *flag = FLAGS[k];
    const Option *o = option_find(flag, MODEL);
    char text[PATH_ROOM];
    Settings s;
    settings_default(&s);
    option_text(o, &s, text, sizeof text);
    fact(t, !strcmp(text, "none"), "--%s is %s unless given", flag, text);
    option_set(o, &s, "2.5", true, fresh(t));
    option_text(o, &s, text, sizeof text);
    fact(t, !t->e.status && !strcmp(text, "2.5"), "--%s 2.5: %s, %s", flag,
         text, t->e.text);
    fact(t, !option_set(o, &s, "none", true, &t->e), "--%s none: %s", flag,
         t->e.text);
    option_text(o, &s, text, sizeof text);
    fact(t, !strcmp(text, "none"), "--%s none is %s", flag, text);
  }
  Settings s;
  settings_default(&s);
  s.groups = MODEL;
  settings_flags(&s, "--extra zero --extra-logit 1", MODEL, fresh(t));
  fact(t,
       settings_refuse_idle(&s, &t->e) == 2 &&
           strstr(t->e.text, "--extra logit"),
       "%s", t->e.text);
}

/* In help a value is called by a word for people, not by a name of the code. */
static void options__value_words(Test *t) {
  for (const Option *o = OPTIONS; o->flag; o++)
    fact(t, o->kind == 'c' || !strchr(o->value, '_'), "--%s %s", o->flag,
         o->value);
}

/* ---- 2  The way out of a head ---- */

/* Both, until the next call. */
static const char *flags_of(const char *some, const char *more) {
  static char all[300];
  snprintf(all, sizeof all, "%s %s", some, more);
  return all;
}

/* What mhsa_forward and mhsa_backward do of a row of block 1: by the seam where
 * there is one. */
static void leaves(Lab *b, bool forward) {
  Model *m = &b->m;
  LayerActs *la = &b->a.layer[0];
  if (forward && m->seams.leave)
    m->seams.leave(m, &b->a, 0, la->v, 1);
  else if (forward && m->layer[0].vplus.w)
    add_row(la->o, m->layer[0].vplus.w, m->c.heads * m->c.head_dim, 1);
  else if (!forward && m->seams.leave_backward)
    m->seams.leave_backward(m, &b->a, 0, 1, 1);
  else if (!forward && m->layer[0].vplus.w)
    vplus_backward(m, &b->a, 0, 1, 1);
}

/* One head of two dims, one row: v = (1, 2), the output (3, 1), all parameters
 * set here. What leaves, and from do = (1, 1) what comes back to the output, to
 * v, and to each parameter. */
typedef struct LeaveCase {
  const char *flags;
  double o[2], dout[2], dv[2], dplus[2], dgain[2], dc, dg[2];
} LeaveCase;

static void leave_compare(Test *t, Lab *b, const LeaveCase *x) {
  static const real V[] = {1, 2}, OUT[] = {3, 1}, ONES[] = {1, 1};
  static const double TIGHT = 1e-7; /* XSA has an e of 1e-8 */
  LayerActs *la = &b->a.layer[0];
  const Layer *w = &b->m.layer[0];
  const bool two_gates = config_gates(&b->m.c) == 2;
  if (w->vplus.w)
    copy(w->vplus.w, (const real[]){(real)0.5, 2}, 2);
  if (w->hnorm.w)
    copy(w->hnorm.w, (const real[]){2, 3}, 2);
  if (w->vscale.w)
    *w->vscale.w = 2;
  if (la->gate)
    la->gate[0] = (real)0.25;
  if (la->gate && two_gates)
    la->gate[1] = (real)0.5;
  copy(la->v, V, 2);
  copy(la->o, OUT, 2);
  copy(b->a.dout, ONES, 2);
  slots_begin(&b->m, &b->a, 0, 1, 1);
  leaves(b, true);
  leaves(b, false);
  for (int d = 0; d < 2; d++) {
    const real *slot = b->a.slot + d, *late = b->a.late_slot + d;
    within(t, (double)la->o[d], x->o[d], TIGHT, "o_%d, %s", d, x->flags);
    within(t, (double)b->a.dout[d], x->dout[d], TIGHT, "its gradient, %s",
           x->flags);
    within(t, (double)b->a.dv[d], x->dv[d], TIGHT, "dv_%d, %s", d, x->flags);
    if (w->vplus.w)
      within(t, (double)slot[4], x->dplus[d], TIGHT, "dv+_%d, %s", d, x->flags);
    if (w->hnorm.w)
      within(t, (double)late[0], x->dgain[d], TIGHT, "dhnorm_%d, %s", d,
             x->flags);
    if (b->a.dgate && (d == 0 || two_gates))
      within(t, (double)b->a.dgate[d], x->dg[d], TIGHT, "dg_%d, %s", d,
             x->flags);
  }
  if (w->vscale.w)
    within(t, (double)b->a.late_slot[4], x->dc, TIGHT, "dc, %s", x->flags);
}

static void leave__by_hand(Test *t) {
  const double root = sqrt((9 + 1) / 2.0 + 1e-5), cube = root * root * root;
  const LeaveCase ROWS[] = {
    {"--vbias", {3.5, 3}, {1, 1}, {0, 0}, {1, 1}, {0, 0}, 0, {0, 0}},
    {"--v-scale", {6, 2}, {2, 2}, {0, 0}, {0, 0}, {0, 0}, 4, {0, 0}},
    {"--gate head", {0.75, 0.25}, {0.25, 0.25}, {0, 0}, {0, 0}, {0, 0}, 0,
     {4, 0}},
    {"--gate static", {0.75, 0.25}, {0.25, 0.25}, {0, 0}, {0, 0}, {0, 0}, 0,
     {4, 0}},
    {"--gate element", {0.75, 0.5}, {0.25, 0.5}, {0, 0}, {0, 0}, {0, 0}, 0,
     {3, 1}},
    {"--gate value", {3, 1}, {1, 1}, {0, 0}, {0, 0}, {0, 0}, 0, {0, 0}},
    /* <o, v> = |v|^2 = 5, <do, v> = 3 */
    {"--xsa", {2, -1}, {0.4, -0.2}, {-1.6, 0.8}, {0, 0}, {0, 0}, 0, {0, 0}},
    /* (2, -1), + v+, times 2, times g; back: (1/2, 1), of which XSA takes
     * <.., v> / 5 = 1/2 of v: dv = -(1/2, 1) - (3, 1) / 2 + (1, 2) */
    {"--xsa --vbias --v-scale --gate element", {1.25, 1}, {0, 0}, {-1, 0.5},
     {0.5, 1}, {0, 0}, 1.125, {5, 2}},
    /* gains 2, 3 and r = 1 / root: dgain = o r;
     * do = r (2, 3) - o r^3 (2 3 + 3 1) / 2 */
    {"--head-norm", {6 / root, 3 / root},
     {2 / root - 3 * 4.5 / cube, 3 / root - 4.5 / cube}, {0, 0}, {0, 0},
     {3 / root, 1 / root}, 0, {0, 0}}};
  EACH (r, ROWS)
    LABS (b, 1, 1, flags_of("--heads 1 --head-dim 2 --layers 1", ROWS[r].flags))
      leave_compare(t, &b, &ROWS[r]);
}

/* Where <v, v> = 1e-8 = e XSA takes half of the part along v, both ways:
 * r = 1 / 2e-8, and dv = -p r - t r + 2 p t r^2 v with p = t = 1e-4. */
static void leave__short_value(Test *t) {
  LABS (b, 1, 1, "--heads 1 --head-dim 2 --layers 1 --xsa") {
    LayerActs *la = &b.a.layer[0];
    copy(la->v, (const real[]){(real)1e-4, 0}, 2);
    copy(la->o, (const real[]){1, 0}, 2);
    copy(b.a.dout, la->o, 2);
    slots_begin(&b.m, &b.a, 0, 1, 1);
    leaves(&b, true);
    within(t, (double)la->o[0], 0.5, 1e-6, "half of o");
    leaves(&b, false);
    within(t, (double)b.a.dout[0], 0.5, 1e-6, "half of do");
    within(t, (double)b.a.dv[0] / 5e3, -1, 1e-6, "dv");
  }
}

static void halve(Lab *b, const char *name) {
  real *x = lab_at(b, name);
  for (idx i = 0; x && i < tensor_count(model_tensor(&b->m, name)); i++)
    x[i] /= 2;
}

/* With u = 0 every gate is 1/2, which W_O can hold as well, or of values W_V:
 * the same states to the bit. v* and v+ have no gate of values. A factor of 1
 * is none. */
static void gates__half(Test *t) {
  static const struct { const char *gate, *others, *halved; } ROWS[] = {
    {"--gate head", "--vbias --kv-heads 1", "wo"},
    {"--gate element", "--combine add", "wo"},
    {"--gate static",
     "--place post --sink-token --heads 4 --kv-heads 2 --head-dim 4", "wo"},
    {"--gate value", "--extra kv --vbias --kv-heads 1", "wv"},
    {"--gate value", "--extra kv --xsa --heads 4 --kv-heads 2 --head-dim 4",
     "wv"},
    {"--v-scale", "--xsa --vbias", ""}};
  EACH (r, ROWS)
    LABS (a, 2, 40, ROWS[r].others)
      LABS (b, 2, 40, flags_of(ROWS[r].gate, ROWS[r].others)) {
        char name[32];
        const char *ZERO[] = {"wg", "gate"};
        lab_share(&b, &a);
        for (int l = 0; l < 2; l++) {
          EACH (k, ZERO) {
            snprintf(name, sizeof name, "l%d.%s", l, ZERO[k]);
            lab_fill(&b, name, 0);
          }
          snprintf(name, sizeof name, "l%d.vscale", l);
          lab_fill(&b, name, 1);
          snprintf(name, sizeof name, "l%d.%s", l, ROWS[r].halved);
          halve(&a, name);
        }
        lab_forward(&a);
        lab_forward(&b);
        idx n = 2 * (idx)a.a.N * a.m.c.dim;
        fact(t, same_numbers(n, a.a.nf, b.a.nf), "%s", b.flags);
        fact(t, biggest(n, a.a.nf) > 0.1, "%s: nothing there", b.flags);
      }
}

/* XSA leaves nothing along a row's own value, the gated one, in its key head;
 * and nothing at all of a row that sees itself alone. */
static void xsa__own_value(Test *t) {
  LABS (b, 2, 9, "--xsa",
        "--xsa --gate value --heads 4 --kv-heads 2 --head-dim 4",
        "--xsa --window 1",
        "--xsa --kv-heads 1 --sim sigmoid --normalizer one --extra kv "
        "--sink-token") {
    const Config *c = &b.m.c;
    idx D = c->head_dim, H = c->heads, K = c->kv_heads, N = b.a.N;
    lab_forward(&b);
    for (idx at = 0; at < 2 * N * H; at++) {
      const real *o = b.a.layer[1].o + at * D, *av = b.a.layer[1].av + at * D;
      const real *v = b.a.layer[1].v + (at / H * K + at % H / (H / K)) * D;
      double size = sqrt((double)(vec_dot(D, av, av) * vec_dot(D, v, v)));
      within(t, (double)vec_dot(D, o, v), 0, 1e-5 * (1 + size), "along v, %s",
             b.flags);
      bool alone = c->window == 1 || (at / H % N == 0 && !c->extra);
      fact(t, (biggest(D, o) < 1e-5 * biggest(D, av)) == alone,
           "row %lld of %s", at / H, b.flags);
    }
  }
}

/* With gains of 1 and no eps every q and k has length sqrt(D), after a bias,
 * with RMSNorm under LayerNorm too: hence |z| <= sqrt(D),
 * and four times the weights are the same model. k* has the length it has. */
static void qk_norm__lengths(Test *t) {
  static const char *const GAINS[] = {"l0.qnorm", "l0.knorm", "l1.qnorm",
                                      "l1.knorm"};
  static const char *const SCALED[] = {"l0.wq", "l0.bq", "l1.wk", "l1.bk"};
  LABS (b, 2, 9,
        "--qk-norm --norm-eps 0 --linear-bias --norm layer --kv-heads 1",
        "--qk-norm --norm-eps 0 --linear-bias --kv-heads 2 --head-dim 4 "
        "--extra k --place post") {
    const Config *c = &b.m.c;
    idx D = c->head_dim, rows = 2 * b.a.N, S = config_columns(c, 9);
    idx n = rows * c->dim;
    lab_maps(&b);
    EACH (k, GAINS)
      lab_fill(&b, GAINS[k], 1);
    lab_forward(&b);
    for (int key = 0; key < 2; key++)
      for (idx at = 0; at < rows * (key ? c->kv_heads : c->heads); at++) {
        const real *x = (key ? b.a.layer[1].k : b.a.layer[1].q) + at * D;
        within(t, (double)vec_dot(D, x, x), (double)D, 1e-12, "length, %s",
               b.flags);
      }
    const real *z = b.probe[1].z;
    for (idx j = 0; j < rows * c->heads * S; j++)
      fact(t,
           (c->extra && j % S == 0) ||
               fabs((double)z[j]) <= sqrt((double)D) + 1e-12,
           "a score of %g, %s", (double)z[j], b.flags);
    real *before = reals(n), *kstar = lab_at(&b, "l1.kstar"), was = z[S];
    copy(before, b.a.nf, n);
    EACH (k, SCALED)
      for (int twice = 0; twice < 2; twice++) {
        real *x = lab_at(&b, SCALED[k]);
        for (idx i = 0; i < tensor_count(model_tensor(&b.m, SCALED[k])); i++)
          x[i] *= 2;
      }
    lab_forward(&b);
    fact(t, same_numbers(n, before, b.a.nf), "four times: off by %g",
         distance(n, before, b.a.nf));
    for (idx i = 0; kstar && i < c->heads * D; i++)
      kstar[i] *= 2;
    lab_forward(&b);
    if (kstar)
      within(t, (double)z[S], 2 * (double)was, 0, "twice k*");
    free(before);
  }
}

/* What cannot learn: gains of q and k where scores are 0 or alone; a factor
 * before a head norm without eps. What can, in the same models: the rest. */
static void gradients__no_use(Test *t) {
  static const struct Use {
    const char *flags, *names[2];
    double most;
  } ROWS[] = {
    {"--window 1 --qk-norm", {"l0.qnorm", "l1.knorm"}, 0},
    {"--window 1 --qk-norm --score-scale logn --sim sigmoid",
     {"l0.qnorm", "l1.knorm"}, 0},
    {"--window 1 --qk-norm --score-scale logn --extra kv",
     {"l1.knorm", "l0.wk"}, 0},
    {"--head-norm --norm-eps 0 --v-scale --gate static",
     {"l0.vscale", "l1.gate"}, 1e-12}};
  static const struct Use LIVE[] = {
    {"--window 1 --v-scale --gate static", {"l0.vscale", "l1.gate"}, 0},
    {"--window 1 --qk-norm --score-scale logn --extra kv",
     {"l0.qnorm", "l0.wq"}, 0},
    {"--window 2 --qk-norm", {"l0.qnorm", "l0.knorm"}, 0},
    {"--head-norm --norm-eps 0.1 --v-scale --gate static",
     {"l0.vscale", "l1.gate"}, 0}};
  for (int live = 0; live < 2; live++)
    EACH (r, ROWS) {
      const struct Use *use = live ? &LIVE[r] : &ROWS[r];
      LABS (b, 2, 7, use->flags) {
        lab_gradients(&b);
        double all = biggest(b.m.count, b.m.grads);
        for (int k = 0; k < 2; k++) {
          const Tensor *x = model_tensor(&b.m, use->names[k]);
          double size = biggest(tensor_count(x), x->d);
          fact(t, live ? size > 1e-6 * all : size <= use->most * all,
               "d%s is %g of %g, %s", x->name, size, all, b.flags);
        }
      }
    }
}

/* New matrices start as wq does, x* as wte, W_g alone of the new tensors decays
 * as a matrix, and what is no matrix starts so that it changes nothing, or at a
 * gate of 1/2. */
static void heads__start(Test *t) {
  static const struct {
    const char *name;
    double value;
  } STARTS[] = {{"l1.gate", 0},
                {"l1.vscale", 1},
                {"l1.hnorm", 1},
                {"l1.qnorm", 1},
                {"l1.knorm", 1}};
  static const struct {
    const char *flags;
    int rows, columns;
  } SHAPES[] = {{"--gate head", 12, 4},
                {"--gate element", 12, 24},
                {"--gate value", 12, 12}};
  LABS (b, 1, 2, "--qk-norm --head-norm --v-scale --gate static")
    EACH (k, STARTS) {
      const Tensor *x = model_tensor(&b.m, STARTS[k].name);
      model_init(&b.m, INIT_TORCH, 3);
      fact(t, x && !x->matrix, "no %s", STARTS[k].name);
      for (idx i = 0; x && i < tensor_count(x); i++)
        within(t, (double)x->w[i], STARTS[k].value, 0, "%s",
               x->name);
    }
  LABS (b, 1, 2, "--sink-token", "--sink-token 3")
    for (int init = 0; init < INIT_ROWS; init++) {
      const Tensor *x = model_tensor(&b.m, "xstar");
      const Tensor *wte = model_tensor(&b.m, "wte");
      const idx n = tensor_count(x), N = tensor_count(wte);
      model_init(&b.m, init, 3);
      const double size = (double)vec_dot(n, x->w, x->w) / (double)n;
      const double like = (double)vec_dot(N, wte->w, wte->w) / (double)N;
      fact(t, x->init == INITIAL_STREAM && !x->matrix, "%s: x* is another",
           b.flags);
      fact(t, size > 0.3 * like && size < 3 * like, "%s, start %d: %g, wte %g",
           b.flags, init, size, like);
    }
  EACH (r, SHAPES)
    LABS (b, 1, 2,
          flags_of("--heads 4 --kv-heads 2 --head-dim 6", SHAPES[r].flags))
      for (int init = 0; init < INIT_ROWS; init++) {
        const Tensor *x = model_tensor(&b.m, "l0.wg");
        const Tensor *wq = model_tensor(&b.m, "l0.wq");
        fact(t,
             x->matrix && x->rows == SHAPES[r].rows &&
                 x->cols == SHAPES[r].columns && x->init == wq->init,
             "%s: [%d,%d]", b.flags, x->rows, x->cols);
        model_init(&b.m, init, 3);
        fact(t, biggest(tensor_count(x), x->w) > 0,
             "W_g starts at 0");
      }
}

/* ---- 3  Blocks, norms, x*, the optimiser: 3.1, 3.2, 4, 5 ---- */

/* tanh(log 2) = 3/5 and tanh(log 3) = 4/5: with a = 1/2, x = (2 log 2, -2 log
 * 3) has t = (0.6, -0.8). Gains (2, -1), biases (10, 20), dy = (3, 5), in two
 * rows alike; what was there is added to. */
static void norm_dyt__by_hand(Test *t) {
  const double a = 2 * log(2), b = 2 * log(3), tight = 16 * REAL_EPS;
  const real x[] = {(real)a, (real)-b, (real)a, (real)-b}, dy[] = {3, 5, 3, 5};
  real w[] = {2, -1, 10, 20, (real)0.5}, d[] = {100, 100, 100, 100, 100};
  real y[4], stat[4], dx[] = {7, 7, 7, 7};
  Norm norm = {.g = {.rows = 2, .w = w, .d = d},
               .b = {.rows = 2, .w = w + 2, .d = d + 2},
               .a = {.rows = 1, .w = w + 4, .d = d + 4},
               .forward = dyt_forward,
               .backward = dyt_backward};
  norm_forward(y, stat, x, &norm, 2);
  norm_backward(dx, dy, x, stat, &norm, 2);
  const double slope[] = {0.64 * 2 * 3, 0.36 * -1 * 5}; /* (1 - t^2) g dy */
  const double want_y[] = {11.2, 20.8}, da = a * slope[0] - b * slope[1];
  const double want_d[] = {2 * 3 * 0.6, 2 * 5 * -0.8, 6, 10, 2 * da};
  for (int i = 0; i < 4; i++) {
    within(t, (double)y[i], want_y[i % 2], 20 * tight, "y[%d]", i);
    within(t, (double)dx[i], 7 + 0.5 * slope[i % 2], 10 * tight, "dx[%d]", i);
  }
  for (int i = 0; i < 5; i++)
    within(t, (double)d[i], 100 + want_d[i], 100 * tight, "d[%d]", i);
}

/* With a slope so small that tanh is a line, and the gain 1 / slope, DyT hands
 * its row on; with one so large that it is a step, it hands on signs, whatever
 * the lengths. */
static void norm_dyt__limits(Test *t) {
  LABS (b, 1, 9, "--norm dyt") {
    const int C = b.m.c.dim;
    lab_fill(&b, "l0.norm1", 1024);
    lab_fill(&b, "l0.norm1.a", 1.0 / 1024);
    lab_fill(&b, "l0.norm1.b", 0);
    lab_fill(&b, "l0.norm2", 1);
    lab_fill(&b, "l0.norm2.a", 1e9);
    lab_fill(&b, "l0.norm2.b", 0);
    lab_forward(&b);
    const LayerActs *y = &b.a.layer[0];
    within(t, distance(9 * C, y->x, y->n1), 0, 1e-5, "a line");
    for (int i = 0; i < 9 * C; i++)
      fact(t, y->n2[i] == (y->s1[i] > 0 ? 1 : -1), "number %d", i);
  }
}

/* In a sandwich a branch comes back as long as n3 and n4 make it, sqrt(C)
 * with gains of 1: eight times W_O or W_3 changes no bit where eps is 0, and
 * with gains of 0 the block is not there. Under pre-norm the same factor
 * changes the stream. */
static void block_sandwich__lengths(Test *t) {
  LABS (b, 1, 9, "--norm-eps 0 --place sandwich", "--norm-eps 0") {
    const int C = b.m.c.dim, n = 9 * C;
    real *before = reals(n);
    const bool sandwich = b.m.c.place == PLACE_SANDWICH;
    const LayerActs *y = &b.a.layer[0];
    lab_fill(&b, "l0.norm3", 1);
    lab_fill(&b, "l0.norm4", 1);
    lab_forward(&b);
    copy(before, b.a.h, n);
    for (int row = 0; row < n && sandwich; row += C) {
      double first = 0, second = 0;
      for (int i = row; i < row + C; i++) {
        first += pow((double)y->s1[i] - (double)y->x[i], 2) / C;
        second += pow((double)y->s2[i] - (double)y->s1[i], 2) / C;
      }
      within(t, first, 1, 100 * REAL_EPS, "the square of MHSA's branch");
      within(t, second, 1, 100 * REAL_EPS, "the square of FFN's branch");
    }
    vec_scale(C * C, lab_at(&b, "l0.wo"), 8);
    vec_scale(tensor_count(model_tensor(&b.m, "l0.w3")),
              lab_at(&b, "l0.w3"), 8);
    lab_forward(&b);
    fact(t, same_numbers(n, before, b.a.h) == sandwich, "8 W_O, 8 W_3: %s",
         b.flags);
    lab_fill(&b, "l0.norm3", 0);
    lab_fill(&b, "l0.norm4", 0);
    lab_forward(&b);
    fact(t, same_numbers(n, y->x, y->s2) == sandwich, "gains of 0: %s",
         b.flags);
    free(before);
  }
}

/* Columns by name; and the authors' form of the metric, which knows one x*, is
 * refused by more. */
static void sink_tokens__named(Test *t) {
  static const struct { const char *flags, *names[6]; } ROWS[] = {
    {"--sink-token 3 --extra k", {"*", "x*1", "x*2", "x*3", "1", "2"}},
    {"--sink-token 2", {"x*1", "x*2", "1", "2", "3", "4"}},
    {"", {"1", "2", "3", "4", "5", "6"}},
    {"--sink-token", {"x*", "1", "2", "3", "4", "5"}},
    {"--sink-token --extra zero", {"*", "x*", "1", "2", "3", "4"}}};
  char name[16];
  EACH (r, ROWS)
    for (int j = 0; j < 6; j++)
      fact(t,
           !strcmp(column_label(name, config_kept(t, "%s", ROWS[r].flags), j),
                   ROWS[r].names[j]),
           "%s: column %d is %s", ROWS[r].flags, j, name);
  for (int n = 0; n <= 3; n++)
    for (int rows = 0; rows < METRIC_ROWS; rows++) {
      Config c = config_of(t, "--sink-token %d", n);
      const bool refused = rows == METRIC_PLUS1 && n > 1;
      fact(t,
           metric_refuses(&c, rows, fresh(t)) == (refused ? 2 : 0) &&
               !strstr(t->e.text, "Try: --metric-rows real") == !refused,
           "%d: %s", n, t->e.text);
    }
}

/* Muon once more, in double, entry by entry, and always as X X^T: one
 * step of w [R,C]. */
static void slow_muon(double *w, double *M, const double *g, int R, int C,
                      double lr, double wd) {
  double *x = room((idx)R * C), *next = room((idx)R * C), norm = 0;
  double *A = room((idx)R * R), *B = room((idx)R * R);
  for (int i = 0; i < R * C; i++) {
    M[i] = 0.95 * M[i] + g[i];
    x[i] = g[i] + 0.95 * M[i];
    norm += x[i] * x[i];
  }
  for (int i = 0; i < R * C; i++)
    x[i] /= sqrt(norm) + 1e-7;
  for (int times = 0; times < 5; times++) {
    for (int i = 0; i < R * R; i++) {
      A[i] = 0;
      for (int c = 0; c < C; c++)
        A[i] += x[i / R * C + c] * x[i % R * C + c];
    }
    for (int i = 0; i < R * R; i++) {
      B[i] = -4.7750 * A[i];
      for (int k = 0; k < R; k++)
        B[i] += 2.0315 * A[i / R * R + k] * A[k * R + i % R];
    }
    for (int i = 0; i < R * C; i++) {
      next[i] = 3.4445 * x[i];
      for (int k = 0; k < R; k++)
        next[i] += B[i / C * R + k] * x[k * C + i % C];
    }
    memcpy(x, next, (size_t)(R * C) * sizeof *x);
  }
  for (int i = 0; i < R * C; i++)
    w[i] = w[i] * (1 - lr * wd) - 0.2 * sqrt(fmax(R, C)) * lr * x[i];
  free(x);
  free(next);
  free(A);
  free(B);
}

#define MATRIX(in, out, at, by) \
  (Tensor){.rank = 2, .rows = in, .cols = out, .w = at, .d = by}

/* Three steps, clipped, of wide, tall, square and thin matrices against it. */
static void muon_step__against_slow(Test *t) {
  static const int SHAPES[][2] = {{3, 8}, {8, 3},   {6, 6}, {1, 9},
                                  {9, 1}, {40, 33}, {1, 1}};
  EACH (k, SHAPES) {
    const int R = SHAPES[k][0], C = SHAPES[k][1], n = R * C;
    real *w = reals(n), *g = reals(n), *M = reals(n);
    real *scratch = reals(2 * n + 2 * n);
    double *slow = room(n), *slow_g = room(n), *slow_M = room(n);
    Rng r = {(uint64_t)k + 3};
    for (int i = 0; i < n; i++) {
      w[i] = (real)rng_normal(&r);
      slow[i] = (double)w[i];
    }
    for (int step = 1; step <= 3; step++) {
      const double shrink = step == 2 ? 0.25 : 1;
      const Step s = {.lr = 0.02, .wd = 0.5, .t = step, .shrink = shrink};
      for (int i = 0; i < n; i++) {
        g[i] = (real)rng_normal(&r);
        slow_g[i] = s.shrink * (double)g[i];
      }
      muon_step(&s, &MATRIX(R, C, w, g), M, scratch);
      slow_muon(slow, slow_M, slow_g, R, C, s.lr, s.wd);
    }
    for (int i = 0; i < n; i++) {
      within(t, (double)w[i], slow[i], 300 * REAL_EPS, "w[%d] of %d x %d", i, R,
             C);
      within(t, (double)M[i], slow_M[i], 50 * REAL_EPS, "M[%d] of %d x %d", i,
             R, C);
    }
    free(w);
    free(g);
    free(M);
    free(scratch);
    free(slow);
    free(slow_g);
    free(slow_M);
  }
}

/* p(s) = a s + b s^3 + c s^5 five times over. */
static double five_times(double s) {
  for (int i = 0; i < 5; i++)
    s = s * (3.4445 + s * s * (-4.7750 + s * s * 2.0315));
  return s;
}

/* A gradient U S V^T with reflections U, V and S of four sizes, one of them 0:
 * the step is that of -0.2 sqrt(max) lr U p(S / |S|) V^T, and so is that of one
 * 1024 times as large, but for the 1e-7 beside the norm, 1.95 |S|. */
static void muon_step__singular_values(Test *t) {
  enum { R = 4, C = 6 };
  static const double S[R] = {3, 1, 0.1, 0};
  const double size = sqrt(9 + 1 + 0.01), lr = 0.5, step = 0.2 * sqrt(C) * lr;
  within(t, five_times(1), 0.6964364095, 1e-9, "p five times of 1");
  for (int tall = 0; tall < 2; tall++)
    for (int large = 0; large < 2; large++) {
      const int rows = tall ? C : R, columns = tall ? R : C;
      const double norm = size + 1e-7 / 1.95 / (large ? 1024 : 1);
      double u[R], v[C], uu = 0, vv = 0, want[R * C];
      real w[R * C] = {0}, g[R * C], M[R * C] = {0}, scratch[4 * R * C];
      for (int i = 0; i < R; i++) {
        u[i] = 1 + i;
        uu += u[i] * u[i];
      }
      for (int j = 0; j < C; j++) {
        v[j] = cos(j);
        vv += v[j] * v[j];
      }
      for (int i = 0; i < R; i++)
        for (int j = 0; j < C; j++) {
          double is = 0, becomes = 0;
          for (int k = 0; k < R; k++) { /* U = 1 - 2 u u^T / uu, and so V */
            double along = ((i == k) - 2 * u[i] * u[k] / uu) *
                           ((j == k) - 2 * v[j] * v[k] / vv);
            is += along * S[k];
            becomes += along * five_times(S[k] / norm);
          }
          const int at = tall ? j * R + i : i * C + j;
          g[at] = (real)(large ? 1024 * is : is);
          want[at] = -step * becomes;
        }
      muon_step(&(Step){.lr = lr, .shrink = 1}, &MATRIX(rows, columns, w, g), M,
                scratch);
      for (int i = 0; i < R * C; i++)
        within(t, (double)w[i], want[i], 200 * REAL_EPS, "w[%d], %d", i,
               2 * tall + large);
    }
}

/* A gradient of a single direction, x y^T, has s = 1 and p = 0.69644; one of
 * nothing moves nothing but by decay. */
static void muon_step__one_direction(Test *t) {
  static const double X[] = {2, -1, 2}, Y[] = {3, 4};
  const double one = -0.2 * sqrt(3) * 0.1 * 0.6964364095 / 15;
  const Step s = {.lr = 0.1, .wd = 2, .shrink = 1};
  real w[6], g[6], M[6] = {0}, scratch[24];
  for (int i = 0; i < 6; i++) {
    g[i] = (real)(X[i / 2] * Y[i % 2]);
    w[i] = 1;
  }
  muon_step(&s, &MATRIX(3, 2, w, g), M, scratch);
  for (int i = 0; i < 6; i++) {
    within(t, (double)w[i], 0.8 + one * (double)g[i], 50 * REAL_EPS + 1e-8,
           "x y^T, w[%d]", i);
    M[i] = g[i] = 0;
    w[i] = 1;
  }
  muon_step(&s, &MATRIX(3, 2, w, g), M, scratch);
  for (int i = 0; i < 6; i++)
    within(t, (double)w[i], 0.8, 4 * REAL_EPS, "nothing, w[%d]", i);
}

/* The same bits on 1, 2 and 16 threads, at a size that matmul shares. */
static void muon_step__threads(Test *t) {
  enum { R = 260, C = 330, N = R * C };
  static const int THREADS[] = {1, 2, 16};
  const int before = workers();
  real *w = reals(3 * N), *g = reals(N), *M = reals(N);
  real *scratch = reals(2 * N + 2 * R * R);
  Rng r = {8};
  if (set_workers(16))
    t->skip = "one thread in this build";
  for (int i = 0; i < N; i++)
    g[i] = (real)rng_normal(&r);
  for (int k = 0; k < 3 && !t->skip; k++) {
    set_workers(THREADS[k]);
    zero(M, N);
    for (int step = 0; step < 2; step++)
      muon_step(&(Step){.lr = 0.1, .wd = 0.1, .shrink = 0.5},
                &MATRIX(R, C, w + k * N, g), M, scratch);
    fact(t, same_numbers(N, w, w + k * N), "%d threads", THREADS[k]);
  }
  set_workers(before);
  free(w);
  free(g);
  free(M);
  free(scratch);
}

/* Which tensors it steps, and how: one step of a trainer against slow_muon for
 * the matrices of the blocks, which leave m2 alone, and against AdamW, at the
 * same lr, for all else. */
static void muon__of_the_matrices(Test *t) {
  static const char *const MATRICES[] = {".wq", ".wk", ".wv",   ".wo",   ".w1",
                                         ".w2", ".w3", ".phi1", ".phi2", ".wg"};
  static const char FLAGS[] =
      "--optimizer muon --kernel mlp --sim sigmoid --pos learned --gate head "
      "--linear-bias --sink-token 2 --extra kv --decay matrices --warmup 1";
  Settings s;
  Trainer r;
  int by_muon = 0;
  if (!tale_open(t, &s, "") || !trainer_made(t, &r, FLAGS))
    return;
  const Train *p = &r.s.train;
  real *was = reals(r.m.count);
  copy(was, r.m.params, r.m.count);
  steps_of(t, &r, 1);
  const double shrink = r.norm > p->clip ? p->clip / (r.norm + 1e-6) : 1;
  for (int i = 0; i < r.m.n_tensors; i++) {
    const Tensor *x = r.m.all[i];
    const idx n = tensor_count(x), at = x->w - r.m.params;
    bool muon = false;
    double *w = room(n), *g = room(n), *M = room(n), off = 0;
    real *adam = reals(3 * n);
    EACH (k, MATRICES) {
      const char *leaf = strchr(x->name, '.');
      muon |= leaf && !strcmp(leaf, MATRICES[k]);
    }
    by_muon += muon;
    for (idx j = 0; j < n; j++) {
      adam[j] = was[at + j];
      w[j] = (double)adam[j];
      g[j] = shrink * (double)x->d[j];
    }
    if (muon)
      slow_muon(w, M, g, x->rows, x->cols, r.lr, p->wd);
    else
      optimizer_step(&(Step){OPTIMIZER_ADAMW, r.lr, p->beta1, p->beta2,
                             p->adam_eps, x->matrix ? p->wd : 0, 1, shrink},
                     n, adam, x->d, adam + n, adam + 2 * n);
    for (idx j = 0; j < n; j++) {
      const double want = muon ? w[j] : (double)adam[j];
      off = larger(off, fabs((double)x->w[j] - want));
    }
    within(t, off, 0, muon ? 1e-9 + 300 * REAL_EPS : 0, "%s", x->name);
    fact(t, (biggest(n, r.m2 + at) == 0) == muon, "%s: second moments",
         x->name);
    free(w);
    free(g);
    free(M);
    free(adam);
  }
  fact(t, by_muon == 10 * r.m.c.layers, "%d matrices", by_muon);
  free(was);
  trainer_free(&r);
}

/* Every similarity, normaliser, extra column and gate stands in a row of `check
 * states` or of `check later`, those of later papers in the latter. */
static void checks__every_later_row(Test *t) {
  static const char *const NAMES[] = {"sim", "normalizer", "extra", "gate"};
  static const int LATER_FROM[] = {SIM_SOFTPICK, NORMALIZER_COUNT, EXTRA_LOGN,
                                   GATE_HEAD};
  static const char *const *const LISTS[] = {LATER_EQUAL_SUMS, LATER_OTHER_SUMS,
                                             EQUAL_SUMS, NEARLY_EQUAL_SUMS,
                                             OTHER_SUMS};
  int later_rows = 0;
  EACH (i, NAMES) {
    char word[VALUE_ROOM], flag[2 * VALUE_ROOM], all[400];
    const Option *o = option_find(NAMES[i], MODEL);
    for (int row = 1; *option_word(o, row, word); row++) {
      const bool new = row >= LATER_FROM[i];
      bool found = false;
      snprintf(flag, sizeof flag, "--%s %s ", o->flag, word);
      later_rows += new;
      EACH (k, LISTS)
        for (const char *const *flags = LISTS[k]; *flags && (k < 2 || !new);
             flags++) {
          snprintf(all, sizeof all, "%s ", *flags);
          found |= strstr(all, flag) != NULL;
        }
      fact(t, found, "%sis in no row of check %s", flag,
           new ? "later" : "states or later");
    }
  }
  fact(t, later_rows == 11, "%d rows of later papers", later_rows);
}

static void hide_but_first(const Acts *a, int l, idx b, idx i, idx lo, idx n,
                           real *z) {
  (void)a, (void)l, (void)b, (void)i;
  for (idx j = 0; j < n; j++)
    if (lo + j > 0)
      z[j] = -INFINITY;
}

/* A row that --isolate leaves one key keeps it, though it is not of its block:
 * the values are then token 1's in all rows. */
static void keep_top__isolated(Test *t) {
  LABS (b, 1, 9, "--layers 1 --sparse-top 1 --sparse-block 4") {
    b.a.hide = hide_but_first;
    lab_forward(&b);
    const real *o = b.a.layer[0].o;
    for (int i = 1; i < 9; i++)
      fact(t, same_numbers(12, o, o + 12 * i), "row %d, %s", i, b.flags);
    fact(t, biggest(12, o) > 0, "nothing there");
  }
}

/* [E10] What chapter 7 says of STATES: an error in one row's embedding is 10 to
 * 25 times as large three blocks on, in all rows whose states agree, the
 * paper's too. */
static void states__errors(Test *t) {
  static const char *const *const LISTS[] = {EQUAL_SUMS, NEARLY_EQUAL_SUMS,
                                             LATER_EQUAL_SUMS};
  const double size = sqrt(REAL_EPS);
  double most = 0;
  Rng rng = {7};
  EACH (k, LISTS)
    for (int i = 0; LISTS[k][i / INSIDE]; i++) {
      Page p = {.out = stdout, .e = fresh(t)};
      Toy *y = toy(&p, REPEATED, "%s %s", SCHEMES[i % INSIDE],
                   LISTS[k][i / INSIDE]);
      const int C = y->m.c.dim, n = y->T * C;
      real *wte = y->m.wte.w, was[16 * 16];
      for (int at = 0; at < y->T; at++) {
        copy(wte + at * C, wte, C);
        y->ids[at] = at;
      }
      for (int at = -1; at < y->T; at += 3) { /* first without an error */
        for (int j = 0; j < C && at > 0; j++)
          wte[at * C + j] += (real)(rng_below(&rng, 2) ? size : -size);
        toy_forward(y);
        const real *h = toy_state(y, 3, 1);
        if (at < 0)
          copy(was, h, n);
        else
          copy(wte + at * C, wte, C); /* takes the error away again */
        for (int j = 0; j < n; j++)
          most = larger(most, fabs((double)(h[j] - was[j])) / size);
      }
      toy_free(y);
    }
  within(t, most, 17.5, 7.5, "how an error grows");
}

static const TestEntry TESTS[] = {
  RUNS(null_logit__gate), RUNS(before_sim__by_hand), RUNS(before_sim__one_key),
  RUNS(row__by_hand), RUNS(softpick__small_scores), RUNS(row__nan),
  RUNS(row_clip__by_hand), RUNS(gradients__dead_heads),
  RUNS(keys_shown__as_visible), RUNS(scores__start), RUNS(gradients__one_key),
  RUNS(options__none), RUNS(scores__refuses), RUNS(sinks__raw_mass),
  RUNS(sinks__no_number), RUNS(options__value_words), RUNS(variants__numbers),
  RUNS(leave__by_hand), RUNS(leave__short_value), RUNS(gates__half),
  RUNS(xsa__own_value), RUNS(qk_norm__lengths), RUNS(gradients__no_use),
  RUNS(heads__start), RUNS(norm_dyt__by_hand), RUNS(norm_dyt__limits),
  RUNS(block_sandwich__lengths), RUNS(sink_tokens__named),
  RUNS(muon_step__against_slow), RUNS(muon_step__singular_values),
  RUNS(muon_step__one_direction), RUNS(muon_step__threads),
  RUNS(muon__of_the_matrices), RUNS(checks__every_later_row),
  RUNS(keep_top__isolated), RUNS(states__errors)};

int main(int argc, char **argv) {
  return tests_run(TESTS, sizeof TESTS / sizeof TESTS[0], argc, argv,
                   (Test){.after = scratch_close});
}
