/* rows.c - rows beyond the paper's for the tests that include it behind
 * ./hf, test_sink.c and ablated.c, which know them all: the slow model of later
 * papers' rows and of published models' fields and blocks; and a covering
 * array of every axis.
 *
 * SPDX-License-Identifier: MIT */

_Static_assert(POS_ROWS == 7 && PAIR_ROWS == 2 && ROPE_ROWS == 5 &&
                   NORM_ROWS == 3 && ACT_ROWS == 8 && PLACE_ROWS == 4 &&
                   COMBINE_ROWS == 2 && KERNEL_ROWS == 3 &&
                   SIM_ROWS - SIM_SOFTPICK == 5 && NORMALIZER_ROWS == 5 &&
                   EXTRA_ROWS == 6 && VALUE_ROWS == 3 && GAIN_ROWS == 2 &&
                   SHIFT_ROWS == 3 && GATE_ROWS == 5,
               "a new row: its slow form, rows_zero and AXES here");

/* ----------
 * 1  The slow model, in the order of a forward */

/* A row of wte, scaled, and projected where it is of another width. */
static void rows_embed(const Slow *s, int id, double *h) {
  const Config *c = &s->m->c;
  int E = c->embed_dim;
  double e[WIDE_LAB];
  for (int i = 0; i < E; i++)
    e[i] = (double)named(s->m, "wte")[id * E + i];
  for (int i = 0; i < E && c->embed_scale > 0; i++)
    e[i] *= c->embed_scale;
  if (E != c->dim)
    slow_linear(h, e, named(s->m, "win"), NULL, E, c->dim);
  else
    memcpy(h, e, (size_t)E * sizeof *h);
}

/* The norm of a row, DyT too. */
static void rows_norm(const Slow *s, const char *name, double *y,
                      const double *x) {
  char slope[40], bias[40];
  if (s->m->c.norm != NORM_DYT) {
    slow_norm(s, name, y, x);
    return;
  }
  snprintf(slope, sizeof slope, "%s.a", name);
  snprintf(bias, sizeof bias, "%s.b", name);
  const real *a = named(s->m, slope), *g = named(s->m, name);
  const real *b = named(s->m, bias);
  for (int i = 0; i < s->m->c.dim; i++)
    y[i] = tanh((double)a[0] * x[i]) * (double)g[i] + (double)b[i];
}

/* The gate of number u of a row, whose input is x [C]. */
static double rows_gate(const Slow *s, int l, int u, const double *x) {
  const Config *c = &s->m->c;
  const real *own = slow_w(s, l, "gate"), *wg = slow_w(s, l, "wg");
  int wide = c->gate == GATE_HEAD ? c->heads : c->head_dim * c->heads;
  if (c->gate == GATE_VALUE)
    wide = c->head_dim * c->kv_heads;
  double z = own ? (double)own[u] : 0;
  for (int i = 0; wg && i < c->dim; i++)
    z += x[i] * (double)wg[i * wide + u];
  return 1 / (1 + exp(-z));
}

/* RMSNorm of x [n] in place, with these gains. */
static void rows_rms(const Config *c, int n, double *x, const real *g) {
  double y[WIDE_LAB];
  slow_norm_of(c, false, n, y, x, g, NULL);
  memcpy(x, y, (size_t)n * sizeof *y);
}

/* The gates of row n's values, and QK-norm of its queries and keys: of each
 * head, or of all together. */
static void rows_heads(Slow *s, int l, int n, const double *x) {
  const Config *c = &s->m->c;
  int D = c->head_dim, Q = c->heads * D, K = c->kv_heads * D;
  int q_wide = c->qk_whole ? Q : D, k_wide = c->qk_whole ? K : D;
  double *q = slow_at(s, s->q, l, n, Q), *k = slow_at(s, s->k, l, n, K);
  for (int u = 0; u < K && c->gate == GATE_VALUE; u++)
    slow_at(s, s->v, l, n, K)[u] *= rows_gate(s, l, u, x);
  for (int u = 0; u < Q && c->qk_norm; u += q_wide)
    rows_rms(c, q_wide, q + u, slow_w(s, l, "qnorm"));
  for (int u = 0; u < K && c->qk_norm; u += k_wide)
    rows_rms(c, k_wide, k + u, slow_w(s, l, "knorm"));
}

/* The pair that turns so many times in the original length: YaRN's bounds. */
static double slow_pair(const Config *c, double turns) {
  double wide = c->rope_original / (turns * 2 * acos(-1));
  return c->rotary_dims * log(wide) / (2 * log(c->rope_base));
}

/* Llama 3.1's rule as its authors state it, in wavelengths; a third of it is a
 * ramp. YaRN's ramp is by pairs. */
static double slow_frequency(const Config *c, int p) {
  double w = pow(c->rope_base, -2.0 * p / c->rotary_dims);
  double wave = 2 * acos(-1) / w;
  if (c->rope_scaling == ROPE_NONE)
    return w;
  if (c->rope_scaling == ROPE_LINEAR)
    return w / c->rope_factor;
  if (wave <= c->rope_original / c->rope_high)
    return w;
  if (wave > c->rope_original / c->rope_low)
    return w / c->rope_factor;
  double smooth = (c->rope_original / wave - c->rope_low) /
                  (c->rope_high - c->rope_low);
  double low = slow_pair(c, c->rope_low), high = slow_pair(c, c->rope_high);
  if (c->rope_scaling == ROPE_YARN)
    smooth = (p - low) / (high - low);
  return (1 - smooth) * w / c->rope_factor + smooth * w;
}

