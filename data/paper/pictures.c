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
 *   corners RECIPE ..       sink over norm ratio, a point a row (remedies.c)
 *   grid                    Sink over the length, a line for each threshold
 *   alpha LIST ..           map_LIST of block and head
 *   map                     weights of the strongest head
 *   toy                     weights before and after training
 *
 * A line is the mean over the seeds that have a number there, its band their
 * range. Maps show the first seed that has one: heads of different seeds are
 * not the same heads.
 */

/* The i-th point of a line, read of one result. */
typedef struct Point {
  const Result *r;
  const char *word, *numbers;
  int side, i;                 /* side: which line of a row; -1: the only one */
  char name[32];               /* of that side */
  double x, y;
} Point;

typedef struct Paper Paper;

/* How a kind of picture is drawn, word by word. */
typedef struct Kind {
  void (*draw)(Paper *p, const char *word);
  const char *caption;
  bool (*at)(Point *at);       /* of lines: the next point; false: none */
  const char *x, *y;           /* y NULL: as the measure's */
  double least;                /* distance of x's ticks */
  bool log_x, log_y;
  const char *list[2], *shape; /* of maps; shape[from] are their rows, and */
  int from;                    /* the next their columns */
} Kind;

struct Paper {
  Html h;
  const Experiments *x;
  Results runs;                /* of the page's corpus */
  Results *others;             /* of each other [corpora] */
  Bytes findings;              /* report.c */
  Series *lines;               /* [LINES_MOST] */
  const Item *item;            /* that is shown, */
  const Picture *picture;      /* and what of it is drawn */
  const Kind *kind;
};

static const char NATS[] = "nats a token", MORE[] = "nats a token more";

/* A measure's unit, and what it is in words. The first that it begins with
 * holds. */
static const struct {
  const char *begins, *unit, *title;
} MEASURES[] = {
  {"sink_", "%", "Sink on "},
  {"alpha_", "mean weight", "Mean weight on "},
  {"loss", NATS, "Held loss"},   /* but of a curve: measure_drawn */
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
  {"least_sink", "million tokens", "Onset of the sink"},
  {"least_null", "million tokens", "Onset at the null place"},
  {"", "value", "Value"}
};

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
    {"@random", ", random tokens"},
    {"@repeat", ", a token repeated"},
    {":0.2", ", eps 0.2"},
    {":0.4", ", eps 0.4"},
    {"@replace#", ", position # read for the first"},
    {"@swap#", ", position # and the first swapped"},
    {"", ""}
  };
  const char *title = MEASURES[measure_find(measure)].title, *column = "";
  const char *at = strchr(measure, '_');
  int i = 0;
  while (*ON[i][0] && !strstr(measure, ON[i][0]))
    i++;
  if (title[strlen(title) - 1] == ' ' && at) {
    column = "token #";
    if (!strcmp(at, "_self"))
      column = "the row's own token";
    if (at[1] == '1' && !isdigit((unsigned char)at[2]) && at[2] != '.')
      column = "token 1";
    if (at[1] == '*')
      column = "* or x*";
  }
  snprintf(text, 160, "%s%s%s", line && *column ? "" : title, column, ON[i][1]);
  return text;
}

/* A curve's loss is the training's; elsewhere it is of held-out text. */
static const char *measure_drawn(const Paper *p, const char *measure) {
  const bool curve = p->picture->kind == PICTURE_CURVES;
  return curve && !strcmp(measure, "loss") ? "train_loss" : measure;
}

/* The measures that commas join, each in words with its name behind. */
static const char *title_of(const Paper *p, const char *words,
                            char text[400]) {
  char part[64], plain[160];
  int n = 0;
  text[0] = 0;
  for (int k = 0; part_of(words, k, part) && n < 200; k++)
    n += snprintf(text + n, 199, "%s%s (%s)", k ? "; " : "",
                  measure_words(measure_drawn(p, part), false, plain), part);
  return text;
}

/* The result of a seed, or NULL. */
static const Result *result_of(const Paper *p, int row, int seed) {
  const Run *run = run_at(&p->runs, row, seed);
  if (run->state == RUN_HELD || run->state == RUN_DIVERGED)
    return &run->result;
  return NULL;
}

/* The table's row of the item's k-th. */
static int row_of(const Paper *p, int k) {
  return p->x->shown[p->item->from + k].row;
}

/* curve_LIST over the tokens; fine-tuning has lists of its own. */
static bool curve_at(Point *at) {
  const char *tokens = "tune_tokens", *list = at->word;
  char name[80];
  int n, m;
  if (strncmp(list, "tune_", 5)) {
    tokens = "curve_tokens";
    snprintf(name, sizeof name, "curve_%s", list);
    list = name;
  }
  const double *x = result_find(at->r, tokens, &n);
  const double *y = result_find(at->r, list, &m);
  if (at->i >= n || at->i >= m)
    return false;
  at->x = x[at->i] / 1e6;
  at->y = scale_of(at->word) * y[at->i];
  return true;
}

