/* film.c - ./paper film: a sink forms, moves and stays away, as one picture.
 *
 * SPDX-License-Identifier: MIT
 *
 * Part of paper.c, behind pages.c. It trains what `sink run` trains, from the
 * same seed and text. It looks at each model seven times on the way, and draws
 * one head: its weights on the first tokens of a held sequence.
 *
 * The maps show raw weights, what the head multiplies values by. Sink_k is made
 * of a row's shares, which look the same in a row that sums to 0.01. So a bar
 * beside each row shows what its weights on tokens sum to, the row mass.
 *
 * Any training can be filmed: film_look after a step, film_end once, and then
 * film_draw for one film or several of the same steps. */

enum { FILM_LOOKS = 7, FILM_TOKENS = 18 };

/* One head at one step. */
typedef struct FilmLook {
  long step;
  double alpha, star;          /* mean shares of token 1 and of *, if any */
  double mass;                 /* mean row mass */
  double weight[FILM_TOKENS][FILM_TOKENS];   /* raw, query by key */
  double bias[FILM_TOKENS];                  /* on * */
} FilmLook;

typedef struct Film {
  const char *name;            /* subject of the caption */
  int heads, looks, head;      /* of all blocks; so far; the one that is drawn */
  int H, T;                    /* of a block; tokens drawn */
  int n, tokens;               /* sequences behind a number; tokens of each */
  bool starred;                /* the model has a column * */
  double even;                 /* alpha_1 of rows that share their weight alike */
  double times, star_times;    /* over all heads, alpha over that, at the end */
  FilmLook *look;              /* [FILM_LOOKS, heads] */
  char token[FILM_TOKENS][TOKEN_ROOM];
} Film;

/* ----------
 * 1  Looks */

static void film_free(Film *f) {
  free(f->look);
  *f = (Film){0};
}

/* The raw maps of all heads, on one held sequence. */
static int film_maps(Film *f, Trainer *t, Error *e) {
  const Config *c = &t->m.c;
  Acts a = {0};
  int ids[FILM_TOKENS], targets[FILM_TOKENS], starts;
  idx T = f->T, N = config_rows(c, f->T), S = config_columns(c, f->T);
  int star = config_column_star(c);
  real *maps = grab(f->heads * N * S, sizeof *maps, e);
  Probe *probe = grab(c->layers, sizeof *probe, e);
  if (!e->status)
    data_probe(&t->data, &t->s.data, INPUT_NATURAL, 1, f->T, ids, targets,
               &starts);
  if (!e->status && !acts_create(&a, &t->m, 1, f->T, ACTS_ONE, e)) {
    for (int l = 0; l < c->layers; l++)
      probe[l].weight = maps + l * f->H * N * S;
    a.probe = probe;
    model_forward(&t->m, &a, ids, 1, f->T);
    model_fault(&t->m, e);
  }
  for (int h = 0; h < f->heads && !e->status; h++) {
    FilmLook *x = &f->look[f->looks * f->heads + h];
    for (idx i = 0; i < T; i++) {
      const real *row = maps + (h * N + N - T + i) * S;
      if (f->starred)
        x->bias[i] = (double)row[star];
      for (idx j = 0; j < T; j++)
        x->weight[i][j] = (double)row[S - T + j];
    }
  }
  for (int i = 0; i < f->T && !e->status; i++)
    token_text(f->token[i], &t->data, ids[i]);
  acts_free(&a);
  free(probe);
  free(maps);
  return e->status;
}

