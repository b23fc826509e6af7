# run.sh - inputs from files, pipes and the generator; outputs as summaries and files.
. "$ROOT/test/cli/common.inc"

dense dense.onnx
run_as 0 compile dense.onnx -o dense.holo -q

run_as 0 run dense.holo
has out "y  float32 [1, 3]"
has out "min "
run_as 0 run dense.onnx --dim batch=7 --threads 2
has out "[7, 3]"
run_as 0 run dense.holo --shape x=2x2 --repeat 3
has err "3 runs"
run_as 0 run dense.holo --seed 1 --dim batch=9
cp out one
run_as 0 run dense.holo --seed 2 --dim batch=9
! cmp -s one out || fail "two seeds gave the same output"

# x = [[1, 2], [-1, 1]]: y = Relu(x W + b)
{
    printf '\223NUMPY\001\000\106\000'
    printf "%-69s\n" "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2), }"
    unhex "$(float_hex 1 2 -1 1)"
} >x.npy
unhex "$(tensor "2 2" x 1 2 -1 1)" >x.pb
run_as 0 run dense.holo --input x=x.npy --output-dir from_npy
has out "max 6"
run_as 0 run dense.holo --input x=x.pb --output-dir deep/from_pb
cmp -s from_npy/0_y.npy deep/from_pb/0_y.npy || fail ".npy and .pb give different outputs"
run_as 0 run dense.holo --input x=- --output-dir - -q <x.npy
cmp -s from_npy/0_y.npy out || fail "pipes give another output"
run_as 0 run dense.holo --input x=x.npy --input x=const=1 --dim batch=2
has out "[2, 3]"
run_as 0 run dense.onnx --input x=x.npy --dump-values values
ls values/*_y.npy >/dev/null 2>&1 || fail "the value y was not dumped"

run_as 1 run dense.holo --input z=x.npy
has err "the inputs are x"
run_as 1 run dense.holo --dim bacth=3
has err "--dim bacth=3 names no open dimension of an input; there are batch"
run_as 1 run dense.holo --dim batch
has err "names no open dimension"
run_as 2 run dense.holo --dim batch=three
has err "expected a number"
run_as 2 run dense.holo --mean a,b,c
has err "three numbers"
run_as 1 run dense.holo --input x=absent.npy
has err absent.npy
run_as 1 run dense.holo --input x=x.txt
has err "expected a .npy"
run_as 1 run dense.holo --shape x=2x3
has err "'x'"
head -c 90 x.npy >cut.npy
run_as 1 run dense.holo --input x=cut.npy
has err "cut short"
run_as 1 run dense.holo --input x=x.npy --output-dir x.npy
has err x.npy
{
    printf '\223NUMPY\001\000\106\000'
    printf "%-69s\n" "{'descr': '<i8', 'fortran_order': False, 'shape': (1, 2), }"
    printf '\001\000\000\000\000\000\000\000\001\000\000\000\000\000\000\000'
} >wrong.npy
run_as 1 run dense.holo --input x=wrong.npy
has err int64
run_as 1 run dense.holo --max-memory 1K --shape x=1000000x2
finish
