/* words.c - the tokenizers of published models: chapters 14 and 15 of hf.c,
 * which includes it.
 *
 * SPDX-License-Identifier: MIT */

/* -----------------------------------------------------------------------------
 * 14  Tokenizers at work
 *
 * Published tokenizers give the ids that their authors' libraries give. They
 * differ from sink's own (sink.c, chapter 8) and from one another in the rows
 * that their file names:
 *
 *   cut       pieces                          begin as    models
 *   gpt2      GPT-2's expression              bytes       GPT-2, Pythia, OPT
 *   digits    that; each number is a piece    bytes       SmolLM
 *   llama3    LLaMA-3's expression            bytes       LLaMA-3, OLMo 2,
 *                                                         Phi-4
 *   qwen2     that, \p{N} for \p{N}{1,3}      bytes       Qwen 2, Qwen 3
 *   o200k     gpt-oss's expression            bytes       gpt-oss, Phi-4-mini
 *   beside    where no token has both sides   characters  LLaMA-2, Gemma, Phi-3
 *
 *   1  marks       added tokens are taken out of the text: the leftmost first,
 *                  of two that begin together the longer; a text that spells
 *                  <s> gives its id
 *   2  form        the normalizer: what lies between is brought into Unicode's
 *                  form NFC, where the file has the tables (Pythia's, Qwen's);
 *                  and where tokens come from SentencePiece, which spells a
 *                  space U+2581, that sign becomes a space, and one is put in
 *                  front
 *   3  runs        added tokens that are `normalized`, as in 1: Pythia's of
 *                  2 to 24 spaces
 *   4  pieces      the pre-tokenizer: one of these expressions, where L, N and
 *                  \s are Unicode's letters, numbers and white space, which the
 *                  file lists; stray bytes are none
 *     gpt2         's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+
 *                  |\s+(?!\S)|\s+
 *     llama3 ..    the others stand in 14.1: LLAMA3_CUTS, O200K_CUTS
 *   5  merges      BPE. LLaMA-3 first looks whether the piece is a token, and
 *                  then needs none
 *
 * SentencePiece merges over the whole text. Here a text of any length is cut
 * too, between any two characters that no token has beside each other: no
 * merge could join across, so the ids are the same, and the encoder's room is
 * that of the longest piece. A character that the vocabulary lacks becomes its
 * bytes' tokens. Merges of one rank go by place: SentencePiece ranks by what a merge makes,
 * so that all ways to make a token have one rank; files that list merges give
 * each a rank of its own.
 *
 * The file. Numbers are little-endian and unsigned.
 *     offset      bytes
 *     0           12      SINKTOK1, version 2
 *     12          4  4    V; M
 *     20          4  4    CUT_*; SPACE_*
 *     28          4       1 a piece that is a token is one; 2 models have read
 *                         bos before every text; or the sum of these
 *     32          4  4    the ids that end and that begin a text; 2^32 - 1:
 *                         none begins it
 *     40          4  4    C classes of characters; F forms
 *     48          4  4    K classes of combining marks; S bytes of spellings
 *     56          12 C    first, last code point; 0 letter, 1 number, 2 white
 *                         space (others: none); for o200k 4 capital, 5 small
 *                         letter (0: of no case), 6 combining mark
 *     ..          16 F    code point, first and second of its canonical form
 *                         (second 0: none), 1 when the two compose; sorted
 *     ..          12 K    first, last code point; combining class; sorted, as
 *                         are the classes
 *     ..          3 V     for each id: 1 byte KIND_*, 2 bytes length, at most
 *                         1024
 *     ..          S       the spellings, end to end
 *     ..          16 M    left id, right id, the id that they make, rank: 0
 *                         first, then that of the merge before or its own
 *                         number
 *     ..          8       hash64(0, .) of all bytes before it
 */

enum {
  PUBLISHED_HEAD = 56,              /* bytes of the head */
  PUBLISHED_MERGES_MAX = 1 << 21,
  PUBLISHED_VOCAB_MAX = 1 << 19,
  TOKEN_LENGTH_MAX = 1024,          /* bytes of the longest token */
  FORM_DEPTH = 8                    /* forms of a form's first code point */
};

/* The head as numbers of 4 bytes; the two of "SINKTOK1" and the version are
 * before these. FLAG_*: bits of the flags. */
enum {
  HEAD_VOCAB = 3,
  HEAD_MERGES,
  HEAD_CUT,
  HEAD_SPACE,
  HEAD_FLAGS,
  HEAD_END,
  HEAD_BOS,
  HEAD_CLASSES,
  HEAD_FORMS,
  HEAD_COMBINING,
  HEAD_SPELLINGS,
  HEAD_NUMBERS
};
enum { FLAG_WHOLE = 1, FLAG_BEGINS = 2 };

/* How text is cut into the pieces that are encoded each on its own; 0 is sink's
 * own rule. A new one is a name here, its expression in CUTS (15.3), and the
 * length of a piece in published_cut. */
enum {
  CUT_SINK,
  CUT_GPT2,
  CUT_LLAMA3,
  CUT_BESIDE,
  CUT_DIGITS,
  CUT_QWEN2,
  CUT_O200K,
  CUTS_COUNT
};
static const char *const CUT_NAMES[CUTS_COUNT] = {
  "sink", "gpt2", "llama3", "beside", "digits", "qwen2", "o200k"};

/* SentencePiece's sign for a space, U+2581: 3 bytes. */
static const char SIGN[] = "\xE2\x96\x81";

/* What becomes of spaces before text is cut. PLAIN: they stay as they are. All
 * others read U+2581 as a space, as SentencePiece does, and put a space in
 * front, NONE: of nothing; EACH: of every stretch between marks; FIRST: of a
 * text that begins with none; ALWAYS: of every stretch that begins with
 * none. */
enum {
  SPACE_PLAIN,
  SPACE_NONE,
  SPACE_EACH,
  SPACE_FIRST,
  SPACE_ALWAYS,
  SPACES_COUNT
};

/* What a token is.
 *
 *   TEXT             comes of merges
 *   BYTE             of a character that the vocabulary lacks
 *   MARK             is taken out of the text as it stands
 *   RUN              is taken out after normalisation
 *   NAME             no text gives it
 *   BOTH             TEXT, and a MARK where U+2581 stands for its spaces
 *   BOTH + 1, 2, 3   a MARK with white space behind, before, at both sides
 *   WORD             TEXT, and a RUN where a space stands before it */
enum {
  KIND_TEXT,
  KIND_BYTE,
  KIND_MARK,
  KIND_RUN,
  KIND_NAME,
  KIND_BOTH,
  KIND_WORD = KIND_BOTH + 4,
  KINDS_COUNT
};

static bool kind_text(int kind) {
  return kind == KIND_TEXT || kind == KIND_BOTH || kind == KIND_WORD;
}

/* What a merge makes, and when: merges of lower rank come first. */
typedef struct Merge { int32_t id, rank; } Merge;

/* Code points first .. last share a class of characters, or of marks that
 * combine: value. */
typedef struct Range { uint32_t first, last, value; } Range;

/* A code point that is `first` and `second` (0: none) in another form; joins:
 * the two make it again. */
typedef struct Form { uint32_t code, first, second, joins; } Form;

/* What a published tokenizer knows beside its vocabulary and ids. */
typedef struct Published {
  int cut, space;                 /* CUT_*, SPACE_* */
  bool whole;                     /* a piece that is a token needs no merges */
  bool begins;                    /* its models have read bos before a text */
  Pairs merges;                   /* the pairs that join */
  Merge *made;                    /* [merges.size] what they make */
  unsigned char *kind;            /* [V] KIND_* */
  /* a byte's token: of KIND_TEXT, under CUT_BESIDE of KIND_BYTE; -1: none */
  int32_t byte[256];
  /* [slots] 1 + an id of a text's kind (kind_text), by its spelling's hash */
  uint32_t *slot;
  size_t slots;
  Pairs marks[2];                 /* trees of prefixes: of marks, of runs */
  /* characters that some token has beside each other, under CUT_BESIDE */
  Pairs beside;
  Range *classes, *combining;     /* [n_classes], [n_combining], sorted */
  /* [n_forms], sorted by code; where there are none, text stays as it is */
  Form *forms;
  Pairs joins;                    /* (first, second) of forms that join */
  int n_classes, n_combining, n_forms;
  unsigned char ascii[128];       /* classes of the first 128 characters */
  /* NULL before the first text is encoded: one caller at a time */
  struct Scratch *scratch;
} Published;

/* One symbol of a piece; what is joined to the one before it is no longer in
 * the list. -1: none. */
typedef struct Link {
  int32_t id;
  int32_t join;            /* its merge with the next */
  int32_t before, after;
} Link;

/* What an encoder works with. link and heap grow to the longest piece, the
 * others to the longest stretch between marks. */
typedef struct Scratch {
  const Tokenizer *tokenizer;
  Link *link;              /* [room] the symbols of one piece */
  uint64_t *heap;          /* [2 room] its joins, the next one first */
  size_t room, joins;
  Bytes plain;             /* a stretch of text, normalised */
  Ids codes, spare;        /* its characters, where form NFC needs work */
} Scratch;

/* ---- 14.1  Cutting text -------------------------------------------------- */

/* LLaMA-3's expression; Qwen's numbers are of one digit. */
#define LLAMA3_CUTS(digits) \
  "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|" \
  "\\p{N}" digits "| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|" \
  "\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"

/* gpt-oss's: a word is capitals, then small letters; letters of no case and
 * marks are both. */
#define O200K_WORD(capitals, small) \
  "[^\\r\\n\\p{L}\\p{N}]?[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]" capitals \
  "[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]" small "(?i:'s|'t|'re|'ve|'m|'ll|'d)?|"
#define O200K_CUTS O200K_WORD("*", "+") O200K_WORD("+", "*") \
  "\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"

/* Classes of characters beside LETTER .. OTHER, for o200k alone: LETTER is one
 * of no case there. */
enum { UPPER = OTHER + 1, LOWER, ACCENT, CLASSES_END };
#define NO_CASE (1u << LETTER | 1u << ACCENT)

enum { CODE_BYTE = 0x110000, HANGUL = 0xAC00, HANGUL_COUNT = 11172 };

/* How many bytes a character has, by its first one. */
static size_t length_of(unsigned char first) {
  if (first < 0x80)
    return 1;
  if (first < 0xE0)
    return 2;
  return first < 0xF0 ? 3 : 4;
}

/* The length and code of the first character of n >= 1 bytes; a stray byte is
 * above all codes. */
static size_t char_at(const unsigned char *s, size_t n, uint32_t *code) {
  const size_t length = length_of(s[0]);
  *code = s[0];
  if (length == 1)
    return 1;
  if (length > n || utf8_length(s, length) < length) {
    *code += CODE_BYTE;
    return 1;
  }
  *code &= 0x7Fu >> length;
  for (size_t i = 1; i < length; i++)
    *code = *code << 6 | (s[i] & 0x3Fu);
  return length;
}

/* The value of a code point in n sorted ranges, `none` outside them. */
static unsigned range_value(const Range *r, int n, uint32_t code,
                            unsigned none) {
  int low = 0, high = n;
  while (low < high) {
    const int mid = (low + high) / 2;
    if (r[mid].last < code)
      low = mid + 1;
    else
      high = mid;
  }
  return low < n && r[low].first <= code ? r[low].value : none;
}

/* The class of the first character of n bytes, and its length; OTHER and 0 at
 * the end of a text. */
static unsigned char_class(const Published *t, const unsigned char *s, size_t n,
                           size_t *length) {
  uint32_t code;
  if (!n) {
    *length = 0;
    return OTHER;
  }
  if (s[0] < 128) {
    *length = 1;
    return t->ascii[s[0]];
  }
  *length = char_at(s, n, &code);
  return range_value(t->classes, t->n_classes, code, OTHER);
}

/* The bytes from `at` on that are at most `most` characters of a set of
 * classes, 1 << each. */
static size_t class_run(const Published *t, const unsigned char *text,
                        size_t at, size_t n, unsigned set, size_t most) {
  size_t end = at, length;
  while (end < n && most-- &&
         set >> char_class(t, text + end, n - end, &length) & 1)
    end += length;
  return end - at;
}

static int small_of(int c) { return c >= 'A' && c <= 'Z' ? c + 32 : c; }

/* The length of a contraction, or 0; `fold`: in capitals too, and with the long
 * s, U+017F. */
static size_t contraction(const unsigned char *s, size_t n, bool fold) {
  static const char *const TAILS[] = {
    "s", "t", "re", "ve", "m", "ll", "d", NULL};
  if (n < 2 || s[0] != '\'')
    return 0;
  if (fold && n > 2 && s[1] == 0xC5 && s[2] == 0xBF)
    return 3;
  for (int i = 0; TAILS[i]; i++) {
    const size_t length = strlen(TAILS[i]);
    size_t k = 0;
    while (k < length && k + 1 < n &&
           TAILS[i][k] == (fold ? small_of(s[k + 1]) : s[k + 1]))
      k++;
    if (k == length)
      return 1 + length;
  }
  return 0;
}

/* White space at the start of a text: all of it at the end of the text, and
 * where it is a single character; else all but its last, which the next piece
 * may take, unless that is a lone number. */
static size_t white_length(const Published *t, const unsigned char *text,
                           size_t n) {
  size_t end = 0, last = 0, length;
  unsigned class = WHITE;
  while (end < n &&
         (class = char_class(t, text + end, n - end, &length)) == WHITE) {
    last = end;
    end += length;
  }
  if (end >= n || !last || (t->cut == CUT_DIGITS && class == DIGIT))
    return end;
  return last;
}

/* The first piece of a text by GPT-2's expression, alone or between numbers. */
static size_t gpt2_length(const Published *t, const unsigned char *text,
                          size_t n) {
  size_t length = contraction(text, n, false);
  if (length)
    return length;
  const size_t blank = n > 1 && text[0] == ' ';
  const unsigned class = char_class(t, text + blank, n - blank, &length);
  if (class == DIGIT && t->cut == CUT_DIGITS)
    return blank ? blank : length;
  if (class == WHITE)
    return white_length(t, text, n);
  return blank + class_run(t, text, blank, n, 1u << class, n);
}

/* Where a word from `at` on ends, `at` when none begins there. Where no small
 * letter follows the capitals, the first way ends behind the last character of
 * no case among them, and the second way takes them all. */
static size_t cased_end(const Published *t, const unsigned char *text,
                        size_t at, size_t n, int way) {
  const size_t end = at + class_run(t, text, at, n, NO_CASE | 1u << UPPER, n);
  const size_t small = class_run(t, text, end, n, NO_CASE | 1u << LOWER, n);
  size_t last = at;
  if (small || way == 2)
    return end + small;
  for (size_t length; at < end; at += length)
    if (char_class(t, text + at, end - at, &length) != UPPER)
      last = at + length;
  return last;
}

/* The first two ways of gpt-oss's expression: a word with the character before
 * it, which may be a mark that is a word by itself; then a contraction. 0: the
 * text begins with no word. */
