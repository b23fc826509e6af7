/* memo.h - what a memo is. */
#ifndef HG_RUNTIME_MEMO_H
#define HG_RUNTIME_MEMO_H

#include "runtime/prefix.h"

/* Called through the pointer, so that programs without a memo do not link one. */
struct holo_memo {
    holo_status (*run)(holo_memo *memo, holo_session *s, holo_error *e);
    const holo_model *model;
    uint32_t graph;
    hg_memo_view stored; /* of the file; no data: none */
    hg_memo_store store;
    hg_prefix prefix; /* parts of runs; no sets: none */
    holo_memo_stats stats;
    holo_allocator alloc;
    void *base; /* what to free; NULL: the caller's memory */
    size_t base_bytes;
};

#endif