/* By block the first row's norm, the others' mean, or their ratio. A hnorm has
 * a block 0: H^0. */
static bool norm_at(Point *at) {
  char name[80];
  int n, m;
  snprintf(name, sizeof name, "%s_1", at->word);
  const double *first = result_find(at->r, name, &n);
  snprintf(name, sizeof name, "%s_rest", at->word);
  const double *rest = result_find(at->r, name, &m);
  if (at->i >= n || at->i >= m || at->side > 1)
    return false;
  at->x = at->i + (strncmp(at->word, "hnorm", 5) != 0);
  if (at->side < 0)
    at->y = first[at->i] / rest[at->i];
  else if (at->side == 0) {
    strcpy(at->name, "first token");
    at->y = first[at->i];
  } else {
    strcpy(at->name, "other tokens");
    at->y = rest[at->i];
  }
  return true;
}

/* `word` with the i-th of the numbers in the place of its #. */
static bool over_at(Point *at) {
  char number[64], measure[128];
  const char *mark = strchr(at->word, '#');
  if (!part_of(at->numbers, at->i, number))
    return false;
  if (mark)
    snprintf(measure, sizeof measure, "%.*s%s%s", (int)(mark - at->word),
             at->word, number, mark + 1);
  else
    snprintf(measure, sizeof measure, "%s", at->word);
  at->x = strtod(number, NULL);
  at->y = scale_of(measure) * result_number(at->r, measure);
  return true;
}

/* The cosine or product of a block with the first key or with the others, mean
 * over heads. */
