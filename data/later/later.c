/* later.c - what later papers and models do to norms, scores, rows, heads and
 * blocks, each forward and backward, and another optimiser. The paper has none
 * of them.
 *
 * Companions and tests include this behind sink.c, and later.h before it. A row
 * is reached by a seam of sink.c (sink.h, Seams): more_setup, at the end, fills
 * in those that a model needs. Sections such as 3.7 are sink.c's, and so are
 * letters that no section here defines. What each does to the sink: ./paper
 * remedies.
 *
 * SPDX-License-Identifier: MIT
 *
 * Contents   1 DyT   2 QK-norm   3 Scores before sim   4 Similarities and sums
 *            5 Clipped weights   6 The way out of a head   7 Blocks
 *            8 Muon   9 What an evaluation takes from rows
 *            10 Sparse attention   11 The seams   12 check later
 *
 * Tensors, beside those of sink.c's chapter 2, and how they start. N is
 * --context, a gain is 1:
 *
 *   l0.norm1.a .. normf.a [1]  0.5        DyT's slopes, beside biases .b
 *   l0.cscale [H]    c_h: 1/log N         l0.sbias [H]     f_h: -log N
 *   l0.wg [C,G]      W_g, as LINEAR       l0.gate [H]      a static gate's u: 0
 *   l0.vscale [H]    V-scale's c: 1       l0.hnorm [H*D]   the head norm's gain
 *   l0.qnorm, l0.knorm [D]                gains; [H*D], [K*D] of --qk-whole
 *   l0.norm3, l0.norm4 [C]                n3, n4 of a sandwich, as norm1
 */

/* Does --gate gate o, the output of a head? */
static bool config_gates_o(const Config *c) {
  return c->gate && c->gate != GATE_VALUE;
}

/* G: the gates of a row, of o or of v. */
static idx config_gates(const Config *c) {
  if (c->gate == GATE_VALUE)
    return (idx)c->kv_heads * c->head_dim;
  if (c->gate == GATE_ELEMENT)
    return (idx)c->heads * c->head_dim;
  return c->gate ? c->heads : 0;
}

/* Are scores changed before sim? */
static bool config_score_mod(const Config *c) {
  return c->soft_cap > 0 || c->gain || c->shift;
}

/* Are weights clipped? */
static bool config_clips(const Config *c) {
  return c->clip_low < 0 || c->clip_high > 1;
}

/* Is the output o of a head changed? */
static bool config_leaves(const Config *c) {
  return c->xsa || c->v_scale || c->head_norm || config_gates_o(c);
}

/* Are weights exactly 0 below a threshold? */
static bool config_thresholds(const Config *c) {
  return c->sim == SIM_SPARSEMAX || c->sim == SIM_ENTMAX;
}

/* Is z_i* a number that nothing learns? */
static bool fixed_logit(const Config *c) {
  return c->extra == EXTRA_LOGIT && !isnan(c->extra_logit);
}

static int blocks_attending(const Model *m) {
  int n = 0;
  for (int l = 0; l < m->c.layers; l++)
    n += block_attends(m, l);
  return n;
}

/* *to = *from, which is empty afterwards. A plain copy will not do: the list
 * of a Model's tensors points into it. */
static void model_move(Model *to, Model *from) {
  *to = *from;
  for (int i = 0; i < to->n_tensors; i++) {
    uintptr_t at = (uintptr_t)to->all[i], first = (uintptr_t)from;
    if (at >= first && at < first + sizeof *from)
      to->all[i] = (Tensor *)(void *)((char *)to + (at - first));
  }
  *from = (Model){0};
}

/* Of a head in one sequence: dhnorm [D], dcscale, dsbias, dvscale. */
static idx late_size(const Config *c) { return c->head_dim + 3; }

/* ----------
 * 1  DyT   Zhu et al. 2025, in place of a norm (3.2)
 *
 * y = g t + b, t = tanh(a x): no sum over the row, so a long row stays long
 * until tanh saturates. a is one number, 0.5 at the start. Backward, as tanh' =
 * 1 - tanh^2:
 *
 *   dx_c += a (1 - t_c^2) g_c dy_c
 *   da   += sum over rows and c of x_c (1 - t_c^2) g_c dy_c
 *   dg_c += sum over rows of dy_c t_c
 *   db_c += sum over rows of dy_c */

#ifdef SINK_DOUBLE
#define tanh_of tanh
#else
/* In vectors, as 13.3 has its functions, to 2.669 ulp, or 2.606 where multiply
 * and add are fused: tanh |x| = u / (u + 2) with u = e^(2|x|) - 1 =
 * 2^n (e^r - 1) + 2^n - 1. Near 0, where n is 0, u has all its digits. From
 * |x| = 10 on it is 1. */
INLINE float tanh_of(float x) {
  float size = 2 * fabsf(x), y = either(size > 20.0f, 20.0f, size);
  uint32_t n;
  float p = exp_less_1(y, &n), power = float_of((n + 127) << 23); /* 2^n */
  float u = power * p + (power - 1);
  return either(x < 0, -1, 1) * (u / (u + 2));
}
#endif
SPANS(tanh_for, tanh_of(x[l]))
MAPS(vec_tanh, tanh_for)

/* One row of y = g tanh(a x) + b. */
static void dyt_row(idx C, real *y, const real *x, const Norm *w) {
  for (idx ch = 0; ch < C; ch++)
    y[ch] = w->a.w[0] * x[ch];
  vec_tanh(C, y, y);
  for (idx ch = 0; ch < C; ch++)
    y[ch] = w->g.w[ch] * y[ch] + w->b.w[ch];
}

/* x, y [rows,C]. */
static void dyt_forward(const Norm *w, real *y, const real *x, idx rows) {
  idx C = w->g.rows;
  PARALLEL
  for (idx n = 0; n < rows; n++)
    dyt_row(C, y + n * C, x + n * C, w);
}

/* One row of dx += a (1 - t^2) g dy, with t = tanh(a x). Returns the row's
 * part of da. */
static real dyt_row_backward(idx C, real *dx, const real *dy, const real *x,
                             const Norm *w) {
  real a = w->a.w[0], t[CHUNK], da = 0;
  for (idx from = 0; from < C; from += CHUNK) {
    idx some = chunk(C, from);
    for (idx j = 0; j < some; j++)
      t[j] = a * x[from + j];
    vec_tanh(some, t, t);
    /* t becomes the gradient of a x */
    for (idx j = 0; j < some; j++)
      t[j] = (1 - t[j] * t[j]) * w->g.w[from + j] * dy[from + j];
    for (idx j = 0; j < some; j++)
      dx[from + j] += a * t[j];
    da += vec_dot(some, t, x + from);
  }
  return da;
}

/* One row's part of dg += dy t and db += dy, on `width` columns. */
WIDE(dyt_gains,
     (idx width, real *restrict dg, real *restrict db, const real *restrict dy,
      const real *restrict x, real a),
     (width, dg, db, dy, x, a)) {
  real t[CHANNELS] = {0};
  for (idx ch = 0; ch < width; ch++)
    t[ch] = a * x[ch];
  vec_tanh(width, t, t);
  for (idx ch = 0; ch < width; ch++)
    dg[ch] += dy[ch] * t[ch];
  for (idx ch = 0; ch < width; ch++)
    db[ch] += dy[ch];
}

/* dx [rows,C] and the gradients of w are added to, from dy, x [rows,C]. part
 * [rows,2], a norm's stat, takes each row's part of da, which are added up in
 * order: so the sum is the same for any number of threads. */
static void dyt_backward(Norm *w, real *dx, const real *dy, const real *x,
                         real *part, idx rows) {
  idx C = w->g.rows;
  PARALLEL
  for (idx n = 0; n < rows; n++)
    part[2 * n] = dyt_row_backward(C, dx + n * C, dy + n * C, x + n * C, w);
  PARALLEL
  for (idx from = 0; from < C; from += CHANNELS)
    for (idx n = 0; n < rows; n++)
      dyt_gains(at_most(C - from, CHANNELS), w->g.d + from, w->b.d + from,
                dy + n * C + from, x + n * C + from, w->a.w[0]);
  for (idx n = 0; n < rows; n++)
    w->a.d[0] += part[2 * n];
}

