/* matmulinteger.c - MatMulInteger: the exact product of 8-bit matrices with zero points. */
#include "op/op_matmul.h"

#define MATMULINTEGER_TYPES (HG_TYPE_BIT(HOLO_U8) | HG_TYPE_BIT(HOLO_I8))

static holo_status matmulinteger_infer(hg_infer *n)
{
    HG_TRY(hg_infer_types(n, 1, MATMULINTEGER_TYPES));
    for (uint32_t i = 0; i < 2; i++)
        if (hg_infer_has(n, 2 + i)) HG_TRY(hg_infer_same_type(n, i, 2 + i));
    HG_TRY(hg_matmul_infer(n, n->in[0], n->in[1], &n->out[0]));
    n->out[0].dtype = HOLO_I32;
    return HOLO_OK;
}

/* Zero points of rows, [M], as a column [M, 1]. */
static hg_value_id matmulinteger_rows(hg_build *b, hg_value_id zero)
{
    if (zero == 0 || hg_build_type(b, zero)->rank != 1) return zero;
    return hg_build_2(b, "Unsqueeze", zero, hg_build_ints(b, (int64_t[]){1}, 1));
}

static holo_status matmulinteger_lower(hg_build *b)
{
    hg_value_id x = hg_build_in(b, 0), y = hg_build_in(b, 1);
    bool left = hg_build_type(b, x)->rank == 1, right = hg_build_type(b, y)->rank == 1;
    const hg_type *zero = hg_build_type(b, hg_build_in(b, 2));
    if (!left && !right && zero->rank != 1) return HOLO_OK;
    if (left) x = hg_build_2(b, "Unsqueeze", x, hg_build_ints(b, (int64_t[]){0}, 1));
    if (right) y = hg_build_2(b, "Unsqueeze", y, hg_build_ints(b, (int64_t[]){1}, 1));
    hg_value_id in[] = {x, y, matmulinteger_rows(b, hg_build_in(b, 2)), hg_build_in(b, 3)};
    hg_value_id out = hg_build_op(b, "MatMulInteger", in, HG_COUNT(in), NULL, 0);
    hg_build_replace(b, 0, hg_matmul_drop(b, out, left, right));
    return b->status;
}

const hg_op hg_op_matmulinteger = {
    .name = "MatMulInteger",
    .brief = "the exact product of 8-bit matrices with zero points",
    .since = 10,
    .in = {2, 4},
    .out = {1, 1},
    .types = MATMULINTEGER_TYPES,
    .infer = matmulinteger_infer,
    .lower = matmulinteger_lower,
    .kernel = "matmul.i8",
};
