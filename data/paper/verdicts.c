/* verdicts.c - what a claim is judged by. Chapter 5 of paper.c.
 *
 * SPDX-License-Identifier: MIT
 */

/* -----------------------------------------------------------------------------
 * 5  Rules and verdicts
 *
 * What is judged is one number a seed and row, so n is the number of seeds, 3
 * to 5: tokens and sequences within a run are no independent trials of the
 * claim. Every interval is Student's, at 95 %: it takes the seeds to be normal,
 * which so few cannot show. Of onsets it is of tokens, not of their logarithms,
 * which onset.c's laws take to be normal. Pairs and orders are of the seeds
 * that all sides have. A claim is one of
 *
 *   differs   A < B by M. d = B - A (A - B for >): difference of the seeds'
 *             means, Welch's interval, which lets the sides spread unequally.
 *             Student's of the seeds' differences where both sides are of the
 *             same trainings (one row; one that goes on from the other) or are
 *             losses: a seed fixes the order of the data, which a loss follows.
 *             d_0 is d where there is no effect: 0 between rows. Beside a
 *             number it is d at what `from` says, or at 1 of times even and of
 *             a ratio, or else at the number. It is never above 0, so it is 0
 *             where the claim is that there is no effect.
 *       reproduced           p <= 0.05, the interval above 0, d >= M: not
 *                            chance, and large enough
 *       opposite             p <= 0.05, the interval below d_0, and
 *                            d <= d_0 - M
 *       weaker than claimed  the interval above d_0, all of it below M (below 0
 *                            for M = 0), and d a TENTH of the way from d_0 to M
 *       not reproduced       M > 0 or d_0 < 0, all of it below M, and no such
 *                            effect shown
 *   equal     A = B within M.  d = A - B, and the same interval.
 *       reproduced           p <= 0.05, and the whole interval inside (-M, M)
 *       not reproduced       the whole interval outside
 *   ordered   A < B < C .. For each seed Kendall's tau: over all pairs of rows,
 *             the share in the stated order less the share against it; a tie is
 *             neither, and so are two equal bounds (least_*) of one budget,
 *             whose order is not known. Student's interval of the seeds' mean.
 *       reproduced           p <= 0.05, the interval above 0, and the mean tau
 *                            >= TAU_COUNTS
 *       opposite             p <= 0.05, the interval below 0, and the mean tau
 *                            <= -TAU_COUNTS
 *       weaker than claimed  the whole interval above 0 and below TAU_COUNTS,
 *                            tau a TENTH of that
 *       not reproduced       the whole interval below TAU_COUNTS, and none of
 *                            these: no order, or a weak one against
 *   exact     the relation holds in every seed, give or take M: reproduced; one
 *             counterexample: not reproduced. It has no p: a coin would hold in
 *             three seeds one time in eight.
 *
 * and undecided otherwise. p is two-sided: the level whose interval would just
 * reach the number that decides, 0 (d_0 for d below it), or for equal the
 * nearer of -M and M. (Two one-sided tests of equality at 5 % each would ask
 * for an interval of 90 % only; the wider one serves every claim.) The more
 * claims and looks, the more chance finds: for headline claims p is Holm's,
 * over all of a corpus, tested or not; of a claim that says `twice` it is
 * doubled on a corpus of times N, the one that is looked at twice. Nothing is
 * corrected for other claims, even where they have five seeds since they share
 * a row with such a claim. It guards what is found; the plain interval says what is
 * too small to count.
 *
 * No spread: where every seed gives one value the interval is a point, p is 0
 * or 1, the values alone decide, and `why` says so. Equal values of both sides
 * are no difference: not reproduced. Not tested, hence undecided: one seed, a
 * run that is missing, diverged (but its measure `diverged` is 1) or void, a
 * number that is not there, or a need that the means over the seeds of both its
 * sides do not meet. A counterexample to an exact claim stands even where runs
 * are missing, those of its needs as well.
 */
typedef enum Verdict {
  UNDECIDED, REPRODUCED, WEAKER, NOT_REPRODUCED, OPPOSITE, VERDICT_KINDS
} Verdict;

