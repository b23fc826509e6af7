/* matmul_nbits.c - matmul.nbits of one row for AVX-512: sixteen codes of 4 bits become differences
 * to their zero point by one permutation of a register that holds all sixteen.
 *
 * A byte is two codes: its low four bits pick a number of an even place, the high ones of the next,
 * and the row is taken apart the same way, once for four columns. The scale is applied once a
 * block. What has more rows, or other zero points, is left to AVX2. */
#include "backend/cpu/avx2/matmul_nbits.h"
#include "backend/cpu/avx2/gemm.h"

enum { NBITS_PIECE = 32 }; /* codes of a step */

/* Numbers of 32 places of the row, those beyond `left` as 0: for 4 bits even and odd places, for 8
 * bits the first and the last sixteen. */
HG_INLINE void nbits_take(const float *x, int64_t left, const bool is_split, __m512 v[2])
{
    const __mmask32 mask = left >= NBITS_PIECE ? UINT32_MAX : (UINT32_C(1) << left) - 1;
    const __m512 a = _mm512_maskz_loadu_ps((__mmask16)mask, x);
    const __m512 b = _mm512_maskz_loadu_ps((__mmask16)(mask >> 16), x + 16);
    const __m512i even =
        _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
    v[0] = is_split ? _mm512_permutex2var_ps(a, even, b) : a;
    v[1] =
        is_split ? _mm512_permutex2var_ps(a, _mm512_add_epi32(even, _mm512_set1_epi32(1)), b) : b;
}

/* acc += numbers times codes less their zero point. 4 bits: `zero` holds all sixteen differences.
 */
HG_INLINE void nbits_add(const uint8_t *codes, int64_t left, const bool is_four, __m512 zero,
                         const __m512 v[2], __m512 acc[2])
{
    const int64_t bytes = is_four ? (hg_min(left, NBITS_PIECE) + 1) / 2 : hg_min(left, NBITS_PIECE);
    const __mmask32 mask = bytes >= 32 ? UINT32_MAX : (UINT32_C(1) << bytes) - 1;
    const __m512i low = _mm512_cvtepu8_epi32(_mm_maskz_loadu_epi8((__mmask16)mask, codes));
    if (is_four) {
        acc[0] = _mm512_fmadd_ps(v[0], _mm512_permutexvar_ps(low, zero), acc[0]);
        acc[1] =
            _mm512_fmadd_ps(v[1], _mm512_permutexvar_ps(_mm512_srli_epi32(low, 4), zero), acc[1]);
        return;
    }
    const __m512i high =
        _mm512_cvtepu8_epi32(_mm_maskz_loadu_epi8((__mmask16)(mask >> 16), codes + 16));
    acc[0] = _mm512_fmadd_ps(v[0], _mm512_sub_ps(_mm512_cvtepi32_ps(low), zero), acc[0]);
    acc[1] = _mm512_fmadd_ps(v[1], _mm512_sub_ps(_mm512_cvtepi32_ps(high), zero), acc[1]);
}

/* Where a row of numbers and columns of codes begin. */
typedef struct nbits_place {
    const float *x;
    const uint8_t *codes;
    int64_t row; /* bytes of a column */
    bool is_four;
} nbits_place;

/* Places [i, i + left) of all columns, at most NBITS_PIECE. */
HG_INLINE void nbits_piece(const nbits_place *p, int64_t i, int64_t left, const int columns,
                           const __m512 *zero, __m512 (*acc)[2])
{
    __m512 v[2];
    nbits_take(p->x + i, left, p->is_four, v);
    HG_GEMM_UNROLL
    for (int j = 0; j < columns; j++)
        nbits_add(p->codes + j * p->row + (p->is_four ? i / 2 : i), left, p->is_four, zero[j], v,
                  acc[j]);
}

/* Sixteen codes less a zero point z are sixteen numbers of these, from 15 - z on. */
static const float nbits_less[31] = {-15, -14, -13, -12, -11, -10, -9, -8, -7, -6, -5,
                                     -4,  -3,  -2,  -1,  0,   1,   2,  3,  4,  5,  6,
                                     7,   8,   9,   10,  11,  12,  13, 14, 15};

/* Scale and zero point of a block of each column, as vectors. is_plain: scales are floats and codes
 * have 4 bits. */
