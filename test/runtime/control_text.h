/* control_text.h - graphs in text form, compiled and run: fixture of the tests of control flow. */
#ifndef HG_TEST_RUNTIME_CONTROL_TEXT_H
#define HG_TEST_RUNTIME_CONTROL_TEXT_H

#include "compile/compile.h"
#include "test.h"

#include <string.h>

typedef struct control {
    void *data;
    size_t size;
    holo_model *model;
    holo_session *session;
    holo_error error;
} control;

/* The .holo of a graph in text form; it may be rewritten before. */
static inline bool control_compile_with(control *f, const char *text, uint32_t flags,
                                        holo_status (*rewrite)(hg_graph *g))
{
    hg_compile c;
    holo_compile_options options = HOLO_COMPILE_OPTIONS_INIT;
    options.flags = flags;
    holo_status status = hg_compile_init(&c, &options, 1, &f->error);
    if (status == HOLO_OK) status = hg_graph_init(&c.model[0].graph, &c.ctx);
    if (status == HOLO_OK) status = hg_graph_parse(&c.model[0].graph, hg_str_from(text), &f->error);
    if (status == HOLO_OK && rewrite != NULL) status = rewrite(&c.model[0].graph);
    if (status == HOLO_OK) status = hg_compile_model_run(&c, &c.model[0]);
    if (status == HOLO_OK) status = hg_compile_to_memory(&c, &f->data, &f->size);
    hg_compile_deinit(&c);
    return CHECK_OK(status, &f->error);
}

static inline bool control_compile(control *f, const char *text, uint32_t flags)
{
    return control_compile_with(f, text, flags, NULL);
}

static inline bool control_open_with(control *f, const char *text, uint32_t flags,
                                     const holo_session_options *options,
                                     holo_status (*rewrite)(hg_graph *g))
{
    holo_session_options standard = HOLO_SESSION_OPTIONS_INIT;
    standard.flags = HOLO_SESSION_POISON;
    *f = (control){0};
    return control_compile_with(f, text, flags, rewrite) &&
           CHECK_OK(holo_model_open_memory(f->data, f->size, holo_kernels_all(), NULL, &f->model,
                                           &f->error),
                    &f->error) &&
           CHECK_OK(holo_session_new(f->model, options == NULL ? &standard : options, &f->session,
                                     &f->error),
                    &f->error);
}

static inline bool control_open(control *f, const char *text, uint32_t flags,
                                const holo_session_options *options)
{
    return control_open_with(f, text, flags, options, NULL);
}

static inline void control_close(control *f)
{
    holo_session_free(f->session);
    holo_model_free(f->model);
    holo_buffer_free(NULL, f->data, f->size);
}

static inline void control_set(control *f, uint32_t i, holo_dtype dtype, void *data, int32_t rank,
                               int64_t dim)
{
    holo_tensor t = {.data = data, .dim = {dim}, .rank = rank, .dtype = dtype};
    CHECK_OK(holo_session_set_input(f->session, i, &t, &f->error), &f->error);
}

static inline void control_scalar(control *f, uint32_t i, holo_dtype dtype, void *data)
{
    control_set(f, i, dtype, data, 0, 0);
}

static inline bool control_run(control *f)
{
    return CHECK_OK(holo_session_run(f->session, &f->error), &f->error);
}

static inline holo_tensor control_out(control *f, uint32_t i)
{
    holo_tensor t = {0};
    CHECK_OK(holo_session_output(f->session, i, &t, &f->error), &f->error);
    return t;
}

/* Output i is a float vector (rank 0 or 1) of these elements. */
static inline void control_is(control *f, uint32_t i, const float *expected, int64_t count)
{
    holo_tensor t = control_out(f, i);
    CHECK_EQ_INT(t.dtype, HOLO_F32);
    if (!CHECK_EQ_INT(holo_tensor_count(&t), count)) return;
    for (int64_t k = 0; k < count; k++)
        CHECK_NEAR(((const float *)t.data)[k], expected[k], 1e-6);
}

#endif
