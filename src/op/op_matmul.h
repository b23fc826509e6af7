/* op_matmul.h - shape rules of matrix products, and what their fused forms share. */
#ifndef HG_OP_OP_MATMUL_H
#define HG_OP_OP_MATMUL_H

#include "op/op_gradient.h"

#define HG_MATMUL_TYPES                                                                            \
    (HG_TYPES_FLOAT | HG_TYPE_BIT(HOLO_I32) | HG_TYPE_BIT(HOLO_I64) | HG_TYPE_BIT(HOLO_U32) |      \
     HG_TYPE_BIT(HOLO_U64))

/* [batch..., m, k] by [batch..., k, n]; sets rank and dims of out. */
HG_MUST_CHECK holo_status hg_matmul_shape(const hg_infer *n, const hg_type *a, const hg_type *b,
                                          hg_type *out);
/* numpy's rule: a vector on the left is a row, on the right a column, and that dimension is dropped
 * again. */
HG_MUST_CHECK holo_status hg_matmul_infer(const hg_infer *n, const hg_type *a, const hg_type *b,
                                          hg_type *out);
/* Drops the row dimension (left) and the column dimension (right) that vectors got. */
hg_value_id hg_matmul_drop(hg_build *b, hg_value_id product, bool left, bool right);
/* Parameters of the kernel "matmul", which has a name of its own for float64. */
HG_MUST_CHECK holo_status hg_matmul_emit(hg_emit *e, bool trans_a, bool trans_b, double alpha);
/* Of a product with trans_a, trans_b and alpha as in holo:MatMul. */
HG_MUST_CHECK holo_status hg_matmul_gradient(hg_gradient *d);
/* Element type of a kernel's result: attribute "types" when there is an epilogue, else the input's.
 * Also checks that "code" fits the operands that begin at input first_extra. */
HG_MUST_CHECK holo_status hg_epilogue_type(const hg_infer *n, uint32_t first_extra,
                                           holo_dtype *out);
/* A dimension given as attribute, an integer or an expression. */
HG_MUST_CHECK holo_status hg_attr_dim(const hg_infer *n, const char *name, hg_dim *out);

#endif
