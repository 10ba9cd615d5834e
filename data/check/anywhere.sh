#!/bin/sh
# The propositions and the tests under every compiler and on every processor that is at hand, each
# from `cc -O3` as it stands and with -std=c11. Foreign processors run under QEMU's user mode,
# Windows under Wine. Prints a table; the exit status is 1 when something in it fails.
#
#     sh data/check/anywhere.sh                  every target that is installed: an hour or two
#     sh data/check/anywhere.sh tcc s390x        these
#     sh data/check/anywhere.sh --check aarch64  without the tests: a minute or two
#     sh data/check/anywhere.sh --all riscv64    all tests, those of hf and paper too: hours under QEMU
#     sh data/check/anywhere.sh --gnu riscv64    as cc -O3 alone, not with -std=c11 too
#     sh data/check/anywhere.sh --list           the targets, and what Debian calls their packages
#
# check    `sink check`, the propositions in float: hold + fail as they must
# float    the tests of the float build that pass, with --all hf's too; double: of the double build,
#          with --all paper's too
# reads    the loss of a model that `cc -O3` trained here, in units in the last place (ulp) of a
#          float from what cc -O3 finds itself, by `sink dump`; 0: the same bits
# back     cc -O3's loss of the model that this target trained, from the target's own
# trains   `cc` where that model's file has the bytes of cc -O3's, `c11` those of cc -O3 -std=c11's,
#          else its loss from cc's, in ulp
# Logs stay in out/anywhere/TARGET.
cd "$(dirname "$0")/../.." || exit 1
top=$(pwd) what=most asked= only= bad=0
slow="-gradients__every -gradients__wide -model_extend -attention__a -row__every -checkpoint__continues"
export WINEPREFIX="$top/out/anywhere/wine" WINEDEBUG=-all

for word; do
  case $word in
    --check) what=check ;;
    --all) what=all ;;
    --gnu) only=gnu ;;
    --list) what=list ;;
    *) grep "^ *target $word " data/check/anywhere.sh >/dev/null ||
           { echo "anywhere.sh: no target $word. Try: --list" >&2; exit 2; }
       asked="$asked $word" ;;
  esac
done

# ulp A B: how far apart two floats above 0 are, from their bits in hexadecimal.
ulp() {
  [ -n "$1" ] && [ -n "$2" ] || { echo FAIL; return; }
  far=$((0x$1 - 0x$2))
  [ ${far#-} -le 64 ] && echo $far || echo "FAIL:$far"
}
# bits FILE.npy: the last four bytes as a number, whatever this machine's order.
bits() { tail -c 4 "$1" 2>/dev/null | od -An -tx1 | awk '{ print $4 $3 $2 $1 }'; }
# loss MODEL, of fixed tokens, by the ./sink of the folder we are in.
loss() {
  rm -rf dump
  ./sink dump "$1" --ids ../ids --out dump >>log 2>&1 && bits dump/loss.npy
}
train() {
  ./sink train --quiet --seed 5 --layers 2 --dim 32 --context 32 --batch 4 --steps 50 --warmup 5 \
      --lr 3e-3 --extra kv --vbias --place post --norm layer --linear-bias --threads 1 \
      --text data/text/log.txt --valid 0.3 --out "$1" >>log 2>&1
}
# folder NAME: a place like the repository's root, without programs.
folder() {
  rm -rf "out/anywhere/$1" && mkdir -p "out/anywhere/$1/out" && cd "out/anywhere/$1" || exit 1
  ln -s "$top/data" "$top/tokenizer.bin" "$top/README.md" "$top/sink.c" "$top/sink.h" .
}
# built SOURCE PROGRAM FLAGS..: PROGRAM is a script where an emulator, $run, must begin it.
built() {
  source=$1 program=$2; shift 2
  case $run in
    qemu*)
      $cc "$@" "$top/$source" -o "$program.bin" -lm >>log 2>&1 || return 1
      printf '#!/bin/sh\nexec %s "%s/%s.bin" "$@"\n' "$run" "$(pwd)" "$program" >"$program"
      chmod +x "$program" ;;
    *) $cc "$@" "$top/$source" -o "$program" -lm >>log 2>&1 ;;
  esac
}
# Wine's programs are begun by ./sink too, a script beside sink.exe.
wined() { printf '#!/bin/sh\nexec wine "%s/%s.exe" "$@"\n' "$(pwd)" "$1" >"$1"; chmod +x "$1"; }

# tests PROGRAM SOURCES FLAGS..: "206 pass", or which fail; a * after it where slow ones are left out.
tests() {
  name=$1 sources=$2 less= star= n=0; shift 2
  case $what$run in mostqemu*) less=$slow star=' *' ;; esac
  for source in $sources; do
    program=$name$n n=$((n + 1))
    if built $source $program "$@" && { [ "$run" != wine ] || wined $program; }; then
      ./$program $less 2>&1
    else echo "$source FAIL"
    fi
  done >$name.log
  awk -v star="$star" -v runs=$n '{ sub(/\r$/, "") }                        # of Windows
       /FAIL$/ { bad = bad " " $1 } / skip$/ { skip++ }
       /^[0-9]+ passed, [0-9]+ failed/ { n += $1; end++; if ($3 > 0 && bad == "") bad = " " $3 }
       END { if (bad != "" || end < runs) print "FAIL:" (bad == "" ? " no end" : bad)
             else print n " pass" star (skip ? ", " skip " skip" : "") }' $name.log
}

