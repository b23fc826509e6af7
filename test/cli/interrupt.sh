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

# A compile that is stopped leaves none of its files, half or whole.
mkdir new
model=$ROOT/examples/text2image/models/unet.onnx
for wait in 0.02 0.1 0.3 0.6; do
    "$HOLOGRAM" compile "$model" -o new/unet.holo --quantize int8 --emit-onnx new/unet.onnx -q >out 2>err &
    pid=$!
    sleep $wait
    kill -TERM "$pid" 2>/dev/null || true
    code=0
    wait "$pid" || code=$?
    if [ "$code" -eq 0 ]; then # it was faster
        rm new/unet.holo new/unet.onnx
    else
        [ "$code" -eq 143 ] || fail "an interrupted compile ended with code $code"
    fi
    [ -z "$(ls new)" ] || fail "left behind: $(ls new)"
done
finish
