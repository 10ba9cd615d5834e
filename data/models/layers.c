/* layers.c - what published decoders have besides the paper's, with a backward
 * where the paper's part has one: stretched angles, windows in some layers,
 * biases in some maps, narrow or scaled embeddings, capped logits.
 *
 * SPDX-License-Identifier: MIT
 *
 * Part of hf.c. Each part is a value that set-up fills in (a window, a table of
 * angles), or a seam of sink.c (sink.h, Seams). */

/* --- Values by layer ------------------------------------------------------ */

/* The window of layer l, from 0, or 0 where it sees all. One layer in each
 * period has it, at the offset, or (window_others) all but that. */
static int config_window(const Config *c, int l) {
  bool named = !c->window_period || l % c->window_period == c->window_offset;
  return named != c->window_others ? c->window : 0;
}

/* Does block l, from 0, attend? */
static bool config_attends(const Config *c, int l) {
  return !c->attention_period || l % c->attention_period == c->attention_offset;
}

/* How many blocks do? */
static int config_attending(const Config *c) {
  int n = 0;
  for (int l = 0; l < c->layers; l++)
    n += config_attends(c, l);
  return n;
}

/* How many experts has block l? */
static int config_experts(const Config *c, int l) {
  bool has_some = !c->expert_period || l % c->expert_period == c->expert_offset;
  return has_some ? c->experts : 0;
}

static bool if_long(const Config *c) {
  return c->rope_scaling == ROPE_LONGROPE;
}

/* Are the experts gpt-oss's, which cut f1 and f2 off? */
static bool if_cut(const Config *c) {
  return c->expert_limit > 0 && config_gated(c);
}

/* Does layer l turn by --rope-local, as Gemma 3's layers with a window do? */
static bool rope_is_local(const Config *c, int l) {
  return c->rope_local > 0 && config_window(c, l);
}

/* What scores of block l are multiplied by: 1/sqrt(D), or 1/sqrt of
 * --score-divisor, which Gemma and YaRN set. Layers that turn by --rope-local do
 * without YaRN's. With --score-by-layer it is also divided by l + 1: the deeper
 * a block, the evener its rows begin. */
static real score_scale(const Config *c, int l) {
  bool local = c->rope_scaling == ROPE_YARN && rope_is_local(c, l);
  double divisor = c->head_dim;
  if (c->score_divisor > 0 && !local)
    divisor = c->score_divisor;
  double scale = 1 / sqrt(divisor);
  if (c->score_by_layer)
    scale /= l + 1;
  return (real)scale;
}

/* --- Angles --------------------------------------------------------------- */

/* w of a pair, in radians a position. ROPE_LINEAR divides all by a factor;
 * Llama 3.1 and YaRN divide pairs with fewer than `low` turns in the original
 * context, keep those above `high`, and blend between. LongRoPE's angles:
 * families.c. */
static double rope_frequency(const Config *c, int pair) {
  double w = pow(c->rope_base, -2.0 * pair / c->rotary_dims);
  if (c->rope_scaling == ROPE_NONE)
    return w;
  if (c->rope_scaling == ROPE_LINEAR)
    return w / c->rope_factor;
  /* in the original context */
  double turns = c->rope_original * w / (2 * PI);
  double kept = (turns - c->rope_low) / (c->rope_high - c->rope_low);
  /* it blends by the logarithm of them */
  if (c->rope_scaling == ROPE_YARN)
    kept = log(turns / c->rope_low) / log(c->rope_high / c->rope_low);
  kept = fmin(fmax(kept, 0), 1); /* 0: divided, 1: w */
  return w * (kept + (1 - kept) / c->rope_factor);
}

static void long_tabulate(const Model *m, Acts *a, idx N); /* families.c */

