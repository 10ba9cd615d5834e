/* drawn.c - pictures and pages for a browser, and what is measured for these:
 * charts, the maps of two heads, the page of a training or an evaluation. Part
 * of pages.c, which includes it.
 *
 * Before these stand the edits of Table 7 and `train --start`; behind them
 * `eval` of several models, `eval --ablate` and a row's weights in closed form.
 *
 * SPDX-License-Identifier: MIT
 */

enum {
  HEAD_MAP = 64,     /* no more rows of m are kept, */
  MAP_TOKENS = 24,   /* and no more of `one` */
  TOKEN_ROOM = 24,   /* bytes of a token's text */
  MAP_WIDE = HEAD_MAP + 1 + SINK_TOKENS
};

/* The map of one head, T rows (the real tokens) by S columns. */
typedef struct HeadMap {
  int layer, head, T, S;                /* T 0: there is none */
  double m[HEAD_MAP * MAP_WIDE];        /* the metric, mean over sequences */
  double one[MAP_TOKENS * MAP_WIDE];    /* of one sequence the raw weights */
  char token[HEAD_MAP][TOKEN_ROOM];     /* and the tokens, as text */
} HeadMap;

/* [T7] Does GPT2-XL's sink depend on p_1? Under --replace-position t token 1
 * reads p_t; under --swap-position t token t also reads p_1. The rows of P are
 * edited in place, whether learned or absolute, and `back` puts them back.
 * What cannot be is refused, for several x* the authors' form of the metric
 * too. */
static int position_edit(Model *m, Acts *a, const Settings *s, int T, bool back,
                         Error *e) {
  const Config *c = &m->c;
  const bool swap = s->swap_position != 0;
  const int t = swap ? s->swap_position : s->replace_position;
  const char *flag = swap ? "swap-position" : "replace-position";
  if (metric_refuses(c, s->metric_rows, e))
    return e->status;
  if (s->replace_position && swap)
    return fail(e, 2,
                "--replace-position and --swap-position cannot be combined. "
                "Try: one");
  if (t && c->pos != POS_LEARNED && c->pos != POS_ABSOLUTE)
    return fail(e, 2,
                "--%s %d: this model has no position embeddings. Try: a model "
                "of --pos learned or absolute",
                flag, t);
  if (t > T)
    return fail(e, 2,
                "--%s %d: the model reads only %d tokens. Try: a larger --T",
                flag, t, T);
  if (!t)
    return 0;
  idx C = c->dim, first = c->sink_token;
  real *table = m->wpe.w ? m->wpe.w : a->sinusoid;
  real *p_1 = table + first * C, *p_t = table + (first + t - 1) * C;
  if (back && a->kept) {
    copy(p_1, a->kept, C);
    copy(p_t, a->kept + C, C);
  } else if (!back && (a->kept = grab(2 * C, sizeof(real), e))) {
    copy(a->kept, p_1, C);
    copy(a->kept + C, p_t, C);
    copy(p_1, a->kept + C, C);
    if (swap)
      copy(p_t, a->kept, C);
  }
  if (back) {
    free(a->kept);
    a->kept = NULL;
  }
  return e->status;
}

/* Puts the numbers of each of several x*, and for Table 7 those of the token
 * whose position token 1 reads. */
static void edited_put(Numbers *row, const Sinks *seen, const Settings *s,
                       Error *e) {
  for (int j = 0; j < s->model.sink_token && s->model.sink_token > 1; j++) {
    const int column = (s->model.extra != EXTRA_NONE) + j;
    put(row, e, sinks_sink(seen, column, 0), "sink_x%d", j + 1);
    put(row, e, sinks_alpha(seen, column), "alpha_x%d", j + 1);
  }
  const int t = s->swap_position + s->replace_position;
  const int there = config_column_first(&s->model) + t - 1;
  if (!t)
    return;
  put(row, e, sinks_sink(seen, there, 0), "sink_t");
  put(row, e, sinks_alpha(seen, there), "alpha_t");
}

/* Says Table 7's numbers. */
static void edited_text(const Sinks *seen, const Settings *s, Bytes *out,
                        Error *e) {
  const int t = s->swap_position + s->replace_position;
  const int first = config_column_first(&s->model), there = first + t - 1;
  if (!t)
    return;
  bytes_print(out, e,
              "p_1 %s p_%d: Sink_1 %.2f%%, Sink_%d %.2f%%; alpha_1 %.4f, "
              "alpha_%d %.4f\n",
              s->swap_position ? "swapped with" : "replaced by", t,
              100 * sinks_sink(seen, first, 0), t,
              100 * sinks_sink(seen, there, 0), sinks_alpha(seen, first), t,
              sinks_alpha(seen, there));
}

/* -----------------------------------------------------------------------------
 * train --start MODEL: fine-tuning ([FIG30], appendix D) */

/* A hash of all parameters. It is never 0, which stands for a training that
 * started from none. */
static uint64_t parameters_hash(const Model *m) {
  uint64_t hash = hash_numbers(0, m->params, (size_t)m->count * sizeof(real),
                               sizeof(real));
  return hash ? hash : 1;
}

/* Keeps t's model and parameters, and begins all else anew from s. */
static int trainer_restart(Trainer *t, const Settings *s, Error *e) {
  Trainer new = {.s = *s, .m = t->m, .tokenizer_hash = t->tokenizer_hash};
  new.start = parameters_hash(&t->m);
  new.s.model = t->m.c;
  if (t->m.c.pos != POS_LEARNED)
    new.s.model.context = s->model.context;
  t->m = (Model){0};
  trainer_free(t);
  *t = new;
  t->m.c = t->s.model;
  if (!t->m.grads)
    model_grads(&t->m, e);
  if (e->status || trainer_again(t, e))
    trainer_free(t);
  return e->status;
}

/* Makes `now` of s with the model of `was`, and with how its text was made ids
 * unless flags say. Where positions are not learned, the context may differ.
 * Any other flag of the model that was given must not contradict. */
static int start_settings(Settings *now, const Settings *was, const Settings *s,
                          Error *e) {
  char old[PATH_ROOM], new[PATH_ROOM];
  Settings said = *s;
  Config c = s->model;
  const char *to_ids = was->data.bos ? "tokenizer bos" : "tokenizer";
  *now = *s;
  if (!config_resolve(&c, &(Error){0}))
    said.model = c;
  for (const Option *o = OPTIONS; o->flag; o++) {
    const bool given = s->given[o - OPTIONS];
    const bool ids = has_word(to_ids, o->flag);
    const bool moves = ids || (!strcmp(o->flag, "context") &&
                               was->model.pos != POS_LEARNED);
    if (!(o->groups & MODEL) && (!ids || s->data.tokens[0]))
      continue;
    if (given && moves)
      continue;
    option_text(o, was, old, sizeof old);
    option_text(o, &said, new, sizeof new);
    if (given && strcmp(old, new))
      return fail(e, 2,
                  "--%s %s: %s has %s, which --start keeps. Try: leave it out",
                  o->flag, new, s->start, old);
    option_set(o, now, old, false, e);
  }
  return settings_refuse_idle(now, e);
}

/* Goes on with the training in --out, if it was begun from these parameters. */
static int start_resume(Trainer *t, const Settings *s, const Model *from,
                        Error *e) {
  Settings alone = *s;
  alone.start[0] = 0;
  if (trainer_begin(t, &alone, "", e))
    return e->status;
  if (t->start != parameters_hash(from))
    fail(e, 2, "--start %s: %s was started from %s. Try: leave it out",
         s->start, s->out, t->start ? "other parameters" : "none");
  if (e->status)
    trainer_free(t);
  return e->status;
}

/* The text of the model's training is not taken for granted: a flag must name
 * one, unless it was the shipped text. */
static int start_text(const Trainer *t, const Settings *s, Error *e) {
  const Source *of = &t->s.data;
  const char *text = t->data.source ? source_name(of) : "FILE";
  const char *flag = "--text";
  if (source_named(&s->data) || s->data.toy || !strcmp(text, SHIPPED_TEXT))
    return 0;
  if (of->grammar[0])
    flag = "--grammar";
  else if (of->tokens[0])
    flag = "--tokens";
  return fail(e, 2,
              "--start %s: expected the text to train on, found none. "
              "Try: %s %s",
              s->start, flag, text);
}

static int trainer_start(Trainer *t, const Settings *s, const char *flags,
                         Error *e) {
  Settings now;
  Trainer base;
  if (s->resume && !s->out[0])
    return fail(e, 2, "--resume: needs --out, the file of the run. Try: "
                "--resume --out FILE");
  if (!s->start[0])
    return trainer_resume(t, s, flags, e);
  if (checkpoint_load(s->start, false, &base, e))
    return e->status;
  if (s->resume && !file_missing(s->out)) {
    start_resume(t, s, &base.m, e);
    trainer_free(&base);
    return e->status;
  }
  *t = base;
  model_move(&t->m, &base.m);
  /* its tokenizer stays */
  if (!start_text(t, s, e) && !start_settings(&now, &t->s, s, e) &&
      !outputs_ready(&now, (const char *[]){now.out, now.log, now.report}, 3,
                     e)) {
    if (s->resume)
      say_new_run(s);
    if (!s->quiet)
      fprintf(stderr, "%s: starting from %s, step %ld\n", s->program->name,
              s->start, t->step);
    trainer_restart(t, &now, e);
  } else
    trainer_free(t);
  return e->status;
}

/* A blank and a word, quoted where a shell needs it. */
static void word_add(Bytes *out, const char *word, Error *e) {
  const char *special = " \t\n'\"`$&;()*?[]{}!<>|\\#~";
  const char *quote = *word && !strpbrk(word, special) ? "" : QUOTE;
  bytes_print(out, e, " %s", quote);
  for (; *word; word++)
    if (*word == *QUOTE)
      bytes_print(out, e, QUOTED);
    else
      bytes_add(out, word, 1, e);
  bytes_print(out, e, "%s", quote);
}

/* Can a file of this name be written? Leaves none. */
static int file_ready(const char *path, Error *e) {
  Writing w;
  if (writing_begin(&w, path, e))
    return e->status;
  fclose(w.f);
  if (remove(w.beside))
    return fail(e, 1, "%s: cannot be removed. Try: another folder", w.beside);
  return 0;
}

/* -----------------------------------------------------------------------------
 * 1  Pictures
 *
 * A page is one HTML file for a browser, a phone or paper: no script, nothing
 * fetched, inline SVG. It reads in grey: lines differ in dashes, marks and
 * lightness, and the ramp of the maps falls in lightness from white. Every
 * element is closed, as in XML. Four pieces draw everything: an element of
 * text, a chart of axes and lines, a map of cells, and the keys of a legend. */
typedef struct Html {
  Bytes text;
  Error *e;
} Html;

/* Adds formatted text of up to 2047 bytes, as it is. */
#define say(h, ...) bytes_print(&(h)->text, (h)->e, __VA_ARGS__)

/* The format that writes c. What HTML reads as its own is replaced, a control
 * becomes a blank, and what is beyond ASCII a question mark in an `odd` text,
 * as html_text calls it. */
static const char *html_form(char c, bool odd) {
  switch (c) {
  case '&': return "&amp;";
  case '<': return "&lt;";
  case '>': return "&gt;";
  case '"': return "&quot;";
  }
  if (odd && c & 0x80)
    return "?";
  return (c > 0 && c < 32 && c != '\n') || c == 127 ? " " : "%c";
}

/* Adds a text, whatever it holds, as UTF-8 without controls, nor U+FFFE and
 * U+FFFF, which no XML has. */
