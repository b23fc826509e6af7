/* swiglu.c - SwiGLU: y = a / (1 + e^(-alpha a)) b. */
#include "op/op_formula.h"
#include "op/op_shape.h"

static holo_status swiglu_infer(hg_infer *n)
{
    double alpha;
    hg_dim same = hg_dim_const(n->dims, 1);
    HG_TRY(hg_attr_float(n, "alpha", 1.0, &alpha));
    HG_TRY(hg_infer_same_type(n, 0, 1));
    HG_TRY(hg_shape_expect(n, 1, n->in[0]->dim, n->in[0]->rank, &same));
    n->out[0] = *n->in[0];
    hg_shape_require(n->dims, same, &n->out[0]);
    return HOLO_OK;
}

static hg_lane_id swiglu_lane(hg_formula *f, const hg_lane_id *in)
{
    return hg_lane_2(f->b, HG_LANE_MUL, hg_formula_swish(f, in[0]), in[1]);
}

const hg_op hg_op_swiglu = {
    .name = "SwiGLU",
    .brief = "y = a / (1 + e^(-alpha a)) b",
    .since = 28,
    .in = {2, 2},
    .out = {1, 1},
    .types = HG_TYPES_FLOAT,
    .infer = swiglu_infer,
    .lane = swiglu_lane,
};
