/* quantize_solve.c - codes of a product's weights, chosen one after the other: what one is rounded
 * by, the next take back.
 *
 * Rounding a column by e changes results by e H e', H the average products of the inputs. With
 * H = (I + U) D (I + U)', U strictly upper, that is the sum over k of
 *
 *     D[k] (e[k] + sum over j < k of e[j] U[j][k])^2
 *
 * so a weight is rounded after what those before it leave has been added, and H is never inverted.
 * Inputs of the most energy come first: the others can make up for them. H is known in blocks along
 * its diagonal (hg_quantize_square_block), which bounds time and memory. */
#include "pass/quantize_state.h"

#include <math.h>

enum { SOLVE_LANES = 16, SOLVE_SCALES = 9 };

#define SOLVE_DAMP 0.01 /* of the average energy, for inputs that samples do not show */

/* What codes may be. */
typedef struct solve_rule {
    int32_t limit;
    int32_t pair;  /* two neighbours together, */
    double column; /* and all of a column */
} solve_rule;

/* Inputs first .. first + n of a product. */
typedef struct solve_block {
    int64_t first, n;
    int64_t *order;
    double *energy; /* by input */
    double *row;    /* [n][n], the lower half: H by `order`, then U: row[k][j] is U[j][k] */
    double *left;   /* [n][SOLVE_LANES]: weights less their codes */
} solve_block;

int64_t hg_quantize_square_block(int64_t channels)
{
    int64_t block = hg_min(channels, HG_QUANTIZE_SQUARE);
    while (block > 1 && channels % block != 0)
        block--;
    return block < channels && block < HG_QUANTIZE_SQUARE / 16 ? 0 : block;
}

/* Decreasing energy. */
static void solve_sort(solve_block *b)
{
    for (int64_t i = 0; i < b->n; i++) {
        int64_t k = i;
        for (; k > 0 && b->energy[b->order[k - 1]] < b->energy[i]; k--)
            b->order[k] = b->order[k - 1];
        b->order[k] = i;
    }
}

/* H of inputs that are divided by `smooth` and rounded to `step`. */
static void solve_fill(solve_block *b, const hg_quantize_channels *c, const float *smooth,
                       double step)
{
    const float *square = c->square + b->first * c->block;
    double sum = 0;
    for (int64_t k = 0; k < b->n; k++) {
        const double by = smooth == NULL ? 1 : (double)smooth[b->first + k];
        b->energy[k] = (double)square[k * b->n + k] / (double)c->count / (by * by);
        sum += b->energy[k];
    }
    solve_sort(b);
    const double more = SOLVE_DAMP * sum / (double)b->n + step * step / 12;
    for (int64_t i = 0; i < b->n; i++) {
        const int64_t k = b->order[i];
        const double by = smooth == NULL ? 1 : (double)smooth[b->first + k];
        for (int64_t j = 0; j <= i; j++) {
            const int64_t m = b->order[j];
            const double with = smooth == NULL ? 1 : (double)smooth[b->first + m];
            b->row[i * b->n + j] = (double)square[k * b->n + m] / (double)c->count / (by * with);
        }
        b->row[i * b->n + i] += more;
    }
}

/* Rows become those of U, from the last one upwards; false when H is not positive. */
static bool solve_factor(solve_block *b)
{
    for (int64_t k = b->n - 1; k >= 0; k--) {
        double *row = b->row + k * b->n;
        const double pivot = row[k];
        if (!(pivot > 0) || !isfinite(pivot)) return false;
        for (int64_t i = 0; i < k; i++) {
            double *to = b->row + i * b->n;
            const double by = row[i] / pivot;
            for (int64_t j = 0; j <= i; j++)
                to[j] -= by * row[j];
        }
        for (int64_t j = 0; j < k; j++)
            row[j] /= pivot;
    }
    return true;
}

static int32_t solve_round(double x, int32_t limit)
{
    const double r = nearbyint(x);
    return r < -limit ? -limit : r > limit ? limit : (int32_t)r;
}

/* The most that a code may be beside another one. */
static int32_t solve_room(const solve_rule *r, int32_t beside)
{
    const int32_t room = r->pair - (beside < 0 ? -beside : beside);
    return room < r->limit ? room : r->limit;
}

/* Up to SOLVE_LANES columns from channel c on. */
static void solve_columns(const solve_block *b, const hg_quantize_weights *w, int64_t c,
                          const solve_rule *rule, const float *scale, int8_t *codes)
{
    const int64_t lanes = hg_min(SOLVE_LANES, w->channels - c);
    for (int64_t k = 0; k < b->n; k++) {
        const int64_t input = b->first + b->order[k], beside = input ^ 1;
        const double *row = b->row + k * b->n;
        double sum[SOLVE_LANES] = {0};
        for (int64_t j = 0; j < k; j++)
            for (int64_t l = 0; l < SOLVE_LANES; l++)
                sum[l] += b->left[j * SOLVE_LANES + l] * row[j];
        for (int64_t l = 0; l < lanes; l++) {
            const int64_t at = (c + l) * w->channel + input * w->step;
            const double x = (double)w->data[at], by = (double)scale[c + l];
            const int32_t other =
                beside < w->each ? codes[(c + l) * w->channel + beside * w->step] : 0;
            codes[at] = (int8_t)solve_round((x + sum[l]) / by, solve_room(rule, other));
            b->left[k * SOLVE_LANES + l] = x - (double)codes[at] * by;
        }
    }
}

