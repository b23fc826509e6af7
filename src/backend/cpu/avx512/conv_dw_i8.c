/* conv_dw_i8.c - conv.dw.i8 with AVX-512: four taps of a column of the window lie side by side for
 * each of 16 channels, one vpdpbusd multiplies and adds them.
 *
 *     columns x, x + 1, ...:   channel c: [row 0][row 1][row 2][-]   one register for 16 channels
 *
 * With a stride of 1 the columns of a pixel serve the next ones too, so a pixel of a 3 x 3 window
 * costs one new column (three loads and two shuffles) and three multiply-adds per 16 channels.
 * Weights of a form this instruction cannot take (differences to their zero points beyond 8 bits,
 * windows of more than 4 rows or 8 columns, fewer than 16 channels) go to the AVX2 kernel. */
#include "backend/cpu/avx2/conv_dw_i8.h"

#include "backend/cpu/avx2/gemm.h"
#include "backend/cpu/avx512/igemm.h"

enum { CONV_DW_I8_LANES = 16, CONV_DW_I8_ROWS = 4, CONV_DW_I8_COLUMNS = 8 };
enum { CONV_DW_I8_VALUES = 6144 }; /* of a tile */

static bool conv_dw_i8_fits(const hg_args *a, const hg_conv2d *g)
{
    if (g->c < CONV_DW_I8_LANES || g->kh > CONV_DW_I8_ROWS || g->kw > CONV_DW_I8_COLUMNS)
        return false;
    return a->in[1].dtype == HOLO_I8 && !hg_args_has(a, HG_IGEMM_ZERO_B);
}

static int64_t conv_dw_i8_pixels(const hg_conv2d *g)
{
    return hg_max(1, hg_min(g->ow, CONV_DW_I8_VALUES / g->c));
}

static size_t conv_dw_i8_padded(const hg_conv2d *g)
{
    return hg_align_up((size_t)g->c, HG_ALIGN);
}

/* Scratch: sums of a tile; per channel its weights by column, the start of a sum, the code of the
 * padding; the epilogue's own. */
typedef struct conv_dw_i8_work {
    hg_conv2d g;
    int32_t *sum, *weights, *start; /* weights [kw][padded], four taps in each */
    uint8_t *padding;
    void *epilogue;
    size_t bytes;
    const uint8_t *row[CONV_DW_I8_ROWS]; /* of the window, or the padding */
    bool is_inside[CONV_DW_I8_ROWS];
    __m512i flip; /* makes codes unsigned */
} conv_dw_i8_work;

static conv_dw_i8_work conv_dw_i8_work_of(const hg_args *a, void *scratch)
{
    conv_dw_i8_work w = {.g = hg_conv2d_of(a)};
    const size_t padded = conv_dw_i8_padded(&w.g);
    const size_t sums =
        hg_align_up((size_t)(conv_dw_i8_pixels(&w.g) * w.g.c) * sizeof(int32_t), HG_ALIGN);
    const size_t weights = (size_t)w.g.kw * padded * sizeof(int32_t);
    w.bytes = sums + weights + padded * (sizeof(int32_t) + 1) + hg_epilogue_scratch(a);
    w.flip = _mm512_set1_epi8(a->in[0].dtype == HOLO_I8 ? (char)HG_CODE_LIFT : 0);
    if (scratch == NULL) return w;
    char *at = scratch;
    w.sum = (int32_t *)(void *)at;
    w.weights = (int32_t *)(void *)(at += sums);
    w.start = (int32_t *)(void *)(at += weights);
    w.padding = (uint8_t *)(at += padded * sizeof(int32_t));
    w.epilogue = at + padded;
    return w;
}

static size_t conv_dw_i8_scratch(const hg_args *a)
{
    const hg_conv2d g = hg_conv2d_of(a);
    if (hg_conv_dw_i8_units(a) == 0) return 0;
    return conv_dw_i8_fits(a, &g) ? conv_dw_i8_work_of(a, NULL).bytes
                                  : hg_conv_dw_i8_scratch_avx2(a);
}