/* ----------
 * 2  QK-norm   after arXiv 2010.04245
 *
 * q = qnorm q0 / sigma (3.2) in each head before it rotates; so k. While the
 * gains are 1, |q| and |k| are sqrt(D), which bounds <q, k> / sqrt(D). This is
 * Qwen3's form: the paper has q0 / |q0|, no gains, and one learned factor for
 * 1/sqrt(D). --qk-whole (OLMo 2's) norms a row's heads as one: then the H
 * queries together have the length sqrt(H D), and one's may be as large.
 * It is an RMSNorm whatever --norm says, with --norm-eps, behind W's bias.
 * Heads share a gain [D], but under --qk-whole; k* is not normed. */

/* la->q [rows,H,D] and k [rows,K,D] are normed; la->q0 and la->k0 keep them,
 * la->qstat and la->kstat [.,2] have each norm's numbers. A gain of heads D
 * numbers norms the heads as one. */
static void qk_norm_forward(const Model *m, Acts *a, int l, real *k, idx rows) {
  const Layer *w = &m->layer[l];
  const LayerActs *la = &a->layer[l];
  idx D = m->c.head_dim, Q = rows * m->c.heads * D,
      K = rows * m->c.kv_heads * D;
  copy(la->q0, la->q, Q);
  copy(la->k0, k, K);
  norm_forward(la->q, la->qstat, la->q0, &w->qnorm, Q / w->qnorm.g.rows);
  norm_forward(k, la->kstat, la->k0, &w->knorm, K / w->knorm.g.rows);
}

/* dq, q's gradient, becomes q0's as in 3.2. norm_backward adds to its dx, so
 * that is scratch. */
static void qk_row_norm_backward(real *dq, const real *q0, real *stat, Norm *w,
                                 real *scratch, idx all) {
  zero(scratch, all);
  norm_backward(scratch, dq, q0, stat, w, all / w->g.rows);
  copy(dq, scratch, all);
}

/* a->dq and a->dk in place. */
static void qk_norm_backward(Model *m, Acts *a, int l, idx rows) {
  Layer *w = &m->layer[l];
  const LayerActs *la = &a->layer[l];
  idx D = m->c.head_dim, Q = rows * m->c.heads * D,
      K = rows * m->c.kv_heads * D;
  qk_row_norm_backward(a->dq, la->q0, la->qstat, &w->qnorm, a->dqk, Q);
  qk_row_norm_backward(a->dk, la->k0, la->kstat, &w->knorm, a->dqk, K);
}

/* ----------
 * 3  Scores before sim
 *
 * Three changes of z_ij (3.7), its b_h among it, before 3.6, not of z_i*. Row i
 * sees n_i keys, x* among them, * not; --sparse-top chooses later. log 1 is 0.
 *
 *   soft-cap      y = X tanh(z / X)    Gemma 2's; |y| <= X. Without it y = z
 *   score scale   c_h log(n_i) y       the largest weight need not fade as n_i
 *                                      grows (SSMax, 2501.19399)
 *   score bias    .. - log(n_i), or    what a sigmoid lacks to have rows whose
 *                 .. + f_h             sum is about 1 (2409.04431)
 *
 * f_h begins at -log N. Where that puts every score below 0 no weight passes
 * under relu, rectified or softpick, and nothing learns. --extra logn has
 * z_i* = log n_i, --extra-logit X has X; neither learns, and v* = 0.
 *
 * BACKWARD, from dz_j of what enters sim:
 *
 *   df_h += sum_j dz_j                   one number a head: all rows add to it
 *   dc_h += log(n_i) sum_j y_j dz_j      the same
 *   dy_j = c_h log(n_i) dz_j, or dz_j without a scale
 *   dz_j of 3.7 = (1 - (y_j / X)^2) dy_j, by tanh' */

/* c_h log(n_i), or 1 without a scale. */
static real score_gain(const Config *c, const Layer *w, idx h, idx seen) {
  return c->gain ? w->cscale.w[h] * real_log((real)seen) : 1;
}

/* z [n] in place; seen: n_i. y [n] is for the backward, or NULL. What is masked
 * stays, y = 0. */
static void scores_forward(const Config *c, const Layer *w, idx h, idx seen,
                           idx n, real *z, real *y) {
  real gain = score_gain(c, w, h, seen), X = (real)c->soft_cap, shift = 0;
  if (w->sbias.w)
    shift = w->sbias.w[h];
  else if (c->shift)
    shift = -real_log((real)seen);
  for (idx j = 0; j < n; j++) {
    bool masked = z[j] == -INFINITY;
    if (X > 0 && !masked)
      z[j] = (real)(c->soft_cap * tanh((double)z[j] / c->soft_cap));
    if (y)
      y[j] = masked ? 0 : z[j];
    if (!masked)
      z[j] = gain * z[j] + shift;
  }
}

/* dz [n] in place, of a row with y [n]; dc_h and df_h, side by side,
 * are added to. */
static void scores_backward(const Config *c, const Layer *w, idx h, idx seen,
                            idx n, real *dz, const real *y, real *dc_df) {
  real gain = score_gain(c, w, h, seen), X = (real)c->soft_cap;
  /* dc_h = log(n_i) sum y dz */
  dc_df[0] += real_log((real)seen) * vec_dot(n, y, dz);
  dc_df[1] += vec_sum(n, dz); /* df_h = sum dz */
  for (idx j = 0; j < n; j++)
    dz[j] *= gain * (X > 0 ? 1 - y[j] / X * (y[j] / X) : 1);
}

/* ----------
 * 4  Similarities and sums
 *
 *   relu       s = max(z, 0)     s' = 1 above 0, else 0
 *   count      Z: how many keys row i attends to, * not among them (2309.08586
 *              with relu). It is n_i, but under --sparse-top the chosen keys
 *   rectified  e^z, but 0 where z < 0; then as exp over its sum (2504.20966)
 *   softpick   max(e^z - 1, 0) / (sum |e^z - 1| + 1e-8)         (2504.20966)
 *
 * The last two have their own Z alone; where all z < 0 they have a = dz = 0.
 * count refuses exp. relu over its 1-norm runs as sum (1). The metric is 3.6's
 * for relu and count, a for the two.
 *
 * SOFTPICK. Every term is multiplied by e^-m, m the largest of 0 and all z_j, *
 * among them. The factor cancels but for the 1e-8, so the derivative holds m
 * fixed. With u_j = e^(z_j - m) - e^-m and u'_j = e^(z_j - m), both 0 where z_j
 * is masked:
 *
 *   a_j  = max(u_j, 0) / Z           Z       = sum_j |u_j| + 1e-8
 *   s'_k = u'_k above 0, else 0      dlogz_k = sign(u_k) u'_k / Z
 *
 * A key with a score below 0 gets no weight, and through Z lessens the weights
 * of all others. By hand, z = (log 3, -log 2), da = (1, -1): a = (4/5, 0),
 * s'/Z = (6/5, 0), dlogz = (6/5, -1/5), delta = 0.8, dz = (0.24, 0.16). The
 * paper has m = top, and trains with 1e-6; its code has 1e-8. */

/* c with another similarity and normaliser: these rows are made of sink.c's. */
static Config row_as(const Config *c, int sim, int normalizer) {
  Config own = *c;
  own.sim = sim;
  own.normalizer = normalizer;
  return own;
}

static idx keys_shown(idx n, const real *z) {
  idx seen = 0;
  for (idx j = 0; j < n; j++)
    seen += z[j] != -INFINITY;
  return seen;
}

/* How scores become weights in a row that is not the paper's; NULL: it is. */
static const RowKind *later_row(const Config *c);

/* The plain form of a row: its fast forms, one after the other. */
static real row_in_turn(const Config *c, idx n, const real *z, real *a,
                        real *deriv, real *dlogz) {
  const RowKind *k = later_row(c);
  copy(a, z, n);
  real row_stat = k->forward(c, n, a, deriv);
  k->backward(c, n, z, row_stat, a, deriv, dlogz);
  return k->normalizer(c, row_stat);
}

/* relu is the identity of max(z, 0); a count is Z = 1, then a division. */
static Config count_as(const Config *c) {
  return row_as(c, c->sim == SIM_RELU ? SIM_IDENTITY : c->sim,
                c->normalizer == NORMALIZER_COUNT ? NORMALIZER_ONE
                                                  : c->normalizer);
}

static real count_forward(const Config *c, idx n, real *z, real *spare) {
  const Config own = count_as(c);
  idx seen = keys_shown(n - 1, z + 1);
  for (idx j = 0; c->sim == SIM_RELU && j < n; j++)
    if (z[j] < 0 && z[j] != -INFINITY)
      z[j] = 0;
  real row_stat = row_forward(&own, n, z, spare);
  if (c->normalizer != NORMALIZER_COUNT)
    return row_stat;
  over_Z(n, z, (real)seen);
  return (real)seen;
}

