/* pictures.c - pictures of results. Chapter 7 of paper.c.
 *
 * SPDX-License-Identifier: MIT
 */

/* -----------------------------------------------------------------------------
 * 7  Pictures of the results
 *
 * `picture KIND WORD ..` says what is drawn of an item; words that a comma
 * joins share a picture:
 *   curves LIST ..          curve_LIST over the tokens trained on, or tune_LIST
 *                           where it begins so
 *   dots MEASURE ..         every seed of every row
 *   domains MEASURE ..      MEASURE/NAME for every corpus and domain
 *   over N,N,.. MEASURE ..  each N in the place of the MEASURE's #
 *   ratio LIST ..           LIST_1 / LIST_rest by block, a line a row: hnorm,
 *                           prenorm, knorm, vnorm
 *   norms LIST ..           both by block, a picture a row
 *   angles                  cosine and product of queries with the first key
 *                           and with the others
 *   onset                   tokens to the onset over N (onset.c)
 *   grid                    Sink over the length, a line for each threshold
 *   alpha LIST ..           map_LIST of block and head        map   weights of the strongest head
 *   toy                     weights before and after training
 *
 * A line is the mean over the seeds that have a number there, its band their
 * range. Maps show the first seed that has one: heads of different seeds are
 * not the same heads.
 */
/* The i-th point of a line, read of one result. `side` is which of the lines
 * that a row has in a picture of its own, and names it; otherwise -1. */
typedef struct Point {
  const Result *r;
  const char *word, *numbers;
  int side, i;
  char name[32];
  double x, y;
} Point;

/* How a kind of picture is drawn, word by word. Lines are read point by point,
 * until there is none; a y of NULL is the measure's, least is of the distances
 * of x's ticks. Of maps the lists; rows and columns are shape[from] and the
 * next. */
typedef struct Paper Paper;
typedef struct Kind {
  void (*draw)(Paper *p, const char *word);
  const char *caption;
  bool (*at)(Point *at);
  const char *x, *y;
  double least;
  bool log_x, log_y;
  const char *list[2], *shape;
  int from;
} Kind;

struct Paper {
  Html h;
  const Experiments *x;
  /* of the page's corpus; of each other [corpora] */
  Results runs, *others;
  Bytes findings;              /* report.c */
  Series *lines;               /* [LINES_MOST] */
  const Item *item;            /* that is shown, */
  const Picture *picture;      /* and what of it is drawn */
  const Kind *kind;
};

/* A measure's unit, and what it is in words. The first that it begins with
 * holds. */
static const char NATS[] = "nats a token", MORE[] = "nats a token more";
static const struct { const char *begins, *unit, *title; } MEASURES[] = {
  {"sink_", "%", "Sink on "}, {"alpha_", "mean weight", "Mean weight on "},
  {"loss", NATS, "Loss"},
  {"times_", "times even rows", "Mean weight, times even rows, on "},
  {"valid", NATS, "Held loss"},
  {"train_loss", NATS, "Training loss"},
  {"tune_loss", NATS, "Loss while fine-tuned"},
  {"tune_norm", "norm of the gradient", "Gradient norm while fine-tuned"},
  {"other_times_1", "times even rows",
   "Mean weight, times even rows, on unseen first tokens"},
  {"other_norm_ratio", "first / others",
   "Norm of unseen first tokens over the others'"},
  {"norm_ratio", "first / others", "First token's norm over the others'"},
  {"norm", "norm of the gradient", "Gradient norm"},
  {"hnorm", "l2 norm", "Hidden states"},
  {"prenorm", "l2 norm", "Features before the post-norm"},
  {"knorm", "l2 norm", "Keys"},
  {"vnorm", "l2 norm", "Values"},
  {"cosine", "cosine", "Cosine of query and key"},
  {"product", "|q| |k|", "Product of the lengths of query and key"},
  {"dense_more", MORE, "Loss where nothing is dropped"},
  {"rounded_", MORE, "Loss in few bits"},
  {"window_more", MORE, "Loss with the latest keys"},
  {"sinks_more", MORE, "Loss, first keys kept"},
  {"old_more", MORE, "Loss, first keys kept, places of the text"},
  {"isolate_alpha_t", "mean weight", "Mean weight on token 32"},
  {"probe_auc", "AUC", "The probe"},
  {"least_sink", "million tokens, no less", "Onset of the sink"},
  {"", "value", "Value"}};

