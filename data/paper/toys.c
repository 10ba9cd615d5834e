/* toys.c - two toys that show the mechanism of a sink in seconds: chapter 3 of
 * paper.c, which includes it. Beyond the paper.
 *
 * SPDX-License-Identifier: MIT
 *
 * Two tasks in which a head has nothing to say at most positions, so that it
 * needs a place to put its weights, and one can tell beforehand where it will.
 * One layer, one head.
 *
 * Trigger-conditional averaging (Ran-Milo, arXiv 2603.11487). Input are T
 * vectors of C numbers:
 *
 *            0   1   2 .. C-2   C-1
 *   x_1      1   0   0          0     the first token
 *   x_j      0   1   U(-1,1)    0     the trigger, j drawn from 3 .. T
 *   others   0   0   U(-1,1)    1
 *
 * and the target is 0 but for y_j = (x_1 + .. + x_j) / j. The model is
 * attention alone, W_Q, W_K, W_V, W_O, no positions. At the trigger a row must
 * be even and W_V W_O pass what it reads; at all other places the output must
 * be 0 all the same. A row that sums to 1 can do that only on a token whose
 * value is 0, and only the first is there always: with softmax a small error
 * forces a sink, alpha_1 -> 1. So x_1 has no content, which would pass like all
 * content; its flag's 1/j in y_j is made of the trigger's flag. A column * with
 * v* = 0 makes the row's sum a gate (3.7), open at the trigger and 0 elsewhere:
 * nothing asks for a sink then, and nothing forbids one, for the first token's
 * value can be 0 as well. Without normaliser rows can be 0 too, but not 1/j at
 * the trigger, since j is not in the input: that arm keeps an error.
 *
 * Bigram-Backcopy (Guo et al., arXiv 2410.13835). Characters of a text with
 * their bigram probabilities P and frequencies; the three most frequent are
 * triggers.
 *
 *   x_1 = <s>
 *   x_2 by frequency, no trigger
 *   x_{t+1} = x_{t-1} where x_t is a trigger, else drawn from P( . | x_t)
 *
 * The ordinary model learns it through the ordinary trainer. P( . | x_t) is a
 * table that the embedding and the ffn hold without attention; only at a
 * trigger must the head look back one. No trigger follows a trigger, since what
 * is copied stood before one.
 *
 * Sequence n of a seed is drawn from the two numbers alone. Held ones have a
 * seed that no training has. Looks at steps n k^2 / LAST^2: dense where things
 * begin.
 */

static double tokens_a_step(const Trainer *t) {
  return (double)t->s.train.batch * t->s.train.accumulate * t->s.model.context;
}

/* What is measured, as sums over queries or sequences and how many these were.
 * TRIGGER: over the queries that stand at a trigger, else over those that do
 * not; the first query never counts. */
enum {
  TOY_ALPHA_1,                 /* weight m on the first token */
  TOY_ALPHA_1_TRIGGER,
  TOY_ALPHA_PREVIOUS_TRIGGER,  /* on the token before */
  TOY_ALPHA_STAR,              /* on the column * */
  TOY_ALPHA_STAR_TRIGGER,
  /* s/Z on the first token: m where rows sum to 1 */
  TOY_WEIGHT_1,
  TOY_WEIGHT_1_TRIGGER,
  /* what a row's weights over keys sum to, times its gate */
  TOY_GATE,
  TOY_GATE_TRIGGER,
  TOY_LOGIT_GAP,               /* z_i1 minus the mean of the row's other z_ij */
  TOY_LOGIT_GAP_TRIGGER,
  /* e^(entropy over keys) / keys: 1 where even, 0 without weights */
  TOY_EVENNESS_TRIGGER,
  TOY_EVEN,                    /* alpha_1 of rows that spread evenly */
  TOY_SINK_1,                  /* share of sequences with alpha_1 > eps */
  TOY_VALUE_1, TOY_VALUE_REST, /* ||v_1||, ||v_j|| of the others */
  /* of held sequences: nats a token; or squared error a number */
  TOY_LOSS,
  TOY_LOSS_TRIGGER,
  /* backcopy, where the next character is drawn: the loss, and its least */
  TOY_LOSS_BIGRAM,
  TOY_ENTROPY_BIGRAM,
  TOY_ERROR,                   /* trigger: |error| of a number */
  TOY_NUMBERS
};
typedef struct ToySums {
  double sum[TOY_NUMBERS], count[TOY_NUMBERS];
  double worst;                /* trigger: the largest |error| */
} ToySums;

static void toy_add(ToySums *x, int which, double value) {
  x->sum[which] += value;
  x->count[which]++;
}

static double toy_mean(const ToySums *x, int which) {
  return x->count[which] > 0 ? x->sum[which] / x->count[which] : NAN;
}

/* Adds one sequence of T rows (1 head, no x*): which of them are triggers [T],
 * its maps z, weight and metric [T,S], and, where o has one, its gate [T,G]. */
