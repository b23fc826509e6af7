# memo.sh - precomputed answers, a memo that grows, quantised compiles and their ONNX file.
. "$ROOT/test/cli/common.inc"

dense d.onnx
mkdir in
# A file of the inputs: what a run of Identity gives back.
unary same.onnx Identity
for seed in 1 2 3; do
    run_as 0 run same.onnx --seed $seed --output-dir seed
    mv seed/0_y.npy in/$seed.npy
done

run_as 0 compile d.onnx -o d.holo --precompute in
has out "3 answers"
run_as 0 run d.holo --input x=in/2.npy --output-dir found
has err "1 hits, 0 misses; 3 precomputed"
run_as 0 run d.holo --input x=in/2.npy --no-memo --output-dir computed
cmp found/0_y.npy computed/0_y.npy || fail "a stored answer differs from a computed one"
run_as 0 run d.holo --memo 1M --repeat 3
has err "2 hits, 1 misses"
run_as 0 run d.onnx --memo 1M --repeat 3
has err "2 hits, 1 misses"
run_as 0 run d.onnx --memo 1M --repeat 3 --vary x=rand01
has err "0 hits, 3 misses"
run_as 2 run d.onnx --repeat 2 --vary x=sometimes
has err "sometimes"
run_as 1 run d.onnx --repeat 2 --vary z=rand
has err "names no input"
# y = (x x)(x x) + z: what x gives is known after the first run.
unhex "$(model "$(bytes 1 "$(node MatMul square "x x" p)")$(bytes 1 "$(node MatMul fourth "p p" q)")$(
    bytes 1 "$(node Add sum "q z" y)"
)$(text 2 power)$(bytes 11 "$(value x 96 96)")$(bytes 11 "$(value z 96 96)")$(bytes 12 "$(value y 96 96)")")" >p.onnx
run_as 0 run p.onnx --repeat 5 --vary z=rand --memo 4M --output-dir parts
has err "memo of prefixes: 4 hits, 1 misses"
run_as 0 run p.onnx --repeat 5 --vary z=rand --output-dir whole
cmp parts/0_y.npy whole/0_y.npy || fail "a run with a known part differs from a computed one"
run_as 1 compile d.onnx -o e.holo --precompute missing
has err "missing"
mkdir empty
run_as 1 compile d.onnx -o e.holo --precompute empty
has err "holds no .npy files"
absent e.holo

for mode in int8 int4 int2 ternary q96; do
    run_as 0 compile d.onnx -o q.holo --quantize $mode --emit-onnx q.onnx
    has out "product"
    has out "measured with one random input"
    run_as 0 run q.holo --input x=in/1.npy --output-dir a
    run_as 0 run q.onnx --input x=in/1.npy --output-dir b
    cmp a/0_y.npy b/0_y.npy || fail "$mode: the ONNX file gives something else"
done
run_as 0 compile d.onnx -o q.holo --quantize int8 --calibrate in
has out "static"
run_as 0 inspect q.holo
has out "int8 with activations"
for mode in int3 binary nf4 mxfp4 palette; do
    run_as 0 compile d.onnx -o q.holo --quantize $mode
    has out "panels of 32"
    run_as 0 run q.holo --input x=in/1.npy
    run_as 1 compile d.onnx -o q.holo --quantize $mode --emit-onnx q.onnx
    has err "no operator in ONNX"
done
run_as 0 compile d.onnx -o q.holo --quantize nf4 --calibrate in # measured with these
has out "panels of 32"
run_as 0 compile q.onnx -o e.holo --quantize int4 # codes already
has out "nothing is quantised"
rm -f e.holo
run_as 1 compile d.onnx -o e.holo --calibrate in
has err "need a way to quantise"
run_as 2 compile d.onnx -o e.holo --quantize int5
absent e.holo
finish
