/* conv_i8.c - conv.i8: the exact convolution of 8-bit tensors with zero points, any spatial rank.
 *
 *   in[0]  X [N, C, spatial...] u8 or i8
 *   in[1]  W [O, C/G, kernel...] u8 or i8
 *   in[2]  zero point of X, one element; may be absent: 0
 *   in[3]  zero points of W, one or O elements; may be absent: 0
 *   param  n_spatial, groups, strides..., pads_begin..., dilations...
 *   out[0] Y [N, O, spatial...] i32 = sum of (X - x0)(W - w0), modulo 2^32; padding adds nothing */
#include "kernel/conv.h"

#define CONV_I8_TYPES (HG_TYPE_BIT(HOLO_U8) | HG_TYPE_BIT(HOLO_I8))

enum { CONV_I8_LIMIT = INT32_MAX, CONV_I8_MAX_SPATIAL = HG_MAX_RANK - 2 };

static int32_t conv_i8_load(const holo_tensor *t, int64_t i)
{
    return t->dtype == HOLO_U8 ? ((const uint8_t *)t->data)[i] : ((const int8_t *)t->data)[i];
}

static holo_status conv_i8_check_zero(const hg_args *a, holo_error *e, uint32_t i, int64_t most)
{
    if (!hg_args_has(a, 2 + i)) return HOLO_OK;
    HG_TRY(hg_check_in_type(a, e, 2 + i, CONV_I8_TYPES));
    HG_TRY(hg_check_same_type(&a->in[2 + i], &a->in[i], e, "zero point"));
    const int64_t count = holo_tensor_count(&a->in[2 + i]);
    HG_REQUIRE(e, count == 1 || count == most, HOLO_E_SHAPE, "%lld zero points, expected 1 or %lld",
               (long long)count, (long long)most);
    return HOLO_OK;
}

static holo_status conv_i8_check_axes(const hg_args *a, holo_error *e, uint32_t rank)
{
    for (uint32_t d = 0; d < rank; d++) {
        const uint32_t at = 2 + d;
        const int64_t out = a->out[0].dim[2 + d], kernel = a->in[1].dim[2 + d];
        HG_TRY(hg_check_param(a, e, at, "stride", 1, CONV_I8_LIMIT));
        HG_TRY(hg_check_param(a, e, at + rank, "padding", -CONV_I8_LIMIT, CONV_I8_LIMIT));
        HG_TRY(hg_check_param(a, e, at + 2 * rank, "dilation", 1, CONV_I8_LIMIT));
        HG_REQUIRE(e, out <= INT64_MAX / 2 / a->param[at] && kernel <= CONV_I8_LIMIT, HOLO_E_SHAPE,
                   "an output of %lld with stride %lld and a kernel of %lld is too large",
                   (long long)out, (long long)a->param[at], (long long)kernel);
    }
    return HOLO_OK;
}

static holo_status conv_i8_check(const hg_args *a, holo_error *e)
{
    HG_TRY(hg_check_param(a, e, 0, "number of spatial axes", 1, CONV_I8_MAX_SPATIAL));
    const int rank = (int)a->param[0];
    HG_TRY(hg_check_counts(a, e, 2, 4, 1, 2 + 3 * rank));
    HG_TRY(hg_check_param(a, e, 1, "groups", 1, CONV_I8_LIMIT));
    HG_TRY(hg_check_in_type(a, e, 0, CONV_I8_TYPES));
    HG_TRY(hg_check_in_type(a, e, 1, CONV_I8_TYPES));
    HG_TRY(hg_check_out_type(a, e, 0, HG_TYPE_BIT(HOLO_I32)));
    const holo_tensor *x = &a->in[0], *w = &a->in[1], *y = &a->out[0];
    HG_TRY(hg_check_rank(x, e, "input", rank + 2, rank + 2));
    HG_TRY(hg_check_rank(w, e, "kernel", rank + 2, rank + 2));
    HG_TRY(hg_check_rank(y, e, "output", rank + 2, rank + 2));
    const int64_t groups = a->param[1];
    HG_REQUIRE(e, y->dim[1] % groups == 0 && w->dim[0] == y->dim[1], HOLO_E_SHAPE,
               "%lld output channels in %lld groups, the kernel has %lld", (long long)y->dim[1],
               (long long)groups, (long long)w->dim[0]);
    HG_REQUIRE(e, x->dim[1] % groups == 0 && w->dim[1] == x->dim[1] / groups, HOLO_E_SHAPE,
               "%lld input channels in %lld groups, the kernel has %lld", (long long)x->dim[1],
               (long long)groups, (long long)w->dim[1]);
    HG_REQUIRE(e, x->dim[0] == y->dim[0], HOLO_E_SHAPE, "output has %lld images, expected %lld",
               (long long)y->dim[0], (long long)x->dim[0]);
    HG_TRY(conv_i8_check_axes(a, e, (uint32_t)rank));
    HG_TRY(conv_i8_check_zero(a, e, 0, 1));
    return conv_i8_check_zero(a, e, 1, y->dim[1]);
}

