/* table.h - READ THIS FIRST: lookup instead of arithmetic where that is exact.
 *
 *   origin    which value decides another one element by element (origin.c)
 *   chain     everything between the two, as a small graph of its own on all codes (chain.c)
 *   table     what the chain says about every code, checked against the chain (entries.c)
 *   narrow    fewer entries, where other codes cannot come or differ in nothing (narrow.c, range.c)
 *   collapse  tables in place of chains, where that costs less (collapse.c, cost.c)
 *   program   a few byte operations in place of a table, where these say the same (synth.c)
 *   proof     the chain in text form, and what re-derives the table from it (cert.c, prove.c)
 *
 * A code is the bits of an element as an unsigned number. Tables hold what the reference kernels
 * compute along the chain, each operator rounded to its own type; tuned kernels that round
 * otherwise (--numerics fast) are allowed to differ from that, tables do not. */
#ifndef HG_TABLE_TABLE_H
#define HG_TABLE_TABLE_H

#include "op/op.h"

/* ---- domains (domain.c) ----------------------------------------------------------------------
 */

/* Bits of a type whose elements are codes: 2, 4, 8 or 16; 0 when it has too many values. */
uint32_t hg_domain_bits(holo_dtype dtype);
/* A table may have entries of this type. */
bool hg_domain_is_entry(holo_dtype dtype);

/* Codes base .. base + count - 1. */
typedef struct hg_alphabet {
    int64_t base, count;
} hg_alphabet;

hg_alphabet hg_domain_all(holo_dtype dtype);
/* Writes `rows` times the codes, as elements of the type. */
void hg_domain_fill(holo_dtype dtype, hg_alphabet codes, int64_t rows, void *data);

/* ---- chains (chain.c) ------------------------------------------------------------------------
 */

/* A Concat on the way: its result is seen as its input number `input`. */
typedef struct hg_chain_pick {
    hg_value_id joined;
    uint32_t input;
} hg_chain_pick;

enum { HG_CHAIN_PICKS = 8, HG_CHAIN_MAX = 1000 };

/* Where a chain begins and ends in its graph. */
typedef struct hg_chain_span {
    hg_value_id from, to;
    int64_t rows; /* per-channel constants have so many elements; otherwise 1 */
    hg_alphabet codes;
    hg_chain_pick pick[HG_CHAIN_PICKS];
    uint32_t n_pick;
} hg_chain_span;

/* The nodes between as a graph of their own, with one input and one result of [rows, entries].
 * Movement of data is left out. Its memory is its own. */
typedef struct hg_chain {
    hg_ctx ctx;
    holo_error error; /* of the chain alone: giving up on one is no failure */
    hg_graph g;
    hg_value_id in;
    holo_dtype from, to;
    int64_t rows;
    hg_alphabet codes;
    bool has_table; /* then it is no lane code */
} hg_chain;

/* Always end with hg_chain_deinit. A chain that cannot be made has status E_LIMIT. */
HG_MUST_CHECK holo_status hg_chain_init(hg_chain *c, const hg_graph *g, const hg_chain_span *span);
/* Memory and error alone. */
void hg_chain_open(hg_chain *c, const hg_graph *g);
void hg_chain_deinit(hg_chain *c);
hg_value_id hg_chain_result(const hg_chain *c);
/* The whole chain as one body: operand 0 is the codes, then operand[k - 1] a constant. */
HG_MUST_CHECK holo_status hg_chain_code(hg_chain *c, hg_lane_code *code, hg_value_id **operand);
/* Text form with all constants listed; in the arena of the chain. */
HG_MUST_CHECK holo_status hg_chain_text(hg_chain *c, hg_str *out);
/* Lane code of a point-wise node, which is no holo:Table. */
HG_MUST_CHECK holo_status hg_chain_node_code(hg_graph *g, hg_node_id id, hg_lane_code *code);
/* Nodes of a graph that a chain may have: point-wise, with one result; tables too. */
bool hg_chain_is_pointwise(const hg_graph *g, const hg_node *n);
/* A holo:Table with one row. */
bool hg_chain_is_table(const hg_graph *g, const hg_node *n);
/* Moves elements of its first input and leaves them as they are. */
bool hg_chain_is_move(const hg_node *n);

/* ---- entries (entries.c) ----------------------------------------------------------------------
 */

