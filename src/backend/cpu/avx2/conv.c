/* conv.c - f32 conv and convtranspose, channels first, with AVX2 and FMA. The packed channels-last
 * kernels are faster; these serve weights that are computed and layouts nobody changed.
 *
 * conv: output channels are the rows of a product, output pixels its columns. The weights of an
 * output channel are contiguous along k = (channel, tap), so rows are read in place; the input is
 * gathered into panels of 16 pixels, a block of channels at a time, and shared by all rows of the
 * unit.
 *
 * convtranspose (2-D): column (o, tap) of every input pixel is a product over channels; the columns
 * of a block of input rows are computed into scratch and added to the output rows they belong to. A
 * unit is some output channels and a block of output rows; input rows on a border are computed
 * twice.
 *
 * Error bound: one rounding for each of the K fused multiply-adds and, transposed, one for each
 * tap. */
#include "kernel/conv.h"

#include "backend/cpu/avx2/gemm.h"
#include "backend/cpu/avx2/lane.h"
#include "kernel/epilogue.h"
#include "kernel/pack.h"

enum {
    CONV_FIRST_EXTRA = 3,
    CONV_ROW_BLOCK = 192,
    CONV_TILE_VALUES = 12288,     /* wanted outputs of a unit */
    CONV_MAX_GROUP = 12,          /* panels of a unit */
    CONV_DIRECT_ROWS = 24,        /* up to here the input is read in place */
    CONV_COLUMN_ROWS = 96,        /* wanted columns (o, tap) of a transposed unit */
    CONV_COLUMN_VALUES = 1 << 16, /* wanted floats of its scratch */
    CONV_COLUMN_LIMIT = 1 << 24   /* above this the reference kernel is asked */
};

static holo_status conv_check_type(const hg_args *a, holo_error *e)
{
    HG_REQUIRE(e, a->in[0].dtype == HOLO_F32, HOLO_E_TYPE, "type is %s, expected float32",
               holo_dtype_text(a->in[0].dtype));
    return HOLO_OK;
}

/* ---- conv -------------------------------------------------------------------------------- */

typedef struct conv_plan {
    hg_conv_shape s;
    int64_t k;
    int64_t channels;              /* of a k block */
    hg_cut row;                    /* output channels of a unit */
    int64_t panels, group, groups; /* of pixels: all, of a unit, how many units */
} conv_plan;

static holo_status conv_check(const hg_args *a, holo_error *e)
{
    HG_TRY(hg_conv_check(a, e));
    return conv_check_type(a, e);
}

static conv_plan conv_plan_of(const hg_args *a)
{
    conv_plan p = {.s = hg_conv_shape_of(a, false)};
    p.k = p.s.group_c * p.s.taps;
    p.channels = hg_max(1, hg_min(p.s.group_c, HG_GEMM_DEPTH / hg_max(1, p.s.taps)));
    p.row = hg_cut_of(hg_max(1, p.s.group_o), CONV_ROW_BLOCK, hg_gemm_rows(hg_gemm_is_wide(a)));
    p.panels = hg_max(1, hg_panels(p.s.out_count));
    const int64_t wanted = CONV_TILE_VALUES / HG_PANEL / p.row.size;
    p.group = hg_min(p.panels, hg_min(wanted, CONV_MAX_GROUP));
    p.groups = hg_ceil_div(p.panels, p.group);
    p.group = hg_ceil_div(p.panels, p.groups);
    p.groups = hg_ceil_div(p.panels, p.group);
    return p;
}

static int64_t conv_units(const hg_args *a)
{
    const conv_plan p = conv_plan_of(a);
    if (holo_tensor_count(&a->out[0]) == 0) return 0;
    return a->out[0].dim[0] * p.s.groups * p.row.count * p.groups;
}

/* Scratch: row pointers, sums of a unit, a gathered panel, the epilogue's own. */
static size_t conv_pointer_bytes(const conv_plan *p)
{
    return hg_align_up((size_t)p->row.size * sizeof(float *), HG_ALIGN);
}

