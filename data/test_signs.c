/* test_signs.c - the tests of signs.c: signs by hand, rounding, a cache that forgets. A part of
 * test_onset.c, which includes it.
 * SPDX-License-Identifier: MIT
 */

/* ---- 1 and 2: the signs ---- */

/* got is want, NaN for NaN. */
static void is_what(Test *t, double got, double want, const char *what) {
  if (isnan(want) || isinf(want)) fact(t, isnan(got), "%s: %g, expected NaN", what, got);
  else within(t, got, want, 1e-6, "%s", what);
}

static void rows__by_hand(Test *t) {
  const double half = (0.5 * log(2) + 0.5 * log(4)) / log(3);
  static const struct { const char *what; real m[4]; int seen; double mass, entropy[2], top; } ROWS[] = {
    {"even", {0.25, 0.25, 0.25, 0.25}, 4, 1, {1, 0}, 0},   {"one", {1, 0, 0, 0}, 4, 1, {0, 0}, 1},
    {"halves", {0.5, 0.25, 0.25, 0}, 3, 1, {0, 1}, 1},     {"signed", {-2, 1, 1, 0}, 3, 4, {0, 1}, 0},
    {"later", {0, 0, 3, 0}, 4, 3, {0, 0}, 0},              {"tie", {1, 1, 0, 0}, 2, 2, {1, 0}, 0},
    {"nothing", {0, 0, 0, 0}, 4, 0, {-1, 0}, 0},           {"alone", {1, 0, 0, 0}, 1, 1, {-1, 0}, 1},
    {"NaN", {1, 0, NAN, 0}, 4, NAN, {NAN, 0}, NAN},        {"NaN 1", {NAN, 0, 1, 0}, 4, NAN, {NAN, 0}, NAN},
    {"infinite", {INFINITY, 1, 0, 0}, 3, NAN, {NAN, 0}, 1}};
  EACH(i, ROWS) {
    const real *m = ROWS[i].m;
    double mass = row_mass(4, m);
    if (i < 10) is_what(t, mass, ROWS[i].mass, ROWS[i].what);
    else fact(t, !isfinite(mass), "%g", mass);
    is_what(t, row_entropy(4, m, ROWS[i].seen), ROWS[i].entropy[0] + ROWS[i].entropy[1] * half,
              ROWS[i].what);
    is_what(t, row_top(4, m, 0), ROWS[i].top, ROWS[i].what);
  }
}

/* A head's 20 tokens: dead from 19 of them on; kurtosis, of channels too, and peak. */
static void streams__by_hand(Test *t) {
  real o[20 * 5] = {0};
  for (int live = 0; live < 4; live++) {
    if (live) o[5 * (3 * live) + 1] = (real)(live == 1 ? -2e-6 : 1);
    is_what(t, head_dead(20, 2, o, 5), live < 2, "dead");
    is_what(t, head_dead(20, 2, o + 2, 5), 1, "the next head");
  }
  o[5 * 19] = NAN;
  is_what(t, head_dead(20, 2, o, 5), NAN, "a NaN");
  static const struct { const char *what; real x[6]; double all, channels, peak; } ROWS[] = {
    /* [2,3]: mean 0, squares 1 1 4: m4 = 6, m2 = 2; channels 1, 1, 4; median of 1 1 1 1 2 2 */
    {"two", {1, 1, 2, -1, -1, -2}, 1.5, 1.5, 2},
    {"one", {0, 0, 6, 0, 0, 0}, 4.2, 3, NAN},              /* mean 1: 5 ones and 5: 630/6 / 5^2 */
    {"alike", {2, 2, 2, 2, 2, 2}, NAN, 1, 1},              {"zero", {0}, NAN, NAN, NAN},
    {"NaN", {1, 2, 3, NAN, 5, 6}, NAN, NAN, NAN},          {"sink", {1, 1, 1, 1, 100, 1}, 4.2, 2.9976, 100}};
  EACH(i, ROWS) {
    real x[6];
    copy(x, ROWS[i].x, 6);
    is_what(t, kurtosis(6, x), ROWS[i].all, ROWS[i].what);
    double channels = channel_kurtosis(2, 3, x);
    if (i < 5) is_what(t, channels, ROWS[i].channels, ROWS[i].what);
    else within(t, channels, ROWS[i].channels, 1e-3, "%s", ROWS[i].what);
    is_what(t, peak(6, x), ROWS[i].peak, ROWS[i].what);
  }
}

