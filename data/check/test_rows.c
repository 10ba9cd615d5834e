/* test_rows.c - every row of every axis, the paper's, later papers' and
 * published models', in pairs: gradients, forms, memory, threads. And what only
 * rows beyond the paper's have: their shapes, starts, refusals, equivalences.
 *
 *     cc -O2 -DSINK_DOUBLE data/check/test_rows.c -o test -lm && ./test
 *
 * SPDX-License-Identifier: MIT
 *
 * In double every pair's gradients take a minute or two. */
#define HF_NO_MAIN
#include "../models/hf.c"
#include "../../test_sink.c"
#include "ablated.c"
#include "rows.c"

/* ----------
 * 1  Config and parameters */

/* What shapes a model is an axis of the covering array, but for its sizes, and
 * for what is forward only (the tests of ./hf). */
static void frame__axes(Test *t) {
  for (const Option *o = OPTIONS; o->flag; o++) {
    char sizes[] = "--layers --dim --ffn --vocab --context --norm-eps "
                   "--attention- --mamba- --expert";
    char flag[64];
    bool found = false;
    snprintf(flag, sizeof flag, "--%s", o->flag);
    for (char *size = strtok(sizes, " "); size; size = strtok(NULL, " "))
      found |= !strncmp(flag, size, strlen(size));
    for (int a = 0; a < N_AXES; a++) {
      found |= !strcmp(AXES[a].name, o->flag);
      for (int i = 0; i < MOST_ROWS && AXES[a].rows[i]; i++)
        found |= strstr(AXES[a].rows[i], flag) != NULL;
    }
    fact(t, found || !(o->groups & MODEL), "%s is on no axis", flag);
  }
  for (int a = 0; a < N_AXES; a++) {
    const Option *o = option_find(AXES[a].name, MODEL);
    char word[VALUE_ROOM], flag[2 * VALUE_ROOM], all[200];
    for (int i = 1; AXES[a].rows[0] && o && o->kind == 'c'
                    && *option_word(o, i, word); i++) {
      bool found = false;
      snprintf(flag, sizeof flag, "--%s %s ", o->flag, word);
      for (int k = 0; k < MOST_ROWS && AXES[a].rows[k]; k++) {
        snprintf(all, sizeof all, "%s ", AXES[a].rows[k]);
        found |= strstr(all, flag) != NULL;
      }
      fact(t, found || !strcmp(word, "longrope"), "AXES of rows.c lacks %s", flag);
    }
  }
}

/* What follows from other fields. */
static void config_resolve__fills_rows(Test *t) {
  Config c = config_of(t, "--heads 4 --dim 64");
  fact(t, c.embed_dim == 64, "E %d", c.embed_dim);
  c = config_of(t, "--embed-dim 9");
  fact(t, c.embed_dim == 9, "E given");
  c = config_of(t, "--dim 40 --attention-period 2 --experts 3");
  fact(t,
       c.mamba_inner == 80 && c.mamba_state == 16 && c.mamba_conv == 4 &&
           c.mamba_rank == 3 && c.expert_top == 2,
       "Mamba of %d channels, %d states, %d taps, rank %d; top %d experts",
       c.mamba_inner, c.mamba_state, c.mamba_conv, c.mamba_rank, c.expert_top);
  c = config_of(t, "--experts 1");
  fact(t, c.expert_top == 1 && !c.mamba_inner,
       "the top %d of 1, and %d channels", c.expert_top, c.mamba_inner);
}

/* Refusals of the rows beyond the paper's, and their nearest neighbours. */
static void config_resolve__refuses_rows(Test *t) {
  static const struct { const char *flags, *flag; } WRONG[] = {
      {"--window 3 --window-period 2 --window-offset 2", "--window-offset"},
      {"--attention-period 3 --attention-offset 3", "--attention-offset"},
      {"--attention-period 8 --attention-offset 4", "--attention-offset"},
      {"--experts 2 --expert-top 3", "--expert-top"},
      {"--experts 257", "--experts"},
      {"--experts 4 --expert-period 2 --expert-offset 2", "--expert-offset"},
      {"--mamba-state 0", "--mamba-state"},
      {"--rope-scaling yarn --rope-high 0.9", "--rope-high"},
      {"--rope-scaling yarn --rope-low 0", "--rope-low"},
      {"--rope-scaling llama3 --rope-low 3 --rope-high 3", "--rope-high"},
      {"--linear-bias --bias-in out", "--bias-in"},
      {"--kernel elu --sim identity --score-bias logn", "--score-bias"},
      {"--kernel elu --sim identity --score-bias learned --normalizer pnorm "
       "--pnorm 0.5", "--pnorm"}};
  static const char *const RIGHT[] = {
      "--experts 2 --expert-top 2 --expert-period 64 --expert-offset 63",
      "--kernel elu --sim identity --score-bias logn --normalizer pnorm",
      "--kernel elu --sim identity --score-bias logn --normalizer one",
      "--experts 1", "--attention-offset 9 --expert-offset 9 --expert-top 9",
      "--rope-scaling yarn --rope-low 0.01 --rope-high 0.02",
      "--attention-period 1",
      "--window 3 --window-period 2 --window-offset 1", "--bias-in qkv",
      "--attention-period 8 --attention-offset 3", "--score-scale logn",
      "--rope-scaling linear --rope-low 4 --rope-high 4", "--soft-cap none",
      "--context 2 --score-scale logn --score-bias learned",
      "--extra-logit none",
      ("--attention-period 2 --attention-offset 1 --place parallel "
       "--sink-token --prefix 3"),
      "--rope-scaling llama3 --rope-low 0", "--soft-cap 1e-30",
      "--context 1 --score-bias logn"};
  EACH (i, WRONG) {
    Config c;
    int status = config_from_flags(&c, WRONG[i].flags, fresh(t));
    refusal(t, WRONG[i].flags, status, &t->e, WRONG[i].flag);
  }
  EACH (i, RIGHT)
    config_kept(t, "%s", RIGHT[i]);
}

/* A flag of what is not chosen is refused where it is given; its neighbours
 * are not. */
static void settings_refuse_idle__published(Test *t) {
  static const char *const ROWS[][2] = {
      {"--rope-scaling yarn --rope-low 2 --rope-original 64 --rope-factor 4",
       ""},
      {"--rope-factor 2",
       "--rope-factor: has an effect only with --rope-scaling."},
      {"--rope-scaling longrope --rope-factor 2 --rope-original 64", ""},
      {"--rope-scaling linear --rope-original 64",
       "--rope-original: has an effect only with --rope-scaling "
       "llama3|yarn|longrope."},
      {"--rope-scaling linear --rope-low 2",
       "--rope-low: has an effect only with --rope-scaling llama3"},
      {"--rope-scaling linear --pos none",
       "--rope-scaling: has an effect only with --pos rotary."},
      {"--rope-local 9", "--rope-local: has an effect only with --window."},
      {"--rope-local 9 --window 3 --window-period 2", ""},
      {"--rope-local 9 --window 3 --window-period 2 --pos none",
       "only with --pos rotary."},
      {"--bias-in all", "--bias-in: has an effect only with --linear-bias."},
      {"--linear-bias --bias-in all", ""},
      {"--window-period 2",
       "--window-period: has an effect only with --window."},
      {"--window 3 --window-offset 1",
       "--window-offset: has an effect only with --window-period."},
      {"--window 3 --window-others",
       "--window-others: has an effect only with --window-period."},
      {"--window 3 --window-period 3 --window-others --window-offset 1", ""},
      {"--expert-top 1", "--expert-top: has an effect only with --experts."},
      {"--experts 2 --expert-offset 0",
       "--expert-offset: has an effect only with --expert-period."},
      {"--experts 2 --expert-slope 2",
       "--expert-slope: has an effect only with --expert-limit."},
      {"--experts 2 --expert-top 1 --expert-period 2 --expert-offset 1", ""},
      {"--mamba-conv 3",
       "--mamba-conv: has an effect only with --attention-period."},
      {"--attention-offset 1",
       "--attention-offset: has an effect only with --attention-period."},
      {"--attention-period 2 --attention-offset 1 --mamba-conv 3", ""}};
  const Program program = {.name = "hf"};
  EACH (i, ROWS) {
    Settings s;
    settings_default(&s);
    s.program = &program;
    s.verb = "train";
    s.groups = MODEL | TRAIN | DATA;
    settings_flags(&s, ROWS[i][0], s.groups, fresh(t));
    const int status = settings_refuse_idle(&s, &t->e);
    bool holds = !status;
    if (*ROWS[i][1])
      holds = status == 2 && strstr(t->e.text, ROWS[i][1]);
    fact(t, holds, "%s: %s", ROWS[i][0], t->e.text);
  }
}

