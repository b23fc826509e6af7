/* matmul.c - f32 matmul with AVX2 and FMA, neither side packed beforehand.
 *
 * A unit is one batch index, a block of rows and a group of 16-column panels. Each k block of a
 * panel is copied (or transposed) into scratch just before all row tiles pass over it, so it is
 * read from L1; with few rows B is read where it lies. A transposed A is turned a k block at a
 * time. When B is transposed and the rows are few, or has one column, outputs are dot products
 * along k instead: 1000 rows of 30 times a column take 4 instead of 18 us. Error bound: one
 * rounding for each of the K fused multiply-adds, in order or in 8 interleaved chains.
 */
#include "kernel/matmul.h"

#include "backend/cpu/avx2/gemm.h"
#include "backend/cpu/avx2/lane.h"
#include "backend/cpu/avx2/part8.h"
#include "kernel/epilogue.h"
#include "kernel/pack.h"

enum {
    MATMUL_COLUMN_ROWS = 8, /* of A that go together against one column */
    MATMUL_FIRST_EXTRA = 2,
    MATMUL_LARGE = 1 << 18, /* elements of an output beyond L2 */
    MATMUL_ROW_BLOCK = 144,
    MATMUL_GROUP = 8,        /* panels of a unit */
    MATMUL_UNITS = 4,        /* for threads to share, of a product of no more than one group */
    MATMUL_DIRECT_ROWS = 24, /* up to here B is read in place */
    MATMUL_DOT_ROWS = 5,     /* up to here A B' is computed by dot products */
    /* as many at a time as there are registers for: one row times so many columns, or so many rows
     * times four columns */
    MATMUL_DOT_WIDTH = HG_VEC8_REGISTERS / 2,
    MATMUL_DOT_HEIGHT = HG_VEC8_REGISTERS >= 16 ? 3 : 2
};

typedef struct matmul_plan {
    hg_matmul_shape s;
    bool trans_a, trans_b;
    bool is_direct; /* B is read where it lies */
    hg_cut row;
    int64_t panels, group, groups;
    int64_t widest; /* panels of the last group where it takes the rest, else `group` */
    float alpha;
    bool is_large; /* the output does not fit in L2 */
    bool is_wide;  /* tiles, see gemm.h */
} matmul_plan;

static holo_status matmul_check(const hg_args *a, holo_error *e)
{
    HG_TRY(hg_matmul_check(a, e));
    HG_REQUIRE(e, a->in[0].dtype == HOLO_F32, HOLO_E_TYPE, "type is %s, expected float32",
               holo_dtype_text(a->in[0].dtype));
    return HOLO_OK;
}

static matmul_plan matmul_plan_of(const hg_args *a)
{
    matmul_plan p = {.s = hg_matmul_shape_of(a),
                     .trans_a = a->param[0] != 0,
                     .trans_b = a->param[1] != 0,
                     .alpha = (float)hg_param_f64(a, 2),
                     .is_large = holo_tensor_count(&a->out[0]) >= MATMUL_LARGE};
    const int64_t m = hg_max(p.s.m, 1);
    p.is_wide = hg_gemm_is_wide_for(a, m);
    p.row = hg_cut_of(m, MATMUL_ROW_BLOCK, hg_gemm_rows(p.is_wide));
    p.is_direct = !p.trans_b && p.row.size <= MATMUL_DIRECT_ROWS;
    p.panels = hg_panels(p.s.n);
    const int64_t panels = hg_max(p.panels, 1);
    p.groups = hg_ceil_div(panels, p.trans_a ? 2 * MATMUL_GROUP : MATMUL_GROUP);
    /* every unit turns A for itself */
    const int64_t wanted = (p.trans_a ? 2 : MATMUL_UNITS) / hg_max(1, p.s.batch * p.row.count);
    p.groups = hg_max(p.groups, hg_min(wanted, panels / 2));
    p.group = hg_max(hg_gemm_together(p.is_wide), hg_ceil_div(panels, p.groups));
    p.groups = hg_ceil_div(panels, p.group);
    p.widest = p.group;
    if (!p.trans_b && p.row.size <= HG_GEMM_STREAM_ROWS) {
        p.group = hg_gemm_stream_group(panels, hg_has_avx512(a));
        p.groups = panels / p.group;
        p.widest = panels - (p.groups - 1) * p.group;
    }
    return p;
}

