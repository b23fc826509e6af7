/* selu.c - Selu: y = gamma x for x > 0, gamma alpha (e^x - 1) otherwise. */
#include "op/op.h"
#include "op/op_formula.h"

/* Selu-1: the constants are shorter. */
static holo_status selu_upgrade(hg_graph *g, hg_node_id id, int32_t opset)
{
    if (opset >= 6) return HOLO_OK;
    if (hg_node_attr(hg_graph_node(g, id), "alpha") == NULL)
        HG_TRY(hg_graph_set_attr(g, id, hg_attr_make_float("alpha", 1.6732)));
    if (hg_node_attr(hg_graph_node(g, id), "gamma") != NULL) return HOLO_OK;
    return hg_graph_set_attr(g, id, hg_attr_make_float("gamma", 1.0507));
}

static hg_lane_id selu_lane(hg_formula *f, const hg_lane_id *in)
{
    double alpha = hg_node_float(f->node, "alpha", 1.67326319217681884765625);
    double gamma = hg_node_float(f->node, "gamma", 1.05070102214813232421875);
    hg_lane_id low = hg_lane_1(f->b, HG_LANE_EXPM1, in[0]);
    low = hg_lane_2(f->b, HG_LANE_MUL, hg_formula_number(f, in[0], alpha), low);
    hg_lane_id positive = hg_lane_2(f->b, HG_LANE_LT, hg_formula_number(f, in[0], 0.0), in[0]);
    hg_lane_id y = hg_lane_select(f->b, positive, in[0], low);
    return hg_lane_2(f->b, HG_LANE_MUL, hg_formula_number(f, in[0], gamma), y);
}

const hg_op hg_op_selu = {
    .name = "Selu",
    .brief = "y = gamma x for x > 0, gamma alpha (e^x - 1) otherwise",
    .since = 1,
    .version = 22,
    .in = {1, 1},
    .out = {1, 1},
    .types = HG_TYPES_FLOAT,
    .upgrade = selu_upgrade,
    .infer = hg_infer_same_as_input,
    .lane = selu_lane,
};
