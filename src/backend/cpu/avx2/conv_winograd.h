/* conv_winograd.h - the transforms of conv.winograd, which AVX-512 has too: they do whole vectors
 * of channels or outputs and say how many those were. The bits are the same. */
#ifndef HG_BACKEND_CPU_AVX2_CONV_WINOGRAD_H
#define HG_BACKEND_CPU_AVX2_CONV_WINOGRAD_H

#include "backend/cpu/avx2/gemm.h"

enum {
    WINOGRAD_OUT = 4,    /* outputs of a tile along an axis */
    WINOGRAD_IN = 6,     /* inputs */
    WINOGRAD_POINTS = 36 /* of a transformed tile */
};

/* The 3x3 weights of 16 outputs for each of some channels. */
typedef struct hg_winograd_weights {
    const void *from; /* f32, or f16 when is_half */
    bool is_half;
    int64_t tap, depth; /* elements from tap to tap; channels, 16 elements apart */
    float *to;
    int64_t ld, step; /* floats from channel to channel, from point to point */
} hg_winograd_weights;

/* How columns of a tile of sums become 4x4 pixels. */
typedef struct hg_winograd_outputs {
    const float *bias;  /* of each column */
    float low, high;    /* results are limited to that */
    int64_t step;       /* floats of the sums from point to point */
    int64_t row, pixel; /* of the outputs from row to row, from pixel to pixel */
} hg_winograd_outputs;

/* V of a tile: channels [c, channels) of its 36 pixels. */
int64_t hg_winograd_inputs_avx512(const float *const *from, int64_t c, int64_t channels, float *to,
                                  int64_t step);
void hg_winograd_weights_avx512(const hg_winograd_weights *w);
/* Columns [col, cols). */
int64_t hg_winograd_outputs_avx512(const hg_winograd_outputs *y, int64_t col, int64_t cols,
                                   const float *m, float *to);

#endif
