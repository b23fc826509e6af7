#!/bin/sh
# text2image.sh - the demo agrees with its reference, draws, and refuses what is wrong.
#
#     BUILD=build/release test/example/text2image.sh
#
# Compiles the three models into a temporary folder, so that it is this build which is tested.
set -eu

cd "$(dirname "$0")/../.."
build=${BUILD:-build/release}
models=examples/text2image/models
program=$build/text2image
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
trap 'exit 130' HUP INT TERM

fail() {
    echo "text2image.sh: $1" >&2
    exit 1
}

# expect CODE COMMAND...: what it prints is shown only when the exit code is another.
expect() {
    expected=$1
    shift
    code=0
    "$@" >"$folder/log" 2>&1 || code=$?
    [ "$code" -eq "$expected" ] && return
    cat "$folder/log" >&2
    fail "exit code $code instead of $expected: $*"
}

draw() {
    "$program" --models "$folder" --assets "$models" "$@"
}

for model in text_encoder unet vae_decoder; do
    expect 0 "$build/hologram" compile "$models/$model.onnx" -o "$folder/$model.holo"
done

draw --check-reference "$models/reference" || fail "the pictures differ from the reference"

expect 0 draw "red heart" --steps 2 --seed 7 --threads 1 -o "$folder/one.png"
expect 0 draw "red heart" --steps 2 --seed 7 --threads 2 -o "$folder/two.png"
expect 0 draw "red heart" --steps 2 --seed 8 --threads 2 -o "$folder/other.png"
expect 0 draw "pizza" --steps 1 --grid 2 -o "$folder/grid.png"
cmp -s "$folder/one.png" "$folder/two.png" || fail "the picture depends on the number of threads"
cmp -s "$folder/one.png" "$folder/other.png" && fail "two seeds give the same picture"

expect 2 draw
expect 2 draw "red heart" --steps 0
expect 2 draw "red heart" --unknown
expect 1 draw "red heart" -o "$folder/missing/one.png"
expect 1 draw "red heart" --models "$folder/missing"
expect 1 draw "red heart" --assets "$folder/missing"
head -c 1000 "$models/tokenizer.json" >"$folder/tokenizer.json"
expect 1 draw "red heart" --assets "$folder"
[ -z "$(find "$folder" -name '*.tmp')" ] || fail "a temporary file was left behind"
