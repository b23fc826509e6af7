/* linearattention.c - linearattention: attention by a state that is updated token by token.
 *
 *   in     queries [B, T, Q*K], keys [B, T, H*K], values [B, T, H*V];
 *          may be absent: past state [B, H, K, V], decay [B, T, H] or [B, T, H*K], rate [B, T, H]
 *          or [B, T, 1]
 *   param  see linearattention.h; Q is a multiple of H
 *   out    [B, T, Q*V]; may be absent: present state [B, H, K, V]
 *
 * For each token, with its key k, value v, query q, decay g and rate b:
 *
 *   S = e^g S                       if there is a decay; per row of S when it has K per head
 *   v = b (v - S' k)                if there is a rate
 *   S = S + k v';  o = scale q' S
 *
 * f32, f16, bf16: states are of one type, everything else of one; computed in f32, rounded where
 * stored. Sums run along K in order. The columns of a state never meet: one unit is a block of them
 * through all tokens, so that its part of the state stays in the nearest cache. */
#include "kernel/linearattention.h"

#include "isa/lane_io.h"
#include "isa/lane_math.h"

#include <math.h>

#define LINEAR_TYPES (HG_TYPE_BIT(HOLO_F32) | HG_TYPE_BIT(HOLO_F16) | HG_TYPE_BIT(HOLO_BF16))

enum { LINEAR_Q, LINEAR_K, LINEAR_V, LINEAR_PAST, LINEAR_DECAY, LINEAR_RATE, LINEAR_INS };
enum { LINEAR_BLOCK = 16 };

typedef struct linear_shape {
    int64_t batch, tokens, q_heads, heads, keys, values; /* keys, values: elements of one */
    int64_t blocks;                                      /* of the columns of a state */
    float scale;
} linear_shape;

static linear_shape linear_shape_of(const hg_args *a)
{
    linear_shape s = {.batch = a->in[LINEAR_Q].dim[0],
                      .tokens = a->in[LINEAR_Q].dim[1],
                      .q_heads = a->param[HG_LINEAR_PARAM_Q_HEADS],
                      .heads = a->param[HG_LINEAR_PARAM_HEADS]};
    const double scale = hg_param_f64(a, HG_LINEAR_PARAM_SCALE);
    s.keys = a->in[LINEAR_Q].dim[2] / s.q_heads;
    s.values = a->in[LINEAR_V].dim[2] / s.heads;
    s.blocks = s.values / LINEAR_BLOCK + (s.values % LINEAR_BLOCK != 0);
    s.scale = (float)(scale == 0 ? 1 / sqrt((double)s.keys) : scale);
    return s;
}

static bool linear_has_present(const hg_args *a)
{
    return a->n_out > 1 && a->out[1].dtype != HOLO_NONE;
}

/* ---- check ----------------------------------------------------------------------------------- */

static holo_status linear_check_dims(const holo_tensor *t, holo_error *e, const char *what,
                                     int rank, const int64_t *dim)
{
    HG_TRY(hg_check_rank(t, e, what, rank, rank));
    for (int d = 0; d < rank; d++)
        HG_REQUIRE(e, t->dim[d] == dim[d], HOLO_E_SHAPE,
                   "dimension %d of %s is %lld, expected %lld", d, what, (long long)t->dim[d],
                   (long long)dim[d]);
    return HOLO_OK;
}

/* A tensor of tokens whose last dimension is one of two. */
static holo_status linear_check_tokens(const hg_args *a, holo_error *e, uint32_t i,
                                       const char *what, int64_t size, int64_t other)
{
    const holo_tensor *q = &a->in[LINEAR_Q], *t = &a->in[i];
    if (!hg_args_has(a, i) && i > LINEAR_V) return HOLO_OK;
    HG_TRY(hg_check_in_type(a, e, i, LINEAR_TYPES));
    HG_TRY(hg_check_same_type(t, q, e, what));
    HG_TRY(hg_check_rank(t, e, what, 3, 3));
    return linear_check_dims(
        t, e, what, 3, (const int64_t[]){q->dim[0], q->dim[1], t->dim[2] == other ? other : size});
}

