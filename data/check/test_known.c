/* test_known.c - the tests of known.c: a row that sees itself alone, ranks, the
 * probe. A part of test_onset.c, which includes it.
 * SPDX-License-Identifier: MIT
 */

/* ---- 2: --isolate ---- */

/* Every row of sequence b as it stands after block l, from 0: [N,C]. */
static const real *rows_after(const Lab *b, int l, int seq) {
  const Config *c = &b->m.c;
  return (l + 1 < c->layers ? b->a.layer[l + 1].x : b->a.h) +
         (idx)seq * b->a.N * c->dim;
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
    "--extra zero",
    "--kernel elu --sim identity --normalizer clamp --pos none",
    "--sink-token --pos none",
    "--pos learned", "--extra logn",
    "--sim sigmoid --normalizer count --score-bias logn"};
  enum { B = 2, T = 70 };
  EACH (f, FLAGS)
    LABS (b, B, T, FLAGS[f])
      LABS (cut, B, T, FLAGS[f])
        LABS (one, B, 1, FLAGS[f]) {
          const int C = b.m.c.dim, first = b.m.c.sink_token, at[] = {1, 20, 50};
          const double tight = 2000 * REAL_EPS;
          lab_share(&cut, &b);
          lab_share(&one, &b);
          lab_forward(&b);
          lab_maps(&cut);
          rows_watch(&cut.m);
          EACH (k, at)
            for (int plain = 0; plain < 2; plain++) {
              const int row = first + at[k] - 1, sees[B] = {row, row};
              const Isolation x = {1, first, row, sees};
              const idx S = config_columns(&b.m.c, T),
                        map = row * S + S - T + at[k] - 1;
              cut.a.hide = isolate_hide;
              cut.a.isolation = &x;
              cut.m.plain = plain;
              lab_forward(&cut);
              for (int seq = 0; seq < B; seq++) {
                const real *now = rows_after(&cut, 0, seq),
                           *was = rows_after(&b, 0, seq);
                one.ids[seq] = b.ids[seq * T + at[k] - 1];
                for (idx i = 0; i < b.a.N; i++)
                  fact(t,
                       i == row ||
                           (plain
                                ? distance(C, now + i * C, was + i * C) < tight
                                : same_numbers(C, now + i * C, was + i * C)),
                       "%s: %lld, not %d", FLAGS[f], i, row);
                /* it sees itself alone as it is */
                const bool still = at[k] == 1 && !b.m.c.prefix;
                for (int l = 0; l < 2; l++) {
                  double by = distance(b.a.N * C, rows_after(&cut, l, seq),
                                       rows_after(&b, l, seq));
                  fact(t, still ? by < tight && (plain || by == 0) : by > 1e-3,
                       "%s: block %d changes %g", FLAGS[f], l + 1, by);
                }
                const real *m = cut.probe[0].metric +
                                (idx)seq * b.m.c.heads * b.a.N * S + map;
                fact(t, b.m.c.extra || first || fabs((double)*m - 1) < 1e-6,
                     "%s: it sees itself by %g", FLAGS[f], (double)*m);
                for (int j = 1; j < at[k]; j++)
                  fact(t, m[-j] == 0, "%s: it sees others", FLAGS[f]);
              }
              lab_forward(&one);
              for (int seq = 0; seq < B; seq++) {
                const real *now = rows_after(&cut, 0, seq) + row * C;
                double off = distance(C, now,
                                      rows_after(&one, 0, seq) + first * C);
                /* p_T is not p_1 */
                bool positions = b.m.c.pos == POS_LEARNED && at[k] > 1;
                fact(t, positions ? off > 1e-3 : off < tight,
                     "%s, plain %d: row %d is %g off one alone", FLAGS[f],
                     plain, at[k], off);
              }
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
  return data_probe(&r->data, &r->s.data, INPUT_NATURAL, B, T, b->ids,
                    b->targets, &starts) == B;
}

/* isolate() against its definition: who sees whom, columns, rows, norms, the
 * tokens of each kind. A NaN is one in both numbers. */
static void isolate__numbers(Test *t) {
  enum { T = 12, N = 21, AT = 6, L = 2, H = 2 };
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
    const int from = (int)b.a.N - T, C = r.m.c.dim,
              S = config_columns(&r.m.c, T), all = N * L * H;
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
      double x[ISOLATED] = {0}, norm[L][T] = {{0}}, rest = 0;
      for (int n = 0; n < N; n++) {
        sees[n] = from + (how == ITSELF       ? AT - 1
                          : how == ONLY_DRAWN ? place[n]
                                              : 0);
        b.ids[n * T + AT - 1] = kind == OF_TEXT
                                    ? own[n]
                                    : fixed_id(&first.of[kind], HELD_SEED + AT,
                                               (uint64_t)n);
      }
      b.a.hide = how ? others_hide : NULL;
      lab_forward(&b);
      /* row T, then token 1 */
      for (int i = 0; i < all; i++)
        for (int to = 0; to < 2; to++) {
          const real *map = b.probe[i % L].metric + i / L * b.a.N * S;
          double alpha = 0;
          for (idx q = from + AT; q < b.a.N; q++)
            alpha += (double)map[q * S + S - T + (to ? 0 : AT - 1)] / (T - AT);
          x[to ? 0 : 3] += alpha / all;
          x[to ? 1 : 4] += (alpha > r.s.eps) * 1.0 / all;
        }
      for (int l = 0; l < L; l++, rest = 0) {
        for (int i = 0; i < N * T; i++)
          norm[l][i % T] += length(C, rows_after(&b, l, i / T) +
                                          (from + i % T) * C);
        for (int i = 1; i < T; i++)
          rest += i == AT - 1 ? 0 : norm[l][i] / (T - 2);
        x[2] = fmax(x[2], norm[l][0] / rest);
        x[5] = fmax(x[5], norm[l][AT - 1] / rest);
      }
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
    b.m = (Model){0};
    lab_close(&b);
    firsts_close(&first);
    trainer_free(&r);
  }
}