/* [FIG6] Layers with a window; Jamba's 32 blocks: which attend, which
 * have experts. */
static void config__by_layer(Test *t) {
  const Config third =
      config_of(t, "--window 5 --window-period 3 --window-offset 1");
  const Config every = config_of(t, "--window 5");
  const Config half =
      config_of(t, "--window 2 --window-period 2 --window-offset 1");
  for (int l = 0; l < 9; l++) {
    int window = config_window(&third, l);
    fact(t, window == (l % 3 == 1 ? 5 : 0) && config_window(&every, l) == 5,
         "window of layer %d", l);
    fact(t, visible(&half, config_window(&half, l), 3, 0) == (l % 2 == 0),
         "layer %d's window", l);
  }
  Config c = config_of(t, "--layers 32 --attention-period 8 --attention-offset "
                          "4 --experts 16 --expert-period 2 --expert-offset 1");
  fact(t, config_attending(&c) == 4, "%d blocks attend", config_attending(&c));
  for (int l = 0; l < 32; l++) {
    fact(t, config_attends(&c, l) == (l % 8 == 4), "block %d", l);
    fact(t, config_experts(&c, l) == (l & 1 ? 16 : 0), "block %d's experts", l);
  }
  c = config_of(t, "--layers 3 --experts 5 --attention-offset 2 "
                   "--expert-offset 2");
  for (int l = 0; l < 3; l++)
    fact(t, config_attends(&c, l) && config_experts(&c, l) == 5,
         "without a period block %d is of another kind", l);
  c = config_of(t, "--layers 3 --expert-period 2");
  fact(t, !config_experts(&c, 0) && config_attending(&c) == 3,
       "no experts, yet some");
  Model m;
  if (!model_of(t, &m, "--layers 2 ", "--window 8 --window-period 2"))
    return;
  within(t, sink_uniform(&m, 64), (0.07412329537 + 0.0424665) / 2, 5e-6,
         "uniform");
  model_free(&m);
}

/* A model without a backward is refused wherever one would begin; its
 * neighbours are not. */
static void model_grads__refuses(Test *t) {
  static const struct { const char *flags, *flag; } ROWS[] = {
      {"--layers 4 --attention-period 2", "--attention-period"},
      {"--layers 4 --attention-period 4 --attention-offset 3 --experts 2",
       "--attention-period"},
      {"--experts 1", "--experts"},
      {"--layers 4 --experts 3 --expert-period 4 --expert-offset 3",
       "--experts"},
      {"--rope-scaling longrope", "--rope-scaling longrope"},
      {"--attention-period 1", NULL},
      {"--layers 2 --experts 3 --expert-period 4 --expert-offset 3", NULL},
      {"--linear-bias --bias-in qkv --score-by-layer --mamba-state 3 "
       "--expert-top 2", NULL}};
  EACH (i, ROWS) {
    const char *flags = ROWS[i].flags, *flag = ROWS[i].flag;
    const Config c = config_of(t, "%s", flags);
    static Settings s;
    Model m;
    Trainer r;
    int status = model_create(&m, &c, true, fresh(t));
    fact(t, status == (flag ? 2 : 0), "%s with gradients: status %d", flags,
         status);
    model_free(&m);
    if (!flag)
      continue;
    refusal(t, flags, status, &t->e, flag);
    fact(t, !model_create(&m, &c, false, fresh(t)), "%s: %s", flags, t->e.text);
    model_free(&m);
    settings_default(&s);
    settings_flags(&s, flags, MODEL, fresh(t));
    settings_flags(&s, "--text README.md", DATA, &t->e);
    fact(t,
         !t->e.status && trainer_create(&r, &s, &t->e) == 2 &&
             strstr(t->e.text, flag),
         "a training of %s: %d, %s", flags, t->e.status, t->e.text);
  }
}

/* Names, shapes and the mark of --decay matrices. C 12, H 4, D 3, K 2, F 7,
 * V 11, E 5. And --bias-in says which maps have a bias. */
static void model_create__table_rows(Test *t) {
  static const struct {
    const char *flags, *names;
    int rows, columns;
    bool matrix;
  } ROWS[] = {
      {"", "wte", 11, 5, true},
      {"", "win", 5, 12, true},
      {"", "wout", 12, 5, true},
      {"", "wcls", 5, 11, true},
      {"--norm dyt", "l0.norm1 l1.norm2.b", 12, 1, false},
      {"--norm dyt", "l0.norm1.a normf.a", 1, 1, false},
      {"--place sandwich --norm layer", "l0.norm3 l1.norm4.b", 12, 1, false},
      {"--score-scale logn --score-bias learned", "l0.cscale l1.sbias", 4, 1,
       false},
      {"--gate static --v-scale", "l0.gate l1.vscale", 4, 1, false},
      {"--gate head", "l0.wg", 12, 4, true},
      {"--gate element", "l0.wg", 12, 12, true},
      {"--gate value", "l0.wg", 12, 6, true},
      {"--head-norm", "l0.hnorm", 12, 1, false},
      {"--qk-norm", "l0.qnorm l1.knorm", 3, 1, false},
      {"--qk-norm --qk-whole", "l0.knorm", 6, 1, false},
      {"--qk-norm --qk-whole", "l1.qnorm", 12, 1, false}};
  static const struct { const char *flags, *absent, *present; } BIASES[] = {
      {"--linear-bias --bias-in qkv", "bo b1 b2 b3", "bq bk bv"},
      {"--linear-bias --bias-in attention", "b1 b2 b3", "bq bk bv bo"},
      {"--linear-bias --bias-in ffn", "bq bk bv bo", "b1 b2 b3"},
      {"--linear-bias --bias-in ffn --act relu", "bq bk bv bo b3", "b1 b2"},
      {"--bias-in attention", "bq bk bv bo b1 b2 b3", ""}};
  static const char SIZES[] =
      "--layers 2 --heads 4 --dim 12 --kv-heads 2 --ffn 7 --vocab 11 "
      "--context 20 --embed-dim 5 --pos none ";
  Model m;
  char name[20] = "";
  EACH (i, ROWS)
    if (model_of(t, &m, SIZES, ROWS[i].flags)) {
      for (const char *at = ROWS[i].names; word_next(&at, name);) {
        const Tensor *x = model_tensor(&m, name);
        fact(t,
             x && x->rank == 1 + (ROWS[i].columns > 1) &&
                 x->rows == ROWS[i].rows &&
                 x->cols == ROWS[i].columns &&
                 x->matrix == ROWS[i].matrix,
             "%s: %s is another", ROWS[i].flags, name);
      }
      model_free(&m);
    }
  EACH (i, BIASES)
    LABS (b, 1, 4, BIASES[i].flags)
      for (int there = 0; there < 2; there++) {
        const char *at = there ? BIASES[i].present : BIASES[i].absent;
        for (char full[20] = "l1."; word_next(&at, full + 3);)
          fact(t, !named(&b.m, full) == !there, "%s: %s", b.flags, full);
      }
}

