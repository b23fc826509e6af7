#!/bin/sh
# check_headers.sh - the public header is C99 and C++11, its wrapper C++17; every internal header compiles alone.
set -eu
cd "$(dirname "$0")/.."
bad=0
strict='-Wall -Wextra -Wpedantic -Werror -fsyntax-only'

# shellcheck disable=SC2086
compile() { # COMPILER ARGUMENTS...
    compiler=$1
    shift
    command -v "$compiler" >/dev/null || return 0
    "$compiler" $strict "$@" || bad=1
}

for compiler in gcc clang; do
    compile "$compiler" -std=c99 -x c include/hologram.h -Wno-pragma-once-outside-header
done
for compiler in g++ clang++; do
    compile "$compiler" -std=c++11 -x c++ include/hologram.h -Wno-pragma-once-outside-header
done
for compiler in g++ clang++; do
    compile "$compiler" -std=c++17 -x c++ include/hologram.hpp -Wno-pragma-once-outside-header
done
# Headers of an instruction set need its flags and are compiled by the build alone.
for header in $(find src -name '*.h' ! -path '*/backend/cpu/*/*' | LC_ALL=C sort); do
    compile gcc -std=c11 -Wno-unused-function -Iinclude -Isrc -x c "$header"
done
exit $bad