static void html_text(Html *h, const char *s) {
  bool odd = utf8_length((const unsigned char *)s, strlen(s)) < strlen(s) ||
             strstr(s, "\xEF\xBF\xBE") || strstr(s, "\xEF\xBF\xBF");
  for (; *s; s++)
    say(h, html_form(*s, odd), *s);
}

/* <tag>text</name>, where the tag is the element's name with its attributes
 * behind it. */
static void element(Html *h, const char *tag, const char *text) {
  say(h, "<%s>", tag);
  html_text(h, text);
  say(h, "</%.*s>", (int)strcspn(tag, " "), tag);
}

/* A line, and the marks on it. */
typedef struct Series {
  char name[64];               /* "": not in the legend */
  int style, n;
  bool band;                   /* [low, high] is drawn */
  bool points;                 /* the marks are drawn alone */
  bool bare;                   /* it has no marks */
  double x[LOOKS], y[LOOKS], low[LOOKS], high[LOOKS];
} Series;

/* Appends a point, or a gap where y is NAN. */
static void line_add(Series *line, double x, double y) {
  if (line->n == LOOKS || !(fabs(x) < 1e30))
    return;
  line->x[line->n] = x;
  line->y[line->n] = line->low[line->n] = line->high[line->n] = y;
  line->n++;
}

/* Rows of STYLES behind those of the models, and what is added to a style. */
enum {
  LINE_EVEN = 8, LINE_MEAN, LINE_STYLES,
  LINE_STAR = 16,   /* the same line for the model's column * */
  LINE_SEED = 32,   /* a seed of it */
  LINE_OVER = 64,   /* open marks with an arrow up: what lies beyond */
  LINES_MOST = 24   /* of a picture */
};

/* Okabe and Ito's colours, which the colour-blind tell apart, without the
 * yellow. A mark is a path about its middle, filled where it ends in z. */
static const struct {
  const char *colour, *dash, *mark;
  double width;
} STYLES[LINE_STYLES] = {
  {"#10305c", "none", "m-3 0a3 3 0 1 0 6 0a3 3 0 1 0-6 0z", 2},
  {"#d55e00", "8 3", "m-3-3h6v6h-6z", 2},
  {"#3f97ad", "2 3", "m0-4l3.6 6.6h-7.2z", 2.4},
  {"#cc79a7", "12 3 2 3", "m0-4.2l4.2 4.2-4.2 4.2-4.2-4.2z", 2},
  {"#009e73", "5 2", "m0 4l3.6-6.6h-7.2z", 2},
  {"#e69f00", "14 4", "m-3.4-3.4l6.8 6.8m0-6.8l-6.8 6.8", 2},
  {"#56b4e9", "6 2 2 2 2 2", "m-4 0h8m-4-4v8", 2},
  {"#666666", "3 2", "m-4.4-2.2h8.8v4.4h-8.8z", 1.6},
  {"#777777", "4 3", "", 1.5},
  {"#111111", "none", "m-.7-5h1.4v10h-1.4z", 1}
};

static const char *colour_of(int style) {
  return STYLES[style % LINE_STAR].colour;
}

/* How many bytes of a text, `most` at most, are whole characters of UTF-8. */
static int cut_at(const char *text, int most) {
  if ((int)strlen(text) <= most)
    return (int)strlen(text);
  while (most && (text[most] & 0xC0) == 0x80)
    most--;
  return most;
}

/* Begins line k without points. */
static Series *line_begin(Series *lines, int k, const char *name, int style) {
  lines[k] = (Series){.style = style,
                      .points = style >= LINE_SEED || style == LINE_MEAN};
  snprintf(lines[k].name, sizeof lines->name, "%.*s",
           cut_at(name, sizeof lines->name - 1), name);
  return &lines[k];
}

enum { TICKS = 64 };

/* An axis sees the values of its picture, and then lies between two places of
 * it. */
typedef struct Axis {
  const char *name;
  bool log, from_zero;
  bool tight;                  /* it ends where its values do, not at a tick */
  bool seen;                   /* it has from .. to */
  bool names;                  /* its ticks are names, from .. to their lines */
  double least;                /* distance of ticks */
  double from, to;             /* values */
  double first, last;          /* their places */
  double high;                 /* of a picture beside it; 0: 150 */
  int n;
  double at[TICKS];            /* values of ticks, with their texts */
  char text[TICKS][32];
} Axis;

static void axis_see(Axis *a, double x) {
  if (!isfinite(x) || (a->log && x <= 0))
    return;
  if (!a->seen)
    a->from = a->to = a->from_zero ? 0 : x;
  a->from = fmin(x, a->from);
  a->to = fmax(x, a->to);
  a->seen = true;
}

static void axis_tick(Axis *a, double at, const char *text) {
  if (a->n == TICKS || !isfinite(at) || (a->log && at <= 0))
    return;
  snprintf(a->text[a->n], sizeof *a->text, "%.24s", text);
  a->at[a->n++] = at;
}

/* Where a value stands; what a logarithm cannot show stands at its end. */
static double axis_place(const Axis *a, double x) {
  double share;
  if (a->log) {
    /* a quotient in the log might overflow */
    double base = log(a->from);
    share = (log(fmax(x, a->from)) - base) / (log(a->to) - base);
  } else
    share = (x - a->from) / (a->to - a->from);
  return a->first + share * (a->last - a->first);
}

/* A tick with its number, where `at` is on the axis, give or take `near`.
 * Returns false beyond its end. */
static bool axis_number(Axis *a, double at, double near, int digits) {
  char text[32];
  if (at > a->to + near)
    return false;
  snprintf(text, sizeof text, "%.*g", digits, at);
  if (at >= a->from - near)
    axis_tick(a, at, text);
  return true;
}

/* The ticks are powers of ten, and where these are few 2 and 5 times them. */
static void axis_powers(Axis *a) {
  static const int PARTS_OF_TEN[] = {1, 2, 5};
  double low = floor(log10(a->from) + 1e-9);
  double high = ceil(log10(a->to) - 1e-9);
  int every = 1;
  if (high - low > 2)
    every = 3 * ((int)(high - low) / 7 + 1);
  if (!a->tight) {
    a->from = pow(10, low);
    a->to = pow(10, high);
  }
  for (int i = 0; a->n < TICKS && i < 2000; i += every) {
    double at = pow(10, low + i / 3) * PARTS_OF_TEN[i % 3];
    if (!axis_number(a, at, 1e-9 * at, 6))
      return;
  }
}

/* Three to ten ticks are 1, 2 or 5 times a power of ten apart. Their numbers
 * have digits for values as large as `whole`. */
static void axis_steps(Axis *a, double whole) {
  double range = a->to - a->from, step = pow(10, floor(log10(range / 3)));
  if (range / step > 15)
    step *= 5;
  else if (range / step > 6)
    step *= 2;
  step = fmax(step, a->least);
  double low = floor(a->from / step + 1e-9);
  double high = ceil(a->to / step - 1e-9);
  int digits = (int)fmax(6, 1 + floor(log10(whole)) - floor(log10(step)));
  if (!a->tight) {
    a->from = step * low;
    a->to = step * high;
  }
  for (int i = 0; a->n < TICKS && i < 2000; i++)
    if (!axis_number(a, step * (low + i), 1e-9 * step, digits))
      return;
}

/* The axis lies from first to last, and spans a millionth of its values at
 * least. One that has no ticks gets them. */
static void axis_end(Axis *a, double first, double last) {
  double whole = fmax(fabs(a->from), fabs(a->to));
  a->first = first;
  a->last = last;
  const bool one = a->tight && !(a->to > a->from);
  if (!(a->to > a->from))
    a->to = a->log ? 2 * a->from : a->from + 1;
  a->to = fmax(a->to, a->from + 1e-6 * whole);
  if (a->n)
    return;
  const double only = a->from;
  if (a->log)
    axis_powers(a);
  else
    axis_steps(a, whole);
  if (one && a->n && fabs(a->at[0] - only) <= 1e-9 * whole)
    a->n = 1;                  /* nothing was seen at the others */
}

enum { PICTURE_WIDTH = 360 };    /* of a chart */

static void svg_text(Html *h, double x, double y, const char *anchor,
                     const char *text) {
  say(h, "<text class=\"%s\" x=\"%.4g\" y=\"%.4g\">", anchor, x, y);
  html_text(h, text);
  say(h, "</text>");
}

/* An axis beside the picture stands at x = at, and its rules lead to x = end.
 * One below stands at y = at, and its rules lead up to y = end. */
static void axis_draw(Html *h, const Axis *a, bool beside, double at,
                      double end) {
  double used = -1e9;
  for (int i = 0; i < a->n; i++) {
    double place = axis_place(a, a->at[i]);
    if (beside) {
      say(h, "<path class=\"rule\" d=\"M%.1f %.1fH%.1f\"/>", at, place, end);
      svg_text(h, at - 7, place + 4, "end", a->text[i]);
      continue;
    }
    double half = 3.3 * (double)strlen(a->text[i]) + 2;
    double middle = fmin(place, PICTURE_WIDTH - half);
    say(h, "<path class=\"rule\" d=\"M%.1f %.1fV%.1f\"/>", place, at + 4, end);
    if (middle - half < used)
      continue;
    svg_text(h, middle, at + 16, "middle", a->text[i]);
    used = middle + half;
  }
  if (beside)
    say(h, "<path class=\"axis\" d=\"M%.1f %.1fV%.1f\"/>\n", at, a->first,
        a->last);
  else
    say(h, "<path class=\"axis\" d=\"M%.1f %.1fH%.1f\"/>\n", a->first, at,
        a->last);
}

static void svg_mark(Html *h, int style, double x, double y) {
  const bool over = style >= LINE_OVER;
  const bool seed = style >= LINE_SEED && !over;
  const char *mark = STYLES[seed ? 0 : style % LINE_STAR].mark;
  const char *colour = colour_of(style);
  if (!*mark || !isfinite(x) || !isfinite(y))
    return;
  bool filled = style < LINE_STAR && mark[strlen(mark) - 1] == 'z';
  say(h, "<path fill=\"%s\" stroke=\"%s\" d=\"M%.1f %.1f%s\"/>",
      filled ? colour : "none", colour, x, y, mark);
  if (over)
    say(h,
        "<path fill=\"none\" stroke=\"%s\" "
        "d=\"M%.1f %.1fv-7m-2.5 2.5l2.5-2.5 2.5 2.5\"/>",
        colour, x, y - 4);
}

/* Begins a path of a line's colour and dashes; the rest of its d and its end
 * follow. */
static void svg_line(Html *h, int style) {
  const char *dash = style < LINE_STAR ? STYLES[style].dash : "9 3 2 3";
  say(h,
      "<path class=\"line\" stroke=\"%s\" stroke-dasharray=\"%s\" "
      "stroke-width=\"%g\" d=\"",
      colour_of(style), dash, STYLES[style % LINE_STAR].width);
}

/* The band of each stretch without a gap: there above, and back below. */
static void draw_bands(Html *h, const Axis *x, const Axis *y,
                       const Series *line) {
  int n = line->n;
  for (int from = 0, to; from < n; from = to + 1) {
    for (to = from; to < n && isfinite(line->y[to]); to++)
      continue;
    if (to - from < 2)
      continue;
    say(h, "<path class=\"band\" fill=\"%s\" d=\"", colour_of(line->style));
    for (int k = from; k < to; k++)
      say(h, "%c%.1f %.1f", k > from ? 'L' : 'M', axis_place(x, line->x[k]),
          axis_place(y, line->high[k]));
    for (int k = to - 1; k >= from; k--)
      say(h, "L%.1f %.1f", axis_place(x, line->x[k]),
          axis_place(y, line->low[k]));
    say(h, "z\"/>");
  }
}

