/* command.c - the verbs ITEM and list. Chapter 9 of paper.c.
 *
 * SPDX-License-Identifier: MIT
 */

/* -----------------------------------------------------------------------------
 * 9  The command: ./paper ITEM */

/* What a command works on, and the runs it names. */
typedef struct Command {
  const Settings *s;
  const Own *own;
  Experiments x;
  const Corpus *corpus;
  int item, only;              /* an item, a row; -1: all */
} Command;

/* The corpus of --corpus, or the first where it is not given. */
static const Corpus *corpus_asked(const Experiments *x, const char *name,
                                  Error *e) {
  for (int i = 0; i < x->corpora; i++)
    if (!x->corpus[i].domain && (!*name || !strcmp(x->corpus[i].name, name)))
      return &x->corpus[i];
  char names[200] = "";
  for (int i = 0; i < x->corpora; i++) {
    size_t n = strlen(names);
    if (!x->corpus[i].domain)
      snprintf(names + n, sizeof names - n, "%s%s", n ? "|" : "",
               x->corpus[i].name);
  }
  if (*names)
    fail(e, 2, "--corpus %s: expected one of " EXPERIMENTS_FILE ". Try: "
         "--corpus %s", name, names);
  else
    fail(e, 2, EXPERIMENTS_FILE ": expected a corpus, found none. Try: corpus "
         "NAME FILE HASH");
  return NULL;
}

/* The next run that the command asks for after (*row, *seed), row by row, and
 * whether it is there, as result_there says; false at the end. Start with row
 * 0, seed below 0. */
static bool run_next(const Command *q, int *row, int *seed, int *there) {
  /* a domain is never the first corpus */
  bool first = q->corpus == corpus_asked(&q->x, "", &(Error){0});
  /* of all items, another corpus has the rows of claims judged again there */
  bool few = !first && q->item < 0 && q->only < 0;
  int one = q->own->only_seed, from = one < 0 ? 1 : one, to = one;
  int times = q->corpus->times;
  for (; *row < q->x.rows; ++*row, *seed = -1) {
    if ((q->only >= 0 && *row != q->only) || !item_has(&q->x, q->item, *row) ||
        (few && !row_again(&q->x, *row, times)))
      continue;
    if (one < 0)
      to = q->own->seeds ? q->own->seeds : row_seeds(&q->x, *row, first, times);
    if (*seed >= to)
      continue;
    if (*seed < from)
      *seed = from;
    else
      ++*seed;
    *there = result_there(&q->x, *row, q->own->results, q->corpus->name, *seed);
    return true;
  }
  return false;
}

/* Has the new text every line of the old one, in its order? *more: lines that
 * only the new one has, measures that came after the old one was made. */
static bool text_repeats(const Bytes *now, const Bytes *was, int *more) {
  const char *at = (const char *)now->at, *end = at + now->size;
  const char *old = (const char *)was->at, *old_end = old + was->size;
  for (*more = 0; at < end;) {
    const char *next = memchr(at, '\n', (size_t)(end - at));
    size_t n = (size_t)((next ? next + 1 : end) - at);
    if (n <= (size_t)(old_end - old) && !memcmp(at, old, n))
      old += n;
    else
      ++*more;
    at += n;
  }
  return old == old_end;
}

/* Compares a run that was made again with what its file has: it must
 * have the same lines, and the same bytes but for measures that a file
 * from before them has not. */
static void run_compare(const char *path, const Result *r, const Bytes *text,
                        const Result *old, const Bytes *was, Error *e) {
  int more;
  if (text->size == was->size && !memcmp(text->at, was->at, was->size))
    printf("%s: the same %zu bytes\n", path, was->size);
  else if (text_repeats(text, was, &more))
    printf("%s: the same %zu bytes, and %d newer lines besides\n", path,
           was->size, more);
  else if (strcmp(r->build, old->build))
    fail(e, 1,
         "%s: differs, but it was made by %s, and this is %s. Try: that "
         "compiler and processor",
         path, old->build, r->build);
  else
    fail(e, 1,
         "%s: expected the same bytes, found others. Try: --verify with all of "
         "its texts in --texts, or delete the file and run it again",
         path);
}