/* The window of block l, 0: none. */
static int slow_window(const Config *c, int l) {
  bool named_one = !c->window_period ||
                   l % c->window_period == c->window_offset;
  return named_one != (bool)c->window_others ? c->window : 0;
}

static void rows_rotate(const Slow *s, int l, double *x, int n) {
  const Config *c = &s->m->c;
  int half = c->rotary_dims / 2;
  bool apart = c->rope_pairing == PAIR_HALF, local = c->rope_local > 0;
  for (int p = 0; p < half && c->pos == POS_ROTARY; p++) {
    double *u = x + 2 * p, *v = u + 1;
    double angle = n * slow_frequency(c, p);
    if (apart) {
      u = x + p;
      v = u + half;
    }
    if (local && slow_window(c, l))
      angle = n * pow(c->rope_local, -2.0 * p / c->rotary_dims);
    const double was = *u;
    *u = was * cos(angle) - *v * sin(angle);
    *v = was * sin(angle) + *v * cos(angle);
  }
}

static bool rows_sees(const Config *c, int l, int i, int j) {
  Config own = *c;
  own.window = slow_window(c, l);
  return slow_sees(&own, l, i, j);
}

/* A key's score is divided, capped, scaled and shifted; that of * may be
 * another. */
static double rows_any_score(const Slow *s, int l, int h, int i, int column) {
  const Config *c = &s->m->c;
  int D = c->head_dim, keys = 0, j = column - (c->extra != EXTRA_NONE);
  bool local = c->rope_local > 0 && slow_window(c, l) &&
               c->rope_scaling == ROPE_YARN;
  double divisor = D, root;
  if (c->score_divisor > 0 && !local)
    divisor = c->score_divisor;
  root = sqrt(D / divisor);
  if (c->score_by_layer)
    root /= l + 1;
  if (key_is_cut(s, i, column))
    return -INFINITY;
  for (int k = 0; k < s->N; k++)
    keys += rows_sees(c, l, i, k);          /* n_i, the one cut among them */
  if (j < 0 && c->extra == EXTRA_LOGN)
    return log(keys);
  if (j < 0 && c->extra == EXTRA_LOGIT && !slow_w(s, l, "logit"))
    return c->extra_logit;
  double z = slow_score(s, l, h, i, column);
  if (j < 0)
    return c->extra == EXTRA_LOGIT ? z : z * root;
  const double bias = slow_bias(s, h, i, j);
  z = (z - bias) * root + bias;
  if (c->soft_cap > 0)
    z = c->soft_cap * tanh(z / c->soft_cap);
  if (c->gain == GAIN_LOGN)
    z *= (double)slow_w(s, l, "cscale")[h] * log(keys);
  if (c->shift == SHIFT_LOGN)
    z -= log(keys);
  if (c->shift == SHIFT_LEARNED)
    z += (double)slow_w(s, l, "sbias")[h];
  return z;
}

/* Is key j of row i among those that --sparse-top keeps? Its block is, when
 * fewer than sparse_top blocks come before it: a forced one first, then by
 * mean, then by place. */
static bool rows_chosen(const Slow *s, int l, int h, int i, int j) {
  const Config *c = &s->m->c;
  int extra = c->extra != EXTRA_NONE;
  int size = c->sparse_block ? c->sparse_block : 1;
  int before = 0, first = c->sink_token / size;
  double sum[LONG_LAB] = {0}, rank[LONG_LAB];
  int keys[LONG_LAB] = {0};
  for (int k = 0; k < s->N; k++)
    if (rows_sees(c, l, i, k) && !key_is_cut(s, i, k + extra)) {
      sum[k / size] += rows_any_score(s, l, h, i, k + extra);
      keys[k / size]++;
    }
  for (int b = 0; b * size < s->N; b++) {
    rank[b] = keys[b] ? sum[b] / keys[b] : -INFINITY;
    if (c->sparse_first && b == first && keys[b])
      rank[b] = 1e9;
    if (c->sparse_block && b == i / size)
      rank[b] = 1e10;
  }
  int own = j / size;
  for (int b = 0; b * size < s->N; b++)
    before += rank[b] > rank[own] || (rank[b] == rank[own] && b < own);
  return before < c->sparse_top;
}

static double rows_score(const Slow *s, int l, int h, int i, int column) {
  const Config *c = &s->m->c;
  int j = column - (c->extra != EXTRA_NONE);
  if (c->sparse_top && j >= 0 && !rows_chosen(s, l, h, i, j))
    return -INFINITY;
  return rows_any_score(s, l, h, i, column);
}

/* s and s' of the rows beside the paper's; softpick's are times e^-top. */
static long double rows_sim(int sim, long double z, long double top,
                            long double *ds) {
  switch (sim) {
  case SIM_SOFTPICK: *ds = expl(z - top); return expm1l(z) * expl(-top);
  case SIM_RECTIFIED: return *ds = z < 0 ? 0 : expl(z);
  case SIM_RELU: *ds = z > 0; return fmaxl(z, 0);
  default: return slow_sim(sim, z, ds);
  }
}

/* Softpick divides e^z - 1 above 0 by the sum of |e^z - 1|. */
static void rows_softpick(int n, const double *z, Scores *r) {
  long double s[LONG_LAB], ds[LONG_LAB], top = 0, Z = (long double)(real)1e-8;
  for (int j = 0; j < n; j++)
    top = fmaxl(top, z[j]);
  for (int j = 0; j < n; j++) {
    s[j] = ds[j] = 0;
    if (z[j] > -INFINITY)
      s[j] = rows_sim(SIM_SOFTPICK, z[j], top, &ds[j]);
    Z += fabsl(s[j]);
  }
  r->Z = Z;
  for (int j = 0; j < n; j++) {
    bool picked = s[j] > 0;
    r->a[j] = r->m[j] = picked ? s[j] / Z : 0;
    r->deriv[j] = picked ? ds[j] / Z : 0;
    r->dlogz[j] = ds[j] / Z * ((s[j] > 0) - (s[j] < 0));
  }
}

