/* matmul_p16.c - matmul.p16 with AVX2 and FMA.
 *
 * A unit is a block of rows times a group of panels. Up to three or four rows the weights are
 * streamed once, many panels side by side, at memory bandwidth; more rows go through the tiles of
 * gemm.h. f16 weights are widened in registers: two conversions beside twelve multiply-adds cost
 * nothing on Zen 4 (bench/op/matmul), while widening panels into scratch first loses 3 % at 128
 * rows and 40 % at 4. Error bound: one rounding for each of the K fused multiply-adds, in order. */
#include "kernel/matmul_p16.h"

#include "backend/cpu/avx2/gemm.h"
#include "backend/cpu/avx2/lane.h"
#include "kernel/epilogue.h"
#include "kernel/pack.h"

enum {
    MATMUL_P16_FIRST_EXTRA = 2,
    MATMUL_P16_ROW_BLOCK = 96,  /* rows of A that stay in L2: 96 x 384 floats are 144 KiB */
    MATMUL_P16_LARGE = 1 << 18, /* elements of an output beyond L2 */
    MATMUL_P16_FETCHED = 64,   /* least depth of a tile whose lines are fetched: less is too late */
    MATMUL_P16_MAX_GROUP = 12, /* panels; keeps enough units for many threads when rows are few */
    MATMUL_P16_TILE_VALUES = 6144, /* wanted size of the block an epilogue sees */
    MATMUL_P16_FEW_UNITS = 16      /* of fewer, 2 and 4 threads must get equal parts */
};

/* ---- units ------------------------------------------------------------------------------- */

typedef struct matmul_p16_plan {
    hg_matmul_p16_shape s;
    hg_cut row;            /* rows of a unit */
    int64_t group, groups; /* panels of a unit, or 0: equal parts of all; how many groups */
    int64_t together;      /* panels that no two of these parts share */
    int64_t widest;        /* panels of the widest unit */
    bool streams;          /* rows are few */
    bool is_wide;          /* tiles or streams are those of AVX-512 */
    bool rows_inner;       /* consecutive units share panels, not rows */
    bool is_large;         /* the output does not fit in L2 */
} matmul_p16_plan;

/* How many groups `pieces` of panels become. Of three units two threads do two and one, and one of
 * them waits. */
static int64_t matmul_p16_even(int64_t blocks, int64_t groups, int64_t pieces)
{
    if (blocks * groups >= MATMUL_P16_FEW_UNITS) return hg_min(pieces, groups);
    const int64_t step = blocks % 4 == 0 ? 1 : blocks % 2 == 0 ? 2 : 4;
    return hg_min(pieces, hg_ceil_div(groups, step) * step);
}

static void matmul_p16_plan_of(const hg_args *a, matmul_p16_plan *p)
{
    p->s = hg_matmul_p16_shape_of(a);
    const int64_t m = hg_max(p->s.m, 1), panels = hg_max(p->s.panels, 1);
    p->is_wide = hg_gemm_is_wide_for(a, m);
    p->row = hg_cut_of(m, MATMUL_P16_ROW_BLOCK, hg_gemm_rows(p->is_wide));
    const int64_t wanted = MATMUL_P16_TILE_VALUES / HG_PANEL / p->row.size;
    p->group = hg_min(panels, hg_min(wanted, MATMUL_P16_MAX_GROUP));
    p->together = hg_gemm_piece(p->is_wide, panels);
    const int64_t pieces = hg_ceil_div(panels, p->together);
    p->groups = matmul_p16_even(p->row.count, hg_ceil_div(panels, p->group), pieces);
    p->group = 0;
    p->widest = hg_min(panels, hg_ceil_div(pieces, p->groups) * p->together);
    const bool is_wide = hg_has_avx512(a) && !hg_dtype_is(a->in[1].dtype, HOLO_F16);
    p->streams = p->row.size <= hg_gemm_stream_rows(panels, is_wide);
    if (p->streams) {
        p->is_wide = is_wide;
        p->group = hg_gemm_stream_group(panels, is_wide);
        p->groups = panels / p->group;
        p->widest = panels - (p->groups - 1) * p->group;
    }
    /* Read again from L3: B for every row block, or A for every group. */
    p->rows_inner =
        (double)p->row.count * (double)panels * HG_PANEL > (double)p->groups * (double)m;
    p->is_large = holo_tensor_count(&a->out[0]) >= MATMUL_P16_LARGE;
}

