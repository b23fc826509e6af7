/* resize.c - Resize: a tensor sampled at another density along some axes. */
#include "op/op_resize.h"
#include "op/op_upgrade.h"

static const hg_resize_form resize_form = {
    .roi = 1, .scales = 2, .sizes = 3, .coordinate = "half_pixel", .nearest = "round_prefer_floor"};

/* Resize-10: inputs X and scales, places without a half. */
static holo_status resize_upgrade(hg_graph *g, hg_node_id id, int32_t opset)
{
    if (opset >= 11) return HOLO_OK;
    hg_build b;
    hg_build_init(&b, g, id);
    hg_value_id in[] = {hg_build_in(&b, 0), 0, hg_build_in(&b, 1)};
    hg_attr attr[] = {
        {.name = hg_str_from("mode"),
         .kind = HG_ATTR_STRING,
         .s = hg_node_string(b.node, "mode", "nearest")},
        hg_attr_make_string("coordinate_transformation_mode", "asymmetric"),
        hg_attr_make_string("nearest_mode", "floor"),
    };
    return hg_upgrade_replace(&b, "Resize", in, HG_COUNT(in), attr, HG_COUNT(attr));
}

static holo_status resize_infer(hg_infer *n)
{
    return hg_resize_infer(n, &resize_form);
}

static holo_status resize_emit(hg_emit *e)
{
    return hg_resize_emit(e, &resize_form);
}

static holo_status resize_gradient(hg_gradient *d)
{
    return hg_resize_gradient(d, &resize_form);
}

const hg_op hg_op_resize = {
    .name = "Resize",
    .brief = "a tensor sampled at another density along some axes",
    .since = 10,
    .version = 19,
    .in = {1, 4},
    .out = {1, 1},
    .types = HG_TYPES_ANY & ~HG_TYPES_NARROW,
    .upgrade = resize_upgrade,
    .infer = resize_infer,
    .kernel = "resize",
    .emit = resize_emit,
    .gradient = resize_gradient,
};