/* Rectified and relu, and any similarity over the number of keys. */
static void rows_further(const Config *c, int n, int keys, const double *z,
                         Scores *r) {
  long double s[LONG_LAB], ds[LONG_LAB], sum = 0, size = 0, power = 0;
  long double p = c->pnorm, e = (long double)(real)1e-8;
  if (c->sim == SIM_RECTIFIED || c->sim == SIM_EXP)
    e = 0;
  for (int j = 0; j < n; j++) {
    s[j] = ds[j] = 0;
    if (z[j] > -INFINITY)
      s[j] = rows_sim(c->sim, z[j], 0, &ds[j]);
    sum += s[j];
    size += fabsl(s[j]);
    if (p != 0)
      power += powl(fabsl(s[j]), p);
  }
  r->Z = 1;
  if (c->normalizer == NORMALIZER_SUM)
    r->Z = sum + e;
  if (c->normalizer == NORMALIZER_COUNT)
    r->Z = keys;
  if (c->normalizer == NORMALIZER_CLAMP)
    r->Z = fmaxl(fabsl(sum), 1);
  if (c->normalizer == NORMALIZER_PNORM)
    r->Z = powl(power, 1 / p);
  for (int j = 0; j < n; j++) {
    r->a[j] = r->Z != 0 ? s[j] / r->Z : 0;
    r->deriv[j] = r->Z != 0 ? ds[j] / r->Z : 0;
    r->m[j] = size > 0 && r->Z != 0 ? fabsl(s[j]) / (size + e) : 0;
    r->dlogz[j] = 0;
    if (c->normalizer == NORMALIZER_SUM)
      r->dlogz[j] = r->deriv[j];
    if (c->normalizer == NORMALIZER_CLAMP && fabsl(sum) > 1)
      r->dlogz[j] = ds[j] / sum;
    if (c->normalizer == NORMALIZER_PNORM && s[j] != 0)
      r->dlogz[j] = powl(fabsl(s[j]), p) / s[j] * ds[j] / powl(r->Z, p);
  }
}

/* Sparsemax and 1.5-entmax: tau by bisection. dz = g (da - mean): s'/Z is g.
 * x is z, and half of it for entmax, whose weights are squares. */
static void rows_threshold(const Config *c, int n, const double *z, Scores *r) {
  bool squares = c->sim == SIM_ENTMAX;
  long double x[LONG_LAB], top = -INFINITY, low, high;
  for (int j = 0; j < n; j++) {
    x[j] = z[j];
    if (squares)
      x[j] /= 2;
    top = fmaxl(top, x[j]);
  }
  low = top - 1;
  high = top;
  for (int turn = 0; turn < 200; turn++) {
    long double tau = (low + high) / 2, sum = 0;
    for (int j = 0; j < n; j++) {
      long double above = fmaxl(x[j] - tau, 0);
      sum += squares ? above * above : above;
    }
    if (sum > 1)
      low = tau;
    else
      high = tau;
  }
  r->Z = 1;
  for (int j = 0; j < n; j++) {
    long double above = fmaxl(x[j] - low, 0);
    r->a[j] = r->m[j] = squares ? above * above : above;
    r->deriv[j] = squares ? above : above > 0;
    r->dlogz[j] = 0;
  }
}

/* The weights of a row. Clipped ones do not change m. */
static void rows_row(const Config *c, int n, int keys, const double *z,
                     Scores *r) {
  long double spread = c->clip_high - c->clip_low;
  if (c->sparse_top) /* n_i is of what is left */
    keys = n - (c->extra != EXTRA_NONE);
  if (c->sim == SIM_SOFTPICK)
    rows_softpick(n, z, r);
  else if (config_thresholds(c))
    rows_threshold(c, n, z, r);
  else if (c->sim >= SIM_SOFTPICK || c->normalizer == NORMALIZER_COUNT)
    rows_further(c, n, keys, z, r);
  else
    slow_row(c, n, keys, z, r);
  for (int j = 0; j < n && c->clip_high > c->clip_low && spread != 1; j++)
    r->a[j] = fminl(fmaxl(spread * r->a[j] + c->clip_low, 0), 1);
}

/* What becomes of a head's output o: XSA, v+, its scale, its gate, its norm. */
static void rows_leave(const Slow *s, int l, int h, int i, double *o,
                       const double *x) {
  const Config *c = &s->m->c;
  int D = c->head_dim, K = c->kv_heads;
  const double *v = slow_at(s, s->v, l, i, K * D) + h / (c->heads / K) * D;
  double along = 0, length = 1e-8;
  for (int d = 0; d < D; d++) {
    along += o[d] * v[d];
    length += v[d] * v[d];
  }
  for (int d = 0; d < D && c->xsa; d++)
    o[d] -= along * v[d] / length;
  slow_leave(s, l, h, i, o, x);
  for (int d = 0; d < D; d++) {
    if (c->v_scale)
      o[d] *= (double)slow_w(s, l, "vscale")[h];
    if (c->gate == GATE_HEAD || c->gate == GATE_STATIC)
      o[d] *= rows_gate(s, l, h, x);
    if (c->gate == GATE_ELEMENT)
      o[d] *= rows_gate(s, l, h * D + d, x);
  }
  if (c->head_norm)
    rows_rms(c, D, o, slow_w(s, l, "hnorm") + h * D);
}

/* What Mamba makes of its input row by row: x and z, the convolved and
 * activated a, step sizes dt, and b and c. */
