/* arena.h - bump allocator with whole-phase lifetime; memory comes out zeroed, nobody frees a
 * piece. */
#ifndef HG_BASE_ARENA_H
#define HG_BASE_ARENA_H

#include "base/alloc.h"

typedef struct hg_arena_block hg_arena_block;

typedef struct hg_arena {
    holo_allocator alloc;
    hg_arena_block *block; /* newest first */
    size_t used;           /* bytes handed out in all blocks */
    size_t limit;          /* 0: none; otherwise hg_arena_alloc fails above it */
    bool is_full;          /* it has failed for that reason */
} hg_arena;

void hg_arena_init(hg_arena *arena, const holo_allocator *alloc, size_t limit);
void hg_arena_deinit(hg_arena *arena);
/* Forgets everything; keeps one block for reuse. */
void hg_arena_reset(hg_arena *arena);
/* Zeroed, aligned to 16 bytes (64 when size >= 1024); NULL when memory or the limit is exhausted.
 */
void *hg_arena_alloc(hg_arena *arena, size_t size);
/* The same without zeroing, for bytes that are overwritten at once. */
void *hg_arena_alloc_raw(hg_arena *arena, size_t size);
/* About that many bytes will be asked for, all of which will be written: they get a block now, and
 * its pages. Without memory or with a limit nothing happens. */
void hg_arena_expect(hg_arena *arena, size_t bytes);
/* count * size with overflow check. */
void *hg_arena_array(hg_arena *arena, size_t count, size_t size);
/* Grows an array to hold one more: doubles *capacity, copies. Returns NULL on failure, *items
 * untouched. */
void *hg_arena_grow(hg_arena *arena, void *items, size_t count, size_t *capacity, size_t size);

#endif
