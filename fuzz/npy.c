/* npy.c - any bytes as a stream of arrays. */
#include "io/npy.h"

#include "fuzz.h"
#include "io/tensor.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0) return 0;
    FILE *stream = fmemopen((void *)(uintptr_t)data, size, "rb");
    FUZZ_REQUIRE(stream != NULL);
    holo_status status = HOLO_OK;
    for (int i = 0; i < 4 && status == HOLO_OK; i++) {
        holo_tensor t = {0};
        holo_error error = {0};
        status = hg_npy_read_stream(stream, "stream", &t, &error);
        FUZZ_REQUIRE(status == HOLO_OK || error.message[0] != 0);
        if (status == HOLO_OK && hg_npy_adapt(&t, (holo_dtype)(size % 27), &error) == HOLO_OK)
            FUZZ_REQUIRE(holo_tensor_count(&t) >= 0);
        if (status == HOLO_OK) hg_io_tensor_free(&t);
    }
    fclose(stream);
    return 0;
}
