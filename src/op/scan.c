/* scan.c - Scan: a body over the slices of its inputs. Inference makes graphs of the bodies
 * (pass/outline.h). */
#include "op/op.h"

/* A region input with what is known about its element type. */
static holo_status scan_add_input(hg_graph *g, hg_region_id region, hg_value_id like,
                                  hg_value_id *out)
{
    const hg_value *v = hg_graph_value(g, like);
    hg_type type = {.dtype = v->type.dtype, .rank = HG_RANK_UNKNOWN};
    return hg_graph_add_region_input(g, region, v->name, type, out);
}

/* Scan-8 runs the body for each item of a batch, and within it over a sequence: one scan inside
 * another. The old body goes into the new inner node. */
static holo_status scan_nest(hg_graph *g, hg_node_id id, hg_attr directions)
{
    const hg_node *old = hg_graph_node(g, id);
    hg_region_id body = old->body[0];
    uint32_t n_in = old->n_in - 1, n_out = hg_graph_region(g, body)->n_out;
    int64_t n_scan = hg_node_int(old, "num_scan_inputs", 0);
    hg_value_id *in;
    hg_attr *attr;
    hg_node_id outer, inner;
    HG_TRY(HG_NEW(g->ctx, (size_t)n_in + 1, &in));
    HG_TRY(HG_NEW(g->ctx, 3, &attr));
    for (uint32_t i = 0; i < n_in; i++)
        in[i] = hg_node_in(g, old, i + 1);
    attr[0] = (hg_attr){.name = hg_str_from("num_scan_inputs"), .kind = HG_ATTR_INT, .i = n_in};
    attr[1] = (hg_attr){.name = hg_str_from("num_scan_inputs"), .kind = HG_ATTR_INT, .i = n_scan};
    attr[2] = directions;
    hg_node_spec spec = {.op = old->op,
                         .name = old->name,
                         .in = in,
                         .n_in = n_in,
                         .attr = &attr[0],
                         .n_attr = 1,
                         .n_out = n_out,
                         .n_body = 1};
    HG_TRY(hg_graph_add_node(g, old->region, id, &spec, &outer));
    hg_region_id batch = hg_graph_node(g, outer)->body[0];
    for (uint32_t i = 0; i < n_in; i++)
        HG_TRY(scan_add_input(g, batch, in[i], &in[i]));
    spec.attr = &attr[1];
    spec.n_attr = directions.count != 0 ? 2 : 1;
    HG_TRY(hg_graph_add_node(g, batch, 0, &spec, &inner));
    hg_graph_swap_bodies(g, id, 0, inner, 0);
    for (uint32_t j = 0; j < n_out; j++) {
        hg_value_id y = hg_graph_node(g, inner)->out[j];
        HG_TRY(hg_graph_add_region_output(g, batch, hg_graph_value(g, y)->name, y));
    }
    for (uint32_t j = 0; j < hg_graph_node(g, id)->n_out; j++) {
        hg_value_id from = hg_graph_node(g, id)->out[j], to = hg_graph_node(g, outer)->out[j];
        if (from == 0) continue;
        hg_graph_value(g, to)->name = hg_graph_value(g, from)->name;
        hg_graph_replace_uses(g, from, to);
    }
    return HOLO_OK;
}

static holo_status scan_upgrade(hg_graph *g, hg_node_id id, int32_t opset)
{
    const hg_node *n = hg_graph_node(g, id);
    char label[64];
    if (opset >= 9) return HOLO_OK;
    hg_str name = hg_node_label(g, id, label, sizeof label);
    const hg_attr *directions = hg_node_attr(n, "directions");
    if (n->n_in < 2 || hg_graph_region(g, n->body[0])->n_out < n->n_out)
        return hg_fail(g->ctx->error, HOLO_E_MODEL, "node '%.*s' (Scan): too few inputs or outputs",
                       HG_STR_ARG(name));
    if (hg_node_in(g, n, 0) != 0)
        return hg_fail(
            g->ctx->error, HOLO_E_UNSUPPORTED,
            "node '%.*s' (Scan): sequences of different lengths (sequence_lens, opset 8) "
            "are not supported",
            HG_STR_ARG(name));
    hg_attr renamed = {0};
    if (directions != NULL && directions->kind == HG_ATTR_INTS) renamed = *directions;
    renamed.name = hg_str_from("scan_input_directions");
    return scan_nest(g, id, renamed);
}

const hg_op hg_op_scan = {
    .name = "Scan",
    .brief = "a body over the slices of its inputs",
    .since = 8,
    .version = 25,
    .in = {1, -1},
    .out = {1, -1},
    .flags = HG_OP_EFFECT,
    .n_body = 1,
    .body = {"body"},
    .upgrade = scan_upgrade,
};