static size_t cased_length(const Published *t, const unsigned char *text,
                           size_t n) {
  const unsigned sole = 1u << LETTER | 1u << DIGIT | 1u << UPPER | 1u << LOWER;
  size_t length, end = 0;
  const unsigned class = char_class(t, text, n, &length);
  const bool line = text[0] == '\n' || text[0] == '\r';
  const size_t prefix = line || sole >> class & 1 ? 0 : length;
  for (int way = 1; way <= 2 && !end; way++) {
    end = cased_end(t, text, prefix, n, way);
    if (end == prefix)
      end = cased_end(t, text, 0, n, way);
  }
  if (!end)
    return 0;
  return end + contraction(text + end, n - end, true);
}

/* The first piece by LLaMA-3's expression, Qwen's or gpt-oss's. Their last
 * three ways are the same, but that gpt-oss may end a line by /. */
static size_t llama3_length(const Published *t, const unsigned char *text,
                            size_t n) {
  const bool cased = t->cut == CUT_O200K;
  const size_t digits = t->cut == CUT_QWEN2 ? 1 : 3;
  size_t length, next;
  if (cased)
    length = cased_length(t, text, n);
  else
    length = contraction(text, n, true);
  if (length)
    return length;
  const unsigned class = char_class(t, text, n, &length);
  const bool line = text[0] == '\n' || text[0] == '\r';
  if (class == LETTER)
    return class_run(t, text, 0, n, 1u << LETTER, n);
  if (class == DIGIT)
    return class_run(t, text, 0, n, 1u << DIGIT, digits);
  if (!line && char_class(t, text + length, n - length, &next) == LETTER &&
      next)
    return length + class_run(t, text, length, n, 1u << LETTER, n);
  const size_t blank = n > 1 && text[0] == ' ';
  if (char_class(t, text + blank, n - blank, &next) == OTHER) {
    size_t end = blank +
                 class_run(t, text, blank, n, 1u << OTHER | 1u << ACCENT, n);
    while (end < n && text[end] && strchr(cased ? "\r\n/" : "\r\n", text[end]))
      end++;
    return end;
  }
  size_t end = class_run(t, text, 0, n, 1u << WHITE, n);
  while (end && text[end - 1] != '\n' && text[end - 1] != '\r')
    end--;
  return end ? end : white_length(t, text, n);
}

/* As far as some token has each two neighbours beside each other. */
static size_t beside_length(const Published *t, const unsigned char *text,
                            size_t n) {
  uint32_t left, right;
  size_t at = char_at(text, n, &left);
  while (at < n) {
    const size_t length = char_at(text + at, n - at, &right);
    if (pairs_find(&t->beside, (int32_t)left, (int32_t)right) < 0)
      break;
    left = right;
    at += length;
  }
  return at;
}

/* The length of the first piece of a text of n >= 1 bytes. */
static size_t published_cut(const Tokenizer *k, const unsigned char *text,
                            size_t n) {
  const Published *t = k->published;
  switch (t->cut) {
  case CUT_GPT2:
  case CUT_DIGITS: return gpt2_length(t, text, n);
  case CUT_BESIDE: return beside_length(t, text, n);
  default: return llama3_length(t, text, n);
  }
}

/* ---- 14.2  The file, read ------------------------------------------------ */

static const char MADE_BY[] =
    "Try: another tokenizer, by hf tokenizer FOLDER --out FILE";

/* The size that the head of a file tells, 0 when a part is larger than
 * any can be. */
static size_t published_size(const unsigned char *bytes, size_t vocab,
                             size_t merges) {
  size_t part[4]; /* classes, forms, combining marks, bytes of spellings */
  for (int i = 0; i < 4; i++) {
    const size_t most = i < 3 ? CODE_BYTE / 16 : (size_t)TOKEN_LENGTH_MAX << 18;
    part[i] = (size_t)number_at(bytes + 4 * (HEAD_CLASSES + i), 4);
    if (part[i] > most)
      return 0;
  }
  return PUBLISHED_HEAD + 12 * part[0] + 16 * part[1] + 12 * part[2] +
         3 * vocab + part[3] + 16 * merges + TOKENIZER_TAIL;
}

/* n sorted ranges from a file, whose values are below `values`. */
static int ranges_read(Range **out, int n, const unsigned char *at,
                       unsigned values, const char *name, Error *e) {
  Range *r = *out = grab(n, sizeof *r, e);
  for (int i = 0; i < n && !e->status; i++, at += 12) {
    r[i] = (Range){.first = (uint32_t)number_at(at, 4),
                   .last = (uint32_t)number_at(at + 4, 4),
                   .value = (uint32_t)number_at(at + 8, 4)};
    if (r[i].first > r[i].last || r[i].last >= CODE_BYTE ||
        r[i].value >= values || (i && r[i].first <= r[i - 1].last))
      fail(e, 1,
           "%s: expected sorted ranges of characters, found %u to %u of class "
           "%u at place %d. %s",
           name, (unsigned)r[i].first, (unsigned)r[i].last,
           (unsigned)r[i].value, i, MADE_BY);
  }
  return e->status;
}

/* The canonical form of a code point, NULL when it is its own. */
static const Form *form_of(const Published *t, uint32_t code) {
  int low = 0, high = t->n_forms;
  while (low < high) {
    const int mid = (low + high) / 2;
    if (t->forms[mid].code < code)
      low = mid + 1;
    else
      high = mid;
  }
  return low < t->n_forms && t->forms[low].code == code ? &t->forms[low] : NULL;
}

/* The canonical forms of a file. A form's first code point may have a form
 * again, a few times. */
static int forms_read(Published *t, const unsigned char *at, const char *name,
                      Error *e) {
  t->forms = grab(t->n_forms, sizeof *t->forms, e);
  for (int i = 0; i < t->n_forms && !e->status; i++, at += 16)
    t->forms[i] = (Form){.code = (uint32_t)number_at(at, 4),
                         .first = (uint32_t)number_at(at + 4, 4),
                         .second = (uint32_t)number_at(at + 8, 4),
                         .joins = (uint32_t)number_at(at + 12, 4)};
  for (int i = 0; i < t->n_forms && !e->status; i++) {
    const Form *f = &t->forms[i], *deeper = f;
    int depth = 0;
    while (deeper && ++depth <= FORM_DEPTH)
      deeper = form_of(t, deeper->first);
    if (deeper || f->code >= CODE_BYTE || f->first >= CODE_BYTE ||
        f->second >= CODE_BYTE || f->joins > (f->second > 0) ||
        (i && f->code <= f[-1].code)) {
      fail(e, 1,
           "%s: expected sorted canonical forms, found U+%04X at place %d. %s",
           name, (unsigned)f->code, i, MADE_BY);
      break;
    }
    if (!f->joins)
      continue;
    const int64_t pair = pairs_number(&t->joins, (int32_t)f->first,
                                      (int32_t)f->second, e);
    if (pair >= 0)
      t->joins.at[pair].last = (uint32_t)i + 1;
  }
  return e->status;
}

/* The slot of a spelling: that of the token which is spelt so, or the empty
 * one for it. */
static size_t token_slot(const Tokenizer *k, const unsigned char *text,
                         size_t n) {
  const Published *t = k->published;
  size_t s = hash64(0, text, n) & (t->slots - 1), length;
  for (; t->slot[s]; s = (s + 1) & (t->slots - 1)) {
    const unsigned char *found = tokenizer_token(k, (int)t->slot[s] - 1,
                                                 &length);
    if (length == n && !memcmp(found, text, n))
      break;
  }
  return s;
}

/* The token of a text that is spelt so, -1 when there is none. */
static int32_t token_find(const Tokenizer *k, const unsigned char *text,
                          size_t n) {
  return (int32_t)k->published->slot[token_slot(k, text, n)] - 1;
}

/* Enters a mark or a run, spelt by n bytes, into its tree. Returns 1 + the
 * token that is there already, 0: none. */
static uint32_t mark_enter(Published *t, int id, const unsigned char *s,
                           size_t n, Error *e) {
  const int kind = t->kind[id];
  Pairs *tree = &t->marks[kind == KIND_RUN || kind == KIND_WORD];
  int64_t node = kind == KIND_WORD ? pairs_number(tree, 0, ' ', e) : -1;
  for (size_t i = 0; i < n && !e->status; i++) {
    if (kind != KIND_BOTH || s[i] != ' ') {
      node = pairs_number(tree, (int32_t)(node + 1), s[i], e);
      continue;
    }
    for (int b = 0; b < 3 && !e->status; b++)
      node = pairs_number(tree, (int32_t)(node + 1), (unsigned char)SIGN[b], e);
  }
  if (e->status)
    return 0;
  const uint32_t was = tree->at[node].last;
  tree->at[node].last = (uint32_t)id + 1;
  return was;
}

/* Notes the characters that a spelling of n bytes has beside each other. */
static void beside_enter(Published *t, const unsigned char *s, size_t n,
                         Error *e) {
  uint32_t left, right;
  for (size_t at = char_at(s, n, &left); at < n && !e->status; left = right) {
    at += char_at(s + at, n - at, &right);
    pairs_number(&t->beside, (int32_t)left, (int32_t)right, e);
  }
}

/* Enters token id, spelt by n >= 1 bytes, where text will be looked up: among
 * the spellings, the bytes, the marks; and the characters that it has beside
 * each other. */
static int token_enter(Tokenizer *k, int id, const char *name, Error *e) {
  Published *t = k->published;
  size_t n;
  const unsigned char *s = tokenizer_token(k, id, &n);
  const int kind = t->kind[id];
  const bool text = kind_text(kind);
  const bool byte = t->cut == CUT_BESIDE ? kind == KIND_BYTE : text;
  uint32_t was = 0; /* 1 + the token that is spelt so */
  if (kind == KIND_MARK || kind == KIND_RUN || kind >= KIND_BOTH)
    was = mark_enter(t, id, s, n, e);
  if (e->status)
    return e->status;
  if (text) {
    const size_t slot = token_slot(k, s, n);
    if (!was)
      was = t->slot[slot];
    t->slot[slot] = (uint32_t)id + 1;
    if (t->cut == CUT_BESIDE)
      beside_enter(t, s, n, e);
  }
  if (n == 1 && byte)
    t->byte[s[0]] = id;
  if (!was)
    return e->status;
  return fail(e, 1,
              "%s: expected tokens of different spelling, found %u and %d "
              "alike. %s",
              name, (unsigned)was - 1, id, MADE_BY);
}

/* The tokens of a file: V kinds and lengths from `at` on, then `bytes` bytes
 * of spellings. */
static int tokens_read(Tokenizer *k, const unsigned char *at, size_t bytes,
                       const char *name, Error *e) {
  Published *t = k->published;
  const int V = k->vocab;
  k->token = grab((idx)V + 1, sizeof *k->token, e);
  t->kind = grab(V, 1, e);
  for (t->slots = 2; t->slots < 2 * (size_t)V;)
    t->slots *= 2;
  t->slot = grab((idx)t->slots, sizeof *t->slot, e);
  if (e->status || bytes_add(&k->pool, at + 3 * (size_t)V, bytes, e))
    return e->status;
  for (int b = 0; b < 256; b++)
    t->byte[b] = -1;
  size_t used = 0;
  for (int id = 0; id < V && !e->status; id++, at += 3) {
    const size_t length = (size_t)number_at(at + 1, 2);
    t->kind[id] = at[0];
    if (at[0] >= KINDS_COUNT || length > TOKEN_LENGTH_MAX ||
        length > bytes - used || (at[0] != KIND_NAME && length < 1) ||
        (at[0] == KIND_BYTE && length > 1))
      return fail(e, 1,
                  "%s: expected token %d of 1 to %d bytes, found %zu of kind "
                  "%d. %s",
                  name, id, TOKEN_LENGTH_MAX, length, at[0], MADE_BY);
    used += length;
    k->token[id + 1].start = (uint32_t)used;
    token_enter(k, id, name, e);
  }
  if (!e->status && used != bytes)
    fail(e, 1, "%s: expected %zu bytes of spellings, found %zu. %s", name,
         bytes, used, MADE_BY);
  for (int b = 0; b < 256 && !e->status; b++) {
    /* such bytes are never in UTF-8 */
    const bool spare = b == 0xC0 || b == 0xC1 || b > 0xF4;
    if (t->byte[b] < 0 && !spare && (t->cut == CUT_BESIDE || isprint(b)))
      fail(e, 1,
           "%s: expected a token for every byte, found none for 0x%02X. %s",
           name, (unsigned)b, MADE_BY);
  }
  return e->status;
}

/* The merges of a file, n of them: two tokens of text, the one that both spell,
 * and a rank. */
static int merges_read(Tokenizer *k, const unsigned char *at, size_t n,
                       const char *name, Error *e) {
  Published *t = k->published;
  t->made = grab((idx)n, sizeof *t->made, e);
  for (size_t r = 0; r < n && !e->status; r++, at += 16) {
    size_t length[3];
    const unsigned char *s[3];
    bool good = true;
    uint64_t id[3];
    for (int i = 0; i < 3; i++) {
      id[i] = number_at(at + 4 * i, 4);
      good = good && id[i] < (uint64_t)k->vocab && kind_text(t->kind[id[i]]);
      if (good)
        s[i] = tokenizer_token(k, (int)id[i], &length[i]);
    }
    if (!good || length[0] + length[1] != length[2] ||
        memcmp(s[0], s[2], length[0]) ||
        memcmp(s[1], s[2] + length[0], length[1]))
      return fail(e, 1,
                  "%s: expected merge %zu to spell its two tokens, found %llu, "
                  "%llu and %llu. %s",
                  name, r, (unsigned long long)id[0], (unsigned long long)id[1],
                  (unsigned long long)id[2], MADE_BY);
    const int64_t number = pairs_number(&t->merges, (int32_t)id[0],
                                        (int32_t)id[1], e);
    if (number >= 0 && (size_t)number != r)
      return fail(e, 1,
                  "%s: expected merge %zu to be new, found the pair of merge "
                  "%zu. %s",
                  name, r, (size_t)number, MADE_BY);
    const uint64_t rank = number_at(at + 12, 4);
    if (rank != r && (!r || rank != (uint64_t)t->made[r - 1].rank))
      return fail(e, 1,
                  "%s: expected merge %zu of rank %zu or the one before, found "
                  "%llu. %s",
                  name, r, r, (unsigned long long)rank, MADE_BY);
    t->made[r] = (Merge){.id = (int32_t)id[2], .rank = (int32_t)rank};
  }
  return e->status;
}

static void scratch_free(Scratch *c) {
  if (!c)
    return;
  free(c->link);
  free(c->heap);
  bytes_free(&c->plain);
  ids_free(&c->codes);
  ids_free(&c->spare);
  free(c);
}

