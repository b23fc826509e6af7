# prove.sh - hologram prove: a file with a table, one without, and what is no .holo.
. "$ROOT/test/cli/common.inc"

# codes NAME DIM - ValueInfoProto of int8
codes() {
    text 1 "$1"
    bytes 2 "$(bytes 1 "$(number 1 3)$(bytes 2 "$(bytes 1 "$(number 1 "$2")")")")"
}

unhex "$(model "$(bytes 1 "$(node Abs abs x a)")$(bytes 1 "$(node Neg neg a b)")$(
    bytes 1 "$(node Relu relu b c)"
)$(bytes 1 "$(node Neg last c y)")$(text 2 chain)$(bytes 11 "$(codes x 1000000)")$(
    bytes 12 "$(codes y 1000000)"
)")" >chain.onnx
run_as 0 compile chain.onnx -o chain.holo
has out "tables   1"
run_as 0 prove chain.holo
has out "program int8 -> int8"
has out "1 proved, 0 failed"
run_as 0 compile chain.onnx -o table.holo --disable synthesize_tables
has out "tables   1"
run_as 0 prove table.holo
has out "table int8 -> int8"
has out "1 proved, 0 failed"
run_as 0 prove --json chain.holo
has out '"proved":1,"failed":0}'
run_as 0 compile chain.onnx -o plain.holo --disable collapse_tables
has out "tables   0"
run_as 0 prove plain.holo -q
has out "0 proved, 0 failed"
run_as 1 prove chain.onnx
has err "chain.onnx: this is not a .holo file"
run_as 1 prove absent.holo
has err "absent.holo"
finish
