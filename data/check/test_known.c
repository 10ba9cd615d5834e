/* test_known.c - the tests of known.c: a row that sees itself alone, ranks, the
 * probe. A part of test_onset.c, which includes it.
 *
 * SPDX-License-Identifier: MIT */

/* ---- 2: --isolate ---- */

/* Every row of sequence b as it stands after block l, from 0: [N,C]. */
static const real *rows_after(const Lab *b, int l, int seq) {
  const Config *c = &b->m.c;
  return (l + 1 < c->layers ? b->a.layer[l + 1].x : b->a.h) +
         (idx)seq * b->a.N * c->dim;
}

/* After block 1 every row but the isolated one keeps its bits, or in the plain
 * form comes to the same; the blocks as a whole change, unless the row is row
 * 1 and sees itself alone as it is. */
static void isolated_others(Test *t, const Lab *b, const Lab *cut, int seq,
                            int row, int at) {
  const int C = b->m.c.dim;
  const bool still = at == 1 && !b->m.c.prefix, plain = cut->m.plain;
  const double tight = 2000 * REAL_EPS;
  const real *now = rows_after(cut, 0, seq), *was = rows_after(b, 0, seq);
  for (idx i = 0; i < b->a.N; i++) {
    const real *x = now + i * C, *y = was + i * C;
    bool kept = plain ? distance(C, x, y) < tight : same_numbers(C, x, y);
    fact(t, i == row || kept, "%s: %lld, not %d", b->flags, i, row);
  }
  for (int l = 0; l < 2; l++) {
    double by = distance(b->a.N * C, rows_after(cut, l, seq),
                         rows_after(b, l, seq));
    fact(t, still ? by < tight && (plain || by == 0) : by > 1e-3,
         "%s: block %d changes %g", b->flags, l + 1, by);
  }
}

/* In the map of block 1 the isolated row sees itself alone, and no token
 * before it. */
static void isolated_map(Test *t, const Lab *cut, int seq, int row, int at) {
  const Config *c = &cut->m.c;
  const idx S = config_columns(c, cut->T);
  const real *m = cut->probe[0].metric +
                  ((idx)seq * c->heads * cut->a.N + row) * S +
                  S - cut->T + at - 1;
  fact(t, c->extra || c->sink_token || fabs((double)*m - 1) < 1e-6,
       "%s: it sees itself by %g", cut->flags, (double)*m);
  for (int j = 1; j < at; j++)
    fact(t, m[-j] == 0, "%s: it sees others", cut->flags);
}

/* After block 1 the isolated row's state is that of its token as a sequence of
 * one, but for a learned position: p_T is not p_1. */
static void isolated_state(Test *t, const Lab *cut, const Lab *one, int seq,
                           int row, int at) {
  const int C = cut->m.c.dim, first = cut->m.c.sink_token;
  const bool other = cut->m.c.pos == POS_LEARNED && at > 1;
  const real *now = rows_after(cut, 0, seq) + row * C;
  double off = distance(C, now, rows_after(one, 0, seq) + first * C);
  fact(t, other ? off > 1e-3 : off < 2000 * REAL_EPS,
       "%s, plain %d: row %d is %g off one alone", cut->flags, cut->m.plain, at,
       off);
}

/* Isolates token `at` of every sequence of `cut`, which is b in all else. */
static void isolated_at(Test *t, const Lab *b, Lab *cut, Lab *one, int at) {
  const int first = b->m.c.sink_token, row = first + at - 1;
  const int sees[] = {row, row};
  const Isolation x = {1, first, row, sees};
  cut->a.hide = isolate_hide;
  cut->a.isolation = &x;
  lab_forward(cut);
  for (int seq = 0; seq < b->B; seq++) {
    one->ids[seq] = b->ids[seq * b->T + at - 1];
    isolated_others(t, b, cut, seq, row, at);
    isolated_map(t, cut, seq, row, at);
  }
  lab_forward(one);
  for (int seq = 0; seq < b->B; seq++)
    isolated_state(t, cut, one, seq, row, at);
}

