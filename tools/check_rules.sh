#!/bin/sh
# check_rules.sh - rules a search can check: forbidden calls, dead code, marks without an issue, long files.
set -eu
cd "$(dirname "$0")/.."

sources() {
    for folder in src include test examples bench fuzz tools; do
        [ -d "$folder" ] && find "$folder" -name '*.[ch]'
    done | LC_ALL=C sort
}

# shellcheck disable=SC2016
sources | xargs awk '
function complain(text) { printf "%s:%d: %s\n", FILENAME, FNR, text; bad = 1 }
function stem(path) { sub(/.*\//, "", path); return path }
function length_check() { if (last > 1000) { printf "%s: %d lines, at most 1000\n", file, last; bad = 1 } }

FNR == 1 {
    length_check()
    file = FILENAME
    library = FILENAME ~ /^src\// && FILENAME !~ /^src\/(cli|io)\//
    in_comment = 0
    if (index($0, "/* " stem(FILENAME) " - ") != 1)
        complain("the first line says what the file is: /* " stem(FILENAME) " - one sentence. */")
}
{ last = FNR }

/[ \t]$/ { complain("space at the end of the line") }
/^[ \t]*#[ \t]*if[ \t]+0([^-9]|$)/ { complain("dead code: #if 0") }
/(TODO|FIXME)/ && !/(TODO|FIXME)[^#]*#[0-9]+/ { complain("a mark without the number of its issue") }

library {
    code = $0
    gsub(/"([^"\\]|\\.)*"/, "\"\"", code)
    gsub(/\/\*[^*]*\*\//, "", code)
    if (in_comment) { if (code !~ /\*\//) next; sub(/.*\*\//, "", code); in_comment = 0 }
    if (code ~ /\/\*/) { sub(/\/\*.*/, "", code); in_comment = 1 }
    if (code ~ /(^|[^A-Za-z0-9_.>])(v?f?printf|puts|putchar|perror|exit|_Exit|abort|alloca)[ ]*\(/)
        complain("the library never prints, exits or aborts")
    # libjpeg and libpng have no other way to report an error.
    if (FILENAME !~ /^src\/ext\/image_(jpeg|png)\.c$/ && code ~ /(^|[^A-Za-z0-9_.>])(setjmp|longjmp)[ ]*\(/)
        complain("no jumps")
    if (FILENAME != "src/base/alloc.c" &&
        code ~ /(^|[^A-Za-z0-9_.>])(malloc|calloc|realloc|free|aligned_alloc)[ ]*\(/)
        complain("memory comes from the allocator of the caller (base/alloc.c)")
}
END { length_check(); exit bad }
'
