/* known.c - how is the first token known? Which block tells, and what makes a
 * row the first.
 *
 * SPDX-License-Identifier: MIT
 *
 * Part of pages.c, which includes it. onset.c says when a model knows its first
 * token; here is how.
 *
 * Row 1 sees itself alone, and two blocks are enough to make a sink of that
 * (the position-zero circuit, arXiv 2603.06591): so a row T that is made to see
 * itself alone should draw the sink too. Tokens that were first in training and
 * tokens that never were tell whether that needs memory, and a row that sees
 * token 1 alone whether it must be itself.
 *
 * Contents   1 Tokens that were first, and others
 *            2 eval --isolate: a row that sees itself alone
 *            3 Ranks and a linear probe    4 eval --probe: which block tells
 *            5 What eval says of it
 */

/* -----------------------------------------------------------------------------
 * 1  Tokens that were first, and others
 */
enum { WAS_FIRST, NEVER_FIRST, OF_TEXT, TOKENS_AT };
static const char *const TOKENS_SAY[TOKENS_AT] = {
  "first in training", "never first", "the text's"};
static const char *const TOKENS_NAME[TOKENS_AT] = {"seen", "other", "text"};

/* What a training drew its first token from (--first-tokens, or
 * <|fix|>), and the rest. */
typedef struct Firsts {
  Data of[OF_TEXT];            /* the data of s, but for `first` */
  bool is[TOKENS_AT];          /* is there such a token? */
  Source source;               /* with first tokens as in training */
} Firsts;

static void firsts_close(Firsts *f) {
  for (int k = 0; k < OF_TEXT; k++)
    free(f->of[k].first);
}

/* d with the first tokens that s draws, its own; `first` is NULL where there
 * are none to draw. */
static int firsts_draw(Data *to, const Data *d, const Source *s, int T,
                       Error *e) {
  *to = *d;
  to->first = NULL;
  to->draw = NULL;
  to->draws = 0;
  if (first_open(to, s, T, e)) {
    free(to->first);
    to->first = NULL;
    to->draw = NULL;
  }
  return e->status;
}

/* The data for each kind of token. On success firsts_close must follow. */
static int firsts_open(Firsts *f, const Data *d, const Source *s,
                       const char *flag, Error *e) {
  /* as in training; "" where --ids are read as they are */
  char own[sizeof s->first_tokens] = "";
  if (s->first_tokens[0])
    snprintf(own, sizeof own, "%s",
             s->first_own[0] ? s->first_own : s->first_tokens);
  *f = (Firsts){.source = *s, .is = {[OF_TEXT] = true}};
  for (int k = 0; k < OF_TEXT; k++) {
    snprintf(f->source.first_own, sizeof own, "%s", own);
    snprintf(f->source.first_tokens, sizeof own, "%s",
             k == NEVER_FIRST && *own ? "other" : own);
    /* it fails where there are no others: they are not looked at */
    firsts_draw(&f->of[k], d, &f->source, 0, &(Error){0});
  }
  snprintf(f->source.first_tokens, sizeof own, "%s", own);
  f->is[WAS_FIRST] = fixed_at(&f->source) == 1;
  f->is[NEVER_FIRST] = f->of[NEVER_FIRST].first != NULL;
  if (fixed_at(&f->source) < 2)
    return 0;
  firsts_close(f);
  return fail(e, 2,
              "--%s: expected a model whose fixed token is token 1, found "
              "token %d. Try: one of --fix-token 1",
              flag, fixed_at(&f->source));
}

/* ids [n,T] of held sequences whose first token is of kind k. Returns how many
 * there are. */
static int firsts_feed(const Firsts *f, int k, int n, int T, int *ids,
                       Error *e) {
  int starts, got = 0, *targets = grab((idx)n * T, sizeof(int), e);
  if (targets)
    got = data_probe(&f->of[k], &f->source, INPUT_NATURAL, n, T, ids, targets,
                     &starts);
  free(targets);
  if (!got)
    none_held(&f->of[k], T, e);
  return got;
}

/* -----------------------------------------------------------------------------
 * 2  eval --isolate T: a row that sees itself alone
 *
 * In the first B blocks row T loses T-1 of its T keys. What it keeps is itself
 * or, as controls of the same budget, token 1, or a token drawn for each
 * sequence from 2 .. T-1. In item known a row that sees itself alone moves the
 * sink to T: alpha_T goes from 0.02 to 0.18 at N = 16, to 0.11 at 256. One that
 * sees a drawn token alone moves less of it: 0.03 and 0.05. So seeing little is
 * the lesser part. One that sees token 1 alone moves as much at N = 16, seven
 * tenths as much at 256. So the row need not see itself, but it must see
 * nothing beside one token that is known to come first.
 * * and x* stay visible: row 1 sees them too.
 */
