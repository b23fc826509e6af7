/* graph.h - READ THIS FIRST: the IR. Values, nodes and regions in SSA form.
 *
 *   value    what flows: a type (element type, dimensions as expressions), perhaps a constant,
 *            perhaps known contents as expressions (the numbers in a shape tensor)
 *   node     an operator applied to values, with attributes and regions (bodies of If, Loop, Scan)
 *   region   an ordered list of nodes with inputs and outputs; region 1 is the graph itself
 *
 * Everything is an index, never a pointer: ids survive growth and print nicely; 0 means none. Nodes
 * of a region form a doubly linked list in execution order. A value is defined once: by a node, as
 * a region input, or as a constant. A region may use values of the regions around it. */
#ifndef HG_GRAPH_GRAPH_H
#define HG_GRAPH_GRAPH_H

#include "base/ctx.h"
#include "base/map.h"
#include "isa/dim.h"
#include "isa/lane.h"

typedef uint32_t hg_value_id;
typedef uint32_t hg_node_id;
typedef uint32_t hg_region_id;

struct hg_op;

enum { HG_RANK_UNKNOWN = -1 };

/* A dim of 0 is unknown so far; rank HG_RANK_UNKNOWN likewise. For containers dtype is
 * HOLO_SEQUENCE, HOLO_OPTIONAL or HOLO_MAP and `item` is the element (key type of maps in `key`).
 */
typedef struct hg_type hg_type;
struct hg_type {
    holo_dtype dtype; /* HOLO_NONE: unknown, or an absent optional */
    int32_t rank;
    hg_dim dim[HG_MAX_RANK];
    const hg_type *item;
    holo_dtype key;
};

/* Bytes of a constant: a view into the mapped model or arena memory. Row-major, little-endian,
 * strings as holo_string. */
typedef struct hg_const {
    const void *data;
    size_t bytes;
    uint64_t hash; /* of the bytes; 0 until somebody asks (hg_graph_const_content) */
} hg_const;

typedef struct hg_value {
    hg_str name;
    hg_type type;
    hg_node_id node;     /* producer, or 0 */
    uint32_t index;      /* which output of it; or which input of the region */
    hg_region_id region; /* set for region inputs */
    const hg_const *constant;
    const hg_dim *content; /* elements of a small integer tensor, when known symbolically */
    uint32_t n_content;
    uint32_t first_use; /* slot + 1 of the first use, 0 when unused */
    uint32_t n_uses;
    bool is_asked; /* a node that was rewritten asked for its shape */
} hg_value;

typedef enum hg_attr_kind {
    HG_ATTR_INT = 1,
    HG_ATTR_FLOAT,
    HG_ATTR_STRING,
    HG_ATTR_INTS,
    HG_ATTR_FLOATS,
    HG_ATTR_STRINGS,
    HG_ATTR_TENSOR, /* a constant value */
    HG_ATTR_DIMS,   /* dimension expressions: attributes of internal operators */
    HG_ATTR_CODE,   /* lane code: the body of a fused node or an epilogue */
    HG_ATTR_TYPE
} hg_attr_kind;

typedef struct hg_attr {
    hg_str name;
    hg_attr_kind kind;
    int64_t i;
    float f;
    hg_str s;
    const int64_t *ints;
    const float *floats;
    const hg_str *strings;
    const hg_dim *dims;
    size_t count;
    hg_value_id tensor;
    const hg_lane_code *code;
    const hg_type *type;
} hg_attr;

typedef struct hg_node {
    const struct hg_op *op;
    const struct hg_op *origin; /* of the model's node that it was made from, for messages */
    hg_str name;                /* as in the model; may be empty */
    uint32_t first_slot;
    uint32_t n_in;
    hg_value_id *out; /* 0: an optional output that nobody wants */
    uint32_t n_out;
    const hg_attr *attr;
    uint32_t n_attr;
    hg_region_id *body;
    uint32_t n_body;
    hg_region_id region; /* where it stands; 0 once removed */
    hg_node_id prev, next;
} hg_node;

/* One use of a value: input `index` of node, or output `index` of region when node is 0. */
typedef struct hg_use {
    hg_value_id value;
    hg_node_id node;
    hg_region_id region;
    uint32_t index;
    uint32_t prev, next; /* other uses of the value: slot + 1 */
} hg_use;

typedef struct hg_region {
    hg_node_id first, last;
    hg_node_id owner; /* node whose body this is; 0 for the graph */
    hg_value_id *in;
    uint32_t n_in;
    uint32_t first_slot; /* outputs */
    uint32_t n_out;
    hg_str *out_name;
} hg_region;

typedef struct hg_meta {
    hg_str key, value;
} hg_meta;