typedef struct Mixed {
  int I, M, N;
  double *xz, *a, *dt, *bc;    /* [N,2I] [N,I] [N,I] [N,2M] */
} Mixed;

/* Row t of it, from u [N,C]. */
static void slow_mamba_row(const Slow *s, int l, Mixed *x, int t,
                           const double *u) {
  const Config *c = &s->m->c;
  int C = c->dim, I = x->I, M = x->M, J = c->mamba_conv, R = c->mamba_rank;
  const real *conv = slow_w(s, l, "m.conv"), *shift = slow_w(s, l, "m.conv.b");
  double *p = room(R + 2 * M), *r = room(R), *dt = x->dt + t * I;
  double *bc = x->bc + t * 2 * M;
  slow_linear(x->xz + t * 2 * I, u + t * C, slow_w(s, l, "m.in"), NULL, C,
              2 * I);
  for (int i = 0; i < I; i++) {
    double sum = (double)shift[i];
    for (int back = 0; back < J && back <= t; back++)
      sum += (double)conv[(J - 1 - back) * I + i] *
             x->xz[(t - back) * 2 * I + i];
    x->a[t * I + i] = sum / (1 + exp(-sum));
  }
  slow_linear(p, x->a + t * I, slow_w(s, l, "m.x"), NULL, I, R + 2 * M);
  /* RMSNorm, as Jamba has it, whatever --norm is */
  slow_norm_of(c, false, R, r, p, slow_w(s, l, "m.rnorm"), NULL);
  slow_norm_of(c, false, M, bc, p + R, slow_w(s, l, "m.bnorm"), NULL);
  slow_norm_of(c, false, M, bc + M, p + R + M, slow_w(s, l, "m.cnorm"), NULL);
  slow_linear(dt, r, slow_w(s, l, "m.dt"), slow_w(s, l, "m.dt.b"), R, I);
  for (int i = 0; i < I; i++)
    dt[i] = log1p(exp(dt[i]));
  free(p);
  free(r);
}

/* What channel i of row t gets of all rows up to t. */
static double slow_mamba_sum(const Slow *s, int l, const Mixed *x, int t,
                             int i) {
  const real *a_log = slow_w(s, l, "m.alog"), *skip = slow_w(s, l, "m.skip");
  double sum = (double)skip[i] * x->a[t * x->I + i];
  for (int m = 0; m < x->M; m++) {
    double rate = -exp((double)a_log[m * x->I + i]), since = 0;
    for (int from = t; from >= 0; from--) {
      int at = from * x->I + i;
      sum += x->bc[t * 2 * x->M + x->M + m] * x->bc[from * 2 * x->M + m] *
             exp(rate * since) * x->dt[at] * x->a[at];
      since += x->dt[at];
    }
  }
  return sum;
}

/* [MAMBA] y [N,C] = MAMBA(u), without a state: what row t gets of each row s
 * before it is written out and summed,
 *
 *   c_t b_s dt_s a_s e^(A (dt_(s+1) + .. + dt_t)) */
static void slow_mamba(const Slow *s, int l, double *y, const double *u) {
  const Config *c = &s->m->c;
  int C = c->dim, N = s->N, I = c->mamba_inner, M = c->mamba_state;
  Mixed x = {.I = I,
             .M = M,
             .N = N,
             .xz = room((idx)N * 2 * I),
             .a = room((idx)N * I),
             .dt = room((idx)N * I),
             .bc = room((idx)N * 2 * M)};
  double *out = room(I);
  for (int t = 0; t < N; t++) {
    slow_mamba_row(s, l, &x, t, u);
    for (int i = 0; i < I; i++) {
      double z = x.xz[t * 2 * I + I + i];
      out[i] = slow_mamba_sum(s, l, &x, t, i) * z / (1 + exp(-z));
    }
    slow_linear(y + t * C, out, slow_w(s, l, "m.out"), NULL, I, C);
  }
  free(x.xz);
  free(x.a);
  free(x.dt);
  free(x.bc);
  free(out);
}

/* Expert e's ffn. */
static void slow_expert(const Slow *s, int l, int e, double *y,
                        const double *x) {
  const real *w[3], *b[3];
  for (int k = 0; k < 3; k++) {
    char name[32];
    snprintf(name, sizeof name, "e%d.w%d", e, k + 1);
    w[k] = slow_w(s, l, name);
    snprintf(name, sizeof name, "e%d.b%d", e, k + 1);
    b[k] = slow_w(s, l, name);
  }
  slow_ffn(&s->m->c, w, b, y, x);
}

/* [MOE] y = the sum of p_e FFN_e(x) over those experts that fewer than `top`
 * others beat. */
static void slow_experts(const Slow *s, int l, double *y, const double *x) {
  const Config *c = &s->m->c;
  int X = c->experts, C = c->dim;
  double *p = room(X), total = 0, f[WIDE_LAB];
  slow_linear(p, x, slow_w(s, l, "router"), NULL, C, X);
  for (int e = 0; e < X; e++) {
    p[e] = exp(p[e]);
    total += p[e];
  }
  for (int i = 0; i < C; i++)
    y[i] = 0;
  for (int e = 0; e < X; e++) {
    int better = 0;
    for (int k = 0; k < X; k++)
      better += p[k] > p[e] || (p[k] == p[e] && k < e);
    if (better >= c->expert_top)
      continue;
    slow_expert(s, l, e, f, x);
    for (int i = 0; i < C; i++)
      y[i] += p[e] / total * f[i];
  }
  free(p);
}

/* Does block l attend? Else it is Mamba. */
static bool slow_attends(const Config *c, int l) {
  return !c->attention_period || l % c->attention_period == c->attention_offset;
}

