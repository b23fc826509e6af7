/* gridsample.c - gridsample and affinegrid against their definitions. */
#include "kernel/value.h"
#include "kernel/variants.h"

extern const hg_kernel hg_kernels_gridsample[];
#if defined(__x86_64__)
extern const hg_kernel hg_kernels_gridsample_avx2[];
#endif

enum { AFFINE, SAMPLE }; /* places in the table */
enum { NEAREST, LINEAR, CUBIC };
enum { ZEROS, BORDER, REFLECTION };

static void grid_make(move_call *c, holo_dtype dtype, holo_dtype grid, int rank,
                      const int64_t *param)
{
    static const int64_t x[] = {2, 3, 4, 5, 3}, g[] = {2, 3, 2, 4};
    int64_t dim[5] = {2};
    value_in(c, dtype, rank + 2, x, 1);
    for (int d = 0; d < rank; d++)
        dim[1 + d] = g[1 + d];
    dim[rank + 1] = rank;
    value_in(c, grid, rank + 2, dim, 2);
    for (int d = 0; d < rank; d++)
        dim[2 + d] = g[1 + d];
    dim[1] = 3;
    move_out(c, dtype, rank + 2, dim);
    value_params(c, param, 3);
}

static double grid_fold(double x, double low, double high)
{
    if (high <= low) return low;
    while (x < low || x > high)
        x = x < low ? 2 * low - x : 2 * high - x;
    return x;
}

static double grid_hat(int64_t mode, double x)
{
    const double a = -0.75;
    x = fabs(x);
    if (mode == NEAREST) return x == 0 ? 1 : 0;
    if (mode == LINEAR) return x < 1 ? 1 - x : 0;
    if (x <= 1) return (a + 2) * x * x * x - (a + 3) * x * x + 1;
    return x < 2 ? a * x * x * x - 5 * a * x * x + 8 * a * x - 4 * a : 0;
}

/* Weights of the elements of one axis. */
static void grid_weights(const move_call *c, double n, int64_t size, double *w)
{
    const bool align = c->param[2] != 0;
    const double low = align ? 0 : -0.5, high = (double)size - (align ? 1 : 0.5);
    double p = align ? (n + 1) / 2 * (double)(size - 1) : ((n + 1) * (double)size - 1) / 2;
    if (c->param[0] == NEAREST) p = rint(p);
    if (p < low || p > high) {
        if (c->param[1] == BORDER) p = p < 0 ? 0 : p > (double)(size - 1) ? (double)(size - 1) : p;
        if (c->param[1] == REFLECTION) p = grid_fold(p, low, high);
    }
    for (int64_t i = 0; i < size; i++)
        w[i] = 0;
    for (int64_t i = (int64_t)floor(p) - 2; i <= (int64_t)floor(p) + 3; i++) {
        int64_t to = i;
        if (i < 0 || i >= size) {
            if (c->param[1] == ZEROS) continue;
            to = c->param[1] == BORDER ? (i < 0 ? 0 : size - 1)
                                       : (int64_t)grid_fold((double)i, low, high);
        }
        w[to] += grid_hat(c->param[0], (double)i - p);
    }
}

static void grid_values(void)
{
    static const holo_dtype types[] = {HOLO_F64, HOLO_F32, HOLO_F16, HOLO_I32};
    for (size_t k = 0; k < 4 * 3 * 18; k++) {
        const int64_t param[] = {(int64_t)k % 3, (int64_t)k / 3 % 3, (int64_t)k / 9 % 2};
        const int rank = 1 + (int)(k / 18 % 3);
        move_call c = {0};
        grid_make(&c, types[k / 54], HOLO_F64, rank, param);
        if (!move_run(&hg_kernels_gridsample[SAMPLE], &c)) return;
        const int64_t out = hg_dims_product(&c.out[0], 2, rank + 2);
        const int64_t plane = hg_dims_product(&c.in[0], 2, rank + 2);
        for (int64_t i = 0; i < holo_tensor_count(&c.out[0]); i++) {
            double w[3][5], sum = 0;
            for (int d = 0; d < rank; d++)
                grid_weights(
                    &c, value_get(&c.in[1], (i / out / 3 * out + i % out) * rank + rank - 1 - d),
                    c.in[0].dim[2 + d], w[d]);
            for (int64_t j = 0; j < plane; j++) {
                double v = value_get(&c.in[0], i / out * plane + j);
                for (int64_t d = rank - 1, rest = j; d >= 0; rest /= c.in[0].dim[2 + d], d--)
                    v *= w[d][rest % c.in[0].dim[2 + d]];
                sum += v;
            }
            if (types[k / 54] == HOLO_I32) {
                if (!CHECK_NEAR(value_get(&c.out[0], i), sum, 1.0 + 1e-9)) break; /* cut off */
            } else if (!value_near(&c.out[0], i, sum)) {
                break;
            }
        }
        move_free(&c);
    }
}