static void count_backward(const Config *c, idx n, const real *z, real row_stat,
                           real *a, real *deriv, real *dlogz) {
  const Config own = count_as(c);
  bool relu = c->sim == SIM_RELU;
  copy(a, z, n); /* under relu max(z, 0) */
  for (idx j = 0; relu && j < n; j++)
    if (z[j] < 0 && z[j] != -INFINITY)
      a[j] = 0;
  row_backward(&own, n, relu ? a : z, row_stat, a, deriv, dlogz);
  for (idx j = 0; relu && j < n; j++)
    if (!(z[j] > 0)) {
      deriv[j] = 0;
      dlogz[j] = 0;
    }
  if (c->normalizer != NORMALIZER_COUNT)
    return;
  over_Z(n, a, row_stat);
  over_Z(n, deriv, row_stat);
}

static real count_normalizer(const Config *c, real row_stat) {
  const Config own = count_as(c);
  return c->normalizer == NORMALIZER_COUNT ? row_stat
                                           : row_normalizer(&own, row_stat);
}

static const RowKind COUNT_ROW = {
  .plain = row_in_turn, .forward = count_forward, .backward = count_backward,
  .normalizer = count_normalizer, .metric = row_metric};
/* The metric |a|, of sum 1 or less: weights that go unspent are no token's. */
static void metric_of_weights(const Config *c, idx n, const real *a, real Z,
                              real *m) {
  (void)c;
  (void)Z;
  for (idx j = 0; j < n; j++)
    m[j] = real_abs(a[j]);
}

static real rectified_forward(const Config *c, idx n, real *z, real *spare) {
  const Config own = row_as(c, SIM_EXP, NORMALIZER_SUM);
  for (idx j = 0; j < n; j++)
    if (z[j] < 0)
      z[j] = -INFINITY; /* a NaN stays one */
  if (vec_max(n, z) != -INFINITY)
    return row_forward(&own, n, z, spare);
  for (idx j = 0; j < n; j++) /* no score is left */
    if (z[j] == -INFINITY)
      z[j] = 0;
  return 0;
}

static void rectified_backward(const Config *c, idx n, const real *z,
                               real row_stat, real *a, real *deriv,
                               real *dlogz) {
  const Config own = row_as(c, SIM_EXP, NORMALIZER_SUM);
  row_backward(&own, n, z, row_stat, a, deriv, dlogz);
  for (idx j = 0; j < n; j++)
    if (z[j] < 0)
      a[j] = deriv[j] = dlogz[j] = 0;
}

static real rectified_normalizer(const Config *c, real row_stat) {
  (void)c;
  return real_exp(row_stat);
}

static const RowKind RECTIFIED_ROW = {
  .plain = row_in_turn, .forward = rectified_forward,
  .backward = rectified_backward, .normalizer = rectified_normalizer,
  .metric = metric_of_weights};
/* u and u' of softpick. Near 0 e^z - 1 has its digits from expm1; far from it
 * e^z may overflow. */
static void sim_softpick(idx n, const real *z, real *u, real *du) {
  real top = vec_max(n, z), m = top > 0 ? top : 0, less = real_exp(-m);
  vec_exp(n, u, z, m);
  if (du)
    copy(du, u, n);
  for (idx j = 0; j < n; j++)
    u[j] = real_abs(z[j]) < 1 ? less * (real)expm1(z[j]) : u[j] - less;
  for (idx j = 0; j < n; j++)
    if (z[j] == -INFINITY)
      u[j] = 0;
}

static real softpick_normalizer(const Config *c, real row_stat) {
  (void)c;
  return row_stat + NORMALIZER_EPS;
}

static real softpick_forward(const Config *c, idx n, real *z, real *spare) {
  sim_softpick(n, z, spare, NULL);
  for (idx j = 0; j < n; j++) {
    z[j] = real_abs(spare[j]);
    spare[j] = spare[j] < 0 ? 0 : spare[j];
  }
  real row_stat = vec_sum(n, z), Z = softpick_normalizer(c, row_stat);
  for (idx j = 0; j < n; j++)
    z[j] = spare[j] / Z;
  return row_stat;
}

static void softpick_backward(const Config *c, idx n, const real *z,
                              real row_stat, real *a, real *deriv,
                              real *dlogz) {
  real Z = softpick_normalizer(c, row_stat);
  sim_softpick(n, z, a, deriv);
  for (idx j = 0; j < n; j++) {
    a[j] /= Z;
    deriv[j] /= Z;
    real sign = (real)((a[j] > 0) - (a[j] < 0));
    dlogz[j] = sign * deriv[j]; /* sign(u) u'/Z */
    if (a[j] <= 0)              /* a NaN stays one */
      a[j] = deriv[j] = 0;
  }
}

static const RowKind SOFTPICK_ROW = {
  .plain = row_in_turn, .forward = softpick_forward,
  .backward = softpick_backward, .normalizer = softpick_normalizer,
  .metric = metric_of_weights};
/* ----------
 * 5  Clipped weights (2306.12929)   --clip-low G <= 0, --clip-high X >= 1
 *
 *   a'_j = min(max((X - G) a_j + G, 0), 1)      0 or 1 at finite scores too
 *   da_j = (X - G) da'_j, or 0 where a'_j was cut; then delta and dz as in 3.6
 *
 * * is clipped as well. delta has a, the output and dv have a'. The metric's m
 * is made before the clip: it shows a, not a'. */

/* a' in place. A masked weight stays 0. */
static void row_clip(const Config *c, idx n, real *a) {
  real G = (real)c->clip_low, width = (real)(c->clip_high - c->clip_low);
  for (idx j = 0; j < n; j++) {
    real y = width * a[j] + G;
    a[j] = y < 0 ? 0 : y;
    if (y > 1)
      a[j] = 1;
  }
}

/* From da' to da, in place; a as it was before the clip. */
static void row_clip_backward(const Config *c, idx n, const real *a, real *da) {
  real G = (real)c->clip_low, width = (real)(c->clip_high - c->clip_low);
  for (idx j = 0; j < n; j++) {
    real y = width * a[j] + G;
    da[j] *= y < 0 || y > 1 ? 0 : width;
  }
}

/* ----------
 * 6  The way out of a head
 *
 * The steps below, each by its flag, change the o_i of 3.7 in this order. x [C]
 * is what W_Q reads, u = x W_g [G] for G gates a row (H, of elements H D, of
 * values K D), g = 1/(1 + e^-u), and e = 1e-8:
 *
 *   --xsa         o <- o - <o, v_i> v_i / (<v_i, v_i> + e)
 *                 o less its part along its own value
 *   --vbias       o <- o + v+      the paper's (3.8)
 *   --v-scale     o <- c o         one number a head, 1 at the start
 *   --gate        o <- g o         one g a head, or a dim; static: u is
 *                                  learned, from 0
 *   --head-norm   o <- hnorm o / sigma   RMSNorm (3.2) over D, whatever --norm
 *                                        says
 *
 * A head norm undoes a factor that a head's dims share: before it V-scale, but
 * for its sign, and a gate per head act through its eps alone.
 *
 * --gate value: v <- g v before 3.7, so XSA's v_i is gated, but v* and v+ are
 * not. A head whose weights sum to 1 can add nothing only from a value near 0,
 * a sink's; a gate can close anywhere.
 *
 * BACKWARD, from the last step to the first. A step gets dy; its input o is
 * made again from la->av:
 *   head norm   as 3.2
 *   gate        do = g dy                dg = dy o, summed where dims share g
 *               of a value: dv0 = g dv   dg = dv v0
 *               du = dg g (1 - g)        static: summed over rows
 *               dW_g += x^T du           dx += du W_g^T
 *   V-scale     do = c dy                dc = sum_i <dy, o>
 *   v+          do = dy                  dv+ = sum_i dy
 *   XSA         y = o - p r v with p = <o, v>, r = 1/(<v, v> + e), and so
 *               dr/dv = -2 r^2 v. With t = <dy, v>:
 *               do = dy - t r v          dv = -p r dy - t r o + 2 p t r^2 v */

_Static_assert(GATE_ROWS == 5,
               "a new gate: config_gates, and all of this section");

/* la->gate [rows,G] from x [rows,C]; --gate value: v [rows,K,D] becomes g v,
 * la->v0 keeps v. */
