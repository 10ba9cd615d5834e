/* firstness.c - what decides when a sink comes: how many tokens the first one
 * is drawn from, or how well each of them tells that it is first; and whether a
 * null place is given or recognised.
 *
 * SPDX-License-Identifier: MIT
 *
 * Part of paper.c, which includes it behind onset.c. All of it is read from
 * finished results.
 *
 * Contents   1 Runs: N, q, and the onset at a threshold    2 Laws
 *            3 Tables
 */

/* -----------------------------------------------------------------------------
 * 1  Runs: N, q, and the onset at a threshold
 *
 * q is of the result (9.3 of sink.c). One from before it was kept has it from
 * text_q of another, by its N: q of N ordinary tokens follows from the text and
 * the context alone.
 *
 * Onsets at other thresholds than SHOWS are read from the curve, curve_times_1,
 * so no run was made for them. It has every look of a budget of 12M tokens,
 * every second of 24M, every fourth of 51M; HOLDS of those in a row find it. A
 * run that ended before is censored there, at 3 no sooner than its onset at 2.
 * Where that ended the run (+until, +rise), its end depends on its onset, though
 * the laws take the two to be independent: so at 3 they describe, and test
 * nothing. A run with fewer than 7 of these looks says nothing but at 2.
 * Half-rise: the first of HOLDS looks half way from even to the plateau, which
 * is the mean of the last quarter of the looks; only of a run that went on to
 * 1.9 times its onset or more.
 */
enum { AT_1_5, AT_2, AT_3, AT_HALF, THRESHOLDS };
static const char *const AT_HEADS[THRESHOLDS] = {
  "at 1.5", "at 2", "at 3", "half-rise"};
static const double AT_TIMES[THRESHOLDS] = {1.5, 2, 3, 0};

/* The context of a row; 0: its flags do not set it. */
static double context_of(const char *flags) {
  char word[32];
  flag_word(word, flags, "--context ");
  return strtod(word, NULL);
}

/* How many tokens a row draws its first from, and whether they are ordinary
 * ones, drawn evenly; `text` draws from all of tokenizer.bin, which every row
 * of the item has. NAN: it draws none. */
static double drawn_from(const Results *r, int row, bool *ordinary) {
  char word[32];
  flag_word(word, r->x->row[row].flags, "--first-tokens ");
  *ordinary = *word && !word[strspn(word, "0123456789")];
  if (!strcmp(word, "text"))
    return VOCAB_DEFAULT - 3;
  return isdigit((unsigned char)*word) ? strtod(word, NULL) : NAN;
}

/* text_q of a result at N; NAN where it has none. */
static double told_q(const Result *r, double N) {
  int n = 0, m = 0;
  double q = NAN;
  const double *count = result_find(r, "text_q_N", &n);
  const double *value = result_find(r, "text_q", &m);
  for (int i = 0; count && value && i < n && i < m; i++)
    if (count[i] == N)
      q = value[i];
  return q;
}

/* q of a run, NAN where nothing tells. */
static double run_q(const Results *r, int row, int seed) {
  static const char other[] = "--tokenizer ";
  const Row *rows = r->x->row;
  double q = results_number(r, row, seed, "q");
  bool ordinary;
  const double N = drawn_from(r, row, &ordinary);
  const double T = context_of(rows[row].flags);
  char word[32];
  flag_word(word, rows[row].flags, "--first-tokens ");
  const bool text = !strcmp(word, "text");
  for (int k = 0; isnan(q) && (ordinary || text) && k < r->x->rows * r->seeds;
       k++) {
    const int of = k / r->seeds;
    const Run *run = run_at(r, of, k % r->seeds + 1);
    if (run->state != RUN_HELD || context_of(rows[of].flags) != T ||
        !strstr(rows[of].flags, other) != !strstr(rows[row].flags, other))
      continue;
    if (text)
      return 1 / T;            /* the same for every token */
    q = told_q(&run->result, N);
  }
  return q > 0 && q <= 1 ? q : NAN;
}

