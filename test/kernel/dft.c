/* dft.c - dft and stft against sums of n^2 terms. */
#include "kernel/value.h"
#include "kernel/variants.h"

extern const hg_kernel hg_kernels_dft[];
#if defined(__x86_64__)
extern const hg_kernel hg_kernels_dft_avx2[];
#endif

enum { DFT, STFT }; /* places in the table */

static void dft_make(move_call *c, holo_dtype dtype, int axis, int64_t size, int64_t n,
                     int64_t parts, bool inverse, bool onesided)
{
    int64_t dim[] = {2, 3, parts};
    dim[axis] = size;
    value_in(c, dtype, 3, dim, 3);
    dim[axis] = onesided && !inverse ? n / 2 + 1 : n;
    dim[2] = onesided && inverse ? 1 : 2;
    move_out(c, dtype, 3, dim);
    value_params(c, MOVE_DIMS(axis, inverse, onesided, n), 4);
}

/* Number k of a line as (re, im); zero behind the end, mirrored when half a spectrum is given. */
static void dft_number(const move_call *c, int64_t other, int64_t k, double *re, double *im)
{
    const holo_tensor *x = &c->in[0];
    const int axis = (int)c->param[0];
    const int64_t n = c->param[3], parts = x->dim[2], size = x->dim[axis];
    const bool half = c->param[1] != 0 && c->param[2] != 0;
    const int64_t at = half && k > n / 2 ? n - k : k;
    *re = *im = 0;
    if (at >= size) return;
    const int64_t first = (axis == 0 ? at * x->dim[1] + other : other * size + at) * parts;
    *re = value_get(x, first);
    if (parts == 2) *im = value_get(x, first + 1);
    if (half && (at == 0 || 2 * at == n)) *im = 0;
    if (at != k) *im = -*im;
}

static void dft_compare(const move_call *c, double tolerance)
{
    const int axis = (int)c->param[0];
    const int64_t n = c->param[3], others = c->out[0].dim[1 - axis], bins = c->out[0].dim[axis];
    const double sign = c->param[1] != 0 ? 1 : -1, scale = c->param[1] != 0 ? 1.0 / (double)n : 1;
    for (int64_t i = 0; i < others * bins; i++) {
        const int64_t other = i / bins, k = i % bins;
        double sum[2] = {0}, size = 0;
        for (int64_t j = 0; j < n; j++) {
            double re, im;
            dft_number(c, other, j, &re, &im);
            const double angle =
                sign * 2 * 3.14159265358979323846 * (double)(j * k % n) / (double)n;
            sum[0] += (re * cos(angle) - im * sin(angle)) * scale;
            sum[1] += (re * sin(angle) + im * cos(angle)) * scale;
            size += (fabs(re) + fabs(im)) * scale;
        }
        const int64_t parts = c->out[0].dim[2];
        const int64_t at = (axis == 0 ? k * others + other : other * bins + k) * parts;
        for (int64_t part = 0; part < parts; part++)
            if (!CHECK_NEAR(value_get(&c->out[0], at + part), sum[part], tolerance * (size + 1)))
                return;
    }
}

/* Lengths with factors 2, 3, 4, 5, 7, a prime below and above the largest factor, and 1. */
static void dft_values(void)
{
    static const int64_t lengths[] = {1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 12,
                                      15, 16, 30, 31, 49, 61, 64, 67, 97, 134};
    static const holo_dtype types[] = {HOLO_F64, HOLO_F32, HOLO_F16};
    static const double tolerance[] = {1e-14, 5e-7, 1e-3};
    for (size_t k = 0; k < HG_COUNT(lengths) * 24; k++) {
        const int64_t n = lengths[k / 24];
        const bool inverse = k % 2 == 1, onesided = k / 2 % 2 == 1;
        const int64_t parts = inverse && onesided ? 2 : onesided ? 1 : 1 + (int64_t)(k / 4 % 2);
        const size_t t = k / 8 % 3;
        move_call c = {0};
        dft_make(&c, types[t], (int)(k / 4 % 2), n, n, parts, inverse, onesided);
        if (move_run(&hg_kernels_dft[DFT], &c)) dft_compare(&c, tolerance[t]);
        move_free(&c);
    }
}

/* The signal is cut or padded to the length. */
static void dft_length(void)
{
    for (int64_t size = 0; size < 9; size++)
        for (int half = 0; half < 2; half++) {
            move_call c = {0};
            dft_make(&c, HOLO_F64, 1, size, 6, 2, half == 1, half == 1);
            if (move_run(&hg_kernels_dft[DFT], &c)) dft_compare(&c, 1e-14);
            move_free(&c);
        }
}

static void dft_make_stft(move_call *c, holo_dtype dtype, int64_t parts, int64_t width,
                          bool onesided)
{
    value_in(c, dtype, 3, MOVE_DIMS(2, 20, parts), 3);
    if (width > 0) value_in(c, dtype, 1, &width, 4);
    move_out(c, dtype, 4, MOVE_DIMS(2, 4, onesided ? 5 : 8, 2));
    value_params(c, MOVE_DIMS(4, 8, onesided), 3);
}