/* Strokes from point to point, none to or from a gap. */
static void draw_strokes(Html *h, const Axis *x, const Axis *y,
                         const Series *line) {
  svg_line(h, line->style);
  for (int i = 0; i < line->n; i++)
    if (isfinite(line->y[i]))
      say(h, "%c%.1f %.1f", i && isfinite(line->y[i - 1]) ? 'L' : 'M',
          axis_place(x, line->x[i]), axis_place(y, line->y[i]));
  say(h, "\"/>");
}

/* A mark at every point where these are few or stand alone, otherwise at five:
 * each in the middle of a fifth of them. */
static void draw_marks(Html *h, const Axis *x, const Axis *y,
                       const Series *line) {
  int n = line->n, marks = line->points || n <= 12 ? n : 5;
  for (int k = 0; k < marks; k++) {
    int i = (2 * k + 1) * n / (2 * marks);
    if (isfinite(line->y[i]))
      svg_mark(h, line->style, axis_place(x, line->x[i]),
               axis_place(y, line->y[i]));
  }
}

static void draw_line(Html *h, const Axis *x, const Axis *y,
                      const Series *line) {
  if (line->band)
    draw_bands(h, x, y, line);
  if (!line->points)
    draw_strokes(h, x, y, line);
  if (!line->bare)
    draw_marks(h, x, y, line);
  say(h, "\n");
}

static void legend(Html *h, const Series *lines, int n) {
  say(h, "<p class=\"key\">");
  for (int k = 0; k < n; k++) {
    if (!lines[k].name[0] || !lines[k].n)
      continue;
    say(h, "<span><svg viewBox=\"0 0 28 12\" width=\"28\" "
           "aria-hidden=\"true\">");
    if (!lines[k].points) {
      svg_line(h, lines[k].style);
      say(h, "M0 6h28\"/>");
    }
    svg_mark(h, lines[k].style, 14, 6);
    say(h, "</svg> ");
    html_text(h, lines[k].name);
    say(h, "</span> ");
  }
  say(h, "</p>");
}

static void figure_begin(Html *h, const char *id, const char *title) {
  if (id)
    say(h, "<figure id=\"%s\">", id);
  else
    say(h, "<figure>");
  element(h, "h3", title);
}

static void figure_end(Html *h, const char *caption) {
  if (*caption)
    element(h, "figcaption", caption);
  say(h, "</figure>\n");
}

typedef struct Chart {
  const char *title, *caption;
  Axis x, y;
} Chart;

/* What a chart has whose names stand at its lines' ends, not in a legend. */
typedef struct Names {
  const char *id;              /* or NULL */
  double level;                /* of a rule across; 0: there is none */
  const char *at_level;        /* the rule's name */
} Names;

/* Has the axes see all points and bands; false: there are none. */
static bool lines_seen(Axis *x, Axis *y, const Series *lines, int n) {
  bool any = false;
  for (int k = 0; k < n; k++)
    for (int i = 0; i < lines[k].n; i++) {
      if (!isfinite(lines[k].y[i]) || (y->log && lines[k].y[i] <= 0) ||
          (x->log && lines[k].x[i] <= 0))
        continue;
      any = true;
      axis_see(x, lines[k].x[i]);
      axis_see(y, lines[k].low[i]);
      axis_see(y, lines[k].high[i]);
    }
  return any;
}

/* What a reader hears who does not see the chart. */
static void chart_label(Html *h, const Chart *what, const Series *lines,
                        int n) {
  bool names = what->y.names;
  html_text(h, what->title);
  say(h, ", in %s", names ? what->x.name : what->y.name);
  for (int k = 0; k < n; k++) {
    const double *at = names ? lines[k].x : lines[k].y;
    /* what is not finite is a gap */
    int from = 0, to = lines[k].n - 1;
    while (from < to && !isfinite(at[from]))
      from++;
    while (to > from && !isfinite(at[to]))
      to--;
    if (to < 0 || !isfinite(at[to]) || !lines[k].name[0])
      continue;
    double first = at[from], last = at[to];
    for (int i = from; i <= to && names; i++) {   /* dots: least and largest */
      first = fmin(first, at[i]);
      last = fmax(last, at[i]);
    }
    say(h, ". ");
    html_text(h, lines[k].name);
    say(h, ": from %.3g to %.3g", first, last);
  }
}

/* The last point of a line that is no gap; -1: there is none. */
static int last_point(const Series *line) {
  int last = line->n - 1;
  while (last >= 0 && !isfinite(line->y[last]))
    last--;
  return last;
}

/* Moves names apart, whose places at[order[i]] fall from above to below: first
 * down from the top, then up from the bottom. */
static void names_apart(double *at, const int *order, int n, const Axis *y) {
  enum { LINE = 12 };
  double next = y->last;
  for (int i = 0; i < n; i++) {
    double *place = &at[order[i]];
    *place = fmax(*place, next);
    next = *place + LINE;
  }
  next = y->first;
  for (int i = n - 1; i >= 0; i--) {
    double *place = &at[order[i]];
    *place = fmin(*place, next);
    next = *place - LINE;
  }
}

/* Names behind the lines' last points, as near to them as there is room, and
 * the level's at its rule. The level counts as line n. */
static void line_names(Html *h, const Names *what, const Axis *x, const Axis *y,
                       const Series *lines, int n) {
  double at[LINES_MOST + 1], right = x->last + 8;
  int order[LINES_MOST + 1], told = 0;   /* from above to below */
  for (int k = 0; k < n + (what->level > 0); k++) {
    double value = what->level;
    if (k < n) {
      int last = last_point(&lines[k]);
      if (last < 0 || !lines[k].name[0])
        continue;
      value = lines[k].y[last];
    }
    at[k] = axis_place(y, value);
    int place = told++;
    for (; place && at[order[place - 1]] > at[k]; place--)
      order[place] = order[place - 1];
    order[place] = k;
  }
  names_apart(at, order, told, y);
  if (what->level > 0) {
    double level = axis_place(y, what->level);
    say(h, "<path class=\"level\" d=\"M%.1f %.1fH%.1f\"/>", x->first, level,
        x->last);
  }
  for (int i = 0; i < told; i++) {
    const int k = order[i];
    const char *name = what->at_level;
    if (k < n) {
      name = lines[k].name;
      svg_mark(h, lines[k].style, right, at[k]);
    }
    svg_text(h, right + 8, at[k] + 4, "", name);
  }
}

/* The room of the numbers or names beside an axis: letters of a wide sans
 * serif, at 11 px. */
static double axis_room(const Axis *y) {
  size_t longest = 4;
  for (int i = 0; i < y->n; i++)
    if (strlen(y->text[i]) > longest)
      longest = strlen(y->text[i]);
  return 11 + 6.7 * (double)longest;
}

/* The room that names need behind the lines of a chart. */
static double names_room(const Names *names, const Series *lines, int n) {
  size_t longest = 0;
  if (!names)
    return 0;
  if (names->level > 0)
    longest = strlen(names->at_level);
  for (int k = 0; k < n; k++)
    if (strlen(lines[k].name) > longest)
      longest = strlen(lines[k].name);
  return longest ? 10 + 6.7 * (double)longest : 0;
}

/* A chart, where what is not finite breaks a line. It is as high as the names
 * of y need, if y has names. */
static void chart_named(Html *h, const Chart *what, const Names *names,
                        const Series *lines, int n) {
  enum { LINE = 15 };
  Axis x = what->x, y = what->y;
  figure_begin(h, names ? names->id : NULL, what->title);
  if (!lines_seen(&x, &y, lines, n)) {
    figure_end(h, "Nothing was measured.");
    return;
  }
  if (names && names->level > 0)
    axis_see(&y, names->level);
  double top = 22, bottom = top + (y.high > 0 ? y.high : 150);
  /* names go from above to below, numbers from below to above */
  if (y.names) {
    top = 4;
    bottom = top + LINE * (y.to - y.from);
    axis_end(&y, top, bottom);
  } else
    axis_end(&y, bottom, top);
  double left = axis_room(&y);
  double right = PICTURE_WIDTH - 12 - names_room(names, lines, n);
  axis_end(&x, left, right);
  say(h, "<svg viewBox=\"0 0 %d %.0f\" role=\"img\" aria-label=\"",
      PICTURE_WIDTH, bottom + 34);
  chart_label(h, what, lines, n);
  say(h, "\">\n");
  if (!y.names)
    svg_text(h, 2, 12, "", y.name);
  svg_text(h, right, bottom + 30, "end", x.name);
  axis_draw(h, &y, true, left, right);
  axis_draw(h, &x, false, bottom, y.names ? top : bottom);
  for (int k = 0; k < n; k++)
    draw_line(h, &x, &y, &lines[k]);
  if (names)
    line_names(h, names, &x, &y, lines, n);
  say(h, "</svg>");
  if (!names)
    legend(h, lines, n);
  figure_end(h, what->caption);
}

static void chart(Html *h, const Chart *what, const Series *lines, int n) {
  chart_named(h, what, NULL, lines, n);
}

/* The ramp of the maps: weights up to 1, borders about a factor 2 apart, since
 * a sink stands out by factors. */
enum { RAMP = 7 };
static const struct {
  double from;
  const char *colour;
} RAMPS[RAMP] = {
  {0, "#ffffff"},   {0.01, "#e8edf4"}, {0.02, "#c9d6e6"}, {0.05, "#9cb8d6"},
  {0.1, "#6892c0"}, {0.2, "#33629c"},  {0.5, "#0f2c58"}
};

static int ramp_level(double x) {
  int level = 0;
  while (level + 1 < RAMP && x >= RAMPS[level + 1].from)
    level++;
  return level;
}

static void ramp_swatch(Html *h, const char *colour) {
  say(h, "<span><svg viewBox=\"0 0 16 12\" width=\"16\" aria-hidden=\"true\">"
      "<rect class=\"axis\" width=\"16\" height=\"12\" style=\"fill:%s\"/>"
      "</svg> ", colour);
}

static void ramp_legend(Html *h) {
  say(h, "<p class=\"key\">Weight of a key, from 0 to 1: ");
  for (int k = 0; k < RAMP; k++) {
    ramp_swatch(h, RAMPS[k].colour);
    if (k == 0)
      say(h, "below %g</span> ", RAMPS[1].from);
    else if (k + 1 < RAMP)
      say(h, "%g to %g</span> ", RAMPS[k].from, RAMPS[k + 1].from);
    else
      say(h, "%g or more</span> ", RAMPS[k].from);
  }
  say(h, "</p>\n");
}

/* A map whose cell (i, j) is m[i * ld + j * by]. One of heads shows alpha [L,H]
 * by block (down) and head (across), with numbers where there is room. Others
 * show a head's weights of queries (down) on keys (across), where columns that
 * are more than the rows, those of * and x*, come first. */
typedef struct CellMap {
  const double *m;
  idx ld, by;
  int rows, columns;
  bool heads;
  const char *title;
  const Sinks *s;              /* a block that does not attend stays empty */
} CellMap;

/* A path for each level of the ramp, made of runs of equal cells, so that a map
 * of 64 x 64 takes some kilobytes. */
