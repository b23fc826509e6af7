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

/* A branch in a graph of its own, inferred; with the tail, if there is one. */
static holo_status outline_branch(hg_build *b, uint32_t k, const hg_tail *tail, hg_outline *o)
{
    bool changed = false;
    hg_region_id body = b->node->body[k];
    HG_TRY(hg_outline_begin(o, b->g, b->id, k == 0 ? "then" : "else"));
    HG_TRY(hg_outline_nodes(o, body));
    if (tail == NULL) {
        HG_TRY(hg_outline_outputs(o, body));
        return hg_infer_graph(o->child, &changed);
    }
    for (uint32_t j = 0; j < b->node->n_out; j++)
        if (b->node->out[j] != 0)
            HG_TRY(hg_outline_value(o, hg_region_out(b->g, body, j), &o->inner[b->node->out[j]]));
    for (uint32_t i = 0; i < tail->n_node; i++)
        HG_TRY(hg_outline_copy(o, tail->node[i]));
    for (uint32_t j = 0; j < tail->n_out; j++) {
        hg_value_id value;
        HG_TRY(hg_outline_value(o, tail->out[j], &value));
        HG_TRY(hg_graph_add_region_output(o->child, HG_REGION_MAIN,
                                          hg_graph_value(b->g, tail->out[j])->name, value));
    }
    return hg_infer_graph(o->child, &changed);
}

/* A branch whose shapes do not agree may be one that is never taken: it becomes an error at run
 * time. */
static holo_status outline_impossible(hg_build *b, const char *sentence, const hg_outline *good,
                                      hg_outline *o)
{
    const hg_graph *from = good->child;
    uint32_t n_out = hg_graph_region(from, HG_REGION_MAIN)->n_out;
    bool changed = false;
    hg_attr *attr;
    hg_node_id id;
    hg_node_spec spec = {.op = hg_op_get("holo:Fail"), .n_attr = n_out, .n_out = n_out};
    HG_TRY(hg_outline_begin(o, b->g, b->id, "impossible"));
    HG_TRY(HG_NEW(b->ctx, n_out + 1, &attr));
    for (uint32_t j = 0; j < n_out; j++) {
        hg_value_id v = hg_region_out(from, HG_REGION_MAIN, j);
        attr[j] =
            (hg_attr){.name = hg_str_format(&b->ctx->arena, "type%u", j), .kind = HG_ATTR_TYPE};
        HG_TRY(hg_outline_item(from, o->child, &hg_graph_value(from, v)->type, &attr[j].type));
    }
    spec.attr = attr;
    spec.name = hg_str_copy(&b->ctx->arena, hg_str_from(sentence));
    HG_TRY(hg_graph_add_node(o->child, HG_REGION_MAIN, 0, &spec, &id));
    for (uint32_t j = 0; j < n_out; j++)
        HG_TRY(hg_graph_add_region_output(o->child, HG_REGION_MAIN,
                                          hg_graph_region(from, HG_REGION_MAIN)->out_name[j],
                                          hg_graph_node(o->child, id)->out[j]));
    return hg_infer_graph(o->child, &changed);
}

static holo_status outline_branches(hg_build *b, const hg_tail *tail, hg_outline o[2])
{
    holo_error sentence[2] = {{0}, {0}}, *error = b->ctx->error;
    holo_status status[2];
    for (uint32_t k = 0; k < 2; k++) {
        b->ctx->error = &sentence[k];
        status[k] = outline_branch(b, k, tail, &o[k]);
        b->ctx->error = error;
        hg_outline_end(&o[k]);
    }
    for (uint32_t k = 0; k < 2; k++) {
        if (status[k] == HOLO_OK) continue;
        if (status[k] != HOLO_E_SHAPE || status[1 - k] != HOLO_OK)
            return hg_fail(error, status[k], "%s", sentence[k].message);
        holo_status made = outline_impossible(b, sentence[k].message, &o[1 - k], &o[k]);
        hg_outline_end(&o[k]);
        HG_TRY(made);
    }
    return HOLO_OK;
}

