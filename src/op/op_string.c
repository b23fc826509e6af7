/* op_string.c - what operators on strings share. */
#include "op/op_string.h"

hg_value_id hg_build_strings(hg_build *b, const hg_str *texts, uint32_t count)
{
    holo_string *item;
    hg_value_id id = 0;
    hg_type type = {.dtype = HOLO_STRING, .rank = 1};
    if (b->status != HOLO_OK) return 0;
    type.dim[0] = hg_dim_const(&b->g->dims, count);
    b->status = HG_NEW(b->ctx, (size_t)count + 1, &item);
    if (b->status != HOLO_OK) return 0;
    for (uint32_t i = 0; i < count; i++)
        item[i] = (holo_string){texts[i].length == 0 ? "" : texts[i].text, texts[i].length};
    b->status = hg_graph_add_const(b->g, (hg_str){0}, type, item, count * sizeof *item, &id);
    return b->status == HOLO_OK ? id : 0;
}