static size_t conv_sum_bytes(const conv_plan *p)
{
    return (size_t)(p->row.size * p->group) * HG_PANEL * sizeof(float);
}

static size_t conv_panel_bytes(const conv_plan *p)
{
    return (size_t)(p->channels * p->s.taps) * HG_PANEL * sizeof(float);
}

static size_t conv_scratch(const hg_args *a)
{
    const conv_plan p = conv_plan_of(a);
    return conv_pointer_bytes(&p) + conv_sum_bytes(&p) + conv_panel_bytes(&p) +
           hg_epilogue_scratch(a);
}

typedef struct conv_unit {
    const conv_plan *p;
    const float *x;    /* first channel of the group */
    const float *w;    /* first output channel of the unit */
    const float *bias; /* likewise, or NULL */
    const float **rows;
    float *sum, *panel_block;
    int64_t n_rows, panel, panels;
    float *c; /* result, in the output or in sum */
    int64_t ld;
    bool is_wide; /* tiles, see gemm.h */
} conv_unit;

/* Pixels [ox, ox + count) of an output row for one tap and all channels of the block. */
static void conv_gather_tap(const conv_unit *u, const hg_conv_line *line, const float *x,
                            int64_t channels, int64_t ox, int64_t count, float *to)
{
    const hg_conv_shape *s = &u->p->s;
    const int64_t begin = hg_max(0, hg_min(count, line->begin - ox));
    const int64_t end = hg_max(begin, hg_min(count, line->begin + line->count - ox));
    const int64_t at = line->at + (ox + begin - line->begin) * line->x_step;
    const bool is_whole = begin == 0 && end == HG_PANEL && line->x_step == 1;
    for (int64_t c = 0; c < channels; c++, to += s->taps * HG_PANEL) {
        const float *from = x + c * s->in_count + at;
        if (is_whole) {
            _mm256_storeu_ps(to, _mm256_loadu_ps(from));
            _mm256_storeu_ps(to + 8, _mm256_loadu_ps(from + 8));
            continue;
        }
        for (int64_t i = 0; i < begin; i++)
            to[i] = 0;
        for (int64_t i = begin; i < end; i++)
            to[i] = from[(i - begin) * line->x_step];
        for (int64_t i = end; i < count; i++)
            to[i] = 0;
    }
}

/* One panel of pixels, channels [c0, c0 + channels): row (c, tap) of 16 pixels. */
static void conv_gather(const conv_unit *u, int64_t panel, int64_t c0, int64_t channels)
{
    const hg_conv_shape *s = &u->p->s;
    const int64_t width = s->out[s->rank - 1], first = (u->panel + panel) * HG_PANEL;
    const int64_t count = hg_min(HG_PANEL, s->out_count - first);
    if (count < HG_PANEL)
        memset(u->panel_block, 0, (size_t)(channels * s->taps) * HG_PANEL * sizeof(float));
    for (int64_t i = 0; i < count;) {
        const int64_t pixel = first + i, ox = pixel % width, n = hg_min(count - i, width - ox);
        for (int64_t tap = 0; tap < s->taps; tap++) {
            hg_conv_line line;
            if (!hg_conv_find_line(s, pixel / width, tap, &line))
                line = (hg_conv_line){.begin = ox + n, .x_step = 1};
            conv_gather_tap(u, &line, u->x + c0 * s->in_count, channels, ox, n,
                            u->panel_block + tap * HG_PANEL + i);
        }
        i += n;
    }
}

static void conv_fill_bias(const conv_unit *u)
{
    const int64_t cols = u->p->group * HG_PANEL;
    for (int64_t i = 0; i < u->n_rows; i++)
        for (int64_t j = 0; j < cols; j++)
            u->sum[i * cols + j] = u->bias[i];
}

