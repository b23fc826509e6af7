/* bernoulli.c - Bernoulli: 1 with the probability that an element says, else 0. */
#include "op/op_random.h"

static holo_status bernoulli_infer(hg_infer *n)
{
    n->out[0] = *n->in[0];
    return hg_random_dtype(n, n->in[0]->dtype, HG_TYPES_NUMBER | HG_TYPES_BOOL, &n->out[0].dtype);
}

static holo_status bernoulli_lower(hg_build *b)
{
    hg_value_id x = hg_build_in(b, 0);
    holo_dtype dtype = hg_build_type(b, x)->dtype,
               compute = dtype == HOLO_F64 ? HOLO_F64 : HOLO_F32;
    const hg_attr *seed = hg_node_attr(b->node, "seed");
    hg_attr attr[] = {
        hg_attr_make_int("dtype", (int64_t)compute),
        hg_attr_make_float("seed", seed == NULL ? 0.0 : (double)seed->f),
    };
    int64_t to = hg_node_int(b->node, "dtype", (int64_t)dtype);
    hg_value_id random = hg_build_op(b, "RandomUniformLike", &x, 1, attr, seed == NULL ? 1 : 2);
    hg_value_id is_one = hg_build_2(b, "Less", random, hg_build_cast(b, x, compute));
    hg_build_replace(b, 0, hg_build_cast(b, is_one, (holo_dtype)to));
    return b->status;
}

const hg_op hg_op_bernoulli = {
    .name = "Bernoulli",
    .brief = "1 with the probability that an element says, else 0",
    .since = 15,
    .version = 22,
    .in = {1, 1},
    .out = {1, 1},
    .types = HG_TYPES_FLOAT,
    .flags = HG_OP_EFFECT,
    .infer = bernoulli_infer,
    .lower = bernoulli_lower,
};
