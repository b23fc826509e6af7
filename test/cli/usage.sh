# usage.sh - wrong usage is exit code 2, one sentence and a hint; a missing file is exit code 1.
. "$ROOT/test/cli/common.inc"

run_as 2
has err "usage: hologram COMMAND"
run_as 0 --help
has out "usage: hologram COMMAND"
run_as 2 rnu
has err "did you mean 'run'?"
run_as 2 zzzzzzzz
has err "unknown command 'zzzzzzzz'"
run_as 2 run
has err "run needs FILE"
run_as 2 run a b
has err "unexpected 'b'"
run_as 2 run --thread 2 a
has err "did you mean --threads?"
run_as 2 run -x a
has err "unknown option -x"
run_as 2 run a --threads
has err "needs a value"
run_as 2 run a --threads two
has err "not 'two'"
run_as 2 run a --quiet=yes
has err "takes no value"
run_as 2 compile a.onnx
has err "-o OUT.holo"
lines err 2
run_as 2 compile a.onnx -o a.holo --numerics wrong
has err "fast|exact"
run_as 2 compile a.onnx -o a.holo --dim batch
has err "batch=1"
run_as 2 compile a.onnx -o a.holo --shape x=1xa
has err "1x3x224x224"
run_as 2 compile a.onnx -o a.holo --max-memory many
run_as 2 inspect a --json --program
run_as 2 completions tcsh

run_as 1 run absent.holo
has err "absent.holo"
lines err 1
run_as 1 run absent.onnx
has err "absent.onnx"
run_as 1 run .
run_as 1 compile absent.onnx -o a.holo
has err "absent.onnx"
absent a.holo a.holo.*
run_as 1 verify absent
run_as 1 verify .
has err "no test cases"
printf 'this is no model, whatever its name says' >junk.holo
cp junk.holo junk.onnx
run_as 1 run junk.holo
lines err 1
run_as 1 run junk.onnx
lines err 1
run_as 1 inspect junk.holo
run_as 1 compile junk.onnx -o a.holo
absent a.holo a.holo.*

# Control characters of a name never reach the terminal.
run_as 1 run "$(printf 'a\033[31mb')"
! grep -q "$(printf '\033')" err || fail "an escape sequence was printed"

# A full disk behind standard output is not success.
if [ -w /dev/full ]; then
    code=0
    "$HOLOGRAM" --help >/dev/full 2>err || code=$?
    [ "$code" -eq 1 ] || fail "writing to a full device gave exit code $code"
fi
finish
