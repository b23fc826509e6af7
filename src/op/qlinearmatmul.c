/* qlinearmatmul.c - QLinearMatMul: product of quantised matrices, exact until the result is
 * rounded. */
#include "op/op_matmul.h"
#include "op/op_requantize.h"

#define QLINEARMATMUL_TYPES (HG_TYPE_BIT(HOLO_U8) | HG_TYPE_BIT(HOLO_I8) | HG_TYPES_FLOAT8)

enum { QLINEARMATMUL_A, QLINEARMATMUL_B = 3, QLINEARMATMUL_Y_SCALE = 6, QLINEARMATMUL_Y_ZERO };

static holo_status qlinearmatmul_infer(hg_infer *n)
{
    HG_TRY(hg_infer_types(n, QLINEARMATMUL_B, QLINEARMATMUL_TYPES));
    HG_TRY(hg_infer_types(n, QLINEARMATMUL_Y_ZERO, QLINEARMATMUL_TYPES));
    HG_TRY(hg_infer_same_type(n, QLINEARMATMUL_A, QLINEARMATMUL_A + 2));
    HG_TRY(hg_infer_same_type(n, QLINEARMATMUL_B, QLINEARMATMUL_B + 2));
    HG_TRY(hg_matmul_infer(n, n->in[QLINEARMATMUL_A], n->in[QLINEARMATMUL_B], &n->out[0]));
    n->out[0].dtype = n->in[QLINEARMATMUL_Y_ZERO]->dtype;
    return HOLO_OK;
}

/* One value a row, [M], as a column [M, 1]; scalars and others stay. */
static hg_value_id qlinearmatmul_rows(hg_build *b, uint32_t i)
{
    hg_value_id v = hg_build_in(b, i);
    const hg_type *type = hg_build_type(b, v);
    if (type->rank != 1 || hg_dim_is(&b->g->dims, type->dim[0], 1)) return v;
    return hg_build_2(b, "Unsqueeze", v, hg_build_ints(b, (int64_t[]){1}, 1));
}

/* 8-bit floats are multiplied in f32. */
static hg_value_id qlinearmatmul_floats(hg_build *b, uint32_t i, hg_value_id zero)
{
    hg_value_id x = hg_build_cast(b, hg_build_in(b, i), HOLO_F32);
    return hg_build_2(b, "Sub", x, hg_build_cast(b, zero, HOLO_F32));
}

static holo_status qlinearmatmul_lower(hg_build *b)
{
    hg_value_id x = hg_build_in(b, QLINEARMATMUL_A), y = hg_build_in(b, QLINEARMATMUL_B), sum;
    hg_value_id x_zero = hg_build_in(b, QLINEARMATMUL_A + 2),
                y_zero = hg_build_in(b, QLINEARMATMUL_B + 2);
    if (hg_dtype_is_float(hg_build_type(b, x)->dtype)) {
        sum = hg_build_2(
            b, "MatMul",
            qlinearmatmul_floats(b, QLINEARMATMUL_A, qlinearmatmul_rows(b, QLINEARMATMUL_A + 2)),
            qlinearmatmul_floats(b, QLINEARMATMUL_B, y_zero));
    } else {
        hg_value_id in[] = {x, y, x_zero, y_zero};
        sum = hg_build_op(b, "MatMulInteger", in, HG_COUNT(in), NULL, 0);
    }
    hg_requantize r = {
        .sum = sum,
        .a_scale = qlinearmatmul_rows(b, QLINEARMATMUL_A + 1),
        .b_scale = hg_build_in(b, QLINEARMATMUL_B + 1),
        .y_scale = qlinearmatmul_rows(b, QLINEARMATMUL_Y_SCALE),
        .y_zero = qlinearmatmul_rows(b, QLINEARMATMUL_Y_ZERO),
    };
    hg_value_id out = hg_build_requantize(b, &r);
    /* A scale [1] beside scalars must not make a vector of a scalar. */
    int32_t rank = hg_build_type(b, sum)->rank;
    if (b->status == HOLO_OK && hg_build_type(b, out)->rank > rank)
        out = hg_build_2(b, "Squeeze", out, hg_build_ints(b, (int64_t[]){0}, 1));
    hg_build_replace(b, 0, out);
    return b->status;
}

const hg_op hg_op_qlinearmatmul = {
    .name = "QLinearMatMul",
    .brief = "product of quantised matrices, exact until the result is rounded",
    .since = 10,
    .version = 21,
    .in = {8, 8},
    .out = {1, 1},
    .types = QLINEARMATMUL_TYPES,
    .infer = qlinearmatmul_infer,
    .lower = qlinearmatmul_lower,
};
