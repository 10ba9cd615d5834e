/* remedies.c - what the field does about sinks, side by side: the picture of
 * the item remedies and what a step of each row costs. A part of paper.c, which
 * includes it.
 *
 * SPDX-License-Identifier: MIT
 *
 * Two things go together in a plain softmax model and need not: rows of
 * attention on the first token (the sink), and a first hidden state much longer
 * than the others (the massive activation). A remedy takes away both, one, or
 * none, so a row is a point in a plane with four corners.
 */

/* -----------------------------------------------------------------------------
 * 1  The picture: norm ratio over sink, a point a row
 *
 * Means over the seeds, and lines from the least to the largest; both axes
 * logarithmic. Both are divided at 2: a sink shows from 2 times even (sink.c,
 * 12), and a norm ratio as large is drawn as a massive activation. Claims ask
 * otherwise: whether less than 1.5 times even is left, and by how much a norm
 * ratio is smaller.
 */
enum { CORNER_ROWS = 64, CORNER_HIGH = 250 };
static const double CORNER = 2;

/* A row in the plane. */
typedef struct Corner {
  double x, y;                 /* the means, then where their mark stands */
  double low_x, high_x, low_y, high_y;   /* the seeds' least and largest */
  double left, top, wide;      /* where its number stands */
  const char *name;
} Corner;

/* Does the number of a lie over the mark of b, or where b has
 * a number, over that? */
static bool corners_meet(const Corner *a, const Corner *b, bool number) {
  enum { HIGH = 7, MARK = 4 };
  bool mark = b->x > a->left - MARK && b->x < a->left + a->wide + MARK &&
              b->y > a->top - HIGH - MARK + 2 && b->y < a->top + MARK;
  return mark || (number && a->left < b->left + b->wide &&
                  b->left < a->left + a->wide && fabs(a->top - b->top) < HIGH);
}

/* Places the number of point k of n beside its mark, where it meets no mark, no
 * number before it and no rule; or else farther off. */
static void corner_place(Corner *c, int k, int n, const Axis *x,
                         const Axis *y) {
  /* The corners first, since ranges lie across and up. */
  static const double OFF[][2] = {
    {0.8, -0.8}, {0.8, 0.8}, {-0.8, -0.8}, {-0.8, 0.8},
    {1, 0}, {-1, 0}, {0, -1}, {0, 1}};
  double rule_x = axis_place(x, CORNER), rule_y = axis_place(y, CORNER);
  for (int far = 8; far < 30; far += 3)
    for (size_t i = 0; i < sizeof OFF / sizeof *OFF; i++) {
      double middle = c[k].x + far * OFF[i][0];
      double top = c[k].y + 2.5 + far * OFF[i][1];
      bool meets = fabs(middle - rule_x) < c[k].wide / 2 + 1 ||
                   fabs(top - 2.5 - rule_y) < 4;
      c[k].left = middle - c[k].wide / 2;
      c[k].top = top;
      for (int j = 0; j < n; j++)
        meets = meets || (j != k && corners_meet(&c[k], &c[j], j < k));
      if (!meets && c[k].left > x->first && c[k].left + c[k].wide < x->last)
        return;
    }
}

/* What stands in a corner, and the rule between it and the next. */
static void corners_frame(Html *h, const Axis *x, const Axis *y) {
  static const char *const IN[2][2] = {{"neither", "a sink alone"},
                                       {"massive activations alone", "both"}};
  double middle_x = axis_place(x, CORNER), middle_y = axis_place(y, CORNER);
  say(h, "<path class=\"axis\" stroke-dasharray=\"4 3\" d=\"M%.1f "
      "%.1fV%.1fM%.1f %.1fH%.1f\"/>\n", middle_x, y->first, y->last, x->first,
      middle_y, x->last);
  for (int up = 0; up < 2; up++)
    for (int right = 0; right < 2; right++) {
      double at = right ? x->last - 4 : x->first + 4;
      say(h, "<g opacity=\"0.6\">");
      svg_text(h, at, up ? y->last + 8 : y->first - 4, right ? "end" : "",
               IN[up][right]);
      say(h, "</g>");
    }
}

