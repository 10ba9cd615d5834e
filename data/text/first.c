/* first.c - the tokens that --first-tokens draws: their weights, Data.first
 * (sink.c, 9.3); and what ids spell.
 *
 * SPDX-License-Identifier: MIT
 *
 * ./paper and ./hf include this. An ordinary id stands at --fix-token, or at
 * place 1:
 *     N       evenly one of N: of all n those numbered floor((i + 1/2) n / N)
 *     N:SET   evenly one of N others, by how often the training text has each:
 *             absent  never
 *             common  the N commonest
 *             qX      neighbours in the order of how often, N of them, whose q
 *                     is nearest to X
 *             qXwide  half of them by q = sqrt X, half such that q is X for all
 *             P%      N neighbours that together make up P percent of the text,
 *                     or nearly
 *     N^X     those of N, and N^X:SET those of N:SET, each as often as its
 *             count to the power X
 *     text    as often as the training text, of an endless grammar its held
 *             documents, has it
 *     other   evenly one that a model's training did not draw
 *     natural none is drawn
 * q is the geometric mean over N even draws of P(first | token) (first_given):
 * how well a token tells that it is first. N^X:qY has the ids of N:qY, and a q
 * of its own. X is at most 2. The tests are in data/check/test_text.c.
 */

/* Appends what the ids [n] spell. */
static int tokenizer_decode(const Tokenizer *t, const int32_t *id, size_t n,
                            Bytes *out, Error *e) {
  for (size_t i = 0, length; i < n; i++) {
    if (id[i] < 0 || id[i] >= t->vocab)
      return fail(e, 1, "tokens: expected ids 0 to %d, found %d at place %zu. "
                  "Try: the tokenizer that made them", t->vocab - 1, id[i], i);
    const unsigned char *spelling = tokenizer_token(t, id[i], &length);
    bytes_add(out, spelling, length, e);
  }
  return e->status;
}

/* N[^POWER][:SET] */
enum { SET_SPREAD, SET_ABSENT, SET_COMMON, SET_Q, SET_SHARE };
typedef struct FirstSet {
  idx N;
  double power;
  double value;   /* the q of SET_Q, the share of SET_SHARE */
  int set;
  bool wide;
} FirstSet;

/* The set behind the colon: absent, common, qX, qXwide or P%. */
static bool first_set_named(FirstSet *f, const char *set) {
  const bool q = *set == 'q';
  const char *number = set + q;
  char *end;
  if (!strcmp(set, "absent"))
    f->set = SET_ABSENT;
  if (!strcmp(set, "common"))
    f->set = SET_COMMON;
  if (f->set)
    return true;
  if (!isdigit((unsigned char)*number))
    return false;
  f->value = strtod(number, &end);
  if (q) {
    f->set = SET_Q;
    f->wide = !strcmp(end, "wide");
  } else {
    f->set = SET_SHARE;
    f->value /= 100;
  }
  return f->value > 0 && f->value <= 1 &&
         (f->wide || !strcmp(end, q ? "" : "%"));
}

static bool first_set_read(FirstSet *f, const char *what) {
  char *end;
  *f = (FirstSet){.N = strtol(what, &end, 10)};
  if (!isdigit((unsigned char)*what) || f->N < 1)
    return false;
  if (*end == '^') {
    if (!isdigit((unsigned char)end[1]))
      return false;
    f->power = strtod(end + 1, &end);
  }
  if (!*end)
    return f->power <= 2;
  return *end == ':' && f->power <= 2 && first_set_named(f, end + 1);
}

/* Does a checkpoint keep what --first-tokens drew from? It follows from the
 * training's text. */
static bool first_counted(const char *what) {
  return !strcmp(what, "text") || strpbrk(what, "^:");
}

/* How often a text has an id; the more often the earlier, and
 * then by the id. */
typedef struct Often {
  double times;
  int id;
} Often;
static int by_often(const void *a, const void *b) {
  const Often *x = a, *y = b;
  if (x->times == y->times)
    return x->id - y->id;
  return x->times > y->times ? -1 : 1;
}

/* P(first | token): of a token that is drawn with probability p at one place of
 * T, and has the share f of the text at the others, so much is first. */
static double first_given(double p, double f, int T) {
  return p > 0 ? p / (p + (T - 1) * f) : 0;
}

