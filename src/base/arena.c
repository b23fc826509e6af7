/* arena.c - blocks of growing size, newest first. */
#include "base/arena.h"

#include "base/file.h"

#include <string.h>

enum { ARENA_FIRST = 64 * 1024, ARENA_LARGEST = 16 * 1024 * 1024 };

struct hg_arena_block {
    hg_arena_block *next;
    size_t size; /* whole allocation */
    size_t used; /* from the start of this struct */
};

void hg_arena_init(hg_arena *arena, const holo_allocator *alloc, size_t limit)
{
    *arena = (hg_arena){.alloc = hg_allocator_or_libc(alloc), .limit = limit};
}

static void arena_free_from(hg_arena *arena, hg_arena_block *block)
{
    while (block != NULL) {
        hg_arena_block *next = block->next;
        hg_free(&arena->alloc, block, block->size);
        block = next;
    }
}

void hg_arena_deinit(hg_arena *arena)
{
    arena_free_from(arena, arena->block);
    arena->block = NULL;
    arena->used = 0;
}

void hg_arena_reset(hg_arena *arena)
{
    if (arena->block == NULL) return;
    arena_free_from(arena, arena->block->next);
    arena->block->next = NULL;
    arena->block->used = sizeof(hg_arena_block);
    arena->used = 0;
}

static hg_arena_block *arena_new_block(hg_arena *arena, size_t size)
{
    hg_arena_block *block = hg_alloc(&arena->alloc, size);
    if (block == NULL) return NULL;
    *block = (hg_arena_block){.next = arena->block, .size = size, .used = sizeof(hg_arena_block)};
    arena->block = block;
    return block;
}

static hg_arena_block *arena_add_block(hg_arena *arena, size_t need)
{
    size_t size = arena->block == NULL ? ARENA_FIRST : arena->block->size * 2;
    if (size > ARENA_LARGEST) size = ARENA_LARGEST;
    if (need > SIZE_MAX - sizeof(hg_arena_block) - HG_ALIGN) return NULL;
    need += sizeof(hg_arena_block) + HG_ALIGN;
    return arena_new_block(arena, size < need ? need : size);
}

void hg_arena_expect(hg_arena *arena, size_t bytes)
{
    if (bytes > ARENA_LARGEST || arena->limit != 0) return;
    hg_arena_block *block = arena_new_block(arena, bytes < ARENA_FIRST ? ARENA_FIRST : bytes);
    if (block != NULL) hg_pages_take(block, bytes);
}

/* Place for size bytes in a block, or SIZE_MAX. */
static size_t arena_fit(const hg_arena_block *block, size_t size, size_t align)
{
    uintptr_t base = (uintptr_t)block;
    size_t at = hg_align_up(base + block->used, align) - base;
    return at <= block->size && size <= block->size - at ? at : SIZE_MAX;
}

void *hg_arena_alloc_raw(hg_arena *arena, size_t size)
{
    size_t align = size >= 1024 ? HG_ALIGN : 16;
    if (arena->limit != 0 && (size > arena->limit || arena->used > arena->limit - size)) {
        arena->is_full = true;
        return NULL;
    }
    hg_arena_block *block = arena->block;
    size_t at = block != NULL ? arena_fit(block, size, align) : SIZE_MAX;
    if (at == SIZE_MAX) {
        block = arena_add_block(arena, size);
        if (block == NULL) return NULL;
        at = arena_fit(block, size, align);
    }
    block->used = at + size;
    arena->used += size;
    return (char *)block + at;
}

void *hg_arena_alloc(hg_arena *arena, size_t size)
{
    void *p = hg_arena_alloc_raw(arena, size);
    return p == NULL ? NULL : memset(p, 0, size);
}

void *hg_arena_array(hg_arena *arena, size_t count, size_t size)
{
    size_t bytes;
    return hg_mul_size(count, size, &bytes) ? hg_arena_alloc(arena, bytes) : NULL;
}

void *hg_arena_grow(hg_arena *arena, void *items, size_t count, size_t *capacity, size_t size)
{
    if (count < *capacity) return items;
    size_t wanted = *capacity == 0 ? 16 : *capacity * 2;
    void *bigger = hg_arena_array(arena, wanted, size);
    if (bigger == NULL) return NULL;
    if (count != 0) memcpy(bigger, items, count * size);
    *capacity = wanted;
    return bigger;
}