enum { UNTOUCHED, ITSELF, ONLY_FIRST, ONLY_DRAWN, TREATMENTS };
static const char *const TREATED_SAYS[TREATMENTS] = {
  "all up to it", "itself alone", "token 1 alone", "a drawn one"};
static const char *const TREATED_NAME[TREATMENTS] = {
  "untouched", "itself", "token1", "drawn"};
enum { ISOLATED = 6 };
static const Column ISOLATED_COLUMNS[ISOLATED] = {
  {"alpha_1", "alpha_1", "%.3f",   7, 1},
  {"sink_1",  "Sink_1",  "%.1f%%", 7, 100},
  {"norm_1",  "norm_1",  "%.2f",   7, 1},
  {"alpha_t", "alpha_T", "%.3f",   7, 1},
  {"sink_t",  "Sink_T",  "%.1f%%", 7, 100},
  {"norm_t",  "norm_T",  "%.2f",   7, 1}};

/* Row `row` of sequence b sees in the first blocks, of rows `first`
 * and on, sees[b] alone. */
typedef struct Isolation {
  int blocks, first, row;
  const int *sees;
} Isolation;

/* Acts.hide: the keys lo .. lo + n - 1 of row i, of sequence b in block l, that
 * the row is not to see lose their score. */
static void isolate_hide(const Acts *a, int l, idx b, idx i, idx lo, idx n,
                         real *z) {
  const Isolation *x = a->isolation;
  for (idx j = 0; j < n && l < x->blocks && i == x->row; j++) {
    if (lo + j < x->first || lo + j == x->sees[b])
      continue;
    z[j] = -INFINITY;
  }
}

/* Of tokens 1 and T: alpha and Sink over the rows behind T, which see both
 * unless a window hides one, in 0..1; and the largest ratio over the blocks of
 * its row's norm to the mean norm of rows other than these two. */
typedef struct Isolated {
  int n;                       /* sequences */
  double even;                 /* alpha of even rows behind T */
  double x[TOKENS_AT][TREATMENTS][ISOLATED];
} Isolated;

/* What is worked on. */
typedef struct Isolating {
  Model *m;
  const Settings *s;
  Acts a;
  Isolation mask;
  int n, T, batch;
  int *ids;                    /* [n,T] */
  int *own;                    /* [n] the text's own tokens at T */
  int *sees[TREATMENTS];       /* [n] each */
  real *map;                   /* [batch,H,N,S] of a block */
  Probe *probe;                /* [L] */
  double *norm;                /* [L,N] summed over sequences */
} Isolating;

/* 2 where row T of --isolate T has no later row or does not see token 1, or
 * where input is not natural. */
static int isolate_check(const Settings *s, const Model *m, int T, Error *e) {
  const Config *c = &m->c;
  const int first = config_rows(c, T) - T, t = s->isolate, w = c->window;
  if (t >= T)
    return fail(e, 2,
                "--isolate %d: must be before the last token of --T %d. Try: "
                "--%s %d",
                t, T, T > 1 ? "isolate" : "T", T > 1 ? T / 2 : 64);
  if (s->input != INPUT_NATURAL)
    return fail(e, 2,
                "--isolate: works only on natural input. Try: --input natural");
  for (int l = 0; l < s->isolate_blocks && l < c->layers; l++)
    if (!visible(c, m->layer[l].window, first + t - 1, first))
      return fail(e, 2,
                  "--isolate %d: token 1 must be within its window of %d. Try: "
                  "--isolate %d",
                  t, w, w > 1 ? w : 1);
  return 0;
}

/* alpha of token 1 behind token t if every row spread its weight evenly. */
static double isolate_even(const Model *m, int T, int t) {
  const Config *c = &m->c;
  idx N = config_rows(c, T), first = N - T;
  double sum = 0;
  for (int l = 0; l < c->layers; l++)
    for (idx i = first + t; block_attends(m, l) && i < N; i++) {
      int window = m->layer[l].window;
      idx seen = keys_seen(c, window, N, i) + (c->extra != EXTRA_NONE);
      if (visible(c, window, i, first))
        sum += 1.0 / (double)seen;
    }
  return sum / blocks_attending(m) / (T - t);
}

/* Adds what B sequences show in a block that attends. A NaN is above no eps and
 * must not pass for no sink: it makes both numbers NaN. */
