#!/bin/sh
# run.sh [MODEL...] - whole models against ONNX Runtime: outputs agree within 1e-4 of the largest one
# (and the 2^-22 that ONNX Runtime itself may be off by).
# run.sh operators [PART] - single operators of com.microsoft instead; needs python3-onnx.
# Called by `./dev test models`; bench/run.sh says where models and peer are looked for.
set -eu
cd "$(dirname "$0")/../.."
if [ "${1:-}" = operators ]; then
    shift
    PYTHONDONTWRITEBYTECODE=1 exec python3 test/models/operators.py \
        "${HOLO_BENCH_BUILD:-build/release}/hologram" "${HOLO_BENCH_PEER:-build/peer}/ort_bench" "$@"
fi
exec bench/run.sh peers --accuracy "$@"
