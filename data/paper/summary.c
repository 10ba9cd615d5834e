/* summary.c - data/results/SUMMARY.md and its picture: what came out, on one
 * page.
 *
 * SPDX-License-Identifier: MIT
 *
 * Part of paper.c, which includes it behind firstness.c. Every number is read
 * from finished results.
 *
 * Contents   1 A headline claim, shortly    2 The two tables of claims
 *            3 Their picture                4 The onset over q
 *            5 Remedies at equal loss       6 The page
 */

/* -----------------------------------------------------------------------------
 * 1  A headline claim, shortly */

enum { PAGE = 108 };             /* columns of the page's lines */

/* `again`: claims of item fair ask it on fair terms; their names begin so. */
typedef struct Brief {
  const char *claim, *says, *again;
} Brief;
static const Brief BRIEFS[] = {
  {"k-bias-takes", "K biases take the sink from token 1", NULL},
  {"k-bias-holds", "under K biases it is on k*", NULL},
  {"nope-sinks", "without positions there is a sink", NULL},
  {"value-small", "token 1 has shorter values than others", "fair-value-"},
  {"late", "it comes after most of the loss fell", NULL},
  {"lr-mitigates", "smaller rates, more steps: less of it",
   "fair-lr-mitigates"},
  {"fix-2-moves", "a fixed second token draws it there", NULL},
  {"prefix-shifts", "it spreads over a prefix of 5", NULL},
  {"data-needed", "417 passes over little data: less of it", NULL},
  {"wd-encourages", "weight decay: more of it", NULL},
  {"window-absolute", "under windows it stays on token 1", NULL},
  {"window-small", "the smaller the window, the less", NULL},
  {"sigmoid-sinks-not", "sigmoid: less of it", NULL},
  {"sigmoid-equal-sinks-not", "sigmoid, at equal loss: less of it", NULL},
  {"sigmoid-sum-sinks", "sigmoid normalised: more again", NULL},
  {"sigmoid-sum-equal-sinks", "the same, at equal loss", NULL}};

/* A claim that this table has not is told in its own words. */
static Brief brief_of(const Claim *c) {
  for (size_t i = 0; i < sizeof BRIEFS / sizeof *BRIEFS; i++)
    if (!strcmp(BRIEFS[i].claim, c->name))
      return BRIEFS[i];
  return (Brief){c->name, c->statement, NULL};
}

static const char *brief_verdict(const Judged *j) {
  static const char *const words[VERDICT_KINDS + 1] = {
    [UNDECIDED] = "undecided", [REPRODUCED] = "yes", [WEAKER] = "weaker",
    [NOT_REPRODUCED] = "no", [OPPOSITE] = "opposite",
    [VERDICT_KINDS] = "not run"};
  return words[verdict_shown(j)];
}

/* The books at three million tokens, at nine, and story; NULL for what the
 * table has not. */
enum { BOOKS, LONGER, STORY, TEXTS_TOLD };
static const char *const TOLD[TEXTS_TOLD] = {"books", "long", "story"};
typedef const Results *Corpora[TEXTS_TOLD];

/* The two rows that a claim compares, or -1: that of its first side, and the
 * last other one of its sides, or else the first other one of what it needs. */
static void claim_rows(const Claim *c, int row[2]) {
  row[0] = row[1] = -1;
  for (int k = 0; k < side_count(c); k++) {
    const int is = c->side[k].row;
    if (is < 0 || is == row[0] || (k >= c->sides && row[1] >= 0))
      continue;
    row[row[0] >= 0] = is;
  }
}

static double row_mean(const Results *r, int row, const char *measure) {
  return row < 0 ? NAN : spread_of(r, row, measure).mean;
}

static double loss_gap(const Results *r, const int row[2]) {
  return row_mean(r, row[0], "loss") - row_mean(r, row[1], "loss");
}

/* "fair", or the first thing that is unfair in a claim's test; where one other
 * claim asks it again on fair terms, that one's verdict. */
static const char *claim_fair(const Results *r, const Claim *c) {
  static const double EQUAL_LOSS = 0.05;
  const char *again = brief_of(c).again, *said = "";
  int row[2], asked = 0, held = 0;
  for (int i = 0; again && i < r->x->claims; i++) {
    if (strncmp(r->x->claim[i].name, again, strlen(again)))
      continue;
    said = brief_verdict(&r->judged[i]);
    if (r->judged[i].unrun)
      return said;
    asked++;
    held += r->judged[i].verdict == REPRODUCED;
  }
  if (asked == 1)
    return said;
  if (held < asked)
    return "control";
  claim_rows(c, row);
  const double tokens =
      row_mean(r, row[0], "tokens") - row_mean(r, row[1], "tokens");
  if (tokens != 0 && !isnan(tokens))
    return "tokens";
  const double gap = loss_gap(r, row);
  if (row[1] >= 0 && isnan(gap))
    return "not known";
  return fabs(gap) > EQUAL_LOSS ? "loss" : "fair";
}

