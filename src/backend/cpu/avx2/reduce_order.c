/* reduce_order.c - kernel "reduce.order" on AVX2: extremes, and where they are: of columns of
 * float32 eight at once, each with its best element so far and the row of it. A row of neighbours
 * is read as sixteen columns. */
#include "backend/cpu/avx2/reduce.h"
#include "backend/cpu/avx2/turn.h"
#include "backend/cpu/vec8_int.h"

enum { ARG_WIDTH = 8, ARG_LANES = 16 };

/* Best elements and their rows; elements are negated where the smallest is wanted. */
typedef struct arg_best {
    float value[ARG_LANES];
    float row[ARG_LANES]; /* the bits of an int32_t */
} arg_best;

typedef struct arg_call {
    const float *x;
    int64_t rows, stride; /* from row to row */
    bool is_max, is_last;
} arg_call;

/* A new element replaces the best one where it is larger; the first NaN stays, or the last one. */
HG_INLINE void arg_columns(const int vectors, const arg_call *c, arg_best *out)
{
    const __m256 flip = _mm256_set1_ps(c->is_max ? 0.0F : -0.0F);
    __m256 best[2], row[2];
    for (int v = 0; v < vectors; v++) {
        best[v] = _mm256_xor_ps(_mm256_loadu_ps(c->x + v * ARG_WIDTH), flip);
        row[v] = _mm256_setzero_ps();
    }
    for (int64_t r = 1; r < c->rows; r++) {
        const __m256 number = _mm256_castsi256_ps(_mm256_set1_epi32((int32_t)r));
        for (int v = 0; v < vectors; v++) {
            const __m256 x =
                _mm256_xor_ps(_mm256_loadu_ps(c->x + r * c->stride + v * ARG_WIDTH), flip);
            const __m256 is_number = _mm256_cmp_ps(best[v], best[v], _CMP_ORD_Q);
            const __m256 beats = c->is_last ? _mm256_cmp_ps(x, best[v], _CMP_NLT_UQ)
                                            : _mm256_cmp_ps(x, best[v], _CMP_NLE_UQ);
            __m256 takes = _mm256_and_ps(beats, is_number);
            if (c->is_last)
                takes = _mm256_blendv_ps(takes, beats, _mm256_cmp_ps(x, x, _CMP_UNORD_Q));
            best[v] = _mm256_blendv_ps(best[v], x, takes);
            row[v] = _mm256_blendv_ps(row[v], number, takes);
        }
    }
    for (int v = 0; v < vectors; v++) {
        _mm256_storeu_ps(out->value + v * ARG_WIDTH, best[v]);
        _mm256_storeu_ps(out->row + v * ARG_WIDTH, row[v]);
    }
}

static int64_t arg_row(const arg_best *b, int64_t lane)
{
    int32_t row;
    memcpy(&row, &b->row[lane], sizeof row);
    return row;
}

/* v comes after best: it wins when it is larger, the first NaN, or, of the last ones, no less. */
HG_INLINE bool arg_beats(float best, float v, bool is_last)
{
    return (best == best && (v > best || v != v)) || (is_last && (v == best || v != v));
}

/* Of a few neighbours. */
static int64_t arg_few(const arg_call *c, int64_t step)
{
    int64_t found = 0;
    for (int64_t i = 1; i < c->rows; i++) {
        const float v = c->x[i * step], best = c->x[found * step];
        if (arg_beats(c->is_max ? best : -best, c->is_max ? v : -v, c->is_last)) found = i;
    }
    return found;
}

/* Of a row of neighbours: of each sixteenth, then of those and the few that are left. */
static int64_t arg_neighbours(const arg_call *c)
{
    if (c->rows < 2 * ARG_LANES) return arg_few(c, 1);
    arg_best b;
    arg_call lanes = *c;
    lanes.rows = c->rows / ARG_LANES;
    lanes.stride = ARG_LANES;
    arg_columns(2, &lanes, &b);
    int64_t found = arg_row(&b, 0) * ARG_LANES;
    float best = b.value[0];
    for (int64_t l = 1; l < ARG_LANES; l++) {
        const int64_t at = arg_row(&b, l) * ARG_LANES + l;
        const float v = b.value[l];
        const bool is_same = v == best || (v != v && best != best);
        if (is_same ? (at < found) != c->is_last : arg_beats(best, v, false)) {
            found = at;
            best = v;
        }
    }
    for (int64_t i = lanes.rows * ARG_LANES; i < c->rows; i++) {
        const float v = c->is_max ? c->x[i] : -c->x[i];
        if (!arg_beats(best, v, c->is_last)) continue;
        found = i;
        best = v;
    }
    return found;
}

/* Of `cols` columns that lie side by side, at least eight; the last ones together with their
 * neighbours once more. */
