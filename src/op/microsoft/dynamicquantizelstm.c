/* dynamicquantizelstm.c - com.microsoft:DynamicQuantizeLSTM: LSTM with 8-bit weights.
 *
 * The weights are the numbers behind their codes. Inputs and states stay floats: rounding them to 8
 * bits is what an implementation may do, not what the layer means. */
#include "op/op.h"

enum { DQL_X, DQL_W, DQL_R, DQL_B, DQL_LSTM_INPUTS = 8, DQL_W_SCALE = 8, DQL_R_SCALE = 10 };

#define DQL_CODES (HG_TYPE_BIT(HOLO_U8) | HG_TYPE_BIT(HOLO_I8))

/* Weights [directions, size, 4 hidden], scale and zero point [directions] or [directions, 4
 * hidden]. */
static holo_status dql_check(const hg_infer *n, uint32_t weights, uint32_t scale)
{
    HG_TRY(hg_infer_types(n, weights, DQL_CODES));
    HG_TRY(hg_infer_rank(n, weights, 3, 3));
    HG_TRY(hg_infer_types(n, scale, HG_TYPE_BIT(HOLO_F32)));
    HG_TRY(hg_infer_same_type(n, weights, scale + 1));
    for (uint32_t i = scale; i <= scale + 1; i++) {
        const hg_type *t = n->in[i];
        HG_TRY(hg_infer_rank(n, i, 1, 2));
        if (!hg_infer_equal(n, t->dim[0], n->in[weights]->dim[0]) ||
            (t->rank == 2 && !hg_infer_equal(n, t->dim[1], n->in[weights]->dim[2])))
            return hg_infer_fail(n, HOLO_E_SHAPE, "input %u does not fit the weights", i);
    }
    return HOLO_OK;
}

static holo_status dql_infer(hg_infer *n)
{
    const hg_type *in[DQL_LSTM_INPUTS];
    hg_type weights[2];
    HG_TRY(dql_check(n, DQL_W, DQL_W_SCALE));
    HG_TRY(dql_check(n, DQL_R, DQL_R_SCALE));
    memcpy(in, n->in, sizeof in);
    for (uint32_t i = 0; i < 2; i++) {
        const hg_type *codes = n->in[DQL_W + i];
        weights[i] = (hg_type){
            .dtype = HOLO_F32, .rank = 3, .dim = {codes->dim[0], codes->dim[2], codes->dim[1]}};
        in[DQL_W + i] = &weights[i];
    }
    hg_infer layer = *n;
    layer.in = in;
    layer.n_in = DQL_LSTM_INPUTS;
    return hg_op_get("LSTM")->infer(&layer);
}

/* [directions] or [directions, 4 hidden] beside [directions, size, 4 hidden]. */
static hg_value_id dql_spread(hg_build *b, uint32_t i)
{
    hg_value_id x = hg_build_cast(b, hg_build_in(b, i), HOLO_F32);
    bool by_direction = hg_build_type(b, x)->rank == 1;
    return hg_build_2(b, "Unsqueeze", x, hg_build_ints(b, (int64_t[]){1, 2}, by_direction ? 2 : 1));
}

static hg_value_id dql_weights(hg_build *b, uint32_t weights, uint32_t scale)
{
    hg_attr perm = hg_attr_make_ints(b, "perm", (int64_t[]){0, 2, 1}, 3);
    hg_value_id x = hg_build_cast(b, hg_build_in(b, weights), HOLO_F32);
    x = hg_build_2(b, "Sub", x, dql_spread(b, scale + 1));
    x = hg_build_2(b, "Mul", x, dql_spread(b, scale));
    return hg_build_op(b, "Transpose", &x, 1, &perm, 1);
}

static holo_status dql_lower(hg_build *b)
{
    hg_value_id in[DQL_LSTM_INPUTS];
    const uint32_t n_out = b->node->n_out;
    for (uint32_t i = 0; i < DQL_LSTM_INPUTS; i++)
        in[i] = hg_build_in(b, i);
    in[DQL_W] = dql_weights(b, DQL_W, DQL_W_SCALE);
    in[DQL_R] = dql_weights(b, DQL_R, DQL_R_SCALE);
    if (b->status != HOLO_OK) return b->status;
    hg_node_id layer =
        hg_build_node(b, "LSTM", in, DQL_LSTM_INPUTS, b->node->attr, b->node->n_attr, n_out);
    for (uint32_t j = 0; layer != 0 && j < n_out; j++)
        hg_build_replace(b, j, hg_graph_node(b->g, layer)->out[j]);
    return b->status;
}

const hg_op hg_op_microsoft_dynamicquantizelstm = {
    .name = "DynamicQuantizeLSTM",
    .domain = "com.microsoft",
    .brief = "LSTM with 8-bit weights",
    .since = 1,
    .in = {12, 12},
    .out = {0, 3},
    .types = HG_TYPE_BIT(HOLO_F32),
    .infer = dql_infer,
    .lower = dql_lower,
};
