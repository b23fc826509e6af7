/* dft.c - DFT: the discrete Fourier transform along an axis. */
#include "op/op_scalar.h"
#include "op/op_window.h"

typedef struct dft_plan {
    hg_dim axis, length;
    int64_t inverse, onesided;
} dft_plan;

/* DFT-17: the axis is an attribute. */
static holo_status dft_upgrade(hg_graph *g, hg_node_id id, int32_t opset)
{
    if (opset >= 20 || hg_node_attr(hg_graph_node(g, id), "axis") != NULL) return HOLO_OK;
    return hg_graph_set_attr(g, id, hg_attr_make_int("axis", 1));
}

/* The size of x along the axis, which may be known at run time only. */
static hg_dim dft_pick(hg_dims *d, const hg_type *x, hg_dim axis)
{
    hg_dim size = x->dim[0];
    for (int32_t i = 1; i < x->rank - 1; i++)
        size = hg_dim_select(d, hg_dim_eq(d, axis, hg_dim_const(d, i)), x->dim[i], size);
    return size;
}

static holo_status dft_axis(const hg_infer *n, const hg_type *x, hg_dim *out)
{
    hg_dims *d = n->dims;
    const hg_attr *attr = hg_node_attr(n->node, "axis");
    int64_t axis = attr != NULL ? attr->i : -2;
    *out = hg_dim_const(d, axis);
    if (attr == NULL && hg_node_in(n->g, n->node, 2) != 0) HG_TRY(hg_infer_scalar(n, 2, out));
    if (hg_dim_is_const(d, *out, &axis)) {
        int64_t place = axis < 0 ? axis + x->rank : axis;
        if (place < 0 || place >= x->rank - 1)
            return hg_infer_fail(n, HOLO_E_SHAPE, "axis is %lld, expected %d to -2 or 0 to %d",
                                 (long long)axis, -x->rank, x->rank - 2);
    }
    hg_dim negative = hg_dim_lt(d, *out, hg_dim_const(d, 0));
    *out = hg_dim_select(d, negative, hg_dim_add(d, *out, hg_dim_const(d, x->rank)), *out);
    return HOLO_OK;
}

static holo_status dft_read(const hg_infer *n, const hg_type *x, dft_plan *p)
{
    hg_dims *d = n->dims;
    HG_TRY(hg_attr_int(n, "inverse", 0, &p->inverse));
    HG_TRY(hg_attr_int(n, "onesided", 0, &p->onesided));
    HG_TRY(dft_axis(n, x, &p->axis));
    if (hg_node_in(n->g, n->node, 1) != 0) return hg_infer_scalar(n, 1, &p->length);
    p->length = dft_pick(d, x, p->axis);
    if (p->inverse != 0 && p->onesided != 0)
        p->length = hg_dim_mul(d, hg_dim_const(d, 2), hg_dim_sub(d, p->length, hg_dim_const(d, 1)));
    return HOLO_OK;
}

static holo_status dft_infer(hg_infer *n)
{
    dft_plan p;
    hg_dims *d = n->dims;
    const hg_type *x = n->in[0];
    HG_TRY(hg_infer_rank(n, 0, 2, HG_MAX_RANK));
    HG_TRY(dft_read(n, x, &p));
    hg_dim bins = p.length;
    if (p.onesided != 0 && p.inverse == 0)
        bins = hg_dim_add(d, hg_dim_floordiv(d, p.length, hg_dim_const(d, 2)), hg_dim_const(d, 1));
    n->out[0] = *x;
    for (int32_t i = 0; i < x->rank - 1; i++)
        n->out[0].dim[i] =
            hg_dim_select(d, hg_dim_eq(d, p.axis, hg_dim_const(d, i)), bins, x->dim[i]);
    n->out[0].dim[x->rank - 1] = hg_dim_const(d, p.onesided != 0 && p.inverse != 0 ? 1 : 2);
    return HOLO_OK;
}

static holo_status dft_emit(hg_emit *e)
{
    hg_infer n = hg_emit_reader(e);
    dft_plan p;
    HG_TRY(dft_read(&n, hg_emit_type(e, 0), &p));
    e->n_in = 1;
    HG_TRY(hg_emit_dim(e, p.axis));
    HG_TRY(hg_emit_int(e, p.inverse != 0));
    HG_TRY(hg_emit_int(e, p.onesided != 0));
    return hg_emit_dim(e, p.length);
}

const hg_op hg_op_dft = {
    .name = "DFT",
    .brief = "the discrete Fourier transform along an axis",
    .since = 17,
    .version = 20,
    .in = {1, 3},
    .out = {1, 1},
    .types = HG_TYPES_FLOAT,
    .upgrade = dft_upgrade,
    .infer = dft_infer,
    .kernel = "dft",
    .emit = dft_emit,
};
