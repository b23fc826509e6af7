/* topk.c - topk against sorting. */
#include "kernel/value.h"
#include "kernel/variants.h"

#include <math.h>

extern const hg_kernel hg_kernels_topk[];
#if defined(__x86_64__)
extern const hg_kernel TUNED(topk)[];
#endif

/* The tuned kernel, where there is one, gives the same bits as the reference; then it runs. */
static bool topk_run_all(move_call *c)
{
    if (!move_run(hg_kernels_topk, c)) return false;
#if defined(__x86_64__)
    if (!tuned_runs()) return true;
    const size_t bytes[] = {holo_tensor_bytes(&c->out[0]), holo_tensor_bytes(&c->out[1])};
    void *copy[] = {malloc(bytes[0]), malloc(bytes[1])};
    for (int j = 0; j < 2; j++)
        memcpy(copy[j], c->out[j].data, bytes[j]);
    bool same = move_run(TUNED(topk), c);
    for (int j = 0; j < 2; j++) {
        same = CHECK(memcmp(copy[j], c->out[j].data, bytes[j]) == 0) && same;
        free(copy[j]);
    }
    return same;
#else
    return true;
#endif
}

static void topk_make(move_call *c, holo_dtype dtype, int64_t axis, int64_t k, bool largest)
{
    int64_t dim[] = {3, 7, 4};
    value_in(c, dtype, 3, dim, 5);
    dim[axis] = k;
    move_out(c, dtype, 3, dim);
    move_out(c, HOLO_I64, 3, dim);
    move_param(c, axis);
    move_param(c, largest);
}

/* Rank of element i of a row: how many are better. */
static int64_t topk_rank(const holo_tensor *x, int64_t first, int64_t stride, int64_t n, int64_t i,
                         bool largest)
{
    int64_t rank = 0;
    const double v = value_get(x, first + i * stride);
    for (int64_t j = 0; j < n; j++) {
        const double w = value_get(x, first + j * stride);
        rank += largest ? w > v : w < v;
        rank += w == v && j < i;
    }
    return rank;
}

static void topk_values(void)
{
    static const holo_dtype types[] = {HOLO_F32, HOLO_F64, HOLO_F16, HOLO_BF16,
                                       HOLO_I8,  HOLO_U8,  HOLO_I32, HOLO_I64};
    for (size_t t = 0; t < HG_COUNT(types); t++)
        for (int64_t axis = 0; axis < 3; axis++)
            for (int64_t k = 0; k <= (axis == 0 ? 3 : axis == 1 ? 7 : 4); k++)
                for (int largest = 0; largest < 2; largest++) {
                    move_call c = {0};
                    topk_make(&c, types[t], axis, k, largest == 1);
                    for (int64_t i = 0; i < 84; i += 5) /* some equal ones */
                        value_set(&c.in[0], i, 1.0);
                    if (!move_run(hg_kernels_topk, &c)) return;
                    for (int64_t i = 0; i < holo_tensor_count(&c.out[0]); i++) {
                        int64_t at[3], stride = axis == 0 ? 28 : axis == 1 ? 4 : 1;
                        move_coordinates(&c.out[0], i, at);
                        const int64_t rank = at[axis], index = ((int64_t *)c.out[1].data)[i];
                        at[axis] = 0;
                        const int64_t first = move_flat(&c.in[0], at), n = c.in[0].dim[axis];
                        CHECK(index >= 0 && index < n);
                        CHECK_EQ_INT(topk_rank(&c.in[0], first, stride, n, index, largest == 1),
                                     rank);
                        CHECK(move_same(&c.out[0], i, &c.in[0], first + index * stride));
                    }
                    move_free(&c);
                }
}

/* Few of many floats, NaN and equal ones among them; all of a row are NaN in the end. */
static void topk_few_of_many(void)
{
    enum { ROWS = 6, MANY = 150 };
    for (int64_t k = 1; k < 12; k += 5)
        for (int largest = 0; largest < 2; largest++) {
            move_call c = {0};
            value_in(&c, HOLO_F32, 2, MOVE_DIMS(ROWS, MANY), 9);
            float *x = c.in[0].data;
            for (int i = 0; i < ROWS * MANY; i++) {
                x[i] = floorf(x[i] * 40);
                if (i / MANY == ROWS - 1 || (i / MANY > 2 && i % 37 == 5)) x[i] = NAN;
            }
            move_out(&c, HOLO_F32, 2, MOVE_DIMS(ROWS, k));
            move_out(&c, HOLO_I64, 2, MOVE_DIMS(ROWS, k));
            value_params(&c, MOVE_DIMS(1, largest), 2);
            if (!topk_run_all(&c)) return;
            for (int64_t i = 0; i < ROWS * k; i++) {
                const float *row = x + i / k * MANY;
                const int64_t at = ((int64_t *)c.out[1].data)[i];
                int64_t rank = 0;
                for (int64_t j = 0; j < MANY; j++) {
                    const bool same = row[j] == row[at] || (isnan(row[j]) && isnan(row[at]));
                    const bool above = !same && (isnan(row[j]) || row[j] > row[at]);
                    rank += same ? j < at : above == (largest == 1);
                }
                CHECK_EQ_INT(rank, i % k);
            }
            move_free(&c);
        }
}