static int64_t matmul_p16_first_panel(const matmul_p16_plan *p, int64_t group)
{
    if (p->group == 0) {
        const int64_t pieces = hg_ceil_div(p->s.panels, p->together);
        return hg_min(p->s.panels, group * pieces / p->groups * p->together);
    }
    return group < p->groups ? group * p->group : p->s.panels;
}

/* Scratch: pointers to rows, sums of a unit, the epilogue's own. */
static size_t matmul_p16_pointer_bytes(const matmul_p16_plan *p)
{
    return hg_align_up((size_t)p->row.size * sizeof(float *), HG_ALIGN);
}

static size_t matmul_p16_sum_bytes(const matmul_p16_plan *p)
{
    return (size_t)(p->row.size * p->widest) * HG_PANEL * sizeof(float);
}

static hg_work matmul_p16_work(const hg_args *a)
{
    matmul_p16_plan p;
    matmul_p16_plan_of(a, &p);
    return (hg_work){.units = p.s.m == 0 || p.s.n == 0 ? 0 : p.row.count * p.groups,
                     .scratch = matmul_p16_pointer_bytes(&p) + matmul_p16_sum_bytes(&p) +
                                hg_epilogue_scratch(a)};
}

/* One unit: rows [row, row + rows) times panels [panel, panel + panels). */
typedef struct matmul_p16_unit {
    const hg_args *a;
    const matmul_p16_plan *plan;
    const float **rows; /* pointers */
    float *sum;
    int64_t row, n_rows, panel, panels;
    float *c; /* result, in the output or in sum */
    int64_t ld;
    float alpha;
    const hg_epilogue_simple *finish; /* NULL: nothing, or the interpreter afterwards */
} matmul_p16_unit;

static void matmul_p16_unit_tiles(const matmul_p16_unit *u)
{
    const holo_tensor *w = &u->a->in[1];
    const int64_t k = u->plan->s.k, sum_ld = u->plan->widest * HG_PANEL;
    const bool is_half = hg_dtype_is(w->dtype, HOLO_F16);
    const int64_t line = is_half ? 32 : 64; /* bytes of 16 weights */
    const int64_t blocks = hg_max(1, hg_ceil_div(k, hg_gemm_depth(u->plan->is_wide)));
    const int64_t depth = hg_ceil_div(k, blocks);
    float edge[HG_GEMM_PANELS * HG_PANEL];
    for (int64_t k0 = 0; k0 == 0 || k0 < k; k0 += depth) {
        const bool is_last = k0 + depth >= k;
        hg_gemm_step step = {.row = u->rows,
                             .row_step = 0,
                             .taps = 1,
                             .depth = hg_min(depth, k - k0),
                             .offset = k0,
                             .b_step = line,
                             .b_panel = k * line,
                             .is_half = is_half,
                             .is_wide = u->plan->is_wide,
                             .ld = is_last ? u->ld : sum_ld,
                             .alpha = is_last ? u->alpha : 1};
        for (int64_t p = 0; p < u->panels; p += step.panels) {
            step.panels = hg_gemm_panels(&step, u->panels - p);
            const int64_t at = (u->panel + p) * k + k0, width = step.panels * HG_PANEL;
            step.b = (const char *)w->data + at * line;
            const int64_t col = (u->panel + p) * HG_PANEL, cols = u->plan->s.n - col;
            step.sum = u->sum + p * HG_PANEL;
            step.sum_ld = sum_ld;
            step.narrow = cols <= HG_PANEL / 2;
            if (k0 == 0) hg_gemm_begin_avx2(&step, u->finish, col, cols, edge);
            step.c = (is_last ? u->c : u->sum) + p * HG_PANEL;
            if (is_last) hg_gemm_end_avx2(&step, u->finish, u->a->out[0].data);
            step.cols = is_last && u->c != u->sum ? hg_min(width, cols) : width;
            step.fetch_a = p == 0 && step.depth >= 128;
            step.fetch_c = is_last && u->plan->is_large && k >= MATMUL_P16_FETCHED;
            /* next: the same block of the next panel, else the next block or the next unit */
            const int64_t panel = u->panel + p;
            const int64_t after = p + step.panels < u->panels ? (panel + step.panels) * k + k0
                                  : !is_last                  ? u->panel * k + k0 + depth
                                                              : (panel + step.panels) * k;
            hg_gemm_fetch(&step, (const char *)w->data + after * line, u->n_rows);
            hg_gemm_panel(&step, u->n_rows);
        }
        if (depth == 0) break;
    }
}

