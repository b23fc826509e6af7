/* vec4.h - vectors of four floats of WebAssembly, for backend/cpu/vec8.h. */
#ifndef HG_BACKEND_CPU_WASM_VEC4_H
#define HG_BACKEND_CPU_WASM_VEC4_H

#include "isa/kernel.h"

#include <wasm_simd128.h>

#define HG_VEC8_REGISTERS 8 /* pairs, in the sixteen registers of x86 */

#define VEC4_NAME(name) name##_wasm
#define HG_CPU_AVX2 HG_CPU_WASM
#define hg_kernels_conv_nhwc_avx2 hg_kernels_conv_nhwc_wasm
/* The reference interpreter has SIMD128 already: all of a module is compiled with it. */
#define hg_lane_run_avx2 hg_lane_run
#define hg_lane_tile_fast_avx2 hg_lane_run
#define hg_lane_read_avx2 hg_lane_read
#define hg_lane_write_avx2 hg_lane_write

typedef v128_t vec4;

#define vec4_add wasm_f32x4_add
#define vec4_sub wasm_f32x4_sub
#define vec4_mul wasm_f32x4_mul
#define vec4_div wasm_f32x4_div
#define vec4_neg wasm_f32x4_neg
#define vec4_and wasm_v128_and
#define vec4_xor wasm_v128_xor
#define vec4_add_i32 wasm_i32x4_add
#define vec4_shl wasm_i32x4_shl
#define vec4_nearest wasm_f32x4_nearest
#define vec4_to_i32(x) wasm_i32x4_trunc_sat_f32x4(wasm_f32x4_nearest(x))
/* The second operand where one is NaN or both are zeros, as on x86. */
#define vec4_max(x, y) wasm_f32x4_pmax(y, x)
#define vec4_min(x, y) wasm_f32x4_pmin(y, x)

#if defined(__wasm_relaxed_simd__)
#define vec4_fmadd(x, y, z) __builtin_wasm_relaxed_madd_f32x4(x, y, z)
#define vec4_fnmadd(x, y, z) __builtin_wasm_relaxed_nmadd_f32x4(x, y, z)
#else
#define vec4_fmadd(x, y, z) wasm_f32x4_add(z, wasm_f32x4_mul(x, y))
#define vec4_fnmadd(x, y, z) wasm_f32x4_sub(z, wasm_f32x4_mul(x, y))
#endif

#define vec4_splat wasm_f32x4_splat
#define vec4_load wasm_v128_load
#define vec4_load_any wasm_v128_load
#define vec4_load_splat wasm_v128_load32_splat
#define vec4_store wasm_v128_store
#define vec4_store_any wasm_v128_store
#define vec4_store_1(p, x) wasm_v128_store32_lane(p, x, 0)
#define vec4_store_2(p, x) wasm_v128_store64_lane(p, x, 0)
#define vec4_first(x) wasm_f32x4_extract_lane(x, 0)

#define vec4_not_less(x, y) wasm_v128_not(wasm_f32x4_lt(x, y))
#define vec4_unordered(x, y) wasm_v128_or(wasm_f32x4_ne(x, x), wasm_f32x4_ne(y, y))
#define vec4_at_most(x, y) wasm_f32x4_le(x, y)
#define vec4_equal(x, y) wasm_f32x4_eq(x, y)
#define vec4_not(x) wasm_v128_not(x)
#define vec4_select(mask, yes, no) wasm_v128_bitselect(yes, no, mask)

#define vec4_unpacklo(x, y) wasm_i32x4_shuffle(x, y, 0, 4, 1, 5)
#define vec4_unpackhi(x, y) wasm_i32x4_shuffle(x, y, 2, 6, 3, 7)
#define vec4_lows(x, y) wasm_i64x2_shuffle(x, y, 0, 2)
#define vec4_highs(x, y) wasm_i64x2_shuffle(x, y, 1, 3)
#define vec4_evens(x, y) wasm_i32x4_shuffle(x, y, 0, 2, 4, 6)
#define vec4_odds(x, y) wasm_i32x4_shuffle(x, y, 1, 3, 5, 7)
#define vec4_odds_twice(x) wasm_i32x4_shuffle(x, x, 1, 1, 3, 3)

/* A browser fetches by itself. */
#define vec4_fetch(p) ((void)(p))

/* Four halves in the low bits of 32: exponent and fraction move into place, a product with 2^112
 * sets the exponent right, subnormals included; infinities and NaN get theirs afterwards. */
HG_INLINE v128_t vec4_from_halves(v128_t h)
{
    const v128_t sign = wasm_i32x4_shl(wasm_v128_and(h, wasm_i32x4_const_splat(0x8000)), 16);
    const v128_t size = wasm_v128_and(h, wasm_i32x4_const_splat(0x7fff));
    const v128_t x = wasm_f32x4_mul(wasm_i32x4_shl(size, 13), wasm_f32x4_const_splat(0x1p112f));
    const v128_t special = wasm_i32x4_gt(size, wasm_i32x4_const_splat(0x7bff));
    const v128_t all = wasm_v128_and(special, wasm_i32x4_const_splat(0x7f800000));
    return wasm_v128_or(wasm_v128_or(x, all), sign);
}

#define vec4_from_low_halves(h) vec4_from_halves(wasm_u32x4_extend_low_u16x8(h))
#define vec4_from_high_halves(h) vec4_from_halves(wasm_u32x4_extend_high_u16x8(h))
#define vec4_from_half(h) vec4_first(vec4_from_halves(wasm_i32x4_splat(h)))

#endif
