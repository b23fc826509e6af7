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

/* ---- Scan-8 ---------------------------------------------------------------------------------- */

/* It runs the body for each item of a batch, and within it over a sequence: one scan inside
 * another. With lengths, an item is cut to its own before, and its results are filled up with zeros
 * behind. */
typedef struct scan_nest {
    hg_graph *g;
    hg_node_id old, outer, inner;
    hg_region_id batch; /* the body of the outer one */
    hg_value_id *in;    /* of the node, then of that body: states and sequences */
    uint32_t n_in, n_scan, n_out;
    hg_value_id length, places; /* of an item; 0: as long as the sequences */
    hg_attr directions;
} scan_nest;

static holo_status scan_ints(hg_graph *g, int64_t value, int32_t rank, hg_value_id *out)
{
    int64_t *data;
    hg_type type = {.dtype = HOLO_I64, .rank = rank};
    HG_TRY(HG_NEW(g->ctx, 1, &data));
    *data = value;
    type.dim[0] = hg_dim_const(&g->dims, 1);
    return hg_graph_add_const(g, (hg_str){0}, type, data, sizeof *data, out);
}

/* A node of the batch's body, behind those that are there. */
static holo_status scan_add(scan_nest *s, const char *op, const hg_value_id *in, uint32_t n_in,
                            hg_attr only, hg_value_id *out)
{
    hg_attr *attr;
    hg_node_id id;
    HG_TRY(HG_NEW(s->g->ctx, 1, &attr));
    attr[0] = only;
    const hg_node_spec spec = {.op = hg_op_get(op),
                               .origin = hg_graph_node(s->g, s->old)->origin,
                               .name = hg_graph_node(s->g, s->old)->name,
                               .in = in,
                               .n_in = n_in,
                               .attr = attr,
                               .n_attr = only.kind != 0 ? 1 : 0,
                               .n_out = 1};
    HG_TRY(hg_graph_add_node(s->g, s->batch, 0, &spec, &id));
    *out = hg_graph_node(s->g, id)->out[0];
    return HOLO_OK;
}

/* Sequences become their first places; one that is not there is found when it is picked. */
static holo_status scan_cut(scan_nest *s)
{
    hg_value_id range[3] = {0, s->length, 0};
    HG_TRY(scan_ints(s->g, 0, 0, &range[0]));
    HG_TRY(scan_ints(s->g, 1, 0, &range[2]));
    HG_TRY(scan_add(s, "Range", range, 3, (hg_attr){0}, &s->places));
    for (uint32_t i = s->n_in - s->n_scan; i < s->n_in; i++) {
        const hg_value_id in[] = {s->in[i], s->places};
        HG_TRY(scan_add(s, "Gather", in, 2, hg_attr_make_int("axis", 0), &s->in[i]));
    }
    return HOLO_OK;
}

/* Zeros behind a result, up to the length of the sequences. */
static holo_status scan_fill(scan_nest *s, hg_value_id whole, hg_value_id *y)
{
    const hg_attr first = hg_attr_make_int("end", 1);
    hg_value_id all, own, zero, pads[2], in[4] = {*y, 0, 0, 0};
    HG_TRY(scan_ints(s->g, 0, 1, &zero));
    HG_TRY(scan_add(s, "Shape", &whole, 1, first, &all));
    HG_TRY(scan_add(s, "Shape", &s->places, 1, first, &own));
    HG_TRY(scan_add(s, "Sub", (hg_value_id[]){all, own}, 2, (hg_attr){0}, &pads[1]));
    pads[0] = in[3] = zero;
    HG_TRY(scan_add(s, "Concat", pads, 2, hg_attr_make_int("axis", 0), &in[1]));
    return scan_add(s, "Pad", in, 4, (hg_attr){0}, y);
}

