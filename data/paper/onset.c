/* onset.c - when is the first token known? Tokens that a model reads until it
 * has a sink, over the number N of tokens that the first one is drawn from.
 *
 * SPDX-License-Identifier: MIT
 *
 * Part of paper.c, which includes it in its page (7).
 *
 * Position 1 of every sequence holds one of N ordinary tokens (--first-tokens
 * N). A model can learn these N by heart, or that this is position 1, whatever
 * stands there. By heart takes longer the larger N is; knowing the position
 * does not. So the tokens that a sink takes to come, over N, tell which it is:
 * one power of N, or a slope that falls where recognition takes over from
 * memory. A run that has no sink at its end is censored: its onset is later
 * than that, and it is counted so.
 *
 * Contents   1 A run: looks, and the onset of a curve    2 The fit
 *            3 Tables    4 The picture
 */

/* -----------------------------------------------------------------------------
 * 1  A run: looks, and the onset of a curve
 *
 * +onset: looks every LOOK_TOKENS tokens, and no fewer than LOOKS_LEAST in a
 * run, at LOOK_SEQUENCES held sequences, with first tokens as in training.
 * --first-tokens N has a second look, at the same sequences with tokens that
 * were never first (--first-tokens other). A training that leaves the text's
 * own first tokens has blocks that begin anywhere, so its looks have such
 * blocks too: the held documents of books are chapters, which begin with their
 * number. +until: the run ends when the onset of its null is known, +rise: at
 * twice the tokens of that. A result keeps of each thing that is looked for
 *
 *   onset_WHAT      the tokens of the first of HOLDS looks in a row that find
 *                   it; nan: none do
 *   censored_WHAT   1 where none do, else 0
 *   least_WHAT      a lower bound of the onset: the onset itself; where it is
 *                   censored the tokens of the last look, or, if the last looks
 *                   find it but are too few, of the first of these
 *
 * and up to CURVE_LOOKS looks, evenly spaced, as curves. WHAT is the sink on
 * token 1, the norm, the same of tokens that were never first, self
 * (alpha_self), star (alpha_*, where there is one), and null: the place where a
 * row's weight does nothing, by its configuration. That is * or x* where there
 * is one; under --xsa, which takes a row's own value out of its output, the
 * diagonal; and else token 1, which has to be recognised. Results from before
 * 2026-11-27 have no self, star and null; theirs are softmax's, and their null
 * is the sink.
 */
enum { HOLDS = 3, LOOK_SEQUENCES = 64, LOOKS_LEAST = 8, CURVE_LOOKS = 128 };
static const double LOOK_TOKENS = 1e5;

/* What is looked for, and from where on it is there: SHOWS times even
 * (sink.c, 12); a norm of the first row of three times the others'. The
 * tables show the first ONSETS. */
enum {
  ONSET_SINK, ONSET_NORM, ONSET_OTHER_SINK, ONSET_OTHER_NORM, ONSETS,
  ONSET_SELF = ONSETS, ONSET_STAR, ONSET_NULL, ONSETS_ALL
};
static const char *const ONSET_NAMES[ONSETS_ALL] = {
  "sink", "norm", "other_sink", "other_norm", "self", "star", "null"};
static const double NORM_SHOWS = 3;

/* Looks in a row that have found it, up to HOLDS, and the
 * tokens of their first. */
typedef struct Onset {
  int looks;
  double from;
} Onset;

/* A look at `tokens` finds x. NAN finds nothing; what has held stays. */
static void onset_see(Onset *o, double tokens, double x, double least) {
  if (o->looks == HOLDS)
    return;
  if (!(x >= least))
    o->looks = 0;
  else if (o->looks++ == 0)
    o->from = tokens;
}

/* A run under way: the curves of kept looks, the first at step 0. */
typedef struct Watch {
  Onset onset[ONSETS_ALL];
  bool is[ONSETS_ALL];         /* is it looked for? */
  /* the run's data with other first tokens; without any, `first` is NULL */
  Data others;
  Data seen;                   /* the run's, or its held text cut anywhere */
  double even;                 /* alpha_1 of rows that spread evenly */
  double tokens, last;         /* of a step; of the last look */
  int null;                    /* its place: ONSET_SINK, _SELF or _STAR */
  int looks, every;            /* so far; every how many is kept */
  double times[LOOKS + 1], other[3][LOOKS + 1];
  double self[LOOKS + 1], star[LOOKS + 1], mass[LOOKS + 1];
} Watch;

/* What a look has besides a Look: alpha_self and alpha_* over their even
 * values, the row's mass. */
typedef struct Beside {
  double self, star, mass;
} Beside;

/* n sequences as d and s draw them: alpha, Sink and the norm ratio into *now,
 * the rest into *b. */
static int onset_measure(Trainer *t, const Data *d, const Settings *s, int n,
                         Look *now, Beside *b, Error *e) {
  Sinks seen;
  int first = config_column_first(&t->m.c);
  if (evaluate(&seen, &t->m, d, s, n, s->eval_T, e))
    return step_fault(t, e);
  now->alpha1 = sinks_alpha(&seen, first);
  now->sink1 = sinks_sink(&seen, first, 0);
  now->ratio = sinks_ratio(&seen);
  b->self = sinks_self(&seen) / seen.even_self;
  b->star = NAN;
  if (first)
    b->star = sinks_alpha(&seen, SINK_COLUMN) / seen.even;
  b->mass = sinks_raw(&seen);
  sinks_free(&seen);
  return 0;
}

/* One look: the onsets see it, and every so many are kept. */
static int onset_look(Watch *w, Trainer *t, Progress *p, Look *start,
                      Error *e) {
  Look now = {.step = t->step, .loss = NAN, .norm = NAN, .held = NAN};
  Look other = now;
  Beside b, rest;
  if (onset_measure(t, &w->seen, &t->s, LOOK_SEQUENCES, &now, &b, e) ||
      (w->others.first &&
       onset_measure(t, &w->others, &t->s, LOOK_SEQUENCES, &other, &rest, e)))
    return e->status;
  double found[ONSETS_ALL] = {now.alpha1 / w->even, now.ratio,
                              other.alpha1 / w->even, other.ratio, b.self,
                              b.star};
  found[ONSET_NULL] = found[w->null];
  w->last = (double)t->step * w->tokens;
  for (int k = 0; t->step && k < ONSETS_ALL; k++) {
    bool norm = k == ONSET_NORM || k == ONSET_OTHER_NORM;
    if (w->is[k])
      onset_see(&w->onset[k], w->last, found[k], norm ? NORM_SHOWS : SHOWS);
  }
  p->looked = t->step;
  p->now[ALPHA_1] = now.alpha1;
  p->now[SINK_1] = p->low = now.sink1;
  p->now[NORM_RATIO] = now.ratio;
  if (w->looks++ % w->every || p->looks == LOOKS)
    return 0;
  int at = t->step ? p->looks + 1 : 0;
  w->times[at] = found[ONSET_SINK];
  w->other[0][at] = found[ONSET_OTHER_SINK];
  w->other[1][at] = other.sink1;
  w->other[2][at] = other.ratio;
  w->self[at] = b.self;
  w->star[at] = b.star;
  w->mass[at] = b.mass;
  if (!t->step) {
    *start = now;
    return 0;
  }
  now.loss = t->loss_sum / (double)t->loss_steps;
  now.norm = t->norm;
  t->loss_sum = 0;
  t->loss_steps = 0;
  p->look[p->looks++] = now;
  return 0;
}

