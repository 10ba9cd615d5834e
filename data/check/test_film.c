/* test_film.c - the tests of film.c: what a look sees, and what is drawn of it.
 * A part of test_paper.c, which includes it.
 *
 * SPDX-License-Identifier: MIT */

static void release_film(void *film) { free(((Film *)film)->look); }

/* The film of a tiny model's two steps: before any, and after each. */
static Film *film_of(Test *t, const char *flags) {
  char words[200];
  Film *f = later(t, 1, sizeof *f, release_film);
  snprintf(words, sizeof words, "--steps 2 %s", flags);
  Trainer *r = trainer_of(t, words);
  fact(t, !film_begin(f, r, fresh(t)) && f->looks == 3, "%s", t->e.text);
  for (int k = 0; k < 3; k++) {
    steps_of(t, r, k);
    fact(t, f->step[k] == k && !film_look(f, k, r, fresh(t)), "look %d: %s", k,
         t->e.text);
  }
  film_end(f);
  return f;
}

/* What models are filmed: their flags, whether their rows sum to 1 and have a
 * column before token 1, and the name of the sink's column. */
static const struct {
  const char *flags;
  bool sums, star;
  const char *column;
} FILM_LOOKED[] = {
  {"--layers 2 --fix-token 1", true, false, "token 1"},
  {"--layers 2 --extra k", true, true, "*"},
  {"--sink-token", true, true, "x*"},
  {"--sim sigmoid --normalizer one --scale 0.5", false, false, "token 1"}};

/* Alpha, row mass and the head are those of an evaluation, to a float; a map's
 * rows sum to what the row function makes them, and no row sees a later key. */
static void film_look__by_hand(Test *t) {
  Settings s;
  if (!tale_open(t, &s, ""))
    return;
  EACH (row, FILM_LOOKED) {
    const Film *f = film_of(t, FILM_LOOKED[row].flags);
    Trainer *r = trainer_of(t, FILM_LOOKED[row].flags);
    bool starred = FILM_LOOKED[row].star;
    Sinks seen;
    steps_of(t, r, 2);
    if (evaluate(&seen, &r->m, &r->data, &r->s, r->s.eval_n, r->s.eval_T,
                 fresh(t))) {
      fact(t, false, "%s", t->e.text);
      break;
    }
    const FilmLook *end = &f->look[2 * f->heads];
    double best = 0;
    for (int h = 0; h < f->heads; h++) {
      const double *alpha = seen.alpha + h * seen.S;
      float first = (float)alpha[config_column_first(&r->m.c)];
      float star = starred ? (float)alpha[0] : 0;
      within(t, (double)end[h].alpha, (double)first, 0, "alpha_1 of head %d",
             h);
      within(t, (double)end[h].star, (double)star, 0, "alpha_* of head %d", h);
      within(t, (double)end[h].mass, seen.mass[h], 1e-7, "row mass of head %d",
             h);
      if (FILM_LOOKED[row].sums)
        within(t, (double)end[h].total, 1, 1e-6, "the rows of head %d", h);
      best = larger(best, (double)(starred ? star : first));
      for (int i = 0; i < f->T; i++) {
        double sum = (double)end[h].bias[i];
        for (int j = 0; j < f->T; j++) {
          sum += (double)end[h].weight[i][j];
          fact(t, (end[h].weight[i][j] > 0) == (j <= i), "cell %d, %d", i, j);
        }
        if (FILM_LOOKED[row].sums)
          within(t, sum, 1, 1e-5, "row %d", i);
        else
          fact(t, sum > 0.1 * (i + 1) && sum < 0.4 * (i + 1), "row %d: %g", i,
               sum);
      }
    }
    within(t, film_share(f, 2, f->head), best, 0, "the head that is drawn");
    within(t, film_times(f, false),
           sinks_alpha(&seen, config_column_first(&r->m.c)) / seen.even, 1e-6,
           "times even");
    fact(t, f->T == 8 && f->starred == starred && f->token[7][0] &&
               !strcmp(f->column, FILM_LOOKED[row].column),
         "its frame");
    sinks_free(&seen);
  }
}

/* Steps of the looks: the first before any, the last at the end, between them
 * the same distance to a step, and none twice. */