static int measure_find(const char *measure) {
  int i = 0;
  while (strncmp(measure, MEASURES[i].begins, strlen(MEASURES[i].begins)))
    i++;
  return i;
}

/* The axis of a measure. A loss has no zero to begin at, and a toy's no
 * unit. */
static Axis measure_axis(const Item *item, const char *measure) {
  const char *unit = MEASURES[measure_find(measure)].unit;
  bool loss = unit == NATS, toy = loss && !strncmp(item->name, "toy", 3);
  return (Axis){.name = toy ? "loss" : unit, .from_zero = !loss};
}

/* The k-th part of words joined by commas, into part [64]; false where there is
 * none. */
static bool part_of(const char *words, int k, char part[64]) {
  for (; k > 0; k--, words++)
    if (!(words = strchr(words, ',')))
      return false;
  snprintf(part, 64, "%.*s", (int)strcspn(words, ","), words);
  return *part != 0;
}

/* What a measure is in words: its column, and behind @ or : on what; of a line
 * the column alone. */
static const char *measure_words(const char *measure, bool line,
                                 char text[160]) {
  static const char *const ON[][2] = {
    {"@random", ", random tokens"}, {"@repeat", ", a token repeated"},
    {":0.2", ", eps 0.2"},
    {":0.4", ", eps 0.4"}, {"@replace#", ", position # read for the first"},
    {"@swap#", ", position # and the first swapped"}, {"", ""}};
  const char *title = MEASURES[measure_find(measure)].title,
             *at = strchr(measure, '_');
  bool column = title[strlen(title) - 1] == ' ' && at;
  int i = 0;
  while (*ON[i][0] && !strstr(measure, ON[i][0]))
    i++;
  snprintf(text, 160, "%s%s%s", line && column ? "" : title,
           !column        ? ""
           : at[1] == '1' ? "token 1"
           : at[1] == '*' ? "the extra column *"
                          : "token #",
           ON[i][1]);
  return text;
}

/* The words, each in plain ones with itself behind. */
static const char *title_of(const char *words, char text[400]) {
  char part[64], plain[160];
  int n = 0;
  text[0] = 0;
  for (int k = 0; part_of(words, k, part) && n < 200; k++)
    n += snprintf(text + n, 199, "%s%s (%s)", k ? "; " : "",
                  measure_words(part, false, plain), part);
  return text;
}

/* The result of a seed, or NULL. */
static const Result *result_of(const Paper *p, int row, int seed) {
  const Run *run = run_at(&p->runs, row, seed);
  return run->state == RUN_HELD || run->state == RUN_DIVERGED ? &run->result
                                                              : NULL;
}

static int row_of(const Paper *p, int k) {
  return p->x->shown[p->item->from + k].row;
}

static bool curve_at(Point *at) {
  char name[80];
  bool tune = !strncmp(at->word, "tune_", 5);
  int n, m;
  snprintf(name, sizeof name, "%s%s", tune ? "" : "curve_", at->word);
  const double *x = result_find(at->r, tune ? "tune_tokens" : "curve_tokens",
                                &n);
  const double *y = result_find(at->r, name, &m);
  if (at->i >= n || at->i >= m)
    return false;
  at->x = x[at->i] / 1e6;
  at->y = scale_of(at->word) * y[at->i];
  return true;
}

/* By block the first row's norm, the others' mean, or their ratio. hnorm has a
 * block 0: H^0. */