static void gate_forward(const Model *m, Acts *a, int l, real *v, const real *x,
                         idx rows) {
  const Layer *w = &m->layer[l];
  const LayerActs *la = &a->layer[l];
  idx G = config_gates(&m->c);
  if (!w->gate.w) /* W_g may lie in its file */
    linear_forward(la->gate, x, &w->wg, rows);
  PARALLEL
  for (idx n = 0; n < rows; n++) {
    real *g = la->gate + n * G;
    vec_sigmoid(G, g, w->gate.w ? w->gate.w : g); /* g = 1/(1 + e^-u) */
    if (la->v0)
      copy(la->v0 + n * G, v + n * G, G);
    if (m->c.gate == GATE_VALUE)
      vec_multiply(G, v + n * G, g);
  }
}

/* dx [rows,C] is added to, from a->dgate [rows,G] or, of --gate value, a->dv,
 * which becomes dv0. */
static void gate_backward(Model *m, Acts *a, int l, real *dx, const real *x,
                          idx rows) {
  Layer *w = &m->layer[l];
  const LayerActs *la = &a->layer[l];
  idx G = config_gates(&m->c);
  PARALLEL
  for (idx j = 0; j < rows * G; j++) {
    real g = la->gate[j];
    if (la->v0) { /* v = g v0 */
      a->dgate[j] = a->dv[j] * la->v0[j];
      a->dv[j] *= g;
    }
    a->dgate[j] *= g * (1 - g); /* g = 1/(1 + e^-u) */
  }
  if (w->wg.d)
    linear_backward(dx, true, a->dgate, x, &w->wg, rows);
  for (idx n = 0; w->gate.d && n < rows; n++)
    vec_add(G, w->gate.d, a->dgate + n * G);
}

/* All steps but the head norm on one row av [D] of head h, whose own value is v
 * [D]. o [D], the result, may be av. plain [D] is what V-scale and gate act on.
 * g is [D], [1] or NULL. */
static void leave_row(const Config *c, const Layer *w, idx h, real *o,
                      real *plain, const real *av, const real *v,
                      const real *g) {
  idx D = c->head_dim, each = c->gate == GATE_ELEMENT;
  copy(plain, av, D);
  if (c->xsa)
    add_times(D, plain,
              -vec_dot(D, av, v) / (vec_dot(D, v, v) + NORMALIZER_EPS), v);
  if (w->vplus.w)
    vec_add(D, plain, w->vplus.w + h * D);
  real scale = w->vscale.w ? w->vscale.w[h] : 1;
  for (idx d = 0; d < D; d++)
    o[d] = scale * plain[d] * (g ? g[each * d] : 1);
}

/* From la->av to la->o, each [rows,H,D]; v [rows,K,D] is those rows' own. */
static void leave_forward(const Model *m, Acts *a, int l, const real *v,
                          idx rows) {
  const Config *c = &m->c;
  const Layer *w = &m->layer[l];
  const LayerActs *la = &a->layer[l];
  const real *from = la->av ? la->av : la->o;
  idx D = c->head_dim, H = c->heads, group = H / c->kv_heads;
  idx G = config_gates(c);
  if (la->av)
    copy(la->av, la->o, rows * H * D);
  PARALLEL
  for (idx n = 0; n < rows; n++)
    for (idx h = 0; h < H; h++) {
      idx at = (n * H + h) * D;
      real *plain = attention_scratch(a), stat[2];
      real *o = w->hnorm.w ? plain + D : la->o + at;
      leave_row(c, w, h, o, plain, from + at, v + (n * H + h) / group * D,
                config_gates_o(c) ? la->gate + n * G + h * G / H : NULL);
      if (w->hnorm.w)
        norm_row(D, c->norm_eps, la->o + at, stat, o, w->hnorm.w + h * D, NULL);
    }
}

/* a->dout [B,N,H,D] becomes la->av's gradient; a->dv [B,N,K,D], dgate, slots
 * are added to. A task owns the dv of its sequence and key head, and walks down
 * the rows of its heads, one by one. */
static void leave_backward(Model *m, Acts *a, int l, int B, idx N) {
  const Config *c = &m->c;
  const Layer *w = &m->layer[l];
  const LayerActs *la = &a->layer[l];
  idx D = c->head_dim, H = c->heads, K = c->kv_heads, group = H / K;
  idx G = config_gates(c), each = c->gate == GATE_ELEMENT;
  PARALLEL
  for (idx task = 0; task < B * K; task++)
    for (idx turn = 0; turn < group * N; turn++) {
      idx b = task / K, h = task % K * group + turn / N, n = b * N + turn % N;
      idx at = (n * H + h) * D, own = (n * K + task % K) * D;
      idx gate = n * G + h * G / H;
      const real *av = la->av + at, *v = la->v + own;
      const real scale = w->vscale.w ? w->vscale.w[h] : 1;
      const real *g = config_gates_o(c) ? la->gate + gate : NULL;
      real *plain = attention_scratch(a), *gated = plain + D;
      real *dgated = gated + D, stat[2];
      real *dvplus = a->slot + (b * H + h) * slot_size(c) + 2 * D;
      real *dhnorm = a->late_slot + (b * H + h) * late_size(c);
      real *dscale = dhnorm + D + 2;
      real *dy = a->dout + at, *dv = a->dv + own; /* both go on to 3.7 */
      leave_row(c, w, h, gated, plain, av, v, g); /* again */
      if (w->hnorm.w) { /* o = hnorm gated / sigma */
        const real *gain = w->hnorm.w + h * D;
        /* for 1/sigma */
        norm_row(D, c->norm_eps, dgated, stat, gated, gain, NULL);
        norm_gains(D, dhnorm, NULL, dy, gated, stat);
        zero(dgated, D);
        norm_row_backward(D, dgated, dy, gated, stat, gain, false);
        copy(dy, dgated, D);
      }
      for (idx d = 0; d < D; d++) { /* gated = g c plain */
        real g_d = g ? g[each * d] : 1;
        if (g)
          a->dgate[gate + each * d] += dy[d] * scale * plain[d];
        *dscale += dy[d] * g_d * plain[d]; /* dc = <g dy, o>, o = plain */
        dy[d] *= g_d * scale;              /* do = g c dy */
      }
      vec_add(D, dvplus, dy); /* plain = .. + v+ */
      if (c->xsa) {           /* .. = av - p r v */
        real p = vec_dot(D, av, v), t = vec_dot(D, dy, v);
        real r = 1 / (vec_dot(D, v, v) + NORMALIZER_EPS);
        add_times(D, dv, -p * r, dy); /* dv = -p r dy - t r o + 2 p t r^2 v */
        add_times(D, dv, -t * r, av);
        add_times(D, dv, 2 * p * t * r * r, v);
        add_times(D, dy, -t * r, v); /* do = dy - t r v, over dy */
      }
    }
}

/* Several x* have no form of the authors: their dummy row stands for one. */
static inline int metric_refuses(const Config *c, int rows, Error *e) {
  if (rows != METRIC_PLUS1 || c->sink_token < 2)
    return 0;
  return fail(e, 2,
              "--metric-rows plus1: allows one sink token, but there are %d. "
              "Try: --metric-rows real",
              c->sink_token);
}

/* ----------
 * 7  Blocks
 *
 *   parallel   u = x + MHSA(n1 x)        y = u + FFN(n2 x)        GPT-NeoX's
 *   sandwich   u = x + n3(MHSA(n1 x))    y = u + n4(FFN(n2 u))    Gemma 2's
 *              without n1, n2 and their n1', n2' under --behind-only   OLMo 2's
 *
 * A final norm ends both stacks. Backward, as in sink.c's chapter 4:
 *
 *          parallel                          sandwich
 *   du  =  dy                                dy + n2'^T FFN'^T n4'^T dy
 *   dx  =  dy + n1'^T MHSA'^T dy             du + n1'^T MHSA'^T n3'^T du
 *             + n2'^T FFN'^T dy */

static void parallel_forward(const Model *m, Acts *a, int l, int B, idx N) {
  const Layer *w = &m->layer[l];
  LayerActs *la = &a->layer[l];
  idx rows = B * N, n = rows * m->c.dim;
  norm_forward(la->n1, la->n1stat, la->x, &w->norm1, rows);
  w->mix(m, a, l, la->s1, la->n1, B, N);
  add_rows(la->s1, la->x, n);
  norm_forward(la->n2, la->n2stat, la->x, &w->norm2, rows);
  w->feed(m, a, l, la->s2, la->n2, B, N);
  add_rows(la->s2, la->s1, n);
  a->h = la->s2;
}

