/* deformconv.c - deformconv: convolution whose taps are moved by offsets, any number of spatial
 * axes.
 *
 *   in[0]  X [N, C, spatial...]
 *   in[1]  W [O, C/G, kernel...]
 *   in[2]  offset [N, offset_groups * taps * n_spatial, out...]
 *   in[3]  bias [O], may be absent
 *   in[4]  mask [N, offset_groups * taps, out...], may be absent: 1
 *   param  n_spatial, groups, offset_groups, strides..., pads_begin..., dilations...
 *   out[0] Y [N, O, out...]
 *
 * f32, f64, f16, bf16, all of one type; computed in f64. A moved tap is interpolated linearly
 * between its neighbours, those outside the input (or at no place: NaN) are 0. */
#include "isa/lane_math.h"
#include "kernel/number.h"

enum { DEFORM_LIMIT = INT32_MAX, DEFORM_MAX_SPATIAL = HG_MAX_RANK - 2, DEFORM_LISTS = 3 };

static holo_status deform_check_dims(const holo_tensor *t, holo_error *e, const char *what,
                                     int64_t n, int64_t c, const holo_tensor *out)
{
    HG_TRY(hg_check_rank(t, e, what, out->rank, out->rank));
    HG_REQUIRE(e, t->dim[0] == n && t->dim[1] == c, HOLO_E_SHAPE,
               "%s has %lld x %lld planes, expected %lld x %lld", what, (long long)t->dim[0],
               (long long)t->dim[1], (long long)n, (long long)c);
    for (int d = 2; d < out->rank; d++)
        HG_REQUIRE(e, t->dim[d] == out->dim[d], HOLO_E_SHAPE,
                   "dimension %d of %s is %lld, expected %lld", d, what, (long long)t->dim[d],
                   (long long)out->dim[d]);
    return HOLO_OK;
}

static holo_status deform_check_channels(const hg_args *a, holo_error *e)
{
    const holo_tensor *x = &a->in[0], *w = &a->in[1], *y = &a->out[0];
    const int64_t groups = a->param[1], offsets = a->param[2];
    HG_REQUIRE(e, y->dim[1] % groups == 0 && w->dim[0] == y->dim[1], HOLO_E_SHAPE,
               "%lld output channels in %lld groups, the kernel has %lld", (long long)y->dim[1],
               (long long)groups, (long long)w->dim[0]);
    HG_REQUIRE(e, x->dim[1] % groups == 0 && w->dim[1] == x->dim[1] / groups, HOLO_E_SHAPE,
               "%lld input channels in %lld groups, the kernel has %lld", (long long)x->dim[1],
               (long long)groups, (long long)w->dim[1]);
    HG_REQUIRE(e, x->dim[1] % offsets == 0, HOLO_E_SHAPE,
               "%lld offset groups do not divide %lld input channels", (long long)offsets,
               (long long)x->dim[1]);
    HG_REQUIRE(e, x->dim[0] == y->dim[0], HOLO_E_SHAPE, "output has %lld images, expected %lld",
               (long long)y->dim[0], (long long)x->dim[0]);
    return HOLO_OK;
}

static holo_status deform_check_operands(const hg_args *a, holo_error *e, int rank)
{
    const holo_tensor *w = &a->in[1], *y = &a->out[0];
    int64_t planes = a->param[2];
    for (int d = 0; d < rank; d++)
        HG_REQUIRE(
            e, hg_mul_i64(planes, w->dim[2 + d], &planes) && planes < INT64_MAX / HG_MAX_RANK,
            HOLO_E_SHAPE, "a kernel with %lld offset groups is too large", (long long)a->param[2]);
    HG_TRY(deform_check_dims(&a->in[2], e, "offset", y->dim[0], planes * rank, y));
    if (hg_args_has(a, 3)) {
        HG_TRY(hg_check_in_type(a, e, 3, HG_TYPES_FLOAT));
        HG_TRY(hg_check_same_type(&a->in[3], y, e, "bias"));
        HG_REQUIRE(e, a->in[3].rank == 1 && a->in[3].dim[0] == y->dim[1], HOLO_E_SHAPE,
                   "bias does not have one element for each of %lld channels",
                   (long long)y->dim[1]);
    }
    if (!hg_args_has(a, 4)) return HOLO_OK;
    HG_TRY(hg_check_in_type(a, e, 4, HG_TYPES_FLOAT));
    HG_TRY(hg_check_same_type(&a->in[4], y, e, "mask"));
    return deform_check_dims(&a->in[4], e, "mask", y->dim[0], planes, y);
}

