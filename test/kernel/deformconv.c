/* deformconv.c - deformconv against its definition. */
#include "kernel/value.h"

extern const hg_kernel hg_kernels_deformconv[];

typedef struct deform_case {
    int rank;
    bool bias, mask;
    int64_t n, c, o, groups, offsets, in[3], kernel[3], stride[3], pad[3], dilation[3], out[3];
} deform_case;

static const deform_case deform_cases[] = {
    {2, true, true, 2, 4, 6, 2, 2, {5, 4}, {2, 3}, {1, 2}, {1, 1}, {2, 1}, {5, 2}},
    {2, false, false, 1, 2, 1, 1, 1, {3, 3}, {2, 2}, {1, 1}, {0, 0}, {1, 1}, {2, 2}},
    {1, true, false, 2, 3, 2, 1, 3, {7}, {3}, {2}, {1}, {1}, {4}},
    {3,
     false,
     true,
     1,
     2,
     2,
     1,
     2,
     {3, 3, 4},
     {2, 1, 2},
     {1, 1, 1},
     {0, 0, 0},
     {1, 1, 1},
     {2, 3, 3}},
    {1, false, false, 1, 0, 2, 1, 1, {4}, {2}, {1}, {0}, {1}, {3}},
};

static void deform_dims(int64_t *dim, int64_t first, int64_t second, const int64_t *rest, int rank)
{
    dim[0] = first;
    dim[1] = second;
    for (int d = 0; d < rank; d++)
        dim[2 + d] = rest[d];
}

static int64_t deform_taps(const deform_case *p)
{
    int64_t taps = 1;
    for (int d = 0; d < p->rank; d++)
        taps *= p->kernel[d];
    return taps;
}

static void deform_make(move_call *c, const deform_case *p, holo_dtype dtype)
{
    int64_t dim[5];
    const int64_t planes = p->offsets * deform_taps(p);
    deform_dims(dim, p->n, p->c, p->in, p->rank);
    value_in(c, dtype, p->rank + 2, dim, 1);
    deform_dims(dim, p->o, p->c / p->groups, p->kernel, p->rank);
    value_in(c, dtype, p->rank + 2, dim, 2);
    deform_dims(dim, p->n, planes * p->rank, p->out, p->rank);
    value_in(c, dtype, p->rank + 2, dim, 3);
    if (p->bias)
        value_in(c, dtype, 1, &p->o, 4);
    else
        value_absent(c);
    deform_dims(dim, p->n, planes, p->out, p->rank);
    if (p->mask)
        value_in(c, dtype, p->rank + 2, dim, 5);
    else
        value_absent(c);
    deform_dims(dim, p->n, p->o, p->out, p->rank);
    move_out(c, dtype, p->rank + 2, dim);
    value_params(c, MOVE_DIMS(p->rank, p->groups, p->offsets), 3);
    value_params(c, p->stride, p->rank);
    value_params(c, p->pad, p->rank);
    value_params(c, p->dilation, p->rank);
}

/* Hat functions over the whole plane. */
static double deform_sample(const deform_case *p, const holo_tensor *x, int64_t first,
                            const double *place)
{
    int64_t plane = 1;
    double sum = 0;
    for (int d = 0; d < p->rank; d++)
        plane *= p->in[d];
    for (int64_t i = 0; i < plane; i++) {
        double weight = 1;
        for (int64_t d = p->rank - 1, rest = i; d >= 0; rest /= p->in[d], d--)
            weight *= fmax(0, 1 - fabs(place[d] - (double)(rest % p->in[d])));
        sum += weight * value_get(x, first + i);
    }
    return sum;
}

static double deform_oracle(const deform_case *p, const move_call *c, const int64_t *at)
{
    const int64_t taps = deform_taps(p), channels = p->c / p->groups;
    const int64_t group = at[1] / (p->o / p->groups);
    int64_t in_plane = 1, out_plane = 1, flat = 0;
    double sum = p->bias ? value_get(&c->in[3], at[1]) : 0;
    for (int d = 0; d < p->rank; d++) {
        in_plane *= p->in[d];
        out_plane *= p->out[d];
        flat = flat * p->out[d] + at[2 + d];
    }
    for (int64_t k = 0; k < channels * taps; k++) {
        const int64_t ch = group * channels + k / taps, tap = k % taps;
        const int64_t number = (at[0] * p->offsets + ch / (p->c / p->offsets)) * taps + tap;
        double place[3];
        for (int64_t d = p->rank - 1, rest = tap; d >= 0; rest /= p->kernel[d], d--)
            place[d] = (double)(at[2 + d] * p->stride[d] - p->pad[d] +
                                rest % p->kernel[d] * p->dilation[d]) +
                       value_get(&c->in[2], (number * p->rank + d) * out_plane + flat);
        double v = deform_sample(p, &c->in[0], (at[0] * p->c + ch) * in_plane, place);
        if (p->mask) v *= value_get(&c->in[4], number * out_plane + flat);
        sum += v * value_get(&c->in[1], at[1] * channels * taps + k);
    }
    return sum;
}