/* The first of HOLDS looks in a row at `least` or more: 1 and its tokens;
 * -1 and a bound: the last look's, or the first's of those at the end
 * that find it, too few. */
static int curve_onset(const double *tokens, const double *times, int n,
                       double least, double *found) {
  Onset o = {0};
  for (int i = 1; i < n; i++)
    onset_see(&o, tokens[i], times[i], least);
  *found = o.looks ? o.from : tokens[n - 1];
  return o.looks == HOLDS ? 1 : -1;
}

/* What a run says of the onset at a threshold, as run_onset does. */
static int threshold_onset(const Results *r, int row, int seed, int at,
                           double *tokens) {
  if (at == AT_2)
    return run_onset(r, row, seed, ONSET_SINK, tokens);
  const Run *run = run_at(r, row, seed);
  double level = 0, seen;
  int n = 0, m = 0, is = run_onset(r, row, seed, ONSET_SINK, &seen);
  if (run->state != RUN_HELD)
    return 0;
  const double *when = result_find(&run->result, "curve_tokens", &n);
  const double *times = result_find(&run->result, "curve_times_1", &m);
  if (!when || !times || n != m || n < 8)
    return 0;
  if (at != AT_HALF) {
    int found = curve_onset(when, times, n, AT_TIMES[at], tokens);
    if (at == AT_3 && found < 0 && is && *tokens < seen)
      *tokens = seen;
    return found;
  }
  if (is < 1 || when[n - 1] < 1.9 * seen)
    return 0;
  for (int i = n - n / 4; i < n; i++)
    level += times[i] / (n / 4);
  return curve_onset(when, times, n, 1 + (level - 1) / 2, tokens);
}

/* -----------------------------------------------------------------------------
 * 2  Laws
 *
 *   log(tokens to the onset) = sum of coefficients times terms + sigma z
 *
 * with z normal and censored runs as in onset.c, 2. How many numbers a law has,
 * sigma and what is searched for among them, and its terms:
 *
 *   none     2   1
 *   N        3   1, log N
 *   N bent   5   1, log N, max(0, log N - log N*), with N* in steps of a
 *                quarter of an octave
 *   line     3   t0 + c N: 1, log(1 + N c / t0), the coefficient of the second
 *                being 1, with c / t0 in steps of a quarter of an octave
 *   q        3   1, log q
 *   q, N     4   1, log q, log N
 *
 * Compared by AICc = -2 log likelihood + 2 k + 2 k (k + 1) / (n - k - 1), shown
 * over the least of them; by `predicts`, the log likelihood of the rows whose
 * names begin with first- by a law that is fitted without them; and by `row
 * out`, where each row in turn is foretold by the law fitted to the others.
 * More is better of these two; a run that the law holds for impossible costs
 * MOST_LOST at the most. All leave out log sqrt(2 pi) an onset, which is the
 * same for every law.
 */
enum { LAW_NONE, LAW_N, LAW_BENT, LAW_LINE, LAW_Q, LAW_Q_N, LAWS };
static const char *const LAW_NAMES[LAWS] = {
  "none", "N", "N bent", "line in N", "q", "q and N"};
static const int LAW_TERMS[LAWS] = {1, 2, 3, 1, 2, 3};
static const int LAW_NUMBERS[LAWS] = {2, 3, 5, 3, 3, 4};
static const double MOST_LOST = 50;

/* Runs that have N, q and an onset or a bound of it. */
typedef struct Seen {
  int n, row[RUNS_MOST];
  double N[RUNS_MOST], q[RUNS_MOST], y[RUNS_MOST];   /* logarithms */
  bool censored[RUNS_MOST];
  bool new[RUNS_MOST];         /* of a row named first-.. */
} Seen;

