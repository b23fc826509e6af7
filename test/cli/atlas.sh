# atlas.sh - hologram atlas: every law holds, the classes are listed, both forms agree.
. "$ROOT/test/cli/common.inc"

run_as 0 atlas
lines out 12
broken=$(grep -c BROKEN out || true)
[ "$broken" = 0 ] || fail "a law is broken: $(grep BROKEN out)"
has out "group of 192 maps"
run_as 0 atlas --json
has out '"name":"fibres"'
run_as 0 atlas --list
lines out 97
grep -q '^   21   0 2 5  2a 2b$' out || fail "class 21 is $(sed -n 23p out)"
grep -q '^    5   0 0 5  0a 0b 3a 3b$' out || fail "class 5 is $(sed -n 7p out)"
run_as 2 atlas --json --list
has err "do not go together"
finish