/* The picture of n rows; their names stand below it, NAMES on a line. */
static void corners_draw(Html *h, Corner *c, int n, Axis *x, Axis *y) {
  enum {
    LEFT = 30, RIGHT = PICTURE_WIDTH - 6, TOP = 18, BOTTOM = TOP + CORNER_HIGH,
    NAMES = 4, LEGEND = BOTTOM + 44, LINE = 9
  };
  axis_end(x, LEFT, RIGHT);
  axis_end(y, BOTTOM, TOP);
  say(h, "<svg class=\"fine\" viewBox=\"0 0 %d %d\" role=\"img\" "
      "aria-label=\"a point a row, sink across, norm ratio up", PICTURE_WIDTH,
      LEGEND + (n - 1) / NAMES * LINE + 4);
  for (int k = 0; k < n; k++)
    say(h, ". %s: %.3g, %.3g", c[k].name, c[k].x, c[k].y);
  say(h, "\">\n");
  svg_text(h, 2, 10, "", y->name);
  svg_text(h, RIGHT, BOTTOM + 30, "end", x->name);
  axis_draw(h, y, true, LEFT, RIGHT);
  axis_draw(h, x, false, BOTTOM, TOP);
  corners_frame(h, x, y);
  for (int k = 0; k < n; k++) {
    c[k].x = axis_place(x, c[k].x);
    c[k].y = axis_place(y, c[k].y);
    c[k].wide = k < 9 ? 4 : 8;
    say(h, "<path stroke=\"%s\" opacity=\"0.35\" d=\"M%.1f %.1fH%.1fM%.1f "
        "%.1fV%.1f\"/>\n", colour_of(0), axis_place(x, c[k].low_x), c[k].y,
        axis_place(x, c[k].high_x), c[k].x, axis_place(y, c[k].low_y),
        axis_place(y, c[k].high_y));
  }
  for (int k = 0; k < n; k++) {
    char text[64];
    int number = snprintf(text, sizeof text, "%d", k + 1);
    corner_place(c, k, n, x, y);
    svg_mark(h, 0, c[k].x, c[k].y);
    svg_text(h, c[k].left, c[k].top, "", text);
    snprintf(text + number, sizeof text - (size_t)number, "  %s", c[k].name);
    svg_text(h, LEFT + k % NAMES * (RIGHT - LEFT) / NAMES,
             LEGEND + k / NAMES * LINE, "", text);
  }
  say(h, "</svg>");
}

/* Rows of one recipe alone, `word`, with which their names begin: drawn, of 16
 * first tokens, or fixed. */
static void draw_corners(Paper *p, const char *word) {
  size_t begins = strlen(word);
  Corner c[CORNER_ROWS];
  Axis x = {.name = "alpha_1, times even rows", .log = true, .tight = true};
  Axis y = {.name = "norm of the first hidden state over the others'",
            .log = true, .tight = true};
  int n = 0;
  axis_see(&x, 1);
  axis_see(&x, 4);
  axis_see(&y, 1);
  axis_see(&y, 4);
  for (int k = 0; k < p->item->count && n < CORNER_ROWS; k++) {
    const Row *row = &p->x->row[row_of(p, k)];
    if (strncmp(row->name, word, begins) || row->name[begins] != '-')
      continue;
    Spread sink = spread_of(&p->runs, row_of(p, k), "times_1");
    Spread norm = spread_of(&p->runs, row_of(p, k), "norm_ratio");
    c[n] = (Corner){sink.mean, norm.mean, sink.low, sink.high, norm.low,
                    norm.high, .name = row->name + begins + 1};
    if (!(sink.low > 1e-6 && sink.high < 1e6 && norm.low > 1e-6 &&
          norm.high < 1e6))
      continue;
    axis_see(&x, sink.low / 1.1);
    axis_see(&x, sink.high * 1.1);
    axis_see(&y, norm.low / 1.1);
    axis_see(&y, norm.high * 1.1);
    n++;
  }
  if (!n)
    return;
  const char *title =
      "Sink and massive activation: the first token is one of 16";
  if (!strcmp(word, "fixed"))
    title = "Sink and massive activation: a fixed first token";
  figure_begin(&p->h, NULL, title);
  corners_draw(&p->h, c, n, &x, &y);
  figure_end(&p->h, "Means over the seeds, with their least and largest. "
             "Dashed: 2 times even rows, and a norm ratio of 2. Only token 1 "
             "is counted: a null key, logit or sink token has the sink that "
             "it took (sink_* below). A row that is not run, or diverged, has "
             "no point.");
}

