/* identity.c - Identity: y = x. */
#include "op/op.h"
#include "op/op_copy.h"
#include "op/op_gradient.h"
#include "op/op_shape.h"

static holo_status identity_infer(hg_infer *n)
{
    n->out[0] = *n->in[0];
    hg_shape_keep_content(n);
    return HOLO_OK;
}

const hg_op hg_op_identity = {
    .name = "Identity",
    .brief = "y = x",
    .since = 1,
    .version = 25,
    .in = {1, 1},
    .out = {1, 1},
    .infer = identity_infer,
    .emit = hg_emit_same_elements,
    .gradient = hg_gradient_same_elements,
};
