/* conv_dw_band.h - depthwise convolution of a few output rows. */
#ifndef HG_BACKEND_CPU_AVX2_CONV_DW_BAND_H
#define HG_BACKEND_CPU_AVX2_CONV_DW_BAND_H

#include "backend/cpu/avx2/gemm.h"
#include "kernel/conv.h"
#include "kernel/conv_means.h"

enum {
    HG_CONV_DW_VECTOR = 8,
    HG_CONV_DW_L1_VALUES = 6144 /* input floats of a band that should stay in L1 */
};

/* What an output starts with and what limits it: the parts of an epilogue that cost nothing here.
 */
typedef struct hg_conv_dw_ends {
    const float *bias, *bias2; /* of the block's first channel, or NULL */
    bool clamps;
    float low, high;
} hg_conv_dw_ends;

/* A block of channels of an image. */
typedef struct hg_conv_dw_unit {
    const hg_conv2d *g;
    const float *x; /* first channel of the block in input line x_first */
    int64_t x_first, x_row, x_col;
    int64_t planes, x_plane; /* kernel planes that count, their distance in the input */
    const float *w;          /* of the first of them */
    int64_t w_tap;
    int64_t channels;
    float *y; /* first output row of the unit */
    int64_t y_row, y_col;
    int64_t first; /* output row that y points to */
    bool is_wide;  /* with AVX-512 where that has tiles: the bits are the same */
    hg_conv_dw_ends ends;
} hg_conv_dw_unit;

/* Output rows that count the same kernel rows. Columns are numbered from the first output. */
typedef struct hg_conv_dw_span {
    const float *x;       /* column 0 of the input line the first output row reads first */
    int64_t x_tap, x_row; /* from kernel row to kernel row, from output row to output row */
    int64_t planes, x_plane, w_plane; /* kernel planes and the way from one to the next */
    int64_t x_col, width;             /* from input pixel to input pixel, and how many there are */
    int64_t pad;    /* input column of the first tap of the first output, negated */
    const float *w; /* first counting kernel row */
    int64_t w_tap;
    float *y;
    int64_t y_row, y_col;
    int64_t kernel_rows, kernel_cols, stride;
    int64_t rows, cols; /* at least a tile of columns */
    int64_t channels;   /* at least HG_CONV_DW_VECTOR */
    hg_conv_dw_ends ends;
} hg_conv_dw_span;

/* Output rows [oy, oy + rows). These functions are defined in conv_dw_band.c. */
void hg_conv_dw_band_avx2(const hg_conv_dw_unit *u, int64_t oy, int64_t rows);
/* All of a span; false: there are no tiles for it. */
bool hg_conv_dw_span_avx512(const hg_conv_dw_span *s);
/* Weights of channels [first, first + u->channels) as f32; `wide` has room for them unless they
 * are. */
void hg_conv_dw_weights_avx2(hg_conv_dw_unit *u, const holo_tensor *w, int64_t first, float *wide);

/* Means of rows [row, row + rows) of the output, counted through the images, for channels
 * [col, col + cols); nothing without means. The bits of hg_conv_means_run. */
void hg_conv_dw_means_avx2(const hg_args *a, int64_t row, int64_t rows, int64_t col, int64_t cols);

/* Which parts of a simple epilogue the tiles do; true when some are left for hg_conv_dw_finish. */
static inline bool hg_conv_dw_find_ends(const hg_epilogue_simple *e, int64_t channel,
                                        hg_conv_dw_ends *ends)
{
    const bool is_plain = hg_epilogue_is_plain(e);
    *ends = (hg_conv_dw_ends){.bias = e->bias == NULL ? NULL : e->bias + channel,
                              .bias2 = e->bias2 == NULL ? NULL : e->bias2 + channel,
                              .clamps = is_plain && e->act == HG_EPILOGUE_CLAMP,
                              .low = e->low,
                              .high = e->high};
    return !is_plain;
}

/* The rest of it, on output rows [row, row + rows) of the unit. */
static inline void hg_conv_dw_finish(const hg_conv_dw_unit *u, const hg_epilogue_simple *e,
                                     const float *out, int64_t row, int64_t rows)
{
    float *c = u->y + row * u->y_row;
    const int64_t col = hg_epilogue_has_columns(e) ? (c - out) % u->y_col : 0;
    hg_gemm_finish_avx2(e, NULL, NULL, hg_epilogue_residuals_at(e, c - out, u->y_col), c, u->y_col,
                        rows * u->g->ow, col, u->channels);
}

#endif
