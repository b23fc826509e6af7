/* optional.c - Optional: a value that may be missing. */
#include "op/op_body.h"

static holo_status optional_infer(hg_infer *n)
{
    const hg_attr *type = hg_node_attr(n->node, "type");
    bool has = hg_infer_has(n, 0);
    if (!has && (type == NULL || type->kind != HG_ATTR_TYPE || type->type == NULL))
        return hg_infer_fail(n, HOLO_E_MODEL, "it has neither a value nor a type");
    HG_TRY(hg_infer_container(n, 0, HOLO_OPTIONAL, has ? n->in[0] : type->type));
    n->out[0].dim[0] = hg_dim_const(n->dims, has ? 1 : 0);
    return HOLO_OK;
}

static holo_status optional_emit(hg_emit *e)
{
    if (e->n_in == 1 && e->in[0] == 0) e->n_in = 0;
    return HOLO_OK;
}

const hg_op hg_op_optional = {
    .name = "Optional",
    .brief = "a value that may be missing",
    .since = 15,
    .in = {0, 1},
    .out = {1, 1},
    .infer = optional_infer,
    .kernel = "sequence.construct",
    .emit = optional_emit,
};
