/* paper.c - every table and figure of "When Attention Sink Emerges in Language Models", run and
 * judged, beside the paper's numbers.
 *
 *     cc -O3 data/paper/paper.c -o paper -lm
 *     ./paper list                the tables and figures, and how much of each is done
 *     ./paper table4              one of them: what is missing is run, ours beside the paper's
 *     ./paper run                 as ./sink run, filmed, and leaves a page: out/run.html
 *
 * SPDX-License-Identifier: MIT
 *
 * experiments.txt says which models are trained, what the paper printed of each, and what is
 * claimed. This program reads it (chapter 1), trains and measures a row for a seed (4), keeps what
 * it found in data/results (2), judges every claim by the rule that stands beside it (5), and shows
 * tables and the ledger as text (6) and pictures of them (7). When a sink comes, and the law of
 * that, is in onset.c and firstness.c; the summary's page in summary.c, all others in report.c. Two
 * toys (3) show the mechanism in seconds. It has sink's own verbs too; its run, train and eval
 * leave a page (pages.c).
 *
 * Contents   1 The table of experiments      2 Result files        3 Two toys
 *            4 One run                       5 Rules and verdicts  6 What is shown
 *            7 Pictures of the results       8 What `check` states besides   9 The command
 *
 * A measure is a number of a result, by its name: alpha_1, sink_*, loss. The tests are in
 * data/check/test_paper.c and data/check/test_onset.c.
 */
#define SINK_NO_MAIN
#define RESULTS_FOLDER   "data/results"
#define SEEDS_MOST 99
/* What the flags of this program fill. */
#define MORE_SETTINGS \
  struct Own { \
    char row[64], corpus[64];   /* one row; the runs' text, "" the first */ \
    char texts[PATH_ROOM], results[PATH_ROOM], models[PATH_ROOM]; \
    char parts[PATH_ROOM];      /* of runs that were stopped, "" none is kept */ \
    int only_seed, seeds;       /* -1 all; 1 .. this, 0 those of the table */ \
    int commands, verify, show, predict, cost; \
  } own;
#define ITEM OWN                /* groups of flags */
#define KEPT_RUNS (OWN << 1)
#define OWN_OPTIONS \
  STRING("row", ITEM, own.row, "NAME", \
         "one row of the item; with --seed one run"), \
  WHOLE("seed", ITEM, own.only_seed, "-1", 0, INT32_MAX, \
        "one seed; 0 is for tuning [those of the table]"), \
  WHOLE("seeds", ITEM, own.seeds, "0", 1, SEEDS_MOST, \
        "seeds 1 .. N of every row"), \
  STRING("corpus", ITEM | KEPT_RUNS, own.corpus, "NAME", \
         "the runs' text, by its name in the table [the first]"), \
  NAME("texts", ITEM, own.texts, "", \
       "folder of the texts that data/ does not have"), \
  {"models", ITEM, 's', AT(own.models), "models", 0, PATH_ROOM, "FOLDER", \
   "published ones, NAME.model as of ./hf"}, \
  NAME("results", ITEM | KEPT_RUNS, own.results, RESULTS_FOLDER, \
       "folder where finished runs are kept"), \
  NAME("parts", ITEM, own.parts, "", \
       "folder of runs that are stopped, which go on"), \
  SWITCH("commands", ITEM, own.commands, \
         "print a command a line for each missing run"), \
  SWITCH("verify", ITEM, own.verify, \
         "run one finished run again: the same bytes?"), \
  SWITCH("show", ITEM, own.show, "run nothing; show what there is"), \
  SWITCH("predict", ITEM, own.predict, \
         "of onset: the law, and what it predicts"), \
  SWITCH("cost", ITEM, own.cost, \
         "of remedies: a step of each row over softmax's"),
#include "options.h"
#include "../later/later.h"
#include "../../sink.c"
#include "../later/later.c"
#include "../text/teller.c"
#include "../text/vocabulary.c"
#include "../text/shards.c"
#include "../text/first.c"
#include "pages.c"

/* What one run left: named lists of numbers, and the lines that say how it came about. */
typedef struct List { char name[40]; int at, n; } List;   /* value[at .. at + n) */
typedef struct Result {
  char row[48], corpus[40]; int seed; uint64_t checksum;   /* its row's */
  /* the command that repeats it; every flag of its training; text, tokenizer; compiler, set */
  char command[512], flags[2 * FLAGS_ROOM + 64], data[PATH_ROOM], build[256];
  char ended[640]; List *list; int lists; double *value; int values;   /* ended: why, or "" */
} Result;

typedef struct Own Own;
static const Own *own_of(const Settings *s) { return &s->own; }

/* -------------------------------------------------------------------------------------------------
 * 1  The table of experiments
 *
 * experiments.txt says what is trained, what the paper found and what is claimed, a statement
 * a line. A line that begins with a blank goes on with the one before; # begins a comment.
 *
 *   seeds N M                      seeds 1 .. N of a row are judged, of headline claims' rows M
 *                                  where the corpus is the first one or of times N
 *   corpus NAME FILE HASH          a text of the folder --texts, known by the hash64 of its bytes
 *   corpus NAME FILE HASH times N  the same, where every row reads N times its steps and data
 *   corpus NAME FILE.grammar       a grammar of data/text
 *   domain NAME FILE [HASH]        a text or grammar to measure on, not to train on
 *   recipe NAME [RECIPE] FLAGS     flags to start from
 *   item NAME REFERENCE: TITLE     a table or figure; what follows belongs to it
 *   note TEXT                      what a reader of the item must know
 *   columns MEASURE ..             which numbers the paper prints for the item's rows
 *   picture KIND WORD ..           what the page draws of the item; the kinds are in 7
 *   row NAME RECIPE FLAGS | NUMBER ..     a row, trained once for every seed
 *   row NAME | NUMBER ..           a row that stands in another item, shown in this one too
 *   model NAME [FOLDER] | NUMBER ..       a published model, in huggingface.co/FOLDER
 *   eval FLAGS; each FLAGS         how `./hf eval` measures the item's models, in a table of all or
 *                                  one by one; TEXTS is the folder --texts, NAME the model's
 *   claim NAME KIND [headline|long|twice] REFERENCE: STATEMENT      long: on corpora of times N
 *                                  too; twice: there by M seeds, as N left it open
 *   rule SIDE < SIDE [by M]        of a claim of kind differs; = .. within M of kind equal;
 *                                  SIDE < SIDE < SIDE .. of kind ordered; <= >= = of kind exact
 *   rule SIDE < NUMBER [by M] [from N]    N: what SIDE has where there is no effect
 *   needs SIDE < SIDE              without which the claim is not judged; < or >, or = .. within M;
 *                                  up to NEEDS times
 *
 * A SIDE is ROW.MEASURE or a number. Among a row's flags, +WORD asks for one more measurement
 * (+onset, +until, +rise, +known: onset.c; +signs, +cache: remedies.c), and after=ROW goes on from
 * that row's model, with these flags on top of its own. A paper's number is -, where training
 * failed there, or . where none is printed, or a number, which a * may follow (measured on proxy
 * scores) and a ~ precede (second-hand: our copy has lost it).
 */
#define EXPERIMENTS_FILE "data/paper/experiments.txt"
#define ALSO " cache dense domains grid known map onset rise signs swap until valid "   /* +WORD */
enum { EXPERIMENTS_MOST = 1 << 20 };           /* bytes of the file */

/* A row: one configuration, trained once for every seed. */
typedef struct Row {
  const char *name;
  char flags[FLAGS_ROOM];      /* the recipe's, then its own */
  char also[64];               /* what is measured besides the usual: "domains map swap" */
  int after;                   /* the row whose trained model this one goes on from, -1: none */
  uint64_t checksum;           /* of its flags and what is measured, and of `after`'s */
  int line;
} Row;

/* One number of the paper: its text, and what it says; NAN where there is none. */
typedef struct Printed { const char *text; double value; bool second_hand; } Printed;
enum { COLUMNS = 8 };

/* A row as an item shows it, with the paper's numbers for the item's columns. */
typedef struct Shown { int row; Printed paper[COLUMNS]; } Shown;

/* ROW.MEASURE, or where row is -1 a number. */
typedef struct Side { int row; const char *measure; double number; } Side;
enum { SIDES = 16, NEEDS = 4 };
typedef enum ClaimKind { CLAIM_DIFFERS, CLAIM_EQUAL, CLAIM_ORDERED, CLAIM_EXACT } ClaimKind;
typedef enum Relation { LESS, GREATER, SAME, NOT_ABOVE, NOT_BELOW } Relation;

/* side[0] RELATION side[1] (RELATION side[2] ..), by or within the margin; judged only where every
 * need holds of the means: after the rule's sides come each need's left and right. */
