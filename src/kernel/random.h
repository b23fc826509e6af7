/* random.h - a counter-based generator: the numbers of element i depend on the seed, the turn of
 * the loops around and i alone, so they are the same on every machine and however work is split.
 * Philox 4x32 with ten rounds (Salmon et al., 2011). */
#ifndef HG_KERNEL_RANDOM_H
#define HG_KERNEL_RANDOM_H

#include "base/base.h"

/* Kinds of the kernel "random". */
typedef enum hg_random_kind { HG_RANDOM_UNIFORM = 0, HG_RANDOM_NORMAL = 1 } hg_random_kind;

/* 128 random bits for (seed, turn of the loops around, index). */
static inline void hg_random_bits(uint64_t seed, uint64_t turn, uint64_t index, uint32_t out[4])
{
    uint32_t key[2] = {(uint32_t)seed, (uint32_t)(seed >> 32)};
    uint32_t c[4] = {(uint32_t)index, (uint32_t)(index >> 32), (uint32_t)turn,
                     (uint32_t)(turn >> 32)};
    for (int round = 0; round < 10; round++) {
        const uint64_t p = (uint64_t)0xd2511f53 * c[0], q = (uint64_t)0xcd9e8d57 * c[2];
        const uint32_t next[4] = {(uint32_t)(q >> 32) ^ c[1] ^ key[0], (uint32_t)q,
                                  (uint32_t)(p >> 32) ^ c[3] ^ key[1], (uint32_t)p};
        for (int k = 0; k < 4; k++)
            c[k] = next[k];
        key[0] += 0x9e3779b9;
        key[1] += 0xbb67ae85;
    }
    for (int k = 0; k < 4; k++)
        out[k] = c[k];
}

/* In [0, 1), from 53 bits. */
static inline double hg_random_unit(uint32_t high, uint32_t low)
{
    return (double)((uint64_t)high << 21 | low >> 11) * 0x1p-53;
}

#endif
