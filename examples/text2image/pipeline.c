/* pipeline.c - the three models, from token numbers to a picture.
 *
 * Every buffer belongs to the pipeline and is bound once: what the text encoder writes is what the
 * U-Net reads, and nothing is copied between the models. */
#include "pipeline.h"

#include "asset.h"
#include "clock.h"
#include "fail.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PIPELINE_TEXT, PIPELINE_UNET, PIPELINE_VAE };

struct pipeline {
    const scheduler *scheduler;
    holo_model *model[PIPELINE_STAGES];
    holo_session *session[PIPELINE_STAGES];
    holo_pool *pool;
    int64_t *ids;        /* [2, tokens] */
    int64_t timestep[2]; /* [2] */
    float *embeddings;   /* [2, tokens, width] */
    float *sample;       /* [2, channels, height, width] */
    float *v;            /* the same */
    float *latents;      /* [1, channels, height, width] */
    float *picture;      /* [1, 3, image_size, image_size] */
    pipeline_times times;
};

/* A tensor of a model and the buffer that is bound to it. */
typedef struct pipeline_port {
    size_t stage;
    const char *name;
    holo_tensor tensor;
} pipeline_port;

const char *pipeline_stage_name(size_t stage)
{
    static const char *const names[PIPELINE_STAGES] = {"text_encoder", "unet", "vae_decoder"};
    return names[stage];
}

static holo_status pipeline_open(pipeline *p, const char *folder, size_t stage, holo_error *error)
{
    char name[32];
    snprintf(name, sizeof name, "%s.holo", pipeline_stage_name(stage));
    char *path = asset_path(folder, name);
    if (path == NULL) return fail(error, HOLO_E_NOMEM, "no memory for a path");
    const double start = clock_seconds();
    const holo_status status =
        holo_model_open_file(path, holo_kernels_all(), NULL, &p->model[stage], error);
    p->times.open[stage] = clock_seconds() - start;
    if (status == HOLO_E_IO) fail_in(error, status, "no model here yet (./dev demo makes it)");
    free(path);
    return status;
}

static holo_status pipeline_allocate(pipeline *p, holo_error *error)
{
    const scheduler *s = p->scheduler;
    const size_t text = (size_t)(s->tokens * s->text_width);
    const size_t latents = scheduler_latents(s);
    p->ids = calloc((size_t)s->tokens, 2 * sizeof *p->ids);
    p->embeddings = calloc(text, 2 * sizeof *p->embeddings);
    p->sample = calloc(latents, 2 * sizeof *p->sample);
    p->v = calloc(latents, 2 * sizeof *p->v);
    p->latents = calloc(latents, sizeof *p->latents);
    p->picture = calloc((size_t)(s->image_size * s->image_size), 3 * sizeof *p->picture);
    if (p->ids == NULL || p->embeddings == NULL || p->sample == NULL || p->v == NULL ||
        p->latents == NULL || p->picture == NULL)
        return fail(error, HOLO_E_NOMEM, "no memory for the pictures");
    return HOLO_OK;
}

static holo_status pipeline_bind_input(pipeline *p, const pipeline_port *port, holo_error *error)
{
    holo_session *session = p->session[port->stage];
    const char *stage = pipeline_stage_name(port->stage);
    const int32_t index = holo_session_find_input(session, port->name);
    if (index < 0)
        return fail(error, HOLO_E_MODEL, "%s.holo has no input \"%s\"", stage, port->name);
    const holo_status status =
        holo_session_set_input(session, (uint32_t)index, &port->tensor, error);
    return status == HOLO_OK ? HOLO_OK : fail_in(error, status, stage);
}

static holo_status pipeline_bind_output(pipeline *p, const pipeline_port *port, holo_error *error)
{
    holo_session *session = p->session[port->stage];
    const char *stage = pipeline_stage_name(port->stage);
    const int32_t index = holo_session_find_output(session, port->name);
    if (index < 0)
        return fail(error, HOLO_E_MODEL, "%s.holo has no output \"%s\"", stage, port->name);
    const holo_status status = holo_session_set_output(session, (uint32_t)index, port->tensor.data,
                                                       holo_tensor_bytes(&port->tensor), error);
    return status == HOLO_OK ? HOLO_OK : fail_in(error, status, stage);
}

static holo_status pipeline_bind(pipeline *p, holo_error *error)
{
    const scheduler *s = p->scheduler;
    const int64_t n = s->image_size;
    const pipeline_port inputs[] = {
        {PIPELINE_TEXT, "input_ids", {p->ids, {2, s->tokens}, 2, HOLO_I64}},
        {PIPELINE_UNET, "sample", {p->sample, {2, s->channels, s->height, s->width}, 4, HOLO_F32}},
        {PIPELINE_UNET, "timestep", {p->timestep, {2}, 1, HOLO_I64}},
        {PIPELINE_UNET,
         "encoder_hidden_states",
         {p->embeddings, {2, s->tokens, s->text_width}, 3, HOLO_F32}},
        {PIPELINE_VAE,
         "latent_sample",
         {p->latents, {1, s->channels, s->height, s->width}, 4, HOLO_F32}},
    };
    const pipeline_port outputs[PIPELINE_STAGES] = {
        {PIPELINE_TEXT,
         "last_hidden_state",
         {p->embeddings, {2, s->tokens, s->text_width}, 3, HOLO_F32}},
        {PIPELINE_UNET, "out_sample", {p->v, {2, s->channels, s->height, s->width}, 4, HOLO_F32}},
        {PIPELINE_VAE, "sample", {p->picture, {1, 3, n, n}, 4, HOLO_F32}},
    };
    holo_status status = HOLO_OK;
    for (size_t i = 0; status == HOLO_OK && i < sizeof inputs / sizeof inputs[0]; i++)
        status = pipeline_bind_input(p, &inputs[i], error);
    for (size_t i = 0; status == HOLO_OK && i < PIPELINE_STAGES; i++)
        status = pipeline_bind_output(p, &outputs[i], error);
    return status;
}

