/* statements.c - what `paper check` states. Chapter 8 of paper.c.
 *
 * SPDX-License-Identifier: MIT
 */

/* -----------------------------------------------------------------------------
 * 8  [E4] [T4] [T15] What `check` states besides: closed forms, limits, neutral
 *    elements, causality
 *
 * In block 1 the states of a repeated token are equal whatever the attention,
 * so z(n) and, with an extra column, z*_t give every weight of every row; where
 * states stay equal, in the later blocks too. z(n) = <R_n q, k> / sqrt(D) +
 * b(n) rotates once, by the distance, where the model rotates q and k; z*_t =
 * <R_(t-1) q, k*> / sqrt(D) depends on t under rotary, since k* is not rotated
 * and positions count from 0.
 * Kernels are left out: under rotary phi(R_i q) phi(R_j k) is no function of
 * the distance. */

/* <R_n q, k> for two vectors [D] of head h, n < 0 for a key
 * ahead of its query. */
static double rotated(const Config *c, const double *q, const double *k,
                      int n) {
  int half = c->head_dim / 2;
  double dot = 0;
  for (int a = 0, b = half; a < half; a++, b++) {
    double angle = c->pos == POS_ROTARY ? n * pow(10000, -(double)a / half) : 0;
    dot += (q[a] * k[a] + q[b] * k[b]) * cos(angle) +
           (q[a] * k[b] - q[b] * k[a]) * sin(angle);
  }
  return dot;
}

enum { WIDEST = 32 };   /* channels of the widest toy */

/* y = LN(x) W or x W for one row, in double. */
static void times(double *y, const double *x, const real *gain, const real *w,
                  int in, int out) {
  double square = 0;
  for (int i = 0; i < in; i++)
    square += x[i] * x[i] / in;
  for (int o = 0; o < out; o++) {
    y[o] = 0;
    for (int i = 0; i < in; i++)
      y[o] += (gain ? x[i] / sqrt(square + 1e-5) * gain[i] : x[i]) *
              w[i * out + o];
  }
}

/* In row t of a head: scores, weights and metric off the closed form. Once a
 * row, at i = t. */
static double off_closed(Place s) {
  const Toy *y = s.y;
  const Config *c = &y->m.c;
  const Layer *w = &y->m.layer[s.l];
  int D = c->head_dim, Q = c->heads * D, t = s.t, from = c->extra ? 0 : 1;
  double n1[WIDEST], q[WIDEST], k[WIDEST], star[WIDEST] = {0};
  double z[TOKENS + 1], worst = 0;
  if (s.i != t)
    return 0;
  /* LN(h) of token 1: no toy here has a sink token */
  for (int ch = 0; ch < c->dim; ch++)
    n1[ch] = y->a.layer[s.l].n1[ch];
  times(q, n1, NULL, w->wq.w, c->dim, Q);
  times(k, n1, NULL, w->wk.w, c->dim, Q);
  for (int d = 0; d < Q && w->kstar.w; d++)
    star[d] = w->kstar.w[d];
  for (s.i = from; s.i <= y->T; s.i++) {   /* i = 0 is the extra column */
    int i = s.i, n = i ? t - i : t - 1;
    bool seen = !i || (n >= 0 && (!c->window || n < c->window)) ||
                i <= c->prefix;
    const double *key = i ? k : star;
    double x = rotated(c, q + s.h * D, key + s.h * D, n) / sqrt(D);
    if (i)
      x += closed_bias(y, s.h, n > 0 ? n : 0);
    else if (w->logit.w)
      x = w->logit.w[s.h];
    else if (c->extra == EXTRA_LOGIT)
      x = c->extra_logit;
    else if (c->extra == EXTRA_LOGN)
      x = log(t);
    z[i - from] = seen ? x : NAN;
    worst = larger(worst, off(score(s), seen ? x : 0));
  }
  return larger(worst, closed_off(s, from, z));
}

