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
 * which so few cannot show. A claim is one of
 *
 *   differs   A < B by M. d = B - A (A - B for >): difference of the seeds'
 *             means, Welch's interval, which lets the sides spread unequally.
 *             Student's of the seeds' differences where both sides are of the
 *             same trainings (one row; one that goes on from the other) or are
 *             losses: a seed fixes the order of the data, which a loss follows.
 *             d_0 is d where there is no effect: 0 between rows. Beside a
 *             number it is d at what `from` says, or at 1 of times even and of
 *             a ratio, or else at the number; and 0 where the claim is that
 *             there is no effect.
 *       reproduced           p <= 0.05, the interval above 0, d >= M: not
 *                            chance, and large enough
 *       opposite             p <= 0.05, the interval below d_0, and d <= d_0 -
 *                            M
 *       weaker than claimed  the interval above d_0, all of it below M (below 0
 *                            for M = 0), and d a TENTH of the way from d_0 to M
 *       not reproduced       M > 0 or d_0 < 0, all of it below M, and no such
 *                            effect shown
 *   equal     A = B within M.  d = A - B, and the same interval.
 *       reproduced           p <= 0.05, and the whole interval inside (-M, M)
 *       not reproduced       the whole interval outside
 *   ordered   A < B < C .. For each seed Kendall's tau: over all pairs of rows,
 *             the share in the stated order less the share against it; a tie is
 *             neither. Student's interval of the seeds' mean.
 *       reproduced           p <= 0.05, the interval above 0, and the mean tau
 *                            >= TAU_COUNTS
 *       opposite             p <= 0.05, the interval below 0, and the mean tau
 *                            <= -TAU_COUNTS
 *       weaker than claimed  the whole interval above 0 and below TAU_COUNTS,
 *                            tau a TENTH of that
 *       not reproduced       the whole interval below TAU_COUNTS, and no order
 *                            shown
 *   exact     the relation holds in every seed, give or take M: reproduced; one
 *             counterexample: not reproduced. It has no p: a coin would hold in
 *             three seeds one time in eight.
 *
 * and undecided otherwise. p is two-sided: the level whose interval would just
 * reach the number that decides, 0 (d_0 for d below it), or for equal the
 * nearer of -M and M. (Two one-sided tests of equality at 5 % each would ask
 * for an interval of 90 % only; the wider one serves every claim.) The more
 * claims and looks, the more chance finds: for headline claims p is Holm's,
 * over all, tested or not, at a second look it is doubled; for others nothing
 * is corrected. It guards what is found; the plain interval says what is too
 * small to count.
 *
 * No spread: where every seed gives one value the interval is a point, p is 0
 * or 1, the values alone decide, and `why` says so. Equal values of both sides
 * are no difference: not reproduced. Not tested, hence undecided: one seed, a
 * run that is missing, diverged (but its measure `diverged` is 1) or void, a
 * number that is not there, or a need that the means over the seeds of both its
 * sides do not meet. A counterexample to an exact claim stands where runs are
 * missing.
 */
typedef enum Verdict { UNDECIDED, REPRODUCED, WEAKER, NOT_REPRODUCED, OPPOSITE, VERDICT_KINDS }
  Verdict;
typedef struct Judged {
  Verdict verdict;
  /* not tested: why says what is amiss; unrun: runs are missing */
  bool tested, unrun;
  /* difference of means, or mean tau; its 95 % interval (exact: the range over
   * seeds); two-sided p, and p corrected; NAN where there is none */
  double estimate, low, high, p, corrected;
  /* seeds of either side, 0 of a number; ordered, exact: n[0] */
  int n[2];
  char why[300];
} Judged;

/* A difference of means, its standard error, degrees of freedom and 95 %
 * interval. */
typedef struct Estimate { double value, error, nu, low, high; } Estimate;

static const double LEVEL = 0.05, TAU_COUNTS = 0.6, TENTH = 0.1;

/* I_x(a,b), the regularised incomplete beta function; y is 1 - x, given because
 * the difference would lose its digits. Its continued fraction (DLMF 8.17.22),
 *   I = x^a y^b / (a B(a,b)) / (1 + d_1 / (1 + d_2 / (1 + ..)))
 *   d_2m = m (b-m) x / ((a+2m-1) (a+2m))      d_2m+1 = -(a+m) (a+b+m) x /
 *                                             ((a+2m) (a+2m+1))
 * is evaluated from the inside out. It converges fast for x < (a+1) /
 * (a+b+2). */
static double beta_fraction(double x, double y, double a, double b) {
  /* of either kind; the error is at student() */
  enum { TERMS = 100 };
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
  return x <= (a + 1) / (a + b + 2) ? beta_fraction(x, y, a, b)
                                    : 1 - beta_fraction(y, x, b, a);
}

