/* rotary.c - rotary: each half of a row turned by an angle of its own, as positions are written
 * into queries and keys.
 *
 *   in[0]   x [.., d], d even
 *   in[1]   cosines, in[2] sines: broadcast to x, d of them in a row
 *   out[0]  x * cos + (-second half of x, first half of x) * sin
 *   unit    one row
 *
 * Every product and the sum round on their own, as the operators it stands for do. */
#include "kernel/rotary.h"

#include "kernel/elem.h"

holo_status hg_rotary_check(const hg_args *a, holo_error *e)
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

int64_t hg_rotary_units(const hg_args *a)
{
    return hg_dims_product(&a->in[0], 0, a->in[0].rank - 1);
}

void hg_rotary_run(const hg_args *a, hg_range r, hg_rotary_row_fn turn)
{
    const holo_tensor *x = &a->in[0];
    const int64_t d = x->dim[x->rank - 1];
    int64_t at[HG_MAX_RANK], cos_stride[HG_MAX_RANK], sin_stride[HG_MAX_RANK];
    if (d == 0 || r.begin >= r.end) return;
    hg_broadcast_strides(&a->in[1], x, cos_stride);
    hg_broadcast_strides(&a->in[2], x, sin_stride);
    const float *c = a->in[1].data, *s = a->in[2].data;
    c += hg_elem_broadcast(x, cos_stride, r.begin * d);
    s += hg_elem_broadcast(x, sin_stride, r.begin * d);
    for (int64_t k = x->rank - 2, rest = r.begin; k >= 0; rest /= x->dim[k--])
        at[k] = rest % x->dim[k];
    for (int64_t row = r.begin; row < r.end; row++) {
        turn((const float *)x->data + row * d, c, s, d / 2, (float *)a->out[0].data + row * d);
        for (int k = x->rank - 2; k >= 0; k--) { /* counted, which takes no division */
            c += cos_stride[k];
            s += sin_stride[k];
            if (++at[k] < x->dim[k]) break;
            c -= at[k] * cos_stride[k];
            s -= at[k] * sin_stride[k];
            at[k] = 0;
        }
    }
}

void hg_rotary_row(const float *x, const float *c, const float *s, int64_t half, float *to)
{
    for (int64_t i = 0; i < half; i++)
        to[i] = x[i] * c[i] + -x[half + i] * s[i];
    for (int64_t i = half; i < 2 * half; i++)
        to[i] = x[i] * c[i] + x[i - half] * s[i];
}

static void rotary_run(const hg_args *a, hg_range r)
{
    hg_rotary_run(a, r, hg_rotary_row);
}

const hg_kernel hg_kernels_rotary[] = {
    {.name = "rotary", .check = hg_rotary_check, .units = hg_rotary_units, .run = rotary_run},
    {0},
};
