/* hash.c - four lanes of multiply-rotate over 32-byte stripes, then a strong finaliser.
 *
 * Per stripe and lane: lane = rotl(lane + word * K1, 29) * K2. Reads are little-endian on
 * every machine. */
#include "base/hash.h"

#include <string.h>

static const uint64_t hash_k1 = UINT64_C(0x9e3779b97f4a7c15),
                      hash_k2 = UINT64_C(0xd6e8feb86659fd93);

/* n <= 8 bytes as a little-endian number. Whole words are one load where the CPU agrees with the
 * format. */
static uint64_t hash_load(const uint8_t *p, size_t n)
{
    const uint16_t one = 1;
    uint64_t word = 0;
    if (n == 8 && *(const uint8_t *)&one == 1) {
        memcpy(&word, p, 8);
        return word;
    }
    for (size_t i = 0; i < n; i++)
        word |= (uint64_t)p[i] << (8 * i);
    return word;
}

static uint64_t hash_round(uint64_t lane, uint64_t word)
{
    lane += word * hash_k1;
    return (lane << 29 | lane >> 35) * hash_k2;
}

static uint64_t hash_mix(uint64_t x)
{
    x = (x ^ x >> 32) * hash_k2;
    x = (x ^ x >> 29) * hash_k1;
    return x ^ x >> 32;
}

uint64_t hg_hash(const void *data, size_t size, uint64_t seed)
{
    const uint8_t *p = data;
    size_t left = size;
    /* Written out: compilers keep the lanes in registers only so. */
    uint64_t a = seed + hash_k1, b = seed ^ hash_k2, c = seed - hash_k1, d = ~seed;
    for (; left >= 32; left -= 32, p += 32) {
        a = hash_round(a, hash_load(p, 8));
        b = hash_round(b, hash_load(p + 8, 8));
        c = hash_round(c, hash_load(p + 16, 8));
        d = hash_round(d, hash_load(p + 24, 8));
    }
    uint64_t lane[4] = {a, b, c, d};
    for (size_t i = 0; left > 0; i++) {
        size_t n = left < 8 ? left : 8;
        lane[i] = hash_round(lane[i], hash_load(p, n));
        left -= n;
        p += n;
    }
    uint64_t x = (uint64_t)size;
    for (size_t i = 0; i < 4; i++)
        x = hash_round(x, hash_mix(lane[i] + i));
    return hash_mix(x);
}

uint64_t hg_hash_blocks(const void *data, size_t size)
{
    const uint8_t *p = data;
    uint64_t hash = 0;
    do {
        size_t n = size < HG_HASH_BLOCK ? size : HG_HASH_BLOCK;
        hash = hg_hash(p, n, hash);
        p += n;
        size -= n;
    } while (size > 0);
    return hash;
}