/* -----------------------------------------------------------------------------
 * 2  The two tables of claims */

/* How many runs of rows whose names begin so are there, and of how many. */
static int runs_named(const Results *r, const char *begins, int *needed) {
  int state[RUN_STATES] = {0};
  *needed = 0;
  for (int i = 0; i < r->x->rows; i++) {
    if (strncmp(r->x->row[i].name, begins, strlen(begins)))
      continue;
    count_runs(r, i, seeds_of(r, i), state);
    *needed += seeds_of(r, i);
  }
  return state[RUN_HELD] + state[RUN_DIVERGED];
}

/* A line for each text: how many claims are reproduced, on books how many of
 * these by a fair test, and the others. */
static void brief_counts(Bytes *out, Corpora on, Error *e) {
  static const char *const heads[TEXTS_TOLD] = {
    "At 3M tokens", "At 9M tokens", "On `story`, of a grammar,"};
  for (int k = 0; k < TEXTS_TOLD; k++) {
    Counts n = {0};
    int all = 0, seeds = 0, fair = 0;
    for (int i = 0; on[k] && i < on[k]->x->claims; i++) {
      const Claim *c = &on[k]->x->claim[i];
      if (!c->headline)
        continue;
      for (int side = 0; side < c->sides; side++)
        if (c->side[side].row >= 0)
          seeds = (int)fmax(seeds, seeds_of(on[k], c->side[side].row));
      count_verdict(n, &on[k]->judged[i]);
      fair += on[k]->judged[i].verdict == REPRODUCED &&
          has_word("fair yes", claim_fair(on[k], c));
      all++;
    }
    if (!on[k])
      continue;
    bytes_print(out, e, "- %s %d seeds reproduce %d of %d headline claims",
                heads[k], seeds, n[REPRODUCED], all);
    if (k == BOOKS)
      bytes_print(out, e, ", %d in fair tests", fair);
    other_verdicts(out, n, "; ", e);
    bytes_print(out, e, ".\n");
  }
  int needed, done = runs_named(on[BOOKS], "large-", &needed);
  if (needed)
    bytes_print(out, e,
                "- Of larger models (6.3 times the parameters, 10 times the "
                "tokens; 16 first tokens) %d of %d runs are done.\n",
                done, needed);
}

/* The verdict of the claim large-NAME. */
static const char *larger_verdict(const Results *r, const Claim *c) {
  char name[96];
  snprintf(name, sizeof name, "large-%.80s", c->name);
  const int is = entry_of(r->x->claim, r->x->claims, sizeof *r->x->claim, name);
  return is < 0 ? "not asked" : brief_verdict(&r->judged[is]);
}

/* The table of verdicts by text. */
static void brief_verdicts(Bytes *out, Corpora on, Error *e) {
  const Experiments *x = on[BOOKS]->x;
  bytes_print(out, e,
              "\n| | claim | 3M | 9M | story | larger | fair |\n"
              "|--:|---|---|---|---|---|---|\n");
  for (int i = 0, number = 0; i < x->claims; i++) {
    const Claim *c = &x->claim[i];
    if (!c->headline)
      continue;
    bytes_print(out, e, "| %d |", ++number);
    markdown_cell(out, brief_of(c).says, e);
    for (int k = 0; k < TEXTS_TOLD; k++)
      markdown_cell(out, on[k] ? brief_verdict(&on[k]->judged[i]) : "not run",
                    e);
    markdown_cell(out, larger_verdict(on[BOOKS], c), e);
    markdown_cell(out, claim_fair(on[BOOKS], c), e);
    bytes_print(out, e, "\n");
  }
}

/* What the paper prints of a row in an item's column of that name; "" where it
 * prints nothing. */
static const char *paper_prints(const Experiments *x, int row,
                                const char *measure) {
  for (int i = 0; i < x->items; i++) {
    const Item *item = &x->item[i];
    const int column = entry_of(item->column, item->columns,
                                sizeof *item->column, measure);
    for (int k = 0; column >= 0 && k < item->count; k++) {
      const Shown *is = &x->shown[item->from + k];
      if (is->row == row && strcmp(is->paper[column].text, "."))
        return is->paper[column].text;
    }
  }
  return "";
}

/* Where a side's weight is looked for: "1", "2" of alpha_2, "*" of times_*;
 * token 1 for what has no such mean. */
