# interrupt.sh - a signal ends a long run soon and leaves nothing half-done.
. "$ROOT/test/cli/common.inc"

dense dense.onnx
run_as 0 compile dense.onnx -o dense.holo -q
# SIGTERM, since a script's background processes ignore SIGINT; the handler is the same.
"$HOLOGRAM" bench dense.holo --inputs 'x:float32:2000000,2:rand' --budget-ms 60000 >out 2>err &
pid=$!
sleep 1
kill -TERM "$pid"
code=0
wait "$pid" || code=$?
[ "$code" -eq 143 ] || fail "an interrupted bench ended with code $code"
has err interrupted
lines out 0
finish
