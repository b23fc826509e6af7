/* byteops.c - byteops with NEON: 128 codes go through the program together. */
#include "kernel/byteops.h"

#include <arm_neon.h>

enum { BYTEOPS_VECTOR = 16, BYTEOPS_TOGETHER = 8 };

typedef uint8x16_t byteops_vec;

/* An operation on signed bytes. */
#define BYTEOPS_I8(function, a, c)                                                                 \
    vreinterpretq_u8_s8(function(vreinterpretq_s8_u8(a), vreinterpretq_s8_u8(c)))

#define byteops_get vld1q_u8
#define byteops_put vst1q_u8
#define byteops_list vld1q_u8
#define byteops_splat(c) vdupq_n_u8((uint8_t)(c))
#define byteops_add vaddq_u8
#define byteops_from(a, c) vsubq_u8(c, a)
#define byteops_xor veorq_u8
#define byteops_and vandq_u8
#define byteops_or vorrq_u8
#define byteops_add_u8 vqaddq_u8
#define byteops_sub_u8 vqsubq_u8
#define byteops_add_i8(a, c) BYTEOPS_I8(vqaddq_s8, a, c)
#define byteops_sub_i8(a, c) BYTEOPS_I8(vqsubq_s8, a, c)
#define byteops_min_u8 vminq_u8
#define byteops_max_u8 vmaxq_u8
#define byteops_min_i8(a, c) BYTEOPS_I8(vminq_s8, a, c)
#define byteops_max_i8(a, c) BYTEOPS_I8(vmaxq_s8, a, c)
#define byteops_equal vceqq_u8
#define byteops_more_i8(a, c) vcgtq_s8(vreinterpretq_s8_u8(a), vreinterpretq_s8_u8(c))
#define byteops_abs_i8(a) vreinterpretq_u8_s8(vabsq_s8(vreinterpretq_s8_u8(a)))
#define byteops_right(v, by) vshlq_u8(v, vdupq_n_s8((int8_t)(-(by))))
#define byteops_left(v, by) vshlq_u8(v, vdupq_n_s8((int8_t)(by)))
#define byteops_look(list, v) vqtbl1q_u8(list, vandq_u8(v, vdupq_n_u8(0x8f)))
#define byteops_outside(most, top) (vmaxvq_u8(vcgtq_u8(most, top)) != 0)

#include "backend/cpu/byteops_run.inc"

const hg_kernel hg_kernels_byteops_neon[] = {
    {.name = "byteops",
     .flags = HG_KERNEL_INPLACE,
     .cpu = HG_CPU_NEON,
     .check = hg_kernel_byteops_check,
     .units = hg_kernel_table_units,
     .cost = hg_kernel_byteops_cost,
     .run = byteops_run},
    {0},
};
