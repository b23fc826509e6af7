/* concat.c - Concat: tensors side by side along one axis. */
#include "op/op.h"
#include "op/op_copy.h"
#include "op/op_gradient.h"
#include "op/op_shape.h"

/* Concat-1: the axis is 1 unless it is given. */
static holo_status concat_upgrade(hg_graph *g, hg_node_id id, int32_t opset)
{
    if (opset >= 4 || hg_node_attr(hg_graph_node(g, id), "axis") != NULL) return HOLO_OK;
    return hg_graph_set_attr(g, id, hg_attr_make_int("axis", 1));
}

static void concat_content(hg_infer *n)
{
    const hg_dim *part;
    uint32_t count, total = 0;
    for (uint32_t i = 0; i < n->n_in; i++) {
        if (!hg_infer_content(n, i, &part, &count) || count > HG_MAX_CONTENT) return;
        total += count;
        if (total > HG_MAX_CONTENT) return;
    }
    hg_dim *content = hg_shape_new_content(n, total);
    for (uint32_t i = 0; content != NULL && i < n->n_in; i++) {
        if (!hg_infer_content(n, i, &part, &count)) return;
        memcpy(content, part, count * sizeof *part);
        content += count;
    }
}

static holo_status concat_infer(hg_infer *n)
{
    hg_type *out = &n->out[0];
    int32_t axis;
    *out = *n->in[0];
    if (hg_node_attr(n->node, "axis") == NULL)
        return hg_infer_fail(n, HOLO_E_MODEL, "attribute 'axis' is missing");
    HG_TRY(hg_attr_axis(n, "axis", 0, out->rank, &axis));
    for (uint32_t i = 1; i < n->n_in; i++) {
        const hg_type *in = n->in[i];
        HG_TRY(hg_infer_same_type(n, 0, i));
        HG_TRY(hg_infer_rank(n, i, out->rank, out->rank));
        for (int32_t k = 0; k < out->rank; k++) {
            if (k == axis) {
                out->dim[k] = hg_dim_add(n->dims, out->dim[k], in->dim[k]);
                continue;
            }
            int64_t a = -1, b;
            const bool is_const = hg_dim_is_const(n->dims, in->dim[k], &b);
            if (is_const && hg_dim_is_const(n->dims, out->dim[k], &a) && a != b)
                return hg_infer_fail(n, HOLO_E_SHAPE,
                                     "dimension %d of input %u is %lld, expected %lld", k, i,
                                     (long long)b, (long long)a);
            if (!hg_infer_equal(n, in->dim[k], out->dim[k]))
                return hg_infer_fail(n, HOLO_E_SHAPE,
                                     "dimension %d of input %u cannot be that of input 0", k, i);
            if (is_const) out->dim[k] = in->dim[k];
        }
    }
    if (out->rank == 1) concat_content(n);
    return HOLO_OK;
}

static holo_status concat_emit(hg_emit *e)
{
    int64_t axis = hg_node_int(e->node, "axis", 0);
    if (e->n_in == 1) return hg_emit_same_elements(e);
    return hg_emit_int(e, axis < 0 ? axis + hg_emit_out_type(e, 0)->rank : axis);
}

static holo_status concat_gradient(hg_gradient *d)
{
    hg_dims *dims = &d->b->g->dims;
    const uint32_t n_in = hg_gradient_node(d)->n_in;
    int64_t axis = hg_node_int(hg_gradient_node(d), "axis", 0);
    hg_dim begin = hg_dim_const(dims, 0);
    if (axis < 0) axis += hg_gradient_type(d, 0)->rank;
    for (uint32_t i = 0; i < n_in; i++) {
        const hg_dim size = hg_gradient_type(d, i)->dim[axis];
        const hg_attr attr[] = {hg_attr_make_int("axis", axis),
                                hg_attr_make_dims(d->b, "begin", &begin, 1),
                                hg_attr_make_dims(d->b, "size", &size, 1)};
        if (d->wanted[i])
            d->in[i] = hg_build_op(d->b, "holo:Part", &d->out[0], 1, attr, HG_COUNT(attr));
        begin = hg_dim_add(dims, begin, size);
    }
    return d->b->status;
}

const hg_op hg_op_concat = {
    .name = "Concat",
    .brief = "tensors side by side along one axis",
    .since = 1,
    .version = 13,
    .in = {1, -1},
    .out = {1, 1},
    .types = HG_TYPES_ANY,
    .upgrade = concat_upgrade,
    .infer = concat_infer,
    .kernel = "concat",
    .emit = concat_emit,
    .gradient = concat_gradient,
};
