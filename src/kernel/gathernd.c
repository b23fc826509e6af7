/* gathernd.c - gathernd: slices of a tensor, each picked by a tuple of indices.
 *
 *   in[0]   data [batch..., d0 .. dk-1, inner...]
 *   in[1]   indices [batch..., ..., k] (int64 or int32; negative ones count from the end)
 *   param   number of batch dims, which both share
 *   out[0]  dims of indices but the last, then inner dims
 *
 * An index out of range is a fault; its slice is left as it was. */
#include "kernel/elem.h"

static holo_status gathernd_check_out(const hg_args *a, holo_error *e, int picked)
{
    const holo_tensor *data = &a->in[0], *index = &a->in[1], *out = &a->out[0];
    const int lead = index->rank - 1, rank = lead + data->rank - picked;
    HG_TRY(hg_check_rank(out, e, "output", rank, rank));
    for (int i = 0; i < rank; i++) {
        int64_t expected = i < lead ? index->dim[i] : data->dim[picked + i - lead];
        HG_REQUIRE(e, out->dim[i] == expected, HOLO_E_SHAPE,
                   "dimension %d of the output is %lld, expected %lld", i, (long long)out->dim[i],
                   (long long)expected);
    }
    return HOLO_OK;
}

static holo_status gathernd_check(const hg_args *a, holo_error *e)
{
    HG_TRY(hg_check_counts(a, e, 2, 2, 1, 1));
    HG_TRY(hg_check_in_type(a, e, 0, HG_TYPES_ANY));
    HG_TRY(hg_check_in_type(a, e, 1, HG_ELEM_INDEX));
    HG_TRY(hg_check_out_type(a, e, 0, HG_TYPES_ANY));
    const holo_tensor *data = &a->in[0], *index = &a->in[1];
    HG_TRY(hg_check_same_type(&a->out[0], data, e, "output"));
    HG_TRY(hg_check_rank(index, e, "indices", 1, HG_MAX_RANK));
    HG_TRY(hg_check_param(a, e, 0, "number of batch dimensions", 0,
                          hg_min(data->rank, index->rank - 1)));
    const int batch = (int)a->param[0];
    const int64_t tuple = index->dim[index->rank - 1];
    HG_REQUIRE(e, tuple <= data->rank - batch, HOLO_E_SHAPE,
               "tuples of %lld indices, expected at most %d", (long long)tuple, data->rank - batch);
    for (int i = 0; i < batch; i++)
        HG_REQUIRE(e, index->dim[i] == data->dim[i], HOLO_E_SHAPE,
                   "batch dimension %d is %lld in the indices and %lld in the data", i,
                   (long long)index->dim[i], (long long)data->dim[i]);
    return gathernd_check_out(a, e, batch + (int)tuple);
}

static int64_t gathernd_tuples(const hg_args *a)
{
    return hg_dims_product(&a->in[1], 0, a->in[1].rank - 1);
}

static int64_t gathernd_units(const hg_args *a)
{
    if (holo_tensor_count(&a->out[0]) == 0) return 0;
    return hg_elem_is_packed(&a->in[0]) ? 1 : gathernd_tuples(a);
}

/* A unit is a tuple. */
static void gathernd_run(const hg_args *a, hg_range r)
{
    const holo_tensor *data = &a->in[0], *index = &a->in[1];
    const int batch = (int)a->param[0], tuple = (int)index->dim[index->rank - 1];
    const int64_t inner = hg_dims_product(data, batch + tuple, data->rank);
    const int64_t per_batch = hg_dims_product(index, batch, index->rank - 1);
    const uint32_t bits = hg_dtype_bits(data->dtype);
    if (bits < 8) r.end = r.begin < r.end ? gathernd_tuples(a) : 0;
    for (int64_t t = r.begin; t < r.end; t++) {
        int64_t from = t / per_batch;
        for (int i = 0; i < tuple && from >= 0; i++) {
            int64_t size = data->dim[batch + i];
            int64_t place = hg_elem_place(a, index, t * tuple + i, size);
            from = place < 0 ? -1 : from * size + place;
        }
        if (from >= 0)
            hg_elem_copy(a->out[0].data, t * inner, data->data, from * inner, inner, bits);
    }
}

const hg_kernel hg_kernels_gathernd[] = {
    {.name = "gathernd", .check = gathernd_check, .units = gathernd_units, .run = gathernd_run},
    {0},
};