/* dn as Acts.after finds it is the gradient of what MHSA reads: summed over the rows it is that of
 * n1's bias, and times the normed row that of its gain. Row norms by hand. */
static double *behind[2];
static void gather(const Acts *a, int l, int B, idx N) {
  const idx C = 12;
  for (idx i = 0; i < B * N; i++)
    for (idx ch = 0; ch < C; ch++) {
      const real *stat = a->layer[l].n1stat + 2 * i;
      double dn = (double)a->dn[i * C + ch];
      behind[0][l * C + ch] += dn;
      behind[1][l * C + ch] += dn * (double)((a->layer[l].x[i * C + ch] - stat[0]) * stat[1]);
    }
}
static void signs_after__gradients(Test *t) {
  LABS(b, 2, 9, "--norm layer", "--norm layer --place parallel --pos t5 --kv-heads 1",
       "--norm layer --sink-token --extra kv --window 4", "--norm layer --combine add --prefix 2") {
    behind[0] = room(2 * 12); behind[1] = room(2 * 12);
    b.a.after = gather;
    lab_gradients(&b);
    for (int l = 0; l < 2; l++)
      for (int ch = 0; ch < 12; ch++) {
        within(t, behind[0][l * 12 + ch], (double)b.m.d.layer[l].norm1b[ch], 1e4 * REAL_EPS, "bias");
        within(t, behind[1][l * 12 + ch], (double)b.m.d.layer[l].norm1[ch], 1e4 * REAL_EPS, "gain");
      }
    free(behind[0]); free(behind[1]);
  }
  real dn[] = {3, 4, 0, 1, 6, 8, 0, 0};                    /* two sequences of two rows */
  double got[4] = {0};
  const Config c = {.dim = 2};
  Signs g = {.a = {.dn = dn}, .c = &c, .gradient = got};
  signs_after(&g.a, 1, 2, 2);
  fact(t, got[0] == 0 && got[2] == 15 && got[3] == 1, "%g and %g", got[2], got[3]);
}

