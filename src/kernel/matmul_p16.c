/* matmul_p16.c - matmul.p16: C = alpha * A B with B packed in panels of 16 columns.
 *
 *   in[0]  A [..., K] f32; all leading dims are rows
 *   in[1]  B [P, K, 16] f32 or f16, made by pack.p16
 *   in[2+] operands of the epilogue
 *   param  alpha (f64 bits)
 *   out[0] C [..., N] f32 (any type with an epilogue), P = ceil(N / 16)
 *
 * Exact profile as in matmul.c: k in order, multiply then add. */
#include "kernel/matmul_p16.h"

#include "base/half.h"
#include "kernel/epilogue.h"
#include "kernel/pack.h"

enum { MATMUL_P16_FIRST_EXTRA = 2 };

holo_status hg_matmul_p16_check(const hg_args *a, holo_error *e)
{
    HG_TRY(hg_check_counts(a, e, 2, -1, 1, 1));
    HG_TRY(hg_check_in_type(a, e, 0, HG_TYPE_BIT(HOLO_F32)));
    HG_TRY(hg_check_in_type(a, e, 1, HG_TYPE_BIT(HOLO_F32) | HG_TYPE_BIT(HOLO_F16)));
    HG_TRY(hg_check_out_type(a, e, 0, HG_EPILOGUE_TYPES));
    const holo_tensor *x = &a->in[0], *w = &a->in[1], *out = &a->out[0];
    HG_TRY(hg_check_rows(x, out, e));
    HG_TRY(hg_check_rank(w, e, "packed B", 3, 3));
    const int64_t k = x->dim[x->rank - 1], n = out->dim[x->rank - 1];
    HG_REQUIRE(e, w->dim[2] == HG_PANEL, HOLO_E_SHAPE, "packed B has panels of %lld, expected 16",
               (long long)w->dim[2]);
    HG_REQUIRE(e, w->dim[1] == k, HOLO_E_SHAPE, "packed B has %lld rows, A has %lld columns",
               (long long)w->dim[1], (long long)k);
    HG_REQUIRE(e, w->dim[0] == hg_panels(n), HOLO_E_SHAPE,
               "packed B has %lld panels, expected %lld", (long long)w->dim[0],
               (long long)hg_panels(n));
    return hg_epilogue_check(a, e, MATMUL_P16_FIRST_EXTRA, 1, HOLO_F32);
}

hg_matmul_p16_shape hg_matmul_p16_shape_of(const hg_args *a)
{
    const holo_tensor *x = &a->in[0], *out = &a->out[0];
    hg_matmul_p16_shape s;
    s.m = hg_dims_product(x, 0, x->rank - 1);
    s.n = out->dim[out->rank - 1];
    s.k = x->dim[x->rank - 1];
    s.panels = hg_panels(s.n);
    return s;
}

void hg_matmul_p16_cost(const hg_args *a, hg_cost *cost)
{
    hg_matmul_p16_shape s = hg_matmul_p16_shape_of(a);
    cost->flops = 2.0 * (double)s.m * (double)s.n * (double)s.k;
}

static int64_t matmul_p16_units(const hg_args *a)
{
    hg_matmul_p16_shape s = hg_matmul_p16_shape_of(a);
    return s.n == 0 ? 0 : s.m;
}

static size_t matmul_p16_row_bytes(const hg_args *a)
{
    return hg_align_up((size_t)hg_matmul_p16_shape_of(a).n * sizeof(float), HG_ALIGN);
}

static size_t matmul_p16_scratch(const hg_args *a)
{
    return a->code == NULL ? 0 : matmul_p16_row_bytes(a) + hg_epilogue_scratch(a);
}

/* One row times one panel; b is f32 or f16 of `k` rows. */
static void matmul_p16_panel(const float *x, const void *b, holo_dtype dtype, int64_t k, float *sum)
{
    for (int j = 0; j < HG_PANEL; j++)
        sum[j] = 0;
    if (dtype == HOLO_F32) {
        const float *w = b;
        for (int64_t i = 0; i < k; i++)
            for (int j = 0; j < HG_PANEL; j++)
                sum[j] += x[i] * w[i * HG_PANEL + j];
    } else {
        const uint16_t *w = b;
        for (int64_t i = 0; i < k; i++)
            for (int j = 0; j < HG_PANEL; j++)
                sum[j] += x[i] * hg_f16_to_f32(w[i * HG_PANEL + j]);
    }
}

static void matmul_p16_run(const hg_args *a, hg_range r)
{
    const hg_matmul_p16_shape s = hg_matmul_p16_shape_of(a);
    const holo_tensor *w = &a->in[1];
    const size_t panel_bytes = (size_t)s.k * HG_PANEL * (hg_dtype_bits(w->dtype) / 8);
    const double alpha = hg_param_f64(a, 0);
    hg_epilogue ep;
    if (a->code != NULL)
        hg_epilogue_init(&ep, a, MATMUL_P16_FIRST_EXTRA, 1, hg_lane_run,
                         (char *)r.scratch + matmul_p16_row_bytes(a));
    for (int64_t u = r.begin; u < r.end; u++) {
        const float *x = (const float *)a->in[0].data + u * s.k;
        float *y = a->code == NULL ? (float *)a->out[0].data + u * s.n : r.scratch;
        for (int64_t p = 0; p < s.panels; p++) {
            float sum[HG_PANEL];
            matmul_p16_panel(x, (const char *)w->data + (size_t)p * panel_bytes, w->dtype, s.k,
                             sum);
            const int64_t cols = hg_min(HG_PANEL, s.n - p * HG_PANEL);
            for (int64_t j = 0; j < cols; j++)
                y[p * HG_PANEL + j] = alpha == 1 ? sum[j] : sum[j] * (float)alpha;
        }
        const hg_epilogue_tile tile = {
            .data = y, .ld = s.n, .dtype = HOLO_F32, .row = u, .rows = 1, .col = 0, .cols = s.n};
        if (a->code != NULL) hg_epilogue_run(&ep, &tile);
    }
}

const hg_kernel hg_kernels_matmul_p16[] = {
    {.name = "matmul.p16",
     .check = hg_matmul_p16_check,
     .units = matmul_p16_units,
     .scratch = matmul_p16_scratch,
     .cost = hg_matmul_p16_cost,
     .run = matmul_p16_run},
    {0},
};
