/* teller.c - grammars: text without end from a page of
 * rules, for --grammar FILE.
 *
 * SPDX-License-Identifier: MIT
 *
 * ./paper and ./hf include this; ./sink reads texts alone. Chapter 1 is the
 * language and its interpreter, chapter 2 a generated text as data; 3 to 5 are
 * the verb generate. The tests are in data/check/test_text.c.
 *
 * 1  The language
 *
 * A grammar says how documents are generated. Document n of seed s is a pure
 * function of the grammar, s and n. The format:
 *
 *   # a comment            from a # at a line's start or after a blank to the
 *                          line's end
 *   name = text | text     a rule, named in the first column; indented lines go
 *                          on with it. The first rule of the file is what a
 *                          document is.
 *   3: text                an alternative with weight 3, at most 9999; without
 *                          one 1. A text 7:30 is written \7:30
 *   name ~= text | text    the k-th weight is divided by k + 2, as word
 *                          counts fall by Zipf's law with Mandelbrot's shift
 *   { text | text }        a choice in passing; { text | } is an optional part
 *   [name]                 tell that rule here
 *   [2-5 name]             two to five times, blanks between
 *   [^name]                with a capital
 *   [a name]  [^a name]    with a or an before it
 *   [x:name]               tell it and remember it as x
 *   [x=name]               remember it, say none
 *   [$x]                   what x remembers
 *   [x=$y]                 x remembers what y does
 *   [$x+$y]  [z=$x*7]      a sum told, a product remembered: + - * / % on
 *                          remembered whole numbers of up to nine digits, or on
 *                          one and a number of up to four
 *   name/of/by = me/my/I   a rule with forms, named in its head; [name/of] or
 *                          [$x/of] picks one, and [name] the first. An
 *                          alternative without / serves every form: it hands
 *                          it on to those of its references that have it and
 *                          name none.
 *   \n  \t                 a new line, a tab
 *   \[ \| \/ \# \\ ..      the mark itself
 *
 * A remembered choice is drawn up to eight times, while a variable that was
 * remembered before it holds the same text. All its forms are told from the same
 * random numbers: what they share is the same, unless a rule remembers two things
 * inside: what an earlier form remembers may redraw one in a later form.
 * Blanks: one at a time, none at either end of a
 * line or, as written, of an alternative, and none before a { } or a reference
 * that begins with , . ; : ! ? (within a text such a blank stays). */

/* A grammar ready to generate documents. */
typedef struct Grammar {
  char name[PATH_ROOM];        /* of the file, for errors */
  Bytes text;                  /* a copy of it, its text made plain */
  struct Symbol *symbols;
  struct Node *nodes;          /* the first one is what a document is */
  int symbol_count, node_count;
} Grammar;

/* At most: forms of a rule; { } inside { }; bytes of a grammar; and while a
 * document is generated, rules inside rules, rules and variables in all, bytes
 * of it before its last text, and of what it remembers. */
enum { GRAMMAR_FORMS = 8, GRAMMAR_NESTING = 16, GRAMMAR_FILE = 1 << 21,
       GRAMMAR_DEPTH = 100, GRAMMAR_STEPS = 1 << 18, GRAMMAR_SIZE = 1 << 20 };

typedef struct Symbol {
  const char *at;              /* its size letters, in Grammar.text */
  int size;
  const struct Node *rule;     /* the rule so named, or NULL */
  const struct Node *shape;    /* one with the variable's forms, or NULL */
} Symbol;

/* A grammar is a tree of nodes. A rule or a { } group holds alternatives, an
 * alternative phrases: text, groups, [references]. A rule and an alternative
 * are their first form; others hang on it. */
enum NodeKind { NODE_RULE, NODE_FORM, NODE_TEXT, NODE_GROUP, NODE_REFERENCE };
typedef struct Node {
  enum NodeKind kind;
  int line;
  struct Node *next, *first;   /* after it; the first that it holds */
  struct Node *form;           /* its next form */
  int forms, size;             /* how many forms; bytes of text */
  uint64_t weight;             /* a rule's: all; of these up to and with it */
  const unsigned char *text;
  Symbol *name, *variable, *wanted;   /* [variable:name/wanted] or NULL */
  Symbol *right;               /* [$name+$right] or NULL */
  int low, high, number;       /* how many times; [$name+number] */
  char operator;               /* + - * / % or 0 */
  bool recall, silent;         /* [$x]; [x=...] */
  bool capital, article;       /* [^...]; [a ...] */
} Node;

/* scan_X takes an X at the cursor. */
typedef struct Scan {
  Grammar *g;
  unsigned char *p;   /* the cursor; the text ends with a \n and a \0 */
  int line, depth;   /* depth: of { } */
  Error *e;
} Scan;

static int scan_wrong(const Scan *s, const char *expected, const char *hint) {
  int c = *s->p;
  char found[24] = "the end of the file";
  if (c == ' ')
    strcpy(found, "a blank");
  else if (c == '\n' || c == '\v')
    strcpy(found, "the end of the line");
  else if (c && c < 127)
    snprintf(found, sizeof found, "%c", c);
  else if (c)
    snprintf(found, sizeof found, "byte %d", c);
  return fail(s->e, 1, "%s:%d: expected %s, found %s. Try: %s", s->g->name,
              s->line, expected, found, hint);
}

