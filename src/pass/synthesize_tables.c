/* synthesize_tables.c - tables of bytes that a few byte operations equal become these. */
#include "pass/pass.h"
#include "table/table.h"

static holo_status synthesize_run(hg_graph *g, bool *changed)
{
    return hg_table_synthesize(g, false, changed);
}

const hg_pass hg_pass_synthesize_tables = {
    .name = "synthesize_tables",
    .brief = "tables of bytes become a few byte operations where these say the same",
    .run = synthesize_run,
};
