/* igemm.c - products of 8-bit codes with NEON, or with its dot products where dotprod/igemm.c
 * includes this.
 *
 * Both instructions take signed codes: those of A are turned once for a tile, and with them their
 * zero points,
 *
 *     sum of (a - a0) b = sum of (a - 128) b - (a0 - 128) colsum(b)
 *
 * SDOT adds four products to each column. Without it, products of 16 bits are added in pairs to
 * sums of 32 bits, two for each column. Both are exact whatever the codes. */
#include "backend/cpu/vec8_int.h"

#include "backend/cpu/avx2/gemm.h"
#include "backend/cpu/avx2/igemm.h"
#include "backend/cpu/avx2/lane.h"
#include "kernel/pack.h"

/* Columns come in fours; `parts` of them are done together, so that the sums stay in registers. */
enum { IGEMM_ROWS = 4, IGEMM_LANES = 4, IGEMM_PARTS = HG_PANEL / IGEMM_LANES };

#ifdef IGEMM_DOT

enum { IGEMM_TOGETHER = IGEMM_PARTS };

typedef int32x4_t igemm_sum;

#define igemm_from(start) (start)
#define igemm_total(sum) (sum)
#define igemm_add(sum, w, x) vdotq_s32(sum, w, x)

#else

enum { IGEMM_TOGETHER = IGEMM_PARTS / 2 };

typedef struct igemm_sum {
    int32x4_t low, high; /* two columns each, even and odd pairs of k */
} igemm_sum;

HG_INLINE igemm_sum igemm_from(int32x4_t start)
{
    const int32x4_t zero = vdupq_n_s32(0);
    return (igemm_sum){vzip1q_s32(start, zero), vzip2q_s32(start, zero)};
}

HG_INLINE int32x4_t igemm_total(igemm_sum sum)
{
    return vpaddq_s32(sum.low, sum.high);
}

HG_INLINE igemm_sum igemm_add(igemm_sum sum, int8x16_t w, int8x16_t x)
{
    return (igemm_sum){vpadalq_s16(sum.low, vmull_s8(vget_low_s8(w), vget_low_s8(x))),
                       vpadalq_s16(sum.high, vmull_high_s8(w, x))};
}

#endif

/* Sums of four columns before the first product; `part` counts them over panels. */
HG_INLINE igemm_sum igemm_start(const hg_igemm_tile *t, int64_t row, int64_t part)
{
    const int8_t *sums =
        t->b + (part / IGEMM_PARTS + 1) * hg_igemm_panel_bytes(t->quads) - HG_QUAD_BYTES;
    const int32x4_t columns = vreinterpretq_s32_s8(vld1q_s8(sums + part % IGEMM_PARTS * 16));
    int32x4_t start = vmulq_s32(columns, vdupq_n_s32(HG_CODE_LIFT - t->zero_a[row]));
    if (t->zero_b != NULL)
        start =
            vmlsq_s32(start, vld1q_s32(t->zero_b + part * IGEMM_LANES), vdupq_n_s32(t->rest[row]));
    return igemm_from(start);
}

/* A quad of a row, four times. */
HG_INLINE int8x16_t igemm_quad(const int8_t *a)
{
    int32_t quad;
    memcpy(&quad, a, sizeof quad);
    return vreinterpretq_s8_s32(vdupq_n_s32(quad));
}

/* `rows` rows and `parts` times four columns. */
HG_INLINE void igemm_block(const int rows, const int parts, const hg_igemm_tile *t, int64_t row,
                           int64_t part)
{
    const int64_t width = t->quads * HG_QUAD;
    const int8_t *a = (const int8_t *)t->wide + row * width;
    const int8_t *b =
        t->b + part / IGEMM_PARTS * hg_igemm_panel_bytes(t->quads) + part % IGEMM_PARTS * 16;
    igemm_sum sum[IGEMM_ROWS][IGEMM_PARTS];
    HG_GEMM_UNROLL
    for (int i = 0; i < rows; i++) {
        HG_GEMM_UNROLL
        for (int p = 0; p < parts; p++)
            sum[i][p] = igemm_start(t, row + i, part + p);
    }
    for (int64_t q = 0; q < t->quads; q++, a += HG_QUAD, b += HG_QUAD_BYTES) {
        int8x16_t w[IGEMM_PARTS];
        HG_GEMM_UNROLL
        for (int p = 0; p < parts; p++)
            w[p] = vld1q_s8(b + 16 * p);
        HG_GEMM_UNROLL
        for (int i = 0; i < rows; i++) {
            const int8x16_t x = igemm_quad(a + i * width);
            HG_GEMM_UNROLL
            for (int p = 0; p < parts; p++)
                sum[i][p] = igemm_add(sum[i][p], w[p], x);
        }
    }
    HG_GEMM_UNROLL
    for (int i = 0; i < rows; i++) {
        HG_GEMM_UNROLL
        for (int p = 0; p < parts; p++)
            vst1q_s32(t->c + (row + i) * t->ldc + (part + p) * IGEMM_LANES, igemm_total(sum[i][p]));
    }
}

/* One row: a whole panel hides the latency of a sum. */
static void igemm_1(const hg_igemm_tile *t, int64_t row, int64_t panel)
{
    igemm_block(1, IGEMM_PARTS, t, row, panel * IGEMM_PARTS);
}

#define IGEMM_BLOCK(rows)                                                                          \
    static void igemm_##rows(const hg_igemm_tile *t, int64_t row, int64_t panel)                   \
    {                                                                                              \
        for (int64_t p = 0; p < IGEMM_PARTS; p += IGEMM_TOGETHER)                                  \
            igemm_block(rows, IGEMM_TOGETHER, t, row, panel *IGEMM_PARTS + p);                     \
    }
IGEMM_BLOCK(2)
IGEMM_BLOCK(3)
IGEMM_BLOCK(4)
#undef IGEMM_BLOCK

static void igemm_tile(const hg_igemm_tile *t)
{
    typedef void (*block_fn)(const hg_igemm_tile *t, int64_t row, int64_t panel);
    static const block_fn table[IGEMM_ROWS] = {igemm_1, igemm_2, igemm_3, igemm_4};
    hg_igemm_turn(t, (uint8_t *)t->wide);
    for (int64_t panel = 0; panel < t->panels; panel++)
        for (int64_t row = 0; row < t->rows; row += IGEMM_ROWS)
            table[hg_min(IGEMM_ROWS, t->rows - row) - 1](t, row, panel);
}

const hg_igemm_form hg_igemm_avx2 = {.tile = igemm_tile,
                                     .lane = hg_lane_run_avx2,
                                     .finish = hg_igemm_finish_avx2,
                                     .lookup = hg_table_bytes_avx2,
                                     .widens = true,
                                     .widens_pairs = true};
