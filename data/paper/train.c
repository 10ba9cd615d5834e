/* train.c - one run: a row of the table, trained and measured.
 * Chapter 4 of paper.c.
 *
 * SPDX-License-Identifier: MIT
 */

/* -----------------------------------------------------------------------------
 * 4  One run: a row trained for a seed and measured; with +onset by the looks
 *    of onset.c */
static int onset_run(Trainer *t, Progress *p, Look *start, double until,
                     Result *r, Error *e);
static double first_q(const Data *d, int T, Error *e);
static int measure_onset(Result *r, const Trainer *t, const Progress *p,
                         double even, Error *e);
static int measure_more(Result *r, Trainer *t, const Row *row, Error *e);

/* Where a corpus lies: a grammar in data/, a text in the folder `texts`. */
static int corpus_path(char path[PATH_ROOM], const Corpus *c, const char *texts,
                       Error *e) {
  const char *folder = c->grammar ? "data/text" : texts;
  if (snprintf(path, PATH_ROOM, "%s/%s", folder, c->file) < PATH_ROOM)
    return 0;
  return fail(e, 2, "--texts %.40s..: this path is too long. Try: a shorter "
              "one", texts);
}

/* Is it the text that the table says? */
static int corpus_check(const Corpus *c, const char *texts, const Data *d,
                        Error *e) {
  if (!c->hash || c->hash == d->source)
    return e->status;
  if (c->grammar)
    return fail(e, 1, "data/text/%s: expected the grammar with hash %016llx, "
                "found %016llx. Try: that one, or another corpus NAME in "
                EXPERIMENTS_FILE, c->file, (unsigned long long)c->hash,
                (unsigned long long)d->source);
  return fail(e, 1, "%s/%s: expected the text with hash %016llx, found "
              "%016llx. Try: the text of data/results/pages/judged.md, or for "
              "one of your own that hash in " EXPERIMENTS_FILE, texts, c->file,
              (unsigned long long)c->hash, (unsigned long long)d->source);
}

/* Does the row say +what? */
static bool asks(const Row *row, const char *what) {
  return has_word(row->also, what);
}

/* What trains rows where no program does: their looks are kept. */
static const Program ROW_PROGRAM = {
  .name = "paper", .edit = position_edit, .log = log_keep, .open = paper_open,
  .first = first_open};

/* The settings of a row for a seed: its flags, and where the text is. */
static int row_settings(Settings *out, const Row *row, const Corpus *corpus,
                        int seed, const Settings *s, Error *e) {
  settings_default(out);
  out->groups = MODEL | TRAIN | DATA;
  out->program = &ROW_PROGRAM;
  if (s->program && s->program->log)
    out->program = s->program;
  out->data.program = out->program;
  out->verb = "train";   /* whose help has the flags of a row */
  if (settings_flags(out, row->flags, MODEL | TRAIN | DATA, e) ||
      settings_refuse_idle(out, e)) {
    const Error is = *e;
    *e = (Error){0};
    return fail(e, is.status, EXPERIMENTS_FILE ":%d: row %s: %.540s", row->line,
                row->name, is.text);
  }
  out->train.seed = seed;
  out->quiet = s->quiet;
  if (!out->data.toy) {
    if (out->train.steps > INT32_MAX / corpus->times)
      return fail(e, 2, "row %s: --steps %d is too many %d times. Try: fewer",
                  row->name, out->train.steps, corpus->times);
    out->train.steps *= corpus->times;
    out->data.data_tokens *= corpus->times;
  }
  out->train.log_every = out->train.steps / (asks(row, "dense") ? 120 : 30);
  if (!out->train.log_every)
    out->train.log_every = 1;
  out->data.from_start = true;   /* as data/results has it */
  memcpy(out->data.home, s->data.home, PATH_ROOM);
  /* the row brings its own text */
  if (out->data.grammar[0] || out->data.toy)
    return 0;
  if (!corpus->grammar && !own_of(s)->texts[0])
    return fail(e, 2, "%s: needs --texts, the folder with its text, %s. Try: "
                "--texts FOLDER, or --corpus story, which is shipped",
                corpus->name, corpus->file);
  char *path = corpus->grammar ? out->data.grammar : out->data.text;
  return corpus_path(path, corpus, own_of(s)->texts, e);
}