static void toy_measure(ToySums *x, const Config *c, double eps, int T,
                        const bool *trigger, const real *z, const real *weight,
                        const real *metric, const real *gate) {
  int star = c->extra != EXTRA_NONE, S = T + star, quiet = 0;
  int G = (int)config_gates(c);
  double alpha = 0;
  for (int i = 1; i < T; i++) {
    const real *z_i = z + i * S + star, *w_i = weight + i * S + star;
    const real *m_i = metric + i * S;
    double mass = 0, others = 0, entropy = 0, open = 1;
    if (config_gates_o(c))
      open = (double)vec_sum(G, gate + i * G) / G;
    for (int j = 0; j <= i; j++) {
      mass += (double)w_i[j];
      if (j)
        others += (double)z_i[j] / i;
    }
    for (int j = 0; j <= i; j++) {
      double p = (double)w_i[j] / mass;
      if (p > 0)               /* 0 log 0 = 0 */
        entropy -= p * log(p);
    }
    bool at = trigger[i];      /* TOY_X_TRIGGER is TOY_X + 1 */
    toy_add(x, TOY_ALPHA_1 + at, (double)m_i[star]);
    toy_add(x, TOY_WEIGHT_1 + at, (double)w_i[0]);
    toy_add(x, TOY_GATE + at, open * mass);
    toy_add(x, TOY_LOGIT_GAP + at, (double)z_i[0] - others);
    if (star)
      toy_add(x, TOY_ALPHA_STAR + at, (double)m_i[0]);
    if (at) {
      toy_add(x, TOY_ALPHA_PREVIOUS_TRIGGER, (double)m_i[star + i - 1]);
      toy_add(x, TOY_EVENNESS_TRIGGER, mass > 0 ? exp(entropy) / (i + 1) : 0);
    } else {
      toy_add(x, TOY_EVEN, 1.0 / (i + 1 + star));
      alpha += (double)m_i[star];
      quiet++;
    }
  }
  if (quiet)
    toy_add(x, TOY_SINK_1, alpha / quiet > eps);
}

/* Sequence `number` of a seed: inputs and targets x, y [T,C]. Returns the
 * trigger's row, from 0. */
static int trigger_draw(real *x, real *y, int C, int T, uint64_t seed,
                        uint64_t number) {
  Rng r = {hash_number(seed, number)};
  int at = 2 + (int)rng_below(&r, (uint64_t)T - 2);
  zero(y, (idx)T * C);
  for (int i = 0; i < T; i++) {
    real *row = x + (idx)i * C;
    int flag = C - 1;
    if (i == 0)
      flag = 0;
    else if (i == at)
      flag = 1;
    for (int k = 0; k < C; k++)
      row[k] = 0;
    for (int k = 2; i && k < C - 1; k++)
      row[k] = (real)(2 * rng_uniform(&r) - 1);
    row[flag] = 1;
    for (int k = 0; i <= at && k < C; k++)
      y[(idx)at * C + k] += row[k] / (real)(at + 1);
  }
  return at;
}

/* Mean squared error of block 0's attention on x, y [B,T,C]; with
 * grads, adds its gradient. */
static double trigger_loss(Model *m, Acts *a, const real *x, const real *y,
                           int B, int T, bool with_grads) {
  idx n = (idx)B * T * m->c.dim;
  real *out = a->layer[0].s1;  /* [B,T,C] */
  double sum = 0;
  mhsa_forward(m, a, 0, out, x, B, T);
  for (idx i = 0; i < n; i++) {
    double error = (double)out[i] - (double)y[i];
    sum += error * error / (double)n;
    if (with_grads)
      a->dh[i] = (real)(2 * error / (double)n);
  }
  if (with_grads)   /* a->dn, the inputs' gradient, is not used */
    mhsa_backward(m, a, 0, a->dn, a->dh, x, B, T);
  return sum;
}

/* The characters, as ids from 1; 0 is <s>. Letters are taken in lower case,
 * white space as one blank, and what is not here is left out: behind a comma
 * there is nearly always the blank, a trigger, which would bring back the
 * comma, and so for ever. */
static const char LETTERS[] = " etaoinshrdlcumwfgypbvkjxqz";
enum {
  BACKCOPY_VOCAB = sizeof LETTERS,
  BACKCOPY_TOLD = 200,
  BACKCOPY_HELD = 200,
  BACKCOPY_LENGTH = 256
};

/* The id of a byte of a text; 0: it is left out. */
static int letter_id(unsigned char of) {
  int byte = isspace(of) ? ' ' : tolower(of);
  const char *found = byte ? strchr(LETTERS, byte) : NULL;
  return found ? 1 + (int)(found - LETTERS) : 0;
}

/* What sequences are drawn by: row a of upto, at b, has how often a character
 * up to b follows a. */
typedef struct Chain {
  uint64_t upto[BACKCOPY_VOCAB * BACKCOPY_VOCAB];
  int trigger[3];
  int32_t *block;              /* of backcopy_next */
} Chain;
static const Chain *chain_of(const Data *d) { return d->drawn_from; }

