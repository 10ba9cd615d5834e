/* report.c - what came of each item, as pages: in Markdown, data/results/pages
 * and their index README.md; in HTML, report.html and the folder beside it. A
 * part of paper.c, behind its pictures.
 *
 * SPDX-License-Identifier: MIT
 *
 * An item's page is written in Markdown. The one in HTML is that, read again,
 * and its pictures.
 *
 * Contents   1 What came of an item    2 Its page in Markdown
 *            3 Markdown as HTML        4 The pages in HTML
 *            5 The pages in Markdown
 */

/* -----------------------------------------------------------------------------
 * 1  What came of an item
 *
 * FINDINGS_FILE of the results has a line an item: its name, the verdicts of
 * its claims by which the sentence was written, a letter each, and the
 * sentence. Where the verdicts are others by now it does not count. */
#define FINDINGS_FILE "findings.txt"
enum { FINDING = 400, VERDICTS_SAID = 80 };

static void verdict_letters(char to[VERDICTS_SAID], const Results *r,
                            int item) {
  static const char letters[VERDICT_KINDS + 1] = {
    [UNDECIDED] = '?', [REPRODUCED] = '+', [WEAKER] = '~',
    [NOT_REPRODUCED] = '-', [OPPOSITE] = '!', [VERDICT_KINDS] = '.'};
  int n = 0;
  for (int k = 0; k < r->x->claims && n < VERDICTS_SAID - 1; k++)
    if (r->x->claim[k].item == item)
      to[n++] = letters[verdict_shown(&r->judged[k])];
  to[n] = 0;
  if (!n)
    strcpy(to, "none");
}

/* The line's sentence; the title where there is none, or the text is not the
 * first. */
static void finding_of(char to[FINDING], const Paper *p, int item) {
  const Item *is = &p->x->item[item];
  const char *at = NULL, *says = is->title;
  char begins[200], letters[VERDICTS_SAID];
  verdict_letters(letters, &p->runs, item);
  snprintf(begins, sizeof begins, "\n%.80s %s ", is->name, letters);
  if (p->runs.first && p->findings.at)
    at = strstr((const char *)p->findings.at, begins);
  const char first = at ? at[strlen(begins)] : 0;
  if (first && first != '\n')
    says = at + strlen(begins);
  snprintf(to, FINDING, "%.*s", (int)strcspn(says, "\n"), says);
}

/* -----------------------------------------------------------------------------
 * 2  Its page in Markdown
 */

/* The finding and the verdicts; `home` is where the index has it. */
static void item_head(Bytes *out, const Paper *p, int item, const char *home,
                      Error *e) {
  const Item *is = &p->x->item[item];
  char finding[FINDING], flag[64];
  Bytes line = {0};
  int needed, done = runs_done(&p->runs, is, &needed);
  finding_of(finding, p, item);
  bytes_print(out, e, "# ");
  markdown_text(out, finding, e);
  bytes_print(out, e, "\n\n");
  claims_count(&line, &p->runs, item, e);
  markdown_text(&line, is->title, e);
  bytes_print(&line, e,
              " (%s). [All items](%s), [terms and columns](../README.md"
              "#how-to-read-a-page); `./paper %s%s`, ",
              is->reference, home, is->name, corpus_flag(flag, &p->runs));
  bytes_print(&line, e, "%d of %d runs.", done, needed);
  wrapped(out, 0, PAGE, "", &line, e);
  bytes_free(&line);
}

/* Each claim's rule and numbers as the program has them, and its verdict on
 * other texts. */
static void rules_markdown(Bytes *out, const Paper *p, int item, Error *e) {
  Bytes line = {0};
  int told = 0;
  for (int k = 0; k < p->x->claims; k++) {
    const Claim *c = &p->x->claim[k];
    const char *standing = "";
    if (c->item != item)
      continue;
    if (c->headline)
      standing = ", headline";
    else if (!claim_here(&p->runs, c))
      standing = ", not in this text's total";
    if (!told++)
      bytes_print(out, e,
                  "\n<details><summary>Rules, intervals and p, as the "
                  "program has them</summary>\n\n");
    bytes_print(&line, e, "`%s`, %s%s: `", c->name, CLAIM_KINDS[c->kind],
                standing);
    claim_rule(&line, p->x, c, e);
    bytes_print(&line, e, "`. ");
    claim_evidence(&line, c, &p->runs.judged[k], e);
    for (int i = 0; i < p->x->corpora; i++) {
      const Results *r = &p->others[i];
      if (r->judged && claim_here(r, c) && !r->judged[k].unrun)
        bytes_print(&line, e, "; on %s: %s", r->corpus,
                    verdict_text(&r->judged[k]));
    }
    wrapped(out, 2, PAGE, "- ", &line, e);
  }
  if (told)
    bytes_print(out, e, "\n</details>\n");
  bytes_free(&line);
}

/* The rows and the claims. */
static void item_body(Bytes *out, const Paper *p, int item, Error *e) {
  const Item *is = &p->x->item[item];
  int needed, done = runs_done(&p->runs, is, &needed);
  if (is->note) {
    Bytes line = {0};
    bytes_print(&line, e, "%s", is->note);
    bytes_print(out, e, "\n");
    wrapped(out, 0, PAGE, "", &line, e);
    bytes_free(&line);
  }
  if (done)
    bytes_print(out, e, "\n");
  if (done)
    rows_grid(out, &p->runs, is, true, e);
  claims_markdown(out, &p->runs, item, e);
  rules_markdown(out, p, item, e);
}

