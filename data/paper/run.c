/* run.c - the page of `run`: a sink forms, moves and stays away.
 *
 * SPDX-License-Identifier: MIT
 *
 * Part of pages.c, which includes it behind film.c. The film stands at the top,
 * then every head, why, the verdict, the numbers beside the paper's, and below
 * them how it came about. The film as a picture goes beside the page.
 *
 * The page has its own style: light or dark as its reader has it, where maps
 * keep their ground since a dark cell means much weight. */

static const char RUN_STYLE[] =
    ":root{--ground:#fdfcf8;--ink:#1c1c1c;--soft:#57534a;--line:#d6d2c6;"
    "--link:#1d4e89;color-scheme:light dark}@media screen and "
    "(prefers-color-scheme:dark){:root{--ground:#171613;--ink:#ece8dd;"
    "--soft:#b3aea1;--line:#45423a;--link:#8db9ee}"
    "[stroke=\"#10305c\"]{stroke:#8db9ee}[fill=\"#10305c\"]{fill:#8db9ee}"
    "[stroke=\"#777777\"]{stroke:#a5a198}}body{font:17px/1.5 Georgia,serif;"
    "max-width:72rem;margin:auto;padding:1rem;color:var(--ink);"
    "background:var(--ground)}h1,h2,h3,nav,table,.looks,.key,.small,.verdict "
    "b,figcaption{font-family:system-ui,sans-serif}h1{font-size:1.9rem;"
    "line-height:1.2;margin:.3rem 0}h2{font-size:1.25rem;margin:2rem 0 .3rem}"
    "h3{font-size:1rem;margin:.6rem 0 0}h2,h3{line-height:1.3;"
    "break-after:avoid}p{margin:.3rem 0;max-width:46rem}a{color:var(--link)}"
    "h2 a{font-weight:400;text-decoration:none}nav{font-size:.8rem}nav "
    "a{margin-right:.8em;white-space:nowrap}.lead{font-size:1.1rem}"
    "figure{margin:0;break-inside:avoid}"
    "figcaption,.key,.small{font-size:.85rem;color:var(--soft);"
    "max-width:46rem}.looks{display:grid;"
    "grid-template-columns:repeat(7,minmax(0,1fr));gap:.2rem .6rem;"
    "font-size:.8rem;line-height:1.3}.looks b,.looks i{display:block;"
    "font-style:normal;white-space:nowrap}svg{width:100%;height:auto;"
    "display:block}text{font:11px system-ui,sans-serif;fill:var(--ink)}"
    ".map{background:#fdfcf8;shape-rendering:crispEdges;"
    "print-color-adjust:exact;-webkit-print-color-adjust:exact}.map "
    "text{fill:#1c1c1c}.tok text,text.tok{font-size:5px}.end{text-anchor:end}"
    ".middle{text-anchor:middle}.line,.axis{fill:none}.axis{stroke:var(--ink)}"
    ".rule{stroke:var(--line)}.level{stroke:var(--soft);fill:none;"
    "stroke-dasharray:2 2}.band{fill-opacity:.2}.key span{white-space:nowrap;"
    "margin-right:.7em}.key svg{display:inline;width:auto;height:12px;"
    "vertical-align:-1px}.grid{display:grid;gap:.8rem 1.6rem;"
    "grid-template-columns:repeat(auto-fill,minmax(min(100%,19rem),1fr))}"
    ".two{display:grid;gap:.4rem;grid-template-columns:1fr 1fr;"
    "max-width:24rem}.wide{overflow-x:auto}table{border-collapse:collapse;"
    "font-size:.85rem;font-variant-numeric:tabular-nums}th,td{padding:.2em "
    ".5em;text-align:right;border-bottom:1px solid var(--line);"
    "white-space:nowrap}th:first-child{text-align:left}"
    "caption{text-align:left;color:var(--soft)}"
    "td.paper,th.paper{color:var(--soft);font-style:italic}"
    "td.source{white-space:normal}.facts td{text-align:left;"
    "white-space:normal;overflow-wrap:anywhere}.heads{font-size:.72rem}.heads "
    "td,.heads th{border:0;padding:.15em .25em;text-align:center}.heads "
    "th{font-weight:400}.three{display:grid;gap:.8rem 1.2rem;"
    "grid-template-columns:repeat(auto-fill,minmax(15rem,1fr))}.heads "
    "td{border:1px solid var(--ground);color:#111;print-color-adjust:exact;"
    "-webkit-print-color-adjust:exact}.heads .d{color:#fff}"
    ".verdict{list-style:none;padding:0}.verdict b{display:inline-block;"
    "min-width:5.5rem}summary{cursor:pointer}"
    "@media(min-width:62rem){.beside{display:grid;gap:2rem;"
    "grid-template-columns:minmax(0,1fr) minmax(17rem,20rem)}}"
    "@media(max-width:40rem){body{font-size:16px}h1{font-size:1.5rem}"
    ".lead{font-size:1rem}"
    ".looks{grid-template-columns:repeat(4,minmax(0,1fr))}.odd{display:none}"
    ".looks{font-size:.72rem}th,td{padding:.2em .35em}}@media "
    "print{:root{--ground:#fff}body{font-size:10pt;max-width:none;padding:0}"
    "nav,summary,h2 a{display:none}.wide{overflow:visible}"
    "table{font-size:7.5pt;break-inside:avoid}th,td{padding:.15em .3em;"
    "white-space:normal}.looks{font-size:7pt}"
    "#heads,#verdict,#why,#table,p{break-inside:avoid}.three{gap:.5rem;"
    "grid-template-columns:repeat(3,auto)}.lead{break-after:avoid}"
    ".grid{grid-template-columns:repeat(2,1fr)}}";

