/* nonzero.c - nonzero: the places of all elements that are not zero.
 *
 *   in[0]   any tensor
 *   out[0]  int64 [rank, n]: column i holds the indices of the i-th such element, in row-major
 * order */
#include "kernel/elem.h"

static holo_status nonzero_check_in(const hg_args *a, holo_error *e)
{
    HG_TRY(hg_check_counts(a, e, 1, 1, 1, 0));
    return hg_check_in_type(a, e, 0, HG_TYPES_ANY & ~HG_TYPES_NARROW);
}

static holo_status nonzero_check(const hg_args *a, holo_error *e)
{
    HG_TRY(nonzero_check_in(a, e));
    HG_TRY(hg_check_out_type(a, e, 0, HG_TYPE_BIT(HOLO_I64)));
    HG_TRY(hg_check_rank(&a->out[0], e, "output", 2, 2));
    HG_REQUIRE(e, a->out[0].dim[0] == a->in[0].rank, HOLO_E_SHAPE,
               "the output has %lld rows, expected %d", (long long)a->out[0].dim[0], a->in[0].rank);
    return HOLO_OK;
}

static holo_status nonzero_size(const hg_args *a, holo_error *e)
{
    HG_TRY(nonzero_check_in(a, e));
    int64_t found = 0;
    const int64_t count = holo_tensor_count(&a->in[0]);
    for (int64_t i = 0; i < count; i++)
        found += !hg_elem_is_zero(&a->in[0], i);
    a->out[0].rank = 2;
    a->out[0].dim[0] = a->in[0].rank;
    a->out[0].dim[1] = found;
    return HOLO_OK;
}

static int64_t nonzero_units(const hg_args *a)
{
    return holo_tensor_count(&a->out[0]) == 0 ? 0 : 1;
}

static void nonzero_run(const hg_args *a, hg_range r)
{
    if (r.begin >= r.end) return;
    const holo_tensor *in = &a->in[0];
    const int64_t count = holo_tensor_count(in), cols = a->out[0].dim[1];
    int64_t *y = a->out[0].data, at = 0;
    for (int64_t i = 0; i < count && at < cols; i++) {
        if (hg_elem_is_zero(in, i)) continue;
        int64_t rest = i;
        for (int k = in->rank - 1; k >= 0; k--) {
            y[k * cols + at] = rest % in->dim[k];
            rest /= in->dim[k];
        }
        at++;
    }
    /* The input changed between the two calls, or a program lied about the size. */
    for (; at < cols; at++)
        for (int k = 0; k < in->rank; k++)
            y[k * cols + at] = 0;
}

const hg_kernel hg_kernels_nonzero[] = {
    {.name = "nonzero",
     .flags = HG_KERNEL_LATE,
     .check = nonzero_check,
     .size = nonzero_size,
     .units = nonzero_units,
     .run = nonzero_run},
    {0},
};