/* -----------------------------------------------------------------------------
 * 3  Markdown as HTML: what these pages are made of, and no more
 */

static void html_slice(Html *h, const char *s, size_t n) {
  Bytes part = {0};
  bytes_add(&part, s, n, h->e);
  html_bytes(h, &part);
}

/* What stands between two marks becomes an element; returns where it goes on,
 * s where there is none. One star marks a word alone, since k* and alpha_* have
 * one, too. */
static const char *html_span(Html *h, const char *s, const char *mark,
                             const char *tag) {
  const size_t n = strlen(mark);
  if (strncmp(s, mark, n))
    return s;
  const char *to = strstr(s + n, mark);
  const bool word = !strcmp(tag, "em");
  if (!to || to == s + n || (word && s + 1 + strcspn(s + 1, " ,.;:|()*") != to))
    return s;
  say(h, "<%s>", tag);
  html_slice(h, s + n, (size_t)(to - s) - n);
  say(h, "</%s>", tag);
  return to + n;
}

/* [text](target): a link to a page of HTML, or to a place of this one; of
 * others the text alone. */
static const char *html_link(Html *h, const char *s) {
  if (*s != '[')
    return s;
  const char *to = s + 1 + strcspn(s + 1, "[]");
  const char *end = strchr(to, ')');
  if (strncmp(to, "](", 2) || !end)
    return s;
  const char *page = strstr(to, ".html");
  const bool leads = to[2] == '#' || (page && page < end);
  if (leads)
    say(h, "<a href=\"%.*s\">", (int)(end - to - 2), to + 2);
  html_slice(h, s + 1, (size_t)(to - s) - 1);
  if (leads)
    say(h, "</a>");
  return end + 1;
}

/* A line of text; a \ guards what is behind it. */
static void html_inline(Html *h, const char *s) {
  while (*s && !h->e->status) {
    const char *was = s;
    s = html_span(h, s, "`", "code");
    if (s == was)
      s = html_span(h, s, "**", "b");
    if (s == was)
      s = html_span(h, s, "*", "em");
    if (s == was)
      s = html_link(h, s);
    if (s != was)
      continue;
    s += *s == '\\' && s[1];
    const size_t n = 1 + strcspn(s + 1, "\\`*[");
    html_slice(h, s, n);
    s += n;
  }
}

/* The cells of a row, cut out in place, without the blanks around them; returns
 * how many. */
static int row_cells(char *line, char *cell[ACROSS]) {
  int n = 0;
  for (char *s = line + 1, *bar; n < ACROSS; s = bar + 1) {
    for (bar = s; *bar && *bar != '|'; bar++)
      bar += *bar == '\\' && bar[1];
    if (!*bar)
      break;
    cell[n++] = s += strspn(s, " ");
    for (char *end = bar; end > s && end[-1] == ' ';)
      *--end = 0;
    *bar = 0;
  }
  return n;
}

/* A verdict's sign, and the class of its bar. */
static const struct { const char *sign, *bar; } DRAWN[VERDICT_KINDS] = {
  [UNDECIDED] = {"? ", "open"},
  [REPRODUCED] = {"\342\234\223 ", "yes"},
  [WEAKER] = {"\342\211\210 ", "weak"},
  [NOT_REPRODUCED] = {"\342\234\227 ", "no"},
  [OPPOSITE] = {"\342\207\204 ", "no"}};

/* A table while it is read. */
typedef struct Table {
  int line;                    /* counts from 1 */
  char *head;                  /* the first line */
  const char *class[ACROSS];   /* of each column */
} Table;

/* The verdict that a cell begins with, in bold; -1 for none. */
static int cell_verdict(const char *cell) {
  int is = VERDICT_KINDS - 1;
  if (strncmp(cell, "**", 2))
    return -1;
  while (is >= 0 &&
         strncmp(cell + 2, VERDICT_NAMES[is], strlen(VERDICT_NAMES[is])))
    is--;
  return is;
}

/* The class of a column is in the second line, so the first waits for it. A
 * row whose first cell is a verdict has its bar and sign. */
static void html_row(Html *h, char *line, Table *is) {
  char *cell[ACROSS];
  if (++is->line == 1) {
    is->head = line;
    return;
  }
  const bool head = is->line == 2;
  int n = row_cells(line, cell);
  for (int c = 0; c < n && head; c++)
    is->class[c] = !c || strchr(cell[c], ':') ? "" : " class=\"l\"";
  if (head)
    n = row_cells(is->head, cell);
  const bool claim = n && !strncmp(cell[0], "**", 2);
  const int verdict = claim ? cell_verdict(cell[0]) : -1;
  const char *sign = "";
  say(h, "<tr");
  if (verdict >= 0) {
    say(h, " class=\"%s\"", DRAWN[verdict].bar);
    sign = DRAWN[verdict].sign;
  }
  say(h, ">");
  for (int c = 0; c < n; c++) {
    const char *tag = "td";
    if (head)
      tag = "th scope=\"col\"";
    else if (c == 0 && !claim)
      tag = "th scope=\"row\"";
    if (head && strstr(cell[c], ", paper"))
      is->class[c] = " class=\"paper\"";
    say(h, "<%s%s>%s", tag, is->class[c], c ? "" : sign);
    html_inline(h, cell[c]);
    say(h, "</%.2s>", tag);
  }
  say(h, "</tr>\n");
}

