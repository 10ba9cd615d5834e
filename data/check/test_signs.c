/* test_signs.c - the tests of signs.c. A part of test_onset.c, which includes
 * it.
 *
 * SPDX-License-Identifier: MIT */

/* ---- 1 and 2: the signs ---- */

static void rows__by_hand(Test *t) {
  static const struct {
    const char *what;
    real m[4];
    int k;
    double mass, entropy, top;
  } ROWS[] = {
    {"even",      {0.25, 0.25, 0.25, 0.25}, 4, 1,        1,          0},
    {"one",       {1, 0, 0, 0},             4, 1,        0,          1},
    /* their entropy is (log 2 + log 4) / 2 / log 3 */
    {"halves",    {0.5, 0.25, 0.25, 0},     3, 1,        0.94639463, 1},
    {"signed",    {-2, 1, 1, 0},            3, 4,        0.94639463, 0},
    {"later",     {0, 0, 3, 0},             4, 3,        0,          0},
    {"tie",       {1, 1, 0, 0},             2, 2,        1,          0},
    {"nothing",   {0, 0, 0, 0},             4, 0,        -1,         0},
    {"alone",     {1, 0, 0, 0},             1, 1,        -1,         1},
    {"NaN",       {1, 0, NAN, 2},           4, NAN,      NAN,        NAN},
    {"NaN first", {NAN, 0, 1, 0},           4, NAN,      NAN,        NAN},
    {"infinite",  {INFINITY, 1, 0, 0},      3, INFINITY, NAN,        1}};
  EACH (i, ROWS) {
    const real *m = ROWS[i].m;
    is_what(t, row_mass(4, m), ROWS[i].mass, ROWS[i].what);
    is_what(t, row_entropy(4, m, ROWS[i].k), ROWS[i].entropy, ROWS[i].what);
    is_what(t, row_top(4, m, 0), ROWS[i].top, ROWS[i].what);
  }
}

/* A head's 20 tokens: dead from 19 of them on. */
static void head_dead__by_hand(Test *t) {
  real o[20 * 5] = {0};
  for (int live = 0; live < 4; live++) {
    if (live)
      o[15 * live + 1] = (real)(live == 1 ? -2e-6 : 1);
    is_what(t, head_dead(20, 2, o, 5), live < 2, "dead");
    is_what(t, head_dead(20, 2, o + 2, 5), 1, "the next head");
  }
  o[5 * 19] = NAN;
  is_what(t, head_dead(20, 2, o, 5), NAN, "a NaN");
}

/* |dL/dx| of three rows, summed over two sequences: 5 1 2; 10 3 1. */
static void signs_after__by_hand(Test *t) {
  real dn[] = {3, 4, 0, 1, 0, 2, -6, 8, -3, 0, 0, 1};
  double rows[6] = {0};
  const Signs g = {.a = {.dn = dn}, .c = &(Config){.dim = 2}, .gradient = rows};
  signs_after(&g.a, 1, 2, 3);
  is_what(t, norm_ratio(rows + 3, 3) + rows[0], 15 / 3.5, "gradient");
}

/* States of two rows of three channels: kurtosis, of channels too, and peak,
 * alone and as signs of a block, of one head, that attends. */
