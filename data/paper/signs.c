/* signs.c - signs of a sink beside Sink and alpha, what rounding costs, a cache
 * that forgets.
 *
 * SPDX-License-Identifier: MIT
 *
 * Part of pages.c, which includes it. Why anyone cares about sinks: they come
 * with massive activations, which are dear to round (Bondarenko et al.
 * 2306.12929), and a model that has one breaks when its key is dropped from the
 * cache (StreamingLLM, 2309.17453).
 *
 * Contents   1 One row, one head, one stream   2 eval --signs
 *            3 eval --quantize   4 A cache that forgets   5 Its policies
 *            6 stream MODEL
 */

/* -----------------------------------------------------------------------------
 * 1  One row, one head, one stream. A NaN that comes in comes out: it is above
 *    no threshold, and would pass for a small number.
 */

/* Raw mass of a row: sum_j |w_j| over its keys, w [n] with the scale, without
 * *: 1 under a plain softmax. A row below 0.1 is off: how it shares out next to
 * nothing does not matter. */
static double row_mass(idx n, const real *w) {
  double sum = 0;
  for (idx j = 0; j < n; j++)
    sum += fabs((double)w[j]);
  return sum;
}

/* H / log k of a row m [n] that sees k columns, H the entropy that eval prints
 * in nats (chapter 6), H = -sum_j p_j log p_j, p = m / sum m: 0 on one column,
 * 1 when even; training drives it down (Varre et al. 2603.06248). -1 where
 * there is nothing to tell: one column, or no mass. */
static double row_entropy(idx n, const real *m, idx k) {
  double sum = row_mass(n, m), H = 0;
  if (k < 2 || sum == 0)
    return isnan(sum) ? NAN : -1;
  for (idx j = 0; j < n; j++)
    if (m[j] != 0)
      H -= fabs((double)m[j]) / sum * log(fabs((double)m[j]) / sum);
  return H / log((double)k);
}

/* 1 where column `at` of m [n] is larger than every other, else 0; so a tie is
 * 0. Kaul et al. (2410.17174) count the queries and heads whose largest weight
 * is token 1's. */
static double row_top(idx n, const real *m, idx at) {
  double top = isnan((double)m[at]) ? NAN : 1;
  for (idx j = 0; j < n; j++)
    if (isnan((double)m[j]))
      top = NAN;
    else if (j != at && m[j] >= m[at] && top > 0)
      top = 0;
  return top;
}

/* 1 for a head of D dims that is dead (softpick, 2504.20966): max |o| < 1e-6 on
 * 95 % of its T tokens, whose rows of o lie `row` numbers apart. */
static double head_dead(idx T, idx D, const real *o, idx row) {
  idx still = 0;
  for (idx i = 0; i < T; i++) {
    double most = 0;
    for (idx d = 0; d < D; d++)
      most = larger(most, fabs((double)o[i * row + d]));
    if (isnan(most))
      return NAN;
    still += most < 1e-6;
  }
  return (double)still >= 0.95 * (double)T;
}

/* Kurtosis of x [n]: mean (x - mu)^4 over the variance squared. 3 for a normal,
 * larger the fewer numbers are far out (Bondarenko et al. 2306.12929,
 * softpick's Table 3). NaN when all numbers are equal. */
static double kurtosis(idx n, const real *x) {
  double mu = 0, two = 0, four = 0;
  for (idx j = 0; j < n; j++)
    mu += (double)x[j];
  mu /= (double)n;
  for (idx j = 0; j < n; j++) {
    double square = ((double)x[j] - mu) * ((double)x[j] - mu);
    two += square / (double)n;
    four += square * square / (double)n;
  }
  return two > 0 ? four / (two * two) : NAN;
}

/* That of the channels of h [rows,C] (He et al. 2405.19279): mean s^2
 * over (mean s)^2, s_c = mean_n h_nc^2. 1 where all are alike, C
 * where one has everything. */
static double channel_kurtosis(idx rows, idx C, const real *h) {
  double one = 0, two = 0;
  for (idx c = 0; c < C; c++) {
    double s = 0;
    for (idx n = 0; n < rows; n++)
      s += (double)h[n * C + c] * (double)h[n * C + c] / (double)rows;
    one += s / (double)C;
    two += s * s / (double)C;
  }
  return one > 0 ? two / (one * one) : NAN;
}

/* Largest over median |x| (Sun et al. 2402.17762, without the least size that
 * small models never reach), for x [n], which is spent. Of an even n the median
 * is the upper of the middle two. */
static double peak(idx n, real *x) {
  for (idx j = 0; j < n; j++) {
    if (isnan((double)x[j]))
      return NAN;
    x[j] = real_abs(x[j]);
  }
  qsort(x, (size_t)n, sizeof(real), by_size);
  return x[n / 2] > 0 ? (double)x[n - 1] / (double)x[n / 2] : NAN;
}

