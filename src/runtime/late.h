/* late.h - the region for results whose size depends on data: first fit among what is live. */
#ifndef HG_RUNTIME_LATE_H
#define HG_RUNTIME_LATE_H

#include "base/alloc.h"
#include "base/error.h"

typedef struct hg_late_piece {
    size_t offset, bytes;
    uint32_t chunk;
    uint32_t last; /* step after which it is free */
} hg_late_piece;

typedef struct hg_late_chunk {
    void *base; /* what to free */
    uint8_t *data;
    size_t bytes;
} hg_late_chunk;

enum { HG_LATE_CHUNKS = 48 };

typedef struct hg_late {
    hg_late_chunk chunk[HG_LATE_CHUNKS];
    uint32_t n_chunk;
    hg_late_piece *piece; /* live ones, sorted by chunk and offset */
    uint32_t n_piece, max_piece;
    size_t bytes; /* of all chunks */
} hg_late;

/* Adds a chunk. */
HG_MUST_CHECK holo_status hg_late_add(hg_late *late, const holo_allocator *alloc, size_t bytes,
                                      holo_error *e);
void hg_late_free(hg_late *late, const holo_allocator *alloc);
/* Everything is free again. */
void hg_late_reset(hg_late *late);
/* Memory that stays taken until after step `last`; pieces whose last step is before `now` are
 * released. NULL when nothing fits. */
void *hg_late_take(hg_late *late, size_t bytes, uint32_t now, uint32_t last);
/* Gives a piece back before its time. */
void hg_late_drop(hg_late *late, const void *data);

#endif
