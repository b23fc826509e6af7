/* conv_nchw.c - conv.nchw with AVX2 and FMA: the lines of the input that an output row reads lie in
 * scratch as pixels, with their padding.
 *
 * A line is turned to pixels once and stays for as many output rows as read it. A kernel row is one
 * tap then, everywhere, and pixels of an output row read their taps evenly far apart: tiles of
 * AVX-512 need one pointer for four of them, those of AVX2 get their pointers row by row.
 *
 * Error bound: one rounding for each of the K fused multiply-adds, in order: the bits of
 * conv.nhwc. */
#include "kernel/conv_nchw.h"

#include "backend/cpu/avx2/conv_nchw.h"
#include "backend/cpu/avx2/lane.h"
#include "backend/cpu/avx2/turn.h"
#include "isa/lane_math.h"
#include "kernel/epilogue.h"
#include "kernel/pack.h"

enum {
    CONV_NCHW_UNITS = 16, /* wanted */
    CONV_NCHW_ROWS = 4    /* output rows of a unit, at least */
};

typedef struct conv_nchw_plan {
    hg_conv2d g;
    int64_t depth, ahead;  /* floats of a tap; from pixel to pixel of an output row */
    int64_t line, reach;   /* floats of a line with room behind it; those that are read */
    int64_t panels, width; /* of the output */
    int64_t rows, blocks;  /* output rows of a unit; units of a picture */
    bool is_even;          /* tiles take rows that lie evenly */
} conv_nchw_plan;

static conv_nchw_plan conv_nchw_plan_of(const hg_args *a)
{
    conv_nchw_plan p = {.g = hg_conv_nchw_of(a)};
    const hg_conv2d *g = &p.g;
    p.depth = g->kw * g->c;
    p.ahead = g->stride_w * g->c;
    p.reach = (hg_max(0, g->ow - 1) * g->stride_w + g->kw) * g->c;
    p.is_even = hg_gemm_is_wide(a) && p.ahead > 0;
    p.line =
        hg_ceil_div(p.reach + (p.is_even ? HG_CONV_NCHW_TILE * p.ahead : 0), HG_PANEL) * HG_PANEL;
    p.panels = hg_panels(g->o);
    p.width = p.panels * HG_PANEL;
    const int64_t blocks = hg_ceil_div(CONV_NCHW_UNITS, hg_max(1, g->n));
    p.rows = hg_max(CONV_NCHW_ROWS, hg_ceil_div(g->oh, blocks));
    p.blocks = hg_ceil_div(g->oh, p.rows);
    return p;
}

/* Scratch: pointers, lines, a line of zeros, the result before an epilogue, the epilogue's own. */
static size_t conv_nchw_pointer_bytes(const conv_nchw_plan *p)
{
    const int64_t count = p->g.kh * (p->is_even ? 1 : p->g.ow);
    return hg_align_up((size_t)count * sizeof(float *), HG_ALIGN);
}

static size_t conv_nchw_line_bytes(const conv_nchw_plan *p)
{
    return (size_t)((p->g.kh + 1) * p->line) * sizeof(float);
}

static size_t conv_nchw_result_bytes(const hg_args *a, const conv_nchw_plan *p)
{
    return a->code == NULL ? 0 : (size_t)(p->g.ow * p->width) * sizeof(float);
}

static hg_work conv_nchw_work(const hg_args *a)
{
    if (holo_tensor_count(&a->out[0]) == 0) return (hg_work){0};
    const conv_nchw_plan p = conv_nchw_plan_of(a);
    return (hg_work){.units = p.g.n * p.blocks,
                     .scratch = conv_nchw_pointer_bytes(&p) + conv_nchw_line_bytes(&p) +
                                conv_nchw_result_bytes(a, &p) + hg_epilogue_scratch(a)};
}

typedef struct conv_nchw_unit {
    const hg_args *a;
    const conv_nchw_plan *p;
    const float **row; /* as hg_gemm_step has them */
    float *lines;      /* line y of the input at y % kh; then the zeros */
    float *result;     /* NULL: the output */
    const hg_epilogue_simple *finish;
    int64_t picture, next; /* line of it that is not there yet */
} conv_nchw_unit;

/* Line y of the picture becomes pixels; what lies beside it stays zero. */
static void conv_nchw_load(conv_nchw_unit *u, int64_t y)
{
    const hg_conv2d *g = &u->p->g;
    const int64_t plane = g->h * g->w, begin = hg_max(0, -g->pad_left);
    const int64_t end = g->c == 0 ? 0 : hg_min(g->w, u->p->reach / g->c - g->pad_left);
    const float *x = (const float *)u->a->in[0].data + u->picture * g->c * plane + y * g->w + begin;
    float *to = u->lines + y % g->kh * u->p->line + (begin + g->pad_left) * g->c;
    if (begin >= end) return;
    if (g->c > 1 && g->c <= 4) {
        hg_copy_pixels_avx2(to, x, plane, end - begin, g->c);
        return;
    }
    for (int64_t c = 0; c < g->c; c++)
        for (int64_t i = 0; i < end - begin; i++)
            to[i * g->c + c] = x[c * plane + i];
}