/* Block l's ffn, or its experts. */
static void rows_second(const Slow *s, int l, double *y, const double *x) {
  const Config *c = &s->m->c;
  bool here = !c->expert_period || l % c->expert_period == c->expert_offset;
  if (c->experts && here)
    slow_experts(s, l, y, x);
  else
    slow_feed(s, l, y, x);
}

/* One row of the norm l.normK where it is there, else the row itself. */
static void rows_norm_of(const Slow *s, bool there, int l, int k, double *y,
                         const double *x) {
  char name[40];
  snprintf(name, sizeof name, "l%d.norm%d", l, k);
  if (there)
    rows_norm(s, name, y, x);
  else
    memcpy(y, x, (size_t)s->m->c.dim * sizeof *y);
}

/* One block of any placement and any kind, x to y, each [N,C]. */
static void rows_block(Slow *s, int l, double *y, const double *x) {
  const Config *c = &s->m->c;
  int C = c->dim, N = s->N;
  bool post = c->place == PLACE_POST, sandwich = c->place == PLACE_SANDWICH;
  bool before = !post && !c->behind_only;
  double *in = room((idx)N * C), *o = room((idx)N * C);
  double h[WIDE_LAB], u[WIDE_LAB], f[WIDE_LAB], g[WIDE_LAB];
  for (int n = 0; n < N; n++)
    rows_norm_of(s, before, l, 1, in + n * C, x + n * C);
  if (slow_attends(c, l))
    slow_mhsa(s, l, o, in);
  else
    slow_mamba(s, l, o, in);
  for (int n = 0; n < N; n++) {
    double *sum = slow_at(s, s->sum, l, n, C);
    rows_norm_of(s, sandwich, l, 3, h, o + n * C);
    for (int i = 0; i < C; i++)
      h[i] += x[n * C + i];
    if (post)
      rows_norm_of(s, true, l, 1, u, h);
    else if (c->place == PLACE_PARALLEL)
      rows_norm_of(s, before, l, 2, u, x + n * C);
    else
      rows_norm_of(s, before, l, 2, u, h);
    rows_second(s, l, f, u);
    rows_norm_of(s, sandwich, l, 4, g, f);
    const double *stream = post ? u : h;
    for (int i = 0; i < C; i++)
      sum[i] = stream[i] + g[i];
    rows_norm_of(s, post, l, 2, y + n * C, sum);
  }
  free(in);
  free(o);
}

/* The logits y [V] of a row x [C]. */
static void rows_logits(const Slow *s, const double *x, double *y) {
  const Config *c = &s->m->c;
  int E = c->embed_dim, V = c->vocab;
  const real *wte = named(s->m, "wte"), *wcls = named(s->m, "wcls");
  double out[WIDE_LAB];
  if (E != c->dim)
    slow_linear(out, x, named(s->m, "wout"), NULL, c->dim, E);
  else
    memcpy(out, x, (size_t)E * sizeof *out);
  for (int v = 0; v < V; v++) {
    y[v] = 0;
    for (int i = 0; i < E; i++) {
      const real w = c->tied ? wte[v * E + i] : wcls[i * V + v];
      y[v] += out[i] * (double)w;
    }
    if (c->logit_cap > 0)
      y[v] = c->logit_cap * tanh(y[v] / c->logit_cap);
  }
}

/* ----------
 * 2  Gradients */

/* Which are 0 besides the paper's (test_sink.c, chapter 1):
 *
 *   k*, the logit    where Z is the number of keys
 *   sbias            adds one number to all scores of a row, as b_K
 *   b_K              also under rectified, sparsemax and entmax; not behind a
 *                    soft-cap or QK-norm
 *   cscale           multiplies all scores of a row, which a Z that scales
 *                    forgets where s is a multiple of z, but for the e in Z */
static bool rows_zero(const Lab *b, const Tensor *x, double *most) {
  const Config *c = &b->m.c;
  const char *last = strrchr(x->name, '.');
  if (x->layer < 0 || !last)
    return false;
  int rows, over = rows_bound(b, x->layer, &rows);
  bool clamp = c->normalizer == NORMALIZER_CLAMP;
  bool one = c->normalizer == NORMALIZER_ONE ||
             c->normalizer == NORMALIZER_COUNT;
  if (!strcmp(last, ".logit") ||
      (!strcmp(last, ".kstar") && c->extra == EXTRA_K && !c->extra_value)) {
    *most = 0;
    return one || (clamp && !over);
  }
  *most = 1e-12;
  bool scales = !one && (!clamp || over == rows);
  bool forgets = scales; /* a number that is added to all scores of a row */
  if (c->sim != SIM_EXP)
    forgets = c->sim == SIM_RECTIFIED || config_thresholds(c);
  bool multiple = (c->sim == SIM_IDENTITY || c->sim == SIM_RELU) && scales &&
                  !c->shift && (!c->extra || c->extra == EXTRA_ZERO);
  if (!strcmp(last, ".cscale")) {
    *most = 1e-6;
    return multiple;
  }
  bool as_it_is = !(c->soft_cap > 0) && !c->qk_norm &&
                  c->kernel == KERNEL_IDENTITY && c->pos != POS_ROTARY;
  return forgets && !c->extra &&
         (!strcmp(last, ".sbias") || (!strcmp(last, ".bk") && as_it_is));
}

static bool rows_faint(const Config *c) { return c->sim >= SIM_SOFTPICK; }

/* Softpick's largest score is a constant to its backward, which shows as
 * e / Z. */
static double rows_slack(const Config *c) {
  return c->sim == SIM_SOFTPICK ? 20 : 1;
}

