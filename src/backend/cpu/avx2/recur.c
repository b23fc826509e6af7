/* recur.c - recur.p16 with AVX2 and FMA.
 *
 * Sequences of one direction go step by step together: R is read once for up to RECUR_GROUP of
 * them, through the tiles of gemm.h, and one or a few of them stream it. Longer sequences come
 * first, so that those which still run are a prefix. Every other step of a stream goes through R
 * backwards: what the step before read last is still in L2, where a matrix a little larger than L2
 * would otherwise be evicted just before it is needed.
 *
 * With AVX-512 all products are streams (avx512/recur.c).
 *
 * A unit is some sequences in one direction; which come together does not change their bits. Where
 * there is but one unit, threads share the panels of each product, and every one keeps its part of
 * R in its own L2: an LSTM over 100 steps of one sequence takes 0.86 instead of 1.32 ms with h =
 * 256 and 2 threads, 16.5 instead of 32 with h = 1024. Whoever finds no thread to help does all
 * parts alone, so that nobody ever waits for one that does not come. Functions other than Sigmoid,
 * Tanh and Relu are left to the reference kernel. Error bound: one rounding for each of the H fused
 * multiply-adds, in order; functions err by at most 4e-7. */
#include "kernel/recur.h"

#include "backend/cpu/avx2/recur.h"

enum {
    RECUR_GROUP = 48, /* sequences that go together */
    RECUR_UNITS = 4,  /* of a direction and a group, when there are so many sequences */
    RECUR_TURN = 12,  /* panels that are streamed in one direction */
    RECUR_TILE = 6,   /* panels of a tile of a stream */
    RECUR_PARTS = 2,  /* of a product for each thread */
    RECUR_ASK = 16    /* steps of a few sequences between two looks whether to stop */
};

static holo_status recur_check(const hg_args *a, holo_error *e)
{
    HG_TRY(hg_recur_check(a, e));
    return hg_rnn_check_common(a, e, a->n_param - 1);
}

/* Multiply-adds of a part that is worth a thread, and of all steps: less is not worth waking one.
 */
static const int64_t recur_part_work = 1 << 15, recur_team_work = 1 << 18;

/* Sequences of a unit. One alone reads R for itself, so threads get several, and about equally
 * many: 64 sequences are 8 units of 8, 32 for each of two threads, where 5 of 12 and one of 4 were
 * 36 and 28. */
static int64_t recur_unit(const hg_rnn_shape *s)
{
    const int64_t groups = hg_ceil_div(s->batch, RECUR_GROUP);
    return hg_max(1, hg_ceil_div(s->batch, hg_max(1, groups * RECUR_UNITS)));
}

static int64_t recur_units(const hg_args *a)
{
    const hg_rnn_shape s = hg_recur_shape_of(a);
    return s.hidden == 0 ? 0 : s.directions * hg_ceil_div(s.batch, recur_unit(&s));
}

/* A group of sequences; row i of h, c, gated and sum belongs to sequence sample[i]. */
typedef struct recur_work {
    const hg_args *a;
    hg_rnn_shape s;
    const float **rows;
    float *h, *c, *gated, *sum; /* sum: rows of whole panels; c of gru: see gates_reset */
    int64_t width;              /* of a row of sum */
    const float *r;             /* of the direction, like the gates */
    hg_recur_gates gates;
    bool is_usual;                  /* which gates are */
    int64_t direction, count, team; /* team: threads that share a product */
    int64_t sample[RECUR_GROUP], length[RECUR_GROUP];
} recur_work;

static size_t recur_row_bytes(int64_t rows, int64_t n)
{
    return hg_align_up((size_t)(rows * n) * sizeof(float), HG_ALIGN);
}

static size_t recur_pointer_bytes(void)
{
    return hg_align_up(RECUR_GROUP * sizeof(float *), HG_ALIGN);
}

static size_t recur_scratch(const hg_args *a)
{
    const hg_rnn_shape s = hg_recur_shape_of(a);
    const int64_t rows = hg_min(RECUR_GROUP, s.batch);
    return recur_pointer_bytes() + 3 * recur_row_bytes(rows, s.hidden) +
           recur_row_bytes(rows, hg_panels(s.gates * s.hidden) * HG_PANEL);
}

/* ---- R h ------------------------------------------------------------------------------------ */