static int32_t outline_rank(const hg_outline *o, uint32_t j)
{
    return hg_graph_value(o->child, hg_region_out(o->child, HG_REGION_MAIN, j))->type.rank;
}

/* An output whose rank depends on the branch is read by a node, which then cannot be inferred. */
static bool outline_needs_tail(const hg_build *b, const hg_outline o[2])
{
    for (uint32_t j = 0; j < b->node->n_out; j++) {
        if (b->node->out[j] == 0 || outline_rank(&o[0], j) == outline_rank(&o[1], j)) continue;
        uint32_t at = hg_graph_value(b->g, b->node->out[j])->first_use;
        for (; at != 0; at = b->g->use[at - 1].next)
            if (b->g->use[at - 1].node != 0) return true;
    }
    return false;
}

static holo_status outline_if_node(hg_build *b, hg_outline o[2], uint32_t n_out, hg_node_id *out)
{
    uint32_t n_in = 1 + o[0].n_capture + o[1].n_capture;
    int64_t number[2];
    hg_value_id *in;
    HG_TRY(hg_outline_keep(&o[0], &number[0]));
    HG_TRY(hg_outline_keep(&o[1], &number[1]));
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
    *out = hg_build_node(b, "holo:If", in, n_in, attr, 3, n_out);
    return b->status;
}

/* Where the rank of a result depends on the branch, so does everything behind that uses it: it is
 * copied into both branches, where the rank is known. */
static holo_status outline_with_tail(hg_build *b, bool *done)
{
    hg_outline o[2] = {{.g = b->g}, {.g = b->g}};
    hg_tail tail;
    hg_node_id made;
    HG_TRY(hg_tail_find(b->g, b->id, &tail));
    *done = !tail.moved;
    if (tail.moved) return hg_graph_set_attr(b->g, b->id, hg_attr_make_int("tail", 1));
    HG_TRY(outline_branches(b, &tail, o));
    HG_TRY(outline_if_node(b, o, tail.n_out, &made));
    hg_tail_replace(b->g, &tail, made);
    return HOLO_OK;
}

static holo_status outline_if(hg_build *b, bool *done)
{
    hg_value_id condition = hg_build_in(b, 0);
    hg_outline o[2] = {{.g = b->g}, {.g = b->g}};
    hg_node_id made;
    bool yes;
    if (condition == 0) return hg_build_fail(b, HOLO_E_MODEL, "it has no condition");
    HG_TRY(outline_check_outputs(b));
    if (outline_decided(b->g, condition, &yes))
        return outline_take_branch(b, b->node->body[yes ? 0 : 1]);
    if (hg_node_int(b->node, "tail", 0) == 1) return outline_with_tail(b, done);
    HG_TRY(outline_branches(b, NULL, o));
    if (outline_needs_tail(b, o)) return outline_with_tail(b, done);
    HG_TRY(outline_if_node(b, o, hg_graph_region(b->g, b->node->body[0])->n_out, &made));
    for (uint32_t j = 0; j < hg_graph_node(b->g, b->id)->n_out; j++)
        hg_build_replace(b, j, hg_graph_node(b->g, made)->out[j]);
    return b->status;
}

holo_status hg_outline_node(hg_graph *g, hg_node_id id, bool *done)
{
    hg_build b;
    hg_build_init(&b, g, id);
    *done = true;
    if (hg_op_is(b.node, "If")) return outline_if(&b, done);
    if (hg_op_is(b.node, "Loop")) return hg_outline_loop(&b);
    if (hg_op_is(b.node, "Scan")) return hg_outline_scan(&b);
    if (hg_op_is(b.node, "SequenceMap")) return hg_outline_sequence_map(&b);
    return hg_build_fail(&b, HOLO_E_UNSUPPORTED, "bodies of this operator are not supported");
}

/* ---- after the passes ------------------------------------------------------------------------ */

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