/* ----------
 * 1  Parts and maps */

/* A part, and how it is linked to. */
static void part_begin(Html *h, const char *id, const char *title) {
  say(h, "<section id=\"%s\">", id);
  say(h, "<h2>");
  html_text(h, title);
  say(h, " <a href=\"#%s\" aria-label=\"link to this part\">#</a></h2>\n", id);
}

/* A map of its own, as film_map draws it; `below` and `beside` are room for
 * more, which follows. */
static void map_begin(Html *h, const Film *f, const FilmLook *x, int beside,
                      int below, const char *label) {
  int left = beside + FILM_BIAS + 1, size = f->T * FILM_CELL;
  say(h, "<svg class=\"map\" viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"",
      left + size + FILM_BAR + 4, size + 2 + below);
  html_text(h, label);
  say(h, "\">\n");
  film_map(h, f, x, left, 1);
}

/* ----------
 * 2  The film */

/* The arms as this page has them. */
static const char *const ARM_NAMES[ARMS] = {
  "Softmax, whose rows sum to 1",
  "Softmax with a learned key *, whose value is 0",
  "Sigmoid, whose rows need not sum to 1"};

/* Looks that a run which went on, or came to an end before, has not. */
static int film_missing(const Film *f) {
  int n = 0;
  for (int k = 0; k < f->looks; k++)
    n += !f->there[k];
  return n;
}

/* "on token 1: 0.07", of which the number is left where
 * there is little room. */
static void run_under(Html *h, const char *text) {
  const char *number = strstr(text, ": ");
  say(h, "<i>");
  if (number)
    say(h, "<span class=\"odd\">%.*s: </span>", (int)(number - text), text);
  html_text(h, number ? number + 2 : text);
  say(h, "</i>");
}

/* Every other look is left out where there is little room, but for the last. */
static void run_strip(Html *h, const Film *f, const char *name) {
  char text[240], label[280];
  say(h, "<figure id=\"film-%s\">", name);
  film_title(text, f);
  element(h, "h3", text);
  say(h, "<div class=\"looks\">\n");
  for (int k = 0; k < f->looks; k++) {
    say(h, "<div%s><b>step %ld</b>", k % 2 ? " class=\"odd\"" : "", f->step[k]);
    film_under(text, f, k);
    snprintf(label, sizeof label, "Map at step %ld. %s", f->step[k], text);
    if (f->there[k]) {
      map_begin(h, f, &f->look[k * f->heads + f->head], 0, 0, label);
      say(h, "</svg>");
    }
    run_under(h, text);
    say(h, "</div>\n");
  }
  say(h, "</div>");
  film_told(text, f);
  say(h, "<figcaption>");
  html_text(h, text);
  if (film_missing(f))
    say(h, " Looks that are missing: %d. This training was not filmed at those "
        "steps: it went on from a checkpoint without its film, or diverged.",
        film_missing(f));
  say(h, "</figcaption></figure>\n");
}

