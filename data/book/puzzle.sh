#!/bin/sh
# The puzzles of sink.c: data/book/README.md says how they are played. POSIX sh and awk.
#   sh data/book/puzzle.sh                   their list, in reading order
#   sh data/book/puzzle.sh NAME [--force]    out/puzzle.c: sink.c with one body to be written
#   sh data/book/puzzle.sh --solve           that body's tests
# An out/puzzle.c that was edited is kept; --force writes over it. OUT names another folder than out.
out=${OUT:-out} CC=${CC:-cc}
puzzle() { awk "$@" -f data/book/puzzle.awk data/book/puzzles.txt sink.c; }
refuse() { echo "puzzle: $1" >&2; exit "${2:-2}"; }
sum() { cat sink.c sink.h | cksum; }
name_of() { sed -n '1s/^[/][*] puzzle \([a-z_]*\): .*/\1/p' "$1"; }

if [ $# = 0 ]; then
    puzzle -v list=1 || exit 1
    echo "make puzzle N=NAME writes $out/puzzle.c, and make solve tries it"
    exit
fi
if [ "$1" != --solve ]; then
    mkdir -p "$out" || exit 1
    puzzle -v name="$1" > "$out/puzzle.new" || { rm -f "$out/puzzle.new"; exit 2; }
    if [ -f "$out/puzzle.c" ] && [ "$2" != --force ]; then
        was=$(name_of "$out/puzzle.c")
        [ -n "$was" ] && puzzle -v name="$was" | cmp -s - "$out/puzzle.c" || {
            rm -f "$out/puzzle.new"
            refuse "$out/puzzle.c holds what you wrote, or an older sink.c. Try: mv -i $out/puzzle.c $out/${was:-mine}.c, or FORCE=1"
        }
    fi
    mv "$out/puzzle.new" "$out/puzzle.c" && sum > "$out/$1.sum" || exit 1
    echo "$out/puzzle.c:$(grep -n '/[*] PUZZLE' "$out/puzzle.c" | cut -d: -f1): $(head -1 "$out/puzzle.c" |
        sed 's/.*: \(.*\)\. Write.*/\1/'). Write it, then: make solve"
    exit
fi

[ -f "$out/puzzle.c" ] || refuse "expected $out/puzzle.c, found none. Try: make puzzle"
name=$(name_of "$out/puzzle.c")
[ -n "$name" ] || refuse "expected /* puzzle NAME: .. */ in line 1 of $out/puzzle.c, found none. Try: put it back"
$CC -O1 -Wall -Wno-unused -I. -DSINK_DOUBLE "-DPUZZLE=\"$out/puzzle.c\"" data/book/solve.c \
    -o "$out/solve" -lm > "$out/solve.log" 2>&1
compiled=$?
head -n 12 "$out/solve.log" >&2   # a brace that is missing makes 4,000 lines
[ $compiled = 0 ] || [ ! -f "$out/$name.sum" ] || [ "$(cat "$out/$name.sum")" = "$(sum)" ] ||
    echo "puzzle: sink.c or sink.h changed since this puzzle was made. Try: puzzles in a second clone" >&2
[ $compiled = 0 ] || refuse "$out/puzzle.c does not compile: all of it is in $out/solve.log" 1
(ulimit -t 60; exec "$out/solve" --first "${name}__")
status=$?
case $status in
0) next=$(puzzle -v list=1 | awk -v this="$name" 'found { print $1; exit } $1 == this { found = 1 }')
   echo "$name is solved${next:+. The next: mv -i $out/puzzle.c $out/$name.c && make puzzle N=$next}" ;;
1) echo "$name is not solved yet: above stands the first statement that does not hold" ;;
*) echo "$name: the test after the last line crashed or took 60 s (status $status)." \
       "Try: make solve CC='cc -g -fsanitize=address'" ;;
esac
[ $status = 0 ]
