/* fft.c - discrete Fourier transforms of any length in n log n steps. */
#include "kernel/fft.h"

#include "isa/lane_math.h"

#include <string.h>

#define FFT_PI 3.14159265358979323846

/* e^(2 pi i k / period), 0 <= k < period; exact on the axes. */
static void fft_polar(double *to, int64_t k, int64_t period)
{
    const double angle = 2.0 * FFT_PI * (double)k / (double)period;
    to[0] = 4 * k == period || 4 * k == 3 * period ? 0.0 : hg_cos_f64(angle);
    to[1] = 2 * k == period ? 0.0 : hg_sin_f64(angle);
}

enum { FFT_ASK = 1 << 14 }; /* numbers between two looks at the clock */

#define FFT_T float
#define FFT_NAME(stem) fft_##stem##_f32
#include "kernel/fft_pass.inc"
#undef FFT_T
#undef FFT_NAME
#define FFT_T double
#define FFT_NAME(stem) fft_##stem##_f64
#include "kernel/fft_pass.inc"
#undef FFT_T
#undef FFT_NAME

/* Factors of n, 4 before 2, then odd ones; a 2 goes to the front. Their number, or 0 when one is
 * too large. */
static int fft_factors(int64_t n, int factor[HG_FFT_FACTORS])
{
    int count = 0;
    for (; n % 4 == 0; n /= 4)
        factor[count++] = 4;
    if (n % 2 == 0) {
        factor[count++] = factor[0];
        factor[0] = 2;
        n /= 2;
    }
    for (int odd = 3; odd < HG_FFT_LARGEST && n > 1; odd += 2)
        for (; n % odd == 0; n /= odd)
            factor[count++] = odd;
    if (n == 1 && count == 0) factor[count++] = 1;
    return n == 1 ? count : 0;
}

static size_t fft_bytes(int64_t count)
{
    return hg_align_up((size_t)count * 2 * sizeof(double), HG_ALIGN);
}

static int64_t fft_power(int64_t n)
{
    int64_t m = 1;
    while (m < 2 * n - 1)
        m *= 2;
    return m;
}

bool hg_fft_is_direct(int64_t n)
{
    int factor[HG_FFT_FACTORS];
    return fft_factors(n, factor) != 0;
}

size_t hg_fft_scratch(int64_t n)
{
    if (hg_fft_is_direct(n)) return 3 * fft_bytes(n);
    return 4 * fft_bytes(fft_power(n)) + fft_bytes(n);
}

double hg_fft_flops(int64_t n)
{
    const bool is_direct = hg_fft_is_direct(n);
    const int64_t m = is_direct ? n : fft_power(n);
    int bits = 1;
    while (INT64_C(1) << bits < m)
        bits++;
    return (is_direct ? 5.0 : 10.0) * (double)m * bits; /* a chirp takes two */
}

/* The chirp, and the transform of its conjugate laid around 0. */
static void fft_chirp_init(hg_fft *f)
{
    fft_complex_f64 *filter = f->work[0];
    const int64_t period = 2 * f->n;
    assert(period > 0);
    memset(filter, 0, (size_t)f->m * sizeof *filter);
    /* k^2 modulo 2 n, step by step: the angle stays small and exact. */
    for (int64_t k = 0, square = 0; k < f->n; square = (square + 2 * k + 1) % period, k++) {
        double *c = f->chirp + 2 * k;
        fft_polar(c, square, period);
        const fft_complex_f64 value = {c[0], c[1]};
        c[1] = -c[1];
        filter[k] = value;
        if (k > 0) filter[f->m - k] = value;
    }
    memcpy(f->filter, fft_passes_f64(f, false), (size_t)f->m * sizeof *filter);
}

void hg_fft_init(hg_fft *f, const hg_args *args, int64_t n, bool is_wide, void *scratch)
{
    char *at = scratch;
    *f = (hg_fft){.n = n, .m = n, .is_wide = is_wide, .args = args};
    f->n_factor = fft_factors(n, f->factor);
    const bool is_direct = f->n_factor != 0;
    if (!is_direct) {
        f->m = fft_power(n);
        f->is_wide = true;
        f->n_factor = fft_factors(f->m, f->factor);
    }
    const size_t bytes = fft_bytes(f->m);
    f->root = at;
    f->work[0] = at + bytes;
    f->work[1] = at + 2 * bytes;
    if (f->is_wide)
        fft_roots_f64(f);
    else
        fft_roots_f32(f);
    if (is_direct) return;
    f->filter = (double *)(void *)(at + 3 * bytes);
    f->chirp = (double *)(void *)(at + 4 * bytes);
    fft_chirp_init(f);
}

static fft_complex_f64 fft_product(fft_complex_f64 a, fft_complex_f64 b)
{
    return (fft_complex_f64){a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

/* The inverse of x is the conjugate of the transform of the conjugate, divided by n. */
static void fft_chirp(const hg_fft *f, double *x, bool inverse)
{
    const double sign = inverse ? -1.0 : 1.0, scale = inverse ? 1.0 / (double)f->n : 1.0;
    fft_complex_f64 *v = f->work[0];
    const fft_complex_f64 *chirp = (const fft_complex_f64 *)(const void *)f->chirp;
    const fft_complex_f64 *filter = (const fft_complex_f64 *)(const void *)f->filter;
    memset(v, 0, (size_t)f->m * sizeof *v);
    for (int64_t k = 0; k < f->n; k++)
        v[k] = fft_product((fft_complex_f64){x[2 * k], sign * x[2 * k + 1]}, chirp[k]);
    v = fft_passes_f64(f, false);
    for (int64_t k = 0; k < f->m; k++)
        ((fft_complex_f64 *)f->work[0])[k] = fft_product(v[k], filter[k]);
    v = fft_passes_f64(f, true);
    for (int64_t k = 0; k < f->n; k++) {
        const fft_complex_f64 y = fft_product(v[k], chirp[k]);
        x[2 * k] = y.re / (double)f->m * scale;
        x[2 * k + 1] = sign * y.im / (double)f->m * scale;
    }
}

void hg_fft_run(const hg_fft *f, double *x, bool inverse)
{
    if (f->chirp != NULL)
        fft_chirp(f, x, inverse);
    else if (f->is_wide)
        fft_direct_f64(f, x, inverse);
    else
        fft_direct_f32(f, x, inverse);
}
