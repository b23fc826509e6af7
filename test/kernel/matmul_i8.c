/* matmul_i8.c - matmul.i8 against sums of 64-bit products. */
#include "kernel/value.h"
#include "kernel/variants.h"

extern const hg_kernel hg_kernels_matmul_i8[];
#if defined(__x86_64__)
extern const hg_kernel hg_kernels_matmul_i8_avx2[];
#endif

/* NULL: not on this machine. */
static const hg_kernel *matmul_i8_variant(int i)
{
    if (i == 0) return hg_kernels_matmul_i8;
#if defined(__x86_64__)
    if (tuned_runs()) return hg_kernels_matmul_i8_avx2;
#endif
    return NULL;
}

typedef struct matmul_i8_case {
    int a_rank, b_rank, out_rank, a_zero_rank, b_zero_rank; /* zero points: -1 absent */
    int64_t a[4], b[4], out[4], a_zero[4], b_zero[4];
} matmul_i8_case;

static const matmul_i8_case matmul_i8_cases[] = {
    {2, 2, 2, -1, -1, {3, 5}, {5, 4}, {3, 4}, {0}, {0}},
    {2, 2, 2, 0, 0, {3, 5}, {5, 4}, {3, 4}, {0}, {0}},
    {2, 2, 2, 2, 1, {3, 5}, {5, 4}, {3, 4}, {3, 1}, {4}},
    {4, 3, 4, 4, 3, {2, 1, 3, 6}, {5, 6, 2}, {2, 5, 3, 2}, {2, 1, 3, 1}, {5, 1, 2}},
    {2, 3, 3, 1, 2, {3, 0}, {2, 0, 2}, {2, 3, 2}, {1}, {1, 2}},
    {3, 2, 3, -1, 1, {2, 3, 300}, {300, 2}, {2, 3, 2}, {0}, {2}},
    {2, 2, 2, 2, 1, {9, 131}, {131, 15}, {9, 15}, {9, 1}, {15}},
    {2, 2, 2, -1, -1, {5, 64}, {64, 32}, {5, 32}, {0}, {0}},
    {3, 3, 3, 0, 2, {2, 6, 7}, {2, 7, 37}, {2, 6, 37}, {0}, {1, 37}},
};

static void matmul_i8_make(move_call *c, const matmul_i8_case *p, holo_dtype a, holo_dtype b)
{
    value_in(c, a, p->a_rank, p->a, 1);
    value_in(c, b, p->b_rank, p->b, 2);
    if (p->a_zero_rank < 0)
        value_absent(c);
    else
        value_in(c, a, p->a_zero_rank, p->a_zero, 3);
    if (p->b_zero_rank < 0)
        value_absent(c);
    else
        value_in(c, b, p->b_zero_rank, p->b_zero, 4);
    move_out(c, HOLO_I32, p->out_rank, p->out);
}

/* Element of t at the output's coordinates, its last two replaced by (row, column). */
static double matmul_i8_at(const holo_tensor *t, const holo_tensor *out, const int64_t *at,
                           int64_t row, int64_t column)
{
    int64_t index = 0;
    if (t->dtype == HOLO_NONE) return 0.0;
    for (int d = 0; d < t->rank; d++) {
        const int lead = out->rank - t->rank + d;
        int64_t i = lead == out->rank - 1 ? column : lead == out->rank - 2 ? row : at[lead];
        index = index * t->dim[d] + (t->dim[d] == 1 ? 0 : i);
    }
    return value_get(t, index);
}

static void matmul_i8_values(void)
{
    static const holo_dtype types[] = {HOLO_U8, HOLO_I8};
    for (size_t k = 0; k < 8 * HG_COUNT(matmul_i8_cases); k++) {
        move_call c = {0};
        const hg_kernel *kernel = matmul_i8_variant((int)(k / 4 % 2));
        matmul_i8_make(&c, &matmul_i8_cases[k / 8], types[k % 2], types[k / 2 % 2]);
        if (kernel != NULL && move_run(kernel, &c)) {
            const int64_t depth = c.in[0].dim[c.in[0].rank - 1];
            for (int64_t i = 0; i < holo_tensor_count(&c.out[0]); i++) {
                int64_t at[4], sum = 0;
                move_coordinates(&c.out[0], i, at);
                const int64_t m = at[c.out[0].rank - 2], n = at[c.out[0].rank - 1];
                for (int64_t d = 0; d < depth; d++)
                    sum += (int64_t)((matmul_i8_at(&c.in[0], &c.out[0], at, m, d) -
                                      matmul_i8_at(&c.in[2], &c.out[0], at, m, d)) *
                                     (matmul_i8_at(&c.in[1], &c.out[0], at, d, n) -
                                      matmul_i8_at(&c.in[3], &c.out[0], at, d, n)));
                if (!CHECK_EQ_INT(((int32_t *)c.out[0].data)[i], sum)) break;
            }
        }
        move_free(&c);
    }
}

static void matmul_i8_make_good(move_call *c)
{
    matmul_i8_make(c, &matmul_i8_cases[3], HOLO_U8, HOLO_I8);
}

static void matmul_i8_refuses(void)
{
    static const move_bad bad[] = {
        {MOVE_N_IN, 0, 0, 1, "1 inputs"},
        {MOVE_N_OUT, 0, 0, 0, "0 outputs"},
        {MOVE_N_PARAM, 0, 0, 1, "1 parameters"},
        {MOVE_IN_TYPE, 0, 0, HOLO_F32, "input 0 has type float32"},
        {MOVE_IN_TYPE, 1, 0, HOLO_I32, "input 1 has type int32"},
        {MOVE_IN_TYPE, 2, 0, HOLO_I16, "input 2 has type int16"},
        {MOVE_IN_TYPE, 2, 0, HOLO_I8, "zero point has type int8"},
        {MOVE_IN_TYPE, 3, 0, HOLO_U8, "zero point has type uint8"},
        {MOVE_OUT_TYPE, 0, 0, HOLO_U32, "output 0 has type uint32"},
        {MOVE_IN_RANK, 0, 0, 1, "A has rank 1"},
        {MOVE_IN_RANK, 1, 0, 1, "B has rank 1"},
        {MOVE_OUT_RANK, 0, 0, 3, "output has rank 3"},
        {MOVE_IN_DIM, 0, 3, 7, "A has 7 columns, B has 6 rows"},
        {MOVE_IN_DIM, 0, 2, 4, "output is 3 x 2, expected 4 x 2"},
        {MOVE_IN_DIM, 0, 0, 3, "A: dimension 0 is 3"},
        {MOVE_IN_DIM, 1, 0, 4, "B: dimension 0 is 4"},
        {MOVE_IN_DIM, 2, 2, 2, "zero point: dimension 2 is 2"},
        {MOVE_IN_DIM, 2, 3, 6, "zero points vary along k: 6"},
        {MOVE_IN_DIM, 3, 1, 6, "zero points vary along k: 6"},
    };
    MOVE_REFUSES(hg_kernels_matmul_i8, matmul_i8_make_good, bad);
}

const hg_test_case hg_tests_kernel_matmul_i8[] = {
    {"values", matmul_i8_values},
    {"refuses", matmul_i8_refuses},
    {0},
};