/* Frees what published_read took, also when it failed on the way. */
static void published_close(Tokenizer *k) {
  Published *t = k->published;
  if (!t)
    return;
  scratch_free(t->scratch);
  pairs_free(&t->merges);
  pairs_free(&t->marks[0]);
  pairs_free(&t->marks[1]);
  pairs_free(&t->beside);
  pairs_free(&t->joins);
  free(t->made);
  free(t->kind);
  free(t->slot);
  free(t->classes);
  free(t->combining);
  free(t->forms);
  free(t);
}

/* The head of a file, which must be as long as it tells. Nothing is believed
 * before it is checked. */
static int head_read(uint32_t head[HEAD_NUMBERS], const unsigned char *bytes,
                     size_t n, const char *name, Error *e) {
  if (n < PUBLISHED_HEAD + TOKENIZER_TAIL)
    return fail(e, 1, "%s: expected a head of %d bytes, found %zu bytes. %s",
                name, PUBLISHED_HEAD, n, MADE_BY);
  for (int i = 0; i < HEAD_NUMBERS; i++)
    head[i] = (uint32_t)number_at(bytes + 4 * i, 4);
  const uint32_t vocab = head[HEAD_VOCAB], merges = head[HEAD_MERGES];
  const uint32_t cut = head[HEAD_CUT], space = head[HEAD_SPACE];
  const uint32_t flags = head[HEAD_FLAGS];
  const uint32_t end = head[HEAD_END], bos = head[HEAD_BOS];
  if (vocab < 1 || vocab > PUBLISHED_VOCAB_MAX || merges > PUBLISHED_MERGES_MAX)
    return fail(e, 1,
                "%s: expected 1 to %d tokens and at most %d merges, found %u "
                "and %u. %s",
                name, PUBLISHED_VOCAB_MAX, PUBLISHED_MERGES_MAX,
                (unsigned)vocab, (unsigned)merges, MADE_BY);
  if (tokenizer_sealed(bytes, n, published_size(bytes, vocab, merges), name, e))
    return e->status;
  const bool begins = flags & FLAG_BEGINS;
  if (cut < CUT_GPT2 || cut >= CUTS_COUNT || space >= SPACES_COUNT ||
      flags >= 4 || end >= vocab ||
      (bos >= vocab && (bos != UINT32_MAX || begins)))
    return fail(e, 1,
                "%s: expected cuts, spaces, flags and ids that sink knows, "
                "found %u, %u, %u, %u and %u. %s",
                name, (unsigned)cut, (unsigned)space, (unsigned)flags,
                (unsigned)end, (unsigned)bos, MADE_BY);
  return 0;
}

/* The parts behind the head, one after another. */
static int parts_read(Tokenizer *k, const uint32_t *head,
                      const unsigned char *at, const char *name, Error *e) {
  Published *t = k->published;
  const unsigned classes = t->cut == CUT_O200K ? CLASSES_END : OTHER;
  ranges_read(&t->classes, t->n_classes, at, classes, name, e);
  at += 12 * (size_t)t->n_classes;
  if (!e->status)
    forms_read(t, at, name, e);
  at += 16 * (size_t)t->n_forms;
  if (!e->status)
    ranges_read(&t->combining, t->n_combining, at, 256, name, e);
  at += 12 * (size_t)t->n_combining;
  for (unsigned c = 0; c < 128; c++)
    if (!e->status)
      t->ascii[c] = (unsigned char)range_value(t->classes, t->n_classes, c,
                                               OTHER);
  /* the cuts take a space for white space, and would not go on */
  if (!e->status && t->cut != CUT_BESIDE && t->ascii[' '] != WHITE)
    fail(e, 1, "%s: expected a space to be white space, found another class. "
         "%s", name, MADE_BY);
  if (!e->status)
    tokens_read(k, at, head[HEAD_SPELLINGS], name, e);
  at += 3 * (size_t)k->vocab + head[HEAD_SPELLINGS];
  if (!e->status)
    merges_read(k, at, head[HEAD_MERGES], name, e);
  at += 16 * (size_t)head[HEAD_MERGES];
  k->hash = number_at(at, TOKENIZER_TAIL);
  return e->status;
}

/* A tokenizer of a file of version 2. */
static int published_read(Tokenizer *k, const unsigned char *bytes, size_t n,
                          const char *name, Error *e) {
  uint32_t head[HEAD_NUMBERS];
  if (head_read(head, bytes, n, name, e))
    return e->status;
  Published *t = k->published = grab(1, sizeof *t, e);
  if (!t)
    return e->status;
  *t = (Published){.cut = (int)head[HEAD_CUT],
                   .space = (int)head[HEAD_SPACE],
                   .whole = head[HEAD_FLAGS] & FLAG_WHOLE,
                   .begins = head[HEAD_FLAGS] & FLAG_BEGINS,
                   .n_classes = (int)head[HEAD_CLASSES],
                   .n_forms = (int)head[HEAD_FORMS],
                   .n_combining = (int)head[HEAD_COMBINING]};
  k->vocab = (int)head[HEAD_VOCAB];
  k->blank = t->space > SPACE_NONE;
  k->end = (int)head[HEAD_END];
  k->fix = -1;
  k->bos = head[HEAD_BOS] < head[HEAD_VOCAB] ? (int)head[HEAD_BOS] : -1;
  return parts_read(k, head, bytes + PUBLISHED_HEAD, name, e);
}

/* ---- 14.3  Normalising --------------------------------------------------- */

/* A code point in UTF-8, a stray byte as itself. */
static int utf8_add(Bytes *out, uint32_t code, Error *e) {
  char b[4] = {(char)code};
  return bytes_add(out, b, code < CODE_BYTE ? utf8_put(b, code) : 1, e);
}

static unsigned combining_class(const Published *t, int32_t code) {
  return range_value(t->combining, t->n_combining, (uint32_t)code, 0);
}

/* Appends a code point's canonical decomposition; a Hangul syllable's parts
 * are arithmetic. */
static int decompose(const Published *t, uint32_t code, Ids *out, Error *e) {
  int32_t part = (int32_t)code;
  const Form *f = form_of(t, code);
  if (code - HANGUL < HANGUL_COUNT) {
    const int32_t s = (int32_t)code - HANGUL;
    const int32_t parts[3] = {0x1100 + s / 588, 0x1161 + s % 588 / 28,
                              0x11A7 + s % 28};
    return ids_add(out, parts, s % 28 ? 3 : 2, e);
  }
  if (!f)
    return ids_add(out, &part, 1, e);
  part = (int32_t)f->second;
  if (!decompose(t, f->first, out, e) && part)
    ids_add(out, &part, 1, e);
  return e->status;
}

/* What two code points compose to, -1 when nothing. */
static int32_t composed(const Published *t, int32_t left, int32_t right) {
  const int32_t l = left - 0x1100, v = right - 0x1161;
  const int32_t s = left - HANGUL, tail = right - 0x11A7;
  if (l >= 0 && l < 19 && v >= 0 && v < 21)
    return HANGUL + (l * 21 + v) * 28;
  if (s >= 0 && s < HANGUL_COUNT && s % 28 == 0 && tail > 0 && tail < 28)
    return left + tail;
  const int64_t pair = pairs_find(&t->joins, left, right);
  return pair < 0 ? -1 : (int32_t)t->forms[t->joins.at[pair].last - 1].code;
}

/* Puts a run of n marks in the order of their classes; equal ones stay as
 * they stood. */
static int marks_order(const Published *t, int32_t *run, size_t n, Ids *spare,
                       Error *e) {
  size_t place[257] = {0};
  spare->size = 0;
  if (ids_add(spare, run, n, e))
    return e->status;
  for (size_t i = 0; i < n; i++)
    place[combining_class(t, run[i]) + 1]++;
  for (int k = 0; k < 256; k++)
    place[k + 1] += place[k];
  for (size_t i = 0; i < n; i++)
    run[place[combining_class(t, spare->at[i])]++] = spare->at[i];
  return 0;
}

/* Form NFC of decomposed code points, in place: marks into their order, then
 * each composes with the last starter (class 0) unless one of its class or
 * later, or a starter, is between (Annex 15). */
static int compose(Scratch *c, Error *e) {
  const Published *t = c->tokenizer->published;
  int32_t *codes = c->codes.at;
  size_t n = c->codes.size, kept = 0, starter = SIZE_MAX;
  for (size_t from = 0, to; from < n; from = to + 1) {
    to = from;
    while (to < n && combining_class(t, codes[to]))
      to++;
    if (to > from + 1 && marks_order(t, codes + from, to - from, &c->spare, e))
      return e->status;
  }
  unsigned last = 0;
  for (size_t i = 0; i < n; i++) {
    const unsigned class = combining_class(t, codes[i]);
    const bool near = starter != SIZE_MAX && (!last || last < class);
    const int32_t made = near ? composed(t, codes[starter], codes[i]) : -1;
    if (made >= 0) {
      codes[starter] = made;
      continue;
    }
    if (!class)
      starter = kept;
    last = class;
    codes[kept++] = codes[i];
  }
  c->codes.size = kept;
  return 0;
}

/* Appends n bytes of text to c->plain in form NFC. Nothing below U+0300
 * changes, unless one from there on follows: a stretch is one character and all
 * of those after it. */
static int nfc_add(Scratch *c, const unsigned char *text, size_t n, Error *e) {
  for (size_t at = 0; at < n && !e->status;) {
    const size_t from = at;
    uint32_t code;
    /* 0xCC begins U+0300; the character before it goes along */
    while (at < n && text[at] < 0xCC)
      at++;
    if (at < n && at > from)
      do
        at--;
      while (at > from && (text[at] & 0xC0) == 0x80);
    if (bytes_add(&c->plain, text + from, at - from, e) || at == n)
      break;
    c->codes.size = 0;
    do {
      at += char_at(text + at, n - at, &code);
      decompose(c->tokenizer->published, code, &c->codes, e);
    } while (at < n && text[at] >= 0xCC && !e->status);
    if (!e->status)
      compose(c, e);
    for (size_t i = 0; i < c->codes.size && !e->status; i++)
      utf8_add(&c->plain, (uint32_t)c->codes.at[i], e);
  }
  return e->status;
}

/* Fills c->plain with a blank, and n bytes of text as step 2 above
 * makes them. */
static int normalise(Scratch *c, const unsigned char *text, size_t n,
                     Error *e) {
  const Published *t = c->tokenizer->published;
  c->plain.size = 0;
  if (bytes_add(&c->plain, " ", 1, e))
    return e->status;
  if (t->n_forms)
    nfc_add(c, text, n, e);
  else
    bytes_add(&c->plain, text, n, e);
  if (e->status || t->space == SPACE_PLAIN)
    return e->status;
  unsigned char *s = c->plain.at, *end = s + c->plain.size, *to = s;
  while (s < end) {
    if (end - s >= 3 && !memcmp(s, SIGN, 3)) {
      *to++ = ' ';
      s += 3;
    } else
      *to++ = *s++;
  }
  c->plain.size = (size_t)(to - c->plain.at);
  return 0;
}

/* ---- 14.4  Encoding ------------------------------------------------------ */

/* Room for a piece of n bytes. */
static int scratch_room(Scratch *c, size_t n, Error *e) {
  if (n <= c->room)
    return 0;
  if (n > INT32_MAX)
    return fail(e, 1,
                "text: expected words of at most %ld bytes, found %zu. Try: a "
                "text with spaces",
                (long)INT32_MAX, n);
  size_t room = c->room ? c->room : PIECE_MAX;
  while (room < n)
    room *= 2;
  free(c->link);
  free(c->heap);
  c->link = grab((idx)room, sizeof *c->link, e);
  c->heap = grab((idx)room, 2 * sizeof *c->heap, e);
  c->room = e->status ? 0 : room;
  return e->status;
}

/* The heap's keys are rank << 32 | place, so that the lowest is what comes
 * next. A merge takes its own key out and puts in two at most: 2 room keys
 * are enough. */
static void heap_add(Scratch *c, uint64_t key) {
  size_t at = c->joins++;
  for (; at && c->heap[(at - 1) / 2] > key; at = (at - 1) / 2)
    c->heap[at] = c->heap[(at - 1) / 2];
  c->heap[at] = key;
}

/* Takes the lowest key out. */
static uint64_t heap_take(Scratch *c) {
  const uint64_t least = c->heap[0], key = c->heap[--c->joins];
  size_t at = 0;
  for (size_t next; (next = 2 * at + 1) < c->joins; at = next) {
    if (next + 1 < c->joins && c->heap[next + 1] < c->heap[next])
      next++;
    if (c->heap[next] >= key)
      break;
    c->heap[at] = c->heap[next];
  }
  c->heap[at] = key;
  return least;
}

/* Notes whether symbol i and the next one are a merge. */
static void link_join(Scratch *c, int32_t i) {
  const Tokenizer *k = c->tokenizer;
  Link *l = &c->link[i];
  l->join = -1;
  if (l->after >= 0)
    l->join = (int32_t)pairs_find(&k->published->merges, l->id,
                                  c->link[l->after].id);
  if (l->join >= 0)
    heap_add(c, (uint64_t)k->published->made[l->join].rank << 32 | (uint32_t)i);
}

/* A piece of n >= 1 bytes as symbols: its bytes, or characters; returns how
 * many. A byte without a token is left out, as transformers does; SmolLM's has
 * none of 21 control and rare lead bytes. */
static int32_t piece_symbols(Scratch *c, const unsigned char *piece, size_t n) {
  const Published *t = c->tokenizer->published;
  int32_t count = 0;
  for (size_t at = 0, length; at < n; at += length) {
    int32_t id = -1;
    uint32_t code;
    length = 1;
    if (t->cut == CUT_BESIDE) {
      length = char_at(piece + at, n - at, &code);
      id = token_find(c->tokenizer, piece + at, length);
    }
    const size_t symbols = id < 0 ? length : 1;
    for (size_t i = 0; i < symbols; i++) {
      const int32_t symbol = id < 0 ? t->byte[piece[at + i]] : id;
      if (symbol < 0)
        continue;
      c->link[count] =
          (Link){.id = symbol, .before = count - 1, .after = count + 1};
      count++;
    }
  }
  if (count)
    c->link[count - 1].after = -1;
  return count;
}

/* Appends the ids of a piece: BPE in n log n steps. A key that no longer holds
 * is passed over. */
static int published_piece(Scratch *c, const unsigned char *piece, size_t n,
                           Ids *out, Error *e) {
  const Published *t = c->tokenizer->published;
  const int32_t whole = t->whole ? token_find(c->tokenizer, piece, n) : -1;
  if (whole >= 0)
    return ids_add(out, &whole, 1, e);
  if (scratch_room(c, n, e))
    return e->status;
  const int32_t count = piece_symbols(c, piece, n);
  c->joins = 0;
  for (int32_t i = 0; i < count; i++)
    link_join(c, i);
  while (c->joins) {
    const uint64_t key = heap_take(c);
    const int32_t i = (int32_t)(key & UINT32_MAX);
    Link *l = &c->link[i];
    if (l->join < 0 || (uint64_t)t->made[l->join].rank != key >> 32)
      continue;
    Link *gone = &c->link[l->after];
    l->id = t->made[l->join].id;
    l->after = gone->after;
    gone->join = -1;
    if (l->after >= 0)
      c->link[l->after].before = i;
    link_join(c, i);
    if (l->before >= 0)
      link_join(c, l->before);
  }
  for (int32_t i = count ? 0 : -1; i >= 0 && !e->status; i = c->link[i].after)
    ids_add(out, &c->link[i].id, 1, e);
  return e->status;
}

