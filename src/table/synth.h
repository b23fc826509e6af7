/* synth.h - programs of byte operations instead of tables. */
#ifndef HG_TABLE_SYNTH_H
#define HG_TABLE_SYNTH_H

#include "isa/byteops.h"
#include "table/table.h"

/* The lightest program that the search finds, of weight `most` at most, with entry[code] for each
 * of the codes; 256 entries. The same table always has the same program. */
HG_MUST_CHECK holo_status hg_synth_find(hg_ctx *ctx, const uint8_t *entry, hg_alphabet codes,
                                        uint32_t most, hg_byteops *out, bool *found);

#endif
