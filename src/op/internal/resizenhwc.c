/* resizenhwc.c - holo:ResizeNhwc: Resize with the same attributes and inputs, but X has its
 * channels last. Axes, roi, scales and sizes still speak of [N, C, spatial...]. */
#include "op/op_resize.h"

static const hg_resize_form resizenhwc_form = {.roi = 1,
                                               .scales = 2,
                                               .sizes = 3,
                                               .coordinate = "half_pixel",
                                               .nearest = "round_prefer_floor",
                                               .is_nhwc = true};

static holo_status resizenhwc_infer(hg_infer *n)
{
    HG_TRY(hg_infer_rank(n, 0, 3, HG_MAX_RANK));
    return hg_resize_infer(n, &resizenhwc_form);
}

static holo_status resizenhwc_emit(hg_emit *e)
{
    return hg_resize_emit(e, &resizenhwc_form);
}

const hg_op hg_op_internal_resizenhwc = {
    .name = "ResizeNhwc",
    .domain = "holo",
    .brief = "Resize of a tensor with its channels last",
    .since = 1,
    .in = {1, 4},
    .out = {1, 1},
    .types = HG_TYPES_ANY & ~HG_TYPES_NARROW,
    .flags = HG_OP_INTERNAL,
    .infer = resizenhwc_infer,
    .kernel = "resize",
    .emit = resizenhwc_emit,
};
