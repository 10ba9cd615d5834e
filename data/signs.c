/* signs.c - signs of a sink beside Sink and alpha, what rounding to a few bits costs, and a cache
 * of keys that forgets.
 *
 * SPDX-License-Identifier: MIT
 *
 * Part of pages.c, which includes it. Why anyone cares about sinks: they come with massive
 * activations, which are dear to round (Bondarenko et al. 2306.12929), and a model that has one
 * breaks when its key is dropped from the cache (StreamingLLM, 2309.17453).
 *
 * Contents   1 One row, one head, one stream: the numbers    2 eval --signs    3 eval --quantize
 *            4 A cache that forgets    5 Its policies, token by token    6 stream MODEL
 */

/* -------------------------------------------------------------------------------------------------
 * 1  One row, one head, one stream
 *
 * A NaN that comes in comes out: it is above no threshold, and would pass for a small number.
 */

/* Raw mass of a row: sum_j |w_j| over its keys, w [n] with the scale, without *. 1 under a plain
 * softmax, less with a column *, anything where Z = 1. A row below 0.1 is off: it says next to
 * nothing, and what a share of it looks like does not matter. */
static const double ROW_OFF = 0.1;
static double row_mass(idx n, const real *w) {
  double sum = 0;
  for (idx j = 0; j < n; j++) sum += fabs((double)w[j]);
  return sum;
}

/* H / log k of a row m [n] that sees k columns, H = -sum_j p_j log p_j, p = m / sum m: 0 on one
 * column, 1 when even. Softmax drives it down (Varre et al. 2603.06248). -1 where it says nothing:
 * one column, or no mass. */
static double row_entropy(idx n, const real *m, int k) {
  double sum = row_mass(n, m), H = 0;
  if (isnan(sum)) return NAN;
  if (k < 2 || sum == 0) return -1;
  for (idx j = 0; j < n; j++)
    if (m[j] != 0) H -= fabs((double)m[j]) / sum * log(fabs((double)m[j]) / sum);
  return H / log((double)k);
}

/* 1 where column `at` of m [n] is larger than every other, else 0, a tie too (Kaul et al.
 * 2410.17174: of queries and heads, the share whose largest weight is token 1's). */
static double row_top(idx n, const real *m, idx at) {
  bool top = true, number = true;
  for (idx j = 0; j < n; j++) {
    number = number && !isnan((double)m[j]);
    if (j != at && m[j] >= m[at]) top = false;
  }
  return number ? top : NAN;
}

/* Is a head of D dims dead (softpick, 2504.20966)? 1 where max |o| < 1e-6 on 95 % of its T tokens,
 * whose rows of o lie `row` numbers apart. */
static double head_dead(idx T, idx D, const real *o, idx row) {
  idx still = 0;
  for (idx i = 0; i < T; i++) {
    double most = 0;
    for (idx d = 0; d < D; d++) most = larger(most, fabs((double)o[i * row + d]));
    if (isnan(most)) return NAN;
    still += most < 1e-6;
  }
  return (double)still >= 0.95 * (double)T;
}

/* Kurtosis of x [n], mean (x - mu)^4 over the squared variance: 3 for a normal, and the larger the
 * fewer numbers are far out (Bondarenko et al.; softpick's Table 3). NAN when all are alike. */
static double kurtosis(idx n, const real *x) {
  double mu = 0, two = 0, four = 0;
  for (idx j = 0; j < n; j++) mu += (double)x[j] / (double)n;
  for (idx j = 0; j < n; j++) {
    double square = ((double)x[j] - mu) * ((double)x[j] - mu);
    two += square / (double)n, four += square * square / (double)n;
  }
  return two > 0 ? four / (two * two) : NAN;
}

/* Kurtosis of channels (He et al. 2405.19279), for h [rows,C]: mean s^2 over (mean s)^2 over the
 * channels, s_c = mean_n h_nc^2. 1 where all are alike, C where one has everything: unlike the
 * former it knows which numbers share a channel. */
static double channel_kurtosis(idx rows, idx C, const real *h) {
  double one = 0, two = 0;
  for (idx c = 0; c < C; c++) {
    double s = 0;
    for (idx n = 0; n < rows; n++) s += (double)h[n * C + c] * (double)h[n * C + c] / (double)rows;
    one += s / (double)C, two += s * s / (double)C;
  }
  return one > 0 ? two / (one * one) : NAN;
}

/* Largest |x| over the median |x| (Sun et al. 2402.17762, without their least size, which small
 * models never reach), for x [n], which is spent; of an even n the upper of the two middle ones. */
static double peak(idx n, real *x) {
  for (idx j = 0; j < n; j++) {
    if (isnan((double)x[j])) return NAN;
    x[j] = real_abs(x[j]);
  }
  qsort(x, (size_t)n, sizeof(real), by_size);
  return x[n / 2] > 0 ? (double)x[n - 1] / (double)x[n / 2] : NAN;
}

/* -------------------------------------------------------------------------------------------------
 * 2  eval --signs
 *
 * By block, and for the model: of shares the mean over the blocks that attend; of ratios and
 * kurtoses the largest; of the value drain the least. Sequences weigh alike.
 *
 *   value      |v| of the first row over the others' mean: a sink drains it (Guo et al. 2410.13835)
 *   norm       the same of |h|, behind the block: sinks_ratio (6)
 *   gradient   the same of |dL/dx|, x what the block's MHSA reads, L a sequence's mean loss
 *              (the gradient sink of 2603.17771)
 *
 * The first row is x*'s where there is one; Sink_1, alpha_1 and top-1 are of token 1.
 */
