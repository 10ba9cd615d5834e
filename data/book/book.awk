# book.awk - Part I of sink.c as one HTML page, and what hangs on each tag of the paper. POSIX awk,
# with typeset.awk. The page begins with the subject: FIRST, then the other sections in sink.c's order.
# Its first file, book.html, is the frame, whose comments are filled in. A comment at the left edge
# opens a chunk, text then code. A line of text that is indented or has gaps stays as it is.
BEGIN { OTHER["t5"] = "biases_tabulate"; OTHER["logits"] = "model_logits"      # whose backward?
  FIRST = " 3.6 3.7 4 6 7 "
  # What a first reading opens when it wants to; of these the comment is folded with the code.
  FOLD["Other rows"] = "absolute_position|position_bucket|distance_bias|biases_tabulate|t5_backward|" \
    "act_(gelu|gelutanh|relu)|kernel_(forward|backward)|fixed_value"
  FOLD["Set-up"] = "offset|chunk|forward_rows|add_(block|row|rows|times)|Head|head_of|slot_size|take_slot|" \
    "slots_(begin|end)|attention_scratch|map_rows?|model_fault|square_sum"
  WHOLE = " 7.1 7.11 "                                     # and of a section all but its heading
  LINKS = "\\[[A-Z]+[0-9.]*\\]|\\(F[1-8]|\\([1-7][.][0-9]+|[cC]hapter [0-9]+|" \
          "[a-z][a-z0-9]*__?[a-z][a-z0-9_]*| __[a-z][a-z_]*" }
function esc(s) { gsub(/&/, "\\&amp;", s); gsub(/</, "\\&lt;", s); gsub(/>/, "\\&gt;", s)
  return s }
