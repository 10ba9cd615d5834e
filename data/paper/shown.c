/* shown.c - tables and the ledger, as text. Chapter 6 of paper.c.
 *
 * SPDX-License-Identifier: MIT
 */

/* -----------------------------------------------------------------------------
 * 6  What is shown: the list of items, an item's table, the ledger
 *
 * Text of at most 100 columns for a terminal, or Markdown for the README, from
 * the same cells. What begins with sink_ is in per cent, as in the paper; ours
 * is mean +- deviation over seeds.
 */
enum { WIDTH = 100, CELL = 48, ACROSS = 2 * COLUMNS + 12 };
typedef char Cell[CELL];

/* Row 0 holds the heads; cell (r, c) is cell[r * ACROSS + c]. A pair's first
 * has one for both. left: how many rows are not run yet. */
typedef struct Grid {
  int rows, columns, left;
  bool pair[ACROSS];
  Cell *cell;
} Grid;

static bool in_percent(const char *measure) {
  return !strncmp(measure, "sink_", 5);
}
static double scale_of(const char *measure) {
  return in_percent(measure) ? 100 : !strncmp(measure, "least_", 6) ? 1e-6 : 1;
}

/* A measure over seeds, in the unit that is shown; square: of the mean's
 * error. */
typedef struct Spread {
  int n;
  double mean, square, low, high, at[SEEDS_MOST];
} Spread;
static const Spread NO_SPREAD = {.mean = NAN, .low = NAN, .high = NAN};

static void spread_add(Spread *s, double x) {
  /* a file may hold anything */
  if (!(fabs(x) < 1e30) || s->n == SEEDS_MOST)
    return;
  /* the other one where this is NAN */
  s->low = fmin(s->low, x);
  s->high = fmax(s->high, x);
  s->at[s->n++] = x;
  s->mean = mean_of(s->at, s->n, &s->square);
}

static Spread spread_of(const Results *r, int row, const char *measure) {
  Spread s = NO_SPREAD;
  for (int seed = 1; seed <= seeds_of(r, row); seed++)
    spread_add(&s, scale_of(measure) * results_number(r, row, seed, measure));
  return s;
}

/* How many digits a number of this measure is worth. */
static int digits_of(const char *measure, double x) {
  double size = fabs(x);
  return in_percent(measure) ? 2
         : size >= 1000      ? 0
         : size >= 100       ? 1
         : size >= 10        ? 2
                             : 3;
}

/* `first` in `indent` columns, beside it the words of a line, emptied, broken
 * before `width`. */
static void wrapped(Bytes *out, int indent, int width, const char *first,
                    Bytes *line, Error *e) {
  int at = indent;
  bytes_print(out, e, "%-*s", indent, first);
  bytes_add(line, "", 1, e);
  for (char *text = (char *)line->at; !e->status && *text;
       text += strspn(text, " ")) {
    size_t n = strcspn(text, " ");
    if (at > indent && at + 1 + (int)n > width) {
      bytes_print(out, e, "\n%*s", indent, "");
      at = indent;
    }
    if (at > indent)
      bytes_print(out, e, " ");
    at += (int)n + (at > indent);
    bytes_add(out, text, n, e);
    text += n;
  }
  bytes_print(out, e, "\n");
  line->size = 0;
}

/* Text in Markdown: a | would end a cell, a < before a letter begin an
 * element. */
static void markdown_text(Bytes *out, const char *text, Error *e) {
  for (; *text; text++) {
    const bool tag = *text == '<' &&
                     (isalpha((unsigned char)text[1]) || strchr("/!", text[1]));
    bytes_print(out, e, *text == '|' || (tag && text[1]) ? "\\%c" : "%c",
                *text);
  }
}

static void markdown_cell(Bytes *out, const char *text, Error *e) {
  bytes_print(out, e, " ");
  markdown_text(out, text, e);
  bytes_print(out, e, " |");
}

/* A cell on a terminal: row 0 has `paper` and `ours` of a pair, row -1 the name
 * above both. */
