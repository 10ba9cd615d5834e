/* pages.c - what paper.c and hf.c both have beside sink.c: the page that a run,
 * a training or an evaluation leaves for a browser, with its tables, curves and
 * maps; an evaluation of several models, inputs, texts or lengths; one with a
 * column ablated; and the weights that scores give, in closed form. Both
 * include it behind sink.c.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tables.c"
#include "resume.c"
#include "drawn.c"
#include "signs.c"
#include "known.c"
#include "film.c"
#include "run.c"

/* -----------------------------------------------------------------------------
 * sink's train with a page, and its eval of several models and with more
 * measurements */

/* train, and beside its checkpoint a page. */
static int train_paged(Settings *s, Error *e) {
  Work w = {0};
  if (s->out[0] && !s->report[0] && strlen(s->out) > 490)
    return fail(e, 2, "--out %.40s..: this path is too long. Try: a shorter "
                "one", s->out);
  if (s->out[0] && !s->report[0])
    snprintf(s->report, PATH_ROOM, "%.490s.html", s->out);
  train_some(s, &w.t, &w.o, e);
  take_divergence(w.o.ended, &w.t, e);   /* no error yet */
  /* a finished run that is resumed has no looks: its page stays */
  const bool page = s->report[0] && (w.o.ended[0] || w.o.p.looks ||
                                     !s->resume || file_missing(s->report));
  if (!w.o.ended[0] && page && !e->status) {
    Settings seen = w.t.s;
    seen.eval_T = (int)at_most(seen.eval_T, seen.model.context);
    if (!outcome_measure(&w.o, &w.t, &seen, e))
      outcome_heads(&w.o, &w.t, &seen, e);
  }
  if (!e->status && page)
    report_write(s->report, "train", &w.t.s, &w.o, NULL, w.o.ended, e);
  if (!e->status && s->report[0] && !s->quiet)
    fprintf(stderr, "The page: %s\n", s->report);
  if (w.o.ended[0])
    fail(e, 1, "%s", w.o.ended);
  return work_end(&w, e);
}

/* Sink's tables, what was said besides, and the row of all numbers. */
static void eval_tell(Work *w, Numbers *besides, const Bytes *table,
                      const Bytes *said, const Settings *s, Error *e) {
  w->o.loss = w->o.s.loss;
  const idx unscored = w->o.c.prefix - (w->o.c.prefix > 0);
  w->o.tokens = w->o.s.n * (w->o.s.T - at_most(unscored, w->o.s.T));
  if (!results_alone(s)) {
    eval_print(w, s);
    if (table->size)
      printf("\n%s", (const char *)table->at);
    if (said->size)
      printf("%.*s", (int)said->size, (const char *)said->at);
  }
  eval_write(w, besides, s, e);
  if (s->report[0])
    report_write(s->report, "eval", s, &w->o, (const char *)table->at, "", e);
}

/* eval of one model with its causes and `more`, or a survey. */
static int eval_more(Settings *s, MeasureMore *more, Error *e) {
  const char *path = s->words[0];
  Work w = {.o = {.name = path}};
  Numbers besides = {0};
  Bytes table = {0}, said = {0};
  if (!path)
    return fail(e, 2,
                "eval: expected a model file. Try: %s eval out/model.ckpt",
                s->program->name);
  if (s->n_words > 1 || s->inputs || s->domains[0] || s->lengths[0])
    return survey(s, s->words, s->n_words, more, e);
  /* these need the model in memory */
  double kept = s->signs || s->quantize ? INFINITY : 0;
  if (!model_open(s, path, kept, &w.t, e) && !results_ready(s, e) &&
      !eval_data_open(s, &w.t, path, e) && !outcome_measure(&w.o, &w.t, s, e) &&
      !(s->report[0] && outcome_heads(&w.o, &w.t, s, e)) &&
      !eval_causes(&besides, &table, s, &w.t, &w.o.s, e) &&
      !(more && more(&besides, &said, s, &w.t, e)))
    eval_tell(&w, &besides, &table, &said, s, e);
  numbers_free(&besides);
  bytes_free(&table);
  bytes_free(&said);
  return work_end(&w, e);
}

#define PAGED_VERBS(run, eval) \
  {"run", "", KEPT | OUTPUT | TABLES | GENERAL | RUN, \
   "a sink comes and goes [out/run.html]\n    its arms decide --sim --kernel " \
   "--normalizer --scale --extra\n    these stand for the defaults: " \
   RUN_FLAGS, run}, \
  {"film", "", MODEL | TRAIN | DATA | OUTPUT | GENERAL, \
   "sink run as a picture [out/film.svg]", verb_film}, \
  {"train", "", MODEL | TRAIN | DATA | MEASURE | OUTPUT | GENERAL | ALONE, \
   "text in, checkpoint and page out", train_paged}, \
  {"eval", "MODEL ..", DATA | MEASURE | TABLES | GENERAL | EVAL, \
   "the sink, norms and the alpha map", eval}
