/* operator.h - what an operator is, as far as the IR needs to know: its name, arity and hooks. The
 * hooks' own arguments are described in op/op.h, where operators are written. */
#ifndef HG_GRAPH_OPERATOR_H
#define HG_GRAPH_OPERATOR_H

#include "graph/graph.h"

typedef struct hg_op hg_op;
typedef struct hg_infer hg_infer;
typedef struct hg_formula hg_formula;
typedef struct hg_build hg_build;
typedef struct hg_emit hg_emit;
typedef struct hg_gradient hg_gradient;

typedef struct hg_arity {
    int32_t min, max; /* max -1: any number */
} hg_arity;

enum {
    HG_OP_EFFECT = 1 << 0, /* random or control flow: never folded, merged or removed while used */
    HG_OP_SHAPE_ONLY = 1 << 1, /* result depends on the shapes of the inputs, not on their data */
    HG_OP_AT_WRITE = 1 << 2,   /* a packing: computed when the file is written, straight into it */
    HG_OP_INTERNAL = 1 << 3,   /* not importable; domain "holo" */
    HG_OP_BODY_OPTIONAL = 1 << 4, /* the last bodies may be absent, others empty, without outputs */
    HG_OP_WIDE_WEIGHTS = 1 << 5,  /* constants it reads are numbers in the file, whatever they grow
                                     to: a run that made them would take longer than the layer */
    HG_OP_ANY_OPSET = 1 << 6,     /* ONNX Runtime's optimiser writes it under opsets before its own,
                                     where it means the same */
    HG_OP_WIDE_CODES = 1 << 7     /* as wide weights: weights, input 1, that come from integers */
};

enum { HG_MAX_BODY = 2, HG_MAX_NAMED = 3 };

struct hg_op {
    const char *name;
    const char *domain; /* NULL is ai.onnx; "ai.onnx.ml", "com.microsoft", "holo" ... */
    const char *brief;
    int32_t since;   /* first version of the operator */
    int32_t version; /* version whose meaning the fields below implement (0: since) */
    hg_arity in, out;
    hg_types types; /* of in[0]; 0: checked by infer alone */
    uint32_t flags;
    uint32_t n_body;
    const char *body[HG_MAX_BODY];   /* attributes that hold them */
    const char *named[HG_MAX_NAMED]; /* text attributes that name values: those follow the inputs */
    /* Rewrites a node of an older opset to the current meaning, right after import. */
    holo_status (*upgrade)(hg_graph *g, hg_node_id id, int32_t opset);
    holo_status (*infer)(hg_infer *n);
    hg_lane_id (*lane)(hg_formula *f, const hg_lane_id *in);
    holo_status (*lower)(hg_build *b);
    const char *kernel;
    const char *library; /* what has the kernel when the core does not, and how to get it */
    holo_status (*emit)(hg_emit *e);
    /* Derivatives with respect to the inputs (op/op_gradient.h); point-wise operators need none. */
    holo_status (*gradient)(hg_gradient *d);
};

/* domain "" and "ai.onnx" are the same. NULL when unknown. The table is the operator library's. */
const hg_op *hg_op_find(hg_str domain, hg_str name);

#endif