/* The numbers of the looks, from step 0 on. */
static int measure_curves(Result *r, const Trainer *t, const Progress *p,
                          const Look *start, const char *prefix, Error *e) {
  const bool starred = config_column_first(&t->m.c) > 0;
  const struct {
    const char *name;
    bool asked;
    size_t at;
  } CURVES[] = {
    {"loss",       true,        offsetof(Look, loss)},
    {"norm",       true,        offsetof(Look, norm)},
    {"alpha_1",    true,        offsetof(Look, alpha1)},
    {"sink_1",     true,        offsetof(Look, sink1)},
    {"alpha_*",    starred,     offsetof(Look, alpha_star)},
    {"sink_*",     starred,     offsetof(Look, sink_star)},
    {"norm_ratio", true,        offsetof(Look, ratio)},
    {"valid",      p->holds,    offsetof(Look, held)}};
  double x[LOOKS + 1] = {0};
  for (int i = 0; i < p->looks; i++)
    x[i + 1] = tokens_a_step(t) * (double)p->look[i].step;
  record_list(r, e, x, p->looks + 1, "%stokens", prefix);
  for (size_t k = 0; k < sizeof CURVES / sizeof *CURVES; k++) {
    if (!CURVES[k].asked)
      continue;
    for (int i = 0; i <= p->looks; i++) {
      const Look *look = i ? &p->look[i - 1] : start;
      memcpy(&x[i], (const char *)look + CURVES[k].at, sizeof *x);
    }
    record_list(r, e, x, p->looks + 1, "%s%s", prefix, CURVES[k].name);
  }
  return e->status;
}

/* First row and mean of the others, layer by layer, of norms [layers,N]. */
static void measure_norms(Result *r, const char *name, const double *norms,
                          int layers, int N, Error *e) {
  double *x = grab(layers, sizeof *x, e);
  for (int rest = 0; x && rest < 2; rest++) {
    for (int l = 0; l < layers; l++) {
      const double *of = norms + (idx)l * N;
      x[l] = rest ? of[0] / norm_ratio(of, N) : of[0];
    }
    record_list(r, e, x, layers, "%s_%s", name, rest ? "rest" : "1");
  }
  free(x);
}

/* alpha and Sink of the columns of an evaluation. */
static void measure_columns(Result *r, const Sinks *q, const Config *c,
                            Error *e) {
  int first = config_column_first(c);
  double even = q->even;
  for (int k = 1; k <= 10 && k <= q->T; k++) {
    record(r, e, sinks_alpha(q, first + k - 1), "alpha_%d", k);
    record(r, e, sinks_sink(q, first + k - 1, 0), "sink_%d", k);
  }
  record(r, e, sinks_sink(q, first, 1), "sink_1:0.2");
  record(r, e, sinks_sink(q, first, 2), "sink_1:0.4");
  record(r, e, even, "even");
  record(r, e, sinks_alpha(q, first) / even, "times_1");
  record(r, e, sinks_self(q), "alpha_self");
  record(r, e, sinks_prev(q), "alpha_prev");
  record(r, e, sinks_self(q) / q->even_self, "times_self");
  if (!first)
    return;
  record(r, e, sinks_alpha(q, SINK_COLUMN), "alpha_*");
  record(r, e, sinks_sink(q, SINK_COLUMN, 0), "sink_*");
  record(r, e, sinks_alpha(q, SINK_COLUMN) / even, "times_*");
}