static holo_status scan_outer(scan_nest *s, hg_value_id lengths)
{
    hg_graph *g = s->g;
    hg_value_id *in;
    hg_attr *attr;
    const uint32_t first = lengths == 0 ? 1 : 0, n_in = s->n_in + 1 - first;
    HG_TRY(HG_NEW(g->ctx, n_in + 1, &in));
    HG_TRY(HG_NEW(g->ctx, 1, &attr));
    for (uint32_t i = 0; i < n_in; i++)
        in[i] = hg_node_in(g, hg_graph_node(g, s->old), first + i);
    attr[0] = hg_attr_make_int("num_scan_inputs", n_in);
    const hg_node *old = hg_graph_node(g, s->old);
    const hg_node_spec spec = {.op = old->op,
                               .origin = old->origin,
                               .name = old->name,
                               .in = in,
                               .n_in = n_in,
                               .attr = attr,
                               .n_attr = 1,
                               .n_out = s->n_out,
                               .n_body = 1};
    HG_TRY(hg_graph_add_node(g, old->region, s->old, &spec, &s->outer));
    s->batch = hg_graph_node(g, s->outer)->body[0];
    if (lengths != 0) HG_TRY(scan_add_input(g, s->batch, in[0], &s->length));
    for (uint32_t i = 0; i < s->n_in; i++)
        HG_TRY(scan_add_input(g, s->batch, in[1 - first + i], &s->in[i]));
    return HOLO_OK;
}

/* The old body goes into the new inner node. */
static holo_status scan_inner(scan_nest *s)
{
    hg_graph *g = s->g;
    hg_attr *attr;
    HG_TRY(HG_NEW(g->ctx, 2, &attr));
    attr[0] = hg_attr_make_int("num_scan_inputs", s->n_scan);
    attr[1] = s->directions;
    const hg_node *old = hg_graph_node(g, s->old);
    const hg_node_spec spec = {.op = old->op,
                               .origin = old->origin,
                               .name = old->name,
                               .in = s->in,
                               .n_in = s->n_in,
                               .attr = attr,
                               .n_attr = s->directions.count != 0 ? 2 : 1,
                               .n_out = s->n_out,
                               .n_body = 1};
    HG_TRY(hg_graph_add_node(g, s->batch, 0, &spec, &s->inner));
    hg_graph_swap_bodies(g, s->old, 0, s->inner, 0);
    return HOLO_OK;
}

static holo_status scan_nest_run(scan_nest *s, hg_value_id lengths)
{
    hg_graph *g = s->g;
    HG_TRY(HG_NEW(g->ctx, s->n_in + 1, &s->in));
    HG_TRY(scan_outer(s, lengths));
    const hg_value_id whole = s->in[s->n_in - 1];
    if (s->length != 0) HG_TRY(scan_cut(s));
    HG_TRY(scan_inner(s));
    for (uint32_t j = 0; j < s->n_out; j++) {
        hg_value_id y = hg_graph_node(g, s->inner)->out[j];
        if (s->length != 0 && j >= s->n_in - s->n_scan) HG_TRY(scan_fill(s, whole, &y));
        HG_TRY(hg_graph_add_region_output(g, s->batch, hg_graph_value(g, y)->name, y));
    }
    for (uint32_t j = 0; j < hg_graph_node(g, s->old)->n_out; j++) {
        hg_value_id from = hg_graph_node(g, s->old)->out[j],
                    to = hg_graph_node(g, s->outer)->out[j];
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
    scan_nest s = {
        .g = g, .old = id, .n_in = n->n_in - 1, .n_out = hg_graph_region(g, n->body[0])->n_out};
    const int64_t n_scan = hg_node_int(n, "num_scan_inputs", 0);
    if (n_scan < 1 || n_scan > s.n_in)
        return hg_fail(g->ctx->error, HOLO_E_MODEL,
                       "node '%.*s' (Scan): num_scan_inputs is %lld of %u inputs", HG_STR_ARG(name),
                       (long long)n_scan, s.n_in);
    s.n_scan = (uint32_t)n_scan;
    if (directions != NULL && directions->kind == HG_ATTR_INTS) s.directions = *directions;
    s.directions.name = hg_str_from("scan_input_directions");
    return scan_nest_run(&s, hg_node_in(g, n, 0));
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
