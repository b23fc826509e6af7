/* tensorscatter.c - tensorscatter: a cache with new rows written from given places on.
 *
 *   in[0]  cache [B, ..., S, ...], any type; in[1] rows [B, ..., T, ...], T <= S
 *   in[2]  places [B] int64, may be absent: 0
 *   param  axis (at least 1), circular: places beyond S begin again at 0
 *   out[0] as the cache
 *
 * A place that does not fit is an error; rows beyond it are not written. A unit is one sample, or
 * all of them when elements share bytes. */
#include "kernel/elem.h"

static holo_status tensorscatter_check(const hg_args *a, holo_error *e)
{
    const hg_types types = HG_TYPES_ANY;
    HG_TRY(hg_check_counts(a, e, 2, 3, 1, 2));
    HG_TRY(hg_check_in_type(a, e, 0, types));
    HG_TRY(hg_check_in_type(a, e, 1, types));
    HG_TRY(hg_check_out_type(a, e, 0, types));
    const holo_tensor *x = &a->in[0], *rows = &a->in[1];
    HG_TRY(hg_check_same_type(rows, x, e, "update"));
    HG_TRY(hg_check_same_type(&a->out[0], x, e, "output"));
    HG_TRY(hg_check_same_shape(&a->out[0], x, e, "output"));
    HG_TRY(hg_check_rank(rows, e, "update", x->rank, x->rank));
    HG_TRY(hg_check_param(a, e, 0, "axis", 1, x->rank - 1));
    HG_TRY(hg_check_param(a, e, 1, "circular", 0, 1));
    for (int d = 0; d < x->rank; d++)
        HG_REQUIRE(e, d == a->param[0] ? rows->dim[d] <= x->dim[d] : rows->dim[d] == x->dim[d],
                   HOLO_E_SHAPE, "dimension %d of the update is %lld, the cache has %lld", d,
                   (long long)rows->dim[d], (long long)x->dim[d]);
    if (!hg_args_has(a, 2)) return HOLO_OK;
    HG_TRY(hg_check_in_type(a, e, 2, HG_TYPE_BIT(HOLO_I64)));
    HG_REQUIRE(e, a->in[2].rank == 1 && a->in[2].dim[0] == x->dim[0], HOLO_E_SHAPE,
               "%lld places, expected %lld", (long long)holo_tensor_count(&a->in[2]),
               (long long)x->dim[0]);
    return HOLO_OK;
}

static int64_t tensorscatter_units(const hg_args *a)
{
    if (holo_tensor_count(&a->out[0]) == 0) return 0;
    return hg_elem_is_packed(&a->out[0]) ? 1 : a->out[0].dim[0];
}

static void tensorscatter_run(const hg_args *a, hg_range r)
{
    const holo_tensor *x = &a->in[0], *rows = &a->in[1], *y = &a->out[0];
    const int axis = (int)a->param[0];
    const uint32_t bits = hg_dtype_bits(x->dtype);
    const int64_t outer = hg_dims_product(x, 1, axis),
                  inner = hg_dims_product(x, axis + 1, x->rank);
    const int64_t size = x->dim[axis], count = rows->dim[axis], sample = outer * size * inner;
    if (bits < 8) r.end = r.begin < r.end ? x->dim[0] : 0;
    for (int64_t u = r.begin; u < r.end; u++) {
        const int64_t first = hg_args_has(a, 2) ? ((const int64_t *)a->in[2].data)[u] : 0;
        hg_elem_copy(y->data, u * sample, x->data, u * sample, sample, bits);
        if (first < 0 || (a->param[1] == 0 && first > size - count)) {
            hg_fault_range(a->fault, "write index", u, first, 0, size - count);
            continue;
        }
        for (int64_t i = 0; i < outer * count; i++) {
            const int64_t place = (first % size + i % count) % size, plane = u * outer + i / count;
            hg_elem_copy(y->data, (plane * size + place) * inner, rows->data,
                         (plane * count + i % count) * inner, inner, bits);
        }
    }
}

const hg_kernel hg_kernels_tensorscatter[] = {
    {.name = "tensorscatter",
     .check = tensorscatter_check,
     .units = tensorscatter_units,
     .run = tensorscatter_run},
    {0},
};
