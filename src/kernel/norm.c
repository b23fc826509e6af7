/* norm.c - kernels "layernorm" and "groupnorm": subtract the mean, divide by the deviation.
 *
 * layernorm
 *   in      x; optional scale and bias, x's type, broadcastable to x's dims from axis on
 *   out     y as x; optional mean and inverse deviation of each row (stash type, one element a row)
 *   param   axis, epsilon (bits of a double), mode (0 layer norm, 1 RMS norm: no mean), stash type
 *   unit    one row: x is seen as [rows, n], n the elements from axis on
 * groupnorm
 *   in      x [N, C, ...], or [N, ..., C] with channels_last; optional scale [C] and bias [C]
 *   out     y as x
 *   param   groups, epsilon, channels_last (0 or 1)
 *   unit    one group of one sample; groups = C is instance norm
 *
 * Numerics. float16, bfloat16 and float32 compute in f32, float64 in f64:
 *   mean = sum(x) / n      var = sum((x - mean)^2) / n      inverse = 1 / sqrt(var + epsilon)
 *   y = ((x - mean) * inverse) * scale + bias
 * and in RMS mode mean is 0. Sums use 16 virtual lanes and a fixed tree as in reduce.c, over the
 * elements in memory order; with channels_last over the positions of each channel first, then over
 * the channels of the group. NaN anywhere in a row makes the row NaN. */
#include "kernel/norm.h"

#include "isa/lane_math.h"

#define NORM_READ hg_lane_read
#define NORM_WRITE hg_lane_write
#define T float
#define NAME(stem) norm_f32_##stem
#define SQRT hg_sqrt_f32
#include "kernel/norm_run.inc"
#undef T
#undef NAME
#undef SQRT
#define T double
#define NAME(stem) norm_f64_##stem
#define SQRT hg_sqrt_f64
#include "kernel/norm_run.inc"

/* ---- shared with tuned variants -------------------------------------------------------------- */

/* x's dims from axis on: what is normalised together, and what scale and bias broadcast to. */
static holo_tensor norm_tail(const holo_tensor *x, int axis)
{
    holo_tensor tail = {.rank = x->rank - axis, .dtype = x->dtype};
    memcpy(tail.dim, x->dim + axis, (size_t)tail.rank * sizeof tail.dim[0]);
    return tail;
}

/* Scale or bias in the compute type, repeated to the shape `tail`: in place, or in `to`. */
static const void *norm_expand(const hg_args *a, uint32_t i, const holo_tensor *tail, void *to,
                               hg_lane_read_fn read)
{
    if (!hg_args_has(a, i)) return NULL;
    const holo_tensor *t = &a->in[i];
    int64_t n = hg_dims_product(tail, 0, tail->rank), stride[HG_MAX_RANK];
    bool is_dense = hg_dims_product(t, 0, t->rank) == n;
    if (is_dense && hg_lane_is_native(t->dtype)) return t->data;
    if (is_dense) {
        read(t->dtype, to, t->data, 0, 1, n);
        return to;
    }
    size_t width = hg_lane_width(hg_lane_type_of(t->dtype));
    hg_broadcast_strides(t, tail, stride);
    for (int64_t k = 0; k < n; k++) {
        int64_t at = 0, rest = k;
        for (int d = tail->rank - 1; d >= 0; d--) {
            at += rest % tail->dim[d] * stride[d];
            rest /= tail->dim[d];
        }
        read(t->dtype, (uint8_t *)to + (size_t)k * width, t->data, at, 1, 1);
    }
    return to;
}

static hg_norm *norm_init(const hg_args *a, void *scratch, uint8_t **work)
{
    hg_norm *s = scratch;
    *s = (hg_norm){.x = &a->in[0],
                   .out = a->out,
                   .dtype = a->in[0].dtype,
                   .is_native = hg_lane_is_native(a->in[0].dtype),
                   .epsilon = hg_param_f64(a, 1)};
    *work = (uint8_t *)scratch + hg_align_up(sizeof *s, HG_ALIGN);
    return s;
}

hg_norm *hg_layernorm_init(const hg_args *a, void *scratch, hg_lane_read_fn read)
{
    uint8_t *work;
    hg_norm *s = norm_init(a, scratch, &work);
    holo_tensor tail = norm_tail(s->x, (int)a->param[0]);
    s->n = hg_dims_product(&tail, 0, tail.rank);
    s->is_rms = a->param[2] != 0;
    s->has_mean = a->n_out > 1 && a->out[1].dtype != HOLO_NONE;
    s->has_inverse = a->n_out > 2 && a->out[2].dtype != HOLO_NONE;
    size_t row = hg_align_up((size_t)s->n * sizeof(double), HG_ALIGN);
    s->row = work;
    s->scale = norm_expand(a, 1, &tail, work + 2 * row, read);
    s->bias = norm_expand(a, 2, &tail, work + 3 * row, read);
    return s;
}

enum { NORM_CHANNEL_ARRAYS = 5 }; /* scale, bias, mean, inverse, row */

hg_norm *hg_groupnorm_init(const hg_args *a, void *scratch, hg_lane_read_fn read)
{
    uint8_t *work;
    hg_norm *s = norm_init(a, scratch, &work);
    s->groups = a->param[0];
    s->channels = s->x->dim[a->param[2] != 0 ? s->x->rank - 1 : 1];
    s->positions = hg_dims_product(s->x, 1, s->x->rank) / s->channels;
    s->n = s->channels / s->groups * s->positions;
    holo_tensor tail = {.rank = 1, .dim = {s->channels}};
    size_t array = hg_align_up((size_t)s->channels * sizeof(double), HG_ALIGN);
    s->scale = norm_expand(a, 1, &tail, work, read);
    s->bias = norm_expand(a, 2, &tail, work + array, read);
    s->mean = work + 2 * array;
    s->inverse = work + 3 * array;
    s->row = work + 4 * array;
    s->work = work + NORM_CHANNEL_ARRAYS * array;
    return s;
}