static holo_status linear_check_heads(const hg_args *a, holo_error *e)
{
    const int64_t *p = a->param, q_size = a->in[LINEAR_Q].dim[2], v_size = a->in[LINEAR_V].dim[2];
    HG_TRY(hg_check_param(a, e, HG_LINEAR_PARAM_HEADS, "heads", 1, INT32_MAX));
    HG_TRY(hg_check_param(a, e, HG_LINEAR_PARAM_Q_HEADS, "heads of queries", 1, INT32_MAX));
    HG_REQUIRE(e, p[HG_LINEAR_PARAM_Q_HEADS] % p[HG_LINEAR_PARAM_HEADS] == 0, HOLO_E_SHAPE,
               "%lld heads of queries, expected a multiple of %lld",
               (long long)p[HG_LINEAR_PARAM_Q_HEADS], (long long)p[HG_LINEAR_PARAM_HEADS]);
    HG_REQUIRE(e, q_size % p[HG_LINEAR_PARAM_Q_HEADS] == 0, HOLO_E_SHAPE,
               "queries of %lld elements for %lld heads", (long long)q_size,
               (long long)p[HG_LINEAR_PARAM_Q_HEADS]);
    HG_REQUIRE(e, v_size % p[HG_LINEAR_PARAM_HEADS] == 0, HOLO_E_SHAPE,
               "values of %lld elements for %lld heads", (long long)v_size,
               (long long)p[HG_LINEAR_PARAM_HEADS]);
    return HOLO_OK;
}

static holo_status linear_check_states(const hg_args *a, holo_error *e, const linear_shape *s)
{
    const int64_t state[] = {s->batch, s->heads, s->keys, s->values};
    int64_t out[] = {s->batch, s->tokens, 0};
    HG_REQUIRE(e, hg_mul_i64(s->q_heads, s->values, &out[2]), HOLO_E_SHAPE,
               "%lld heads of %lld values are too many", (long long)s->q_heads,
               (long long)s->values);
    HG_TRY(hg_check_out_type(a, e, 0, LINEAR_TYPES));
    HG_TRY(hg_check_same_type(&a->out[0], &a->in[LINEAR_Q], e, "output"));
    HG_TRY(linear_check_dims(&a->out[0], e, "output", 3, out));
    if (hg_args_has(a, LINEAR_PAST)) {
        HG_TRY(hg_check_in_type(a, e, LINEAR_PAST, LINEAR_TYPES));
        HG_TRY(linear_check_dims(&a->in[LINEAR_PAST], e, "past state", 4, state));
    }
    if (!linear_has_present(a)) return HOLO_OK;
    HG_TRY(hg_check_out_type(a, e, 1, LINEAR_TYPES));
    return linear_check_dims(&a->out[1], e, "present state", 4, state);
}

static holo_status linear_check(const hg_args *a, holo_error *e)
{
    HG_TRY(hg_check_counts(a, e, LINEAR_INS, LINEAR_INS, a->n_out == 1 ? 1 : 2, HG_LINEAR_PARAMS));
    HG_TRY(hg_check_in_type(a, e, LINEAR_Q, LINEAR_TYPES));
    HG_TRY(hg_check_rank(&a->in[LINEAR_Q], e, "queries", 3, 3));
    HG_TRY(hg_check_rank(&a->in[LINEAR_V], e, "values", 3, 3));
    HG_TRY(linear_check_heads(a, e));
    const linear_shape s = linear_shape_of(a);
    const int64_t keys = s.keys * s.heads, values = s.values * s.heads;
    HG_TRY(linear_check_tokens(a, e, LINEAR_K, "keys", keys, keys));
    HG_TRY(linear_check_tokens(a, e, LINEAR_V, "values", values, values));
    HG_TRY(linear_check_tokens(a, e, LINEAR_DECAY, "decay", s.heads, keys));
    HG_TRY(linear_check_tokens(a, e, LINEAR_RATE, "rate", s.heads, 1));
    return linear_check_states(a, e, &s);
}

/* ---- run ------------------------------------------------------------------------------------- */