/* Looks for the first mark of a tree in n bytes: of those that begin there, the
 * longest. Returns its length, 0 when there is none; *before is how many bytes
 * come before it, *id its token. */
static size_t mark_find(const Pairs *tree, const unsigned char *text, size_t n,
                        size_t *before, int32_t *id) {
  size_t best = 0;
  *before = n;
  for (size_t from = 0; tree->size && from < n && !best; from++) {
    int64_t node = -1;
    for (size_t at = from; at < n; at++) {
      node = pairs_find(tree, (int32_t)(node + 1), text[at]);
      if (node < 0)
        break;
      if (!tree->at[node].last)
        continue;
      best = at + 1 - from;
      *before = from;
      *id = (int32_t)tree->at[node].last - 1;
    }
  }
  return best;
}

/* Appends the ids of all pieces of a text. */
static int pieces_encode(Scratch *c, const unsigned char *text, size_t n,
                         Ids *out, Error *e) {
  for (size_t at = 0, length; at < n && !e->status; at += length) {
    length = published_cut(c->tokenizer, text + at, n - at);
    published_piece(c, text + at, length, out, e);
  }
  return e->status;
}

/* Steps 2 to 5 for a stretch of n >= 1 bytes between marks; `first`: it begins
 * the text. */
static int stretch_encode(Scratch *c, const unsigned char *text, size_t n,
                          bool first, Ids *out, Error *e) {
  const Published *t = c->tokenizer->published;
  if (t->space == SPACE_PLAIN && !t->n_forms && !t->marks[1].size)
    return pieces_encode(c, text, n, out, e);
  if (normalise(c, text, n, e))
    return e->status;
  /* SPACE_EACH takes the blank before the text, too */
  size_t at = t->space == SPACE_EACH ? 0 : 1;
  for (size_t length, before; at < c->plain.size && !e->status;
       at += before + length) {
    unsigned char *run = c->plain.at + at;
    int32_t id;
    length = mark_find(&t->marks[1], run, c->plain.size - at, &before, &id);
    /* what stands before has been encoded: its place may take a blank */
    const bool blank = before && run[0] != ' ' &&
                       (t->space == SPACE_ALWAYS ||
                        (t->space == SPACE_FIRST && first && at == 1));
    if (blank)
      run[-1] = ' ';
    if (!pieces_encode(c, run - blank, before + blank, out, e) && length)
      ids_add(out, &id, 1, e);
  }
  return e->status;
}

/* Where n bytes of text end without the white space at their end. */
static size_t white_before(const Published *t, const unsigned char *text,
                           size_t from, size_t n) {
  size_t end = from, length;
  for (; from < n; from += length)
    if (char_class(t, text + from, n - from, &length) != WHITE)
      end = from + length;
  return end;
}

/* Appends the ids of a whole text to out. A mark may take the white space at
 * its sides. */
static int published_encode(const Tokenizer *k, const unsigned char *text,
                            size_t n, Ids *out, Error *e) {
  Published *t = k->published;
  if (!t->scratch && !(t->scratch = grab(1, sizeof(Scratch), e)))
    return e->status;
  Scratch *c = t->scratch;
  c->tokenizer = k;
  int sides = 0;
  for (size_t at = 0, length, before; at < n && !e->status;
       at += before + length) {
    int32_t id;
    length = mark_find(&t->marks[0], text + at, n - at, &before, &id);
    size_t from = at, end = at + before;
    if (sides & 1)
      from += class_run(t, text, at, end, 1u << WHITE, before);
    sides = length && t->kind[id] > KIND_BOTH ? t->kind[id] - KIND_BOTH : 0;
    if (sides & 2)
      end = white_before(t, text, from, end);
    if (end > from)
      stretch_encode(c, text + from, end - from, from == 0, out, e);
    if (length)
      ids_add(out, &id, 1, e);
  }
  return e->status;
}

/* A tokenizer's file, of either version. */
static int words_read(const unsigned char *bytes, size_t n, const char *name,
                      Tokenizer *k, Error *e) {
  const bool own = n < TOKENIZER_HEAD || memcmp(bytes, TOKENIZER_MAGIC, 8) ||
                   number_at(bytes + 8, 4) != 2;
  if (own)
    return tokenizer_read(bytes, n, name, k, e);
  *k = (Tokenizer){.encode = published_encode, .close = published_close};
  if (published_read(k, bytes, n, name, e))
    tokenizer_free(k);
  return e->status;
}

/* -----------------------------------------------------------------------------
 * 15  Tokenizers, read
 *
 * What a folder or a file holds, in the order in which it is looked for:
 *
 *   tokenizer.json               Hugging Face's: a BPE of bytes or of
 *                                SentencePiece's characters
 *   tokenizer.model              SentencePiece's own, in protocol buffers:
 *                                LLaMA-2, Mistral
 *   vocab.json, merges.txt       GPT-2's algorithm: OPT has no other
 *   any .bin                     llama2.c's: pieces and scores
 *
 * becomes the file of 14; a tokenizer.json of `hf export` (9) that which sink
 * trained. Whatever would change the ids of a text and has no counterpart there
 * is refused by its name. A folder's tokenizer_config.json says which tokens
 * begin and end a text; without a tokenizer.json it also says of which class
 * the tokenizer is, and whether a text begins with bos. A tokenizer.json is read
 * as transformers' TokenizersBackend reads it, whatever class the folder names:
 * add_bos_token and add_eos_token beside it change nothing.
 * AutoTokenizer of transformers 5.24 makes some classes (LlamaTokenizer,
 * GemmaTokenizer, GPT2Tokenizer, Qwen2Tokenizer) anew of the vocabulary and the
 * merges alone, so that its ids may differ. A token of which two files differ
 * is refused by name.
 *
 * SentencePiece has scores where the others have merges: of all neighbours that
 * spell a piece, it joins those of the highest score. So every way to cut a
 * piece in two that are pieces is a merge, and its rank is the score's. */

/* SentencePiece's types of pieces. */
enum {
  PIECE_NORMAL = 1,
  PIECE_UNKNOWN,
  PIECE_CONTROL,
  PIECE_USER,
  PIECE_UNUSED,
  PIECE_BYTE
};

/* Does a text begin with bos? 0: no file has told yet. */
enum { BEGINS_YES = 1, BEGINS_NO = 2 };

typedef struct Token {
  uint32_t at, size;           /* its published spelling, in names */
  uint32_t bytes;              /* and sink's, in spelt behind those before it */
  float score;
  unsigned char kind;          /* KIND_*; KINDS_COUNT: no token has this id */
  bool named;                  /* a key alone makes it an added token */
  bool plain;                  /* a key has named it as a string */
  bool told;                   /* what lies beside the vocabulary has it */
  bool late;                   /* a mark, sought where the others left text */
} Token;

/* Tokens left and right make one token. */
typedef struct Join {
  int32_t left, right, made;
  float score;
} Join;

/* A tokenizer on its way from one format to the other. */
typedef struct Making {
  const char *name;            /* the file, for errors */
  const Json *config;          /* tokenizer_config.json; empty: none */
  const Json *map, *more;      /* special_tokens_map.json, added_tokens.json */
  Token *entry;                /* [room] by id */
  int vocab, room;
  int most;                    /* its model has no row from this id on */
  int words;                   /* tokens of the vocabulary */
  int last;                    /* the last added token's id, or less */
  int beyond;                  /* the last id that has no row, or 0 */
  Bytes names, spelt;
  Spelling *sorted;            /* [n_sorted] spellings, after names_sort */
  int n_sorted;
  Bytes join;                  /* Join [joins] */
  size_t joins;
  int cut, space, begins;      /* CUT_*, SPACE_*, BEGINS_* */
  int32_t end, bos;            /* -1: not told */
  bool whole;                  /* a piece that is a token needs no merges */
  bool nfc;                    /* text is brought into form NFC */
  bool scored;                 /* merges come of scores */
  bool json;                   /* of a tokenizer.json: its processor decides */
  bool blank;                  /* a space goes before a run, too */
  /* some mark takes white space behind it (1), before it (2), or before it and
   * is white space itself (4) */
  int strips;
} Making;

static void making_free(Making *m) {
  free(m->entry);
  free(m->sorted);
  bytes_free(&m->join);
  bytes_free(&m->names);
  bytes_free(&m->spelt);
  *m = (Making){0};
}

/* Refuses a tokenizer by what it has. */
static int refuse(const Making *m, const char *what, Error *e) {
  return fail(e, 1,
              "%s: expected a tokenizer that sink supports, found %s. Try: hf "
              "eval --ids FILE, with ids made elsewhere",
              m->name, what);
}

/* How many bytes of n a message shows: `most` of them at most. */
static int cut_to(size_t n, int most) {
  return n < (size_t)most ? (int)n : most;
}

/* Gives token id its published spelling; an id that has one keeps it only when
 * it is the same. */
static int entry_add(Making *m, uint64_t id, const void *text, size_t n,
                     unsigned char kind, Error *e) {
  if (id >= (uint64_t)m->most || n > TOKEN_LENGTH_MAX)
    return fail(e, 1,
                "%s: expected ids below %d of at most %d bytes, found %llu of "
                "%zu. Try: hf eval --ids FILE, with ids made elsewhere",
                m->name, m->most, TOKEN_LENGTH_MAX, (unsigned long long)id, n);
  if ((int)id >= m->room) {
    int room = m->room ? m->room : 1024;
    while (room <= (int)id)
      room *= 2;
    Token *more = realloc(m->entry, (size_t)room * sizeof *more);
    if (!more)
      return fail(e, 1,
                  "%s: out of memory for %d tokens. Try: a larger machine",
                  m->name, room);
    m->entry = more;
    while (m->room < room)
      m->entry[m->room++] = (Token){.kind = KINDS_COUNT};
  }
  Token *x = &m->entry[id];
  if (x->kind == KINDS_COUNT) {
    *x = (Token){.at = (uint32_t)m->names.size, .size = (uint32_t)n};
    bytes_add(&m->names, text, n, e);
  } else if (x->size != n || memcmp(m->names.at + x->at, text, n))
    return fail(e, 1,
                "%s: expected one token of id %llu, found \"%.*s\" and "
                "\"%.*s\". Try: another copy of it",
                m->name, (unsigned long long)id, cut_to(x->size, 60),
                (const char *)m->names.at + x->at, cut_to(n, 60),
                (const char *)text);
  if ((int)id >= m->vocab)
    m->vocab = (int)id + 1;
  x->kind = kind;
  return e->status;
}

/* Makes published spellings findable, added tokens' too; each may
 * stand once. */
static int names_sort(Making *m, Error *e) {
  free(m->sorted);
  m->sorted = grab(m->vocab, sizeof *m->sorted, e);
  m->n_sorted = 0;
  for (int id = 0; id < m->vocab && !e->status; id++) {
    const Token *x = &m->entry[id];
    if (x->kind != KINDS_COUNT)
      m->sorted[m->n_sorted++] = (Spelling){m->names.at + x->at, x->size, id};
  }
  if (e->status)
    return e->status;
  const Spelling *two = spelt_twice(m->sorted, (size_t)m->n_sorted);
  if (!two)
    return 0;
  return fail(e, 1,
              "%s: expected tokens of different spelling, found %d and %d "
              "alike. Try: another copy of it",
              m->name, two[0].id, two[1].id);
}

/* The id of a published spelling, -1: none. */
static int32_t name_find(const Making *m, const void *text, size_t n) {
  const Spelling key = {text, n, 0};
  if (!m->n_sorted)
    return -1;
  const Spelling *s = bsearch(&key, m->sorted, (size_t)m->n_sorted, sizeof key,
                              by_spelling);
  return s ? s->id : -1;
}

/* A switch of a part, with its value where the part does not say. */
static bool json_true(const Json *j, const JsonValue *v, const char *key,
                      bool otherwise) {
  const JsonValue *x = json_get(j, v, key);
  return x ? x->kind == JSON_TRUE : otherwise;
}

/* The string of a value, "" for anything else. */
static const char *json_text(const Json *j, const JsonValue *v) {
  return json_kind(v, JSON_STRING) ? j->text + v->at : "";
}

/* ---- 15.1  Added tokens -----------------------------------------------------
 *
 * Tokens beside the vocabulary's, and tokens of it that are taken out of a
 * text, are named by the list of tokenizer.json and, behind it, by what lies
 * beside it: added_tokens_decoder, the names of special tokens and lists of
 * further ones. transformers gives a token that the vocabulary lacks the next
 * id, whatever id its file tells; here both have to agree. */

static int next_id(const Making *m) {
  return m->last >= m->words ? m->last + 1 : m->words;
}

/* Refuses an added token of j by its name: what its ids need, and what
 * is there. */
static int token_refuse(const Json *j, const JsonValue *content,
                        const char *expected, const char *found, Error *e) {
  return fail(e, 1,
              "%s: expected the added token \"%.60s\" %s, found %s. Try: hf "
              "eval --ids FILE, with ids made elsewhere",
              j->name, json_text(j, content), expected, found);
}

/* The same where two places differ: another value in one of them mends it. */
static int token_differs(const Json *j, const JsonValue *content,
                         const char *key, const char *expected,
                         const char *where, const char *found, Error *e) {
  return fail(e, 1,
              "%s: expected the added token \"%.60s\" with %s %s, %s, found "
              "%s. Try: %s in a copy of the file, or hf eval --ids FILE with "
              "ids made elsewhere",
              j->name, json_text(j, content), key, expected, where, found,
              expected);
}

/* Its id, where transformers gives it another than its file says. */
static int id_differs(const Json *j, const JsonValue *content, int given,
                      const char *where, uint64_t told, Error *e) {
  char expected[24], found[24];
  snprintf(expected, sizeof expected, "%d", given);
  snprintf(found, sizeof found, "%llu", (unsigned long long)told);
  return token_differs(j, content, "id", expected, where, found, e);
}

/* A token that a key names, as a string or as an object with its content;
 * NULL: none. */
static const JsonValue *token_content(const Json *j, const JsonValue *x) {
  if (json_kind(x, JSON_OBJECT))
    x = json_get(j, x, "content");
  return json_kind(x, JSON_STRING) && x->size ? x : NULL;
}

/* Special by their names: to transformers they are marks, text or not. */
static const char *const NAMED[] = {
  "bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token",
  "mask_token"};
enum { NAMED_COUNT = sizeof NAMED / sizeof *NAMED };

/* Where such a name stands: special_tokens_map.json, which is read where no
 * added_tokens_decoder is, comes before tokenizer_config.json. */
static const Json *named_in(const Making *m, const char *key) {
  return json_find(m->map, m->map->at, key) ? m->map : m->config;
}

