#!/bin/sh
# Every command of the README and of the pages behind it, in small (of a script that it is there, of make
# that it has the target), every script of the project, make clean, and a clone and texts whose lines
# end in CR LF. From the folder that holds the programs (make
# sink paper hf bench):
#   sh data/check/test_scripts.sh
#
# A command is what stands in backticks or at the start of a line of a block and begins with one of
# our programs, make, cc, python3, .ci or ./out. It runs in a copy of the folder with files that have the
# pages' names; a training is of two steps, a table is shown and not made. What needs hours,
# another machine or a library that is not here is skipped with a word. Ends with "N passed, N
# failed, N skipped".
top=$PWD
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
trap 'exit 1' INT TERM
passed=0 failed=0 skipped=0

# tried NAME STATUS: the command's last line is in $dir/said.
tried() {
  if [ "$2" -eq 0 ]; then passed=$((passed + 1)); return; fi
  failed=$((failed + 1))
  printf '%s: status %s, %s\n' "$1" "$2" "$(tail -1 "$dir/said" | cut -c1-300)"
}
skip() {
  skipped=$((skipped + 1))
  printf '%s: skip, %s\n' "$1" "$2"
}
within() {                                                   # SECONDS COMMAND ..
  timeout "$@" >"$dir/said" 2>&1 </dev/null
}

# ---- the scripts -----------------------------------------------------------------------------------

for script in $(find data .ci -name '*.sh') .ci/*; do
  case $script in *.c | *.sh~) continue ;; esac
  head -1 "$script" | grep -q '^#!.*bash' && shell=bash || shell=sh
  command -v $shell >/dev/null || { skip "$script" "no $shell here"; continue; }
  $shell -n "$script" >"$dir/said" 2>&1
  tried "$shell -n $script" $?
done

# Without its library a script of Python says in one line what to install.
mkdir -p "$dir/none"
for name in torch transformers tokenizers sentencepiece numpy; do echo 'raise ImportError("none")' >"$dir/none/$name.py"; done
cat >"$dir/none/sitecustomize.py" <<'PY'
import importlib.util
found = importlib.util.find_spec
importlib.util.find_spec = lambda name, package=None: None if name in (
    "torch", "transformers", "tokenizers", "sentencepiece", "numpy", "gguf", "jax", "tinygrad",
    "mlx") else found(name, package)
PY
has() { python3 -c "import importlib.util as u, sys; sys.exit(any(u.find_spec(x) is None for x in sys.argv[1:]))" "$@"; }
if command -v python3 >/dev/null; then
  for script in $(find data -name '*.py' ! -name needs.py); do
    PYTHONPATH="$dir/none" PYTHONDONTWRITEBYTECODE=1 within 60 python3 "$script" a b
    status=$?
    [ $status -eq 1 ] && [ "$(wc -l <"$dir/said")" -eq 1 ] && grep -q '^[a-z_]*\.py: .*Try: ' "$dir/said"
    tried "python3 $script without its libraries" $?
  done
  golden=data/check/golden
  if has torch numpy; then
    within 900 python3 $golden/dump_check.py --count 4 --double
    tried "dump_check.py" $?
    within 900 python3 $golden/golden.py --check
    tried "golden.py --check" $?
  else skip "dump_check.py, golden.py" "no torch here"; fi
  if has transformers tokenizers; then
    within 900 python3 $golden/hf_keys.py --count 30
    tried "hf_keys.py" $?
  else skip "hf_keys.py" "no transformers here"; fi
  if has transformers tokenizers sentencepiece; then
    within 900 python3 $golden/hf_pieces.py --count 30
    tried "hf_pieces.py" $?
  else skip "hf_pieces.py" "no sentencepiece here"; fi
  if has torch transformers tokenizers; then
    mkdir -p "$dir/empty" && (cd "$dir/empty" && within 120 python3 "$top/$golden/hf_check.py")
    [ "$(grep -c 'Try: make sink hf$' "$dir/said")" -eq 1 ] && [ "$(wc -l <"$dir/said")" -eq 1 ]
    tried "hf_check.py where no ./hf is" $?
    ./sink train --layers 2 --dim 32 --context 96 --steps 20 --quiet --force --out "$dir/m.ckpt" >"$dir/said" 2>&1 &&
      within 900 python3 $golden/hf_check.py "$dir/m.ckpt"
    tried "hf_check.py" $?
    version=$(python3 -c 'import transformers; print(transformers.__version__)')
    for name in hf_tiny hf_families hf_words; do
      if head -1 $golden/$name.txt | grep -q "transformers $version\b"; then
        within 1800 python3 $golden/$name.py --check
        tried "$name.py --check" $?
      else skip "$name.py --check" "another transformers ($version) than the file's"; fi
    done
  else skip "hf_check.py, hf_tiny.py, hf_families.py, hf_words.py" "no torch and transformers here"; fi
else skip "the scripts of Python" "no python3 here"; fi
skip "hf_gguf.py, peer.py" "a model to download; minutes (.ci/peer has what it says without torch)"

# ---- the pages: README.md and those behind it ------------------------------------------------------

pages="README.md data/README.md data/commands.md $(echo data/[!r]*/README.md)"
awk 'length > 110 { print "line " FNR ": " length " columns" } END { if (NR > 130) print NR " lines" }' \
  README.md >"$dir/said"