/* What heads and blocks show, as their means or the largest, and one by one. */
static int measure_layers(Result *r, const Sinks *q, const Config *c,
                          Error *e) {
  enum {
    BEST, ENTROPY, MASS, RATIO, MASSIVE, MEDIAN, KEY, VALUE, COS_1, COS_REST,
    PRODUCT_1, PRODUCT_REST, NUMBERS
  };
  static const char *const names[NUMBERS] = {
    "best_1", "entropy", "mass", "norm_ratio", "massive", "median", "key_ratio",
    "value_ratio", "cos_1", "cos_rest", "product_1", "product_rest"};
  int L = q->L, H = q->H, LH = L * H;
  int first = config_column_first(c);
  double x[NUMBERS] = {[RATIO] = sinks_ratio(q),
                       [MASSIVE] = q->massive,
                       [MEDIAN] = q->median};
  double *map = grab(2 * (idx)LH, sizeof *map, e), before = 0;
  if (e->status)
    return e->status;
  for (int i = 0; i < LH; i++) {
    map[i] = q->alpha[(idx)i * q->S + first];
    if (first)
      map[LH + i] = q->alpha[(idx)i * q->S + SINK_COLUMN];
    x[BEST] = fmax(x[BEST], map[i]);
    /* -sum m log m, as older files have it */
    x[ENTROPY] += q->plain_entropy[i] / LH;
    x[MASS] += q->mass[i] / LH;
    for (int rest = 0; rest < 2; rest++) {
      x[COS_1 + rest] += q->cosine[2 * i + rest] / LH;
      x[PRODUCT_1 + rest] += q->product[2 * i + rest] / LH;
    }
  }
  for (int l = 0; l < L; l++) {
    x[KEY] += norm_ratio(q->knorm + (idx)l * q->N, q->N) / L;
    x[VALUE] += norm_ratio(q->vnorm + (idx)l * q->N, q->N) / L;
    if (c->place == PLACE_POST)
      before = fmax(before, norm_ratio(q->prenorm + (idx)l * q->N, q->N));
  }
  for (int i = 0; i < NUMBERS; i++)
    result_add(r, names[i], &x[i], 1, e);
  result_add(r, "shape", (double[]){L, H, q->T, q->S}, 4, e);
  result_add(r, "map_alpha_1", map, LH, e);
  if (first)
    result_add(r, "map_alpha_*", map + LH, LH, e);
  free(map);
  measure_norms(r, "hnorm", q->hnorm, L + 1, q->N, e);
  measure_norms(r, "knorm", q->knorm, L, q->N, e);
  measure_norms(r, "vnorm", q->vnorm, L, q->N, e);
  if (c->place == PLACE_POST) {
    record(r, e, before, "norm_ratio_before");
    measure_norms(r, "prenorm", q->prenorm, L, q->N, e);
  }
  result_add(r, "cosine", q->cosine, 2 * LH, e);
  return result_add(r, "product", q->product, 2 * LH, e);
}

/* The same few numbers on random and on repeated tokens (Table 1). */
static int measure_inputs(Result *r, Trainer *t, const Settings *s, Error *e) {
  for (int input = INPUT_RANDOM; input <= INPUT_REPEAT && !e->status; input++) {
    Settings other = *s;
    Sinks q;
    int first = config_column_first(&t->m.c);
    other.input = input;
    if (evaluate(&q, &t->m, &t->data, &other, s->eval_n, s->eval_T, e))
      break;
    double alpha = sinks_alpha(&q, first);
    record(r, e, alpha, "alpha_1@%s", INPUTS[input]);
    record(r, e, sinks_sink(&q, first, 0), "sink_1@%s", INPUTS[input]);
    record(r, e, alpha / q.even, "times_1@%s", INPUTS[input]);
    sinks_free(&q);
  }
  return e->status;
}

/* m of the head with the most sink, to four digits after the point, and which
 * head that is. */
static int measure_map(Result *r, const HeadMap *map, Error *e) {
  double m[HEAD_MAP * MAP_WIDE];
  for (int i = 0; i < map->T * map->S; i++)
    m[i] = round(map->m[i] * 1e4) / 1e4;
  result_add(r, "map_shape", (double[]){map->layer, map->head, map->T, map->S},
             4, e);
  return result_add(r, "map", m, map->T * map->S, e);
}

/* +grid, [FIG3]: Sink_1 of natural sequences by their
 * length and the threshold. */
static int measure_grid(Result *r, Model *m, const Data *d, const Settings *s,
                        Error *e) {
  enum { LENGTHS = 4, STEPS = 9 };
  static const double eps[STEPS] = {0.1,  0.15, 0.2,  0.25, 0.3,
                                    0.35, 0.4,  0.45, 0.5};
  double length[LENGTHS], alpha[LENGTHS], sink[LENGTHS * STEPS];
  Settings natural = *s;
  int n = 0, first = config_column_first(&m->c);
  natural.input = INPUT_NATURAL;
  for (int T = 16; T <= 128 && T <= m->c.context; T *= 2, n++) {
    Sinks seen;
    if (evaluate_at(&seen, m, d, &natural, eps, STEPS, s->eval_n, T, e))
      return e->status;
    length[n] = T;
    alpha[n] = sinks_alpha(&seen, first);
    for (int x = 0; x < STEPS; x++)
      sink[n * STEPS + x] = sinks_sink(&seen, first, x);
    sinks_free(&seen);
  }
  result_add(r, "grid_T", length, n, e);
  result_add(r, "grid_eps", eps, STEPS, e);
  result_add(r, "grid_alpha_1", alpha, n, e);
  return result_add(r, "grid_sink_1", sink, n * STEPS, e);
}

