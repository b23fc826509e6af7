/* upsample.c - Upsample: Resize as it was before opset 10. */
#include "op/op_resize.h"

static const hg_resize_form upsample_form = {
    .scales = 1, .coordinate = "asymmetric", .nearest = "floor"};

/* Upsample-1: the last two of four dimensions, each by a scale of its own. */
static holo_status upsample_first(hg_graph *g, hg_node_id id)
{
    const hg_node *n = hg_graph_node(g, id);
    float *scales;
    HG_TRY(HG_NEW(g->ctx, 4, &scales));
    scales[0] = scales[1] = 1;
    scales[2] = (float)hg_node_float(n, "height_scale", 0.0);
    scales[3] = (float)hg_node_float(n, "width_scale", 0.0);
    return hg_graph_set_attr(
        g, id,
        (hg_attr){
            .name = hg_str_from("scales"), .kind = HG_ATTR_FLOATS, .floats = scales, .count = 4});
}

/* Upsample calls linear interpolation of pictures bilinear in its first versions. */
static holo_status upsample_upgrade(hg_graph *g, hg_node_id id, int32_t opset)
{
    hg_str mode = hg_node_string(hg_graph_node(g, id), "mode", "nearest");
    if (opset < 7) HG_TRY(upsample_first(g, id));
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

static holo_status upsample_gradient(hg_gradient *d)
{
    return hg_resize_gradient(d, &upsample_form);
}

const hg_op hg_op_upsample = {
    .name = "Upsample",
    .brief = "a tensor sampled at a higher density; Resize replaces it",
    .since = 1,
    .version = 10,
    .in = {1, 2},
    .out = {1, 1},
    .types = HG_TYPES_ANY & ~HG_TYPES_NARROW,
    .upgrade = upsample_upgrade,
    .infer = upsample_infer,
    .kernel = "resize",
    .emit = upsample_emit,
    .gradient = upsample_gradient,
};