static bool angle_at(Point *at) {
  int n, m;
  const double *shape = result_find(at->r, "shape", &n);
  const double *of = result_find(at->r, at->word, &m);
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

/* Sink_1 by length at the threshold of this side. */
static bool grid_at(Point *at) {
  int n, m, k;
  const double *T = result_find(at->r, "grid_T", &n);
  const double *eps = result_find(at->r, "grid_eps", &m);
  const double *sink = result_find(at->r, "grid_sink_1", &k);
  if (k != n * m || at->i >= n || at->side >= m ||
      !(eps[at->side] > 0 && eps[at->side] <= 1))
    return false;
  snprintf(at->name, sizeof at->name, "eps %g", eps[at->side]);
  at->x = T[at->i];
  at->y = 100 * sink[at->i * m + at->side];
  return true;
}

/* Reads a line over the seeds, of which the first gives x; false: it has no
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

/* The chart of a kind, without its lines, with an axis for the measure. */
static Chart points_chart(const Paper *p, const char *title, const char *word) {
  const Kind *k = p->kind;
  Chart what = {
    title, k->caption,
    {.name = k->x, .least = k->least, .log = k->log_x, .tight = true},
    measure_axis(p->item, word)};
  if (k->y)
    what.y.name = k->y;
  what.y.log = k->log_y;
  what.y.from_zero = what.y.from_zero && !k->log_y;
  return what;
}

/* A picture of each row, with a line for each of its sides. */
static void draw_each_row(Paper *p, const char *word) {
  char title[500], of[400];
  for (int i = 0; i < p->item->count; i++) {
    int count = 0, row = row_of(p, i);
    /* [FIG3] has nine */
    for (Point at = {.word = word}; at.side <= LINE_EVEN; at.side++)
      count += line_read(p, line_begin(p->lines, count, "", count), row, at);
    snprintf(title, sizeof title, "%s: %s", p->x->row[row].name,
             title_of(p, *word ? word : "sink_1", of));
    Chart what = points_chart(p, title, word);
    if (count)
      chart(&p->h, &what, p->lines, count);
  }
}

enum { ROWS_DRAWN = 8 };       /* that one picture holds */

/* Reads a line for each of the words that commas join, of the item's first row
 * and of `more` from `from` on. Returns how many have a number; own: those that
 * are not the first row's. */
static int rows_read(Paper *p, const char *words, int from, int more,
                     int *own) {
  char part[64], plain[160], name[240];
  int rows = p->item->count, count = 0;
  const bool joined = part_of(words, 1, part), alone = rows == 1;
  for (int i = from - 1; i < from + more && i < rows; i++)
    for (int k = 0; part_of(words, k, part) && count < LINES_MOST; k++) {
      int row = row_of(p, i < from ? 0 : i);
      int style = i - from + 1 + LINE_STAR * (k % 2);
      const char *of = p->x->row[row].name;
      if (alone)
        style = k % LINE_EVEN;
      measure_words(measure_drawn(p, part), true, plain);
      if (!joined)
        snprintf(name, sizeof name, "%s", of);
      else if (alone)
        snprintf(name, sizeof name, "%s", plain);
      else
        snprintf(name, sizeof name, "%s, %s", of, plain);
      const Point at = {
        .word = part, .side = -1, .numbers = p->picture->word[0]};
      if (!line_read(p, line_begin(p->lines, count, name, style), row, at))
        continue;
      count++;
      *own += i >= from;
    }
  return count;
}

/* A line for each row, and each of the words that commas join. Rows beyond what
 * one picture holds go into further ones, to one scale and with the item's
 * first row in all for comparison. */
static void draw_all_rows(Paper *p, const char *words) {
  char part[64], plain[400], title[440];
  int rows = p->item->count;
  /* rows beside the first */
  int more = (part_of(words, 1, part) ? ROWS_DRAWN - 2 : ROWS_DRAWN) - 1;
  part_of(words, 0, part);
  Chart what = points_chart(p, title, part);
  for (int drawn = 0; drawn < 2; drawn++)   /* first the scale is seen */
    for (int k = 0; k == 0 || 1 + k * more < rows; k++) {
      int own = 0, count = rows_read(p, words, 1 + k * more, more, &own);
      title_of(p, words, plain);
      if (rows > more + 1)
        snprintf(title, sizeof title, "%s, part %d", plain, k + 1);
      else
        snprintf(title, sizeof title, "%s", plain);
      if (drawn && (own || k == 0))
        chart(&p->h, &what, p->lines, count);
      else
        lines_seen(&what.x, &what.y, p->lines, count);
    }
}

/* Begins the lines of a picture of dots: `own` of seeds, as many of their
 * means, the paper's, that of even rows and that of bounds. */
static void dots_begin(Paper *p, bool domains, int own, bool even) {
  for (int i = 0; i < own; i++) {
    const char *seed = "a seed", *mean = "mean";
    int style = LINE_MEAN;
    if (domains) {
      seed = "";
      mean = p->x->row[row_of(p, i)].name;
      style = i;
    }
    line_begin(p->lines, i, seed, i + LINE_SEED);
    line_begin(p->lines, own + i, mean, style)->points = true;
  }
  line_begin(p->lines, 2 * own, "the paper", 1)->points = true;
  line_begin(p->lines, 2 * own + 1,
             even ? "even rows" : "even rows, of the first row's model",
             LINE_EVEN);
  line_begin(p->lines, 2 * own + 2, "a seed without one: later than its run",
             LINE_OVER);
}

/* Of onsets: moves the seeds that had none by their run's end, whose numbers
 * are bounds, from s into a line of their own; then there is no mean. */
static void bounds_apart(const Paper *p, int row, const char *measure,
                         Spread *s, Series *later, double y) {
  char name[128];
  const int n = later->n;
  if (strncmp(measure, "least_", 6))
    return;
  snprintf(name, sizeof name, "censored_%.60s", measure + 6);
  *s = NO_SPREAD;
  for (int seed = 1; seed <= seeds_of(&p->runs, row); seed++) {
    const double x = scale_of(measure) *
                     results_number(&p->runs, row, seed, measure);
    if (results_number(&p->runs, row, seed, name) == 1)
      line_add(later, x, y);
    else
      spread_add(s, x);
  }
  if (later->n > n)
    s->mean = NAN;
}

/* The dots of the item's row i at a height: every seed of a measure, their
 * mean and the paper's number. */
static void dots_add(Paper *p, int i, const char *measure, const Spread *s,
                     int line, int own, double y) {
  const Item *item = p->item;
  for (int at = 0; at < s->n; at++)
    line_add(&p->lines[line], s->at[at], y);
  line_add(&p->lines[own + line], s->mean, y);
  for (int of = 0; of < item->columns; of++)
    if (!strcmp(item->column[of], measure))
      line_add(&p->lines[2 * own],
               p->x->shown[item->from + i].paper[of].value, y);
}

/* The alpha of even rows: that of token 1 is in the result; a row's own token
 * has another, which its multiple tells. */
static double even_of(const Results *r, int row, const char *alpha) {
  if (strcmp(alpha, "alpha_self"))
    return spread_of(r, row, "even").mean;
  return spread_of(r, row, alpha).mean / spread_of(r, row, "times_self").mean;
}

/* The dots of each row of the item. Returns how many heights they take. For an
 * alpha `level` becomes that of even rows, as the first row has it. */
static int dots_rows(Paper *p, const char *measure, Axis *y, double *level) {
  char name[128];
  int n = 0;
  snprintf(name, sizeof name, "%.60s", measure);
  for (int i = 0; i < p->item->count; i++) {
    int row = row_of(p, i);
    Spread s = spread_of(&p->runs, row, name);
    if (!s.n && !row_begun(&p->runs, row))
      continue;
    axis_tick(y, n + 0.5, p->x->row[row].name);
    bounds_apart(p, row, name, &s, &p->lines[4], n + 0.5);
    dots_add(p, i, name, &s, 0, 1, n + 0.5);
    if (!isfinite(*level) && !strncmp(name, "alpha_", 6))
      *level = even_of(&p->runs, row, name);
    n++;
  }
  return n;
}

/* The dots of each domain, and in it of `rows` rows. Returns how many heights
 * they take. */
static int dots_domains(Paper *p, const char *measure, Axis *y, int rows) {
  char name[128];
  int n = 0;
  for (int k = 0; k < p->x->corpora; k++) {
    const char *domain = p->x->corpus[k].name;
    bool told = false;
    snprintf(name, sizeof name, "%.60s/%.60s", measure, domain);
    for (int i = 0; i < rows; i++) {
      Spread s = spread_of(&p->runs, row_of(p, i), name);
      if (!s.n)
        continue;
      if (!told)
        axis_tick(y, n + 0.5, domain);
      told = true;
      dots_add(p, i, name, &s, i, rows, n + 0.5);
      n++;
    }
  }
  return n;
}

/* Lines with names and on them every seed: of each row, with the paper's
 * number; or of each domain and row, with a mark of its own. */
static void draw_dots(Paper *p, const char *measure) {
  const bool domains = p->picture->kind == PICTURE_DOMAINS;
  double level = !strncmp(measure, "times_", 6) ? 1 : NAN;
  int own = 1, n;   /* rows that have marks of their own; heights */
  char title[400];
  Chart what = {
    title_of(p, measure, title), p->kind->caption,
    measure_axis(p->item, measure), {.names = true, .seen = true}};
  if (domains)
    own = (int)at_most(p->item->count, ROWS_DRAWN);
  dots_begin(p, domains, own, isfinite(level));
  if (domains)
    n = dots_domains(p, measure, &what.y, own);
  else
    n = dots_rows(p, measure, &what.y, &level);
  for (int k = 0; k < 2; k++)
    line_add(&p->lines[2 * own + 1], level, k * n);
  what.y.to = n;
  chart(&p->h, &what, p->lines, 2 * own + 3);
}

/* The first result of a row that has a list, and its seed; NULL: none has. */
static const Result *first_with(const Paper *p, int row, const char *list,
                                int *seed) {
  int n;
  for (*seed = 1; *seed <= seeds_of(&p->runs, row); ++*seed) {
    const Result *r = result_of(p, row, *seed);
    if (r && result_find(r, list, &n))
      return r;
  }
  return NULL;
}

/* What a head's map is called. Its block and head are `at`, from 0; its first
 * column is the sink's. */
static void head_title(char title[120], const double *at, const double *cell,
                       int rows, int columns, const char *flags) {
  double alpha = 0;
  const char *sink = "the extra column *";
  for (int i = 0; i < rows; i++)
    alpha += cell[i * columns] / rows;
  if (columns == rows)
    sink = "token 1";
  else if (strstr(flags, "--sink-token"))
    sink = "the sink token x*";
  int n = snprintf(title, 120, "Block %g, head %g", 1 + at[0], 1 + at[1]);
  /* a file may hold anything */
  if (fabs(alpha) < 1e6)
    snprintf(title + n, 120 - (size_t)n, ", most on %s: alpha %.2f, %s", sink,
             alpha, alpha > 0.3 ? "a sink" : "no sink");
}

/* Maps of each row's first seed that has them. */
static void draw_maps(Paper *p, const char *word) {
  const Kind *kind = p->kind;
  PictureKind is = p->picture->kind;
  bool heads = is == PICTURE_ALPHA;
  int n, m, seed;
  char name[80], title[120];
  snprintf(name, sizeof name, "map_%s", word);
  const char *const lists[2] = {heads ? name : kind->list[0], kind->list[1]};
  for (int i = 0; i < p->item->count; i++) {
    int row = row_of(p, i);
    const Result *r = first_with(p, row, lists[0], &seed);
    if (!r)
      continue;
    const double *shape = result_find(r, kind->shape, &n);
    int rows = count_at(shape, n, kind->from);
    int columns = count_at(shape, n, kind->from + 1);
    if (!rows || !columns || (!heads && (columns < rows || rows > 128)) ||
        !(fabs(shape[0]) + fabs(shape[1]) < 1e6))
      continue;
    snprintf(title, sizeof title, "%s, seed %d", p->x->row[row].name, seed);
    figure_begin(&p->h, NULL, title);
    for (int k = 0; k < 2 && lists[k]; k++) {
      const double *cell = result_find(r, lists[k], &m);
      if (!cell || m != rows * columns)
        continue;
      if (is == PICTURE_TOY)
        snprintf(title, sizeof title, "%s training", lists[k]);
      else if (is == PICTURE_MAP)
        head_title(title, shape, cell, rows, columns, p->x->row[row].flags);
      else
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
