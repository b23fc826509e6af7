/* conv.c - conv and convtranspose: any number of spatial dimensions, channels first.
 *
 *   conv           in[0] X [N, C, spatial...], in[1] W [O, C/G, kernel...]
 *   convtranspose  in[0] X [N, C, spatial...], in[1] W [C, O/G, kernel...]
 *   both           in[2] bias [O], may be absent; in[3+] operands of the epilogue
 *                  param n_spatial, groups, strides..., pads_begin..., dilations...
 *                  out[0] Y [N, O, spatial...]; its sizes imply the padding at the end
 *
 * f32, f64, f16, bf16; the last two accumulate in f32 and round once. Exact profile: per output the
 * products are added in the order (kernel..., channel), multiply then add, then the bias; taps
 * outside the input are skipped. The same order as conv.nhwc, so the layout does not change the
 * answer. */
#include "kernel/conv.h"

#include "base/half.h"
#include "kernel/epilogue.h"

enum { CONV_FIRST_EXTRA = 3, CONV_MAX_SPATIAL = HG_MAX_RANK - 2, CONV_GEOMETRY_MAX = INT32_MAX };

/* ---- 2-D geometry shared with the channels-last kernels ---------------------------------- */

static holo_status conv_check_axis(const hg_args *a, holo_error *e, int64_t kernel, int64_t out,
                                   uint32_t stride, uint32_t pad, uint32_t dilation)
{
    HG_TRY(hg_check_param(a, e, stride, "stride", 1, CONV_GEOMETRY_MAX));
    HG_TRY(hg_check_param(a, e, pad, "padding", -CONV_GEOMETRY_MAX, CONV_GEOMETRY_MAX));
    HG_TRY(hg_check_param(a, e, dilation, "dilation", 1, CONV_GEOMETRY_MAX));
    /* out * stride + kernel * dilation + padding stays below 2^62 + 2^62 + 2^31 */
    HG_REQUIRE(e, out <= INT64_MAX / 2 / a->param[stride], HOLO_E_SHAPE,
               "an output of %lld with stride %lld is too large", (long long)out,
               (long long)a->param[stride]);
    HG_REQUIRE(e, kernel <= CONV_GEOMETRY_MAX, HOLO_E_SHAPE, "a kernel of %lld is too large",
               (long long)kernel);
    return HOLO_OK;
}

/* `axes` spatial axes. */
static holo_status conv_check_last(const hg_args *a, holo_error *e, hg_types types, int axes)
{
    static const char *const names[] = {"kernel depth", "kernel height", "kernel width"};
    const holo_tensor *x = &a->in[0], *out = &a->out[0];
    HG_TRY(hg_check_in_type(a, e, 0, types));
    HG_TRY(hg_check_out_type(a, e, 0, HG_EPILOGUE_TYPES));
    HG_TRY(hg_check_rank(x, e, "input", axes + 2, axes + 2));
    HG_TRY(hg_check_rank(out, e, "output", axes + 2, axes + 2));
    for (int i = 0; i < axes; i++) {
        const uint32_t at = (uint32_t)i, step = (uint32_t)axes;
        HG_TRY(hg_check_param(a, e, at, names[3 - axes + i], 1, CONV_GEOMETRY_MAX));
        HG_TRY(conv_check_axis(a, e, a->param[at], out->dim[1 + i], at + step, at + 2 * step,
                               at + 3 * step));
    }
    HG_REQUIRE(e, out->dim[0] == x->dim[0], HOLO_E_SHAPE, "output has %lld images, expected %lld",
               (long long)out->dim[0], (long long)x->dim[0]);
    return HOLO_OK;
}

holo_status hg_conv2d_check(const hg_args *a, holo_error *e, hg_types types)
{
    return conv_check_last(a, e, types, 2);
}

holo_status hg_conv_last_check(const hg_args *a, holo_error *e, hg_types types, uint32_t more)
{
    const uint32_t axes = a->in[0].rank == 5 ? 3 : 2;
    HG_REQUIRE(e, a->n_param == 4 * axes + more, HOLO_E_FORMAT,
               "%u parameters, expected %u for %u spatial axes", a->n_param, 4 * axes + more, axes);
    return conv_check_last(a, e, types, (int)axes);
}

/* ---- any rank, channels first ------------------------------------------------------------ */

