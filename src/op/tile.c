/* tile.c - Tile: a tensor repeated along its dimensions. */
#include "op/op.h"
#include "op/op_copy.h"
#include "op/op_gradient.h"
#include "op/op_shape.h"
#include "op/op_upgrade.h"

/* Tile-1: how often, and along which axis, are numbers of the type of the tensor. Elsewhere the
 * tensor is there once; an axis outside of the tensor is the data fault of ScatterElements. */
static holo_status tile_upgrade(hg_graph *g, hg_node_id id, int32_t opset)
{
    if (opset >= 6) return HOLO_OK;
    hg_build b;
    hg_build_init(&b, g, id);
    const int32_t rank = hg_build_type(&b, hg_build_in(&b, 0))->rank;
    if (b.node->n_in < 3 || rank < 0)
        return hg_build_fail(&b, HOLO_E_MODEL,
                             "Tile-1 has %u inputs, expected 3 and a tensor of known rank",
                             b.node->n_in);
    int64_t once[HG_MAX_RANK];
    for (int32_t i = 0; i < rank; i++)
        once[i] = 1;
    hg_value_id one = hg_build_ints(&b, (int64_t[]){1}, 1), repeats[3];
    repeats[0] = hg_build_ints(&b, once, (uint32_t)rank);
    for (uint32_t i = 1; i < 3; i++) /* ScatterElements wants the axis first */
        repeats[3 - i] =
            hg_build_2(&b, "Reshape", hg_build_cast(&b, hg_build_in(&b, i), HOLO_I64), one);
    hg_value_id in[] = {hg_build_in(&b, 0),
                        hg_build_op(&b, "ScatterElements", repeats, 3, NULL, 0)};
    HG_TRY(b.status);
    return hg_upgrade_replace(&b, "Tile", in, 2, NULL, 0);
}

static holo_status tile_infer(hg_infer *n)
{
    const hg_dim *repeats;
    uint32_t count;
    HG_TRY(hg_infer_rank(n, 1, 1, 1));
    HG_TRY(hg_infer_need_content(n, 1, &repeats, &count));
    if (count != (uint32_t)n->in[0]->rank)
        return hg_infer_fail(n, HOLO_E_SHAPE, "repeats has %u entries, expected %d", count,
                             n->in[0]->rank);
    n->out[0] = *n->in[0];
    for (uint32_t i = 0; i < count; i++) {
        int64_t times;
        if (hg_dim_is_const(n->dims, repeats[i], &times) && times < 0)
            return hg_infer_fail(n, HOLO_E_SHAPE, "repeats[%u] is %lld, expected 0 or more", i,
                                 (long long)times);
        n->out[0].dim[i] = hg_dim_mul(n->dims, n->in[0]->dim[i], repeats[i]);
    }
    return HOLO_OK;
}

/* Each dimension is two loops: repetitions, which stand still, and elements. */
static holo_status tile_emit(hg_emit *e)
{
    const hg_type *in = hg_emit_type(e, 0);
    hg_dim stride[HG_MAX_RANK], one = hg_dim_const(&e->g->dims, 1);
    hg_dim none = hg_dim_const(&e->g->dims, 0);
    const hg_dim *repeats;
    uint32_t count;
    HG_TRY(hg_emit_content(e, 1, &repeats, &count));
    hg_copy copy = {0};
    hg_shape_strides(&e->g->dims, in, stride);
    for (int32_t i = 0; i < in->rank; i++) {
        if (repeats[i] != one) hg_copy_loop(&copy, repeats[i], none);
        hg_copy_loop(&copy, in->dim[i], stride[i]);
    }
    return hg_emit_copy(e, &copy);
}

static holo_status tile_gradient(hg_gradient *d)
{
    const hg_type type = *hg_gradient_type(d, 0);
    d->in[0] = d->out[0];
    for (int32_t i = 0; i < type.rank; i++)
        d->in[0] = hg_build_fold(d->b, d->in[0], i, type.dim[i]);
    return d->b->status;
}

const hg_op hg_op_tile = {
    .name = "Tile",
    .brief = "a tensor repeated along its dimensions",
    .since = 1,
    .version = 13,
    .in = {2, 3},
    .out = {1, 1},
    .types = HG_TYPES_ANY,
    .upgrade = tile_upgrade,
    .infer = tile_infer,
    .kernel = "copy.strided",
    .emit = tile_emit,
    .gradient = tile_gradient,
};
