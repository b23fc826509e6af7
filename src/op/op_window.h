/* op_window.h - sliding windows: what Conv, ConvTranspose and the pools share. */
#ifndef HG_OP_OP_WINDOW_H
#define HG_OP_OP_WINDOW_H

#include "op/op.h"

enum { HG_MAX_SPATIAL = HG_MAX_RANK - 2 };

/* One entry for each spatial axis. Padding depends on sizes (auto_pad), so it is an expression. */
typedef struct hg_window {
    int32_t rank;
    hg_dim kernel[HG_MAX_SPATIAL];
    hg_dim stride[HG_MAX_SPATIAL];
    hg_dim dilation[HG_MAX_SPATIAL];
    hg_dim pad_begin[HG_MAX_SPATIAL], pad_end[HG_MAX_SPATIAL];
    hg_dim out[HG_MAX_SPATIAL];
} hg_window;

typedef enum hg_window_kind {
    HG_WINDOW_FLOOR, /* convolution, pooling */
    HG_WINDOW_CEIL,  /* pooling with ceil_mode: windows that start in the right padding are dropped
                      */
    HG_WINDOW_TRANSPOSE /* ConvTranspose: output_padding, output_shape */
} hg_window_kind;

/* Reads strides, dilations, pads, auto_pad (and what the kind adds) of the node and works out
 * padding and output sizes. `rank` is the number of spatial axes, `in` their sizes, `kernel` those
 * of the kernel; NULL takes them from attribute kernel_shape, which is checked against them
 * otherwise. */
HG_MUST_CHECK holo_status hg_window_read(const hg_infer *n, hg_window_kind kind, int32_t rank,
                                         const hg_dim *in, const hg_dim *kernel, hg_window *w);
/* Elements that a dilated kernel spans: (kernel - 1) * dilation + 1. */
hg_dim hg_window_span(hg_dims *d, const hg_window *w, int32_t i);
/* The same for code that emits; nothing can fail that inference has not refused. */
hg_infer hg_emit_reader(const hg_emit *e);

/* Parameters kernel, stride, padding, dilation ..., each for all axes. */
HG_MUST_CHECK holo_status hg_window_emit(hg_emit *e, const hg_dim *list, int32_t rank);

#endif