static const RowKind *rows_kind(const Config *c) {
  const RowKind *later = later_row(c);
  return later ? later : &PAPER_ROW;
}

static const Oracle ALL_ROWS = {
  rows_zero, rows_faint, rows_slack, rows_embed, rows_norm,
  rows_heads, rows_rotate, rows_sees, rows_score, rows_row, rows_kind,
  slow_value, rows_leave, rows_block, rows_logits};

/* ----------
 * 3  A covering array
 *
 * Configurations among which every pair of rows of any two axes occurs, unless
 * config_resolve refuses every way to complete the pair. A row is the flags
 * that choose it; an axis without rows has the words of its option. The rules
 * of config_resolve name the axes of two groups, and none names both. */

enum { AXIS_FREE, AXIS_SCORES, AXIS_WIDTHS, MOST_ROWS = 12 };

typedef struct CoverAxis {
  const char *name;
  int group;
  const char *rows[MOST_ROWS];
} CoverAxis;

/* --norm-eps is large beside xsa, which leaves a lone row rounding alone. */
static const CoverAxis AXES[] = {
  {"pos", AXIS_WIDTHS, {NULL}},
  {"rotary-dims", AXIS_WIDTHS, {"", "--rotary-dims 2"}},
  {"rope-pairing", AXIS_FREE, {NULL}},
  {"rope-scaling", AXIS_FREE, {"", "--rope-scaling linear --rope-factor 3",
                               "--rope-scaling llama3 --rope-base 100 "
                               "--rope-original 64 --rope-factor 4 "
                               "--rope-low 0.5 --rope-high 3",
                               "--rope-scaling yarn --rope-base 9 "
                               "--rope-original 12 --rope-low 0.5"}},
  {"rope-local", AXIS_FREE, {"", "--rope-local 40"}},
  {"norm", AXIS_FREE, {NULL}},
  {"place", AXIS_FREE, {"", "--place post", "--place parallel",
                        "--place sandwich --behind-only", "--place sandwich"}},
  {"act", AXIS_FREE, {NULL}},
  {"linear-bias", AXIS_FREE, {"", "--linear-bias",
                              "--linear-bias --bias-in qkv",
                              "--linear-bias --bias-in attention",
                              "--linear-bias --bias-in ffn"}},
  {"score-by-layer", AXIS_FREE, {"", "--score-by-layer"}},
  {"tied", AXIS_FREE, {"", "--tied"}},
  {"embed-scale", AXIS_FREE, {"", "--embed-scale 1.7"}},
  {"logit-cap", AXIS_FREE, {"", "--logit-cap 1.5"}},
  {"score-divisor", AXIS_FREE, {"", "--score-divisor 9"}},
  {"embed-dim", AXIS_FREE, {"", "--embed-dim 5"}},
  {"combine", AXIS_FREE, {NULL}},
  {"kernel", AXIS_SCORES, {NULL}},
  {"sim", AXIS_SCORES, {NULL}},
  {"normalizer", AXIS_SCORES, {"", "--normalizer one", "--normalizer clamp",
                               "--normalizer pnorm --pnorm 0.5",
                               "--normalizer pnorm --pnorm 2",
                               "--normalizer pnorm --pnorm 3",
                               "--normalizer count"}},
  {"clip", AXIS_SCORES, {"", "--clip-low -0.02 --clip-high 1.2"}},
  {"sparse", AXIS_FREE, {"", "--sparse-top 3",
                         "--sparse-top 2 --sparse-block 2",
                         "--sparse-top 3 --sparse-block 2 --sparse-first"}},
  {"scale", AXIS_FREE, {"", "--scale 0.7"}},
  {"soft-cap", AXIS_FREE, {"", "--soft-cap 2.5"}},
  {"score-scale", AXIS_FREE, {NULL}},
  {"score-bias", AXIS_SCORES, {NULL}},
  {"extra-logit", AXIS_FREE, {"", "--extra-logit -0.7"}},
  {"extra", AXIS_SCORES, {NULL}},
  {"extra-shared", AXIS_FREE, {"", "--extra-shared"}},
  {"extra-dims", AXIS_FREE, {"", "--extra-dims 2"}},
  {"extra-order", AXIS_FREE, {NULL}},
  {"extra-value", AXIS_SCORES, {"", "--extra-value e1 --extra-norm 2",
                                "--extra-value ones --extra-norm 3"}},
  {"vbias", AXIS_FREE, {"", "--vbias"}},
  {"sink-token", AXIS_FREE, {"", "--sink-token", "--sink-token 3"}},
  {"gate", AXIS_FREE, {NULL}},
  {"qk-norm", AXIS_FREE, {"", "--qk-norm --qk-whole", "--qk-norm"}},
  {"head-norm", AXIS_FREE, {"", "--head-norm --norm-eps 0.1"}},
  {"v-scale", AXIS_FREE, {"", "--v-scale"}},
  {"xsa", AXIS_FREE, {"", "--xsa --norm-eps 0.1"}},
  {"window", AXIS_FREE, {"", "--window 3"}},
  {"window-period", AXIS_FREE, {"", "--window-period 2 --window-offset 1",
                                "--window-period 3 --window-offset 1 "
                                "--window-others"}},
  {"prefix", AXIS_FREE, {"", "--prefix 1", "--prefix 3"}},
  {"kv-heads", AXIS_FREE, {"", "--kv-heads 1", "--kv-heads 2"}},
  {"heads", AXIS_WIDTHS, {"", "--heads 4"}},
  {"head-dim", AXIS_WIDTHS, {"", "--head-dim 4"}}};
enum { N_AXES = (int)(sizeof AXES / sizeof AXES[0]), MOST_CONFIGS = 400 };

