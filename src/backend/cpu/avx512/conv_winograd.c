/* conv_winograd.c - the transforms of conv.winograd with AVX-512, 16 channels or outputs at a
 * time. */
#include "backend/cpu/avx2/conv_winograd.h"

enum { WINOGRAD_LANES = 16 };

typedef __m512 winograd_v;

#define WINOGRAD_OP(name) _mm512_##name##_ps

HG_INLINE __m512 winograd_load_half(const uint16_t *p)
{
    return _mm512_cvtph_ps(_mm256_loadu_si256((const __m256i *)(const void *)p));
}

#include "backend/cpu/conv_winograd_run.inc"

int64_t hg_winograd_inputs_avx512(const float *const *from, int64_t c, int64_t channels, float *to,
                                  int64_t step)
{
    return winograd_inputs(from, c, channels, to, step);
}

void hg_winograd_weights_avx512(const hg_winograd_weights *w)
{
    winograd_weights(w);
}

int64_t hg_winograd_outputs_avx512(const hg_winograd_outputs *y, int64_t col, int64_t cols,
                                   const float *m, float *to)
{
    return winograd_outputs(y, col, cols, m, to);
}