static bool backcopy_trigger(const Data *d, int id) {
  const int *trigger = chain_of(d)->trigger;
  return id == trigger[0] || id == trigger[1] || id == trigger[2];
}

/* Counts pairs of characters, the last with the first, so that
 * each has a successor. */
static int backcopy_count(Data *d, const Bytes *text, const char *name,
                          Error *e) {
  enum { V = BACKCOPY_VOCAB };
  Chain *chain = d->drawn_from;
  uint64_t often[V] = {0}, *pair = chain->upto;
  int first = 0, last = 0;
  for (size_t i = 0, end = 0; i < text->size; i++) {
    /* the next document, or the separator before it */
    if (i >= end) {
      end = i + document_length(text->at + i, text->size - i);
      if (i == end) {
        i += strlen(DOCUMENT_END) - 1;
        continue;
      }
    }
    int id = letter_id(text->at[i]);
    if (!id || (id == 1 && last == 1))
      continue;
    often[id]++;
    if (last)
      pair[last * V + id]++;
    else
      first = id;
    last = id;
  }
  if (first)
    pair[last * V + first]++;
  for (int k = 0; k < 3; k++)
    for (int id = 1; id < V; id++)
      if (!backcopy_trigger(d, id) && often[id] > often[chain->trigger[k]])
        chain->trigger[k] = id;
  uint64_t left = 0;
  for (int id = 1; id < V; id++) {
    pair[id] = backcopy_trigger(d, id) ? 0 : often[id];
    left += pair[id];
  }
  /* along rows: each sums to its last */
  for (int i = 0; i < V * V; i++)
    if (i % V)
      pair[i] += pair[i - 1];
  if (left)
    return 0;
  return fail(e, 1,
              "%s: expected at least four different letters, found fewer. Try: "
              "another file",
              name);
}

/* block [n] begins with <s>. */
static void backcopy_draw(const Data *d, uint64_t seed, uint64_t number,
                          int32_t *block, int n) {
  enum { V = BACKCOPY_VOCAB };
  Rng r = {hash_number(seed, number)};
  block[0] = 0;
  for (int t = 1; t < n; t++) {
    const uint64_t *row = chain_of(d)->upto + block[t - 1] * V;
    uint64_t u = rng_below(&r, row[V - 1]);
    int id = 0;
    while (row[id] <= u)
      id++;
    block[t] = backcopy_trigger(d, block[t - 1]) ? block[t - 2] : id;
  }
}

/* Data.next and Data.close of this toy. */
static const int32_t *backcopy_next(Data *d, uint64_t number, int n, Error *e) {
  (void)e;
  backcopy_draw(d, d->seed, number, chain_of(d)->block, n);
  return chain_of(d)->block;
}
static void backcopy_close(Data *d) {
  Chain *chain = d->drawn_from;
  free(chain->block);
  free(chain);
}

/* What s names, or the first documents that a grammar holds
 * back. Returns its name. */
static const char *backcopy_text(Data *d, const Source *s, Bytes *text,
                                 Error *e) {
  Bytes documents = {0};
  Grammar g = {0};
  const char *name = s->text;
  if (*name) {
    source_read(s, text, &documents, e);
    d->source = hash64(0, text->at, text->size);
  } else {
    name = s->grammar[0] ? s->grammar : STORY_GRAMMAR;
    d->alike = true;
    grammar_load(&g, &d->source, name, s, e);
    for (uint64_t i = 0; i < BACKCOPY_TOLD && !e->status; i++)
      grammar_document(&g, HELD_SEED, i, text, e);
  }
  grammar_free(&g);
  bytes_free(&documents);
  return name;
}

/* --toy: backcopy is a text for the ordinary trainer. Its characters,
 * their pairs and triggers come from the text that s names; T 0: the
 * context is not known. */
static int toys_open(Data *d, const Source *s, int T, Error *e) {
  if (s->toy == TOY_TRIGGER)
    return fail(e, 2,
                "--toy trigger: has vectors, not tokens for a language model. "
                "Try: ./paper toy-trigger, or --toy backcopy");
  Bytes text = {0};
  int n = (T ? T : BACKCOPY_LENGTH) + 1;
  d->vocab = BACKCOPY_VOCAB;
  d->end = d->bos = d->fix = 0;
  if (s->tokens[0] || fixed_at(s) || s->bos || s->random_tokens[0] ||
      s->data_tokens > 0)
    return fail(e, 2,
                "--toy backcopy: its sequences cannot be changed. Try: without "
                "--tokens, --fix-token, --first-tokens, --random-tokens, "
                "--data-tokens and --bos");
  Chain *chain = d->drawn_from = grab(1, sizeof(Chain), e);
  if (!chain)
    return e->status;
  d->close = backcopy_close;
  d->next = backcopy_next;
  chain->block = grab(n, sizeof *chain->block, e);
  const char *name = backcopy_text(d, s, &text, e);
  snprintf(d->name, sizeof d->name, "%s", name);
  if (!e->status)
    backcopy_count(d, &text, name, e);
  data_describe(d, s, 0, true, T);
  for (uint64_t i = 0; i < BACKCOPY_HELD && !e->status; i++) {
    backcopy_draw(d, HELD_SEED, i, chain->block, n);
    id_add(&d->starts, (int32_t)d->held.size, e);
    ids_add(&d->held, chain->block, (size_t)n, e);
  }
  bytes_free(&text);
  return e->status;
}

