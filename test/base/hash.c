/* hash.c - the hash of the file format never changes. */
#include "base/hash.h"
#include "test.h"

#include <stdlib.h>

static void hash_is_frozen(void)
{
    static const struct {
        size_t size;
        uint64_t plain, seeded;
    } known[] = {
        {0, UINT64_C(0xf4529439cfdb102c), UINT64_C(0x0b6df0fe70a1db7c)},
        {1, UINT64_C(0x098a92cbab33ab55), UINT64_C(0x07d47d90a5a8dc4f)},
        {7, UINT64_C(0x2582517f3da996ff), UINT64_C(0x77a7b9dd595ddc6d)},
        {8, UINT64_C(0x6f4fbba7f4701a64), UINT64_C(0x80dd20ed5d823cf6)},
        {9, UINT64_C(0x9c65fad922e1fade), UINT64_C(0xb943dc403699483c)},
        {31, UINT64_C(0x851f18277b606fee), UINT64_C(0xdbe7692643a2bf2e)},
        {32, UINT64_C(0x6b38b36e6143a534), UINT64_C(0xae6168dd529e7b8f)},
        {33, UINT64_C(0xe5b7b2d13471df89), UINT64_C(0x14d8e3dc44c54c5b)},
        {64, UINT64_C(0x9ff8807c7681c039), UINT64_C(0x88091cf978d53d1d)},
        {100, UINT64_C(0x1dbec8f2ff3f6565), UINT64_C(0xfb47fcd348bc1a26)},
    };
    uint8_t bytes[101];
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)(i * 7 + 1);
    for (size_t i = 0; i < HG_COUNT(known); i++) {
        CHECK(hg_hash(bytes, known[i].size, 0) == known[i].plain);
        CHECK(hg_hash(bytes, known[i].size, 12345) == known[i].seeded);
    }
    for (size_t i = 0; i < 100; i++)
        bytes[100 - i] = (uint8_t)((99 - i) * 7 + 1);
    CHECK(hg_hash(bytes + 1, 100, 0) == known[HG_COUNT(known) - 1].plain); /* any alignment */
}

/* Every single bit matters, and so does the length. */
static void hash_sees_every_bit(void)
{
    uint8_t bytes[70] = {0};
    uint64_t seen[70 * 8 + 70];
    size_t n = 0;
    for (size_t bit = 0; bit < sizeof bytes * 8; bit++) {
        bytes[bit / 8] = (uint8_t)(1u << bit % 8);
        seen[n++] = hg_hash(bytes, sizeof bytes, 0);
        bytes[bit / 8] = 0;
    }
    for (size_t size = 0; size < sizeof bytes; size++)
        seen[n++] = hg_hash(bytes, size, 0);
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < i; k++)
            if (seen[i] == seen[k]) hg_test_fail(HG_TEST_HERE, "hashes %zu and %zu agree", i, k);
}

static void hash_blocks(void)
{
    size_t size = 2 * HG_HASH_BLOCK + 77;
    uint8_t *bytes = malloc(size);
    if (!CHECK(bytes != NULL)) return;
    for (size_t i = 0; i < size; i++)
        bytes[i] = (uint8_t)(i * 31 + i / 1000);
    CHECK(hg_hash_blocks(bytes, 1000) == hg_hash(bytes, 1000, 0));
    CHECK(hg_hash_blocks(bytes, HG_HASH_BLOCK) == hg_hash(bytes, HG_HASH_BLOCK, 0));
    uint64_t hash = hg_hash(bytes, HG_HASH_BLOCK, 0);
    hash = hg_hash(bytes + HG_HASH_BLOCK, HG_HASH_BLOCK, hash);
    hash = hg_hash(bytes + (size_t)2 * HG_HASH_BLOCK, 77, hash);
    CHECK(hg_hash_blocks(bytes, size) == hash);
    free(bytes);
}

const hg_test_case hg_tests_base_hash[] = {
    {"is_frozen", hash_is_frozen},
    {"sees_every_bit", hash_sees_every_bit},
    {"blocks", hash_blocks},
    {0},
};