/* signs() of trained models beside evaluate(); without a loss the gradient alone is missing. */
static void signs__numbers(Test *t) {
  enum { T = 12, N = 9 };
  static const char *const FLAGS[] = {
    "--layers 2", "--extra kv --sink-token", "--place post --pos alibi", "--window 5 --kv-heads 1",
    "--sim sigmoid --normalizer one --scale 0.05", "--place parallel --norm layer --prefix 2"};
  Settings s;
  if (!tale_open(t, &s, "")) return;
  Trainer r;
  EACH(f, FLAGS) for (int random = 0; random < 2; random++) {
    Error e = {0}; Signs g; Sinks seen; int starts;
    if (!random && !trainer_made(t, &r, FLAGS[f])) return;
    steps_of(t, &r, 10);
    if (random) r.s.input = INPUT_RANDOM;
    if (signs(&g, &r.m, &r.data, &r.s, N, T, &e) ||
        evaluate(&seen, &r.m, &r.data, &r.s, N, T, &starts, &e)) {
      fact(t, false, "%s", e.text);
      return;
    }
    const double *x = g.x[g.L]; const int first = config_column_first(&r.m.c);
    double mass = 0, value = INFINITY, LH = seen.L * seen.H;
    for (int i = 0; i < LH; i++) mass += seen.mass[i] / LH;
    for (int l = 0; l < seen.L; l++) value = fmin(value, norm_ratio(seen.vnorm + l * seen.N, seen.N));
    within(t, x[G_SINK], sinks_sink(&seen, first, 0), 1e-12, "Sink_1");
    within(t, x[G_ALPHA], sinks_alpha(&seen, first), 1e-12, "alpha_1");
    within(t, x[G_MASS], mass, 1e-9, "%s: mass", FLAGS[f]);
    within(t, x[G_VALUE], value, 1e-12, "value");
    within(t, x[G_NORM], sinks_ratio(&seen), 1e-12, "norm");
    if (seen.L == 1) within(t, x[G_PEAK] / (seen.massive / seen.median), 1, 0.2, "peak");
    fact(t, isnan(x[G_GRADIENT]) == random && (g.why[0] != 0) == random, "gradient %g", x[G_GRADIENT]);
    for (int k = 0; k < SIGNS_ALL; k++)
      fact(t, k == G_GRADIENT ? random || x[k] > 0 : isfinite(x[k]) && x[k] >= 0, "%s: %s %g",
           FLAGS[f], SIGNS_COLUMNS[k].name, x[k]);
    fact(t, x[G_OFF] <= 1 && (f == 4) == (x[G_OFF] > 0.2), "%s: off %g", FLAGS[f], x[G_OFF]);
    fact(t, x[G_ENTROPY] <= 1 && x[G_ENTROPY] > 0.3, "entropy %g", x[G_ENTROPY]);
    sinks_free(&seen); signs_free(&g);
    if (!random) continue;
    for (idx i = 0; i < r.m.c.head_dim * r.m.c.kv_heads * r.m.c.dim; i++) r.m.w.layer[0].wv[i] = 0;
    if (!signs(&g, &r.m, &r.data, &r.s, N, T, &e))
      fact(t, g.x[0][G_DEAD] == !strstr(FLAGS[f], "kv "), "dead: %g", g.x[0][G_DEAD]);
    signs_free(&g); trainer_free(&r);
  }
}

/* ---- 3: rounding ---- */

static void quantized__by_hand(Test *t) {
  static const struct { int bits; real x[4]; double y[4]; } ROWS[] = {
    {2, {1, 0.4f, -0.6f, -1}, {1, 0, -1, -1}}, {2, {0, 0, 0, 0}, {0, 0, 0, 0}},
    {8, {127, 1.4f, -2.6f, 0}, {127, 1, -3, 0}}, {8, {0.5f, -1, 0.0039f, 0.004f}, {0.50393700787401574, -1, 0, 1 / 127.0}},
    {3, {-6, 1, 2.9f, 3.1f}, {-6, 0, 2, 4}}, {8, {NAN, 1, 2, 3}, {NAN, 42 / 127.0 * 3, 85 / 127.0 * 3, 3}}};
  EACH(i, ROWS) {
    real y[4], again[4];
    quantized(4, y, ROWS[i].x, ROWS[i].bits);
    quantized(4, again, y, ROWS[i].bits);
    for (int j = 0; j < 4; j++) {
      is_what(t, (double)y[j], ROWS[i].y[j], "Q(x)");
      fact(t, y[j] == again[j] || isnan((double)again[j]), "Q(Q(x)) is %g", (double)again[j]);
    }
  }
  real x[500], y[500], z[500]; Rng r = {3};
  for (int i = 0; i < 500; i++) x[i] = (real)(rng_normal(&r) * exp(rng_normal(&r)));
  for (int bits = 2; bits <= 24; bits++) {
    double step = (double)largest(500, x) / (ldexp(1, bits - 1) - 1);
    quantized(500, y, x, bits);
    quantized(500, z, y, bits);
    fact(t, same_numbers(500, y, z), "%d bits: twice is another thing", bits);
    for (int i = 0; i < 500; i++)
      within(t, (double)y[i], (double)x[i], step * 0.5000001, "%d bits", bits);
  }
}

/* 24 bits change nothing but rounding; weights that are rounded by hand have the weights' loss, and
 * once more rounded it stays; 2 bits do change; the model is left as it was; NaN is an error. */
