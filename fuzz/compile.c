/* compile.c - any bytes as an ONNX model through the whole compiler, within small limits. The last
 * byte chooses the options. What compiles runs. */
#include "../test/fault/fault.h"
#include "fuzz.h"
#include "onnx.h"

/* Bit 0: not optimised; bits 1 and 2: fast, exact, quantised, for reference kernels; the rest: to
 * what. */
static void compile_choose(holo_compile_options *options, uint8_t choice)
{
    const uint32_t kind = choice >> 1 & 3;
    if ((choice & 1) != 0) options->flags |= HOLO_COMPILE_NO_OPTIMIZE;
    if (kind == 1) options->numerics = HOLO_EXACT;
    if (kind == 2)
        options->quantize =
            (holo_quantize)(HOLO_QUANTIZE_INT8 + (choice >> 3) % HOLO_QUANTIZE_PALETTE);
    if (kind == 3) options->flags |= HOLO_COMPILE_PLAIN;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    holo_compile_options options = HOLO_COMPILE_OPTIONS_INIT;
    holo_error error = {0};
    void *holo = NULL;
    size_t holo_size = 0;
    options.limits = (holo_limits){.memory_bytes = FUZZ_MEMORY, .tensor_bytes = 1 << 20};
    if (size > 0) compile_choose(&options, data[size - 1]);
    holo_status status = holo_compile_memory(data, size, &options, &holo, &holo_size, NULL, &error);
    FUZZ_REQUIRE(status == HOLO_OK || error.message[0] != 0);
    FUZZ_REQUIRE(status != HOLO_E_BUG);
    if (status == HOLO_OK) {
        uint64_t state = size;
        bool opened = false;
        (void)fault_play(holo, holo_size, &state, &opened, &error);
        FUZZ_REQUIRE(opened);
    }
    holo_buffer_free(NULL, holo, holo_size);
    return 0;
}
