/* scatternd.c - ScatterND: a tensor with slices replaced or combined, each picked by a tuple of
 * indices. */
#include "op/op.h"
#include "op/op_scatter.h"

static holo_status scatternd_infer(hg_infer *n)
{
    const hg_type *data = n->in[0], *index = n->in[1];
    int64_t tuple;
    HG_TRY(hg_scatter_infer(n));
    HG_TRY(hg_infer_rank(n, 1, 1, HG_MAX_RANK));
    if (!hg_dim_is_const(n->dims, index->dim[index->rank - 1], &tuple)) return HOLO_OK;
    if (tuple > data->rank)
        return hg_infer_fail(n, HOLO_E_SHAPE, "tuples of %lld indices, expected at most %d",
                             (long long)tuple, data->rank);
    int32_t rank = index->rank - 1 + data->rank - (int32_t)tuple;
    return hg_infer_rank(n, 2, rank, rank);
}

const hg_op hg_op_scatternd = {
    .name = "ScatterND",
    .brief = "a tensor with slices replaced or combined, each picked by a tuple of indices",
    .since = 11,
    .version = 18,
    .in = {3, 3},
    .out = {1, 1},
    .types = HG_TYPES_ANY & ~HG_TYPES_NARROW,
    .infer = scatternd_infer,
    .kernel = "scatternd",
    .emit = hg_scatter_code,
    .gradient = hg_scatter_gradient,
};
