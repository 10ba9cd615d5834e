#!/bin/sh
# Whole training steps and their parts, before and after a change, on a quiet machine. From the root:
#   sh data/check/speed.sh [REVISION] [ROUNDS]       (874731e, 9; some 12 minutes)
# Both programs are ./bench, as it was at REVISION and as it is here; they run in turns. A row has medians
# over the rounds of the time of a step and of its part of the peak, and the median over pairs of time after
# by time before. Then `bench ops` of each.
before=${1:-874731e} rounds=${2:-9}
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
trap 'exit 1' INT TERM
export LC_ALL=C   # awk's numbers have a point
mkdir -p "$folder/before/data/check" &&
  for file in sink.c sink.h data/check/bench.c; do git show "$before:$file" >"$folder/before/$file" || exit 1; done
build="${CC:-cc} -O3 -fopenmp -w"
$build "$folder/before/data/check/bench.c" -o "$folder/bench-before" -lm &&
  $build data/check/bench.c -o "$folder/bench-after" -lm || exit 1
bench() { which=$1; shift; "$folder/bench-$which" "$@" </dev/null; }

demo="--steps 15"
dim256="--dim 256 --layers 6 --heads 4 --ffn 512 --context 256 --batch 8 --steps 4"
paper="--dim 768 --layers 10 --heads 8 --ffn 1536 --vocab 50432 --batch 1"
cores=$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 1)

# row NAME THREADS FLAGS ..
row() {
  name=$1 threads=$2
  shift 2
  round=0
  while [ $round -lt "$rounds" ]; do
    for which in before after; do
      said=$(bench $which step --threads "$threads" "$@") || exit 1
      echo "$which $said"
    done
    round=$((round + 1))
  done >"$folder/row"
  awk -v name="$name" -v threads="$threads" '
    function median(x, n,   i, j, t) {
      for (i = 2; i <= n; i++)
        for (j = i; j > 1 && x[j] < x[j - 1]; j--) { t = x[j]; x[j] = x[j - 1]; x[j - 1] = t }
      return (x[int((n + 1) / 2)] + x[int((n + 2) / 2)]) / 2
    }
    { split("", value); for (i = 2; i <= NF; i++) { split($i, word, "="); value[word[1]] = word[2] } }
    $1 == "before" { b++; old[b] = value["step_ms"]; old_part[b] = value["ratio"]; mb_old = value["memory_mb"] }
    $1 == "after" {
      a++; new[a] = value["step_ms"]; new_part[a] = value["ratio"]; mb_new = value["memory_mb"]
      pair[a] = new[a] / old[a]
    }
    END {
      printf "%-22s %7d %9.2f %9.2f %9.3f %9.3f %9.3f %7d %7d\n", name, threads, median(old, b), median(new, a),
          median(pair, a), median(old_part, b), median(new_part, a), mb_old, mb_new
    }' "$folder/row"
}

uptime
sed -n 's/^model name[^:]*: //p' /proc/cpuinfo 2>/dev/null | head -1
echo
printf '%-22s %7s %9s %9s %9s %9s %9s %7s %7s\n' step threads "ms before" after "by before" "of peak" after MB after
for threads in 1 $([ "$cores" -gt 1 ] && echo "$cores"); do
  row demo "$threads" $demo
  row dim256 "$threads" $dim256
  row 60M "$threads" $paper --context 256 --steps 2
done
row 60M-T2048 "$cores" $paper --context 2048 --steps 1
for threads in 1 $([ "$cores" -gt 1 ] && echo "$cores"); do
  for flags in "$demo" "$dim256"; do
    for which in before after; do
      echo
      echo "$which: bench ops --threads $threads $flags"
      bench $which ops --threads "$threads" $flags
    done
  done
done
uptime