static const char *cell_at(const Grid *g, int r, int c) {
  bool first = g->pair[c], second = c && g->pair[c - 1];
  if (r < 0)
    return second ? g->cell[c - 1] : "";
  if (r == 0 && (first || second))
    return first ? "paper" : "ours";
  return g->cell[r * ACROSS + c];
}

/* As Markdown and HTML do, whose heads are one row. */
static const char *flat_cell(const Grid *g, int r, int c, Cell head) {
  snprintf(head, CELL, "%.36s, paper", g->cell[c]);
  return r == 0 && g->pair[c] ? head : cell_at(g, r, c);
}

static void grid_markdown(const Grid *g, Bytes *out, Error *e) {
  Cell head;
  for (int r = 0; r < g->rows; r++) {
    bytes_print(out, e, "|");
    for (int c = 0; c < g->columns; c++)
      markdown_cell(out, flat_cell(g, r, c, head), e);
    bytes_print(out, e, r ? "\n" : "\n|---|");
    for (int c = 1; r == 0 && c < g->columns; c++)
      bytes_print(out, e, c + 1 < g->columns ? "--:|" : "--:|\n");
  }
}

/* In as many blocks below each other as WIDTH asks for; each begins with the
 * first column. */
static void grid_text(const Grid *g, Bytes *out, Error *e) {
  int width[ACROSS] = {0};
  for (int c = 0; c < g->columns; c++)
    for (int r = 0; r < g->rows; r++)
      width[c] = (int)fmax(width[c], (double)strlen(cell_at(g, r, c)));
  /* a pair's name stands above both */
  for (int c = 1; c < g->columns; c++)
    width[c] = (int)fmax(width[c],
                         (double)strlen(cell_at(g, -1, c)) - 2 - width[c - 1]);
  for (int from = 1, to; from < g->columns; from = to) {
    int used = width[0];
    for (to = from; to < g->columns; to += 1 + g->pair[to]) {
      used += 2 + width[to] + (g->pair[to] ? 2 + width[to + 1] : 0);
      if (to > from && used > WIDTH)
        break;
    }
    if (from > 1)
      bytes_print(out, e, "\n");
    for (int r = -1; r < g->rows; r++) {
      size_t line = out->size;
      bytes_print(out, e, "%-*s", width[0], cell_at(g, r, 0));
      for (int c = from; c < to; c++) {
        /* both columns at the second's turn */
        bool above = r < 0 && g->pair[c];
        int both = r < 0 && g->pair[c - 1] ? 2 + width[c - 1] : 0;
        if (!above)
          bytes_print(out, e, "  %*s", both + width[c], cell_at(g, r, c));
      }
      while (out->size > line && out->at[out->size - 1] == ' ')
        out->size--;
      if (out->size > line)
        bytes_print(out, e, "\n");
    }
  }
}

/* A number to `digits` behind its point, with a spread that shows there to its
 * second digit and no further, without one to its last that is not 0; tokens in
 * millions. */
static void with_spread(Cell to, double mean, double spread, int digits,
                        const char *sign) {
  const bool millions = fabs(mean) >= 1e5;
  const double unit = millions ? 1e6 : 1;
  if (millions)
    digits = 2;
  if (!(spread / unit * pow(10, digits) >= 0.5)) /* it would be 0 */
    spread = NAN;
  if (spread > 0)
    digits = (int)fmin(digits, fmax(0, 1 - floor(log10(spread / unit))));
  int at = snprintf(to, CELL, "%.*f", digits, mean / unit);
  while (!(spread > 0) && at < CELL && strchr(to, '.') &&
         strchr("0.", to[at - 1])) {
    const bool point = to[--at] == '.';
    to[at] = 0;
    if (point)
      break;
  }
  if (spread > 0 && at < CELL)
    at += snprintf(to + at, (size_t)(CELL - at), " %s %.*f", sign, digits,
                   spread / unit);
  if (millions && at < CELL)
    snprintf(to + at, (size_t)(CELL - at), " M");
}