/* Behind token 2 a window of 5 shows token 1 to three of ten rows, which see *
 * too; the last row that may be isolated is 5. 8 is 4 times 1 and 3's mean. */
static void isolate__by_hand(Test *t) {
  static const double NORM[] = {8, 1, 4, 3};
  Error e = {0};
  const Settings five = {.isolate = 5, .isolate_blocks = 1};
  LABS (b, 1, 12, "--window 5", "--window 5 --extra k") {
    /* a row has one key more */
    const double star = b.n - 1;
    within(t, isolate_even(&b.m, 12, 2),
           (1 / (3 + star) + 1 / (4 + star) + 1 / (5 + star)) / 10, 1e-15,
           "even%s", b.flags);
    fact(t, !isolate_check(&five, &b.m, 12, &e), "%s", e.text);
  }
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
    {"apart", {3, 4, 5}, {1, 2}, 1, 3, 2},     {"the other way", {1, 2, 0}, {3, 4}, 0, 3, 2},
    {"equal", {1, 1, 1}, {1, 1}, 0.5, 3, 2},   {"mixed", {1, 3, 2}, {2, 0}, 4.5 / 6, 3, 2},
    {"NaN", {1, NAN, 2}, {0, 0}, NAN, 3, 2},   {"NaN there", {1, 2, 3}, {0, NAN}, NAN, 3, 2},
    {"none", {0}, {1, 2}, NAN, 0, 2},          {"none there", {1, 2, 3}, {0}, NAN, 3, 0},
    {"infinite", {INFINITY, 1, 1}, {0, 0}, 1, 3, 2}};
  EACH (i, CASES)
    is_what(t, auc(CASES[i].one, CASES[i].n, CASES[i].other, CASES[i].m),
            CASES[i].is, CASES[i].what);
}

/* The probe is where its sum of squares has no slope, with fewer rows than dims
 * and more. */
