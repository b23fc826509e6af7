/* reversesequence.c - reversesequence: the first elements of each sequence of a batch, in reverse
 * order.
 *
 *   in[0]   data, in[1] lengths (int64, one for each place along the batch axis)
 *   param   batch axis, time axis: 0 and 1 in some order
 *   out[0]  same type and dims
 *
 * A length beyond the time axis or below 0 is a fault; its sequence is copied. */
#include "kernel/elem.h"

static holo_status reversesequence_check(const hg_args *a, holo_error *e)
{
    HG_TRY(hg_check_counts(a, e, 2, 2, 1, 2));
    HG_TRY(hg_check_in_type(a, e, 0, HG_TYPES_ANY & ~HG_TYPES_NARROW));
    HG_TRY(hg_check_in_type(a, e, 1, HG_TYPE_BIT(HOLO_I64)));
    HG_TRY(hg_check_out_type(a, e, 0, HG_TYPES_ANY));
    HG_TRY(hg_check_same_type(&a->out[0], &a->in[0], e, "output"));
    HG_TRY(hg_check_same_shape(&a->out[0], &a->in[0], e, "output"));
    HG_TRY(hg_check_rank(&a->in[0], e, "data", 2, HG_MAX_RANK));
    HG_TRY(hg_check_param(a, e, 0, "batch axis", 0, 1));
    HG_TRY(hg_check_param(a, e, 1, "time axis", 1 - a->param[0], 1 - a->param[0]));
    HG_TRY(hg_check_rank(&a->in[1], e, "lengths", 1, 1));
    HG_REQUIRE(e, a->in[1].dim[0] == a->in[0].dim[a->param[0]], HOLO_E_SHAPE,
               "%lld lengths, expected %lld", (long long)a->in[1].dim[0],
               (long long)a->in[0].dim[a->param[0]]);
    return HOLO_OK;
}

static int64_t reversesequence_units(const hg_args *a)
{
    return holo_tensor_count(&a->out[0]) == 0 ? 0 : a->in[0].dim[0] * a->in[0].dim[1];
}

/* A unit is one element of one sequence. */
static void reversesequence_run(const hg_args *a, hg_range r)
{
    const holo_tensor *in = &a->in[0];
    const int time_axis = (int)a->param[1];
    const int64_t inner = hg_dims_product(in, 2, in->rank), steps = in->dim[time_axis];
    const uint32_t bits = hg_dtype_bits(in->dtype);
    for (int64_t unit = r.begin; unit < r.end; unit++) {
        int64_t place[2] = {unit / in->dim[1], unit % in->dim[1]};
        int64_t batch = place[1 - time_axis], time = place[time_axis];
        int64_t length = ((const int64_t *)a->in[1].data)[batch];
        if (length < 0 || length > steps)
            hg_fault_range(a->fault, "sequence length", batch, length, 0, steps);
        else if (time < length)
            place[time_axis] = length - 1 - time;
        hg_elem_copy(a->out[0].data, unit * inner, in->data,
                     (place[0] * in->dim[1] + place[1]) * inner, inner, bits);
    }
}

const hg_kernel hg_kernels_reversesequence[] = {
    {.name = "reversesequence",
     .check = reversesequence_check,
     .units = reversesequence_units,
     .run = reversesequence_run},
    {0},
};