/* The tables, once; LongRoPE's change with the rows that a forward has. */
static void models_tables(const Model *m, Acts *a, idx N) {
  const Config *c = &m->c;
  idx half = c->rotary_dims / 2;
  for (idx n = 0; !a->tabled && a->cosine && n < a->N; n++)
    for (idx p = 0; p < half; p++) {
      real angle = (real)n * (real)rope_frequency(c, (int)p);
      a->cosine[n * half + p] = (real)cos(angle);
      a->sine[n * half + p] = (real)sin(angle);
      if (!a->local_cosine)
        continue;
      double w = pow(c->rope_local, -2.0 * (double)p / c->rotary_dims);
      angle = (real)n * (real)w;
      a->local_cosine[n * half + p] = (real)cos(angle);
      a->local_sine[n * half + p] = (real)sin(angle);
    }
  for (int l = 0; !a->tabled && l < c->layers; l++)
    if (rope_is_local(c, l)) {
      a->layer[l].cosine = a->local_cosine;
      a->layer[l].sine = a->local_sine;
    }
  a->tabled = true;
  if (if_long(c) && a->cosine)
    long_tabulate(m, a, N);
}

/* --- Embedding and unembedding -------------------------------------------- */

/* A row of a matrix that stays in its file: stored.c. */
static void stored_row(const Tensor *t, idx row, real *to);

/* rows [T,C] = f wte[id] (W_in), with f of --embed-scale. a->embed [B,T,E]
 * keeps the rows of wte for dW_in. */
static void models_embed(const Model *m, Acts *a, const int *ids, int T,
                         real *rows) {
  const Config *c = &m->c;
  idx C = c->dim, E = c->embed_dim, N = forward_rows(c, a, T);
  idx b = (rows - a->h0) / (N * C);
  real *e = E == C ? rows : a->embed + b * T * E;
  for (int t = 0; t < T; t++) {
    if (m->wte.w)
      copy(e + t * E, m->wte.w + ids[t] * E, E);
    else
      stored_row(&m->wte, ids[t], e + t * E);
  }
  if (c->embed_scale > 0)
    vec_scale(T * E, e, (real)c->embed_scale);
  if (E != C)
    linear_forward(rows, e, &m->win, T);
}

/* h = e W_in, e = f wte[id]:
 *
 *   dW_in += e^T dh    de = dh W_in^T    dwte[id] += f de */
static void models_embed_backward(Model *m, Acts *a, const int *ids, int B,
                                  int T, const real *dh) {
  const Config *c = &m->c;
  idx C = c->dim, E = c->embed_dim, N = config_rows(c, T), first = N - T;
  real f = c->embed_scale > 0 ? (real)c->embed_scale : 1;
  for (idx b = 0; E != C && b < B; b++) {
    const real *drows = dh + (b * N + first) * C;
    real *e = a->embed + b * T * E; /* [T,E], and de over it */
    matmul(m->win.d, C, transpose_of(e, E), rows_of(drows, C), E, C, T, true);
    matmul(e, E, rows_of(drows, C), transpose_of(m->win.w, C), T, E, C, false);
  }
  PARALLEL
  for (idx block = 0; block < E; block += CHANNELS)
    for (idx b = 0; b < B; b++)
      for (idx t = 0; t < T; t++) {
        const real *de = dh + (b * N + first + t) * C;
        real *to = m->wte.d + ids[b * T + t] * E;
        if (E != C)
          de = a->embed + (b * T + t) * E;
        for (idx ch = block; ch < block + CHANNELS && ch < E; ch++)
          to[ch] += f * de[ch];
      }
}

/* y [n] <- X tanh(y / X), where logits have a cap X, as Gemma 2's. */
static void cap_logits(const Config *c, idx n, real *y) {
  if (!(c->logit_cap > 0))
    return;
  PARALLEL
  for (idx i = 0; i < n; i++)
    y[i] = (real)(c->logit_cap * tanh((double)y[i] / c->logit_cap));
}