/* A measure of the row that a claim compares and the result has not; NULL: it
 * has all. A domain's may be missing: its text is another file. */
static const char *claim_lacks(const Claim *c, int row, const Result *r) {
  for (int k = 0; k < side_count(c); k++) {
    const char *measure = c->side[k].measure;
    if (c->side[k].row == row && !strchr(measure, '/') &&
        strcmp(measure, "diverged") && isnan(result_number(r, measure)))
      return measure;
  }
  return NULL;
}

/* A misspelt measure is known after the first run. */
static void run_lacks(const Experiments *x, int row, const Result *r) {
  for (int i = 0; i < x->claims && !r->ended[0]; i++) {
    const char *lacks = claim_lacks(&x->claim[i], row, r);
    if (lacks)
      fprintf(stderr, "paper: claim %s compares %s.%s, which this run has not. "
              "Try: a name in its result\n",
              x->claim[i].name, r->row, lacks);
  }
}

/* Makes a run and writes its file, or with `verify` compares the two. */
static int run_do(const Command *q, int row, int seed, bool verify, Error *e) {
  char path[PATH_ROOM];
  Result r = {0}, old = {0};
  Bytes text = {0}, was = {0};
  if (result_path(path, q->own->results, q->corpus->name, q->x.row[row].name,
                  seed, e))
    return e->status;
  if (!verify)
    file_ready(path, e);
  else if (!lines_read(path, &was, e))
    result_read(&old, was.at, was.size, path, e);
  bool made = !e->status &&
              !row_run(&r, &q->x, row, q->corpus, seed, q->s, e) &&
              !result_text(&r, &text, e);
  if (made && verify)
    run_compare(path, &r, &text, &old, &was, e);
  else if (made && !file_write(path, text.at, text.size, e))
    run_lacks(&q->x, row, &r);
  if (made && (verify || !e->status))
    part_remove(&r);
  result_free(&r);
  result_free(&old);
  bytes_free(&text);
  bytes_free(&was);
  return e->status;
}

/* Seconds that a step of a row takes on this machine now, from a few steps. */
static double step_seconds(const Command *q, int row, Error *e) {
  enum { WARM = 3, COUNT = 10 };
  Settings now;
  Trainer t;
  double start = seconds();
  Error why = {0};   /* one that diverges here is a result later */
  if (row_settings(&now, &q->x.row[row], q->corpus, 0, q->s, e) ||
      trainer_create(&t, &now, e))
    return 0;
  for (int i = 0; i < WARM + COUNT && !why.status; i++) {
    if (i == WARM)
      start = seconds();
    trainer_step(&t, &why);
  }
  double took = (seconds() - start) / COUNT;
  trainer_free(&t);
  return took;
}

/* A training's cost, up to a factor: tokens times the weights that meet each
 * and half its keys. */
static double train_work(const Settings *s) {
  const Config *c = &s->model;
  double Q = (double)c->heads * c->head_dim;
  double K = (double)c->kv_heads * c->head_dim;
  double matrices = config_gated(c) ? 3 : 2;   /* of the ffn */
  double layer = c->dim * (2 * Q + 2 * K) + matrices * c->dim * c->ffn;
  double token = c->layers * (layer + c->context * Q) +
                 (double)c->dim * c->vocab;
  return token * s->train.batch * s->train.accumulate * c->context *
         s->train.steps;
}

/* Says on stderr how many runs are missing, and for how long: train_work of
 * each, at the seconds that the first one's takes for a few steps here. A row
 * that ends at its onset counts in full. */
static int runs_announce(const Command *q, int *missing, Error *e) {
  static const double TOY_SECONDS = 12;   /* 4 to 16 on one core */
  double unit = 0, time = 0;
  *missing = 0;
  for (int row = 0, seed = -1, there;
       !e->status && run_next(q, &row, &seed, &there);) {
    if (there == 1)
      continue;
    ++*missing;
    for (int at = row; at >= 0; at = q->x.row[at].after) {
      Settings now;
      if (row_settings(&now, &q->x.row[at], q->corpus, seed, q->s, e))
        return e->status;
      if (now.data.toy) {
        time += TOY_SECONDS;
        continue;
      }
      if (!now.model.vocab)
        now.model.vocab = VOCAB_DEFAULT;
      if (config_resolve(&now.model, e))
        return e->status;
      double work = train_work(&now);
      if (unit <= 0)
        unit = step_seconds(q, row, e) * now.train.steps / work;
      time += unit * work;
    }
  }
  if (!e->status && *missing)
    fprintf(stderr,
            "paper: %d run%s on %s to do, about %.0f min here on %d thread%s. "
            "Ctrl-C stops; finished runs are kept\n",
            *missing, *missing > 1 ? "s" : "", q->corpus->name, ceil(time / 60),
            workers(), workers() > 1 ? "s" : "");
  return e->status;
}

