/* scatterelements.c - scatterelements: out = data; out[i, index[i, j, k], k] = update[i, j, k], for
 * axis 1.
 *
 *   in[0]   data, in[1] indices (int32 or int64; negative ones count from the end), in[2] updates
 *   param   axis
 *   code    combines the old element and the update; none: the update replaces it
 *   out[0]  dims of data
 *
 * Updates are applied in the order of the indices. An index out of range is a fault; its update is
 * skipped. What lies behind the axis is a column: columns do not meet, so that some of them are a
 * unit and the elements of one row are combined together. */
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

enum { SCATTERELEMENTS_COLUMNS = 16 /* of a unit */ };

/* Indices are there for every column. */
static bool scatterelements_is_whole(const hg_args *a)
{
    for (int i = (int)a->param[0] + 1; i < a->in[0].rank; i++)
        if (a->in[0].dim[i] != a->in[1].dim[i]) return false;
    return true;
}

static int64_t scatterelements_inner(const hg_args *a)
{
    return hg_dims_product(&a->in[0], (int)a->param[0] + 1, a->in[0].rank);
}

static int64_t scatterelements_units(const hg_args *a)
{
    if (holo_tensor_count(&a->out[0]) == 0) return 0;
    const int64_t slabs = hg_dims_product(&a->out[0], 0, (int)a->param[0]);
    if (!scatterelements_is_whole(a)) return slabs;
    return slabs * hg_ceil_div(scatterelements_inner(a), SCATTERELEMENTS_COLUMNS);
}