static void probe_fit__least_squares(Test *t) {
  enum { MOST = 20 };
  for (int C = 3; C <= 17; C += 14) {
    double x[MOST * MOST], low[MOST * MOST], y[MOST], left[MOST], w[MOST],
        mean = 0, square = 0;
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

/* What known() reads: rows 1 and a drawn one, where the next sequence's first
 * token is written; cosines of those of other tokens; whose labels are
 * exchanged. */
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
  for (int n = 0; n < N; n++)
    fact(t,
         k.flip[n] ==
             (n % 2 ? 1 - k.flip[n - 1] : (double)rng_below(&drawn, 2)),
         "%d", n);
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
            fact(t,
                 same_numbers(C, x,
                              rows_after(&b, l - 1, n) +
                                  (1 + i * place[n]) * C),
                 "row %d", n);
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
  b.m = (Model){0};
  lab_close(&b);
  firsts_close(&first);
  trainer_free(&r);
}

/* States by hand: row 1 apart from the later ones by norm, by direction, by
 * both, by neither, or on first tokens of training alone; what tells, what does
 * not, and the shuffled labels. First of two judged sequences: 3 above 1; 2, at
 * the threshold, below 5, these exchanged; no threshold. */
static void known_block__by_hand(Test *t) {
  enum { N = 200, C = 12 };
  const double score[16] = {[12] = 3, 1, 2, 5}, flip[4] = {1, 1, 0, 1};
  double y[8], right[2];
  Known two = {.n = 4, .half = 2, .y = y};
  within(t, known_judge(&two, 1, score, flip, 2, right), 1, 0,
         "AUC of exchanged labels");
  within(t, known_judge(&two, 1, score, NULL, NAN, right + 1), 0.5, 0, "AUC");
  fact(t, right[0] == 2.5 / 4 && isnan(right[1]), "right %g, %g", right[0],
       right[1]);
  const struct {
    const char *what;
    double norm, shift, never, norms[2], probes[2];
  } CASES[] = {
    {"neither", 1, 0, 0, {0.5, 0.5}, {0.5, 0.5}},   {"norm", 3, 0, 0, {1, 1}, {0.5, 0.5}},
    {"smaller", 0.3, 0, 0, {1, 1}, {0.5, 0.5}},     {"direction", 1, 9, 9, {0.5, 0.5}, {1, 1}},
    {"by heart", 1, 9, 0, {0.5, 0.5}, {1, 0.5}},    {"both", 3, 9, 9, {1, 1}, {1, 1}},
    {"other way", 1, 9, -9, {0.5, 0.5}, {1, 0}}};
  EACH (i, CASES)
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
      for (idx row = 0; row < k.rows; row++) {
        double x[C], shift = row < 2 * N ? CASES[i].shift : CASES[i].never;
        for (int d = 0; d < C; d++)
          x[d] = rng_normal(&r);
        if (row % 2 == 0)
          x[3] += shift;
        double by = (row % 2 ? 1 : CASES[i].norm) * (1 + rng_uniform(&r) / 20) /
                    sqrt(inner(C, x, x));
        for (int d = 0; d < C; d++)
          k.h[row * C + d] = (real)(by * x[d]);
      }
      for (int b = 0; b < N; b++) {
        k.flip[b] = (b + b / 2) % 2;
        k.token[b] = k.token[N + b] = b % 7;
      }
      /* of the judged half */
      if (bad)
        k.h[(2 * N - 1) * C] = k.h[(4 * N - 1) * C] = NAN;
      known_block(&k, 0);
      for (int kind = 0; kind < 2; kind++) {
        const double *told = k.told[0][kind], off = 0.12;
        double norm = 0;
        if (bad) {
          for (int x = T_RATIO; x < T_SHUFFLED; x++)
            fact(t, x == T_COSINE || isnan(told[x]), "a NaN: %g", told[x]);
          continue;
        }
        for (int b = 0; b < N; b++)
          norm += length(C, k.h + 2 * (kind * N + b) * C) / N;
        within(t, told[T_NORM], norm, 1e-12, "%s: norm of row 1, %d",
               CASES[i].what, kind);
        within(t, told[T_NORM_AUC], CASES[i].norms[kind], off, "%s: norm, %d",
               CASES[i].what, kind);
        within(t, told[T_NORM_RIGHT], CASES[i].norms[kind], off, "%s: right",
               CASES[i].what);
        within(t, told[T_AUC], CASES[i].probes[kind], off, "%s: probe, %d",
               CASES[i].what, kind);
        within(t, told[T_RIGHT],
               CASES[i].probes[kind] == 0 ? 0.25 : CASES[i].probes[kind],
               CASES[i].probes[kind] == 0 ? 0.26 : off, "%s: right, %d",
               CASES[i].what, kind);
        within(t, told[T_RATIO], CASES[i].norm, 0.02 * CASES[i].norm,
               "%s: ratio", CASES[i].what);
        fact(t,
             (told[T_COSINE] > 0.6) ==
                     (fabs(kind ? CASES[i].never : CASES[i].shift) > 0) &&
                 fabs(told[T_LATER]) < 0.1,
             "%s: cosine %g", CASES[i].what, told[T_COSINE]);
      }
      if (!bad)
        within(t, k.told[0][0][T_SHUFFLED], 0.5, 0.12, "%s: shuffled",
               CASES[i].what);
      for (idx x = 0; x < k.rows * C; x++)
        k.h[x] = 1;
      known_block(&k, 0);
      within(t, k.told[0][0][T_NORM_RIGHT], 0.5, 0, "all alike: right");
      /* no side is told, but the exchanged labels */
      for (int x = 0; x < k.rows * C; x++)
        k.h[x] = (real)(rng_normal(&r) +
                        (x % C == 3 && x / C % 2 == k.flip[x / C / 2 % N] ? 9
                                                                          : 0));
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
      "corpus story story.grammar\nrecipe tiny --layers 2 --dim 16 --ffn 16 "
      "--context 16 --batch 2 --steps 60 --warmup 5\nitem known s: t\nrow "
      "known-4 tiny --first-tokens 4 +onset +known\n";
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
    EACH (k, NAMES)
      fact(t, measured(t, &r, NAMES[k]) > 0, "no %s", NAMES[k]);
    result_free(&r);
  }
  fact(t, !e.status && bytes_same(text[0], text[1]), "two runs differ: %s",
       e.text);
  experiments_free(&x);
}

