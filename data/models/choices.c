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
 * context the last tokens are taken. The harness puts no bos first: --no-bos.
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

/* Strings that begin at text + field[..], the context first; `gold`, from 0, is
 * right. */
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
    {0x09, 0x0D, 1}, {0x1C, 0x20, 1}, {0x85, 0x85, 1}, {0xA0, 0xA0, 1},
    {0x1680, 0x1680, 1},
    {0x2000, 0x200A, 1}, {0x2028, 0x2029, 1}, {0x202F, 0x202F, 1},
    {0x205F, 0x205F, 1},
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

/* The next line of n > 0 bytes without its end, *size of it; returns all its
 * bytes. */
static size_t line_next(const unsigned char *p, size_t n, size_t *size) {
  const unsigned char *end = memchr(p, '\n', n);
  const size_t whole = end ? (size_t)(end - p) + 1 : n;
  *size = whole - (end != NULL);
  if (*size && p[*size - 1] == '\r')
    --*size;
  return whole;
}

/* of a byte order mark */
static size_t mark_length(const unsigned char *p, size_t n) {
  return n >= 3 && !memcmp(p, "\xEF\xBB\xBF", 3) ? 3 : 0;
}

/* Turns the field of n bytes at `from`, escapes undone, into a string at `to`;
 * its length. */
static size_t field_plain(unsigned char *to, const unsigned char *from,
                          size_t n) {
  size_t length = 0;
  for (size_t i = 0; i < n; i++) {
    unsigned char c = from[i], next = i + 1 < n ? from[i + 1] : 0;
    bool escape = c == '\\' && (next == 't' || next == 'n' || next == '\\');
    to[length++] = !escape ? c : next == 't' ? '\t' : next == 'n' ? '\n' : '\\';
    i += escape;
  }
  to[length] = 0;
  return length;
}

