/* experiments.c - the table of experiments, and the files of their results.
 * Chapters 1 and 2 of paper.c, which includes it.
 *
 * SPDX-License-Identifier: MIT
 */

enum { FLAGS_ROOM = 1024 };      /* bytes of a command's flags */

/* A list of numbers: a result's value[at .. at + n). */
typedef struct List {
  char name[40];
  int at, n;
} List;

/* What one run left: named lists of numbers, and the lines that say
 * how it came about. */
typedef struct Result {
  char row[48], corpus[40];
  int seed;
  uint64_t checksum;           /* its row's */
  char command[512];           /* repeats the run */
  char flags[2 * FLAGS_ROOM + 64];   /* all of its training's */
  char data[PATH_ROOM];        /* text and tokenizer */
  char build[256];             /* compiler and instruction set */
  char ended[640];             /* why it ended early, or "" */
  char part[PATH_ROOM];        /* its part, less .ckpt and .log; or "" */
  List *list;
  int lists;
  double *value;
  int values;
} Result;

typedef struct Own Own;
static const Own *own_of(const Settings *s) {
  return &s->own;
}

/* -----------------------------------------------------------------------------
 * 1  The table of experiments
 *
 * experiments.txt says what is trained, what the paper found and what is
 * claimed, a statement a line. A line that begins with a blank goes on with the
 * one before; # begins a comment.
 *
 *   seeds N M                      seeds 1 .. N of a row are judged, of
 *                                  headline claims' rows M where the corpus is
 *                                  the first one or one with `times`
 *   corpus NAME FILE HASH          a text of the folder --texts, known by the
 *                                  hash64 of its bytes, which a run with a
 *                                  wrong one prints; with 0 any text will do,
 *                                  and a changed one voids nothing
 *   corpus NAME FILE HASH times N  the same, where every row reads N times its
 *                                  steps and data
 *   corpus NAME FILE.grammar [HASH]   a grammar of data/text
 *   domain NAME FILE HASH          a text to measure on, not to train on; of
 *                                  a grammar the hash may be left out; a
 *                                  changed one voids nothing
 *   recipe NAME [RECIPE] FLAGS     flags to start from
 *   item NAME REFERENCE: TITLE     a table or figure; what follows is of it
 *   note TEXT                      what a reader of the item must know
 *   columns MEASURE ..             which numbers the paper prints for the
 *                                  item's rows
 *   picture KIND WORD ..           what the page draws of the item; the kinds
 *                                  are in PICTURES, below
 *   row NAME RECIPE FLAGS | NUMBER ..
 *                                  a row, trained once for every seed
 *   row NAME | NUMBER ..           a row that stands in another item, shown in
 *                                  this one too
 *   model NAME [FOLDER] | NUMBER ..
 *                                  a published model, in huggingface.co/FOLDER
 *   eval FLAGS; each FLAGS         how `./hf eval` measures the item's models,
 *                                  in a table of all or one by one; TEXTS is
 *                                  the folder --texts, NAME the model's
 *   claim NAME KIND [headline|long|twice|more] REFERENCE: STATEMENT
 *                                  long: on corpora of times N too;
 *                                  twice: there by M seeds, as N left it open;
 *                                  more: by M seeds on the first corpus
 *   rule SIDE < SIDE [by M]        of a claim of kind differs; = .. within M of
 *                                  kind equal; SIDE < SIDE < SIDE .. of kind
 *                                  ordered; < > <= >= = of kind exact, where
 *                                  the relation may fail by M
 *   rule SIDE < NUMBER [by M] [from N]
 *                                  N: what SIDE has where there is no effect
 *   needs SIDE < SIDE              without which the claim is not judged; < >
 *                                  <= >= or = .. within M; up to NEEDS times
 *
 * A SIDE is ROW.MEASURE or a number. Among a row's flags, +WORD asks for one
 * more measurement (+onset, +until, +rise, +known: onset.c; +signs, +cache:
 * remedies.c), and after=ROW goes on from that row's model and keeps it: these
 * flags are of the training, the data and the context. A paper's number is -,
 * where training failed there, or . where none is printed, or a number, which
 * an asterisk may follow (measured on proxy scores) and a ~ precede
 * (second-hand: our copy has lost it).
 */
#define EXPERIMENTS_FILE "data/paper/experiments.txt"
/* The WORDs that may follow a +. */
#define ALSO \
  "cache dense domains grid known map onset rise signs swap until valid"
enum { EXPERIMENTS_MOST = 1 << 20 };   /* bytes of the file */

/* A row: one configuration, trained once for every seed. */
typedef struct Row {
  const char *name;
  char flags[FLAGS_ROOM];      /* the recipe's, then its own */
  char also[64];               /* what else is measured: "domains map swap" */
  int after;                   /* the row whose model it goes on from, or -1 */
  uint64_t checksum;           /* of its flags, of `also` and of `after`'s */
  int line;
} Row;

/* One number of the paper: its text, and what it says; NAN
 * where there is none. */
typedef struct Printed {
  const char *text;
  double value;
  bool second_hand;
} Printed;
enum { COLUMNS = 9 };

/* A row as an item shows it, with the paper's numbers
 * for the item's columns. */
typedef struct Shown {
  int row, line;
  Printed paper[COLUMNS];
} Shown;