[ ! -s "$dir/said" ]
tried "README.md in 130 lines of 110 columns" $?
[ "$(wc -l <data/README.md)" -le 100 ]
tried "data/README.md in 100 lines" $?
# A relative link of any .md leads to a file and to a heading in it, and every page has a link to it.
find README.md data -name '*.md' >"$dir/pages"
awk -f data/check/links.awk $(cat "$dir/pages") >"$dir/links"
sed -n 's/^file //p' "$dir/links" | while read -r to from; do [ -e "$to" ] || echo "$from: $to"; done >"$dir/said"
grep -v '^file ' "$dir/links" >>"$dir/said"
[ ! -s "$dir/said" ] && [ "$(wc -l <"$dir/links")" -gt 150 ]
tried "links of the pages" $?
while read -r page; do
  [ $page = README.md ] || grep -q "^file $page " "$dir/links" || echo "$page"
done <"$dir/pages" >"$dir/said"
[ ! -s "$dir/said" ]
tried "a link to every page" $?

# ---- a clone as Git for Windows makes it, and texts whose lines end in CR LF --------------------------

cr=$(printf '\r')
if [ -e .git ] && command -v git >/dev/null; then
  git clone -q -c core.autocrlf=true . "$dir/clone" >"$dir/said" 2>&1 &&
    ! grep -rlI --exclude-dir=.git "$cr" "$dir/clone" >"$dir/said"
  tried "a clone with core.autocrlf=true has the same bytes" $?
else skip "a clone with core.autocrlf=true" "no git here"; fi
mkdir -p "$dir/crlf" && cp -R data tokenizer.bin "$dir/crlf/" && cp ./paper "$dir/crlf/" && (cd "$dir/crlf" &&
  find data -name '*.csv' -o -name '*.txt' -o -name '*.grammar' | while read -r file; do
    sed "s/$cr*\$/$cr/" "$file" >"$dir/lines" && mv "$dir/lines" "$file"; done)
for words in list "list --corpus story" "table4 --show" "generate --grammar data/text/story.grammar --n 3"; do
  ./paper $words >"$dir/want" 2>&1
  (cd "$dir/crlf" && ./paper $words) >"$dir/said" 2>&1 && cmp -s "$dir/want" "$dir/said"
  tried "paper $words, of files with CR LF" $?
done

# ---- the pages' commands -----------------------------------------------------------------------------

