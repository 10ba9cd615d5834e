/* choices.c - multiple choice. Chapter 17 of hf.c.
 *
 * SPDX-License-Identifier: MIT
 */

/* -----------------------------------------------------------------------------
 * 17  Multiple choice                                     appendix B.3, [FIG10]
 *
 * A question is a context and a few endings, one of them right. The model's
 * answer is the ending with the largest log p, summed over its tokens (acc), or
 * per character (acc_norm): the rule of the LM evaluation harness for
 * HellaSwag. Context and ending, joined by a blank, are encoded as one text;
 * the tokens beyond as many as the context alone has are the ending's, and so
 * is white space at the context's end. Of a text longer than the model's
 * context the last tokens are taken. The harness puts no bos first (--no-bos),
 * but for Gemma, where it puts one (--bos).
 *
 * --choices FILE has a question a line, fields between tabs: the number of the
 * right ending, from 0; the context; the endings. \t, \n and \\ stand for a
 * tab, a new line and a backslash. Blank lines say nothing, nor does a byte
 * order mark at the start; so in HellaSwag's file.
 *
 * hf choices makes it of HellaSwag's own file, a question a line of JSON:
 * activity_label, ctx_a, ctx_b, endings, label. The harness reads it as the
 * context "LABEL: CTX_A CTX_B", CTX_B with its first letter large and the
 * others small (here those of ASCII), and in every text, less the white space
 * at its ends, " [title]" becomes ". ", then what stands in [] is dropped, and
 * two blanks become one. */
enum { ENDINGS_MOST = 9 };

/* Strings that begin at text + field[..], the context first. `gold`, from 0, is
 * the right ending. */
typedef struct Question {
  int gold, endings;
  size_t field[1 + ENDINGS_MOST];
} Question;
typedef struct Choices {
  unsigned char *text;
  int n;
  Question *question;
} Choices;

static void choices_free(Choices *c) {
  free(c->text);
  free(c->question);
  *c = (Choices){0};
}

/* What Python's str.strip takes away. */
static bool is_white(uint32_t code) {
  static const Range WHITES[] = {
    {0x09, 0x0D, 1},     {0x1C, 0x20, 1},     {0x85, 0x85, 1},
    {0xA0, 0xA0, 1},     {0x1680, 0x1680, 1}, {0x2000, 0x200A, 1},
    {0x2028, 0x2029, 1}, {0x202F, 0x202F, 1}, {0x205F, 0x205F, 1},
    {0x3000, 0x3000, 1}};
  return range_value(WHITES, (int)(sizeof WHITES / sizeof *WHITES), code, 0);
}

/* Where n bytes of text end without the white space at their end; *from: where
 * they begin. */
static size_t text_end(const unsigned char *text, size_t n, size_t *from) {
  size_t end = 0, length;
  uint32_t code;
  *from = n;
  for (size_t at = 0; at < n; at += length) {
    length = char_at(text + at, n - at, &code);
    if (is_white(code))
      continue;
    if (!end)
      *from = at;
    end = at + length;
  }
  return end;
}

/* The next line of n > 0 bytes: *size of it without its end, and as its value
 * all of them. */
static size_t line_next(const unsigned char *p, size_t n, size_t *size) {
  const unsigned char *end = memchr(p, '\n', n);
  const size_t whole = end ? (size_t)(end - p) + 1 : n;
  *size = whole - (end != NULL);
  if (*size && p[*size - 1] == '\r')
    --*size;
  return whole;
}

/* The length of the byte order mark at p: 3, or 0 where there is none. */
static size_t mark_length(const unsigned char *p, size_t n) {
  return n >= 3 && !memcmp(p, "\xEF\xBB\xBF", 3) ? 3 : 0;
}

/* The escapes of a field: what they stand for, and their letters behind \. */
static const char FIELD_PLAIN[] = "\t\n\\", FIELD_LETTERS[] = "tn\\";