static void parallel_backward(Model *m, Acts *a, int l, int B, idx N) {
  Layer *w = &m->layer[l];
  const LayerActs *la = &a->layer[l];
  idx rows = B * N, n = rows * m->c.dim;
  zero(a->dx, n);
  ffn_backward(&m->c, w, la, a, a->dn, a->dh, la->n2, rows);
  norm_backward(a->dx, a->dn, la->x, la->n2stat, &w->norm2, rows);
  mhsa_backward(m, a, l, a->dn, a->dh, la->n1, B, N);
  norm_backward(a->dx, a->dn, la->x, la->n1stat, &w->norm1, rows);
  add_rows(a->dh, a->dx, n);
}

static void sandwich_forward(const Model *m, Acts *a, int l, int B, idx N) {
  const Layer *w = &m->layer[l];
  LayerActs *la = &a->layer[l];
  bool bare = m->c.behind_only;
  idx rows = B * N, n = rows * m->c.dim;
  if (!bare)
    norm_forward(la->n1, la->n1stat, la->x, &w->norm1, rows);
  w->mix(m, a, l, la->out1, bare ? la->x : la->n1, B, N);
  norm_forward(la->s1, la->n3stat, la->out1, &w->norm3, rows);
  add_rows(la->s1, la->x, n);
  if (!bare)
    norm_forward(la->n2, la->n2stat, la->s1, &w->norm2, rows);
  w->feed(m, a, l, la->out2, bare ? la->s1 : la->n2, B, N);
  norm_forward(la->s2, la->n4stat, la->out2, &w->norm4, rows);
  add_rows(la->s2, la->s1, n);
  a->h = la->s2;
}

static void sandwich_backward(Model *m, Acts *a, int l, int B, idx N) {
  Layer *w = &m->layer[l];
  const LayerActs *la = &a->layer[l];
  bool bare = m->c.behind_only;
  idx rows = B * N, n = rows * m->c.dim;
  /* y = u + n4(FFN(n2 u)) */
  zero(a->dx, n);
  norm_backward(a->dx, a->dh, la->out2, la->n4stat, &w->norm4, rows);
  ffn_backward(&m->c, w, la, a, a->dn, a->dx, bare ? la->s1 : la->n2, rows);
  if (bare)
    add_rows(a->dh, a->dn, n);
  else
    norm_backward(a->dh, a->dn, la->s1, la->n2stat, &w->norm2, rows);
  /* u = x + n3(MHSA(n1 x)) */
  zero(a->dx, n);
  norm_backward(a->dx, a->dh, la->out1, la->n3stat, &w->norm3, rows);
  mhsa_backward(m, a, l, a->dn, a->dx, bare ? la->x : la->n1, B, N);
  if (bare)
    add_rows(a->dh, a->dn, n);
  else
    norm_backward(a->dh, a->dn, la->x, la->n1stat, &w->norm1, rows);
}

/* ----------
 * 8  Muon   Jordan 2024
 *
 * It steps wq, wk, wv, wo, w1, w2, w3, wg, phi1 and phi2, each whole as it is
 * stored, heads side by side. AdamW steps all else, at the same lr. A step of w
 * [rows,columns] by its gradient g; M, first 0, is in m1:
 *
 *   M <- 0.95 M + g
 *   G  = g + 0.95 M        with the new M (Nesterov)
 *   X  = G / (|G| + 1e-7)
 *   X <- a X + b (X X^T) X + c (X X^T)^2 X
 *                          five times; a, b, c = 3.4445, -4.775, 2.0315
 *   w <- (1 - lr wd) w - 0.2 sqrt(max(rows, columns)) lr X
 *
 * Let X = U S V^T, with the singular values s on S's diagonal. (X X^T) X = U
 * S^3 V^T, (X X^T)^2 X = U S^5 V^T: the vectors stay, and s <- a s + b s^3 + c
 * s^5. |G|, Frobenius's norm, is the root of the sum of the s^2, so every s
 * begins at most at 1. A small s grows by the factor a; near 1 the terms
 * balance: five times bring 0.01 .. 1 between 0.68 and 1.14. That is near U
 * V^T, which has the largest <X, G> of all matrices of singular values up to 1.
 * A rare direction is stepped along as far as a common one.
 *
 * U V^T has min(rows, columns) singular values of 1, so its root mean square
 * is 1/sqrt(max). The factor makes that 0.2 lr (Moonlight, 2502.16982),
 * about AdamW's. */
static const struct Muon {
  double keep, eps, a, b, c, size;
  int times;
} MUON = {0.95, 1e-7, 3.4445, -4.7750, 2.0315, 0.2, 5};

/* Numbers of scratch that its step of t needs: two like the matrix, two
 * squares; 0: AdamW steps here. t NULL: the most that a tensor of m needs. */
static idx muon_room(const Model *m, const Tensor *t) {
  idx most = 0;
  for (int i = 0; !t && i < m->n_tensors; i++)
    if (muon_room(m, m->all[i]) > most)
      most = muon_room(m, m->all[i]);
  if (!t)
    return most;
  idx few = at_most(t->rows, t->cols);
  return t->layer >= 0 && t->matrix ? 2 * tensor_count(t) + 2 * few * few : 0;
}

/* z [n] = p x + q y; z may be x or y. */
static void blend(idx n, real *z, double p, const real *x, double q,
                  const real *y) {
  PARALLEL
  for (idx from = 0; from < n; from += CHUNK)
    for (idx j = from; j < from + chunk(n, from); j++)
      z[j] = (real)p * x[j] + (real)q * y[j];
}

/* One step of t, and of M, each [R,C], by s->shrink times its gradient; scratch
 * [muon_room]. */
static void muon_step(const Step *s, Tensor *t, real *M, real *scratch) {
  idx R = t->rows, C = t->cols, n = R * C, k = at_most(R, C);
  /* [R,C] [R,C] [k,k] [k,k] */
  real *x = scratch, *y = x + n, *A = y + n, *B = A + k * k;
  blend(n, M, MUON.keep, M, s->shrink, t->d); /* M <- 0.95 M + g */
  blend(n, x, MUON.keep, M, s->shrink, t->d); /* G = g + 0.95 M */
  /* X = G / (|G| + 1e-7) */
  blend(n, x, 1 / (sqrt(square_sum(n, x)) + MUON.eps), x, 0, x);
  for (int i = 0; i < MUON.times; i++) {
    /* B = b A + c A A with A = X X^T, or the smaller X^T X, since
     * (X X^T) X = X (X^T X) */
    if (R <= C)
      matmul(A, k, rows_of(x, C), transpose_of(x, C), k, k, C, false);
    else
      matmul(A, k, transpose_of(x, C), rows_of(x, C), k, k, R, false);
    matmul(B, k, rows_of(A, k), rows_of(A, k), k, k, k, false);
    blend(k * k, B, MUON.c, B, MUON.b, A);
    /* y = a X + B X, or a X + X B, and is the next X */
    blend(n, y, MUON.a, x, 0, x);
    if (R <= C)
      matmul(y, C, rows_of(B, k), rows_of(x, C), R, C, k, true);
    else
      matmul(y, C, rows_of(x, C), rows_of(B, k), R, C, k, true);
    real *next = y;
    y = x;
    x = next;
  }
  blend(n, t->w, 1 - s->lr * s->wd, t->w,
        -MUON.size * sqrt((double)(R > C ? R : C)) * s->lr, x);
}

/* ----------
 * 9  What an evaluation takes from rows
 *
 * eval --ablate takes one column j from all rows but j's own, in all blocks and
 * heads:
 *
 *   key      z_ij = -infinity      i spreads its weight over what else it sees
 *   value    o_i loses a_ij v_j    the weight is still spent, and buys nothing
 *   mean     v_j becomes the mean of the sequence's v */

typedef struct Ablation {
  int what;              /* ABLATE_* */
  const int *column;     /* [B]: of each sequence, from 0, or -1 for * */
  idx N;                 /* rows of a sequence, x* among them */
  real *taken;           /* [B,H,N]: the weight that each row lost, or NULL */
} Ablation;

/* Which of the row's 1+n columns is ablated: 0 is *, -1 none. */
static idx ablated_column(const Acts *a, const RowAt *at, idx n) {
  if (!a->ablation)
    return -1;
  idx j = a->ablation->column[at->b];
  if (j < 0)
    return 0;
  return j != at->i && j >= at->lo && j < at->lo + n ? 1 + j - at->lo : -1;
}

