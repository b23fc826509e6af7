/* gather_narrow.c - Gather(Cast(table)) becomes Cast(Gather(table)): only the rows that are read
 * are widened, not the whole table at every run. */
#include "pass/pass.h"

/* The constant behind a Cast, when Gather of it moves fewer bytes. */
static hg_value_id gather_table(const hg_graph *g, const hg_node *n)
{
    hg_node_id id = hg_graph_value(g, hg_node_in(g, n, 0))->node;
    if (id == 0 || !hg_op_is(hg_graph_node(g, id), "Cast")) return 0;
    hg_value_id table = hg_node_in(g, hg_graph_node(g, id), 0);
    const hg_type *from = &hg_graph_value(g, table)->type;
    const hg_type *to = &hg_graph_value(g, hg_node_in(g, n, 0))->type;
    bool narrower =
        hg_dtype_bits(from->dtype) >= 8 && hg_dtype_bits(from->dtype) <= hg_dtype_bits(to->dtype);
    return hg_graph_is_const(g, table) && narrower ? table : 0;
}

static holo_status gather_run(hg_graph *g, bool *changed)
{
    for (hg_node_id id = hg_graph_region(g, HG_REGION_MAIN)->first; id != 0;) {
        const hg_node *n = hg_graph_node(g, id);
        hg_node_id next = n->next;
        hg_value_id table = hg_op_is(n, "Gather") ? gather_table(g, n) : 0;
        if (table != 0) {
            hg_build b;
            hg_build_init(&b, g, id);
            holo_dtype to = hg_graph_value(g, n->out[0])->type.dtype;
            hg_node_id made = hg_build_clone(&b, (hg_value_id[]){table, hg_build_in(&b, 1)}, 2);
            if (made == 0) return b.status;
            hg_build_replace(&b, 0, hg_build_cast(&b, hg_graph_node(g, made)->out[0], to));
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