/* Parameters of published models from models of one block at its real
 * width. OPT's table of positions has two rows more in its file, which no
 * token reads. */
static void model_create__published_counts(Test *t) {
  static const struct {
    const char *name, *flags;
    int layers;
    double count;
  } ROWS[] = {
      {"gpt2",
       "--heads 12 --dim 768 --ffn 3072 --vocab 50257 --context 1024 "
       "--pos learned --norm layer --act gelutanh --linear-bias --tied",
       12, 124439808},
      {"pythia-70m",
       "--heads 8 --dim 512 --ffn 2048 --vocab 50304 --rotary-dims 16 "
       "--norm layer --act gelu --linear-bias --place parallel",
       6, 70426624},
      {"opt-125m",
       "--heads 12 --dim 768 --ffn 3072 --vocab 50272 --context 2048 "
       "--pos learned --norm layer --act relu --linear-bias --tied",
       12, 125239296 - 2 * 768},
      {"opt-350m",
       "--heads 16 --dim 1024 --ffn 4096 --vocab 50272 --context 2048 "
       "--pos learned --norm layer --act relu --linear-bias --tied "
       "--place post --embed-dim 512",
       24, 331196416 - 2 * 1024}};
  Model m;
  EACH (i, ROWS)
    if (model_of(t, &m, "--layers 1 ", ROWS[i].flags)) {
      double more = (ROWS[i].layers - 1) * (double)counted(&m, 0);
      within(t, (double)m.count + more, ROWS[i].count, 0, "parameters of %s",
             ROWS[i].name);
      fact(t,
           !named(&m, "normf") == (i == 3) && !named(&m, "wout") == (i != 3) &&
               !named(&m, "win.b"),
           "%s: a final norm, a projection", ROWS[i].name);
      model_free(&m);
    }
}

/* Starts. C 64, H 4, D 16, F 96, V 400, L 3. */
static void model_init__laws_rows(Test *t) {
  const double a = sqrt(0.4);
  const struct {
    const char *flags, *names;
    int kind;
    double size[3];
  } ROWS[] = {
      {"--sink-token 3 --embed-dim 25", "wte xstar", START_NORMAL,
       {1, a / 8, 0.02}},
      {"--embed-dim 25", "win wcls", START_UNIFORM, {1.0 / 5, a / 5, 0.02}},
      {"--embed-dim 25", "wout", START_UNIFORM, {1.0 / 8, a / 8, 0.02}},
      {"--gate element", "l0.wg", START_UNIFORM, {1.0 / 8, a / 8, 0.02}},
      {"--place sandwich", "l0.norm1 l1.norm2 l2.norm3 l0.norm4 normf",
       START_AS, {1, 1, 1}},
      {"--norm dyt", "l0.norm2.a normf.a", START_AS, {0.5, 0.5, 0.5}}};
  EACH (i, ROWS) {
    char flags[300], name[16];
    snprintf(flags, sizeof flags,
             "--layers 3 --heads 4 --dim 64 --ffn 96 --vocab 400 "
             "--context 128 %s",
             ROWS[i].flags);
    LABS (b, 1, 4, flags)
      for (int init = 0; init < 3; init++)
        for (const char *at = ROWS[i].names; word_next(&at, name);) {
          int kind = ROWS[i].kind;
          if (init && kind == START_UNIFORM)
            kind = START_NORMAL;
          start_is(t, &b, name, init, kind, ROWS[i].size[init]);
        }
  }
}

/* ----------
 * 2  Operators and attention */

/* [T7] Token 1 reads p_t, and where they swap token t reads p_1: as a forward
 * of a model whose table was written so. Without attention the states of
 * repeated tokens change places. */
static void edited(Test *t, Lab *b, bool swap) {
  enum { T = 7, LAST = 4 };
  int C = b->m.c.dim, first = b->m.c.sink_token, N = T + first, n = 2 * N * C;
  real *wpe = lab_at(b, "wpe"), *table = wpe ? wpe : b->a.sinusoid;
  real *plain = reals_of(t, n), *other = reals_of(t, n);
  real *p_1 = table + first * C, *p_t = p_1 + LAST * C, kept[64], kept_t[64];
  static Settings s;
  settings_default(&s);
  *(swap ? &s.swap_position : &s.replace_position) = 1 + LAST;
  copy(kept, p_1, C);
  copy(kept_t, p_t, C);
  lab_forward(b);
  copy(plain, b->a.nf, n);
  fact(t, !position_edit(&b->m, &b->a, &s, T, false, fresh(t)), "%s",
       t->e.text);
  lab_forward(b);
  copy(other, b->a.nf, n);
  position_edit(&b->m, &b->a, &s, T, true, &t->e);
  fact(t,
       same_numbers(C, p_1, kept) && same_numbers(C, p_t, kept_t) && !b->a.kept,
       "%s: the table is not what it was", b->flags);
  copy(p_1, p_t, C);
  if (swap)
    copy(p_t, kept, C);
  lab_forward(b);
  within(t, distance(n, b->a.nf, other), 0, 0, "%s: a table so written",
         b->flags);
  double moved = fabs((double)other[first * C] - (double)plain[first * C]);
  fact(t, moved > 1e-3, "edit: no change");
  if (swap) /* back again: no attention, one token */
    copy(p_t, p_1, C);
  copy(p_1, kept, C);
  for (int i = 0; i < 2 * T; i++)
    b->ids[i] = 3;
  lab_fill(b, "l0.wo", 0);
  lab_fill(b, "l1.wo", 0);
  lab_forward(b);
  copy(plain, b->a.nf, n);
  position_edit(&b->m, &b->a, &s, T, false, &t->e);
  lab_forward(b);
  position_edit(&b->m, &b->a, &s, T, true, &t->e);
  for (int i = 0; i < N; i++) {
    int from = i;
    if (i == first)
      from = first + LAST;
    else if (swap && i == first + LAST)
      from = first;
    within(t, distance(C, plain + from * C, b->a.nf + i * C), 0, 0,
           "%s: row %d", b->flags, i);
  }
}

static void embed_forward__edited(Test *t) {
  for (int swap = 0; swap < 2; swap++)
    LABS (b, 2, 7, "--pos learned", "--pos learned --sink-token 3",
          "--pos absolute", "--pos absolute --sink-token --extra k")
      edited(t, &b, swap);
}

/* Rows of the similarities beyond the paper's, and over the number of keys. */
static void row__every_operation_rows(Test *t) {
  static const char *const SIMILARITIES[] = {
      "exp", "sigmoid", "elu", "identity", "softpick", "rectified", "relu",
      "sparsemax", "entmax", NULL};
  static const char *const NORMALIZERS[] = {
      "sum", "one", "clamp", "pnorm --pnorm 0.5", "pnorm --pnorm 1.5",
      "pnorm --pnorm 2", "pnorm --pnorm 3", "pnorm --pnorm 7", "count", NULL};
  int refused = rows_as_formula(t, &ALL_ROWS, SIMILARITIES, NORMALIZERS);
  fact(t, refused == 35, "%d of 81 operations refused", refused);
}

