#!/bin/sh
# Mutation testing: one-line faults in Part I of sink.c, each of which test_sink.c must catch; or,
# with --later, in data/later/later.c, for data/check/test_rows.c and data/later/test_later.c.
#   sh data/check/mutants.sh [--later] [--tested] [--seed N] [--count N] [--jobs N] [--pick K]
# data/check/mutate.awk says which faults there are and draws them by the seed; --pick K tries the K-th of
# the draws alone, or the first behind it that counts. --tested says that `make test` has just passed:
# without a mutant only the quick tests run. Chapters 1 to 6 are mutated; chapter 7 is
# not: its checks are tests themselves,
# and what a check allows (its bounds, its sizes) has no test but that it holds.
# A draw that does not compile, or whose object file is the same as without it, is not counted.
# A mutant is caught by the first test that fails, crashes or takes more than LIMIT seconds of CPU time.
# The golden numbers run first, then other quick tests that tell much, then every test in the order
# of the list. What is left goes once more through all of them under ASan and UBSan (not with
# --later), as `make asan`,
# where the program without a mutant must pass first.
# Exit status 1 when a mutant survives. POSIX sh and awk; needs the memory of one test run a job.
seed=1 count=50 jobs=2 pick= later= tested=
LIMIT=100 CC=${CC:-cc}
FASTEST="golden__a sink norm_ratio model_loss schedule optimizer model_init"
if [ "$1" = --later ]; then later=1; shift; fi
if [ "$1" = --tested ]; then tested=1; shift; fi
while [ $# -gt 1 ]; do
    case $1 in
    --seed) seed=$2 ;; --count) count=$2 ;; --jobs) jobs=$2 ;; --pick) pick=$2 ;;
    *) break ;;
    esac
    shift 2