/* [rows, entries] of type `to`. */
typedef struct hg_entries {
    void *data;
    size_t bytes;
    int64_t rows, count; /* entries of a row */
    int64_t base;
    bool classes; /* entry k belongs to Atlas class k */
} hg_entries;

/* What the fused chain gives for every code. *faults: some code would stop a run. The memory is
 * the chain's. */
HG_MUST_CHECK holo_status hg_entries_make(hg_chain *c, const hg_lane_code *code,
                                          const hg_value_id *operand, hg_entries *out,
                                          bool *faults);
/* What the nodes give, each in turn by the reference kernels. The chain is used up. */
HG_MUST_CHECK holo_status hg_entries_step(hg_chain *c, hg_entries *out);
/* The same, compared with a table: the first entry that differs, or -1. */
HG_MUST_CHECK holo_status hg_entries_compare(hg_chain *c, const hg_entries *table, int64_t *where);
/* The same; E_BUG when an entry differs. */
HG_MUST_CHECK holo_status hg_entries_check(hg_chain *c, const hg_entries *table);
/* Elements are equal bit by bit, or both NaN. */
bool hg_entries_equal(holo_dtype dtype, const void *a, const void *b, int64_t count,
                      int64_t *where);

/* ---- origins (origin.c) ----------------------------------------------------------------------
 */

/* What decides a value, element by element. */
typedef struct hg_origin {
    hg_value_id from;  /* whose codes; 0: nothing so small */
    hg_value_id place; /* from itself, or the result of the last movement: elements lie as there */
    int32_t axis;      /* of the value: dimension of the per-channel constants, -1 for none */
    int64_t rows;      /* its size, otherwise 1 */
    uint32_t length;   /* nodes on the longest way, at most HG_CHAIN_MAX */
    bool joins;        /* from is a Concat, whose inputs have origins of their own */
} hg_origin;

/* By value. `made`: how a value can be looked up; `seen`: the same for what reads it, which may
 * also take the value itself as the codes. */
typedef struct hg_origins {
    const hg_graph *g;
    hg_origin *made, *seen;
    hg_value_id **in; /* by node that moves or joins: its inputs as they were */
} hg_origins;

HG_MUST_CHECK holo_status hg_origins_find(hg_graph *g, hg_origins *out);

/* ---- narrowing (range.c, narrow.c) -----------------------------------------------------------
 */

/* Codes that a point-wise value can have, with the nodes that show it as text; all codes and no
 * text when nothing is known. Other failures than E_NOMEM are none. */
HG_MUST_CHECK holo_status hg_range_find(const hg_graph *g, hg_value_id value, hg_arena *arena,
                                        hg_alphabet *codes, hg_str *proof);
/* The same for the result of such a text, parsed and inferred. */
HG_MUST_CHECK holo_status hg_range_codes(hg_graph *g, hg_alphabet *out);
/* The codes that a table has entries for. */
hg_alphabet hg_narrow_codes(hg_alphabet range, hg_alphabet all);
/* Rows that are all the same are one; a function that is constant on Atlas classes has an entry for
 * each of these; in place. */
void hg_narrow_rows(hg_entries *t);
void hg_narrow_classes(hg_entries *t);
bool hg_narrow_is_identity(holo_dtype from, holo_dtype to, const hg_entries *t);

/* ---- collapse (collapse.c, cost.c) -----------------------------------------------------------
 */

/* Nanoseconds for one element: as lane code, by the table, and for bytes that are written and read
 * again only because a table stands alone where lane code would have joined its neighbours. */
double hg_cost_lane(const hg_lane_code *code, holo_dtype from, holo_dtype to);
/* inner: codes in turn that one row of several is for. */
double hg_cost_table(holo_dtype from, holo_dtype to, const hg_entries *table, double inner);
/* By a program of byte operations; `checks`: codes can come that have no entry. */
double hg_cost_program(uint32_t weight, bool checks);
double hg_cost_bytes(uint32_t bits);
/* Nanoseconds to bring a table into the caches: what a use costs beside its elements. */
double hg_cost_cold(const hg_entries *table);

/* Tables in place of chains, where that costs less; or always, for tests. */
HG_MUST_CHECK holo_status hg_table_collapse(hg_graph *g, bool always, bool *changed);
/* Programs in place of tables of bytes, likewise (synthesize.c). */
HG_MUST_CHECK holo_status hg_table_synthesize(hg_graph *g, bool always, bool *changed);

#endif