typedef struct Claim {
  const char *name, *reference, *statement; int item, line, sides, needs;
  ClaimKind kind;
  bool headline, longer, twice;
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
typedef struct Picture { PictureKind kind; int words; const char *word[PICTURE_WORDS]; } Picture;

/* A table or figure of the paper: its rows are shown[from .. from + count). */
typedef struct Item {
  const char *name, *reference, *title, *note, *column[COLUMNS];     /* note: NULL for none */
  int columns, from, count, line, pictures;
  Picture picture[PICTURES_MOST];
} Item;

/* A text that is trained on: FILE of the folder that --texts names, or a grammar of data/text. */
typedef struct Corpus {
  const char *name, *file; uint64_t hash; bool grammar, domain; int times;
} Corpus;

typedef struct Recipe { const char *name; char flags[FLAGS_ROOM]; } Recipe;

/* A model whose weights were published, in huggingface.co/FOLDER, with the paper's numbers for the
 * columns of its item; and the flags of an evaluation, of all models of an item or of each. */
typedef struct Published { const char *name, *folder; int item; Printed paper[COLUMNS]; } Published;
typedef struct Evaluation { const char *flags; int item; bool each; } Evaluation;

typedef struct Experiments {
  char *text;                  /* the file, cut into words in place; all names point into it */
  Corpus *corpus; Recipe *recipe; Item *item; Row *row; Shown *shown; Claim *claim;
  Published *model; Evaluation *eval;
  int corpora, recipes, items, rows, showns, claims, models, evals;
  int seeds, headline_seeds;   /* judged are seeds 1 .. seeds; 0 is for tuning */
} Experiments;

/* Counts the ways of measuring: another one voids every result. */
static const uint64_t MEASUREMENTS = 1;

static const char *const CLAIM_KINDS[] = {"differs", "equal", "ordered", "exact"};
static const char *const SIGNS[] = {"<", ">", "=", "<=", ">="};    /* by Relation */

/* The kinds of pictures: their names, and how many words they take at least. */
static const struct { const char *name; int least; } PICTURES[PICTURE_KINDS] = {
  [PICTURE_CURVES] = {"curves", 1}, [PICTURE_DOTS] = {"dots", 1},
  [PICTURE_DOMAINS] = {"domains", 1}, [PICTURE_OVER] = {"over", 2},
  [PICTURE_RATIO] = {"ratio", 1},   [PICTURE_NORMS] = {"norms", 1},
  [PICTURE_ANGLES] = {"angles", 0}, [PICTURE_GRID] = {"grid", 0},
  [PICTURE_ONSET] = {"onset", 0},   [PICTURE_CORNERS] = {"corners", 1},
  [PICTURE_ALPHA] = {"alpha", 1},   [PICTURE_MAP] = {"map", 0}, [PICTURE_TOY] = {"toy", 0}};

typedef struct Reading {
  Experiments *x;
  const char *file, *example, *name;   /* a statement like the one that is read; what it names */
  char *at;                    /* what is left of it */
  int line;
  Item *item; Claim *claim;    /* that it stands below, or NULL */
  Error *e;
} Reading;

static int wrong(const Reading *r, const char *expected, const char *found) {
  return fail(r->e, 1, "%s:%d: expected %s, found '%.40s'. Try: %s", r->file, r->line, expected,
              found, r->example);
}

/* The next word of the statement, cut out in place; "" at its end. */
static char *next_word(Reading *r) {
  char *word = r->at + strspn(r->at, " ");
  r->at = word + strcspn(word, " ");
  if (*r->at) *r->at++ = 0;
  r->at += strspn(r->at, " ");
  return word;
}

static bool is_name(const char *word) {
  size_t n = strspn(word, "abcdefghijklmnopqrstuvwxyz0123456789-");
  return n && n < sizeof ((Result *)0)->corpus && !word[n] && *word != '-';
}

static bool is_number(const char *word, double *x) {
  char *end;
  *x = strtod(word, &end);
  return *word && !*end && isfinite(*x);
}

/* Which of n entries of `size` bytes, each of which begins with its name, it is; -1: none. */
static int entry_of(const void *table, int n, size_t size, const char *name) {
  const char *at = table;
  for (int i = 0; i < n; i++, at += size)
    if (!strcmp(*(const char *const *)(const void *)at, name)) return i;
  return -1;
}

static int experiments_row(const Experiments *x, const char *name) {
  return entry_of(x->row, x->rows, sizeof *x->row, name);
}

static int read_seeds(Reading *r) {
  double few, many;
  const char *first = next_word(r), *second = next_word(r);
  if (!is_number(first, &few) || !is_number(second, &many) || few < 2 || many < few || many > 99)
    return wrong(r, "two counts of seeds, 2 to 99", first);
  r->x->seeds = (int)few, r->x->headline_seeds = (int)many;
  return 0;
}

static int read_corpus(Reading *r) {
  Corpus *c = &r->x->corpus[r->x->corpora++];
  const char *file = next_word(r), *word = next_word(r), *dot = strrchr(file, '.');
  const char *hash = strcmp(word, "times") ? word : "";
  char *end; double times = 1;
  *c = (Corpus){r->name, file, strtoull(hash, &end, 16), dot > file && !strcmp(dot, ".grammar"),
                *r->example == 'd', 1};
  if (!*file || *end || !(*hash || c->grammar)) return wrong(r, "NAME FILE HASH", c->name);
  if (*hash) word = next_word(r);
  if (*word && (strcmp(word, "times") || !is_number(next_word(r), &times) || times < 1 ||
                times > 99 || times > floor(times) || *r->at))
    return wrong(r, "times N, N from 1 to 99", word);
  c->times = (int)times;
  return 0;
}

/* [RECIPE] FLAGS into flags; of a row, words with a + into also, after=ROW into *after. */
static int read_flags(Reading *r, char flags[FLAGS_ROOM], Row *row) {
  const Experiments *x = r->x;
  for (const char *word = next_word(r); *word; word = next_word(r)) {
    bool also = row && *word == '+';
    char *to = also ? row->also : flags;
    size_t room = also ? sizeof row->also : FLAGS_ROOM, n = strlen(to);
    if (row && !strncmp(word, "after=", 6)) {
      row->after = experiments_row(x, word + 6);
      if (row->after < 0) return wrong(r, "a row above", word + 6);
      continue;
    }
    if (also && !has_word(ALSO, word + 1)) return wrong(r, "+ and one of" ALSO, word);
    if (!also && !*flags && strncmp(word, "--", 2)) {
      int i = entry_of(x->recipe, x->recipes, sizeof *x->recipe, word);
      if (i < 0) return wrong(r, "flags, or a recipe above", word);
      word = x->recipe[i].flags;
    }
    if (snprintf(to + n, room - n, "%s%s", n ? " " : "", word + also) >= (int)(room - n))
      return wrong(r, "fewer flags", word + also);
  }
  return 0;
}

static int read_recipe(Reading *r) {
  Recipe *made = &r->x->recipe[r->x->recipes];
  made->name = r->name;
  if (read_flags(r, made->flags, NULL)) return 1;
  r->x->recipes++;                             /* known from here on */
  return 0;
}

/* REFERENCE: TITLE, the reference up to its colon, to the statement's end. */
static int read_title(Reading *r, const char **reference, const char **title) {
  char *colon = strstr(r->at, ": ");
  if (!colon) return wrong(r, "REFERENCE: TITLE", r->at);
  *colon = 0;
  *reference = r->at;
  *title = colon + 2 + strspn(colon + 2, " ");
  return 0;
}

static int read_item(Reading *r) {
  Item *i = &r->x->item[r->x->items++];
  *i = (Item){.name = r->name, .from = r->x->showns, .line = r->line};
  return read_title(r, &i->reference, &i->title);
}

static int read_note(Reading *r) {
  if (r->item->note || !*r->at) return wrong(r, "one note an item", r->at);
  r->item->note = r->at;
  return 0;
}

static int read_columns(Reading *r) {
  Item *item = r->item;
  if (item->count) return wrong(r, "columns below an item, above its rows", r->at);
  while (*r->at) {
    if (item->columns == COLUMNS) return wrong(r, "at most 8 columns", r->at);
    item->column[item->columns++] = next_word(r);
  }
  return 0;
}

static int read_picture(Reading *r) {
  if (r->item->pictures == PICTURES_MOST) return wrong(r, "at most 6 pictures", r->at);
  Picture *p = &r->item->picture[r->item->pictures++];
  const char *kind = next_word(r);
  int k = entry_of(PICTURES, PICTURE_KINDS, sizeof *PICTURES, kind);
  if (k < 0) return wrong(r, "a kind of picture", kind);
  for (p->kind = (PictureKind)k; *r->at; p->word[p->words++] = next_word(r))
    if (p->words == PICTURE_WORDS) return wrong(r, "fewer words", r->at);
  return p->words < PICTURES[k].least ? wrong(r, "of what it is a picture", kind) : 0;
}

/* The paper's numbers behind the bar, one for each of the item's columns; none without one. */
static int read_printed(Reading *r, char *bar, Printed *p) {
  for (int i = 0; i < COLUMNS; i++) p[i] = (Printed){".", NAN, false};
  if (!bar) return 0;
  r->at = bar + 1;
  for (int i = 0; i < r->item->columns; i++) {
    char *word = next_word(r), *number = word + (*word == '~'), *end;
    double value = strtod(number, &end);
    bool none = !strcmp(word, "-") || !strcmp(word, ".");
    if (!none && (end == number || end[*end == '*'] || !isfinite(value)))
      return wrong(r, "a number for each column, - or .", word);
    p[i] = (Printed){word, none ? NAN : value, *word == '~'};
  }
  return *r->at ? wrong(r, "as many numbers as columns", r->at) : 0;
}

/* A row that is named before it is known is -2 less its name's place in the text: see link_row. */
static int read_row(Reading *r) {
  Experiments *x = r->x;
  const char *name = r->name;
  char *bar = strchr(r->at, '|');
  int known = experiments_row(x, name);
  if (bar) *bar = 0;
  if (r->at[strspn(r->at, " ")]) {
    Row *row = &x->row[x->rows];
    *row = (Row){.name = name, .after = -1, .line = r->line};
    if (known >= 0) return wrong(r, "a row's flags once", name);
    if (read_flags(r, row->flags, row)) return 1;
    uint64_t base = row->after < 0 ? MEASUREMENTS : x->row[row->after].checksum;
    row->checksum = hash64(hash64(base, row->also, strlen(row->also)), row->flags,
                           strlen(row->flags));
    known = x->rows++;
  }
  Shown *shown = &x->shown[x->showns++];
  shown->row = known >= 0 ? known : -2 - (int)(name - x->text);
  r->item->count++;
  return read_printed(r, bar, shown->paper);
}

/* model NAME FOLDER | NUMBERS; without FOLDER what it was where NAME stood first. */
static int read_model(Reading *r) {
  Experiments *x = r->x;
  Published *m = &x->model[x->models];
  char *bar = strchr(r->at, '|');
  *m = (Published){.name = r->name, .item = x->items - 1};
  if (bar) *bar = 0;
  for (int i = 0; i < x->models; i++)
    if (!strcmp(x->model[i].name, m->name)) m->folder = x->model[i].folder;
  if (r->at[strspn(r->at, " ")]) m->folder = next_word(r);
  if (!m->folder) return wrong(r, "a model's folder where it stands first", m->name);
  x->models++;
  return read_printed(r, bar, m->paper);
}

/* eval FLAGS: once for all models of the item; each FLAGS: once for each. */
static int read_eval(Reading *r) {
  r->x->eval[r->x->evals++] = (Evaluation){.flags = r->at, .item = r->x->items - 1,
                                           .each = !strncmp(r->example, "each", 4)};
  return 0;
}

static int read_claim(Reading *r) {
  Experiments *x = r->x;
  Claim *c = &x->claim[x->claims++];
  const char *word = next_word(r);
  int kind = entry_of(CLAIM_KINDS, 4, sizeof *CLAIM_KINDS, word);
  if (kind < 0) return wrong(r, "differs, equal, ordered or exact", word);
  *c = (Claim){.name = r->name, .item = x->items - 1, .line = r->line, .kind = (ClaimKind)kind,
               .headline = !strncmp(r->at, "headline ", 9), .twice = !strncmp(r->at, "twice ", 6)};
  if ((c->longer = c->twice || !strncmp(r->at, "long ", 5)) || c->headline) next_word(r);
  /* A line's end and the blank that begins the next are one blank. */
  for (char *two; (two = strstr(r->at, "  ")) != NULL;) memmove(two, two + 1, strlen(two));
  return read_title(r, &c->reference, &c->statement);
}

/* ROW.MEASURE or a number. Rows are looked up when all are known. */
static int read_side(Reading *r, Side *side) {
  char *word = next_word(r), *dot = strchr(word, '.');
  *side = (Side){.row = -1};
  if (is_number(word, &side->number)) return 0;
  if (!dot || dot == word || !dot[1]) return wrong(r, "ROW.MEASURE or a number", word);
  *dot = 0;
  *side = (Side){-2 - (int)(word - r->x->text), dot + 1, NAN};
  return 0;
}

static int read_relation(Reading *r, Relation *relation) {
  const char *word = next_word(r);
  int i = entry_of(SIGNS, 5, sizeof *SIGNS, word);
  *relation = (Relation)i;
  return i < 0 ? wrong(r, "< > = <= or >=", word) : 0;
}

/* Which of a rule's two sides is a number; -1: neither. */
static int side_number(const Claim *c) {
  return c->side[0].row == -1 ? 0 : c->side[1].row == -1 ? 1 : -1;
}

static int read_rule(Reading *r) {
  static const char *const fitting[] = {"<>", "=", "<>", "<>="};     /* by ClaimKind */
  Claim *c = r->claim;
  Relation relation = LESS;
  if (c->sides) return wrong(r, "one rule below a claim", r->at);
  if (read_side(r, &c->side[c->sides++])) return 1;
  while (*r->at && strncmp(r->at, "by ", 3) && strncmp(r->at, "within ", 7)
         && strncmp(r->at, "from ", 5)) {
    if (c->sides == SIDES) return wrong(r, "at most 16 sides", r->at);
    if (read_relation(r, &relation) || read_side(r, &c->side[c->sides++])) return 1;
    if (c->sides > 2 && relation != c->relation)
      return wrong(r, "one relation all along", SIGNS[relation]);
    c->relation = relation;
  }
  bool ordered = c->kind == CLAIM_ORDERED;
  if (c->sides < 2 + ordered || (!ordered && c->sides > 2))
    return wrong(r, "two sides, three or more of what is ordered", c->name);
  if (!strchr(fitting[c->kind], *SIGNS[c->relation]) ||
      (c->kind != CLAIM_EXACT && c->relation > SAME))
    return wrong(r, "a relation of the claim's kind", c->name);
  c->from = NAN;
  if (*r->at && *r->at != 'f') {
    const char *margin = (next_word(r), next_word(r));
    if (!is_number(margin, &c->margin) || c->margin < 0)
      return wrong(r, "a margin of 0 or more", margin);
  }
  if (*r->at == 'f') {
    const char *from = (next_word(r), next_word(r));
    if (!is_number(from, &c->from) || c->kind != CLAIM_DIFFERS || side_number(c) < 0)
      return wrong(r, "from NUMBER, of a row that differs from a number", from);
  }
  if (c->kind == CLAIM_EQUAL && !(c->margin > 0))
    return wrong(r, "within what they are equal", "nothing");
  return *r->at ? wrong(r, "the end of the rule", r->at) : 0;
}

static int read_needs(Reading *r) {
  Claim *c = r->claim;
  if (!c->sides || c->needs == NEEDS)
    return wrong(r, "at most 4 needs below a claim and its rule", r->at);
  const int i = c->needs++;
  Side *side = &c->side[c->sides + 2 * i];
  if (read_side(r, &side[0]) || read_relation(r, &c->needed[i]) || read_side(r, &side[1])) return 1;
  const char *margin = c->needed[i] == SAME ? (next_word(r), next_word(r)) : "";
  if (c->needed[i] == SAME && (!is_number(margin, &c->within[i]) || !(c->within[i] > 0)))
    return wrong(r, "within what they are equal", margin);
  return *r->at ? wrong(r, "the end of the line", r->at) : 0;
}

/* A statement's first word, whether a NAME follows, what must stand above, and one well formed. */
enum { STATEMENT_KINDS = 15 };
static const struct { const char *word; int (*read)(Reading *); bool named; char below;
           const char *example; } STATEMENTS[STATEMENT_KINDS] = {
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
  r->example = i < 0 ? "a # before a comment" : STATEMENTS[i].example;
  if (i < 0)
    return wrong(r, "row, claim, rule, needs, item, note, columns, picture, model, eval, "
                 "each, recipe, corpus, domain or seeds", word);
  r->item = x->items ? &x->item[x->items - 1] : NULL;
  r->claim = x->claims ? &x->claim[x->claims - 1] : NULL;
  if (STATEMENTS[i].below && !(STATEMENTS[i].below == 'i' ? (void *)r->item : r->claim))
    return wrong(r, "an item or a claim above", word);
  if (STATEMENTS[i].named && !is_name(r->name = next_word(r))) return wrong(r, "a name", r->name);
  return STATEMENTS[i].read(r);
}

static int link_row(Reading *r, int *row, int line) {
  if (*row > -2) return 0;
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
    for (int k = 0; k < x->item[i].count; k++)
      if (link_row(r, &x->shown[x->item[i].from + k].row, x->item[i].line)) return 1;
  for (int i = 0; i < x->claims; i++) {
    Claim *c = &x->claim[i];
    r->line = c->line;
    if (!c->sides) return wrong(r, "a rule below the claim", c->name);
    for (int k = 0; k < side_count(c); k++) if (link_row(r, &c->side[k].row, c->line)) return 1;
  }
  return 0;
}

static void experiments_free(Experiments *x) {
  free(x->text); free(x->corpus); free(x->recipe); free(x->item);
  free(x->row); free(x->model); free(x->eval); free(x->shown); free(x->claim);
  *x = (Experiments){0};
}

static int experiments_read(Experiments *x, const unsigned char *text, size_t n, const char *name,
                            Error *e) {
  *x = (Experiments){.seeds = 3, .headline_seeds = 5};
  Reading r = {.x = x, .file = name, .line = 1, .e = e};
  idx lines = 1;                               /* of each kind there are no more than these */
  if (n > EXPERIMENTS_MOST)
    return fail(e, 1, "%s: expected at most %d bytes, found %zu. Try: the file that came with "
                "sink", name, EXPERIMENTS_MOST, n);
  if (!(x->text = grab((idx)n + 2, 1, e))) return e->status;
  memcpy(x->text, text, n);
  for (size_t i = 0; i < n; i++) lines += text[i] == '\n';
  x->corpus = grab(lines, sizeof *x->corpus, e); x->recipe = grab(lines, sizeof *x->recipe, e);
  x->item = grab(lines, sizeof *x->item, e);     x->row = grab(lines, sizeof *x->row, e);
  x->shown = grab(lines, sizeof *x->shown, e);   x->claim = grab(lines, sizeof *x->claim, e);
  x->model = grab(lines, sizeof *x->model, e);   x->eval = grab(lines, sizeof *x->eval, e);
  for (char *at = x->text, *end, *stop = at + n; !e->status && at < stop; at = end + 1) {
    int more = 1;
    for (end = at; end < stop && (*end != '\n' || end[1] == ' '); end++) {
      more += *end == '\n';
      if (strchr("\t\r\n", *end)) *end = ' ';          /* a 0 among them */
    }
    *end = 0;
    for (char *last = end; last > at && last[-1] == ' ';) *--last = 0;
    r.at = at;
    if (*at != '#' && at[strspn(at, " ")]) read_statement(&r);
    r.line += more;
  }
  if (!e->status) link_rows(&r);
  if (e->status) experiments_free(x);
  return e->status;
}

static bool item_shows(const Experiments *x, const Item *item, int row) {
  for (int k = 0; k < item->count; k++) if (x->shown[item->from + k].row == row) return true;
  return false;
}

static bool claim_uses(const Claim *c, int row) {
  for (int k = 0; k < side_count(c); k++) if (c->side[k].row == row) return true;
  return false;
}

/* Is the row shown in the item, or judged there? item -1: all of them. */
static bool item_has(const Experiments *x, int item, int row) {
  if (item < 0 || item_shows(x, &x->item[item], row)) return true;
  for (int i = 0; i < x->claims; i++)
    if (x->claim[i].item == item && claim_uses(&x->claim[i], row)) return true;
  return false;
}

/* Is a claim judged on a corpus that is not the table's first and has that many times? A headline
 * is, and with more than one one that says long. */
static bool claim_again(const Claim *c, int times) {
  return c->headline || (c->longer && times > 1);
}

/* Is it a row of such a claim? With times 1: of a headline. */
static bool row_again(const Experiments *x, int row, int times) {
  for (int i = 0; i < x->claims; i++)
    if (claim_again(&x->claim[i], times) && claim_uses(&x->claim[i], row)) return true;
  return false;
}

/* How many seeds of a row its claims are judged by on the first corpus or on one of `times`: more
 * of a headline claim's, and with more than one of a claim's that is looked at twice. */
static int row_seeds(const Experiments *x, int row, bool first, int times) {
  for (const Claim *c = x->claim; c < x->claim + x->claims; c++)
    if (claim_uses(c, row) && (times > 1 ? c->headline || c->twice : first && c->headline))
      return x->headline_seeds;
  return x->seeds;
}

/* -------------------------------------------------------------------------------------------------
 * 2  Result files: data/results/CORPUS/ROW-SEED.csv
 *
 * Lines of #KEY TEXT, then lines of NAME,NUMBER,NUMBER ..: six digits, nan where there is none. It
 * holds no clock, path or number of threads: the same build repeats the same bytes.
 */
static const char RESULT_HEAD[] = "# sink result 1\n", BY_TOY[] = "made by the toy";

static int result_add(Result *r, const char *name, const double *x, int n, Error *e) {
  List *list = realloc(r->list, ((size_t)r->lists + 1) * sizeof *list);
  if (list) r->list = list;
  double *value = realloc(r->value, ((size_t)r->values + (size_t)n + 1) * sizeof *value);
  if (value) r->value = value;
  if (!list || !value) return fail(e, 1, "memory: no room for %d numbers. Try: again", n);
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

static int record_list(Result *r, Error *e, const double *x, int n, const char *format, ...) {
  char name[sizeof r->list->name];
  va_list args;
  va_start(args, format);
  bool cut = vsnprintf(name, sizeof name, format, args) >= (int)sizeof name;
  va_end(args);
  return cut ? fail(e, 1, "%s..: this name is too long. Try: a shorter one", name)
             : result_add(r, name, x, n, e);
}
#define record(r, e, x, ...) record_list(r, e, (double[]){x}, 1, __VA_ARGS__)

/* The numbers that eval would print, which are freed. */
static int record_all(Result *r, Numbers *told, Error *e) {
  for (int i = 0; i < told->n; i++) record(r, e, told->at[i].x, "%s", told->at[i].name);
  numbers_free(told);
  return e->status;
}

static const double *result_find(const Result *r, const char *name, int *n) {
  for (int i = 0; i < r->lists; i++)
    if (!strcmp(r->list[i].name, name)) return *n = r->list[i].n, r->value + r->list[i].at;
  return *n = 0, NULL;
}

/* NAME, NAME[i] (from 0) or NAME..k: sink_1..5 is sink_1 + .. + sink_5. NAN: there is none. */
static double result_number(const Result *r, const char *name) {
  int n, stem = (int)strcspn(name, "[.");      /* of NAME[i] or NAME_1..k */
  const double *x = result_find(r, name, &n);
  char each[64];
  if (x || !name[stem] || stem > 40) return x && n ? x[0] : NAN;
  long to = strtol(name + stem + (name[stem] == '[' ? 1 : 2), NULL, 10);
  snprintf(each, sizeof each, "%.*s", stem, name);
  if (name[stem] == '[') {
    x = result_find(r, each, &n);
    return x && to >= 0 && to < n ? x[to] : NAN;
  }
  char *digits = strrchr(each, '_');
  if (strncmp(name + stem, "..", 2) || !digits) return NAN;
  double sum = 0;
  long from = strtol(digits + 1, NULL, 10);
  for (long i = from; i <= to && i - from < 100; i++) {
    snprintf(digits, 22, "_%ld", i);
    x = result_find(r, each, &n);
    sum += x && n ? x[0] : NAN;
  }
  return sum;
}

/* The lines at the head: where each is kept, and how much goes there. */
typedef struct HeadLine { const char *key; size_t at, room; } HeadLine;
#define HEAD_LINE(key) {#key, offsetof(Result, key), sizeof ((Result *)0)->key}
static const HeadLine HEAD_LINES[] = {
  HEAD_LINE(row), HEAD_LINE(corpus), HEAD_LINE(command), HEAD_LINE(flags), HEAD_LINE(data),
  HEAD_LINE(build), HEAD_LINE(ended)};
enum { HEAD_COUNT = sizeof HEAD_LINES / sizeof *HEAD_LINES };

static int result_text(const Result *r, Bytes *out, Error *e) {
  bytes_print(out, e, "%s", RESULT_HEAD);
  for (int i = 0; i < HEAD_COUNT; i++) {
    const char *text = (const char *)r + HEAD_LINES[i].at;
    bytes_print(out, e, "#%s ", HEAD_LINES[i].key);
    bytes_add(out, text, strlen(text), e);
    bytes_add(out, "\n", 1, e);
  }
  bytes_print(out, e, "#seed %d\n#checksum %016llx\n", r->seed, (unsigned long long)r->checksum);
  for (int i = 0; i < r->lists && !e->status; i++) {
    bytes_print(out, e, "%s", r->list[i].name);
    for (int k = 0; k < r->list[i].n; k++)
      bytes_print(out, e, ",%.6g", r->value[r->list[i].at + k]);
    bytes_print(out, e, "\n");
  }
  return e->status;
}

static bool read_head(Result *r, const char *line) {
  size_t n = strcspn(line, " ");
  const char *text = line + n + 1;
  if (!line[n]) return false;
  if (!strncmp(line, "#seed ", 6)) return r->seed = (int)strtol(text, NULL, 10), true;
  if (!strncmp(line, "#checksum ", 10)) return r->checksum = strtoull(text, NULL, 16), true;
  for (int i = 0; i < HEAD_COUNT; i++)
    if (strlen(HEAD_LINES[i].key) == n - 1 && !strncmp(line + 1, HEAD_LINES[i].key, n - 1))
      return snprintf((char *)r + HEAD_LINES[i].at, HEAD_LINES[i].room, "%s", text) >= 0;
  return false;
}

/* A line of numbers, into room for as many as the file has bytes. */
static bool read_numbers(Result *r, char *line, double *room, Error *e) {
  int n = 0;
  char *at = strchr(line, ',');
  if (!at) return false;
  for (*at++ = 0; *at; n++) {
    char *end;
    room[n] = strtod(at, &end);
    if (end == at || (*end && *end != ',')) return false;
    at = end + (*end == ',');
  }
  return !result_add(r, line, room, n, e);
}

static int result_read(Result *r, const unsigned char *text, size_t n, const char *name, Error *e) {
  size_t head = sizeof RESULT_HEAD - 1;
  *r = (Result){0};
  if (n < head || memcmp(text, RESULT_HEAD, head) || text[n - 1] != '\n' || memchr(text, 0, n))
    return fail(e, 1, "%s: expected a result of ./paper, found something else or less. "
                "Try: delete it, and run it again", name);
  char *copy = grab((idx)n + 1, 1, e);
  double *room = grab((idx)n / 2 + 1, sizeof *room, e);
  int line = 1;
  if (!e->status) memcpy(copy, text, n);
  for (char *at = copy + head, *end; !e->status && at < copy + n; at = end + 1) {
    end = strchr(at, '\n');
    *end = 0;
    line++;
    if (*at == '#' ? !read_head(r, at) : !read_numbers(r, at, room, e))
      fail(e, 1, "%s:%d: expected #KEY TEXT or NAME,NUMBER .., found '%.40s'. Try: delete "
           "the file, and run it again", name, line, at);
  }
  free(copy); free(room);
  if (e->status) result_free(r);
  return e->status;
}

/* The i-th number of a list [n] as a count; 0 where it is none. */
static int count_at(const double *x, int n, int i) {
  return i < n && x[i] >= 1 && x[i] <= 4096 && floor(x[i]) == x[i] ? (int)x[i] : 0;
}

static int result_path(char path[PATH_ROOM], const char *folder, const char *corpus,
                       const char *row, int seed, Error *e) {
  if (snprintf(path, PATH_ROOM, "%s/%s/%s-%d.csv", folder, corpus, row, seed) >= PATH_ROOM)
    return fail(e, 2, "--results %.40s..: this path is too long. Try: a shorter one", folder);
  return 0;
}

/* -------------------------------------------------------------------------------------------------
 * 3  Two toys that show the mechanism in seconds                           beyond the paper */
#include "toys.c"

/* Source.open: what else than texts can be trained on. */
static int paper_open(Data *d, const Source *s, int T, Error *e) {
  return s->toy ? toys_open(d, s, T, e) : other_open(d, s, T, e);
}

/* -------------------------------------------------------------------------------------------------
 * 4  One run: a row trained for a seed and measured; with +onset by onset.c's looks */
static int onset_run(Trainer *t, Progress *p, Look *start, double until, Result *r, Error *e);
static double first_q(const Data *d, int T, Error *e);
static int measure_onset(Result *r, const Trainer *t, const Progress *p, double even, Error *e);
static int measure_more(Result *r, Trainer *t, const Row *row, Error *e);

/* Where a corpus lies: a grammar in data/, a text in the folder `texts`. */
static int corpus_path(char path[PATH_ROOM], const Corpus *c, const char *texts, Error *e) {
  if (snprintf(path, PATH_ROOM, "%s/%s", c->grammar ? "data/text" : texts, c->file) < PATH_ROOM)
    return 0;
  return fail(e, 2, "--texts %.40s..: this path is too long. Try: a shorter one", texts);
}

static int corpus_check(const Corpus *c, const char *texts, const Data *d, Error *e) {
  if (!c->hash || c->hash == d->source) return e->status;
  return fail(e, 1, "%s/%s: expected the text with hash %016llx, found %016llx. Try: the text "
              "of data/results/pages/judged.md, or --corpus of a grammar", texts, c->file,
              (unsigned long long)c->hash, (unsigned long long)d->source);
}

static bool asks(const Row *row, const char *what) {
  const char *at = strstr(row->also, what);
  return at && (at[strlen(what)] == ' ' || !at[strlen(what)]);
}

/* What trains rows where no program does: their looks are kept. */
static const Program ROW_PROGRAM = {.name = "paper", .edit = position_edit, .log = log_keep};

/* The settings of a row for a seed: its flags, and where the text is. */
static int row_settings(Settings *out, const Row *row, const Corpus *corpus, int seed,
                        const Settings *s, Error *e) {
  settings_default(out);
  out->data.open = paper_open; out->data.first = first_open; out->groups = MODEL | TRAIN | DATA;
  out->program = s->program->log ? s->program : &ROW_PROGRAM;
  if (settings_flags(out, row->flags, MODEL | TRAIN | DATA, e) || settings_count(out, e))
    return e->status;
  out->train.seed = seed, out->quiet = s->quiet;
  if (!out->data.toy) out->train.steps *= corpus->times, out->data.data_tokens *= corpus->times;
  int looks = asks(row, "dense") ? 120 : 30;
  out->train.log_every = out->train.steps / looks ? out->train.steps / looks : 1;
  out->data.from_start = true;                             /* as data/results has it */
  if (!strstr(row->flags, "--tokenizer "))
    memcpy(out->data.tokenizer, s->data.tokenizer, PATH_ROOM);
  memcpy(out->data.home, s->data.home, PATH_ROOM);
  if (out->data.grammar[0] || out->data.toy) return 0;     /* the row brings its own text */
  if (!corpus->grammar && !own_of(s)->texts[0])
    return fail(e, 2, "%s: expected the folder with %s, its text. Try: --texts FOLDER, or "
                "--corpus story, which is here", corpus->name, corpus->file);
  return corpus_path(corpus->grammar ? out->data.grammar : out->data.text, corpus,
                     own_of(s)->texts, e);
}

/* The numbers of the looks, from step 0 on. */
static int measure_curves(Result *r, const Trainer *t, const Progress *p, const Look *start,
                          const char *prefix, Error *e) {
  const struct { const char *name; bool asked; size_t at; } CURVES[] = {
    {"loss",    true,        offsetof(Look, loss)}, {"norm",    true,        offsetof(Look, norm)},
    {"alpha_1", true,        offsetof(Look, alpha1)},
    {"sink_1",  true,        offsetof(Look, sink1)},
    {"alpha_*", p->has_star, offsetof(Look, alpha_star)},
    {"sink_*",  p->has_star, offsetof(Look, sink_star)},
    {"norm_ratio", true,     offsetof(Look, ratio)},
    {"valid",   p->holds,    offsetof(Look, held)}};
  double x[LOOKS + 1] = {0};
  for (int i = 0; i < p->looks; i++) x[i + 1] = tokens_a_step(t) * (double)p->look[i].step;
  record_list(r, e, x, p->looks + 1, "%stokens", prefix);
  for (size_t k = 0; k < sizeof CURVES / sizeof *CURVES; k++) {
    if (!CURVES[k].asked) continue;
    for (int i = 0; i <= p->looks; i++)
      memcpy(&x[i], (const char *)(i ? &p->look[i - 1] : start) + CURVES[k].at, sizeof *x);
    record_list(r, e, x, p->looks + 1, "%s%s", prefix, CURVES[k].name);
  }
  return e->status;
}

/* First row and mean of the others, layer by layer, of norms [layers,N]. */
static void measure_norms(Result *r, const char *name, const double *norms, int layers, int N,
                          Error *e) {
  double *x = grab(layers, sizeof *x, e);
  for (int rest = 0; x && rest < 2; rest++) {
    for (int l = 0; l < layers; l++) {
      const double *of = norms + (idx)l * N;
      x[l] = rest ? of[0] / norm_ratio(of, N) : of[0];
    }
    record_list(r, e, x, layers, "%s_%s", name, rest ? "rest" : "1");
  }
  free(x);
}

/* alpha and Sink of the columns of an evaluation. */
static void measure_columns(Result *r, const Sinks *q, const Config *c, Error *e) {
  int first = config_column_first(c), star = config_column_star(c);
  double even = q->even;
  for (int k = 1; k <= 10 && k <= q->T; k++) {
    record(r, e, sinks_alpha(q, first + k - 1), "alpha_%d", k);
    record(r, e, sinks_sink(q, first + k - 1, 0), "sink_%d", k);
  }
  record(r, e, sinks_sink(q, first, 1), "sink_1:0.2");
  record(r, e, sinks_sink(q, first, 2), "sink_1:0.4");
  record(r, e, even, "even");
  record(r, e, sinks_alpha(q, first) / even, "times_1");
  record(r, e, sinks_self(q), "alpha_self");
  record(r, e, sinks_prev(q), "alpha_prev");
  record(r, e, sinks_self(q) / q->even_self, "times_self");
  if (star < 0) return;
  record(r, e, sinks_alpha(q, star), "alpha_*");
  record(r, e, sinks_sink(q, star, 0), "sink_*");
  record(r, e, sinks_alpha(q, star) / even, "times_*");
}

static int measure_layers(Result *r, const Sinks *q, const Config *c, Error *e) {
  enum { BEST, ENTROPY, MASS, RATIO, MASSIVE, MEDIAN, KEY, VALUE, COS_1, COS_REST, PRODUCT_1,
         PRODUCT_REST, NUMBERS };
  static const char *const names[NUMBERS] = {
    "best_1", "entropy", "mass", "norm_ratio", "massive", "median", "key_ratio", "value_ratio",
    "cos_1", "cos_rest", "product_1", "product_rest"};
  int L = q->L, H = q->H, LH = L * H, first = config_column_first(c), star = config_column_star(c);
  double x[NUMBERS] = {[RATIO] = sinks_ratio(q), [MASSIVE] = q->massive, [MEDIAN] = q->median};
  double *map = grab(2 * (idx)LH, sizeof *map, e), before = 0;
  if (e->status) return e->status;
  for (int i = 0; i < LH; i++) {
    map[i] = q->alpha[(idx)i * q->S + first];
    if (star >= 0) map[LH + i] = q->alpha[(idx)i * q->S + star];
    x[BEST] = fmax(x[BEST], map[i]);
    x[ENTROPY] += q->plain_entropy[i] / LH;   /* -sum m log m, as older files have it */
    x[MASS] += q->mass[i] / LH;
    for (int rest = 0; rest < 2; rest++) {
      x[COS_1 + rest] += q->cosine[2 * i + rest] / LH;
      x[PRODUCT_1 + rest] += q->product[2 * i + rest] / LH;
    }
  }
  for (int l = 0; l < L; l++) {
    x[KEY] += norm_ratio(q->knorm + (idx)l * q->N, q->N) / L;
    x[VALUE] += norm_ratio(q->vnorm + (idx)l * q->N, q->N) / L;
    if (c->place == PLACE_POST) before = fmax(before, norm_ratio(q->prenorm + (idx)l * q->N, q->N));
  }
  for (int i = 0; i < NUMBERS; i++) result_add(r, names[i], &x[i], 1, e);
  result_add(r, "shape", (double[]){L, H, q->T, q->S}, 4, e);
  result_add(r, "map_alpha_1", map, LH, e);
  if (star >= 0) result_add(r, "map_alpha_*", map + LH, LH, e);
  free(map);
  measure_norms(r, "hnorm", q->hnorm, L + 1, q->N, e);
  measure_norms(r, "knorm", q->knorm, L, q->N, e);
  measure_norms(r, "vnorm", q->vnorm, L, q->N, e);
  if (c->place == PLACE_POST) {
    record(r, e, before, "norm_ratio_before");
    measure_norms(r, "prenorm", q->prenorm, L, q->N, e);
  }
  result_add(r, "cosine", q->cosine, 2 * LH, e);
  return result_add(r, "product", q->product, 2 * LH, e);
}

/* The same few numbers on random and on repeated tokens (Table 1). */
static int measure_inputs(Result *r, Trainer *t, const Settings *s, Error *e) {
  for (int input = INPUT_RANDOM; input <= INPUT_REPEAT && !e->status; input++) {
    Settings other = *s;
    Sinks q;
    int starts, first = config_column_first(&t->m.c);
    other.input = input;
    if (evaluate(&q, &t->m, &t->data, &other, s->eval_n, s->eval_T, &starts, e)) break;
    double alpha = sinks_alpha(&q, first);
    record(r, e, alpha, "alpha_1@%s", INPUTS[input]);
    record(r, e, sinks_sink(&q, first, 0), "sink_1@%s", INPUTS[input]);
    record(r, e, alpha / sink_uniform(&t->m, s->eval_T), "times_1@%s", INPUTS[input]);
    sinks_free(&q);
  }
  return e->status;
}

/* m of the head with the most sink, to four digits after the point, and which head that is. */
static int measure_map(Result *r, const HeadMap *map, Error *e) {
  double m[HEAD_MAP * MAP_WIDE];
  for (int i = 0; i < map->T * map->S; i++) m[i] = round(map->m[i] * 1e4) / 1e4;
  result_add(r, "map_shape", (double[]){map->layer, map->head, map->T, map->S}, 4, e);
  return result_add(r, "map", m, map->T * map->S, e);
}

/* +grid, [FIG3]: Sink_1 of natural sequences by their length and the threshold. */
static int measure_grid(Result *r, Model *m, const Data *d, const Settings *s, Error *e) {
  enum { LENGTHS = 4, STEPS = 9 };
  static const double eps[STEPS] = {0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5};
  double length[LENGTHS], alpha[LENGTHS], sink[LENGTHS * STEPS];
  Settings natural = *s;
  int n = 0, starts, first = config_column_first(&m->c);
  natural.input = INPUT_NATURAL;
  for (int T = 16; T <= 128 && T <= m->c.context; T *= 2, n++) {
    Sinks seen;
    if (evaluate_at(&seen, m, d, &natural, eps, STEPS, s->eval_n, T, &starts, e)) return e->status;
    length[n] = T;
    alpha[n] = sinks_alpha(&seen, first);
    for (int x = 0; x < STEPS; x++) sink[n * STEPS + x] = sinks_sink(&seen, first, x);
    sinks_free(&seen);
  }
  result_add(r, "grid_T", length, n, e);
  result_add(r, "grid_eps", eps, STEPS, e);
  result_add(r, "grid_alpha_1", alpha, n, e);
  return result_add(r, "grid_sink_1", sink, n * STEPS, e);
}

/* +swap, Table 7: sequences of one repeated token, p_1 replaced by p_t or swapped with it, for the
 * paper's t as far as the sequences go. 2 for a model without positions to edit. */
static int measure_swaps(Result *r, Model *m, const Data *d, const Settings *s, Error *e) {
  Settings edited = *s;
  edited.input = INPUT_REPEAT;
  for (int t = 5; t <= 30 && t <= s->eval_T; t += 5)
    for (int swap = 0; swap < 2; swap++) {
      Sinks seen;
      const char *how = swap ? "swap" : "replace";
      int starts, first = config_column_first(&m->c), there = first + t - 1;
      edited.replace_position = swap ? 0 : t;
      edited.swap_position = swap ? t : 0;
      if (evaluate(&seen, m, d, &edited, s->eval_n, s->eval_T, &starts, e)) return e->status;
      record(r, e, sinks_sink(&seen, first, 0), "sink_1@%s%d", how, t);
      record(r, e, sinks_sink(&seen, there, 0), "sink_t@%s%d", how, t);
      record(r, e, sinks_alpha(&seen, first), "alpha_1@%s%d", how, t);
      record(r, e, sinks_alpha(&seen, there), "alpha_t@%s%d", how, t);
      sinks_free(&seen);
    }
  return e->status;
}

/* +domains, [FIG9]: the held documents of every corpus and domain that is at hand, a grammar or
 * a text of the folder `texts`: what `./sink eval MODEL --text FILE --valid 0.05` prints of each.
 * Where t was trained on one of them, the documents that are measured are none that it has seen.
 * r NULL: nothing is measured; are they the right texts? */
static int measure_domains(Result *r, Trainer *t, const Experiments *x, const char *texts,
                           Error *e) {
  int first = config_column_first(&t->m.c), starts;
  for (int i = 0; i < x->corpora && !e->status; i++) {
    const Corpus *c = &x->corpus[i];
    Settings s = t->s;
    Data data = {0}; Sinks q;
    char *path = c->grammar ? s.data.grammar : s.data.text;
    s.data.text[0] = s.data.grammar[0] = s.data.tokens[0] = 0;
    s.input = INPUT_NATURAL;
    if (corpus_path(path, c, texts, e)) break;
    if (c->times > 1 || (!c->grammar && (!*texts || file_missing(path)))) continue;   /* once */
    if (data_open(&data, &s.data, 0, 0, e)) break;
    if (!corpus_check(c, texts, &data, e) && r &&
        !evaluate(&q, &t->m, &data, &s, s.eval_n, s.eval_T, &starts, e)) {
      record(r, e, sinks_alpha(&q, first), "alpha_1/%s", c->name);
      record(r, e, sinks_sink(&q, first, 0), "sink_1/%s", c->name);
      record(r, e, sinks_sink(&q, first, 1), "sink_1:0.2/%s", c->name);
      record(r, e, sinks_sink(&q, first, 2), "sink_1:0.4/%s", c->name);
      record(r, e, q.loss, "loss/%s", c->name);
      sinks_free(&q);
    }
    data_close(&data);
  }
  return e->status;
}

static int measure(Result *r, Trainer *t, const Progress *p, double loss, const Experiments *x,
                   const Row *row, const char *texts, Error *e) {
  Outcome *o = grab(1, sizeof *o, e);
  int starts, last = p->looks / 10 + 1;                    /* a tenth of the looks */
  double trained = p->looks ? 0 : NAN;
  if (!o) return e->status;
  if (t->s.eval_T > t->s.model.context) t->s.eval_T = t->s.model.context;
  for (int i = p->looks ? p->looks - last : 0; i < p->looks; i++) trained += p->look[i].loss / last;
  if (!outcome_measure(o, t, &t->s, &starts, e)) {
    record(r, e, loss, "loss");
    record(r, e, trained, "train_loss");
    record(r, e, loss - trained, "gap");
    measure_columns(r, &o->s, &o->c, e);
    if (t->data.first) record(r, e, first_q(&t->data, t->s.model.context, e), "q");
    if (!asks(row, "onset")) measure_onset(r, t, p, o->even, e);
    measure_layers(r, &o->s, &o->c, e);
    measure_inputs(r, t, &t->s, e);
    if (asks(row, "map") && !outcome_heads(o, t, &t->s, e)) measure_map(r, &o->map[0], e);
    if (asks(row, "grid")) measure_grid(r, &t->m, &t->data, &t->s, e);
    measure_more(r, t, row, e);
    if (asks(row, "swap")) measure_swaps(r, &t->m, &t->data, &t->s, e);
    if (asks(row, "domains")) measure_domains(r, t, x, texts, e);
  }
  outcome_free(o); free(o);
  return e->status;
}

/* The lines that say how the run came about; a toy has no data. */
static void result_describe(Result *r, const Experiments *x, const Row *row, const Corpus *corpus,
                            const Data *d) {
  const char *first = row->after < 0 ? "" : x->row[row->after].flags;
  int i = 0;
  while (i < x->items && !item_shows(x, &x->item[i], (int)(row - x->row))) i++;
  snprintf(r->command, sizeof r->command, "./paper %s --row %s --seed %d --corpus %s",
           i < x->items ? x->item[i].name : "all", row->name, r->seed, corpus->name);
  snprintf(r->flags, sizeof r->flags, "%s%s%s --seed %d", first, *first ? " then " : "", row->flags,
           r->seed);
  if (corpus->times > 1 && d)
    snprintf(r->flags + strlen(r->flags), sizeof r->flags - strlen(r->flags),
             ", steps and data times %d", corpus->times);
  snprintf(r->data, sizeof r->data, "%s", BY_TOY);
  if (d) snprintf(r->data, sizeof r->data, "%s %016llx, tokenizer %016llx", corpus->file,
                  (unsigned long long)d->source, (unsigned long long)d->tokenizer.hash);
  snprintf(r->build, sizeof r->build, COMPILER ", %s, %zu-byte numbers", ISAS[isa_best()],
           sizeof(real));
}

/* --parts: where a run is kept that is stopped, as t's --out and --log, every PART_STEPS and at its
 * end. It goes on from there, to the same bytes as one that was never stopped. Runs with +onset or
 * +valid have looks that a log does not keep, and begin anew; so does one after another row. */
enum { PART_STEPS = 500 };
static int part_open(Trainer *t, const Result *r, const Row *row, const Settings *s, Error *e) {
  const char *folder = own_of(s)->parts;
  char path[PATH_ROOM];
  if (!*folder || row->after >= 0 || asks(row, "onset") || asks(row, "valid")) return e->status;
  if (snprintf(path, sizeof path, "%s/%s-%s-%d-%016llx", folder, r->corpus, r->row, r->seed,
               (unsigned long long)r->checksum) >= PATH_ROOM - 8)
    return fail(e, 2, "--parts %.40s..: this path is too long. Try: a shorter one", folder);
  snprintf(t->s.out, sizeof t->s.out, "%.*s.ckpt", PATH_ROOM - 8, path);
  snprintf(t->s.log, sizeof t->s.log, "%.*s.log", PATH_ROOM - 8, path);
  t->s.train.save_every = PART_STEPS;
  return file_ready(t->s.out, e);
}

/* t, at its first step, as its part was left. */
static int part_read(Trainer *t, Error *e) {
  Trainer from = {0};
  if (checkpoint_load(t->s.out, true, &from, e)) return e->status;
  if (!from.m1 || from.m.count != t->m.count || from.data.source != t->data.source)
    fail(e, 1, "%s: expected a part of this run, found another. Try: delete it", t->s.out);
  else {
    copy(t->m.params, from.m.params, from.m.count);
    copy(t->m1, from.m1, from.m.count);
    copy(t->m2, from.m2, from.m.count);
    t->step = from.step;
    t->loss = from.loss, t->loss_sum = from.loss_sum, t->loss_steps = from.loss_steps;
    t->data.sample = from.data.sample;
    t->data.document = from.data.document;
    t->data.offset = from.data.offset;
  }
  trainer_free(&from);
  return e->status;
}

/* A training to its end, in t: its looks in *p, and as *start the one before the first step. */
static int row_train(Trainer *t, Progress *p, Look *start, const Row *row, Result *r, Error *e) {
  char name[96];
  snprintf(name, sizeof name, "%s %d", row->name, r->seed);
  progress_start(p, name, t->s.quiet);
  p->holds = asks(row, "valid");
  double until = asks(row, "rise") ? 2 : asks(row, "until") ? 1 : 0;
  if (asks(row, "onset")) onset_run(t, p, start, until, r, e);
  else if (!look_at_sink(t, p, e)) {
    *start = (Look){.loss = NAN, .norm = NAN, .alpha1 = p->now[ALPHA_1],
                    .sink1 = p->now[SINK_1], .alpha_star = p->now[ALPHA_STAR],
                    .sink_star = p->now[SINK_STAR], .ratio = p->now[NORM_RATIO],
                    .held = NAN};
    if (!t->s.out[0] || file_missing(t->s.out) || !part_read(t, e)) train_run(t, p, e);
  }
  if (interrupted) *e = (Error){0},                        /* train_run's words name --out */
    fail(e, 1, "stopped by Ctrl-C: %s %d is not finished and %s. Try: the same command",
         r->row, r->seed,                      /* `row` may be the one that it goes on from */
         t->s.out[0] ? "goes on" : "begins anew");
  p->name = row->name;                                     /* `name` is this call's */
  return e->status;
}

/* A trainer at the row's first step: new, or with the parameters of the row it goes on from. */
static int row_begin(Trainer *t, Result *r, const Experiments *x, const Row *row,
                     const Corpus *corpus, const Settings *s, Progress *p, Error *e) {
  const Row *base = row->after < 0 ? row : &x->row[row->after];
  Settings now; Look start;
  if (row_settings(&now, base, corpus, r->seed, s, e) || trainer_create(t, &now, e))
    return e->status;
  result_describe(r, x, row, corpus, &t->data);
  if (corpus_check(corpus, own_of(s)->texts, &t->data, e) || base == row) return e->status;
  if (row_train(t, p, &start, base, r, e) || measure_curves(r, t, p, &start, "curve_", e) ||
      row_settings(&now, row, corpus, r->seed, s, e)) return e->status;
  return trainer_restart(t, &now, e);
}

/* Trains a model of the language and measures it. A training that diverges is a result. */
static int row_model(Result *r, Progress *p, const Experiments *x, const Row *row,
                     const Corpus *corpus, const Settings *s, Error *e) {
  Trainer t = {0}; Look start = {.loss = NAN, .norm = NAN, .held = NAN}; double loss = NAN;
  if (!row_begin(&t, r, x, row, corpus, s, p, e) && asks(row, "domains"))
    measure_domains(NULL, &t, x, own_of(s)->texts, e);     /* before it is trained for nothing */
  if (!e->status && !part_open(&t, r, row, s, e) && !row_train(&t, p, &start, row, r, e))
    trained_loss(&loss, &t, HELD_BLOCKS, e);
  bool ended = has_ended(r->ended, &t, e);
  if (!e->status) {
    record(r, e, ended, "diverged");
    record(r, e, (double)t.step, "steps");
    record(r, e, (double)t.step * tokens_a_step(&t), "tokens");
    record(r, e, (double)t.m.count, "parameters");
    measure_curves(r, &t, p, &start, row->after < 0 ? "curve_" : "tune_", e);
    if (!ended && !e->status) measure(r, &t, p, loss, x, row, own_of(s)->texts, e);
    if (!e->status && t.s.out[0]) remove(t.s.out), remove(t.s.log);
  }
  trainer_free(&t);
  return e->status;
}

/* Trains and measures a row for a seed; one that diverges is a result too. Nothing is written. */
static int row_run(Result *r, const Experiments *x, int row, const Corpus *corpus, int seed,
                   const Settings *s, Error *e) {
  const Row *w = &x->row[row];
  Progress *p = grab(1, sizeof *p, e);
  Settings now;
  *r = (Result){.seed = seed, .checksum = w->checksum};
  snprintf(r->row, sizeof r->row, "%s", w->name);
  snprintf(r->corpus, sizeof r->corpus, "%s", corpus->name);
  if (p && !row_settings(&now, w, corpus, seed, s, e) && now.data.toy) {
    result_describe(r, x, w, corpus, NULL);
    progress_start(p, w->name, s->quiet);
    toy_run(&now, p, r, e);
  } else if (!e->status) row_model(r, p, x, w, corpus, s, e);
  free(p);
  if (e->status) result_free(r);
  return e->status;
}

/* -------------------------------------------------------------------------------------------------
 * 5  Rules and verdicts
 *
 * What is judged is one number a seed and row, so n is the number of seeds, 3 to 5: tokens and
 * sequences within a run are no independent trials of the claim. Every interval is Student's, at
 * 95 %: it takes the seeds to be normal, which so few cannot show. A claim is one of
 *
 *   differs   A < B by M.  d = B - A (A - B for >): difference of the seeds' means, Welch's
 *             interval, which lets the sides spread unequally. Student's of the seeds' differences
 *             where both sides are of the same trainings (one row; one that goes on from the other)
 *             or are losses: a seed fixes the order of the data, which a loss follows. d_0 is d
 *             where there is no effect: 0 between rows. Beside a number it is d at what `from`
 *             says, or at 1 of times even and of a ratio, or else at the number; and 0 where the
 *             claim is that there is no effect.
 *       reproduced           p <= 0.05, the interval above 0, d >= M: not chance, and large enough
 *       opposite             p <= 0.05, the interval below d_0, and d <= d_0 - M
 *       weaker than claimed  the interval above d_0, all of it below M (below 0 for M = 0), and d a
 *                            TENTH of the way from d_0 to M
 *       not reproduced       M > 0 or d_0 < 0, all of it below M, and no such effect shown
 *   equal     A = B within M.  d = A - B, and the same interval.
 *       reproduced           p <= 0.05, and the whole interval inside (-M, M)
 *       not reproduced       the whole interval outside
 *   ordered   A < B < C ..  For each seed Kendall's tau: over all pairs of rows, the share in the
 *             stated order less the share against it; a tie is neither. Student's interval of the
 *             seeds' mean.
 *       reproduced           p <= 0.05, the interval above 0, and the mean tau >= TAU_COUNTS
 *       opposite             p <= 0.05, the interval below 0, and the mean tau <= -TAU_COUNTS
 *       weaker than claimed  the whole interval above 0 and below TAU_COUNTS, tau a TENTH of that
 *       not reproduced       the whole interval below TAU_COUNTS, and no order shown
 *   exact     the relation holds in every seed, give or take M: reproduced; one counterexample:
 *             not reproduced. It has no p: a coin would hold in three seeds one time in eight.
 *
 * and undecided otherwise. p is two-sided: the level whose interval would just reach the number
 * that decides, 0 (d_0 for d below it), or for equal the nearer of -M and M. (Two one-sided tests
 * of equality at 5 % each would ask for an interval of 90 % only; the wider one serves every
 * claim.) The more claims and looks, the more chance finds: for headline claims p is Holm's, over
 * all, tested or not, at a second look it is doubled; for others nothing is corrected. It guards
 * what is found; the plain interval says what is too small to count.
 *
 * No spread: where every seed gives one value the interval is a point, p is 0 or 1, the values
 * alone decide, and `why` says so. Equal values of both sides are no difference: not reproduced.
 * Not tested, hence undecided: one seed, a run that is missing, diverged (but its measure
 * `diverged` is 1) or void, a number that is not there, or a need that the means over the seeds of
 * both its sides do not meet. A counterexample to an exact claim stands where runs are missing.
 */
typedef enum Verdict { UNDECIDED, REPRODUCED, WEAKER, NOT_REPRODUCED, OPPOSITE, VERDICT_KINDS }
  Verdict;
typedef struct Judged {
  Verdict verdict;
  bool tested, unrun;          /* not tested: why says what is amiss; unrun: runs are missing */
  /* difference of means, or mean tau; its 95 % interval (exact: the range over seeds); two-sided
   * p, and p corrected; NAN where there is none */
  double estimate, low, high, p, corrected;
  int n[2];                    /* seeds of either side, 0 of a number; ordered, exact: n[0] */
  char why[300];
} Judged;

/* A difference of means, its standard error, degrees of freedom and 95 % interval. */
typedef struct Estimate { double value, error, nu, low, high; } Estimate;

static const double LEVEL = 0.05, TAU_COUNTS = 0.6, TENTH = 0.1;

/* I_x(a,b), the regularised incomplete beta function; y is 1 - x, given because the difference
 * would lose its digits. Its continued fraction (DLMF 8.17.22),
 *   I = x^a y^b / (a B(a,b)) / (1 + d_1 / (1 + d_2 / (1 + ..)))
 *   d_2m = m (b-m) x / ((a+2m-1) (a+2m))      d_2m+1 = -(a+m) (a+b+m) x / ((a+2m) (a+2m+1))
 * is evaluated from the inside out. It converges fast for x < (a+1) / (a+b+2). */
static double beta_fraction(double x, double y, double a, double b) {
  enum { TERMS = 100 };                        /* of either kind; the error is at student() */
  double f = 1;
  for (int m = TERMS; m >= 1; m--) {
    f = 1 - (a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)) / f;
    f = 1 + m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)) / f;
  }
  f = 1 - (a + b) * x / (a + 1) / f;
  double log_beta = lgamma(a) + lgamma(b) - lgamma(a + b);
  return exp(a * log(x) + b * log(y) - log_beta) / (a * f);
}

