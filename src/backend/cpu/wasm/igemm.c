/* igemm.c - products of 8-bit codes on WebAssembly: dot products of pairs of 16-bit numbers.
 *
 * Codes of A are widened once for a tile, (k0, k2) and (k1, k3) of each quad; weights in registers,
 * shared by the rows. Four rows by half a panel are eight sums, which leaves room for the rest in
 * the sixteen registers of x86. The relaxed product of eight bits takes one operand of seven bits
 * only, so codes would have to be cut in two, which costs more than widening where the processor
 * has no instruction for it. */
#include "backend/cpu/vec8_int.h"

#include "backend/cpu/avx2/gemm.h"
#include "backend/cpu/avx2/igemm.h"
#include "kernel/pack.h"

enum { IGEMM_ROWS = 4, IGEMM_LANES = 4, IGEMM_PARTS = HG_PANEL / IGEMM_LANES, IGEMM_HALF = 2 };

/* Sums of four columns before the first product; `part` counts them over panels. */
HG_INLINE v128_t igemm_start(const hg_igemm_tile *t, int64_t row, int64_t part)
{
    const int64_t panel = part / IGEMM_PARTS;
    const int8_t *sums = t->b + (panel + 1) * hg_igemm_panel_bytes(t->quads) - HG_QUAD_BYTES;
    const v128_t columns = wasm_v128_load(sums + part % IGEMM_PARTS * 16);
    v128_t start = wasm_i32x4_neg(wasm_i32x4_mul(columns, wasm_i32x4_splat(t->zero_a[row])));
    if (t->zero_b == NULL) return start;
    const v128_t zero = wasm_v128_load(t->zero_b + part * IGEMM_LANES);
    return wasm_i32x4_sub(start, wasm_i32x4_mul(zero, wasm_i32x4_splat(t->rest[row])));
}

/* `rows` rows and `parts` times four columns. */
HG_INLINE void igemm_block(const int rows, const int parts, const hg_igemm_tile *t, int64_t row,
                           int64_t part)
{
    const int64_t width = t->quads * HG_QUAD;
    const int16_t *a = t->wide + row * width;
    const int8_t *b =
        t->b + part / IGEMM_PARTS * hg_igemm_panel_bytes(t->quads) + part % IGEMM_PARTS * 16;
    v128_t sum[IGEMM_ROWS][IGEMM_PARTS];
    HG_GEMM_UNROLL
    for (int i = 0; i < rows; i++) {
        HG_GEMM_UNROLL
        for (int p = 0; p < parts; p++)
            sum[i][p] = igemm_start(t, row + i, part + p);
    }
    for (int64_t q = 0; q < t->quads; q++, a += HG_QUAD, b += HG_QUAD_BYTES) {
        HG_GEMM_UNROLL
        for (int p = 0; p < parts; p++) {
            const v128_t w = wasm_v128_load(b + 16 * p);
            const v128_t even = wasm_i16x8_shr(wasm_i16x8_shl(w, 8), 8), odd = wasm_i16x8_shr(w, 8);
            HG_GEMM_UNROLL
            for (int i = 0; i < rows; i++) {
                const int16_t *x = a + i * width;
                const v128_t two =
                    wasm_i32x4_add(wasm_i32x4_dot_i16x8(wasm_v128_load32_splat(x), even),
                                   wasm_i32x4_dot_i16x8(wasm_v128_load32_splat(x + 2), odd));
                sum[i][p] = wasm_i32x4_add(sum[i][p], two);
            }
        }
    }
    HG_GEMM_UNROLL
    for (int i = 0; i < rows; i++) {
        HG_GEMM_UNROLL
        for (int p = 0; p < parts; p++)
            wasm_v128_store(t->c + (row + i) * t->ldc + (part + p) * IGEMM_LANES, sum[i][p]);
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
        for (int64_t p = 0; p < IGEMM_PARTS; p += IGEMM_HALF)                                      \
            igemm_block(rows, IGEMM_HALF, t, row, panel *IGEMM_PARTS + p);                         \
    }
IGEMM_BLOCK(2)
IGEMM_BLOCK(3)
IGEMM_BLOCK(4)
#undef IGEMM_BLOCK

/* Rows of A as 16-bit numbers, (k0, k2, k1, k3) of each quad. */
static void igemm_widen(const hg_igemm_tile *t)
{
    const int64_t width = t->quads * HG_QUAD;
    for (int64_t i = 0; i < t->rows; i++) {
        const uint8_t *a = t->a + i * t->lda;
        int16_t *to = t->wide + i * width;
        for (int64_t k = 0; k < width; k += HG_QUAD) {
            to[k] = a[k];
            to[k + 1] = a[k + 2];
            to[k + 2] = a[k + 1];
            to[k + 3] = a[k + 3];
        }
    }
}

static void igemm_tile(const hg_igemm_tile *t)
{
    typedef void (*block_fn)(const hg_igemm_tile *t, int64_t row, int64_t panel);
    static const block_fn table[IGEMM_ROWS] = {igemm_1, igemm_2, igemm_3, igemm_4};
    igemm_widen(t);
    for (int64_t panel = 0; panel < t->panels; panel++)
        for (int64_t row = 0; row < t->rows; row += IGEMM_ROWS)
            table[hg_min(IGEMM_ROWS, t->rows - row) - 1](t, row, panel);
}

const hg_igemm_form hg_igemm_wasm = {.tile = igemm_tile,
                                     .lane = hg_lane_run,
                                     .finish = hg_igemm_finish_wasm,
                                     .widens = true,
                                     .widens_pairs = true};