static int name_wrong(const Grammar *g, const Node *p, const Symbol *y,
                      const char *expected, const char *hint, Error *e) {
  return fail(e, 1, "%s:%d: expected %s, found %.*s. Try: %s", g->name, p->line,
              expected, y->size, y->at, hint);
}

static void scan_blanks(Scan *s) {
  for (; *s->p == ' ' || *s->p == '\v'; s->p++)
    s->line += *s->p == '\v';
}
static bool scan_take(Scan *s, int c) {
  bool here = *s->p == c;
  s->p += here;
  return here;
}
static bool begins_name(unsigned char c) {
  return c == '_' || (c < 0x80 && byte_kind(c) == LETTER);
}

/* A plain search, quadratic in names: 30,000 take a second or two. */
static Symbol *scan_name(Scan *s, const char *expected) {
  Grammar *g = s->g;
  const unsigned char *from = s->p;
  if (!begins_name(*from)) {
    scan_wrong(s, expected, "letters, digits and _, a letter first");
    return NULL;
  }
  while (begins_name(*s->p) || byte_kind(*s->p) == DIGIT)
    s->p++;
  const Symbol y = {.at = (const char *)from, .size = (int)(s->p - from)};
  Symbol *at = g->symbols, *end = at + g->symbol_count;
  while (at < end &&
         (at->size != y.size || memcmp(at->at, y.at, (size_t)y.size)))
    at++;
  if (at == end)
    g->symbols[g->symbol_count++] = y;
  return at;
}

/* -1 where there is none, or one of over four digits. */
static int scan_number(Scan *s) {
  int n = 0, digits = 0;
  for (; digits < 5 && byte_kind(s->p[digits]) == DIGIT; digits++)
    n = 10 * n + s->p[digits] - '0';
  if (!digits || digits > 4)
    return -1;
  s->p += digits;
  return n;
}

static Node *node_new(Scan *s, enum NodeKind kind) {
  Node *p = &s->g->nodes[s->g->node_count++];
  p->kind = kind;
  p->line = s->line;
  return p;
}

/* Behind its [. In this order: ^, a, 2-5, x: or x=, $, a name,
 * an operation or /form. */
static int scan_reference(Scan *s, Node *p) {
  p->kind = NODE_REFERENCE;
  p->capital = scan_take(s, '^');
  p->article = s->p[0] == 'a' && strchr(" \v", s->p[1]);
  if (p->article) {
    s->p++;
    scan_blanks(s);
  }
  int times = scan_number(s);
  p->low = p->high = times < 0 ? 1 : times;
  if (times >= 0 && scan_take(s, '-'))
    p->high = scan_number(s);
  if (p->high < p->low)
    return scan_wrong(s, "a range such as 2-5", "2 before 5");
  if (times >= 0)
    scan_blanks(s);
  p->recall = scan_take(s, '$');
  if (!(p->name = scan_name(s, "the name of a rule or a variable")))
    return 1;
  if (!p->recall && (*s->p == ':' || *s->p == '=')) {
    p->silent = *s->p++ == '=';
    p->variable = p->name;
    p->recall = scan_take(s, '$');
    if (!(p->name = scan_name(s, "the name of a rule, or $ and a variable's")))
      return 1;
  }
  /* [$x/of], not [$x/60] */
  bool form = s->p[0] == '/' && begins_name(s->p[1]);
  if (p->recall && !form && *s->p && strchr("+-*/%", *s->p)) {
    p->operator = (char)*s->p++;
    if (scan_take(s, '$'))
      p->right = scan_name(s, "a variable after $");
    else if ((p->number = scan_number(s)) < 0)
      scan_wrong(s, "$ and a variable's name, or a number",
                 "[$x+$y] or [$x%60]");
  } else if (!p->silent && scan_take(s, '/'))
    p->wanted = scan_name(s, "the name of a form");
  if (s->e->status || scan_take(s, ']'))
    return s->e->status;
  return scan_wrong(s, "] after a reference",
                    "[name], [$x], [x:name] or [a name]");
}

static int scan_text(Scan *s, Node *p) {
  unsigned char *to = s->p;
  p->text = to;
  /* strchr also stops at the final \0 */
  for (; !strchr("[]{}|/\n", *s->p); s->p++) {
    int c = *s->p;
    if (c == '\\') {
      c = *++s->p;
      if (c < ' ')
        return scan_wrong(s, "a mark after \\", "\\\\ for a plain \\");
      if (c == 'n' && to > p->text && to[-1] == ' ')
        to--;
      if (c == 'n')
        c = '\n';
      else if (c == 't')
        c = '\t';
      *to++ = (unsigned char)c;
    } else if (c == ' ' || c == '\v') {
      s->line += c == '\v';
      if (to == p->text || !strchr(" \n", to[-1]))
        *to++ = ' ';
    } else
      *to++ = (unsigned char)c;
  }
  p->size = (int)(to - p->text);
  return 0;
}

