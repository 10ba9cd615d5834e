/* ablated.c - the slow model without the key or the value of one column, as
 * `eval --ablate` takes it away, for tests that include it behind test_sink.c.
 *
 * SPDX-License-Identifier: MIT
 *
 * s->cut[0] is ABLATE_KEY1, _VALUE1 or _VALUE1_MEAN; s->cut[1] the column, from
 * 0, or -1 for *. Every row but its own does without. */

/* Is this column taken from row i? */
static bool is_cut(const Slow *s, int i, int column) {
  int extra = s->m->c.extra != EXTRA_NONE;
  return s->cut[0] && s->cut[1] != i && column == s->cut[1] + extra;
}

static bool key_is_cut(const Slow *s, int i, int column) {
  return s->cut[0] == ABLATE_KEY1 && is_cut(s, i, column);
}

static double cut_score(const Slow *s, int l, int h, int i, int column) {
  if (key_is_cut(s, i, column))
    return -INFINITY;
  return slow_score(s, l, h, i, column);
}

static double cut_value(const Slow *s, int l, int h, int i, int column, int d) {
  int extra = s->m->c.extra != EXTRA_NONE;
  double mean = 0;
  if (s->cut[0] == ABLATE_KEY1 || !is_cut(s, i, column))
    return slow_value(s, l, h, i, column, d);
  for (int j = 0; j < s->N && s->cut[0] == ABLATE_VALUE1_MEAN; j++)
    mean += slow_value(s, l, h, i, j + extra, d) / s->N;
  return mean;
}

static Oracle ablated_oracle(void) {
  Oracle o = PAPER;
  o.score = cut_score;
  o.value = cut_value;
  return o;
}