static void run_film_key(Html *h, const Film *f) {
  say(h, "<p class=\"key\">Weight: ");
  for (int k = 0; k <= RAMP; k++) {
    ramp_swatch(h, k < RAMP ? RAMPS[k].colour : FILM_LATER);
    if (k == RAMP)
      say(h, "a later token, which a row cannot see</span> ");
    else if (k)
      say(h, "%g</span> ", RAMPS[k].from);
    else
      say(h, "below %g</span> ", RAMPS[1].from);
  }
  say(h, "<span><svg viewBox=\"0 0 16 12\" width=\"16\" aria-hidden=\"true\">"
      "<rect width=\"16\" height=\"12\" fill=\"" FILM_MASS "\"/></svg> what a "
      "row's weights on tokens sum to, 0 to 1</span></p>\n"
      "<p class=\"small\">Maps: one head's weights on the first %d tokens of a "
      "held sequence. Numbers: means over %d sequences of %d tokens.</p>\n",
      f->T, f->n, f->tokens);
}

static const char *lead_of_star(double sink, double star, double left) {
  if (star < ABSENT)
    return "none is there";
  if (star < SHOWS)
    return "no clear one is there";
  if (sink < SHOWS)
    return "one is there";
  return left < ABSENT ? "the sink moves there" : "a sink is there too";
}

static const char *lead_of_sigmoid(double times) {
  if (times < ABSENT)
    return "none forms";
  return times < SHOWS ? "no clear one forms" : "one forms all the same";
}

/* What a newcomer reads first. The third sentence says what came of it. */
static void run_lead(Html *h, const Outcome *o, long steps) {
  double sink = o[0].row[TIMES_EVEN], star = o[1].row[ALPHA_STAR] / o[1].even;
  double left = o[1].row[TIMES_EVEN], sigmoid = o[2].row[TIMES_EVEN];
  say(h, "<p class=\"lead\">In each map a row is a token that looks back at "
      "the tokens before it, and dark means that it looks there. ");
  if (sink >= SHOWS)
    say(h, "While a small language model learns, this head comes to look at "
        "the first token, which means nothing: an <b>attention sink</b>. ");
  else
    say(h, "An <b>attention sink</b> is a token that draws much weight though "
        "it means nothing, most often the first: by step %ld softmax has %s "
        "here. ", steps, film_found(sink));
  say(h, "With a spare key * %s; where rows need not sum to 1, %s.</p>\n",
      lead_of_star(sink, star, left), lead_of_sigmoid(sigmoid));
}

/* ----------
 * 3  Every head */

enum { RASTER_HEADS = 32 };      /* rows of a raster; the strongest of more */

/* Is head h one of the strongest in the end? */
static bool head_drawn(const Film *f, int h) {
  int stronger = 0;
  for (int i = 0; i < f->heads; i++) {
    double more = film_share(f, f->end, i) - film_share(f, f->end, h);
    stronger += more > 0 || (more == 0 && i < h);
  }
  return stronger < RASTER_HEADS;
}

/* ".07" */
static const char *short_number(char text[160], double x) {
  snprintf(text, 160, "%.2f", x);
  return text + (*text == '0');
}

/* Shares by head and step. A cell is shaded by the weight itself, the share
 * times what the row sums to, so that a share of next to nothing stays pale. */
