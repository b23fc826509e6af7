/* dft.c - dft: Fourier transforms along an axis; stft: of pieces of a signal.
 *
 *   dft   in[0] X [..., 1 or 2], the last dimension real or complex
 *         param axis, inverse, onesided, length n: X is cut or padded with zeros to it
 *         out[0] Y: n complex numbers along the axis; n / 2 + 1 when onesided; n real ones when
 *         onesided and inverse, X then being the first half of the spectrum
 *   stft  in[0] signal [N, L, 1 or 2]; in[1] window [W], may be absent: ones
 *         param step, length n, onesided
 *         out[0] Y [N, frames, n or n / 2 + 1, 2]: frame i begins at i * step
 *
 * f32, f64, f16, bf16. A unit is one transform. */
#include "kernel/fft.h"
#include "kernel/number.h"

/* ---- dft ------------------------------------------------------------------------------------ */

static holo_status dft_check(const hg_args *a, holo_error *e)
{
    HG_TRY(hg_check_counts(a, e, 1, 1, 1, 4));
    HG_TRY(hg_check_in_type(a, e, 0, HG_TYPES_FLOAT));
    HG_TRY(hg_check_out_type(a, e, 0, HG_TYPES_FLOAT));
    const holo_tensor *x = &a->in[0], *y = &a->out[0];
    HG_TRY(hg_check_same_type(y, x, e, "output"));
    HG_TRY(hg_check_rank(x, e, "input", 2, HG_MAX_RANK));
    HG_TRY(hg_check_rank(y, e, "output", x->rank, x->rank));
    HG_TRY(hg_check_param(a, e, 0, "axis", 0, x->rank - 2));
    HG_TRY(hg_check_param(a, e, 1, "inverse", 0, 1));
    HG_TRY(hg_check_param(a, e, 2, "onesided", 0, 1));
    HG_TRY(hg_check_param(a, e, 3, "length", 1, HG_FFT_MAX));
    const int64_t n = a->param[3], real_out = a->param[1] & a->param[2];
    const int64_t bins = a->param[2] != 0 && a->param[1] == 0 ? n / 2 + 1 : n;
    const int last = x->rank - 1;
    HG_REQUIRE(e, x->dim[last] == 1 || x->dim[last] == 2, HOLO_E_SHAPE,
               "the last dimension is %lld, expected 1 or 2", (long long)x->dim[last]);
    HG_REQUIRE(e, y->dim[last] == (real_out != 0 ? 1 : 2), HOLO_E_SHAPE,
               "the last dimension of the output is %lld, expected %d", (long long)y->dim[last],
               real_out != 0 ? 1 : 2);
    for (int d = 0; d < last; d++) {
        const int64_t expected = d == a->param[0] ? bins : x->dim[d];
        HG_REQUIRE(e, y->dim[d] == expected, HOLO_E_SHAPE,
                   "dimension %d of the output is %lld, expected %lld", d, (long long)y->dim[d],
                   (long long)expected);
    }
    return HOLO_OK;
}

static int64_t dft_units(const hg_args *a)
{
    const holo_tensor *y = &a->out[0];
    const int axis = (int)a->param[0];
    if (holo_tensor_count(y) == 0) return 0;
    return hg_dims_product(y, 0, axis) * hg_dims_product(y, axis + 1, y->rank - 1);
}

static size_t dft_line_bytes(int64_t n)
{
    return hg_align_up((size_t)n * 2 * sizeof(double), HG_ALIGN);
}

static size_t dft_scratch(const hg_args *a)
{
    if (dft_units(a) == 0) return 0;
    return dft_line_bytes(a->param[3]) + hg_fft_scratch(a->param[3]);
}

void hg_dft_cost(const hg_args *a, hg_cost *cost)
{
    cost->flops = (double)dft_units(a) * hg_fft_flops(a->param[3]);
}

/* Real signals and f64 are transformed in f64. Complex f32 signals are transformed in f32: what
 * people compare with does so, and the rounding of terms that cancel is all there is to compare. */
static bool dft_is_wide(const holo_tensor *x)
{
    return x->dtype == HOLO_F64 || x->dim[x->rank - 1] == 1;
}

/* Reads `count` numbers of `parts` parts at `at`, `stride` apart, into a line of n; zeros follow.
 */
static void dft_load(const holo_tensor *x, int64_t at, int64_t stride, int64_t count, int64_t n,
                     double *line)
{
    const int64_t parts = x->dim[x->rank - 1];
    memset(line, 0, (size_t)n * 2 * sizeof *line);
    for (int64_t k = 0; k < hg_min(count, n); k++)
        for (int64_t part = 0; part < parts; part++)
            line[2 * k + part] = hg_number_load(x, at + k * stride + part);
}

/* The second half of the spectrum of a real signal mirrors the first. */
static void dft_mirror(double *line, int64_t n)
{
    line[1] = 0.0;
    if (n % 2 == 0) line[n + 1] = 0.0;
    for (int64_t k = n / 2 + 1; k < n; k++) {
        line[2 * k] = line[2 * (n - k)];
        line[2 * k + 1] = -line[2 * (n - k) + 1];
    }
}

