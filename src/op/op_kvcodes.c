/* op_kvcodes.c - caches of keys and values that hold codes instead of numbers. */
#include "op/op_kvcodes.h"

hg_dim hg_kv_columns(hg_dims *d, const hg_kv_codes *c)
{
    return c->bits == 4 ? hg_dim_floordiv(d, c->size, hg_dim_const(d, 2)) : c->size;
}

/* As float32 that broadcasts to [B, heads, rows, size]. */
static hg_value_id kvcodes_scale(hg_build *b, const hg_kv_codes *c, hg_value_id scale)
{
    hg_dim dims[] = {c->heads, hg_dim_const(&b->g->dims, 1), c->size};
    return hg_build_reshape(b, scale, dims, c->by_channel ? HG_COUNT(dims) : 0);
}

/* The same bytes as another type of 8 bits. */
static hg_value_id kvcodes_bytes(hg_build *b, hg_value_id x, holo_dtype to)
{
    hg_attr attr = hg_attr_make_int("to", (int64_t)to);
    if (b->status != HOLO_OK || hg_build_type(b, x)->dtype == to) return x;
    return hg_build_op(b, "BitCast", &x, 1, &attr, 1);
}

/* Codes of 4 bits, as float32, two in a byte. */
static hg_value_id kvcodes_join(hg_build *b, const hg_kv_codes *c, hg_value_id x)
{
    hg_dims *d = &b->g->dims;
    hg_attr axis = hg_attr_make_int("axis", 4);
    if (b->status != HOLO_OK) return 0;
    const hg_type type = *hg_build_type(b, x);
    hg_dim dims[] = {type.dim[0], type.dim[1], type.dim[2], hg_kv_columns(d, c),
                     hg_dim_const(d, 2)};
    hg_value_id half[2];
    x = hg_build_reshape(b, x, dims, HG_COUNT(dims));
    for (int i = 0; i < 2; i++) {
        hg_value_id in[] = {x, hg_build_scalar(b, HOLO_I64, i)};
        half[i] = hg_build_op(b, "Gather", in, 2, &axis, 1);
    }
    x = hg_build_2(b, "Add", half[0],
                   hg_build_2(b, "Mul", half[1], hg_build_scalar(b, HOLO_F32, 16.0)));
    return hg_build_2(b, "Add", x, hg_build_scalar(b, HOLO_F32, 8.0 + 16.0 * 8.0));
}

hg_value_id hg_build_kv_encode(hg_build *b, const hg_kv_codes *c, hg_value_id x, hg_value_id scale)
{
    const bool is_byte = c->bits == 8;
    hg_value_id one = hg_build_scalar(b, HOLO_F32, 1.0), none = hg_build_scalar(b, HOLO_F32, 0.0);
    scale = kvcodes_scale(b, c, scale);
    /* Times the reciprocal, as the operator is defined: a division rounds otherwise. */
    hg_value_id factor = hg_build_3(b, "Where", hg_build_2(b, "Equal", scale, none), one,
                                    hg_build_1(b, "Reciprocal", scale));
    x = hg_build_1(b, "Round", hg_build_2(b, "Mul", hg_build_cast(b, x, HOLO_F32), factor));
    x = hg_build_3(b, "Clip", x, hg_build_scalar(b, HOLO_F32, is_byte ? -128.0 : -8.0),
                   hg_build_scalar(b, HOLO_F32, is_byte ? 127.0 : 7.0));
    if (!is_byte) x = kvcodes_join(b, c, x);
    return kvcodes_bytes(b, hg_build_cast(b, x, is_byte ? HOLO_I8 : HOLO_U8), c->stored);
}

/* Bytes as the two codes in each, side by side, as float32. */
static hg_value_id kvcodes_split(hg_build *b, const hg_kv_codes *c, hg_value_id x)
{
    hg_attr right = hg_attr_make_string("direction", "RIGHT"), axis = hg_attr_make_int("axis", -1);
    hg_value_id last = hg_build_ints(b, (int64_t[]){-1}, 1);
    hg_value_id by[] = {x, hg_build_scalar(b, HOLO_U8, 4.0)};
    hg_value_id half[] = {hg_build_2(b, "BitwiseAnd", x, hg_build_scalar(b, HOLO_U8, 15.0)),
                          hg_build_op(b, "BitShift", by, 2, &right, 1)};
    if (b->status != HOLO_OK) return 0;
    hg_type type = *hg_build_type(b, x);
    type.dim[3] = c->size;
    for (int i = 0; i < 2; i++)
        half[i] = hg_build_2(b, "Unsqueeze", half[i], last);
    x = hg_build_op(b, "Concat", half, 2, &axis, 1);
    x = hg_build_cast(b, hg_build_reshape(b, x, type.dim, 4), HOLO_F32);
    return hg_build_2(b, "Sub", x, hg_build_scalar(b, HOLO_F32, 8.0));
}

hg_value_id hg_build_kv_decode(hg_build *b, const hg_kv_codes *c, hg_value_id codes,
                               hg_value_id scale, holo_dtype dtype)
{
    hg_value_id x = kvcodes_bytes(b, codes, c->bits == 8 ? HOLO_I8 : HOLO_U8);
    x = c->bits == 8 ? hg_build_cast(b, x, HOLO_F32) : kvcodes_split(b, c, x);
    return hg_build_cast(b, hg_build_2(b, "Mul", x, kvcodes_scale(b, c, scale)), dtype);
}
