/* conv_dw.c - conv.dw with AVX2 and FMA: eight channels a vector, several output pixels a tile.
 *
 * A unit is a block of output rows times a block of channels. It is done in bands of a few rows, so
 * narrow in channels that the input a band reads stays in L1:
 *
 *     for each band:  for each vector of channels:  for each row:  tiles of 4 neighbouring outputs
 *
 * Inside a tile every input pixel is loaded once for all outputs that use it; the weights of a 3 x
 * 3 kernel stay in registers for the whole band. Outputs that touch the padding at the sides, and
 * kernels without a tile of their own, are done one at a time. Tails are done by moving the last
 * tile or vector back: values are written twice, never differently. Error bound: one rounding for
 * each of the KH*KW fused multiply-adds, in order. */
#include "kernel/conv_dw.h"

#include "backend/cpu/avx2/gemm.h"
#include "backend/cpu/avx2/lane.h"
#include "kernel/epilogue.h"

enum {
    CONV_DW_FIRST_EXTRA = 2,
    CONV_DW_VECTOR = 8,
    CONV_DW_LINE = 16,         /* channels of a cache line */
    CONV_DW_TILE = 4,          /* outputs of a tile */
    CONV_DW_BAND = 4,          /* output rows of a band, at most */
    CONV_DW_L1_VALUES = 6144,  /* input floats of a band that should stay in L1 */
    CONV_DW_UNIT_VALUES = 8192 /* wanted outputs of a unit */
};

typedef struct conv_dw_plan {
    hg_conv2d g;
    int64_t taps;
    int64_t channels, channel_blocks; /* of a unit; how many */
    int64_t band;                     /* output rows of a band */
    int64_t rows, row_blocks;         /* output rows of a unit; blocks in an image */
} conv_dw_plan;

/* Channels for which a band of output rows reads no more than L1 holds. */
static int64_t conv_dw_fit(const hg_conv2d *g, int64_t band)
{
    const int64_t high = hg_min(hg_max(1, g->h), (band - 1) * g->stride_h + g->kh);
    return CONV_DW_L1_VALUES / high / hg_max(1, g->w) / CONV_DW_LINE * CONV_DW_LINE;
}

static conv_dw_plan conv_dw_plan_of(const hg_args *a)
{
    conv_dw_plan p = {.g = hg_conv2d_of(a), .band = CONV_DW_BAND};
    const hg_conv2d *g = &p.g;
    p.taps = g->kh * g->kw;
    while (p.band > 1 && conv_dw_fit(g, p.band) < CONV_DW_LINE)
        p.band /= 2;
    const int64_t c = hg_max(1, g->c);
    p.channels = hg_min(c, hg_max(CONV_DW_LINE, conv_dw_fit(g, p.band)));
    p.channel_blocks = hg_ceil_div(c, p.channels);
    /* no block below a vector: the last one takes the few channels left over */
    if (p.channel_blocks > 1 && c % p.channels != 0 && c % p.channels < CONV_DW_VECTOR)
        p.channel_blocks--;
    p.rows = hg_min(g->oh, CONV_DW_UNIT_VALUES / hg_max(1, g->ow) / p.channels / p.band * p.band);
    p.rows = hg_max(p.band, p.rows);
    p.row_blocks = hg_ceil_div(hg_max(1, g->oh), p.rows);
    return p;
}

/* Channels of the last block may exceed the others by less than a vector. */
static int64_t conv_dw_max_channels(const conv_dw_plan *p)
{
    return hg_max(p->channels, p->g.c - (p->channel_blocks - 1) * p->channels);
}

static int64_t conv_dw_units(const hg_args *a)
{
    const conv_dw_plan p = conv_dw_plan_of(a);
    if (holo_tensor_count(&a->out[0]) == 0) return 0;
    return p.g.n * p.row_blocks * p.channel_blocks;
}

/* Scratch: widened weights, the result before an epilogue, the epilogue's own. */
static size_t conv_dw_weight_bytes(const hg_args *a, const conv_dw_plan *p)
{
    if (a->in[1].dtype == HOLO_F32) return 0;
    return hg_align_up((size_t)(p->taps * conv_dw_max_channels(p)) * sizeof(float), HG_ALIGN);
}

static size_t conv_dw_result_bytes(const hg_args *a, const conv_dw_plan *p)
{
    if (a->code == NULL) return 0;
    return hg_align_up((size_t)(p->rows * p->g.ow * conv_dw_max_channels(p)) * sizeof(float),
                       HG_ALIGN);
}