/* y = X tanh(in W_cls / X), in = nf (W_out) [R,E], which a->outp keeps. */
static void models_logits(const Model *m, Acts *a, const real *rows, idx R,
                          real *logits) {
  const Config *c = &m->c;
  idx C = c->dim, E = c->embed_dim, V = c->vocab;
  const Tensor *W = c->tied ? &m->wte : &m->wcls;
  Matrix w = rows_of(W->w, V);
  const real *in = rows;
  if (c->tied)
    w = transpose_of(W->w, E);
  if (E != C) {
    linear_forward(a->outp, rows, &m->wout, R);
    in = a->outp;
  }
  if (W->product)
    W->product(W, c->tied, logits, in, R);
  else
    matmul(logits, V, rows_of(in, E), w, R, V, E, false);
  cap_logits(c, R * V, logits);
  if (a->capped && logits == a->logits)
    copy(a->capped, logits, R * V);
}

/* From dy [R,V] in a->logits to a->dslice [R,C]. */
static void models_logits_backward(Model *m, Acts *a, idx R) {
  const Config *c = &m->c;
  idx C = c->dim, E = c->embed_dim, V = c->vocab;
  const real *in = a->slice;
  real *din = a->dslice, X = (real)c->logit_cap;
  Matrix dy = rows_of(a->logits, V);
  if (E != C) {
    in = a->outp;
    din = a->doutp;
  }
  /* y = X tanh(z / X):  dz = dy (1 - (y / X)^2) */
  for (idx i = 0; a->capped && i < R * V; i++)
    a->logits[i] *= 1 - a->capped[i] / X * (a->capped[i] / X);
  /* z = in W_cls */
  if (c->tied) {
    matmul(din, E, dy, rows_of(m->wte.w, E), R, E, V, false);
    matmul(m->wte.d, E, transpose_of(a->logits, V), rows_of(in, E), V, E, R,
           true);
  } else {
    linear_backward(din, false, a->logits, in, &m->wcls, R);
  }
  /* in = nf W_out */
  if (E != C)
    linear_backward(a->dslice, false, a->doutp, a->slice, &m->wout, R);
}

/* --- Which rows fit, which tensors there are ------------------------------ */

/* A flag of 0 gets its value by default. */
static void default_to(int *flag, int value) {
  if (!*flag)
    *flag = value;
}

static int models_resolve(Config *c, Error *e) {
  int period = c->attention_period;
  int attending = (int)at_most(period, c->layers);
  bool blends = c->rope_scaling == ROPE_LLAMA3 ||
                c->rope_scaling == ROPE_YARN;
  bool falls = !(c->rope_high > c->rope_low);
  default_to(&c->embed_dim, c->dim);
  /* as Mamba's authors have it */
  if (period) {
    default_to(&c->mamba_inner, 2 * c->dim);
    default_to(&c->mamba_state, 16);
    default_to(&c->mamba_conv, 4);
    default_to(&c->mamba_rank, (c->dim + 15) / 16);
  }
  if (c->experts)
    default_to(&c->expert_top, (int)at_most(c->experts, 2));
  if (c->expert_limit > 0 && c->act != ACT_SWIGLU)
    return fail(e, 2, "--expert-limit: gpt-oss's experts have an activation of "
                "their own. Try: without --act");
  if (blends && (falls || (c->rope_scaling == ROPE_YARN && !(c->rope_low > 0))))
    return fail(e, 2,
                "--rope-high must be above --rope-low, and that, with yarn, "
                "above 0. Try: --rope-low 1 --rope-high 4");
  if (c->window_period && c->window_offset >= c->window_period)
    return fail(e, 2, "--window-offset %d: no such block. Try: at most %d",
                c->window_offset, c->window_period - 1);
  if (period && c->attention_offset >= attending)
    return fail(e, 2,
                "--attention-offset %d: no block would attend. Try: at most "
                "%d",
                c->attention_offset, attending - 1);
  if (c->expert_period && c->expert_offset >= c->expert_period)
    return fail(e, 2, "--expert-offset %d: no such block. Try: at most %d",
                c->expert_offset, c->expert_period - 1);
  if (c->experts && c->expert_top > c->experts)
    return fail(e, 2, "--expert-top %d exceeds --experts %d. Try: fewer",
                c->expert_top, c->experts);
  return 0;
}

static bool one_of(const char *name, const char *const *list) {
  for (; *list; list++)
    if (!strcmp(name, *list))
      return true;
  return false;
}

