/* mixers.c - Mamba, experts, and tensors that stay in their file. Chapters 3 to
 * 5 of hf.c.
 *
 * SPDX-License-Identifier: MIT
 */

/* -----------------------------------------------------------------------------
 * 3  The Mamba mixer, forward only  [MAMBA] Gu and Dao 2023; Jamba, Lieber 2024
 *
 * Blocks that the paper's own models lack: this mixer in place of attention,
 * and experts (4) in place of one ffn. Of every 8 blocks of Jamba one attends,
 * and of every 2 one has experts. Block l, from 0:
 *
 *     l        0   1   2   3   4   5   6   7   8
 *     mixer    M   M   M   M   A   M   M   M   M     --attention-period 8
 *                                                    --attention-offset 4
 *     ffn      1   X   1   X   1   X   1   X   1     --expert-period 2
 *                                                    --expert-offset 1
 *                                                    --experts 16
 *
 * Without a period every block is of the one kind. The sink metrics look at
 * attention, so there is always a block that attends: of Jamba's 32 they are
 * blocks 4, 12, 20 and 28.
 *
 * Of the models in Table 8 Jamba alone is not all attention: 28 of its 32
 * blocks mix their rows by a recurrence, without a map of weights. Its sinks
 * are those of the other 4 (Sink_1 88.48 %, Appendix B.3). With u_t [C] the
 * normed row t and I = 2 C channels:
 *
 *   (x, z) = u W_in                 W_in [C,2I]: x the first I columns, z a
 *                                   gate
 *   a_t = silu(b_w + sum_{j=1..J} w_j * x_(t-J+j))
 *                                   J = 4 taps and their bias b_w [I]; the last
 *                                   tap, w_J, meets x_t itself
 *   (r, b, c) = a W_x               W_x [I,R+2M]; each of the three is normed
 *   dt = softplus(r W_dt + b_dt)    W_dt [R,I]: how long the row lasts, above 0
 *   S_t = e^(dt * A) * S_(t-1) + b_t^T (dt * a_t)
 *                                   S [M,I], S_0 = 0; A = -e^A_log [M,I]
 *   y_t = (c_t S_t + skip * a_t) * silu(z_t)
 *                                   skip [I] passes the row itself by
 *   MAMBA(u)_t = y_t W_out          W_out [I,C]
 *
 * Here * is element by element, channel by channel. b and c [M] are shared by
 * all channels; element [m,i] of S has its own rate A_mi < 0 and takes
 * dt_i b_m a_i in. The three norms of r, b and c (RMSNorm with gains and no
 * bias, eps as elsewhere) are Jamba's; plain Mamba has none.
 *
 * It is S' = A * S + b^T a, held at one a for a time dt, to first order in
 * dt.
 * Unrolled, with M = 1 and one channel:
 *
 *   S_t = sum_(s<=t) e^(A (dt_(s+1) + .. + dt_t)) dt_s b_s a_s
 *
 * So row s has the weight c_t b_s dt_s e^(..), as in the linear row of Table 15
 * (identity similarity, Z = 1: <c_t, b_s> as <q, k>) with a decay that the rows
 * between set. Nothing ties the sum of these weights, which is where the paper
 * finds no sink. There are no positions, windows, prefixes or k*.
 *
 * Numerics. softplus(v) = max(v, 0) + log1p(e^-|v|), in double, does not
 * overflow. dt > 0 and A < 0 keep e^(dt A) within 0..1, so S does not grow by
 * itself.
 *
 * A task owns a sequence and CHUNK channels and goes down the rows. S takes
 * [M,I] a sequence. There is no backward: Seams.forward_only says so. */

/* What the mixer makes on its way, one set for all blocks. */
typedef struct MambaActs {
  real *xz;                    /* [B,N,2I] both halves of u W_in */
  real *a;                     /* [B,N,I] what the taps make of x, activated */
  real *p;                     /* [B,N,R+2M] a W_x: r, b, c before norms */
  real *r, *bc;                /* [B,N,R] [B,N,2M] and after them */
  real *dt;                    /* [B,N,I] the step */
  real *y;                     /* [B,N,I] the output before W_out */
  real *rate;                  /* [M,I] -e^A_log */
  real *state;                 /* [B,M,I] S; in the end that of the last row */
} MambaActs;