static size_t conv_dw_scratch(const hg_args *a)
{
    const conv_dw_plan p = conv_dw_plan_of(a);
    if (holo_tensor_count(&a->out[0]) == 0) return 0;
    return conv_dw_weight_bytes(a, &p) + conv_dw_result_bytes(a, &p) + hg_epilogue_scratch(a);
}

/* ---- tiles ------------------------------------------------------------------------------- */

/* What an output starts with and what limits it: the parts of an epilogue that cost nothing here.
 */
typedef struct conv_dw_ends {
    const float *bias, *bias2; /* of the block's first channel, or NULL */
    bool clamps;
    float low, high;
} conv_dw_ends;

HG_INLINE __m256 conv_dw_begin(const conv_dw_ends *e, int64_t c)
{
    if (e->bias == NULL) return _mm256_setzero_ps();
    const __m256 bias = _mm256_loadu_ps(e->bias + c);
    return e->bias2 == NULL ? bias : _mm256_add_ps(bias, _mm256_loadu_ps(e->bias2 + c));
}

HG_INLINE __m256 conv_dw_end(const conv_dw_ends *e, __m256 x)
{
    if (!e->clamps) return x;
    /* operands in this order keep a NaN */
    return _mm256_min_ps(_mm256_set1_ps(e->high), _mm256_max_ps(_mm256_set1_ps(e->low), x));
}

static float conv_dw_clamp(const conv_dw_ends *e, float x)
{
    if (x < e->low) return e->low;
    return x > e->high ? e->high : x;
}

/* Output rows that count the same kernel rows. Columns are numbered from the first output. */
typedef struct conv_dw_span {
    const float *x;       /* column 0 of the input line the first output row reads first */
    int64_t x_tap, x_row; /* from kernel row to kernel row, from output row to output row */
    int64_t x_col, width; /* from input pixel to input pixel, and how many there are */
    int64_t pad;          /* input column of the first tap of the first output, negated */
    const float *w;       /* first counting kernel row */
    int64_t w_tap;
    float *y;
    int64_t y_row, y_col;
    int64_t kernel_rows, rows, cols; /* at least CONV_DW_TILE columns */
    int64_t channels;                /* at least CONV_DW_VECTOR */
    conv_dw_ends ends;
} conv_dw_span;

/* One kernel row of one tile; input columns outside [from, to) are padding. */
HG_INLINE void conv_dw_line(const int kw, const int stride, const float *x, int64_t x_col,
                            const __m256 *weight, int64_t from, int64_t to, __m256 *sum)
{
    HG_GEMM_UNROLL
    for (int i = 0; i < (CONV_DW_TILE - 1) * stride + kw; i++) {
        if (i < from || i >= to) continue;
        const __m256 pixel = _mm256_loadu_ps(x + i * x_col);
        HG_GEMM_UNROLL
        for (int j = 0; j < CONV_DW_TILE; j++)
            if (i - j * stride >= 0 && i - j * stride < kw)
                sum[j] = _mm256_fmadd_ps(pixel, weight[i - j * stride], sum[j]);
    }
}

/* All kernel rows of one tile, weights from memory. */
HG_INLINE void conv_dw_lines(const int kw, const int stride, const conv_dw_span *s, const float *x,
                             int64_t c, int64_t from, int64_t to, __m256 *sum)
{
    const float *w = s->w + c;
    for (int64_t r = 0; r < s->kernel_rows; r++) {
        __m256 weight[7];
        HG_GEMM_UNROLL
        for (int k = 0; k < kw; k++)
            weight[k] = _mm256_loadu_ps(w + k * s->w_tap);
        conv_dw_line(kw, stride, x, s->x_col, weight, from, to, sum);
        x += s->x_tap;
        w += kw * s->w_tap;
    }
}

/* One output row for one vector of channels; `fixed` has the weights when kh is not 0. Sizes are
 * copied out of the span first: a vector store may alias anything and would make the compiler read
 * them again. */