static void streams__by_hand(Test *t) {
  static const struct {
    const char *what;
    real x[6];
    double all, channels, peak;
  } ROWS[] = {
    /* mean 0, squares 0 0 0 1 1 4: m4 = 3, m2 = 1; channels 1/2, 1/2, 2; median
     * 1 of 0 1 */
    {"two",   {0, 0, 0, 1, 1, -2},  3,   1.5,       2},
    /* mean 1: 5 ones and 5: 630/6 / 5^2 */
    {"one",   {0, 0, 6, 0, 0, 0},   4.2, 3,         NAN},
    {"alike", {2, 2, 2, 2, 2, 2},   NAN, 1,         1},
    {"zero",  {0},                  NAN, NAN,       NAN},
    {"NaN",   {1, 2, 3, NAN, 5, 6}, NAN, NAN,       NAN},
    /* channels 1, 5000.5, 1 */
    {"sink",  {1, 1, 1, 1, 100, 1}, 4.2, 2.9976019, 100}};
  real o[2] = {0};
  EACH (i, ROWS) {
    real x[6], spare[6];
    /* of the head: its weights, then its map */
    real maps[] = {(real)0.15, 0, (real)0.02, (real)0.03, 1, 0, 0.75, 0.25};
    double all[2][SIGNS_ALL] = {{0}};   /* the block's sums and counts */
    const Config c = {
        .dim = 3, .heads = 1, .head_dim = 1, .kv_heads = 1, .layers = 1};
    copy(x, ROWS[i].x, 6);
    const Model m = {.c = c,
                     .layer = &(Layer){.mix = mhsa_forward, .wq = {.w = x}}};
    Signs b = {.a = {.h = x, .layer = &(LayerActs){.o = o}},
               .m = &m,
               .c = &c,
               .T = 2,
               .N = 2,
               .x = all,
               .count = all + 1,
               .spare = spare,
               .maps = maps};
    const struct {
      int k;
      double is;
    } WANT[] = {{G_MASS, 0.2},
                {G_OFF, 1},
                {G_TOP, 1},
                {G_ENTROPY, 2 - 0.75 * log(3) / log(2)},
                {G_KURTOSIS, ROWS[i].all},
                {G_PEAK, ROWS[i].peak},
                {G_CHANNELS, ROWS[i].channels}};
    signs_block(&b, 0);
    EACH (k, WANT)
      is_what(t, all[0][WANT[k].k], WANT[k].is, "of a block");
    is_what(t, kurtosis(6, x), ROWS[i].all, ROWS[i].what);
    is_what(t, channel_kurtosis(2, 3, x), ROWS[i].channels, ROWS[i].what);
    is_what(t, peak(6, x), ROWS[i].peak, ROWS[i].what);
  }
}

/* What gather() adds up of dn behind two blocks of 12 dims. */
typedef struct Behind {
  Lab lab;
  double bias[24], gain[24];
} Behind;

static void gather(const Acts *a, int l, int B, idx N) {
  Behind *to = (Behind *)((uintptr_t)a - offsetof(Behind, lab.a));
  for (idx i = 0; i < B * N * 12; i++) {
    const real *stat = a->layer[l].n1stat + 2 * (i / 12);
    to->bias[12 * l + i % 12] += (double)a->dn[i];
    to->gain[12 * l + i % 12] +=
        (double)(a->dn[i] * (a->layer[l].x[i] - stat[0]) * stat[1]);
  }
}

/* The sum of dn over rows is n1's bias gradient; by the normed row,
 * n1's gain's. */
static void signs_after__gradients(Test *t) {
  static const char *const FLAGS[] = {
    "--norm layer", "--norm layer --place parallel --pos t5",
    "--norm layer --sink-token --extra kv --window 4 --combine add --prefix 2",
    "--norm layer --place sandwich --gate element --qk-norm --xsa "
    "--kv-heads 1", NULL};
  for (Behind b = {0}; lab_next(&b.lab, t, 2, 9, FLAGS);
       b = (Behind){.lab = b.lab}) {
    backward_watch(&b.lab.m, &b.lab.a, gather);
    lab_gradients(&b.lab);
    for (int i = 0; i < 24; i++) {
      const Norm *d = &b.lab.m.layer[i / 12].norm1;
      within(t, b.bias[i], (double)d->b.d[i % 12], 1e4 * REAL_EPS, "bias");
      within(t, b.gain[i], (double)d->g.d[i % 12], 1e4 * REAL_EPS, "gain");
    }
  }
}