static void run_raster(Html *h, const Film *f, const char *name) {
  char text[160];
  say(h, "<figure id=\"heads-%s\"><table class=\"heads\">", name);
  snprintf(text, sizeof text, "%s: share of %s", name,
           f->column);
  element(h, "caption", text);
  say(h, "<tr><th scope=\"col\">head</th>");
  for (int k = 0; k < f->looks; k++)
    if (f->step[k] < 1000 || f->step[k] % 100)
      say(h, "<th scope=\"col\">%ld</th>", f->step[k]);
    else
      say(h, "<th scope=\"col\">%gk</th>", (double)f->step[k] / 1000);
  say(h, "</tr>\n");
  for (int i = 0; i < f->heads; i++) {
    if (!head_drawn(f, i))
      continue;
    say(h, "<tr><th scope=\"row\">%d.%d</th>", i / f->H + 1, i % f->H + 1);
    for (int k = 0; k < f->looks; k++) {
      const FilmLook *x = &f->look[k * f->heads + i];
      double share = film_share(f, k, i);
      int level = ramp_level(share * (double)x->total);
      if (!f->there[k])
        say(h, "<td>-</td>");
      else
        say(h, "<td class=\"l%d%s\">%s</td>", level, level > 4 ? " d" : "",
            short_number(text, share));
    }
    say(h, "</tr>\n");
  }
  say(h, "</table></figure>\n");
}

/* Where it began, and how far it went. */
static void run_heads_title(char text[160], const Film *f) {
  int begun = -1, head = 0, count = 0;
  for (int k = 0; k < f->looks && begun < 0; k++)
    for (int i = 0; i < f->heads && f->there[k]; i++)
      if (film_share(f, k, i) >= SHOWS * f->even &&
          (begun < 0 || film_share(f, k, i) > film_share(f, k, head))) {
        begun = k;
        head = i;
      }
  for (int i = 0; i < f->heads; i++)
    count += film_share(f, f->end, i) >= SHOWS * f->even;
  if (begun < 0)
    snprintf(text, 160, "Under softmax no head has a sink by step %ld",
             f->step[f->end]);
  else
    snprintf(text, 160, "Under softmax block %d has a sink first; by step %ld "
             "%d of %d heads have one", head / f->H + 1, f->step[f->end],
             count, f->heads);
}

static void run_heads(Html *h, const Films *films, const Outcome *o) {
  const Film *f = films->arm;
  char text[160];
  run_heads_title(text, f);
  part_begin(h, "heads", text);
  say(h, "<p class=\"small\">Share of a row's weight, by head (down; 2.1 is "
      "block 2, head 1) and step (across). An even row would give %.2f, beside "
      "a key * %.2f. The shade is the weight itself: the share times what the "
      "row sums to.</p>\n<div class=\"three\">", f[0].even, f[1].even);
  for (int i = 0; i < ARMS; i++)
    run_raster(h, &f[i], o[i].name);
  say(h, "</div></section>\n");
}

/* ----------
 * 4  The verdict and the numbers */

/* A line an arm, in bold its name: "softmax  a sink on token 1: .." */
static void run_said(Html *h, const char *verdict) {
  const char *line = verdict;
  part_begin(h, "verdict", "The verdict");
  say(h, "<ul class=\"verdict\">\n");
  for (const char *end; (end = strchr(line, '\n')) && strncmp(line, "Rule", 4);
       line = end + 1) {
    char text[1000];
    char *gap;
    snprintf(text, sizeof text, "%.*s", (int)(end - line), line);
    say(h, "<li>");
    gap = strstr(text, "  ");
    if (gap) {
      *gap = 0;
      element(h, "b", text);
      say(h, " ");
      html_text(h, gap + 2 + strspn(gap + 2, " "));
    } else
      html_text(h, text);
    say(h, "</li>\n");
  }
  say(h, "</ul>\n<p class=\"small\">alpha_1 and alpha_*: mean share of token 1 "
      "and of * in a row's weights, over heads and sequences. Times even: over "
      "what rows give that share their weight evenly. ");
  html_text(h, line);
  say(h, "</p></section>\n");
}

/* What the paper printed, of models of 60 million parameters, and its columns.
 * [T10] [T4] [T15] */
static const bool PAPER_COLUMNS[ROW] = {
  [SINK_1] = true, [SINK_STAR] = true, [HELD_LOSS] = true};
static const struct {
  const char *source, *number[ROW];
} PAPER_ARMS[ARMS] = {
  {"Table 10, a fixed token 1",
   {[SINK_1] = "74.11", [SINK_STAR] = "-", [HELD_LOSS] = "-"}},
  {"Table 4, K biases",
   {[SINK_1] = "0.00", [SINK_STAR] = "73.34", [HELD_LOSS] = "3.72"}},
  {"Table 15, sigmoid, Z = 1",
   {[SINK_1] = "0.44", [SINK_STAR] = "-", [HELD_LOSS] = "3.70"}}};