static void film_begin__steps(Test *t) {
  static const int STEPS[] = {0, 1, 5, 6, 7, 120, 3000};
  Trainer *r = trainer_of(t, "");
  EACH (i, STEPS) {
    Film f = {0};
    r->s.train.steps = STEPS[i];
    fact(t, !film_begin(&f, r, fresh(t)), "%s", t->e.text);
    int n = STEPS[i] < 6 ? STEPS[i] + 1 : 7;
    fact(t, f.looks == n && f.step[0] == 0 && f.step[n - 1] == STEPS[i],
         "%d steps: %d looks", STEPS[i], f.looks);
    for (int k = 1; k < n; k++)
      fact(t, (double)f.step[k] == ceil((double)k * STEPS[i] / (n - 1)),
           "%d steps: %ld", STEPS[i], f.step[k]);
    free(f.look);
  }
}

/* A film in its file is the same film, up to the step that goes on; a byte that
 * is wrong, less, or another run's film is not used. */
static void film_read__same(Test *t) {
  Settings s;
  if (!tale_open(t, &s, ""))
    return;
  Film *f = film_of(t, "--layers 2 --extra k");
  Trainer *r = trainer_of(t, "--steps 2 --layers 2 --extra k");
  strcpy(r->s.out, SCRATCH "/a.ckpt");
  steps_of(t, r, 1);
  fact(t, !film_write(f, r, fresh(t)), "%s", t->e.text);
  Film *g = later(t, 1, sizeof *g, release_film);
  fact(t, !film_begin(g, r, fresh(t)) && !film_read(g, r, &t->e), "%s",
       t->e.text);
  film_end(g);
  fact(t, g->there[0] && g->there[1] && !g->there[2] && g->end == 1,
       "its looks");
  fact(t,
       !memcmp(g->look, f->look, 2 * (size_t)f->heads * sizeof *f->look) &&
           !memcmp(g->token, f->token, sizeof f->token) && g->n == f->n &&
           g->tokens == f->tokens && is(g->name ? g->name : "", ""),
       "its numbers");
  within(t, g->even, f->even, 0, "even rows");
  Bytes *text = later(t, 1, sizeof *text, release_bytes);
  file_read(SCRATCH "/a.film", text, &t->e);
  Rng rng = {3};
  for (int i = 0; i < 60; i++) {
    size_t at = (size_t)rng_below(&rng, text->size);
    size_t n = i % 2 ? text->size : at;
    unsigned char was = text->at[at];
    text->at[at] ^= (unsigned char)(1 + rng_below(&rng, 255));
    file_write(SCRATCH "/a.film", text->at, n, fresh(t));
    text->at[at] = was;
    Film x = {0};
    film_begin(&x, r, &t->e);
    fact(t, film_read(&x, r, &t->e) == 1 && strstr(t->e.text, "a.film"),
         "byte %zu of %zu", at, n);
    fact(t, !x.there[0], "it is used");
    free(x.look);
  }
  file_write(SCRATCH "/a.film", text->at, text->size, fresh(t));
  r->s.train.seed++;
  Film x = {0};
  film_begin(&x, r, &t->e);
  fact(t, film_read(&x, r, &t->e) == 1 && strstr(t->e.text, "another run's"),
       "%s", t->e.text);
  free(x.look);
}

/* The weights' levels as the paths of a map draw them, by cell; -1: none does.
 * Returns how many cells are drawn twice or outside. */
static int film_cells(const char *map, int T, int *level, int *star) {
  int wrong = 0;
  for (int i = 0; i < T * T; i++)
    level[i] = -1;
  for (int i = 0; i < T; i++)
    star[i] = -1;
  for (int k = 0; k < RAMP; k++) {
    map = strstr(map, "<path stroke=\"#");
    if (!map || strncmp(map + 14, RAMPS[k].colour, 7))
      return -1;
    for (map = strchr(map, 'M') + 1; (map = strpbrk(map, "M\"")) && *map == 'M';
         map++) {
      double x;
      int i, n;
      if (sscanf(map, "M%lf %dh%d", &x, &i, &n) != 3 || i < 0 || i >= T)
        return -1;
      if (x < 0) {
        wrong += star[i] >= 0;
        star[i] = k;
      }
      for (int j = (int)x; x >= 0 && j < (int)x + n; j++) {
        wrong += j >= T || level[i * T + j] >= 0;
        if (j < T)
          level[i * T + j] = k;
      }
    }
  }
  return wrong;
}

/* Looks at two heads with any levels, whose rows sum to 0.125; the shares are
 * of even rows of 1. */