static void seen_of(Seen *s, const Results *r, const Item *item, int at) {
  s->n = 0;
  for (int i = 0; i < item->count; i++) {
    const int row = r->x->shown[item->from + i].row;
    bool ordinary;
    const double N = drawn_from(r, row, &ordinary);
    for (int seed = 1; seed <= seeds_of(r, row) && s->n < RUNS_MOST; seed++) {
      double tokens, q = run_q(r, row, seed);
      const int is = threshold_onset(r, row, seed, at, &tokens);
      if (!is || !(N >= 1) || !(q > 0))
        continue;
      s->row[s->n] = row;
      s->N[s->n] = log(N);
      s->q[s->n] = log(q);
      s->y[s->n] = log(tokens);
      s->censored[s->n] = is < 0;
      s->new[s->n++] = !strncmp(r->x->row[row].name, "first-", 6);
    }
  }
}

/* A fitted law; `place`: N* of a bend, c / t0 of a line, as logarithms. */
typedef struct Plane {
  int kind;
  double place, at[TERMS], sigma, likelihood;
} Plane;

static void plane_terms(const Plane *p, double N, double q,
                        double term[TERMS]) {
  const bool by_q = p->kind == LAW_Q || p->kind == LAW_Q_N;
  term[0] = 1;
  term[1] = by_q ? q : N;
  term[2] = p->kind == LAW_BENT ? beyond(N, p->place) : N;
}

static double plane_offset(const Plane *p, double N) {
  return p->kind == LAW_LINE ? log1p(exp(N + p->place)) : 0;
}

static double plane_at(const Plane *p, double N, double q) {
  double term[TERMS], sum = plane_offset(p, N);
  plane_terms(p, N, q, term);
  for (int k = 0; k < LAW_TERMS[p->kind]; k++)
    sum += p->at[k] * term[k];
  return sum;
}

/* The points that differ to a law, to a line in N, where there are onsets. */
static int plane_points(const Plane *l, const Seen *s, const bool *but) {
  const int K = LAW_TERMS[l->kind] + (l->kind == LAW_LINE);
  int points = 0;
  for (int i = 0; i < s->n; i++) {
    double own[TERMS], other[TERMS];
    bool is = !(but && but[i]) && !s->censored[i];
    plane_terms(l, s->N[i], s->q[i], own);
    for (int k = 0; k < i && is; k++) {
      plane_terms(l, s->N[k], s->q[k], other);
      is = (but && but[k]) || s->censored[k] ||
           memcmp(own, other, (size_t)K * sizeof *own);
    }
    points += is;
  }
  return points;
}

/* At a given place; false where the runs do not determine it: too few onsets,
 * or at too few points. */
static bool plane_fit_at(Plane *l, const Seen *s, const bool *but) {
  const int K = LAW_TERMS[l->kind];
  Climb c = {.n = K + 1};
  double mean = 0;
  int onsets = 0;
  for (int i = 0; i < s->n; i++) {
    double term[TERMS], y = s->y[i] - plane_offset(l, s->N[i]);
    if (but && but[i])
      continue;
    plane_terms(l, s->N[i], s->q[i], term);
    climb_run(&c, term, y, s->censored[i]);
    mean += s->censored[i] ? 0 : y;
    onsets += !s->censored[i];
  }
  if (onsets <= K || plane_points(l, s, but) < K + (l->kind == LAW_LINE))
    return false;
  c.p[0] = mean / onsets;
  c.p[K] = 1;
  l->likelihood = climb_up(&c);
  l->sigma = 1 / c.p[K];
  for (int k = 0; k < K; k++)
    l->at[k] = c.p[k] * l->sigma;
  return isfinite(l->likelihood) && isfinite(l->sigma);
}

/* The likeliest law of a kind for the runs that `but` does not leave out. */
static bool plane_fit(Plane *best, const Seen *s, int kind, const bool *but) {
  const bool bent = kind == LAW_BENT, line = kind == LAW_LINE;
  const double from = bent ? log(2) : -12, to = bent ? log(1024) : 4;
  *best = (Plane){.kind = kind, .likelihood = -INFINITY};
  if (!bent && !line)
    return plane_fit_at(best, s, but);
  for (double place = from; place <= to + 1e-9; place += log(2) / 4) {
    Plane now = {.kind = kind, .place = place};
    if (plane_fit_at(&now, s, but) && now.likelihood > best->likelihood)
      *best = now;
  }
  return isfinite(best->likelihood);
}