enum { G_SINK, G_ALPHA, G_MASS, G_OFF, G_ENTROPY, G_TOP, G_DEAD, G_VALUE, G_NORM, G_KURTOSIS,
       G_CHANNELS, G_PEAK, G_GRADIENT, SIGNS_ALL };
static const Column SIGNS_COLUMNS[SIGNS_ALL] = {
  {"sink_1",   "Sink_1",  "",       "%.1f%%", 6, 100}, {"alpha_1",  "alpha_1", "",      "%.3f", 7, 1},
  {"mass",     "row",     "mass",   "%.2f",   5, 1},   {"off",      "rows",  "< 0.1", "%.0f%%", 5, 100},
  {"entropy",  "entropy", "/log i", "%.3f",   7, 1},   {"top_1",    "top-1", "share", "%.0f%%", 5, 100},
  {"dead",     "heads",   "dead",   "%.0f%%", 5, 100}, {"value",    "value", "drain", "%.2f", 5, 1},
  {"norm",     "norm",    "ratio",  "%.2f",   6, 1},   {"kurtosis", "kurt-", "osis",  "%.1f", 7, 1},
  {"channels", "of chan-", "nels",  "%.2f",   8, 1},   {"peak",     "max /", "median", "%.1f", 7, 1},
  {"gradient", "gradient", "ratio", "%.2f",   8, 1}};
static const char SIGNS_MODEL[] = "mmmmmmmlhhhhh";         /* mean, least, highest; by the columns */

typedef struct Signs {
  Acts a;                      /* the first: signs_after finds the rest behind it */
  const Config *c; int n, T, L; idx N;
  double (*x)[SIGNS_ALL], (*count)[SIGNS_ALL];     /* [L+1]: block l's, then the model's; [L] what x sums */
  double *gradient;            /* [L,N] |dL/dx_n|, sums over sequences */
  real *spare; char why[200];  /* [N,C]; why there is no gradient, or "" */
} Signs;

static void signs_free(Signs *g) {
  acts_free(&g->a);
  free(g->x); free(g->gradient); free(g->spare);
  *g = (Signs){0};
}

static void signs_add(Signs *g, int l, int what, double x) { g->x[l][what] += x, g->count[l][what]++; }

/* What head h of block l shows in sequence b: maps w (weights) and m [N,S]. */
static void signs_head(Signs *g, int l, idx b, int h, const real *w, const real *m) {
  const Config *c = g->c;
  const idx N = g->N, first = N - g->T, keys = c->extra ? 1 : 0, S = keys + N;
  const idx D = c->head_dim, row = c->heads * D;
  for (idx i = first; i < N; i++) {
    double mass = row_mass(N, w + i * S + keys), entropy; int seen = (int)keys;
    for (idx j = 0; j < N; j++) seen += visible(c, l, i, j);
    signs_add(g, l, G_MASS, mass);
    signs_add(g, l, G_OFF, isnan(mass) ? NAN : mass < ROW_OFF);
    if (i > first) signs_add(g, l, G_TOP, row_top(S, m + i * S, S - g->T));   /* 1 has no choice */
    entropy = row_entropy(S, m + i * S, seen);
    if (entropy != -1) signs_add(g, l, G_ENTROPY, entropy);
  }
  signs_add(g, l, G_DEAD, head_dead(g->T, D, g->a.layer[l].o + (b * N + first) * row + h * D, row));
}

/* Behind block l, while its activations are there. maps: weights, then m, each [B,H,N,S]. */
static void signs_block(Signs *g, int l, int B, const real *maps, idx map) {
  const idx H = g->c->heads, C = g->c->dim, n = g->N * C;
  for (idx b = 0; b < B; b++) {
    for (int h = 0; config_attends(g->c, l) && h < H; h++) {
      const real *w = maps + (b * H + h) * map;
      signs_head(g, l, b, h, w, w + g->a.B * H * map);
    }
    const real *stream = g->a.h + b * n;
    signs_add(g, l, G_KURTOSIS, kurtosis(n, stream));
    signs_add(g, l, G_CHANNELS, channel_kurtosis(g->N, C, stream));
    copy(g->spare, stream, n);
    signs_add(g, l, G_PEAK, peak(n, g->spare));
  }
}

/* Acts.after: the norms of the rows of dL/dx. */
static void signs_after(const Acts *a, int l, int B, idx N) {
  const Signs *g = (const Signs *)(const void *)a;
  for (idx i = 0; i < B * N; i++)
    g->gradient[l * N + i % N] += length(g->c->dim, a->dn + i * g->c->dim);
}

