/* det.c - det: determinants by elimination with pivoting.
 *
 *   in[0]  X [..., M, M] f32, f64, f16 or bf16;  out[0] [...]
 *
 * Computed in f64. The determinant of an empty matrix is 1. A unit is one matrix. */
#include "isa/lane_math.h"
#include "kernel/number.h"

static holo_status det_check(const hg_args *a, holo_error *e)
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

static int64_t det_units(const hg_args *a)
{
    return holo_tensor_count(&a->out[0]);
}

static size_t det_scratch(const hg_args *a)
{
    const size_t m = (size_t)a->in[0].dim[a->in[0].rank - 1];
    return det_units(a) == 0 ? 0 : m * m * sizeof(double);
}

static void det_cost(const hg_args *a, hg_cost *cost)
{
    const double m = (double)a->in[0].dim[a->in[0].rank - 1];
    cost->flops = (double)holo_tensor_count(&a->out[0]) * m * m * m * 2.0 / 3.0;
}

/* Brings the largest element of column k below row k to row k; true when rows were exchanged. */
static bool det_pivot(double *m, int64_t n, int64_t k)
{
    int64_t best = k;
    for (int64_t i = k + 1; i < n; i++)
        if (hg_abs_f64(m[i * n + k]) > hg_abs_f64(m[best * n + k])) best = i;
    for (int64_t j = k; best != k && j < n; j++) {
        const double t = m[k * n + j];
        m[k * n + j] = m[best * n + j];
        m[best * n + j] = t;
    }
    return best != k;
}

/* row -= factor * top, elements [first, n): two rows of one matrix. */
static void det_subtract(double *HG_RESTRICT row, const double *HG_RESTRICT top, double factor,
                         int64_t first, int64_t n)
{
    for (int64_t j = first; j < n; j++)
        row[j] -= factor * top[j];
}

static double det_of(const hg_args *a, double *m, int64_t n)
{
    double det = 1.0;
    for (int64_t k = 0; k < n; k++) {
        if (det_pivot(m, n, k)) det = -det;
        const double pivot = m[k * n + k];
        det *= pivot;
        if (pivot == 0.0 || hg_args_stopped(a)) return 0.0;
        for (int64_t i = k + 1; i < n; i++)
            det_subtract(m + i * n, m + k * n, m[i * n + k] / pivot, k + 1, n);
    }
    return det;
}

static void det_run(const hg_args *a, hg_range r)
{
    const int64_t n = a->in[0].dim[a->in[0].rank - 1];
    double *m = r.scratch;
    for (int64_t u = r.begin; u < r.end; u++) {
        for (int64_t i = 0; i < n * n; i++)
            m[i] = hg_number_load(&a->in[0], u * n * n + i);
        hg_number_store(&a->out[0], u, det_of(a, m, n));
    }
}

const hg_kernel hg_kernels_det[] = {
    {.name = "det",
     .check = det_check,
     .units = det_units,
     .scratch = det_scratch,
     .cost = det_cost,
     .run = det_run},
    {0},
};