/* What came of a claim; a number is NAN where there is none. n has the seeds of
 * either side, 0 of a number; an ordered or exact claim has n[0] alone. */
typedef struct Judged {
  Verdict verdict;
  bool tested;                 /* if not, `why` says what is amiss */
  bool unrun;                  /* runs are missing */
  double estimate;             /* difference of means, or mean tau */
  double low, high;            /* 95 % interval; exact: the range over seeds */
  double p, corrected;         /* two-sided */
  int n[2];
  char why[300];
} Judged;

/* A difference of means: its error, degrees of freedom and 95 % interval. */
typedef struct Estimate {
  double value, error, nu, low, high;
} Estimate;

static const double LEVEL = 0.05, TAU_COUNTS = 0.6, TENTH = 0.1;

/* I_x(a,b), the regularised incomplete beta function; y is 1 - x, given because
 * the difference would lose its digits. Its continued fraction (DLMF 8.17.22),
 *   I = x^a y^b / (a B(a,b)) / (1 + d_1 / (1 + d_2 / (1 + ..)))
 *   d_2m   = m (b-m) x / ((a+2m-1) (a+2m))
 *   d_2m+1 = -(a+m) (a+b+m) x / ((a+2m) (a+2m+1))
 * is evaluated from the inside out. It converges fast for
 * x < (a+1) / (a+b+2). */
static double beta_fraction(double x, double y, double a, double b) {
  enum { TERMS = 100 };   /* of either kind; the error is at student() */
  double f = 1;
  for (int m = TERMS; m >= 1; m--) {
    f = 1 - (a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)) / f;
    f = 1 + m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)) / f;
  }
  f = 1 - (a + b) * x / (a + 1) / f;
  double log_beta = lgamma(a) + lgamma(b) - lgamma(a + b);
  return exp(a * log(x) + b * log(y) - log_beta) / (a * f);
}

/* The same for every x: beyond that it is 1 - I_y(b,a). */
static double beta_share(double x, double y, double a, double b) {
  if (x <= 0 || y <= 0)
    return y <= 0;
  if (x <= (a + 1) / (a + b + 2))
    return beta_fraction(x, y, a, b);
  return 1 - beta_fraction(y, x, b, a);
}

/* P(T <= t) of Student's distribution with nu degrees of freedom, from
 *   P(|T| > t) = I_x(nu/2, 1/2), x = nu / (nu + t^2)
 * (DLMF 8.17; Abramowitz and Stegun 26.7.1). The error is below 1e-12, that of
 * a lower tail below 1e-11 of itself, for nu of 1 to 1000. */
static double student(double t, double nu) {
  double sum = nu + t * t;
  double tail = beta_share(nu / sum, t * t / sum, nu / 2, 0.5) / 2;
  return t < 0 ? tail : 1 - tail;
}

/* The t of which student(t, nu) is p, by bisection of the lower tail. */
static double student_quantile(double p, double nu) {
  double tail = p < 0.5 ? p : 1 - p, from = -1, to = 0;
  while (student(from, nu) > tail)
    from *= 2;
  for (int i = 0; i < 200; i++) {
    double middle = (from + to) / 2;
    if (student(middle, nu) > tail)
      to = middle;
    else
      from = middle;
  }
  return p < 0.5 ? from : -from;
}

/* Mean and the square of its standard error; of one number the error is 0. It
 * sums differences to the first, so equal numbers have variance exactly 0. */
static double mean_of(const double *x, int n, double *square) {
  double sum = 0, squares = 0;
  for (int i = 0; i < n; i++)
    sum += x[i] - x[0];
  double mean = x[0] + sum / n;
  for (int i = 0; i < n; i++)
    squares += (x[i] - mean) * (x[i] - mean);
  *square = n > 1 ? squares / (n - 1) / n : 0;
  return mean;
}

/* Welch (1947): the squared error e^2 = e_a^2 + e_b^2 is as well known as that
 * of a sample with
 *   nu = e^4 / (e_a^4 / (n_a - 1) + e_b^4 / (n_b - 1))
 * degrees of freedom (Satterthwaite 1946). With a number for a it is Student's:
 * e_a = 0, nu = n_b - 1. */
