/* embed.c - training and measuring from C: a program that includes sink.c has
 * all its functions.
 *
 *     cc -O3 data/check/embed.c -o embed -lm && ./embed
 *
 * SPDX-License-Identifier: MIT */
#define SINK_NO_MAIN
#include "../../sink.c"

/* A text in memory, whose bytes are the tokens: letters at random, but the one
 * behind a `=` repeats the one before it. A head that finds no `=` has nothing
 * to do, and rests on token 1. */
static int letters_open(Data *d, const Source *s, int T, Error *e) {
  enum { LETTERS = 60000 };
  int32_t before = 'a', id = 'a';
  Rng rng = {1};
  (void)s;
  (void)T;
  for (int i = 0; i < LETTERS; i++) {
    int32_t next = rng_below(&rng, 10) ? 'a' + (int32_t)rng_below(&rng, 20)
                                       : '=';
    if (id == '=' && before != '=')
      next = before;
    before = id;
    id = next;
    ids_add(i < LETTERS / 10 ? &d->held : &d->train, &id, 1, e);
  }
  d->vocab = 256;
  /* no such token; of --fix-token: byte 0, which no text has */
  d->end = d->bos = -1;
  /* where the held documents start */
  return ids_add(&d->starts, &(int32_t){0}, 1, e);
}

int main(void) {
  const Program letters = {.open = letters_open};
  Settings s;
  Trainer t = {0};
  Progress p = {0};
  Error e = {0};
  settings_default(&s);
  settings_flags(
      &s,
      "--layers 2 --heads 2 --dim 32 --ffn 64 --context 32 --batch 8 --steps "
      "600 --lr 4e-3 --warmup 20 --init gpt2 --fix-token 1 --seed 2",
      MODEL | TRAIN | DATA, &e);
  s.data.program = &letters;
  if (!e.status)
    trainer_create(&t, &s, &e);
  while (!e.status && t.step < s.train.steps)
    trainer_step(&t, &e);
  if (!e.status && !look_at_sink(&t, &p, &e))
    printf("loss=%.3f alpha_1=%.3f sink_1=%.3f\n", t.loss, p.now[ALPHA_1],
           p.now[SINK_1]);
  if (e.status)
    fprintf(stderr, "embed: %s\n", e.text);
  trainer_free(&t);
  return e.status;
}
