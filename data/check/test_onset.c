/* test_onset.c - the tests of onset.c: onsets, the fit, what is shown; and of
 * known.c and signs.c. A part of test_paper.c, which includes it.
 *
 * SPDX-License-Identifier: MIT */

static void is_what(Test *t, double got, double want, const char *what) {
  if (isnan(want))
    fact(t, isnan(got), "%s: %g, expected NaN", what, got);
  else
    within(t, got, want, 1e-6, "%s", what);
}

/* Three in a row, the first of them; NAN ends a row; what held stays; a number
 * at the border. */
static void onset_see__by_hand(Test *t) {
  static const struct {
    const char *what;
    double x[8], from;
  } CASES[] = {
    {"never",       {1, 1.9, 1, 1, 1, 1, 1, 1}, NAN},
    {"at once",     {2, 2, 2, 0, 0, 0, 0, 0},   1},
    {"two and two", {3, 3, 1, 3, 3, 1, 3, 3},   NAN},
    {"late",        {3, 1, 3, 3, 1, 2, 9, 2},   6},
    {"NAN between", {3, 3, NAN, 3, 3, 3, 1, 1}, 4},
    {"then gone",   {1, 3, 3, 3, 0, 0, 0, 0},   2},
    {"twice",       {3, 3, 3, 0, 4, 4, 4, 4},   1},
    {"all NAN",     {NAN, NAN, NAN, NAN},       NAN},
    {"infinite",    {INFINITY, INFINITY, 2, 0, 0, 0, 0, 0}, 1}};
  EACH (i, CASES) {
    Onset o = {0};
    for (int k = 0; k < 8; k++)
      onset_see(&o, k + 1, CASES[i].x[k], 2);
    bool held = o.looks == HOLDS;
    fact(t, held == !isnan(CASES[i].from) && (!held || o.from == CASES[i].from),
         "%s: %d, %g", CASES[i].what, o.looks, o.from);
  }
}

/* A table of runs with looks, its rows, and what is run of them. */
static const char ONSET_TABLE[] =
    "corpus story story.grammar\n"
    "recipe tiny --layers 1 --dim 16 --ffn 16 --context 16 --batch 2 "
    "--steps 40 --warmup 5 --tokenizer " SCRATCH "/tale.tok\n"
    "item onset s: t\n"
    "row onset-4 tiny --first-tokens 4 +onset +cache\n"
    "row soon tiny --first-tokens 4 --pos relative +onset +until\n"
    "row natural tiny +onset\n"
    "row text tiny --first-tokens text +onset +signs\n"
    "row wild tiny --lr 900 --clip 0 --init torch --sim identity "
    "--normalizer one --first-tokens 4 +onset\n"
    "row two tiny --first-tokens 4 --pos relative --steps 2 +onset\n"
    "row star tiny --first-tokens 4:common --extra k +onset\n"
    "row self tiny --xsa +onset\n";

enum {
  ROW_4, ROW_SOON, ROW_NATURAL, ROW_TEXT, ROW_WILD, ROW_TWO, ROW_STAR, ROW_SELF
};

typedef struct OnsetRun {
  int row;
  double steps;      /* that it makes */
  bool others;       /* are there other first tokens to look at? */
} OnsetRun;

static const OnsetRun ONSET_RUNS[] = {
  {ROW_4, 40, true}, {ROW_4, 40, true}, {ROW_SOON, 15, true},
  {ROW_NATURAL, 40, false}, {ROW_TEXT, 40, false}, {ROW_TWO, 2, true},
  {ROW_WILD, 0, true}, {ROW_STAR, 40, true}, {ROW_SELF, 40, false}};

/* Where it ends; its onset, or where that is censored. The two looks of row
 * `two` find it: no onset yet. */
static void onset_run_ends(Test *t, const Result *r, const OnsetRun *is) {
  const bool soon = is->row == ROW_SOON;
  double least = is->steps * 32, onset = measured(t, r, "onset_sink");
  if (soon)
    least = 5 * 32;
  if (is->row == ROW_TWO)
    least = 32;
  fact(t, measured(t, r, "steps") == is->steps, "%g steps",
       measured(t, r, "steps"));
  fact(t, soon ? onset == 5 * 32 : isnan(onset), "an onset at %g", onset);
  fact(t, measured(t, r, "censored_sink") == !soon, "censored");
  fact(t, measured(t, r, "least_sink") == least, "least");
}

/* Every curve has a number for each look; the last are those of the end. */
static void onset_run_curves(Test *t, const Result *r, const OnsetRun *is) {
  const bool soon = is->row == ROW_SOON, two = is->row == ROW_TWO;
  const bool star = is->row == ROW_STAR;
  int n, m;
  const double *times = result_find(r, "curve_times_1", &n);
  const double *tokens = result_find(r, "curve_tokens", &m);
  fact(t,
       n == m && n == (two ? 3 : is->steps / 5 + 1) &&
           tokens[n - 1] == is->steps * 32 && times[n - 1] > 0,
       "%d looks, %d tokens", n, m);
  const double *other = result_find(r, "curve_other_times_1", &m);
  const double at_others = result_number(r, "times_1@other");
  fact(t,
       m == (is->others ? n : 0) &&
           (!m || (other[n - 1] != times[n - 1] &&
                   fabs(other[n - 1] - at_others) < 0.3)) &&
           at_others != measured(t, r, "times_1"),
       "%d at others", m);
  const double *self = result_find(r, "curve_times_self", &m);
  fact(t, self && m == n && (soon || two || fabs(self[0] - 1) < 0.5),
       "the diagonal at first");
  within(t, self[n - 1], measured(t, r, "times_self"), 0.3, "times_self");
  const double *loss = result_find(r, "curve_loss", &m);
  within(t, loss[n - 1], measured(t, r, "loss"), 1, "the last look's loss");
  fact(t,
       result_find(r, "curve_mass", &m) && m == n &&
           !result_find(r, "curve_times_*", &m) == !star &&
           (!star || m == n),
       "curves");
}

/* What it is measured on beside its own first tokens, and where a row's weight
 * does nothing. */
static void onset_run_sets(Test *t, const Result *r, const OnsetRun *is) {
  const bool star = is->row == ROW_STAR, self = is->row == ROW_SELF;
  const bool natural = is->row == ROW_NATURAL || self;
  const char *null = "least_sink";
  if (star)
    null = "least_star";
  if (self)
    null = "least_self";
  fact(t,
       !isnan(result_number(r, "times_1@other")) == is->others &&
           !isnan(result_number(r, "least_other_sink")) == is->others,
       "others");
  fact(t,
       !isnan(result_number(r, "times_1@natural")) == !natural &&
           !isnan(result_number(r, "times_1@block")) == natural,
       "natural");
  fact(t, measured(t, r, "least_null") == measured(t, r, null),
       "where the null is");
  fact(t, !isnan(result_number(r, "least_star")) == star, "a column *");
}

/* Its q beside those of the text for 1 .. 256 and 317 tokens: that of 4 even
 * ones, less for common ones, 1/16 for the text's own, and none where a
 * sequence begins anywhere. */
static void onset_run_q(Test *t, const Result *r, const OnsetRun *is) {
  int m;
  const double *many = result_find(r, "text_q", &m);
  const double q = result_number(r, "q");
  fact(t, many && m == 10 && many[9] > 0 && many[9] < 1, "%d of 1 .. 256, 317",
       m);
  bool right = false;
  switch (is->row) {
  case ROW_NATURAL:
  case ROW_SELF:
    right = isnan(q);
    break;
  case ROW_STAR:
    right = measured(t, r, "q") < many[2];
    break;
  case ROW_TEXT:
    right = fabs(measured(t, r, "q") - 1 / 16.0) < 1e-3;
    break;
  default:
    right = measured(t, r, "q") == many[2];
  }
  fact(t, right, "q %g, %g", q, many[2]);
  fact(t, measured(t, r, "text_effective") > 20, "the text's");
}