/* Operations of later papers, each among other rows; NULL after the last. */
static const char *const *later_operations(Test *t, const char *const *rest,
                                           int n_rest) {
  static const char *const KERNELS[] = {"identity", "elu", "mlp"};
  static const char *const SIMILARITIES[] = {
      "exp", "sigmoid", "elu", "identity", "softpick", "rectified", "relu",
      "sparsemax", "entmax"};
  static const char *const NORMALIZERS[] = {
      "sum", "one", "clamp", "pnorm --pnorm 0.5", "pnorm --pnorm 2",
      "pnorm --pnorm 3", "count"};
  static const char *const EXTRAS[] = {
      "none", "k", "kv", "zero", "logit", "logn", "k --extra-value e1"};
  enum { ALL = 3 * 9 * 7 * 7, ROOM = 400 };
  const char **list = later(t, ALL + 1, sizeof *list, NULL);
  int n = 0;
  for (int i = 0; i < ALL; i++) {
    int sim = i / 3 % 9, normalizer = i / 27 % 7, extra = i / 189;
    char *flags = later(t, ROOM, 1, NULL), all[2 * ROOM];
    Config c;
    if (sim < 4 && normalizer < 6 && extra != 5)
      continue; /* test_sink.c has it */
    snprintf(flags, ROOM, "%s --kernel %s --sim %s --normalizer %s --extra %s",
             rest[n % n_rest], KERNELS[i % 3], SIMILARITIES[sim],
             NORMALIZERS[normalizer], EXTRAS[extra]);
    snprintf(all, sizeof all, "%s%s", BASE, flags);
    if (!config_from_flags(&c, all, fresh(t)))
      list[n++] = flags;
  }
  return list;
}

/* Operations of later papers, each under one of the masks. */
static void attention__against_slow_rows(Test *t) {
  static const char *const MASKS[] = {
      "--layers 1", "--layers 1 --window 5 --pos none",
      "--layers 1 --prefix 40 --pos t5",
      ("--layers 1 --window 33 --prefix 3 --heads 4 --kv-heads 2 "
       "--rotary-dims 2"),
      "--layers 1 --sink-token --window 20 --pos alibi",
      ("--layers 1 --sink-token 4 --prefix 35 --kv-heads 1 --scale 0.7 "
       "--vbias --extra-shared"),
      "--layers 1 --window 32 --combine add"};
  int n = 0;
  LABS_OF (b, 1, 70, later_operations(t, MASKS, 7)) {
    for (int plain = 0; plain < 2; plain++) {
      b.m.plain = plain;
      compare_with_slow(t, &b, 1000 * REAL_EPS);
    }
    n++;
  }
  fact(t, n > 150, "%d operations", n);
  note(t, "%d operations", n);
}

/* Scales and biases that leave the scores of 40 keys as they are, and a logit
 * of 0.4. */
static void scores_kept(Lab *a, Lab *b) {
  const double log_n = log(a->T);
  for (int l = 0; l < 2; l++) {
    char name[20];
    snprintf(name, sizeof name, "l%d.cscale", l);
    lab_fill(b, name, 1 / log_n);
    snprintf(name, sizeof name, "l%d.sbias", l);
    lab_fill(b, name, 0);
    snprintf(name, sizeof name, "l%d.logit", l);
    lab_fill(b, name, 0.4);
  }
}

static void scores_of_30(Lab *a, Lab *b) {
  lab_fill(a, "l0.sbias", 30);
  lab_fill(a, "l1.sbias", 30);
  lab_fill(b, "l0.sbias", 30);
  lab_fill(b, "l1.sbias", 30);
}

/* Biases beyond those of q, k and v become 0. */
static void no_other_biases(Lab *a, Lab *b) {
  static const char *const NAMES[] = {"l0.bo", "l0.b1", "l0.b2", "l0.b3",
                                      "l1.bo", "l1.b1", "l1.b2", "l1.b3"};
  (void)a;
  EACH (i, NAMES)
    lab_fill(b, NAMES[i], 0);
}

/* Neutral elements, equivalences, and rows that differ. */
static void attention__equivalences_rows(Test *t) {
  const double tight = 2000 * REAL_EPS;
  const struct {
    const char *one, *other;
    double bound;
    void (*set)(Lab *, Lab *);
  } SAME_AS[] = {
      {"", "--window-period 2", 0, NULL},
      {"--window 5", "--window 5 --window-period 1", 0, NULL},
      {"--pos none", "--rope-scaling linear --rope-factor 1e6", 1e-4, NULL},
      {"", "--soft-cap 1e30", tight, NULL},
      {"", "--score-bias logn", tight, NULL},
      {"--prefix 40", "--prefix 40 --score-scale logn", tight, scores_kept},
      {"--sim sigmoid", "--sim sigmoid --score-bias learned", 0, scores_kept},
      {"--extra zero", "--extra logit --extra-logit 0", 0, NULL},
      {"--extra logit --extra-logit 0.4", "--extra logit", 0, scores_kept},
      {"--extra zero --window 1", "--extra logn --window 1", 0, NULL},
      {"", "--clip-low 0 --clip-high 1", 0, NULL},
      {"", "--sparse-top 40", 0, NULL},
      {"", "--sparse-top 1000000", 0, NULL},
      {"", "--sparse-top 5 --sparse-block 8", 0, NULL},
      {"--window 1", "--sparse-top 1 --sparse-block 1", 0, NULL},
      {"--sim relu --normalizer one --scale 0.025 --prefix 40",
       "--sim relu --normalizer count --prefix 40", tight, NULL},
      {"--soft-cap 1 --score-bias learned",
       "--sim rectified --soft-cap 1 --score-bias learned", 0, scores_of_30},
      {"--soft-cap 1 --score-bias learned",
       "--sim softpick --soft-cap 1 --score-bias learned", 1e-6, scores_of_30},
      {"--extra zero --score-bias logn", "--extra logn", tight, NULL},
      {"--layers 1", "--layers 1 --score-by-layer", 0, NULL},
      {"--linear-bias --bias-in qkv", "--linear-bias", 0, no_other_biases},
      {"", "--attention-period 1", 0, NULL},
      {"", "--expert-period 2 --mamba-inner 5", 0, NULL}};
  static const char *const APART_FROM[][2] = {
      {"", "--score-by-layer"},
      {"", "--soft-cap 1"},
      {"", "--score-scale logn"},
      {"--sim sigmoid", "--sim sigmoid --score-bias logn"},
      {"--extra zero", "--extra logn"},
      {"--extra zero", "--extra logit --extra-logit 1"},
      {"", "--sim softpick"},
      {"", "--sim rectified"},
      {"", "--sim sparsemax"},
      {"--sim sparsemax", "--sim entmax"},
      {"", "--sparse-top 39"},
      {"--sparse-top 8", "--sparse-top 8 --sparse-block 1"},
      {"--sparse-top 3 --sparse-block 4",
       "--sparse-top 3 --sparse-block 4 --sparse-first"},
      {"", "--clip-low -0.1"},
      {"", "--clip-high 1.5"},
      {"--sim relu --normalizer one", "--sim relu --normalizer count"}};
  EACH (i, SAME_AS)
    same_model(t, SAME_AS[i].one, SAME_AS[i].other, SAME_AS[i].bound,
               SAME_AS[i].set);
  EACH (i, APART_FROM)
    other_model(t, APART_FROM[i][0], APART_FROM[i][1]);
}

/* A lab with an ablation beside the slow model without that column of each
 * sequence; a value that is taken has no weight left in the map. */
static void compare_cut(Test *t, Lab *b, double bound, const Ablation *cut) {
  int H = b->m.c.heads, extra = b->m.c.extra != EXTRA_NONE;
  if (!b->probe)
    lab_maps(b);
  lab_forward(b);
  for (int q = 0; q < b->B; q++) {
    Slow s = slow_open(&b->m, b->oracle, b->T);
    s.cut[0] = cut->what;
    s.cut[1] = cut->column[q];
    slow_forward(&s, b->ids + q * b->T);
    for (int k = 0; k < b->m.c.layers * H * s.N && cut->what != ABLATE_KEY1;
         k++)
      if (k % s.N != s.cut[1])
        s.weight[(idx)k * s.S + s.cut[1] + extra] = 0;
    compare_sequence(t, b, &s, q, bound, b->flags);
    slow_close(&s);
  }
}

