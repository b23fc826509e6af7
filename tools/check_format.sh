#!/bin/sh
# check_format.sh [--fix] [FILE...] - the C files are formatted as .clang-format says (version 14).
set -eu
cd "$(dirname "$0")/.."

fix=false
if [ "${1:-}" = --fix ]; then
    fix=true
    shift
fi

tool=$(command -v clang-format-14 || command -v clang-format || true)
case $("${tool:-false}" --version 2>/dev/null || true) in
*"version 14."*) ;;
*)
    echo "not checked: other versions of clang-format than 14 format differently"
    exit 77
    ;;
esac

if [ $# -eq 0 ]; then
    for folder in src include test examples bench fuzz tools; do
        [ -d "$folder" ] && set -- "$@" "$folder"
    done
fi

files() { find "$@" -name '*.[ch]' | LC_ALL=C sort; }

if $fix; then
    files "$@" | xargs -r "$tool" -i --style=file
    exit
fi
wrong=$(files "$@" | xargs -r "$tool" --dry-run --style=file 2>&1 | sed -n 's/^\([^ :]*\):[0-9].*/\1/p' | uniq)
[ -n "$wrong" ] || exit 0
printf '%s\n' "$wrong"
echo "not formatted: tools/check_format.sh --fix FILE... puts that right"
exit 1
