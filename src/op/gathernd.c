/* gathernd.c - GatherND: slices of a tensor, each picked by a tuple of indices. */
#include "op/op.h"
#include "op/op_gradient.h"

static holo_status gathernd_infer(hg_infer *n)
{
    const hg_type *data = n->in[0], *index = n->in[1];
    int64_t batch, tuple;
    HG_TRY(hg_infer_types(n, 1, HG_TYPE_BIT(HOLO_I64)));
    HG_TRY(hg_infer_rank(n, 0, 1, HG_MAX_RANK));
    HG_TRY(hg_infer_rank(n, 1, 1, HG_MAX_RANK));
    HG_TRY(hg_attr_int(n, "batch_dims", 0, &batch));
    const int64_t most = hg_min(data->rank, index->rank) - 1;
    if (batch < 0 || batch > most)
        return hg_infer_fail(n, HOLO_E_SHAPE, "batch_dims is %lld, expected 0 to %lld",
                             (long long)batch, (long long)most);
    if (!hg_dim_is_const(n->dims, index->dim[index->rank - 1], &tuple))
        return hg_infer_fail(n, HOLO_E_UNSUPPORTED,
                             "the last dimension of the indices, which decides the rank of the "
                             "result, is not known at compile time; give the input its size, or "
                             "--dim");
    if (tuple < 0 || tuple > data->rank - batch)
        return hg_infer_fail(n, HOLO_E_SHAPE, "tuples of %lld indices, expected at most %lld",
                             (long long)tuple, (long long)(data->rank - batch));
    const int32_t lead = index->rank - 1, used = (int32_t)(batch + tuple);
    const int32_t rank = lead + data->rank - used;
    if (rank > HG_MAX_RANK)
        return hg_infer_fail(n, HOLO_E_UNSUPPORTED,
                             "the result would have rank %d, expected at most %d", rank,
                             HG_MAX_RANK);
    n->out[0] = (hg_type){.dtype = data->dtype, .rank = rank};
    for (int32_t i = 0; i < rank; i++)
        n->out[0].dim[i] = i < lead ? index->dim[i] : data->dim[used + i - lead];
    return HOLO_OK;
}

static holo_status gathernd_emit(hg_emit *e)
{
    return hg_emit_int(e, hg_node_int(e->node, "batch_dims", 0));
}

const hg_op hg_op_gathernd = {
    .name = "GatherND",
    .brief = "slices of a tensor, each picked by a tuple of indices",
    .since = 11,
    .version = 13,
    .in = {2, 2},
    .out = {1, 1},
    .types = HG_TYPES_ANY,
    .infer = gathernd_infer,
    .kernel = "gathernd",
    .emit = gathernd_emit,
    .gradient = hg_gradient_pick,
};