static bool norm_at(Point *at) {
  char name[80];
  int n, m;
  snprintf(name, sizeof name, "%s_1", at->word);
  const double *first = result_find(at->r, name, &n);
  snprintf(name, sizeof name, "%s_rest", at->word);
  const double *rest = result_find(at->r, name, &m);
  if (at->i >= n || at->i >= m || at->side > 1)
    return false;
  if (at->side >= 0)
    strcpy(at->name, at->side ? "other tokens" : "first token");
  at->x = at->i + (strncmp(at->word, "hnorm", 5) != 0);
  at->y = at->side < 0 ? first[at->i] / rest[at->i]
          : at->side   ? rest[at->i]
                       : first[at->i];
  return true;
}

/* `word` with the i-th of the numbers in the place of its #. */
static bool over_at(Point *at) {
  char number[64], measure[128];
  const char *mark = at->word + strcspn(at->word, "#");
  if (!part_of(at->numbers, at->i, number))
    return false;
  snprintf(measure, sizeof measure, "%.*s%s%s", (int)(mark - at->word),
           at->word, *mark ? number : "", *mark ? mark + 1 : "");
  at->x = strtod(number, NULL);
  at->y = scale_of(measure) * result_number(at->r, measure);
  return true;
}

/* cosine or product of a block, mean over heads, with the first key or the
 * others. */
static bool angle_at(Point *at) {
  int n, m;
  const double *shape = result_find(at->r, "shape", &n),
               *of = result_find(at->r, at->word, &m);
  int L = count_at(shape, n, 0), H = count_at(shape, n, 1);
  if (at->i >= L || !H || m != L * H * 2 || at->side > 1)
    return false;
  strcpy(at->name, at->side ? "other keys" : "first key");
  at->x = at->i + 1;
  at->y = 0;
  for (int h = 0; h < H; h++)
    at->y += of[(at->i * H + h) * 2 + at->side] / H;
  return true;
}

static bool grid_at(Point *at) {
  int n, m, k;
  const double *T = result_find(at->r, "grid_T", &n),
               *eps = result_find(at->r, "grid_eps", &m);
  const double *sink = result_find(at->r, "grid_sink_1", &k);
  if (k != n * m || at->i >= n || at->side >= m ||
      !(eps[at->side] > 0 && eps[at->side] <= 1))
    return false;
  snprintf(at->name, sizeof at->name, "eps %g", eps[at->side]);
  at->x = T[at->i];
  at->y = 100 * sink[at->i * m + at->side];
  return true;
}

/* Reads a line over the seeds, where x is the first one's; false: it has no
 * number. */
static bool line_read(const Paper *p, Series *line, int row, Point at) {
  bool any = false;
  for (bool there = true; there; at.i++) {
    Spread s = NO_SPREAD;
    double x = NAN;
    int n = line->n;
    there = false;
    for (int seed = 1; seed <= seeds_of(&p->runs, row); seed++) {
      if (!(at.r = result_of(p, row, seed)) || !p->kind->at(&at))
        continue;
      if (!there)
        x = at.x;
      there = true;
      spread_add(&s, at.y);
    }
    /* nothing is added where x is NAN */
    line_add(line, x, s.mean);
    if (line->n > n) {
      line->low[n] = s.low;
      line->high[n] = s.high;
    }
    line->band = line->band || s.n > 1;
    any = any || s.n;
  }
  if (at.name[0])
    strcpy(line->name, at.name);
  return any;
}

static Chart points_chart(const Paper *p, const char *title, const char *word) {
  const Kind *k = p->kind;
  Chart what = {
      title,
      k->caption,
      {.name = k->x, .least = k->least, .log = k->log_x, .tight = true},
      measure_axis(p->item, word)};
  if (k->y)
    what.y.name = k->y;
  what.y.log = k->log_y;
  what.y.from_zero = what.y.from_zero && !k->log_y;
  return what;
}