static void conv_dw_i8_prepare(const hg_args *a, const conv_dw_i8_work *w)
{
    const hg_conv2d *g = &w->g;
    const size_t padded = conv_dw_i8_padded(g);
    const int32_t zero = hg_igemm_zero(a, 0);
    const int8_t *from = a->in[1].data;
    memset(w->weights, 0, (size_t)g->kw * padded * sizeof *w->weights);
    for (int64_t c = 0; c < g->c; c++) {
        int32_t total = 0;
        for (int64_t i = 0; i < g->kh; i++)
            for (int64_t j = 0; j < g->kw; j++) {
                const int8_t v = from[(i * g->kw + j) * g->c + c];
                ((int8_t *)(w->weights + (size_t)j * padded + c))[i] = v;
                total += v;
            }
        w->start[c] = -zero * total;
    }
    memset(w->padding, a->in[0].dtype == HOLO_I8 ? zero ^ HG_CODE_LIFT : zero, padded);
}

/* Rows of the window that ends up in output row oy; those outside are padding. */
static void conv_dw_i8_rows(conv_dw_i8_work *w, const uint8_t *image, int64_t oy)
{
    const hg_conv2d *g = &w->g;
    for (int64_t i = 0; i < CONV_DW_I8_ROWS; i++) {
        const int64_t y = oy * g->stride_h + i * g->dil_h - g->pad_top;
        w->is_inside[i] = i < g->kh && y >= 0 && y < g->h;
        w->row[i] = w->is_inside[i] ? image + y * g->w * g->c : w->padding;
    }
}

HG_INLINE __m128i conv_dw_i8_load(const conv_dw_i8_work *w, int i, bool is_inside, int64_t at,
                                  int64_t c)
{
    const uint8_t *from = is_inside && w->is_inside[i] ? w->row[i] + at : w->padding;
    return _mm_loadu_si128((const __m128i *)(const void *)(from + c));
}

/* Four rows of column x, channels [c, c + 16): channel k in number k. `order` puts the bytes of
 * rows 0, 1 and 2, 3 side by side. */
HG_INLINE __m512i conv_dw_i8_column(const conv_dw_i8_work *w, int rows, int64_t x, int64_t c,
                                    __m512i order)
{
    const bool is_inside = x >= 0 && x < w->g.w;
    const int64_t at = x * w->g.c;
    __m512i low = _mm512_castsi128_si512(conv_dw_i8_load(w, 0, is_inside, at, c));
    if (rows > 1) low = _mm512_inserti32x4(low, conv_dw_i8_load(w, 1, is_inside, at, c), 1);
    if (rows > 2) low = _mm512_inserti32x4(low, conv_dw_i8_load(w, 2, is_inside, at, c), 2);
    if (rows > 3) low = _mm512_inserti32x4(low, conv_dw_i8_load(w, 3, is_inside, at, c), 3);
    return _mm512_xor_si512(_mm512_permutexvar_epi8(order, low), w->flip);
}

/* Pixels [ox, ox + count) of a row, channels [c, c + 16); `slides` is constant where this is
 * inlined: windows of three columns whose neighbours share two. */