/* What stands in `to` where c is in `from`; 0 where c is not in it. */
static char translated(char c, const char *from, const char *to) {
  const char *at = c ? strchr(from, c) : NULL;
  return at ? to[at - from] : 0;
}

/* Turns the field of n bytes at `from`, escapes undone, into a string at `to`;
 * its length. */
static size_t field_plain(unsigned char *to, const unsigned char *from,
                          size_t n) {
  size_t length = 0;
  for (size_t i = 0; i < n; i++) {
    char plain = 0;
    if (from[i] == '\\' && i + 1 < n)
      plain = translated((char)from[i + 1], FIELD_LETTERS, FIELD_PLAIN);
    to[length++] = plain ? (unsigned char)plain : from[i];
    i += plain != 0;
  }
  to[length] = 0;
  return length;
}

/* The fields of a line of `size` bytes as q, their strings at text + *at, which
 * moves behind them. False for a line that is no question. */
static bool question_read(Question *q, const unsigned char *p, size_t size,
                          unsigned char *text, size_t *at) {
  *q = (Question){.gold = -1, .endings = -1};
  if (memchr(p, 0, size))   /* it would end its field */
    return false;
  for (size_t from = 0, end; from <= size; from = end + 1) {
    const unsigned char *tab = memchr(p + from, '\t', size - from);
    end = tab ? (size_t)(tab - p) : size;
    if (q->gold < 0) {
      if (end - from != 1 || !isdigit(p[from]))
        return false;
      q->gold = p[from] - '0';
    } else if (++q->endings > ENDINGS_MOST) {
      return false;
    } else {
      q->field[q->endings] = *at;
      *at += field_plain(text + *at, p + from, end - from) + 1;
    }
  }
  return q->endings >= 2 && q->gold < q->endings;
}

/* 1, and the number of the first line that is no question. On failure nothing is
 * held. */
static int choices_read(const unsigned char *p, size_t n, const char *name,
                        Choices *out, Error *e) {
  const size_t mark = mark_length(p, n);
  size_t at = 0, blank;
  int lines = 1;
  *out = (Choices){0};
  p += mark;
  n -= mark;
  for (size_t i = 0; i < n; i++)
    lines += p[i] == '\n';
  /* every field grows by its end */
  out->text = grab((idx)n + lines + 1, 1, e);
  out->question = grab(lines, sizeof *out->question, e);
  for (int line = 1; !e->status && line <= lines; line++) {
    size_t size = 0, whole = 0;
    if (n)
      whole = line_next(p, n, &size);
    /* a blank line says nothing */
    if (size && !memchr(p, '\t', size) && !text_end(p, size, &blank))
      size = 0;
    if (size &&
        !question_read(&out->question[out->n], p, size, out->text, &at))
      fail(e, 1,
           "%s:%d: expected the right ending's number from 0, a context and 2 "
           "to %d endings, separated by tabs. Try: hf choices "
           "hellaswag_val.jsonl --out FILE",
           name, line, ENDINGS_MOST);
    out->n += size > 0;
    p += whole;
    n -= whole;
  }
  if (!e->status && !out->n)
    fail(e, 1,
         "%s: expected one question per line, found none. Try: hf choices "
         "hellaswag_val.jsonl --out FILE",
         name);
  if (e->status)
    choices_free(out);
  return e->status;
}

/* A context with an ending: `length` tokens from `at`; those from `scored` on
 * are the ending's. */
typedef struct Choice {
  size_t at;
  int length, scored;
} Choice;