/* Takes a value's weight from row w [1+n], and keeps it for the mean. */
static void ablate_weight(const Model *m, const Acts *a, const RowAt *at, idx n,
                          real *w) {
  idx cut = ablated_column(a, at, n);
  const Ablation *x = a->ablation;
  idx row = (at->b * m->c.heads + at->h) * x->N + at->i;
  if (x->taken)
    x->taken[row] = cut < 0 ? 0 : w[cut];
  if (cut >= 0)
    w[cut] = 0;
}

/* o_i += scale taken_i mean v, in every head of rows = B N rows. */
static void ablate_mean(const Model *m, const Acts *a, int l, idx rows) {
  const Config *c = &m->c;
  const LayerActs *la = &a->layer[l];
  idx D = c->head_dim, H = c->heads, K = c->kv_heads, N = a->ablation->N;
  PARALLEL
  for (idx bh = 0; bh < rows / N * H; bh++) {
    idx b = bh / H, h = bh % H;
    real *mean = attention_scratch(a);
    zero(mean, D);
    for (idx j = 0; j < N; j++)
      vec_add(D, mean, la->v + ((b * N + j) * K + h / (H / K)) * D);
    vec_scale(D, mean, (real)(1 / (double)N));
    for (idx i = 0; i < N; i++)
      add_times(D, la->o + ((b * N + i) * H + h) * D,
                (real)c->scale * a->ablation->taken[bh * N + i], mean);
  }
}

/* ----------
 * 10  Sparse attention
 *
 * A row attends to few keys. Two ways choose them.
 *
 * CHOSEN BY RANK, then any row of 3.6 over what is left. K and N are here the
 * numbers of the flags:
 *
 *   --sparse-top K                        the K keys of the largest z_ij
 *   --sparse-top K --sparse-block N       K blocks of N keys: the query's own,
 *                                         and those of the largest mean of z_ij
 *                                         (MoBA, 2502.13189)
 *   .. --sparse-first                     token 1's block is one of the K, as
 *                                         in NSA (2502.11089), which scores
 *                                         blocks by keys of its own, learned
 *
 * z_ij is section 3's. Key j, from 0 with x* counted, is in block floor(j/N);
 * token 1's block need not be block 0. A block's mean is over those of its keys
 * that the row sees. Of scores with equal bits the earlier key or block is
 * chosen; --plain's bits may differ. The column * is no key and always stays.
 * The choice has no gradient: what is left out has z = -infinity, and a = dz =
 * 0 as if masked.
 *
 * CHOSEN BY THE WEIGHTS, which are exactly 0 below a threshold tau:
 *
 *   sparsemax   a_j = [z_j - tau]_+         1602.02068
 *   entmax      a_j = [z_j / 2 - tau]_+^2   1.5-entmax, 1905.05702
 *
 * tau is such that the weights sum to 1.
 *
 * BACKWARD. Differentiate sum_j a_j = 1 for tau. With g_j = 1 where a_j > 0 for
 * sparsemax, and g_j = sqrt(a_j) for entmax, and 0 elsewhere:
 *
 *   a_j|k = g_j (1[j = k] - tau_k)      tau_k = g_k / sum g
 *   dz_k  = g_k (da_k - mean)           mean  = sum_j g_j da_j / sum g
 *
 * tau_k is dtau/dz_k for sparsemax and 2 dtau/dz_k for entmax. The row has
 * 3.6's form with s'/Z = g and dlogz = 0, once the mean is taken from da. The
 * metric's m is a.
 *
 * By hand, z = (1, 1/2), da = (1, -1): sparsemax has tau = 1/4, a = (3/4, 1/4),
 * g = (1, 1), dz = (1, -1). */

/* t = tau - max x, for x [n]: sum [x - max x - t]_+, or of its squares,
 * is 1. Newton's steps begin at -1, where the sum is 1 or more. The sum is
 * convex in tau, so every step ends at or below the root. Added to a large max
 * tau would lose its digits, and n weights would sum to 1 +- n ulp(max) / 2. */
static real threshold(idx n, const real *x, bool squares) {
  real top = vec_max(n, x), tau = -1;
  for (int turn = 0; turn < 100; turn++) {
    real more = -1, slope = 0;
    for (idx j = 0; j < n; j++) {
      real above = x[j] - top - tau;
      if (!(above > 0))
        continue;
      more += squares ? above * above : above;
      slope += squares ? 2 * above : 1;
    }
    real next = tau + more / slope;
    if (!(next > tau)) /* the root, or a NaN */
      break;
    tau = next;
  }
  return tau;
}

/* a = [z - tau]_+, or [z/2 - tau]_+^2, and deriv = g; tau - max z is what
 * threshold returned. What is masked has 0. */
static void sparse_weights(const Config *c, idx n, const real *z, real tau,
                           real *a, real *deriv) {
  bool squares = c->sim == SIM_ENTMAX;
  real top = vec_max(n, z);
  for (idx j = 0; j < n; j++) {
    real above = (squares ? (z[j] - top) / 2 : z[j] - top) - tau;
    if (above < 0) /* a NaN stays one */
      above = 0;
    a[j] = squares ? above * above : above;
    if (deriv)
      deriv[j] = squares ? above : above > 0;
  }
}

/* z becomes a; row_stat is threshold's tau. */
static real sparse_forward(const Config *c, idx n, real *z, real *spare) {
  bool squares = c->sim == SIM_ENTMAX;
  for (idx j = 0; j < n; j++)
    spare[j] = squares ? z[j] / 2 : z[j];
  real tau = threshold(n, spare, squares);
  sparse_weights(c, n, z, tau, z, NULL);
  return tau;
}

static void sparse_backward(const Config *c, idx n, const real *z,
                            real row_stat, real *a, real *deriv, real *dlogz) {
  sparse_weights(c, n, z, row_stat, a, deriv);
  zero(dlogz, n);
}

/* The weights sum to 1 as they are. */
static real sparse_normalizer(const Config *c, real row_stat) {
  (void)c;
  (void)row_stat;
  return 1;
}

static const RowKind SPARSE_ROW = {
  .plain = row_in_turn, .forward = sparse_forward, .backward = sparse_backward,
  .normalizer = sparse_normalizer, .metric = metric_of_weights};

static const RowKind *later_row(const Config *c) {
  if (c->sim == SIM_SOFTPICK)
    return &SOFTPICK_ROW;
  if (c->sim == SIM_RECTIFIED)
    return &RECTIFIED_ROW;
  if (config_thresholds(c))
    return &SPARSE_ROW;
  if (c->sim == SIM_RELU || c->normalizer == NORMALIZER_COUNT)
    return &COUNT_ROW;
  return NULL;
}

/* da -= mean, from w = a: g is 1 or sqrt(a). */
static void sparse_mean(const Config *c, idx n, const real *w, real *da) {
  real sum = 0, g_sum = 0;
  for (idx j = 0; j < n; j++) {
    real g = c->sim == SIM_ENTMAX ? (real)sqrt((double)w[j]) : w[j] > 0;
    sum += g * da[j];
    g_sum += g;
  }
  for (idx j = 0; j < n; j++)
    da[j] -= sum / g_sum;
}

/* The index of the largest of n scores, or -1 if all are -infinity. A NaN must
 * not be lost: it is larger than any number. */
static idx best_of(idx n, const real *score) {
  idx best = -1;
  for (idx j = 0; j < n; j++)
    if (score[j] != -INFINITY &&
        (best < 0 || score[j] > score[best] || score[j] != score[j]))
      best = j;
  return best;
}

/* Masks all of a row's keys z [n], key lo on, but those of its K blocks, which
 * are single keys without --sparse-block. With it the row's own block is always
 * chosen, unless --isolate hides it. `block` [n] is scratch: a block's score,
 * -infinity once it is chosen, or if the row sees no key of it. */
static void keep_top(const Config *c, const RowAt *at, idx n, real *z,
                     real *block) {
  idx size = c->sparse_block ? c->sparse_block : 1, from = at->lo / size;
  idx blocks = (at->lo + n - 1) / size - from + 1, own = at->i / size - from;
  idx first = c->sink_token / size - from;
  bool whole = c->sparse_block > 0;
  if (c->sparse_top >= blocks)
    return; /* all that it sees */
  for (idx s = 0; s < blocks; s++) {
    idx lo = (from + s) * size - at->lo, hi = at_most(lo + size, n), seen = 0;
    real sum = 0;
    for (idx j = lo < 0 ? 0 : lo; j < hi; j++)
      if (z[j] != -INFINITY) {
        sum += z[j];
        seen++;
      }
    block[s] = seen ? sum / (real)seen : -INFINITY;
  }
  for (idx k = 0; k < c->sparse_top; k++) {
    idx s = best_of(blocks, block);
    if (whole && k == 0 && block[own] != -INFINITY)
      s = own;
    else if (c->sparse_first && k <= 1 && first >= 0 && first < blocks &&
             block[first] != -INFINITY)
      s = first;
    if (s < 0)
      return; /* all that it sees */
    block[s] = -INFINITY;
  }
  for (idx j = 0; j < n; j++)
    if (block[(at->lo + j) / size - from] != -INFINITY)
      z[j] = -INFINITY;
}