static void check_scores(Page *p) {
  /* With the first four, states agree in all blocks; with others in block 1. */
  static const char *const FLAGS[] = {
    "--sim exp", "--scale 0.2", "--window 4", "--prefix 5",
    "--layers 1 --sim sigmoid", "--layers 1 --sim elu",
    "--layers 1 " LINEAR_CLAMP, "--layers 1 " SIGMOID_1,
    "--layers 1 " ELU_1, "--layers 1 " LINEAR_1,
    "--layers 1 --normalizer pnorm --pnorm 0.5",
    "--layers 1 --sim sigmoid --normalizer pnorm --pnorm 2",
    "--layers 1 --extra k", "--layers 1 --extra k --extra-dims 2",
    "--layers 1 --extra k --sim sigmoid", "--layers 1 --extra kv",
    "--layers 1 --extra zero", "--layers 1 --extra logit",
    "--layers 1 --extra logit --extra-logit -1",
    "--layers 1 --sim sigmoid --extra logn",
    "--layers 1 --sim softpick --extra k",
    "--layers 1 --sim rectified --extra k",
    "--layers 1 --sim relu --normalizer one",
    "--layers 1 --sim sigmoid --normalizer count --extra kv",
    "--layers 1 --sim sparsemax --extra zero",
    "--layers 1 --sim entmax --extra k", NULL};
  for (const char *const *flags = FLAGS; *flags; flags++) {
    double worst = 0;
    for (int x = 0; x < INSIDE; x++) {
      Toy *y = toy(p, REPEATED, "--context 24 %s %s", SCHEMES[x], *flags);
      worst = larger(worst, greatest(y, off_closed));
    }
    holds(p, *flags, worst, SCORES);
  }
}

/* How far h_t^l, from <= t <= to, lies from x [C]. */
static double states_off(const Toy *y, int l, int from, int to, const real *x) {
  double worst = 0;
  for (int t = from; t <= to && y->T; t++)
    worst = larger(worst, apart(y->m.c.dim, toy_state(y, l, t), x));
  return worst;
}

/* Equation 16 (and section 3.1's h_1) in plain loops: how far the first n
 * tokens lie from
 *   u = x + Concat_h(LN(x) W_V^h) W_O      x <- u + FFN(LN(u))
 * chained from the embedding of the first token. */
static double off_loops(const Toy *y, int n) {
  int C = y->m.c.dim, Q = y->m.c.heads * y->m.c.head_dim, F = y->m.c.ffn;
  double x[WIDEST], v[WIDEST], o[WIDEST], f1[WIDEST], f2[WIDEST], worst = 0;
  real closed[WIDEST];
  for (int i = 0; i < C; i++)
    x[i] = y->m.wte.w[y->ids[0] * C + i];
  for (int l = 0; l < y->m.c.layers; l++) {
    const Layer *w = &y->m.layer[l];
    times(v, x, w->norm1.g.w, w->wv.w, C, Q);
    times(o, v, NULL, w->wo.w, Q, C);
    for (int i = 0; i < C; i++)
      x[i] += o[i];
    times(f1, x, w->norm2.g.w, w->w1.w, C, F);
    times(f2, x, w->norm2.g.w, w->w2.w, C, F);
    for (int i = 0; i < F; i++)
      f1[i] *= f2[i] / (1 + exp(-f1[i]));
    times(o, f1, NULL, w->w3.w, F, C);
    for (int i = 0; i < C; i++) {
      x[i] += o[i];
      closed[i] = (real)x[i];
    }
    worst = larger(worst, states_off(y, l + 1, 1, n, closed));
  }
  return worst;
}

/* With Z = 1 states agree where r_t does, as far as equal states reach. A
 * window of w: in block 1 the rows t >= w all see w equal keys; in block l all
 * w states that t sees must agree, so t >= 1 + l(w-1), under every position
 * that depends on the distance alone. A prefix of p without positions: rows
 * t <= p all see the same keys, in every block. The spread of those tokens; and
 * how far the one beside them ends from them. */
