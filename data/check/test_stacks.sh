#!/bin/sh
# Small stacks: threads of 128 KiB, as musl gives them, and a main thread of 256 KiB. Training,
# evaluating, generating, dumping, checking, importing and exporting work there, and a training ends
# in the same bytes. From the folder that holds the programs:
#   sh data/check/test_stacks.sh          (make sink paper hf bench first; one that is not here is skipped)
# Ends with "N passed, N failed, N skipped".
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
trap 'exit 1' INT TERM
passed=0 failed=0 skipped=0

# small KIB COMMAND ..: with stacks of 128 KiB for threads and of KIB for the first.
small() {
  kib=$1
  shift
  (ulimit -s "$kib" && OMP_STACKSIZE=128k "$@") >"$folder/out" 2>&1 </dev/null
}
tried() {                                                    # NAME STATUS
  if [ "$2" -eq 0 ]; then passed=$((passed + 1)); return; fi
  failed=$((failed + 1))
  echo "$1: status $2, $(tail -1 "$folder/out")"
}

train="train --layers 2 --heads 4 --dim 160 --context 96 --batch 4 --steps 3 --quiet --threads 2 --force"
seq -s ' ' 1 17 >"$folder/ids"
[ -x ./sink ] || { echo "test_stacks.sh: expected ./sink, found none. Try: make"; exit 1; }
for program in sink paper hf bench; do
  if [ ! -x ./$program ]; then
    echo "./$program is not here: skip"
    skipped=$((skipped + 1))
    continue
  fi
  for extra in "--plain" "--kv-heads 2 --sim sigmoid" "--heads 2 --dim 384 --ffn 768"; do
    [ $program = sink ] || continue
    small 256 ./$program $train $extra --out "$folder/m.ckpt"
    tried "$program train $extra" $?
  done
  if [ $program = bench ]; then
    small 256 ./bench gemm --threads 2
    tried "bench gemm" $?
    continue
  fi
  ./$program $train --out "$folder/want.ckpt" >"$folder/out" 2>&1
  small 256 ./$program $train --out "$folder/m.ckpt" && cmp -s "$folder/m.ckpt" "$folder/want.ckpt"
  tried "$program train: the same bytes" $?
  for words in "eval MODEL --T 64 --n 4" "generate MODEL --n 8" "dump MODEL --ids IDS --out DIR" \
      "tokenize encode IDS" "list" "check prop1"; do
    [ $program = hf ] && case $words in list | check*) continue ;; esac
    [ $program = sink ] && case $words in generate* | tokenize*) continue ;; esac
    words=$(echo "$words" | sed "s|MODEL|$folder/m.ckpt|; s|IDS|$folder/ids|; s|DIR|$folder/d --force|")
    small 256 ./$program $words
    tried "$program $words" $?
  done
  case $program in
  sink | paper) small 256 ./$program run --steps 4 --n 4 --layers 1 --quiet --out "$folder/run" --force
    tried "$program run" $? ;;
  hf) small 256 ./hf export "$folder/m.ckpt" "$folder/llama" --force && small 256 ./hf "$folder/llama" --out "$folder/x.model" --force &&
      small 256 ./hf eval "$folder/x.model" --input random --T 16 --n 2
    tried "hf export, import, eval" $? ;;
  esac
done
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