/* The signs that evaluate() has too, and of all others the largest block. */
static void signs_as_evaluated(Test *t, const Signs *g, const Sinks *seen,
                               const char *flags) {
  const double *x = g->x[g->L];
  const int first = config_column_first(g->c), last = g->L - 1;
  double mass = 0;
  for (int i = 0; i < seen->heads; i++)
    mass += seen->mass[i] / seen->heads;
  within(t, x[G_SINK], sinks_sink(seen, first, 0), 1e-12, "Sink_1");
  within(t, x[G_ALPHA], sinks_alpha(seen, first), 1e-12, "alpha_1");
  within(t, x[G_MASS], mass, 1e-9, "%s: mass", flags);
  within(t, g->x[last][G_VALUE],
         norm_ratio(seen->vnorm + last * seen->N, seen->N), 1e-12, "value");
  within(t, x[G_NORM], sinks_ratio(seen), 1e-12, "norm");
  for (int k = G_NORM; k < SIGNS_ALL; k++)
    fact(t, x[k] == larger(g->x[0][k], g->x[last][k]), "%s: the largest",
         SIGNS_COLUMNS[k].name);
  if (seen->L == 1)
    within(t, x[G_PEAK] / (seen->massive / seen->median), 1, 0.2, "peak");
}

/* Every sign is a number, but the gradient of random tokens, which says why. */
static void signs_there(Test *t, const Signs *g, bool random,
                        const char *flags) {
  const double *x = g->x[g->L];
  for (int k = 0; k < SIGNS_ALL; k++) {
    bool right = isfinite(x[k]) && x[k] >= 0;
    if (k == G_GRADIENT && random)
      right = isnan(x[k]) && g->why[0];
    fact(t, right, "%s: %s %g", flags, SIGNS_COLUMNS[k].name, x[k]);
  }
}

enum { SIGNS_T = 12, SIGNS_N = 9 };

/* The gradients of nine sequences at once have the same ratios. */
static void signs_at_once(Test *t, Trainer *r, const Signs *g) {
  enum { T = SIGNS_T, N = SIGNS_N };
  double sums[2 * (T + 1)] = {0};
  int ids[2 * N * T], starts;
  Signs all = {.c = g->c, .gradient = sums};
  data_probe(&r->data, &r->s.data, INPUT_NATURAL, N, T, ids, ids + N * T,
             &starts);
  if (acts_create(&all.a, &r->m, N, T, ACTS_ALL, fresh(t))) {
    fact(t, false, "%s", t->e.text);
    return;
  }
  model_forward(&r->m, &all.a, ids, N, T);
  model_loss(&r->m, &all.a, ids + N * T, N, T, 1);
  backward_watch(&r->m, &all.a, signs_after);
  model_backward(&r->m, &all.a, ids, N, T);
  for (int l = 0; l < g->L; l++)
    within(t, g->x[l][G_GRADIENT], norm_ratio(sums + l * g->N, g->N), 1e-9,
           "dL/dx, block %d", l);
  acts_free(&all.a);
}

/* Without the last key head's values in block 1 its heads are dead, where there
 * is no v*; without queries, if `even`, their weights are even. */
static void signs_of_zeros(Test *t, Trainer *r, bool even) {
  const Config *c = &r->m.c;
  const int D = c->head_dim, K = c->kv_heads;
  Signs g;
  for (int i = 0; i < c->dim; i++)
    zero(r->m.layer[0].wv.w + (i * K + K - 1) * D, D);
  if (even)
    zero(r->m.layer[0].wq.w, c->dim * 2 * D);
  signs(&g, &r->m, &r->data, &r->s, SIGNS_N, SIGNS_T, fresh(t));
  within(t, g.x[0][G_DEAD], c->extra == EXTRA_KV ? 0 : 1.0 / K, 1e-12, "dead");
  if (even)
    within(t, g.x[0][G_ENTROPY] + g.x[0][G_TOP], 1, 1e-9, "even weights");
  signs_free(&g);
}

/* signs() of trained models beside evaluate(); without a loss the gradient
 * alone is missing. */
