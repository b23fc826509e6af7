/* conv.c - the kernels "conv", "conv.i8" and "convtranspose" as loops: tap by tap, then channel by
 * channel. */
#include "kernel/conv.h"
#include "source/source.h"

#include <inttypes.h>
#include <stdio.h>

static const char *conv_acc(holo_dtype dtype)
{
    return dtype == HOLO_F64 ? "double" : "float";
}

/* Loop over the taps of axis d and the input coordinate p<d>; taps outside are passed over. Some
 * checks cannot fail for these sizes and are left out. */
static int conv_axis(hg_source *s, const hg_conv_shape *c, int d)
{
    char tap[16];
    snprintf(tap, sizeof tap, "k%d", d);
    hg_ctext place = {"0"};
    char out[16];
    snprintf(out, sizeof out, "i%d", d + 2);
    int levels = hg_source_for(s, tap, c->kernel[d]);
    const int64_t reach = (c->kernel[d] - 1) * c->dil[d];
    if (!c->transposed) {
        hg_source_add(&place, out, c->out[d], c->stride[d]);
        hg_source_add(&place, tap, c->kernel[d], c->dil[d]);
        if (c->pad[d] != 0) hg_ctext_add(&place, " - %" PRId64, c->pad[d]);
        hg_source_line(s, "const int32_t p%d = %s;", d, place.text);
        if (c->pad[d] != 0 || (c->out[d] - 1) * c->stride[d] + reach >= c->in[d])
            hg_source_line(s, "if (p%d < 0 || p%d >= %" PRId64 ") continue;", d, d, c->in[d]);
        return levels;
    }
    hg_source_add(&place, out, c->out[d], 1);
    hg_source_add(&place, tap, c->kernel[d], -c->dil[d]);
    if (c->pad[d] != 0) hg_ctext_add(&place, " + %" PRId64, c->pad[d]);
    hg_source_line(s, "const int32_t q%d = %s, p%d = q%d / %" PRId64 ";", d, place.text, d, d,
                   c->stride[d]);
    hg_source_line(s, "if (q%d < 0 || q%d %% %" PRId64 " != 0 || p%d >= %" PRId64 ") continue;", d,
                   d, c->stride[d], d, c->in[d]);
    return levels;
}

/* `continue` needs a loop around each axis: an axis of one tap gets one of one turn. */
static int conv_taps(hg_source *s, const hg_conv_shape *c)
{
    int levels = 0;
    for (int d = 0; d < c->rank; d++) {
        if (c->kernel[d] == 1) {
            hg_source_open(s, "for (int32_t k%d = 0; k%d < 1; k%d++)", d, d, d);
            levels++;
        }
        levels += conv_axis(s, c, d);
    }
    return levels;
}

/* Element of the input or kernel that meets the current tap and channel c. */
static void conv_indices(const hg_args *a, const hg_conv_shape *c, hg_ctext *x, hg_ctext *w)
{
    const holo_tensor *in = &a->in[0], *out = &a->out[0];
    int64_t plane = 1, taps = 1;
    hg_ctext_set(x, "0");
    hg_ctext_set(w, "0");
    hg_source_add(x, "i0", out->dim[0], in->dim[1] * c->in_count);
    if (c->groups > 1) {
        hg_source_add(x, "g", 2, c->group_c * c->in_count);
        hg_source_add(w, "g", 2,
                      c->transposed ? c->group_c * c->w_channel : c->group_o * c->w_output);
        hg_ctext o;
        hg_ctext_set(&o, "(i1 %% %" PRId64 ")", c->group_o);
        hg_source_add(w, o.text, c->group_o, c->w_output);
    } else {
        hg_source_add(w, "i1", out->dim[1], c->w_output);
    }
    hg_source_add(x, "c", c->group_c, c->in_count);
    hg_source_add(w, "c", c->group_c, c->w_channel);
    for (int d = c->rank - 1; d >= 0; d--) {
        char p[16], k[16];
        snprintf(p, sizeof p, "p%d", d);
        snprintf(k, sizeof k, "k%d", d);
        hg_source_add(x, p, 2, plane);
        hg_source_add(w, k, c->kernel[d], taps);
        plane *= c->in[d];
        taps *= c->kernel[d];
    }
}

/* One product: floats as they are, 8-bit codes less their zero points. */
static void conv_product(hg_source *s, const hg_args *a, const char *x, const char *w, bool is_code)
{
    hg_ctext load[2], zero;
    hg_source_load(s, &load[0], 0, x);
    hg_source_load(s, &load[1], 1, w);
    for (uint32_t i = 0; is_code && i < 2; i++) {
        if (!hg_args_has(a, 2 + i)) continue;
        const bool is_each = i == 1 && holo_tensor_count(&a->in[3]) > 1;
        hg_source_load(s, &zero, 2 + i, is_each ? "i1" : "0");
        const hg_ctext plain = load[i];
        hg_ctext_set(&load[i], "(%s - %s)", plain.text, zero.text);
    }
    hg_source_line(s, is_code ? "r += (uint32_t)(%s * %s);" : "r += %s * %s;", load[0].text,
                   load[1].text);
}

static bool conv_any(hg_source *s, const hg_args *a, bool transposed, bool is_code)
{
    const holo_tensor *out = &a->out[0];
    const hg_conv_shape c = hg_conv_shape_of(a, transposed);
    hg_ctext x, w, bias;
    int levels = hg_source_for_dims(s, out, 0, out->rank);
    if (c.groups > 1) /* so there are several channels, and i1 */
        hg_source_line(s, "const int32_t g = i1 / %" PRId64 ";", c.group_o);
    hg_source_line(s, "%s r = 0;", is_code ? "uint32_t" : conv_acc(a->in[0].dtype));
    conv_indices(a, &c, &x, &w);
    int inner = conv_taps(s, &c);
    inner += hg_source_for(s, "c", c.group_c);
    conv_product(s, a, x.text, w.text, is_code);
    hg_source_close(s, inner);
    if (!is_code && hg_args_has(a, 2)) {
        hg_source_load(s, &bias, 2, out->dim[1] == 1 ? "0" : "i1");
        hg_source_line(s, "r += %s;", bias.text);
    }
    bool ok = hg_source_finish(s, is_code ? "(int32_t)r" : "r", 3);
    hg_source_close(s, levels);
    return ok;
}

static bool conv_i8_write(hg_source *s, const hg_args *a)
{
    return conv_any(s, a, false, true);
}

static bool conv_write(hg_source *s, const hg_args *a)
{
    return conv_any(s, a, false, false);
}

static bool convtranspose_write(hg_source *s, const hg_args *a)
{
    return conv_any(s, a, true, false);
}

const hg_source_kernel hg_source_kernels_conv[] = {
    {"conv", conv_write},
    {"conv.i8", conv_i8_write},
    {"convtranspose", convtranspose_write},
    {0},
};
