#!/bin/sh
# check_attacks.sh [BUILD] - prints what test/fault/attacks.txt lists, an attack a line with its tests, and fails when
# an attack has none or one that it names is not there.
set -eu
cd "$(dirname "$0")/.."
build=${1:-build/release}
cases=$(mktemp)
trap 'rm -f "$cases"' EXIT
"$build/hologram_tests" --list >"$cases"

has() { # CASE, GROUP OF CASES OR FILE
    [ -e "$1" ] || grep -q -E "^$1(/|\$)" "$cases"
}

covered=0 bad=0 expected=1
while IFS= read -r line; do
    case $line in '#'*) continue ;; esac
    number=${line%% *} tests=${line##*: }
    [ "$number" -eq $expected ] || { echo "attack $expected is missing" && bad=1; }
    expected=$((number + 1))
    count=0
    for test in $tests; do
        if has "$test"; then count=$((count + 1)); else echo "attack $number: there is no $test" && bad=1; fi
    done
    [ $count -gt 0 ] && covered=$((covered + 1))
    printf '%2d  %d tests  %s\n' "$number" $count "${line#* }"
done <test/fault/attacks.txt
echo "$covered of $((expected - 1)) attacks have a test"
[ $bad -eq 0 ] && [ $covered -eq $((expected - 1)) ]
