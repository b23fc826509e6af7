/* store_palettes.c - with HOLO_COMPILE_PALETTES: constants with few different elements are stored
 * as these and codes. */
#include "pass/pass.h"
#include "table/palette.h"

static holo_status palettes_run(hg_graph *g, bool *changed)
{
    if ((g->ctx->flags & HOLO_COMPILE_PALETTES) == 0) return HOLO_OK;
    return hg_table_palettes(g, changed);
}

const hg_pass hg_pass_store_palettes = {
    .name = "store_palettes",
    .brief = "with --palettes: weights with few different values are stored as these and codes",
    .run = palettes_run,
};