/* One ablation of two sequences' columns is as the slow model has it. Rows up
 * to the column's own stay. Something after them changes, but not by v* = 0,
 * which only a mean is missed from, and not by the last column. */
static void ablation_is_right(Test *t, Lab *b, Lab *plain,
                              const Ablation *cut) {
  const Config *c = &b->m.c;
  idx N = b->a.N, C = c->dim;
  rows_watch(&b->m);
  b->a.ablation = cut;
  compare_cut(t, b, 1000 * REAL_EPS, cut);
  lab_forward(plain);
  for (int seq = 0; seq < 2; seq++) {
    int j = cut->column[seq];
    const real *with = b->a.nf + seq * N * C;
    const real *without = plain->a.nf + seq * N * C;
    fact(t, c->prefix || j < 0 || same_numbers((j + 1) * C, with, without),
         "%s: row %d or before has changed", b->flags, j);
    bool inert = cut->what == ABLATE_VALUE1 && j == -1 &&
                 !lab_at(b, "l0.vstar") && c->extra_value == VALUE_ZERO;
    double by = distance(N * C, with, without);
    /* a key that is not chosen, or whose weight is cut, is not missed */
    bool spared = j == 69 || c->sparse_top || config_clips(c);
    fact(t, spared || (by > 1e-6) != inert,
         "%s: %d of %d changes %g", b->flags, cut->what, j, by);
  }
  b->a.ablation = NULL;
}

/* Three pairs of columns, each ablated in three ways. */
static void ablations_are_right(Test *t, const char *flags,
                                const Oracle *ablated) {
  LABS (b, 2, 70, flags)
    LABS (plain, 2, 70, flags) {
      int first = b.m.c.sink_token;
      bool has_star = b.m.c.extra != EXTRA_NONE || first;
      const int columns[][2] = {{first, 34},
                                {has_star ? first - 1 : 30, first},
                                {50, b.m.c.extra ? -1 : 69}};
      real *taken = reals_of(t, 2 * b.a.N * b.m.c.heads);
      b.oracle = ablated;
      for (int what = ABLATE_KEY1; what <= ABLATE_VALUE1_MEAN; what++) {
        real *means = what == ABLATE_VALUE1_MEAN ? taken : NULL;
        EACH (k, columns)
          ablation_is_right(t, &b, &plain,
                            &(Ablation){what, columns[k], b.a.N, means});
        within(t, outputs_apart(&b, &plain), 0, 0, "%s: after it", flags);
      }
    }
}

/* Ablations in every mask, scoring and extra column against the slow model. */
static void attention__ablations(Test *t) {
  static const char *const FLAGS[] = {
      "", "--window 5 --pos none --extra kv", "--prefix 40 --pos t5",
      "--window 33 --prefix 3 --heads 4 --kv-heads 2 --rotary-dims 2 --vbias",
      "--sink-token --window 20 --pos alibi --scale 0.7 --extra logit",
      "--sink-token 4 --prefix 35 --kv-heads 1 --sim sigmoid --normalizer one",
      "--extra k --extra-value ones --extra-norm 2",
      "--extra kv --extra-shared --combine add",
      "--kernel elu --sim identity --normalizer sum",
      "--sim sigmoid --normalizer pnorm --pnorm 2",
      "--kernel mlp --sim identity --normalizer clamp",
      "--extra zero --place post"};
  const Oracle ablated = ablated_oracle();
  EACH (f, FLAGS)
    ablations_are_right(t, FLAGS[f], &ablated);
}

/* The same beside rows that are not the paper's: what leaves a head reads the
 * mean in the value's place, and what is chosen is chosen among the rest. */
static void attention__ablations_rows(Test *t) {
  static const char *const FLAGS[] = {
      "--xsa --gate element", "--gate head --v-scale --head-norm --kv-heads 1",
      "--sparse-top 3 --extra kv --layers 1 --heads 1",
      "--sparse-top 3 --sparse-block 4 --sparse-first --layers 1 --heads 1",
      "--sim sparsemax --extra k", "--clip-low -0.1 --extra logit",
      "--score-scale logn --place sandwich --gate value"};
  Oracle ablated = ALL_ROWS;
  ablated.value = cut_value;
  EACH (f, FLAGS)
    ablations_are_right(t, FLAGS[f], &ablated);
}

/* Sparsemax and 1.5-entmax sum to 1 at scores of any size, in float too. */
static void row__sparse_sums(Test *t) {
  enum { MOST = 3000 };
  static const int SIZES[] = {1, 3, 100, MOST};
  static const real LARGE[] = {0, 50, 1000, 10000, -10000};
  static const char *const FLAGS[] = {"--sim sparsemax", "--sim entmax"};
  real *z = reals_of(t, MOST), *spare = reals_of(t, MOST);
  EACH (f, FLAGS) {
    const Config c = config_of(t, "%s", FLAGS[f]);
    EACH (k, SIZES)
      EACH (i, LARGE) {
        double sum = 0;
        for (int j = 0; j < SIZES[k]; j++)
          z[j] = LARGE[i];
        rows_kind(&c)->forward(&c, SIZES[k], z, spare);
        for (int j = 0; j < SIZES[k]; j++)
          sum += (double)z[j];
        within(t, sum, 1, SIZES[k] * REAL_EPS, "%s: %d scores of %g", FLAGS[f],
               SIZES[k], (double)LARGE[i]);
      }
  }
}

/* Ablations of a column without weight, or with a value of zero, must not show,
 * and beside each is one that must. Rows made from a cache have the bits of the
 * whole. */
static void attention__ablations_inert(Test *t) {
  const int star[] = {-1}, first[] = {0};
  const Ablation no_star = {ABLATE_KEY1, star, 40, NULL};
  const Ablation no_key = {ABLATE_KEY1, first, 40, NULL};
  const Ablation no_value = {ABLATE_VALUE1, first, 40, NULL};
  LABS (b, 1, 40, "--extra logit --layers 1")
    LABS (cut, 1, 40, "--extra logit --layers 1") {
      rows_watch(&cut.m);
      cut.a.ablation = &no_star;
      fact(t, outputs_apart(&b, &cut) > 1e-3,
           "nobody misses a logit of order 1");
      lab_fill(&b, "l0.logit", -60);
      lab_fill(&cut, "l0.logit", -60);
      within(t, outputs_apart(&b, &cut), 0, 16 * REAL_EPS,
             "a column of weight e^-60");
    }
  LABS (b, 1, 40, "--layers 1")
    LABS (cut, 1, 40, "--layers 1") {
      rows_watch(&cut.m);
      cut.a.ablation = &no_value;
      fact(t, outputs_apart(&b, &cut) > 1e-3, "nobody misses a value");
      b.ids[0] = cut.ids[0] = 10; /* fed nowhere else; key and value are 0 */
      zero(lab_at(&b, "wte") + 10 * 12, 12);
      zero(lab_at(&cut, "wte") + 10 * 12, 12);
      within(t, outputs_apart(&b, &cut), 0, 0, "v_1 = 0 set to 0");
      cut.a.ablation = &no_key;
      fact(t, outputs_apart(&b, &cut) > 1e-3, "nobody misses its key");
    }
  LABS (b, 1, 70, "--kv-heads 1")
    for (int what = ABLATE_KEY1; what <= ABLATE_VALUE1; what++) {
      const Ablation x = {what, first, 70, NULL};
      Acts cache;
      if (acts_create(&cache, &b.m, 1, 70, ACTS_KEYS, fresh(t)))
        exit(1);
      rows_watch(&b.m);
      b.a.ablation = cache.ablation = &x;
      lab_forward(&b);
      model_extend(&b.m, &cache, b.ids, 37, 0);
      int R = model_extend(&b.m, &cache, b.ids, 70, 37);
      fact(t, R == 33 && same_numbers(33 * 12, cache.nf, b.a.nf + 37 * 12),
           "%d, cached", what);
      acts_free(&cache);
    }
}