/* -----------------------------------------------------------------------------
 * 2  eval --signs
 *
 * By block, and for the model: of shares the mean over the blocks that attend;
 * of ratios and kurtoses the largest; of the value drain the least. Sequences
 * weigh alike.
 *
 *   value      |v| of the first row over the others' mean: a sink drains it
 *              (Guo et al. 2410.13835)
 *   norm       the same of |h| behind the block: sinks_ratio (6)
 *   gradient   the same of the gradient that reaches MHSA's input through
 *              MHSA (all of it under pre-norm), of a sequence's mean loss: the
 *              gradient sink (2603.17771)
 *
 * The first row is x*'s where there is one; Sink_1, alpha_1 and top-1 are of
 * token 1.
 */

/* From G_NORM on, all blocks have them; before it, those that attend. */
enum {
  G_SINK, G_ALPHA, G_MASS, G_OFF, G_ENTROPY, G_TOP, G_DEAD, G_VALUE, G_GRADIENT,
  G_NORM, G_KURTOSIS, G_CHANNELS, G_PEAK, SIGNS_ALL
};
static const Column SIGNS_COLUMNS[SIGNS_ALL] = {
  {"sink_1", "Sink_1", "%.1f%%", 6, 100},
  {"alpha_1", "alpha_1", "%.3f", 7, 1},
  {"mass", "row\nmass", "%.2f", 5, 1},
  {"off", "rows\n< 0.1", "%.0f%%", 5, 100},
  {"entropy", "entropy\n/log i", "%.3f", 7, 1},
  {"top_1", "top-1\nshare", "%.0f%%", 5, 100},
  {"dead", "heads\ndead", "%.0f%%", 5, 100},
  {"value", "value\ndrain", "%.2f", 5, 1},
  {"gradient", "gradient\nratio", "%.2f", 8, 1},
  {"norm", "norm\nratio", "%.2f", 6, 1},
  {"kurtosis", "kurtosis", "%.1f", 8, 1},
  {"channels", "channels'", "%.2f", 9, 1},
  {"peak", "largest\n/median", "%.1f", 7, 1}};

typedef struct Signs {
  Acts a;                      /* the first: signs_after finds the rest by it */
  const Model *m;
  const Config *c;
  int n, T, L;
  idx N;
  double (*x)[SIGNS_ALL];      /* [L+1], the last one the model's */
  double (*count)[SIGNS_ALL];  /* [L] of what in x */
  double *gradient;            /* [L,N] |dL/dx_n|, sums over sequences */
  real *spare, *maps;          /* [N,C]; [2,H,N,S] */
  char why[200];               /* why there is no gradient, or "" */
} Signs;

static void signs_free(Signs *g) {
  acts_free(&g->a);
  free(g->x);
  free(g->gradient);
  free(g->spare);
  free(g->maps);
  *g = (Signs){0};
}

static void signs_add(Signs *g, int l, int k, double x) {
  g->x[l][k] += x;
  g->count[l][k]++;
}

/* What head h of block l shows: maps w (weights) and m [N,S]. */
static void signs_head(Signs *g, int l, int h, const real *w, const real *m) {
  const Config *c = g->c;
  const idx N = g->N, first = N - g->T, S = config_columns(c, g->T);
  const idx D = c->head_dim;
  for (idx i = first; i < N; i++) {
    /* * is visible to every row */
    idx seen = keys_seen(c, g->m->layer[l].window, N, i) + S - N;
    double mass = row_mass(N, w + i * S + S - N);
    double off = isnan(mass) ? NAN : mass < 0.1;
    double entropy = row_entropy(S, m + i * S, seen);
    signs_add(g, l, G_MASS, mass);
    signs_add(g, l, G_OFF, off);
    if (entropy != -1)
      signs_add(g, l, G_ENTROPY, entropy);
    if (i > first)   /* token 1 has no choice */
      signs_add(g, l, G_TOP, row_top(S, m + i * S, S - g->T));
  }
  const real *o = g->a.layer[l].o + (first * c->heads + h) * D;
  signs_add(g, l, G_DEAD, head_dead(g->T, D, o, c->heads * D));
}

/* Behind block l, while its activations are there. */
static void signs_block(Signs *g, int l) {
  const idx n = g->N * g->c->dim, H = g->c->heads;
  const idx map = g->N * config_columns(g->c, g->T);
  for (int h = 0; block_attends(g->m, l) && h < H; h++)
    signs_head(g, l, h, g->maps + h * map, g->maps + (H + h) * map);
  signs_add(g, l, G_KURTOSIS, kurtosis(n, g->a.h));
  signs_add(g, l, G_CHANNELS, channel_kurtosis(g->N, g->c->dim, g->a.h));
  copy(g->spare, g->a.h, n);
  signs_add(g, l, G_PEAK, peak(n, g->spare));
}

/* Acts.after: the norms of the rows of dL/dx. */
static void signs_after(const Acts *a, int l, int B, idx N) {
  const Signs *g = (const Signs *)(const void *)a;
  for (idx i = 0; i < B * N; i++)
    g->gradient[l * N + i % N] += length(g->c->dim, a->dn + i * g->c->dim);
}