static int scan_alternatives(Scan *s, Node *rule, bool zipf);

static int scan_form(Scan *s, Node *form) {
  Node *p = NULL, **last = &form->first;
  scan_blanks(s);
  while (!s->e->status && *s->p && !strchr("|/\n]}", *s->p)) {
    p = *last = node_new(s, NODE_TEXT);
    last = &p->next;
    if (scan_take(s, '['))
      scan_reference(s, p);
    else if (scan_take(s, '{')) {
      p->kind = NODE_GROUP;
      if (!scan_alternatives(s, p, false) && !scan_take(s, '}'))
        scan_wrong(s, "} to close a {",
                   "\\] or \\/ for a plain ] or /, or a }");
    } else
      scan_text(s, p);
  }
  if (p && p->size > 0 && p->text[p->size - 1] == ' ')
    p->size--;
  return s->e->status;
}

static int scan_alternatives(Scan *s, Node *rule, bool zipf) {
  Node **last = &rule->first;
  uint64_t k = 1;
  if (s->depth++ > GRAMMAR_NESTING)
    return scan_wrong(s, "at most 16 { inside another", "a rule");
  do {
    Node *a = *last = node_new(s, NODE_FORM), *form = a;
    last = &a->next;
    scan_blanks(s);
    unsigned char *start = s->p;
    int weight = scan_number(s);
    size_t digits = strspn((char *)start, "0123456789");
    if (digits > 4 && start[digits] == ':')
      return scan_wrong(s, "a weight of at most four digits",
                        "9999, or \\ before a text's number");
    if (weight < 0 || !scan_take(s, ':')) {
      weight = 1;
      s->p = start;
    }
    uint64_t own = (uint64_t)weight;
    if (zipf)
      own = (own << 20) / (k++ + 2);
    rule->weight += own;
    a->weight = rule->weight;
    for (a->forms = 1; !scan_form(s, form) && rule->name && scan_take(s, '/');
         a->forms++)
      form = form->form = node_new(s, NODE_FORM);
    if (s->e->status)
      return 1;
    if (a->forms > 1 && a->forms != rule->forms)
      return scan_wrong(s, "one form, or as many as the head has",
                        "\\/ for a plain /");
  } while (scan_take(s, '|'));
  s->depth--;
  if (!rule->weight)
    return scan_wrong(s, "a weight above 0", "1: before one alternative");
  return 0;
}

/* Which of a rule's forms has the name, -1: none. */
static int form_index(const Node *rule, const Symbol *name) {
  int i = 0;
  for (; rule && rule->name != name; rule = rule->form)
    i++;
  return rule ? i : -1;
}

static int scan_rule(Scan *s) {
  Node *rule = node_new(s, NODE_RULE), *form = rule;
  for (;; form = form->form = node_new(s, NODE_RULE)) {
    if (rule->forms++ == GRAMMAR_FORMS)
      return scan_wrong(s, "at most 8 forms", "two rules");
    if (!(form->name = scan_name(s, "the name of a rule in the first column")))
      return 1;
    if (form_index(rule, form->name) < rule->forms - 1)
      return name_wrong(s->g, rule, form->name, "a new form", "another name",
                        s->e);
    if (!scan_take(s, '/'))
      break;
  }
  if (rule->name->rule)
    return name_wrong(s->g, rule, rule->name, "a new rule", "another name",
                      s->e);
  rule->name->rule = rule;
  scan_blanks(s);
  bool zipf = scan_take(s, '~');
  if (!scan_take(s, '='))
    return scan_wrong(s, "= or ~= after a rule's name", "name = text");
  if (scan_alternatives(s, rule, zipf))
    return 1;
  if (!scan_take(s, '\n'))
    return scan_wrong(s, "the end of the rule",
                      *s->p == ']' ? "\\] for a plain ]" : "\\} for a plain }");
  s->line++;
  return 0;
}

/* A rule with the forms of what p refers to, or NULL. */
static const Node *reference_shape(const Node *p) {
  return p->recall ? p->name->shape : p->name->rule;
}

static int reference_check(const Grammar *g, const Node *p, Error *e) {
  const Node *shape = reference_shape(p);
  const Node *held = p->variable ? p->variable->shape : NULL;
  if (!p->recall && !shape)
    return name_wrong(g, p, p->name, "the name of a rule", "a line NAME = text",
                      e);
  const Symbol *unset = p->right && !p->right->shape ? p->right : NULL;
  if (p->variable && !held)
    unset = p->variable;
  if (!shape)
    unset = p->name;
  if (unset)
    return name_wrong(g, p, unset, "a variable of the grammar", "[NAME:rule]",
                      e);
  if (p->wanted && form_index(shape, p->wanted) < 0)
    return name_wrong(g, p, p->wanted, "a form of that rule or variable",
                      "RULE/NAME = ..", e);
  if (!p->variable)
    return 0;
  do {
    shape = shape->form;
    held = held->form;
  } while (shape && held && shape->name == held->name);
  if (shape || held)
    return name_wrong(g, p, p->variable, "rules with the same forms",
                      "another variable", e);
  return 0;
}

