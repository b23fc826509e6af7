/* compress.c - compress: the slices along an axis for which a condition holds.
 *
 *   in[0]   data, in[1] condition (bool, one dimension; behind its end nothing is taken)
 *   param   axis, or -1: data is seen as one row of elements
 *   out[0]  as data, the axis as long as the condition has true elements */
#include "kernel/elem.h"

static holo_status compress_check_in(const hg_args *a, holo_error *e)
{
    HG_TRY(hg_check_counts(a, e, 2, 2, 1, 1));
    HG_TRY(hg_check_in_type(a, e, 0, HG_TYPES_ANY & ~HG_TYPES_NARROW));
    HG_TRY(hg_check_in_type(a, e, 1, HG_TYPES_BOOL));
    HG_TRY(hg_check_rank(&a->in[1], e, "condition", 1, 1));
    return hg_check_param(a, e, 0, "axis", -1, (int64_t)a->in[0].rank - 1);
}

static int64_t compress_extent(const hg_args *a)
{
    return a->param[0] < 0 ? holo_tensor_count(&a->in[0]) : a->in[0].dim[a->param[0]];
}

static holo_status compress_check(const hg_args *a, holo_error *e)
{
    HG_TRY(compress_check_in(a, e));
    HG_TRY(hg_check_out_type(a, e, 0, HG_TYPES_ANY));
    const holo_tensor *in = &a->in[0], *out = &a->out[0];
    const int rank = a->param[0] < 0 ? 1 : in->rank;
    HG_TRY(hg_check_same_type(out, in, e, "output"));
    HG_TRY(hg_check_rank(out, e, "output", rank, rank));
    for (int i = 0; a->param[0] >= 0 && i < rank; i++)
        HG_REQUIRE(e, i == a->param[0] || out->dim[i] == in->dim[i], HOLO_E_SHAPE,
                   "dimension %d of the output is %lld, expected %lld", i, (long long)out->dim[i],
                   (long long)in->dim[i]);
    return HOLO_OK;
}

static holo_status compress_size(const hg_args *a, holo_error *e)
{
    HG_TRY(compress_check_in(a, e));
    const int64_t n = hg_min(compress_extent(a), a->in[1].dim[0]);
    int64_t taken = 0;
    for (int64_t i = 0; i < n; i++)
        taken += ((const uint8_t *)a->in[1].data)[i] != 0;
    a->out[0].rank = a->param[0] < 0 ? 1 : a->in[0].rank;
    memcpy(a->out[0].dim, a->in[0].dim, sizeof a->out[0].dim);
    a->out[0].dim[hg_max(a->param[0], 0)] = taken;
    return HOLO_OK;
}

static int64_t compress_units(const hg_args *a)
{
    if (holo_tensor_count(&a->out[0]) == 0) return 0;
    return a->param[0] < 0 ? 1 : hg_dims_product(&a->in[0], 0, (int)a->param[0]);
}

/* A unit is one place before the axis. */
static void compress_run(const hg_args *a, hg_range r)
{
    const holo_tensor *in = &a->in[0];
    const int64_t extent = compress_extent(a), n = hg_min(extent, a->in[1].dim[0]);
    const int64_t taken = a->out[0].dim[hg_max(a->param[0], 0)];
    const int64_t inner = a->param[0] < 0 ? 1 : hg_dims_product(in, (int)a->param[0] + 1, in->rank);
    const uint32_t bits = hg_dtype_bits(in->dtype);
    for (int64_t unit = r.begin; unit < r.end; unit++) {
        int64_t to = 0;
        for (int64_t i = 0; i < n && to < taken; i++) {
            if (((const uint8_t *)a->in[1].data)[i] == 0) continue;
            hg_elem_copy(a->out[0].data, (unit * taken + to++) * inner, in->data,
                         (unit * extent + i) * inner, inner, bits);
        }
    }
}

const hg_kernel hg_kernels_compress[] = {
    {.name = "compress",
     .flags = HG_KERNEL_LATE,
     .check = compress_check,
     .size = compress_size,
     .units = compress_units,
     .run = compress_run},
    {0},
};