/* ---- layernorm ------------------------------------------------------------------------------- */

static holo_status norm_check_stash(const hg_args *a, holo_error *e, uint32_t i, int64_t rows)
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
    holo_tensor tail = norm_tail(x, axis);
    for (uint32_t i = 1; i < 3; i++) {
        if (!hg_args_has(a, i)) continue;
        HG_TRY(hg_check_in_type(a, e, i, HG_TYPES_FLOAT));
        HG_TRY(hg_check_same_type(&a->in[i], x, e, i == 1 ? "scale" : "bias"));
        HG_TRY(hg_check_broadcast(&a->in[i], &tail, e, i == 1 ? "scale" : "bias"));
    }
    int64_t rows = hg_dims_product(x, 0, axis);
    HG_TRY(norm_check_stash(a, e, 1, rows));
    return norm_check_stash(a, e, 2, rows);
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

void hg_kernel_norm_cost(const hg_args *a, hg_cost *cost)
{
    /* Sum, deviation, square, sum; deviation, inverse, scale, bias. */
    cost->flops = 8 * (double)hg_dims_product(&a->in[0], 0, a->in[0].rank);
}

void hg_kernel_layernorm_run(const hg_args *a, hg_range r)
{
    (a->in[0].dtype == HOLO_F64 ? norm_f64_layer_run : norm_f32_layer_run)(a, r);
}

/* ---- groupnorm ------------------------------------------------------------------------------- */

holo_status hg_kernel_groupnorm_check(const hg_args *a, holo_error *e)
{
    HG_TRY(hg_check_counts(a, e, 1, 3, 1, 3));
    HG_TRY(hg_check_in_type(a, e, 0, HG_TYPES_FLOAT));
    const holo_tensor *x = &a->in[0];
    HG_TRY(hg_check_rank(x, e, "input 0", 2, HG_MAX_RANK));
    HG_TRY(hg_check_same_type(&a->out[0], x, e, "output"));
    HG_TRY(hg_check_same_shape(&a->out[0], x, e, "output"));
    HG_TRY(hg_check_param(a, e, 2, "channels_last", 0, 1));
    int64_t channels = x->dim[a->param[2] != 0 ? x->rank - 1 : 1];
    HG_TRY(hg_check_param(a, e, 0, "groups", 1, hg_max(channels, 1)));
    HG_REQUIRE(e, channels % a->param[0] == 0, HOLO_E_SHAPE,
               "%lld channels do not divide into %lld groups", (long long)channels,
               (long long)a->param[0]);
    for (uint32_t i = 1; i < 3; i++) {
        if (!hg_args_has(a, i)) continue;
        HG_TRY(hg_check_in_type(a, e, i, HG_TYPES_FLOAT));
        HG_TRY(hg_check_same_type(&a->in[i], x, e, i == 1 ? "scale" : "bias"));
        HG_REQUIRE(e, a->in[i].rank == 1 && a->in[i].dim[0] == channels, HOLO_E_SHAPE,
                   "%s has rank %d and %lld elements, expected one for each of %lld channels",
                   i == 1 ? "scale" : "bias", a->in[i].rank,
                   (long long)holo_tensor_count(&a->in[i]), (long long)channels);
    }
    return HOLO_OK;
}

int64_t hg_kernel_groupnorm_units(const hg_args *a)
{
    if (hg_dims_product(&a->in[0], 0, a->in[0].rank) == 0) return 0;
    return a->in[0].dim[0] * a->param[0];
}

/* After the state: values for each channel, and lanes and a step for a block of columns. */
size_t hg_kernel_groupnorm_scratch(const hg_args *a)
{
    const holo_tensor *x = &a->in[0];
    size_t channels = (size_t)x->dim[a->param[2] != 0 ? x->rank - 1 : 1];
    return hg_align_up(sizeof(hg_norm), HG_ALIGN) +
           NORM_CHANNEL_ARRAYS * hg_align_up(channels * sizeof(double), HG_ALIGN) +
           (size_t)(HG_NORM_LANES + 1) * HG_NORM_COLS * sizeof(double);
}

void hg_kernel_groupnorm_run(const hg_args *a, hg_range r)
{
    (a->in[0].dtype == HOLO_F64 ? norm_f64_group_run : norm_f32_group_run)(a, r);
}

const hg_kernel hg_kernels_norm[] = {
    {
        .name = "layernorm",
        .flags = HG_KERNEL_INPLACE,
        .check = hg_kernel_layernorm_check,
        .units = hg_kernel_layernorm_units,
        .scratch = hg_kernel_layernorm_scratch,
        .cost = hg_kernel_norm_cost,
        .run = hg_kernel_layernorm_run,
    },
    {
        .name = "groupnorm",
        .flags = HG_KERNEL_INPLACE,
        .check = hg_kernel_groupnorm_check,
        .units = hg_kernel_groupnorm_units,
        .scratch = hg_kernel_groupnorm_scratch,
        .cost = hg_kernel_norm_cost,
        .run = hg_kernel_groupnorm_run,
    },
    {0},
};
