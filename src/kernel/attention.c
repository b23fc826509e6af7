/* attention.c - kernel "attention": softmax(scale Q K' + mask) V by heads, without the matrix of
 * scores in memory.
 *
 *   in[0]   Q, in[1] K, in[2] V: float32; their elements are found by strides, so that heads need
 *           not be split or merged by copies
 *   in[3]   optional bias, float32, added to the scores; broadcasts to [batch, heads, queries,
 * keys] in[4]   optional keep, bool, likewise: where it is `drops`, the score is `fill` before the
 * bias out[0]  [batch, heads, queries, width], or [batch, queries, heads, width] (layout 1) param
 * see attention.h
 *
 * Numerics. f32: a score adds products along the columns in order, then one multiplication by
 * scale; softmax as in softmax.c; the result adds probability times value along the keys in order.
 * A row that holds NaN or +inf, or only -inf, is NaN, unless `empty` says 0. No keys give 0. One
 * unit is one row of one head. */
#include "kernel/attention.h"

#include "isa/lane_math.h"

enum { ATTENTION_LANES = 16 };

/* Extents of operand `view`: batch, heads, rows, columns. */
static void attention_extents(const hg_args *a, int view, int64_t *extent)
{
    const int64_t *p = a->param;
    const bool is_q = view == HG_ATTENTION_Q;
    extent[0] = p[HG_ATTENTION_BATCH];
    extent[1] = p[HG_ATTENTION_HEADS] / (is_q ? 1 : p[HG_ATTENTION_REPEAT]);
    extent[2] = p[is_q ? HG_ATTENTION_QUERIES : HG_ATTENTION_KEYS];
    extent[3] = p[view == HG_ATTENTION_V ? HG_ATTENTION_WIDTH : HG_ATTENTION_SIZE];
}

/* The elements a view reaches lie inside its tensor. Division, not multiplication: strides and
 * sizes may be anything. */
static holo_status attention_check_view(const hg_args *a, holo_error *e, int view)
{
    static const char *const names[] = {"queries", "keys", "values"};
    const int64_t *p = a->param + HG_ATTENTION_VIEWS + 5 * view;
    int64_t left = holo_tensor_count(&a->in[view]) - 1, extent[4];
    attention_extents(a, view, extent);
    for (int i = 0; i < 4; i++)
        if (extent[i] == 0) return HOLO_OK; /* nothing is read */
    HG_REQUIRE(e, p[0] >= 0 && p[0] <= left, HOLO_E_SHAPE, "%s begin at element %lld of %lld",
               names[view], (long long)p[0], (long long)left + 1);
    left -= p[0];
    for (int i = 0; i < 4; i++) {
        HG_REQUIRE(e, p[1 + i] >= 0, HOLO_E_ARG, "stride %d of %s is %lld, expected at least 0", i,
                   names[view], (long long)p[1 + i]);
        if (extent[i] == 1) continue;
        HG_REQUIRE(e, p[1 + i] <= left / (extent[i] - 1), HOLO_E_SHAPE,
                   "%s reach beyond their tensor in dimension %d: %lld steps of %lld", names[view],
                   i, (long long)extent[i] - 1, (long long)p[1 + i]);
        left -= p[1 + i] * (extent[i] - 1);
    }
    return HOLO_OK;
}

/* [batch, heads, queries, keys], which no tensor has. */
static holo_tensor attention_scores(const hg_args *a)
{
    holo_tensor t = {.dtype = HOLO_F32, .rank = 4};
    for (int i = 0; i < 4; i++)
        t.dim[i] = a->param[HG_ATTENTION_BATCH + i];
    return t;
}

static holo_status attention_check_masks(const hg_args *a, holo_error *e)
{
    static const char *const names[] = {"bias", "keep"};
    const holo_tensor scores = attention_scores(a);
    for (uint32_t i = HG_ATTENTION_BIAS; i <= HG_ATTENTION_KEEP; i++) {
        if (!hg_args_has(a, i)) continue;
        const holo_dtype type = i == HG_ATTENTION_BIAS ? HOLO_F32 : HOLO_BOOL;
        HG_TRY(hg_check_in_type(a, e, i, HG_TYPE_BIT(type)));
        HG_TRY(hg_check_broadcast(&a->in[i], &scores, e, names[i - HG_ATTENTION_BIAS]));
    }
    return HOLO_OK;
}

static holo_status attention_check_out(const hg_args *a, holo_error *e)
{
    const int64_t *p = a->param;
    const bool by_row = p[HG_ATTENTION_LAYOUT] == HG_ATTENTION_BY_ROW;
    const int64_t dim[4] = {
        p[HG_ATTENTION_BATCH], p[by_row ? HG_ATTENTION_QUERIES : HG_ATTENTION_HEADS],
        p[by_row ? HG_ATTENTION_HEADS : HG_ATTENTION_QUERIES], p[HG_ATTENTION_WIDTH]};
    HG_TRY(hg_check_out_type(a, e, 0, HG_TYPE_BIT(HOLO_F32)));
    HG_TRY(hg_check_rank(&a->out[0], e, "output", 4, 4));
    for (int i = 0; i < 4; i++)
        HG_REQUIRE(e, a->out[0].dim[i] == dim[i], HOLO_E_SHAPE,
                   "output dimension %d is %lld, expected %lld", i, (long long)a->out[0].dim[i],
                   (long long)dim[i]);
    return HOLO_OK;
}

