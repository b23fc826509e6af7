#!/bin/sh
# run.sh [MODEL...] - whole models against ONNX Runtime: outputs agree within 1e-4 of the largest one
# (and the 2^-22 that ONNX Runtime itself may be off by).
# Called by `./dev test models`; bench/run.sh says where models and peer are looked for.
set -eu
cd "$(dirname "$0")/../.."
exec bench/run.sh peers --accuracy "$@"
