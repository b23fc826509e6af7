/* lane_math.h - the mathematical functions of lane code. */
#ifndef HG_ISA_LANE_MATH_H
#define HG_ISA_LANE_MATH_H

#include "base/base.h"

#include <math.h>

#define HG_INFINITY INFINITY

static inline float hg_exp_f32(float x) { return expf(x); }
static inline double hg_exp_f64(double x) { return exp(x); }
static inline float hg_log_f32(float x) { return logf(x); }
static inline double hg_log_f64(double x) { return log(x); }
static inline float hg_sin_f32(float x) { return sinf(x); }
static inline double hg_sin_f64(double x) { return sin(x); }
static inline float hg_cos_f32(float x) { return cosf(x); }
static inline double hg_cos_f64(double x) { return cos(x); }
static inline float hg_tan_f32(float x) { return tanf(x); }
static inline double hg_tan_f64(double x) { return tan(x); }
static inline float hg_asin_f32(float x) { return asinf(x); }
static inline double hg_asin_f64(double x) { return asin(x); }
static inline float hg_acos_f32(float x) { return acosf(x); }
static inline double hg_acos_f64(double x) { return acos(x); }
static inline float hg_atan_f32(float x) { return atanf(x); }
static inline double hg_atan_f64(double x) { return atan(x); }
static inline float hg_sinh_f32(float x) { return sinhf(x); }
static inline double hg_sinh_f64(double x) { return sinh(x); }
static inline float hg_cosh_f32(float x) { return coshf(x); }
static inline double hg_cosh_f64(double x) { return cosh(x); }
static inline float hg_tanh_f32(float x) { return tanhf(x); }
static inline double hg_tanh_f64(double x) { return tanh(x); }
static inline float hg_asinh_f32(float x) { return asinhf(x); }
static inline double hg_asinh_f64(double x) { return asinh(x); }
static inline float hg_acosh_f32(float x) { return acoshf(x); }
static inline double hg_acosh_f64(double x) { return acosh(x); }
static inline float hg_atanh_f32(float x) { return atanhf(x); }
static inline double hg_atanh_f64(double x) { return atanh(x); }
static inline float hg_erf_f32(float x) { return erff(x); }
static inline double hg_erf_f64(double x) { return erf(x); }
static inline float hg_expm1_f32(float x) { return expm1f(x); }
static inline double hg_expm1_f64(double x) { return expm1(x); }
static inline float hg_log1p_f32(float x) { return log1pf(x); }
static inline double hg_log1p_f64(double x) { return log1p(x); }
static inline float hg_floor_f32(float x) { return floorf(x); }
static inline double hg_floor_f64(double x) { return floor(x); }
static inline float hg_ceil_f32(float x) { return ceilf(x); }
static inline double hg_ceil_f64(double x) { return ceil(x); }
static inline float hg_trunc_f32(float x) { return truncf(x); }
static inline double hg_trunc_f64(double x) { return trunc(x); }
static inline float hg_sqrt_f32(float x) { return sqrtf(x); }
static inline double hg_sqrt_f64(double x) { return sqrt(x); }

static inline float hg_round_f32(float x) { return rintf(x); }
static inline double hg_round_f64(double x) { return rint(x); }
static inline float hg_abs_f32(float x) { return fabsf(x); }
static inline double hg_abs_f64(double x) { return fabs(x); }
static inline float hg_sigmoid_f32(float x) { return 1 / (1 + expf(-x)); }
static inline double hg_sigmoid_f64(double x) { return 1 / (1 + exp(-x)); }
static inline float hg_pow_f32(float x, float y) { return powf(x, y); }
static inline double hg_pow_f64(double x, double y) { return pow(x, y); }
static inline float hg_atan2_f32(float x, float y) { return atan2f(x, y); }
static inline double hg_atan2_f64(double x, double y) { return atan2(x, y); }
static inline float hg_fmod_f32(float x, float y) { return fmodf(x, y); }
static inline double hg_fmod_f64(double x, double y) { return fmod(x, y); }

/* x to the power y by squaring, modulo 2^64. */
static inline uint64_t hg_pow_u64(uint64_t x, uint64_t y)
{
    uint64_t result = 1;
    for (; y != 0; y >>= 1, x *= x)
        if (y & 1) result *= x;
    return result;
}

static inline int64_t hg_pow_i64(int64_t x, int64_t y)
{
    if (y < 0) return x == 1 ? 1 : x == -1 ? (y & 1 ? -1 : 1) : 0;
    return (int64_t)hg_pow_u64((uint64_t)x, (uint64_t)y);
}

static inline int32_t hg_pow_i32(int32_t x, int32_t y)
{
    return (int32_t)hg_pow_i64(x, y);
}

#endif
