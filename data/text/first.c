/* first.c - the tokens that --first-tokens draws: their weights, Data.first (sink.c, 9.3).
 *
 * SPDX-License-Identifier: MIT
 *
 * ./paper and ./hf include this. An ordinary id stands at --fix-token, or at place 1:
 *     N       evenly one of N: of all n those numbered floor((i + 1/2) n / N)
 *     text    as often as the training text, of an endless grammar its held documents, has it
 *     other   evenly one that a model's training did not draw
 *     natural none is drawn
 * The tests are in data/check/test_text.c.
 */

/* d->first and d->draws of --first-tokens (9.3): of N ids, of a text's by their counts, which a
 * model keeps of its own, or of all but these. Room for a model's --vocab too. */
static int first_counts(Data *d, const Source *s, int T, Error *e) {
  const char *what = s->first_tokens, *drew = strcmp(what, "other") ? what : s->first_own;
  bool other = drew != what, text = !strcmp(drew, "text");
  const double *kept = text && !T && !strcmp(s->first_own, "text")
                       && (!s->vocab || d->vocab <= s->vocab) ? s->first_counts : NULL;
  const Ids *from = d->train.size ? &d->train : &d->held;
  idx N = strtol(drew, NULL, 10);
  idx all = d->vocab - (d->end >= 0) - (d->bos >= 0) - (d->fix >= 0);
  if (other ? T : !text && (what[strspn(what, "0123456789")] || N < 1 || N > all))
    return fail(e, 2, "--first-tokens %s: expected 1 to %lld, text, or of a model other or "
                "natural. Try: --first-tokens 16", what, all);
  if (!(d->first = grab((idx)d->vocab + s->vocab, sizeof *kept, e))) return e->status;
  if (kept) memcpy(d->first, kept, (size_t)d->vocab * sizeof *kept);
  for (size_t i = 0; text && !kept && i < from->size; i++) d->first[from->at[i]]++;
  idx i = 0, rank = 0;   /* of the next of the N; of v among the ordinary ids */
  for (int v = 0; v < d->vocab; v++) {
    bool ordinary = v != d->end && v != d->bos && v != d->fix;
    bool chosen = ordinary && i < N && rank == (2 * i + 1) * all / (2 * N);
    if (chosen) d->first[v] = 1;
    if (other) d->first[v] = !(d->first[v] > 0);
    if (!ordinary) d->first[v] = 0;
    i += chosen; rank += ordinary;
    d->draws += d->first[v];
  }
  return d->draws > 0 ? 0 : fail(e, 2, "--first-tokens %s: there are none. Try: natural", what);
}

/* The same in words, d->drawn. exp(entropy): so many ids, drawn evenly, would be as uncertain. */
static int first_open(Data *d, const Source *s, int T, Error *e) {
  enum { NAMED = 16 };
  const Tokenizer *t = &d->tokenizer; double times = 0; int n = 0; Bytes names = {0};
  if (!*s->first_tokens) return 0;
  d->first_kept = !strcmp(s->first_tokens, "text");
  snprintf(d->drawn, sizeof d->drawn, "first tokens %s", s->first_tokens);
  if ((!T && !fixed_at(s)) || first_counts(d, s, T, e)) return e->status;
  for (int32_t v = 0; v < d->vocab; v++) {
    if (!(d->first[v] > 0)) continue;
    times += d->first[v] * log(d->first[v]);
    if (++n > NAMED) continue;
    bytes_print(&names, e, t->vocab ? "|" : " %d", v);
    if (t->vocab) tokenizer_decode(t, &v, 1, &names, e);
  }
  for (size_t i = 0; i < names.size; i++) if (!isprint(names.at[i])) names.at[i] = '?';
  snprintf(d->drawn, sizeof d->drawn, "first tokens %s: token %d one of %d, exp(entropy) %.1f:"
           "%.*s%s", s->first_tokens, fixed_at(s), n, d->draws / exp(times / d->draws),
           (int)names.size, names.at ? (char *)names.at : "", n > NAMED ? " .." : "");
  bytes_free(&names);
  return e->status;
}
