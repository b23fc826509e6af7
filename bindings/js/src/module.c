/* module.c - what a page needs beside <hologram.h> to run models: memory, threads, sessions without
 * option structs. The public functions that lib/engine.js calls are exported too (cmake/wasm.cmake).
 */
#include "base/thread.h"
#include "hologram.h"
#include "runtime/session.h"

#include <stdlib.h>

/* called from outside only */
#pragma clang diagnostic ignored "-Wmissing-prototypes"
#define JS_EXPORT(name) __attribute__((export_name(#name), visibility("default")))
#define JS_IMPORT(name) __attribute__((import_module("hologram"), import_name(#name)))

/* lib/engine.js reads and writes these structs. */
_Static_assert(sizeof(holo_tensor) == 80 && offsetof(holo_tensor, dim) == 8 &&
                   offsetof(holo_tensor, rank) == 72 && offsetof(holo_tensor, dtype) == 76,
               "holo_tensor");
_Static_assert(sizeof(holo_string) == 16 && offsetof(holo_string, length) == 8, "holo_string");
_Static_assert(offsetof(holo_port, dtype) == 4 && offsetof(holo_port, rank) == 8 &&
                   offsetof(holo_port, dim) == 16 && offsetof(holo_port, dim_name) == 80,
               "holo_port");
_Static_assert(offsetof(holo_error, message) == 4, "holo_error");
_Static_assert(offsetof(holo_step_info, node) == 4 && offsetof(holo_step_info, kernel) == 8 &&
                   offsetof(holo_step_info, seconds) == 16 &&
                   offsetof(holo_step_info, flops) == 24 && offsetof(holo_step_info, bytes) == 32,
               "holo_step_info");
_Static_assert(offsetof(holo_session_stats, steps) == 40, "holo_session_stats");

JS_IMPORT(step) extern void js_on_step(const holo_step_info *step);
JS_IMPORT(pair) extern void js_on_pair(const char *key, const char *value);

/* Aligned as open wants it; NULL when there is no room. */
JS_EXPORT(js_alloc) void *js_alloc(size_t size)
{
    if (size > SIZE_MAX - HG_ALIGN) return NULL;
    return aligned_alloc(HG_ALIGN, hg_align_up(size == 0 ? 1 : size, HG_ALIGN));
}

JS_EXPORT(js_free) void js_free(void *p)
{
    free(p);
}

/* The life of a worker of a pool; index 1 and up. */
JS_EXPORT(js_serve) void js_serve(holo_pool *pool, uint32_t index)
{
    hg_pool_serve(pool, index);
}

JS_EXPORT(js_ready) uint32_t js_ready(holo_pool *pool)
{
    return hg_pool_ready(pool);
}

JS_EXPORT(js_open)
holo_model *js_open(const void *data, size_t size, uint32_t flags, holo_error *error)
{
    holo_open_options options = HOLO_OPEN_OPTIONS_INIT;
    holo_model *model = NULL;
    options.flags = flags;
    const holo_status status =
        holo_model_open_memory(data, size, holo_kernels_all(), &options, &model, error);
    return status == HOLO_OK ? model : NULL;
}

static void js_step(void *user, const holo_step_info *step)
{
    (void)user;
    js_on_step(step);
}

static void js_pair(void *user, const char *key, const char *value)
{
    (void)user;
    js_on_pair(key, value);
}

JS_EXPORT(js_metadata) void js_metadata(const holo_model *model)
{
    holo_model_metadata(model, js_pair, NULL);
}

/* Results that depend on data may grow: a page cannot know their size before. */
JS_EXPORT(js_session)
holo_session *js_session(const holo_model *model, uint32_t graph, holo_pool *pool, bool is_traced,
                         holo_error *error)
{
    holo_session_options options = HOLO_SESSION_OPTIONS_INIT;
    holo_session *session = NULL;
    options.flags = HOLO_SESSION_GROW;
    options.graph = graph;
    options.pool = pool;
    options.trace = is_traced ? js_step : NULL;
    return holo_session_new(model, &options, &session, error) == HOLO_OK ? session : NULL;
}

/* What holo_session_cancel writes: a page whose worker is busy running cannot call it. */
JS_EXPORT(js_cancel_word) void *js_cancel_word(holo_session *session)
{
    _Static_assert(sizeof session->shared->cancelled == 1, "a byte that JavaScript writes");
    return &session->shared->cancelled;
}

JS_EXPORT(js_pool) holo_pool *js_pool(uint32_t threads, holo_error *error)
{
    holo_pool *pool = NULL;
    return holo_pool_new(threads, NULL, &pool, error) == HOLO_OK ? pool : NULL;
}