static void isolated_maps(const Isolating *w, int B, double *x) {
  const Config *c = &w->m->c;
  const idx N = config_rows(c, w->T), S = config_columns(c, w->T);
  const idx from = N - w->T + w->s->isolate;
  for (idx bh = 0; bh < (idx)B * c->heads; bh++)
    for (int k = 0; k < 2; k++) {
      idx column = S - w->T;
      if (k)
        column += w->s->isolate - 1;
      double share = 1.0 / (w->n * (double)c->heads * blocks_attending(w->m));
      double alpha = 0;
      for (idx i = from; i < N; i++)
        alpha += (double)w->map[(bh * N + i) * S + column] / (double)(N - from);
      x[3 * k] += share * alpha;
      x[3 * k + 1] += isfinite(alpha) ? share * (alpha > w->s->eps) : NAN;
    }
}

/* Norm of a row [N] over the mean of those from `first` on that are
 * neither it nor `but`. */
static double isolated_ratio(const double *norm, idx N, idx first, idx row,
                             idx but) {
  double sum = 0;
  idx n = 0;
  for (idx i = first; i < N; i++)
    if (i != row && i != but) {
      sum += norm[i];
      n++;
    }
  return n ? norm[row] * (double)n / sum : NAN;
}

/* All n sequences under one treatment. */
static int isolated_run(Isolating *w, int how, double *x, Error *e) {
  const Config *c = &w->m->c;
  const idx N = config_rows(c, w->T), first = N - w->T;
  const idx rows[2] = {first, w->mask.row};
  memset(w->norm, 0, (size_t)(c->layers * N) * sizeof *w->norm);
  w->a.hide = how == UNTOUCHED ? NULL : isolate_hide;
  for (int b0 = 0; b0 < w->n && !model_fault(w->m, e); b0 += w->batch) {
    int B = (int)at_most(w->n - b0, w->batch);
    w->mask.sees = w->sees[how] + b0;
    forward_begin(w->m, &w->a, w->ids + (idx)b0 * w->T, B, w->T);
    for (int l = 0; l < c->layers; l++) {
      block_forward(w->m, &w->a, l, B, N);
      if (block_attends(w->m, l))
        isolated_maps(w, B, x);
      for (idx i = 0; i < B * N; i++)
        w->norm[l * N + i % N] += length(c->dim, w->a.h + i * c->dim);
    }
  }
  for (int k = 0; k < 2; k++)
    for (int l = 0; l < c->layers; l++) {
      double ratio = isolated_ratio(w->norm + l * N, N, first, rows[k],
                                    rows[!k]);
      x[3 * k + 2] = larger(x[3 * k + 2], ratio);
    }
  return model_fault(w->m, e);
}

/* Room for n sequences of held text, these sequences, and what their rows T see
 * under each treatment. */
static int isolating_open(Isolating *w, const Firsts *f, int n, Error *e) {
  const Config *c = &w->m->c;
  const int T = w->T, first = config_rows(c, T) - T, t = w->s->isolate;
  const idx N = config_rows(c, T), S = config_columns(c, T);
  Rng rng = {hash64((uint64_t)w->s->train.seed, "isolate", 7)};
  w->ids = grab((idx)n * (T + TREATMENTS + 1), sizeof(int), e);
  w->norm = grab(c->layers * N, sizeof(double), e);
  w->probe = grab(c->layers, sizeof(Probe), e);
  w->batch = evaluation_batch(w->m, n, T, e);
  w->map = grab(w->batch * (idx)c->heads * N * S, sizeof(real), e);
  if (!e->status && !acts_create(&w->a, w->m, w->batch, T, ACTS_ONE, e))
    w->n = firsts_feed(f, WAS_FIRST, n, T, w->ids, e);
  if (e->status)
    return e->status;
  w->own = w->ids + (idx)n * T;
  for (int k = 0; k < TREATMENTS; k++)
    w->sees[k] = w->own + (k + 1) * (idx)n;
  for (int l = 0; l < c->layers; l++)
    w->probe[l].metric = w->map;
  for (int b = 0; b < w->n; b++) {
    w->own[b] = w->ids[(idx)b * T + t - 1];
    w->sees[ITSELF][b] = w->mask.row;
    w->sees[ONLY_FIRST][b] = w->sees[ONLY_DRAWN][b] = first;
    if (t > 2)
      w->sees[ONLY_DRAWN][b] += 1 + (int)rng_below(&rng, (uint64_t)t - 2);
  }
  return 0;
}

/* Tokens of kind k at T under every treatment; NAN where there are none. */
static void isolated_tokens(Isolating *w, const Firsts *f, int k,
                            double x[TREATMENTS][ISOLATED], Error *e) {
  const int t = w->s->isolate;
  for (int b = 0; b < w->n && f->is[k]; b++) {
    int *at = &w->ids[(idx)b * w->T + t - 1];
    if (k == OF_TEXT)
      *at = w->own[b];
    else
      *at = fixed_id(&f->of[k], HELD_SEED + (uint64_t)t, (uint64_t)b);
  }
  for (int how = 0; how < TREATMENTS && f->is[k] && !e->status; how++)
    isolated_run(w, how, x[how], e);
  for (int i = 0; !f->is[k] && i < TREATMENTS * ISOLATED; i++)
    x[i / ISOLATED][i % ISOLATED] = NAN;
}

