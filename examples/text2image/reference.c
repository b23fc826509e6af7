/* reference.c - compares every stage with numbers that another implementation gave. */
#include "reference.h"

#include "asset.h"
#include "fail.h"
#include "npy.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { REFERENCE_PICTURES = 2 };

/* The arrays of the folder; the order is that of reference_table. */
enum {
    REFERENCE_IDS,
    REFERENCE_IDS_EMPTY,
    REFERENCE_TEXT,
    REFERENCE_TEXT_EMPTY,
    REFERENCE_NOISE,
    REFERENCE_V_EMPTY,
    REFERENCE_V,
    REFERENCE_LATENTS,
    REFERENCE_IMAGE,
    REFERENCE_ARRAYS
};

typedef enum reference_measure { REFERENCE_MAX, REFERENCE_MEAN } reference_measure;

/* The worst figure of one kind over all pictures, and what it may be. */
typedef struct reference_figure {
    const char *name;
    reference_measure measure;
    double bound;
    double worst;
} reference_figure;

enum {
    FIGURE_TEXT,
    FIGURE_TEXT_EMPTY,
    FIGURE_V_EMPTY,
    FIGURE_V,
    FIGURE_LATENTS,
    FIGURE_IMAGE,
    FIGURE_COUNT
};

typedef struct reference {
    const scheduler *s;
    const tokenizer *t;
    pipeline *p;
    pipeline_step_fn keep_going;
    void *user;
    holo_tensor array[REFERENCE_ARRAYS];
    reference_figure figure[FIGURE_COUNT];
} reference;

static holo_status reference_load(reference *r, const char *folder, holo_error *error)
{
    const scheduler *s = r->s;
    const int64_t n = s->image_size;
    const struct {
        const char *name;
        holo_dtype dtype;
        int32_t rank;
        int64_t dim[4];
    } table[REFERENCE_ARRAYS] = {
        {"input_ids.npy", HOLO_I64, 2, {2, s->tokens}},
        {"input_ids_empty.npy", HOLO_I64, 2, {1, s->tokens}},
        {"text_embeddings.npy", HOLO_F32, 3, {2, s->tokens, s->text_width}},
        {"text_embeddings_empty.npy", HOLO_F32, 3, {1, s->tokens, s->text_width}},
        {"noise.npy", HOLO_F32, 4, {2, s->channels, s->height, s->width}},
        {"unet_first_uncond.npy", HOLO_F32, 4, {2, s->channels, s->height, s->width}},
        {"unet_first_cond.npy", HOLO_F32, 4, {2, s->channels, s->height, s->width}},
        {"latents_final.npy", HOLO_F32, 4, {2, s->channels, s->height, s->width}},
        {"image.npy", HOLO_F32, 4, {2, 3, n, n}},
    };
    for (size_t i = 0; i < REFERENCE_ARRAYS; i++) {
        const holo_status status = npy_read(folder, table[i].name, table[i].dtype, table[i].dim,
                                            table[i].rank, &r->array[i], error);
        if (status != HOLO_OK) return status;
    }
    return HOLO_OK;
}

/* Row `row` of a float array. */
static const float *reference_row(const reference *r, size_t array, size_t row)
{
    const holo_tensor *tensor = &r->array[array];
    const size_t count = (size_t)(holo_tensor_count(tensor) / tensor->dim[0]);
    return (const float *)tensor->data + row * count;
}

static const int64_t *reference_ids(const reference *r, size_t array, size_t row)
{
    return (const int64_t *)r->array[array].data + row * (size_t)r->s->tokens;
}

/* Takes the difference of `count` numbers into a figure; NaN anywhere makes it infinite. */
static void reference_compare(reference_figure *figure, const float *ours, const float *theirs,
                              size_t count)
{
    double largest = 0;
    double sum = 0;
    for (size_t i = 0; i < count; i++) {
        double apart = fabs((double)ours[i] - theirs[i]);
        if (isnan(apart)) apart = INFINITY;
        if (apart > largest) largest = apart;
        sum += apart;
    }
    const double found = figure->measure == REFERENCE_MAX ? largest : sum / (double)count;
    if (found > figure->worst) figure->worst = found;
}

static bool reference_same_ids(const json_t *expected, const int64_t *ids, size_t count)
{
    if (json_array_size(expected) != count) return false;
    for (size_t i = 0; i < count; i++) {
        const json_t *id = json_array_get(expected, i);
        if (!json_is_integer(id) || json_integer_value(id) != ids[i]) return false;
    }
    return true;
}

static holo_status reference_check_prompts(const reference *r, json_t *prompts, holo_error *error)
{
    const size_t count = (size_t)r->s->tokens;
    int64_t *ids = calloc(count, sizeof *ids);
    if (ids == NULL) return fail(error, HOLO_E_NOMEM, "no memory for the ids");
    holo_status status = HOLO_OK;
    const char *prompt;
    json_t *expected;
    json_object_foreach(prompts, prompt, expected)
    {
        status = tokenizer_encode(r->t, prompt, ids, error);
        if (status == HOLO_OK && !reference_same_ids(expected, ids, count))
            status = fail(error, HOLO_E_DATA,
                          "the prompt \"%s\" gives other tokens than the reference", prompt);
        if (status != HOLO_OK) break;
    }
    free(ids);
    if (status == HOLO_OK)
        printf("%-28s %zu prompts, all the same\n", "tokens", json_object_size(prompts));
    return status;
}