/* The list of further special tokens, by its newer name or its older one. */
static const JsonValue *extra_list(const Json *j) {
  const JsonValue *list = json_get(j, j->at, "extra_special_tokens");
  if (list && list->size)
    return list;
  return json_get(j, j->at, "additional_special_tokens");
}

/* Is this spelling that of a token, x? An object of tokenizer_config.json is
 * none yet where the library asks. */
static bool token_spells(const Making *m, const Json *j, const JsonValue *x,
                         const char *text) {
  return json_is(j, j == m->map ? token_content(j, x) : x, text);
}

/* Is this spelling in a list of tokens? */
static bool list_has(const Making *m, const Json *j, const JsonValue *list,
                     const char *text) {
  if (!json_kind(list, JSON_ARRAY))
    return false;
  for (const JsonValue *x = list + 1; x < j->at + list->next;
       x = j->at + x->next)
    if (token_spells(m, j, x, text))
      return true;
  return false;
}

/* Is this spelling named as a special token? A token of added_tokens.json that
 * is not so named is normalized. */
static bool special_named(const Making *m, const char *text) {
  for (int i = 0; i < NAMED_COUNT; i++) {
    const Json *j = named_in(m, NAMED[i]);
    if (token_spells(m, j, json_get(j, j->at, NAMED[i]), text))
      return true;
  }
  const JsonValue *more = json_get(m->map, m->map->at, "extra_special_tokens");
  return list_has(m, m->config, extra_list(m->config), text) ||
         list_has(m, m->map, more, text);
}

/* Is an added token taken out after the normalizer? x as in added_one. */
static bool added_normalized(const Making *m, const Json *j, const JsonValue *x,
                             const char *text) {
  if (!x)
    return !special_named(m, text);
  const bool special = json_true(j, x, "special", false);
  return json_kind(x, JSON_OBJECT) && json_true(j, x, "normalized", !special);
}

/* Refuses an added token that does not spell what it stands for: a run that the
 * normalizer changes, or text in letters of GPT-2's alphabet. */
static int added_spelling(const Making *m, const Json *j,
                          const JsonValue *content, bool run, bool text,
                          Error *e) {
  const bool spaces = m->space != SPACE_PLAIN;
  for (const char *c = json_text(j, content); *c; c++) {
    const bool far = (unsigned char)*c >= 0x80;
    const bool changed = (far && m->nfc) || (spaces && (far || *c == ' '));
    if (run && changed)
      return token_refuse(j, content, "to pass the normalizer as it is",
                          "that it is changed", e);
    if (text && far && m->cut != CUT_BESIDE)
      return token_refuse(j, content, "to spell the same in the vocabulary",
                          "other text", e);
  }
  return 0;
}

/* The KIND_* of an added token. sides: 1 it takes the white space behind it, 2
 * before it. */
static int added_kind(const Making *m, bool run, bool text, bool both,
                      int sides) {
  if (run)
    return text && m->blank ? KIND_WORD : KIND_RUN;
  if (both)
    return KIND_BOTH;
  return sides ? KIND_BOTH + sides : KIND_MARK;
}

/* One added token, x: its flags; or a string, which is special; or NULL, of
 * added_tokens.json. run: it is taken out of the text after the normalizer;
 * else it is a mark, taken out as it is. text: merges may give it as well. */
static int added_one(Making *m, const Json *j, const JsonValue *x,
                     const JsonValue *content, uint64_t id, Error *e) {
  static const char *const SAID[] = {"false", "true"};
  const char *s = json_text(j, content);
  const bool object = json_kind(x, JSON_OBJECT);
  bool run = added_normalized(m, j, x, s);
  /* a tokenizer.model's class has no normalizer */
  const bool late = run && m->scored;
  run = run && !late;
  const int sides = json_true(j, x, "rstrip", false) +
                    2 * json_true(j, x, "lstrip", false);
  const bool fresh = id >= (uint64_t)m->vocab ||
                     m->entry[id].kind == KINDS_COUNT;
  const int was = fresh ? KIND_NAME : m->entry[id].kind;
  if (fresh && id != (uint64_t)next_id(m))
    return id_differs(j, content, next_id(m), "the next free one", id, e);
  if ((int)id > m->last)
    m->last = (int)id;
  /* its model has no row for it: Gemma 3 */
  if (id >= (uint64_t)m->most && m->most < PUBLISHED_VOCAB_MAX) {
    m->beyond = (int)id > m->beyond ? (int)id : m->beyond;
    return 0;
  }
  if (was == KIND_BYTE)
    return token_refuse(j, content, "to be none of a byte", "one", e);
  if (was != KIND_TEXT && was != KIND_NAME &&
      run != (was == KIND_RUN || was == KIND_WORD)) {
    if (m->json)
      return token_differs(j, content, "normalized", SAID[!run],
                           "as where it was added before", SAID[run], e);
    run = !run;
  }
  const bool text = kind_text(was);
  const bool both = text && !run &&
                    ((x && !object && m->json) ||
                     (m->cut == CUT_BESIDE && strstr(s, SIGN)) ||
                     (m->nfc && strpbrk(s, "K;`")));
  if (json_true(j, x, "single_word", false))
    return token_refuse(j, content, "without single_word", "it", e);
  if (sides && run)
    return token_refuse(j, content,
                        "with lstrip or rstrip not to be normalized",
                        "that it is", e);
  if (sides && both)
    return token_refuse(j, content, "with lstrip or rstrip to be no text",
                        "that it is", e);
  m->strips |= sides;
  if (sides & 2 && !s[strspn(s, " \t\n\v\f\r")])
    m->strips |= 4;
  /* the library drops white space that another mark has taken */
  if ((m->strips & 5) == 5)
    return refuse(m, "white space as a token with lstrip, beside a token with "
                  "rstrip", e);
  if (added_spelling(m, j, content, run, text, e))
    return e->status;
  const int kind = added_kind(m, run, text, both, sides);
  if (!entry_add(m, id, s, content->size, (unsigned char)kind, e))
    m->entry[id].late = late;
  return e->status;
}

/* Is it unsure that SentencePiece's own token is a mark? Its bos and eos are,
 * unless a list of further special tokens takes the place of that of
 * transformers; its unknown piece, the first, is one by its key alone. */
static bool own_unsure(const Making *m, int id) {
  const Json *c = m->config;
  return m->scored && id < m->words &&
         (id == 0 || json_find(c, c->at, "extra_special_tokens") ||
          json_find(c, c->at, "additional_special_tokens") ||
          json_find(m->map, m->map->at, "extra_special_tokens"));
}

/* Adds it, unless it has been, under the next id. */
static int added_named(Making *m, const Json *j, const JsonValue *x, Error *e) {
  const JsonValue *content = token_content(j, x);
  if (!content || e->status)
    return e->status;
  const int32_t found = name_find(m, j->text + content->at, content->size);
  const int id = found >= 0 ? found : next_id(m);
  const int kind = found >= 0 ? m->entry[id].kind : KIND_NAME;
  if (found >= 0 && kind != KIND_TEXT && kind != KIND_BYTE &&
      !m->entry[id].named && (m->entry[id].told || !own_unsure(m, id)))
    return 0;
  /* the library adds a string once, and an object behind it */
  const bool plain = x->kind == JSON_STRING;
  if (found >= 0 && plain && m->entry[id].plain)
    return 0;
  if (found >= 0)
    m->entry[id].told = true;
  if (added_one(m, j, x, content, (uint64_t)id, e))
    return e->status;
  if (id < m->vocab) {
    m->entry[id].named = true;
    m->entry[id].plain = m->entry[id].plain || plain;
  }
  return found >= 0 ? 0 : names_sort(m, e);
}

/* A token to which a file gives an id; x as in added_one. */
typedef struct Numbered {
  uint64_t id;
  const JsonValue *x, *content;
} Numbered;

static int by_id(const void *a, const void *b) {
  const Numbered *x = a, *y = b;
  return (x->id > y->id) - (x->id < y->id);
}

/* Adds the tokens of a file that gives them ids, the lowest first as
 * transformers does: of added_tokens_decoder, from ids to tokens, or
 * added_tokens.json, from spellings to ids. The latter has no flags, so that
 * those of a token that is there already stay. */
static int added_numbered(Making *m, const Json *j, const JsonValue *pairs,
                          bool flags, Error *e) {
  if (!json_kind(pairs, JSON_OBJECT))
    return 0;
  Numbered *all = grab(pairs->size, sizeof *all, e);
  size_t n = 0;
  for (const JsonValue *key = pairs + 1;
       key < j->at + pairs->next && !e->status; key = j->at + key[1].next) {
    Numbered *x = &all[n++];
    *x = (Numbered){0, NULL, key->size ? key : NULL};
    if (flags)
      *x = (Numbered){strtoull(json_text(j, key), NULL, 10), key + 1,
                      token_content(j, key + 1)};
    if (x->content && !flags && !json_count(j, key + 1, &x->id))
      token_refuse(j, x->content, "with its id", "no number", e);
    if (!x->content)
      n--;
  }
  if (!e->status && n)
    qsort(all, n, sizeof *all, by_id);
  for (const Numbered *x = all; !e->status && x < all + n; x++) {
    const int32_t found = name_find(m, j->text + x->content->at,
                                    x->content->size);
    /* tokenizer.json has named it, and it has been left out */
    if (found < 0 && x->id >= (uint64_t)m->most &&
        x->id <= (uint64_t)m->beyond)
      continue;
    const int kind = found >= 0 ? m->entry[found].kind : KIND_TEXT;
    const int id = found >= 0 ? found : next_id(m);
    if (found >= 0)
      m->entry[id].told = true;
    const char *where = found >= 0 ? "the vocabulary's" : "the next free one";
    if (x->id != (uint64_t)id)
      id_differs(j, x->content, id, where, x->id, e);
    else if (flags || kind == KIND_TEXT || kind == KIND_BYTE)
      added_one(m, j, x->x, x->content, x->id, e);
    if (found < 0 && !e->status)
      names_sort(m, e);
  }
  free(all);
  return e->status;
}

/* The id of the token that a key names, -1: none. */
static int32_t named_id(const Making *m, const char *key) {
  const Json *j = named_in(m, key);
  const JsonValue *v = token_content(j, json_get(j, j->at, key));
  return v ? name_find(m, j->text + v->at, v->size) : -1;
}

/* The tokens of a list, or of an object's values. */
static void added_list(Making *m, const Json *j, const JsonValue *list,
                       Error *e) {
  const bool pairs = json_kind(list, JSON_OBJECT);
  if (!pairs && !json_kind(list, JSON_ARRAY))
    return;
  for (const JsonValue *x = list + 1; x < j->at + list->next;
       x = j->at + x->next) {
    if (pairs)
      x++;
    added_named(m, j, x, e);
  }
}

/* Does a key of one of the two files name a further special token? A token of
 * both is that of tokenizer_config.json where it is a string there, and that of
 * special_tokens_map.json where it is an object. */
static bool key_names(const Making *m, const Json *of, const JsonValue *key) {
  const char *name = json_text(of, key);
  if (key->size < 6 || strcmp(name + key->size - 6, "_token"))
    return false;
  for (int k = 0; k < NAMED_COUNT; k++)
    if (json_is(of, key, NAMED[k]))
      return false;
  const JsonValue *first = json_get(m->config, m->config->at, name);
  if (of == m->map)
    return !json_kind(first, JSON_STRING);
  return !json_kind(first, JSON_OBJECT) ||
         !json_find(m->map, m->map->at, name);
}

/* Adds the tokens of a file's further keys. */
static void added_keys(Making *m, const Json *of, Error *e) {
  if (!json_kind(of->at, JSON_OBJECT))
    return;
  for (const JsonValue *key = of->at + 1; key < of->at + of->at->next;
       key = of->at + key[1].next)
    if (key_names(m, of, key))
      added_named(m, of, key + 1, e);
}

/* What lies beside the tokenizer, in the order in which transformers
 * adds it. */
static int beside_read(Making *m, Error *e) {
  const Json *j = m->config;
  const JsonValue *top = j->at;
  const JsonValue *decoder = json_get(j, top, "added_tokens_decoder");
  if (added_numbered(m, j, decoder, true, e) ||
      added_numbered(m, m->more, m->more->at, false, e))
    return e->status;
  for (int i = 0; i < NAMED_COUNT; i++) {
    const Json *of = named_in(m, NAMED[i]);
    added_named(m, of, json_get(of, of->at, NAMED[i]), e);
  }
  added_keys(m, m->config, e);
  added_keys(m, m->map, e);
  const JsonValue *extra = extra_list(j);
  added_list(m, j, extra, e);
  added_list(m, m->map, json_get(m->map, m->map->at, "extra_special_tokens"),
             e);
  if (!json_kind(extra, JSON_ARRAY) &&
      !json_kind(json_get(j, top, "extra_special_tokens"), JSON_ARRAY))
    added_list(m, m->map,
               json_get(m->map, m->map->at, "additional_special_tokens"), e);
  return e->status;
}

/* ---- 15.2  Spellings and merges ------------------------------------------ */

/* Adds a merge. */
static int join_add(Making *m, int32_t left, int32_t right, int32_t made,
                    float score, Error *e) {
  const Join x = {left, right, made, score};
  m->joins++;
  return bytes_add(&m->join, &x, sizeof x, e);
}

/* A merge of a file that lists them: two spellings. A merge of what no text is
 * made of, or into it, can never happen and is left out: a mark has been taken
 * out wherever its text stands, and where form NFC can make its text (of three
 * ASCII characters alone: K, ; and `) it is a text's too. Lists are in order of
 * rank, which falling scores repeat. */
static int merge_named(Making *m, const char *left, size_t l, const char *right,
                       size_t r, Error *e) {
  char both[2 * TOKEN_LENGTH_MAX]; /* no token that is found is longer */
  const int32_t a = name_find(m, left, l), b = name_find(m, right, r);
  const bool found = a >= 0 && b >= 0;
  if (found) {
    memcpy(both, left, l);
    memcpy(both + l, right, r);
  }
  const int32_t ab = found ? name_find(m, both, l + r) : -1;
  if (ab < 0)
    return fail(e, 1,
                "%s: expected merge %zu of tokens into a token, found \"%.*s\" "
                "and \"%.*s\". Try: the vocabulary that belongs to it",
                m->name, m->joins, cut_to(l, 40), left, cut_to(r, 40), right);
  const Token *x = m->entry;
  if (x[a].kind == KIND_BYTE || x[b].kind == KIND_BYTE ||
      x[ab].kind == KIND_BYTE)
    return refuse(m, "a merge of a byte's token, or into it", e);
  if (!kind_text(x[a].kind) || !kind_text(x[b].kind) || !kind_text(x[ab].kind))
    return 0;
  return join_add(m, a, b, ab, -(float)m->joins, e);
}

/* The byte of a letter of GPT-2's alphabet (9), -1 for another character. */
static int byte_of(uint32_t letter) {
  for (int b = 0; b < 256; b++)
    if (letter_of(b) == (int)letter)
      return b;
  return -1;
}