/* Encodes a question's endings, one Choice each, behind ids. */
static int choices_encode(Data *d, const Settings *s, const Choices *c,
                          const Question *q, Ids *ids, Choice *out, int most,
                          Error *e) {
  const unsigned char *context = c->text + q->field[0];
  const size_t size = strlen((const char *)context);
  const int32_t bos = d->bos;
  Ids alone = {0};
  Bytes text = {0};
  size_t from_here;
  tokenizer_encode(&d->tokenizer, context, text_end(context, size, &from_here),
                   &alone, e);
  for (int k = 0; k < q->endings && !e->status; k++) {
    const char *ending = (const char *)c->text + q->field[1 + k];
    size_t from = ids->size;
    text.size = 0;
    bytes_add(&text, context, size, e);
    bytes_add(&text, " ", size > 0, e);
    bytes_add(&text, ending, strlen(ending), e);
    if (s->data.bos)
      ids_add(ids, &bos, 1, e);
    tokenizer_encode(&d->tokenizer, text.at, text.size, ids, e);
    const int length = (int)(ids->size - from);
    int scored = (int)alone.size + !!s->data.bos, cut = 0;
    /* the last token at least */
    if (scored >= length)
      scored = length - 1;
    /* the last tokens of what is too long */
    if (length > most + 1)
      cut = length - most - 1;
    out[k] = (Choice){from + (size_t)cut, length - cut, 1};
    if (scored > cut)
      out[k].scored = scored - cut;
    if (length < 2)
      fail(e, 1,
           "--choices: expected endings of at least one token, found "
           "\"%.40s\". Try: %s",
           ending, s->data.bos ? "an ending that is not empty" : "--bos");
  }
  ids_free(&alone);
  bytes_free(&text);
  return e->status;
}

/* The tokens that are fed of the longest of n choices, all but its last. */
static int choices_longest(const Choice *c, int n) {
  int T = 1;
  while (n--)
    if (c[n].length - 1 > T)
      T = c[n].length - 1;
  return T;
}

/* A choice as a row of T ids and T targets; what is short ends in token 0. */
static void choice_feed(const Choice *c, const Ids *tokens, int T, int *ids,
                        int *targets) {
  const int32_t *own = tokens->at + c->at;
  for (int t = 0; t < c->length - 1; t++) {
    ids[t] = own[t];
    targets[t] = own[t + 1];
  }
  for (int t = c->length - 1; t < T; t++) {
    ids[t] = 0;
    targets[t] = 0;
  }
}

/* log p of every choice, `batch` of them at a time. */
static int choices_log_p(double *log_p, Model *m, const Choice *choice, int n,
                         const Ids *tokens, const Settings *s, Error *e) {
  Acts a = {0};
  int most = choices_longest(choice, n);
  int batch = evaluation_batch(m, n, most, e);
  int *ids = grab(2 * (idx)batch * most, sizeof(int), e);
  if (!e->status)
    acts_create(&a, m, batch, most, ACTS_ONE, e);
  if (m->seams.begin)
    m->seams.begin(m, (n + batch - 1) / batch, true, s->quiet);
  for (int from = 0; from < n && !e->status; from += batch) {
    const Choice *c = &choice[from];
    int B = (int)at_most(n - from, batch), T = choices_longest(c, B);
    int *targets = ids + (idx)B * T;
    for (int b = 0; b < B; b++)
      choice_feed(&c[b], tokens, T, ids + b * T, targets + b * T);
    model_forward(m, &a, ids, B, T);
    model_loss(m, &a, targets, B, T, 0);
    for (int b = 0; b < B; b++)
      for (int t = c[b].scored - 1; t < c[b].length - 1; t++)
        if (!(a.loss_row[(idx)b * T + t] < 0)) /* -1 inside a prefix */
          log_p[from + b] -= a.loss_row[(idx)b * T + t];
    for (int b = 0; b < B && !model_fault(m, e); b++)
      if (!isfinite(log_p[from + b]))
        fail(e, 1,
             "--choices: the log probability of ending %d is not finite. Try: "
             "another model",
             from + b);
  }
  if (m->seams.end)
    m->seams.end(m, e);
  acts_free(&a);
  free(ids);
  return e->status;
}

/* How many characters a string of UTF-8 has: its bytes that begin one. */
static int characters(const unsigned char *text) {
  int n = 0;
  for (; *text; text++)
    n += (*text & 0xC0) != 0x80;
  return n;
}

/* Is the best ending of q its right one? Adds that to right[0] by log p, to
 * right[1] by log p a character. log_p: those of its endings. */
