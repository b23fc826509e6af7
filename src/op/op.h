/* op.h - what an operator is. One file per operator defines one `const hg_op hg_op_<stem>`;
 * dropping the file in the folder registers it.
 *
 * An operator reaches the backends by the cheapest tier that fits:
 *   lower    composite: rewritten into other operators; may decline a case by leaving the node
 * alone when the operator has one of the other tiers too lane     point-wise: a formula in lane
 * code; runs alone, fused, as an epilogue, in a table emit     a kernel with operands and
 * parameters, or a view of an input */
#ifndef HG_OP_OP_H
#define HG_OP_OP_H

#include "graph/operator.h"
#include "isa/kernel.h"

/* ---- inference
 * -------------------------------------------------------------------------------------- */

/* Every present input has a known dtype and rank; dims are expressions (never 0 for inputs). */
struct hg_infer {
    hg_graph *g;
    hg_ctx *ctx;
    hg_dims *dims;
    hg_node_id id;
    const hg_node *node;
    const hg_type *const *in; /* absent: a type with dtype HOLO_NONE; never NULL for i < n_in */
    uint32_t n_in, n_out;
    hg_type *out;               /* to be filled; zeroed before */
    const hg_dim **out_content; /* optional: elements of out[j] as expressions, arena memory */
    uint32_t *n_out_content;
};

/* "node 'encoder/cat_3' (Concat): " in front of the sentence. */
holo_status hg_infer_fail(const hg_infer *n, holo_status status, const char *format, ...)
    HG_PRINTF(3, 4);
bool hg_infer_has(const hg_infer *n, uint32_t i);
/* Rank within [low, high]. */
HG_MUST_CHECK holo_status hg_infer_rank(const hg_infer *n, uint32_t i, int low, int high);
HG_MUST_CHECK holo_status hg_infer_types(const hg_infer *n, uint32_t i, hg_types types);
/* Inputs i and j have the same element type. */
HG_MUST_CHECK holo_status hg_infer_same_type(const hg_infer *n, uint32_t i, uint32_t j);
/* Contents of integer input i as expressions, if known without running anything. */
bool hg_infer_content(const hg_infer *n, uint32_t i, const hg_dim **content, uint32_t *count);
bool hg_value_content(hg_graph *g, hg_value_id id, const hg_dim **content, uint32_t *count);
/* The same; when they are not known, makes symbols that the runtime binds once the tensor is
 * computed. Fails when the number of elements is not constant or above HG_MAX_CONTENT. */
HG_MUST_CHECK holo_status hg_infer_need_content(const hg_infer *n, uint32_t i,
                                                const hg_dim **content, uint32_t *count);
enum { HG_MAX_CONTENT = 1024 };
/* A size that the kernel of this node finds in data: dimension `axis` of output j. */
hg_dim hg_infer_late_dim(const hg_infer *n, uint32_t j, uint32_t axis);
/* Both dims are the same expression, or cannot be proved different. */
bool hg_infer_may_equal(const hg_infer *n, hg_dim a, hg_dim b);
/* The same as a rule of the operator: what cannot be decided now is compared at run time, by the
 * kernel of the operator or, when it is rewritten, by a step of its own. */
bool hg_infer_equal(const hg_infer *n, hg_dim actual, hg_dim expected);
/* The same for a dim that may also be 1. */
bool hg_infer_equal_or_1(const hg_infer *n, hg_dim actual, hg_dim expected);
/* The size is at least that large, or the runtime says no. */
void hg_infer_at_least(const hg_infer *n, hg_dim actual, hg_dim least);
/* Broadcast of two dims by numpy's rule. Symbolic dims: equal expressions give themselves, a
 * constant other than 1 wins, otherwise the one that is not 1 (0 may be), which is right whenever
 * the shapes agree at run time. */
HG_MUST_CHECK holo_status hg_infer_broadcast_dim(const hg_infer *n, hg_dim a, hg_dim b,
                                                 hg_dim *out);

/* Attributes of the node, with defaults; a float is a float32, also the default. A present
 * attribute of another kind is an error. */
HG_MUST_CHECK holo_status hg_attr_find(const hg_infer *n, const char *name, hg_attr_kind kind,
                                       const hg_attr **out); /* NULL when absent */
HG_MUST_CHECK holo_status hg_attr_int(const hg_infer *n, const char *name, int64_t standard,
                                      int64_t *out);
HG_MUST_CHECK holo_status hg_attr_float(const hg_infer *n, const char *name, double standard,
                                        double *out);
HG_MUST_CHECK holo_status hg_attr_string(const hg_infer *n, const char *name, const char *standard,
                                         hg_str *out);
/* *count is 0 and *out NULL when absent. */
HG_MUST_CHECK holo_status hg_attr_ints(const hg_infer *n, const char *name, const int64_t **out,
                                       size_t *count);
/* An axis in [-rank, rank), made non-negative. */
HG_MUST_CHECK holo_status hg_attr_axis(const hg_infer *n, const char *name, int64_t standard,
                                       int32_t rank, int32_t *out);
