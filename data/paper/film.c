/* film.c - a sink forms, moves and stays away: the film of
 * `run`, as one picture.
 *
 * SPDX-License-Identifier: MIT
 *
 * Part of pages.c, which includes it. Seven looks at each training of `sink
 * run` show one head: its weights on the first tokens of a held sequence. run.c
 * draws them on a page.
 *
 * The maps show raw weights, what the head multiplies values by. Sink_k is made
 * of a row's shares, which look the same in a row that sums to 0.01. So a bar
 * beside each row shows what its weights on tokens sum to, the row mass.
 *
 * A look is taken between two steps and moves no number of the training. With
 * --out a film stands beside its checkpoint, so that --resume has the looks
 * before it. */

enum { FILM_LOOKS = 7, FILM_TOKENS = 18 };

/* One head at one step. */
typedef struct FilmLook {
  float alpha, star;           /* mean shares of token 1 and of *, if any */
  float mass, total;           /* mean row mass; with * */
  float weight[FILM_TOKENS][FILM_TOKENS];   /* raw, query by key */
  float bias[FILM_TOKENS];                  /* on * */
} FilmLook;

typedef struct Film {
  const char *name;            /* subject of the caption */
  int heads, looks, head;      /* of all blocks; of the film; the one drawn */
  int H, T;                    /* of a block; tokens drawn */
  int prefix;                  /* of the model's mask */
  int n, tokens;               /* sequences behind a number; tokens of each */
  bool starred;                /* the model has a column * or x* */
  const char *column;          /* its name, or "token 1" */
  double even;                 /* alpha_1 where rows share alike */
  int end;                     /* the last look that there is, -1: none */
  long step[FILM_LOOKS];       /* of each look */
  bool there[FILM_LOOKS];
  FilmLook *look;              /* [FILM_LOOKS, heads] */
  char token[FILM_TOKENS][TOKEN_ROOM];
} Film;

typedef struct Films {
  Film arm[ARMS];
  int (*why)(Html *h, const Settings *s);   /* run.c: the toy, or NULL */
} Films;

/* ----------
 * 1  Looks */

static void films_free(Films *f) {
  for (int i = 0; i < ARMS; i++)
    free(f->arm[i].look);
  *f = (Films){0};
}

/* Room for a training's looks, at equal distances: the first before any step,
 * and the last at its end. */
static int film_begin(Film *f, const Trainer *t, Error *e) {
  const Config *c = &t->m.c;
  int steps = t->s.train.steps, T = (int)at_most(t->s.eval_T, c->context);
  f->H = c->heads;
  f->heads = c->layers * c->heads;
  f->T = (int)at_most(T, FILM_TOKENS);
  f->prefix = c->prefix;
  f->starred = config_column_first(c) > 0;
  f->column = ablated_name(c, f->starred);
  f->looks = (int)at_most(steps + 1, FILM_LOOKS);
  f->end = -1;
  for (long k = 1; k < f->looks; k++)
    f->step[k] = (k * steps + f->looks - 2) / (f->looks - 1);
  f->look = grab(FILM_LOOKS * f->heads, sizeof *f->look, e);
  return e->status;
}

/* The raw maps of all heads, on one held sequence. */
static int film_maps(Film *f, FilmLook *look, Trainer *t, Error *e) {
  const Config *c = &t->m.c;
  Acts a = {0};
  int ids[FILM_TOKENS], targets[FILM_TOKENS], starts;
  idx T = f->T, N = config_rows(c, f->T), S = config_columns(c, f->T);
  real *maps = grab(f->heads * N * S, sizeof *maps, e);
  Probe *probe = grab(c->layers, sizeof *probe, e);
  if (!e->status)
    data_probe(&t->data, &t->s.data, t->s.input, 1, f->T, ids, targets,
               &starts);
  if (!e->status && !acts_create(&a, &t->m, 1, f->T, ACTS_ONE, e)) {
    for (int l = 0; l < c->layers; l++)
      probe[l].weight = maps + l * f->H * N * S;
    a.probe = probe;
    model_forward(&t->m, &a, ids, 1, f->T);
    model_fault(&t->m, e);
  }
  for (int h = 0; h < f->heads && !e->status; h++)
    for (idx i = 0; i < T; i++) {
      const real *row = maps + (h * N + N - T + i) * S;
      if (f->starred)
        look[h].bias[i] = (float)row[SINK_COLUMN];
      for (idx j = 0; j < T; j++)
        look[h].weight[i][j] = (float)row[S - T + j];
    }
  for (int i = 0; i < f->T && !e->status; i++)
    token_text(f->token[i], &t->data, ids[i]);
  acts_free(&a);
  free(probe);
  free(maps);
  return e->status;
}