/* ----------
 * 3  Every pair of rows of two axes, and every row over 70 tokens */

/* [E1] to [E8] [FIG1] [T5] [T11] [T12] */
static void model_forward__against_slow_rows(Test *t) {
  LABS_OF_COVER (b, 2, 7)
    compare_with_slow(t, &b, 1000 * REAL_EPS);
  LABS_OF (b, 1, 70, (const char *const *)covering()->axis)
    compare_with_slow(t, &b, 1000 * REAL_EPS);
  note(t, "%d configurations", covering()->n);
}

/* The families of published models at tiny sizes, each with what sets it apart:
 * a tied head, few rotated dims, OPT-350m's projections, post-norm and no final
 * norm, grouped heads with a D of their own, biases of q, k, v, a window. */
static void published__families(Test *t) {
  static const char *const ROWS[] = {
      /* gpt2 */
      ("--layers 3 --heads 3 --dim 24 --ffn 40 --context 32 --pos learned "
       "--norm layer --act gelutanh --linear-bias --tied --score-by-layer"),
      /* gpt_neox */
      ("--layers 3 --heads 4 --dim 40 --ffn 160 --rotary-dims 2 --norm layer "
       "--act gelu --linear-bias --place parallel"),
      /* gpt_neox, sequential */
      ("--layers 3 --heads 4 --dim 64 --ffn 99 --rotary-dims 8 --norm layer "
       "--act gelu --linear-bias"),
      /* opt, and its 350m */
      ("--layers 2 --heads 3 --dim 24 --ffn 40 --context 32 --pos learned "
       "--norm layer --act relu --linear-bias --tied"),
      ("--layers 3 --heads 3 --dim 24 --ffn 40 --context 32 --pos learned "
       "--norm layer --act relu --linear-bias --tied --place post "
       "--embed-dim 12"),
      /* llama */
      ("--layers 3 --heads 4 --kv-heads 2 --dim 32 --ffn 56 --head-dim 12 "
       "--rope-scaling llama3 --rope-base 1e4 --rope-original 64 "
       "--linear-bias --bias-in attention"),
      /* qwen2 */
      ("--layers 2 --heads 4 --kv-heads 2 --dim 32 --ffn 56 --rope-base 1e6 "
       "--norm-eps 1e-6 --linear-bias --bias-in qkv --tied"),
      /* mistral */
      "--layers 3 --heads 4 --kv-heads 2 --dim 32 --ffn 56 --window 5", NULL};
  LABS_OF (b, 1, 1, ROWS)
    compare_with_slow(t, &b, 4000 * REAL_EPS);
  LABS_OF (b, 1, 24, ROWS)
    compare_with_slow(t, &b, 4000 * REAL_EPS);
}

/* The gradients of every pair of rows of two axes. */
static void gradients__every_pair(Test *t) {
  const Cover *v = covering();
  Tally y = {0};
  LABS_OF_COVER (b, 2, 7)
    check_gradients(t, &y, &b, SAMPLES);
  fact(t, v->pairs == v->refused + v->covered, "%d pairs, %d checked", v->pairs,
       v->covered);
  /* refused are softpick, rectified, sparsemax and entmax with six normalisers
   * and with a kernel, the last two with a clip; exp with count; six
   * normalisers with a clip */
  fact(t, v->refused == 37, "%d refused: each other pair can be completed",
       v->refused);
  note(t, "%d pairs = %d refused + %d checked, %d configurations; ", v->pairs,
       v->refused, v->covered, v->n);
  tell_tally(t, &y);
  if (REAL_EPS > 1e-10)
    return;
  fact(t, y.over > 20 && y.under > 20, "the clamp bound %d rows and left %d",
       y.over, y.under);
  note(t, "; clamp %d over 1, %d not", y.over, y.under);
}

/* The gradients of later papers' operations, each among other rows. */
static void gradients__every_operation_rows(Test *t) {
  static const char *const REST[] = {
      "--pos none --linear-bias", "",
      "--sink-token --vbias --heads 4 --kv-heads 2 --rotary-dims 2",
      "--pos t5 --prefix 3 --extra-shared",
      "--window 3 --linear-bias --extra-dims 2 --extra-order lowfreq",
      "--scale 0.7 --pos alibi --linear-bias",
      "--extra-dims 3 --extra-order last"};
  Tally y = {0};
  const char *const *flags = later_operations(t, REST, 7);
  for (int i = 0; flags[i]; i++)
    tiles_against_plain(t, 1, 6, flags[i]);
  LABS_OF (b, 1, 6, flags)
    check_gradients(t, &y, &b, 1);
  tell_tally(t, &y);
}

/* The gradients of models with sizes above CHUNK. */
static void gradients__wide_rows(Test *t) {
  Tally y = {0};
  LABS (b, 2, 9,
        "--layers 1 --dim 300 --ffn 270 --heads 3 --head-dim 70 --embed-dim 20 "
        "--norm layer --linear-bias",
        "--layers 1 --dim 20 --ffn 390 --embed-dim 333 --tied --act relu "
        "--linear-bias --vocab 70",
        "--layers 1 --dim 260 --ffn 20 --head-dim 4 --norm dyt --place post") {
    vec_scale(b.m.count, b.m.params, (real)0.25); /* z of order 1 */
    compare_with_slow(t, &b, 1000 * REAL_EPS);
    b.a.probe = NULL;
    check_gradients(t, &y, &b, 1);
  }
  tell_tally(t, &y);
}

/* A second backward doubles the gradients, and half a share halves them. */
static void gradients__accumulate_rows(Test *t) {
  LABS_OF_COVER (b, 2, 7) {
    idx n = b.m.count;
    real *once = reals(n), *half = reals(n), *g = b.m.grads;
    lab_gradients(&b);
    copy(once, g, n);
    lab_backward(&b, 1);
    for (idx i = 0; i < n; i++)
      half[i] = g[i] / 2;
    for (int k = 0; k < b.m.n_tensors; k++) {
      const Tensor *x = b.m.all[k];
      idx at = x->d - g;
      double most;
      if (!b.oracle->zero(&b, x, &most) &&
          biggest(tensor_count(x), once + at) > 1e-9 * biggest(n, once))
        within(t, distance(tensor_count(x), once + at, half + at), 0,
               256 * REAL_EPS, "%s twice, %s", x->name, b.flags);
    }
    model_zero_grads(&b.m);
    lab_backward(&b, 0.5);
    for (idx i = 0; i < n; i++)
      half[i] = g[i] * 2;
    fact(t,
         same_numbers(n, once, half) || distance(n, once, half) < 64 * REAL_EPS,
         "half a share is off by %g, %s", distance(n, once, half), b.flags);
    free(once);
    free(half);
  }
}

/* A NaN in any parameter is seen: the rows of VARIANTS that are not
 * the paper's. */
