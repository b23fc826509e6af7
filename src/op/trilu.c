/* trilu.c - Trilu: the upper or lower triangle of matrices, zero elsewhere. */
#include "op/op.h"
#include "op/op_gradient.h"

static holo_status trilu_infer(hg_infer *n)
{
    int64_t upper;
    const hg_dim *k;
    uint32_t count;
    HG_TRY(hg_infer_rank(n, 0, 2, HG_MAX_RANK));
    HG_TRY(hg_attr_int(n, "upper", 1, &upper));
    if (hg_infer_has(n, 1)) {
        HG_TRY(hg_infer_need_content(n, 1, &k, &count));
        if (count != 1)
            return hg_infer_fail(n, HOLO_E_SHAPE, "k has %u elements, expected 1", count);
    }
    return hg_infer_same_as_input(n);
}

static holo_status trilu_emit(hg_emit *e)
{
    const hg_dim *k;
    uint32_t count;
    HG_TRY(hg_emit_int(e, hg_node_int(e->node, "upper", 1) != 0));
    bool given = hg_node_in(e->g, e->node, 1) != 0;
    e->n_in = 1;
    if (!given) return hg_emit_int(e, 0);
    HG_TRY(hg_emit_content(e, 1, &k, &count));
    return hg_emit_dim(e, k[0]);
}

static holo_status trilu_gradient(hg_gradient *d)
{
    const hg_value_id in[] = {d->out[0], hg_gradient_input(d, 1)};
    const hg_node_id id = hg_build_copy(d->b, d->id, in, in[1] == 0 ? 1 : 2);
    if (id != 0) d->in[0] = hg_graph_node(d->b->g, id)->out[0];
    return d->b->status;
}

const hg_op hg_op_trilu = {
    .name = "Trilu",
    .brief = "the upper or lower triangle of matrices, zero elsewhere",
    .since = 14,
    .in = {1, 2},
    .out = {1, 1},
    .types = HG_TYPES_ANY & ~HG_TYPES_NARROW,
    .infer = trilu_infer,
    .kernel = "trilu",
    .emit = trilu_emit,
    .gradient = trilu_gradient,
};