/* -----------------------------------------------------------------------------
 * 2  What a step costs: ./paper remedies --cost
 *
 * A row's steps beside those of the item's first row, in turns, so that a
 * machine which slows down slows both: the median over ROUNDS of the ratio,
 * with the least and the largest. Times differ between machines, so no result
 * file holds them.
 */
enum { ROUNDS = 7, ROUND_STEPS = 8 };

/* Seconds a step. */
static double steps_seconds(Trainer *t, Error *e) {
  double from = seconds();
  for (int i = 0; i < ROUND_STEPS && !e->status; i++)
    trainer_step(t, e);
  return (seconds() - from) / ROUND_STEPS;
}

/* A row's trainer, its first steps done: memory is touched, clocks are up. A
 * step that fails is told in why. */
static int row_trainer(Trainer *t, const Row *row, const Corpus *corpus,
                       const Settings *s, Error *why, Error *e) {
  Settings own;
  *t = (Trainer){0};
  if (!row_settings(&own, row, corpus, 1, s, e) && !trainer_create(t, &own, e))
    steps_seconds(t, why);
  if (e->status)
    trainer_free(t);
  return e->status;
}

static int remedies_cost(const Experiments *x, const Item *item,
                         const Corpus *corpus, const Settings *s, FILE *out,
                         Error *e) {
  const Row *softmax = &x->row[x->shown[item->from].row];
  Trainer base, row;
  if (row_trainer(&base, softmax, corpus, s, e, e))
    return e->status;
  fprintf(out, "A step: its mean time; over one of %s, %d threads, the median "
          "of %d rounds of %d steps (least, largest)\n\n", softmax->name,
          workers(), ROUNDS, ROUND_STEPS);
  for (int k = 1; k < item->count && !e->status; k++) {
    const Row *of = &x->row[x->shown[item->from + k].row];
    real ratio[ROUNDS];
    double ms = 0;
    Error why = {0};
    if (row_trainer(&row, of, corpus, s, &why, e))
      break;
    for (int i = 0; i < ROUNDS && !why.status; i++) {
      double first = steps_seconds(&base, e), own = steps_seconds(&row, &why);
      ratio[i] = (real)(own / first);
      ms += 1e3 * own / ROUNDS;
    }
    if (!why.status)
      qsort(ratio, ROUNDS, sizeof *ratio, by_size);
    if (why.status)
      fprintf(out, "%-24s %s\n", of->name, why.text);
    else if (!e->status)
      fprintf(out, "%-24s %7.2f ms  %5.2f  (%.2f, %.2f)\n", of->name, ms,
              (double)ratio[ROUNDS / 2], (double)ratio[0],
              (double)ratio[ROUNDS - 1]);
    fflush(out);
    trainer_free(&row);
  }
  trainer_free(&base);
  return e->status;
}

/* -----------------------------------------------------------------------------
 * 3  +cache: what is lost where a cache forgets, and in a few bits
 *
 * On CACHE_TOKENS tokens of held text, 32 caches of 64 keys, which begin as
 * training has it. Kept are the first token and any x*. In nats a token, by the
 * policies of signs.c 5:
 *
 *   cache_dense     nothing is dropped, so positions come that training has
 *                   never seen
 *   cache_window    the latest keys of a context; nothing is kept
 *   cache_sinks     what is kept and the latest, a context in all, by their
 *                   places in the cache
 *   cache_old       the same keys, by their places in the text
 *   anew            the control: the same tokens read anew for every token, as
 *                   training reads them
 *   dense_more, window_more, sinks_more, old_more
 *                   each over anew: one model, the same tokens
 *   rounded_8 _6 _4
 *                   weights and inputs in so many bits, over the loss, on the
 *                   sequences of Sink
 */