static const char *side_place(const Side *side) {
  if (side->row < 0 || (strncmp(side->measure, "alpha_", 6) &&
                        strncmp(side->measure, "times_", 6)))
    return "1";
  const char *place = side->measure + 6;
  return strlen(place) == 1 ? place : "1";
}

/* What two rows have, beside each other; `.` for what one has not. */
static void pair_add(Bytes *out, const char *const said[2], bool both,
                     Error *e) {
  bytes_print(out, e, " %s", *said[0] ? said[0] : ".");
  if (both)
    bytes_print(out, e, ", %s", *said[1] ? said[1] : ".");
  bytes_print(out, e, " |");
}

/* The table of numbers: of both rows of a claim the sink, the paper's and ours,
 * and the weight; and by how much their losses differ. */
static void brief_numbers(Bytes *out, const Results *r, Error *e) {
  const Experiments *x = r->x;
  bytes_print(out, e,
              "\n| | rows | paper, Sink %% | ours | alpha, mean "
              "\302\261 spread | loss gap, nats |\n"
              "|--:|---|--:|--:|--:|--:|\n");
  for (int i = 0, number = 0; i < x->claims; i++) {
    const Claim *c = &x->claim[i];
    Cell sink[2] = {"", ""}, alpha[2] = {"", ""};
    const char *paper[2] = {"", ""}, *name[2] = {"", ""};
    int row[2];
    if (!c->headline)
      continue;
    claim_rows(c, row);
    for (int k = 0; k < 2 && row[k] >= 0; k++) {
      const char *place = side_place(&c->side[k && c->side[1].row == row[1]]);
      char measure[64];
      name[k] = x->row[row[k]].name;
      snprintf(measure, sizeof measure, "sink_%.40s", place);
      paper[k] = paper_prints(x, row[k], measure);
      const double mean = row_mean(r, row[k], measure);
      if (!isnan(mean))
        snprintf(sink[k], CELL, "%.1f", mean);
      snprintf(measure, sizeof measure, "alpha_%.40s", place);
      ours(alpha[k], r, row[k], measure, true);
    }
    bytes_print(out, e, "| %d |", ++number);
    pair_add(out, name, row[1] >= 0, e);
    pair_add(out, paper, row[1] >= 0, e);
    pair_add(out, (const char *const[]){sink[0], sink[1]}, row[1] >= 0, e);
    pair_add(out, (const char *const[]){alpha[0], alpha[1]}, row[1] >= 0, e);
    const double gap = loss_gap(r, row);
    if (isnan(gap))
      bytes_print(out, e, " |\n");
    else
      bytes_print(out, e, " %+.3f |\n", gap);
  }
}

/* -----------------------------------------------------------------------------
 * 3  Their picture: estimate and interval of each claim on each text, in three
 * panels, a unit each */
enum { UNIT_ALPHA, UNIT_TIMES, UNIT_OTHER, UNIT_KINDS };

static int claim_unit(const Claim *c) {
  const char *measure = c->side[0].measure;
  if (c->kind == CLAIM_ORDERED || !measure || strstr(measure, "ratio"))
    return UNIT_OTHER;
  return strncmp(measure, "times_", 6) ? UNIT_ALPHA : UNIT_TIMES;
}

/* A picture that stands alone, to be closed: from x = left, `wide` and as high
 * as y = bottom. */
static void svg_begin(Html *h, const char *title, int left, int wide,
                      double bottom) {
  say(h,
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" viewBox=\"%d -24 "
      "%d %.0f\" role=\"img\" aria-label=\"",
      wide * 3 / 2, left, wide, bottom + 24);
  html_text(h, title);
  say(h,
      "\"><style>text{font:11px sans-serif}.end{text-anchor:end}"
      ".middle{text-anchor:middle}.axis{fill:none;stroke:#333}"
      ".rule{stroke:#ddd}.title{font-weight:700}</style>\n"
      "<rect x=\"%d\" y=\"-24\" width=\"%d\" height=\"%.0f\" fill=\"#fff\"/>\n",
      left, wide, bottom + 24);
  svg_text(h, left + 8, -8, "title", title);
}

enum {
  EFFECT_LEFT = -250, EFFECT_FROM = 10, EFFECT_TO = 350, EFFECT_HIGH = 24
};

static bool in_panel(const Claim *c, int unit) {
  return c->headline && claim_unit(c) == unit;
}

/* The axis sees a claim's estimate and interval on each text. */
static void effect_see(Axis *a, Corpora on, int claim) {
  for (int k = 0; k < TEXTS_TOLD; k++) {
    if (!on[k])
      continue;
    const Judged *j = &on[k]->judged[claim];
    axis_see(a, j->estimate);
    axis_see(a, j->low);
    axis_see(a, j->high);
  }
}

