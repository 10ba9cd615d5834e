/* scale.c - equations 29 to 42 as a check, `paper check scale`. A part of paper.c.
 *
 * SPDX-License-Identifier: MIT
 */

/* -------------------------------------------------------------------------------------------------
 * 1  [E29] [E32] The scale, and what it is to the optimiser
 *
 * The scale folds into W_V or W_O (equations 30, 31), but W_O also carries v+, and W_V leaves v*
 * behind. So training W under the scale a is training W^ = a W without it, if each step keeps W^ =
 * a W. The gradient of W^ is g/a (equation 40), its moments m/a and v/a^2, and for that matrix
 *
 *   AdamW   W <- (1 - lr wd) W - lr m^ / (sqrt(v^) + eps)    lr' = a lr, eps' = eps/a, wd' = wd/a
 *   SGD     W <- (1 - lr wd) W - lr g                        lr' = a^2 lr, and so wd' = wd/a^2
 *
 * (equations 42, 35). Were wd |W|^2 part of the loss, as section 6 writes it, AdamW would need wd'
 * = wd/a^2. Clipping by the global norm breaks the equality, since g/a weighs more in the norm than
 * g; counted as g, it is restored. At a = 1/4 all factors are powers of two, and the two trainings
 * agree to the bit. At a = 0.2 each of 200 steps rounds a number of order 1 twice, which may grow
 * tenfold: SCORES. The main job's sigmoid arm (12) has such an a. */

/* The loss of the last run, and its gradients. */
static double toy_gradients(Toy *y) {
  model_zero_grads(&y->m);
  double loss = model_loss(&y->m, &y->a, y->ids + 1, 1, y->T, true, 1);
  model_backward(&y->m, &y->a, y->ids, 1, y->T);
  return loss;
}

enum { LOGITS = 16 * TOY_VOCAB };
/* The logits [T,TOY_VOCAB] of the last run, for at most 16 tokens. */
static void toy_logits(Toy *y, real logits[LOGITS]) {
  model_logits(&y->m, &y->a, y->a.nf + y->m.c.sink_token * y->m.c.dim, y->T, logits);
}

enum { UNCLIPPED, CLIPPED, CORRECTED };   /* corrected: the norm counts g for g/a */
typedef struct Twin {
  double alpha;
  int optimizer, lr, eps, wd, start;  /* the powers of alpha on the settings and on W^0 */
  int clip; bool breaks;   /* by the global norm of 0.5; must the two part? */
  const char *tensor, *reference, *text, *flags;
} Twin;

static const Twin TWINS[] = {
  { 0.2, 0, 1, -1, -1, 1, 0, 0, ".wo", "eq. 42", "W_O, lr'= a lr, eps'= eps/a, wd'= wd/a", ""},
  {0.25, 0, 1, -1, -1, 1, 0, 0, ".wo", "eq. 42", "  a = 1/4, to the bit", ""},
  { 0.2, 0, 1, -1, -1, 1, 0, 0, ".wv", "eq. 42", "  of W_V", ""},
  { 0.2, 0, 1, -1, -1, 1, 0, 0, ".wv", "eq. 42", "  of W_V beside V biases", "--vbias"},
  { 0.2, 0, 1, -1, -1, 1, 0, 1, ".wo", "eq. 42", "  of W_O beside V biases", "--vbias"},
  { 0.2, 0, 1, -1, -1, 1, 0, 0, ".wo", "eq. 42", "  of W_O beside KV biases", "--extra kv"},
  { 0.2, 0, 1, -1, -1, 1, 0, 1, ".wv", "eq. 42", "  of W_V beside KV biases", "--extra kv"},
  { 0.2, 0, 1,  0, -1, 1, 0, 1, ".wo", "eq. 42", "  with eps' = eps", ""},
  { 0.2, 0, 1,  1, -1, 1, 0, 1, ".wo", "eq. 42", "  with eps' = a eps", ""},
  { 0.2, 0, 1, -1,  0, 1, 0, 1, ".wo", "eq. 42", "  with wd' = wd", ""},
  { 0.2, 0, 1, -1, -2, 1, 0, 1, ".wo", "eq. 42", "  with wd' = wd/a^2", ""},
  { 0.2, 0, 2, -1, -1, 1, 0, 1, ".wo", "eq. 42", "  with lr' = a^2 lr", ""},
  { 0.2, 0, 1, -1, -1, 0, 0, 1, ".wo", "eq. 42", "  from W^ = W", ""},
  { 0.2, 0, 1, -1, -1, 1, CLIPPED, 1, ".wo", "beyond", "  clipped by the global norm", ""},
  { 0.2, 0, 1, -1, -1, 1, CORRECTED, 0, ".wo", "beyond", "  clipped, g for g/a in the norm", ""},
  { 0.2, 1, 2,  0, -2, 1, 0, 0, ".wo", "eq. 35", "W_O, SGD: lr' = a^2 lr, wd' = wd/a^2", ""},
  {0.25, 1, 2,  0, -2, 1, 0, 0, ".wo", "eq. 35", "  a = 1/4, to the bit", ""},
  { 0.2, 1, 1,  0, -2, 1, 0, 1, ".wo", "eq. 35", "  with lr' = a lr", ""}};