static void deform_values(void)
{
    static const holo_dtype types[] = {HOLO_F32, HOLO_F64, HOLO_F16, HOLO_BF16};
    for (size_t k = 0; k < HG_COUNT(deform_cases) * HG_COUNT(types); k++) {
        const deform_case *p = &deform_cases[k / HG_COUNT(types)];
        move_call c = {0};
        deform_make(&c, p, types[k % HG_COUNT(types)]);
        if (move_run(hg_kernels_deformconv, &c))
            for (int64_t i = 0; i < holo_tensor_count(&c.out[0]); i++) {
                int64_t at[5];
                move_coordinates(&c.out[0], i, at);
                if (!value_near(&c.out[0], i, deform_oracle(p, &c, at))) break;
            }
        move_free(&c);
    }
}

/* Offsets are data: whatever they hold, nothing outside is read. */
static void deform_wild_offsets(void)
{
    static const double wild[] = {NAN, INFINITY, -INFINITY, 1e300, -1e300, 1e18};
    move_call c = {0};
    deform_make(&c, &deform_cases[0], HOLO_F64);
    for (int64_t i = 0; i < holo_tensor_count(&c.in[2]); i++)
        value_set(&c.in[2], i, wild[i % 6]);
    for (int64_t i = 0; i < holo_tensor_count(&c.in[4]); i++)
        value_set(&c.in[4], i, 1.0);
    if (move_run(hg_kernels_deformconv, &c))
        for (int64_t i = 0; i < 10; i++)
            value_near(&c.out[0], i, value_get(&c.in[3], 0));
    move_free(&c);
}

static void deform_make_good(move_call *c)
{
    deform_make(c, &deform_cases[0], HOLO_F32);
}

static void deform_refuses(void)
{
    static const move_bad bad[] = {
        {MOVE_N_IN, 0, 0, 2, "2 inputs"},
        {MOVE_N_PARAM, 0, 0, 8, "8 parameters"},
        {MOVE_PARAM, 0, 0, 0, "number of spatial axes is 0"},
        {MOVE_PARAM, 1, 0, 0, "groups is 0"},
        {MOVE_PARAM, 1, 0, 4, "6 output channels in 4 groups"},
        {MOVE_PARAM, 2, 0, 0, "offset groups is 0"},
        {MOVE_PARAM, 2, 0, 3, "3 offset groups do not divide 4"},
        {MOVE_PARAM, 3, 0, 0, "stride is 0"},
        {MOVE_PARAM, 5, 0, INT64_C(1) << 40, "padding is"},
        {MOVE_PARAM, 8, 0, 0, "dilation is 0"},
        {MOVE_IN_TYPE, 0, 0, HOLO_I32, "input 0 has type int32"},
        {MOVE_IN_TYPE, 2, 0, HOLO_F64, "input has type float64"},
        {MOVE_IN_TYPE, 3, 0, HOLO_I32, "input 3 has type int32"},
        {MOVE_IN_TYPE, 3, 0, HOLO_F64, "bias has type float64"},
        {MOVE_IN_TYPE, 4, 0, HOLO_I32, "input 4 has type int32"},
        {MOVE_IN_TYPE, 4, 0, HOLO_F64, "mask has type float64"},
        {MOVE_OUT_TYPE, 0, 0, HOLO_I32, "output 0 has type int32"},
        {MOVE_IN_RANK, 0, 0, 3, "input has rank 3"},
        {MOVE_IN_RANK, 1, 0, 3, "kernel has rank 3"},
        {MOVE_OUT_RANK, 0, 0, 3, "output has rank 3"},
        {MOVE_IN_RANK, 2, 0, 3, "offset has rank 3"},
        {MOVE_IN_DIM, 1, 0, 7, "the kernel has 7"},
        {MOVE_IN_DIM, 1, 1, 3, "4 input channels in 2 groups, the kernel has 3"},
        {MOVE_OUT_DIM, 0, 0, 3, "output has 3 images"},
        {MOVE_IN_DIM, 2, 1, 23, "offset has 2 x 23 planes, expected 2 x 24"},
        {MOVE_IN_DIM, 2, 3, 3, "dimension 3 of offset is 3"},
        {MOVE_IN_DIM, 3, 0, 5, "bias does not have one element for each of 6"},
        {MOVE_IN_DIM, 4, 0, 1, "mask has 1 x 12 planes"},
    };
    MOVE_REFUSES(hg_kernels_deformconv, deform_make_good, bad);
    move_call c = {0}; /* without channels the kernel may be as large as it likes */
    holo_error e = {0};
    deform_make(&c, &deform_cases[4], HOLO_F32);
    move_connect(&c);
    c.in[1].dim[2] = INT64_C(1) << 40;
    c.param[2] = INT32_MAX;
    CHECK_STATUS(hg_kernels_deformconv->check(&c.args, &e), HOLO_E_SHAPE);
    CHECK_HAS(e.message, "is too large");
    move_free(&c);
}

const hg_test_case hg_tests_kernel_deformconv[] = {
    {"values", deform_values},
    {"wild_offsets", deform_wild_offsets},
    {"refuses", deform_refuses},
    {0},
};
