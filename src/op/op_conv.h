/* op_conv.h - what Conv, ConvTranspose and the integer convolutions share. */
#ifndef HG_OP_OP_CONV_H
#define HG_OP_OP_CONV_H

#include "kernel/pack.h"
#include "op/op_gradient.h"
#include "op/op_window.h"

typedef enum hg_conv_kind { HG_CONV_FORWARD, HG_CONV_TRANSPOSED } hg_conv_kind;

typedef struct hg_conv {
    hg_window window;
    int64_t groups;
    hg_dim channels_out;
} hg_conv;

/* Shape rule for X [N, C, spatial...] and W at inputs x and w; checks channels, groups and the bias
 * at input `bias` where there is one. */
HG_MUST_CHECK holo_status hg_conv_read(const hg_infer *n, hg_conv_kind kind, const hg_type *x,
                                       const hg_type *w, hg_conv *c);
HG_MUST_CHECK holo_status hg_conv_bias(const hg_infer *n, uint32_t bias, hg_dim channels);
/* Inputs X, W, bias; sets out[0]. */
HG_MUST_CHECK holo_status hg_conv_infer(hg_infer *n, hg_conv_kind kind, hg_conv *c);
/* [N, channels, spatial...] of element type `dtype`. */
hg_type hg_conv_type(const hg_conv *c, const hg_type *x, holo_dtype dtype);
/* Parameters n_spatial, groups, strides, pads_begin, dilations. */
HG_MUST_CHECK holo_status hg_conv_params(hg_emit *e, const hg_conv *c);
HG_MUST_CHECK holo_status hg_conv_emit(hg_emit *e, hg_conv_kind kind);

/* Weights [O, C / groups, kernel...] in panels of 16 outputs. */
typedef struct hg_conv_panels {
    hg_dim groups, panels, depth; /* of a group; elements that an output is summed over */
} hg_conv_panels;

/* Of input 0, with 2 to rank_max - 2 spatial dimensions and attribute "group". */
HG_MUST_CHECK holo_status hg_infer_conv_panels(const hg_infer *n, int32_t rank_max,
                                               hg_conv_panels *out);
/* The parameter of the packing kernels: groups. */
HG_MUST_CHECK holo_status hg_emit_conv_panels(hg_emit *e);

/* op_conv_gradient.c: with respect to the input, of what a window slid over; `in` are its spatial
 * sizes. */
hg_value_id hg_build_conv_back(hg_build *b, hg_value_id dy, hg_value_id weights, const hg_conv *c,
                               const hg_dim *in);
/* [N, C, spatial...] summed up to [C]. */
hg_value_id hg_build_channel_sum(hg_build *b, hg_value_id dy);
HG_MUST_CHECK holo_status hg_conv_gradient(hg_gradient *d, hg_conv_kind kind);

/* Columns that are computed for so many output channels: panels, the last of which may be half. */
static inline int64_t hg_conv_columns(int64_t outputs)
{
    return hg_ceil_div(outputs, HG_PANEL / 2) * (HG_PANEL / 2);
}

/* A ConvTranspose as one Conv that has `phases` times as many output channels, `taps` of its
 * kernel for each, in place of a Conv for each phase, which have `kernel` taps together: channels
 * that are computed for nothing count, too. */
static inline bool hg_conv_phases_are_one(int64_t outputs, int64_t phases, int64_t taps,
                                          int64_t kernel)
{
    return hg_conv_columns(outputs * phases) * taps <= hg_conv_columns(outputs) * kernel;
}

#endif