static holo_status conv_check_channels(const hg_args *a, holo_error *e, bool transposed)
{
    const holo_tensor *x = &a->in[0], *w = &a->in[1], *out = &a->out[0];
    const int64_t groups = a->param[1];
    HG_REQUIRE(e, x->dim[1] % groups == 0, HOLO_E_SHAPE,
               "%lld groups do not divide %lld input channels", (long long)groups,
               (long long)x->dim[1]);
    HG_REQUIRE(e, out->dim[1] % groups == 0, HOLO_E_SHAPE,
               "%lld groups do not divide %lld output channels", (long long)groups,
               (long long)out->dim[1]);
    const int64_t first = transposed ? x->dim[1] : out->dim[1];
    const int64_t second = (transposed ? out->dim[1] : x->dim[1]) / groups;
    HG_REQUIRE(e, w->dim[0] == first, HOLO_E_SHAPE, "kernel dimension 0 is %lld, expected %lld",
               (long long)w->dim[0], (long long)first);
    HG_REQUIRE(e, w->dim[1] == second, HOLO_E_SHAPE, "kernel dimension 1 is %lld, expected %lld",
               (long long)w->dim[1], (long long)second);
    HG_REQUIRE(e, out->dim[0] == x->dim[0], HOLO_E_SHAPE, "output has %lld images, expected %lld",
               (long long)out->dim[0], (long long)x->dim[0]);
    if (!hg_args_has(a, 2)) return HOLO_OK;
    const holo_tensor *bias = &a->in[2];
    HG_TRY(hg_check_in_type(a, e, 2, HG_TYPES_FLOAT));
    HG_TRY(hg_check_same_type(bias, x, e, "bias"));
    HG_TRY(hg_check_rank(bias, e, "bias", 1, 1));
    HG_REQUIRE(e, bias->dim[0] == out->dim[1], HOLO_E_SHAPE,
               "bias has %lld elements, expected %lld", (long long)bias->dim[0],
               (long long)out->dim[1]);
    return HOLO_OK;
}

/* Type of the sums: what the epilogue sees. */
static holo_dtype conv_result_type(holo_dtype dtype)
{
    return dtype == HOLO_F64 ? HOLO_F64 : HOLO_F32;
}

static holo_status conv_check_any(const hg_args *a, holo_error *e, bool transposed)
{
    HG_TRY(hg_check_param(a, e, 0, "number of spatial dimensions", 1, CONV_MAX_SPATIAL));
    const int rank = (int)a->param[0];
    HG_TRY(hg_check_counts(a, e, 2, -1, 1, 2 + 3 * rank));
    HG_TRY(hg_check_in_type(a, e, 0, HG_TYPES_FLOAT));
    HG_TRY(hg_check_in_type(a, e, 1, HG_TYPES_FLOAT));
    HG_TRY(hg_check_out_type(a, e, 0, HG_EPILOGUE_TYPES));
    const holo_tensor *x = &a->in[0], *w = &a->in[1], *out = &a->out[0];
    HG_TRY(hg_check_same_type(w, x, e, "kernel"));
    HG_TRY(hg_check_rank(x, e, "input", rank + 2, rank + 2));
    HG_TRY(hg_check_rank(w, e, "kernel", rank + 2, rank + 2));
    HG_TRY(hg_check_rank(out, e, "output", rank + 2, rank + 2));
    HG_TRY(hg_check_param(a, e, 1, "groups", 1, INT32_MAX));
    HG_TRY(conv_check_channels(a, e, transposed));
    for (int d = 0; d < rank; d++) {
        const uint32_t at = 2 + (uint32_t)d, step = (uint32_t)rank;
        const int64_t size = transposed ? x->dim[2 + d] : out->dim[2 + d];
        HG_TRY(conv_check_axis(a, e, w->dim[2 + d], size, at, at + step, at + 2 * step));
    }
    return hg_epilogue_check(a, e, CONV_FIRST_EXTRA, rank, conv_result_type(x->dtype));
}

holo_status hg_conv_check(const hg_args *a, holo_error *e)
{
    return conv_check_any(a, e, false);
}

holo_status hg_convtranspose_check(const hg_args *a, holo_error *e)
{
    return conv_check_any(a, e, true);
}

hg_conv_shape hg_conv_shape_of(const hg_args *a, bool transposed)
{
    const holo_tensor *x = &a->in[0], *w = &a->in[1], *out = &a->out[0];
    const int rank = (int)a->param[0];
    hg_conv_shape s = {.in = x->dim + 2,
                       .out = out->dim + 2,
                       .kernel = w->dim + 2,
                       .stride = a->param + 2,
                       .pad = a->param + 2 + rank,
                       .dil = a->param + 2 + (int64_t)2 * rank,
                       .rank = rank,
                       .groups = a->param[1],
                       .group_c = x->dim[1] / a->param[1],
                       .group_o = out->dim[1] / a->param[1],
                       .in_count = hg_dims_product(x, 2, rank + 2),
                       .out_count = hg_dims_product(out, 2, rank + 2),
                       .transposed = transposed};
    s.taps = s.group_c == 0 ? 0 : hg_dims_product(w, 2, rank + 2);
    s.w_channel = transposed ? s.group_o * s.taps : s.taps;
    s.w_output = transposed ? s.taps : s.group_c * s.taps;
    return s;
}

