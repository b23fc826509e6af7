/* igemm.c - products of 8-bit codes on WebAssembly.
 *
 * wide      codes of A are widened once for a tile, (k0, k2) and (k1, k3) of each quad, weights in
 *           registers, shared by the rows: dot products of pairs of 16-bit numbers.
 * unsigned  the relaxed product of 8 bits, where the compiler has proved that sums of two fit 16
 *           bits. It promises exact sums for codes of A below 128 only: others are unsigned to it
 *           on x86,
 * turned    and signed on ARM, so there codes are turned first, as in neon/igemm.c. One product
 *           tells which.
 *
 * Four rows by half a panel are eight sums, which leaves room for the rest in the sixteen registers
 * of x86. In V8 on Zen 4, 10^9 products a second: wide 33, unsigned 56 (V8's product of four takes
 * five instructions there, that of two and a sum by ones three: 43), floats 27. */
#include "backend/cpu/vec8_int.h"

#include "backend/cpu/avx2/gemm.h"
#include "backend/cpu/avx2/igemm.h"
#include "kernel/pack.h"

enum { IGEMM_ROWS = 4, IGEMM_LANES = 4, IGEMM_PARTS = HG_PANEL / IGEMM_LANES, IGEMM_HALF = 2 };

typedef enum igemm_how { IGEMM_WIDE, IGEMM_UNSIGNED, IGEMM_TURNED } igemm_how;

#if defined(__wasm_relaxed_simd__)

static igemm_how igemm_how_of(const hg_igemm_tile *t)
{
    volatile int8_t code = -1; /* or the compiler answers */
    const v128_t two = vec4_pairs_i8(wasm_i8x16_splat(code), wasm_i8x16_const_splat(1));
    if (!t->pairs) return IGEMM_WIDE;
    return wasm_i16x8_extract_lane(two, 0) > 0 ? IGEMM_UNSIGNED : IGEMM_TURNED;
}

/* Adds four products to each of four columns. */
HG_INLINE v128_t igemm_add(igemm_how how, v128_t sum, v128_t w, v128_t x)
{
    if (how == IGEMM_TURNED) return __builtin_wasm_relaxed_dot_i8x16_i7x16_add_s_i32x4(w, x, sum);
    const v128_t two = wasm_i32x4_dot_i16x8(vec4_pairs_i8(x, w), wasm_i16x8_const_splat(1));
    return wasm_i32x4_add(sum, two);
}

#else

#define igemm_how_of(t) IGEMM_WIDE
#define igemm_add(how, sum, w, x) ((void)(w), (void)(x), (sum))

#endif

/* Sums of four columns before the first product; `part` counts them over panels. */
HG_INLINE v128_t igemm_start(igemm_how how, const hg_igemm_tile *t, int64_t row, int64_t part)
{
    const int64_t panel = part / IGEMM_PARTS;
    const int8_t *sums = t->b + (panel + 1) * hg_igemm_panel_bytes(t->quads) - HG_QUAD_BYTES;
    const v128_t columns = wasm_v128_load(sums + part % IGEMM_PARTS * 16);
    const int32_t lift = how == IGEMM_TURNED ? HG_CODE_LIFT : 0;
    v128_t start = wasm_i32x4_mul(columns, wasm_i32x4_splat(lift - t->zero_a[row]));
    if (t->zero_b == NULL) return start;
    const v128_t zero = wasm_v128_load(t->zero_b + part * IGEMM_LANES);
    return wasm_i32x4_sub(start, wasm_i32x4_mul(zero, wasm_i32x4_splat(t->rest[row])));
}

/* One quad of four columns and some rows, which lie `ld` bytes apart. */
HG_INLINE void igemm_quad(igemm_how how, const int rows, v128_t w, const uint8_t *a, int64_t ld,
                          v128_t *sum, const int step)
{
    const v128_t even = wasm_i16x8_shr(wasm_i16x8_shl(w, 8), 8), odd = wasm_i16x8_shr(w, 8);
    HG_GEMM_UNROLL
    for (int i = 0; i < rows; i++) {
        const v128_t x = wasm_v128_load32_splat(a + i * ld);
        if (how != IGEMM_WIDE) {
            sum[i * step] = igemm_add(how, sum[i * step], w, x);
            continue;
        }
        const v128_t y = wasm_v128_load32_splat(a + i * ld + 4);
        const v128_t two =
            wasm_i32x4_add(wasm_i32x4_dot_i16x8(x, even), wasm_i32x4_dot_i16x8(y, odd));
        sum[i * step] = wasm_i32x4_add(sum[i * step], two);
    }
}