/* Scratch: row pointers, sums of a unit, a panel block of B, a turned block of A, the epilogue's
 * own. */
static size_t matmul_pointer_bytes(const matmul_plan *p)
{
    return hg_align_up((size_t)p->row.size * sizeof(float *), HG_ALIGN);
}

static size_t matmul_sum_bytes(const matmul_plan *p)
{
    return (size_t)(p->row.size * p->widest) * HG_PANEL * sizeof(float);
}

static size_t matmul_panel_bytes(const matmul_plan *p)
{
    return (size_t)p->widest * HG_GEMM_DEPTH * HG_PANEL * sizeof(float);
}

static size_t matmul_turned_bytes(const matmul_plan *p)
{
    if (!p->trans_a) return 0;
    const int64_t depth = p->row.size <= MATMUL_DOT_ROWS ? p->s.k : HG_GEMM_DEPTH;
    return hg_align_up((size_t)(p->row.size * depth) * sizeof(float), HG_ALIGN);
}

static hg_work matmul_work(const hg_args *a)
{
    const matmul_plan p = matmul_plan_of(a);
    const bool is_empty = holo_tensor_count(&a->out[0]) == 0;
    return (hg_work){.units = is_empty ? 0 : p.s.batch * p.row.count * p.groups,
                     .scratch = matmul_pointer_bytes(&p) + matmul_sum_bytes(&p) +
                                matmul_panel_bytes(&p) + matmul_turned_bytes(&p) +
                                hg_epilogue_scratch(a)};
}

/* ---- one unit
 * ------------------------------------------------------------------------------------ */

typedef struct matmul_unit {
    const matmul_plan *p;
    const float *a, *b; /* matrices of this batch index */
    const float **rows; /* pointers */
    float *sum, *packed, *turned;
    int64_t key, packed_key; /* batch and group; what `packed` holds when k is one block */
    int64_t row, n_rows, panel, panels;
    float *c; /* result, in the output or in sum */
    int64_t ld;
    const float *out;
    bool is_wide, streams_wide;       /* tiles and streams, see gemm.h */
    const hg_epilogue_simple *finish; /* NULL: nothing, or the interpreter afterwards */
} matmul_unit;

static int64_t matmul_cols(const matmul_unit *u, int64_t panel)
{
    return hg_min(HG_PANEL, u->p->s.n - (u->panel + panel) * HG_PANEL);
}

/* Panels of the unit whose 16 columns all exist. */
static int64_t matmul_full_panels(const matmul_unit *u)
{
    return hg_min(u->panels, u->p->s.n / HG_PANEL - u->panel);
}

/* Rows [k0, k0 + depth) of B, panels [first, panels), each 16 wide with zeros beyond the last
 * column. A row of B is read across all panels: with a row of a page or more that saves most TLB
 * misses. */
static void matmul_pack(const matmul_unit *u, int64_t first, int64_t k0, int64_t depth)
{
    const hg_matmul_shape *s = &u->p->s;
    const int64_t column = u->panel * HG_PANEL;
    const int64_t full = matmul_full_panels(u), block = depth * HG_PANEL;
    if (u->p->trans_b) {
        for (int64_t p = first; p < u->panels; p++) {
            float *to = u->packed + p * block;
            if (p >= full) memset(to, 0, (size_t)block * sizeof(float));
            hg_gemm_turn_avx2(u->b + (column + p * HG_PANEL) * s->k + k0, s->k, matmul_cols(u, p),
                              depth, to, HG_PANEL);
        }
        return;
    }
    for (int64_t k = 0; k < depth; k++) {
        const float *from = u->b + (k0 + k) * s->n + column;
        float *to = u->packed + k * HG_PANEL;
        for (int64_t p = first; p < full; p++) {
            _mm256_store_ps(to + p * block, _mm256_loadu_ps(from + p * HG_PANEL));
            _mm256_store_ps(to + p * block + 8, _mm256_loadu_ps(from + p * HG_PANEL + 8));
        }
        if (full == u->panels) continue;
        to += full * block;
        memset(to, 0, HG_PANEL * sizeof(float));
        memcpy(to, from + full * HG_PANEL, (size_t)matmul_cols(u, full) * sizeof(float));
    }
}