/* The kinds of lines; what is none goes on with a paragraph or an entry. */
typedef enum LineKind {
  IS_NONE, IS_TEXT, IS_ENTRY, IS_TABLE, IS_HEADING, IS_RAW, IS_PICTURE
} LineKind;
static LineKind line_kind(const char *s) {
  if (*s == '\n')
    return IS_NONE;
  if (*s == '#')
    return IS_HEADING;
  if (*s == '|')
    return IS_TABLE;
  if (*s == '<' && (isalpha((unsigned char)s[1]) || s[1] == '/'))
    return IS_RAW;
  if (!strncmp(s, "![", 2))
    return IS_PICTURE;
  return strncmp(s, "- ", 2) ? IS_TEXT : IS_ENTRY;
}

/* A heading, with an id as GitHub makes it. */
static void html_heading(Html *h, const char *line) {
  const int level = (int)strspn(line, "#");
  say(h, "<h%d id=\"", level);
  for (const char *c = line + level + 1; *c; c++)
    if (isalnum((unsigned char)*c) || strchr(" -_", *c))
      say(h, "%c", *c == ' ' ? '-' : tolower((unsigned char)*c));
  say(h, "\">");
  html_inline(h, line + level + 1);
  say(h, "</h%d>\n", level);
}

/* What ends before a line of that kind. */
static void html_ends(Html *h, Bytes *text, LineKind was, LineKind is) {
  if (text->size) {
    bytes_add(text, "", 1, h->e);
    if (!h->e->status)
      html_inline(h, (const char *)text->at);
    say(h, was == IS_ENTRY ? "</li>\n" : "</p>\n");
    text->size = 0;
  }
  if (was == IS_ENTRY && is != was)
    say(h, "</ul>\n");
  if (was == IS_TABLE && is != was)
    say(h, "</table></div>\n");
}

/* A picture that stands alone elsewhere: here its name space is the page's,
 * and it does not shrink. */
static void html_picture(Html *h, const Bytes *svg) {
  static const char begins[] =
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"";
  const char *at = (const char *)svg->at;
  char *end;
  if (svg->size <= sizeof begins)
    return;
  const long width = strtol(at + sizeof begins - 1, &end, 10);
  say(h, "<div class=\"wide\"><svg style=\"width:%ldpx", width);
  bytes_add(&h->text, end, svg->size - (size_t)(end - at), h->e);
  say(h, "</div>\n");
}

/* The text, which is freed; ![..](..) is each of `svg` in its turn. */
static void html_markdown(Html *h, Bytes *markdown, const Bytes *svg) {
  Bytes text = {0};
  Table table = {0};
  LineKind was = IS_NONE;
  bytes_add(markdown, "\n", 2, h->e);
  for (char *s = (char *)markdown->at, *end; !h->e->status && *s; s = end + 1) {
    const LineKind is = line_kind(s);
    const bool goes_on = is == IS_TEXT && (was == IS_TEXT || was == IS_ENTRY);
    if (!goes_on)
      html_ends(h, &text, was, is);
    if (is == IS_TABLE && was != is) {
      table = (Table){0};
      say(h, "<div class=\"wide\" role=\"region\" tabindex=\"0\" "
             "aria-label=\"table\"><table>\n");
    }
    end = strchr(s, '\n');
    *end = 0;
    if (is == IS_TEXT && !goes_on)
      say(h, "<p>");
    if (is == IS_ENTRY)
      say(h, was == is ? "<li>" : "<ul>\n<li>");
    if (is == IS_TEXT || is == IS_ENTRY) {
      const size_t skip = is == IS_ENTRY ? 2 : strspn(s, " ");
      bytes_add(&text, " ", goes_on, h->e);
      bytes_add(&text, s + skip, strlen(s + skip), h->e);
    } else if (is == IS_TABLE)
      html_row(h, s, &table);
    else if (is == IS_HEADING)
      html_heading(h, s);
    else if (is == IS_RAW)
      say(h, "%s\n", s);
    else if (is == IS_PICTURE && svg)
      html_picture(h, svg++);
    was = goes_on ? was : is;
  }
  bytes_free(&text);
  bytes_free(markdown);
}

/* -----------------------------------------------------------------------------
 * 4  The pages in HTML
 *
 * The index is PATH; an item's page stands in the folder of that name without
 * .html. The first of its pictures stands beside the finding, the others are
 * folded away. */

/* The styles beside those that every page has. In the index a dot is ours and a
 * diamond the paper's. */
