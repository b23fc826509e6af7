/* holo.h - changes .holo files as what they are: one section in place, so that sizes stay right;
 * targets make the hashes right. */
#ifndef HG_FUZZ_HOLO_H
#define HG_FUZZ_HOLO_H

#include "../test/fault/fault.h"

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed);

/* A copy whose size and hashes are what its head says. */
static inline uint8_t *holo_sealed(const uint8_t *data, size_t size)
{
    uint8_t *copy = fault_copy(data, size);
    if (size >= sizeof(hg_holo_head)) ((hg_holo_head *)(void *)copy)->size = size;
    fault_seal(copy, size);
    return copy;
}

#ifdef HG_FUZZ
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

#endif