static void arg_side_by_side(const arg_call *c, int64_t cols, int64_t *found)
{
    arg_best b;
    for (int64_t col = 0, n; col < cols; col += n) {
        arg_call part = *c;
        n = cols - col >= ARG_LANES ? ARG_LANES : ARG_WIDTH;
        const int64_t at = hg_min(col, cols - n);
        part.x = c->x + at;
        if (n == ARG_LANES)
            arg_columns(2, &part, &b);
        else
            arg_columns(1, &part, &b);
        for (int64_t l = 0; l < n; l++)
            found[at + l] = arg_row(&b, l);
    }
}

/* Of at least eight short rows, `step` apart: eight at a time, turned; the last ones together with
 * their neighbours once more. A row by itself takes twice as long where it has ten elements. */
static void arg_narrow(const arg_call *c, int64_t rows, int64_t step, int64_t *found)
{
    float turned[2 * ARG_LANES * ARG_WIDTH];
    arg_best b;
    arg_call part = *c;
    part.x = turned;
    part.stride = ARG_WIDTH;
    for (int64_t row = 0; row < rows; row += ARG_WIDTH) {
        const int64_t at = hg_min(row, rows - ARG_WIDTH);
        const float *x = c->x + at * step;
        int64_t j = 0;
        for (; j + 4 <= c->rows; j += 4)
            turn_8x4(x + j, step, turned + j * ARG_WIDTH, ARG_WIDTH, true);
        for (; j < c->rows; j++)
            _mm256_storeu_ps(turned + j * ARG_WIDTH, hg_vec8_every(x + j, step));
        arg_columns(1, &part, &b);
        for (int64_t l = 0; l < ARG_WIDTH; l++)
            found[at + l] = arg_row(&b, l);
    }
}

static bool arg_find(const hg_reduce_arg *q, int64_t *found)
{
    const arg_call c = {q->x, q->rows, q->row_stride, q->is_max, q->is_last};
    if (q->rows > INT32_MAX) return false;
    if (q->col_stride == 1 && q->cols >= ARG_WIDTH) {
        arg_side_by_side(&c, q->cols, found);
        return true;
    }
    if (q->row_stride == 1 && q->rows < 2 * ARG_LANES && q->cols >= ARG_WIDTH) {
        arg_narrow(&c, q->cols, q->col_stride, found);
        return true;
    }
    for (int64_t col = 0; col < q->cols; col++) {
        arg_call one = c;
        one.x = c.x + col * q->col_stride;
        found[col] = q->row_stride == 1 ? arg_neighbours(&one) : arg_few(&one, q->row_stride);
    }
    return true;
}

/* ---- extremes -------------------------------------------------------------------------------- */

/* One column: a != a || a > b ? a : b in sixteen lanes, which compilers do not keep in registers.
 */
#define ORDER_EXTREME(stem, op, vector)                                                            \
    static void order_##stem##_16(void *HG_RESTRICT d_, const void *HG_RESTRICT x_,                \
                                  const void *HG_RESTRICT shift, int64_t width, int64_t count)     \
    {                                                                                              \
        float *d = d_;                                                                             \
        const float *x = x_;                                                                       \
        if (width != 16) {                                                                         \
            hg_reduce_loops_avx2.step(op, HG_LANE_F32).enter(d_, x_, shift, width, count);         \
            return;                                                                                \
        }                                                                                          \
        __m256 a = _mm256_loadu_ps(d), b = _mm256_loadu_ps(d + 8);                                 \
        for (int64_t i = 0; i < count; i++, x += 16) {                                             \
            __m256 ma = vector(a, _mm256_loadu_ps(x)), mb = vector(b, _mm256_loadu_ps(x + 8));     \
            a = _mm256_blendv_ps(ma, a, _mm256_cmp_ps(a, a, _CMP_UNORD_Q));                        \
            b = _mm256_blendv_ps(mb, b, _mm256_cmp_ps(b, b, _CMP_UNORD_Q));                        \
        }                                                                                          \
        _mm256_storeu_ps(d, a);                                                                    \
        _mm256_storeu_ps(d + 8, b);                                                                \
    }
ORDER_EXTREME(max, HG_REDUCE_MAX, _mm256_max_ps)
ORDER_EXTREME(min, HG_REDUCE_MIN, _mm256_min_ps)
#undef ORDER_EXTREME
HG_REDUCE_EXTREMES(int32_t, order_i32)

static hg_reduce_step order_step(hg_reduce_op op, hg_lane_type domain)
{
    const bool is_max = op == HG_REDUCE_MAX || op == HG_REDUCE_ARG_MAX;
    const bool is_min = op == HG_REDUCE_MIN || op == HG_REDUCE_ARG_MIN;
    hg_reduce_step step = hg_reduce_loops_avx2.step(op, domain);
    if (domain == HG_LANE_I32) step.enter = step.join = is_max ? order_i32_max : order_i32_min;
    if (domain == HG_LANE_F32 && is_max) step.enter = order_max_16;
    if (domain == HG_LANE_F32 && is_min) step.enter = order_min_16;
    return step;
}

