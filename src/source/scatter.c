/* scatter.c - kernels that write to places that indices name: scatterelements, scatternd. */
#include "source/source.h"

#include <inttypes.h>
#include <stdio.h>

/* The output begins as the data is. */
static void scatter_copy(hg_source *s, const hg_args *a)
{
    char name[16];
    hg_source_line(s, "memcpy(y0, %s, %" PRId64 " * sizeof *y0);", hg_source_in(s, 0, name),
                   holo_tensor_count(&a->in[0]));
}

/* Element `to` of the output becomes element `from` of the updates, or both combined. */
static bool scatter_apply(hg_source *s, const hg_args *a, const char *to, const char *from)
{
    hg_ctext old, element, update;
    char name[16];
    if (a->code == NULL) {
        hg_source_line(s, "y0[%s] = %s[%s];", to, hg_source_in(s, 2, name), from);
        return true;
    }
    hg_ctext_set(&element, "y0[%s]", to);
    hg_source_widen(s, &old, a->out[0].dtype, element.text);
    hg_source_load(s, &update, 2, from);
    return hg_source_combine(s, old.text, update.text, to);
}

static bool scatterelements_write(hg_source *s, const hg_args *a)
{
    const holo_tensor *data = &a->in[0], *index = &a->in[1];
    const int axis = (int)a->param[0];
    hg_ctext at, load, to = {"0"};
    int64_t stride = 1;
    scatter_copy(s, a);
    int levels = hg_source_for_dims(s, index, 0, index->rank);
    hg_source_at(&at, index, index);
    hg_source_load(s, &load, 1, at.text);
    hg_source_place(s, load.text, data->dim[axis]);
    for (int d = data->rank - 1; d >= 0; d--) {
        char v[16];
        snprintf(v, sizeof v, "i%d", d);
        hg_source_add(&to, d == axis ? "place" : v, d == axis ? 2 : index->dim[d], stride);
        stride *= data->dim[d];
    }
    bool ok = scatter_apply(s, a, to.text, at.text);
    hg_source_close(s, levels);
    return ok;
}

static bool scatternd_write(hg_source *s, const hg_args *a)
{
    const holo_tensor *data = &a->in[0], *index = &a->in[1];
    const int64_t tuple = index->dim[index->rank - 1],
                  inner = hg_dims_product(data, (int)tuple, data->rank);
    const int64_t tuples = hg_dims_product(index, 0, index->rank - 1);
    hg_ctext to = {"0"}, from = {"0"};
    scatter_copy(s, a);
    int levels = hg_source_for(s, "i", tuples);
    hg_source_tuple(s, tuples, tuple, data->dim, "0");
    levels += hg_source_for(s, "k", inner);
    hg_source_add(&to, "at", 2, inner);
    hg_source_add(&to, "k", inner, 1);
    hg_source_add(&from, "i", tuples, inner);
    hg_source_add(&from, "k", inner, 1);
    bool ok = scatter_apply(s, a, to.text, from.text);
    hg_source_close(s, levels);
    return ok;
}

const hg_source_kernel hg_source_kernels_scatter[] = {
    {"scatterelements", scatterelements_write},
    {"scatternd", scatternd_write},
    {0},
};
