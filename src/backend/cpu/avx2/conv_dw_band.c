/* conv_dw_band.c - depthwise convolution of a few output rows with AVX2 and FMA: what conv.dw and
 * conv.pwdw share. Eight channels a vector, four to eight neighbouring outputs a tile.
 *
 *     for each vector of channels:  for each row:  tiles of neighbouring outputs
 *
 * Inside a tile every input pixel is loaded once for all outputs that use it; the weights of a 3 x
 * 3 kernel stay in registers for the whole band. A kernel whose columns lie d apart sees d
 * pictures, each of every d-th column. Kernel rows of four columns and more are taken in pieces
 * (conv_dw_lines.inc); other strides have tiles of eight outputs, or four, that go by tap after
 * tap; narrower pictures are done one output at a time.
 * Tails are done by moving the last tile or vector back: values are written twice, never
 * differently. */
#include "backend/cpu/avx2/conv_dw_band.h"

enum {
    CONV_DW_TILE = 4,    /* outputs of a tile */
    CONV_DW_ANY_TILE = 8 /* of kernels of any width and stride */
};

/* ---- tiles ------------------------------------------------------------------------------- */

/* What conv_dw_lines.inc is written with. */
typedef __m256 conv_dw_vec;
#define CONV_DW_LANES HG_CONV_DW_VECTOR
#define CONV_DW_NOW(v) ((void)0)
#define conv_dw_zero _mm256_setzero_ps
#define conv_dw_load _mm256_loadu_ps
#define conv_dw_store _mm256_storeu_ps
#define conv_dw_splat _mm256_set1_ps
#define conv_dw_add _mm256_add_ps
#define conv_dw_fmadd _mm256_fmadd_ps
#define conv_dw_min _mm256_min_ps
#define conv_dw_max _mm256_max_ps
#include "backend/cpu/conv_dw_lines.inc"

static float conv_dw_clamp(const hg_conv_dw_ends *e, float x)
{
    if (x < e->low) return e->low;
    return x > e->high ? e->high : x;
}

/* All kernel planes of one tile, weights from memory. */
HG_INLINE void conv_dw_planes(const int tile, const int kw, const int stride, const int edge,
                              const hg_conv_dw_span *s, const float *x, int64_t c, int64_t from,
                              int64_t to, __m256 *sum)
{
    for (int64_t i = 0; i < s->planes; i++)
        conv_dw_lines(tile, kw, stride, edge, s, x + i * s->x_plane, s->w + i * s->w_plane + c,
                      from, to, sum);
}

/* All kernel rows of one tile, weights in registers. */
HG_INLINE void conv_dw_fixed(const int kh, const int kw, const int stride, const float *x,
                             int64_t x_tap, int64_t x_col, __m256 fixed[3][3], int64_t from,
                             int64_t to, __m256 *sum)
{
    HG_GEMM_UNROLL
    for (int r = 0; r < kh; r++)
        conv_dw_line(CONV_DW_TILE, kw, stride, 1, x + r * x_tap, x_col, fixed[r], from, to, sum);
}

/* One output row for one vector of channels; `fixed` has the weights when kh is not 0: then at most
 * one column of padding is left or right of a tile (conv_dw_is_tight). Sizes are
 * copied out of the span first: a vector store may alias anything and would make the compiler read
 * them again. */