static void draw_each_row(Paper *p, const char *word) {
  char title[500], of[400];
  for (int i = 0; i < p->item->count; i++) {
    int count = 0, row = row_of(p, i);
    /* [FIG3] has nine */
    for (Point at = {.word = word}; at.side <= LINE_EVEN; at.side++)
      count += line_read(p, line_begin(p->lines, count, "", count), row, at);
    snprintf(title, sizeof title, "%s: %s", p->x->row[row].name,
             title_of(*word ? word : "sink_1", of));
    Chart what = points_chart(p, title, word);
    if (count)
      chart(&p->h, &what, p->lines, count);
  }
}

/* A line for each row, and each of the words that commas join. Rows beyond what
 * one picture holds go into further ones, to one scale and with the item's
 * first row in all for comparison. */
enum { ROWS_DRAWN = 8 };
static void draw_all_rows(Paper *p, const char *words) {
  char part[64], name[240], plain[400], title[440];
  int rows = p->item->count;
  bool joined = part_of(words, 1, part), alone = rows == 1;
  /* rows beside the first */
  int more = (joined ? ROWS_DRAWN - 2 : ROWS_DRAWN) - 1;
  part_of(words, 0, part);
  Chart what = points_chart(p, title, part);
  for (int drawn = 0; drawn < 2; drawn++) /* first the scale is seen */
    for (int from = 1, number = 1; from < rows || number == 1;
         from += more, number++) {
      /* lines; those not of the first row */
      int count = 0, own = 0;
      for (int i = from - 1; i < from + more && i < rows; i++)
        for (int k = 0; part_of(words, k, part) && count < LINES_MOST; k++) {
          int row = row_of(p, i < from ? 0 : i);
          const char *of = joined && alone ? "" : p->x->row[row].name;
          snprintf(name, sizeof name, "%s%s%s", of, joined && *of ? ", " : "",
                   joined ? measure_words(part, true, plain) : "");
          Series *line = line_begin(p->lines, count, name,
                                    alone ? k % LINE_EVEN
                                          : i - from + 1 + LINE_STAR * (k % 2));
          bool there = line_read(p, line, row,
                                 (Point){.word = part,
                                         .side = -1,
                                         .numbers = p->picture->word[0]});
          count += there;
          own += there && i >= from;
        }
      snprintf(title, sizeof title, rows > more + 1 ? "%s, part %d" : "%s",
               title_of(words, plain), number);
      if (drawn && (own || number == 1))
        chart(&p->h, &what, p->lines, count);
      else
        lines_seen(&what.x, &what.y, p->lines, count);
    }
}

/* Lines with names and on them every seed: of each row, with the paper's
 * number; or of each domain and row, with a mark of its own. */
static void draw_dots(Paper *p, const char *measure) {
  const Item *item = p->item;
  bool domains = p->picture->kind == PICTURE_DOMAINS;
  int rows = domains && item->count > ROWS_DRAWN ? ROWS_DRAWN : item->count,
      n = 0;
  /* rows that have marks of their own */
  int own = domains ? rows : 1;
  double level = !strncmp(measure, "times_", 6) ? 1 : NAN;
  char name[128], title[400];
  Chart what = {title_of(measure, title),
                p->kind->caption,
                measure_axis(item, measure),
                {.names = true, .seen = true}};
  for (int i = 0; i < own; i++) {
    line_begin(p->lines, i, domains ? "" : "a seed", i + LINE_SEED);
    line_begin(p->lines, own + i,
               domains ? p->x->row[row_of(p, i)].name : "mean",
               domains ? i : LINE_MEAN)
        ->points = true;
  }
  Series *paper = line_begin(p->lines, 2 * own, "the paper", 1);
  Series *even = line_begin(p->lines, 2 * own + 1,
                            isfinite(level) ? "even rows"
                                            : "even rows of the first",
                            LINE_EVEN);
  paper->points = true;
  for (int k = 0; k < (domains ? p->x->corpora : 1); k++)
    for (int i = 0, told = 0; i < rows; i++) {
      const char *domain = p->x->corpus[k].name;
      int row = row_of(p, i), line = domains ? i : 0;
      snprintf(name, sizeof name, domains ? "%.60s/%.60s" : "%.60s", measure,
               domain);
      Spread s = spread_of(&p->runs, row, name);
      double y = n + 0.5;
      if (!s.n && (domains || !row_begun(&p->runs, row)))
        continue;
      if (!domains || !told++)
        axis_tick(&what.y, y, domains ? domain : p->x->row[row].name);
      for (int at = 0; at < s.n; at++)
        line_add(&p->lines[line], s.at[at], y);
      line_add(&p->lines[own + line], s.mean, y);
      for (int of = 0; of < item->columns; of++)
        if (!strcmp(item->column[of], name))
          line_add(paper, p->x->shown[item->from + i].paper[of].value, y);
      if (!isfinite(level) && !strncmp(name, "alpha_", 6) && !domains)
        level = spread_of(&p->runs, row, "even").mean;
      n++;
    }
  for (int k = 0; k < 2; k++)
    line_add(even, level, k * n);
  what.y.to = n;
  chart(&p->h, &what, p->lines, 2 * own + 2);
}

