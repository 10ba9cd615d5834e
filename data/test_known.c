/* test_known.c - the tests of known.c: a row that sees itself alone, ranks, the probe. A part of
 * test_onset.c, which includes it.
 * SPDX-License-Identifier: MIT
 */

/* ---- 2: --isolate ---- */

/* Every row of sequence b as it stands after block l, from 0: [N,C]. */
static const real *rows_after(const Lab *b, int l, int seq) {
  const Config *c = &b->m.c;
  return (l + 1 < c->layers ? b->a.layer[l + 1].x : b->a.h) + (idx)seq * b->a.N * c->dim;
}

/* An isolated row's state after block 1 is that of its token as a sequence of one; rows before it
 * keep their bits in every block, all others in block 1; the plain form comes to the same, its maps
 * too; and row 1 isolated changes nothing. Tokens 1, 20 and 50 lie in two tiles of 32 rows. */
static void isolate__identity(Test *t) {
  static const char *const FLAGS[] = {
    "", "--pos none --extra kv", "--pos t5 --window 60", "--pos alibi --kv-heads 1 --place post",
    "--sim sigmoid --normalizer one --vbias", "--prefix 3 --combine add", "--extra zero",
    "--kernel elu --sim identity --normalizer clamp --pos none", "--sink-token --pos none",
    "--pos learned", "--extra logn", "--sim sigmoid --normalizer count --score-bias logn"};
  enum { B = 2, T = 70 };
  EACH(f, FLAGS) LABS(b, B, T, FLAGS[f]) LABS(cut, B, T, FLAGS[f]) LABS(one, B, 1, FLAGS[f]) {
    const int C = b.m.c.dim, first = b.m.c.sink_token, at[] = {1, 20, 50};
    const double tight = 2000 * REAL_EPS;
    lab_share(&cut, &b); lab_share(&one, &b);
    lab_forward(&b); lab_maps(&cut);
    EACH(k, at) for (int plain = 0; plain < 2; plain++) {
      const int row = first + at[k] - 1, sees[B] = {row, row};
      const Isolation x = {1, first, row, sees};
      const idx S = config_columns(&b.m.c, T), map = row * S + S - T + at[k] - 1;
      cut.a.hide = isolate_hide, cut.a.isolation = &x, cut.m.plain = plain;
      lab_forward(&cut);
      for (int seq = 0; seq < B; seq++) {
        const real *now = rows_after(&cut, 0, seq), *was = rows_after(&b, 0, seq);
        one.ids[seq] = b.ids[seq * T + at[k] - 1];
        bool same = plain ? distance(row * C, now, was) < tight : same_numbers(row * C, now, was);
        fact(t, same, "%s: a row before %d has changed", FLAGS[f], at[k]);
        const real *mine = now + row * C + C, *its = was + row * C + C;
        idx rest = (b.a.N - row - 1) * C;
        fact(t, plain ? distance(rest, mine, its) < tight : same_numbers(rest, mine, its),
             "%s: a row after %d has changed in block 1", FLAGS[f], at[k]);
        const bool still = at[k] == 1 && !b.m.c.prefix;    /* it sees itself alone as it is */
        double by = distance(C, now + row * C, was + row * C);
        fact(t, still ? by < tight && (plain || by == 0) : by > 1e-3, "%s: row %d changes %g",
             FLAGS[f], at[k], by);
        double end = distance(b.a.N * C, rows_after(&cut, 1, seq), rows_after(&b, 1, seq));
        fact(t, still ? end < tight && (plain || end == 0) : end > 1e-3, "%s: block 2, %g",
             FLAGS[f], end);
        const real *m = cut.probe[0].metric + (idx)seq * b.m.c.heads * b.a.N * S + map;
        fact(t, b.m.c.extra || first || fabs((double)*m - 1) < 1e-6, "%s: it sees itself by %g",
             FLAGS[f], (double)*m);
        for (int j = 1; j < at[k]; j++) fact(t, m[-j] == 0, "%s: it sees others", FLAGS[f]);
      }
      lab_forward(&one);
      for (int seq = 0; seq < B; seq++) {
        double off = distance(C, rows_after(&cut, 0, seq) + row * C,
                              rows_after(&one, 0, seq) + first * C);
        bool positions = b.m.c.pos == POS_LEARNED && at[k] > 1;   /* p_T is not p_1 */
        fact(t, positions ? off > 1e-3 : off < tight, "%s, plain %d: row %d is %g off one alone",
             FLAGS[f], plain, at[k], off);
      }
    }
  }
}

