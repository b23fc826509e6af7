/* meanvariancenormalization.c - MeanVarianceNormalization: zero mean and unit variance over some
 * axes. */
#include "op/op_reduce.h"

static holo_status meanvariancenormalization_infer(hg_infer *n)
{
    const int64_t *axes;
    size_t count;
    int32_t axis;
    HG_TRY(hg_attr_ints(n, "axes", &axes, &count));
    for (size_t i = 0; i < count; i++)
        HG_TRY(hg_axis_normalize(n, axes[i], n->in[0]->rank, &axis));
    if (count == 0) HG_TRY(hg_infer_rank(n, 0, 4, HG_MAX_RANK));
    return hg_infer_same_as_input(n);
}

/* The standard adds 1e-9 to the deviation. */
static holo_status meanvariancenormalization_lower(hg_build *b)
{
    static const int64_t standard[] = {0, 2, 3};
    hg_value_id x = hg_build_wide(b, hg_build_in(b, 0));
    holo_dtype dtype = hg_build_type(b, x)->dtype;
    size_t count;
    const int64_t *axes = hg_node_ints(b->node, "axes", &count);
    if (count == 0) axes = standard, count = HG_COUNT(standard);
    hg_value_id mean = hg_build_reduce(b, "ReduceMean", x, axes, (uint32_t)count);
    hg_value_id d = hg_build_2(b, "Sub", x, mean);
    hg_value_id square = hg_build_2(b, "Mul", d, d);
    hg_value_id variance = hg_build_reduce(b, "ReduceMean", square, axes, (uint32_t)count);
    hg_value_id deviation = hg_build_1(b, "Sqrt", variance);
    deviation = hg_build_2(b, "Add", deviation, hg_build_scalar(b, dtype, 1e-9));
    hg_value_id y = hg_build_2(b, "Div", d, deviation);
    hg_build_replace(b, 0, hg_build_cast(b, y, hg_build_type(b, hg_build_in(b, 0))->dtype));
    return b->status;
}

const hg_op hg_op_meanvariancenormalization = {
    .name = "MeanVarianceNormalization",
    .brief = "zero mean and unit variance over some axes",
    .since = 9,
    .version = 13,
    .in = {1, 1},
    .out = {1, 1},
    .types = HG_TYPES_FLOAT,
    .infer = meanvariancenormalization_infer,
    .lower = meanvariancenormalization_lower,
};