/* Sums to means; what evaluate has by block; the model's. */
static void signs_finish(Signs *g, const Sinks *s) {
  const int first = config_column_first(g->c);
  double *model = g->x[g->L];
  for (int k = 0; k < SIGNS_ALL; k++)
    model[k] = k < G_VALUE ? 0 : -INFINITY;
  model[G_VALUE] = INFINITY;
  for (int l = 0; l < g->L; l++) {
    const bool heads = s->attends[l];
    double *x = g->x[l];
    for (int lh = l * s->H; lh < (l + 1) * s->H; lh++) {
      signs_add(g, l, G_ALPHA, s->alpha[lh * s->S + first]);
      signs_add(g, l, G_SINK, s->over[lh * s->S + first]);
    }
    for (int k = 0; k < SIGNS_ALL; k++)
      x[k] = g->count[l][k] > 0 ? x[k] / g->count[l][k] : NAN;
    x[G_VALUE] = norm_ratio(s->vnorm + l * s->N, s->N);
    x[G_NORM] = norm_ratio(s->hnorm + (l + 1) * s->N, s->N);
    if (!g->why[0])
      x[G_GRADIENT] = norm_ratio(g->gradient + l * g->N, g->N);
    for (int k = 0; k < SIGNS_ALL; k++)
      if (k < G_NORM && !heads)
        x[k] = NAN;
      else if (k < G_VALUE)
        model[k] += x[k] * s->H / s->heads;
      else if (k == G_VALUE)
        model[k] = smaller(model[k], x[k]);
      else
        model[k] = larger(model[k], x[k]);
  }
}

/* Room for a sequence, and whether the model can have the gradient. */
static int signs_room(Signs *g, Model *m, const Settings *s, int T, Error *e) {
  const Config *c = &m->c;
  const idx N = config_rows(c, T);
  *g = (Signs){.m = m, .c = c, .T = T, .L = c->layers, .N = N};
  if (m->seams.forward_only)
    snprintf(g->why, sizeof g->why, "%s: forward only", m->seams.forward_only);
  else if (s->input != INPUT_NATURAL)
    snprintf(g->why, sizeof g->why, "only natural input has a loss");
  g->x = grab(2 * c->layers + 1, sizeof *g->x, e);
  g->gradient = grab(c->layers * N, sizeof(double), e);
  g->spare = grab(N * c->dim, sizeof(real), e);
  g->maps = grab(2 * c->heads * N * config_columns(c, T), sizeof(real), e);
  if (!e->status && !g->why[0] && !m->grads)
    model_grads(m, e);
  if (!e->status)
    acts_create(&g->a, m, 1, T, ACTS_ALL, e);
  if (g->x)
    g->count = g->x + c->layers + 1;
  return e->status;
}

/* The signs in n sequences of T tokens: signs_free must follow. */
static int signs(Signs *g, Model *m, const Data *d, const Settings *s, int n,
                 int T, Error *e) {
  Sinks seen;
  int starts;
  *g = (Signs){0};
  if (evaluate(&seen, m, d, s, n, T, e))
    return e->status;
  int *ids = grab(2 * (idx)n * T, sizeof(int), e), *in = ids;
  Probe *probe = grab(m->c.layers, sizeof(Probe), e);
  if (!e->status && !signs_room(g, m, s, T, e)) {
    real *metric = g->maps + m->c.heads * g->N * config_columns(&m->c, T);
    for (int l = 0; l < g->L; l++)
      probe[l] = (Probe){.weight = g->maps, .metric = metric};
    g->n = data_probe(d, &s->data, s->input, n, T, ids, ids + (idx)n * T,
                      &starts);
    for (int b = 0; b < g->n; b++, in += T) {
      g->a.probe = probe;
      forward_begin(m, &g->a, in, 1, T);
      for (int l = 0; l < g->L; l++) {
        block_forward(m, &g->a, l, 1, g->N);
        signs_block(g, l);
      }
      forward_end(m, &g->a, 1, g->N);
      g->a.probe = NULL;
      if (g->why[0])
        continue;
      model_zero_grads(m);
      model_loss(m, &g->a, in + (idx)n * T, 1, T, 1);
      const Seams seams = m->seams;
      backward_watch(m, &g->a, signs_after);
      model_backward(m, &g->a, in, 1, T);
      m->seams = seams;
    }
    signs_finish(g, &seen);
  }
  free(ids);
  free(probe);
  sinks_free(&seen);
  return e->status;
}

/* A line of cells: numbers x, or a line of the heading, whose
 * two a \n parts. */
static void cells_line(Bytes *out, const Column *of, int n, const double *x,
                       bool below, Error *e) {
  char cell[32];
  for (int k = 0; k < n; k++) {
    const char *head = of[k].head, *cut = strchr(head, '\n');
    if (x)
      cell_text(cell, &of[k], x[k]);
    else if (below)
      snprintf(cell, sizeof cell, "%s", cut ? cut + 1 : "");
    else
      snprintf(cell, sizeof cell, "%.*s", (int)strcspn(head, "\n"), head);
    bytes_print(out, e, " %*s", of[k].width, cell);
  }
  bytes_print(out, e, "\n");
}

