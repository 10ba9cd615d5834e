/* resume.c - a training that goes on: --resume, which ./paper and ./hf have. It
 * goes on where --out's file stopped and ends in the bytes, of checkpoint and
 * log, of one that never stopped. pages.c includes it.
 *
 * Here too are the looks of a training, as its log has them: a page and a table
 * draw these.
 *
 * SPDX-License-Identifier: MIT
 */

/* The settings of a run that goes on: the file's, in s, and of the command
 * line's, `said`, what a checkpoint does not keep and what may change. That is
 * when the run ends and saves, and where files are. Any other flag that was
 * given must say what the file says. */
static void settings_go_on(Settings *s, const Settings *said, const char *file,
                           Error *e) {
  char is[PATH_ROOM], was[PATH_ROOM];
  Settings now = *said;
  now.model = s->model;
  now.data.first_counts = s->data.first_counts;
  strcpy(now.data.first_own, s->data.first_own);
  for (const Option *o = OPTIONS; o->flag; o++) {
    bool source = has_word("text grammar tokens", o->flag);
    bool given = source ? source_named(&said->data) : said->given[o - OPTIONS];
    if (!(o->groups & KEPT))
      continue;
    option_text(o, s, was, sizeof was);
    option_text(o, said, is, sizeof is);
    if (!given)
      option_set(o, &now, was, false, e);
    else if (strcmp(is, was) && !source &&
             !has_word("steps tokenizer save-every log-every", o->flag))
      fail(e, 2, "--%s %s: %s has %s; --resume can change only --steps, "
           "--save-every, --log-every. Try: leave it out", o->flag, is, file,
           *was ? was : "none");
  }
  *s = now;
}

/* A trainer whose model and place in the text were read, at that place. It must
 * be the same text and tokenizer, by their hashes. A model without either, an
 * imported one, must have the tokenizer's vocabulary. */
static int trainer_again(Trainer *t, Error *e) {
  const Source *d = &t->s.data;
  const Data was = t->data;
  const uint64_t own = t->tokenizer_hash;
  const int vocab = t->s.model.vocab;
  if (trainer_ready(t, e))
    return e->status;
  bool same = own ? own == t->tokenizer_hash : vocab == t->data.vocab;
  if (!d->tokens[0] && !same)
    fail(e, 1, "%s: expected the tokenizer of the model. Try: --tokenizer FILE",
         d->tokenizer);
  if (was.source && was.source != t->data.source)
    fail(e, 1, "%s: expected the text it was trained on, found another in %s. "
         "Try: --text, --grammar or --tokens as before", t->s.out,
         source_name(d));
  t->data.sample = was.sample;
  t->data.document = was.document;
  t->data.offset = was.offset;
  return e->status;
}

static void say_new_run(const Settings *s) {
  if (!s->quiet)
    fprintf(stderr, "%s: %s does not exist yet: starting a new run\n",
            s->program->name, s->out);
}

/* A training of settings s and a row's flags, from --out's file, or where that
 * is not there from its beginning. */
static int trainer_resume(Trainer *t, const Settings *s, const char *flags,
                          Error *e) {
  Settings now = *s;
  if (file_missing(s->out)) {
    say_new_run(s);
    now.resume = 0;
    if (!trainer_begin(t, &now, flags, e))
      t->s.resume = 1;
    return e->status;
  }
  if (settings_flags(&now, flags, MODEL, e) ||
      checkpoint_load(s->out, true, t, e))
    return e->status;
  settings_go_on(&t->s, &now, s->out, e);
  memcpy(t->s.given, s->given, sizeof s->given);   /* not the row's */
  long step = t->step, steps = t->s.train.steps;
  if (!t->m1)
    fail(e, 1, "%s: has only parameters. Try: without --resume", s->out);
  if (steps < step)
    fail(e, 2, "--steps %ld: %s has already done %ld. Try: more", steps, s->out,
         step);
  if (e->status || settings_refuse_idle(&t->s, e) || trainer_again(t, e))
    trainer_free(t);
  else if (!s->quiet)
    fprintf(stderr, "%s: %s: resuming from step %ld of %ld\n",
            s->program->name, s->out, step, steps);
  return e->status;
}

/* Keeps a line of the log as a look, with the log's digits, since a run that is
 * resumed has its looks from there. Returns its step, 0 for a line of words. */
static long look_keep(Progress *p, const char *line) {
  Look x = {0};
  int n = sscanf(line, "%ld,%*f,%lf,%lf,%*f,%lf,%lf,%lf,%lf,%lf", &x.step,
                 &x.loss, &x.norm, &x.alpha1, &x.sink1, &x.alpha_star,
                 &x.sink_star, &x.ratio);
  if (n != 8)
    return x.step;
  if (p->looks == LOOKS)   /* full: every other one goes */
    for (p->looks = 0; p->looks < LOOKS / 2; p->looks++)
      p->look[p->looks] = p->look[2 * p->looks + 1];
  p->look[p->looks++] = x;
  return x.step;
}

/* The log of a run that goes on: the lines up to t->step of the one that is
 * there, of which the last must be the last look's. */
static int log_again(const Trainer *t, Progress *p, Bytes *log, Error *e) {
  const char *path = t->s.log;
  long looked = t->step - t->loss_steps, last = 0;
  log->size = 0;
  if (file_read(path, log, e) || bytes_add(log, "", 1, e))
    return e->status;
  const char *text = (const char *)log->at;
  if (strncmp(text, LOG_HEAD, sizeof LOG_HEAD - 1))
    return fail(e, 1, "%s: not the log of this run. Try: another --log, or of "
                "--parts delete it", path);
  const char *line = text + sizeof LOG_HEAD - 1;
  for (const char *end; (end = strchr(line, '\n')); line = end + 1) {
    if (strtol(line, NULL, 10) > t->step || !strncmp(line, "# step ", 7))
      break;
    last = look_keep(p, line);
  }
  log->size = (size_t)(line - text);
  if (last == looked)
    return 0;
  return fail(e, 1, "%s: ends at step %ld, not at %ld. Try: another --log, or "
              "of --parts delete it", path, last, looked);
}

/* Program.log: before the first line, NULL, and after each. */
static int log_keep(Trainer *t, Progress *p, Bytes *log, const char *line,
                    Error *e) {
  if (line) {
    look_keep(p, line);
    if (p->holds)
      held_loss(&p->look[p->looks - 1].held, t, LOOK_N, e);
    return e->status;
  }
  if (*t->data.drawn) {   /* --first-tokens */
    bytes_print(log, e, "# %s\n", t->data.drawn);
    if (!t->s.quiet)
      fprintf(stderr, "%s: %s\n", t->s.program->name, t->data.drawn);
  }
  if ((t->step || t->s.resume) && t->s.log[0] && !file_missing(t->s.log))
    log_again(t, p, log, e);
  return e->status;
}