static void scatterelements_cost(const hg_args *a, hg_cost *cost)
{
    cost->flops = 20.0 * (double)hg_dims_product(&a->in[1], 0, a->in[1].rank);
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

/* Everything from the axis on, at one place before it. */
static void scatterelements_whole_slab(const hg_args *a, int64_t unit, void *scratch)
{
    const holo_tensor *data = &a->in[0], *index = &a->in[1];
    const int axis = (int)a->param[0];
    const int64_t size = data->dim[axis], inner = scatterelements_inner(a);
    const int64_t slab = size * inner, per_slab = hg_dims_product(index, axis, index->rank);
    hg_elem_copy(a->out[0].data, unit * slab, data->data, unit * slab, slab,
                 hg_dtype_bits(data->dtype));
    const int64_t first = scatterelements_slab(a, unit) * per_slab;
    for (int64_t i = 0; first >= 0 && i < per_slab; i++) {
        int64_t place = hg_elem_place(a, index, first + i, size);
        if (place < 0) continue;
        int64_t at = unit * slab + place * inner + scatterelements_place(a, i);
        hg_scatter_apply(a, at, first + i, 1, scratch);
    }
}

/* Columns [begin, end) of a slab; updates of the slab begin at `first`. */
typedef struct scatterelements_part {
    const hg_args *a;
    int64_t slab, begin, end, size, inner, first;
    uint32_t simple; /* hg_scatter_simple_f32 */
    void *scratch;
} scatterelements_part;

/* Row j of floats that are combined by one operation. */
HG_INLINE void scatterelements_combine(const scatterelements_part *p, const uint32_t op, int64_t j)
{
    const hg_args *a = p->a;
    float *y = (float *)a->out[0].data + p->slab * p->size * p->inner;
    const float *x = (const float *)a->in[2].data;
    for (int64_t k = p->begin; k < p->end; k++) {
        const int64_t from = p->first + j * p->inner + k;
        const int64_t place = hg_elem_place(a, &a->in[1], from, p->size);
        if (place < 0) continue;
        float *to = &y[place * p->inner + k];
        *to = hg_scatter_combine_f32(op, *to, x[from]);
    }
}

static void scatterelements_simple(const scatterelements_part *p, int64_t j)
{
    switch (p->simple) {
    case HG_LANE_ADD: scatterelements_combine(p, HG_LANE_ADD, j); break;
    case HG_LANE_MUL: scatterelements_combine(p, HG_LANE_MUL, j); break;
    case HG_LANE_MIN: scatterelements_combine(p, HG_LANE_MIN, j); break;
    default: scatterelements_combine(p, HG_LANE_MAX, j); break;
    }
}

/* Row j of elements of 32 bits that are replaced. */
static void scatterelements_replace(const scatterelements_part *p, int64_t j)
{
    const hg_args *a = p->a;
    uint32_t *y = (uint32_t *)a->out[0].data + p->slab * p->size * p->inner;
    const uint32_t *x = (const uint32_t *)a->in[2].data;
    for (int64_t k = p->begin; k < p->end; k++) {
        const int64_t from = p->first + j * p->inner + k;
        const int64_t place = hg_elem_place(a, &a->in[1], from, p->size);
        if (place >= 0) y[place * p->inner + k] = x[from];
    }
}

/* Row j: old elements and updates are brought together, combined and taken back. */
static void scatterelements_row(const scatterelements_part *p, int64_t j)
{
    const hg_args *a = p->a;
    const holo_dtype dtype = a->out[0].dtype;
    const uint32_t bits = hg_dtype_bits(dtype);
    int64_t at[SCATTERELEMENTS_COLUMNS], n = 0;
    _Alignas(16) uint8_t old[16 * SCATTERELEMENTS_COLUMNS], update[16 * SCATTERELEMENTS_COLUMNS];
    for (int64_t k = p->begin; k < p->end; k++) {
        const int64_t from = p->first + j * p->inner + k;
        const int64_t place = hg_elem_place(a, &a->in[1], from, p->size);
        if (place < 0) continue;
        at[n] = (p->slab * p->size + place) * p->inner + k;
        hg_elem_copy(old, n, a->out[0].data, at[n], 1, bits);
        hg_elem_copy(update, n++, a->in[2].data, from, 1, bits);
    }
    const hg_lane_view in[2] = {{.data = old, .row = n, .col = 1, .dtype = dtype},
                                {.data = update, .row = n, .col = 1, .dtype = dtype}};
    if (a->code != NULL && n > 0)
        hg_lane_run(a->code, &(hg_lane_tile){.in = in,
                                             .out = &in[0],
                                             .rows = 1,
                                             .cols = n,
                                             .row_elements = n,
                                             .scratch = p->scratch,
                                             .fault = a->fault});
    for (int64_t i = 0; i < n; i++)
        hg_elem_copy(a->out[0].data, at[i], a->code == NULL ? update : old, i, 1, bits);
}

static void scatterelements_columns(const hg_args *a, int64_t unit, void *scratch)
{
    const holo_tensor *data = &a->in[0], *index = &a->in[1];
    const int axis = (int)a->param[0];
    const int64_t inner = scatterelements_inner(a), rows = index->dim[axis];
    const int64_t groups = hg_ceil_div(inner, SCATTERELEMENTS_COLUMNS);
    scatterelements_part p = {.a = a,
                              .slab = unit / groups,
                              .begin = unit % groups * SCATTERELEMENTS_COLUMNS,
                              .size = data->dim[axis],
                              .inner = inner,
                              .simple = hg_scatter_simple_f32(a),
                              .scratch = scratch};
    p.end = hg_min(p.begin + SCATTERELEMENTS_COLUMNS, inner);
    const int64_t together = groups == 1 ? p.size : 1; /* rows that lie side by side */
    for (int64_t j = 0; j < p.size; j += together) {
        const int64_t at = (p.slab * p.size + j) * inner + p.begin;
        hg_elem_copy(a->out[0].data, at, data->data, at, together * (p.end - p.begin),
                     hg_dtype_bits(data->dtype));
    }
    p.first = scatterelements_slab(a, p.slab) * rows * inner;
    const bool replaces = a->code == NULL && hg_dtype_bits(data->dtype) == 32;
    for (int64_t j = 0; p.first >= 0 && j < rows; j++) {
        if (p.simple != 0)
            scatterelements_simple(&p, j);
        else if (replaces)
            scatterelements_replace(&p, j);
        else
            scatterelements_row(&p, j);
    }
}

static void scatterelements_run(const hg_args *a, hg_range r)
{
    const bool is_whole = scatterelements_is_whole(a);
    for (int64_t unit = r.begin; unit < r.end; unit++) {
        if (is_whole)
            scatterelements_columns(a, unit, r.scratch);
        else
            scatterelements_whole_slab(a, unit, r.scratch);
    }
}

const hg_kernel hg_kernels_scatterelements[] = {
    {.name = "scatterelements",
     .check = scatterelements_check,
     .units = scatterelements_units,
     .scratch = hg_scatter_scratch,
     .cost = scatterelements_cost,
     .run = scatterelements_run},
    {0},
};