static void conv_unit_run(const conv_unit *u)
{
    const conv_plan *p = u->p;
    const int64_t sum_ld = p->group * HG_PANEL;
    if (u->bias != NULL) conv_fill_bias(u);
    for (int64_t c0 = 0; c0 == 0 || c0 < p->s.group_c; c0 += p->channels) {
        const int64_t channels = hg_min(p->channels, p->s.group_c - c0);
        const bool is_last = c0 + p->channels >= p->s.group_c;
        hg_gemm_step step = {.row = u->rows,
                             .taps = 1,
                             .depth = channels * p->s.taps,
                             .b = u->panel_block,
                             .b_step = HG_PANEL * sizeof(float),
                             .is_wide = u->is_wide,
                             .sum_ld = sum_ld,
                             .ld = is_last ? u->ld : sum_ld,
                             .cols = HG_PANEL,
                             .alpha = 1};
        for (int64_t i = 0; i < u->n_rows; i++)
            u->rows[i] = u->w + i * p->k + c0 * p->s.taps;
        for (int64_t i = 0; i < u->panels; i++) {
            conv_gather(u, i, c0, channels);
            step.sum = c0 == 0 && u->bias == NULL ? NULL : u->sum + i * HG_PANEL;
            step.c = (is_last ? u->c : u->sum) + i * HG_PANEL;
            if (is_last && u->c != u->sum)
                step.cols = hg_min(HG_PANEL, p->s.out_count - (u->panel + i) * HG_PANEL);
            hg_gemm_panel(&step, u->n_rows);
        }
    }
}

static void conv_run(const hg_args *a, hg_range r)
{
    const conv_plan p = conv_plan_of(a);
    const hg_conv_shape *s = &p.s;
    char *scratch = r.scratch;
    conv_unit u = {.p = &p, .is_wide = hg_gemm_is_wide(a)};
    u.rows = (const float **)(void *)scratch;
    u.sum = (float *)(void *)(scratch += conv_pointer_bytes(&p));
    u.panel_block = (float *)(void *)(scratch += conv_sum_bytes(&p));
    scratch += conv_panel_bytes(&p);
    hg_epilogue ep;
    if (a->code != NULL)
        hg_epilogue_init(&ep, a, CONV_FIRST_EXTRA, s->rank, hg_lane_tile_fast_avx2, scratch);
    for (int64_t i = r.begin; i < r.end; i++) {
        const int64_t pixels = i % p.groups, block = i / p.groups % p.row.count;
        const int64_t group = i / p.groups / p.row.count % s->groups;
        const int64_t image = i / p.groups / p.row.count / s->groups;
        const int64_t first = hg_cut_at(&p.row, block), o = group * s->group_o + first,
                      row = image * a->out[0].dim[1] + o;
        u.x = (const float *)a->in[0].data +
              (image * a->in[0].dim[1] + group * s->group_c) * s->in_count;
        u.w = (const float *)a->in[1].data + o * p.k;
        u.bias = hg_args_has(a, 2) ? (const float *)a->in[2].data + o : NULL;
        u.n_rows = hg_cut_at(&p.row, block + 1) - first;
        u.panel = pixels * p.group;
        u.panels = hg_min(p.group, p.panels - u.panel);
        const int64_t col = u.panel * HG_PANEL;
        u.c = a->code != NULL ? u.sum : (float *)a->out[0].data + row * s->out_count + col;
        u.ld = a->code != NULL ? p.group * HG_PANEL : s->out_count;
        conv_unit_run(&u);
        if (a->code == NULL) continue;
        const hg_epilogue_tile tile = {.data = u.sum,
                                       .ld = u.ld,
                                       .dtype = HOLO_F32,
                                       .row = row,
                                       .rows = u.n_rows,
                                       .col = col,
                                       .cols = hg_min(u.panels * HG_PANEL, s->out_count - col)};
        hg_epilogue_run(&ep, &tile);
    }
}

/* ---- convtranspose ----------------------------------------------------------------------- */

