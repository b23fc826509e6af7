/* flexattention.c - holo:FlexAttention: the rest of a FlexAttention, behind one of its graphs.
 *
 *   in    values [B, H, T, E]; what the graph was given [B, QH, S, T]; what it gave
 *   step  0: those are scores; 1: probabilities
 *   body  at step 0: the graph that the probabilities pass through, if there is one */
#include "op/op_attention.h"
#include "op/op_shape.h"

enum { FLEX_VALUES, FLEX_GIVEN, FLEX_GOT };
enum { FLEX_SCORES, FLEX_PROBABILITIES };

static holo_status flex_infer(hg_infer *n)
{
    const hg_type *given = n->in[FLEX_GIVEN];
    hg_dim fits = hg_dim_const(n->dims, 1);
    const bool is_score = hg_node_int(n->node, "step", 0) == FLEX_SCORES;
    if (n->in[FLEX_GOT]->dtype != given->dtype)
        return hg_infer_fail(
            n, HOLO_E_TYPE, "%s gives %s, expected %s", is_score ? "score_mod" : "prob_mod",
            holo_dtype_text(n->in[FLEX_GOT]->dtype), holo_dtype_text(given->dtype));
    HG_TRY(hg_shape_expect(n, FLEX_GOT, given->dim, 4, &fits));
    n->out[0] = *given;
    n->out[0].dtype = n->in[FLEX_VALUES]->dtype;
    n->out[0].dim[3] = n->in[FLEX_VALUES]->dim[3];
    return HOLO_OK;
}

/* What the graph gave, seen with the dims of what it was given: other sizes are refused. */
static hg_value_id flex_got(hg_build *b)
{
    const hg_type given = *hg_build_type(b, hg_build_in(b, FLEX_GIVEN));
    hg_value_id x = hg_build_in(b, FLEX_GOT);
    if (hg_type_equal(hg_build_type(b, x), &given)) return x;
    return hg_build_reshape(b, x, given.dim, 4);
}

static holo_status flex_lower(hg_build *b)
{
    const hg_value_id v = hg_build_in(b, FLEX_VALUES);
    const hg_type type = *hg_build_type(b, v),
                  given = *hg_build_type(b, hg_build_in(b, FLEX_GIVEN));
    const hg_attention_shape s = {.batch = given.dim[0],
                                  .q_heads = given.dim[1],
                                  .heads = type.dim[1],
                                  .queries = given.dim[2],
                                  .keys = given.dim[3],
                                  .v_size = type.dim[3]};
    const hg_attr axis = hg_attr_make_int("axis", -1), step = hg_attr_make_int("step", 1);
    hg_value_id x = flex_got(b);
    if (hg_node_int(b->node, "step", 0) == FLEX_SCORES) {
        x = hg_build_op(b, "Softmax", &x, 1, &axis, 1);
        hg_value_id rest[] = {v, x, hg_build_body(b, 0, x)};
        if (b->status == HOLO_OK && rest[FLEX_GOT] != x) {
            hg_node_id id =
                hg_build_later(b, "holo:FlexAttention", rest, HG_COUNT(rest), &step, 1, UINT32_MAX);
            if (id != 0) hg_build_replace(b, 0, hg_graph_node(b->g, id)->out[0]);
            return b->status;
        }
    }
    hg_build_replace(b, 0, hg_build_cast(b, hg_build_attention_mix(b, &s, x, v), type.dtype));
    return b->status;
}

const hg_op hg_op_internal_flexattention = {
    .name = "FlexAttention",
    .domain = "holo",
    .brief = "the rest of a FlexAttention, behind one of its graphs",
    .since = 1,
    .in = {3, 3},
    .out = {1, 1},
    .flags = HG_OP_INTERNAL | HG_OP_BODY_OPTIONAL,
    .n_body = 1,
    .body = {"prob_mod"},
    .infer = flex_infer,
    .lower = flex_lower,
};