/* ROW.MEASURE, or where row is -1 a number. */
typedef struct Side {
  int row, line;
  const char *measure;
  double number;
} Side;
enum { SIDES = 16, NEEDS = 4 };
typedef enum ClaimKind {
  CLAIM_DIFFERS,
  CLAIM_EQUAL,
  CLAIM_ORDERED,
  CLAIM_EXACT
} ClaimKind;
typedef enum Relation { LESS, GREATER, SAME, NOT_ABOVE, NOT_BELOW } Relation;

/* side[0] RELATION side[1] (RELATION side[2] ..), by or within the margin;
 * judged only where every need holds of the means: after the rule's sides come
 * each need's left and right. */
typedef struct Claim {
  const char *name, *reference, *statement;
  int item, line, sides, needs;
  ClaimKind kind;
  bool headline, longer, twice, more;
  Relation relation, needed[NEEDS];
  Side side[SIDES + 2 * NEEDS];
  double margin, from;         /* from: NAN where it is not said */
  double within[NEEDS];        /* of a need that says =; else 0 */
} Claim;

/* A picture that an item wants (chapter 7), and of what. */
typedef enum PictureKind {
  PICTURE_CURVES, PICTURE_DOTS, PICTURE_DOMAINS, PICTURE_OVER, PICTURE_RATIO,
  PICTURE_NORMS, PICTURE_ANGLES, PICTURE_GRID, PICTURE_ONSET, PICTURE_CORNERS,
  PICTURE_ALPHA, PICTURE_MAP, PICTURE_TOY,                  /* of cells */
  PICTURE_KINDS } PictureKind;
enum { PICTURES_MOST = 6, PICTURE_WORDS = 8 };
typedef struct Picture {
  PictureKind kind;
  int words;
  const char *word[PICTURE_WORDS];
} Picture;

/* A table or figure of the paper: its rows are shown[from .. from + count). */
typedef struct Item {
  const char *name, *reference, *title, *column[COLUMNS];
  const char *note;            /* NULL for none */
  int columns, from, count, pictures;
  Picture picture[PICTURES_MOST];
} Item;

/* A text that is trained on: FILE of the folder that --texts names, or a
 * grammar of data/text. */
typedef struct Corpus {
  const char *name, *file;
  uint64_t hash;
  bool grammar, domain;
  int times;
} Corpus;

typedef struct Recipe {
  const char *name;
  char flags[FLAGS_ROOM];
} Recipe;

/* A model whose weights were published, in huggingface.co/FOLDER, with the
 * paper's numbers for the columns of its item. */
typedef struct Published {
  const char *name, *folder;
  int item;
  Printed paper[COLUMNS];
} Published;

/* The flags of an evaluation, of all models of an item or of each. */
typedef struct Evaluation {
  const char *flags;
  int item;
  bool each;
} Evaluation;

typedef struct Experiments {
  char *text;   /* the file, cut into words in place; all names point into it */
  Corpus *corpus;
  Recipe *recipe;
  Item *item;
  Row *row;
  Shown *shown;
  Claim *claim;
  Published *model;
  Evaluation *eval;
  int corpora, recipes, items, rows, showns, claims, models, evals;
  int seeds, headline_seeds;   /* judged: 1 .. seeds; seed 0 is for tuning */
} Experiments;

/* Counts the ways of measuring: another one voids every result. */
static const uint64_t MEASUREMENTS = 1;

static const char *const CLAIM_KINDS[] = {
  "differs", "equal", "ordered", "exact"};
/* The sign of each Relation. */
static const char *const SIGNS[] = {"<", ">", "=", "<=", ">="};

/* The kinds of pictures: their names, and how many words they take at least. */
static const struct {
  const char *name;
  int least;
} PICTURES[PICTURE_KINDS] = {
  [PICTURE_CURVES] = {"curves", 1},   [PICTURE_DOTS] = {"dots", 1},
  [PICTURE_DOMAINS] = {"domains", 1}, [PICTURE_OVER] = {"over", 2},
  [PICTURE_RATIO] = {"ratio", 1},     [PICTURE_NORMS] = {"norms", 1},
  [PICTURE_ANGLES] = {"angles", 0},   [PICTURE_GRID] = {"grid", 0},
  [PICTURE_ONSET] = {"onset", 0},     [PICTURE_CORNERS] = {"corners", 1},
  [PICTURE_ALPHA] = {"alpha", 1},     [PICTURE_MAP] = {"map", 0},
  [PICTURE_TOY] = {"toy", 0}};

typedef struct Reading {
  Experiments *x;
  const char *file;
  const char *example;         /* a statement like the one that is read */
  const char *name;            /* what that one names */
  char *at;                    /* what is left of it */
  int line;
  Item *item;                  /* it stands below these, or NULL */
  Claim *claim;
  Error *e;
} Reading;

static int wrong(const Reading *r, const char *expected, const char *found) {
  return fail(r->e, 1, "%s:%d: expected %s, found '%.40s'. Try: %s", r->file,
              r->line, expected, found, r->example);
}

/* The next word of the statement, cut out in place; "" at its end. */
static char *next_word(Reading *r) {
  char *word = r->at + strspn(r->at, " ");
  r->at = word + strcspn(word, " ");
  if (*r->at)
    *r->at++ = 0;
  r->at += strspn(r->at, " ");
  return word;
}