/* Draws them around y = middle. */
static void effect_draw(Html *h, const Axis *a, Corpora on, int claim,
                        double middle) {
  for (int k = 0; k < TEXTS_TOLD; k++) {
    const double y = middle + 6 * (k - 1);
    if (!on[k] || isnan(on[k]->judged[claim].estimate))
      continue;
    const Judged *j = &on[k]->judged[claim];
    if (!isnan(j->low))
      say(h, "<path stroke=\"%s\" d=\"M%.1f %.1fH%.1f\"/>", colour_of(k),
          axis_place(a, j->low), y, axis_place(a, j->high));
    svg_mark(h, k, axis_place(a, j->estimate), y);
  }
}

/* The claims of a unit from y = top on, and below them their axis. Returns
 * where the next panel begins. */
static double effects_panel(Html *h, Corpora on, int unit, double top) {
  static const char *const names[UNIT_KINDS] = {
    "weight (alpha; 11: of one head): over the other's, or what is asked (8)",
    "times even rows: over what is asked; 5: over those at 80 % of the loss",
    "values: 1 less their ratio; orders: Kendall's tau"};
  const Experiments *x = on[BOOKS]->x;
  Axis a = {.name = names[unit]};
  int n = 0, number = 0;
  axis_see(&a, 0);
  for (int i = 0; i < x->claims; i++)
    if (in_panel(&x->claim[i], unit)) {
      effect_see(&a, on, i);
      n++;
    }
  if (!n)
    return top;
  const double bottom = top + n * EFFECT_HIGH;
  axis_end(&a, EFFECT_FROM, EFFECT_TO);
  axis_draw(h, &a, false, bottom, top);
  say(h, "<path class=\"axis\" d=\"M%.1f %.1fV%.1f\"/>\n", axis_place(&a, 0),
      bottom, top);
  svg_text(h, EFFECT_TO, bottom + 29, "end", a.name);
  for (int i = 0, at = 0; i < x->claims; i++) {
    const Claim *c = &x->claim[i];
    char text[120];
    number += c->headline;
    if (!in_panel(c, unit))
      continue;
    const double middle = top + (at++ + 0.5) * EFFECT_HIGH;
    snprintf(text, sizeof text, "%d  %.100s", number, brief_of(c).says);
    svg_text(h, EFFECT_LEFT + 8, middle + 4, "", text);
    effect_draw(h, &a, on, i, middle);
    say(h, "\n");
  }
  return bottom + 44;
}

static int effects_draw(Bytes *out, Corpora on, Error *e) {
  static const char *const keys[TEXTS_TOLD] = {
    "books, 3M tokens", "books, 9M", "story"};
  enum { TOP = 20, WIDE = 620 };
  Html body = {.e = e}, h = {.e = e};
  double at = TOP;
  for (int unit = 0; unit < UNIT_KINDS; unit++)
    at = effects_panel(&body, on, unit, at);
  svg_begin(&h,
            "By how much each headline claim holds, with its 95 % interval; "
            "right of 0 it speaks for the paper",
            EFFECT_LEFT, WIDE, at);
  for (int k = 0; k < TEXTS_TOLD; k++) {
    svg_mark(&h, k, EFFECT_LEFT + 14 + 130 * k, 8);
    svg_text(&h, EFFECT_LEFT + 24 + 130 * k, 12, "", keys[k]);
  }
  say(&h, "\n");
  bytes_add(&h.text, body.text.at, body.text.size, e);
  say(&h, "</svg>\n");
  bytes_add(out, h.text.at, h.text.size, e);
  bytes_free(&body.text);
  bytes_free(&h.text);
  return e->status;
}

/* -----------------------------------------------------------------------------
 * 4  The onset over q */

/* What kind of first tokens a row has, by its flag. */
enum {
  FIRST_ABSENT, FIRST_COMMON, FIRST_NEAR, FIRST_POWER, FIRST_ORDINARY, FIRSTS
};
static int first_kind(const Row *row) {
  char word[32];
  flag_word(word, row->flags, "--first-tokens ");
  if (strstr(word, ":absent"))
    return FIRST_ABSENT;
  if (strstr(word, ":q"))
    return FIRST_NEAR;
  if (strchr(word, '^') || strchr(word, '%') || !strcmp(word, "text"))
    return FIRST_POWER;
  return strstr(word, ":common") ? FIRST_COMMON : FIRST_ORDINARY;
}

