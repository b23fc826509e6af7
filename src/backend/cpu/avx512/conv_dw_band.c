/* conv_dw_band.c - spans of depthwise convolutions with AVX-512: 16 channels a vector, tiles of
 * seven outputs, of which pictures of 7, 14, 28 ... columns have no rest and others little; of four
 * where a picture is narrower and the kernel the commonest; of seven or eight for long kernel rows
 * (conv_dw_lines.inc). Weights are loaded for each kernel row
 * of a tile, which seven outputs make cheap, and a tile at an edge is one with a branch or two:
 * both keep this small. */
#include "backend/cpu/avx2/conv_dw_band.h"

typedef __m512 conv_dw_vec;
enum { CONV_DW_LANES = 16, CONV_DW_TILE = 7, CONV_DW_NARROW = 4 };

#define CONV_DW_NOW(v) __asm__("" : "+v"(v))
#define conv_dw_zero _mm512_setzero_ps
#define conv_dw_load _mm512_loadu_ps
#define conv_dw_store _mm512_storeu_ps
#define conv_dw_splat _mm512_set1_ps
#define conv_dw_add _mm512_add_ps
#define conv_dw_fmadd _mm512_fmadd_ps
#define conv_dw_min _mm512_min_ps
#define conv_dw_max _mm512_max_ps
#include "backend/cpu/conv_dw_lines.inc"

/* One output row for one vector of channels. Sizes are copied out of the span first: a vector store
 * may alias anything and would make the compiler read them again. */
HG_INLINE void conv_dw_row(const int tile, const int kw, const int stride, const hg_conv_dw_span *s,
                           int64_t row, int64_t c)
{
    const int64_t x_col = s->x_col, y_col = s->y_col, width = s->width, cols = s->cols;
    const int64_t pad = s->pad;
    const float *x = s->x + row * s->x_row - pad * x_col + c;
    float *y = s->y + row * s->y_row + c;
    const hg_conv_dw_ends ends = s->ends;
    const __m512 begin = conv_dw_begin(&ends, c);
    for (int64_t col = 0; col < cols; col += tile) {
        col = hg_min(col, cols - tile);
        const int64_t first = col * stride;
        __m512 sum[CONV_DW_TILE];
        HG_GEMM_UNROLL
        for (int j = 0; j < tile; j++)
            sum[j] = begin;
        conv_dw_lines(tile, kw, stride, kw / 2, s, x + first * x_col, s->w + c, pad - first,
                      width + pad - first, sum);
        if (ends.clamps) {
            HG_GEMM_UNROLL
            for (int j = 0; j < tile; j++)
                sum[j] = conv_dw_end(&ends, sum[j]);
        }
        HG_GEMM_UNROLL
        for (int j = 0; j < tile; j++)
            _mm512_storeu_ps(y + (col + j) * y_col, sum[j]);
    }
}

#define CONV_DW_SPAN(tile, kw, stride)                                                             \
    static void conv_dw_f32_##tile##x##kw##s##stride##_avx512(const hg_conv_dw_span *s)            \
    {                                                                                              \
        for (int64_t c = 0; c < s->channels; c += CONV_DW_LANES) {                                 \
            c = hg_min(c, s->channels - CONV_DW_LANES);                                            \
            for (int64_t row = 0; row < s->rows; row++)                                            \
                conv_dw_row(tile, kw, stride, s, row, c);                                          \
        }                                                                                          \
    }
CONV_DW_SPAN(7, 3, 1)
CONV_DW_SPAN(7, 3, 2)
CONV_DW_SPAN(7, 5, 1)
CONV_DW_SPAN(7, 5, 2)
CONV_DW_SPAN(4, 3, 1)
#undef CONV_DW_SPAN

bool hg_conv_dw_span_avx512(const hg_conv_dw_span *s)
{
    static void (*const run[2][2])(const hg_conv_dw_span *s) = {
        {conv_dw_f32_7x3s1_avx512, conv_dw_f32_7x3s2_avx512},
        {conv_dw_f32_7x5s1_avx512, conv_dw_f32_7x5s2_avx512},
    };
    if (conv_dw_long(s)) return true;
    const int64_t kw = s->kernel_cols, stride = s->stride;
    const int64_t right = (s->cols - 1) * stride + kw - s->pad - s->width; /* columns of padding */
    if (s->channels < CONV_DW_LANES || s->cols < CONV_DW_NARROW || (kw != 3 && kw != 5) ||
        stride > 2 || s->pad > kw / 2 || right > kw / 2 || s->planes != 1)
        return false;
    const bool is_narrow = s->cols < CONV_DW_TILE;
    if (is_narrow && (kw != 3 || stride != 1)) return false;
    (is_narrow ? conv_dw_f32_4x3s1_avx512 : run[kw == 5][stride == 2])(s);
    return true;
}
