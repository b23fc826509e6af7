/* fft.h - discrete Fourier transforms of any length in n log n steps. */
#ifndef HG_KERNEL_FFT_H
#define HG_KERNEL_FFT_H

#include "isa/kernel.h"

enum {
    HG_FFT_MAX = 1 << 28, /* longest transform */
    HG_FFT_FACTORS = 32,  /* of a length */
    HG_FFT_LARGEST = 64   /* largest factor that is transformed directly */
};

/* A length whose factors are small is transformed factor by factor (4, 2, 3, 5 ...), in f32 or f64:
 * the former rounds as the transforms of f32 that people compare with do. Any other length n
 * becomes a convolution with a chirp, made by transforms of a power of two that is at least 2 n - 1
 * (Bluestein), in f64. */
typedef struct hg_fft {
    int64_t n, m; /* m: length of the transforms that are made: n, or the power of two */
    bool is_wide; /* they are made in f64 */
    int n_factor;
    int factor[HG_FFT_FACTORS];
    void *root;          /* m complex numbers: e^(2 pi i k / m) */
    void *work[2];       /* m complex numbers each */
    double *chirp;       /* n: e^(-pi i k^2 / n); NULL when m is n */
    double *filter;      /* m: transform of the conjugate chirp */
    const hg_args *args; /* of the step, which may be stopped */
} hg_fft;

/* Whether all factors of n are small. */
bool hg_fft_is_direct(int64_t n);
/* Bytes that a transform of length n, 1 to HG_FFT_MAX, keeps. */
size_t hg_fft_scratch(int64_t n);
void hg_fft_init(hg_fft *f, const hg_args *args, int64_t n, bool is_wide, void *scratch);
/* x: n complex numbers, transformed in place. The inverse divides by n. */
void hg_fft_run(const hg_fft *f, double *x, bool inverse);
/* Adds and multiplications of a transform of length n, as they are usually counted. */
double hg_fft_flops(int64_t n);

/* Of the kernels, all variants. */
void hg_dft_cost(const hg_args *a, hg_cost *cost);
void hg_stft_cost(const hg_args *a, hg_cost *cost);

#endif
