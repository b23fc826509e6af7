/* equal.c - equal.string: whether two texts are the same; lane code serves all other types.
 *
 *   in      two string tensors that broadcast to the output
 *   out[0]  bool */
#include "kernel/elem.h"

static holo_status equal_check(const hg_args *a, holo_error *e)
{
    HG_TRY(hg_check_counts(a, e, 2, 2, 1, 0));
    HG_TRY(hg_check_out_type(a, e, 0, HG_TYPES_BOOL));
    for (uint32_t i = 0; i < 2; i++) {
        HG_TRY(hg_check_in_type(a, e, i, HG_TYPES_STRING));
        HG_TRY(hg_check_broadcast(&a->in[i], &a->out[0], e, i == 0 ? "input 0" : "input 1"));
    }
    return HOLO_OK;
}

static int64_t equal_units(const hg_args *a)
{
    return holo_tensor_count(&a->out[0]);
}

static void equal_run(const hg_args *a, hg_range r)
{
    int64_t stride[2][HG_MAX_RANK];
    for (uint32_t k = 0; k < 2; k++)
        hg_broadcast_strides(&a->in[k], &a->out[0], stride[k]);
    for (int64_t i = r.begin; i < r.end; i++) {
        const holo_string *x = a->in[0].data, *y = a->in[1].data;
        x += hg_elem_broadcast(&a->out[0], stride[0], i);
        y += hg_elem_broadcast(&a->out[0], stride[1], i);
        bool same = x->length == y->length &&
                    (x->length == 0 || memcmp(x->text, y->text, (size_t)x->length) == 0);
        ((uint8_t *)a->out[0].data)[i] = same;
    }
}

const hg_kernel hg_kernels_equal[] = {
    {.name = "equal.string", .check = equal_check, .units = equal_units, .run = equal_run},
    {0},
};