/* A spelling in that alphabet as its bytes; returns how many, 0 when it has
 * another character. */
static size_t letters_spell(const unsigned char *s, size_t n,
                            unsigned char *out) {
  size_t size = 0;
  for (size_t at = 0; at < n;) {
    uint32_t letter = s[at++];
    if (letter >= 0xE0)
      return 0;
    if (letter >= 0x80)
      letter = (letter & 0x1F) << 6 | (s[at++] & 0x3F);
    const int byte = byte_of(letter);
    if (byte < 0)
      return 0;
    out[size++] = (unsigned char)byte;
  }
  return size;
}

/* A spelling with SentencePiece's sign as a space; its length, 0 when it has a
 * space of its own. */
static size_t signs_spell(const unsigned char *s, size_t n,
                          unsigned char *out) {
  size_t size = 0;
  for (size_t at = 0; at < n; size++) {
    const bool sign = n - at >= 3 && !memcmp(s + at, SIGN, 3);
    if (s[at] == ' ')
      return 0;
    out[size] = sign ? ' ' : s[at];
    at += sign ? 3 : 1;
  }
  return size;
}

/* <0x00> to <0xFF>. */
static bool is_byte_piece(const char *s, size_t n, unsigned *byte) {
  static const char DIGITS[] = "0123456789ABCDEF";
  if (n != 6 || memcmp(s, "<0x", 3) || s[5] != '>')
    return false;
  const char *high = memchr(DIGITS, s[3], 16), *low = memchr(DIGITS, s[4], 16);
  if (!high || !low)
    return false;
  *byte = (unsigned)(high - DIGITS) << 4 | (unsigned)(low - DIGITS);
  return true;
}

/* Spells every token as sink does. What no text can give becomes a name. */
static int entries_spell(Making *m, Error *e) {
  for (int id = 0; id < m->vocab && !e->status; id++) {
    Token *x = &m->entry[id];
    if (x->kind == KINDS_COUNT)
      *x = (Token){.kind = KIND_NAME};
    const unsigned char *s = m->names.at + x->at;
    unsigned char out[TOKEN_LENGTH_MAX + 1] = " ";
    unsigned byte;
    size_t n = x->size;
    if (x->kind == KIND_BYTE) {
      if (!is_byte_piece((const char *)s, n, &byte))
        return refuse(m, "a byte without its name", e);
      out[0] = (unsigned char)byte;
      n = 1;
    } else if (kind_text(x->kind) && m->cut == CUT_BESIDE)
      n = signs_spell(s, n, out);
    else if (kind_text(x->kind))
      n = letters_spell(s, n, out);
    else if (x->kind == KIND_RUN && m->cut == CUT_BESIDE)
      n = m->blank + signs_spell(s, n, out + m->blank);
    else if (n)
      memcpy(out, s, n);
    if (!n)
      x->kind = KIND_NAME;
    x->bytes = n ? (uint32_t)n : x->size;
    bytes_add(&m->spelt, n ? out : s, x->bytes, e);
  }
  return e->status;
}

/* The highest score first. */
static int by_score(const void *a, const void *b) {
  const Join *x = a, *y = b;
  if (x->score != y->score)
    return x->score < y->score ? 1 : -1;
  if (x->made != y->made)
    return (x->made > y->made) - (x->made < y->made);
  return (x->left > y->left) - (x->left < y->left);
}

/* Can an end of one spelling begin the other, or one stand within the other? */
static bool overlap(const unsigned char *a, size_t n, const unsigned char *b,
                    size_t k) {
  for (size_t at = 0; at < n; at++)
    if (!memcmp(a + at, b, n - at < k ? n - at : k))
      return true;
  for (size_t at = 1; at < k; at++)
    if (!memcmp(b + at, a, k - at < n ? k - at : n))
      return true;
  return false;
}

/* Marks are all sought at once here; transformers seeks the normalized
 * ones after the others, which is the same unless two of them can
 * share characters. */
static int late_marks(const Making *m, Error *e) {
  for (int id = 0; id < m->vocab; id++) {
    const Token *x = &m->entry[id];
    for (int other = 0; x->late && other < m->vocab && !e->status; other++) {
      const Token *y = &m->entry[other];
      const bool mark = y->kind != KINDS_COUNT && y->kind != KIND_BYTE &&
                        y->kind != KIND_TEXT;
      if (mark && !y->late &&
          overlap(m->names.at + x->at, x->size, m->names.at + y->at, y->size))
        fail(e, 1,
             "%s: expected added tokens that share no characters, found "
             "\"%.*s\", normalized, and \"%.*s\", not. Try: hf eval --ids FILE "
             "with ids made elsewhere",
             m->name, cut_to(x->size, 60), (const char *)m->names.at + x->at,
             cut_to(y->size, 60), (const char *)m->names.at + y->at);
    }
  }
  return e->status;
}

/* What is no mark in transformers may come of merges there. So a key that names
 * another token than SentencePiece's own leaves the ids of that one unsure,
 * where nothing else names it. */
static int pieces_named(const Making *m, Error *e) {
  const int ids[] = {m->bos, m->end, 0}; /* of NAMED: bos, eos, unk */
  for (int i = 0; i < 3 && !e->status; i++) {
    const Json *j = named_in(m, NAMED[i]);
    if (ids[i] < 0 || ids[i] >= m->words)
      continue;
    const Token *x = &m->entry[ids[i]];
    if (x->kind == KIND_MARK && !x->told && own_unsure(m, ids[i]) &&
        json_find(j, j->at, NAMED[i]))
      fail(e, 1,
           "%s: expected \"%.*s\" of the vocabulary among its tokens, found "
           "another as %s. Try: hf eval --ids FILE, with ids made elsewhere",
           j->name, cut_to(x->size, 60), (const char *)m->names.at + x->at,
           NAMED[i]);
  }
  return e->status;
}

/* The merges of pieces with scores. A merge here joins two ids. A character that
 * is no piece has none, so a piece with such a character is refused. */
static int joins_of_scores(Making *m, Error *e) {
  m->words = m->vocab;
  if (e->status || names_sort(m, e) || beside_read(m, e) ||
      pieces_named(m, e) || late_marks(m, e) || entries_spell(m, e))
    return e->status;
  for (int id = 0; id < m->vocab && !e->status; id++) {
    const Token *x = &m->entry[id];
    if (!kind_text(x->kind))
      continue;
    const char *s = (const char *)m->names.at + x->at;
    size_t from = 0;
    for (size_t at = 1; at <= x->size && !e->status; at++) {
      if (at < x->size && ((unsigned char)s[at] & 0xC0) == 0x80)
        continue;
      const int32_t one = name_find(m, s + from, at - from);
      if (one < 0 || !kind_text(m->entry[one].kind))
        return refuse(m, "a piece with a character that is no piece", e);
      from = at;
      const int32_t left = name_find(m, s, at);
      const int32_t right = name_find(m, s + at, x->size - at);
      if (at < x->size && left >= 0 && right >= 0 &&
          kind_text(m->entry[left].kind) && kind_text(m->entry[right].kind))
        join_add(m, left, right, id, x->score, e);
    }
  }
  if (!e->status && m->joins)
    qsort(m->join.at, m->joins, sizeof(Join), by_score);
  return e->status;
}

/* ---- 15.3  tokenizer.json ------------------------------------------------ */

/* The expressions, as the files have them. */
static const char *const CUTS[CUTS_COUNT] = {
  [CUT_SINK] = SPLIT,
  [CUT_LLAMA3] = LLAMA3_CUTS("{1,3}"),
  [CUT_QWEN2] = LLAMA3_CUTS(""),
  [CUT_O200K] = O200K_CUTS};

/* Value i of a list. */
static const JsonValue *json_at(const Json *j, const JsonValue *v, uint32_t i) {
  const JsonValue *x = v + 1;
  while (i--)
    x = j->at + x->next;
  return x;
}

/* The list of a part that is a Sequence of others, else NULL. */
static const JsonValue *sequence(const Json *j, const JsonValue *v,
                                 const char *key) {
  const JsonValue *list = json_get(j, v, key);
  if (json_says(j, v, "type", "Sequence") && json_kind(list, JSON_ARRAY))
    return list;
  return NULL;
}

/* Refuses a part of the file by its type. */
static int part_refuse(const Making *m, const Json *j, const char *part,
                       const JsonValue *v, Error *e) {
  char what[160];
  snprintf(what, sizeof what, "%s \"%.60s\" with values of its own", part,
           json_text(j, json_get(j, v, "type")));
  return refuse(m, what, e);
}

/* The normalizer: none, NFC, SentencePiece's two steps, or several of these. */
static int normalizer_read(Making *m, const Json *j, const JsonValue *v,
                           Error *e) {
  const JsonValue *list = sequence(j, v, "normalizers");
  const bool plain = m->space == SPACE_PLAIN;
  if (!v)
    return 0;
  if (list) {
    for (const JsonValue *x = list + 1; x < j->at + list->next;
         x = j->at + x->next)
      normalizer_read(m, j, x, e);
  } else if (plain && json_says(j, v, "type", "NFC"))
    m->nfc = true;
  else if (plain && json_says(j, v, "type", "Prepend") &&
           json_says(j, v, "prepend", SIGN))
    m->blank = true;
  else if (json_says(j, v, "type", "Replace") &&
           json_says(j, v, "content", SIGN) &&
           json_says(j, json_get(j, v, "pattern"), "String", " "))
    m->space = m->blank ? SPACE_EACH : SPACE_NONE;
  else
    part_refuse(m, j, "normalizer", v, e);
  return e->status;
}

/* SentencePiece's spaces; false where sink does not know their ways. */
static bool metaspace_read(Making *m, const Json *j, const JsonValue *v) {
  const JsonValue *scheme = json_get(j, v, "prepend_scheme");
  bool always = json_is(j, scheme, "always");
  if (!scheme)
    always = json_true(j, v, "add_prefix_space", true);
  if (always)
    m->space = SPACE_ALWAYS;
  else if (json_is(j, scheme, "first"))
    m->space = SPACE_FIRST;
  else
    m->space = SPACE_NONE;
  /* which the library does not read */
  const bool both = scheme && m->space != SPACE_NONE &&
                    !json_true(j, v, "add_prefix_space", true);
  return !both && !json_true(j, v, "split", true) &&
         json_says(j, v, "replacement", SIGN);
}

/* The pre-tokenizer: GPT-2's expression over bytes, alone or between numbers,
 * or one of CUTS; or SentencePiece's spaces. Gemma cuts at spaces where its
 * normalizer has left none. */
static int cuts_read(Making *m, const Json *j, const JsonValue *v, Error *e) {
  const JsonValue *list = sequence(j, v, "pretokenizers");
  const bool pair = list && list->size == 2, plain = m->space == SPACE_PLAIN;
  /* chapter 9 writes the two steps in this order */
  const bool turned = pair && json_says(j, list + 1, "type", "ByteLevel");
  const JsonValue *first = pair ? json_at(j, list, turned) : v;
  const JsonValue *bytes = pair ? json_at(j, list, !turned) : v;
  const JsonValue *pattern = json_get(j, first, "pattern");
  const bool split = json_says(j, first, "type", "Split");
  const bool invert = json_true(j, first, "invert", false);
  bool known;
  m->cut = CUT_BESIDE;
  const bool spaces = split && !pair && !invert &&
                      json_says(j, pattern, "String", " ");
  if (!plain && (!v || spaces))
    return 0;
  if (json_says(j, v, "type", "Metaspace"))
    known = metaspace_read(m, j, v);
  else {
    m->cut = pair ? CUTS_COUNT : CUT_GPT2;
    if (json_says(j, first, "type", "Digits") &&
        json_true(j, first, "individual_digits", false))
      m->cut = CUT_DIGITS;
    for (int i = 0; split && i < CUTS_COUNT; i++)
      if (CUTS[i] && json_says(j, pattern, "Regex", CUTS[i]) &&
          json_says(j, first, "behavior", invert ? "Removed" : "Isolated"))
        m->cut = i;
    const bool sinks = m->cut == CUT_SINK;
    known = m->cut < CUTS_COUNT && json_says(j, bytes, "type", "ByteLevel") &&
            sinks == turned && !(sinks && (invert || m->nfc)) &&
            !json_true(j, bytes, "add_prefix_space", true) &&
            json_true(j, bytes, "use_regex", true) == !CUTS[m->cut];
  }
  if (plain && !m->blank && known)
    return 0;
  if (!v)
    return refuse(m, "no pre_tokenizer", e);
  return part_refuse(m, j, "pre_tokenizer", v, e);
}

/* The post-processor: nothing, or one token in front. */
static int template_read(Making *m, const Json *j, const JsonValue *v,
                         Error *e) {
  const JsonValue *list = sequence(j, v, "processors");
  const JsonValue *single = json_get(j, v, "single");
  if (!v || json_says(j, v, "type", "ByteLevel"))
    return 0;
  if (list) {
    for (const JsonValue *x = list + 1; x < j->at + list->next;
         x = j->at + x->next)
      template_read(m, j, x, e);
    return e->status;
  }
  bool known = json_says(j, v, "type", "TemplateProcessing") &&
               json_kind(single, JSON_ARRAY) && single->size;
  const JsonValue *token = NULL;
  if (known)
    token = json_get(j, single + 1, "SpecialToken");
  known = known && single->size == (token ? 2 : 1) &&
          json_get(j, json_at(j, single, single->size - 1), "Sequence");
  if (known && !token)
    return 0;
  const char *name = json_text(j, json_get(j, token, "id"));
  const JsonValue *ids =
      json_get(j, json_get(j, json_get(j, v, "special_tokens"), name), "ids");
  uint64_t id = 0;
  if (!known || !json_kind(ids, JSON_ARRAY) || ids->size != 1 ||
      !json_count(j, ids + 1, &id) || id >= (uint64_t)m->vocab)
    return part_refuse(m, j, "post_processor", v, e);
  m->bos = (int32_t)id;
  m->begins = BEGINS_YES;
  return 0;
}

/* The added tokens of the file. */
static int added_read(Making *m, const Json *j, const JsonValue *v, Error *e) {
  if (!v)
    return 0;
  if (v->kind != JSON_ARRAY)
    return refuse(m, "added_tokens that are not a list", e);
  for (const JsonValue *x = v + 1; x < j->at + v->next && !e->status;
       x = j->at + x->next) {
    const JsonValue *content = json_get(j, x, "content");
    uint64_t id = 0;
    if (!json_count(j, json_get(j, x, "id"), &id) || !*json_text(j, content))
      return refuse(m, "an added token without id or content", e);
    added_one(m, j, x, content, id, e);
  }
  return e->status;
}