/* exp(entropy) of what --first-tokens text draws: how many even
 * ones are as uncertain. */
static double text_effective(const Trainer *t, Error *e) {
  Data d;
  Source s = t->s.data;
  double entropy = 0;
  snprintf(s.first_tokens, sizeof s.first_tokens, "text");
  if (firsts_draw(&d, &t->data, &s, 1, e))
    return NAN;
  for (int v = 0; v < d.vocab; v++) {
    double share = (double)d.first[v] / d.draws;
    if (share > 0)
      entropy -= share * log(share);
  }
  free(d.first);
  return exp(entropy);
}

/* The first tokens that --first-tokens N does not draw; of
 * any other training none. */
static void others_open(Watch *w, const Trainer *t) {
  Source s = t->s.data;
  const bool number = isdigit((unsigned char)s.first_tokens[0]);
  snprintf(s.first_own, sizeof s.first_own, "%s", t->s.data.first_tokens);
  snprintf(s.first_tokens, sizeof s.first_tokens, "%s", number ? "other" : "");
  /* it fails where there are no others: none are looked at */
  firsts_draw(&w->others, &t->data, &s, 0, &(Error){0});
}

/* Of a training that sets no first token: its held text, if it is long
 * enough, with `starts` spread over it evenly, where sequences begin in place
 * of the documents' own. */
static int seen_open(Watch *w, const Trainer *t, Error *e) {
  const idx n = t->s.eval_n > LOOK_SEQUENCES ? t->s.eval_n : LOOK_SEQUENCES;
  const idx apart = (idx)t->data.held.size / n;
  w->seen = t->data;
  if (*t->s.data.first_tokens || t->s.data.fix_token || apart <= t->s.eval_T)
    return 0;
  w->seen.starts = (Ids){grab(n, sizeof(int32_t), e), (size_t)n, (size_t)n};
  for (idx i = 0; i < n && !e->status; i++)
    w->seen.starts.at[i] = (int32_t)(i * apart);
  return e->status;
}

/* What an evaluation finds at the end with other first tokens, and with the
 * text's own: where documents begin, and of a training that sets none in blocks
 * that begin anywhere. */
static int onset_beyond(const Watch *w, Trainer *t, Result *r, Error *e) {
  Settings natural = t->s;
  const bool cut = w->seen.starts.at != t->data.starts.at;
  const bool set = *t->s.data.first_tokens;
  const struct {
    const char *name;
    bool asked;
    const Data *data;
    const Settings *as;
  } ENDS[] = {
    {"other", w->others.first != NULL, &w->others, &t->s},
    {"natural", set, &w->seen, &natural},
    {"block", cut, &w->seen, &t->s}};
  snprintf(natural.data.first_tokens, sizeof natural.data.first_tokens,
           "natural");
  for (int k = 0; k < 3; k++) {
    Look end = {0};
    Beside b;
    if (!ENDS[k].asked)
      continue;
    if (onset_measure(t, ENDS[k].data, ENDS[k].as, t->s.eval_n, &end, &b, e))
      break;
    record(r, e, end.alpha1 / w->even, "times_1@%s", ENDS[k].name);
    record(r, e, end.sink1, "sink_1@%s", ENDS[k].name);
    record(r, e, end.ratio, "norm_ratio@%s", ENDS[k].name);
  }
  return e->status;
}

/* The onsets of a run, and its curves. */
static int onset_numbers(const Watch *w, const Progress *p, Result *r,
                         Error *e) {
  static const char *const curves[] = {"times_1", "sink_1", "norm_ratio"};
  const bool others = w->others.first != NULL;
  for (int k = 0; k < ONSETS_ALL; k++) {
    const Onset *o = &w->onset[k];
    bool held = o->looks == HOLDS;
    if (!w->is[k])
      continue;
    record(r, e, held ? o->from : NAN, "onset_%s", ONSET_NAMES[k]);
    record(r, e, !held, "censored_%s", ONSET_NAMES[k]);
    record(r, e, o->looks ? o->from : w->last, "least_%s", ONSET_NAMES[k]);
  }
  record_list(r, e, w->times, p->looks + 1, "curve_times_1");
  for (int k = 0; k < 3 && others; k++)
    record_list(r, e, w->other[k], p->looks + 1, "curve_other_%s", curves[k]);
  record_list(r, e, w->self, p->looks + 1, "curve_times_self");
  if (w->is[ONSET_STAR])
    record_list(r, e, w->star, p->looks + 1, "curve_times_*");
  record_list(r, e, w->mass, p->looks + 1, "curve_mass");
  return e->status;
}

/* q (data/text/first.c) of first tokens, weights first [V], in blocks of T
 * of a training's text. */
static double first_q(const Data *d, int T, Error *e) {
  const Ids *from = d->train.size ? &d->train : &d->held;
  double *often = grab(d->vocab, sizeof *often, e), sum = 0;
  for (size_t i = 0; i < from->size && !e->status; i++)
    often[from->at[i]]++;
  for (int v = 0; v < d->vocab && !e->status; v++) {
    double p = d->first[v] / d->draws;
    if (p > 0)
      sum += p * log(first_given(p, often[v] / (double)from->size, T));
  }
  free(often);
  return exp(sum);
}

/* text_q: q of N ordinary tokens, for N in text_q_N: 1, 2, 4 .. and all.
 * Results from before q was kept have theirs from here, by their N: it follows
 * from the text and the context. */
static int text_q(const Trainer *t, Result *r, Error *e) {
  enum { POWERS = 24 };
  const Data *of = &t->data;
  int all = of->vocab - (of->end >= 0) - (of->bos >= 0) - (of->fix >= 0), n = 0;
  double N[POWERS], q[POWERS];
  for (int next = 1; n < POWERS && !e->status;
       next = (int)at_most(2 * next, all)) {
    Data d;
    Source s = t->s.data;
    snprintf(s.first_tokens, sizeof s.first_tokens, "%d", next);
    if (firsts_draw(&d, of, &s, t->s.model.context, e))
      break;
    N[n] = next;
    q[n++] = first_q(&d, t->s.model.context, e);
    free(d.first);
    if (next == all)
      break;
  }
  record_list(r, e, N, n, "text_q_N");
  return record_list(r, e, q, n, "text_q");
}