/* ----------
 * 11  The seams of sink.c
 *
 * late_NAME is for the seam NAME, of which sink.h (Seams) says what it is given
 * and what it does; more_setup puts in those that a model needs. */

static void late_scores(const Model *m, const Acts *a, const RowAt *at, idx n,
                        real *z, real *y) {
  const Config *c = &m->c;
  if (a->hide)
    a->hide(a, at->l, at->b, at->i, at->lo, n, z + 1);
  y[0] = 1; /* n_i if a line below needs it; the backward reads it here */
  if (c->gain || c->shift || c->extra == EXTRA_LOGN)
    y[0] = (real)keys_shown(n, z + 1);
  if (c->extra == EXTRA_LOGN)
    z[0] = real_log(y[0]);
  if (fixed_logit(c))
    z[0] = (real)c->extra_logit;
  if (config_score_mod(c))
    scores_forward(c, &m->layer[at->l], at->h, (idx)y[0], n, z + 1, y + 1);
  idx cut = ablated_column(a, at, n);
  if (cut >= 0 && a->ablation->what == ABLATE_KEY1)
    z[cut] = -INFINITY;
  if (c->sparse_top)
    keep_top(c, at, n, z + 1, a->chosen + worker() * a->N);
}

static void late_scores_backward(Model *m, const Acts *a, const RowAt *at,
                                 idx n, real *dz, const real *y) {
  const Config *c = &m->c;
  idx bh = at->b * c->heads + at->h;
  real *dc_df = a->late_slot + bh * late_size(c) + c->head_dim;
  if (config_score_mod(c))
    scores_backward(c, &m->layer[at->l], at->h, (idx)y[0], n, dz + 1, y + 1,
                    dc_df);
}

static void late_weights(const Model *m, const Acts *a, const RowAt *at, idx n,
                         real *w) {
  if (config_clips(&m->c))
    row_clip(&m->c, n + 1, w);
  if (a->ablation && a->ablation->what != ABLATE_KEY1)
    ablate_weight(m, a, at, n, w);
}

static void late_weights_backward(const Model *m, const Acts *a,
                                  const RowAt *at, idx n, const real *w,
                                  real *da) {
  (void)a;
  (void)at;
  if (config_clips(&m->c))
    row_clip_backward(&m->c, n + 1, w, da);
  if (config_thresholds(&m->c))
    sparse_mean(&m->c, n + 1, w, da);
}

static void late_qkv(const Model *m, Acts *a, int l, real *k, real *v,
                     const real *x, idx rows) {
  if (m->c.gate)
    gate_forward(m, a, l, v, x, rows);
  if (m->c.qk_norm)
    qk_norm_forward(m, a, l, k, rows);
}

static void late_leave(const Model *m, Acts *a, int l, const real *v,
                       idx rows) {
  const Tensor *vplus = &m->layer[l].vplus;
  if (a->ablation && a->ablation->what == ABLATE_VALUE1_MEAN)
    ablate_mean(m, a, l, rows);
  if (config_leaves(&m->c))
    leave_forward(m, a, l, v, rows);
  else if (vplus->w)
    add_row(a->layer[l].o, vplus->w, tensor_count(vplus), rows);
}

/* Zeroes what a block's heads add to, or adds it up, in order. */
static void late_slots(Model *m, Acts *a, int l, int B, idx N, bool begin) {
  const Config *c = &m->c;
  Layer *w = &m->layer[l];
  idx D = c->head_dim, H = c->heads;
  if (begin) {
    if (a->dgate)
      zero(a->dgate, B * N * config_gates(c));
    zero(a->late_slot, B * H * late_size(c));
    return;
  }
  real *const of_head[] = {w->cscale.d, w->sbias.d, w->vscale.d};
  for (idx bh = 0; bh < B * H; bh++) {
    const real *slot = a->late_slot + bh * late_size(c);
    idx h = bh % H;
    for (idx d = 0; w->hnorm.d && d < D; d++)
      w->hnorm.d[h * D + d] += slot[d];
    for (int x = 0; x < 3; x++)
      if (of_head[x])
        of_head[x][h] += slot[D + x];
  }
}

/* DyT's slope follows a norm's bias; its functions take the norm's place. */
static void dyt_tensor(Model *m, Norm *w, int l) {
  char slope[16], *dot = strchr(w->g.name, '.');
  if (m->c.norm != NORM_DYT || !w->g.rows)
    return;
  snprintf(slope, sizeof slope, "%.8s.a", dot ? dot + 1 : w->g.name);
  list(m, &w->a, true, slope, l, 1, 0, INITIAL_ZERO);
  w->a.start = 0.5;
  w->forward = dyt_forward;
  w->backward = dyt_backward;
}

static void late_tensors(Model *m, int l, const Tensor *after) {
  const Config *c = &m->c;
  Layer *w = l < 0 ? NULL : &m->layer[l];
  int D = c->head_dim, H = c->heads, K = c->kv_heads;
  bool by_input = c->gate && c->gate != GATE_STATIC;
  if (after == &m->normf.b)
    dyt_tensor(m, &m->normf, l);
  for (int i = 0; w && i < 4; i++) {
    Norm *norms[] = {&w->norm1, &w->norm2, &w->norm3, &w->norm4};
    if (after == &norms[i]->b)
      dyt_tensor(m, norms[i], l);
  }
  if (w && after == &w->vplus) {
    list(m, &w->cscale, c->gain, "cscale", l, H, 0, INITIAL_ZERO);
    list(m, &w->sbias, c->shift == SHIFT_LEARNED, "sbias", l, H, 0,
         INITIAL_ZERO);
    list(m, &w->wg, by_input, "wg", l, c->dim, (int)config_gates(c),
         INITIAL_LINEAR);
    list(m, &w->gate, c->gate == GATE_STATIC, "gate", l, H, 0, INITIAL_ZERO);
    list(m, &w->vscale, c->v_scale, "vscale", l, H, 0, INITIAL_ONE);
    list(m, &w->hnorm, c->head_norm, "hnorm", l, H * D, 0, INITIAL_ONE);
    list(m, &w->qnorm.g, c->qk_norm, "qnorm", l, c->qk_whole ? H * D : D, 0,
         INITIAL_ONE);
    list(m, &w->knorm.g, c->qk_norm, "knorm", l, c->qk_whole ? K * D : D, 0,
         INITIAL_ONE);
    w->cscale.start = 1 / log(c->context); /* c_h log(n) is 1 at the end */
    w->sbias.start = -log(c->context);
    w->qnorm.eps = c->norm_eps;
    w->knorm.eps = c->norm_eps;
  }
  if (w && after == &w->b3 && c->place == PLACE_SANDWICH) {
    list_norm(m, &w->norm3, true, "norm3", l);
    list_norm(m, &w->norm4, true, "norm4", l);
  }
  MODELS_TENSORS(m, l, after);
}

static bool late_lacks(const Model *m, int l, const char *name) {
  (void)l;
  bool norm12 = !strncmp(name, "norm1", 5) || !strncmp(name, "norm2", 5);
  if (m->c.behind_only && norm12)
    return true;
  if (fixed_logit(&m->c) && !strcmp(name, "logit"))
    return true;
  return MODELS_LACKS(m, l, name);
}

static void late_room(const Model *m, Acts *a, LayerActs *la, bool keeps) {
  const Config *c = &m->c;
  idx rows = (idx)a->B * a->N, C = rows * c->dim, heads = rows * c->heads;
  idx own = rows * c->kv_heads, Q = heads * c->head_dim, K = own * c->head_dim;
  bool qk = c->qk_norm, sandwich = c->place == PLACE_SANDWICH;
  idx G = rows * config_gates(c), slots = (idx)a->B * c->heads * late_size(c);
  if (la) {
    const Room room[] = {
      {&la->av, keeps && config_leaves(c) ? Q : 0}, {&la->gate, G},
      {&la->v0, keeps && c->gate == GATE_VALUE ? K : 0}, {&la->q0, qk ? Q : 0},
      {&la->k0, qk ? K : 0}, {&la->qstat, qk ? 2 * heads : 0},
      {&la->kstat, qk ? 2 * own : 0}, {&la->out1, sandwich ? C : 0},
      {&la->out2, sandwich && keeps ? C : 0},
      {&la->n3stat, sandwich ? 2 * rows : 0},
      {&la->n4stat, sandwich ? 2 * rows : 0}, {0}};
    arena_take(a, room);
    if (!keeps)
      la->out2 = la->out1;
  } else {
    const Room room[] = {
      {&a->dgate, keeps ? G : 0}, {&a->dqk, keeps && qk ? Q : 0},
      {&a->late_slot, keeps ? slots : 0},
      {&a->chosen, c->sparse_top ? (idx)a->threads * a->N : 0}, {0}};
    arena_take(a, room);
  }
  MODELS_ROOM(m, a, la, keeps);
}

