/* softmax.c - kernel "softmax": exp(x - max) / sum along one axis, or its logarithm.
 *
 *   in[0]   x: float16, bfloat16, float32, float64; seen as [outer, n, inner] around the axis
 *   in[1]   optional mask, added to x first: x's type, broadcasts to x
 *   out[0]  as x
 *   param   axis, log (0 or 1)
 *
 * Numerics. Computed in f32 (f64 for f64): e = exp((x + mask) - max); the sum uses 16 virtual lanes
 * and a fixed tree as in reduce.c; y = e * (1 / sum), or ((x + mask) - max) - log(sum). A row that
 * holds NaN or +inf, or only -inf, is NaN. One unit is one row of n elements. */
#include "kernel/softmax.h"

#include "isa/lane_math.h"

#define SOFTMAX_READ hg_lane_read
#define SOFTMAX_WRITE hg_lane_write
#define T float
#define NAME(stem) softmax_f32_##stem
#define EXP hg_exp_negative_f32
#define LOG hg_log_f32
#include "kernel/softmax_run.inc"
#undef T
#undef NAME
#undef EXP
#undef LOG
#define T double
#define NAME(stem) softmax_f64_##stem
#define EXP hg_exp_f64
#define LOG hg_log_f64
#include "kernel/softmax_run.inc"

int64_t hg_softmax_mask_at(const hg_softmax *s, int64_t outer, int64_t col)
{
    int64_t at = 0;
    for (int i = s->x->rank - 1; i >= 0; i--) {
        if (i == s->axis) continue;
        int64_t *rest = i > s->axis ? &col : &outer;
        at += *rest % s->x->dim[i] * s->mask_stride[i];
        *rest /= s->x->dim[i];
    }
    return at;
}

hg_softmax *hg_softmax_init(const hg_args *a, void *scratch)
{
    hg_softmax *s = scratch;
    const holo_tensor *x = &a->in[0];
    *s = (hg_softmax){.x = x,
                      .mask = hg_args_has(a, 1) ? &a->in[1] : NULL,
                      .out = a->out[0].data,
                      .dtype = x->dtype,
                      .axis = (int)a->param[0],
                      .is_log = a->param[1] != 0,
                      .is_native = hg_lane_is_native(x->dtype),
                      .n = x->dim[a->param[0]]};
    s->inner = hg_dims_product(x, s->axis + 1, x->rank);
    s->work = (uint8_t *)scratch + hg_align_up(sizeof *s, HG_ALIGN);
    if (s->mask != NULL) hg_broadcast_strides(s->mask, x, s->mask_stride);
    return s;
}

holo_status hg_kernel_softmax_check(const hg_args *a, holo_error *e)
{
    HG_TRY(hg_check_counts(a, e, 1, 2, 1, 2));
    HG_TRY(hg_check_in_type(a, e, 0, HG_TYPES_FLOAT));
    HG_TRY(hg_check_same_type(&a->out[0], &a->in[0], e, "output"));
    HG_TRY(hg_check_same_shape(&a->out[0], &a->in[0], e, "output"));
    if (hg_args_has(a, 1)) {
        HG_TRY(hg_check_in_type(a, e, 1, HG_TYPES_FLOAT));
        HG_TRY(hg_check_same_type(&a->in[1], &a->in[0], e, "mask"));
        HG_TRY(hg_check_broadcast(&a->in[1], &a->in[0], e, "mask"));
    }
    HG_TRY(hg_check_param(a, e, 0, "axis", 0, a->in[0].rank - 1));
    return hg_check_param(a, e, 1, "log", 0, 1);
}

int64_t hg_kernel_softmax_units(const hg_args *a)
{
    const holo_tensor *x = &a->in[0];
    int axis = (int)a->param[0];
    if (x->dim[axis] == 0) return 0;
    return hg_dims_product(x, 0, axis) * hg_dims_product(x, axis + 1, x->rank);
}

size_t hg_kernel_softmax_scratch(const hg_args *a)
{
    size_t row = 2 * (size_t)a->in[0].dim[a->param[0]] * sizeof(double);
    size_t block = sizeof(softmax_f64_block);
    return hg_align_up(sizeof(hg_softmax), HG_ALIGN) + (row > block ? row : block);
}

void hg_kernel_softmax_cost(const hg_args *a, hg_cost *cost)
{
    /* Maximum, subtraction, exponential (counted as 10), sum, scale. */
    cost->flops = 14 * (double)hg_dims_product(&a->in[0], 0, a->in[0].rank);
}

void hg_kernel_softmax_run(const hg_args *a, hg_range r)
{
    (hg_dtype_is(a->in[0].dtype, HOLO_F64) ? softmax_f64_run : softmax_f32_run)(a, r);
}

const hg_kernel hg_kernels_softmax[] = {
    {
        .name = "softmax",
        .flags = HG_KERNEL_INPLACE,
        .check = hg_kernel_softmax_check,
        .units = hg_kernel_softmax_units,
        .scratch = hg_kernel_softmax_scratch,
        .cost = hg_kernel_softmax_cost,
        .run = hg_kernel_softmax_run,
    },
    {0},
};