/* --commands: what is missing, a run a line. */
static int runs_print(const Command *q, Error *e) {
  const Own *own = q->own;
  Bytes folders = {0};
  int missing;
  const char *name = q->item < 0 ? "all" : q->x.item[q->item].name;
  if (runs_announce(q, &missing, e))
    return e->status;
  if (strcmp(own->results, RESULTS_FOLDER)) {
    bytes_print(&folders, e, " --results");
    word_add(&folders, own->results, e);
  }
  if (!missing)
    fprintf(stderr,
            "paper: all runs of %s on %s are done. Try: ./paper %s --show "
            "--corpus %s%.*s, or another --corpus\n",
            q->only < 0 ? name : q->x.row[q->only].name, q->corpus->name, name,
            q->corpus->name, (int)folders.size,
            folders.size ? (const char *)folders.at : "");
  if (own->texts[0]) {
    bytes_print(&folders, e, " --texts");
    word_add(&folders, own->texts, e);
  }
  if (own->parts[0]) {
    bytes_print(&folders, e, " --parts");
    word_add(&folders, own->parts, e);
  }
  bytes_add(&folders, "", 1, e);
  for (int row = 0, seed = -1, there;
       !e->status && run_next(q, &row, &seed, &there);)
    if (there != 1)
      printf("./paper %s --row %s --seed %d --corpus %s%s --threads %d "
             "--quiet\n",
             name, q->x.row[row].name, seed, q->corpus->name,
             (const char *)folders.at, q->s->threads ? q->s->threads : 1);
  bytes_free(&folders);
  return e->status;
}

/* What is missing is trained, run by run; what is finished stays. */
static int runs_train(const Command *q, Error *e) {
  int missing = 1;
  /* a line of --commands: there is nothing to announce */
  bool one = q->only >= 0 && q->own->only_seed >= 0;
  if (!one && runs_announce(q, &missing, e))
    return e->status;
  if (!missing && q->only >= 0)
    printf("paper: %s is done already\n", q->x.row[q->only].name);
  if (!missing)
    return e->status;
  for (int row = 0, seed = -1, there;
       !e->status && run_next(q, &row, &seed, &there);) {
    if (there < 0)
      fprintf(stderr,
              "paper: %s seed %d: its row or text has changed, or its file is "
              "damaged: running it again\n",
              q->x.row[row].name, seed);
    if (there != 1)
      run_do(q, row, seed, false, e);
    else if (one)
      printf("paper: %s seed %d is done already\n", q->x.row[row].name, seed);
  }
  return e->status;
}

/* --verify: the first finished run that the command asks for, made again. */
static int run_verify(const Command *q, Error *e) {
  for (int row = 0, seed = -1, there; run_next(q, &row, &seed, &there);)
    if (there == 1)
      return run_do(q, row, seed, true, e);
  return fail(e, 1, "--verify: none of the runs asked for is finished. Try: "
              "without --verify");
}

static int results_there(const Own *own, Error *e) {
  if (!file_missing(own->results))
    return e->status;
  return fail(e, 1, "%s: no such folder. Try: another --results, or a run, "
              "which makes it", own->results);
}

/* A column that no result of the item has though each of its rows has one: it
 * is misspelt. NULL: there is none. A domain's may be missing, as in claims. */
