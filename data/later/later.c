/* later.c - what later papers and models do to norms, scores and heads, and another optimiser,
 * each forward and backward: DyT, QK-norm, soft-cap and its kin, gates, V-scale, head norm, XSA,
 * Muon. The paper has none of them.
 *
 * paper.c, hf.c, bench.c and the tests include this behind sink.c, which calls it through BEYOND,
 * below, where its flags are given; ./sink refuses them. Sections such as 3.7 are sink.c's, and so
 * are letters that no section here defines. What each does to the sink: ./paper remedies.
 *
 * SPDX-License-Identifier: MIT
 */

/* ----------
 * 1  DyT   Zhu et al. 2025, in place of a norm (3.2)
 *
 * y = g t + b, t = tanh(a x): no sum over the row, so a long row stays long until tanh saturates. a
 * is one number, 0.5 at the start. Backward, as tanh' = 1 - tanh^2:
 *
 *   dx_c += a (1 - t_c^2) g_c dy_c           da += sum over rows and c of x_c (1 - t_c^2) g_c dy_c
 *   dg_c += sum over rows of dy_c t_c        db_c += sum over rows of dy_c */

/* One row of y = g tanh(a x) + b. */
static void dyt_row(idx C, real *y, const real *x, const Norm *w) {
  for (idx ch = 0; ch < C; ch++) y[ch] = w->a[0] * x[ch];
  vec_tanh(C, y, y);
  for (idx ch = 0; ch < C; ch++) y[ch] = w->g[ch] * y[ch] + w->b[ch];
}

/* x, y [rows,C]. */
static void dyt_forward(const Config *c, real *y, const real *x, const Norm *w, idx rows) {
  idx C = c->dim;
  PARALLEL
  for (idx n = 0; n < rows; n++) dyt_row(C, y + n * C, x + n * C, w);
}

