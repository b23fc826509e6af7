/* op_content.h - contents of small integer tensors computed by lane operators, as expressions. */
#ifndef HG_OP_OP_CONTENT_H
#define HG_OP_OP_CONTENT_H

#include "op/op.h"

/* When every input's contents are known, works out those of the output by interpreting the node's
 * lane code on expressions. Leaves them unknown when an operation has no counterpart. */
HG_MUST_CHECK holo_status hg_op_lane_content(hg_graph *g, hg_node_id id);

#endif