/* What is looked for in a training of this configuration,
 * and where its null is. */
static void watch_places(Watch *w, const Config *c) {
  const bool others = w->others.first != NULL;
  const bool star = config_column_first(c) > 0;
  w->null = ONSET_SINK;
  if (star)
    w->null = ONSET_STAR;
  else if (c->xsa)
    w->null = ONSET_SELF;
  for (int k = 0; k < ONSETS_ALL; k++)
    w->is[k] = true;
  w->is[ONSET_OTHER_SINK] = w->is[ONSET_OTHER_NORM] = others;
  w->is[ONSET_STAR] = star;
}

/* A training with its looks, to its last step or, with `until`, to so
 * many times the tokens of the onset of its null. Of one that Ctrl-C
 * stops row_train says so. */
static int onset_run(Trainer *t, Progress *p, Look *start, double until,
                     Result *r, Error *e) {
  Watch *w = grab(1, sizeof *w, e);
  if (!w)
    return e->status;
  w->tokens = tokens_a_step(t);
  long steps = t->s.train.steps, apart = lround(LOOK_TOKENS / w->tokens);
  if (apart > steps / LOOKS_LEAST)
    apart = steps / LOOKS_LEAST;
  if (apart < 1)
    apart = 1;
  w->every = (int)((steps / apart + CURVE_LOOKS - 1) / CURVE_LOOKS);
  w->every += !w->every;
  if (t->s.eval_T > t->s.model.context)
    t->s.eval_T = t->s.model.context;
  w->even = sink_uniform(&t->m, t->s.eval_T);
  others_open(w, t);
  seen_open(w, t, e);
  watch_places(w, &t->m.c);
  p->start = p->shown = seconds();
  stop_gently();
  onset_look(w, t, p, start, e);
  while (t->step < steps && !e->status && !interrupted) {
    const Onset *null = &w->onset[ONSET_NULL];
    if (until > 0 && null->looks == HOLDS &&
        (double)t->step * w->tokens >= until * null->from)
      break;
    if (trainer_step(t, e) ||
        (t->step % apart == 0 && onset_look(w, t, p, start, e)))
      break;
    progress_show(t, p);
  }
  onset_numbers(w, p, r, e);
  if (!e->status && !interrupted)
    onset_beyond(w, t, r, e);
  record(r, e, text_effective(t, e), "text_effective");
  text_q(t, r, e);
  free(w->others.first);
  if (w->seen.starts.at != t->data.starts.at)
    free(w->seen.starts.at);
  free(w);
  return e->status;
}

/* Of any other run, by its looks: the tokens at which alpha_1 first was twice
 * the even value, or all of them if it never was; and its multiple where the
 * loss had made 80 % of its way. */
static int measure_onset(Result *r, const Trainer *t, const Progress *p,
                         double even, Error *e) {
  double onset = tokens_a_step(t) * t->s.train.steps;
  double from = log(t->s.model.vocab), to = NAN, emerged = 0;
  double least = p->looks ? p->look[0].loss : NAN;
  for (int i = 1; i < p->looks; i++)
    least = fmin(least, p->look[i].loss);
  for (int i = p->looks - 1; i >= 0; i--) {
    const Look *at = &p->look[i];
    if (at->alpha1 >= SHOWS * even) {
      onset = tokens_a_step(t) * (double)at->step;
      emerged = 1;
    }
    if (from - at->loss >= 0.8 * (from - least))
      to = at->alpha1 / even;
  }
  record(r, e, onset, "onset");
  record(r, e, emerged, "emerged");
  return record(r, e, to, "times_1_at_80");
}

/* +known: row T/2 isolated in two blocks, and what tells row 1 block by block,
 * on KNOWN_SEQUENCES held sequences. The sink on first tokens that were never
 * first is +onset's. */
enum { KNOWN_SEQUENCES = 400 };
static int measure_known(Result *r, Trainer *t, Error *e) {
  Settings s = t->s;
  Isolated x;
  Known k = {0};
  Numbers told = {0};
  s.isolate = s.eval_T / 2;
  s.isolate_blocks = 2;
  if (!isolate(&x, &t->m, &t->data, &s, KNOWN_SEQUENCES, s.eval_T, e) &&
      !isolated_put(&x, &told, e) &&
      !known(&k, &t->m, &t->data, &s, KNOWN_SEQUENCES, s.eval_T, e))
    known_put(&k, &told, e);
  known_free(&k);
  return record_all(r, &told, e);
}

/* -----------------------------------------------------------------------------
 * 2  The fit
 *
 *   log(tokens to the onset) = a + b log N + sigma z                  z normal
 *
 * A run whose onset is y = log(tokens) counts with the density there, one that
 * is censored at y with the probability Q of anything later. With
 * u = (y - a - b log N) / sigma the likelihood is
 *
 *   sum over onsets of (-log sigma - u^2 / 2)
 *     + sum over censored runs of log Q(u)
 *
 * In h = 1 / sigma, a h and b h it is concave (Olsen 1978): u is linear in
 * them. So Newton's steps, halved where they go down, end at its one top.
 * Leaving censored runs out, or taking their budget for the onset, makes b too
 * small: where N is large the late onsets are what is missing.
 *
 * The 95 % interval of a number is that of its profile likelihood: all values
 * for which the best choice of the others, N* among them, comes within
 * n/2 log(1 + t^2 / nu) of the top. n counts the runs, nu is n less the law's
 * numbers but sigma (2, with a bend 4), and t is Student's quantile at nu. For
 * one power without censored runs that is Student's interval itself. In
 * simulated samples of 24 runs with a bend it has the true slope 94 times in 100,
 * with chi^2's 3.84 for n log(..) 91 times. It is endless where only censored
 * runs bound it. One sigma serves all N, and all runs are taken to be
 * independent, though those of one seed share its start and its order of data.
 *
 * One power, or a change of slope? Against one power stands
 *
 *   a + b log N + c max(0, log N - log N*)
 *
 * with N* searched in steps of a quarter of an octave, two values of N at least
 * on either side. It is preferred where 2 (its top - the one power's) reaches
 * CHI_2, the 1 % point of chi^2 with two degrees of freedom; else one power
 * holds. (The AIC asks for 4; but N* is searched for, and a search finds more:
 * of such samples of one power 20 % pass 4, and CHI_2 2 % in place of 1 %.)
 * This rule was fixed before any run was judged.
 */
enum { RUNS_MOST = 400, TERMS = 3 };
static const double CHI_2 = 9.210340371976184;

