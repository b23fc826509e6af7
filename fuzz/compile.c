/* compile.c - any bytes as an ONNX model through the whole compiler, within small limits. What
 * compiles runs. */
#include "../test/fault/fault.h"
#include "fuzz.h"
#include "onnx.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    holo_compile_options options = HOLO_COMPILE_OPTIONS_INIT;
    holo_error error = {0};
    void *holo = NULL;
    size_t holo_size = 0;
    options.limits = (holo_limits){.memory_bytes = FUZZ_MEMORY, .tensor_bytes = 1 << 20};
    if (size > 0 && (data[size - 1] & 1) != 0) options.flags = HOLO_COMPILE_NO_OPTIMIZE;
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

#ifdef HG_FUZZ
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed)
{
    return onnx_mutate(data, size, max_size, seed);
}
#endif