/* The same for every x: beyond that it is 1 - I_y(b,a). */
static double beta_share(double x, double y, double a, double b) {
  if (x <= 0 || y <= 0) return y <= 0;
  return x <= (a + 1) / (a + b + 2) ? beta_fraction(x, y, a, b) : 1 - beta_fraction(y, x, b, a);
}

/* P(T <= t) of Student's distribution with nu degrees of freedom, from
 * P(|T| > t) = I_x(nu/2, 1/2), x = nu / (nu + t^2)   (DLMF 8.17; Abramowitz and Stegun 26.7.1).
 * Error below 1e-12, of a lower tail below 1e-11 of itself, for nu of 1 to 1000. */
static double student(double t, double nu) {
  double sum = nu + t * t, tail = beta_share(nu / sum, t * t / sum, nu / 2, 0.5) / 2;
  return t < 0 ? tail : 1 - tail;
}

/* By bisection of the lower tail. */
static double student_quantile(double p, double nu) {
  double tail = p < 0.5 ? p : 1 - p, from = -1, to = 0;
  if (!(tail > 0)) return p < 0.5 ? -INFINITY : INFINITY;
  while (student(from, nu) > tail) from *= 2;
  for (int i = 0; i < 200; i++) {
    double middle = (from + to) / 2;
    *(student(middle, nu) > tail ? &to : &from) = middle;
  }
  return p < 0.5 ? from : -from;
}

/* Mean and the square of its standard error; of one number the error is 0. Differences to the
 * first, so that equal numbers have a variance of exactly 0. */
static double mean_of(const double *x, int n, double *square) {
  double sum = 0, squares = 0;
  for (int i = 0; i < n; i++) sum += x[i] - x[0];
  double mean = x[0] + sum / n;
  for (int i = 0; i < n; i++) squares += (x[i] - mean) * (x[i] - mean);
  *square = n > 1 ? squares / (n - 1) / n : 0;
  return mean;
}

/* Welch (1947): the squared error e^2 = e_a^2 + e_b^2 is as well known as that of a sample with
 *   nu = e^4 / (e_a^4 / (n_a - 1) + e_b^4 / (n_b - 1))
 * degrees of freedom (Satterthwaite 1946). A number for a: e_a = 0, nu = n_b - 1: Student's. */
static Estimate welch(const double *a, int na, const double *b, int nb) {
  double ea, eb, mean = mean_of(a, na, &ea), other = mean_of(b, nb, &eb);
  Estimate d = {.value = other - mean, .error = sqrt(ea + eb)};
  double parts = (na > 1 ? ea * ea / (na - 1) : 0) + (nb > 1 ? eb * eb / (nb - 1) : 0);
  d.nu = parts > 0 ? (ea + eb) * (ea + eb) / parts : 1;
  double half = d.error > 0 ? d.error * student_quantile(1 - LEVEL / 2, d.nu) : 0;
  d.low = d.value - half, d.high = d.value + half;
  return d;
}

/* Two-sided p that the true value is `at`; without spread 1 or 0. */
static double estimate_p(const Estimate *d, double at) {
  if (!(d->error > 0)) return d->value == at;
  return 2 * student(-fabs(d->value - at) / d->error, d->nu);
}

/* Holm (1979): the smallest p times m, the size of the family, the next one times m - 1, .., none
 * less than the one before it and none above 1. A NAN is of another family, or not known yet: then
 * it counts as the largest. */
static void holm(double *adjusted, const double *p, int n, int m) {
  for (int i = 0; i < n; i++) {
    adjusted[i] = isnan(p[i]) ? NAN : 0;
    for (int j = 0; j < n; j++) {
      int below = 0;
      if (!(p[j] <= p[i])) continue;
      for (int k = 0; k < n; k++) below += p[k] < p[j] || (p[k] == p[j] && k < j);
      adjusted[i] = fmax(adjusted[i], fmin(1, (m - below) * p[j]));
    }
  }
}

static const char *const VERDICT_NAMES[VERDICT_KINDS] = {
  "undecided", "reproduced", "weaker than claimed", "not reproduced", "opposite"};

static const char *verdict_text(const Judged *j) {
  return j->unrun ? "not run yet" : VERDICT_NAMES[j->verdict];
}

static bool related(double a, Relation relation, double b, double give) {
  switch (relation) {
  case LESS:      return a < b + give;
  case GREATER:   return a > b - give;
  case SAME:      return fabs(a - b) <= give;
  case NOT_ABOVE: return a <= b + give;
  default:        return a >= b - give;
  }
}