/* Where the row keeps another key, all its weight is there; blocks beyond the first B see all. */
static void isolate__keeps_another(Test *t) {
  for (int plain = 0; plain < 2; plain++) LABS(b, 2, 40, "") {
    const int sees[] = {0, 13}; const Isolation x = {1, 0, 36, sees};
    const idx map = 40 * 40;
    lab_maps(&b);
    b.a.hide = isolate_hide, b.a.isolation = &x;
    b.m.plain = plain;
    lab_forward(&b);
    for (int seq = 0; seq < 2; seq++)
      for (int l = 0; l < 2; l++) {
        const real *m = b.probe[l].metric + seq * b.m.c.heads * map + 36 * 40;
        fact(t, (m[sees[seq]] == 1) == !l && (m[36] == 0) == !l, "block %d: %g and %g", l + 1,
             (double)m[sees[seq]], (double)m[36]);
      }
  }
}

/* isolate() of a trained model: --isolate 1 is the untouched model to the last bit, and its numbers
 * are evaluate's but for row 1; both forms of attention agree; the tokens are of their kinds. */
static void isolate__numbers(Test *t) {
  enum { T = 12, N = 21 };
  static const char *const FLAGS[] = {"--first-tokens 4", "--fix-token 1", "", "--sink-token",
                                      "--first-tokens text --extra kv"};
  Settings s;
  if (!tale_open(t, &s, "")) return;
  EACH(f, FLAGS) {
    Trainer r; Error e = {0}; Isolated at[3]; Sinks seen; int starts; Firsts first;
    if (!trainer_made(t, &r, FLAGS[f])) return;
    steps_of(t, &r, 25);
    r.s.isolate_blocks = 2;
    for (int k = 0; k < 3; k++) {              /* row 1; row 6; row 6 by 3.7 */
      r.s.isolate = k ? 6 : 1;
      r.m.plain = k == 2;
      fact(t, !isolate(&at[k], &r.m, &r.data, &r.s, N, T, &e), "%s", e.text);
    }
    r.m.plain = false;
    if (evaluate(&seen, &r.m, &r.data, &r.s, N, T, &starts, &e)) return;
    int token1 = config_column_first(&r.m.c);
    const double *one = at[0].x[f == 2 || f == 3 ? OF_TEXT : WAS_FIRST][UNTOUCHED];
    fact(t, at[0].n == N && at[1].drawn == 5, "%d sequences", at[0].n);
    if (f < 3) {                               /* A_11 = 1 but with * or x* */
      const double *all = at[0].x[OF_TEXT][UNTOUCHED], alpha = sinks_alpha(&seen, token1);
      within(t, all[0], (T * alpha - 1) / (T - 1), 1000 * REAL_EPS, "%s: alpha_1", FLAGS[f]);
      within(t, at[0].even, (T * sink_uniform(&r.m.c, T) - 1) / (T - 1), 1e-12, "even");
      within(t, all[2], sinks_ratio(&seen), 1e-9, "%s: norm", FLAGS[f]);
    }
    for (int k = 0; k < TOKENS_AT; k++) {
      const double *was = at[0].x[k][UNTOUCHED], *row = at[1].x[k][UNTOUCHED];
      bool is = k == OF_TEXT || (k == WAS_FIRST ? f < 2 || f == 4 : f == 0 || f == 4);
      fact(t, isnan(was[0]) == !is, "%s: %s", FLAGS[f], TOKENS_SAY[k]);
      if (!is) continue;
      for (int how = 1; how < TREATMENTS; how++) {
        fact(t, !memcmp(at[0].x[k][how], was, sizeof(double[ISOLATED])), "%s: row 1, %s", FLAGS[f],
             TREATED_SAYS[how]);
        fact(t, fabs(at[1].x[k][how][5] - row[5]) > 1e-6, "%s: row 6, %s", FLAGS[f],
             TREATED_SAYS[how]);
      }
      for (int i = 0; i < TREATMENTS * ISOLATED; i++)
        within(t, at[2].x[k][i / ISOLATED][i % ISOLATED], at[1].x[k][i / ISOLATED][i % ISOLATED],
               1e-9, "%s: by 3.7", FLAGS[f]);
    }
    fact(t, isfinite(one[0]) && one[0] > 0 && one[3] == one[0], "alpha_1 is alpha_T at T = 1");
    fact(t, !firsts_open(&first, &r.data, &r.s.data, "x", &e), "%s", e.text);
    for (uint64_t i = 0; i < 50 && first.is[NEVER_FIRST]; i++) {
      int was = fixed_id(&first.of[WAS_FIRST], 3, i);
      int never = fixed_id(&first.of[NEVER_FIRST], 3, i);
      fact(t, r.data.first[was] > 0 && !(r.data.first[never] > 0), "%d and %d", was, never);
    }
    firsts_close(&first); sinks_free(&seen); trainer_free(&r);
  }
}