/* Squared error of a column, each input weighing its energy. */
static double solve_cost(const hg_quantize_weights *w, int64_t c, const double *energy,
                         const solve_rule *rule, double scale)
{
    double sum = 0;
    int32_t before = 0;
    for (int64_t k = 0; k < w->each; k++) {
        const double x = (double)w->data[c * w->channel + k * w->step];
        const int32_t code =
            solve_round(x / scale, k % 2 == 0 ? rule->limit : solve_room(rule, before));
        const double d = x - scale * code;
        sum += d * d * energy[k];
        before = code;
    }
    return sum;
}

/* The largest number of a column, the largest sum of two neighbours, and the sum of all. */
static double solve_largest(const hg_quantize_weights *w, int64_t c, double *pair, double *all)
{
    double most = 0, before = 0;
    *pair = *all = 0;
    for (int64_t k = 0; k < w->each; k++) {
        const double x = fabs((double)w->data[c * w->channel + k * w->step]);
        most = fmax(most, x);
        *all += x;
        *pair = fmax(*pair, k % 2 == 0 ? x : x + before);
        before = x;
    }
    return most;
}

/* Cutting off a few ends may cost less than coarse steps for all others: of some scales from that
 * of the whole range downwards, the one with the least error. */
static float solve_scale(const hg_quantize_weights *w, int64_t c, const double *energy,
                         const solve_rule *rule)
{
    double pair, all, least = INFINITY, best = 0;
    const double most = solve_largest(w, c, &pair, &all), floor = all / rule->column;
    const double full = fmax(most / rule->limit, pair / (rule->pair - 2));
    for (int k = 0; k < SOLVE_SCALES && full > 0; k++) {
        const double scale = fmax(full * (1 - 0.05 * k), floor);
        const double cost = solve_cost(w, c, energy, rule, scale);
        if (!(cost < least)) continue;
        least = cost;
        best = scale;
    }
    return (float)best > 0 ? (float)best : 1;
}

static void solve_scales(const hg_quantize_channels *c, const float *smooth,
                         const hg_quantize_weights *w, const solve_rule *rule, double *energy,
                         float *scale)
{
    for (int64_t k = 0; k < w->each; k++) {
        const double by = smooth == NULL ? 1 : (double)smooth[k];
        const float *square = c->square + k / c->block * c->block * c->block;
        energy[k] = (double)square[k % c->block * (c->block + 1)] / (by * by);
    }
    for (int64_t n = 0; n < w->channels; n++)
        scale[n] = solve_scale(w, n, energy, rule);
}

static holo_status solve_run(const hg_quantize_state *s, uint32_t i, const hg_quantize_weights *w,
                             double step, hg_arena *arena, int8_t *codes, float *scale, bool *done)
{
    const uint32_t activation = s->reads[i];
    const hg_quantize_channels *c = &s->q->channel[activation];
    const float *smooth = s->activation[activation].smooth;
    const bool is_two = hg_quantize_digits(s, activation) == 2;
    const solve_rule rule = {.limit = hg_quantize_limit(s->q->mode),
                             .pair = is_two || s->q->any_pair ? INT16_MAX : HG_QUANTIZE_PAIR,
                             .column = is_two ? HG_QUANTIZE_COLUMN : INFINITY};
    const size_t n = (size_t)c->block;
    solve_block b = {.n = c->block,
                     .order = hg_arena_array(arena, n, sizeof *b.order),
                     .energy = hg_arena_array(arena, (size_t)w->each, sizeof *b.energy),
                     .row = hg_arena_array(arena, n * n, sizeof *b.row),
                     .left = hg_arena_array(arena, n * SOLVE_LANES, sizeof *b.left)};
    if (b.order == NULL || b.energy == NULL || b.row == NULL || b.left == NULL)
        return hg_fail_nomem(s->g->ctx->error, n * n * sizeof *b.row);
    solve_scales(c, smooth, w, &rule, b.energy, scale);
    for (b.first = 0; b.first < w->each; b.first += b.n) {
        HG_TRY(hg_ctx_check_time(s->g->ctx));
        solve_fill(&b, c, smooth, step);
        if (!solve_factor(&b)) return HOLO_OK;
        for (int64_t k = 0; k < w->channels; k += SOLVE_LANES)
            solve_columns(&b, w, k, &rule, scale, codes);
    }
    *done = true;
    return HOLO_OK;
}

holo_status hg_quantize_solve(const hg_quantize_state *s, uint32_t i, const hg_quantize_weights *w,
                              float step, int8_t *codes, float *scale, bool *done)
{
    const hg_quantize_channels *c = &s->q->channel[s->reads[i]];
    hg_arena arena;
    *done = false;
    if (s->kind[i] != HG_QUANTIZE_MATMUL || c->square == NULL || c->count == 0) return HOLO_OK;
    if (c->channels != w->each || c->block == 0) return HOLO_OK;
    hg_arena_init(&arena, &s->g->ctx->arena.alloc, 0);
    holo_status status = solve_run(s, i, w, (double)step, &arena, codes, scale, done);
    hg_arena_deinit(&arena);
    return status;
}
