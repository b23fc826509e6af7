/* scheduler.c - DDIM for a model that predicts v.
 *
 * With a = alpha[t] and b = alpha of the next step (1 after the last):
 *
 *     v   = v_empty + guidance * (v_prompt - v_empty)
 *     x0  = sqrt(a) x - sqrt(1 - a) v        the picture as it is guessed now
 *     eps = sqrt(a) v + sqrt(1 - a) x        the noise as it is guessed now
 *     x   = sqrt(b) x0 + sqrt(1 - b) eps     both again, with less noise */
#include "scheduler.h"

#include "asset.h"
#include "fail.h"

#include <math.h>
#include <stdlib.h>

static holo_status scheduler_read_alphas(scheduler *s, const json_t *root, const char *path,
                                         holo_error *error)
{
    const json_t *list = json_object_get(root, "alphas_cumprod");
    if (json_array_size(list) != SCHEDULER_TRAIN_STEPS)
        return fail(error, HOLO_E_MODEL, "%s: \"alphas_cumprod\" has %zu numbers, not %d", path,
                    json_array_size(list), SCHEDULER_TRAIN_STEPS);
    for (size_t i = 0; i < SCHEDULER_TRAIN_STEPS; i++) {
        const json_t *item = json_array_get(list, i);
        s->alpha[i] = json_number_value(item);
        if (!json_is_number(item) || !(s->alpha[i] >= 0 && s->alpha[i] <= 1))
            return fail(error, HOLO_E_MODEL,
                        "%s: \"alphas_cumprod\" %zu is not a number between 0 and 1", path, i);
    }
    return HOLO_OK;
}

static holo_status scheduler_read_shape(scheduler *s, const json_t *root, const char *path,
                                        holo_error *error)
{
    const json_t *shape = json_object_get(root, "latent_shape");
    int64_t dim[3] = {0};
    bool is_right = json_array_size(shape) == 3;
    for (size_t i = 0; is_right && i < 3; i++) {
        dim[i] = json_integer_value(json_array_get(shape, i));
        is_right = dim[i] >= 1 && dim[i] <= 1024;
    }
    if (!is_right)
        return fail(error, HOLO_E_MODEL, "%s: \"latent_shape\" is not three small numbers", path);
    s->channels = dim[0];
    s->height = dim[1];
    s->width = dim[2];
    return HOLO_OK;
}

static holo_status scheduler_read(scheduler *s, const json_t *root, const char *path,
                                  holo_error *error)
{
    int64_t train;
    int64_t steps = 0;
    holo_status status = asset_expect(root, path, "prediction_type", "v_prediction", error);
    if (status == HOLO_OK)
        status = asset_integer(root, path, "num_train_timesteps", SCHEDULER_TRAIN_STEPS,
                               SCHEDULER_TRAIN_STEPS, &train, error);
    if (status == HOLO_OK) status = scheduler_read_alphas(s, root, path, error);
    if (status == HOLO_OK) status = scheduler_read_shape(s, root, path, error);
    if (status == HOLO_OK)
        status = asset_number(root, path, "scaling_factor", 1e-6, 1e6, &s->scaling, error);
    if (status == HOLO_OK)
        status =
            asset_number(root, path, "default_guidance_scale", 0, 100, &s->default_guidance, error);
    if (status == HOLO_OK)
        status =
            asset_integer(root, path, "default_steps", 1, SCHEDULER_TRAIN_STEPS, &steps, error);
    if (status == HOLO_OK)
        status = asset_integer(root, path, "sequence_length", 2, 4096, &s->tokens, error);
    if (status == HOLO_OK)
        status = asset_integer(root, path, "text_width", 1, 8192, &s->text_width, error);
    if (status == HOLO_OK)
        status = asset_integer(root, path, "image_size", 1, 4096, &s->image_size, error);
    s->default_steps = (int32_t)steps;
    return status;
}

holo_status scheduler_new(const char *path, scheduler **out, holo_error *error)
{
    json_t *root;
    holo_status status = asset_load(path, &root, error);
    if (status != HOLO_OK) return status;
    scheduler *s = calloc(1, sizeof *s);
    if (s == NULL)
        status = fail(error, HOLO_E_NOMEM, "no memory for the scheduler");
    else
        status = scheduler_read(s, root, path, error);
    json_decref(root);
    if (status != HOLO_OK) {
        free(s);
        return status;
    }
    *out = s;
    return HOLO_OK;
}

void scheduler_free(scheduler *s)
{
    free(s);
}

size_t scheduler_latents(const scheduler *s)
{
    return (size_t)(s->channels * s->height * s->width);
}

int64_t scheduler_timestep(int32_t steps, int32_t i)
{
    const double train = SCHEDULER_TRAIN_STEPS;
    return (int64_t)nearbyint(train - i * train / steps) - 1; /* halves go to the even number */
}

void scheduler_step(const scheduler *s, int32_t steps, int32_t i, double guidance, const float *v,
                    float *x)
{
    const bool is_last = i + 1 == steps;
    const double a = s->alpha[scheduler_timestep(steps, i)];
    const double b = is_last ? 1 : s->alpha[scheduler_timestep(steps, i + 1)];
    const double keep = sqrt(a);
    const double noise = sqrt(1 - a);
    const double next_keep = sqrt(b);
    const double next_noise = sqrt(1 - b);
    const size_t count = scheduler_latents(s);
    for (size_t k = 0; k < count; k++) {
        const double empty = v[k];
        const double guided = empty + guidance * (v[count + k] - empty);
        const double picture = keep * x[k] - noise * guided;
        const double eps = keep * guided + noise * x[k];
        x[k] = (float)(next_keep * picture + next_noise * eps);
    }
}