typedef struct transposed_plan {
    hg_conv_shape s;
    int64_t outputs, output_blocks; /* output channels of a unit; blocks in a group */
    int64_t rows, row_blocks;       /* output rows of a unit; blocks in an image */
    int64_t in_rows;                /* input rows of a unit, at most */
    int64_t columns;                /* pixels of those rows, in whole panels */
    int64_t depth;                  /* channels of a k block */
} transposed_plan;

static transposed_plan transposed_plan_of(const hg_args *a)
{
    transposed_plan p = {.s = hg_conv_shape_of(a, true)};
    const hg_conv_shape *s = &p.s;
    const int64_t taps = hg_max(1, s->taps), width = hg_max(1, s->in[1]);
    p.outputs = hg_max(1, hg_min(s->group_o, CONV_COLUMN_ROWS / taps));
    p.output_blocks = hg_ceil_div(hg_max(1, s->group_o), p.outputs);
    const int64_t wanted = hg_max(1, CONV_COLUMN_VALUES / taps / p.outputs / width);
    const int64_t stride = s->stride[0], high = hg_max(1, s->out[0]);
    p.rows = stride > high / wanted ? high : hg_min(high, wanted * stride);
    p.row_blocks = hg_ceil_div(high, p.rows);
    const int64_t reach = p.rows - 1 + (hg_max(1, s->kernel[0]) - 1) * s->dil[0];
    p.in_rows = hg_min(s->in[0], reach / stride + 1);
    p.columns = hg_panels(p.in_rows * s->in[1]) * HG_PANEL;
    p.depth = hg_max(1, hg_min(s->group_c, HG_GEMM_DEPTH));
    return p;
}

static holo_status transposed_check(const hg_args *a, holo_error *e)
{
    HG_TRY(hg_convtranspose_check(a, e));
    HG_TRY(conv_check_type(a, e));
    HG_REQUIRE(e, a->param[0] == 2, HOLO_E_UNSUPPORTED, "%lld spatial dimensions, expected 2",
               (long long)a->param[0]);
    const transposed_plan p = transposed_plan_of(a);
    int64_t values;
    HG_REQUIRE(e,
               hg_mul_i64(p.outputs * hg_max(1, p.s.taps), p.columns, &values) &&
                   values <= CONV_COLUMN_LIMIT,
               HOLO_E_UNSUPPORTED, "%lld taps over rows of %lld need too much scratch",
               (long long)p.s.taps, (long long)p.s.in[1]);
    return HOLO_OK;
}

static int64_t transposed_units(const hg_args *a)
{
    const transposed_plan p = transposed_plan_of(a);
    if (holo_tensor_count(&a->out[0]) == 0) return 0;
    return a->out[0].dim[0] * p.s.groups * p.output_blocks * p.row_blocks;
}

/* Scratch: row pointers, columns, turned weights, a panel of pixels, the result before an epilogue
 * and a row of zeros, the epilogue's own. */
static size_t transposed_pointer_bytes(const transposed_plan *p)
{
    return hg_align_up((size_t)(p->outputs * p->s.taps) * sizeof(float *), HG_ALIGN);
}

static size_t transposed_column_bytes(const transposed_plan *p)
{
    return (size_t)(p->outputs * p->s.taps * p->columns) * sizeof(float);
}

static size_t transposed_weight_bytes(const transposed_plan *p)
{
    return hg_align_up((size_t)(p->outputs * p->s.taps * p->depth) * sizeof(float), HG_ALIGN);
}

static size_t transposed_panel_bytes(const transposed_plan *p)
{
    return (size_t)p->depth * HG_PANEL * sizeof(float);
}

static size_t transposed_result_bytes(const hg_args *a, const transposed_plan *p)
{
    if (a->code == NULL) return 0;
    return hg_align_up((size_t)(p->outputs * p->rows * p->s.out[1]) * sizeof(float), HG_ALIGN);
}

