/* sink_reshape.c - a Reshape between a convolution and point-wise work moves behind that work:
 *
 *     f(Reshape(y), r)  ->  Reshape(f(y, Reshape(r)))
 *
 * Convolutions of one dimension are seen as those of two, so that a Reshape follows each of them;
 * behind the point-wise work it meets the one of the next convolution, and the work becomes an
 * epilogue. */
#include "pass/pass.h"
#include "pass/regroup.h"

enum { SINK_DEPTH = 32 };

static hg_node_id sink_producer(const hg_graph *g, hg_value_id v)
{
    return v == 0 ? 0 : hg_graph_value(g, v)->node;
}

static bool sink_is_pointwise(const hg_node *n)
{
    return n->op->lane != NULL && n->n_out == 1;
}

/* What made y, with only point-wise work of the same shape between; 0: an input, or too far away.
 */
static hg_node_id sink_origin(const hg_graph *g, hg_value_id y)
{
    for (int depth = 0; depth < SINK_DEPTH; depth++) {
        const hg_node_id id = sink_producer(g, y);
        if (id == 0 || !sink_is_pointwise(hg_graph_node(g, id))) return id;
        const hg_node *n = hg_graph_node(g, id);
        y = hg_node_in(g, n, hg_graph_is_const(g, hg_node_in(g, n, 0)) ? 1 : 0);
    }
    return 0;
}

static bool sink_is_conv(const hg_graph *g, hg_value_id y)
{
    const hg_node_id id = sink_origin(g, y);
    const hg_node *n = id == 0 ? NULL : hg_graph_node(g, id);
    return n != NULL && (hg_op_is(n, "holo:ConvNhwc") || hg_op_is(n, "holo:ConvDw"));
}

/* Point-wise work on it becomes its epilogue where it is, and would not behind a Reshape. */
static bool sink_is_product(const hg_graph *g, hg_value_id v)
{
    const hg_node_id id = sink_origin(g, v);
    const hg_node *n = id == 0 ? NULL : hg_graph_node(g, id);
    return n != NULL && (hg_op_is(n, "holo:MatMulP16") || hg_op_is(n, "MatMul"));
}

/* The convolution's result under other leading dimensions: where Reshape `v` has it from; else 0.
 */
static hg_value_id sink_source(const hg_graph *g, hg_value_id v)
{
    const hg_node_id id = sink_producer(g, v);
    if (id == 0 || !hg_regroup_is_reshape(hg_graph_node(g, id))) return 0;
    const hg_value_id y = hg_node_in(g, hg_graph_node(g, id), 0);
    const hg_type *from = &hg_graph_value(g, y)->type, *to = &hg_graph_value(g, v)->type;
    if (from->rank < 1 || to->rank < 1 || from->dim[from->rank - 1] != to->dim[to->rank - 1])
        return 0;
    return sink_is_conv(g, y) ? y : 0;
}

/* The same dims. */
static bool sink_same(const hg_type *a, const hg_type *b)
{
    bool same = a->rank == b->rank;
    for (int32_t k = 0; same && k < a->rank; k++)
        same = a->dim[k] == b->dim[k];
    return same;
}

/* Broadcast along everything but columns: the same under any leading dimensions. */
static bool sink_is_row(const hg_graph *g, const hg_type *t)
{
    for (int32_t k = 0; k + 1 < t->rank; k++)
        if (!hg_dim_is(&g->dims, t->dim[k], 1)) return false;
    return true;
}

/* Input v under the dims of y. */
static hg_value_id sink_input(hg_build *b, hg_value_id v, const hg_type *whole, const hg_type *to)
{
    const hg_type *t = v == 0 ? NULL : hg_build_type(b, v);
    if (t == NULL || t->rank == 0) return v;
    if (!sink_same(t, whole)) return hg_build_reshape(b, v, &t->dim[t->rank - 1], 1);
    const hg_node_id id = sink_producer(b->g, v);
    if (id != 0 && hg_regroup_is_reshape(hg_graph_node(b->g, id))) {
        const hg_value_id source = hg_node_in(b->g, hg_graph_node(b->g, id), 0);
        if (sink_same(hg_build_type(b, source), to)) return source;
    }
    return hg_build_reshape(b, v, to->dim, (uint32_t)to->rank);
}

