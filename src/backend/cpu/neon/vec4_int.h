/* vec4_int.h - vectors of integers of NEON, for backend/cpu/vec8_int.h. They travel as floats
 * (vec4.h), which costs nothing. */
#ifndef HG_BACKEND_CPU_NEON_VEC4_INT_H
#define HG_BACKEND_CPU_NEON_VEC4_INT_H

#include "backend/cpu/neon/vec4.h"

#define VEC4_I8(x) vreinterpretq_s8_f32(x)
#define VEC4_U8(x) vreinterpretq_u8_f32(x)
#define VEC4_I16(x) vreinterpretq_s16_f32(x)
#define VEC4_U16(x) vreinterpretq_u16_f32(x)
#define VEC4_I32(x) vreinterpretq_s32_f32(x)
#define VEC4_OF_I8(x) vreinterpretq_f32_s8(x)
#define VEC4_OF_U8(x) vreinterpretq_f32_u8(x)
#define VEC4_OF_I16(x) vreinterpretq_f32_s16(x)
#define VEC4_OF_U16(x) vreinterpretq_f32_u16(x)
#define VEC4_OF_I32(x) vreinterpretq_f32_s32(x)

#define vec4_or(x, y) VEC4_F32(vorrq_u32(VEC4_U32(x), VEC4_U32(y)))
#define vec4_add_i16(x, y) VEC4_OF_I16(vaddq_s16(VEC4_I16(x), VEC4_I16(y)))
#define vec4_sub_i32(x, y) VEC4_OF_I32(vsubq_s32(VEC4_I32(x), VEC4_I32(y)))
#define vec4_max_i8(x, y) VEC4_OF_I8(vmaxq_s8(VEC4_I8(x), VEC4_I8(y)))
#define vec4_min_i8(x, y) VEC4_OF_I8(vminq_s8(VEC4_I8(x), VEC4_I8(y)))
#define vec4_max_u8(x, y) VEC4_OF_U8(vmaxq_u8(VEC4_U8(x), VEC4_U8(y)))
#define vec4_min_u8(x, y) VEC4_OF_U8(vminq_u8(VEC4_U8(x), VEC4_U8(y)))
#define vec4_adds_i16(x, y) VEC4_OF_I16(vqaddq_s16(VEC4_I16(x), VEC4_I16(y)))
#define vec4_abs_i8(x) VEC4_OF_I8(vabsq_s8(VEC4_I8(x)))
#define vec4_more_i32(x, y) VEC4_F32(vcgtq_s32(VEC4_I32(x), VEC4_I32(y)))
#define vec4_from_i32(x) vcvtq_f32_s32(VEC4_I32(x))
#define vec4_shr_i16(x, by) VEC4_OF_I16(vshlq_s16(VEC4_I16(x), vdupq_n_s16((int16_t)(-(by)))))
#define vec4_shl_i16(x, by) VEC4_OF_I16(vshlq_s16(VEC4_I16(x), vdupq_n_s16((int16_t)(by))))
#define vec4_shr_u16(x, by) VEC4_OF_U16(vshlq_u16(VEC4_U16(x), vdupq_n_s16((int16_t)(-(by)))))
#define vec4_shr_i32(x, by) VEC4_OF_I32(vshlq_s32(VEC4_I32(x), vdupq_n_s32(-(by))))
#define vec4_shr_u32(x, by) VEC4_F32(vshlq_u32(VEC4_U32(x), vdupq_n_s32(-(by))))
#define vec4_shr_each(x, by) VEC4_F32(vshlq_u32(VEC4_U32(x), vnegq_s32(VEC4_I32(by))))
#define vec4_splat_i8(x) VEC4_OF_I8(vdupq_n_s8(x))
#define vec4_splat_i16(x) VEC4_OF_I16(vdupq_n_s16(x))
#define vec4_splat_i32(x) VEC4_OF_I32(vdupq_n_s32(x))
#define vec4_make_i16(...) VEC4_OF_I16(vld1q_s16((const int16_t[8]){__VA_ARGS__}))
#define vec4_make_i32(...) VEC4_OF_I32(vld1q_s32((const int32_t[4]){__VA_ARGS__}))

HG_INLINE vec4 vec4_load_low(const void *p)
{
    return VEC4_OF_U8(vcombine_u8(vld1_u8(p), vdup_n_u8(0)));
}