/* Pointers of output row oy. */
static void conv_nchw_point(conv_nchw_unit *u, int64_t oy)
{
    const conv_nchw_plan *p = u->p;
    const hg_conv2d *g = &p->g;
    const int64_t top = oy * g->stride_h - g->pad_top, end = hg_min(g->h, top + g->kh);
    for (int64_t y = hg_max(hg_max(0, top), u->next); y < end; y++)
        conv_nchw_load(u, y);
    u->next = hg_max(u->next, end);
    const float *zero = u->lines + g->kh * p->line;
    for (int64_t t = 0; t < g->kh; t++) {
        const int64_t y = top + t;
        const float *line = y < 0 || y >= g->h ? zero : u->lines + y % g->kh * p->line;
        if (p->is_even) u->row[t] = line;
        for (int64_t i = 0; i < g->ow && !p->is_even; i++)
            u->row[t * g->ow + i] = line == zero ? zero : line + i * p->ahead;
    }
}

/* What is done on the way out: everything but other operands and other activations. */
static bool conv_nchw_is_plain(const conv_nchw_unit *u)
{
    return u->finish != NULL && hg_epilogue_is_plain(u->finish);
}

static void conv_nchw_row(conv_nchw_unit *u, int64_t oy)
{
    const conv_nchw_plan *p = u->p;
    const hg_conv2d *g = &p->g;
    const holo_tensor *w = &u->a->in[1];
    const int64_t size = hg_dtype_is(w->dtype, HOLO_F16) ? 2 : 4;
    const hg_epilogue_simple *plain = conv_nchw_is_plain(u) ? u->finish : NULL;
    float *out = u->a->out[0].data, edge[HG_GEMM_PANELS * HG_PANEL];
    float *c = u->result != NULL ? u->result : out + (u->picture * g->oh + oy) * g->ow * g->o;
    hg_gemm_step step = {.row = u->row,
                         .row_step = g->ow,
                         .taps = g->c == 0 ? 0 : g->kh,
                         .depth = p->depth,
                         .zero = u->lines + g->kh * p->line,
                         .b_step = HG_PANEL * size,
                         .b_panel = g->kh * p->depth * HG_PANEL * size,
                         .is_half = size == 2,
                         .is_wide = p->is_even,
                         .ld = u->result != NULL ? p->width : g->o,
                         .alpha = 1,
                         .clamps = plain != NULL && plain->act == HG_EPILOGUE_CLAMP};
    step.low = step.clamps ? plain->low : -(float)HG_INFINITY;
    step.high = step.clamps ? plain->high : (float)HG_INFINITY;
    conv_nchw_point(u, oy);
    for (int64_t i = 0; i < p->panels; i += step.panels) {
        step.panels = hg_gemm_panels(&step, p->panels - i);
        const int64_t col = i * HG_PANEL, width = step.panels * HG_PANEL;
        const int64_t cols = hg_min(width, g->o - col);
        step.b = (const char *)w->data + i * step.b_panel;
        step.c = c + col;
        step.cols = u->result != NULL ? width : cols;
        step.narrow = cols <= HG_PANEL / 2;
        hg_gemm_begin_avx2(&step, u->finish, col, cols, edge);
#if HG_HAS_AVX512
        if (p->is_even) {
            hg_conv_nchw_row_avx512(&step, p->ahead, g->ow);
            continue;
        }
#endif
        hg_gemm_panel(&step, g->ow);
    }
    if (u->finish != NULL && plain == NULL)
        hg_gemm_finish_avx2(u->finish, NULL, NULL,
                            hg_epilogue_residuals_at(u->finish, c - out, g->o), c, g->o, g->ow, 0,
                            g->o);
}

static void conv_nchw_run(const hg_args *a, hg_range r)
{
    if (r.begin >= r.end) return;
    const conv_nchw_plan p = conv_nchw_plan_of(a);
    char *scratch = r.scratch;
    conv_nchw_unit u = {.a = a, .p = &p, .row = (const float **)(void *)scratch};
    u.lines = (float *)(void *)(scratch += conv_nchw_pointer_bytes(&p));
    memset(u.lines, 0, conv_nchw_line_bytes(&p));
    scratch += conv_nchw_line_bytes(&p);
    hg_epilogue ep;
    hg_epilogue_simple simple;
    if (hg_epilogue_is_simple(a, HG_CONV_NCHW_FIRST_EXTRA, &simple)) u.finish = &simple;
    if (a->code != NULL && u.finish == NULL) {
        u.result = (float *)(void *)scratch;
        hg_epilogue_init(&ep, a, HG_CONV_NCHW_FIRST_EXTRA, 1, hg_lane_tile_fast_avx2,
                         scratch + conv_nchw_result_bytes(a, &p));
    }
    for (int64_t i = r.begin; i < r.end; i++) {
        const int64_t block = i % p.blocks, end = hg_min(p.g.oh, (block + 1) * p.rows);
        if (i == r.begin || block == 0) u.next = 0;
        u.picture = i / p.blocks;
        for (int64_t oy = block * p.rows; oy < end; oy++) {
            conv_nchw_row(&u, oy);
            const hg_epilogue_tile tile = {.data = u.result,
                                           .ld = p.width,
                                           .dtype = HOLO_F32,
                                           .row = (u.picture * p.g.oh + oy) * p.g.ow,
                                           .rows = p.g.ow,
                                           .cols = p.g.o};
            if (u.result != NULL) hg_epilogue_run(&ep, &tile);
        }
    }
}

const hg_kernel hg_kernels_conv_nchw_avx2[] = {
    {.name = "conv.nchw",
     .flags = HG_KERNEL_FAST,
     .cpu = HG_CPU_AVX2,
     .check = hg_conv_nchw_check,
     .work = conv_nchw_work,
     .cost = hg_conv_nchw_cost,
     .run = conv_nchw_run},
    {0},
};