static double plane_aicc(const Plane *l, int n) {
  const double k = LAW_NUMBERS[l->kind];
  if (n > k + 1)
    return 2 * (k - l->likelihood) + 2 * k * (k + 1) / (n - k - 1);
  return NAN;
}

/* The log likelihood of the runs that were left out. */
static double plane_foretells(const Plane *l, const Seen *s, const bool *out) {
  double sum = 0;
  for (int i = 0; i < s->n; i++) {
    if (!out[i])
      continue;
    const double u = (s->y[i] - plane_at(l, s->N[i], s->q[i])) / l->sigma;
    if (s->censored[i])
      sum += fmax(-MOST_LOST, log_above(u));
    else
      sum += fmax(-MOST_LOST, -log(l->sigma) - u * u / 2);
  }
  return sum;
}

/* Each row foretold by the law of the others; NAN where one cannot be. */
static double plane_row_out(const Seen *s, int kind) {
  bool out[RUNS_MOST] = {false};
  double sum = 0;
  for (int i = 0; i < s->n; i++) {
    Plane l;
    if (i && s->row[i] == s->row[i - 1])
      continue;
    for (int k = 0; k < s->n; k++)
      out[k] = s->row[k] == s->row[i];
    if (!plane_fit(&l, s, kind, out))
      return NAN;
    sum += plane_foretells(&l, s, out);
  }
  return sum;
}

/* A law N, q or q and N, the coefficient whose interval is asked, and room. */
typedef struct PlaneHeld {
  const Plane *law;
  const Seen *seen;
  int k;
  Seen *room;
} PlaneHeld;

/* Twice what the likelihood with the coefficient held is below the law's: its
 * term goes into y, and the law without it is fitted. */
static double plane_falls(void *context, double value) {
  const PlaneHeld *h = context;
  const Seen *s = h->seen;
  const bool by_q = h->law->kind != LAW_N && h->k == 1;
  Plane at = {.kind = LAW_NONE};
  if (h->law->kind == LAW_Q_N)
    at.kind = by_q ? LAW_N : LAW_Q;
  *h->room = *s;
  for (int i = 0; i < s->n; i++)
    h->room->y[i] -= value * (by_q ? s->q[i] : s->N[i]);
  if (!plane_fit_at(&at, h->room, NULL))
    return INFINITY;
  return 2 * (h->law->likelihood - at.likelihood);
}

/* The 95 % interval of coefficient k of such a law by its profile, as
 * law_interval has it; NAN where there is no memory. */
static void plane_interval(const Plane *l, const Seen *s, int k, double *low,
                           double *high) {
  const double nu = fmax(1, s->n - LAW_NUMBERS[l->kind] + 1);
  const double t = student_quantile(1 - LEVEL / 2, nu);
  const double reach = s->n * log1p(t * t / nu);
  PlaneHeld held = {l, s, k, malloc(sizeof *s)};
  *low = *high = NAN;
  if (held.room)
    profile_ends(plane_falls, &held, l->at[k], reach, low, high);
  free(held.room);
}

/* -----------------------------------------------------------------------------
 * 3  Tables */

