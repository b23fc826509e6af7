/* vec4_int.h - vectors of integers of WebAssembly, for backend/cpu/vec8_int.h. */
#ifndef HG_BACKEND_CPU_WASM_VEC4_INT_H
#define HG_BACKEND_CPU_WASM_VEC4_INT_H

#include "backend/cpu/wasm/vec4.h"

#define vec4_or wasm_v128_or
#define vec4_add_i16 wasm_i16x8_add
#define vec4_sub_i32 wasm_i32x4_sub
#define vec4_max_i8 wasm_i8x16_max
#define vec4_min_i8 wasm_i8x16_min
#define vec4_max_u8 wasm_u8x16_max
#define vec4_min_u8 wasm_u8x16_min
#define vec4_adds_i16 wasm_i16x8_add_sat
#define vec4_abs_i8 wasm_i8x16_abs
#define vec4_more_i32 wasm_i32x4_gt
#define vec4_pairs_i16 wasm_i32x4_dot_i16x8
#define vec4_from_i32 wasm_f32x4_convert_i32x4
#define vec4_shr_i16(x, by) wasm_i16x8_shr(x, (uint32_t)(by))
#define vec4_shl_i16(x, by) wasm_i16x8_shl(x, (uint32_t)(by))
#define vec4_shr_u16(x, by) wasm_u16x8_shr(x, (uint32_t)(by))
#define vec4_shr_i32(x, by) wasm_i32x4_shr(x, (uint32_t)(by))
#define vec4_shr_u32(x, by) wasm_u32x4_shr(x, (uint32_t)(by))
#define vec4_splat_i8 wasm_i8x16_splat
#define vec4_splat_i16 wasm_i16x8_splat
#define vec4_splat_i32 wasm_i32x4_splat
#define vec4_make_i16 wasm_i16x8_make
#define vec4_make_i32 wasm_i32x4_make
#define vec4_load_low wasm_v128_load64_zero
#define vec4_bitmask wasm_i32x4_bitmask

#define vec4_low_u8 wasm_u16x8_extend_low_u8x16
#define vec4_high_u8 wasm_u16x8_extend_high_u8x16
#define vec4_low_i8 wasm_i16x8_extend_low_i8x16
#define vec4_low_u16 wasm_u32x4_extend_low_u16x8
#define vec4_high_u16 wasm_u32x4_extend_high_u16x8
#define vec4_low_i16 wasm_i32x4_extend_low_i16x8
#define vec4_high_i16 wasm_i32x4_extend_high_i16x8
#define vec4_narrow_u16 wasm_u16x8_narrow_i32x4
#define vec4_narrow_u8 wasm_u8x16_narrow_i16x8
#define vec4_narrow_i16 wasm_i16x8_narrow_i32x4
#define vec4_narrow_i8 wasm_i8x16_narrow_i16x8

#define vec4_unpacklo_i16(x, y) wasm_i16x8_shuffle(x, y, 0, 8, 1, 9, 2, 10, 3, 11)
#define vec4_unpackhi_i16(x, y) wasm_i16x8_shuffle(x, y, 4, 12, 5, 13, 6, 14, 7, 15)

HG_INLINE vec4 vec4_unpacklo_i8(vec4 x, vec4 y)
{
    return wasm_i8x16_shuffle(x, y, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
}

HG_INLINE vec4 vec4_unpackhi_i8(vec4 x, vec4 y)
{
    return wasm_i8x16_shuffle(x, y, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
}

/* Sums of two products of unsigned and signed codes, which fit 16 bits. */
HG_INLINE vec4 vec4_pairs_u8(vec4 u, vec4 s)
{
    const vec4 even = wasm_i16x8_mul(wasm_v128_and(u, wasm_i16x8_const_splat(255)),
                                     wasm_i16x8_shr(wasm_i16x8_shl(s, 8), 8));
    const vec4 odd = wasm_i16x8_mul(wasm_u16x8_shr(u, 8), wasm_i16x8_shr(s, 8));
    return wasm_i16x8_add(even, odd);
}

#if defined(__wasm_relaxed_simd__)
/* Both are exact here: indexes are below 16, the left operand of a product is below 128. */
#define vec4_look(table, index) __builtin_wasm_relaxed_swizzle_i8x16(table, index)
#define vec4_pairs_i8(u, s) __builtin_wasm_relaxed_dot_i8x16_i7x16_s_i16x8(s, u)
#else
#define vec4_look(table, index) wasm_i8x16_swizzle(table, index)
#define vec4_pairs_i8(u, s) vec4_pairs_u8(u, s)
#endif

/* x with the sign of y; 0 where y is. */
HG_INLINE vec4 vec4_sign_i8(vec4 x, vec4 y)
{
    const vec4 zero = wasm_i8x16_const_splat(0), less = wasm_i8x16_lt(y, zero);
    const vec4 turned = wasm_i8x16_sub(wasm_v128_xor(x, less), less);
    return wasm_v128_andnot(turned, wasm_i8x16_eq(y, zero));
}

HG_INLINE vec4 vec4_sign_i16(vec4 x, vec4 y)
{
    const vec4 zero = wasm_i16x8_const_splat(0), less = wasm_i16x8_lt(y, zero);
    const vec4 turned = wasm_i16x8_sub(wasm_v128_xor(x, less), less);
    return wasm_v128_andnot(turned, wasm_i16x8_eq(y, zero));
}

/* What does not fit, and NaN, is the least number. */
HG_INLINE vec4 vec4_truncate(vec4 x)
{
    const vec4 fits = wasm_f32x4_lt(x, wasm_f32x4_const_splat(0x1p31f));
    return wasm_v128_bitselect(wasm_i32x4_trunc_sat_f32x4(x), wasm_i32x4_const_splat(INT32_MIN),
                               fits);
}

/* By another number in each lane, which WebAssembly lacks; only codes of two bits use it. */
HG_INLINE vec4 vec4_shr_each(vec4 x, vec4 by)
{
    uint32_t value[4], shift[4];
    wasm_v128_store(value, x);
    wasm_v128_store(shift, by);
    for (int i = 0; i < 4; i++)
        value[i] >>= shift[i];
    return wasm_v128_load(value);
}

#endif