static void signs__numbers(Test *t) {
  enum { T = SIGNS_T, N = SIGNS_N };
  static const char *const FLAGS[] = {
    "--layers 2", "--extra kv --sink-token", "--place post --pos alibi",
    "--window 5 --kv-heads 1", "--sim sigmoid --normalizer one --scale 0.05",
    "--place parallel --norm layer --prefix 2"};
  Settings s;
  Trainer r;
  if (!tale_open(t, &s, ""))
    return;
  EACH (f, FLAGS)
    for (int random = 0; random < 2; random++) {
      Error e = {0};
      Signs g;
      Sinks seen;
      if (!random && !trainer_made(t, &r, FLAGS[f]))
        return;
      steps_of(t, &r, 10);
      r.s.eps = 0.15;
      if (random)
        r.s.input = INPUT_RANDOM;
      fact(t,
           !signs(&g, &r.m, &r.data, &r.s, N, T, &e) &&
               !evaluate(&seen, &r.m, &r.data, &r.s, N, T, &e),
           "%s", e.text);
      signs_as_evaluated(t, &g, &seen, FLAGS[f]);
      signs_there(t, &g, random, FLAGS[f]);
      const double *x = g.x[g.L];
      fact(t,
           x[G_OFF] <= 1 && (f == 4) == (x[G_OFF] > 0.2) &&
               fabs(x[G_ENTROPY] - 0.65) < 0.35,
           "%s: off %g, entropy %g", FLAGS[f], x[G_OFF], x[G_ENTROPY]);
      if (!random)
        signs_at_once(t, &r, &g);
      sinks_free(&seen);
      signs_free(&g);
      if (random) {
        signs_of_zeros(t, &r, f == 0);
        trainer_free(&r);
      }
    }
}

/* The model's value drain is the least of its blocks', its gradient the
 * most. */
static void signs__of_the_model(Test *t) {
  Settings s;
  Trainer r;
  Signs g;
  if (!tale_open(t, &s, "") || !trainer_made(t, &r, "--layers 3"))
    return;
  Rng stir = {5};
  for (idx i = 0; i < r.m.count; i++)
    r.m.params[i] += (real)(0.5 * rng_normal(&stir));
  signs(&g, &r.m, &r.data, &r.s, 9, 12, fresh(t));
  double least = INFINITY, most = 0;
  for (int l = 0; l < 3; l++) {
    least = fmin(least, g.x[l][G_VALUE]);
    most = fmax(most, g.x[l][G_GRADIENT]);
  }
  fact(t, g.x[3][G_VALUE] == least, "the least value");
  fact(t, g.x[3][G_GRADIENT] == most, "the largest gradient");
  signs_free(&g);
  trainer_free(&r);
}

/* ---- 3: rounding ---- */

static void quantized__by_hand(Test *t) {
  static const struct {
    int bits;
    real x[4];
    double y[4];
  } ROWS[] = {
    {2, {1, 0.4f, -0.6f, -1},         {1, 0, -1, -1}},
    {2, {0, 0, 0, 0},                 {0, 0, 0, 0}},
    {8, {127, 1.4f, -2.6f, 0},        {127, 1, -3, 0}},
    {3, {-6, 1, 2.9f, 3.1f},          {-6, 0, 2, 4}},
    {8, {0.51f, -1, 0.0039f, 0.004f}, {65 / 127.0, -1, 0, 1 / 127.0}},
    {8, {NAN, 1, 2, 3},               {NAN, 126 / 127.0, 255 / 127.0, 3}}};
  real x[500], y[500], z[500];
  Rng r = {3};
  EACH (i, ROWS)
    for (int j = 0; j < 4; j++) {
      quantized(4, y, ROWS[i].x, ROWS[i].bits);
      is_what(t, (double)y[j], ROWS[i].y[j], "Q(x)");
    }
  for (int i = 0; i < 500; i++)
    x[i] = (real)(rng_normal(&r) * exp(rng_normal(&r)));
  for (int bits = 2; bits <= 24; bits++) {
    double most = (double)largest(500, x);
    double step = most / (ldexp(1, bits - 1) - 1);
    quantized(500, y, x, bits);
    quantized(500, z, y, bits);
    fact(t, same_numbers(500, y, z), "%d bits: twice is another thing", bits);
    for (int i = 0; i < 500; i++)
      within(t, (double)y[i], (double)x[i], step * 0.5000001, "Q(x)");
  }
}

/* 24 bits are next to nothing, 2 are much; weights rounded by hand have the
 * weights' loss. */