/* dt_i = softplus(v) of n numbers, in place. */
static void softplus(idx n, real *v) {
  for (idx j = 0; j < n; j++) {
    double x = (double)v[j];
    v[j] = (real)((x > 0 ? x : 0) + log1p(exp(-fabs(x))));
  }
}

/* One row t of n <= CHUNK channels:
 *
 *   S = e^(dt * A) * S + b^T (dt * a)    y = c S + skip * a
 *
 * state, rate [M,I] at the stride I; y, dt, a, skip [n]; b, c [M]. */
WIDE(scan_row,
     (idx n, idx M, idx I, real *restrict state, real *restrict y,
      const real *restrict rate, const real *restrict dt,
      const real *restrict a, const real *restrict skip, const real *restrict b,
      const real *restrict c),
     (n, M, I, state, y, rate, dt, a, skip, b, c)) {
  real fade[CHUNK];
  for (idx j = 0; j < n; j++)
    y[j] = skip[j] * a[j];
  for (idx m = 0; m < M; m++) {
    real *S = state + m * I;
    const real *A = rate + m * I;
    for (idx j = 0; j < n; j++)
      fade[j] = dt[j] * A[j];
    vec_exp(n, fade, fade, 0);
    for (idx j = 0; j < n; j++)
      S[j] = fade[j] * S[j] + dt[j] * a[j] * b[m];
    for (idx j = 0; j < n; j++)
      y[j] += S[j] * c[m];
  }
}

/* a [rows,I] = silu(b_w + sum_j w_j x_(t-J+j)), x in xz [rows,2I], 0 before the
 * first row. taps [J,I]. */
static void taps_forward(real *a, const real *xz, const real *taps,
                         const real *bias, idx rows, idx N, idx I, idx J) {
  PARALLEL
  for (idx n = 0; n < rows; n++)
    for (idx from = 0; from < I; from += CHUNK) {
      idx some = chunk(I, from), t = n % N, first = 0;
      real sum[CHUNK];
      copy(sum, bias + from, some);
      /* tap j, from 0, meets row t - (J-1) + j */
      if (t < J - 1)
        first = J - 1 - t;
      for (idx j = first; j < J; j++) {
        const real *x = xz + (n - (J - 1) + j) * 2 * I + from;
        const real *w = taps + j * I + from;
        for (idx i = 0; i < some; i++)
          sum[i] += w[i] * x[i];
      }
      act_swish(some, sum, a + n * I + from, NULL);
    }
}

/* y [rows,I] from what lies in p, for rows of B sequences of N: the recurrence
 * and the gate. */
static void scan_forward(const MambaActs *p, const Layer *w, idx B, idx N,
                         idx I, idx M) {
  idx blocks = (I + CHUNK - 1) / CHUNK;
  /* A = -e^A_log */
  PARALLEL
  for (idx j = 0; j < M * I; j++)
    p->rate[j] = -real_exp(w->a_log.w[j]);
  PARALLEL
  for (idx task = 0; task < B * blocks; task++) {
    idx b = task / blocks, from = task % blocks * CHUNK;
    idx some = chunk(I, from);
    real *state = p->state + b * M * I + from, gate[CHUNK];
    /* S_0 = 0 */
    for (idx m = 0; m < M; m++)
      zero(state + m * I, some);
    for (idx n = b * N; n < (b + 1) * N; n++) {
      const real *bc = p->bc + n * 2 * M;
      real *y = p->y + n * I + from;
      scan_row(some, M, I, state, y, p->rate + from, p->dt + n * I + from,
               p->a + n * I + from, w->skip.w + from, bc, bc + M);
      /* silu(z) */
      act_swish(some, p->xz + (2 * n + 1) * I + from, gate, NULL);
      vec_multiply(some, y, gate);
    }
  }
}

/* The set lies end to end in Acts.published. */
static MambaActs mamba_acts(const Model *m, const Acts *a, int B, idx N) {
  idx I = m->c.mamba_inner, M = m->c.mamba_state, R = m->c.mamba_rank;
  idx rows = B * N;
  MambaActs p;
  const Room room[] = {
    {&p.xz, rows * 2 * I},
    {&p.a, rows * I},
    {&p.p, rows * (R + 2 * M)},
    {&p.r, rows * R},
    {&p.bc, rows * 2 * M},
    {&p.dt, rows * I},
    {&p.y, rows * I},
    {&p.rate, M * I},
    {&p.state, B * M * I}};
  real *at = a->published;
  for (size_t i = 0; i < sizeof room / sizeof *room; i++) {
    *room[i].at = at;
    at += room[i].n;
  }
  return p;
}

