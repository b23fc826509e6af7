/* rotary.c - rotary: each half of a row turned by an angle of its own, as positions are written
 * into queries and keys.
 *
 *   in[0]   x [.., d], d even
 *   in[1]   cosines, in[2] sines: broadcast to x, d of them in a row
 *   out[0]  x * cos + (-second half of x, first half of x) * sin
 *   unit    one row
 *
 * Every product and the sum round on their own, as the operators it stands for do. */
#include "kernel/elem.h"

static holo_status rotary_check(const hg_args *a, holo_error *e)
{
    HG_TRY(hg_check_counts(a, e, 3, 3, 1, 0));
    for (uint32_t i = 0; i < 3; i++)
        HG_TRY(hg_check_in_type(a, e, i, HG_TYPE_BIT(HOLO_F32)));
    HG_TRY(hg_check_out_type(a, e, 0, HG_TYPE_BIT(HOLO_F32)));
    const holo_tensor *x = &a->in[0];
    HG_TRY(hg_check_rank(x, e, "input 0", 1, HG_MAX_RANK));
    HG_TRY(hg_check_same_shape(&a->out[0], x, e, "output"));
    const int64_t d = x->dim[x->rank - 1];
    HG_REQUIRE(e, d % 2 == 0, HOLO_E_SHAPE, "rows have %lld elements, expected an even number",
               (long long)d);
    for (uint32_t i = 1; i < 3; i++) {
        const holo_tensor *angle = &a->in[i];
        HG_TRY(hg_check_rank(angle, e, "an angle", 1, x->rank));
        HG_TRY(hg_check_broadcast(angle, x, e, "an angle"));
        HG_REQUIRE(e, angle->dim[angle->rank - 1] == d, HOLO_E_SHAPE,
                   "input %u has %lld elements in a row, expected %lld", i,
                   (long long)angle->dim[angle->rank - 1], (long long)d);
    }
    return HOLO_OK;
}

static int64_t rotary_units(const hg_args *a)
{
    return hg_dims_product(&a->in[0], 0, a->in[0].rank - 1);
}

static void rotary_run(const hg_args *a, hg_range r)
{
    const holo_tensor *x = &a->in[0];
    const int64_t d = x->dim[x->rank - 1], half = d / 2;
    int64_t cos_stride[HG_MAX_RANK], sin_stride[HG_MAX_RANK];
    hg_broadcast_strides(&a->in[1], x, cos_stride);
    hg_broadcast_strides(&a->in[2], x, sin_stride);
    for (int64_t row = r.begin; row < r.end && d > 0; row++) {
        const float *from = (const float *)x->data + row * d;
        const float *c = (const float *)a->in[1].data + hg_elem_broadcast(x, cos_stride, row * d);
        const float *s = (const float *)a->in[2].data + hg_elem_broadcast(x, sin_stride, row * d);
        float *to = (float *)a->out[0].data + row * d;
        for (int64_t i = 0; i < half; i++)
            to[i] = from[i] * c[i] + -from[half + i] * s[i];
        for (int64_t i = half; i < d; i++)
            to[i] = from[i] * c[i] + from[i - half] * s[i];
    }
}

const hg_kernel hg_kernels_rotary[] = {
    {.name = "rotary", .check = rotary_check, .units = rotary_units, .run = rotary_run},
    {0},
};
