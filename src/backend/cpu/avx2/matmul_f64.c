/* matmul_f64.c - matmul.f64 with AVX2 and FMA: models of tables that were trained so.
 *
 * A unit is one batch index and a block of rows. Tiles are 4 rows x 8 columns, with AVX-512 16,
 * which changes no bit; columns of B that lie side by side are read where they are, others are
 * copied. Error bound: one rounding for each of the K fused multiply-adds, in order. */
#include "kernel/matmul.h"

#include "backend/cpu/avx2/lane.h"
#include "backend/cpu/avx2/matmul_f64.h"
#include "kernel/epilogue.h"

enum {
    MATMUL_F64_FIRST_EXTRA = 2,
    MATMUL_F64_BLOCK = 16, /* rows of a unit */
    MATMUL_F64_COLS = 8,   /* of a tile, */
    MATMUL_F64_WIDE = 16   /* with AVX-512 */
};

typedef struct matmul_f64_unit {
    hg_matmul_shape s;
    const double *a, *b; /* first row of the block; the matrix */
    int64_t rows;
    int64_t cols, width; /* of a tile; of a row of sum, whole tiles */
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

/* Columns of a tile. */
static int64_t matmul_f64_cols(const hg_args *a, const hg_matmul_shape *s)
{
    return hg_has_avx512(a) && s->n > MATMUL_F64_COLS ? MATMUL_F64_WIDE : MATMUL_F64_COLS;
}

static size_t matmul_f64_sum_bytes(const hg_matmul_shape *s, int64_t cols)
{
    const int64_t width = hg_ceil_div(s->n, cols) * cols;
    return hg_align_up((size_t)(MATMUL_F64_BLOCK * width) * sizeof(double), HG_ALIGN);
}

static size_t matmul_f64_packed_bytes(const hg_matmul_shape *s, int64_t cols)
{
    return hg_align_up((size_t)(s->k * cols) * sizeof(double), HG_ALIGN);
}

static hg_work matmul_f64_work(const hg_args *a)
{
    const hg_matmul_shape s = hg_matmul_shape_of(a);
    const int64_t cols = matmul_f64_cols(a, &s);
    return (hg_work){.units = s.n == 0 ? 0 : s.batch * hg_ceil_div(s.m, MATMUL_F64_BLOCK),
                     .scratch = matmul_f64_sum_bytes(&s, cols) + matmul_f64_packed_bytes(&s, cols) +
                                hg_epilogue_scratch(a)};
}

/* Columns of the tile from `col` on, zeros beyond the last. */
static void matmul_f64_pack(const matmul_f64_unit *u, int64_t col)
{
    const int64_t cols = hg_min(u->cols, u->s.n - col);
    for (int64_t k = 0; k < u->s.k; k++) {
        const double *from = u->b + k * u->s.b_k + col * u->s.b_col;
        double *to = u->packed + k * u->cols;
        for (int64_t j = 0; j < u->cols; j++)
            to[j] = j < cols ? from[j * u->s.b_col] : 0;
    }
}

static void matmul_f64_tile(const hg_f64_tile *t, int64_t rows, bool is_wide)
{
#if HG_HAS_AVX512
    if (is_wide) {
        hg_f64_tile_avx512(t, rows);
        return;
    }
#endif
    (void)is_wide;
    hg_f64_tile_run(t, rows);
}

static void matmul_f64_unit_run(const matmul_f64_unit *u)
{
    hg_f64_tile t = {
        .a_row = u->s.a_row, .a_k = u->s.a_k, .k = u->s.k, .width = u->width, .alpha = u->alpha};
    for (int64_t col = 0; col < u->s.n; col += u->cols) {
        const bool is_direct = u->s.b_col == 1 && u->s.n - col >= u->cols;
        t.b = is_direct ? u->b + col : u->packed;
        t.b_step = is_direct ? u->s.b_k : u->cols;
        if (!is_direct) matmul_f64_pack(u, col);
        for (int64_t row = 0; row < u->rows;) {
            const int64_t rows = u->rows - row >= HG_F64_ROWS ? HG_F64_ROWS : 1;
            t.a = u->a + row * u->s.a_row;
            t.to = u->sum + row * u->width + col;
            matmul_f64_tile(&t, rows, u->cols == MATMUL_F64_WIDE);
            row += rows;
        }
    }
}

static void matmul_f64_run(const hg_args *a, hg_range r)
{
    const holo_tensor *x = &a->in[0], *y = &a->in[1], *out = &a->out[0];
    matmul_f64_unit u = {.s = hg_matmul_shape_of(a), .alpha = hg_param_f64(a, 2)};
    const int64_t blocks = hg_ceil_div(u.s.m, MATMUL_F64_BLOCK);
    char *scratch = r.scratch;
    u.cols = matmul_f64_cols(a, &u.s);
    u.width = hg_ceil_div(u.s.n, u.cols) * u.cols;
    u.sum = (double *)(void *)scratch;
    u.packed = (double *)(void *)(scratch += matmul_f64_sum_bytes(&u.s, u.cols));
    hg_epilogue ep;
    if (a->code != NULL)
        hg_epilogue_init(&ep, a, MATMUL_F64_FIRST_EXTRA, 1, hg_lane_tile_avx2,
                         scratch + matmul_f64_packed_bytes(&u.s, u.cols));
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