static double window_spread(const Toy *y) {
  double worst = 0;
  for (int l = 0; l <= y->m.c.layers; l++) {
    int first = 1 + l * (y->m.c.window - 1);
    worst = larger(worst,
                   states_off(y, l, first, y->T, toy_state(y, l, first)));
  }
  return worst;
}
static double window_beside(const Toy *y) {
  int L = y->m.c.layers, first = 1 + L * (y->m.c.window - 1);
  return states_off(y, L, first - 1, first - 1, toy_state(y, L, first));
}

/* The clamp: r_t is constant if |sum_t| >= 1 with one sign for all t,
 * and otherwise only by accident. Whether row t misses that, by the
 * sign of row 1. */
static double clamp_misses(Place s) {
  Place first = {s.y, s.l, s.h, 1, 1};
  double sum = 0;
  for (s.i = 1; s.i <= s.t; s.i++)
    sum += score(s);
  return (score(first) > 0 ? sum : -sum) < 1;
}

/* W_K = gain W_Q: then s(0) = gain |q|^2 / sqrt(D) > 0 is large. */
static void keys_from_queries(Toy *y, double gain) {
  for (int l = 0; l < y->m.c.layers; l++)
    for (idx n = 0; n < (idx)y->m.c.dim * y->m.c.heads * y->m.c.head_dim; n++)
      y->m.layer[l].wk.w[n] = (real)(gain * y->m.layer[l].wq.w[n]);
  toy_forward(y);
}

/* 60 models, half of them with W_K = 8 W_Q, and so large sums. The condition,
 * read off the recorded scores, must tell whether the states agree: the worst
 * of those that meet it, the least of the others. */
static void check_clamp(Page *p) {
  double worst = 0, least = INFINITY;
  for (int n = 0; n < 60 && !p->e->status; n++) {
    Toy *y = toy(p, REPEATED, LINEAR_CLAMP " %s", SCHEMES[n % INSIDE]);
    toy_fill(&y->m, (uint64_t)n);
    toy_forward(y);
    if (n & 1)
      keys_from_queries(y, 8);
    if (greatest(y, clamp_misses) < 1)
      worst = larger(worst, toy_spread(y, 1, y->T, y));
    else
      least = smaller(least, toy_spread(y, 1, y->T, y));
  }
  holds(p, "Table 15, 8: clamp: 60 models, |sum_t| >= 1, one sign", worst,
        STATES);
  control(p, "  the others", least, APART);
}

