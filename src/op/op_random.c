/* op_random.c - what the random operators share. */
#include "op/op_random.h"

holo_status hg_random_dtype(const hg_infer *n, holo_dtype standard, hg_types types, holo_dtype *out)
{
    int64_t dtype;
    double seed;
    HG_TRY(hg_attr_int(n, "dtype", (int64_t)standard, &dtype));
    HG_TRY(hg_attr_float(n, "seed", 0.0, &seed));
    if (dtype < 0 || dtype >= 64 || (types & HG_TYPE_BIT(dtype)) == 0)
        return hg_infer_fail(n, HOLO_E_UNSUPPORTED,
                             "dtype is %lld (%s), which this operator does not give",
                             (long long)dtype, holo_dtype_text((holo_dtype)dtype));
    *out = (holo_dtype)dtype;
    return HOLO_OK;
}

static holo_status random_numbers(const hg_infer *n)
{
    static const char *const names[] = {"low", "high", "mean", "scale"};
    double number;
    for (size_t i = 0; i < HG_COUNT(names); i++)
        HG_TRY(hg_attr_float(n, names[i], 0.0, &number));
    return HOLO_OK;
}

holo_status hg_random_infer(hg_infer *n)
{
    const int64_t *shape;
    size_t rank;
    hg_type *out = &n->out[0];
    HG_TRY(random_numbers(n));
    if (hg_infer_has(n, 0)) {
        *out = *n->in[0];
        return hg_random_dtype(n, n->in[0]->dtype, HG_TYPES_FLOAT, &out->dtype);
    }
    HG_TRY(hg_attr_ints(n, "shape", &shape, &rank));
    if (hg_node_attr(n->node, "shape") == NULL || rank > HG_MAX_RANK)
        return hg_infer_fail(n, HOLO_E_MODEL, "shape has %zu numbers, expected 0 to %d", rank,
                             HG_MAX_RANK);
    out->rank = (int32_t)rank;
    for (size_t i = 0; i < rank; i++) {
        if (shape[i] < 0)
            return hg_infer_fail(n, HOLO_E_MODEL, "shape[%zu] is %lld, expected at least 0", i,
                                 (long long)shape[i]);
        out->dim[i] = hg_dim_const(n->dims, shape[i]);
    }
    return hg_random_dtype(n, HOLO_F32, HG_TYPES_FLOAT, &out->dtype);
}

int64_t hg_random_seed(const hg_node *node, hg_node_id id)
{
    const hg_attr *seed = hg_node_attr(node, "seed");
    uint32_t bits;
    if (seed == NULL) return INT64_C(0x1d872b41) << 24 ^ (int64_t)id;
    memcpy(&bits, &seed->f, sizeof bits);
    return (int64_t)bits;
}

holo_status hg_random_emit(hg_emit *e, hg_random_kind kind)
{
    bool normal = kind == HG_RANDOM_NORMAL;
    e->n_in = 0; /* only its shape counts */
    HG_TRY(hg_emit_int(e, hg_random_seed(e->node, e->id)));
    HG_TRY(hg_emit_int(e, kind));
    HG_TRY(hg_emit_float(e, hg_node_float(e->node, normal ? "mean" : "low", 0.0)));
    return hg_emit_float(e, hg_node_float(e->node, normal ? "scale" : "high", 1.0));
}
