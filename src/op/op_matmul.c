/* op_matmul.c - shape rules of matrix products, and what their fused forms share. */
#include "op/op_matmul.h"

#include "op/op_codes.h"

holo_status hg_matmul_shape(const hg_infer *n, const hg_type *a, const hg_type *b, hg_type *out)
{
    hg_dim one = hg_dim_const(n->dims, 1), columns = a->dim[a->rank - 1],
           rows = b->dim[b->rank - 2];
    if (!hg_infer_equal(n, columns, rows)) {
        char x[64], y[64];
        hg_dim_print(n->dims, columns, x, sizeof x);
        hg_dim_print(n->dims, rows, y, sizeof y);
        return hg_infer_fail(n, HOLO_E_SHAPE,
                             "the left matrix has %s columns but the right one %s rows", x, y);
    }
    out->rank = a->rank > b->rank ? a->rank : b->rank;
    for (int32_t i = 0; i < out->rank - 2; i++) {
        int32_t p = i - (out->rank - a->rank), q = i - (out->rank - b->rank);
        HG_TRY(hg_infer_broadcast_dim(n, p < 0 ? one : a->dim[p], q < 0 ? one : b->dim[q],
                                      &out->dim[i]));
    }
    out->dim[out->rank - 2] = a->dim[a->rank - 2];
    out->dim[out->rank - 1] = b->dim[b->rank - 1];
    return HOLO_OK;
}

holo_status hg_matmul_infer(const hg_infer *n, const hg_type *a, const hg_type *b, hg_type *out)
{
    hg_dim one = hg_dim_const(n->dims, 1);
    hg_type x = *a, y = *b;
    if (a->rank < 1 || b->rank < 1)
        return hg_infer_fail(n, HOLO_E_SHAPE,
                             "the operands have ranks %d and %d, expected at least 1", a->rank,
                             b->rank);
    if (a->rank == 1) x = (hg_type){.rank = 2, .dim = {one, a->dim[0]}};
    if (b->rank == 1) y = (hg_type){.rank = 2, .dim = {b->dim[0], one}};
    HG_TRY(hg_matmul_shape(n, &x, &y, out));
    if (b->rank == 1) out->rank--;
    if (a->rank != 1) return HOLO_OK;
    if (b->rank != 1) out->dim[out->rank - 2] = out->dim[out->rank - 1];
    out->rank--;
    return HOLO_OK;
}

holo_status hg_matmul_emit(hg_emit *e, bool trans_a, bool trans_b, double alpha)
{
    if (hg_emit_type(e, 0)->dtype == HOLO_F64) e->kernel = "matmul.f64";
    HG_TRY(hg_emit_int(e, trans_a));
    HG_TRY(hg_emit_int(e, trans_b));
    return hg_emit_float(e, alpha);
}

hg_value_id hg_matmul_drop(hg_build *b, hg_value_id product, bool left, bool right)
{
    int64_t axes[2];
    uint32_t count = 0;
    if (left) axes[count++] = -2;
    if (right) axes[count++] = -1;
    if (count == 0) return product;
    return hg_build_2(b, "Squeeze", product, hg_build_ints(b, axes, count));
}

holo_status hg_epilogue_type(const hg_infer *n, uint32_t first_extra, holo_dtype *out)
{
    const hg_attr *code = hg_node_attr(n->node, "code"), *types = hg_node_attr(n->node, "types");
    const uint32_t own = first_extra + hg_codes_tables(n->node);
    uint32_t extra = n->n_in > own ? n->n_in - own : 0;
    if (code != NULL && (code->kind != HG_ATTR_CODE || code->code->n_in != extra + 1))
        return hg_infer_fail(n, HOLO_E_MODEL, "attribute 'code' does not fit %u operands", extra);
    if (code == NULL && extra != 0)
        return hg_infer_fail(n, HOLO_E_MODEL, "has %u operands for an epilogue but no 'code'",
                             extra);
    if (types != NULL && (types->kind != HG_ATTR_INTS || types->count != 1))
        return hg_infer_fail(n, HOLO_E_MODEL, "attribute 'types' is not one integer");
    *out = types == NULL ? n->in[0]->dtype : (holo_dtype)types->ints[0];
    return HOLO_OK;
}

holo_status hg_attr_dim(const hg_infer *n, const char *name, hg_dim *out)
{
    const hg_attr *a = hg_node_attr(n->node, name);
    if (a != NULL && a->kind == HG_ATTR_DIMS && a->count == 1) {
        *out = a->dims[0];
    } else if (a != NULL && a->kind == HG_ATTR_INT) {
        *out = hg_dim_const(n->dims, a->i);
    } else {
        return hg_infer_fail(n, HOLO_E_MODEL, "attribute '%s' is not a dimension", name);
    }
    return HOLO_OK;
}

static hg_value_id matmul_product(hg_gradient *d, hg_value_id x, bool trans_x, hg_value_id y,
                                  bool trans_y)
{
    const double alpha = hg_node_float(hg_gradient_node(d), "alpha", 1.0);
    const hg_attr attr[] = {hg_attr_make_int("trans_a", trans_x),
                            hg_attr_make_int("trans_b", trans_y),
                            hg_attr_make_float("alpha", alpha)};
    return hg_build_op(d->b, "holo:MatMul", (hg_value_id[]){x, y}, 2, attr, HG_COUNT(attr));
}

/* Of Y = alpha A' B': dA' = alpha dY B'^T and dB' = alpha A'^T dY, transposed as A and B are. */
holo_status hg_matmul_gradient(hg_gradient *d)
{
    const hg_node *n = hg_gradient_node(d);
    const bool ta = hg_node_int(n, "trans_a", 0) != 0, tb = hg_node_int(n, "trans_b", 0) != 0;
    const hg_value_id a = hg_gradient_input(d, 0), b = hg_gradient_input(d, 1), y = d->out[0];
    if (n->n_in > 2) return hg_gradient_fail(d, "it has an epilogue");
    if (d->wanted[0])
        d->in[0] = ta ? matmul_product(d, b, tb, y, true) : matmul_product(d, y, false, b, !tb);
    if (d->wanted[1])
        d->in[1] = tb ? matmul_product(d, y, true, a, ta) : matmul_product(d, a, !ta, y, false);
    return d->b->status;
}
