/* upsample.c - Upsample: Resize as it was before opset 10. */
#include "op/op_resize.h"

static const hg_resize_form upsample_form = {
    .scales = 1, .coordinate = "asymmetric", .nearest = "floor"};

/* Upsample calls linear interpolation of pictures bilinear in its first version. */
static holo_status upsample_upgrade(hg_graph *g, hg_node_id id, int32_t opset)
{
    hg_str mode = hg_node_string(hg_graph_node(g, id), "mode", "nearest");
    if (opset >= 9 || !hg_str_is(mode, "bilinear")) return HOLO_OK;
    return hg_graph_set_attr(g, id, hg_attr_make_string("mode", "linear"));
}

static holo_status upsample_infer(hg_infer *n)
{
    return hg_resize_infer(n, &upsample_form);
}

static holo_status upsample_emit(hg_emit *e)
{
    return hg_resize_emit(e, &upsample_form);
}

const hg_op hg_op_upsample = {
    .name = "Upsample",
    .brief = "a tensor sampled at a higher density; Resize replaces it",
    .since = 7,
    .version = 10,
    .in = {1, 2},
    .out = {1, 1},
    .types = HG_TYPES_ANY & ~HG_TYPES_NARROW,
    .upgrade = upsample_upgrade,
    .infer = upsample_infer,
    .kernel = "resize",
    .emit = upsample_emit,
};
