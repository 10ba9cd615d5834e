#!/bin/sh
# Tests the puzzles (data/book): sink.c itself passes all of them; without its body each one fails by
# a statement and does not crash; each likely mistake of puzzles.txt fails the test that is named
# beside it; what a reader wrote is kept. Ends with "N passed, N failed".
#   sh data/check/test_puzzles.sh [--some]     --some: of every third puzzle one mistake
# It compiles with tcc where there is one (0.2 s a puzzle), else with CC -O0.
dir=out/puzzles passed=0 failed=0
CC=${CC:-cc}
command -v tcc > /dev/null && CC=tcc
rm -rf $dir && mkdir -p $dir || exit 1
puzzle() { awk "$@" -f data/book/puzzle.awk data/book/puzzles.txt sink.c; }
play() { OUT=$dir CC=$CC sh data/book/puzzle.sh "$@"; }
verdict() {                                        # verdict STATUS WHAT
    if [ "$1" = 0 ]; then passed=$((passed + 1)); echo "$2 ok"
    else failed=$((failed + 1)); echo "$2 FAIL"; fi
}
# solve FILE TEST: the tests run on FILE, whose output is $dir/said; 255 where it does not compile.
solve() {
    $CC -O0 -w -I. -DSINK_DOUBLE "-DPUZZLE=\"$1\"" data/book/solve.c -o $dir/solve -lm > $dir/said 2>&1 || return 255
    (ulimit -t 300; exec $dir/solve $2) > $dir/said 2>&1
}

solve sink.c
verdict $? "sink.c itself passes every puzzle"
[ $failed = 0 ] || grep -A1 'FAIL$' $dir/said
at=0
for name in $(puzzle -v list=1 | cut -d ' ' -f 1); do
    at=$((at + 1))
    if [ "$1" = --some ] && [ $((at % 3)) != 1 ]; then continue; fi
    { puzzle -v name=$name > $dir/file.c && ! solve $dir/file.c ${name}__ && grep -q 'FAIL$' $dir/said &&
        grep -q '^[0-9]* passed, [1-9][0-9]* failed' $dir/said && ! grep 'ok$' $dir/said | grep -q by_hand; }
    verdict $? "$name: an empty body fails"
    puzzle -v name=$name -v mistakes=1 > $dir/mistakes
    [ "$(wc -l < $dir/mistakes)" -ge 3 ]
    verdict $? "$name: three mistakes or more"
    k=0
    while IFS=: read -r by says; do
        k=$((k + 1))
        if [ "$1" = --some ] && [ $k != $((1 + at / 3 % 3)) ]; then continue; fi
        { puzzle -v name=$name -v mistake=$k > $dir/file.c && ! solve $dir/file.c $by &&
            grep -q "^$by .*FAIL\$" $dir/said; }
        verdict $? "$name:$says: $(sed -n 's/.*; the first: //p' $dir/said | cut -c 1-100)"
    done < $dir/mistakes
done

# Names that are not there, a function that is not there, a mistake whose text is not.
play no_such > $dir/said 2>&1
[ $? = 2 ] && grep -q 'found no_such. Try: make puzzle' $dir/said
verdict $? "an unknown puzzle is a usage error"
echo "int main(void) { return 0; }" > $dir/file.c
! awk -v name=alpha -f data/book/puzzle.awk data/book/puzzles.txt $dir/file.c > $dir/said 2>&1 &&
    grep -q 'expected one function sink_alpha, found 0' $dir/said
verdict $? "a function that is gone is told"
sed 's/^- count = .*/- no such text/' data/book/puzzles.txt > $dir/table
! awk -v name=alpha -v mistake=1 -f data/book/puzzle.awk $dir/table sink.c > $dir/file.c 2> $dir/said &&
    grep -q 'alpha, mistake 1: expected it once in sink_alpha, found 0: no such text' $dir/said
verdict $? "a mistake that is not found is told"
# The reader's file: written, tried, written over as long as it is untouched, then kept.
! play --solve > $dir/said 2>&1 && grep -q 'Try: make puzzle' $dir/said
verdict $? "nothing to solve"
play alpha > $dir/said && play adamw >> $dir/said && grep -q '^/[*] puzzle adamw' $dir/puzzle.c
verdict $? "an untouched puzzle is written over"
! play --solve > $dir/said 2>&1 && grep -q 'adamw is not solved yet' $dir/said
verdict $? "an empty puzzle is not solved"
{ head -1 $dir/puzzle.c; cat sink.c; } > $dir/edited && cp $dir/edited $dir/puzzle.c
play alpha > $dir/said 2>&1
[ $? = 2 ] && grep -q 'holds what you wrote' $dir/said && cmp -s $dir/edited $dir/puzzle.c
verdict $? "what a reader wrote is kept"
play --solve > $dir/said 2>&1 && grep -q 'adamw is solved. The next: .*N=alpha' $dir/said
verdict $? "a solved puzzle names the next"
play alpha --force > $dir/said && grep -q '^/[*] puzzle alpha' $dir/puzzle.c
verdict $? "--force writes over it"
rm -f $dir/solve $dir/file.c
echo "$passed passed, $failed failed"
[ $failed = 0 ]