/* Runs: log N, log of the tokens, and whether the onset is later than that. */
typedef struct Sample {
  int n;
  double x[RUNS_MOST], y[RUNS_MOST];
  bool censored[RUNS_MOST];
} Sample;

static void sample_add(Sample *s, double N, double tokens, bool censored) {
  if (s->n == RUNS_MOST || !(N >= 1 && N < 1e30) ||
      !(tokens > 0 && tokens < 1e30))
    return;
  s->x[s->n] = log(N);
  s->y[s->n] = log(tokens);
  s->censored[s->n++] = censored;
}

/* At x a law says at[0] + at[1] (x - origin) and, of three terms, + at[2]
 * times what x is beyond the bend, less what the origin is: so at[0] is what
 * it says at the origin. */
typedef struct Law {
  int terms, censored;
  double origin, bend, at[TERMS], sigma, likelihood;
  double from, to;             /* where log N* is searched for */
} Law;

static double beyond(double x, double bend) { return x > bend ? x - bend : 0; }

static void law_terms(const Law *l, double x, double term[TERMS]) {
  term[0] = 1;
  term[1] = x - l->origin;
  term[2] = beyond(x, l->bend) - beyond(l->origin, l->bend);
}

static double law_at(const Law *l, double x) {
  double term[TERMS], sum = 0;
  law_terms(l, x, term);
  for (int k = 0; k < l->terms; k++)
    sum += l->at[k] * term[k];
  return sum;
}

/* log Q(u), Q(u) = P(z > u): by erfc, and where that ends by
 * its asymptotic series. */
static double log_above(double u) {
  if (u < 30)
    return log(erfc(u * SQRT_HALF) / 2);
  return -u * u / 2 + log(INV_SQRT_2PI / u) +
         log1p(-1 / (u * u) + 3 / (u * u * u * u));
}

/* -d log Q / du = phi(u) / Q(u) */
static double hazard(double u) {
  return INV_SQRT_2PI * exp(-u * u / 2 - log_above(u));
}

/* What is climbed: p [n] has the coefficients of a law's free terms over sigma,
 * and last 1 / sigma; u of run i is sum_k d[i][k] p[k]. */
typedef struct Climb {
  int n, runs;
  bool censored[RUNS_MOST];
  double d[RUNS_MOST][TERMS + 1];
  double p[TERMS + 1], slope[TERMS + 1], curve[TERMS + 1][TERMS + 1];
} Climb;

/* The log likelihood of a run at u, but for a constant; h = 1 / sigma. */
static double run_likelihood(double u, double h, bool censored) {
  return censored ? log_above(u) : log(h) - u * u / 2;
}

/* Adds its slope and curvature; d [n] is du / dp. */
static void climb_add(Climb *c, const double *d, double u, double h,
                      bool censored) {
  const int last = c->n - 1;
  double rate = u, bend = 1;
  if (censored) {
    rate = hazard(u);
    bend = rate * (rate - u);
  }
  for (int k = 0; k <= last; k++) {
    c->slope[k] -= rate * d[k];
    for (int m = 0; m <= last; m++)
      c->curve[k][m] += bend * d[k] * d[m];
  }
  if (!censored) {
    c->slope[last] += 1 / h;
    c->curve[last][last] += 1 / (h * h);
  }
}

/* The likelihood at p, but for a constant, and with `all` its slope and
 * curvature, of which the latter's sign is turned. */
static double climb_look(Climb *c, const double *p, bool all) {
  double sum = 0, h = p[c->n - 1];
  if (all) {
    memset(c->slope, 0, sizeof c->slope);
    memset(c->curve, 0, sizeof c->curve);
  }
  for (int i = 0; i < c->runs; i++) {
    double u = 0;
    for (int k = 0; k < c->n; k++)
      u += c->d[i][k] * p[k];
    sum += run_likelihood(u, h, c->censored[i]);
    if (all)
      climb_add(c, c->d[i], u, h, c->censored[i]);
  }
  return sum;
}

/* curve step = slope, by elimination; the curvature is no less than 0, and a
 * little is added where censored runs leave a direction flat. */
static void climb_solve(Climb *c, double *step) {
  int n = c->n;
  for (int k = 0; k < n; k++) {
    step[k] = c->slope[k];
    c->curve[k][k] += 1e-10 * c->curve[k][k] + 1e-14;
  }
  for (int k = 0; k < n; k++)
    for (int i = k + 1; i < n; i++) {
      double f = c->curve[i][k] / c->curve[k][k];
      for (int m = k; m < n; m++)
        c->curve[i][m] -= f * c->curve[k][m];
      step[i] -= f * step[k];
    }
  for (int k = n - 1; k >= 0; k--) {
    for (int m = k + 1; m < n; m++)
      step[k] -= c->curve[k][m] * step[m];
    step[k] /= c->curve[k][k];
  }
}

/* Newton's steps from c->p to the top, halved where they go down. Returns the
 * likelihood there. */
static double climb_up(Climb *c) {
  enum { CLIMB_STEPS = 200 };
  const int last = c->n - 1;
  double top = climb_look(c, c->p, false), gain = 1;
  double step[TERMS + 1], next[TERMS + 1];
  for (int i = 0; i < CLIMB_STEPS && gain > 1e-12 && c->p[last] < 1e4; i++) {
    double share = 2, now = -INFINITY;
    climb_look(c, c->p, true);
    climb_solve(c, step);
    for (int tries = 0; tries < 60 && !(now >= top); tries++) {
      share /= 2;
      for (int k = 0; k < c->n; k++)
        next[k] = c->p[k] + share * step[k];
      now = next[last] > 0 ? climb_look(c, next, false) : -INFINITY;
    }
    if (!(now >= top))
      break;
    gain = now - top;
    memcpy(c->p, next, sizeof c->p);
    top = now;
  }
  return top;
}

/* Adds a run of log tokens y, less what is fixed: term has the free terms. */
static void climb_run(Climb *c, const double *term, double y, bool censored) {
  double *d = c->d[c->runs];
  for (int k = 0; k < c->n - 1; k++)
    d[k] = -term[k];
  d[c->n - 1] = y;
  c->censored[c->runs++] = censored;
}

/* The likeliest law of l's terms, bend and origin, with coefficient `fixed`
 * held at `value` where it is not below 0. False where the runs do not
 * determine it: too few onsets, or all at one N. */