/* Sums to means; what evaluate has by block; the model's. */
static void signs_finish(Signs *g, const Sinks *s) {
  const int first = config_column_first(g->c), LH = s->L * s->H;
  for (int l = 0; l < g->L; l++) {
    const bool heads = config_attends(g->c, l);
    double *x = g->x[l];
    for (int k = G_MASS; k < SIGNS_ALL; k++) x[k] = g->count[l][k] > 0 ? x[k] / g->count[l][k] : NAN;
    x[G_SINK] = x[G_ALPHA] = heads ? 0 : NAN;
    for (int h = 0; h < s->H && heads; h++) {
      x[G_ALPHA] += s->alpha[(l * s->H + h) * s->S + first] / s->H;
      x[G_SINK] += s->over[(0 * LH + l * s->H + h) * s->S + first] / s->H;
    }
    x[G_VALUE] = heads ? norm_ratio(s->vnorm + l * s->N, s->N) : NAN;
    x[G_NORM] = norm_ratio(s->hnorm + (l + 1) * s->N, s->N);
    x[G_GRADIENT] = heads && !g->why[0] ? norm_ratio(g->gradient + l * g->N, g->N) : NAN;
  }
  for (int k = 0; k < SIGNS_ALL; k++) {
    const char how = SIGNS_MODEL[k];
    const bool all = k == G_NORM || k == G_KURTOSIS || k == G_CHANNELS || k == G_PEAK;
    double *to = &g->x[g->L][k];
    *to = how == 'm' ? 0 : how == 'l' ? INFINITY : -INFINITY;
    for (int l = 0; l < g->L; l++) {
      double x = g->x[l][k];
      if (!all && !config_attends(g->c, l)) continue;
      *to = how == 'm' ? *to + x / config_attending(g->c) : how == 'l' ? smaller(*to, x)
                                                                       : larger(*to, x);
    }
  }
}

/* Room for a model's signs, and whether it can have the gradient. */
static int signs_room(Signs *g, Model *m, const Settings *s, int B, int T, Error *e) {
  Error none = {0};
  const Config *c = &m->c;
  *g = (Signs){.c = c, .T = T, .L = c->layers, .N = config_rows(c, T)};
  if (s->input != INPUT_NATURAL) snprintf(g->why, sizeof g->why, "only natural input has a loss");
  else if (config_trains(c, &none))
    snprintf(g->why, sizeof g->why, "%.*s", (int)strcspn(none.text, "."), none.text);
  g->x = grab(2 * c->layers + 1, sizeof *g->x, e);
  g->gradient = grab(c->layers * g->N, sizeof(double), e);
  g->spare = grab(g->N * c->dim, sizeof(real), e);
  if (!e->status && !g->why[0] && !m->grads) model_grads(m, e);
  if (!e->status) acts_create(&g->a, m, B, T, ACTS_ALL, e);
  g->count = g->x + c->layers + 1;
  if (e->status) signs_free(g);
  return e->status;
}

/* The signs in n sequences of T tokens: on success signs_free must follow. */
static int signs(Signs *g, Model *m, const Data *d, const Settings *s, int n, int T, Error *e) {
  const idx H = m->c.heads, map = (idx)config_rows(&m->c, T) * config_columns(&m->c, T);
  const int batch = (int)at_most(evaluation_batch(m, n, T, e), 4); int starts;
  Sinks seen;
  if (s->replace_position || s->swap_position)
    return fail(e, 2, "--signs: it reads a model as it is. Try: without --%s-position",
                s->swap_position ? "swap" : "replace");
  if (evaluate(&seen, m, d, s, n, T, &starts, e)) return e->status;
  int *ids = grab(2 * (idx)n * T, sizeof(int), e), *targets = ids ? ids + (idx)n * T : NULL;
  real *maps = grab(2 * batch * H * map, sizeof(real), e);
  Probe *probe = grab(m->c.layers, sizeof(Probe), e);
  for (int l = 0; probe && maps && l < m->c.layers; l++)
    probe[l] = (Probe){.weight = maps, .metric = maps + batch * H * map};
  if (!e->status && !signs_room(g, m, s, batch, T, e)) {
    g->n = data_probe(d, &s->data, s->input, n, T, ids, targets, &starts);
    for (int b0 = 0; b0 < g->n; b0 += batch) {
      const int B = (int)at_most(g->n - b0, batch), *in = ids + (idx)b0 * T;
      g->a.probe = probe;
      forward_begin(m, &g->a, in, B, T);
      for (int l = 0; l < g->L; l++) {
        block_forward(m, &g->a, l, B, g->N);
        signs_block(g, l, B, maps, map);
      }
      forward_end(m, &g->a, B, g->N);
      g->a.probe = NULL;
      if (g->why[0]) continue;
      model_zero_grads(m);
      model_loss(m, &g->a, targets + (idx)b0 * T, B, T, true, B);      /* each sequence's mean */
      g->a.after = signs_after;
      model_backward(m, &g->a, in, B, T);
    }
    signs_finish(g, &seen);
  }
  free(ids); free(maps); free(probe); sinks_free(&seen);
  return e->status;
}

static void signs_put(const Signs *g, Result *r, Error *e) {
  for (int l = g->L; l >= 0; l--)
    for (int k = 0; k < SIGNS_ALL; k++)
      if (l == g->L) put(r, e, g->x[l][k], "signs_%s", SIGNS_COLUMNS[k].name);
      else put(r, e, g->x[l][k], "signs_%s@%d", SIGNS_COLUMNS[k].name, l + 1);
}

/* A line of cells: a heading, what stands below it, or numbers x. */
static void signs_cells(Bytes *out, const Column *of, int n, const double *x, bool below, Error *e) {
  for (int k = 0; k < n; k++) {
    char cell[32];
    bytes_print(out, e, " %*s", of[k].width,
                x ? cell_text(cell, &of[k], x[k]) : below ? of[k].below : of[k].head);
  }
  bytes_print(out, e, "\n");
}