/* Pointers to the rows of A; a transposed A is turned for k block [k0, k0 + depth). */
static void matmul_find_rows(const matmul_unit *u, int64_t k0, int64_t depth)
{
    const hg_matmul_shape *s = &u->p->s;
    if (u->p->trans_a)
        hg_gemm_turn_avx2(u->a + k0 * s->m + u->row, s->m, depth, u->n_rows, u->turned, depth);
    for (int64_t i = 0; i < u->n_rows; i++)
        u->rows[i] = u->p->trans_a ? u->turned + i * depth : u->a + (u->row + i) * s->k + k0;
}

static void matmul_unit_tiles(matmul_unit *u, int64_t first)
{
    const hg_matmul_shape *s = &u->p->s;
    const int64_t sum_ld = u->p->widest * HG_PANEL;
    const int64_t blocks = hg_max(1, hg_ceil_div(s->k, hg_gemm_depth(u->is_wide)));
    const int64_t depth = hg_ceil_div(s->k, blocks);
    float edge[HG_GEMM_PANELS * HG_PANEL];
    const int64_t direct = u->p->is_direct ? matmul_full_panels(u) : 0;
    for (int64_t k0 = 0; k0 <= s->k; k0 += depth) {
        const bool is_last = k0 + depth >= s->k;
        hg_gemm_step step = {.row = u->rows,
                             .taps = 1,
                             .depth = hg_min(depth, s->k - k0),
                             .ld = is_last ? u->ld : sum_ld,
                             .is_wide = u->is_wide,
                             .alpha = is_last ? u->p->alpha : 1};
        matmul_find_rows(u, k0, step.depth);
        if (u->packed_key != u->key) matmul_pack(u, hg_max(first, direct), k0, step.depth);
        for (int64_t p = first; p < u->panels; p += step.panels) {
            step.panels = hg_gemm_panels(&step, (p < direct ? direct : u->panels) - p);
            const int64_t width = step.panels * HG_PANEL;
            const int64_t cols = hg_min(width, s->n - (u->panel + p) * HG_PANEL);
            step.b = p < direct ? u->b + k0 * s->n + (u->panel + p) * HG_PANEL
                                : u->packed + p * step.depth * HG_PANEL;
            step.b_step = (p < direct ? s->n : HG_PANEL) * (int64_t)sizeof(float);
            step.b_panel = (p < direct ? 1 : step.depth) * HG_PANEL * (int64_t)sizeof(float);
            step.sum = u->sum + p * HG_PANEL;
            step.sum_ld = sum_ld;
            step.narrow = cols <= HG_PANEL / 2;
            if (k0 == 0)
                hg_gemm_begin_avx2(&step, u->finish, (u->panel + p) * HG_PANEL, cols, edge);
            step.c = (is_last ? u->c : u->sum) + p * HG_PANEL;
            if (is_last) hg_gemm_end_avx2(&step, u->finish, u->out);
            step.cols = is_last && u->c != u->sum ? cols : width;
            step.fetch_a = p == first && step.depth >= 128;
            step.fetch_c = is_last && u->p->is_large;
            hg_gemm_panel(&step, u->n_rows);
        }
        if (is_last) break;
    }
    if (blocks == 1) u->packed_key = u->key;
}

/* What streaming and dot products left plain: `cols` columns from the unit's first. */
static void matmul_finish(const matmul_unit *u, int64_t cols)
{
    hg_gemm_finish_all_avx2(u->finish, u->out, u->c, u->ld, u->n_rows, u->panel * HG_PANEL, cols);
}