/* y [B,N,C] = MAMBA(u), overwritten; u [B,N,C]. */
static void mamba_forward(const Model *m, Acts *a, int l, real *y,
                          const real *u, int B, idx N) {
  const Config *c = &m->c;
  const Layer *w = &m->layer[l];
  const MambaActs acts = mamba_acts(m, a, B, N), *p = &acts;
  idx I = c->mamba_inner, M = c->mamba_state, R = c->mamba_rank;
  idx rows = B * N, P = R + 2 * M;
  linear_forward(p->xz, u, &w->m_in, rows); /* (x, z) = u W_in */
  taps_forward(p->a, p->xz, w->conv.w, w->conv_b.w, rows, N, I, c->mamba_conv);
  /* (r, b, c) = a W_x, normed */
  linear_forward(p->p, p->a, &w->m_x, rows);
  PARALLEL
  for (idx n = 0; n < rows; n++) {
    const real *from = p->p + n * P;
    real *bc = p->bc + n * 2 * M, stat[2];
    norm_row(R, c->norm_eps, p->r + n * R, stat, from, w->r_norm.g.w, NULL);
    norm_row(M, c->norm_eps, bc, stat, from + R, w->b_norm.g.w, NULL);
    norm_row(M, c->norm_eps, bc + M, stat, from + R + M, w->c_norm.g.w, NULL);
  }
  linear_forward(p->dt, p->r, &w->m_dt, rows); /* dt = softplus(r W_dt + b) */
  PARALLEL
  for (idx n = 0; n < rows; n++)
    softplus(I, p->dt + n * I);
  scan_forward(p, w, B, N, I, M);
  linear_forward(y, p->y, &w->m_out, rows);
}

/* -----------------------------------------------------------------------------
 * 4  Experts, forward only                     [MOE] Shazeer et al. 2017; Jamba
 *
 *   p      = softmax(x W_r)    W_r [C,X]: one number for each of X ffns
 *   MOE(x) = sum over the `top` largest p_e of  p_e FFN_e(x)
 *
 * FFN_e is 3.10 with matrices of its own. The kept p_e are those of the softmax
 * over all X: their sum is below 1 and says how sure the router is (Jamba;
 * Mixtral and gpt-oss divide by the sum, which is a softmax over the kept).
 * With X = 1, p = 1 and MOE is the plain ffn, bit by bit. Of equal p the lower
 * e is taken. Jamba: X = 16, top 2, in every other block.
 *
 * Rows are gathered by expert: each ffn runs over its own rows, and its
 * matrices are read once for all of them, and not at all where no row takes it.
 * A row's sum runs over rising e, whatever rows are beside it. There is no
 * backward: Seams.forward_only says so. */

/* gate [X <= CHUNK]: scores become p_e for the `top` largest and 0 for all
 * others. With `shared` those kept are divided by their sum. One NaN makes NaN
 * of all that are kept. */
static void router_row(idx X, idx top, bool shared, real *gate) {
  real p[CHUNK], most = vec_max(X, gate);
  bool taken[CHUNK] = {false};
  vec_exp(X, p, gate, most);
  vec_scale(X, p, 1 / vec_sum(X, p));
  zero(gate, X);
  for (idx k = 0; k < top; k++) {
    idx best = -1;
    for (idx e = 0; e < X; e++)
      if (!taken[e] && (best < 0 || p[e] > p[best]))
        best = e;
    taken[best] = true;
    gate[best] = p[best];
  }
  if (shared)
    vec_scale(X, gate, 1 / vec_sum(X, gate));
}

static void cut_ffn_forward(const Config *c, const Layer *w, LayerActs *la,
                            real *y, const real *x, idx rows); /* families.c */

/* y [rows,C] = MOE(x), overwritten; x [rows,C]. a->published becomes gate
 * [rows,X], p_e where row n takes expert e, else 0; then an expert's rows, and
 * what it makes of them. f1, f2, fa: scratch. */