static bool is_name(const char *word) {
  size_t n = strspn(word, "abcdefghijklmnopqrstuvwxyz0123456789-");
  return n && n < sizeof((Result *)0)->corpus && !word[n] && *word != '-';
}

static bool is_number(const char *word, double *x) {
  char *end;
  *x = strtod(word, &end);
  return *word && !*end && isfinite(*x);
}

/* Which of n entries of `size` bytes, each of which begins with its name, it
 * is; -1: none. */
static int entry_of(const void *table, int n, size_t size, const char *name) {
  const char *at = table;
  for (int i = 0; i < n; i++, at += size)
    if (!strcmp(*(const char *const *)(const void *)at, name))
      return i;
  return -1;
}

static int experiments_row(const Experiments *x, const char *name) {
  return entry_of(x->row, x->rows, sizeof *x->row, name);
}

static bool is_seeds(const char *word, double *n) {
  return is_number(word, n) && *n >= 2 && *n <= 99 && *n <= floor(*n);
}

static int read_seeds(Reading *r) {
  double few, many;
  const char *first = next_word(r), *second = next_word(r);
  if (!is_seeds(first, &few) || !is_seeds(second, &many) || many < few)
    return wrong(r, "two counts of seeds, 2 to 99, the second no smaller",
                 is_seeds(first, &few) ? second : first);
  r->x->seeds = (int)few;
  r->x->headline_seeds = (int)many;
  return 0;
}

static int read_corpus(Reading *r) {
  Corpus *c = &r->x->corpus[r->x->corpora++];
  const char *file = next_word(r), *word = next_word(r);
  const char *dot = strrchr(file, '.');
  const char *hash = strcmp(word, "times") ? word : "";
  char *end;
  double times = 1;
  *c = (Corpus){r->name, file, strtoull(hash, &end, 16),
                dot > file && !strcmp(dot, ".grammar"), *r->example == 'd', 1};
  if (!*file || *end || !(*hash || c->grammar))
    return wrong(r, "NAME FILE HASH", c->name);
  if (strlen(c->name) > 28)    /* +domains has "sink_1:0.2/NAME" */
    return wrong(r, "a name of at most 28 letters", c->name);
  for (const Corpus *was = r->x->corpus; was < c; was++)
    if (!strcmp(was->name, c->name))
      return wrong(r, "a new corpus", c->name);
  if (*hash)
    word = next_word(r);
  if (!*word)
    return 0;
  if (strcmp(word, "times"))
    return wrong(r, "times N", word);
  word = next_word(r);
  if (!is_number(word, &times) || times < 1 || times > 99 ||
      times > floor(times) || *r->at)
    return wrong(r, "times N, N from 1 to 99", word);
  c->times = (int)times;
  return 0;
}

/* [RECIPE] FLAGS into flags; of a row, words with a + into
 * also, after=ROW into *after. */
static int read_flags(Reading *r, char flags[FLAGS_ROOM], Row *row) {
  const Experiments *x = r->x;
  for (const char *word = next_word(r); *word; word = next_word(r)) {
    bool also = row && *word == '+';
    char *to = flags;
    size_t room = FLAGS_ROOM;
    if (also) {
      to = row->also;
      room = sizeof row->also;
    }
    size_t n = strlen(to);
    if (row && !strncmp(word, "after=", 6)) {
      row->after = experiments_row(x, word + 6);
      if (row->after < 0)
        return wrong(r, "a row above", word + 6);
      continue;
    }
    if (also && !has_word(ALSO, word + 1))
      return wrong(r, "+ and one of " ALSO, word);
    if (!also && !*flags && strncmp(word, "--", 2)) {
      int i = entry_of(x->recipe, x->recipes, sizeof *x->recipe, word);
      if (i < 0)
        return wrong(r, "flags, or a recipe above", word);
      word = x->recipe[i].flags;
    }
    if (snprintf(to + n, room - n, "%s%s", n ? " " : "", word + also) >=
        (int)(room - n))
      return wrong(r, "fewer flags", word + also);
  }
  return 0;
}

static int read_recipe(Reading *r) {
  Recipe *made = &r->x->recipe[r->x->recipes];
  made->name = r->name;
  if (entry_of(r->x->recipe, r->x->recipes, sizeof *made, r->name) >= 0)
    return wrong(r, "a name that no recipe above has", r->name);
  if (read_flags(r, made->flags, NULL))
    return 1;
  r->x->recipes++;   /* known from here on */
  return 0;
}

/* REFERENCE: TITLE, the reference up to its colon, to the statement's end. */
static int read_title(Reading *r, const char **reference, const char **title) {
  char *colon = strstr(r->at, ": ");
  if (!colon)
    return wrong(r, "REFERENCE: TITLE", r->at);
  *colon = 0;
  *reference = r->at;
  *title = colon + 2 + strspn(colon + 2, " ");
  return 0;
}

static int read_item(Reading *r) {
  const Experiments *x = r->x;
  if (entry_of(x->item, x->items, sizeof *x->item, r->name) >= 0)
    return wrong(r, "a name that no item above has", r->name);
  Item *i = &r->x->item[r->x->items++];
  *i = (Item){.name = r->name, .from = r->x->showns};
  return read_title(r, &i->reference, &i->title);
}

static int read_note(Reading *r) {
  if (r->item->note || !*r->at)
    return wrong(r, "one note an item", r->at);
  r->item->note = r->at;
  return 0;
}

