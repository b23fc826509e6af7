/* lane_wide.h - loops of the lane interpreter on int64, four wide, with the bits of its own. Apart
 * from those because few programs compute in int64. */
#ifndef HG_BACKEND_CPU_AVX2_LANE_WIDE_H
#define HG_BACKEND_CPU_AVX2_LANE_WIDE_H

#include "isa/lane_ops.h"

#if defined(__AVX2__)
#include <immintrin.h>

#define LANE_WIDE(name, T, R, expression)                                                          \
    static void lane_wide_##name(void *HG_RESTRICT d_, const void *HG_RESTRICT a_,                 \
                                 const void *HG_RESTRICT b_, const void *HG_RESTRICT c_,           \
                                 int64_t n)                                                        \
    {                                                                                              \
        R *HG_RESTRICT d = d_;                                                                     \
        const T *HG_RESTRICT a = a_, *HG_RESTRICT b = b_;                                          \
        (void)c_;                                                                                  \
        n &= -16; /* it is so already: tells the compiler */                                       \
        for (int64_t i = 0; i < n; i++) {                                                          \
            const T x = a[i], y = b[i];                                                            \
            (void)y;                                                                               \
            d[i] = (R)(expression);                                                                \
        }                                                                                          \
    }
LANE_WIDE(add, int64_t, int64_t, (uint64_t)x + (uint64_t)y)
LANE_WIDE(sub, int64_t, int64_t, (uint64_t)x - (uint64_t)y)
LANE_WIDE(mul, int64_t, int64_t, (uint64_t)x *(uint64_t)y)
LANE_WIDE(min, int64_t, int64_t, x < y ? x : y)
LANE_WIDE(max, int64_t, int64_t, x > y ? x : y)
LANE_WIDE(abs, int64_t, int64_t, x < 0 ? 0 - (uint64_t)x : (uint64_t)x)
LANE_WIDE(eq, int64_t, int32_t, x == y)
LANE_WIDE(lt, int64_t, int32_t, x < y)
LANE_WIDE(le, int64_t, int32_t, x <= y)
LANE_WIDE(i32_i64, int64_t, int32_t, (uint32_t)x)
LANE_WIDE(i64_i32, int32_t, int64_t, x)
LANE_WIDE(f32_i64, int64_t, float, x)
/* The instruction gives the smallest integer for what is out of range. */
LANE_WIDE(i64_f32, float, int64_t, _mm_cvttss_si64(_mm_set_ss(x)))
#undef LANE_WIDE

/* The loop of an operation, or NULL; `from` is the type of a CAST's source. */
static hg_lane_fn hg_lane_wide_of(uint32_t op, uint32_t type, uint32_t from)
{
    if (op == HG_LANE_CAST) {
        if (type == HG_LANE_I64 && from == HG_LANE_I32) return lane_wide_i64_i32;
        if (type == HG_LANE_I64 && from == HG_LANE_F32) return lane_wide_i64_f32;
        if (type == HG_LANE_I32 && from == HG_LANE_I64) return lane_wide_i32_i64;
        return type == HG_LANE_F32 && from == HG_LANE_I64 ? lane_wide_f32_i64 : NULL;
    }
    if (type != HG_LANE_I64) return NULL;
    switch (op) {
    case HG_LANE_ADD: return lane_wide_add;
    case HG_LANE_SUB: return lane_wide_sub;
    case HG_LANE_MUL: return lane_wide_mul;
    case HG_LANE_MIN: return lane_wide_min;
    case HG_LANE_MAX: return lane_wide_max;
    case HG_LANE_ABS: return lane_wide_abs;
    case HG_LANE_EQ: return lane_wide_eq;
    case HG_LANE_LT: return lane_wide_lt;
    case HG_LANE_LE: return lane_wide_le;
    default: return NULL;
    }
}
#else
#define hg_lane_wide_of(op, type, from) ((void)(op), (void)(type), (void)(from), (hg_lane_fn)NULL)
#endif

#endif