/* Runs with looks: the same bytes twice, and where one is censored no onset. A
 * relative bias alone puts 2 times even on the first token: an onset at the
 * first look; +until ends with the third. */
static void onset_run__repeats(Test *t) {
  Experiments x;
  Settings s;
  Error e = {0};
  Bytes text[9] = {{0}};
  /* its tokenizer has 320 tokens */
  if (!tale_open(t, &s, ""))
    return;
  table_open(&x, ONSET_TABLE);
  EACH (i, ONSET_RUNS) {
    const OnsetRun *is = &ONSET_RUNS[i];
    Result r;
    if (row_run(&r, &x, is->row, x.corpus, 1, &s, &e))
      break;
    result_text(&r, &text[i], &e);
    if (is->row == ROW_WILD) {
      fact(t, r.ended[0] && measured(t, &r, "diverged") == 1, "wild: '%s'",
           r.ended);
      result_free(&r);
      continue;
    }
    onset_run_ends(t, &r, is);
    onset_run_curves(t, &r, is);
    onset_run_sets(t, &r, is);
    onset_run_q(t, &r, is);
    fact(t, isfinite(result_number(&r, "signs_kurtosis")) ==
                (is->row == ROW_TEXT),
         "its signs");
    fact(t, isfinite(result_number(&r, "rounded_4")) == (is->row == ROW_4),
         "its cache");
    fact(t, isnan(result_number(&r, "onset")) && measured(t, &r, "alpha_1") > 0,
         "the usual");
    result_free(&r);
  }
  fact(t, !e.status, "%s", e.text);
  fact(t, text[0].size && bytes_same(&text[0], &text[1]), "two runs differ");
  for (int i = 0; i < 9; i++)
    bytes_free(&text[i]);
  experiments_free(&x);
}

/* Where the text's own first tokens stay, looks begin anywhere, evenly; else at
 * documents. How many even ones the text's are, what first_open says of its
 * counts tells too. */
static void seen_open__anywhere(Test *t) {
  static const char *const FLAGS[] = {"", "--fix-token 1", "--first-tokens 4",
                                      "--first-tokens text"};
  EACH (f, FLAGS) {
    Settings s;
    Trainer m;
    Error e = {0};
    Watch w = {0};
    if (!tale_open(t, &s, "") || !trainer_made(t, &m, FLAGS[f]))
      return;
    m.s.eval_n = 70;
    m.s.eval_T = 4;
    const Ids *own = &m.data.starts, *at = &w.seen.starts;
    fact(t, !seen_open(&w, &m, &e) && (at->at != own->at) == !f, "%s",
         FLAGS[f]);
    const int even = (int)m.data.held.size / 70;
    for (int k = 0; k < 70 && !f; k++)
      fact(t, at->size == 70 && even > 4 && at->at[k] == k * even, "%d at %d",
           k, at->at[k]);
    if (!f)
      free(w.seen.starts.at);
    if (f == 3)
      within(t, text_effective(&m, &e),
             number_after(m.data.drawn, "exp(entropy)", 0), 0.051, "text");
    trainer_free(&m);
  }
}

/* Where a row's weight does nothing: *, x*, the diagonal under XSA, else the
 * first token. */
static void watch_places__by_configuration(Test *t) {
  static const struct {
    const char *flags;
    int null;
    bool star;
  } ROWS[] = {
    {"", ONSET_SINK, false},
    {"--extra k", ONSET_STAR, true},
    {"--extra logit", ONSET_STAR, true},
    {"--sink-token", ONSET_STAR, true},
    {"--xsa", ONSET_SELF, false},
    {"--xsa --extra zero", ONSET_STAR, true},
    {"--sim sigmoid --normalizer one", ONSET_SINK, false}};
  EACH (r, ROWS) {
    const Config c = config_of(t, ROWS[r].flags);
    Watch *w = later(t, 1, sizeof *w, NULL);
    watch_places(w, &c);
    fact(t,
         w->null == ROWS[r].null && w->is[ONSET_STAR] == ROWS[r].star &&
             w->is[ONSET_SINK] && w->is[ONSET_SELF] && w->is[ONSET_NULL] &&
             !w->is[ONSET_OTHER_SINK],
         "%s", ROWS[r].flags);
  }
}

/* q of two tokens in blocks of 3, of which 3 is 4 of 12 tokens and 4 none:
 * 1/2 / (1/2 + 2/3) = 3/7 and 1; drawn three times as often as 4, 3 has
 * 3/4 / (3/4 + 2/3) = 9/17. */
static void first_q__by_hand(Test *t) {
  int32_t ids[] = {3, 0, 5, 3, 1, 7, 3, 2, 5, 7, 3, 0};
  double even[8] = {[3] = 1, [4] = 1}, often[8] = {[3] = 3, [4] = 1};
  Error e = {0};
  Data d = {.vocab = 8,
            .bos = 1,
            .fix = 2,
            .train = {ids, 12, 0},
            .first = even,
            .draws = 2};
  within(t, first_q(&d, 3, &e), sqrt(3 / 7.0), 1e-12, "even");
  d.first = often;
  d.draws = 4;
  within(t, first_q(&d, 3, &e), pow(9 / 17.0, 0.75), 1e-12, "often");
  d.held = d.train;
  d.train.size = 0; /* of an endless grammar */
  within(t, first_q(&d, 3, &e), pow(9 / 17.0, 0.75), 1e-12, "held");
}

/* A step reads 16 tokens, and even weights have alpha 0.1. log 1000 = 6.908, so
 * the loss has made 80 % of its way to 1.908 from 2.908 on: at the third look.
 * Twice even comes at the second. */
static void measure_onset__by_hand(Test *t) {
  static const double LOSS[] = {5, 3, 2.9, 1.908, 2.1};
  static const double ALPHA[] = {0.1, 0.2, 0.19, 0.35, 0.3};
  for (int none = 0; none < 2; none++) {
    Trainer m = {0};
    Progress p = {.looks = 5};
    Result r = {0};
    Error e = {0};
    m.s.train.steps = 60;
    m.s.train.batch = 1;
    m.s.train.accumulate = 2;
    m.s.model.vocab = 1000;
    m.s.model.context = 8;
    for (int i = 0; i < 5; i++)
      p.look[i] = (Look){.step = 10 * (i + 1),
                         .loss = LOSS[i],
                         .alpha1 = none ? 0.1 : ALPHA[i]};
    measure_onset(&r, &m, &p, 0.1, &e);
    within(t, measured(t, &r, "onset"), none ? 60 * 16 : 20 * 16, 0, "onset");
    within(t, measured(t, &r, "emerged"), !none, 0, "emerged");
    within(t, measured(t, &r, "times_1_at_80"), none ? 1 : 1.9, 1e-12,
           "at 80 %%");
    result_free(&r);
  }
}

/* log Q and the hazard: known values, their derivative, one value where
 * erfc ends. */
static void log_above__known(Test *t) {
  static const double KNOWN[][2] = {{0, -0.693147180559945},
                                    {1, -1.84102164500926},
                                    {-3, -0.00135080996474820},
                                    {10, -53.2312851505125}};
  EACH (i, KNOWN)
    within(t, log_above(KNOWN[i][0]), KNOWN[i][1], 1e-12 * (1 - KNOWN[i][1]),
           "log Q(%g)", KNOWN[i][0]);
  within(t, log_above(30), log_above(nextafter(30, 0)), 1e-7, "at 30");
  for (double u = -6; u < 40; u += 0.7)
    within(t, hazard(u), (log_above(u - 1e-5) - log_above(u + 1e-5)) / 2e-5,
           1e-3, "at %g", u);
  fact(t, isfinite(log_above(1e6)) && log_above(-50) == 0, "far out");
}

