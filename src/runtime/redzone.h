/* redzone.h - in builds with HG_REDZONE and the address sanitizer, a step can touch its own
 * operands and nothing else of a session's memory: the rest is poisoned while it runs, and buffers
 * do not lie side by side. Other builds have none of this. */
#ifndef HG_RUNTIME_REDZONE_H
#define HG_RUNTIME_REDZONE_H

#include "runtime/session.h"

#ifdef HG_REDZONE
#include <sanitizer/asan_interface.h>

enum { HG_REDZONE_BYTES = HG_ALIGN };

/* Elements may point to what lies behind them, or to other values. */
static inline bool hg_redzone_is_deep(const holo_tensor *t)
{
    return t->dtype == HOLO_STRING || t->dtype >= HOLO_SEQUENCE;
}

static inline bool hg_redzone_allow(const holo_tensor *t, uint32_t n)
{
    bool deep = false;
    for (uint32_t k = 0; k < n; k++) {
        deep |= hg_redzone_is_deep(&t[k]);
        if (t[k].dtype != HOLO_NONE && t[k].data != NULL && holo_tensor_bytes(&t[k]) != SIZE_MAX)
            ASAN_UNPOISON_MEMORY_REGION(t[k].data, holo_tensor_bytes(&t[k]));
    }
    return deep;
}

/* Everything may be touched again. */
static inline void hg_redzone_open(const holo_session *s)
{
    if (s->slab.bytes != 0) ASAN_UNPOISON_MEMORY_REGION(s->slab.data, s->slab.bytes);
    for (uint32_t c = 0; c < s->late.n_chunk; c++)
        ASAN_UNPOISON_MEMORY_REGION(s->late.chunk[c].data, s->late.chunk[c].bytes);
}

/* Only what belongs to step i may be touched from now on. */
static inline void hg_redzone_close(const holo_session *s, uint32_t i, const void *scratch,
                                    size_t scratch_bytes)
{
    const hg_step_run *r = &s->step[i];
    if (s->arena_bytes != 0) ASAN_POISON_MEMORY_REGION(s->slab.data, s->arena_bytes);
    for (uint32_t c = 0; c < s->late.n_chunk; c++)
        ASAN_POISON_MEMORY_REGION(s->late.chunk[c].data, s->late.chunk[c].bytes);
    if (scratch_bytes != 0) ASAN_UNPOISON_MEMORY_REGION(scratch, scratch_bytes);
    bool deep = hg_redzone_allow(r->in, r->n_in);
    if (hg_redzone_allow(hg_step_out(r), r->n_out) || deep) hg_redzone_open(s);
}

#else

enum { HG_REDZONE_BYTES = 0 };

static inline void hg_redzone_open(const holo_session *s)
{
    (void)s;
}

static inline void hg_redzone_close(const holo_session *s, uint32_t i, const void *scratch,
                                    size_t scratch_bytes)
{
    (void)s, (void)i, (void)scratch, (void)scratch_bytes;
}

#endif
#endif
