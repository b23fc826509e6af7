/* constantofshape.c - ConstantOfShape: one value everywhere. */
#include "op/op.h"
#include "op/op_shape.h"

static const hg_value *constantofshape_value(const hg_graph *g, const hg_node *node)
{
    const hg_attr *value = hg_node_attr(node, "value");
    if (value == NULL || value->kind != HG_ATTR_TENSOR) return NULL;
    return hg_graph_value(g, value->tensor);
}

static void constantofshape_content(hg_infer *n)
{
    const hg_attr *value = hg_node_attr(n->node, "value");
    const int64_t *ints;
    size_t n_ints;
    int64_t size;
    if (value == NULL || !hg_graph_const_ints(n->g, value->tensor, &ints, &n_ints) || n_ints != 1)
        return;
    if (!hg_dim_is_const(n->dims, hg_type_count(n->g, &n->out[0]), &size) || size > 64) return;
    hg_dim *content = hg_shape_new_content(n, (uint32_t)size);
    for (int64_t i = 0; content != NULL && i < size; i++)
        content[i] = hg_dim_const(n->dims, ints[0]);
}

static holo_status constantofshape_infer(hg_infer *n)
{
    const hg_dim *shape;
    uint32_t count;
    HG_TRY(hg_infer_rank(n, 0, 1, 1));
    HG_TRY(hg_infer_need_content(n, 0, &shape, &count));
    if (count > HG_MAX_RANK)
        return hg_infer_fail(n, HOLO_E_UNSUPPORTED, "the rank is %u, expected at most %d", count,
                             HG_MAX_RANK);
    const hg_value *value = constantofshape_value(n->g, n->node);
    if (hg_node_attr(n->node, "value") != NULL &&
        (value == NULL || !hg_dim_is(n->dims, hg_type_count(n->g, &value->type), 1)))
        return hg_infer_fail(n, HOLO_E_MODEL, "attribute 'value' is no tensor of one element");
    n->out[0] =
        (hg_type){.dtype = value == NULL ? HOLO_F32 : value->type.dtype, .rank = (int32_t)count};
    for (uint32_t i = 0; i < count; i++) {
        int64_t size;
        if (hg_dim_is_const(n->dims, shape[i], &size) && size < 0)
            return hg_infer_fail(n, HOLO_E_SHAPE, "dimension %u is %lld, expected 0 or more", i,
                                 (long long)size);
        n->out[0].dim[i] = shape[i];
    }
    constantofshape_content(n);
    return HOLO_OK;
}

/* The value, broadcast. */
static holo_status constantofshape_lower(hg_build *b)
{
    const hg_attr *attr = hg_node_attr(b->node, "value");
    hg_value_id value = attr == NULL ? hg_build_scalar(b, HOLO_F32, 0.0) : attr->tensor;
    if (attr != NULL) value = hg_build_2(b, "Reshape", value, hg_build_ints(b, NULL, 0));
    hg_build_replace(b, 0, hg_build_2(b, "Expand", value, hg_build_in(b, 0)));
    return b->status;
}

const hg_op hg_op_constantofshape = {
    .name = "ConstantOfShape",
    .brief = "one value everywhere",
    .since = 9,
    .version = 25,
    .in = {1, 1},
    .out = {1, 1},
    .types = HG_TYPE_BIT(HOLO_I64),
    .infer = constantofshape_infer,
    .lower = constantofshape_lower,
};