static void dft_run(const hg_args *a, hg_range r)
{
    const holo_tensor *x = &a->in[0], *y = &a->out[0];
    const int axis = (int)a->param[0];
    const int64_t n = a->param[3], inner = hg_dims_product(y, axis + 1, y->rank - 1);
    const int64_t parts_in = x->dim[x->rank - 1], parts_out = y->dim[y->rank - 1];
    const bool inverse = a->param[1] != 0, from_half = inverse && a->param[2] != 0;
    double *line = r.scratch;
    hg_fft f;
    if (r.begin >= r.end) return;
    hg_fft_init(&f, a, n, dft_is_wide(x), (char *)r.scratch + dft_line_bytes(n));
    for (int64_t u = r.begin; u < r.end; u++) {
        const int64_t from = u / inner * x->dim[axis] * inner + u % inner;
        const int64_t to = u / inner * y->dim[axis] * inner + u % inner;
        const int64_t used = from_half ? hg_min(x->dim[axis], n / 2 + 1) : x->dim[axis];
        dft_load(x, from * parts_in, inner * parts_in, used, n, line);
        if (from_half) dft_mirror(line, n);
        hg_fft_run(&f, line, inverse);
        for (int64_t k = 0; k < y->dim[axis]; k++)
            for (int64_t part = 0; part < parts_out; part++)
                hg_number_store(y, (to + k * inner) * parts_out + part, line[2 * k + part]);
    }
}

/* ---- stft ----------------------------------------------------------------------------------- */

static holo_status dft_stft_check(const hg_args *a, holo_error *e)
{
    HG_TRY(hg_check_counts(a, e, 1, 2, 1, 3));
    HG_TRY(hg_check_in_type(a, e, 0, HG_TYPES_FLOAT));
    HG_TRY(hg_check_out_type(a, e, 0, HG_TYPES_FLOAT));
    const holo_tensor *x = &a->in[0], *y = &a->out[0];
    HG_TRY(hg_check_same_type(y, x, e, "output"));
    HG_TRY(hg_check_rank(x, e, "signal", 3, 3));
    HG_TRY(hg_check_rank(y, e, "output", 4, 4));
    HG_TRY(hg_check_param(a, e, 0, "step", 1, INT32_MAX));
    HG_TRY(hg_check_param(a, e, 1, "length", 1, HG_FFT_MAX));
    HG_TRY(hg_check_param(a, e, 2, "onesided", 0, 1));
    const int64_t n = a->param[1], bins = a->param[2] != 0 ? n / 2 + 1 : n;
    HG_REQUIRE(e, x->dim[2] == 1 || x->dim[2] == 2, HOLO_E_SHAPE,
               "the last dimension is %lld, expected 1 or 2", (long long)x->dim[2]);
    HG_REQUIRE(e, y->dim[0] == x->dim[0] && y->dim[2] == bins && y->dim[3] == 2, HOLO_E_SHAPE,
               "output is [%lld, frames, %lld, %lld], expected [%lld, frames, %lld, 2]",
               (long long)y->dim[0], (long long)y->dim[2], (long long)y->dim[3],
               (long long)x->dim[0], (long long)bins);
    HG_REQUIRE(e, y->dim[1] < INT64_C(1) << 31, HOLO_E_SHAPE, "%lld frames are too many",
               (long long)y->dim[1]);
    if (!hg_args_has(a, 1)) return HOLO_OK;
    HG_TRY(hg_check_in_type(a, e, 1, HG_TYPES_FLOAT));
    HG_TRY(hg_check_same_type(&a->in[1], x, e, "window"));
    return hg_check_rank(&a->in[1], e, "window", 1, 1);
}

static int64_t dft_stft_units(const hg_args *a)
{
    return holo_tensor_count(&a->out[0]) == 0 ? 0 : a->out[0].dim[0] * a->out[0].dim[1];
}

static size_t dft_stft_scratch(const hg_args *a)
{
    if (dft_stft_units(a) == 0) return 0;
    return dft_line_bytes(a->param[1]) + hg_fft_scratch(a->param[1]);
}

void hg_stft_cost(const hg_args *a, hg_cost *cost)
{
    cost->flops = (double)dft_stft_units(a) * hg_fft_flops(a->param[1]);
}

static void dft_stft_run(const hg_args *a, hg_range r)
{
    const holo_tensor *x = &a->in[0], *y = &a->out[0];
    const int64_t n = a->param[1], parts = x->dim[2], frames = y->dim[1];
    const bool has_window = hg_args_has(a, 1);
    const int64_t width = has_window ? a->in[1].dim[0] : n;
    double *line = r.scratch;
    hg_fft f;
    if (r.begin >= r.end) return;
    hg_fft_init(&f, a, n, dft_is_wide(x), (char *)r.scratch + dft_line_bytes(n));
    for (int64_t u = r.begin; u < r.end; u++) {
        const int64_t begin = u % frames * a->param[0], left = hg_max(0, x->dim[1] - begin);
        const int64_t at = (u / frames * x->dim[1] + begin) * parts;
        dft_load(x, at, parts, hg_min(width, left), n, line);
        for (int64_t k = 0; has_window && k < hg_min(width, n); k++) {
            const double w = hg_number_load(&a->in[1], k);
            line[2 * k] *= w;
            line[2 * k + 1] *= w;
        }
        hg_fft_run(&f, line, false);
        for (int64_t k = 0; k < 2 * y->dim[2]; k++)
            hg_number_store(y, u * 2 * y->dim[2] + k, line[k]);
    }
}

const hg_kernel hg_kernels_dft[] = {
    {.name = "dft",
     .flags = HG_KERNEL_ASKS,
     .check = dft_check,
     .units = dft_units,
     .scratch = dft_scratch,
     .cost = hg_dft_cost,
     .run = dft_run},
    {.name = "stft",
     .flags = HG_KERNEL_ASKS,
     .check = dft_stft_check,
     .units = dft_stft_units,
     .scratch = dft_stft_scratch,
     .cost = hg_stft_cost,
     .run = dft_stft_run},
    {0},
};
