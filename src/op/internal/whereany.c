/* whereany.c - holo:WhereAny: Where on elements that lane code does not know. */
#include "op/op.h"
#include "op/op_shape.h"

static holo_status whereany_infer(hg_infer *n)
{
    n->out[0].dtype = n->in[1]->dtype;
    return hg_shape_broadcast(n, 0, 3, &n->out[0]);
}

const hg_op hg_op_internal_whereany = {
    .name = "WhereAny",
    .domain = "holo",
    .brief = "Where on elements that lane code does not know",
    .since = 1,
    .in = {3, 3},
    .out = {1, 1},
    .flags = HG_OP_INTERNAL,
    .infer = whereany_infer,
    .kernel = "where",
};