static int read_columns(Reading *r) {
  Item *item = r->item;
  if (item->count)
    return wrong(r, "columns below an item, above its rows", r->at);
  while (*r->at) {
    if (item->columns == COLUMNS)
      return wrong(r, "at most 9 columns", r->at);
    item->column[item->columns++] = next_word(r);
  }
  return 0;
}

static int read_picture(Reading *r) {
  if (r->item->pictures == PICTURES_MOST)
    return wrong(r, "at most 6 pictures", r->at);
  Picture *p = &r->item->picture[r->item->pictures++];
  const char *kind = next_word(r);
  int k = entry_of(PICTURES, PICTURE_KINDS, sizeof *PICTURES, kind);
  if (k < 0)
    return wrong(r, "a kind of picture", kind);
  for (p->kind = (PictureKind)k; *r->at; p->word[p->words++] = next_word(r))
    if (p->words == PICTURE_WORDS)
      return wrong(r, "fewer words", r->at);
  if (p->words < PICTURES[k].least)
    return wrong(r, "of what it is a picture", kind);
  return 0;
}

/* The paper's numbers behind the bar, one for each of the item's columns; none
 * without one. */
static int read_printed(Reading *r, char *bar, Printed *p) {
  for (int i = 0; i < COLUMNS; i++)
    p[i] = (Printed){".", NAN, false};
  if (!bar)
    return 0;
  r->at = bar + 1;
  for (int i = 0; i < r->item->columns; i++) {
    char *word = next_word(r), *number = word + (*word == '~'), *end;
    double value = strtod(number, &end);
    bool none = !strcmp(word, "-") || !strcmp(word, ".");
    if (!none && (end == number || end[*end == '*'] || !isfinite(value)))
      return wrong(r, "a number for each column, - or .", word);
    p[i] = (Printed){word, none ? NAN : value, *word == '~'};
  }
  if (*r->at)
    return wrong(r, "as many numbers as columns", r->at);
  return 0;
}

/* A row that is named before it is known is -2 less its name's place in the
 * text: see link_row. */
static int read_row(Reading *r) {
  Experiments *x = r->x;
  const char *name = r->name;
  char *bar = strchr(r->at, '|');
  int known = experiments_row(x, name);
  if (bar)
    *bar = 0;
  if (r->at[strspn(r->at, " ")]) {
    Row *row = &x->row[x->rows];
    *row = (Row){.name = name, .after = -1, .line = r->line};
    if (known >= 0)
      return wrong(r, "a row's flags once", name);
    if (read_flags(r, row->flags, row))
      return 1;
    const bool onset = has_word(row->also, "onset");
    if (!onset && (has_word(row->also, "until") || has_word(row->also, "rise")))
      return wrong(r, "+onset beside +until or +rise", name);
    if (onset && (has_word(row->also, "dense") || has_word(row->also, "valid")))
      return wrong(r, "+onset without +dense and +valid", name);
    uint64_t base = MEASUREMENTS;
    if (row->after >= 0)
      base = x->row[row->after].checksum;
    row->checksum = hash64(hash64(base, row->also, strlen(row->also)),
                           row->flags, strlen(row->flags));
    known = x->rows++;
  }
  Shown *shown = &x->shown[x->showns++];
  shown->row = known >= 0 ? known : -2 - (int)(name - x->text);
  shown->line = r->line;
  r->item->count++;
  return read_printed(r, bar, shown->paper);
}

/* model NAME FOLDER | NUMBERS; without FOLDER what it was
 * where NAME stood first. */
static int read_model(Reading *r) {
  Experiments *x = r->x;
  Published *m = &x->model[x->models];
  char *bar = strchr(r->at, '|');
  *m = (Published){.name = r->name, .item = x->items - 1};
  if (bar)
    *bar = 0;
  for (int i = 0; i < x->models; i++)
    if (!strcmp(x->model[i].name, m->name))
      m->folder = x->model[i].folder;
  if (r->at[strspn(r->at, " ")])
    m->folder = next_word(r);
  if (!m->folder)
    return wrong(r, "a model's folder where it stands first", m->name);
  x->models++;
  return read_printed(r, bar, m->paper);
}

/* eval FLAGS: once for all models of the item; each FLAGS: once for each. */
static int read_eval(Reading *r) {
  bool each = !strncmp(r->example, "each", 4);
  r->x->eval[r->x->evals++] = (Evaluation){r->at, r->x->items - 1, each};
  return 0;
}

static int read_claim(Reading *r) {
  Experiments *x = r->x;
  if (entry_of(x->claim, x->claims, sizeof *x->claim, r->name) >= 0)
    return wrong(r, "a name that no claim above has", r->name);
  Claim *c = &x->claim[x->claims++];
  const char *word = next_word(r);
  int kind = entry_of(CLAIM_KINDS, 4, sizeof *CLAIM_KINDS, word);
  if (kind < 0)
    return wrong(r, "differs, equal, ordered or exact", word);
  *c = (Claim){.name = r->name,
               .item = x->items - 1,
               .line = r->line,
               .kind = (ClaimKind)kind,
               .headline = !strncmp(r->at, "headline ", 9),
               .twice = !strncmp(r->at, "twice ", 6),
               .more = !strncmp(r->at, "more ", 5)};
  c->longer = c->twice || !strncmp(r->at, "long ", 5);
  if (c->longer || c->headline || c->more)
    next_word(r);
  /* A line's end and the blank that begins the next are one blank. */
  for (char *two; (two = strstr(r->at, "  ")) != NULL;)
    memmove(two, two + 1, strlen(two));
  return read_title(r, &c->reference, &c->statement);
}

