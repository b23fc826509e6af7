/* layernorm.c - kernel "layernorm": rows minus their mean, divided by their deviation; RMS norm
 * too.
 *
 *   in      x; optional scale and bias, x's type, broadcastable to x's dims from axis on
 *   out     y as x; optional mean and inverse deviation of each row (stash type, one element a row)
 *   param   axis, epsilon (bits of a double), mode (0 layer norm, 1 RMS norm: no mean), stash type
 *   unit    one row: x is seen as [rows, n], n the elements from axis on
 *
 * Numerics: kernel/norm.h; in RMS mode the mean is 0. */
#include "kernel/norm.h"

#include "isa/lane_math.h"

#define NORM_READ hg_lane_read
#define NORM_WRITE hg_lane_write
#define T float
#define NAME(stem) layernorm_f32_##stem
#define SQRT hg_sqrt_f32
#include "kernel/layernorm_run.inc"
#undef T
#undef NAME
#undef SQRT
#define T double
#define NAME(stem) layernorm_f64_##stem
#define SQRT hg_sqrt_f64
#include "kernel/layernorm_run.inc"

hg_norm *hg_layernorm_init(const hg_args *a, void *scratch, hg_lane_read_fn read)
{
    uint8_t *work;
    hg_norm *s = hg_norm_init(a, scratch, &work);
    holo_tensor tail = hg_norm_tail(s->x, (int)a->param[0]);
    s->n = hg_dims_product(&tail, 0, tail.rank);
    s->is_rms = a->param[2] != 0;
    s->has_mean = a->n_out > 1 && a->out[1].dtype != HOLO_NONE;
    s->has_inverse = a->n_out > 2 && a->out[2].dtype != HOLO_NONE;
    size_t row = hg_align_up((size_t)s->n * sizeof(double), HG_ALIGN);
    s->row = work;
    s->scale = hg_norm_expand(a, 1, &tail, work + 2 * row, read);
    s->bias = hg_norm_expand(a, 2, &tail, work + 3 * row, read);
    return s;
}

static holo_status layernorm_check_stash(const hg_args *a, holo_error *e, uint32_t i, int64_t rows)
{
    if (i >= a->n_out || a->out[i].dtype == HOLO_NONE) return HOLO_OK;
    HG_TRY(hg_check_out_type(a, e, i, HG_TYPE_BIT(a->param[3])));
    HG_REQUIRE(e, holo_tensor_count(&a->out[i]) == rows, HOLO_E_SHAPE,
               "output %u has %lld elements, expected one for each of %lld rows", i,
               (long long)holo_tensor_count(&a->out[i]), (long long)rows);
    HG_REQUIRE(e, i != 1 || a->param[2] == 0, HOLO_E_FORMAT, "RMS norm has no mean");
    return HOLO_OK;
}

holo_status hg_kernel_layernorm_check(const hg_args *a, holo_error *e)
{
    HG_REQUIRE(e, a->n_out >= 1 && a->n_out <= 3, HOLO_E_FORMAT, "%u outputs, expected 1 to 3",
               a->n_out);
    HG_TRY(hg_check_counts(a, e, 1, 3, (int)a->n_out, 4));
    HG_TRY(hg_check_in_type(a, e, 0, HG_TYPES_FLOAT));
    const holo_tensor *x = &a->in[0];
    HG_TRY(hg_check_same_type(&a->out[0], x, e, "output"));
    HG_TRY(hg_check_same_shape(&a->out[0], x, e, "output"));
    HG_TRY(hg_check_param(a, e, 0, "axis", 0, x->rank));
    HG_TRY(hg_check_param(a, e, 2, "mode", 0, 1));
    HG_REQUIRE(e, a->param[3] == HOLO_F32 || (a->param[3] == HOLO_F64 && x->dtype == HOLO_F64),
               HOLO_E_TYPE, "stash type %lld, expected float32, or float64 for float64",
               (long long)a->param[3]);
    int axis = (int)a->param[0];
    holo_tensor tail = hg_norm_tail(x, axis);
    for (uint32_t i = 1; i < 3; i++) {
        if (!hg_args_has(a, i)) continue;
        HG_TRY(hg_check_in_type(a, e, i, HG_TYPES_FLOAT));
        HG_TRY(hg_check_same_type(&a->in[i], x, e, i == 1 ? "scale" : "bias"));
        HG_TRY(hg_check_broadcast(&a->in[i], &tail, e, i == 1 ? "scale" : "bias"));
    }
    int64_t rows = hg_dims_product(x, 0, axis);
    HG_TRY(layernorm_check_stash(a, e, 1, rows));
    return layernorm_check_stash(a, e, 2, rows);
}

int64_t hg_kernel_layernorm_units(const hg_args *a)
{
    return hg_dims_product(&a->in[0], 0, (int)a->param[0]);
}

/* After the state: two rows, scale and bias in the compute type. */
size_t hg_kernel_layernorm_scratch(const hg_args *a)
{
    const holo_tensor *x = &a->in[0];
    size_t n = (size_t)hg_dims_product(x, (int)a->param[0], x->rank);
    return hg_align_up(sizeof(hg_norm), HG_ALIGN) + 4 * hg_align_up(n * sizeof(double), HG_ALIGN);
}

void hg_kernel_layernorm_run(const hg_args *a, hg_range r)
{
    (hg_dtype_is(a->in[0].dtype, HOLO_F64) ? layernorm_f64_run : layernorm_f32_run)(a, r);
}

const hg_kernel hg_kernels_layernorm[] = {
    {
        .name = "layernorm",
        .flags = HG_KERNEL_INPLACE,
        .check = hg_kernel_layernorm_check,
        .units = hg_kernel_layernorm_units,
        .scratch = hg_kernel_layernorm_scratch,
        .cost = hg_kernel_norm_cost,
        .run = hg_kernel_layernorm_run,
    },
    {0},
};
