/* scale.c - equations 29 to 42 as a check, `paper check scale`.
 * A part of paper.c.
 *
 * SPDX-License-Identifier: MIT
 */

/* -----------------------------------------------------------------------------
 * 1  [E29] [E32] The scale, and what it is to the optimiser
 *
 * The scale folds into W_V or W_O (equations 30, 31), but W_O also carries v+,
 * and W_V leaves v* behind. So training W under the scale a is training
 * W^ = a W without it, if each step keeps W^ = a W. The gradient of W^ is g/a
 * (equation 40), its moments m/a and v/a^2, and for that matrix
 *
 *   AdamW   W <- (1 - lr wd) W - lr m^ / (sqrt(v^) + eps)
 *           lr' = a lr, eps' = eps/a, wd' = wd/a
 *   SGD     W <- (1 - lr wd) W - lr g
 *           lr' = a^2 lr, and so wd' = wd/a^2
 *
 * (equations 42, 35). Were wd |W|^2 part of the loss, as section 6 writes it,
 * AdamW would need wd' = wd/a^2. Clipping by the global norm breaks the
 * equality, since g/a weighs more in the norm than g; counted as g, it is
 * restored. At a = 1/4 all factors are powers of two, and the two trainings
 * agree to the bit. At a = 0.2 each of 200 steps rounds a number of order 1
 * twice, which may grow tenfold: SCORES. The main job's sigmoid arm (12) has
 * such an a. */

/* The loss of the last run, and its gradients. */
static double toy_gradients(Toy *y) {
  model_zero_grads(&y->m);
  double loss = model_loss(&y->m, &y->a, y->ids + 1, 1, y->T, 1);
  model_backward(&y->m, &y->a, y->ids, 1, y->T);
  return loss;
}

enum { LOGITS = 16 * TOY_VOCAB };
/* The logits [T,TOY_VOCAB] of the last run, for at most 16 tokens. */
static void toy_logits(Toy *y, real logits[LOGITS]) {
  model_logits(&y->m, &y->a, y->a.nf + y->m.c.sink_token * y->m.c.dim, y->T,
               logits);
}

/* |a - b| / |b| */
static double apart(idx n, const real *a, const real *b) {
  double gap = 0, size = 0;
  for (idx j = 0; j < n; j++) {
    gap += pow((double)a[j] - b[j], 2);
    size += pow(b[j], 2);
  }
  return gap == 0 ? 0 : sqrt(gap / size);
}

/* Multiplies one tensor of every block. */
static void fold(Model *m, const char *tensor, double factor) {
  for (int i = 0; i < m->n_tensors; i++) {
    const Tensor *x = m->all[i];
    for (idx n = 0; n < tensor_count(x) && strstr(x->name, tensor); n++)
      x->w[n] *= (real)factor;
  }
}

/* How far the logits of scale 0.2 lie from those of 0.2 W_V, or 0.2 W_O. */
static double off_folded(Page *p, const char *flags, const char *tensor) {
  real scaled[LOGITS], folded[LOGITS];
  Toy *y = toy(p, RANDOM, "--scale 0.2 %s", flags);
  Toy *z = toy(p, RANDOM, "%s", flags);
  if (!y->T || !z->T)
    return NAN;
  fold(&z->m, tensor, 0.2);
  toy_forward(z);
  toy_logits(y, scaled);
  toy_logits(z, folded);
  return apart(y->T * TOY_VOCAB, scaled, folded);
}

/* Two trainings: under the scale alpha, and without it, where the tensor's
 * settings and its start are multiplied by these powers of alpha. Gradients are
 * clipped by the global norm of 0.5, which may count g for g/a. */
enum { UNCLIPPED, CLIPPED, CORRECTED };
typedef struct Twin {
  double alpha;
  const char *tensor, *flags;
  int optimizer, lr, eps, wd, start, clip;
} Twin;

/* One step of one of the two, on drawn tokens; alpha is 1 in the scaled one. */
static double twin_step(const Twin *w, Toy *y, real *moments, long t,
                        double alpha) {
  Model *m = &y->m;
  const Tensor *bad;
  Rng rng = {(uint64_t)t};
  for (int i = 0; i <= y->T; i++)
    y->ids[i] = (int)rng_below(&rng, TOY_VOCAB);
  toy_forward(y);
  double loss = toy_gradients(y), norm = gradient_norm(m, &bad);
  double square = norm * norm;
  for (int i = 0; i < m->n_tensors && w->clip == CORRECTED; i++) {
    const Tensor *x = m->all[i];
    double own = vec_dot(tensor_count(x), x->d, x->d);
    if (strstr(x->name, w->tensor))
      square += (alpha * alpha - 1) * own;
  }
  double clip = 1;
  if (w->clip && sqrt(square) > 0.5)
    clip = 0.5 / sqrt(square);
  for (idx n = 0; n < m->count; n++)
    m->grads[n] *= (real)clip;
  for (int i = 0; i < m->n_tensors; i++) {
    const Tensor *x = m->all[i];
    double a = strstr(x->name, w->tensor) ? alpha : 1;
    Step s = {.optimizer = w->optimizer, .beta1 = 0.9, .beta2 = 0.95, .t = t,
              .shrink = 1, .lr = 0.02 * pow(a, w->lr),
              .eps = 0.01 * pow(a, w->eps), .wd = 0.1 * pow(a, w->wd)};
    real *first = moments + (x->w - m->params), *second = first + m->count;
    optimizer_step(&s, tensor_count(x), x->w, x->d, first, second);
  }
  return loss;
}