static void check_behind(Page *p) {
  double block = 0, first = 0, spread = 0, large = 0;
  double beside = INFINITY, other = INFINITY;
  for (int x = 0; x < POS_ROWS; x++) {
    Toy *y = toy(p, REPEATED, "%s", SCHEMES[x]);
    y->ids[0] = 3;
    toy_forward(y);
    other = smaller(other, toy_spread(y, 2, y->T, y));
  }
  for (int x = 0; x < INSIDE; x++) {
    Toy *y = toy(p, REPEATED, "%s", SCHEMES[x]);
    block = larger(block, off_loops(y, 12));
    y = toy(p, RANDOM, "--context 9 %s", SCHEMES[x]);
    first = larger(first, off_loops(y, 1));
    y = toy(p, REPEATED, "%s --window 4 --context 14 " SIGMOID_1, SCHEMES[x]);
    spread = larger(spread, window_spread(y));
    beside = smaller(beside, window_beside(y));
    y = toy(p, REPEATED, LINEAR_CLAMP " %s", SCHEMES[x]);
    Toy *one = toy(p, REPEATED, LINEAR_CLAMP " %s", SCHEMES[x]);
    keys_from_queries(y, 16);
    keys_from_queries(one, 16);
    large = larger(large, toy_spread(y, 1, y->T, alone(one)));
  }
  holds(p, "eq. 16: h_t^l by the equation itself, where P = 0", block, STATES);
  holds(p, "sec. 3.1: h_1 = FFN(LN(o+h))+o+h, o = LN(h) W_V W_O", first,
        STATES);
  control(p, "eq. 17: another first token, the others' states", other, APART);
  holds(p, "eq. 17: window, Z = 1: tokens t > l(w-1)", spread, STATES);
  control(p, "  and the token before them", beside, APART);
  Toy *y = toy(p, REPEATED, "--prefix 5 --pos none --context 14 " SIGMOID_1);
  if (p->e->status)
    return;
  holds(p, "eq. 17: prefix p, Z = 1: tokens t <= p", toy_spread(y, 1, 5, y),
        STATES);
  control(p, "  and the tokens after them",
          states_off(y, 3, 6, 6, toy_state(y, 3, 1)), APART);
  holds(p, "Table 15, 8: clamp, W_K = 16 W_Q", large, STATES);
  check_clamp(p);
  y = toy(p, REPEATED, "--extra kv");
  control(p, "Table 4: KV biases: o_t = v + A_t*(v* - v)",
          toy_spread(y, 1, y->T, y), APART);
  /* while states are equal v is one vector */
  for (int l = 0; l < y->m.c.layers; l++) {
    copy(y->m.layer[l].vstar.w, y->a.layer[l].v,
         (idx)y->m.c.heads * y->m.c.head_dim);
    toy_forward(y);
  }
  holds(p, "  with v* = v in every block", toy_spread(y, 1, y->T, y), STATES);
}

/* [T4] A key bias is a gate, and without a normaliser it is nothing.
 *
 * With an extra column of logit b_i and value v*, and sum_i = sum_j e^z_ij over
 * the keys,
 *
 *   o_i = g_i softmax(z_i) V + (1 - g_i) v*
 *   g_i = sum_i / (e^b_i + sum_i) = sigmoid(log sum_i - b_i)
 *
 * K biases, a zero logit and a learned one have v* = 0: they close the head by
 * 1 - g_i, at a logit of 20 all but wholly. With Z = 1 no row is divided by
 * anything: a column of value 0 changes no bit and gets no gradient; the clamp
 * sums it. */

/* Block 1's head outputs with the column, off the gate on those without; or off
 * those without. */
static double off_gate(const Toy *y, const Toy *plain) {
  int H = y->m.c.heads, D = y->m.c.head_dim;
  const real *vstar = y->T ? y->m.layer[0].vstar.w : NULL;
  double worst = 0;
  for (Place s = {.y = y}; s.h < H; s.h++)
    for (s.t = 1; s.t <= y->T; s.t++) {
      idx at = ((idx)(s.t - 1) * H + s.h) * D;
      real gated[WIDEST];
      s.i = 0;
      double sum = 0, b = score(s);
      for (s.i = 1; s.i <= s.t; s.i++)
        sum += exp(score(s));
      double g = 1 / (1 + exp(b - log(sum)));
      for (int d = 0; d < D; d++) {
        double v = vstar ? vstar[s.h * D + d] : 0;
        gated[d] = (real)(g * plain->a.layer[0].o[at + d] + (1 - g) * v);
      }
      worst = larger(worst, apart(D, y->a.layer[0].o + at, gated));
    }
  return worst;
}
static double off_plain(const Toy *y, const Toy *plain) {
  return apart((idx)y->T * y->m.c.heads * y->m.c.head_dim, y->a.layer[0].o,
               plain->a.layer[0].o);
}

/* A toy whose logits of block 1 are x. */
static Toy *with_logit(Page *p, double x) {
  Toy *y = toy(p, RANDOM, "--extra logit");
  for (int h = 0; h < y->m.c.heads; h++)
    y->m.layer[0].logit.w[h] = (real)x;
  toy_forward(y);
  return y;
}

/* Numbers that differ between two toys: logits, and gradients of the tensors
 * that both have; and numbers not 0 in the gradient of k*. */