/* What a claim is judged by: value [side_count][seeds], NAN where a run has no number; of side k
 * wanted[k] seeds, NAN beyond. */
typedef struct Case {
  const Experiments *x; const Claim *c; const double *value; int seeds; const int *wanted;
} Case;

static double value_at(const Case *q, int k, int seed) {
  const Side *side = &q->c->side[k];
  return side->row < 0 ? side->number : q->value[k * q->seeds + seed];
}

static const char *side_text(char to[100], const Experiments *x, const Side *side) {
  if (side->row < 0) snprintf(to, 100, "%g", side->number);
  else snprintf(to, 100, "%s.%s", x->row[side->row].name, side->measure);
  return to;
}

/* Appended to what the claim has to say, as far as there is room. */
static void why(Judged *j, const char *format, ...) {
  size_t n = strlen(j->why);
  va_list args;
  if (n) n += (size_t)snprintf(j->why + n, sizeof j->why - n, "; ");
  if (n >= sizeof j->why) return;
  va_start(args, format);
  vsnprintf(j->why + n, sizeof j->why - n, format, args);
  va_end(args);
}

/* The numbers that side k has, into to [seeds]; how many. A number is one. */
static int side_values(const Case *q, int k, double *to) {
  int n = 0, seeds = q->c->side[k].row < 0 ? 1 : q->seeds;
  for (int s = 0; s < seeds; s++) if (!isnan(to[n] = value_at(q, k, s))) n++;
  return n;
}

/* Kendall's tau of one seed with the stated order, -1 .. 1; NAN where a row has no number. */
static double kendall(const Case *q, int seed) {
  int sum = 0, sides = q->c->sides;
  for (int i = 0; i < sides; i++)
    for (int k = i + 1; k < sides; k++) {
      double a = value_at(q, i, seed), b = value_at(q, k, seed);
      if (isnan(a) || isnan(b)) return NAN;
      sum += (a < b) - (a > b);
    }
  return (q->c->relation == GREATER ? -1.0 : 1.0) * sum / (sides * (sides - 1) / 2);
}

/* d_0 of a claim: no effect. Where the claim is that there is none, its border is what counts. */
static double no_effect(const Claim *c) {
  int number = c->kind == CLAIM_DIFFERS ? side_number(c) : -1;
  if (number < 0) return 0;
  const char *measure = c->side[!number].measure;
  bool to_one = !strncmp(measure, "times_", 6) || strstr(measure, "_ratio");
  double border = c->side[number].number, none = !isnan(c->from) ? c->from : to_one ? 1 : border;
  return fmin(0, (number == 0) == (c->relation == LESS) ? none - border : border - none);
}

/* Are the sides compared seed by seed? */
static bool in_pairs(const Experiments *x, const Side *a, const Side *b) {
  if (a->row < 0 || b->row < 0) return false;
  return a->row == b->row || x->row[a->row].after == b->row || x->row[b->row].after == a->row ||
         (!strncmp(a->measure, "loss", 4) && !strncmp(b->measure, "loss", 4));
}

/* Of a claim that is no exact one: d, or the mean tau. */
static void judge_mean(Judged *j, const Case *q) {
  const Claim *c = q->c;
  bool ordered = c->kind == CLAIM_ORDERED, turned = c->relation == GREATER || c->relation == SAME;
  bool paired = !ordered && in_pairs(q->x, &c->side[0], &c->side[1]);
  double from[SEEDS_MOST] = {0}, to[SEEDS_MOST]; int na = 1, nb = 0;
  for (int s = 0; (ordered || paired) && s < q->seeds; s++)
    if (!isnan(to[nb] = ordered ? kendall(q, s) : value_at(q, !turned, s) - value_at(q, turned, s)))
      nb++;
  j->n[0] = nb, j->n[1] = paired ? nb : 0;
  if (!ordered && !paired) {
    na = side_values(q, turned, from);
    nb = side_values(q, !turned, to);
    j->n[turned] = c->side[turned].row < 0 ? 0 : na;
    j->n[!turned] = c->side[!turned].row < 0 ? 0 : nb;
  }
  if (!na || !nb) return;
  Estimate d = welch(from, na, to, nb);
  j->estimate = d.value;
  if (ordered) why(j, "mean tau %.2f of %d rows", d.value, c->sides);
  j->tested = j->n[0] != 1 && j->n[1] != 1 && j->n[0] + j->n[1] > 0;
  if (!j->tested) { why(j, "1 seed"); return; }
  j->low = ordered ? fmax(-1, d.low) : d.low;
  j->high = ordered ? fmin(1, d.high) : d.high;
  double none = no_effect(c), decides = d.value < none ? none : 0;
  j->p = estimate_p(&d, c->kind != CLAIM_EQUAL ? decides : d.value < 0 ? -c->margin : c->margin);
  if (!(d.error > 0)) why(j, "no spread: every seed has the same %s", ordered ? "tau" : "value");
}

/* Here the interval is the range over seeds, and there is no p: the verdict is final. */
static void judge_exact(Judged *j, const Case *q) {
  const Claim *c = q->c;
  char side[100]; double sum = 0;
  int n = 0, number = c->side[0].row < 0;      /* on which side there may be a number */
  bool broken = false, turned = c->relation != LESS && c->relation != NOT_ABOVE;
  for (int s = 0; s < q->seeds; s++) {
    double a = value_at(q, 0, s), b = value_at(q, 1, s), d = turned ? a - b : b - a;
    if (isnan(a) || isnan(b)) continue;
    j->low = fmin(j->low, d);                /* the other one where this is NAN */
    j->high = fmax(j->high, d);
    sum += d, n++;
    if (broken || related(a, c->relation, b, c->margin)) continue;
    broken = true;
    why(j, "%s of seed %d: %.6g against %.6g", side_text(side, q->x, &c->side[number]), s + 1,
        number ? b : a, number ? a : b);
  }
  j->n[0] = n;
  if (!n) return;
  j->estimate = sum / n;
  j->tested = broken || n > 1;
  j->verdict = broken ? NOT_REPRODUCED : n > 1 ? REPRODUCED : UNDECIDED;
  if (n == 1 && !broken) why(j, "1 seed");
  else if (!broken) why(j, "holds in %d of %d seeds", n, n);
}

/* Is a number missing that the claim needs? One is named. */
static bool lacks(Judged *j, const Case *q) {
  char side[100];
  for (int i = 0; i < side_count(q->c) * q->seeds; i++) {
    int k = i / q->seeds, s = i % q->seeds;
    if (s >= q->wanted[k] || !isnan(value_at(q, k, s))) continue;
    why(j, "%s of seed %d is not there", side_text(side, q->x, &q->c->side[k]), s + 1);
    return true;
  }
  return false;
}

/* Does a need fail? Means over the seeds that both its sides have. */
static bool unmet(Judged *j, const Case *q) {
  for (int i = 0; i < q->c->needs; i++) {
    const Side *side = &q->c->side[q->c->sides + 2 * i];
    double mean[2] = {0}; char a[100], b[100], within[40] = "", also[40] = "";
    int k = q->c->sides + 2 * i, n = 0;
    for (int s = 0; s < q->seeds; s++) {
      double left = value_at(q, k, s), right = value_at(q, k + 1, s);
      if (!isnan(left + right)) mean[0] += left, mean[1] += right, n++;
    }
    mean[0] /= n, mean[1] /= n;
    Relation relation = q->c->needed[i];
    if (!n || related(mean[0], relation, mean[1], q->c->within[i])) continue;  /* !n: see lacks() */
    if (relation == SAME) snprintf(within, sizeof within, " within %g", q->c->within[i]);
    if (side[1].row >= 0) snprintf(also, sizeof also, " and %.3g", mean[1]);
    bool sink = relation == GREATER && side->measure && !strncmp(side->measure, "times_", 6);
    why(j, "needs %s %s %s%s, found %.3g%s%s", side_text(a, q->x, side), SIGNS[relation],
        side_text(b, q->x, side + 1), within, mean[0], also, sink ? " (no sink to judge)" : "");
    return true;
  }
  return false;
}

/* Estimate, interval and p; a verdict where there is no more to it. */
static void claim_estimate(Judged *j, const Case *q) {
  *j = (Judged){.estimate = NAN, .low = NAN, .high = NAN, .p = NAN, .corrected = NAN};
  (q->c->kind == CLAIM_EXACT ? judge_exact : judge_mean)(j, q);
  Judged alone = {0};                          /* what stands instead if it is not judged */
  if (!unmet(&alone, q) && (j->verdict == NOT_REPRODUCED || !lacks(&alone, q))) return;
  j->tested = false, j->verdict = UNDECIDED, j->p = NAN;   /* estimate and interval stay */
  memcpy(j->why, alone.why, sizeof j->why);
}

/* The rules at the head of this section. */
static void claim_decide(Judged *j, const Claim *c) {
  double M = c->margin, d = j->estimate, p = isnan(j->corrected) ? j->p : j->corrected;
  bool sure = p <= LEVEL, same = j->low == j->high && d == 0;
  if (!j->tested || c->kind == CLAIM_EXACT) return;
  if (c->kind == CLAIM_EQUAL) {
    bool inside = j->low > -M && j->high < M;
    j->verdict = inside && sure ? REPRODUCED
                 : j->low >= M || j->high <= -M ? NOT_REPRODUCED : UNDECIDED;
    if (j->verdict == UNDECIDED && !inside)
      why(j, "the %sinterval reaches over the margin", j->high - j->low < 2 * M ? "" : "wide ");
  } else {
    double counts = c->kind == CLAIM_ORDERED ? TAU_COUNTS : M, none = no_effect(c);
    bool below = (counts > 0 || none < 0) && j->high < counts,
         weaker = j->low > none && d - none >= TENTH * (counts - none);
    j->verdict = j->low > 0 && sure && d >= counts ? REPRODUCED
                 : j->high < none && sure && d <= none - counts ? OPPOSITE
                 : below ? (weaker ? WEAKER : NOT_REPRODUCED)
                 : counts <= 0 && same ? NOT_REPRODUCED : UNDECIDED;
    if (j->verdict == UNDECIDED && j->low <= 0 && j->high >= 0) why(j, "the interval holds 0");
    else if (j->verdict == UNDECIDED && sure)
      why(j, "below %g, but the interval does not say so", counts);
  }
  if (j->verdict == UNDECIDED && j->p <= LEVEL && !sure)
    why(j, "the corrected p is above %g", LEVEL);
}

/* -------------------------------------------------------------------------------------------------
 * The results of a corpus, and all claims */

/* The results of one corpus, all rows for seeds 1 .. headline_seeds. x must outlive it. A file that
 * is damaged, or void since its row has changed, counts as missing and has a line in notes. */
typedef enum RunState { RUN_MISSING, RUN_HELD, RUN_DIVERGED, RUN_VOID, RUN_DAMAGED, RUN_STATES }
  RunState;
typedef struct Run { RunState state; Result result; } Run;
typedef struct Results {
  const Experiments *x;
  char corpus[sizeof ((Result *)0)->corpus];
  bool first;                  /* the table's first corpus? */
  int seeds, times;            /* times: how often the corpus is read, of its table */
  Run *run;                    /* [rows][seeds] */
  Judged *judged;              /* [claims] */
  Bytes notes;                 /* lines, without a 0 */
} Results;
/* Was r made of another text than its corpus names now, or another number of times? No toy was. */
static bool other_text(const Experiments *x, const Result *r) {
  const Corpus *c = x->corpus; char hash[20];
  while (c < x->corpus + x->corpora && strcmp(c->name, r->corpus)) c++;
  if (c == x->corpus + x->corpora || !c->hash || !strcmp(r->data, BY_TOY)) return false;
  snprintf(hash, sizeof hash, "%016llx", (unsigned long long)c->hash);
  const char *at = strstr(r->flags, "data times ");
  return !strstr(r->data, hash) || (at ? strtol(at + 11, NULL, 10) : 1) != c->times;
}

/* The result of a row for a seed, if there is one, and what is amiss with it as a line of notes. */
static RunState run_load(Result *r, const Experiments *x, int row, const char *folder,
                         const char *corpus, int seed, Bytes *notes) {
  const Row *is = &x->row[row];
  char path[PATH_ROOM]; Bytes text = {0}; Error e = {0}, second = {0};
  *r = (Result){0};
  if (!result_path(path, folder, corpus, is->name, seed, &e) && file_missing(path))
    return RUN_MISSING;
  if (!e.status && !lines_read(path, &text, &e) && !result_read(r, text.at, text.size, path, &e) &&
      (strcmp(r->row, is->name) || strcmp(r->corpus, corpus) || r->seed != seed))
    fail(&e, 1, "%s: expected row %s, seed %d of %s, found row %s, seed %d of %s. Try: delete "
         "it, and run it again", path, is->name, seed, corpus, r->row, r->seed, r->corpus);
  bytes_free(&text);
  const char *changed = e.status ? NULL : r->checksum != is->checksum ? "row"
                        : other_text(x, r) ? "text" : NULL;
  if (e.status) bytes_print(notes, &second, "%s\n", e.text);
  if (changed) bytes_print(notes, &second, "%s is void: the %s changed\n", path, changed);
  return e.status ? RUN_DAMAGED : changed ? RUN_VOID : r->ended[0] ? RUN_DIVERGED : RUN_HELD;
}

/* Is the result of row and seed there, undamaged and of this row? 1 yes, 0 no, -1 void. */
static int result_there(const Experiments *x, int row, const char *folder, const char *corpus,
                        int seed) {
  Result r; Bytes notes = {0};
  RunState state = run_load(&r, x, row, folder, corpus, seed, &notes);
  result_free(&r); bytes_free(&notes);
  return state == RUN_VOID ? -1 : state == RUN_HELD || state == RUN_DIVERGED;
}

static const Run *run_at(const Results *r, int row, int seed) {
  return &r->run[row * r->seeds + seed - 1];
}

/* The seeds that a row is judged by are 1 .. this. */
static int seeds_of(const Results *r, int row) { return row_seeds(r->x, row, r->first, r->times); }

/* Counts the runs of a row for seeds 1 .. seeds by their state. */
static void count_runs(const Results *r, int row, int seeds, int state[RUN_STATES]) {
  for (int seed = 1; seed <= seeds; seed++) state[run_at(r, row, seed)->state]++;
}

/* NAN: there is none. `diverged` is 0 or 1, and a run that diverged has no other measure. */
static double results_number(const Results *r, int row, int seed, const char *measure) {
  const Run *run = run_at(r, row, seed);
  if (run->state != RUN_HELD && run->state != RUN_DIVERGED) return NAN;
  if (!strcmp(measure, "diverged")) return run->state == RUN_DIVERGED;
  double x = run->state == RUN_HELD ? result_number(&run->result, measure) : NAN;
  return fabs(x) < 1e30 ? x : NAN;             /* nothing that is measured comes near */
}

/* Why the claim lacks numbers, when it is runs that are not there or that diverged. */
static void why_runs(Judged *j, const Results *r, const Claim *c) {
  int wanted = 0, state[RUN_STATES] = {0}, row = 0, seed = 1;
  for (int i = 0; i < r->x->rows; i++) {
    if (!claim_uses(c, i)) continue;
    if (!state[RUN_DIVERGED]) row = i;       /* the first one that has diverged */
    count_runs(r, i, seeds_of(r, i), state);
    wanted += seeds_of(r, i);
  }
  int there = state[RUN_HELD] + state[RUN_DIVERGED];
  if (there == wanted && (!state[RUN_DIVERGED] || !strncmp(j->why, "needs ", 6))) return;
  j->why[0] = 0;
  if ((j->unrun = there < wanted)) why(j, "%d of %d runs", there, wanted);
  if (state[RUN_VOID]) why(j, "%d void: the row or text changed", state[RUN_VOID]);
  if (state[RUN_DAMAGED]) why(j, "%d damaged", state[RUN_DAMAGED]);
  if (!state[RUN_DIVERGED]) return;
  while (run_at(r, row, seed)->state != RUN_DIVERGED) seed++;
  why(j, "%s diverged (seed %d)", r->x->row[row].name, seed);
}

/* From its runs all of r->judged. */
static int claims_judge(Results *r, Error *e) {
  const Experiments *x = r->x; Judged *j = r->judged;
  double *value = grab((SIDES + 2 * NEEDS) * (idx)r->seeds, sizeof *value, e);
  double *p = grab(x->claims, sizeof *p, e), *adjusted = grab(x->claims, sizeof *p, e);
  int family = 0;
  for (int i = 0; i < x->claims && !e->status; i++) {
    const Claim *c = &x->claim[i];
    int wanted[SIDES + 2 * NEEDS] = {0};
    for (int k = 0; k < side_count(c); k++) {
      if (c->side[k].row >= 0) wanted[k] = seeds_of(r, c->side[k].row);
      for (int s = 0; s < r->seeds; s++)
        value[k * r->seeds + s] = s >= wanted[k] ? NAN :
          results_number(r, c->side[k].row, s + 1, c->side[k].measure);
    }
    claim_estimate(&j[i], &(Case){x, c, value, r->seeds, wanted});
    if (!j[i].tested) why_runs(&j[i], r, c);
    p[i] = c->headline ? j[i].p : NAN;                     /* untested: NAN */
    family += c->headline;
  }
  if (!e->status) holm(adjusted, p, x->claims, family);
  for (int i = 0; i < x->claims && !e->status; i++) {
    bool again = x->claim[i].twice && r->times > 1;          /* a p that is NAN stays it */
    j[i].corrected = !again ? adjusted[i] : j[i].p > 0.5 ? 1 : 2 * j[i].p;
    claim_decide(&j[i], &x->claim[i]);
  }
  free(value); free(p); free(adjusted);
  return e->status;
}

static int results_load(Results *r, const Experiments *x, const char *folder, const char *corpus,
                        Error *e) {
  *r = (Results){.x = x, .first = true, .times = 1, .seeds = x->headline_seeds};
  snprintf(r->corpus, sizeof r->corpus, "%s", corpus);
  for (int i = x->corpora - 1; i >= 0; i--) {  /* the first one that is trained on decides */
    bool is = !strcmp(x->corpus[i].name, corpus);
    if (!x->corpus[i].domain) r->first = is;
    if (is) r->times = x->corpus[i].times;
  }
  r->run = grab((idx)x->rows * r->seeds, sizeof *r->run, e);
  r->judged = grab(x->claims, sizeof *r->judged, e);
  for (int i = 0; !e->status && i < x->rows * r->seeds; i++)
    r->run[i].state = run_load(&r->run[i].result, x, i / r->seeds, folder, corpus,
                               i % r->seeds + 1, &r->notes);
  return e->status ? e->status : claims_judge(r, e);
}

static void results_free(Results *r) {
  for (int i = 0; r->run && i < r->x->rows * r->seeds; i++) result_free(&r->run[i].result);
  free(r->run); free(r->judged);
  bytes_free(&r->notes);
  *r = (Results){0};
}

/* -------------------------------------------------------------------------------------------------
 * 6  What is shown: the list of items, an item's table, the ledger
 *
 * Text of at most 100 columns for a terminal, or Markdown for the README, from the same cells. What
 * begins with sink_ is in per cent, as in the paper; ours is mean +- deviation over seeds.
 */
enum { WIDTH = 100, CELL = 48, ACROSS = 2 * COLUMNS + 12 };
typedef char Cell[CELL];

/* Row 0 holds the heads; cell (r, c) is cell[r * ACROSS + c]. A pair's first has one for both.
 * left: how many rows are not run yet. */
typedef struct Grid { int rows, columns, left; bool pair[ACROSS]; Cell *cell; } Grid;

static bool in_percent(const char *measure) { return !strncmp(measure, "sink_", 5); }
static double scale_of(const char *measure) {
  return in_percent(measure) ? 100 : !strncmp(measure, "least_", 6) ? 1e-6 : 1;
}

/* A measure over seeds, in the unit that is shown; square: of the mean's error. */
typedef struct Spread { int n; double mean, square, low, high, at[SEEDS_MOST]; } Spread;
static const Spread NO_SPREAD = {.mean = NAN, .low = NAN, .high = NAN};

static void spread_add(Spread *s, double x) {
  if (!(fabs(x) < 1e30) || s->n == SEEDS_MOST) return;     /* a file may hold anything */
  s->low = fmin(s->low, x);                    /* the other one where this is NAN */
  s->high = fmax(s->high, x);
  s->at[s->n++] = x;
  s->mean = mean_of(s->at, s->n, &s->square);
}

static Spread spread_of(const Results *r, int row, const char *measure) {
  Spread s = NO_SPREAD;
  for (int seed = 1; seed <= seeds_of(r, row); seed++)
    spread_add(&s, scale_of(measure) * results_number(r, row, seed, measure));
  return s;
}

/* How many digits a number of this measure is worth. */
static int digits_of(const char *measure, double x) {
  double size = fabs(x);
  return in_percent(measure) ? 2 : size >= 1000 ? 0 : size >= 100 ? 1 : size >= 10 ? 2 : 3;
}

/* `first` in `indent` columns, beside it the words of a line, emptied, broken before `width`. */
static void wrapped(Bytes *out, int indent, int width, const char *first, Bytes *line, Error *e) {
  int at = indent;
  bytes_print(out, e, "%-*s", indent, first);
  bytes_add(line, "", 1, e);
  for (char *text = (char *)line->at; !e->status && *text; text += strspn(text, " ")) {
    size_t n = strcspn(text, " ");
    if (at > indent && at + 1 + (int)n > width)
      bytes_print(out, e, "\n%*s", indent, ""), at = indent;
    if (at > indent) bytes_print(out, e, " ");
    at += (int)n + (at > indent);
    bytes_add(out, text, n, e);
    text += n;
  }
  bytes_print(out, e, "\n"), line->size = 0;
}

/* Text in Markdown: a | would end a cell, a < before a letter begin an element. */
static void markdown_text(Bytes *out, const char *text, Error *e) {
  for (; *text; text++) {
    const bool tag = *text == '<' && (isalpha((unsigned char)text[1]) || strchr("/!", text[1]));
    bytes_print(out, e, *text == '|' || (tag && text[1]) ? "\\%c" : "%c", *text);
  }
}

static void markdown_cell(Bytes *out, const char *text, Error *e) {
  bytes_print(out, e, " ");
  markdown_text(out, text, e);
  bytes_print(out, e, " |");
}

/* A cell on a terminal: row 0 has `paper` and `ours` of a pair, row -1 the name above both. */
static const char *cell_at(const Grid *g, int r, int c) {
  bool first = g->pair[c], second = c && g->pair[c - 1];
  if (r < 0) return second ? g->cell[c - 1] : "";
  if (r == 0 && (first || second)) return first ? "paper" : "ours";
  return g->cell[r * ACROSS + c];
}

/* As Markdown and HTML do, whose heads are one row. */
static const char *flat_cell(const Grid *g, int r, int c, Cell head) {
  snprintf(head, CELL, "%.36s, paper", g->cell[c]);
  return r == 0 && g->pair[c] ? head : cell_at(g, r, c);
}

static void grid_markdown(const Grid *g, Bytes *out, Error *e) {
  Cell head;
  for (int r = 0; r < g->rows; r++) {
    bytes_print(out, e, "|");
    for (int c = 0; c < g->columns; c++) markdown_cell(out, flat_cell(g, r, c, head), e);
    bytes_print(out, e, r ? "\n" : "\n|---|");
    for (int c = 1; r == 0 && c < g->columns; c++)
      bytes_print(out, e, c + 1 < g->columns ? "--:|" : "--:|\n");
  }
}

