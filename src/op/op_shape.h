/* op_shape.h - shapes as expressions: what shape rules and emission of data movement share. */
#ifndef HG_OP_OP_SHAPE_H
#define HG_OP_OP_SHAPE_H

#include "op/op.h"

/* Rank and dims of inputs [first, end) broadcast together by numpy's rule. */
HG_MUST_CHECK holo_status hg_shape_broadcast(const hg_infer *n, uint32_t first, uint32_t end,
                                             hg_type *out);
/* Product of dim[begin, end). */
hg_dim hg_shape_product(hg_dims *d, const hg_type *t, int32_t begin, int32_t end);
/* Row-major strides in elements; t->rank of them. */
void hg_shape_strides(hg_dims *d, const hg_type *t, hg_dim *stride);
/* 1 when a and b hold. */
hg_dim hg_shape_and(hg_dims *d, hg_dim a, hg_dim b);
/* low <= value <= high, as 1 or 0. */
hg_dim hg_shape_within(hg_dims *d, hg_dim value, int64_t low, int64_t high);
/* dim when the condition holds, otherwise -1, which the runtime refuses as a dimension. */
hg_dim hg_shape_guard(hg_dims *d, hg_dim condition, hg_dim dim);
/* The same for a whole type: one of its dims carries the condition, best one that is not a number
 * anyway. A scalar has none. */
void hg_shape_require(hg_dims *d, hg_dim condition, hg_type *type);
/* Input i has exactly these dims. What is known to differ is refused; what only the runtime can
 * tell joins the condition, which starts as 1 and ends in hg_shape_require. */
HG_MUST_CHECK holo_status hg_shape_expect(const hg_infer *n, uint32_t i, const hg_dim *dim,
                                          int32_t rank, hg_dim *condition);
/* dim / by; -1 when that leaves a rest. */
hg_dim hg_shape_divide(hg_dims *d, hg_dim dim, int64_t by);
/* An axis in [-rank, rank), made non-negative. */
hg_dim hg_shape_axis(hg_dims *d, hg_dim axis, int32_t rank);

/* Axes that an operator's integer input names, perhaps only at run time. */
typedef struct hg_axes {
    hg_dim axis[HG_MAX_RANK]; /* non-negative */
    uint32_t count;
    hg_dim valid; /* 1 when all are in range and different, as far as that is not known already */
} hg_axes;

/* content: the input's elements; when NULL, the axes are 0 .. count - 1. Known axes must be in
 * range and differ. */
HG_MUST_CHECK holo_status hg_shape_axes(const hg_infer *n, const hg_dim *content, uint32_t count,
                                        int32_t rank, hg_axes *out);
/* value[k] where axes->axis[k] is `axis`; `standard` when there is none. */
hg_dim hg_shape_pick(hg_dims *d, const hg_axes *axes, const hg_dim *value, int32_t axis,
                     hg_dim standard);
/* 1 when `axis` is one of the axes. */
hg_dim hg_shape_has_axis(hg_dims *d, const hg_axes *axes, int32_t axis);

/* Out[0] has the elements of in[0] in the same order: known contents pass through. */
void hg_shape_keep_content(hg_infer *n);
/* Room for the contents of out[0], a tensor of `count` elements; NULL when memory is exhausted. */
hg_dim *hg_shape_new_content(hg_infer *n, uint32_t count);
/* A hg_infer for emission code, which shares shape functions with inference. */
hg_infer hg_shape_from_emit(const hg_emit *e);
/* Dimension `axis` of output j is what the node's own kernel finds in data. */
bool hg_shape_is_late(const hg_emit *e, uint32_t j, int32_t axis);

#endif