/* As numbers with names, and in words. */
static void signs_tell(const Signs *g, Numbers *r, Bytes *out, Error *e) {
  for (int l = g->L; l >= 0; l--)
    for (int k = 0; k < SIGNS_ALL; k++)
      if (l < g->L)
        put(r, e, g->x[l][k], "signs_%s@%d", SIGNS_COLUMNS[k].name, l + 1);
      else
        put(r, e, g->x[l][k], "signs_%s", SIGNS_COLUMNS[k].name);
  bytes_print(out, e, "Signs of a sink, by block: %d sequences of %d tokens\n",
              g->n, g->T);
  bytes_print(out, e, "%-5s", "");
  cells_line(out, SIGNS_COLUMNS, SIGNS_ALL, NULL, false, e);
  bytes_print(out, e, "%-5s", "block");
  cells_line(out, SIGNS_COLUMNS, SIGNS_ALL, NULL, true, e);
  for (int l = 0; l <= g->L; l++) {
    if (l < g->L)
      bytes_print(out, e, "%-5d", l + 1);
    else
      bytes_print(out, e, "%-5s", "model");
    cells_line(out, SIGNS_COLUMNS, SIGNS_ALL, g->x[l], false, e);
  }
  bytes_print(out, e, "model: the mean of shares, the least value, the largest "
              "of others. value, gradient, norm:\n|v|, the gradient through the "
              "attention to its input, |h| after the block; the first row over the "
              "others'\nmean. kurtosis: of all of h; channels': of their mean "
              "squares, 1 to %d.\n", g->c->dim);
  if (g->why[0])
    bytes_print(out, e, "No gradient: %s.\n", g->why);
}

/* -----------------------------------------------------------------------------
 * 3  eval --quantize B: every linear map with its weights, and its inputs too,
 *    rounded to B bits
 *
 *   Q(x) = s q,   q = the whole number nearest to x / s,
 *                 s = max |x| / (2^(B-1) - 1)
 *
 * One s for a tensor; an input's is all rows that go through together, up to 16
 * sequences. So one massive activation sets the step of all others
 * (2306.12929). Rounded are both factors of every y = x W, the logits' too, by
 * Tensor.product; not the embedding's rows, phi, nor the products of q, k, v
 * and weights inside attention.
 */

/* Tensor.stored of a matrix that is rounded. */
typedef struct Rounding {
  int bits;
  bool inputs;
  Error *fault;
} Rounding;

/* y [n] = Q(x). A NaN stays one; the largest comes back to the bit, so
 * Q(Q(x)) = Q(x). */
static void quantized(idx n, real *y, const real *x, int bits) {
  const double most = (double)largest(n, x), levels = ldexp(1, bits - 1) - 1;
  for (idx j = 0; j < n; j++)
    if (most == 0)
      y[j] = x[j];
    else
      y[j] = (real)(rint((double)x[j] / most * levels) / levels * most);
}

/* y = Q(x) Q(W), or x Q(W): Tensor.product. */
static void rounded_product(const Tensor *W, bool transposed, real *y,
                            const real *x, idx rows) {
  const Rounding *r = W->stored;
  const idx in = transposed ? W->cols : W->rows;
  const idx out = transposed ? W->rows : W->cols;
  real *qw = grab(in * out + rows * in, sizeof(real), r->fault);
  if (!qw)
    return;
  quantized(in * out, qw, W->w, r->bits);
  if (r->inputs) {
    quantized(rows * in, qw + in * out, x, r->bits);
    x = qw + in * out;
  }
  const Matrix w = transposed ? transpose_of(qw, in) : rows_of(qw, out);
  matmul(y, out, rows_of(x, in), w, rows, out, in, false);
  free(qw);
}

/* Every matrix that a forward multiplies by, rounded; or as it
 * was, with r NULL. */
static void rounding_set(Model *m, Rounding *r) {
  for (int i = 0; i < m->n_tensors; i++) {
    Tensor *t = m->all[i];
    bool table = t == &m->wpe || (t == &m->wte && !m->c.tied) ||
                 strstr(t->name, ".phi");
    if (!t->matrix || table)
      continue;
    t->product = r ? rounded_product : NULL;
    t->stored = r;
  }
}

enum { AS_IT_IS, THE_WEIGHTS, AND_INPUTS, ROUNDED };
static const char *const ROUNDED_NAME[ROUNDED] = {"none", "weights", "inputs"};
enum { R_LOSS, R_MORE, R_SINK, R_ALPHA, R_NORM, ROUNDING };
static const Column ROUNDING_COLUMNS[ROUNDING] = {
  {"loss", "loss", "%.4f", 8, 1}, {"more", "more", "%+.4f", 8, 1},
  {"sink_1", "Sink_1", "%.1f%%", 7, 100}, {"alpha_1", "alpha_1", "%.3f", 8, 1},
  {"norm", "norm ratio", "%.2f", 10, 1}};