/* ROW.MEASURE or a number. Rows are looked up when all are known. */
static int read_side(Reading *r, Side *side) {
  char *word = next_word(r), *dot = strchr(word, '.');
  *side = (Side){.row = -1};
  if (is_number(word, &side->number))
    return 0;
  if (!dot || dot == word || !dot[1])
    return wrong(r, "ROW.MEASURE or a number", word);
  *dot = 0;
  *side = (Side){-2 - (int)(word - r->x->text), r->line, dot + 1, NAN};
  return 0;
}

static int read_relation(Reading *r, Relation *relation) {
  const char *word = next_word(r);
  int i = entry_of(SIGNS, 5, sizeof *SIGNS, word);
  *relation = (Relation)i;
  return i < 0 ? wrong(r, "< > = <= or >=", word) : 0;
}

/* Do all n sides have numbers, so that no run decides? */
static bool sides_fixed(const Side *side, int n) {
  for (int i = 0; i < n; i++)
    if (side[i].row != -1)
      return false;
  return true;
}

/* Which of a rule's two sides is a number; -1: neither. */
static int side_number(const Claim *c) {
  if (c->side[0].row == -1)
    return 0;
  return c->side[1].row == -1 ? 1 : -1;
}

static int read_rule(Reading *r) {
  /* what the relations of each ClaimKind begin with */
  static const char *const fitting[] = {"<>", "=", "<>", "<>="};
  Claim *c = r->claim;
  Relation relation = LESS;
  if (c->sides)
    return wrong(r, "one rule below a claim", r->at);
  if (read_side(r, &c->side[c->sides++]))
    return 1;
  while (*r->at && strncmp(r->at, "by ", 3) && strncmp(r->at, "within ", 7) &&
         strncmp(r->at, "from ", 5)) {
    if (c->sides == SIDES)
      return wrong(r, "at most 16 sides", r->at);
    if (read_relation(r, &relation) || read_side(r, &c->side[c->sides++]))
      return 1;
    if (c->sides > 2 && relation != c->relation)
      return wrong(r, "one relation all along", SIGNS[relation]);
    c->relation = relation;
  }
  bool ordered = c->kind == CLAIM_ORDERED;
  if (c->sides < 2 + ordered || (!ordered && c->sides > 2))
    return wrong(r, "two sides, three or more of what is ordered", c->name);
  if (sides_fixed(c->side, c->sides))
    return wrong(r, "ROW.MEASURE on one side", c->name);
  if (!strchr(fitting[c->kind], *SIGNS[c->relation]) ||
      (c->kind != CLAIM_EXACT && c->relation > SAME))
    return wrong(r, "a relation of the claim's kind", c->name);
  c->from = NAN;
  if (*r->at && *r->at != 'f') {
    next_word(r);   /* by, within */
    const char *margin = next_word(r);
    if (!is_number(margin, &c->margin) || c->margin < 0)
      return wrong(r, "a margin of 0 or more", margin);
  }
  if (!strncmp(r->at, "from ", 5)) {
    next_word(r);
    const char *from = next_word(r);
    if (!is_number(from, &c->from) || c->kind != CLAIM_DIFFERS ||
        side_number(c) < 0)
      return wrong(r, "from NUMBER, of a row that differs from a number", from);
  }
  if (c->kind == CLAIM_EQUAL && !(c->margin > 0))
    return wrong(r, "within what they are equal, as A.m = B.m within 0.02",
                 "none");
  if (*r->at)
    return wrong(r, "the end of the rule", r->at);
  return 0;
}

static int read_needs(Reading *r) {
  Claim *c = r->claim;
  if (!c->sides || c->needs == NEEDS)
    return wrong(r, "at most 4 needs below a claim and its rule", r->at);
  const int i = c->needs++;
  Side *side = &c->side[c->sides + 2 * i];
  if (read_side(r, &side[0]) || read_relation(r, &c->needed[i]) ||
      read_side(r, &side[1]))
    return 1;
  if (sides_fixed(side, 2))
    return wrong(r, "ROW.MEASURE on one side", c->name);
  if (c->needed[i] == SAME) {
    const char *within = next_word(r);
    if (strcmp(within, "within"))
      return wrong(r, "within what they are equal", within);
    const char *margin = next_word(r);
    if (!is_number(margin, &c->within[i]) || !(c->within[i] > 0))
      return wrong(r, "within what they are equal", margin);
  }
  if (*r->at)
    return wrong(r, "the end of the line", r->at);
  return 0;
}

