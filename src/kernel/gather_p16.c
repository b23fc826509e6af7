/* gather_p16.c - gather.p16: columns of a packed matrix, picked by index: an embedding whose table
 * is stored once, as the product with it reads it.
 *
 *   in[0]   panels [p, k, 16] of floats, as pack.p16 writes them
 *   in[1]   indices (int32 or int64; negative ones count from the end)
 *   param   number of columns
 *   out[0]  dims of indices, then k
 *
 * An index out of range is a fault; its row is left as it was. */
#include "kernel/elem.h"
#include "kernel/pack.h"

static holo_status gatherp16_check(const hg_args *a, holo_error *e)
{
    HG_TRY(hg_check_counts(a, e, 2, 2, 1, 1));
    HG_TRY(hg_check_in_type(a, e, 0, HG_TYPES_FLOAT));
    HG_TRY(hg_check_in_type(a, e, 1, HG_ELEM_INDEX));
    const holo_tensor *panels = &a->in[0], *index = &a->in[1], *out = &a->out[0];
    HG_TRY(hg_check_out_type(a, e, 0, HG_TYPES_FLOAT));
    HG_TRY(hg_check_same_type(out, panels, e, "output"));
    HG_TRY(hg_check_rank(panels, e, "the panels", 3, 3));
    HG_REQUIRE(e, panels->dim[2] == HG_PANEL, HOLO_E_SHAPE, "panels have %lld columns, expected %d",
               (long long)panels->dim[2], HG_PANEL);
    HG_TRY(hg_check_param(a, e, 0, "number of columns", 0, panels->dim[0] * HG_PANEL));
    HG_TRY(hg_check_rank(out, e, "output", index->rank + 1, index->rank + 1));
    for (int i = 0; i < out->rank; i++) {
        const int64_t expected = i < index->rank ? index->dim[i] : panels->dim[1];
        HG_REQUIRE(e, out->dim[i] == expected, HOLO_E_SHAPE,
                   "dimension %d of the output is %lld, expected %lld", i, (long long)out->dim[i],
                   (long long)expected);
    }
    return HOLO_OK;
}

static int64_t gatherp16_units(const hg_args *a)
{
    return holo_tensor_count(&a->in[1]);
}

/* One of 16 elements of each row of a panel. */
#define GATHERP16_ROW(T)                                                                           \
    for (int64_t p = 0; p < k; p++)                                                                \
    ((T *)a->out[0].data)[row * k + p] = ((const T *)panels->data)[from + p * HG_PANEL]

static void gatherp16_run(const hg_args *a, hg_range r)
{
    const holo_tensor *panels = &a->in[0];
    const int64_t k = panels->dim[1];
    for (int64_t row = r.begin; row < r.end; row++) {
        const int64_t place = hg_elem_place(a, &a->in[1], row, a->param[0]);
        const int64_t from = place / HG_PANEL * k * HG_PANEL + place % HG_PANEL;
        if (place < 0) continue;
        switch (hg_dtype_bits(panels->dtype)) {
        case 16: GATHERP16_ROW(uint16_t); break;
        case 32: GATHERP16_ROW(uint32_t); break;
        default: GATHERP16_ROW(uint64_t); break;
        }
    }
}

const hg_kernel hg_kernels_gather_p16[] = {
    {.name = "gather.p16",
     .check = gatherp16_check,
     .units = gatherp16_units,
     .run = gatherp16_run},
    {0},
};