/* "1.66M q^-1.33 [..] N^0.12 [0.02, 0.22]". */
static void plane_text(char *to, size_t room, const Plane *l, const Seen *s) {
  static const char *const names[LAWS][TERMS] = {
    [LAW_N] = {"", "N"},
    [LAW_BENT] = {"", "N", "(N/N*)"},
    [LAW_Q] = {"", "q"},
    [LAW_Q_N] = {"", "q", "N"}};
  const double at_1 = exp(l->at[0]) / 1e6;
  size_t n = (size_t)snprintf(to, room, "%.2fM", at_1);
  if (l->kind == LAW_LINE && n < room)
    snprintf(to + n, room - n, " + %.3fM N", at_1 * exp(l->place));
  for (int k = 1; k < LAW_TERMS[l->kind] && n < room; k++) {
    double low, high;
    char interval[80];
    n += (size_t)snprintf(to + n, room - n, " %s^", names[l->kind][k]);
    if (n >= room)
      return;
    if (l->kind == LAW_BENT)
      n += (size_t)snprintf(to + n, room - n, "%.2f", l->at[k]);
    else {
      plane_interval(l, s, k, &low, &high);
      if (isnan(low))
        snprintf(interval, sizeof interval, "%.2f", l->at[k]);
      else
        interval_text(interval, sizeof interval, l->at[k], low, high);
      n += (size_t)snprintf(to + n, room - n, "%s", interval);
    }
  }
  if (l->kind == LAW_BENT && n < room)
    snprintf(to + n, room - n, " beyond N* = %.0f", exp(l->place));
}

/* The row of a law: its AICc over the least, and how well it foretells; l is
 * NULL where the runs do not determine it. */
static void plane_cells(Cell *cell, const Plane *l, int kind, const Seen *s,
                        double least, bool new) {
  Plane old;
  snprintf(cell[0], CELL, "%s", LAW_NAMES[kind]);
  snprintf(cell[1], CELL, "%d", LAW_NUMBERS[kind]);
  if (!l) {
    snprintf(cell[2], CELL, "not determined");
    return;
  }
  snprintf(cell[2], CELL, "%.1f", plane_aicc(l, s->n) - least);
  if (new && plane_fit(&old, s, kind, s->new))
    snprintf(cell[3], CELL, "%.1f", plane_foretells(&old, s, s->new));
  const double out = plane_row_out(s, kind);
  if (!isnan(out))
    snprintf(cell[4], CELL, "%.1f", out);
  snprintf(cell[5], CELL, "%.2f", l->sigma);
}

/* The laws of the onset at a threshold, a line each. */
static void firstness_laws(Bytes *out, const Results *r, const Item *item,
                           int at, bool markdown, Error *e) {
  static const char *const heads[] = {
    "law", "numbers", "AICc, over the least", "predicts first-*", "a row out",
    "sigma"};
  Seen *s = grab(1, sizeof *s, e);
  Grid g = grid_make(LAWS, heads, 6, e);
  Plane law[LAWS];
  bool is[LAWS] = {false};
  int censored = 0, new = 0;
  double least = INFINITY;
  if (!e->status)
    seen_of(s, r, item, at);
  for (int k = 0; k < LAWS && !e->status; k++) {
    is[k] = plane_fit(&law[k], s, k, NULL) && !isnan(plane_aicc(&law[k], s->n));
    if (is[k])
      least = fmin(least, plane_aicc(&law[k], s->n));
  }
  for (int i = 0; !e->status && i < s->n; i++) {
    censored += s->censored[i];
    new += s->new[i];
  }
  for (int k = 0; k < LAWS && !e->status; k++)
    plane_cells(&g.cell[(k + 1) * ACROSS], is[k] ? &law[k] : NULL, k, s, least,
                new > 0);
  if (!e->status) {
    bytes_print(out, e,
                "\nOnset %s times even: %d runs, %d censored, %d of rows "
                "whose names begin with first-.\n\n",
                AT_HEADS[at], s->n, censored, new);
    grid_show(&g, out, markdown, e);
  }
  for (int k = 0; k < LAWS && !e->status && at == AT_2; k++) {
    char text[240];
    if (!is[k])
      continue;
    plane_text(text, sizeof text, &law[k], s);
    bytes_print(out, e, "%s%s%s: %s\n", k ? "" : "\n", markdown ? "- " : "  ",
                LAW_NAMES[k], text);
  }
  free(s);
  free(g.cell);
}

/* The geometric mean of a row's onsets at a threshold, into a cell. Returns it,
 * below 0 where it is a bound, NAN where there is none. The seeds that lack a
 * half-rise are the slow ones, so a row has it where none lacks it. */
