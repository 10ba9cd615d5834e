/* measured.c - the statements of sink.c, chapter 7, on a model. Chapter 18 of
 * hf.c.
 *
 * SPDX-License-Identifier: MIT
 */

/* -----------------------------------------------------------------------------
 * 18  The statements of chapter 7 on a trained or a published model
 *                                                              [E1] [E4] [E10]
 *
 * A statement is measured where the model has what it presupposes; where the
 * states of a repeated token must part, that they do is the control.
 * Propositions 1 to 4 become questions: their bound on A_ti must hold, but
 * whether "no attention sink on repeated tokens" does, the model says. A model
 * of any size is read from its file, once for each of three forwards: a token
 * again and again, random tokens, and these with their second half changed. */

/* Tokens of a forward. Where all rows are even, alpha_1 = H_32/32 = 0.127, far
 * below 0.3. */
enum { TRAINED_T = 32 };

/* Trained models amplify a rounding more than toys: large states, and scores of
 * tens of nats. */
#define TRAINED_STATES (10 * STATES)
#define TRAINED_ROWS (100 * STATES)

/* What a model has. */
enum {
  SUMS = 1,                    /* rows that sum to the scale */
  LONE_FIRST = 2,              /* a token 1 that sees itself alone */
  EQUAL = 4,                   /* equal states of a repeated token (7.2) */
  /* what propositions 1, 2, 3 and 4 are about */
  NONE = 16,
  RELATIVE = 32,               /* equation 20: any bias of the distance */
  ALIBI = 64,
  ROTARY = 128,
  DOT_SCORES = 256,            /* scores that are q k^T */
  SECOND_HALF = 512,           /* no prefix as far as the second half */
  APART_SURELY = 1024          /* states of a repeated token that part */
};

/* Whether the states of a repeated token, which are not all equal by law, must
 * part. They do by their positions, and by row sums that grow with the keys;
 * but log n or 1 / n may take that back, a row that sees itself alone has no
 * others, and a sum of ReLUs may be 0 or 1 in every row. Nor is a sum felt
 * behind XSA or a head norm: without x*, o is a multiple of the one v. Mamba's
 * blocks, too, part them: each state adds to the one before. */
static bool parts_surely(const Config *c) {
  bool sums = c->sim < SIM_SOFTPICK && !config_clips(c) &&
              c->normalizer != NORMALIZER_CLAMP;
  bool grow = c->normalizer != NORMALIZER_COUNT && c->extra != EXTRA_LOGN &&
              c->shift != SHIFT_LOGN && !c->sparse_top;
  return c->pos == POS_LEARNED || c->pos == POS_ABSOLUTE ||
         config_attending(c) < c->layers ||
         (sums && grow && c->window != 1 &&
          (c->sink_token || (!c->xsa && !c->head_norm)));
}

/* All that a model of this shape has. */
static int premises(const Config *c) {
  _Static_assert(POS_ROWS == 7 && KERNEL_ROWS == 3 &&
                     SIM_ROWS - SIM_SOFTPICK == 5 && NORMALIZER_ROWS == 5 &&
                     EXTRA_ROWS == 6 && PLACE_ROWS == 4 && GATE_ROWS == 5,
                 "a new row: which premises has it? parts_surely, premises");
  bool soft = c->sim == SIM_EXP;
  /* with a gain and the identity, row 1 sums to 0 */
  bool sums = c->normalizer == NORMALIZER_SUM && !c->extra && !c->sink_token &&
              c->sim < SIM_SOFTPICK && !config_clips(c) &&
              !(c->gain && c->sim == SIM_IDENTITY);
  /* XSA takes all of a repeated token's o: a norm behind enlarges rounding */
  bool noise = c->xsa && (c->head_norm || (c->place == PLACE_SANDWICH &&
                                           c->norm != NORM_DYT));
  bool equal = sums && !noise && c->pos != POS_LEARNED &&
               c->pos != POS_ABSOLUTE && config_attending(c) == c->layers;
  bool law = equal && soft && !c->window && !c->prefix && !c->sparse_top;
  bool shaped = config_score_mod(c), all = !c->sparse_top;
  bool relative = c->pos == POS_RELATIVE || c->pos == POS_T5;
  return sums * SUMS |
         (sums && soft && c->prefix < 2) * LONE_FIRST |
         equal * EQUAL |
         (law && c->pos == POS_NONE) * NONE |
         (law && !shaped && relative) * RELATIVE |
         (law && !shaped && c->pos == POS_ALIBI) * ALIBI |
         (equal && soft && all && !shaped && c->pos == POS_ROTARY) * ROTARY |
         (c->kernel == KERNEL_IDENTITY && all && !shaped) * DOT_SCORES |
         (2 * c->prefix <= at_most(c->context, TRAINED_T)) * SECOND_HALF |
         parts_surely(c) * APART_SURELY;
}

