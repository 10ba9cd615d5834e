# SPDX-License-Identifier: MIT
# The paper's own claims by verdict: those whose reference is one of its sections or appendices, but
# for those that an item of predictions asks again.
# What nine million tokens judge (the page on-long.md) counts by that.
#     awk -F '|' -f data/paper/own.awk data/results/pages/*.md
FNR == 1 { again = blanks = 0; on = "books" }
/^# On / { on = $0; sub(/^# On /, "", on); sub(/:.*/, "", on) }
/^$/ { blanks++ }
blanks == 1 && /\(prediction\)/ { again = 1 }
/^\| \*\*/ && !again && $4 !~ /prediction|arXiv/ {
  sub(/^ \*\*/, "", $2); verdict = $2; sub(/\*\*.*/, "", verdict)
  if (on == "books") of[$3] = verdict
  else if (on == "long") longer[$3] = verdict
}
END {
  for (claim in longer) if (claim in of) of[claim] = longer[claim]
  for (claim in of) { n[of[claim]]++; all++ }
  printf "%d claims of the paper's own:", all
  split("reproduced,weaker than claimed,not reproduced,opposite,undecided,not run yet", name, ",")
  for (i = 1; i <= 6; i++) printf "%s %d %s", (i > 1 ? "," : ""), n[name[i]] + 0, name[i]
  print ""
}
