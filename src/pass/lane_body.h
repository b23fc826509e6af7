/* lane_body.h - a point-wise node as lane code with its operands: what fusion passes work with. */
#ifndef HG_PASS_LANE_BODY_H
#define HG_PASS_LANE_BODY_H

#include "op/op.h"

/* Operand i of the code is value in[i]; one result. Scalars that are constants are in the code. */
typedef struct hg_lane_body {
    hg_lane_code code;
    hg_value_id *in;
    uint32_t n_in;
    holo_dtype dtype; /* of the result */
    hg_lane_out out;  /* how it is stored */
} hg_lane_body;

/* A lane-tier operator or a fused body with one result. */
bool hg_lane_body_is(const hg_graph *g, hg_node_id id);
HG_MUST_CHECK holo_status hg_lane_body_read(hg_graph *g, hg_node_id id, hg_lane_body *out);
/* inner computes `value`, which outer reads. */
HG_MUST_CHECK holo_status hg_lane_body_join(hg_graph *g, const hg_lane_body *inner,
                                            hg_value_id value, const hg_lane_body *outer,
                                            hg_lane_body *out);
/* The same body with operand `first` as operand 0, wherever it was. */
HG_MUST_CHECK holo_status hg_lane_body_lead(hg_graph *g, const hg_lane_body *body,
                                            hg_value_id first, hg_lane_body *out);
/* A holo:Lane node in place of `id`, which is removed; *out is the new node. */
HG_MUST_CHECK holo_status hg_lane_body_replace(hg_graph *g, hg_node_id id, const hg_lane_body *body,
                                               hg_node_id *out);

/* fuse_epilogue.c: a product or convolution that could take a body as its epilogue. */
bool hg_epilogue_takes(const hg_graph *g, hg_node_id id);

#endif