static int64_t conv_i8_units(const hg_args *a)
{
    return holo_tensor_count(&a->out[0]) == 0 ? 0
                                              : hg_dims_product(&a->out[0], 0, a->out[0].rank - 1);
}

static void conv_i8_cost(const hg_args *a, hg_cost *cost)
{
    cost->flops = 2.0 * (double)holo_tensor_count(&a->out[0]) *
                  (double)hg_dims_product(&a->in[1], 1, a->in[1].rank);
}

/* One tap of one channel: sum[i] += weight * (x[i * stride] - zero). */
#define CONV_I8_LINE(T, suffix)                                                                    \
    static void conv_i8_line_##suffix(const T *x, int64_t stride, int32_t zero, int32_t weight,    \
                                      int32_t *sum, int64_t count)                                 \
    {                                                                                              \
        const uint32_t w = (uint32_t)weight;                                                       \
        for (int64_t i = 0; i < count; i++) {                                                      \
            const int32_t v = (int32_t)x[i * stride] - zero;                                       \
            sum[i] = (int32_t)((uint32_t)sum[i] + w * (uint32_t)v);                                \
        }                                                                                          \
    }
CONV_I8_LINE(uint8_t, u8)
CONV_I8_LINE(int8_t, i8)
#undef CONV_I8_LINE

static void conv_i8_line(const holo_tensor *x, int64_t at, int64_t stride, int32_t zero,
                         int32_t weight, int32_t *sum, int64_t count)
{
    if (x->dtype == HOLO_U8)
        conv_i8_line_u8((const uint8_t *)x->data + at, stride, zero, weight, sum, count);
    else
        conv_i8_line_i8((const int8_t *)x->data + at, stride, zero, weight, sum, count);
}

/* Adds tap number `tap` of channel plane x_at to output row `row`. */
static void conv_i8_tap(const hg_args *a, int64_t row, int64_t tap, int64_t x_at, int32_t zero,
                        int32_t weight, int32_t *sum)
{
    const holo_tensor *x = &a->in[0], *w = &a->in[1], *y = &a->out[0];
    const int rank = (int)a->param[0], last = rank - 1;
    const int64_t *stride = a->param + 2, *pad = stride + rank, *dilation = pad + rank;
    const int64_t shift = tap % w->dim[2 + last] * dilation[last];
    int64_t plane = x->dim[2 + last], begin, end;
    tap /= w->dim[2 + last];
    for (int d = last - 1; d >= 0; d--) {
        const int64_t i =
            row % y->dim[2 + d] * stride[d] + tap % w->dim[2 + d] * dilation[d] - pad[d];
        if (i < 0 || i >= x->dim[2 + d]) return;
        x_at += i * plane;
        plane *= x->dim[2 + d];
        row /= y->dim[2 + d];
        tap /= w->dim[2 + d];
    }
    hg_conv_inside(x->dim[2 + last], y->dim[2 + last], stride[last], pad[last], shift, &begin,
                   &end);
    conv_i8_line(x, x_at + begin * stride[last] + shift - pad[last], stride[last], zero, weight,
                 sum + begin, end - begin);
}

static void conv_i8_row(const hg_args *a, int64_t u)
{
    const holo_tensor *x = &a->in[0], *w = &a->in[1], *y = &a->out[0];
    const int rank = (int)a->param[0];
    const int64_t width = y->dim[rank + 1], rows = hg_dims_product(y, 2, rank + 1);
    const int64_t o = u / rows % y->dim[1], image = u / rows / y->dim[1];
    const int64_t channels = w->dim[1], group = o / (y->dim[1] / a->param[1]);
    const int64_t plane = hg_dims_product(x, 2, rank + 2);
    const int64_t taps = channels == 0 ? 0 : hg_dims_product(w, 2, rank + 2);
    const int32_t x_zero = hg_args_has(a, 2) ? conv_i8_load(&a->in[2], 0) : 0;
    const bool each = hg_args_has(a, 3) && holo_tensor_count(&a->in[3]) != 1;
    const int32_t w_zero = hg_args_has(a, 3) ? conv_i8_load(&a->in[3], each ? o : 0) : 0;
    int32_t *sum = (int32_t *)y->data + u * width;
    memset(sum, 0, (size_t)width * sizeof *sum);
    for (int64_t c = 0; c < channels; c++)
        for (int64_t tap = 0; tap < taps; tap++) {
            const int32_t weight = conv_i8_load(w, (o * channels + c) * taps + tap) - w_zero;
            conv_i8_tap(a, u % rows, tap, (image * x->dim[1] + group * channels + c) * plane,
                        x_zero, weight, sum);
        }
}

static void conv_i8_run(const hg_args *a, hg_range r)
{
    for (int64_t u = r.begin; u < r.end; u++)
        conv_i8_row(a, u);
}

const hg_kernel hg_kernels_conv_i8[] = {
    {.name = "conv.i8",
     .check = conv_i8_check,
     .units = conv_i8_units,
     .cost = conv_i8_cost,
     .run = conv_i8_run},
    {0},
};