/* -sum p log p of what follows a character. */
static double backcopy_entropy(const Data *d, int id) {
  const uint64_t *row = chain_of(d)->upto + id * BACKCOPY_VOCAB;
  double entropy = 0, all = (double)row[BACKCOPY_VOCAB - 1];
  for (int k = 1; k < BACKCOPY_VOCAB; k++) {
    double p = (double)(row[k] - row[k - 1]) / all;
    if (p > 0)
      entropy -= p * log(p);
  }
  return entropy;
}

/* The numbers of a result by their place in ToySums, and its curves; a
 * NULL is told otherwise. */
static const char *const TOY_NAMES[TOY_NUMBERS] = {
  "alpha_1", "alpha_1@trigger", "alpha_previous@trigger",
  "alpha_*", "alpha_*@trigger", "weight_1", "weight_1@trigger",
  "gate", "gate@trigger", "logit_gap", "logit_gap@trigger",
  "evenness@trigger", "even", "sink_1", NULL, NULL,
  "loss", "loss@trigger", "loss@bigram", "entropy@bigram", "error"};
enum { TOY_LOOKS = 31, TOY_CURVES = 6, TOY_SHOWN = 24 };
static const struct {
  const char *name;
  int of;
} TOY_CURVE[TOY_CURVES] = {
  {"curve_loss", TOY_LOSS},
  {"curve_alpha_1", TOY_ALPHA_1},
  {"curve_alpha_*", TOY_ALPHA_STAR},
  {"curve_gate", TOY_GATE},
  {"curve_logit_gap", TOY_LOGIT_GAP},
  {"curve_value_ratio", TOY_VALUE_1}};

/* A toy at work. Of its Trainer the trigger task uses the model, the
 * activations, the moments and the optimiser; it has no data. */
typedef struct Play {
  Trainer t;
  bool trigger;                /* which of the two */
  real *x, *y;                 /* trigger: [B,T,C] */
  /* [2,B,T] ids, targets; of the trigger task [B,T] alone, 0 first,
   * 1 ordinary, 2 trigger */
  int *at;
  bool *is;                    /* [B,T] at a trigger? */
  real *maps;                  /* [3,B,T,S] z, weight, m */
  Probe probe;
  ToySums seen;
  int looks;
  double tokens[TOY_LOOKS], curve[TOY_CURVES][TOY_LOOKS];
} Play;

/* The first flags that a toy needs and s has not; NULL if it has all. */
static const char *play_wants(const Settings *s) {
  const Config *c = &s->model;
  if (c->layers != 1 || c->heads != 1)
    return "--layers 1 --heads 1";
  if (c->sink_token)
    return "no --sink-token";
  if (c->prefix || c->window)
    return "no --prefix or --window";
  if (c->context < 3)
    return "--context 3 or more";
  if (s->data.toy != TOY_TRIGGER)
    return NULL;
  if (c->pos != POS_NONE)
    return "--pos none";
  if (c->dim < 4)
    return "--dim 4 or more";
  if (s->train.accumulate > 1)
    return "no --accumulate";
  return NULL;
}

/* 2 for a model that the toy is not made for. */
static int play_refuses(const Settings *s, Error *e) {
  const char *toy = s->data.toy == TOY_TRIGGER ? "trigger" : "backcopy";
  const char *want = play_wants(s);
  if (!want)
    return 0;
  return fail(e, 2, "--toy %s: expected %s. Try: ./paper toy-%s --commands",
              toy, want, toy);
}

/* Room for the trigger task: a model of one block, whose
 * attention alone is used. */
static void trigger_create(Play *y, const Settings *s, Error *e) {
  Trainer *t = &y->t;
  idx n = (idx)s->train.batch * s->model.context * s->model.dim;
  t->s = *s;
  t->s.model.vocab = t->s.model.ffn = 1;   /* idle */
  if (config_resolve(&t->s.model, e) ||
      model_create(&t->m, &t->s.model, true, e))
    return;
  y->x = grab(n, sizeof(real), e);
  y->y = grab(n, sizeof(real), e);
  t->m1 = grab(t->m.count, sizeof(real), e);
  t->m2 = grab(t->m.count, sizeof(real), e);
  if (t->m.seams.step && s->train.optimizer > OPTIMIZER_SGD)
    t->scratch = grab(t->m.seams.step_room(&t->m, NULL), sizeof(real), e);
  if (!e->status)
    acts_create(&t->a, &t->m, s->train.batch, s->model.context, ACTS_ALL, e);
  if (!e->status)
    model_init(&t->m, s->train.init, (uint64_t)s->train.seed);
}