/* The statements, by their first word. */
enum { STATEMENT_KINDS = 15 };
static const struct {
  const char *word;
  int (*read)(Reading *);
  bool named;                  /* a NAME follows */
  char below;                  /* what must stand above: an item, a claim, 0 */
  const char *example;         /* one well formed */
} STATEMENTS[STATEMENT_KINDS] = {
  {"row",     read_row,     true,  'i', "row k bos --extra k | 73.34 0.00, below an item"},
  {"claim",   read_claim,   true,  'i', "claim NAME differs section 7.3: STATEMENT"},
  {"rule",    read_rule,    false, 'c', "rule k-bias.alpha_1 < default.alpha_1 by 0.01"},
  {"needs",   read_needs,   false, 'c', "needs default.times_1 > 2"},
  {"item",    read_item,    true,  0,   "item table4 section 7.3, Table 4: Biases"},
  {"note",    read_note,    false, 'i', "note m_64 is the map's last row"},
  {"columns", read_columns, false, 'i', "columns alpha_1 loss"},
  {"picture", read_picture, false, 'i', "picture curves loss alpha_1"},
  {"model",   read_model,   true,  'i', "model gpt2-xl openai-community/gpt2-xl | 77.00"},
  {"eval",    read_eval,    false, 'i', "eval --text TEXTS/books.txt --inputs"},
  {"each",    read_eval,    false, 'i', "each --text TEXTS/books.txt --report out/NAME.html"},
  {"recipe",  read_recipe,  true,  0,   "recipe bos small --fix-token 1"},
  {"corpus",  read_corpus,  true,  0,   "corpus books books.txt 0123456789abcdef"},
  {"domain",  read_corpus,  true,  0,   "domain code code.grammar"},
  {"seeds",   read_seeds,   false, 0,   "seeds 3 5"}};

static int read_statement(Reading *r) {
  Experiments *x = r->x;
  const char *word = next_word(r);
  int i = entry_of(STATEMENTS, STATEMENT_KINDS, sizeof *STATEMENTS, word);
  if (i < 0) {
    r->example = "a # before a comment";
    return wrong(r, "row, claim, rule, needs, item, note, columns, picture, "
                 "model, eval, each, recipe, corpus, domain or seeds", word);
  }
  const char below = STATEMENTS[i].below;
  r->example = STATEMENTS[i].example;
  r->item = x->items ? &x->item[x->items - 1] : NULL;
  r->claim = x->claims ? &x->claim[x->claims - 1] : NULL;
  if ((below == 'i' && !r->item) || (below == 'c' && !r->claim))
    return wrong(r, "an item or a claim above", word);
  if (STATEMENTS[i].named && !is_name(r->name = next_word(r)))
    return wrong(r, "a name", r->name);
  return STATEMENTS[i].read(r);
}

static int link_row(Reading *r, int *row, int line) {
  if (*row > -2)
    return 0;
  const char *name = r->x->text - 2 - *row;
  r->line = line;
  *row = experiments_row(r->x, name);
  return *row < 0 ? wrong(r, "a row that stands somewhere", name) : 0;
}

static int side_count(const Claim *c) { return c->sides + 2 * c->needs; }

static int link_rows(Reading *r) {
  Experiments *x = r->x;
  r->example = "its name, or row NAME FLAGS";
  for (int i = 0; i < x->items; i++)
    for (int k = 0; k < x->item[i].count; k++) {
      Shown *shown = &x->shown[x->item[i].from + k];
      if (link_row(r, &shown->row, shown->line))
        return 1;
    }
  for (int i = 0; i < x->claims; i++) {
    Claim *c = &x->claim[i];
    r->line = c->line;
    if (!c->sides)
      return wrong(r, "a rule below the claim", c->name);
    for (int k = 0; k < side_count(c); k++)
      if (link_row(r, &c->side[k].row, c->side[k].line))
        return 1;
  }
  return 0;
}

static void experiments_free(Experiments *x) {
  free(x->text);
  free(x->corpus);
  free(x->recipe);
  free(x->item);
  free(x->row);
  free(x->model);
  free(x->eval);
  free(x->shown);
  free(x->claim);
  *x = (Experiments){0};
}

static int experiments_read(Experiments *x, const unsigned char *text, size_t n,
                            const char *name, Error *e) {
  *x = (Experiments){.seeds = 3, .headline_seeds = 5};
  Reading r = {.x = x, .file = name, .line = 1, .e = e};
  idx lines = 1;   /* of each kind there are no more than these */
  if (n > EXPERIMENTS_MOST)
    return fail(e, 1, "%s: expected at most %d bytes, found %zu. Try: the file "
                "that came with sink", name, EXPERIMENTS_MOST, n);
  if (!(x->text = grab((idx)n + 2, 1, e)))
    return e->status;
  memcpy(x->text, text, n);
  for (size_t i = 0; i < n; i++)
    lines += text[i] == '\n';
  x->corpus = grab(lines, sizeof *x->corpus, e);
  x->recipe = grab(lines, sizeof *x->recipe, e);
  x->item = grab(lines, sizeof *x->item, e);
  x->row = grab(lines, sizeof *x->row, e);
  x->shown = grab(lines, sizeof *x->shown, e);
  x->claim = grab(lines, sizeof *x->claim, e);
  x->model = grab(lines, sizeof *x->model, e);
  x->eval = grab(lines, sizeof *x->eval, e);
  for (char *at = x->text, *end, *stop = at + n; !e->status && at < stop;
       at = end + 1) {
    int more = 1;
    for (end = at; end < stop && (*end != '\n' || end[1] == ' '); end++) {
      more += *end == '\n';
      if (strchr("\t\r\n", *end))   /* it finds a 0, too */
        *end = ' ';
    }
    *end = 0;
    for (char *last = end; last > at && last[-1] == ' ';)
      *--last = 0;
    r.at = at;
    if (*at != '#' && at[strspn(at, " ")])
      read_statement(&r);
    r.line += more;
  }
  if (!e->status)
    link_rows(&r);
  if (e->status)
    experiments_free(x);
  return e->status;
}

