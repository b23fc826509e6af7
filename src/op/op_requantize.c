/* op_requantize.c - from an exact integer sum back to a quantised tensor. */
#include "op/op_requantize.h"

hg_value_id hg_build_requantize(hg_build *b, const hg_requantize *r)
{
    holo_dtype dtype = hg_build_type(b, r->y_zero)->dtype;
    hg_value_id scale = hg_build_2(b, "Mul", hg_build_cast(b, r->a_scale, HOLO_F32),
                                   hg_build_cast(b, r->b_scale, HOLO_F32));
    scale = hg_build_2(b, "Div", scale, hg_build_cast(b, r->y_scale, HOLO_F32));
    hg_value_id y = hg_build_2(b, "Mul", hg_build_cast(b, r->sum, HOLO_F32), scale);
    hg_value_id zero = hg_build_cast(b, r->y_zero, HOLO_F32);
    if (hg_dtype_is_float(dtype)) return hg_build_cast(b, hg_build_2(b, "Add", y, zero), dtype);
    y = hg_build_2(b, "Add", hg_build_1(b, "Round", y), zero);
    double low = dtype == HOLO_I8 ? -128.0 : 0.0, high = dtype == HOLO_I8 ? 127.0 : 255.0;
    hg_value_id lowest = hg_build_scalar(b, HOLO_F32, low);
    y = hg_build_3(b, "Clip", y, lowest, hg_build_scalar(b, HOLO_F32, high));
    return hg_build_cast(b, y, dtype);
}
