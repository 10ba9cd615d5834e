# typeset.awk - formulas of comments as HTML, for book.awk. POSIX awk; letters are entities.
#   typeset(s)     s is HTML whose text has formulas: sub- and superscripts, Greek, sums, roots
#   display(s)     lines with gaps: a table whose columns are where cells begin and where relations
#                  stand; a flow of items; or a drawing
BEGIN {
  n_greek = split("alpha beta gamma delta mu phi Phi pi theta sigma lambda xi eps", GREEK, " ")
  split("sum mean log Sink Concat dlogz dxn cls FFN MHSA", x, " "); for (k in x) BASE[x[k]]
  split("target cls max", x, " "); for (k in x) INDEX[x[k]]
  DRAWN = "-->|[+]---|[o.] [o.] [o.]|[|]  +[|]"
}
# The length of s's first group, from ( or { to its partner; 0 where there is none.
function group(s,   i, c, depth) {
  for (i = 1; i <= length(s); i++) {
    c = substr(s, i, 1)
    if (c ~ /[({]/) depth++
    if (c ~ /[)}]/ && --depth == 0) return i
  }
  return 0
}
# The length of what stands high or low: {..}, (..), a number, a name with its index or arguments.
function scope(s, high,   n) {
  if (s ~ /^[({]/) return group(s)
  if (!match(s, high ? "^(-|&minus;)?([A-Za-z0-9]+|&[a-z]+;)" : "^([A-Za-z0-9]+[*]?|[*])")) return 0
  n = RLENGTH
  if (high && match(substr(s, n + 1), /^_[A-Za-z0-9*]+/)) n += RLENGTH
  if (high && substr(s, n + 1) ~ /^[*]([^*A-Za-z0-9 ]|$)/) n++                  # e^z*)
  if (high && substr(s, n + 1, 1) == "(") n += group(substr(s, n + 1))
  return n
}
function inner(s) { return s ~ /^[({]/ ? substr(s, 2, length(s) - 2) : s }
# Does this index belong to a formula, or to a name of the program, as in row_stat?
function indexed(before, low,   b) {
  gsub(/&[a-z]+;/, "", low)
  if (before ~ /([])*']|&[A-Za-z]+;)$/) return 1
  if (!match(before, /[A-Za-z]+$/)) return 0
  b = substr(before, RSTART)
  if (RSTART > 1 && substr(before, RSTART - 1, 1) ~ /[0-9_.]/) return 0
  return (length(b) <= 2 || b in BASE) && (low !~ /[a-z][a-z][a-z][a-z]/ || low in INDEX)
}
function scripts(s,   out, before, op, n, x) {
  while (match(s, /sqrt\(|(\^|_)[-A-Za-z0-9({*&]/)) {
    before = substr(s, 1, RSTART - 1); op = substr(s, RSTART, 1)
    s = substr(s, RSTART + (op == "s" ? 4 : 1))
    n = op == "s" ? group(s) : scope(s, op == "^"); x = substr(s, 1, n)
    if (!n || (op == "_" && !indexed(out before, x)) || (op == "s" && before ~ /[A-Za-z_]$/)) {
      out = out before (op == "s" ? "sqrt" : op); continue
    }
    s = substr(s, n + 1); x = scripts(inner(x))
    if (op == "s") x = "&radic;<span class=\"root\">" x "</span>"
    else { sub(/^-/, "\\&minus;", x); x = op == "^" ? "<sup>" x "</sup>" : "<sub>" x "</sub>" }
    out = out before x
  }
  s = out s                                                # an index and a power, one above the other
  gsub(/<sub>[^<]*<\/sub><sup>[^<]*<\/sup>/, "<span class=\"ss\">&</span>", s)
  return s
}
function words(s,   k, out, c) {                           # Greek, signs, sums
  for (k = 1; k <= n_greek; k++) {
    out = ""
    while (match(s, "(^|[^A-Za-z0-9_.])" GREEK[k] "([^a-z]|$)")) {
      c = RSTART + (substr(s, RSTART, length(GREEK[k])) != GREEK[k])
      out = out substr(s, 1, c - 1) "&" (GREEK[k] == "eps" ? "epsilon" : GREEK[k]) ";"
      s = substr(s, c + length(GREEK[k]))
    }
    s = out s
  }
  gsub(/[+]-/, "\\&plusmn;", s)
  while (match(s, /(^|[^A-Za-z0-9_-])([A-Za-z0-9]-[A-Za-z0-9]|-[A-Za-z0-9])([^A-Za-z]|$)/)) {  # i-j, -r
    c = RSTART + index(substr(s, RSTART, RLENGTH), "-") - 1
    s = substr(s, 1, c - 1) "&minus;" substr(s, c + 1)
  }
  gsub(/ != /, " \\&ne; ", s); gsub(/&lt;=/, "\\&le;", s); gsub(/&gt;=/, "\\&ge;", s)
  gsub(/&lt;-/, "\\&larr;", s)
  gsub(/-infinity/, "\\&minus;\\&infin;", s); sub(/^-[^-]/, "\\&minus;&", s); sub(/^&minus;-/, "\\&minus;", s)
  gsub(/= -/, "= \\&minus;", s)
  gsub(/ - /, " \\&minus; ", s); gsub(/ -log/, " \\&minus;log", s)
  out = ""
  while (match(s, /(^|[^A-Za-z])sum(_| [|(]?d?[a-z]([_^ |)~]|$))/)) {
    c = RSTART + (substr(s, RSTART, 3) != "sum")
    if (substr(s, c) ~ /^sum a /) { out = out substr(s, 1, c + 2); s = substr(s, c + 3); continue }
    out = out substr(s, 1, c - 1) "&sum;"; s = substr(s, c + 3)
  }
  s = out s; out = ""
  while (match(s, /&lt;[^ ]/)) {                           # <q, k>
    c = index(substr(s, RSTART), "&gt;")
    if (!c || substr(s, RSTART, c) !~ /, /) {
      out = out substr(s, 1, RSTART + 3); s = substr(s, RSTART + 4)
      continue
    }
    out = out substr(s, 1, RSTART - 1) "&lang;" substr(s, RSTART + 4, c - 5) "&rang;"
    s = substr(s, RSTART + c + 3)
  }
  return out s
}
function typeset(s,   out, before, tag, code) {                    # the text between tags; code stays
  while (match(s, /<[^>]*>/)) {
    before = substr(s, 1, RSTART - 1); tag = substr(s, RSTART, RLENGTH); s = substr(s, RSTART + RLENGTH)
    out = out (code ? before : scripts(words(before))) tag
    if (tag ~ /^<code/) code++; if (tag == "</code>") code--
  }
  return out scripts(words(s))
}
# Where the factors that end a begin, as the numerator of what follows; 0 where that is not certain.
function numerator(a,   p, c, depth, f, t) {
  for (p = length(a) + 1; p > 1;) {
    t = p; depth = 0
    do {                                                   # one factor: up to a blank outside brackets
      c = substr(a, --p, 1)
      if (c ~ /[])}>~]/) depth++
      if (c ~ /[[({<@]/ || (c == "$" && depth == 0)) depth--
    } while (p > 1 && depth >= 0 && (depth > 0 || c != " "))
    if (depth > 0) return 0
    if (depth < 0 || c == " ") p++
    f = substr(a, p, t - p)
    if (f ~ /[:;,]$/ || (f ~ /^[a-z][a-z][a-z]+$|[]:;,[]/ && f !~ /^[(<@]/)) return 0
    if (f ~ /^([+]?=|<-|<=|[+|*-])$/) return t + 1
    if (p == 1 || depth < 0) return p
    p--
  }
  return 0
}
function denominator(b,   n) {                             # its length, or 0
  if (b ~ /^[(]/) n = group(b)
  else if (!match(b, /^[A-Za-z0-9_'^*]+/)) return 0
  else if (substr(b, n = RLENGTH + 1, 1) ~ /[({]/) n += group(substr(b, n)) - 1
  else n--
  if (b ~ /^sum[ _]/ && substr(b, n + 1) !~ /^ ([a-z][a-z]+|[-+=|])( |$)/)
    n += match(substr(b, n + 1), /^ [^ )]+[)]?/) ? RLENGTH : 0
  return substr(b, 1, n) ~ /^[a-rt-z][a-z][a-z]+$/ || substr(b, n + 1, 1) ~ /[A-Za-z0-9.^(]/ ? 0 : n
}
# `a / b` between signs is a fraction: @ a $ b ~ until it is HTML.
function fractions(s,   out, k, a, b, n, from) {
  if (s ~ /[@$~`"]|--/) return s
  while (k = index(s, ")/(")) s = substr(s, 1, k) " / " substr(s, k + 2)
  for (k = length(s) - 2; k > 1; k--) if (substr(s, k, 3) == " / ") {
    a = substr(s, 1, k - 1); b = substr(s, k + 3); n = denominator(b); from = numerator(a)
    if (!n || !from || substr(a, 1, from - 1) ~ /sqrt[(]$/) continue
    out = substr(a, 1, from - 1); a = substr(a, from); s = substr(b, n + 1); b = substr(b, 1, n)
    if (out ~ /(^|[ ([])[(]$/ && s ~ /^[)]([^^]|$)/) { sub(/[(]$/, "", out); s = substr(s, 2) }
    if (group(a) == length(a)) a = inner(a)
    if (group(b) == length(b)) b = inner(b)
    s = out "@" a "$" b "~" s; k += 2                      # once more: a may hold another
  }
  return s
}
# One cell or item, linked and typeset.
function cell(s,   k) {
  k = s; sub(/ .*/, "", k); s = link(esc(fractions(s)))
  if (k ~ /[.]/ && (k in TITLE) && !number(s)) sub(/^[0-9.]+/, jump("s" k, "&"), s)
  gsub(/`[^`]+`|--[a-z][a-z-]*/, "<code>&</code>", s); gsub(/`/, "", s)
  s = typeset(s); gsub(/@-/, "@\\&minus;", s)
  gsub(/@/, "<span class=\"frac\"><span>", s); gsub(/[$]/, "</span><i> / </i><span>", s)
  gsub(/~/, "</span></span>", s)
  return s
}
function indent(s) { match(s, /^ */); return RLENGTH }
# Are the lines of two levels, two lines at least in each, which no column explains?
function levels(line, lines,   i, s, at, of, inside, k, n) {
  for (i = 1; i <= lines; i++) {
    of[indent(line[i])]++; s = substr(line[i], indent(line[i]) + 1); at = indent(line[i])
    while (match(s, /   */)) { at += RSTART + RLENGTH - 1; s = substr(s, RSTART + RLENGTH); inside[at] = 1 }
  }
  for (k in of) { if (of[k] < 2 || k in inside) return 0; n++ }
  return n == 2
}
# A drawing of names and --> in lines, with paths of | and +---+ around them, as SVG on a grid of
# 8 x 16. A name in capitals or n1, n2 is a box, + a circle, and a path ends in an arrow.
function box(name, x, y,   n, w) {
  n = length(name); w = 8 * n + 10
  if (name == "+") return "<circle cx=\"" x * 8 + 4 "\" cy=\"" y * 16 - 5 "\" r=\"7\"></circle>"
  if (name !~ /^([A-Z]+|n[12])$/) return ""
  return "<rect x=\"" x * 8 - 5 "\" y=\"" y * 16 - 15 "\" width=\"" w "\" height=\"20\" rx=\"4\"></rect>"
}
function drawing(s,   line, n, i, k, x, w, name, out, wide, tip) {
  tip = "l-5 -3v6z\"></path>"
  n = split(s, line, "\n")
  for (i = 1; i <= n; i++) {
    if (length(line[i]) > wide) wide = length(line[i])
    for (x = 0; match(substr(line[i], x + 1), /[^ ]+/); x += RLENGTH) {
      x += RSTART - 1; w = RLENGTH; name = substr(line[i], x + 1, w)
      if (name == "-->") {
        out = out "<path d=\"M" x * 8 - 1 " " i * 16 - 5 "H" x * 8 + 24 "\"></path><path class=\"tip\" d=\"M" \
          x * 8 + 26 " " i * 16 - 5 tip
      } else if (name ~ /^[+]-+[+]$/)      # two lines above it stand what it leaves and reaches
        out = out "<path d=\"M" x * 8 + 4 " " i * 16 - 27 "V" i * 16 - 8 "H" (x + w) * 8 - 4 "V" i * 16 - 30 \
          "\"></path><path class=\"tip\" d=\"M" (x + w) * 8 - 4 " " i * 16 - 31 "l-3 5h6z\"></path>"
      else if (name != "|")
        out = out box(name, x, i) "<text x=\"" x * 8 + 4 * w "\" y=\"" i * 16 "\">" link(esc(name)) "</text>"
      RLENGTH = w
    }
  }
  return "<div class=\"wide\"><svg class=\"draw\" viewBox=\"-8 -6 " wide * 8 + 24 " " n * 16 + 8 "\">" \
    out "</svg></div>\n"
}
# Words alone, far from the edge: a remark on the line above, or more of one.
function goes_on(s) { return s ~ /^      *[(]?[A-Za-z][a-z_+)]*,? [^=<+]/ && s !~ /[^ ]  +[^ ]/ }
function number(s) { return s ~ /^-?[0-9][0-9.,]*$|^-$/ }
function has_relation(i, cells, body,   k) {
  for (k = 1; k <= cells[i]; k++) if (body[i, k] ~ /(^| )([+]?=|<-|<=) /) return 1
  return 0
}
function relation(s) { return s ~ /^([+]?=|<-|<=) / }
# Where a line's first relation stands, at which equations are aligned.
function equals(s) {
  return match(s, / ([+]?=|<-|<=) /) && substr(s, 1, RSTART) !~ / [0-9.]+ [a-z]/ ? RSTART + 1 : 0 }
function display(s, deep,   line, lines, i, k, n, c, at, last, row, rows, cells, body, from, to, used, cols, \
    shared, alone, figures, html, span, j, x, formulas, most, gap, left) {
  if (k = index(s, "\n\n")) return display(substr(s, 1, k - 1)) display(substr(s, k + 2))
  if (s ~ DRAWN) {
    if (s !~ /[o.] [o.] [o.]/) return drawing(s)
    s = esc(s); gsub(/ o/, "<u> o</u>", s); gsub(/ [.]/, "<s> .</s>", s)      # a mask, as a grid
    return "<pre class=\"mask\">" s "</pre>\n"
  }
  lines = split(s, line, "\n"); n = 0; rows = 0
  if (levels(line, lines)) {
    n = indent(line[1])
    for (i = 1; i <= lines; i++) {
      if (i > 1 && indent(line[i]) != indent(line[i - 1])) { html = html display(c, indent(c) > n); c = "" }
      c = c (c == "" ? "" : "\n") line[i]
    }
    return html display(c, indent(c) > n)
  }
  for (k in EQUALS) delete EQUALS[k]
  for (i = 1; i <= lines; i++) if (k = equals(line[i])) EQUALS[k]++
  for (i = 1; i <= lines; i++) {
    if (i > 1 && cells[rows] > 1 && goes_on(line[i])) {
      k = cells[rows]; n = indent(line[i]); sub(/^ +/, " ", line[i])
      if (n > from[rows, k] + 4 && body[rows, k] ~ /(^|[^:] )= /) {
        from[rows, ++cells[rows]] = to[rows, k] + 2; sub(/^ /, "", line[i]); body[rows, k + 1] = line[i]
      } else body[rows, k] = body[rows, k] line[i]
      continue
    }
    rows++; at = 1; c = line[i]; n = equals(line[i]); if (EQUALS[n] < 2) n = 0
    while (match(c, /[^ ]( ?[^ ])*/)) {
      k = ++cells[rows]; from[rows, k] = at + RSTART - 1; j = RLENGTH; gap[rows, k] = RSTART
      if (substr(c, RSTART, j) ~ /^([+]?=|<-|<=)$/) {      # a sign between gaps belongs to what follows
        n = from[rows, k]; x = RSTART; match(substr(c, x + j), /^ +[^ ]( ?[^ ])*/); j += RLENGTH; RSTART = x
      }
      if (n > from[rows, k] && n < from[rows, k] + j) j = n - 1 - from[rows, k]
      body[rows, k] = substr(c, RSTART, j); c = substr(c, RSTART + j)
      gsub(/  +/, " ", body[rows, k])
      to[rows, k] = from[rows, k] + j; at = to[rows, k]
    }
  }
  # numbers and other short cells that overlap are one column, whichever side they are flush with
  for (i = 1; i <= rows; i++) for (k = 2; k <= cells[i]; k++) if (length(body[i, k]) <= 9)
    for (j = 1; j <= rows; j++) for (n = 2; n <= cells[j]; n++)
      if (length(body[j, n]) <= 9 && from[i, k] < to[j, n] && from[j, n] < from[i, k])
        from[i, k] = from[j, n]
  for (i = 1; i <= rows; i++) for (k = 1; k <= cells[i]; k++) used[from[i, k]]++
  for (i = 1; i <= rows; i++) for (k = 2; k <= cells[i]; k++)
    if (used[from[i, k]] > 1) shared++; else alone++
  if (rows > 10 && (alone > shared || body[1, 1] ~ /^\[/)) {                       # no columns: a flow of items
    for (i = 1; i <= rows; i++) for (k = 1; k <= cells[i]; k++) {      # a gap of 2 is within an item
      if (k > 1 && gap[i, k] < 4) c = c "  " body[i, k]
      else if (c ~ / (and|the)$/ && k == 1) c = c " " body[i, k]
      else { if (i + k > 2) html = html "<span>" cell(c) "</span>\n"; c = body[i, k] }
    }
    return "<p class=\"items\">" html "<span>" cell(c) "</span></p>\n"
  }
  # a remark behind a formula stands in one column with the others
  for (i = 1; i <= rows; i++) {
    if (cells[i] > most) most = cells[i]
    formulas += has_relation(i, cells, body)
    for (k = 1; k < cells[i]; k++) if (relation(body[i, k + 1])) left[from[i, k]]
  }
  if (most == 3) for (i = 1; i <= rows; i++)
    if ((k = cells[i]) > 1 && body[i, k - 1] ~ /(^| )([+]?=|<-|<=) / && !relation(body[i, k]) &&
        !(from[i, k] in left)) {
      if (--used[from[i, k]] == 0) delete used[from[i, k]]
      from[i, k] = 150; used[150]++
    }
  # a remark alone at its place joins the others
  for (i = 1; i <= rows; i++) if ((k = cells[i]) > 1 && used[from[i, k]] == 1 && !relation(body[i, k])) {
    for (n = from[i, k] - 1; n > from[i, k - 1] && used[n] < 2;) n--
    if (n > from[i, k - 1]) { used[from[i, k]] = 0; delete used[from[i, k]]; from[i, k] = n; used[n]++ }
  }
  last = 0
  for (i = 1; i <= 200; i++) if (used[i]) cols[i] = ++last
  for (i = 1; i <= rows; i++) for (k = 1; k <= cells[i]; k++)
    figures[from[i, k]] += number(body[i, k]) ? 1 : -1
  for (i = 1; i <= rows; i++) {
    row = ""; j = 1
    for (k = 1; k <= cells[i]; k++) {
      c = cols[from[i, k]]
      if (c > j) row = row "<td" (c - j > 1 ? " colspan=\"" c - j "\"" : "") "></td>"
      j = k < cells[i] ? cols[from[i, k + 1]] : last + 1
      if (figures[from[i, k]] > 0 && number(body[i, k])) j = c + 1
      span = j - c
      row = row "<td" (span > 1 ? " colspan=\"" span "\"" : "") \
        (number(body[i, k]) && figures[from[i, k]] > 0 ? " class=\"n\"" : \
         k < cells[i] && relation(body[i, k + 1]) ? " class=\"l\"" : \
         k < cells[i] && relation(body[i, k]) ? " class=\"r\"" : \
         from[i, k] == 150 && body[i, k] !~ /^[^ ]+( [^ ]+)? = / ? " class=\"m\"" : \
         length(body[i, k]) <= 18 ? " class=\"s\"" : "") ">" cell(body[i, k]) "</td> "
    }
    html = html "<tr>" row "</tr>\n"
  }
  row = "eq" (deep ? " deep" : "") (formulas * 2 > rows ? " f" : "")
  return "<div class=\"" row "\"><table>\n" html "</table></div>\n"
}