static size_t transposed_zero_bytes(const transposed_plan *p)
{
    return hg_align_up((size_t)p->s.in[1] * sizeof(float), HG_ALIGN);
}

static size_t transposed_scratch(const hg_args *a)
{
    const transposed_plan p = transposed_plan_of(a);
    return transposed_pointer_bytes(&p) + transposed_column_bytes(&p) +
           transposed_weight_bytes(&p) + transposed_panel_bytes(&p) +
           transposed_result_bytes(a, &p) + transposed_zero_bytes(&p) + hg_epilogue_scratch(a);
}

typedef struct transposed_unit {
    const transposed_plan *p;
    const float *x; /* first channel of the group */
    const float *w; /* first channel of the group, first output of the unit */
    const float *bias;
    const float **pointers;
    float *column, *weight, *panel_block;
    const float *zero;
    int64_t outputs;
    int64_t row, rows;       /* output rows */
    int64_t in_row, in_rows; /* input rows that reach them */
    float *y;                /* row `row` of the first output */
    int64_t y_channel;
    bool is_wide; /* tiles, see gemm.h */
} transposed_unit;

/* `depth` rows of `cols` values, 16 apart; what lies beyond them is never looked at. */
static void transposed_pack(const float *x, int64_t ld, int64_t depth, int64_t cols, float *to)
{
    for (int64_t c = 0; c < depth; c++, x += ld, to += HG_PANEL) {
        if (cols < HG_PANEL) {
            memcpy(to, x, (size_t)cols * sizeof(float));
            continue;
        }
        _mm256_storeu_ps(to, _mm256_loadu_ps(x));
        _mm256_storeu_ps(to + 8, _mm256_loadu_ps(x + 8));
    }
}

/* Columns (o, tap) of all pixels of the input rows. */
static void transposed_columns(const transposed_unit *u)
{
    const transposed_plan *p = u->p;
    const hg_conv_shape *s = &p->s;
    const int64_t rows = u->outputs * s->taps, pixels = u->in_rows * s->in[1];
    hg_gemm_step step = {.row = u->pointers,
                         .taps = 1,
                         .is_wide = u->is_wide,
                         .sum_ld = p->columns,
                         .ld = p->columns,
                         .cols = HG_PANEL,
                         .alpha = 1};
    for (int64_t c0 = 0; c0 < s->group_c; c0 += p->depth) {
        step.depth = hg_min(p->depth, s->group_c - c0);
        hg_gemm_turn_avx2(u->w + c0 * s->w_channel, s->w_channel, step.depth, rows, u->weight,
                          step.depth);
        for (int64_t i = 0; i < rows; i++)
            u->pointers[i] = u->weight + i * step.depth;
        for (int64_t i = 0; i < pixels; i += HG_PANEL) {
            const float *x = u->x + c0 * s->in_count + u->in_row * s->in[1] + i;
            const int64_t cols = hg_min(HG_PANEL, pixels - i);
            const bool in_place = cols == HG_PANEL && rows <= CONV_DIRECT_ROWS;
            step.b = in_place ? x : u->panel_block;
            step.b_step = (in_place ? s->in_count : HG_PANEL) * (int64_t)sizeof(float);
            if (!in_place) transposed_pack(x, s->in_count, step.depth, cols, u->panel_block);
            step.sum = c0 == 0 ? NULL : u->column + i;
            step.c = u->column + i;
            hg_gemm_panel(&step, rows);
        }
    }
}

/* y[2 * i] += a[i], y[2 * i + 1] += b[i]. */
static void transposed_add_pairs(float *y, const float *a, const float *b, int64_t count)
{
    int64_t i = 0;
    for (; i + 8 <= count; i += 8) {
        const __m256 p = _mm256_loadu_ps(a + i), q = _mm256_loadu_ps(b + i);
        const __m256 low = _mm256_unpacklo_ps(p, q), high = _mm256_unpackhi_ps(p, q);
        float *to = y + 2 * i;
        _mm256_storeu_ps(
            to, _mm256_add_ps(_mm256_loadu_ps(to), _mm256_permute2f128_ps(low, high, 0x20)));
        _mm256_storeu_ps(to + 8, _mm256_add_ps(_mm256_loadu_ps(to + 8),
                                               _mm256_permute2f128_ps(low, high, 0x31)));
    }
    for (; i < count; i++) {
        y[2 * i] += a[i];
        y[2 * i + 1] += b[i];
    }
}

