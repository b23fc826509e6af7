/* conv_pwdw.c - conv.pwdw with AVX2 and FMA: panel by panel of 16 channels, a few rows at a time.
 *
 * A unit is a block of output rows times one panel, or two or three with the tiles of AVX-512
 * (gemm.h), which need them side by side; a picture has two blocks or more where it is high enough,
 * so that a thread reads and writes the rows that it has in its cache from the step before and for
 * the step after. The rows of the map in between that a band of output rows reads are computed by
 * the tiles of gemm.h into a buffer [rows][W][16 to 48] that stays in cache, then the depthwise
 * part (conv_dw_band.h) reads them from there. Rows the next band reads too are moved to the front.
 * Blocks that one thread computes are one; only where another one begins are rows computed twice.
 *
 * Error bounds: those of conv.nhwc, of the activation (epilogue.c) and of conv.dw. */
#include "kernel/conv_pwdw.h"

#include "backend/cpu/avx2/conv_dw_band.h"
#include "backend/cpu/avx2/lane.h"
#include "kernel/pack.h"

enum {
    CONV_PWDW_PIXELS = 96,    /* of a call of the tiles */
    CONV_PWDW_VALUES = 24576, /* floats of the buffer, unless one output row needs more */
    CONV_PWDW_BAND = 4,       /* output rows of the depthwise part while its input is in L1 */
    CONV_PWDW_INPUT = 131072, /* floats */
    CONV_PWDW_UNITS = 16,     /* wanted */
    CONV_PWDW_ODD = 10,       /* an odd number of rows is halved from here on, */
    CONV_PWDW_DEEP = 768,     /* or where fewer products make an output: it goes to another core */
    CONV_PWDW_OVERLAP = 6     /* a block has so many rows for each that is computed twice */
};

typedef struct conv_pwdw_plan {
    hg_conv2d g;
    int64_t panels, groups; /* all of them; how many units they are */
    int64_t width;          /* channels of the widest of these */
    int64_t reach;          /* lines of the map that an output row spans */
    int64_t band;           /* output rows for which the buffer has room */
    int64_t lines;          /* of the buffer */
    hg_cut rows;            /* output rows of a unit */
    int64_t together;       /* blocks whose input stays in L2 from panel to panel */
} conv_pwdw_plan;

/* Groups of panels, of equal size but for one panel. */
static int64_t conv_pwdw_groups(const hg_args *a, int64_t channels, int64_t panels)
{
    /* a last panel of less than a vector has other bits than one that is part of more */
    const int64_t rest = channels % HG_PANEL;
    const bool is_whole = rest == 0 || rest >= HG_CONV_DW_VECTOR;
    if (!hg_gemm_is_wide(a) || panels == 1 || !is_whole) return panels;
    const int64_t groups = hg_ceil_div(panels, HG_GEMM_PANELS);
    return groups % 2 == 1 && 2 * (groups + 1) <= panels ? groups + 1 : groups; /* two threads */
}

static void conv_pwdw_plan_of(const hg_args *a, conv_pwdw_plan *p)
{
    p->g = hg_conv2d_of(a);
    const hg_conv2d *g = &p->g;
    p->panels = hg_max(1, a->in[1].dim[1]);
    p->groups = conv_pwdw_groups(a, g->o, p->panels);
    p->width = hg_ceil_div(p->panels, p->groups) * HG_PANEL;
    const int64_t oh = hg_max(1, g->oh), line = hg_max(1, g->w) * p->width;
    p->reach = (g->kh - 1) * g->dil_h + 1;
    p->band = hg_max(1, (CONV_PWDW_VALUES / line - p->reach) / g->stride_h + 1);
    const int64_t twice = hg_max(0, hg_min(p->reach, g->h) - g->stride_h);
    const int64_t least = hg_max(1, CONV_PWDW_OVERLAP * twice / g->stride_h);
    const int64_t wanted = hg_ceil_div(CONV_PWDW_UNITS, p->groups * hg_max(1, g->n));
    int64_t blocks = hg_min(hg_max(g->n < 2 ? 2 : 1, wanted), hg_max(1, oh / least));
    /* seven rows are four and three: two threads rather share the panels */
    const bool is_deep =
        (double)g->c * (double)g->h * (double)g->w >= CONV_PWDW_DEEP * (double)oh * (double)g->ow;
    if (is_deep && blocks == 2 && oh % 2 != 0 && oh < CONV_PWDW_ODD && p->groups % 2 == 0)
        blocks = 1;
    /* of an odd number of units one of two threads does one more */
    if (blocks > 1 && blocks * p->groups * hg_max(1, g->n) % 2 != 0) blocks--;
    p->rows = hg_cut_into(oh, blocks, 1);
    /* a map without rows may be of any width */
    const double input = (double)p->rows.size * (double)g->stride_h * (double)g->w * (double)g->c;
    const int64_t fit = input <= 1 ? CONV_PWDW_INPUT : (int64_t)(CONV_PWDW_INPUT / input);
    p->together = hg_min(hg_max(1, fit), p->rows.count);
    p->band = hg_min(p->band, p->together * p->rows.size);
    p->lines = hg_min(hg_max(1, g->h), (p->band - 1) * g->stride_h + p->reach);
}

