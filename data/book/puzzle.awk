# puzzle.awk - sink.c with one function's body to be written; POSIX awk. Its files: puzzles.txt, sink.c.
#   awk -v list=1 ..                  a line for each puzzle
#   awk -v name=NAME ..               sink.c, the body gone and what puzzles.txt says in its place
#   awk -v name=NAME -v mistake=K ..  sink.c with the K-th likely mistake of that puzzle
#   awk -v name=NAME -v mistakes=1 .. the tests that must notice them, with what is wrong
# Ends with status 1 where a function or an `old` is not found, or found more than once.
function give_up(s) { print "puzzle: " s > "/dev/stderr"; bad = 1; exit 1 }
FNR == NR {
  if (/^puzzle /) {
    this = $2; title = $0; sub(/^[^:]*: */, "", title); sub(/:$/, "", $3)
    if (list) printf "%-15s %-18s %s\n", this, $3, title
    if (this == name) { of = $3; says = title }
  }
  if (this != name) next
  if (/^  /) TEXT[++texts] = substr($0, 3)
  if (/^mistake /) {
    MISTAKE[++n] = $0; sub(/^mistake /, "", MISTAKE[n])
  }
  if (/^- /) OLD[n] = substr($0, 3)
  if (/^[+] /) NEW[n] = substr($0, 3)
  next
}
list { exit }
FNR == 1 {
  if (of == "") give_up("expected a name of the list, found " name ". Try: make puzzle")
  if (mistakes) { for (k = 1; k <= n; k++) print MISTAKE[k]; exit }
  if (mistake && !(mistake in OLD)) give_up(name " has no mistake " mistake)
  print "/* puzzle " name ": " says ". Write `" of "`, then: make solve */"
}
# The head of a function may take some lines; its body is what lies between { and } at the edge.
index($0, "WIDE(" of ",") == 1 || (/^[a-z]/ && match($0, "[ *]" of "[(]")) {
  head = $0; inside = 1
}
inside == 1 && /;$/ { inside = 0 }                         # a prototype
inside == 1 && /[{]$/ {
  inside = 2; found++; print
  if (mistake) next
  print "  /* PUZZLE " name ": your lines go here."
  for (k = 1; k <= texts; k++) print "   * " TEXT[k] (k == texts ? " */" : "")
  print ""
  if (head !~ /^WIDE|^(static )?void /) print "  return 0;"
  next
}
inside == 2 && /^}/ { inside = 0 }
inside == 2 {
  if (!mistake) next
  while (at = index($0, OLD[mistake])) {
    $0 = substr($0, 1, at - 1) NEW[mistake] substr($0, at + length(OLD[mistake])); hits++
    if (index(NEW[mistake], OLD[mistake])) break
  }
}
{ print }
END {
  if (bad || list || mistakes) exit bad
  if (found != 1) give_up("expected one function " of ", found " found + 0)
  if (mistake && hits != 1)
    give_up(name ", mistake " mistake ": expected it once in " of ", found " hits + 0 ": " OLD[mistake])
}
