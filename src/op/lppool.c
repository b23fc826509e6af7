/* lppool.c - LpPool: the p-norm of each window. */
#include "op/op_pool_gradient.h"
#include "op/op_upgrade.h"

static holo_status lppool_infer(hg_infer *n)
{
    return hg_pool_infer(n, HG_POOL_NCHW);
}

static holo_status lppool_emit(hg_emit *e)
{
    return hg_pool_emit(e, HG_POOL_LP, HG_POOL_NCHW);
}

/* d y / d x is sign(x) (|x| / y)^(p - 1), of which y goes to its window. */
static holo_status lppool_gradient(hg_gradient *d)
{
    hg_build *b = d->b;
    const hg_infer n = hg_gradient_reader(d);
    const hg_type type = *hg_gradient_type(d, 0);
    const int64_t p = hg_node_int(hg_gradient_node(d), "p", 2);
    const hg_value_id x = hg_gradient_input(d, 0), y = hg_gradient_output(d, 0);
    hg_value_id none = hg_build_scalar(b, type.dtype, 0.0), sign = hg_build_1(b, "Sign", x);
    hg_window w;
    HG_TRY(hg_pool_read(&n, &type, HG_POOL_NCHW, &w));
    hg_value_id g =
        hg_build_2(b, "Mul", d->out[0],
                   hg_build_2(b, "Pow", y, hg_build_scalar(b, type.dtype, 1.0 - (double)p)));
    g = hg_build_3(b, "Where", hg_build_2(b, "Equal", y, none), none, g);
    g = hg_build_pool_back(b, g, &type, &w);
    hg_value_id power = hg_build_2(b, "Pow", hg_build_1(b, "Abs", x),
                                   hg_build_scalar(b, type.dtype, (double)p - 1.0));
    d->in[0] = hg_build_2(b, "Mul", g, hg_build_2(b, "Mul", sign, power));
    return b->status;
}

const hg_op hg_op_lppool = {
    .name = "LpPool",
    .brief = "the p-norm of each window",
    .since = 1,
    .version = 22,
    .in = {1, 1},
    .out = {1, 1},
    .types = HG_TYPES_FLOAT,
    .upgrade = hg_upgrade_norm,
    .infer = lppool_infer,
    .kernel = "pool",
    .emit = lppool_emit,
    .gradient = lppool_gradient,
};
