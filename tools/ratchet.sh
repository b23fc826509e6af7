#!/bin/sh
# ratchet.sh WRONG < OUTPUT - holds the output of `hologram verify` against the list of cases that are wrong.
#
# WRONG has one case per line; # starts a comment. A case that fails and is not listed is an error, and so
# is a listed case that passes: the list can only shrink. Ends with "N passed, N failed".
set -eu
[ $# -eq 1 ] || { echo "usage: ratchet.sh WRONG < OUTPUT" >&2; exit 2; }
known=$1
[ -e "$known" ] || known=/dev/null

awk -v list="$known" '
BEGIN {
    while ((getline line < list) > 0) {
        sub(/#.*/, "", line); gsub(/[ \t\r]/, "", line)
        if (line != "") known[line] = 1
    }
}
$1 == "PASS" || $1 == "FAIL" || $1 == "SKIP" { name = $2; sub(/:$/, "", name) }
$1 == "PASS" && (name in known) { print "passes now, remove it from " list ": " name; failed++; next }
$1 == "PASS" { passed++; next }
$1 == "FAIL" && (name in known) { expected++; next }
$1 == "FAIL" { print; failed++; next }
$1 == "SKIP" { skipped++; next }
/^[0-9]+ passed, [0-9]+ failed, [0-9]+ skipped(, [0-9]+ random)?$/ { ended = 1; count = $1 + $3 + $5 + $7 }
END {
    seen = passed + failed + expected + skipped
    if (!ended) { print "verify ended before its last line, after " seen " cases"; failed++ }
    else if (count != seen) { print "verify counts " count " cases but names " seen; failed++ }
    printf "%d expected failures, %d skipped\n", expected, skipped
    printf "%d passed, %d failed\n", passed, failed
    exit failed > 0
}
'