static Estimate welch(const double *a, int na, const double *b, int nb) {
  double ea, eb;   /* squared errors */
  double mean = mean_of(a, na, &ea), other = mean_of(b, nb, &eb);
  Estimate d = {.value = other - mean, .error = sqrt(ea + eb), .nu = 1};
  double parts = 0, half = 0;
  if (na > 1)
    parts += ea * ea / (na - 1);
  if (nb > 1)
    parts += eb * eb / (nb - 1);
  if (parts > 0)
    d.nu = (ea + eb) * (ea + eb) / parts;
  if (d.error > 0)
    half = d.error * student_quantile(1 - LEVEL / 2, d.nu);
  d.low = d.value - half;
  d.high = d.value + half;
  return d;
}

/* Two-sided p that the true value is `at`; without spread 1 or 0. */
static double estimate_p(const Estimate *d, double at) {
  if (!(d->error > 0))
    return d->value == at;
  return 2 * student(-fabs(d->value - at) / d->error, d->nu);
}

/* Holm (1979): the smallest p times m, the size of the family, the next one
 * times m - 1, .., none less than the one before it and none above 1. A NAN is
 * of another family, or not known yet: then it counts as the largest. */
static void holm(double *adjusted, const double *p, int n, int m) {
  for (int i = 0; i < n; i++) {
    adjusted[i] = isnan(p[i]) ? NAN : 0;
    for (int j = 0; j < n; j++) {
      int below = 0;
      if (!(p[j] <= p[i]))
        continue;
      for (int k = 0; k < n; k++)
        below += p[k] < p[j] || (p[k] == p[j] && k < j);
      adjusted[i] = fmax(adjusted[i], fmin(1, (m - below) * p[j]));
    }
  }
}

static const char *const VERDICT_NAMES[VERDICT_KINDS + 1] = {
  "undecided", "reproduced", "weaker than claimed", "not reproduced",
  "opposite", "not run yet"};

/* What is shown of a claim: its verdict, or behind all of these that it is not
 * run yet. */
static int verdict_shown(const Judged *j) {
  return j->unrun ? VERDICT_KINDS : (int)j->verdict;
}

static const char *verdict_text(const Judged *j) {
  return VERDICT_NAMES[verdict_shown(j)];
}

static bool related(double a, Relation relation, double b, double give) {
  switch (relation) {
  case LESS: return a < b + give;
  case GREATER: return a > b - give;
  case SAME: return fabs(a - b) <= give;
  case NOT_ABOVE: return a <= b + give;
  default: return a >= b - give;
  }
}

/* What a claim is judged by. */
typedef struct Case {
  const Experiments *x;
  const Claim *c;
  const double *value;         /* [side_count][seeds], NAN for no number */
  int seeds;
  const int *wanted;           /* [side_count] seeds; beyond, values are NAN */
} Case;

static double value_at(const Case *q, int k, int seed) {
  const Side *side = &q->c->side[k];
  return side->row < 0 ? side->number : q->value[k * q->seeds + seed];
}

static const char *side_text(char to[100], const Experiments *x,
                             const Side *side) {
  if (side->row < 0)
    snprintf(to, 100, "%g", side->number);
  else
    snprintf(to, 100, "%s.%s", x->row[side->row].name, side->measure);
  return to;
}

/* Appends to what the claim has to say, as far as there is room. */
static void why(Judged *j, const char *format, ...) {
  size_t n = strlen(j->why);
  va_list args;
  if (n)
    n += (size_t)snprintf(j->why + n, sizeof j->why - n, "; ");
  if (n >= sizeof j->why)
    return;
  va_start(args, format);
  vsnprintf(j->why + n, sizeof j->why - n, format, args);
  va_end(args);
}