/* Runs of a law a + b log N, from N* on with another slope, noise and a budget;
 * N = 1, 2, 4, ... */
typedef struct Truth {
  double a, b, more, bend, sigma, budget;
  int powers, seeds;
} Truth;

static void sample_draw(Sample *s, const Truth *is, uint64_t seed, bool drop,
                        bool believe) {
  Rng r = {hash64(seed, "onset", 5)};
  *s = (Sample){0};
  for (int k = 0; k < is->powers; k++)
    for (int i = 0; i < is->seeds; i++) {
      double x = k * log(2);
      double y = is->a + is->b * x + is->more * beyond(x, is->bend) +
                 is->sigma * rng_normal(&r);
      bool late = y > is->budget;
      if (late && drop)
        continue;
      sample_add(s, exp(x), exp(late ? is->budget : y), late && !believe);
    }
}

/* What was put in comes out, of censored runs too; another slope without these
 * or by budgets. */
static void law_fit__recovers(Test *t) {
  enum { DRAWS = 100 };
  static const struct {
    const char *what;
    double budget;
    bool drop, believe, right;
  } CASES[] = {
    {"all seen", INFINITY, false, false, true},
    {"censored", 16.5, false, false, true},
    {"dropped", 16.5, true, false, false},
    {"believed", 16.5, false, true, false}};
  EACH (i, CASES) {
    Truth is = {14.2, 0.5, 0, 0, 0.4, CASES[i].budget, 11, 3};
    double slope = 0, start = 0, sigma = 0, square = 0;
    int inside = 0, censored = 0;
    for (uint64_t seed = 0; seed < DRAWS; seed++) {
      Sample s;
      Law l = {.terms = 2};
      double low, high;
      sample_draw(&s, &is, seed, CASES[i].drop, CASES[i].believe);
      if (!law_fit(&l, &s, -1, 0)) {
        fact(t, false, "no fit");
        return;
      }
      law_interval(&l, &s, 1, &low, &high);
      fact(t, low < l.at[1] && l.at[1] < high, "%g [%g, %g]", l.at[1], low,
           high);
      inside += low < is.b && is.b < high;
      censored += l.censored;
      slope += l.at[1] / DRAWS;
      start += l.at[0] / DRAWS;
      sigma += l.sigma / DRAWS;
      square += (l.at[1] - is.b) * (l.at[1] - is.b);
    }
    double error = sqrt(square / DRAWS / DRAWS);
    note(t, "%s: b %.3f, sigma %.3f, %d inside; ", CASES[i].what, slope, sigma,
         inside);
    fact(t, (fabs(slope - is.b) < 4 * error) == CASES[i].right,
         "%s: b %g +- %g", CASES[i].what, slope, error);
    fact(t, CASES[i].right ? inside >= 91 : inside <= 80, "%s: %d inside",
         CASES[i].what, inside);
    if (!CASES[i].right) {
      fact(t, slope < is.b - 0.05, "%s: %g", CASES[i].what, slope);
      continue;
    }
    within(t, start, is.a, 0.1, "a");
    /* the likeliest is a little small */
    within(t, sigma, is.sigma, 0.04, "sigma");
    fact(t, (censored > 300) == (CASES[i].budget < INFINITY), "%d censored",
         censored);
  }
}

/* No coefficients nearby are likelier; without noise: the line; off the page,
 * its band stays. */
static void law_fit__top(Test *t) {
  Truth is = {14, 0.6, 0, 0, 0.5, 16.5, 9, 3};
  Truth exact = {14, 0.25, 0, 0, 0, INFINITY, 9, 2};
  Truth steep = {14, 1.6, 0, 0, 0.3, INFINITY, 9, 3};
  static Series line;
  Sample s;
  Law l = {.terms = 2};
  sample_draw(&s, &is, 5, false, false);
  fact(t, law_fit(&l, &s, -1, 0) && l.censored > 3, "fitted, %d censored",
       l.censored);
  for (int k = 0, side = -1; k < 2; k += side > 0, side = -side) {
    Law near = l;
    fact(t,
         law_fit(&near, &s, k, l.at[k] + side * 1e-3) &&
             near.likelihood < l.likelihood &&
             near.likelihood > l.likelihood - 1,
         "%d: %.12g", k, near.likelihood - l.likelihood);
  }
  Foretold f = law_foretell(&l, &s, 50000);
  within(t, log(f.tokens), l.at[0] + l.at[1] * log(50000), 1e-9, "foretold");
  fact(t,
       f.run_low < f.low && f.low < f.tokens && f.tokens < f.high &&
           f.high < f.run_high,
       "%g %g %g %g %g", f.run_low, f.low, f.tokens, f.high, f.run_high);
  within(t, pow(log(f.run_high / f.tokens), 2) - pow(log(f.high / f.tokens), 2),
         pow(log(f.tokens / f.run_low), 2) - pow(log(f.tokens / f.low), 2),
         1e-9, "run");
  sample_draw(&s, &exact, 1, false, false);
  fact(t, law_fit(&l, &s, -1, 0), "no fit");
  within(t, l.at[0], 14, 1e-3, "a");
  within(t, l.at[1], 0.25, 1e-3, "b");
  /* Student's interval of a straight line */
  Truth seen = {14, 0.6, 0, 0, 0.5, INFINITY, 4, 2};
  sample_draw(&s, &seen, 5, false, false);
  double x = 0, squares = 0, rest = 0, low, high;
  fact(t, law_fit(&l, &s, -1, 0) && s.n == 8, "%d runs", s.n);
  for (int i = 0; i < s.n; i++) {
    x += s.x[i] / s.n;
    rest += pow(s.y[i] - law_at(&l, s.x[i]), 2);
  }
  for (int i = 0; i < s.n; i++)
    squares += (s.x[i] - x) * (s.x[i] - x);
  law_interval(&l, &s, 1, &low, &high);
  within(t, (high - low) / 2, 2.44691185114497 * sqrt(rest / 6 / squares),
         1e-6, "t of 6 degrees");
  /* in the middle: sigma^2 (1 + 1/n) */
  f = law_foretell(&l, &s, exp(x));
  within(t, log(f.run_high / f.tokens),
         2.44691185114497 * sqrt(rest / 6 * 9 / 8), 1e-6, "a run");
  sample_draw(&s, &steep, 1, false, false);
  if (law_fit(&l, &s, -1, 0))
    onset_line(&line, &l, &s);
  fact(t, line.n > 9 && line.n < 25 && line.band && line.bare, "%d points",
       line.n);
}