/* Few rows, B in place: full panels are streamed, the last partial one goes through a tile. */
static void matmul_unit_stream(matmul_unit *u)
{
    const hg_matmul_shape *s = &u->p->s;
    const int64_t full = matmul_full_panels(u);
    matmul_find_rows(u, 0, s->k);
    const hg_gemm_stream stream = {.a = u->rows[0],
                                   .b = (const char *)(u->b + u->panel * HG_PANEL),
                                   .b_step = s->n * (int64_t)sizeof(float),
                                   .b_panel = HG_PANEL * sizeof(float),
                                   .is_wide = u->streams_wide,
                                   .k = s->k,
                                   .c = u->c,
                                   .ld = u->ld,
                                   .alpha = u->p->alpha};
    hg_gemm_stream_avx2(stream, u->n_rows, full);
    matmul_finish(u, full * HG_PANEL);
    if (full < u->panels) matmul_unit_tiles(u, full);
}

/* ---- dot products: A B' with few rows
 * ------------------------------------------------------------- */

HG_INLINE float matmul_reduce(__m256 x)
{
    __m128 y = _mm_add_ps(_mm256_castps256_ps128(x), _mm256_extractf128_ps(x, 1));
    y = _mm_add_ps(y, _mm_movehl_ps(y, y));
    y = _mm_add_ss(y, _mm_movehdup_ps(y));
    return _mm_cvtss_f32(y);
}

/* What one call of dot products is about; row j of B' at b + j * b_ld. */
typedef struct matmul_dots {
    const float *const *a;
    const float *b;
    int64_t b_ld, k;
    float alpha;
    float *c;
    int64_t ld;
} matmul_dots;

/* rows x cols outputs. */
HG_INLINE void matmul_dot(const int rows, const int cols, const matmul_dots *d)
{
    __m256 sum[3][8];
    HG_GEMM_UNROLL
    for (int i = 0; i < rows; i++) {
        HG_GEMM_UNROLL
        for (int j = 0; j < cols; j++)
            sum[i][j] = _mm256_setzero_ps();
    }
    const int64_t rest = d->k % 8;
    for (int64_t n = 0; n + 8 <= d->k; n += 8) {
        __m256 x[3];
        HG_GEMM_UNROLL
        for (int i = 0; i < rows; i++)
            x[i] = _mm256_loadu_ps(d->a[i] + n);
        HG_GEMM_UNROLL
        for (int j = 0; j < cols; j++) {
            const __m256 y = _mm256_loadu_ps(d->b + j * d->b_ld + n);
            HG_GEMM_UNROLL
            for (int i = 0; i < rows; i++)
                sum[i][j] = _mm256_fmadd_ps(x[i], y, sum[i][j]);
        }
    }
    if (rest != 0) {
        __m256 x[3];
        HG_GEMM_UNROLL
        for (int i = 0; i < rows; i++)
            x[i] = hg_part8_load(d->a[i] + d->k - rest, rest);
        HG_GEMM_UNROLL
        for (int j = 0; j < cols; j++) {
            const __m256 y = hg_part8_load(d->b + j * d->b_ld + d->k - rest, rest);
            HG_GEMM_UNROLL
            for (int i = 0; i < rows; i++)
                sum[i][j] = _mm256_fmadd_ps(x[i], y, sum[i][j]);
        }
    }
    HG_GEMM_UNROLL
    for (int i = 0; i < rows; i++) {
        float *c = d->c + i * d->ld;
        if (cols == 1) c[0] = matmul_reduce(sum[i][0]);
        HG_GEMM_UNROLL
        for (int j = 0; j + 4 <= cols; j += 4)
            _mm_storeu_ps(c + j, hg_vec8_sums(sum[i] + j));
        for (int j = 0; j < cols && d->alpha != 1; j++)
            c[j] *= d->alpha;
    }
}

static void matmul_dot_rows(const int rows, const int cols, matmul_dots d, int64_t count)
{
    for (; count >= cols; count -= cols) {
        if (rows == 1) matmul_dot(1, MATMUL_DOT_WIDTH, &d);
        if (rows == 2) matmul_dot(2, 4, &d);
        if (rows == 3 && MATMUL_DOT_HEIGHT == 3) matmul_dot(3, 4, &d);
        d.b += cols * d.b_ld;
        d.c += cols;
    }
    for (; count > 0; count--, d.b += d.b_ld, d.c++)
        for (int i = 0; i < rows; i++) {
            const matmul_dots one = {d.a + i, d.b, d.b_ld, d.k, d.alpha, d.c + i * d.ld, d.ld};
            matmul_dot(1, 1, &one);
        }
}

