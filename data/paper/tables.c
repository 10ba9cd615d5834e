/* tables.c - the results of an evaluation, of several and of a run as programs
 * read them: --csv and --json, which ./paper and ./hf have beside what ./sink
 * prints for people. pages.c includes it.
 *
 * A row of numbers and texts has names. A ratio of nothing to nothing is NaN:
 * CSV leaves the place empty, JSON has null. Numbers are written with eight
 * digits.
 *
 * SPDX-License-Identifier: MIT
 */

/* --csv - or --json -: nothing else goes to stdout. */
static bool results_alone(const Settings *s) {
  return !strcmp(s->csv, "-") || !strcmp(s->json, "-");
}

/* A row of numbers and texts with names. */
typedef struct Number {
  char name[40];
  const char *text;            /* NULL: x */
  double x;
} Number;
typedef struct Numbers {
  Number *at;
  int n;
} Numbers;

/* Adds a number to a row. */
static int put(Numbers *row, Error *e, double x, const char *name, ...) {
  Number *at = realloc(row->at, ((size_t)row->n + 1) * sizeof *at);
  va_list args;
  if (!at)
    return fail(e, 1, "out of memory. Try: again");
  row->at = at;
  at += row->n++;
  *at = (Number){.x = x};
  va_start(args, name);
  int size = vsnprintf(at->name, sizeof at->name, name, args);
  va_end(args);
  if (size < (int)sizeof at->name)
    return 0;
  return fail(e, 1, "%s..: this name is too long. Try: a shorter one",
              at->name);
}

/* The text must outlive the row. */
static void put_text(Numbers *row, Error *e, const char *name,
                     const char *text) {
  if (!put(row, e, NAN, "%s", name))
    row->at[row->n - 1].text = text;
}

static void numbers_free(Numbers *row) {
  free(row->at);
  *row = (Numbers){0};
}

/* In JSON a text that is no UTF-8 is read as Latin-1. */
static void quoted(Bytes *out, const char *text, bool json, Error *e) {
  const unsigned char *at = (const unsigned char *)text;
  size_t n = strlen(text);
  bool latin = json && utf8_length(at, n) < n;
  bytes_add(out, "\"", 1, e);
  for (; *at; at++) {
    const char *form = "%c";
    if (*at < 32 || (latin && *at > 0x7F))
      form = json ? "\\u%04x" : " ";
    else if (json && (*at == '"' || *at == '\\'))
      form = "\\%c";
    else if (*at == '"')
      form = "\"%c";
    bytes_print(out, e, form, *at);
  }
  bytes_add(out, "\"", 1, e);
}

static void result_write(const char *path, const Bytes *out, Error *e) {
  if (!strcmp(path, "-") && !e->status)
    fwrite(out->at, 1, out->size, stdout);
  else if (path[0] && !e->status)
    file_write(path, out->at, out->size, e);
}

/* What a row has by that name; NULL: nothing. */
static const Number *number_of(const Numbers *row, const char *name) {
  for (int i = 0; i < row->n; i++)
    if (!strcmp(row->at[i].name, name))
      return &row->at[i];
  return NULL;
}

/* Adds to `names` those of a row that it lacks. */
static void names_add(Numbers *names, const Numbers *row, Error *e) {
  for (int i = 0; i < row->n; i++)
    if (!number_of(names, row->at[i].name))
      put(names, e, NAN, "%s", row->at[i].name);
}

/* n rows, each behind `open`, which then becomes `next`: in JSON what each has,
 * in CSV what stands below each of `names`. */
static void rows_print(Bytes *out, const Numbers *row, int n, bool json,
                       const Numbers *names, const char *open,
                       const char *next, Error *e) {
  const char *between = json ? ", " : ",";
  for (int k = 0; k < n; k++) {
    const Numbers *has = json ? &row[k] : names;
    bytes_print(out, e, "%s", open);
    open = next;
    for (int i = 0; i < has->n; i++) {
      const Number *x = number_of(&row[k], has->at[i].name);
      if (i)
        bytes_print(out, e, "%s", between);
      if (!x)
        continue;
      if (json)
        bytes_print(out, e, "\"%s\": ", x->name);
      if (x->text)
        quoted(out, x->text, json, e);
      else if (isfinite(x->x))
        bytes_print(out, e, "%.8g", x->x);
      else if (json)
        bytes_print(out, e, "null");
    }
  }
}

/* n rows as --csv, below the names that any of them has, and as --json: a list
 * of objects, or the one object. */
static int rows_write(const Numbers *row, int n, bool list, const Settings *s,
                      Error *e) {
  Bytes csv = {0}, json = {0};
  Numbers names = {0};
  for (int k = 0; k < n; k++)
    names_add(&names, &row[k], e);
  for (int i = 0; i < names.n; i++)
    bytes_print(&csv, e, i ? ",%s" : "%s", names.at[i].name);
  rows_print(&csv, row, n, false, &names, "\n", "\n", e);
  rows_print(&json, row, n, true, &names, list ? "[{" : "{", "},\n {", e);
  numbers_free(&names);
  bytes_print(&csv, e, "\n");
  bytes_print(&json, e, list ? "}]\n" : "}\n");
  result_write(s->csv, &csv, e);
  result_write(s->json, &json, e);
  bytes_free(&csv);
  bytes_free(&json);
  return e->status;
}

static int results_ready(const Settings *s, Error *e) {
  return outputs_ready(s, (const char *[]){s->csv, s->json, s->report}, 3, e);
}

static int eval_numbers(Numbers *all, const Sinks *r, const Settings *s,
                        Error *e) {
  double row[ROW];
  sinks_row(r, &s->model, r->loss, row);
  put(all, e, s->eps, "eps");
  put(all, e, r->T, "T");
  put(all, e, r->n, "n");
  for (int k = 0; k < ROW; k++)
    put(all, e, row[k], "%s", ROW_COLUMNS[k].name);
  put(all, e, r->massive, "massive");
  put(all, e, r->median, "median");
  put(all, e, sinks_self(r), "alpha_self");
  return put(all, e, sinks_prev(r), "alpha_prev");
}

/* What an evaluation measured: of which text, the numbers, and `besides` what
 * other flags asked for. */
static void eval_write(const Work *w, const Numbers *besides, const Settings *s,
                       Error *e) {
  Numbers row = {0};
  bool natural = s->input == INPUT_NATURAL;
  put_text(&row, e, "text", natural ? w->o.text : "");
  put_text(&row, e, "read", natural ? w->o.read : "");
  if (*w->t.data.drawn)
    put_text(&row, e, "first", w->t.data.drawn);
  eval_numbers(&row, &w->o.s, s, e);
  for (int i = 0; i < besides->n; i++)
    put(&row, e, besides->at[i].x, "%s", besides->at[i].name);
  rows_write(&row, 1, false, s, e);
  numbers_free(&row);
}

/* The table of a run, a row for each of its n trainings. */
static int run_write(const Outcome *o, int n, const Settings *s, Error *e) {
  Numbers *rows = grab(n, sizeof *rows, e);
  for (int i = 0; rows && i < n; i++) {
    put_text(&rows[i], e, "arm", o[i].name);
    put_text(&rows[i], e, "text", o[i].text);
    put_text(&rows[i], e, "read", o[i].read);
    for (int k = 0; k < ROW; k++)
      put(&rows[i], e, o[i].row[k], "%s", ROW_COLUMNS[k].name);
  }
  if (!e->status)
    rows_write(rows, n, true, s, e);
  for (int i = 0; rows && i < n; i++)
    numbers_free(&rows[i]);
  free(rows);
  return e->status;
}