/* Trains both for 200 steps: the largest difference of losses on the way, or of
 * the weights at the end, with alpha W for W. */
static double twins_apart(Page *p, Twin w) {
  Toy *a = toy(p, RANDOM, "--layers 2 %s --scale %g", w.flags, w.alpha);
  Toy *b = toy(p, RANDOM, "--layers 2 %s", w.flags);
  if (p->e->status)
    return NAN;
  real *moments = grab(4 * a->m.count, sizeof(real), p->e);
  double gap = 0;
  if (!moments)
    return NAN;
  fold(&b->m, w.tensor, pow(w.alpha, w.start));
  for (long t = 1; t <= 200; t++) {
    double loss = twin_step(&w, a, moments, t, 1);
    double other = twin_step(&w, b, moments + 2 * b->m.count, t, w.alpha);
    gap = larger(gap, fabs(loss - other));
  }
  fold(&a->m, w.tensor, w.alpha);
  for (idx n = 0; n < a->m.count; n++)
    gap = larger(gap, fabs((double)a->m.params[n] - b->m.params[n]));
  free(moments);
  return gap;
}

static void check_adamw(Page *p) {
  const Twin wo = {.alpha = 0.2, .tensor = ".wo", .flags = "", .lr = 1,
                   .eps = -1, .wd = -1, .start = 1};
  Twin w = wo, wv = wo;
  wv.tensor = ".wv";
  holds(p, "eq. 42: W_O, lr'= a lr, eps'= eps/a, wd'= wd/a", twins_apart(p, wo),
        SCORES);
  w.alpha = 0.25;
  holds(p, "  a = 1/4, to the bit", twins_apart(p, w), 0);
  holds(p, "  of W_V", twins_apart(p, wv), SCORES);
  wv.flags = "--vbias";
  holds(p, "  of W_V beside V biases", twins_apart(p, wv), SCORES);
  w = wo;
  w.flags = "--vbias";
  control(p, "  of W_O beside V biases", twins_apart(p, w), APART);
  w.flags = "--extra kv";
  holds(p, "  of W_O beside KV biases", twins_apart(p, w), SCORES);
  wv.flags = "--extra kv";
  control(p, "  of W_V beside KV biases", twins_apart(p, wv), APART);
  w = wo;
  w.eps = 0;
  control(p, "  with eps' = eps", twins_apart(p, w), APART);
  w.eps = 1;
  control(p, "  with eps' = a eps", twins_apart(p, w), APART);
  w = wo;
  w.wd = 0;
  control(p, "  with wd' = wd", twins_apart(p, w), APART);
  w.wd = -2;
  control(p, "  with wd' = wd/a^2", twins_apart(p, w), APART);
  w = wo;
  w.lr = 2;
  control(p, "  with lr' = a^2 lr", twins_apart(p, w), APART);
  w = wo;
  w.start = 0;
  control(p, "  from W^ = W", twins_apart(p, w), APART);
  w = wo;
  w.clip = CLIPPED;
  control(p, "beyond: clipped by the global norm", twins_apart(p, w), APART);
  w.clip = CORRECTED;
  holds(p, "beyond: clipped, g for g/a in the norm", twins_apart(p, w), SCORES);
}

static void check_sgd(Page *p) {
  Twin w = {.alpha = 0.2, .tensor = ".wo", .flags = "", .optimizer = 1,
            .lr = 2, .wd = -2, .start = 1};
  holds(p, "eq. 35: W_O, SGD: lr' = a^2 lr, wd' = wd/a^2", twins_apart(p, w),
        SCORES);
  w.alpha = 0.25;
  holds(p, "  a = 1/4, to the bit", twins_apart(p, w), 0);
  w.alpha = 0.2;
  w.lr = 1;
  control(p, "  with lr' = a lr", twins_apart(p, w), APART);
}

static void check_scale(Page *p) {
  holds(p, "eq. 30: scale 0.2 is 0.2 W_V", off_folded(p, "", ".wv"), STATES);
  holds(p, "eq. 31: scale 0.2 is 0.2 W_O", off_folded(p, "", ".wo"), STATES);
  holds(p, "eq. 30: beside V biases: 0.2 W_V", off_folded(p, "--vbias", ".wv"),
        STATES);
  control(p, "eq. 31: beside V biases: 0.2 W_O",
          off_folded(p, "--vbias", ".wo"), APART);
  control(p, "eq. 30: beside KV biases: 0.2 W_V",
          off_folded(p, "--extra kv", ".wv"), APART);
  holds(p, "eq. 31: beside KV biases: 0.2 W_O",
        off_folded(p, "--extra kv", ".wo"), STATES);
  check_adamw(p);
  check_sgd(p);
}