static const char REPORT_STYLE[] =
    "<style>.wide{margin:.8rem 0}.l{text-align:left;white-space:normal}"
    "td.l:nth-child(2){min-width:9rem}.one{max-width:36rem}"
    "figure:has(.fine){grid-column:1/-1;max-width:44rem}summary{"
    "margin:.6rem 0}tr[class] td:first-child{border-left:.3rem solid #777;"
    "white-space:normal;min-width:9.5rem}tr.yes td:first-child{"
    "border-left-color:#009e73}tr.weak td:first-child{"
    "border-left-color:#e69f00}tr.no td:first-child{"
    "border-left-color:#d55e00}tr.open td:first-child{"
    "border-left-style:dotted}.all td:nth-child(-n+3),.all th{"
    "text-align:left}.all th:nth-child(n+4){text-align:right}"
    ".all td:nth-child(2){white-space:normal;min-width:14rem}"
    ".all td:nth-child(3){white-space:normal;overflow-wrap:anywhere;"
    "min-width:7rem}.all th[colspan]{padding-top:1rem}.all th[colspan]>*{"
    "display:block;position:sticky;left:.3rem;max-width:min(85vw,60rem);"
    "white-space:normal}.all .where{font-weight:400}.all td:has(>i){"
    "position:relative;min-width:8rem;border-left:1rem solid #fff0;"
    "border-right:1rem solid #fff0;background:linear-gradient(#bbb,"
    "#bbb) 0 50%/100% 1px no-repeat}.all td>i,.all td>b{position:absolute;"
    "top:50%;transform:translate(-50%,-50%);font:inherit}.all td>i,.ours{"
    "color:#10305c}.all td>b,.theirs{color:#d55e00}#contents+p a{"
    "margin-right:.7em;white-space:nowrap}@media(max-width:40rem){"
    ".all td:nth-child(2){min-width:11rem}}@media print{.all table{"
    "break-inside:auto;font-size:7pt}tr{break-inside:avoid}.all .where{"
    "font-size:inherit}.all td:nth-child(n+4){white-space:nowrap}"
    ".all td:nth-child(2){min-width:0}.all td:has(>i){min-width:5rem}}"
    "</style>\n";

/* The folder of a page: its path, less .html. */
static void pages_folder(char to[PATH_ROOM], const char *path) {
  size_t n = strlen(path);
  const char *end = ".pages";
  if (n > 5 && !strcmp(path + n - 5, ".html")) {
    n -= 5;
    end = "";
  }
  snprintf(to, PATH_ROOM, "%.*s%s", (int)n, path, end);
}