static void quantize__losses(Test *t) {
  static const char *const FLAGS[] = {"", "--tied --act gelu",
                                      "--linear-bias --extra kv"};
  static const int BITS[] = {24, 2, 8};
  Settings s;
  if (!tale_open(t, &s, ""))
    return;
  EACH (f, FLAGS) {
    Trainer r;
    Error e = {0};
    double x[3][ROUNDED][ROUNDING];
    if (!trainer_made(t, &r, FLAGS[f]))
      return;
    steps_of(t, &r, 20);
    for (int k = 0; k < 3; k++) {
      r.s.quantize = BITS[k];
      fact(t,
           !quantize(x[k], &r.m, &r.data, &r.s, 9, 12, &e) &&
               !r.m.wcls.product && !r.m.layer[0].w1.product,
           "%s", e.text);
      within(t, x[k][0][R_LOSS], x[0][0][R_LOSS], 0, "untouched");
      fact(t, fmod(x[k][0][R_SINK] * 18 + 1e-9, 1) < 1e-8, "a share of heads");
      for (int i = 1; i < ROUNDED; i++) {
        double more = x[k][i][R_MORE];
        double size = fabs(x[k][i][R_LOSS] - x[k][i - 1][R_LOSS]);
        bool costs = k == 1 ? fabs(more) > 1e-2 : size > 1e-12;
        fact(t, costs && more == x[k][i][R_LOSS] - x[k][0][R_LOSS],
             "%d bits cost %g", r.s.quantize, more);
        if (k != 1)
          within(t, more, 0, k ? 0.05 : 1e-5, "%d bits", r.s.quantize);
      }
    }
    for (int k = 0; k < r.m.n_tensors; k++) {
      const Tensor *w = r.m.all[k];
      if (w->matrix && strcmp(w->name, "wte") && !strstr(w->name, "star"))
        quantized(tensor_count(w), w->w, w->w, 8);
    }
    quantize(x[0], &r.m, &r.data, &r.s, 9, 12, &e);
    if (!r.m.c.tied)
      within(t, x[0][0][R_LOSS], x[2][THE_WEIGHTS][R_LOSS], 1e-12, "by hand");
    within(t, x[0][AND_INPUTS][R_LOSS], x[2][AND_INPUTS][R_LOSS], 1e-12,
           "and inputs");
    r.m.layer[0].w1.w[3] = NAN;
    fact(t,
         quantize(x[0], &r.m, &r.data, &r.s, 9, 12, &e) == 1 &&
             strstr(e.text, "NaN"),
         "NaN");
    trainer_free(&r);
  }
}

/* ---- 4 and 5: the cache ---- */

static const char *const STREAMS[] = {
  "", "--pos none", "--pos alibi --kv-heads 1", "--pos t5 --extra k",
  "--pos relative --place post", "--pos learned",
  "--pos absolute --extra kv --vbias", "--sink-token --rotary-dims 2",
  "--sink-token --pos alibi", "--sink-token --pos learned --extra logit",
  "--window 6", "--kernel mlp --sim identity --normalizer clamp",
  "--kernel elu --sim identity --pos t5", "--prefix 3",
  "--window 6 --prefix 2 --pos alibi", "--extra kv --kv-heads 1",
  "--sim sigmoid", "--sink-token --window 9 --pos t5 --extra logn",
  "--gate value --qk-norm --xsa --combine add",
  "--rope-pairing interleaved --head-dim 4 --kv-heads 1 --norm layer "
  "--place parallel",
  "--gate element --head-norm --place sandwich --norm dyt",
  "--window 6 --score-scale logn", NULL};

/* In a text no longer than the cache every policy has the loss of one forward
 * over it. */
static void stream__as_evaluated(Test *t) {
  enum { T = 17 };
  LABS_OF (b, 1, T, STREAMS) {
    double got[T], worst = 0;
    Error e = {0};
    lab_loss(&b);
    EACH (p, POLICIES)
      for (int more = 0; more < 2; more++) {
        if (stream(got, &b.m, b.ids, b.targets, T, &POLICIES[p],
                   b.a.N + 9 * more, 4, &e))
          worst = 1;
        for (int i = 0; i < T; i++)
          worst = larger(worst, fabs(got[i] - b.a.loss_row[i]));
      }
    within(t, worst, 0, 1e4 * REAL_EPS, "%s", b.flags);
  }
}