/* The numbers that side k has, into to [seeds]; how many. A number is one. */
static int side_values(const Case *q, int k, double *to) {
  int n = 0, seeds = q->c->side[k].row < 0 ? 1 : q->seeds;
  for (int s = 0; s < seeds; s++) {
    to[n] = value_at(q, k, s);
    n += !isnan(to[n]);
  }
  return n;
}

/* Kendall's tau of one seed with the stated order, -1 to 1; NAN where a row has
 * no number. */
static double kendall(const Case *q, int seed) {
  int sum = 0, sides = q->c->sides;
  for (int i = 0; i < sides; i++)
    for (int k = i + 1; k < sides; k++) {
      double a = value_at(q, i, seed), b = value_at(q, k, seed);
      if (isnan(a) || isnan(b))
        return NAN;
      sum += (a < b) - (a > b);
    }
  double sign = q->c->relation == GREATER ? -1 : 1;
  return sign * sum / (sides * (sides - 1) / 2);
}

/* d_0 of a claim: no effect. Where the claim is that there is none, its border
 * is what counts. */
static double no_effect(const Claim *c) {
  int number = side_number(c);
  if (c->kind != CLAIM_DIFFERS || number < 0)
    return 0;
  const char *measure = c->side[!number].measure;
  double border = c->side[number].number, none = border;
  if (!isnan(c->from))
    none = c->from;
  else if (!strncmp(measure, "times_", 6) || strstr(measure, "_ratio"))
    none = 1;
  bool above = (number == 0) == (c->relation == LESS);
  return fmin(0, above ? none - border : border - none);
}

/* Are the sides compared seed by seed? */
static bool in_pairs(const Experiments *x, const Side *a, const Side *b) {
  if (a->row < 0 || b->row < 0)
    return false;
  return a->row == b->row || x->row[a->row].after == b->row ||
         x->row[b->row].after == a->row ||
         (!strncmp(a->measure, "loss", 4) && !strncmp(b->measure, "loss", 4));
}

/* A number for each seed that has one, into to [seeds]; how many: tau, or how
 * much larger the value of side k is than the other's. */
static int seed_numbers(const Case *q, int k, double *to) {
  int n = 0;
  for (int s = 0; s < q->seeds; s++) {
    if (q->c->kind == CLAIM_ORDERED)
      to[n] = kendall(q, s);
    else
      to[n] = value_at(q, k, s) - value_at(q, !k, s);
    n += !isnan(to[n]);
  }
  return n;
}

/* The number that decides about an estimate d: p is of that. */
static double decides(const Claim *c, double d) {
  if (c->kind == CLAIM_EQUAL)
    return d < 0 ? -c->margin : c->margin;
  double none = no_effect(c);
  return d < none ? none : 0;
}

/* Of a claim that is no exact one: d, or the mean tau. Here and in judge_exact
 * j->n begins as 0, the verdict as UNDECIDED. */
static void judge_mean(Judged *j, const Case *q) {
  const Claim *c = q->c;
  const bool ordered = c->kind == CLAIM_ORDERED;
  const bool paired = !ordered && in_pairs(q->x, &c->side[0], &c->side[1]);
  /* d is the first side less the second for > and =, else the reverse */
  const bool turned = c->relation == GREATER || c->relation == SAME;
  double from[SEEDS_MOST] = {0}, to[SEEDS_MOST];
  int na = 1, nb;
  if (ordered || paired) {
    nb = seed_numbers(q, !turned, to);
    j->n[0] = nb;
    if (paired)
      j->n[1] = nb;
  } else {
    na = side_values(q, turned, from);
    nb = side_values(q, !turned, to);
    if (c->side[turned].row >= 0)
      j->n[turned] = na;
    if (c->side[!turned].row >= 0)
      j->n[!turned] = nb;
  }
  if (!na || !nb)
    return;
  Estimate d = welch(from, na, to, nb);
  j->estimate = d.value;
  if (ordered)
    why(j, "mean tau %.2f of %d rows", d.value, c->sides);
  j->tested = j->n[0] != 1 && j->n[1] != 1 && j->n[0] + j->n[1] > 0;
  if (!j->tested) {
    why(j, "1 seed");
    return;
  }
  j->low = d.low;
  j->high = d.high;
  if (ordered) {
    j->low = fmax(-1, d.low);
    j->high = fmin(1, d.high);
  }
  j->p = estimate_p(&d, decides(c, d.value));
  if (!(d.error > 0))
    why(j, "no spread: every seed has the same %s", ordered ? "tau" : "value");
}

