/* vec4.h - vectors of four floats of NEON, for backend/cpu/vec8.h. */
#ifndef HG_BACKEND_CPU_NEON_VEC4_H
#define HG_BACKEND_CPU_NEON_VEC4_H

#include "isa/kernel.h"

#include <arm_neon.h>

#define HG_VEC8_REGISTERS 16 /* pairs, in 32 registers */

#define VEC4_NAME(name) name##_neon
#define HG_CPU_AVX2 HG_CPU_NEON
#define hg_kernels_conv_nhwc_avx2 hg_kernels_conv_nhwc_neon
#define hg_lane_run_avx2 hg_lane_run_neon
#define hg_lane_tile_fast_avx2 hg_lane_tile_fast_neon
#define hg_lane_read_avx2 hg_lane_read_neon
#define hg_lane_write_avx2 hg_lane_write_neon

/* Floats, or the bits of integers and masks. */
typedef float32x4_t vec4;

#define vec4_add vaddq_f32
#define vec4_sub vsubq_f32
#define vec4_mul vmulq_f32
#define vec4_div vdivq_f32
#define vec4_neg vnegq_f32
#define vec4_nearest vrndnq_f32
#define vec4_fmadd(x, y, z) vfmaq_f32(z, x, y)
#define vec4_fnmadd(x, y, z) vfmsq_f32(z, x, y)
#define vec4_to_i32(x) vreinterpretq_f32_s32(vcvtnq_s32_f32(x))

#define VEC4_U32(x) vreinterpretq_u32_f32(x)
#define VEC4_F32(x) vreinterpretq_f32_u32(x)
#define vec4_and(x, y) VEC4_F32(vandq_u32(VEC4_U32(x), VEC4_U32(y)))
#define vec4_xor(x, y) VEC4_F32(veorq_u32(VEC4_U32(x), VEC4_U32(y)))
#define vec4_add_i32(x, y) VEC4_F32(vaddq_u32(VEC4_U32(x), VEC4_U32(y)))
#define vec4_shl(x, n) VEC4_F32(vshlq_n_u32(VEC4_U32(x), n))

/* The second operand where one is NaN or both are zeros, as on x86. */
HG_INLINE vec4 vec4_max(vec4 x, vec4 y)
{
    return vbslq_f32(vcgtq_f32(x, y), x, y);
}

HG_INLINE vec4 vec4_min(vec4 x, vec4 y)
{
    return vbslq_f32(vcltq_f32(x, y), x, y);
}

#define vec4_splat vdupq_n_f32
#define vec4_load vld1q_f32
#define vec4_load_any(p) vreinterpretq_f32_u8(vld1q_u8((const uint8_t *)(const void *)(p)))
#define vec4_load_splat vld1q_dup_f32
#define vec4_store vst1q_f32
#define vec4_store_any(p, x) vst1q_u8((uint8_t *)(void *)(p), vreinterpretq_u8_f32(x))
#define vec4_store_1(p, x) vst1q_lane_f32(p, x, 0)
#define vec4_store_2(p, x) vst1_f32((float *)(void *)(p), vget_low_f32(x))
#define vec4_first(x) vgetq_lane_f32(x, 0)

#define vec4_not_less(x, y) VEC4_F32(vmvnq_u32(vcltq_f32(x, y)))
#define vec4_unordered(x, y) VEC4_F32(vmvnq_u32(vandq_u32(vceqq_f32(x, x), vceqq_f32(y, y))))
#define vec4_at_most(x, y) VEC4_F32(vcleq_f32(x, y))
#define vec4_equal(x, y) VEC4_F32(vceqq_f32(x, y))
#define vec4_not(x) VEC4_F32(vmvnq_u32(VEC4_U32(x)))
#define vec4_select(mask, yes, no) vbslq_f32(VEC4_U32(mask), yes, no)

#define vec4_unpacklo vzip1q_f32
#define vec4_unpackhi vzip2q_f32
#define vec4_evens vuzp1q_f32
#define vec4_odds vuzp2q_f32
#define vec4_odds_twice(x) vtrn2q_f32(x, x)
#define vec4_lows(x, y) vcombine_f32(vget_low_f32(x), vget_low_f32(y))
#define vec4_highs(x, y) vcombine_f32(vget_high_f32(x), vget_high_f32(y))

#define vec4_fetch(p) __builtin_prefetch(p)

#define vec4_from_low_halves(h) vcvt_f32_f16(vget_low_f16(vreinterpretq_f16_f32(h)))
#define vec4_from_high_halves(h) vcvt_high_f32_f16(vreinterpretq_f16_f32(h))
#define vec4_from_half(h) vec4_first(vcvt_f32_f16(vreinterpret_f16_u16(vdup_n_u16(h))))

/* What the interpreter of lane code stores; wasm/ has none of its own. */
#define _mm256_cvtps_ph(x, how)                                                                    \
    vreinterpretq_f32_f16(vcombine_f16(vcvt_f16_f32((x).a), vcvt_f16_f32((x).b)))

#endif
