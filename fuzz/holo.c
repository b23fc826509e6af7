/* holo.c - any bytes as a .holo file, with the hashes made right: what opens must run clean. */
#include "../test/fault/fault.h"
#include "fuzz.h"

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed);

static void holo_true_size(uint8_t *data, size_t size)
{
    if (size >= sizeof(hg_holo_head)) ((hg_holo_head *)(void *)data)->size = size;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t *copy = fault_copy(data, size);
    uint64_t state = size;
    bool opened;
    holo_error error = {0};
    holo_true_size(copy, size);
    fault_seal(copy, size);
    holo_status status = fault_play(copy, size, &state, &opened, &error);
    FUZZ_REQUIRE(status == HOLO_OK || opened || error.message[0] != 0);
    free(copy);
    return 0;
}

#ifdef HG_FUZZ
/* Changes one program in place: its size, and so the container, stays right. */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed)
{
    uint32_t count = 0;
    uint64_t state = seed;
    uint8_t *copy = fault_copy(data, size);
    hg_holo_section *table = fault_sections(copy, size, &count);
    uint32_t i = table == NULL ? 0 : fault_below(&state, count);
    size_t offset = table == NULL ? size : (size_t)table[i].offset;
    size_t length = table == NULL ? 0 : (size_t)table[i].size;
    if (offset >= size || length == 0 || length > size - offset || fault_below(&state, 16) == 0)
        size = LLVMFuzzerMutate(data, size, max_size);
    else
        (void)LLVMFuzzerMutate(data + offset, length, length);
    free(copy);
    return size;
}
#endif