static bool law_fit(Law *l, const Sample *s, int fixed, double value) {
  Climb c = {.n = l->terms + (fixed < 0)};
  double sum = 0, low = INFINITY, high = -INFINITY;
  int onsets = 0;
  for (int i = 0; i < s->n; i++) {
    double term[TERMS], own[TERMS], y = s->y[i];
    int n = 0;
    law_terms(l, s->x[i], term);
    for (int k = 0; k < l->terms; k++)
      if (k == fixed)
        y -= value * term[k];
      else
        own[n++] = term[k];
    climb_run(&c, own, y, s->censored[i]);
    if (s->censored[i])
      continue;
    onsets++;
    sum += s->y[i];
    low = fmin(low, s->x[i]);
    high = fmax(high, s->x[i]);
  }
  l->censored = s->n - onsets;
  if (onsets <= l->terms || !(high > low))
    return false;
  /* from their mean and sigma = 1 */
  if (fixed != 0)
    c.p[0] = sum / onsets;
  c.p[c.n - 1] = 1;
  l->likelihood = climb_up(&c);
  l->sigma = 1 / c.p[c.n - 1];
  for (int k = 0, n = 0; k < l->terms; k++)
    if (k == fixed)
      l->at[k] = value;
    else
      l->at[k] = c.p[n++] * l->sigma;
  return isfinite(l->likelihood) && isfinite(l->sigma);
}

/* law_fit; of a law with a bend the best over all N*. */
static bool law_profile(Law *l, const Sample *s, int fixed, double value) {
  if (l->terms < TERMS)
    return law_fit(l, s, fixed, value);
  Law best = {.likelihood = -INFINITY};
  for (double bend = l->from; bend <= l->to + 1e-9; bend += log(2) / 4) {
    Law now = *l;
    now.bend = bend;
    if (law_fit(&now, s, fixed, value) && now.likelihood > best.likelihood)
      best = now;
  }
  if (best.terms)
    *l = best;
  return best.terms > 0;
}

/* Student's quantile of a law, and *nu, its degrees of freedom:
 * N* counts as a number. */
static double law_student(const Law *l, const Sample *s, double *nu) {
  *nu = fmax(1, s->n - l->terms - (l->terms == TERMS));
  return student_quantile(1 - LEVEL / 2, *nu);
}

/* The interval around `at` where what falls(context, x) says is below reach:
 * its ends by doubling and halving, infinite where there is none. */
static void profile_ends(double (*falls)(void *, double), void *context,
                         double at, double reach, double *low, double *high) {
  enum { FAR = 200 };          /* beyond this there is no end */
  for (int side = -1; side <= 1; side += 2) {
    double in = 0, out = 0.01;
    while (out < FAR && falls(context, at + side * out) < reach) {
      in = out;
      out *= 2;
    }
    for (int i = 0; i < 25 && out < FAR; i++) {
      const double middle = (in + out) / 2;
      if (falls(context, at + side * middle) < reach)
        in = middle;
      else
        out = middle;
    }
    const double end = out < FAR ? at + side * in : side * HUGE_VAL;
    if (side < 0)
      *low = end;
    else
      *high = end;
  }
}

/* A law, and the coefficient whose interval is asked. */
typedef struct LawHeld {
  const Law *law;
  const Sample *sample;
  int k;
} LawHeld;

/* Twice what the likelihood with the coefficient held is below the law's. */
static double law_falls(void *context, double value) {
  const LawHeld *h = context;
  Law at = *h->law;
  if (!law_profile(&at, h->sample, h->k, value))
    return INFINITY;
  return 2 * (h->law->likelihood - at.likelihood);
}

/* The 95 % interval of coefficient k of a law that has been fitted. */
static void law_interval(const Law *l, const Sample *s, int k, double *low,
                         double *high) {
  double nu, t = law_student(l, s, &nu), reach = s->n * log1p(t * t / nu);
  profile_ends(law_falls, &(LawHeld){l, s, k}, l->at[k], reach, low, high);
}

/* The one power into *l, the best law with a bend into *bent where there is
 * one; true: the latter is preferred. */
static bool law_choose(Law *l, Law *bent, const Sample *s) {
  double low = INFINITY, high = -INFINITY;   /* the least and largest log N */
  *l = (Law){.terms = 2};
  *bent = (Law){.terms = 3, .likelihood = -INFINITY,
                .from = INFINITY, .to = -INFINITY};
  if (!law_fit(l, s, -1, 0))
    return false;
  for (int i = 0; i < s->n; i++) {
    low = fmin(low, s->x[i]);
    high = fmax(high, s->x[i]);
  }
  /* N* lies between the next to them */
  for (int i = 0; i < s->n; i++) {
    if (s->x[i] > low)
      bent->from = fmin(bent->from, s->x[i]);
    if (s->x[i] < high)
      bent->to = fmax(bent->to, s->x[i]);
  }
  if (bent->from < bent->to)
    law_profile(bent, s, -1, 0);
  return 2 * (bent->likelihood - l->likelihood) >= CHI_2;
}

/* What a law says of N: the tokens of the median run; their 95 % interval, for
 * which sigma and N* are fitted anew; and that of one run, which adds sigma as
 * it was found. */
typedef struct Foretold {
  double tokens, low, high, run_low, run_high;
} Foretold;

static Foretold law_foretell(const Law *l, const Sample *s, double N) {
  Law at = *l;
  double low = -HUGE_VAL, high = HUGE_VAL;
  double nu, t = law_student(l, s, &nu);
  at.origin = log(N);
  at.at[0] = law_at(l, at.origin);
  law_interval(&at, s, 0, &low, &high);
  double y = at.at[0], run = t * l->sigma * sqrt(s->n / nu);
  double run_low = y - hypot(y - low, run), run_high = y + hypot(high - y, run);
  return (Foretold){exp(y), exp(low), exp(high), exp(run_low), exp(run_high)};
}

/* -----------------------------------------------------------------------------
 * 3  Tables
 *
 * In million tokens. A > stands before every number that a censored run bounds
 * from below: no number of such a run is shown, or enters a mean, without it.
 */

/* The paper's vocabulary, and the tokens to its sink (section 4). */
static const double PAPER_VOCAB = 50432, PAPER_FROM = 1e9, PAPER_TO = 2e9;
static const char *const ONSET_HEADS[ONSETS] = {
  "sink", "norm", "sink, unseen first", "norm, unseen first"};
static const int ONSET_ORDER[ONSETS] = {
  ONSET_NORM, ONSET_SINK, ONSET_OTHER_NORM, ONSET_OTHER_SINK};

static bool item_has_onsets(const Item *item) {
  return !strncmp(item->name, "onset", 5) || !strcmp(item->name, "firstness");
}

/* What a run says of an onset: 1 its tokens, -1 the tokens that it is later
 * than, 0 nothing. */
static int run_onset(const Results *r, int row, int seed, int what,
                     double *tokens) {
  char name[64];
  snprintf(name, sizeof name, "censored_%s", ONSET_NAMES[what]);
  double censored = results_number(r, row, seed, name);
  snprintf(name, sizeof name, "least_%s", ONSET_NAMES[what]);
  *tokens = results_number(r, row, seed, name);
  if (!(*tokens > 0 && *tokens < 1e14))
    return 0;
  if (censored == 0)
    return 1;
  return censored == 1 ? -1 : 0;
}