/* The toy that s->data.toy names; play_free must follow. */
static int play_create(Play *y, const Settings *s, Error *e) {
  idx B = s->train.batch, T = s->model.context;
  idx map = B * T * config_columns(&s->model, (int)T);
  y->trigger = s->data.toy == TOY_TRIGGER;
  if (y->trigger)
    trigger_create(y, s, e);
  else
    trainer_create(&y->t, s, e);
  if (e->status)
    return e->status;
  y->at = grab(2 * B * T, sizeof *y->at, e);
  y->is = grab(B * T, sizeof *y->is, e);
  y->maps = grab(3 * map, sizeof *y->maps, e);
  y->probe = (Probe){y->maps, y->maps + map, y->maps + 2 * map};
  return e->status;
}

static void play_free(Play *y) {
  trainer_free(&y->t);
  free(y->x);
  free(y->y);
  free(y->at);
  free(y->is);
  free(y->maps);
}

/* B sequences of a seed, from `number` on, into x and y. */
static void trigger_batch(Play *y, uint64_t seed, uint64_t number, int B) {
  int T = y->t.s.model.context, C = y->t.s.model.dim;
  for (int b = 0; b < B; b++) {
    idx row = (idx)b * T;
    int at = trigger_draw(y->x + row * C, y->y + row * C, C, T, seed,
                          number + (uint64_t)b);
    for (int i = 0; i < T; i++) {
      y->is[row + i] = i == at;
      y->at[row + i] = (i > 0) + y->is[row + i];
    }
  }
}

/* Held sequences `from` .. from + B - 1 forward, with their maps and losses. */
static void trigger_look(Play *y, int from, int B) {
  Trainer *t = &y->t;
  int T = t->s.model.context, C = t->s.model.dim;
  trigger_batch(y, HELD_SEED, (uint64_t)from, B);
  trigger_loss(&t->m, &t->a, y->x, y->y, B, T, false);
  for (idx i = 0; i < (idx)B * T * C; i++) {
    double error = fabs((double)t->a.layer[0].s1[i] - (double)y->y[i]);
    toy_add(&y->seen, TOY_ERROR, error);
    toy_add(&y->seen, TOY_LOSS, error * error);
    if (y->is[i / C])
      toy_add(&y->seen, TOY_LOSS_TRIGGER, error * error);
    if (!(error <= y->seen.worst))
      y->seen.worst = error;
  }
}

/* The same of backcopy. */
static void backcopy_look(Play *y, int from, int B) {
  Trainer *t = &y->t;
  int T = t->s.model.context, *targets = y->at + (idx)B * T;
  for (idx i = 0; i < (idx)B * T; i++) {
    const int32_t start = t->data.starts.at[from + i / T];
    const int32_t *held = t->data.held.at + start + i % T;
    y->at[i] = held[0];
    y->is[i] = backcopy_trigger(&t->data, held[0]);
    targets[i] = held[1];
  }
  model_forward(&t->m, &t->a, y->at, B, T);
  model_loss(&t->m, &t->a, targets, B, T, 0);
  for (idx i = 0; i < (idx)B * T; i++) {
    double loss = t->a.loss_row[i];
    toy_add(&y->seen, TOY_LOSS, loss);
    if (y->is[i])
      toy_add(&y->seen, TOY_LOSS_TRIGGER, loss);
    else if (i % T) {
      toy_add(&y->seen, TOY_LOSS_BIGRAM, loss);
      toy_add(&y->seen, TOY_ENTROPY_BIGRAM,
              backcopy_entropy(&t->data, y->at[i]));
    }
  }
}

/* The same of either toy, with the maps. */
static void play_forward(Play *y, int from, int B) {
  y->t.a.probe = &y->probe;
  (y->trigger ? trigger_look : backcopy_look)(y, from, B);
  y->t.a.probe = NULL;
}

/* The numbers of eval_n held sequences, into y->seen. */
static void play_look(Play *y) {
  const Trainer *t = &y->t;
  const Config *c = &t->m.c;
  int T = c->context, batch = t->s.train.batch, n = t->s.eval_n;
  idx map = (idx)T * config_columns(c, T), D = c->head_dim;
  if (!y->trigger && n > BACKCOPY_HELD)
    n = BACKCOPY_HELD;
  y->seen = (ToySums){0};
  for (int from = 0; from < n; from += batch) {
    int B = (int)at_most(n - from, batch);
    play_forward(y, from, B);
    for (int b = 0; b < B; b++) {
      idx row = (idx)b * T;
      const real *v = t->a.layer[0].v + row * D, *gate = t->a.layer[0].gate;
      if (gate)
        gate += row * config_gates(c);
      for (int i = 0; i < T; i++) {
        int which = i ? TOY_VALUE_REST : TOY_VALUE_1;
        toy_add(&y->seen, which, length(D, v + i * D));
      }
      toy_measure(&y->seen, c, t->s.eps, T, y->is + row, y->probe.z + b * map,
                  y->probe.weight + b * map, y->probe.metric + b * map, gate);
    }
  }
}

