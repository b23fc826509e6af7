/* alloc.c - libc behind holo_allocator; the only file of the library that calls malloc. */
#include "base/alloc.h"

#include <stdlib.h>
#include <string.h>

static void *alloc_resize(void *user, void *p, size_t old_size, size_t new_size)
{
    (void)user;
    (void)old_size;
    if (new_size == 0) {
        free(p);
        return NULL;
    }
    return realloc(p, new_size);
}

holo_allocator hg_allocator_or_libc(const holo_allocator *allocator)
{
    if (allocator != NULL && allocator->resize != NULL) return *allocator;
    return (holo_allocator){alloc_resize, NULL};
}

bool hg_allocator_is_libc(const holo_allocator *allocator)
{
    return allocator->resize == alloc_resize;
}

void *hg_alloc(const holo_allocator *a, size_t size)
{
    return a->resize(a->user, NULL, 0, size);
}

void *hg_alloc_zero(const holo_allocator *a, size_t size)
{
    void *p = hg_alloc(a, size);
    if (p != NULL) memset(p, 0, size);
    return p;
}

void hg_free(const holo_allocator *a, void *p, size_t size)
{
    if (p != NULL) a->resize(a->user, p, size, 0);
}

void *hg_alloc_aligned(const holo_allocator *a, size_t size, void **base)
{
    if (size > SIZE_MAX - HG_ALIGN) return NULL;
    *base = hg_alloc(a, size + HG_ALIGN);
    if (*base == NULL) return NULL;
    return (void *)hg_align_up((size_t)(uintptr_t)*base, HG_ALIGN);
}
