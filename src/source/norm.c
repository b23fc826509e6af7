/* norm.c - the kernels "layernorm" and "groupnorm" as loops: mean and deviation in sixteen lanes,
 * then each element. */
#include "source/source.h"

#include <inttypes.h>

typedef struct norm_form {
    const char *type, *sqrt;
    int64_t n; /* elements that are normalised together, side by side */
    double epsilon;
    bool has_mean;
} norm_form;

static norm_form norm_of(hg_source *s, const hg_args *a, int64_t n)
{
    const bool is_wide = a->in[0].dtype == HOLO_F64;
    norm_form f = {.type = is_wide ? "double" : "float",
                   .sqrt = is_wide ? "hg_sqrt_f64" : "hg_sqrt_f32",
                   .n = n,
                   .epsilon = hg_param_f64(a, 1),
                   .has_mean = true};
    hg_source_need(s, f.sqrt);
    return f;
}

/* One sum over the row that starts at element `first`. */
static void norm_sum(hg_source *s, const norm_form *f, const char *lanes, const char *term)
{
    const char *lane = f->n == 1 ? "0" : "k % 16";
    hg_source_line(s, "%s %s[16] = {0};", f->type, lanes);
    int inner = hg_source_for(s, "k", f->n);
    hg_source_line(s, "%s[%s] += %s;", lanes, lane, term);
    hg_source_close(s, inner);
    hg_ctext step;
    hg_ctext_set(&step, "%s[l] += %s[l + w];", lanes, lanes);
    hg_source_tree(s, step.text);
}

/* const mean and inverse of the row that starts at element `first`. */
static void norm_statistics(hg_source *s, const norm_form *f)
{
    hg_ctext x, term, epsilon;
    hg_source_load(s, &x, 0, f->n == 1 ? "first" : "first + k");
    if (f->has_mean) {
        norm_sum(s, f, "sum", x.text);
        hg_source_line(s, "const %s mean = sum[0] / %" PRId64 ";", f->type, f->n);
        hg_ctext_set(&term, "(%s - mean) * (%s - mean)", x.text, x.text);
    } else {
        hg_ctext_set(&term, "%s * %s", x.text, x.text);
    }
    norm_sum(s, f, "square", term.text);
    if (f->type[0] == 'd')
        hg_source_f64(&epsilon, f->epsilon);
    else
        hg_source_f32(&epsilon, (float)f->epsilon);
    hg_source_line(s, "const %s inverse = 1 / %s(square[0] / %" PRId64 " + %s);", f->type, f->sqrt,
                   f->n, epsilon.text);
}

static void norm_stash(hg_source *s, const hg_args *a, uint32_t i, const char *row,
                       const char *value)
{
    if (i >= a->n_out || a->out[i].dtype == HOLO_NONE) return;
    hg_source_line(s, "y%" PRIu32 "[%s] = (%s)%s;", i, row, hg_source_ctype(a->out[i].dtype),
                   value);
}

/* Scale or bias at element k of the row; "" when there is none. */
static void norm_operand(hg_source *s, const hg_args *a, uint32_t i, int axis, hg_ctext *out)
{
    const holo_tensor *x = &a->in[0];
    int64_t stride[HG_MAX_RANK] = {0}, below[HG_MAX_RANK] = {0}, n = 1;
    hg_ctext index = {"0"};
    out->text[0] = '\0';
    if (!hg_args_has(a, i)) return;
    hg_broadcast_strides(&a->in[i], x, stride);
    for (int d = x->rank - 1; d >= axis; d--) {
        below[d] = n;
        n *= x->dim[d];
    }
    bool is_whole = holo_tensor_count(&a->in[i]) == n;
    if (is_whole) hg_source_add(&index, "k", n, 1);
    for (int d = axis; !is_whole && d < x->rank; d++) {
        hg_ctext v;
        hg_ctext_set(&v, "(k / %" PRId64 " %% %" PRId64 ")", below[d], x->dim[d]);
        hg_source_add(&index, v.text, x->dim[d], stride[d]);
    }
    hg_source_load(s, out, i, index.text);
}