void hg_gemm_dot_avx2(const float *const *a, int64_t rows, const float *b, int64_t b_ld, int64_t k,
                      int64_t count, float alpha, float *c, int64_t ld)
{
    for (int64_t first = 0; first < rows;) {
        const int64_t left = rows - first, height = left == 4 ? 2 : hg_min(left, MATMUL_DOT_HEIGHT);
        const matmul_dots d = {a + first, b, b_ld, k, alpha, c + first * ld, ld};
        if (height == 1) matmul_dot_rows(1, MATMUL_DOT_WIDTH, d, count);
        if (height == 2) matmul_dot_rows(2, 4, d, count);
        if (height == 3) matmul_dot_rows(3, 4, d, count);
        first += height;
    }
}

static void matmul_unit_dot(const matmul_unit *u)
{
    const hg_matmul_shape *s = &u->p->s;
    const int64_t count = hg_min(u->panels * HG_PANEL, s->n - u->panel * HG_PANEL);
    matmul_find_rows(u, 0, s->k);
    hg_gemm_dot_avx2(u->rows, u->n_rows, u->b + u->panel * HG_PANEL * s->k, s->k, s->k, count,
                     u->p->alpha, u->c, u->ld);
    matmul_finish(u, count);
}

/* ---- one column
 * -------------------------------------------------------------------------------------- */

/* Eight rows, the last of `count` standing in for those that are missing. */
static void matmul_column(const matmul_unit *u, int64_t first, int64_t count)
{
    const int64_t k = u->p->s.k, rest = k % 8;
    const float *b = u->b, *a[MATMUL_COLUMN_ROWS];
    __m256 sum[MATMUL_COLUMN_ROWS];
    float to[MATMUL_COLUMN_ROWS], *c = u->c + first * u->ld;
    HG_GEMM_UNROLL
    for (int i = 0; i < MATMUL_COLUMN_ROWS; i++) {
        a[i] = u->a + (u->row + first + hg_min(i, count - 1)) * k;
        sum[i] = _mm256_setzero_ps();
    }
    for (int64_t n = 0; n + 8 <= k; n += 8) {
        const __m256 y = _mm256_loadu_ps(b + n);
        HG_GEMM_UNROLL
        for (int i = 0; i < MATMUL_COLUMN_ROWS; i++)
            sum[i] = _mm256_fmadd_ps(_mm256_loadu_ps(a[i] + n), y, sum[i]);
    }
    if (rest != 0) {
        const __m256 y = hg_part8_load(b + k - rest, rest);
        HG_GEMM_UNROLL
        for (int i = 0; i < MATMUL_COLUMN_ROWS; i++)
            sum[i] = _mm256_fmadd_ps(hg_part8_load(a[i] + k - rest, rest), y, sum[i]);
    }
    _mm_storeu_ps(to, hg_vec8_sums(sum));
    _mm_storeu_ps(to + 4, hg_vec8_sums(sum + 4));
    for (int i = 0; i < MATMUL_COLUMN_ROWS; i++, c += u->ld)
        if (i < count) *c = to[i] * u->p->alpha;
}

/* The epilogue of a column that lies in the output: to it the column is a row, whose bias is the
 * same everywhere. */
static void matmul_finish_column(const matmul_unit *u)
{
    const hg_epilogue_simple *e = u->finish;
    if (e == NULL) return;
    if (hg_epilogue_has_columns(e)) {
        matmul_finish(u, 1);
        return;
    }
    const float bias = e->bias == NULL ? 0 : e->bias[0] + (e->bias2 == NULL ? 0 : e->bias2[0]);
    for (int64_t i = 0; i < u->n_rows; i++)
        u->sum[i] = bias;
    hg_gemm_finish_avx2(e, e->bias == NULL ? NULL : u->sum, NULL,
                        hg_epilogue_residuals_at(e, u->c - u->out, 1), u->c, u->n_rows, 1, 0,
                        u->n_rows);
}