HG_INLINE void conv_dw_row(const int kh, const int kw, const int stride, const conv_dw_span *s,
                           __m256 fixed[3][3], int64_t row, int64_t c)
{
    const int64_t reach = (CONV_DW_TILE - 1) * stride + kw;
    const int64_t x_col = s->x_col, x_tap = s->x_tap, y_col = s->y_col, width = s->width;
    const float *x = s->x + row * s->x_row - s->pad * x_col + c;
    float *y = s->y + row * s->y_row + c;
    const conv_dw_ends ends = s->ends;
    const __m256 begin = conv_dw_begin(&ends, c);
    int64_t left = s->cols - CONV_DW_TILE, start = -s->pad;
    for (;;) {
        __m256 sum[CONV_DW_TILE];
        HG_GEMM_UNROLL
        for (int j = 0; j < CONV_DW_TILE; j++)
            sum[j] = begin;
        if (HG_UNLIKELY(start < 0 || start + reach > width)) {
            conv_dw_lines(kw, stride, s, x, c, -start, width - start, sum);
        } else if (kh == 0) {
            conv_dw_lines(kw, stride, s, x, c, 0, reach, sum);
        } else {
            HG_GEMM_UNROLL
            for (int r = 0; r < kh; r++)
                conv_dw_line(kw, stride, x + r * x_tap, x_col, fixed[r], 0, reach, sum);
        }
        HG_GEMM_UNROLL
        for (int j = 0; j < CONV_DW_TILE; j++)
            _mm256_storeu_ps(y + j * y_col, conv_dw_end(&ends, sum[j]));
        if (left <= 0) break;
        const int64_t step = hg_min(left, CONV_DW_TILE);
        left -= step;
        start += step * stride;
        x += step * stride * x_col;
        y += step * y_col;
    }
}

/* All rows for one vector of channels; kh is the number of kernel rows when it is known. */
HG_INLINE void conv_dw_vector(const int kh, const int kw, const int stride, const conv_dw_span *s,
                              int64_t c)
{
    __m256 fixed[3][3];
    HG_GEMM_UNROLL
    for (int r = 0; r < kh; r++) {
        HG_GEMM_UNROLL
        for (int k = 0; k < kw; k++)
            fixed[r][k] = _mm256_loadu_ps(s->w + (r * kw + k) * s->w_tap + c);
    }
    for (int64_t row = 0; row < s->rows; row++)
        conv_dw_row(kh, kw, stride, s, fixed, row, c);
}

#define CONV_DW_SPAN(kh, kw, stride)                                                               \
    static void conv_dw_f32_##kh##x##kw##s##stride##_avx2(const conv_dw_span *s)                   \
    {                                                                                              \
        for (int64_t c = 0; c < s->channels; c += CONV_DW_VECTOR) {                                \
            if (c + CONV_DW_VECTOR > s->channels) c = s->channels - CONV_DW_VECTOR;                \
            conv_dw_vector(kh, kw, stride, s, c);                                                  \
        }                                                                                          \
    }
CONV_DW_SPAN(3, 3, 1)
CONV_DW_SPAN(3, 3, 2)
CONV_DW_SPAN(0, 3, 1)
CONV_DW_SPAN(0, 3, 2)
CONV_DW_SPAN(0, 5, 1)
CONV_DW_SPAN(0, 5, 2)
CONV_DW_SPAN(0, 7, 1)
#undef CONV_DW_SPAN

typedef struct conv_dw_kind {
    int64_t kh, kw, stride; /* kh 0: any number of rows */
    void (*run)(const conv_dw_span *s);
} conv_dw_kind;

/* The tile for kernel rows of a width and stride; run is NULL when there is none. */
static conv_dw_kind conv_dw_find(int64_t kh, int64_t kw, int64_t stride)
{
    static const conv_dw_kind kinds[] = {
        {3, 3, 1, conv_dw_f32_3x3s1_avx2}, {3, 3, 2, conv_dw_f32_3x3s2_avx2},
        {0, 3, 1, conv_dw_f32_0x3s1_avx2}, {0, 3, 2, conv_dw_f32_0x3s2_avx2},
        {0, 5, 1, conv_dw_f32_0x5s1_avx2}, {0, 5, 2, conv_dw_f32_0x5s2_avx2},
        {0, 7, 1, conv_dw_f32_0x7s1_avx2},
    };
    for (size_t i = 0; i < HG_COUNT(kinds); i++)
        if (kinds[i].kw == kw && kinds[i].stride == stride &&
            (kinds[i].kh == kh || kinds[i].kh == 0))
            return kinds[i];
    return (conv_dw_kind){0};
}

/* ---- units ------------------------------------------------------------------------------- */

typedef struct conv_dw_unit {
    const conv_dw_plan *p;
    const float *x; /* image, first channel of the block */
    const float *w;
    int64_t w_tap;
    int64_t channels;
    float *y; /* first output row of the unit */
    int64_t y_row, y_col;
    int64_t first; /* output row that y points to */
    conv_dw_ends ends;
} conv_dw_unit;

/* Output rows [oy, oy + rows) that all count kernel rows [begin, end). */
typedef struct conv_dw_rows {
    int64_t oy, rows, begin, end;
} conv_dw_rows;

