/* expand.c - Expand: a tensor broadcast against a shape. */
#include "op/op.h"
#include "op/op_copy.h"
#include "op/op_gradient.h"
#include "op/op_shape.h"

static void expand_content(hg_infer *n)
{
    const hg_dim *from;
    uint32_t count;
    int64_t size;
    if (!hg_infer_content(n, 0, &from, &count) || count != 1) return;
    if (!hg_dim_is_const(n->dims, hg_type_count(n->g, &n->out[0]), &size) || size > 64) return;
    hg_dim *content = hg_shape_new_content(n, (uint32_t)size);
    for (int64_t i = 0; content != NULL && i < size; i++)
        content[i] = from[0];
}

/* Whether two dims broadcast: no kernel sees the second. */
static hg_dim expand_fits(hg_dims *d, hg_dim a, hg_dim b)
{
    hg_dim one = hg_dim_const(d, 1);
    hg_dim single = hg_dim_max(d, hg_dim_eq(d, a, one), hg_dim_eq(d, b, one));
    return hg_dim_max(d, hg_dim_eq(d, a, b), single);
}

static holo_status expand_infer(hg_infer *n)
{
    const hg_type *in = n->in[0];
    const hg_dim *shape;
    uint32_t count;
    HG_TRY(hg_infer_rank(n, 1, 1, 1));
    HG_TRY(hg_infer_need_content(n, 1, &shape, &count));
    if (count > HG_MAX_RANK)
        return hg_infer_fail(n, HOLO_E_UNSUPPORTED, "the new rank is %u, expected at most %d",
                             count, HG_MAX_RANK);
    const int32_t rank = in->rank > (int32_t)count ? in->rank : (int32_t)count;
    hg_dim one = hg_dim_const(n->dims, 1), fits = one;
    n->out[0] = (hg_type){.dtype = in->dtype, .rank = rank};
    for (int32_t i = 0; i < rank; i++) {
        int32_t a = i - (rank - in->rank), b = i - (rank - (int32_t)count);
        hg_dim from = a < 0 ? one : in->dim[a], to = b < 0 ? one : shape[b];
        HG_TRY(hg_infer_broadcast_dim(n, from, to, &n->out[0].dim[i]));
        fits = hg_shape_and(n->dims, fits, expand_fits(n->dims, from, to));
    }
    hg_shape_require(n->dims, fits, &n->out[0]);
    expand_content(n);
    return HOLO_OK;
}

static holo_status expand_emit(hg_emit *e)
{
    hg_dims *d = &e->g->dims;
    const hg_type *in = hg_emit_type(e, 0), *out = hg_emit_out_type(e, 0);
    hg_dim stride[HG_MAX_RANK], none = hg_dim_const(d, 0), one = hg_dim_const(d, 1);
    hg_copy copy = {0};
    hg_shape_strides(d, in, stride);
    for (int32_t i = 0; i < out->rank; i++) {
        int32_t k = i - (out->rank - in->rank);
        hg_dim step = none;
        if (k >= 0 && in->dim[k] == out->dim[i])
            step = stride[k];
        else if (k >= 0)
            step = hg_dim_select(d, hg_dim_eq(d, in->dim[k], one), none, stride[k]);
        hg_copy_loop(&copy, out->dim[i], step);
    }
    return hg_emit_copy(e, &copy);
}

/* Sums along what was broadcast, as for every operand. */
static holo_status expand_gradient(hg_gradient *d)
{
    d->in[0] = d->out[0];
    return HOLO_OK;
}

const hg_op hg_op_expand = {
    .name = "Expand",
    .brief = "a tensor broadcast against a shape",
    .since = 8,
    .version = 13,
    .in = {2, 2},
    .out = {1, 1},
    .types = HG_TYPES_ANY,
    .infer = expand_infer,
    .kernel = "copy.strided",
    .emit = expand_emit,
    .gradient = expand_gradient,
};