static bool item_shows(const Experiments *x, const Item *item, int row) {
  for (int k = 0; k < item->count; k++)
    if (x->shown[item->from + k].row == row)
      return true;
  return false;
}

static bool claim_uses(const Claim *c, int row) {
  for (int k = 0; k < side_count(c); k++)
    if (c->side[k].row == row)
      return true;
  return false;
}

/* Is the row shown in the item, or judged there? item -1: all of them. */
static bool item_has(const Experiments *x, int item, int row) {
  if (item < 0 || item_shows(x, &x->item[item], row))
    return true;
  for (int i = 0; i < x->claims; i++)
    if (x->claim[i].item == item && claim_uses(&x->claim[i], row))
      return true;
  return false;
}

/* Is a claim judged on a corpus that is not the table's first and has that many
 * times? A headline is, and with more than one one that says long. */
static bool claim_again(const Claim *c, int times) {
  return c->headline || (c->longer && times > 1);
}

/* Is it a row of such a claim? With times 1: of a headline. */
static bool row_again(const Experiments *x, int row, int times) {
  for (int i = 0; i < x->claims; i++)
    if (claim_again(&x->claim[i], times) && claim_uses(&x->claim[i], row))
      return true;
  return false;
}

/* How many seeds of a row its claims are judged by on the first corpus or on
 * one of `times`: more of a headline claim's, of one that asks for them, and
 * with `times` above 1 of a claim's that is looked at twice. */
static int row_seeds(const Experiments *x, int row, bool first, int times) {
  for (const Claim *c = x->claim; c < x->claim + x->claims; c++) {
    const bool longer = times > 1 && (c->headline || c->twice);
    const bool here = first && (c->headline || c->more);
    if ((longer || here) && claim_uses(c, row))
      return x->headline_seeds;
  }
  return x->seeds;
}

/* -----------------------------------------------------------------------------
 * 2  Result files: data/results/CORPUS/ROW-SEED.csv
 *
 * Lines of #KEY TEXT, then lines of NAME,NUMBER,NUMBER ..: six digits, nan
 * where there is none. It holds no clock, path or number of threads: the same
 * build repeats the same bytes.
 */
static const char RESULT_HEAD[] = "# sink result 1\n";
static const char BY_TOY[] = "made by the toy";   /* #data of a toy */

static int result_add(Result *r, const char *name, const double *x, int n,
                      Error *e) {
  if (!n)                      /* no line of a file is without a number */
    return e->status;
  List *list = realloc(r->list, ((size_t)r->lists + 1) * sizeof *list);
  if (list)
    r->list = list;
  double *value = realloc(r->value,
                          ((size_t)r->values + (size_t)n + 1) * sizeof *value);
  if (value)
    r->value = value;
  if (!list || !value)
    return fail(e, 1, "out of memory: no room for %d numbers. Try: again", n);
  list += r->lists++;
  *list = (List){.at = r->values, .n = n};
  snprintf(list->name, sizeof list->name, "%s", name);
  memcpy(value + r->values, x, (size_t)n * sizeof *x);
  r->values += n;
  return 0;
}

static void result_free(Result *r) {
  free(r->list);
  free(r->value);
  *r = (Result){0};
}

static int record_list(Result *r, Error *e, const double *x, int n,
                       const char *format, ...) {
  char name[sizeof r->list->name];
  va_list args;
  va_start(args, format);
  bool cut = vsnprintf(name, sizeof name, format, args) >= (int)sizeof name;
  va_end(args);
  if (cut)
    return fail(e, 1, "%s..: this name is too long. Try: a shorter one", name);
  return result_add(r, name, x, n, e);
}
#define record(r, e, x, ...) record_list(r, e, (double[]){x}, 1, __VA_ARGS__)

/* The numbers that eval would print, which are freed. */
static int record_all(Result *r, Numbers *told, Error *e) {
  for (int i = 0; i < told->n; i++)
    record(r, e, told->at[i].x, "%s", told->at[i].name);
  numbers_free(told);
  return e->status;
}

/* A list's numbers, and how many in *n; NULL and 0 where there is none. */
static const double *result_find(const Result *r, const char *name, int *n) {
  *n = 0;
  for (int i = 0; i < r->lists; i++)
    if (!strcmp(r->list[i].name, name)) {
      *n = r->list[i].n;
      return r->value + r->list[i].at;
    }
  return NULL;
}

/* NAME, NAME[i] (from 0) or NAME..k: sink_1..5 is sink_1 + .. + sink_5. NAN:
 * there is none. */
