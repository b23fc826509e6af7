/* scatterelements.c - scatterelements: out = data; out[i, index[i, j, k], k] = update[i, j, k], for
 * axis 1.
 *
 *   in[0]   data, in[1] indices (int32 or int64; negative ones count from the end), in[2] updates
 *   param   axis
 *   code    combines the old element and the update; none: the update replaces it
 *   out[0]  dims of data
 *
 * Updates are applied in the order of the indices. An index out of range is a fault; its update is
 * skipped. */
#include "kernel/scatter.h"

static holo_status scatterelements_check(const hg_args *a, holo_error *e)
{
    HG_TRY(hg_check_counts(a, e, 3, 3, 1, 1));
    HG_TRY(hg_scatter_check_types(a, e));
    const holo_tensor *data = &a->in[0], *index = &a->in[1];
    HG_TRY(hg_check_same_shape(&a->in[2], index, e, "updates"));
    HG_TRY(hg_check_param(a, e, 0, "axis", 0, (int64_t)data->rank - 1));
    HG_TRY(hg_check_rank(index, e, "indices", data->rank, data->rank));
    for (int i = 0; i < data->rank; i++)
        HG_REQUIRE(e, i == a->param[0] || index->dim[i] <= data->dim[i], HOLO_E_SHAPE,
                   "dimension %d of the indices is %lld, expected at most %lld", i,
                   (long long)index->dim[i], (long long)data->dim[i]);
    return HOLO_OK;
}

static int64_t scatterelements_units(const hg_args *a)
{
    if (holo_tensor_count(&a->out[0]) == 0) return 0;
    return hg_dims_product(&a->out[0], 0, (int)a->param[0]);
}

/* Number of the slab of indices that belongs to a slab of data, or -1 when there is none. */
static int64_t scatterelements_slab(const hg_args *a, int64_t slab)
{
    int64_t number = 0, scale = 1;
    for (int i = (int)a->param[0] - 1; i >= 0; i--) {
        int64_t turn = slab % a->in[0].dim[i];
        if (turn >= a->in[1].dim[i]) return -1;
        slab /= a->in[0].dim[i];
        number += turn * scale;
        scale *= a->in[1].dim[i];
    }
    return number;
}

/* Place of element `at` of an index slab, in the data slab, but for the axis. */
static int64_t scatterelements_place(const hg_args *a, int64_t at)
{
    int64_t place = 0, stride = 1;
    for (int i = a->in[0].rank - 1; i > a->param[0]; i--) {
        place += at % a->in[1].dim[i] * stride;
        at /= a->in[1].dim[i];
        stride *= a->in[0].dim[i];
    }
    return place;
}

/* A unit is a slab: one place before the axis, everything from the axis on. */
static void scatterelements_run(const hg_args *a, hg_range r)
{
    const holo_tensor *data = &a->in[0], *index = &a->in[1];
    const int axis = (int)a->param[0];
    const int64_t size = data->dim[axis], inner = hg_dims_product(data, axis + 1, data->rank);
    const int64_t slab = size * inner, per_slab = hg_dims_product(index, axis, index->rank);
    const uint32_t bits = hg_dtype_bits(data->dtype);
    for (int64_t unit = r.begin; unit < r.end; unit++) {
        hg_elem_copy(a->out[0].data, unit * slab, data->data, unit * slab, slab, bits);
        const int64_t first = scatterelements_slab(a, unit) * per_slab;
        for (int64_t i = 0; first >= 0 && i < per_slab; i++) {
            int64_t place = hg_elem_place(a, index, first + i, size);
            if (place < 0) continue;
            int64_t at = unit * slab + place * inner + scatterelements_place(a, i);
            hg_scatter_apply(a, at, first + i, 1, r.scratch);
        }
    }
}

const hg_kernel hg_kernels_scatterelements[] = {
    {.name = "scatterelements",
     .check = scatterelements_check,
     .units = scatterelements_units,
     .scratch = hg_scatter_scratch,
     .run = scatterelements_run},
    {0},
};