/* +swap, Table 7: sequences of one repeated token, p_1 replaced by p_t or
 * swapped with it, for the paper's t as far as the sequences go. Fails, with
 * status 2, for a model without positions to edit. */
static int measure_swaps(Result *r, Model *m, const Data *d, const Settings *s,
                         Error *e) {
  Settings edited = *s;
  edited.input = INPUT_REPEAT;
  for (int t = 5; t <= 30 && t <= s->eval_T; t += 5)
    for (int swap = 0; swap < 2; swap++) {
      Sinks seen;
      const char *how = swap ? "swap" : "replace";
      int first = config_column_first(&m->c), there = first + t - 1;
      edited.replace_position = swap ? 0 : t;
      edited.swap_position = swap ? t : 0;
      if (evaluate(&seen, m, d, &edited, s->eval_n, s->eval_T, e))
        return e->status;
      record(r, e, sinks_sink(&seen, first, 0), "sink_1@%s%d", how, t);
      record(r, e, sinks_sink(&seen, there, 0), "sink_t@%s%d", how, t);
      record(r, e, sinks_alpha(&seen, first), "alpha_1@%s%d", how, t);
      record(r, e, sinks_alpha(&seen, there), "alpha_t@%s%d", how, t);
      sinks_free(&seen);
    }
  return e->status;
}

/* +domains, [FIG9]: the held documents of every corpus and domain that is at
 * hand, a grammar or a text of the folder `texts`: the share that --valid 0.05
 * holds out of each, from its start on. Where t was trained on one of them,
 * the documents that are measured are none that it has seen. r NULL: nothing is
 * measured; are they the right texts? A text that is not there is left out, and
 * then, before the training, said to be. */
static int measure_domains(Result *r, Trainer *t, const Experiments *x,
                           const char *texts, Error *e) {
  int first = config_column_first(&t->m.c);
  for (int i = 0; i < x->corpora && !e->status; i++) {
    const Corpus *c = &x->corpus[i];
    Settings s = t->s;
    Data data = {0};
    Sinks q;
    char *path = c->grammar ? s.data.grammar : s.data.text;
    s.data.text[0] = s.data.grammar[0] = s.data.tokens[0] = 0;
    s.input = INPUT_NATURAL;
    if (corpus_path(path, c, texts, e))
      break;
    /* a text that is read N times is measured once, as the one without N */
    if (c->times > 1)
      continue;
    if (!c->grammar && (!*texts || file_missing(path))) {
      if (!r)   /* with --quiet too: its numbers will be missing for good */
        fprintf(stderr, "paper: %s is not measured without %s. "
                "Try: --texts FOLDER, which has it\n", c->name, c->file);
      continue;
    }
    if (data_open(&data, &s.data, 0, 0, e))
      break;
    if (!corpus_check(c, texts, &data, e) && r &&
        !evaluate(&q, &t->m, &data, &s, s.eval_n, s.eval_T, e)) {
      record(r, e, sinks_alpha(&q, first), "alpha_1/%s", c->name);
      record(r, e, sinks_sink(&q, first, 0), "sink_1/%s", c->name);
      record(r, e, sinks_sink(&q, first, 1), "sink_1:0.2/%s", c->name);
      record(r, e, sinks_sink(&q, first, 2), "sink_1:0.4/%s", c->name);
      record(r, e, q.loss, "loss/%s", c->name);
      sinks_free(&q);
    }
    data_close(&data);
  }
  return e->status;
}

