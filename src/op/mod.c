/* mod.c - Mod: the remainder of a / b. */
#include "op/op.h"

static holo_status mod_infer(hg_infer *n)
{
    int64_t fmod;
    HG_TRY(hg_attr_int(n, "fmod", 0, &fmod));
    if (fmod == 0 && hg_dtype_is_float(n->in[0]->dtype))
        return hg_infer_fail(n, HOLO_E_TYPE, "fmod is 0, expected 1 for %s",
                             holo_dtype_text(n->in[0]->dtype));
    return hg_infer_broadcast(n);
}

static hg_lane_id mod_lane(hg_formula *f, const hg_lane_id *in)
{
    bool fmod = hg_node_int(f->node, "fmod", 0) != 0;
    return hg_lane_2(f->b, fmod ? HG_LANE_REM : HG_LANE_MOD, in[0], in[1]);
}

const hg_op hg_op_mod = {
    .name = "Mod",
    .brief = "the remainder of a / b, with the sign of b, or of a when fmod is set",
    .since = 10,
    .version = 13,
    .in = {2, 2},
    .out = {1, 1},
    .types = HG_TYPES_NUMBER,
    .infer = mod_infer,
    .lane = mod_lane,
};
