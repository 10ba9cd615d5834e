/* shown.c - tables and the ledger, as text. Chapter 6 of paper.c.
 *
 * SPDX-License-Identifier: MIT
 */

/* -----------------------------------------------------------------------------
 * 6  What is shown: the list of items, an item's table, the ledger
 *
 * Text of at most 100 columns (a ledger's 110, but for its first line) for a
 * terminal, or Markdown for the README, from the same cells. What begins with
 * sink_ is in per cent, as in the paper; ours is mean +- deviation over seeds.
 */
enum { WIDTH = 100, CELL = 48, ACROSS = 2 * COLUMNS + 12 };
typedef char Cell[CELL];

/* A table of cells; its row 0 holds the heads. */
typedef struct Grid {
  int rows, columns;
  int left;                    /* rows that are not run yet: they have none */
  bool pair[ACROSS];           /* this column and the next have one head */
  Cell *cell;                  /* (r, c) is cell[r * ACROSS + c] */
} Grid;

static bool in_percent(const char *measure) {
  return !strncmp(measure, "sink_", 5);
}
static double scale_of(const char *measure) {
  if (in_percent(measure))
    return 100;
  return !strncmp(measure, "least_", 6) ? 1e-6 : 1;
}

/* A measure over seeds, in the unit that is shown. */
typedef struct Spread {
  int n;
  double mean, square;         /* of the mean's error */
  double low, high, at[SEEDS_MOST];
} Spread;
static const Spread NO_SPREAD = {.mean = NAN, .low = NAN, .high = NAN};

