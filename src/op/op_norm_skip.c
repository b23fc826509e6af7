/* op_norm_skip.c - what SkipLayerNormalization and SkipSimplifiedLayerNormalization share. */
#include "op/op_norm.h"

/* Inputs 0 and 1 are added, all others are vectors of the size of the last axis. */
holo_status hg_norm_skip_infer(hg_infer *n)
{
    const hg_type *x = n->in[0];
    double epsilon;
    HG_TRY(hg_attr_float(n, "epsilon", HG_NORM_SKIP_EPSILON, &epsilon));
    HG_TRY(hg_infer_rank(n, 0, 2, 3));
    HG_TRY(hg_infer_rank(n, 1, 2, x->rank));
    for (uint32_t i = 1; i < n->n_in; i++) {
        if (!hg_infer_has(n, i)) continue;
        const hg_type *t = n->in[i];
        HG_TRY(hg_infer_same_type(n, 0, i));
        if (i > 1) HG_TRY(hg_infer_rank(n, i, 1, 1));
        for (int32_t k = 0, lead = x->rank - t->rank; k < t->rank; k++)
            if (i == 1 && lead + k == 0 ? !hg_infer_equal_or_1(n, t->dim[k], x->dim[lead + k])
                                        : !hg_infer_equal(n, t->dim[k], x->dim[lead + k]))
                return hg_infer_fail(n, HOLO_E_SHAPE,
                                     "dimension %d of input %u does not fit input 0", k, i);
    }
    for (uint32_t j = 0; j < n->n_out; j++)
        n->out[j] = *x;
    for (uint32_t j = 1; j < n->n_out && j <= 2; j++) {
        n->out[j].dtype = HOLO_F32;
        n->out[j].dim[x->rank - 1] = hg_dim_const(n->dims, 1);
    }
    return HOLO_OK;
}

hg_value_id hg_build_norm_sum(hg_build *b, uint32_t bias)
{
    hg_value_id x = hg_build_2(b, "Add", hg_build_in(b, 0), hg_build_in(b, 1));
    return hg_build_in(b, bias) == 0 ? x : hg_build_2(b, "Add", x, hg_build_in(b, bias));
}