static const char *last_name(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

static const Kind KINDS[PICTURE_KINDS] = {
  [PICTURE_ONSET] = {draw_onset, .caption = ""},
  [PICTURE_CORNERS] = {draw_corners, .caption = ""},
  [PICTURE_CURVES] = {draw_all_rows,
                      "A line is the mean over the seeds that got so far, its "
                      "band goes from the least of them to the largest.",
                      curve_at, .x = "million tokens"},
  [PICTURE_OVER] = {draw_all_rows,
                    "# is the number below the axis. Mean over seeds; a band "
                    "goes from the least to the largest.",
                    over_at, "#", .least = 1},
  [PICTURE_RATIO] = {draw_all_rows,
                     "Norm of the first row over the mean of the others, mean "
                     "over seeds with their range; far above 1 it is a massive "
                     "activation.",
                     norm_at, "block", "first / others", 1, .log_y = true},
  [PICTURE_NORMS] = {draw_each_row,
                     "l2 norm by block, mean over seeds; a band goes from the "
                     "least to the largest.",
                     norm_at, "block", .least = 1, .log_y = true},
  [PICTURE_ANGLES] = {draw_each_row,
                      "By block, mean over heads and over seeds, with the "
                      "seeds' range. The paper's Figure 2, "
                      "bottom, and Figures 15 to 18.",
                      angle_at, "block", .least = 1},
  [PICTURE_GRID] = {draw_each_row,
                    "Sink of token 1 by length and threshold, mean over seeds "
                    "with their range: look whether it falls with both. The "
                    "paper's Figure 3.",
                    grid_at, "tokens T", "%", .log_x = true},
  [PICTURE_DOTS] = {draw_dots, .caption = ""},
  [PICTURE_DOMAINS] = {draw_dots, .caption =
                       "By the text that is measured on: the mean of each "
                       "row's seeds, and around it every seed. The paper's "
                       "Figure 9."},
  [PICTURE_ALPHA] = {draw_maps, "alpha by block (down) and head (across).",
                     .shape = "shape"},
  [PICTURE_MAP] = {draw_maps,
                   "Share of each query's weight (down) on each key (across), "
                   "the mean over 16 sequences. A sink is a dark column.",
                   .list = {"map"}, .shape = "map_shape", .from = 2},
  [PICTURE_TOY] = {draw_maps,
                   "Weight of each query (down) on each key (across) in one "
                   "sequence.",
                   .list = {"before", "after"}, .shape = "toy_shape",
                   .from = 1}};

/* An item's pictures are drawn in passes: dots, other lines, and cells, which
 * have a ramp. */
enum { PASS_DOTS, PASS_LINES, PASS_CELLS, PASSES };
static int picture_pass(const Picture *w) {
  if (w->kind >= PICTURE_ALPHA)
    return PASS_CELLS;
  return w->kind == PICTURE_DOTS ? PASS_DOTS : PASS_LINES;
}

static void pictures_draw(Paper *p, int pass) {
  static const Picture ANGLES = {PICTURE_ANGLES, 2, {"cosine", "product"}};
  const Picture *first = p->item->picture;
  for (const Picture *w = first; w < first + p->item->pictures; w++) {
    if (picture_pass(w) != pass)
      continue;
    p->picture = w->kind == PICTURE_ANGLES ? &ANGLES : w;
    p->kind = &KINDS[w->kind];
    for (int i = w->kind == PICTURE_OVER; i == 0 || i < p->picture->words; i++)
      p->kind->draw(p, p->picture->words ? p->picture->word[i] : "");
  }
}

/* What passes from .. to - 1 draw, apart from the page. */
static Bytes pictures_apart(Paper *p, int from, int to) {
  Bytes page = p->h.text;
  p->h.text = (Bytes){0};
  for (int pass = from; pass < to; pass++)
    pictures_draw(p, pass);
  Bytes drawn = p->h.text;
  p->h.text = page;
  return drawn;
}

/* What a fold holds, if anything: drawn pictures. */
static void fold_html(Html *h, const char *begin, const char *drawn, size_t n) {
  if (!n)
    return;
  say(h, "%s<div class=\"grid\">\n", begin);
  bytes_add(&h->text, drawn, n, h->e);
  say(h, "</div></details>\n");
}

/* An item's page, and its pictures. */
static void item_html(Paper *p, int at, const char *home) {
  static const char FIGURE_ENDS[] = "</figure>\n";
  Html *h = &p->h;
  Bytes head = {0}, body = {0}, lines = {0}, cells = {0};
  int needed;
  p->item = &p->x->item[at];
  if (runs_done(&p->runs, p->item, &needed)) {
    lines = pictures_apart(p, PASS_DOTS, PASS_CELLS);
    cells = pictures_apart(p, PASS_CELLS, PASSES);
  }
  bytes_add(&lines, "", 1, h->e);
  const char *drawn = lines.at ? (const char *)lines.at : "";
  const char *rest = drawn, *end = strstr(drawn, FIGURE_ENDS);
  if (end)
    rest = end + strlen(FIGURE_ENDS);
  item_head(&head, p, at, home, h->e);
  html_markdown(h, &head, NULL);
  say(h, "<div class=\"one\">");
  bytes_add(&h->text, drawn, (size_t)(rest - drawn), h->e);
  say(h, "</div>\n");
  item_body(&body, p, at, h->e);
  html_markdown(h, &body, NULL);
  fold_html(h, "<details><summary>More pictures</summary>", rest, strlen(rest));
  if (cells.size) {
    say(h,
        "<details class=\"maps\"%s><summary>Maps: where the weight goes"
        "</summary>\n",
        *drawn ? "" : " open=\"open\"");
    ramp_legend(h);
  }
  fold_html(h, "", (const char *)cells.at, cells.size);
  bytes_free(&lines);
  bytes_free(&cells);
}

/* What of a claim's first row stands beside the paper's: Sink for a mean
 * weight, where there is one; else what the rule reads. */
static void claim_measure(char to[64], const Results *r, const Side *side) {
  const char *is = side->measure;
  const bool weight = !strncmp(is, "alpha_", 6) || !strncmp(is, "times_", 6);
  snprintf(to, 64, "sink_%.50s", is + 6 * weight);
  if (!weight || isnan(row_mean(r, side->row, to)))
    snprintf(to, 64, "%.60s", is);
}

/* Is it a share of 1 that is not shown in per cent: a weight, a mass? */
static bool is_share(const char *measure) {
  return strstr(measure, "alpha_") || !strncmp(measure, "grid_sink_", 10) ||
         !strncmp(measure, "map[", 4) || !strncmp(measure, "curve_mass", 10);
}

/* Where x lies on a strip: of a share from 0 to 1, of a loss from 2 to 8 nats,
 * of other measures by factors from 0.01 to 100, tokens in millions. What lies
 * beyond an end stands there. */
static double strip_place(const char *measure, double x) {
  const double unit = fabs(x) >= 1e5 ? 1e6 : 1;   /* as with_spread has it */
  if (isnan(x))
    return NAN;
  if (!strncmp(measure, "loss", 4))
    x = (x - 2) / 6 * 100;
  else if (is_share(measure))
    x *= 100;
  else if (!in_percent(measure))
    x = 25 * (log10(fmax(x / unit, 1e-9)) + 2);
  return fmin(fmax(x, 0), 100);
}

/* A claim of the index: its verdict, what its first row has beside the paper's,
 * and the strip with both. */
static void claim_row(Paper *p, int k, const char *folder) {
  const Claim *c = &p->x->claim[k];
  const Judged *j = &p->runs.judged[k];
  const Side *side = &c->side[c->side[0].row < 0];   /* one that is no number */
  const char *row = p->x->row[side->row].name, *sign = "";
  Html *h = &p->h;
  char measure[64];
  Cell is = "";
  claim_measure(measure, &p->runs, side);
  const double mean = row_mean(&p->runs, side->row, measure);
  const char *paper = paper_prints(p->x, side->row, measure);
  if (!isnan(mean))
    with_spread(is, mean, NAN, digits_of(measure, mean), "");
  say(h, "<tr id=\"%s\"", c->name);
  if (!j->unrun) {
    say(h, " class=\"%s\"", DRAWN[j->verdict].bar);
    sign = DRAWN[j->verdict].sign;
  }
  say(h, "><td>%s%s</td><td><a href=\"%s/%s.html\">", sign, verdict_text(j),
      folder, p->x->item[c->item].name);
  html_text(h, c->statement);
  const double at = strip_place(measure, mean);
  const double theirs = strtod(paper + (*paper == '~'), NULL);
  const double there =
    *paper && strcmp(paper, "-") ? strip_place(measure, theirs) : NAN;
  say(h, "</a></td><td>%s ", row);
  html_text(h, measure);
  say(h, "</td><td>%s</td><td>%s</td><td>", is, paper);
  if (!isnan(at))
    say(h, "<i style=\"left:%.0f%%\">\342\227\217</i>", at);
  if (!isnan(at) && !isnan(there))
    say(h, "<b style=\"left:%.0f%%\">\342\227\206</b>", there);
  say(h, "</td></tr>\n");
}

/* Every item with its finding, and below it its claims. */
static void index_claims(Paper *p, const char *folder) {
  const Experiments *x = p->x;
  Html *h = &p->h;
  say(h, "<h2 id=\"contents\">Every item, every claim</h2>\n<p>");
  for (int i = 0; i < x->items; i++)
    if (!is_elsewhere(x, i))
      say(h, "<a href=\"#item-%s\">%s</a> ", x->item[i].name, x->item[i].name);
  say(h,
      "</p>\n<p>A title leads to the item's page: its chart, table, rules "
      "and intervals. Beside a claim stands what its first row has, ours "
      "<i class=\"ours\">\342\227\217</i> and the paper's <b class=\"theirs\">"
      "\342\227\206</b>: a share from 0 to 100 %%, a loss from 2 to 8 nats, "
      "all else by factors from 0.01 to 100; what lies beyond stands at the "
      "end.</p>\n"
      "<div class=\"wide all\" role=\"region\" tabindex=\"0\" "
      "aria-label=\"claims\"><table>\n<tr><th scope=\"col\">verdict</th>"
      "<th scope=\"col\">claim</th><th scope=\"col\">row</th><th scope=\"col\">"
      "ours</th><th scope=\"col\">the paper's</th><th></th></tr>\n");
  for (int i = 0; i < x->items; i++) {
    char finding[FINDING];
    Bytes counts = {0};
    if (is_elsewhere(x, i))
      continue;
    finding_of(finding, p, i);
    say(h, "<tr id=\"item-%s\"><th colspan=\"6\"><a href=\"%s/%s.html\">",
        x->item[i].name, folder, x->item[i].name);
    html_text(h, finding);
    claims_count(&counts, &p->runs, i, h->e);
    say(h, "</a><span class=\"where\">");
    html_bytes(h, &counts);
    html_text(h, x->item[i].title);
    say(h, " (");
    html_text(h, x->item[i].reference);
    say(h, ")</span></th></tr>\n");
    for (int k = 0; k < x->claims; k++)
      if (x->claim[k].item == i)
        claim_row(p, k, folder);
  }
  say(h, "</table></div>\n");
}

/* What this program cannot train, in one list. */
static void published_markdown(Bytes *out, const Experiments *x, Error *e) {
  bytes_print(out, e,
              "\n## What needs published models\n\n`./paper ITEM` says "
              "which models, and measures those at hand. [What was measured]"
              "(pages/published.md) so far.\n\n");
  for (int i = 0; i < x->items; i++) {
    if (!is_elsewhere(x, i))
      continue;
    bytes_print(out, e, "- `%s`, %s: ", x->item[i].name, x->item[i].reference);
    markdown_text(out, x->item[i].title, e);
    bytes_print(out, e, "\n");
  }
}

/* The page's corpus and its findings, and every other corpus. */
static int told_open(Paper *p, const Experiments *x, const char *folder,
                     const Corpus *corpus, Error *e) {
  char path[PATH_ROOM + 32];
  *p = (Paper){.h = {{0}, e}, .x = x};
  p->others = grab(x->corpora, sizeof *p->others, e);
  p->lines = grab(LINES_MOST, sizeof *p->lines, e);
  snprintf(path, sizeof path, "%s/" FINDINGS_FILE, folder);
  if (!e->status && !file_missing(path) && !lines_read(path, &p->findings, e))
    bytes_add(&p->findings, "", 1, e);
  if (!e->status)
    results_load(&p->runs, x, folder, corpus->name, e);
  for (int k = 0; k < x->corpora && !e->status; k++)
    if (!x->corpus[k].domain && &x->corpus[k] != corpus)
      results_load(&p->others[k], x, folder, x->corpus[k].name, e);
  return e->status;
}

static void told_close(Paper *p) {
  results_free(&p->runs);
  for (int k = 0; p->others && k < p->x->corpora; k++)
    results_free(&p->others[k]);
  free(p->others);
  free(p->lines);
  bytes_free(&p->findings);
}

/* The texts of SUMMARY.md, its section, and the two pictures in it. */
enum { EFFECTS, ONSET_Q, SUMMARY_PICTURES };
static int told_summary(Bytes *section, Bytes svg[SUMMARY_PICTURES],
                        const Paper *p, Error *e) {
  const Experiments *x = p->x;
  Corpora on = {[BOOKS] = &p->runs};
  for (int k = LONGER; k < TEXTS_TOLD; k++) {
    const int at = entry_of(x->corpus, x->corpora, sizeof *x->corpus, TOLD[k]);
    if (at >= 0 && p->others[at].judged)
      on[k] = &p->others[at];
  }
  return summary_text(section, on, e) || effects_draw(&svg[EFFECTS], on, e) ||
         onset_q_draw(&svg[ONSET_Q], &p->runs, e);
}

/* How the page was made; and its runs, by which builds. */
static void paper_facts(Paper *p, const Settings *s, const Corpus *corpus) {
  const Experiments *x = p->x;
  char text[400], seeds[80], builds[400] = "none";
  for (int i = 0, n = 0; i < x->rows * p->runs.seeds; i++) {
    const char *build = p->runs.run[i].result.build;
    if (!*build || (n && strstr(builds, build)))
      continue;
    if (n > 200) {
      snprintf(builds + n, sizeof builds - (size_t)n, "; and others");
      break;
    }
    n += snprintf(builds + n, 190, "%s%.180s", n ? "; " : "", build);
  }
  snprintf(text, sizeof text, corpus->hash ? "%.99s, hash %016llx" : "%.99s",
           corpus->file, (unsigned long long)corpus->hash);
  snprintf(seeds, sizeof seeds, "1 to %d", x->seeds);
  if (p->runs.first || p->runs.times > 1)
    snprintf(seeds, sizeof seeds,
             "1 to %d; of rows of headline and `%s` claims 1 to %d",
             x->seeds, p->runs.first ? "more" : "twice", x->headline_seeds);
  const char *const facts[][2] = {
    {"text", text}, {"seeds", seeds}, {"runs by", builds}, {NULL, NULL}};
  page_facts(&p->h, s, "report", "", facts);
}

static void index_html(Paper *p, const Settings *s, const char *folder,
                       const Corpus *corpus) {
  Html *h = &p->h;
  Bytes text = {0}, svg[SUMMARY_PICTURES] = {{0}};
  int needed, done = runs_done(&p->runs, NULL, &needed);
  bytes_print(&text, h->e,
              "# When Attention Sink Emerges in Language Models: every table "
              "and figure, in small\n\nAn attention sink is a token on which "
              "heads put much of their weight though it means little, most "
              "often the first. The paper asks when it emerges; here small "
              "models answer, trained anew for each of its tables and figures. "
              "Trained on %s: %d of %d runs are there.\n\n",
              corpus->name, done, needed);
  verdicts_count(&text, &p->runs, h->e);
  bytes_print(&text, h->e,
              "\nSink is the share of heads whose alpha is above 0.3, alpha "
              "the mean weight on a token, times even that over the weight of "
              "even rows; \\_1 is token 1, \\_* the extra column. Numbers are "
              "means over seeds, \302\261 their standard deviation. Of the "
              "paper's, - is a training that failed, ~ second-hand, * on proxy "
              "scores. Rules were fixed before the judged runs, but for those "
              "that data/results/pages/judged.md names. [Every item, every "
              "claim](#contents).\n\n");
  if (p->runs.first)   /* the summary is of the first text */
    told_summary(&text, svg, p, h->e);
  html_markdown(h, &text, svg);
  index_claims(p, folder);
  published_markdown(&text, p->x, h->e);
  html_markdown(h, &text, NULL);
  if (p->runs.notes.size) {
    say(h, "<h2>Results that do not count</h2><p>");
    html_bytes(h, &p->runs.notes);
    say(h, "</p>\n");
  }
  paper_facts(p, s, corpus);
  for (int k = 0; k < SUMMARY_PICTURES; k++)
    bytes_free(&svg[k]);
}

static void report_head(Html *h, const char *name) {
  page_head(h, name);
  bytes_add(&h->text, REPORT_STYLE, sizeof REPORT_STYLE - 1, h->e);
}

/* Every item of x beside the results that `folder` holds of it, trained on
 * that corpus; last the index, which then leads to what is there. */
static int paper_write(const char *path, const Settings *s,
                       const Experiments *x, const char *folder,
                       const Corpus *corpus, Error *e) {
  char pages[PATH_ROOM], name[PATH_ROOM + 128], home[PATH_ROOM + 128];
  Paper p;
  pages_folder(pages, path);
  told_open(&p, x, folder, corpus, e);
  for (int i = 0; i < x->items && !e->status; i++) {
    if (is_elsewhere(x, i))
      continue;
    const char *is = x->item[i].name;
    snprintf(name, sizeof name, "%s/%.100s.html", pages, is);
    snprintf(home, sizeof home, "../%s#item-%.100s", last_name(path), is);
    report_head(&p.h, is);
    item_html(&p, i, home);
    page_end(&p.h, name);
  }
  if (!e->status) {
    report_head(&p.h, "report");
    index_html(&p, s, last_name(pages), corpus);
    page_end(&p.h, path);
  }
  bytes_free(&p.h.text);
  told_close(&p);
  return e->status;
}

static int verb_report(Settings *s, Error *e) {
  enum { RUNS_ROOM = 2 * PATH_ROOM };
  const char *path = s->out[0] ? s->out : "out/report.html";
  char pages[PATH_ROOM], name[PATH_ROOM + 128];
  const char *file = path;
  Command q;
  if (command_open(&q, s, e))
    return e->status;
  results_there(q.own, e);
  char *runs = grab(q.x.corpora + 1, RUNS_ROOM, e);
  s->words[0] = EXPERIMENTS_FILE;   /* no page replaces what it is made of */
  s->n_words = 1;
  for (int i = 0; runs && i <= q.x.corpora && s->n_words < WORDS_MOST; i++) {
    char *at = runs + (size_t)i * RUNS_ROOM;
    snprintf(at, RUNS_ROOM, "%s/%s", q.own->results,
             i ? q.x.corpus[i - 1].name : FINDINGS_FILE);
    s->words[s->n_words++] = at;
  }
  pages_folder(pages, path);
  for (int i = -1; i < q.x.items && !e->status; i++) {   /* -1: the index */
    if (i >= 0)
      snprintf(name, sizeof name, "%s/%.100s.html", pages, q.x.item[i].name);
    if (i < 0 || !is_elsewhere(&q.x, i))
      outputs_ready(s, &file, 1, e);
    file = name;
  }
  if (!e->status && !paper_write(path, s, &q.x, q.own->results, q.corpus, e))
    printf("The page: %s\n", path);
  experiments_free(&q.x);
  free(runs);
  return e->status;
}

/* -----------------------------------------------------------------------------
 * 5  The pages in Markdown: what stands between two marks is written, the rest
 *    is kept
 */

/* A page with another section between its marks; an item's that is not there
 * begins with them. */
static int page_with(Bytes *page, const char *folder, const char *name,
                     const Bytes *section, Error *e) {
  char path[PATH_ROOM + 128];
  Bytes text = {0};
  snprintf(path, sizeof path, "%s/%s", folder, name);
  if (!e->status && !strncmp(name, "pages/", 6) && file_missing(path))
    bytes_print(&text, e, "<!-- results -->\n<!-- /results -->\n");
  else if (!e->status)
    file_read(path, &text, e);
  if (!e->status)
    readme_with(page, path, (const char *)text.at, text.size,
                (const char *)section->at, section->size, e);
  bytes_free(&text);
  return e->status;
}

static int file_leave(const char *folder, const char *name, const Bytes *page,
                      Error *e) {
  char path[PATH_ROOM + 128];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  return e->status ? e->status : file_write(path, page->at, page->size, e);
}

static int page_renew(const char *folder, const char *name, Bytes *section,
                      Error *e) {
  Bytes page = {0};
  if (!page_with(&page, folder, name, section, e))
    file_leave(folder, name, &page, e);
  bytes_free(&page);
  bytes_free(section);
  return e->status;
}

static void item_markdown(Bytes *out, const Paper *p, int item, Error *e) {
  item_head(out, p, item, "../README.md", e);
  item_body(out, p, item, e);
}

/* The headline claims on a corpus, and what it judges again. */
static void corpus_markdown(Bytes *out, const Results *r, Error *e) {
  const char *again = "";
  if (r->times > 1)
    again = ", and those that were undecided by fewer tokens";
  bytes_print(out, e,
              "# On %s: the headline claims%s\n\n"
              "[All items](../README.md), [texts and terms](../README.md"
              "#how-to-read-a-page).\n\n",
              r->corpus, again);
  verdicts_count(out, r, e);
  claims_markdown(out, r, -1, e);
}

/* README.md: an item a line. */
static void index_markdown(Bytes *out, const Paper *p, Error *e) {
  const Experiments *x = p->x;
  char finding[FINDING];
  verdicts_count(out, &p->runs, e);
  bytes_print(out, e, "\nThe headline claims, by text: [%s](pages/on-%s.md)",
              p->runs.corpus, p->runs.corpus);
  for (int k = 0; k < x->corpora; k++)
    if (p->others[k].judged)
      bytes_print(out, e, ", [%s](pages/on-%s.md)", x->corpus[k].name,
                  x->corpus[k].name);
  bytes_print(out, e, ".\n\n");
  for (int i = 0; i < x->items; i++) {
    int needed, done = runs_done(&p->runs, &x->item[i], &needed);
    if (is_elsewhere(x, i))
      continue;
    finding_of(finding, p, i);
    bytes_print(out, e, "- [%s, %s](pages/%s.md): ", x->item[i].name,
                x->item[i].reference, x->item[i].name);
    markdown_text(out, finding, e);
    bytes_print(out, e, "%s ", strchr(finding, 0)[-1] == '?' ? "" : ".");
    claims_count(out, &p->runs, i, e);
    if (done < needed)
      bytes_print(out, e, "%d of %d runs. ", done, needed);
    out->size--;
    bytes_print(out, e, "\n");
  }
  published_markdown(out, x, e);
}

/* Every page of the results' folder. */
static int pages_renew(const Paper *p, const char *folder, Error *e) {
  char name[128];
  Bytes section = {0}, svg[SUMMARY_PICTURES] = {{0}};
  index_markdown(&section, p, e);
  page_renew(folder, "README.md", &section, e);
  for (int i = 0; i < p->x->items && !e->status; i++) {
    if (is_elsewhere(p->x, i))
      continue;
    snprintf(name, sizeof name, "pages/%.100s.md", p->x->item[i].name);
    item_markdown(&section, p, i, e);
    page_renew(folder, name, &section, e);
  }
  for (int k = -1; k < p->x->corpora && !e->status; k++) {
    const Results *r = k < 0 ? &p->runs : &p->others[k];
    if (!r->judged)
      continue;
    snprintf(name, sizeof name, "pages/on-%.100s.md", r->corpus);
    corpus_markdown(&section, r, e);
    page_renew(folder, name, &section, e);
  }
  /* the summary is of the first text */
  if (p->runs.first && !told_summary(&section, svg, p, e) &&
      !page_renew(folder, "SUMMARY.md", &section, e) &&
      !file_leave(folder, "effects.svg", &svg[EFFECTS], e) &&
      !file_leave(folder, "onset-q.svg", &svg[ONSET_Q], e))
    printf("The pages: %s\n", folder);
  if (!p->runs.first && !e->status)
    printf("The pages: %s, now of %s\n", folder, p->runs.corpus);
  for (int k = 0; k < SUMMARY_PICTURES; k++)
    bytes_free(&svg[k]);
  bytes_free(&section);
  return e->status;
}

static int verb_readme(Settings *s, Error *e) {
  Command q;
  Paper p;
  if (command_open(&q, s, e))
    return e->status;
  if (!told_open(&p, &q.x, q.own->results, q.corpus, e))
    pages_renew(&p, q.own->results, e);
  told_close(&p);
  experiments_free(&q.x);
  return e->status;
}
