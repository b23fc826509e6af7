/* cumulate.c - the kernels "cumsum" and "cumprod" as loops, in the order of the axis. */
#include "source/source.h"

#include <inttypes.h>

/* y[at] from the result before it and one element; integers wrap. */
static void cumulate_next(hg_source *s, const hg_args *a, char sign, const char *from)
{
    const holo_dtype dtype = a->in[0].dtype;
    hg_ctext old, x, value;
    hg_source_widen(s, &old, dtype, "y0[at - step]");
    hg_source_load(s, &x, 0, from);
    if (hg_dtype_is_float(dtype)) {
        hg_ctext_set(&value, "%s %c %s", old.text, sign, x.text);
    } else {
        const int bits = (int)hg_dtype_bits(dtype);
        hg_ctext_set(&value, "(%s)((uint%d_t)%s %c (uint%d_t)%s)", hg_source_ctype(dtype), bits,
                     old.text, sign, bits, x.text);
    }
    hg_source_store(s, 0, "at", value.text, false);
}

static bool cumulate_write(hg_source *s, const hg_args *a, char sign, const char *neutral)
{
    const holo_tensor *in = &a->in[0];
    const int axis = (int)a->param[0];
    const bool has_own = a->param[1] == 0, is_reverse = a->param[2] != 0;
    const int64_t outer = hg_dims_product(in, 0, axis), n = in->dim[axis];
    const int64_t inner = hg_dims_product(in, axis + 1, in->rank);
    hg_ctext at = {"0"}, first;
    hg_source_line(s, "const int64_t step = %" PRId64 ";", is_reverse ? -inner : inner);
    int levels = hg_source_for(s, "i", outer);
    levels += hg_source_for(s, "j", inner);
    hg_source_add(&at, "i", outer, n * inner);
    hg_source_add(&at, "j", inner, 1);
    if (is_reverse) hg_ctext_add(&at, " + %" PRId64, (n - 1) * inner);
    hg_source_line(s, "int64_t at = %s;", at.text);
    hg_ctext_set(&first, "%s", neutral);
    if (has_own) hg_source_load(s, &first, 0, "at");
    hg_source_store(s, 0, "at", first.text, false);
    hg_source_open(s, "for (int32_t k = 1; k < %" PRId64 "; k++)", n);
    hg_source_line(s, "at += step;");
    cumulate_next(s, a, sign, has_own ? "at" : "at - step");
    hg_source_close(s, levels + 1);
    return true;
}

static bool cumsum_write(hg_source *s, const hg_args *a)
{
    return cumulate_write(s, a, '+', "0");
}

static bool cumprod_write(hg_source *s, const hg_args *a)
{
    return cumulate_write(s, a, '*', "1");
}

const hg_source_kernel hg_source_kernels_cumulate[] = {
    {"cumprod", cumprod_write},
    {"cumsum", cumsum_write},
    {0},
};
