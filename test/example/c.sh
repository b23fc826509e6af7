#!/bin/sh
# c.sh - the examples in C and C++ compile without warnings and print what they should; the runtime as one file
# gives a program with its model inside.
#
#     BUILD=build/release test/example/c.sh
set -eu

ROOT=$(cd "$(dirname "$0")/../.." && pwd)
build=$(cd "$ROOT/${BUILD:-build/release}" && pwd)
HOLOGRAM=$build/hologram
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
trap 'exit 130' HUP INT TERM
cd "$folder"
. "$ROOT/test/cli/common.inc"
command -v cc >/dev/null || { echo "there is no cc" && exit 77; }
strict='-Wall -Wextra -Werror'

prints() { # TEXT COMMAND...
    want=$1
    shift
    got=$("$@" 2>&1) || fail "exit code $?: $*"
    case $got in
    *"$want"*) ;;
    *) fail "$*: '$want' is missing in '$got'" ;;
    esac
}

dense dense.onnx
for path in "$ROOT"/examples/0[1-58]_*.c; do
    # shellcheck disable=SC2086
    cc -std=c11 $strict -I"$ROOT/include" "$path" "$build/libhologram.a" -lm -lpthread -o "$(basename "$path" .c)" ||
        fail "$path does not compile"
done
prints '' ./02_compile dense.onnx dense.holo
prints 'y: float32 [1, 3] 0 0 1' ./01_run dense.holo
prints "is in the caller's array" ./03_zero_copy
prints "8 rows: " ./08_cache
prints '' ./04_custom_allocator
prints '1 xor 1 = 0' ./05_builder

if command -v c++ >/dev/null; then
    for path in "$ROOT/examples/07_run.cpp" "$ROOT/test/example/wrapper.cpp"; do
        # shellcheck disable=SC2086
        c++ -std=c++17 $strict -Wshadow -Wconversion -I"$ROOT/include" "$path" "$build/libhologram.a" -lm -lpthread \
            -o "$(basename "$path" .cpp)" || fail "$path does not compile"
    done
    prints 'y: 0 1 6 0 5 14' ./07_run dense.holo
    prints '' ./wrapper dense.holo
    if ./07_run missing.holo 2>message; then fail "07_run opened nothing"; fi
    has message missing.holo
fi

# embedded FOLDER ARGUMENTS...: the runtime as one file there, linked with the model into one program.
embedded() {
    name=$1
    shift
    "$ROOT/tools/amalgamate" --hologram "$HOLOGRAM" "$@" -o "$name"
    # shellcheck disable=SC2086
    cc -O1 $strict -I"$name" -I. "$ROOT/examples/06_embedded.c" "$name/hologram_rt.c" model.o -lm -lpthread \
        -o "$name/program" || fail "the runtime as one file does not compile: $*"
    rm "$name/hologram_rt.c"
}

# Made for a model with Relu, asked to run one that differs in its activation: a sentence, not a crash.
refuses_others() {
    unhex "$(model "$(bytes 1 "$(node MatMul product "x W" p)")$(bytes 1 "$(node Add bias "p b" s)")$(
        bytes 1 "$(node Sigmoid sigmoid s y)"
    )$(text 2 other)$(bytes 5 "$(tensor "2 3" W 1 2 3 -1 0 1)")$(bytes 5 "$(tensor 3 b 0 -1 1)")$(
        bytes 11 "$(value x batch 2)"
    )$(bytes 12 "$(value y batch 3)")")" >other.onnx
    run_as 0 compile -q other.onnx -o other.holo
    run_as 0 embed other.holo --symbol model -o other.o -q
    "$ROOT/tools/amalgamate" --hologram "$HOLOGRAM" --portable --kernels dense.holo -o few
    cc -O1 -Ifew -I. "$ROOT/examples/06_embedded.c" few/hologram_rt.c other.o -lm -lpthread -o few/other
    if few/other >out 2>err; then fail "a runtime for one model ran another"; fi
    has err "made without the lane operation sigmoid on f32"
}

if command -v python3 >/dev/null; then
    run_as 0 embed dense.holo --symbol model -o model.o -q
    run_as 0 embed dense.holo --symbol model -o model.h -q
    embedded few --kernels dense.holo
    embedded portable --portable --kernels dense.holo
    prints 'output 0: 3 of float32 0 0 1' few/program
    prints 'output 0: 3 of float32 0 0 1' portable/program
    size_few=$(wc -c <few/program)
    refuses_others
    embedded all
    prints 'output 0: 3 of float32 0 0 1' all/program
    [ "$(wc -c <all/program)" -gt "$size_few" ] || fail "the kernels of one model are as large as all"
fi
finish
