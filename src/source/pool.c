/* pool.c - the kernel "pool" as loops over windows, channels first. */
#include "kernel/pool.h"
#include "source/source.h"

#include <inttypes.h>
#include <stdio.h>

/* The taps of axis d: which input coordinate p<d> they read, and whether they count. */
static int pool_axis(hg_source *s, const hg_pool_shape *p, int d)
{
    char tap[16], out[16];
    hg_ctext place = {"0"};
    snprintf(tap, sizeof tap, "k%d", d);
    snprintf(out, sizeof out, "i%d", d + 2);
    hg_source_open(s, "for (int32_t %s = 0; %s < %" PRId64 "; %s++)", tap, tap, p->kernel[d], tap);
    hg_source_add(&place, out, p->out[d], p->stride[d]);
    hg_source_add(&place, tap, 2, p->dilation[d]);
    if (p->pad_begin[d] != 0) hg_ctext_add(&place, " - %" PRId64, p->pad_begin[d]);
    hg_source_line(s, "const int32_t p%d = %s;", d, place.text);
    bool is_padded = p->mode == HG_POOL_AVERAGE_PADDED;
    int64_t low = is_padded ? -p->pad_begin[d] : 0;
    int64_t high = p->in[d] + (is_padded ? p->pad_end[d] : 0);
    hg_source_line(s, "if (p%d < %" PRId64 " || p%d >= %" PRId64 ") continue;", d, low, d, high);
    return 1;
}

static void pool_index(const hg_args *a, const hg_pool_shape *p, hg_ctext *x)
{
    int64_t plane = 1;
    hg_ctext_set(x, "0");
    hg_source_add(x, "i0", a->out[0].dim[0], a->in[0].dim[1] * p->in_count);
    hg_source_add(x, "i1", a->out[0].dim[1], p->in_count);
    for (int d = p->rank - 1; d >= 0; d--) {
        char v[16];
        snprintf(v, sizeof v, "p%d", d);
        hg_source_add(x, v, 2, plane);
        plane *= p->in[d];
    }
}

/* Taps in the padding count but have no element. */
static void pool_inside(const hg_pool_shape *p, hg_ctext *out)
{
    hg_ctext_set(out, "n++;");
    if (p->mode != HG_POOL_AVERAGE_PADDED) return;
    for (int d = 0; d < p->rank; d++)
        hg_ctext_add(out, "%sp%d < 0 || p%d >= %" PRId64, d == 0 ? " if (" : " || ", d, d,
                     p->in[d]);
    hg_ctext_add(out, ") continue;");
}

/* Averages count the elements of a window. */
static bool pool_counts(const hg_pool_shape *p)
{
    return p->mode == HG_POOL_AVERAGE || p->mode == HG_POOL_AVERAGE_PADDED;
}

/* Starts the result r; false for a type or mode without C. */
static bool pool_begin(hg_source *s, const hg_args *a, const hg_pool_shape *p)
{
    holo_dtype dtype = a->in[0].dtype;
    const char *type = dtype == HOLO_F64          ? "double"
                       : hg_dtype_is_float(dtype) ? "float"
                                                  : "int32_t";
    if (p->mode == HG_POOL_LP && dtype != HOLO_F32 && dtype != HOLO_F64)
        return hg_source_refuse(s, "p-norm windows of %s", holo_dtype_text(dtype));
    if (a->param[HG_POOL_PARAM_LAYOUT] != HG_POOL_NCHW) return hg_source_refuse(s, "channels last");
    if (a->n_out > 1 && a->out[1].dtype != HOLO_NONE)
        return hg_source_refuse(s, "indices of the largest elements");
    if (p->mode == HG_POOL_LP) type = "double";
    if (p->mode != HG_POOL_MAX)
        hg_source_line(s, "%s r = 0;", type);
    else if (hg_dtype_is_float(dtype))
        hg_source_line(s, "%s r = -INFINITY;", type);
    else
        hg_source_line(s, "int32_t r = %d;", dtype == HOLO_I8 ? -128 : 0);
    if (pool_counts(p)) hg_source_line(s, "int32_t n = 0;");
    return true;
}

/* r += |v|^p, by squaring. */
static void pool_power(hg_source *s, const char *load, int64_t power)
{
    hg_source_need(s, "hg_abs_f64");
    hg_source_line(s, "double v = hg_abs_f64(%s);", load);
    if (power > 1) hg_source_line(s, "double product = 1.0;");
    for (int64_t p = power; p > 1; p /= 2) {
        if (p % 2 == 1) hg_source_line(s, "product *= v;");
        hg_source_line(s, "v *= v;");
    }
    hg_source_line(s, power > 1 ? "r += product * v;" : "r += v;");
}

/* The result in the type of the output, as q. */
static void pool_root(hg_source *s, const hg_args *a, int64_t power)
{
    const char *type = a->in[0].dtype == HOLO_F64 ? "double" : "float";
    hg_ctext inverse;
    if (power > 1) hg_source_need(s, power == 2 ? "hg_sqrt_f64" : "hg_pow_f64");
    hg_source_f64(&inverse, 1.0 / (double)power);
    if (power == 1)
        hg_source_line(s, "const %s q = (%s)r;", type, type);
    else if (power == 2)
        hg_source_line(s, "const %s q = (%s)hg_sqrt_f64(r);", type, type);
    else
        hg_source_line(s, "const %s q = (%s)hg_pow_f64(r, %s);", type, type, inverse.text);
}

static void pool_finish_average(hg_source *s, const hg_args *a)
{
    hg_source_line(s, "r /= (%s)(n == 0 ? 1 : n);",
                   a->in[0].dtype == HOLO_F64 ? "double" : "float");
}

static bool pool_write(hg_source *s, const hg_args *a)
{
    const hg_pool_shape p = hg_pool_shape_of(a);
    const bool is_float = hg_dtype_is_float(a->in[0].dtype);
    hg_ctext x, load, inside;
    int levels = hg_source_for_dims(s, &a->out[0], 0, a->out[0].rank), inner = 0;
    if (!pool_begin(s, a, &p)) return false;
    for (int d = 0; d < p.rank; d++)
        inner += pool_axis(s, &p, d);
    pool_index(a, &p, &x);
    hg_source_load(s, &load, 0, x.text);
    if (p.mode == HG_POOL_MAX && is_float) {
        const char *type = a->in[0].dtype == HOLO_F64 ? "double" : "float";
        hg_source_line(s, "const %s v = %s;", type, load.text);
        hg_source_line(s, "r = v != v ? v : v > r ? v : r;");
    } else if (p.mode == HG_POOL_MAX) {
        hg_source_line(s, "const int32_t v = %s;", load.text);
        hg_source_line(s, "r = v > r ? v : r;");
    } else if (p.mode == HG_POOL_LP) {
        pool_power(s, load.text, a->param[HG_POOL_PARAM_P]);
    } else {
        pool_inside(&p, &inside);
        hg_source_line(s, "%s", inside.text);
        hg_source_line(s, "r += %s;", load.text);
    }
    hg_source_close(s, inner);
    if (pool_counts(&p)) pool_finish_average(s, a);
    if (p.mode == HG_POOL_LP) pool_root(s, a, a->param[HG_POOL_PARAM_P]);
    bool ok = hg_source_finish(s, p.mode == HG_POOL_LP ? "q" : "r", 1);
    hg_source_close(s, levels);
    return ok;
}

const hg_source_kernel hg_source_kernels_pool[] = {
    {"pool", pool_write},
    {"pool.planes", pool_write},
    {0},
};
