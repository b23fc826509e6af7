/* reduce.c - kernel "reduce": sums, extremes and the like along any set of axes.
 *
 *   in[0]   what is reduced: numbers; bool for max and min
 *   in[1..] more operands of the lane code
 *   out[0]  in[0] without the reduced dims, or with 1 in their place; int64 for arg max and arg min
 *   param   operation (hg_reduce_op), mask of reduced dims, select_last (arg max and arg min only)
 *   code    optional: applied to the result, operand 0, which has its compute type
 *
 * Numerics. Reduced elements are numbered in row-major order; number i goes to virtual lane i % 16,
 * which adds in order, and the lanes meet in a fixed tree: l with l + 8, then + 4, + 2, + 1. f16
 * and bf16 accumulate in f32, f32 in f32, integers in 64 bits that wrap; a mean of integers
 * truncates. L2, log-sum and log-sum-exp of integers are computed in f64 and truncated. Max and min
 * are NaN when an element is; arg max and arg min then give the index of a NaN. Nothing to reduce:
 * sum 0, product 1, max the smallest and min the largest value of the type (infinities for floats),
 * mean NaN (0 for integers). One unit is one output element. */
#include "kernel/reduce.h"

#include "kernel/lane.h"

#define REDUCE_RUN reduce_run_reference
#define REDUCE_READ hg_lane_read
#define REDUCE_WRITE hg_lane_write
#define REDUCE_LANE hg_lane_run
#include "kernel/reduce_run.inc"

/* ---- shape
 * ---------------------------------------------------------------------------------------- */

void hg_reduce_shape_init(hg_reduce_shape *s, const holo_tensor *in, int64_t axes)
{
    *s = (hg_reduce_shape){.cols = 1, .rows = 1, .steps = 1};
    int64_t stride = 1;
    bool was_reduced = false, is_open = false; /* is_open: the group before can grow */
    for (int i = in->rank - 1; i >= 0; i--) {
        int64_t dim = in->dim[i];
        bool is_reduced = (axes >> i & 1) != 0;
        if (dim == 1) continue;
        int64_t *dims = is_reduced ? s->reduced_dim : s->kept_dim;
        int64_t *strides = is_reduced ? s->reduced_stride : s->kept_stride;
        int *n = is_reduced ? &s->n_reduced : &s->n_kept;
        if (!is_open || is_reduced != was_reduced) {
            dims[*n] = 1;
            strides[(*n)++] = stride;
        }
        dims[*n - 1] *= dim;
        if (is_reduced) s->steps *= dim;
        stride *= dim;
        was_reduced = is_reduced;
        is_open = true;
    }
    /* The innermost kept group becomes the columns, the innermost reduced group the rows. */
    if (s->n_kept > 0 && s->kept_stride[0] == 1) {
        s->cols = s->kept_dim[0];
        s->n_kept--;
        memmove(s->kept_dim, s->kept_dim + 1, (size_t)s->n_kept * sizeof s->kept_dim[0]);
        memmove(s->kept_stride, s->kept_stride + 1, (size_t)s->n_kept * sizeof s->kept_stride[0]);
    }
    if (s->n_reduced > 0) {
        s->rows = s->reduced_dim[0];
        s->n_reduced--;
        memmove(s->reduced_dim, s->reduced_dim + 1, (size_t)s->n_reduced * sizeof(int64_t));
        memmove(s->reduced_stride, s->reduced_stride + 1, (size_t)s->n_reduced * sizeof(int64_t));
    }
}

/* ---- check
 * ---------------------------------------------------------------------------------------- */

static bool reduce_is_arg(int64_t op)
{
    return op == HG_REDUCE_ARG_MAX || op == HG_REDUCE_ARG_MIN;
}

holo_dtype hg_reduce_result_type(hg_reduce_op op, holo_dtype in)
{
    static const holo_dtype dtypes[] = {HOLO_NONE, HOLO_F32, HOLO_F64,
                                        HOLO_I32,  HOLO_I64, HOLO_U64};
    return reduce_is_arg(op) ? HOLO_I64 : dtypes[hg_lane_type_of(in)];
}

