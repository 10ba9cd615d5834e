# SPDX-License-Identifier: MIT
# The paper's own claims by verdict: those whose reference is one of its sections or appendices, but
# for those that an item of predictions asks again.
# What nine million tokens judge (the table "On long") counts by that.
#     awk -F '|' -f data/paper/own.awk data/results/README.md
/^[0-9]+ claims on books/ { on = "books" }
/^<details>/ { again = /<b>prediction</ }
/^### On / { again = 0; on = $0; sub(/^### On /, "", on); sub(/:.*/, "", on) }
/^\| \*\*/ && !again && $4 !~ /prediction|arXiv/ {
  verdict = $2; sub(/\*\*:.*/, "", verdict); gsub(/\*/, "", verdict); gsub(/^ +| +$/, "", verdict)
  if (on == "books") of[$3] = verdict
  else if (on == "long" && $3 in of) of[$3] = verdict
}
END {
  for (claim in of) { n[of[claim]]++; all++ }
  printf "%d claims of the paper's own:", all
  split("reproduced,weaker than claimed,not reproduced,opposite,undecided,not run yet", name, ",")
  for (i = 1; i <= 6; i++) printf "%s %d %s", (i > 1 ? "," : ""), n[name[i]] + 0, name[i]
  print ""
}