/* Rows of h by panels from `panel` on. */
static hg_gemm_stream recur_stream_of(const recur_work *w, const float *h, int64_t panel)
{
    const int64_t k = w->s.hidden;
    return (hg_gemm_stream){.a = h,
                            .b = (const char *)(w->r + panel * k * HG_PANEL),
                            .b_step = HG_PANEL * sizeof(float),
                            .b_panel = k * HG_PANEL * (int64_t)sizeof(float),
                            .k = k,
                            .c = w->sum + panel * HG_PANEL,
                            .ld = w->width,
                            .alpha = 1};
}

/* Few rows: panels [first, end), from the last on when upward. The last block takes the rest: what
 * is less than a tile is slow. */
static void recur_stream(const recur_work *w, const float *h, int64_t rows, int64_t first,
                         int64_t end, bool upward)
{
    const int64_t blocks = hg_max(1, (end - first) / RECUR_TURN);
    for (int64_t i = 0; i < blocks; i++) {
        const int64_t block = upward ? blocks - 1 - i : i, panel = first + block * RECUR_TURN;
        hg_gemm_stream_avx2(recur_stream_of(w, h, panel), rows,
                            block + 1 < blocks ? RECUR_TURN : end - panel);
    }
}

static void recur_tiles(const recur_work *w, int64_t rows, int64_t first, int64_t end, bool upward)
{
    const int64_t k = w->s.hidden;
    const int64_t depth = hg_ceil_div(k, hg_ceil_div(k, HG_GEMM_DEPTH));
    for (int64_t k0 = 0; k0 < k; k0 += depth) {
        hg_gemm_step step = {.row = w->rows,
                             .taps = 1,
                             .depth = hg_min(depth, k - k0),
                             .offset = k0,
                             .b_step = HG_PANEL * sizeof(float),
                             .sum_ld = w->width,
                             .ld = w->width,
                             .cols = HG_PANEL,
                             .alpha = 1};
        for (int64_t i = first; i < end; i++) {
            const int64_t panel = upward ? first + end - 1 - i : i;
            const int64_t next = upward ? hg_max(panel - 1, first) : hg_min(panel + 1, end - 1);
            step.b = w->r + (panel * k + k0) * HG_PANEL;
            step.c = w->sum + panel * HG_PANEL;
            step.sum = k0 == 0 ? NULL : step.c;
            hg_gemm_fetch(&step, (const char *)(w->r + (next * k + k0) * HG_PANEL), rows);
            hg_gemm_panel_avx2(&step, rows);
        }
    }
}

/* R h for panels [first, end), in `parts` of whole tiles of a stream, each by some thread. */
typedef struct recur_link {
    const recur_work *w;
    const float *h;
    int64_t rows, first, end, parts;
    bool upward;
} recur_link;

static int64_t recur_part(const recur_link *l, int64_t part)
{
    const int64_t tile = hg_has_avx512(l->w->a) ? HG_GEMM_STREAM_WIDE : RECUR_TILE;
    const int64_t tiles = hg_ceil_div(l->end - l->first, tile);
    return hg_min(l->end, l->first + tiles * part / l->parts * tile);
}

static void recur_part_run(void *user, int64_t part, uint32_t worker)
{
    const recur_link *l = user;
    const int64_t first = recur_part(l, part), end = recur_part(l, part + 1);
    (void)worker;
    if (first == end) return;
#if HG_HAS_AVX512
    if (hg_has_avx512(l->w->a)) {
        const hg_gemm_stream s = recur_stream_of(l->w, l->h, first);
        hg_gemm_stream_avx512(&s, l->rows, end - first, l->upward);
        return;
    }
#endif
    if (l->rows <= HG_GEMM_STREAM_NEAR)
        recur_stream(l->w, l->h, l->rows, first, end, l->upward);
    else
        recur_tiles(l->w, l->rows, first, end, l->upward);
}

/* sum = R h for whole panels that hold gate rows [begin, begin + count). */
static void recur_product(const recur_work *w, const float *h, int64_t rows, int64_t begin,
                          int64_t count, bool upward)
{
    for (int64_t i = 0; i < rows; i++)
        w->rows[i] = h + i * w->s.hidden;
    recur_link l = {w, h, rows, begin / HG_PANEL, hg_panels(begin + count), 1, upward};
    const int64_t work = rows * (l.end - l.first) * HG_PANEL * w->s.hidden;
    if (w->team > 1) l.parts = hg_max(1, hg_min(w->team * RECUR_PARTS, work / recur_part_work));
    if (l.parts > 1)
        hg_pool_run(w->a->team, l.parts, recur_part_run, &l);
    else
        recur_part_run(&l, 0, 0);
}

