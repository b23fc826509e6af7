/* rotary.c - rotary with AVX2, eight of each half at a time; the same bits. */
#include "kernel/rotary.h"

#include "backend/cpu/vec8.h"

HG_INLINE __m256 rotary_product(const float *x, const float *y)
{
    return _mm256_mul_ps(_mm256_loadu_ps(x), _mm256_loadu_ps(y));
}

static void rotary_row(const float *x, const float *c, const float *s, int64_t half, float *to)
{
    if (half % 8 != 0) {
        hg_rotary_row(x, c, s, half, to);
        return;
    }
    for (int64_t i = 0, j = half; i < half; i += 8, j += 8) {
        _mm256_storeu_ps(to + i,
                         _mm256_sub_ps(rotary_product(x + i, c + i), rotary_product(x + j, s + i)));
        _mm256_storeu_ps(to + j,
                         _mm256_add_ps(rotary_product(x + j, c + j), rotary_product(x + i, s + j)));
    }
}

static void rotary_run(const hg_args *a, hg_range r)
{
    hg_rotary_run(a, r, rotary_row);
}

const hg_kernel hg_kernels_rotary_avx2[] = {
    {.name = "rotary",
     .cpu = HG_CPU_AVX2,
     .check = hg_rotary_check,
     .units = hg_rotary_units,
     .run = rotary_run},
    {0},
};