/* Mean and spread of a measure over the row's seeds, as text. */
static void ours(Cell to, const Results *r, int row, const char *measure,
                 bool markdown) {
  int state[RUN_STATES] = {0};
  Spread s = spread_of(r, row, measure);
  with_spread(to, s.mean, s.n > 1 ? sqrt(s.square * s.n) : NAN,
              digits_of(measure, s.mean), markdown ? "\302\261" : "+-");
  if (s.n)
    return;
  count_runs(r, row, seeds_of(r, row), state);
  snprintf(to, CELL, "%s", state[RUN_DIVERGED] ? "diverged" : "");
}

/* "5", "2 of 5", and what is amiss with the others. */
static void seeds_cell(Cell to, const Results *r, int row) {
  static const char *const names[RUN_STATES] = {"", "", "diverged", "void",
                                                "damaged"};
  int state[RUN_STATES] = {0}, seeds = seeds_of(r, row);
  count_runs(r, row, seeds, state);
  int n = state[RUN_HELD] + state[RUN_DIVERGED];
  int at = snprintf(to, CELL, n < seeds ? "%d of %d" : "%d", n, seeds);
  for (int i = RUN_DIVERGED; i < RUN_STATES; i++)
    if (state[i])
      at += snprintf(to + at, (size_t)(CELL - at), ", %d %s", state[i],
                     names[i]);
}

/* Is any run of the row there, or a file that should be one? */
static bool row_begun(const Results *r, int row) {
  int state[RUN_STATES] = {0};
  count_runs(r, row, seeds_of(r, row), state);
  return state[RUN_MISSING] < seeds_of(r, row);
}

static bool item_has_onsets(const Item *item);               /* onset.c */
static int onset_columns(Grid *g, const Results *r, const Item *item, int c);
/* firstness.c */
static int item_more(Bytes *out, const Results *r, const Item *item,
                     bool markdown, Error *e);
/* An item's rows: each of its columns, as paper | ours where the paper prints
 * any, then what is always told: alpha_1, its multiple of even rows, and the
 * seeds. */
static int grid_of(Grid *g, const Results *r, const Item *item, bool markdown,
                   Error *e) {
  static const char *const always[] = {"alpha_1", "times_1"};
  const Shown *shown = &r->x->shown[item->from];
  int c = 1;
  *g = (Grid){.rows = item->count + 1};
  if (!(g->cell = grab((idx)g->rows * ACROSS, sizeof *g->cell, e)))
    return e->status;
  for (int i = 0; i < item->columns + 2; i++) {
    bool more = i >= item->columns;
    const char *name = more ? always[i - item->columns] : item->column[i];
    if (more && entry_of(item->column, item->columns, sizeof name, name) >= 0)
      continue;
    for (int k = 0; k < item->count && !more; k++)
      g->pair[c] |= strcmp(shown[k].paper[i].text, ".") != 0;
    snprintf(g->cell[c], CELL, "%.36s%s",
             strcmp(name, "times_1") ? name : "x even",
             in_percent(name) ? " %" : "");
    for (int k = 0; k < item->count; k++) {
      Cell *cell = &g->cell[(k + 1) * ACROSS + c];
      const char *text = g->pair[c] ? shown[k].paper[i].text : ".";
      ours(cell[g->pair[c]], r, shown[k].row, name, markdown);
      if (strcmp(text, "."))
        snprintf(cell[0], CELL, "%s", text);
    }
    c += 1 + g->pair[c];
  }
  if (item_has_onsets(item))
    c = onset_columns(g, r, item, c);
  snprintf(g->cell[0], CELL, "row");
  snprintf(g->cell[c], CELL, "seeds");
  for (int k = 0; k < item->count; k++) {
    snprintf(g->cell[(k + 1) * ACROSS], CELL, "%s",
             r->x->row[shown[k].row].name);
    seeds_cell(g->cell[(k + 1) * ACROSS + c], r, shown[k].row);
  }
  g->columns = c + 1;
  /* rows not begun are left out where others are */
  int kept = 1;
  for (int k = 0; k < item->count; k++)
    if (row_begun(r, shown[k].row))
      memmove(g->cell[kept++ * ACROSS], g->cell[(k + 1) * ACROSS],
              ACROSS * sizeof(Cell));
  if (kept > 1) {
    g->left = g->rows - kept;
    g->rows = kept;
  }
  return 0;
}