static void signs_text(const Signs *g, Bytes *out, Error *e) {
  bytes_print(out, e, "Signs of a sink, by block: %d sequences of %d tokens\n%-5s", g->n, g->T, "");
  signs_cells(out, SIGNS_COLUMNS, SIGNS_ALL, NULL, false, e);
  bytes_print(out, e, "%-5s", "block");
  signs_cells(out, SIGNS_COLUMNS, SIGNS_ALL, NULL, true, e);
  for (int l = 0; l <= g->L; l++) {
    if (l < g->L) bytes_print(out, e, "%-5d", l + 1);
    else bytes_print(out, e, "model");
    signs_cells(out, SIGNS_COLUMNS, SIGNS_ALL, g->x[l], false, e);
  }
  bytes_print(out, e, "model: of shares the mean, of ratios and kurtoses the largest, of value the "
              "least. value, norm,\ngradient: |v|, |h| behind the block and |dL/dx| at its "
              "attention's input, the first row over the\nothers' mean. kurtosis: of all numbers "
              "of h; of channels: of their mean squares, 1 to %d.\n", g->c->dim);
  if (g->why[0]) bytes_print(out, e, "No gradient: %s.\n", g->why);
}

/* -------------------------------------------------------------------------------------------------
 * 3  eval --quantize B: every linear map with its weights, and its inputs too, rounded to B bits
 *
 *   Q(x) = s q,  q = the whole number nearest to x / s,  s = max |x| / (2^(B-1) - 1)
 *
 * One scale s for a tensor, symmetric. An input's tensor is all rows that go through together: up
 * to 16 sequences. So one massive activation sets the step of all others (2306.12929). Rounded are
 * both factors of every y = x W, the logits' too, in Model.linear's place. In full precision
 * stay rows of embeddings, W_in, phi, and the products of q, k, v and weights inside attention.
 */
typedef struct Rounding { int bits; bool inputs; Error *fault; } Rounding;     /* Model.rounding */

/* y [n] = Q(x). A NaN stays one; the largest comes back to the bit, so Q(Q(x)) = Q(x). */
static void quantized(idx n, real *y, const real *x, int bits) {
  const double most = (double)largest(n, x), levels = ldexp(1, bits - 1) - 1;
  for (idx j = 0; j < n; j++)
    y[j] = most == 0 ? x[j] : (real)(rint((double)x[j] / most * levels) / levels * most);
}

/* y = Q(x) Q(W), or x Q(W): Model.linear. */
static bool rounded_linear(const Model *m, real *y, const real *x, const real *w, bool transposed,
                           idx rows, idx in, idx out) {
  const Rounding *r = m->rounding;
  real *qw = grab(in * out + rows * in, sizeof(real), r->fault), *qx = qw ? qw + in * out : NULL;
  if (!qw) return false;
  quantized(in * out, qw, w, r->bits);
  if (r->inputs) quantized(rows * in, qx, x, r->bits);
  matmul(y, out, rows_of(r->inputs ? qx : x, in),
         transposed ? transpose_of(qw, in) : rows_of(qw, out), rows, out, in, false);
  free(qw);
  return true;
}

enum { AS_IT_IS, THE_WEIGHTS, AND_INPUTS, ROUNDED };
static const char *const ROUNDED_SAYS[ROUNDED] = {"as it is", "weights", "and inputs"};
static const char *const ROUNDED_NAME[ROUNDED] = {"none", "weights", "inputs"};
enum { R_LOSS, R_MORE, R_SINK, R_ALPHA, R_NORM, ROUNDING };
static const Column ROUNDING_COLUMNS[ROUNDING] = {
  {"loss", "loss", "", "%.4f", 8, 1}, {"more", "more", "", "%+.4f", 8, 1},
  {"sink_1", "Sink_1", "", "%.1f%%", 7, 100}, {"alpha_1", "alpha_1", "", "%.3f", 8, 1},
  {"norm", "norm ratio", "", "%.2f", 10, 1}};

/* The loss before, with rounded weights, and with rounded inputs too, in x. */
static int quantize(double x[ROUNDED][ROUNDING], Model *m, const Data *d, const Settings *s, int n,
                    int T, Error *e) {
  Rounding r = {.bits = s->quantize, .fault = e};
  if (s->input != INPUT_NATURAL)
    return fail(e, 2, "--quantize: it reads the loss, and only natural input has one. "
                "Try: --input natural");
  for (int k = 0; k < ROUNDED && !e->status; k++) {
    Sinks seen; int starts;
    if (k) m->linear = rounded_linear, m->rounding = &r;
    r.inputs = k == AND_INPUTS;
    if (evaluate(&seen, m, d, s, n, T, &starts, e)) break;
    double row[ROUNDING] = {seen.loss, k ? seen.loss - x[0][R_LOSS] : 0};
    row[R_SINK] = sinks_sink(&seen, config_column_first(&m->c), 0);
    row[R_ALPHA] = sinks_alpha(&seen, config_column_first(&m->c));
    row[R_NORM] = sinks_ratio(&seen);
    memcpy(x[k], row, sizeof row);
    sinks_free(&seen);
  }
  m->linear = PUBLISHED_PARTS.linear;
  return e->status;
}

