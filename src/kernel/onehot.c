/* onehot.c - onehot: a new axis that holds one value at the index and another elsewhere.
 *
 *   in[0]   indices, numbers of any type, cut off to integers; negative ones count from the end
 *   in[1]   depth, one number; in[2] values [off, on]
 *   param   axis, where the new dimension of size depth stands
 *   out[0]  type of values
 *
 * An index out of range gives a row of off alone, as the standard says. onehot.late takes a depth
 * that is known only at run time from data. */
#include "kernel/elem.h"

static holo_status onehot_check_in(const hg_args *a, holo_error *e)
{
    HG_TRY(hg_check_counts(a, e, 3, 3, 1, 1));
    HG_TRY(hg_check_in_type(a, e, 0, HG_TYPES_NUMBER));
    HG_TRY(hg_check_in_type(a, e, 1, HG_TYPES_NUMBER));
    HG_TRY(hg_check_in_type(a, e, 2, HG_TYPES_ANY & ~HG_TYPES_NARROW));
    HG_REQUIRE(e, holo_tensor_count(&a->in[1]) == 1, HOLO_E_SHAPE,
               "depth has %lld elements, expected 1", (long long)holo_tensor_count(&a->in[1]));
    HG_REQUIRE(e, holo_tensor_count(&a->in[2]) == 2, HOLO_E_SHAPE,
               "values has %lld elements, expected 2", (long long)holo_tensor_count(&a->in[2]));
    HG_TRY(hg_check_rank(&a->in[0], e, "indices", 0, HG_MAX_RANK - 1));
    return hg_check_param(a, e, 0, "axis", 0, a->in[0].rank);
}

static holo_status onehot_check(const hg_args *a, holo_error *e)
{
    HG_TRY(onehot_check_in(a, e));
    HG_TRY(hg_check_out_type(a, e, 0, HG_TYPES_ANY));
    const holo_tensor *index = &a->in[0], *out = &a->out[0];
    const int axis = (int)a->param[0], rank = index->rank + 1;
    HG_TRY(hg_check_same_type(out, &a->in[2], e, "output"));
    HG_TRY(hg_check_rank(out, e, "output", rank, rank));
    for (int i = 0; i < index->rank; i++) {
        int64_t actual = out->dim[i < axis ? i : i + 1];
        HG_REQUIRE(e, actual == index->dim[i], HOLO_E_SHAPE,
                   "dimension %d of the output is %lld, expected %lld", i < axis ? i : i + 1,
                   (long long)actual, (long long)index->dim[i]);
    }
    return HOLO_OK;
}

static holo_status onehot_size(const hg_args *a, holo_error *e)
{
    HG_TRY(onehot_check_in(a, e));
    const int axis = (int)a->param[0];
    int64_t depth = hg_elem_to_int(&a->in[1], 0);
    HG_REQUIRE(e, depth >= 0, HOLO_E_DATA, "depth is %lld, expected 0 or more", (long long)depth);
    a->out[0].rank = a->in[0].rank + 1;
    for (int i = 0; i <= a->in[0].rank; i++)
        a->out[0].dim[i] = i < axis ? a->in[0].dim[i] : i == axis ? depth : a->in[0].dim[i - 1];
    return HOLO_OK;
}

static int64_t onehot_units(const hg_args *a)
{
    if (holo_tensor_count(&a->out[0]) == 0) return 0;
    return hg_dims_product(&a->out[0], 0, (int)a->param[0]);
}

/* n elements from number `first` on hold values[0], which is zero as a rule. */
static void onehot_fill(const hg_args *a, int64_t first, int64_t n, uint32_t bits)
{
    static const uint8_t zero[16];
    if (bits >= 8 && memcmp(a->in[2].data, zero, bits / 8) == 0) {
        memset((uint8_t *)a->out[0].data + first * (bits / 8), 0, (size_t)n * (bits / 8));
        return;
    }
    hg_elem_fill(a->out[0].data, first, a->in[2].data, n, bits);
}

enum { ONEHOT_BLOCK = 4096 }; /* elements that are filled at a time: they stay in L1 */

/* A unit is one place before the axis. */
static void onehot_run(const hg_args *a, hg_range r)
{
    const holo_tensor *index = &a->in[0], *out = &a->out[0];
    const int axis = (int)a->param[0];
    const int64_t depth = out->dim[axis], inner = hg_dims_product(out, axis + 1, out->rank);
    const uint32_t bits = hg_dtype_bits(out->dtype);
    const int64_t block = hg_max(1, ONEHOT_BLOCK / hg_max(1, depth * inner));
    for (int64_t unit = r.begin; unit < r.end; unit++) {
        const int64_t filled = unit - r.begin;
        if (filled % block == 0)
            onehot_fill(a, unit * depth * inner, hg_min(block, r.end - unit) * depth * inner, bits);
        for (int64_t i = 0; i < inner; i++) {
            const int64_t at = unit * inner + i;
            int64_t place = index->dtype == HOLO_I64 ? ((const int64_t *)index->data)[at]
                                                     : hg_elem_to_int(index, at);
            if (place < 0) place = place < -depth ? -1 : place + depth;
            if (place >= 0 && place < depth)
                hg_elem_copy(out->data, (unit * depth + place) * inner + i, a->in[2].data, 1, 1,
                             bits);
        }
    }
}

const hg_kernel hg_kernels_onehot[] = {
    {.name = "onehot", .check = onehot_check, .units = onehot_units, .run = onehot_run},
    {.name = "onehot.late",
     .flags = HG_KERNEL_LATE,
     .check = onehot_check,
     .size = onehot_size,
     .units = onehot_units,
     .run = onehot_run},
    {0},
};