static void cells(Html *h, const CellMap *c, int left, int wide, int high) {
  for (int level = 1; level < RAMP; level++) {
    say(h, "<path fill=\"%s\" d=\"", RAMPS[level].colour);
    for (int i = 0; i < c->rows; i++)
      for (int j = 0; j < c->columns; j++) {
        const double *row = c->m + i * c->ld;
        int from = j;
        while (j < c->columns && ramp_level(row[j * c->by]) == level)
          j++;
        if (j > from)
          say(h, "M%d %dh%dv%dh-%dz", left + from * wide, 16 + i * high,
              (j - from) * wide, high, (j - from) * wide);
      }
    say(h, "\"/>\n");
  }
  say(h,
      "<rect class=\"axis\" x=\"%d\" y=\"16\" width=\"%d\" height=\"%d\"/>\n",
      left, c->columns * wide, c->rows * high);
}

/* The numbers in the cells of a map. */
static void cell_numbers(Html *h, const CellMap *c, int left, int wide,
                         int high) {
  for (int i = 0; i < c->rows; i++)
    for (int j = 0; j < c->columns; j++) {
      double x = c->m[i * c->ld + j * c->by];
      bool there = isfinite(x) && (!c->s || c->s->attends[i]);
      char text[64];
      snprintf(text, sizeof text, there ? "%.2f" : "-", x);
      svg_text(h, left + (j + 0.5) * wide, 30 + i * high,
               ramp_level(x) >= 5 ? "middle on" : "middle", text);
    }
}

static void cell_map(Html *h, const CellMap *c) {
  enum { LEFT = 30 };
  bool numbers = c->heads && c->columns <= 8 && c->rows <= 24;
  int wide = 8, every = c->rows > 32 ? 16 : 4;
  if (c->heads)
    wide = 10;
  else if (c->columns > 33)
    wide = 4;
  int high = wide;
  if (numbers) {
    wide = 38;
    high = 20;
    every = 1;
  }
  int before = c->heads ? 0 : c->columns - c->rows, keys = c->columns - before;
  int across = c->columns * wide, bottom = 16 + c->rows * high;
  int width = LEFT + (across > 120 ? across : 120) + 4;
  char text[64];
  say(h,
      "<p>%s</p><svg viewBox=\"0 0 %d %d\" style=\"max-width:%dpx\" "
      "role=\"img\" aria-label=\"%s %s, %d by %d\">",
      c->title, width, bottom + 16, width * 5 / 4,
      c->heads ? "Heat map:" : "Attention map:", c->title, c->rows,
      c->columns);
  /* arrows: down, across */
  if (c->heads)
    snprintf(text, sizeof text, "block \342\206\223  head \342\206\222");
  else
    snprintf(text, sizeof text, "query \342\206\223  %skey \342\206\222",
             before ? "*, " : "");
  svg_text(h, LEFT, 11, "", text);
  cells(h, c, LEFT, wide, high);
  for (int i = 0; i < c->rows || i < keys; i += every) {
    snprintf(text, sizeof text, "%d", i + 1);
    if (i < c->rows)
      svg_text(h, LEFT - 4, 20 + (i + 0.5) * high, "end", text);
    if (i < keys)
      svg_text(h, LEFT + (before + i + 0.5) * wide, bottom + 12, "middle",
               text);
  }
  if (numbers)
    cell_numbers(h, c, LEFT, wide, high);
  if (before)
    say(h, "<path class=\"axis\" d=\"M%d 16V%d\"/>", LEFT + before * wide,
        bottom);
  say(h, "</svg>\n");
}

/* -----------------------------------------------------------------------------
 * 2  The maps of two heads
 */

/* A token's text, with a dot for each blank; its id where no tokenizer knows
 * it. */
static void token_text(char to[TOKEN_ROOM], const Data *d, int id) {
  const int32_t ids[] = {id};
  Bytes text = {0};
  Error e = {0};
  int n = 0;
  if (id >= d->tokenizer.vocab ||
      tokenizer_decode(&d->tokenizer, ids, 1, &text, &e) || !text.size)
    n = snprintf(to, TOKEN_ROOM, "%d", id);
  const bool good = utf8_length(text.at, text.size) == text.size;
  for (size_t i = 0; i < text.size && n < TOKEN_ROOM - 6; i++) {
    unsigned char byte = text.at[i];
    if (n > 12 && (byte & 0xC0) != 0x80) {
      n += snprintf(to + n, 4, "..");
      break;
    }
    if (byte == ' ')
      n += snprintf(to + n, 3, "\302\267");
    else if (byte == '\n')
      n += snprintf(to + n, 3, "\\n");
    else if (byte < 32 || byte == 127 || (byte > 127 && !good))
      n += snprintf(to + n, 5, "x%02X", byte);
    else
      n += snprintf(to + n, 2, "%c", byte);
  }
  bytes_free(&text);
}

/* Fills in the map of one head (out->layer, out->head) over the first T tokens
 * of a batch of sequences, at most HEAD_MAP: T rows, the real tokens, by S
 * columns *, x*, 1 .. T. */
static int head_map(HeadMap *out, Model *m, const Data *d, const Settings *s,
                    int T, Error *e) {
  enum { BATCH = 16 };
  const Config *c = &m->c;
  Acts a = {0};
  int starts, ids[BATCH * HEAD_MAP], targets[BATCH * HEAD_MAP];
  const int t = s->swap_position + s->replace_position;
  if (T > HEAD_MAP)
    T = HEAD_MAP;
  int B = data_probe(d, &s->data, s->input, BATCH, T, ids, targets, &starts);
  idx N = config_rows(c, T), S = config_columns(c, T);
  idx size = B * c->heads * N * S;
  real *maps = grab(2 * size, sizeof *maps, e);
  Probe *probe = grab(c->layers, sizeof *probe, e);
  /* the table has row t, too */
  if (!e->status && B &&
      !acts_create(&a, m, B, t > T ? t : T, ACTS_ONE, e)) {
    probe[out->layer].metric = maps;
    probe[out->layer].weight = maps + size;
    a.probe = probe;
    /* this T may be shorter: the evaluation's says what positions there are */
    position_edit(m, &a, s, s->eval_T, false, e);
    model_forward(m, &a, ids, B, T);
    position_edit(m, &a, s, s->eval_T, true, e);
    model_fault(m, e);
    out->T = T;
    out->S = (int)S;
    for (idx i = 0; i < T * S; i++) {
      out->m[i] = 0;
      for (idx b = 0; b < B; b++)
        out->m[i] +=
            (double)maps[((b * c->heads + out->head) * N + N - T) * S + i] / B;
    }
    for (int i = 0; i < T; i++)
      token_text(out->token[i], d, ids[i]);
    for (idx i = 0; i < T * S && i < MAP_TOKENS * S; i++)
      out->one[i] = (double)maps[size + (out->head * N + N - T) * S + i];
  }
  acts_free(&a);
  free(probe);
  free(maps);
  return e->status;
}

/* The column of the sink: * or x* where there is one, and else token 1. */
enum { SINK_COLUMN = 0 };

/* Measures the maps of the two heads whose sink is the strongest and the
 * weakest. */
static int outcome_heads(Outcome *o, Trainer *t, const Settings *s, Error *e) {
  int H = o->s.H, most = 0;
  while (!o->s.attends[most / H])   /* to the first block that attends */
    most += H;
  int least = most;
  for (int i = most + 1; i < o->s.L * H; i++) {
    double alpha = o->s.alpha[(idx)i * o->s.S + SINK_COLUMN];
    if (!o->s.attends[i / H])
      continue;
    if (alpha > o->s.alpha[(idx)most * o->s.S + SINK_COLUMN])
      most = i;
    if (alpha < o->s.alpha[(idx)least * o->s.S + SINK_COLUMN])
      least = i;
  }
  if (!o->map)
    o->map = grab(2, sizeof *o->map, e);
  for (int k = 0; k < 2 && !e->status; k++) {
    int head = k ? least : most;
    o->map[k].layer = head / H;
    o->map[k].head = head % H;
    head_map(&o->map[k], &t->m, &t->data, s, s->eval_T, e);
  }
  return e->status;
}

/* -----------------------------------------------------------------------------
 * 3  The page of a run, a training or an evaluation */

/* The charts of models: by step while they train, and by block. */
enum {
  LOOK_LOSS, LOOK_SINK, LOOK_ALPHA,
  NORM_HIDDEN, NORM_KEYS, NORM_VALUES, MODEL_CHARTS
};
static const struct {
  const char *title, *y, *caption;
  bool from_zero;
} CHARTS[MODEL_CHARTS] = {
  {"Training loss", "nats a token",
   "Mean of the steps since the point before. Models are compared at equal "
   "loss, not at equal steps: read across at one height. The paper's Figure 4, "
   "middle and right.", false},
  {"Sink of token 1 (and of *)", "%",
   "Share of heads and held-out sequences whose alpha is above the threshold. "
   "Look when it leaves 0 %: in the paper's Figure 4, middle, after 1,000 to "
   "2,000 steps.", true},
  {"alpha of token 1 (and of *)", "mean weight",
   "Mean over heads of the weight on token 1 or * (section 3.2), without a "
   "threshold. It moves before Sink does. Look for a rise above even rows.",
   false},
  {"Hidden states", "norm of the first row / mean of the others",
   "Output of each block; 0 is the embedding. Massive activations stand far "
   "above 1; without a normaliser or with a key bias none do. The paper's "
   "Figures 2, 7 and 8.", true},
  {"Keys", "norm of the first row / mean of the others",
   "Mean over key heads. In large models the first key is much shorter than "
   "the others. The paper's Figure 2, top, and Figures 11 to 14.", true},
  {"Values", "norm of the first row / mean of the others",
   "Mean over key heads. A sink's value is short: it takes weight and gives "
   "little. The paper's Figure 2, top, and Figures 11 to 14.", true}
};

/* Fills in a model's line of a chart, or that of its column *. */
static void model_line(Series *line, const Outcome *o, int what, bool star) {
  const Sinks *s = &o->s;
  for (int i = 0; what < NORM_HIDDEN && i < o->p.looks; i++) {
    const Look *p = &o->p.look[i];
    const double y[][2] = {{p->loss, NAN},
                           {100 * p->sink1, 100 * p->sink_star},
                           {p->alpha1, p->alpha_star}};
    line_add(line, (double)p->step, y[what][star]);
  }
  if (what < NORM_HIDDEN || !s->n)
    return;
  const double *const norms[] = {s->hnorm, s->knorm, s->vnorm};
  const double *norm = norms[what - NORM_HIDDEN];
  /* hidden states have a block 0; a block that does not attend has no keys and
   * values */
  int first = what > NORM_HIDDEN;
  for (int i = 0; i + first <= s->L; i++)
    if (!first || s->attends[i])
      line_add(line, i + first, norm_ratio(norm + (idx)i * s->N, s->N));
}

/* The column where a model can have its sink besides token 1, in words. */
static const char *column_name(const Config *c) {
  if (c->extra == EXTRA_K || c->extra == EXTRA_KV)
    return "the key bias *";
  if (c->extra)
    return "the extra column *";
  return c->sink_token > 1 ? "the sink token x*1" : "the sink token x*";
}

/* The name of a model's line: the last part of the model's name, and in a chart
 * of `columns` the column. */
static void line_name(char name[64], const Outcome *o, bool columns,
                      bool star) {
  const char *last = strrchr(o->name, '/');
  const char *at = last ? last + 1 : o->name;
  int n = snprintf(name, 64, "%.*s", cut_at(at, 30), at);
  if (columns)
    snprintf(name + n, 64 - (size_t)n, ": %s",
             star ? column_name(&o->c) : "token 1");
}

/* The charts from .. to - 1, with a line for the model, and one for its
 * column *. */
