/* bitshift.c - BitShift: y = a << b or a >> b. */
#include "op/op.h"

static holo_status bitshift_infer(hg_infer *n)
{
    hg_str direction;
    HG_TRY(hg_attr_string(n, "direction", "", &direction));
    if (!hg_str_is(direction, "LEFT") && !hg_str_is(direction, "RIGHT"))
        return hg_infer_fail(n, HOLO_E_MODEL, "direction is \"%.*s\", expected LEFT or RIGHT",
                             HG_STR_ARG(direction));
    return hg_infer_broadcast(n);
}

static hg_lane_id bitshift_lane(hg_formula *f, const hg_lane_id *in)
{
    bool left = hg_str_is(hg_node_string(f->node, "direction", ""), "LEFT");
    return hg_lane_2(f->b, left ? HG_LANE_SHL : HG_LANE_SHR, in[0], in[1]);
}

const hg_op hg_op_bitshift = {
    .name = "BitShift",
    .brief = "y = a << b or a >> b; 0 when the count is at least the width",
    .since = 11,
    .in = {2, 2},
    .out = {1, 1},
    .types = HG_TYPES_UNSIGNED_INT,
    .infer = bitshift_infer,
    .lane = bitshift_lane,
};