/* was [L+1,T,C] holds the states of random tokens whose second half has changed
 * since: how many numbers of the first half moved? */
static double first_half_moved(const Toy *y, const real *was) {
  idx C = y->m.c.dim, T = y->T;
  double moved_numbers = 0;
  for (int l = 0; l <= y->m.c.layers; l++)
    moved_numbers += differing(T / 2 * C, was + l * T * C, toy_state(y, l, 1));
  return moved_numbers;
}

/* How many states of the second half did not? */
static double second_half_stayed(const Toy *y, const real *was) {
  idx C = y->m.c.dim, T = y->T;
  double stayed = 0;
  for (int l = 0; l <= y->m.c.layers; l++)
    for (int t = (int)T / 2 + 1; t <= T; t++) {
      const real *before = was + (l * T + t - 1) * C;
      stayed += !(differing(C, before, toy_state(y, l, t)) > 0);
    }
  return stayed;
}

/* Is key i visible to row t, behind the sink tokens? */
static bool place_seen(Place s) {
  int first = s.y->m.c.sink_token - 1;
  return visible(&s.y->m.c, s.y->m.layer[s.l].window, first + s.t, first + s.i);
}

/* The largest f over all blocks that attend, heads, rows, and the keys up to t
 * that a row sees. */
static double trained_worst(const Toy *y, double f(Place s)) {
  double most = -INFINITY;
  for (Place s = {.y = y}; s.l < y->m.c.layers; s.l++)
    for (s.h = 0; s.h < y->m.c.heads && config_attends(&y->m.c, s.l); s.h++)
      for (s.t = 1; s.t <= y->T; s.t++)
        for (s.i = 1; s.i <= s.t; s.i++)
          if (place_seen(s))
            most = larger(most, f(s));
  return most;
}

/* The largest alpha_1 of a head. */
static double largest_alpha(const Toy *y) {
  double most = -INFINITY;
  for (int n = 0; n < y->m.c.layers * y->m.c.heads; n++)
    if (config_attends(&y->m.c, n / y->m.c.heads))
      most = larger(most, head_alpha(y, n, 1));
  return most;
}

/* The least. */
static double least_alpha(const Toy *y) {
  double least = INFINITY;
  for (int n = 0; n < y->m.c.layers * y->m.c.heads; n++)
    if (config_attends(&y->m.c, n / y->m.c.heads))
      least = smaller(least, head_alpha(y, n, 1));
  return least;
}

static double off_alone(Place s) { return s.t == 1 ? fabs(1 - A_ti(s)) : 0; }
static double off_sum(Place s) { return s.i == s.t ? off_scale(s) : 0; }

/* q and k as the model left them, what scores are divided by, and xi, |q||k|
 * over that. */
static const real *trained_q(Place s) {
  const Config *c = &s.y->m.c;
  return s.y->a.layer[s.l].q +
         ((idx)(c->sink_token + s.t - 1) * c->heads + s.h) * c->head_dim;
}

static const real *trained_k(Place s) {
  const Config *c = &s.y->m.c;
  int h = s.h / (c->heads / c->kv_heads);
  return s.y->a.layer[s.l].k +
         ((idx)(c->sink_token + s.i - 1) * c->kv_heads + h) * c->head_dim;
}