/* Every token at T under every treatment, where evaluate has taken
 * sequences of T tokens. */
static int isolate(Isolated *out, Model *m, const Data *d, const Settings *s,
                   int n, int T, Error *e) {
  const int first = config_rows(&m->c, T) - T, t = s->isolate;
  Isolating w = {.m = m, .s = s, .T = T};
  Firsts f;
  w.mask = (Isolation){s->isolate_blocks, first, first + t - 1, NULL};
  *out = (Isolated){0};
  if (isolate_check(s, m, T, e) || firsts_open(&f, d, &s->data, "isolate", e))
    return e->status;
  isolating_open(&w, &f, n, e);
  out->n = w.n;
  w.a.probe = w.probe;
  w.a.isolation = &w.mask;
  const Seams seams = m->seams;
  rows_watch(m);
  if (m->seams.begin && !e->status)
    m->seams.begin(m, 3.0 * TREATMENTS * ((w.n + w.batch - 1) / w.batch), false,
                   s->quiet);
  for (int k = 0; k < TOKENS_AT && !e->status; k++)
    isolated_tokens(&w, &f, k, out->x[k], e);
  if (m->seams.end)
    m->seams.end(m, e);
  m->seams = seams;
  out->even = isolate_even(m, T, t);
  acts_free(&w.a);
  free(w.ids);
  free(w.norm);
  free(w.probe);
  free(w.map);
  firsts_close(&f);
  return e->status;
}

static int isolated_put(const Isolated *x, Numbers *r, Error *e) {
  put(r, e, x->even, "isolate_even");
  for (int k = 0; k < TOKENS_AT; k++)
    for (int how = 0; how < TREATMENTS; how++)
      for (int i = 0; i < ISOLATED; i++)
        put(r, e, x->x[k][how][i], "isolate_%s@%s:%s", ISOLATED_COLUMNS[i].name,
            TOKENS_NAME[k], TREATED_NAME[how]);
  return e->status;
}

static void isolated_text(const Isolated *x, const Settings *s, Bytes *out,
                          Error *e) {
  const int t = s->isolate;
  const int blocks = (int)at_most(s->isolate_blocks, s->model.layers);
  const int from = t > 2 ? 2 : 1, to = t > 2 ? t - 1 : 1;
  bytes_print(out, e,
              "Isolation of row %d in the first %d block%s: %d sequences of %d "
              "tokens, the first as in training\n%-18s %-13s",
              t, blocks, blocks == 1 ? "" : "s", x->n, s->eval_T, "token T",
              "its row sees");
  cells_line(out, ISOLATED_COLUMNS, ISOLATED, NULL, false, e);
  for (int k = 0; k < TOKENS_AT; k++)
    for (int how = 0; how < TREATMENTS; how++) {
      if (k < OF_TEXT && isnan(x->x[k][UNTOUCHED][0]) &&
          isnan(x->x[k][ITSELF][0]))
        continue;
      bytes_print(out, e, "%-18s %-13s", how ? "" : TOKENS_SAY[k],
                  TREATED_SAYS[how]);
      cells_line(out, ISOLATED_COLUMNS, ISOLATED, x->x[k][how], false, e);
    }
  bytes_print(out, e,
              "T is %d. alpha and Sink are over the rows after T; even rows give "
              "token 1 %.4f%s.\n"
              "norm: the row's norm over the mean of rows other than 1 and T, "
              "in the block where it is largest.\n"
              "Controls of the same budget, %d of %d keys lost: the row keeps "
              "token 1, or one drawn from %d .. %d\n"
              "(seed %d), in place of itself.\n",
              t, x->even,
              s->model.window ? "; a window hides it from some" : "", t - 1, t,
              from, to, s->train.seed);
}

/* -----------------------------------------------------------------------------
 * 3  Ranks and a linear probe
 *
 * AUC: how often a row of one class scores above a row of the other; 0.5 by
 * chance. The probe is least squares with ridge on labels +1 and -1, evenly
 * many, so it needs no bias:
 *
 *   min_w  sum over rows (y - w x)^2 + RIDGE |w|^2
 *   w = sum_r a_r x_r,   (X X^T + RIDGE I) a = y
 *
 * solved by rows, which are fewer than a large model's dims. x is the direction
 * of a state, h/|h|, less the mean and over the deviation of the rows it learns
 * from, dim by dim, over sqrt(C): so x is about 1 long, and knows nothing of
 * the norm.
 */