static int64_t conv_units(const hg_args *a)
{
    const holo_tensor *out = &a->out[0];
    return holo_tensor_count(out) == 0 ? 0 : hg_dims_product(out, 0, out->rank - 1);
}

/* Sums of one output row. */
static size_t conv_row_bytes(const hg_args *a)
{
    return hg_align_up((size_t)a->out[0].dim[a->out[0].rank - 1] * sizeof(double), HG_ALIGN);
}

static size_t conv_scratch(const hg_args *a)
{
    return conv_row_bytes(a) + hg_epilogue_scratch(a);
}

void hg_conv_cost(const hg_args *a, hg_cost *cost)
{
    const hg_conv_shape s = hg_conv_shape_of(a, false);
    cost->flops = 2.0 * (double)holo_tensor_count(&a->out[0]) * (double)s.group_c * (double)s.taps;
}

void hg_convtranspose_cost(const hg_args *a, hg_cost *cost)
{
    const hg_conv_shape s = hg_conv_shape_of(a, true);
    cost->flops = 2.0 * (double)holo_tensor_count(&a->in[0]) * (double)s.group_o * (double)s.taps;
}

/* Input coordinate of output coordinate `o` for a tap shifted by `shift`; false outside. */
static bool conv_source(const hg_conv_shape *s, int d, int64_t o, int64_t shift, int64_t *i)
{
    if (!s->transposed) {
        *i = o * s->stride[d] + shift - s->pad[d];
    } else {
        const int64_t t = o + s->pad[d] - shift;
        if (t < 0 || t % s->stride[d] != 0) return false;
        *i = t / s->stride[d];
    }
    return *i >= 0 && *i < s->in[d];
}

bool hg_conv_find_line(const hg_conv_shape *s, int64_t row, int64_t tap, hg_conv_line *line)
{
    const int last = s->rank - 1;
    int64_t at = 0, plane = s->in[last];
    const int64_t shift = tap % s->kernel[last] * s->dil[last];
    tap /= s->kernel[last];
    for (int d = last - 1; d >= 0; d--) {
        int64_t i;
        if (!conv_source(s, d, row % s->out[d], tap % s->kernel[d] * s->dil[d], &i)) return false;
        at += i * plane;
        plane *= s->in[d];
        row /= s->out[d];
        tap /= s->kernel[d];
    }
    const int64_t stride = s->stride[last], pad = s->pad[last];
    int64_t begin, end;
    if (!s->transposed) {
        hg_conv_inside(s->in[last], s->out[last], stride, pad, shift, &begin, &end);
        *line = (hg_conv_line){begin, end - begin, 1, at + begin * stride + shift - pad, stride};
    } else {
        hg_conv_inside(s->out[last], s->in[last], stride, pad, shift, &begin, &end);
        *line = (hg_conv_line){begin * stride + shift - pad, end - begin, stride, at + begin, 1};
    }
    return line->count > 0;
}

/* All channels of one tap; x and w point to the first one. */
#define CONV_TAP(T, ACC, LOAD, suffix)                                                             \
    static void conv_tap_##suffix(const hg_conv_shape *s, const hg_conv_line *l, const void *vx,   \
                                  const void *vw, void *vsum)                                      \
    {                                                                                              \
        const T *x = (const T *)vx + l->at, *w = vw;                                               \
        ACC *sum = (ACC *)vsum + l->begin;                                                         \
        for (int64_t c = 0; c < s->group_c; c++)                                                   \
            for (int64_t i = 0; i < l->count; i++)                                                 \
                sum[i * l->step] +=                                                                \
                    LOAD(x[c * s->in_count + i * l->x_step]) * LOAD(w[c * s->w_channel]);          \
    }
#define CONV_SAME(x) (x)
CONV_TAP(float, float, CONV_SAME, f32)
CONV_TAP(double, double, CONV_SAME, f64)
CONV_TAP(uint16_t, float, hg_f16_to_f32, f16)
CONV_TAP(uint16_t, float, hg_bf16_to_f32, bf16)
#undef CONV_SAME
#undef CONV_TAP

static void conv_tap(holo_dtype dtype, const hg_conv_shape *s, const hg_conv_line *line,
                     const void *x, const void *w, void *sum)
{
    if (dtype == HOLO_F32) conv_tap_f32(s, line, x, w, sum);
    if (hg_dtype_is(dtype, HOLO_F64)) conv_tap_f64(s, line, x, w, sum);
    if (hg_dtype_is(dtype, HOLO_F16)) conv_tap_f16(s, line, x, w, sum);
    if (hg_dtype_is(dtype, HOLO_BF16)) conv_tap_bf16(s, line, x, w, sum);
}