static void quantize_text(double x[ROUNDED][ROUNDING], int bits, Bytes *out, Error *e) {
  bytes_print(out, e, "Rounded to %d bits, one scale a tensor, up to %g steps of max / %g\n%-10s",
              bits, ldexp(1, bits - 1) - 1, ldexp(1, bits - 1) - 1, "");
  signs_cells(out, ROUNDING_COLUMNS, ROUNDING, NULL, false, e);
  for (int k = 0; k < ROUNDED; k++) {
    bytes_print(out, e, "%-10s", ROUNDED_SAYS[k]);
    if (!k) x[k][R_MORE] = NAN;
    signs_cells(out, ROUNDING_COLUMNS, ROUNDING, x[k], false, e);
  }
}

/* eval --signs and --quantize: none, one or both. */
static int eval_signs(Result *besides, Bytes *said, const Settings *s, Trainer *t, Error *e) {
  Signs g; double x[ROUNDED][ROUNDING];
  if (s->signs && !signs(&g, &t->m, &t->data, s, s->eval_n, s->eval_T, e)) {
    if (said->size) bytes_print(said, e, "\n");
    signs_put(&g, besides, e);
    signs_text(&g, said, e);
    signs_free(&g);
  }
  if (!e->status && s->quantize
      && !quantize(x, &t->m, &t->data, s, s->eval_n, s->eval_T, e)) {
    if (said->size) bytes_print(said, e, "\n");
    for (int k = 0; k < ROUNDED; k++)
      for (int i = 0; i < ROUNDING; i++)
        if (k || i != R_MORE)
          put(besides, e, x[k][i], "quantize_%s_%s", ROUNDED_NAME[k], ROUNDING_COLUMNS[i].name);
    quantize_text(x, s->quantize, said, e);
  }
  return e->status;
}

/* -------------------------------------------------------------------------------------------------
 * 4  A cache that forgets
 *
 * Tokens are read one by one, and a block keeps of each its key and value. When W keys are there
 * the one behind the first S goes: a token sees S sinks and the W - S latest keys, its own among
 * them. S = 0 is a window. x* is row 0, and so the first of the sinks: with it S = 4 keeps x* and
 * tokens 1 to 3. The column * is no key: it stays, and is not counted.
 *
 * Positions number the places of the cache, 0 .. W-1, or are those of the text:
 *
 *              in the cache                              in the text
 *   rotary     keys are kept unrotated, and rotated      each is rotated once, where it is read
 *              by their place as it changes
 *   relative,  b(places apart)                           b(tokens apart), to a sink too
 *   t5, alibi
 *   absolute,  p of its place when it is read: W-1       p of the token: learned ones end with the
 *   learned    once the cache is full                    context
 *
 * A window of the model's own goes by the same distances. The tokens of a prefix are read together,
 * since they see each other. The work is model_extend's: rows of Acts are places, past is how many
 * there are, and a row that is read finds its keys before it. Mamba blocks have no such cache.
 */
typedef struct Stream {
  Acts a;                      /* the first: stream_hide finds the rest behind it */
  Model *m; idx W, S, rows;    /* places; those that stay; in use */
  bool text; idx gone, N;      /* positions of the text; keys dropped so far; rows of the text */
  real *raw;                   /* [L,W,K*D] keys unrotated, or NULL */
  real *tables, *wpe;          /* positions of the text [N,..]; the model's own */
  real *cosine, *sine, *sinusoid;
} Stream;

static void stream_close(Stream *s) {
  if (s->m) s->m->w.wpe = s->wpe;
  acts_free(&s->a);
  free(s->raw); free(s->tables);
  *s = (Stream){0};
}

/* Acts.hide: what the model's own window and prefix hide, by the distances that hold here. */
static void stream_hide(const Acts *a, int l, idx b, idx i, idx lo, idx n, real *z) {
  const Stream *s = (const Stream *)(const void *)a;
  const Config *c = &s->m->c;
  const idx w = config_window(c, l), first = config_rows(c, 1) - 1;
  const idx kept = s->gone ? at_most(s->S, first + c->prefix) : first + c->prefix;
  (void)b;
  for (idx j = lo; w && j < lo + n; j++) {
    idx apart = i - j + (s->text && j < s->S ? s->gone : 0);
    if (apart >= w && (j < first || j >= kept)) z[j - lo] = -INFINITY;
  }
}

/* A cache of W places, W <= config_rows(n), for a text of n tokens. */
static int stream_open(Stream *s, Model *m, idx W, idx S, bool text, int n, Error *e) {
  const Config *c = &m->c;
  const idx half = c->rotary_dims / 2, C = c->dim, Kw = c->kv_heads * c->head_dim;
  *s = (Stream){.m = m, .W = W, .S = S, .text = text, .N = config_rows(c, n), .wpe = m->w.wpe};
  const bool moves = W < s->N;
  if (acts_create(&s->a, m, 1, (int)(W - config_rows(c, 1) + 1), ACTS_KEYS, e)) return e->status;
  s->a.hide = stream_hide;
  if (moves && !text && s->a.cosine) s->raw = grab(c->layers * W * Kw, sizeof(real), e);
  if (moves && text && (s->a.cosine || s->a.sinusoid)) {
    s->tables = grab(s->N * (s->a.cosine ? 2 * half : C), sizeof(real), e);
    s->cosine = s->a.cosine ? s->tables : NULL;
    s->sine = s->a.cosine && s->tables ? s->tables + s->N * half : NULL;
    s->sinusoid = s->a.sinusoid ? s->tables : NULL;
    Acts all = {.cosine = s->cosine, .sine = s->sine, .sinusoid = s->sinusoid};
    if (!e->status) positions_tabulate(c, &all, (int)s->N);
  }
  if (e->status) stream_close(s);
  return e->status;
}