/* Look k, at the trainer's step: what `sink eval` measures, and the maps. */
static int film_look(Film *f, int k, Trainer *t, Error *e) {
  const Config *c = &t->m.c;
  int T = (int)at_most(t->s.eval_T, c->context);
  int first = config_column_first(c);
  FilmLook *look = f->look + k * f->heads;
  Sinks s = {0};
  if (evaluate(&s, &t->m, &t->data, &t->s, t->s.eval_n, T, e))
    return e->status;
  film_maps(f, look, t, e);
  f->n = s.n;
  f->tokens = s.T;
  f->even = s.even;
  for (int h = 0; h < f->heads; h++) {
    look[h].alpha = (float)s.alpha[(idx)h * s.S + first];
    look[h].star =
        f->starred ? (float)s.alpha[(idx)h * s.S + SINK_COLUMN] : 0;
    look[h].mass = (float)s.mass[h];
    look[h].total = (float)s.raw[h] + (c->extra ? look[h].star : 0);
  }
  sinks_free(&s);
  f->there[k] = !e->status;
  return e->status;
}

/* A head's share on *, if there is one, or on token 1. */
static double film_share(const Film *f, int k, int h) {
  const FilmLook *x = &f->look[k * f->heads + h];
  return (double)(f->starred ? x->star : x->alpha);
}

/* In multiples of even rows: the mean over heads of token 1's share, or *'s. */
static double film_times(const Film *f, bool star) {
  double sum = 0;
  for (int h = 0; h < f->heads && f->end >= 0; h++) {
    const FilmLook *x = &f->look[f->end * f->heads + h];
    sum += (double)(star ? x->star : x->alpha);
  }
  return sum / f->heads / f->even;
}

/* The last look; and the head to draw, which then has the strongest sink, on *
 * if there is one and else on token 1. */
static void film_end(Film *f) {
  f->head = 0;
  for (f->end = f->looks - 1; f->end >= 0 && !f->there[f->end];)
    f->end--;
  for (int h = 1; h < f->heads && f->end >= 0; h++)
    if (film_share(f, f->end, h) > film_share(f, f->end, f->head))
      f->head = h;
}

/* ----------
 * 2  A film in its file, beside the checkpoint
 *
 * Text: which run it is of, what the numbers are of, the tokens, and then a
 * line a head of each look; at the end the hash of all that. Nine digits are
 * a float.
 */
static const char FILM_MAGIC[] = "# sink film 1\n";

/* "out/softmax.film" of --out out/softmax.ckpt; "" of none. */
static void film_path(char path[PATH_ROOM], const Trainer *t) {
  size_t n = strlen(t->s.out);
  path[0] = 0;
  if (n > 5 && !strcmp(t->s.out + n - 5, ".ckpt"))
    snprintf(path, PATH_ROOM, "%.*s.film", (int)n - 5, t->s.out);
}

/* What makes one training another, but for its length. */
static uint64_t film_run(const Trainer *t) {
  char value[PATH_ROOM];
  uint64_t hash = t->data.source + (uint64_t)t->s.eval_n;
  for (const Option *o = OPTIONS; o->flag; o++) {
    if (!(o->groups & KEPT) ||
        has_word("steps text grammar tokens tokenizer save-every log-every",
                 o->flag))
      continue;
    option_text(o, &t->s, value, sizeof value);
    hash = hash64(hash, value, strlen(value));
  }
  return hash;
}

/* The first two lines. */
static void film_begins(const Film *f, const Trainer *t, Bytes *out, Error *e) {
  bytes_print(out, e, "%srun %016llx heads %d tokens %d star %d\n", FILM_MAGIC,
              (unsigned long long)film_run(t), f->heads, f->T, f->starred);
}

