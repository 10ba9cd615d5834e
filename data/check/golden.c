/* golden.c - reads a text of an independent program's numbers and holds ours to
 * them: data/check/golden/paper.txt (test_sink.c), golden.txt (test_rows.c),
 * hf_tiny.txt and hf_families.txt (the tests of ./hf).
 *
 * SPDX-License-Identifier: MIT */

typedef struct Golden {
  const char *path;        /* of the text, for errors */
  const char *at;          /* what is left of the text; a 0 byte ends it */
  int line;                /* of the file, from 1 */
  int changed;             /* numbers that differ by more than bound */
  long numbers;            /* compared so far */
  double bound, worst;     /* relative to the scale of each kind of number */
  char first[400];         /* the first that differed */
  char what[160];          /* the one that came nearest to bound */
  Error e;                 /* what is wrong with the text itself */
} Golden;

/* Where the last line of n bytes begins. */
static size_t last_line(const char *at, size_t n) {
  while (n > 1 && at[n - 2] != '\n')
    n--;
  return n ? n - 1 : 0;
}

/* The text, checked against its last line, "end CONFIGS LINES SUM". 0, or 1
 * with an error. */
static int golden_read(const char *path, Bytes *text, int *configs, Error *e) {
  static const char *const TRY = "Try: git checkout data/check/golden";
  int lines = 0, told = -1, used = 0;
  unsigned long long sum = 0, is;
  text->size = 0;
  *configs = 0;
  if (file_read(path, text, e) || bytes_add(text, "", 1, e))
    return 1;
  size_t size = text->size - 1, last = last_line((const char *)text->at, size);
  const char *at = (const char *)text->at;
  for (size_t i = 0; i < last; i++)
    lines += at[i] == '\n';
  const int found =
      sscanf(at + last, "end %d %d %16llx%n", configs, &told, &sum, &used);
  if (found != 3 || strcmp(at + last + used, "\n"))
    return fail(e, 1,
                "%s: expected a last line \"end CONFIGS LINES SUM\", found "
                "%.40s. %s",
                path, size ? at + last : "nothing", TRY);
  is = hash64(0, at, last);
  if (told != lines || is != sum)
    return fail(e, 1,
                "%s: expected %d lines of sum %016llx, found %d of %016llx. %s",
                path, told, sum, lines, is, TRY);
  return 0;
}

/* Steps over these words if the text goes on with them; an error if not. */
static bool golden_words(Golden *g, const char *format, ...) {
  char words[64];
  PRINT_ARGUMENTS(words, sizeof words);
  size_t n = strlen(words);
  if (g->e.status)
    return false;
  if (strncmp(g->at, words, n)) {
    int rest = (int)at_most((idx)strcspn(g->at, "\n"), 40);
    fail(&g->e, 1, "%s:%d: expected \"%s\", found \"%.*s\"", g->path, g->line,
         words, rest, g->at);
    return false;
  }
  g->at += n;
  return true;
}

/* n numbers, a space before each, and the end of the line. */
static bool golden_numbers(Golden *g, int n, double *x) {
  for (int i = 0; i < n && !g->e.status; i++) {
    char *end = NULL;
    if (*g->at == ' ')
      x[i] = strtod(g->at + 1, &end);
    if (!end || end == g->at + 1 || !isfinite(x[i]))
      fail(&g->e, 1, "%s:%d: expected number %d of %d, found \"%.*s\"", g->path,
           g->line, i + 1, n, (int)strcspn(g->at, " \n"), g->at);
    else
      g->at = end;
  }
  if (!golden_words(g, "\n"))
    return false;
  g->line++;
  return true;
}

/* Holds one of our numbers to the twin's. */
static void golden_meet(Golden *g, double ours, double theirs, double scale,
                        const char *what) {
  double error = ours == theirs ? 0 : fabs(ours - theirs) / scale;
  g->numbers++;
  if (!isnan(g->worst) && !(error <= g->worst)) {
    g->worst = error;
    snprintf(g->what, sizeof g->what, "%s, %s:%d", what, g->path, g->line - 1);
  }
  if (error <= g->bound || g->changed++)
    return;
  snprintf(g->first, sizeof g->first, "%s:%d: %s is %.12g here, %.12g there",
           g->path, g->line - 1, what, ours, theirs);
}