/* Pictures of f32 have a loop of their own: the same bits as those of another form, [.., 1]. */
static void grid_pictures(void)
{
    enum { PLACES = 150 };
    for (size_t k = 0; k < 6; k++) {
        const int64_t param[] = {LINEAR, (int64_t)k % 3, (int64_t)k / 3};
        float result[2][2 * 3 * PLACES];
        for (int deep = 0; deep < 2; deep++) {
            move_call c = {0};
            value_in(&c, HOLO_F32, 4 + deep, MOVE_DIMS(2, 3, 4, 5, 1), 1);
            if (deep)
                value_in(&c, HOLO_F32, 5, MOVE_DIMS(2, 15, 10, 1, 3), 2);
            else
                value_in(&c, HOLO_F32, 4, MOVE_DIMS(2, 15, 10, 2), 2);
            for (int64_t i = 0; i < 2 * PLACES; i++) {
                float *at = (float *)c.in[1].data + i * (2 + deep);
                if (deep) at[0] = 0; /* the middle of one element */
                at[deep] = i % 50 == 7 ? NAN : (float)(i % 17) / 6 - 1.4F;
                at[deep + 1] = i % 50 == 9 ? 1e30F : (float)(i % 23) / 8 - 1.4F;
            }
            if (deep)
                move_out(&c, HOLO_F32, 5, MOVE_DIMS(2, 3, 15, 10, 1));
            else
                move_out(&c, HOLO_F32, 4, MOVE_DIMS(2, 3, 15, 10));
            value_params(&c, param, 3);
            if (CHECK(move_run(&hg_kernels_gridsample[SAMPLE], &c)))
                memcpy(result[deep], c.out[0].data, sizeof result[deep]);
            move_free(&c);
        }
        CHECK(memcmp(result[0], result[1], sizeof result[0]) == 0);
    }
}

#if defined(__x86_64__)
/* Tuned code has the bits of the reference: places inside, at edges, far away and NaN; elements
 * that are infinite count only where they have weight. */
static void grid_tuned(void)
{
    static const int64_t sizes[][2] = {{4, 5}, {1, 2}, {7, 1}, {9, 16}, {2, 3}};
    for (size_t k = 0; k < 6 * HG_COUNT(sizes) && tuned_runs(); k++) {
        const int64_t *size = sizes[k / 6], places[] = {1, 3, 77, 64, 130};
        const int64_t wide = places[k / 6], param[] = {LINEAR, (int64_t)k % 3, (int64_t)k / 3 % 2};
        move_call c = {0};
        value_in(&c, HOLO_F32, 4, MOVE_DIMS(2, 3, size[0], size[1]), 1);
        ((float *)c.in[0].data)[0] = INFINITY;
        ((float *)c.in[0].data)[size[0] * size[1] - 1] = NAN;
        value_in(&c, HOLO_F32, 4, MOVE_DIMS(2, 2, wide, 2), 2);
        for (int64_t i = 0; i < 8 * wide; i++)
            if (i % 4 != 3)
                ((float *)c.in[1].data)[i] = i % 50 == 7    ? NAN
                                             : i % 31 == 0  ? -1e30F
                                             : i % 13 == 2  ? -1.0F
                                             : i % 17 == 10 ? 1.0F
                                                            : (float)(i % 23) / 9 - 1.2F;
        move_out(&c, HOLO_F32, 4, MOVE_DIMS(2, 3, 2, wide));
        value_params(&c, param, 3);
        const size_t bytes = holo_tensor_bytes(&c.out[0]);
        float expected[2 * 3 * 2 * 130];
        if (CHECK(move_run(&hg_kernels_gridsample[SAMPLE], &c))) {
            memcpy(expected, c.out[0].data, bytes);
            CHECK(move_run(hg_kernels_gridsample_avx2, &c));
            CHECK(memcmp(expected, c.out[0].data, bytes) == 0);
        }
        move_free(&c);
    }
}
#endif