/* Which demands are taken: while nodes of the model are inferred those that nobody else checks. */
typedef enum hg_demand_level {
    HG_DEMAND_NONE,    /* a rewrite infers what it makes */
    HG_DEMAND_LASTING, /* a kernel checks the others */
    HG_DEMAND_ALL,     /* the node will be rewritten */
    HG_DEMAND_SHAPE    /* nothing of the node is read but its shape: no kernel checks anything */
} hg_demand_level;

/* Two sizes that an operator takes only when they are equal, which its shape rule could not decide:
 * the runtime compares them as soon as both are known. */
typedef struct hg_demand {
    hg_dim actual, expected;
    hg_demand_level level;
    hg_str node; /* for the message: its name, */
    hg_str what; /* and its operator and the sizes */
} hg_demand;

/* What has been proved about a constant or packed value, as text (table/cert.h); it goes into the
 * file where some step reads the value. */
typedef struct hg_cert {
    hg_value_id value;
    hg_value_id codes; /* of a palette; otherwise 0 */
    hg_str label, text;
} hg_cert;

typedef struct hg_graph {
    hg_ctx *ctx;
    hg_dims dims;
    hg_str name;
    hg_value *value;
    size_t n_value, value_capacity;
    hg_node *node;
    size_t n_node, node_capacity;
    hg_use *use;
    size_t n_use, use_capacity;
    hg_region *region;
    size_t n_region, region_capacity;
    hg_meta *meta;
    size_t n_meta, meta_capacity;
    hg_cert *cert;
    size_t n_cert, cert_capacity;
    struct hg_graph **child; /* bodies that have become graphs of their own (op/op_body.h) */
    size_t n_child, child_capacity;
    hg_demand *demand; /* see demand.c */
    size_t n_demand, demand_capacity;
    hg_map demands; /* those that are kept */
    hg_demand_level demand_level;
    uint32_t number; /* of its program in the file, once that is decided */
    /* By node, once it is planned: 1: it moves nothing, being a view or a Concat whose inputs are
     * computed where they belong; i + 2: of such a Concat only input i; 0: its operands. */
    const uint32_t *at_rest;
    bool is_body;
} hg_graph;

enum { HG_REGION_MAIN = 1 };

/* ---- create (statuses are E_NOMEM only) ---------------------------------------------- */

HG_MUST_CHECK holo_status hg_graph_init(hg_graph *g, hg_ctx *ctx);
HG_MUST_CHECK holo_status hg_graph_add_region(hg_graph *g, hg_node_id owner, hg_region_id *out);
HG_MUST_CHECK holo_status hg_graph_add_value(hg_graph *g, hg_str name, hg_type type,
                                             hg_value_id *out);
HG_MUST_CHECK holo_status hg_graph_add_const(hg_graph *g, hg_str name, hg_type type,
                                             const void *data, size_t bytes, hg_value_id *out);
HG_MUST_CHECK holo_status hg_graph_add_region_input(hg_graph *g, hg_region_id region, hg_str name,
                                                    hg_type type, hg_value_id *out);
HG_MUST_CHECK holo_status hg_graph_add_region_output(hg_graph *g, hg_region_id region, hg_str name,
                                                     hg_value_id value);

/* Label and text belong to the arena. */
HG_MUST_CHECK holo_status hg_graph_add_cert(hg_graph *g, hg_cert cert);

typedef struct hg_node_spec {
    const struct hg_op *op;
    const struct hg_op *origin; /* NULL: op */
    hg_str name;
    const hg_value_id *in;
    uint32_t n_in;
    const hg_attr *attr; /* borrowed: must live in the arena */
    uint32_t n_attr;
    uint32_t n_out;
    uint32_t n_body; /* bodies are created empty, owned by the node */
} hg_node_spec;

/* Inserts before `before` (0: at the end of region). Outputs are new values without type. */
HG_MUST_CHECK holo_status hg_graph_add_node(hg_graph *g, hg_region_id region, hg_node_id before,
                                            const hg_node_spec *spec, hg_node_id *out);

/* ---- look ---------------------------------------------------------------------------- */

static inline hg_node *hg_graph_node(const hg_graph *g, hg_node_id id)
{
    assert(id != 0 && id < g->n_node);
    return &g->node[id];
}

static inline hg_value *hg_graph_value(const hg_graph *g, hg_value_id id)
{
    assert(id != 0 && id < g->n_value);
    return &g->value[id];
}

static inline hg_region *hg_graph_region(const hg_graph *g, hg_region_id id)
{
    assert(id != 0 && id < g->n_region);
    return &g->region[id];
}