/* `rows` rows and `parts` times four columns. */
HG_INLINE void igemm_block(igemm_how how, const int rows, const int parts, const hg_igemm_tile *t,
                           int64_t row, int64_t part)
{
    const int64_t width = t->quads * HG_QUAD, step = how == IGEMM_WIDE ? 2 * HG_QUAD : HG_QUAD;
    const int64_t ld = how == IGEMM_UNSIGNED ? t->lda : t->quads * step;
    const uint8_t *a = (how == IGEMM_UNSIGNED ? t->a : (const uint8_t *)t->wide) + row * ld;
    const int8_t *b =
        t->b + part / IGEMM_PARTS * hg_igemm_panel_bytes(t->quads) + part % IGEMM_PARTS * 16;
    v128_t sum[IGEMM_ROWS][IGEMM_PARTS];
    HG_GEMM_UNROLL
    for (int i = 0; i < rows; i++) {
        HG_GEMM_UNROLL
        for (int p = 0; p < parts; p++)
            sum[i][p] = igemm_start(how, t, row + i, part + p);
    }
    for (int64_t k = 0; k < width; k += HG_QUAD, a += step, b += HG_QUAD_BYTES) {
        HG_GEMM_UNROLL
        for (int p = 0; p < parts; p++)
            igemm_quad(how, rows, wasm_v128_load(b + 16 * p), a, ld, &sum[0][p], IGEMM_PARTS);
    }
    HG_GEMM_UNROLL
    for (int i = 0; i < rows; i++) {
        HG_GEMM_UNROLL
        for (int p = 0; p < parts; p++)
            wasm_v128_store(t->c + (row + i) * t->ldc + (part + p) * IGEMM_LANES, sum[i][p]);
    }
}

/* A panel; one row takes all of it together, which hides the latency of a sum. */
HG_INLINE void igemm_panel(igemm_how how, const int rows, const hg_igemm_tile *t, int64_t row,
                           int64_t panel)
{
    const int parts = rows == 1 ? IGEMM_PARTS : IGEMM_HALF;
    for (int64_t p = 0; p < IGEMM_PARTS; p += parts)
        igemm_block(how, rows, parts, t, row, panel * IGEMM_PARTS + p);
}

HG_INLINE void igemm_rows(igemm_how how, const hg_igemm_tile *t)
{
    for (int64_t panel = 0; panel < t->panels; panel++) {
        int64_t row = 0;
        for (; row + IGEMM_ROWS <= t->rows; row += IGEMM_ROWS)
            igemm_panel(how, IGEMM_ROWS, t, row, panel);
        switch (t->rows - row) {
        case 3: igemm_panel(how, 3, t, row, panel); break;
        case 2: igemm_panel(how, 2, t, row, panel); break;
        case 1: igemm_panel(how, 1, t, row, panel); break;
        default: break;
        }
    }
}

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
    switch (igemm_how_of(t)) {
    case IGEMM_UNSIGNED: igemm_rows(IGEMM_UNSIGNED, t); break;
    case IGEMM_TURNED:
        hg_igemm_turn(t, (uint8_t *)t->wide);
        igemm_rows(IGEMM_TURNED, t);
        break;
    case IGEMM_WIDE:
        igemm_widen(t);
        igemm_rows(IGEMM_WIDE, t);
        break;
    }
}

const hg_igemm_form hg_igemm_avx2 = {.tile = igemm_tile,
                                     .lane = hg_lane_run,
                                     .finish = hg_igemm_finish_avx2,
                                     .lookup = hg_table_bytes_avx2,
                                     .widens = true,
                                     .widens_pairs = true};
