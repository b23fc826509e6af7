/* place_tables.c - a table beside a movement stands where there are fewer elements.
 *
 *   x -> Expand, Tile, Gather, Resize -> Table     becomes  x -> Table -> Expand ...
 *   x -> Table -> Slice, Gather                    becomes  x -> Slice ... -> Table
 *
 * Behind fuse_lookup: a table that a product takes along costs nothing where it is. Before a
 * movement there may be codes that it leaves out, so only tables with an entry for every code go
 * there, and only those whose entries are not wider than codes. */
#include "pass/pass.h"
#include "table/table.h"

/* Elements, when they are known. */
static bool place_count(const hg_graph *g, hg_value_id v, int64_t *out)
{
    const hg_type *t = &hg_graph_value(g, v)->type;
    *out = 1;
    for (int32_t k = 0; k < t->rank; k++) {
        int64_t n;
        if (!hg_dim_is_const(&g->dims, t->dim[k], &n) || !hg_mul_i64(*out, n, out)) return false;
    }
    return true;
}

static bool place_is_move(const hg_graph *g, hg_node_id id)
{
    const hg_node *n = id == 0 ? NULL : hg_graph_node(g, id);
    return n != NULL && n->region == HG_REGION_MAIN && n->n_out == 1 && hg_chain_is_move(n) &&
           !hg_graph_is_const(g, hg_node_in(g, n, 0));
}

static bool place_is_whole(const hg_graph *g, const hg_node *table)
{
    const hg_type *codes = &hg_graph_value(g, hg_node_in(g, table, 0))->type,
                  *t = &hg_graph_value(g, hg_node_in(g, table, 1))->type;
    return hg_dtype_bits(codes->dtype) == hg_dtype_bits(t->dtype) &&
           (hg_node_int(table, "classes", 0) != 0 ||
            hg_dim_is(&g->dims, t->dim[0], hg_domain_all(codes->dtype).count));
}

static hg_value_id place_lookup(hg_build *b, const hg_node *table, hg_value_id codes)
{
    const hg_value_id in[2] = {codes, hg_node_in(b->g, table, 1)};
    const hg_attr attr[3] = {hg_attr_make_int("axis", 0),
                             hg_attr_make_int("base", hg_node_int(table, "base", 0)),
                             hg_attr_make_int("classes", hg_node_int(table, "classes", 0))};
    return codes == 0 ? 0 : hg_build_op(b, "holo:Table", in, 2, attr, 3);
}

/* The movement, of other data. */
static hg_value_id place_move(hg_build *b, hg_node_id move, hg_value_id data)
{
    const uint32_t n_in = hg_graph_node(b->g, move)->n_in;
    hg_value_id *in = hg_arena_array(&b->ctx->arena, n_in, sizeof *in);
    if (in == NULL) b->status = hg_fail_nomem(b->ctx->error, n_in * sizeof *in);
    if (in == NULL || data == 0) return 0;
    for (uint32_t i = 0; i < n_in; i++)
        in[i] = i == 0 ? data : hg_node_in(b->g, hg_graph_node(b->g, move), i);
    const hg_node_id made = hg_build_copy(b, move, in, n_in);
    return made == 0 ? 0 : hg_graph_node(b->g, made)->out[0];
}

/* `first` and `last` in the other order, in the place of the later one. */
static holo_status place_exchange(hg_graph *g, hg_node_id table, hg_node_id move, hg_node_id last)
{
    hg_build b;
    hg_build_init(&b, g, last);
    const hg_node_id first = last == table ? move : table;
    const hg_value_id x = hg_node_in(g, hg_graph_node(g, first), 0);
    const hg_value_id made =
        last == table ? place_move(&b, move, place_lookup(&b, hg_graph_node(g, table), x))
                      : place_lookup(&b, hg_graph_node(g, table), place_move(&b, move, x));
    if (made == 0) return b.status;
    hg_build_replace(&b, 0, made);
    hg_graph_remove_node(g, last);
    hg_graph_remove_node(g, first);
    return b.status;
}

static holo_status place_table(hg_graph *g, hg_node_id table, bool *done)
{
    const hg_node *t = hg_graph_node(g, table);
    const hg_value_id codes = hg_node_in(g, t, 0), made = t->out[0];
    const hg_node_id before = hg_graph_value(g, codes)->node, user = hg_graph_only_user(g, made);
    int64_t n, m;
    *done = false;
    if (hg_graph_value(g, hg_node_in(g, t, 1))->type.rank != 1 || !place_count(g, codes, &n))
        return HOLO_OK;
    if (place_is_move(g, before) && hg_graph_only_user(g, codes) == table && place_is_whole(g, t) &&
        place_count(g, hg_node_in(g, hg_graph_node(g, before), 0), &m) && m < n) {
        *done = true;
        return place_exchange(g, table, before, table);
    }
    if (place_is_move(g, user) && hg_node_in(g, hg_graph_node(g, user), 0) == made &&
        place_count(g, hg_graph_node(g, user)->out[0], &m) && m < n) {
        *done = true;
        return place_exchange(g, table, user, user);
    }
    return HOLO_OK;
}

static bool place_next(const hg_graph *g, hg_node_id *id)
{
    while (*id != 0 && !hg_op_is(hg_graph_node(g, *id), "holo:Table"))
        *id = hg_graph_node(g, *id)->next;
    return *id != 0;
}

/* Elements become fewer with every exchange, so this ends; it begins again after each, since nodes
 * have gone. */
static holo_status place_run(hg_graph *g, bool *changed)
{
    if ((g->ctx->flags & HOLO_COMPILE_KEEP_VALUES) != 0) return HOLO_OK;
    hg_node_id id = hg_graph_region(g, HG_REGION_MAIN)->first;
    while (place_next(g, &id)) {
        bool done;
        HG_TRY(place_table(g, id, &done));
        *changed |= done;
        id = done ? hg_graph_region(g, HG_REGION_MAIN)->first : hg_graph_node(g, id)->next;
    }
    return HOLO_OK;
}

const hg_pass hg_pass_place_tables = {
    .name = "place_tables",
    .brief = "a table beside a movement stands where there are fewer elements",
    .run = place_run,
};
