/* outline.c - If: a branch that is always taken replaces it; otherwise both become graphs of their
 * own. */
#include "pass/outline.h"

/* The condition is known while compiling. */
static bool outline_decided(hg_graph *g, hg_value_id condition, bool *yes)
{
    double number;
    int64_t value;
    const hg_value *v = hg_graph_value(g, condition);
    if (hg_graph_const_scalar(g, condition, &number)) {
        *yes = number != 0;
        return true;
    }
    if (v->content == NULL || v->n_content != 1 ||
        !hg_dim_is_const(&g->dims, v->content[0], &value))
        return false;
    *yes = value != 0;
    return true;
}

/* Outputs without a name at the end are not there in the node. */
static holo_status outline_check_outputs(hg_build *b)
{
    uint32_t yes = hg_graph_region(b->g, b->node->body[0])->n_out;
    uint32_t no = hg_graph_region(b->g, b->node->body[1])->n_out;
    if (yes == no && yes >= b->node->n_out) return HOLO_OK;
    return hg_build_fail(b, HOLO_E_MODEL, "it has %u outputs, its branches have %u and %u",
                         b->node->n_out, yes, no);
}

static holo_status outline_take_branch(hg_build *b, hg_region_id body)
{
    uint32_t n_out = b->node->n_out;
    hg_graph_splice(b->g, body, b->id);
    for (uint32_t j = 0; j < n_out; j++)
        hg_build_replace(b, j, hg_region_out(b->g, body, j));
    return b->status;
}

/* A branch in a graph of its own, inferred. */
static holo_status outline_branch(hg_build *b, uint32_t k, hg_outline *o, int64_t *number)
{
    bool changed = false;
    HG_TRY(hg_outline_begin(o, b->g, b->id, k == 0 ? "then" : "else"));
    HG_TRY(hg_outline_nodes(o, b->node->body[k]));
    HG_TRY(hg_outline_outputs(o, b->node->body[k]));
    HG_TRY(hg_infer_graph(o->child, &changed));
    return hg_outline_keep(o, number);
}

static holo_status outline_if_node(hg_build *b, const hg_outline o[2], const int64_t number[2])
{
    uint32_t n_in = 1 + o[0].n_capture + o[1].n_capture, n_out = b->node->n_out;
    hg_value_id *in;
    HG_TRY(HG_NEW(b->ctx, n_in, &in));
    in[0] = hg_build_in(b, 0);
    for (uint32_t i = 0; i < o[0].n_capture; i++)
        in[1 + i] = o[0].capture[i];
    for (uint32_t i = 0; i < o[1].n_capture; i++)
        in[1 + o[0].n_capture + i] = o[1].capture[i];
    const hg_attr attr[3] = {
        hg_attr_make_ints(b, "bodies", number, 2),
        hg_attr_make_dims(b, "dims0", o[0].outer, (uint32_t)o[0].n_outer),
        hg_attr_make_dims(b, "dims1", o[1].outer, (uint32_t)o[1].n_outer),
    };
    uint32_t n_all = hg_graph_region(b->g, b->node->body[0])->n_out;
    hg_node_id made = hg_build_node(b, "holo:If", in, n_in, attr, 3, n_all);
    for (uint32_t j = 0; made != 0 && j < n_out; j++)
        hg_build_replace(b, j, hg_graph_node(b->g, made)->out[j]);
    return b->status;
}

static holo_status outline_if(hg_build *b)
{
    hg_value_id condition = hg_build_in(b, 0);
    hg_outline o[2] = {{.g = b->g}, {.g = b->g}};
    int64_t number[2];
    bool yes;
    if (condition == 0) return hg_build_fail(b, HOLO_E_MODEL, "it has no condition");
    HG_TRY(outline_check_outputs(b));
    if (outline_decided(b->g, condition, &yes))
        return outline_take_branch(b, b->node->body[yes ? 0 : 1]);
    holo_status status = HOLO_OK;
    for (uint32_t k = 0; k < 2 && status == HOLO_OK; k++) {
        status = outline_branch(b, k, &o[k], &number[k]);
        hg_outline_end(&o[k]);
    }
    HG_TRY(status);
    return outline_if_node(b, o, number);
}

holo_status hg_outline_node(hg_graph *g, hg_node_id id)
{
    hg_build b;
    hg_build_init(&b, g, id);
    if (hg_op_is(b.node, "If")) return outline_if(&b);
    if (hg_op_is(b.node, "Loop")) return hg_outline_loop(&b);
    if (hg_op_is(b.node, "Scan")) return hg_outline_scan(&b);
    if (hg_op_is(b.node, "SequenceMap")) return hg_outline_sequence_map(&b);
    return hg_build_fail(&b, HOLO_E_UNSUPPORTED, "bodies of this operator are not supported");
}

/* ---- after the passes
 * ------------------------------------------------------------------------------- */

/* Sizes that turned out constant. */
static holo_status outline_settle_dims(const hg_graph *g, const hg_attr *outer, hg_graph *child)
{
    hg_dim *to;
    bool any = false;
    HG_TRY(HG_NEW(child->ctx, child->dims.n_symbol + 1, &to));
    for (size_t i = 0; i < outer->count && i < child->dims.n_symbol; i++) {
        int64_t value;
        if (!hg_dim_is_const(&g->dims, outer->dims[i], &value)) continue;
        to[i] = hg_dim_const(&child->dims, value);
        any = true;
    }
    return any ? hg_resolve_symbols(child, to) : HOLO_OK;
}

holo_status hg_outline_settle(hg_graph *g, hg_node_id id, uint32_t k)
{
    const hg_node *n = hg_graph_node(g, id);
    hg_graph *child = hg_body_graph(g, n, k);
    const hg_region *r = hg_graph_region(child, HG_REGION_MAIN);
    bool is_loop = hg_op_is(n, "holo:Loop");
    uint32_t first = is_loop ? 2 + (uint32_t)hg_node_int(n, "carried", 0) : 0;
    uint32_t at = is_loop ? 0 : 1;
    if (k == 1) at += hg_graph_region(hg_body_graph(g, n, 0), HG_REGION_MAIN)->n_in;
    HG_TRY(outline_settle_dims(g, hg_node_attr(n, k == 0 ? "dims0" : "dims1"), child));
    for (uint32_t i = first; i < r->n_in; i++) {
        const hg_value *v = hg_graph_value(g, hg_node_in(g, n, at + i));
        hg_value_id made;
        if (v->constant == NULL || hg_graph_value(child, r->in[i])->n_uses == 0) continue;
        HG_TRY(hg_graph_add_const(child, v->name, hg_graph_value(child, r->in[i])->type,
                                  v->constant->data, v->constant->bytes, &made));
        hg_graph_replace_uses(child, r->in[i], made);
    }
    return HOLO_OK;
}