enum { N_TWINS = (int)(sizeof TWINS / sizeof *TWINS) };

/* One step of one of the two; the settings of its tensor carry the powers of alpha, or of 1. */
static double twin_step(const Twin *w, Toy *y, real *moments, long t, double alpha) {
  Model *m = &y->m;
  const Tensor *bad;
  toy_feed(y, (uint64_t)t);
  double loss = toy_gradients(y), norm = gradient_norm(m, &bad), square = norm * norm;
  for (int i = 0; i < m->n_tensors && w->clip == CORRECTED; i++) {
    const Tensor *x = &m->tensor[i];
    double own = (double)vec_dot(x->count, m->grads + x->at, m->grads + x->at);
    if (strstr(x->name, w->tensor)) square += (alpha * alpha - 1) * own;
  }
  double clip = w->clip && sqrt(square) > 0.5 ? 0.5 / sqrt(square) : 1;
  for (idx n = 0; n < m->count; n++) m->grads[n] *= (real)clip;
  for (int i = 0; i < m->n_tensors; i++) {
    const Tensor *x = &m->tensor[i];
    double a = strstr(x->name, w->tensor) ? alpha : 1;
    Step s = {.optimizer = w->optimizer, .beta1 = 0.9, .beta2 = 0.95, .t = t, .shrink = 1,
              .lr = 0.02 * pow(a, w->lr), .eps = 0.01 * pow(a, w->eps), .wd = 0.1 * pow(a, w->wd)};
    real *first = moments + x->at, *second = first + m->count;
    optimizer_step(&s, x->count, m->params + x->at, m->grads + x->at, first, second);
  }
  return loss;
}

/* Multiplies one tensor of every block. */
static void fold(Model *m, const char *tensor, double factor) {
  for (int i = 0; i < m->n_tensors; i++)
    for (idx n = 0; n < m->tensor[i].count && strstr(m->tensor[i].name, tensor); n++)
      m->params[m->tensor[i].at + n] *= (real)factor;
}

/* Trains both for 200 steps: the largest difference of losses on the way, or of the weights at the
 * end, with alpha W for W. */
static void check_twins(Page *p) {
  for (const Twin *w = TWINS; w < TWINS + N_TWINS; w++) {
    Line line = {w->reference, w->text, "", NULL, 0, w->breaks ? FAILS_BY : AT_MOST,
                 w->breaks ? APART : w->alpha == 0.25 ? 0 : SCORES};
    Toy *a = toy(p, 1, "--layers 2 %s --scale %g", w->flags, w->alpha);
    Toy *b = toy(p, 1, "--layers 2 %s", w->flags);
    real *moments = a && b ? grab(4 * a->m.count, sizeof(real), p->e) : NULL;
    double gap = 0;
    if (!moments) return;
    fold(&b->m, w->tensor, pow(w->alpha, w->start));
    for (long t = 1; t <= 200; t++) {
      double loss = twin_step(w, a, moments, t, 1);
      gap = larger(gap, fabs(loss - twin_step(w, b, moments + 2 * b->m.count, t, w->alpha)));
    }
    fold(&a->m, w->tensor, w->alpha);
    for (idx n = 0; n < a->m.count; n++)
      gap = larger(gap, fabs((double)a->m.params[n] - (double)b->m.params[n]));
    page_line(p, &line, gap);
    free(moments);
  }
}

/* How far the scaled toy's logits lie from those of the other with x W_V, or |x| W_O for x < 0. */
static double folded(Toy *y) {
  real scaled[LOGITS], other[LOGITS];
  fold(&y->other->m, y->x > 0 ? ".wv" : ".wo", fabs(y->x));
  toy_forward(y->other);
  toy_logits(y, scaled);
  toy_logits(y->other, other);
  return apart(y->T * TOY_VOCAB, scaled, other);
}

#define SCALED_V "--scale 0.2 --vbias | --vbias"
#define SCALED_KV "--scale 0.2 --extra kv | --extra kv"
static const Line SCALE[] = {
  {"scale", "Equations 29 to 42: scale and optimiser\nA scale on o is a factor on W_V or W_O: "
   "another learning rate, decay and start.", "", NULL, 1, 0, 0},
  {"eq. 30", "scale 0.2 is 0.2 W_V", "--scale 0.2 |", folded, 0.2, AT_MOST, STATES},
  {"eq. 31", "scale 0.2 is 0.2 W_O", "--scale 0.2 |", folded, -0.2, AT_MOST, STATES},
  {"eq. 30", "  beside V biases: 0.2 W_V", SCALED_V, folded, 0.2, AT_MOST, STATES},
  {"eq. 31", "  beside V biases: 0.2 W_O", SCALED_V, folded, -0.2, FAILS_BY, APART},
  {"eq. 30", "  beside KV biases: 0.2 W_V", SCALED_KV, folded, 0.2, FAILS_BY, APART},
  {"eq. 31", "  beside KV biases: 0.2 W_O", SCALED_KV, folded, -0.2, AT_MOST, STATES}};