/* All numbers of a trained model; `loss` is its held-out one. */
static int measure(Result *r, Trainer *t, const Progress *p, double loss,
                   const Experiments *x, const Row *row, const char *texts,
                   Error *e) {
  Outcome *o = grab(1, sizeof *o, e);
  int last = p->looks / 10 + 1;   /* the looks that train_loss is the mean of */
  double trained = p->looks ? 0 : NAN;
  if (!o)
    return e->status;
  if (t->s.eval_T > t->s.model.context)
    t->s.eval_T = t->s.model.context;
  for (int i = p->looks - last; p->looks && i < p->looks; i++)
    trained += p->look[i].loss / last;
  if (!outcome_measure(o, t, &t->s, e)) {
    record(r, e, loss, "loss");
    record(r, e, trained, "train_loss");
    record(r, e, loss - trained, "gap");
    measure_columns(r, &o->s, &o->c, e);
    if (t->data.first)
      record(r, e, first_q(&t->data, t->s.model.context, e), "q");
    if (!asks(row, "onset"))
      measure_onset(r, t, p, o->even, e);
    measure_layers(r, &o->s, &o->c, e);
    measure_inputs(r, t, &t->s, e);
    if (asks(row, "map") && !outcome_heads(o, t, &t->s, e))
      measure_map(r, &o->map[0], e);
    if (asks(row, "grid"))
      measure_grid(r, &t->m, &t->data, &t->s, e);
    measure_more(r, t, row, e);
    if (asks(row, "swap"))
      measure_swaps(r, &t->m, &t->data, &t->s, e);
    if (asks(row, "domains"))
      measure_domains(r, t, x, texts, e);
  }
  outcome_free(o);
  free(o);
  return e->status;
}

/* The lines that say how the run came about; a toy has no data. */
static void result_describe(Result *r, const Experiments *x, const Row *row,
                            const Corpus *corpus, const Data *d) {
  const char *first = row->after < 0 ? "" : x->row[row->after].flags;
  int i = 0;
  while (i < x->items && !item_shows(x, &x->item[i], (int)(row - x->row)))
    i++;
  const char *item = i < x->items ? x->item[i].name : "all";
  snprintf(r->command, sizeof r->command,
           "./paper %s --row %s --seed %d --corpus %s", item, row->name,
           r->seed, corpus->name);
  snprintf(r->flags, sizeof r->flags, "%s%s%s --seed %d", first,
           *first ? " then " : "", row->flags, r->seed);
  if (corpus->times > 1 && d)
    snprintf(r->flags + strlen(r->flags), sizeof r->flags - strlen(r->flags),
             ", steps and data times %d", corpus->times);
  snprintf(r->data, sizeof r->data, "%s", BY_TOY);
  if (d)
    snprintf(r->data, sizeof r->data, "%s %016llx, tokenizer %016llx",
             corpus->file, (unsigned long long)d->source,
             (unsigned long long)d->tokenizer.hash);
  snprintf(r->build, sizeof r->build, COMPILER ", %s, %zu-byte numbers",
           ISAS[isa_best()], sizeof(real));
}

/* A run with +onset or +valid has looks that a log does not keep, and begins
 * anew when it was stopped; so does one after another row. */
static bool row_resumes(const Row *row) {
  return row->after < 0 && !asks(row, "onset") && !asks(row, "valid");
}

/* --parts: where a run is kept that is stopped, as t's --out and --log, every
 * PART_STEPS and at its end. It goes on from there, to the same bytes as one
 * that was never stopped. */
enum { PART_STEPS = 500 };
static int part_open(Trainer *t, Result *r, const Row *row, const Settings *s,
                     Error *e) {
  const char *folder = own_of(s)->parts;
  char path[PATH_ROOM];
  if (!*folder || !row_resumes(row))
    return e->status;
  /* another build rounds differently, other flags or times train otherwise:
   * they begin anew */
  uint64_t key = hash64(r->checksum, r->flags, strlen(r->flags));
  key = hash64(key, r->build, strlen(r->build));
  if (snprintf(path, sizeof path, "%s/%s-%s-%d-%016llx", folder, r->corpus,
               r->row, r->seed, (unsigned long long)key) >= PATH_ROOM - 8)
    return fail(e, 2, "--parts %.40s..: this path is too long. Try: a shorter "
                "one", folder);
  snprintf(t->s.out, sizeof t->s.out, "%.*s.ckpt", PATH_ROOM - 8, path);
  snprintf(t->s.log, sizeof t->s.log, "%.*s.log", PATH_ROOM - 8, path);
  snprintf(r->part, sizeof r->part, "%s", path);
  t->s.train.save_every = PART_STEPS;
  return file_ready(t->s.out, e);
}

