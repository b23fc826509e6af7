/* op_codes.h - constant 8-bit codes: what packings of products and convolutions share. */
#ifndef HG_OP_OP_CODES_H
#define HG_OP_OP_CODES_H

#include "op/op.h"

#define HG_TYPES_CODES (HG_TYPE_BIT(HOLO_U8) | HG_TYPE_BIT(HOLO_I8))

/* Constant weights as columns of codes along k; k = tap * channels + channel. */
typedef struct hg_code_columns {
    hg_value_id value;
    int64_t columns, k, channels; /* channels is at least 1 */
    int64_t column_step, channel_step, tap_step;
} hg_code_columns;

/* |w1| + |w2| <= 128 for codes 2 i and 2 i + 1 of every column, as signed codes (unsigned ones less
 * 128): then sums of two products with any unsigned code fit 16 bits. */
bool hg_codes_are_pairs(const hg_graph *g, const hg_code_columns *c);
/* Zero points of columns: absent or constant, one or one for each column. */
bool hg_codes_zero_fits(const hg_graph *g, hg_value_id zero, int64_t columns);
/* The same as [columns] i32, as of signed codes of type `codes`; 0 when all are 0. */
hg_value_id hg_build_codes_zero(hg_build *b, hg_value_id zero, holo_dtype codes, int64_t columns);
/* Attributes of an 8-bit product: with "load" its last input is a table [256] for its left side,
 * with "lookup" the one before that, or the last, is one for the result. */
HG_MUST_CHECK holo_status hg_infer_lookup(const hg_infer *n);
/* How many tables a product has. */
uint32_t hg_codes_tables(const hg_node *n);
/* A holo:Table with one row of an entry of the codes' own type for each byte. */
bool hg_codes_table_fits(const hg_graph *g, const hg_node *n);
/* The product with `x` as its left side, one more table, and attribute `name` for it. */
hg_node_id hg_build_codes_table(hg_build *b, hg_node_id product, hg_value_id x, hg_value_id table,
                                const char *name);
/* Parameter "form" of the kernels (kernel/igemm.h), from attributes "pairs", "lookup", "load". */
HG_MUST_CHECK holo_status hg_emit_igemm_form(hg_emit *e);

#endif
