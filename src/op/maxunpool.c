/* maxunpool.c - MaxUnpool: puts elements where MaxPool found them, zeros elsewhere. */
#include "op/op_window.h"

/* Sizes that the indices speak of: those MaxPool would have pooled. */
static holo_status maxunpool_sizes(const hg_infer *n, const hg_type *x, hg_dim *out)
{
    hg_window w;
    HG_TRY(hg_window_read(n, HG_WINDOW_TRANSPOSE, x->rank - 2, x->dim + 2, NULL, &w));
    out[0] = x->dim[0];
    out[1] = x->dim[1];
    memcpy(out + 2, w.out, (size_t)w.rank * sizeof out[0]);
    return HOLO_OK;
}

static holo_status maxunpool_infer(hg_infer *n)
{
    const hg_dim *shape;
    uint32_t count;
    hg_type *out = &n->out[0];
    HG_TRY(hg_infer_types(n, 1, HG_TYPE_BIT(HOLO_I64)));
    HG_TRY(hg_infer_rank(n, 1, n->in[0]->rank, n->in[0]->rank));
    *out = *n->in[0];
    HG_TRY(maxunpool_sizes(n, n->in[0], out->dim));
    if (!hg_infer_has(n, 2)) return HOLO_OK;
    HG_TRY(hg_infer_need_content(n, 2, &shape, &count));
    if (count != (uint32_t)out->rank)
        return hg_infer_fail(n, HOLO_E_SHAPE, "output_shape has %u elements, expected %d", count,
                             out->rank);
    memcpy(out->dim, shape, count * sizeof shape[0]);
    return HOLO_OK;
}

static holo_status maxunpool_emit(hg_emit *e)
{
    hg_infer n = hg_emit_reader(e);
    hg_dim size[HG_MAX_RANK];
    const hg_type *x = hg_emit_type(e, 0);
    HG_TRY(maxunpool_sizes(&n, x, size));
    e->n_in = 2;
    return hg_window_emit(e, size, x->rank);
}

const hg_op hg_op_maxunpool = {
    .name = "MaxUnpool",
    .brief = "puts elements where MaxPool found them, zeros elsewhere",
    .since = 9,
    .version = 22,
    .in = {2, 3},
    .out = {1, 1},
    .types = HG_TYPES_FLOAT,
    .infer = maxunpool_infer,
    .kernel = "maxunpool",
    .emit = maxunpool_emit,
};
