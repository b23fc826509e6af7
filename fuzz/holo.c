/* holo.c - any bytes as a .holo file, with the hashes made right: what opens must run clean. */
#include "holo.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t *copy = holo_sealed(data, size);
    uint64_t state = size;
    bool opened;
    holo_error error = {0};
    holo_status status = fault_play(copy, size, &state, &opened, &error);
    FUZZ_REQUIRE(status == HOLO_OK || opened || error.message[0] != 0);
    free(copy);
    return 0;
}
