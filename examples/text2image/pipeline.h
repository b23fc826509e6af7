/* pipeline.h - the three models, from token numbers to a picture.
 *
 *     ids [2, tokens] -> text_encoder -> embeddings [2, tokens, width]
 *                                          |
 *     noise [latents] -> unet, scheduler -> repeated -> latents -> vae_decoder -> picture [3, n, n]
 *
 * Row 0 of every pair belongs to the empty prompt, row 1 to the prompt: both halves of the guidance
 * are one run with batch 2. */
#ifndef TEXT2IMAGE_PIPELINE_H
#define TEXT2IMAGE_PIPELINE_H

#include "scheduler.h"

#include <hologram.h>

enum { PIPELINE_STAGES = 3 };

typedef struct pipeline pipeline;

typedef struct pipeline_times {
    double open[PIPELINE_STAGES]; /* seconds, in the order of pipeline_stage_name */
    double prepare;               /* pool, sessions, bound buffers, first layout of memory */
} pipeline_times;

/* Called after each step; false stops with HOLO_E_CANCELLED. */
typedef bool (*pipeline_step_fn)(void *user, int32_t done, int32_t steps);

/* "text_encoder", "unet", "vae_decoder". */
const char *pipeline_stage_name(size_t stage);

/* Opens folder/<stage>.holo; s must outlive the pipeline. */
holo_status pipeline_new(const char *folder, const scheduler *s, uint32_t threads, pipeline **out,
                         holo_error *error);
void pipeline_free(pipeline *p);
pipeline_times pipeline_get_times(const pipeline *p);

/* Each has s->tokens ids. *embeddings is borrowed until the next call. */
holo_status pipeline_encode(pipeline *p, const int64_t *empty, const int64_t *prompt,
                            const float **embeddings, holo_error *error);

/* One run of the U-Net on x with the embeddings encoded last; *v is borrowed until the next call.
 */
holo_status pipeline_predict(pipeline *p, const float *x, int64_t timestep, const float **v,
                             holo_error *error);

/* Turns the noise in x into latents. */
holo_status pipeline_denoise(pipeline *p, int32_t steps, double guidance, float *x,
                             pipeline_step_fn on_step, void *user, holo_error *error);

/* *picture is [3, image_size, image_size] in [-1, 1], borrowed until the next call. */
holo_status pipeline_decode(pipeline *p, const float *x, const float **picture, holo_error *error);

#endif