static void rows_grid(Bytes *out, const Results *r, const Item *item,
                      bool markdown, Error *e) {
  Grid g;
  if (grid_of(&g, r, item, markdown, e))
    return;
  (markdown ? grid_markdown : grid_text)(&g, out, e);
  free(g.cell);
  if (g.left && markdown)
    bytes_print(out, e, "\nRows not run yet: %d.\n", g.left);
  else if (g.left)
    bytes_print(
        out, e,
        "Rows not run yet: %d. ./paper %s%s%s --commands lists their runs.\n",
        g.left, item->name, r->first ? "" : " --corpus ",
        r->first ? "" : r->corpus);
  item_more(out, r, item, markdown, e);
}

static void claim_rule(Bytes *out, const Experiments *x, const Claim *c,
                       Error *e) {
  char side[100];
  for (int k = 0; k < side_count(c); k++) {
    int need = k < c->sides ? -1 : (k - c->sides) / 2;
    bool left = need >= 0 && k == c->sides + 2 * need;
    if (left)
      bytes_print(out, e, need ? ", " : "; needs ");
    else if (k)
      bytes_print(out, e, " %s ",
                  SIGNS[need < 0 ? c->relation : c->needed[need]]);
    bytes_print(out, e, "%s", side_text(side, x, &c->side[k]));
    if (k + 1 == c->sides && c->margin > 0)
      bytes_print(out, e, " %s %g", c->kind == CLAIM_DIFFERS ? "by" : "within",
                  c->margin);
    if (k + 1 == c->sides && !isnan(c->from))
      bytes_print(out, e, " from %g", c->from);
    if (need >= 0 && !left && c->needed[need] == SAME)
      bytes_print(out, e, " within %g", c->within[need]);
  }
}

/* "0.213 [0.19, 0.236]", or as much of it as there is; p, and p corrected. */
typedef struct Evidence { Cell estimate, p, corrected; } Evidence;

/* 0: there was no spread, as is said then; no probability. */
static void p_text(Cell to, double p) {
  if (!isnan(p) && p != 0)
    snprintf(to, CELL, p < 1e-4 ? "< 0.0001" : "%.4f", p);
}

static Evidence evidence_of(const Judged *j) {
  Evidence is = {"", "", ""};
  int n = isnan(j->estimate) ? 0
                             : snprintf(is.estimate, CELL, "%.3g", j->estimate);
  if (!isnan(j->low))
    snprintf(is.estimate + n, (size_t)(CELL - n), " [%.3g, %.3g]", j->low,
             j->high);
  p_text(is.p, j->p);
  p_text(is.corrected, j->corrected);
  return is;
}

/* The estimate, its interval, p, how many seeds, and why. */
static void claim_evidence(Bytes *line, const Claim *c, const Judged *j,
                           Error *e) {
  Evidence is = evidence_of(j);
  bool any = is.estimate[0];
  bytes_print(line, e, "%s", is.estimate);
  if (is.p[0])
    bytes_print(line, e, ", p %s", is.p);
  if (is.corrected[0])
    bytes_print(line, e, " (corrected %s)", is.corrected);
  if (any && c->kind == CLAIM_EXACT)
    bytes_print(line, e, ", range of %d", j->n[0]);
  else if (any && c->kind == CLAIM_ORDERED)
    bytes_print(line, e, ", n %d", j->n[0]);
  else if (any)
    bytes_print(line, e, ", n %d and %d", j->n[0], j->n[1]);
  if (j->why[0])
    bytes_print(line, e, "%s%s", any ? ": " : "", j->why);
}

/* Is a claim judged on this corpus? */
static bool claim_here(const Results *r, const Claim *c) {
  return r->first || claim_again(c, r->times);
}

