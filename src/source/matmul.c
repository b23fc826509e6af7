/* matmul.c - the kernels "matmul" and "matmul.i8" as loops: k in order, multiply then add. */
#include "kernel/matmul.h"
#include "source/source.h"

#include <stdio.h>

/* Index of the first element of an operand in the current batch. */
static void matmul_base(hg_ctext *out, const holo_tensor *t, const holo_tensor *over)
{
    int64_t stride[HG_MAX_RANK] = {0}, step = t->dim[t->rank - 2] * t->dim[t->rank - 1];
    for (int d = t->rank - 3; d >= 0; d--) {
        if (t->dim[d] != 1) stride[d + over->rank - t->rank] = step;
        step *= t->dim[d];
    }
    hg_source_index(out, over, stride);
}

static bool matmul_write(hg_source *s, const hg_args *a)
{
    const holo_tensor *out = &a->out[0];
    const hg_matmul_shape m = hg_matmul_shape_of(a);
    const double alpha = hg_param_f64(a, 2);
    const bool is_half = a->in[0].dtype == HOLO_F16 || a->in[0].dtype == HOLO_BF16;
    const char *type = is_half ? "float" : hg_source_ctype(a->in[0].dtype);
    const bool is_signed = hg_dtype_is_signed_int(a->in[0].dtype);
    hg_ctext x, y, load_x, load_y, factor;
    int levels = hg_source_for_dims(s, out, 0, out->rank);
    matmul_base(&x, &a->in[0], out);
    matmul_base(&y, &a->in[1], out);
    char row[16], col[16];
    snprintf(row, sizeof row, "i%d", out->rank - 2);
    snprintf(col, sizeof col, "i%d", out->rank - 1);
    hg_source_add(&x, row, m.m, m.a_row);
    hg_source_add(&x, "k", m.k, m.a_k);
    hg_source_add(&y, col, m.n, m.b_col);
    hg_source_add(&y, "k", m.k, m.b_k);
    hg_source_load(s, &load_x, 0, x.text);
    hg_source_load(s, &load_y, 1, y.text);
    hg_source_line(s, "%s r = 0;", type);
    int inner = hg_source_for(s, "k", m.k);
    if (is_signed) /* wraps */
        hg_source_line(s, "r = (%s)((u%s)r + (u%s)%s * (u%s)%s);", type, type, type, load_x.text,
                       type, load_y.text);
    else
        hg_source_line(s, "r += %s * %s;", load_x.text, load_y.text);
    hg_source_close(s, inner);
    if (alpha != 1) {
        if (a->in[0].dtype == HOLO_F64)
            hg_source_f64(&factor, alpha);
        else
            hg_source_f32(&factor, (float)alpha);
        hg_source_line(s, "r *= %s;", factor.text);
    }
    bool ok = hg_source_finish(s, "r", 2);
    hg_source_close(s, levels);
    return ok;
}

/* Operand i less its zero points, which are the same for all of k. */
static void matmul_i8_operand(hg_source *s, const hg_args *a, uint32_t i, int64_t k, hg_ctext *out)
{
    const holo_tensor *t = &a->in[i], *over = &a->out[0];
    const int shift = over->rank - t->rank, last = over->rank - 1;
    const int own = i == 0 ? last - 1 : last; /* the dim of the output that it brings */
    int64_t stride[2][HG_MAX_RANK] = {{0}};
    hg_ctext index[2], zero;
    hg_broadcast_strides(t, t, stride[0]);
    if (hg_args_has(a, 2 + i)) hg_broadcast_strides(&a->in[2 + i], t, stride[1]);
    for (int z = 0; z < 2; z++) {
        hg_ctext_set(&index[z], "0");
        for (int d = 0; d < t->rank; d++) {
            char v[16];
            snprintf(v, sizeof v, "i%d", d + shift);
            const bool is_batch = d < t->rank - 2, is_own = d + shift == own;
            if ((is_batch && t->dim[d] != 1) || is_own)
                hg_source_add(&index[z], v, over->dim[d + shift], stride[z][d]);
        }
    }
    hg_source_add(&index[0], "k", k, stride[0][i == 0 ? t->rank - 1 : t->rank - 2]);
    hg_source_load(s, out, i, index[0].text);
    if (!hg_args_has(a, 2 + i)) return;
    hg_source_load(s, &zero, 2 + i, index[1].text);
    const hg_ctext plain = *out;
    hg_ctext_set(out, "(%s - %s)", plain.text, zero.text);
}

static bool matmul_i8_write(hg_source *s, const hg_args *a)
{
    const int64_t k = a->in[0].dim[a->in[0].rank - 1];
    hg_ctext x, y;
    int levels = hg_source_for_dims(s, &a->out[0], 0, a->out[0].rank);
    matmul_i8_operand(s, a, 0, k, &x);
    matmul_i8_operand(s, a, 1, k, &y);
    hg_source_line(s, "uint32_t r = 0;");
    int inner = hg_source_for(s, "k", k);
    hg_source_line(s, "r += (uint32_t)(%s * %s);", x.text, y.text);
    hg_source_close(s, inner);
    bool ok = hg_source_finish(s, "(int32_t)r", 4);
    hg_source_close(s, levels);
    return ok;
}

const hg_source_kernel hg_source_kernels_matmul[] = {
    {"matmul", matmul_write},
    {"matmul.f64", matmul_write},
    {"matmul.i8", matmul_i8_write},
    {0},
};