static int64_t linear_units(const hg_args *a)
{
    const linear_shape s = linear_shape_of(a);
    if (holo_tensor_count(&a->out[0]) == 0 &&
        (!linear_has_present(a) || holo_tensor_count(&a->out[1]) == 0))
        return 0;
    return s.batch * s.heads * s.blocks;
}

static size_t linear_scratch(const hg_args *a)
{
    if (linear_units(a) == 0) return 0;
    return ((size_t)linear_shape_of(a).keys + 1) * (LINEAR_BLOCK + 3) * sizeof(float);
}

enum { LINEAR_ASK = 64 }; /* tokens between two looks at the clock */

/* One block of columns on its way through the tokens. */
typedef struct linear_block {
    const hg_args *a;
    linear_shape s;
    int64_t item, head, first, width; /* item of the batch; columns [first, first + width) */
    float *state;                     /* [keys][LINEAR_BLOCK], 0 beyond width */
    float *key, *query, *factor;      /* [keys] */
} linear_block;

static void linear_state(const linear_block *l, const holo_tensor *t, bool store)
{
    const int64_t row = (l->item * l->s.heads + l->head) * l->s.keys;
    for (int64_t d = 0; d < l->s.keys; d++) {
        float *block = l->state + d * LINEAR_BLOCK;
        const int64_t at = (row + d) * l->s.values + l->first;
        if (store)
            hg_lane_write(t->dtype, false, t->data, at, 1, block, l->width);
        else
            hg_lane_read(t->dtype, block, t->data, at, 1, l->width);
    }
}

/* The factor of each row of the state: e^g. */
static void linear_factors(const linear_block *l, int64_t token)
{
    const holo_tensor *t = &l->a->in[LINEAR_DECAY];
    const int64_t n = t->dim[2] / l->s.heads;
    hg_lane_read(t->dtype, l->factor, t->data, (token * l->s.heads + l->head) * n, 1, n);
    for (int64_t d = 0; d < n; d++)
        l->factor[d] = hg_exp_f32(l->factor[d]);
    for (int64_t d = n; d < l->s.keys; d++) /* one for all */
        l->factor[d] = l->factor[0];
}

/* S = e^g S; found = S' k */
static void linear_decay(const linear_block *l, float *HG_RESTRICT found)
{
    float sum[LINEAR_BLOCK] = {0};
    for (int64_t d = 0; d < l->s.keys; d++) {
        float *row = l->state + d * LINEAR_BLOCK;
        const float factor = l->factor[d], key = l->key[d];
        for (int j = 0; j < LINEAR_BLOCK; j++)
            row[j] *= factor;
        for (int j = 0; j < LINEAR_BLOCK; j++)
            sum[j] += row[j] * key;
    }
    memcpy(found, sum, sizeof sum);
}

/* v = b (v - found) */
static void linear_correct(const linear_block *l, int64_t token, const float *found, float *value)
{
    const holo_tensor *t = &l->a->in[LINEAR_RATE];
    const int64_t at = t->dim[2] == 1 ? token : token * l->s.heads + l->head;
    float rate;
    hg_lane_read(t->dtype, &rate, t->data, at, 1, 1);
    for (int j = 0; j < LINEAR_BLOCK; j++)
        value[j] = rate * (value[j] - found[j]);
}

/* S = S + k v'; sum = q' S for the first query */
static void linear_write(const linear_block *l, const float *value, float *HG_RESTRICT out)
{
    float sum[LINEAR_BLOCK] = {0}, v[LINEAR_BLOCK];
    memcpy(v, value, sizeof v);
    for (int64_t d = 0; d < l->s.keys; d++) {
        float *row = l->state + d * LINEAR_BLOCK;
        const float key = l->key[d], query = l->query[d];
        for (int j = 0; j < LINEAR_BLOCK; j++)
            row[j] += key * v[j];
        for (int j = 0; j < LINEAR_BLOCK; j++)
            sum[j] += query * row[j];
    }
    memcpy(out, sum, sizeof sum);
}