/* The loss as it is, with rounded weights, and with rounded
 * inputs too, in x. */
static int quantize(double x[ROUNDED][ROUNDING], Model *m, const Data *d,
                    const Settings *s, int n, int T, Error *e) {
  Rounding r = {.bits = s->quantize, .fault = e};
  if (s->input != INPUT_NATURAL)
    return fail(e, 2, "--quantize: needs the loss, which only natural input "
                "has. Try: --input natural");
  for (int k = 0; k < ROUNDED && !e->status; k++) {
    Sinks seen;
    int first = config_column_first(&m->c);
    if (k)
      rounding_set(m, &r);
    r.inputs = k == AND_INPUTS;
    if (evaluate(&seen, m, d, s, n, T, e))
      break;
    x[k][R_LOSS] = seen.loss > 0 ? seen.loss : NAN;   /* 0: none is scored */
    x[k][R_MORE] = k ? seen.loss - x[0][R_LOSS] : NAN;
    x[k][R_SINK] = sinks_sink(&seen, first, 0);
    x[k][R_ALPHA] = sinks_alpha(&seen, first);
    x[k][R_NORM] = sinks_ratio(&seen);
    sinks_free(&seen);
  }
  rounding_set(m, NULL);
  return e->status;
}

/* As numbers with names, and in words. */
static void quantize_tell(double x[ROUNDED][ROUNDING], int bits, Numbers *r,
                          Bytes *out, Error *e) {
  const int most = (1 << (bits - 1)) - 1;
  bytes_print(out, e, "Rounded to %d bits: -%d to %d times max / %d, one max a "
              "tensor\n%-10s", bits, most, most, most, "");
  cells_line(out, ROUNDING_COLUMNS, ROUNDING, NULL, false, e);
  for (int k = 0; k < ROUNDED; k++) {
    for (int i = 0; i < ROUNDING; i++)
      if (k || i != R_MORE)
        put(r, e, x[k][i], "quantize_%s_%s", ROUNDED_NAME[k],
            ROUNDING_COLUMNS[i].name);
    bytes_print(out, e, "%-10s",
                k == AND_INPUTS ? "and inputs" : ROUNDED_NAME[k]);
    cells_line(out, ROUNDING_COLUMNS, ROUNDING, x[k], false, e);
  }
}

/* -----------------------------------------------------------------------------
 * 4  A cache that forgets
 *
 * Tokens are read one by one, and a block keeps of each its key and value. When
 * W keys are there the one behind the first S goes: a token sees S sinks and
 * the W - S latest, its own among them. S = 0 is a window. x* is row 0, and so
 * the first of the sinks: with it S = 4 keeps x* and tokens 1 to 3. The column
 * * is no key: it stays, and is not counted. Positions number the places of the
 * cache, 0 .. W-1, or are those of the text:
 *
 *                        in the cache               in the text
 *   rotary               keys are kept unrotated,   each is rotated once, when
 *                        and rotated by their       it is read
 *                        place
 *   relative, t5, alibi  b(places apart)            b(tokens apart), of a sink
 *                                                   too
 *   absolute, learned    p of its place when it is  p of the token: learned
 *                        read: W-1 once the cache   ones end with the context
 *                        is full
 *
 * A window of the model's own goes by the same distances; the tokens of a
 * prefix, which see each other, are read together. As in model_extend rows of
 * Acts are places, and past those in use.
 */
typedef struct Stream {
  Acts a;           /* the first: stream_hide finds the rest behind it */
  Model *m;
  idx W, S;         /* places; those that stay */
  idx rows, gone;   /* places in use; keys dropped so far */
  bool text;        /* positions are those of the text */
  real *raw;        /* [L,W,K*D] keys unrotated, or NULL */
  real *sinusoid, *wpe;   /* the tables, from position 0 */
} Stream;

/* Acts.hide: what the model's own window and prefix hide, by the distances that
 * hold here. */
static void stream_hide(const Acts *a, int l, idx b, idx i, idx lo, idx n,
                        real *z) {
  const Stream *s = (const Stream *)(const void *)a;
  const Config *c = &s->m->c;
  idx w = s->m->layer[l].window, first = config_rows(c, 1) - 1;
  (void)b;
  for (idx j = lo; w && j < lo + n; j++) {
    const idx row = j < s->S ? j : j + s->gone;
    const idx apart = s->text ? i + s->gone - row : i - j;
    if (apart < w || (row >= first && row < first + c->prefix))
      continue;
    z[j - lo] = -INFINITY;
  }
}

