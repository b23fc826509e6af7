/* check_shapes.c - nodes of which nothing is read but the shape are checked like the others.
 *
 * Their kernels, which would say that sizes do not fit, never run: Shape(Add(a, b)) is computed
 * from the sizes of a and b alone. What their shape rules could not decide is compared by steps. */
#include "pass/pass.h"

typedef struct check_marks {
    bool *live, *data; /* by value: it is used; its elements are */
} check_marks;

static holo_status check_begin(hg_graph *g, check_marks *m)
{
    const hg_region *r = hg_graph_region(g, HG_REGION_MAIN);
    HG_TRY(HG_NEW(g->ctx, g->n_value + 1, &m->live));
    HG_TRY(HG_NEW(g->ctx, g->n_value + 1, &m->data));
    for (size_t i = 1; i < g->n_value; i++)
        m->live[i] = hg_graph_value(g, (hg_value_id)i)->is_asked;
    for (uint32_t j = 0; j < r->n_out; j++)
        m->live[hg_region_out(g, HG_REGION_MAIN, j)] =
            m->data[hg_region_out(g, HG_REGION_MAIN, j)] = true;
    for (size_t i = 0; i < g->dims.n_symbol; i++)
        if (g->dims.symbol[i].kind != HG_SYMBOL_INPUT)
            m->live[g->dims.symbol[i].value] = m->data[g->dims.symbol[i].value] = true;
    return HOLO_OK;
}

static bool check_reads(const hg_graph *g, const hg_node *n)
{
    if ((n->op->flags & HG_OP_SHAPE_ONLY) != 0) return false;
    return n->n_out != 1 || n->out[0] == 0 || !hg_shapes_known(g, n->out[0]);
}

static holo_status check_run(hg_graph *g, bool *changed)
{
    check_marks m;
    (void)changed; /* what is kept lies beside the graph */
    HG_TRY(check_begin(g, &m));
    for (hg_node_id id = hg_graph_region(g, HG_REGION_MAIN)->last; id != 0;) {
        const hg_node *n = hg_graph_node(g, id);
        const hg_node_id prev = n->prev;
        bool live = (n->op->flags & HG_OP_EFFECT) != 0, data = live;
        for (uint32_t j = 0; j < n->n_out; j++) {
            live |= n->out[j] != 0 && m.live[n->out[j]];
            data |= n->out[j] != 0 && m.data[n->out[j]];
        }
        const bool reads = data && check_reads(g, n);
        for (uint32_t i = 0; live && i < n->n_in; i++) {
            const hg_value_id v = hg_node_in(g, n, i);
            m.live[v] = true;
            m.data[v] |= reads;
        }
        if (live && !data) HG_TRY(hg_op_demand(g, id));
        id = prev;
    }
    return HOLO_OK;
}

const hg_pass hg_pass_check_shapes = {
    .name = "check_shapes",
    .brief = "sizes of nodes that are only asked for their shape are compared by steps",
    .flags = HG_PASS_ALWAYS,
    .run = check_run,
};
