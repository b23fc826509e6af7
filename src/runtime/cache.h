/* cache.h - caches of a session; see cache.c. */
#ifndef HG_RUNTIME_CACHE_H
#define HG_RUNTIME_CACHE_H

#include "isa/kernel.h"

/* An output whose buffer is also an input. */
typedef struct hg_cache_port {
    holo_tensor buffer; /* with its capacity */
    uint32_t input, output;
    int32_t axis;
} hg_cache_port;

typedef struct hg_cache {
    size_t bytes;
    uint32_t count; /* outputs that are caches now */
    /* Before a step is checked: operands that are caches become their buffers. */
    holo_status (*bind_step)(holo_session *s, uint32_t i, holo_error *e);
    hg_cache_port *port; /* per output */
    uint32_t *of;        /* per value: output whose cache it belongs to + 1 */
} hg_cache;

#endif