/* Of an exact claim. The interval is the range over seeds; there is no p, so
 * the verdict is final. */
static void judge_exact(Judged *j, const Case *q) {
  const Claim *c = q->c;
  char side[100];
  double sum = 0;
  int n = 0, row = c->side[0].row < 0;   /* a side that is no number */
  bool broken = false, turned = c->relation != LESS && c->relation != NOT_ABOVE;
  for (int s = 0; s < q->seeds; s++) {
    double a = value_at(q, 0, s), b = value_at(q, 1, s);
    double d = turned ? a - b : b - a;
    if (isnan(a) || isnan(b))
      continue;
    j->low = fmin(j->low, d);   /* d where `low` is still NAN */
    j->high = fmax(j->high, d);
    sum += d;
    n++;
    if (broken || related(a, c->relation, b, c->margin))
      continue;
    broken = true;
    why(j, "%s of seed %d: %.6g against %.6g",
        side_text(side, q->x, &c->side[row]), s + 1, value_at(q, row, s),
        value_at(q, !row, s));
  }
  j->n[0] = n;
  if (!n)
    return;
  j->estimate = sum / n;
  j->tested = broken || n > 1;
  if (broken)
    j->verdict = NOT_REPRODUCED;
  else if (n == 1)
    why(j, "1 seed");
  else {
    j->verdict = REPRODUCED;
    why(j, "holds in %d of %d seeds", n, n);
  }
}

/* Is a number missing that the claim needs? One is named. */
static bool lacks(Judged *j, const Case *q) {
  char side[100];
  for (int i = 0; i < side_count(q->c) * q->seeds; i++) {
    int k = i / q->seeds, s = i % q->seeds;
    if (s >= q->wanted[k] || !isnan(value_at(q, k, s)))
      continue;
    why(j, "%s of seed %d is not there", side_text(side, q->x, &q->c->side[k]),
        s + 1);
    return true;
  }
  return false;
}

/* Does a need fail? Means over the seeds that both its sides have. */
static bool unmet(Judged *j, const Case *q) {
  for (int i = 0; i < q->c->needs; i++) {
    const Side *side = &q->c->side[q->c->sides + 2 * i];
    double mean[2] = {0};
    char a[100], b[100], within[40] = "", also[40] = "";
    int k = q->c->sides + 2 * i, n = 0;
    for (int s = 0; s < q->seeds; s++) {
      double left = value_at(q, k, s), right = value_at(q, k + 1, s);
      if (!isnan(left + right)) {
        mean[0] += left;
        mean[1] += right;
        n++;
      }
    }
    mean[0] /= n;
    mean[1] /= n;
    Relation relation = q->c->needed[i];
    /* without any number it is lacks() that says so */
    if (!n || related(mean[0], relation, mean[1], q->c->within[i]))
      continue;
    if (relation == SAME)
      snprintf(within, sizeof within, " within %g", q->c->within[i]);
    if (side[1].row >= 0)
      snprintf(also, sizeof also, " and %.3g", mean[1]);
    bool sink = relation == GREATER && side->measure &&
                !strncmp(side->measure, "times_", 6);
    why(j, "needs %s %s %s%s, found %.3g%s%s", side_text(a, q->x, side),
        SIGNS[relation], side_text(b, q->x, side + 1), within, mean[0], also,
        sink ? " (no sink to judge)" : "");
    return true;
  }
  return false;
}

