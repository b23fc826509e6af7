#!/bin/sh
# prepare.sh - what the page serves, in build/web/public: the demo models as .holo and .onnx, and their tables; and the npm
# packages it is built with. `./dev web` builds hologram and the WebAssembly modules before.
set -eu
cd "$(dirname "$0")/.."
from=examples/text2image/models
to=build/web/public

newer() { [ -e "$2" ] && [ -z "$(find "$1" -newer "$2")" ]; } # SOURCE RESULT

compile() { # NAME RESULT FLAGS...
    onnx=$from/$1.onnx holo=$2
    shift 2
    if newer "$onnx" "$holo" && newer build/release/hologram "$holo"; then return 0; fi
    build/release/hologram compile -q "$onnx" -o "$holo" "$@"
}

mkdir -p $to/models/exact
for name in text_encoder unet vae_decoder; do
    compile $name $to/models/$name.holo
    compile $name $to/models/exact/$name.holo --numerics exact
    newer $from/$name.onnx $to/models/$name.onnx || cp $from/$name.onnx $to/models
done
cp $from/tokenizer.json $from/scheduler.json $to/models
rm -rf $to/hologram

if [ ! -d web/node_modules ] || [ web/package.json -nt web/node_modules ]; then
    (cd web && npm install --silent)
    touch web/node_modules
fi