/* The same rows of any kernel and any number of channels, an output at a time. */
static void conv_dw_column(const conv_dw_unit *u, const conv_dw_rows *r, int64_t ox)
{
    const hg_conv2d *g = &u->p->g;
    int64_t left, right;
    hg_conv_inside(g->w, g->kw, g->dil_w, g->pad_left - ox * g->stride_w, 0, &left, &right);
    const int64_t x0 = ox * g->stride_w - g->pad_left, x_tap = g->dil_w * g->c;
    const bool is_vector = u->channels >= CONV_DW_VECTOR;
    for (int64_t oy = r->oy; oy < r->oy + r->rows; oy++) {
        const float *in = u->x + ((oy * g->stride_h - g->pad_top) * g->w + x0) * g->c;
        float *y = u->y + (oy - u->first) * u->y_row + ox * u->y_col;
        for (int64_t c = 0; is_vector && c < u->channels; c += CONV_DW_VECTOR) {
            if (c + CONV_DW_VECTOR > u->channels) c = u->channels - CONV_DW_VECTOR;
            __m256 sum = conv_dw_begin(&u->ends, c);
            for (int64_t i = r->begin; i < r->end; i++) {
                const float *x = in + i * g->dil_h * g->w * g->c + c;
                const float *w = u->w + i * g->kw * u->w_tap + c;
                for (int64_t j = left; j < right; j++)
                    sum = _mm256_fmadd_ps(_mm256_loadu_ps(x + j * x_tap),
                                          _mm256_loadu_ps(w + j * u->w_tap), sum);
            }
            _mm256_storeu_ps(y + c, conv_dw_end(&u->ends, sum));
        }
        for (int64_t c = 0; !is_vector && c < u->channels; c++) {
            float sum = u->ends.bias == NULL ? 0 : u->ends.bias[c];
            if (u->ends.bias2 != NULL) sum += u->ends.bias2[c];
            for (int64_t i = r->begin; i < r->end; i++)
                for (int64_t j = left; j < right; j++)
                    sum += in[i * g->dil_h * g->w * g->c + j * x_tap + c] *
                           u->w[(i * g->kw + j) * u->w_tap + c];
            y[c] = u->ends.clamps ? conv_dw_clamp(&u->ends, sum) : sum;
        }
    }
}

static void conv_dw_rows_run(const conv_dw_unit *u, const conv_dw_rows *r)
{
    const hg_conv2d *g = &u->p->g;
    const conv_dw_kind kind = conv_dw_find(r->end - r->begin, g->kw, g->stride_w);
    if (kind.run == NULL || g->dil_w != 1 || g->ow < CONV_DW_TILE || u->channels < CONV_DW_VECTOR) {
        for (int64_t ox = 0; ox < g->ow; ox++)
            conv_dw_column(u, r, ox);
        return;
    }
    const int64_t line = r->oy * g->stride_h + r->begin * g->dil_h - g->pad_top;
    const conv_dw_span span = {.x = u->x + line * g->w * g->c,
                               .x_tap = g->dil_h * g->w * g->c,
                               .x_row = g->stride_h * g->w * g->c,
                               .x_col = g->c,
                               .width = g->w,
                               .pad = g->pad_left,
                               .w = u->w + r->begin * g->kw * u->w_tap,
                               .w_tap = u->w_tap,
                               .y = u->y + (r->oy - u->first) * u->y_row,
                               .y_row = u->y_row,
                               .y_col = u->y_col,
                               .kernel_rows = r->end - r->begin,
                               .rows = r->rows,
                               .cols = g->ow,
                               .channels = u->channels,
                               .ends = u->ends};
    kind.run(&span);
}

/* Kernel rows of output row oy that lie inside the input. */
static conv_dw_rows conv_dw_kernel_rows(const hg_conv2d *g, int64_t oy)
{
    conv_dw_rows r = {.oy = oy, .rows = 1};
    hg_conv_inside(g->h, g->kh, g->dil_h, g->pad_top - oy * g->stride_h, 0, &r.begin, &r.end);
    return r;
}

static void conv_dw_band(const conv_dw_unit *u, int64_t oy, int64_t rows)
{
    conv_dw_rows now = conv_dw_kernel_rows(&u->p->g, oy);
    for (int64_t i = 1; i < rows; i++) {
        const conv_dw_rows next = conv_dw_kernel_rows(&u->p->g, oy + i);
        if (next.begin == now.begin && next.end == now.end) {
            now.rows++;
            continue;
        }
        conv_dw_rows_run(u, &now);
        now = next;
    }
    conv_dw_rows_run(u, &now);
}