function jump(id, s) { return "<a href=\"#" id "\">" s "</a>" }
function add(list, t, s) { s = "<li>" s "</li>\n"; if (!index(list[t], s)) list[t] = list[t] s }
function tags_in(s, list,   n, t, k) {                     # "[E1] to [E8]" is all of them
  for (n = 0; match(s, /\[[A-Z]+[0-9.]*\]/);) {
    t = substr(s, RSTART + 1, RLENGTH - 2); s = substr(s, RSTART + RLENGTH)
    if (t in SAYS) list[++n] = t
    if (s ~ /^ to \[E/) for (k = substr(t, 2) + 1; k < substr(s, 7) + 0; k++) list[++n] = "E" k
  }
  return n
}
FILENAME ~ /book.html$/ { FRAME[++frame] = $0; next }
FILENAME ~ /puzzles[.]txt$/ {                              # the functions that a reader may write
  if (/^puzzle /) { sub(/:.*/, ""); PUZZLE[$3] = PUZZLE[$3] (PUZZLE[$3] == "" ? "" : " or ") "N=" $2 }
  next
}
FNR == 1 { topic = label = test = table = claims = ""; ruled = waiting = 0 }
(book = FILENAME == "sink.c") { L[FNR] = $0 }
book && !top {                                             # the masthead, by blocks
  if (match($0, /^ \* ([A-Z][A-Z]+( [A-Z']+)*|Language models)/))
    BLOCK[block = substr($0, 4, RLENGTH - 3)] = FNR
  END_OF[block] = FNR; if (/^ \*\//) top = FNR
  for (s = block == "EQUATIONS" ? $0 : ""; match(s, /\[[A-Z]+[0-9.]*\]/); TAG[++tags] = t) {
    t = n = substr(s, RSTART + 1, RLENGTH - 2); s = SAYS[t] = substr(s, RSTART + RLENGTH)
    sub(/ (\[|  ).*/, "", SAYS[t]); gsub(/^ +| +$/, "", SAYS[t])
    sub(/^[A-Z]+/, "", n); if (t ~ /^M[0-9]/) n = "3.2"
    WORD[t] = (t ~ /^E/ ? "Equation " : t ~ /^FIG/ ? "Figure " : t ~ /^T/ ? "Table " : \
               t ~ /^P/ ? "Proposition " : n != "" ? "Section " : "Beyond the paper") n
    KEY[t] = "(^|[^a-z])" tolower(substr(WORD[t], 1, 2)) "[a-z]*[.]? " n "([^0-9]|$)"   # "eq. 20"
  }
  next
}
book && / PART II  / { last = FNR - 2 }
{ part1 = book && !last; here = " <small>" FILENAME ":" FNR "</small>"
  n = part1 ? 0 : tags_in($0, list) }
ruled && /^ \* [0-9A-Z]/ && !/PART/ {                      # the heading of a chapter or a section
  waiting = 0; topic = substr($0, 4); sub(/ *\*\/$|   .*/, "", topic)
  s = topic; gsub(/^[0-9.]+ +|\[[A-Z]+[0-9.]*\] |: A_ti.*/, "", s); gsub(/`/, "", s)
  id = topic ~ /^[0-9]/ ? topic : substr(id, 1, 1) "." tolower(topic); sub(/ .*/, "", id)
  label = (topic ~ /^[0-9]/ ? id " " : "") esc(s)
  if (part1) { ID[FNR] = SECTION[++sections] = id; TITLE[id] = label }
}
!(ruled && /^ \*$/) { ruled = /^(\/\*| \*) [-=][-=][-=]/ }
part1 && /^[a-zW].*\(/ && !/;$/ && match($0, /[a-z][a-z0-9_]*[,(]/) {
  NAME[FNR] = substr($0, RSTART, RLENGTH - 1); AT[NAME[FNR]] = FNR }
part1 && /^} [A-Z][A-Za-z]*;$/ { STRUCT[FNR] = substr($2, 1, length($2) - 1) }
FILENAME ~ /test_/ && /^\/\*/ { said = "" }                 # the comment above a test, and its lines
FILENAME ~ /test_/ && !/^$/ { said = said $0 "\n" }
FILENAME ~ /test_/ && /\(Test \*t\) [{]$/ {               # takes the tags of comments before it
  test = $3; sub(/\(.*/, "", test); name_of_test = test; TEST[++tests] = test; PLACE_OF[test] = here
  test = jump("test." test, "<code>" test "</code>") here
  for (; waiting; waiting--) add(TESTS, WAITS[waiting], test)
}
FILENAME ~ /test_/ && /^}/ {
  if (name_of_test != "") BODY[name_of_test] = said
  name_of_test = said = ""
}
FILENAME ~ /[.]c$/ { for (k = 1; k <= n; k++)
  if (FILENAME !~ /test_/) add(OUTSIDE, list[k], label here)
  else if (/^(\/\*| \*)/) WAITS[++waiting] = list[k]; else add(TESTS, list[k], test) }
# A check of sink.c belongs to the tags of its section, a line of it, as of others, to what it names.
/^[^ ]/ { table = "" }
/^static void check_[a-z0-9_]*[(]Page/ { table = $3; gsub(/check_|[(].*/, "", table); row = 0 }
table != "" && (!row || /^ +(holds|equals|control|refutes)[(]p, .*"/) {
  split($0, x, "\""); says = row ? esc(x[2]) : "<code>sink check " table "</code>"
  n = row || !part1 ? 0 : tags_in(topic, list)
  for (t in SAYS) if (row && x[2] ~ /: / && tolower(x[2]) ~ KEY[t] && !(part1 && index(topic, "[" t "]")))
    list[++n] = t
  says = part1 ? jump(ROW[FNR] = table "." row, says) : says here; row++
  for (k = 1; k <= n; k++) add(CHECKS, list[k], says)
}
FILENAME ~ /results.pages/ {                               # the ledger: claims, and the paper's errors
  if (FILENAME ~ /on-books[.]md/) next                     # the items' pages have these
  on = FILENAME ~ /pages.on-/ ? FILENAME : ""; gsub(/.*on-|[.]md/, "", on)
  if (/^#/) refuted = /wrong as printed/
  if (FNR < 3) head = claims = ""
  if (claims == "") { head = head tolower($0) " "          # "(section 7.3, Table 4). [All items]"
    if (match(head, /\([^()]*\)[.] +\[all/)) claims = substr(head, RSTART, RLENGTH) }
  s = esc($0); gsub(/\\|^[|] | [|]$/, "", s); split(s, x, / [|] /); gsub(/[*]/, "", x[1])
  says = !refuted ? "<b>" x[1] "</b>: " x[2] " (" x[3] (on == "" ? ")" : "; on " on ")") \
                  : "<b>as printed</b>: " x[1] "; measured: " x[2]
  for (t in SAYS) if ((refuted ? tolower(x[1]) : /^[|] [*]/ ? claims tolower(x[3]) : "") ~ KEY[t])
    add(LEDGER, t, says)
}
function mark(id) { return " <a class=\"here\" href=\"#" id "\">#</a>" }
function own(k) { return "<a class=\"own\" id=\"" k "\" href=\"#" k "\">" k "</a>" }
# Tags, sections, differences (F1) and functions become links; `at` is the line, where s is code.
function link(s,   out, t, k, place, of) {
  while (match(s, LINKS)) {
    k = t = substr(s, RSTART, RLENGTH); gsub(/[][(]|.hapter /, "", k)
    out = out substr(s, 1, RSTART - 1); s = substr(s, RSTART + RLENGTH)
    if (out ~ /(-&gt;|[.])$/ && t ~ /^[a-z]/) { out = out t; continue }      # a field
    if (t ~ /^\[/ && (k in SAYS)) {
      place = where (who ? ", <code>" who "</code>" : ""); COUNT[k]++
      if (where && !SEEN[k, place]++) add(PLACES, k, jump(k "." COUNT[k], place))
      t = "<a " (where ? "id=\"" k "." COUNT[k] "\" " : "") "href=\"#" k "\">" t "</a>"
    } else if (k in BODY) { WANT[k]; t = jump("test." k, k); sub(/__.*/, "", k); of = k
    } else if (t ~ /^ / && ((k = of substr(t, 2)) in BODY)) { WANT[k]; t = " " jump("test." k, substr(t, 2))
    } else if (k in AT) t = AT[k] == at ? own(k) : jump(k, k)
    else if (t ~ /^\(F/) {
      t = "(" jump(k, k)
      if (where && !SEEN[k, where]++) add(PLACES, k, jump("s" spot, spot ~ /^[0-9.]+$/ ? spot : where))
    }
    else if (t !~ /^\[/ && (k in TITLE)) t = t ~ /^\(/ ? "(" jump("s" k, k) : jump("s" k, t)
    out = out t
  }
  return out s
}
# A section is printed first, or in the rest; 0 is what stands before chapter 1.
function group_of(id) { sub(/^7[.].*/, "7", id)
  return id == "" ? 0 : index(FIRST, " " id " ") ? 1 : 2 }
function capital(s) {                                       # of a paragraph's first word
  return substr(s, 1, 3) toupper(substr(s, 4, 1)) substr(s, 5) }
function fold(says, s, as) { return "<details" as ">\n<summary>" says "</summary>\n" s "</details>\n" }
# The kind of fold of a chunk, or "".
function fold_of(name, section, headed,   kind) {
  if (headed) return ""
  for (kind in FOLD) if (name ~ "^(" FOLD[kind] ")$") return kind
  if (section == "") return "Macros, and what Part I calls of Part IV"
  return index(WHOLE, " " section " ") ? "Set-up" : ""
}
function para(as, s, begins,   h, end, t) {               # a paragraph, a table, or the heading of section as
  if (as in TITLE) {
    h = as ~ /^[0-9]+$/ ? "h2" : "h3"; where = TITLE[spot = as]; who = ""; s = typeset(link(esc(s)))
    t = mark("s" as) "</" h ">\n"
    end = sub(/   +/, t "<p class=\"aside\">", s) ? "</p>\n" : t
    return (h == "h2" ? "</section>\n<section>\n" : "") "<" h " id=\"s" as "\">" s end
  }
  if (as == "pre") {
    s = display(s)
    if (match(s, /^<div class="wide">.*<\/svg><\/div>\n/)) {
      PICTURE = substr(s, 1, RLENGTH); gsub(/ id="[^"]*"/, "", PICTURE) }
    return s
  }
  if (as == "p" && s ~ /is drawn at the head of chapter/) end = PICTURE      # and here again
  s = link(esc(s))
  if (as == "p") {
    gsub(/`[^`]+`|[a-z]+-&gt;[a-z0-9_]+|--[a-z][a-z-]*/, "<code>&</code>", s); gsub(/`/, "", s)
    s = typeset(s)
    if (match(s, /^([A-Z][A-Z]+( [A-Z']+)*[.,]|[A-Z][a-z]+( [a-z]+)?( [a-z]+)?[.] )/) &&
        (!begins || s ~ /^[A-Z][A-Z]/))
      s = "<b>" substr(s, 1, RLENGTH - 1) "</b>" substr(s, RLENGTH)
    if (where && match(tolower(s), /^(<b>)?(numerics|edges|cost( of a [a-z]+)?)(<.b>)?[.:, ]/)) {
      h = substr(s, 1, RLENGTH); gsub(/<[^>]*>|[.:, ]+$/, "", h)
      return fold(substr(h, 1, 1) tolower(substr(h, 2)), "<p>" s "</p>\n")
    }
    if (where && s ~ /^(The |Their |In (the|their) )?(authors' )?code /)
      return fold("Where the authors' code differs", "<p>" s "</p>\n")
  }
  return as == "" ? "" : "<" as ">" s "</" as ">\n" end
}
function text(i, to,   s, gap, as, was, buf, html) {       # lines i .. to of a comment
  for (; i <= to; i++) {
    s = L[i]; sub(/ *\*\/$/, "", s); sub(/^(\/\*| \*) ?/, "", s)
    if (s == "" || s ~ /^Backward[.:]/) gap = 1
    if (s == "" || s ~ /^([-=][-=][-=]|PART )/) continue
    as = i in ID ? ID[i] : s ~ /^  |^\[M[0-9]\]  |[^ ]   +[^ ]/ ? "pre" : "p"
    if (as != was || (gap && as == "p")) { html = html para(was, buf, was == "p" && html == ""); buf = s }
    else buf = buf (as == "p" ? " " : gap ? "\n\n" : "\n") s
    was = as; gap = 0
  }
  return html para(was, buf, html == "")
}
function chunk(from, to,   i, begin, name, html, code, s, b, folded, headed, kind, says, k) {
  # a comment and the code below it
  begin = from; if (L[from] ~ /^\/\*/) while (L[begin++] !~ /\*\//);
  for (i = to; i >= begin; i--) if (i in NAME) name = NAME[i]; else if (i in STRUCT) b = STRUCT[i]
  who = name; if (name == "") name = b
  at = 0; html = text(from, begin - 1)
  if (name in PUZZLE)
    html = html "<p class=\"aside\">Write it yourself: <code>make puzzle " PUZZLE[name] "</code></p>\n"
  for (i = begin; i <= to; i++) if (code L[i] != "") {
    at = i; s = link(esc(L[i]))
    if (i in NAME && NAME[i] !~ /_/ && match(s, NAME[i] "[(,]"))
      s = substr(s, 1, RSTART - 1) own(NAME[i]) substr(s, RSTART + RLENGTH - 1)
    gsub(/\/\*/, "<i>&", s); gsub(/\*\//, "&</i>", s)
    code = code (i in ROW ? "<span id=\"" ROW[i] "\">" s "</span>" : s) "\n"
  }
  sub(/\n+$/, "\n", code)
  for (i = from; i < begin; i++) if (i in ID) { section = ID[i]; headed = 1 }
  kind = fold_of(name, section, headed)
  if (code != "") {
    folded = section ~ /^[12]$/ || (headed && index(WHOLE, " " section " "))
    says = name; for (i = begin; says == ""; i++) says = L[i]
    sub(/( =)? [{].*/, "", says)
    code = "<pre class=\"code\">" code "</pre>\n"
    if (folded) code = fold("<code>" esc(says) "</code>", code)
    if (folded) html = html code
    else {                                                 # below a heading
      for (k = 0; match(substr(html, k + 1), /<\/h[23]>\n(<p class="aside">[^\n]*\n)?/);) k += RSTART + RLENGTH - 1
      html = substr(html, 1, k) "<div class=\"unit\">\n<div>\n" substr(html, k + 1) "</div>\n" code "</div>\n"
    }
  }
  b = name; if (sub(/_backward$/, "", b)) for (i = 1; i <= kept; i++)      # its forward, beside it
    if (WHO[i] == b || WHO[i] == b "_forward" || (b in OTHER && WHO[i] == OTHER[b])) {
      html = "<div class=\"pair\">\n<div>" KEPT[i] "</div>\n<div>" html "</div>\n</div>\n"
      name = WHO[i] "</code>, <code>" name; KEPT[i] = WHO[i] = "" }
  KEPT[++kept] = html; WHO[kept] = name; GROUP[kept] = group_of(section); KIND[kept] = kind
}
# The chunks of a group; neighbours of one kind are one fold, which says what is in it.
function chunks(part,   k, kind, names, inside, html) {
  for (k = 1; k <= kept + 1; k++) if (k > kept || (GROUP[k] == part && KEPT[k] != "")) {
    if (kind != "" && (k > kept || KIND[k] != kind)) html = html fold(kind names, inside)
    if (k > kept) break
    if (KIND[k] != kind) inside = names = ""
    kind = KIND[k]; inside = inside KEPT[k]
    if (WHO[k] != "") names = names (names == "" ? ": " : ", ") "<code>" WHO[k] "</code>"
    if (kind == "") html = html KEPT[k]
  }
  return html
}
function list_of(name, s) { return s == "" ? "" : "<dt>" name "</dt><dd><ul>\n" s "</ul></dd>\n" }
END {
  for (start = k = top + 1; k++ < last;)
    if (L[k] ~ /^\/\*/ || (k in NAME && L[k - 1] == "" && (L[start] !~ /^\/\*/ || fold_of(NAME[k], "-")))) {
      chunk(start, k - 1); start = k }
  chunk(start, last); where = ""; at = 0
  for (k = 1; k <= tests; k++) for (n = 1; n <= tags; n++)
    if (index(TESTS[t = TAG[n]], "#test." TEST[k] "\"")) { WANT[TEST[k]]; BACK[TEST[k]] = BACK[TEST[k]] " " jump(t, "[" t "]") }
  for (f = 1; f <= frame; f++) {
    slot = FRAME[f]
    if (!gsub(/^<!-- | -->$/, "", slot)) print slot
    else if (slot ~ /^contents/) {
      for (k = 1; k <= sections; k++) if (group_of(SECTION[k]) == (slot ~ /first/ ? 1 : 2))
        print "<li>" jump("s" SECTION[k], typeset(TITLE[SECTION[k]])) "</li>"
    } else if (slot ~ /^chapters/) {
      n = slot ~ /first/ ? 1 : slot ~ /rest/ ? 2 : 0
      printf "%s", chunks(n)
    } else if (slot == "tests") {
      for (k = 1; k <= tests; k++) if (TEST[k] in WANT) {
        s = link(esc(BODY[TEST[k]])); gsub(/\/\*/, "<i>&", s); gsub(/\*\//, "&</i>", s)
        print fold("<code>" TEST[k] "</code>" PLACE_OF[TEST[k]] BACK[TEST[k]] mark("test." TEST[k]), \
          "<pre class=\"code test\" id=\"test." TEST[k] "\">" s "</pre>\n", " class=\"test\"")
      }
    } else if (slot == "tags") for (k = 1; k <= tags; k++) {
      t = TAG[k]; for (n = k; SAYS[TAG[n]] == "";) n++
      if (CHECKS[t] LEDGER[t] == "") add(CHECKS, t, "no row of its own: its tests hold it")
      print "<h3 id=\"" t "\">[" t "] " WORD[t] ": " esc(SAYS[TAG[n]]) mark(t) "</h3>\n<dl>" \
        list_of("Code", typeset(PLACES[t] OUTSIDE[t])) list_of("Tests", TESTS[t]) \
        list_of("Checks", typeset(CHECKS[t])) list_of("Trainings", typeset(LEDGER[t])) "</dl>"
    } else {
      s = text(BLOCK[slot], END_OF[slot])
      if (sub("<b>" slot "</b>, ", "", s)) s = capital(s)
      if (!sub("<b>" slot "</b>[.] ", "", s) && slot ~ /DIFFER/) sub("^<p>" slot, "<p>They differ", s)
      for (k = 1; k <= 8; k++) {                           # F1 and where it is told of
        n = ""; if (PLACES["F" k] != "") n = " <ul>" PLACES["F" k] "</ul>"
        if (match(s, ">F" k "</td> <td[^>]*>[^\n]*</td> </tr>"))
          s = substr(s, 1, RSTART - 1) " id=\"F" k "\"" substr(s, RSTART, RLENGTH - 11) n \
            substr(s, RSTART + RLENGTH - 11)
      }
      printf "%s", s
    }
  }
}