/* Estimate, interval and p; a verdict where there is no more to it. */
static void claim_estimate(Judged *j, const Case *q) {
  *j = (Judged){
      .estimate = NAN, .low = NAN, .high = NAN, .p = NAN, .corrected = NAN};
  if (q->c->kind == CLAIM_EXACT)
    judge_exact(j, q);
  else
    judge_mean(j, q);
  Judged alone = {0};   /* what stands instead if it is not judged */
  if (!unmet(&alone, q) && (j->verdict == NOT_REPRODUCED || !lacks(&alone, q)))
    return;
  /* estimate and interval stay */
  j->tested = false;
  j->verdict = UNDECIDED;
  j->p = NAN;
  memcpy(j->why, alone.why, sizeof j->why);
}

/* A = B within M. `sure`, here and below: p is small enough. */
static void decide_equal(Judged *j, double M, bool sure) {
  bool inside = j->low > -M && j->high < M;
  if (inside && sure)
    j->verdict = REPRODUCED;
  else if (j->low >= M || j->high <= -M)
    j->verdict = NOT_REPRODUCED;
  else if (!inside)
    why(j, "the %sinterval reaches over the margin",
        j->high - j->low < 2 * M ? "" : "wide ");
}

/* A difference or an order, which `counts` from that size on; `none`: d_0. */
static void decide_effect(Judged *j, double counts, double none, bool sure) {
  /* a mean tau of 3/5 may round to less */
  double d = j->estimate, slack = 1e-9;
  bool below = (counts > 0 || none < 0) && j->high < counts;
  bool weaker = j->low > none && d - none >= TENTH * (counts - none);
  bool same = j->low == j->high && d == 0;
  if (j->low > 0 && sure && d >= counts - slack)
    j->verdict = REPRODUCED;
  else if (j->high < none && sure && d <= none - counts + slack)
    j->verdict = OPPOSITE;
  else if (below && weaker)
    j->verdict = WEAKER;
  else if (below || (counts <= 0 && same))
    j->verdict = NOT_REPRODUCED;
  else if (j->low <= 0 && j->high >= 0)
    why(j, "the interval holds 0");
  else if (sure)
    why(j, "below %g, but the interval does not say so", counts);
}

/* The rules at the head of this section. */
static void claim_decide(Judged *j, const Claim *c) {
  if (!j->tested || c->kind == CLAIM_EXACT)
    return;
  bool sure = (isnan(j->corrected) ? j->p : j->corrected) <= LEVEL;
  double counts = c->kind == CLAIM_ORDERED ? TAU_COUNTS : c->margin;
  j->verdict = UNDECIDED;
  if (c->kind == CLAIM_EQUAL)
    decide_equal(j, c->margin, sure);
  else
    decide_effect(j, counts, no_effect(c), sure);
  if (j->verdict == UNDECIDED && j->p <= LEVEL && !sure)
    why(j, "the corrected p is above %g", LEVEL);
}

/* -----------------------------------------------------------------------------
 * The results of a corpus, and all claims */

/* A file that is damaged, or void since its row has changed, counts as missing
 * and has a line in notes. */
typedef enum RunState {
  RUN_MISSING, RUN_HELD, RUN_DIVERGED, RUN_VOID, RUN_DAMAGED, RUN_STATES
} RunState;
typedef struct Run {
  RunState state;
  Result result;
} Run;

/* The results of one corpus, all rows for seeds 1 .. headline_seeds. x must
 * outlive it. */
typedef struct Results {
  const Experiments *x;
  char corpus[sizeof ((Result *)0)->corpus];
  bool first;                  /* the table's first corpus? */
  int seeds;
  int times;                   /* how often the table has the corpus read */
  Run *run;                    /* [rows][seeds] */
  Judged *judged;              /* [claims] */
  Bytes notes;                 /* lines, without a 0 */
} Results;

/* Was r made of another text than its corpus names now, or another number of
 * times? No toy was. */
static bool other_text(const Experiments *x, const Result *r) {
  const Corpus *c = x->corpus;
  char hash[20];
  while (c < x->corpus + x->corpora && strcmp(c->name, r->corpus))
    c++;
  if (c == x->corpus + x->corpora || !c->hash || !strcmp(r->data, BY_TOY))
    return false;
  snprintf(hash, sizeof hash, "%016llx", (unsigned long long)c->hash);
  const char *at = strstr(r->flags, "data times ");
  const long times = at ? strtol(at + 11, NULL, 10) : 1;
  return !strstr(r->data, hash) || times != c->times;
}

