# full.sh - a disk that is full, stood for by the largest size of a file: one sentence, nothing left behind.
. "$ROOT/test/cli/common.inc"

trap '' XFSZ # the write fails instead of the program
model=$ROOT/examples/text2image/models/text_encoder.onnx

limited() { # COMMAND...
    code=0
    (ulimit -f 8 && exec "$HOLOGRAM" "$@") >out 2>err || code=$?
    [ "$code" -eq 1 ] || fail "hologram $*: exit code $code, expected 1"
    lines err 1
    has err "File too large"
}

mkdir new
limited compile "$model" -o new/model.holo -q
absent new/*
# What was there before stays as it was.
echo before >new/model.holo
limited compile "$model" -o new/model.holo -q
[ "$(cat new/model.holo)" = before ] || fail "the old file was touched"
[ "$(ls new)" = model.holo ] || fail "left behind: $(ls new)"
run_as 0 compile "$model" -o model.holo -q
# The other files that a compile writes.
limited compile "$model" --dim batch=1 --emit-c new/model.c -q
limited compile "$model" --quantize int8 --emit-onnx new/model.onnx -q
limited inspect model.holo --html new/model.html -q
for ending in c o; do
    limited embed model.holo -o new/model.$ending -q
done
[ "$(ls new)" = model.holo ] || fail "left behind: $(ls new)"
# One with the answers of a run, whose file is small enough, needs the memo to be too large.
dense d.onnx
mkdir in
unary same.onnx Identity
for seed in 1 2 3; do
    run_as 0 run same.onnx --seed $seed --output-dir seed
    mv seed/0_y.npy in/$seed.npy
done
limited compile d.onnx -o new/memo.holo --precompute in -q
[ "$(ls new)" = model.holo ] || fail "left behind: $(ls new)"
mkdir results
limited run model.holo --input input_ids=random --output-dir results
absent results/*
finish