/* Where N neighbours of x [n] begin whose sum comes nearest to `sum`. */
static idx nearest_run(const double *x, idx n, idx N, double sum) {
  double now = 0, least = INFINITY;
  idx best = 0;
  for (idx i = 0; i < n; i++) {
    double gone = i >= N ? x[i - N] : 0;
    now += x[i] - gone;
    if (i < N - 1 || !(fabs(now - sum) < least))
      continue;
    least = fabs(now - sum);
    best = i - N + 1;
  }
  return best;
}

/* Writes 1 into d->first for each of the N ids of a set; SET_SPREAD is
 * first_set's own. by [n] holds the ordinary ids, the commonest first, of a text
 * of `total` tokens. x is an id's share of the text, or with SET_Q the logarithm
 * of P(first | id): N of them then sum to N log q. */
static int first_set_choose(Data *d, const FirstSet *f, const Often *by, idx n,
                            double total, int T, const char *what, Error *e) {
  idx have = n, from = 0, half = f->wide ? f->N / 2 : f->N;
  double *x = grab(n, sizeof *x, e), sum = f->value, got = 0;
  if (f->set == SET_ABSENT)
    for (have = 0; have < n && by[n - 1 - have].times <= 0;)
      have++;
  if (!e->status && (f->N > have || (f->wide && f->N < 2)))
    fail(e, 2, "--first-tokens %s: expected %d or more, of %lld that there "
         "are. Try: --first-tokens 16", what, 1 + f->wide, have);
  for (idx i = 0; i < n && !e->status; i++) {
    x[i] = by[i].times / total;
    if (f->set == SET_Q)
      x[i] = log(first_given(1.0 / (double)f->N, x[i], T));
  }
  if (f->set == SET_Q)
    sum = (f->wide ? 0.5 : 1) * (double)half * log(f->value);
  if (!e->status && (f->set == SET_Q || f->set == SET_SHARE))
    from = nearest_run(x, n, half, sum);
  for (idx i = 0; i < half && !e->status; i++) {
    idx at = from + i;
    if (f->set == SET_ABSENT)
      at = n - have + (2 * i + 1) * have / (2 * half);
    d->first[by[at].id] = 1;
    got += x[at];
  }
  /* the other half makes q what it is to be */
  if (f->wide && !e->status) {
    idx rest = f->N - half;
    sum = (double)f->N * log(f->value) - got;
    idx other = nearest_run(x, n, rest, sum);
    if (other + rest > from && other < from + half)
      fail(e, 2, "--first-tokens %s: its two halves share tokens. Try: without "
           "wide", what);
    for (idx i = 0; i < rest && !e->status; i++)
      d->first[by[other + i].id] = 1;
  }
  free(x);
  return e->status;
}

/* The ids of N[^POWER][:SET] into d->first, each with its weight,
 * of the text `from`. */
static int first_set(Data *d, const FirstSet *f, const Ids *from, int T,
                     const char *what, Error *e) {
  Often *by = grab(d->vocab, sizeof *by, e);
  double *often = grab(d->vocab, sizeof *often, e);
  idx n = 0;
  for (size_t i = 0; i < from->size && !e->status; i++)
    often[from->at[i]]++;
  for (int v = 0; v < d->vocab && !e->status; v++)
    if (v != d->end && v != d->bos && v != d->fix)
      by[n++] = (Often){often[v], v};
  for (idx i = 0; f->set == SET_SPREAD && i < f->N && !e->status; i++)
    d->first[by[(2 * i + 1) * n / (2 * f->N)].id] = 1;
  if (f->set != SET_SPREAD && !e->status) {
    qsort(by, (size_t)n, sizeof *by, by_often);
    first_set_choose(d, f, by, n, (double)from->size, T, what, e);
  }
  /* whole numbers: below a sum of 2^53 first_draw's subtractions are exact */
  for (int v = 0; v < d->vocab && f->power > 0 && !e->status; v++)
    if (d->first[v] > 0)
      d->first[v] = floor(1e3 * pow(often[v], f->power) + 0.5);
  free(by);
  free(often);
  return e->status;
}

/* An id by its weight, Data.draw. */
static int first_draw(const Data *d, uint64_t seed, uint64_t number) {
  Rng rng = {hash_number(seed, number)};
  double draw = floor(rng_uniform(&rng) * d->draws);
  int id = 0;
  while (id < d->vocab - 1 && draw >= d->first[id])
    draw -= d->first[id++];
  return id;
}

