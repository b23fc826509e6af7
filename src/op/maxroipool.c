/* maxroipool.c - MaxRoiPool: the largest elements of regions of pictures, at one size. */
#include "op/op.h"

static holo_status maxroipool_infer(hg_infer *n)
{
    const int64_t *shape;
    size_t count;
    double scale;
    HG_TRY(hg_infer_rank(n, 0, 4, 4));
    HG_TRY(hg_infer_rank(n, 1, 2, 2));
    HG_TRY(hg_infer_same_type(n, 0, 1));
    HG_TRY(hg_attr_float(n, "spatial_scale", 1.0, &scale));
    HG_TRY(hg_attr_ints(n, "pooled_shape", &shape, &count));
    if (count != 2 || shape[0] < 1 || shape[1] < 1)
        return hg_infer_fail(n, HOLO_E_MODEL,
                             "pooled_shape has %zu numbers, expected 2 positive ones", count);
    n->out[0] =
        (hg_type){.dtype = n->in[0]->dtype,
                  .rank = 4,
                  .dim = {n->in[1]->dim[0], n->in[0]->dim[1], hg_dim_const(n->dims, shape[0]),
                          hg_dim_const(n->dims, shape[1])}};
    return HOLO_OK;
}

static holo_status maxroipool_emit(hg_emit *e)
{
    return hg_emit_float(e, hg_node_float(e->node, "spatial_scale", 1.0));
}

const hg_op hg_op_maxroipool = {
    .name = "MaxRoiPool",
    .brief = "the largest elements of regions of pictures, at one size",
    .since = 1,
    .version = 22,
    .in = {2, 2},
    .out = {1, 1},
    .types = HG_TYPES_FLOAT,
    .infer = maxroipool_infer,
    .kernel = "maxroipool",
    .emit = maxroipool_emit,
};