static double moved_numbers(Toy *y, Toy *z) {
  real logits[LOGITS], plain[LOGITS];
  int L = y->m.c.layers, Q = y->m.c.heads * y->m.c.head_dim;
  if (!y->T || !z->T)
    return NAN;
  toy_gradients(y);
  toy_gradients(z);
  toy_logits(y, logits);
  toy_logits(z, plain);
  double count = differing(y->T * TOY_VOCAB, logits, plain);
  for (int i = 0; i < z->m.n_tensors; i++)
    for (int k = 0; k < y->m.n_tensors; k++) {
      const Tensor *t = z->m.all[i], *same = y->m.all[k];
      if (!strcmp(same->name, t->name) && tensor_count(same) == tensor_count(t))
        count += differing(tensor_count(t), same->d, t->d);
    }
  for (int n = 0; n < L * Q && y->m.layer[0].kstar.w; n++)
    count += differing(1, &y->m.layer[n / Q].kstar.d[n % Q], &(real){0});
  return count;
}
static double moved_by(Page *p, const char *flags, const char *than) {
  return moved_numbers(toy(p, RANDOM, "%s", flags), toy(p, RANDOM, "%s", than));
}

static void check_gate(Page *p) {
  Toy *plain = toy(p, RANDOM, ""), *k = toy(p, RANDOM, "--extra k");
  Toy *kv = toy(p, RANDOM, "--extra kv"), *nil = toy(p, RANDOM, "--extra zero");
  Toy *low = with_logit(p, 0.01), *high = with_logit(p, 20);
  if (p->e->status)
    return;
  holds(p, "Table 4: K biases: o = g softmax(z) V", off_gate(k, plain), SCORES);
  control(p, "  with g = 1", off_plain(k, plain), APART);
  holds(p, "Table 4: KV: o = g softmax(z) V + (1 - g) v*", off_gate(kv, plain),
        SCORES);
  holds(p, "beyond: zero logit: o = g softmax(z) V", off_gate(nil, plain),
        SCORES);
  holds(p, "beyond: learned logit of 0.01", off_gate(low, plain), SCORES);
  control(p, "  with g = 1", off_plain(low, plain), APART);
  holds(p, "beyond: learned logit of 20", off_gate(high, plain), SCORES);
  control(p, "  with g = 1", off_plain(high, plain), APART);
  holds(p, "Table 4: K biases, sigmoid: moved, or dk* not 0",
        moved_by(p, SIGMOID_1 " --extra k", SIGMOID_1), 0);
  holds(p, "  elu + 1", moved_by(p, ELU_1 " --extra k", ELU_1), 0);
  holds(p, "  linear", moved_by(p, LINEAR_1 " --extra k", LINEAR_1), 0);
  control(p, "  linear / clamp",
          moved_by(p, LINEAR_CLAMP " --extra k", LINEAR_CLAMP), 1);
  control(p, "  KV biases, sigmoid",
          moved_by(p, SIGMOID_1 " --extra kv", SIGMOID_1), 1);
}

/* A neutral row of an axis changes no bit of the logits,
 * nor of the gradients. */