/* An isolated row's state after block 1 is that of its token as a sequence of
 * one; rows before it keep their bits in every block, all others in block 1;
 * the plain form comes to the same, its maps too; and row 1 isolated changes
 * nothing. Tokens 1, 20 and 50 lie in two tiles of 32 rows. */
static void isolate__identity(Test *t) {
  static const char *const FLAGS[] = {
    "", "--pos none --extra kv", "--pos t5 --window 25",
    "--pos alibi --kv-heads 1 --place post",
    "--sim sigmoid --normalizer one --vbias", "--prefix 3 --combine add",
    "--extra zero", "--kernel elu --sim identity --normalizer clamp --pos none",
    "--sink-token --pos none", "--pos learned", "--extra logn",
    "--sim sigmoid --normalizer count --score-bias logn"};
  static const int AT[] = {1, 20, 50};
  enum { B = 2, T = 70 };
  EACH (f, FLAGS)
    LABS (b, B, T, FLAGS[f])
      LABS (cut, B, T, FLAGS[f])
        LABS (one, B, 1, FLAGS[f]) {
          lab_share(&cut, &b);
          lab_share(&one, &b);
          lab_forward(&b);
          lab_maps(&cut);
          rows_watch(&cut.m);
          EACH (k, AT)
            for (int plain = 0; plain < 2; plain++) {
              cut.m.plain = plain;
              isolated_at(t, &b, &cut, &one, AT[k]);
            }
        }
}

/* In the first blocks a row sees of the tokens sees[b] alone. */
static void others_hide(const Acts *a, int l, idx b, idx i, idx lo, idx n,
                        real *z) {
  const Isolation *x = a->isolation;
  for (idx j = x->first; l < x->blocks && i == x->row && j < lo + n; j++)
    if (j >= lo && j != x->sees[b])
      z[j - lo] = -INFINITY;
}

/* A trainer, stirred so that heads differ, its first tokens, and a lab of B of
 * its sequences. */
static bool known_open(Test *t, const char *flags, int B, int T, Trainer *r,
                       Firsts *f, Lab *b) {
  Rng stir = {5};
  int starts;
  Error *e = &t->e;
  if (!trainer_made(t, r, flags))
    return false;
  for (idx i = 0; i < r->m.count; i++)
    r->m.params[i] += (real)(0.5 * rng_normal(&stir));
  *b = (Lab){.m = r->m, .B = B, .T = T};
  b->ids = zeroed(B * T, sizeof(int));
  b->targets = zeroed(B * T, sizeof(int));
  if (acts_create(&b->a, &r->m, B, T, ACTS_ALL, e) ||
      firsts_open(f, &r->data, &r->s.data, "x", e))
    fact(t, false, "%s: %s", flags, e->text);
  lab_maps(b);
  rows_watch(&b->m);
  const int got = data_probe(&r->data, &r->s.data, INPUT_NATURAL, B, T, b->ids,
                             b->targets, &starts);
  fact(t, got == B, "%s: %d sequences", flags, got);
  return got == B;
}

/* What known_open made. The lab's model is the trainer's. */
static void known_close(Trainer *r, Firsts *f, Lab *b) {
  b->m = (Model){0};
  lab_close(b);
  firsts_close(f);
  trainer_free(r);
}

/* Of tokens 1 and `at` by hand: alpha and Sink of the rows behind `at`, means
 * over heads and sequences. */
static void isolated_alpha(const Lab *b, int at, double eps,
                           double x[ISOLATED]) {
  const int L = b->m.c.layers, T = b->T, all = b->B * L * b->m.c.heads;
  const idx N = b->a.N, S = config_columns(&b->m.c, T);
  for (int i = 0; i < all; i++)
    for (int k = 0; k < 2; k++) {
      const real *map = b->probe[i % L].metric + i / L * N * S;
      const idx column = S - T + (k ? at - 1 : 0);
      double alpha = 0, *of = k ? x + 3 : x;
      for (idx q = N - T + at; q < N; q++)
        alpha += (double)map[q * S + column] / (T - at);
      of[0] += alpha / all;
      of[1] += (alpha > eps) * 1.0 / all;
    }
}