static const double RIDGE = 1;

/* 1 where a is above b, 1/2 where they are equal, else 0. */
static double is_above(double a, double b) {
  if (isnan(a) || isnan(b))
    return NAN;
  return a == b ? 0.5 : a > b;
}

/* Share of pairs in which one [n] is above other [m]; equal ones are half a
 * pair. NAN for no rows or a score that is no number. */
static double auc(const double *one, idx n, const double *other, idx m) {
  double above = 0;
  for (idx i = 0; i < n; i++)
    for (idx j = 0; j < m; j++)
      above += is_above(one[i], other[j]);
  return n && m ? above / ((double)n * (double)m) : NAN;
}

/* x [rows,C] to directions, as said above, by the mean and deviation of the
 * first n. A dim that does not vary there tells nothing: 0. */
static void probe_scale(double *x, idx rows, idx n, idx C) {
  for (idx r = 0; r < rows; r++) {
    double square = 0;
    for (idx c = 0; c < C; c++)
      square += x[r * C + c] * x[r * C + c];
    for (idx c = 0; c < C && square != 0; c++)
      x[r * C + c] /= sqrt(square);
  }
  for (idx c = 0; c < C; c++) {
    double mean = 0, square = 0, by = NAN;
    for (idx r = 0; r < n; r++)
      mean += x[r * C + c] / (double)n;
    for (idx r = 0; r < n; r++)
      square += (x[r * C + c] - mean) * (x[r * C + c] - mean) / (double)n;
    if (square > 1e-24)
      by = 1 / sqrt(square * (double)C);
    else if (square <= 1e-24)
      by = 0;
    for (idx r = 0; r < rows; r++)
      x[r * C + c] = (x[r * C + c] - mean) * by;
  }
}

static double inner(idx n, const double *x, const double *y) {
  double sum = 0;
  for (idx i = 0; i < n; i++)
    sum += x[i] * y[i];
  return sum;
}

/* low [n,n] becomes the L of X X^T + RIDGE I = L L^T (Cholesky), for
 * the first n rows of x. */
static void probe_factor(double *low, const double *x, idx n, idx C) {
  for (idx i = 0; i < n; i++)
    for (idx j = 0; j <= i; j++) {
      double rest = inner(C, x + i * C, x + j * C) -
                    inner(j, low + i * n, low + j * n);
      low[i * n + j] = i == j ? sqrt(rest + RIDGE) : rest / low[j * n + j];
    }
}

/* w [C] of labels y [n], which are lost. */
static void probe_fit(double *w, const double *low, const double *x, double *y,
                      idx n, idx C) {
  for (idx i = 0; i < n; i++)
    y[i] = (y[i] - inner(i, low + i * n, y)) / low[i * n + i];
  for (idx i = n - 1; i >= 0; i--) {
    for (idx j = i + 1; j < n; j++)
      y[i] -= low[j * n + i] * y[j];
    y[i] /= low[i * n + i];
  }
  memset(w, 0, (size_t)C * sizeof *w);
  for (idx i = 0; i < n; i++)
    for (idx c = 0; c < C; c++)
      w[c] += y[i] * x[i * C + c];
}

/* -----------------------------------------------------------------------------
 * 4  eval --probe: which block tells row 1
 *
 * n held sequences, with the first token as in training and once more with one
 * that was never first. At a drawn place of each, from 2 on, the next
 * sequence's first token is written: so the same tokens stand in row 1 and
 * later, and the token itself tells nothing (H^0 is the control of that under
 * rotary positions: chance). The probe learns from the first half of the
 * sequences with first tokens as in training; everything is judged on the other
 * half. Which norm is the first's, the larger or the smaller, and its
 * threshold, the middle of the two means, are learnt likewise.
 */
enum { PROBE_LEAST = 8, PROBE_MOST = 1000, NEIGHBOURS = 8 };
enum {
  T_NORM, T_RATIO, T_COSINE, T_LATER, T_NORM_AUC, T_NORM_RIGHT, T_AUC, T_RIGHT,
  T_SHUFFLED, KNOWS
};
static const Column KNOWS_COLUMNS[KNOWS] = {
  {"norm",     "|h_1|",            "%.2f",   8, 1},
  {"ratio",    "ratio\nto later",  "%.2f",   8, 1},
  {"cosine",   "cosine\nof h_1's", "%.2f",   8, 1},
  {"later",    "cosine\nof later", "%.2f",   8, 1},
  {"norm_auc", "norm\nAUC",        "%.3f",   8, 1},
  {"norm_acc", "norm\nright",      "%.1f%%", 7, 100},
  {"auc",      "probe\nAUC",       "%.3f",   8, 1},
  {"acc",      "probe\nright",     "%.1f%%", 7, 100},
  {"shuffled", "labels\nshuffled", "%.3f",   8, 1}};

