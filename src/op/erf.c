/* erf.c - Erf: y = erf x, the error function. */
#include "op/op_upgrade.h"

/* Erf-9 takes integers too. */
static holo_status erf_upgrade(hg_graph *g, hg_node_id id, int32_t opset)
{
    hg_build b;
    hg_build_init(&b, g, id);
    hg_value_id x = hg_build_in(&b, 0);
    const holo_dtype dtype = hg_build_type(&b, x)->dtype;
    if (opset >= 13 || !hg_dtype_in(dtype, HG_TYPES_INT)) return HOLO_OK;
    hg_value_id y = hg_build_1(&b, "Erf", hg_build_cast(&b, x, HOLO_F64));
    const hg_attr to = hg_attr_make_int("to", (int64_t)dtype);
    return hg_upgrade_replace(&b, "Cast", &y, 1, &to, 1);
}

static hg_lane_id erf_lane(hg_formula *f, const hg_lane_id *in)
{
    return hg_lane_1(f->b, HG_LANE_ERF, in[0]);
}

const hg_op hg_op_erf = {
    .name = "Erf",
    .brief = "y = erf x, the error function",
    .since = 9,
    .version = 13,
    .in = {1, 1},
    .out = {1, 1},
    .types = HG_TYPES_FLOAT,
    .upgrade = erf_upgrade,
    .infer = hg_infer_same_as_input,
    .lane = erf_lane,
};