static void run_numbers(Html *h, const Outcome *o, const Settings *s) {
  char text[64];
  int n = 0;
  part_begin(h, "table", "The numbers, and the paper's");
  table_begin(h, "Upright: this run. Slanted: the paper's own.");
  say(h, "<tr><th scope=\"col\">model</th>");
  for (int k = 0; k < ROW; k++) {
    say(h, "<th scope=\"col\">%s</th>", ROW_COLUMNS[k].head);
    if (PAPER_COLUMNS[k])
      say(h, "<th scope=\"col\" class=\"paper\">paper</th>");
  }
  say(h, "<th scope=\"col\" class=\"paper\">source</th></tr>\n");
  for (int i = 0; i < ARMS; i++) {
    if (o[i].s.n)
      n = o[i].s.n;
    say(h, "<tr>");
    element(h, "th scope=\"row\"", o[i].name);
    for (int k = 0; k < ROW; k++) {
      element(h, "td", cell_text(text, &ROW_COLUMNS[k], o[i].row[k]));
      if (PAPER_COLUMNS[k])
        element(h, "td class=\"paper\"", PAPER_ARMS[i].number[k]);
    }
    element(h, "td class=\"paper source\"", PAPER_ARMS[i].source);
    say(h, "</tr>\n");
  }
  say(h, "</table></div>\n<p class=\"small\">The paper's models are larger and "
      "read more, so compare who has a sink and not how much. Sink: share of "
      "heads with alpha above %g, over %d sequences of %d tokens. x even: "
      "alpha_1, times even. Row mass: what the sizes of a row's raw weights on "
      "tokens sum to. Norm ratio: the first row's norm over the mean of the others, in "
      "the block where it is largest. Loss: nats a token, over %lld held "
      "tokens. 0.44 is measured on the authors' proxy scores.</p></section>\n",
      s->eps, n, s->eval_T, (long long)o->tokens);
}

/* ----------
 * 5  Curves and norms, each with its names at the lines */

/* The lowest or highest of a line's numbers; fmax takes the number of two. */
static double line_most(const Series *line, bool high) {
  double least = NAN, most = NAN;
  for (int i = 0; i < line->n; i++) {
    least = fmin(least, line->y[i]);
    most = fmax(most, line->y[i]);
  }
  return high ? most : least;
}

static double line_end(const Series *line) {
  return line->n ? line->y[line->n - 1] : NAN;
}

/* A chart's title says what it shows; the softmax arm's line is the first. */
static void run_chart_title(char text[160], int what, const Series *lines,
                            int n, double even) {
  static const char *const SAYS[MODEL_CHARTS] = {
    "The losses end within %.2f nats of each other",
    "%.0f %% of softmax's heads end as sinks",
    "Softmax's token 1 ends at %.1f times an even share",
    "Softmax's first state is up to %.1f times the others'",
    "Softmax's first key comes to %.2f of the others'",
    "Softmax's first value comes to %.2f of the others'"};
  double low = INFINITY, high = -INFINITY;
  for (int i = 0; i < n; i++) {
    low = fmin(low, line_end(&lines[i]));
    high = fmax(high, line_end(&lines[i]));
  }
  double x = line_most(&lines[0], what == NORM_HIDDEN);
  if (what < NORM_HIDDEN)
    x = line_end(&lines[0]);
  if (what == LOOK_LOSS)
    x = high - low;
  if (what == LOOK_ALPHA)
    x /= even;
  if (isfinite(x))
    snprintf(text, 160, SAYS[what], x);
}