/* In as many blocks below each other as WIDTH asks for; each begins with the first column. */
static void grid_text(const Grid *g, Bytes *out, Error *e) {
  int width[ACROSS] = {0};
  for (int c = 0; c < g->columns; c++)
    for (int r = 0; r < g->rows; r++)
      width[c] = (int)fmax(width[c], (double)strlen(cell_at(g, r, c)));
  for (int c = 1; c < g->columns; c++)         /* a pair's name stands above both */
    width[c] = (int)fmax(width[c], (double)strlen(cell_at(g, -1, c)) - 2 - width[c - 1]);
  for (int from = 1, to; from < g->columns; from = to) {
    int used = width[0];
    for (to = from; to < g->columns; to += 1 + g->pair[to]) {
      used += 2 + width[to] + (g->pair[to] ? 2 + width[to + 1] : 0);
      if (to > from && used > WIDTH) break;
    }
    if (from > 1) bytes_print(out, e, "\n");
    for (int r = -1; r < g->rows; r++) {
      size_t line = out->size;
      bytes_print(out, e, "%-*s", width[0], cell_at(g, r, 0));
      for (int c = from; c < to; c++) {
        bool above = r < 0 && g->pair[c];            /* both columns at the second's turn */
        int both = r < 0 && g->pair[c - 1] ? 2 + width[c - 1] : 0;
        if (!above) bytes_print(out, e, "  %*s", both + width[c], cell_at(g, r, c));
      }
      while (out->size > line && out->at[out->size - 1] == ' ') out->size--;
      if (out->size > line) bytes_print(out, e, "\n");
    }
  }
}

/* A number to `digits` behind its point, with a spread that shows there to its second digit and no
 * further, without one to its last that is not 0; tokens in millions. */
static void with_spread(Cell to, double mean, double spread, int digits, const char *sign) {
  const bool millions = fabs(mean) >= 1e5;
  const double unit = millions ? 1e6 : 1;
  if (millions)
    digits = 2;
  if (!(spread / unit * pow(10, digits) >= 0.5))           /* it would be 0 */
    spread = NAN;
  if (spread > 0)
    digits = (int)fmin(digits, fmax(0, 1 - floor(log10(spread / unit))));
  int at = snprintf(to, CELL, "%.*f", digits, mean / unit);
  while (!(spread > 0) && at < CELL && strchr(to, '.') && strchr("0.", to[at - 1])) {
    const bool point = to[--at] == '.';
    to[at] = 0;
    if (point)
      break;
  }
  if (spread > 0 && at < CELL)
    at += snprintf(to + at, (size_t)(CELL - at), " %s %.*f", sign, digits, spread / unit);
  if (millions && at < CELL)
    snprintf(to + at, (size_t)(CELL - at), " M");
}

/* Mean and spread of a measure over the row's seeds, as text. */
static void ours(Cell to, const Results *r, int row, const char *measure, bool markdown) {
  int state[RUN_STATES] = {0};
  Spread s = spread_of(r, row, measure);
  with_spread(to, s.mean, s.n > 1 ? sqrt(s.square * s.n) : NAN, digits_of(measure, s.mean),
              markdown ? "\302\261" : "+-");
  if (s.n) return;
  count_runs(r, row, seeds_of(r, row), state);
  snprintf(to, CELL, "%s", state[RUN_DIVERGED] ? "diverged" : "");
}

/* "5", "2 of 5", and what is amiss with the others. */
static void seeds_cell(Cell to, const Results *r, int row) {
  static const char *const names[RUN_STATES] = {"", "", "diverged", "void", "damaged"};
  int state[RUN_STATES] = {0}, seeds = seeds_of(r, row);
  count_runs(r, row, seeds, state);
  int n = state[RUN_HELD] + state[RUN_DIVERGED];
  int at = snprintf(to, CELL, n < seeds ? "%d of %d" : "%d", n, seeds);
  for (int i = RUN_DIVERGED; i < RUN_STATES; i++)
    if (state[i]) at += snprintf(to + at, (size_t)(CELL - at), ", %d %s", state[i], names[i]);
}

/* Is any run of the row there, or a file that should be one? */
static bool row_begun(const Results *r, int row) {
  int state[RUN_STATES] = {0};
  count_runs(r, row, seeds_of(r, row), state);
  return state[RUN_MISSING] < seeds_of(r, row);
}

static bool item_has_onsets(const Item *item);               /* onset.c */
static int onset_columns(Grid *g, const Results *r, const Item *item, int c);
/* firstness.c */
static int item_more(Bytes *out, const Results *r, const Item *item, bool markdown, Error *e);
/* An item's rows: each of its columns, as paper | ours where the paper prints any, then what is
 * always told: alpha_1, its multiple of even rows, and the seeds. */
static int grid_of(Grid *g, const Results *r, const Item *item, bool markdown, Error *e) {
  static const char *const always[] = {"alpha_1", "times_1"};
  const Shown *shown = &r->x->shown[item->from];
  int c = 1;
  *g = (Grid){.rows = item->count + 1};
  if (!(g->cell = grab((idx)g->rows * ACROSS, sizeof *g->cell, e))) return e->status;
  for (int i = 0; i < item->columns + 2; i++) {
    bool more = i >= item->columns;
    const char *name = more ? always[i - item->columns] : item->column[i];
    if (more && entry_of(item->column, item->columns, sizeof name, name) >= 0) continue;
    for (int k = 0; k < item->count && !more; k++)
      g->pair[c] |= strcmp(shown[k].paper[i].text, ".") != 0;
    snprintf(g->cell[c], CELL, "%.36s%s", strcmp(name, "times_1") ? name : "x even",
             in_percent(name) ? " %" : "");
    for (int k = 0; k < item->count; k++) {
      Cell *cell = &g->cell[(k + 1) * ACROSS + c];
      const char *text = g->pair[c] ? shown[k].paper[i].text : ".";
      ours(cell[g->pair[c]], r, shown[k].row, name, markdown);
      if (strcmp(text, ".")) snprintf(cell[0], CELL, "%s", text);
    }
    c += 1 + g->pair[c];
  }
  if (item_has_onsets(item)) c = onset_columns(g, r, item, c);
  snprintf(g->cell[0], CELL, "row");
  snprintf(g->cell[c], CELL, "seeds");
  for (int k = 0; k < item->count; k++) {
    snprintf(g->cell[(k + 1) * ACROSS], CELL, "%s", r->x->row[shown[k].row].name);
    seeds_cell(g->cell[(k + 1) * ACROSS + c], r, shown[k].row);
  }
  g->columns = c + 1;
  int kept = 1;                                /* rows not begun are left out where others are */
  for (int k = 0; k < item->count; k++)
    if (row_begun(r, shown[k].row))
      memmove(g->cell[kept++ * ACROSS], g->cell[(k + 1) * ACROSS], ACROSS * sizeof(Cell));
  if (kept > 1) g->left = g->rows - kept, g->rows = kept;
  return 0;
}

static void rows_grid(Bytes *out, const Results *r, const Item *item, bool markdown, Error *e) {
  Grid g;
  if (grid_of(&g, r, item, markdown, e)) return;
  (markdown ? grid_markdown : grid_text)(&g, out, e);
  free(g.cell);
  if (g.left && markdown) bytes_print(out, e, "\nRows not run yet: %d.\n", g.left);
  else if (g.left)
    bytes_print(out, e, "Rows not run yet: %d. ./paper %s%s%s --commands lists their runs.\n",
                g.left, item->name, r->first ? "" : " --corpus ", r->first ? "" : r->corpus);
  item_more(out, r, item, markdown, e);
}

static void claim_rule(Bytes *out, const Experiments *x, const Claim *c, Error *e) {
  char side[100];
  for (int k = 0; k < side_count(c); k++) {
    int need = k < c->sides ? -1 : (k - c->sides) / 2;
    bool left = need >= 0 && k == c->sides + 2 * need;
    if (left) bytes_print(out, e, need ? ", " : "; needs ");
    else if (k) bytes_print(out, e, " %s ", SIGNS[need < 0 ? c->relation : c->needed[need]]);
    bytes_print(out, e, "%s", side_text(side, x, &c->side[k]));
    if (k + 1 == c->sides && c->margin > 0)
      bytes_print(out, e, " %s %g", c->kind == CLAIM_DIFFERS ? "by" : "within", c->margin);
    if (k + 1 == c->sides && !isnan(c->from)) bytes_print(out, e, " from %g", c->from);
    if (need >= 0 && !left && c->needed[need] == SAME)
      bytes_print(out, e, " within %g", c->within[need]);
  }
}

/* "0.213 [0.19, 0.236]", or as much of it as there is; p, and p corrected. */
typedef struct Evidence { Cell estimate, p, corrected; } Evidence;

/* 0: there was no spread, as is said then; no probability. */
static void p_text(Cell to, double p) {
  if (!isnan(p) && p != 0) snprintf(to, CELL, p < 1e-4 ? "< 0.0001" : "%.4f", p);
}

static Evidence evidence_of(const Judged *j) {
  Evidence is = {"", "", ""};
  int n = isnan(j->estimate) ? 0 : snprintf(is.estimate, CELL, "%.3g", j->estimate);
  if (!isnan(j->low))
    snprintf(is.estimate + n, (size_t)(CELL - n), " [%.3g, %.3g]", j->low, j->high);
  p_text(is.p, j->p), p_text(is.corrected, j->corrected);
  return is;
}

/* The estimate, its interval, p, how many seeds, and why. */
static void claim_evidence(Bytes *line, const Claim *c, const Judged *j, Error *e) {
  Evidence is = evidence_of(j);
  bool any = is.estimate[0];
  bytes_print(line, e, "%s", is.estimate);
  if (is.p[0]) bytes_print(line, e, ", p %s", is.p);
  if (is.corrected[0]) bytes_print(line, e, " (corrected %s)", is.corrected);
  if (any && c->kind == CLAIM_EXACT) bytes_print(line, e, ", range of %d", j->n[0]);
  else if (any && c->kind == CLAIM_ORDERED) bytes_print(line, e, ", n %d", j->n[0]);
  else if (any) bytes_print(line, e, ", n %d and %d", j->n[0], j->n[1]);
  if (j->why[0]) bytes_print(line, e, "%s%s", any ? ": " : "", j->why);
}

/* Is a claim judged on this corpus? */
static bool claim_here(const Results *r, const Claim *c) {
  return r->first || claim_again(c, r->times);
}

static void claim_text(Bytes *out, const Results *r, int claim, Error *e) {
  enum { INDENT = 21 };
  const Claim *c = &r->x->claim[claim];
  const Judged *j = &r->judged[claim];
  Bytes line = {0};
  bytes_print(out, e, "\n");
  bytes_print(&line, e, "%s (%s%s)", c->statement, c->reference, !claim_here(r, c) ?
              "; not counted here" : c->headline ? "; headline" :
              c->twice && r->times > 1 ? "; second look" : "");
  wrapped(out, INDENT, WIDTH, verdict_text(j), &line, e);
  bytes_print(&line, e, "rule %s: ", c->name);
  claim_rule(&line, r->x, c, e);
  wrapped(out, INDENT, WIDTH, "", &line, e);
  claim_evidence(&line, c, j, e);
  wrapped(out, INDENT, WIDTH, "", &line, e);
  bytes_free(&line);
}

/* An item: its rows, the paper's numbers beside ours, and its claims with all that led there. */
static int item_text(Bytes *out, const Results *r, int item, Error *e) {
  const Item *is = &r->x->item[item];
  Bytes head = {0};
  bytes_print(&head, e, "%s, %s: %s (%s)", is->name, is->reference, is->title, r->corpus);
  wrapped(out, 0, WIDTH, "", &head, e);
  if (is->note) bytes_print(&head, e, "%s", is->note), wrapped(out, 0, WIDTH, "", &head, e);
  bytes_free(&head);
  bytes_print(out, e, "\n");
  if (is->count) rows_grid(out, r, is, false, e);
  bytes_print(out, e, "%s\n", !is->count ? "Nothing here is trained." :
        "Ours: mean +- standard deviation over seeds. Paper: - failed to train, ~ second-"
        "hand,\n* measured on proxy scores. x even: alpha_1 as a multiple of what even "
        "rows give.\nA claim's numbers: by how much it holds in its own direction (of = the left "
        "less the right;\nbeside a number from that on), the 95 % interval, p, and the seeds of "
        "either side.");
  if (is->count && item_has_onsets(is))
    bytes_print(out, e, "norm, sink: onsets in million tokens by seed: their geometric mean; > not "
                "by then.\n");
  for (int i = 0; i < r->x->claims; i++) if (r->x->claim[i].item == item) claim_text(out, r, i, e);
  return e->status;
}

/* An item without rows and claims: what this program cannot do, as its title says. */
static bool is_elsewhere(const Experiments *x, int item) {
  for (int i = 0; i < x->claims; i++) if (x->claim[i].item == item) return false;
  return !x->item[item].count;
}

/* How many runs of an item there are, and of how many; item NULL: of all rows. */
static int runs_done(const Results *r, const Item *item, int *needed) {
  int state[RUN_STATES] = {0}, rows = item ? item->count : r->x->rows;
  *needed = 0;
  for (int k = 0; k < rows; k++) {
    int row = item ? r->x->shown[item->from + k].row : k, seeds = seeds_of(r, row);
    count_runs(r, row, seeds, state);
    *needed += seeds;
  }
  return state[RUN_HELD] + state[RUN_DIVERGED];
}

/* Items, runs done of those needed, claims tested; items without rows and claims apart; notes. */
static int items_text(Bytes *out, const Results *r, Error *e) {
  const Experiments *x = r->x;
  Bytes title = {0};
  bytes_print(out, e, "%-13s %9s %8s  what (%s)\n", "item", "runs", "tested", r->corpus);
  for (int elsewhere = 0, told = 0; elsewhere < 2; elsewhere++)
    for (int i = 0; i < x->items; i++) {
      const Item *item = &x->item[i];
      int needed, judged = 0, claims = 0, done = runs_done(r, item, &needed);
      char first[100];
      if (is_elsewhere(x, i) != elsewhere) continue;
      if (elsewhere && !told++)
        bytes_print(out, e, "\nWhat needs published models; ./paper ITEM says which, "
                    "and measures those here:\n");
      for (int k = 0; k < x->claims; k++)
        if (x->claim[k].item == i) claims++, judged += r->judged[k].tested;
      snprintf(first, sizeof first, elsewhere ? "%-13s " : "%-13s %4d/%-4d %4d/%-3d  ",
               item->name, done, needed, judged, claims);
      bytes_print(&title, e, "%s: %s", item->reference, item->title);
      wrapped(out, elsewhere ? 14 : 34, 80, first, &title, e);
    }
  bytes_free(&title);
  if (r->notes.size) bytes_print(out, e, "\n");
  return bytes_add(out, r->notes.at, r->notes.size, e);
}

/* "0.24 +- 0.05", the half of its 95 % interval; of an exact claim the least and largest. */
static void claim_size(Cell to, const Claim *c, const Judged *j) {
  const bool ranges = c->kind == CLAIM_EXACT && j->low < j->high;
  Cell low, high;
  *to = 0;
  if (j->unrun || isnan(j->estimate)) return;
  with_spread(to, j->estimate, ranges ? NAN : (j->high - j->low) / 2, 3, "\302\261");
  with_spread(low, j->low, NAN, 3, ""), with_spread(high, j->high, NAN, 3, "");
  if (ranges && strcmp(low, high)) snprintf(to, CELL, "%.20s to %.20s", low, high);
}

/* Markdown's table of an item's claims; item -1: of the headline claims and of those that a longer
 * corpus judges again, with interval and p. */
static void claims_markdown(Bytes *out, const Results *r, int item, Error *e) {
  const char *head = item >= 0
    ? "\n## Claims\n\n| verdict | claim | reference | by how much, \302\261 95 % |\n"
      "|---|---|---|--:|\n"
    : "\n| verdict | claim | reference | estimate and 95 % interval | p | corrected |\n"
      "|---|---|---|--:|--:|--:|\n";
  for (int i = 0; i < r->x->claims; i++) {
    const Claim *c = &r->x->claim[i];
    const Judged *j = &r->judged[i];
    Evidence is = j->unrun ? (Evidence){"", "", ""} : evidence_of(j);
    char verdict[sizeof j->why + 40];
    if (item < 0 ? !claim_again(c, r->times) : c->item != item) continue;
    bytes_print(out, e, "%s", head);
    head = "";
    bool because = j->verdict == UNDECIDED && j->why[0];
    snprintf(verdict, sizeof verdict, "**%s**%s%s", verdict_text(j),
             because ? ": " : "", because ? j->why : "");
    if (item >= 0) claim_size(is.estimate, c, j);
    const char *cells[] = {verdict, c->statement, c->reference, is.estimate, is.p, is.corrected};
    bytes_print(out, e, "|");
    for (int k = 0; k < (item < 0 ? 6 : 4); k++) markdown_cell(out, cells[k], e);
    bytes_print(out, e, "\n");
  }
}

/* Counts a verdict, or that it is not there yet, which comes last. */
typedef int Counts[VERDICT_KINDS + 1];
static void count_verdict(Counts n, const Judged *j) {
  n[j->unrun ? VERDICT_KINDS : j->verdict]++;
}

/* All but the reproduced, those that are undecided last but one. */
static void other_verdicts(Bytes *out, const Counts n, const char *said, Error *e) {
  for (int i = WEAKER; i <= VERDICT_KINDS + 1; i++) {
    const int of = i < VERDICT_KINDS ? i : i == VERDICT_KINDS ? UNDECIDED : VERDICT_KINDS;
    if (!n[of]) continue;
    bytes_print(out, e, "%s%d %s", said, n[of], of < VERDICT_KINDS ? VERDICT_NAMES[of]
                : "not run yet");
    said = ", ";
  }
}

/* "7 of 10 claims reproduced, 2 undecided. " of an item, -1: of all that are judged here. */
static void claims_count(Bytes *out, const Results *r, int item, Error *e) {
  Counts n = {0};
  int all = 0;
  for (int k = 0; k < r->x->claims; k++) {
    if ((item >= 0 && r->x->claim[k].item != item) || !claim_here(r, &r->x->claim[k])) continue;
    count_verdict(n, &r->judged[k]);
    all++;
  }
  if (!all) return;
  bytes_print(out, e, "%d of %d claims reproduced", n[REPRODUCED], all);
  other_verdicts(out, n, ", ", e);
  bytes_print(out, e, ". ");
}

/* All verdicts counted, and the headline claims. */
static void verdicts_count(Bytes *out, const Results *r, Error *e) {
  int headline = 0, tested = 0;
  for (int i = 0; i < r->x->claims; i++) {
    headline += r->x->claim[i].headline;
    tested += r->x->claim[i].headline && !isnan(r->judged[i].corrected);
  }
  bytes_print(out, e, "On %s ", r->corpus);
  claims_count(out, r, -1, e);
  bytes_print(out, e, "\n%d headline claims, over which p is Holm's; %d could be tested.%s\n",
              headline, tested, r->times > 1 ? " Second looks: p is doubled." : "");
}

/* Every claim on a line: verdict, where, name, estimate, p. */
static void ledger_text(Bytes *out, const Results *r, Error *e) {
  const Experiments *x = r->x;
  int item = 5, name = 5;
  for (int i = 0; i < x->claims; i++) {
    item = (int)fmax(item, (double)strlen(x->item[x->claim[i].item].name));
    name = (int)fmax(name, (double)strlen(x->claim[i].name));
  }
  bytes_print(out, e, "\n%-19s %-*s  %-*s  %-30s  p\n", "verdict", item, "item", name, "claim",
              "estimate, 95 % interval");
  for (int i = 0; i < x->claims; i++) {
    const Judged *j = &r->judged[i];
    if (!claim_here(r, &x->claim[i])) continue;
    Evidence is = evidence_of(j);
    int left = WIDTH - 19 - item - name - 5; /* columns for what a claim lacks */
    if (!is.estimate[0]) snprintf(is.estimate, CELL, "%.*s", left < 0 ? 0 : left, j->why);
    bytes_print(out, e, "%-19s %-*s  %-*s  %-*s%s%s\n", verdict_text(j), item,
                x->item[x->claim[i].item].name, name, x->claim[i].name, is.p[0] ? 30 : 0,
                is.estimate, is.p[0] ? "  " : "", is.p);
  }
}

/* Verdicts counted, the headline claims, and every claim. */
static int ledger(Bytes *out, const Results *r, Error *e) {
  verdicts_count(out, r, e);
  for (int i = 0; i < r->x->claims; i++)
    if (r->x->claim[i].headline) claim_text(out, r, i, e);
  ledger_text(out, r, e);
  return e->status;
}

/* Where the one line that is `mark` begins; -1 when there is none, or more than one. */
static ptrdiff_t mark_at(const char *text, size_t n, const char *mark) {
  size_t length = strlen(mark);
  ptrdiff_t found = -1;
  for (size_t i = 0; i + length <= n; i++) {
    if ((i && text[i - 1] != '\n') || memcmp(text + i, mark, length)) continue;
    if (i + length < n && text[i + length] != '\n' && text[i + length] != '\r') continue;
    if (found >= 0) return -1;
    found = (ptrdiff_t)i;
  }
  return found;
}

/* A text [n] with the section [size], which ends with a line's end, in place of what stands between
 * the lines <!-- results --> and <!-- /results -->. */
static int readme_with(Bytes *out, const char *name, const char *text, size_t n,
                       const char *section, size_t size, Error *e) {
  static const char begin[] = "<!-- results -->", end[] = "<!-- /results -->";
  ptrdiff_t from = mark_at(text, n, begin), to = mark_at(text, n, end);
  if (from < 0 || to < from)
    return fail(e, 1, "%s: expected one line %s and below it one line %s, found %s. Try: "
                "put them where the results go", name, begin, end,
                from < 0 || to < 0 ? "none or several" : "them the other way round");
  bytes_add(out, text, (size_t)from, e);
  bytes_print(out, e, "%s\n", begin);
  bytes_add(out, section, size, e);
  return bytes_add(out, text + to, n - (size_t)to, e);
}

/* -------------------------------------------------------------------------------------------------
 * 7  Pictures of the results
 *
 * `picture KIND WORD ..` says what is drawn of an item; words that a comma joins share a picture:
 *   curves LIST ..          curve_LIST over the tokens trained on, or tune_LIST where it begins so
 *   dots MEASURE ..         every seed of every row
 *   domains MEASURE ..      MEASURE/NAME for every corpus and domain
 *   over N,N,.. MEASURE ..  each N in the place of the MEASURE's #
 *   ratio LIST ..           LIST_1 / LIST_rest by block, a line a row: hnorm, prenorm, knorm, vnorm
 *   norms LIST ..           both by block, a picture a row
 *   angles                  cosine and product of queries with the first key and with the others
 *   onset                   tokens to the onset over N (onset.c)
 *   grid                    Sink over the length, a line for each threshold
 *   alpha LIST ..           map_LIST of block and head        map   weights of the strongest head
 *   toy                     weights before and after training
 *
 * A line is the mean over the seeds that have a number there, its band their range. Maps show the
 * first seed that has one: heads of different seeds are not the same heads.
 */
/* The i-th point of a line, read of one result. `side` is which of the lines that a row has in a
 * picture of its own, and names it; otherwise -1. */
typedef struct Point {
  const Result *r;
  const char *word, *numbers;
  int side, i;
  char name[32];
  double x, y;
} Point;

/* How a kind of picture is drawn, word by word. Lines are read point by point, until there is none;
 * a y of NULL is the measure's, least is of the distances of x's ticks. Of maps the lists; rows and
 * columns are shape[from] and the next. */
typedef struct Paper Paper;
typedef struct Kind {
  void (*draw)(Paper *p, const char *word);
  const char *caption;
  bool (*at)(Point *at);
  const char *x, *y;
  double least;
  bool log_x, log_y;
  const char *list[2], *shape;
  int from;
} Kind;