/* What determines no law, and what is no run. */
static void law_fit__refuses(Test *t) {
  Sample s = {0};
  Law l = {.terms = 2}, bent;
  fact(t, !law_fit(&l, &s, -1, 0) && !law_choose(&l, &bent, &s), "nothing");
  for (int i = 0; i < 5; i++)
    sample_add(&s, 4, 1e6 + i, false);
  fact(t, !law_fit(&l, &s, -1, 0), "one N");
  for (int i = 0; i < 5; i++)
    sample_add(&s, 64, 1e7, true);
  fact(t, !law_fit(&l, &s, -1, 0), "one N has onsets");
  s = (Sample){0};
  for (int i = 0; i < 9; i++)
    sample_add(&s, i + 1, 1e7, true);
  fact(t, !law_fit(&l, &s, -1, 0), "all censored");
  static const double BAD[][2] = {{NAN, 1e6},      {4, NAN},  {0, 1e6},
                                  {4, 0},          {4, -1},   {4, INFINITY},
                                  {INFINITY, 1e6}, {0.5, 1e6}};
  EACH (i, BAD)
    sample_add(&s, BAD[i][0], BAD[i][1], false);
  fact(t, s.n == 9, "%d are taken", s.n - 9);
  for (int i = 0; i < RUNS_MOST; i++)
    sample_add(&s, 2, 1e6, false);
  fact(t, s.n == RUNS_MOST && s.y[0] == log(1e7), "%d runs", s.n);
  sample_draw(&s, &(Truth){14, 1, 0, 0, 0.3, INFINITY, 3, 3}, 1, false, false);
  fact(t, !law_choose(&l, &bent, &s) && bent.likelihood == -INFINITY,
       "a bend in three numbers");
  s = (Sample){0};
  sample_add(&s, 1, 1e6, false);
  sample_add(&s, 4, 3e6, false);
  fact(t, !law_fit(&l, &s, -1, 0), "two numbers of two onsets");
  for (int i = 0; i < 12; i++)
    sample_add(&s, 1 << i / 2, (3 + i % 2) * 1e6, i > 7);
  Law end = {.terms = 3, .from = log(8), .to = log(8)};
  double low = NAN, high = NAN;
  if (law_profile(&end, &s, -1, 0))
    law_interval(&end, &s, 2, &low, &high);
  fact(t, isfinite(low) && high == INFINITY, "behind N* all is later: %g to %g",
       low, high);
}

/* Where N* is not known the interval of the rest holds that at N* known; is it
 * wider by a twentieth? */
static bool bend_widens(Test *t, const Law *bent, const Sample *s,
                        const char *what) {
  Law held = *bent;
  double low, high, from, to;
  held.from = held.to = bent->bend;
  law_interval(bent, s, 2, &low, &high);
  law_interval(&held, s, 2, &from, &to);
  fact(t, low <= from && high >= to, "%s: N*", what);
  return high - low > 1.05 * (to - from);
}

/* A bend is found where there is one, with what lies beyond it censored too,
 * and nowhere else. */
static void law_choose__bends(Test *t) {
  static const struct {
    const char *what;
    Truth is;
    int least, most;
  } CASES[] = {
    {"straight", {14.2, 0.5, 0, 0, 0.3, INFINITY, 11, 3}, 0, 3},
    {"straight, censored", {14.2, 0.5, 0, 0, 0.3, 17, 11, 3}, 0, 3},
    {"flatter", {14, 0.8, -0.8, 2.8, 0.3, INFINITY, 11, 3}, 47, 50},
    {"steeper", {14, 0.2, 1.2, 2.8, 0.3, INFINITY, 11, 3}, 47, 50},
    {"steeper, censored", {14, 0.1, 1.5, 2.8, 0.3, 17.5, 11, 3}, 40, 50},
    {"a little", {14, 0.5, 0.3, 2.8, 0.3, INFINITY, 11, 3}, 0, 50}};
  EACH (i, CASES) {
    const Truth *is = &CASES[i].is;
    const double y = is->a + is->b * log(64) +
                     is->more * beyond(log(64), is->bend);
    int found = 0, wider = 0, inside = 0;
    double bend = 0, nu;
    for (uint64_t seed = 0; seed < 50; seed++) {
      Sample s;
      Law one, bent;
      sample_draw(&s, is, seed, false, false);
      bool bends = law_choose(&one, &bent, &s);
      fact(t, bent.bend > 0.69 && bent.bend < 6.24, "N* %g from 2 to 512",
           exp(bent.bend));
      /* a, b, c and N*: four numbers */
      law_student(&bent, &s, &nu);
      fact(t, nu == s.n - 4, "%g of %d", nu, s.n);
      /* a normal's top is -n log sigma - n / 2 */
      if (!one.censored)
        fact(t, bends == (2 * s.n * log(one.sigma / bent.sigma) >= 9.2103404),
             "%s", CASES[i].what);
      if (!bends)
        continue;
      found++;
      bend += bent.bend;
      if (is->more != 0)
        fact(t, (bent.at[2] > 0) == (is->more > 0), "%s: %g", CASES[i].what,
             bent.at[2]);
      if (seed > 9 || !CASES[i].least)
        continue;
      wider += bend_widens(t, &bent, &s, CASES[i].what);
      Foretold f = law_foretell(&bent, &s, 64);
      inside += f.low < exp(y) && exp(y) < f.high;
    }
    note(t, "%s: %d, at %.2f; ", CASES[i].what, found,
         found ? bend / found : 0);
    fact(t, found >= CASES[i].least && found <= CASES[i].most, "%s: %d",
         CASES[i].what, found);
    if (CASES[i].least)
      within(t, bend / found, is->bend, 0.4, "%s: N*", CASES[i].what);
    fact(t, !CASES[i].least || (wider > 2 && inside > 7),
         "%s: of 10 %d wider, the truth in %d", CASES[i].what, wider, inside);
  }
}

/* The word that stands last, of a flag and of none; N, and the context of a
 * row's flags. */
static void flag_word__last(Test *t) {
  static const char FLAGS[] =
      "--context 64 --first-tokens 4 --lr 1 --first-tokens 256^0.5:2%";
  char word[32];
  flag_word(word, FLAGS, "--first-tokens ");
  fact(t, is(word, "256^0.5:2%"), "%s", word);
  flag_word(word, FLAGS, "--batch ");
  fact(t, is(word, ""), "%s", word);
  within(t, context_of(FLAGS), 64, 0, "context");
}

/* Three looks in a row: none but the last three; two of them at the end are
 * a bound. */
static void curve_onset__by_hand(Test *t) {
  static const double WHEN[] = {0, 10, 20, 30, 40, 50, 60};
  static const double TIMES[] = {9, 2, 2, 1, 2, 3, 2.5};
  static const struct {
    double least, tokens;
    int n, is;
  } ROWS[] = {
    {2, 40, 7, 1},
    {2, 40, 6, -1},
    {2.2, 50, 7, -1},
    {1, 10, 7, 1},
    {4, 60, 7, -1}};
  EACH (r, ROWS) {
    double found;
    const int is = curve_onset(WHEN, TIMES, ROWS[r].n, ROWS[r].least, &found);
    fact(t, is == ROWS[r].is && found == ROWS[r].tokens, "%g: %d at %g",
         ROWS[r].least, is, found);
  }
}

/* Runs of N = 1, 4, .. 256 and q = N^-0.5 times 1 or 1/4, censored where they
 * are beyond a budget. */
static void seen_draw(Seen *s, uint64_t seed, double of_N, double of_q,
                      double sigma) {
  Rng rng = {seed};
  *s = (Seen){0};
  for (int i = 0; i < 60; i++) {
    const double N = log(4) * (i % 5), q = -N / 2 - log(4) * (i / 5 % 2);
    const double y = 14 + of_N * N + of_q * q + sigma * rng_normal(&rng);
    const double most = 16.5;
    s->N[i] = N;
    s->q[i] = q;
    s->y[i] = fmin(y, most);
    s->censored[i] = y > most;
    s->row[i] = i % 10;
    s->new[i] = i % 10 >= 5;
  }
  s->n = 60;
}

/* A power of N, and one with a bend, are onset.c's own laws, which are fitted
 * there in another way. */