/* P(T <= t) of Student's distribution with nu degrees of freedom, from
 * P(|T| > t) = I_x(nu/2, 1/2), x = nu / (nu + t^2)   (DLMF 8.17; Abramowitz and
 *                                                    Stegun 26.7.1).
 * Error below 1e-12, of a lower tail below 1e-11 of itself, for nu of 1 to
 * 1000. */
static double student(double t, double nu) {
  double sum = nu + t * t,
         tail = beta_share(nu / sum, t * t / sum, nu / 2, 0.5) / 2;
  return t < 0 ? tail : 1 - tail;
}

/* By bisection of the lower tail. */
static double student_quantile(double p, double nu) {
  double tail = p < 0.5 ? p : 1 - p, from = -1, to = 0;
  if (!(tail > 0))
    return p < 0.5 ? -INFINITY : INFINITY;
  while (student(from, nu) > tail)
    from *= 2;
  for (int i = 0; i < 200; i++) {
    double middle = (from + to) / 2;
    *(student(middle, nu) > tail ? &to : &from) = middle;
  }
  return p < 0.5 ? from : -from;
}

/* Mean and the square of its standard error; of one number the error is 0.
 * Differences to the first, so that equal numbers have a variance of exactly
 * 0. */
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
 * degrees of freedom (Satterthwaite 1946). A number for a: e_a = 0, nu = n_b -
 * 1: Student's. */