static holo_status pipeline_prepare(pipeline *p, uint32_t threads, holo_error *error)
{
    holo_status status = pipeline_allocate(p, error);
    if (status == HOLO_OK) status = holo_pool_new(threads, NULL, &p->pool, error);
    const holo_session_options how = {.struct_size = sizeof how, .pool = p->pool};
    for (size_t i = 0; status == HOLO_OK && i < PIPELINE_STAGES; i++)
        status = holo_session_new(p->model[i], &how, &p->session[i], error);
    if (status == HOLO_OK) status = pipeline_bind(p, error);
    for (size_t i = 0; status == HOLO_OK && i < PIPELINE_STAGES; i++) {
        status = holo_session_prepare(p->session[i], error);
        if (status != HOLO_OK) fail_in(error, status, pipeline_stage_name(i));
    }
    return status;
}

holo_status pipeline_new(const char *folder, const scheduler *s, uint32_t threads, pipeline **out,
                         holo_error *error)
{
    pipeline *p = calloc(1, sizeof *p);
    if (p == NULL) return fail(error, HOLO_E_NOMEM, "no memory for the pipeline");
    p->scheduler = s;
    holo_status status = HOLO_OK;
    for (size_t i = 0; status == HOLO_OK && i < PIPELINE_STAGES; i++)
        status = pipeline_open(p, folder, i, error);
    const double start = clock_seconds();
    if (status == HOLO_OK) status = pipeline_prepare(p, threads, error);
    p->times.prepare = clock_seconds() - start;
    if (status != HOLO_OK) {
        pipeline_free(p);
        return status;
    }
    *out = p;
    return HOLO_OK;
}

void pipeline_free(pipeline *p)
{
    if (p == NULL) return;
    for (size_t i = 0; i < PIPELINE_STAGES; i++)
        holo_session_free(p->session[i]);
    for (size_t i = 0; i < PIPELINE_STAGES; i++)
        holo_model_free(p->model[i]);
    holo_pool_free(p->pool);
    free(p->ids);
    free(p->embeddings);
    free(p->sample);
    free(p->v);
    free(p->latents);
    free(p->picture);
    free(p);
}

pipeline_times pipeline_get_times(const pipeline *p)
{
    return p->times;
}

/* Runs a stage; `expected` elements must be where they were asked for. */
static holo_status pipeline_run(pipeline *p, size_t stage, const float *bound, size_t expected,
                                holo_error *error)
{
    holo_tensor output;
    holo_status status = holo_session_run(p->session[stage], error);
    if (status == HOLO_OK) status = holo_session_output(p->session[stage], 0, &output, error);
    if (status != HOLO_OK) return fail_in(error, status, pipeline_stage_name(stage));
    if (output.data != bound || output.dtype != HOLO_F32 ||
        holo_tensor_count(&output) != (int64_t)expected)
        return fail(error, HOLO_E_SHAPE,
                    "%s.holo gives another type or size than scheduler.json says",
                    pipeline_stage_name(stage));
    return HOLO_OK;
}

holo_status pipeline_encode(pipeline *p, const int64_t *empty, const int64_t *prompt,
                            const float **embeddings, holo_error *error)
{
    const size_t tokens = (size_t)p->scheduler->tokens;
    memcpy(p->ids, empty, tokens * sizeof *p->ids);
    memcpy(p->ids + tokens, prompt, tokens * sizeof *p->ids);
    const size_t count = 2 * tokens * (size_t)p->scheduler->text_width;
    const holo_status status = pipeline_run(p, PIPELINE_TEXT, p->embeddings, count, error);
    if (status == HOLO_OK) *embeddings = p->embeddings;
    return status;
}

holo_status pipeline_predict(pipeline *p, const float *x, int64_t timestep, const float **v,
                             holo_error *error)
{
    const size_t count = scheduler_latents(p->scheduler);
    memcpy(p->sample, x, count * sizeof *x);
    memcpy(p->sample + count, x, count * sizeof *x);
    p->timestep[0] = timestep;
    p->timestep[1] = timestep;
    const holo_status status = pipeline_run(p, PIPELINE_UNET, p->v, 2 * count, error);
    if (status == HOLO_OK) *v = p->v;
    return status;
}

holo_status pipeline_denoise(pipeline *p, int32_t steps, double guidance, float *x,
                             pipeline_step_fn on_step, void *user, holo_error *error)
{
    for (int32_t i = 0; i < steps; i++) {
        const float *v;
        const int64_t timestep = scheduler_timestep(steps, i);
        const holo_status status = pipeline_predict(p, x, timestep, &v, error);
        if (status != HOLO_OK) return status;
        scheduler_step(p->scheduler, steps, i, guidance, v, x);
        if (on_step != NULL && !on_step(user, i + 1, steps))
            return fail(error, HOLO_E_CANCELLED, "stopped");
    }
    return HOLO_OK;
}

holo_status pipeline_decode(pipeline *p, const float *x, const float **picture, holo_error *error)
{
    const size_t count = scheduler_latents(p->scheduler);
    const size_t n = (size_t)p->scheduler->image_size;
    for (size_t i = 0; i < count; i++)
        p->latents[i] = (float)(x[i] / p->scheduler->scaling);
    const holo_status status = pipeline_run(p, PIPELINE_VAE, p->picture, 3 * n * n, error);
    if (status == HOLO_OK) *picture = p->picture;
    return status;
}