static FilmLook *film_wild(Rng *rng, double times, double star) {
  FilmLook *look = zeroed(FILM_LOOKS * 2, sizeof *look);
  for (int k = 0; k < FILM_LOOKS * 2; k++) {
    for (int i = 0; i < FILM_TOKENS; i++)
      for (int j = 0; j <= i; j++) {
        int at = (int)rng_below(rng, RAMP);
        look[k].weight[i][j] = (float)RAMPS[at].from;
        look[k].bias[i] = (float)RAMPS[RAMP - 1 - at].from;
      }
    look[k].mass = look[k].total = 0.125f;
    look[k].alpha = (float)times;
    look[k].star = (float)star;
  }
  return look;
}

/* Times even of token 1 and of the column, and what the picture says. */
static const struct {
  double times, star;
  bool starred;
  const char *column, *said;
} FILMS_SAID[] = {
  {2, 0, false, "token 1", "Softmax: a sink on token 1<"},
  {1.49, 0, false, "token 1", "Softmax: no sink on token 1<"},
  {1.5, 0, false, "token 1", "Softmax: no clear sink on token 1<"},
  {0.4, 8, true, "*", "Softmax: a sink on *, no sink on token 1<"},
  {2, 8, true, "x*", "Softmax: a sink on x*, a sink on token 1<"}};

/* Every cell of every map has its level's colour; captions follow the rule;
 * the worst maps, in which no two neighbours are alike, stay below 60 KB. */
static void film_draw__cells(Test *t) {
  enum { T = FILM_TOKENS };
  Rng rng = {7};
  EACH (row, FILMS_SAID) {
    Film film[3] = {{0}};
    Html h = {.e = fresh(t)};
    int level[T * T], star[T], wrong = 0;
    FilmLook *look = film_wild(&rng, FILMS_SAID[row].times,
                               FILMS_SAID[row].star);
    for (int i = 0; i < 3; i++) {
      film[i] = (Film){.name = "Softmax",
                       .heads = 2,
                       .H = 2,
                       .T = T,
                       .head = 1,
                       .looks = FILM_LOOKS,
                       .starred = FILMS_SAID[row].starred,
                       .column = FILMS_SAID[row].column,
                       .even = 1,
                       .end = FILM_LOOKS - 1,
                       .look = look};
      for (int k = 0; k < FILM_LOOKS; k++)
        film[i].there[k] = true;
      for (int k = 0; k < T; k++)
        strcpy(film[i].token[k], row ? "<a&b>" : "<a&b>something");
    }
    film_draw(&h, film, 3);
    fact(t, h.text.size < 60000, "%zu bytes", h.text.size);
    bytes_add(&h.text, "", 1, h.e);
    const char *svg = (const char *)h.text.at, *map = svg;
    has_part(t, svg, "%s", FILMS_SAID[row].said);
    has_part(t, svg, "Block 1, head 2");
    has_part(t, svg, row ? "&lt;a&amp;b&gt; &lt;a" : "thing &lt;a");
    fact(t, !strstr(svg, "..</text>") == !!row, "where the tokens end");
    fact(t,
         count_of(svg, "row mass: 0.1") ==
             3 * FILM_LOOKS * !FILMS_SAID[row].starred,
         "the row mass");
    for (int k = 0; k < 3 * FILM_LOOKS; k++) {
      const FilmLook *x = &look[2 * (k % FILM_LOOKS) + 1];
      map = map ? strstr(map + 1, ") scale(") : NULL;
      wrong += map ? film_cells(map, T, level, star) : 1;
      for (int i = 0; i < T; i++) {
        for (int j = 0; j <= i; j++)
          wrong += level[i * T + j] != ramp_level((double)x->weight[i][j]);
        for (int j = i + 1; j < T; j++)
          wrong += level[i * T + j] != -1;
        wrong += (star[i] >= 0) != FILMS_SAID[row].starred;
        wrong += star[i] >= 0 && star[i] != ramp_level((double)x->bias[i]);
      }
    }
    fact(t, !wrong, "%d cells are wrong", wrong);
    free(look);
    bytes_free(&h.text);
  }
}