/* Adds a look at the trainer's step: what `sink eval` measures, and the maps. */
static int film_look(Film *f, Trainer *t, Error *e) {
  const Config *c = &t->m.c;
  int T = (int)at_most(t->s.eval_T, c->context), starts;
  int first = config_column_first(c), star = config_column_star(c);
  Sinks s = {0};
  if (!f->look) {
    f->H = c->heads;
    f->heads = c->layers * c->heads;
    f->T = (int)at_most(T, FILM_TOKENS);
    f->starred = star >= 0;
    f->look = grab(FILM_LOOKS * f->heads, sizeof *f->look, e);
  }
  if (e->status || evaluate(&s, &t->m, &t->data, &t->s, t->s.eval_n, T, &starts,
                            e))
    return e->status;
  film_maps(f, t, e);
  f->n = s.n;
  f->tokens = s.T;
  f->even = s.even;
  f->times = sinks_alpha(&s, first) / s.even;
  if (f->starred)
    f->star_times = sinks_alpha(&s, star) / s.even;
  for (int h = 0; h < f->heads; h++) {
    FilmLook *x = &f->look[f->looks * f->heads + h];
    x->step = t->step;
    x->alpha = s.alpha[(idx)h * s.S + first];
    if (f->starred)
      x->star = s.alpha[(idx)h * s.S + star];
    x->mass = s.mass[h];
  }
  sinks_free(&s);
  f->looks++;
  return e->status;
}

static double film_sink(const Film *f, int h) {
  const FilmLook *x = &f->look[(f->looks - 1) * f->heads + h];
  return f->starred ? x->star : x->alpha;
}

/* The head to draw: at the end it has the strongest sink, on * if there is one
 * and else on token 1. */
static void film_end(Film *f) {
  f->head = 0;
  for (int h = 1; h < f->heads; h++)
    if (film_sink(f, h) > film_sink(f, f->head))
      f->head = h;
}

/* ----------
 * 2  The picture
 *
 * One SVG, which needs nothing from outside and has its own ground, so that it
 * reads the same on white and on black. Its unit is a pixel at full width. */
enum {
  FILM_WIDTH = 1000, FILM_EDGE = 18,
  FILM_FRAME = 139,               /* from map to map */
  FILM_CELL = 6, FILM_BIAS = 9,   /* width of a cell; of the column * and a gap */
  FILM_BAR = 10,                  /* length of a row mass of 1 */
  FILM_HEAD = 122, FILM_ARM = 196   /* heights: what stands above; an arm */
};
#define FILM_INK   "#1c1c1c"
#define FILM_MASS  "#b5651d"
#define FILM_LATER "#e4e2db"      /* keys that a row cannot see */

/* Text at (x, y); `as` are further attributes. */
static void film_text(Html *h, int x, int y, const char *as, const char *form,
                      ...) {
  char text[512];
  va_list args;
  va_start(args, form);
  vsnprintf(text, sizeof text, form, args);
  va_end(args);
  say(h, "<text x=\"%d\" y=\"%d\" %s>", x, y, as);
  html_text(h, text);
  say(h, "</text>\n");
}

/* The cells of a level of the ramp, as runs of lines one unit thick. The key *
 * stands to the left of key 1, behind a gap. */
static void film_level(Html *h, const FilmLook *x, bool starred, int T,
                       int level) {
  say(h, "<path stroke=\"%s\" d=\"M0 0", RAMPS[level].colour);
  for (int i = 0; i < T; i++) {
    if (starred && ramp_level(x->bias[i]) == level)
      say(h, "M-%.3g %dh1", (FILM_BIAS - 1.0) / FILM_CELL, i);
    for (int j = 0; j <= i; j++) {
      int from = j;
      while (j <= i && ramp_level(x->weight[i][j]) == level)
        j++;
      if (j > from)
        say(h, "M%d %dh%d", from, i, j - from);
    }
  }
  say(h, "\"/>\n");
}

/* A look's map, with a bar beside each row as long as its mass, of at most 1. */
static void film_map(Html *h, const Film *f, const FilmLook *x, int left,
                     int top) {
  int size = f->T * FILM_CELL, bars = left + size + 3;
  say(h, "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" fill=\"" FILM_LATER
      "\"/>\n", left, top, size, size);
  say(h, "<g transform=\"translate(%d %d) scale(%d)\">\n", left,
      top + FILM_CELL / 2, FILM_CELL);
  for (int level = 0; level < RAMP; level++)
    film_level(h, x, f->starred, f->T, level);
  say(h, "</g>\n<path stroke=\"" FILM_MASS "\" stroke-width=\"%d\" d=\"",
      FILM_CELL);
  for (int i = 0; i < f->T; i++) {
    double mass = 0;
    for (int j = 0; j <= i; j++)
      mass += x->weight[i][j];
    say(h, "M%d %dh%.3g", bars, top + i * FILM_CELL + FILM_CELL / 2,
        FILM_BAR * fmin(1, fmax(0, mass)));
  }
  say(h, "\"/>\n<path fill=\"none\" stroke=\"" FILM_INK "\" stroke-width=\".5\" "
      "d=\"M%d %dh%dv%dh-%dzM%d %dh%dv%dh-%dz", left, top, size, size, size, bars,
      top, FILM_BAR, size, FILM_BAR);
  if (f->starred)
    say(h, "M%d %dh%dv%dh-%dz", left - FILM_BIAS + 1, top, FILM_CELL, size,
        FILM_CELL);
  say(h, "\"/>\n");
}