/* ---- gates ---------------------------------------------------------------------------------- */

/* Whether a step's gates are those of AVX-512. */
HG_INLINE bool recur_is_wide(const recur_work *w)
{
    return w->is_usual && hg_has_avx512(w->a);
}

static void recur_row_reset(const recur_work *w, const hg_recur_row *r)
{
    const hg_recur_gates *g = &w->gates;
#if HG_HAS_AVX512
    if (recur_is_wide(w)) {
        hg_recur_reset_avx512(g, r);
        return;
    }
#endif
    gates_reset(g->function[0], g->clip, g->n, r);
}

static void recur_row_gates(const recur_work *w, const hg_recur_row *r)
{
    const hg_recur_gates *g = &w->gates;
    const int64_t *f = g->function;
#if HG_HAS_AVX512
    if (recur_is_wide(w)) {
        hg_recur_usual_avx512(g, r);
        return;
    }
#endif
    if (w->is_usual)
        gates_usual(g, r);
    else if (g->kind == HG_RNN_LSTM)
        gates_lstm(f[0], f[HG_RNN_FUNCTION_PARAMS], f[2 * HG_RNN_FUNCTION_PARAMS], g->variant,
                   g->peep, g->clip, g->n, r);
    else if (g->kind == HG_RNN_GRU)
        gates_gru(f[0], f[HG_RNN_FUNCTION_PARAMS], g->variant, g->bias, g->clip, g->n, r);
    else
        gates_plain(f[0], g->clip, g->n, r);
}

/* ---- sequences ------------------------------------------------------------------------------ */

/* Sequences [first, first + count), the longest first, and their states. */
static void recur_begin(recur_work *w, int64_t first)
{
    const hg_rnn_shape *s = &w->s;
    for (int64_t i = 0; i < w->count; i++) {
        const int64_t length = hg_rnn_length(w->a, s, HG_RECUR_LENGTHS, first + i);
        int64_t at = i;
        for (; at > 0 && w->length[at - 1] < length; at--) {
            w->length[at] = w->length[at - 1];
            w->sample[at] = w->sample[at - 1];
        }
        w->length[at] = length;
        w->sample[at] = first + i;
    }
    float *const to[2] = {w->h, w->c};
    for (int64_t k = 0; k < 2 * w->count; k++) {
        const uint32_t in = k < w->count ? HG_RECUR_H0 : HG_RECUR_C0;
        float *row = to[k / w->count] + k % w->count * s->hidden;
        const int64_t at = hg_rnn_state_at(s, w->direction, w->sample[k % w->count]);
        hg_rnn_load(w->a, in, at, row, s->hidden);
    }
}

static void recur_end(const recur_work *w)
{
    const hg_rnn_shape *s = &w->s;
    for (int64_t i = 0; i < w->count; i++) {
        const int64_t d = w->direction, sample = w->sample[i], n = s->hidden;
        for (int64_t t = w->length[i]; t < s->steps; t++)
            hg_rnn_store(w->a, HG_RNN_Y, hg_rnn_y_at(s, t, d, sample), NULL, n);
        hg_rnn_store(w->a, HG_RNN_Y_H, hg_rnn_state_at(s, d, sample), w->h + i * n, n);
        hg_rnn_store(w->a, HG_RNN_Y_C, hg_rnn_state_at(s, d, sample), w->c + i * n, n);
    }
}

/* The step after `done` of row i. */
static int64_t recur_time(const recur_work *w, int64_t i, int64_t done)
{
    return hg_rnn_is_backward(w->a, w->direction) ? w->length[i] - 1 - done : done;
}

static hg_recur_row recur_row_of(const recur_work *w, int64_t i, int64_t done)
{
    const hg_rnn_shape *s = &w->s;
    const int64_t at = hg_rnn_x_at(s, recur_time(w, i, done), w->sample[i]);
    return (hg_recur_row){.x = (const float *)w->a->in[HG_RECUR_X].data + at +
                               w->direction * s->gates * s->hidden,
                          .sum = w->sum + i * w->width,
                          .h = w->h + i * s->hidden,
                          .c = w->c + i * s->hidden,
                          .gated = w->gated + i * s->hidden};
}