static void page_charts(Html *h, const Outcome *o, int from, int to) {
  Series *lines = grab(LINES_MOST, sizeof *lines, h->e);
  say(h, "<div class=\"grid\">\n");
  for (int what = from; lines && what < to; what++) {
    bool curve = what < NORM_HIDDEN;
    bool columns = what == LOOK_SINK || what == LOOK_ALPHA;
    Chart shown = {
      CHARTS[what].title, CHARTS[what].caption,
      {.name = curve ? "step" : "block", .least = 1, .tight = true},
      {.name = CHARTS[what].y, .from_zero = CHARTS[what].from_zero}};
    int count = 0;
    for (int star = 0; star <= (columns && config_column_first(&o->c));
         star++) {
      char name[64];
      line_name(name, o, columns, star);
      Series *line = line_begin(lines, count++, name, LINE_STAR * star);
      model_line(line, o, what, star);
    }
    if (what == LOOK_ALPHA && lines_seen(&shown.x, &shown.y, lines, count)) {
      Series *even = line_begin(lines, count++, "even rows", LINE_EVEN);
      line_add(even, shown.x.from, o->even);
      line_add(even, shown.x.to, o->even);
    }
    if (curve)
      chart(h, &shown, lines, count);
    else
      chart_named(h, &shown, &(Names){NULL, 1, "the others"}, lines, count);
  }
  say(h, "</div>\n");
  free(lines);
}

static void table_begin(Html *h, const char *caption) {
  say(h, "<div class=\"wide\" role=\"region\" tabindex=\"0\" aria-label=\"");
  html_text(h, caption);
  say(h, "\"><table>");
  element(h, "caption", caption);
}

/* Key j, from 0, of a head's map: *, x*, or a token with its number. */
static const char *key_name(char to[64], const HeadMap *map, const Config *c,
                            int j) {
  int before = map->S - map->T;
  if (j < before)
    return column_label(to, c, j);
  snprintf(to, 64, "%d %s", j - before + 1, map->token[j - before]);
  return to;
}

/* How many of the first T tokens row i, from 0, sees: those up to its own, or
 * a prefix. */
static int tokens_seen(int prefix, int i, int T) {
  return (int)at_most(i < prefix ? prefix : i + 1, T);
}

/* For those who do not see the picture: each query's weight on the column, and
 * its largest weight on what it sees. */
static void token_table(Html *h, const HeadMap *map, const Config *c, int T,
                        const char *title) {
  char text[64];
  say(h, "<details><summary>These weights as a table</summary>");
  table_begin(h, title);
  say(h, "<tr><th scope=\"col\">query</th><th scope=\"col\">its weight on ");
  html_text(h, key_name(text, map, c, SINK_COLUMN));
  say(h, "</th><th scope=\"col\">largest weight</th>"
         "<th scope=\"col\">on</th></tr>\n");
  for (int i = 0; i < T; i++) {
    const double *row = map->one + i * map->S;
    int most = 0, before = map->S - map->T;
    for (int j = 1; j < before + tokens_seen(c->prefix, i, map->T); j++)
      if (row[j] > row[most])
        most = j;
    say(h, "<tr>");
    element(h, "th scope=\"row\"", key_name(text, map, c, before + i));
    say(h, "<td>%.2f</td><td>%.2f</td>", row[SINK_COLUMN], row[most]);
    element(h, "td", key_name(text, map, c, most));
    say(h, "</tr>\n");
  }
  say(h, "</table></div></details>\n");
}

enum { TOKEN_CELL = 11, TOKEN_BAR = 24 };   /* bar: a mass of 1 */

/* A bar at each row, from x = left on, for what its raw weights on tokens sum
 * to, those of a sink token among them. */
static void mass_bars(Html *h, const HeadMap *map, const Config *c, int T,
                      int left) {
  int before = map->S - map->T;
  for (int i = 0; i < T; i++) {
    double mass = 0;
    int end = before + tokens_seen(c->prefix, i, map->T);
    for (int j = c->extra != EXTRA_NONE; j < end; j++)
      mass += map->one[i * map->S + j];
    say(h, "<path class=\"mass\" d=\"M%d %dh%.3gv%dH%dz\"/>", left,
        17 + i * TOKEN_CELL, TOKEN_BAR * fmin(fmax(mass, 0), 1),
        TOKEN_CELL - 2, left);
  }
}

/* The queries' names beside a token map, and the keys' names below it. */
static void token_names(Html *h, const HeadMap *map, const Config *c, int T,
                        int left, int bottom) {
  char text[64];
  int before = map->S - map->T;
  for (int j = 0; j < before + T; j++) {
    const char *name;
    if (j < before)
      name = key_name(text, map, c, j);
    else {
      name = map->token[j - before];
      svg_text(h, left - 4, 16 + (j - before + 0.8) * TOKEN_CELL, "tok end",
               name);
    }
    say(h,
        "<text class=\"tok end\" transform=\"translate(%d %d) rotate(-90)\">",
        left + j * TOKEN_CELL + 9, bottom + 4);
    html_text(h, name);
    say(h, "</text>");
  }
}

/* The raw weights of a head on the first tokens of one sequence, which stand
 * beside the axes. The sink's column is named above it. A head is a sink above
 * eps, as in Sink. */
static void token_map(Html *h, const Outcome *o, int k, double eps) {
  const HeadMap *map = &o->map[k];
  int T = map->T < MAP_TOKENS ? map->T : MAP_TOKENS, S = T + map->S - map->T;
  idx head = (idx)map->layer * o->s.H + map->head;
  double alpha = o->s.alpha[head * o->s.S + SINK_COLUMN];
  const bool star = config_column_first(&o->c) > 0, is_sink = alpha > eps;
  const char *sink = star ? column_name(&o->c) : "token 1";
  char title[200], text[80];
  snprintf(title, sizeof title, "Block %d, head %d, %s on %s: alpha %.2f, %s",
           map->layer + 1, map->head + 1, k ? "least" : "most", sink, alpha,
           is_sink ? "a sink" : "no sink");
  element(h, "p", title);
  snprintf(text, sizeof text, "\342\206\223 %s%s", is_sink ? "the sink: " : "",
           sink);
  size_t longest = 4;
  for (int i = 0; i < T; i++)
    if (strlen(map->token[i]) > longest)
      longest = strlen(map->token[i]);
  int left = 8 + 6 * (int)longest, bottom = 16 + T * TOKEN_CELL;
  int width = S * TOKEN_CELL + 10 + TOKEN_BAR;
  /* the text's room, at 11 px */
  width = (int)fmax(width, 6 * (double)strlen(text));
  say(h,
      "<svg viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"Attention map of "
      "block %d, head %d, %d queries (down) by %d keys (across) of one "
      "sequence; a table follows\">",
      left + width, bottom + left, map->layer + 1, map->head + 1, T, S);
  svg_text(h, left + 2, 11, "", text);
  const CellMap weights = {
    .m = map->one, .ld = map->S, .by = 1, .rows = T, .columns = S};
  cells(h, &weights, left, TOKEN_CELL, TOKEN_CELL);
  mass_bars(h, map, &o->c, T, left + S * TOKEN_CELL + 4);
  token_names(h, map, &o->c, T, left, bottom);
  if (S > T)
    say(h, "<path class=\"axis\" d=\"M%d 16V%d\"/>",
        left + (S - T) * TOKEN_CELL, bottom);
  say(h, "</svg>\n");
  token_table(h, map, &o->c, T, title);
}

/* Side by side the maps of alpha, and of two heads. */
static void page_maps(Html *h, const Outcome *o, double eps) {
  char text[400];
  const Sinks *s = &o->s;
  const int first = config_column_first(&o->c);
  ramp_legend(h);
  say(h, "<div class=\"grid\">\n");
  figure_begin(h, NULL, o->name);
  for (int k = 0; k <= (first > 0); k++) {
    int column = first;
    const char *name = "token 1";
    if (k) {
      column = SINK_COLUMN;
      name = column_name(&o->c);
    }
    snprintf(text, sizeof text, "alpha of %s", name);
    cell_map(h, &(CellMap){s->alpha + column, (idx)s->H * s->S, s->S, s->L,
                           s->H, true, text, s});
  }
  snprintf(text, sizeof text,
           "alpha of each head, the mean over %d sequences of %d tokens; even "
           "rows give %.3f. The paper's Figures 19 to 24.",
           s->n, s->T, o->even);
  figure_end(h, text);
  snprintf(text, sizeof text,
           "The raw weight of each query (down) on each key (across), at the "
           "start of one sequence, and beside a row what it sums to%s, 0 to 1; "
           "a dot is a blank. A sink is a dark column, of alpha above %g.",
           o->c.extra ? " without *" : "", eps);
  for (int k = 0; k < 2; k++) {
    if (!o->map || !o->map[k].T)
      continue;
    say(h, "<figure>");
    token_map(h, o, k, eps);
    figure_end(h, k ? "" : text);
  }
  say(h, "</div>\n");
}

static void page_table(Html *h, const Outcome *o, const Settings *s) {
  double row[ROW];
  char text[32];
  sinks_row(&o->s, &o->c, o->loss, row);
  table_begin(h, "The model, measured");
  say(h, "<tr><th scope=\"col\">model</th>");
  for (int k = 0; k < ROW; k++)
    say(h, "<th scope=\"col\">%s</th>", ROW_COLUMNS[k].head);
  say(h, "</tr>\n<tr>");
  element(h, "th scope=\"row\"", o->name);
  for (int k = 0; k < ROW; k++)
    element(h, "td", cell_text(text, &ROW_COLUMNS[k], row[k]));
  say(h,
      "</tr>\n</table></div>\n<p>Sink: share of heads with alpha above %g, over %d "
      "sequences of %d tokens. alpha: mean share of token 1 or * in a row's "
      "weights; x even: alpha over that of even rows, which share their weight "
      "alike. Row mass: what the sizes of a row's raw weights on tokens (x* "
      "too, * not) sum to, signs apart. Norm ratio: "
      "the first row's norm over the mean of the others, in the block where it "
      "is largest. Loss: nats a token, over %lld held-out tokens.</p>\n",
      s->eps, o->s.n, o->s.T, (long long)o->tokens);
}

/* The style of every page. A claim's verdict is in its words, its sign and the
 * bar before it. A table that goes on beyond the page has a shadow there. */