/* ---- 3 and 4: ranks and the probe ---- */

static void auc__known(Test *t) {
  static const struct { const char *what; double one[3], other[2], is; int n, m; } CASES[] = {
    {"apart", {3, 4, 5}, {1, 2}, 1, 3, 2},     {"the other way", {1, 2, 0}, {3, 4}, 0, 3, 2},
    {"equal", {1, 1, 1}, {1, 1}, 0.5, 3, 2},   {"mixed", {1, 3, 2}, {2, 0}, 4.5 / 6, 3, 2},
    {"NaN", {1, NAN, 2}, {0, 0}, NAN, 3, 2},   {"NaN there", {1, 2, 3}, {0, NAN}, NAN, 3, 2},
    {"none", {0}, {1, 2}, NAN, 0, 2},          {"none there", {1, 2, 3}, {0}, NAN, 3, 0},
    {"infinite", {INFINITY, 1, 1}, {0, 0}, 1, 3, 2}};
  EACH(i, CASES) {
    double x = auc(CASES[i].one, CASES[i].n, CASES[i].other, CASES[i].m);
    fact(t, isnan(CASES[i].is) ? isnan(x) : x == CASES[i].is, "%s: %g", CASES[i].what, x);
  }
}

/* The probe is where its sum of squares has no slope, with fewer rows than dims and more. */
static void probe_fit__least_squares(Test *t) {
  enum { MOST = 20 };
  for (int C = 3; C <= 17; C += 14) {
    double x[MOST * MOST], low[MOST * MOST], y[MOST], left[MOST], w[MOST], mean = 0, square = 0;
    Rng r = {5};
    int n = 10;
    for (int i = 0; i < MOST * C; i++) x[i] = 3 + rng_normal(&r);
    for (int i = 0; i < n; i++) y[i] = left[i] = i % 2 ? -1 : 1;
    probe_scale(x, MOST, n, C);
    for (int i = 0; i < n; i++) mean += x[i * C + 1], square += inner(C, x + i * C, x + i * C);
    within(t, mean, 0, 1e-12, "the mean of a dim");
    within(t, square / n, 1, 1e-12, "the mean square length");
    probe_factor(low, x, n, C);
    probe_fit(w, low, x, y, n, C);
    for (int c = 0; c < C; c++) {
      double slope = -RIDGE * w[c];
      for (int i = 0; i < n; i++) slope += (left[i] - inner(C, w, x + i * C)) * x[i * C + c];
      within(t, slope, 0, 1e-10, "%d dims, slope %d", C, c);
    }
    fact(t, inner(C, w, w) > 1e-3, "it is 0");
  }
}

/* States by hand: row 1 apart from the later ones by norm, by direction, by both, by neither, or
 * on first tokens of training alone; what tells, what does not, and the shuffled labels. */
