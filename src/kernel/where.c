/* where.c - where: elements of one tensor where a condition holds, of another elsewhere; by element
 * size, for the types that lane code does not know.
 *
 *   in      condition (bool), two tensors of one type; all broadcast to the output
 *   out[0]  of their type */
#include "kernel/elem.h"

static holo_status where_check(const hg_args *a, holo_error *e)
{
    static const char *const name[] = {"condition", "input 1", "input 2"};
    HG_TRY(hg_check_counts(a, e, 3, 3, 1, 0));
    HG_TRY(hg_check_out_type(a, e, 0, HG_TYPES_ANY & ~HG_TYPES_NARROW));
    for (uint32_t i = 0; i < 3; i++) {
        HG_TRY(hg_check_in_type(a, e, i, i == 0 ? HG_TYPES_BOOL : HG_TYPES_ANY));
        if (i > 0) HG_TRY(hg_check_same_type(&a->in[i], &a->out[0], e, name[i]));
        HG_TRY(hg_check_broadcast(&a->in[i], &a->out[0], e, name[i]));
    }
    return HOLO_OK;
}

static int64_t where_units(const hg_args *a)
{
    return holo_tensor_count(&a->out[0]);
}

static void where_run(const hg_args *a, hg_range r)
{
    int64_t stride[3][HG_MAX_RANK];
    const uint32_t bits = hg_dtype_bits(a->out[0].dtype);
    for (uint32_t k = 0; k < 3; k++)
        hg_broadcast_strides(&a->in[k], &a->out[0], stride[k]);
    for (int64_t i = r.begin; i < r.end; i++) {
        const int64_t at = hg_elem_broadcast(&a->out[0], stride[0], i);
        const uint32_t k = ((const uint8_t *)a->in[0].data)[at] != 0 ? 1 : 2;
        const int64_t from = hg_elem_broadcast(&a->out[0], stride[k], i);
        hg_elem_copy(a->out[0].data, i, a->in[k].data, from, 1, bits);
    }
}

const hg_kernel hg_kernels_where[] = {
    {.name = "where", .check = where_check, .units = where_units, .run = where_run},
    {0},
};