static void grid_wild_places(void)
{
    static const double wild[] = {NAN, INFINITY, -INFINITY, 1e300, -1e300, 1e15};
    for (size_t k = 0; k < 18; k++) {
        const int64_t param[] = {(int64_t)k % 3, (int64_t)k / 3 % 3, (int64_t)k / 9};
        move_call c = {0};
        grid_make(&c, HOLO_F32, HOLO_F64, 2, param);
        for (int64_t i = 0; i < holo_tensor_count(&c.in[1]); i++)
            value_set(&c.in[1], i, wild[i % 6]);
        CHECK(move_run(&hg_kernels_gridsample[SAMPLE], &c));
        move_free(&c);
    }
    move_call c = {0};
    grid_make(&c, HOLO_U8, HOLO_F32, 2, MOVE_DIMS(CUBIC, REFLECTION, 0));
    c.in[0].dim[2] = c.in[0].dim[3] = 1; /* a single element reflects onto itself */
    CHECK(move_run(&hg_kernels_gridsample[SAMPLE], &c));
    move_free(&c);
    grid_make(&c, HOLO_F32, HOLO_F32, 2, MOVE_DIMS(LINEAR, BORDER, 1));
    c.in[0].dim[2] = 0; /* nothing to sample */
    if (move_run(&hg_kernels_gridsample[SAMPLE], &c)) CHECK(value_get(&c.out[0], 0) == 0.0);
    move_free(&c);
}

static void grid_moves_any_type(void)
{
    move_call c = {0};
    grid_make(&c, HOLO_F32, HOLO_F32, 2, MOVE_DIMS(NEAREST, BORDER, 1));
    free(c.in[0].data);
    free(c.out[0].data);
    c.in[0] = move_tensor(HOLO_C128, 4, c.in[0].dim);
    c.out[0] = move_tensor(HOLO_C128, 4, c.out[0].dim);
    move_fill(&c.in[0]);
    value_set(&c.in[1], 0, -1.0);
    value_set(&c.in[1], 1, -1.0);
    if (move_run(&hg_kernels_gridsample[SAMPLE], &c)) CHECK(move_same(&c.out[0], 0, &c.in[0], 0));
    move_free(&c);
}

static void grid_make_affine(move_call *c, holo_dtype dtype, int n, int64_t align)
{
    value_in(c, dtype, 3, MOVE_DIMS(2, n, n + 1), 3);
    move_out(c, dtype, n + 2, n == 2 ? MOVE_DIMS(2, 3, 4, 2) : MOVE_DIMS(2, 3, 4, 1, 3));
    move_param(c, align);
}

static void grid_affine(void)
{
    for (int k = 0; k < 8; k++) {
        move_call c = {0};
        const int n = 2 + k % 2;
        grid_make_affine(&c, k < 4 ? HOLO_F32 : HOLO_F64, n, k / 2 % 2);
        if (!move_run(&hg_kernels_gridsample[AFFINE], &c)) return;
        for (int64_t i = 0; i < holo_tensor_count(&c.out[0]); i++) {
            int64_t at[5];
            move_coordinates(&c.out[0], i, at);
            const int64_t row = (at[0] * n + at[n + 1]) * (n + 1);
            double sum = value_get(&c.in[0], row + n);
            for (int j = 0; j < n; j++) { /* x belongs to the last axis */
                const double size = (double)c.out[0].dim[n - j], o = (double)at[n - j];
                const double p = c.param[0] == 0 ? (2 * o + 1) / size - 1
                                 : size > 1      ? 2 * o / (size - 1) - 1
                                                 : -1;
                sum += value_get(&c.in[0], row + j) * p;
            }
            if (!value_near(&c.out[0], i, sum)) break;
        }
        move_free(&c);
    }
}