/* A copy [x=$y] may stand before [y=rule], hence the rounds: a longer chain of
 * them is refused. */
static int grammar_link(Grammar *g, Error *e) {
  const Node *p, *end = g->nodes + g->node_count;
  for (int round = 0; round < 8; round++)
    for (p = g->nodes; p < end; p++)
      if (p->variable && !p->variable->shape)
        p->variable->shape = reference_shape(p);
  for (p = g->nodes; p < end && !e->status; p++)
    if (p->kind == NODE_REFERENCE)
      reference_check(g, p, e);
  return e->status;
}

typedef struct Telling {
  const Grammar *g;
  Rng rng;
  Bytes *out;
  Bytes memory;     /* what is remembered, each form ended by a \0 */
  size_t *values;   /* of each symbol: its first form in memory, 0 nowhere */
  size_t start;     /* where in out the document begins */
  size_t floor;     /* and from where tell_text may change it */
  int depth, steps;
  Error *e;
} Telling;

/* Appends text; of blanks where it begins one stays at most. */
static void tell_text(Telling *t, const void *text, size_t n) {
  Bytes *o = t->out;
  const char *p = text;
  int before = o->size > t->floor ? o->at[o->size - 1] : '\n';
  if (n && *p == ' ' && (before == ' ' || before == '\n')) {
    p++;
    n--;
  }
  if (n && before == ' ' && strchr(".,;:!?\n", *p))
    o->size--;
  bytes_add(o, p, n, t->e);
}

static void tell_rule(Telling *t, const Node *rule, const Symbol *wanted);

/* Where in memory a variable's first form is, 0 nowhere. */
static size_t tell_recall(const Telling *t, const Node *p, const Symbol *name) {
  size_t at = t->values[name - t->g->symbols];
  if (!at)
    name_wrong(t->g, p, name, "a variable that is remembered by now",
               "[NAME:rule]", t->e);
  return at;
}

static long long tell_number(const Telling *t, const Node *p,
                             const Symbol *name) {
  size_t at = tell_recall(t, p, name);
  if (!at)
    return 0;
  char *text = (char *)t->memory.at + at, *end;
  long long number = strtoll(text, &end, 10);
  if (end == text || *end || end - text > 9 + (*text == '-'))
    name_wrong(t->g, p, name, "a whole number of at most nine digits",
               "a rule of them", t->e);
  return number;
}

/* x + y, or what the operator says. */
static long long computed(long long x, char operator, long long y) {
  switch (operator) {
  case '+': return x + y;
  case '-': return x - y;
  case '*': return x * y;
  case '/': return x / y;
  default: return x % y;
  }
}

/* Computes into memory, alike in every form, and returns where there. */
static size_t tell_operation(Telling *t, const Node *p) {
  char text[24];
  size_t at = t->memory.size;
  long long x = tell_number(t, p, p->name);
  long long y = p->right ? tell_number(t, p, p->right) : p->number;
  if (!y && strchr("/%", p->operator))
    fail(t->e, 1, "%s:%d: expected a divisor, found 0. Try: a rule without 0",
         t->g->name, p->line);
  if (t->e->status)
    return 0;
  long long z = computed(x, p->operator, y);
  size_t n = (size_t)snprintf(text, sizeof text, "%lld", z) + 1;
  for (int f = 0; f < p->name->shape->forms; f++)
    bytes_add(&t->memory, text, n, t->e);
  return at;
}

/* Tells a rule's forms into memory, by way of out, up to eight times (1), and
 * returns where there. */
static size_t tell_forms(Telling *t, const Node *p) {
  size_t from = t->out->size, floor = t->floor, at = 0;
  const size_t before = t->memory.size;
  bool held = true;
  for (int tries = 0; tries < 8 && held; tries++) {
    const Rng start = t->rng;
    Rng after = start;
    for (const Node *form = p->name->rule; form; form = form->form) {
      t->rng = start;
      t->floor = t->out->size;
      tell_rule(t, p->name->rule, form->name);
      bytes_add(t->out, "", 1, t->e);
      if (form == p->name->rule)
        after = t->rng;
    }
    t->rng = after;
    t->floor = floor;
    at = t->memory.size;
    if (t->e->status ||
        bytes_add(&t->memory, t->out->at + from, t->out->size - from, t->e))
      break;
    t->out->size = from;
    held = false;
    const char *m = (const char *)t->memory.at;
    for (int i = 0; i < t->g->symbol_count && !held; i++)
      held = t->values[i] && t->values[i] < before &&
             p->variable != t->g->symbols + i &&
             !strcmp(m + t->values[i], m + at);
  }
  return at;
}

static bool takes_an(const unsigned char *word, size_t n) {
  enum { AN = 9, WORDS = 18 };   /* the first AN of them do */
  static const char *const BEGIN[WORDS] = {
    "hour", "honest", "hono", "heir", "unin", "unim", "unide", "utm", "utt",
    "uni", "use", "usu", "one", "once", "eu", "Eu", "ew", "ut"};
  for (int i = 0; i < WORDS; i++)
    if (n >= strlen(BEGIN[i]) && !memcmp(word, BEGIN[i], strlen(BEGIN[i])))
      return i < AN;
  return n && strchr("aeiouAEIOU", *word);
}

