/* sample.c - runs given inputs through a model that has just been compiled. */
#include "compile/sample.h"

#include <string.h>

holo_status hg_sampler_open(hg_sampler *s, hg_ctx *ctx, const holo_kernels *extra, void *data,
                            size_t size)
{
    holo_session_options options = HOLO_SESSION_OPTIONS_INIT;
    const holo_open_options open = {
        .struct_size = sizeof open, .allocator = &ctx->arena.alloc, .extra = extra};
    *s = (hg_sampler){.data = data, .size = size};
    HG_TRY(holo_model_open_memory(data, size, holo_kernels_all(), &open, &s->model, ctx->error));
    options.flags = HOLO_SESSION_GROW;
    options.limits = ctx->limits; /* a sample may not take what the compile itself may not */
    return holo_session_new(s->model, &options, &s->session, ctx->error);
}

void hg_sampler_deinit(hg_sampler *s, hg_ctx *ctx)
{
    holo_session_free(s->session);
    holo_model_free(s->model);
    holo_buffer_free(&ctx->arena.alloc, s->data, s->size);
    *s = (hg_sampler){0};
}

const holo_tensor *hg_sample_find(const holo_sample *sample, const char *name, uint32_t n_in)
{
    for (size_t k = 0; k < sample->count; k++) {
        const char *given = sample->name == NULL ? NULL : sample->name[k];
        const bool is_only = n_in == 1 && (given == NULL || given[0] == 0);
        if (is_only || (given != NULL && strcmp(given, name) == 0)) return &sample->tensor[k];
    }
    return NULL;
}

static holo_status sample_bind(hg_sampler *s, hg_ctx *ctx, const holo_sample *sample)
{
    const uint32_t n = holo_model_input_count(s->model, 0);
    if (sample->count != n)
        return hg_fail(ctx->error, HOLO_E_ARG, "it has %zu tensors, the model %u inputs",
                       sample->count, n);
    for (uint32_t i = 0; i < n; i++) {
        holo_port port;
        HG_TRY(holo_model_input(s->model, 0, i, &port));
        const holo_tensor *t = hg_sample_find(sample, port.name, n);
        if (t == NULL)
            return hg_fail(ctx->error, HOLO_E_ARG, "it has no tensor for input '%s'", port.name);
        HG_TRY(holo_session_set_input(s->session, i, t, ctx->error));
    }
    return HOLO_OK;
}

holo_status hg_sampler_run(hg_sampler *s, hg_ctx *ctx, const holo_sample *sample, size_t number)
{
    HG_TRY(hg_ctx_check_time(ctx));
    holo_status status = sample_bind(s, ctx, sample);
    if (status == HOLO_OK) status = holo_session_run(s->session, ctx->error);
    if (status != HOLO_OK) return hg_fail_prefix(ctx->error, status, "sample %zu: ", number);
    return HOLO_OK;
}
