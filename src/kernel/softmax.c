/* softmax.c - kernel "softmax": exp(x - max) / sum along one axis, or its logarithm.
 *
 *   in[0]   x: float16, bfloat16, float32, float64; seen as [outer, n, inner] around the axis
 *   in[1]   optional mask, added to x first: x's type, broadcasts to x
 *   out[0]  as x
 *   param   axis, log (0 or 1)
 *
 * Numerics. Computed in f32 (f64 for f64): e = exp((x + mask) - max); the sum uses 16 virtual lanes
 * and a fixed tree as in reduce.c; y = e * (1 / sum), or ((x + mask) - max) - log(sum). At most 4
 * ULP of the exact value for f32 beyond the error of the sum. A row that holds NaN or +inf, or only
 * -inf, is NaN. One unit is one row of n elements. */
#include "kernel/softmax.h"

#include "isa/lane_io.h"
#include "isa/lane_math.h"

#define SOFTMAX_READ hg_lane_read
#define SOFTMAX_WRITE hg_lane_write
#define SOFTMAX_RUN softmax_run_reference
#include "kernel/softmax_run.inc"

holo_status hg_kernel_softmax_check(const hg_args *a, holo_error *e)
{
    HG_TRY(hg_check_counts(a, e, 1, 2, 1, 2));
    HG_TRY(hg_check_in_type(a, e, 0, HG_TYPES_FLOAT));
    HG_TRY(hg_check_rank(&a->in[0], e, "input 0", 1, HG_MAX_RANK));
    HG_TRY(hg_check_same_type(&a->out[0], &a->in[0], e, "output"));
    HG_TRY(hg_check_same_shape(&a->out[0], &a->in[0], e, "output"));
    if (hg_args_has(a, 1)) {
        HG_TRY(hg_check_in_type(a, e, 1, HG_TYPES_FLOAT));
        HG_TRY(hg_check_same_type(&a->in[1], &a->in[0], e, "mask"));
        HG_TRY(hg_check_broadcast(&a->in[1], &a->in[0], e, "mask"));
    }
    HG_TRY(hg_check_param(a, e, 0, "axis", 0, a->in[0].rank - 1));
    HG_TRY(hg_check_param(a, e, 1, "log", 0, 1));
    return HOLO_OK;
}

int64_t hg_kernel_softmax_units(const hg_args *a)
{
    const holo_tensor *x = &a->in[0];
    int axis = (int)a->param[0];
    if (x->dim[axis] == 0) return 0;
    return hg_dims_product(x, 0, axis) * hg_dims_product(x, axis + 1, x->rank);
}

/* After the state: one row in the compute type, or a block of columns. */
size_t hg_kernel_softmax_scratch(const hg_args *a)
{
    size_t row = (size_t)a->in[0].dim[a->param[0]] * sizeof(double);
    size_t block = sizeof(softmax_block_f64);
    return hg_align_up(sizeof(softmax_state), HG_ALIGN) + (row > block ? row : block);
}

void hg_kernel_softmax_cost(const hg_args *a, hg_cost *cost)
{
    /* Maximum, subtraction, exponential (counted as 10), sum, scale. */
    cost->flops = 14 * (double)hg_dims_product(&a->in[0], 0, a->in[0].rank);
}

const hg_kernel hg_kernels_softmax[] = {
    {
        .name = "softmax",
        .flags = HG_KERNEL_INPLACE,
        .check = hg_kernel_softmax_check,
        .units = hg_kernel_softmax_units,
        .scratch = hg_kernel_softmax_scratch,
        .cost = hg_kernel_softmax_cost,
        .run = softmax_run_reference,
    },
    {0},
};
