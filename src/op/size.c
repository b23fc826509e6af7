/* size.c - Size: the number of elements of a tensor. */
#include "op/op.h"
#include "op/op_shape.h"

static holo_status size_infer(hg_infer *n)
{
    n->out[0] = (hg_type){.dtype = HOLO_I64};
    hg_dim *content = hg_shape_new_content(n, 1);
    if (content == NULL) return hg_fail_nomem(n->ctx->error, sizeof *content);
    content[0] = hg_shape_product(n->dims, n->in[0], 0, n->in[0]->rank);
    return HOLO_OK;
}

static holo_status size_lower(hg_build *b)
{
    const hg_type *type = hg_build_type(b, hg_build_in(b, 0));
    hg_dim count = hg_shape_product(&b->g->dims, type, 0, type->rank);
    hg_value_id list = hg_build_dims(b, &count, 1);
    hg_build_replace(b, 0, hg_build_2(b, "Reshape", list, hg_build_ints(b, NULL, 0)));
    return b->status;
}

const hg_op hg_op_size = {
    .name = "Size",
    .brief = "the number of elements of a tensor",
    .since = 1,
    .version = 25,
    .in = {1, 1},
    .out = {1, 1},
    .types = HG_TYPES_ANY,
    .flags = HG_OP_SHAPE_ONLY,
    .infer = size_infer,
    .lower = size_lower,
};
