/* matmul_f64.c - matmul.f64 with AVX2 and FMA: models of tables that were trained so.
 *
 * A unit is one batch index and a block of rows. Tiles are 4 rows x 8 columns; columns of B that
 * lie side by side are read where they are, others are copied. Error bound: one rounding for each
 * of the K fused multiply-adds, in order. */
#include "kernel/matmul.h"

#include "backend/cpu/avx2/gemm.h"
#include "backend/cpu/avx2/lane.h"
#include "kernel/epilogue.h"

enum {
    MATMUL_F64_FIRST_EXTRA = 2,
    MATMUL_F64_BLOCK = 16, /* rows of a unit */
    MATMUL_F64_ROWS = 4,
    MATMUL_F64_COLS = 8
};

typedef struct matmul_f64_unit {
    hg_matmul_shape s;
    const double *a, *b; /* first row of the block; the matrix */
    int64_t rows, width; /* width: of a row of sum, whole tiles */
    double *sum, *packed;
    double alpha;
} matmul_f64_unit;

static holo_status matmul_f64_check(const hg_args *a, holo_error *e)
{
    HG_TRY(hg_matmul_check(a, e));
    HG_REQUIRE(e, a->in[0].dtype == HOLO_F64, HOLO_E_TYPE, "type is %s, expected float64",
               holo_dtype_text(a->in[0].dtype));
    return HOLO_OK;
}

static size_t matmul_f64_sum_bytes(const hg_matmul_shape *s)
{
    const int64_t width = hg_ceil_div(s->n, MATMUL_F64_COLS) * MATMUL_F64_COLS;
    return hg_align_up((size_t)(MATMUL_F64_BLOCK * width) * sizeof(double), HG_ALIGN);
}

static size_t matmul_f64_packed_bytes(const hg_matmul_shape *s)
{
    return hg_align_up((size_t)(s->k * MATMUL_F64_COLS) * sizeof(double), HG_ALIGN);
}

static hg_work matmul_f64_work(const hg_args *a)
{
    const hg_matmul_shape s = hg_matmul_shape_of(a);
    return (hg_work){.units = s.n == 0 ? 0 : s.batch * hg_ceil_div(s.m, MATMUL_F64_BLOCK),
                     .scratch = matmul_f64_sum_bytes(&s) + matmul_f64_packed_bytes(&s) +
                                hg_epilogue_scratch(a)};
}

/* Columns [col, col + 8) of B, zeros beyond the last. */
static void matmul_f64_pack(const matmul_f64_unit *u, int64_t col)
{
    const int64_t cols = hg_min(MATMUL_F64_COLS, u->s.n - col);
    for (int64_t k = 0; k < u->s.k; k++) {
        const double *from = u->b + k * u->s.b_k + col * u->s.b_col;
        double *to = u->packed + k * MATMUL_F64_COLS;
        for (int64_t j = 0; j < MATMUL_F64_COLS; j++)
            to[j] = j < cols ? from[j * u->s.b_col] : 0;
    }
}

/* `rows` rows from `row` on, eight columns: rows of B are `step` apart. */
HG_INLINE void matmul_f64_tile(const int rows, const matmul_f64_unit *u, int64_t row,
                               const double *b, int64_t step, double *to)
{
    __m256d sum[MATMUL_F64_ROWS][2];
    HG_GEMM_UNROLL
    for (int i = 0; i < rows; i++)
        sum[i][0] = sum[i][1] = _mm256_setzero_pd();
    const double *a = u->a + row * u->s.a_row;
    for (int64_t k = 0; k < u->s.k; k++, a += u->s.a_k, b += step) {
        const __m256d low = _mm256_loadu_pd(b), high = _mm256_loadu_pd(b + 4);
        HG_GEMM_UNROLL
        for (int i = 0; i < rows; i++) {
            const __m256d x = _mm256_broadcast_sd(a + i * u->s.a_row);
            sum[i][0] = _mm256_fmadd_pd(x, low, sum[i][0]);
            sum[i][1] = _mm256_fmadd_pd(x, high, sum[i][1]);
        }
    }
    const __m256d alpha = _mm256_set1_pd(u->alpha);
    HG_GEMM_UNROLL
    for (int i = 0; i < rows; i++) {
        _mm256_storeu_pd(to + i * u->width, _mm256_mul_pd(sum[i][0], alpha));
        _mm256_storeu_pd(to + i * u->width + 4, _mm256_mul_pd(sum[i][1], alpha));
    }
}