static void run_chart(Html *h, const Outcome *o, int what) {
  static const char *const IDS[MODEL_CHARTS] = {"loss",   "sink", "alpha",
                                                "states", "keys", "values"};
  bool curve = what < NORM_HIDDEN, columns = curve && what != LOOK_LOSS;
  Series *lines = grab(LINES_MOST, sizeof *lines, h->e);
  char title[160], caption[400];
  bool whole = true;   /* no arm diverged */
  int n = 0;
  Chart shown = {title,
                 caption,
                 {.name = "block", .least = 1, .tight = true},
                 {.name = CHARTS[what].y, .from_zero = CHARTS[what].from_zero}};
  Names names = {IDS[what], 1, "the others"};
  if (curve) {
    shown.x.name = "step";
    names.level = 0;
  }
  if (what == LOOK_ALPHA) {
    names.level = o->even;
    names.at_level = "even";
  }
  if (!lines)
    return;
  for (int i = 0; i < ARMS; i++) {
    whole = whole && !o[i].ended[0];
    for (int star = 0; star <= (columns && config_column_first(&o[i].c));
         star++) {
      char name[64];
      snprintf(name, sizeof name, "%s%s%s", o[i].name, star ? ": " : "",
               star ? ablated_name(&o[i].c, true) : "");
      model_line(line_begin(lines, n++, name, i + LINE_STAR * star), &o[i],
                 what, star);
    }
  }
  snprintf(title, sizeof title, "%s", CHARTS[what].title);
  if (whole)
    run_chart_title(title, what, lines, n, o->even);
  snprintf(caption, sizeof caption, "%s. %s", CHARTS[what].title,
           CHARTS[what].caption);
  chart_named(h, &shown, &names, lines, n);
  free(lines);
}

static void run_charts(Html *h, const Outcome *o, int from, int to) {
  say(h, "<div class=\"grid\">\n");
  for (int what = from; what < to; what++)
    run_chart(h, o, what);
  say(h, "</div></section>\n");
}

/* ----------
 * 6  The last look, with its tokens */

/* For who does not see the picture. */
static void last_table(Html *h, const Film *f, const FilmLook *x,
                       const char *title) {
  char on[64] = "";
  if (f->starred)
    snprintf(on, sizeof on, "<th scope=\"col\">on %s</th>", f->column);
  say(h, "<details><summary class=\"small\">These weights as a "
      "table</summary>");
  table_begin(h, title);
  say(h, "<tr><th scope=\"col\">query</th>%s<th scope=\"col\">on token 1</th>"
      "<th scope=\"col\">on all tokens</th><th scope=\"col\">most</th>"
      "<th scope=\"col\">on</th></tr>\n", on);
  for (int i = 0; i < f->T; i++) {
    double mass = 0;
    int most = 0;
    for (int j = 0; j < tokens_seen(f->prefix, i, f->T); j++) {
      mass += (double)x->weight[i][j];
      if (x->weight[i][j] > x->weight[i][most])
        most = j;
    }
    say(h, "<tr><th scope=\"row\">%d ", i + 1);
    html_text(h, f->token[i]);
    say(h, "</th>");
    if (f->starred)
      say(h, "<td>%.2f</td>", (double)x->bias[i]);
    say(h, "<td>%.2f</td><td>%.2f</td><td>%.2f</td><td>%d ",
        (double)x->weight[i][0], mass, (double)x->weight[i][most], most + 1);
    html_text(h, f->token[most]);
    say(h, "</td></tr>\n");
  }
  say(h, "</table></div></details>\n");
}

static void last_look(Html *h, const Film *f, const char *name) {
  enum { BESIDE = 38 };
  const FilmLook *x = &f->look[f->end * f->heads + f->head];
  char title[160];
  int left = BESIDE + FILM_BIAS + 1, bottom = f->T * FILM_CELL + 1;
  snprintf(title, sizeof title, "%s: block %d, head %d", name,
           f->head / f->H + 1, f->head % f->H + 1);
  say(h, "<figure id=\"last-%s\">", name);
  element(h, "h3", title);
  map_begin(h, f, x, BESIDE, BESIDE - 8, title);
  for (int i = 0; i < f->T; i++) {
    svg_text(h, BESIDE - 1, i * FILM_CELL + 6, "tok end", f->token[i]);
    say(h, "<text class=\"tok end\" transform=\"translate(%d %d) "
        "rotate(-90)\">", left + i * FILM_CELL + 5, bottom + 2);
    html_text(h, f->token[i]);
    say(h, "</text>\n");
  }
  if (f->starred)
    say(h, "<text class=\"tok\" x=\"%d\" y=\"%d\">%s</text>",
        left - FILM_BIAS + 3, bottom + 6, f->column);
  say(h, "</svg>");
  last_table(h, f, x, title);
  say(h, "<figcaption>Raw weights of each token (down) on those before it "
      "(across) at step %ld; a dot is a blank.</figcaption></figure>\n",
      f->step[f->end]);
}