/* Few of many along the first axis and the last, in a list and in a heap, many of them equal. */
static void topk_sides(void)
{
    enum { SIDE = 37, MANY = 150 };
    static const holo_dtype types[] = {HOLO_F32, HOLO_F64, HOLO_I32, HOLO_I64, HOLO_F16};
    static const int64_t wanted[] = {1, 9, 30};
    for (size_t i = 0; i < HG_COUNT(types) * HG_COUNT(wanted) * 4; i++) {
        const int64_t k = wanted[i / 4 % HG_COUNT(wanted)], axis = (int64_t)(i / 2 % 2);
        const bool largest = i % 2 != 0;
        int64_t dim[] = {axis == 0 ? MANY : SIDE, axis == 0 ? SIDE : MANY};
        move_call c = {0};
        value_in(&c, types[i / 4 / HG_COUNT(wanted)], 2, dim, 3);
        for (int64_t j = 0; j < SIDE * MANY; j += 2)
            value_set(&c.in[0], j, (double)(j * 7 % 13 - 6));
        dim[axis] = k;
        move_out(&c, c.in[0].dtype, 2, dim);
        move_out(&c, HOLO_I64, 2, dim);
        value_params(&c, MOVE_DIMS(axis, largest), 2);
        if (!topk_run_all(&c)) return;
        for (int64_t j = 0; j < SIDE * k; j++) {
            const int64_t row = axis == 0 ? j % SIDE : j / k, at = axis == 0 ? j / SIDE : j % k;
            const int64_t first = axis == 0 ? row : row * MANY, stride = axis == 0 ? SIDE : 1;
            const int64_t index = ((int64_t *)c.out[1].data)[j];
            CHECK_EQ_INT(topk_rank(&c.in[0], first, stride, MANY, index, largest), at);
            CHECK(move_same(&c.out[0], j, &c.in[0], first + index * stride));
        }
        move_free(&c);
    }
}

/* NaN is larger than infinity, 64-bit integers are compared exactly, either output may be missing.
 */
static void topk_edges(void)
{
    move_call c = {0};
    value_in(&c, HOLO_F32, 1, MOVE_DIMS(5), 1);
    const float numbers[] = {-INFINITY, INFINITY, NAN, -0.0f, 0.0f};
    memcpy(c.in[0].data, numbers, sizeof numbers);
    c.args.n_out = 1;
    move_out(&c, HOLO_I64, 1, MOVE_DIMS(5));
    value_params(&c, MOVE_DIMS(0, 1), 2);
    if (move_run(hg_kernels_topk, &c)) {
        static const int64_t expected[] = {2, 1, 3, 4, 0};
        CHECK_MEM(c.out[1].data, expected, sizeof expected);
    }
    move_free(&c);
    static const holo_dtype types[] = {HOLO_I64, HOLO_U64};
    for (int t = 0; t < 2; t++) {
        const uint64_t base = t == 0 ? UINT64_C(1) << 62 : UINT64_C(1) << 63;
        const uint64_t big[] = {base, base + 2, base + 1};
        move_in(&c, types[t], 1, MOVE_DIMS(3));
        memcpy(c.in[0].data, big, sizeof big);
        move_out(&c, types[t], 1, MOVE_DIMS(2));
        value_params(&c, MOVE_DIMS(0, 1), 2);
        if (move_run(hg_kernels_topk, &c)) {
            CHECK(((uint64_t *)c.out[0].data)[0] == base + 2);
            CHECK(((uint64_t *)c.out[0].data)[1] == base + 1);
        }
        move_free(&c);
    }
}

static void topk_make_good(move_call *c)
{
    topk_make(c, HOLO_F32, 1, 2, true);
}

static void topk_refuses(void)
{
    static const move_bad bad[] = {
        {MOVE_N_IN, 0, 0, 2, "2 inputs"},
        {MOVE_N_OUT, 0, 0, 0, "0 outputs"},
        {MOVE_N_OUT, 0, 0, 3, "3 outputs"},
        {MOVE_N_PARAM, 0, 0, 1, "1 parameters"},
        {MOVE_IN_TYPE, 0, 0, HOLO_STRING, "input 0 has type string"},
        {MOVE_OUT_TYPE, 0, 0, HOLO_F64, "values have type float64"},
        {MOVE_OUT_TYPE, 0, 0, HOLO_BOOL, "output 0 has type bool"},
        {MOVE_OUT_TYPE, 1, 0, HOLO_I32, "output 1 has type int32"},
        {MOVE_OUT_RANK, 0, 0, 2, "output has rank 2"},
        {MOVE_OUT_DIM, 0, 0, 2, "dimension 0 of output 0 is 2"},
        {MOVE_OUT_DIM, 0, 1, 8, "dimension 1 of output 0 is 8, expected at most 7"},
        {MOVE_OUT_DIM, 1, 1, 3, "indices: dimension 1 is 3"},
        {MOVE_PARAM, 0, 0, 3, "axis is 3"},
        {MOVE_PARAM, 1, 0, 2, "largest is 2"},
    };
    MOVE_REFUSES(hg_kernels_topk, topk_make_good, bad);
}

const hg_test_case hg_tests_kernel_topk[] = {
    {"values", topk_values}, {"few_of_many", topk_few_of_many}, {"sides", topk_sides},
    {"edges", topk_edges},   {"refuses", topk_refuses},         {0},
};
