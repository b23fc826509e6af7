/* fail.c - holo:Fail: stands for a branch whose shapes do not agree; running it is an error.
 * Attributes type0, type1 ... are the types of the outputs. */
#include "op/op_body.h"

#include <stdio.h>

static holo_status fail_infer(hg_infer *n)
{
    for (uint32_t j = 0; j < n->n_out; j++) {
        char name[32];
        snprintf(name, sizeof name, "type%u", (unsigned int)j);
        const hg_attr *type = hg_node_attr(n->node, name);
        if (type == NULL || type->kind != HG_ATTR_TYPE || type->type == NULL)
            return hg_infer_fail(n, HOLO_E_BUG, "attribute '%s' is missing", name);
        n->out[j] = *type->type;
        memset(n->out[j].dim, 0, sizeof n->out[j].dim);
        hg_infer_late_rest(n, j);
    }
    return HOLO_OK;
}

const hg_op hg_op_internal_fail = {
    .name = "Fail",
    .domain = "holo",
    .brief = "a branch whose shapes do not agree",
    .since = 1,
    .in = {0, 0},
    .out = {0, -1},
    .flags = HG_OP_INTERNAL | HG_OP_EFFECT,
    .infer = fail_infer,
    .kernel = "fail",
};
