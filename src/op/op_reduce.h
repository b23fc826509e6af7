/* op_reduce.h - what the reductions share. */
#ifndef HG_OP_OP_REDUCE_H
#define HG_OP_OP_REDUCE_H

#include "kernel/reduce.h"
#include "op/op_gradient.h"

#define HG_REDUCE_TYPES                                                                            \
    (HG_TYPES_FLOAT | HG_TYPE_BIT(HOLO_I32) | HG_TYPE_BIT(HOLO_I64) | HG_TYPE_BIT(HOLO_U32) |      \
     HG_TYPE_BIT(HOLO_U64))

/* Which dimensions are reduced. */
typedef struct hg_reduce_axes {
    uint32_t mask;
    uint32_t count; /* entries of the list, when is_late */
    bool is_late;   /* known when the axes have been computed */
    bool has_count; /* is_late: the length of the list is known */
} hg_reduce_axes;

HG_MUST_CHECK holo_status hg_reduce_read(const hg_infer *n, int32_t rank, hg_reduce_axes *out);
/* Axes come from attribute "axes" (older versions) or input 1; keepdims, noop_with_empty_axes. */
HG_MUST_CHECK holo_status hg_reduce_infer(hg_infer *n);
HG_MUST_CHECK holo_status hg_reduce_emit(hg_emit *e, hg_reduce_op op);
/* op_reduce_gradient.c */
HG_MUST_CHECK holo_status hg_reduce_gradient(hg_gradient *d, hg_reduce_op op);
/* ArgMax and ArgMin: one axis, indices. */
HG_MUST_CHECK holo_status hg_reduce_infer_index(hg_infer *n);
HG_MUST_CHECK holo_status hg_reduce_emit_index(hg_emit *e, hg_reduce_op op);

/* For rewrites: ReduceMean, ReduceSum ... of x over `axes`, dimensions kept. */
hg_value_id hg_build_reduce(hg_build *b, const char *op, hg_value_id x, const int64_t *axes,
                            uint32_t n_axes);
/* The same over dimensions [begin, end). */
hg_value_id hg_build_reduce_range(hg_build *b, const char *op, hg_value_id x, int32_t begin,
                                  int32_t end);
/* (sum |x|^p)^(1/p) over dimensions [begin, end), dimensions kept. */
hg_value_id hg_build_norm(hg_build *b, hg_value_id x, int64_t p, int32_t begin, int32_t end);

#endif