/* As a user asks. The shipped picture has the panels of today's program. */
static void film__command(Test *t) {
  Settings s;
  if (no_binary(t) || !tale_open(t, &s, ""))
    return;
  answers(t, PROGRAM, "film --steps 5", 2,
          "--steps 5: too few for the 7 looks of a film");
  answers(t, PROGRAM, "film --out data/results/film.svg", 1,
          "data/results/film.svg: already exists and is not replaced. Try");
  answers(t, PROGRAM,
          "film --steps 6 --layers 1 --dim 16 --ffn 20 --context 16 --batch 2 "
          "--quiet --force --out " SCRATCH "/film.svg",
          0, "|The film: " SCRATCH "/film.svg\n|");
  const char *made = text_in(t, SCRATCH "/film.svg");
  const char *shipped = text_in(t, "data/results/film.svg");
  for (int step = 0; step < 7; step++)
    has_part(t, made, ">step %d<", step);
  fact(t,
       strlen(shipped) < 60000 && strstr(shipped, ">step 3000<") &&
           count_of(shipped, "<path") == count_of(made, "<path"),
       "data/results/film.svg: %zu bytes", strlen(shipped));
}

/* ---- The page of a run ---- */

/* A tiny run with these flags, filmed, to SCRATCH/deep/page.html. */
static char *run_page_of(Test *t, const char *flags, int status, int figures,
                         char **said) {
  static const Program PAGES = {.name = "paper",
                                .page = run_page,
                                .watch = film_watch,
                                .log = log_keep,
                                .start = trainer_start};
  Films films = {.why = toy_why};
  Error e = {0};
  Settings s;
  tiny_settings(&s,
                "--fix-token 1 --log-every 3 "
                "--report " SCRATCH "/deep/page.html "
                "--csv " SCRATCH "/run.csv --json " SCRATCH "/run.json",
                fresh(t));
  settings_flags(&s, flags, MODEL | TRAIN | DATA | OUTPUT | GENERAL | RUN, &e);
  s.program = &PAGES;
  s.watched = &films;
  FILE *out = printing();
  int is = demo_run(&s, out, &e);
  *said = printed(t, out);
  fact(t, is == status && (!is || strstr(e.text, "diverges here")),
       "status %d: %s", is, e.text);
  films_free(&films);
  return page_sound(t, SCRATCH "/deep/page.html", figures);
}

/* The cells of each arm in the page's table are the numbers of the CSV and of
 * the JSON: this run's, not the paper's. A run that diverges has none, and
 * where it is `wild` every arm does. */
static void run_page_numbers(Test *t, const char *page, bool wild) {
  static const double UNITS[] = {100, 100, 1, 1, 1, 1, 1, 1};
  static const double HALF[] = {.05, .05, 5e-4, 5e-3, 5e-4, 5e-3, 5e-3, 5e-4};
  char *line = text_in(t, SCRATCH "/run.csv");
  char *object = text_in(t, SCRATCH "/run.json");
  const char *table = strstr(page, "id=\"table\"");
  int gone = 0;
  for (int i = 0; i < ARMS && table; i++) {
    const char *name = RUN_ARMS[i].name;
    line = strchr(line, '\n') + 1;
    fact(t, !strncmp(line + 1, name, strlen(name)), "%s", line);
    object = strstr(object, name);
    object = strstr(object, "\"read\": \"held-out text\"") + 8;
    char *at = strstr(line, "tale.grammar\",\"held-out text\",") + 14;
    gone += strstr(at, ",,,") != NULL && strstr(at, ",,,") < at + 30;
    for (int k = 0; k < ROW; k++) {
      at = strchr(at, ',') + 1;
      bool none = *at == ',' || *at == '\n';
      double cell = page_cell(table, name, k);
      object = strchr(object, ':') + 2;
      fact(t, none == (isnan(cell) != 0) && none == !strncmp(object, "null", 4),
           "%s: cell %d", name, k);
      if (none)
        continue;
      within(t, cell, UNITS[k] * atof(at), HALF[k] * 1.01, "%s: cell %d", name,
             k);
      within(t, atof(object), atof(at), 0, "%s: JSON %d", name, k);
    }
  }
  fact(t, gone == ARMS * wild, "%d of 3 arms diverged", gone);
}

/* A page has its parts in order, each with a link, and what issue and paper ask
 * of it; the numbers of its CSV and JSON; in the film's last look and among the
 * heads those of the evaluation. Arms that diverge leave what was seen. */