static void experts_forward(const Model *m, Acts *a, int l, real *y,
                            const real *x, int B, idx N) {
  const Config *c = &m->c;
  const Layer *w = &m->layer[l];
  idx C = c->dim, X = c->experts, rows = B * N;
  real *gates = a->published, *in = gates + rows * X, *made = in + rows * C;
  const bool cut = if_cut(c);
  linear_forward(gates, x, &w->router, rows);
  PARALLEL
  for (idx n = 0; n < rows; n++)
    router_row(X, c->expert_top, cut, gates + n * X);
  zero(y, rows * C);
  for (idx e = 0; e < X; e++) {
    /* the rows of expert e, in order */
    idx R = 0;
    for (idx n = 0; n < rows; n++)
      if (gates[n * X + e] != 0) {
        copy(in + R * C, x + n * C, C);
        R++;
      }
    if (!R)
      continue;
    if (cut)
      cut_ffn_forward(c, &w->expert[e], &a->layer[l], made, in, R);
    else
      ffn_forward(c, &w->expert[e], &a->layer[l], made, in, R);
    /* y += p_e FFN_e(x) */
    const real *out = made;
    for (idx n = 0; n < rows; n++) {
      real gate = gates[n * X + e], *y_n = y + n * C;
      if (gate == 0)
        continue;
      for (idx ch = 0; ch < C; ch++)
        y_n[ch] += gate * out[ch];
      out += C;
    }
  }
}

/* -----------------------------------------------------------------------------
 * 5  Their room and set-up (their tensors: layers.c), and tensors that stay in
 *    their file */

/* Scratch: of the Mamba mixer or of the experts, which are not at work at the
 * same time. */
static idx parts_room(const Config *c, int B, idx N) {
  idx rows = B * N, I = c->mamba_inner, M = c->mamba_state, R = c->mamba_rank;
  idx mamba = rows * (5 * I + 2 * R + 4 * M) + (1 + B) * M * I;
  idx experts = 0;
  if (config_attending(c) == c->layers)
    mamba = 0;
  if (c->experts)
    experts = rows * (c->experts + 2 * c->dim);
  return mamba > experts ? mamba : experts;
}

/* Slabs of 256 rows, or a multiple, leave the order of a sum as it is (the
 * multiply's blocks of k), so a model has the same bits from its file as in
 * memory. No rows, no reading. */
static void stored_product(const Tensor *W, bool transposed, real *y,
                           const real *x, idx rows) {
  idx in = W->rows, out = W->cols;
  if (!rows)
    return;
  if (transposed) {
    in = W->cols;
    out = W->rows;
  }
  for (Slab s = {0}; stored_slab(W, transposed, &s);)
    matmul(y + s.out0, out, (Matrix){x + s.in0, in, 1}, s.w, rows, s.n_out,
           s.n_in, s.in0 > 0);
}

/* Columns v0 .. v0+n-1 of a row of logits, y [n], of which `target` may be one:
 * adds them to the row's sums at[0], the largest logit, and at[1] = sum_v
 * e^(y_v - that), and *loss = -y_target. */
static void cross_entropy_part(idx v0, idx n, real *y, idx target, double at[2],
                               double *loss) {
  real most = vec_max(n, y);
  /* y is overwritten */
  if (target >= v0 && target < v0 + n)
    *loss = -(double)y[target - v0];
  if ((double)most > at[0]) {
    /* NaN stays NaN */
    if (at[1] != 0)
      at[1] *= exp(at[0] - (double)most);
    at[0] = (double)most;
  }
  vec_exp(n, y, y, (real)at[0]);
  at[1] += (double)vec_sum(n, y);
}

/* model_loss by slabs of W_cls of all E rows: the whole batch meets one before
 * the next is read. */
