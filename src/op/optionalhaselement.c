/* optionalhaselement.c - OptionalHasElement: whether there is a value, which is a dimension of the
 * optional. */
#include "op/op_sequence.h"

static holo_status optionalhaselement_infer(hg_infer *n)
{
    n->out[0] = (hg_type){.dtype = HOLO_BOOL};
    return HOLO_OK;
}

static holo_status optionalhaselement_lower(hg_build *b)
{
    hg_value_id in = hg_build_in(b, 0);
    const hg_type *type = hg_build_type(b, in);
    hg_dim has = hg_dim_const(&b->g->dims, in != 0);
    return hg_sequence_replace_by_dim(b, type->dtype == HOLO_OPTIONAL ? type->dim[0] : has,
                                      HOLO_BOOL);
}

const hg_op hg_op_optionalhaselement = {
    .name = "OptionalHasElement",
    .brief = "whether an optional has a value",
    .since = 15,
    .version = 18,
    .in = {0, 1},
    .out = {1, 1},
    .infer = optionalhaselement_infer,
    .lower = optionalhaselement_lower,
};
