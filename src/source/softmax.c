/* softmax.c - the kernel "softmax" as loops: largest, sum in sixteen lanes, then each element. */
#include "source/source.h"

/* x, plus the mask, at step k of the current row. */
static void softmax_value(hg_source *s, const hg_args *a, int axis, hg_ctext *out)
{
    hg_ctext x, mask, load;
    int64_t stride[HG_MAX_RANK] = {0}, n = a->in[0].dim[axis];
    hg_broadcast_strides(&a->in[0], &a->in[0], stride);
    int64_t step = stride[axis];
    stride[axis] = 0;
    hg_source_index(&x, &a->in[0], stride);
    hg_source_add(&x, "k", n, step);
    hg_source_load(s, out, 0, x.text);
    if (!hg_args_has(a, 1)) return;
    hg_broadcast_strides(&a->in[1], &a->in[0], stride);
    step = stride[axis];
    stride[axis] = 0;
    hg_source_index(&mask, &a->in[0], stride);
    hg_source_add(&mask, "k", n, step);
    hg_source_load(s, &load, 1, mask.text);
    hg_ctext_add(out, " + %s", load.text);
}

static void softmax_out_index(const hg_args *a, int axis, hg_ctext *out)
{
    int64_t stride[HG_MAX_RANK] = {0};
    hg_broadcast_strides(&a->out[0], &a->out[0], stride);
    int64_t step = stride[axis];
    stride[axis] = 0;
    hg_source_index(out, &a->out[0], stride);
    hg_source_add(out, "k", a->out[0].dim[axis], step);
}

static void softmax_sum(hg_source *s, const char *type, const char *exp, const char *value,
                        int64_t n)
{
    hg_source_line(s, "%s sum[16] = {0};", type);
    int inner = hg_source_for(s, "k", n);
    hg_source_line(s, "sum[%s] += %s((%s) - most);", n == 1 ? "0" : "k % 16", exp, value);
    hg_source_close(s, inner);
    hg_source_tree(s, "sum[l] += sum[l + w];");
}

static bool softmax_write(hg_source *s, const hg_args *a)
{
    const int axis = (int)a->param[0];
    const int64_t n = a->in[0].dim[axis];
    const bool is_wide = a->in[0].dtype == HOLO_F64, is_log = a->param[1] != 0;
    const char *type = is_wide ? "double" : "float";
    const char *exp = is_wide ? "hg_exp_f64" : "hg_exp_negative_f32";
    const char *log = is_wide ? "hg_log_f64" : "hg_log_f32";
    hg_ctext value, result, index;
    hg_source_need(s, exp);
    if (is_log) hg_source_need(s, log);
    int levels = hg_source_for_dims(s, &a->out[0], 0, axis);
    levels += hg_source_for_dims(s, &a->out[0], axis + 1, a->out[0].rank);
    softmax_value(s, a, axis, &value);
    hg_source_line(s, "%s most = -INFINITY;", type);
    int inner = hg_source_for(s, "k", n);
    hg_source_line(s, "most = %s > most ? %s : most;", value.text, value.text);
    hg_source_close(s, inner);
    softmax_sum(s, type, exp, value.text, n);
    if (is_log)
        hg_source_line(s, "const %s log_sum = %s(sum[0]);", type, log);
    else
        hg_source_line(s, "const %s scale = 1 / sum[0];", type);
    inner = hg_source_for(s, "k", n);
    if (is_log)
        hg_ctext_set(&result, "((%s) - most) - log_sum", value.text);
    else
        hg_ctext_set(&result, "%s((%s) - most) * scale", exp, value.text);
    softmax_out_index(a, axis, &index);
    hg_source_store(s, 0, index.text, result.text, false);
    hg_source_close(s, inner + levels);
    return true;
}

const hg_source_kernel hg_source_kernels_softmax[] = {
    {"softmax", softmax_write},
    {0},
};
