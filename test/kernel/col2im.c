/* col2im.c - col2im against spreading the blocks one after the other. */
#include "kernel/value.h"

extern const hg_kernel hg_kernels_col2im[];

typedef struct col2im_case {
    int rank;
    int64_t n, c, image[3], block[3], stride[3], pad[3], dilation[3], blocks[3];
} col2im_case;

static const col2im_case col2im_cases[] = {
    {2, 1, 2, {5, 5}, {2, 3}, {1, 1}, {0, 0}, {1, 1}, {4, 3}},
    {2, 2, 1, {5, 6}, {2, 2}, {2, 3}, {1, 1}, {1, 2}, {3, 2}},
    {1, 1, 3, {9}, {3}, {2}, {1}, {2}, {4}},
    {3, 1, 1, {3, 3, 4}, {2, 2, 2}, {1, 1, 2}, {0, 0, 0}, {1, 1, 1}, {2, 2, 2}},
};

static int64_t col2im_product(const int64_t *list, int rank)
{
    int64_t product = 1;
    for (int d = 0; d < rank; d++)
        product *= list[d];
    return product;
}

static void col2im_make(move_call *c, const col2im_case *p, holo_dtype dtype)
{
    int64_t out[5] = {p->n, p->c};
    for (int d = 0; d < p->rank; d++)
        out[2 + d] = p->image[d];
    value_in(c, dtype, 3,
             MOVE_DIMS(p->n, p->c * col2im_product(p->block, p->rank),
                       col2im_product(p->blocks, p->rank)),
             1);
    move_out(c, dtype, p->rank + 2, out);
    move_param(c, p->rank);
    value_params(c, p->block, p->rank);
    value_params(c, p->stride, p->rank);
    value_params(c, p->pad, p->rank);
    value_params(c, p->dilation, p->rank);
    value_params(c, p->blocks, p->rank);
}

/* Sums of a whole plane, by blocks and their elements. */
static void col2im_spread(const col2im_case *p, const holo_tensor *x, int64_t plane, double *sum)
{
    const int64_t taps = col2im_product(p->block, p->rank),
                  blocks = col2im_product(p->blocks, p->rank);
    for (int64_t i = 0; i < taps * blocks; i++) {
        int64_t tap = i / blocks, block = i % blocks, at = 0, step = 1;
        bool inside = true;
        for (int d = p->rank - 1; d >= 0; d--) {
            const int64_t place = block % p->blocks[d] * p->stride[d] +
                                  tap % p->block[d] * p->dilation[d] - p->pad[d];
            inside = inside && place >= 0 && place < p->image[d];
            at += place * step;
            step *= p->image[d];
            tap /= p->block[d];
            block /= p->blocks[d];
        }
        if (inside) sum[at] += value_get(x, plane * taps * blocks + i);
    }
}

static void col2im_values(void)
{
    static const holo_dtype types[] = {HOLO_F32, HOLO_F64, HOLO_F16, HOLO_I8, HOLO_I32, HOLO_I64};
    for (size_t k = 0; k < HG_COUNT(col2im_cases) * HG_COUNT(types); k++) {
        const col2im_case *p = &col2im_cases[k / HG_COUNT(types)];
        const int64_t plane = col2im_product(p->image, p->rank);
        move_call c = {0};
        col2im_make(&c, p, types[k % HG_COUNT(types)]);
        if (move_run(hg_kernels_col2im, &c))
            for (int64_t u = 0; u < p->n * p->c; u++) {
                double sum[64] = {0};
                col2im_spread(p, &c.in[0], u, sum);
                for (int64_t i = 0; i < plane; i++) {
                    if (types[k % HG_COUNT(types)] == HOLO_I8)
                        sum[i] = (double)(int8_t)(int64_t)sum[i];
                    if (!value_near(&c.out[0], u * plane + i, sum[i])) break;
                }
            }
        move_free(&c);
    }
}

static void col2im_make_good(move_call *c)
{
    col2im_make(c, &col2im_cases[0], HOLO_F32);
}

static void col2im_refuses(void)
{
    static const move_bad bad[] = {
        {MOVE_N_IN, 0, 0, 2, "2 inputs"},
        {MOVE_N_PARAM, 0, 0, 10, "10 parameters"},
        {MOVE_PARAM, 0, 0, 7, "number of spatial axes is 7"},
        {MOVE_IN_TYPE, 0, 0, HOLO_STRING, "input 0 has type string"},
        {MOVE_OUT_TYPE, 0, 0, HOLO_STRING, "output 0 has type string"},
        {MOVE_OUT_TYPE, 0, 0, HOLO_F64, "output has type float64"},
        {MOVE_IN_RANK, 0, 0, 2, "input has rank 2"},
        {MOVE_OUT_RANK, 0, 0, 3, "output has rank 3"},
        {MOVE_OUT_DIM, 0, 0, 2, "output has 2 pictures"},
        {MOVE_PARAM, 1, 0, 0, "block is 0"},
        {MOVE_PARAM, 3, 0, 0, "stride is 0"},
        {MOVE_PARAM, 5, 0, INT64_C(1) << 40, "padding is"},
        {MOVE_PARAM, 7, 0, 0, "dilation is 0"},
        {MOVE_PARAM, 9, 0, -1, "number of blocks is -1"},
        {MOVE_PARAM, 9, 0, INT64_MAX, "the blocks are too large"},
        {MOVE_PARAM, 9, 0, 5, "input has 12 blocks, expected 15"},
        {MOVE_IN_DIM, 0, 1, 11, "input has 11 rows, expected 12"},
    };
    MOVE_REFUSES(hg_kernels_col2im, col2im_make_good, bad);
}

const hg_test_case hg_tests_kernel_col2im[] = {
    {"values", col2im_values},
    {"refuses", col2im_refuses},
    {0},
};
