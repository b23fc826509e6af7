/* op_qlinear.h - operators on 8-bit codes that are computed on the numbers behind them. */
#ifndef HG_OP_OP_QLINEAR_H
#define HG_OP_OP_QLINEAR_H

#include "op/op.h"

#define HG_QLINEAR_TYPES (HG_TYPE_BIT(HOLO_U8) | HG_TYPE_BIT(HOLO_I8))

/* Input `scale` is one f32 and input scale + 1, when it is there, one code of the type `dtype`. */
HG_MUST_CHECK holo_status hg_qlinear_check(const hg_infer *n, uint32_t scale, holo_dtype dtype);
/* X, its scale and zero point, scale and zero point of Y; out[0] = in[0]. */
HG_MUST_CHECK holo_status hg_qlinear_infer(hg_infer *n);
/* The numbers behind input i; its scale and zero point are the inputs after it. */
hg_value_id hg_build_dequantized(hg_build *b, uint32_t i);
/* Codes of type `dtype` for y; input i is their scale, input i + 1 their zero point. */
hg_value_id hg_build_quantized(hg_build *b, hg_value_id y, uint32_t i, holo_dtype dtype);
/* Two operands, each with scale and zero point, then those of the result: `op` is Add or Mul. */
HG_MUST_CHECK holo_status hg_qlinear_binary_infer(hg_infer *n);
HG_MUST_CHECK holo_status hg_qlinear_binary_lower(hg_build *b, const char *op);
/* A pool, `op`, whose channels may be the last axis. */
HG_MUST_CHECK holo_status hg_qlinear_pool_infer(hg_infer *n, const char *op);
HG_MUST_CHECK holo_status hg_qlinear_pool_lower(hg_build *b, const char *op);

#endif