/* Which of the paper's tensors a block lacks: biases, by --bias-in. */
static bool models_lacks(const Model *m, int l, const char *name) {
  static const char *const FFN[] = {"b1", "b2", "b3", NULL};
  static const char *const QKV[] = {"bq", "bk", "bv", NULL};
  const Config *c = &m->c;
  (void)l;
  if (one_of(name, FFN))
    return c->bias_in == BIAS_QKV || c->bias_in == BIAS_ATTENTION;
  if (one_of(name, QKV))
    return c->bias_in == BIAS_FFN;
  return !strcmp(name, "bo") &&
         (c->bias_in == BIAS_QKV || c->bias_in == BIAS_FFN);
}

/* "l0.e3.w1" and so on. */
static void expert_tensors(Model *m, int l) {
  const Config *c = &m->c;
  Layer *w = &m->layer[l];
  int X = config_experts(c, l);
  if (!X)
    return;
  list(m, &w->router, true, "router", l, c->dim, X, INITIAL_LINEAR);
  if (if_cut(c))
    list(m, &w->router_b, true, "router.b", l, X, 0, INITIAL_ZERO);
  w->router.bias = &w->router_b;
  for (int x = 0; x < X; x++) {
    int first = m->n_tensors;
    list_ffn(m, &w->expert[x], l);
    for (int i = first; i < m->n_tensors; i++) {
      Tensor *t = m->all[i];
      char own[sizeof t->name], all[2 * sizeof t->name];
      snprintf(own, sizeof own, "%s", strchr(t->name, '.') + 1);
      snprintf(all, sizeof all, "l%d.e%d.%s", l, x, own);
      snprintf(t->name, sizeof t->name, "%.31s", all);
    }
  }
}

static void mamba_tensors(Model *m, int l) {
  const Config *c = &m->c;
  Layer *w = &m->layer[l];
  int C = c->dim, I = c->mamba_inner, M = c->mamba_state, R = c->mamba_rank;
  list(m, &w->m_in, true, "m.in", l, C, 2 * I, INITIAL_LINEAR);
  list(m, &w->conv, true, "m.conv", l, c->mamba_conv, I, INITIAL_LINEAR);
  w->conv.matrix = false;
  list(m, &w->conv_b, true, "m.conv.b", l, I, 0, INITIAL_ZERO);
  list(m, &w->m_x, true, "m.x", l, I, R + 2 * M, INITIAL_LINEAR);
  list(m, &w->r_norm.g, true, "m.rnorm", l, R, 0, INITIAL_ONE);
  list(m, &w->b_norm.g, true, "m.bnorm", l, M, 0, INITIAL_ONE);
  list(m, &w->c_norm.g, true, "m.cnorm", l, M, 0, INITIAL_ONE);
  list(m, &w->m_dt, true, "m.dt", l, R, I, INITIAL_LINEAR);
  list(m, &w->dt_b, true, "m.dt.b", l, I, 0, INITIAL_ZERO);
  w->m_dt.bias = &w->dt_b;
  list(m, &w->a_log, true, "m.alog", l, M, I, INITIAL_ZERO);
  list(m, &w->skip, true, "m.skip", l, I, 0, INITIAL_ONE);
  list(m, &w->m_out, true, "m.out", l, I, C, INITIAL_OUT);
}

static void models_tensors(Model *m, int l, const Tensor *after) {
  const Config *c = &m->c;
  int C = c->dim, E = c->embed_dim;
  if (E != C && after == &m->wte)
    list(m, &m->win, true, "win", -1, E, C, INITIAL_LINEAR);
  if (E != C && after == &m->normf.b)
    list(m, &m->wout, true, "wout", -1, C, E, INITIAL_LINEAR);
  if (l < 0)
    return;
  Layer *w = &m->layer[l];
  if (after == &w->norm1.b && !l && if_long(c))
    list(m, &m->layer[0].factors, true, "rope", 0, c->rotary_dims, 0,
         INITIAL_ONE);
  if (after == &w->norm1.b && !config_attends(c, l))
    mamba_tensors(m, l);
  if (after == &w->norm2.b)
    expert_tensors(m, l);
}
