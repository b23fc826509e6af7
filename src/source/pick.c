/* pick.c - kernels that pick elements by place: gathernd, onehot, reversesequence, topk, trilu. */
#include "source/source.h"

#include <inttypes.h>
#include <stdio.h>

static bool gathernd_write(hg_source *s, const hg_args *a)
{
    const holo_tensor *data = &a->in[0], *index = &a->in[1];
    const int batch = (int)a->param[0];
    const int64_t tuple = index->dim[index->rank - 1];
    const int64_t inner = hg_dims_product(data, batch + (int)tuple, data->rank);
    const int64_t tuples = hg_dims_product(index, 0, index->rank - 1);
    const int64_t per_batch = hg_dims_product(index, batch, index->rank - 1);
    hg_ctext start = {"0"}, to = {"0"};
    char name[16];
    int levels = hg_source_for(s, "i", tuples);
    if (tuples != per_batch) hg_ctext_set(&start, per_batch == 1 ? "i" : "i / %" PRId64, per_batch);
    hg_source_tuple(s, tuples, tuple, data->dim + batch, start.text);
    hg_source_add(&to, "i", tuples, inner);
    hg_source_line(s, "memcpy(y0 + %s, %s + at * %" PRId64 ", %" PRId64 " * sizeof *y0);", to.text,
                   hg_source_in(s, 0, name), inner, inner);
    hg_source_close(s, levels);
    return true;
}

/* An index of any number type, cut off to an integer. */
static void onehot_index(hg_source *s, const hg_args *a, const char *at)
{
    const bool is_float = hg_dtype_is_float(a->in[0].dtype);
    hg_ctext load;
    hg_source_load(s, &load, 0, at);
    if (!is_float) {
        hg_source_line(s, "const int64_t index = (int64_t)%s;", load.text);
        return;
    }
    hg_source_line(s, "const double number = (double)%s;", load.text);
    hg_source_line(s,
                   "const int64_t index = number >= -0x1p63 && number < 0x1p63 ? (int64_t)number "
                   ": INT64_MIN;");
}

static bool onehot_write(hg_source *s, const hg_args *a)
{
    const holo_tensor *out = &a->out[0];
    const int axis = (int)a->param[0];
    const int64_t outer = hg_dims_product(out, 0, axis), depth = out->dim[axis];
    const int64_t inner = hg_dims_product(out, axis + 1, out->rank);
    hg_ctext at = {"0"}, to = {"0"};
    char name[16];
    int levels = hg_source_for(s, "i", outer);
    levels += hg_source_for(s, "j", inner);
    hg_source_add(&at, "i", outer, inner);
    hg_source_add(&at, "j", inner, 1);
    onehot_index(s, a, at.text);
    hg_source_line(s,
                   "const int64_t place = index < 0 && index >= -%" PRId64 " ? index + %" PRId64
                   " : index;",
                   depth, depth);
    hg_source_add(&to, "i", outer, depth * inner);
    hg_source_add(&to, "d", depth, inner);
    hg_source_add(&to, "j", inner, 1);
    const char *values = hg_source_in(s, 2, name);
    levels += hg_source_for(s, "d", depth);
    hg_source_line(s, "y0[%s] = %s[place == %s ? 1 : 0];", to.text, values, depth == 1 ? "0" : "d");
    hg_source_close(s, levels);
    return true;
}

static bool reversesequence_write(hg_source *s, const hg_args *a)
{
    const holo_tensor *in = &a->in[0];
    const int time = (int)a->param[1];
    const int64_t inner = hg_dims_product(in, 2, in->rank), steps = in->dim[time];
    const char *of[2] = {in->dim[0] == 1 ? "0" : "i0", in->dim[1] == 1 ? "0" : "i1"};
    hg_ctext length, from = {"0"}, to = {"0"};
    char name[16];
    s->faults[s->step] = 1;
    int levels = hg_source_for_dims(s, in, 0, 2);
    hg_source_load(s, &length, 1, of[1 - time]);
    hg_source_line(s, "const int64_t length = %s;", length.text);
    hg_source_line(s, "if (length < 0 || length > %" PRId64 ") return 1;", steps);
    hg_source_line(s, "const int64_t t = %s < length ? length - 1 - %s : %s;", of[time], of[time],
                   of[time]);
    hg_source_add(&from, time == 0 ? "t" : of[0], time == 0 ? 2 : in->dim[0], in->dim[1] * inner);
    hg_source_add(&from, time == 1 ? "t" : of[1], time == 1 ? 2 : in->dim[1], inner);
    hg_source_add(&to, "i0", in->dim[0], in->dim[1] * inner);
    hg_source_add(&to, "i1", in->dim[1], inner);
    hg_source_line(s, "memcpy(y0 + %s, %s + %s, %" PRId64 " * sizeof *y0);", to.text,
                   hg_source_in(s, 0, name), from.text, inner);
    hg_source_close(s, levels);
    return true;
}