/* Of the same two: the largest, over the blocks, of their norm over the mean
 * of the other tokens'. */
static void isolated_norms(const Lab *b, int at, double x[ISOLATED]) {
  const int C = b->m.c.dim, T = b->T, from = (int)b->a.N - T;
  for (int l = 0; l < b->m.c.layers; l++) {
    double norm[16] = {0}, rest = 0;   /* norm [T], T <= 16 */
    for (int i = 0; i < b->B * T; i++)
      norm[i % T] += length(C, rows_after(b, l, i / T) + (from + i % T) * C);
    for (int i = 1; i < T; i++)
      if (i != at - 1)
        rest += norm[i] / (T - 2);
    x[2] = fmax(x[2], norm[0] / rest);
    x[5] = fmax(x[5], norm[at - 1] / rest);
  }
}

/* The token, from 0, that token `at` sees under a treatment. */
static int isolated_sees(int how, int at, int drawn) {
  if (how == ITSELF)
    return at - 1;
  return how == ONLY_DRAWN ? drawn : 0;
}

/* isolate() against its definition: who sees whom, columns, rows, norms, the
 * tokens of each kind. A NaN is one in both numbers. */
static void isolate__numbers(Test *t) {
  enum { T = 12, N = 21, AT = 6 };
  static const char *const FLAGS[] = {
      "--layers 2 --first-tokens 4 --extra kv", "--layers 2",
      "--layers 2 --fix-token 1", "--layers 2 --sink-token --first-tokens 4"};
  EACH (f, FLAGS) {
    Trainer r;
    Error e = {0};
    Isolated at;
    Firsts first;
    Lab b;
    int own[N], place[N], sees[N];
    Rng drawn = {hash64(3, "isolate", 7)};
    if (!known_open(t, FLAGS[f], N, T, &r, &first, &b))
      return;
    r.s.isolate_blocks = 1 + f % 2;
    r.s.isolate = AT;
    fact(t, !isolate(&at, &r.m, &r.data, &r.s, N, T, &e), "%s", e.text);
    const int from = (int)b.a.N - T;
    const Isolation only = {1 + f % 2, from, from + AT - 1, sees};
    b.a.isolation = &only;
    for (int n = 0; n < N; n++) {
      own[n] = b.ids[n * T + AT - 1];
      place[n] = 1 + (int)rng_below(&drawn, AT - 2);
    }
    for (int k = 0; k < TOKENS_AT * TREATMENTS; k++) {
      const int kind = k / TREATMENTS, how = k % TREATMENTS;
      const bool is = kind == OF_TEXT || f == 0 || f == 3 ||
                      (f == 2 && kind == WAS_FIRST);
      double x[ISOLATED] = {0};
      for (int n = 0; n < N; n++) {
        int *id = &b.ids[n * T + AT - 1];
        sees[n] = from + isolated_sees(how, AT, place[n]);
        if (kind == OF_TEXT)
          *id = own[n];
        else
          *id = fixed_id(&first.of[kind], HELD_SEED + AT, (uint64_t)n);
      }
      b.a.hide = how ? others_hide : NULL;
      lab_forward(&b);
      isolated_alpha(&b, AT, r.s.eps, x);
      isolated_norms(&b, AT, x);
      for (int i = 0; i < ISOLATED; i++)
        is_what(t, at.x[kind][how][i], is ? x[i] : NAN,
                ISOLATED_COLUMNS[i].name);
    }
    for (uint64_t i = 0; i < 50 && first.is[NEVER_FIRST]; i++)
      fact(t,
           r.data.first[fixed_id(&first.of[WAS_FIRST], 3, i)] > 0 &&
               !(r.data.first[fixed_id(&first.of[NEVER_FIRST], 3, i)] > 0),
           "first tokens");
    r.m.layer[0].wq.w[0] = NAN;
    isolate(&at, &r.m, &r.data, &r.s, N, T, &e);
    fact(t, isnan(at.x[OF_TEXT][0][0]) && isnan(at.x[OF_TEXT][0][1]), "a NaN");
    known_close(&r, &first, &b);
  }
}