static void known_block__by_hand(Test *t) {
  enum { N = 200, C = 12 };
  static const struct {
    const char *what; double norm, shift, never, norms[2], probes[2];
  } CASES[] = {
    {"neither", 1, 0, 0, {0.5, 0.5}, {0.5, 0.5}},   {"norm", 3, 0, 0, {1, 1}, {0.5, 0.5}},
    {"smaller", 0.3, 0, 0, {1, 1}, {0.5, 0.5}},     {"direction", 1, 9, 9, {0.5, 0.5}, {1, 1}},
    {"by heart", 1, 9, 0, {0.5, 0.5}, {1, 0.5}},    {"both", 3, 9, 9, {1, 1}, {1, 1}},
    {"other way", 1, 9, -9, {0.5, 0.5}, {1, 0}}};
  EACH(i, CASES) for (int bad = 0; bad < 2; bad++) {
    Known k; Error e = {0}; Rng r = {17}; const Config c = {.dim = C};
    if (known_room(&k, &c, N, &e)) { fact(t, false, "%s", e.text); return; }
    k.is[WAS_FIRST] = k.is[NEVER_FIRST] = true;
    for (idx row = 0; row < k.rows; row++) {
      double x[C], shift = row < 2 * N ? CASES[i].shift : CASES[i].never;
      for (int d = 0; d < C; d++) x[d] = rng_normal(&r);
      if (row % 2 == 0) x[3] += shift;
      double by = (1 + 0.05 * rng_uniform(&r)) / sqrt(inner(C, x, x));
      for (int d = 0; d < C; d++)
        k.h[row * C + d] = (real)((row % 2 ? 1 : CASES[i].norm) * by * x[d]);
    }
    for (int b = 0; b < N; b++) k.flip[b] = (b + b / 2) % 2, k.token[b] = k.token[N + b] = b % 7;
    if (bad) k.h[(2 * N - 1) * C] = k.h[(4 * N - 1) * C] = NAN;     /* of the judged half */
    known_block(&k, 0);
    for (int kind = 0; kind < 2; kind++) {
      const double *told = k.told[0][kind], off = 0.12;
      if (bad) {
        fact(t, isnan(told[T_NORM_AUC]) && isnan(told[T_NORM_RIGHT]) && isnan(told[T_AUC])
             && isnan(told[T_RIGHT]) && isnan(told[T_RATIO]) && isnan(told[T_LATER]), "a NaN");
        continue;
      }
      within(t, told[T_NORM_AUC], CASES[i].norms[kind], off, "%s: norm, %d", CASES[i].what, kind);
      within(t, told[T_NORM_RIGHT], CASES[i].norms[kind], off, "%s: right", CASES[i].what);
      within(t, told[T_AUC], CASES[i].probes[kind], off, "%s: probe, %d", CASES[i].what, kind);
      within(t, told[T_RIGHT], CASES[i].probes[kind] == 0 ? 0.25 : CASES[i].probes[kind],
             CASES[i].probes[kind] == 0 ? 0.26 : off, "%s: right, %d", CASES[i].what, kind);
      within(t, told[T_RATIO], CASES[i].norm, 0.02 * CASES[i].norm, "%s: ratio", CASES[i].what);
      fact(t, (told[T_COSINE] > 0.6) == (fabs(kind ? CASES[i].never : CASES[i].shift) > 0)
           && fabs(told[T_LATER]) < 0.1, "%s: cosines %g, %g", CASES[i].what, told[T_COSINE],
           told[T_LATER]);
    }
    if (!bad) within(t, k.told[0][0][T_SHUFFLED], 0.5, 0.12, "%s: shuffled", CASES[i].what);
    for (idx x = 0; x < k.rows * C; x++) k.h[x] = 1;
    known_block(&k, 0);
    within(t, k.told[0][0][T_NORM_RIGHT], 0.5, 0, "all alike: right");
    known_free(&k);
  }
}

/* Rows with +known, one with +onset too: the same bytes twice, and each name the shipped claims
 * read once. H^0 of a model with rotary positions is the token alone, so nothing tells there. */
