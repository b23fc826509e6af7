/* attention.c - kernel "attention" with AVX2 and FMA.
 *
 * A unit is a block of rows of one head. Keys go by in blocks; for each, the scores of the rows are
 * computed into a tile in scratch that stays in cache, become exponentials relative to the largest
 * score so far, and are multiplied with the block's values onto sums that were rescaled to the same
 * maximum:
 *
 *     for each key block:  S = scale Q K' + mask;  m' = max(m, S);  P = exp(S - m')
 *                          sum = sum exp(m - m') + P 1;  O = O exp(m - m') + P V
 *     out = O / sum
 *
 * Keys and values are packed into panels of 16 columns (gemm.h). When those of a whole head fit,
 * the units of one call share them, also between the heads of queries that share a head of keys.
 * With few rows packing does not pay: keys and values are read where they lie.
 *
 * Error bound: products as in matmul.c; exponentials 1.3 units in the last place, those below
 * 2^-126 are 0; one more rounding for each rescaling. */
#include "kernel/attention.h"

#include "backend/cpu/avx2/gemm.h"
#include "backend/cpu/avx2/row8.h"
#include "kernel/pack.h"

#include <math.h>

enum {
    ATTENTION_ROWS = 48,       /* of a unit; its tile of scores stays in L2 */
    ATTENTION_KEYS = 384,      /* of a block: a panel of values stays in L1 */
    ATTENTION_WHOLE = 1 << 20, /* elements of a head of keys and values that are packed at once */
    ATTENTION_FEW = 4,         /* up to here rows are computed without packing */
    ATTENTION_WIDE = 32        /* from so many keys on rows are computed with AVX-512 */
};

typedef struct attention_plan {
    hg_attention s;
    hg_cut row;           /* of a unit; units of a head */
    int64_t keys, blocks; /* of a block; how many */
    int64_t packed;       /* keys that are packed at once: all or those of a block */
    int64_t panels;       /* of values */
    bool is_few;
    bool is_wide; /* tiles, see gemm.h */
} attention_plan;

static void attention_plan_of(const hg_args *a, attention_plan *p)
{
    p->s = hg_attention_of(a);
    const hg_attention *s = &p->s;
    p->is_few = s->queries <= ATTENTION_FEW && s->view[HG_ATTENTION_Q].col == 1 &&
                s->view[HG_ATTENTION_K].col == 1 && s->view[HG_ATTENTION_V].col == 1;
    p->is_wide = hg_gemm_is_wide_for(a, s->queries);
    p->row = hg_cut_of(hg_max(s->queries, 1), ATTENTION_ROWS, hg_gemm_rows(p->is_wide));
    p->blocks = hg_ceil_div(hg_max(s->keys, 1), ATTENTION_KEYS);
    p->keys = hg_ceil_div(hg_ceil_div(hg_max(s->keys, 1), p->blocks), HG_PANEL) * HG_PANEL;
    p->blocks = hg_ceil_div(hg_max(s->keys, 1), p->keys);
    p->panels = hg_panels(s->width);
    const bool fits = s->size + s->width <= ATTENTION_WHOLE / hg_max(s->keys, 1);
    p->packed = fits ? p->blocks * p->keys : p->keys;
}

/* What a call works in. */
typedef struct attention_work {
    const attention_plan *p;
    const float **row;     /* of queries, then of scores */
    float *score;          /* [rows, keys] */
    float *sum_v;          /* [rows, panels * 16] */
    float *max, *sum;      /* [rows] */
    float *q;              /* rows whose columns do not lie side by side */
    float *packed_k;       /* panels of 16 keys, each [size, 16] */
    float *packed_v;       /* panels of 16 columns, each [packed keys, 16] */
    int64_t batch, head;   /* of the unit */
    int64_t first, n_rows; /* rows of the unit */
    const float *k, *v;    /* of the head */
    int64_t packed_of;     /* number of the head of keys that is packed; -1: none */
    bool is_wide;          /* tiles, see gemm.h */
    bool has_avx512;       /* for rows of scores */
} attention_work;

enum { ATTENTION_AREAS = 8 };

