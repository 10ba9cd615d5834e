/* onset.c - when is the first token known? Tokens that a model reads until it has a sink, over the
 * number N of tokens that the first one is drawn from.
 *
 * SPDX-License-Identifier: MIT
 *
 * Part of paper.c, which includes it behind its tables (6).
 *
 * Position 1 of every sequence holds one of N ordinary tokens (--first-tokens N). A model can learn
 * these N by heart, or that this is position 1, whatever stands there. By heart takes longer the
 * larger N is; knowing the position does not. So the tokens that a sink takes to come, over N, tell
 * which it is: one power of N, or a slope that falls where recognition takes over from memory. A
 * run that has no sink at its end is censored: its onset is later than that, and it is counted so.
 *
 * Contents   1 A run: looks, and the onset of a curve    2 The fit    3 Tables    4 The picture
 */

/* -------------------------------------------------------------------------------------------------
 * 1  A run: looks, and the onset of a curve
 *
 * +onset: looks every LOOK_TOKENS tokens at LOOK_SEQUENCES held sequences, with first tokens as in
 * training, and where there are others (SEEN of all: `all`, `text` and natural text have none) at
 * the same sequences with first tokens that were never first. +until: the run ends with the onset
 * of its sink. A result keeps of each thing that is looked for
 *
 *   onset_WHAT      the tokens of the first of HOLDS looks in a row that find it; nan: it never was
 *   censored_WHAT   1 where it never was, else 0
 *   least_WHAT      the onset, or where it is censored the tokens of the last look: no less
 *
 * and up to CURVE_LOOKS looks, evenly spaced, as curves.
 */
enum { HOLDS = 3, LOOK_SEQUENCES = 64, CURVE_LOOKS = 128 };
static const double LOOK_TOKENS = 1e5;

/* What is looked for, and from where on it is there: SHOWS times even (sink.c, 12); a norm of the
 * first row of three times the others'. */
enum { ONSET_SINK, ONSET_NORM, ONSET_OTHER_SINK, ONSET_OTHER_NORM, ONSETS };
static const char *const ONSET_NAMES[ONSETS] = {"sink", "norm", "other_sink", "other_norm"};
static const double NORM_SHOWS = 3;

/* Looks in a row that have found it, up to HOLDS, and the tokens of their first. */
typedef struct Onset { int looks; double from; } Onset;

/* A look at `tokens` finds x. NAN finds nothing; what has held stays. */
static void onset_see(Onset *o, double tokens, double x, double least) {
  if (o->looks == HOLDS) return;
  if (!(x >= least)) o->looks = 0;
  else if (o->looks++ == 0) o->from = tokens;
}

/* A run under way: the curves of kept looks, the first at step 0. */
typedef struct Watch {
  Onset onset[ONSETS];
  Data others;                 /* the run's, but for its first tokens; `first` NULL: none */
  double even, tokens, last;   /* of alpha_1; of a step; of the last look */
  int looks, every;            /* so far; every how many is kept */
  double times[LOOKS + 1], other[3][LOOKS + 1];
} Watch;

/* n sequences as d and s draw them: alpha, Sink and the norm ratio into *now. */
static int onset_measure(Trainer *t, const Data *d, const Settings *s, int n, Look *now,
                         Error *e) {
  Sinks seen;
  Error why = {0};
  int starts, first = config_column_first(&t->m.c);
  if (evaluate(&seen, &t->m, d, s, n, s->eval_T, &starts, &why))
    return step_fault(t, &why, e);
  now->alpha1 = sinks_alpha(&seen, first);
  now->sink1 = sinks_sink(&seen, first, 0);
  now->ratio = sinks_ratio(&seen);
  sinks_free(&seen);
  return 0;
}

/* One look: the onsets see it, and every so many are kept. */
static int onset_look(Watch *w, Trainer *t, Progress *p, Look *start, Error *e) {
  Look now = {.step = t->step, .loss = NAN, .norm = NAN, .held = NAN}, other = now;
  const bool others = w->others.first != NULL;
  if (onset_measure(t, &t->data, &t->s, LOOK_SEQUENCES, &now, e) || (others &&
      onset_measure(t, &w->others, &t->s, LOOK_SEQUENCES, &other, e))) return e->status;
  const double found[ONSETS] = {now.alpha1 / w->even, now.ratio, other.alpha1 / w->even,
                                other.ratio};
  w->last = (double)t->step * w->tokens;
  for (int k = 0; t->step && k < (others ? ONSETS : ONSET_OTHER_SINK); k++)
    onset_see(&w->onset[k], w->last, found[k], k % 2 == ONSET_NORM ? NORM_SHOWS : SHOWS);
  p->alpha1 = now.alpha1, p->sink1 = p->sink1_low = now.sink1, p->ratio = now.ratio;
  if (w->looks++ % w->every || p->looks == LOOKS) return 0;
  int at = t->step ? p->looks + 1 : 0;
  w->times[at] = found[ONSET_SINK];
  w->other[0][at] = found[ONSET_OTHER_SINK];
  w->other[1][at] = other.sink1;
  w->other[2][at] = other.ratio;
  if (!t->step) { *start = now; return 0; }
  now.loss = t->loss_sum / (double)t->loss_steps;
  now.norm = t->norm;
  t->loss_sum = 0, t->loss_steps = 0;
  p->look[p->looks++] = now;
  return 0;
}