/* What has changed since r was made of the row; NULL: nothing. */
static const char *what_changed(const Experiments *x, const Row *row,
                                const Result *r) {
  if (r->checksum != row->checksum)
    return "row";
  return other_text(x, r) ? "text" : NULL;
}

/* The result of a row for a seed, if there is one, and what is amiss with it as
 * a line of notes. */
static RunState run_load(Result *r, const Experiments *x, int row,
                         const char *folder, const char *corpus, int seed,
                         Bytes *notes) {
  const Row *is = &x->row[row];
  char path[PATH_ROOM];
  Bytes text = {0};
  Error e = {0}, second = {0};
  *r = (Result){0};
  if (!result_path(path, folder, corpus, is->name, seed, &e) &&
      file_missing(path))
    return RUN_MISSING;
  if (!e.status && !lines_read(path, &text, &e) &&
      !result_read(r, text.at, text.size, path, &e) &&
      (strcmp(r->row, is->name) || strcmp(r->corpus, corpus) ||
       r->seed != seed))
    fail(&e, 1,
         "%s: expected row %s, seed %d of %s, found row %s, seed %d of %s. "
         "Try: delete it and run it again",
         path, is->name, seed, corpus, r->row, r->seed, r->corpus);
  bytes_free(&text);
  if (e.status) {
    bytes_print(notes, &second, "%s\n", e.text);
    return RUN_DAMAGED;
  }
  const char *changed = what_changed(x, is, r);
  if (changed) {
    bytes_print(notes, &second, "%s is void: the %s changed\n", path, changed);
    return RUN_VOID;
  }
  return r->ended[0] ? RUN_DIVERGED : RUN_HELD;
}

/* Is the result of row and seed there, undamaged and of this row? 1 yes, 0 no,
 * -1 void. */
static int result_there(const Experiments *x, int row, const char *folder,
                        const char *corpus, int seed) {
  Result r;
  Bytes notes = {0};
  RunState state = run_load(&r, x, row, folder, corpus, seed, &notes);
  result_free(&r);
  bytes_free(&notes);
  if (state == RUN_VOID || state == RUN_DAMAGED)
    return -1;
  return state == RUN_HELD || state == RUN_DIVERGED;
}

static const Run *run_at(const Results *r, int row, int seed) {
  return &r->run[row * r->seeds + seed - 1];
}

/* The seeds that a row is judged by are 1 .. this. */
static int seeds_of(const Results *r, int row) {
  return row_seeds(r->x, row, r->first, r->times);
}

/* Counts the runs of a row for seeds 1 .. seeds by their state. */
static void count_runs(const Results *r, int row, int seeds,
                       int state[RUN_STATES]) {
  for (int seed = 1; seed <= seeds; seed++)
    state[run_at(r, row, seed)->state]++;
}

/* NAN: there is none. `diverged` is 0 or 1, and a run that diverged has no
 * other measure. */
static double results_number(const Results *r, int row, int seed,
                             const char *measure) {
  const Run *run = run_at(r, row, seed);
  const bool diverged = run->state == RUN_DIVERGED;
  if (run->state != RUN_HELD && !diverged)
    return NAN;
  if (!strcmp(measure, "diverged"))
    return diverged;
  if (diverged)
    return NAN;
  double x = result_number(&run->result, measure);
  return fabs(x) < 1e30 ? x : NAN;   /* nothing that is measured comes near */
}

/* Why the claim lacks numbers, where that is since runs are not there or have
 * diverged. */