HG_INLINE void nbits_units(const hg_args *a, const hg_nbits_shape *s, const bool is_four,
                           const bool is_plain, int64_t column, const int columns, int64_t block,
                           __m512 *scale, __m512 *zero)
{
    const uint8_t *zeros = a->in[3].data;
    const bool has_zeros = hg_args_has(a, 3);
    HG_GEMM_UNROLL
    for (int j = 0; j < columns; j++) {
        float by = 0, z = 8;
        int64_t code = 8;
        if (is_plain) {
            by = ((const float *)a->in[2].data)[(column + j) * s->blocks + block];
            if (has_zeros)
                code = zeros[(column + j) * s->zero_row + block / 2] >> block % 2 * 4 & 15;
        } else {
            hg_nbits_block(a, s, column + j, block, &by, &z);
            code = (int64_t)z;
        }
        scale[j] = _mm512_set1_ps(by);
        zero[j] = is_four ? _mm512_loadu_ps(nbits_less + 15 - code) : _mm512_set1_ps(z);
    }
}

HG_INLINE void nbits_row(const hg_args *a, const hg_nbits_shape *s, const bool is_four,
                         const bool is_plain, int64_t column, const int columns, float *y)
{
    const nbits_place p = {.x = a->in[0].data,
                           .codes = (const uint8_t *)a->in[1].data + column * s->row,
                           .row = s->row,
                           .is_four = is_four};
    __m512 sum[HG_NBITS_COLUMNS];
    HG_GEMM_UNROLL
    for (int j = 0; j < columns; j++)
        sum[j] = _mm512_setzero_ps();
    int64_t block = 0;
    for (int64_t from = 0; from < s->k; from += s->block) {
        const int64_t to = hg_min(from + s->block, s->k);
        __m512 scale[HG_NBITS_COLUMNS], zero[HG_NBITS_COLUMNS], acc[HG_NBITS_COLUMNS][2];
        nbits_units(a, s, is_four, is_plain, column, columns, block++, scale, zero);
        HG_GEMM_UNROLL
        for (int j = 0; j < columns; j++)
            acc[j][0] = acc[j][1] = _mm512_setzero_ps();
        int64_t i = from;
        for (; i + NBITS_PIECE <= to; i += NBITS_PIECE)
            nbits_piece(&p, i, NBITS_PIECE, columns, zero, acc);
        if (i < to) nbits_piece(&p, i, to - i, columns, zero, acc);
        HG_GEMM_UNROLL
        for (int j = 0; j < columns; j++)
            sum[j] = _mm512_fmadd_ps(_mm512_add_ps(acc[j][0], acc[j][1]), scale[j], sum[j]);
    }
    HG_GEMM_UNROLL
    for (int j = 0; j < columns; j++)
        y[j] = _mm512_reduce_add_ps(sum[j]);
}

static void nbits_four(const hg_args *a, const hg_nbits_shape *s, int64_t column, float *y)
{
    if (a->in[2].dtype == HOLO_F32)
        nbits_row(a, s, true, true, column, HG_NBITS_COLUMNS, y);
    else
        nbits_row(a, s, true, false, column, HG_NBITS_COLUMNS, y);
}

static void nbits_eight(const hg_args *a, const hg_nbits_shape *s, int64_t column, float *y)
{
    nbits_row(a, s, false, false, column, HG_NBITS_COLUMNS, y);
}

static void nbits_one(const hg_args *a, const hg_nbits_shape *s, int64_t column, float *y)
{
    if (s->bits == 4)
        nbits_row(a, s, true, false, column, 1, y);
    else
        nbits_row(a, s, false, false, column, 1, y);
}

static void nbits_run(const hg_args *a, hg_range r)
{
    const hg_nbits_shape s = hg_matmul_nbits_shape_of(a);
    if (!hg_matmul_nbits_is_row(a, &s)) {
        hg_matmul_nbits_run_avx2(a, r);
        return;
    }
    for (int64_t column = r.begin * HG_NBITS_COLUMNS;
         column < hg_min(r.end * HG_NBITS_COLUMNS, s.n);) {
        float *y = (float *)a->out[0].data + column;
        const bool is_whole = s.n - column >= HG_NBITS_COLUMNS;
        (!is_whole ? nbits_one : s.bits == 4 ? nbits_four : nbits_eight)(a, &s, column, y);
        column += is_whole ? HG_NBITS_COLUMNS : 1;
    }
}

const hg_kernel hg_kernels_matmul_nbits_avx512[] = {
    {.name = "matmul.nbits",
     .flags = HG_KERNEL_FAST,
     .cpu = HG_CPU_AVX2 | HG_CPU_AVX512,
     .check = hg_matmul_nbits_check,
     .units = hg_matmul_nbits_units_avx2,
     .scratch = hg_matmul_nbits_scratch_avx2,
     .cost = hg_matmul_nbits_cost,
     .run = nbits_run},
    {0},
};