static double trained_root(Place s) {
  return 1 / (double)s.y->m.layer[s.l].root;
}

static double trained_xi(Place s) {
  int D = s.y->m.c.head_dim;
  return length(D, trained_q(s)) * length(D, trained_k(s)) / trained_root(s);
}

/* Scores off <q, k>/sqrt(d_h) + b, relative to 1 + |q||k|/sqrt(d_h). */
static double off_score(Place s) {
  double z = vec_dot(s.y->m.c.head_dim, trained_q(s), trained_k(s)) /
             trained_root(s);
  return fabs(score(s) - z - closed_bias(s.y, s.h, s.t - s.i)) /
         (1 + trained_xi(s));
}

/* xi of a row. */
static double xi_of_row(Place s) {
  s.i = 1;
  return trained_xi(s);
}

/* A_ti over equation 28's bound, whose t is how many keys the row sees. */
static double over_bound(Place s) {
  double xi = xi_of_row(s), share = A_ti(s);
  int seen = 0;
  for (s.i = 1; s.i <= s.y->T; s.i++)
    seen += place_seen(s);
  return seen > 1 ? share / equation28(xi, seen) : 0;
}

/* A row's weights and metric off what its own scores make of them. */
static double off_row(Place s) {
  const Config *c = &s.y->m.c;
  double z[TRAINED_T + 1 + SINK_TOKENS];
  int from = 1 - !!c->extra - c->sink_token;
  if (s.i != s.t)
    return 0;
  for (s.i = from; s.i <= s.y->T; s.i++) {
    bool seen = s.i <= -c->sink_token || place_seen(s); /* * always */
    if (c->sparse_top && s.i > -c->sink_token && score(s) == 0)
      seen = false; /* left out: its score is not kept */
    z[s.i - from] = seen ? score(s) : NAN;
  }
  return closed_off(s, from, z);
}

/* What is measured, and no more. */
static void says(Page *p, const char *what, double x) {
  fprintf(p->out, " %-54s %11.6g\n", what, x);
}

/* T tokens for y: n of one stream of the seed, then of another; n = 0: one
 * token repeated. */
static void trained_feed(Toy *y, int n, int vocab) {
  Rng rng = {1}, other = {2};
  for (int t = 0; t < y->T; t++) {
    int id = (int)rng_below(&rng, (uint64_t)vocab);
    int changed = (id + 1 + (int)rng_below(&other, (uint64_t)vocab - 1)) %
                  vocab;
    y->ids[t] = id;
    if (n == 0)
      y->ids[t] = y->ids[0];
    else if (t >= n)
      y->ids[t] = changed;
  }
  toy_forward(y);
}

/* Each statement where the model has what it presupposes; where Z holds 1e-8,
 * up to that. */
static void check_random(Page *p, const Toy *y, const real *was) {
  const Config *c = &y->m.c;
  int has = premises(c);
  double more = c->sim == SIM_EXP ? 0 : EPS_IN_Z;
  if (has & SECOND_HALF) {
    holds(p, "eq. 1: numbers of earlier tokens moved by later ones",
          first_half_moved(y, was), 0);
    holds(p, "  changed tokens that moved no state of theirs",
          second_half_stayed(y, was), 0);
  }
  if (has & LONE_FIRST)
    holds(p, "sec. 3.1: the first token sees itself alone: 1 - A_11",
          trained_worst(y, off_alone), 0);
  if (has & DOT_SCORES)
    holds(p, "eq. 4: scores off <q, k>/sqrt(d_h) + b, relative",
          trained_worst(y, off_score), SCORES + more);
  holds(p, "eq. 4, 29: weights and metric off what the scores make",
        trained_worst(y, off_row), SCORES + more);
  if (has & SUMS)
    holds(p, "eq. 29: row sums off the scale", trained_worst(y, off_sum),
          STATES + more);
  if (has & LONE_FIRST)
    holds(p, "sec. 3.2: alpha_1 >= 1/T: largest 1 / (T alpha_1)",
          1 / (y->T * least_alpha(y)), 1 + STATES);
}