/* Article and capital of what was generated from start on. */
static void tell_finish(Telling *t, const Node *p, size_t start) {
  Bytes *o = t->out;
  while (start < o->size && o->at[start] == ' ')
    start++;
  if (p->article && start < o->size) {
    size_t size = o->size - start;
    const char *article = takes_an(o->at + start, size) ? "an " : "a ";
    size_t n = strlen(article);
    if (bytes_add(o, article, n, t->e))
      return;
    memmove(o->at + start + n, o->at + start, size);
    memcpy(o->at + start, article, n);
  }
  if (!p->capital)
    return;
  while (start < o->size && strchr("\"'", o->at[start]))
    start++;
  if (start < o->size && o->at[start] >= 'a' && o->at[start] <= 'z')
    o->at[start] -= 32;
}

/* What is computed, recalled or drawn: remembered, and generated
 * in the form `wanted`. */
static void tell_value(Telling *t, const Node *p, const Symbol *wanted) {
  size_t at;
  if (p->operator)
    at = tell_operation(t, p);
  else if (p->recall)
    at = tell_recall(t, p, p->name);
  else
    at = tell_forms(t, p);
  if (p->variable)
    t->values[p->variable - t->g->symbols] = at;
  if (p->silent || t->e->status)
    return;
  const char *text = (const char *)t->memory.at + at;
  for (int f = form_index(reference_shape(p), wanted); f > 0; f--)
    text += strlen(text) + 1;
  tell_text(t, text, strlen(text));
}

/* Fails where the document has grown beyond all bounds. */
static int tell_bounded(const Telling *t, const Node *p) {
  if (t->depth > GRAMMAR_DEPTH || t->steps > GRAMMAR_STEPS ||
      t->memory.size > GRAMMAR_SIZE || t->out->size - t->start > GRAMMAR_SIZE)
    fail(t->e, 1, "%s:%d: expected a document with an end, found none 100 "
         "deep, in %d rules or %d bytes. Try: an alternative that ends",
         t->g->name, p->line, GRAMMAR_STEPS, GRAMMAR_SIZE);
  return t->e->status;
}

/* A reference, as often as it says, in its own form or else in `wanted`. */
static void tell_reference(Telling *t, const Node *p, const Symbol *wanted) {
  int times = p->low;
  if (p->wanted)
    wanted = p->wanted;
  if (p->high > p->low)
    times += (int)rng_below(&t->rng, (uint64_t)(p->high - p->low + 1));
  for (int i = 0; i < times && !tell_bounded(t, p); i++) {
    if (i)
      tell_text(t, " ", 1);
    size_t start = t->out->size;
    t->steps += p->recall;
    if (p->recall || p->variable)
      tell_value(t, p, wanted);
    else
      tell_rule(t, p->name->rule, wanted);
    tell_finish(t, p, start);   /* of what is silent there is nothing */
  }
}

/* One of a rule's alternatives, drawn by weight, in the form `wanted`. */
static void tell_rule(Telling *t, const Node *rule, const Symbol *wanted) {
  t->depth++;
  t->steps++;
  if (tell_bounded(t, rule))
    return;
  const Node *a = rule->first;
  uint64_t draw = a->next ? rng_below(&t->rng, rule->weight) : 0;
  while (a->weight <= draw)
    a = a->next;
  int index = form_index(rule, wanted);
  if (a->forms > 1 || (rule->name && index < 0))
    wanted = NULL;   /* there is nothing to hand on */
  for (int f = a->forms > 1 ? index : 0; f > 0; f--)
    a = a->form;
  for (const Node *p = a->first; p && !t->e->status; p = p->next)
    if (p->kind == NODE_TEXT)
      tell_text(t, p->text, (size_t)p->size);
    else if (p->kind == NODE_GROUP)
      tell_rule(t, p, wanted);
    else
      tell_reference(t, p, wanted);
  t->depth--;
}

/* Appends document n of a seed; after a failure nothing. */
static int grammar_document(const Grammar *g, uint64_t seed, uint64_t n,
                            Bytes *out, Error *e) {
  size_t start = out->size;
  Telling t = {.g = g, .rng = {seed}, .out = out, .start = start,
               .floor = start, .e = e};
  t.rng.state = rng_next(&t.rng) ^ n;
  t.rng.state = rng_next(&t.rng);
  t.values = grab(g->symbol_count, sizeof *t.values, e);
  if (t.values && !bytes_add(&t.memory, "", 1, e) && !bytes_add(out, "", 0, e))
    tell_rule(&t, g->nodes, NULL);
  if (e->status)
    out->size = start;
  else if (out->size > start && out->at[out->size - 1] == ' ')
    out->size--;
  bytes_free(&t.memory);
  free(t.values);
  return e->status;
}
static void grammar_free(Grammar *g) {
  bytes_free(&g->text);
  free(g->symbols);
  free(g->nodes);
  *g = (Grammar){0};
}