/* One input row of one tap (kx) added to an output row. */
static void transposed_add(const hg_conv_shape *s, float *y, const float *column, int64_t kx)
{
    const int64_t stride = s->stride[1], shift = kx * s->dil[1] - s->pad[1];
    int64_t begin, end;
    hg_conv_inside(s->out[1], s->in[1], stride, s->pad[1], kx * s->dil[1], &begin, &end);
    for (int64_t i = begin; i < end; i++)
        y[i * stride + shift] += column[i];
}

/* All taps of one kernel row for one input row; `columns` are the taps, `step` apart. */
static void transposed_add_taps(const transposed_unit *u, float *y, const float *columns,
                                int64_t step)
{
    const hg_conv_shape *s = &u->p->s;
    int64_t kx = 0;
    if (s->stride[1] == 2 && s->dil[1] == 1) {
        for (; kx < s->kernel[1]; kx += 2) {
            /* pixels for which both outputs exist; those beyond are done one by one */
            const bool has_second = kx + 1 < s->kernel[1];
            const float *a = columns + kx * step, *b = has_second ? a + step : u->zero;
            int64_t begin, end, unused;
            hg_conv_inside(s->out[1], s->in[1], 2, s->pad[1], kx, &begin, &unused);
            hg_conv_inside(s->out[1], s->in[1], 2, s->pad[1], kx + 1, &unused, &end);
            end = hg_max(begin, end);
            transposed_add_pairs(y + 2 * begin + kx - s->pad[1], a + begin, b + begin, end - begin);
            for (int64_t i = 0; i < s->in[1]; i++) {
                if (i == begin) i = end;
                if (i >= s->in[1]) break;
                const int64_t at = 2 * i + kx - s->pad[1];
                if (at >= 0 && at < s->out[1]) y[at] += a[i];
                if (at + 1 >= 0 && at + 1 < s->out[1]) y[at + 1] += b[i];
            }
        }
        return;
    }
    for (; kx < s->kernel[1]; kx++)
        transposed_add(s, y, columns + kx * step, kx);
}

static void transposed_unit_run(const transposed_unit *u)
{
    const hg_conv_shape *s = &u->p->s;
    for (int64_t o = 0; o < u->outputs; o++)
        for (int64_t i = 0; i < u->rows * s->out[1]; i++)
            u->y[o * u->y_channel + i] = u->bias == NULL ? 0 : u->bias[o];
    if (u->in_rows == 0 || s->taps == 0) return;
    transposed_columns(u);
    for (int64_t o = 0; o < u->outputs; o++)
        for (int64_t ky = 0; ky < s->kernel[0]; ky++)
            for (int64_t i = 0; i < u->in_rows; i++) {
                const int64_t oy =
                    (u->in_row + i) * s->stride[0] + ky * s->dil[0] - s->pad[0] - u->row;
                if (oy < 0 || oy >= u->rows) continue;
                const int64_t column = (o * s->kernel[0] + ky) * s->kernel[1];
                transposed_add_taps(u, u->y + o * u->y_channel + oy * s->out[1],
                                    u->column + column * u->p->columns + i * s->in[1],
                                    u->p->columns);
            }
}