/* ----------
 * 7  The page */

/* "out/run.html" has its picture in out/run.svg. */
static void run_picture(char path[PATH_ROOM], const char *page) {
  size_t n = strlen(page);
  if (n > 5 && !strcmp(page + n - 5, ".html"))
    n -= 5;
  snprintf(path, PATH_ROOM, "%.*s.svg", (int)at_most((idx)n, 490), page);
}

/* The picture's name is a local one until the page has an address. */
static void run_head(Html *h, const char *picture) {
  static const char SAYS[] =
      "Does a sink form under softmax, move to a spare key, and stay away "
      "under sigmoid? Three small models, filmed while they train.";
  const char *slash = strrchr(picture, '/');
  if (slash)
    picture = slash + 1;
  say(h, "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"/>"
      "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\"/>"
      "<title>Watch an attention sink form</title><meta name=\"description\" "
      "content=\"%s\"/><meta property=\"og:title\" content=\"Watch an "
      "attention sink form\"/><meta property=\"og:description\" "
      "content=\"%s\"/><meta property=\"og:image\" content=\"", SAYS, SAYS);
  html_text(h, picture);
  say(h, "\"/>\n<style>");
  bytes_add(&h->text, RUN_STYLE, sizeof RUN_STYLE - 1, h->e);
  for (int k = 0; k < RAMP; k++)
    say(h, ".l%d{background:%s}", k, RAMPS[k].colour);
  say(h, "</style></head><body><main>\n");
}

static void run_nav(Html *h) {
  static const char *const LINKS[][2] = {
    {"film", "film"}, {"heads", "every head"}, {"verdict", "verdict"},
    {"why", "why"}, {"table", "numbers"}, {"training", "training"},
    {"norms", "norms"}, {"last", "tokens"}, {"made", "how it was made"}};
  say(h, "<nav aria-label=\"parts\">");
  for (size_t i = 0; i < sizeof LINKS / sizeof *LINKS; i++)
    say(h, "<a href=\"#%s\">%s</a> ", LINKS[i][0], LINKS[i][1]);
  say(h, "</nav>\n");
}

/* Of arms that diverged there is what was seen of them until then. */
static bool films_seen(const Films *films) {
  for (int i = 0; i < ARMS; i++)
    if (films->arm[i].end < 0)
      return false;
  return true;
}

static void run_parts(Html *h, const Films *films, const Outcome *o,
                      const char *verdict, const Settings *s) {
  bool seen = films_seen(films), whole = true;
  for (int i = 0; i < ARMS; i++)
    whole = whole && o[i].s.n;
  say(h, "<section id=\"film\"><h1>Watch an attention sink form</h1>\n");
  if (whole)
    run_lead(h, o, s->train.steps);
  for (int i = 0; i < ARMS && seen; i++)
    run_strip(h, &films->arm[i], o[i].name);
  if (seen)
    run_film_key(h, films->arm);
  say(h, "</section>\n");
  if (seen) {
    say(h, "<div class=\"beside\"><div>\n");
    run_heads(h, films, o);
  }
  run_said(h, verdict);
  if (seen) {
    say(h, "</div>");
    part_begin(h, "why", "Why: a row must put its weight somewhere");
    if (!films->why || films->why(h, s))
      say(h, "<p>A toy shows it: ./paper toy-trigger trains it, and then "
          "./paper run draws it here.</p>\n");
    say(h, "</section></div>\n");
  }
  run_numbers(h, o, s);
  part_begin(h, "training", "While they trained");
  run_charts(h, o, LOOK_LOSS, NORM_HIDDEN);
  part_begin(h, "norms", "Norms by block: the first token's over the others'");
  run_charts(h, o, NORM_HIDDEN, MODEL_CHARTS);
  if (seen) {
    part_begin(h, "last", "The last look, with its tokens");
    say(h, "<div class=\"grid\">\n");
    for (int i = 0; i < ARMS; i++)
      last_look(h, &films->arm[i], o[i].name);
    say(h, "</div></section>\n");
  }
}