static void why_runs(Judged *j, const Results *r, const Claim *c) {
  int wanted = 0, state[RUN_STATES] = {0}, row = 0, seed = 1;
  for (int i = 0; i < r->x->rows; i++) {
    if (!claim_uses(c, i))
      continue;
    if (!state[RUN_DIVERGED])   /* ends at the first that has diverged */
      row = i;
    count_runs(r, i, seeds_of(r, i), state);
    wanted += seeds_of(r, i);
  }
  int there = state[RUN_HELD] + state[RUN_DIVERGED];
  if (there == wanted &&
      (!state[RUN_DIVERGED] || !strncmp(j->why, "needs ", 6)))
    return;
  j->why[0] = 0;
  j->unrun = there < wanted;
  if (j->unrun)
    why(j, "%d of %d runs", there, wanted);
  if (state[RUN_VOID])
    why(j, "%d void: the row or text changed", state[RUN_VOID]);
  if (state[RUN_DAMAGED])
    why(j, "%d damaged", state[RUN_DAMAGED]);
  if (!state[RUN_DIVERGED])
    return;
  while (run_at(r, row, seed)->state != RUN_DIVERGED)
    seed++;
  why(j, "%s diverged (seed %d)", r->x->row[row].name, seed);
}

/* The values of a Case, and of how many seeds; a side that is a number has
 * none of its own. */
static void claim_numbers(double *value, int *wanted, const Results *r,
                          const Claim *c) {
  for (int k = 0; k < side_count(c); k++) {
    const Side *side = &c->side[k];
    wanted[k] = side->row < 0 ? 0 : seeds_of(r, side->row);
    for (int s = 0; s < r->seeds; s++, value++) {
      *value = NAN;
      if (s < wanted[k])
        *value = results_number(r, side->row, s + 1, side->measure);
    }
  }
}

/* From its runs all of r->judged. */
static int claims_judge(Results *r, Error *e) {
  const Experiments *x = r->x;
  Judged *j = r->judged;
  double *value = grab((SIDES + 2 * NEEDS) * (idx)r->seeds, sizeof *value, e);
  double *p = grab(x->claims, sizeof *p, e);
  double *adjusted = grab(x->claims, sizeof *p, e);
  int family = 0;
  for (int i = 0; i < x->claims && !e->status; i++) {
    const Claim *c = &x->claim[i];
    int wanted[SIDES + 2 * NEEDS];
    claim_numbers(value, wanted, r, c);
    claim_estimate(&j[i], &(Case){x, c, value, r->seeds, wanted});
    if (!j[i].tested)
      why_runs(&j[i], r, c);
    p[i] = c->headline ? j[i].p : NAN;   /* untested: NAN */
    family += c->headline;
  }
  if (!e->status)
    holm(adjusted, p, x->claims, family);
  for (int i = 0; i < x->claims && !e->status; i++) {
    j[i].corrected = adjusted[i];
    if (x->claim[i].twice && r->times > 1)
      j[i].corrected = j[i].p > 0.5 ? 1 : 2 * j[i].p;   /* NAN stays NAN */
    claim_decide(&j[i], &x->claim[i]);
  }
  free(value);
  free(p);
  free(adjusted);
  return e->status;
}

static int results_load(Results *r, const Experiments *x, const char *folder,
                        const char *corpus, Error *e) {
  *r = (Results){.x = x, .first = true, .times = 1, .seeds = x->headline_seeds};
  snprintf(r->corpus, sizeof r->corpus, "%s", corpus);
  /* from the last on, so that the first one that is trained on decides */
  for (int i = x->corpora - 1; i >= 0; i--) {
    bool is = !strcmp(x->corpus[i].name, corpus);
    if (!x->corpus[i].domain)
      r->first = is;
    if (is)
      r->times = x->corpus[i].times;
  }
  r->run = grab((idx)x->rows * r->seeds, sizeof *r->run, e);
  r->judged = grab(x->claims, sizeof *r->judged, e);
  for (int i = 0; !e->status && i < x->rows * r->seeds; i++)
    r->run[i].state = run_load(&r->run[i].result, x, i / r->seeds, folder,
                               corpus, i % r->seeds + 1, &r->notes);
  if (!e->status)
    claims_judge(r, e);
  return e->status;
}

static void results_free(Results *r) {
  for (int i = 0; r->run && i < r->x->rows * r->seeds; i++)
    result_free(&r->run[i].result);
  free(r->run);
  free(r->judged);
  bytes_free(&r->notes);
  *r = (Results){0};
}
