/* origin.c - which value decides another one, element by element. One walk in order of the nodes:
 *
 *   point-wise   where all operands that are not constant have one origin, the result has it
 *   movement     elements lie elsewhere: the same origin in another place
 *   Concat       inputs have an origin each; what follows is computed on each of them
 *   others       the result is codes itself, when its type has few values
 *
 * Of two origins on the way the one with fewer codes wins, then the earlier one. */
#include "table/table.h"

static hg_origin origin_self(hg_value_id value)
{
    return (hg_origin){.from = value, .place = value, .axis = -1, .rows = 1};
}

static bool origin_same_place(const hg_origin *a, const hg_origin *b)
{
    return a->from == b->from && a->place == b->place;
}

static bool origin_same_shape(const hg_type *a, const hg_type *b)
{
    if (a->rank != b->rank) return false;
    for (int32_t k = 0; k < a->rank; k++)
        if (a->dim[k] != b->dim[k] || a->dim[k] == 0) return false;
    return true;
}

/* One number, or one a channel; false when a constant differs along several dimensions. */
static bool origin_add_const(const hg_graph *g, const hg_type *t, int32_t rank, hg_origin *o)
{
    int64_t dim;
    if (t->rank > rank) return false;
    for (int32_t k = 0; k < t->rank; k++) {
        if (!hg_dim_is_const(&g->dims, t->dim[k], &dim) || dim < 1) return false;
        const int32_t axis = k + rank - t->rank;
        if (dim == 1) continue;
        if (o->axis >= 0 && (o->axis != axis || o->rows != dim)) return false;
        o->axis = axis;
        o->rows = dim;
    }
    return true;
}

static bool origin_add(const hg_origin *in, hg_origin *o)
{
    if (in->from == 0) return false;
    if (o->from == 0) {
        const int32_t axis = o->axis;
        const int64_t rows = o->rows;
        *o = *in;
        if (axis < 0) return true;
        if (in->axis >= 0 && (in->axis != axis || in->rows != rows)) return false;
        o->axis = axis;
        o->rows = rows;
        return true;
    }
    if (!origin_same_place(in, o)) return false;
    o->length = (uint32_t)hg_max(o->length, in->length);
    if (in->axis < 0) return true;
    if (o->axis >= 0) return o->axis == in->axis;
    o->axis = in->axis;
    o->rows = in->rows;
    return true;
}

static hg_origin origin_pointwise(const hg_origins *s, const hg_node *n)
{
    const hg_type *out = &hg_graph_value(s->g, n->out[0])->type;
    hg_origin o = {.axis = -1, .rows = 1};
    for (uint32_t i = 0; i < n->n_in; i++) {
        hg_value_id v = hg_node_in(s->g, n, i);
        if (v == 0) continue;
        if (i == 1 && hg_chain_is_table(s->g, n)) continue; /* its entries */
        const hg_type *t = &hg_graph_value(s->g, v)->type;
        const bool fits = hg_graph_is_const(s->g, v)
                              ? origin_add_const(s->g, t, out->rank, &o)
                              : origin_same_shape(t, out) && origin_add(&s->seen[v], &o);
        if (!fits) return (hg_origin){0};
    }
    o.length++;
    return o.from != 0 && o.length <= HG_CHAIN_MAX ? o : (hg_origin){0};
}

/* Channels move along with a Transpose; elsewhere rows of a table could not be told apart. */
static hg_origin origin_move(const hg_origins *s, const hg_node *n, hg_value_id out)
{
    hg_origin o = s->seen[hg_node_in(s->g, n, 0)];
    size_t count;
    if (o.from == 0) return o;
    /* codes that share a byte are no elements of every movement */
    if (hg_op_is(n, "Resize") && hg_domain_bits(hg_graph_value(s->g, o.from)->type.dtype) < 8)
        return (hg_origin){0};
    o.place = out;
    o.length++;
    if (o.length > HG_CHAIN_MAX) return (hg_origin){0};
    if (o.axis < 0) return o;
    const int64_t *perm = hg_node_ints(n, "perm", &count);
    if (!hg_op_is(n, "Transpose") || perm == NULL) return (hg_origin){0};
    for (int32_t k = 0; k < (int32_t)count; k++) {
        if (perm[k] != o.axis) continue;
        o.axis = k;
        return o;
    }
    return (hg_origin){0};
}

/* Every input is decided by fewer codes than it has: then the Concat may as well come last. */
static hg_origin origin_join(const hg_origins *s, const hg_node *n)
{
    uint32_t length = 1;
    for (uint32_t i = 0; i < n->n_in; i++) {
        hg_value_id v = hg_node_in(s->g, n, i);
        if (v == 0 || s->made[v].from == 0 || s->seen[v].from == v) return (hg_origin){0};
        /* rows of the inputs would have to agree with those of what follows */
        if (s->seen[v].axis >= 0) return (hg_origin){0};
        length = (uint32_t)hg_max(length, s->seen[v].length + 1);
    }
    hg_origin o = origin_self(n->out[0]);
    o.joins = true;
    o.length = length;
    return n->n_in > 0 && length <= HG_CHAIN_MAX ? o : (hg_origin){0};
}

/* What readers of a value take as its codes. */
static hg_origin origin_seen(const hg_origins *s, hg_value_id value)
{
    const hg_origin *made = &s->made[value];
    const uint32_t own = hg_domain_bits(hg_graph_value(s->g, value)->type.dtype);
    if (made->joins) return *made;
    if (made->from != 0) {
        const uint32_t bits = hg_domain_bits(hg_graph_value(s->g, made->from)->type.dtype);
        if (own == 0 || bits <= own) return *made;
    }
    return own != 0 ? origin_self(value) : (hg_origin){0};
}

static holo_status origin_node(const hg_origins *s, hg_node_id id)
{
    const hg_node *n = hg_graph_node(s->g, id);
    const bool is_move = hg_chain_is_move(n), is_join = hg_op_is(n, "Concat");
    if (is_move || is_join) HG_TRY(HG_NEW(s->g->ctx, n->n_in + 1, &s->in[id]));
    for (uint32_t i = 0; (is_move || is_join) && i < n->n_in; i++)
        s->in[id][i] = hg_node_in(s->g, n, i);
    for (uint32_t j = 0; j < n->n_out; j++) {
        hg_value_id out = n->out[j];
        if (out == 0) continue;
        if (hg_chain_is_pointwise(s->g, n))
            s->made[out] = origin_pointwise(s, n);
        else if (is_move)
            s->made[out] = origin_move(s, n, out);
        else if (is_join)
            s->made[out] = origin_join(s, n);
        s->seen[out] = origin_seen(s, out);
    }
    return HOLO_OK;
}

holo_status hg_origins_find(hg_graph *g, hg_origins *out)
{
    *out = (hg_origins){.g = g};
    HG_TRY(HG_NEW(g->ctx, g->n_value, &out->made));
    HG_TRY(HG_NEW(g->ctx, g->n_value, &out->seen));
    HG_TRY(HG_NEW(g->ctx, g->n_node, &out->in));
    for (hg_value_id v = 1; v < g->n_value; v++)
        if (hg_graph_value(g, v)->constant == NULL && hg_graph_value(g, v)->node == 0)
            out->seen[v] = origin_seen(out, v);
    for (hg_node_id id = hg_graph_region(g, HG_REGION_MAIN)->first; id != 0;
         id = hg_graph_node(g, id)->next)
        HG_TRY(origin_node(out, id));
    return HOLO_OK;
}