enum { CACHE_TOKENS = 2048 };

/* Of ids [n]: the loss of the context that ends in each token and has the first
 * in front. */
static double anew_loss(Model *m, const int *ids, const int *targets, int n,
                        Error *e) {
  const Config *c = &m->c;
  const int T = c->context;
  int *seen = grab(T, sizeof(int), e);
  double sum = 0;
  Acts a = {0};
  if (!e->status)
    acts_create(&a, m, 1, T, ACTS_ONE, e);
  for (int t = 0; t < n && !e->status && !model_fault(m, e); t++) {
    const int back = t < T ? t + 1 : T;
    memcpy(seen, ids + t + 1 - back, (size_t)back * sizeof(int));
    seen[0] = ids[0];
    model_forward(m, &a, seen, 1, back);
    model_logits(m, &a, a.nf + (config_rows(c, back) - 1) * c->dim, 1,
                 a.logits);
    sum += cross_entropy(c->vocab, a.logits, targets[t], 0);
  }
  acts_free(&a);
  free(seen);
  return sum / n;
}

static int measure_cache(Result *r, Trainer *t, Error *e) {
  static const char *const NAME[POLICIES_ALL] = {
    "dense", "window", "sinks", "old"};
  const Config *c = &t->m.c;
  const int n = (int)at_most(CACHE_TOKENS, (idx)t->data.held.size - 1);
  const int threads = workers();
  int *ids = grab(2 * (idx)n, sizeof(int), e);
  double *loss = grab(n, sizeof(double), e);
  double mean[POLICIES_ALL] = {0}, x[STREAMED], anew = NAN;
  if (!e->status)
    data_held(&t->data, &t->s.data, 1, n, ids, ids + n);
  set_workers(1);   /* a row has no work for more */
  for (int k = 0; k < POLICIES_ALL && !e->status; k++) {
    stream(loss, &t->m, ids, ids + n, n, &POLICIES[k],
           config_rows(c, c->context), config_rows(c, 1), e);
    streamed_of(x, loss, n);
    mean[k] = x[S_LOSS];
    record(r, e, mean[k], "cache_%s", NAME[k]);
  }
  if (!e->status)
    anew = anew_loss(&t->m, ids, ids + n, n, e);
  set_workers(threads);
  free(ids);
  free(loss);
  record(r, e, anew, "anew");
  for (int k = 0; k < POLICIES_ALL; k++)
    record(r, e, mean[k] - anew, "%s_more", NAME[k]);
  for (int bits = 8; bits >= 4 && !e->status; bits -= 2) {
    double of[ROUNDED][ROUNDING];
    Settings s = t->s;
    s.quantize = bits;
    if (quantize(of, &t->m, &t->data, &s, s.eval_n, s.eval_T, e))
      break;
    record(r, e, of[AND_INPUTS][R_MORE], "rounded_%d", bits);
  }
  return e->status;
}

/* -----------------------------------------------------------------------------
 * 4  What a row asks for besides: +known of onset.c, +cache, and +signs, those
 *    of signs.c */
static int measure_more(Result *r, Trainer *t, const Row *row, Error *e) {
  Signs g;
  Numbers told = {0};
  Bytes table = {0};   /* for people: it is not kept */
  if (asks(row, "known") && measure_known(r, t, e))
    return e->status;
  if (asks(row, "cache") && measure_cache(r, t, e))
    return e->status;
  if (!asks(row, "signs"))
    return 0;
  if (!signs(&g, &t->m, &t->data, &t->s, t->s.eval_n, t->s.eval_T, e))
    signs_tell(&g, &told, &table, e);
  signs_free(&g);
  bytes_free(&table);
  return record_all(r, &told, e);
}
