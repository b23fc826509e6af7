/* move.c - kernels that move elements: copies with strides, concatenation, gathering, borders. */
#include "kernel/pad.h"
#include "kernel/table.h"
#include "source/source.h"

#include <inttypes.h>
#include <stdio.h>

static bool move_fits(hg_source *s, const hg_args *a)
{
    if (strcmp(hg_source_ctype(a->in[0].dtype), hg_source_ctype(a->out[0].dtype)) == 0) return true;
    return hg_source_refuse(s, "%s seen as %s", holo_dtype_text(a->in[0].dtype),
                            holo_dtype_text(a->out[0].dtype));
}

/* The loops of a copy, whose parameters are those from `first` on; `open` and `close` are written
 * around each element. */
static void copy_loops(hg_source *s, const hg_args *a, uint32_t first, const char *open,
                       const char *close)
{
    const int64_t *param = a->param + first;
    const uint32_t loops = (a->n_param - first - 1) / 2;
    hg_ctext index = {"0"};
    char name[16];
    int levels = 0;
    for (uint32_t i = 0; i < loops; i++) {
        char v[16];
        snprintf(v, sizeof v, "i%" PRIu32, i);
        hg_source_add(&index, v, param[1 + 2 * i], param[2 + 2 * i]);
    }
    hg_source_line(s, "int32_t k = 0;");
    for (uint32_t i = 0; i < loops; i++) {
        char v[16];
        snprintf(v, sizeof v, "i%" PRIu32, i);
        levels += hg_source_for(s, v, param[1 + 2 * i]);
    }
    if (param[0] != 0) hg_ctext_add(&index, " + %" PRId64, param[0]);
    hg_source_line(s, "y0[k] = %s%s[%s]%s;", open, hg_source_in(s, 0, name), index.text, close);
    hg_source_line(s, "k++;");
    hg_source_close(s, levels);
}

static bool copy_write(hg_source *s, const hg_args *a)
{
    if (!move_fits(s, a)) return false;
    copy_loops(s, a, 0, "", "");
    return true;
}

static bool table_copy_write(hg_source *s, const hg_args *a)
{
    const holo_tensor *t = &a->in[1], *out = &a->out[0];
    const int axis = (int)a->param[HG_TABLE_AXIS];
    char name[16];
    hg_ctext entry;
    if (t->dim[t->rank - 1] != 256)
        return hg_source_refuse(s, "a table of %" PRId64 " entries for codes that are moved",
                                t->dim[t->rank - 1]);
    hg_source_in(s, 1, name);
    if (t->rank == 1)
        hg_ctext_set(&entry, "%s[(uint8_t)", name);
    else
        hg_ctext_set(&entry, "%s[k / %" PRId64 " %% %" PRId64 " * 256 + (uint8_t)", name,
                     hg_max(1, hg_dims_product(out, axis + 1, out->rank)), t->dim[0]);
    copy_loops(s, a, HG_TABLE_PARAMS, entry.text, "]");
    return true;
}

static bool concat_write(hg_source *s, const hg_args *a)
{
    const holo_tensor *out = &a->out[0];
    const int axis = (int)a->param[0];
    const int64_t outer = hg_dims_product(out, 0, axis);
    const int64_t inner = hg_dims_product(out, axis + 1, out->rank), row = out->dim[axis] * inner;
    int64_t at = 0;
    int levels = hg_source_for(s, "i", outer);
    for (uint32_t i = 0; i < a->n_in; i++) {
        const int64_t part = a->in[i].dim[axis] * inner;
        hg_ctext to, from;
        char name[16];
        if (part == 0) continue;
        hg_ctext_set(&to, "0");
        hg_source_add(&to, "i", outer, row);
        if (at != 0) hg_ctext_add(&to, " + %" PRId64, at);
        hg_ctext_set(&from, "%s", hg_source_in(s, i, name));
        hg_source_add(&from, "i", outer, part);
        hg_source_line(s, "memcpy(y0 + %s, %s, %" PRId64 " * sizeof *y0);", to.text, from.text,
                       part);
        at += part;
    }
    hg_source_close(s, levels);
    return true;
}

