/* collapse_tables.c - chains over few codes become lookups: runs the table layer. */
#include "pass/pass.h"
#include "table/table.h"

static holo_status collapse_run(hg_graph *g, bool *changed)
{
    if ((g->ctx->flags & HOLO_COMPILE_KEEP_VALUES) != 0) return HOLO_OK;
    return hg_table_collapse(g, false, changed);
}

const hg_pass hg_pass_collapse_tables = {
    .name = "collapse_tables",
    .brief = "chains over 8- and 16-bit codes become table lookups",
    .run = collapse_run,
};
