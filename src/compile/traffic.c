/* traffic.c - bytes moved by the nodes of a graph, with open sizes taken as a round number. */
#include "compile/traffic.h"

#include "base/dtype.h"
#include "op/op_copy.h"

/* What one counting knows: every expression's worth, 0 where it has none, and whether data decide
 * it; which values are computed from constants alone. */
typedef struct traffic {
    const hg_graph *g;
    int64_t *size;
    bool *of_data, *is_fixed;
    hg_traffic sum;
} traffic;

static int64_t traffic_open(const hg_symbol *s)
{
    return s->at_most >= 0 && s->at_most < HG_TRAFFIC_OPEN ? s->at_most : HG_TRAFFIC_OPEN;
}

static void traffic_sizes(traffic *t)
{
    const hg_dims *d = &t->g->dims;
    for (size_t i = 1; i < d->count; i++) {
        const hg_dim_rec *r = &d->rec[i];
        if (r->op == HG_DIM_CONST) {
            t->size[i] = r->value;
        } else if (r->op == HG_DIM_SYMBOL) {
            t->size[i] = traffic_open(&d->symbol[r->value]);
            t->of_data[i] = d->symbol[r->value].kind != HG_SYMBOL_INPUT;
        } else {
            if (!hg_dim_eval_op((hg_dim_op)r->op, t->size[r->a], t->size[r->b], t->size[r->c],
                                &t->size[i]))
                t->size[i] = 0;
            t->of_data[i] = t->of_data[r->a] || t->of_data[r->b] || t->of_data[r->c];
        }
    }
}

static uint64_t traffic_add(uint64_t a, uint64_t b)
{
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

/* Containers and tensors of unknown rank count as nothing. */
static uint64_t traffic_value(traffic *t, hg_value_id id)
{
    if (id == 0) return 0; /* an input left out */
    const hg_type *type = &hg_graph_value(t->g, id)->type;
    if (type->rank < 0 || type->dtype >= HOLO_SEQUENCE) return 0;
    uint64_t count = 1;
    for (int32_t k = 0; k < type->rank; k++) {
        const int64_t dim = t->size[type->dim[k]];
        t->sum.depends_on_data |= t->of_data[type->dim[k]];
        if (dim <= 0) return 0;
        if (count > UINT64_MAX / 64 / (uint64_t)dim) return UINT64_MAX;
        count *= (uint64_t)dim;
    }
    return (count * hg_dtype_bits(type->dtype) + 7) / 8;
}

/* A node that picks elements reads no more of a tensor than it writes. */
static bool traffic_picks(const hg_op *op)
{
    return op->kernel != NULL && strncmp(op->kernel, "gather", 6) == 0;
}

static void traffic_node(traffic *t, hg_node_id id)
{
    const hg_node *n = hg_graph_node(t->g, id);
    const uint32_t rest = t->g->at_rest == NULL ? 0 : t->g->at_rest[id];
    uint64_t written = 0;
    if (n->op->emit == hg_emit_same_elements || rest == 1) return;
    if (rest > 1) { /* one input of a Concat, read and written */
        const uint64_t bytes = traffic_value(t, hg_node_in(t->g, n, rest - 2));
        t->sum.bytes = traffic_add(t->sum.bytes, traffic_add(bytes, bytes));
        return;
    }
    for (uint32_t j = 0; j < n->n_out; j++)
        written = traffic_add(written, traffic_value(t, n->out[j]));
    for (uint32_t i = 0; i < n->n_in; i++) {
        uint64_t read = traffic_value(t, hg_node_in(t->g, n, i));
        if (traffic_picks(n->op) && read > written) read = written;
        t->sum.bytes = traffic_add(t->sum.bytes, read);
    }
    t->sum.bytes = traffic_add(t->sum.bytes, written);
}

/* Nodes of constants alone work at compile time: packing, and what folds. */
static bool traffic_is_fixed(traffic *t, const hg_node *n)
{
    bool fixed = n->n_in != 0;
    for (uint32_t i = 0; i < n->n_in; i++) {
        const hg_value_id in = hg_node_in(t->g, n, i);
        fixed &= in == 0 || t->is_fixed[in] || hg_graph_value(t->g, in)->constant != NULL;
    }
    for (uint32_t j = 0; j < n->n_out; j++)
        t->is_fixed[n->out[j]] = fixed;
    return fixed;
}

holo_status hg_traffic_count(const hg_graph *g, hg_traffic *out)
{
    traffic t = {.g = g};
    HG_TRY(HG_NEW(g->ctx, g->dims.count + 1, &t.size));
    HG_TRY(HG_NEW(g->ctx, g->dims.count + 1, &t.of_data));
    HG_TRY(HG_NEW(g->ctx, g->n_value + 1, &t.is_fixed));
    traffic_sizes(&t);
    for (hg_node_id id = hg_graph_region(g, HG_REGION_MAIN)->first; id != 0;
         id = hg_graph_node(g, id)->next)
        if (!traffic_is_fixed(&t, hg_graph_node(g, id))) traffic_node(&t, id);
    for (size_t i = 0; i < g->n_child; i++) {
        hg_traffic body;
        HG_TRY(hg_traffic_count(g->child[i], &body));
        t.sum.bytes = traffic_add(t.sum.bytes, body.bytes);
        t.sum.depends_on_data |= body.depends_on_data;
    }
    *out = t.sum;
    return HOLO_OK;
}
