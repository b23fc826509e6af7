/* maxunpool.c - maxunpool: puts elements where MaxPool found them; everything else is 0.
 *
 *   in[0]   X, f32, f64, f16 or bf16
 *   in[1]   places, int64, X's shape: flat indices into a tensor of the sizes in param
 *   param   one size for each dimension of the output
 *   out[0]  Y, X's type; a place outside Y is an error
 *
 * Of two elements for one place the last wins. */
#include "kernel/elem.h"

static holo_status maxunpool_check(const hg_args *a, holo_error *e)
{
    HG_TRY(hg_check_in_type(a, e, 0, HG_TYPES_FLOAT));
    const holo_tensor *x = &a->in[0];
    HG_TRY(hg_check_counts(a, e, 2, 2, 1, x->rank));
    HG_TRY(hg_check_in_type(a, e, 1, HG_TYPE_BIT(HOLO_I64)));
    HG_TRY(hg_check_same_shape(&a->in[1], x, e, "indices"));
    HG_TRY(hg_check_out_type(a, e, 0, HG_TYPES_FLOAT));
    HG_TRY(hg_check_same_type(&a->out[0], x, e, "output"));
    HG_TRY(hg_check_rank(&a->out[0], e, "output", x->rank, x->rank));
    int64_t count = 1;
    for (int d = 0; d < x->rank; d++) {
        HG_TRY(hg_check_param(a, e, (uint32_t)d, "size", 0, INT64_MAX));
        HG_REQUIRE(e, hg_mul_i64(count, hg_max(a->param[d], 1), &count), HOLO_E_SHAPE,
                   "the sizes of the places are too large");
    }
    return HOLO_OK;
}

static int64_t maxunpool_units(const hg_args *a)
{
    return holo_tensor_count(&a->out[0]) == 0 ? 0 : 1;
}

static void maxunpool_run(const hg_args *a, hg_range r)
{
    if (r.begin >= r.end) return;
    const holo_tensor *x = &a->in[0], *y = &a->out[0];
    const uint32_t bits = hg_dtype_bits(x->dtype);
    const int64_t n = holo_tensor_count(x);
    int64_t count = 1;
    for (int d = 0; d < x->rank; d++)
        count *= a->param[d];
    memset(y->data, 0, holo_tensor_bytes(y));
    for (int64_t i = 0; i < n; i++) {
        int64_t rest = ((const int64_t *)a->in[1].data)[i], at = 0, stride = 1;
        bool inside = rest >= 0 && rest < count;
        for (int d = x->rank - 1; d >= 0 && inside; d--) {
            inside = rest % a->param[d] < y->dim[d];
            at += rest % a->param[d] * stride;
            rest /= a->param[d];
            stride *= y->dim[d];
        }
        if (inside)
            hg_elem_copy(y->data, at, x->data, i, 1, bits);
        else
            hg_fault_range(a->fault, "index", i, ((const int64_t *)a->in[1].data)[i], 0, count - 1);
    }
}

const hg_kernel hg_kernels_maxunpool[] = {
    {.name = "maxunpool", .check = maxunpool_check, .units = maxunpool_units, .run = maxunpool_run},
    {0},
};