/* The dims of out other than 1 are the kept dims of in other than 1, in order. */
static bool reduce_shape_fits(const holo_tensor *in, const holo_tensor *out, int64_t axes)
{
    int k = 0;
    for (int i = 0; i < in->rank; i++) {
        if ((axes >> i & 1) != 0 || in->dim[i] == 1) continue;
        while (k < out->rank && out->dim[k] == 1)
            k++;
        if (k == out->rank || out->dim[k++] != in->dim[i]) return false;
    }
    while (k < out->rank && out->dim[k] == 1)
        k++;
    return k == out->rank;
}

holo_status hg_kernel_reduce_check(const hg_args *a, holo_error *e)
{
    HG_TRY(hg_check_counts(a, e, 1, -1, 1, 3));
    HG_TRY(hg_check_param(a, e, 0, "operation", HG_REDUCE_SUM, HG_REDUCE_LOG_SUM));
    hg_reduce_op op = (hg_reduce_op)a->param[0];
    bool takes_bool = op == HG_REDUCE_MAX || op == HG_REDUCE_MIN;
    HG_TRY(hg_check_in_type(a, e, 0, HG_TYPES_NUMBER | (takes_bool ? HG_TYPES_BOOL : 0)));
    /* Whole bytes: two units must not share one. */
    HG_TRY(hg_check_out_type(
        a, e, 0, HG_TYPES_NUMBER | HG_TYPES_BOOL | HG_TYPES_FLOAT8 | HG_TYPE_BIT(HOLO_F8E8M0)));
    HG_TRY(hg_check_param(a, e, 1, "mask of axes", 0, (INT64_C(1) << a->in[0].rank) - 1));
    HG_TRY(hg_check_param(a, e, 2, "select_last", 0, reduce_is_arg(op) ? 1 : 0));
    HG_REQUIRE(e, reduce_shape_fits(&a->in[0], &a->out[0], a->param[1]), HOLO_E_SHAPE,
               "the output's dimensions are not those that are kept");
    hg_reduce_shape shape;
    hg_reduce_shape_init(&shape, &a->in[0], a->param[1]);
    HG_REQUIRE(e, !reduce_is_arg(op) || shape.steps > 0 || holo_tensor_count(&a->out[0]) == 0,
               HOLO_E_SHAPE, "arg max or arg min of no elements");
    holo_tensor result = a->out[0];
    result.dtype = hg_reduce_result_type(op, a->in[0].dtype);
    if (a->code == NULL) {
        HG_TRY(hg_check_counts(a, e, 1, 1, 1, 3));
        return hg_check_same_type(&a->out[0], reduce_is_arg(op) ? &result : &a->in[0], e, "output");
    }
    for (uint32_t i = 1; i < a->n_in; i++)
        HG_TRY(hg_check_in_type(a, e, i, HG_TYPES_NUMBER | HG_TYPES_BOOL | HG_TYPES_NARROW));
    return hg_kernel_lane_check_body(a, &result, e);
}

int64_t hg_kernel_reduce_units(const hg_args *a)
{
    return hg_dims_product(&a->out[0], 0, a->out[0].rank);
}

size_t hg_kernel_reduce_scratch(const hg_args *a)
{
    size_t lane = a->code != NULL ? hg_lane_space_scratch(a->code) : 0;
    return hg_align_up(sizeof(reduce_state), HG_ALIGN) + lane;
}

void hg_kernel_reduce_cost(const hg_args *a, hg_cost *cost)
{
    cost->flops = (double)hg_dims_product(&a->in[0], 0, a->in[0].rank);
}

const hg_kernel hg_kernels_reduce[] = {
    {
        .name = "reduce",
        .check = hg_kernel_reduce_check,
        .units = hg_kernel_reduce_units,
        .scratch = hg_kernel_reduce_scratch,
        .cost = hg_kernel_reduce_cost,
        .run = reduce_run_reference,
    },
    {0},
};