/* One sentence that says what came of it, by the rule of sink.c's chapter 12. */
static const char *film_found(double times) {
  if (times >= SHOWS)
    return "a sink";
  return times < ABSENT ? "no sink" : "no clear sink";
}

/* A film: what was found, a line about the head that is shown, its looks. */
static void film_strip(Html *h, const Film *f, int top) {
  const FilmLook *end = &f->look[(f->looks - 1) * f->heads + f->head];
  bool less = end->mass + end->star < 0.99;
  int block = f->head / f->H + 1, head = f->head % f->H + 1;
  char star[64] = "";
  if (f->starred)
    snprintf(star, sizeof star, "%s on *, ", film_found(f->star_times));
  film_text(h, FILM_EDGE, top + 16, "font-size=\"18\" font-weight=\"700\"",
            "%s: %s%s on token 1", f->name, star, film_found(f->times));
  if (f->starred)
    film_text(h, FILM_EDGE, top + 36, "", "Block %d, head %d. In the end * has "
              "%.2f of a row's weight, token 1 has %.2f. The column at the left "
              "is *.", block, head, end->star, end->alpha);
  else if (less)
    film_text(h, FILM_EDGE, top + 36, "", "Block %d, head %d. In the end its "
              "rows sum to %.2f; token 1 has %.2f of that.", block, head,
              end->mass, end->alpha);
  else
    film_text(h, FILM_EDGE, top + 36, "", "Block %d, head %d. In the end token 1 "
              "has %.2f of a row's weight; an even row would give it %.2f.",
              block, head, end->alpha, f->even);
  for (int k = 0; k < f->looks; k++) {
    const FilmLook *x = &f->look[k * f->heads + f->head];
    int left = FILM_EDGE + FILM_BIAS + k * FILM_FRAME;
    int under = top + 45 + f->T * FILM_CELL + 17;
    film_map(h, f, x, left, top + 45);
    if (f->starred)
      film_text(h, left, under, "", "on *: %.2f", x->star);
    else if (less)
      film_text(h, left, under, "", "row mass: %.2f", x->mass);
    else
      film_text(h, left, under, "", "on token 1: %.2f", x->alpha);
  }
}

/* What a colour means, and the tokens. */
static void film_key(Html *h, const Film *f, int top) {
  int x = FILM_EDGE;
  char text[FILM_TOKENS * (TOKEN_ROOM + 1)] = "";
  film_text(h, x, top, "", "weight");
  x += 54;
  for (int level = 0; level <= RAMP; level++) {
    const char *fill = level < RAMP ? RAMPS[level].colour : FILM_LATER;
    say(h, "<rect x=\"%d\" y=\"%d\" width=\"14\" height=\"14\" fill=\"%s\" "
        "stroke=\"" FILM_INK "\"/>\n", x, top - 12, fill);
    if (level == RAMP)
      film_text(h, x + 20, top, "", "a later token, which a row cannot see");
    else if (!level)
      film_text(h, x + 20, top, "", "below %g", RAMPS[1].from);
    else
      film_text(h, x + 20, top, "", "%g", RAMPS[level].from);
    x += level ? 62 : 104;
  }
  for (int i = 0; i < f->T; i++) {
    strcat(text, f->token[i]);
    strcat(text, " ");
  }
  film_text(h, FILM_EDGE, top + 23, "", "Maps: the first %d tokens of a held "
            "sequence. Numbers: means over %d sequences of %d tokens.", f->T, f->n,
            f->tokens);
  film_text(h, FILM_EDGE, top + 44, "", "The tokens, with a dot for a blank: %s", text);
}