static void claim_text(Bytes *out, const Results *r, int claim, Error *e) {
  enum { INDENT = 21 };
  const Claim *c = &r->x->claim[claim];
  const Judged *j = &r->judged[claim];
  Bytes line = {0};
  bytes_print(out, e, "\n");
  bytes_print(&line, e, "%s (%s%s)", c->statement, c->reference,
              !claim_here(r, c)          ? "; not counted here"
              : c->headline              ? "; headline"
              : c->twice && r->times > 1 ? "; second look"
                                         : "");
  wrapped(out, INDENT, WIDTH, verdict_text(j), &line, e);
  bytes_print(&line, e, "rule %s: ", c->name);
  claim_rule(&line, r->x, c, e);
  wrapped(out, INDENT, WIDTH, "", &line, e);
  claim_evidence(&line, c, j, e);
  wrapped(out, INDENT, WIDTH, "", &line, e);
  bytes_free(&line);
}

/* An item: its rows, the paper's numbers beside ours, and its claims with all
 * that led there. */
static int item_text(Bytes *out, const Results *r, int item, Error *e) {
  const Item *is = &r->x->item[item];
  Bytes head = {0};
  bytes_print(&head, e, "%s, %s: %s (%s)", is->name, is->reference, is->title,
              r->corpus);
  wrapped(out, 0, WIDTH, "", &head, e);
  if (is->note) {
    bytes_print(&head, e, "%s", is->note);
    wrapped(out, 0, WIDTH, "", &head, e);
  }
  bytes_free(&head);
  bytes_print(out, e, "\n");
  if (is->count)
    rows_grid(out, r, is, false, e);
  bytes_print(
      out, e, "%s\n",
      !is->count
          ? "Nothing here is trained."
          : "Ours: mean +- standard deviation over seeds. Paper: - failed to "
            "train, ~ second-hand,\n* measured on proxy scores. x even: "
            "alpha_1 as a multiple of what even rows give.\nA claim's numbers: "
            "by how much it holds in its own direction (of = the left less the "
            "right;\nbeside a number from that on), the 95 % interval, p, and "
            "the seeds of either side.");
  if (is->count && item_has_onsets(is))
    bytes_print(out, e,
                "norm, sink: onsets in million tokens by seed: their geometric "
                "mean; > not by then.\n");
  for (int i = 0; i < r->x->claims; i++)
    if (r->x->claim[i].item == item)
      claim_text(out, r, i, e);
  return e->status;
}

/* An item without rows and claims: what this program cannot do, as its title
 * says. */
static bool is_elsewhere(const Experiments *x, int item) {
  for (int i = 0; i < x->claims; i++)
    if (x->claim[i].item == item)
      return false;
  return !x->item[item].count;
}

/* How many runs of an item there are, and of how many; item NULL: of all
 * rows. */
static int runs_done(const Results *r, const Item *item, int *needed) {
  int state[RUN_STATES] = {0}, rows = item ? item->count : r->x->rows;
  *needed = 0;
  for (int k = 0; k < rows; k++) {
    int row = item ? r->x->shown[item->from + k].row : k,
        seeds = seeds_of(r, row);
    count_runs(r, row, seeds, state);
    *needed += seeds;
  }
  return state[RUN_HELD] + state[RUN_DIVERGED];
}

/* Items, runs done of those needed, claims tested; items without rows and
 * claims apart; notes. */
static int items_text(Bytes *out, const Results *r, Error *e) {
  const Experiments *x = r->x;
  Bytes title = {0};
  bytes_print(out, e, "%-13s %9s %8s  what (%s)\n", "item", "runs", "tested",
              r->corpus);
  for (int elsewhere = 0, told = 0; elsewhere < 2; elsewhere++)
    for (int i = 0; i < x->items; i++) {
      const Item *item = &x->item[i];
      int needed, judged = 0, claims = 0, done = runs_done(r, item, &needed);
      char first[100];
      if (is_elsewhere(x, i) != elsewhere)
        continue;
      if (elsewhere && !told++)
        bytes_print(out, e,
                    "\nWhat needs published models; ./paper ITEM says which, "
                    "and measures those here:\n");
      for (int k = 0; k < x->claims; k++)
        if (x->claim[k].item == i) {
          claims++;
          judged += r->judged[k].tested;
        }
      snprintf(first, sizeof first,
               elsewhere ? "%-13s " : "%-13s %4d/%-4d %4d/%-3d  ", item->name,
               done, needed, judged, claims);
      bytes_print(&title, e, "%s: %s", item->reference, item->title);
      wrapped(out, elsewhere ? 14 : 34, 80, first, &title, e);
    }
  bytes_free(&title);
  if (r->notes.size)
    bytes_print(out, e, "\n");
  return bytes_add(out, r->notes.at, r->notes.size, e);
}