static void quantize__losses(Test *t) {
  static const char *const FLAGS[] = {"", "--tied --kv-heads 1 --act gelu", "--linear-bias --extra kv"};
  Settings s;
  if (!tale_open(t, &s, "")) return;
  EACH(f, FLAGS) {
    Trainer r; Error e = {0}; double x[3][ROUNDED][ROUNDING];
    if (!trainer_made(t, &r, FLAGS[f])) return;
    steps_of(t, &r, 20);
    for (int k = 0; k < 3; k++) {
      r.s.quantize = k ? k == 1 ? 2 : 8 : 24;
      fact(t, !quantize(x[k], &r.m, &r.data, &r.s, 9, 12, &e) && !r.m.linear, "%s", e.text);
      within(t, x[k][0][R_LOSS], x[0][0][R_LOSS], 0, "untouched");
      for (int i = 1; i < ROUNDED; i++) {
        double more = x[k][i][R_LOSS] - x[k][0][R_LOSS];
        within(t, x[k][i][R_MORE], more, 1e-15, "the difference");
        fact(t, k == 1 ? fabs(more) > 1e-2 : fabs(more) > 1e-12, "%d bits cost %g", r.s.quantize, more);
        if (k != 1) within(t, more, 0, k ? 0.05 : 1e-5, "%d bits", r.s.quantize);
      }
      fact(t, x[k][THE_WEIGHTS][R_LOSS] != x[k][AND_INPUTS][R_LOSS], "inputs too");
    }
    for (int k = 0; k < r.m.n_tensors; k++) {
      const Tensor *w = &r.m.tensor[k];
      real *at = r.m.params + w->at;
      bool table = !strcmp(w->name, "wte");
      if (!w->matrix || table || strstr(w->name, "star")) continue;
      quantized(w->count, at, at, 8);
    }
    double by_hand[ROUNDED][ROUNDING];
    quantize(by_hand, &r.m, &r.data, &r.s, 9, 12, &e);
    if (!r.m.c.tied) within(t, by_hand[0][R_LOSS], x[2][THE_WEIGHTS][R_LOSS], 1e-12, "by hand");
    within(t, by_hand[2][R_LOSS], x[2][AND_INPUTS][R_LOSS], 1e-12, "and inputs");
    r.m.w.layer[0].w1[3] = NAN;
    fact(t, quantize(x[0], &r.m, &r.data, &r.s, 9, 12, &e) == 1 && strstr(e.text, "NaN"), "NaN");
    trainer_free(&r);
  }
}

/* ---- 4 and 5: the cache ---- */

static const char *const STREAMS[] = {
  "", "--pos none", "--pos alibi --kv-heads 1", "--pos t5 --extra k", "--pos relative --place post",
  "--pos learned", "--pos absolute --extra kv --vbias", "--sink-token --rotary-dims 2",
  "--sink-token --pos alibi", "--sink-token --pos learned --extra logit", "--kernel mlp --sim identity "
  "--normalizer clamp", "--kernel elu --sim identity --pos t5", "--window 6", "--prefix 3",
  "--window 6 --prefix 2 --pos alibi", "--sink-token --window 9 --pos t5 --place parallel",
  "--sim sigmoid --normalizer one --scale 0.05 --combine add", "--rope-pairing interleaved "
  "--head-dim 4 --kv-heads 1 --norm layer", NULL};

/* In a text no longer than the cache every policy has the loss of one forward. */
static void stream__as_evaluated(Test *t) {
  enum { T = 17 };
  LABS_OF(b, 1, T, STREAMS) {
    double got[T], worst = 0; Error e = {0};
    lab_loss(&b);
    EACH(p, POLICIES) for (int more = 0; more < 2; more++) {
      fact(t, !stream(got, &b.m, b.ids, b.targets, T, &POLICIES[p], b.a.N + 9 * more, 4, &e), "%s", e.text);
      for (int i = 0; i < T; i++) worst = larger(worst, fabs(got[i] - b.a.loss_row[i]));
    }
    within(t, worst, 0, 1e4 * REAL_EPS, "%s", b.flags);
  }
}

