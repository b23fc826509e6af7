/* multinomial.c - Multinomial: classes drawn by their probabilities. */
#include "op/op_random.h"

static holo_status multinomial_infer(hg_infer *n)
{
    int64_t samples;
    HG_TRY(hg_infer_rank(n, 0, 2, 2));
    HG_TRY(hg_attr_int(n, "sample_size", 1, &samples));
    if (samples < 0 || samples > INT32_MAX)
        return hg_infer_fail(n, HOLO_E_MODEL, "sample_size is %lld, expected 0 to 2147483647",
                             (long long)samples);
    n->out[0] = (hg_type){.rank = 2, .dim = {n->in[0]->dim[0], hg_dim_const(n->dims, samples)}};
    return hg_random_dtype(n, HOLO_I32, HG_TYPE_BIT(HOLO_I32) | HG_TYPE_BIT(HOLO_I64),
                           &n->out[0].dtype);
}

static holo_status multinomial_emit(hg_emit *e)
{
    return hg_emit_int(e, hg_random_seed(e->node, e->id));
}

const hg_op hg_op_multinomial = {
    .name = "Multinomial",
    .brief = "classes drawn by their probabilities",
    .since = 7,
    .version = 22,
    .in = {1, 1},
    .out = {1, 1},
    .types = HG_TYPES_FLOAT,
    .flags = HG_OP_EFFECT,
    .infer = multinomial_infer,
    .kernel = "multinomial",
    .emit = multinomial_emit,
};