static bool stored_loss(const Model *m, Acts *a, const int *targets, int B,
                        int T, double *mean) {
  const Config *c = &m->c;
  const Tensor *cls = c->tied ? &m->wte : &m->wcls;
  if (!cls->product)
    return false;
  idx C = c->dim, E = c->embed_dim, N = config_rows(c, T), from = 0;
  if (c->prefix > 1)
    from = c->prefix - 1;
  idx per = T - at_most(from, T), count = B * per;
  double (*sums)[2] = grab((idx)B * T, sizeof *sums, &m->file->fault);
  double total = 0;
  *mean = NAN;
  if (!sums)
    return true;
  for (idx i = 0; i < B * T; i++)
    sums[i][0] = -INFINITY;
  for (Slab w = {0}; stored_slab(cls, c->tied, &w);)
    for (idx s0 = 0; s0 < count; s0 += SLICE) {
      idx R = at_most(count - s0, SLICE), V = w.n_out;
      const real *in = a->slice;
      for (idx r = 0; r < R; r++) {
        idx b = (s0 + r) / per, t = from + (s0 + r) % per;
        copy(a->slice + r * C, a->nf + (b * N + (N - T + t)) * C, C);
      }
      if (E != C) {
        linear_forward(a->outp, a->slice, &m->wout, R);
        in = a->outp;
      }
      matmul(a->logits, V, rows_of(in, E), w.w, R, V, E, false);
      cap_logits(c, R * V, a->logits);
      PARALLEL
      for (idx r = 0; r < R; r++) {
        idx at = (s0 + r) / per * T + from + (s0 + r) % per;
        cross_entropy_part(w.out0, V, a->logits + r * V, targets[at], sums[at],
                           &a->loss_row[at]);
      }
    }
  for (idx b = 0; b < B; b++)
    for (idx t = from; t < T; t++) {
      double *loss = &a->loss_row[b * T + t], *sum = sums[b * T + t];
      *loss = log(sum[1]) + sum[0] + *loss;
      total += *loss;
    }
  free(sums);
  *mean = count ? total / (double)count : 0;
  return true;
}

static int stored_fault(const Model *m, Error *e) {
  const Error *fault = m->file ? &m->file->fault : NULL;
  if (!fault || !fault->status)
    return 0;
  return fail(e, fault->status, "%s", fault->text);
}

static void parts_close(Model *m) {
  model_file_close(m->file);
  for (int l = 0; m->layer && l < m->c.layers; l++)
    free(m->layer[l].expert);
}

/* Arrays that these parts need beside sink.c's; none of them is a layer's. */
static void models_room(const Model *m, Acts *a, LayerActs *la, bool keeps) {
  const Config *c = &m->c;
  idx narrow = 0, local = 0, capped = 0;
  if (la)
    return;
  if (c->embed_dim != c->dim)
    narrow = c->embed_dim;
  if (c->rope_local > 0 && c->pos == POS_ROTARY)
    local = a->N * (c->rotary_dims / 2);
  if (keeps && c->logit_cap > 0)
    capped = (idx)SLICE * c->vocab;
  const Room room[] = {
    {&a->embed, (idx)a->B * a->T * narrow},
    {&a->published, parts_room(c, a->B, a->N)},
    {&a->outp, SLICE * narrow},
    {&a->doutp, keeps ? SLICE * narrow : 0},
    {&a->local_cosine, local},
    {&a->local_sine, local},
    {&a->capped, capped}, {0}};
  arena_take(a, room);
}

/* Puts these parts into the seams of a model that has them. */
static int models_setup(Model *m, Error *e) {
  const Config *c = &m->c;
  Seams *s = &m->seams;
  s->tensor_room = 6 * c->experts;
  m->embed = c->embed_dim;
  for (int l = 0; l < c->layers; l++) {
    Layer *w = &m->layer[l];
    w->window = config_window(c, l);
    w->root = score_scale(c, l);
    if (!config_attends(c, l))
      w->mix = mamba_forward;
    if (!config_experts(c, l))
      continue;
    s->forward_only = "--experts";
    w->feed = experts_forward;
    w->expert = grab(c->experts, sizeof(Layer), e);
    for (int x = 0; w->expert && x < c->experts; x++)
      w->expert[x].feed = feed_forward;
  }
  if (if_long(c))
    s->forward_only = "--rope-scaling longrope";
  if (config_attending(c) < c->layers)
    s->forward_only = "--attention-period, the Mamba mixer";
  if (c->embed_dim != c->dim || c->embed_scale > 0) {
    s->embed = models_embed;
    s->embed_backward = models_embed_backward;
  }
  if (c->embed_dim != c->dim || c->logit_cap > 0) {
    s->logits = models_logits;
    s->logits_backward = models_logits_backward;
  }
  if (c->rope_scaling != ROPE_NONE || c->rope_local > 0)
    s->tables = models_tables;
  s->close = parts_close;
  return e->status;
}
