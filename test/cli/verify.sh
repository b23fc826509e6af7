# verify.sh - cases that pass, fail, lack data, crash the reader; the last line and the exit code.
. "$ROOT/test/cli/common.inc"

one() { # NAME OP OUTPUT...
    set_folder=cases/$1/test_data_set_0
    mkdir -p "$set_folder"
    unary "cases/$1/model.onnx" "$2"
    shift 2
    unhex "$(tensor "2 2" x 1 -2 3 0)" >"$set_folder/input_0.pb"
    unhex "$(tensor "2 2" y "$@")" >"$set_folder/output_0.pb"
}

one test_right Abs 1 2 3 0
run_as 0 verify cases
has out "PASS test_right"
[ "$(tail -n 1 out)" = "1 passed, 0 failed, 0 skipped" ] || fail "the last line is '$(tail -n 1 out)'"

one test_wrong Abs 1 2 3 1
one test_odd NoSuchOperator 0 0 0 0
one test_shape Abs 1 2 3 0
unhex "$(tensor "4" y 1 2 3 0)" >cases/test_shape/test_data_set_0/output_0.pb
one test_cut Abs 1 2 3 0
printf '\010\002' >cases/test_cut/test_data_set_0/input_0.pb
mkdir -p cases/deep/test_empty
unary cases/deep/test_empty/model.onnx Abs
run_as 1 verify cases --jobs 2
has out "FAIL test_wrong: output 0: 1 of 4 values differ, first at 3: 0, expected 1"
has out "FAIL test_odd: compile: "
has out "FAIL test_shape: output 0: is float32 [2, 2], expected float32 [4]"
has out "FAIL test_cut: input 0: "
has out "SKIP test_empty: "
[ "$(tail -n 1 out)" = "1 passed, 4 failed, 1 skipped" ] || fail "the last line is '$(tail -n 1 out)'"
run_as 1 verify cases --skip-unsupported
has out "SKIP test_odd: compile: "
run_as 1 verify cases -q
! grep -q PASS out || fail "-q prints cases that pass"
run_as 0 verify cases --filter right
run_as 0 verify cases/test_right cases/deep
printf 'test_right # the good one\n' >list.txt
run_as 0 verify cases --list list.txt
for flags in --strip-shapes --no-optimize --poison --reference --no-avx512 '--threads 2'; do
    # shellcheck disable=SC2086
    run_as 0 verify cases/test_right $flags
done

# A random operator is judged by type, shape and distribution, and counted apart.
unhex "$(model "$(bytes 1 "$(node RandomUniformLike draw x y)")$(text 2 random)$(bytes 11 "$(value x 2 2)")$(
    bytes 12 "$(value y 2 2)"
)")" >random.onnx
if "$HOLOGRAM" compile random.onnx --check >/dev/null 2>&1; then
    one test_random Abs 0 1 1 0
    cp random.onnx cases/test_random/model.onnx
    run_as 1 verify cases/test_random
    has out "FAIL test_random: output 0: holds 0."
    has out "expected 0 and 1 alone"
    one test_random Abs 0.5 0.75 0.25 0.75
    cp random.onnx cases/test_random/model.onnx
    run_as 0 verify cases/test_random
    has out "PASS test_random: random, compared by type, shape and distribution"
    [ "$(tail -n 1 out)" = "0 passed, 0 failed, 0 skipped, 1 random" ] || fail "'$(tail -n 1 out)'"
    one test_random Abs 70 70 71 71
    cp random.onnx cases/test_random/model.onnx
    run_as 1 verify cases/test_random
    has out "expected about 70"
fi

# The layout of light/: NAME.onnx with NAME_output_0.pb, input x[i] = i / n.
mkdir light
unary light/ceiling.onnx Ceil
unhex "$(tensor "2 2" y 0 1 1 1)" >light/ceiling_output_0.pb
run_as 0 verify light
has out "PASS ceiling"
finish