/* The same of a repeated token. */
static void check_repeated(Page *p, const Toy *y) {
  const Config *c = &y->m.c;
  int has = premises(c);
  double spread = toy_spread(y, 1, y->T, y), most = largest_alpha(y);
  double more = c->sim == SIM_EXP ? 0 : EPS_IN_Z;
  if (has & EQUAL)
    holds(p, "eq. 10-17: repeated token: states apart, all blocks", spread,
          TRAINED_STATES + more);
  else if (has & APART_SURELY)
    control(p, "eq. 10-17: repeated token: states apart, all blocks", spread,
            10 * APART);
  else
    says(p, "eq. 10-17: repeated token: states apart, all blocks", spread);
  if (has & NONE)
    holds(p, "eq. 18: no positions: A_ti off 1/t", trained_worst(y, off_even),
          TRAINED_ROWS);
  if (has & RELATIVE)
    holds(p, "eq. 20: A_ti off e^g(t-i) / sum e^g(n)",
          trained_worst(y, off_bias), TRAINED_ROWS);
  if (has & ALIBI)
    holds(p, "eq. 22: ALiBi: A_ti off its closed form",
          trained_worst(y, off_equation22), TRAINED_ROWS);
  if (has & ROTARY) {
    holds(p, "eq. 28: rotary: A_ti / bound, t > 1",
          trained_worst(y, over_bound), 1 + TRAINED_ROWS);
    says(p, "  which speaks up to xi = 0.726; the largest xi",
         trained_worst(y, xi_of_row));
  }
  if (!(has & EQUAL))
    says(p, "Table 1: the largest alpha_1 of a head, states apart", most);
  else if (most <= 0.3)
    holds(p, "prop. 1-4: no sink: the largest alpha_1 of a head", most,
          0.3);
  else
    refutes(p, "prop. 1-4, printed: no sink; the largest alpha_1", most, 0.3);
}

/* Measures the model at path; the page goes to out. */
static int check_model(const char *path, FILE *out, Error *e) {
  Page p = {.out = out, .e = e};
  Toy *y = &p.toy[0];
  Trainer t = {0};
  char positions[PATH_ROOM];
  real *was = NULL;
  if (checkpoint_open(path, &t, e))
    return e->status;
  option_text(option_find("pos", MODEL), &t.s, positions, sizeof positions);
  model_move(&y->m, &t.m); /* it is the toy's now */
  trainer_free(&t);
  const Config *c = &y->m.c;
  idx L = c->layers, C = c->dim;
  int T = (int)at_most(c->context, TRAINED_T);
  if (c->vocab < 2 || T < 4)
    fail(e, 1,
         "%s: expected 2 tokens and 4 positions or more, found %d and %d. Try: "
         "another model",
         path, c->vocab, T);
  else if (!acts_create(&y->a, &y->m, 1, T, ACTS_ALL, e)) {
    y->maps = maps_create(&y->a, c, e);
    was = grab((L + 1) * T * C, sizeof(real), e);
    y->T = T;
  }
  if (!e->status) {
    fprintf(out, "%s: %d blocks of %d heads, positions %s; %d tokens\n", path,
            c->layers, c->heads, positions, y->T);
    parts_begin(&y->m, 3, false, !isatty(fileno(stderr)));
    trained_feed(y, T / 2, c->vocab);
    for (idx l = 0; l <= L; l++)
      copy(was + l * T * C, toy_state(y, (int)l, 1), T * C);
    trained_feed(y, T, c->vocab);
    if (!model_fault(&y->m, e))
      check_random(&p, y, was);
    trained_feed(y, 0, c->vocab);
    parts_end(&y->m, e);
    if (!model_fault(&y->m, e))
      check_repeated(&p, y);
  }
  toy_free(y);
  free(was);
  if (e->status)
    return e->status;
  return page_total(&p, "hf");
}
