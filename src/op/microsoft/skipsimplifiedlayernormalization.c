/* skipsimplifiedlayernormalization.c - com.microsoft:SkipSimplifiedLayerNormalization:
 * RMSNormalization of a sum. */
#include "op/op_norm.h"
#include "op/op_reduce.h"

enum { SKIPSIMPLIFIED_SCALE = 2, SKIPSIMPLIFIED_BIAS };

static holo_status skipsimplified_lower(hg_build *b)
{
    double epsilon = hg_node_float(b->node, "epsilon", HG_NORM_SKIP_EPSILON);
    hg_attr attr = hg_attr_make_float("epsilon", epsilon);
    hg_value_id sum = hg_build_norm_sum(b, SKIPSIMPLIFIED_BIAS);
    hg_value_id in[] = {sum, hg_build_in(b, SKIPSIMPLIFIED_SCALE)};
    hg_build_replace(b, 0, hg_build_op(b, "RMSNormalization", in, 2, &attr, 1));
    if (b->status != HOLO_OK) return b->status;
    const uint32_t n_out = b->node->n_out;
    const int32_t last = hg_build_type(b, sum)->rank - 1;
    if (n_out > 3) hg_build_replace(b, 3, sum);
    hg_value_id wide = n_out > 1 ? hg_build_cast(b, sum, HOLO_F32) : 0;
    if (n_out > 1)
        hg_build_replace(b, 1, hg_build_reduce_range(b, "ReduceMean", wide, last, last + 1));
    if (n_out > 2) hg_build_replace(b, 2, hg_build_norm_inverse(b, wide, last, epsilon));
    return b->status;
}

const hg_op hg_op_microsoft_skipsimplifiedlayernormalization = {
    .name = "SkipSimplifiedLayerNormalization",
    .domain = "com.microsoft",
    .brief = "RMSNormalization of a sum",
    .since = 1,
    .in = {3, 4},
    .out = {1, 4},
    .types = HG_TYPES_FLOAT,
    .infer = hg_norm_skip_infer,
    .lower = skipsimplified_lower,
};