/* sum = q' S for another query of the same head */
static void linear_read(const linear_block *l, float *HG_RESTRICT out)
{
    float sum[LINEAR_BLOCK] = {0};
    for (int64_t d = 0; d < l->s.keys; d++) {
        const float *row = l->state + d * LINEAR_BLOCK;
        const float query = l->query[d];
        for (int j = 0; j < LINEAR_BLOCK; j++)
            sum[j] += query * row[j];
    }
    memcpy(out, sum, sizeof sum);
}

/* The state takes the value in and answers the queries that share the head. */
static void linear_answer(const linear_block *l, int64_t token, const float *value)
{
    const holo_tensor *q = &l->a->in[LINEAR_Q], *out = &l->a->out[0];
    const int64_t share = l->s.q_heads / l->s.heads;
    for (int64_t k = 0; k < share; k++) {
        const int64_t head = token * l->s.q_heads + l->head * share + k;
        float sum[LINEAR_BLOCK];
        hg_lane_read(q->dtype, l->query, q->data, head * l->s.keys, 1, l->s.keys);
        if (k == 0)
            linear_write(l, value, sum);
        else
            linear_read(l, sum);
        for (int j = 0; j < LINEAR_BLOCK; j++)
            sum[j] *= l->s.scale;
        hg_lane_write(out->dtype, false, out->data, head * l->s.values + l->first, 1, sum,
                      l->width);
    }
}

static void linear_token(const linear_block *l, int64_t token)
{
    const holo_tensor *k = &l->a->in[LINEAR_K], *v = &l->a->in[LINEAR_V];
    const int64_t head = token * l->s.heads + l->head;
    const bool decays = hg_args_has(l->a, LINEAR_DECAY), corrects = hg_args_has(l->a, LINEAR_RATE);
    float value[LINEAR_BLOCK] = {0}, found[LINEAR_BLOCK];
    hg_lane_read(k->dtype, l->key, k->data, head * l->s.keys, 1, l->s.keys);
    hg_lane_read(v->dtype, value, v->data, head * l->s.values + l->first, 1, l->width);
    if (decays) linear_factors(l, token);
    if (decays || corrects) linear_decay(l, found);
    if (corrects) linear_correct(l, token, found, value);
    linear_answer(l, token, value);
}

static void linear_run(const hg_args *a, hg_range r)
{
    linear_block l = {.a = a, .s = linear_shape_of(a), .state = r.scratch};
    if (r.begin == r.end) return; /* without scratch, too */
    l.key = l.state + l.s.keys * LINEAR_BLOCK;
    l.query = l.key + l.s.keys;
    l.factor = l.query + l.s.keys;
    for (int64_t d = 0; d < l.s.keys; d++)
        l.factor[d] = 1; /* stays so without a decay */
    for (int64_t unit = r.begin; unit < r.end; unit++) {
        l.item = unit / l.s.blocks / l.s.heads;
        l.head = unit / l.s.blocks % l.s.heads;
        l.first = unit % l.s.blocks * LINEAR_BLOCK;
        l.width = hg_min(l.s.values - l.first, LINEAR_BLOCK);
        memset(l.state, 0, (size_t)l.s.keys * LINEAR_BLOCK * sizeof(float));
        if (hg_args_has(a, LINEAR_PAST)) linear_state(&l, &a->in[LINEAR_PAST], false);
        for (int64_t t = 0; t < l.s.tokens && (t % LINEAR_ASK != 0 || !hg_args_stopped(a)); t++)
            linear_token(&l, l.item * l.s.tokens + t);
        if (linear_has_present(a)) linear_state(&l, &a->out[1], true);
    }
}

static void linear_cost(const hg_args *a, hg_cost *cost)
{
    const linear_shape s = linear_shape_of(a);
    const double passes = 2.0 + 2.0 * (double)(s.q_heads / s.heads) +
                          (hg_args_has(a, LINEAR_DECAY) ? 1 : 0) +
                          (hg_args_has(a, LINEAR_RATE) ? 2 : 0);
    cost->flops = passes * (double)(s.batch * s.tokens * s.heads) * (double)(s.keys * s.values);
}

const hg_kernel hg_kernels_linearattention[] = {
    {.name = "linearattention",
     .check = linear_check,
     .units = linear_units,
     .scratch = linear_scratch,
     .cost = linear_cost,
     .run = linear_run},
    {0},
};