/* The key behind the sinks goes, and the later ones move down a place. */
static void stream_drop(Stream *s) {
  const Config *c = &s->m->c;
  const idx Kw = c->kv_heads * c->head_dim, later = s->rows - s->S - 1, at = s->S * Kw;
  for (int l = 0; l < c->layers; l++) {
    const LayerActs *la = &s->a.layer[l];
    memmove(la->v + at, la->v + at + Kw, (size_t)(later * Kw) * sizeof(real));
    if (s->raw) {
      real *raw = s->raw + l * s->W * Kw + at;
      memmove(raw, raw + Kw, (size_t)(later * Kw) * sizeof(real));
      copy(la->k + at, raw, later * Kw);
      s->a.past = s->S;
      rotate(c, &s->a, la->k + at, later, later, c->kv_heads, 1);
      if (la->fk != la->k)
        kernel_forward(c, &s->m->w.layer[l], la->fk + at, la->hk, la->k + at, later * c->kv_heads);
    } else memmove(la->fk + at, la->fk + at + Kw, (size_t)(later * Kw) * sizeof(real));
  }
  s->rows--;
  s->gone++;
}

/* Of the text: token row `gone` places on reads its own p and angle; sinks are that much farther. */
static void stream_positions(Stream *s) {
  const Config *c = &s->m->c;
  const idx half = c->rotary_dims / 2, width = 2 * s->a.N - 1;
  if (!s->text || !s->gone) return;
  if (s->cosine) s->a.cosine = s->cosine + s->gone * half, s->a.sine = s->sine + s->gone * half;
  if (s->sinusoid) s->a.sinusoid = s->sinusoid + s->gone * c->dim;
  if (c->pos == POS_LEARNED) s->m->w.wpe = s->wpe + s->gone * c->dim;
  for (int h = 0; s->a.bias && h < c->heads; h++)
    for (idx j = 0; j < s->S; j++)
      s->a.bias[h * width + s->a.N - 1 + j - s->rows] =
          (real)distance_bias(s->m, h, s->rows + s->gone - j);
}

/* Reads tokens ids [n]: one, or first of all a prefix. Their rows are a.nf's. Returns how many. */
static idx stream_read(Stream *s, const int *ids, int n) {
  const Config *c = &s->m->c;
  const idx Kw = c->kv_heads * c->head_dim;
  while (s->rows + n > s->W) stream_drop(s);
  s->a.past = s->rows;
  stream_positions(s);
  const idx R = forward_begin(s->m, &s->a, ids, 1, n);
  for (int l = 0; l < c->layers; l++) {
    block_forward(s->m, &s->a, l, 1, R);
    if (!s->raw) continue;
    real *raw = s->raw + (l * s->W + s->rows) * Kw;
    copy(raw, s->a.layer[l].k + s->rows * Kw, R * Kw);
    rotate(c, &s->a, raw, R, R, c->kv_heads, -1);
  }
  forward_end(s->m, &s->a, 1, R);
  s->rows += R;
  return R;
}

/* -------------------------------------------------------------------------------------------------
 * 5  Its policies, token by token
 *
 * loss [n] is -log p of token t + 1 from the cache at token t, -1 where a prefix leaves it unscored.
 */
typedef struct Policy {
  const char *cache, *positions;
  bool all, sinks, text, anew; /* keeps all; keeps S; positions of the text; without a cache */
} Policy;
static const Policy POLICIES[] = {
  {.cache = "dense", .positions = "text", .all = true}, {.cache = "window", .positions = "cache"},
  {.cache = "sink+window", .positions = "cache", .sinks = true},
  {.cache = "sink+window", .positions = "text", .sinks = true, .text = true},
  {.cache = "recompute", .positions = "cache", .anew = true},
  {.cache = "window", .positions = "text", .text = true}};
enum { POLICIES_ALL = 4, POLICY_ANEW = 4, POLICIES_KNOWN = 6 };

/* Rows that wait in a.slice for their logits, of tokens `token`. */
typedef struct Waiting { Model *m; Acts *a; const int *targets; double *loss; idx n, token[SLICE]; }
    Waiting;

static void waiting_end(Waiting *w) {
  const idx V = w->m->c.vocab;
  model_logits(w->m, w->a, w->a->slice, w->n, w->a->logits);
  PARALLEL
  for (idx r = 0; r < w->n; r++)
    w->loss[w->token[r]] = cross_entropy(V, w->a->logits + r * V, w->targets[w->token[r]], NULL);
  w->n = 0;
}

static void waiting_add(Waiting *w, idx token, const real *nf) {
  if (w->n == SLICE) waiting_end(w);
  copy(w->a->slice + w->n * w->m->c.dim, nf, w->m->c.dim);
  w->token[w->n++] = token;
}

/* The control without a cache (window with re-computation): every token ends a forward of its own
 * over the last W rows, x* among them; the first of these forwards scores all of its tokens. */