/* Behind token 2 a window of 5 shows token 1 to three of ten rows, which see *
 * too; the last row that may be isolated is 5. 8 is 4 times 1 and 3's mean. A
 * fixed token that is not the first is refused. */
static void isolate__by_hand(Test *t) {
  static const double NORM[] = {8, 1, 4, 3};
  Error e = {0};
  const Settings five = {.isolate = 5, .isolate_blocks = 1};
  const Settings six = {.isolate = 6, .isolate_blocks = 1};
  const Settings both = {.isolate = 6, .isolate_blocks = 2};
  LABS (b, 1, 12, "--window 5", "--window 5 --extra k") {
    const double star = b.n - 1;   /* a row has one key more */
    within(t, isolate_even(&b.m, 12, 2),
           (1 / (3 + star) + 1 / (4 + star) + 1 / (5 + star)) / 10, 1e-15,
           "even%s", b.flags);
    fact(t, !isolate_check(&five, &b.m, 12, &e), "%s", e.text);
    fact(t, isolate_check(&six, &b.m, 12, fresh(t)) == 2, "row 6");
    b.m.layer[0].window = 12;   /* of a second block alone: */
    fact(t, isolate_check(&both, &b.m, 12, fresh(t)) == 2, "block 2");
  }
  Trainer *r = trainer_of(t, "--fix-token 2");
  Firsts first;
  fact(t,
       firsts_open(&first, &r->data, &r->s.data, "x", fresh(t)) == 2 &&
           strstr(t->e.text, "fixed token is token 1, found token 2"),
       "%s", t->e.text);
  fact(t,
       isolated_ratio(NORM, 4, 0, 0, 2) == 4 &&
           isolated_ratio(NORM, 4, 0, 2, 0) == 2,
       "norms");
}

/* ---- 3 and 4: ranks and the probe ---- */

static void auc__known(Test *t) {
  static const struct {
    const char *what;
    double one[3], other[2], is;
    int n, m;
  } CASES[] = {
    {"apart",         {3, 4, 5},        {1, 2},   1,       3, 2},
    {"the other way", {1, 2, 0},        {3, 4},   0,       3, 2},
    {"equal",         {1, 1, 1},        {1, 1},   0.5,     3, 2},
    {"mixed",         {1, 3, 2},        {2, 0},   4.5 / 6, 3, 2},
    {"NaN",           {1, NAN, 2},      {0, 0},   NAN,     3, 2},
    {"NaN there",     {1, 2, 3},        {0, NAN}, NAN,     3, 2},
    {"none",          {0},              {1, 2},   NAN,     0, 2},
    {"none there",    {1, 2, 3},        {0},      NAN,     3, 0},
    {"infinite",      {INFINITY, 1, 1}, {0, 0},   1,       3, 2}};
  EACH (i, CASES)
    is_what(t, auc(CASES[i].one, CASES[i].n, CASES[i].other, CASES[i].m),
            CASES[i].is, CASES[i].what);
}

/* The probe is where its sum of squares has no slope, with fewer rows than dims
 * and more. */
