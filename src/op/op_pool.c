/* op_pool.c - what MaxPool, AveragePool and LpPool share. */
#include "op/op_pool.h"

holo_status hg_pool_read(const hg_infer *n, const hg_type *x, hg_pool_layout layout, hg_window *w)
{
    int64_t ceil_mode;
    HG_TRY(hg_attr_int(n, "ceil_mode", 0, &ceil_mode));
    hg_window_kind kind = ceil_mode != 0 ? HG_WINDOW_CEIL : HG_WINDOW_FLOOR;
    return hg_window_read(n, kind, x->rank - 2, x->dim + (layout == HG_POOL_NHWC ? 1 : 2), NULL, w);
}

holo_status hg_pool_infer(hg_infer *n, hg_pool_layout layout)
{
    hg_window w;
    int64_t p;
    HG_TRY(hg_attr_int(n, "p", 2, &p));
    if (p < 1 || p > INT32_MAX)
        return hg_infer_fail(n, HOLO_E_MODEL, "p is %lld, expected at least 1", (long long)p);
    HG_TRY(hg_pool_read(n, n->in[0], layout, &w));
    n->out[0] = *n->in[0];
    memcpy(n->out[0].dim + (layout == HG_POOL_NHWC ? 1 : 2), w.out,
           (size_t)w.rank * sizeof w.out[0]);
    if (n->n_out < 2) return HOLO_OK;
    n->out[1] = n->out[0];
    n->out[1].dtype = HOLO_I64;
    return HOLO_OK;
}

/* Planes of float32 whose largest elements need no indices, or whose means are wanted. */
static bool pool_is_planes(const hg_emit *e, hg_pool_mode mode, hg_pool_layout layout)
{
    const bool has_indices = e->node->n_out > 1 && e->node->out[1] != 0;
    return layout == HG_POOL_NCHW && mode != HG_POOL_LP && !has_indices &&
           hg_emit_type(e, 0)->dtype == HOLO_F32;
}

holo_status hg_pool_emit(hg_emit *e, hg_pool_mode mode, hg_pool_layout layout)
{
    hg_infer n = hg_emit_reader(e);
    hg_window w;
    if (pool_is_planes(e, mode, layout)) e->kernel = "pool.planes";
    HG_TRY(hg_pool_read(&n, hg_emit_type(e, 0), layout, &w));
    HG_TRY(hg_emit_int(e, mode));
    HG_TRY(hg_emit_int(e, layout));
    HG_TRY(hg_emit_int(e, w.rank));
    HG_TRY(hg_emit_int(e, hg_node_int(e->node, "p", 2)));
    HG_TRY(hg_emit_int(e, hg_node_int(e->node, "storage_order", 0) != 0));
    HG_TRY(hg_window_emit(e, w.kernel, w.rank));
    HG_TRY(hg_window_emit(e, w.stride, w.rank));
    HG_TRY(hg_window_emit(e, w.pad_begin, w.rank));
    HG_TRY(hg_window_emit(e, w.pad_end, w.rank));
    return hg_window_emit(e, w.dilation, w.rank);
}