static int recomputed(double *loss, Model *m, const int *ids, const int *targets, int n, idx W,
                      Error *e) {
  enum { BATCH = 8 };
  const Config *c = &m->c;
  const idx N = at_most(W, config_rows(c, n)), C = c->dim;
  const int T = (int)(N - config_rows(c, 1) + 1), x = (int)N - T;
  Acts a;
  int *rows = grab((idx)BATCH * T, sizeof(int), e);
  if (!e->status && !acts_create(&a, m, BATCH, T, ACTS_ONE, e)) {
    Waiting w = {.m = m, .a = &a, .targets = targets, .loss = loss};
    model_forward(m, &a, ids, 1, T);
    for (int t = 0; t < T; t++) if (t + 1 >= c->prefix) waiting_add(&w, t, a.nf + (x + t) * C);
    for (int t = T; t < n; t += BATCH) {
      const int B = (int)at_most(n - t, BATCH);
      for (int b = 0; b < B; b++)
        memcpy(rows + (idx)b * T, ids + t + b - T + 1, (size_t)T * sizeof(int));
      model_forward(m, &a, rows, B, T);
      for (int b = 0; b < B; b++) waiting_add(&w, t + b, a.nf + ((b + 1) * N - 1) * C);
    }
    waiting_end(&w);
    model_fault(m, e);
    acts_free(&a);
  }
  free(rows);
  return e->status;
}

/* One policy over ids, targets [n]. */
static int stream(double *loss, Model *m, const int *ids, const int *targets, int n,
                  const Policy *p, idx W, idx S, Error *e) {
  const Config *c = &m->c;
  const idx all = config_rows(c, n);
  Stream s;
  for (int t = 0; t < n; t++) loss[t] = -1;
  if (p->anew) return recomputed(loss, m, ids, targets, n, W, e);
  if (p->all || W > all) W = all;
  if (stream_open(&s, m, W, p->sinks ? S : 0, p->text, n, e)) return e->status;
  Waiting w = {.m = m, .a = &s.a, .targets = targets, .loss = loss};
  for (int t = 0, got; t < n && !model_fault(m, e); t += got) {
    got = t || c->prefix < 2 ? 1 : (int)at_most(c->prefix, n);
    const idx R = stream_read(&s, ids + t, got);
    for (int i = 0; i < got; i++)
      if (t + i + 1 >= c->prefix) waiting_add(&w, t + i, s.a.nf + (R - got + i) * c->dim);
  }
  waiting_end(&w);
  stream_close(&s);
  return e->status;
}

/* Can it be done? Learned positions end with the context. */
static int stream_fits(const Config *c, const Policy *p, int n, idx W, idx S, Error *e) {
  const idx known = config_rows(c, c->context);
  idx least = config_rows(c, c->prefix > 1 ? c->prefix : 1);
  const bool far = (p->all || p->text) && config_rows(c, n) > known;
  if (p->all) W = at_most(W, known);
  if (c->pos == POS_LEARNED && (far || (W > known && config_rows(c, n) > known)))
    return fail(e, 2, "--cache %s: learned positions end with the context of %d tokens. Try: --n "
                "%d, or --positions cache", p->cache, c->context, c->context);
  if (p->sinks && least <= S) least = S + 1;
  return p->all || W >= least ? 0
       : fail(e, 2, "--cache-size %td: expected %td or more, for the sinks and what is read first. "
              "Try: --cache-size %td", W, least, least + 16);
}

/* -------------------------------------------------------------------------------------------------
 * 6  stream MODEL
 */
enum { DECADES = 8 };
/* Of the tokens' losses the mean, e to it, and the mean over tokens 1 .. 9, 10 .. 99, and so on. */
typedef struct Streamed { double loss, perplexity, at[DECADES]; } Streamed;

static Streamed streamed_of(const double *loss, int n) {
  Streamed x = {0};
  double sum[DECADES] = {0}, all = 0; int count[DECADES] = {0}, scored = 0;
  for (int t = 0; t < n; t++) {
    int decade = (int)log10(t + 1.5);
    if (loss[t] == -1) continue;
    sum[decade] += loss[t], count[decade]++;
    all += loss[t], scored++;
  }
  x.loss = scored ? all / scored : NAN;
  x.perplexity = exp(x.loss);
  for (int k = 0; k < DECADES; k++) x.at[k] = count[k] ? sum[k] / count[k] : NAN;
  return x;
}

/* Which policies are asked for: one, or the first four; and the fifth where it is cheap. */
static int policies_of(const Settings *s, const Model *m, int n, idx W, bool is[POLICIES_KNOWN],
                       Error *e) {
  static const char *const FLAGS[] = {"sinks", "cache-size"};
  const bool text = !strcmp(s->positions, "text");
  double cost = (double)n * (double)W; idx weights = 0;
  bool any = false, known = false;
  if (!text && strcmp(s->positions, "cache"))
    return fail(e, 2, "--positions %s: expected cache|text. Try: --positions text", s->positions);
  for (int k = 0; k < POLICIES_KNOWN; k++) {
    const bool same = POLICIES[k].text == text || POLICIES[k].all || POLICIES[k].anew;
    known = known || !strcmp(s->cache, POLICIES[k].cache);
    any = any || (is[k] = !strcmp(s->cache, POLICIES[k].cache) && same);
    for (int f = 0; f < 2 && is[k]; f++)
      if (s->given[option_find(FLAGS[f], s->groups) - OPTIONS]
          && (f ? POLICIES[k].all : !POLICIES[k].sinks))
        return fail(e, 2, "--%s: it changes nothing with --cache %s. Try: without it", FLAGS[f],
                    s->cache);
  }
  if (s->cache[0] && !known)
    return fail(e, 2, "--cache %s: expected one of dense|window|sink+window|recompute. Try: "
                "--cache sink+window", s->cache);
  for (int i = 0; i < m->n_tensors; i++) if (m->tensor[i].layer >= 0) weights += m->tensor[i].count;
  for (int k = 0; k < POLICIES_ALL && !any; k++) is[k] = true;
  if (!any) is[POLICY_ANEW] = cost * (double)weights < 1e11;
  return 0;
}