static void question_judge(const Choices *c, const Question *q,
                           const double *log_p, int right[2]) {
  int best[2] = {0};
  double most[2] = {-INFINITY, -INFINITY};
  for (int k = 0; k < q->endings; k++) {
    const int size = characters(c->text + q->field[1 + k]);
    double is[2] = {log_p[k], log_p[k]};
    if (size)
      is[1] /= size;
    for (int x = 0; x < 2; x++)
      if (is[x] > most[x]) {
        most[x] = is[x];
        best[x] = k;
      }
  }
  for (int x = 0; x < 2; x++)
    right[x] += best[x] == q->gold;
}

/* n questions, and the share of them that a model answers rightly, by log p and
 * by log p a character. */
typedef struct Chosen {
  int n;
  double acc, acc_norm;
} Chosen;

/* m's answers to the first --questions of --choices. 1 for a file that cannot
 * be read; 2 where d has no tokenizer. */
static int choices_answer(Chosen *out, Model *m, Data *d, const Settings *s,
                          Error *e) {
  const HfOwn *own = &s->own;
  Bytes file = {0};
  Choices c = {0};
  Ids ids = {0};
  int n = 0, right[2] = {0};
  *out = (Chosen){0};
  if (!d->tokenizer.vocab)
    return fail(e, 2,
                "--choices %s: needs the model's tokenizer, found none open. "
                "Try: without --ids, or hf FOLDER --tokenizer FILE",
                own->choices);
  if (!file_read(own->choices, &file, e))
    choices_read(file.at, file.size, own->choices, &c, e);
  bytes_free(&file);
  if (own->questions && c.n > own->questions)
    c.n = own->questions;
  Choice *choice = grab((idx)c.n * ENDINGS_MOST, sizeof *choice, e);
  double *log_p = grab((idx)c.n * ENDINGS_MOST, sizeof *log_p, e);
  for (int i = 0; i < c.n && !e->status; i++) {
    const Question *q = &c.question[i];
    choices_encode(d, s, &c, q, &ids, choice + n, m->c.context, e);
    n += q->endings;
  }
  if (!e->status)
    choices_log_p(log_p, m, choice, n, &ids, s, e);
  for (int i = 0, at = 0; i < c.n && !e->status; i++) {
    question_judge(&c, &c.question[i], log_p + at, right);
    at += c.question[i].endings;
  }
  out->n = c.n;
  if (c.n) {
    out->acc = (double)right[0] / c.n;
    out->acc_norm = (double)right[1] / c.n;
  }
  choices_free(&c);
  ids_free(&ids);
  free(choice);
  free(log_p);
  return e->status;
}

/* The harness's form of a text, added to out with a tab, a new line and a
 * backslash escaped. */
static void choice_text(Bytes *out, const char *from, size_t n, Error *e) {
  static const char TITLE[] = " [title]";
  enum { WIDTH = sizeof TITLE - 1 };
  Bytes titled = {0}, plain = {0};
  size_t at;
  const size_t stop = text_end((const unsigned char *)from, n, &at);
  if (at >= stop)
    return;
  /* " [title]" becomes ". " */
  while (at < stop)
    if (stop - at >= WIDTH && !memcmp(from + at, TITLE, WIDTH)) {
      bytes_add(&titled, ". ", 2, e);
      at += WIDTH;
    } else {
      bytes_add(&titled, from + at, 1, e);
      at++;
    }
  /* what stands in [], on one line, is dropped */
  const char *s = (const char *)titled.at, *end = s + titled.size;
  for (; s < end && !e->status; s++) {
    const char *close = NULL;
    if (*s == '[')
      close = memchr(s, ']', (size_t)(end - s));
    if (close && !memchr(s, '\n', (size_t)(close - s)))
      s = close;
    else
      bytes_add(&plain, s, 1, e);
  }
  /* two blanks become one */
  for (size_t i = 0; i < plain.size; i++) {
    const char c = (char)plain.at[i];
    const char letter = translated(c, FIELD_PLAIN, FIELD_LETTERS);
    if (letter)
      bytes_print(out, e, "\\%c", letter);
    else
      bytes_add(out, &c, 1, e);
    if (c == ' ' && i + 1 < plain.size && plain.at[i + 1] == ' ')
      i++;
  }
  bytes_free(&plain);
  bytes_free(&titled);
}

