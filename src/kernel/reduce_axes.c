/* reduce_axes.c - reduce.axes: the kernel "reduce" with axes that are known once they have been
 * computed.
 *
 *   in[0]   what is reduced
 *   in[1]   axes, int32 or int64; negative ones count from the end
 *   out[0]  as for "reduce"
 *   param   operation (hg_reduce_op), keepdims, noop: no axes means none instead of all */
#include "kernel/elem.h"
#include "kernel/reduce.h"

extern const hg_kernel hg_kernels_reduce[];

static holo_status reduce_axes_check_in(const hg_args *a, holo_error *e)
{
    HG_TRY(hg_check_counts(a, e, 2, 2, 1, 3));
    HG_TRY(hg_check_param(a, e, 0, "operation", HG_REDUCE_SUM, HG_REDUCE_LOG_SUM));
    HG_TRY(hg_check_param(a, e, 1, "keepdims", 0, 1));
    HG_TRY(hg_check_param(a, e, 2, "noop", 0, 1));
    HG_TRY(hg_check_in_type(a, e, 0, HG_TYPES_NUMBER | HG_TYPES_BOOL));
    HG_TRY(hg_check_in_type(a, e, 1, HG_ELEM_INDEX));
    HG_TRY(hg_check_rank(&a->in[1], e, "axes", 0, 1));
    HG_REQUIRE(e, holo_tensor_count(&a->in[1]) <= a->in[0].rank || a->in[1].rank == 0, HOLO_E_SHAPE,
               "%lld axes, expected at most %d", (long long)a->in[1].dim[0], a->in[0].rank);
    return HOLO_OK;
}

/* Mask of the reduced dims; false and the offending axis when one is out of range. */
static bool reduce_axes_mask(const hg_args *a, int64_t *mask, int64_t *wrong)
{
    const int64_t count = holo_tensor_count(&a->in[1]), rank = a->in[0].rank;
    *mask = 0;
    for (int64_t i = 0; i < count; i++) {
        *wrong = hg_elem_int(&a->in[1], i);
        if (*wrong < -rank || *wrong >= rank) return false;
        *mask |= INT64_C(1) << (*wrong < 0 ? *wrong + rank : *wrong);
    }
    if (count == 0 && a->param[2] == 0) *mask = (INT64_C(1) << rank) - 1;
    return true;
}

/* The call of "reduce" that this one stands for. */
static hg_args reduce_axes_inner(const hg_args *a, int64_t mask, int64_t param[3])
{
    param[0] = a->param[0];
    param[1] = mask;
    param[2] = 0;
    hg_args inner = *a;
    inner.n_in = 1;
    inner.param = param;
    return inner;
}

static holo_status reduce_axes_check(const hg_args *a, holo_error *e)
{
    HG_TRY(reduce_axes_check_in(a, e));
    HG_TRY(hg_check_out_type(a, e, 0, HG_TYPES_NUMBER | HG_TYPES_BOOL));
    HG_REQUIRE(e, a->code == NULL, HOLO_E_FORMAT, "lane code is not supported");
    return HOLO_OK;
}

static holo_status reduce_axes_size(const hg_args *a, holo_error *e)
{
    int64_t mask, wrong, param[3];
    HG_TRY(reduce_axes_check_in(a, e));
    const int rank = a->in[0].rank;
    HG_REQUIRE(e, reduce_axes_mask(a, &mask, &wrong), HOLO_E_DATA,
               "axis is %lld, expected %d to %d", (long long)wrong, -rank, rank - 1);
    holo_tensor *out = &a->out[0];
    out->rank = 0;
    for (int i = 0; i < rank; i++) {
        const bool reduced = (mask >> i & 1) != 0;
        if (!reduced || a->param[1] != 0) out->dim[out->rank++] = reduced ? 1 : a->in[0].dim[i];
    }
    const hg_args inner = reduce_axes_inner(a, mask, param);
    return hg_kernel_reduce_check(&inner, e);
}

static int64_t reduce_axes_units(const hg_args *a)
{
    return hg_kernel_reduce_units(a);
}

static size_t reduce_axes_scratch(const hg_args *a)
{
    return hg_kernel_reduce_scratch(a);
}

static void reduce_axes_run(const hg_args *a, hg_range r)
{
    int64_t mask, wrong, param[3];
    holo_error ignored;
    const bool known = reduce_axes_mask(a, &mask, &wrong);
    const hg_args inner = reduce_axes_inner(a, known ? mask : 0, param);
    /* The axes are data: they are what the sizes were made from, or this is no run. */
    if (!known || hg_kernel_reduce_check(&inner, &ignored) != HOLO_OK) {
        hg_fault_value(a->fault, "axes changed", 0, known ? mask : wrong);
        return;
    }
    hg_kernels_reduce[0].run(&inner, r);
}

const hg_kernel hg_kernels_reduce_axes[] = {
    {.name = "reduce.axes",
     .flags = HG_KERNEL_LATE,
     .check = reduce_axes_check,
     .size = reduce_axes_size,
     .units = reduce_axes_units,
     .scratch = reduce_axes_scratch,
     .cost = hg_kernel_reduce_cost,
     .run = reduce_axes_run},
    {0},
};
