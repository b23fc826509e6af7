/* scheduler.h - DDIM for a model that predicts v, with the numbers of scheduler.json. */
#ifndef TEXT2IMAGE_SCHEDULER_H
#define TEXT2IMAGE_SCHEDULER_H

#include <hologram.h>

enum { SCHEDULER_TRAIN_STEPS = 1000 };

typedef struct scheduler {
    double alpha[SCHEDULER_TRAIN_STEPS]; /* alphas_cumprod: how much of the picture is left at t */
    double scaling;                      /* latents are divided by it before they are decoded */
    double default_guidance;
    int32_t default_steps;
    int64_t channels; /* of the latents */
    int64_t height;
    int64_t width;
    int64_t tokens;
    int64_t text_width;
    int64_t image_size;
} scheduler;

/* Reads scheduler.json. Release with scheduler_free. */
holo_status scheduler_new(const char *path, scheduler **out, holo_error *error);
void scheduler_free(scheduler *s);

/* Elements of one latent picture. */
size_t scheduler_latents(const scheduler *s);

/* The training step at position i of `steps`, 1 <= steps <= SCHEDULER_TRAIN_STEPS. */
int64_t scheduler_timestep(int32_t steps, int32_t i);

/* Moves x one step towards the picture. v holds two predictions, for the empty prompt and then for
 * the prompt, each of scheduler_latents elements. */
void scheduler_step(const scheduler *s, int32_t steps, int32_t i, double guidance, const float *v,
                    float *x);

#endif
