#!/bin/sh
# Beside busy programs the verbs of ./sink on all threads take about as long as on one, or less, though
# the other programs hold the cores that threads wait for. From the folder that holds ./sink:
#   sh data/check/test_busy.sh [REPEATS]     (make sink first; two minutes)
# A line for each verb: the median over pairs of runs of the time on all threads over that on one.
# One above 1.6 is measured again, with twice as many pairs: other programs of the machine may have come in
# between. A second one is a failure. Ends with "N passed, N failed, N skipped".
export LC_ALL=C   # awk's numbers have a point
repeats=${1:-5} worst=1.6
passed=0 failed=0 busy=
cores=$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 1)
[ -x ./sink ] || { echo "test_busy.sh: expected ./sink, found none. Try: make"; exit 1; }
case $cores,$(date +%N) in
1,* | *,*N* | *,) echo "one core, or no clock: skip"; echo "0 passed, 0 failed, 1 skipped"; exit 0 ;;
esac
folder=$(mktemp -d -p /dev/shm 2>/dev/null || mktemp -d) || exit 1   # in memory: a disk takes its own time
trap 'kill $busy 2>/dev/null; rm -rf "$folder"' EXIT
trap 'exit 1' INT TERM

# took ENVIRONMENT COMMAND ..: nanoseconds
took() {
  begin=$(date +%s%N)
  env -u OMP_NUM_THREADS "$@" >"$folder/out" 2>&1 </dev/null || { echo "$*: $(tail -1 "$folder/out")" >&2; return 1; }
  echo $(($(date +%s%N) - begin))
}

# ratio PAIRS COMMAND ..: the median over so many pairs
ratio() {
  i=0
  pairs=$1
  shift
  while [ $i -lt "$pairs" ]; do
    one=$(took OMP_NUM_THREADS=1 "$@") && all=$(took SINK=1 "$@") || return 1
    echo "$one $all"
    i=$((i + 1))
  done | awk '{ print $2 / $1 }' | sort -n | awk '{ r[NR] = $1 } END { if (NR == '"$pairs"') print r[int((NR + 1) / 2)] }'
}

for i in 1 2 3 4 5 6 7 8; do seq -s ' ' $i $((i + 128)); done >"$folder/ids"
./sink train --steps 1 --quiet --out "$folder/m" >"$folder/out" 2>&1 || { cat "$folder/out"; exit 1; }
for programs in 1 $((cores + 1)); do
  while [ "$(echo $busy | wc -w)" -lt "$programs" ]; do
    sh -c 'while :; do :; done' &
    busy="$busy $!"
  done
  for words in "train --steps 10 --quiet --force --out $folder/t" "eval $folder/m" \
      "eval $folder/m --T 32 --n 2" "run --steps 1 --n 1 --layers 2 --force --out $folder/r" "check" \
      "dump --ids $folder/ids --force --out $folder/d"; do
    verdict=FAILED
    for pairs in "$repeats" $((2 * repeats)); do
      r=$(ratio "$pairs" ./sink $words)
      awk "BEGIN { exit !(${r:-9} < $worst) }" && verdict=passed && break
    done
    [ $verdict = passed ] && passed=$((passed + 1)) || failed=$((failed + 1))
    echo "beside $programs: ${r:-none} of $pairs $verdict  ${words%% -*}" | sed "s|$folder/||"
  done
done
echo "$passed passed, $failed failed, 0 skipped"
[ "$failed" -eq 0 ]