static bool order_rows(hg_reduce_op op, const float *x, int64_t n, int64_t stride, int64_t count,
                       float *out)
{
    if (op != HG_REDUCE_MAX && op != HG_REDUCE_MIN)
        return hg_reduce_loops_avx2.rows(op, x, n, stride, count, out);
    for (int64_t i = 0; i < count; i++, x += stride)
        out[i] = op == HG_REDUCE_MAX ? hg_reduce_row(HG_REDUCE_ROW_MAX, x, n)
                                     : hg_reduce_row(HG_REDUCE_ROW_MIN, x, n);
    return true;
}

static bool order_cols(hg_reduce_op op, const float *x, int64_t n, int64_t stride, int64_t cols,
                       float *out)
{
    if (op == HG_REDUCE_MAX)
        hg_reduce_all_columns(HG_REDUCE_ROW_MAX, x, n, stride, cols, out);
    else if (op == HG_REDUCE_MIN)
        hg_reduce_all_columns(HG_REDUCE_ROW_MIN, x, n, stride, cols, out);
    else
        return hg_reduce_loops_avx2.cols(op, x, n, stride, cols, out);
    return true;
}

/* 128 lanes of neighbours, or 16 of few, of which compilers make vectors; the last ones are seen
 * twice. Lanes meet in loops of constant length for the same reason. */
#define ORDER_MEET(width, sign)                                                                    \
    for (int l = 0; l < (width); l++)                                                              \
    lane[l] = lane[l] sign lane[l + (width)] ? lane[l] : lane[l + (width)]
#define ORDER_LANES(width, sign)                                                                   \
    for (int l = 0; l < (width); l++)                                                              \
        lane[l] = x[l];                                                                            \
    for (int64_t i = width; i < n; i += (width)) {                                                 \
        next = x + hg_min(i, n - (width));                                                         \
        for (int l = 0; l < (width); l++)                                                          \
            lane[l] = lane[l] sign next[l] ? lane[l] : next[l];                                    \
    }
#define ORDER_BYTES(T, stem, sign)                                                                 \
    static T order_##stem##_of(const T *x, int64_t n)                                              \
    {                                                                                              \
        const T *next;                                                                             \
        T lane[128], best;                                                                         \
        if (n >= 128) {                                                                            \
            ORDER_LANES(128, sign)                                                                 \
            ORDER_MEET(64, sign);                                                                  \
            ORDER_MEET(32, sign);                                                                  \
            ORDER_MEET(16, sign);                                                                  \
        } else if (n >= 16) {                                                                      \
            ORDER_LANES(16, sign)                                                                  \
        } else {                                                                                   \
            memset(lane, x[0], 16);                                                                \
            memcpy(lane, x, (size_t)n);                                                            \
        }                                                                                          \
        ORDER_MEET(8, sign);                                                                       \
        best = lane[0];                                                                            \
        for (int l = 1; l < 8; l++)                                                                \
            best = best sign lane[l] ? best : lane[l];                                             \
        return best;                                                                               \
    }                                                                                              \
    static void order_##stem(const void *from, int64_t n, int64_t stride, int64_t count,           \
                             uint8_t *out)                                                         \
    {                                                                                              \
        for (int64_t i = 0; i < count; i++)                                                        \
            out[i] = (uint8_t)order_##stem##_of((const T *)from + i * stride, n);                  \
    }
ORDER_BYTES(uint8_t, max_u8, >)
ORDER_BYTES(uint8_t, min_u8, <)
ORDER_BYTES(int8_t, max_i8, >)
ORDER_BYTES(int8_t, min_i8, <)
#undef ORDER_BYTES
#undef ORDER_LANES
#undef ORDER_MEET

static void order_bytes(bool is_max, bool is_signed, const uint8_t *x, int64_t n, int64_t stride,
                        int64_t count, uint8_t *out)
{
    if (is_signed)
        (is_max ? order_max_i8 : order_min_i8)(x, n, stride, count, out);
    else
        (is_max ? order_max_u8 : order_min_u8)(x, n, stride, count, out);
}

static void order_run(const hg_args *a, hg_range r)
{
    hg_reduce_loops loops = hg_reduce_loops_avx2;
    loops.step = order_step;
    loops.rows = order_rows;
    loops.cols = order_cols;
    loops.arg = arg_find;
    loops.bytes = order_bytes;
    hg_kernel_reduce_run(a, r, &loops);
}

const hg_kernel hg_kernels_reduce_order_avx2[] = {
    {
        .name = "reduce.order",
        .cpu = HG_CPU_AVX2,
        .check = hg_kernel_reduce_check,
        .units = hg_kernel_reduce_units,
        .scratch = hg_kernel_reduce_scratch,
        .cost = hg_kernel_reduce_cost,
        .run = order_run,
    },
    {0},
};