static void measure_known__repeats(Test *t) {
  static const char TEXT[] =
      "corpus story story.grammar\nrecipe tiny --layers 2 --dim 16 --ffn 16 --context 16 --batch 2 "
      "--steps 60 --warmup 5\nitem known s: t\nrow known-4 tiny --first-tokens 4 +onset +known\n"
      "row natural tiny +known\n";
  Experiments x; Settings s; Error e = {0}; Bytes text[3] = {{0}};
  if (!tale_open(t, &s, "")) return;
  table_open(&x, TEXT);
  for (int i = 0; i < 3; i++) {
    Result r;
    if (row_run(&r, &x, i == 2, x.corpus, 1, &s, &e)) break;
    result_text(&r, &text[i], &e);
    within(t, number_of(t, &r, "probe_auc@0"), 0.5, 0.12, "the probe at the embedding");
    within(t, number_of(t, &r, "probe_norm_auc@0"), 0.5, 0.12, "the norm there");
    within(t, number_of(t, &r, "probe_ratio@0"), 1, 0.05, "its ratio");
    fact(t, i == 2 || number_of(t, &r, "probe_auc@1") > 0.6, "block 1 does not tell");
    within(t, number_of(t, &r, "probe_shuffled@2"), 0.5, 0.12, "shuffled labels");
    fact(t, isnan(result_number(&r, "probe_auc@2:other")) == (i == 2) &&
            isnan(result_number(&r, "isolate_alpha_t@seen:itself")) == (i == 2) &&
            isnan(result_number(&r, "isolate_alpha_t@other:drawn")) == (i == 2) &&
            (i < 2) == !!result_find(&r, "times_1@other", &(int){0}), "what there is not");
    fact(t, i == 2 || number_of(t, &r, "times_1@other") > 0, "its sink on other tokens, once");
    fact(t, number_of(t, &r, "isolate_alpha_t@text:itself") > 0, "the text's");
    result_free(&r);
  }
  fact(t, !e.status, "%s", e.text);
  fact(t, text[0].size && text[0].size == text[1].size &&
          !memcmp(text[0].at, text[1].at, text[0].size), "two runs differ");
  for (int i = 0; i < 3; i++) bytes_free(&text[i]);
  experiments_free(&x);
}

#define TINY " --layers 1 --heads 2 --dim 16 --ffn 16 --context 16 --batch 2 --warmup 2" \
             " --grammar " SCRATCH "/tale.grammar --tokenizer " SCRATCH "/tale.tok"
/* As a user asks: both tables, the JSON, and what is refused. */
static void sink__known(Test *t) {
  Settings s; Ran r; Error e = {0}; Bytes json = {0};
  if (no_binary(t) || !tale_open(t, &s, "")) return;
  if (!sink_does(t, "train --quiet --steps 9 --first-tokens 4 --out " SCRATCH "/m.ckpt --report "
                 SCRATCH "/m.html" TINY, &r)) return;
  ran_free(&r);
  if (!sink_does(t, "eval " SCRATCH "/m.ckpt --T 12 --n 20 --isolate 5 --probe --ablate key1 "
                 "--json " SCRATCH "/m.json", &r)) return;
  static const char *const SAID[] = {"Ablation of token 1", "\n\nIsolation of row 5 in the first 2",
    "4 of 5 keys lost", "\n\nWhich block tells row 1", "that were never first", "Shuffled: "};
  EACH(i, SAID) fact(t, has(&r.out, SAID[i]), "no '%s' in %s", SAID[i], (char *)r.out.at);
  ran_free(&r);
  fact(t, !file_read(SCRATCH "/m.json", &json, &e) && !bytes_add(&json, "", 1, &e) &&
          has(&json, "\"isolate_sink_t@other:itself\":") && has(&json, "\"probe_acc@1:other\":")
          && !has(&json, "nan"), "the JSON");
  static const char IDS[] = "7 9 7 9 8 8 7 9 30 31 32 33 34\n9 8 7 6 5 4 3 30 31 32 33 34 35\n";
  if (file_write(SCRATCH "/ids", IDS, sizeof IDS - 1, &e)) exit(1);
  if (!sink_does(t, "eval " SCRATCH "/m.ckpt --T 12 --n 2 --isolate 5 --ids " SCRATCH "/ids", &r))
    return;                                    /* as they are: nothing is written over token 1 */
  fact(t, has(&r.out, "the text's") && !has(&r.out, "first in training "), "ids");
  ran_free(&r); bytes_free(&json);
  static const char *const REFUSED[][2] = {
    {"--isolate 12 --T 12", "before the last of --T 12. Try: --isolate 6"},
    {"--isolate 1 --T 1", "Try: --T 64"}, {"--isolate-blocks 1", "--isolate-blocks"},
    {"--isolate 5 --T 12 --input random", "--input natural"}, {"--probe --n 4 --T 12", "--n 400"},
    {"--isolate 5 --T 400", "made for"}, {"--isolate 5 --inputs", "one model and one text"},
    {"--probe --lengths 8,12", "one model and one text"}, {"--seed 3", "--seed: it belongs"}};
  EACH(i, REFUSED) {
    char words[200];
    snprintf(words, sizeof words, "eval " SCRATCH "/m.ckpt %s", REFUSED[i][0]);
    sink_fails(t, words, 2, REFUSED[i][1]);
  }
}