/* Whether element v comes before element w; of equal ones the first stays in front. */
static const char *topk_before(const hg_args *a)
{
    const bool is_float = hg_dtype_is_float(a->in[0].dtype), is_largest = a->param[1] != 0;
    if (!is_float) return is_largest ? "v > w" : "v < w";
    return is_largest ? "v > w || (v != v && w == w)" : "v < w || (w != w && v == v)";
}

/* best[0 .. k): places of the best so far, in order; each element finds its place from the end. */
static void topk_insert(hg_source *s, const hg_args *a, int64_t n, int64_t k, int64_t inner)
{
    const char *type = hg_source_lane_ctype(hg_lane_type_of(a->in[0].dtype));
    hg_ctext at = {"row"}, before = {"row"}, v, w;
    hg_ctext_add(&at, " + (int64_t)j * %" PRId64, inner);
    hg_ctext_add(&before, " + (int64_t)best[p - 1] * %" PRId64, inner);
    hg_source_load(s, &v, 0, at.text);
    hg_source_load(s, &w, 0, before.text);
    hg_source_open(s, "for (int32_t j = 0; j < %" PRId64 "; j++)", n);
    hg_source_line(s, "const %s v = %s;", type, v.text);
    hg_source_line(s, "int32_t p = j < %" PRId64 " ? j : %" PRId64 ";", k, k);
    hg_source_open(s, "for (; p > 0; p--)");
    hg_source_line(s, "const %s w = %s;", type, w.text);
    hg_source_line(s, "if (!(%s)) break;", topk_before(a));
    hg_source_line(s, "if (p < %" PRId64 ") best[p] = best[p - 1];", k);
    hg_source_close(s, 1);
    hg_source_line(s, "if (p < %" PRId64 ") best[p] = j;", k);
    hg_source_close(s, 1);
}

static bool topk_write(hg_source *s, const hg_args *a)
{
    const holo_tensor *x = &a->in[0];
    const bool has_values = a->out[0].dtype != HOLO_NONE;
    const holo_tensor *out = &a->out[has_values ? 0 : 1];
    const int axis = (int)a->param[0];
    const int64_t outer = hg_dims_product(x, 0, axis),
                  inner = hg_dims_product(x, axis + 1, x->rank);
    const int64_t n = x->dim[axis], k = out->dim[axis];
    hg_ctext row = {"0"}, to = {"0"};
    char name[16];
    hg_source_add(&row, "i", outer, n * inner);
    hg_source_add(&row, "c", inner, 1);
    hg_source_add(&to, "i", outer, k * inner);
    hg_source_add(&to, "p", 2, inner);
    hg_source_add(&to, "c", inner, 1);
    hg_source_line(s, "static int32_t best[%" PRId64 "];", k);
    int levels = hg_source_for(s, "i", outer);
    levels += hg_source_for(s, "c", inner);
    hg_source_line(s, "const int64_t row = %s;", row.text);
    topk_insert(s, a, n, k, inner);
    hg_source_open(s, "for (int32_t p = 0; p < %" PRId64 "; p++)", k);
    if (has_values)
        hg_source_line(s, "y0[%s] = %s[row + (int64_t)best[p] * %" PRId64 "];", to.text,
                       hg_source_in(s, 0, name), inner);
    if (a->n_out > 1 && a->out[1].dtype != HOLO_NONE)
        hg_source_line(s, "y1[%s] = best[p];", to.text);
    hg_source_close(s, levels + 1);
    return true;
}

static bool trilu_write(hg_source *s, const hg_args *a)
{
    const holo_tensor *in = &a->in[0];
    const int64_t rows = in->dim[in->rank - 2], cols = in->dim[in->rank - 1];
    const int64_t k = hg_max(-rows, hg_min(cols, a->param[1]));
    hg_ctext at;
    char name[16], row[16] = "0", col[16] = "0";
    if (rows != 1) snprintf(row, sizeof row, "i%d", in->rank - 2);
    if (cols != 1) snprintf(col, sizeof col, "i%d", in->rank - 1);
    int levels = hg_source_for_dims(s, in, 0, in->rank);
    hg_source_at(&at, in, in);
    hg_source_line(s, "y0[%s] = %s %s %s + %" PRId64 " ? %s[%s] : 0;", at.text, col,
                   a->param[0] != 0 ? ">=" : "<=", row, k, hg_source_in(s, 0, name), at.text);
    hg_source_close(s, levels);
    return true;
}

const hg_source_kernel hg_source_kernels_pick[] = {
    {"gathernd", gathernd_write},
    {"onehot", onehot_write},
    {"reversesequence", reversesequence_write},
    {"topk", topk_write},
    {"trilu", trilu_write},
    {0},
};
