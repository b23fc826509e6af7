/* split.c - Split: a tensor cut into pieces along one axis; each is a Slice. */
#include "op/op.h"
#include "op/op_shape.h"
#include "op/op_upgrade.h"

/* Split-1: the sizes may be an input of the type of the tensor. */
static holo_status split_numbers(hg_graph *g, hg_node_id id)
{
    hg_build b;
    hg_build_init(&b, g, id);
    hg_value_id in[] = {hg_build_in(&b, 0), hg_build_cast(&b, hg_build_in(&b, 1), HOLO_I64)};
    HG_TRY(b.status);
    return hg_upgrade_replace(&b, "Split", in, 2, b.node->attr, b.node->n_attr);
}

/* Split-1 to Split-11: the sizes are an attribute. Without sizes, all versions before 18 cut
 * evenly. */
static holo_status split_upgrade(hg_graph *g, hg_node_id id, int32_t opset)
{
    if (opset >= 13) return HOLO_OK;
    if (opset < 2 && hg_graph_node(g, id)->n_in > 1) return split_numbers(g, id);
    return hg_upgrade_ints_to_inputs(g, id, 1, (const char *const[]){"split"}, 1);
}

static holo_status split_sizes(const hg_infer *n, int32_t axis)
{
    const hg_dim *sizes;
    uint32_t count;
    HG_TRY(hg_infer_need_content(n, 1, &sizes, &count));
    if (count != n->n_out)
        return hg_infer_fail(n, HOLO_E_SHAPE, "split has %u sizes, expected %u", count, n->n_out);
    hg_dim sum = hg_dim_const(n->dims, 0), fits = hg_dim_const(n->dims, 1);
    for (uint32_t j = 0; j < count; j++) {
        int64_t size;
        if (hg_dim_is_const(n->dims, sizes[j], &size) && size < 0)
            return hg_infer_fail(n, HOLO_E_SHAPE, "split[%u] is %lld, expected 0 or more", j,
                                 (long long)size);
        sum = hg_dim_add(n->dims, sum, sizes[j]);
        fits = hg_shape_and(n->dims, fits, hg_dim_lt(n->dims, hg_dim_const(n->dims, -1), sizes[j]));
    }
    int64_t total, expected;
    if (hg_dim_is_const(n->dims, sum, &total) &&
        hg_dim_is_const(n->dims, n->in[0]->dim[axis], &expected) && total != expected)
        return hg_infer_fail(n, HOLO_E_SHAPE, "the sizes add up to %lld, but dimension %d is %lld",
                             (long long)total, axis, (long long)expected);
    /* Sizes that do not add up at run time: the dimensions become -1 and are refused. */
    fits = hg_shape_and(n->dims, fits, hg_dim_eq(n->dims, sum, n->in[0]->dim[axis]));
    for (uint32_t j = 0; j < count; j++)
        n->out[j].dim[axis] = hg_shape_guard(n->dims, fits, sizes[j]);
    return HOLO_OK;
}

static holo_status split_evenly(const hg_infer *n, int32_t axis)
{
    hg_dims *d = n->dims;
    int64_t parts;
    HG_TRY(hg_attr_int(n, "num_outputs", n->n_out, &parts));
    if (parts != n->n_out)
        return hg_infer_fail(n, HOLO_E_MODEL, "num_outputs is %lld, but there are %u outputs",
                             (long long)parts, n->n_out);
    hg_dim dim = n->in[0]->dim[axis], begin = hg_dim_const(d, 0);
    hg_dim part = hg_dim_ceildiv(d, dim, hg_dim_const(d, parts));
    for (uint32_t j = 0; j < n->n_out; j++) {
        hg_dim end = hg_dim_min(d, dim, hg_dim_mul(d, part, hg_dim_const(d, (int64_t)j + 1)));
        if (hg_dim_mul(d, part, hg_dim_const(d, parts)) == dim) end = hg_dim_add(d, begin, part);
        n->out[j].dim[axis] = hg_dim_sub(d, end, begin);
        begin = end;
    }
    return HOLO_OK;
}

static holo_status split_infer(hg_infer *n)
{
    int32_t axis;
    HG_TRY(hg_attr_axis(n, "axis", 0, n->in[0]->rank, &axis));
    for (uint32_t j = 0; j < n->n_out; j++)
        n->out[j] = *n->in[0];
    HG_TRY(hg_infer_has(n, 1) ? split_sizes(n, axis) : split_evenly(n, axis));
    const hg_dim *content;
    uint32_t count, at = 0;
    if (n->in[0]->rank != 1 || !hg_infer_content(n, 0, &content, &count)) return HOLO_OK;
    for (uint32_t j = 0; j < n->n_out; j++) {
        int64_t size;
        if (!hg_dim_is_const(n->dims, n->out[j].dim[0], &size) || size > count - at) return HOLO_OK;
        n->out_content[j] = content + at;
        n->n_out_content[j] = (uint32_t)size;
        at += (uint32_t)size;
    }
    return HOLO_OK;
}

/* A Slice; sizes that are inputs make a part as large as they say, which the runtime checks. */
static hg_value_id split_part(hg_build *b, int64_t axis, hg_dim begin, hg_dim size)
{
    hg_value_id x = hg_build_in(b, 0);
    hg_attr attr[] = {hg_attr_make_int("axis", axis), hg_attr_make_dims(b, "begin", &begin, 1),
                      hg_attr_make_dims(b, "size", &size, 1)};
    int64_t known;
    if (hg_build_in(b, 1) != 0 && !hg_dim_is_const(&b->g->dims, size, &known))
        return hg_build_op(b, "holo:Part", &x, 1, attr, HG_COUNT(attr));
    hg_dim end = hg_dim_add(&b->g->dims, begin, size);
    hg_value_id in[4] = {x, hg_build_dims(b, &begin, 1), hg_build_dims(b, &end, 1),
                         hg_build_ints(b, &axis, 1)};
    return hg_build_op(b, "Slice", in, 4, NULL, 0);
}

static holo_status split_lower(hg_build *b)
{
    hg_dims *d = &b->g->dims;
    const uint32_t n_out = b->node->n_out;
    const int32_t rank = hg_build_type(b, hg_build_in(b, 0))->rank;
    int64_t axis = hg_node_int(b->node, "axis", 0);
    if (axis < 0) axis += rank;
    hg_dim begin = hg_dim_const(d, 0);
    for (uint32_t j = 0; j < n_out; j++) {
        hg_value_id old = b->node->out[j];
        if (old == 0) return hg_build_fail(b, HOLO_E_MODEL, "output %u has no name", j);
        hg_dim size = hg_graph_value(b->g, old)->type.dim[axis];
        hg_build_replace(b, j, split_part(b, axis, begin, size));
        if (b->status != HOLO_OK) return b->status;
        begin = hg_dim_add(d, begin, size);
    }
    return b->status;
}

const hg_op hg_op_split = {
    .name = "Split",
    .brief = "a tensor cut into pieces along one axis",
    .since = 1,
    .version = 18,
    .in = {1, 2},
    .out = {1, -1},
    .types = HG_TYPES_ANY,
    .upgrade = split_upgrade,
    .infer = split_infer,
    .lower = split_lower,
};