/* exp(entropy) of the text's ids: how many even ones are drawn as evenly. Of an endless grammar
 * those of its held documents. */
static double text_effective(const Data *d, Error *e) {
  const Ids *from = d->train.size ? &d->train : &d->held;
  double entropy = 0, *count = grab(d->vocab, sizeof *count, e);
  for (size_t i = 0; count && i < from->size; i++) count[from->at[i]]++;
  for (int v = 0; count && v < d->vocab; v++) {
    double share = count[v] / (double)from->size;
    entropy -= share > 0 ? share * log(share) : 0;
  }
  free(count);
  return exp(entropy);
}

/* The first tokens that the training does not draw, where it draws from some that are named. */
static void others_open(Watch *w, const Trainer *t) {
  Source s = t->s.data;
  Error none = {0};                                        /* no others: none to look at */
  w->others = t->data;
  w->others.first = NULL;
  if (!isdigit((unsigned char)s.first_tokens[0])) return;
  snprintf(s.first_own, sizeof s.first_own, "%s", t->s.data.first_tokens);
  snprintf(s.first_tokens, sizeof s.first_tokens, "other");
  if (first_open(&w->others, &s, 0, &none)) w->others.first = NULL;
}

/* What an evaluation finds at the end with other first tokens, and with the text's own. */
static int onset_beyond(const Watch *w, Trainer *t, Result *r, Error *e) {
  Settings s = t->s;
  snprintf(s.data.first_tokens, sizeof s.data.first_tokens, "natural");
  for (int natural = !w->others.first; natural < 2 && *t->s.data.first_tokens; natural++) {
    const char *how = natural ? "natural" : "other";
    Look end = {0};
    if (onset_measure(t, natural ? &t->data : &w->others, natural ? &s : &t->s, s.eval_n, &end, e))
      break;
    put(r, e, end.alpha1 / w->even, "times_1@%s", how);
    put(r, e, end.sink1, "sink_1@%s", how);
    put(r, e, end.ratio, "norm_ratio@%s", how);
  }
  return e->status;
}

static int onset_numbers(const Watch *w, const Progress *p, Result *r, Error *e) {
  static const char *const curves[] = {"times_1", "sink_1", "norm_ratio"};
  const bool others = w->others.first != NULL;
  for (int k = 0; k < (others ? ONSETS : ONSET_OTHER_SINK); k++) {
    bool held = w->onset[k].looks == HOLDS;
    put(r, e, held ? w->onset[k].from : NAN, "onset_%s", ONSET_NAMES[k]);
    put(r, e, !held, "censored_%s", ONSET_NAMES[k]);
    put(r, e, held ? w->onset[k].from : w->last, "least_%s", ONSET_NAMES[k]);
  }
  put_list(r, e, w->times, p->looks + 1, "curve_times_1");
  for (int k = 0; k < 3 && others; k++)
    put_list(r, e, w->other[k], p->looks + 1, "curve_other_%s", curves[k]);
  return e->status;
}

/* A training with its looks, to its last step or, with `until`, to the onset of its sink. */
static int onset_run(Trainer *t, Progress *p, Look *start, bool until, Result *r, Error *e) {
  Watch *w = grab(1, sizeof *w, e);
  if (!w) return e->status;
  w->tokens = tokens_a_step(t);
  long steps = t->s.train.steps, apart = (long)fmax(1, round(LOOK_TOKENS / w->tokens));
  w->every = (int)((steps / apart + CURVE_LOOKS - 1) / CURVE_LOOKS);
  w->every += !w->every;
  if (t->s.eval_T > t->s.model.context) t->s.eval_T = t->s.model.context;
  w->even = sink_uniform(&t->m.c, t->s.eval_T);
  others_open(w, t);
  p->start = seconds();
  stop_gently();
  onset_look(w, t, p, start, e);
  while (t->step < steps && !e->status && !interrupted) {
    if (until && w->onset[ONSET_SINK].looks == HOLDS) break;
    if (trainer_step(t, e) || (t->step % apart == 0 && onset_look(w, t, p, start, e))) break;
    progress_show(t, p);
  }
  progress_end(p);
  if (interrupted)
    fail(e, 1, "stopped at step %ld of %ld, and nothing is kept. Try: the same command", t->step,
         steps);
  onset_numbers(w, p, r, e);
  if (!e->status) onset_beyond(w, t, r, e);
  put(r, e, text_effective(&t->data, e), "text_effective");
  free(w->others.first);
  free(w);
  return e->status;
}

/* Of any other run, by its looks: the tokens at which alpha_1 first was twice the even value, or all
 * of them if it never was; and its multiple where the loss had made 80 % of its way. */
static int measure_onset(Result *r, const Trainer *t, const Progress *p, double even, Error *e) {
  double onset = tokens_a_step(t) * t->s.train.steps, from = log(t->s.model.vocab), to = NAN;
  double least = p->looks ? p->look[0].loss : NAN, emerged = 0;
  for (int i = 1; i < p->looks; i++) least = fmin(least, p->look[i].loss);
  for (int i = p->looks - 1; i >= 0; i--) {
    const Look *at = &p->look[i];
    if (at->alpha1 >= SHOWS * even) onset = tokens_a_step(t) * (double)at->step, emerged = 1;
    if (from - at->loss >= 0.8 * (from - least)) to = at->alpha1 / even;
  }
  put(r, e, onset, "onset");
  put(r, e, emerged, "emerged");
  return put(r, e, to, "times_1_at_80");
}