/* The pairs of an object from spelling to id. */
static int vocabulary_read(Making *m, const Json *j, const JsonValue *v,
                           Error *e) {
  if (!json_kind(v, JSON_OBJECT))
    return refuse(m, "no vocabulary", e);
  for (const JsonValue *key = v + 1; key < j->at + v->next && !e->status;
       key = j->at + key[1].next) {
    uint64_t id = 0;
    unsigned byte;
    unsigned char kind = KIND_TEXT;
    if (m->cut == CUT_BESIDE &&
        is_byte_piece(j->text + key->at, key->size, &byte))
      kind = KIND_BYTE;
    if (!json_count(j, key + 1, &id))
      return refuse(m, "an id that is not a number", e);
    entry_add(m, id, j->text + key->at, key->size, kind, e);
    m->words++;
  }
  return e->status;
}

/* The merges: strings with a space between, or lists of two strings. */
static int merges_listed(Making *m, const Json *j, const JsonValue *v,
                         Error *e) {
  if (!json_kind(v, JSON_ARRAY))
    return refuse(m, "no merges", e);
  for (const JsonValue *x = v + 1; x < j->at + v->next && !e->status;
       x = j->at + x->next) {
    const char *s = json_text(j, x), *gap = memchr(s, ' ', *s ? x->size : 0);
    const bool pair = x->kind == JSON_ARRAY && x->size == 2 &&
                      x[1].kind == JSON_STRING && x[2].kind == JSON_STRING;
    if (pair)
      merge_named(m, j->text + x[1].at, x[1].size, j->text + x[2].at, x[2].size,
                  e);
    else if (gap)
      merge_named(m, s, (size_t)(gap - s), gap + 1,
                  x->size - (size_t)(gap + 1 - s), e);
    else
      return refuse(m, "a merge that is not a pair", e);
  }
  return e->status;
}

/* Refuses a token that pads unless it is an added one. */
static int padding_read(const Making *m, const Json *j, Error *e) {
  const JsonValue *padding = json_get(j, j->at, "padding");
  const JsonValue *pad = token_content(j, json_get(j, padding, "pad_token"));
  if (!pad)
    return 0;
  const int32_t id = name_find(m, j->text + pad->at, pad->size);
  if (id >= 0 && m->entry[id].kind != KIND_TEXT)
    return 0;
  return token_refuse(j, pad, "that pads to be listed", "none", e);
}

/* Refuses an unk_token where a byte without a token would give it. */
static int unknown_read(const Making *m, const Json *j, const JsonValue *model,
                        Error *e) {
  const JsonValue *unknown = json_get(j, model, "unk_token");
  int bytes = 0;
  for (int id = 0; id < m->vocab; id++)
    bytes += kind_text(m->entry[id].kind) && m->entry[id].bytes == 1;
  if (m->cut == CUT_BESIDE || bytes >= 256 ||
      !json_kind(unknown, JSON_STRING) || !unknown->size)
    return 0;
  return refuse(m, "an unk_token, and bytes that need it", e);
}

/* The whole file, each part behind those that it needs. */
static int json_tokenizer(Making *m, const Json *j, Error *e) {
  const JsonValue *top = j->at;
  const JsonValue *model = json_get(j, top, "model");
  const JsonValue *type = json_get(j, model, "type");
  static const char *const EMPTY[] = {"dropout", "continuing_subword_prefix",
                                      "end_of_word_suffix"};
  if (!model || (type && !json_is(j, type, "BPE")))
    return refuse(m, "a model that is not BPE", e);
  for (int i = 0; i < 3; i++) {
    const JsonValue *x = json_get(j, model, EMPTY[i]);
    if (x && !json_is(j, x, ""))
      return refuse(m, EMPTY[i], e);
  }
  if (normalizer_read(m, j, json_get(j, top, "normalizer"), e) ||
      cuts_read(m, j, json_get(j, top, "pre_tokenizer"), e))
    return e->status;
  if (m->cut == CUT_BESIDE && !json_true(j, model, "byte_fallback", false))
    return refuse(m, "characters without byte_fallback", e);
  m->json = true;
  m->whole = json_true(j, model, "ignore_merges", false);
  if (m->whole && m->cut == CUT_BESIDE)
    return refuse(m, "ignore_merges of a whole text", e);
  if (vocabulary_read(m, j, json_get(j, model, "vocab"), e) ||
      added_read(m, j, json_get(j, top, "added_tokens"), e) ||
      template_read(m, j, json_get(j, top, "post_processor"), e) ||
      names_sort(m, e) || beside_read(m, e))
    return e->status;
  if (padding_read(m, j, e) || entries_spell(m, e) ||
      unknown_read(m, j, model, e))
    return e->status;
  return merges_listed(m, j, json_get(j, model, "merges"), e);
}

/* ---- 15.4  tokenizer.model, llama2.c's file, merges.txt ------------------ */

/* Protocol buffers: fields of a number and a wire type; what is asked for is of
 * types 0 (a number of 7-bit groups), 2 (bytes) and 5 (4 bytes), and 1 (8
 * bytes) is passed over. */
typedef struct Wire { const unsigned char *at, *end; } Wire;

typedef struct Field {
  unsigned number, type;
  uint64_t value;
  Wire bytes;
} Field;

/* A number of 7-bit groups, the lowest first; false at the end. */
static bool wire_number(Wire *w, uint64_t *n) {
  *n = 0;
  for (unsigned shift = 0; shift < 64 && w->at < w->end; shift += 7) {
    const unsigned char b = *w->at++;
    *n |= (uint64_t)(b & 0x7F) << shift;
    if (b < 0x80)
      return true;
  }
  return false;
}

/* The number of field f, and how many bytes follow; false on damage. */
static bool wire_value(Wire *w, Field *f, uint64_t *bytes) {
  *bytes = 0;
  switch (f->type) {
  case 0: return wire_number(w, &f->value);
  case 1: *bytes = 8; return true;
  case 2: return wire_number(w, bytes);
  case 5: *bytes = 4; return true;
  default: return false;
  }
}

/* The next field; false at the end, where w->at is w->end, and on damage, where
 * it is not. */
static bool wire_next(Wire *w, Field *f) {
  const Wire was = *w;
  uint64_t key;
  if (w->at == w->end)
    return false;
  if (wire_number(w, &key) && key >> 3 <= UINT32_MAX) {
    *f = (Field){.number = (unsigned)(key >> 3), .type = key & 7};
    uint64_t n;
    if (wire_value(w, f, &n) && n <= (uint64_t)(w->end - w->at)) {
      f->bytes = (Wire){w->at, w->at + n};
      if (f->type == 5)
        f->value = number_at(w->at, 4);
      w->at += n;
      return true;
    }
  }
  *w = was;
  return false;
}

static int damage(const Making *m, const char *of, Error *e) {
  return fail(e, 1,
              "%s: expected a tokenizer of %s, found another file or a damaged "
              "one. Try: another copy of it, or the model's tokenizer.json",
              m->name, of);
}

/* A piece of SentencePiece: its text, its score and its type. */
static int piece_read(Making *m, Wire w, Error *e) {
  static const unsigned char KINDS[] = {[PIECE_NORMAL] = KIND_TEXT,
                                        [PIECE_UNKNOWN] = KIND_MARK,
                                        [PIECE_CONTROL] = KIND_MARK,
                                        [PIECE_USER] = KIND_RUN,
                                        [PIECE_BYTE] = KIND_BYTE};
  Wire text = {0};
  Field f;
  uint64_t type = PIECE_NORMAL;
  float score = 0;
  while (wire_next(&w, &f)) {
    if (f.number == 1 && f.type == 2)
      text = f.bytes;
    if (f.number == 2 && f.type == 5)
      score = float_of((uint32_t)f.value);
    if (f.number == 3 && f.type == 0)
      type = f.value;
  }
  const size_t n = (size_t)(text.end - text.at);
  if (w.at != w.end || !n || utf8_length(text.at, n) < n || !isfinite(score))
    return damage(m, "SentencePiece", e);
  if (type < PIECE_NORMAL || type > PIECE_BYTE || type == PIECE_UNUSED)
    return refuse(m, "a piece of an unknown type", e);
  const int id = m->vocab;
  if (!entry_add(m, (uint64_t)id, text.at, n, KINDS[type], e))
    m->entry[id].score = score;
  return e->status;
}

/* The parts of a trainer's and a normalizer's settings that decide ids. */
static int settings_read(Making *m, Wire w, bool trainer, Error *e) {
  Field f;
  /* a trainer's */
  enum { MODEL_TYPE = 3, SUFFIX = 24, FALLBACK = 35, BOS = 41, END = 42 };
  /* a normalizer's */
  enum { MAP = 2, PREFIX = 3, TRIMS = 4, ESCAPES = 5 };
  uint64_t x[END + 1] = {
      [PREFIX] = 1, [TRIMS] = 1, [ESCAPES] = 1, [BOS] = 1, [END] = 2};
  bool map = false;
  while (wire_next(&w, &f)) {
    if (f.number <= END)
      x[f.number] = f.value;
    if (f.number == MAP)
      map = f.bytes.end > f.bytes.at;
  }
  if (w.at != w.end)
    return damage(m, "SentencePiece", e);
  if (trainer && (x[MODEL_TYPE] != 2 || x[SUFFIX] || !x[FALLBACK]))
    return refuse(m, "a model that is not BPE with byte fallback", e);
  if (!trainer && (map || x[TRIMS] || !x[ESCAPES]))
    return refuse(m, "a normalizer that changes text", e);
  if (!trainer) {
    m->space = x[PREFIX] ? SPACE_EACH : SPACE_NONE;
    return 0;
  }
  /* -1 is 2^64 - 1 here */
  m->bos = x[BOS] < PUBLISHED_VOCAB_MAX ? (int32_t)x[BOS] : -1;
  m->end = x[END] < PUBLISHED_VOCAB_MAX ? (int32_t)x[END] : -1;
  return 0;
}

/* SentencePiece's own: its pieces, and the settings of its trainer and its
 * normalizer. */
static int sentencepiece(Making *m, const Bytes *in, Error *e) {
  Wire w = {in->at, in->at + in->size};
  Field f;
  bool trainer = false, normalizer = false;
  m->cut = CUT_BESIDE;
  m->begins = BEGINS_YES;
  m->scored = true;
  while (!e->status && wire_next(&w, &f)) {
    if (f.type != 2)
      continue;
    if (f.number == 1)
      piece_read(m, f.bytes, e);
    if (f.number == 2) {
      trainer = true;
      settings_read(m, f.bytes, true, e);
    }
    if (f.number == 3) {
      normalizer = true;
      settings_read(m, f.bytes, false, e);
    }
  }
  if (w.at != w.end || !m->vocab || !trainer || !normalizer)
    damage(m, "SentencePiece", e);
  return joins_of_scores(m, e);
}

/* llama2.c's: the length of the longest token; then of each a score (a float),
 * its length and its bytes. Ids 1 and 2 begin and end a text, 3 .. 258 are the
 * bytes; a space stands for the sign. */
static int llama2c(Making *m, const Bytes *in, Error *e) {
  m->cut = CUT_BESIDE;
  m->space = SPACE_EACH;
  m->begins = BEGINS_YES;
  m->bos = 1;
  m->end = 2;
  size_t at = 4;
  for (uint64_t id = 0; at < in->size && !e->status; id++) {
    char s[3 * TOKEN_LENGTH_MAX];
    unsigned byte;
    const unsigned char *p = in->at + at;
    const size_t n = in->size - at >= 8 ? (size_t)number_at(p + 4, 4) : 0;
    const float score = n ? float_of((uint32_t)number_at(p, 4)) : 0;
    if (n < 1 || n > TOKEN_LENGTH_MAX || n > in->size - at - 8 ||
        !isfinite(score))
      return damage(m, "llama2.c", e);
    size_t size = 0;
    for (const unsigned char *c = p + 8; c < p + 8 + n; c++)
      if (*c == ' ') {
        memcpy(s + size, SIGN, 3);
        size += 3;
      } else
        s[size++] = (char)*c;
    unsigned char kind = KIND_TEXT;
    if (id < 3)
      kind = KIND_NAME;
    else if (id < 259 && is_byte_piece(s, size, &byte))
      kind = KIND_BYTE;
    if (entry_add(m, id, s, size, kind, e))
      break;
    m->entry[id].score = score;
    at += 8 + n;
  }
  return joins_of_scores(m, e);
}

/* The lines of merges.txt: one of a comment, then a merge a line. */
static int merges_lines(Making *m, const Bytes *merges, Error *e) {
  const char *s = (const char *)merges->at, *end = s + merges->size;
  for (const char *stop, *next; s < end && !e->status; s = next) {
    stop = memchr(s, '\n', (size_t)(end - s));
    next = stop ? stop + 1 : end;
    if (!stop)
      stop = end;
    if (stop > s && stop[-1] == '\r')
      stop--;
    if (stop == s || (stop - s >= 8 && !memcmp(s, "#version", 8)))
      continue;
    const char *gap = memchr(s, ' ', (size_t)(stop - s));
    if (!gap)
      return refuse(m, "a merge that is not a pair", e);
    merge_named(m, s, (size_t)(gap - s), gap + 1, (size_t)(stop - gap - 1), e);
  }
  return e->status;
}

/* vocab.json and merges.txt. They do not say how a text is cut; their class
 * does, by tokenizer_config.json, else by config.json (model), else by its
 * model_type. The tokens that tokenizer_config.json calls special are marks, and
 * <|endoftext|> where it leaves one of the first three out. */
static int listed(Making *m, const Json *vocabulary, const Bytes *merges,
                  const Json *config, const Json *model, Error *e) {
  static const char *const GPT2_CUTS[] = {"gpt2", "opt", "phi", NULL};
  const JsonValue *class = json_get(config, config->at, "tokenizer_class");
  const JsonValue *type = json_get(model, model->at, "model_type");
  const Json *said = config;
  if (!class) {
    said = model;
    class = json_get(model, model->at, "tokenizer_class");
  }
  bool other = type && !one_of(json_text(model, type), GPT2_CUTS);
  if (class)   /* or GPT2TokenizerFast */
    other = strncmp(json_text(said, class), "GPT2Tokenizer", 13) != 0;
  if (other)
    return refuse(m,
                  "a tokenizer_class other than GPT2Tokenizer without "
                  "tokenizer.json",
                  e);
  m->cut = CUT_GPT2;
  if (vocabulary_read(m, vocabulary, vocabulary->at, e) || names_sort(m, e) ||
      beside_read(m, e))
    return e->status;
  const int32_t id = name_find(m, "<|endoftext|>", 13);
  for (int i = 0; i < 3; i++) { /* bos, eos and unk */
    const Json *of = named_in(m, NAMED[i]);
    if (json_find(of, of->at, NAMED[i]))
      continue;
    if (id < 0)
      return refuse(m, "no <|endoftext|>, which its class adds", e);
    if (m->entry[id].kind == KIND_TEXT)
      m->entry[id].kind = KIND_MARK;
  }
  if (entries_spell(m, e))
    return e->status;
  return merges_lines(m, merges, e);
}

/* ---- 15.5  The folder, and sink's file ----------------------------------- */

/* Refuses what tokenizer_config.json says of a text that has no counterpart in
 * sink's file. */