static void run_page__parts(Test *t) {
  static const char *const IN_ORDER[] = {
    "name=\"description\" content=\"Does a sink", "og:image\" content=\"page.svg\"",
    "prefers-color-scheme:dark", "break-inside:avoid", "<main>", "id=\"film\"",
    "<h1>Watch an attention sink form<", "a row is a token",
    "attention sink</b>", "With a spare key *",
    "id=\"film-softmax\"", ">step 0<", ">step 12<", "id=\"film-k-bias\"",
    "The column at the left is *", "id=\"film-sigmoid\"", "row mass: ",
    "which a row cannot see", "tokens sum to, 0 to 1",
    "id=\"heads\"", "id=\"heads-softmax\"", ">2.2<", "id=\"heads-k-bias\"",
    "share of *<", "id=\"heads-sigmoid\"",
    "id=\"verdict\"", "<b>softmax</b> ", "<b>k-bias</b> ", "<b>sigmoid</b> ",
    "<b>loss</b> ", "below 1.5 as none",
    "id=\"why\"", "softmax, before training", "softmax, after training",
    "sigmoid, before training", "sigmoid, after training",
    "./paper toy-trigger",
    "id=\"table\"", "class=\"paper\">paper<", ">74.11<", ">Table 10",
    ">73.34<", ">3.72<", ">Table 4", ">0.44<", ">3.70<", ">Table 15",
    "id=\"training\"", "id=\"loss\"", "The losses end within", "id=\"alpha\"",
    ">even<", "id=\"norms\"", "id=\"states\"", ">the others<",
    "id=\"last\"", "as a table", "scope=\"row\">1 &lt;|fix|&gt;<",
    "id=\"made\"", "<code>./paper run", "text</th><td>", "seed</th><td>",
    "sink " SINK_VERSION "<", "machine</th><td>", "</main>"};
  Settings s;
  char *said;
  if (!tale_open(t, &s, ""))
    return;
  const char *page = run_page_of(t, "--layers 2 --steps 12 --force", 0, 16,
                                 &said);
  const char *at = page;
  const char *svg = text_in(t, SCRATCH "/deep/page.svg");
  EACH (i, IN_ORDER)
    fact(t, at && (at = strstr(at, IN_ORDER[i])), "no %s, or not there",
         IN_ORDER[i]);
  fact(t, strlen(page) < 120000, "%zu bytes", strlen(page));
  fact(t,
       count_of(page, "class=\"map\"") == 3 * FILM_LOOKS + 4 + 3 &&
           count_of(page, "fill=\"" FILM_LATER "\"") == 3 * FILM_LOOKS + 4 + 3,
       "its maps");
  fact(t, strstr(said, "The page: ") && strstr(svg, ">step 12<"), "%s", said);
  for (const char *a = page; (a = strstr(a, "href=\"#")); a++) {
    char id[80];
    snprintf(id, sizeof id, "id=\"%.*s\"", (int)strcspn(a + 7, "\""), a + 7);
    fact(t, count_of(page, id) == 1, "%s", id);
  }
  run_page_numbers(t, page, false);
  page = run_page_of(t,
                     "--layers 2 --lr 1e3 --wd 1e3 --warmup 0 --steps 90 "
                     "--log-every 1 --force",
                     1, -1, &said);
  has_part(t, page, "No verdict");
  has_part(t, page, "not recorded");
  run_page_numbers(t, page, true);
}

/* A run that stopped at step 6 and went on has the film of one that did not.
 * Without its films it says how many looks are missing. */
static void run_page__resumed(Test *t) {
  Settings s;
  char *said;
  if (!tale_open(t, &s, ""))
    return;
  run_page_of(t, "--steps 12 --force --out " SCRATCH "/whole", 0, -1, &said);
  const char *whole = text_in(t, SCRATCH "/deep/page.svg");
  run_page_of(t, "--steps 6 --force --out " SCRATCH "/half", 0, -1, &said);
  const char *page =
      run_page_of(t, "--steps 12 --resume --force --out " SCRATCH "/half", 0,
                  -1, &said);
  fact(t, is(text_in(t, SCRATCH "/deep/page.svg"), whole), "another film");
  fact(t, !strstr(page, "not recorded"), "looks are missing");
  fact(t,
       files_same(SCRATCH "/whole/softmax.ckpt", SCRATCH "/half/softmax.ckpt"),
       "another model");
  remove(SCRATCH "/half/k-bias.film");
  page = run_page_of(t, "--steps 12 --resume --force --out " SCRATCH "/half", 0,
                     -1, &said);
  fact(t, count_of(page, "not recorded") == FILM_LOOKS - 1, "k-bias");
  has_part(t, page, "Looks that are missing: 6.");
}

#define FILM_TESTS \
  RUNS(film_look__by_hand), RUNS(film_begin__steps), RUNS(film_read__same), \
  RUNS(film_draw__cells), RUNS(film__command), RUNS(run_page__parts), \
  RUNS(run_page__resumed)
