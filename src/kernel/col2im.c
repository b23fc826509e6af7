/* col2im.c - col2im: sums columns of blocks back into a picture, any number of spatial axes.
 *
 *   in[0]  X [N, C * block elements, blocks]; blocks numbered last axis fastest
 *   param  n_spatial, then lists: block, stride, pad_begin, dilation, blocks along each axis
 *   out[0] Y [N, C, spatial...], X's type: the sum of all that cover an element
 *
 * Summed in the order of the block's elements; floats and both parts of complex numbers in
 * f64, integers modulo their width; a sum of bool says whether any is true. */
#include "kernel/number.h"

#define COL2IM_TYPES (HG_TYPES_NUMBER | HG_TYPES_BOOL | HG_TYPES_COMPLEX)

enum { COL2IM_LIMIT = INT32_MAX, COL2IM_MAX_SPATIAL = HG_MAX_RANK - 2 };

static holo_status col2im_check_axes(const hg_args *a, holo_error *e, uint32_t rank)
{
    const holo_tensor *x = &a->in[0], *y = &a->out[0];
    int64_t taps = y->dim[1], blocks = 1;
    for (uint32_t d = 0; d < rank; d++) {
        const uint32_t at = 1 + d;
        HG_TRY(hg_check_param(a, e, at, "block", 1, COL2IM_LIMIT));
        HG_TRY(hg_check_param(a, e, at + rank, "stride", 1, COL2IM_LIMIT));
        HG_TRY(hg_check_param(a, e, at + 2 * rank, "padding", -COL2IM_LIMIT, COL2IM_LIMIT));
        HG_TRY(hg_check_param(a, e, at + 3 * rank, "dilation", 1, COL2IM_LIMIT));
        HG_TRY(hg_check_param(a, e, at + 4 * rank, "number of blocks", 0, INT64_MAX));
        HG_REQUIRE(e,
                   hg_mul_i64(taps, a->param[at], &taps) &&
                       hg_mul_i64(blocks, a->param[at + 4 * rank], &blocks),
                   HOLO_E_SHAPE, "the blocks are too large");
    }
    HG_REQUIRE(e, x->dim[1] == taps, HOLO_E_SHAPE, "input has %lld rows, expected %lld",
               (long long)x->dim[1], (long long)taps);
    HG_REQUIRE(e, x->dim[2] == blocks, HOLO_E_SHAPE, "input has %lld blocks, expected %lld",
               (long long)x->dim[2], (long long)blocks);
    return HOLO_OK;
}

static holo_status col2im_check(const hg_args *a, holo_error *e)
{
    HG_TRY(hg_check_param(a, e, 0, "number of spatial axes", 1, COL2IM_MAX_SPATIAL));
    const int rank = (int)a->param[0];
    HG_TRY(hg_check_counts(a, e, 1, 1, 1, 1 + 5 * rank));
    HG_TRY(hg_check_in_type(a, e, 0, COL2IM_TYPES));
    HG_TRY(hg_check_out_type(a, e, 0, COL2IM_TYPES));
    HG_TRY(hg_check_same_type(&a->out[0], &a->in[0], e, "output"));
    HG_TRY(hg_check_rank(&a->in[0], e, "input", 3, 3));
    HG_TRY(hg_check_rank(&a->out[0], e, "output", rank + 2, rank + 2));
    HG_REQUIRE(e, a->in[0].dim[0] == a->out[0].dim[0], HOLO_E_SHAPE,
               "output has %lld pictures, expected %lld", (long long)a->out[0].dim[0],
               (long long)a->in[0].dim[0]);
    return col2im_check_axes(a, e, (uint32_t)rank);
}

static int64_t col2im_units(const hg_args *a)
{
    return holo_tensor_count(&a->out[0]) == 0 ? 0 : a->out[0].dim[0] * a->out[0].dim[1];
}

/* Number of the block whose element `tap` covers place[], or -1. */
static int64_t col2im_block(const hg_args *a, const int64_t *place, const int64_t *tap)
{
    const int rank = (int)a->param[0];
    const int64_t *stride = a->param + 1 + rank, *pad = stride + rank, *dilation = pad + rank;
    const int64_t *blocks = dilation + rank;
    int64_t number = 0;
    for (int d = 0; d < rank; d++) {
        const int64_t p = place[d] + pad[d] - tap[d] * dilation[d];
        if (p < 0 || p % stride[d] != 0 || p / stride[d] >= blocks[d]) return -1;
        number = number * blocks[d] + p / stride[d];
    }
    return number;
}