static double toy_value_ratio(const ToySums *x) {
  return toy_mean(x, TOY_VALUE_1) / toy_mean(x, TOY_VALUE_REST);
}

/* The first held sequence's weights s/Z, its first TOY_SHOWN rows and
 * the columns that they see: *, if there is one, then the tokens. Where
 * rows sum to 1 this is m. */
static int play_map(Play *y, Result *r, const char *name, Error *e) {
  int T = y->t.s.model.context, S = config_columns(&y->t.m.c, T);
  int rows = (int)at_most(T, TOY_SHOWN), columns = rows + S - T;
  double map[TOY_SHOWN * (TOY_SHOWN + 1)];
  double tokens[TOY_SHOWN], trigger[TOY_SHOWN];
  play_forward(y, 0, 1);
  for (int i = 0; i < rows; i++) {
    for (int j = 0; j < columns; j++)
      map[i * columns + j] = (double)y->probe.weight[(idx)i * S + j];
    tokens[i] = y->at[i];
    trigger[i] = y->is[i];
  }
  if (!y->looks) {
    const double shape[] = {y->t.s.data.toy, rows, columns};
    result_add(r, "toy_shape", shape, 3, e);
    result_add(r, "toy_tokens", tokens, rows, e);
    result_add(r, "toy_trigger", trigger, rows, e);
  }
  return result_add(r, name, map, rows * columns, e);
}

/* `what` is not finite: the training has diverged. */
static void play_fault(Trainer *t, const char *what, Error *e) {
  fail(e, 1, "%s" NOT_FINITE, what);
  step_fault(t, e);
}

/* What a curve has now: a number of the last look, or the training's loss since
 * the look before it. */
static double play_curve(const Play *y, int of) {
  const Trainer *t = &y->t;
  if (of == TOY_VALUE_1)
    return toy_value_ratio(&y->seen);
  if (of != TOY_LOSS)
    return toy_mean(&y->seen, of);
  return t->loss_steps ? t->loss_sum / (double)t->loss_steps : NAN;
}

/* A look of a training under way: the curves, and the line
 * that the terminal shows. */
static void play_watch(Play *y, Progress *p, Error *e) {
  Trainer *t = &y->t;
  play_look(y);
  if (!isfinite(y->seen.sum[TOY_GATE] + y->seen.sum[TOY_LOSS]))
    play_fault(t, "a map or loss", e);
  y->tokens[y->looks] = (double)t->step * tokens_a_step(t);
  for (int k = 0; k < TOY_CURVES; k++)
    y->curve[k][y->looks] = play_curve(y, TOY_CURVE[k].of);
  y->looks++;
  t->loss_sum = 0;
  t->loss_steps = 0;
  p->looked = t->step;
  p->now[ALPHA_1] = toy_mean(&y->seen, TOY_ALPHA_1);
  p->now[SINK_1] = p->low = toy_mean(&y->seen, TOY_SINK_1);
  p->now[NORM_RATIO] = 1;
}

/* Parameters that are trained: of the trigger task those of the attention. */
static idx play_parameters(const Play *y) {
  const Model *m = &y->t.m;
  const Tensor *from = &m->layer[0].wq, *to = &m->layer[0].wo;
  if (m->c.linear_bias)
    to = &m->layer[0].bo;
  if (y->trigger)
    return to->w + tensor_count(to) - from->w;
  return m->count;
}

/* The numbers of the last look and the curves, into r. */
static int play_numbers(const Play *y, Result *r, double loss_start, Error *e) {
  const ToySums *x = &y->seen;
  double train_loss = y->curve[0][y->looks - 1];
  record(r, e, (double)y->t.step, "steps");
  record(r, e, y->tokens[y->looks - 1], "tokens");
  record(r, e, (double)play_parameters(y), "parameters");
  record(r, e, r->ended[0] != 0, "diverged");
  for (int k = 0; k < TOY_NUMBERS; k++)
    if (TOY_NAMES[k] && x->count[k] > 0)
      record(r, e, toy_mean(x, k), "%s", TOY_NAMES[k]);
  record(r, e, toy_mean(x, TOY_ALPHA_1) / toy_mean(x, TOY_EVEN), "times_1");
  record(r, e, toy_value_ratio(x), "value_ratio");
  if (y->trigger && !r->ended[0])
    record(r, e, x->worst, "error_most");
  record(r, e, loss_start, "loss_start");
  record(r, e, train_loss, "train_loss");
  record(r, e, toy_mean(x, TOY_LOSS) - train_loss, "gap");
  result_add(r, "curve_tokens", y->tokens, y->looks, e);
  for (int k = 0; k < TOY_CURVES; k++)
    if (TOY_CURVE[k].of != TOY_ALPHA_STAR || y->t.m.c.extra)
      result_add(r, TOY_CURVE[k].name, y->curve[k], y->looks, e);
  return e->status;
}