/* n films of the same steps, as one SVG. */
static void film_draw(Html *h, const Film *f, int n) {
  int high = FILM_HEAD + n * FILM_ARM + 76;
  say(h, "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" "
      "width=\"%d\" role=\"img\" font-family=\"Helvetica, Arial, sans-serif\" "
      "font-size=\"14\" fill=\"" FILM_INK "\" "
      "shape-rendering=\"crispEdges\">\n", FILM_WIDTH, high, FILM_WIDTH);
  element(h, "title", "Watch an attention sink form: one head of each model, "
          "seen seven times while it trains");
  say(h, "<rect width=\"%d\" height=\"%d\" rx=\"6\" fill=\"#fdfcf8\"/>\n",
      FILM_WIDTH, high);
  film_text(h, FILM_EDGE, 34, "font-size=\"24\" font-weight=\"700\"",
            "Watch an attention sink form");
  film_text(h, FILM_EDGE, 58, "", "A row of a map is a token, which looks back "
            "at the tokens before it: the columns. A dark cell has much of its "
            "weight.");
  film_text(h, FILM_EDGE, 78, "", "The bar beside a row is its mass, what its "
            "weights on tokens sum to: from 0 to 1.");
  for (int k = 0; k < f->looks; k++)
    film_text(h, FILM_EDGE + FILM_BIAS + k * FILM_FRAME, FILM_HEAD - 12,
              "font-weight=\"700\"", "step %ld", f->look[k * f->heads].step);
  for (int i = 0; i < n; i++)
    film_strip(h, &f[i], FILM_HEAD + i * FILM_ARM);
  film_key(h, f, high - 58);
  say(h, "</svg>\n");
}

/* ----------
 * 3  The verb: the arms of `sink run` [FILM.svg, out/film.svg] */

static const char *const FILM_NAMES[ARMS] = {
  "Softmax, whose rows sum to 1",
  "Softmax with a learned key *, whose value is 0",
  "Sigmoid, whose rows need not sum to 1"};

/* One arm: looks at equal distances, the first before any step. */
static int film_arm(Film *f, int arm, const Settings *s, Error *e) {
  Settings now = *s;
  Progress p = {0};
  Trainer t;
  int steps = s->train.steps;
  f->name = FILM_NAMES[arm];
  if (settings_flags(&now, RUN_ARMS[arm].flags, MODEL, e)
      || trainer_create(&t, &now, e))
    return e->status;
  progress_start(&p, RUN_ARMS[arm].name, s->quiet);
  film_look(f, &t, e);
  while (t.step < steps && !e->status) {
    if (trainer_step(&t, e))
      break;
    if (t.step * (FILM_LOOKS - 1) >= (long)f->looks * steps)
      film_look(f, &t, e);
    progress_show(&t, &p);
  }
  trainer_free(&t);
  if (!e->status)
    film_end(f);
  return e->status;
}

/* The defaults are those of `sink run`, below the flags that were given. */
static int verb_film(Settings *s, Error *e) {
  const char *path = s->out[0] ? s->out : "out/film.svg";
  Film film[ARMS] = {{0}};
  Html h = {.e = e};
  settings_flags(s, RUN_FLAGS, s->groups, e);
  settings_parse(s, s->argc, s->argv, s->groups, e);
  if (s->train.steps < FILM_LOOKS - 1)
    fail(e, 2, "--steps %d: a film has %d looks. Try: --steps %d",
         s->train.steps, FILM_LOOKS, FILM_LOOKS - 1);
  if (e->status || outputs_ready(s, &path, 1, e))
    return e->status;
  for (int i = 0; i < ARMS && !e->status; i++)
    film_arm(&film[i], i, s, e);
  if (!e->status)
    film_draw(&h, film, ARMS);
  if (!e->status && !file_write(path, h.text.at, h.text.size, e))
    printf("The film: %s\n", path);
  for (int i = 0; i < ARMS; i++)
    film_free(&film[i]);
  bytes_free(&h.text);
  return e->status;
}