static void probe_fit__least_squares(Test *t) {
  enum { MOST = 20 };
  for (int C = 3; C <= 17; C += 14) {
    double x[MOST * MOST], low[MOST * MOST], y[MOST], left[MOST], w[MOST];
    double mean = 0, square = 0;
    Rng r = {5};
    const int n = 10;
    for (int i = 0; i < MOST * C; i++)
      x[i] = 3 + rng_normal(&r);
    for (int i = 0; i < n; i++)
      y[i] = left[i] = i % 2 ? -1 : 1;
    probe_scale(x, MOST, n, C);
    for (int i = 0; i < n; i++) {
      mean += x[i * C + 1];
      square += inner(C, x + i * C, x + i * C);
    }
    within(t, mean, 0, 1e-12, "the mean of a dim");
    within(t, square / n, 1, 1e-12, "the mean square length");
    probe_factor(low, x, n, C);
    probe_fit(w, low, x, y, n, C);
    for (int c = 0; c < C; c++) {
      double slope = -RIDGE * w[c];
      for (int i = 0; i < n; i++)
        slope += (left[i] - inner(C, w, x + i * C)) * x[i * C + c];
      within(t, slope, 0, 1e-10, "%d dims, slope %d", C, c);
    }
    fact(t, inner(C, w, w) > 1e-3, "it is 0");
  }
}

/* What known() reads: rows 1 and a drawn one, where the next sequence's
 * first token is written; cosines of those of other tokens; whose labels
 * are exchanged. */
static void known_gather__tokens(Test *t) {
  enum { T = 5, N = 20, L = 2 };
  Trainer r;
  Known k;
  Firsts first;
  Lab b;
  Error e = {0};
  Rng drawn = {hash64(3, "probe", 5)};
  int place[N], token[N], spare[N * T], at;
  if (!known_open(t, "--layers 2 --sink-token --first-tokens 4", N, T, &r,
                  &first, &b))
    return;
  if (known(&k, &r.m, &r.data, &r.s, N, T, &e)) {
    fact(t, false, "%s", e.text);
    return;
  }
  for (int n = 0; n < N; n++)
    place[n] = 1 + (int)rng_below(&drawn, T - 1);
  for (int n = 0; n < N; n++) {
    double flip = n % 2 ? 1 - k.flip[n - 1] : (double)rng_below(&drawn, 2);
    fact(t, k.flip[n] == flip, "%d", n);
  }
  for (int kind = 0; kind < 2; kind++) {
    data_probe(&first.of[kind], &first.source, INPUT_NATURAL, N, T, b.ids,
               spare, &at);
    for (int n = 0; n < N; n++)
      token[n] = b.ids[n * T];
    for (int n = 0; n < N; n++)
      b.ids[n * T + place[n]] = token[(n + 1) % N];
    lab_forward(&b);
    for (int l = 0; l <= L; l++)
      for (int i = 0; i < 2; i++) {
        double sum = 0;
        int pairs = 0;
        const idx C = k.C;
        const real *h = k.h + (l * k.rows + 2 * kind * N + i) * C;
        for (int n = 0; n < N; n++)
          for (int far = 1; far < 9; far++) {
            const int m = (n + far) % N;
            const real *x = h + 2 * n * C, *y = h + 2 * m * C;
            const real *row = rows_after(&b, l - 1, n) + (1 + i * place[n]) * C;
            fact(t, same_numbers(C, x, row), "row %d", n);
            if (token[(n + i) % N] == token[(m + i) % N])
              continue;
            sum += (double)vec_dot(C, x, y) / length(C, x) / length(C, y);
            pairs++;
          }
        within(t, k.told[l][kind][i ? T_LATER : T_COSINE], sum / pairs, 1e-12,
               "cosines %d", l);
      }
  }
  known_free(&k);
  known_close(&r, &first, &b);
}

/* Of two judged sequences row 1 scores 3, above the later row's 1, and 2, at
 * the threshold and below 5, where the labels are exchanged. Then there is
 * no threshold. */
static void known_judge__by_hand(Test *t) {
  const double score[16] = {[12] = 3, 1, 2, 5}, flip[4] = {1, 1, 0, 1};
  double y[8], right[2];
  Known two = {.n = 4, .half = 2, .y = y};
  within(t, known_judge(&two, 1, score, flip, 2, right), 1, 0,
         "AUC of exchanged labels");
  within(t, known_judge(&two, 1, score, NULL, NAN, right + 1), 0.5, 0, "AUC");
  fact(t, right[0] == 2.5 / 4 && isnan(right[1]), "right %g, %g", right[0],
       right[1]);
}

