/* test_film.c - the tests of film.c: what a look sees, and what is drawn of it.
 * A part of test_paper.c, which includes it.
 *
 * SPDX-License-Identifier: MIT */

static void release_film(void *film) { film_free(film); }

/* The film of a tiny model, looked at before any step and after each of two. */
static Film *film_of(Test *t, const char *flags) {
  Film *f = later(t, 1, sizeof *f, release_film);
  Trainer *r = trainer_of(t, flags);
  f->name = "Softmax";
  for (int k = 0; k < 3; k++) {
    steps_of(t, r, k);
    fact(t, !film_look(f, r, fresh(t)), "look %d: %s", k, t->e.text);
  }
  film_end(f);
  return f;
}

/* Alpha, row mass and the head are those of an evaluation; a map's rows sum to
 * what the row function makes them, and no row sees a later key. */
static void film_look__by_hand(Test *t) {
  static const struct {
    const char *flags;
    bool sums, star;
  } ROWS[] = {{"--layers 2 --fix-token 1", true, false},
              {"--layers 2 --extra k", true, true},
              {"--sim sigmoid --normalizer one --scale 0.5", false, false}};
  Settings s;
  if (!tale_open(t, &s, ""))
    return;
  EACH(row, ROWS) {
    const Film *f = film_of(t, ROWS[row].flags);
    Trainer *r = trainer_of(t, ROWS[row].flags);
    Sinks seen;
    int starts;
    steps_of(t, r, 2);
    if (evaluate(&seen, &r->m, &r->data, &r->s, r->s.eval_n, r->s.eval_T,
                 &starts, fresh(t)))
      break;
    const FilmLook *end = &f->look[2 * f->heads];
    double best = 0;
    for (int h = 0; h < f->heads; h++) {
      double first = seen.alpha[h * seen.S + config_column_first(&r->m.c)];
      double star = ROWS[row].star ? seen.alpha[h * seen.S] : 0;
      within(t, end[h].alpha, first, 0, "alpha_1 of head %d", h);
      within(t, end[h].star, star, 0, "alpha_* of head %d", h);
      within(t, end[h].mass, seen.mass[h], 0, "row mass of head %d", h);
      best = larger(best, ROWS[row].star ? star : first);
      for (int i = 0; i < f->T; i++) {
        double sum = end[h].bias[i];
        for (int j = 0; j < f->T; j++) {
          sum += end[h].weight[i][j];
          fact(t, (end[h].weight[i][j] > 0) == (j <= i), "cell %d, %d", i, j);
        }
        if (ROWS[row].sums)
          within(t, sum, 1, 1e-5, "row %d", i);
        else
          fact(t, sum > 0.1 * (i + 1) && sum < 0.4 * (i + 1), "row %d: %g", i,
               sum);
      }
    }
    within(t, film_sink(f, f->head), best, 0, "the head that is drawn");
    fact(t, f->T == 8 && f->looks == 3 && f->look[f->heads].step == 1
             && f->starred == ROWS[row].star && f->token[7][0], "its frame");
    sinks_free(&seen);
  }
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

/* Every cell of every map has its level's colour; captions follow the rule;
 * the worst maps, in which no two neighbours are alike, stay below 60 KB. */
static void film_draw__cells(Test *t) {
  static const struct {
    double times, star;
    bool starred;
    const char *said;
  } ROWS[] = {{2, 0, false, "Softmax: a sink on token 1<"},
              {1.49, 0, false, "Softmax: no sink on token 1<"},
              {1.5, 0, false, "Softmax: no clear sink on token 1<"},
              {0.4, 8, true, "Softmax: a sink on *, no sink on token 1<"}};
  enum { T = FILM_TOKENS };
  Rng rng = {7};
  EACH(row, ROWS) {
    Film film[3] = {{0}};
    Html h = {.e = fresh(t)};
    int level[T * T], star[T], wrong = 0;
    FilmLook *look = zeroed(FILM_LOOKS * 2, sizeof *look);
    for (int k = 0; k < FILM_LOOKS * 2; k++)
      for (int i = 0; i < T; i++)
        for (int j = 0; j <= i; j++) {
          int at = (int)rng_below(&rng, RAMP);
          look[k].weight[i][j] = RAMPS[at].from;
          look[k].bias[i] = RAMPS[RAMP - 1 - at].from;
          look[k].mass = 0.125;
        }
    for (int i = 0; i < 3; i++) {
      film[i] = (Film){.name = "Softmax", .heads = 2, .H = 2, .T = T, .head = 1,
                       .looks = FILM_LOOKS, .starred = ROWS[row].starred,
                       .times = ROWS[row].times, .star_times = ROWS[row].star,
                       .look = look};
      for (int k = 0; k < T; k++)
        strcpy(film[i].token[k], "<a&b>");
    }
    film_draw(&h, film, 3);
    fact(t, h.text.size < 60000, "%zu bytes", h.text.size);
    bytes_add(&h.text, "", 1, h.e);
    const char *svg = (const char *)h.text.at, *map = svg;
    has_part(t, svg, "%s", ROWS[row].said);
    has_part(t, svg, "Block 1, head 2");
    has_part(t, svg, "&lt;a&amp;b&gt; &lt;a");
    fact(t, count_of(svg, "row mass: 0.1") == 3 * FILM_LOOKS * !ROWS[row].starred,
         "the row mass");
    for (int k = 0; k < 3 * FILM_LOOKS; k++) {
      const FilmLook *x = &look[2 * (k % FILM_LOOKS) + 1];
      map = map ? strstr(map + 1, ") scale(") : NULL;
      wrong += map ? film_cells(map, T, level, star) : 1;
      for (int i = 0; i < T; i++) {
        for (int j = 0; j <= i; j++)
          wrong += level[i * T + j] != ramp_level(x->weight[i][j]);
        for (int j = i + 1; j < T; j++)
          wrong += level[i * T + j] != -1;
        wrong += (star[i] >= 0) != ROWS[row].starred;
        wrong += star[i] >= 0 && star[i] != ramp_level(x->bias[i]);
      }
    }
    fact(t, !wrong, "%d cells are wrong", wrong);
    free(look);
    bytes_free(&h.text);
  }
}

/* As a user asks. The shipped picture is one of today's program. */
static void film__command(Test *t) {
  Settings s;
  if (no_binary(t) || !tale_open(t, &s, ""))
    return;
  answers(t, PROGRAM, "film --steps 5", 2, "--steps 5: a film has 7 looks");
  answers(t, PROGRAM, "film --steps 6 --layers 1 --dim 16 --ffn 20 --context 16 "
          "--batch 2 --quiet --force --out " SCRATCH "/film.svg", 0,
          "|The film: " SCRATCH "/film.svg\n|");
  const char *made = text_in(t, SCRATCH "/film.svg");
  const char *shipped = text_in(t, "data/results/film.svg");
  for (int step = 0; step < 7; step++)
    has_part(t, made, ">step %d<", step);
  fact(t, strlen(shipped) < 60000 && strstr(shipped, ">step 3000<")
           && count_of(shipped, "<path") == count_of(made, "<path"),
       "data/results/film.svg: %zu bytes", strlen(shipped));
}

#define FILM_TESTS \
  RUNS(film_look__by_hand), RUNS(film_draw__cells), RUNS(film__command)