static Estimate welch(const double *a, int na, const double *b, int nb) {
  double ea, eb, mean = mean_of(a, na, &ea), other = mean_of(b, nb, &eb);
  Estimate d = {.value = other - mean, .error = sqrt(ea + eb)};
  double parts = (na > 1 ? ea * ea / (na - 1) : 0) +
                 (nb > 1 ? eb * eb / (nb - 1) : 0);
  d.nu = parts > 0 ? (ea + eb) * (ea + eb) / parts : 1;
  double half = d.error > 0 ? d.error * student_quantile(1 - LEVEL / 2, d.nu)
                            : 0;
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

static const char *const VERDICT_NAMES[VERDICT_KINDS] = {
  "undecided", "reproduced", "weaker than claimed", "not reproduced",
  "opposite"};

static const char *verdict_text(const Judged *j) {
  return j->unrun ? "not run yet" : VERDICT_NAMES[j->verdict];
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

/* What a claim is judged by: value [side_count][seeds], NAN where a run has no
 * number; of side k wanted[k] seeds, NAN beyond. */
typedef struct Case {
  const Experiments *x; const Claim *c; const double *value; int seeds; const int *wanted;
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

/* Appended to what the claim has to say, as far as there is room. */
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
  for (int s = 0; s < seeds; s++)
    if (!isnan(to[n] = value_at(q, k, s)))
      n++;
  return n;
}

/* Kendall's tau of one seed with the stated order, -1 .. 1; NAN where a row has
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
  return (q->c->relation == GREATER ? -1.0 : 1.0) * sum /
         (sides * (sides - 1) / 2);
}

/* d_0 of a claim: no effect. Where the claim is that there is none, its border
 * is what counts. */
static double no_effect(const Claim *c) {
  int number = c->kind == CLAIM_DIFFERS ? side_number(c) : -1;
  if (number < 0)
    return 0;
  const char *measure = c->side[!number].measure;
  bool to_one = !strncmp(measure, "times_", 6) || strstr(measure, "_ratio");
  double border = c->side[number].number, none = !isnan(c->from) ? c->from
                                                 : to_one        ? 1
                                                                 : border;
  return fmin(0, (number == 0) == (c->relation == LESS) ? none - border
                                                        : border - none);
}

/* Are the sides compared seed by seed? */
static bool in_pairs(const Experiments *x, const Side *a, const Side *b) {
  if (a->row < 0 || b->row < 0)
    return false;
  return a->row == b->row || x->row[a->row].after == b->row ||
         x->row[b->row].after == a->row ||
         (!strncmp(a->measure, "loss", 4) && !strncmp(b->measure, "loss", 4));
}

/* Of a claim that is no exact one: d, or the mean tau. */
static void judge_mean(Judged *j, const Case *q) {
  const Claim *c = q->c;
  bool ordered = c->kind == CLAIM_ORDERED,
       turned = c->relation == GREATER || c->relation == SAME;
  bool paired = !ordered && in_pairs(q->x, &c->side[0], &c->side[1]);
  double from[SEEDS_MOST] = {0}, to[SEEDS_MOST];
  int na = 1, nb = 0;
  for (int s = 0; (ordered || paired) && s < q->seeds; s++)
    if (!isnan(to[nb] = ordered
                            ? kendall(q, s)
                            : value_at(q, !turned, s) - value_at(q, turned, s)))
      nb++;
  j->n[0] = nb;
  j->n[1] = paired ? nb : 0;
  if (!ordered && !paired) {
    na = side_values(q, turned, from);
    nb = side_values(q, !turned, to);
    j->n[turned] = c->side[turned].row < 0 ? 0 : na;
    j->n[!turned] = c->side[!turned].row < 0 ? 0 : nb;
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
  j->low = ordered ? fmax(-1, d.low) : d.low;
  j->high = ordered ? fmin(1, d.high) : d.high;
  double none = no_effect(c), decides = d.value < none ? none : 0;
  j->p = estimate_p(&d, c->kind != CLAIM_EQUAL ? decides
                        : d.value < 0          ? -c->margin
                                               : c->margin);
  if (!(d.error > 0))
    why(j, "no spread: every seed has the same %s", ordered ? "tau" : "value");
}

/* Here the interval is the range over seeds, and there is no p: the verdict is
 * final. */
static void judge_exact(Judged *j, const Case *q) {
  const Claim *c = q->c;
  char side[100];
  double sum = 0;
  /* on which side there may be a number */
  int n = 0, number = c->side[0].row < 0;
  bool broken = false, turned = c->relation != LESS && c->relation != NOT_ABOVE;
  for (int s = 0; s < q->seeds; s++) {
    double a = value_at(q, 0, s), b = value_at(q, 1, s),
           d = turned ? a - b : b - a;
    if (isnan(a) || isnan(b))
      continue;
    /* the other one where this is NAN */
    j->low = fmin(j->low, d);
    j->high = fmax(j->high, d);
    sum += d;
    n++;
    if (broken || related(a, c->relation, b, c->margin))
      continue;
    broken = true;
    why(j, "%s of seed %d: %.6g against %.6g",
        side_text(side, q->x, &c->side[number]), s + 1, number ? b : a,
        number ? a : b);
  }
  j->n[0] = n;
  if (!n)
    return;
  j->estimate = sum / n;
  j->tested = broken || n > 1;
  j->verdict = broken ? NOT_REPRODUCED : n > 1 ? REPRODUCED : UNDECIDED;
  if (n == 1 && !broken)
    why(j, "1 seed");
  else if (!broken)
    why(j, "holds in %d of %d seeds", n, n);
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
    /* !n: see lacks() */
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
  (q->c->kind == CLAIM_EXACT ? judge_exact : judge_mean)(j, q);
  /* what stands instead if it is not judged */
  Judged alone = {0};
  if (!unmet(&alone, q) && (j->verdict == NOT_REPRODUCED || !lacks(&alone, q)))
    return;
  /* estimate and interval stay */
  j->tested = false;
  j->verdict = UNDECIDED;
  j->p = NAN;
  memcpy(j->why, alone.why, sizeof j->why);
}

/* The rules at the head of this section. */
static void claim_decide(Judged *j, const Claim *c) {
  double M = c->margin, d = j->estimate,
         p = isnan(j->corrected) ? j->p : j->corrected;
  bool sure = p <= LEVEL, same = j->low == j->high && d == 0;
  if (!j->tested || c->kind == CLAIM_EXACT)
    return;
  if (c->kind == CLAIM_EQUAL) {
    bool inside = j->low > -M && j->high < M;
    j->verdict = inside && sure                 ? REPRODUCED
                 : j->low >= M || j->high <= -M ? NOT_REPRODUCED
                                                : UNDECIDED;
    if (j->verdict == UNDECIDED && !inside)
      why(j, "the %sinterval reaches over the margin",
          j->high - j->low < 2 * M ? "" : "wide ");
  } else {
    double counts = c->kind == CLAIM_ORDERED ? TAU_COUNTS : M,
           none = no_effect(c);
    bool below = (counts > 0 || none < 0) &&
                 j->high<counts, weaker = j->low> none &&
                 d - none >= TENTH * (counts - none);
    j->verdict = j->low > 0 && sure && d >= counts              ? REPRODUCED
                 : j->high < none && sure && d <= none - counts ? OPPOSITE
                 : below               ? (weaker ? WEAKER : NOT_REPRODUCED)
                 : counts <= 0 && same ? NOT_REPRODUCED
                                       : UNDECIDED;
    if (j->verdict == UNDECIDED && j->low <= 0 && j->high >= 0)
      why(j, "the interval holds 0");
    else if (j->verdict == UNDECIDED && sure)
      why(j, "below %g, but the interval does not say so", counts);
  }
  if (j->verdict == UNDECIDED && j->p <= LEVEL && !sure)
    why(j, "the corrected p is above %g", LEVEL);
}

/* -----------------------------------------------------------------------------
 * The results of a corpus, and all claims */

/* The results of one corpus, all rows for seeds 1 .. headline_seeds. x must
 * outlive it. A file that is damaged, or void since its row has changed, counts
 * as missing and has a line in notes. */
typedef enum RunState { RUN_MISSING, RUN_HELD, RUN_DIVERGED, RUN_VOID, RUN_DAMAGED, RUN_STATES }
  RunState;
typedef struct Run {
  RunState state;
  Result result;
} Run;
typedef struct Results {
  const Experiments *x;
  char corpus[sizeof ((Result *)0)->corpus];
  bool first;                  /* the table's first corpus? */
  /* times: how often the corpus is read, of its table */
  int seeds, times;
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
  return !strstr(r->data, hash) ||
         (at ? strtol(at + 11, NULL, 10) : 1) != c->times;
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
  const char *changed = e.status                      ? NULL
                        : r->checksum != is->checksum ? "row"
                        : other_text(x, r)            ? "text"
                                                      : NULL;
  if (e.status)
    bytes_print(notes, &second, "%s\n", e.text);
  if (changed)
    bytes_print(notes, &second, "%s is void: the %s changed\n", path, changed);
  return e.status      ? RUN_DAMAGED
         : changed     ? RUN_VOID
         : r->ended[0] ? RUN_DIVERGED
                       : RUN_HELD;
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
  return state == RUN_VOID ? -1 : state == RUN_HELD || state == RUN_DIVERGED;
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
  if (run->state != RUN_HELD && run->state != RUN_DIVERGED)
    return NAN;
  if (!strcmp(measure, "diverged"))
    return run->state == RUN_DIVERGED;
  double x = run->state == RUN_HELD ? result_number(&run->result, measure)
                                    : NAN;
  /* nothing that is measured comes near */
  return fabs(x) < 1e30 ? x : NAN;
}

/* Why the claim lacks numbers, when it is runs that are not there or that
 * diverged. */
static void why_runs(Judged *j, const Results *r, const Claim *c) {
  int wanted = 0, state[RUN_STATES] = {0}, row = 0, seed = 1;
  for (int i = 0; i < r->x->rows; i++) {
    if (!claim_uses(c, i))
      continue;
    /* the first one that has diverged */
    if (!state[RUN_DIVERGED])
      row = i;
    count_runs(r, i, seeds_of(r, i), state);
    wanted += seeds_of(r, i);
  }
  int there = state[RUN_HELD] + state[RUN_DIVERGED];
  if (there == wanted &&
      (!state[RUN_DIVERGED] || !strncmp(j->why, "needs ", 6)))
    return;
  j->why[0] = 0;
  if ((j->unrun = there < wanted))
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

/* From its runs all of r->judged. */
static int claims_judge(Results *r, Error *e) {
  const Experiments *x = r->x;
  Judged *j = r->judged;
  double *value = grab((SIDES + 2 * NEEDS) * (idx)r->seeds, sizeof *value, e);
  double *p = grab(x->claims, sizeof *p, e),
         *adjusted = grab(x->claims, sizeof *p, e);
  int family = 0;
  for (int i = 0; i < x->claims && !e->status; i++) {
    const Claim *c = &x->claim[i];
    int wanted[SIDES + 2 * NEEDS] = {0};
    for (int k = 0; k < side_count(c); k++) {
      if (c->side[k].row >= 0)
        wanted[k] = seeds_of(r, c->side[k].row);
      for (int s = 0; s < r->seeds; s++)
        value[k * r->seeds + s] = s >= wanted[k]
                                      ? NAN
                                      : results_number(r, c->side[k].row, s + 1,
                                                       c->side[k].measure);
    }
    claim_estimate(&j[i], &(Case){x, c, value, r->seeds, wanted});
    if (!j[i].tested)
      why_runs(&j[i], r, c);
    p[i] = c->headline ? j[i].p : NAN; /* untested: NAN */
    family += c->headline;
  }
  if (!e->status)
    holm(adjusted, p, x->claims, family);
  for (int i = 0; i < x->claims && !e->status; i++) {
    /* a p that is NAN stays it */
    bool again = x->claim[i].twice && r->times > 1;
    j[i].corrected = !again ? adjusted[i] : j[i].p > 0.5 ? 1 : 2 * j[i].p;
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
  /* the first one that is trained on decides */
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
  return e->status ? e->status : claims_judge(r, e);
}

static void results_free(Results *r) {
  for (int i = 0; r->run && i < r->x->rows * r->seeds; i++)
    result_free(&r->run[i].result);
  free(r->run);
  free(r->judged);
  bytes_free(&r->notes);
  *r = (Results){0};
}