/* The numbers of a head, one after the other: NULL ends them. */
static float *film_number(const Film *f, FilmLook *x, int n) {
  float *const means[] = {&x->alpha, &x->star, &x->mass, &x->total};
  if (n < 4)
    return means[n];
  n -= 4;
  if (n < f->T)
    return &x->bias[n];
  n -= f->T;
  if (n < f->T * f->T)
    return &x->weight[n / f->T][n % f->T];
  return NULL;
}

static int film_write(const Film *f, const Trainer *t, Error *e) {
  char path[PATH_ROOM];
  Bytes out = {0};
  film_path(path, t);
  if (!path[0])
    return e->status;
  film_begins(f, t, &out, e);
  bytes_print(&out, e, "n %d of %d even %.17g\n", f->n, f->tokens, f->even);
  for (int i = 0; i < f->T; i++)
    bytes_print(&out, e, "%s\n", f->token[i]);
  for (int k = 0; k < f->looks; k++)
    for (int h = 0; h < f->heads && f->there[k]; h++) {
      const float *x;
      bytes_print(&out, e, "%ld", f->step[k]);
      for (int i = 0; (x = film_number(f, &f->look[k * f->heads + h], i)); i++)
        bytes_print(&out, e, " %.9g", (double)*x);
      bytes_print(&out, e, "\n");
    }
  if (!e->status)
    bytes_print(&out, e, "%016llx\n",
                (unsigned long long)hash64(0, out.at, out.size));
  if (!e->status)
    file_write(path, out.at, out.size, e);
  bytes_free(&out);
  return e->status;
}

/* A look's lines, or the end of the text: false. Of a step that this film has
 * no look at they are passed over. */
static bool film_lines(Film *f, const Trainer *t, char **at) {
  int k = 0;
  FilmLook unused;
  long step = strtol(*at, NULL, 10);
  while (k < f->looks && f->step[k] != step)
    k++;
  for (int h = 0; h < f->heads; h++) {
    FilmLook *look = k < f->looks ? &f->look[k * f->heads + h] : &unused;
    char *end = strchr(*at, '\n');
    float *x;
    if (!end)
      return false;
    strtol(*at, at, 10);
    for (int i = 0; (x = film_number(f, look, i)); i++)
      *x = strtof(*at, at);
    if (*at != end)
      return false;
    *at = end + 1;
  }
  if (k < f->looks && step <= t->step)
    f->there[k] = true;
  return true;
}

/* The looks up to t's step, as far as its file has them. */
static int film_read(Film *f, const Trainer *t, Error *e) {
  char path[PATH_ROOM];
  Bytes text = {0}, begins = {0};
  film_path(path, t);
  if (!path[0] || file_missing(path))
    return 0;
  film_begins(f, t, &begins, e);
  if (file_read(path, &text, e) || bytes_add(&text, "", 1, e) ||
      text.size < begins.size + 18)
    fail(e, 1, "%s: expected a film, found less", path);
  char *at = (char *)text.at + begins.size, *line;
  size_t n = e->status ? 0 : text.size - 18;
  if (!e->status &&
      (memcmp(text.at, begins.at, begins.size) ||
       hash64(0, text.at, n) != strtoull((char *)text.at + n, NULL, 16)))
    fail(e, 1, "%s: damaged, or another run's film", path);
  if (!e->status) {
    text.at[n] = 0;
    sscanf(at, "n %d of %d even %lf", &f->n, &f->tokens, &f->even);
    for (int i = 0; i < f->T && (line = strchr(at, '\n')); i++) {
      at = line + 1;
      snprintf(f->token[i], TOKEN_ROOM, "%.*s", (int)strcspn(at, "\n"), at);
    }
    for (at += strcspn(at, "\n") + 1; at < (char *)text.at + n;)
      if (!film_lines(f, t, &at))
        break;
  }
  bytes_free(&text);
  bytes_free(&begins);
  return e->status;
}

/* Program.watch, of the arm that p names. A look that cannot be had, or whose
 * file cannot be written, ends no training: it is said, and may be missing in
 * the picture. Without memory for the film there is no training. */
