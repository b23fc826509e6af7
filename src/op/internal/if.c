/* if.c - holo:If: runs one of two bodies, which are graphs of their own. */
#include "op/op_body.h"

static holo_status if_infer(hg_infer *n)
{
    const hg_graph *a = hg_body_graph(n->g, n->node, 0), *b = hg_body_graph(n->g, n->node, 1);
    if (n->in[0]->dtype != HOLO_BOOL)
        return hg_infer_fail(n, HOLO_E_TYPE, "the condition is %s, expected bool",
                             holo_dtype_text(n->in[0]->dtype));
    for (uint32_t j = 0; j < n->n_out; j++) {
        hg_type yes, no;
        bool possible;
        HG_TRY(hg_body_type(n, 0, &hg_graph_value(a, hg_region_out(a, HG_REGION_MAIN, j))->type,
                            &yes));
        HG_TRY(
            hg_body_type(n, 1, &hg_graph_value(b, hg_region_out(b, HG_REGION_MAIN, j))->type, &no));
        if (hg_body_fails(a)) yes = no;
        if (hg_body_fails(b)) no = yes;
        HG_TRY(hg_type_join(n->ctx, &yes, &no, &n->out[j], &possible));
        if (!possible)
            return hg_infer_fail(n, HOLO_E_TYPE,
                                 "output %u is %s in one branch and %s in the other", j,
                                 holo_dtype_text(yes.dtype), holo_dtype_text(no.dtype));
        hg_infer_late_rest(n, j);
    }
    return HOLO_OK;
}

const hg_op hg_op_internal_if = {
    .name = "If",
    .domain = "holo",
    .brief = "runs one of two bodies",
    .since = 1,
    .in = {1, -1},
    .out = {0, -1},
    .flags = HG_OP_INTERNAL | HG_OP_EFFECT,
    .infer = if_infer,
    .kernel = "if", /* a step of its own: the planner knows it by name */
    .gradient = hg_if_gradient,
};
