# bench.sh - the fields of bench --json, the inputs it takes, and the profile.
. "$ROOT/test/cli/common.inc"

dense dense.onnx
run_as 0 compile dense.onnx -o dense.holo -q
run_as 0 bench dense.holo --json --budget-ms 20
lines out 1
keys=$(tr ',{}' '\n' <out | sed -n 's/^"\([a-z_]*\)":.*/\1/p' | tr '\n' ' ')
want="open_us session_us pool_us prepare_us first_ms median_ms min_ms n arena_bytes weight_bytes peak_rss_mb threads steps "
[ "$keys" = "$want" ] || fail "the fields are $keys"
run_as 0 bench dense.holo --inputs 'x:float32:4,2:rand' --threads 2 --budget-ms 20
has out "median"
run_as 0 bench dense.onnx --budget-ms 5 --profile
has out "by kernel"
has out "of peak"
has out "GFLOP/s,"
run_as 0 bench dense.holo --budget-ms 5 --profile --json
lines out 1
run_as 0 bench dense.holo --same 3
has out "the same bits in 9 runs with 1, 2 and 4 threads"
run_as 1 bench dense.holo --inputs 'z:float32:4,2:rand'
has err "the inputs are x"
run_as 1 bench dense.holo --inputs ''
has err "does not give input 'x'"
run_as 2 bench dense.holo --inputs 'x:float32:4,2'
has err "NAME:DTYPE:DIMS:FILL"
run_as 2 bench dense.holo --inputs 'x:float32:4,2:noise'
run_as 1 bench dense.holo --inputs 'x:float32:4,3:rand'
has err "'x'"
finish