/* The result of the convolution that point-wise node n reads through a Reshape; 0: none, or an
 * input that cannot be seen under its dims or has a better use for n. */
static hg_value_id sink_wanted(const hg_graph *g, const hg_node *n)
{
    const hg_type *whole = &hg_graph_value(g, n->out[0])->type;
    hg_value_id y = 0;
    for (uint32_t i = 0; i < n->n_in; i++) {
        const hg_value_id v = hg_node_in(g, n, i);
        if (v == 0) continue;
        const hg_type *t = &hg_graph_value(g, v)->type;
        if (sink_same(t, whole)) {
            if (sink_is_product(g, v)) return 0;
            if (y == 0) y = sink_source(g, v);
        } else if (!sink_is_row(g, t)) {
            return 0;
        }
    }
    return y;
}

static holo_status sink_node(hg_graph *g, hg_node_id id, hg_value_id y)
{
    hg_build b;
    hg_build_init(&b, g, id);
    const hg_type whole = hg_graph_value(g, b.node->out[0])->type, to = hg_graph_value(g, y)->type;
    const uint32_t n_in = b.node->n_in;
    hg_value_id *in;
    HG_TRY(HG_NEW(g->ctx, n_in + 1, &in));
    for (uint32_t i = 0; i < n_in; i++)
        in[i] = sink_input(&b, hg_build_in(&b, i), &whole, &to);
    const hg_node_id made = b.status == HOLO_OK ? hg_build_clone(&b, in, n_in) : 0;
    if (made == 0) return b.status;
    const hg_value_id out = hg_graph_node(g, made)->out[0];
    hg_build_replace(&b, 0, hg_build_reshape(&b, out, whole.dim, (uint32_t)whole.rank));
    if (b.status == HOLO_OK) hg_graph_remove_node(g, id);
    return b.status;
}

/* Reshape(Reshape(x)) as large as x is x. */
static holo_status sink_undo(hg_graph *g, hg_node_id id, bool *changed)
{
    const hg_node *n = hg_graph_node(g, id);
    const hg_node_id inner = sink_producer(g, hg_node_in(g, n, 0));
    if (inner == 0 || !hg_regroup_is_reshape(hg_graph_node(g, inner))) return HOLO_OK;
    const hg_value_id x = hg_node_in(g, hg_graph_node(g, inner), 0);
    if (!hg_type_equal(&hg_graph_value(g, x)->type, &hg_graph_value(g, n->out[0])->type))
        return HOLO_OK;
    hg_build b;
    hg_build_init(&b, g, id);
    hg_build_replace(&b, 0, x);
    if (b.status == HOLO_OK) hg_graph_remove_node(g, id);
    *changed = true;
    return b.status;
}

static holo_status sink_run(hg_graph *g, bool *changed)
{
    if ((g->ctx->flags & HOLO_COMPILE_KEEP_VALUES) != 0) return HOLO_OK;
    for (hg_node_id id = hg_graph_region(g, HG_REGION_MAIN)->first; id != 0;) {
        const hg_node *n = hg_graph_node(g, id);
        const hg_node_id next = n->next;
        if (hg_regroup_is_reshape(n)) {
            HG_TRY(sink_undo(g, id, changed));
        } else if (sink_is_pointwise(n)) {
            const hg_value_id y = sink_wanted(g, n);
            if (y != 0) HG_TRY(sink_node(g, id, y));
            *changed |= y != 0;
        }
        id = next;
    }
    return HOLO_OK;
}

const hg_pass hg_pass_sink_reshape = {
    .name = "sink_reshape",
    .brief = "a Reshape between a convolution and point-wise work moves behind the work",
    .flags = HG_PASS_TUNED,
    .run = sink_run,
};