static void dft_stft(void)
{
    for (int k = 0; k < 16; k++) {
        static const int64_t widths[] = {0, 8, 5, 11};
        const int64_t parts = 1 + k % 2, width = widths[k / 4];
        move_call c = {0};
        dft_make_stft(&c, k % 4 < 2 ? HOLO_F64 : HOLO_F32, parts, width, k / 2 % 2 == 1);
        if (!move_run(&hg_kernels_dft[STFT], &c)) return;
        for (int64_t i = 0; i < holo_tensor_count(&c.out[0]) / 2; i++) {
            int64_t at[4];
            double re = 0, im = 0;
            move_coordinates(&c.out[0], 2 * i, at);
            for (int64_t j = 0; j < 8; j++) {
                const int64_t place = at[1] * 4 + j;
                const double w = width == 0 ? 1 : j < width ? value_get(&c.in[1], j) : 0;
                if (place >= 20) continue;
                const double angle = -2 * 3.14159265358979323846 * (double)(j * at[2]) / 8;
                const double p = w * value_get(&c.in[0], (at[0] * 20 + place) * parts);
                const double q =
                    parts == 2 ? w * value_get(&c.in[0], (at[0] * 20 + place) * 2 + 1) : 0;
                re += p * cos(angle) - q * sin(angle);
                im += p * sin(angle) + q * cos(angle);
            }
            const double near = c.out[0].dtype == HOLO_F64 ? 1e-13 : 1e-5;
            CHECK_NEAR(value_get(&c.out[0], 2 * i), re, near);
            CHECK_NEAR(value_get(&c.out[0], 2 * i + 1), im, near);
        }
        move_free(&c);
    }
}

static void dft_make_good(move_call *c)
{
    dft_make(c, HOLO_F32, 1, 6, 6, 1, false, true);
}

static void dft_make_stft_good(move_call *c)
{
    dft_make_stft(c, HOLO_F32, 1, 8, true);
}

static void dft_refuses(void)
{
    static const move_bad dft[] = {
        {MOVE_N_IN, 0, 0, 2, "2 inputs"},
        {MOVE_IN_TYPE, 0, 0, HOLO_I32, "input 0 has type int32"},
        {MOVE_OUT_TYPE, 0, 0, HOLO_I32, "output 0 has type int32"},
        {MOVE_OUT_TYPE, 0, 0, HOLO_F64, "output has type float64"},
        {MOVE_IN_RANK, 0, 0, 1, "input has rank 1"},
        {MOVE_OUT_RANK, 0, 0, 2, "output has rank 2"},
        {MOVE_PARAM, 0, 0, 2, "axis is 2"},
        {MOVE_PARAM, 1, 0, 2, "inverse is 2"},
        {MOVE_PARAM, 2, 0, 2, "onesided is 2"},
        {MOVE_PARAM, 3, 0, 0, "length is 0"},
        {MOVE_PARAM, 3, 0, INT64_C(1) << 29, "length is 536870912"},
        {MOVE_IN_DIM, 0, 2, 3, "the last dimension is 3"},
        {MOVE_OUT_DIM, 0, 2, 1, "the last dimension of the output is 1, expected 2"},
        {MOVE_OUT_DIM, 0, 1, 5, "dimension 1 of the output is 5, expected 4"},
        {MOVE_OUT_DIM, 0, 0, 3, "dimension 0 of the output is 3, expected 2"},
    };
    MOVE_REFUSES(&hg_kernels_dft[DFT], dft_make_good, dft);
    static const move_bad stft[] = {
        {MOVE_N_PARAM, 0, 0, 2, "2 parameters"},
        {MOVE_IN_TYPE, 0, 0, HOLO_I32, "input 0 has type int32"},
        {MOVE_OUT_TYPE, 0, 0, HOLO_I32, "output 0 has type int32"},
        {MOVE_OUT_TYPE, 0, 0, HOLO_F64, "output has type float64"},
        {MOVE_IN_RANK, 0, 0, 2, "signal has rank 2"},
        {MOVE_OUT_RANK, 0, 0, 3, "output has rank 3"},
        {MOVE_PARAM, 0, 0, 0, "step is 0"},
        {MOVE_PARAM, 1, 0, 0, "length is 0"},
        {MOVE_PARAM, 2, 0, 2, "onesided is 2"},
        {MOVE_IN_DIM, 0, 2, 3, "the last dimension is 3"},
        {MOVE_OUT_DIM, 0, 0, 1, "output is [1, frames, 5, 2]"},
        {MOVE_OUT_DIM, 0, 2, 8, "output is [2, frames, 8, 2]"},
        {MOVE_OUT_DIM, 0, 3, 1, "output is [2, frames, 5, 1]"},
        {MOVE_OUT_DIM, 0, 1, INT64_C(1) << 31, "2147483648 frames are too many"},
        {MOVE_IN_TYPE, 1, 0, HOLO_I32, "input 1 has type int32"},
        {MOVE_IN_TYPE, 1, 0, HOLO_F64, "window has type float64"},
        {MOVE_IN_RANK, 1, 0, 2, "window has rank 2"},
    };
    MOVE_REFUSES(&hg_kernels_dft[STFT], dft_make_stft_good, stft);
}