static void grid_make_good(move_call *c)
{
    grid_make(c, HOLO_F32, HOLO_F32, 2, MOVE_DIMS(LINEAR, ZEROS, 0));
}

static void grid_make_affine_good(move_call *c)
{
    grid_make_affine(c, HOLO_F32, 2, 0);
}

static void grid_refuses(void)
{
    static const move_bad sample[] = {
        {MOVE_N_IN, 0, 0, 1, "1 inputs"},
        {MOVE_PARAM, 0, 0, 3, "mode is 3"},
        {MOVE_PARAM, 1, 0, 3, "padding is 3"},
        {MOVE_PARAM, 2, 0, 2, "align_corners is 2"},
        {MOVE_IN_TYPE, 0, 0, HOLO_BOOL, "input 0 has type bool"},
        {MOVE_IN_TYPE, 1, 0, HOLO_I32, "input 1 has type int32"},
        {MOVE_OUT_TYPE, 0, 0, HOLO_BOOL, "output 0 has type bool"},
        {MOVE_OUT_TYPE, 0, 0, HOLO_F64, "output has type float64"},
        {MOVE_IN_RANK, 0, 0, 2, "input has rank 2"},
        {MOVE_IN_RANK, 1, 0, 3, "grid has rank 3"},
        {MOVE_OUT_RANK, 0, 0, 3, "output has rank 3"},
        {MOVE_IN_DIM, 1, 0, 1, "grid has 1 samples of 2 coordinates"},
        {MOVE_IN_DIM, 1, 3, 3, "grid has 2 samples of 3 coordinates"},
        {MOVE_OUT_DIM, 0, 0, 1, "output has 1 x 3 planes"},
        {MOVE_OUT_DIM, 0, 1, 1, "output has 2 x 1 planes"},
        {MOVE_OUT_DIM, 0, 3, 5, "dimension 3 of the output is 5"},
    };
    MOVE_REFUSES(&hg_kernels_gridsample[SAMPLE], grid_make_good, sample);
    static const move_bad affine[] = {
        {MOVE_N_PARAM, 0, 0, 0, "0 parameters"},
        {MOVE_PARAM, 0, 0, 2, "align_corners is 2"},
        {MOVE_IN_TYPE, 0, 0, HOLO_I32, "input 0 has type int32"},
        {MOVE_OUT_TYPE, 0, 0, HOLO_I32, "output 0 has type int32"},
        {MOVE_OUT_TYPE, 0, 0, HOLO_F64, "output has type float64"},
        {MOVE_IN_RANK, 0, 0, 2, "theta has rank 2"},
        {MOVE_OUT_RANK, 0, 0, 3, "output has rank 3"},
        {MOVE_IN_DIM, 0, 0, 1, "theta is 1 x 2 x 3"},
        {MOVE_IN_DIM, 0, 1, 3, "theta is 2 x 3 x 3"},
        {MOVE_IN_DIM, 0, 2, 2, "theta is 2 x 2 x 2"},
        {MOVE_OUT_DIM, 0, 3, 3, "output has 3 coordinates"},
    };
    MOVE_REFUSES(&hg_kernels_gridsample[AFFINE], grid_make_affine_good, affine);
}

const hg_test_case hg_tests_kernel_gridsample[] = {
    {"values", grid_values},
    {"pictures", grid_pictures},
#if defined(__x86_64__)
    {"tuned", grid_tuned},
#endif
    {"wild_places", grid_wild_places},
    {"moves_any_type", grid_moves_any_type},
    {"affine", grid_affine},
    {"refuses", grid_refuses},
    {0},
};