/* Rows that an evaluation will take something from: hide, ablation. */
static void rows_watch(Model *m) {
  m->seams.scores = late_scores;
  m->seams.weights = late_weights;
  m->seams.leave = late_leave;
}

/* Block l's backward, and Acts.after behind it. */
static void watched_backward(Model *m, Acts *a, int l, int B, idx N) {
  m->seams.block_backward = a->watched;
  block_backward(m, a, l, B, N);
  m->seams.block_backward = watched_backward;
  a->after(a, l, B, N);
}

/* From now on `after` is called; until m's seams are what they were. */
static void backward_watch(Model *m, Acts *a,
                           void (*after)(const Acts *a, int l, int B, idx N)) {
  a->after = after;
  a->watched = m->seams.block_backward;
  m->seams.block_backward = watched_backward;
}

static int more_resolve(Config *c, Error *e) {
  bool p_norm = c->normalizer == NORMALIZER_PNORM;
  bool sum = c->normalizer == NORMALIZER_SUM, identity = c->sim == SIM_IDENTITY;
  bool own_sum = c->sim == SIM_SOFTPICK || c->sim == SIM_RECTIFIED ||
                 config_thresholds(c);
  bool starts = c->gain || c->shift == SHIFT_LEARNED;
  if (c->place != PLACE_SANDWICH)
    c->behind_only = 0;
  bool crosses = c->shift || (c->gain && c->extra == EXTRA_LOGN);
  /* relu may: it falls to 0, but never crosses it, and dlogz is 0 there */
  if (p_norm && c->pnorm < 1 && identity && crosses)
    return fail(e, 2,
                "--pnorm below 1 with scores of either sign has no slope at 0. "
                "Try: --pnorm 2, or --sim exp");
  if (identity && sum && crosses)
    return fail(e, 2,
                "--%s makes scores of either sign with --sim identity. Try: "
                "--normalizer one or clamp, or --sim exp",
                c->shift ? "score-bias" : "score-scale beside --extra logn");
  if (own_sum && !sum)
    return fail(e, 2,
                "--sim softpick, rectified, sparsemax and entmax work only "
                "with their own sum. Try: --normalizer sum");
  if (own_sum && c->kernel == KERNEL_ELU)
    return fail(e, 2,
                "--kernel elu makes scores positive, and --sim softpick, "
                "rectified, sparsemax and entmax are for both signs. Try: "
                "--kernel identity");
  if (c->sim == SIM_EXP && c->normalizer == NORMALIZER_COUNT)
    return fail(e, 2,
                "--normalizer count cannot bound e^z. Try: --sim relu or "
                "sigmoid, or --normalizer sum");
  if (config_clips(c) && !sum)
    return fail(e, 2,
                "--clip-low and --clip-high need weights divided by a sum. "
                "Try: --normalizer sum, without --sim identity");
  if (config_clips(c) && config_thresholds(c))
    return fail(e, 2,
                "--clip-low and --clip-high make weights 0, as --sim "
                "sparsemax and entmax do. Try: one of them, or --sim exp");
  if (!c->sparse_top && (c->sparse_block || c->sparse_first))
    return fail(e, 2,
                "--sparse-block and --sparse-first need a number of blocks. "
                "Try: --sparse-top 3");
  if (c->sparse_first && (!c->sparse_block || c->sparse_top < 2))
    return fail(e, 2,
                "--sparse-first: takes two blocks, the first and a query's "
                "own. Try: --sparse-block 8 --sparse-top 3");
  if (starts && c->context == 1)
    return fail(e, 2,
                "--score-scale and --score-bias start from log(context), and "
                "log 1 is 0. Try: --context 2");
  return MODELS_RESOLVE(c, e);
}

static int more_setup(Model *m, Error *e) {
  (void)e;
  const Config *c = &m->c;
  Seams *s = &m->seams;
  s->tensors = late_tensors;
  s->lacks = late_lacks;
  s->room = late_room;
  s->step_room = muon_room;
  s->step = muon_step;
  if (later_row(c))
    s->row = later_row(c);
  if (config_thresholds(c))
    s->weights_backward = late_weights_backward;
  if (config_score_mod(c) || c->extra == EXTRA_LOGN || fixed_logit(c) ||
      c->sparse_top) {
    s->scores = late_scores;
    s->scores_backward = late_scores_backward;
  }
  if (config_clips(c)) {
    s->weights = late_weights;
    s->weights_backward = late_weights_backward;
  }
  if (c->gate || c->qk_norm)
    s->qkv = late_qkv;
  if (c->qk_norm)
    s->qk_backward = qk_norm_backward;
  if (c->gate)
    s->v_backward = gate_backward;
  if (config_leaves(c)) {
    s->leave = late_leave;
    s->leave_backward = leave_backward;
  }
  if (c->gate || c->gain || c->shift || config_leaves(c))
    s->slots = late_slots;
  if (c->place == PLACE_PARALLEL) {
    s->block = parallel_forward;
    s->block_backward = parallel_backward;
  }
  if (c->place == PLACE_SANDWICH) {
    s->block = sandwich_forward;
    s->block_backward = sandwich_backward;
  }
  return MODELS_SETUP(m, e);
}

/* dump --all: the gates of each query head. Those of values have all
 * rows, else the T real ones; those of elements and values have D numbers
 * each, else one. */
static void more_dump(struct Dump *d) {
  const Config *c = &d->m->c;
  const bool value = c->gate == GATE_VALUE;
  const bool each = value || c->gate == GATE_ELEMENT;
  idx L = c->layers, B = d->B, H = c->heads, D = each ? c->head_dim : 1;
  idx own = value ? c->kv_heads : H, rows = value ? d->N : d->T;
  if (!c->gate)
    return;
  npy_begin(d, "gate", (idx[]){L, B, H, rows, each ? D : 0});
  /* (l, b, h, n), in that order */
  for (idx i = 0; i < L * B * H * rows; i++) {
    idx h = i / rows % H, n = (i / rows / H % B + 1) * d->N - rows + i % rows;
    const real *gates = d->a->layer[i / rows / H / B].gate;
    npy_add(d, gates + (n * own + h / (H / own)) * D, D);
  }
}

/* ----------
 * 12  What these and other later rows make of the states of a repeated token:
 *     `check later`
 *
 * Section 7.2's rule for them. Gates, norms, factors and caps act on each token
 * alone, or on a score, and leave a row's sum; over chosen keys, or those above
 * a threshold, it is 1 still. An extra column, a clip, softpick and a Z that is
 * no sum change it, and another first token gets another share. */
static const char *const LATER_EQUAL_SUMS[] = {
  "--place parallel", "--place sandwich --norm dyt",
  "--soft-cap 2 --score-scale logn --score-bias learned", "--gate head --xsa",
  "--gate element --head-norm", "--gate value --qk-norm",
  "--gate static --v-scale", "--sparse-top 3", "--sim sparsemax",
  "--sim entmax", NULL};
static const char *const LATER_OTHER_SUMS[] = {
  "--extra logit --extra-logit -1", "--sim sigmoid --extra logn",
  "--sim softpick --extra k", "--sim rectified --extra k",
  "--sim relu --normalizer one",
  "--sim sigmoid --normalizer count --extra kv", "--sim entmax --extra k",
  "--clip-low -0.5 --clip-high 1.2", "--sink-token 3", NULL};

static void check_later(Page *p) {
  state_rows(p, LATER_EQUAL_SUMS, INSIDE, STATES);
  state_rows(p, LATER_OTHER_SUMS, 0, 0);
}
#define LATER_CHECK \
  {"later", \
   "States of repeated tokens, rows of later papers\n They stay equal where " \
   "all rows of weights have the same sum, whatever else a block has.", \
   check_later}