/* "0.24 +- 0.05", the half of its 95 % interval, of which a tau's end may be
 * cut; of an exact claim the least and largest. */
static void claim_size(Cell to, const Claim *c, const Judged *j) {
  const bool ranges = c->kind == CLAIM_EXACT && j->low < j->high;
  Cell low, high;
  *to = 0;
  if (j->unrun || isnan(j->estimate))
    return;
  with_spread(to, j->estimate,
              ranges ? NAN : fmax(j->high - j->estimate, j->estimate - j->low),
              3, "\302\261");
  with_spread(low, j->low, NAN, 3, "");
  with_spread(high, j->high, NAN, 3, "");
  if (ranges && strcmp(low, high))
    snprintf(to, CELL, "%.20s to %.20s", low, high);
}

/* Markdown's table of an item's claims; item -1: of the headline claims and of
 * those that a longer corpus judges again, with interval and p. */
static void claims_markdown(Bytes *out, const Results *r, int item, Error *e) {
  const char *head = item >= 0 ? "\n## Claims\n\n| verdict | claim | reference "
                                 "| by how much, \302\261 95 % |\n"
                                 "|---|---|---|--:|\n"
                               : "\n| verdict | claim | reference | estimate "
                                 "and 95 % interval | p | corrected |\n"
                                 "|---|---|---|--:|--:|--:|\n";
  for (int i = 0; i < r->x->claims; i++) {
    const Claim *c = &r->x->claim[i];
    const Judged *j = &r->judged[i];
    Evidence is = j->unrun ? (Evidence){"", "", ""} : evidence_of(j);
    char verdict[sizeof j->why + 40];
    if (item < 0 ? !claim_again(c, r->times) : c->item != item)
      continue;
    bytes_print(out, e, "%s", head);
    head = "";
    bool because = j->verdict == UNDECIDED && j->why[0];
    snprintf(verdict, sizeof verdict, "**%s**%s%s", verdict_text(j),
             because ? ": " : "", because ? j->why : "");
    if (item >= 0)
      claim_size(is.estimate, c, j);
    const char *cells[] = {verdict,     c->statement, c->reference,
                           is.estimate, is.p,         is.corrected};
    bytes_print(out, e, "|");
    for (int k = 0; k < (item < 0 ? 6 : 4); k++)
      markdown_cell(out, cells[k], e);
    bytes_print(out, e, "\n");
  }
}

/* Counts a verdict, or that it is not there yet, which comes last. */
typedef int Counts[VERDICT_KINDS + 1];
static void count_verdict(Counts n, const Judged *j) {
  n[j->unrun ? VERDICT_KINDS : j->verdict]++;
}

/* All but the reproduced, those that are undecided last but one. */
static void other_verdicts(Bytes *out, const Counts n, const char *said,
                           Error *e) {
  for (int i = WEAKER; i <= VERDICT_KINDS + 1; i++) {
    const int of = i < VERDICT_KINDS    ? i
                   : i == VERDICT_KINDS ? UNDECIDED
                                        : VERDICT_KINDS;
    if (!n[of])
      continue;
    bytes_print(out, e, "%s%d %s", said, n[of],
                of < VERDICT_KINDS ? VERDICT_NAMES[of] : "not run yet");
    said = ", ";
  }
}

/* "7 of 10 claims reproduced, 2 undecided. " of an item, -1: of all that are
 * judged here. */
static void claims_count(Bytes *out, const Results *r, int item, Error *e) {
  Counts n = {0};
  int all = 0;
  for (int k = 0; k < r->x->claims; k++) {
    if ((item >= 0 && r->x->claim[k].item != item) ||
        !claim_here(r, &r->x->claim[k]))
      continue;
    count_verdict(n, &r->judged[k]);
    all++;
  }
  if (!all)
    return;
  bytes_print(out, e, "%d of %d claims reproduced", n[REPRODUCED], all);
  other_verdicts(out, n, ", ", e);
  bytes_print(out, e, ". ");
}