static double threshold_cell(Cell to, const Results *r, int row, int at) {
  double sum = 0, tokens;
  int n = 0, all = 0, is = 1;
  for (int seed = 1; seed <= seeds_of(r, row); seed++) {
    all += threshold_onset(r, row, seed, AT_2, &tokens) != 0;
    const int one = threshold_onset(r, row, seed, at, &tokens);
    if (one) {
      sum += log(tokens);
      n++;
    }
    if (one < 0)
      is = -1;
  }
  if (!n || (at == AT_HALF && n < all))
    return NAN;
  million_text(to, CELL, is, exp(sum / n));
  return is * exp(sum / n);
}

/* Row by row: N, q, and the mean onsets at all thresholds. */
static void firstness_rows(Bytes *out, const Results *r, const Item *item,
                           bool markdown, Error *e) {
  static const char *const heads[] = {
    "row", "N", "q", "at 1.5", "at 2", "at 3", "half-rise",
    "unseen first, x even"};
  Grid g = grid_make(item->count, heads, 8, e);
  int kept = 1;
  for (int i = 0; i < item->count && !e->status; i++) {
    const int row = r->x->shown[item->from + i].row;
    Cell *cell = &g.cell[kept * ACROSS];
    bool ordinary;
    const double N = drawn_from(r, row, &ordinary);
    double q = NAN;
    for (int seed = 1; isnan(q) && seed <= seeds_of(r, row); seed++)
      q = run_q(r, row, seed);
    if (!row_begun(r, row))
      continue;
    snprintf(cell[0], CELL, "%s", r->x->row[row].name);
    if (N > 0)
      snprintf(cell[1], CELL, "%.0f", N);
    if (q > 0)
      snprintf(cell[2], CELL, "%.3f", q);
    for (int at = 0; at < THRESHOLDS; at++)
      threshold_cell(cell[3 + at], r, row, at);
    ours(cell[7], r, row, "times_1@other", markdown);
    kept++;
  }
  if (!e->status) {
    g.rows = kept;
    bytes_print(out, e,
                "\nOnsets in million tokens, geometric means over seeds; > "
                "where a run is censored.\n\n");
    grid_show(&g, out, markdown, e);
  }
  free(g.cell);
}

/* Have all of a row's runs ended? */
static bool row_whole(const Results *r, int row) {
  int state[RUN_STATES] = {0};
  count_runs(r, row, seeds_of(r, row), state);
  return state[RUN_HELD] + state[RUN_DIVERGED] == seeds_of(r, row);
}

/* What firstness.txt foretells of pairs: sets matched in q, or at q = 1, and by
 * how much their means may differ. */
static const struct {
  const char *a, *b;
  double most;
} MATCHED[] = {
  {"first-absent-125", "onset-1", 2.5},
  {"first-absent-64", "onset-1", 2.5},
  {"first-absent-32", "onset-1", 2.5},
  {"first-absent-16", "onset-1", 2.5},
  {"first-absent-125", "first-absent-16", 2.5},
  {"first-q50-16", "first-q50-wide", 2},
  {"first-q20-16", "first-q20-wide", 2},
  {"first-2p-0", "first-2p-half", 2},
  {"first-2p-0", "first-2p-1", 2},
  {"first-2p-half", "first-2p-1", 2},
  {"onset-64", "first-q50-16", 2},
  {"onset-256", "first-q20-16", 2}};

/* What is said of a pair; far: it differs by more than it may, for certain even
 * where it is open. */
static const char *pair_says(const Results *r, int a, int b, bool open,
                             bool far) {
  if (open && far)
    return ": beyond it, but a run is censored";
  if (open)
    return ", not judged: a run is censored";
  if (!far)
    return "";
  if (row_whole(r, a) && row_whole(r, b))
    return ": falsified";
  return ": beyond it so far";
}

/* How many pairs are judged, and how many of these differ by more than they
 * may; the same of those that a censored run keeps from being judged. */