/* The key behind the sinks goes, and the later ones move down a place. */
static void stream_drop(Stream *s) {
  const Config *c = &s->m->c;
  const idx Kw = c->kv_heads * c->head_dim, at = s->S * Kw;
  const idx later = s->rows - s->S - 1;
  const size_t bytes = (size_t)(later * Kw) * sizeof(real);
  for (int l = 0; l < c->layers; l++) {
    LayerActs *la = &s->a.layer[l];
    real *raw = s->raw ? s->raw + l * s->W * Kw + at : NULL;
    if (s->text && la->cosine) {   /* the next row's angle, in its place */
      la->cosine += c->rotary_dims / 2;
      la->sine += c->rotary_dims / 2;
    }
    memmove(la->v + at, la->v + at + Kw, bytes);
    if (!raw) {
      memmove(la->fk + at, la->fk + at + Kw, bytes);
      continue;
    }
    memmove(raw, raw + Kw, bytes);
    copy(la->k + at, raw, later * Kw);
    s->a.past = s->S;
    rotate(c, &s->a, l, la->k + at, later, later, c->kv_heads, 1);
    if (la->fk != la->k)
      kernel_forward(c, &s->m->layer[l], la->fk + at, la->hk, la->k + at,
                     later * c->kv_heads);
  }
  s->rows--;
  s->gone++;
}

/* Of the text: the next row, `gone` behind its place, reads its own p, and its
 * distances to the sinks, which no other key uses, are that much larger. */
static void stream_positions(Stream *s) {
  const Config *c = &s->m->c;
  const idx N = s->a.N;
  if (!s->text)
    return;
  if (s->sinusoid)
    s->a.sinusoid = s->sinusoid + s->gone * c->dim;
  if (c->pos == POS_LEARNED)
    s->m->wpe.w = s->wpe + s->gone * c->dim;
  for (int h = 0; s->a.bias && h < c->heads; h++)
    for (idx j = 0; j < s->S; j++)
      s->a.bias[h * (2 * N - 1) + N - 1 + j - s->rows] =
          (real)distance_bias(s->m, h, s->rows + s->gone - j);
}

/* Reads tokens ids [n]: one, or first of all a prefix. Returns how many rows
 * a.nf has of them. */
static idx stream_read(Stream *s, const int *ids, int n) {
  const Config *c = &s->m->c;
  const idx Kw = c->kv_heads * c->head_dim;
  while (s->rows + n > s->W)
    stream_drop(s);
  s->a.past = s->rows;
  stream_positions(s);
  const idx R = forward_begin(s->m, &s->a, ids, 1, n);
  for (int l = 0; l < c->layers; l++) {
    block_forward(s->m, &s->a, l, 1, R);
    if (!s->raw)
      continue;
    real *raw = s->raw + (l * s->W + s->rows) * Kw;
    copy(raw, s->a.layer[l].k + s->rows * Kw, R * Kw);
    rotate(c, &s->a, l, raw, R, R, c->kv_heads, -1);
  }
  forward_end(s->m, &s->a, 1, R);
  s->rows += R;
  return R;
}

/* -----------------------------------------------------------------------------
 * 5  Its policies, token by token: the four of StreamingLLM, and a cache that
 *    is made anew for every token from the last W rows, x* among them
 */
typedef struct Policy {
  const char *cache, *positions;
  bool all, sinks, text, anew;
} Policy;
enum { POLICIES_ALL = 4, POLICY_ANEW = 4, POLICIES_KNOWN = 6 };
static const Policy POLICIES[POLICIES_KNOWN] = {
  {.cache = "dense", .positions = "text", .all = true},
  {.cache = "window", .positions = "cache"},
  {.cache = "sink+window", .positions = "cache", .sinks = true},
  {.cache = "sink+window", .positions = "text", .sinks = true, .text = true},
  {.cache = "recompute", .positions = "cache", .anew = true},
  {.cache = "window", .positions = "text", .text = true}};

/* Can the policy have W places, S of them sinks, on a text of `all` rows? */
static int stream_fits(const Policy *p, const Config *c, idx all, idx W, idx S,
                       Error *e) {
  const idx known = config_rows(c, c->context);
  idx least = config_rows(c, c->prefix > 1 ? c->prefix : 1);
  if (p->sinks && least <= S)
    least = S + 1;
  if (c->pos == POS_LEARNED && all > known && (p->all || p->text))
    return fail(e, 2, "--cache %s: there are no learned positions after the "
                "context of %d tokens. Try: --n %d, or --cache window "
                "--positions cache", p->cache, c->context, c->context);
  if (c->pos == POS_LEARNED && all > known && W > known)
    return fail(e, 2, "--cache-size %lld: there are no learned positions after "
                "the context of %d tokens. Try: --cache-size %lld", W,
                c->context, known);
  if (!p->all && W < least)
    return fail(e, 2, "--cache-size %lld: must be at least %lld, to hold the "
                "sinks and what is read at once. Try: that, or fewer --sinks",
                W, least);
  return 0;
}

/* loss [n]: -log p of targets[t] from the cache at ids[t]; -1 where a prefix
 * leaves it unscored. */