static const char *column_lacks(const Results *r, const Item *item) {
  const Shown *shown = &r->x->shown[item->from];
  for (int k = 0; k < item->count; k++) {
    int state[RUN_STATES] = {0};
    count_runs(r, shown[k].row, seeds_of(r, shown[k].row), state);
    if (!state[RUN_HELD])
      return NULL;
  }
  for (int c = 0; c < item->columns; c++) {
    int there = 0;
    for (int k = 0; k < item->count; k++)
      there += spread_of(r, shown[k].row, item->column[c]).n;
    if (!there && !strchr(item->column[c], '/'))
      return item->column[c];
  }
  return NULL;
}

/* What there is: an item with its toys' maps, or all headline
 * claims and every verdict. */
static int results_show(const Command *q, Error *e) {
  Results r = {0};
  Bytes out = {0};
  const Item *item = q->item < 0 ? NULL : &q->x.item[q->item];
  if (results_there(q->own, e))
    return e->status;
  if (!results_load(&r, &q->x, q->own->results, q->corpus->name, e)) {
    if (item && q->own->predict)
      onset_predict(&out, &r, item, e);
    else if (item)
      item_text(&out, &r, q->item, e);
    else
      ledger(&out, &r, e);
  }
  if (!e->status)
    fwrite(out.at, 1, out.size, stdout);
  if (item && r.notes.size)
    fprintf(stderr, "paper: some results on %s are damaged or void. Try: ./paper "
            "list --corpus %s --results %s, which names them\n", r.corpus,
            r.corpus, q->own->results);
  const char *lacks = item && !e->status ? column_lacks(&r, item) : NULL;
  if (lacks)
    fprintf(stderr, "paper: item %s has a column %s, which none of its runs "
            "measured. Try: a name that begins a line of %s/%s/%s-1.csv\n",
            item->name, lacks, q->own->results, r.corpus,
            q->x.row[q->x.shown[item->from].row].name);
  if (item && !q->own->predict)
    told_show(q->own->results, r.corpus, item->name, stdout, e);
  for (int k = 0, maps = 0; item && r.run && k < item->count; k++) {
    int row = q->x.shown[item->from + k].row, n;
    const Run *run = run_at(&r, row, 1);
    if (run->state != RUN_HELD || !result_find(&run->result, "toy_shape", &n))
      continue;
    printf("%s\n%s, seed 1\n", maps++ ? "" : TOY_MAPS_SAY, q->x.row[row].name);
    toy_print(&run->result, stdout);
  }
  results_free(&r);
  bytes_free(&out);
  return e->status;
}

/* --- Items that need published models: ./hf has them, and measures them --- */

/* NAME.model in the folder --models, and whether it is there. */
static bool model_path(char path[PATH_ROOM], const Own *own, const char *name) {
  snprintf(path, PATH_ROOM, "%.400s/%.100s.model", own->models, name);
  return !file_missing(path);
}

/* The flags of an eval or each line; NAME, where there is one,
 * and TEXTS are filled in. */
static void flags_add(Bytes *line, const char *flags, const char *name,
                      const char *texts, Error *e) {
  for (; *flags; flags += strspn(flags, " ")) {
    Bytes word = {0};
    for (; *flags && *flags != ' '; flags++) {
      if (name && !strncmp(flags, "NAME", 4)) {
        bytes_print(&word, e, "%s", name);
        flags += 3;
      } else if (!strncmp(flags, "TEXTS", 5)) {
        bytes_print(&word, e, "%s", texts);
        flags += 4;
      } else
        bytes_print(&word, e, "%c", *flags);
    }
    bytes_add(&word, "", 1, e);
    if (!e->status)
      word_add(line, (const char *)word.at, e);
    bytes_free(&word);
  }
}

/* The command of an eval or each line: of one model, or for `only` below 0
 * of all of the item; with `there` of those at hand alone. Returns how
 * many models are in it. */
