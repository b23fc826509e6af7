/* quantize.c - the kernels "quantize.extent" and "quantize.dynamic" as loops. */
#include "kernel/quantize_dynamic.h"
#include "source/source.h"

#include <inttypes.h>

/* The smaller and larger of what is known and of `v`; NaN stays. */
static void quantize_widen(hg_source *s, const char *low, const char *high)
{
    hg_source_line(s, "low = low < %s || low != low ? low : %s;", low, low);
    hg_source_line(s, "high = high > %s || high != high ? high : %s;", high, high);
}

static bool extent_write(hg_source *s, const hg_args *a)
{
    const int64_t count = holo_tensor_count(&a->in[0]), blocks = a->out[0].dim[0];
    char name[16];
    const char *x = hg_source_in(s, 0, name);
    int levels = hg_source_for(s, "u", blocks);
    const char *u = blocks == 1 ? "0" : "u";
    hg_source_line(s, "const int32_t first = %s * %d, rest = %" PRId64 " - first;", u,
                   HG_EXTENT_BLOCK, count);
    hg_source_line(s, "float low = 0, high = 0;");
    hg_source_open(s, "for (int32_t i = first; i < first + (rest < %d ? rest : %d); i++)",
                   HG_EXTENT_BLOCK, HG_EXTENT_BLOCK);
    hg_source_line(s, "const float v = %s[i];", x);
    quantize_widen(s, "v", "v");
    hg_source_close(s, 1);
    hg_source_line(s, "y0[2 * %s] = low;", u);
    hg_source_line(s, "y0[2 * %s + 1] = high;", u);
    hg_source_close(s, levels);
    return true;
}

static bool dynamic_write(hg_source *s, const hg_args *a)
{
    const int64_t blocks = a->in[1].dim[0];
    hg_ctext low, high;
    char x[16], bounds[16];
    hg_source_in(s, 0, x);
    hg_source_in(s, 1, bounds);
    hg_source_line(s, "float low = 0, high = 0;");
    int levels = blocks == 0 ? 0 : hg_source_for(s, "u", blocks);
    hg_ctext_set(&low, blocks == 1 ? "%s[0]" : "%s[2 * u]", bounds);
    hg_ctext_set(&high, blocks == 1 ? "%s[1]" : "%s[2 * u + 1]", bounds);
    if (blocks > 0) quantize_widen(s, low.text, high.text);
    hg_source_close(s, levels);
    hg_source_line(
        s, "const float scale = (high - low) / 255.0f, divisor = scale == 0 ? 1.0f : scale;");
    hg_source_line(s, "const float start = -(low / divisor);");
    hg_source_line(
        s, "const float zero = rintf(start > 255.0f ? 255.0f : start >= 0 ? start : 0.0f);");
    hg_source_line(s, "y1[0] = scale;");
    hg_source_line(s, "y2[0] = (uint8_t)zero;");
    hg_source_open(s, "for (int32_t i = 0; i < %" PRId64 "; i++)", holo_tensor_count(&a->in[0]));
    hg_source_line(s, "const float code = rintf(%s[i] / divisor) + zero;", x);
    hg_source_line(s, "y0[i] = code > 255.0f ? 255 : code >= 0.0f ? (uint8_t)code : 0;");
    hg_source_close(s, 1);
    return true;
}

const hg_source_kernel hg_source_kernels_quantize[] = {
    {"quantize.dynamic", dynamic_write},
    {"quantize.extent", extent_write},
    {0},
};