holo_status hg_attention_check(const hg_args *a, holo_error *e)
{
    static const char *const sizes[] = {"batch", "heads", "queries", "keys",
                                        "size",  "width", "repeat"};
    HG_TRY(hg_check_counts(a, e, 3, 5, 1, HG_ATTENTION_PARAMS));
    for (uint32_t i = 0; i < 3; i++)
        HG_TRY(hg_check_in_type(a, e, i, HG_TYPE_BIT(HOLO_F32)));
    for (uint32_t i = 0; i < HG_COUNT(sizes); i++)
        HG_TRY(hg_check_param(a, e, i, sizes[i], i == HG_ATTENTION_REPEAT, INT32_MAX));
    const int64_t *p = a->param;
    HG_REQUIRE(e, p[HG_ATTENTION_HEADS] % p[HG_ATTENTION_REPEAT] == 0, HOLO_E_SHAPE,
               "%lld heads are not a multiple of %lld", (long long)p[HG_ATTENTION_HEADS],
               (long long)p[HG_ATTENTION_REPEAT]);
    HG_TRY(hg_check_param(a, e, HG_ATTENTION_LAYOUT, "layout", 0, HG_ATTENTION_BY_ROW));
    HG_TRY(hg_check_param(a, e, HG_ATTENTION_EMPTY, "empty", 0, HG_ATTENTION_ZERO_MASKED));
    HG_TRY(hg_check_param(a, e, HG_ATTENTION_DROPS, "drops", 0, 1));
    for (int view = 0; view < 3; view++)
        HG_TRY(attention_check_view(a, e, view));
    HG_TRY(attention_check_out(a, e));
    return attention_check_masks(a, e);
}

static hg_score_mask attention_mask(const hg_args *a, uint32_t i)
{
    hg_score_mask m = {0};
    const holo_tensor scores = attention_scores(a);
    if (!hg_args_has(a, i)) return m;
    m.data = a->in[i].data;
    hg_broadcast_strides(&a->in[i], &scores, m.stride);
    return m;
}

/* Of an operand without elements nothing is read, but there may be no memory to count from. */
static hg_attention_view attention_view(const hg_args *a, int view)
{
    static const float nothing = 0;
    const int64_t *v = a->param + HG_ATTENTION_VIEWS + 5 * view;
    int64_t extent[4];
    attention_extents(a, view, extent);
    for (int i = 0; i < 4; i++)
        if (extent[i] == 0) return (hg_attention_view){.data = &nothing};
    const float *data = a->in[view].data; /* not yet there while sizes are settled */
    return (hg_attention_view){data == NULL ? &nothing : data + v[0], v[1], v[2], v[3], v[4]};
}

hg_attention hg_attention_of(const hg_args *a)
{
    const int64_t *p = a->param;
    hg_attention s = {.batch = p[HG_ATTENTION_BATCH],
                      .heads = p[HG_ATTENTION_HEADS],
                      .queries = p[HG_ATTENTION_QUERIES],
                      .keys = p[HG_ATTENTION_KEYS],
                      .size = p[HG_ATTENTION_SIZE],
                      .width = p[HG_ATTENTION_WIDTH],
                      .repeat = p[HG_ATTENTION_REPEAT],
                      .bias = attention_mask(a, HG_ATTENTION_BIAS),
                      .keep = attention_mask(a, HG_ATTENTION_KEEP),
                      .scale = (float)hg_param_f64(a, HG_ATTENTION_SCALE),
                      .fill = (float)hg_param_f64(a, HG_ATTENTION_FILL),
                      .drops = (uint8_t)p[HG_ATTENTION_DROPS],
                      .empty = (int32_t)p[HG_ATTENTION_EMPTY],
                      .out = a->out[0].data};
    for (int i = 0; i < 3; i++)
        s.view[i] = attention_view(a, i);
    const bool by_row = p[HG_ATTENTION_LAYOUT] == HG_ATTENTION_BY_ROW;
    s.out_row = by_row ? s.heads * s.width : s.width;
    s.out_head = by_row ? s.width : s.queries * s.width;
    s.out_batch = s.heads * s.queries * s.width;
    return s;
}

const float *hg_attention_at(const hg_attention *s, int view, int64_t batch, int64_t head)
{
    const hg_attention_view *v = &s->view[view];
    if (view != HG_ATTENTION_Q) head /= s->repeat;
    return v->data + batch * v->batch + head * v->head;
}

int64_t hg_score_mask_at(const hg_score_mask *m, int64_t batch, int64_t head, int64_t row)
{
    return batch * m->stride[0] + head * m->stride[1] + row * m->stride[2];
}

