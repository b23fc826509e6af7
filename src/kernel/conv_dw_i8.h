/* conv_dw_i8.h - what every variant of "conv.dw.i8" shares. */
#ifndef HG_KERNEL_CONV_DW_I8_H
#define HG_KERNEL_CONV_DW_I8_H

#include "kernel/conv.h"
#include "kernel/igemm.h"

holo_status hg_conv_dw_i8_check(const hg_args *a, holo_error *e);
void hg_conv_dw_i8_cost(const hg_args *a, hg_cost *cost);
/* Output rows; checked arguments only. */
int64_t hg_conv_dw_i8_units(const hg_args *a);

/* Code i of a tensor. */
static inline int32_t hg_conv_dw_i8_code(const holo_tensor *t, int64_t i)
{
    return t->dtype == HOLO_U8 ? ((const uint8_t *)t->data)[i] : ((const int8_t *)t->data)[i];
}

/* Weight of a tap and channel, less its zero point. */
static inline int32_t hg_conv_dw_i8_weight(const hg_args *a, int64_t tap, int64_t channel)
{
    const int32_t code = hg_conv_dw_i8_code(&a->in[1], tap * a->in[1].dim[1] + channel);
    if (!hg_args_has(a, HG_IGEMM_ZERO_B)) return code;
    const holo_tensor *z = &a->in[HG_IGEMM_ZERO_B];
    return code - hg_conv_dw_i8_code(z, holo_tensor_count(z) == 1 ? 0 : channel);
}

#endif