/* Comments and controls become blanks; a line's end inside a rule, or of a
 * blank line, \v. */
static void grammar_plain(unsigned char *t, size_t n) {
  bool comment = false;
  for (size_t i = 0; i < n; i++) {
    comment = t[i] != '\n' &&
              (comment || (t[i] == '#' && (!i || strchr(" \n", t[i - 1]))));
    if (comment || (t[i] < ' ' && t[i] != '\n'))
      t[i] = ' ';
    if (i && t[i - 1] == '\n' && strchr(" \n", t[i]))
      t[i - 1] = '\v';
  }
}

/* Document 0 is generated as the last check: has it an end? After a failure g
 * is empty. */
static int grammar_read(Grammar *g, const unsigned char *text, size_t n,
                        const char *name, Error *e) {
  Scan s = {.g = g, .line = 1, .e = e};
  Bytes trial = {0};
  *g = (Grammar){0};
  snprintf(g->name, sizeof g->name, "%s", name);
  if (n > GRAMMAR_FILE)
    return fail(e, 1, "%s: expected at most 2 MiB, found %zu bytes. Try: less",
                name, n);
  /* errors at the end name the last line */
  while (n && strchr(" \n", text[n - 1]))
    n--;
  /* a symbol and a node each begin at a byte of their own, but for { that are
   * never closed */
  g->symbols = grab((idx)n + 4 * GRAMMAR_NESTING, sizeof *g->symbols, e);
  g->nodes = grab((idx)n + 4 * GRAMMAR_NESTING, sizeof *g->nodes, e);
  if (!bytes_add(&g->text, text, n, e) && !bytes_add(&g->text, "\n", 2, e)) {
    grammar_plain(g->text.at, n);
    s.p = g->text.at;
    for (scan_blanks(&s); !e->status && *s.p; scan_blanks(&s))
      if (scan_take(&s, '\n'))
        s.line++;
      else
        scan_rule(&s);
    if (!g->node_count)
      scan_wrong(&s, "a rule", "story = Once upon a time.");
  }
  if (!e->status && !grammar_link(g, e))
    grammar_document(g, 0, 0, &trial, e);
  bytes_free(&trial);
  if (e->status)
    grammar_free(g);
  return e->status;
}

/* -----------------------------------------------------------------------------
 * 2  A generated text as data   sink.c's chapter 9
 *
 * Documents follow each other as they are generated, without end: nothing is
 * shuffled and nothing comes twice. Held back are the documents of a seed that
 * no training has. With --data-tokens so many tokens are generated first, and
 * are then a text like any other. A checkpoint keeps where the next block
 * begins: Data.document, and Data.offset, a token of it.
 */
#define STORY_GRAMMAR "data/text/story.grammar"
enum { HELD_DOCUMENTS = 200 };

typedef struct Generated {
  Grammar grammar;
  Source source;               /* --bos: how documents become tokens */
  Ids document;                /* the tokens of Data.document */
  Ids block;                   /* the block that was asked for last */
} Generated;

/* As file_read, without a byte order mark, and lines that end in CR LF end in
 * LF: a clone may have changed them. */
static int lines_read(const char *path, Bytes *text, Error *e) {
  size_t n = 0;
  if (file_read(path, text, e))
    return e->status;
  if (text->size > 2 && !memcmp(text->at, "\xEF\xBB\xBF", 3)) {
    text->size -= 3;
    memmove(text->at, text->at + 3, text->size);
  }
  for (size_t i = 0; i < text->size; i++)
    if (text->at[i] != '\r' || i + 1 == text->size || text->at[i + 1] != '\n')
      text->at[n++] = text->at[i];
  text->size = n;
  return 0;
}

/* Reads a grammar. */
static int grammar_load(Grammar *g, uint64_t *hash, const char *name,
                        const Source *s, Error *e) {
  char room[PATH_ROOM];
  const char *path = located(room, name, s, e);
  Bytes text = {0};
  *g = (Grammar){0};
  if (!lines_read(path, &text, e)) {
    size_t good = utf8_length(text.at, text.size);
    int line = 1;
    for (size_t i = 0; i < good; i++)
      line += text.at[i] == '\n';
    if (good < text.size)
      fail(e, 1, "%s:%d: expected UTF-8 text, found 0x%02X. Try: iconv -t "
           "utf-8 -f latin1", path, line, text.at[good]);
    else
      grammar_read(g, text.at, text.size, path, e);
    *hash = hash64(0, text.at, text.size);
  }
  bytes_free(&text);
  return e->status;
}

static int generated_document(Data *d, uint64_t seed, uint64_t number, Ids *out,
                              Error *e) {
  const Generated *t = d->drawn_from;
  Bytes text = {0};
  if (!grammar_document(&t->grammar, seed, number, &text, e))
    data_encode(d, &t->source, text.at, text.size, out, e);
  bytes_free(&text);
  return e->status;
}

/* t->document is empty at the start, and after a checkpoint was read: document
 * d->document is then generated again, and read on from d->offset. */
