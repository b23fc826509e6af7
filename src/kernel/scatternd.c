/* scatternd.c - scatternd: out = data; slices picked by tuples of indices are updated.
 *
 *   in[0]   data [d0 .. dk-1, inner...]
 *   in[1]   indices [..., k] (int64 or int32; negative ones count from the end)
 *   in[2]   updates: dims of indices but the last, then inner dims
 *   code    combines old and new elements; none: the update replaces them
 *   out[0]  dims of data
 *
 * Updates are applied in the order of the tuples. An index out of range is a fault; its update is
 * skipped. */
#include "kernel/scatter.h"

static holo_status scatternd_check(const hg_args *a, holo_error *e)
{
    HG_TRY(hg_check_counts(a, e, 3, 3, 1, 0));
    HG_TRY(hg_scatter_check_types(a, e));
    const holo_tensor *data = &a->in[0], *index = &a->in[1], *update = &a->in[2];
    HG_TRY(hg_check_rank(index, e, "indices", 1, HG_MAX_RANK));
    const int64_t tuple = index->dim[index->rank - 1];
    HG_REQUIRE(e, tuple <= data->rank, HOLO_E_SHAPE, "tuples of %lld indices, expected at most %d",
               (long long)tuple, data->rank);
    const int lead = index->rank - 1, rank = lead + data->rank - (int)tuple;
    HG_TRY(hg_check_rank(update, e, "updates", rank, rank));
    for (int i = 0; i < rank; i++) {
        int64_t expected = i < lead ? index->dim[i] : data->dim[tuple + i - lead];
        HG_REQUIRE(e, update->dim[i] == expected, HOLO_E_SHAPE,
                   "dimension %d of the updates is %lld, expected %lld", i,
                   (long long)update->dim[i], (long long)expected);
    }
    return HOLO_OK;
}

/* Tuples may repeat: the order counts, so that all are one unit. */
static int64_t scatternd_units(const hg_args *a)
{
    return holo_tensor_count(&a->out[0]) == 0 ? 0 : 1;
}

static void scatternd_run(const hg_args *a, hg_range r)
{
    if (r.begin >= r.end) return;
    const holo_tensor *data = &a->in[0], *index = &a->in[1];
    const int tuple = (int)index->dim[index->rank - 1];
    const int64_t inner = hg_dims_product(data, tuple, data->rank);
    const int64_t tuples = hg_dims_product(index, 0, index->rank - 1);
    hg_elem_copy(a->out[0].data, 0, data->data, 0, holo_tensor_count(data),
                 hg_dtype_bits(data->dtype));
    for (int64_t t = 0; t < tuples; t++) {
        int64_t at = 0;
        for (int i = 0; i < tuple && at >= 0; i++) {
            int64_t place = hg_elem_place(a, index, t * tuple + i, data->dim[i]);
            at = place < 0 ? -1 : at * data->dim[i] + place;
        }
        if (at >= 0) hg_scatter_apply(a, at * inner, t * inner, inner, r.scratch);
    }
}

const hg_kernel hg_kernels_scatternd[] = {
    {.name = "scatternd",
     .check = scatternd_check,
     .units = scatternd_units,
     .scratch = hg_scatter_scratch,
     .run = scatternd_run},
    {0},
};