typedef struct PairCounts {
  int judged, beyond, open, open_beyond;
} PairCounts;

/* The pairs, a line each. */
static PairCounts firstness_pairs(Bytes *out, const Results *r, bool markdown,
                                  Error *e) {
  PairCounts all = {0};
  for (size_t i = 0; i < sizeof MATCHED / sizeof *MATCHED && !e->status; i++) {
    const int a = experiments_row(r->x, MATCHED[i].a);
    const int b = experiments_row(r->x, MATCHED[i].b);
    Cell one = "", other = "";
    if (a < 0 || b < 0)
      continue;
    const double x = threshold_cell(one, r, a, AT_2);
    const double y = threshold_cell(other, r, b, AT_2);
    if (isnan(x) || isnan(y))
      continue;
    const double ratio = fmax(fabs(x / y), fabs(y / x));
    /* one bound above the other mean makes the ratio a bound as well */
    const bool bound = (x < 0) != (y < 0) && x + y <= 0;
    const bool open = x < 0 || y < 0;
    const bool far = (!open || bound) && ratio > MATCHED[i].most;
    if (!all.judged && !all.open)
      bytes_print(out, e,
                  "\nThese onsets are predicted to lie near each other:\n%s",
                  markdown ? "\n" : "");
    all.judged += !open;
    all.beyond += far && !open;
    all.open += open;
    all.open_beyond += far && open;
    Cell apart = "?";          /* two bounds, or one below the other mean */
    if (!open || bound)
      snprintf(apart, sizeof apart, "%s%.2f", bound ? ">" : "", ratio);
    bytes_print(out, e, "%s%s %s, %s %s: %s times, of at most %.1f%s\n",
                markdown ? "- " : "", MATCHED[i].a, one, MATCHED[i].b, other,
                apart, MATCHED[i].most, pair_says(r, a, b, open, far));
  }
  return all;
}

/* Item firstness: its rows, the laws at three thresholds, and the pairs. */
static int firstness_text(Bytes *out, const Results *r, const Item *item,
                          bool markdown, Error *e) {
  Bytes line = {0};
  firstness_rows(out, r, item, markdown, e);
  for (int at = AT_1_5; at <= AT_3; at++)
    firstness_laws(out, r, item, at, markdown, e);
  bytes_print(out, e, "\n");
  bytes_print(&line, e,
              "A law gives the median of a lognormal onset; a run without a "
              "sink counts as later (firstness.c). numbers: how many are "
              "fitted. predicts: the log likelihood of the rows whose names "
              "begin with first- by the law fitted without them; a row out: "
              "of each row by the others', "
              "both but for a constant. More is better of these two. At 3 many "
              "runs were ended by their own onset at 2, which the laws take "
              "for chance. half-rise: half way from even to the mean of the "
              "last quarter, of a row whose seeds all have it.");
  wrapped(out, 0, WIDTH, "", &line, e);
  firstness_pairs(out, r, markdown, e);
  bytes_free(&line);
  return e->status;
}

/* The kinds of rows given-KIND-N with the null place of each; softmax's rows
 * are item onset's. */
enum { NULLS = 7, NULL_NS = 4 };
static const char *const NULL_KINDS[NULLS][2] = {
  {"onset", "softmax, token 1"},
  {"k", "K bias, *"},
  {"logit", "learned logit, *"},
  {"zero", "zero logit, *"},
  {"xsa", "XSA, diagonal"},
  {"token", "sink token, x*"},
  {"sigmoid", "sigmoid, token 1"}};

/* Which onset is that of kind k's null: softmax's null is its sink. */
static int null_of(int k) { return k ? ONSET_NULL : ONSET_SINK; }

/* Finds the row of kind k with the first token from 1, 16, 256, or the text's
 * own (at = 0 .. 3). Returns what row_onset does. */