static void plane_fit__as_law_fit(Test *t) {
  Seen s;
  Sample same = {0};
  Law one = {.terms = 2}, bent = {.terms = 3, .from = log(2), .to = log(1024)};
  Plane l;
  double low, high, from, to;
  seen_draw(&s, 7, 0.5, -0.3, 0.3);
  for (int i = 0; i < s.n; i++)
    sample_add(&same, exp(s.N[i]), exp(s.y[i]), s.censored[i]);
  fact(t, law_fit(&one, &same, -1, 0) && plane_fit(&l, &s, LAW_N, NULL),
       "no fit");
  within(t, l.likelihood, one.likelihood, 1e-6, "the likelihood");
  within(t, l.at[1], one.at[1], 1e-5, "the power");
  within(t, l.sigma, one.sigma, 1e-5, "sigma");
  law_interval(&one, &same, 1, &low, &high);
  plane_interval(&l, &s, 1, &from, &to);
  within(t, from, low, 1e-3, "from");
  within(t, to, high, 1e-3, "to");
  fact(t, law_profile(&bent, &same, -1, 0) && plane_fit(&l, &s, LAW_BENT, NULL),
       "no bend");
  within(t, l.likelihood, bent.likelihood, 1e-5, "the likelihood with a bend");
  within(t, plane_aicc(&l, 60), 2 * (5 - l.likelihood) + 60 / 54.0, 1e-9,
         "AICc");
}

/* The law that runs were drawn from has the least AICc, foretells best, and is
 * found again. */
static void plane_fit__tells(Test *t) {
  static const struct {
    double of_N, of_q;
    int kind;
  } ROWS[] = {
    {0, 0, LAW_NONE},
    {0.5, 0, LAW_N},
    {0, -1, LAW_Q},
    {0.4, -0.6, LAW_Q_N}};
  EACH (r, ROWS) {
    int least = 0, tells = 0;
    double N = 0, q = 0;
    for (uint64_t seed = 1; seed <= 20; seed++) {
      static const int LAWS_ASKED[] = {LAW_NONE, LAW_N, LAW_Q, LAW_Q_N};
      Seen s;
      Plane l, old;
      double aicc[4], foretells[4];
      seen_draw(&s, seed, ROWS[r].of_N, ROWS[r].of_q, 0.3);
      for (int k = 0; k < 4; k++) {
        fact(t,
             plane_fit(&l, &s, LAWS_ASKED[k], NULL) &&
                 plane_fit(&old, &s, LAWS_ASKED[k], s.new),
             "no fit");
        aicc[k] = plane_aicc(&l, s.n);
        foretells[k] = plane_foretells(&old, &s, s.new);
        if (LAWS_ASKED[k] != ROWS[r].kind)
          continue;
        if (l.kind == LAW_N)
          N += l.at[1] / 20;
        if (l.kind == LAW_Q_N)
          N += l.at[2] / 20;
        if (l.kind == LAW_Q || l.kind == LAW_Q_N)
          q += l.at[1] / 20;
      }
      int a = 0, f = 0;
      for (int k = 1; k < 4; k++) {
        if (aicc[k] < aicc[a])
          a = k;
        if (foretells[k] > foretells[f])
          f = k;
      }
      least += LAWS_ASKED[a] == ROWS[r].kind;
      tells += LAWS_ASKED[f] == ROWS[r].kind;
    }
    note(t, "%s: %d by AICc, %d by what it foretells; ",
         LAW_NAMES[ROWS[r].kind], least, tells);
    fact(t, least >= 13 && tells >= 9, "%s: %d and %d of 20",
         LAW_NAMES[ROWS[r].kind], least, tells);
    within(t, N, ROWS[r].of_N, 0.06, "the power of N");
    within(t, q, ROWS[r].of_q, 0.08, "the power of q");
  }
}

/* A run in SCRATCH as +onset leaves it: its curve is even up to `million`,
 * beyond it 4 times that, in 12 looks a million tokens apart; null: its onset,
 * 0 none is looked for; q 0: none is kept. */
static void leave_curve(const Experiments *x, const char *row, int seed,
                        double million, double q, double null) {
  Result r = {.seed = seed, .corpus = "story"};
  Error e = {0};
  double when[13], times[13];
  const bool late = million > 9;
  snprintf(r.row, sizeof r.row, "%s", row);
  r.checksum = x->row[experiments_row(x, row)].checksum;
  for (int i = 0; i < 13; i++) {
    when[i] = 1e6 * i;
    times[i] = i < million ? 1 : 4;
  }
  record(&r, &e, late, "censored_sink");
  record(&r, &e, 1e6 * million, "least_sink");
  record(&r, &e, 0.75, "times_1@other");
  if (null > 0) {
    record(&r, &e, 0, "censored_null");
    record(&r, &e, 1e6 * null, "least_null");
  }
  if (q > 0)
    record(&r, &e, q, "q");
  record_list(&r, &e, (double[]){1, 4}, 2, "text_q_N");
  record_list(&r, &e, (double[]){0.9, 0.6}, 2, "text_q");
  record_list(&r, &e, when, 13, "curve_tokens");
  record_list(&r, &e, times, 13, "curve_times_1");
  result_leave(&r, SCRATCH);
}

static const char FIRST_ITEMS[] =
    "seeds 3 3\ncorpus story story.grammar\n"
    "item firstness here: First\n"
    "row onset-1 --context 64 --first-tokens 1 +onset\n"
    "row onset-4 --context 64 --first-tokens 4 +onset\n"
    "row onset-text --context 64 --first-tokens text +onset\n"
    "row first-absent-16 --context 64 --first-tokens 16:absent +onset\n"
    "row first-q50-16 --context 64 --first-tokens 16:q0.5 +onset\n"
    "row first-q50-wide --context 64 --first-tokens 16:q0.5wide +onset\n"
    "item given here: Given\n"
    "row onset-16 --first-tokens 16 +onset\n"
    "row given-k-1 --extra k\n"
    "row given-k-256 --extra k --lr 1\n"
    "item large here: Large\n"
    "row large-few --lr 2\n"
    "claim sinks exact here: It sinks\n"
    "rule onset-1.least_sink < 9e6\n"
    "claim large-sinks exact here: It sinks\n"
    "rule large-few.least_sink < 9e6\n";

/* A pair of which one row is a bound, then both, and one that lacks a seed. */
static void pairs_bounds(Test *t, const Experiments *x) {
  static const char *const BOUNDS[] = {
    "wide >25.0: >5.00 times, of at most 2.0: beyond it, but a run is censored",
    "wide >25.0: ? times, of at most 2.0, not judged: a run is censored",
    "wide 5.00: 2.50 times, of at most 2.0: beyond it so far"};
  static const double ONSET[][2] = {{5, 25}, {10, 25}, {2, 5}};
  Results r;
  Error e = {0};
  EACH (i, BOUNDS) {
    Bytes *out = bytes_of(t);
    for (int seed = 1; seed <= 3; seed++) {
      leave_curve(x, "first-q50-16", seed, ONSET[i][0], 0.5, 0);
      leave_curve(x, "first-q50-wide", seed, ONSET[i][1], 0.5, 0);
    }
    if (i == 2)
      remove(SCRATCH "/story/first-q50-wide-3.csv");
    results_load(&r, x, SCRATCH, "story", &e);
    firstness_pairs(out, &r, false, &e);
    bytes_add(out, "", 1, &e);
    has_part(t, (char *)out->at, "%s", BOUNDS[i]);
    results_free(&r);
  }
}

/* Items firstness, given and large by results by hand. onset-4 has q by text_q
 * of any run. */
