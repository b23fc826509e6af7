/* biassplitgelu.c - com.microsoft:BiasSplitGelu: of a sum, the left half times Gelu of the right.
 */
#include "op/op.h"

static holo_status biassplitgelu_infer(hg_infer *n)
{
    const int32_t last = n->in[0]->rank - 1;
    HG_TRY(hg_infer_rank(n, 0, 1, HG_MAX_RANK));
    HG_TRY(hg_infer_rank(n, 1, 1, 1));
    HG_TRY(hg_infer_same_type(n, 0, 1));
    if (!hg_infer_equal(n, n->in[0]->dim[last], n->in[1]->dim[0]))
        return hg_infer_fail(n, HOLO_E_SHAPE, "the bias does not have the size of the last axis");
    int64_t size;
    if (hg_dim_is_const(n->dims, n->in[1]->dim[0], &size) && size % 2 != 0)
        return hg_infer_fail(n, HOLO_E_SHAPE, "the bias has %lld elements, expected an even number",
                             (long long)size);
    n->out[0] = *n->in[0];
    n->out[0].dim[last] = hg_dim_floordiv(n->dims, n->in[0]->dim[last], hg_dim_const(n->dims, 2));
    return HOLO_OK;
}

static hg_value_id biassplitgelu_half(hg_build *b, hg_value_id x, hg_dim begin, hg_dim end)
{
    hg_value_id in[] = {x, hg_build_dims(b, &begin, 1), hg_build_dims(b, &end, 1),
                        hg_build_ints(b, (int64_t[]){-1}, 1)};
    return hg_build_op(b, "Slice", in, HG_COUNT(in), NULL, 0);
}

static holo_status biassplitgelu_lower(hg_build *b)
{
    hg_dims *d = &b->g->dims;
    hg_dim size = hg_build_type(b, hg_build_in(b, 1))->dim[0];
    hg_dim half = hg_dim_floordiv(d, size, hg_dim_const(d, 2));
    hg_value_id sum = hg_build_2(b, "Add", hg_build_in(b, 0), hg_build_in(b, 1));
    hg_value_id left = biassplitgelu_half(b, sum, hg_dim_const(d, 0), half);
    hg_value_id right = hg_build_1(b, "Gelu", biassplitgelu_half(b, sum, half, size));
    hg_build_replace(b, 0, hg_build_2(b, "Mul", left, right));
    return b->status;
}

const hg_op hg_op_microsoft_biassplitgelu = {
    .name = "BiasSplitGelu",
    .domain = "com.microsoft",
    .brief = "of a sum, the left half times Gelu of the right",
    .since = 1,
    .in = {2, 2},
    .out = {1, 1},
    .types = HG_TYPES_FLOAT,
    .infer = biassplitgelu_infer,
    .lower = biassplitgelu_lower,
};
