# SPDX-License-Identifier: MIT
# Every relative link of Markdown pages: where one leads to a heading that its page has not, a line
# says so; every file that one leads to is printed behind `file`, with the page, for a shell to find.
#     awk -f data/check/links.awk $(git ls-files '*.md')
function plain(path,   at) {                               # a/../b is b
  gsub(/\/\.\//, "/", path); sub(/^\.\//, "", path)
  while (match(path, /[^\/]+\/\.\.\//)) {
    at = substr(path, RSTART, RLENGTH)
    if (at ~ /^\.\.\//) break
    path = substr(path, 1, RSTART - 1) substr(path, RSTART + RLENGTH)
  }
  return path
}
FNR == 1 { block = 0; waits = ""; folder = FILENAME; if (!sub(/[^\/]*$/, "", folder)) folder = ""; PAGE[FILENAME] }
/^ *```/ { block = !block }
block { next }
/^$/ { waits = "" }
/^#+ / {                                                   # the id that GitHub makes of a heading
  id = tolower($0); sub(/^#+ +/, "", id); gsub(/[^a-z0-9 _-]/, "", id); gsub(/ /, "-", id)
  ID[FILENAME, id]
}
{ line = waits $0; waits = ""                              # a link may be broken over two lines
  gsub(/`[^`]*`/, "", line)
  if (line ~ /\]\([^)]*$/ || line ~ /\[[^]]*$/) { waits = line " "; next }
  while (match(line, /\]\([^)]*\)/)) {
    link = substr(line, RSTART + 2, RLENGTH - 3); line = substr(line, RSTART + RLENGTH)
    gsub(/ /, "", link)
    if (link !~ /^[a-z]+:/) { FROM[++links] = FILENAME; TO[links] = link; AT[links] = folder }
  } }
END {
  for (i = 1; i <= links; i++) {
    path = id = TO[i]; sub(/#.*/, "", path)
    path = path == "" ? FROM[i] : plain(AT[i] path)
    print "file " path " " FROM[i]
    if (!sub(/.*#/, "", id) || (path in PAGE && (path, id) in ID)) continue
    print FROM[i] ": " TO[i] ": no such heading"
  }
}
