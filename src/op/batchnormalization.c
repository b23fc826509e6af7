/* batchnormalization.c - BatchNormalization: (x - mean) / sqrt(variance + epsilon) * scale + bias
 * by channel. */
#include "op/op_reduce.h"

/* Before opset 14 training is told by is_test (6 and older) or by the number of outputs; the saved
 * statistics, outputs 3 and 4, are those of the batch. Before 9, spatial=0 gives each element its
 * own. */
static holo_status batchnormalization_upgrade(hg_graph *g, hg_node_id id, int32_t opset)
{
    const hg_node *node = hg_graph_node(g, id);
    if (opset >= 14) return HOLO_OK;
    bool trains = false;
    for (uint32_t j = 1; j < node->n_out; j++)
        trains = trains || node->out[j] != 0;
    if (hg_node_int(node, "is_test", 0) != 0) trains = false;
    return hg_graph_set_attr(g, id, hg_attr_make_int("training_mode", trains));
}

static holo_status batchnormalization_infer(hg_infer *n)
{
    int64_t training, spatial;
    double factor;
    HG_TRY(hg_infer_rank(n, 0, 1, HG_MAX_RANK));
    HG_TRY(hg_attr_int(n, "training_mode", 0, &training));
    HG_TRY(hg_attr_int(n, "spatial", 1, &spatial));
    HG_TRY(hg_attr_float(n, "epsilon", 1e-5, &factor));
    HG_TRY(hg_attr_float(n, "momentum", 0.9, &factor));
    const hg_type *x = n->in[0];
    hg_dim channels = x->rank > 1 ? x->dim[1] : hg_dim_const(n->dims, 1);
    for (uint32_t i = 1; i < 5; i++) {
        HG_TRY(hg_infer_types(n, i, HG_TYPES_FLOAT));
        HG_TRY(hg_infer_rank(n, i, 1, spatial != 0 ? 1 : x->rank - 1));
        if (!hg_infer_equal(n, n->in[i]->dim[0], channels))
            return hg_infer_fail(n, HOLO_E_SHAPE, "input %u does not have one element a channel",
                                 i);
    }
    if (training != 0 && spatial == 0)
        return hg_infer_fail(n, HOLO_E_UNSUPPORTED, "training with spatial=0 is not supported");
    n->out[0] = *x;
    for (uint32_t j = 1; j < n->n_out; j++)
        n->out[j] = *n->in[3 + (j - 1) % 2];
    return HOLO_OK;
}

/* A value by channel, [C], seen as [C, 1, 1 ...] of the type that is computed in. */
static hg_value_id batchnormalization_channel(hg_build *b, hg_value_id v, int32_t rank,
                                              holo_dtype to)
{
    int64_t axes[HG_MAX_RANK];
    int32_t own = hg_build_type(b, v)->rank;
    uint32_t count = 0;
    for (int32_t i = own; i < rank - 1; i++)
        axes[count++] = i;
    if (count != 0) v = hg_build_2(b, "Unsqueeze", v, hg_build_ints(b, axes, count));
    return hg_build_cast(b, v, to);
}

/* Mean and variance of the batch, and the running ones: outputs 1 to 4. */
static void batchnormalization_train(hg_build *b, hg_value_id x, hg_value_id *mean,
                                     hg_value_id *variance)
{
    int64_t axes[HG_MAX_RANK];
    uint32_t count = 0;
    const hg_type *type = hg_build_type(b, x);
    holo_dtype compute = type->dtype;
    for (int32_t i = 0; i < type->rank; i++)
        if (i != 1) axes[count++] = i;
    hg_value_id list = hg_build_ints(b, axes, count);
    hg_value_id m = hg_build_2(b, "ReduceMean", x, list);
    hg_value_id d = hg_build_2(b, "Sub", x, m);
    hg_value_id batch[2] = {m, hg_build_2(b, "ReduceMean", hg_build_2(b, "Mul", d, d), list)};
    double momentum = hg_node_float(b->node, "momentum", 0.9);
    hg_value_id keep = hg_build_scalar(b, compute, momentum);
    hg_value_id take = hg_build_scalar(b, compute, 1.0 - momentum);
    for (uint32_t k = 0; k < 2 && b->status == HOLO_OK; k++) {
        hg_value_id old = hg_build_in(b, 3 + k);
        holo_dtype dtype = hg_build_type(b, old)->dtype;
        hg_value_id now = hg_build_2(b, "Squeeze", batch[k], list);
        hg_value_id sum =
            hg_build_2(b, "Add", hg_build_2(b, "Mul", hg_build_cast(b, old, compute), keep),
                       hg_build_2(b, "Mul", now, take));
        if (b->node->n_out > 1 + k) hg_build_replace(b, 1 + k, hg_build_cast(b, sum, dtype));
        if (b->node->n_out > 3 + k) hg_build_replace(b, 3 + k, hg_build_cast(b, now, dtype));
    }
    *mean = batch[0];
    *variance = batch[1];
}

/* x * a + c with a = scale / sqrt(variance + epsilon), c = bias - mean * a: with constant
 * statistics a and c fold, and the rest can become the epilogue of a convolution. */
static holo_status batchnormalization_lower(hg_build *b)
{
    hg_value_id x = hg_build_in(b, 0), mean, variance;
    const hg_type *type = hg_build_type(b, x);
    int32_t rank = type->rank;
    holo_dtype dtype = type->dtype, compute = dtype == HOLO_F64 ? HOLO_F64 : HOLO_F32;
    x = hg_build_cast(b, x, compute);
    if (hg_node_int(b->node, "training_mode", 0) != 0) {
        batchnormalization_train(b, x, &mean, &variance);
    } else {
        mean = batchnormalization_channel(b, hg_build_in(b, 3), rank, compute);
        variance = batchnormalization_channel(b, hg_build_in(b, 4), rank, compute);
    }
    hg_value_id scale = batchnormalization_channel(b, hg_build_in(b, 1), rank, compute);
    hg_value_id bias = batchnormalization_channel(b, hg_build_in(b, 2), rank, compute);
    hg_value_id epsilon = hg_build_scalar(b, compute, hg_node_float(b->node, "epsilon", 1e-5));
    hg_value_id deviation = hg_build_1(b, "Sqrt", hg_build_2(b, "Add", variance, epsilon));
    hg_value_id a = hg_build_2(b, "Div", scale, deviation);
    hg_value_id c = hg_build_2(b, "Sub", bias, hg_build_2(b, "Mul", mean, a));
    hg_value_id y = hg_build_2(b, "Add", hg_build_2(b, "Mul", x, a), c);
    hg_build_replace(b, 0, hg_build_cast(b, y, dtype));
    return b->status;
}

const hg_op hg_op_batchnormalization = {
    .name = "BatchNormalization",
    .brief = "(x - mean) / sqrt(variance + epsilon) * scale + bias by channel",
    .since = 1,
    .version = 15,
    .in = {5, 5},
    .out = {1, 5},
    .types = HG_TYPES_FLOAT,
    .upgrade = batchnormalization_upgrade,
    .infer = batchnormalization_infer,
    .lower = batchnormalization_lower,
};