/* Removes the part of a run whose result is kept. */
static void part_remove(const Result *r) {
  char path[PATH_ROOM];
  if (!r->part[0])
    return;
  snprintf(path, sizeof path, "%.*s.ckpt", PATH_ROOM - 8, r->part);
  remove(path);
  snprintf(path, sizeof path, "%.*s.log", PATH_ROOM - 8, r->part);
  remove(path);
}

/* t, at its first step, as its part was left. */
static int part_read(Trainer *t, Error *e) {
  Trainer from = {0};
  if (checkpoint_load(t->s.out, true, &from, e)) {
    const Error is = *e;
    *e = (Error){0};
    return fail(e, is.status, "%.580s, or delete this part of a run", is.text);
  }
  if (!from.m1 || from.m.count != t->m.count ||
      from.data.source != t->data.source ||
      from.tokenizer_hash != t->tokenizer_hash)
    fail(e, 1, "%s: expected a part of this run, found another run's. Try: "
         "delete it", t->s.out);
  else {
    copy(t->m.params, from.m.params, from.m.count);
    copy(t->m1, from.m1, from.m.count);
    copy(t->m2, from.m2, from.m.count);
    t->step = from.step;
    t->loss = from.loss;
    t->loss_sum = from.loss_sum;
    t->loss_steps = from.loss_steps;
    t->data.sample = from.data.sample;
    t->data.document = from.data.document;
    t->data.offset = from.data.offset;
  }
  trainer_free(&from);
  return e->status;
}

/* A training to its end, in t: its looks in *p, and as *start the one before
 * the first step. */
static int row_train(Trainer *t, Progress *p, Look *start, const Row *row,
                     Result *r, Error *e) {
  char name[96];
  snprintf(name, sizeof name, "%s %d", row->name, r->seed);
  *p = (Progress){.name = name};
  p->holds = asks(row, "valid");
  double until = asks(row, "until");
  if (asks(row, "rise"))
    until = 2;
  if (asks(row, "onset"))
    onset_run(t, p, start, until, r, e);
  else if (!look_at_sink(t, p, e)) {
    *start = (Look){.loss = NAN,
                    .norm = NAN,
                    .alpha1 = p->now[ALPHA_1],
                    .sink1 = p->now[SINK_1],
                    .alpha_star = p->now[ALPHA_STAR],
                    .sink_star = p->now[SINK_STAR],
                    .ratio = p->now[NORM_RATIO],
                    .held = NAN};
    if (!t->s.out[0] || file_missing(t->s.out) || file_missing(t->s.log) ||
        !part_read(t, e))
      train_run(t, p, e);
  }
  /* train_run's words name --out. These name the run, since `row` may be the
   * one that it goes on from. */
  if (interrupted) {
    const bool kept = t->s.out[0] && !file_missing(t->s.out);
    const bool can = row_resumes(row) && !strcmp(row->name, r->row);
    *e = (Error){0};
    fail(e, 1, "stopped by Ctrl-C: %s %d is not finished and will %s. Try: the "
         "same command%s", r->row, r->seed, kept ? "resume" : "start again",
         can && !kept ? " with --parts out/parts, which can resume from then on"
                      : "");
  }
  p->name = row->name;   /* `name` is this call's */
  return e->status;
}

/* A row that goes on keeps the model of the one above: a flag of the model that
 * it gives must say the same. The context alone may differ. */
static int row_keeps(const Settings *was, const Settings *s, const Row *row,
                     const Row *base, Error *e) {
  char old[PATH_ROOM], new[PATH_ROOM];
  for (const Option *o = OPTIONS; o->flag; o++) {
    if (!(o->groups & MODEL) || !s->given[o - OPTIONS] ||
        !strcmp(o->flag, "context"))
      continue;
    option_text(o, was, old, sizeof old);
    option_text(o, s, new, sizeof new);
    if (strcmp(old, new))
      return fail(e, 2, "row %s: --%s %s: %s has %s, and after= keeps its "
                  "model. Try: leave it out",
                  row->name, o->flag, new, base->name, *old ? old : "none");
  }
  return e->status;
}