static int stream(double *loss, Model *m, const int *ids, const int *targets,
                  int n, const Policy *p, idx W, idx S, Error *e) {
  const Config *c = &m->c;
  const idx all = config_rows(c, n), x = all - n;
  if (stream_fits(p, c, all, W, S, e))
    return e->status;
  W = p->all ? all : at_most(W, all);
  Stream s = {.m = m, .W = W, .text = p->text, .wpe = m->wpe.w};
  if (p->sinks)
    s.S = S;
  const Seams seams = m->seams;
  Acts *a = &s.a;
  const idx tables = p->text ? all : W;   /* the rows that tables reach */
  if (acts_create(a, m, 1, (int)(tables - x), ACTS_KEYS, e))
    return e->status;
  a->hide = p->anew ? NULL : stream_hide;
  rows_watch(m);
  s.sinusoid = a->sinusoid;
  if (W < all && !p->text && !p->anew && a->cosine)
    s.raw = grab(c->layers * W * c->kv_heads * c->head_dim, sizeof(real), e);
  for (int t = 0, got; t < n && !e->status && !model_fault(m, e); t += got) {
    idx R;   /* rows of a.nf */
    got = 1;
    if (p->anew) {
      const int back = (int)at_most(t + 1, W - x);
      model_forward(m, a, ids + t + 1 - back, 1, back);
      R = config_rows(c, back);
    } else {
      if (!t && c->prefix > 1)
        got = (int)at_most(c->prefix, n);
      R = stream_read(&s, ids + t, got);
    }
    for (int i = t; i < t + got; i++) {
      loss[i] = -1;
      if (i + 1 < c->prefix)
        continue;
      model_logits(m, a, a->nf + (R - got + i - t) * c->dim, 1, a->logits);
      loss[i] = cross_entropy(c->vocab, a->logits, targets[i], 0);
    }
  }
  m->wpe.w = s.wpe;
  m->seams = seams;
  acts_free(a);
  free(s.raw);
  return e->status;
}

/* -----------------------------------------------------------------------------
 * 6  stream MODEL
 */
enum { S_LOSS, S_PERPLEXITY, S_DECADE, STREAMED = S_DECADE + 8 };
static const Column STREAM_COLUMNS[STREAMED] = {
  {"loss", "loss", "%.4f", 8, 1}, {"perplexity", "perplexity", "%.2f", 10, 1},
  {"loss@1", "1 ..", "%.4f", 8, 1}, {"loss@10", "10 ..", "%.4f", 8, 1},
  {"loss@100", "100 ..", "%.4f", 8, 1}, {"loss@1000", "1000 ..", "%.4f", 8, 1},
  {"loss@1e4", "1e4 ..", "%.4f", 8, 1}, {"loss@1e5", "1e5 ..", "%.4f", 8, 1},
  {"loss@1e6", "1e6 ..", "%.4f", 8, 1}, {"loss@1e7", "1e7 ..", "%.4f", 8, 1}};

/* Of losses [n] the mean, e to it, and the means of tokens 1 .. 9, 10 .. 99,
 * and so on. */
static void streamed_of(double x[STREAMED], const double *loss, int n) {
  int count[STREAMED] = {0};
  memset(x, 0, STREAMED * sizeof *x);
  for (int t = 0; t < n; t++) {
    const int k[2] = {S_LOSS, S_DECADE + (int)log10(t + 1.5)};
    for (int i = 0; i < 2 && loss[t] != -1; i++) {
      x[k[i]] += loss[t];
      count[k[i]]++;
    }
  }
  for (int k = 0; k < STREAMED; k++)
    x[k] = count[k] ? x[k] / count[k] : NAN;
  x[S_PERPLEXITY] = exp(x[S_LOSS]);
}

/* Which policies are asked for: one; or the first four, and the fifth where it
 * is cheap. */
static int policies_of(bool is[POLICIES_KNOWN], const Settings *s,
                       const Model *m, double keys, Error *e) {
  const bool sinks = s->given[option_find("sinks", STREAM) - OPTIONS];
  const bool text = !strcmp(s->positions, "text"), some = s->cache[0] != 0;
  const bool cheap = keys * (double)m->count < 3e11;
  bool known = false;
  for (int k = 0; k < POLICIES_KNOWN; k++) {
    const Policy *p = &POLICIES[k];
    const bool same = some && !strcmp(s->cache, p->cache);
    const char *idle = NULL;
    known = known || same;
    if (some)
      is[k] = same && (p->text == text || p->all || p->anew);
    else
      is[k] = k < POLICIES_ALL || (k == POLICY_ANEW && cheap);
    if (sinks && !p->sinks)
      idle = "sinks";
    if (s->cache_size && p->all)
      idle = "cache-size";
    if (text && p->anew)
      idle = "positions";
    if (same && idle)
      return fail(e, 2, "--%s: has no effect with --cache %s. Try: leave it "
                  "out", idle, s->cache);
  }
  if (!text && strcmp(s->positions, "cache"))
    return fail(e, 2, "--positions %s: expected cache|text. Try: --positions "
                "text", s->positions);
  if (!some || known)
    return 0;
  return fail(e, 2, "--cache %s: expected dense|window|sink+window|recompute. "
              "Try: --cache sink+window", s->cache);
}