/* The first row of a block. Of seven rows the first four come first: above them there is padding.
 */
static int64_t conv_pwdw_first(const conv_pwdw_plan *p, int64_t block)
{
    return p->rows.total - hg_cut_at(&p->rows, p->rows.count - block);
}

/* Scratch: pointers, the buffer, widened depthwise weights, the result before an epilogue, the
 * epilogue's own. */
static size_t conv_pwdw_pointer_bytes(void)
{
    return CONV_PWDW_PIXELS * sizeof(float *);
}

static size_t conv_pwdw_buffer_bytes(const conv_pwdw_plan *p)
{
    return (size_t)(p->lines * p->g.w * p->width) * sizeof(float);
}

static size_t conv_pwdw_weight_bytes(const hg_args *a, const conv_pwdw_plan *p)
{
    return a->in[2].dtype == HOLO_F32 ? 0 : (size_t)(a->in[2].dim[0] * p->width) * sizeof(float);
}

static size_t conv_pwdw_result_bytes(const hg_args *a, const conv_pwdw_plan *p)
{
    return a->code == NULL ? 0 : (size_t)(p->band * p->g.ow * p->width) * sizeof(float);
}

static hg_work conv_pwdw_work(const hg_args *a)
{
    if (holo_tensor_count(&a->out[0]) == 0) return (hg_work){0};
    conv_pwdw_plan p;
    conv_pwdw_plan_of(a, &p);
    return (hg_work){.units = p.g.n * p.rows.count * p.groups,
                     .scratch = conv_pwdw_pointer_bytes() + conv_pwdw_buffer_bytes(&p) +
                                conv_pwdw_weight_bytes(a, &p) + conv_pwdw_result_bytes(a, &p) +
                                hg_epilogue_scratch(a)};
}

/* What comes between the convolutions as a group of panels sees it: column 0 is its first. */
typedef struct conv_pwdw_middle {
    hg_epilogue_simple simple;
    float column[HG_CONV_PWDW_N_COLUMNS][HG_GEMM_PANELS * HG_PANEL];
} conv_pwdw_middle;

typedef struct conv_pwdw_unit {
    const hg_args *a;
    const conv_pwdw_plan *p;
    const hg_epilogue_simple *finish; /* NULL without code or with lane code */
    conv_pwdw_middle middle;
    hg_epilogue *ep; /* NULL without lane code */
    const float **row;
    float *buffer, *result;
    int64_t image, col, cols; /* output columns of the group */
    int64_t first, end;       /* lines of the map in the buffer */
    hg_conv_dw_unit dw;
} conv_pwdw_unit;

/* Tiles finish whole panels: what channels that are not there have is 0. */
static const float *conv_pwdw_columns(const conv_pwdw_unit *u, const float *from, float *room)
{
    if (from == NULL || u->cols % HG_PANEL == 0) return from == NULL ? NULL : from + u->col;
    memset(room, 0, sizeof u->middle.column[0]);
    return memcpy(room, from + u->col, (size_t)u->cols * sizeof *from);
}

