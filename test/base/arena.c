/* arena.c - the bump allocator: alignment, growth, limits, failure. */
#include "base/arena.h"
#include "test.h"

#include <stdlib.h>
#include <string.h>

/* Counts live bytes and blocks; fails once `left` allocations were made (-1: never). */
typedef struct arena_counter {
    size_t bytes, blocks;
    int left;
} arena_counter;

static void *arena_count(void *user, void *p, size_t old_size, size_t new_size)
{
    arena_counter *c = user;
    if (new_size == 0) {
        c->bytes -= old_size;
        c->blocks--;
        free(p);
        return NULL;
    }
    if (c->left == 0) return NULL;
    if (c->left > 0) c->left--;
    c->bytes += new_size;
    c->blocks++;
    return realloc(p, new_size);
}

static void arena_memory_is_zeroed_and_aligned(void)
{
    hg_arena arena;
    hg_arena_init(&arena, NULL, 0);
    for (size_t size = 0; size < 3000; size += 7) {
        uint8_t *p = hg_arena_alloc(&arena, size);
        if (!CHECK(p != NULL)) break;
        CHECK_EQ_INT((uintptr_t)p % (size >= 1024 ? 64 : 16), 0);
        for (size_t i = 0; i < size; i++)
            if (p[i] != 0) hg_test_fail(HG_TEST_HERE, "byte %zu of %zu is not zero", i, size);
        memset(p, 0xff, size);
    }
    hg_arena_deinit(&arena);
}

static void arena_gives_everything_back(void)
{
    arena_counter c = {.left = -1};
    holo_allocator alloc = {arena_count, &c};
    hg_arena arena;
    hg_arena_init(&arena, &alloc, 0);
    for (int i = 0; i < 100; i++)
        CHECK(hg_arena_alloc(&arena, 50000) != NULL);
    CHECK_EQ_INT(arena.used, 5000000);
    CHECK(c.blocks > 1);
    hg_arena_reset(&arena);
    CHECK_EQ_INT(c.blocks, 1);
    CHECK_EQ_INT(arena.used, 0);
    uint8_t *p = hg_arena_alloc(&arena, 100);
    CHECK(p != NULL && p[99] == 0);
    CHECK_EQ_INT(c.blocks, 1);
    hg_arena_deinit(&arena);
    CHECK_EQ_INT(c.blocks, 0);
    CHECK_EQ_INT(c.bytes, 0);
    hg_arena_reset(&arena);
    hg_arena_deinit(&arena);
}

static void arena_large_pieces(void)
{
    hg_arena arena;
    hg_arena_init(&arena, NULL, 0);
    uint8_t *p = hg_arena_alloc(&arena, 40 << 20);
    if (CHECK(p != NULL)) p[(40 << 20) - 1] = 1;
    CHECK(hg_arena_alloc(&arena, SIZE_MAX) == NULL);
    CHECK(hg_arena_alloc(&arena, SIZE_MAX - 50) == NULL);
    CHECK(hg_arena_array(&arena, SIZE_MAX / 4, 8) == NULL);
    CHECK(hg_arena_array(&arena, 3, 8) != NULL);
    hg_arena_deinit(&arena);
}

static void arena_limit(void)
{
    hg_arena arena;
    hg_arena_init(&arena, NULL, 1000);
    CHECK(hg_arena_alloc(&arena, 1001) == NULL);
    CHECK(hg_arena_alloc(&arena, 600) != NULL);
    CHECK(hg_arena_alloc(&arena, 401) == NULL);
    CHECK(hg_arena_alloc(&arena, 400) != NULL);
    CHECK(hg_arena_alloc(&arena, 1) == NULL);
    hg_arena_reset(&arena);
    CHECK(hg_arena_alloc(&arena, 1000) != NULL);
    hg_arena_deinit(&arena);
}

static void arena_grow(void)
{
    hg_arena arena;
    int32_t *items = NULL;
    size_t capacity = 0;
    hg_arena_init(&arena, NULL, 0);
    for (int32_t n = 0; n < 1000; n++) {
        items = hg_arena_grow(&arena, items, (size_t)n, &capacity, sizeof *items);
        if (!CHECK(items != NULL && capacity > (size_t)n)) break;
        CHECK_EQ_INT(items[n], 0);
        items[n] = n;
    }
    for (int32_t n = 0; n < 1000; n++)
        CHECK_EQ_INT(items[n], n);
    hg_arena_deinit(&arena);
}

static void arena_out_of_memory(void)
{
    arena_counter c = {.left = 1};
    holo_allocator alloc = {arena_count, &c};
    hg_arena arena;
    hg_arena_init(&arena, &alloc, 0);
    size_t capacity = 0;
    void *items = hg_arena_grow(&arena, NULL, 0, &capacity, 1000);
    CHECK(items != NULL && capacity == 16);
    CHECK(hg_arena_alloc(&arena, 1 << 20) == NULL);
    CHECK(hg_arena_grow(&arena, items, capacity, &capacity, 10000) == NULL);
    CHECK_EQ_INT(capacity, 16);
    CHECK(hg_arena_alloc(&arena, 100) != NULL); /* what the first block still holds */
    hg_arena_deinit(&arena);
    CHECK_EQ_INT(c.blocks, 0);
}

const hg_test_case hg_tests_base_arena[] = {
    {"memory_is_zeroed_and_aligned", arena_memory_is_zeroed_and_aligned},
    {"gives_everything_back", arena_gives_everything_back},
    {"large_pieces", arena_large_pieces},
    {"limit", arena_limit},
    {"grow", arena_grow},
    {"out_of_memory", arena_out_of_memory},
    {0},
};
