/* sample.h - compiled models that are run while compiling: for precomputed answers and for
 * calibration. */
#ifndef HG_COMPILE_SAMPLE_H
#define HG_COMPILE_SAMPLE_H

#include "base/ctx.h"

/* A model in memory with one session. */
typedef struct hg_sampler {
    void *data;
    size_t size;
    holo_model *model;
    holo_session *session;
} hg_sampler;

/* Takes the bytes of a compiled model. Always end with hg_sampler_deinit. */
HG_MUST_CHECK holo_status hg_sampler_open(hg_sampler *s, hg_ctx *ctx, const holo_kernels *extra,
                                          void *data, size_t size);
void hg_sampler_deinit(hg_sampler *s, hg_ctx *ctx);
/* The tensor of a sample for a named input, NULL when it has none. */
const holo_tensor *hg_sample_find(const holo_sample *sample, const char *name, uint32_t n_in);
/* Binds sample `number` by the names of the inputs and runs. */
HG_MUST_CHECK holo_status hg_sampler_run(hg_sampler *s, hg_ctx *ctx, const holo_sample *sample,
                                         size_t number);

#endif