static void model_backward__nan_is_seen_rows(Test *t) {
  for (const Variant *v = VARIANTS; v->name; v++) {
    if (strncmp(v->source, "beyond", 6))
      continue;
    LABS (b, 1, 7, v->flags)
      for (int k = 0; k < b.m.n_tensors; k++) {
        const Tensor *x = b.m.all[k], *bad;
        idx i = 0;
        while (i < tensor_count(x) && unreached(&b, x, i))
          i++;
        real *at = x->w + i, was = *at;
        *at = (real)NAN;
        double loss = lab_gradients(&b);
        gradient_norm(&b.m, &bad);
        /* what makes scores makes a NaN of the loss */
        bool scores = strstr(x->name, ".wq") || strstr(x->name, ".wk") ||
                      strstr(x->name, ".norm1");
        fact(t, isnan(loss) || (bad && !scores),
             "%s: NaN in %s gives the loss %g", v->name, x->name, loss);
        *at = was;
      }
  }
}

/* Attention in tiles gives what the plain loops give. */
static void tiles__as_plain_rows(Test *t) {
  const Cover *v = covering();
  for (int i = 0; i < v->n; i++)
    tiles_against_plain(t, 2, 7, v->flags[i]);
  tiles_against_plain(t, 1, 70, "--window 5 --pos t5 --xsa");
  tiles_against_plain(t, 1, 530, "--window 5 --pos t5 --xsa");
  tiles_against_plain(t, 1, 9,
                      "--sparse-top 2 --sparse-block 2 --sparse-first "
                      "--sink-token 4");
}

/* States depend on no neighbour in the batch; the loss is the mean
 * of theirs. */
static void model_forward__batches_rows(Test *t) {
  LABS (b, 3, 9, "--embed-dim 5 --pos learned", "--embed-dim 5 --tied",
        "--gate head --qk-norm --soft-cap 3 --sink-token",
        "--rope-local 50 --window 3 --window-period 2 --rope-scaling linear "
        "--rope-factor 2") {
    int rows = config_rows(&b.m.c, 9) * 12;
    real *whole = reals_of(t, 3 * rows);
    double mean = lab_loss(&b), sum = 0;
    copy(whole, b.a.nf, 3 * rows);
    for (int s = 0; s < 3; s++) {
      model_forward(&b.m, &b.a, b.ids + s * 9, 1, 9);
      fact(t, same_numbers(rows, whole + s * rows, b.a.nf), "%d alone, %s", s,
           b.flags);
      sum += model_loss(&b.m, &b.a, b.targets + s * 9, 1, 9, 0) / 3;
    }
    within(t, sum, mean, 16 * REAL_EPS * mean, "mean of the losses, %s",
           b.flags);
  }
}

static void model_forward__causal_rows(Test *t) {
  LABS_OF_COVER (b, 1, 7)
    causal_holds(t, &b);
}

static void model_forward__one_layer_rows(Test *t) {
  LABS_OF_COVER (b, 2, 7)
    one_layer_holds(t, &b);
}

/* Every variant; windows and prefixes that end inside and outside of a tile
 * and of a prompt; sizes at which a multiply cuts its sums, a forward its
 * bands of rows. */
static void model_extend__as_whole(Test *t) {
  static const char *const BESIDES[] = {
      "--window 33 --sink-token --prefix 5 --extra kv --pos t5 --layers 3",
      "--window 40 --pos alibi --normalizer pnorm --pnorm 2",
      "--prefix 30 --pos learned",
      "--heads 4 --kv-heads 2 --head-dim 4 --norm layer --tied",
      ("--window 20 --prefix 28 --sim identity --normalizer clamp "
       "--sink-token 4 --pos absolute")};
  static const char *const LARGE[] = {
      "--context 320 --dim 96 --ffn 300 --vocab 1500",
      "--context 320 --dim 64 --ffn 520 --vocab 400 --window 270 --place post "
      "--sim sigmoid --kernel mlp --normalizer one --pos relative"};
  const char *const *flags = variants(t);
  int count = 0;
  for (int i = 0; flags[i]; i++)
    count += extend_one(t, flags[i], SHORT_PROMPTS, 75, 0);
  EACH (i, BESIDES)
    count += extend_one(t, BESIDES[i], SHORT_PROMPTS, 75, 0);
  EACH (i, LARGE)
    count += extend_one(t, LARGE[i], LONG_PROMPTS, 320, 0);
  note(t, "%d configurations", count);
}

/* As extend_one, of rows whose heads may see nothing, or one key. */
static bool extend_row(Test *t, const char *flags, const int *prompts, int T) {
  const Config c = config_of(t, "%s%s", BASE, flags);
  bool blind = c.sim >= SIM_SOFTPICK || c.gain;
  return extend_one(t, flags, prompts, T, blind ? EXTEND_BLIND : 0);
}

static void model_extend__as_whole_rows(Test *t) {
  const Cover *v = covering();
  int count = 0;
  for (int i = 0; v->axis[i]; i++)
    count += extend_row(t, v->axis[i], SHORT_PROMPTS, 75);
  for (int i = 0; v->flags[i]; i++)
    count += extend_row(t, v->flags[i], SHORT_PROMPTS, 75);
  count += extend_row(t,
                      "--context 320 --dim 64 --ffn 520 --vocab 400 "
                      "--window 270 --place post --sim sigmoid "
                      "--embed-dim 48 --kernel mlp --normalizer one "
                      "--pos relative",
                      LONG_PROMPTS, 320);
  note(t, "%d configurations", count);
}

/* Each operator that reduces over rows, heads or sequences, in each of
 * its forms. */
static void threads__same_bits_rows(Test *t) {
  const Cover *v = covering();
  int most = workers();
  if (set_workers(16)) {
    t->skip = "one thread in this build";
    return;
  }
  same_on_threads(t, "--kernel mlp --combine add --norm layer --embed-dim 5",
                  3);
  same_on_threads(t,
                  "--dim 64 --ffn 520 --vocab 400 --tied --sim elu "
                  "--extra logit --normalizer pnorm --place parallel",
                  3);
  for (int f = 0; f < v->n; f++)
    same_on_threads(t, v->flags[f], 1);
  note(t, "%d configurations", 2 + v->n);
  set_workers(most);
}

/* Block by block in the memory of one, every number has the bits of
 * all blocks. */
static void sinks__one_layer_rows(Test *t) {
  LABS_OF_COVER (b, 3, 12) {
    int rows = (b.n - 1) % 2;
    const Sinks *all = lab_measure(t, &b, 0.3, 0.2, 0.1, rows);
    acts_free(&b.a);
    if (acts_create(&b.a, &b.m, 3, 12, ACTS_ONE, fresh(t)))
      exit(1);
    const Sinks *one = lab_measure(t, &b, 0.3, 0.2, 0.1, rows);
    /* bits, for the NaN of a head that sees nothing */
    for (idx k = 0; k < all->n_sums; k++)
      fact(t, !memcmp(&one->sums[k], &all->sums[k], sizeof(double)),
           "number %lld: %g and %g, %s", k, one->sums[k], all->sums[k],
           b.flags);
    fact(t,
         one->massive == all->massive && one->median == all->median &&
             one->loss == all->loss,
         "largest, median or loss, %s", b.flags);
  }
}

/* An array of a pass, by the shapes of struct Acts and LayerActs, with its
 * length. One that a variant lacks is NULL; one that shares another's memory
 * stands here once. */
typedef struct ActsArray {
  const char *name;
  real *at;
  idx n;
} ActsArray;

/* An array, unless it is another's memory. */
static real *unless(real *at, const real *other) {
  return at == other ? NULL : at;
}