static int null_onset(const Results *r, int k, int at, int *row, double *mean) {
  static const char *const places[NULL_NS] = {"1", "16", "256", "text"};
  const char *place = places[at];
  char name[64];
  if (!k && at == NULL_NS - 1)
    place = "natural";         /* item onset's row of that name */
  snprintf(name, sizeof name, k ? "given-%s-%s" : "%s-%s", NULL_KINDS[k][0],
           place);
  *row = experiments_row(r->x, name);
  if (*row < 0)
    return 0;
  return row_onset(r, *row, null_of(k), mean);
}

/* Item given: the onset at the null place by kind and N. */
static int given_text(Bytes *out, const Results *r, bool markdown, Error *e) {
  static const char *const heads[] = {
    "onset at the null, million tokens", "N = 1", "N = 16", "N = 256",
    "natural text", "256 / 1", "text / 1"};
  Grid g = grid_make(NULLS, heads, 7, e);
  int kept = 1;
  for (int k = 0; k < NULLS && !e->status; k++) {
    double mean[NULL_NS];
    int is[NULL_NS], row;
    bool any = false;
    Cell *cell = &g.cell[kept * ACROSS];
    snprintf(cell[0], CELL, "%s", NULL_KINDS[k][1]);
    for (int p = 0; p < NULL_NS; p++) {
      is[p] = null_onset(r, k, p, &row, &mean[p]);
      if (is[p]) {
        onset_cell(cell[1 + p], r, row, null_of(k));
        any = true;
      }
      if (p < 2 || !is[0] || !is[p] || is[0] + is[p] < 0)
        continue;
      snprintf(cell[3 + p], CELL, "%s%.2f", bound_mark(is[p], is[0]),
               mean[p] / mean[0]);
    }
    kept += any;
  }
  if (!e->status) {
    g.rows = kept;
    bytes_print(out, e, "\n");
    grid_show(&g, out, markdown, e);
  }
  free(g.cell);
  return e->status;
}

/* Item large: each claim beside the one of its name less large-, which the
 * small model has. */
static int large_text(Bytes *out, const Results *r, const Item *item,
                      bool markdown, Error *e) {
  static const char *const heads[] = {
    "claim", "small", "by", "ten times larger", "by"};
  const Experiments *x = r->x;
  const int of = (int)(item - x->item);
  Grid g = grid_make(x->claims, heads, 5, e);
  int kept = 1;
  for (int i = 0; i < x->claims && !e->status; i++) {
    if (x->claim[i].item != of || strncmp(x->claim[i].name, "large-", 6))
      continue;
    Cell *cell = &g.cell[kept++ * ACROSS];
    const int small = entry_of(x->claim, x->claims, sizeof *x->claim,
                               x->claim[i].name + 6);
    snprintf(cell[0], CELL, "%s", x->claim[i].name + 6);
    for (int k = 0; k < 2; k++) {
      const int claim = k ? i : small;
      if (claim < 0)
        continue;
      const Judged *j = &r->judged[claim];
      snprintf(cell[1 + 2 * k], CELL, "%s", verdict_text(j));
      if (!isnan(j->estimate))
        snprintf(cell[2 + 2 * k], CELL, "%.3f", j->estimate);
    }
  }
  if (!e->status) {
    g.rows = kept;
    bytes_print(out, e,
                "\nBy how much each holds in its own direction. The larger "
                "model's first token is one of 16,\nas the small one's of "
                "prefix-shifts; in the others the small one's is fixed.\n\n");
    grid_show(&g, out, markdown, e);
  }
  free(g.cell);
  return e->status;
}

/* Below an item's rows, of those that have more to say. */
static int item_more(Bytes *out, const Results *r, const Item *item,
                     bool markdown, Error *e) {
  if (!strcmp(item->name, "onset"))
    return onset_law(out, r, item, markdown, e);
  if (!strcmp(item->name, "firstness"))
    return firstness_text(out, r, item, markdown, e);
  if (!strcmp(item->name, "given"))
    return given_text(out, r, markdown, e);
  if (!strcmp(item->name, "large"))
    return large_text(out, r, item, markdown, e);
  return e->status;
}