static int config_refuse(const Making *m, const Json *config, Error *e) {
  const JsonValue *top = config->at;
  const bool space = m->space > SPACE_NONE;
  if (json_true(config, top, "split_special_tokens", false))
    return refuse(m, "split_special_tokens", e);
  const JsonValue *own = json_get(config, top, "auto_map");
  if (json_kind(own, JSON_ARRAY) || json_get(config, own, "AutoTokenizer"))
    return refuse(m, "auto_map, a tokenizer of code of its own", e);
  if (m->vocab > 100000 && json_true(config, top, "fix_mistral_regex", false))
    return refuse(m, "fix_mistral_regex", e);
  if (json_get(config, top, "fast_tokenizer_files"))
    return refuse(m, "fast_tokenizer_files", e);
  if (json_true(config, top, "add_prefix_space", space) != space)
    return refuse(m, "an add_prefix_space that is not what the tokenizer does",
                  e);
  return 0;
}

/* Which tokens begin and end a text: what tokenizer_config.json says, else
 * the file itself, else the names that published models give them. config may
 * be empty. */
static int ends_find(Making *m, const Json *config, Error *e) {
  static const char *const NAMES[] = {
    "</s>", "<|end_of_text|>", "<|endoftext|>", "<eos>",
    "<s>", "<|begin_of_text|>", "<|startoftext|>", "<|endoftext|>"};
  const int32_t end = named_id(m, "eos_token"), bos = named_id(m, "bos_token");
  if (end >= 0)
    m->end = end;
  /* the post-processor has told what begins a text */
  const bool told = m->json && m->begins == BEGINS_YES;
  if (m->bos < 0 || (bos >= 0 && !told))
    m->bos = bos;
  /* marks are sought first, then what is text as well */
  for (int i = 0; i < 16; i++) {
    const int32_t id = name_find(m, NAMES[i % 8], strlen(NAMES[i % 8]));
    int32_t *of = i % 8 < 4 ? &m->end : &m->bos;
    if (*of < 0 && id >= 0 && (i >= 8 || !kind_text(m->entry[id].kind)))
      *of = id;
  }
  /* beside tokenizer.json its post-processor decides */
  if (!m->json) {
    if (json_true(config, config->at, "add_bos_token", false))
      m->begins = BEGINS_YES;
    if (!json_true(config, config->at, "add_bos_token", true))
      m->begins = BEGINS_NO;
    if (json_true(config, config->at, "add_eos_token", false))
      return refuse(m, "add_eos_token", e);
  }
  /* transformers makes its own tokenizer of a tokenizer.model so */
  if (m->scored && !json_true(config, config->at, "legacy", true))
    m->space = SPACE_FIRST;
  if (config_refuse(m, config, e))
    return e->status;
  if (m->end < 0 || m->end >= m->vocab)
    return refuse(m, "no token that ends a text", e);
  if (m->bos >= m->vocab || (m->bos < 0 && m->begins == BEGINS_YES))
    return refuse(m, "no token that begins a text", e);
  return 0;
}

/* Classes of all code points. Of a run in unicode.h all code points have one
 * value, or from CAPITAL_FIRST on two in turn. */
#define RUNS_PUT(class, runs) runs_put(class, runs, sizeof runs / sizeof *runs)
static void runs_put(unsigned char *class, const int *runs, size_t n) {
  enum { CAPITAL_FIRST = 250 };
  size_t at = 0;
  for (size_t i = 0; i < n; i += 3) {
    at += (size_t)runs[i];
    for (int k = 0, value = runs[i + 2]; k < runs[i + 1]; k++, at++) {
      class[at] = (unsigned char)value;
      if (value >= CAPITAL_FIRST)
        class[at] = (unsigned char)(5 + ((value + k) & 1));
    }
  }
}

/* The classes, less `from`, as ranges of the file; 0 is none. */
static uint64_t ranges_write(Bytes *out, const unsigned char *class, int from,
                             Error *e) {
  uint64_t ranges = 0;
  for (size_t at = 0, end; at < CODE_BYTE && !e->status; at = end) {
    end = at + 1;
    while (end < CODE_BYTE && class[end] == class[at])
      end++;
    if (!class[at])
      continue;
    bytes_number(out, at, 4, e);
    bytes_number(out, end - 1, 4, e);
    bytes_number(out, (uint64_t)(class[at] - from), 4, e);
    ranges++;
  }
  return ranges;
}

/* The canonical forms of unicode.h as those of the file. */
static uint64_t forms_write(Bytes *out, Error *e) {
  uint64_t code = 0, forms = 0;
  for (size_t i = 0; i < sizeof CANONICAL / sizeof *CANONICAL && !e->status;
       i += 3, forms++) {
    const int first = CANONICAL[i + 1], second = CANONICAL[i + 2];
    code += (uint64_t)CANONICAL[i];
    const uint64_t row[] = {code, (uint64_t)first, (uint64_t)abs(second),
                            second > 0};
    for (int k = 0; k < 4; k++)
      bytes_number(out, row[k], 4, e);
  }
  return forms;
}

/* Appends the tokenizer as the one that sink trained, which it must be with
 * nothing changed. */
static int own_write(const Making *m, Bytes *out, Error *e) {
  Tokenizer own = {0};
  Bytes file = {0};
  size_t at = 0, n;
  bool same = m->vocab >= TOKEN_MERGE &&
              m->joins == (size_t)(m->vocab - TOKEN_MERGE) && !m->whole;
  if (same)
    tokenizer_begin(&own, m->vocab, e);
  for (size_t i = 0; same && i < m->joins && !e->status; i++) {
    const Join *x = (const Join *)(const void *)m->join.at + i;
    tokenizer_merge(&own, x->left, x->right, m->name, e);
  }
  for (int id = 0; same && id < m->vocab && !e->status; at += n, id++) {
    const unsigned char *s = tokenizer_token(&own, id, &n);
    const int kind = id < TOKEN_BYTE ? KIND_MARK : KIND_TEXT;
    same = m->entry[id].kind == kind && m->entry[id].bytes == n &&
           !memcmp(m->spelt.at + at, s, n);
  }
  if (!same)
    refuse(m, "the pieces of sink's own with other tokens or merges", e);
  else if (!e->status && !tokenizer_bytes(&own, &file, e))
    bytes_add(out, file.at, file.size, e);
  tokenizer_free(&own);
  bytes_free(&file);
  return e->status;
}

/* How many ranges and forms a file has. */
typedef struct Tables { uint64_t classes, forms, combining; } Tables;

/* The tables of characters, as far as the tokenizer needs them. */
static int tables_write(const Making *m, Bytes *out, Tables *y, Error *e) {
  unsigned char *class = grab(2 * CODE_BYTE, 1, e);
  if (!class)
    return e->status;
  unsigned char *combine = class + CODE_BYTE;
  if (m->cut != CUT_BESIDE || m->strips)
    RUNS_PUT(class, CLASSES);
  if (m->cut == CUT_O200K)
    RUNS_PUT(class, CASES);
  if (m->cut == CUT_DIGITS)
    RUNS_PUT(class, LATER_NUMBERS);
  if (m->nfc)
    RUNS_PUT(combine, COMBINING);
  y->classes = ranges_write(out, class, 1, e);
  y->forms = m->nfc ? forms_write(out, e) : 0;
  y->combining = ranges_write(out, combine, 0, e);
  free(class);
  return e->status;
}

/* The merges; those of one score have the rank of the first. */
static void merges_write(const Making *m, Bytes *out, Error *e) {
  uint64_t rank = 0;
  for (size_t i = 0; i < m->joins && !e->status; i++) {
    const Join *x = (const Join *)(const void *)m->join.at + i;
    if (i && x->score != x[-1].score)
      rank = i;
    const uint64_t row[] = {(uint64_t)x->left, (uint64_t)x->right,
                            (uint64_t)x->made, rank};
    for (int k = 0; k < 4; k++)
      bytes_number(out, row[k], 4, e);
  }
}

/* Appends the tokenizer as the file that chapter 14 describes. */
static int making_write(const Making *m, Bytes *out, Error *e) {
  Bytes tables = {0}, tokens = {0}, merges = {0};
  Tables y = {0};
  if (m->cut == CUT_SINK)
    return own_write(m, out, e);
  tables_write(m, &tables, &y, e);
  for (int id = 0; id < m->vocab && !e->status; id++) {
    bytes_number(&tokens, m->entry[id].kind, 1, e);
    bytes_number(&tokens, m->entry[id].bytes, 2, e);
  }
  merges_write(m, &merges, e);
  uint64_t flags = 0;
  if (m->whole)
    flags |= FLAG_WHOLE;
  if (m->begins == BEGINS_YES)
    flags |= FLAG_BEGINS;
  const uint64_t bos = m->bos < 0 ? UINT32_MAX : (uint64_t)m->bos;
  const uint64_t head[] = {2,
                           (uint64_t)m->vocab,
                           m->joins,
                           (uint64_t)m->cut,
                           (uint64_t)m->space,
                           flags,
                           (uint64_t)m->end,
                           bos,
                           y.classes,
                           y.forms,
                           y.combining,
                           m->spelt.size};
  const size_t from = out->size;
  bytes_add(out, "SINKTOK1", 8, e);
  for (size_t i = 0; i < sizeof head / sizeof *head; i++)
    bytes_number(out, head[i], 4, e);
  const Bytes *const parts[] = {&tables, &tokens, &m->spelt, &merges};
  for (int i = 0; i < 4 && !e->status; i++)
    bytes_add(out, parts[i]->at, parts[i]->size, e);
  if (!e->status)
    bytes_number(out, hash64(0, out->at + from, out->size - from), 8, e);
  bytes_free(&tables);
  bytes_free(&tokens);
  bytes_free(&merges);
  return e->status;
}

/* A file as a tokenizer, by how it begins: JSON; llama2.c's small number;
 * SentencePiece's piece. */
static int file_tokenizer(Making *m, const Bytes *in, Error *e) {
  size_t at = 0;
  if (in->size > 8 && !memcmp(in->at, TOKENIZER_MAGIC, 8))
    return fail(e, 1,
                "%s: already a tokenizer of sink. Try: the file that it was "
                "made from",
                m->name);
  while (at < in->size && strchr(" \t\r\n", in->at[at]) && in->at[at])
    at++;
  if (at < in->size && in->at[at] == '{') {
    Json j = {0};
    if (!json_read(&j, in->at, in->size, m->name, e))
      json_tokenizer(m, &j, e);
    json_free(&j);
  } else if (in->size > 4 && number_at(in->at, 4) <= TOKEN_LENGTH_MAX)
    llama2c(m, in, e);
  else
    sentencepiece(m, in, e);
  return e->status;
}

/* What lies beside a folder's tokenizer, and its paths. A folder whose
 * tokenizer_config.json has an added_tokens_decoder needs no other file. */
static void beside_load(const char *from, char path[3][1024], Json *config,
                        Json *map, Json *more, Error *e) {
  if (folder_has(path[0], from, "tokenizer_config.json", e))
    json_load(config, path[0], e);
  if (json_get(config, config->at, "added_tokens_decoder"))
    return;
  if (folder_has(path[1], from, "special_tokens_map.json", e))
    json_load(map, path[1], e);
  if (folder_has(path[2], from, "added_tokens.json", e))
    json_load(more, path[2], e);
}

/* The tokenizer of a folder or a file as the bytes of sink's file, appended to
 * out, and read back into *words, which the caller frees; bos of sink's own:
 * what begins a text there. A folder that has none: 0 with nothing in out. */
static int tokenizer_from(const char *from, int most, Bytes *out,
                          Tokenizer *words, Error *e) {
  char path[1024] = "", merges[1024], beside[3][1024];
  Bytes in = {0};
  Json config = {0}, map = {0}, more = {0}, vocabulary = {0}, model = {0};
  Making m = {.name = path,
              .config = &config,
              .map = &map,
              .more = &more,
              .end = -1,
              .bos = -1,
              .last = -1,
              .most = most};
  *words = (Tokenizer){0};
  FILE *f = fopen(from, "rb");
  /* a file holds all in one; of a folder nothing can be read */
  bool whole = f && fgetc(f) != EOF;
  if (f)
    fclose(f);
  if (whole)
    path_make(path, e, "%s", from);
  else {
    beside_load(from, beside, &config, &map, &more, e);
    whole = folder_has(path, from, "tokenizer.json", e);
  }
  bool found = whole || folder_has(path, from, "tokenizer.model", e);
  if (found) {
    if (!e->status && !file_read(path, &in, e))
      file_tokenizer(&m, &in, e);
  } else if (folder_has(path, from, "vocab.json", e)) {
    found = true;
    if (!path_make(merges, e, "%s/merges.txt", from) && !e->status &&
        !json_load(&vocabulary, path, e) && !file_read(merges, &in, e) &&
        (!folder_has(merges, from, "config.json", e) ||
         !json_load(&model, merges, e)))
      listed(&m, &vocabulary, &in, &config, &model, e);
  }
  if (found && !e->status && !ends_find(&m, &config, e) &&
      !making_write(&m, out, e) &&
      !words_read(out->at, out->size, path, words, e) && m.cut == CUT_SINK)
    words->bos = m.begins == BEGINS_YES ? m.bos : TOKEN_END;
  if (m.beyond && !e->status)
    fprintf(stderr,
            "hf: left out: added tokens of ids %d to %d, for which the model "
            "has no rows\n",
            m.most, m.beyond);
  making_free(&m);
  json_free(&config);
  json_free(&map);
  json_free(&more);
  json_free(&vocabulary);
  json_free(&model);
  bytes_free(&in);
  return e->status;
}

/* The same; one that has none is an error. */
static int tokenizer_named(const char *from, int most, Bytes *out,
                           Tokenizer *words, Error *e) {
  *words = (Tokenizer){0};
  if (file_missing(from))
    return fail(e, 1, "%s: %s. Try: check the path", from, strerror(ENOENT));
  if (tokenizer_from(from, most, out, words, e) || out->size)
    return e->status;
  return fail(e, 1,
              "%s: expected tokenizer.json, tokenizer.model, or vocab.json and "
              "merges.txt, found none. Try: another folder",
              from);
}

/* `hf tokenizer FROM --out FILE`. Prints a line. */
static int import_tokenizer(const char *from, const char *out, Error *e) {
  Bytes file = {0};
  Tokenizer t;
  if (!tokenizer_named(from, PUBLISHED_VOCAB_MAX, &file, &t, e) &&
      !file_write(out, file.at, file.size, e)) {
    const Published *p = t.published;
    const int cut = p ? p->cut : CUT_SINK;
    const size_t merges = p ? p->merges.size : (size_t)(t.vocab - TOKEN_MERGE);
    printf("cut=%s vocabulary=%d merges=%zu end=%d begin=%d in_front=%s "
           "hash=%016llx out=%s\n",
           CUT_NAMES[cut], t.vocab, merges, t.end, t.bos,
           p && p->begins ? "yes" : "no", (unsigned long long)t.hash, out);
  }
  tokenizer_free(&t);
  bytes_free(&file);
  return e->status;
}