/* The rows of a kind, FIRST_ABSENT or FIRST_COMMON: "N=16 (q 1) 1.51;". */
static void first_rows(Bytes *out, const Results *r, const Item *item, int kind,
                       Error *e) {
  static const char *const names[] = {
    "Tokens *absent* from the text:", "The *commonest* tokens:"};
  Bytes line = {0};
  int shown = 0;
  for (int i = 0; i < item->count; i++) {
    const int row = r->x->shown[item->from + i].row;
    bool ordinary;
    Cell onset = "";
    const double N = drawn_from(r, row, &ordinary);
    double q = NAN;
    for (int seed = 1; isnan(q) && seed <= seeds_of(r, row); seed++)
      q = run_q(r, row, seed);
    if (first_kind(&r->x->row[row]) != kind || isnan(N + q) ||
        isnan(threshold_cell(onset, r, row, AT_2)))
      continue;
    bytes_print(&line, e, "%s N=%.0f (q %.2g) %s", shown++ ? ";" : names[kind],
                N, q, onset);
  }
  if (shown) {
    bytes_print(&line, e, ".");
    wrapped(out, 2, PAGE, "- ", &line, e);
  }
  bytes_free(&line);
}

/* The laws of the onset at 2 times even, the best first; then what was foretold
 * of pairs. */
static void first_laws(Bytes *out, const Results *r, const Item *item,
                       Error *e) {
  Seen *s = grab(1, sizeof *s, e);
  Bytes line = {0};
  Plane law[LAWS];
  int best = -1;
  bool is[LAWS] = {false};
  if (!e->status)
    seen_of(s, r, item, AT_2);
  for (int k = 0; k < LAWS && !e->status; k++) {
    is[k] = plane_fit(&law[k], s, k, NULL) && !isnan(plane_aicc(&law[k], s->n));
    if (is[k] &&
        (best < 0 || plane_aicc(&law[k], s->n) < plane_aicc(&law[best], s->n)))
      best = k;
  }
  if (best >= 0) {
    char text[240];
    plane_text(text, sizeof text, &law[best], s);
    bytes_print(&line, e,
                "The law of `%s` fits %d runs best: %s (95 %%). The others' "
                "AICc is higher by",
                LAW_NAMES[best], s->n, text);
    for (int k = 0, n = 0; k < LAWS; k++)
      if (is[k] && k != best)
        bytes_print(&line, e, "%s %.1f (%s)", n++ ? "," : "",
                    plane_aicc(&law[k], s->n) - plane_aicc(&law[best], s->n),
                    LAW_NAMES[k]);
    bytes_print(&line, e, ".");
    wrapped(out, 2, PAGE, "- ", &line, e);
  }
  const PairCounts near = firstness_pairs(&line, r, true, e);
  if (near.judged)
    bytes_print(out, e,
                "- Of %d pairs of rows predicted to lie near each other %d do; "
                "of %d more, where a run has no sink, %d does not.\n",
                near.judged, near.judged - near.beyond, near.open,
                near.open_beyond);
  free(s);
  bytes_free(&line);
}

/* Item given: a row for what comes first, a column for each null place that has
 * an onset, or a bound of one, in all three. */
static void given_told(Bytes *out, const Results *r, Error *e) {
  static const int places[] = {0, 2, 3};
  static const char *const heads[] = {
    "one first token", "one of 256", "natural text"};
  double mean[NULLS][3];
  int is[NULLS][3], column[NULLS], n = 0, row;
  for (int k = 0; k < NULLS; k++) {
    for (int p = 0; p < 3; p++)
      is[k][p] = null_onset(r, k, places[p], &row, &mean[k][p]);
    if (is[k][0] && is[k][1] && is[k][2])
      column[n++] = k;
  }
  if (!n)
    return;
  bytes_print(out, e,
              "\nAfter so many million tokens a null place, whose weight does "
              "nothing, has 2 times its even share.\nToken 1 (softmax, sigmoid) "
              "and a sink token have to become one; the others are given."
              "\n\n| |");
  for (int i = 0; i < n; i++) {
    const char *name = NULL_KINDS[column[i]][1];
    bytes_print(out, e, " %.*s |", (int)strcspn(name, ","), name);
  }
  bytes_print(out, e, "\n|---|%.*s\n", 4 * n, "--:|--:|--:|--:|--:|--:|--:|");
  for (int p = 0; p < 3; p++) {
    bytes_print(out, e, "| %s |", heads[p]);
    for (int i = 0; i < n; i++)
      bytes_print(out, e, is[column[i]][p] < 0 ? " >%.1f |" : " %.2f |",
                  mean[column[i]][p] / 1e6);
    bytes_print(out, e, "\n");
  }
}