#if defined(__x86_64__)
/* The bytes of the reference kernel, which it computed before. */
static void dft_same(int which, move_call *c, const char *what, int64_t n)
{
    const size_t bytes = holo_tensor_bytes(&c->out[0]);
    void *expected = malloc(bytes + 1);
    if (move_run(&hg_kernels_dft[which], c)) {
        memcpy(expected, c->out[0].data, bytes);
        if (move_run(&hg_kernels_dft_avx2[which], c) &&
            memcmp(expected, c->out[0].data, bytes) != 0)
            hg_test_fail(__FILE__, __LINE__, "%s of length %lld: other bits", what, (long long)n);
    }
    free(expected);
    move_free(c);
}

/* Lines beside each other and behind each other, more than lanes and fewer, cut and padded. */
static void dft_tuned(void)
{
    static const int64_t lengths[] = {1, 2, 3, 4, 5, 6, 7, 8, 12, 15, 16, 30, 49, 61, 64, 67, 96};
    if (!tuned_runs()) SKIP("no tuned kernels");
    for (size_t k = 0; k < HG_COUNT(lengths) * 96; k++) {
        const int64_t n = lengths[k / 96], lines = 1 + (int64_t)(k / 4 % 12);
        const bool inverse = k % 2 == 1, onesided = k / 2 % 2 == 1;
        const int64_t parts = inverse && onesided ? 2 : onesided ? 1 : 1 + (int64_t)(k / 48 % 2);
        const int axis = (int)(k / 4 % 3 == 0);
        const int64_t size = hg_max(1, n + (int64_t)(k / 8 % 3) - 1), bins = n / 2 + 1;
        move_call c = {0};
        int64_t dim[] = {lines, lines, parts};
        dim[axis] = size;
        value_in(&c, k % 5 == 0 ? HOLO_F64 : HOLO_F32, 3, dim, 3);
        dim[axis] = onesided && !inverse ? bins : n;
        dim[2] = onesided && inverse ? 1 : 2;
        move_out(&c, c.in[0].dtype, 3, dim);
        value_params(&c, MOVE_DIMS(axis, inverse, onesided, n), 4);
        dft_same(DFT, &c, "dft", n);
    }
    for (int64_t k = 0; k < 64; k++) {
        static const int64_t widths[] = {0, 8, 5, 11};
        move_call c = {0};
        value_in(&c, k % 2 == 0 ? HOLO_F32 : HOLO_F64, 3, MOVE_DIMS(2, 10 + k, 1), 3);
        if (widths[k % 4] > 0) value_in(&c, c.in[0].dtype, 1, &widths[k % 4], 4);
        move_out(&c, c.in[0].dtype, 4, MOVE_DIMS(2, 1 + k / 8, k / 4 % 2 == 1 ? 5 : 8, 2));
        value_params(&c, MOVE_DIMS(3, 8, k / 4 % 2), 3);
        dft_same(STFT, &c, "stft", 8);
    }
}

/* What is left to the reference. */
static void dft_tuned_refuses(void)
{
    holo_error e;
    move_call c = {0};
    dft_make(&c, HOLO_F16, 1, 6, 6, 1, false, true);
    move_connect(&c);
    CHECK_STATUS(hg_kernels_dft_avx2[DFT].check(&c.args, &e), HOLO_E_TYPE);
    c.in[0].dim[2] = 3;
    CHECK_STATUS(hg_kernels_dft_avx2[DFT].check(&c.args, &e), HOLO_E_SHAPE);
    move_free(&c);
    dft_make_stft(&c, HOLO_F16, 1, 8, true);
    move_connect(&c);
    CHECK_STATUS(hg_kernels_dft_avx2[STFT].check(&c.args, &e), HOLO_E_TYPE);
    c.in[0].dim[2] = 3;
    CHECK_STATUS(hg_kernels_dft_avx2[STFT].check(&c.args, &e), HOLO_E_SHAPE);
    move_free(&c);
    dft_make_stft(&c, HOLO_F32, 2, 8, true);
    move_connect(&c);
    CHECK_STATUS(hg_kernels_dft_avx2[STFT].check(&c.args, &e), HOLO_E_UNSUPPORTED);
    CHECK_HAS(e.message, "the signal is complex");
    move_free(&c);
}
#endif

const hg_test_case hg_tests_kernel_dft[] = {
    {"values", dft_values},
    {"length", dft_length},
    {"stft", dft_stft},
    {"refuses", dft_refuses},
#if defined(__x86_64__)
    {"tuned", dft_tuned},
    {"tuned_refuses", dft_tuned_refuses},
#endif
    {0},
};
