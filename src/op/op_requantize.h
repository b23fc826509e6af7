/* op_requantize.h - from an exact integer sum back to a quantised tensor. */
#ifndef HG_OP_OP_REQUANTIZE_H
#define HG_OP_OP_REQUANTIZE_H

#include "op/op.h"

typedef struct hg_requantize {
    hg_value_id sum; /* i32, or f32 */
    hg_value_id a_scale, b_scale, y_scale, y_zero;
} hg_requantize;

/* round(sum * a_scale * b_scale / y_scale) + y_zero, clamped to y_zero's type. */
hg_value_id hg_build_requantize(hg_build *b, const hg_requantize *r);

#endif
