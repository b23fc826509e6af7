/* concat.c - concat: inputs side by side along one axis.
 *
 *   in[i]   tensors of one type that agree in all dims but `axis`
 *   param   axis
 *   out[0]  its dim `axis` is the sum of theirs */
#include "kernel/elem.h"

enum { CONCAT_BLOCK = 16384 }; /* elements of a unit; packed elements of two units share no byte */

static holo_status concat_check(const hg_args *a, holo_error *e)
{
    HG_TRY(hg_check_counts(a, e, 1, -1, 1, 1));
    HG_TRY(hg_check_out_type(a, e, 0, HG_TYPES_ANY));
    const holo_tensor *out = &a->out[0];
    HG_TRY(hg_check_param(a, e, 0, "axis", 0, (int64_t)out->rank - 1));
    int64_t sum = 0;
    const int axis = (int)a->param[0];
    for (uint32_t i = 0; i < a->n_in; i++) {
        const holo_tensor *in = &a->in[i];
        HG_TRY(hg_check_in_type(a, e, i, HG_TYPES_ANY));
        HG_TRY(hg_check_same_type(in, out, e, "input"));
        HG_TRY(hg_check_rank(in, e, "input", out->rank, out->rank));
        for (int k = 0; k < out->rank; k++)
            HG_REQUIRE(e, k == axis || in->dim[k] == out->dim[k], HOLO_E_SHAPE,
                       "dimension %d of input %u is %lld, expected %lld", k, i,
                       (long long)in->dim[k], (long long)out->dim[k]);
        HG_REQUIRE(e, hg_add_i64(sum, in->dim[axis], &sum), HOLO_E_SHAPE, "too many elements");
    }
    HG_REQUIRE(e, out->dim[axis] == sum, HOLO_E_SHAPE,
               "dimension %d of the output is %lld, expected %lld", axis, (long long)out->dim[axis],
               (long long)sum);
    return HOLO_OK;
}

static int64_t concat_units(const hg_args *a)
{
    return hg_ceil_div(holo_tensor_count(&a->out[0]), CONCAT_BLOCK);
}

static void concat_run(const hg_args *a, hg_range r)
{
    const holo_tensor *out = &a->out[0];
    const int axis = (int)a->param[0];
    const int64_t inner = hg_dims_product(out, axis + 1, out->rank), row = out->dim[axis] * inner;
    const uint32_t bits = hg_dtype_bits(out->dtype);
    int64_t at = r.begin * CONCAT_BLOCK;
    const int64_t end = hg_min(r.end * CONCAT_BLOCK, holo_tensor_count(out));
    if (at >= end) return;
    int64_t outer = at / row, within = at % row;
    uint32_t i = 0;
    while (at < end) {
        const int64_t part = a->in[i].dim[axis] * inner;
        if (within < part) {
            int64_t n = hg_min(part - within, end - at);
            hg_elem_copy(out->data, at, a->in[i].data, outer * part + within, n, bits);
            at += n;
            within = part;
        }
        within -= part;
        i++;
        if (i == a->n_in) {
            i = 0;
            outer++;
        }
    }
}

const hg_kernel hg_kernels_concat[] = {
    {.name = "concat",
     .flags = HG_KERNEL_APPEND,
     .check = concat_check,
     .units = concat_units,
     .run = concat_run},
    {0},
};
