#!/bin/sh
# SPDX-License-Identifier: MIT
# The vectors, and that they bite: the answers held to one another, the same bytes twice, wrong kernels
# caught and right ones passed. From the root of the repository:
#   sh data/check/vectors/test.sh
# PYTHON names a python3 with NumPy, and PyTorch if it is to be asked. Ends with "N passed, N failed, N
# skipped".
export PYTHONDONTWRITEBYTECODE=1
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
trap 'exit 1' INT TERM
passed=0 failed=0 skipped=0

# tried NAME STATUS: counts one.
tried() {
  if [ "$2" -eq 0 ]; then passed=$((passed + 1)); return; fi
  failed=$((failed + 1))
  echo "$1: FAIL"
}
# counted FILE: adds what its last line counts.
counted() {
  set -- $(tail -1 "$1" | tr -d ',')
  if [ "$2" = passed ]; then passed=$((passed + $1)) failed=$((failed + $3)); else tried "it ended early" 1; fi
}

${CC:-cc} -std=c11 -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-unused-function -Werror -O2 \
  data/check/vectors.c -o "$dir/vectors" -lm || { echo "0 passed, 1 failed"; exit 1; }
"$dir/vectors" check >"$dir/check"
grep FAIL "$dir/check"
counted "$dir/check"

"$dir/vectors" --out "$dir/one" >"$dir/said" && "$dir/vectors" --out "$dir/two" >"$dir/again"
tried "two runs, the same bytes" $?
diff -r "$dir/one" "$dir/two" >/dev/null
tried "two runs, the same bytes" $?
[ "$(sed 's/.*hash //' "$dir/said")" = "$(tail -2 "$dir/check" | sed -n 's/.*hash //p')" ]
tried "check has the hash of what is written" $?
"$dir/vectors" --seed 1 --dim 32 check >"$dir/check"
grep FAIL "$dir/check"
counted "$dir/check"
for wrong in "--dim 3" "--seed" "nobody"; do
  "$dir/vectors" $wrong >"$dir/said" 2>&1
  [ $? -eq 2 ] && grep -q "^vectors: .*Try: " "$dir/said"
  tried "./vectors $wrong" $?
done

# Python alone checks us against NumPy and PyTorch, where they are at hand.
PYTHON=${PYTHON:-python3}
if "$PYTHON" -c "import numpy" 2>/dev/null; then
  "$PYTHON" data/check/vectors/prove.py --cases "$dir/one" >"$dir/prove" 2>&1
  grep -v " ok$" "$dir/prove" | sed '$d'
  counted "$dir/prove"
  "$PYTHON" data/check/vectors/check_numpy.py --cases "$dir/one" >"$dir/said"
  tried "check_numpy.py's example" $?
  "$PYTHON" data/check/vectors/check_numpy.py --cases "$dir/none" >"$dir/said" 2>&1
  [ $? -eq 1 ] && grep -q "Try: make vectors" "$dir/said"
  tried "check_numpy.py without cases" $?
  "$PYTHON" -c "import torch" 2>/dev/null || { skipped=$((skipped + 1)); echo "PyTorch: skip, it is not here"; }
else
  skipped=$((skipped + 1))
  echo "right and wrong kernels: skip, no NumPy here"
fi
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