#define vec4_low_u8(x) VEC4_OF_U16(vmovl_u8(vget_low_u8(VEC4_U8(x))))
#define vec4_high_u8(x) VEC4_OF_U16(vmovl_high_u8(VEC4_U8(x)))
#define vec4_low_i8(x) VEC4_OF_I16(vmovl_s8(vget_low_s8(VEC4_I8(x))))
#define vec4_low_u16(x) VEC4_F32(vmovl_u16(vget_low_u16(VEC4_U16(x))))
#define vec4_high_u16(x) VEC4_F32(vmovl_high_u16(VEC4_U16(x)))
#define vec4_low_i16(x) VEC4_OF_I32(vmovl_s16(vget_low_s16(VEC4_I16(x))))
#define vec4_high_i16(x) VEC4_OF_I32(vmovl_high_s16(VEC4_I16(x)))
#define vec4_narrow_u16(x, y) VEC4_OF_U16(vqmovun_high_s32(vqmovun_s32(VEC4_I32(x)), VEC4_I32(y)))
#define vec4_narrow_u8(x, y) VEC4_OF_U8(vqmovun_high_s16(vqmovun_s16(VEC4_I16(x)), VEC4_I16(y)))
#define vec4_narrow_i16(x, y) VEC4_OF_I16(vqmovn_high_s32(vqmovn_s32(VEC4_I32(x)), VEC4_I32(y)))
#define vec4_narrow_i8(x, y) VEC4_OF_I8(vqmovn_high_s16(vqmovn_s16(VEC4_I16(x)), VEC4_I16(y)))

#define vec4_unpacklo_i8(x, y) VEC4_OF_U8(vzip1q_u8(VEC4_U8(x), VEC4_U8(y)))
#define vec4_unpackhi_i8(x, y) VEC4_OF_U8(vzip2q_u8(VEC4_U8(x), VEC4_U8(y)))
#define vec4_unpacklo_i16(x, y) VEC4_OF_U16(vzip1q_u16(VEC4_U16(x), VEC4_U16(y)))
#define vec4_unpackhi_i16(x, y) VEC4_OF_U16(vzip2q_u16(VEC4_U16(x), VEC4_U16(y)))

/* Indexes are below 16. */
#define vec4_look(table, index) VEC4_OF_U8(vqtbl1q_u8(VEC4_U8(table), VEC4_U8(index)))

/* Sums of two products, which fit 16 bits; the left operand is below 128. */
HG_INLINE vec4 vec4_pairs_i8(vec4 u, vec4 s)
{
    const int8x16_t x = VEC4_I8(u), y = VEC4_I8(s);
    return VEC4_OF_I16(vpaddq_s16(vmull_s8(vget_low_s8(x), vget_low_s8(y)), vmull_high_s8(x, y)));
}

/* The same with a left operand of up to 255. */
HG_INLINE vec4 vec4_pairs_u8(vec4 u, vec4 s)
{
    const uint8x16_t x = VEC4_U8(u);
    const int8x16_t y = VEC4_I8(s);
    const int16x8_t low = vmulq_s16(vreinterpretq_s16_u16(vmovl_u8(vget_low_u8(x))),
                                    vmovl_s8(vget_low_s8(y))),
                    high = vmulq_s16(vreinterpretq_s16_u16(vmovl_high_u8(x)), vmovl_high_s8(y));
    return VEC4_OF_I16(vpaddq_s16(low, high));
}

HG_INLINE vec4 vec4_pairs_i16(vec4 x, vec4 y)
{
    const int16x8_t a = VEC4_I16(x), b = VEC4_I16(y);
    return VEC4_OF_I32(
        vpaddq_s32(vmull_s16(vget_low_s16(a), vget_low_s16(b)), vmull_high_s16(a, b)));
}

/* x with the sign of y; 0 where y is. */
HG_INLINE vec4 vec4_sign_i8(vec4 x, vec4 y)
{
    const int8x16_t less = vshrq_n_s8(VEC4_I8(y), 7);
    const int8x16_t turned = vsubq_s8(veorq_s8(VEC4_I8(x), less), less);
    return VEC4_OF_U8(vbicq_u8(vreinterpretq_u8_s8(turned), vceqzq_s8(VEC4_I8(y))));
}

HG_INLINE vec4 vec4_sign_i16(vec4 x, vec4 y)
{
    const int16x8_t less = vshrq_n_s16(VEC4_I16(y), 15);
    const int16x8_t turned = vsubq_s16(veorq_s16(VEC4_I16(x), less), less);
    return VEC4_OF_U16(vbicq_u16(vreinterpretq_u16_s16(turned), vceqzq_s16(VEC4_I16(y))));
}

/* What does not fit, and NaN, is the least number. */
HG_INLINE vec4 vec4_truncate(vec4 x)
{
    const uint32x4_t fits = vcltq_f32(x, vdupq_n_f32(0x1p31f));
    return VEC4_OF_I32(vbslq_s32(fits, vcvtq_s32_f32(x), vdupq_n_s32(INT32_MIN)));
}

/* The highest bit of each lane. */
HG_INLINE int vec4_bitmask(vec4 x)
{
    const int32x4_t place = vld1q_s32((const int32_t[4]){0, 1, 2, 3});
    return (int)vaddvq_u32(vshlq_u32(vshrq_n_u32(VEC4_U32(x), 31), place));
}

#endif