static const char PAGE_STYLE[] =
    "body{font:16px/1.45 sans-serif;max-width:72rem;margin:auto;padding:1rem;"
    "color:#111;background:#fff;color-scheme:light}h1{font-size:1.5rem}"
    "h2{font-size:1.2rem;margin:1.6rem 0 .5rem;break-after:avoid}"
    "h3{font-size:1rem;margin:0 0 .2rem}p,ul{margin:.4rem 0}a{color:#10305c}"
    "figure{margin:0;break-inside:avoid}figure "
    "p,figcaption,code,pre,.where,.claim p+p{font-size:.85rem}"
    "figcaption,.where,.paper{color:#444}code{overflow-wrap:anywhere}"
    ".grid{display:grid;"
    "grid-template-columns:repeat(auto-fill,minmax(min(100%,20rem),1fr));"
    "gap:1.2rem 1.8rem;margin-top:.6rem}svg{width:100%;height:auto;"
    "display:block}text{font:11px sans-serif}.end{text-anchor:end}"
    ".middle{text-anchor:middle}.on{fill:#fff}.line,.axis{fill:none}"
    ".band{fill-opacity:.2}.axis{stroke:#333}.rule{stroke:#ddd}"
    ".mass{fill:#b5651d}.level{stroke:#555;fill:none;stroke-dasharray:2 2}"
    ".key span{white-space:nowrap;margin-right:.7em}.key svg{display:inline;"
    "width:auto;height:12px;vertical-align:-1px}.wide,pre{overflow-x:auto}"
    ".wide{background:linear-gradient(90deg,#fff 30%,#fff0) 0/4rem 100% "
    "no-repeat local,linear-gradient(270deg,#fff 30%,#fff0) 100%/4rem 100% "
    "no-repeat local,linear-gradient(90deg,#0006,#0000) 0/1rem 100% no-repeat "
    "scroll,linear-gradient(270deg,#0006,#0000) 100%/1rem 100% no-repeat "
    "scroll}.wide th:first-child,.wide td:first-child{position:sticky;left:0;"
    "background:#fffd}caption{text-align:left;color:#444;font-size:.85rem}"
    ".tok{font-size:9px}.facts td{text-align:left;white-space:normal;"
    "overflow-wrap:anywhere}nav th{white-space:normal;font-weight:400}nav "
    "td,nav th+th{width:5rem}.fine text{font-size:7px}.lead{font-size:1.05rem;"
    "max-width:60rem}summary{cursor:pointer;font-size:.85rem}"
    "table{border-collapse:collapse;font-variant-numeric:tabular-nums;"
    "font-size:.9rem}th,td{padding:.2em .6em;text-align:right;"
    "border-bottom:1px solid #bbb;white-space:nowrap}"
    "td:first-child,th:first-child{text-align:left}"
    "td.paper,th.paper{border-left:1px solid #bbb}.claim{border-left:.35rem "
    "solid #777;padding:.1rem .7rem;margin:.6rem 0;break-inside:avoid}.claim "
    "p{margin:.15rem 0}.yes{border-color:#009e73}.weak{border-color:#e69f00}"
    ".open{border-left-style:dotted}.no{border-color:#d55e00;"
    "border-left-style:double}@media(max-width:30rem){table{font-size:.78rem}"
    "th,td{padding:.2em .3em}}@media print{body{font-size:10pt;max-width:none;"
    "padding:0}.wide{overflow:visible;background:none}details{display:none}"
    "details.maps{display:block}figure{break-inside:auto}"
    "details.maps::details-content{content-visibility:visible;block-size:auto}"
    "svg,h3{break-inside:avoid}h3,figure>p{break-after:avoid}"
    "table{font-size:7.5pt;break-inside:avoid}th,td{padding:.2em .4em;"
    "white-space:normal;overflow-wrap:anywhere}"
    ".grid{grid-template-columns:repeat(2,1fr)}h2+p{break-after:avoid}}";

static void page_head(Html *h, const char *verb) {
  say(h,
      "<!DOCTYPE html>\n"
      "<html lang=\"en\"><head><meta charset=\"utf-8\"/>"
      "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\"/>"
      "<title>sink %s</title><style>",
      verb);
  bytes_add(&h->text, PAGE_STYLE, sizeof PAGE_STYLE - 1, h->e);
  say(h, "</style></head><body>\n");
}

/* Ends the page and writes it beside path, which it then replaces. */
static int page_end(Html *h, const char *path) {
  say(h, "</body></html>\n");
  if (!h->e->status)
    file_write(path, h->text.at, h->text.size, h->e);
  bytes_free(&h->text);
  return h->e->status;
}

#if defined(__clang__)
#define COMPILER "clang " __VERSION__
#elif defined(__VERSION__)
#define COMPILER "gcc " __VERSION__
#else
#define COMPILER "C"
#endif

/* by Isa */
static const char *const ISAS[] = {"baseline", "avx2", "avx512"};

/* The processor's name, where the system tells it as a file. */
static void processor_name(char to[100]) {
  char line[200];
  FILE *f = fopen("/proc/cpuinfo", "r");
  *to = 0;
  while (f && !*to && fgets(line, sizeof line, f))
    sscanf(line, "model name : %99[^\n]", to);
  if (f)
    fclose(f);
}

/* How a page was made: the command, and rows of a name and a text, up to one
 * without a name; then version and machine. */
static void page_facts(Html *h, const Settings *s, const char *verb,
                       const char *model, const char *const facts[][2]) {
  char text[400], processor[100];
  Bytes command = {0};
  bytes_print(&command, h->e, "./%s %s", s->program ? s->program->name : "sink",
              verb);
  if (*model)
    word_add(&command, model, h->e);
  for (int i = 0; i < s->argc; i++)
    if (!*model || strcmp(s->argv[i], model))
      word_add(&command, s->argv[i], h->e);
  bytes_add(&command, "", 1, h->e);
  say(h, "<section class=\"facts\" id=\"made\">"
         "<h2>How this page was made</h2>\n");
  table_begin(h, "What repeats it");
  say(h, "<tr><th scope=\"row\">command</th><td>");
  element(h, "code", command.at ? (const char *)command.at : "");
  bytes_free(&command);
  say(h, "</td></tr>\n");
  for (int i = 0; facts[i][0]; i++) {
    say(h, "<tr><th scope=\"row\">%s</th>", facts[i][0]);
    element(h, "td", facts[i][1]);
    say(h, "</tr>\n");
  }
  processor_name(processor);
  snprintf(text, sizeof text,
           COMPILER ", %s, %zu-byte numbers, %d thread%s%s%s", ISAS[isa_best()],
           sizeof(real), workers(), workers() > 1 ? "s" : "",
           *processor ? ", " : "", processor);
  say(h, "<tr><th scope=\"row\">version</th>"
         "<td>sink " SINK_VERSION "</td></tr>\n"
         "<tr><th scope=\"row\">machine</th>");
  element(h, "td", text);
  say(h, "</tr></table></div></section>\n");
}

/* What a sink is, and what came out. */
static void page_lead(Html *h, bool trained, const char *verdict) {
  say(h, "<p class=\"lead\">An attention sink is a token on which heads put "
         "much of their weight though it means little, most often the first. ");
  if (trained)
    say(h, "This page shows how much of one a model had while it was "
           "trained%s. ",
        *verdict ? ". The training diverged" : ", and after it");
  else
    say(h, "This page shows how much of one a model has. ");
  element(h, "b", verdict);
  say(h, "</p>\n");
}

/* How a page of models was made. */
static void model_facts(Html *h, const Outcome *o, const char *verb,
                        const Settings *s) {
  char text[4 * PATH_ROOM], seed[32], model[300];
  snprintf(text, sizeof text, "%s (%s)", o->text, o->read);
  snprintf(seed, sizeof seed, "%d", s->train.seed);
  int at = snprintf(model, sizeof model,
                    "%d blocks, %d heads of %d dims, width %d, context %d",
                    o->c.layers, o->c.heads, o->c.head_dim, o->c.dim,
                    o->c.context);
  if (s->train.steps)   /* a published model's are not known */
    snprintf(model + at, sizeof model - (size_t)at,
             "; %d steps of %d sequences at rate %g", s->train.steps,
             s->train.batch * s->train.accumulate, s->train.lr);
  const char *const facts[][2] = {
    {"text", s->input == INPUT_NATURAL || strcmp(verb, "eval")
                 ? text : "none: drawn ids"},
    {"seed", seed}, {"model", model}, {NULL, NULL}};
  page_facts(h, s, verb, strcmp(verb, "eval") ? "" : o->name, facts);
}

/* Writes the page of a model, which `verb` has made; table may be NULL. */
static int report_write(const char *path, const char *verb, const Settings *s,
                        const Outcome *o, const char *table,
                        const char *verdict, Error *e) {
  Html h = {{0}, e};
  page_head(&h, verb);
  if (strcmp(verb, "eval"))
    element(&h, "h1", "Attention sinks: a training");
  else
    element(&h, "h1", "Attention sinks of a model");
  page_lead(&h, o->p.looks || *verdict, verdict);
  if (o->s.n)
    page_table(&h, o, s);
  if (table)
    element(&h, "pre", table);
  if (o->p.looks) {
    say(&h, "<h2>While it trained</h2>");
    if (o->p.from && o->p.look[0].step > o->p.from)
      say(&h, "<p>Points up to step %ld are missing: only a --log, given from "
          "the start on, keeps them.</p>\n", o->p.from);
    page_charts(&h, o, LOOK_LOSS, NORM_HIDDEN);
  }
  if (o->s.n) {
    say(&h, "<h2>Where attention goes</h2>\n");
    page_maps(&h, o, s->eps);
    say(&h, "<h2>Norms by layer</h2>");
    page_charts(&h, o, NORM_HIDDEN, MODEL_CHARTS);
  }
  model_facts(&h, o, verb, s);
  return page_end(&h, path);
}

/* -----------------------------------------------------------------------------
 * 4  `eval` of several
 *
 * A table of more than one measurement: models (Figure 4 left, Table 1 right),
 * inputs (Table 1 left), texts (Figure 9), lengths and thresholds (Figure 3),
 * each with each. What cannot be measured is said and left out; --csv and
 * --json have all that was, from the first line on. */

/* What eval measures besides: numbers with names, and what is said of them. */
typedef int MeasureMore(Numbers *besides, Bytes *said, const Settings *s,
                        Trainer *t, Error *e);

typedef struct Survey {
  MeasureMore *more;           /* or NULL */
  Numbers *row;
  int rows, left_out;
  Bytes first;                 /* why the first line is left out, */
  const char *of;              /* and its model */
  const Settings *s;           /* as the command line has it */
  int length[33];              /* 0 ends */
  char **text;                 /* [texts] the rows' own */
  int texts;
} Survey;

static const Column SURVEY_COLUMNS[] = {
  {"sink_1_at_0.2", "Sink 0.2", "%.2f%%", 8, 100},
  {"sink_1",        "Sink_1",   "%.2f%%", 8, 100},
  {"sink_1_at_0.4", "Sink 0.4", "%.2f%%", 8, 100},
  {"sink_star",     "Sink_*",   "%.2f%%", 8, 100},
  {"alpha_1",       "alpha_1",  "%.4f",   8, 1},
  {"times_even",    "x even",   "%.2f",   6, 1},
  {"norm_ratio",    "|h1|/|h|", "%.2f",   8, 1},
  {"loss",          "loss",     "%.4f",   7, 1},
  {NULL, NULL, NULL, 0, 0}
};

/* A number of the row by its name; NAN where there is none. */
static double number_named(const Numbers *row, const char *name) {
  const Number *x = number_of(row, name);
  return x ? x->x : NAN;
}

/* A copy of a text, for as long as the rows. */
static const char *survey_keep(Survey *v, const char *text, Error *e) {
  char **list = realloc(v->text, (size_t)(v->texts + 1) * sizeof *list);
  char *copied = grab((idx)strlen(text) + 1, 1, e);
  if (list)
    v->text = list;
  if (!list || !copied) {
    free(copied);
    fail(e, 1, "out of memory. Try: fewer models");
    return "";
  }
  return v->text[v->texts++] = strcpy(copied, text);
}

/* The head of the table. */
static void survey_head(const Numbers *besides) {
  printf("%-26s %9s %-12s %-7s %5s", "model", "million", "text", "input", "T");
  for (const Column *c = SURVEY_COLUMNS; c->name; c++)
    printf(" %*s", c->width, c->head);
  for (int i = 0; i < besides->n; i++)
    printf(" %9s", besides->at[i].name);
  printf("  read of the text\n");
}

/* A line of the table, whose first numbers are the row's. */
static void survey_print(const Numbers *row, const Settings *s,
                         const Trainer *t, const Numbers *besides,
                         const char *model, const char *text,
                         const char *read) {
  char cell[32];
  size_t size = strlen(model);
  printf("%-26s %9.2f %-12.12s %-7s %5d", model + (size > 26 ? size - 26 : 0),
         (double)t->m.count * 1e-6, text, INPUTS[s->input], s->eval_T);
  for (const Column *c = SURVEY_COLUMNS; c->name; c++)
    printf(" %*s", c->width, cell_text(cell, c, number_named(row, c->name)));
  for (int i = 0; i < besides->n; i++)
    printf(" %9.4g", besides->at[i].x);
  printf("  %s\n", read);
  fflush(stdout);
}

