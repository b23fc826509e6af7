/* gemm.c - Gemm: alpha A' B' + beta C, where A' and B' may be transposed. */
#include "op/op_matmul.h"

#include <math.h>

static holo_status gemm_infer(hg_infer *n)
{
    int64_t trans_a, trans_b;
    double factor;
    HG_TRY(hg_attr_int(n, "transA", 0, &trans_a));
    HG_TRY(hg_attr_int(n, "transB", 0, &trans_b));
    HG_TRY(hg_attr_float(n, "alpha", 1.0, &factor));
    HG_TRY(hg_attr_float(n, "beta", 1.0, &factor));
    HG_TRY(hg_infer_rank(n, 0, 2, 2));
    HG_TRY(hg_infer_rank(n, 1, 2, 2));
    HG_TRY(hg_infer_same_type(n, 0, 1));
    hg_type a = *n->in[0], b = *n->in[1], *out = &n->out[0];
    if (trans_a != 0) a.dim[0] = n->in[0]->dim[1], a.dim[1] = n->in[0]->dim[0];
    if (trans_b != 0) b.dim[0] = n->in[1]->dim[1], b.dim[1] = n->in[1]->dim[0];
    HG_TRY(hg_matmul_shape(n, &a, &b, out));
    out->dtype = a.dtype;
    if (!hg_infer_has(n, 2)) return HOLO_OK;
    HG_TRY(hg_infer_same_type(n, 0, 2));
    HG_TRY(hg_infer_rank(n, 2, 0, 2));
    const hg_type *c = n->in[2];
    for (int32_t i = 0; i < c->rank; i++) {
        if (!hg_infer_equal_or_1(n, c->dim[i], out->dim[2 - c->rank + i]))
            return hg_infer_fail(n, HOLO_E_SHAPE,
                                 "dimension %d of C does not broadcast to the product", i);
    }
    return HOLO_OK;
}

/* A power of two, which constant weights can take without rounding. */
static bool gemm_is_power(double factor)
{
    int exponent;
    const double part = frexp(factor, &exponent);
    return (part == 0.5 || part == -0.5) && exponent > -16 && exponent < 16;
}

/* The bias is an Add of its own, so that it can become the epilogue of the product. */
static holo_status gemm_lower(hg_build *b)
{
    double alpha = hg_node_float(b->node, "alpha", 1.0), beta = hg_node_float(b->node, "beta", 1.0);
    hg_value_id x = hg_build_in(b, 0), y = hg_build_in(b, 1), c = hg_build_in(b, 2);
    holo_dtype dtype = hg_build_type(b, x)->dtype, compute = dtype;
    /* An integer product with a fractional factor is computed in f64 and truncated. */
    if (!hg_dtype_is_float(dtype) && (alpha != 1.0 || beta != 1.0)) compute = HOLO_F64;
    hg_value_id in[2] = {hg_build_cast(b, x, compute), hg_build_cast(b, y, compute)};
    if (alpha != 1.0 && (compute == HOLO_F32 || compute == HOLO_F64) && gemm_is_power(alpha) &&
        hg_graph_value(b->g, y)->constant != NULL) {
        in[1] = hg_build_2(b, "Mul", in[1], hg_build_scalar(b, compute, alpha));
        alpha = 1.0;
    }
    hg_attr attr[] = {
        hg_attr_make_int("trans_a", hg_node_int(b->node, "transA", 0) != 0),
        hg_attr_make_int("trans_b", hg_node_int(b->node, "transB", 0) != 0),
        hg_attr_make_float("alpha", alpha),
    };
    hg_value_id out = hg_build_op(b, "holo:MatMul", in, 2, attr, HG_COUNT(attr));
    if (c != 0 && beta != 0.0) {
        c = hg_build_cast(b, c, compute);
        if (beta != 1.0) c = hg_build_2(b, "Mul", c, hg_build_scalar(b, compute, beta));
        out = hg_build_2(b, "Add", out, c);
    }
    hg_build_replace(b, 0, hg_build_cast(b, out, dtype));
    return b->status;
}

const hg_op hg_op_gemm = {
    .name = "Gemm",
    .brief = "alpha A' B' + beta C",
    .since = 1,
    .version = 13,
    .in = {2, 3},
    .out = {1, 1},
    .types = HG_MATMUL_TYPES,
    .infer = gemm_infer,
    .lower = gemm_lower,
};