struct Paper {
  Html h;
  const Experiments *x;
  Results runs, *others;       /* of the page's corpus; of each other [corpora] */
  Bytes findings;              /* report.c */
  Series *lines;               /* [LINES_MOST] */
  const Item *item;            /* that is shown, */
  const Picture *picture;      /* and what of it is drawn */
  const Kind *kind;
};

/* A measure's unit, and what it is in words. The first that it begins with holds. */
static const char NATS[] = "nats a token", MORE[] = "nats a token more";
static const struct { const char *begins, *unit, *title; } MEASURES[] = {
  {"sink_", "%", "Sink on "}, {"alpha_", "mean weight", "Mean weight on "}, {"loss", NATS, "Loss"},
  {"times_", "times even rows", "Mean weight, times even rows, on "}, {"valid", NATS, "Held loss"},
  {"train_loss", NATS, "Training loss"}, {"tune_loss", NATS, "Loss while fine-tuned"},
  {"tune_norm", "norm of the gradient", "Gradient norm while fine-tuned"},
  {"other_times_1", "times even rows", "Mean weight, times even rows, on unseen first tokens"},
  {"other_norm_ratio", "first / others", "Norm of unseen first tokens over the others'"},
  {"norm_ratio", "first / others", "First token's norm over the others'"},
  {"norm", "norm of the gradient", "Gradient norm"}, {"hnorm", "l2 norm", "Hidden states"},
  {"prenorm", "l2 norm", "Features before the post-norm"}, {"knorm", "l2 norm", "Keys"},
  {"vnorm", "l2 norm", "Values"}, {"cosine", "cosine", "Cosine of query and key"},
  {"product", "|q| |k|", "Product of the lengths of query and key"},
  {"dense_more", MORE, "Loss where nothing is dropped"}, {"rounded_", MORE, "Loss in few bits"},
  {"window_more", MORE, "Loss with the latest keys"}, {"sinks_more", MORE, "Loss, first keys kept"},
  {"old_more", MORE, "Loss, first keys kept, places of the text"},
  {"isolate_alpha_t", "mean weight", "Mean weight on token 32"}, {"probe_auc", "AUC", "The probe"},
  {"least_sink", "million tokens, no less", "Onset of the sink"}, {"", "value", "Value"}};

static int measure_find(const char *measure) {
  int i = 0;
  while (strncmp(measure, MEASURES[i].begins, strlen(MEASURES[i].begins))) i++;
  return i;
}

/* The axis of a measure. A loss has no zero to begin at, and a toy's no unit. */
static Axis measure_axis(const Item *item, const char *measure) {
  const char *unit = MEASURES[measure_find(measure)].unit;
  bool loss = unit == NATS, toy = loss && !strncmp(item->name, "toy", 3);
  return (Axis){.name = toy ? "loss" : unit, .from_zero = !loss};
}

/* The k-th part of words joined by commas, into part [64]; false where there is none. */
static bool part_of(const char *words, int k, char part[64]) {
  for (; k > 0; k--, words++) if (!(words = strchr(words, ','))) return false;
  snprintf(part, 64, "%.*s", (int)strcspn(words, ","), words);
  return *part != 0;
}

/* What a measure is in words: its column, and behind @ or : on what; of a line the column alone. */
static const char *measure_words(const char *measure, bool line, char text[160]) {
  static const char *const ON[][2] = {
    {"@random", ", random tokens"}, {"@repeat", ", a token repeated"}, {":0.2", ", eps 0.2"},
    {":0.4", ", eps 0.4"}, {"@replace#", ", position # read for the first"},
    {"@swap#", ", position # and the first swapped"}, {"", ""}};
  const char *title = MEASURES[measure_find(measure)].title, *at = strchr(measure, '_');
  bool column = title[strlen(title) - 1] == ' ' && at;
  int i = 0;
  while (*ON[i][0] && !strstr(measure, ON[i][0])) i++;
  snprintf(text, 160, "%s%s%s", line && column ? "" : title, !column ? "" : at[1] == '1' ? "token 1"
           : at[1] == '*' ? "the extra column *" : "token #", ON[i][1]);
  return text;
}

/* The words, each in plain ones with itself behind. */
static const char *title_of(const char *words, char text[400]) {
  char part[64], plain[160]; int n = 0;
  text[0] = 0;
  for (int k = 0; part_of(words, k, part) && n < 200; k++)
    n += snprintf(text + n, 199, "%s%s (%s)", k ? "; " : "", measure_words(part, false, plain),
                  part);
  return text;
}

/* The result of a seed, or NULL. */
static const Result *result_of(const Paper *p, int row, int seed) {
  const Run *run = run_at(&p->runs, row, seed);
  return run->state == RUN_HELD || run->state == RUN_DIVERGED ? &run->result : NULL;
}

static int row_of(const Paper *p, int k) { return p->x->shown[p->item->from + k].row; }

static bool curve_at(Point *at) {
  char name[80];
  bool tune = !strncmp(at->word, "tune_", 5);
  int n, m;
  snprintf(name, sizeof name, "%s%s", tune ? "" : "curve_", at->word);
  const double *x = result_find(at->r, tune ? "tune_tokens" : "curve_tokens", &n);
  const double *y = result_find(at->r, name, &m);
  if (at->i >= n || at->i >= m) return false;
  at->x = x[at->i] / 1e6;
  at->y = scale_of(at->word) * y[at->i];
  return true;
}

/* By block the first row's norm, the others' mean, or their ratio. hnorm has a block 0: H^0. */
static bool norm_at(Point *at) {
  char name[80]; int n, m;
  snprintf(name, sizeof name, "%s_1", at->word);
  const double *first = result_find(at->r, name, &n);
  snprintf(name, sizeof name, "%s_rest", at->word);
  const double *rest = result_find(at->r, name, &m);
  if (at->i >= n || at->i >= m || at->side > 1) return false;
  if (at->side >= 0) strcpy(at->name, at->side ? "other tokens" : "first token");
  at->x = at->i + (strncmp(at->word, "hnorm", 5) != 0);
  at->y = at->side < 0 ? first[at->i] / rest[at->i] : at->side ? rest[at->i] : first[at->i];
  return true;
}

/* `word` with the i-th of the numbers in the place of its #. */
static bool over_at(Point *at) {
  char number[64], measure[128];
  const char *mark = at->word + strcspn(at->word, "#");
  if (!part_of(at->numbers, at->i, number)) return false;
  snprintf(measure, sizeof measure, "%.*s%s%s", (int)(mark - at->word), at->word,
           *mark ? number : "", *mark ? mark + 1 : "");
  at->x = strtod(number, NULL);
  at->y = scale_of(measure) * result_number(at->r, measure);
  return true;
}

/* cosine or product of a block, mean over heads, with the first key or the others. */
static bool angle_at(Point *at) {
  int n, m;
  const double *shape = result_find(at->r, "shape", &n), *of = result_find(at->r, at->word, &m);
  int L = count_at(shape, n, 0), H = count_at(shape, n, 1);
  if (at->i >= L || !H || m != L * H * 2 || at->side > 1) return false;
  strcpy(at->name, at->side ? "other keys" : "first key");
  at->x = at->i + 1;
  at->y = 0;
  for (int h = 0; h < H; h++) at->y += of[(at->i * H + h) * 2 + at->side] / H;
  return true;
}

static bool grid_at(Point *at) {
  int n, m, k;
  const double *T = result_find(at->r, "grid_T", &n), *eps = result_find(at->r, "grid_eps", &m);
  const double *sink = result_find(at->r, "grid_sink_1", &k);
  if (k != n * m || at->i >= n || at->side >= m || !(eps[at->side] > 0 && eps[at->side] <= 1))
    return false;
  snprintf(at->name, sizeof at->name, "eps %g", eps[at->side]);
  at->x = T[at->i];
  at->y = 100 * sink[at->i * m + at->side];
  return true;
}

/* Reads a line over the seeds, where x is the first one's; false: it has no number. */
static bool line_read(const Paper *p, Series *line, int row, Point at) {
  bool any = false;
  for (bool there = true; there; at.i++) {
    Spread s = NO_SPREAD; double x = NAN;
    int n = line->n;
    there = false;
    for (int seed = 1; seed <= seeds_of(&p->runs, row); seed++) {
      if (!(at.r = result_of(p, row, seed)) || !p->kind->at(&at)) continue;
      if (!there) x = at.x;
      there = true;
      spread_add(&s, at.y);
    }
    line_add(line, x, s.mean);               /* nothing is added where x is NAN */
    if (line->n > n) line->low[n] = s.low, line->high[n] = s.high;
    line->band = line->band || s.n > 1;
    any = any || s.n;
  }
  if (at.name[0]) strcpy(line->name, at.name);
  return any;
}

static Chart points_chart(const Paper *p, const char *title, const char *word) {
  const Kind *k = p->kind;
  Chart what = {title, k->caption,
                {.name = k->x, .least = k->least, .log = k->log_x, .tight = true},
                measure_axis(p->item, word)};
  if (k->y) what.y.name = k->y;
  what.y.log = k->log_y;
  what.y.from_zero = what.y.from_zero && !k->log_y;
  return what;
}

static void draw_each_row(Paper *p, const char *word) {
  char title[500], of[400];
  for (int i = 0; i < p->item->count; i++) {
    int count = 0, row = row_of(p, i);
    for (Point at = {.word = word}; at.side <= LINE_EVEN; at.side++)    /* [FIG3] has nine */
      count += line_read(p, line_begin(p->lines, count, "", count), row, at);
    snprintf(title, sizeof title, "%s: %s", p->x->row[row].name,
             title_of(*word ? word : "sink_1", of));
    Chart what = points_chart(p, title, word);
    if (count) chart(&p->h, &what, p->lines, count);
  }
}

/* A line for each row, and each of the words that commas join. Rows beyond what one picture holds
 * go into further ones, to one scale and with the item's first row in all for comparison. */
enum { ROWS_DRAWN = 8 };
static void draw_all_rows(Paper *p, const char *words) {
  char part[64], name[240], plain[400], title[440];
  int rows = p->item->count; bool joined = part_of(words, 1, part), alone = rows == 1;
  int more = (joined ? ROWS_DRAWN - 2 : ROWS_DRAWN) - 1;   /* rows beside the first */
  part_of(words, 0, part);
  Chart what = points_chart(p, title, part);
  for (int drawn = 0; drawn < 2; drawn++)      /* first the scale is seen */
    for (int from = 1, number = 1; from < rows || number == 1; from += more, number++) {
      int count = 0, own = 0;                  /* lines; those not of the first row */
      for (int i = from - 1; i < from + more && i < rows; i++)
        for (int k = 0; part_of(words, k, part) && count < LINES_MOST; k++) {
          int row = row_of(p, i < from ? 0 : i);
          const char *of = joined && alone ? "" : p->x->row[row].name;
          snprintf(name, sizeof name, "%s%s%s", of, joined && *of ? ", " : "",
                   joined ? measure_words(part, true, plain) : "");
          Series *line = line_begin(p->lines, count, name, alone ? k % LINE_EVEN
                                    : i - from + 1 + LINE_STAR * (k % 2));
          bool there = line_read(p, line, row, (Point){.word = part, .side = -1,
                                                       .numbers = p->picture->word[0]});
          count += there, own += there && i >= from;
        }
      snprintf(title, sizeof title, rows > more + 1 ? "%s, part %d" : "%s", title_of(words, plain),
               number);
      if (drawn && (own || number == 1)) chart(&p->h, &what, p->lines, count);
      else lines_seen(&what.x, &what.y, p->lines, count);
    }
}

/* Lines with names and on them every seed: of each row, with the paper's number; or of each domain
 * and row, with a mark of its own. */
static void draw_dots(Paper *p, const char *measure) {
  const Item *item = p->item;
  bool domains = p->picture->kind == PICTURE_DOMAINS;
  int rows = domains && item->count > ROWS_DRAWN ? ROWS_DRAWN : item->count, n = 0;
  int own = domains ? rows : 1;                /* rows that have marks of their own */
  double level = !strncmp(measure, "times_", 6) ? 1 : NAN;
  char name[128], title[400];
  Chart what = {title_of(measure, title), p->kind->caption, measure_axis(item, measure),
                {.names = true, .seen = true}};
  for (int i = 0; i < own; i++) {
    line_begin(p->lines, i, domains ? "" : "a seed", i + LINE_SEED);
    line_begin(p->lines, own + i, domains ? p->x->row[row_of(p, i)].name : "mean",
               domains ? i : LINE_MEAN)->points = true;
  }
  Series *paper = line_begin(p->lines, 2 * own, "the paper", 1);
  Series *even = line_begin(p->lines, 2 * own + 1, isfinite(level) ? "even rows" :
                            "even rows of the first", LINE_EVEN);
  paper->points = true;
  for (int k = 0; k < (domains ? p->x->corpora : 1); k++)
    for (int i = 0, told = 0; i < rows; i++) {
      const char *domain = p->x->corpus[k].name;
      int row = row_of(p, i), line = domains ? i : 0;
      snprintf(name, sizeof name, domains ? "%.60s/%.60s" : "%.60s", measure, domain);
      Spread s = spread_of(&p->runs, row, name);
      double y = n + 0.5;
      if (!s.n && (domains || !row_begun(&p->runs, row))) continue;
      if (!domains || !told++) axis_tick(&what.y, y, domains ? domain : p->x->row[row].name);
      for (int at = 0; at < s.n; at++) line_add(&p->lines[line], s.at[at], y);
      line_add(&p->lines[own + line], s.mean, y);
      for (int of = 0; of < item->columns; of++)
        if (!strcmp(item->column[of], name))
          line_add(paper, p->x->shown[item->from + i].paper[of].value, y);
      if (!isfinite(level) && !strncmp(name, "alpha_", 6) && !domains)
        level = spread_of(&p->runs, row, "even").mean;
      n++;
    }
  for (int k = 0; k < 2; k++) line_add(even, level, k * n);
  what.y.to = n;
  chart(&p->h, &what, p->lines, 2 * own + 2);
}

static void draw_maps(Paper *p, const char *word) {
  const Kind *kind = p->kind;
  PictureKind is = p->picture->kind;
  bool heads = is == PICTURE_ALPHA;
  int n, m; char name[80], title[120];
  snprintf(name, sizeof name, "map_%s", word);
  const char *const lists[2] = {heads ? name : kind->list[0], kind->list[1]};
  for (int i = 0; i < p->item->count; i++) {
    int row = row_of(p, i), seed = 0;
    const Result *r = NULL;
    while (++seed <= seeds_of(&p->runs, row) && !r)
      if ((r = result_of(p, row, seed)) && !result_find(r, lists[0], &n)) r = NULL;
    const double *shape = r ? result_find(r, kind->shape, &n) : (n = 0, NULL);
    int rows = count_at(shape, n, kind->from), columns = count_at(shape, n, kind->from + 1);
    if (!rows || !columns || (!heads && (columns < rows || rows > 128))
        || !(fabs(shape[0]) + fabs(shape[1]) < 1e6)) continue;
    snprintf(title, sizeof title, "%s, seed %d", p->x->row[row].name, seed - 1);
    figure_begin(&p->h, NULL, title);
    for (int k = 0; k < 2 && lists[k]; k++) {
      const double *cell = result_find(r, lists[k], &m);
      if (!cell || m != rows * columns) continue;
      if (is == PICTURE_TOY) snprintf(title, sizeof title, "%s training", lists[k]);
      else if (is == PICTURE_MAP) {        /* its indices are from 0; the sink's column is first */
        double alpha = 0;
        for (int at = 0; at < rows; at++) alpha += cell[at * columns] / rows;
        int at = snprintf(title, sizeof title, "Block %g, head %g", 1 + shape[0], 1 + shape[1]);
        if (fabs(alpha) < 1e6)                             /* a file may hold anything */
          snprintf(title + at, sizeof title - (size_t)at, ", most on %s: alpha %.2f, %s",
                   columns == rows ? "token 1" : strstr(p->x->row[row].flags, "--sink-token")
                   ? "the sink token x*" : "the extra column *", alpha,
                   alpha > 0.3 ? "a sink" : "no sink");
      } else snprintf(title, sizeof title, strcmp(word, "alpha_1") ? "column *" : "token 1");
      cell_map(&p->h, &(CellMap){cell, columns, 1, rows, columns, heads, title, NULL});
    }
    figure_end(&p->h, kind->caption);
  }
}

/* Text of bytes without a 0 at their end, which are freed. */
static void html_bytes(Html *h, Bytes *b) {
  bytes_add(b, "", 1, h->e);
  if (!h->e->status) html_text(h, (const char *)b->at);
  bytes_free(b);
}

#include "onset.c"
#include "firstness.c"
#include "remedies.c"
#include "summary.c"

static const Kind KINDS[PICTURE_KINDS] = {
  [PICTURE_ONSET] = {draw_onset, .caption = ""}, [PICTURE_CORNERS] = {draw_corners, .caption = ""},
  [PICTURE_CURVES] = {draw_all_rows, "", curve_at, .x = "million tokens"},
  [PICTURE_OVER] = {draw_all_rows, "A number stands in the place of #.", over_at, "#", .least = 1},
  [PICTURE_RATIO] = {draw_all_rows, "Norm of the first row over the mean of the others; far "
      "above 1 it is a massive activation.", norm_at, "block", "first / others", 1, .log_y = true},
  [PICTURE_NORMS] = {draw_each_row, "l2 norm by block.", norm_at, "block", .least = 1,
      .log_y = true},
  [PICTURE_ANGLES] = {draw_each_row, "By block, mean over heads. The paper's Figure 2, bottom, "
      "and Figures 15 to 18.", angle_at, "block", .least = 1},
  [PICTURE_GRID] = {draw_each_row, "Sink of token 1 by length and threshold: look whether it "
      "falls with both. The paper's Figure 3.", grid_at, "tokens T", "%", .log_x = true},
  [PICTURE_DOTS] = {draw_dots, .caption = ""},
  [PICTURE_DOMAINS] = {draw_dots, .caption = "By the text that is measured on: the mean of each "
      "row's seeds, and around it every seed. The paper's Figure 9."},
  [PICTURE_ALPHA] = {draw_maps, "alpha by block (down) and head (across).", .shape = "shape"},
  [PICTURE_MAP] = {draw_maps, "Weight of each query (down) on each key (across). A sink is a "
      "dark column.", .list = {"map"}, .shape = "map_shape", .from = 2},
  [PICTURE_TOY] = {draw_maps, "Weight of each query (down) on each key (across) in one "
      "sequence.", .list = {"before", "after"}, .shape = "toy_shape", .from = 1}};

/* -------------------------------------------------------------------------------------------------
 * 8  [E4] [T4] [T15] What `check` states besides: closed forms, limits, neutral elements, causality
 *
 * In block 1 the states of a repeated token are equal whatever the attention, so z(n) and, with an
 * extra column, z*_t give every weight of every row; where states stay equal, in the later blocks
 * too. z(n) = <q, R_n k> / sqrt(D) + b(n) rotates once, by the distance, where the model rotates q
 * and k; z*_t = <R_t q, k*> / sqrt(D) depends on t under rotary, since k* is not rotated. Kernels
 * are left out: under rotary phi(R_i q) phi(R_j k) is no function of the distance. */
#include "scale.c"

/* <q, R_n k> for two vectors [D] of head h, n < 0 for a key ahead of its query. */
static double rotated(const Config *c, const double *q, const double *k, int n) {
  int half = c->head_dim / 2;
  double dot = 0;
  for (int a = 0, b = half; a < half; a++, b++) {
    double angle = c->pos == POS_ROTARY ? n * pow(10000, -(double)a / half) : 0;
    dot += (q[a] * k[a] + q[b] * k[b]) * cos(angle) + (q[a] * k[b] - q[b] * k[a]) * sin(angle);
  }
  return dot;
}

enum { WIDEST = 32 };   /* channels of the widest toy */

/* y = LN(x) W or x W for one row, in double. */
static void times(double *y, const double *x, const real *gain, const real *w, int in, int out) {
  double square = 0;
  for (int i = 0; i < in; i++)
    square += x[i] * x[i] / in;
  for (int o = 0; o < out; o++) {
    y[o] = 0;
    for (int i = 0; i < in; i++)
      y[o] += (gain ? x[i] / sqrt(square + 1e-5) * gain[i] : x[i]) * w[i * out + o];
  }
}

/* In row t of a head: scores, weights and metric off the closed form. Once a row, at i = t. */
static double off_closed(Place s) {
  const Toy *y = s.y;
  const Config *c = &y->m.c;
  const Layer *w = &y->m.layer[s.l];
  int D = c->head_dim, Q = c->heads * D, t = s.t, from = c->extra ? 0 : 1;
  double n1[WIDEST], q[WIDEST], k[WIDEST], star[WIDEST] = {0}, z[TOKENS + 1], worst = 0;
  if (s.i != t)
    return 0;
  for (int ch = 0; ch < c->dim; ch++)   /* LN(h) of token 1: no toy here has a sink token */
    n1[ch] = y->a.layer[s.l].n1[ch];
  times(q, n1, NULL, w->wq.w, c->dim, Q);
  times(k, n1, NULL, w->wk.w, c->dim, Q);
  for (int d = 0; d < Q && w->kstar.w; d++)
    star[d] = w->kstar.w[d];
  for (s.i = from; s.i <= y->T; s.i++) {   /* i = 0 is the extra column */
    int i = s.i, n = i ? t - i : t - 1;
    bool seen = !i || (n >= 0 && (!c->window || n < c->window)) || i <= c->prefix;
    double x = rotated(c, q + s.h * D, (i ? k : star) + s.h * D, n) / sqrt(D);
    if (i)
      x += closed_bias(y, s.h, n > 0 ? n : 0);
    else if (w->logit.w)
      x = w->logit.w[s.h];
    else if (c->extra == EXTRA_LOGIT)
      x = c->extra_logit;
    else if (c->extra == EXTRA_LOGN)
      x = log(t);
    z[i - from] = seen ? x : NAN;
    worst = larger(worst, off(score(s), seen ? x : 0));
  }
  return larger(worst, closed_off(s, from, z));
}

static void check_scores(Page *p) {
  static const char *const FLAGS[] = {   /* where states agree in all blocks; where in the first */
    "--sim exp", "--scale 0.2", "--window 4", "--prefix 5",
    "--layers 1 --sim sigmoid", "--layers 1 --sim elu", "--layers 1 " LINEAR_CLAMP,
    "--layers 1 " SIGMOID_1, "--layers 1 " ELU_1, "--layers 1 " LINEAR_1,
    "--layers 1 --normalizer pnorm --pnorm 0.5",
    "--layers 1 --sim sigmoid --normalizer pnorm --pnorm 2",
    "--layers 1 --extra k", "--layers 1 --extra k --extra-dims 2",
    "--layers 1 --extra k --sim sigmoid", "--layers 1 --extra kv", "--layers 1 --extra zero",
    "--layers 1 --extra logit", "--layers 1 --extra logit --extra-logit -1",
    "--layers 1 --sim sigmoid --extra logn", "--layers 1 --sim softpick --extra k",
    "--layers 1 --sim rectified --extra k", "--layers 1 --sim relu --normalizer one",
    "--layers 1 --sim sigmoid --normalizer count --extra kv",
    "--layers 1 --sim sparsemax --extra zero", "--layers 1 --sim entmax --extra k", NULL};
  for (const char *const *flags = FLAGS; *flags; flags++) {
    double worst = 0;
    for (int x = 0; x < INSIDE; x++)
      worst = larger(worst, greatest(toy(p, REPEATED, "--context 24 %s %s", SCHEMES[x], *flags),
                                     off_closed));
    holds(p, *flags, worst, SCORES);
  }
}

