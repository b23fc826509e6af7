/* trilu.c - trilu: the upper or lower triangle of each matrix, zero elsewhere.
 *
 *   in[0]   [batch..., rows, cols]
 *   param   1: upper, 0: lower; k, the diagonal that still belongs to it
 *   out[0]  same type and dims; zero means zero bits, an empty string */
#include "kernel/elem.h"

static holo_status trilu_check(const hg_args *a, holo_error *e)
{
    HG_TRY(hg_check_counts(a, e, 1, 1, 1, 2));
    HG_TRY(hg_check_in_type(a, e, 0, HG_TYPES_ANY & ~HG_TYPES_NARROW));
    HG_TRY(hg_check_out_type(a, e, 0, HG_TYPES_ANY));
    HG_TRY(hg_check_same_type(&a->out[0], &a->in[0], e, "output"));
    HG_TRY(hg_check_same_shape(&a->out[0], &a->in[0], e, "output"));
    HG_TRY(hg_check_rank(&a->in[0], e, "input", 2, HG_MAX_RANK));
    return hg_check_param(a, e, 0, "upper", 0, 1);
}

static int64_t trilu_units(const hg_args *a)
{
    if (holo_tensor_count(&a->out[0]) == 0) return 0;
    return hg_dims_product(&a->out[0], 0, a->out[0].rank - 1);
}

/* A unit is a row. */
static void trilu_run(const hg_args *a, hg_range r)
{
    const holo_tensor *in = &a->in[0];
    const int64_t rows = in->dim[in->rank - 2], cols = in->dim[in->rank - 1];
    const int64_t k = hg_max(-rows, hg_min(cols, a->param[1]));
    const int64_t size = (int64_t)hg_dtype_bits(in->dtype) / 8;
    const bool upper = a->param[0] != 0;
    for (int64_t row = r.begin; row < r.end; row++) {
        int64_t cut = hg_max(0, hg_min(cols, row % rows + k + (upper ? 0 : 1)));
        int64_t from = upper ? cut : 0, to = upper ? cols : cut;
        uint8_t *y = (uint8_t *)a->out[0].data + row * cols * size;
        const uint8_t *x = (const uint8_t *)in->data + row * cols * size;
        memset(y, 0, (size_t)(cols * size));
        memcpy(y + from * size, x + from * size, (size_t)((to - from) * size));
    }
}

const hg_kernel hg_kernels_trilu[] = {
    {.name = "trilu", .check = trilu_check, .units = trilu_units, .run = trilu_run},
    {0},
};