static void spread_add(Spread *s, double x) {
  if (!(fabs(x) < 1e30) || s->n == SEEDS_MOST)   /* a file may hold anything */
    return;
  s->low = fmin(s->low, x);   /* x where `low` is still NAN */
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
  if (in_percent(measure))
    return 2;
  if (size >= 1000)
    return 0;
  if (size >= 100)
    return 1;
  return size >= 10 ? 2 : 3;
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

/* Text in Markdown, where a | would end a cell, and a < before a letter would
 * begin an element. */
static void markdown_text(Bytes *out, const char *text, Error *e) {
  for (; *text; text++) {
    const bool tag = *text == '<' && text[1] &&
                     (isalpha((unsigned char)text[1]) || strchr("/!", text[1]));
    bytes_print(out, e, tag || *text == '|' ? "\\%c" : "%c", *text);
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

/* A cell in Markdown and HTML, whose heads are one row. */
static const char *flat_cell(const Grid *g, int r, int c, Cell head) {
  if (r != 0 || !g->pair[c])
    return cell_at(g, r, c);
  snprintf(head, CELL, "%.36s, paper", g->cell[c]);
  return head;
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

/* A line of columns from .. to - 1, behind the first column's cell. */
static void grid_line(const Grid *g, int r, const int *width, int from, int to,
                      Bytes *out, Error *e) {
  size_t line = out->size;
  bytes_print(out, e, "%-*s", width[0], cell_at(g, r, 0));
  for (int c = from; c < to; c++) {
    int room = width[c];
    if (r < 0 && g->pair[c])   /* the name has both columns, at the second */
      continue;
    if (r < 0 && g->pair[c - 1])
      room += 2 + width[c - 1];
    bytes_print(out, e, "  %*s", room, cell_at(g, r, c));
  }
  while (out->size > line && out->at[out->size - 1] == ' ')
    out->size--;
  if (out->size > line)
    bytes_print(out, e, "\n");
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
      used += 2 + width[to];
      if (g->pair[to])
        used += 2 + width[to + 1];
      if (to > from && used > WIDTH)
        break;
    }
    if (from > 1)
      bytes_print(out, e, "\n");
    for (int r = -1; r < g->rows; r++)
      grid_line(g, r, width, from, to, out, e);
  }
}

/* A number to `digits` behind its point: with a spread that shows there, to its
 * second digit and no further; without one, to its last that is not 0. Tokens
 * are in millions. */
static void with_spread(Cell to, double mean, double spread, int digits,
                        const char *sign) {
  const bool millions = fabs(mean) >= 1e5;
  const double unit = millions ? 1e6 : 1;
  if (millions)
    digits = 2;
  if (!(spread / unit * pow(10, digits) >= 0.5))   /* it would be 0 */
    spread = NAN;
  if (spread > 0)
    digits = (int)fmin(digits, fmax(0, 1 - floor(log10(spread / unit))));
  double shown = mean / unit;
  if (fabs(shown) * pow(10, digits) < 0.5)   /* 0 has no sign */
    shown = 0;
  int at = snprintf(to, CELL, "%.*f", digits, shown);
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
  double deviation = s.n > 1 ? sqrt(s.square * s.n) : NAN;
  with_spread(to, s.mean, deviation, digits_of(measure, s.mean),
              markdown ? "\302\261" : "+-");
  if (s.n)
    return;
  count_runs(r, row, seeds_of(r, row), state);
  snprintf(to, CELL, "%s", state[RUN_DIVERGED] ? "diverged" : "");
}

/* "5", "2 of 5", and what is amiss with the others. */
static void seeds_cell(Cell to, const Results *r, int row) {
  static const char *const names[RUN_STATES] = {
    "", "", "diverged", "void", "damaged"};
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

/* These are in onset.c and firstness.c. */
static bool item_has_onsets(const Item *item);
static int onset_columns(Grid *g, const Results *r, const Item *item, int c);
static int item_more(Bytes *out, const Results *r, const Item *item,
                     bool markdown, Error *e);

/* Column c, a measure over an item's rows, as paper | ours if the paper prints
 * any: `paper` is its column of the item, -1 for none. Returns the next c. */
static int measure_column(Grid *g, int c, const Results *r, const Item *item,
                          int paper, const char *measure, bool markdown) {
  const Shown *shown = &r->x->shown[item->from];
  for (int k = 0; k < item->count && paper >= 0; k++)
    g->pair[c] |= strcmp(shown[k].paper[paper].text, ".") != 0;
  snprintf(g->cell[c], CELL, "%.36s%s",
           strcmp(measure, "times_1") ? measure : "x even",
           in_percent(measure) ? " %" : "");
  for (int k = 0; k < item->count; k++) {
    Cell *cell = &g->cell[(k + 1) * ACROSS + c];
    ours(cell[g->pair[c]], r, shown[k].row, measure, markdown);
    if (g->pair[c] && strcmp(shown[k].paper[paper].text, "."))
      snprintf(cell[0], CELL, "%s", shown[k].paper[paper].text);
  }
  return c + 1 + g->pair[c];
}

/* Rows that are not begun are left out where others are. */
static void grid_begun(Grid *g, const Results *r, const Item *item) {
  int kept = 1;
  for (int k = 0; k < item->count; k++)
    if (row_begun(r, r->x->shown[item->from + k].row))
      memmove(g->cell[kept++ * ACROSS], g->cell[(k + 1) * ACROSS],
              ACROSS * sizeof(Cell));
  if (kept > 1) {
    g->left = g->rows - kept;
    g->rows = kept;
  }
}

/* An item's rows: each of its columns, then what is always told: alpha_1, its
 * multiple of even rows, and the seeds. */
static int grid_of(Grid *g, const Results *r, const Item *item, bool markdown,
                   Error *e) {
  static const char *const always[] = {"alpha_1", "times_1"};
  int c = 1;
  *g = (Grid){.rows = item->count + 1};
  g->cell = grab((idx)g->rows * ACROSS, sizeof *g->cell, e);
  if (!g->cell)
    return e->status;
  for (int i = 0; i < item->columns; i++)
    c = measure_column(g, c, r, item, i, item->column[i], markdown);
  for (int i = 0; i < 2; i++)
    if (entry_of(item->column, item->columns, sizeof *always, always[i]) < 0)
      c = measure_column(g, c, r, item, -1, always[i], markdown);
  if (item_has_onsets(item))
    c = onset_columns(g, r, item, c);
  snprintf(g->cell[0], CELL, "row");
  snprintf(g->cell[c], CELL, "seeds");
  for (int k = 0; k < item->count; k++) {
    const int row = r->x->shown[item->from + k].row;
    snprintf(g->cell[(k + 1) * ACROSS], CELL, "%s", r->x->row[row].name);
    seeds_cell(g->cell[(k + 1) * ACROSS + c], r, row);
  }
  g->columns = c + 1;
  grid_begun(g, r, item);
  return 0;
}

/* The flag behind ./paper ITEM that asks for these results. */
static const char *corpus_flag(char to[64], const Results *r) {
  *to = 0;
  if (!r->first)
    snprintf(to, 64, " --corpus %s", r->corpus);
  return to;
}

static void rows_grid(Bytes *out, const Results *r, const Item *item,
                      bool markdown, Error *e) {
  Grid g;
  char flag[64];
  if (grid_of(&g, r, item, markdown, e))
    return;
  if (markdown)
    grid_markdown(&g, out, e);
  else
    grid_text(&g, out, e);
  free(g.cell);
  if (g.left && markdown)
    bytes_print(out, e, "\nRows not run yet: %d.\n", g.left);
  else if (g.left)
    bytes_print(out, e,
                "Rows not run yet: %d. ./paper %s%s --commands lists their "
                "runs.\n",
                g.left, item->name, corpus_flag(flag, r));
  item_more(out, r, item, markdown, e);
}

/* A claim's rule as the table has it: its sides, its margin, then its needs. */
static void claim_rule(Bytes *out, const Experiments *x, const Claim *c,
                       Error *e) {
  char side[100], other[100];
  for (int k = 0; k < c->sides; k++) {
    if (k)
      bytes_print(out, e, " %s ", SIGNS[c->relation]);
    bytes_print(out, e, "%s", side_text(side, x, &c->side[k]));
  }
  if (c->margin > 0)
    bytes_print(out, e, " %s %g", c->kind == CLAIM_DIFFERS ? "by" : "within",
                c->margin);
  if (!isnan(c->from))
    bytes_print(out, e, " from %g", c->from);
  for (int i = 0; i < c->needs; i++) {
    const Side *left = &c->side[c->sides + 2 * i];
    bytes_print(out, e, i ? ", " : "; needs ");
    bytes_print(out, e, "%s %s %s", side_text(side, x, left),
                SIGNS[c->needed[i]], side_text(other, x, left + 1));
    if (c->needed[i] == SAME)
      bytes_print(out, e, " within %g", c->within[i]);
  }
}

/* "0.213 [0.19, 0.236]", or as much of it as there is; p, and p corrected. */
typedef struct Evidence {
  Cell estimate, p, corrected;
} Evidence;

/* No spread gives a p of 0, which is no probability; `why` tells it then. */
static void p_text(Cell to, double p) {
  if (!isnan(p) && p != 0)
    snprintf(to, CELL, p < 1e-4 ? "< 0.0001" : "%.4f", p);
}

static Evidence evidence_of(const Judged *j) {
  Evidence is = {"", "", ""};
  int n = 0;
  if (!isnan(j->estimate))
    n = snprintf(is.estimate, CELL, "%.3g", j->estimate);
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

/* How a claim counts on this corpus, behind its reference. */
static const char *claim_standing(const Results *r, const Claim *c) {
  if (!claim_here(r, c))
    return "; not in this text's total";
  if (c->headline)
    return "; headline";
  return c->twice && r->times > 1 ? "; second look" : "";
}

static void claim_text(Bytes *out, const Results *r, int claim, Error *e) {
  enum { INDENT = 21 };
  const Claim *c = &r->x->claim[claim];
  const Judged *j = &r->judged[claim];
  Bytes line = {0};
  bytes_print(out, e, "\n");
  bytes_print(&line, e, "%s (%s%s)", c->statement, c->reference,
              claim_standing(r, c));
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
  if (!is->count)
    bytes_print(out, e, "Nothing here is trained.\n");
  else {
    rows_grid(out, r, is, false, e);
    bytes_print(out, e,
                "Ours: mean +- standard deviation over seeds. Paper: - failed "
                "to train, ~ second-hand,\n"
                "* measured on proxy scores. x even: alpha_1 as a multiple of "
                "what even rows give.\n"
                "A claim's numbers: by how much it holds in its own direction "
                "(of = the left less the right;\n"
                "beside a number from that on), the 95 %% interval, p, and the "
                "seeds of either side.\n");
  }
  if (is->count && item_has_onsets(is))
    bytes_print(out, e,
                "norm, sink: onsets in million tokens by seed: their geometric "
                "mean; > not by then.\n");
  for (int i = 0; i < r->x->claims; i++)
    if (r->x->claim[i].item == item)
      claim_text(out, r, i, e);
  return e->status;
}

/* Has the item neither rows nor claims? Then its title says what this program
 * cannot do. */
static bool is_elsewhere(const Experiments *x, int item) {
  for (int i = 0; i < x->claims; i++)
    if (x->claim[i].item == item)
      return false;
  return !x->item[item].count;
}

/* How many runs of an item there are, and of how many. With item NULL they are
 * those of all rows. */
static int runs_done(const Results *r, const Item *item, int *needed) {
  int state[RUN_STATES] = {0}, rows = item ? item->count : r->x->rows;
  *needed = 0;
  for (int k = 0; k < rows; k++) {
    const int row = item ? r->x->shown[item->from + k].row : k;
    const int seeds = seeds_of(r, row);
    count_runs(r, row, seeds, state);
    *needed += seeds;
  }
  return state[RUN_HELD] + state[RUN_DIVERGED];
}

/* An item's runs done of those needed, and claims tested; its title. */
static void item_line(Bytes *out, const Results *r, int item, Error *e) {
  const Item *is = &r->x->item[item];
  int needed, judged = 0, claims = 0, done = runs_done(r, is, &needed);
  char first[100];
  Bytes title = {0};
  for (int k = 0; k < r->x->claims; k++)
    if (r->x->claim[k].item == item) {
      claims++;
      judged += r->judged[k].tested;
    }
  bytes_print(&title, e, "%s: %s", is->reference, is->title);
  if (is_elsewhere(r->x, item)) {
    snprintf(first, sizeof first, "%-13s ", is->name);
    wrapped(out, 14, 80, first, &title, e);
  } else {
    snprintf(first, sizeof first, "%-13s %4d/%-4d %4d/%-3d  ", is->name, done,
             needed, judged, claims);
    wrapped(out, 34, 80, first, &title, e);
  }
  bytes_free(&title);
}

/* The list of items, those that are elsewhere apart; then the notes. */
static int items_text(Bytes *out, const Results *r, Error *e) {
  const Experiments *x = r->x;
  bytes_print(out, e, "%-13s %9s %8s  what (%s)\n", "item", "runs", "tested",
              r->corpus);
  for (int elsewhere = 0, told = 0; elsewhere < 2; elsewhere++)
    for (int i = 0; i < x->items; i++) {
      if (is_elsewhere(x, i) != elsewhere)
        continue;
      if (elsewhere && !told++)
        bytes_print(out, e,
                    "\nWhat needs published models; ./paper ITEM says which, "
                    "and measures those here:\n");
      item_line(out, r, i, e);
    }
  if (r->notes.size)
    bytes_print(out, e, "\n");
  return bytes_add(out, r->notes.at, r->notes.size, e);
}

/* "0.24 +- 0.05", the half of its 95 % interval, of which a tau's end may be
 * cut; of an exact claim the least and largest. */
static void claim_size(Cell to, const Claim *c, const Judged *j) {
  const bool ranges = c->kind == CLAIM_EXACT && j->low < j->high;
  double half = fmax(j->high - j->estimate, j->estimate - j->low);
  Cell low, high;
  *to = 0;
  if (j->unrun || isnan(j->estimate))
    return;
  with_spread(to, j->estimate, ranges ? NAN : half, 3, "\302\261");
  with_spread(low, j->low, NAN, 3, "");
  with_spread(high, j->high, NAN, 3, "");
  if (ranges && strcmp(low, high))
    snprintf(to, CELL, "%.20s to %.20s", low, high);
  else if (c->kind == CLAIM_ORDERED) {
    snprintf(low, CELL, "%s", to);
    snprintf(to, CELL, "tau %.40s", low);
  }
}

/* Markdown's table of an item's claims; item -1: of the headline claims and of
 * those that a longer corpus judges again, with interval and p. */
static void claims_markdown(Bytes *out, const Results *r, int item, Error *e) {
  const char *head = "\n## Claims\n\n"
                     "| verdict | claim | reference | by how much, "
                     "\302\261 95 % |\n"
                     "|---|---|---|--:|\n";
  int columns = 4;
  if (item < 0) {
    head = "\n| verdict | claim | reference | estimate and 95 % interval "
           "| p | corrected |\n"
           "|---|---|---|--:|--:|--:|\n";
    columns = 6;
  }
  for (int i = 0; i < r->x->claims; i++) {
    const Claim *c = &r->x->claim[i];
    const Judged *j = &r->judged[i];
    Evidence is = {"", "", ""};
    char verdict[sizeof j->why + 40];
    if (item < 0 ? !claim_again(c, r->times) : c->item != item)
      continue;
    bytes_print(out, e, "%s", head);
    head = "";
    int n = snprintf(verdict, sizeof verdict, "**%s**", verdict_text(j));
    if (j->verdict == UNDECIDED && j->why[0])
      snprintf(verdict + n, sizeof verdict - (size_t)n, ": %s", j->why);
    if (!j->unrun)
      is = evidence_of(j);
    if (item >= 0)
      claim_size(is.estimate, c, j);
    const char *cells[] = {
      verdict, c->statement, c->reference, is.estimate, is.p, is.corrected};
    bytes_print(out, e, "|");
    for (int k = 0; k < columns; k++)
      markdown_cell(out, cells[k], e);
    bytes_print(out, e, "\n");
  }
}

/* How often each verdict is shown. */
typedef int Counts[VERDICT_KINDS + 1];
static void count_verdict(Counts n, const Judged *j) {
  n[verdict_shown(j)]++;
}

/* All but the reproduced. */
static void other_verdicts(Bytes *out, const Counts n, const char *said,
                           Error *e) {
  static const int order[VERDICT_KINDS] = {
    WEAKER, NOT_REPRODUCED, OPPOSITE, UNDECIDED, VERDICT_KINDS};
  for (int i = 0; i < VERDICT_KINDS; i++) {
    const int is = order[i];
    if (!n[is])
      continue;
    bytes_print(out, e, "%s%d %s", said, n[is], VERDICT_NAMES[is]);
    said = ", ";
  }
}

/* "7 of 10 claims reproduced, 2 undecided. " of an item; -1: of all that are
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
  bytes_print(out, e,
              "\nHolm corrects p of %d headline claims; %d could be "
              "tested.%s\n",
              headline, tested,
              r->times > 1 ? " Second looks: p is doubled." : "");
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
    int left = (int)fmax(0, WIDTH - 19 - item - name - 5);
    if (!is.estimate[0])
      snprintf(is.estimate, CELL, "%.*s", left, j->why);
    bytes_print(out, e, "%-19s %-*s  %-*s  ", verdict_text(j), item,
                x->item[x->claim[i].item].name, name, x->claim[i].name);
    if (is.p[0])
      bytes_print(out, e, "%-30s  %s\n", is.estimate, is.p);
    else
      bytes_print(out, e, "%s\n", is.estimate);
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

/* Where the one line that is `mark` begins; -1 when there is none, or there is
 * more than one. */
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
  const char *found = "them the other way round";
  if (from < 0 || to < 0)
    found = "none or several";
  if (from < 0 || to < from)
    return fail(e, 1,
                "%s: expected one line %s and below it one line %s, found %s. "
                "Try: put them where the results go",
                name, begin, end, found);
  bytes_add(out, text, (size_t)from, e);
  bytes_print(out, e, "%s\n", begin);
  bytes_add(out, section, size, e);
  return bytes_add(out, text + to, n - (size_t)to, e);
}
