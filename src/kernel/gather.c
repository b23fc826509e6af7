/* gather.c - gather: slices of a tensor along one axis, picked by index.
 *
 *   in[0]   data, in[1] indices (int32 or int64; negative ones count from the end)
 *   param   axis
 *   out[0]  data dims before axis, dims of indices, data dims behind axis
 *
 * An index out of range is a fault; its slice is left as it was. */
#include "kernel/elem.h"

static holo_status gather_check(const hg_args *a, holo_error *e)
{
    HG_TRY(hg_check_counts(a, e, 2, 2, 1, 1));
    HG_TRY(hg_check_in_type(a, e, 0, HG_TYPES_ANY));
    HG_TRY(hg_check_in_type(a, e, 1, HG_ELEM_INDEX));
    HG_TRY(hg_check_out_type(a, e, 0, HG_TYPES_ANY));
    const holo_tensor *data = &a->in[0], *index = &a->in[1], *out = &a->out[0];
    HG_TRY(hg_check_same_type(out, data, e, "output"));
    HG_TRY(hg_check_param(a, e, 0, "axis", 0, (int64_t)data->rank - 1));
    const int axis = (int)a->param[0], rank = data->rank - 1 + index->rank;
    HG_TRY(hg_check_rank(out, e, "output", rank, rank));
    for (int i = 0; i < rank; i++) {
        const int behind = i - index->rank + 1;
        const int64_t expected = i < axis                 ? data->dim[i]
                                 : i < axis + index->rank ? index->dim[i - axis]
                                                          : data->dim[behind];
        HG_REQUIRE(e, out->dim[i] == expected, HOLO_E_SHAPE,
                   "dimension %d of the output is %lld, expected %lld", i, (long long)out->dim[i],
                   (long long)expected);
    }
    return HOLO_OK;
}

static int64_t gather_rows(const hg_args *a)
{
    return hg_dims_product(&a->out[0], 0, (int)a->param[0] + a->in[1].rank);
}

static int64_t gather_units(const hg_args *a)
{
    if (holo_tensor_count(&a->out[0]) == 0) return 0;
    return hg_elem_is_packed(&a->in[0]) ? 1 : gather_rows(a);
}

enum { GATHER_TOGETHER = 64 };

/* Places of `count` indices from `first` on; false: one is out of range. */
static bool gather_find(const hg_args *a, int64_t first, int64_t count, int64_t size,
                        int64_t *place)
{
    for (int64_t i = 0; i < count; i++) {
        place[i] = hg_elem_place(a, &a->in[1], first + i, size);
        if (place[i] < 0) return false;
    }
    return true;
}

/* Single elements of each row, some indices at a time. Where few are wanted their places are found
 * once, in a loop that does nothing else. Returns the row where an index is out of range, or the
 * last one. */
HG_INLINE int64_t gather_singles(const hg_args *a, hg_range r, int64_t size, const uint32_t bits)
{
    const int64_t count = holo_tensor_count(&a->in[1]);
    int64_t place[GATHER_TOGETHER], row = r.begin;
    int64_t which = row % count, first = row / count * size;
    const void *from = a->in[0].data;
    void *to = a->out[0].data;
    if (count <= GATHER_TOGETHER) {
        if (!gather_find(a, 0, count, size, place)) return row;
        for (; row < r.end; which = 0, first += size)
            for (; which < count && row < r.end; which++, row++)
                hg_elem_copy(to, row, from, first + place[which], 1, bits);
        return row;
    }
    while (row < r.end) {
        const int64_t n = hg_min(GATHER_TOGETHER, hg_min(count - which, r.end - row));
        if (!gather_find(a, which, n, size, place)) return row;
        for (int64_t i = 0; i < n; i++, row++)
            hg_elem_copy(to, row, from, first + place[i], 1, bits);
        which += n;
        if (which < count) continue;
        which = 0;
        first += size;
    }
    return row;
}

/* A unit is one index for one place before the axis. */
static void gather_run(const hg_args *a, hg_range r)
{
    const holo_tensor *data = &a->in[0], *index = &a->in[1];
    const int axis = (int)a->param[0];
    const int64_t size = data->dim[axis], inner = hg_dims_product(data, axis + 1, data->rank);
    const int64_t count = holo_tensor_count(index);
    const uint32_t bits = hg_dtype_bits(data->dtype);
    if (bits < 8) r.end = r.begin < r.end ? gather_rows(a) : 0;
    if (inner == 1 && bits == 32) r.begin = gather_singles(a, r, size, 32);
    if (inner == 1 && bits == 64) r.begin = gather_singles(a, r, size, 64);
    int64_t which = r.begin % count, first = r.begin / count * size;
    for (int64_t row = r.begin; row < r.end; row++) {
        const int64_t place = hg_elem_place(a, index, which, size);
        if (place >= 0)
            hg_elem_copy(a->out[0].data, row * inner, data->data, (first + place) * inner, inner,
                         bits);
        if (++which < count) continue;
        which = 0;
        first += size;
    }
}

const hg_kernel hg_kernels_gather[] = {
    {.name = "gather", .check = gather_check, .units = gather_units, .run = gather_run},
    {0},
};
