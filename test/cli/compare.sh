# compare.sh - files that agree and files that do not.
. "$ROOT/test/cli/common.inc"

dense dense.onnx
run_as 0 compile dense.onnx -o fast.holo -q
run_as 0 compile dense.onnx -o plain.holo -q --no-optimize
run_as 0 compare fast.holo plain.holo
has out "output y: agrees"
run_as 0 compare dense.onnx fast.holo --dim batch=3
has out "values compared"
run_as 0 compare fast.holo plain.holo --inputs 'x:float32:6,2:rand'

unary abs.onnx Abs
unary neg.onnx Neg
run_as 1 compare abs.onnx neg.onnx --input x=const=2
has out "output y: departs"
has out "first departure: node 'the_Neg'"
run_as 1 compare dense.onnx abs.onnx
finish