static float conv_load(const holo_tensor *t, int64_t i)
{
    if (t->dtype == HOLO_F32) return ((const float *)t->data)[i];
    const uint16_t code = ((const uint16_t *)t->data)[i];
    return t->dtype == HOLO_F16 ? hg_f16_to_f32(code) : hg_bf16_to_f32(code);
}

static void conv_add_bias(const holo_tensor *bias, int64_t channel, void *sum, int64_t count)
{
    if (bias->dtype == HOLO_F64) {
        double *y = sum;
        for (int64_t i = 0; i < count; i++)
            y[i] += ((const double *)bias->data)[channel];
    } else {
        float *y = sum;
        const float b = conv_load(bias, channel);
        for (int64_t i = 0; i < count; i++)
            y[i] += b;
    }
}

static void conv_store(const holo_tensor *out, int64_t first, const void *sum, int64_t count)
{
    if (out->dtype == HOLO_F16 || out->dtype == HOLO_BF16) {
        uint16_t *y = (uint16_t *)out->data + first;
        const float *x = sum;
        for (int64_t i = 0; i < count; i++)
            y[i] = out->dtype == HOLO_F16 ? hg_f32_to_f16(x[i]) : hg_f32_to_bf16(x[i]);
        return;
    }
    const size_t size = hg_dtype_bits(out->dtype) / 8;
    memcpy((char *)out->data + (size_t)first * size, sum, (size_t)count * size);
}

/* Sums of output row u, counted over (image, channel, leading spatial dims). */
static void conv_row(const hg_args *a, const hg_conv_shape *s, int64_t u, void *sum)
{
    const holo_tensor *x = &a->in[0], *w = &a->in[1];
    const size_t size = hg_dtype_bits(x->dtype) / 8;
    const int64_t width = s->out[s->rank - 1], rows = s->out_count / width;
    const int64_t o = u / rows % a->out[0].dim[1], image = u / rows / a->out[0].dim[1];
    const int64_t group = o / s->group_o, first = group * s->group_c;
    const int64_t x_at = (image * x->dim[1] + first) * s->in_count;
    const int64_t w_at = (s->transposed ? first * s->w_channel : group * s->group_o * s->w_output) +
                         o % s->group_o * s->w_output;
    memset(sum, 0, (size_t)width * sizeof(double));
    for (int64_t tap = 0; tap < s->taps; tap++) {
        hg_conv_line line;
        if (!hg_conv_find_line(s, u % rows, tap, &line)) continue;
        conv_tap(x->dtype, s, &line, (const char *)x->data + (size_t)x_at * size,
                 (const char *)w->data + (size_t)(w_at + tap) * size, sum);
    }
    if (hg_args_has(a, 2)) conv_add_bias(&a->in[2], o, sum, width);
}

static void conv_run_any(const hg_args *a, hg_range r, bool transposed)
{
    if (r.begin >= r.end) return; /* an empty output may have rows of no width */
    const bool has_code = a->code != NULL;
    const hg_conv_shape s = hg_conv_shape_of(a, transposed);
    const int64_t width = s.out[s.rank - 1], rows = s.out_count / width;
    hg_epilogue ep;
    if (has_code)
        hg_epilogue_init(&ep, a, CONV_FIRST_EXTRA, s.rank, hg_lane_run,
                         (char *)r.scratch + conv_row_bytes(a));
    for (int64_t u = r.begin; u < r.end; u++) {
        conv_row(a, &s, u, r.scratch);
        if (!has_code) {
            conv_store(&a->out[0], u * width, r.scratch, width);
            continue;
        }
        const hg_epilogue_tile tile = {.data = r.scratch,
                                       .ld = width,
                                       .dtype = conv_result_type(a->in[0].dtype),
                                       .row = u / rows,
                                       .rows = 1,
                                       .col = u % rows * width,
                                       .cols = width};
        hg_epilogue_run(&ep, &tile);
    }
}

static void conv_run(const hg_args *a, hg_range r)
{
    conv_run_any(a, r, false);
}

static void convtranspose_run(const hg_args *a, hg_range r)
{
    conv_run_any(a, r, true);
}

const hg_kernel hg_kernels_conv[] = {
    {.name = "conv",
     .check = hg_conv_check,
     .units = conv_units,
     .scratch = conv_scratch,
     .cost = hg_conv_cost,
     .run = conv_run},
    {.name = "convtranspose",
     .check = hg_convtranspose_check,
     .units = conv_units,
     .scratch = conv_scratch,
     .cost = hg_convtranspose_cost,
     .run = convtranspose_run},
    {0},
};