/* Bytes of the areas of scratch, in the order of the fields above. */
static size_t attention_areas(const attention_plan *p, size_t *bytes)
{
    const hg_attention *s = &p->s;
    const bool gathers = s->view[HG_ATTENTION_Q].col != 1;
    const int64_t floats[ATTENTION_AREAS] = {
        2 * p->row.size, /* a pointer takes two floats */
        /* all keys of one row when there are few rows */
        p->is_few ? hg_ceil_div(s->keys, HG_PANEL) * HG_PANEL : p->row.size * p->keys,
        p->row.size * p->panels * HG_PANEL,
        p->row.size,
        p->row.size,
        gathers ? p->row.size * s->size : 0,
        p->is_few ? 0 : p->packed * s->size,
        p->is_few ? 0 : p->packed * p->panels * HG_PANEL,
    };
    size_t sum = 0;
    for (int i = 0; i < ATTENTION_AREAS; i++)
        sum += bytes[i] = hg_align_up((size_t)floats[i] * sizeof(float), HG_ALIGN);
    return sum;
}

static hg_work attention_work_of(const hg_args *a)
{
    attention_plan p;
    attention_plan_of(a, &p);
    const bool is_empty = holo_tensor_count(&a->out[0]) == 0;
    size_t bytes[ATTENTION_AREAS];
    return (hg_work){.units = is_empty ? 0 : p.s.batch * p.s.heads * p.row.count,
                     .scratch = attention_areas(&p, bytes)};
}

static void attention_begin(attention_work *w, const attention_plan *p, char *scratch)
{
    size_t bytes[ATTENTION_AREAS];
    float **const area[ATTENTION_AREAS] = {NULL,    &w->score, &w->sum_v,    &w->max,
                                           &w->sum, &w->q,     &w->packed_k, &w->packed_v};
    attention_areas(p, bytes);
    *w = (attention_work){.p = p, .row = (const float **)(void *)scratch, .packed_of = -1};
    for (int i = 1; i < ATTENTION_AREAS; i++)
        *area[i] = (float *)(void *)(scratch += bytes[i - 1]);
}

/* ---- packing --------------------------------------------------------------------------------- */

/* to[i * 16 + j] = from[i * outer + j * inner], j < cols; zeros beyond. */
static void attention_pack_panel(const float *from, int64_t outer, int64_t inner, int64_t depth,
                                 int64_t cols, float *to)
{
    if (cols < HG_PANEL) memset(to, 0, (size_t)(depth * HG_PANEL) * sizeof(float));
    if (outer == 1) {
        hg_gemm_turn_avx2(from, inner, cols, depth, to, HG_PANEL);
        return;
    }
    for (int64_t i = 0; i < depth; i++, from += outer, to += HG_PANEL) {
        if (inner == 1 && cols == HG_PANEL) {
            _mm256_storeu_ps(to, _mm256_loadu_ps(from));
            _mm256_storeu_ps(to + 8, _mm256_loadu_ps(from + 8));
            continue;
        }
        for (int64_t j = 0; j < cols; j++)
            to[j] = from[j * inner];
    }
}

/* Keys [first, first + count) of the head, to the beginning of the packed ones. */
static void attention_pack(const attention_work *w, int64_t first, int64_t count)
{
    const hg_attention *s = &w->p->s;
    const hg_attention_view *k = &s->view[HG_ATTENTION_K], *v = &s->view[HG_ATTENTION_V];
    for (int64_t j = 0; j < count; j += HG_PANEL)
        attention_pack_panel(w->k + (first + j) * k->row, k->col, k->row, s->size,
                             hg_min(HG_PANEL, count - j), w->packed_k + j * s->size);
    for (int64_t c = 0; c < s->width; c += HG_PANEL)
        attention_pack_panel(w->v + first * v->row + c * v->col, v->row, v->col, count,
                             hg_min(HG_PANEL, s->width - c), w->packed_v + c * w->p->packed);
}

/* ---- softmax --------------------------------------------------------------------------------- */

