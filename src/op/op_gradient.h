/* op_gradient.h - derivatives of operators: what their rules are given and may use.
 *
 * A rule is the hook `gradient` of an operator. It is called for a node that has been rewritten to
 * its simplest form, with the gradients of its outputs, and builds those of the inputs that are
 * wanted. A result may be broader than the input, then it is summed along what was broadcast, or
 * narrower, then it is broadcast. Point-wise operators are differentiated by their formula. */
#ifndef HG_OP_OP_GRADIENT_H
#define HG_OP_OP_GRADIENT_H

#include "op/op.h"

struct hg_gradient {
    hg_build *b;
    hg_node_id id;          /* the node */
    const hg_value_id *out; /* gradient of each output; 0: none */
    hg_value_id *in;        /* of each input, zeroed before; 0: none */
    const bool *wanted;     /* of each input */
};

const hg_node *hg_gradient_node(const hg_gradient *d);
/* Input i and output j of the node. */
hg_value_id hg_gradient_input(const hg_gradient *d, uint32_t i);
hg_value_id hg_gradient_output(const hg_gradient *d, uint32_t j);
const hg_type *hg_gradient_type(const hg_gradient *d, uint32_t i); /* of input i */
/* What shape functions of the operator want. */
hg_infer hg_gradient_reader(const hg_gradient *d);
/* Keeps a sentence that names the node: it cannot be differentiated. */
holo_status hg_gradient_fail(hg_gradient *d, const char *format, ...) HG_PRINTF(2, 3);

/* Rules that several operators have. */
/* The elements are those of input 0 in their order. */
HG_MUST_CHECK holo_status hg_gradient_same_elements(hg_gradient *d);
/* Every element of output 0 is one of input 0, whatever its type: the node picks its places once
 * more. Not for large tables. */
HG_MUST_CHECK holo_status hg_gradient_pick(hg_gradient *d);
/* From the formula of a point-wise node (op_gradient_lane.c). */
HG_MUST_CHECK holo_status hg_gradient_lane(hg_gradient *d);

/* ---- walking back (op_gradient_walk.c) --------------------------------------------------------
 */

/* Of values: one to differentiate by, one that the result needs, one that depends on the former. */
enum { HG_GRADIENT_VARIABLE = 1, HG_GRADIENT_NEEDED = 2, HG_GRADIENT_ACTIVE = 4 };

typedef struct hg_gradient_walk {
    hg_build *b;
    uint8_t *mark;          /* by value */
    hg_value_id *result;    /* by value: its gradient, 0: none */
    const hg_node_id *node; /* the last one first */
    uint32_t n_node;
} hg_gradient_walk;

/* Adds up the gradients of what is active, from those of the results that are set. */
HG_MUST_CHECK holo_status hg_gradient_backwards(const hg_gradient_walk *w);

/* For rules of operators that are easier to say in others, each with a rule of its own: begin,
 * build nodes on the inputs of the node, then go back through them; out has what stands for the
 * outputs.
 */
hg_node_id hg_gradient_begin(const hg_gradient *d);
HG_MUST_CHECK holo_status hg_gradient_through(hg_gradient *d, hg_node_id begin,
                                              const hg_value_id *out);

/* ---- building -------------------------------------------------------------------------------- */

/* x seen with the dims of a type. */
hg_value_id hg_build_shaped(hg_build *b, hg_value_id x, const hg_type *type);
/* A number broadcast to a type. */
hg_value_id hg_build_full(hg_build *b, const hg_type *type, double value);
/* Dimension `axis` of x, a multiple of size, in pieces of that size that are added up. */
hg_value_id hg_build_fold(hg_build *b, hg_value_id x, int32_t axis, hg_dim size);
/* Zeros around x; negative numbers cut off. */
hg_value_id hg_build_pad(hg_build *b, hg_value_id x, const hg_dim *before, const hg_dim *after,
                         int32_t rank);
/* x summed and broadcast until it has the shape of a type. */
hg_value_id hg_build_fit(hg_build *b, hg_value_id x, const hg_type *type);
/* Zeros of a type with y added at places given by index along an axis (ScatterElements). */
hg_value_id hg_build_scatter(hg_build *b, const hg_type *type, hg_value_id index, hg_value_id y,
                             int64_t axis);
/* 0, 1, 2 ... as int64 with the dims of a type. */
hg_value_id hg_build_places(hg_build *b, const hg_type *type);

#endif