/* A step of either task. */
static void play_step(Play *y, Error *e) {
  Trainer *t = &y->t;
  int B = t->s.train.batch;
  /* as data_open's: none is HELD_SEED */
  uint64_t seed = (uint64_t)t->s.train.seed + 1;
  if (!y->trigger) {
    trainer_step(t, e);
    return;
  }
  trigger_batch(y, seed == HELD_SEED ? 0 : seed,
                (uint64_t)t->step * (uint64_t)B, B);
  model_zero_grads(&t->m);
  t->loss = trigger_loss(&t->m, &t->a, y->x, y->y, B, t->s.model.context, true);
  if (!isfinite(t->loss))
    play_fault(t, "the loss", e);
  else if (trainer_finish(t, t->loss, e))
    step_fault(t, e);
}

/* From the first look to the last; a training that diverges ends here
 * with the reason in r. */
static int play_train(Play *y, Progress *p, Result *r, Error *e) {
  Trainer *t = &y->t;
  int steps = t->s.train.steps, last = TOY_LOOKS - 1;
  p->start = p->shown = seconds();
  stop_gently();
  for (int k = 1; k <= last && !e->status; k++) {
    long until = (long)((double)steps * k * k / (last * last));
    while (t->step < until && !e->status && !interrupted) {
      play_step(y, e);
      if (!e->status)
        progress_show(t, p);
    }
    if (interrupted)
      fail(e, 1,
           "stopped at step %ld of %d; nothing was saved. Try: the same "
           "command",
           t->step, steps);
    if (!e->status && t->loss_steps)
      play_watch(y, p, e);
  }
  /* the numbers of the last look are not the end's */
  if (take_divergence(r->ended, t, e))
    y->seen = (ToySums){0};
  return e->status;
}

/* Trains the toy that s->data.toy names and adds its numbers to r. One
 * that diverges is a result: r->ended says where. 2 for a model that
 * the toy is not made for. */
static int toy_run(const Settings *s, Progress *p, Result *r, Error *e) {
  Play y = {0};
  if (play_refuses(s, e))
    return e->status;
  if (!play_create(&y, s, e) && !play_map(&y, r, "before", e)) {
    play_watch(&y, p, e);
    double loss_start = toy_mean(&y.seen, TOY_LOSS);
    if (!play_train(&y, p, r, e) && !play_numbers(&y, r, loss_start, e) &&
        !r->ended[0])
      play_map(&y, r, "after", e);
  }
  play_free(&y);
  return e->status;
}

static const char *const TOY_WHEN[] = {"before", "after"};
static const char TOY_MAPS_SAY[] =
    "\nWeights of the first held sequence in tenths: . below 0.05, # from 0.95 "
    "on. Rows: queries,\n> at a trigger. Columns: keys, 1 the first token, v a "
    "trigger, * the extra column.\n";

/* NO_COLOR: no-color.org. */
static bool wants_colour(FILE *f) {
  const char *no = getenv("NO_COLOR"), *term = getenv("TERM");
  return isatty(fileno(f)) && !(no && *no) && !(term && !strcmp(term, "dumb"));
}

/* Text on a grey as light as a weight 0 .. 1 is large. */
static void heat_cell(const char *text, double x, bool colour, FILE *out) {
  int grey = 232 + (int)fmin(fmax(24 * x, 0), 23);
  if (colour)
    fprintf(out, "\x1b[48;5;%dm\x1b[38;5;%dm%s\x1b[0m", grey,
            x > 0.5 ? 16 : 255, text);
  else
    fputs(text, out);
}

/* What stands over column j of a map; the column * is -1. */
static char column_mark(const double *trigger, int j) {
  if (j < 0)
    return '*';
  if (trigger[j] > 0)
    return 'v';
  return j == 0 ? '1' : ' ';
}

/* What stands before row i of a map: a letter in quotes, where tokens are
 * letters; else 1 for the first row, t for the trigger, x for others. */
static void row_mark(char to[4], const double *tokens, const double *trigger,
                     bool letters, int i) {
  if (letters && tokens[i] >= 1 && tokens[i] < BACKCOPY_VOCAB)
    snprintf(to, 4, "'%c'", LETTERS[(int)tokens[i] - 1]);
  else if (i == 0)
    strcpy(to, " 1 ");
  else
    strcpy(to, trigger[i] > 0 ? " t " : " x ");
}