HG_MUST_CHECK holo_status hg_axis_normalize(const hg_infer *n, int64_t axis, int32_t rank,
                                            int32_t *out);
/* Attribute readers for code that has no hg_infer (lane formulas, emit): the kinds were checked
 * before. */
int64_t hg_node_int(const hg_node *n, const char *name, int64_t standard);
double hg_node_float(const hg_node *n, const char *name, double standard);
hg_str hg_node_string(const hg_node *n, const char *name, const char *standard);
const int64_t *hg_node_ints(const hg_node *n, const char *name, size_t *count);

/* Shape rules shared by families (op_infer.c). */
HG_MUST_CHECK holo_status hg_infer_same_as_input(hg_infer *n);   /* out[0] = in[0] */
HG_MUST_CHECK holo_status hg_infer_broadcast_shape(hg_infer *n); /* types may differ; in[0]'s */
HG_MUST_CHECK holo_status hg_infer_broadcast(hg_infer *n);       /* all inputs, type of in[0] */
HG_MUST_CHECK holo_status hg_infer_broadcast_bool(hg_infer *n);  /* all inputs, bool */
HG_MUST_CHECK holo_status hg_infer_same_shape_bool(hg_infer *n); /* in[0]'s shape, bool */

/* ---- lane tier
 * ---------------------------------------------------------------------------------------- */

struct hg_formula {
    hg_lane *b;
    const hg_graph *g;
    const hg_node *node;
    uint32_t n_in;
    const holo_dtype *in_dtype;
    holo_dtype out_dtype;
};

/* ---- composite tier: building nodes
 * ---------------------------------------------------------------------- */

/* Inserts nodes before `before`, each inferred as it is made. A failed call keeps the error in
 * `status` and returns 0; later calls then do nothing, so rewrites read as formulas. */
struct hg_build {
    hg_graph *g;
    hg_ctx *ctx;
    hg_region_id region;
    hg_node_id before;
    hg_node_id id; /* the node being rewritten, 0 if none; gives new nodes their name */
    const hg_node *node;
    holo_status status;
};

void hg_build_init(hg_build *b, hg_graph *g, hg_node_id replaced);
/* Input i of the node being rewritten (0 when absent). */
hg_value_id hg_build_in(const hg_build *b, uint32_t i);
/* What a shape rule sees, for rewrites that read the node the same way. Adding nodes may move what
 * it refers to: read first, then build. */
HG_MUST_CHECK holo_status hg_build_reader(hg_build *b, hg_infer *out);
/* One-output operator "Add" or "holo:Lane"; inputs end with the count. */
hg_value_id hg_build_op(hg_build *b, const char *op, const hg_value_id *in, uint32_t n_in,
                        const hg_attr *attr, uint32_t n_attr);
hg_node_id hg_build_node(hg_build *b, const char *op, const hg_value_id *in, uint32_t n_in,
                         const hg_attr *attr, uint32_t n_attr, uint32_t n_out);
hg_value_id hg_build_1(hg_build *b, const char *op, hg_value_id a);
hg_value_id hg_build_2(hg_build *b, const char *op, hg_value_id a, hg_value_id c);
hg_value_id hg_build_3(hg_build *b, const char *op, hg_value_id a, hg_value_id c, hg_value_id d);
/* Another node again, with other inputs, the same attributes and as many outputs. */
hg_node_id hg_build_copy(hg_build *b, hg_node_id id, const hg_value_id *in, uint32_t n_in);
/* The node being rewritten again, with other inputs, the same attributes and as many outputs. */
hg_node_id hg_build_clone(hg_build *b, const hg_value_id *in, uint32_t n_in);
/* Body k of the node being rewritten, applied to one value: its nodes go before the node, where
 * they are inferred later; so is what is built on the result. The value itself when there is no
 * body. */
hg_value_id hg_build_body(hg_build *b, uint32_t k, hg_value_id x);
/* A node that waits for such a result: it is not inferred yet. Attributes are copied; body k of the
 * node being rewritten becomes its own (UINT32_MAX: none). */
hg_node_id hg_build_later(hg_build *b, const char *op, const hg_value_id *in, uint32_t n_in,
                          const hg_attr *attr, uint32_t n_attr, uint32_t body);
/* A one-output operator with the attributes of the node being rewritten but those whose names begin
 * with `without`. */
hg_value_id hg_build_renamed(hg_build *b, const char *op, const hg_value_id *in, uint32_t n_in,
                             const char *without);