/* The word behind a flag where it stands last; "" where it does not stand. */
static void flag_word(char to[32], const char *flags, const char *flag) {
  const char *at = "";
  for (const char *next = flags; (next = strstr(next, flag)); next++)
    at = next + strlen(flag);
  snprintf(to, 32, "%.*s", (int)strcspn(at, " "), at);
}

/* Of how many tokens a row draws the first, and whether its flag says so (that
 * of N^POWER does, though it draws unevenly: no law is fitted to such rows). Of
 * `text`, and of natural text, it is how many tokens, drawn evenly, would be as
 * uncertain. NAN: no run has said yet. */
static double row_first(const Results *r, int row, bool *even) {
  static const char other[] = "--tokenizer ";
  const Row *rows = r->x->row;
  char word[32];
  flag_word(word, rows[row].flags, "--first-tokens ");
  double N = strtod(word, NULL);
  *even = N >= 1;
  /* else any run of the same vocabulary tells */
  for (int k = 0; !*even && k < r->x->rows * r->seeds && !(N > 0); k++) {
    int of = k / r->seeds;
    if (!strstr(rows[of].flags, other) == !strstr(rows[row].flags, other))
      N = results_number(r, of, k % r->seeds + 1, "text_effective");
  }
  return N > 0 ? N : NAN;
}

/* Geometric mean over the seeds, into *mean. Returns 1, -1 where a censored run
 * makes it a bound, 0 and NAN where there is none. */
static int row_onset(const Results *r, int row, int what, double *mean) {
  double sum = 0, tokens;
  int n = 0, is = 1;
  for (int seed = 1; seed <= seeds_of(r, row); seed++) {
    int one = run_onset(r, row, seed, what, &tokens);
    if (one) {
      sum += log(tokens);
      n++;
    }
    if (one < 0)
      is = -1;
  }
  *mean = NAN;
  if (!n)
    return 0;
  *mean = exp(sum / n);
  return is;
}

/* In millions; > where `is` is below 0, a lower bound. What is beyond all
 * measure has no number. */
static int million_text(char *to, size_t room, int is, double tokens) {
  const double x = tokens / 1e6;
  int digits = 0;
  if (!(tokens < 1e14))
    return snprintf(to, room, "endless");
  if (x < 10)
    digits = 2;
  else if (x < 100)
    digits = 1;
  return snprintf(to, room, "%s%.*f", is < 0 ? ">" : "", digits, x);
}

/* "1.51 2.01 >12.0: >3.31", seed by seed and the mean. */
static void onset_cell(Cell to, const Results *r, int row, int what) {
  double x;
  int at = 0, n = 0;
  for (int seed = 1; seed <= seeds_of(r, row); seed++) {
    int is = run_onset(r, row, seed, what, &x);
    if (!is)
      continue;
    if (at > CELL - 24) {
      at += snprintf(to + at, (size_t)(CELL - at), " ..");
      break;
    }
    if (n++)
      to[at++] = ' ';
    at += million_text(to + at, (size_t)(CELL - at), is, x);
  }
  int is = row_onset(r, row, what, &x);
  if (n < 2)
    return;
  at += snprintf(to + at, (size_t)(CELL - at), ": ");
  million_text(to + at, (size_t)(CELL - at), is, x);
}

/* What stands before the ratio of an onset to another, of which one is a bound
 * where its number, as row_onset returns it, is below 0. */
static const char *bound_mark(int is, int was) {
  if (is < 0)
    return ">";
  return was < 0 ? "<" : "";
}

/* The onset of a lever's sink over that of its base, onset-N; a bound where one
 * of the two is one, and nothing where both are. */
static void lever_cell(Cell to, const Results *r, int row) {
  char name[48];
  bool even;
  double with, without;
  snprintf(name, sizeof name, "onset-%.0f", row_first(r, row, &even));
  int base = even ? experiments_row(r->x, name) : -1;
  if (base < 0)
    return;
  int is = row_onset(r, row, ONSET_SINK, &with);
  int was = row_onset(r, base, ONSET_SINK, &without);
  if (is && was && is + was >= 0)
    snprintf(to, CELL, "%s%.2f", bound_mark(is, was), with / without);
}

/* The head of column k of these: N, an onset, or the ratio. */
static const char *onset_head(int k) {
  if (k < 0)
    return "N";
  return k < ONSETS ? ONSET_HEADS[ONSET_ORDER[k]] : "sink, x base";
}

/* Columns behind those of every item, from c on: N, the onsets, and of levers
 * the ratio. Returns how many columns there are then. */
static int onset_columns(Grid *g, const Results *r, const Item *item, int c) {
  bool levers = strstr(item->name, "levers") != NULL, even;
  for (int k = -1; k < ONSETS + levers; k++, c++) {
    bool seen = false;
    for (int i = 0; i < item->count; i++) {
      int row = r->x->shown[item->from + i].row;
      char *cell = g->cell[(i + 1) * ACROSS + c];
      double N = row_first(r, row, &even);
      if (k < 0 && N > 0)
        snprintf(cell, CELL, even ? "%.0f" : "%.1f", N);
      else if (k == ONSETS)
        lever_cell(cell, r, row);
      else if (k >= 0)
        onset_cell(cell, r, row, ONSET_ORDER[k]);
      seen = seen || *cell;
    }
    if (seen)
      snprintf(g->cell[c], CELL, "%s", onset_head(k));
    else                       /* nothing of it yet */
      c--;
  }
  return c;
}

/* The runs that a law is fitted to: those whose rows are named for their
 * number, onset-16. What is foretold is none of these. A run that is not there,
 * or has diverged, is left out; the table counts those that are in. */
static void sample_of(Sample *s, const Results *r, const Item *item, int what) {
  *s = (Sample){0};
  for (int i = 0; i < item->count; i++) {
    int row = r->x->shown[item->from + i].row;
    const char *name = r->x->row[row].name;
    bool even;
    double N = row_first(r, row, &even), tokens;
    if (!even || !strpbrk(name, "0123456789"))
      continue;
    for (int seed = 1; seed <= seeds_of(r, row); seed++) {
      int is = run_onset(r, row, seed, what, &tokens);
      if (is)
        sample_add(s, N, tokens, is < 0);
    }
  }
}

/* A grid with room for so many rows below its heads. */
static Grid grid_make(int rows, const char *const *heads, int columns,
                      Error *e) {
  Grid g = {.rows = rows + 1, .columns = columns};
  g.cell = grab((idx)g.rows * ACROSS, sizeof *g.cell, e);
  for (int c = 0; g.cell && c < columns; c++)
    snprintf(g.cell[c], CELL, "%s", heads[c]);
  return g;
}

