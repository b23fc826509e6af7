# bench.sh - the fields of bench --json, the inputs it takes, and the profile.
. "$ROOT/test/cli/common.inc"

dense dense.onnx
run_as 0 compile dense.onnx -o dense.holo -q
run_as 0 bench dense.holo --json --budget-ms 20
lines out 1
keys=$(tr ',{}' '\n' <out | sed -n 's/^"\([a-z_]*\)":.*/\1/p' | tr '\n' ' ')
want="open_us session_us pool_us prepare_us first_ms median_ms min_ms n arena_bytes weight_bytes peak_rss_mb threads steps "
[ "$keys" = "$want" ] || fail "the fields are $keys"
run_as 0 bench dense.holo --json --cold
keys=$(tr ',{}' '\n' <out | sed -n 's/^"\([a-z_]*\)":.*/\1/p' | tr '\n' ' ')
want="session_us pool_us prepare_us first_ms arena_bytes weight_bytes peak_rss_mb threads steps "
[ "$keys" = "$want" ] || fail "the fields of --cold are $keys"
run_as 0 bench dense.holo --cold
has out "first"
! grep -q median out || fail "--cold shows a median: $(cat out)"
run_as 2 bench dense.holo --cold --profile
has err "--cold takes neither"
run_as 2 bench dense.holo --cold --same 3
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

# Keys and values that grow in place: present.kv = Concat(past.kv, x), read by attention.
whole() { # NAME FIELD TYPE NUMBER... - an attribute
    bytes 5 "$(text 1 "$1")$(for n in $4; do number "$2" "$n"; done)$(number 20 "$3")"
}
unhex "$(model "$(bytes 1 "$(node Concat grow "past.kv x" present.kv)$(whole axis 3 2 2)")$(
    bytes 1 "$(node Transpose turn present.kv t)$(whole perm 8 7 "0 1 3 2")"
)$(bytes 1 "$(node MatMul scores "x t" s)")$(bytes 1 "$(node Softmax weights s w)")$(
    bytes 1 "$(node MatMul mix "w present.kv" mixed)"
)$(text 2 decoder)$(bytes 11 "$(value x 1 2 1 4)")$(bytes 11 "$(value past.kv 1 2 p 4)")$(
    bytes 12 "$(value mixed 1 2 1 4)"
)$(bytes 12 "$(value present.kv 1 2 q 4)")")" >decoder.onnx
run_as 0 compile decoder.onnx -o decoder.holo -q
run_as 0 bench decoder.holo --dim p=100 --json --budget-ms 5
copied=$(sed -n 's/.*"arena_bytes":\([0-9]*\).*/\1/p' out)
run_as 0 bench decoder.holo --dim p=100 --json --budget-ms 5 --cache 'past.*=present.*'
grown=$(sed -n 's/.*"arena_bytes":\([0-9]*\).*/\1/p' out)
[ "$grown" -lt "$copied" ] || fail "an arena of $grown bytes with a cache, $copied without"
run_as 0 bench decoder.holo --dim p=3 --budget-ms 5 --cache past.kv=present.kv --profile
has out "by kernel"
run_as 1 bench decoder.onnx --no-optimize --cache 'past.*=present.*'
has err "cannot grow in place"
run_as 1 bench decoder.holo --cache 'future.*=present.*'
has err "no input is called 'future.*'"
run_as 1 bench decoder.holo --cache 'past.*=later.*'
has err "no output continues input 'past.kv'"
run_as 1 bench decoder.holo --cache 'past.*=mixed'
has err "output 'mixed' cannot grow in place"
run_as 1 bench decoder.holo --cache x=mixed
has err "cannot be a cache"
run_as 2 bench decoder.holo --cache past.kv
has err "PAST=PRESENT"
run_as 2 bench decoder.holo --cache 'past.*=present.*' --same 2
finish