static bool layernorm_write(hg_source *s, const hg_args *a)
{
    const holo_tensor *x = &a->in[0];
    const int axis = (int)a->param[0];
    norm_form f = norm_of(s, a, hg_dims_product(x, axis, x->rank));
    const int64_t rows = hg_dims_product(x, 0, axis);
    hg_ctext load, scale, bias, value;
    f.has_mean = a->param[2] == 0;
    int levels = hg_source_for(s, "row", rows);
    if (rows == 1)
        hg_source_line(s, "const int32_t first = 0;");
    else
        hg_source_line(s, "const int32_t first = row * %" PRId64 ";", f.n);
    norm_statistics(s, &f);
    int inner = hg_source_for(s, "k", f.n);
    const char *at = f.n == 1 ? "first" : "first + k";
    hg_source_load(s, &load, 0, at);
    norm_operand(s, a, 1, axis, &scale);
    norm_operand(s, a, 2, axis, &bias);
    hg_ctext_set(&value, "%s * inverse", load.text);
    if (f.has_mean) hg_ctext_set(&value, "(%s - mean) * inverse", load.text);
    if (scale.text[0] != '\0') {
        hg_ctext plain = value;
        hg_ctext_set(&value, "(%s) * %s", plain.text, scale.text);
    }
    if (bias.text[0] != '\0') hg_ctext_add(&value, " + %s", bias.text);
    hg_source_store(s, 0, at, value.text, false);
    hg_source_close(s, inner);
    norm_stash(s, a, 1, rows == 1 ? "0" : "row", "mean");
    norm_stash(s, a, 2, rows == 1 ? "0" : "row", "inverse");
    hg_source_close(s, levels);
    return true;
}

static bool groupnorm_write(hg_source *s, const hg_args *a)
{
    const holo_tensor *x = &a->in[0];
    const int64_t groups = a->param[0], channels = x->dim[1], each = channels / groups;
    const int64_t positions = hg_dims_product(x, 2, x->rank);
    if (a->param[2] != 0) return hg_source_refuse(s, "channels last");
    norm_form f = norm_of(s, a, each * positions);
    hg_ctext load, scale, bias, value, channel = {"0"};
    const int64_t rows = x->dim[0] * groups;
    int levels = hg_source_for(s, "row", rows);
    if (rows == 1) hg_source_line(s, "const int32_t row = 0;");
    hg_source_line(s, "const int32_t first = row * %" PRId64 ";", f.n);
    norm_statistics(s, &f);
    int inner = hg_source_for(s, "k", f.n);
    const char *at = f.n == 1 ? "first" : "first + k";
    hg_source_line(s, "const int32_t c = row %% %" PRId64 " * %" PRId64 ";", groups, each);
    if (f.n == 1)
        hg_ctext_set(&channel, "c");
    else
        hg_ctext_set(&channel, "c + k / %" PRId64, positions);
    hg_source_load(s, &load, 0, at);
    hg_ctext_set(&scale, "1");
    hg_ctext_set(&bias, "0");
    if (hg_args_has(a, 1)) hg_source_load(s, &scale, 1, channel.text);
    if (hg_args_has(a, 2)) hg_source_load(s, &bias, 2, channel.text);
    hg_ctext_set(&value, "((%s - mean) * inverse) * %s + %s", load.text, scale.text, bias.text);
    if (!hg_args_has(a, 1) && !hg_args_has(a, 2)) hg_source_line(s, "(void)c;");
    hg_source_store(s, 0, at, value.text, false);
    hg_source_close(s, inner + levels);
    return true;
}

const hg_source_kernel hg_source_kernels_norm[] = {
    {"layernorm", layernorm_write},
    {"groupnorm", groupnorm_write},
    {0},
};
