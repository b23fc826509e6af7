/* matmulintegertofloat.c - com.microsoft:MatMulIntegerToFloat: the exact product of 8-bit matrices,
 * scaled, and a bias. */
#include "op/op_matmul.h"

enum { MMIF_A, MMIF_B, MMIF_A_SCALE, MMIF_B_SCALE, MMIF_A_ZERO, MMIF_B_ZERO, MMIF_BIAS };

#define MMIF_CODES (HG_TYPE_BIT(HOLO_U8) | HG_TYPE_BIT(HOLO_I8))
#define MMIF_FLOATS (HG_TYPE_BIT(HOLO_F32) | HG_TYPE_BIT(HOLO_F16))

static holo_status matmulintegertofloat_infer(hg_infer *n)
{
    HG_TRY(hg_infer_types(n, MMIF_B, MMIF_CODES));
    HG_TRY(hg_infer_types(n, MMIF_A_SCALE, MMIF_FLOATS));
    HG_TRY(hg_infer_same_type(n, MMIF_A_SCALE, MMIF_B_SCALE));
    for (uint32_t i = 0; i < 2; i++)
        if (hg_infer_has(n, MMIF_A_ZERO + i)) HG_TRY(hg_infer_same_type(n, i, MMIF_A_ZERO + i));
    HG_TRY(hg_infer_rank(n, MMIF_A, 1, HG_MAX_RANK));
    HG_TRY(hg_infer_rank(n, MMIF_A_SCALE, 0, n->in[MMIF_A]->rank));
    HG_TRY(hg_infer_rank(n, MMIF_B_SCALE, 0, n->in[MMIF_B]->rank));
    if (hg_infer_has(n, MMIF_BIAS)) {
        HG_TRY(hg_infer_same_type(n, MMIF_A_SCALE, MMIF_BIAS));
        HG_TRY(hg_infer_rank(n, MMIF_BIAS, 1, 1));
    }
    HG_TRY(hg_matmul_infer(n, n->in[MMIF_A], n->in[MMIF_B], &n->out[0]));
    n->out[0].dtype = n->in[MMIF_A_SCALE]->dtype;
    return HOLO_OK;
}

/* One value for each row of A, [M], as a column; one for all as a scalar; others stay. */
static hg_value_id matmulintegertofloat_rows(hg_build *b, uint32_t i)
{
    hg_value_id v = hg_build_in(b, i);
    if (v == 0 || hg_build_type(b, v)->rank != 1) return v;
    if (hg_dim_is(&b->g->dims, hg_build_type(b, v)->dim[0], 1))
        return hg_build_2(b, "Reshape", v, hg_build_ints(b, NULL, 0));
    return hg_build_2(b, "Unsqueeze", v, hg_build_ints(b, (int64_t[]){1}, 1));
}

/* One value for all columns of B as a scalar, so that it gives a vector no axis. */
static hg_value_id matmulintegertofloat_columns(hg_build *b, uint32_t i)
{
    hg_value_id v = hg_build_in(b, i);
    if (v == 0 || hg_build_type(b, v)->rank != 1) return v;
    if (!hg_dim_is(&b->g->dims, hg_build_type(b, v)->dim[0], 1)) return v;
    return hg_build_2(b, "Reshape", v, hg_build_ints(b, NULL, 0));
}

static holo_status matmulintegertofloat_lower(hg_build *b)
{
    holo_dtype to = hg_build_type(b, hg_build_in(b, MMIF_A_SCALE))->dtype;
    hg_value_id bias = hg_build_in(b, MMIF_BIAS);
    hg_value_id in[] = {hg_build_in(b, MMIF_A), hg_build_in(b, MMIF_B),
                        matmulintegertofloat_rows(b, MMIF_A_ZERO),
                        matmulintegertofloat_columns(b, MMIF_B_ZERO)};
    hg_value_id sum = hg_build_op(b, "MatMulInteger", in, HG_COUNT(in), NULL, 0);
    hg_value_id rows = hg_build_cast(b, matmulintegertofloat_rows(b, MMIF_A_SCALE), HOLO_F32);
    hg_value_id columns = hg_build_cast(b, matmulintegertofloat_columns(b, MMIF_B_SCALE), HOLO_F32);
    hg_value_id y =
        hg_build_2(b, "Mul", hg_build_cast(b, sum, HOLO_F32), hg_build_2(b, "Mul", rows, columns));
    if (bias != 0) y = hg_build_2(b, "Add", y, hg_build_cast(b, bias, HOLO_F32));
    hg_build_replace(b, 0, hg_build_cast(b, y, to));
    return b->status;
}

const hg_op hg_op_microsoft_matmulintegertofloat = {
    .name = "MatMulIntegerToFloat",
    .domain = "com.microsoft",
    .brief = "the exact product of 8-bit matrices, scaled, and a bias",
    .since = 1,
    .in = {4, 7},
    .out = {1, 1},
    .types = MMIF_CODES,
    .infer = matmulintegertofloat_infer,
    .lower = matmulintegertofloat_lower,
};
