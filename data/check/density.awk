# SPDX-License-Identifier: MIT
# How dense is C code? A line for each file, NAME KEY=VALUE ..:
#     awk -f data/check/density.awk sink.c
#     awk -v from='^ [*] 1  ' -v to='^ [*] 7  ' -f data/check/density.awk sink.c      chapters 1 to 6
# Lines from one that matches `from` up to one that matches `to` count; without them all do.
#
# tokens         names, numbers, strings (one each) and every other character that is no blank; what
#                stands in a comment is none
# code           lines that hold a token; comment: lines that hold a comment alone, in per cent
# tokens_a_line  tokens over code lines
# over80         lines of more than 80 columns, in per cent
# statements     code lines that end two statements, in per cent: two semicolons outside parentheses
# bodies         code lines that hold a control (if, for, while) and its body, in per cent
# ternaries      question marks, for 1,000 lines

# A line without its comments, each string in it "$"; `inside` says whether a comment goes on.
function stripped(s,   out, end, two, quote) {
  if (inside) {
    end = index(s, "*/")
    if (!end) return ""
    inside = 0
    s = " " substr(s, end + 2)
  }
  while (match(s, /\/[*]|\/\/|["']/)) {
    two = substr(s, RSTART, 2)
    quote = substr(two, 1, 1)
    out = out substr(s, 1, RSTART - 1)
    s = substr(s, RSTART)
    if (two == "//") return out
    if (two == "/*") {
      end = index(substr(s, 3), "*/")
      if (!end) {
        inside = 1
        return out
      }
      out = out " "
      s = substr(s, end + 4)
    } else {
      end = quote == "'" ? match(s, "^'([^'\\\\]|\\\\.)*'") : match(s, "^\"([^\"\\\\]|\\\\.)*\"")
      out = out "$"
      s = substr(s, end ? RLENGTH + 1 : 2)
    }
  }
  return out s
}

# Does the line end two statements? `ends` is how many it ends.
function two_statements(s,   i, c, depth) {
  gsub(/[^();]/, "", s)
  ends = 0
  for (i = 1; i <= length(s); i++) {
    c = substr(s, i, 1)
    depth += (c == "(") - (c == ")")
    ends += c == ";" && depth <= 0
  }
  return ends >= 2
}

function percent(n, of) { return sprintf("%.1f", 100 * n / (of ? of : 1)) }

function show() {
  if (name == "") return
  printf "%s lines=%d code=%d tokens=%d tokens_a_line=%.1f over80=%s statements=%s", name, lines,
    code, tokens, tokens / (code ? code : 1), percent(wide, lines), percent(several, code)
  printf " bodies=%s ternaries=%.1f comment=%s\n", percent(bodies, code),
    1000 * ternaries / (lines ? lines : 1), percent(comments, lines)
  lines = code = tokens = wide = several = bodies = ternaries = comments = inside = 0
}

FNR == 1 {
  show()
  name = FILENAME
  on = from == ""
}
from != "" && $0 ~ from { on = 1 }
to != "" && $0 ~ to { on = 0 }
{
  c = stripped($0)
  if (!on) next
  lines++
  wide += length($0) > 80
  if (c !~ /[^ \t]/) {
    comments += $0 ~ /[^ \t]/
    next
  }
  code++
  ternaries += gsub(/[?]/, "?", c)
  several += two_statements(c)
  bodies += ends && c ~ /^[ \t]*(} ?)?(else )?(if|for|while)[^A-Za-z_0-9].*\).*;[ \t]*$/
  tokens += gsub(/[A-Za-z_][A-Za-z_0-9]*|[0-9][A-Za-z_0-9.]*/, " ", c) + gsub(/[^ \t]/, "", c)
}
END { show() }
