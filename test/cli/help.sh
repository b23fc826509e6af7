# help.sh - help, completions and the manual page come from the same tables and agree.
. "$ROOT/test/cli/common.inc"

run_as 0 version
has out "hologram "
lines out 1
commands=$("$HOLOGRAM" --help | sed -n 's/^  \([a-z]*\)  *[A-Z].*/\1/p')
[ -n "$commands" ] || fail "no commands in the help"
"$HOLOGRAM" completions bash >bash.txt
"$HOLOGRAM" completions zsh >zsh.txt
"$HOLOGRAM" completions fish >fish.txt
"$HOLOGRAM" man >man.txt
for command in $commands; do
    run_as 0 "$command" --help
    has out "usage: hologram $command"
    has out "example:"
    grep -A1 '^example:' out | grep -q '^  .*hologram' || fail "$command has no example"
    has man.txt "hologram $command"
    for option in $(sed -n 's/^ .* *--\([a-z-]*\).*/\1/p' out); do
        grep -qF -e "--$option" bash.txt || fail "bash does not complete $command --$option"
        grep -qF -e "--$option" zsh.txt || fail "zsh does not complete $command --$option"
        grep -qF -e "-l $option" fish.txt || fail "fish does not complete $command --$option"
        sed 's/\\-/-/g' man.txt | grep -qF -e "--$option" || fail "the manual lacks $command --$option"
    done
    awk 'length > 100 { bad = 1 } END { exit bad }' out || fail "$command --help has lines above 100 columns"
done
if command -v bash >/dev/null; then
    bash -n bash.txt || fail "the bash completion is not a script"
    # shellcheck disable=SC2016
    got=$(bash -c 'source ./bash.txt; COMP_WORDS=(hologram run --thr); COMP_CWORD=2; _hologram; echo "${COMPREPLY[*]}"')
    [ "$got" = --threads ] || fail "bash completes --thr to '$got'"
fi
if command -v zsh >/dev/null; then zsh -n zsh.txt || fail "the zsh completion is not a script"; fi
if command -v fish >/dev/null; then fish -n fish.txt || fail "the fish completion is not a script"; fi
if command -v groff >/dev/null; then
    groff -man -Tascii -ww man.txt 2>warnings.txt >/dev/null
    [ ! -s warnings.txt ] || fail "the manual page: $(head -n 3 warnings.txt)"
fi

run_as 0 ops --json
grep -q '"name":"MatMul"' out || fail "ops --json does not list MatMul"
run_as 0 ops --mdx
has out "title: Operators"
has out "| MatMul |"
run_as 0 passes
finish
