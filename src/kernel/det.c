/* det.c - det: determinants by elimination with pivoting.
 *
 *   in[0]  X [..., M, M] f32, f64, f16 or bf16;  out[0] [...]
 *
 * Computed in f64. The determinant of an empty matrix is 1. A unit is one matrix. */
#include "kernel/det.h"

holo_status hg_det_check(const hg_args *a, holo_error *e)
{
    HG_TRY(hg_check_counts(a, e, 1, 1, 1, 0));
    HG_TRY(hg_check_in_type(a, e, 0, HG_TYPES_FLOAT));
    HG_TRY(hg_check_out_type(a, e, 0, HG_TYPES_FLOAT));
    const holo_tensor *x = &a->in[0], *y = &a->out[0];
    HG_TRY(hg_check_same_type(y, x, e, "output"));
    HG_TRY(hg_check_rank(x, e, "input", 2, HG_MAX_RANK));
    HG_TRY(hg_check_rank(y, e, "output", x->rank - 2, x->rank - 2));
    HG_REQUIRE(e, x->dim[x->rank - 1] == x->dim[x->rank - 2], HOLO_E_SHAPE,
               "matrices are %lld x %lld, expected square ones", (long long)x->dim[x->rank - 2],
               (long long)x->dim[x->rank - 1]);
    for (int d = 0; d < y->rank; d++)
        HG_REQUIRE(e, y->dim[d] == x->dim[d], HOLO_E_SHAPE,
                   "dimension %d of the output is %lld, expected %lld", d, (long long)y->dim[d],
                   (long long)x->dim[d]);
    return HOLO_OK;
}

int64_t hg_det_units(const hg_args *a)
{
    return holo_tensor_count(&a->out[0]);
}

size_t hg_det_scratch(const hg_args *a)
{
    const int64_t n = a->in[0].dim[a->in[0].rank - 1];
    return hg_det_units(a) == 0 ? 0 : (size_t)(n * hg_det_width(n)) * sizeof(double);
}

void hg_det_cost(const hg_args *a, hg_cost *cost)
{
    const double m = (double)a->in[0].dim[a->in[0].rank - 1];
    cost->flops = (double)holo_tensor_count(&a->out[0]) * m * m * m * 2.0 / 3.0;
}

#define NAME(stem) det_##stem
#include "kernel/det_run.inc"
#undef NAME

const hg_kernel hg_kernels_det[] = {
    {.name = "det",
     .check = hg_det_check,
     .units = hg_det_units,
     .scratch = hg_det_scratch,
     .cost = hg_det_cost,
     .run = det_run},
    {0},
};