static void matmul_p16_unit_stream(const matmul_p16_unit *u)
{
    const hg_matmul_p16_shape *s = &u->plan->s;
    const holo_tensor *w = &u->a->in[1];
    const bool is_half = hg_dtype_is(w->dtype, HOLO_F16);
    const int64_t ld = u->plan->widest * HG_PANEL;
    const int64_t line = is_half ? 32 : 64; /* bytes of 16 weights */
    const hg_gemm_stream stream = {.a = u->rows[0],
                                   .b = (const char *)w->data + u->panel * s->k * line,
                                   .b_step = line,
                                   .b_panel = s->k * line,
                                   .is_half = is_half,
                                   .is_wide = u->plan->is_wide,
                                   .k = s->k,
                                   .c = u->sum,
                                   .ld = ld,
                                   .alpha = u->alpha};
    hg_gemm_stream_avx2(stream, u->n_rows, u->panels);
    if (u->c == u->sum) return;
    const int64_t cols = hg_min(u->panels * HG_PANEL, s->n - u->panel * HG_PANEL);
    for (int64_t i = 0; i < u->n_rows; i++)
        memcpy(u->c + i * u->ld, u->sum + i * ld, (size_t)cols * sizeof(float));
    hg_gemm_finish_all_avx2(u->finish, u->a->out[0].data, u->c, u->ld, u->n_rows,
                            u->panel * HG_PANEL, cols);
}

static void matmul_p16_unit_run(matmul_p16_unit *u, const hg_epilogue *ep)
{
    const hg_matmul_p16_shape *s = &u->plan->s;
    const float *a = u->a->in[0].data;
    for (int64_t i = 0; i < u->n_rows; i++)
        u->rows[i] = a + (u->row + i) * s->k;
    if (u->plan->streams)
        matmul_p16_unit_stream(u);
    else
        matmul_p16_unit_tiles(u);
    if (ep == NULL) return;
    const hg_epilogue_tile tile = {.data = u->sum,
                                   .ld = u->ld,
                                   .dtype = HOLO_F32,
                                   .row = u->row,
                                   .rows = u->n_rows,
                                   .col = u->panel * HG_PANEL,
                                   .cols =
                                       hg_min(u->panels * HG_PANEL, s->n - u->panel * HG_PANEL)};
    hg_epilogue_run(ep, &tile);
}

static void matmul_p16_run(const hg_args *a, hg_range r)
{
    matmul_p16_plan p;
    matmul_p16_plan_of(a, &p);
    char *scratch = r.scratch;
    matmul_p16_unit u = {.a = a, .plan = &p, .alpha = (float)hg_param_f64(a, 0)};
    u.rows = (const float **)(void *)scratch;
    u.sum = (float *)(void *)(scratch += matmul_p16_pointer_bytes(&p));
    scratch += matmul_p16_sum_bytes(&p);
    hg_epilogue ep;
    hg_epilogue_simple simple;
    /* sums that start with the bias cannot be scaled afterwards */
    if (u.alpha == 1 && hg_epilogue_is_simple(a, MATMUL_P16_FIRST_EXTRA, &simple))
        u.finish = &simple;
    const bool has_lane = a->code != NULL && u.finish == NULL;
    if (has_lane)
        hg_epilogue_init(&ep, a, MATMUL_P16_FIRST_EXTRA, 1, hg_lane_tile_fast_avx2, scratch);
    for (int64_t i = r.begin; i < r.end; i++) {
        const int64_t block = p.rows_inner ? i % p.row.count : i / p.groups;
        const int64_t group = p.rows_inner ? i / p.row.count : i % p.groups;
        u.row = hg_cut_at(&p.row, block);
        u.n_rows = hg_cut_at(&p.row, block + 1) - u.row;
        u.panel = matmul_p16_first_panel(&p, group);
        u.panels = matmul_p16_first_panel(&p, group + 1) - u.panel;
        u.c = has_lane ? u.sum : (float *)a->out[0].data + u.row * p.s.n + u.panel * HG_PANEL;
        u.ld = has_lane ? p.widest * HG_PANEL : p.s.n;
        matmul_p16_unit_run(&u, has_lane ? &ep : NULL);
    }
}

const hg_kernel hg_kernels_matmul_p16_avx2[] = {
    {.name = "matmul.p16",
     .flags = HG_KERNEL_FAST,
     .cpu = HG_CPU_AVX2,
     .check = hg_matmul_p16_check,
     .work = matmul_p16_work,
     .cost = hg_matmul_p16_cost,
     .run = matmul_p16_run},
    {0},
};