static const int32_t *generated_next(Data *d, uint64_t number, int n,
                                     Error *e) {
  Generated *t = d->drawn_from;
  (void)number;
  t->block.size = 0;
  while (t->block.size < (size_t)n) {
    if (!t->document.size &&
        generated_document(d, d->seed, d->document, &t->document, e))
      return NULL;
    if (d->offset < t->document.size) {
      if (id_add(&t->block, t->document.at[d->offset++], e))
        return NULL;
    } else {
      d->document++;
      t->document.size = d->offset = 0;
    }
  }
  return t->block.at;
}

static void generated_close(Data *d) {
  Generated *t = d->drawn_from;
  grammar_free(&t->grammar);
  ids_free(&t->document);
  ids_free(&t->block);
  free(t);
}

static int grammar_open(Data *d, const Source *s, int T, Error *e) {
  Generated *t = grab(1, sizeof *t, e);
  if (!t)
    return e->status;
  t->source = *s;
  d->drawn_from = t;
  d->close = generated_close;
  d->alike = true;
  if (data_open_tokenizer(d, s, e) ||
      grammar_load(&t->grammar, &d->source, s->grammar, s, e))
    return e->status;
  data_describe(d, s, 0, true, T);
  for (uint64_t i = 0; i < HELD_DOCUMENTS && !e->status; i++)
    generated_document(d, HELD_SEED, i, &d->held, e);
  while (T && (double)d->train.size < s->data_tokens && !e->status)
    generated_document(d, d->seed, d->document++, &d->train, e);
  if (s->data_tokens == 0)
    d->next = generated_next;
  return e->status;
}

/* -----------------------------------------------------------------------------
 * 3  A token from logits: --temperature, --top-k, --top-p */

/* The likeliest of y [V], which are finite, at temperature 0, of equals the
 * first; else a draw from softmax(y / temperature). */
static int token_draw(const real *y, int V, const Settings *s, Rng *rng) {
  double top = vec_max(V, y), sum = 0;
  int id = 0;
  while (y[id] < top)
    id++;
  if (s->temperature <= 0)
    return id;
  for (int v = 0; v < V; v++)
    sum += exp((y[v] - top) / s->temperature);
  double draw = rng_uniform(rng) * sum;
  for (int v = 0; v < V && draw >= 0; v++) {
    draw -= exp((y[v] - top) / s->temperature);
    id = v;
  }
  return id;
}

typedef struct Scored {
  double x;
  int id;
} Scored;
static int likelier(const void *a, const void *b) {
  const Scored *p = a, *q = b;
  if (p->x == q->x)
    return p->id - q->id;
  return p->x > q->x ? -1 : 1;
}

/* As token_draw, but of the K likeliest alone (--top-k), of equals the smaller
 * ids, and then of the fewest that hold P (--top-p). */
static int likeliest_draw(const real *y, int V, const Settings *s, Rng *rng,
                          Error *e) {
  if (!s->top_k && s->top_p >= 1)
    return token_draw(y, V, s, rng);
  Scored *by = grab(V, sizeof *by, e);
  int kept = s->top_k && s->top_k < V ? s->top_k : V, id = 0;
  double sum = 0, held = 0, top = vec_max(V, y);
  if (e->status)
    kept = 0;
  else if (s->temperature <= 0)
    kept = 1;
  for (int v = 0; by && v < V; v++)
    by[v] = (Scored){exp((y[v] - top) / fmax(s->temperature, 1e-30)), v};
  if (kept)
    qsort(by, (size_t)V, sizeof *by, likelier);
  for (int i = 0; i < kept; i++)
    sum += by[i].x;
  for (int i = 0; i < kept && s->top_p < 1; i++)
    if ((held += by[i].x) >= s->top_p * sum) {
      kept = i + 1;
      sum = held;
    }
  double draw = rng_uniform(rng) * sum;
  for (int i = 0; i < kept && draw >= 0; i++) {
    draw -= by[i].x;
    id = by[i].id;
  }
  free(by);
  return id;
}

/* -----------------------------------------------------------------------------
 * 4  generate MODEL */

/* What generate and tokenize hold: a model, ids, and text
 * that comes and goes. */
typedef struct Told {
  Trainer t;
  Ids ids;
  Bytes in, out;
} Told;
static int told_end(Told *w, Error *e) {
  trainer_free(&w->t);
  ids_free(&w->ids);
  bytes_free(&w->in);
  bytes_free(&w->out);
  return e->status;
}

#ifndef MORE_CACHE
#define MORE_CACHE(m, from, T) true   /* do cached keys serve? models.h */
#endif

/* The cache of keys and values. model_forward of one sequence ids [T] whose
 * first `from` tokens went through a before: their keys and values still lie
 * in every block's fk and v. Makes the R rows after them, to the same bits,
 * and returns R: all rows under --plain, where a block does not attend, from
 * inside a prefix, or where keys are turned anew. */
