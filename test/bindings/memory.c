/* memory.c - malloc of the WebAssembly modules (bindings/js/src/memory.c) on a memory of our own:
 * blocks are aligned, apart from each other and keep what is in them; what was freed is used again;
 * a memory that cannot grow gives NULL and stays usable. */
#include "base/base.h"
#include "test.h"

#include <stdlib.h>
#include <string.h>

enum { MEMORY_TEST_BYTES = 1 << 22, MEMORY_TEST_STEP = 4096, MEMORY_TEST_SLOTS = 64 };

static _Alignas(HG_ALIGN) uint8_t memory_test_heap[MEMORY_TEST_BYTES + HG_ALIGN];
static uint64_t memory_test_have = 1000; /* a memory that begins with a part of the heap */

/* What the file under test asks of the system. */
static uintptr_t memory_first(void)
{
    return (uintptr_t)memory_test_heap + 3; /* behind some variable */
}

static uint64_t memory_limit(void)
{
    return (uintptr_t)memory_test_heap + MEMORY_TEST_BYTES;
}

static uint64_t memory_have(void)
{
    return (uintptr_t)memory_test_heap + memory_test_have;
}

static bool memory_extend(uint64_t bytes)
{
    const uint64_t have = memory_test_have + hg_align_up((size_t)bytes, MEMORY_TEST_STEP);
    if (have > MEMORY_TEST_BYTES) return false;
    memory_test_have = have;
    return true;
}

void *memory_test_malloc(size_t bytes);
void memory_test_free(void *p);
void *memory_test_calloc(size_t count, size_t bytes);
void *memory_test_realloc(void *p, size_t bytes);
void *memory_test_aligned_alloc(size_t alignment, size_t bytes);
#define malloc memory_test_malloc
#define free memory_test_free
#define calloc memory_test_calloc
#define realloc memory_test_realloc
#define aligned_alloc memory_test_aligned_alloc
#include "bindings/js/src/memory.c"

static uint64_t memory_test_next(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *state >> 33;
}

/* ---- random work ----------------------------------------------------------------------------- */

typedef struct memory_test_slot {
    uint8_t *at;
    size_t size;
    uint8_t mark;
} memory_test_slot;

static void memory_test_fill(memory_test_slot *s, uint8_t mark)
{
    s->mark = mark;
    if (s->size > 0) memset(s->at, mark, s->size);
}

static bool memory_test_holds(const memory_test_slot *s, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if (s->at[i] != s->mark) return false;
    return true;
}

static void memory_test_place(const memory_test_slot *s)
{
    CHECK_EQ_INT((uintptr_t)s->at % HG_ALIGN, 0);
    CHECK(s->at >= memory_test_heap + 3);
    CHECK(s->at + s->size <= memory_test_heap + memory_test_have);
}

/* Frees, or changes the size of, what is in the slot, or puts something there. */
static void memory_test_step(memory_test_slot *s, uint64_t *state)
{
    const size_t size = (size_t)(memory_test_next(state) % (1u << memory_test_next(state) % 15));
    const uint8_t mark = (uint8_t)memory_test_next(state);
    const size_t kept = s->size < size ? s->size : size;
    if (s->at != NULL) CHECK(memory_test_holds(s, s->size));
    if (s->at != NULL && memory_test_next(state) % 2 == 0) {
        memory_test_free(s->at);
        *s = (memory_test_slot){0};
        return;
    }
    uint8_t *at = s->at != NULL ? memory_test_realloc(s->at, size) : memory_test_malloc(size);
    if (!CHECK(at != NULL)) return;
    s->at = at;
    CHECK(memory_test_holds(s, kept));
    s->size = size;
    memory_test_place(s);
    memory_test_fill(s, mark);
}

/* Marks are checked at each step and at the end: blocks that overlapped would spoil each other's.
 */
static void memory_of_random_work(void)
{
    static memory_test_slot slot[MEMORY_TEST_SLOTS];
    uint64_t state = 7;
    for (int i = 0; i < 200000; i++)
        memory_test_step(&slot[memory_test_next(&state) % MEMORY_TEST_SLOTS], &state);
    for (int i = 0; i < MEMORY_TEST_SLOTS; i++) {
        CHECK(slot[i].at == NULL || memory_test_holds(&slot[i], slot[i].size));
        memory_test_free(slot[i].at);
    }
    /* Everything is one block again. */
    CHECK(memory_free_list != NULL && memory_free_list->next == NULL);
    CHECK_EQ_INT(memory_free_list->size, memory_end - (uintptr_t)memory_free_list);
}

/* ---- single properties ----------------------------------------------------------------------- */

static void memory_is_used_again(void)
{
    void *a = memory_test_malloc(1000), *b = memory_test_malloc(2000), *c = memory_test_malloc(10);
    const uintptr_t end = memory_end;
    memory_test_free(a);
    CHECK(memory_test_malloc(900) == a);
    memory_test_free(a);
    memory_test_free(b); /* joined with the one in front */
    CHECK(memory_test_malloc(3000) == a);
    memory_test_free(c); /* joined with the rest behind it */
    CHECK_EQ_INT(memory_end, end);
}

static void memory_that_is_full(void)
{
    CHECK(memory_test_malloc(MEMORY_TEST_BYTES) == NULL);
    CHECK(memory_test_malloc(SIZE_MAX) == NULL);
    CHECK(memory_test_malloc(UINT32_MAX - HG_ALIGN) == NULL);
    CHECK(memory_test_calloc(SIZE_MAX / 2, 3) == NULL);
    uint8_t *p = memory_test_malloc(100);
    if (!CHECK(p != NULL)) return;
    memset(p, 5, 100);
    CHECK(memory_test_realloc(p, MEMORY_TEST_BYTES) == NULL);
    CHECK(p[0] == 5 && p[99] == 5); /* as it was */
    size_t n = 0;
    while (memory_test_malloc(10000) != NULL)
        n++;
    CHECK(n > MEMORY_TEST_BYTES / 10200 - 5);
    memory_test_free(p);
    CHECK(memory_test_malloc(100) == p);
}

static void memory_of_other_kinds(void)
{
    uint8_t *p = memory_test_malloc(300);
    memset(p, 0xff, 300);
    memory_test_free(p);
    uint8_t *zeroed = memory_test_calloc(30, 10);
    CHECK(zeroed == p);
    for (int i = 0; i < 300; i++)
        if (zeroed[i] != 0) hg_test_fail(HG_TEST_HERE, "byte %d is not zero", i);
    CHECK(memory_test_aligned_alloc(2 * HG_ALIGN, 64) == NULL);
    CHECK((uintptr_t)memory_test_aligned_alloc(HG_ALIGN, 64) % HG_ALIGN == 0);
    void *empty = memory_test_malloc(0);
    CHECK(empty != NULL && empty != memory_test_malloc(0));
    memory_test_free(NULL);
}

const hg_test_case hg_tests_bindings_memory[] = {
    {"random work", memory_of_random_work},
    {"used again", memory_is_used_again},
    {"full", memory_that_is_full},
    {"other kinds", memory_of_other_kinds},
    {0},
};