static void grid_show(const Grid *g, Bytes *out, bool markdown, Error *e) {
  (markdown ? grid_markdown : grid_text)(g, out, e);
}

/* A power law has three numbers (b, its value at N = 1, sigma): two onsets for
 * each, or no law is shown. */
enum { ONSETS_FOR_A_LAW = 6 };

/* The laws of an item's onsets: the one power, the one with a bend, and which
 * is preferred; NULL where the runs determine none or are too few. */
typedef struct Laws {
  Sample sample[ONSETS];
  Law one[ONSETS], bent[ONSETS];
  const Law *law[ONSETS];
  double most;                 /* the largest N with an onset of the sink */
} Laws;

static void laws_find(Laws *l, const Results *r, const Item *item) {
  for (int k = 0; k < ONSETS; k++) {
    sample_of(&l->sample[k], r, item, k);
    bool bends = law_choose(&l->one[k], &l->bent[k], &l->sample[k]);
    l->law[k] = bends ? &l->bent[k] : &l->one[k];
    int onsets = l->sample[k].n - l->one[k].censored;
    if (!(l->one[k].sigma > 0) || onsets < ONSETS_FOR_A_LAW)
      l->law[k] = NULL;
  }
  const Sample *s = &l->sample[ONSET_SINK];
  l->most = 0;
  for (int i = 0; i < s->n; i++)
    if (!s->censored[i])
      l->most = fmax(l->most, exp(s->x[i]));
}

/* "0.31 [0.12, 0.41]". */
static void interval_text(char *to, size_t room, double value, double low,
                          double high) {
  char from[24] = "endless", end[24] = "endless";
  if (isfinite(low))
    snprintf(from, sizeof from, "%.2f", low);
  if (isfinite(high))
    snprintf(end, sizeof end, "%.2f", high);
  snprintf(to, room, "%.2f [%s, %s]", value, from, end);
}

/* How a law came out; with a bend b is its slope before N*. */
static void law_row(Cell *cell, int what, const Laws *laws) {
  const Sample *s = &laws->sample[what];
  const Law *l = laws->law[what];
  const Law *one = &laws->one[what], *bent = &laws->bent[what];
  double low, high;
  snprintf(cell[0], CELL, "%s", ONSET_HEADS[what]);
  snprintf(cell[1], CELL, "%d", s->n);
  snprintf(cell[2], CELL, "%d", one->censored);
  snprintf(cell[3], CELL, "too few onsets");
  if (!l)
    return;
  law_interval(l, s, 1, &low, &high);
  interval_text(cell[3], CELL, l->at[1], low, high);
  million_text(cell[4], CELL, 1, exp(law_at(l, 0)));
  snprintf(cell[5], CELL, "%.2f", l->sigma);
  snprintf(cell[6], CELL, "not known");
  if (!isfinite(bent->likelihood))
    return;
  int n = snprintf(cell[6], CELL, "%s (%.1f)", l == bent ? "yes" : "no",
                   2 * (bent->likelihood - one->likelihood));
  if (l != bent)
    return;
  law_interval(l, s, 2, &low, &high);
  n += snprintf(cell[6] + n, (size_t)(CELL - n), ": N* %.0f, ",
                exp(bent->bend));
  interval_text(cell[6] + n, (size_t)(CELL - n), bent->at[2], low, high);
}

/* "13.1 [9.2, 18.3]" and "5.0 to 34". */
static void foretold_text(Cell *to, const Foretold *f) {
  const double tokens[] = {f->tokens, f->low, f->high, f->run_low, f->run_high};
  char x[5][12];
  for (int k = 0; k < 5; k++)
    million_text(x[k], sizeof x[k], 1, tokens[k]);
  snprintf(to[0], CELL, "%s [%s, %s]", x[0], x[1], x[2]);
  snprintf(to[1], CELL, "%s to %s", x[3], x[4]);
}

/* What the laws of the norm and the sink, on first tokens as in
 * training, say of rows that are not among the runs they were fitted to,
 * and of the paper's vocabulary. */
static void foretold_row(Cell *cell, const char *name, double N,
                         const Laws *laws) {
  snprintf(cell[0], CELL, "%s", name);
  if (!(N > 0))
    return;
  snprintf(cell[1], CELL, N == floor(N) ? "%.0f" : "%.1f", N);
  for (int k = 0; k < 2; k++) {
    const int what = ONSET_ORDER[k];
    if (!laws->law[what])
      continue;
    Foretold f = law_foretell(laws->law[what], &laws->sample[what], N);
    foretold_text(&cell[2 + 2 * k], &f);
  }
}

/* What stands before the two tables: of the laws, and of what they foretell. */
static const char *const LAWS_SAY[2] = {
  "Million tokens to the onset = (at N = 1) N^b e^(sigma z); a censored run "
  "counts as one that is later. Change of slope: twice the gain in log "
  "likelihood, 9.2 or more for yes: b is then the slope up to N*; what stands "
  "behind N* adds to it beyond.",
  "From the rows named for their number: the median, its 95 % interval, and "
  "95 % of runs. `text` and `natural` as if as many tokens were drawn evenly."};

/* The two tables. */
static void laws_grids(Grid grid[2], const Laws *laws, const Results *r,
                       Error *e) {
  static const char *const heads[] = {
    "onset of", "runs", "censored", "b [95 %]", "at N = 1", "sigma",
    "change of slope"};
  static const char *const told[] = {
    "predicted", "N", "norm", "a run of it", "sink", "a run of it"};
  static const char *const names[] = {
    "onset-all", "onset-text", "onset-natural"};
  bool even;
  grid[0] = grid_make(ONSETS, heads, 7, e);
  grid[1] = grid_make(4, told, 6, e);
  if (e->status)
    return;
  for (int k = 0; k < ONSETS; k++)
    law_row(&grid[0].cell[(k + 1) * ACROSS], ONSET_ORDER[k], laws);
  for (int k = 0; k < 3; k++) {
    int row = experiments_row(r->x, names[k]);
    double N = row < 0 ? NAN : row_first(r, row, &even);
    foretold_row(&grid[1].cell[(k + 1) * ACROSS], names[k], N, laws);
  }
  foretold_row(&grid[1].cell[4 * ACROSS], "the paper's vocabulary", PAPER_VOCAB,
               laws);
}

/* How far to trust it. */
static void laws_caveat(Bytes *out, const Laws *laws, Error *e) {
  bytes_print(out, e,
              "The paper's own sink needed %.0f to %.0f million tokens of "
              "natural text, with 60M parameters.",
              PAPER_FROM / 1e6, PAPER_TO / 1e6);
  if (laws->most > 0)
    bytes_print(out, e,
                " The largest N with an onset of the sink here is %.0f: the "
                "paper's vocabulary is %.0f times that, and its model, rate "
                "and text are others.",
                laws->most, PAPER_VOCAB / laws->most);
}

