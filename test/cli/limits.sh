# limits.sh - --max-memory and --max-time: one sentence, nothing left behind, and what fits still runs.
. "$ROOT/test/cli/common.inc"

dense dense.onnx
run_as 1 compile dense.onnx -o dense.holo --max-memory 10K -q
has err memory
absent dense.holo
run_as 0 compile dense.onnx -o dense.holo --max-memory 64M --max-time 60000 -q

run_as 1 run dense.holo --dim batch=1000000 --max-memory 1M
has err "its limit is 1048576"
run_as 0 run dense.holo --dim batch=100 --max-memory 1M
run_as 1 run dense.holo --dim batch=20000000 --repeat 2 --max-time 1
has err "longer than 1 ms"
run_as 0 run dense.holo --dim batch=10 --max-time 60000

# Compiling stops in time, too.
model=$ROOT/examples/text2image/models/unet.onnx
run_as 1 compile "$model" -o unet.holo --max-time 1 -q
has err "the compile took longer than 1 ms"
absent unet.holo
finish