/* A trainer at the row's first step: new, or with the parameters of the row it
 * goes on from. */
static int row_begin(Trainer *t, Result *r, const Experiments *x,
                     const Row *row, const Corpus *corpus, const Settings *s,
                     Progress *p, Look *start, Error *e) {
  const Row *base = row->after < 0 ? row : &x->row[row->after];
  Settings now, next;
  if (row_settings(&now, base, corpus, r->seed, s, e))
    return e->status;
  if (now.given[option_find("grammar", DATA) - OPTIONS])
    return fail(e, 2, "row %s: expected the text of --corpus, found its own "
                "--grammar. Try: after=ROW, or a corpus of that grammar",
                base->name);
  if (asks(row, "swap") && now.model.pos != POS_LEARNED &&
      now.model.pos != POS_ABSOLUTE)
    return fail(e, 2, "row %s: +swap needs position embeddings. Try: --pos "
                "learned, or without +swap", row->name);
  if (trainer_create(t, &now, e))
    return e->status;
  result_describe(r, x, row, corpus, &t->data);
  if (corpus_check(corpus, own_of(s)->texts, &t->data, e) || base == row)
    return e->status;
  if (row_settings(&next, row, corpus, r->seed, s, e) ||
      row_keeps(&t->s, &next, row, base, e) ||
      row_train(t, p, start, base, r, e) ||
      measure_curves(r, t, p, start, "curve_", e))
    return e->status;
  return trainer_restart(t, &next, e);
}

/* Trains a model of the language and measures it. A training that
 * diverges is a result. */
static int row_model(Result *r, Progress *p, const Experiments *x,
                     const Row *row, const Corpus *corpus, const Settings *s,
                     Error *e) {
  Trainer t = {0};
  Look start = {.loss = NAN, .norm = NAN, .held = NAN};
  double loss = NAN;
  /* A wrong text is told before this row is trained for nothing; one that it
   * goes on from is trained by now. */
  if (!row_begin(&t, r, x, row, corpus, s, p, &start, e) &&
      asks(row, "domains"))
    measure_domains(NULL, &t, x, own_of(s)->texts, e);
  if (!e->status && !part_open(&t, r, row, s, e) &&
      !row_train(&t, p, &start, row, r, e) &&
      held_loss(&loss, &t, HELD_BLOCKS, e))
    step_fault(&t, e);
  bool ended = take_divergence(r->ended, &t, e);
  if (!e->status) {
    record(r, e, ended, "diverged");
    record(r, e, (double)t.step, "steps");
    record(r, e, (double)t.step * tokens_a_step(&t), "tokens");
    record(r, e, (double)t.m.count, "parameters");
    /* "curve_" too where the row that it goes on from diverged */
    measure_curves(r, &t, p, &start, t.start ? "tune_" : "curve_", e);
    if (!ended && !e->status &&
        measure(r, &t, p, loss, x, row, own_of(s)->texts, e)) {
      step_fault(&t, e);       /* a NaN that no look has met */
      int n;
      const double *diverged = result_find(r, "diverged", &n);
      if (take_divergence(r->ended, &t, e))
        r->value[diverged - r->value] = 1;
    }
  }
  trainer_free(&t);
  return e->status;
}

/* Trains and measures a row for a seed; one that diverges is a result too.
 * Nothing is written. */
static int row_run(Result *r, const Experiments *x, int row,
                   const Corpus *corpus, int seed, const Settings *s,
                   Error *e) {
  const Row *w = &x->row[row];
  Progress *p = grab(1, sizeof *p, e);
  Settings now;
  *r = (Result){.seed = seed, .checksum = w->checksum};
  snprintf(r->row, sizeof r->row, "%s", w->name);
  snprintf(r->corpus, sizeof r->corpus, "%s", corpus->name);
  if (p && !row_settings(&now, w, corpus, seed, s, e) && now.data.toy) {
    if (w->also[0])
      fail(e, 2, "row %s: a toy has no further measurement +%s. Try: without "
           "it", w->name, w->also);
    result_describe(r, x, w, corpus, NULL);
    *p = (Progress){.name = w->name};
    if (!e->status)
      toy_run(&now, p, r, e);
  } else if (!e->status)
    row_model(r, p, x, w, corpus, s, e);
  free(p);
  if (e->status)
    result_free(r);
  return e->status;
}