static void check_neutral(Page *p) {
  holds(p, "Figure 6: a window of T", moved_by(p, "--window 12", ""), 0);
  holds(p, "Figure 5: a prefix of 1", moved_by(p, "--prefix 1", ""), 0);
  control(p, "  in a window",
          moved_by(p, "--prefix 1 --window 4", "--window 4"), 1);
  control(p, "  after x*",
          moved_by(p, "--prefix 1 --sink-token", "--sink-token"), 1);
  Toy *t5 = toy(p, RANDOM, "--pos t5");
  if (t5->T)
    zero(t5->m.rel.w, 32 * t5->m.c.heads);
  toy_forward(t5);
  holds(p, "eq. 7: a distance bias of 0",
        moved_numbers(t5, toy(p, RANDOM, "--pos none")), 0);
  holds(p, "eq. 29: a scale of 1", moved_by(p, "--scale 1", ""), 0);
  holds(p, "eq. 43: a p-norm with p = 1",
        moved_by(p, "--normalizer pnorm --pnorm 1", ""), 0);
  Toy *none = toy(p, RANDOM, "--extra logit");
  for (int l = 0; l < none->m.c.layers; l++)
    for (int h = 0; h < none->m.c.heads; h++)
      none->m.layer[l].logit.w[h] = -INFINITY;
  toy_forward(none);
  holds(p, "beyond: a learned logit of -infinity",
        moved_numbers(none, toy(p, RANDOM, "")), 0);
  control(p, "beyond: a zero logit", moved_by(p, "--extra zero", ""), 1);
  holds(p, "Table 12: adding one head",
        moved_by(p, "--heads 1 --combine add", "--heads 1"), 0);
  control(p, "Table 12: adding two heads", moved_by(p, "--combine add", ""), 1);
}

/* Token t reaches no logit before t, not by a bit, in any named variant; inside
 * a prefix it does, and must. Changes tokens 1 .. T in turn. */
static void check_causal(Page *p) {
  double moves_earlier = 0, not_itself = 0, moves_back = 0;
  for (const Variant *v = VARIANTS; v->name; v++) {
    real was[LOGITS], now[LOGITS];
    Toy *y = toy(p, RANDOM, "%s", v->flags);
    for (int t = 1; t <= y->T; t++) {
      idx own = (t - 1) * TOY_VOCAB;
      toy_logits(y, was);
      y->ids[t - 1] = (y->ids[t - 1] + 1) % TOY_VOCAB;
      toy_forward(y);
      toy_logits(y, now);
      double early = differing(own, was, now);
      if (t > y->m.c.prefix)
        moves_earlier += early;
      else
        moves_back += early > 0;
      not_itself += !(differing(TOY_VOCAB, was + own, now + own) > 0);
    }
  }
  holds(p, "eq. 1: all variants: logits before t moved by t", moves_earlier, 0);
  holds(p, "  tokens that do not move their own", not_itself, 0);
  control(p, "Figure 5: in a prefix of 5 that reach back", moves_back, 4);
}

/* How far the statements of sink.c's chapter 7 reach: [P2] on T5's tables,
 * which learn any order of their buckets; [P4] beside the closed form of
 * alpha_1 for z(n) = -xi cos(w n), where pair 15 of the paper's d_h = 96 has w
 * = 0.0562; [E44]'s row sums; and what breaks 1/T <= alpha_1. */

/* A T5 toy whose table is g(bucket) in every head. */
static Toy *toy_t5(Page *p, const char *flags, double g(int bucket)) {
  Toy *y = toy(p, REPEATED, "--pos t5 %s", flags);
  for (int n = 0; n < 32 * y->m.c.heads; n++)
    y->m.rel.w[n] = (real)g(n / y->m.c.heads);
  toy_forward(y);
  return y;
}
static double as_printed(int bucket) { return bucket < 16 ? bucket : 16; }
static double falling(int bucket) { return -bucket; }
static double rising(int bucket) { return 40 * bucket; }

/* The largest alpha_1 over (d + H_(T-d))/T, d = 113. */
static double over_t5_bound(const Toy *y) {
  double most = 0;
  for (int n = 0; n < y->m.c.layers * y->m.c.heads; n++)
    most = larger(most, head_alpha(y, n, 1));
  return most * y->T / (113 + harmonic(y->T - 113));
}