/* How many columns n losses have. */
static int decades_of(int n) { return S_DECADE + 1 + (int)log10(n + 0.5); }

/* One policy: its line of the table, its row of the files, or
 * why it cannot be. */
static void stream_one(const Policy *p, const Settings *s, Trainer *t, int n,
                       idx W, Numbers *row, Bytes *out, Error *e) {
  double x[STREAMED], from = seconds(), *loss = grab(n, sizeof(double), e);
  const int columns = decades_of(n);
  Error unfit = {0};
  if (e->status)
    return;
  for (int i = 0; i < n; i++)
    loss[i] = -1;
  stream(loss, &t->m, t->ids, t->ids + n, n, p, W, s->sinks, &unfit);
  streamed_of(x, loss, n);
  free(loss);
  if (unfit.status == 1 || (unfit.status && *s->cache))
    *e = unfit;
  else if (!unfit.status && !isfinite(x[S_LOSS]))
    fail(e, 1, "--cache %s: expected finite losses, found NaN or infinity. "
         "Try: eval", p->cache);
  put_text(row, e, "policy", p->cache);
  put_text(row, e, "positions", p->positions);
  put(row, e, n, "tokens");
  for (int k = 0; k < columns; k++)
    put(row, e, x[k], "%s", STREAM_COLUMNS[k].name);
  bytes_print(out, e, "%-12s %-9s", p->cache, p->positions);
  cells_line(out, STREAM_COLUMNS, columns, x, false, e);
  if (unfit.status)
    bytes_print(out, e, "  %s\n", unfit.text);
  else if (!s->quiet)
    fprintf(stderr, "%s, positions of the %s: %.0f tokens a second\n", p->cache,
            p->positions, n / (seconds() - from));
}

/* The model and the held tokens of its text. */
static int cache_open(Settings *s, Trainer *t, Error *e) {
  if (!s->n_words)
    fail(e, 2, "stream: expected a model file. Try: %s help stream",
         s->program->name);
  if (!e->status && !model_open(s, s->words[0], INFINITY, t, e))
    results_ready(s, e);
  if (!e->status && blocks_attending(&t->m) < t->m.c.layers)
    fail(e, 2, "stream: Mamba blocks have a state, not a cache. Try: ./hf eval "
         "MODEL");
  if (!e->status)
    eval_data_open(s, t, s->words[0], e);
  return e->status;
}

/* The text is held tokens end to end, the first one as in training. */
static int verb_cache(Settings *s, Error *e) {
  Trainer t = {0};
  Bytes out = {0};
  bool is[POLICIES_KNOWN] = {0};
  Numbers *row = grab(POLICIES_KNOWN, sizeof *row, e);
  int rows = 0, threads = workers();
  cache_open(s, &t, e);
  const int n = (int)at_most(s->how_many ? s->how_many : 4096,
                             (idx)t.data.held.size - 1);
  idx W = s->cache_size;
  if (!W)
    W = config_rows(&t.m.c, t.m.c.context);
  if (n < 2)
    fail(e, 1, "%s: expected at least 3 held-out tokens. Try: a longer text",
         t.data.name);
  else if (n < t.m.c.prefix)
    fail(e, 2, "--n %d: the model's prefix of %d leaves no token to score. "
         "Try: a larger --n, or a longer text", n, t.m.c.prefix);
  if (!e->status)
    policies_of(is, s, &t.m, (double)n * (double)W, e);
  if (!e->status && (t.ids = grab(2 * (idx)n, sizeof(int), e)))
    data_held(&t.data, &s->data, 1, n, t.ids, t.ids + n);
  if (!e->status)
    bytes_print(&out, e, "%s on %s (%s): %d tokens%s%s\nA cache of %lld "
                "keys (dense: of all)\n\n%-12s %-9s", *s->words, t.data.name,
                t.data.read, n, *t.data.drawn ? ", " : "", t.data.drawn, W,
                "policy", "positions");
  if (!e->status)
    cells_line(&out, STREAM_COLUMNS, decades_of(n), NULL, false, e);
  if (t.m.c.dim < 512)   /* a row has no work for more threads */
    set_workers(1);
  for (int k = 0; k < POLICIES_KNOWN && !e->status; k++)
    if (is[k])
      stream_one(&POLICIES[k], s, &t, n, W, &row[rows++], &out, e);
  set_workers(threads);
  bytes_print(&out, e, "loss: nats per token, of all, of 1 to 9, 10 to 99 and "
              "so on. dense keeps every\nkey, window the latest, sink+window "
              "also the first %d; recompute rebuilds the cache\nfor each "
              "token. positions: places in the cache, or in the text.\n",
              s->sinks);
  if (!e->status && !results_alone(s))
    printf("%.*s", (int)out.size, (const char *)out.at);
  if (!e->status)
    rows_write(row, rows, true, s, e);
  for (int k = 0; k < rows; k++)
    numbers_free(&row[k]);
  free(row);
  bytes_free(&out);
  trainer_free(&t);
  return e->status;
}