/* How far h_t^l, from <= t <= to, lies from x [C]. */
static double states_off(const Toy *y, int l, int from, int to, const real *x) {
  double worst = 0;
  for (int t = from; t <= to && y->T; t++)
    worst = larger(worst, apart(y->m.c.dim, toy_state(y, l, t), x));
  return worst;
}

/* Equation 16 (and section 3.1's h_1) in plain loops: how far the first n tokens lie from
 *   u = x + Concat_h(LN(x) W_V^h) W_O      x <- u + FFN(LN(u))
 * chained from the embedding of the first token. */
static double off_loops(const Toy *y, int n) {
  int C = y->m.c.dim, Q = y->m.c.heads * y->m.c.head_dim, F = y->m.c.ffn;
  double x[WIDEST], v[WIDEST], o[WIDEST], f1[WIDEST], f2[WIDEST], worst = 0;
  real closed[WIDEST];
  for (int i = 0; i < C; i++)
    x[i] = y->m.wte.w[y->ids[0] * C + i];
  for (int l = 0; l < y->m.c.layers; l++) {
    const Layer *w = &y->m.layer[l];
    times(v, x, w->norm1.g.w, w->wv.w, C, Q);
    times(o, v, NULL, w->wo.w, Q, C);
    for (int i = 0; i < C; i++)
      x[i] += o[i];
    times(f1, x, w->norm2.g.w, w->w1.w, C, F);
    times(f2, x, w->norm2.g.w, w->w2.w, C, F);
    for (int i = 0; i < F; i++)
      f1[i] *= f2[i] / (1 + exp(-f1[i]));
    times(o, f1, NULL, w->w3.w, F, C);
    for (int i = 0; i < C; i++) {
      x[i] += o[i];
      closed[i] = (real)x[i];
    }
    worst = larger(worst, states_off(y, l + 1, 1, n, closed));
  }
  return worst;
}

/* With Z = 1 states agree where r_t does, as far as equal states reach. A window of w: in block 1
 * the rows t >= w all see w equal keys; in block l all w states that t sees must agree, so t >= 1 +
 * l(w-1), under every position that depends on the distance alone. A prefix of p without positions:
 * rows t <= p all see the same keys, in every block. The spread of those tokens; and how far the
 * one beside them ends from them. */
static double window_spread(const Toy *y) {
  double worst = 0;
  for (int l = 0; l <= y->m.c.layers; l++) {
    int first = 1 + l * (y->m.c.window - 1);
    worst = larger(worst, states_off(y, l, first, y->T, toy_state(y, l, first)));
  }
  return worst;
}
static double window_beside(const Toy *y) {
  int L = y->m.c.layers, first = 1 + L * (y->m.c.window - 1);
  return states_off(y, L, first - 1, first - 1, toy_state(y, L, first));
}

/* The clamp: r_t is constant if |sum_t| >= 1 with one sign for all t, and otherwise only by
 * accident. Whether row t misses that, by the sign of row 1. */
static double clamp_misses(Place s) {
  Place first = {s.y, s.l, s.h, 1, 1};
  double sum = 0;
  for (s.i = 1; s.i <= s.t; s.i++)
    sum += score(s);
  return (score(first) > 0 ? sum : -sum) < 1;
}

/* W_K = gain W_Q: then s(0) = gain |q|^2 / sqrt(D) > 0 is large. */
static void keys_from_queries(Toy *y, double gain) {
  for (int l = 0; l < y->m.c.layers; l++)
    for (idx n = 0; n < (idx)y->m.c.dim * y->m.c.heads * y->m.c.head_dim; n++)
      y->m.layer[l].wk.w[n] = (real)(gain * y->m.layer[l].wq.w[n]);
  toy_forward(y);
}

/* 60 models, half of them with W_K = 8 W_Q, and so large sums. The condition, read off the recorded
 * scores, must tell whether the states agree: the worst of those that meet it, the least of the
 * others. */
static void check_clamp(Page *p) {
  double worst = 0, least = INFINITY;
  for (int n = 0; n < 60 && !p->e->status; n++) {
    Toy *y = toy(p, REPEATED, LINEAR_CLAMP " %s", SCHEMES[n % INSIDE]);
    toy_fill(&y->m, (uint64_t)n);
    toy_forward(y);
    if (n & 1)
      keys_from_queries(y, 8);
    if (greatest(y, clamp_misses) < 1)
      worst = larger(worst, toy_spread(y, 1, y->T, y));
    else
      least = smaller(least, toy_spread(y, 1, y->T, y));
  }
  holds(p, "Table 15, 8: clamp: 60 models, |sum_t| >= 1, one sign", worst, STATES);
  control(p, "  the others", least, APART);
}

static void check_behind(Page *p) {
  double block = 0, first = 0, spread = 0, beside = INFINITY, large = 0, other = INFINITY;
  for (int x = 0; x < POS_ROWS; x++) {
    Toy *y = toy(p, REPEATED, "%s", SCHEMES[x]);
    y->ids[0] = 3;
    toy_forward(y);
    other = smaller(other, toy_spread(y, 2, y->T, y));
  }
  for (int x = 0; x < INSIDE; x++) {
    block = larger(block, off_loops(toy(p, REPEATED, "%s", SCHEMES[x]), 12));
    first = larger(first, off_loops(toy(p, RANDOM, "--context 9 %s", SCHEMES[x]), 1));
    Toy *y = toy(p, REPEATED, "%s --window 4 --context 14 " SIGMOID_1, SCHEMES[x]);
    spread = larger(spread, window_spread(y));
    beside = smaller(beside, window_beside(y));
    y = toy(p, REPEATED, LINEAR_CLAMP " %s", SCHEMES[x]);
    Toy *one = toy(p, REPEATED, LINEAR_CLAMP " %s", SCHEMES[x]);
    keys_from_queries(y, 16);
    keys_from_queries(one, 16);
    large = larger(large, toy_spread(y, 1, y->T, alone(one)));
  }
  holds(p, "eq. 16: h_t^l by the equation itself, 5 schemes", block, STATES);
  holds(p, "sec. 3.1: h_1 = FFN(LN(o+h))+o+h, o = LN(h) W_V W_O", first, STATES);
  control(p, "eq. 17: another first token, the others' states", other, APART);
  holds(p, "eq. 17: window, Z = 1: tokens t > l(w-1)", spread, STATES);
  control(p, "  and the token before them", beside, APART);
  Toy *y = toy(p, REPEATED, "--prefix 5 --pos none --context 14 " SIGMOID_1);
  if (p->e->status)
    return;
  holds(p, "eq. 17: prefix p, Z = 1: tokens t <= p", toy_spread(y, 1, 5, y), STATES);
  control(p, "  and the tokens after them", states_off(y, 3, 6, 6, toy_state(y, 3, 1)), APART);
  holds(p, "Table 15, 8: clamp, W_K = 16 W_Q", large, STATES);
  check_clamp(p);
  y = toy(p, REPEATED, "--extra kv");
  control(p, "Table 4: KV biases: o_t = v + A_t*(v* - v)", toy_spread(y, 1, y->T, y), APART);
  for (int l = 0; l < y->m.c.layers; l++) {   /* while states are equal v is one vector */
    copy(y->m.layer[l].vstar.w, y->a.layer[l].v, (idx)y->m.c.heads * y->m.c.head_dim);
    toy_forward(y);
  }
  holds(p, "  with v* = v in every block", toy_spread(y, 1, y->T, y), STATES);
}

/* [T4] A key bias is a gate, and without a normaliser it is nothing.
 *
 * With an extra column of logit b_i and value v*, and sum_i = sum_j e^z_ij over the keys,
 *
 *   o_i = g_i softmax(z_i) V + (1 - g_i) v*          g_i = sum_i / (e^b_i + sum_i)
 *                                                        = sigmoid(log sum_i - b_i)
 *
 * K biases, a zero logit and a learned one have v* = 0: they close the head by 1 - g_i, at a logit
 * of 20 all but wholly. With Z = 1 no row is divided by anything: a column of value 0 changes no
 * bit and gets no gradient; the clamp sums it. */

/* Block 1's head outputs with the column, off the gate on those without; or off those without. */
static double off_gate(const Toy *y, const Toy *plain) {
  int H = y->m.c.heads, D = y->m.c.head_dim;
  const real *vstar = y->T ? y->m.layer[0].vstar.w : NULL;
  double worst = 0;
  for (Place s = {.y = y}; s.h < H; s.h++)
    for (s.t = 1; s.t <= y->T; s.t++) {
      idx at = ((idx)(s.t - 1) * H + s.h) * D;
      real gated[WIDEST];
      s.i = 0;
      double sum = 0, b = score(s);
      for (s.i = 1; s.i <= s.t; s.i++)
        sum += exp(score(s));
      double g = 1 / (1 + exp(b - log(sum)));
      for (int d = 0; d < D; d++) {
        double v = vstar ? vstar[s.h * D + d] : 0;
        gated[d] = (real)(g * plain->a.layer[0].o[at + d] + (1 - g) * v);
      }
      worst = larger(worst, apart(D, y->a.layer[0].o + at, gated));
    }
  return worst;
}
static double off_plain(const Toy *y, const Toy *plain) {
  return apart((idx)y->T * y->m.c.heads * y->m.c.head_dim, y->a.layer[0].o, plain->a.layer[0].o);
}

/* A toy whose logits of block 1 are x. */
static Toy *with_logit(Page *p, double x) {
  Toy *y = toy(p, RANDOM, "--extra logit");
  for (int h = 0; h < y->m.c.heads; h++)
    y->m.layer[0].logit.w[h] = (real)x;
  toy_forward(y);
  return y;
}

/* Numbers that differ between two toys: logits, and gradients of the tensors that both have; and
 * numbers not 0 in the gradient of k*. */
static double moved_numbers(Toy *y, Toy *z) {
  real logits[LOGITS], plain[LOGITS];
  int L = y->m.c.layers, Q = y->m.c.heads * y->m.c.head_dim;
  if (!y->T || !z->T)
    return NAN;
  toy_gradients(y);
  toy_gradients(z);
  toy_logits(y, logits);
  toy_logits(z, plain);
  double count = differing(y->T * TOY_VOCAB, logits, plain);
  for (int i = 0; i < z->m.n_tensors; i++) {
    const Tensor *t = z->m.all[i], *same = model_tensor(&y->m, t->name);
    if (same && tensor_count(same) == tensor_count(t))
      count += differing(tensor_count(t), same->d, t->d);
  }
  for (int n = 0; n < L * Q && y->m.layer[0].kstar.w; n++)
    count += differing(1, &y->m.layer[n / Q].kstar.d[n % Q], &(real){0});
  return count;
}
static double moved_by(Page *p, const char *flags, const char *than) {
  return moved_numbers(toy(p, RANDOM, "%s", flags), toy(p, RANDOM, "%s", than));
}

static void check_gate(Page *p) {
  Toy *plain = toy(p, RANDOM, ""), *k = toy(p, RANDOM, "--extra k"),
      *kv = toy(p, RANDOM, "--extra kv");
  Toy *nil = toy(p, RANDOM, "--extra zero"), *low = with_logit(p, 0.01), *high = with_logit(p, 20);
  if (p->e->status)
    return;
  holds(p, "Table 4: K biases: o = g softmax(z) V", off_gate(k, plain), SCORES);
  control(p, "  with g = 1", off_plain(k, plain), APART);
  holds(p, "Table 4: KV: o = g softmax(z) V + (1 - g) v*", off_gate(kv, plain), SCORES);
  holds(p, "beyond: zero logit: o = g softmax(z) V", off_gate(nil, plain), SCORES);
  holds(p, "beyond: learned logit of 0.01", off_gate(low, plain), SCORES);
  control(p, "  with g = 1", off_plain(low, plain), APART);
  holds(p, "beyond: learned logit of 20", off_gate(high, plain), SCORES);
  control(p, "  with g = 1", off_plain(high, plain), APART);
  holds(p, "Table 4: K biases, sigmoid: moved, or dk* not 0",
        moved_by(p, SIGMOID_1 " --extra k", SIGMOID_1), 0);
  holds(p, "  elu + 1", moved_by(p, ELU_1 " --extra k", ELU_1), 0);
  holds(p, "  linear", moved_by(p, LINEAR_1 " --extra k", LINEAR_1), 0);
  control(p, "  linear / clamp", moved_by(p, LINEAR_CLAMP " --extra k", LINEAR_CLAMP), 1);
  control(p, "  KV biases, sigmoid", moved_by(p, SIGMOID_1 " --extra kv", SIGMOID_1), 1);
}

/* A neutral row of an axis changes no bit of the logits, nor of the gradients. */
static void check_neutral(Page *p) {
  holds(p, "Figure 6: a window of T", moved_by(p, "--window 12", ""), 0);
  holds(p, "Figure 5: a prefix of 1", moved_by(p, "--prefix 1", ""), 0);
  control(p, "  in a window", moved_by(p, "--prefix 1 --window 4", "--window 4"), 1);
  control(p, "  after x*", moved_by(p, "--prefix 1 --sink-token", "--sink-token"), 1);
  Toy *t5 = toy(p, RANDOM, "--pos t5");
  if (t5->T)
    zero(t5->m.rel.w, 32 * t5->m.c.heads);
  toy_forward(t5);
  holds(p, "eq. 7: a distance bias of 0", moved_numbers(t5, toy(p, RANDOM, "--pos none")), 0);
  holds(p, "eq. 29: a scale of 1", moved_by(p, "--scale 1", ""), 0);
  holds(p, "eq. 43: a p-norm with p = 1", moved_by(p, "--normalizer pnorm --pnorm 1", ""), 0);
  Toy *none = toy(p, RANDOM, "--extra logit");
  for (int l = 0; l < none->m.c.layers; l++)
    for (int h = 0; h < none->m.c.heads; h++)
      none->m.layer[l].logit.w[h] = -INFINITY;
  toy_forward(none);
  holds(p, "beyond: a learned logit of -infinity", moved_numbers(none, toy(p, RANDOM, "")), 0);
  control(p, "beyond: a zero logit", moved_by(p, "--extra zero", ""), 1);
  holds(p, "Table 12: adding one head", moved_by(p, "--heads 1 --combine add", "--heads 1"), 0);
  control(p, "Table 12: adding two heads", moved_by(p, "--combine add", ""), 1);
}

/* Token t reaches no logit before t, not by a bit, in any named variant; inside a prefix it does,
 * and must. Changes tokens 1 .. T in turn. */
static void check_causal(Page *p) {
  double moves_earlier = 0, not_itself = 0, moves_back = 0;
  for (const Variant *v = VARIANTS; v->name; v++) {
    real was[LOGITS], now[LOGITS];
    Toy *y = toy(p, RANDOM, "%s", v->flags);
    for (int t = 1; t <= y->T; t++) {
      idx own = (t - 1) * TOY_VOCAB;
      toy_logits(y, was);
      y->ids[t - 1] = (y->ids[t - 1] + 1) % TOY_VOCAB;
      toy_forward(y);
      toy_logits(y, now);
      double early = differing(own, was, now);
      if (t > y->m.c.prefix)
        moves_earlier += early;
      else
        moves_back += early > 0;
      not_itself += !(differing(TOY_VOCAB, was + own, now + own) > 0);
    }
  }
  holds(p, "eq. 1: all variants: logits before t moved by t", moves_earlier, 0);
  holds(p, "  tokens that do not move their own", not_itself, 0);
  control(p, "Figure 5: in a prefix of 5 that reach back", moves_back, 4);
}

/* How far the statements of sink.c's chapter 7 reach: [P2] on T5's tables, which learn any order of
 * their buckets; [P4] beside the closed form of alpha_1 for z(n) = -xi cos(w n), where pair 15 of
 * the paper's d_h = 96 has w = 0.0562; [E44]'s row sums; and what breaks 1/T <= alpha_1. */

/* A T5 toy whose table is g(bucket) in every head. */
static Toy *toy_t5(Page *p, const char *flags, double g(int bucket)) {
  Toy *y = toy(p, REPEATED, "--pos t5 %s", flags);
  for (int n = 0; n < 32 * y->m.c.heads; n++)
    y->m.rel.w[n] = (real)g(n / y->m.c.heads);
  toy_forward(y);
  return y;
}
static double as_printed(int bucket) { return bucket < 16 ? bucket : 16; }
static double falling(int bucket) { return -bucket; }
static double rising(int bucket) { return 40 * bucket; }

/* The largest alpha_1 over (d + H_(T-d))/T, d = 113. */
static double over_t5_bound(const Toy *y) {
  double most = 0;
  for (int n = 0; n < y->m.c.layers * y->m.c.heads; n++)
    most = larger(most, head_alpha(y, n, 1));
  return most * y->T / (113 + harmonic(y->T - 113));
}

static void check_t5(Page *p) {
  Toy *y = toy_t5(p, "--context 32", as_printed);
  equals(p, "eq. 6: as printed: alpha_1, T = 32", alpha(y, 1), 0.417504318);
  y = toy_t5(p, "--context 64", as_printed);
  equals(p, "  T = 64", alpha(y, 1), 0.225241886);
  y = toy_t5(p, "--context 64", falling);
  holds(p, "prop. 2: g = -bucket: largest t A_t1, t > 1", greatest(y, first_share), 1);
  equals(p, "  no sink: alpha_1", alpha(y, 1), 0.022022456);
  y = toy_t5(p, "--context 64", rising);
  control(p, "beyond: T5's table rising by 40: alpha_1, T = 64", alpha(y, 1), 0.3);
  y = toy_t5(p, "--layers 1 --context 512", rising);
  holds(p, "  over (d + H_(T-d))/T, d = 113, T = 512", over_t5_bound(y), 1);
  y = toy(p, REPEATED, "--pos t5 --layers 1 --context 512");
  holds(p, "  likewise T5's table at random", over_t5_bound(y), 1);
  y = toy(p, REPEATED, "--pos t5 --context 64");
  holds(p, "eq. 20: A_ti = e^g(t-i) / sum e^g(n), at random", greatest(y, off_bias), SCORES);
}

/* alpha_1 where every A_t1 is at equation 28's bound; where z(n) = -xi cos(w n), for pair 15. */
static double alpha_of_bound(double xi, int T) {
  double sum = 0;
  for (int t = 1; t <= T; t++)
    sum += equation28(xi, t);
  return sum / T;
}
static double alpha_of_pair(double xi, int T) {
  double sum = 0, closed = 0, w = pow(10000, -15 / 48.0);
  for (int t = 1; t <= T; t++) {
    double e = exp(-xi * cos(w * (t - 1)));
    sum += e;
    closed += e / sum;
  }
  return closed / T;
}
/* The xi at which such an alpha_1, which grows with xi, passes 0.3. */
static double xi_at_threshold(double alpha_of(double xi, int T), int T) {
  double xi = 0;
  for (double step = 20; step > 1e-15; step /= 2)
    if (alpha_of(xi + step, T) <= 0.3)
      xi += step;
  return xi;
}

static void check_pairs(Page *p) {
  static const double XI[] = {1.094629677, 1.803176493, 2.500055178, 2.847246272};
  static const int LENGTHS[] = {64, 256, 1024, 2048};
  for (int n = 0; n < 4; n++)
    equals(p, page_text(p, "eq. 28: alpha_1 <= 0.3 up to xi, T = %g", LENGTHS[n]),
           xi_at_threshold(alpha_of_bound, LENGTHS[n]), XI[n]);
  Toy *y = aimed(toy(p, REPEATED, "--heads 1 --head-dim 2 --context 3"), 0, 1);
  equals(p, "eq. 28: -cos n, T = 3: A_31 / bound", greatest(y, over_equation28), 0.781036907);
  y = aimed(toy(p, REPEATED, SLOW_PAIR "--context 512"), 1, 2);
  holds(p, "prop. 4: alpha_1 / bound, w = 0.05, xi = 2, T = 512",
        alpha(y, 1) / alpha_of_bound(2, 512), 1);
  y = toy(p, REPEATED, SLOW_PAIR "--context 64");
  equals(p, "beyond: w = 0.05: alpha_1 in closed form, xi = 10", alpha(aimed(y, 1, 10), 1),
         0.302390121);
  equals(p, "  xi = 20", alpha(aimed(y, 1, 20), 1), 0.475012217);
  equals(p, "  xi = 40", alpha(aimed(y, 1, 40), 1), 0.680592587);
  equals(p, "beyond: d_h = 96, pair 15: alpha_1 = 0.3, xi", xi_at_threshold(alpha_of_pair, 64),
         9.863622917);
  y = toy(p, REPEATED, "--heads 1 --head-dim 96 --context 64");
  holds(p, "prop. 4: alpha_1 of the model at xi = 9.8", alpha(aimed(y, 15, 9.8), 1), 0.3);
  control(p, "  at xi = 9.9: a sink", alpha(aimed(y, 15, 9.9), 1), 0.3);
  equals(p, "  its closed form", alpha(y, 1), 0.300720490);
}

/* t equal scores under a p-norm sum to t^(1-1/p). */
static double off_power(Place s) { return fabs(row_sum(s) / pow(s.t, 1 - 1 / s.y->m.c.pnorm) - 1); }

/* The share of eps in percent: 1 - s/(s + 1e-8) at z = -11.6 under sigmoid. */
static double share_of_eps(void) {
  Config c = {.sim = SIM_SIGMOID};
  real z[2] = {-INFINITY, (real)-11.6}, spare[2];
  row_forward(&c, 2, z, spare);
  return 100 * (1 - (double)z[1]);
}

static void check_limits(Page *p) {
  static const double POWERS[] = {0.5, 2, 4};
  check_t5(p);
  check_pairs(p);
  for (int n = 0; n < 3; n++) {
    Toy *y = toy(p, REPEATED, "--pos none --context 64 --layers 1 --normalizer pnorm --pnorm %g",
                 POWERS[n]);
    holds(p, page_text(p, "beyond: t equal scores sum to t^(1-1/p), p = %g", POWERS[n]),
          greatest(y, off_power), SCORES);
  }
  Toy *y = toy(p, REPEATED, "--pos none --context 64 --prefix 5");
  equals(p, "Figure 5: prefix of 5: alpha_5 over i >= 5", alpha(y, 5),
         (harmonic(64) - harmonic(4)) / 60);
  double all = y->T ? sink_alpha(&y->m.c, 64, METRIC_PLUS1, y->a.probe[0].metric, 4) : NAN;
  equals(p, "  over all rows, as they do", all, (1 + harmonic(64) - harmonic(5)) / 60);
  y = toy(p, REPEATED, "--pos none --context 64 --layers 1 " SIGMOID_1);
  holds(p, "Table 6: sigmoid, block 1: 1/t", greatest(y, off_even), SCORES + EPS_IN_Z);
  y = toy(p, REPEATED, "--pos none --context 64 " SIGMOID_1);
  control(p, "  and in the blocks after it", greatest(y, off_even), APART);
  equals(p, "Table 15, 3: sigmoid / sum, z = -11.6: 1 - A_11 in %", share_of_eps(), 0.108979904);
  Toy *logit = with_logit(p, 20), *mlp = toy(p, RANDOM, "--context 16 " MLP_1);
  if (mlp->T)
    zero(mlp->m.layer[0].phi1.w, (idx)mlp->m.c.head_dim * mlp->m.c.head_dim);
  toy_forward(mlp);
  control(p, "sec. 3.2: heads of alpha_1 < 1/T, learned logit of 20",
          1 - sink_share(logit, 1.0 / 12),
          1.0 / 6);
  control(p, "  with an mlp kernel of 0", 1 - sink_share(mlp, 1.0 / 16), 1.0 / 6);
}

