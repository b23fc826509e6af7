/* resize.c - the kernel "resize" as loops over tables: where each output looks along each axis. */
#include "kernel/resize.h"
#include "source/source.h"

#include <inttypes.h>
#include <stdio.h>

/* static const double weight_<d>[n * most]. */
static void resize_weights(hg_source *s, int d, const double *weight, int64_t n)
{
    hg_ctext line, number;
    hg_source_line(s, "static const double weight_%d[%" PRId64 "] = {", d, n);
    for (int64_t i = 0; i < n;) {
        hg_ctext_set(&line, "    ");
        for (; i < n && strlen(line.text) < 76; i++) {
            hg_source_f64(&number, weight[i]);
            hg_ctext_add(&line, "%s,%s", number.text, i + 1 < n ? " " : "");
        }
        hg_source_line(s, "%s", line.text);
    }
    hg_source_line(s, "};");
}

/* Tables of dimension d: count_<d>[o], from_<d>[o * most + k] and weight_<d>, the last two for
 * weighted means. */
static bool resize_tables(hg_source *s, const hg_args *a, int d, bool is_nearest)
{
    const int64_t most = hg_resize_most_taps(a, d), n = a->out[0].dim[d];
    char name[20];
    if (most == 0) return true;
    const size_t room = (size_t)(n * most) + 1;
    int64_t *count = hg_arena_array(s->arena, (size_t)n + 1, sizeof *count);
    int64_t *from = hg_arena_array(s->arena, room, sizeof *from);
    double *weight = hg_arena_array(s->arena, room, sizeof *weight);
    hg_resize_tap *tap = hg_arena_array(s->arena, (size_t)most + 1, sizeof *tap);
    if (count == NULL || from == NULL || weight == NULL || tap == NULL)
        return hg_source_refuse(s, "out of memory");
    for (int64_t o = 0; o < n; o++) {
        count[o] = hg_resize_taps_of(a, d, o, tap);
        for (int64_t k = 0; k < count[o]; k++) {
            from[o * most + k] = tap[k].index;
            weight[o * most + k] = tap[k].weight;
        }
    }
    snprintf(name, sizeof name, "from_%d", d);
    hg_source_table(s, name, from, n * most);
    if (is_nearest) return true;
    snprintf(name, sizeof name, "count_%d", d);
    hg_source_table(s, name, count, n);
    resize_weights(s, d, weight, n * most);
    return true;
}

/* The index of the element at tap k<d> of each axis. */
static void resize_index(const hg_args *a, hg_ctext *out)
{
    int64_t stride = 1;
    hg_ctext_set(out, "0");
    for (int d = a->in[0].rank - 1; d >= 0; d--) {
        const int64_t most = hg_resize_most_taps(a, d);
        hg_ctext v;
        hg_ctext_set(&v, "i%d", d);
        const bool is_one = a->out[0].dim[d] == 1;
        if (most == 1 && is_one) hg_ctext_set(&v, "from_%d[0]", d);
        if (most == 1 && !is_one) hg_ctext_set(&v, "from_%d[i%d]", d, d);
        if (most > 1 && is_one) hg_ctext_set(&v, "from_%d[k%d]", d, d);
        if (most > 1 && !is_one)
            hg_ctext_set(&v, "from_%d[i%d * %" PRId64 " + k%d]", d, d, most, d);
        hg_source_add(out, v.text, most > 0 ? 2 : a->out[0].dim[d], stride);
        stride *= a->in[0].dim[d];
    }
}

/* Loop over the taps of axis d, if it is resized; `weight` grows by its factor. */
static int resize_axis(hg_source *s, const hg_args *a, int d, hg_ctext *weight)
{
    const int64_t most = hg_resize_most_taps(a, d);
    if (most == 0) return 0;
    const bool is_one = a->out[0].dim[d] == 1;
    hg_ctext o;
    hg_ctext_set(&o, "i%d", d);
    if (is_one) hg_ctext_set(&o, "0");
    if (most > 1)
        hg_source_open(s, "for (int32_t k%d = 0; k%d < count_%d[%s]; k%d++)", d, d, d, o.text, d);
    hg_ctext_add(weight, weight->text[0] == '\0' ? "" : " * ");
    if (most == 1)
        hg_ctext_add(weight, "weight_%d[%s]", d, o.text);
    else
        hg_ctext_add(weight, "weight_%d[%s * %" PRId64 " + k%d]", d, o.text, most, d);
    return most > 1 ? 1 : 0;
}

static bool resize_weighted(hg_source *s, const hg_args *a)
{
    const int rank = a->in[0].rank;
    const char *type = a->in[0].dtype == HOLO_F64 ? "double" : "float";
    int last = -1;
    for (int d = 0; d < rank; d++)
        if (hg_resize_most_taps(a, d) != 0) last = d;
    hg_ctext index, load, lead = {{0}}, column = {{0}};
    hg_source_line(s, "%s r = 0;", type);
    int outer = last < 0 ? 0 : resize_axis(s, a, last, &column), inner = 0;
    hg_source_line(s, "%s line = 0;", type);
    for (int d = 0; d < last; d++)
        inner += resize_axis(s, a, d, &lead);
    resize_index(a, &index);
    hg_source_load(s, &load, 0, index.text);
    hg_source_line(s, "line += %s * (%s)(%s);", load.text, type,
                   lead.text[0] == '\0' ? "1" : lead.text);
    hg_source_close(s, inner);
    hg_source_line(s, "r += line * (%s)%s;", type, column.text[0] == '\0' ? "1" : column.text);
    hg_source_close(s, outer);
    return hg_source_finish(s, "r", 1);
}

static bool resize_write(hg_source *s, const hg_args *a)
{
    const bool is_nearest = a->param[HG_RESIZE_PARAM_MODE] == HG_RESIZE_NEAREST;
    hg_ctext at, from;
    char name[20];
    if (a->param[HG_RESIZE_PARAM_COORDINATE] == HG_RESIZE_CROP)
        return hg_source_refuse(s, "tf_crop_and_resize");
    if (!is_nearest && !hg_dtype_in(a->in[0].dtype, HG_TYPES_FLOAT))
        return hg_source_refuse(s, "weighted means of %s", holo_dtype_text(a->in[0].dtype));
    for (int d = 0; d < a->in[0].rank; d++)
        if (!resize_tables(s, a, d, is_nearest)) return false;
    int levels = hg_source_for_dims(s, &a->out[0], 0, a->out[0].rank);
    bool ok = true;
    if (is_nearest) {
        hg_source_at(&at, &a->out[0], &a->out[0]);
        resize_index(a, &from);
        hg_source_line(s, "y0[%s] = %s[%s];", at.text, hg_source_in(s, 0, name), from.text);
    } else {
        ok = resize_weighted(s, a);
    }
    hg_source_close(s, levels);
    return ok;
}

const hg_source_kernel hg_source_kernels_resize[] = {
    {"resize", resize_write},
    {0},
};
