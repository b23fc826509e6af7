/* det.c - det against expansion by rows. */
#include "kernel/value.h"
#include "kernel/variants.h"

extern const hg_kernel hg_kernels_det[];
#if defined(__x86_64__)
extern const hg_kernel TUNED(det)[];
#endif

/* Over all permutations: m is at most 4. */
static double det_expand(const holo_tensor *x, int64_t at, int n, int row, unsigned used)
{
    double sum = 0.0, sign = 1.0;
    if (row == n) return 1.0;
    for (int k = 0; k < n; k++) {
        if ((used >> k & 1u) != 0) continue;
        sum +=
            sign * value_get(x, at + row * n + k) * det_expand(x, at, n, row + 1, used | 1u << k);
        sign = -sign;
    }
    return sum;
}

static void det_make(move_call *c, holo_dtype dtype, int64_t n)
{
    value_in(c, dtype, 4, MOVE_DIMS(2, 3, n, n), 9);
    move_out(c, dtype, 2, MOVE_DIMS(2, 3));
}

static void det_values(void)
{
    static const holo_dtype types[] = {HOLO_F32, HOLO_F64, HOLO_F16, HOLO_BF16};
    for (size_t t = 0; t < HG_COUNT(types); t++)
        for (int n = 0; n <= 4; n++) {
            move_call c = {0};
            det_make(&c, types[t], n);
            if (move_run(hg_kernels_det, &c))
                for (int64_t i = 0; i < 6; i++)
                    value_near(&c.out[0], i, det_expand(&c.in[0], i * n * n, n, 0, 0));
            move_free(&c);
        }
}

/* Singular matrices give 0 and a row of zeros on the diagonal needs exchanged rows. */
static void det_singular(void)
{
    move_call c = {0};
    value_in(&c, HOLO_F64, 3, MOVE_DIMS(3, 2, 2), 1);
    move_out(&c, HOLO_F64, 1, MOVE_DIMS(3));
    const double m[] = {1, 2, 2, 4, 0, 1, 1, 0, 0, 0, 0, 5};
    memcpy(c.in[0].data, m, sizeof m);
    if (move_run(hg_kernels_det, &c)) {
        CHECK_NEAR(value_get(&c.out[0], 0), 0.0, 0.0);
        CHECK_NEAR(value_get(&c.out[0], 1), -1.0, 0.0);
        CHECK_NEAR(value_get(&c.out[0], 2), 0.0, 0.0);
    }
    move_free(&c);
}

/* The tuned kernel, where there is one, gives the bits of the reference. */
static void det_tuned(void)
{
#if defined(__x86_64__)
    for (int64_t n = 1; tuned_runs() && n < 20; n++) {
        move_call plain = {0}, tuned = {0};
        det_make(&plain, n % 2 == 0 ? HOLO_F32 : HOLO_F64, n);
        det_make(&tuned, n % 2 == 0 ? HOLO_F32 : HOLO_F64, n);
        if (move_run(hg_kernels_det, &plain) && move_run(TUNED(det), &tuned))
            CHECK_MEM(tuned.out[0].data, plain.out[0].data, holo_tensor_bytes(&plain.out[0]));
        move_free(&plain);
        move_free(&tuned);
    }
#endif
}

static void det_make_good(move_call *c)
{
    det_make(c, HOLO_F32, 3);
}

static void det_refuses(void)
{
    static const move_bad bad[] = {
        {MOVE_N_IN, 0, 0, 2, "2 inputs"},
        {MOVE_N_PARAM, 0, 0, 1, "1 parameters"},
        {MOVE_IN_TYPE, 0, 0, HOLO_I32, "input 0 has type int32"},
        {MOVE_OUT_TYPE, 0, 0, HOLO_NONE, "output 0 is missing"},
        {MOVE_OUT_TYPE, 0, 0, HOLO_F64, "output has type float64"},
        {MOVE_IN_RANK, 0, 0, 1, "input has rank 1"},
        {MOVE_OUT_RANK, 0, 0, 1, "output has rank 1"},
        {MOVE_IN_DIM, 0, 3, 2, "matrices are 3 x 2"},
        {MOVE_OUT_DIM, 0, 1, 4, "dimension 1 of the output is 4"},
    };
    MOVE_REFUSES(hg_kernels_det, det_make_good, bad);
}

const hg_test_case hg_tests_kernel_det[] = {
    {"values", det_values},
    {"singular", det_singular},
    {"tuned", det_tuned},
    {"refuses", det_refuses},
    {0},
};