/* A string without a 0, which would end a text. */
static bool text_whole(const Json *j, const JsonValue *v) {
  return json_kind(v, JSON_STRING) && strlen(j->text + v->at) == v->size;
}

/* A line of HellaSwag's file, j, as one of --choices, added to out. */
static int choice_line(Bytes *out, const Json *j, Error *e) {
  static const char *const BEFORE[] = {"", ": ", " "};
  const JsonValue *parts[] = {json_get(j, j->at, "activity_label"),
                              json_get(j, j->at, "ctx_a"),
                              json_get(j, j->at, "ctx_b")};
  const JsonValue *endings = json_get(j, j->at, "endings");
  const JsonValue *label = json_get(j, j->at, "label");
  int right = -1;
  if (label && label->size == 1)
    right = j->text[label->at] - '0';
  bool good = json_kind(endings, JSON_ARRAY) && endings->size >= 2 &&
              endings->size <= ENDINGS_MOST && right >= 0 &&
              right < (int)endings->size;
  for (int i = 0; i < 3; i++)
    good = good && text_whole(j, parts[i]);
  for (uint32_t i = 0; good && i < endings->size; i++)
    good = text_whole(j, json_at(j, endings, i));
  if (!good)
    return fail(e, 1,
                "%s: expected activity_label, ctx_a, ctx_b, 2 to %d endings "
                "and the label of one of them, found another line. Try: "
                "hellaswag_val.jsonl",
                j->name, ENDINGS_MOST);
  Bytes text = {0};
  size_t last = 0; /* where ctx_b begins */
  for (int i = 0; i < 3; i++) {
    bytes_print(&text, e, "%s", BEFORE[i]);
    last = text.size;
    bytes_add(&text, j->text + parts[i]->at, parts[i]->size, e);
  }
  if (last < text.size)
    text.at[last] = (unsigned char)toupper(text.at[last]);
  for (size_t k = last + 1; k < text.size; k++)
    text.at[k] = (unsigned char)tolower(text.at[k]);
  bytes_print(out, e, "%d\t", right);
  choice_text(out, (const char *)text.at, text.size, e);
  for (const JsonValue *x = endings + 1; x < j->at + endings->next;
       x = j->at + x->next) {
    bytes_print(out, e, "\t");
    choice_text(out, j->text + x->at, x->size, e);
  }
  bytes_print(out, e, "\n");
  bytes_free(&text);
  return e->status;
}

/* HellaSwag's file at `path` as a file of --choices. */
static int import_choices(const char *path, const char *to, Error *e) {
  Bytes file = {0}, out = {0};
  int questions = 0, line = 0;
  if (!file_read(path, &file, e) && !file_ready(to, e))
    for (size_t at = mark_length(file.at, file.size);
         at < file.size && !e->status;) {
      size_t n, blank;
      char name[PATH_ROOM + 32];
      Json j = {0};
      const unsigned char *text = file.at + at;
      at += line_next(text, file.size - at, &n);
      snprintf(name, sizeof name, "%.500s:%d", path, ++line);
      if (!text_end(text, n, &blank))
        continue;
      if (!json_read(&j, text, n, name, e) && !choice_line(&out, &j, e))
        questions++;
      json_free(&j);
    }
  if (!e->status && !out.size)
    fail(e, 1,
         "%s: expected one question per line, found none. Try: "
         "hellaswag_val.jsonl",
         path);
  if (!e->status && !file_write(to, out.at, out.size, e))
    printf("questions=%d out=%s\n", questions, to);
  bytes_free(&file);
  bytes_free(&out);
  return e->status;
}