static holo_status deform_check(const hg_args *a, holo_error *e)
{
    HG_TRY(hg_check_param(a, e, 0, "number of spatial axes", 1, DEFORM_MAX_SPATIAL));
    const int rank = (int)a->param[0];
    HG_TRY(hg_check_counts(a, e, 3, 5, 1, DEFORM_LISTS + 3 * rank));
    HG_TRY(hg_check_param(a, e, 1, "groups", 1, DEFORM_LIMIT));
    HG_TRY(hg_check_param(a, e, 2, "offset groups", 1, DEFORM_LIMIT));
    HG_TRY(hg_check_out_type(a, e, 0, HG_TYPES_FLOAT));
    for (uint32_t i = 0; i < 3; i++) {
        HG_TRY(hg_check_in_type(a, e, i, HG_TYPES_FLOAT));
        HG_TRY(hg_check_same_type(&a->in[i], &a->out[0], e, "input"));
    }
    HG_TRY(hg_check_rank(&a->in[0], e, "input", rank + 2, rank + 2));
    HG_TRY(hg_check_rank(&a->in[1], e, "kernel", rank + 2, rank + 2));
    HG_TRY(hg_check_rank(&a->out[0], e, "output", rank + 2, rank + 2));
    for (uint32_t d = 0; d < (uint32_t)rank; d++) {
        const uint32_t at = DEFORM_LISTS + d, step = (uint32_t)rank;
        HG_TRY(hg_check_param(a, e, at, "stride", 1, DEFORM_LIMIT));
        HG_TRY(hg_check_param(a, e, at + step, "padding", -DEFORM_LIMIT, DEFORM_LIMIT));
        HG_TRY(hg_check_param(a, e, at + 2 * step, "dilation", 1, DEFORM_LIMIT));
    }
    HG_TRY(deform_check_channels(a, e));
    return deform_check_operands(a, e, rank);
}

/* A place in the output, of all channels: they share the moved taps. */
static int64_t deform_units(const hg_args *a)
{
    const holo_tensor *y = &a->out[0];
    return holo_tensor_count(y) == 0 ? 0 : y->dim[0] * hg_dims_product(y, 2, y->rank);
}

static int64_t deform_taps(const hg_args *a)
{
    const holo_tensor *w = &a->in[1];
    return a->in[0].dim[1] == 0 ? 0 : hg_dims_product(w, 2, w->rank);
}

static size_t deform_scratch(const hg_args *a)
{
    /* With outputs to compute this is at most the size of W. */
    return deform_units(a) == 0 ? 0 : (size_t)(a->in[0].dim[1] * deform_taps(a)) * sizeof(double);
}

static void deform_cost(const hg_args *a, hg_cost *cost)
{
    cost->flops = 10.0 * (double)holo_tensor_count(&a->out[0]) *
                  (double)hg_dims_product(&a->in[1], 1, a->in[1].rank);
}

/* The plane that begins at element `at`, interpolated at `place`. */
static double deform_sample(const holo_tensor *x, int64_t at, const double *place)
{
    const int rank = x->rank - 2;
    int64_t low[DEFORM_MAX_SPATIAL];
    for (int d = 0; d < rank; d++) {
        if (!(place[d] > -1.0 && place[d] < (double)x->dim[2 + d])) return 0.0;
        low[d] = (int64_t)hg_floor_f64(place[d]);
    }
    double sum = 0.0;
    for (int corner = 0; corner < 1 << rank; corner++) {
        double weight = 1.0;
        int64_t index = 0;
        for (int d = 0; d < rank && weight != 0.0; d++) {
            const int64_t i = low[d] + (corner >> d & 1), size = x->dim[2 + d];
            const double rest = place[d] - (double)low[d];
            weight *= i < 0 || i >= size ? 0.0 : (corner >> d & 1) != 0 ? rest : 1.0 - rest;
            index = index * size + i;
        }
        if (weight != 0.0) sum += weight * hg_number_load(x, at + index);
    }
    return sum;
}