/* Row 2 b + side of kind k lies at (k n + b) 2 + side: side 0 is token 1, side
 * 1 the later one. */
typedef struct Known {
  int n, half, L;              /* sequences; those learnt from; blocks */
  idx C, rows;                 /* dims; rows of all kinds */
  bool is[TOKENS_AT];
  real *h;                     /* [L+1,rows,C] */
  int *token;                  /* [OF_TEXT n] first tokens */
  double *x, *low, *y, *w;     /* [rows,C]; [2 half]^2; [2 half]; [C] */
  double *score, *norm, *flip; /* [rows] each */
  double (*told)[OF_TEXT][KNOWS];    /* [L+1] */
} Known;

static void known_free(Known *k) {
  free(k->h);
  free(k->token);
  free(k->x);
  free(k->low);
  free(k->told);
  *k = (Known){0};
}

/* Room for n sequences of each kind. */
static int known_room(Known *k, const Config *c, int n, Error *e) {
  idx rows = 2 * OF_TEXT * (idx)n, C = c->dim;
  *k = (Known){.n = n, .half = n / 2, .L = c->layers, .C = C, .rows = rows};
  k->h = grab((c->layers + 1) * rows * C, sizeof(real), e);
  k->token = grab(OF_TEXT * (idx)n, sizeof(int), e);
  k->told = grab(c->layers + 1, sizeof *k->told, e);
  k->low = grab((idx)n * n, sizeof(double), e);
  k->x = grab(rows * C + n + C + 3 * rows, sizeof(double), e);
  if (e->status) {
    known_free(k);
    return e->status;
  }
  k->y = k->x + rows * C;
  k->w = k->y + n;
  k->score = k->w + C;
  k->norm = k->score + rows;
  k->flip = k->norm + rows;
  return 0;
}

/* The states of kind k: rows 1 and `place` of every
 * sequence, after every block. */
static void known_gather(Known *k, int kind, Model *m, Acts *a, int *ids,
                         const int *place, int T, Error *e) {
  const idx N = config_rows(&m->c, T), first = N - T, C = k->C;
  for (int b = 0; b < k->n; b++)
    k->token[kind * k->n + b] = ids[(idx)b * T];
  for (int b = 0; b < k->n; b++)
    ids[(idx)b * T + place[b] - 1] = k->token[kind * k->n + (b + 1) % k->n];
  for (int b0 = 0; b0 < k->n && !model_fault(m, e); b0 += a->B) {
    int B = (int)at_most(k->n - b0, a->B);
    forward_begin(m, a, ids + (idx)b0 * T, B, T);
    for (int l = 0; l <= k->L; l++) {
      if (l)
        block_forward(m, a, l - 1, B, N);
      for (int i = 0; i < 2 * B; i++) {
        idx row = i / 2 * N + first;
        if (i % 2)
          row += place[b0 + i / 2] - 1;
        copy(k->h + (l * k->rows + 2 * ((idx)kind * k->n + b0) + i) * C,
             a->h + row * C, C);
      }
    }
  }
  model_fault(m, e);   /* of the last batch */
}

/* Mean cosine of rows of one side with those of the next sequences
 * that have another token. */
static double known_cosine(const Known *k, const real *h, int kind, int side) {
  double sum = 0;
  int pairs = 0;
  for (int b = 0; b < k->n; b++)
    for (int next = 1; next <= NEIGHBOURS; next++) {
      int of[2] = {b, (b + next) % k->n}, token[2];
      const real *at[2];
      for (int i = 0; i < 2; i++) {
        token[i] = k->token[kind * k->n + (of[i] + side) % k->n];
        at[i] = h + (2 * ((idx)kind * k->n + of[i]) + side) * k->C;
      }
      double both = length(k->C, at[0]) * length(k->C, at[1]);
      if (token[0] == token[1])
        continue;
      sum += (double)vec_dot(k->C, at[0], at[1]) / both;
      pairs++;
    }
  return pairs ? sum / pairs : NAN;
}

/* AUC of the judged half of a kind by `score`, and the share on the right side
 * of the threshold, a score at the threshold counting half. flip: which
 * sequences' labels are exchanged, or NULL. */
static double known_judge(Known *k, int kind, const double *score,
                          const double *flip, double threshold, double *right) {
  const int n = k->n - k->half;
  double *side[2] = {k->y, k->y + n}, sum = 0;   /* y is free again, [2 half] */
  for (int b = 0; b < n; b++)
    for (int i = 0; i < 2; i++) {
      double x = score[2 * ((idx)kind * k->n + k->half + b) + i];
      bool exchanged = flip && flip[k->half + b] > 0;
      side[i != exchanged][b] = x;
      sum += i ? is_above(threshold, x) : is_above(x, threshold);
    }
  const double area = auc(side[0], n, side[1], n);
  if (right)
    *right = isnan(area + threshold) ? NAN : sum / (2.0 * n);
  return area;
}

