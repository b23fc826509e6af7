/* loop.c - holo:Loop: repeats a body, which is a graph of its own. */
#include "op/op_body.h"
#include "op/op_gradient.h"

/* Carried values have the type that the body takes them with. */
static holo_status loop_infer_carried(hg_infer *n, const hg_graph *body, uint32_t j)
{
    hg_value_id in = hg_graph_region(body, HG_REGION_MAIN)->in[2 + j];
    return hg_body_type(n, 0, &hg_graph_value(body, in)->type, &n->out[j]);
}

static holo_status loop_infer_collected(hg_infer *n, const hg_graph *body, uint32_t j, hg_dim trips,
                                        bool sequence)
{
    hg_type item;
    HG_TRY(hg_body_type(
        n, 0, &hg_graph_value(body, hg_region_out(body, HG_REGION_MAIN, 1 + j))->type, &item));
    if (sequence) {
        HG_TRY(hg_infer_container(n, j, HOLO_SEQUENCE, &item));
        if (trips != 0) n->out[j].dim[0] = trips;
        return HOLO_OK;
    }
    if (hg_type_is_container(&item))
        return hg_infer_fail(n, HOLO_E_TYPE, "output %u stacks %s", j, holo_dtype_text(item.dtype));
    n->out[j] = (hg_type){.dtype = item.dtype, .rank = HG_RANK_UNKNOWN};
    if (item.rank == HG_RANK_UNKNOWN) return HOLO_OK;
    if (item.rank >= HG_MAX_RANK)
        return hg_infer_fail(n, HOLO_E_UNSUPPORTED,
                             "output %u has rank %d, at most %d is supported", j, item.rank + 1,
                             HG_MAX_RANK);
    n->out[j].rank = item.rank + 1;
    n->out[j].dim[0] = trips;
    memcpy(n->out[j].dim + 1, item.dim, (size_t)item.rank * sizeof item.dim[0]);
    return HOLO_OK;
}

static holo_status loop_infer(hg_infer *n)
{
    const hg_graph *body = hg_body_graph(n->g, n->node, 0);
    uint32_t n_carried = (uint32_t)hg_node_int(n->node, "carried", 0), count;
    size_t n_collect;
    const int64_t *collect = hg_node_ints(n->node, "collect", &n_collect);
    const hg_dim *content;
    hg_dim trips = 0;
    if (hg_node_int(n->node, "counted", 0) == 1 && hg_infer_has(n, 0) &&
        hg_infer_content(n, 0, &content, &count) && count == 1)
        trips = hg_dim_max(n->dims, content[0], hg_dim_const(n->dims, 0));
    for (uint32_t j = 0; j < n->n_out; j++) {
        if (j < n_carried)
            HG_TRY(loop_infer_carried(n, body, j));
        else
            HG_TRY(loop_infer_collected(n, body, j, trips,
                                        j - n_carried < n_collect && collect[j - n_carried] == 1));
        hg_infer_late_rest(n, j);
    }
    return HOLO_OK;
}

static holo_status loop_emit(hg_emit *e)
{
    size_t n_collect;
    const int64_t *collect = hg_node_ints(e->node, "collect", &n_collect);
    HG_TRY(hg_emit_int(e, hg_node_int(e->node, "carried", 0)));
    for (size_t i = 0; i < n_collect; i++)
        HG_TRY(hg_emit_int(e, collect[i]));
    return HOLO_OK;
}

static holo_status loop_gradient(hg_gradient *d)
{
    return hg_gradient_fail(d, "it repeats a body; write the steps one after another, or as RNN, "
                               "GRU or LSTM");
}

const hg_op hg_op_internal_loop = {
    .name = "Loop",
    .domain = "holo",
    .brief = "repeats a body",
    .since = 1,
    .in = {0, -1},
    .out = {0, -1},
    .flags = HG_OP_INTERNAL | HG_OP_EFFECT,
    .infer = loop_infer,
    .kernel = "loop", /* a step of its own: the planner knows it by name */
    .emit = loop_emit,
    .gradient = loop_gradient,
};
