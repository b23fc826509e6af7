/* prelu.c - PRelu: y = slope x for x < 0, x otherwise. */
#include "op/op.h"
#include "op/op_formula.h"
#include "op/op_upgrade.h"

/* PRelu-1 and PRelu-6: a slope of one dimension belongs to the channels. */
static holo_status prelu_upgrade(hg_graph *g, hg_node_id id, int32_t opset)
{
    if (opset >= 7) return HOLO_OK;
    hg_build b;
    hg_build_init(&b, g, id);
    hg_value_id slope = hg_build_in(&b, 1);
    int32_t rank = hg_build_type(&b, hg_build_in(&b, 0))->rank;
    const hg_type *type = hg_build_type(&b, slope);
    if (type->rank != 1 || rank <= 2 || hg_dim_is(&g->dims, type->dim[0], 1)) return HOLO_OK;
    int64_t axes[HG_MAX_RANK];
    for (int32_t i = 0; i < rank - 2; i++)
        axes[i] = 1 + i;
    slope = hg_build_2(&b, "Unsqueeze", slope, hg_build_ints(&b, axes, (uint32_t)rank - 2));
    if (b.status == HOLO_OK) hg_graph_set_input(g, id, 1, slope);
    return b.status;
}

static holo_status prelu_infer(hg_infer *n)
{
    HG_TRY(hg_infer_same_type(n, 0, 1));
    HG_TRY(hg_infer_rank(n, 1, 0, n->in[0]->rank));
    return hg_infer_same_as_input(n);
}

static hg_lane_id prelu_lane(hg_formula *f, const hg_lane_id *in)
{
    hg_lane_id negative = hg_lane_2(f->b, HG_LANE_LT, in[0], hg_formula_number(f, in[0], 0.0));
    return hg_lane_select(f->b, negative, hg_lane_2(f->b, HG_LANE_MUL, in[0], in[1]), in[0]);
}

const hg_op hg_op_prelu = {
    .name = "PRelu",
    .brief = "y = slope x for x < 0, x otherwise",
    .since = 1,
    .version = 16,
    .in = {2, 2},
    .out = {1, 1},
    .types = HG_TYPES_FLOAT | HG_TYPE_BIT(HOLO_I32) | HG_TYPE_BIT(HOLO_I64) |
             HG_TYPE_BIT(HOLO_U32) | HG_TYPE_BIT(HOLO_U64),
    .upgrade = prelu_upgrade,
    .infer = prelu_infer,
    .lane = prelu_lane,
};