/* A toy's maps before and after. */
static void toy_print(const Result *r, FILE *out) {
  int n, m, told, cells;
  const double *shape = result_find(r, "toy_shape", &n);
  const double *tokens = result_find(r, "toy_tokens", &m);
  const double *trigger = result_find(r, "toy_trigger", &told);
  int rows = count_at(shape, n, 1), columns = count_at(shape, n, 2);
  int before = columns - rows;   /* 1: there is a column * */
  bool colour = wants_colour(out);
  if (!rows || before < 0 || m != rows || told != rows)
    return;
  for (int k = 0; k < 2; k++) {
    const double *map = result_find(r, TOY_WHEN[k], &cells);
    if (cells != rows * columns)
      return;
    fprintf(out, "%6s%s\n%6s", "", TOY_WHEN[k], "");
    for (int j = -before; j < rows; j++)
      fprintf(out, " %c", column_mark(trigger, j));
    fputc('\n', out);
    for (int i = 0; i < rows; i++) {
      char mark[4];
      row_mark(mark, tokens, trigger, shape[0] > TOY_TRIGGER, i);
      fprintf(out, " %c%s ", trigger[i] > 0 ? '>' : ' ', mark);
      for (int j = 0; j < columns; j++) {
        double x = map[i * columns + j];
        char text[] = "  ";
        if (!colour)           /* tenths: . below 0.05, # from 0.95 on */
          text[1] = ".123456789#"[(int)fmin(fmax(10 * x + 0.5, 0), 10)];
        heat_cell(text, x, colour, out);
      }
      fputc('\n', out);
    }
  }
}

/* Why, on the page of `run` (run.c): a result's maps before and after, with an
 * arrow at the trigger. */
static void why_maps(Html *h, const Result *r, const char *name) {
  Film f = {.T = 0};
  char label[160];
  int n, told;
  const double *shape = result_find(r, "toy_shape", &n);
  int rows = count_at(shape, n, 1);
  const double *trigger = result_find(r, "toy_trigger", &told);
  f.T = rows;
  for (int k = 0; k < 2; k++) {
    const double *map = result_find(r, TOY_WHEN[k], &n);
    if (rows < 1 || rows > FILM_TOKENS || n != rows * rows || told != rows)
      return;
    FilmLook x = {.alpha = 0};
    for (int i = 0; i < n; i++)
      x.weight[i / rows][i % rows] = (float)map[i];
    snprintf(label, sizeof label, "%s, %s training", name, TOY_WHEN[k]);
    say(h, "<div>");
    say(h, "<span class=\"small\">%s, %s</span>", name, TOY_WHEN[k]);
    map_begin(h, &f, &x, 0, 0, label);
    for (int i = 0; i < rows; i++)
      if (trigger[i] > 0)
        say(h, "<path fill=\"#1c1c1c\" d=\"M1 %dv6l7-3z\"/>",
            1 + i * FILM_CELL);
    say(h, "</svg></div>\n");
  }
}

/* 1: these results are not there. */
static int toy_why(Html *h, const Settings *s) {
  static const char *const ROWS[][2] = {{"trigger-softmax", "softmax"},
                                        {"trigger-sigmoid", "sigmoid"}};
  enum { SEED = 1, WHY_ROWS = sizeof ROWS / sizeof *ROWS };
  Result r[WHY_ROWS] = {{.seed = 0}};
  Error e = {0};
  char path[PATH_ROOM], room[PATH_ROOM];
  const char *folder = located(room, RESULTS_FOLDER, &s->data, &e);
  for (int i = 0; i < WHY_ROWS; i++) {
    Bytes text = {0};
    if (!result_path(path, folder, "books", ROWS[i][0], SEED, &e) &&
        !lines_read(path, &text, &e))
      result_read(&r[i], text.at, text.size, path, &e);
    bytes_free(&text);
  }
  double first = result_number(&r[0], "alpha_1");
  double length = result_number(&r[0], "value_ratio");
  if (!(first >= 0 && length >= 0))   /* a toy that diverged has neither */
    e.status = 1;
  if (!e.status) {
    say(h,
        "<p>A toy: one head must give the mean of all tokens so far at one "
        "row, the trigger (arrow), and nothing at every other row.</p>\n"
        "<figure id=\"toy\"><div class=\"two\">\n");
    for (int i = 0; i < WHY_ROWS; i++)
      why_maps(h, &r[i], ROWS[i][1]);
    say(h,
        "</div><figcaption>Softmax gives away a weight of 1 in each row. So "
        "the idle rows put %.2f of it on token 1, whose value shrinks to %.5f "
        "of the others' length: nothing is passed on. Sigmoid's idle rows are "
        "empty, and need no sink. <code>./paper toy-trigger</code> trains it "
        "(arXiv 2603.11487).</figcaption></figure>\n",
        first, length);
  }
  for (int i = 0; i < WHY_ROWS; i++)
    result_free(&r[i]);
  return e.status;
}

/* Program.open: what else than texts can be trained on. */
static int paper_open(Data *d, const Source *s, int T, Error *e) {
  if (s->toy)
    return toys_open(d, s, T, e);
  return other_open(d, s, T, e);
}