static void firstness_text__by_hand(Test *t) {
  static const char *const SHOWN[3][8] = {
    {"onset-4             4  0.600    4.00   4.00  4.00       4.00  ",
     "onset-text       2045  0.016    10.0  >10.0  10.0      ",
     "2 times even: 16 runs, 1 censored, 9",
     "  N: 2.04M N^0.21 [0.08, 0.36]\n", "  line in N: 2.60M + 0.039M N\n",
     "first-absent-16 3.02, onset-1 2.00: 1.51 times, of at most 2.5\n",
     "first-q50-16 2.00, first-q50-wide 5.00: 2.50 times, of at most 2.0: "
     "falsified\n"},
    {"softmax, token 1                   2.00 2.00 2.00: 2.00", "K bias, *  ",
     "2.00 2.00: 2.00          5.00 5.00: 5.00\n",
     "K bias, *                             2.50\n"},
    {"sinks  reproduced  7000000.000        reproduced  7000000.000\n"}};
  Experiments x;
  Results r;
  Error e = {0};
  scratch_open();
  table_open(&x, FIRST_ITEMS);
  for (int seed = 1; seed <= 3; seed++) {
    leave_curve(&x, "onset-1", seed, 2, 0, 0);
    leave_curve(&x, "onset-4", seed, 4, 0, 0);
    if (seed < 2)
      leave_curve(&x, "onset-text", seed, 10, 0, 0);
    leave_curve(&x, "first-absent-16", seed, 3 + 0.01 * seed, 1, 0);
    leave_curve(&x, "first-q50-16", seed, 2, 0.5, 0);
    leave_curve(&x, "first-q50-wide", seed, 5, 0.5, 0);
    if (seed < 3)
      leave_curve(&x, "given-k-1", seed, 2, 0, 2);
    if (seed < 3)
      leave_curve(&x, "given-k-256", seed, 2, 0, 5);
    leave_curve(&x, "large-few", seed, 2, 0, 0);
  }
  fact(t, !results_load(&r, &x, SCRATCH, "story", &e), "%s", e.text);
  for (int i = 0; i < 3; i++) {
    Bytes *out = bytes_of(t);
    item_text(out, &r, i, &e);
    bytes_add(out, "", 1, &e);
    const char *text = (const char *)out->at;
    for (int k = 0; SHOWN[i][k]; k++)
      has_part(t, text, "%s", SHOWN[i][k]);
    fact(t, !strstr(text, "nan") && !strstr(text, "learned logit"), "%s", text);
  }
  results_free(&r);
  pairs_bounds(t, &x);
  experiments_free(&x);
}

/* A line: 2M + 0.1M N, without spread but for a little. */
static void plane_fit__line(Test *t) {
  Seen s;
  Plane l;
  Rng rng = {3};
  seen_draw(&s, 1, 0, 0, 1);
  for (int i = 0; i < s.n; i++) {
    s.y[i] = log(2e6 + 1e5 * exp(s.N[i])) + 0.02 * rng_normal(&rng);
    s.censored[i] = false;
  }
  fact(t, plane_fit(&l, &s, LAW_LINE, NULL), "no line");
  within(t, exp(l.at[0]), 2e6, 2e5, "t0");
  within(t, exp(l.at[0] + l.place), 1e5, 2e4, "c");
  within(t, plane_at(&l, log(16), 0), log(3.6e6), 0.05, "at N = 16");
  /* runs that a law holds for impossible */
  const bool out[RUNS_MOST] = {true, true};
  s.y[0] += 9;
  s.y[1] += 9;
  s.censored[1] = true;
  within(t, plane_foretells(&l, &s, out), -100, 0, "what they cost");
}

/* Runs at one or two points determine no law with more terms. */
static void plane_fit__few_points(Test *t) {
  static const double N[] = {0, 4}, Q[] = {-0.02, -0.76};
  static const bool FITS[][LAWS] = {
      {[LAW_NONE] = true},
      {[LAW_NONE] = true, [LAW_N] = true, [LAW_LINE] = true, [LAW_Q] = true}};
  for (int points = 1; points <= 2; points++)
    for (int law = 0; law < LAWS; law++) {
      Seen s = {.n = 6};
      Plane l;
      Rng rng = {5};
      for (int i = 0; i < s.n; i++) {
        s.N[i] = N[i % points];
        s.q[i] = Q[i % points];
        s.y[i] = 14 + s.N[i] / 4 + 0.1 * rng_normal(&rng);
      }
      fact(t, plane_fit(&l, &s, law, NULL) == FITS[points - 1][law],
           "%d points, law %s", points, LAW_NAMES[law]);
    }
}

/* A run in SCRATCH: onsets in million tokens, 0 for none looked for, below 0
 * censored there. */
static void leave_run(const Experiments *x, const char *row, int seed,
                      const double onset[ONSETS], const char *ended) {
  Result r = {.seed = seed, .corpus = "story"};
  Error e = {0};
  snprintf(r.row, sizeof r.row, "%s", row);
  snprintf(r.ended, sizeof r.ended, "%s", ended);
  r.checksum = x->row[experiments_row(x, row)].checksum;
  record(&r, &e, 2.5, "times_1");
  record(&r, &e, 411.5, "text_effective");
  for (int k = 0; k < ONSETS; k++) {
    if (onset[k] == 0)
      continue;
    record(&r, &e, onset[k] < 0 ? NAN : 1e6 * onset[k], "onset_%s",
           ONSET_NAMES[k]);
    record(&r, &e, onset[k] < 0, "censored_%s", ONSET_NAMES[k]);
    record(&r, &e, 1e6 * fabs(onset[k]), "least_%s", ONSET_NAMES[k]);
  }
  result_leave(&r, SCRATCH);
}

static const char ONSET_ITEMS[] =
    "seeds 3 3\ncorpus story story.grammar\n"
    "item onset here: Onsets\ncolumns times_1\npicture onset\n"
    "row onset-1 --first-tokens 1 +onset\n"
    "row onset-4 --first-tokens 4 +onset\n"
    "row onset-16 --first-tokens 16 +onset\n"
    "row onset-64 --first-tokens 64 +onset\n"
    "row onset-all --first-tokens 2045 +onset\n"
    "row onset-text --first-tokens text +onset\n"
    "row onset-natural --steps 7 +onset\n"
    "row onset-256 --first-tokens 256 +onset\n"
    "item onset-levers here: Levers\n"
    "row lever-16-wide --first-tokens 16 --dim 128 +onset\n"
    "row lever-64-wide --first-tokens 64 --dim 128 +onset\n"
    "row lever-16-late --first-tokens 16 --dim 4 +onset\n"
    "row lever-64-soon --first-tokens 64 --dim 8 +onset\n"
    "row lever-few --first-tokens text --tokenizer few.tok +onset\n";

/* The results of these items in SCRATCH; the third run of onset-16 diverges. */
static void onset_items_left(const Experiments *x) {
  static const double RUNS[4][3][ONSETS] = {
    {{1, 0.4, -12, -12}, {1.1, 0.5, -12, -12}, {1.2, 0.625, -12, 11}},
    {{2, 0.4, -12, -12}, {2, 0.5, -12, -12}, {2.5, 0.625, -12, -12}},
    {{4, 0.4, -12, -12}, {5, 0.625, -12, -12}, {4, 0.8, -12, -12}},
    {{-12, 1.6, -12, 9}, {8, 2, -12, -12}, {10, 2.5, -12, -12}}};
  static const char *const ROWS[] = {"onset-1", "onset-4", "onset-16",
                                     "onset-64"};
  for (int i = 0; i < 4; i++)
    for (int k = 0; k < 3; k++)
      leave_run(x, ROWS[i], k + 1, RUNS[i][k],
                i == 2 && k == 2 ? "step 9" : "");
  leave_run(x, "onset-256", 1, (double[]){-12, 0, 0, 0}, "");
  leave_run(x, "onset-all", 1, (double[]){-51, 3, -51, 20}, "");
  leave_run(x, "lever-16-wide", 1, (double[]){2, 1, 0, 0}, "");
  leave_run(x, "lever-64-wide", 1, (double[]){-51, 1, 0, 0}, "");
  /* > 51 / sqrt(4 x 5) */
  leave_run(x, "lever-16-late", 1, (double[]){-51, 1, 0, 0}, "");
  /* < 2 / (12 x 8 x 10)^(1/3) */
  leave_run(x, "lever-64-soon", 1, (double[]){2, 1, 0, 0}, "");
}

