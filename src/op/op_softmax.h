/* op_softmax.h - what Softmax, LogSoftmax and Hardmax share. */
#ifndef HG_OP_OP_SOFTMAX_H
#define HG_OP_OP_SOFTMAX_H

#include "op/op_gradient.h"

/* Same shape; checks the axis. */
HG_MUST_CHECK holo_status hg_softmax_infer(hg_infer *n);
/* Before opset 13 the tensor is seen as a matrix whose rows are all dimensions from `axis` on. */
holo_status hg_softmax_upgrade(hg_graph *g, hg_node_id id, int32_t opset);
/* Kernel "softmax": parameters axis, log. */
HG_MUST_CHECK holo_status hg_softmax_emit(hg_emit *e, bool log);
/* y (dy - sum of y dy); of the logarithm, dy - e^y (sum of dy). */
HG_MUST_CHECK holo_status hg_softmax_gradient(hg_gradient *d, bool log);

#endif
