/* paper.c - every table and figure of "When Attention Sink Emerges in Language
 * Models", run and judged, beside the paper's numbers.
 *
 *     cc -O3 data/paper/paper.c -o paper -lm
 *     ./paper list     the tables and figures, and how much of each is done
 *     ./paper table4   one of them: what is missing is run, ours stands beside
 *                      the paper's
 *     ./paper run      as ./sink run, filmed, and leaves a page: out/run.html
 *
 * SPDX-License-Identifier: MIT
 *
 * experiments.txt says which models are trained, what the paper printed of
 * each, and what is claimed. This program reads it, trains and measures a row
 * for a seed, keeps what it found in data/results, judges every claim by the
 * rule that stands beside it, and shows tables and the ledger as text and
 * pictures of them. When a sink comes, and the law of that, is in onset.c and
 * firstness.c; the summary's page in summary.c, all others in report.c. It has
 * sink's own verbs too; its run, train and eval leave a page (pages.c).
 *
 * Contents   1 The table of experiments, 2 result files   experiments.c
 *            3 Two toys                                   toys.c
 *            4 One run                                    train.c
 *            5 Rules and verdicts                         verdicts.c
 *            6 What is shown                              shown.c
 *            7 Pictures of the results                    pictures.c
 *            8 What `check` states besides                statements.c
 *            9 The command                                command.c
 *
 * A measure is a number of a result, by its name: alpha_1, sink_*, loss. The
 * tests are in data/check/test_paper.c and data/check/test_onset.c.
 */
#define SINK_NO_MAIN
#define RESULTS_FOLDER "data/results"
#define SEEDS_MOST 99
/* What the flags of this program fill. */
#define OWN_SETTINGS \
  struct Own { \
    char row[64], corpus[64];   /* one row; the runs' text, "" the first */ \
    char texts[PATH_ROOM], results[PATH_ROOM], models[PATH_ROOM]; \
    char parts[PATH_ROOM];      /* of runs that were stopped, "" of none */ \
    int only_seed, seeds;       /* -1 all; 1 .. this, 0 those of the table */ \
    int commands, verify, show, predict, cost; \
  } own;
#define ITEM OWN                /* groups of flags */
#define KEPT_RUNS (OWN << 1)
#define OWN_OPTIONS \
  STRING("row", ITEM, own.row, "NAME", \
         "one row of the item; with --seed one run"), \
  WHOLE("seed", ITEM, own.only_seed, "-1", 0, INT32_MAX, \
        "one seed; 0 is for tuning [those of the table]"), \
  WHOLE("seeds", ITEM, own.seeds, "0", 1, SEEDS_MOST, \
        "seeds 1 .. N of every row; judged are the table's"), \
  STRING("corpus", ITEM | KEPT_RUNS, own.corpus, "NAME", \
         "the runs' text, by its name in the table [the first]"), \
  {"texts", ITEM, 'f', AT(own.texts), "", 0, PATH_ROOM, "FOLDER", \
   "the texts that data/ lacks"}, \
  {"models", ITEM, 's', AT(own.models), "models", 0, PATH_ROOM, "FOLDER", \
   "published models, NAME.model made by ./hf"}, \
  {"results", ITEM | KEPT_RUNS, 's', AT(own.results), RESULTS_FOLDER, 0, \
   PATH_ROOM, "FOLDER", "where finished runs are kept"}, \
  {"parts", ITEM, 'f', AT(own.parts), "", 0, PATH_ROOM, "FOLDER", \
   "where stopped runs are kept, to be resumed"}, \
  SWITCH("commands", ITEM, own.commands, \
         "print the command of each missing run"), \
  SWITCH("verify", ITEM, own.verify, \
         "repeat a finished run and compare the bytes"), \
  SWITCH("show", ITEM, own.show, "run nothing; show the results so far"), \
  SWITCH("predict", ITEM, own.predict, \
         "for onset: the law and its predictions"), \
  SWITCH("cost", ITEM, own.cost, \
         "for remedies: time per step, relative to softmax"),
#include "options.h"
#include "../later/later.h"
#include "../../sink.c"
#include "../later/later.c"
#include "../text/first.c"
#include "../text/teller.c"
#include "../text/vocabulary.c"
#include "../text/shards.c"
#include "pages.c"
#include "experiments.c"
#include "toys.c"
#include "train.c"
#include "verdicts.c"
#include "shown.c"
#include "pictures.c"
#include "onset.c"
#include "firstness.c"
#include "remedies.c"
#include "summary.c"
#include "scale.c"
#include "statements.c"
#include "command.c"
#include "report.c"

static int verb_eval_paper(Settings *s, Error *e) {
  return eval_more(s, NULL, e);
}
static int verb_run_paper(Settings *s, Error *e) {
  return run_filmed(s, toy_why, e);
}

static const Verb PAPER_VERBS[] = {
  {"list", "", KEPT_RUNS, "the items, runs done, claims tested", verb_items},
  {"ITEM", "or all", ITEM | GENERAL, "a table or figure, run and judged",
   verb_item},
  {"report", "", GENERAL | OUTPUT | KEPT_RUNS,
   "the whole paper [out/report.html]", verb_report},
  {"stream", "MODEL", DATA | GENERAL | TABLES | STREAM,
   "a cache of keys that forgets", verb_cache},
  {"tokenize", "train|encode|decode [FILE]", OUTPUT | GENERAL | TOKENIZE,
   "text and its ids; a vocabulary of texts", vocabulary_tokenize},
  {"generate", "[MODEL]", GENERAL | GENERATE,
   "text from a model or a grammar", grammar_generate},
  PAGED_VERBS(verb_run_paper, verb_eval_paper),
  {"readme", "", KEPT_RUNS, "writes the pages of " RESULTS_FOLDER " anew",
   verb_readme},
  SINK_VERBS {0}
};

#ifndef PAPER_NO_MAIN
int main(int argc, char **argv) {
  const Program paper = {.name = "paper",
                         .verbs = PAPER_VERBS,
                         .checks = MORE_CHECKS,
                         .other = PAPER_VERBS + 1,   /* ITEM */
                         .page = run_page,
                         .watch = film_watch,
                         .start = trainer_start,
                         .log = log_keep,
                         .edit = position_edit,
                         .open = paper_open,
                         .first = first_open};
  return sink_main(&paper, argc, argv);
}
#endif
