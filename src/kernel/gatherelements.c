/* gatherelements.c - gatherelements: out[i, j, k] = data[i, index[i, j, k], k], for axis 1.
 *
 *   in[0]   data, in[1] indices (int32 or int64; negative ones count from the end)
 *   param   axis, or -1 - axis: the indices are labels, of which a negative one is none
 *   out[0]  dims of indices; beside the axis they are at most those of data
 *
 * An index out of range is a fault; its element is left as it was. */
#include "kernel/elem.h"

static int gatherelements_axis(const hg_args *a)
{
    return (int)(a->param[0] < 0 ? -1 - a->param[0] : a->param[0]);
}

static holo_status gatherelements_check(const hg_args *a, holo_error *e)
{
    HG_TRY(hg_check_counts(a, e, 2, 2, 1, 1));
    HG_TRY(hg_check_in_type(a, e, 0, HG_TYPES_ANY));
    HG_TRY(hg_check_in_type(a, e, 1, HG_ELEM_INDEX));
    HG_TRY(hg_check_out_type(a, e, 0, HG_TYPES_ANY));
    const holo_tensor *data = &a->in[0], *index = &a->in[1];
    HG_TRY(hg_check_same_type(&a->out[0], data, e, "output"));
    HG_TRY(hg_check_same_shape(&a->out[0], index, e, "output"));
    HG_TRY(hg_check_param(a, e, 0, "axis", -data->rank, (int64_t)data->rank - 1));
    HG_TRY(hg_check_rank(index, e, "indices", data->rank, data->rank));
    const int axis = gatherelements_axis(a);
    for (int i = 0; i < data->rank; i++)
        HG_REQUIRE(e, i == axis || index->dim[i] <= data->dim[i], HOLO_E_SHAPE,
                   "dimension %d of the indices is %lld, expected at most %lld", i,
                   (long long)index->dim[i], (long long)data->dim[i]);
    return HOLO_OK;
}

static int64_t gatherelements_rows(const hg_args *a)
{
    return hg_dims_product(&a->out[0], 0, a->out[0].rank - 1);
}

static int64_t gatherelements_units(const hg_args *a)
{
    if (holo_tensor_count(&a->out[0]) == 0) return 0;
    return hg_elem_is_packed(&a->in[0]) ? 1 : gatherelements_rows(a);
}

/* First element of data that a row of the output looks at: the row's place beside the axis. */
static int64_t gatherelements_base(const hg_args *a, int64_t row, int64_t *axis_stride)
{
    const holo_tensor *data = &a->in[0], *out = &a->out[0];
    const int axis = gatherelements_axis(a);
    int64_t base = 0, stride = 1;
    for (int i = data->rank - 1; i >= 0; i--) {
        if (i == axis) *axis_stride = stride;
        if (i < data->rank - 1) {
            if (i != axis) base += row % out->dim[i] * stride;
            row /= out->dim[i];
        }
        stride *= data->dim[i];
    }
    return base;
}

static int64_t gatherelements_place(const hg_args *a, int64_t i, int64_t size)
{
    const int64_t label = hg_elem_int(&a->in[1], i);
    if (a->param[0] >= 0 || label >= 0) return hg_elem_place(a, &a->in[1], i, size);
    hg_fault_range(a->fault, "label", i, label, 0, size - 1);
    return -1;
}

/* A row of elements of 32 bits, by indices of 64: element i comes from x[i * walk + place *
 * stride]. What is most frequent is worth a loop of its own. */
HG_INLINE void gatherelements_words(const hg_args *a, int64_t first, const uint32_t *x,
                                    const int64_t walk, const int64_t stride)
{
    const holo_tensor *index = &a->in[1];
    const int64_t cols = index->dim[index->rank - 1], size = a->in[0].dim[gatherelements_axis(a)];
    const int64_t *from = (const int64_t *)index->data + first;
    uint32_t *y = (uint32_t *)a->out[0].data + first;
    for (int64_t i = 0; i < cols; i++) {
        const int64_t place = from[i] + (from[i] < 0 ? size : 0);
        if (HG_LIKELY((uint64_t)place < (uint64_t)size))
            y[i] = x[i * walk + place * stride];
        else
            hg_fault_range(a->fault, "index", first + i, from[i], -size, size - 1);
    }
}

/* A unit is a row along the last dimension. */
static void gatherelements_run(const hg_args *a, hg_range r)
{
    const holo_tensor *data = &a->in[0], *index = &a->in[1];
    const int64_t cols = index->dim[index->rank - 1], size = data->dim[gatherelements_axis(a)];
    const int64_t walk = gatherelements_axis(a) == data->rank - 1 ? 0 : 1;
    const uint32_t bits = hg_dtype_bits(data->dtype);
    const bool is_plain = bits == 32 && index->dtype == HOLO_I64 && a->param[0] >= 0;
    if (bits < 8) r.end = r.begin < r.end ? gatherelements_rows(a) : 0;
    for (int64_t row = r.begin; row < r.end; row++) {
        int64_t stride = 1, base = gatherelements_base(a, row, &stride);
        const uint32_t *words = (const uint32_t *)data->data + (is_plain ? base : 0);
        if (is_plain && walk == 0) {
            gatherelements_words(a, row * cols, words, 0, 1);
            continue;
        }
        if (is_plain) {
            gatherelements_words(a, row * cols, words, 1, stride);
            continue;
        }
        for (int64_t i = 0; i < cols; i++) {
            int64_t place = gatherelements_place(a, row * cols + i, size);
            if (place < 0) continue;
            hg_elem_copy(a->out[0].data, row * cols + i, data->data,
                         base + i * walk + place * stride, 1, bits);
        }
    }
}

const hg_kernel hg_kernels_gatherelements[] = {
    {.name = "gatherelements",
     .check = gatherelements_check,
     .units = gatherelements_units,
     .run = gatherelements_run},
    {0},
};