typedef struct Pick { int row[N_AXES]; } Pick;

typedef struct Cover {
  Pick pick[MOST_CONFIGS];
  int n, pairs, refused, covered;
  int rows[N_AXES];                      /* of each axis */
  /* of rows i of axis a and j of axis b, a < b: 1 covered, 2 refused */
  char seen[N_AXES][MOST_ROWS][N_AXES][MOST_ROWS];
  char *flags[MOST_CONFIGS + 1];         /* of every pick; NULL ends them */
  char *axis[N_AXES * MOST_ROWS + 1];    /* of each row beside the defaults */
} Cover;

/* The flags of row i of axis a; NULL after the last. */
static const char *axis_flags(int a, int i, char text[2 * VALUE_ROOM]) {
  char word[VALUE_ROOM];
  if (AXES[a].rows[0])
    return i < MOST_ROWS && AXES[a].rows[i] ? AXES[a].rows[i] : NULL;
  if (!*option_word(option_find(AXES[a].name, MODEL), i, word))
    return NULL;
  text[0] = 0;
  if (i)
    snprintf(text, 2 * VALUE_ROOM, "--%s %s", AXES[a].name, word);
  return text;
}

static int axis_rows(int a) {
  int n = 0;
  char text[2 * VALUE_ROOM];
  while (axis_flags(a, n, text))
    n++;
  if (n > MOST_ROWS) {
    printf("--%s has %d rows: a larger MOST_ROWS\n", AXES[a].name, n);
    exit(1);
  }
  return n;
}

static void pick_flags(const Pick *p, char *text, size_t size) {
  const char *between = "";
  size_t used = 0;
  text[0] = 0;
  for (int a = 0; a < N_AXES; a++) {
    char axis[2 * VALUE_ROOM];
    const char *row = axis_flags(a, p->row[a], axis);
    if (!*row)
      continue;
    used += (size_t)snprintf(text + used, size - used, "%s%s", between, row);
    between = " ";
  }
}

static char *pick_text(const Pick *p) {
  char *text = zeroed(1024, 1);
  pick_flags(p, text, 1024);
  return text;
}

static bool pick_resolves(const Pick *p) {
  char flags[1024], all[1024 + sizeof BASE];
  Config c;
  Error e = {0};
  pick_flags(p, flags, sizeof flags);
  snprintf(all, sizeof all, "%s%s", BASE, flags);
  return !config_from_flags(&c, all, &e);
}

/* Is there a way to complete the pair? Walks the rows of one group of axes,
 * then of the other. */
static bool pair_possible(const Cover *v, int a, int i, int b, int j) {
  for (int group = AXIS_SCORES; group <= AXIS_WIDTHS; group++) {
    Pick p = {{0}};
    for (;;) {
      p.row[a] = i;
      p.row[b] = j;
      if (pick_resolves(&p))
        return true;
      /* count up in mixed radix */
      int x = 0;
      for (; x < N_AXES; x++) {
        if (x == a || x == b || AXES[x].group != group)
          continue;
        if (++p.row[x] < v->rows[x])
          break;
        p.row[x] = 0;
      }
      if (x == N_AXES)
        break;
    }
  }
  return false;
}

/* How many pairs p would cover that nothing covers yet, looking only at axes
 * marked in set. */
static int pick_gain(const Cover *v, const Pick *p, const bool *set) {
  int gain = 0;
  for (int b = 1; b < N_AXES; b++)
    for (int a = 0; a < b; a++)
      gain += set[a] && set[b] && !v->seen[a][p->row[a]][b][p->row[b]];
  return gain;
}

/* A candidate with the pair: axes with rules by chance until they resolve,
 * others greedily. */
static bool candidate(const Cover *v, Pick *p, Rng *r, int a, int i, int b,
                      int j) {
  bool set[N_AXES];
  for (int tries = 0; tries < 2000; tries++) {
    for (int x = 0; x < N_AXES; x++) {
      const bool ruled = AXES[x].group != AXIS_FREE;
      set[x] = ruled || x == a || x == b;
      p->row[x] = 0;
      if (ruled)
        p->row[x] = (int)rng_below(r, (uint64_t)v->rows[x]);
    }
    p->row[a] = i;
    p->row[b] = j;
    if (!pick_resolves(p))
      continue;
    for (int from = (int)rng_below(r, N_AXES), k = 0; k < N_AXES; k++) {
      int x = (from + k) % N_AXES, best = 0, most = -1;
      if (set[x])
        continue;
      set[x] = true;
      int first = (int)rng_below(r, (uint64_t)v->rows[x]);
      for (int n = 0; n < v->rows[x]; n++) {
        p->row[x] = (first + n) % v->rows[x];
        int gain = pick_gain(v, p, set);
        if (gain > most) {
          most = gain;
          best = p->row[x];
        }
      }
      p->row[x] = best;
    }
    if (pick_resolves(p))
      return true;
  }
  return false;
}

/* Puts the best of twelve configurations with this pair into the array; none:
 * the counts tell. */
static void cover_pair(Cover *v, Rng *r, int a, int i, int b, int j) {
  Pick best = {{0}}, p;
  bool all[N_AXES];
  int most = -1;
  for (int x = 0; x < N_AXES; x++)
    all[x] = true;
  for (int n = 0; n < 12 && candidate(v, &p, r, a, i, b, j); n++) {
    int gain = pick_gain(v, &p, all);
    if (gain > most) {
      most = gain;
      best = p;
    }
  }
  if (most < 0 || v->n == MOST_CONFIGS)
    return;
  v->pick[v->n] = best;
  v->flags[v->n++] = pick_text(&best);
  for (int y = 1; y < N_AXES; y++)
    for (int x = 0; x < y; x++) {
      char *seen = &v->seen[x][best.row[x]][y][best.row[y]];
      v->covered += !*seen;
      *seen = 1;
    }
}