/* x [D] of a head, rotated on by `on` places, and through phi. */
static void turned(const Model *m, int l, real *to, const real *x, idx on) {
  const Config *c = &m->c;
  const bool split = c->rope_pairing == PAIR_HALF;
  real rotated[16], hidden[16];
  copy(rotated, x, c->head_dim);
  for (int p = 0; p < c->rotary_dims / 2 && c->pos == POS_ROTARY; p++) {
    const int u = split ? p : 2 * p;
    const int v = split ? p + c->rotary_dims / 2 : 2 * p + 1;
    const double by = pow(c->rope_base, -2.0 * p / c->rotary_dims);
    const double angle = (double)on * by;
    rotated[u] = (real)((double)x[u] * cos(angle) - (double)x[v] * sin(angle));
    rotated[v] = (real)((double)x[u] * sin(angle) + (double)x[v] * cos(angle));
  }
  copy(to, rotated, c->head_dim);
  if (c->kernel)
    kernel_forward(c, &m->layer[l], to, hidden, rotated, 1);
}

/* The reference: one forward over the whole text by 3.7's loops, whose hide
 * masks what the cache has dropped and, where places count, makes all scores by
 * the definition. Heads come in order. */
struct Reference {
  Acts a;          /* its address is the struct's */
  const Model *m;
  idx W, S;        /* the cache's size; the sinks it keeps */
  bool text;       /* positions are the text's */
  int h;           /* the head whose row 0 came last */
};

static void reference_hide(const Acts *a, int l, idx b, idx i, idx lo, idx n,
                           real *z) {
  struct Reference *r = (struct Reference *)a;
  const Config *c = &r->m->c;
  const LayerActs *la = &a->layer[l];
  const idx D = c->head_dim, K = c->kv_heads, first = c->sink_token;
  const idx w = r->m->layer[l].window;
  const idx gone = i >= r->W ? i - r->W + 1 : 0;
  real q[16], k[16];
  (void)b;
  (void)n;
  if (i == 0)
    r->h = (r->h + 1) % c->heads;
  turned(r->m, l, q, la->q + (i * c->heads + r->h) * D, -gone);
  /* column 0 is *: k* meets q, too */
  const real *star = r->m->layer[l].kstar.w;
  if (!r->text && star)
    z[-1] = vec_dot(D, q, star + r->h * D) * r->m->layer[l].root;
  for (idx j = lo; gone && j <= i; j++) {
    idx place = j < r->S ? j : j - gone, apart = i - gone - place;
    bool dropped = j >= r->S && place < r->S;
    bool hidden = w && apart >= w && (j < first || j >= first + c->prefix);
    real bias = 0;
    if (c->pos >= POS_RELATIVE)
      bias = (real)distance_bias(r->m, r->h, apart);
    turned(r->m, l, k, la->k + (j * K + r->h / (c->heads / K)) * D, place - j);
    if (dropped || (hidden && !r->text))
      z[j - lo] = -INFINITY;
    else if (!r->text)
      z[j - lo] = vec_dot(D, q, k) * r->m->layer[l].root + bias;
  }
}

/* loss [T] of policy p by the reference. */
static void reference_loss(Lab *b, const Policy *p, idx W, idx S) {
  const Config *c = &b->m.c;
  const real *table = c->pos == POS_LEARNED ? b->m.wpe.w : b->a.sinusoid;
  struct Reference r = {b->a, &b->m, W, p->sinks ? S : 0, p->text, -1};
  const Seams seams = b->m.seams;
  b->m.plain = true;
  r.a.hide = reference_hide;
  rows_watch(&b->m);
  idx N = forward_begin(&b->m, &r.a, b->ids, 1, b->T), C = c->dim;
  for (idx i = W * C; i < N * C && table && !p->text; i++)
    r.a.h0[i] += table[(W - 1) * C + i % C] - table[i];
  for (int l = 0; l < c->layers; l++)
    block_forward(&b->m, &r.a, l, 1, N);
  forward_end(&b->m, &r.a, 1, N);
  model_loss(&b->m, &r.a, b->targets, 1, b->T, 0);
  b->m.plain = false;
  b->m.seams = seams;
}