static void conv_pwdw_begin(conv_pwdw_unit *u, const hg_epilogue_simple *whole)
{
    conv_pwdw_middle *m = &u->middle;
    m->simple = *whole;
    m->simple.bias = conv_pwdw_columns(u, whole->bias, m->column[0]);
    m->simple.slope = conv_pwdw_columns(u, whole->slope, m->column[1]);
    m->simple.gain = conv_pwdw_columns(u, whole->gain, m->column[2]);
    m->simple.lift = conv_pwdw_columns(u, whole->lift, m->column[3]);
}

/* Lines [u->end, to) of the map, one group of panels. */
static void conv_pwdw_expand(conv_pwdw_unit *u, int64_t to)
{
    const hg_conv2d *g = &u->p->g;
    const holo_tensor *w = &u->a->in[1];
    const float *x = (const float *)u->a->in[0].data + (u->image * g->h + u->end) * g->w * g->c;
    const int64_t pixels = (to - u->end) * g->w, size = w->dtype == HOLO_F16 ? 2 : 4;
    const int64_t width = u->p->width, panels = hg_ceil_div(u->cols, HG_PANEL);
    float *c = u->buffer + (u->end - u->first) * g->w * width;
    hg_gemm_step step = {.row = u->row,
                         .row_step = CONV_PWDW_PIXELS,
                         .taps = 1,
                         .depth = g->c,
                         .b = (const char *)w->data + u->col * g->c * size,
                         .b_step = HG_PANEL * size,
                         .b_panel = g->c * HG_PANEL * size,
                         .panels = panels,
                         .is_half = size == 2,
                         .is_wide = hg_gemm_is_wide(u->a),
                         .ld = width,
                         .cols = panels * HG_PANEL,
                         .narrow = u->cols <= HG_PANEL / 2,
                         .alpha = 1};
    hg_gemm_begin_avx2(&step, &u->middle.simple, 0, step.cols, NULL);
    hg_gemm_end_avx2(&step, &u->middle.simple, NULL);
    step.col = 0;
    for (int64_t i = 0; i < hg_min(pixels, CONV_PWDW_PIXELS); i++)
        u->row[i] = x + i * g->c;
    for (int64_t i = 0; i < pixels; i += CONV_PWDW_PIXELS) {
        step.c = c + i * width;
        step.offset = i * g->c;
        const int64_t rows = hg_min(CONV_PWDW_PIXELS, pixels - i);
        hg_gemm_fetch(&step, (const char *)step.b + panels * step.b_panel, rows);
        hg_gemm_panel(&step, rows);
    }
    u->end = to;
}

/* Makes lines [from, to) of the map present; calls ask for ascending ones. */
static void conv_pwdw_lines(conv_pwdw_unit *u, int64_t from, int64_t to)
{
    const int64_t line = u->p->g.w * u->p->width;
    if (from < u->end && from > u->first)
        memmove(u->buffer, u->buffer + (from - u->first) * line,
                (size_t)((u->end - from) * line) * sizeof(float));
    if (from >= u->end) u->end = from;
    u->first = from;
    if (to > u->end) conv_pwdw_expand(u, to);
}

/* Output rows [oy, oy + rows), at most a band. */
static void conv_pwdw_band(conv_pwdw_unit *u, int64_t oy, int64_t rows)
{
    const conv_pwdw_plan *p = u->p;
    const hg_conv2d *g = &p->g;
    const int64_t top = oy * g->stride_h - g->pad_top;
    const int64_t from = hg_max(0, hg_min(g->h, top));
    const int64_t to = hg_max(from, hg_min(g->h, top + (rows - 1) * g->stride_h + p->reach));
    conv_pwdw_lines(u, from, to);
    const int64_t row = u->image * g->oh + oy, pixel = row * g->ow, col = u->col;
    u->dw.x = u->buffer;
    u->dw.x_first = u->first;
    u->dw.y = u->ep != NULL ? u->result : (float *)u->a->out[0].data + pixel * g->o + col;
    u->dw.first = oy;
    for (int64_t i = 0; i < rows; i += CONV_PWDW_BAND) {
        const int64_t count = hg_min(CONV_PWDW_BAND, rows - i);
        hg_conv_dw_band_avx2(&u->dw, oy + i, count);
        if (u->finish != NULL) hg_conv_dw_finish(&u->dw, u->finish, u->a->out[0].data, i, count);
        if (u->ep == NULL) hg_conv_dw_means_avx2(u->a, row + i, count, col, u->cols);
    }
    const hg_epilogue_tile tile = {.data = u->result,
                                   .ld = p->width,
                                   .dtype = HOLO_F32,
                                   .row = pixel,
                                   .rows = rows * g->ow,
                                   .col = col,
                                   .cols = u->cols};
    if (u->ep == NULL) return;
    hg_epilogue_run(u->ep, &tile);
    hg_conv_dw_means_avx2(u->a, row, rows, col, u->cols);
}