/* 1 with the number of the line that is none; on failure nothing is held. */
static int choices_read(const unsigned char *p, size_t n, const char *name,
                        Choices *out, Error *e) {
  const size_t mark = mark_length(p, n);
  int lines = 1;
  *out = (Choices){0};
  p += mark;
  n -= mark;
  for (size_t i = 0; i < n; i++)
    lines += p[i] == '\n';
  /* every field grows by its end */
  out->text = grab((idx)n + lines + 1, 1, e);
  out->question = grab(lines, sizeof *out->question, e);
  size_t at = 0;
  for (int line = 1; !e->status && line <= lines; line++) {
    Question *q = &out->question[out->n];
    size_t size = 0, blank, whole = n ? line_next(p, n, &size) : 0;
    if (size && !memchr(p, '\t', size) && !text_end(p, size, &blank))
      size = 0;
    *q = (Question){.gold = -1, .endings = -1};
    for (size_t from = 0, field; size && from <= size; from += field + 1) {
      const unsigned char *tab = memchr(p + from, '\t', size - from);
      field = (tab ? (size_t)(tab - p) : size) - from;
      if (q->gold < 0) {
        if (field != 1 || !isdigit(p[from]))
          break;
        q->gold = p[from] - '0';
      } else if (++q->endings > ENDINGS_MOST)
        break;
      else {
        q->field[q->endings] = at;
        at += field_plain(out->text + at, p + from, field) + 1;
      }
    }
    if (size &&
        (q->endings < 2 || q->endings > ENDINGS_MOST || q->gold >= q->endings))
      fail(e, 1,
           "%s:%d: expected the right ending's number from 0, a context and 2 "
           "to %d endings, separated by tabs. Try: hf choices FILE.jsonl --out "
           "%s",
           name, line, ENDINGS_MOST, name);
    out->n += size > 0;
    p += whole;
    n -= whole;
  }
  if (!e->status && !out->n)
    fail(e, 1,
         "%s: expected one question per line, found none. Try: hf choices "
         "FILE.jsonl --out %s",
         name, name);
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
    int length = (int)(ids->size - from),
        scored = (int)alone.size + (s->data.bos ? 1 : 0);
    int cut = length > most + 1 ? length - most - 1 : 0;
    /* the last token at least */
    if (scored >= length)
      scored = length - 1;
    out[k] = (Choice){from + (size_t)cut, length - cut,
                      scored > cut ? scored - cut : 1};
    if (length < 2)
      fail(e, 1,
           "--choices: expected endings of at least one token, found "
           "\"%.40s\". Try: --bos",
           ending);
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

/* log p of every choice, `batch` of them at a time. */
static int choices_log_p(double *log_p, Model *m, const Choice *choice, int n,
                         const Ids *tokens, const Settings *s, Error *e) {
  Acts a = {0};
  int most = choices_longest(choice, n),
      batch = evaluation_batch(m, n, most, e);
  int *ids = grab(2 * (idx)batch * most, sizeof(int), e);
  if (!e->status)
    acts_create(&a, m, batch, most, ACTS_ONE, e);
  if (m->seams.begin)
    m->seams.begin(m, (n + batch - 1) / batch, true, s->quiet);
  for (int from = 0; from < n && !e->status; from += batch) {
    const Choice *c = &choice[from];
    int B = n - from < batch ? n - from : batch, T = choices_longest(c, B);
    int *targets = ids + (idx)B * T;
    /* what is short ends in token 0 */
    for (int b = 0; b < B; b++)
      for (int t = 0; t < T; t++) {
        const bool fed = t < c[b].length - 1;
        ids[b * T + t] = fed ? tokens->at[c[b].at + (size_t)t] : 0;
        targets[b * T + t] = fed ? tokens->at[c[b].at + (size_t)t + 1] : 0;
      }
    model_forward(m, &a, ids, B, T);
    model_loss(m, &a, targets, B, T, false, 1);
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

/* Of the first --questions of --choices the share that m answers rightly, by
 * log p and by log p a character. 1 for a file that cannot be read; 2 where d
 * has no tokenizer. */
typedef struct Chosen {
  int n;
  double acc, acc_norm;
} Chosen;
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
                "--choices %s: needs a tokenizer, but the model was trained on "
                "ids. Try: --text FILE or --grammar FILE",
                own->choices);
  if (!file_read(own->choices, &file, e))
    choices_read(file.at, file.size, own->choices, &c, e);
  bytes_free(&file);
  if (own->questions && c.n > own->questions)
    c.n = own->questions;
  Choice *choice = grab((idx)c.n * ENDINGS_MOST, sizeof *choice, e);
  double *log_p = grab((idx)c.n * ENDINGS_MOST, sizeof *log_p, e);
  for (int i = 0; i < c.n && !e->status; n += c.question[i++].endings)
    choices_encode(d, s, &c, &c.question[i], &ids, choice + n, m->c.context, e);
  if (!e->status)
    choices_log_p(log_p, m, choice, n, &ids, s, e);
  for (int i = 0, at = 0; i < c.n && !e->status;
       at += c.question[i++].endings) {
    const Question *q = &c.question[i];
    int best[2] = {0};
    double most[2] = {-INFINITY, -INFINITY};
    for (int k = 0; k < q->endings; k++) {
      /* UTF-8 bytes that begin one */
      int size = 0;
      for (const unsigned char *at_k = c.text + q->field[1 + k]; *at_k; at_k++)
        size += (*at_k & 0xC0) != 0x80;
      double is[2] = {log_p[at + k], log_p[at + k] / (size ? size : 1)};
      for (int x = 0; x < 2; x++)
        if (is[x] > most[x]) {
          most[x] = is[x];
          best[x] = k;
        }
    }
    for (int x = 0; x < 2; x++)
      right[x] += best[x] == q->gold;
  }
  out->n = c.n;
  out->acc = c.n ? (double)right[0] / c.n : 0;
  out->acc_norm = c.n ? (double)right[1] / c.n : 0;
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
  while (at < stop) {
    const bool title = stop - at >= WIDTH && !memcmp(from + at, TITLE, WIDTH);
    bytes_add(&titled, title ? ". " : from + at, title ? 2 : 1, e);
    at += title ? WIDTH : 1;
  }
  const char *s = (const char *)titled.at, *end = s + titled.size;
  while (s < end && !e->status) {
    const size_t left = (size_t)(end - s);
    const char *line = memchr(s, '\n', left), *close = memchr(s, ']', left);
    const bool dropped = *s == '[' && close && (!line || close < line);
    if (!dropped)
      bytes_add(&plain, s, 1, e);
    s = dropped ? close + 1 : s + 1;
  }
  for (size_t i = 0; i < plain.size; i++) {
    char c = (char)plain.at[i];
    if (c == '\t' || c == '\n' || c == '\\')
      bytes_print(out, e, "\\%c", c == '\t' ? 't' : c == '\n' ? 'n' : c);
    else
      bytes_add(out, &c, 1, e);
    if (c == ' ' && i + 1 < plain.size && plain.at[i + 1] == ' ')
      i++;
  }
  bytes_free(&plain);
  bytes_free(&titled);
}

static int choice_line(Bytes *out, const Json *j, Error *e) {
  const JsonValue *parts[] = {json_get(j, j->at, "activity_label"),
                              json_get(j, j->at, "ctx_a"),
                              json_get(j, j->at, "ctx_b")};
  const JsonValue *endings = json_get(j, j->at, "endings"),
                  *label = json_get(j, j->at, "label");
  const int right = label && label->size == 1 ? j->text[label->at] - '0' : -1;
  Bytes text = {0};
  bool good = json_kind(endings, JSON_ARRAY) && endings->size >= 2 &&
              endings->size <= ENDINGS_MOST && right >= 0 &&
              right < (int)endings->size;
  for (int i = 0; i < 3; i++)
    good = good && json_kind(parts[i], JSON_STRING);
  for (uint32_t i = 0; good && i < endings->size; i++)
    good = json_at(j, endings, i)->kind == JSON_STRING;
  if (!good)
    return fail(
        e, 1,
        "%s: expected activity_label, ctx_a, ctx_b, 2 to %d endings and the "
        "label of one of them, found another line. Try: hellaswag_val.jsonl",
        j->name, ENDINGS_MOST);
  for (int i = 0; i < 3; i++) {
    bytes_print(&text, e, "%s", i == 1 ? ": " : i ? " " : "");
    size_t from = text.size;
    bytes_add(&text, j->text + parts[i]->at, parts[i]->size, e);
    for (size_t k = from; i == 2 && k < text.size; k++)
      text.at[k] = (unsigned char)(k == from ? toupper(text.at[k])
                                             : tolower(text.at[k]));
  }
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
