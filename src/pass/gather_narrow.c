/* gather_narrow.c - Gather(Cast(table)) becomes Cast(Gather(table)), and so do differences and
 * products with constants around it, as a dequantised table has them: only the rows that are read
 * are widened, not the whole table at every run. */
#include "pass/pass.h"

enum { GATHER_DEPTH = 6 };

/* What becomes of a constant beside the table: nothing, where it does not depend on the row. */
typedef enum gather_role { GATHER_NO, GATHER_SAME, GATHER_ROWS } gather_role;

static gather_role gather_role_of(const hg_graph *g, hg_value_id v, const hg_type *table)
{
    const hg_type *t = &hg_graph_value(g, v)->type;
    if (t->rank < table->rank || hg_dim_is(&g->dims, t->dim[0], 1)) return GATHER_SAME;
    return t->rank == table->rank && t->dim[0] == table->dim[0] ? GATHER_ROWS : GATHER_NO;
}

/* A constant, or what a Cast or an Unsqueeze makes of one that stays narrow in the file. */
static bool gather_is_fixed(const hg_graph *g, hg_value_id v)
{
    for (int depth = 0; depth < GATHER_DEPTH && !hg_graph_is_const(g, v); depth++) {
        const hg_node *n = hg_op_producer(g, v, NULL);
        if (n == NULL || !(hg_op_is(n, "Cast") || hg_op_is(n, "Unsqueeze"))) return false;
        v = hg_node_in(g, n, 0);
    }
    return hg_graph_is_const(g, v);
}

/* A narrow constant behind a Cast, and around that at most a few differences and products whose
 * other side is constant. `axis` other than 0: the Cast alone. */
static bool gather_is_table(const hg_graph *g, hg_value_id v, int64_t axis, int depth)
{
    const hg_node *n = hg_op_producer(g, v, NULL);
    if (n == NULL || depth == 0) return false;
    if (hg_op_is(n, "Cast")) {
        const hg_value_id table = hg_node_in(g, n, 0);
        const uint32_t from = hg_dtype_bits(hg_graph_value(g, table)->type.dtype);
        if (!hg_graph_is_const(g, table))
            return axis == 0 && gather_is_table(g, table, 0, depth - 1);
        return from >= 8 && from <= hg_dtype_bits(hg_graph_value(g, v)->type.dtype);
    }
    if (axis != 0 || !(hg_op_is(n, "Sub") || hg_op_is(n, "Mul"))) return false;
    const hg_type *type = &hg_graph_value(g, v)->type;
    const hg_value_id inner = hg_node_in(g, n, 0), beside = hg_node_in(g, n, 1);
    const hg_type *from = &hg_graph_value(g, inner)->type;
    return gather_is_fixed(g, beside) && from->rank == type->rank && from->dim[0] == type->dim[0] &&
           gather_role_of(g, beside, type) != GATHER_NO && gather_is_table(g, inner, 0, depth - 1);
}

static hg_value_id gather_rows(hg_build *b, hg_value_id table)
{
    const hg_node_id made = hg_build_clone(b, (hg_value_id[]){table, hg_build_in(b, 1)}, 2);
    return made == 0 ? 0 : hg_graph_node(b->g, made)->out[0];
}

/* The rows of what gather_is_table has said yes to. */
static hg_value_id gather_build(hg_build *b, hg_value_id v)
{
    hg_graph *g = b->g;
    if (b->status != HOLO_OK) return 0;
    if (hg_graph_is_const(g, v)) return gather_rows(b, v);
    const hg_node *n = hg_op_producer(g, v, NULL);
    const hg_value_id inner = hg_node_in(g, n, 0);
    const char *op = hg_op_is(n, "Sub") ? "Sub" : "Mul";
    const holo_dtype to = hg_graph_value(g, v)->type.dtype;
    if (hg_op_is(n, "Cast")) return hg_build_cast(b, gather_build(b, inner), to);
    hg_value_id beside = hg_node_in(g, n, 1);
    if (gather_role_of(g, beside, &hg_graph_value(g, v)->type) == GATHER_ROWS)
        beside = gather_rows(b, beside);
    return hg_build_2(b, op, gather_build(b, inner), beside);
}

/* Constants beside a table fit its rows while these keep their dimension: a single index drops it.
 */
static bool gather_wants(const hg_graph *g, const hg_node *n)
{
    const bool keeps_rank = hg_graph_value(g, hg_node_in(g, n, 1))->type.rank > 0;
    const int64_t axis = hg_node_int(n, "axis", 0);
    return gather_is_table(g, hg_node_in(g, n, 0), keeps_rank ? axis : -1, GATHER_DEPTH);
}

static holo_status gather_run(hg_graph *g, bool *changed)
{
    for (hg_node_id id = hg_graph_region(g, HG_REGION_MAIN)->first; id != 0;) {
        const hg_node *n = hg_graph_node(g, id);
        const hg_node_id next = n->next;
        if (hg_op_is(n, "Gather") && gather_wants(g, n)) {
            hg_build b;
            hg_build_init(&b, g, id);
            hg_build_replace(&b, 0, gather_build(&b, hg_build_in(&b, 0)));
            HG_TRY(b.status);
            hg_graph_remove_node(g, id);
            *changed = true;
        }
        id = next;
    }
    return HOLO_OK;
}

const hg_pass hg_pass_gather_narrow = {
    .name = "gather_narrow",
    .brief = "rows of a narrow table are widened after they are gathered",
    .run = gather_run,
};
