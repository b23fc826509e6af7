# exact.sh - with --numerics exact the same file and the same bits come out of two compilers' builds, the
# portable and the tuned kernels, those without AVX-512, one thread and two.
. "$ROOT/test/cli/common.inc"

model=$ROOT/examples/text2image/models/text_encoder.onnx
other=$ROOT/build/asan/hologram # by another compiler, with other optimisations
[ -x "$other" ] || other=$HOLOGRAM

results() { # FOLDER PROGRAM ARGUMENTS...
    folder=$1 program=$2
    shift 2
    "$program" run exact.holo --seed 3 --output-dir "$folder" "$@" >out 2>err ||
        fail "$program run $*: $(head -c 300 err)"
}

run_as 0 compile "$model" -o exact.holo --numerics exact -q
"$other" compile "$model" -o other.holo --numerics exact -q || fail "$other does not compile the model"
cmp exact.holo other.holo || fail "two builds make different files"
results tuned "$HOLOGRAM"
results threads "$HOLOGRAM" --threads 2
results reference "$HOLOGRAM" --reference
results avx2 "$HOLOGRAM" --no-avx512
results other "$other" --threads 2
[ -n "$(ls tuned)" ] || fail "there is no output"
for file in tuned/*; do
    for folder in threads reference avx2 other; do
        cmp "$file" "$folder/${file#tuned/}" || fail "$folder: other bits"
    done
done
finish