/* Measures and prints one line: the model of t and the text that is open, at
 * one input and length. */
static int survey_line(Survey *v, const Settings *s, Trainer *t,
                       const Numbers *besides, const char *model,
                       const char *text, Error *e) {
  const double eps[] = {s->eps, 0.1,  0.15, 0.2,  0.25,
                        0.3,    0.35, 0.4,  0.45, 0.5};
  enum { STEPS = (int)(sizeof eps / sizeof *eps) };
  Sinks seen;
  if (evaluate_at(&seen, &t->m, &t->data, s, eps, STEPS, s->eval_n, s->eval_T,
                  e))
    return e->status;
  Numbers *rows = realloc(v->row, (size_t)(v->rows + 1) * sizeof *rows);
  if (!rows) {
    sinks_free(&seen);
    return fail(e, 1, "out of memory. Try: fewer models");
  }
  v->row = rows;
  Numbers *row = &rows[v->rows++];
  *row = (Numbers){0};
  const char *read = s->input == INPUT_NATURAL ? t->data.read : "";
  const char *of = *read ? text : "";
  put_text(row, e, "model", model);
  put_text(row, e, "text", survey_keep(v, of, e));
  put_text(row, e, "input", INPUTS[s->input]);
  put_text(row, e, "read", survey_keep(v, read, e));
  put(row, e, (double)t->m.count, "parameters");
  eval_numbers(row, &seen, s, e);
  for (int i = 0; i < besides->n; i++)
    put(row, e, besides->at[i].x, "%s", besides->at[i].name);
  for (int i = 1; i < STEPS; i++)
    put(row, e, sinks_sink(&seen, config_column_first(&t->m.c), i),
        "sink_1_at_%g", eps[i]);
  /* last: not every model has it */
  edited_put(row, &seen, s, e);
  sinks_free(&seen);
  /* these are written at the end, and nothing else */
  if (results_alone(v->s))
    return e->status;
  if (v->rows == 1)
    survey_head(besides);
  survey_print(row, s, t, besides, model, of, read);
  return e->status ? e->status : rows_write(v->row, v->rows, true, v->s, e);
}

/* Counts a line that cannot be measured, and keeps why of the first. */
static void survey_failed(Survey *v, const char *model, Error *one) {
  const char *text = one->text, *T;
  Error e = {0};
  if (!one->status)
    return;
  if (!v->left_out++) {
    v->of = model;
    /* --T is called by the flag that was given */
    for (; v->length[0] && (T = strstr(text, "--T ")) != NULL; text = T + 3)
      bytes_print(&v->first, &e, "%.*s--lengths", (int)(T - text), text);
    bytes_print(&v->first, &e, "%s", text);
    bytes_add(&v->first, "", 1, &e);
  }
  *one = (Error){0};
}

/* The file of the text that is read: path or, where it is "", what the settings
 * name. "": the shipped text. */
static const char *survey_file(const Settings *s, const char *path) {
  if (path[0])
    return path;
  if (s->ids[0])
    return s->ids;
  if (s->data.text[0])
    return s->data.text;
  if (s->data.tokens[0])
    return s->data.tokens;
  return s->data.grammar;
}

/* The lines of one model and text, "" for the text that its settings name. */
static void survey_text(Survey *v, Settings s, Trainer *t, const char *model,
                        const char *path, Error *e) {
  Numbers besides = {0};
  Bytes said = {0};
  char name[64];
  const char *text = survey_file(&s, path);
  if (path[0]) {
    const char *dot = strrchr(path, '.');
    bool told = dot && !strcmp(dot, ".grammar");
    s.data.text[0] = s.data.grammar[0] = s.data.tokens[0] = 0;
    snprintf(told ? s.data.grammar : s.data.text, PATH_ROOM, "%s", path);
  }
  for (const char *slash; (slash = strpbrk(text, "/\\")) && slash[1];)
    text = slash + 1;
  if (!*text)
    text = "stories";   /* the shipped text */
  const char *dot = strrchr(text, '.');
  const int length = dot && dot > text ? (int)(dot - text) : PATH_ROOM;
  snprintf(name, sizeof name, "%.*s",
           cut_at(text, (int)at_most(length, sizeof name - 1)), text);
  data_close(&t->data);
  if (!eval_data_open(&s, t, model, e) && v->more)
    v->more(&besides, &said, &s, t, e);
  for (int input = 0; input < (s.inputs ? 3 : 1) && !e->status; input++)
    for (int i = 0; i == 0 || v->length[i]; i++) {
      if (s.inputs)
        s.input = input;
      if (v->length[0])
        s.eval_T = v->length[i];
      survey_line(v, &s, t, &besides, model, name, e);
      survey_failed(v, model, e);
    }
  numbers_free(&besides);
  bytes_free(&said);
  survey_failed(v, model, e);
}

/* Refuses what is measured of one model and one text alone. */
static int survey_refuses(const Settings *s, const char *model, Error *e) {
  const struct {
    bool asked;
    const char *flag, *value;
  } alone[] = {
    {s->ablate, "ablate", "key1"},
    {s->isolate, "isolate", "32"},
    {s->quantize, "quantize", "8"},
    {s->report[0], "report", s->report},
    {s->given[option_find("k", EVAL) - OPTIONS], "k", "4"},
    {s->probe, "probe", ""},
    {s->signs, "signs", ""}
  };
  for (size_t k = 0; k < sizeof alone / sizeof *alone; k++)
    if (alone[k].asked)
      return fail(e, 2,
                  "eval --%s: expected one model and one text. "
                  "Try: %s eval %s --%s%s%s",
                  alone[k].flag, s->program->name, model, alone[k].flag,
                  *alone[k].value ? " " : "", alone[k].value);
  return 0;
}

/* The lines of one model, for each of the texts: names that end in a 0 each. */
static void survey_model(Survey *v, const char *model, const Bytes *texts) {
  const char *names = (const char *)texts->at;
  Settings one = *v->s;
  Trainer t = {0};
  Error e = {0};
  /* from the second line on the results' files are its own */
  one.force |= v->rows > 0;
  if (!model_open(&one, model, 0, &t, &e) && !results_ready(&one, &e))
    for (size_t at = 0; at < texts->size; at += strlen(names + at) + 1)
      survey_text(v, one, &t, model, names + at, &e);
  survey_failed(v, model, &e);
  trainer_free(&t);
}

static void survey_free(Survey *v) {
  for (int i = 0; i < v->rows; i++)
    numbers_free(&v->row[i]);
  for (int i = 0; i < v->texts; i++)
    free(v->text[i]);
  free(v->row);
  free(v->text);
  bytes_free(&v->first);
}

/* eval of n models. */
static int survey(const Settings *s, const char **words, int n,
                  MeasureMore *more, Error *e) {
  Survey v = {.more = more, .s = s};
  Bytes texts = {0};
  if (survey_refuses(s, words[0], e) || (n > 1 && read_again(s, e)) ||
      positions_parse("lengths", s->lengths, v.length, 32, e) ||
      results_ready(s, e))
    return e->status;
  if (s->domains[0])
    files_list(s->domains, &texts, e);
  else
    bytes_add(&texts, "", 1, e);
  for (int i = 0; i < n && !e->status; i++)
    survey_model(&v, words[i], &texts);
  if (v.rows && results_alone(s))
    rows_write(v.row, v.rows, true, s, e);
  if (!e->status && v.left_out)
    fail(e, 1, "eval: lines measured: %d, left out: %d, the first of %s: %s",
         v.rows, v.left_out, v.of,
         v.first.size ? (const char *)v.first.at
                      : "out of memory. Try: fewer models");
  survey_free(&v);
  bytes_free(&texts);
  return e->status;
}

/* -----------------------------------------------------------------------------
 * 5  eval --ablate: cause, beside correlation
 *
 * What does the loss do when a column is ablated (later.c, 9)? The sink's, or
 * as a control that of a token drawn for each sequence from 2 .. T/2. The loss
 * of all three forwards is read where the control leaves it to be read: at the
 * positions after the control's token.
 */

enum { ABLATED = 3 };          /* untouched, the sink's column, the control's */

typedef struct Ablated {
  int what;                    /* ABLATE_* */
  int n;                       /* sequences */
  int last;                    /* the control's token is one of 2 .. last */
  const char *column;          /* "token 1", "*" or "x*" */
  /* nats a token: mean over sequences and standard deviation */
  double loss[ABLATED], spread[ABLATED];
  /* the same of what it is more than the untouched, sequence by sequence */
  double more[ABLATED], more_spread[ABLATED];
} Ablated;

static void mean_and_spread(const double *x, int n, double *mean,
                            double *spread) {
  double sum = 0, square = 0;
  for (int i = 0; i < n; i++)
    sum += x[i] / n;
  for (int i = 0; i < n; i++)
    square += (x[i] - sum) * (x[i] - sum);
  *mean = sum;
  *spread = n > 1 ? sqrt(square / (n - 1)) : 0;
}

/* Mean loss of sequence b from token t on, counted from 0; a prefix leaves
 * tokens unscored. */
static double loss_from(const Acts *a, int b, int t, int T) {
  const double *row = a->loss_row + (idx)b * T;
  double sum = 0;
  int scored = 0;
  for (; t < T; t++)
    if (!(row[t] < 0)) {
      sum += row[t];
      scored++;
    }
  return sum / scored;
}

static int ablate_check(const Settings *s, const Config *c, int T, Error *e) {
  const int least = c->prefix > 4 ? c->prefix : 4;
  if (s->input != INPUT_NATURAL)
    return fail(e, 2,
                "--ablate: needs the loss, which only natural input has. Try: "
                "--input natural");
  if (T < least)
    return fail(e, 2,
                "--ablate: needs --T of at least %d, found %d. Try: --T %d",
                least, T, least > 64 ? least : 64);
  if (s->ablate == ABLATE_KSTAR && !config_column_first(c))
    return fail(e, 2,
                "--ablate kstar: this model has no extra column and no sink "
                "token. Try: --ablate key1");
  return 0;
}

/* The sink's column, in a word. */
static const char *ablated_name(const Config *c, bool star) {
  if (!star)
    return "token 1";
  if (c->extra)
    return "*";
  return c->sink_token > 1 ? "x*1" : "x*";
}

/* What the forwards of n sequences read and find. */
typedef struct Forwards {
  int n, T;
  int *ids, *targets;          /* [n,T] */
  int *sink, *drawn;           /* [n] columns of the sequences of a batch */
  double *loss, *more;         /* [ABLATED,n] */
} Forwards;

static int forwards_create(Forwards *f, Error *e) {
  idx n = f->n;
  f->ids = grab(2 * n * (f->T + 1), sizeof(int), e);
  f->loss = grab(2 * ABLATED * n, sizeof(double), e);
  if (e->status)
    return e->status;
  f->targets = f->ids + n * f->T;
  f->sink = f->targets + n * f->T;
  f->drawn = f->sink + n;
  f->more = f->loss + ABLATED * n;
  return 0;
}

/* Three forwards of B sequences from b0 on, of each untouched, with the sink
 * and with the drawn column ablated. */