static double result_number(const Result *r, const char *name) {
  int n, stem = (int)strcspn(name, "[.");   /* of NAME[i] or NAME_1..k */
  const double *x = result_find(r, name, &n);
  char each[64];
  if (x || !name[stem] || stem > 40)
    return x && n ? x[0] : NAN;
  const bool indexed = name[stem] == '[';
  const char *digit = name + stem + 1;
  if (!indexed && *digit == '.')
    digit++;
  char *end;
  long to = strtol(digit, &end, 10);
  if (end == digit || strcmp(end, indexed ? "]" : ""))
    return NAN;
  snprintf(each, sizeof each, "%.*s", stem, name);
  if (indexed) {
    x = result_find(r, each, &n);
    return x && to >= 0 && to < n ? x[to] : NAN;
  }
  char *digits = strrchr(each, '_');
  if (strncmp(name + stem, "..", 2) || !digits)
    return NAN;
  long from = strtol(digits + 1, NULL, 10);
  double sum = from <= to && to - from < 100 ? 0 : NAN;
  for (long i = from; i <= to && !isnan(sum); i++) {
    snprintf(digits, 22, "_%ld", i);
    x = result_find(r, each, &n);
    sum += x && n ? x[0] : NAN;
  }
  return sum;
}

/* The lines at the head: where each is kept, and how much goes there. */
typedef struct HeadLine {
  const char *key;
  size_t at, room;
} HeadLine;
#define HEAD_LINE(key) {#key, offsetof(Result, key), sizeof ((Result *)0)->key}
static const HeadLine HEAD_LINES[] = {
  HEAD_LINE(row), HEAD_LINE(corpus), HEAD_LINE(command), HEAD_LINE(flags),
  HEAD_LINE(data), HEAD_LINE(build), HEAD_LINE(ended)};
enum { HEAD_COUNT = sizeof HEAD_LINES / sizeof *HEAD_LINES };

static int result_text(const Result *r, Bytes *out, Error *e) {
  bytes_print(out, e, "%s", RESULT_HEAD);
  for (int i = 0; i < HEAD_COUNT; i++) {
    const char *text = (const char *)r + HEAD_LINES[i].at;
    bytes_print(out, e, "#%s ", HEAD_LINES[i].key);
    bytes_add(out, text, strlen(text), e);
    bytes_add(out, "\n", 1, e);
  }
  bytes_print(out, e, "#seed %d\n#checksum %016llx\n", r->seed,
              (unsigned long long)r->checksum);
  for (int i = 0; i < r->lists && !e->status; i++) {
    bytes_print(out, e, "%s", r->list[i].name);
    for (int k = 0; k < r->list[i].n; k++)
      bytes_print(out, e, ",%.6g", r->value[r->list[i].at + k]);
    bytes_print(out, e, "\n");
  }
  return e->status;
}

/* #KEY TEXT into its place. */
static bool read_head(Result *r, const char *line) {
  size_t n = strcspn(line, " ");
  const char *text = line + n + 1;
  if (!line[n])
    return false;
  if (!strncmp(line, "#seed ", 6)) {
    r->seed = (int)strtol(text, NULL, 10);
    return true;
  }
  if (!strncmp(line, "#checksum ", 10)) {
    r->checksum = strtoull(text, NULL, 16);
    return true;
  }
  for (const HeadLine *h = HEAD_LINES; h < HEAD_LINES + HEAD_COUNT; h++)
    if (strlen(h->key) == n - 1 && !strncmp(line + 1, h->key, n - 1))
      return snprintf((char *)r + h->at, h->room, "%s", text) >= 0;
  return false;
}

/* A line of numbers, into room for as many as the file has bytes. */
static bool read_numbers(Result *r, char *line, double *room, Error *e) {
  int n = 0;
  char *at = strchr(line, ',');
  if (!at)
    return false;
  for (*at++ = 0; *at; n++) {
    char *end;
    room[n] = strtod(at, &end);
    if (end == at || (*end && *end != ','))
      return false;
    at = end + (*end == ',');
  }
  return n && !result_add(r, line, room, n, e);
}

static int result_read(Result *r, const unsigned char *text, size_t n,
                       const char *name, Error *e) {
  size_t head = sizeof RESULT_HEAD - 1;
  *r = (Result){0};
  if (n < head || memcmp(text, RESULT_HEAD, head) || text[n - 1] != '\n' ||
      memchr(text, 0, n))
    return fail(e, 1, "%s: not a whole result of ./paper. Try: delete it and "
                "run it again", name);
  char *copy = grab((idx)n + 1, 1, e);
  double *room = grab((idx)n / 2 + 1, sizeof *room, e);
  int line = 1;
  if (!e->status)
    memcpy(copy, text, n);
  for (char *at = copy + head, *end; !e->status && at < copy + n;
       at = end + 1) {
    end = strchr(at, '\n');
    *end = 0;
    line++;
    bool good = *at == '#' ? read_head(r, at) : read_numbers(r, at, room, e);
    if (!good)
      fail(e, 1, "%s:%d: expected #KEY TEXT or NAME,NUMBER .., found '%.40s'. "
           "Try: delete the file and run it again", name, line, at);
  }
  free(copy);
  free(room);
  if (e->status)
    result_free(r);
  return e->status;
}

/* The i-th number of a list [n] as a count; 0 where it is none. */
static int count_at(const double *x, int n, int i) {
  if (i < n && x[i] >= 1 && x[i] <= 4096 && floor(x[i]) == x[i])
    return (int)x[i];
  return 0;
}

static int result_path(char path[PATH_ROOM], const char *folder,
                       const char *corpus, const char *row, int seed,
                       Error *e) {
  if (snprintf(path, PATH_ROOM, "%s/%s/%s-%d.csv", folder, corpus, row, seed) >=
      PATH_ROOM)
    return fail(e, 2, "--results %.40s..: this path is too long. Try: a "
                "shorter one", folder);
  return 0;
}