/* Below an item's rows. */
static int onset_law(Bytes *out, const Results *r, const Item *item,
                     bool markdown, Error *e) {
  Laws *laws = grab(1, sizeof *laws, e);
  Grid grid[2] = {{0}};
  Bytes line = {0};
  if (laws) {
    laws_find(laws, r, item);
    laws_grids(grid, laws, r, e);
  }
  for (int k = 0; k < 2 && !e->status; k++) {
    bytes_print(&line, e, "%s", LAWS_SAY[k]);
    bytes_print(out, e, "\n");
    wrapped(out, 0, WIDTH, "", &line, e);
    bytes_print(out, e, "\n");
    grid_show(&grid[k], out, markdown, e);
  }
  if (!e->status) {
    laws_caveat(&line, laws, e);
    bytes_print(out, e, "\n");
    wrapped(out, 0, WIDTH, "", &line, e);
  }
  free(laws);
  free(grid[0].cell);
  free(grid[1].cell);
  bytes_free(&line);
  return e->status;
}

/* What was written down of an item in FOLDER/CORPUS/ITEM.txt: of remedies
 * its --cost, of any other what was foretold before its runs were made
 * (of onset by --predict). */
static int told_show(const char *folder, const char *corpus, const char *item,
                     FILE *out, Error *e) {
  char path[PATH_ROOM];
  Bytes text = {0};
  int n = snprintf(path, sizeof path, "%s/%s/%s.txt", folder, corpus, item);
  if (n >= PATH_ROOM || file_missing(path) || lines_read(path, &text, e))
    return e->status;
  const char *when = ", written before the runs that it predicts were made";
  if (!strcmp(item, "remedies"))
    when = "";
  fprintf(out, "\n%s%s:\n\n", path, when);
  fwrite(text.at, 1, text.size, out);
  bytes_free(&text);
  return 0;
}

/* --predict: the laws and what they foretell, and by how
 * many runs, for that file. */
static int onset_predict(Bytes *out, const Results *r, const Item *item,
                         Error *e) {
  Bytes line = {0};
  bytes_print(&line, e, "From %s on %s:", item->name, r->corpus);
  for (int i = 0; i < item->count; i++) {
    int row = r->x->shown[item->from + i].row, state[RUN_STATES] = {0};
    count_runs(r, row, seeds_of(r, row), state);
    const char *name = r->x->row[row].name;
    /* a row that is not named for its number is foretold */
    if (strpbrk(name, "0123456789") && state[RUN_HELD])
      bytes_print(&line, e, " %s (%d)", name, state[RUN_HELD]);
  }
  wrapped(out, 0, WIDTH, "", &line, e);
  bytes_free(&line);
  return onset_law(out, r, item, false, e);
}

/* -----------------------------------------------------------------------------
 * 4  The picture: tokens to the onset over N, both logarithmic
 *
 * Every run a mark, one that is censored an open one with an arrow; the laws of
 * the norm and of the sink as lines with their intervals, as far as the paper's
 * vocabulary; and there the paper's own. Marks of one N stand side by side.
 */

/* The runs of a row of which run_onset says `sign`. */
static void onset_marks(Series *line, const Results *r, int row, int what,
                        double N, int sign) {
  double tokens;
  for (int seed = 1; seed <= seeds_of(r, row); seed++)
    if (run_onset(r, row, seed, what, &tokens) == sign)
      line_add(line, N * pow(1.09, ONSET_ORDER[what] - 1.5), tokens / 1e6);
}

/* A law over N from 1 to the paper's, with its interval, as
 * far as the page goes. */
static void onset_line(Series *line, const Law *l, const Sample *s) {
  enum { POINTS = 24 };
  static const double MOST = 1e12;
  line->band = line->bare = true;
  for (int i = 0; i <= POINTS; i++) {
    double N = pow(PAPER_VOCAB, (double)i / POINTS);
    Foretold f = law_foretell(l, s, N);
    int n = line->n;
    if (!(f.tokens < MOST))
      return;
    line_add(line, N, f.tokens / 1e6);
    line->low[n] = f.low / 1e6;
    line->high[n] = fmin(f.high, MOST) / 1e6;
  }
}

static void onset_chart(Paper *p, const Laws *laws) {
  static const char *const others[] = {"onset-text", "onset-natural"};
  static const char *const names[] = {
    "text's frequencies, sink", "natural text, sink"};
  const Results *r = &p->runs;
  Series *lines = p->lines;
  Chart what = {
    "Tokens until the first token is known, over how many it is drawn from",
    "A mark is a run; an open one with an arrow was not there by the end of "
    "its run. Unseen first: on first tokens that were never first in training. "
    "Lines: the laws of the norm and the sink, with their 95 % intervals, "
    "drawn on to the paper's vocabulary, where the paper's own sink needed "
    "1,000 to 2,000 million tokens of natural text.",
    {.name = "N first tokens", .log = true, .tight = true},
    {.name = "million tokens", .log = true, .high = 260}};
  int n = 0;
  bool even;
  /* the laws' rows, then the two of a text */
  for (int k = 0; k < ONSETS + 2; k++) {
    bool drawn = k < ONSETS;
    int of = drawn ? ONSET_ORDER[k] : ONSET_SINK;
    const char *name = drawn ? ONSET_HEADS[of] : names[k - ONSETS];
    char beyond_end[64];
    snprintf(beyond_end, sizeof beyond_end, "%s, later", name);
    if (k < 2 && laws->law[of])
      onset_line(line_begin(lines, n++, "", k), laws->law[of],
                 &laws->sample[of]);
    Series *seen = line_begin(lines, n++, name, k);
    Series *later = line_begin(lines, n++, beyond_end, k + LINE_OVER);
    seen->points = true;
    for (int i = 0; i < p->item->count; i++) {
      int row = row_of(p, i);
      double N = row_first(r, row, &even);
      if (drawn && !even)
        continue;
      if (!drawn && strcmp(r->x->row[row].name, others[k - ONSETS]))
        continue;
      onset_marks(seen, r, row, of, N, 1);
      onset_marks(later, r, row, of, N, -1);
    }
  }
  Series *paper = line_begin(lines, n++, "the paper's sink", 7);
  line_add(paper, PAPER_VOCAB, PAPER_FROM / 1e6);
  line_add(paper, PAPER_VOCAB, PAPER_TO / 1e6);
  chart(&p->h, &what, lines, n);
}

static void draw_onset(Paper *p, const char *word) {
  Laws *laws = grab(1, sizeof *laws, p->h.e);
  (void)word;
  if (laws)
    laws_find(laws, &p->runs, p->item);
  if (!p->h.e->status)
    onset_chart(p, laws);
  free(laws);
}
