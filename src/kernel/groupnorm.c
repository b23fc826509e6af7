/* groupnorm.c - kernel "groupnorm": groups of channels minus their mean, divided by their
 * deviation.
 *
 *   in      x [N, C, ...], or [N, ..., C] with channels_last; optional scale [C] and bias [C]
 *   out     y as x
 *   param   groups, epsilon (bits of a double), channels_last (0 or 1)
 *   unit    one group of one sample, with channels_last as many as make a cache line of each
 *           position; groups = C is instance norm
 *
 * Numerics: kernel/norm.h; with channels_last sums go over the positions of each channel first,
 * then over the channels of the group. */
#include "kernel/norm.h"

#include "isa/lane_math.h"

#define NORM_READ hg_lane_read
#define NORM_WRITE hg_lane_write
#define T float
#define NAME(stem) groupnorm_f32_##stem
#define SQRT hg_sqrt_f32
#include "kernel/groupnorm_run.inc"
#undef T
#undef NAME
#undef SQRT
#define T double
#define NAME(stem) groupnorm_f64_##stem
#define SQRT hg_sqrt_f64
#include "kernel/groupnorm_run.inc"

enum {
    GROUPNORM_ARRAYS = 5, /* scale, bias, mean, inverse, row */
    GROUPNORM_LINE = 16   /* channels that two threads would both fetch */
};

/* Groups of a unit. Few channels are shared by two threads nevertheless. */
static int64_t groupnorm_together(const hg_args *a)
{
    const int64_t channels = a->in[0].dim[a->in[0].rank - 1], groups = a->param[0];
    if (a->param[2] == 0) return 1;
    const int64_t line = channels < 2 * GROUPNORM_LINE ? GROUPNORM_LINE / 2 : GROUPNORM_LINE;
    return hg_min(groups, hg_ceil_div(line * groups, hg_max(1, channels)));
}

hg_norm *hg_groupnorm_init(const hg_args *a, void *scratch, hg_lane_read_fn read)
{
    uint8_t *work;
    hg_norm *s = hg_norm_init(a, scratch, &work);
    s->groups = a->param[0];
    s->together = groupnorm_together(a);
    s->channels = s->x->dim[a->param[2] != 0 ? s->x->rank - 1 : 1];
    s->positions = hg_dims_product(s->x, 1, s->x->rank) / s->channels;
    s->n = s->channels / s->groups * s->positions;
    holo_tensor tail = {.rank = 1, .dim = {s->channels}};
    size_t array = hg_align_up((size_t)s->channels * sizeof(double), HG_ALIGN);
    s->scale = hg_norm_expand(a, 1, &tail, work, read);
    s->bias = hg_norm_expand(a, 2, &tail, work + array, read);
    s->mean = work + 2 * array;
    s->inverse = work + 3 * array;
    s->row = work + 4 * array;
    s->work = work + GROUPNORM_ARRAYS * array;
    return s;
}

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
    return a->in[0].dim[0] * hg_ceil_div(a->param[0], groupnorm_together(a));
}

/* After the state: values for each channel, and lanes and a step for a block of columns. */
size_t hg_kernel_groupnorm_scratch(const hg_args *a)
{
    const holo_tensor *x = &a->in[0];
    size_t channels = (size_t)x->dim[a->param[2] != 0 ? x->rank - 1 : 1];
    return hg_align_up(sizeof(hg_norm), HG_ALIGN) +
           GROUPNORM_ARRAYS * hg_align_up(channels * sizeof(double), HG_ALIGN) +
           (size_t)(HG_NORM_LANES + 1) * HG_NORM_COLS * sizeof(double);
}

void hg_kernel_groupnorm_run(const hg_args *a, hg_range r)
{
    (hg_dtype_is(a->in[0].dtype, HOLO_F64) ? groupnorm_f64_run : groupnorm_f32_run)(a, r);
}

const hg_kernel hg_kernels_groupnorm[] = {
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