bool hg_attention_is_zero(const hg_attention *s, int64_t batch, int64_t head, int64_t row)
{
    if (s->empty != HG_ATTENTION_ZERO_MASKED || s->bias.data == NULL)
        return s->empty == HG_ATTENTION_ZERO;
    const float *bias = (const float *)s->bias.data + hg_score_mask_at(&s->bias, batch, head, row);
    for (int64_t j = 0; j < s->keys; j++)
        if (bias[j * s->bias.stride[3]] != -(float)HG_INFINITY) return false;
    return true;
}

void hg_attention_cost(const hg_args *a, hg_cost *cost)
{
    const int64_t *p = a->param;
    /* besides the products as in softmax.c */
    cost->flops = (double)p[HG_ATTENTION_BATCH] * (double)p[HG_ATTENTION_HEADS] *
                  (double)p[HG_ATTENTION_QUERIES] * (double)p[HG_ATTENTION_KEYS] *
                  (2.0 * (double)(p[HG_ATTENTION_SIZE] + p[HG_ATTENTION_WIDTH]) + 14);
}

static int64_t attention_units(const hg_args *a)
{
    if (holo_tensor_count(&a->out[0]) == 0) return 0;
    return hg_dims_product(&a->out[0], 0, 3);
}

static size_t attention_scratch(const hg_args *a)
{
    return (size_t)a->param[HG_ATTENTION_KEYS] * sizeof(float);
}

/* ---- one row --------------------------------------------------------------------------------- */

static void attention_row_scores(const hg_attention *s, int64_t batch, int64_t head, int64_t row,
                                 float *score)
{
    const hg_attention_view *q = &s->view[HG_ATTENTION_Q], *k = &s->view[HG_ATTENTION_K];
    const float *x = hg_attention_at(s, HG_ATTENTION_Q, batch, head) + row * q->row;
    const float *y = hg_attention_at(s, HG_ATTENTION_K, batch, head);
    for (int64_t j = 0; j < s->keys; j++) {
        float sum = 0;
        for (int64_t i = 0; i < s->size; i++)
            sum += x[i * q->col] * y[j * k->row + i * k->col];
        score[j] = s->scale == 1 ? sum : sum * s->scale;
    }
}

static void attention_row_mask(const hg_attention *s, int64_t batch, int64_t head, int64_t row,
                               float *score)
{
    const hg_score_mask *keep = &s->keep, *bias = &s->bias;
    const uint8_t *kept = keep->data;
    const float *added = bias->data;
    if (kept != NULL) kept += hg_score_mask_at(keep, batch, head, row);
    if (added != NULL) added += hg_score_mask_at(bias, batch, head, row);
    for (int64_t j = 0; j < s->keys; j++) {
        if (kept != NULL && (kept[j * keep->stride[3]] != 0) == (s->drops != 0)) score[j] = s->fill;
        if (added != NULL) score[j] += added[j * bias->stride[3]];
    }
}

/* Scores become probabilities; false when they are not numbers. */
static bool attention_row_softmax(float *score, int64_t n)
{
    float max = -(float)HG_INFINITY, lane[ATTENTION_LANES] = {0};
    for (int64_t j = 0; j < n; j++)
        max = score[j] > max ? score[j] : max;
    for (int64_t j = 0; j < n; j++) {
        score[j] = hg_exp_negative_f32(score[j] - max);
        lane[j % ATTENTION_LANES] += score[j];
    }
    for (int w = ATTENTION_LANES / 2; w > 0; w /= 2)
        for (int l = 0; l < w; l++)
            lane[l] += lane[l + w];
    const float scale = 1 / lane[0];
    for (int64_t j = 0; j < n; j++)
        score[j] *= scale;
    return lane[0] == lane[0];
}

static void attention_row_mix(const hg_attention *s, const float *score, const float *value,
                              float *out)
{
    const hg_attention_view *v = &s->view[HG_ATTENTION_V];
    for (int64_t c = 0; c < s->width; c++) {
        float sum = 0;
        for (int64_t j = 0; j < s->keys; j++)
            sum += score[j] * value[j * v->row + c * v->col];
        out[c] = sum;
    }
}

static void attention_run(const hg_args *a, hg_range r)
{
    const hg_attention s = hg_attention_of(a);
    float *score = r.scratch;
    for (int64_t u = r.begin; u < r.end; u++) {
        const int64_t row = u % s.queries, head = u / s.queries % s.heads;
        const int64_t batch = u / s.queries / s.heads;
        float *out = s.out + batch * s.out_batch + head * s.out_head + row * s.out_row;
        attention_row_scores(&s, batch, head, row, score);
        attention_row_mask(&s, batch, head, row, score);
        if (!attention_row_softmax(score, s.keys) && hg_attention_is_zero(&s, batch, head, row))
            memset(out, 0, (size_t)s.width * sizeof *out);
        else
            attention_row_mix(&s, score, hg_attention_at(&s, HG_ATTENTION_V, batch, head), out);
    }
}

const hg_kernel hg_kernels_attention[] = {
    {.name = "attention",
     .flags = HG_KERNEL_KEYS,
     .check = hg_attention_check,
     .units = attention_units,
     .scratch = attention_scratch,
     .cost = hg_attention_cost,
     .run = attention_run},
    {0},
};