/* Item firstness: its picture, the onsets by kind of first tokens, the laws. */
static void first_told(Bytes *out, const Results *r, Error *e) {
  const int at =
      entry_of(r->x->item, r->x->items, sizeof *r->x->item, "firstness");
  Bytes line = {0};
  int needed, done = runs_named(r, "first-", &needed);
  if (at < 0)
    return;
  bytes_print(out, e, "\n## When a sink comes\n\n");
  bytes_print(&line, e,
              "Training draws the first token from N tokens. q is the "
              "geometric mean of P(first | token): how well a token shows that "
              "it is first. The numbers are million tokens until alpha_1 is 2 "
              "times that of even rows, geometric means over 1 to 3 seeds; > "
              "is a bound. The picture has more sets of tokens. ");
  if (done < needed)
    bytes_print(&line, e,
                "Of the runs with other than ordinary tokens %d of %d are "
                "done.", done, needed);
  wrapped(out, 0, PAGE, "", &line, e);
  bytes_print(out, e,
              "![Tokens until a sink, over q: absent, common and ordinary "
              "first tokens](onset-q.svg)\n\n");
  first_rows(out, r, &r->x->item[at], FIRST_ABSENT, e);
  first_rows(out, r, &r->x->item[at], FIRST_COMMON, e);
  first_laws(out, r, &r->x->item[at], e);
  given_told(out, r, e);
  bytes_free(&line);
}

enum {
  ONSET_Q_LEFT = 34, ONSET_Q_RIGHT = 350, ONSET_Q_TOP = 24,
  ONSET_Q_BOTTOM = 264, ONSET_Q_KEYS = ONSET_Q_BOTTOM + 52, ONSET_Q_LINE = 20
};

/* q from 1/64 to 1, and 1 to 100 million tokens. */
static void onset_q_axes(Html *h, Axis *x, Axis *y) {
  static const int steps[] = {1, 2, 5, 10, 20, 50, 100};
  axis_see(x, 0.9 / 64);
  axis_see(x, 1.1);
  axis_see(y, 1e6);
  axis_see(y, 1e8);
  for (int i = 0; i < 7; i++) {
    char text[16];
    snprintf(text, sizeof text, "%d", steps[i]);
    axis_tick(y, 1e6 * steps[i], text);
    snprintf(text, sizeof text, "%g", steps[i] / 100.0);
    if (i)
      axis_tick(x, steps[i] / 100.0, text);
  }
  axis_end(x, ONSET_Q_LEFT, ONSET_Q_RIGHT);
  axis_end(y, ONSET_Q_BOTTOM, ONSET_Q_TOP);
  axis_draw(h, y, true, ONSET_Q_LEFT, ONSET_Q_RIGHT);
  axis_draw(h, x, false, ONSET_Q_BOTTOM, ONSET_Q_TOP);
  svg_text(h, 2, 10, "", "million tokens until alpha_1 is 2 times even");
  svg_text(h, ONSET_Q_RIGHT, ONSET_Q_BOTTOM + 30, "end",
           "q, how well a token shows that it is first");
}

/* The runs whose first tokens are of a kind. */
static void onset_q_marks(Html *h, const Axis *x, const Axis *y,
                          const Results *r, const Item *item, int kind) {
  for (int i = 0; i < item->count; i++) {
    const int row = r->x->shown[item->from + i].row;
    if (first_kind(&r->x->row[row]) != kind)
      continue;
    for (int seed = 1; seed <= seeds_of(r, row); seed++) {
      double tokens = NAN;
      const double q = run_q(r, row, seed);
      const int is = run_onset(r, row, seed, ONSET_SINK, &tokens);
      if (is && q > 0)
        svg_mark(h, is < 0 ? kind + LINE_OVER : kind, axis_place(x, q),
                 axis_place(y, tokens));
    }
  }
}

static void onset_q_keys(Html *h) {
  static const char *const keys[FIRSTS] = {
    "absent from the text", "the commonest", "neighbours in frequency",
    "by frequency or share", "ordinary"};
  for (int k = 0; k < FIRSTS; k++) {
    const double y = ONSET_Q_KEYS + k / 2 * ONSET_Q_LINE;
    svg_mark(h, k, 14 + k % 2 * 180, y);
    svg_text(h, 24 + k % 2 * 180, y + 4, "", keys[k]);
  }
  const double y = ONSET_Q_KEYS + 2 * ONSET_Q_LINE;
  svg_mark(h, LINE_OVER, 194, y);
  svg_text(h, 204, y + 4, "", "open: not by the run's end");
}

/* Every run's onset over its q, a mark for each kind of first tokens; open
 * where it had none by its end. */
