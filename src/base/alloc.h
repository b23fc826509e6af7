/* alloc.h - the one allocator; every byte the library owns comes through it. */
#ifndef HG_BASE_ALLOC_H
#define HG_BASE_ALLOC_H

#include "base/base.h"

/* NULL means libc. */
holo_allocator hg_allocator_or_libc(const holo_allocator *allocator);
/* Address space that is not written costs nothing. */
bool hg_allocator_is_libc(const holo_allocator *allocator);
/* Uninitialised memory or NULL. size > 0. */
void *hg_alloc(const holo_allocator *a, size_t size);
void *hg_alloc_zero(const holo_allocator *a, size_t size);
void hg_free(const holo_allocator *a, void *p, size_t size);
/* Memory at an address divisible by HG_ALIGN; *base is what hg_free wants, with size + HG_ALIGN. */
void *hg_alloc_aligned(const holo_allocator *a, size_t size, void **base);

#endif