/* Input i of a node, 0 when absent or beyond the last. */
hg_value_id hg_node_in(const hg_graph *g, const hg_node *n, uint32_t i);
hg_value_id hg_region_out(const hg_graph *g, hg_region_id region, uint32_t i);
/* A symbol stands for its contents or a size that its kernel finds: it has to be computed. */
bool hg_graph_is_measured(const hg_graph *g, hg_value_id value);
/* The value's only user when exactly one node input uses it and no symbol does, else 0. */
hg_node_id hg_graph_only_user(const hg_graph *g, hg_value_id value);
/* Some region returns it. */
bool hg_graph_is_output(const hg_graph *g, hg_value_id value);
bool hg_graph_is_const(const hg_graph *g, hg_value_id value);
const hg_attr *hg_node_attr(const hg_node *n, const char *name);
/* Name for messages: the node's, or its first output's, or "#7". In the buffer or the graph. */
hg_str hg_node_label(const hg_graph *g, hg_node_id id, char *buffer, size_t size);
/* Number of elements as an expression; 0 when a dim or the rank is unknown. */
hg_dim hg_type_count(hg_graph *g, const hg_type *type);
/* Same dtype, rank and dims (unknown dims are different). */
bool hg_type_equal(const hg_type *a, const hg_type *b);
/* Elements of a constant integer (or bool) tensor as int64, or false. They belong to the graph. */
bool hg_graph_const_ints(hg_graph *g, hg_value_id value, const int64_t **out, size_t *count);
/* The value of a constant float/integer tensor with one element. */
bool hg_graph_const_scalar(const hg_graph *g, hg_value_id value, double *out);
/* A constant of 32- or 16-bit floats, none of them infinite or no number. */
bool hg_graph_const_is_finite(const hg_graph *g, hg_value_id value);
/* A constant whose bytes are all 0. */
bool hg_graph_const_is_zero(const hg_graph *g, hg_value_id value);
/* Hashes of a constant: of its bytes alone, and with its type and dimensions. */
uint64_t hg_graph_const_content(hg_graph *g, hg_value_id value);
uint64_t hg_graph_const_hash(hg_graph *g, hg_value_id value);
size_t hg_graph_count_nodes(const hg_graph *g);

/* ---- edit ---------------------------------------------------------------------------- */

void hg_graph_set_input(hg_graph *g, hg_node_id node, uint32_t index, hg_value_id value);
/* Every use of old becomes a use of replacement. */
void hg_graph_replace_uses(hg_graph *g, hg_value_id old, hg_value_id replacement);
/* Removes a node whose outputs have no uses; its inputs lose a use. */
void hg_graph_remove_node(hg_graph *g, hg_node_id node);
/* Moves a node before another of the same region (0: to the end). */
void hg_graph_move_node(hg_graph *g, hg_node_id node, hg_node_id before);
/* All nodes of a body go before a node of another region, in their order. */
void hg_graph_splice(hg_graph *g, hg_region_id body, hg_node_id before);
/* Body i of node a and body j of node b change places. */
void hg_graph_swap_bodies(hg_graph *g, hg_node_id a, uint32_t i, hg_node_id b, uint32_t j);
/* Attributes are immutable arrays: this copies them with one added or replaced. */
HG_MUST_CHECK holo_status hg_graph_set_attr(hg_graph *g, hg_node_id node, hg_attr attr);

/* ---- demands (demand.c) --------------------------------------------------------------- */

/* What node `id` demands, if that level is taken; dims.failed is set when there is no memory. */
void hg_graph_demand(hg_graph *g, hg_node_id id, hg_demand_level level, hg_dim actual,
                     hg_dim expected);
/* Of those from `first` on the ones of this level are kept, but for what is demanded already. */
HG_MUST_CHECK holo_status hg_graph_keep_demands(hg_graph *g, size_t first, hg_demand_level level);

/* ---- check and print (verify.c, dump.c, parse.c) ------------------------------------- */

/* The invariants above; E_BUG with the first one broken. */
HG_MUST_CHECK holo_status hg_graph_verify(const hg_graph *g, holo_error *e);
/* Text form; parses back. Constants up to 16 elements are printed, larger ones as their hash. E_IO
 * when the sink refuses. */
HG_MUST_CHECK holo_status hg_graph_dump(const hg_graph *g, holo_sink_fn sink, void *user);
/* The same with all constants listed. */
HG_MUST_CHECK holo_status hg_graph_dump_whole(const hg_graph *g, holo_sink_fn sink, void *user);
/* Reads the text form into a graph that hg_graph_init just made, and verifies it. Hashed constants
 * cannot be read back. E_MODEL with line and column; the graph is of no use then. */
HG_MUST_CHECK holo_status hg_graph_parse(hg_graph *g, hg_str text, holo_error *e);

#endif