static void check_t5(Page *p) {
  Toy *y = toy_t5(p, "--context 32", as_printed);
  equals(p, "eq. 6: as printed: alpha_1, T = 32", alpha(y, 1), 0.417504318);
  y = toy_t5(p, "--context 64", as_printed);
  equals(p, "  T = 64", alpha(y, 1), 0.225241886);
  y = toy_t5(p, "--context 64", falling);
  holds(p, "prop. 2: g = -bucket: largest t A_t1, t > 1",
        greatest(y, first_share), 1);
  equals(p, "  no sink: alpha_1", alpha(y, 1), 0.022022456);
  y = toy_t5(p, "--context 64", rising);
  control(p, "beyond: T5's table rising by 40: alpha_1, T = 64", alpha(y, 1),
          0.3);
  y = toy_t5(p, "--layers 1 --context 512", rising);
  holds(p, "  over (d + H_(T-d))/T, d = 113, T = 512", over_t5_bound(y), 1);
  y = toy(p, REPEATED, "--pos t5 --layers 1 --context 512");
  holds(p, "  likewise T5's table at random", over_t5_bound(y), 1);
  y = toy(p, REPEATED, "--pos t5 --context 64");
  holds(p, "eq. 20: A_ti = e^g(t-i) / sum e^g(n), at random",
        greatest(y, off_bias), SCORES);
}

/* alpha_1 where every A_t1 is at equation 28's bound; where z(n) = -xi cos(w
 * n), for pair 15. */
static double alpha_of_bound(double xi, int T) {
  double sum = 0;
  for (int t = 1; t <= T; t++)
    sum += equation28(xi, t);
  return sum / T;
}
static double alpha_of_pair(double xi, int T) {
  double sum = 0, closed = 0, w = pow(10000, -15 / 48.0);
  for (int t = 1; t <= T; t++) {
    double e = exp(-xi * cos(w * (t - 1)));
    sum += e;
    closed += e / sum;
  }
  return closed / T;
}
/* The xi at which such an alpha_1, which grows with xi, passes 0.3. */
static double xi_at_threshold(double alpha_of(double xi, int T), int T) {
  double xi = 0;
  for (double step = 20; step > 1e-15; step /= 2)
    if (alpha_of(xi + step, T) <= 0.3)
      xi += step;
  return xi;
}

static void check_pairs(Page *p) {
  static const double XI[] = {
    1.094629677, 1.803176493, 2.500055178, 2.847246272};
  static const int LENGTHS[] = {64, 256, 1024, 2048};
  for (int n = 0; n < 4; n++) {
    int T = LENGTHS[n];
    equals(p, page_text(p, "eq. 28: alpha_1 <= 0.3 up to xi, T = %g", T),
           xi_at_threshold(alpha_of_bound, T), XI[n]);
  }
  Toy *y = aimed(toy(p, REPEATED, "--heads 1 --head-dim 2 --context 3"), 0, 1);
  equals(p, "eq. 28: -cos n, T = 3: A_31 / bound", greatest(y, over_equation28),
         0.781036907);
  y = aimed(toy(p, REPEATED, SLOW_PAIR "--context 512"), 1, 2);
  holds(p, "prop. 4: alpha_1 / bound, w = 0.05, xi = 2, T = 512",
        alpha(y, 1) / alpha_of_bound(2, 512), 1);
  y = toy(p, REPEATED, SLOW_PAIR "--context 64");
  equals(p, "beyond: w = 0.05: alpha_1 in closed form, xi = 10",
         alpha(aimed(y, 1, 10), 1), 0.302390121);
  equals(p, "  xi = 20", alpha(aimed(y, 1, 20), 1), 0.475012217);
  equals(p, "  xi = 40", alpha(aimed(y, 1, 40), 1), 0.680592587);
  equals(p, "beyond: d_h = 96, pair 15: alpha_1 = 0.3, xi",
         xi_at_threshold(alpha_of_pair, 64), 9.863622917);
  y = toy(p, REPEATED, "--heads 1 --head-dim 96 --context 64");
  holds(p, "prop. 4: alpha_1 of the model at xi = 9.8",
        alpha(aimed(y, 15, 9.8), 1), 0.3);
  control(p, "  at xi = 9.9: a sink", alpha(aimed(y, 15, 9.9), 1), 0.3);
  equals(p, "  its closed form", alpha(y, 1), 0.300720490);
}

