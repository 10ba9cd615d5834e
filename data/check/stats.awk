# Lines, comment lines and their share, by part of sink.c and by file: make stats.
# A line counts as comment when any of it is one.
function flush_part() { if (lines) printf "%-34s %6d lines %6d with comment  %4.1f %%\n", part, lines, comments, 100 * comments / lines; lines = comments = 0 }
FNR == 1 { flush_part(); part = FILENAME; inside = 0 }
/^ \* PART / { flush_part(); part = "  " FILENAME ", part " $3 }
{ lines++; if (inside || /\/\*/ || /\/\//) comments++
  line = $0; while (match(line, /\/\*|\*\//)) { inside = substr(line, RSTART, 2) == "/*"; line = substr(line, RSTART + 2) } }
END { flush_part() }