/* Caches that are full for most of the text: every window and sink policy,
 * token by token. */
static void stream__against_one_forward(Test *t) {
  enum { T = 24 };
  static const struct {
    idx W, S;
  } SIZES[] = {{8, 2}, {5, 4}, {11, 1}, {9, 3}};
  const int had = workers();
  set_workers(1);
  LABS_OF (b, 1, T, STREAMS)
    EACH (k, SIZES)
      EACH (x, POLICIES) {
        double got[T], worst = 0;
        Error e = {0};
        const Policy *p = &POLICIES[x];
        if (p->anew || p->all)
          continue;
        reference_loss(&b, p, SIZES[k].W, SIZES[k].S);
        stream(got, &b.m, b.ids, b.targets, T, p, SIZES[k].W, SIZES[k].S, &e);
        fact(t, !e.status && b.m.wpe.w == lab_at(&b, "wpe"), "%s", e.text);
        for (int i = 0; i < T; i++)
          worst = larger(worst, fabs(got[i] - b.a.loss_row[i]));
        within(t, worst, 0, 1e5 * REAL_EPS, "%s, %s by %s", b.flags, p->cache,
               p->positions);
      }
  set_workers(had);
}

/* A window of W is the model with --window W, in every block, where positions
 * are relative; one sink is a prefix of 1. And a text is recomputed by forwards
 * that end in each token. */
static void stream__identities(Test *t) {
  enum { T = 40, W = 9 };
  LABS (b, 1, T, "", "--pos none --extra k",
        "--pos alibi --score-scale logn --soft-cap 3", "--extra logn",
        "--pos t5", "--pos relative --kv-heads 1 --sim sigmoid")
    EACH (k, POLICIES) {
      double got[T];
      Error e = {0};
      const Policy *p = &POLICIES[k];
      if (p->all || p->anew || (p->sinks && !p->text && b.m.c.pos != POS_NONE))
        continue;
      stream(got, &b.m, b.ids, b.targets, T, p, W, 1, &e);
      for (int l = 0; l < b.m.c.layers; l++)
        b.m.layer[l].window = W - p->sinks;
      b.m.c.prefix = p->sinks;
      lab_loss(&b);
      for (int l = 0; l < b.m.c.layers; l++)
        b.m.layer[l].window = 0;
      b.m.c.prefix = 0;
      for (int i = 0; i < T; i++)
        within(t, got[i], b.a.loss_row[i], 1e5 * REAL_EPS, "%s: token %d",
               b.flags, i + 1);
    }
  LABS (b, 1, T, "", "--pos learned --sink-token", "--prefix 4 --extra kv") {
    double got[T];
    Error e = {0};
    const int n = W - (int)(b.a.N - T);
    stream(got, &b.m, b.ids, b.targets, T, &POLICIES[POLICY_ANEW], W, 0, &e);
    for (int i = 0; i < T; i++) {
      const int from = i < n ? 0 : i - n + 1;
      model_forward(&b.m, &b.a, b.ids + from, 1, n);
      model_loss(&b.m, &b.a, b.targets + from, 1, n, 0);
      within(t, got[i], b.a.loss_row[i - from], 1e5 * REAL_EPS, "%s: token %d",
             b.flags, i + 1);
    }
  }
}

static void streamed_of__by_hand(Test *t) {
  double loss[120], x[STREAMED], *at = x + S_DECADE;
  for (int i = 0; i < 120; i++) {
    loss[i] = i < 99 ? 2 : 4;
    if (i < 9)
      loss[i] = i < 2 ? -1 : 1;
  }
  streamed_of(x, loss, 120);
  within(t, x[S_LOSS], (7 + 180 + 84) / 118.0, 1e-12, "loss");
  within(t, log(x[S_PERPLEXITY]), x[S_LOSS], 1e-12, "perplexity");
  fact(t, at[0] == 1 && at[1] == 2 && at[2] == 4 && isnan(at[3]), "%g %g %g",
       at[0], at[1], at[2]);
  loss[50] = NAN;
  streamed_of(x, loss, 120);
  fact(t, isnan(x[0]) && isnan(x[1]) && isnan(at[1]) && at[2] == 4, "a NaN");
}