static int film_watch(Trainer *t, const Progress *p, Error *e) {
  Error passed = {0};
  Film *f = t->s.watched->arm;
  for (int i = 0; i < ARMS; i++)
    if (!strcmp(p->name, RUN_ARMS[i].name))
      f = &t->s.watched->arm[i];
  if (!f->look && !film_begin(f, t, e) && t->step && film_read(f, t, &passed))
    fprintf(stderr, "%s: %s: not used\n", t->s.program->name, passed.text);
  passed = (Error){0};
  for (int k = 0; k < f->looks && !e->status; k++)
    if (f->step[k] == t->step && !film_look(f, k, t, &passed))
      film_write(f, t, &passed);
  if (passed.status)
    fprintf(stderr, "%s: the film's look at step %ld: %s\n",
            t->s.program->name, t->step, passed.text);
  return e->status;
}

/* ----------
 * 3  The picture
 *
 * One SVG, which needs nothing from outside and has its own ground, so that it
 * reads the same on white and on black. Its unit is a pixel at full width. */
enum {
  FILM_WIDTH = 1000, FILM_EDGE = 18,
  FILM_FRAME = 139,   /* from map to map */
  FILM_CELL = 6, FILM_BIAS = 9,   /* widths: a cell; the column * and a gap */
  FILM_BAR = 10,   /* length of a row mass of 1 */
  FILM_HEAD = 122, FILM_ARM = 196,   /* heights: what stands above; an arm */
  FILM_NAMES = 110                   /* letters of the list of tokens */
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
static void film_level(Html *h, const Film *f, const FilmLook *x, int level) {
  say(h, "<path stroke=\"%s\" d=\"M0 0", RAMPS[level].colour);
  for (int i = 0; i < f->T; i++) {
    const int seen = tokens_seen(f->prefix, i, f->T);
    if (f->starred && ramp_level((double)x->bias[i]) == level)
      say(h, "M-%.3g %dh1", (FILM_BIAS - 1.0) / FILM_CELL, i);
    for (int j = 0; j < seen; j++) {
      int from = j;
      while (j < seen && ramp_level((double)x->weight[i][j]) == level)
        j++;
      if (j > from)
        say(h, "M%d %dh%d", from, i, j - from);
    }
  }
  say(h, "\"/>\n");
}

/* A look's map, with a bar beside each row as long as its mass,
 * of at most 1. */
static void film_map(Html *h, const Film *f, const FilmLook *x, int left,
                     int top) {
  int size = f->T * FILM_CELL, bars = left + size + 3;
  say(h, "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" fill=\"" FILM_LATER
      "\"/>\n", left, top, size, size);
  say(h, "<g transform=\"translate(%d %d) scale(%d)\">\n", left,
      top + FILM_CELL / 2, FILM_CELL);
  for (int level = 0; level < RAMP; level++)
    film_level(h, f, x, level);
  say(h, "</g>\n<path stroke=\"" FILM_MASS "\" stroke-width=\"%d\" d=\"",
      FILM_CELL);
  for (int i = 0; i < f->T; i++) {
    double mass = 0;
    for (int j = 0; j < tokens_seen(f->prefix, i, f->T); j++)
      mass += (double)x->weight[i][j];
    say(h, "M%d %dh%.3g", bars, top + i * FILM_CELL + FILM_CELL / 2,
        FILM_BAR * fmin(1, fmax(0, mass)));
  }
  say(h, "\"/>\n<path fill=\"none\" stroke=\"" FILM_INK
      "\" stroke-width=\".5\" d=\"M%d %dh%dv%dh-%dzM%d %dh%dv%dh-%dz", left,
      top, size, size, size, bars, top, FILM_BAR, size, FILM_BAR);
  if (f->starred)
    say(h, "M%d %dh%dv%dh-%dz", left - FILM_BIAS + 1, top, FILM_CELL, size,
        FILM_CELL);
  say(h, "\"/>\n");
}

/* One sentence that says what came of it, by the rule
 * of sink.c's chapter 12. */
static const char *film_found(double times) {
  if (times >= SHOWS)
    return "a sink";
  return times < ABSENT ? "no sink" : "no clear sink";
}

/* "Softmax, whose rows sum to 1: a sink on token 1" */
static void film_title(char text[160], const Film *f) {
  char star[64] = "";
  if (f->starred)
    snprintf(star, sizeof star, "%s on %s, ", film_found(film_times(f, true)),
             f->column);
  snprintf(text, 160, "%s: %s%s on token 1", f->name, star,
           film_found(film_times(f, false)));
}

/* Which head is drawn, and what it does in the end. */
static void film_told(char text[240], const Film *f) {
  const FilmLook *end = &f->look[f->end * f->heads + f->head];
  double alpha = (double)end->alpha, star = (double)end->star;
  int n = snprintf(text, 240, "Block %d, head %d. In the end ",
                   f->head / f->H + 1, f->head % f->H + 1);
  char *at = text + n;
  if (f->starred)
    snprintf(at, 200, "%s has %.2f of a row's weight, token 1 has %.2f. The "
             "column at the left is %s.", f->column, star, alpha, f->column);
  else if ((double)end->total < 0.99)
    snprintf(at, 200, "its rows sum to %.2f; token 1 has %.2f of that.",
             (double)end->mass, alpha);
  else
    snprintf(at, 200, "token 1 has %.2f of a row's weight; an even row would "
             "give it %.2f.", alpha, f->even);
}

/* What stands below look k. */
static void film_under(char text[40], const Film *f, int k) {
  const FilmLook *x = &f->look[k * f->heads + f->head];
  const FilmLook *end = &f->look[f->end * f->heads + f->head];
  if (!f->there[k])
    snprintf(text, 40, "not recorded");
  else if (f->starred)
    snprintf(text, 40, "on %s: %.2f", f->column, (double)x->star);
  else if ((double)end->total < 0.99)
    snprintf(text, 40, "row mass: %.2f", (double)x->mass);
  else
    snprintf(text, 40, "on token 1: %.2f", (double)x->alpha);
}

/* A film: what was found, a line about the head that is shown, its looks. */
static void film_strip(Html *h, const Film *f, int top) {
  char text[240];
  film_title(text, f);
  film_text(h, FILM_EDGE, top + 16, "font-size=\"18\" font-weight=\"700\"",
            "%s", text);
  film_told(text, f);
  film_text(h, FILM_EDGE, top + 36, "", "%s", text);
  for (int k = 0; k < f->looks; k++) {
    int left = FILM_EDGE + FILM_BIAS + k * FILM_FRAME;
    if (f->there[k])
      film_map(h, f, &f->look[k * f->heads + f->head], left, top + 45);
    film_under(text, f, k);
    film_text(h, left, top + 62 + f->T * FILM_CELL, "", "%s", text);
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
    if (strlen(text) + strlen(f->token[i]) > FILM_NAMES) {
      strcat(text, "..");
      break;
    }
    strcat(text, f->token[i]);
    strcat(text, " ");
  }
  film_text(h, FILM_EDGE, top + 23, "", "Maps: the first %d tokens of a held "
            "sequence. Numbers: means over %d sequences of %d tokens.", f->T,
            f->n, f->tokens);
  film_text(h, FILM_EDGE, top + 44, "",
            "The tokens, with a dot for a blank: %s", text);
}

/* n films of the same steps, as one SVG. */
static void film_draw(Html *h, const Film *f, int n) {
  int high = FILM_HEAD + n * FILM_ARM + 76;
  say(h, "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" "
      "width=\"%d\" role=\"img\" font-family=\"Helvetica, Arial, sans-serif\" "
      "font-size=\"14\" fill=\"" FILM_INK "\" "
      "shape-rendering=\"crispEdges\">\n", FILM_WIDTH, high, FILM_WIDTH);
  element(h, "title", "Watch an attention sink form: one head of each model, "
          "seen while it trains");
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
              "font-weight=\"700\"", "step %ld", f->step[k]);
  for (int i = 0; i < n; i++)
    film_strip(h, &f[i], FILM_HEAD + i * FILM_ARM);
  film_key(h, f, high - 58);
  say(h, "</svg>\n");
}