static bool gather_write(hg_source *s, const hg_args *a)
{
    const holo_tensor *data = &a->in[0];
    const int axis = (int)a->param[0];
    const int64_t outer = hg_dims_product(data, 0, axis), size = data->dim[axis];
    const int64_t inner = hg_dims_product(data, axis + 1, data->rank);
    const int64_t count = holo_tensor_count(&a->in[1]);
    hg_ctext index, from = {"0"}, to = {"0"};
    char name[16];
    int levels = hg_source_for(s, "i", outer);
    levels += hg_source_for(s, "j", count);
    hg_source_load(s, &index, 1, count == 1 ? "0" : "j");
    hg_source_place(s, index.text, size);
    hg_source_add(&from, "i", outer, size * inner);
    hg_source_add(&from, "place", 2, inner);
    hg_source_add(&to, "i", outer, count * inner);
    hg_source_add(&to, "j", count, inner);
    hg_source_line(s, "memcpy(y0 + %s, %s + %s, %" PRId64 " * sizeof *y0);", to.text,
                   hg_source_in(s, 0, name), from.text, inner);
    hg_source_close(s, levels);
    return true;
}

static bool gatherelements_write(hg_source *s, const hg_args *a)
{
    const holo_tensor *data = &a->in[0], *out = &a->out[0];
    const bool labels = a->param[0] < 0;
    const int axis = (int)(labels ? -1 - a->param[0] : a->param[0]);
    hg_ctext index, load, from = {"0"};
    char name[16];
    int64_t stride = 1;
    int levels = hg_source_for_dims(s, out, 0, out->rank);
    hg_source_at(&index, out, out);
    hg_source_load(s, &load, 1, index.text);
    hg_source_place(s, load.text, data->dim[axis]);
    if (labels) hg_source_line(s, "if (index < 0) return 1;");
    for (int d = data->rank - 1; d >= 0; d--) {
        char v[16];
        snprintf(v, sizeof v, "i%d", d);
        bool is_axis = d == axis;
        hg_source_add(&from, is_axis ? "place" : v, is_axis ? 2 : out->dim[d], stride);
        stride *= data->dim[d];
    }
    hg_source_line(s, "y0[%s] = %s[%s];", index.text, hg_source_in(s, 0, name), from.text);
    hg_source_close(s, levels);
    return true;
}

/* Which element of dimension d each place of the output holds, as a table from_<d>; -1 is the
 * border's constant. A dimension that is not padded has none. */
static bool pad_table(hg_source *s, const hg_args *a, int d)
{
    const int64_t n = a->out[0].dim[d];
    char name[20];
    bool is_plain = n == a->in[0].dim[d] && a->param[1 + d] == 0;
    if (is_plain) return false;
    int64_t *from = hg_arena_array(s->arena, (size_t)n, sizeof *from);
    for (int64_t i = 0; from != NULL && i < n; i++)
        from[i] = hg_pad_source(a, d, i);
    snprintf(name, sizeof name, "from_%d", d);
    if (from != NULL) hg_source_table(s, name, from, n);
    return true;
}

static bool pad_write(hg_source *s, const hg_args *a)
{
    const holo_tensor *in = &a->in[0], *out = &a->out[0];
    bool has_table[HG_MAX_RANK] = {false};
    hg_ctext at, from = {"0"}, outside = {{0}};
    char name[16], value[16];
    int64_t stride = 1;
    for (int d = 0; d < in->rank; d++)
        has_table[d] = pad_table(s, a, d);
    int levels = hg_source_for_dims(s, out, 0, out->rank);
    for (int d = in->rank - 1; d >= 0; d--) {
        hg_ctext v;
        if (!has_table[d])
            hg_ctext_set(&v, "i%d", d);
        else if (out->dim[d] == 1)
            hg_ctext_set(&v, "from_%d[0]", d);
        else
            hg_ctext_set(&v, "from_%d[i%d]", d, d);
        hg_source_add(&from, v.text, has_table[d] ? 2 : out->dim[d], stride);
        if (has_table[d])
            hg_ctext_add(&outside, "%s%s < 0", outside.text[0] == '\0' ? "" : " || ", v.text);
        stride *= in->dim[d];
    }
    hg_source_at(&at, out, out);
    if (a->param[0] == 0 && outside.text[0] != '\0') /* a constant border */
        hg_source_line(s, "y0[%s] = %s ? %s%s : %s[%s];", at.text, outside.text,
                       hg_args_has(a, 1) ? hg_source_in(s, 1, value) : "0",
                       hg_args_has(a, 1) ? "[0]" : "", hg_source_in(s, 0, name), from.text);
    else
        hg_source_line(s, "y0[%s] = %s[%s];", at.text, hg_source_in(s, 0, name), from.text);
    hg_source_close(s, levels);
    return true;
}

const hg_source_kernel hg_source_kernels_move[] = {
    {"copy.strided", copy_write},
    {"copy.bytes", copy_write},
    {"copy.halves", copy_write},
    {"copy.words", copy_write},
    {"table.copy", table_copy_write},
    {"concat", concat_write},
    {"gather", gather_write},
    {"gatherelements", gatherelements_write},
    {"pad", pad_write},
    {0},
};