/* States by hand: row 1 is apart from the later ones by norm, by direction, by
 * both, by neither, or on first tokens of training alone. */
typedef struct KnownCase {
  const char *what;
  double norm;            /* row 1's length over a later one's */
  double shift, never;    /* what its dim 3 has more: on tokens first in
                           * training, and on others */
  double norms[2];        /* AUC of the norm, by kind of token */
  double probes[2];       /* that of the probe */
} KnownCase;

static const KnownCase KNOWN_CASES[] = {
  {"neither",   1,   0, 0,  {0.5, 0.5}, {0.5, 0.5}},
  {"norm",      3,   0, 0,  {1, 1},     {0.5, 0.5}},
  {"smaller",   0.3, 0, 0,  {1, 1},     {0.5, 0.5}},
  {"direction", 1,   9, 9,  {0.5, 0.5}, {1, 1}},
  {"by heart",  1,   9, 0,  {0.5, 0.5}, {1, 0.5}},
  {"both",      3,   9, 9,  {1, 1},     {1, 1}},
  {"other way", 1,   9, -9, {0.5, 0.5}, {1, 0}}};

enum { KNOWN_N = 200, KNOWN_C = 12 };

static void states_draw(Known *k, const KnownCase *is, Rng *r) {
  enum { N = KNOWN_N, C = KNOWN_C };
  for (idx row = 0; row < k->rows; row++) {
    const bool first = row % 2 == 0;
    const double shift = row < 2 * N ? is->shift : is->never;
    double x[C];
    for (int d = 0; d < C; d++)
      x[d] = rng_normal(r);
    if (first)
      x[3] += shift;
    double by = (first ? is->norm : 1) * (1 + rng_uniform(r) / 20) /
                sqrt(inner(C, x, x));
    for (int d = 0; d < C; d++)
      k->h[row * C + d] = (real)(by * x[d]);
  }
  for (int b = 0; b < N; b++) {
    k->flip[b] = (b + b / 2) % 2;
    k->token[b] = k->token[N + b] = b % 7;
  }
}

/* What tells, and what does not, on tokens of this kind. */
static void states_told(Test *t, const Known *k, const KnownCase *is,
                        int kind) {
  enum { N = KNOWN_N, C = KNOWN_C };
  const double *told = k->told[0][kind];
  const double norms = is->norms[kind], probe = is->probes[kind];
  const double shift = kind ? is->never : is->shift;
  const double off = 0.12;
  double norm = 0;
  for (int b = 0; b < N; b++)
    norm += length(C, k->h + 2 * (kind * N + b) * C) / N;
  within(t, told[T_NORM], norm, 1e-12, "%s: norm of row 1, %d", is->what, kind);
  within(t, told[T_NORM_AUC], norms, off, "%s: norm, %d", is->what, kind);
  within(t, told[T_NORM_RIGHT], norms, off, "%s: right", is->what);
  within(t, told[T_AUC], probe, off, "%s: probe, %d", is->what, kind);
  /* what is told the wrong way round is right in half at most */
  if (probe == 0)
    within(t, told[T_RIGHT], 0.25, 0.26, "%s: right, %d", is->what, kind);
  else
    within(t, told[T_RIGHT], probe, off, "%s: right, %d", is->what, kind);
  within(t, told[T_RATIO], is->norm, 0.02 * is->norm, "%s: ratio", is->what);
  fact(t,
       (told[T_COSINE] > 0.6) == (fabs(shift) > 0) &&
           fabs(told[T_LATER]) < 0.1,
       "%s: cosine %g", is->what, told[T_COSINE]);
}

/* What tells, what does not, and the shuffled labels; a NaN in the half that is
 * judged; states that are all alike; and states that tell no side, but the
 * exchanged labels. */