static void matmul_f64_unit_run(const matmul_f64_unit *u)
{
    for (int64_t col = 0; col < u->s.n; col += MATMUL_F64_COLS) {
        const bool is_direct = u->s.b_col == 1 && u->s.n - col >= MATMUL_F64_COLS;
        const double *b = is_direct ? u->b + col : u->packed;
        const int64_t step = is_direct ? u->s.b_k : MATMUL_F64_COLS;
        if (!is_direct) matmul_f64_pack(u, col);
        for (int64_t row = 0; row < u->rows;) {
            double *to = u->sum + row * u->width + col;
            const bool is_whole = u->rows - row >= MATMUL_F64_ROWS;
            if (is_whole)
                matmul_f64_tile(MATMUL_F64_ROWS, u, row, b, step, to);
            else
                matmul_f64_tile(1, u, row, b, step, to);
            row += is_whole ? MATMUL_F64_ROWS : 1;
        }
    }
}

static void matmul_f64_run(const hg_args *a, hg_range r)
{
    const holo_tensor *x = &a->in[0], *y = &a->in[1], *out = &a->out[0];
    matmul_f64_unit u = {.s = hg_matmul_shape_of(a), .alpha = hg_param_f64(a, 2)};
    const int64_t blocks = hg_ceil_div(u.s.m, MATMUL_F64_BLOCK);
    char *scratch = r.scratch;
    u.width = hg_ceil_div(u.s.n, MATMUL_F64_COLS) * MATMUL_F64_COLS;
    u.sum = (double *)(void *)scratch;
    u.packed = (double *)(void *)(scratch += matmul_f64_sum_bytes(&u.s));
    hg_epilogue ep;
    if (a->code != NULL)
        hg_epilogue_init(&ep, a, MATMUL_F64_FIRST_EXTRA, 1, hg_lane_tile_avx2,
                         scratch + matmul_f64_packed_bytes(&u.s));
    for (int64_t i = r.begin; i < r.end; i++) {
        const int64_t batch = i / blocks, row = i % blocks * MATMUL_F64_BLOCK;
        u.rows = hg_min(MATMUL_F64_BLOCK, u.s.m - row);
        u.a = (const double *)x->data + hg_matmul_batch_offset(x, out, batch) + row * u.s.a_row;
        u.b = (const double *)y->data + hg_matmul_batch_offset(y, out, batch);
        matmul_f64_unit_run(&u);
        const hg_epilogue_tile tile = {.data = u.sum,
                                       .ld = u.width,
                                       .dtype = HOLO_F64,
                                       .row = batch * u.s.m + row,
                                       .rows = u.rows,
                                       .cols = u.s.n};
        if (a->code != NULL) hg_epilogue_run(&ep, &tile);
        for (int64_t k = 0; k < u.rows && a->code == NULL; k++)
            memcpy((double *)out->data + (tile.row + k) * u.s.n, u.sum + k * u.width,
                   (size_t)u.s.n * sizeof(double));
    }
}

const hg_kernel hg_kernels_matmul_f64_avx2[] = {
    {.name = "matmul.f64",
     .flags = HG_KERNEL_FAST,
     .cpu = HG_CPU_AVX2,
     .check = matmul_f64_check,
     .work = matmul_f64_work,
     .cost = hg_matmul_cost,
     .run = matmul_f64_run},
    {0},
};