static void ablate_batch(Forwards *f, Model *m, Acts *a,
                         const Ablation *const of[ABLATED], int b0, int B) {
  int T = f->T, first = config_rows(&m->c, T) - T;
  for (int k = 0; k < ABLATED; k++) {
    a->ablation = of[k];
    model_forward(m, a, f->ids + (idx)b0 * T, B, T);
    model_loss(m, a, f->targets + (idx)b0 * T, B, T, 0);
    for (int b = 0; b < B; b++) {
      idx at = (idx)k * f->n + b0 + b;
      f->loss[at] = loss_from(a, b, f->drawn[b] - first + 1, T);
      f->more[at] = f->loss[at] - f->loss[b0 + b];
    }
  }
}

/* What n held sequences lose. Three forwards of each. */
static int ablate(Ablated *out, Model *m, const Data *d, const Settings *s,
                  int n, int T, Error *e) {
  const bool star = s->ablate == ABLATE_KSTAR;
  const int first = config_rows(&m->c, T) - T, of_star = m->c.extra ? -1 : 0;
  const idx N = config_rows(&m->c, T);
  Rng rng = {hash64((uint64_t)s->train.seed, "ablate", 6)};
  Acts a = {0};
  Forwards f = {.n = n, .T = T};
  const Seams seams = m->seams;
  int starts, got = 0;
  *out = (Ablated){.what = s->ablate,
                   .last = T / 2,
                   .column = ablated_name(&m->c, star)};
  if (ablate_check(s, &m->c, T, e))
    return e->status;
  forwards_create(&f, e);
  int batch = evaluation_batch(m, n, T, e);
  real *taken = grab((idx)batch * m->c.heads * N, sizeof(real), e);
  if (!e->status)
    acts_create(&a, m, batch, T, ACTS_ONE, e);
  if (!e->status)
    position_edit(m, &a, s, T, false, e);
  rows_watch(m);
  if (!e->status)
    got = data_probe(d, &s->data, INPUT_NATURAL, n, T, f.ids, f.targets,
                     &starts);
  const Ablation cut = {star ? ABLATE_KEY1 : s->ablate, f.sink, N, taken};
  const Ablation control = {cut.what, f.drawn, N, taken};
  const Ablation *const of[ABLATED] = {NULL, &cut, &control};
  if (got && m->seams.begin)
    m->seams.begin(m, ABLATED * ((got + batch - 1) / batch), true, s->quiet);
  for (int b0 = 0; b0 < got && !model_fault(m, e); b0 += batch) {
    int B = got - b0 < batch ? got - b0 : batch;
    for (int b = 0; b < B; b++) {   /* rows, counted from 0 */
      f.sink[b] = star ? of_star : first;
      f.drawn[b] = first + 1 + (int)rng_below(&rng, (uint64_t)T / 2 - 1);
    }
    ablate_batch(&f, m, &a, of, b0, B);
  }
  model_fault(m, e);   /* of the last batch */
  if (m->seams.end)
    m->seams.end(m, e);
  if (a.arena)
    position_edit(m, &a, s, T, true, e);
  m->seams = seams;
  out->n = got;
  for (int k = 0; k < ABLATED && got; k++) {
    const idx from = (idx)k * n;
    mean_and_spread(f.loss + from, got, &out->loss[k], &out->spread[k]);
    mean_and_spread(f.more + from, got, &out->more[k], &out->more_spread[k]);
  }
  acts_free(&a);
  free(taken);
  free(f.ids);
  free(f.loss);
  if (!e->status && !got)
    none_held(d, T, e);
  return e->status;
}

static void ablated_text(const Ablated *a, const Settings *s, Bytes *out,
                         Error *e) {
  const char *const names[ABLATED] = {"untouched", a->column, "control"};
  const char *done = "its key is masked from every other row";
  if (a->what == ABLATE_VALUE1)
    done = "its value counts as zero to every other row";
  if (a->what == ABLATE_VALUE1_MEAN)
    done = "its value counts as the mean value to every other row";
  bytes_print(out, e,
              "Ablation of %s: %s, in every block and head\n"
              "%-10s %9s %9s %9s %9s\n",
              a->column, done, "", "loss", "spread", "more", "spread");
  for (int k = 0; k < ABLATED; k++) {
    bytes_print(out, e, "%-10s %9.4f %9.4f", names[k], a->loss[k],
                a->spread[k]);
    if (k)
      bytes_print(out, e, " %+9.4f %9.4f", a->more[k], a->more_spread[k]);
    bytes_print(out, e, "\n");
  }
  bytes_print(out, e,
              "control: the same, done to a token drawn for each sequence from "
              "2 .. %d (seed %d). All three\n"
              "losses are over the positions after that token, in nats per "
              "token: mean and standard\n"
              "deviation over %d sequences; more: the increase over untouched, "
              "sequence by sequence.\n",
              a->last, s->train.seed, a->n);
  bytes_add(out, "", 1, e);
}

static int eval_ablate(Numbers *besides, Bytes *said, const Settings *s,
                       Trainer *t, Error *e) {
  static const char *const of_loss[ABLATED] = {"untouched", "sink", "control"};
  Ablated x;
  if (ablate(&x, &t->m, &t->data, s, s->eval_n, s->eval_T, e))
    return e->status;
  for (int k = 0; k < ABLATED; k++) {
    put(besides, e, x.loss[k], "ablate_%s", of_loss[k]);
    put(besides, e, x.spread[k], "ablate_%s_spread", of_loss[k]);
  }
  for (int k = 1; k < ABLATED; k++) {
    put(besides, e, x.more[k], "ablate_%s_more", of_loss[k]);
    put(besides, e, x.more_spread[k], "ablate_%s_more_spread", of_loss[k]);
  }
  ablated_text(&x, s, said, e);
  return e->status;
}

/* -----------------------------------------------------------------------------
 * 6  [E4] [T15] What a row's scores make of it, by the formula: for `check`
 */

/* s by the formula; NaN, and so WRONG, for a row of the axis that is not known
 * here. */
static double closed_similarity(int sim, double z) {
  switch (sim) {
  case SIM_EXP: return exp(z);
  case SIM_SIGMOID: return 1 / (1 + exp(-z));
  case SIM_ELU: return z > 0 ? z + 1 : exp(z);
  case SIM_IDENTITY: return z;
  case SIM_RELU: return fmax(z, 0);
  case SIM_RECTIFIED: return z < 0 ? 0 : exp(z);
  case SIM_SOFTPICK: return exp(z) - 1;
  default: return NAN;
  }
}

/* Z likewise, from the sum, e, the sum of powers and the number of keys. */
static double closed_normalizer(const Config *c, double sum, double e,
                                double power, double keys) {
  switch (c->normalizer) {
  case NORMALIZER_SUM: return sum + e;
  case NORMALIZER_CLAMP: return fmax(fabs(sum), 1);
  case NORMALIZER_PNORM: return pow(power, 1 / c->pnorm);
  case NORMALIZER_ONE: return 1;
  case NORMALIZER_COUNT: return keys;
  default: return NAN;
  }
}

/* The weights [z - tau]_+ or [z/2 - tau]_+^2, with tau by bisection, so that
 * they sum to 1. */
static void closed_threshold(int sim, int n, const double *z, double *a) {
  double half = sim == SIM_ENTMAX ? 0.5 : 1;
  double low = -1, high = 0, top = -INFINITY;
  for (int j = 0; j < n; j++)
    top = fmax(top, half * z[j]);   /* fmax passes over a NaN */
  for (int turn = 0; turn < 100; turn++) {
    double tau = (low + high) / 2, sum = 0;
    for (int j = 0; j < n; j++) {
      double above = z[j] == z[j] ? fmax(half * z[j] - top - tau, 0) : 0;
      a[j] = sim == SIM_ENTMAX ? above * above : above;
      sum += a[j];
    }
    if (sum > 1)
      low = tau;
    else
      high = tau;
  }
}

/* The weights a [n], with the scale, and the metric m [n] of a row whose scores
 * are z [n], NaN where it does not see. */
static void closed_row(const Config *c, int n, const double *z, double *a,
                       double *m) {
  const bool exact = c->sim == SIM_EXP || c->sim == SIM_RECTIFIED;
  double sum = 0, size = 0, power = 0, e = exact ? 0 : 1e-8;
  int keys = c->extra ? -1 : 0;   /* z[0] is the extra column's */
  if (config_thresholds(c)) {
    closed_threshold(c->sim, n, z, a);
    for (int j = 0; j < n; j++) {
      m[j] = a[j];
      a[j] *= c->scale;
    }
    return;
  }
  for (int j = 0; j < n; j++) {
    a[j] = z[j] != z[j] ? 0 : closed_similarity(c->sim, z[j]);
    /* 1e-8 stands beside sums of e^-m s, m the largest score or 0 */
    if (c->sim == SIM_SOFTPICK && z[j] > 0)
      e = fmax(e, 1e-8 * exp(z[j]));
    keys += z[j] == z[j];
    sum += a[j];
    size += fabs(a[j]);
    power += pow(fabs(a[j]), c->pnorm);   /* 0 where j is not visible */
  }
  bool picks = c->sim == SIM_SOFTPICK;
  double spread = c->clip_high - c->clip_low;
  double Z = closed_normalizer(c, picks ? size : sum, e, power, keys);
  for (int j = 0; j < n; j++) {
    if (picks)
      a[j] = fmax(a[j], 0);
    m[j] = a[j] == 0 ? 0 : fabs(a[j]) / (size + e);
    a[j] = a[j] == 0 ? 0 : a[j] / Z;
    if (config_clips(c))
      a[j] = fmin(fmax(spread * a[j] + c->clip_low, 0), 1);
    a[j] *= c->scale;
  }
}

/* A relative distance; an absolute one near 0. */
static double off(double is, double must) {
  return fabs(is - must) / (1 + fabs(must));
}

/* How far the weights and the metric of a row are off what its scores make of
 * them: z[0] is column `from`'s, z[T-from] token T's, NaN one that is not
 * visible. */
static double closed_off(Place s, int from, const double *z) {
  double a[TOKENS + 1 + SINK_TOKENS], m[TOKENS + 1 + SINK_TOKENS], worst = 0;
  const Toy *y = s.y;
  closed_row(&y->m.c, y->T + 1 - from, z, a, m);
  for (s.i = from; s.i <= y->T; s.i++) {
    double off_a = off(weight(s), a[s.i - from]);
    double off_m = off(A_ti(s), m[s.i - from]);
    worst = larger(worst, larger(off_a, off_m));
  }
  return worst;
}

/* b_h(n), what the scheme adds to a score at the distance n: equations 6 and 7,
 * and T5's table. */
static double closed_bias(const Toy *y, int h, int n) {
  switch (y->m.c.pos) {
  case POS_RELATIVE: return position_bucket(n);
  case POS_ALIBI: return -n * pow(2, -8.0 * (h + 1) / y->m.c.heads);
  case POS_T5: return y->m.rel.w[position_bucket(n) * y->m.c.heads + h];
  default: return y->m.c.pos < POS_RELATIVE ? 0 : NAN;   /* a row forgotten */
  }
}

/* How far a repeated token is off equation 20 with that bias:
 * A_ti = e^b(t-i) / sum_(n<t) e^b(n). */
static double off_bias(Place s) {
  double sum = 0;
  for (int n = 0; n < s.t; n++)
    sum += exp(closed_bias(s.y, s.h, n));
  return fabs(A_ti(s) * sum / exp(closed_bias(s.y, s.h, s.t - s.i)) - 1);
}

/* How many of n numbers are not the same: NaN where one is no number. */
static double differing(idx n, const real *a, const real *b) {
  double count = 0;
  for (idx j = 0; j < n; j++)
    count += isfinite(a[j] - b[j]) ? a[j] != b[j] : NAN;
  return count;
}