/* x [D] of a head, rotated on by `on` places, and through phi. */
static void reference_turn(const Model *m, int l, real *to, const real *x, idx on) {
  const Config *c = &m->c;
  const int half = c->rotary_dims / 2, split = c->rope_pairing == PAIR_HALF;
  real turned[16], hidden[16];
  copy(turned, x, c->head_dim);
  for (int p = 0; p < half && c->pos == POS_ROTARY; p++) {
    const int u = split ? p : 2 * p, v = split ? p + half : 2 * p + 1;
    const double angle = (double)on * rope_frequency(c, p);
    turned[u] = (real)((double)x[u] * cos(angle) - (double)x[v] * sin(angle));
    turned[v] = (real)((double)x[u] * sin(angle) + (double)x[v] * cos(angle));
  }
  copy(to, turned, c->head_dim);
  if (c->kernel) kernel_forward(c, &m->w.layer[l], to, hidden, turned, 1);
}

/* The reference: one forward over the whole text by 3.7's loops, whose hide masks what the cache
 * has dropped and, where places count, makes the scores of all others from the definition. Heads
 * come in their order. */
static struct Reference { const Model *m; idx W, S; bool text; int h; } reference;
static void reference_hide(const Acts *a, int l, idx b, idx i, idx lo, idx n, real *z) {
  struct Reference *r = &reference;
  const Config *c = &r->m->c;
  const LayerActs *la = &a->layer[l];
  const idx D = c->head_dim, K = c->kv_heads, first = config_rows(c, 1) - 1, w = config_window(c, l);
  const idx gone = i >= r->W ? i - r->W + 1 : 0;
  real q[16], k[16];
  if (i == 0) r->h = (r->h + 1) % c->heads;
  if (!gone) return;
  reference_turn(r->m, l, q, la->q + (i * c->heads + r->h) * D, -gone);
  if (!r->text && c->extra) z[-1] = extra_score(r->m, l, r->h, q);
  for (idx j = 0; j < n; j++) {
    const idx place = j < r->S ? j : j - gone, apart = i - gone - place;
    const bool prefix = j >= first && j < first + c->prefix;
    if (j >= r->S && place < r->S) z[j] = -INFINITY;
    if (r->text || j > i || z[j] == -INFINITY) {
      if (r->text || j > i || place < 0 || (j >= r->S && place < r->S)) continue;
    }
    reference_turn(r->m, l, k, la->k + (j * K + r->h / (c->heads / K)) * D, place - j);
    z[j] = (real)((double)vec_dot(D, q, k) * (double)score_scale(c, l));
    if (c->pos >= POS_RELATIVE) z[j] += (real)distance_bias(r->m, r->h, apart);
    if (w && apart >= w && !prefix) z[j] = -INFINITY;
  }
  (void)b; (void)lo;
}

/* loss [T] of policy p by the reference. */
static void reference_loss(Lab *b, const Policy *p, idx W, idx S) {
  const Config *c = &b->m.c;
  const real *table = c->pos == POS_LEARNED ? b->m.w.wpe : b->a.sinusoid;
  reference = (struct Reference){&b->m, W, p->sinks ? S : 0, p->text, -1};
  b->m.plain = true, b->a.hide = reference_hide;
  idx N = forward_begin(&b->m, &b->a, b->ids, 1, b->T), C = c->dim;
  for (idx i = W; i < N && table && !p->text; i++)
    for (idx ch = 0; ch < C; ch++) b->a.h0[i * C + ch] += table[(W - 1) * C + ch] - table[i * C + ch];
  for (int l = 0; l < c->layers; l++) block_forward(&b->m, &b->a, l, 1, N);
  forward_end(&b->m, &b->a, 1, N);
  model_loss(&b->m, &b->a, b->targets, 1, b->T, false, 1);
  b->m.plain = false, b->a.hide = NULL;
}

