/* op_nhwc.h - sliding windows over channels-last tensors [N, spatial..., C]. */
#ifndef HG_OP_OP_NHWC_H
#define HG_OP_OP_NHWC_H

#include "op/op_window.h"

/* Inputs that a holo:ConvNhwc reads side by side, at most. */
enum { HG_NHWC_MAPS = 16 };

/* Sets out[0] to [N, spatial..., channels] of in[0]'s type; kernel_shape comes from the attribute.
 */
HG_MUST_CHECK holo_status hg_nhwc_infer(hg_infer *n, hg_window_kind kind, hg_dim channels,
                                        hg_window *w);
/* The second output of a convolution, if it has one: means of its rows. */
void hg_nhwc_infer_means(hg_infer *n);
/* holo:ConvNhwc that is a product of pixels and weights: two axes, 1x1, stride 1, no padding, one
 * group. */
bool hg_nhwc_is_pointwise(const hg_node *n);
/* Window of a node that emits. */
HG_MUST_CHECK holo_status hg_nhwc_window(hg_emit *e, hg_window_kind kind, hg_window *w);
/* Parameters kernel, stride, padding at the beginning, dilation of the convolutions. */
HG_MUST_CHECK holo_status hg_nhwc_conv_params(hg_emit *e);

#endif
