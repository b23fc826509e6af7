/* conv_gated.c - conv.gated with AVX2 and FMA: the gate goes into the weights, a panel of outputs
 * (two with the tiles of AVX-512) and a block of k at a time, right before the tiles of gemm.h read
 * them from L1. For a block of pixels that costs a fiftieth of the products, and the map is not
 * copied.
 *
 * A unit is a block of pixels of one image times a group of panels. Error bound: one rounding for
 * each gated weight and for each of the C fused multiply-adds, in order. */
#include "kernel/conv_gated.h"

#include "backend/cpu/avx2/gemm.h"
#include "backend/cpu/avx2/lane.h"
#include "kernel/epilogue.h"
#include "kernel/pack.h"

enum {
    CONV_GATED_ROWS = 96, /* pixels of a unit, at most */
    CONV_GATED_UNITS = 16 /* wanted, for threads */
};

typedef struct conv_gated_plan {
    hg_conv_gated_shape s;
    hg_cut row;            /* pixels of a unit; blocks in an image */
    int64_t group, groups; /* panels of a unit */
    int64_t together;      /* panels of a step */
} conv_gated_plan;

static conv_gated_plan conv_gated_plan_of(const hg_args *a)
{
    conv_gated_plan p = {.s = hg_conv_gated_shape_of(a)};
    p.row = hg_cut_of(hg_max(1, p.s.pixels), CONV_GATED_ROWS, hg_gemm_rows(hg_gemm_is_wide(a)));
    p.together = hg_min(p.s.panels, hg_gemm_together(hg_gemm_is_wide(a)));
    p.groups = hg_min(p.s.panels, hg_ceil_div(CONV_GATED_UNITS, p.s.n * p.row.count));
    p.group = hg_ceil_div(hg_ceil_div(p.s.panels, p.groups), p.together) * p.together;
    p.groups = hg_ceil_div(p.s.panels, p.group);
    return p;
}

/* Scratch: pointers, gated weights, sums of a panel, the epilogue's own. */
static size_t conv_gated_pointer_bytes(void)
{
    return CONV_GATED_ROWS * sizeof(float *);
}

static size_t conv_gated_weight_bytes(const conv_gated_plan *p)
{
    return (size_t)(HG_GEMM_DEPTH * p->together) * HG_PANEL * sizeof(float);
}

static size_t conv_gated_sum_bytes(const conv_gated_plan *p)
{
    return (size_t)(CONV_GATED_ROWS * p->together) * HG_PANEL * sizeof(float);
}

static hg_work conv_gated_work(const hg_args *a)
{
    if (holo_tensor_count(&a->out[0]) == 0) return (hg_work){0};
    const conv_gated_plan p = conv_gated_plan_of(a);
    return (hg_work){.units = p.s.n * p.row.count * p.groups,
                     .scratch = conv_gated_pointer_bytes() + conv_gated_weight_bytes(&p) +
                                conv_gated_sum_bytes(&p) + hg_epilogue_scratch(a)};
}

typedef struct conv_gated_unit {
    const hg_args *a;
    const conv_gated_plan *p;
    const float **row;
    float *w, *sum;
    const float *gate; /* of the image */
    int64_t pixel, rows;
    const hg_epilogue_simple *finish;
    const hg_epilogue *lane; /* at most one of the two */
} conv_gated_unit;

/* Weights [k0, k0 + depth) of a panel, times the gate. */
static void conv_gated_weights(const conv_gated_unit *u, int64_t panel, int64_t k0, int64_t depth,
                               float *to)
{
    const holo_tensor *w = &u->a->in[1];
    const int64_t first = (panel * u->p->s.c + k0) * HG_PANEL;
    const float *gate = u->gate + k0;
    if (hg_dtype_is(w->dtype, HOLO_F16)) {
        const uint16_t *from = (const uint16_t *)w->data + first;
        for (int64_t i = 0; i < depth * HG_PANEL; i += 8) {
            const __m128i half = _mm_loadu_si128((const __m128i *)(const void *)(from + i));
            const __m256 g = _mm256_broadcast_ss(gate + i / HG_PANEL);
            _mm256_storeu_ps(to + i, _mm256_mul_ps(_mm256_cvtph_ps(half), g));
        }
        return;
    }
    const float *from = (const float *)w->data + first;
    for (int64_t i = 0; i < depth * HG_PANEL; i += HG_PANEL) {
        const __m256 g = _mm256_broadcast_ss(gate + i / HG_PANEL);
        _mm256_storeu_ps(to + i, _mm256_mul_ps(_mm256_loadu_ps(from + i), g));
        _mm256_storeu_ps(to + i + 8, _mm256_mul_ps(_mm256_loadu_ps(from + i + 8), g));
    }
}