HG_INLINE float attention_exp_one(float x)
{
    return _mm256_cvtss_f32(hg_exp8(_mm256_set1_ps(x)));
}

/* Masks of `count` scores of row `row` from key `first` on. */
static void attention_mask(const hg_attention *s, const attention_work *w, int64_t row,
                           int64_t first, int64_t count, float *score)
{
    const hg_score_mask *keep = &s->keep, *bias = &s->bias;
    if (keep->data != NULL) {
        const uint8_t *kept = (const uint8_t *)keep->data + first * keep->stride[3] +
                              hg_score_mask_at(keep, w->batch, w->head, row);
        for (int64_t j = 0; j < count; j++)
            score[j] = (kept[j * keep->stride[3]] != 0) == (s->drops != 0) ? s->fill : score[j];
    }
    if (bias->data == NULL) return;
    const float *added = (const float *)bias->data + first * bias->stride[3] +
                         hg_score_mask_at(bias, w->batch, w->head, row);
    if (bias->stride[3] == 0) {
        for (int64_t j = 0; j < count; j++)
            score[j] += added[0];
        return;
    }
    for (int64_t j = 0; j < count; j++)
        score[j] += added[j];
}

#if HG_HAS_AVX512
/* Whether rows are computed with AVX-512. */
HG_INLINE bool attention_is_wide(const attention_work *w, int64_t count)
{
    return w->has_avx512 && count >= ATTENTION_WIDE;
}
#endif

/* The largest of the first count scores, NaN passed over. With AVX2 those up to the next multiple
 * of 16 become -inf. */
static float attention_max(const attention_work *w, float *score, int64_t count)
{
#if HG_HAS_AVX512
    if (attention_is_wide(w, count)) return hg_row_max_avx512(score, count);
#endif
    (void)w;
    const int64_t padded = hg_panels(count) * HG_PANEL;
    for (int64_t j = count; j < padded; j++)
        score[j] = -INFINITY;
    return row_max(score, padded);
}

/* score = exp(score - max), behind attention_max; returns their sum. */
static float attention_exp_row(const attention_work *w, float *score, int64_t count, float max)
{
    /* only -inf so far: exp(-inf - 0) is 0, and not NaN before the other blocks are known */
    const float by = max == -INFINITY ? 0 : max;
#if HG_HAS_AVX512
    if (attention_is_wide(w, count)) return hg_row_exp_avx512(score, count, by);
#endif
    (void)w;
    return row_exp(true, score, score, hg_panels(count) * HG_PANEL, by);
}

/* to[j] = from[j] * by */
HG_INLINE void attention_scale(float *to, const float *from, int64_t count, float by)
{
    for (int64_t j = 0; j < count; j++)
        to[j] = from[j] * by;
}

/* ---- a block of rows ------------------------------------------------------------------------- */

/* Pointers to rows of queries. */
static void attention_find_rows(const attention_work *w)
{
    const hg_attention *s = &w->p->s;
    const hg_attention_view *q = &s->view[HG_ATTENTION_Q];
    const float *from = hg_attention_at(s, HG_ATTENTION_Q, w->batch, w->head) + w->first * q->row;
    for (int64_t i = 0; i < w->n_rows; i++) {
        w->row[i] = q->col == 1 ? from + i * q->row : w->q + i * s->size;
        for (int64_t c = 0; q->col != 1 && c < s->size; c++)
            w->q[i * s->size + c] = from[i * q->row + c * q->col];
    }
}

/* Scores of all rows and `count` keys whose panels begin at b. */
static void attention_scores(const attention_work *w, const float *b, int64_t count)
{
    const hg_attention *s = &w->p->s;
    hg_gemm_step step = {.row = w->row,
                         .taps = 1,
                         .depth = s->size,
                         .b_step = HG_PANEL * sizeof(float),
                         .b_panel = s->size * HG_PANEL * (int64_t)sizeof(float),
                         .is_wide = w->is_wide,
                         .ld = w->p->keys,
                         .alpha = s->scale};
    attention_find_rows(w);
    for (int64_t j = 0; j < count; j += step.cols) {
        step.panels = hg_gemm_panels(&step, hg_ceil_div(count - j, HG_PANEL));
        step.cols = step.panels * HG_PANEL;
        step.b = b + j * s->size;
        step.c = w->score + j;
        step.narrow = count - j <= HG_PANEL / 2;
        hg_gemm_panel(&step, w->n_rows);
    }
}