#define TINY " --layers 1 --heads 2 --dim 16 --ffn 16 --context 16 --batch 2 --warmup 2" \
             " --grammar " SCRATCH "/tale.grammar --tokenizer " SCRATCH "/tale.tok"
/* As a user asks: both tables, the JSON, and what is refused. */
static void sink__known(Test *t) {
  Settings s;
  Error e = {0};
  if (no_binary(t) || !tale_open(t, &s, ""))
    return;
  said(t, "train --quiet --steps 9 --first-tokens 4 --out " SCRATCH
          "/m.ckpt --report " SCRATCH "/m.html" TINY);
  const char *out = said(
      t,
      "eval " SCRATCH
      "/m.ckpt --T 12 --n 20 --isolate 5 --probe --ablate key1 --json " SCRATCH
      "/m.json");
  static const char *const SAID[] = {"Ablation of token 1",
                                     "\n\nIsolation of row 5 in the first 2",
                                     "4 of 5 keys lost",
                                     "\n\nWhich block knows row 1",
                                     "that were never first",
                                     "Shuffled: "};
  EACH (i, SAID)
    fact(t, strstr(out, SAID[i]) != NULL, "no '%s' in %s", SAID[i], out);
  const char *json = text_in(t, SCRATCH "/m.json");
  fact(t,
       strstr(json, "\"isolate_sink_t@other:itself\":") &&
           !strstr(json, "nan") && strstr(json, "\"probe_acc@1:other\":"),
       "the JSON");
  static const char IDS[] =
      "7 9 7 9 8 8 7 9 30 31 32 33 34\n9 8 7 6 5 4 3 30 31 32 33 34 35\n";
  if (file_write(SCRATCH "/ids", IDS, sizeof IDS - 1, &e))
    exit(1);
  out = said(t, "eval " SCRATCH
                "/m.ckpt --T 12 --n 2 --isolate 5 --ids " SCRATCH "/ids");
  fact(t, strstr(out, "the text's") && !strstr(out, "first in training "),
       "written over token 1");
#define OF_KNOWN "eval " SCRATCH "/m.ckpt "
  static const char *const REFUSED[][2] = {
    {OF_KNOWN "--isolate 12 --T 12",
     "before the last token of --T 12. Try: --isolate 6"},
    {OF_KNOWN "--isolate 1 --T 1", "Try: --T 64"},
    {OF_KNOWN "--probe --n 4 --T 12", "--n 400"},
    {OF_KNOWN "--isolate 5 --T 12 --input random", "--input natural"},
    {OF_KNOWN "--isolate 5 --T 400", "context is"},
    {OF_KNOWN "--isolate-blocks 1", "--isolate-"},
    {OF_KNOWN "--isolate 5 --inputs", "one model and one text"},
    {OF_KNOWN "--probe --lengths 8,12", "one model and one text"},
    {OF_KNOWN "--seed 3", "--seed: has an effect only with"}};
  EACH (i, REFUSED)
    sink_fails(t, REFUSED[i][0], 2, REFUSED[i][1]);
}
