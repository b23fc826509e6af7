/* byteops.c - byteops with SIMD of WebAssembly: 128 codes go through the program together. */
#include "kernel/byteops.h"

#include <wasm_simd128.h>

enum { BYTEOPS_VECTOR = 16, BYTEOPS_TOGETHER = 8 };

typedef v128_t byteops_vec;

#define byteops_get wasm_v128_load
#define byteops_put wasm_v128_store
#define byteops_list wasm_v128_load
#define byteops_splat(c) wasm_u8x16_splat((uint8_t)(c))
#define byteops_add wasm_i8x16_add
#define byteops_from(a, c) wasm_i8x16_sub(c, a)
#define byteops_xor wasm_v128_xor
#define byteops_and wasm_v128_and
#define byteops_or wasm_v128_or
#define byteops_add_u8 wasm_u8x16_add_sat
#define byteops_sub_u8 wasm_u8x16_sub_sat
#define byteops_add_i8 wasm_i8x16_add_sat
#define byteops_sub_i8 wasm_i8x16_sub_sat
#define byteops_min_u8 wasm_u8x16_min
#define byteops_max_u8 wasm_u8x16_max
#define byteops_min_i8 wasm_i8x16_min
#define byteops_max_i8 wasm_i8x16_max
#define byteops_equal wasm_i8x16_eq
#define byteops_more_i8 wasm_i8x16_gt
#define byteops_abs_i8 wasm_i8x16_abs
#define byteops_right(v, by) wasm_u8x16_shr(v, by)
#define byteops_left(v, by) wasm_i8x16_shl(v, by)
#define byteops_look(list, v) wasm_i8x16_swizzle(list, wasm_v128_and(v, wasm_u8x16_splat(0x8f)))
#define byteops_outside(most, top) wasm_v128_any_true(wasm_u8x16_gt(most, top))

#include "backend/cpu/byteops_run.inc"

const hg_kernel hg_kernels_byteops_wasm[] = {
    {.name = "byteops",
     .flags = HG_KERNEL_INPLACE,
     .cpu = HG_CPU_WASM,
     .check = hg_kernel_byteops_check,
     .units = hg_kernel_table_units,
     .cost = hg_kernel_byteops_cost,
     .run = byteops_run},
    {0},
};