static void known_block__by_hand(Test *t) {
  enum { N = KNOWN_N, C = KNOWN_C };
  EACH (i, KNOWN_CASES)
    for (int bad = 0; bad < 2; bad++) {
      Known k;
      Error e = {0};
      Rng r = {17};
      const Config c = {.dim = C};
      if (known_room(&k, &c, N, &e)) {
        fact(t, false, "%s", e.text);
        return;
      }
      k.is[WAS_FIRST] = k.is[NEVER_FIRST] = true;
      states_draw(&k, &KNOWN_CASES[i], &r);
      if (bad)
        k.h[(2 * N - 1) * C] = k.h[(4 * N - 1) * C] = NAN;
      known_block(&k, 0);
      for (int kind = 0; kind < 2; kind++) {
        const double *told = k.told[0][kind];
        if (!bad)
          states_told(t, &k, &KNOWN_CASES[i], kind);
        for (int x = T_RATIO; bad && x < T_SHUFFLED; x++)
          fact(t, x == T_COSINE || isnan(told[x]), "a NaN: %g", told[x]);
      }
      if (!bad)
        within(t, k.told[0][0][T_SHUFFLED], 0.5, 0.12, "%s: shuffled",
               KNOWN_CASES[i].what);
      for (idx x = 0; x < k.rows * C; x++)
        k.h[x] = (real)bad;
      known_block(&k, 0);
      within(t, k.told[0][0][T_NORM_RIGHT], 0.5, 0, "all alike: right");
      within(t, k.told[0][0][T_RIGHT], 0.5, 0, "all alike: the probe");
      for (int x = 0; x < k.rows * C; x++) {
        const bool side = x / C % 2 == k.flip[x / C / 2 % N];
        k.h[x] = (real)(rng_normal(&r) + (x % C == 3 && side ? 9 : 0));
      }
      known_block(&k, 0);
      within(t, k.told[0][0][T_SHUFFLED], 1, 0.12,
             "exchanged in the half that is learnt, too");
      known_free(&k);
    }
}

/* A row with +known and +onset: the same bytes twice, and names that the
 * shipped claims read. */
static void measure_known__repeats(Test *t) {
  static const char TEXT[] =
      "corpus story story.grammar\n"
      "recipe tiny --layers 2 --dim 16 --ffn 16 --context 16 --batch 2 "
      "--steps 60 --warmup 5\n"
      "item known s: t\n"
      "row known-4 tiny --first-tokens 4 +onset +known\n";
  static const char *const NAMES[] = {"probe_auc@2:other",
                                      "isolate_alpha_t@seen:itself",
                                      "isolate_alpha_t@other:drawn",
                                      "isolate_alpha_t@text:itself",
                                      "times_1@other"};
  Experiments x;
  Settings s;
  Error e = {0};
  Bytes *text[2];
  Result r;
  if (!tale_open(t, &s, ""))
    return;
  table_open(&x, TEXT);
  for (int i = 0; i < 2 && !row_run(&r, &x, 0, x.corpus, 1, &s, &e); i++) {
    result_text(&r, text[i] = bytes_of(t), &e);
    fact(t, measured(t, &r, "probe_auc@1") > 0.6, "block 1 does not tell");
    within(t, measured(t, &r, "probe_shuffled@2"), 0.5, 0.12,
           "shuffled labels");
    within(t, measured(t, &r, "isolate_even"),
           (harmonic(16) - harmonic(8)) / 8, 1e-12, "row 8 of 16");
    EACH (k, NAMES)
      fact(t, measured(t, &r, NAMES[k]) > 0, "no %s", NAMES[k]);
    result_free(&r);
  }
  fact(t, !e.status && bytes_same(text[0], text[1]), "two runs differ: %s",
       e.text);
  experiments_free(&x);
}

#define TINY \
  " --layers 1 --heads 2 --dim 16 --ffn 16 --context 16 --batch 2 --warmup 2" \
  " --grammar " SCRATCH "/tale.grammar --tokenizer " SCRATCH "/tale.tok"

