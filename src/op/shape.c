/* shape.c - Shape: the dimensions of a tensor, as a tensor. */
#include "op/op.h"
#include "op/op_shape.h"

static void shape_range(const hg_node *node, int32_t rank, int32_t *start, int32_t *end)
{
    const hg_attr *last = hg_node_attr(node, "end");
    int64_t s = hg_node_int(node, "start", 0), t = last == NULL ? rank : last->i;
    s = hg_max(0, hg_min(rank, s < 0 ? hg_max(s, -rank) + rank : s));
    t = hg_max(0, hg_min(rank, t < 0 ? hg_max(t, -rank) + rank : t));
    *start = (int32_t)s;
    *end = (int32_t)hg_max(s, t);
}

static holo_status shape_infer(hg_infer *n)
{
    int64_t unused;
    int32_t start, end;
    HG_TRY(hg_attr_int(n, "start", 0, &unused));
    HG_TRY(hg_attr_int(n, "end", 0, &unused));
    shape_range(n->node, n->in[0]->rank, &start, &end);
    uint32_t count = (uint32_t)(end - start);
    n->out[0] = (hg_type){.dtype = HOLO_I64, .rank = 1};
    n->out[0].dim[0] = hg_dim_const(n->dims, count);
    hg_dim *content = hg_shape_new_content(n, count);
    if (content == NULL) return hg_fail_nomem(n->ctx->error, count * sizeof *content);
    memcpy(content, n->in[0]->dim + start, count * sizeof *content);
    return HOLO_OK;
}

static holo_status shape_lower(hg_build *b)
{
    const hg_type *type = hg_build_type(b, hg_build_in(b, 0));
    int32_t start, end;
    shape_range(b->node, type->rank, &start, &end);
    hg_build_replace(b, 0, hg_build_dims(b, type->dim + start, (uint32_t)(end - start)));
    return b->status;
}

const hg_op hg_op_shape = {
    .name = "Shape",
    .brief = "the dimensions of a tensor, as a tensor",
    .since = 1,
    .version = 25,
    .in = {1, 1},
    .out = {1, 1},
    .types = HG_TYPES_ANY,
    .flags = HG_OP_SHAPE_ONLY,
    .infer = shape_infer,
    .lower = shape_lower,
};