/* Program.page: the page, its picture, and the numbers as tables. */
static int run_page(const Outcome *o, const Settings *s, const char *verdict,
                    FILE *out, Error *e) {
  Films *films = s->watched;
  Html h = {{0}, e}, svg = {{0}, e};
  char picture[PATH_ROOM];
  for (int i = 0; i < ARMS; i++) {
    films->arm[i].name = ARM_NAMES[i];
    film_end(&films->arm[i]);
  }
  run_write(o, ARMS, s, e);
  run_picture(picture, s->report);
  run_head(&h, picture);
  run_nav(&h);
  run_parts(&h, films, o, verdict, s);
  model_facts(&h, o, "run", s);
  say(&h, "</main>");
  if (films_seen(films) && !e->status) {
    film_draw(&svg, films->arm, ARMS);
    file_write(picture, svg.text.at, svg.text.size, e);
  }
  bytes_free(&svg.text);
  if (!page_end(&h, s->report))
    fprintf(out, "The page: %s\n", s->report);
  return e->status;
}

/* The films go beside the checkpoints, and are not to be lost either. */
static int films_ready(const Settings *s, Error *e) {
  char picture[PATH_ROOM], film[ARMS][PATH_ROOM] = {{0}};
  run_picture(picture, s->report);
  for (int i = 0; i < ARMS && s->out[0]; i++)
    snprintf(film[i], PATH_ROOM, "%.490s/%s.film", s->out, RUN_ARMS[i].name);
  return outputs_ready(s, (const char *[]){s->csv, s->json, s->report, picture,
                                           film[0], film[1], film[2]},
                       4 + ARMS, e);
}

/* `sink run` filmed, [FILE.html, out/run.html]; `why` draws its explanation. */
static int run_filmed(Settings *s, int (*why)(Html *h, const Settings *s),
                      Error *e) {
  Films films = {.why = why};
  FILE *out = results_alone(s) ? stderr : stdout;
  const char *folder = "out";
  if (s->out[0])
    folder = s->out;
  if (!s->report[0])
    snprintf(s->report, PATH_ROOM, "%.490s/run.html", folder);
  s->watched = &films;
  if (!films_ready(s, e))
    demo_run(s, out, e);
  films_free(&films);
  return e->status;
}

/* ./paper film: the same as a picture alone [FILM.svg, out/film.svg]. */
static int verb_film(Settings *s, Error *e) {
  char path[PATH_ROOM];
  Films films = {.why = NULL};
  Html h = {.e = e};
  snprintf(path, sizeof path, "%s", s->out[0] ? s->out : "out/film.svg");
  settings_flags(s, RUN_FLAGS, s->groups, e);
  settings_parse(s, s->argc, s->argv, s->groups, e);
  if (s->train.steps < FILM_LOOKS - 1)
    fail(e, 2, "--steps %d: too few for the %d looks of a film. Try: --steps "
         "%d", s->train.steps, FILM_LOOKS, FILM_LOOKS - 1);
  if (e->status || outputs_ready(s, (const char *[]){path}, 1, e))
    return e->status;
  s->out[0] = 0;
  s->eval_T = (int)at_most(s->eval_T, s->model.context);
  s->watched = &films;
  for (int i = 0; i < ARMS && !e->status; i++) {
    Outcome o = {.name = ""};
    Settings arm = *s;
    run_arm(&o, &RUN_ARMS[i], &arm, e);
    if (o.ended[0])
      fail(e, 1, "%s", o.ended);
    films.arm[i].name = ARM_NAMES[i];
    film_end(&films.arm[i]);
    outcome_free(&o);
  }
  /* train_run's words name --out, which is a checkpoint's */
  if (interrupted && e->status) {
    *e = (Error){0};
    fail(e, 1, "stopped by Ctrl-C: a film cannot be resumed. Try: ./paper run "
         "--out FOLDER, which can");
  }
  if (!e->status)
    film_draw(&h, films.arm, ARMS);
  if (!e->status && !file_write(path, h.text.at, h.text.size, e))
    printf("The film: %s\n", path);
  films_free(&films);
  bytes_free(&h.text);
  return e->status;
}