/* t equal scores under a p-norm sum to t^(1-1/p). */
static double off_power(Place s) {
  return fabs(row_sum(s) / pow(s.t, 1 - 1 / s.y->m.c.pnorm) - 1);
}

/* The share of eps in percent: 1 - s/(s + 1e-8) at z = -11.6 under sigmoid. */
static double share_of_eps(void) {
  Config c = {.sim = SIM_SIGMOID};
  real z[2] = {-INFINITY, (real)-11.6}, spare[2];
  row_forward(&c, 2, z, spare);
  return 100 * (1 - (double)z[1]);
}

static void check_limits(Page *p) {
  static const double POWERS[] = {0.5, 2, 4};
  check_t5(p);
  check_pairs(p);
  for (int n = 0; n < 3; n++) {
    double power = POWERS[n];
    Toy *y = toy(p, REPEATED, "--pos none --context 64 --layers 1 "
                 "--normalizer pnorm --pnorm %g", power);
    holds(p, page_text(p, "beyond: t equal scores sum to t^(1-1/p), p = %g",
                       power), greatest(y, off_power), SCORES);
  }
  Toy *y = toy(p, REPEATED, "--pos none --context 64 --prefix 5");
  equals(p, "Figure 5: prefix of 5: alpha_5 over i >= 5", alpha(y, 5),
         (harmonic(64) - harmonic(4)) / 60);
  double all = NAN;
  if (y->T)
    all = sink_alpha(&y->m.c, 64, METRIC_PLUS1, y->a.probe[0].metric, 4);
  equals(p, "  over all rows, as they do", all,
         (1 + harmonic(64) - harmonic(5)) / 60);
  y = toy(p, REPEATED, "--pos none --context 64 --layers 1 " SIGMOID_1);
  holds(p, "Table 6: sigmoid, block 1: 1/t", greatest(y, off_even),
        SCORES + EPS_IN_Z);
  y = toy(p, REPEATED, "--pos none --context 64 " SIGMOID_1);
  control(p, "  and in the blocks after it", greatest(y, off_even), APART);
  equals(p, "Table 15, 3: sigmoid / sum, z = -11.6: 1 - A_11 in %",
         share_of_eps(), 0.108979904);
  Toy *logit = with_logit(p, 20), *mlp = toy(p, RANDOM, "--context 16 " MLP_1);
  if (mlp->T)
    zero(mlp->m.layer[0].phi1.w, (idx)mlp->m.c.head_dim * mlp->m.c.head_dim);
  toy_forward(mlp);
  control(p, "sec. 3.2: heads of alpha_1 < 1/T, learned logit of 20",
          1 - sink_share(logit, 1.0 / 12), 1.0 / 6);
  control(p, "  with an mlp kernel of 0", 1 - sink_share(mlp, 1.0 / 16),
          1.0 / 6);
}

static const Check MORE_CHECKS[] = {
  {"scale", "Equations 29 to 42: scale and optimiser\n"
   " A scale on o is a factor on W_V or W_O: another learning rate, decay and "
   "start.", check_scale},
  {"behind", "Equations 10 to 17: the rules behind `states`\n"
   " States part where the sums of rows do, at the rows that a rule names.",
   check_behind},
  {"scores", "z, A and m in closed form, where P = 0\n"
   " Of a repeated token z(n) and z*_t give every weight.", check_scores},
  {"gate", "Table 4: a key bias is a gate, or nothing\n"
   " It closes the head by 1 - g; without a normaliser it changes no bit.",
   check_gate},
  {"neutral", "Neutral elements\n"
   " The row of an axis that stands for nothing changes no bit.",
   check_neutral},
  {"causal", "Equation 1: causality\n"
   " A token moves no logit before it, but inside a prefix.", check_causal},
  {"limits", "Propositions 2 and 4, p-norm and metric: how far they reach\n"
   " What their proofs give beyond what the paper states, and where it ends.",
   check_limits},
  LATER_CHECK, {NULL, NULL, NULL}};