/* The probe's scores of every row, learnt from the first half, whose labels
 * `flip` exchanges. */
static void known_probe(Known *k, const double *flip) {
  const idx n = 2 * k->half;
  for (idx r = 0; r < n; r++)
    k->y[r] = (r % 2 == (flip && flip[r / 2] > 0)) ? 1 : -1;
  probe_fit(k->w, k->low, k->x, k->y, n, k->C);
  for (idx r = 0; r < k->rows; r++)
    k->score[r] = inner(k->C, k->w, k->x + r * k->C);
}

/* What the states after block l tell. */
static void known_block(Known *k, int l) {
  const real *h = k->h + l * k->rows * k->C;
  const idx n = 2 * k->half;
  double mean[2] = {0};
  for (idx r = 0; r < k->rows; r++)
    k->norm[r] = length(k->C, h + r * k->C);
  for (idx r = 0; r < n; r++)
    mean[r % 2] += k->norm[r] / k->half;
  const double sign = mean[0] < mean[1] ? -1 : 1;
  const double middle = sign * (mean[0] + mean[1]) / 2;
  for (idx i = 0; i < k->rows * k->C; i++)
    k->x[i] = (double)h[i];
  probe_scale(k->x, k->rows, n, k->C);
  probe_factor(k->low, k->x, n, k->C);
  known_probe(k, k->flip);
  double shuffled = known_judge(k, WAS_FIRST, k->score, k->flip, 0, NULL);
  known_probe(k, NULL);
  for (int kind = 0; kind < OF_TEXT; kind++) {
    double *told = k->told[l][kind], sum[2] = {0};
    for (int i = 0; i < KNOWS; i++)
      told[i] = NAN;
    if (!k->is[kind])
      continue;
    for (idx r = 0, at = 2 * (idx)kind * k->n; r < 2 * k->n; r++, at++) {
      sum[r % 2] += k->norm[at] / k->n;
      k->norm[at] *= sign;
    }
    told[T_NORM] = sum[0];
    told[T_RATIO] = sum[0] / sum[1];
    told[T_COSINE] = known_cosine(k, h, kind, 0);
    told[T_LATER] = known_cosine(k, h, kind, 1);
    told[T_NORM_AUC] = known_judge(k, kind, k->norm, NULL, middle,
                                   &told[T_NORM_RIGHT]);
    told[T_AUC] = known_judge(k, kind, k->score, NULL, 0, &told[T_RIGHT]);
    if (kind == WAS_FIRST)
      told[T_SHUFFLED] = shuffled;
  }
}

/* Which block tells: on success known_free must follow. */
static int known(Known *k, Model *m, const Data *d, const Settings *s, int n,
                 int T, Error *e) {
  Rng rng = {hash64((uint64_t)s->train.seed, "probe", 5)};
  Firsts f;
  Acts a = {0};
  if (n < PROBE_LEAST || n > PROBE_MOST || T < 2)
    return fail(e, 2,
                "--probe: expected %d to %d sequences of 2 tokens or more, found "
                "%d of %d. Try: --n 400 --T 64",
                PROBE_LEAST, PROBE_MOST, n, T);
  if (s->input != INPUT_NATURAL)
    return fail(e, 2,
                "--probe: works only on natural input. Try: --input natural");
  if (firsts_open(&f, d, &s->data, "probe", e))
    return e->status;
  int *ids = grab((idx)n * (T + 1), sizeof(int), e), *place = NULL, got = 0;
  if (ids) {
    place = ids + (idx)n * T;
    got = firsts_feed(&f, WAS_FIRST, n, T, ids, e);
  }
  int batch = evaluation_batch(m, n, T, e);
  if (!e->status && got < PROBE_LEAST)
    fail(e, 1,
         "--probe: expected %d held sequences, found %d. Try: a smaller --T, or "
         "a longer text", PROBE_LEAST, got);
  got = got / 4 * 4;   /* two halves, each of pairs: chapter 3 flips these */
  for (int b = 0; b < got; b++)
    place[b] = 2 + (int)rng_below(&rng, (uint64_t)T - 1);
  if (!e->status && !known_room(k, &m->c, got, e)) {
    acts_create(&a, m, batch, T, ACTS_ONE, e);
    if (m->seams.begin && !e->status)
      m->seams.begin(m, 2.0 * ((got + batch - 1) / batch), false, s->quiet);
    for (int kind = 0; kind < OF_TEXT && !e->status; kind++) {
      k->is[kind] = kind == WAS_FIRST || f.is[kind];
      if (kind != WAS_FIRST && k->is[kind])
        firsts_feed(&f, kind, got, T, ids, e);
      if (k->is[kind] && !e->status)
        known_gather(k, kind, m, &a, ids, place, T, e);
    }
    if (m->seams.end)
      m->seams.end(m, e);
    for (int b = 0; b < got; b++)
      if (b % 2)
        k->flip[b] = 1 - k->flip[b - 1];
      else
        k->flip[b] = (double)rng_below(&rng, 2);
    for (int l = 0; l <= k->L && !e->status; l++)
      known_block(k, l);
    if (e->status)
      known_free(k);
  }
  acts_free(&a);
  free(ids);
  firsts_close(&f);
  return e->status;
}