/* The runs of a fit are those of 1, 4, 16 without its third, 64 and 256; one of
 * 64 and one of 256 has its onset later. A row with a vocabulary of its own has
 * no N there. */
static void onset_items_sample(Test *t, const Results *r) {
  const Experiments *x = r->x;
  const int few = experiments_row(x, "lever-few");
  Error e = {0};
  Sample s;
  Settings own;
  bool even;
  int censored = 0;
  sample_of(&s, r, &x->item[0], ONSET_SINK);
  for (int i = 0; i < s.n; i++)
    censored += s.censored[i];
  fact(t,
       isnan(row_first(r, few, &even)) &&
           !row_settings(&own, &x->row[few], x->corpus, 1, &(Settings){0},
                         &e) &&
           !strcmp(own.data.tokenizer, "few.tok"),
       "a vocabulary of its own");
  fact(t, s.n == 12 && censored == 2, "%d runs, %d censored", s.n, censored);
}

/* Tables of results by hand: a censored run has its > in its cell and in the
 * mean, a run that is missing or diverged is none, and no nan is shown. The
 * norm is 0.5 up to N = 16, then N / 32, give or take a factor of 1.25, so
 * 11 log(1 + 13/18 log^2 4 / (8 log^2 1.25)) = 16.5 for the bend. */
static void onset_text__by_hand(Test *t) {
  static const char *const NEVER[] = {"nan", " inf", "12.0 8.00 10.0: 9",
                                      ">5.17"};
  /* an item, its levers, its page, its picture */
  static const char *const SHOWN[4][16] = {
    {"2.00 2.00 2.50: 2.15", ">12.0 8.00 10.0: >9.86",
     ">12.0 >12.0 11.0: >11.7", "here is 64:", "too few onsets", "50432",
     "2000 million", "\nonset-all ", " 4.00 5.00: 4.47", "2.0: >10.9",
     "yes (16.5): N* 16, 1.00 [0.", " 0.50   0.19\n", "411.5  12.9 [",
     "0.00 [-0.33, 0.18]"},
    {"0.45", ">51.0", ">11.40", "<0.20"},
    {"| >12.0 8.00 10.0: >9.86 |", "the median"},
    {"v-7m-2.5 2.5l2.5-2.5 2.5 2.5", "the median", "N first tokens",
     "sink, later"}};
  Experiments x;
  Results r;
  Paper p;
  Error e = {0};
  Bytes *out[4];
  for (int i = 0; i < 4; i++)
    out[i] = bytes_of(t);
  scratch_open();
  table_open(&x, ONSET_ITEMS);
  onset_items_left(&x);
  fact(t, !results_load(&r, &x, SCRATCH, "story", &e), "%s", e.text);
  item_text(out[0], &r, 0, &e);
  item_text(out[1], &r, 1, &e);
  told_open(&p, &x, SCRATCH, x.corpus, &e);
  item_markdown(out[2], &p, 0, &e);
  told_close(&p);
  paper_write(SCRATCH "/p.html", &(Settings){0}, &x, SCRATCH, x.corpus, &e);
  file_read(SCRATCH "/p/onset.html", out[3], &e);
  for (int i = 0; i < 4; i++) {
    fact(t, !bytes_add(out[i], "", 1, &e), "%s", e.text);
    const char *text = (const char *)out[i]->at;
    for (int k = 0; SHOWN[i][k]; k++)
      has_part(t, text, "%s", SHOWN[i][k]);
    EACH (k, NEVER)
      fact(t, !strstr(text, NEVER[k]), "%d: %s", i, NEVER[k]);
  }
  fact(t, !strstr((const char *)out[1]->at, "Million"), "levers have no law");
  onset_items_sample(t, &r);
  results_free(&r);
  if (system(GONE(SCRATCH)))
    exit(1);
  results_load(&r, &x, SCRATCH, "story", &e);
  out[0]->size = 0;
  fact(t, !item_text(out[0], &r, 0, &e) && !bytes_add(out[0], "", 1, &e), "%s",
       e.text);
  has_part(t, (const char *)out[0]->at, "too few onsets");
  for (int k = 0; k < 2; k++)
    fact(t, !strstr((const char *)out[0]->at, NEVER[k]), "nothing yet");
  results_free(&r);
  experiments_free(&x);
}

/* Onsets of nine seeds do not fit a cell; a forecast names the rows that it was
 * fitted to. */
static void onset_cell__nine_seeds(Test *t) {
  Experiments x;
  Results r;
  Cell cell = "";
  scratch_open();
  table_open(&x, "seeds 9 9\ncorpus story story.grammar\nitem onset s: t\nrow "
                 "onset-1 --first-tokens 1 +onset\n"
                 "row onset-text --first-tokens text +onset\n");
  for (int seed = 1; seed < 10; seed++)
    leave_run(&x, "onset-1", seed, (double[]){-12, 0, 0, 0}, "");
  leave_run(&x, "onset-text", 1, (double[]){-12, 0, 0, 0}, "");
  results_load(&r, &x, SCRATCH, "story", fresh(t));
  onset_cell(cell, &r, 0, ONSET_SINK);
  fact(t,
       strlen(cell) < CELL &&
           is(cell, ">12.0 >12.0 >12.0 >12.0 >12.0 ..: >12.0"),
       "%s", cell);
  Bytes *out = bytes_of(t);
  onset_predict(out, &r, x.item, &t->e);
  bytes_add(out, "", 1, &t->e);
  has_part(t, (char *)out->at, "From onset on story: onset-1 (9)\n");
  results_free(&r);
  experiments_free(&x);
}

/* As a user asks: the commands, and what is foretold, of the shipped table. */
static void sink__onset(Test *t) {
  Error e = {0};
  if (no_binary(t))
    return;
  scratch_open();
  const char *laws = said(t, "onset --predict --results " SCRATCH);
  fact(t, strstr(laws, "From onset on books") && strstr(laws, "too few onsets"),
       "%s", laws);
  if (file_write(SCRATCH "/books/remedies.txt", "a step costs\n", 13, &e) ||
      file_write(SCRATCH "/books/onset.txt", "it was foretold\n", 16, &e))
    exit(1);
  const char *told = said(t, "onset --show --results " SCRATCH);
  const char *cost = said(t, "remedies --show --results " SCRATCH);
  fact(t,
       strstr(told,
              "written before the runs that it predicts were made:\n\nit was foretold\n") &&
           strstr(cost, "books/remedies.txt:\n\na step costs\n") &&
           !strstr(cost, "foretold"),
       "told");
}

/* The four corners: a recipe's rows alone, by their names without it, each
 * where its two means lie: to the right with the sink, upwards with the norm; a
 * recipe without numbers is not drawn. */
