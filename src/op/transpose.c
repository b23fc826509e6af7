/* transpose.c - Transpose: dimensions in another order. */
#include "op/op.h"
#include "op/op_copy.h"
#include "op/op_gradient.h"
#include "op/op_shape.h"

/* Place i of the result is place perm[i] of the input; without the attribute, the order is
 * reversed. */
static int32_t transpose_source(const hg_node *node, int32_t rank, int32_t i)
{
    size_t count;
    const int64_t *perm = hg_node_ints(node, "perm", &count);
    if (perm == NULL) return rank - 1 - i;
    return (int32_t)(perm[i] < 0 ? perm[i] + rank : perm[i]);
}

static holo_status transpose_infer(hg_infer *n)
{
    const int32_t rank = n->in[0]->rank;
    size_t count;
    const int64_t *perm;
    HG_TRY(hg_attr_ints(n, "perm", &perm, &count));
    if (perm != NULL && count != (size_t)rank)
        return hg_infer_fail(n, HOLO_E_SHAPE, "perm has %zu entries, expected %d", count, rank);
    bool seen[HG_MAX_RANK] = {false};
    n->out[0] = *n->in[0];
    for (int32_t i = 0; i < rank; i++) {
        int32_t source = rank - 1 - i;
        if (perm != NULL) HG_TRY(hg_axis_normalize(n, perm[i], rank, &source));
        if (seen[source])
            return hg_infer_fail(n, HOLO_E_SHAPE, "perm names dimension %d twice", source);
        seen[source] = true;
        n->out[0].dim[i] = n->in[0]->dim[source];
    }
    if (rank <= 1) hg_shape_keep_content(n);
    return HOLO_OK;
}

static holo_status transpose_emit(hg_emit *e)
{
    const hg_type *in = hg_emit_type(e, 0);
    hg_dim stride[HG_MAX_RANK];
    hg_copy copy = {0};
    hg_shape_strides(&e->g->dims, in, stride);
    for (int32_t i = 0; i < in->rank; i++) {
        int32_t source = transpose_source(e->node, in->rank, i);
        hg_copy_loop(&copy, in->dim[source], stride[source]);
    }
    return hg_emit_copy(e, &copy);
}

static holo_status transpose_gradient(hg_gradient *d)
{
    const int32_t rank = hg_gradient_type(d, 0)->rank;
    int64_t back[HG_MAX_RANK];
    for (int32_t i = 0; i < rank; i++)
        back[transpose_source(hg_gradient_node(d), rank, i)] = i;
    const hg_attr perm = hg_attr_make_ints(d->b, "perm", back, (uint32_t)rank);
    d->in[0] = hg_build_op(d->b, "Transpose", &d->out[0], 1, &perm, 1);
    return d->b->status;
}

const hg_op hg_op_transpose = {
    .name = "Transpose",
    .brief = "dimensions in another order",
    .since = 1,
    .version = 25,
    .in = {1, 1},
    .out = {1, 1},
    .types = HG_TYPES_ANY,
    .infer = transpose_infer,
    .kernel = "copy.strided",
    .emit = transpose_emit,
    .gradient = transpose_gradient,
};