HG_INLINE void conv_dw_row(const int kh, const int kw, const int stride, const hg_conv_dw_span *s,
                           __m256 fixed[3][3], int64_t row, int64_t c)
{
    const int64_t reach = (CONV_DW_TILE - 1) * stride + kw;
    const int64_t x_col = s->x_col, x_tap = s->x_tap, y_col = s->y_col, width = s->width;
    const float *x = s->x + row * s->x_row - s->pad * x_col + c;
    float *y = s->y + row * s->y_row + c;
    const hg_conv_dw_ends ends = s->ends;
    const __m256 begin = conv_dw_begin(&ends, c);
    int64_t left = s->cols - CONV_DW_TILE, start = -s->pad;
    for (;;) {
        const int64_t right = start + reach - width; /* columns of padding */
        __m256 sum[CONV_DW_TILE];
        HG_GEMM_UNROLL
        for (int j = 0; j < CONV_DW_TILE; j++)
            sum[j] = begin;
        if (kh == 0 && start >= 0 && right <= 0)
            conv_dw_planes(CONV_DW_TILE, kw, stride, 0, s, x, c, 0, 0, sum);
        else if (kh == 0)
            conv_dw_planes(CONV_DW_TILE, kw, stride, (int)reach, s, x, c, -start, width - start,
                           sum);
        else if (HG_LIKELY(start >= 0 && right <= 0))
            conv_dw_fixed(kh, kw, stride, x, x_tap, x_col, fixed, 0, reach, sum);
        else if (start < 0)
            conv_dw_fixed(kh, kw, stride, x, x_tap, x_col, fixed, 1, reach, sum);
        else
            conv_dw_fixed(kh, kw, stride, x, x_tap, x_col, fixed, 0, reach - 1, sum);
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
HG_INLINE void conv_dw_vector(const int kh, const int kw, const int stride,
                              const hg_conv_dw_span *s, int64_t c)
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
    static void conv_dw_f32_##kh##x##kw##s##stride##_avx2(const hg_conv_dw_span *s)                \
    {                                                                                              \
        for (int64_t c = 0; c < s->channels; c += HG_CONV_DW_VECTOR) {                             \
            if (c + HG_CONV_DW_VECTOR > s->channels) c = s->channels - HG_CONV_DW_VECTOR;          \
            conv_dw_vector(kh, kw, stride, s, c);                                                  \
        }                                                                                          \
    }
CONV_DW_SPAN(3, 3, 1)
CONV_DW_SPAN(3, 3, 2)
CONV_DW_SPAN(0, 3, 1)
CONV_DW_SPAN(0, 3, 2)
CONV_DW_SPAN(0, 5, 2)
#undef CONV_DW_SPAN

/* ---- any width and stride ---------------------------------------------------------------- */

/* One tap of all outputs of a tile; the first reads input column `column`. */
HG_INLINE void conv_dw_any_tap(const int tile, const bool is_edge, const float *x, int64_t step,
                               __m256 weight, int64_t column, int64_t stride, int64_t width,
                               __m256 *sum)
{
    HG_GEMM_UNROLL
    for (int j = 0; j < tile; j++) {
        if (is_edge && (uint64_t)(column + j * stride) >= (uint64_t)width) continue;
        sum[j] = _mm256_fmadd_ps(_mm256_loadu_ps(x + j * step), weight, sum[j]);
    }
}

/* Outputs [col, col + tile) of a row. */
HG_INLINE void conv_dw_any_tile(const int tile, const hg_conv_dw_span *s, int64_t row, int64_t col,
                                int64_t c)
{
    const int64_t x_col = s->x_col, stride = s->stride, width = s->width, w_tap = s->w_tap;
    const int64_t start = col * stride - s->pad, step = stride * x_col, taps = s->kernel_cols;
    const hg_conv_dw_ends ends = s->ends;
    const __m256 begin = conv_dw_begin(&ends, c);
    __m256 sum[CONV_DW_ANY_TILE];
    HG_GEMM_UNROLL
    for (int j = 0; j < tile; j++)
        sum[j] = begin;
    for (int64_t n = 0; n < s->planes * s->kernel_rows; n++) {
        const int64_t plane = n / s->kernel_rows, r = n % s->kernel_rows;
        const float *x =
            s->x + row * s->x_row + plane * s->x_plane + r * s->x_tap + start * x_col + c;
        const float *w = s->w + plane * s->w_plane + r * taps * w_tap + c;
        for (int64_t k = start; k < start + taps; k++, x += x_col, w += w_tap) {
            const __m256 weight = _mm256_loadu_ps(w);
            if (HG_LIKELY(k >= 0 && k + (tile - 1) * stride < width))
                conv_dw_any_tap(tile, false, x, step, weight, k, stride, width, sum);
            else
                conv_dw_any_tap(tile, true, x, step, weight, k, stride, width, sum);
        }
    }
    const int64_t y_col = s->y_col;
    float *y = s->y + row * s->y_row + col * y_col + c;
    HG_GEMM_UNROLL
    for (int j = 0; j < tile; j++)
        _mm256_storeu_ps(y + j * y_col, conv_dw_end(&ends, sum[j]));
}

HG_INLINE void conv_dw_any(const int tile, const hg_conv_dw_span *s)
{
    for (int64_t c = 0; c < s->channels; c += HG_CONV_DW_VECTOR) {
        if (c + HG_CONV_DW_VECTOR > s->channels) c = s->channels - HG_CONV_DW_VECTOR;
        for (int64_t row = 0; row < s->rows; row++)
            for (int64_t col = 0; col < s->cols; col += tile) {
                if (col + tile > s->cols) col = s->cols - tile;
                conv_dw_any_tile(tile, s, row, col, c);
            }
    }
}

/* At least CONV_DW_TILE columns. */
HG_ONCE void conv_dw_f32_any_avx2(const hg_conv_dw_span *s)
{
    if (conv_dw_long(s)) return;
    if (s->cols >= CONV_DW_ANY_TILE)
        conv_dw_any(CONV_DW_ANY_TILE, s);
    else
        conv_dw_any(CONV_DW_TILE, s);
}

static void conv_dw_f32_0x5s1_avx2(const hg_conv_dw_span *s)
{
    if (s->cols >= CONV_DW_LONG_TILE)
        conv_dw_long_tiles(CONV_DW_LONG_TILE, CONV_DW_PIECE, s);
    else
        conv_dw_f32_any_avx2(s);
}

typedef struct conv_dw_kind {
    int64_t kh, kw, stride; /* kh 0: any number of rows */
    void (*run)(const hg_conv_dw_span *s);
} conv_dw_kind;

/* The tiles for kernel rows of a width and stride. */
static conv_dw_kind conv_dw_find(int64_t kh, int64_t kw, int64_t stride)
{
    static const conv_dw_kind kinds[] = {
        {3, 3, 1, conv_dw_f32_3x3s1_avx2}, {3, 3, 2, conv_dw_f32_3x3s2_avx2},
        {0, 3, 1, conv_dw_f32_0x3s1_avx2}, {0, 3, 2, conv_dw_f32_0x3s2_avx2},
        {0, 5, 1, conv_dw_f32_0x5s1_avx2}, {0, 5, 2, conv_dw_f32_0x5s2_avx2},
    };
    for (size_t i = 0; i < HG_COUNT(kinds); i++)
        if (kinds[i].kw == kw && kinds[i].stride == stride &&
            (kinds[i].kh == kh || kinds[i].kh == 0))
            return kinds[i];
    return (conv_dw_kind){.run = conv_dw_f32_any_avx2};
}

/* Output rows [oy, oy + rows) that all count kernel rows [begin, end). */
typedef struct conv_dw_rows {
    int64_t oy, rows, begin, end;
} conv_dw_rows;

/* The same rows of any kernel and any number of channels, an output at a time. */
static void conv_dw_column(const hg_conv_dw_unit *u, const conv_dw_rows *r, int64_t ox)
{
    const hg_conv2d *g = u->g;
    int64_t left, right;
    hg_conv_inside(g->w, g->kw, g->dil_w, g->pad_left - ox * g->stride_w, 0, &left, &right);
    const int64_t x0 = ox * g->stride_w - g->pad_left, x_tap = g->dil_w * u->x_col;
    const bool is_vector = u->channels >= HG_CONV_DW_VECTOR;
    const int64_t rows = r->end - r->begin, taps = u->planes * rows;
    for (int64_t oy = r->oy; oy < r->oy + r->rows; oy++) {
        const int64_t line = oy * g->stride_h - g->pad_top - u->x_first;
        float *y = u->y + (oy - u->first) * u->y_row + ox * u->y_col;
        for (int64_t c = 0; is_vector && c < u->channels; c += HG_CONV_DW_VECTOR) {
            if (c + HG_CONV_DW_VECTOR > u->channels) c = u->channels - HG_CONV_DW_VECTOR;
            __m256 sum = conv_dw_begin(&u->ends, c);
            for (int64_t n = 0, plane = 0, i = r->begin; n < taps; n++) {
                const float *x = u->x + plane * u->x_plane + (line + i * g->dil_h) * u->x_row +
                                 x0 * u->x_col + c;
                const float *w = u->w + (plane * g->kh + i) * g->kw * u->w_tap + c;
                for (int64_t j = left; j < right; j++)
                    sum = _mm256_fmadd_ps(_mm256_loadu_ps(x + j * x_tap),
                                          _mm256_loadu_ps(w + j * u->w_tap), sum);
                if (++i < r->end) continue;
                i = r->begin;
                plane++;
            }
            _mm256_storeu_ps(y + c, conv_dw_end(&u->ends, sum));
        }
        for (int64_t c = 0; !is_vector && c < u->channels; c++) {
            float sum = u->ends.bias == NULL ? 0 : u->ends.bias[c];
            if (u->ends.bias2 != NULL) sum += u->ends.bias2[c];
            for (int64_t n = 0; n < taps; n++) {
                const int64_t plane = n / rows, i = r->begin + n % rows;
                const float *x =
                    u->x + plane * u->x_plane + (line + i * g->dil_h) * u->x_row + x0 * u->x_col;
                for (int64_t j = left; j < right; j++)
                    sum +=
                        x[j * x_tap + c] * u->w[((plane * g->kh + i) * g->kw + j) * u->w_tap + c];
            }
            y[c] = u->ends.clamps ? conv_dw_clamp(&u->ends, sum) : sum;
        }
    }
}

/* Outputs first, first + d, ... of a row, and the inputs they see. */
static void conv_dw_every(const hg_conv2d *g, int64_t first, hg_conv_dw_span *s)
{
    const int64_t d = g->dil_w, start = first - g->pad_left, before = hg_floor_div(start, d);
    const int64_t column = start - before * d;
    s->x += column * s->x_col;
    s->x_col *= d;
    s->width = hg_max(0, hg_ceil_div(g->w - column, d));
    s->pad = -before;
    s->y += first * s->y_col;
    s->y_col *= d;
    s->cols = hg_ceil_div(g->ow - first, d);
}

/* No tile has more than one column of padding, and none has one on both sides. */
static bool conv_dw_is_tight(const hg_conv_dw_span *s)
{
    const int64_t reach = (CONV_DW_TILE - 1) * s->stride + s->kernel_cols;
    const int64_t right = (s->cols - 1) * s->stride + s->kernel_cols - s->pad - s->width;
    return s->pad <= 1 && right <= 1 && reach - 1 <= s->width;
}

static void conv_dw_rows_run(const hg_conv_dw_unit *u, const conv_dw_rows *r)
{
    const hg_conv2d *g = u->g;
    const int64_t kernel_rows = u->planes == 1 ? r->end - r->begin : 0;
    const conv_dw_kind kind = conv_dw_find(kernel_rows, g->kw, g->stride_w);
    if ((g->dil_w > 1 && g->stride_w > 1) || g->ow / g->dil_w < CONV_DW_TILE ||
        u->channels < HG_CONV_DW_VECTOR) {
        for (int64_t ox = 0; ox < g->ow; ox++)
            conv_dw_column(u, r, ox);
        return;
    }
    const int64_t line = r->oy * g->stride_h + r->begin * g->dil_h - g->pad_top - u->x_first;
    const hg_conv_dw_span span = {.x = u->x + line * u->x_row,
                                  .x_tap = g->dil_h * u->x_row,
                                  .x_row = g->stride_h * u->x_row,
                                  .planes = u->planes,
                                  .x_plane = u->x_plane,
                                  .w_plane = g->kh * g->kw * u->w_tap,
                                  .x_col = u->x_col,
                                  .width = g->w,
                                  .pad = g->pad_left,
                                  .w = u->w + r->begin * g->kw * u->w_tap,
                                  .w_tap = u->w_tap,
                                  .y = u->y + (r->oy - u->first) * u->y_row,
                                  .y_row = u->y_row,
                                  .y_col = u->y_col,
                                  .kernel_rows = r->end - r->begin,
                                  .kernel_cols = g->kw,
                                  .stride = g->stride_w,
                                  .rows = r->rows,
                                  .cols = g->ow,
                                  .channels = u->channels,
                                  .ends = u->ends};
    /* without columns of the kernel, rows that follow each other are one */
    const bool is_flat = g->kw == 1 && g->dil_w == 1 && g->stride_w == 1 && g->pad_left == 0 &&
                         g->w == g->ow && span.x_row == g->w * u->x_col &&
                         span.y_row == g->ow * u->y_col;
    for (int64_t i = 0; i < g->dil_w; i++) {
        hg_conv_dw_span every = span;
        conv_dw_every(g, i, &every);
        if (is_flat) {
            every.width = every.cols = r->rows * g->ow;
            every.rows = 1;
        }
#if HG_HAS_AVX512
        if (u->is_wide && hg_conv_dw_span_avx512(&every)) continue;
#endif
        const bool fits = kind.kh == 0 || conv_dw_is_tight(&every);
        (fits ? kind : conv_dw_find(0, g->kw, g->stride_w)).run(&every);
    }
}

/* Kernel rows of output row oy that lie inside the input. */
static conv_dw_rows conv_dw_kernel_rows(const hg_conv2d *g, int64_t oy)
{
    conv_dw_rows r = {.oy = oy, .rows = 1};
    hg_conv_inside(g->h, g->kh, g->dil_h, g->pad_top - oy * g->stride_h, 0, &r.begin, &r.end);
    return r;
}

void hg_conv_dw_band_avx2(const hg_conv_dw_unit *u, int64_t oy, int64_t rows)
{
    conv_dw_rows now = conv_dw_kernel_rows(u->g, oy);
    for (int64_t i = 1; i < rows; i++) {
        const conv_dw_rows next = conv_dw_kernel_rows(u->g, oy + i);
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
void hg_conv_dw_weights_avx2(hg_conv_dw_unit *u, const holo_tensor *w, int64_t first, float *wide)
{
    if (w->dtype == HOLO_F32) {
        u->w = (const float *)w->data + first;
        u->w_tap = w->dim[1];
        return;
    }
    u->w = wide;
    u->w_tap = u->channels;
    for (int64_t k = 0; k < w->dim[0]; k++)
        for (int64_t c = 0; c < u->channels; c++)
            wide[k * u->channels + c] =
                _cvtsh_ss(((const uint16_t *)w->data)[k * w->dim[1] + first + c]);
}

/* ---- means ------------------------------------------------------------------------------- */

/* Several rows and vectors at a time: one sum alone would wait for itself. */
HG_INLINE void conv_dw_mean_block(const float *y, int64_t ow, int64_t ld, float *m, const int rows,
                                  const int vectors)
{
    __m256 sum[4][2];
    HG_GEMM_UNROLL
    for (int i = 0; i < rows * vectors; i++)
        sum[i / vectors][i % vectors] = _mm256_setzero_ps();
    for (int64_t x = 0; x < ow; x++, y += ld)
        HG_GEMM_UNROLL
    for (int i = 0; i < rows; i++)
        HG_GEMM_UNROLL
    for (int v = 0; v < vectors; v++)
        sum[i][v] = _mm256_add_ps(sum[i][v], _mm256_loadu_ps(y + i * ow * ld + v * 8));
    const __m256 count = _mm256_set1_ps((float)ow);
    HG_GEMM_UNROLL
    for (int i = 0; i < rows; i++)
        HG_GEMM_UNROLL
    for (int v = 0; v < vectors; v++)
        _mm256_storeu_ps(m + i * ld + v * 8, _mm256_div_ps(sum[i][v], count));
}

static void conv_dw_mean_one(const float *y, int64_t ow, int64_t ld, float *m)
{
    float sum = 0;
    for (int64_t x = 0; x < ow; x++)
        sum += y[x * ld];
    *m = sum / (float)ow;
}

void hg_conv_dw_means_avx2(const hg_args *a, int64_t row, int64_t rows, int64_t col, int64_t cols)
{
    if (!hg_conv_has_means(a)) return;
    const int64_t ow = a->out[0].dim[2], ld = a->out[0].dim[3];
    const float *y = (const float *)a->out[0].data + row * ow * ld + col;
    float *m = (float *)a->out[1].data + row * ld + col;
    int64_t j = 0;
    for (; j + 16 <= cols; j += 16) {
        int64_t i = 0;
        for (; i + 4 <= rows; i += 4)
            conv_dw_mean_block(y + i * ow * ld + j, ow, ld, m + i * ld + j, 4, 2);
        for (; i < rows; i++)
            conv_dw_mean_block(y + i * ow * ld + j, ow, ld, m + i * ld + j, 1, 2);
    }
    for (; j < cols; j++)
        for (int64_t i = 0; i < rows; i++)
            conv_dw_mean_one(y + i * ow * ld + j, ow, ld, m + i * ld + j);
}