/* Weights of channels [first, first + count) as f32. */
static void conv_dw_weights(conv_dw_unit *u, const holo_tensor *w, int64_t first, float *wide)
{
    if (w->dtype == HOLO_F32) {
        u->w = (const float *)w->data + first;
        u->w_tap = w->dim[1];
        return;
    }
    u->w = wide;
    u->w_tap = u->channels;
    for (int64_t k = 0; k < u->p->taps; k++)
        for (int64_t c = 0; c < u->channels; c++)
            wide[k * u->channels + c] =
                _cvtsh_ss(((const uint16_t *)w->data)[k * w->dim[1] + first + c]);
}

/* Which parts of a simple epilogue the tiles do; true when some are left for conv_dw_finish. */
static bool conv_dw_find_ends(const hg_epilogue_simple *e, int64_t channel, conv_dw_ends *ends)
{
    const bool is_plain = hg_epilogue_is_plain(e);
    *ends = (conv_dw_ends){.bias = e->bias == NULL ? NULL : e->bias + channel,
                           .bias2 = e->bias2 == NULL ? NULL : e->bias2 + channel,
                           .clamps = is_plain && e->act == HG_EPILOGUE_CLAMP,
                           .low = e->low,
                           .high = e->high};
    return !is_plain;
}

/* The rest of it, on output rows [row, row + rows) of the unit. */
static void conv_dw_finish(const conv_dw_unit *u, const hg_epilogue_simple *e, const float *out,
                           int64_t row, int64_t rows)
{
    float *c = u->y + row * u->y_row;
    hg_gemm_finish_avx2(e, NULL, NULL, e->residual == NULL ? NULL : e->residual + (c - out), c,
                        u->y_col, rows * u->p->g.ow, u->channels);
}

static void conv_dw_run(const hg_args *a, hg_range r)
{
    if (r.begin >= r.end) return;
    const conv_dw_plan p = conv_dw_plan_of(a);
    const hg_conv2d *g = &p.g;
    char *scratch = r.scratch;
    conv_dw_unit u = {.p = &p};
    float *wide = (float *)(void *)scratch;
    float *result = (float *)(void *)(scratch += conv_dw_weight_bytes(a, &p));
    scratch += conv_dw_result_bytes(a, &p);
    hg_epilogue ep;
    hg_epilogue_simple simple;
    const bool is_simple = hg_epilogue_is_simple(a, CONV_DW_FIRST_EXTRA, &simple);
    const bool has_lane = a->code != NULL && !is_simple;
    if (has_lane) hg_epilogue_init(&ep, a, CONV_DW_FIRST_EXTRA, 1, hg_lane_run_avx2, scratch);
    for (int64_t i = r.begin; i < r.end; i++) {
        const int64_t block = i % p.row_blocks, channel = i / p.row_blocks % p.channel_blocks;
        const int64_t image = i / p.row_blocks / p.channel_blocks, c0 = channel * p.channels;
        const int64_t oy = block * p.rows, rows = hg_min(p.rows, g->oh - oy);
        const int64_t pixel = (image * g->oh + oy) * g->ow;
        u.channels = channel + 1 == p.channel_blocks ? g->c - c0 : p.channels;
        u.x = (const float *)a->in[0].data + image * g->h * g->w * g->c + c0;
        u.y = has_lane ? result : (float *)a->out[0].data + pixel * g->c + c0;
        u.y_col = has_lane ? u.channels : g->c;
        u.y_row = g->ow * u.y_col;
        u.first = oy;
        conv_dw_weights(&u, &a->in[1], c0, wide);
        const bool has_rest = is_simple && conv_dw_find_ends(&simple, c0, &u.ends);
        for (int64_t k = 0; k < rows; k += p.band) {
            const int64_t band = hg_min(p.band, rows - k);
            conv_dw_band(&u, oy + k, band);
            if (has_rest) conv_dw_finish(&u, &simple, a->out[0].data, k, band);
        }
        if (!has_lane) continue;
        const hg_epilogue_tile tile = {.data = result,
                                       .ld = u.channels,
                                       .dtype = HOLO_F32,
                                       .row = pixel,
                                       .rows = rows * g->ow,
                                       .col = c0,
                                       .cols = u.channels};
        hg_epilogue_run(&ep, &tile);
    }
}

const hg_kernel hg_kernels_conv_dw_avx2[] = {
    {.name = "conv.dw",
     .flags = HG_KERNEL_FAST,
     .cpu = HG_CPU_AVX2,
     .check = hg_conv_dw_check,
     .units = conv_dw_units,
     .scratch = conv_dw_scratch,
     .cost = hg_conv_dw_cost,
     .run = conv_dw_run},
    {0},
};
