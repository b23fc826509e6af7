/* quantize_dynamic.c - 8-bit codes with a scale that fits the data, in two steps: the scale depends
 * on all elements, the codes do not on each other.
 *
 *   quantize.extent    in[0] X f32;  out[0] [ceil(count / 16384), 2] f32: lowest and highest
 * element of each block, 0 included; NaN if there is one quantize.dynamic   in[0] X f32, in[1] the
 * bounds; out[0] codes u8, shape of X; out[1] scale f32, one element; out[2] zero point u8, one
 * element
 *
 * As ONNX DynamicQuantizeLinear-11: scale = (high - low) / 255, zero = round(-low / scale) limited
 * to 0 .. 255, code = round(x / scale) + zero limited likewise, ties to even, all in f32. Without
 * anything but zeros scale and codes are 0. A NaN has code 0. */
#include "kernel/quantize_dynamic.h"

static int64_t extent_blocks(const holo_tensor *x)
{
    return hg_ceil_div(holo_tensor_count(x), HG_EXTENT_BLOCK);
}

static holo_status extent_check_bounds(const holo_tensor *x, const holo_tensor *bounds,
                                       holo_error *e)
{
    HG_TRY(hg_check_rank(bounds, e, "bounds", 2, 2));
    HG_REQUIRE(e, bounds->dim[0] == extent_blocks(x) && bounds->dim[1] == 2, HOLO_E_SHAPE,
               "bounds are %lld x %lld, expected %lld x 2", (long long)bounds->dim[0],
               (long long)bounds->dim[1], (long long)extent_blocks(x));
    return HOLO_OK;
}

holo_status hg_quantize_extent_check(const hg_args *a, holo_error *e)
{
    HG_TRY(hg_check_counts(a, e, 1, 1, 1, 0));
    HG_TRY(hg_check_in_type(a, e, 0, HG_TYPE_BIT(HOLO_F32)));
    HG_TRY(hg_check_out_type(a, e, 0, HG_TYPE_BIT(HOLO_F32)));
    return extent_check_bounds(&a->in[0], &a->out[0], e);
}

int64_t hg_quantize_extent_units(const hg_args *a)
{
    return extent_blocks(&a->in[0]);
}

static void quantize_extent_run(const hg_args *a, hg_range r)
{
    float *bounds = a->out[0].data;
    for (int64_t u = r.begin; u < r.end; u++) {
        const float *x = (const float *)a->in[0].data + u * HG_EXTENT_BLOCK;
        const int64_t count = hg_extent_count(a, u);
        float low = 0, high = 0;
        for (int64_t i = 0; i < count; i++) {
            low = hg_extent_low(low, x[i]);
            high = hg_extent_high(high, x[i]);
        }
        bounds[2 * u] = low;
        bounds[2 * u + 1] = high;
    }
}

static holo_status dynamic_check_single(const hg_args *a, holo_error *e, uint32_t j)
{
    const int64_t count = holo_tensor_count(&a->out[j]);
    HG_REQUIRE(e, count == 1, HOLO_E_SHAPE, "output %u has %lld elements, expected 1", j,
               (long long)count);
    return HOLO_OK;
}

holo_status hg_quantize_dynamic_check(const hg_args *a, holo_error *e)
{
    HG_TRY(hg_check_counts(a, e, 2, 2, 3, 0));
    HG_TRY(hg_check_in_type(a, e, 0, HG_TYPE_BIT(HOLO_F32)));
    HG_TRY(hg_check_in_type(a, e, 1, HG_TYPE_BIT(HOLO_F32)));
    HG_TRY(hg_check_out_type(a, e, 0, HG_TYPE_BIT(HOLO_U8)));
    HG_TRY(hg_check_out_type(a, e, 1, HG_TYPE_BIT(HOLO_F32)));
    HG_TRY(hg_check_out_type(a, e, 2, HG_TYPE_BIT(HOLO_U8)));
    HG_TRY(hg_check_same_shape(&a->out[0], &a->in[0], e, "codes"));
    HG_TRY(dynamic_check_single(a, e, 1));
    HG_TRY(dynamic_check_single(a, e, 2));
    return extent_check_bounds(&a->in[0], &a->in[1], e);
}

/* One at least: the scale of nothing is written too. */
int64_t hg_quantize_dynamic_units(const hg_args *a)
{
    return hg_max(1, extent_blocks(&a->in[0]));
}

hg_dynamic_scale hg_quantize_dynamic_scale(const hg_args *a, hg_range r)
{
    const float *bounds = a->in[1].data;
    float low = 0, high = 0;
    for (int64_t u = 0; u < a->in[1].dim[0]; u++) {
        low = hg_extent_low(low, bounds[2 * u]);
        high = hg_extent_high(high, bounds[2 * u + 1]);
    }
    hg_dynamic_scale s = {.scale = (high - low) / 255.0f};
    s.divisor = s.scale == 0 ? 1.0f : s.scale;
    const float zero = -(low / s.divisor);
    s.zero = rintf(zero > 255.0f ? 255.0f : zero >= 0 ? zero : 0.0f);
    if (r.begin == 0) {
        memcpy(a->out[1].data, &s.scale, sizeof s.scale);
        *(uint8_t *)a->out[2].data = (uint8_t)s.zero;
    }
    return s;
}

static void quantize_dynamic_run(const hg_args *a, hg_range r)
{
    if (r.begin >= r.end) return;
    const hg_dynamic_scale s = hg_quantize_dynamic_scale(a, r);
    for (int64_t u = r.begin; u < r.end; u++) {
        const int64_t at = u * HG_EXTENT_BLOCK, count = hg_extent_count(a, u);
        for (int64_t i = at; i < at + count; i++)
            ((uint8_t *)a->out[0].data)[i] = hg_dynamic_code(((const float *)a->in[0].data)[i], &s);
    }
}

const hg_kernel hg_kernels_quantize_dynamic[] = {
    {.name = "quantize.dynamic",
     .check = hg_quantize_dynamic_check,
     .units = hg_quantize_dynamic_units,
     .run = quantize_dynamic_run},
    {.name = "quantize.extent",
     .check = hg_quantize_extent_check,
     .units = hg_quantize_extent_units,
     .run = quantize_extent_run},
    {0},
};
