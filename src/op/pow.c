/* pow.c - Pow: y = a^b; the type is that of a. */
#include "op/op.h"
#include "op/op_formula.h"
#include "op/op_shape.h"
#include "op/op_upgrade.h"

static holo_status pow_infer(hg_infer *n)
{
    HG_TRY(hg_infer_types(n, 1, HG_TYPES_NUMBER));
    n->out[0].dtype = n->in[0]->dtype;
    return hg_shape_broadcast(n, 0, 2, &n->out[0]);
}

/* Integers to an integer power wrap; to a float power they are computed in f64 and cut off. */
static hg_lane_id pow_lane(hg_formula *f, const hg_lane_id *in)
{
    hg_lane_id base = in[0], power = in[1];
    bool is_float = hg_dtype_is_float(f->in_dtype[0]);
    if (!is_float && hg_dtype_is_float(f->in_dtype[1])) {
        base = hg_lane_cast(f->b, base, HG_LANE_F64);
        power = hg_lane_cast(f->b, power, HG_LANE_F64);
        return hg_formula_convert(f, hg_lane_2(f->b, HG_LANE_POW, base, power), f->out_dtype);
    }
    power = hg_lane_cast(f->b, power, hg_lane_typeof(f->b, base));
    return hg_lane_2(f->b, HG_LANE_POW, base, power);
}

const hg_op hg_op_pow = {
    .name = "Pow",
    .brief = "y = a^b, in the type of a",
    .since = 1,
    .version = 15,
    .in = {2, 2},
    .out = {1, 1},
    .types = HG_TYPES_FLOAT | HG_TYPE_BIT(HOLO_I32) | HG_TYPE_BIT(HOLO_I64),
    .upgrade = hg_upgrade_broadcast,
    .infer = pow_infer,
    .lane = pow_lane,
};
