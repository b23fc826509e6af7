#!/bin/sh
# check_onefile.sh - the runtime as one file (tools/amalgamate) compiles: no two files have the same name for two things.
set -eu
cd "$(dirname "$0")/.."
command -v python3 >/dev/null || exit 0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
tools/amalgamate -o "$work"
gcc -std=c11 -Wall -Wextra -Werror -fsyntax-only -I"$work" "$work/hologram_rt.c"
