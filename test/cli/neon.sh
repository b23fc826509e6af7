# neon.sh - the kernels for NEON, cross-compiled and run by an emulator: the tests of the tuned kernels, and a model
# that gives the same bits as here with --numerics exact, nearly the same numbers without. Skipped without
# gcc-aarch64-linux-gnu and qemu-user.
. "$ROOT/test/cli/common.inc"

cc=aarch64-linux-gnu-gcc
for tool in $cc qemu-aarch64 cmake ninja cc; do
    command -v "$tool" >/dev/null || { echo "there is no $tool" && exit 77; }
done
jobs=$(nproc)
flags="-std=c11 -O2 -static -ffp-contract=off -D_GNU_SOURCE -Wall -Wextra -Werror"
include="-I. -I$ROOT/include -I$ROOT/src -I$ROOT/test"

# The runtime, asserts on; what is not for NEON only has to be compiled quickly.
cmake -G Ninja -S "$ROOT" -B arm -DCMAKE_SYSTEM_NAME=Linux -DCMAKE_SYSTEM_PROCESSOR=aarch64 -DCMAKE_C_COMPILER=$cc \
    -DCMAKE_C_FLAGS_RELEASE=-O1 -DHG_WERROR=ON -DHG_TESTS=OFF >out 2>&1 || { fail "$(cat out)" && finish; }
ninja -C arm -j "$jobs" libhologram_rt.a >out 2>&1 || { fail "does not compile for NEON: $(tail -n 30 out)" && finish; }

# ---- kernels -----------------------------------------------------------------------------------

stems="attention byteops conv conv_dw conv_dw_i8 conv_nchw conv_nhwc conv_nhwc_i8 conv_pwdw epilogue lane matmul matmul_bits
    matmul_nbits matmul_p16 matmul_p16i16 matmul_p16i8 norm pool quantize_dynamic reduce rnn softmax table"
for stem in $stems; do
    echo "X(kernel_$stem)" >>test_list.inc
    echo "$ROOT/test/kernel/$stem.c"
done >files
echo 'X(isa_lane)' >>test_list.inc
# shellcheck disable=SC2086
xargs -n 1 -P "$jobs" $cc $flags $include -c <files 2>err || fail "$(cat err)"
# shellcheck disable=SC2086
$cc $flags $include "$ROOT/test/test.c" "$ROOT/test/fault/checks.c" "$ROOT/test/isa/lane.c" ./*.o arm/libhologram_rt.a \
    -lm -o tests 2>err || { fail "$(cat err)" && finish; }
for part in /tuned kernel_attention kernel_byteops lane kernel_matmul_bits kernel_norm kernel_reduce kernel_softmax \
    kernel_table; do
    qemu-aarch64 ./tests -j "$jobs" $part >out 2>&1 || fail "$(cat out)"
    ! grep -q '^0 passed' out || fail "no test is called $part"
done

# A processor without dot products does not get those kernels.
for part in kernel_matmul_bits kernel_matmul_p16i8/tuned; do
    qemu-aarch64 -cpu cortex-a72 ./tests -j "$jobs" $part >out 2>&1 || fail "$(cat out)"
done
grep -q '1 skipped' out || fail "cortex-a72 should have no dot products: $(cat out)"

# ---- a model -----------------------------------------------------------------------------------

# Runs graph 0 on numbers made here and writes the bytes of its outputs; open dimensions are 2.
cat >run.c <<'C'
#include <hologram.h>
#include <stdio.h>
#include <stdlib.h>
static void fill(holo_tensor *t)
{
    t->data = calloc(1, holo_tensor_bytes(t) + 1);
    for (int64_t i = 0; i < holo_tensor_count(t); i++) {
        const int64_t v = i * 7919 % 1999;
        if (t->dtype == HOLO_F32) ((float *)t->data)[i] = (float)(v - 999) / 999;
        if (t->dtype == HOLO_I32) ((int32_t *)t->data)[i] = (int32_t)(v % 97);
        if (t->dtype == HOLO_I64) ((int64_t *)t->data)[i] = v % 97;
    }
}
static void must(holo_status status, const holo_error *error)
{
    if (status == HOLO_OK) return;
    fprintf(stderr, "%s\n", error->message);
    exit(1);
}
int main(int argc, char **argv)
{
    holo_error e = {HOLO_OK, ""};
    holo_model *model = NULL;
    holo_session *session = NULL;
    if (argc != 2) return 2;
    must(holo_model_open_file(argv[1], holo_kernels_all(), NULL, &model, &e), &e);
    must(holo_session_new(model, NULL, &session, &e), &e);
    for (uint32_t i = 0; i < holo_model_input_count(model, 0); i++) {
        holo_port port;
        must(holo_model_input(model, 0, i, &port), &e);
        holo_tensor t = {.rank = port.rank, .dtype = port.dtype};
        for (int32_t d = 0; d < t.rank; d++)
            t.dim[d] = port.dim[d] < 0 ? 2 : port.dim[d];
        fill(&t);
        must(holo_session_set_input(session, i, &t, &e), &e);
    }
    must(holo_session_run(session, &e), &e);
    for (uint32_t i = 0; i < holo_model_output_count(model, 0); i++) {
        holo_tensor t;
        must(holo_session_output(session, i, &t, &e), &e);
        fwrite(t.data, 1, holo_tensor_bytes(&t), stdout);
    }
    return 0;
}
C
cc -I"$ROOT/include" run.c "${HOLOGRAM%/*}/libhologram_rt.a" -lm -lpthread -o run_here 2>err || fail "$(cat err)"
$cc -static -I"$ROOT/include" run.c arm/libhologram_rt.a -lm -lpthread -o run_neon 2>err || fail "$(cat err)"
for numerics in exact fast; do
    run_as 0 compile "$ROOT/examples/text2image/models/text_encoder.onnx" -o "$numerics.holo" --numerics $numerics -q
    ./run_here "$numerics.holo" >"$numerics.here" 2>err || fail "$numerics: $(cat err)"
    qemu-aarch64 ./run_neon "$numerics.holo" >"$numerics.neon" 2>err || fail "$numerics with NEON: $(cat err)"
    [ -s "$numerics.here" ] || fail "$numerics: there is no output"
done
cmp exact.here exact.neon || fail "exact: NEON gives other bits"

# Products of codes.
dense d.onnx
unary same.onnx Identity
mkdir in
run_as 0 run same.onnx --seed 1 --output-dir seed
mv seed/0_y.npy in/1.npy
for codes in int4 "int8 --calibrate in"; do
    # shellcheck disable=SC2086
    run_as 0 compile d.onnx -o codes.holo --numerics exact -q --quantize $codes
    ./run_here codes.holo >codes.here 2>err || fail "$codes: $(cat err)"
    qemu-aarch64 ./run_neon codes.holo >codes.neon 2>err || fail "$codes with NEON: $(cat err)"
    [ -s codes.here ] || fail "$codes: there is no output"
    cmp codes.here codes.neon || fail "$codes: NEON gives other bits"
done

for side in here neon; do
    od -An -v -tf4 -w4 "fast.$side" >"$side.txt"
done
! grep -qi nan neon.txt || fail "fast: NEON gives NaN"
paste here.txt neon.txt | awk '
    { d = $1 - $2; d = d < 0 ? -d : d; v = $1 < 0 ? -$1 : $1; if (v > top) top = v; if (!(d <= worst)) worst = d }
    END { exit !(NR > 0 && worst <= 1e-4 * top) }' || fail "fast: NEON gives other numbers"
finish
