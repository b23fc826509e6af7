/* roialign.c - RoiAlign: regions of pictures sampled to one size. */
#include "op/op.h"

/* RoiAlign-10 has no half pixel. */
static holo_status roialign_upgrade(hg_graph *g, hg_node_id id, int32_t opset)
{
    if (opset >= 16) return HOLO_OK;
    return hg_graph_set_attr(
        g, id, hg_attr_make_string("coordinate_transformation_mode", "output_half_pixel"));
}

static holo_status roialign_size(const hg_infer *n, const char *name, hg_dim *out)
{
    int64_t size;
    HG_TRY(hg_attr_int(n, name, 1, &size));
    if (size < 1 || size > INT32_MAX)
        return hg_infer_fail(n, HOLO_E_MODEL, "%s is %lld, expected at least 1", name,
                             (long long)size);
    *out = hg_dim_const(n->dims, size);
    return HOLO_OK;
}

static holo_status roialign_words(const hg_infer *n)
{
    hg_str mode, coordinate;
    HG_TRY(hg_attr_string(n, "mode", "avg", &mode));
    HG_TRY(hg_attr_string(n, "coordinate_transformation_mode", "half_pixel", &coordinate));
    if (!hg_str_is(mode, "avg") && !hg_str_is(mode, "max"))
        return hg_infer_fail(n, HOLO_E_MODEL, "mode is \"%.*s\", expected avg or max",
                             HG_STR_ARG(mode));
    if (!hg_str_is(coordinate, "half_pixel") && !hg_str_is(coordinate, "output_half_pixel"))
        return hg_infer_fail(n, HOLO_E_MODEL,
                             "coordinate_transformation_mode is \"%.*s\", expected half_pixel or "
                             "output_half_pixel",
                             HG_STR_ARG(coordinate));
    return HOLO_OK;
}

static holo_status roialign_infer(hg_infer *n)
{
    int64_t ratio;
    double scale;
    HG_TRY(hg_infer_rank(n, 0, 4, 4));
    HG_TRY(hg_infer_rank(n, 1, 2, 2));
    HG_TRY(hg_infer_rank(n, 2, 1, 1));
    HG_TRY(hg_infer_same_type(n, 0, 1));
    HG_TRY(hg_infer_types(n, 2, HG_TYPE_BIT(HOLO_I64)));
    HG_TRY(hg_attr_float(n, "spatial_scale", 1.0, &scale));
    HG_TRY(hg_attr_int(n, "sampling_ratio", 0, &ratio));
    if (ratio < 0)
        return hg_infer_fail(n, HOLO_E_MODEL, "sampling_ratio is %lld, expected at least 0",
                             (long long)ratio);
    HG_TRY(roialign_words(n));
    hg_type *out = &n->out[0];
    *out =
        (hg_type){.dtype = n->in[0]->dtype, .rank = 4, .dim = {n->in[1]->dim[0], n->in[0]->dim[1]}};
    HG_TRY(roialign_size(n, "output_height", &out->dim[2]));
    return roialign_size(n, "output_width", &out->dim[3]);
}

static holo_status roialign_emit(hg_emit *e)
{
    hg_str coordinate = hg_node_string(e->node, "coordinate_transformation_mode", "half_pixel");
    HG_TRY(hg_emit_int(e, hg_str_is(hg_node_string(e->node, "mode", "avg"), "max")));
    HG_TRY(hg_emit_int(e, hg_node_int(e->node, "sampling_ratio", 0)));
    HG_TRY(hg_emit_float(e, hg_node_float(e->node, "spatial_scale", 1.0)));
    return hg_emit_int(e, hg_str_is(coordinate, "half_pixel"));
}

const hg_op hg_op_roialign = {
    .name = "RoiAlign",
    .brief = "regions of pictures sampled to one size",
    .since = 10,
    .version = 22,
    .in = {3, 3},
    .out = {1, 1},
    .types = HG_TYPES_FLOAT,
    .upgrade = roialign_upgrade,
    .infer = roialign_infer,
    .kernel = "roialign",
    .emit = roialign_emit,
};