# row NAME STANDARD: one line of the table, with $cc, $run and $flags.
row() {
  began=$(date +%s) float=- double=-
  (
    folder "$1${2:+-c11}"
    check=FAIL reads=FAIL back=FAIL trains=FAIL own=$(pwd)/own.ckpt
    case $1$2 in s390x-std=c11) flags="$flags -fexcess-precision=fast" ;; esac
    if built sink.c sink -O3 $2 $flags && { [ "$run" != wine ] || wined sink; }; then
      ./sink check >check.log 2>&1 && check=$(awk '/ 0 WRONG$/ { print $1 + 0 "+" $3 + 0 }' check.log)
      reads=$(ulp "$(loss ../cc/own.ckpt)" "$(cat ../cc/loss)")
      if train own.ckpt; then
        mine=$(loss own.ckpt)
        back=$(ulp "$(cd ../cc && loss "$own")" "$mine") trains=$(ulp "$mine" "$(cat ../cc/loss)")
        cmp -s own.ckpt ../cc-c11/own.ckpt && trains=c11
        cmp -s own.ckpt ../cc/own.ckpt && trains=cc
      fi
    fi
    hf= paper= checks= unbuilt=
    for each in rows program text kernels; do checks="$checks data/check/test_$each.c"; done
    if [ $what = all ]; then
      hf=data/check/test_hf.c paper="data/check/test_paper.c data/later/test_later.c"
    fi
    if [ $what != check ]; then
      for program in hf paper; do
        source=models/hf.c
        [ $program = hf ] || source=paper/paper.c
        built data/$source $program -O3 $2 $flags && { [ "$run" != wine ] || wined $program; } ||
          unbuilt="$unbuilt:$program"
      done
      float=$(tests test "test_sink.c $checks $hf" -O3 $2 $flags)
      double=$(tests test-double "test_sink.c $checks $paper" -DSINK_DOUBLE -O3 $2 $flags)
      [ -z "$unbuilt" ] || float=FAIL$unbuilt
    fi
    version=$($cc -dumpfullversion 2>/dev/null || $cc -dumpversion 2>/dev/null)
    printf '%-8s %-8s %-4s %-8s %-16s %-16s %5s %5s %6s %5d s\n' "$1" "$version" "${2:+c11}" \
        "${check:-FAIL}" "$float" "$double" "$reads" "$back" "$trains" $(($(date +%s) - began))
  ) | tee "out/anywhere/$1.row"
  if [ ! -s "out/anywhere/$1.row" ] || grep FAIL "out/anywhere/$1.row" >/dev/null; then bad=1; fi
}

# target NAME PACKAGES COMPILER RUN FLAGS..: its row, where it is here and asked for.
target() {
  name=$1 packages=$2 cc=$3 run=$4; shift 4; flags=$*
  case " $asked " in "  " | *" $name "*) ;; *) return ;; esac
  for need in ${cc%% *} $run; do
    if ! command -v "$need" >/dev/null; then
      [ "$standard" ] || echo "$name: no $need here. Try: apt-get install $packages"
      return
    fi
  done
  if [ $what = list ]; then echo "$name: here ($cc $flags${run:+, under $run})"; return; fi
  row "$name" "$standard"
}

mkdir -p out/anywhere && awk 'BEGIN {
  for (b = 0; b < 4; b++) for (t = 0; t < 17; t++)
    printf "%d%s", (b * 977 + t * t * 61 + 40) % 2000, t < 16 ? " " : "\n" }' >out/anywhere/ids
if [ $what != list ]; then
  cc=cc run=
  if ! (folder cc-c11 && built sink.c sink -O3 -std=c11 && train own.ckpt) ||
      ! (folder cc && built sink.c sink -O3 && train own.ckpt && loss own.ckpt >loss); then
    echo "anywhere.sh: cc -O3 sink.c -o sink -lm failed: see out/anywhere/cc/log" >&2; exit 1
  fi
  printf '%-8s %-8s %-4s %-8s %-16s %-16s %5s %5s %6s %7s\n' target version '' check float double \
      reads back trains time
fi
for standard in '' -std=c11; do
  target gcc gcc gcc ''
  target clang clang clang ''
  target tcc tcc tcc ''
  target musl musl-tools musl-gcc '' -static
  target m32 gcc-i686-linux-gnu i686-linux-gnu-gcc '' -msse2 -mfpmath=sse -static
  target mingw "gcc-mingw-w64-x86-64 wine" x86_64-w64-mingw32-gcc wine -static
  target aarch64 "gcc-aarch64-linux-gnu qemu-user" aarch64-linux-gnu-gcc qemu-aarch64 -static
  target s390x "gcc-s390x-linux-gnu qemu-user" s390x-linux-gnu-gcc qemu-s390x -static
  target armhf "gcc-arm-linux-gnueabihf qemu-user" arm-linux-gnueabihf-gcc qemu-arm -static
  target riscv64 "gcc-riscv64-linux-gnu qemu-user" riscv64-linux-gnu-gcc qemu-riscv64 -static
  target ppc64le "gcc-powerpc64le-linux-gnu qemu-user" powerpc64le-linux-gnu-gcc qemu-ppc64le -static
  if [ $what = list ] || [ $only ]; then break; fi
done
if [ $what = most ]; then echo "* under QEMU without $slow; --all has them"; fi
exit $bad