/* One step of the first `rows` sequences, which have done `done` before. */
static void recur_step(const recur_work *w, int64_t rows, int64_t done)
{
    const hg_rnn_shape *s = &w->s;
    const bool upward = done % 2 != 0;
    const bool twice = s->kind == HG_RNN_GRU && w->a->param[HG_RNN_PARAM_VARIANT] == 0;
    recur_product(w, w->h, rows, 0, (twice ? 2 : s->gates) * s->hidden, upward);
    for (int64_t i = 0; i < rows && twice; i++) {
        const hg_recur_row r = recur_row_of(w, i, done);
        recur_row_reset(w, &r);
    }
    if (twice) recur_product(w, w->gated, rows, 2 * s->hidden, s->hidden, upward);
    for (int64_t i = 0; i < rows; i++) {
        const hg_recur_row r = recur_row_of(w, i, done);
        recur_row_gates(w, &r);
        const int64_t t = recur_time(w, i, done);
        hg_rnn_store(w->a, HG_RNN_Y, hg_rnn_y_at(s, t, w->direction, w->sample[i]), r.h, s->hidden);
    }
}

static void recur_group(recur_work *w, int64_t first)
{
    recur_begin(w, first);
    int64_t rows = w->count;
    for (int64_t done = 0; done < w->length[0]; done++) {
        if ((done % RECUR_ASK == 0 || rows > HG_GEMM_STREAM_ROWS) && hg_args_stopped(w->a)) return;
        while (w->length[rows - 1] <= done)
            rows--;
        recur_step(w, rows, done);
    }
    recur_end(w);
}

static int64_t recur_team(const hg_args *a, const hg_rnn_shape *s)
{
    const double work = (double)s->steps * (double)s->batch * (double)s->input * (double)s->hidden;
    return work < (double)recur_team_work ? 1 : hg_args_team(a);
}

static void recur_run(const hg_args *a, hg_range r)
{
    recur_work w = {.a = a, .s = hg_recur_shape_of(a)};
    const int64_t n = w.s.hidden, most = hg_min(RECUR_GROUP, w.s.batch);
    const double clip = hg_param_f64(a, HG_RNN_PARAM_CLIP);
    char *at = r.scratch;
    w.rows = (const float **)(void *)at;
    w.h = (float *)(void *)(at += recur_pointer_bytes());
    w.c = (float *)(void *)(at += recur_row_bytes(most, n));
    w.gated = (float *)(void *)(at += recur_row_bytes(most, n));
    w.sum = (float *)(void *)(at + recur_row_bytes(most, n));
    w.width = hg_panels(w.s.gates * n) * HG_PANEL;
    w.team = recur_team(a, &w.s);
    w.gates = (hg_recur_gates){.kind = w.s.kind,
                               .variant = a->param[HG_RNN_PARAM_VARIANT] != 0,
                               .clip = clip > 0 ? (float)clip : INFINITY,
                               .n = n};
    const int64_t unit = recur_unit(&w.s), each = hg_ceil_div(w.s.batch, unit);
    const int64_t whole = RECUR_GROUP / unit; /* units of a group */
    for (int64_t u = r.begin, count; u < r.end; u += count) {
        const int64_t first = u % each * unit;
        w.direction = u / each;
        count = hg_min(hg_min(r.end, (w.direction + 1) * each) - u, whole);
        w.count = hg_min(count * unit, w.s.batch - first);
        w.r = hg_recur_weights(a, &w.s, w.direction);
        w.gates.function = hg_recur_function(a, &w.s, w.direction);
        w.gates.peep = hg_recur_peepholes(a, &w.s, w.direction);
        w.gates.bias = hg_args_has(a, HG_RECUR_B)
                           ? (const float *)a->in[HG_RECUR_B].data + w.direction * n
                           : NULL;
        w.is_usual = gates_is_usual(&w.gates);
        recur_group(&w, first);
    }
}

const hg_kernel hg_kernels_recur_avx2[] = {
    {.name = "recur.p16",
     .flags = HG_KERNEL_FAST | HG_KERNEL_ASKS,
     .cpu = HG_CPU_AVX2,
     .check = recur_check,
     .units = recur_units,
     .scratch = recur_scratch,
     .cost = hg_recur_cost,
     .run = recur_run},
    {0},
};