done
case $seed$count$jobs$pick in *[!0-9]*) set -- bad ;; esac
if [ $# -gt 0 ] || [ "$jobs" -lt 1 ] || [ "$count" -lt 1 ]; then
    echo "usage: sh data/check/mutants.sh [--later] [--tested] [--seed N] [--count N] [--jobs N] [--pick K]" >&2
    exit 2
fi
[ -n "$pick" ] && jobs=1 count=1

dir=out/mutants top=$PWD
FLAGS="-std=c11 -O1 -w -I. -DSINK_DOUBLE -DSINK_NO_MAIN -Dstatic= -Dinline="
LINK="-Wl,--allow-multiple-definition"
SANE="$FLAGS -fsanitize=address,undefined"
rm -rf $dir
mkdir -p $dir || exit 1

# Part I is compiled alone, a second or so each time; the rest of sink.c with the tests once. For
# that every function is made extern, and the rest sees Part I with prototypes in place of bodies.
awk -v dir=$dir '
{ line[NR] = $0 }
/^ \* PART I  / { one = NR - 1 }
/^ \* PART II  / { two = NR - 1 }
# WIDE(name, (parameters), (arguments)) to "static void name (parameters);"
function wide(head) {
    sub(/^WIDE\(/, "", head)
    name = head; sub(/,.*/, "", name)
    sub(/^[^(]*/, "", head); sub(/\)[ ,]*\([^()]*\)\).*/, ")", head)
    return "static void " name head ";"
}
END {
    for (i = 1; i < two; i++) print line[i] > (dir "/one.c")
    for (i = 1; i < one; i++) print line[i] > (dir "/rest.c")
    for (i = one; i < two; i++) {
        starts = line[i] ~ /^[A-Za-z_].*\(/ && line[i] !~ /;$/ && line[i] !~ /^(typedef|enum|struct|INLINE)/
        if (!starts || line[i] ~ /= *[^=]*$/ && line[i] !~ /\)/ || line[i] ~ /\] *= *\{?$/) { print line[i] > (dir "/rest.c"); continue }
        head = line[i]
        for (k = i; line[k] !~ /[{;]/; k++) head = head " " line[k + 1]
        if (line[k] ~ /\};? *$/ && line[k] !~ /^\}/) { print line[i] > (dir "/rest.c"); continue }
        if (line[k] !~ /\{ *$/) { while (i <= k) print line[i++] > (dir "/rest.c"); i--; continue }
        sub(/ *\{ *$/, "", head)
        print (head ~ /^WIDE/ ? wide(head) : head ";") > (dir "/rest.c")
        for (i = k; line[i] !~ /^\}/; i++) ;
    }
    for (i = two; i <= NR; i++) print line[i] > (dir "/rest.c")
}' sink.c
# The tests' own statics stay what they are.
awk -v rest=$dir/rest.c '/^#include "sink.c"/ { print "#include \"" rest "\"\n#undef static"; next } { print }' test_sink.c > $dir/test.c

# A copy of what data/later is compiled with, in folder $1, and one of its test programs, $2.
planted() {
    mkdir -p "$1/tree/data" && cp -R sink.c sink.h test_sink.c "$1/tree" &&
        cp -R data/later data/paper data/models data/text data/check "$1/tree/data"
}
of_later() { $CC -std=c11 -O2 -w -DSINK_DOUBLE "$1/tree/data/$2" -o "$1/test" -lm; }

# The parts that never change. The tests are optimised: all of them must end within the time limit,
# or it would catch what they do not.
build() {
    if [ -n "$later" ]; then
        { printf '/* ==========\n * 1  Rows of later papers */\n'; cat data/later/later.c; } > $dir/one.c
        LIMIT=300 FASTEST="golden__a row__e attention__ag model_forward__ag"
        return
    fi
    $CC $FLAGS -c $dir/one.c -o $dir/one.o && $CC $FLAGS -O2 -c $dir/test.c -o $dir/test.o
}
if ! build; then
    echo "mutants: expected Part I of sink.c, and the rest beside it, to compile alone" >&2
    exit 1
fi
most=$((3 * count + 60 + ${pick:-0}))
draw() { awk -v seed="$seed" -v draws=$most -v to=6 "$@" -f data/check/mutate.awk $dir/one.c; }
draw > $dir/draws

# try FOLDER PROGRAM [TEST]: prints what caught it, or nothing. The tests run in FOLDER, with files
# of their own.
# one.c and rest.c both hold the tables of Part I, which ASan would call a fault of every program.
try() {
    { (cd "$1" && export ASAN_OPTIONS=detect_odr_violation=0 && ulimit -t $LIMIT && exec "./$2" --first $3 > said 2> err); } 2> /dev/null
    status=$?
    [ $status = 0 ] && return
    caught=$(awk '$NF == "FAIL" { print $1; exit }' "$1/said")
    last=$(awk '$NF == "ok" || $NF == "skip" { x = $1 } END { print x }' "$1/said")
    where="in ${3:-the list}, after ${last:-nothing}"
    if [ -n "$caught" ]; then echo "$caught"
    elif [ $status -gt 128 ]; then echo "a crash or the time limit $where"
    else echo "status $status $where"
    fi
}

# The program of this worker once more with the sanitizers, if the compiler has them.
sane() {
    if [ ! -f $at/sane.o ]; then
        $CC $SANE -O2 -c $dir/test.c -o $at/sane.o
    fi 2> $at/err && $CC $SANE $LINK $at/one.c $at/sane.o -o $at/sane -lm 2> $at/err
}

# Nor may a test fail under the sanitizers without a mutant. To know takes long: it waits for the
# first mutant that is left over, and the worker that has it finds out for all.
sound() {
    if mkdir $dir/sound 2> /dev/null; then
        $CC $SANE $LINK $dir/one.c $at/sane.o -o $dir/0/sane -lm &&
            (LIMIT=$((8 * LIMIT)); try $dir/0 sane 2> /dev/null) > $dir/sound/said ||
            echo "it does not link" > $dir/sound/said
        : > $dir/sound/done
    fi
    while [ ! -f $dir/sound/done ]; do sleep 5; done
    [ ! -s $dir/sound/said ]
}

# worker W: the draws W, W + jobs, .. until its share of count mutants is done.
worker() {
    w=$1 at=$dir/$1 done=0
    share=$(((count + jobs - w) / jobs))
    mkdir -p $at/out
    ln -s "$top/data" $at/data
    ln -s "$top/tokenizer.bin" $at/tokenizer.bin
    ln -s "$top/README.md" $at/README.md
    [ -z "$later" ] || planted $at
    k=${pick:-$w}
    while [ $done -lt $share ]; do
        says=$(sed -n "${k}p" $dir/draws)
        [ -n "$says" ] || break
        draw -v pick=$k > $at/one.c
        if [ -n "$later" ]; then
            cp $at/one.c $at/tree/data/later/later.c
            by=
            if [ "${says#*    (equal: }" != "$says" ]; then echo "draw $says" >> $at/skipped
            elif ! of_later $at check/test_rows.c 2> $at/err; then
                echo "draw $says: does not compile" >> $at/skipped
            else
                for some in $FASTEST ""; do
                    [ -n "$by" ] || by=$(try $at test $some 2> /dev/null)
                done
                [ -n "$by" ] || by=$(of_later $at later/test_later.c && try $at test 2> /dev/null)
                if [ -n "$by" ]; then echo "mutant $says: caught by $by"
                else echo "mutant $says: SURVIVED"
                fi | tee -a $at/results
                done=$((done + 1))
            fi
        elif ! $CC $FLAGS -c $at/one.c -o $at/one.o 2> $at/err; then
            echo "draw $says: does not compile" >> $at/skipped
        elif cmp -s $at/one.o $dir/one.o; then
            echo "draw $says: the same object file" >> $at/skipped
        elif [ "${says#*    (equal: }" != "$says" ]; then echo "draw $says" >> $at/skipped
        else
            $CC $LINK $at/one.o $dir/test.o -o $at/test -lm || break
            by=
            for some in $FASTEST ""; do
                [ -n "$by" ] || by=$(try $at test $some 2> /dev/null)
            done
            if [ -z "$by" ] && sane && sound; then
                by=$(LIMIT=$((8 * LIMIT)); try $at sane 2> /dev/null)
                [ -z "$by" ] || by="$by, under ASan and UBSan"
            fi
            if [ -n "$by" ]; then echo "mutant $says: caught by $by"
            else echo "mutant $says: SURVIVED"
            fi | tee -a $at/results
            done=$((done + 1))
        fi
        k=$((k + jobs))
    done
}

# Without a mutant no test may fail, or a mutant that is caught would say nothing.
control() {
    mkdir -p $dir/0/out
    ln -s "$top/data" $dir/0/data
    ln -s "$top/tokenizer.bin" $dir/0/tokenizer.bin
    ln -s "$top/README.md" $dir/0/README.md
    if [ -n "$later" ]; then planted $dir/0 && of_later $dir/0 check/test_rows.c
    else $CC $LINK $dir/one.o $dir/test.o -o $dir/0/test -lm
    fi || { echo "it does not link"; return; }
    for some in $FASTEST; do
        by=$(try $dir/0 test $some 2> /dev/null)
        [ -z "$by" ] || { echo "$by"; return; }
    done
    [ -z "$tested" ] || return
    by=$(try $dir/0 test 2> /dev/null)
    [ -z "$by" ] || { echo "$by"; return; }
    if [ -n "$later" ]; then
        of_later $dir/0 later/test_later.c || { echo "test_later.c does not link"; return; }
        try $dir/0 test 2> /dev/null
    fi
}
by=$(control)
if [ -n "$by" ]; then
    echo "mutants: expected tests that pass without a mutant, found: $by" >&2
    exit 1
fi

w=1
pids=
trap 'kill $pids 2>/dev/null; exit 130' INT TERM
while [ $w -le "$jobs" ]; do worker $w & pids="$pids $!"; w=$((w + 1)); done
wait
cat $dir/*/skipped > $dir/skipped 2>/dev/null
cat $dir/*/results > $dir/results 2>/dev/null
passed=$(grep -c ': caught by ' $dir/results)
failed=$(grep -c ': SURVIVED$' $dir/results)
echo "seed $seed: $(grep -c . $dir/skipped) draws passed over ($dir/skipped says why)"
if [ $((passed + failed)) -lt "$count" ]; then
    echo "mutants: expected $count, found $((passed + failed))" >&2
    failed=$((failed + 1))
fi
if [ -s $dir/sound/said ]; then
    echo "mutants: expected tests that pass under ASan and UBSan without a mutant, found:" \
        "$(cat $dir/sound/said)" >&2
    failed=$((failed + 1))
fi
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