/* Everything about one output that its channels share. */
typedef struct deform_spot {
    int64_t image, flat;             /* flat: number of the output in its plane */
    int64_t out[DEFORM_MAX_SPATIAL]; /* its coordinates */
    int64_t out_plane, in_plane, taps;
} deform_spot;

/* Channel c of X under tap number `tap`, moved and masked. */
static double deform_tap(const hg_args *a, const deform_spot *s, int64_t c, int64_t tap)
{
    const holo_tensor *x = &a->in[0], *w = &a->in[1];
    const int rank = (int)a->param[0];
    const int64_t *stride = a->param + DEFORM_LISTS, *pad = stride + rank, *dilation = pad + rank;
    const int64_t group = c / (x->dim[1] / a->param[2]);
    const int64_t number =
        (s->image * a->param[2] + group) * s->taps + tap; /* of the tap in offset, mask */
    double place[DEFORM_MAX_SPATIAL] = {0};
    for (int64_t d = rank - 1, rest = tap; d >= 0; d--) {
        const double move = hg_number_load(&a->in[2], (number * rank + d) * s->out_plane + s->flat);
        const double base = (double)s->out[d] * (double)stride[d] - (double)pad[d];
        place[d] = base + (double)(rest % w->dim[2 + d]) * (double)dilation[d] + move;
        rest /= w->dim[2 + d];
    }
    const double v = deform_sample(x, (s->image * x->dim[1] + c) * s->in_plane, place);
    return hg_args_has(a, 4) ? v * hg_number_load(&a->in[4], number * s->out_plane + s->flat) : v;
}

/* Output channel o from the moved taps of all input channels. */
static double deform_output(const hg_args *a, const double *moved, int64_t taps, int64_t o)
{
    const holo_tensor *w = &a->in[1];
    const int64_t count = w->dim[1] * taps, group = o / (w->dim[0] / a->param[1]);
    double sum = hg_args_has(a, 3) ? hg_number_load(&a->in[3], o) : 0.0;
    for (int64_t k = 0; k < count; k++)
        sum += hg_number_load(w, o * count + k) * moved[group * count + k];
    return sum;
}

static void deform_run(const hg_args *a, hg_range r)
{
    const holo_tensor *y = &a->out[0];
    const int rank = (int)a->param[0];
    const int64_t channels = a->in[0].dim[1], outputs = y->dim[1];
    double *moved = r.scratch;
    deform_spot s = {.out_plane = hg_dims_product(y, 2, rank + 2),
                     .in_plane = hg_dims_product(&a->in[0], 2, rank + 2),
                     .taps = deform_taps(a)};
    for (int64_t u = r.begin; u < r.end; u++) {
        s.flat = u % s.out_plane;
        s.image = u / s.out_plane;
        for (int64_t d = rank - 1, rest = s.flat; d >= 0; d--) {
            s.out[d] = rest % y->dim[2 + d];
            rest /= y->dim[2 + d];
        }
        for (int64_t k = 0; k < channels * s.taps; k++)
            moved[k] = deform_tap(a, &s, k / s.taps, k % s.taps);
        for (int64_t o = 0; o < outputs; o++)
            hg_number_store(y, (s.image * outputs + o) * s.out_plane + s.flat,
                            deform_output(a, moved, s.taps, o));
    }
}

const hg_kernel hg_kernels_deformconv[] = {
    {.name = "deformconv",
     .check = deform_check,
     .units = deform_units,
     .scratch = deform_scratch,
     .cost = deform_cost,
     .run = deform_run},
    {0},
};