static int onset_q_draw(Bytes *out, const Results *r, Error *e) {
  const int at =
      entry_of(r->x->item, r->x->items, sizeof *r->x->item, "firstness");
  Axis x = {.log = true, .tight = true}, y = {.log = true, .tight = true};
  Html h = {.e = e};
  svg_begin(&h, "Tokens until a sink comes, over q", 0, PICTURE_WIDTH,
            ONSET_Q_KEYS + 3 * ONSET_Q_LINE);
  onset_q_axes(&h, &x, &y);
  for (int kind = FIRSTS - 1; kind >= 0 && at >= 0; kind--)
    onset_q_marks(&h, &x, &y, r, &r->x->item[at], kind);
  onset_q_keys(&h);
  say(&h, "</svg>\n");
  bytes_add(out, h.text.at, h.text.size, e);
  bytes_free(&h.text);
  return e->status;
}

/* -----------------------------------------------------------------------------
 * 5  Remedies at equal loss, by where the weight of rows is in the end */
enum {
  IN_COLUMN, IN_BOTH, IN_DIAGONAL, IN_NOTHING, IN_OTHERS, IN_PART, IN_FIRST,
  NOT_EQUAL, PLACES_OF
};

static int remedy_place(const Results *r, int row, int softmax) {
  static const double EQUAL_LOSS = 0.05, HALF = 0.5;
  const int rows[2] = {row, softmax};
  const double first = row_mean(r, row, "times_1");
  if (!(fabs(loss_gap(r, rows)) <= EQUAL_LOSS))
    return NOT_EQUAL;
  const bool column = row_mean(r, row, "times_*") >= 2;
  if (first >= 2)
    return column ? IN_BOTH : IN_FIRST;
  if (first >= 1.5)
    return IN_PART;
  if (column)
    return IN_COLUMN;
  if (row_mean(r, row, "times_self") >= 2)
    return IN_DIAGONAL;
  return row_mean(r, row, "mass") < HALF ? IN_NOTHING : IN_OTHERS;
}

/* The rows of a place, in one entry: token 1's multiple of even rows with a
 * fixed first token, and with one of 16. Returns how many there are whose
 * weight on the diagonal is not measured. */
static int remedies_at(Bytes *out, const Results *r, const Item *item,
                       int place, int softmax, Error *e) {
  static const char *const names[PLACES_OF] = {
    "In a null key, a logit or a sink token:",
    "On a sink token, and on token 1 still:",
    "On the diagonal:",
    "Nowhere, as rows sum to less than 0.5:",
    "On other tokens:",
    "In part on token 1 (1.5 to 2 times even):",
    "On token 1 still (2 times even or more):",
    "Not at equal loss:"};
  const Experiments *x = r->x;
  Bytes line = {0};
  int unseen = 0, all = 0;
  for (int i = 0; i < item->count; i++) {
    const int row = x->shown[item->from + i].row;
    const char *name = x->row[row].name;
    char other[96];
    if (strncmp(name, "fixed-", 6) || row == softmax ||
        isnan(row_mean(r, row, "times_1")) ||
        remedy_place(r, row, softmax) != place)
      continue;
    snprintf(other, sizeof other, "drawn-%.80s", name + 6);
    const double drawn = row_mean(r, experiments_row(x, other), "times_1");
    unseen += isnan(row_mean(r, row, "alpha_self"));
    bytes_print(&line, e, "%s %s %.1f", all++ ? "," : names[place], name + 6,
                row_mean(r, row, "times_1"));
    if (!isnan(drawn))
      bytes_print(&line, e, " (%.1f)", drawn);
  }
  if (all) {
    bytes_print(&line, e, ".");
    wrapped(out, 2, PAGE, "- ", &line, e);
  }
  bytes_free(&line);
  return unseen;
}

static void remedies_told(Bytes *out, const Results *r, Error *e) {
  const Experiments *x = r->x;
  const int at = entry_of(x->item, x->items, sizeof *x->item, "remedies");
  const int softmax = experiments_row(x, "fixed-softmax");
  Bytes line = {0};
  int unseen[PLACES_OF];
  if (at < 0 ||
      isnan(row_mean(r, softmax, "tokens") + row_mean(r, softmax, "times_1")))
    return;
  bytes_print(out, e,
              "\n## [Remedies](pages/remedies.md#what-is-done-about-sinks)"
              "\n\n");
  bytes_print(&line, e,
              "This is where the weight is after %.1f million tokens. A number "
              "is token 1's multiple of even rows (softmax: %.1f), in brackets "
              "with one of 16 first tokens; the lists go by the first. Equal "
              "loss means within 0.05 nats.",
              row_mean(r, softmax, "tokens") / 1e6,
              row_mean(r, softmax, "times_1"));
  wrapped(out, 0, PAGE, "", &line, e);
  bytes_print(out, e, "\n");
  for (int place = 0; place < PLACES_OF; place++)
    unseen[place] = remedies_at(out, r, &x->item[at], place, softmax, e);
  int absent = 0;
  for (int i = 0; i < x->item[at].count; i++) {
    const int row = x->shown[x->item[at].from + i].row;
    absent += !strncmp(x->row[row].name, "fixed-", 6) &&
              isnan(row_mean(r, row, "times_1"));
  }
  if (absent)
    bytes_print(out, e, "- Without a number, not run or diverged: %d.\n",
                absent);
  if (unseen[IN_OTHERS])
    bytes_print(out, e,
                "- Of %d of the `other tokens` the diagonal, a token's weight "
                "on itself, is not measured.\n",
                unseen[IN_OTHERS]);
  bytes_free(&line);
}

