/* memory.c - malloc of the runtime's modules: free blocks in the order of their addresses, the
 * first that is large enough is taken, neighbours are joined. A model takes a few dozen large
 * blocks, for which the C library's allocator is ten times the code. Only one thread calls the
 * library. */
#include "base/base.h"

#include <stdlib.h>
#include <string.h>

#if defined(__wasm__) /* elsewhere test/bindings/memory.c gives these */
extern unsigned char __heap_base;

enum { MEMORY_PAGE = 65536 };

/* Where the heap begins, where it must end, and where the memory ends now. */
static uintptr_t memory_first(void)
{
    return (uintptr_t)&__heap_base;
}

static uint64_t memory_limit(void)
{
    return UINT32_MAX - MEMORY_PAGE;
}

static uint64_t memory_have(void)
{
    return (uint64_t)__builtin_wasm_memory_size(0) * MEMORY_PAGE;
}

static bool memory_extend(uint64_t bytes)
{
    const size_t pages = (size_t)((bytes + MEMORY_PAGE - 1) / MEMORY_PAGE);
    return __builtin_wasm_memory_grow(0, pages) != SIZE_MAX;
}
#endif

/* In front of what the caller gets; all sizes are multiples of its own. */
typedef struct memory_block {
    _Alignas(HG_ALIGN) size_t size;
    struct memory_block *next; /* of a free block */
} memory_block;

static memory_block *memory_free_list;
static uintptr_t memory_end; /* of the heap; 0 before the first block */

static uintptr_t memory_after(const memory_block *b)
{
    return (uintptr_t)b + b->size;
}

/* Into the list, joined with the neighbours that are free too. */
static void memory_insert(memory_block *b)
{
    memory_block *before = NULL, *after = memory_free_list;
    for (; after != NULL && after < b; after = after->next)
        before = after;
    b->next = after;
    if (after != NULL && memory_after(b) == (uintptr_t)after) {
        b->size += after->size;
        b->next = after->next;
    }
    if (before == NULL) {
        memory_free_list = b;
    } else if (memory_after(before) == (uintptr_t)b) {
        before->size += b->size;
        before->next = b->next;
    } else {
        before->next = b;
    }
}

/* Adds room for a block of `size` bytes; false when the memory cannot grow. */
static bool memory_grow(size_t size)
{
    if (memory_end == 0) memory_end = hg_align_up(memory_first(), HG_ALIGN);
    /* The heap may end before the memory does, and with a free block. */
    const uint64_t have = memory_have(), want = (uint64_t)memory_end + size;
    if (want > memory_limit()) return false;
    if (want > have && !memory_extend(want - have)) return false;
    memory_block *b = (memory_block *)memory_end;
    b->size = size;
    memory_end += size;
    memory_insert(b);
    return true;
}

static memory_block *memory_take(size_t size)
{
    memory_block *before = NULL, *b = memory_free_list;
    for (; b != NULL && b->size < size; b = b->next)
        before = b;
    if (b == NULL) return NULL;
    memory_block *rest = b->next;
    if (b->size > size) {
        rest = (memory_block *)((uintptr_t)b + size);
        rest->size = b->size - size;
        rest->next = b->next;
        b->size = size;
    }
    if (before == NULL)
        memory_free_list = rest;
    else
        before->next = rest;
    return b;
}

void *malloc(size_t bytes)
{
    if (bytes > UINT32_MAX - 4 * HG_ALIGN) return NULL;
    const size_t size = hg_align_up(bytes, HG_ALIGN) + sizeof(memory_block);
    memory_block *b = memory_take(size);
    if (b == NULL && memory_grow(size)) b = memory_take(size);
    return b == NULL ? NULL : b + 1;
}

void free(void *p)
{
    if (p != NULL) memory_insert((memory_block *)p - 1);
}

void *calloc(size_t count, size_t bytes)
{
    if (bytes != 0 && count > SIZE_MAX / bytes) return NULL;
    void *p = malloc(count * bytes);
    if (p != NULL) memset(p, 0, count * bytes);
    return p;
}

void *realloc(void *p, size_t bytes)
{
    const size_t have = p == NULL ? 0 : ((memory_block *)p - 1)->size - sizeof(memory_block);
    if (p != NULL && bytes <= have) return p;
    void *larger = malloc(bytes);
    if (larger == NULL) return NULL;
    if (p != NULL) memcpy(larger, p, have);
    free(p);
    return larger;
}

/* Every block is aligned to HG_ALIGN, and nobody asks for more. */
void *aligned_alloc(size_t alignment, size_t bytes)
{
    return alignment <= HG_ALIGN ? malloc(bytes) : NULL;
}
