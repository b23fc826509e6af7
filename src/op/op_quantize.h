/* op_quantize.h - what QuantizeLinear and DequantizeLinear share. */
#ifndef HG_OP_OP_QUANTIZE_H
#define HG_OP_OP_QUANTIZE_H

#include "op/op.h"

/* Scale (input 1) and zero point (input 2) agree with input 0 and with the attributes axis and
 * block_size. */
HG_MUST_CHECK holo_status hg_quantize_check(const hg_infer *n);
/* Scale or zero point made to broadcast against input 0 of the node being rewritten: one number,
 * one for each place along the axis, or one for each block. */
hg_value_id hg_quantize_spread(hg_build *b, hg_value_id scale);

/* com.microsoft has both operators too; they become those of ONNX, in files before anything looks
 * for quantised layers. */
enum { HG_QUANTIZE_UPGRADED = 2 }; /* version of that domain that has no such operators */
HG_MUST_CHECK holo_status hg_quantize_rewrite(hg_build *b);
HG_MUST_CHECK holo_status hg_quantize_upgrade(hg_graph *g, hg_node_id id, int32_t opset);

#endif
