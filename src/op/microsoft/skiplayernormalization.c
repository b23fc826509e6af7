/* skiplayernormalization.c - com.microsoft:SkipLayerNormalization: LayerNormalization of a sum. */
#include "op/op_norm.h"

enum {
    SKIPLAYERNORMALIZATION_SCALE = 2,
    SKIPLAYERNORMALIZATION_SHIFT,
    SKIPLAYERNORMALIZATION_BIAS
};

static holo_status skiplayernormalization_lower(hg_build *b)
{
    double epsilon = hg_node_float(b->node, "epsilon", HG_NORM_SKIP_EPSILON);
    uint32_t n_out = b->node->n_out, n_norm = n_out > 3 ? 3 : n_out;
    hg_attr attr = hg_attr_make_float("epsilon", epsilon);
    hg_value_id sum = hg_build_norm_sum(b, SKIPLAYERNORMALIZATION_BIAS);
    hg_value_id in[] = {sum, hg_build_in(b, SKIPLAYERNORMALIZATION_SCALE),
                        hg_build_in(b, SKIPLAYERNORMALIZATION_SHIFT)};
    hg_node_id norm = hg_build_node(b, "LayerNormalization", in, HG_COUNT(in), &attr, 1, n_norm);
    for (uint32_t j = 0; norm != 0 && j < n_norm; j++)
        hg_build_replace(b, j, hg_graph_node(b->g, norm)->out[j]);
    if (n_out > 3) hg_build_replace(b, 3, sum);
    return b->status;
}

const hg_op hg_op_microsoft_skiplayernormalization = {
    .name = "SkipLayerNormalization",
    .domain = "com.microsoft",
    .brief = "LayerNormalization of a sum",
    .since = 1,
    .in = {3, 5},
    .out = {1, 4},
    .types = HG_TYPES_FLOAT,
    .infer = hg_norm_skip_infer,
    .lower = skiplayernormalization_lower,
};