static int eval_command(Bytes *line, const Command *q, const Evaluation *v,
                        int only, bool there, Error *e) {
  const char *name = only < 0 ? NULL : q->x.model[only].name;
  char path[PATH_ROOM], csv[PATH_ROOM];
  int models = 0;
  int lines = 0, number = 0;   /* of the item; v is the number-th of them */
  bytes_print(line, e, "./hf eval");
  for (int i = 0; i < q->x.models; i++) {
    if (q->x.model[i].item != q->item || (only >= 0 && i != only))
      continue;
    if (!model_path(path, q->own, q->x.model[i].name) && there)
      continue;
    word_add(line, path, e);
    models++;
  }
  const char *texts = q->own->texts[0] ? q->own->texts : "TEXTS";
  flags_add(line, v->flags, name, texts, e);
  for (const Evaluation *x = q->x.eval; x < q->x.eval + q->x.evals; x++)
    if (x->item == q->item) {
      lines++;
      number += x <= v;
    }
  int n = snprintf(csv, sizeof csv, "out/%.80s", q->x.item[q->item].name);
  if (name)
    n += snprintf(csv + n, sizeof csv - (size_t)n, "-%.80s", name);
  if (lines > 1)
    snprintf(csv + n, sizeof csv - (size_t)n, "-%d", number);
  bytes_print(line, e, " --csv %s.csv --force", csv);
  bytes_add(line, "", 1, e);
  return models;
}

/* The commands of the item's eval and each lines; with `run` those of
 * models at hand are run. */
static int evals_do(const Command *q, bool run, Error *e) {
  for (int i = 0; i < q->x.evals && !e->status; i++) {
    const Evaluation *v = &q->x.eval[i];
    if (v->item != q->item)
      continue;
    if (run && file_missing("hf") && file_missing("hf.exe"))
      return fail(e, 1,
                  "%s: needs ./hf to measure models. Try: make hf, or --show "
                  "for the commands",
                  q->x.item[q->item].name);
    if (run && strstr(v->flags, "TEXTS") && !q->own->texts[0])
      return fail(e, 2,
                  "%s: expected --texts FOLDER, with the texts to measure its "
                  "models on. Try: --texts ../texts, or --show",
                  q->x.item[q->item].name);
    /* each: of every model; else once, of -1, which is all */
    const int from = v->each ? 0 : -1, to = v->each ? q->x.models : 0;
    for (int m = from; m < to && !e->status; m++) {
      Bytes line = {0};
      if (m >= 0 && q->x.model[m].item != q->item)
        continue;
      int models = eval_command(&line, q, v, m, run, e);
      if (models && !e->status)
        printf("  %s\n", (const char *)line.at);
      fflush(stdout);
      const char *command = (const char *)line.at;
      if (*QUOTE == '"')
        command += 2;          /* Windows has no ./ */
      /* ./hf says why */
      if (run && models && !e->status && system(command))
        e->status = 1;
      bytes_free(&line);
    }
  }
  return e->status;
}

/* The commands that make NAME.model of a downloaded folder, and the
 * questions of --choices. */
static void imports_print(const Command *q) {
  static const char word[] = "--choices TEXTS/";
  const char *texts = q->own->texts[0] ? q->own->texts : "TEXTS";
  char path[PATH_ROOM], folder[PATH_ROOM];
  Bytes line = {0};
  Error e = {0};
  for (int i = 0; i < q->x.models; i++) {
    if (q->x.model[i].item != q->item ||
        model_path(path, q->own, q->x.model[i].name))
      continue;
    int less = (int)strlen(path) - 6;   /* less .model */
    snprintf(folder, sizeof folder, "%.*s", less, path);
    bytes_print(&line, &e, "  ./hf");
    word_add(&line, folder, &e);
    bytes_print(&line, &e, " --link --out");
    word_add(&line, path, &e);
    bytes_add(&line, "\n", 1, &e);
  }
  for (int i = 0; i < q->x.evals; i++) {
    const char *file = strstr(q->x.eval[i].flags, word);
    if (!file || q->x.eval[i].item != q->item)
      continue;
    file += strlen(word);
    int n = (int)strcspn(file, ". ");
    if (!n)
      continue;
    snprintf(path, sizeof path, "%.400s/%.*s.txt", texts, n, file);
    bytes_print(&line, &e, "  ./hf choices %.*s_val.jsonl --out", n, file);
    word_add(&line, path, &e);
    bytes_add(&line, "\n", 1, &e);
  }
  if (line.size)
    fwrite(line.at, 1, line.size, stdout);
  bytes_free(&line);
}

/* The paper's numbers; what is to be downloaded, and how it is
 * measured; and what is at hand, measured. --show: without the last;
 * --commands: the commands alone. */
