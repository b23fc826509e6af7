/* module_compile.c - the compiler's side of a page: options without structs, texts through imports.
 */
#include "hologram.h"

/* called from outside only */
#pragma clang diagnostic ignored "-Wmissing-prototypes"
#define JS_EXPORT(name) __attribute__((export_name(#name), visibility("default")))
#define JS_IMPORT(name) __attribute__((import_module("hologram"), import_name(#name)))

/* lib/engine.js writes and reads these structs. */
_Static_assert(sizeof(holo_dim_setting) == 24 && offsetof(holo_dim_setting, value) == 8 &&
                   offsetof(holo_dim_setting, at_most) == 16,
               "holo_dim_setting");
_Static_assert(sizeof(holo_shape_setting) == 12 && offsetof(holo_shape_setting, dim) == 4 &&
                   offsetof(holo_shape_setting, rank) == 8,
               "holo_shape_setting");
_Static_assert(offsetof(holo_compile_report, layer_nodes) == 120, "holo_compile_report");

/* Returns 0 to stop. */
JS_IMPORT(stage) extern int js_on_stage(const char *stage, double done, double total);
JS_IMPORT(text) extern void js_on_text(const void *bytes, size_t size);

typedef struct js_settings {
    const holo_dim_setting *dims;
    const holo_shape_setting *shapes;
    const char *const *disable;
    uint32_t n_dims, n_shapes, n_disable;
    uint32_t flags, numerics;
} js_settings;

typedef struct js_compiled {
    void *data;
    size_t size;
    holo_compile_report report; /* at byte 8 */
} js_compiled;

_Static_assert(offsetof(js_compiled, report) == 8 && sizeof(js_compiled) == 136, "js_compiled");
_Static_assert(sizeof(js_settings) == 32, "js_settings");

static bool js_stage(void *user, const char *stage, uint64_t done, uint64_t total)
{
    (void)user;
    return js_on_stage(stage, (double)done, (double)total) != 0;
}

JS_EXPORT(js_compile)
holo_status js_compile(const void *data, size_t size, const js_settings *s, js_compiled *out,
                       holo_error *error)
{
    holo_compile_options options = HOLO_COMPILE_OPTIONS_INIT;
    options.flags = s->flags;
    options.numerics = s->numerics == 0 ? HOLO_FAST : HOLO_EXACT;
    options.dims = s->dims;
    options.n_dims = s->n_dims;
    options.shapes = s->shapes;
    options.n_shapes = s->n_shapes;
    options.disable = s->disable;
    options.n_disable = s->n_disable;
    options.progress = js_stage;
    return holo_compile_memory(data, size, &options, &out->data, &out->size, &out->report, error);
}

JS_EXPORT(js_compiled_free) void js_compiled_free(js_compiled *c)
{
    holo_buffer_free(NULL, c->data, c->size);
}

static bool js_text(void *user, const void *bytes, size_t size)
{
    (void)user;
    js_on_text(bytes, size);
    return true;
}

JS_EXPORT(js_inspect)
holo_status js_inspect(const holo_model *model, uint32_t form, holo_error *error)
{
    return holo_model_inspect(model, (holo_inspect_form)form, js_text, NULL, error);
}
