#!/bin/sh
# check_layers.sh - every #include "layer/..." below src/ is allowed by src/LAYERS and names a file.
set -eu
cd "$(dirname "$0")/.."

# shellcheck disable=SC2016
find src -name '*.[ch]' -o -name '*.inc' -o -name '*.def' | LC_ALL=C sort | xargs awk '
function complain(text) { printf "%s:%d: %s\n", FILENAME, FNR, text; bad = 1 }

FILENAME == "src/LAYERS" {
    sub(/#.*/, "")
    if (NF == 0) next
    layer = $1; sub(/:$/, "", layer); known[layer] = 1; allowed[layer, layer] = 1
    for (i = 2; i <= NF; i++) allowed[layer, $i] = 1
    next
}
FNR == 1 {
    split(FILENAME, part, "/"); from = part[2]
    if (!(from in known)) complain("layer " from " is missing in src/LAYERS")
}
/^[ \t]*#[ \t]*include[ \t]*"/ {
    path = $0; sub(/^[^"]*"/, "", path); sub(/".*/, "", path)
    if (path == "hologram.h" || path ~ /^[a-z0-9_]+_list\.inc$/) next
    if (path !~ /\//) { complain("write the layer: #include \"" from "/.../" path "\""); next }
    split(path, part, "/"); to = part[1]
    if (!((from, to) in allowed)) complain(from " may not include " path " (src/LAYERS)")
    else if ((getline line < ("src/" path)) < 0) complain("no such file: src/" path)
    else close("src/" path)
}
END { exit bad }
' src/LAYERS
