#!/bin/sh
# run.sh [WHAT] [ARGUMENTS] - measures the release build; `./dev bench` builds it first and calls this.
#
#   open      opening a file, by its size and its number of steps; session, prepare and first run apart
#   prepare   settling sizes: a first one, further ones, ones seen before; nanoseconds per step
#   same      the same bits in repeated runs with 1, 2 and 4 threads, of every model; --runs N
#   size      code of the runtime, and of a program that runs one model with that model's kernels only
#   embed     one program with its model inside: bytes the runtime adds, time from start to first output
#   compile   time and peak memory of compiling
#   peers     against ONNX Runtime, interleaved: speed, accuracy, opening, memory, file size
#   zoo       against ONNX Runtime on models of many kinds with random weights, those of bench/zoo; zoo NAME...
#   web       in a browser against onnxruntime-web: speed, time to the first result, bytes downloaded
#   tables    computing by lookup: kernels, chains of 1 to 12 operations beside ONNX Runtime, frames of 3840 x 2160
#   qdq       models quantised to 8 bits: speed and error against float32, ONNX Runtime on the same file
#   lowbit    weights of 1 to 8 bits times a vector, one core, and ONNX Runtime's MatMulNBits beside it
#   passes    what each pass is worth: models compiled without it, against the whole pipeline
#   op [STEM] single kernels, bench/op/STEM.c
#
# Without WHAT: all but same, op, tables, qdq, passes, zoo and web. Each prints a table and writes bench/results/WHAT.json; peers and tables also draw
# WHAT.svg. Let nothing else run meanwhile.
#
# HOLO_BENCH_BUILD   the build to measure                       (build/release)
# HOLO_BENCH_PEER    folder with ort_bench                      (build/peer, made by ../shared/peers/setup)
# HOLO_BENCH_MODELS  folder with NAME/model.onnx                (build/models, made by ../shared/models/fetch)
# HOLO_BENCH_GRAPHS  folder with NAME.onnx and NAME.inputs      (build/graphs, made by fill_weights.py)
set -eu
cd "$(dirname "$0")/.."
build=${HOLO_BENCH_BUILD:-build/release}

die() {
    printf 'bench: %s\n' "$*" >&2
    exit 1
}

python() { # SCRIPT ARGUMENTS...
    command -v python3 >/dev/null || die "python3 is missing: apt-get install python3"
    script=$1
    shift
    PYTHONDONTWRITEBYTECODE=1 python3 "bench/$script.py" "$@"
}

bench_op() { # [STEM [WORD]]: the word, where a benchmark knows some, chooses a part of it
    mkdir -p build/bench
    for source in bench/op/*.c; do
        stem=$(basename "$source" .c)
        [ "${1:-$stem}" = "$stem" ] || continue
        "${CC:-cc}" -std=c11 -O2 -D_GNU_SOURCE -Isrc -Iinclude "$source" src/cli/peak.c "$build/libhologram.a" -lm -lpthread \
            -o "build/bench/op_$stem"
        echo "$stem"
        "build/bench/op_$stem" ${2:+"$2"}
    done
}

bench_lowbit() { # [N K GROUP]
    peer=${HOLO_BENCH_PEER:-build/peer}/ort_bench
    mkdir -p build/bench
    "${CC:-cc}" -std=c11 -O2 -Isrc -Iinclude -Ibench bench/lowbit.c "$build/libhologram.a" -lm -lpthread \
        -o build/bench/lowbit
    build/bench/lowbit "$@"
    [ -x "$peer" ] || return 0
    for level in 4 0; do
        for bits in 2 4 8; do
            build/bench/lowbit emit build/bench/lowbit.onnx "$bits" "${1:-4096}" "${2:-4096}" "${3:-128}" "$level"
            printf 'ONNX Runtime, MatMulNBits %s bits, accuracy_level %s: ' "$bits" "$level"
            "$peer" build/bench/lowbit.onnx --inputs "x:float32:1,${2:-4096}:rand" --threads 1 --budget-ms 300
        done
    done
    rm build/bench/lowbit.onnx
}

[ -x "$build/hologram" ] || die "there is no $build/hologram: ./dev build"
what=${1:-all}
[ $# -eq 0 ] || shift
case $what in
open | prepare | same | size | embed | compile | peers | zoo | web | tables | qdq | passes) python "$what" "$@" ;;
op) bench_op "$@" ;;
lowbit) bench_lowbit "$@" ;;
all)
    for each in open prepare size embed compile peers; do
        printf '\n== %s ==\n' "$each"
        python "$each"
    done
    ;;
-h | --help | help) sed -n '2,/^set/{/^#/s/^# \{0,1\}//p}' bench/run.sh ;;
*) die "there is nothing called $what to measure: open, prepare, same, size, embed, compile, peers, zoo, tables, qdq, web, lowbit or op" ;;
esac