static void conv_gated_panels(const conv_gated_unit *u, int64_t panel, int64_t panels)
{
    const hg_conv_gated_shape *s = &u->p->s;
    const int64_t width = panels * HG_PANEL, col = panel * HG_PANEL;
    const int64_t cols = hg_min(width, s->o - col);
    const int64_t blocks = hg_max(1, hg_ceil_div(s->c, HG_GEMM_DEPTH));
    const int64_t depth = hg_ceil_div(s->c, blocks);
    float *out = u->a->out[0].data, *y = u->lane != NULL ? u->sum : out + u->pixel * s->o + col;
    const char *w = u->a->in[1].data; /* in one piece: what follows a block is needed next */
    const int64_t size = hg_dtype_is(u->a->in[1].dtype, HOLO_F16) ? 2 : 4;
    float edge[2 * HG_PANEL];
    hg_gemm_step step = {.row = u->row,
                         .row_step = u->rows,
                         .taps = 1,
                         .b = u->w,
                         .b_step = HG_PANEL * sizeof(float),
                         .b_panel = depth * HG_PANEL * (int64_t)sizeof(float),
                         .panels = panels,
                         .is_wide = hg_gemm_is_wide(u->a),
                         .narrow = cols <= HG_PANEL / 2,
                         .alpha = 1};
    hg_gemm_begin_avx2(&step, u->finish, col, cols, edge);
    for (int64_t i = 0; i < blocks; i++) {
        const bool is_last = i + 1 == blocks, is_out = is_last && u->lane == NULL;
        step.offset = i * depth;
        step.depth = hg_min(depth, s->c - step.offset);
        step.c = is_last ? y : u->sum;
        step.ld = is_out ? s->o : width;
        step.cols = is_out ? cols : width;
        for (int64_t j = 0; j < panels; j++)
            conv_gated_weights(u, panel + j, step.offset, step.depth, u->w + j * depth * HG_PANEL);
        const int64_t next = is_last ? (panel + panels) * s->c : panel * s->c + step.offset + depth;
        hg_gemm_fetch(&step, w + next * HG_PANEL * size, u->rows);
        if (is_last) hg_gemm_end_avx2(&step, u->finish, out);
        hg_gemm_panel(&step, u->rows);
        step.sum = u->sum;
        step.sum_ld = width;
    }
    const hg_epilogue_tile tile = {.data = u->sum,
                                   .ld = width,
                                   .dtype = HOLO_F32,
                                   .row = u->pixel,
                                   .rows = u->rows,
                                   .col = col,
                                   .cols = cols};
    if (u->lane != NULL) hg_epilogue_run(u->lane, &tile);
}

static void conv_gated_run(const hg_args *a, hg_range r)
{
    if (r.begin >= r.end) return;
    const conv_gated_plan p = conv_gated_plan_of(a);
    char *scratch = r.scratch;
    conv_gated_unit u = {.a = a, .p = &p, .row = (const float **)(void *)scratch};
    u.w = (float *)(void *)(scratch += conv_gated_pointer_bytes());
    u.sum = (float *)(void *)(scratch += conv_gated_weight_bytes(&p));
    scratch += conv_gated_sum_bytes(&p);
    hg_epilogue ep;
    hg_epilogue_simple simple;
    if (hg_epilogue_is_simple(a, HG_CONV_GATED_FIRST_EXTRA, &simple)) {
        u.finish = &simple;
    } else if (a->code != NULL) {
        hg_epilogue_init(&ep, a, HG_CONV_GATED_FIRST_EXTRA, 1, hg_lane_tile_fast_avx2, scratch);
        u.lane = &ep;
    }
    for (int64_t i = r.begin; i < r.end; i++) {
        const int64_t first = i % p.groups * p.group, block = i / p.groups;
        const int64_t image = block / p.row.count, at = hg_cut_at(&p.row, block % p.row.count);
        u.rows = hg_cut_at(&p.row, block % p.row.count + 1) - at;
        u.pixel = image * p.s.pixels + at;
        u.gate = (const float *)a->in[2].data + image * p.s.gate_step;
        for (int64_t k = 0; k < u.rows; k++)
            u.row[k] = (const float *)a->in[0].data + (u.pixel + k) * p.s.c;
        const int64_t end = hg_min(p.s.panels, first + p.group);
        for (int64_t panel = first; panel < end; panel += p.together)
            conv_gated_panels(&u, panel, hg_min(p.together, end - panel));
    }
}

const hg_kernel hg_kernels_conv_gated_avx2[] = {
    {.name = "conv.gated",
     .flags = HG_KERNEL_FAST,
     .cpu = HG_CPU_AVX2,
     .check = hg_conv_gated_check,
     .work = conv_gated_work,
     .cost = hg_conv_gated_cost,
     .run = conv_gated_run},
    {0},
};