static void draw_corners__by_word(Test *t) {
  static const char TEXT[] =
      "corpus story story.grammar\n"
      "recipe tiny --layers 1\n"
      "item remedies s: t\n"
      "row fixed-low tiny\n"
      "row fixed-high tiny --wd 0.2\n"
      "row drawn-low tiny --wd 0.3\n";
  static const double TIMES[] = {1, 1.2, 4, 4.4}, NORM[] = {1, 1.2, 8, 8.4};
  Experiments x;
  Error e = {0};
  double at[2][2] = {{0}};
  table_open(&x, TEXT);
  Paper p = {.h = {.e = &e}, .x = &x, .item = x.item};
  scratch_open();
  if (results_load(&p.runs, &x, SCRATCH, "story", &e))
    exit(1);
  for (int i = 0; i < 4; i++) {
    Run *run = &p.runs.run[i / 2 * p.runs.seeds + i % 2];
    run->state = RUN_HELD;
    record(&run->result, &e, TIMES[i], "times_1");
    record(&run->result, &e, NORM[i], "norm_ratio");
  }
  draw_corners(&p, "drawn");
  fact(t, !p.h.text.size, "a picture of nothing");
  draw_corners(&p, "fixed");
  bytes_add(&p.h.text, "", 1, &e);
  const char *page = (const char *)p.h.text.at, *mark = page, *range = page;
  fact(t,
       strstr(page, "low: 1.1, 1.1. high: 4.2, 8.2") && !strstr(page, "fixed-"),
       "%s", page);
  for (int k = 0; k < 2 && mark && range; k++) {
    mark = strstr(mark + 1, "<path fill=\"#10305c\"");
    range = strstr(range + 1, "0.35\" d=");
    for (int i = 0; i < 2; i++)
      at[k][i] = mark ? number_after(mark, " d=\"M", i) : NAN;
    fact(t,
         range && number_after(range, "M", 0) < at[k][0] &&
             number_after(range, "H", 0) > at[k][0],
         "range %d", k);
  }
  fact(t, at[1][0] - at[0][0] > 50 && at[1][1] - at[0][1] < -50, "%g, %g",
       at[1][0], at[1][1]);
  bytes_free(&p.h.text);
  results_free(&p.runs);
  experiments_free(&x);
}

/* --cost: a line for each row but the first, with a ratio between its least
 * and largest, and why a row has none. A model of four times the blocks costs
 * more. */
static void remedies_cost__by_row(Test *t) {
  static const char TEXT[] =
      "corpus story story.grammar\n"
      "recipe tiny --layers 1 --dim 32 --ffn 64 --context 16 --batch 4 "
      "--steps 400 --warmup 5\n"
      "item remedies s: t\n"
      "row fixed-one tiny\n"
      "row fixed-four tiny --layers 4\n"
      "row fixed-wild tiny --lr 900 --clip 0 --init torch --sim identity "
      "--normalizer one\n";
  Experiments x;
  Settings s;
  Error e = {0};
  double is[4];   /* ms, ratio, least, largest */
  if (!tale_open(t, &s, ""))
    exit(1);
  table_open(&x, TEXT);
  FILE *out = printing();
  fact(t, !remedies_cost(&x, x.item, x.corpus, &s, out, &e), "%s", e.text);
  const char *text = printed(t, out), *wild = strstr(text, "\nfixed-wild ");
  for (int k = 0; k < 4; k++)
    is[k] = number_after(text, "\nfixed-four ", k);
  fact(t,
       wild && strstr(wild, ": NaN or infinity: ") &&
           !strstr(text, "\nfixed-one"),
       "%s", text);
  fact(t, is[1] > 1 && is[1] >= is[2] && is[1] <= is[3], "%g of %g to %g",
       is[1], is[2], is[3]);
  experiments_free(&x);
}

/* In a model of one block a cache keeps what is read anew, x* too; without
 * positions old ones are the same. */
static void measure_cache__one_block(Test *t) {
  static const char *const FLAGS[] = {"", "--sink-token 2", "--pos none"};
  EACH (f, FLAGS) {
    Settings s;
    Trainer m;
    Error e = {0};
    Result r = {.seed = 1};
    if (!tale_open(t, &s, "") || !trainer_made(t, &m, FLAGS[f]))
      return;
    m.s.eval_n = 9;
    m.s.eval_T = 12;
    steps_of(t, &m, 30);
    fact(t, !measure_cache(&r, &m, &e), "%s", e.text);
    double kept = measured(t, &r, "sinks_more");
    double old = measured(t, &r, "old_more");
    within(t, kept, 0, 1e-9, "what is kept");
    within(t, measured(t, &r, "window_more") + measured(t, &r, "anew"),
           measured(t, &r, "cache_window"), 1e-12, "over anew");
    fact(t,
         (f == 2) == (old == kept) &&
             fabs(measured(t, &r, "window_more")) > 1e-6 &&
             measured(t, &r, "rounded_4") > fabs(measured(t, &r, "rounded_8")),
         "%d: %g", f, old);
    result_free(&r);
    trainer_free(&m);
  }
}

/* The threads of before come back; 4 bits round weights and inputs. */
static void measure_cache__rounded(Test *t) {
  Settings s;
  Trainer m;
  Result r = {.seed = 1};
  double x[ROUNDED][ROUNDING];
  if (!tale_open(t, &s, "") || !trainer_made(t, &m, ""))
    return;
  const int had = workers();
  set_workers(2);
  const int two = workers();
  m.s.eval_n = 9;
  m.s.eval_T = 12;
  fact(t, !measure_cache(&r, &m, fresh(t)) && workers() == two, "threads");
  set_workers(had);
  m.s.quantize = 4;
  quantize(x, &m.m, &m.data, &m.s, 9, 12, fresh(t));
  within(t, measured(t, &r, "rounded_4"), x[AND_INPUTS][R_MORE], 0,
         "rounded_4");
  result_free(&r);
  trainer_free(&m);
}

#include "test_known.c"
#include "test_signs.c"

#define ONSET_TESTS \
  RUNS(onset_see__by_hand), RUNS(onset_run__repeats), \
  RUNS(seen_open__anywhere), RUNS(watch_places__by_configuration), \
  RUNS(first_q__by_hand), RUNS(flag_word__last), RUNS(curve_onset__by_hand), \
  RUNS(plane_fit__as_law_fit), RUNS(plane_fit__tells), RUNS(plane_fit__line), \
  RUNS(plane_fit__few_points), RUNS(firstness_text__by_hand), \
  RUNS(measure_cache__one_block), RUNS(measure_cache__rounded), \
  RUNS(measure_onset__by_hand), RUNS(log_above__known), \
  RUNS(law_fit__recovers), RUNS(law_fit__top), RUNS(law_fit__refuses), \
  RUNS(law_choose__bends), RUNS(onset_text__by_hand), \
  RUNS(onset_cell__nine_seeds), RUNS(sink__onset), \
  RUNS(draw_corners__by_word), RUNS(remedies_cost__by_row), \
  RUNS(isolate__identity), RUNS(isolate__numbers), RUNS(isolate__by_hand), \
  RUNS(known_gather__tokens), RUNS(auc__known), \
  RUNS(probe_fit__least_squares), RUNS(known_judge__by_hand), \
  RUNS(known_block__by_hand), RUNS(measure_known__repeats), RUNS(sink__known), \
  RUNS(rows__by_hand), RUNS(head_dead__by_hand), RUNS(signs_after__by_hand), \
  RUNS(streams__by_hand), RUNS(signs_after__gradients), RUNS(signs__numbers), \
  RUNS(signs__of_the_model), RUNS(quantized__by_hand), RUNS(quantize__losses), \
  RUNS(stream__as_evaluated), RUNS(stream__against_one_forward), \
  RUNS(stream__identities), RUNS(streamed_of__by_hand), RUNS(sink__signs)