static void stream_head(const Trainer *t, const char *name, int n, idx W, int S, Bytes *out,
                        Error *e) {
  bytes_print(out, e, "%s on %s (%s), a text of %d tokens%s%s\nA cache of %td keys", name,
              t->data.name, t->data.read, n, *t->data.drawn ? ", " : "", t->data.drawn, W);
  bytes_print(out, e, ", %d of them sinks%s\n\n%-12s %-9s %8s %10s", S,
              t->m.c.sink_token ? " with x*" : "", "policy", "positions", "loss", "perplexity");
  for (int k = 0, from = 1; from <= n; k++, from *= 10) bytes_print(out, e, " %7d..", from);
  bytes_print(out, e, "\n");
}

/* A policy's line of the table, and of the files. */
static void stream_line(const Policy *p, const Streamed *x, int n, Measured *row, Bytes *out,
                        Error *e) {
  snprintf(row->label[0], sizeof row->label[0], "%s", p->cache);
  snprintf(row->label[1], sizeof row->label[1], "%s", p->positions);
  put(&row->all, e, n, "tokens");
  put(&row->all, e, x->loss, "loss");
  put(&row->all, e, x->perplexity, "perplexity");
  bytes_print(out, e, isnan(x->loss) ? "%-12s %-9s %8s %10s" : "%-12s %-9s %8.4f %10.2f", p->cache,
              p->positions, x->loss, x->perplexity);
  for (int k = 0, from = 1; from <= n; k++, from *= 10) {
    put(&row->all, e, x->at[k], "loss@%d", from);
    bytes_print(out, e, isnan(x->at[k]) ? " %9s" : " %9.4f", x->at[k]);
  }
  bytes_print(out, e, "\n");
}

/* The text: held tokens end to end, its first one as in training. */
static int stream_text(const Trainer *t, const Settings *s, int **ids, Error *e) {
  const int n = (int)at_most(s->how_many, (idx)t->data.held.size - 1);
  if (n < 2)
    return fail(e, 1, "%s: expected 3 held tokens, found %zu. Try: --valid 0.2", t->data.name,
                t->data.held.size);
  *ids = grab(2 * (idx)n, sizeof(int), e);
  if (*ids) data_held(&t->data, &s->data, 1, n, *ids, *ids + n, e);
  return n;
}

static int verb_cache(Settings *s, const char **words, int words_n, Error *e) {
  static const char *const LABEL[] = {"policy", "positions", NULL};
  Trainer t = {0}; Bytes out = {0};
  Measured *row = grab(POLICIES_KNOWN, sizeof *row, e);
  bool is[POLICIES_KNOWN] = {0}; int *ids = NULL, rows = 0, threads = workers();
  if (!words_n) return fail(e, 2, "stream: expected a model file. Try: %s stream out/model.ckpt",
                            s->program->name);
  if (results_ready(s, e) || open_model(s, words[0], INFINITY, &t, e)) goto end;
  const Config *c = &t.m.c;
  const idx W = s->cache_size ? s->cache_size : config_rows(c, c->context);
  if (config_attending(c) < c->layers)
    fail(e, 2, "stream: blocks of the Mamba mixer keep a state and no cache. Try: ./hf eval MODEL");
  if (e->status || open_data(s, &t, words[0], e)) goto end;
  const int n = stream_text(&t, s, &ids, e);
  double *loss = grab(n, sizeof(double), e);
  if (!e->status) policies_of(s, &t.m, n, W, is, e);
  if (!e->status) stream_head(&t, words[0], n, W, s->sinks, &out, e);
  if (c->dim < 512) set_workers(1);                        /* a row has no work for more */
  for (int k = 0; k < POLICIES_KNOWN && !e->status; k++) {
    Error unfit = {0};
    Streamed x = {.loss = NAN, .perplexity = NAN};
    double from = seconds();
    for (int i = 0; i < DECADES; i++) x.at[i] = NAN;
    if (!is[k]) continue;
    stream_fits(c, &POLICIES[k], n, W, s->sinks, &unfit);
    if (unfit.status && s->cache[0]) *e = unfit;
    else if (unfit.status) fprintf(stderr, "sink: %s\n", unfit.text);
    else if (!stream(loss, &t.m, ids, ids + n, n, &POLICIES[k], W, s->sinks, e))
      x = streamed_of(loss, n);
    if (!s->quiet && !e->status && !unfit.status)
      fprintf(stderr, "%s, positions of the %s: %.0f tokens a second\n", POLICIES[k].cache,
              POLICIES[k].positions, n / (seconds() - from));
    if (!e->status) stream_line(&POLICIES[k], &x, n, &row[rows++], &out, e);
  }
  set_workers(threads);
  free(loss);
  if (!e->status && !results_alone(s)) printf("%.*s", (int)out.size, (const char *)out.at);
  if (!e->status) rows_write(row, rows, LABEL, s, e);
end:
  for (int k = 0; k < rows; k++) result_free(&row[k].all);
  free(ids); free(row); bytes_free(&out); trainer_free(&t);
  return e->status;
}