#define OF_KNOWN "eval " SCRATCH "/m.ckpt "
/* Which tokens are written, and what is refused. */
static void known_asks(Test *t) {
  said(t, OF_KNOWN "--isolate 2 --T 12 --n 2 --json " SCRATCH "/2.json");
  const char *json = text_in(t, SCRATCH "/2.json");
  within(t, number_after(json, "\"isolate_norm_t@text:drawn\":", 0),
         number_after(json, "\"isolate_norm_t@text:token1\":", 0), 0,
         "drawn from 1 .. 1");
  const char *own = said(t, OF_KNOWN "--isolate 5 --T 12 --n 8");
  const char *out =
      said(t, OF_KNOWN "--isolate 5 --T 12 --n 8 --first-tokens text");
  own = strstr(own, "Isolation");
  out = strstr(out, "Isolation");
  fact(t, own && out && is(own, out), "other first tokens than in training");
  sink_fails(t, OF_KNOWN "--probe --T 12 --n 9 --ids " SCRATCH "/ids", 1,
             "expected 8 held sequences, found 2");
  static const char *const REFUSED[][2] = {
    {OF_KNOWN "--isolate 12 --T 12",
     "before the last token of --T 12. Try: --isolate 6"},
    {OF_KNOWN "--isolate 1 --T 1", "Try: --T 64"},
    {OF_KNOWN "--probe --n 4 --T 12", "--n 400"},
    {OF_KNOWN "--probe --n 1001 --T 12", "8 to 1000"},
    {OF_KNOWN "--isolate 5 --T 12 --input random", "--input natural"},
    {OF_KNOWN "--probe --T 12 --n 9 --input random", "--input natural"},
    {OF_KNOWN "--isolate 5 --T 400", "context ends"},
    {OF_KNOWN "--isolate-blocks 1", "--isolate-"},
    {OF_KNOWN "--isolate 5 --inputs", "one model and one text"},
    {OF_KNOWN "--probe --lengths 8,12", "one model and one text"},
    {OF_KNOWN "--seed 3", "--seed: has an effect only with"}};
  EACH (i, REFUSED)
    sink_fails(t, REFUSED[i][0], 2, REFUSED[i][1]);
}

/* As a user asks: both tables, the JSON, and what is refused. */
static void sink__known(Test *t) {
  Settings s;
  Error e = {0};
  if (no_binary(t) || !tale_open(t, &s, ""))
    return;
  said(t, "train --quiet --steps 9 --first-tokens 4 --out " SCRATCH "/m.ckpt "
          "--report " SCRATCH "/m.html" TINY);
  const char *out =
      said(t, "eval " SCRATCH "/m.ckpt --T 12 --n 21 --isolate 5 --probe "
              "--ablate key1 --json " SCRATCH "/m.json");
  static const char *const SAID[] = {
    "Ablation of token 1", "\n\nIsolation of row 5 in the first 1 block:",
    "4 of 5 keys lost", "\n\nWhich block knows row 1",
    "same tokens: 20 sequences of 12", "that were never first", "Shuffled: "};
  EACH (i, SAID)
    fact(t, strstr(out, SAID[i]) != NULL, "no '%s' in %s", SAID[i], out);
  const char *json = text_in(t, SCRATCH "/m.json");
  fact(t,
       strstr(json, "\"isolate_sink_t@other:itself\":") &&
           !strstr(json, "nan") && strstr(json, "\"probe_acc@1:other\":") &&
           !strstr(json, "probe_shuffled@1:other"),
       "the JSON");
  static const char IDS[] =
      "7 9 7 9 8 8 7 9 30 31 32 33 34\n9 8 7 6 5 4 3 30 31 32 33 34 35\n";
  if (file_write(SCRATCH "/ids", IDS, sizeof IDS - 1, &e))
    exit(1);
  out = said(t, "eval " SCRATCH
                "/m.ckpt --T 12 --n 2 --isolate 5 --ids " SCRATCH "/ids");
  fact(t, strstr(out, "the text's") && !strstr(out, "first in training "),
       "written over token 1");
  known_asks(t);
}