/* Input rows that reach output rows [row, row + rows). */
static void transposed_find_rows(transposed_unit *u)
{
    const hg_conv_shape *s = &u->p->s;
    const int64_t reach = (hg_max(1, s->kernel[0]) - 1) * s->dil[0];
    const int64_t first = hg_ceil_div(u->row + s->pad[0] - reach, s->stride[0]);
    const int64_t last = hg_floor_div(u->row + u->rows - 1 + s->pad[0], s->stride[0]);
    u->in_row = hg_min(hg_max(0, first), s->in[0]);
    u->in_rows = hg_max(0, hg_min(s->in[0], last + 1) - u->in_row);
}

static void transposed_run(const hg_args *a, hg_range r)
{
    if (r.begin >= r.end) return;
    const transposed_plan p = transposed_plan_of(a);
    const hg_conv_shape *s = &p.s;
    char *scratch = r.scratch;
    transposed_unit u = {.p = &p, .is_wide = hg_gemm_is_wide(a)};
    u.pointers = (const float **)(void *)scratch;
    u.column = (float *)(void *)(scratch += transposed_pointer_bytes(&p));
    u.weight = (float *)(void *)(scratch += transposed_column_bytes(&p));
    u.panel_block = (float *)(void *)(scratch += transposed_weight_bytes(&p));
    float *result = (float *)(void *)(scratch += transposed_panel_bytes(&p));
    u.zero = (const float *)(void *)memset(scratch += transposed_result_bytes(a, &p), 0,
                                           transposed_zero_bytes(&p));
    memset(u.panel_block, 0, transposed_panel_bytes(&p)); /* columns beyond the last pixel */
    hg_epilogue ep;
    if (a->code != NULL)
        hg_epilogue_init(&ep, a, CONV_FIRST_EXTRA, 2, hg_lane_tile_fast_avx2,
                         scratch + transposed_zero_bytes(&p));
    for (int64_t i = r.begin; i < r.end; i++) {
        const int64_t rows = i % p.row_blocks, block = i / p.row_blocks % p.output_blocks;
        const int64_t group = i / p.row_blocks / p.output_blocks % s->groups;
        const int64_t image = i / p.row_blocks / p.output_blocks / s->groups;
        const int64_t first = block * p.outputs, o = group * s->group_o + first;
        const int64_t channel = image * a->out[0].dim[1] + o;
        u.x = (const float *)a->in[0].data +
              (image * a->in[0].dim[1] + group * s->group_c) * s->in_count;
        u.w =
            (const float *)a->in[1].data + group * s->group_c * s->w_channel + first * s->w_output;
        u.bias = hg_args_has(a, 2) ? (const float *)a->in[2].data + o : NULL;
        u.outputs = hg_min(p.outputs, s->group_o - first);
        u.row = rows * p.rows;
        u.rows = hg_min(p.rows, s->out[0] - u.row);
        u.y_channel = a->code != NULL ? u.rows * s->out[1] : s->out_count;
        u.y = a->code != NULL
                  ? result
                  : (float *)a->out[0].data + channel * s->out_count + u.row * s->out[1];
        transposed_find_rows(&u);
        transposed_unit_run(&u);
        if (a->code == NULL) continue;
        const hg_epilogue_tile tile = {.data = result,
                                       .ld = u.y_channel,
                                       .dtype = HOLO_F32,
                                       .row = channel,
                                       .rows = u.outputs,
                                       .col = u.row * s->out[1],
                                       .cols = u.y_channel};
        hg_epilogue_run(&ep, &tile);
    }
}

const hg_kernel hg_kernels_conv_avx2[] = {
    {.name = "conv",
     .flags = HG_KERNEL_FAST,
     .cpu = HG_CPU_AVX2,
     .check = conv_check,
     .units = conv_units,
     .scratch = conv_scratch,
     .cost = hg_conv_cost,
     .run = conv_run},
    {.name = "convtranspose",
     .flags = HG_KERNEL_FAST,
     .cpu = HG_CPU_AVX2,
     .check = transposed_check,
     .units = transposed_units,
     .scratch = transposed_scratch,
     .cost = hg_convtranspose_cost,
     .run = transposed_run},
    {0},
};