/* Scores to exponentials, with the sums so far on the same scale. */
static void attention_softmax(const attention_work *w, int64_t first, int64_t count)
{
    const attention_plan *p = w->p;
    for (int64_t i = 0; i < w->n_rows; i++) {
        float *score = w->score + i * p->keys, *sum_v = w->sum_v + i * p->panels * HG_PANEL;
        attention_mask(&p->s, w, w->first + i, first, count, score);
        const float here = attention_max(w, score, count);
        const float max = here > w->max[i] ? here : w->max[i];
        const float sum = attention_exp_row(w, score, count, max);
        if (first > 0 && max != w->max[i]) {
            const float by = attention_exp_one(w->max[i] - max);
            w->sum[i] *= by;
            attention_scale(sum_v, sum_v, p->panels * HG_PANEL, by);
        }
        w->sum[i] = first == 0 ? sum : w->sum[i] + sum;
        w->max[i] = max;
    }
}

/* sum_v += scores times `count` values whose panels begin at b. */
static void attention_mix(const attention_work *w, const float *b, int64_t count, bool is_first)
{
    const attention_plan *p = w->p;
    const int64_t ld = p->panels * HG_PANEL;
    hg_gemm_step step = {.row = w->row,
                         .taps = 1,
                         .depth = count,
                         .b_step = HG_PANEL * sizeof(float),
                         .b_panel = p->packed * HG_PANEL * (int64_t)sizeof(float),
                         .is_wide = w->is_wide,
                         .sum_ld = ld,
                         .ld = ld,
                         .alpha = 1};
    for (int64_t i = 0; i < w->n_rows; i++)
        w->row[i] = w->score + i * p->keys;
    for (int64_t c = 0; c < p->panels; c += step.panels) {
        step.panels = hg_gemm_panels(&step, p->panels - c);
        step.cols = step.panels * HG_PANEL;
        step.b = b + c * p->packed * HG_PANEL;
        step.c = w->sum_v + c * HG_PANEL;
        step.sum = is_first ? NULL : step.c;
        step.narrow = p->s.width - c * HG_PANEL <= HG_PANEL / 2;
        hg_gemm_panel(&step, w->n_rows);
    }
}

/* out = sum_v / sum. A row of -inf alone has sum 0, which makes it NaN here. */
static void attention_finish_row(const attention_work *w, int64_t row, const float *sum_v,
                                 float sum)
{
    const hg_attention *s = &w->p->s;
    float *out = s->out + w->batch * s->out_batch + w->head * s->out_head + row * s->out_row;
    const float by = 1 / sum;
    const bool is_number = sum > 0 && sum < INFINITY;
    if (s->keys == 0 || (!is_number && hg_attention_is_zero(s, w->batch, w->head, row)))
        memset(out, 0, (size_t)s->width * sizeof *out);
    else
        attention_scale(out, sum_v, s->width, is_number ? by : NAN);
}

static void attention_unit(attention_work *w)
{
    const attention_plan *p = w->p;
    const hg_attention *s = &p->s;
    const bool is_whole = p->packed > p->keys || p->blocks == 1;
    const int64_t number = (w->batch * s->heads + w->head) / s->repeat;
    if (is_whole && w->packed_of != number) attention_pack(w, 0, s->keys);
    w->packed_of = number;
    for (int64_t i = 0; i < w->n_rows; i++)
        w->max[i] = -INFINITY;
    for (int64_t first = 0; first < s->keys; first += p->keys) {
        const int64_t count = hg_min(p->keys, s->keys - first), at = is_whole ? first : 0;
        if (!is_whole) attention_pack(w, first, count);
        attention_scores(w, w->packed_k + at * s->size, count);
        attention_softmax(w, first, count);
        attention_mix(w, w->packed_v + at * HG_PANEL, count, first == 0);
    }
    for (int64_t i = 0; i < w->n_rows; i++)
        attention_finish_row(w, w->first + i, w->sum_v + i * p->panels * HG_PANEL, w->sum[i]);
}