/* The arrays of a lab's pass; returns how many. */
static int acts_arrays(const Lab *b, ActsArray *out) {
  const Config *c = &b->m.c;
  const Acts *a = &b->a;
  idx rows = a->B * a->N, C = c->dim, D = c->head_dim, H = c->heads, F = c->ffn;
  idx X = rows * C, Q = rows * H * D, K = rows * c->kv_heads * D;
  idx half = a->N * c->rotary_dims / 2, biases = H * (2 * a->N - 1);
  idx gates = rows * config_gates(c);
  int n = 0;
  const ActsArray whole[] = {
      {"h0", a->h0, X},
      {"fnorm", a->fnorm, X},
      {"nfstat", a->nfstat, 2 * rows},
      {"embed", a->embed, a->B * a->T * c->embed_dim},
      {"cosine", a->cosine, half}, {"sine", a->sine, half},
      {"local_cosine", a->local_cosine, half},
      {"local_sine", a->local_sine, half},
      {"sinusoid", a->sinusoid, a->N * C},
      {"bias", a->bias, biases}, {"dbias", a->dbias, a->B * biases},
      {"dh", a->dh, X}, {"dx", a->dx, X}, {"dn", a->dn, X},
      {"dq", a->dq, Q}, {"dk", a->dk, K}, {"dv", a->dv, K},
      {"dout", a->dout, Q},
      {"dgate", a->dgate, gates},
      {"dqk", a->dqk, Q}, {"dphi", a->dphi, Q},
      {"df1", a->df1, rows * F}, {"df2", a->df2, rows * F},
      {"dosum", unless(a->dosum, a->dout), rows * D},
      {"slot", a->slot, a->B * H * slot_size(c)},
      {"late_slot", a->late_slot, a->B * H * late_size(c)},
      {"chosen", a->chosen, a->threads * a->N}};
  EACH (i, whole)
    out[n++] = whole[i];
  for (int l = 0; l < c->layers; l++) {
    const LayerActs *y = &a->layer[l];
    const ActsArray block[] = {
        {"n1", y->n1, X},
        {"n1stat", y->n1stat, 2 * rows},
        {"q", y->q, Q}, {"k", y->k, K}, {"v", y->v, K},
        {"fq", unless(y->fq, y->q), Q},
        {"fk", unless(y->fk, y->k), K},
        {"hq", y->hq, Q}, {"hk", y->hk, K},
        {"o", y->o, Q},
        {"av", y->av, Q},
        {"gate", y->gate, gates},
        {"v0", y->v0, K}, {"q0", y->q0, Q}, {"k0", y->k0, K},
        {"qstat", y->qstat, 2 * rows * H},
        {"kstat", y->kstat, 2 * rows * c->kv_heads},
        {"osum", c->combine ? y->osum : NULL, rows * D},
        {"row_stat", y->row_stat, rows * H},
        {"s1", y->s1, X}, {"n2", y->n2, X},
        {"n2stat", y->n2stat, 2 * rows},
        {"f1", y->f1, rows * F}, {"f2", y->f2, rows * F},
        {"fa", y->fa, rows * F},
        {"s2", y->s2, X},
        {"out1", y->out1, X},
        {"out2", y->out2, X},
        {"n3stat", y->n3stat, 2 * rows}, {"n4stat", y->n4stat, 2 * rows}};
    EACH (i, block)
      out[n++] = block[i];
  }
  return n;
}

/* No operator writes beyond its array. Sizes are rounded up to 16 numbers, so
 * most arrays of these odd models end in room that nobody owns: a mark there
 * outlives a whole step. */
static void acts__stay_within(Test *t) {
  const real mark = (real)12345.5;
  idx marks = 0;
  LABS_OF_COVER (b, 1, 9) {
    ActsArray at[120];
    int n = acts_arrays(&b, at);
    for (int pass = 0; pass < 2; pass++) {
      real want = pass ? mark : 0;
      for (int k = 0; k < n; k++)
        for (idx j = at[k].n; at[k].at && j % 16; j++) {
          fact(t, at[k].at[j] == want, "%s: pass %d, %s[%lld] of %lld is %g",
               b.flags, pass, at[k].name, j, at[k].n, (double)at[k].at[j]);
          at[k].at[j] = mark;
          marks += pass;
        }
      if (!pass)
        lab_backward(&b, 1);
    }
  }
  note(t, "%d configurations, %lld marks", covering()->n, marks);
}

/* ----------
 * 4  Golden numbers */

/* Every configuration of golden.txt. */
static void golden__against_twin_rows(Test *t) {
  golden_holds(t, GOLDEN "golden.txt", 87);
}

/* A file that is not there, is cut short, or has one other byte is refused in
 * one line. */
static void golden_read__damage(Test *t) {
  static const char DAMAGED[] = "out/test-golden.txt";
  Bytes *text = bytes_of(t), *again = bytes_of(t);
  int configs;
  Rng r = {3};
  fact(t,
       golden_read(GOLDEN "none.txt", again, &configs, fresh(t)) == 1 &&
           strstr(t->e.text, GOLDEN "none.txt"),
       "no file: %s", t->e.text);
  fact(t, !golden_read(GOLDEN "golden.txt", text, &configs, fresh(t)), "%s",
       t->e.text);
  for (int n = 0; n < 40 && text->size > 100; n++) {
    bool cut = n % 2;
    size_t size = text->size - 1, at = n < 2 ? size - 1 : rng_below(&r, size);
    unsigned char was = text->at[at];
    text->at[at] = was == '7' ? '8' : '7';
    fact(t, !file_write(DAMAGED, text->at, cut ? at : size, fresh(t)), "%s",
         t->e.text);
    text->at[at] = was;
    int status = golden_read(DAMAGED, again, &configs, fresh(t));
    fact(t,
         status == 1 && strstr(t->e.text, "expected") &&
             strstr(t->e.text, "Try: "),
         "%s byte %zu: status %d, %s", cut ? "cut at" : "another", at, status,
         t->e.text);
  }
  remove(DAMAGED);
}

/* What data/check/README.md says of the pairs whose gradients are compared. */
static void readme__pairs(Test *t) {
  const Cover *v = covering();
  Bytes *text = bytes_of(t);
  char said[80];
  snprintf(said, sizeof said, "%d,%03d pairs in %d configurations",
           v->covered / 1000, v->covered % 1000, v->n);
  fact(t,
       !file_read("data/check/README.md", text, fresh(t)) &&
           !bytes_add(text, "", 1, &t->e) && strstr((char *)text->at, said),
       "data/check/README.md does not say: %s", said);
}

static const TestEntry TESTS[] = {
    RUNS(embed_forward__edited), RUNS(frame__axes),
    RUNS(config_resolve__fills_rows), RUNS(config_resolve__refuses_rows),
    RUNS(config__by_layer), RUNS(settings_refuse_idle__published),
    RUNS(model_grads__refuses), RUNS(model_create__table_rows),
    RUNS(model_create__published_counts), RUNS(model_init__laws_rows),
    RUNS(row__every_operation_rows), RUNS(attention__against_slow_rows),
    RUNS(attention__equivalences_rows), RUNS(attention__ablations),
    RUNS(attention__ablations_rows), RUNS(row__sparse_sums),
    RUNS(attention__ablations_inert), RUNS(model_forward__against_slow_rows),
    RUNS(published__families), RUNS(gradients__every_pair),
    RUNS(gradients__every_operation_rows), RUNS(gradients__wide_rows),
    RUNS(gradients__accumulate_rows), RUNS(model_backward__nan_is_seen_rows),
    RUNS(tiles__as_plain_rows), RUNS(model_forward__causal_rows),
    RUNS(model_forward__batches_rows), RUNS(model_forward__one_layer_rows),
    RUNS(model_extend__as_whole), RUNS(model_extend__as_whole_rows),
    RUNS(threads__same_bits_rows), RUNS(sinks__one_layer_rows),
    RUNS(acts__stay_within), RUNS(golden__against_twin_rows),
    RUNS(golden_read__damage), RUNS(readme__pairs)};

int main(int argc, char **argv) {
  return tests_run(TESTS, sizeof TESTS / sizeof *TESTS, argc, argv,
                   (Test){.oracle = &ALL_ROWS});
}
