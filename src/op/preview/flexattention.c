/* flexattention.c - FlexAttention: attention whose scores and probabilities pass through graphs.
 *
 * The bodies have types only when their nodes have been visited, so that this ends at the first
 * one: holo:FlexAttention goes on behind it. */
#include "op/op_attention.h"
#include "op/op_shape.h"

enum { FLEX_Q, FLEX_K, FLEX_V };
enum { FLEX_SCORE_MOD, FLEX_PROB_MOD };

/* The type of scores and probabilities. */
static holo_status flex_precision(const hg_infer *n, holo_dtype *out)
{
    const holo_dtype dtype = n->in[FLEX_Q]->dtype;
    int64_t stated;
    *out = dtype == HOLO_F64 ? HOLO_F64 : HOLO_F32;
    HG_TRY(hg_attr_int(n, "softmax_precision", *out, &stated));
    if (stated <= 0 || stated >= 64 || !hg_dtype_in((holo_dtype)stated, HG_TYPES_FLOAT))
        return hg_infer_fail(n, HOLO_E_MODEL, "softmax_precision is %lld, expected a float type",
                             (long long)stated);
    *out = (holo_dtype)stated;
    return HOLO_OK;
}

static holo_status flex_infer(hg_infer *n)
{
    const hg_type *q = n->in[FLEX_Q], *k = n->in[FLEX_K], *v = n->in[FLEX_V];
    hg_dim fits = hg_dim_const(n->dims, 1);
    holo_dtype precision;
    int64_t many, few;
    double scale;
    for (uint32_t i = FLEX_Q; i <= FLEX_V; i++) {
        HG_TRY(hg_infer_rank(n, i, 4, 4));
        HG_TRY(hg_infer_same_type(n, FLEX_Q, i));
    }
    hg_dim keys[] = {q->dim[0], k->dim[1], k->dim[2], q->dim[3]};
    hg_dim values[] = {q->dim[0], k->dim[1], k->dim[2], v->dim[3]};
    HG_TRY(hg_shape_expect(n, FLEX_K, keys, 4, &fits));
    HG_TRY(hg_shape_expect(n, FLEX_V, values, 4, &fits));
    HG_TRY(hg_attr_float(n, "scale", 1.0, &scale));
    HG_TRY(flex_precision(n, &precision));
    if (hg_dim_is_const(n->dims, q->dim[1], &many) && hg_dim_is_const(n->dims, k->dim[1], &few) &&
        many != few && (few < 1 || many % few != 0))
        return hg_infer_fail(n, HOLO_E_SHAPE, "%lld heads of queries and %lld of keys do not fit",
                             (long long)many, (long long)few);
    n->out[0] = *q;
    n->out[0].dim[3] = v->dim[3];
    hg_shape_require(n->dims, fits, &n->out[0]);
    return HOLO_OK;
}

static holo_status flex_lower(hg_build *b)
{
    const hg_type *in[] = {hg_build_type(b, hg_build_in(b, FLEX_Q)),
                           hg_build_type(b, hg_build_in(b, FLEX_K)),
                           hg_build_type(b, hg_build_in(b, FLEX_V))};
    const hg_infer n = {
        .g = b->g, .ctx = b->ctx, .dims = &b->g->dims, .id = b->id, .node = b->node, .in = in};
    const hg_attention_shape s = {.batch = in[FLEX_Q]->dim[0],
                                  .q_heads = in[FLEX_Q]->dim[1],
                                  .heads = in[FLEX_K]->dim[1],
                                  .queries = in[FLEX_Q]->dim[2],
                                  .keys = in[FLEX_K]->dim[2],
                                  .size = in[FLEX_Q]->dim[3]};
    holo_dtype precision;
    HG_TRY(flex_precision(&n, &precision));
    const hg_attr *stated = hg_node_attr(b->node, "scale");
    const double scale = stated != NULL ? (double)stated->f : 0.0;
    hg_value_id x = hg_build_attention_scores(b, &s, hg_build_in(b, FLEX_Q), hg_build_in(b, FLEX_K),
                                              stated != NULL ? &scale : NULL);
    x = hg_build_cast(b, x, precision);
    const hg_attr step = hg_attr_make_int("step", 0);
    const hg_value_id rest[] = {hg_build_in(b, FLEX_V), x, hg_build_body(b, FLEX_SCORE_MOD, x)};
    hg_node_id id =
        hg_build_later(b, "holo:FlexAttention", rest, HG_COUNT(rest), &step, 1, FLEX_PROB_MOD);
    if (id != 0) hg_build_replace(b, 0, hg_graph_node(b->g, id)->out[0]);
    return b->status;
}

const hg_op hg_op_preview_flexattention = {
    .name = "FlexAttention",
    .domain = "ai.onnx.preview",
    .brief = "attention whose scores and probabilities pass through graphs",
    .since = 1,
    .in = {3, 3},
    .out = {1, 1},
    .types = HG_TYPES_FLOAT,
    .flags = HG_OP_BODY_OPTIONAL,
    .n_body = 2,
    .body = {"score_mod", "prob_mod"},
    .infer = flex_infer,
    .lower = flex_lower,
};