static void known_put(const Known *k, Numbers *r, Error *e) {
  for (int kind = 0; kind < OF_TEXT; kind++)
    for (int l = 0; l <= k->L && k->is[kind]; l++)
      for (int i = 0; i < KNOWS - (kind != WAS_FIRST); i++)
        put(r, e, k->told[l][kind][i], "probe_%s@%d%s", KNOWS_COLUMNS[i].name,
            l, kind == WAS_FIRST ? "" : ":other");
}

static void known_text(const Known *k, const Settings *s, Bytes *out,
                       Error *e) {
  for (int kind = 0; kind < OF_TEXT; kind++) {
    if (!k->is[kind])
      continue;
    if (kind == WAS_FIRST)
      bytes_print(out, e,
                  "Which block knows row 1 from later rows that hold the same "
                  "tokens: %d sequences of %d tokens,\n"
                  "the first as in training\n",
                  k->n, s->eval_T);
    else
      bytes_print(out, e,
                  "\nThe same with first tokens that were never first in "
                  "training\n");
    for (int below = 0; below < 2; below++) {
      bytes_print(out, e, "%-7s", below ? "" : "block");
      cells_line(out, KNOWS_COLUMNS, KNOWS - kind, NULL, below, e);
    }
    for (int l = 0; l <= k->L; l++) {
      bytes_print(out, e, "%-7d", l);
      cells_line(out, KNOWS_COLUMNS, KNOWS - kind, k->told[l][kind], false, e);
    }
  }
  bytes_print(out, e,
              "The probe: least squares on directions h / |h|, learnt from %d "
              "of these sequences, first tokens\n"
              "as in training, judged like the norm on the other %d. By "
              "chance: AUC 0.5, 50 %% right. Block 0: the\n"
              "embedding. Shuffled: rows exchanged in half of the sequences, "
              "in both halves (seed %d).\n",
              k->half, k->n - k->half, s->train.seed);
}

/* -----------------------------------------------------------------------------
 * 5  What eval says of it
 */

/* An empty line behind what is said already. */
static void said_apart(Bytes *said, Error *e) {
  if (said->size)
    bytes_add(said, "\n", 1, e);
}

/* eval --replace-position, --swap-position, --ablate, --isolate, --probe,
 * --signs, --quantize: none, one or all of them. */
static int eval_causes(Numbers *besides, Bytes *said, const Settings *s,
                       Trainer *t, const Sinks *seen, Error *e) {
  edited_put(besides, seen, s, e);
  edited_text(seen, s, said, e);
  if (s->ablate && eval_ablate(besides, said, s, t, e))
    return e->status;
  if (said->size && said->at[said->size - 1] == 0)
    said->size--;
  if (s->isolate) {
    Isolated x;
    if (isolate(&x, &t->m, &t->data, s, s->eval_n, s->eval_T, e))
      return e->status;
    said_apart(said, e);
    isolated_put(&x, besides, e);
    isolated_text(&x, s, said, e);
  }
  if (s->probe) {
    Known k;
    if (known(&k, &t->m, &t->data, s, s->eval_n, s->eval_T, e))
      return e->status;
    said_apart(said, e);
    known_put(&k, besides, e);
    known_text(&k, s, said, e);
    known_free(&k);
  }
  if (s->signs) {
    Signs g;
    said_apart(said, e);
    if (!signs(&g, &t->m, &t->data, s, s->eval_n, s->eval_T, e))
      signs_tell(&g, besides, said, e);
    signs_free(&g);
  }
  if (s->quantize && !e->status) {
    double x[ROUNDED][ROUNDING];
    said_apart(said, e);
    if (!quantize(x, &t->m, &t->data, s, s->eval_n, s->eval_T, e))
      quantize_tell(x, s->quantize, besides, said, e);
  }
  if (e->status || !said->size)
    return e->status;
  return bytes_add(said, "", 1, e);
}
