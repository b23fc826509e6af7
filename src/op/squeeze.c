/* squeeze.c - Squeeze: the same elements without some dimensions of 1. */
#include "op/op.h"
#include "op/op_copy.h"
#include "op/op_gradient.h"
#include "op/op_shape.h"
#include "op/op_upgrade.h"

/* Squeeze-1, Squeeze-11: the axes are an attribute. */
static holo_status squeeze_upgrade(hg_graph *g, hg_node_id id, int32_t opset)
{
    if (opset >= 13) return HOLO_OK;
    return hg_upgrade_ints_to_inputs(g, id, 1, (const char *const[]){"axes"}, 1);
}

/* An exporter that writes no axes has seen a batch of 1 go: remembered, for the compiler to try. */
static void squeeze_remember(const hg_infer *n, hg_dim dim)
{
    const int64_t i = hg_dim_symbol_of(n->dims, dim);
    if (i < 0 || n->dims->symbol[i].kind != HG_SYMBOL_INPUT || n->ctx->kept != NULL) return;
    n->ctx->kept = hg_str_copy(&n->ctx->arena, n->dims->symbol[i].name).text;
}

/* Without axes: every dimension that is 1. One that is known only at run time stays, and is refused
 * there when it is 1, since the rank would change. */
static void squeeze_all(const hg_infer *n, hg_type *out)
{
    hg_dims *d = n->dims;
    hg_dim one = hg_dim_const(d, 1), stay = one;
    for (int32_t i = 0; i < n->in[0]->rank; i++) {
        hg_dim dim = n->in[0]->dim[i];
        if (dim == one) continue;
        if (i == 0) squeeze_remember(n, dim);
        out->dim[out->rank++] = dim;
        stay = hg_shape_and(d, stay, hg_dim_sub(d, one, hg_dim_eq(d, dim, one)));
    }
    hg_shape_require(d, stay, out);
}

/* Dimension p of the result is the input's j when j stays and p others before it do. */
static hg_dim squeeze_dim(hg_infer *n, const hg_axes *axes, int32_t p)
{
    hg_dims *d = n->dims;
    hg_dim before = hg_dim_const(d, 0), one = hg_dim_const(d, 1), dim = hg_dim_const(d, -1);
    for (int32_t j = 0; j < n->in[0]->rank; j++) {
        hg_dim stays = hg_dim_sub(d, one, hg_shape_has_axis(d, axes, j));
        hg_dim is_p = hg_shape_and(d, stays, hg_dim_eq(d, before, hg_dim_const(d, p)));
        dim = hg_dim_select(d, is_p, n->in[0]->dim[j], dim);
        before = hg_dim_add(d, before, stays);
    }
    return dim;
}

static holo_status squeeze_infer(hg_infer *n)
{
    hg_type *out = &n->out[0];
    *out = (hg_type){.dtype = n->in[0]->dtype};
    hg_shape_keep_content(n);
    if (!hg_infer_has(n, 1)) {
        squeeze_all(n, out);
        return HOLO_OK;
    }
    const hg_dim *content;
    uint32_t count;
    hg_axes axes;
    HG_TRY(hg_infer_need_content(n, 1, &content, &count));
    HG_TRY(hg_shape_axes(n, content, count, n->in[0]->rank, &axes));
    for (int32_t j = 0; j < n->in[0]->rank; j++) {
        int64_t size;
        if (hg_dim_is(n->dims, hg_shape_has_axis(n->dims, &axes, j), 1) &&
            hg_dim_is_const(n->dims, n->in[0]->dim[j], &size) && size != 1)
            return hg_infer_fail(n, HOLO_E_SHAPE, "dimension %d is %lld, expected 1", j,
                                 (long long)size);
    }
    hg_dim fits = axes.valid, one = hg_dim_const(n->dims, 1);
    for (int32_t j = 0; j < n->in[0]->rank; j++) {
        hg_dim single = hg_dim_eq(n->dims, n->in[0]->dim[j], one);
        hg_dim goes = hg_shape_has_axis(n->dims, &axes, j);
        fits = hg_shape_and(n->dims, fits, hg_dim_select(n->dims, goes, single, one));
    }
    out->rank = n->in[0]->rank - (int32_t)count;
    for (int32_t p = 0; p < out->rank; p++)
        out->dim[p] = squeeze_dim(n, &axes, p);
    hg_shape_require(n->dims, fits, out);
    return HOLO_OK;
}

const hg_op hg_op_squeeze = {
    .name = "Squeeze",
    .brief = "the same elements without some dimensions of 1",
    .since = 1,
    .version = 25,
    .in = {1, 2},
    .out = {1, 1},
    .types = HG_TYPES_ANY,
    .upgrade = squeeze_upgrade,
    .infer = squeeze_infer,
    .emit = hg_emit_same_elements,
    .gradient = hg_gradient_same_elements,
};