/* ---- few rows -------------------------------------------------------------------------------- */

/* sum_v[0, 8 * vectors) of one row: every value is loaded once. */
HG_INLINE void attention_mix_row(const int vectors, const float *score, const float *v, int64_t ld,
                                 int64_t keys, float *sum_v)
{
    __m256 sum[8];
    HG_GEMM_UNROLL
    for (int c = 0; c < vectors; c++)
        sum[c] = _mm256_setzero_ps();
    for (int64_t j = 0; j < keys; j++, v += ld) {
        const __m256 x = _mm256_broadcast_ss(score + j);
        HG_GEMM_UNROLL
        for (int c = 0; c < vectors; c++)
            sum[c] = _mm256_fmadd_ps(x, _mm256_loadu_ps(v + (ptrdiff_t)8 * c), sum[c]);
    }
    HG_GEMM_UNROLL
    for (int c = 0; c < vectors; c++)
        _mm256_storeu_ps(sum_v + (ptrdiff_t)8 * c, sum[c]);
}

static void attention_mix_few(const attention_work *w, const float *score, float *sum_v)
{
    const hg_attention *s = &w->p->s;
    const int64_t ld = s->view[HG_ATTENTION_V].row;
    int64_t c = 0;
    for (; c + 64 <= s->width; c += 64)
        attention_mix_row(8, score, w->v + c, ld, s->keys, sum_v + c);
    for (; c + 32 <= s->width; c += 32)
        attention_mix_row(4, score, w->v + c, ld, s->keys, sum_v + c);
    for (; c + 8 <= s->width; c += 8)
        attention_mix_row(1, score, w->v + c, ld, s->keys, sum_v + c);
    for (; c < s->width; c++) {
        sum_v[c] = 0;
        for (int64_t j = 0; j < s->keys; j++)
            sum_v[c] += score[j] * w->v[j * ld + c];
    }
}

static void attention_unit_few(const attention_work *w)
{
    const hg_attention *s = &w->p->s;
    attention_find_rows(w);
    for (int64_t i = 0; i < w->n_rows; i++) {
        hg_gemm_dot_avx2(w->row + i, 1, w->k, s->view[HG_ATTENTION_K].row, s->size, s->keys,
                         s->scale, w->score, s->keys);
        attention_mask(s, w, w->first + i, 0, s->keys, w->score);
        const float max = attention_max(w, w->score, s->keys);
        const float sum = attention_exp_row(w, w->score, s->keys, max);
        attention_mix_few(w, w->score, w->sum_v);
        attention_finish_row(w, w->first + i, w->sum_v, sum);
    }
}

static void attention_run(const hg_args *a, hg_range r)
{
    attention_plan p;
    attention_plan_of(a, &p);
    attention_work w;
    attention_begin(&w, &p, r.scratch);
    w.is_wide = p.is_wide;
    w.has_avx512 = hg_has_avx512(a);
    for (int64_t u = r.begin; u < r.end; u++) {
        w.first = hg_cut_at(&p.row, u % p.row.count);
        w.n_rows = hg_cut_at(&p.row, u % p.row.count + 1) - w.first;
        w.head = u / p.row.count % p.s.heads;
        w.batch = u / p.row.count / p.s.heads;
        w.k = hg_attention_at(&p.s, HG_ATTENTION_K, w.batch, w.head);
        w.v = hg_attention_at(&p.s, HG_ATTENTION_V, w.batch, w.head);
        if (p.is_few)
            attention_unit_few(&w);
        else
            attention_unit(&w);
    }
}

const hg_kernel hg_kernels_attention_avx2[] = {
    {.name = "attention",
     .flags = HG_KERNEL_FAST | HG_KERNEL_KEYS,
     .cpu = HG_CPU_AVX2,
     .check = hg_attention_check,
     .work = attention_work_of,
     .cost = hg_attention_cost,
     .run = attention_run},
    {0},
};