/* A constant whose elements are copied. */
hg_value_id hg_build_const(hg_build *b, hg_type type, const void *data, size_t bytes);
/* Constants: a scalar of the given element type; a 1-D int64 tensor. */
hg_value_id hg_build_scalar(hg_build *b, holo_dtype dtype, double value);
hg_value_id hg_build_ints(hg_build *b, const int64_t *values, uint32_t count);
/* A 1-D int64 tensor of expressions (operator holo:Dims). */
hg_value_id hg_build_dims(hg_build *b, const hg_dim *dims, uint32_t count);
hg_value_id hg_build_cast(hg_build *b, hg_value_id a, holo_dtype to);
/* The same elements under other dimensions, where a 0 is a 0. */
hg_value_id hg_build_reshape(hg_build *b, hg_value_id a, const hg_dim *dims, uint32_t count);
/* Elements [begin, end) along an axis. */
hg_value_id hg_build_part(hg_build *b, hg_value_id x, int64_t axis, hg_dim begin, hg_dim end);
/* Floats of 16 bits as float32, for rewrites whose steps would each round; others as they are. */
hg_value_id hg_build_wide(hg_build *b, hg_value_id a);
hg_attr hg_attr_make_int(const char *name, int64_t value);
hg_attr hg_attr_make_float(const char *name, double value);
hg_attr hg_attr_make_string(const char *name, const char *value);
hg_attr hg_attr_make_ints(hg_build *b, const char *name, const int64_t *values, uint32_t count);
hg_attr hg_attr_make_dims(hg_build *b, const char *name, const hg_dim *dims, uint32_t count);
hg_attr hg_attr_make_code(const char *name, const hg_lane_code *code);
/* Output j of the rewritten node is value from now on; declared names move along. */
void hg_build_replace(hg_build *b, uint32_t j, hg_value_id value);
/* The node and the one that feeds it have become `made` (0: it failed): it has the feeder's name,
 * which is the one people look for, and both are gone. */
holo_status hg_build_fused(hg_build *b, hg_node_id made, hg_node_id feeder);
/* Sentence with node and operator in front, kept in status. */
holo_status hg_build_fail(hg_build *b, holo_status status, const char *format, ...) HG_PRINTF(3, 4);
const hg_type *hg_build_type(const hg_build *b, hg_value_id value);

/* ---- kernel tier
 * ---------------------------------------------------------------------------------------- */

/* Filled by emit: either a kernel call or a view. Defaults on entry: kernel = op->kernel, all
 * inputs, all outputs, no parameters, code = attribute "code" if there is one. */
struct hg_emit {
    hg_graph *g;
    hg_ctx *ctx;
    hg_node_id id;
    const hg_node *node;
    const char *kernel;
    hg_value_id *in; /* capacity n_in + 8 */
    uint32_t n_in;
    hg_dim *param;
    uint32_t n_param, param_capacity;
    const hg_lane_code *code;
    bool is_view;       /* out[0] is in[0] seen differently: no step */
    hg_dim view_offset; /* in elements; 0: none */
};

HG_MUST_CHECK holo_status hg_emit_int(hg_emit *e, int64_t value);
HG_MUST_CHECK holo_status hg_emit_float(hg_emit *e, double value);
HG_MUST_CHECK holo_status hg_emit_dim(hg_emit *e, hg_dim value);
HG_MUST_CHECK holo_status hg_emit_view(hg_emit *e); /* for .emit of Reshape and the like */
holo_status hg_emit_fail(const hg_emit *e, holo_status status, const char *format, ...)
    HG_PRINTF(3, 4);
const hg_type *hg_emit_type(const hg_emit *e, uint32_t i); /* of input i; dtype NONE when absent */
const hg_type *hg_emit_out_type(const hg_emit *e, uint32_t j);
/* Contents of integer input i as expressions (constant, known, or bound by the runtime). */
HG_MUST_CHECK holo_status hg_emit_content(const hg_emit *e, uint32_t i, const hg_dim **content,
                                          uint32_t *count);

/* ---- the operators
 * ------------------------------------------------------------------------------------------ */

/* All operators, NULL-terminated, sorted as the folders are. */
const hg_op *const *hg_ops(void);
/* "Add" or "holo:Lane"; must exist. */
const hg_op *hg_op_get(const char *name);
bool hg_op_is(const hg_node *n, const char *name);
/* The node that makes v (0: none) when it is `name`, or whatever it is when name is NULL. */
const hg_node *hg_op_producer(const hg_graph *g, hg_value_id v, const char *name);

/* Infers one node: checks arity and types, calls op->infer, stores types and contents into its
 * outputs. A type already declared on an output must be compatible. */
HG_MUST_CHECK holo_status hg_op_infer(hg_graph *g, hg_node_id id);
/* Keeps what the shape rule of an inferred node could not decide, for the runtime to compare: its
 * kernel will not run. */
HG_MUST_CHECK holo_status hg_op_demand(hg_graph *g, hg_node_id id);
/* Lane code of a lane-tier node: loads, formula, narrowing store. */
HG_MUST_CHECK holo_status hg_op_code(hg_graph *g, hg_node_id id, hg_lane_code *code);
/* Kernel call of a lane- or kernel-tier node. */
HG_MUST_CHECK holo_status hg_op_emit(hg_graph *g, hg_node_id id, hg_emit *e);

#endif