/* -----------------------------------------------------------------------------
 * 6  The page */

/* What the models are, and how many have no sink with no token fixed. */
static void scope_told(Bytes *out, const Results *r, Error *e) {
  const Experiments *x = r->x;
  const int base = experiments_row(x, "default");
  const int natural = experiments_row(x, "onset-natural");
  char layers[32], dim[32], heads[32], context[32];
  Cell looked;
  if (isnan(row_mean(r, base, "tokens")))
    return;
  flag_word(layers, x->row[base].flags, "--layers ");
  flag_word(dim, x->row[base].flags, "--dim ");
  flag_word(heads, x->row[base].flags, "--heads ");
  flag_word(context, x->row[base].flags, "--context ");
  bytes_print(out, e,
              "- A model has %s blocks, %s dims, %s heads and a context of %s, "
              "and reads %.1f million tokens of books (3M).\n",
              layers, dim, heads, context, row_mean(r, base, "tokens") / 1e6);
  bytes_print(out, e,
              "- Most models fix the first token of each sequence, where a sink "
              "comes much sooner: a `yes` holds there.\n");
  if (isnan(row_mean(r, natural, "tokens") + row_mean(r, natural, "times_1")) ||
      isnan(threshold_cell(looked, r, natural, AT_2)))
    return;
  int none = 0, seeds = 0;
  for (int seed = 1; seed <= seeds_of(r, natural); seed++) {
    double tokens;
    const int is = run_onset(r, natural, seed, ONSET_SINK, &tokens);
    none += is < 0;
    seeds += is != 0;
  }
  bytes_print(out, e,
              "- With no token fixed %d of %d seeds have no sink by %.0f "
              "million tokens: alpha_1 is %.2f times even rows'.\n",
              none, seeds, row_mean(r, natural, "tokens") / 1e6,
              row_mean(r, natural, "times_1"));
}

/* What stands between the marks of SUMMARY.md. */
static int summary_text(Bytes *out, Corpora on, Error *e) {
  Bytes line = {0};
  scope_told(out, on[BOOKS], e);
  bytes_print(out, e, "\n## The paper's headline claims\n\n");
  brief_counts(out, on, e);
  brief_verdicts(out, on, e);
  bytes_print(&line, e,
              "`it` is the sink. `yes`: reproduced, by a rule written down "
              "first. `weaker`: in the paper's direction, but less than "
              "asked. `no`: not reproduced; `opposite`: the other way round. "
              "`undecided`: the seeds allow both. `not run`: still to train. "
              "Fair: `loss`: losses differ by more than 0.05 nats. "
              "`control`: rows without a sink may show it too. `fair`: neither; "
              "but 2 holds without a sink, too. "
              "Else: a fairer version's verdict.");
  bytes_print(out, e, "\n");
  wrapped(out, 0, PAGE, "", &line, e);
  brief_numbers(out, on[BOOKS], e);
  bytes_print(&line, e,
              "Rows are those of [experiments.txt](../paper/experiments.txt). "
              "Sink and alpha are of token 1, or of the claim's place "
              "(2, or k*: `*`); `.`: there is none; `*` behind the "
              "paper's: on proxy scores, ~: second-hand. Spread is the seeds' "
              "standard deviation. The gap is the first row's loss less the "
              "other's. Claim 5 goes by its time, 8 by tokens 2 to 5, windows by "
              "rows with the same keys. Holm corrects verdicts, not intervals.");
  bytes_print(out, e, "\n");
  wrapped(out, 0, PAGE, "", &line, e);
  bytes_print(out, e,
              "![By how much each headline claim holds, with its 95 %% "
              "interval](effects.svg)\n");
  first_told(out, on[BOOKS], e);
  remedies_told(out, on[BOOKS], e);
  bytes_free(&line);
  return e->status;
}