/* Integers of any width: the low bits of the sum do not depend on the sign. */
static uint64_t col2im_bits(const holo_tensor *t, int64_t i)
{
    const uint32_t bits = hg_dtype_bits(t->dtype);
    if (bits == 8) return ((const uint8_t *)t->data)[i];
    if (bits == 16) return ((const uint16_t *)t->data)[i];
    return bits == 32 ? ((const uint32_t *)t->data)[i] : ((const uint64_t *)t->data)[i];
}

static void col2im_put_bits(const holo_tensor *t, int64_t i, uint64_t v)
{
    const uint32_t bits = hg_dtype_bits(t->dtype);
    if (bits == 8) ((uint8_t *)t->data)[i] = (uint8_t)v;
    if (bits == 16) ((uint16_t *)t->data)[i] = (uint16_t)v;
    if (bits == 32) ((uint32_t *)t->data)[i] = (uint32_t)v;
    if (bits == 64) ((uint64_t *)t->data)[i] = v;
}

typedef struct col2im_sum {
    double re, im;
    uint64_t bits;
} col2im_sum;

static void col2im_add(const holo_tensor *x, int64_t i, col2im_sum *sum)
{
    if (x->dtype == HOLO_C64) {
        sum->re += (double)((const float *)x->data)[2 * i];
        sum->im += (double)((const float *)x->data)[2 * i + 1];
    } else if (x->dtype == HOLO_C128) {
        sum->re += ((const double *)x->data)[2 * i];
        sum->im += ((const double *)x->data)[2 * i + 1];
    } else if (hg_dtype_is_float(x->dtype)) {
        sum->re += hg_number_load(x, i);
    } else {
        sum->bits += col2im_bits(x, i);
    }
}

static void col2im_store(const holo_tensor *y, int64_t i, const col2im_sum *sum)
{
    if (y->dtype == HOLO_C64) {
        ((float *)y->data)[2 * i] = (float)sum->re;
        ((float *)y->data)[2 * i + 1] = (float)sum->im;
    } else if (y->dtype == HOLO_C128) {
        ((double *)y->data)[2 * i] = sum->re;
        ((double *)y->data)[2 * i + 1] = sum->im;
    } else if (hg_dtype_is_float(y->dtype)) {
        hg_number_store(y, i, sum->re);
    } else {
        col2im_put_bits(y, i, y->dtype == HOLO_BOOL ? sum->bits != 0 : sum->bits);
    }
}

/* Element number i of plane u. */
static void col2im_element(const hg_args *a, int64_t u, int64_t taps, int64_t i, int64_t to)
{
    const holo_tensor *x = &a->in[0], *y = &a->out[0];
    const int rank = (int)a->param[0];
    int64_t place[COL2IM_MAX_SPATIAL], tap[COL2IM_MAX_SPATIAL] = {0};
    for (int d = rank - 1; d >= 0; d--) {
        place[d] = i % y->dim[2 + d];
        i /= y->dim[2 + d];
    }
    col2im_sum sum = {0};
    for (int64_t t = 0; t < taps; t++) {
        const int64_t block = col2im_block(a, place, tap);
        if (block >= 0) col2im_add(x, (u * taps + t) * x->dim[2] + block, &sum);
        for (int d = rank - 1; d >= 0 && ++tap[d] == a->param[1 + d]; d--)
            tap[d] = 0;
    }
    col2im_store(y, to, &sum);
}

static void col2im_run(const hg_args *a, hg_range r)
{
    const holo_tensor *y = &a->out[0];
    const int64_t plane = hg_dims_product(y, 2, y->rank);
    int64_t taps = 1;
    for (int d = 0; d < (int)a->param[0]; d++)
        taps *= a->param[1 + d];
    for (int64_t u = r.begin; u < r.end; u++)
        for (int64_t i = 0; i < plane; i++)
            col2im_element(a, u, taps, i, u * plane + i);
}

const hg_kernel hg_kernels_col2im[] = {
    {.name = "col2im", .check = col2im_check, .units = col2im_units, .run = col2im_run},
    {0},
};
