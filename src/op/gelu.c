/* gelu.c - Gelu: y = x P(a normal variable is at most x), exactly or through tanh. */
#include "op/op.h"
#include "op/op_formula.h"

static holo_status gelu_infer(hg_infer *n)
{
    hg_str approximate;
    HG_TRY(hg_attr_string(n, "approximate", "none", &approximate));
    if (!hg_str_is(approximate, "none") && !hg_str_is(approximate, "tanh"))
        return hg_infer_fail(n, HOLO_E_MODEL, "approximate is \"%.*s\", expected none or tanh",
                             HG_STR_ARG(approximate));
    return hg_infer_same_as_input(n);
}

/* x (1 + tanh(u)) / 2 is x sigmoid(2 u), which loses nothing where tanh is near -1; 2 u is
 * sqrt(8 / pi) (x + 0.044715 x^3). */
static hg_lane_id gelu_tanh(hg_formula *f, hg_lane_id x)
{
    hg_lane_id u = hg_lane_2(f->b, HG_LANE_MUL, x, x);
    u = hg_lane_2(f->b, HG_LANE_MUL, u, hg_formula_number(f, x, 0.071354816272600248));
    u = hg_lane_2(f->b, HG_LANE_ADD, u, hg_formula_number(f, x, 1.5957691216057307118));
    u = hg_lane_1(f->b, HG_LANE_SIGMOID, hg_lane_2(f->b, HG_LANE_MUL, u, x));
    return hg_lane_2(f->b, HG_LANE_MUL, u, x);
}

static hg_lane_id gelu_lane(hg_formula *f, const hg_lane_id *in)
{
    hg_lane_id x = in[0], root = hg_formula_number(f, x, 0.70710678118654752440);
    if (hg_str_is(hg_node_string(f->node, "approximate", "none"), "tanh")) return gelu_tanh(f, x);
    hg_lane_id half = hg_lane_2(f->b, HG_LANE_MUL, x, hg_formula_number(f, x, 0.5));
    hg_lane_id y = hg_lane_1(f->b, HG_LANE_ERF, hg_lane_2(f->b, HG_LANE_MUL, x, root));
    y = hg_lane_2(f->b, HG_LANE_ADD, y, hg_formula_number(f, x, 1.0));
    return hg_lane_2(f->b, HG_LANE_MUL, y, half);
}

const hg_op hg_op_gelu = {
    .name = "Gelu",
    .brief = "y = x (1 + erf(x / sqrt 2)) / 2, or its approximation by tanh",
    .since = 20,
    .in = {1, 1},
    .out = {1, 1},
    .types = HG_TYPES_FLOAT,
    .infer = gelu_infer,
    .lane = gelu_lane,
};