/* Caches that are full for most of the text: every window and sink policy, token by token. */
static void stream__against_one_forward(Test *t) {
  enum { T = 24 };
  static const struct { idx W, S; } SIZES[] = {{8, 2}, {5, 4}, {11, 1}, {9, 3}};
  const int had = workers();
  set_workers(1);
  LABS_OF(b, 1, T, STREAMS) EACH(size, SIZES) EACH(p, POLICIES) {
    const idx W = SIZES[size].W, S = SIZES[size].S;
    double got[T], worst = 0, moved = 0; Error e = {0};
    if (POLICIES[p].all || POLICIES[p].anew) continue;
    reference_loss(&b, &POLICIES[p], W, S);
    fact(t, !stream(got, &b.m, b.ids, b.targets, T, &POLICIES[p], W, S, &e), "%s", e.text);
    for (int i = 0; i < T; i++) worst = larger(worst, fabs(got[i] - b.a.loss_row[i]));
    within(t, worst, 0, 1e5 * REAL_EPS, "%s, %s by %s, %td and %td", b.flags, POLICIES[p].cache,
           POLICIES[p].positions, W, S);
    lab_loss(&b);
    for (int i = 0; i < T; i++) moved = larger(moved, fabs(got[i] - b.a.loss_row[i]));
    fact(t, b.m.c.window || moved > 1e-3, "%s, %s: nothing was dropped", b.flags, POLICIES[p].cache);
  }
  set_workers(had);
}

/* A window of W is the model with --window W, in every block, where positions are relative; one
 * sink is a prefix of 1. And a text is recomputed by forwards that end in each token. */
static void stream__identities(Test *t) {
  enum { T = 40, W = 9 };
  static const char *const FLAGS[] = {"", "--pos none --extra k", "--pos alibi", "--pos t5 --layers 3",
                                      "--pos relative --kv-heads 1 --sim sigmoid", NULL};
  LABS_OF(b, 1, T, FLAGS) for (int sink = 0; sink < 2; sink++) {
    double got[T]; Error e = {0};
    EACH(p, POLICIES) {
      if (POLICIES[p].all || POLICIES[p].anew || POLICIES[p].sinks != sink) continue;
      if (sink && !POLICIES[p].text && b.m.c.pos != POS_NONE) continue;
      stream(got, &b.m, b.ids, b.targets, T, &POLICIES[p], W, 1, &e);
      b.m.c.window = sink ? W - 1 : W, b.m.c.prefix = sink;
      lab_loss(&b);
      b.m.c.window = b.m.c.prefix = 0;
      for (int i = 0; i < T; i++)
        within(t, got[i], b.a.loss_row[i], 1e5 * REAL_EPS, "%s: token %d", b.flags, i + 1);
    }
  }
  LABS(b, 1, T, "", "--pos learned --sink-token", "--prefix 4 --extra kv") {
    double got[T]; Error e = {0};
    const int x = (int)b.a.N - T, keep = W - x;
    stream(got, &b.m, b.ids, b.targets, T, &POLICIES[POLICY_ANEW], W, 0, &e);
    for (int i = 0; i < T; i++) {
      const int from = i < keep ? 0 : i - keep + 1, n = i < keep ? keep : i - from + 1;
      model_forward(&b.m, &b.a, b.ids + from, 1, n);
      model_loss(&b.m, &b.a, b.targets + from, 1, n, false, 1);
      within(t, got[i], b.a.loss_row[i - from], 1e5 * REAL_EPS, "%s: token %d", b.flags, i + 1);
    }
  }
}