static int item_published(const Command *q, Error *e) {
  const Item *item = &q->x.item[q->item];
  char path[PATH_ROOM];
  int missing = 0, there = 0;
  bool alone = q->own->commands, wide = strlen(q->own->models) > 400;
  if (wide || strlen(q->own->texts) > 400)
    return fail(e, 2, "--%s: a path of more than 400 bytes is too long here. "
                "Try: a shorter one", wide ? "models" : "texts");
  if (!alone)
    printf("%s, %s: %s\n\n", item->name, item->reference, item->title);
  for (int i = 0; i < q->x.models; i++) {
    const Published *m = &q->x.model[i];
    if (m->item != q->item)
      continue;
    if (model_path(path, q->own, m->name))
      there++;
    else
      missing++;
    if (alone)
      continue;
    if (there + missing == 1) {
      printf("%-16s", "paper");
      for (int k = 0; k < item->columns; k++)
        printf(" %14s", item->column[k]);
      printf("  folder of huggingface.co\n");
    }
    printf("%-16s", m->name);
    for (int k = 0; k < item->columns; k++)
      printf(" %14s", m->paper[k].text);
    printf("  %s\n", m->folder);
  }
  if (!there && !missing)
    fprintf(alone ? stderr : stdout,
            "No weights of it were published. Try: ./paper list\n");
  if (missing && !alone)
    printf("\n%d not in the folder %s (--models FOLDER). Download config.json, "
           "the tokenizer's files and\n*.safetensors of each into %s/NAME; "
           "then (make hf builds ./hf)\n\n",
           missing, q->own->models, q->own->models);
  if (missing || alone || q->own->show)
    imports_print(q);
  if (missing && !alone)
    printf("\nand measure them:\n\n");
  if (missing || alone || q->own->show)
    evals_do(q, false, e);
  if (there && !alone && !q->own->show) {
    printf("\n%d at hand:\n\n", there);
    evals_do(q, true, e);
  }
  return e->status;
}

/* --- Verbs ---------------------------------------------------------------- */

/* Reads the table and finds the corpus. On success
 * experiments_free must follow. */
static int command_open(Command *q, const Settings *s, Error *e) {
  char path[PATH_ROOM];
  Bytes text = {0};
  *q = (Command){.s = s, .own = own_of(s), .item = -1, .only = -1};
  const char *kept = located(path, q->own->results, &s->data, &(Error){0});
  if (kept == path)
    strcpy(((Own *)q->own)->results, path);
  if (!lines_read(located(path, EXPERIMENTS_FILE, &s->data, e), &text, e))
    experiments_read(&q->x, text.at, text.size, EXPERIMENTS_FILE, e);
  bytes_free(&text);
  if (e->status)
    return e->status;
  q->corpus = corpus_asked(&q->x, q->own->corpus, e);
  if (!q->corpus)
    experiments_free(&q->x);
  return e->status;
}

/* The first flag of those that choose a row or seeds; "": none is given. */
static const char *choosing_flag(const Own *own) {
  if (own->row[0])
    return "row";
  if (own->only_seed >= 0)
    return "seed";
  return own->seeds ? "seeds" : "";
}

/* Refuses flags that ask for different things. --predict is a way to show. */
static int flags_together(const Own *own, Error *e) {
  const struct {
    const char *flag;
    bool given;
  } ASKS[] = {{"predict", own->predict},
              {"show", own->show && !own->predict},
              {"commands", own->commands},
              {"verify", own->verify},
              {"cost", own->cost}};
  const char *one = NULL;
  for (size_t i = 0; i < sizeof ASKS / sizeof *ASKS; i++) {
    if (!ASKS[i].given)
      continue;
    if (one)
      return fail(e, 2, "--%s: --%s asks for something else. Try: one of them",
                  ASKS[i].flag, one);
    one = ASKS[i].flag;
  }
  if (own->seeds && own->only_seed >= 0)
    return fail(e, 2, "--seeds: --seed names a seed. Try: without --seeds");
  return e->status;
}

