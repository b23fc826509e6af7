/* memory.h - an allocator that counts, and fails when it is told to. */
#ifndef HG_TEST_FAULT_MEMORY_H
#define HG_TEST_FAULT_MEMORY_H

#include "hologram.h"

#include <stdlib.h>

typedef struct fault_memory {
    size_t calls;   /* that ask for memory */
    size_t live;    /* bytes */
    size_t fail_at; /* number of the call that fails, and all after it; 0: none */
} fault_memory;

static inline void *fault_memory_resize(void *user, void *p, size_t old_size, size_t new_size)
{
    fault_memory *m = user;
    if (new_size == 0) {
        if (p != NULL) m->live -= old_size;
        free(p);
        return NULL;
    }
    m->calls++;
    if (m->fail_at != 0 && m->calls >= m->fail_at) return NULL;
    void *q = realloc(p, new_size);
    if (q != NULL) m->live += new_size - (p != NULL ? old_size : 0);
    return q;
}

static inline holo_allocator fault_memory_allocator(fault_memory *m)
{
    return (holo_allocator){fault_memory_resize, m};
}

#endif
