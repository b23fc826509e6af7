/* palette.h - constants with few different elements as these and one code for each. */
#ifndef HG_TABLE_PALETTE_H
#define HG_TABLE_PALETTE_H

#include "table/table.h"

typedef struct hg_palette {
    void *value; /* `distinct` elements, as bits; in rising order of these */
    void *code;  /* one for each element: its number among them */
    int64_t count, distinct;
    uint32_t size;      /* bytes of an element: 2 or 4 */
    uint32_t code_size; /* bytes of a code: 1 or 2 */
} hg_palette;

/* *pays: codes make it smaller by a quarter or more; otherwise only numbers are set, `distinct` to
 * at most 65,537. Memory is the arena's. */
HG_MUST_CHECK holo_status hg_palette_make(hg_ctx *ctx, const void *data, int64_t count,
                                          uint32_t size, hg_palette *out, bool *pays);
/* Bytes of values and codes. */
uint64_t hg_palette_bytes(const hg_palette *p);

/* Constants that are smaller that way are stored so, and decoded before they are read; what a
 * Gather takes from one is decoded behind it. One line a tensor goes to the log. */
HG_MUST_CHECK holo_status hg_table_palettes(hg_graph *g, bool *changed);

#endif