static void draw_maps(Paper *p, const char *word) {
  const Kind *kind = p->kind;
  PictureKind is = p->picture->kind;
  bool heads = is == PICTURE_ALPHA;
  int n, m;
  char name[80], title[120];
  snprintf(name, sizeof name, "map_%s", word);
  const char *const lists[2] = {heads ? name : kind->list[0], kind->list[1]};
  for (int i = 0; i < p->item->count; i++) {
    int row = row_of(p, i), seed = 0;
    const Result *r = NULL;
    while (++seed <= seeds_of(&p->runs, row) && !r)
      if ((r = result_of(p, row, seed)) && !result_find(r, lists[0], &n))
        r = NULL;
    const double *shape = r ? result_find(r, kind->shape, &n) : (n = 0, NULL);
    int rows = count_at(shape, n, kind->from),
        columns = count_at(shape, n, kind->from + 1);
    if (!rows || !columns || (!heads && (columns < rows || rows > 128)) ||
        !(fabs(shape[0]) + fabs(shape[1]) < 1e6))
      continue;
    snprintf(title, sizeof title, "%s, seed %d", p->x->row[row].name, seed - 1);
    figure_begin(&p->h, NULL, title);
    for (int k = 0; k < 2 && lists[k]; k++) {
      const double *cell = result_find(r, lists[k], &m);
      if (!cell || m != rows * columns)
        continue;
      if (is == PICTURE_TOY)
        snprintf(title, sizeof title, "%s training", lists[k]);
      /* its indices are from 0; the sink's column is first */
      else if (is == PICTURE_MAP) {
        double alpha = 0;
        for (int at = 0; at < rows; at++)
          alpha += cell[at * columns] / rows;
        int at = snprintf(title, sizeof title, "Block %g, head %g",
                          1 + shape[0], 1 + shape[1]);
        /* a file may hold anything */
        if (fabs(alpha) < 1e6)
          snprintf(title + at, sizeof title - (size_t)at,
                   ", most on %s: alpha %.2f, %s",
                   columns == rows ? "token 1"
                   : strstr(p->x->row[row].flags, "--sink-token")
                       ? "the sink token x*"
                       : "the extra column *",
                   alpha, alpha > 0.3 ? "a sink" : "no sink");
      } else
        snprintf(title, sizeof title,
                 strcmp(word, "alpha_1") ? "column *" : "token 1");
      cell_map(&p->h,
               &(CellMap){cell, columns, 1, rows, columns, heads, title, NULL});
    }
    figure_end(&p->h, kind->caption);
  }
}

/* Text of bytes without a 0 at their end, which are freed. */
static void html_bytes(Html *h, Bytes *b) {
  bytes_add(b, "", 1, h->e);
  if (!h->e->status)
    html_text(h, (const char *)b->at);
  bytes_free(b);
}
