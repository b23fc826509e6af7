/* svmprobability.c - holo:SvmProbability: probabilities of classes from scores of their pairs.
 * Attribute: classes. */
#include "op/op.h"

static holo_status svmprobability_infer(hg_infer *n)
{
    int64_t classes;
    HG_TRY(hg_attr_int(n, "classes", 1, &classes));
    n->out[0] = *n->in[0];
    n->out[0].dim[1] = hg_dim_const(n->dims, classes);
    return HOLO_OK;
}

const hg_op hg_op_internal_svmprobability = {
    .name = "SvmProbability",
    .domain = "holo",
    .brief = "probabilities of classes from scores of their pairs",
    .since = 1,
    .in = {3, 3},
    .out = {1, 1},
    .types = HG_TYPE_BIT(HOLO_F64),
    .flags = HG_OP_INTERNAL,
    .infer = svmprobability_infer,
    .kernel = "svm.probability",
};