commands() {
  awk '
    function told(s) {
      gsub(/\\\|/, "|", s)
      if (s ~ /^(\.\/)?(sink|paper|hf|bench) / || s ~ /^(make|cc|python3|\.ci\/[a-z]+|parallel|rsync|sbatch|sh)( |$)/ ||
          s ~ /^\.\/out\//) if (!seen[s]++) print s }
    FNR == 1 { block = 0 }
    /^```/ { block = !block; next }
    block { s = $0; sub(/  .*/, "", s); sub(/ *#.*/, "", s); told(s); next }
    { n = split($0, part, "`"); for (i = 2; i <= n; i += 2) told(part[i]) }' $pages
}

mkdir "$dir/at" "$dir/at/out" "$dir/at/texts" || exit 1
cp -R data Makefile README.md sink.c sink.h test_sink.c tokenizer.bin "$dir/at/" || exit 1
for program in sink paper hf bench; do
  [ -x ./$program ] || { echo "test_scripts.sh: expected ./$program, found none. Try: make sink paper hf bench"; exit 1; }
  cp ./$program "$dir/at/"
done
commands >"$dir/commands"
cd "$dir/at" || exit 1
tiny="--layers 2 --dim 32 --ffn 48 --context 128 --batch 2 --steps 2 --quiet --force"
{
  ./paper generate --grammar data/text/story.grammar --n 300 >book.txt && cp book.txt other.txt && cp book.txt texts/books.txt
  for model in out/model.ckpt out/m.ckpt a.ckpt b.ckpt M MODEL; do ./sink train $tiny --pos learned --out $model || exit 1; done
  ./sink train $tiny --out rotary.ckpt && ./hf export rotary.ckpt FOLDER && cp -R FOLDER gpt2 && ./hf FOLDER --out out/m.model
  i=0; while [ $i -lt 3 ]; do seq -s ' ' 1 49; i=$((i + 1)); done >ids.txt
  ./paper tokenize train book.txt --vocab 300 --out my.tok
} >"$dir/said" 2>&1
tried "the files that the pages name" $?

# small COMMAND: the words that make it small, its placeholders filled.
small() {
  echo "$1" | sed -e 's/^\([a-z]\)/.\/\1/; s/--out \.\./--out made.ckpt/; s/ \.\.//; s/ >q$//' \
    -e 's/--text FOLDER/--text texts/; s/--texts FOLDER/--texts texts/; s/--domains FOLDER/--domains texts/' \
    -e 's/--text FILE/--text book.txt/; s/--grammar FILE/--grammar data\/text\/story.grammar/; s/ ITEM/ table4/; s/--\(csv\|report\|json\|log\) FILE/--\1 made.\1/; s/\bTUNED\b/tuned.ckpt/' \
    -e 's/export MODEL FOLDER/export rotary.ckpt llama/; s/export out\/model.ckpt/export rotary.ckpt/' \
    -e 's/check MODEL/check out\/m.model/; s/, `*--/ --/g'
}
# The words that only flags follow are those of a list: each is a flag of the verb.
listed() {
  for word in "$@"; do case $word in --[a-z]*) ;; *) return 1 ;; esac; done
}
known() {                                                    # PROGRAM VERB FLAGS ..
  "./$1" help "$2" >"$dir/said" 2>&1
  shift 2
  for word in "$@"; do grep -qE -e "^ *$word( |\$)" "$dir/said" || { echo "no $word" >"$dir/said"; return 1; }; done
}
while read -r command; do
  set -- $command
  program=${1#./} verb=$2
  case $command in
  parallel* | rsync* | sbatch*) skip "$command" "another machine"; continue ;;
  ./out/*) skip "$command" "make test runs it whole"; continue ;;
  .ci/*) [ -x "$top/$1" ]; tried "$command" $?; continue ;;
  python3* | sh\ *) [ -f "$2" ]; tried "$command" $?; continue ;;
  cc*out/puzzle.c*) skip "$command" "data/check/test_puzzles.sh compiles each"; continue ;;
  cc*.c*) within 300 $(echo "$command" | sed 's/-O3/-fsyntax-only/; s/-o [a-z]*//'); tried "$command" $?; continue ;;
  cc* | make) continue ;;
  make*) within 60 make -n "$2"; tried "make -n $2" $?; continue ;;
  *--verify* | *--row*) skip "$command" "a run of the paper, minutes"; continue ;;
  esac
  if [ $# -gt 2 ] && (shift 2; listed "$@") && [ $# -gt 3 ]; then
    known "$program" "$verb" $(shift 2; echo "$@")
    tried "$command" $?
    continue
  fi
  words=$(small "$command")
  case "$program $verb" in
  "paper report" | "paper list" | "paper all" | *" check" | *" list" | *" help") ;;
  "paper toy"*) ;;
  "paper table"* | "paper fig"* | "paper remedies" | "paper scale" | "paper ITEM")
    case $words in *--show* | *--commands*) ;; *) words="$words --show" ;; esac ;;
  *" run") words="$words --steps 2 --n 4 --layers 1 --quiet --force" ;;
  "hf gpt2" | "hf FOLDER") words="$words --force" ;;
  bench*) words="./bench $verb --help" ;;
  *)
    if [ $# -eq 2 ] || [ "$command" = "./paper tokenize train" ]; then words="./$program $verb --help"
    else case $verb in
      train)
        words="$words $tiny"
        case $words in *--start*) words=$(echo "$words" | sed 's/--layers 2 --dim 32 --ffn 48 --context 128//') ;; esac
        case $words in *--out*) ;; *) words="$words --out made.ckpt" ;; esac ;;
      eval)
        words="$words --n 4 --force"
        case $words in *--lengths* | *--T\ *) ;; *) words="$words --T 48" ;; esac
        case $words in *MODEL* | *" M "* | *.ckpt* | *.model*) ;; *) words=$(echo "$words" | sed 's/ eval / eval MODEL /') ;; esac ;;
      stream) words="$words --n 2" ;;
      dump) words="$words --layers 1 --dim 16 --force" ;;
      generate) case $words in *" --n "*) ;; *) words="$words --n 8" ;; esac ;;
      *) case $words in *--show*) ;; *) words="$words --force" ;; esac ;;
      esac; fi ;;
  esac
  within 240 sh -c "$words"
  tried "$command ($words)" $?
done <"$dir/commands"
[ "$(wc -l <"$dir/commands")" -ge 60 ]
tried "commands found in the pages" $?

# A C++ compiler is told at once that this is C.
! ${CC:-cc} -D__cplusplus=1 -x c -fsyntax-only sink.h >"$dir/said" 2>&1 && head -3 "$dir/said" | grep -q 'Try: a C compiler'
tried "sink.h refuses C++" $?

# make clean removes what make made, and no model.
mkdir -p out/run && : >out/test && : >out/run/softmax.ckpt && : >out/mine.model
make clean >"$dir/said" 2>&1 && [ ! -e sink ] && [ ! -e hf ] && [ ! -e out/test ] && [ -e out/mine.model ] &&
  [ -e out/run/softmax.ckpt ] && [ -e out/model.ckpt ] && [ -e book.txt ] && grep -q 'out/ keeps' "$dir/said"
tried "make clean keeps models" $?
rm -rf out && mkdir -p out/files_float && : >out/test-hf && make clean >"$dir/said" 2>&1 && [ ! -e out ]
tried "make clean removes an out/ of its own" $?
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