static void matmul_unit_column(const matmul_unit *u)
{
    for (int64_t first = 0; first < u->n_rows; first += MATMUL_COLUMN_ROWS)
        matmul_column(u, first, hg_min(MATMUL_COLUMN_ROWS, u->n_rows - first));
    matmul_finish_column(u);
}

static void matmul_unit_run(matmul_unit *u)
{
    if (u->p->s.n == 1 && !u->p->trans_a) {
        matmul_unit_column(u);
        return;
    }
    /* by block, not by rows left: only then does scratch hold all of k of a turned A */
    if (u->p->row.size <= MATMUL_DOT_ROWS && u->p->trans_b)
        matmul_unit_dot(u);
    else if (u->p->row.size <= HG_GEMM_STREAM_ROWS)
        matmul_unit_stream(u);
    else
        matmul_unit_tiles(u, 0);
}

static void matmul_run(const hg_args *a, hg_range r)
{
    const matmul_plan p = matmul_plan_of(a);
    const holo_tensor *out = &a->out[0];
    char *scratch = r.scratch;
    matmul_unit u = {
        .p = &p, .packed_key = -1, .is_wide = p.is_wide, .streams_wide = hg_has_avx512(a)};
    u.rows = (const float **)(void *)scratch;
    u.sum = (float *)(void *)(scratch += matmul_pointer_bytes(&p));
    u.packed = (float *)(void *)(scratch += matmul_sum_bytes(&p));
    u.turned = (float *)(void *)(scratch += matmul_panel_bytes(&p));
    scratch += matmul_turned_bytes(&p);
    u.out = out->data;
    hg_epilogue ep;
    hg_epilogue_simple simple;
    /* sums that start with the bias cannot be scaled afterwards */
    if (p.alpha == 1 && hg_epilogue_is_simple(a, MATMUL_FIRST_EXTRA, &simple)) u.finish = &simple;
    const bool has_lane = a->code != NULL && u.finish == NULL;
    if (has_lane) hg_epilogue_init(&ep, a, MATMUL_FIRST_EXTRA, 1, hg_lane_tile_fast_avx2, scratch);
    for (int64_t i = r.begin; i < r.end; i++) {
        /* row blocks innermost: units that follow each other share a packed group of B */
        const int64_t block = i % p.row.count, group = i / p.row.count % p.groups;
        const int64_t batch = i / p.row.count / p.groups;
        u.key = i / p.row.count;
        u.a = (const float *)a->in[0].data + hg_matmul_batch_offset(&a->in[0], out, batch);
        u.b = (const float *)a->in[1].data + hg_matmul_batch_offset(&a->in[1], out, batch);
        u.row = hg_cut_at(&p.row, block);
        u.n_rows = hg_cut_at(&p.row, block + 1) - u.row;
        u.panel = group * p.group;
        u.panels = group + 1 < p.groups ? p.group : p.panels - u.panel;
        const int64_t row = batch * p.s.m + u.row, col = u.panel * HG_PANEL;
        u.c = has_lane ? u.sum : (float *)out->data + row * p.s.n + col;
        u.ld = has_lane ? p.widest * HG_PANEL : p.s.n;
        matmul_unit_run(&u);
        if (!has_lane) continue;
        const hg_epilogue_tile tile = {.data = u.sum,
                                       .ld = u.ld,
                                       .dtype = HOLO_F32,
                                       .row = row,
                                       .rows = u.n_rows,
                                       .col = col,
                                       .cols = hg_min(u.panels * HG_PANEL, p.s.n - col)};
        hg_epilogue_run(&ep, &tile);
    }
}

const hg_kernel hg_kernels_matmul_avx2[] = {
    {.name = "matmul",
     .flags = HG_KERNEL_FAST,
     .cpu = HG_CPU_AVX2,
     .check = matmul_check,
     .work = matmul_work,
     .cost = hg_matmul_cost,
     .run = matmul_run},
    {0},
};