static const Check MORE_CHECKS[] = {
  {"scale", "Equations 29 to 42: scale and optimiser\n A scale on o is a factor on W_V or W_O: "
   "another learning rate, decay and start.", check_scale},
  {"behind", "Equations 10 to 17: the rules behind `states`\n States part where the sums of "
   "rows do, at the rows that a rule names.", check_behind},
  {"scores", "z, A and m in closed form, 5 schemes each\n Of a repeated token z(n) and z*_t give "
   "every weight.", check_scores},
  {"gate", "Table 4: a key bias is a gate, or nothing\n It closes the head by 1 - g; without a "
   "normaliser it changes no bit.", check_gate},
  {"neutral", "Neutral elements\n The row of an axis that stands for nothing changes no bit.",
   check_neutral},
  {"causal", "Equation 1: causality\n A token moves no logit before it, but inside a prefix.",
   check_causal},
  {"limits", "Propositions 2 and 4, p-norm and metric: how far they reach\n What their proofs give "
   "beyond what the paper states, and where it ends.", check_limits},
  LATER_CHECK, {NULL, NULL, NULL}};

/* -------------------------------------------------------------------------------------------------
 * 9  The command: ./paper ITEM */

/* What a command works on, and the runs it names. */
typedef struct Command {
  const Settings *s;
  const Own *own;
  Experiments x;
  const Corpus *corpus;
  int item, only;              /* an item, a row; -1: all */
} Command;

/* The corpus of --corpus, or the first where it is not given. */
static const Corpus *corpus_asked(const Experiments *x, const char *name, Error *e) {
  for (int i = 0; i < x->corpora; i++)
    if (!x->corpus[i].domain && (!*name || !strcmp(x->corpus[i].name, name))) return &x->corpus[i];
  const Corpus *first = *name ? corpus_asked(x, "", &(Error){0}) : NULL;
  return fail(e, 2, "--corpus %s: expected a corpus of " EXPERIMENTS_FILE ". Try: --corpus %s",
              *name ? name : "NAME", first ? first->name : "NAME, after naming one"), NULL;
}

/* The next run that the command asks for after (*row, *seed), row by row, and whether it is there,
 * as result_there says; false at the end. Start with row 0, seed below 0. */
static bool run_next(const Command *q, int *row, int *seed, int *there) {
  bool first = q->corpus == corpus_asked(&q->x, "", &(Error){0});        /* domains are none */
  bool few = !first && q->item < 0 && q->only < 0;
  int one = q->own->only_seed, from = one < 0 ? 1 : one, to = one, times = q->corpus->times;
  for (; *row < q->x.rows; ++*row, *seed = -1) {
    if ((q->only >= 0 && *row != q->only) || !item_has(&q->x, q->item, *row) ||
        (few && !row_again(&q->x, *row, times))) continue;
    if (one < 0) to = q->own->seeds ? q->own->seeds : row_seeds(&q->x, *row, first, times);
    if (*seed >= to) continue;
    *seed = *seed < from ? from : *seed + 1;
    *there = result_there(&q->x, *row, q->own->results, q->corpus->name, *seed);
    return true;
  }
  return false;
}

/* Has the new text every line of the old one, in its order? *more: lines that only the new one has,
 * measures that came after the old one was made. */
static bool text_repeats(const Bytes *now, const Bytes *was, int *more) {
  const char *at = (const char *)now->at, *end = at + now->size;
  const char *old = (const char *)was->at, *old_end = old + was->size;
  for (*more = 0; at < end; ) {
    const char *next = memchr(at, '\n', (size_t)(end - at));
    size_t n = (size_t)((next ? next + 1 : end) - at);
    if (n <= (size_t)(old_end - old) && !memcmp(at, old, n)) old += n;
    else ++*more;
    at += n;
  }
  return old == old_end;
}

/* A run, and where its file goes; or with `verify`, where it is: it must have the same lines, and
 * the same bytes but for measures that a file from before them has not. */
static int run_do(const Command *q, int row, int seed, bool verify, Error *e) {
  char path[PATH_ROOM]; Result r = {0}, old = {0}; Bytes text = {0}, was = {0}; int more;
  if (result_path(path, q->own->results, q->corpus->name, q->x.row[row].name, seed, e))
    return e->status;
  if (!verify) file_ready(path, e);
  else if (!lines_read(path, &was, e)) result_read(&old, was.at, was.size, path, e);
  bool made = !e->status && !row_run(&r, &q->x, row, q->corpus, seed, q->s, e) &&
              !result_text(&r, &text, e);
  if (made && !verify) file_write(path, text.at, text.size, e);
  else if (made && text.size == was.size && !memcmp(text.at, was.at, was.size))
    printf("%s: the same %zu bytes\n", path, was.size);
  else if (made && text_repeats(&text, &was, &more))
    printf("%s: the same %zu bytes, and %d lines more, which are newer than it\n", path, was.size,
           more);
  else if (made && strcmp(r.build, old.build))
    fail(e, 1, "%s: expected the bytes of a run by %s, found others, but this is %s. Try: "
         "that compiler and processor", path, old.build, r.build);
  else if (made)
    fail(e, 1, "%s: expected the same bytes, found others. Try: its own #command, with or without "
         "--texts as it was; or delete it, and run it again", path);
  result_free(&r); result_free(&old); bytes_free(&text); bytes_free(&was);
  return e->status;
}

/* Seconds that a step of a row takes on this machine now, from a few steps of it. */
static double step_seconds(const Command *q, int row, Error *e) {
  enum { WARM = 3, COUNT = 10 };
  Settings now; Trainer t; double start = 0;
  if (row_settings(&now, &q->x.row[row], q->corpus, 0, q->s, e) || trainer_create(&t, &now, e))
    return 0;
  for (int i = 0; i < WARM + COUNT && !e->status; i++) {
    if (i == WARM) start = seconds();
    trainer_step(&t, e);
  }
  double took = (seconds() - start) / COUNT;
  trainer_free(&t);
  return took;
}

/* A training's cost, up to a factor: tokens times the weights that meet each and half its keys. */
static double train_work(const Settings *s) {
  const Config *c = &s->model;
  double Q = (double)c->heads * c->head_dim, K = (double)c->kv_heads * c->head_dim;
  double layer = c->dim * (2 * Q + 2 * K) + (config_gated(c) ? 3.0 : 2.0) * c->dim * c->ffn;
  double token = c->layers * (layer + c->context * Q) + (double)c->dim * c->vocab;
  return token * s->train.batch * s->train.accumulate * c->context * s->train.steps;
}

/* Says on stderr how many runs are missing, and their time by operations and the first one's. */
static int runs_announce(const Command *q, int *missing, Error *e) {
  static const double TOY_SECONDS = 12;                    /* 4 to 16 on one core */
  double unit = 0, time = 0;
  *missing = 0;
  for (int row = 0, seed = -1, there; !e->status && run_next(q, &row, &seed, &there);) {
    *missing += there != 1;
    for (int at = there == 1 ? -1 : row; at >= 0; at = q->x.row[at].after) {
      Settings now;
      if (row_settings(&now, &q->x.row[at], q->corpus, seed, q->s, e)) return e->status;
      if (now.data.toy) { time += TOY_SECONDS; continue; }
      if (!now.model.vocab) now.model.vocab = VOCAB_DEFAULT;
      if (config_resolve(&now.model, e)) return e->status;
      double work = train_work(&now);
      if (unit <= 0) unit = step_seconds(q, row, e) * now.train.steps / work;
      time += unit * work;
    }
  }
  if (!e->status && *missing)
    fprintf(stderr, "paper: %d run%s on %s to do, about %.0f min here on %d thread%s. Ctrl-C "
            "stops; what is finished stays\n", *missing, *missing > 1 ? "s" : "",
            q->corpus->name, ceil(time / 60), workers(), workers() > 1 ? "s" : "");
  return e->status;
}

/* --commands: what is missing, a run a line. */
static int runs_print(const Command *q, Error *e) {
  const Own *own = q->own; Bytes folders = {0}; int missing;
  const char *name = q->item < 0 ? "all" : q->x.item[q->item].name;
  if (runs_announce(q, &missing, e)) return e->status;
  if (!missing)
    fprintf(stderr, "paper: no run of %s is missing on %s. Try: ./paper %s --show, or another "
            "--corpus\n", name, q->corpus->name, name);
  if (own->texts[0]) bytes_print(&folders, e, " --texts"), word_add(&folders, own->texts, e);
  if (strcmp(own->results, RESULTS_FOLDER))
    bytes_print(&folders, e, " --results"), word_add(&folders, own->results, e);
  bytes_add(&folders, "", 1, e);
  for (int row = 0, seed = -1, there; !e->status && run_next(q, &row, &seed, &there);)
    if (there != 1)
      printf("./paper %s --row %s --seed %d --corpus %s%s --threads %d --quiet\n", name,
             q->x.row[row].name, seed, q->corpus->name, (const char *)folders.at,
             q->s->threads ? q->s->threads : 1);
  bytes_free(&folders);
  return e->status;
}

/* What is missing is trained, run by run; what is finished stays. */
static int runs_train(const Command *q, Error *e) {
  int missing = 1;
  bool one = q->only >= 0 && q->own->only_seed >= 0;       /* of --commands: nothing to plan */
  if (!one && (runs_announce(q, &missing, e) || !missing)) return e->status;
  for (int row = 0, seed = -1, there; !e->status && run_next(q, &row, &seed, &there);) {
    if (there < 0)
      fprintf(stderr, "paper: %s seed %d: its row or text has changed, so it is run again\n",
              q->x.row[row].name, seed);
    if (there != 1) run_do(q, row, seed, false, e);
    else if (one) printf("paper: %s seed %d is there already\n", q->x.row[row].name, seed);
  }
  return e->status;
}

static int run_verify(const Command *q, Error *e) {
  for (int row = 0, seed = -1, there; run_next(q, &row, &seed, &there);)
    if (there == 1) return run_do(q, row, seed, true, e);
  return fail(e, 1, "--verify: expected a finished run, found none. Try: without --verify");
}

/* What there is: an item with its toys' maps, or all headline claims and every verdict. */
static int results_show(const Command *q, Error *e) {
  Results r = {0}; Bytes out = {0}; const Item *item = q->item < 0 ? NULL : &q->x.item[q->item];
  if (file_missing(q->own->results))
    return fail(e, 1, "%s: no such folder. Try: another --results", q->own->results);
  if (!results_load(&r, &q->x, q->own->results, q->corpus->name, e)) {
    if (item && q->own->predict) onset_predict(&out, &r, item, e);
    else if (item) item_text(&out, &r, q->item, e);
    else ledger(&out, &r, e);
  }
  if (!e->status) fwrite(out.at, 1, out.size, stdout);
  if (item && !q->own->predict) told_show(q->own->results, r.corpus, item->name, stdout, e);
  for (int k = 0, maps = 0; item && r.run && k < item->count; k++) {
    int row = q->x.shown[item->from + k].row, n;
    const Run *run = run_at(&r, row, 1);
    if (run->state != RUN_HELD || !result_find(&run->result, "toy_shape", &n)) continue;
    printf("%s\n%s, seed 1\n", maps++ ? "" : TOY_MAPS_SAY, q->x.row[row].name);
    toy_print(&run->result, stdout);
  }
  results_free(&r); bytes_free(&out);
  return e->status;
}

/* --- Items that need published models: ./hf has them, and measures them ----------------------- */

/* NAME.model in the folder --models, and whether it is there. */
static bool model_path(char path[PATH_ROOM], const Own *own, const char *name) {
  snprintf(path, PATH_ROOM, "%.400s/%.100s.model", own->models, name);
  return !file_missing(path);
}

/* The flags of an eval or each line; NAME, where there is one, and TEXTS are filled in. */
static void flags_add(Bytes *line, const char *flags, const char *name, const char *texts,
                      Error *e) {
  for (; *flags; flags += strspn(flags, " ")) {
    Bytes word = {0};
    for (; *flags && *flags != ' '; flags++) {
      bool named = name && !strncmp(flags, "NAME", 4), text = !strncmp(flags, "TEXTS", 5);
      if (named || text) bytes_print(&word, e, "%s", named ? name : texts);
      else bytes_print(&word, e, "%c", *flags);
      flags += named ? 3 : text ? 4 : 0;
    }
    bytes_add(&word, "", 1, e);
    if (!e->status) word_add(line, (const char *)word.at, e);
    bytes_free(&word);
  }
}

/* The command of an eval or each line: of one model, or for `only` below 0 of all of the item;
 * with `there` of those at hand alone. Returns how many models are in it. */
static int eval_command(Bytes *line, const Command *q, const Evaluation *v, int only, bool there,
                        Error *e) {
  const char *name = only < 0 ? NULL : q->x.model[only].name;
  char path[PATH_ROOM], csv[PATH_ROOM];
  int models = 0, lines = 0, number = 0;       /* of the item's lines the number-th */
  bytes_print(line, e, "./hf eval");
  for (int i = 0; i < q->x.models; i++) {
    if (q->x.model[i].item != q->item || (only >= 0 && i != only)) continue;
    if (!model_path(path, q->own, q->x.model[i].name) && there) continue;
    word_add(line, path, e);
    models++;
  }
  flags_add(line, v->flags, name, q->own->texts[0] ? q->own->texts : "TEXTS", e);
  for (const Evaluation *x = q->x.eval; x < q->x.eval + q->x.evals; x++)
    if (x->item == q->item) lines++, number += x <= v;
  int n = snprintf(csv, sizeof csv, "out/%.80s%s%.80s", q->x.item[q->item].name, name ? "-" : "",
                   name ? name : "");
  if (lines > 1) snprintf(csv + n, sizeof csv - (size_t)n, "-%d", number);
  bytes_print(line, e, " --csv %s.csv --force", csv);
  bytes_add(line, "", 1, e);
  return models;
}

/* The commands of the item's eval and each lines; with `run` those of models at hand are run. */
static int evals_do(const Command *q, bool run, Error *e) {
  for (int i = 0; i < q->x.evals && !e->status; i++) {
    const Evaluation *v = &q->x.eval[i];
    if (v->item != q->item) continue;
    if (run && file_missing("hf") && file_missing("hf.exe"))
      return fail(e, 1, "%s: expected ./hf to measure models, found none. Try: make hf, or --show "
                  "for the commands", q->x.item[q->item].name);
    if (run && strstr(v->flags, "TEXTS") && !q->own->texts[0])
      return fail(e, 2, "%s: expected --texts FOLDER, since its models are measured on texts "
                  "there. Try: --texts ../texts, or --show", q->x.item[q->item].name);
    for (int m = v->each ? 0 : -1; m < (v->each ? q->x.models : 0) && !e->status; m++) {
      Bytes line = {0};
      if (m >= 0 && q->x.model[m].item != q->item) continue;
      int models = eval_command(&line, q, v, m, run, e);
      if (models && !e->status) printf("  %s\n", (const char *)line.at);
      fflush(stdout);
      const char *command = (const char *)line.at + (*QUOTE == '"' ? 2 : 0);   /* no ./ there */
      if (run && models && !e->status && system(command)) e->status = 1;      /* ./hf says why */
      bytes_free(&line);
    }
  }
  return e->status;
}

/* The commands that make NAME.model of a downloaded folder, and the questions of --choices. */
static void imports_print(const Command *q) {
  static const char word[] = "--choices TEXTS/";
  const char *texts = q->own->texts[0] ? q->own->texts : "TEXTS";
  char path[PATH_ROOM], folder[PATH_ROOM];
  Bytes line = {0}; Error e = {0};
  for (int i = 0; i < q->x.models; i++) {
    if (q->x.model[i].item != q->item || model_path(path, q->own, q->x.model[i].name)) continue;
    snprintf(folder, sizeof folder, "%.*s", (int)strlen(path) - 6, path);      /* less .model */
    bytes_print(&line, &e, "  ./hf"), word_add(&line, folder, &e);
    bytes_print(&line, &e, " --link --out"), word_add(&line, path, &e);
    bytes_add(&line, "\n", 1, &e);
  }
  for (int i = 0; i < q->x.evals; i++) {
    const char *file = strstr(q->x.eval[i].flags, word);
    int n = file ? (int)strcspn(file += strlen(word), ". ") : 0;
    if (!n || q->x.eval[i].item != q->item) continue;
    snprintf(path, sizeof path, "%.400s/%.*s.txt", texts, n, file);
    bytes_print(&line, &e, "  ./hf choices %.*s_val.jsonl --out", n, file);
    word_add(&line, path, &e), bytes_add(&line, "\n", 1, &e);
  }
  if (line.size) fwrite(line.at, 1, line.size, stdout);
  bytes_free(&line);
}

/* The paper's numbers; what is to be downloaded, and how it is measured; and what is at hand,
 * measured. --show: without the last; --commands: the commands alone. */
static int item_published(const Command *q, Error *e) {
  const Item *item = &q->x.item[q->item];
  char path[PATH_ROOM]; int missing = 0, there = 0; bool alone = q->own->commands;
  if (!alone) printf("%s, %s: %s\n\n", item->name, item->reference, item->title);
  for (int i = 0; i < q->x.models; i++) {
    const Published *m = &q->x.model[i];
    if (m->item != q->item) continue;
    *(model_path(path, q->own, m->name) ? &there : &missing) += 1;
    if (alone) continue;
    if (there + missing == 1) {
      printf("%-16s", "paper");
      for (int k = 0; k < item->columns; k++) printf(" %14s", item->column[k]);
      printf("  folder of huggingface.co\n");
    }
    printf("%-16s", m->name);
    for (int k = 0; k < item->columns; k++) printf(" %14s", m->paper[k].text);
    printf("  %s\n", m->folder);
  }
  if (!there && !missing)
    fprintf(alone ? stderr : stdout, "No weights of it were published. Try: ./paper list\n");
  if (missing && !alone)
    printf("\n%d not in the folder %s (--models FOLDER). Download config.json, the tokenizer's "
           "files and\n*.safetensors of each into %s/NAME; then (make hf builds ./hf)\n\n",
           missing, q->own->models, q->own->models);
  imports_print(q);
  if (missing && !alone) printf("\nand measure them:\n\n");
  if (missing || alone || q->own->show) evals_do(q, false, e);
  if (there && !alone && !q->own->show) {
    printf("\n%d at hand:\n\n", there);
    evals_do(q, true, e);
  }
  return e->status;
}

/* --- Verbs ------------------------------------------------------------------------------------ */

static int command_open(Command *q, const Settings *s, Error *e) {
  char path[PATH_ROOM]; Bytes text = {0};
  *q = (Command){.s = s, .own = own_of(s), .item = -1, .only = -1};
  const char *kept = located(path, q->own->results, &s->data, &(Error){0});
  if (kept == path) strcpy(((Own *)q->own)->results, path);
  if (!lines_read(located(path, EXPERIMENTS_FILE, &s->data, e), &text, e))
    experiments_read(&q->x, text.at, text.size, EXPERIMENTS_FILE, e);
  bytes_free(&text);
  if (!e->status && !(q->corpus = corpus_asked(&q->x, q->own->corpus, e))) experiments_free(&q->x);
  return e->status;
}

static int command_words(Command *q, const char **words, int n, Error *e) {
  const Experiments *x = &q->x;
  const char *flag = q->own->predict ? "predict" : q->own->cost ? "cost" : NULL;
  const char *of = q->own->predict ? "onset" : "remedies", *some = q->own->row[0] ? "row" :
             q->own->only_seed >= 0 ? "seed" : q->own->seeds ? "seeds" : "";
  if (flag && (!n || strcmp(words[0], of)))
    return fail(e, 2, "--%s: it is of the item %s. Try: ./paper %s --%s", flag, of, of, flag);
  if (n > 1) return fail(e, 2, "%s: a word too many. Try: ./paper help ITEM", words[1]);
  if (n && strcmp(words[0], "all") &&
      (q->item = entry_of(x->item, x->items, sizeof *x->item, words[0])) < 0) {
    Near near = {.word = words[0]};
    for (int i = 0; i < x->items; i++) near_look(&near, x->item[i].name, x->item[i].name);
    return verb_unknown(q->s, near, e);
  }
  if (q->own->show) flag = "show";
  if (flag && *some)
    return fail(e, 2, "--%s: --%s is of all rows and seeds. Try: without --%s", some, flag, some);
  if (!q->own->row[0]) return 0;
  q->only = experiments_row(x, q->own->row);
  if (q->only < 0 || !item_has(x, q->item, q->only))
    fail(e, 2, "--row %s: %s has no such row. Try: ./paper %s --show", q->own->row,
         q->item < 0 ? "the table" : words[0], q->item < 0 ? "all" : words[0]);
  return e->status;
}

static int command_do(const Command *q, Error *e) {
  Error shown = {0};                                       /* what is there is shown anyway */
  if (q->item >= 0 && is_elsewhere(&q->x, q->item)) return item_published(q, e);
  if (q->own->commands) return runs_print(q, e);
  if (q->own->cost) return remedies_cost(&q->x, &q->x.item[q->item], q->corpus, q->s, stdout, e);
  if (q->own->verify) return run_verify(q, e);
  if (!q->own->show && !q->own->predict) runs_train(q, e);
  if (q->only < 0 && results_show(q, &shown)) fail(e, shown.status, "%s", shown.text);
  return e->status;
}

/* ./paper ITEM, ./paper all */
static int verb_item(Settings *s, Error *e) {
  const char **words = s->words;
  const int n = s->n_words;
  Command q;
  if (command_open(&q, s, e)) return e->status;
  if (!command_words(&q, words, n, e)) command_do(&q, e);
  experiments_free(&q.x);
  return e->status;
}

static int command_results(Command *q, Results *r, const Settings *s, Error *e) {
  *r = (Results){0};
  return command_open(q, s, e) || results_load(r, &q->x, q->own->results, q->corpus->name, e);
}

static int command_close(Command *q, Results *r, Bytes *out, Error *e) {
  results_free(r); bytes_free(out);
  experiments_free(&q->x);
  return e->status;
}

static int verb_items(Settings *s, Error *e) {
  Command q; Results r; Bytes out = {0};
  if (!command_results(&q, &r, s, e) && !items_text(&out, &r, e)) {
    fwrite(out.at, 1, out.size, stdout);
    printf("\n./sink list shows the paper's variants.\n");
  }
  return command_close(&q, &r, &out, e);
}

#include "report.c"

static int verb_eval_paper(Settings *s, Error *e) { return eval_more(s, NULL, e); }
static int verb_run_paper(Settings *s, Error *e) { return run_filmed(s, toy_why, e); }

static const Verb PAPER_VERBS[] = {
  {"ITEM", "or all", ITEM | GENERAL, "a table or figure, run and judged", verb_item},
  {"list", "", KEPT_RUNS, "the items, runs done, claims tested", verb_items},
  {"report", "", GENERAL | OUTPUT | KEPT_RUNS, "the whole paper [out/report.html]", verb_report},
  {"stream", "MODEL", DATA | GENERAL | TABLES | STREAM, "a cache of keys that forgets", verb_cache},
  {"tokenize", "train|encode|decode [FILE]", OUTPUT | GENERAL | TOKENIZE,
   "text and its ids; a vocabulary of texts", vocabulary_tokenize},
  {"generate", "[MODEL]", GENERAL | GENERATE,
   "text from a model or a grammar", grammar_generate},
  PAGED_VERBS(verb_run_paper, verb_eval_paper),
  {"readme", "", KEPT_RUNS, "the pages of " RESULTS_FOLDER, verb_readme},
  {NULL, NULL, 0, NULL, NULL}
};

#ifndef PAPER_NO_MAIN
int main(int argc, char **argv) {
  const Program paper = {.name = "paper", .verbs = PAPER_VERBS, .checks = MORE_CHECKS,
                         .other = PAPER_VERBS, .page = run_page,
                         .watch = film_watch, .start = trainer_start,
                         .log = log_keep,
                         .edit = position_edit, .open = paper_open,
                         .first = first_open};
  return sink_main(&paper, argc, argv);
}
#endif
