/* qgemm.c - com.microsoft:QGemm: the exact product of 8-bit matrices and a bias, scaled to floats
 * or to 8 bits again. */
#include "op/op_matmul.h"
#include "op/op_requantize.h"

enum { QGEMM_A, QGEMM_B = 3, QGEMM_C = 6, QGEMM_Y_SCALE, QGEMM_Y_ZERO };

#define QGEMM_TYPES (HG_TYPE_BIT(HOLO_U8) | HG_TYPE_BIT(HOLO_I8))

static holo_status qgemm_check(const hg_infer *n)
{
    int64_t flag;
    double alpha;
    HG_TRY(hg_attr_int(n, "transA", 0, &flag));
    HG_TRY(hg_attr_int(n, "transB", 0, &flag));
    HG_TRY(hg_attr_float(n, "alpha", 1.0, &alpha));
    HG_TRY(hg_infer_types(n, QGEMM_B, QGEMM_TYPES));
    for (uint32_t i = QGEMM_A; i <= QGEMM_B; i += QGEMM_B) {
        HG_TRY(hg_infer_rank(n, i, 2, 2));
        HG_TRY(hg_infer_types(n, i + 1, HG_TYPE_BIT(HOLO_F32)));
        HG_TRY(hg_infer_rank(n, i + 1, 0, 1));
        HG_TRY(hg_infer_same_type(n, i, i + 2));
        HG_TRY(hg_infer_rank(n, i + 2, 0, 1));
    }
    if (hg_infer_has(n, QGEMM_C)) {
        HG_TRY(hg_infer_types(n, QGEMM_C, HG_TYPE_BIT(HOLO_I32)));
        HG_TRY(hg_infer_rank(n, QGEMM_C, 0, 2));
    }
    if (hg_infer_has(n, QGEMM_Y_SCALE)) {
        HG_TRY(hg_infer_types(n, QGEMM_Y_SCALE, HG_TYPE_BIT(HOLO_F32)));
        HG_TRY(hg_infer_rank(n, QGEMM_Y_SCALE, 0, 1));
    }
    if (hg_infer_has(n, QGEMM_Y_SCALE) != hg_infer_has(n, QGEMM_Y_ZERO))
        return hg_infer_fail(n, HOLO_E_MODEL, "y_scale and y_zero_point must come together");
    return HOLO_OK;
}

static holo_status qgemm_infer(hg_infer *n)
{
    HG_TRY(qgemm_check(n));
    hg_type a = *n->in[QGEMM_A], b = *n->in[QGEMM_B];
    if (hg_node_int(n->node, "transA", 0) != 0)
        a.dim[0] = n->in[QGEMM_A]->dim[1], a.dim[1] = n->in[QGEMM_A]->dim[0];
    if (hg_node_int(n->node, "transB", 0) != 0)
        b.dim[0] = n->in[QGEMM_B]->dim[1], b.dim[1] = n->in[QGEMM_B]->dim[0];
    HG_TRY(hg_matmul_shape(n, &a, &b, &n->out[0]));
    n->out[0].dtype = HOLO_F32;
    if (!hg_infer_has(n, QGEMM_Y_ZERO)) return HOLO_OK;
    HG_TRY(hg_infer_types(n, QGEMM_Y_ZERO, QGEMM_TYPES));
    HG_TRY(hg_infer_rank(n, QGEMM_Y_ZERO, 0, 1));
    n->out[0].dtype = n->in[QGEMM_Y_ZERO]->dtype;
    return HOLO_OK;
}

static hg_value_id qgemm_operand(hg_build *b, uint32_t i, const char *trans)
{
    hg_value_id x = hg_build_in(b, i);
    hg_attr perm = hg_attr_make_ints(b, "perm", (int64_t[]){1, 0}, 2);
    return hg_node_int(b->node, trans, 0) == 0 ? x : hg_build_op(b, "Transpose", &x, 1, &perm, 1);
}

/* One number, whatever its rank. */
static hg_value_id qgemm_scalar(hg_build *b, uint32_t i)
{
    return hg_build_2(b, "Reshape", hg_build_in(b, i), hg_build_ints(b, NULL, 0));
}

static holo_status qgemm_lower(hg_build *b)
{
    hg_value_id c = hg_build_in(b, QGEMM_C);
    hg_value_id in[] = {qgemm_operand(b, QGEMM_A, "transA"), qgemm_operand(b, QGEMM_B, "transB"),
                        qgemm_scalar(b, QGEMM_A + 2), hg_build_in(b, QGEMM_B + 2)};
    hg_value_id alpha = hg_build_scalar(b, HOLO_F32, hg_node_float(b->node, "alpha", 1.0));
    hg_requantize r = {
        .sum = hg_build_op(b, "MatMulInteger", in, HG_COUNT(in), NULL, 0),
        .a_scale = hg_build_2(b, "Mul", alpha, qgemm_scalar(b, QGEMM_A + 1)),
        .b_scale = hg_build_in(b, QGEMM_B + 1),
    };
    if (c != 0) r.sum = hg_build_2(b, "Add", r.sum, c);
    if (hg_build_in(b, QGEMM_Y_ZERO) != 0) {
        r.y_scale = qgemm_scalar(b, QGEMM_Y_SCALE);
        r.y_zero = qgemm_scalar(b, QGEMM_Y_ZERO);
        hg_build_replace(b, 0, hg_build_requantize(b, &r));
        return b->status;
    }
    hg_value_id scale = hg_build_2(b, "Mul", r.a_scale, r.b_scale);
    hg_build_replace(b, 0, hg_build_2(b, "Mul", hg_build_cast(b, r.sum, HOLO_F32), scale));
    return b->status;
}

const hg_op hg_op_microsoft_qgemm = {
    .name = "QGemm",
    .domain = "com.microsoft",
    .brief = "the exact product of 8-bit matrices and a bias, scaled to floats or to 8 bits again",
    .since = 1,
    .in = {6, 9},
    .out = {1, 1},
    .types = QGEMM_TYPES,
    .infer = qgemm_infer,
    .lower = qgemm_lower,
};