HG_INLINE void conv_dw_i8_block(const conv_dw_i8_work *w, int rows, bool slides, int64_t ox,
                                int64_t count, int64_t c, __m512i order)
{
    const hg_conv2d *g = &w->g;
    const size_t padded = conv_dw_i8_padded(g);
    const __m512i start = _mm512_loadu_si512(w->start + c);
    __m512i weight[3], column[3];
    if (slides) {
        for (int j = 0; j < 3; j++)
            weight[j] = _mm512_loadu_si512(w->weights + (size_t)j * padded + c);
        column[0] = conv_dw_i8_column(w, rows, ox - g->pad_left, c, order);
        column[1] = conv_dw_i8_column(w, rows, ox - g->pad_left + 1, c, order);
    }
    for (int64_t i = 0; i < count; i++) {
        const int64_t x = (ox + i) * g->stride_w - g->pad_left;
        __m512i sum = start;
        if (slides) {
            column[2] = conv_dw_i8_column(w, rows, x + 2, c, order);
            sum = _mm512_dpbusd_epi32(sum, column[0], weight[0]);
            sum = _mm512_dpbusd_epi32(sum, column[1], weight[1]);
            sum = _mm512_dpbusd_epi32(sum, column[2], weight[2]);
            column[0] = column[1];
            column[1] = column[2];
        } else {
            for (int64_t j = 0; j < g->kw; j++)
                sum =
                    _mm512_dpbusd_epi32(sum, conv_dw_i8_column(w, rows, x + j * g->dil_w, c, order),
                                        _mm512_loadu_si512(w->weights + (size_t)j * padded + c));
        }
        _mm512_storeu_si512(w->sum + i * g->c + c, sum);
    }
}

static void conv_dw_i8_blocks(const conv_dw_i8_work *w, int64_t ox, int64_t count)
{
    const hg_conv2d *g = &w->g;
    const bool slides = g->kw == 3 && g->stride_w == 1 && g->dil_w == 1;
    __m512i order = _mm512_setzero_si512();
    uint8_t byte[64];
    for (int k = 0; k < 64; k++)
        byte[k] = (uint8_t)(k % 4 * 16 + k / 4);
    order = _mm512_loadu_si512(byte);
    for (int64_t k = 0; k < g->c; k += CONV_DW_I8_LANES) {
        const int64_t c = hg_min(k, g->c - CONV_DW_I8_LANES); /* the last may overlap */
        if (slides && g->kh == 3)
            conv_dw_i8_block(w, 3, true, ox, count, c, order);
        else if (slides)
            conv_dw_i8_block(w, 4, true, ox, count, c, order);
        else if (g->kh == 3)
            conv_dw_i8_block(w, 3, false, ox, count, c, order);
        else
            conv_dw_i8_block(w, 4, false, ox, count, c, order);
    }
}

static void conv_dw_i8_run(const hg_args *a, hg_range r)
{
    const hg_conv2d g = hg_conv2d_of(a);
    if (r.begin >= r.end) return;
    if (!conv_dw_i8_fits(a, &g)) {
        hg_conv_dw_i8_run_avx2(a, r);
        return;
    }
    conv_dw_i8_work w = conv_dw_i8_work_of(a, r.scratch);
    const int64_t pixels = conv_dw_i8_pixels(&g);
    hg_igemm_end end;
    hg_igemm_end_init(&end, a, &hg_igemm_avx512, w.epilogue);
    conv_dw_i8_prepare(a, &w);
    for (int64_t row = r.begin; row < r.end; row++) {
        conv_dw_i8_rows(&w, (const uint8_t *)a->in[0].data + row / g.oh * g.h * g.w * g.c,
                        row % g.oh);
        for (int64_t ox = 0; ox < g.ow; ox += pixels) {
            const int64_t count = hg_min(pixels, g.ow - ox);
            conv_dw_i8_blocks(&w, ox, count);
            hg_igemm_end_run(&end, &(hg_epilogue_tile){.data = w.sum,
                                                       .ld = g.c,
                                                       .dtype = HOLO_I32,
                                                       .row = row * g.ow + ox,
                                                       .rows = count,
                                                       .col = 0,
                                                       .cols = g.c});
        }
    }
}

const hg_kernel hg_kernels_conv_dw_i8_avx512[] = {
    {.name = "conv.dw.i8",
     .cpu = HG_CPU_AVX512,
     .check = hg_conv_dw_i8_check,
     .units = hg_conv_dw_i8_units,
     .scratch = conv_dw_i8_scratch,
     .cost = hg_conv_dw_i8_cost,
     .run = conv_dw_i8_run},
    {0},
};
