/* pool.h - memory for libraries that take an allocator: pieces of a block, one behind the other.
 * The last one can be given back; the others go when the block does. */
#ifndef HG_EXT_POOL_H
#define HG_EXT_POOL_H

#include "base/base.h"

typedef struct hg_pool_block {
    uint8_t *data;
    size_t bytes, used, last; /* last: where the last piece begins */
} hg_pool_block;

static inline void *hg_pool_take(hg_pool_block *b, size_t bytes)
{
    if (bytes > b->bytes || hg_align_up(bytes, 16) > b->bytes - b->used) return NULL;
    b->last = b->used;
    b->used += hg_align_up(bytes, 16);
    return b->data + b->last;
}

static inline void hg_pool_give(hg_pool_block *b, const void *p)
{
    if (p != NULL && p == b->data + b->last) b->used = b->last;
}

#endif