/* The array, made once. A pair without a completion is marked refused. */
static const Cover *covering(void) {
  static Cover *made;
  if (made)
    return made;
  Cover *v = made = zeroed(1, sizeof *v);
  Rng r = {6};
  for (int a = 0; a < N_AXES; a++)
    v->rows[a] = axis_rows(a);
  for (int b = 1; b < N_AXES; b++)
    for (int a = 0; a < b; a++)
      for (int i = 0; i < v->rows[a]; i++)
        for (int j = 0; j < v->rows[b]; j++) {
          v->pairs++;
          if (v->seen[a][i][b][j])
            continue;
          if (pair_possible(v, a, i, b, j))
            cover_pair(v, &r, a, i, b, j);
          else {
            v->seen[a][i][b][j] = 2;
            v->refused++;
          }
        }
  for (int a = 0, n = 0; a < N_AXES; a++)
    for (int i = a > 0; i < v->rows[a]; i++) {
      Pick p = {{0}};
      p.row[a] = i;
      if (pick_resolves(&p))
        v->axis[n++] = pick_text(&p);
    }
  return v;
}

/* A lab b for each configuration of the array. */
#define LABS_OF_COVER(b, B, T) \
    LABS_OF(b, B, T, (const char *const *)covering()->flags)

/* How a model is extended: rows may see nothing; blocks keep no keys, so that
 * all rows are made anew. */
enum { EXTEND_BLIND = 1, EXTEND_ANEW };

typedef struct Cached {
  Lab b;
  Acts cache, whole;
  int how;
} Cached;

/* One configuration through a key-value cache and as a whole. The last row's
 * logits, and every row made, have the same bits: the sums of a row do not
 * depend on which rows go with it. Behind a prefix all rows are made anew. */
static void extend_as_whole(Test *t, Cached *x, int T, int from) {
  const Model *m = &x->b.m;
  const char *flags = x->b.flags;
  int N = config_rows(&m->c, T), C = m->c.dim, V = m->c.vocab;
  int R = model_extend(m, &x->cache, x->b.ids, T, from);
  real got[2048], want[2048];
  /* where LongRoPE's other list begins, keys are turned anew */
  const bool crossed = if_long(&m->c) && from <= m->c.rope_original &&
                       T > m->c.rope_original;
  bool kept = from && from >= m->c.prefix && x->how != EXTEND_ANEW && !crossed;
  fact(t, R == (kept ? T - from : N), "%d rows, %d tokens after %d, %s", R, T,
       from, flags);
  model_forward(m, &x->whole, x->b.ids, 1, T);
  within(t, distance((idx)R * C, x->whole.nf + (idx)(N - R) * C, x->cache.nf),
         0, 0, "%d rows of %d, %s", R, N, flags);
  model_logits(m, &x->cache, x->cache.nf + (idx)(R - 1) * C, 1, got);
  model_logits(m, &x->whole, x->whole.nf + (idx)(N - 1) * C, 1, want);
  within(t, distance(V, want, got), 0, 0, "logits of token %d after %d, %s", T,
         from, flags);
  fact(t, biggest(V, want) > 0, "no logits, %s", flags);
}

/* Prompts of these lengths, the last 0: after each a dozen tokens one by one,
 * seven at once, and other tokens in their place. Then a cache that is read
 * one place off must show, unless rows may see nothing. how: 0 or above.
 * false: no models. */
static bool extend_one(Test *t, const char *flags, const int *prompts, int T,
                       int how) {
  Cached x = {.how = how};
  if (!lab_open(&x.b, t, 1, T, flags))
    return false;
  const Model *m = &x.b.m;
  int C = m->c.dim, ten = m->c.vocab - 1, *ids = x.b.ids;
  if (acts_create(&x.cache, m, 1, T, ACTS_KEYS, fresh(t)) ||
      acts_create(&x.whole, m, 1, T, ACTS_ONE, &t->e)) {
    fact(t, 0, "%s", t->e.text);
    return false;
  }
  /* e^z of Z = 1 is a float */
  for (int l = 0; named_at(m, l, "cscale"); l++)
    vec_scale(m->c.heads, named_at(m, l, "cscale"), (real)0.25);
  for (; *prompts; prompts++) {
    int at = *prompts;
    lab_draw(&x.b, 31 + (uint64_t)at);
    extend_as_whole(t, &x, at, 0);
    for (int n = at; n < at + 12; n++)
      extend_as_whole(t, &x, n + 1, n);
    extend_as_whole(t, &x, at + 19, at + 12);
    ids[at] = (ids[at] + 1) % ten;
    extend_as_whole(t, &x, at + 2, at);
  }
  ids[29] = (ids[30] + 1) % ten;
  model_extend(m, &x.cache, ids, 30, 0);
  /* token 31 in the place of 30 */
  model_extend(m, &x.cache, ids + 1, 30, 29);
  model_forward(m, &x.whole, ids, 1, 31);
  idx last = (idx)(config_rows(&m->c, 31) - 1) * C;
  double off = distance(C, x.whole.nf + last, x.cache.nf);
  fact(t, off > 1e-5 || how == EXTEND_BLIND,
       "one place off shows by %g only, %s", off, flags);
  acts_free(&x.cache);
  acts_free(&x.whole);
  lab_close(&x.b);
  return true;
}

static const int SHORT_PROMPTS[] = {1, 2, 26, 55, 0};
static const int LONG_PROMPTS[] = {250, 300, 0};