static int model_extend(const Model *m, Acts *a, const int *ids, int T,
                        int from) {
  bool whole = m->plain || from < m->c.prefix || !MORE_CACHE(m, from, T);
  for (int l = 0; l < m->c.layers; l++)
    whole = whole || !block_attends(m, l);
  if (whole)
    from = 0;
  a->past = from ? config_rows(&m->c, from) : 0;
  idx R = forward_rows(&m->c, a, T - from);
  model_forward(m, a, ids + from, 1, T - from);
  a->past = 0;
  return (int)R;
}

/* Up to `most` tokens after w->ids. The prompt is one forward, a token after it
 * one row with the cache. A full context drops the oldest but the first; then
 * keys move, and a token is a forward. */
static void generate(Told *w, const Settings *s, int most, Error *e) {
  const Tokenizer *known = &w->t.data.tokenizer;
  Model *m = &w->t.m;
  Acts *a = &w->t.a;
  int C = m->c.context, V = m->c.vocab;
  Rng rng = {hash64((uint64_t)s->train.seed, "generate", 8)};
  real *y = grab(V, sizeof(real), e);
  int *row = grab(C, sizeof(int), e);
  stop_gently();
  for (int i = 0, from = 0; i < most && !e->status && !interrupted; i++) {
    int size = (int)w->ids.size, have = (int)at_most(size, C);
    if (size > C)
      from = 0;   /* the context was full before */
    for (int k = 0; k < have; k++)
      row[k] = w->ids.at[size - have + k];
    row[0] = w->ids.at[0];
    int R = model_extend(m, a, row, have, from);
    model_logits(m, a, a->nf + (idx)(R - 1) * m->c.dim, 1, y);
    if (!model_fault(m, e) && !isfinite(vec_sum(V, y)))
      fail(e, 1, "the logits" NOT_FINITE);
    int32_t next = 0;
    if (!e->status)
      next = likeliest_draw(y, V, s, &rng, e);
    if (e->status || next == known->end)
      break;
    from = have;
    w->out.size = 0;
    id_add(&w->ids, next, e);
    if (next < known->vocab)
      tokenizer_decode(known, &next, 1, &w->out, e);
    if (w->out.size)
      fwrite(w->out.at, 1, w->out.size, stdout);
    fflush(stdout);
  }
  fputc('\n', stdout);
  free(y);
  free(row);
}

/* A model with its settings; a published one of more than `room` bytes stays in
 * its file. */
static int model_open(Settings *s, const char *path, double room, Trainer *t,
                      Error *e) {
  (void)room;
  if (!MORE_OPEN(path, room, t, e))
    checkpoint_load(path, false, t, e);
  return e->status ? e->status : model_settings(s, t, e);
}

static int verb_generate(Settings *s, Error *e) {
  Told w = {0};
  Data *d = &w.t.data;
  const char *path = s->words[0];
  if (!model_open(s, path, 4e9, &w.t, e) &&
      !data_open_tokenizer(d, &s->data, e) && !tokenizer_same(&w.t, path, e) &&
      !first_open(d, &s->data, 0, e) &&
      !acts_create(&w.t.a, &w.t.m, 1, s->model.context, ACTS_KEYS, e)) {
    int32_t start = s->data.bos ? d->tokenizer.bos : d->tokenizer.end;
    if (fixed_at(&s->data) == 1)
      start = fixed_id(d, (uint64_t)s->train.seed, 0);
    id_add(&w.ids, start, e);
    tokenizer_encode(&d->tokenizer, (const unsigned char *)s->prompt,
                     strlen(s->prompt), &w.ids, e);
    if (w.ids.size > (size_t)w.t.m.c.context)
      fprintf(stderr, "%s: a prompt of %zu tokens: of a context of %d the "
              "first and the last are read\n", s->program->name, w.ids.size,
              w.t.m.c.context);
    fputs(s->prompt, stdout);
    generate(&w, s, s->how_many ? s->how_many : 100, e);
  }
  return told_end(&w, e);
}

/* -----------------------------------------------------------------------------
 * 5  generate --grammar FILE */

/* Documents of the grammar that s names, at least so many, and so
 * many bytes of them. */
static int grammar_documents(const Settings *s, int least, size_t bytes,
                             Bytes *out, Error *e) {
  Grammar g;
  uint64_t hash;
  size_t start = out->size;
  grammar_load(&g, &hash, s->data.grammar, &s->data, e);
  for (int i = 0; !e->status && (i < least || out->size - start < bytes); i++)
    if (!grammar_document(&g, (uint64_t)s->train.seed + 1, (uint64_t)i, out, e))
      bytes_print(out, e, "\n%s\n", DOCUMENT_END);
  grammar_free(&g);
  return e->status;
}

static int grammar_generate(Settings *s, Error *e) {
  const int n = s->n_words;
  Bytes out = {0};
  if (!n && s->data.grammar[0]) {
    if (!grammar_documents(s, s->how_many ? s->how_many : 1, 0, &out, e))
      fwrite(out.at, 1, out.size, stdout);
    bytes_free(&out);
    return e->status;
  }
  if (!n || s->data.grammar[0])
    return fail(e, 2, "generate: expected one model, or --grammar FILE. Try: "
                "%s help generate", s->program->name);
  return verb_generate(s, e);
}