/* The item and the row that are named, and whether the flags fit them. */
static int command_words(Command *q, const char **words, int n, Error *e) {
  const Experiments *x = &q->x;
  const char *flag = NULL, *of = "remedies", *some = choosing_flag(q->own);
  if (q->own->predict) {
    flag = "predict";
    of = "onset";
  } else if (q->own->cost)
    flag = "cost";
  if (flag && (!n || strcmp(words[0], of)))
    return fail(e, 2, "--%s: works only with the item %s. Try: ./paper %s --%s",
                flag, of, of, flag);
  if (flags_together(q->own, e))
    return e->status;
  if (n > 1)
    return fail(e, 2, "%s: unexpected argument. Try: ./paper help ITEM",
                words[1]);
  if (n && strcmp(words[0], "all"))
    q->item = entry_of(x->item, x->items, sizeof *x->item, words[0]);
  if (n && strcmp(words[0], "all") && q->item < 0) {
    Near near = {words[0], "list", 0};
    const size_t size = strlen(words[0]);
    for (int i = 0; i < x->items; i++) {
      const char *name = x->item[i].name;
      /* table12: table12-left */
      bool begins = !strncmp(name, words[0], size) && name[size] == '-';
      near_look(&near, begins ? words[0] : name, name);
    }
    return verb_unknown(q->s, near, e);
  }
  if (q->item >= 0 && is_elsewhere(x, q->item) && !q->own->row[0]) {
    if (q->own->verify)
      some = "verify";
    if (q->own->corpus[0])
      some = "corpus";
    if (q->own->parts[0])
      some = "parts";
    if (*some)
      return fail(e, 2, "--%s: nothing is trained for %s. Try: without --%s",
                  some, words[0], some);
  }
  if (q->own->show)
    flag = "show";
  if (flag && *some)
    return fail(e, 2, "--%s: --%s covers all rows and seeds. Try: without --%s",
                some, flag, some);
  if (!q->own->row[0])
    return 0;
  const char *in = "the table", *word = "all";
  if (q->item >= 0)
    in = word = words[0];
  q->only = experiments_row(x, q->own->row);
  if (q->only < 0 || !item_has(x, q->item, q->only))
    fail(e, 2, "--row %s: %s has no such row. Try: ./paper %s --show",
         q->own->row, in, word);
  return e->status;
}

/* What the flags ask for. By default the missing runs are made; all results
 * that there are follow, even after an error. */
static int command_do(const Command *q, Error *e) {
  Error shown = {0};
  if (q->item >= 0 && is_elsewhere(&q->x, q->item))
    return item_published(q, e);
  if (q->own->commands)
    return runs_print(q, e);
  if (q->own->cost)
    return remedies_cost(&q->x, &q->x.item[q->item], q->corpus, q->s, stdout,
                         e);
  if (q->own->verify)
    return run_verify(q, e);
  if (!q->own->show && !q->own->predict)
    runs_train(q, e);
  if (q->only < 0 && results_show(q, &shown))
    fail(e, shown.status, "%s", shown.text);
  return e->status;
}

/* ./paper ITEM, ./paper all */
static int verb_item(Settings *s, Error *e) {
  const char **words = s->words;
  const int n = s->n_words;
  Command q;
  if (!n)
    return fail(e, 2, "expected an item, or all. Try: ./paper list");
  if (command_open(&q, s, e))
    return e->status;
  if (!command_words(&q, words, n, e))
    command_do(&q, e);
  experiments_free(&q.x);
  return e->status;
}

/* The command with all results that there are; command_close must follow. */
static int command_results(Command *q, Results *r, const Settings *s,
                           Error *e) {
  *r = (Results){0};
  return command_open(q, s, e) || results_there(q->own, e) ||
         results_load(r, &q->x, q->own->results, q->corpus->name, e);
}

static int command_close(Command *q, Results *r, Bytes *out, Error *e) {
  results_free(r);
  bytes_free(out);
  experiments_free(&q->x);
  return e->status;
}

/* ./paper list */
static int verb_items(Settings *s, Error *e) {
  Command q;
  Results r;
  Bytes out = {0};
  if (!command_results(&q, &r, s, e) && !items_text(&out, &r, e)) {
    fwrite(out.at, 1, out.size, stdout);
    printf("\n./sink list shows the paper's variants.\n");
  }
  return command_close(&q, &r, &out, e);
}