static holo_status reference_check_tokens(const reference *r, const char *folder, holo_error *error)
{
    char *path = asset_path(folder, "token_ids.json");
    if (path == NULL) return fail(error, HOLO_E_NOMEM, "no memory for a path");
    json_t *prompts;
    holo_status status = asset_load(path, &prompts, error);
    free(path);
    if (status != HOLO_OK) return status;
    status = reference_check_prompts(r, prompts, error);
    json_decref(prompts);
    return status;
}

static holo_status reference_check_picture(reference *r, size_t row, float *x, holo_error *error)
{
    const scheduler *s = r->s;
    const size_t latents = scheduler_latents(s);
    const size_t text = (size_t)(s->tokens * s->text_width);
    const size_t pixels = (size_t)(3 * s->image_size * s->image_size);
    const float *found;

    holo_status status = pipeline_encode(r->p, reference_ids(r, REFERENCE_IDS_EMPTY, 0),
                                         reference_ids(r, REFERENCE_IDS, row), &found, error);
    if (status != HOLO_OK) return status;
    reference_compare(&r->figure[FIGURE_TEXT_EMPTY], found,
                      reference_row(r, REFERENCE_TEXT_EMPTY, 0), text);
    reference_compare(&r->figure[FIGURE_TEXT], found + text, reference_row(r, REFERENCE_TEXT, row),
                      text);

    memcpy(x, reference_row(r, REFERENCE_NOISE, row), latents * sizeof *x);
    status = pipeline_predict(r->p, x, scheduler_timestep(s->default_steps, 0), &found, error);
    if (status != HOLO_OK) return status;
    reference_compare(&r->figure[FIGURE_V_EMPTY], found, reference_row(r, REFERENCE_V_EMPTY, row),
                      latents);
    reference_compare(&r->figure[FIGURE_V], found + latents, reference_row(r, REFERENCE_V, row),
                      latents);

    status = pipeline_denoise(r->p, s->default_steps, s->default_guidance, x, r->keep_going,
                              r->user, error);
    if (status != HOLO_OK) return status;
    reference_compare(&r->figure[FIGURE_LATENTS], x, reference_row(r, REFERENCE_LATENTS, row),
                      latents);
    status = pipeline_decode(r->p, x, &found, error);
    if (status != HOLO_OK) return status;
    reference_compare(&r->figure[FIGURE_IMAGE], found, reference_row(r, REFERENCE_IMAGE, row),
                      pixels);
    return HOLO_OK;
}

static holo_status reference_judge(const reference *r, holo_error *error)
{
    const char *first_bad = NULL;
    for (size_t i = 0; i < FIGURE_COUNT; i++) {
        const reference_figure *figure = &r->figure[i];
        const bool is_good = figure->worst <= figure->bound;
        printf("%-28s %-4s difference %.2e, at most %.2e: %s\n", figure->name,
               figure->measure == REFERENCE_MAX ? "max" : "mean", figure->worst, figure->bound,
               is_good ? "good" : "TOO FAR");
        if (!is_good && first_bad == NULL) first_bad = figure->name;
    }
    if (first_bad == NULL) return HOLO_OK;
    return fail(error, HOLO_E_DATA, "%s: too far from the reference", first_bad);
}

holo_status reference_check(const char *folder, const tokenizer *t, const scheduler *s, pipeline *p,
                            pipeline_step_fn keep_going, void *user, holo_error *error)
{
    reference r = {
        .s = s,
        .t = t,
        .p = p,
        .keep_going = keep_going,
        .user = user,
        .figure = {{"text embeddings", REFERENCE_MAX, 2e-3, 0},
                   {"text embeddings, empty", REFERENCE_MAX, 2e-3, 0},
                   {"first U-Net output, empty", REFERENCE_MAX, 2e-3, 0},
                   {"first U-Net output", REFERENCE_MAX, 2e-3, 0},
                   {"final latents", REFERENCE_MAX, 1e-2, 0},
                   {"image", REFERENCE_MEAN, 2.0 / 255, 0}},
    };
    float *x = malloc(scheduler_latents(s) * sizeof *x);
    holo_status status = HOLO_OK;
    if (x == NULL) status = fail(error, HOLO_E_NOMEM, "no memory for the latents");
    if (status == HOLO_OK) status = reference_load(&r, folder, error);
    if (status == HOLO_OK) status = reference_check_tokens(&r, folder, error);
    for (size_t row = 0; status == HOLO_OK && row < REFERENCE_PICTURES; row++)
        status = reference_check_picture(&r, row, x, error);
    if (status == HOLO_OK) status = reference_judge(&r, error);
    for (size_t i = 0; i < REFERENCE_ARRAYS; i++)
        free(r.array[i].data);
    free(x);
    return status;
}