/* d->first and d->draws of --first-tokens (9.3): of N ids, of a text's by their
 * counts, which a model keeps of its own, or of all but these. Room for a
 * model's --vocab too. */
static int first_counts(Data *d, const Source *s, int T, Error *e) {
  const char *what = s->first_tokens, *drew = what;
  const bool other = !strcmp(what, "other");
  if (other)
    drew = s->first_own;
  const bool text = !strcmp(drew, "text"), counted = first_counted(drew);
  const bool fits = !s->vocab || d->vocab <= s->vocab;
  const bool own = counted && !T && !strcmp(s->first_own, drew);
  const double *kept = NULL;
  if (own && fits)
    kept = s->first_counts;
  const Ids *from = d->train.size ? &d->train : &d->held;
  idx all = d->vocab - (d->end >= 0) - (d->bos >= 0) - (d->fix >= 0);
  FirstSet set;
  const bool read = first_set_read(&set, drew);
  const bool known = text || (read && set.N <= all);
  if ((other && T) || (!other && !known))
    return fail(e, 2, "--first-tokens %s: expected N, N^X, N:SET, N^X:SET (N 1 "
                "to %lld, X at most 2, SET absent, common, q0.5, q0.5wide or "
                "10%%), text, or for a model other or natural. Try: "
                "--first-tokens 16", what, all);
  if (own && !fits && !text)
    return fail(e, 2, "%s: has %d tokens and the model %d. Try: --tokenizer "
                "FILE, the model's", s->tokenizer, d->vocab, s->vocab);
  if (counted && !T && !kept && (!text || !from->size))
    return fail(e, 2, "--first-tokens %s: only for the text of a training. "
                "Try: other, natural, or that training's own", what);
  if (!(d->first = grab((idx)d->vocab + s->vocab, sizeof *kept, e)))
    return e->status;
  d->draw = first_draw;
  if (kept)
    memcpy(d->first, kept, (size_t)d->vocab * sizeof *kept);
  for (size_t i = 0; text && !kept && i < from->size; i++)
    d->first[from->at[i]]++;
  if (read && !kept && first_set(d, &set, from, T, what, e))
    return e->status;
  for (int v = 0; v < d->vocab; v++) {
    if (other)
      d->first[v] = !(d->first[v] > 0);
    if (v == d->end || v == d->bos || v == d->fix)
      d->first[v] = 0;
    d->draws += d->first[v];
  }
  if (d->draws > 0)
    return 0;
  return fail(e, 2, "--first-tokens %s: there are no such tokens. Try: "
              "--first-tokens 16", what);
}

/* The same in words, d->drawn. exp(entropy): so many ids, drawn evenly, would
 * be as uncertain. */
static int first_open(Data *d, const Source *s, int T, Error *e) {
  enum { NAMED = 16 };
  const Tokenizer *t = &d->tokenizer;
  double times = 0;
  int n = 0;
  Bytes names = {0};
  /* a published tokenizer may lack either */
  bool bos = s->bos && d->bos < 0;
  if (bos || (s->fix_token && !*s->first_tokens && d->fix < 0))
    return fail(e, 2, "--%s: %s has no token for it. Try: --%s",
                bos ? "bos" : "fix-token", s->tokenizer,
                bos ? "no-bos" : "fix-token 0");
  if (!*s->first_tokens)
    return 0;
  d->first_kept = first_counted(s->first_tokens);
  snprintf(d->drawn, sizeof d->drawn, "first tokens %s", s->first_tokens);
  if ((!T && !fixed_at(s)) || first_counts(d, s, T, e))
    return e->status;
  for (int32_t v = 0; v < d->vocab; v++) {
    if (!(d->first[v] > 0))
      continue;
    times += d->first[v] * log(d->first[v]);
    if (++n > NAMED)
      continue;
    bytes_print(&names, e, t->vocab ? "|" : " %d", v);
    if (t->vocab)
      tokenizer_decode(t, &v, 1, &names, e);
  }
  for (size_t i = 0; i < names.size; i++)
    if (!isprint(names.at[i]))
      names.at[i] = '?';
  snprintf(d->drawn, sizeof d->drawn, "first tokens %s: token %d one of %d, "
           "exp(entropy) %.1f:%.*s%s", s->first_tokens, fixed_at(s), n,
           d->draws / exp(times / d->draws), (int)names.size,
           names.at ? (char *)names.at : "", n > NAMED ? " .." : "");
  bytes_free(&names);
  return e->status;
}