static void conv_pwdw_run(const hg_args *a, hg_range r)
{
    if (r.begin >= r.end) return;
    conv_pwdw_plan p;
    conv_pwdw_plan_of(a, &p);
    const hg_conv2d *g = &p.g;
    const hg_epilogue_simple middle = hg_conv_pwdw_middle(a);
    hg_epilogue ep;
    hg_epilogue_simple simple;
    const bool is_simple = hg_epilogue_is_simple(a, HG_CONV_PWDW_FIRST_EXTRA, &simple);
    char *scratch = r.scratch;
    conv_pwdw_unit u = {.a = a, .p = &p, .row = (const float **)(void *)scratch};
    u.buffer = (float *)(void *)(scratch += conv_pwdw_pointer_bytes());
    float *wide = (float *)(void *)(scratch += conv_pwdw_buffer_bytes(&p));
    u.result = (float *)(void *)(scratch += conv_pwdw_weight_bytes(a, &p));
    scratch += conv_pwdw_result_bytes(a, &p);
    if (a->code != NULL && !is_simple) {
        hg_epilogue_init(&ep, a, HG_CONV_PWDW_FIRST_EXTRA, 1, hg_lane_tile_fast_avx2, scratch);
        u.ep = &ep;
    }
    u.dw = (hg_conv_dw_unit){.g = g,
                             .x_row = g->w * p.width,
                             .x_col = p.width,
                             .planes = 1,
                             .is_wide = hg_has_avx512(a)};
    u.dw.y_col = u.ep != NULL ? p.width : g->o;
    u.dw.y_row = g->ow * u.dw.y_col;
    for (int64_t i = r.begin, done; i < r.end; i += done) {
        const int64_t block = i / p.groups % p.rows.count, group = i % p.groups;
        /* Whole blocks of a picture are one: no rows are computed twice. */
        const int64_t whole =
            group == 0 ? hg_min(p.together, hg_min(p.rows.count - block, (r.end - i) / p.groups))
                       : 0;
        const int64_t oy = conv_pwdw_first(&p, block),
                      end = conv_pwdw_first(&p, block + hg_max(1, whole));
        done = whole == 0 ? 1 : whole * p.groups;
        u.image = i / p.groups / p.rows.count;
        for (int64_t j = group; j < (whole == 0 ? group + 1 : p.groups); j++) {
            u.col = j * p.panels / p.groups * HG_PANEL;
            u.cols = hg_min((j + 1) * p.panels / p.groups * HG_PANEL, g->o) - u.col;
            u.first = u.end = 0;
            u.dw.channels = u.cols;
            conv_pwdw_begin(&u, &middle);
            hg_conv_dw_weights_avx2(&u.dw, &a->in[2], u.col, wide);
            const bool has_rest = is_simple && hg_conv_dw_find_ends(&simple, u.col, &u.dw.ends);
            u.finish = has_rest ? &simple : NULL;
            for (int64_t k = oy; k < end; k += p.band)
                conv_pwdw_band(&u, k, hg_min(p.band, end - k));
        }
    }
}

const hg_kernel hg_kernels_conv_pwdw_avx2[] = {
    {.name = "conv.pwdw",
     .flags = HG_KERNEL_FAST,
     .cpu = HG_CPU_AVX2,
     .check = hg_conv_pwdw_check,
     .work = conv_pwdw_work,
     .cost = hg_conv_pwdw_cost,
     .run = conv_pwdw_run},
    {0},
};