/* As a user asks: what is printed and written, and what is refused. */
static void sink__signs(Test *t) {
#define OF_M SCRATCH "/m.ckpt --T 12 --n 9 "
#define OF_TEXT_M "stream " SCRATCH "/m.ckpt --n 60 --quiet "
  static const char *const ROWS[][2] = {
    {"eval " OF_M "--signs --quantize 8 --json " SCRATCH "/m.json", "\nmodel "},
    {"eval " OF_M "--signs --input random", "No gradient: only"},
    {OF_TEXT_M, "10 to 99 and"},
    {OF_TEXT_M "--cache-size 9 --csv " SCRATCH "/m.csv", "recompute    cache"},
    {OF_TEXT_M "--cache sink+window --positions text --sinks 2",
     "also the first 2"},
    {"stream " SCRATCH "/p.ckpt --n 60 --quiet",
     "dense        text             -          -"}};
  static const char *const REFUSED[][2] = {
    {OF_TEXT_M "--cache nothing", "dense|window|sink+window"},
    {"stream", "a model file"},
    {OF_TEXT_M "--positions cache", "--cache"},
    {OF_TEXT_M "--cache window --positions x", "|text"},
    {OF_TEXT_M "--cache window --sinks 2", "no effect"},
    {OF_TEXT_M "--cache recompute --positions text", "no effect"},
    {OF_TEXT_M "--steps 3", "not a flag"},
    {OF_TEXT_M "--sinks 1 --cache-size 1 --cache sink+window",
     "must be at least 2"},
    {OF_TEXT_M "--cache dense --cache-size 9", "no effect"},
    {OF_TEXT_M "--input natural", "not a flag"},
    {"stream " SCRATCH "/p.ckpt --n 60 --cache dense",
     "--cache dense: there are no learned positions after"},
    {"stream " SCRATCH "/p.ckpt --n 60 --cache window --cache-size 50",
     "--cache-size 50: there are no learned positions after"},
    {"stream " SCRATCH "/q.ckpt --n 3", "prefix of 5 leaves no token"},
    {"eval " OF_M "--quantize 8 --input random", "natural"},
    {"eval " OF_M "--signs --swap-position 3", "without --signs"},
    {"eval " SCRATCH "/m.ckpt " SCRATCH "/p.ckpt --signs",
     "one model and one text"}};
  Settings s;
  if (no_binary(t) || !tale_open(t, &s, ""))
    return;
  said(t, "train --quiet --steps 9 --first-tokens 4 "
          "--out " SCRATCH "/m.ckpt" TINY);
  said(t, "train --quiet --steps 9 --pos learned "
          "--out " SCRATCH "/p.ckpt" TINY);
  said(t, "train --quiet --steps 9 --prefix 5 --out " SCRATCH "/q.ckpt" TINY);
  EACH (i, ROWS) {
    const char *out = said(t, "%s", ROWS[i][0]);
    fact(t, strstr(out, ROWS[i][1]) && !strstr(out, "nan"), "%s: %s",
         ROWS[i][0], out);
  }
  const char *json = text_in(t, SCRATCH "/m.json");
  const char *csv = text_in(t, SCRATCH "/m.csv");
  fact(t,
       strstr(json, "\"signs_gradient@1\":") &&
           strstr(json, "\"quantize_inputs_more\":") && !strstr(json, "nan") &&
           !strstr(csv, "nan"),
       "%s, %s", json, csv);
  has_part(t, csv,
           "policy,positions,tokens,loss,perplexity,loss@1,loss@10\n"
           "\"dense\",\"text\",60,");
  EACH (i, REFUSED)
    sink_fails(t, REFUSED[i][0], 2, REFUSED[i][1]);
}
