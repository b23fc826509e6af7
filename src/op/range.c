/* range.c - Range: start, start + delta, start + 2 delta, ... before limit. */
#include "op/op.h"
#include "op/op_shape.h"

#include <math.h>

#define RANGE_TYPES                                                                                \
    (HG_TYPES_FLOAT | HG_TYPE_BIT(HOLO_I16) | HG_TYPE_BIT(HOLO_I32) | HG_TYPE_BIT(HOLO_I64))

static holo_status range_ints(hg_infer *n)
{
    hg_dims *d = n->dims;
    const hg_dim *part[3];
    uint32_t count;
    for (uint32_t i = 0; i < 3; i++)
        HG_TRY(hg_infer_need_content(n, i, &part[i], &count));
    if (hg_dim_is(d, part[2][0], 0)) return hg_infer_fail(n, HOLO_E_SHAPE, "delta is 0");
    hg_dim way = hg_dim_sub(d, part[1][0], part[0][0]);
    hg_dim size = hg_dim_max(d, hg_dim_ceildiv(d, way, part[2][0]), hg_dim_const(d, 0));
    n->out[0].dim[0] = size;
    int64_t known;
    if (!hg_dim_is_const(d, size, &known) || known > 64) return HOLO_OK;
    hg_dim *content = hg_shape_new_content(n, (uint32_t)known);
    for (int64_t i = 0; content != NULL && i < known; i++)
        content[i] = hg_dim_add(d, part[0][0], hg_dim_mul(d, part[2][0], hg_dim_const(d, i)));
    return HOLO_OK;
}

/* Floats that are known give a known size; otherwise the kernel finds it. */
static holo_status range_floats(hg_infer *n)
{
    double part[3];
    for (uint32_t i = 0; i < 3; i++) {
        if (hg_graph_const_scalar(n->g, hg_node_in(n->g, n->node, i), &part[i])) continue;
        n->out[0].dim[0] = hg_infer_late_dim(n, 0, 0);
        return HOLO_OK;
    }
    double size = ceil((part[1] - part[0]) / part[2]);
    if (!(size <= 0x1p58))
        return hg_infer_fail(n, HOLO_E_SHAPE, "start %g, limit %g and delta %g give no size",
                             part[0], part[1], part[2]);
    n->out[0].dim[0] = hg_dim_const(n->dims, size > 0 ? (int64_t)size : 0);
    return HOLO_OK;
}

static holo_status range_infer(hg_infer *n)
{
    for (uint32_t i = 0; i < 3; i++) {
        HG_TRY(hg_infer_same_type(n, 0, i));
        if (!hg_infer_equal(n, hg_type_count(n->g, n->in[i]), hg_dim_const(n->dims, 1)))
            return hg_infer_fail(n, HOLO_E_SHAPE, "input %u has rank %d, expected a scalar", i,
                                 n->in[i]->rank);
    }
    n->out[0] = (hg_type){.dtype = n->in[0]->dtype, .rank = 1};
    return hg_dtype_is_float(n->in[0]->dtype) ? range_floats(n) : range_ints(n);
}

static holo_status range_emit(hg_emit *e)
{
    e->kernel = hg_shape_is_late(e, 0, 0) ? "range.late" : "range";
    return HOLO_OK;
}

const hg_op hg_op_range = {
    .name = "Range",
    .brief = "start, start + delta, start + 2 delta, ... before limit",
    .since = 11,
    .version = 27,
    .in = {3, 3},
    .out = {1, 1},
    .types = RANGE_TYPES,
    .infer = range_infer,
    .kernel = "range",
    .emit = range_emit,
};