/* One row of dx += a (1 - t^2) g dy, with t = tanh(a x). Returns its part of da. */
static real dyt_row_backward(idx C, real *dx, const real *dy, const real *x, const Norm *w) {
  real a = w->a[0], t[CHUNK], da = 0;
  for (idx from = 0; from < C; from += CHUNK) {
    idx some = chunk(C, from);
    for (idx j = 0; j < some; j++) t[j] = a * x[from + j];
    vec_tanh(some, t, t);
    /* t becomes the gradient of a x */
    for (idx j = 0; j < some; j++) t[j] = (1 - t[j] * t[j]) * w->g[from + j] * dy[from + j];
    for (idx j = 0; j < some; j++) dx[from + j] += a * t[j];
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
  for (idx ch = 0; ch < width; ch++) t[ch] = a * x[ch];
  vec_tanh(width, t, t);
  for (idx ch = 0; ch < width; ch++) dg[ch] += dy[ch] * t[ch];
  for (idx ch = 0; ch < width; ch++) db[ch] += dy[ch];
}

/* dx [rows,C] and the gradients d are added to, from dy, x [rows,C]. part [rows,2], a norm's stat,
 * takes each row's part of da, to be added up in order. */
static void dyt_backward(const Config *c, real *dx, const Norm *d, const real *dy, const real *x,
                         real *part, const Norm *w, idx rows) {
  idx C = c->dim;
  PARALLEL
  for (idx n = 0; n < rows; n++)
    part[2 * n] = dyt_row_backward(C, dx + n * C, dy + n * C, x + n * C, w);
  PARALLEL
  for (idx from = 0; from < C; from += CHANNELS)
    for (idx n = 0; n < rows; n++)
      dyt_gains(at_most(C - from, CHANNELS), d->g + from, d->b + from, dy + n * C + from,
                x + n * C + from, w->a[0]);
  for (idx n = 0; n < rows; n++) d->a[0] += part[2 * n];
}

/* ----------
 * 2  QK-norm   arXiv 2010.04245
 *
 * q = qnorm q0 r (3.2) in each head before it rotates; so k. While the gains are 1, |q| and |k| are
 * sqrt(D), which bounds <q, k> / sqrt(D). --qk-whole (OLMo 2's) norms a row's heads as one. */

/* c for the functions of 3.2: RMSNorm over the D dims of a head, or of so many heads. */
static Config head_norm_of(const Config *c, idx heads) {
  Config own = *c;
  own.norm = NORM_RMS;
  own.dim = (int)heads * c->head_dim;
  return own;
}

/* q [rows,heads,D] from q0, with stat of each norm: [.,2]. */
static void qk_row_norm(const Config *c, real *q, real *stat, const real *q0, const Norm *w,
                        idx rows, idx heads) {
  const Config own = head_norm_of(c, c->qk_whole ? heads : 1);
  norm_forward(&own, q, stat, q0, w, rows * heads * c->head_dim / own.dim);
}

/* la->q [rows,H,D] and k [rows,K,D], from la->q0 and la->k0. */
static void qk_norm_forward(const Model *m, Acts *a, int l, real *k, idx rows) {
  const Config *c = &m->c;
  const Layer *w = &m->w.layer[l];
  const LayerActs *la = &a->layer[l];
  qk_row_norm(c, la->q, la->qstat, la->q0, &w->qnorm, rows, c->heads);
  qk_row_norm(c, k, la->kstat, la->k0, &w->knorm, rows, c->kv_heads);
}

/* dq, q's gradient, becomes q0's as in 3.2; so dk. norm_backward adds: hence scratch, as long. */
static void qk_row_norm_backward(const Config *c, real *dq, const Norm *d, const real *q0,
                                 real *stat, const Norm *w, real *scratch, idx rows, idx heads) {
  const Config own = head_norm_of(c, c->qk_whole ? heads : 1);
  idx all = rows * heads * c->head_dim;
  zero(scratch, all);
  norm_backward(&own, scratch, d, dq, q0, stat, w, all / own.dim);
  copy(dq, scratch, all);
}

/* a->dq and a->dk in place. */
static void qk_norm_backward(Model *m, Acts *a, int l, idx rows) {
  const Config *c = &m->c;
  const Layer *w = &m->w.layer[l], *d = &m->d.layer[l];
  const LayerActs *la = &a->layer[l];
  qk_row_norm_backward(c, a->dq, &d->qnorm, la->q0, la->qstat, &w->qnorm, a->dphi, rows, c->heads);
  qk_row_norm_backward(c, a->dk, &d->knorm, la->k0, la->kstat, &w->knorm, a->dphi, rows,
                       c->kv_heads);
}

/* ----------
 * 3  Scores before sim
 *
 * Three changes of z_ij (3.7) before 3.6, not of z_i*. Row i sees n_i keys. With one, log n_i = 0.
 *
 *   soft-cap      y = X tanh(z / X)      |y| < X; without it y = z          Gemma 2
 *   score scale   c_h log(n_i) y         the largest weight need not fade as n_i grows
 *   score bias    .. - log(n_i), or .. + f_h: what a sigmoid lacks to have rows of about 1
 *
 * BACKWARD, from dz_j of what enters sim:    dy_j = c_h log(n_i) dz_j, or dz_j    df_h = sum_j dz_j
 *   dc_h = log(n_i) sum_j y_j dz_j      of 3.7's z_j: dz_j = (1 - (y_j / X)^2) dy_j, by tanh' */

static real score_gain(const Config *c, const Layer *w, idx h, idx seen) {
  return c->gain ? w->cscale[h] * real_log((real)seen) : 1;   /* c_h log(n_i), or none */
}

/* z [n] in place; seen: n_i. y [n] is for the backward, or NULL. What is masked stays, y = 0. */
static void scores_forward(const Config *c, const Layer *w, idx h, idx seen, idx n, real *z,
                           real *y) {
  real gain = score_gain(c, w, h, seen), X = (real)c->soft_cap;
  real shift = w->sbias ? w->sbias[h] : c->shift ? -real_log((real)seen) : 0;
  for (idx j = 0; j < n; j++) {
    bool masked = z[j] == -INFINITY;
    if (X > 0 && !masked) z[j] = (real)(c->soft_cap * tanh((double)z[j] / c->soft_cap));
    if (y) y[j] = masked ? 0 : z[j];
    if (!masked) z[j] = gain * z[j] + shift;
  }
}

/* dz [n] in place, of a row with y [n]; dc_h and df_h, side by side, are added to. */
static void scores_backward(const Config *c, const Layer *w, idx h, idx seen, idx n, real *dz,
                            const real *y, real *dc_df) {
  real gain = score_gain(c, w, h, seen), X = (real)c->soft_cap;
  dc_df[0] += real_log((real)seen) * vec_dot(n, y, dz);   /* dc_h = log(n_i) sum y dz */
  dc_df[1] += vec_sum(n, dz);   /* df_h = sum dz */
  for (idx j = 0; j < n; j++) dz[j] *= gain * (X > 0 ? 1 - y[j] / X * (y[j] / X) : 1);
}

/* ----------
 * 4  The way out of a head
 *
 * The steps below, each by its flag, change the o_i of 3.7 in this order. x [C] is what W_Q reads,
 * u = x W_g [G] for G gates a row (config_gates), g = 1/(1 + e^-u), and e = 1e-8:
 *
 *   --xsa         o <- o - <o, v_i> v_i / (<v_i, v_i> + e)    less its part along its own value
 *   --vbias       o <- o + v+                                 the paper's (3.8)
 *   --v-scale     o <- c o                                    one number a head, 1 at the start
 *   --gate        o <- g o         one g a head, or a dim; static: u is learned, from 0
 *   --head-norm   o <- hnorm o r   RMSNorm (3.2) over D, whatever --norm says
 *
 * --gate value: v <- g v before 3.7, so XSA's v_i is gated, but v* and v+ are not. A head whose
 * weights sum to 1 can add nothing only from a value near 0, a sink's; a gate can close anywhere.
 *
 * BACKWARD, from the last step to the first. A step gets dy; its input o is made again from la->av:
 *   head norm   as 3.2
 *   gate        do = g dy, dg = dy o, summed over dims that share g (value: dv0 = g dv, dg = dv v0)
 *               du = dg g (1 - g)   dW_g += x^T du   dx += du W_g^T   static: du summed over rows
 *   V-scale     do = c dy                dc = sum_i <dy, o>
 *   v+          do = dy                  dv+ = sum_i dy
 *   XSA         y = o - p r v, p = <o, v>, r = 1/(<v, v> + e), dr/dv = -2 r^2 v. With t = <dy, v>
 *               do = dy - t r v          dv = -p r dy - t r o + 2 p t r^2 v */

_Static_assert(GATE_ROWS == 5, "a new gate: config_gates, and all of this section");
/* la->gate [rows,G] from x [rows,C]; --gate value: v [rows,K,D] becomes g v, la->v0 keeps v. */
static void gate_forward(const Model *m, Acts *a, int l, real *v, const real *x, idx rows) {
  const Layer *w = &m->w.layer[l];
  const LayerActs *la = &a->layer[l];
  idx G = config_gates(&m->c);
  if (w->wg) linear_forward(m, la->gate, x, w->wg, NULL, rows, m->c.dim, G);
  PARALLEL
  for (idx n = 0; n < rows; n++) {
    real *g = la->gate + n * G;
    vec_sigmoid(G, g, w->wg ? g : w->gate);   /* g = 1/(1 + e^-u) */
    if (la->v0) copy(la->v0 + n * G, v + n * G, G);
    if (m->c.gate == GATE_VALUE) vec_multiply(G, v + n * G, g);
  }
}

/* dx [rows,C] is added to, from a->dgate [rows,G] or, of --gate value, a->dv, which becomes dv0. */
static void gate_backward(Model *m, Acts *a, int l, real *dx, const real *x, idx rows) {
  const Config *c = &m->c;
  const Layer *w = &m->w.layer[l];
  Layer *d = &m->d.layer[l];
  const LayerActs *la = &a->layer[l];
  idx G = config_gates(c);
  PARALLEL
  for (idx j = 0; j < rows * G; j++) {
    real g = la->gate[j];
    if (la->v0) {   /* v = g v0 */
      a->dgate[j] = a->dv[j] * la->v0[j];
      a->dv[j] *= g;
    }
    a->dgate[j] *= g * (1 - g);   /* g = 1/(1 + e^-u) */
  }
  if (w->wg) linear_backward(dx, true, d->wg, NULL, a->dgate, x, w->wg, rows, c->dim, G);
  for (idx n = 0; w->gate && n < rows; n++) vec_add(G, d->gate, a->dgate + n * G);
}

/* All steps but the head norm on one row av [D] of head h, whose own value is v [D]. o [D], the
 * result, may be av. plain [D] is what V-scale and gate act on. g is [D], [1] or NULL. */
static void leave_row(const Config *c, const Layer *w, idx h, real *o, real *plain, const real *av,
                      const real *v, const real *g) {
  idx D = c->head_dim, each = c->gate == GATE_ELEMENT;
  copy(plain, av, D);
  if (c->xsa) add_times(D, plain, -vec_dot(D, av, v) / (vec_dot(D, v, v) + NORMALIZER_EPS), v);
  if (w->vplus) vec_add(D, plain, w->vplus + h * D);
  real scale = w->vscale ? w->vscale[h] : 1;
  for (idx d = 0; d < D; d++) o[d] = scale * plain[d] * (g ? g[each * d] : 1);
}

/* From la->av to la->o, each [rows,H,D]; v [rows,K,D] is those rows' own. */
static void leave_forward(const Model *m, Acts *a, int l, const real *v, idx rows) {
  const Config *c = &m->c, head = head_norm_of(c, 1);
  const Layer *w = &m->w.layer[l];
  const LayerActs *la = &a->layer[l];
  idx D = c->head_dim, H = c->heads, group = H / c->kv_heads, G = config_gates(c);
  PARALLEL
  for (idx n = 0; n < rows; n++)
    for (idx h = 0; h < H; h++) {
      idx at = (n * H + h) * D;
      real *plain = attention_scratch(a), *o = w->hnorm ? plain + D : la->o + at, stat[2];
      leave_row(c, w, h, o, plain, la->av + at, v + (n * H + h) / group * D,
                config_gates_o(c) ? la->gate + n * G + h * G / H : NULL);
      if (w->hnorm) norm_row(&head, D, la->o + at, stat, o, &(Norm){.g = w->hnorm + h * D});
    }
}

/* a->dout [B,N,H,D] becomes la->av's gradient; a->dv [B,N,K,D], dgate, slots are added to. A task
 * owns the dv of its sequence and key head, and walks down the rows of its heads, one by one. */
static void leave_backward(const Model *m, Acts *a, int l, int B, idx N) {
  const Config *c = &m->c, head = head_norm_of(c, 1);
  const Layer *w = &m->w.layer[l];
  const LayerActs *la = &a->layer[l];
  idx D = c->head_dim, H = c->heads, K = c->kv_heads, group = H / K, G = config_gates(c);
  idx each = c->gate == GATE_ELEMENT;
  PARALLEL
  for (idx task = 0; task < B * K; task++)
    for (idx turn = 0; turn < group * N; turn++) {
      idx b = task / K, h = task % K * group + turn / N, n = b * N + turn % N;
      idx at = (n * H + h) * D, own = (n * K + task % K) * D, gate = n * G + h * G / H;
      const real *av = la->av + at, *v = la->v + own, scale = w->vscale ? w->vscale[h] : 1;
      const real *g = config_gates_o(c) ? la->gate + gate : NULL;
      real *plain = attention_scratch(a), *gated = plain + D, *dgated = gated + D, stat[2];
      real *slot = a->slot + (b * H + h) * slot_size(c), *dvplus = slot + 2 * D;
      real *dhnorm = slot + 3 * D, *dscale = slot + 4 * D + 3;
      real *dy = a->dout + at, *dv = a->dv + own;   /* both go on to 3.7 */
      leave_row(c, w, h, gated, plain, av, v, g);   /* again */
      if (w->hnorm) {   /* o = hnorm gated r */
        const Norm gain = {.g = w->hnorm + h * D};
        norm_row(&head, D, dgated, stat, gated, &gain);   /* for r */
        norm_gains(D, dhnorm, NULL, dy, gated, stat);
        zero(dgated, D);
        norm_row_backward(&head, D, dgated, dy, gated, stat, gain.g);
        copy(dy, dgated, D);
      }
      for (idx d = 0; d < D; d++) {   /* gated = g c plain */
        real g_d = g ? g[each * d] : 1;
        if (g) a->dgate[gate + each * d] += dy[d] * scale * plain[d];
        *dscale += dy[d] * g_d * plain[d];   /* dc = <g dy, o>, o = plain */
        dy[d] *= g_d * scale;   /* do = g c dy */
      }
      vec_add(D, dvplus, dy);   /* plain = .. + v+ */
      if (c->xsa) {   /* .. = av - p r v */
        real p = vec_dot(D, av, v), t = vec_dot(D, dy, v);
        real r = 1 / (vec_dot(D, v, v) + NORMALIZER_EPS);
        add_times(D, dv, -p * r, dy);   /* dv = -p r dy - t r o + 2 p t r^2 v */
        add_times(D, dv, -t * r, av);
        add_times(D, dv, 2 * p * t * r * r, v);
        add_times(D, dy, -t * r, v);   /* do = dy - t r v, over dy */
      }
    }
}

/* Several x* have no form of the authors: their dummy row stands for one. */
static inline int metric_refuses(const Config *c, int rows, Error *e) {
  if (rows != METRIC_PLUS1 || c->sink_token < 2) return 0;
  return fail(e, 2, "--metric-rows plus1: it knows one sink token, and there "
              "are %d. Try: --metric-rows real", c->sink_token);
}

/* ----------
 * 5  Muon   Jordan 2024
 *
 * It steps the matrices of the blocks, each whole as it is stored, heads side by side. AdamW steps
 * all else, at the same lr. A step of w [rows,columns] by its gradient g; M, first 0, is in m1:
 *
 *   M <- 0.95 M + g        G = g + 0.95 M, with the new M (Nesterov)        X = G / (|G| + 1e-7)
 *   five times             X <- a X + b (X X^T) X + c (X X^T)^2 X    a, b, c = 3.4445 -4.775 2.0315
 *   w <- (1 - lr wd) w - 0.2 sqrt(max(rows, columns)) lr X
 *
 * Let X = U S V^T, with the singular values s on S's diagonal. (X X^T) X = U S^3 V^T, (X X^T)^2 X =
 * U S^5 V^T: the vectors stay, and s <- a s + b s^3 + c s^5. |G|, Frobenius's norm, is the root of
 * the sum of the s^2, so every s begins at most at 1. A small s grows by the factor a; near 1 the
 * terms balance: five times bring 0.01 .. 1 between 0.68 and 1.14. That is near U V^T, which has
 * the largest <X, G> of all matrices of singular values up to 1. A rare direction is stepped along
 * as far as a common one.
 *
 * U V^T has min(rows, columns) singular values of 1, so its root mean square is 1/sqrt(max). The
 * factor makes that 0.2 lr (Moonlight, 2502.16982), about AdamW's. */
static const struct Muon { double keep, eps, a, b, c, size; int times; } MUON = {
  0.95, 1e-7, 3.4445, -4.7750, 2.0315, 0.2, 5};

/* Numbers of scratch that its step of x needs: two like the matrix, two squares; 0: AdamW steps
 * here. x NULL: the most that a tensor of m needs. */
static idx muon_room(const Model *m, const Tensor *x) {
  idx most = 0;
  for (int i = 0; !x && i < m->n_tensors; i++)
    if (muon_room(m, &m->tensor[i]) > most) most = muon_room(m, &m->tensor[i]);
  if (!x) return most;
  idx few = at_most(x->shape[0], x->shape[1]);
  return x->layer >= 0 && x->matrix ? 2 * x->count + 2 * few * few : 0;
}

/* z [n] = p x + q y; z may be x or y. */
static void blend(idx n, real *z, double p, const real *x, double q, const real *y) {
  PARALLEL
  for (idx from = 0; from < n; from += CHUNK)
    for (idx j = from; j < from + chunk(n, from); j++) z[j] = (real)p * x[j] + (real)q * y[j];
}

/* One step of w, and of M, each [R,C], by s->shrink times w's gradient g; scratch [muon_room]. */
static void muon_step(const Step *s, idx R, idx C, real *w, const real *g, real *M, real *scratch) {
  idx n = R * C, k = at_most(R, C);
  real *x = scratch, *y = x + n, *A = y + n, *B = A + k * k;   /* [R,C] [R,C] [k,k] [k,k] */
  blend(n, M, MUON.keep, M, s->shrink, g);   /* M <- 0.95 M + g */
  blend(n, x, MUON.keep, M, s->shrink, g);   /* G = g + 0.95 M */
  blend(n, x, 1 / (sqrt(square_sum(n, x)) + MUON.eps), x, 0, x);   /* X = G / (|G| + 1e-7) */
  for (int i = 0; i < MUON.times; i++) {
    /* B = b A + c A A with A = X X^T, or the smaller X^T X, since (X X^T) X = X (X^T X) */
    if (R <= C) matmul(A, k, rows_of(x, C), transpose_of(x, C), k, k, C, false);
    else matmul(A, k, transpose_of(x, C), rows_of(x, C), k, k, R, false);
    matmul(B, k, rows_of(A, k), rows_of(A, k), k, k, k, false);
    blend(k * k, B, MUON.c, B, MUON.b, A);
    /* y = a X + B X, or a X + X B, and is the next X */
    blend(n, y, MUON.a, x, 0, x);
    if (R <= C) matmul(y, C, rows_of(B, k), rows_of(x, C), R, C, k, true);
    else matmul(y, C, rows_of(x, C), rows_of(B, k), R, C, k, true);
    real *next = y;
    y = x;
    x = next;
  }
  blend(n, w, 1 - s->lr * s->wd, w, -MUON.size * sqrt((double)(R > C ? R : C)) * s->lr, x);
}

/* ----------
 * 6  sink dump --all: the gates of each query head. Of values they have all rows, else the T real
 *    ones; of elements and values D numbers each, [L,B,H,rows,D], else one, [L,B,H,rows]. */
static void gates_dump(Dump *d) {
  const Config *c = &d->m->c;
  const bool value = c->gate == GATE_VALUE, each = value || c->gate == GATE_ELEMENT;
  idx L = c->layers, B = d->B, H = c->heads, D = each ? c->head_dim : 1;
  idx own = value ? c->kv_heads : H, rows = value ? d->N : d->T;
  if (!c->gate) return;
  npy_begin(d, "gate", (idx[]){L, B, H, rows, each ? D : 0});
  for (idx i = 0; i < L * B * H * rows; i++) {   /* (l, b, h, n), in that order */
    idx h = i / rows % H, n = (i / rows / H % B + 1) * d->N - rows + i % rows;
    npy_add(d, d->a->layer[i / rows / H / B].gate + (n * own + h / (H / own)) * D, D);
  }
}

static const Beyond BEYOND = {
  .dyt = dyt_forward, .dyt_backward = dyt_backward, .qk_norm = qk_norm_forward,
  .qk_norm_backward = qk_norm_backward, .scores = scores_forward,
  .scores_backward = scores_backward, .gate = gate_forward, .gate_backward = gate_backward,
  .leave = leave_forward, .leave_backward = leave_backward,
  .dump = gates_dump, .muon_room = muon_room, .muon_step = muon_step};