/* All verdicts counted, and the headline claims. */
static void verdicts_count(Bytes *out, const Results *r, Error *e) {
  int headline = 0, tested = 0;
  for (int i = 0; i < r->x->claims; i++) {
    headline += r->x->claim[i].headline;
    tested += r->x->claim[i].headline && !isnan(r->judged[i].corrected);
  }
  bytes_print(out, e, "On %s ", r->corpus);
  claims_count(out, r, -1, e);
  bytes_print(
      out, e,
      "\nHolm corrects p of %d headline claims; %d could be tested.%s\n",
      headline, tested, r->times > 1 ? " Second looks: p is doubled." : "");
}

/* Every claim on a line: verdict, where, name, estimate, p. */
static void ledger_text(Bytes *out, const Results *r, Error *e) {
  const Experiments *x = r->x;
  int item = 5, name = 5;
  for (int i = 0; i < x->claims; i++) {
    item = (int)fmax(item, (double)strlen(x->item[x->claim[i].item].name));
    name = (int)fmax(name, (double)strlen(x->claim[i].name));
  }
  bytes_print(out, e, "\n%-19s %-*s  %-*s  %-30s  p\n", "verdict", item, "item",
              name, "claim", "estimate, 95 % interval");
  for (int i = 0; i < x->claims; i++) {
    const Judged *j = &r->judged[i];
    if (!claim_here(r, &x->claim[i]))
      continue;
    Evidence is = evidence_of(j);
    /* columns for what a claim lacks */
    int left = WIDTH - 19 - item - name - 5;
    if (!is.estimate[0])
      snprintf(is.estimate, CELL, "%.*s", left < 0 ? 0 : left, j->why);
    bytes_print(out, e, "%-19s %-*s  %-*s  %-*s%s%s\n", verdict_text(j), item,
                x->item[x->claim[i].item].name, name, x->claim[i].name,
                is.p[0] ? 30 : 0, is.estimate, is.p[0] ? "  " : "", is.p);
  }
}

/* Verdicts counted, the headline claims, and every claim. */
static int ledger(Bytes *out, const Results *r, Error *e) {
  verdicts_count(out, r, e);
  for (int i = 0; i < r->x->claims; i++)
    if (r->x->claim[i].headline)
      claim_text(out, r, i, e);
  ledger_text(out, r, e);
  return e->status;
}

/* Where the one line that is `mark` begins; -1 when there is none, or more than
 * one. */
static ptrdiff_t mark_at(const char *text, size_t n, const char *mark) {
  size_t length = strlen(mark);
  ptrdiff_t found = -1;
  for (size_t i = 0; i + length <= n; i++) {
    if ((i && text[i - 1] != '\n') || memcmp(text + i, mark, length))
      continue;
    if (i + length < n && text[i + length] != '\n' && text[i + length] != '\r')
      continue;
    if (found >= 0)
      return -1;
    found = (ptrdiff_t)i;
  }
  return found;
}

/* A text [n] with the section [size], which ends with a line's end, in place of
 * what stands between the lines <!-- results --> and <!-- /results -->. */
static int readme_with(Bytes *out, const char *name, const char *text, size_t n,
                       const char *section, size_t size, Error *e) {
  static const char begin[] = "<!-- results -->", end[] = "<!-- /results -->";
  ptrdiff_t from = mark_at(text, n, begin), to = mark_at(text, n, end);
  if (from < 0 || to < from)
    return fail(e, 1,
                "%s: expected one line %s and below it one line %s, found %s. "
                "Try: put them where the results go",
                name, begin, end,
                from < 0 || to < 0 ? "none or several"
                                   : "them the other way round");
  bytes_add(out, text, (size_t)from, e);
  bytes_print(out, e, "%s\n", begin);
  bytes_add(out, section, size, e);
  return bytes_add(out, text + to, n - (size_t)to, e);
}