static void streamed_of__by_hand(Test *t) {
  double loss[120];
  for (int i = 0; i < 120; i++) loss[i] = i < 2 ? -1 : i < 9 ? 1 : i < 99 ? 2 : 4;
  double x[STREAMED], *at = x + S_DECADE;
  streamed_of(x, loss, 120);
  within(t, x[S_LOSS], (7 + 180 + 84) / 118.0, 1e-12, "loss");
  within(t, log(x[S_PERPLEXITY]), x[S_LOSS], 1e-12, "perplexity");
  fact(t, at[0] == 1 && at[1] == 2 && at[2] == 4 && isnan(at[3]), "%g %g %g", at[0], at[1], at[2]);
  loss[50] = NAN;
  streamed_of(x, loss, 120);
  fact(t, isnan(x[0]) && isnan(x[1]) && isnan(at[1]) && at[2] == 4, "a NaN");
  for (int k = 0, from = 1; k < 8; k++, from *= 10)              /* 1 .. 9, 10 .. 99 */
    fact(t, (int)log10(from + 0.5) == k && (!k || (int)log10(from - 0.5) == k - 1), "decade %d", k);
}

/* As a user asks. */
static void sink__signs(Test *t) {
  static const char *const ROWS[][2] = {
    {"eval " SCRATCH "/m.ckpt --T 12 --n 9 --signs --quantize 8 --json " SCRATCH "/m.json",
     "\nmodel "}, {"eval " SCRATCH "/m.ckpt --T 12 --n 9 --signs --input random", "No gradient: only"},
    {"stream " SCRATCH "/m.ckpt --n 60 --cache-size 9 --quiet --csv " SCRATCH "/m.csv", "recompute    cache"},
    {"stream " SCRATCH "/m.ckpt --n 60 --cache sink+window --positions text --sinks 2 --quiet", "2 of them"},
    {"stream " SCRATCH "/p.ckpt --n 60 --quiet", "dense        text             -          -"}};
  static const char *const REFUSED[][2] = {
    {"--cache nothing", "dense|window|sink+window|recompute"}, {"--positions cache", "--cache"},
    {"--cache window --positions x", "cache|text"}, {"--cache window --sinks 2", "changes nothing"},
    {"--cache dense --cache-size 9", "changes nothing"}, {"--sinks 30 --cache-size 30 --cache "
     "sink+window", "expected 31 or more"}, {"--steps 3", "no such flag"}};
  Settings s; Ran r; Error e = {0}; Bytes json = {0};
  if (no_binary(t) || !tale_open(t, &s, "")) return;
  said(t, "train --quiet --steps 9 --first-tokens 4 --out " SCRATCH "/m.ckpt" TINY);
  said(t, "train --quiet --steps 9 --pos learned --out " SCRATCH "/p.ckpt" TINY);
  EACH(i, ROWS) {
    if (!sink_does(t, ROWS[i][0], &r)) return;
    fact(t, has(&r.out, ROWS[i][1]) && !has(&r.out, "nan"), "%s: %s", ROWS[i][0], (char *)r.out.at);
    ran_free(&r);
  }
  fact(t, !file_read(SCRATCH "/m.json", &json, &e) && !file_read(SCRATCH "/m.csv", &json, &e)
       && !bytes_add(&json, "", 1, &e) && has(&json, "\"signs_gradient@1\":") && !has(&json, "nan")
       && has(&json, "\"signs_top_1\":") && has(&json, "\"quantize_inputs_more\":")
       && has(&json, "policy,positions,tokens,loss,perplexity,loss@1,loss@10\n\"dense\",\"text\",60,"),
       "%s", (char *)json.at);
  bytes_free(&json);
  EACH(i, REFUSED) {
    char words[200];
    snprintf(words, sizeof words, "stream " SCRATCH "/m.ckpt --n 60 %s", REFUSED[i][0]);
    sink_fails(t, words, 2, REFUSED[i][1]);
  }
  sink_fails(t, "stream " SCRATCH "/p.ckpt --n 60 --cache dense", 2, "learned positions end");
  sink_fails(t, "eval " SCRATCH "/m.ckpt --T 12 --quantize 8 --input random", 2, "--input natural");
  sink_fails(t, "eval " SCRATCH "/p.ckpt --T 12 --signs --swap-position 3", 2, "without --swap");
  sink_fails(t, "eval " SCRATCH "/m.ckpt " SCRATCH "/p.ckpt --signs", 2, "one model and one text");
}
