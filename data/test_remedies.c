/* test_remedies.c - the tests of what came after the paper: the rows of sink.c that it does not
 * have, each from its definition, by identities and by numbers worked by hand. Their gradients and
 * forms are held with all others in test_sink.c, by the axes of its section 0.4.
 *
 *     cc -O2 -DSINK_DOUBLE data/test_remedies.c -o test_remedies -lm && ./test_remedies
 *
 * SPDX-License-Identifier: MIT
 */
#define SINK_NO_MAIN
#include "options.h"
#include "../sink.c"
#define TEST_FRAME
#define PROGRAM FROM_HERE "sink"
#include "../test_sink.c"

/* ---- 1  Scores and their row: 3.6, 3.7 ---- */

/* A column of score b without a value is a gate on softmax: the keys have its weights times
 * g = 1 / (1 + e^(b - logsumexp)). */
static void null_logit__gate(Test *t) {
  enum { N = 7 };
  const double SLOTS[] = {-3, 0, 1.5, 20};
  EACH(k, SLOTS) {
    Config c = config_of(t, "--extra logit");
    real with[1 + N], plain[1 + N], spare[1 + N];
    double sum = 0;
    with[0] = (real)SLOTS[k];
    plain[0] = -INFINITY;
    for (int j = 1; j <= N; j++) {
      with[j] = plain[j] = (real)sin(5.0 * j);
      sum += exp((double)with[j]);
    }
    row_forward(&c, 1 + N, with, spare);
    row_forward(&c, 1 + N, plain, spare);
    for (int j = 1; j <= N; j++)
      within(t, (double)with[j], (double)plain[j] / (1 + exp(SLOTS[k] - log(sum))), 8 * REAL_EPS,
             "b = %g, key %d", SLOTS[k], j);
  }
}

/* ---- 2  The way out of a head: 3.8 ---- */

/* ---- 3  Blocks, norms, x*, the optimiser: 3.1, 3.2, 4, 5 ---- */

static const TestEntry TESTS[] = {
  RUNS(null_logit__gate)};

int main(int argc, char **argv) {
  return tests_run(TESTS, sizeof TESTS / sizeof TESTS[0], argc, argv);
}
