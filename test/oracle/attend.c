/* attend.c - attention and what stands around it. */
#include "oracle/oracle.h"

#include <stdio.h>

/* Roundings in the narrower of two types. */
static holo_dtype attend_coarse(holo_dtype a, holo_dtype b)
{
    if (ora_bits(a) != ora_bits(b)) return ora_bits(a) < ora_bits(b) ? a : b;
    return a == HOLO_BF16 ? a : b;
}

static wide attend_near(holo_dtype type, holo_dtype other, long double value, long double size)
{
    wide w = ora_near(attend_coarse(type, other), value, size, 200);
    w.tol += ora_near(type, value, size, 0).tol;
    return w;
}

/* Size of head h's vectors, and element e of the one at s: [B, H, S, D] or [B, S, H * D]. */
static int64_t attend_size(const ora *t, int64_t heads)
{
    return t->rank == 4 ? t->dim[3] : t->dim[2] / heads;
}

static wide *attend_at(const ora *t, int64_t heads, const int64_t at[4])
{
    const int64_t size = attend_size(t, heads);
    if (t->rank == 4) return &t->v[ora_ravel(t, at)];
    return &t->v[(at[0] * t->dim[1] + at[2]) * t->dim[2] + at[1] * size + at[3]];
}

/* ---- Attention ---------------------------------------------------------------------------------
 */

typedef struct attend_case {
    const char *q, *k, *v, *mask, *past_k, *past_v, *lengths; /* shapes; lengths: values */
    int64_t q_heads, kv_heads;
    bool causal;
    int64_t left, right; /* of a window, + 1; 0: unbounded */
    float scale, softcap;
    int mode;
    bool boolean; /* the mask */
} attend_case;

typedef struct attend_data {
    const attend_case *c;
    const ora *q, *mask, *lengths;
    ora *k, *v; /* with the past */
    int64_t past;
} attend_data;

/* Past and present along the sequence, [B, H, S, D]. */
static ora *attend_join(const ora *past, const ora *now, int64_t heads)
{
    const int64_t before = past == NULL ? 0 : past->dim[2], seq = now->dim[now->rank == 4 ? 2 : 1];
    ora *all = ora_new(now->type, 4,
                       (int64_t[]){now->dim[0], heads, before + seq, attend_size(now, heads)});
    for (int64_t k = 0; k < all->count; k++) {
        int64_t at[HOLO_MAX_RANK];
        ora_unravel(all, k, at);
        const ora *from = at[2] < before ? past : now;
        if (at[2] >= before) at[2] -= before;
        all->v[k] = *attend_at(from, heads, at);
    }
    return all;
}

/* What is added to the score at [b, h, i, j]; -inf where query i does not see key j. */
static long double attend_bias(const attend_data *d, const int64_t at[4], int64_t queries)
{
    const attend_case *c = d->c;
    const int64_t i = at[2], j = at[3];
    int64_t offset = d->past;
    if (d->lengths != NULL) {
        const int64_t valid = (int64_t)d->lengths->v[at[0]].i;
        if (j >= valid) return -INFINITY;
        offset = valid - queries;
    }
    if (c->causal && j > i + offset) return -INFINITY;
    if (c->left > 0 && j < i + offset - (c->left - 1)) return -INFINITY;
    if (c->right > 0 && j > i + offset + (c->right - 1)) return -INFINITY;
    if (d->mask == NULL) return 0;
    const int64_t width = d->mask->dim[d->mask->rank - 1];
    if (width > 1 && j >= width) return -INFINITY;
    const wide *m = ora_broadcast_at(d->mask, 4, at);
    if (c->boolean) return m->i != 0 ? 0 : -INFINITY;
    return m->re;
}

/* Scores of one query; stage[m][j] is what mode m shows. */
static void attend_scores(const attend_data *d, const int64_t at[4], int64_t queries,
                          long double stage[4][16])
{
    const attend_case *c = d->c;
    const int64_t size = d->k->dim[3], total = d->k->dim[2], group = c->q_heads / c->kv_heads;
    const long double scale = c->scale != 0 ? c->scale : 1 / sqrtl((long double)size);
    long double largest = -INFINITY, sum = 0;
    for (int64_t j = 0; j < total; j++) {
        long double dot = 0;
        for (int64_t e = 0; e < size; e++)
            dot += attend_at(d->q, c->q_heads, (int64_t[]){at[0], at[1], at[2], e})->re *
                   attend_at(d->k, c->kv_heads, (int64_t[]){at[0], at[1] / group, j, e})->re;
        stage[0][j] = dot * scale;
        stage[1][j] = c->softcap != 0 ? c->softcap * tanhl(stage[0][j] / c->softcap) : stage[0][j];
        stage[2][j] = stage[1][j] + attend_bias(d, (int64_t[]){at[0], at[1], at[2], j}, queries);
        largest = fmaxl(largest, stage[2][j]);
    }
    for (int64_t j = 0; j < total; j++)
        sum += isinf(largest) ? 0 : expl(stage[2][j] - largest);
    for (int64_t j = 0; j < total; j++)
        stage[3][j] = sum > 0 ? expl(stage[2][j] - largest) / sum : 0;
}

static void attend_fill(const attend_data *d, ora *y, ora *qk)
{
    const attend_case *c = d->c;
    const int64_t total = d->k->dim[2], width = d->v->dim[3], queries = qk->dim[2];
    for (int64_t row = 0; row < qk->dim[0] * qk->dim[1] * queries; row++) {
        long double stage[4][16];
        const int64_t at[4] = {row / queries / c->q_heads, row / queries % c->q_heads,
                               row % queries};
        attend_scores(d, at, queries, stage);
        for (int64_t j = 0; j < total; j++)
            qk->v[row * total + j] = attend_near(qk->type, qk->type, stage[c->mode][j],
                                                 isinf(stage[c->mode][j]) ? 0 : 4);
        for (int64_t e = 0; e < width; e++) {
            long double sum = 0;
            const int64_t head = at[1] / (c->q_heads / c->kv_heads);
            for (int64_t j = 0; j < total; j++)
                sum +=
                    stage[3][j] * attend_at(d->v, c->kv_heads, (int64_t[]){at[0], head, j, e})->re;
            *attend_at(y, c->q_heads, (int64_t[]){at[0], at[1], at[2], e}) =
                attend_near(y->type, d->v->type, sum, 2);
        }
    }
}

static const char *attend_attrs(const attend_case *c, int rank)
{
    char *text = ora_alloc(300);
    size_t used =
        (size_t)snprintf(text, 300, "is_causal=%d qk_matmul_output_mode=%d", c->causal, c->mode);
    if (rank == 3)
        used += (size_t)snprintf(text + used, 300 - used, " q_num_heads=%d kv_num_heads=%d",
                                 (int)c->q_heads, (int)c->kv_heads);
    if (c->scale != 0)
        used += (size_t)snprintf(text + used, 300 - used, " scale=%f", (double)c->scale);
    if (c->softcap != 0)
        used += (size_t)snprintf(text + used, 300 - used, " softcap=%f", (double)c->softcap);
    if (c->left > 0)
        used += (size_t)snprintf(text + used, 300 - used, " left_window_size=%d", (int)c->left - 1);
    if (c->right > 0) snprintf(text + used, 300 - used, " right_window_size=%d", (int)c->right - 1);
    return text;
}

static ora *attend_make(holo_dtype type, const char *dims, uint32_t seed)
{
    return dims == NULL ? NULL : ora_make(type, dims, ORA_UNIT, seed);
}

static void attend_check(const attend_case *c, holo_dtype type, holo_dtype value)
{
    const ora *q = attend_make(type, c->q, 1), *k = attend_make(type, c->k, 2),
              *v = attend_make(value, c->v, 3), *past_k = attend_make(type, c->past_k, 4),
              *past_v = attend_make(value, c->past_v, 5);
    ora *mask = c->mask == NULL ? NULL
                                : ora_make(c->boolean ? HOLO_BOOL : type, c->mask,
                                           c->boolean ? ORA_SMALL : ORA_UNIT, 6);
    const int64_t batch = q->dim[0], queries = q->dim[q->rank == 4 ? 2 : 1];
    char dims[20];
    snprintf(dims, sizeof dims, "%d", (int)batch);
    const ora *lengths = c->lengths == NULL ? NULL : ora_of(HOLO_I64, dims, c->lengths);
    const attend_data d = {.c = c,
                           .q = q,
                           .mask = mask,
                           .lengths = lengths,
                           .k = attend_join(past_k, k, c->kv_heads),
                           .v = attend_join(past_v, v, c->kv_heads),
                           .past = past_k == NULL ? 0 : past_k->dim[2]};
    const int64_t width = d.v->dim[3];
    const int64_t y4[] = {batch, c->q_heads, queries, width},
                  y3[] = {batch, queries, c->q_heads * width};
    ora *y = ora_new(type, q->rank, q->rank == 4 ? y4 : y3);
    ora *qk = ora_new(type, 4, (int64_t[]){batch, c->q_heads, queries, d.k->dim[2]});
    attend_fill(&d, y, qk);
    const char *attrs = attend_attrs(c, q->rank);
    const bool present = past_k != NULL;
    ORA_CHECK("Attention", attrs, ORA_IN(q, k, v, mask, past_k, past_v, lengths),
              ORA_OUT(y, present ? d.k : NULL, present ? d.v : NULL, qk));
    if (present)
        ORA_CHECK("Attention", attrs, ORA_IN(q, k, v, mask, past_k, past_v), ORA_OUT(y, d.k, d.v));
    else
        ORA_CHECK("Attention", attrs, ORA_IN(q, k, v, mask, NULL, NULL, lengths), ORA_OUT(y));
}

/* Four, three dimensions and grouped heads; then all with each mask, past and mode. */
static const attend_case attend_shapes[] = {
    {.q = "2,3,4,6", .k = "2,3,5,6", .v = "2,3,5,6", .q_heads = 3, .kv_heads = 3},
    {.q = "2,4,4,6", .k = "2,2,5,6", .v = "2,2,5,3", .q_heads = 4, .kv_heads = 2},
    {.q = "2,4,8", .k = "2,5,4", .v = "2,5,6", .q_heads = 4, .kv_heads = 2},
    {.q = "1,3,1,2", .k = "1,1,5,2", .v = "1,1,5,2", .q_heads = 3, .kv_heads = 1},
};
static const char *const attend_past_k[] = {"2,3,3,6", "2,2,3,6", "2,2,3,2", "1,1,3,2"};
static const char *const attend_past_v[] = {"2,3,3,6", "2,2,3,3", "2,2,3,3", "1,1,3,2"};
static const char *const attend_masks[][4] = {
    {"4,5", "4,5", "4,5", "1,5"},
    {"2,1,4,5", "2,4,4,5", "2,1,1,5", "1,3,1,5"},
    {"4,4", "1,1,4,3", "4,2", "1,2"}, /* narrow: padded */
};

static void attend_variants(size_t shape, holo_dtype type, holo_dtype value)
{
    attend_case c = attend_shapes[shape];
    attend_check(&c, type, value);
    for (c.mode = 0; c.mode < 4; c.mode++) {
        attend_case m = c;
        m.softcap = 0.5F;
        m.scale = 1.5F;
        m.mask = attend_masks[c.mode % 3][shape];
        attend_check(&m, type, value);
        m.boolean = true;
        attend_check(&m, type, value);
        m.causal = true;
        attend_check(&m, type, value);
    }
    c.mode = 3;
    c.left = 2;
    c.right = 3;
    attend_check(&c, type, value);
    c.causal = true;
    attend_check(&c, type, value);
    c.lengths = shape == 3 ? "4" : "5 2";
    attend_check(&c, type, value);
    c.left = c.right = 0;
    attend_check(&c, type, value);
    c.lengths = NULL;
    c.past_k = attend_past_k[shape];
    c.past_v = attend_past_v[shape];
    attend_check(&c, type, value);
    c.causal = false;
    attend_check(&c, type, value);
}

static void attend_attention(const ora_row *row)
{
    /* The words know masks of bool and of the type of the query alone. */
    ora_excuse("U", 1u << HOLO_U8 | 1u << HOLO_I8 | 1u << HOLO_U16 | 1u << HOLO_I16 |
                        1u << HOLO_I32 | 1u << HOLO_I64 | 1u << HOLO_U32 | 1u << HOLO_U64);
    ORA_EACH_TYPE(type, row->op, "T1")
    {
        for (size_t shape = 0; shape < 4; shape++)
            attend_variants(shape, type, type);
        ORA_EACH_TYPE(value, row->op, "T2") if (value != type)
        {
            attend_check(&attend_shapes[1], type, value);
            attend_check(&attend_shapes[2], type, value);
        }
        attend_check(
            &(attend_case){
                .q = "0,2,3,4", .k = "0,2,3,4", .v = "0,2,3,4", .q_heads = 2, .kv_heads = 2},
            type, type);
        attend_check(
            &(attend_case){
                .q = "1,2,0,4", .k = "1,2,3,4", .v = "1,2,3,4", .q_heads = 2, .kv_heads = 2},
            type, type);
    }
}

/* ---- LinearAttention ---------------------------------------------------------------------------
 */

typedef struct linear_case {
    const char *rule, *q, *k, *v, *past, *decay, *beta;
    int64_t q_heads, kv_heads;
    float scale;
} linear_case;

typedef struct linear_data {
    const linear_case *c;
    const ora *q, *k, *v, *decay, *beta;
    int64_t dk, dv;
    long double state[8][8];
} linear_data;

static long double linear_3d(const ora *t, int64_t b, int64_t s, int64_t e)
{
    return t->v[(b * t->dim[1] + s) * t->dim[2] + e].re;
}

static long double linear_decay(const linear_data *d, int64_t b, int64_t s, int64_t head, int64_t i)
{
    if (d->decay == NULL) return 1;
    const bool whole = d->decay->dim[2] == d->c->kv_heads && d->dk > 1;
    return expl(linear_3d(d->decay, b, s, whole ? head : head * d->dk + i));
}

/* One token of one head: the state decays, learns and is kept. */
static void linear_step(linear_data *d, int64_t b, int64_t s, int64_t head)
{
    const bool delta = strstr(d->c->rule, "delta") != NULL;
    long double beta = 1;
    if (delta) beta = linear_3d(d->beta, b, s, d->beta->dim[2] == 1 ? 0 : head);
    for (int64_t i = 0; i < d->dk; i++)
        for (int64_t j = 0; j < d->dv; j++)
            d->state[i][j] *= linear_decay(d, b, s, head, i);
    for (int64_t j = 0; j < d->dv; j++) {
        long double value = linear_3d(d->v, b, s, head * d->dv + j), known = 0;
        for (int64_t i = 0; delta && i < d->dk; i++)
            known += d->state[i][j] * linear_3d(d->k, b, s, head * d->dk + i);
        for (int64_t i = 0; i < d->dk; i++)
            d->state[i][j] += beta * linear_3d(d->k, b, s, head * d->dk + i) * (value - known);
    }
}

static void linear_read(const linear_data *d, int64_t b, int64_t s, int64_t head, ora *y,
                        holo_dtype state)
{
    const int64_t group = d->c->q_heads / d->c->kv_heads;
    const long double scale = d->c->scale != 0 ? d->c->scale : 1 / sqrtl((long double)d->dk);
    for (int64_t h = head * group; h < (head + 1) * group; h++)
        for (int64_t j = 0; j < d->dv; j++) {
            long double sum = 0;
            for (int64_t i = 0; i < d->dk; i++)
                sum += linear_3d(d->q, b, s, h * d->dk + i) * d->state[i][j];
            y->v[(b * y->dim[1] + s) * y->dim[2] + h * d->dv + j] =
                attend_near(y->type, state, sum * scale, 4);
        }
}

static void linear_check(const linear_case *c, holo_dtype type, holo_dtype state)
{
    const ora *past = attend_make(state, c->past, 4);
    linear_data d = {.c = c,
                     .q = attend_make(type, c->q, 1),
                     .k = attend_make(type, c->k, 2),
                     .v = attend_make(type, c->v, 3),
                     .decay = attend_make(type, c->decay, 5),
                     .beta = attend_make(type, c->beta, 6)};
    d.dk = d.q->dim[2] / c->q_heads;
    d.dv = d.v->dim[2] / c->kv_heads;
    const int64_t batch = d.q->dim[0], seq = d.q->dim[1], size = d.dk * d.dv;
    ora *y = ora_new(type, 3, (int64_t[]){batch, seq, c->q_heads * d.dv});
    ora *present = ora_new(state, 4, (int64_t[]){batch, c->kv_heads, d.dk, d.dv});
    for (int64_t k = 0; k < batch * c->kv_heads; k++) {
        for (int64_t e = 0; e < size; e++)
            d.state[e / d.dv][e % d.dv] = past == NULL ? 0 : past->v[k * size + e].re;
        for (int64_t s = 0; s < seq; s++) {
            linear_step(&d, k / c->kv_heads, s, k % c->kv_heads);
            linear_read(&d, k / c->kv_heads, s, k % c->kv_heads, y, state);
        }
        for (int64_t e = 0; e < size; e++)
            present->v[k * size + e] = attend_near(state, type, d.state[e / d.dv][e % d.dv], 4);
    }
    char attrs[120];
    snprintf(attrs, sizeof attrs, "q_num_heads=%d kv_num_heads=%d update_rule=\"%s\" scale=%f",
             (int)c->q_heads, (int)c->kv_heads, c->rule, (double)c->scale);
    ORA_CHECK("LinearAttention", attrs, ORA_IN(d.q, d.k, d.v, past, d.decay, d.beta),
              ORA_OUT(y, present));
}

static void attend_linear(const ora_row *row)
{
    static const char *const rules[] = {"linear", "gated", "delta", "gated_delta"};
    ORA_EACH_TYPE(type, row->op, "T")
    for (int k = 0; k < 16; k++) {
        const bool gated = k % 2 != 0, delta = k % 4 > 1, wide_decay = k / 4 % 2 != 0;
        linear_case c = {.rule = rules[k % 4],
                         .q = "2,3,16",
                         .k = "2,3,8",
                         .v = "2,3,6",
                         .q_heads = 4,
                         .kv_heads = 2,
                         .scale = k < 8 ? 0 : 0.5F};
        if (gated) c.decay = wide_decay ? "2,3,8" : "2,3,2";
        if (delta) c.beta = k < 8 ? "2,3,2" : "2,3,1";
        linear_check(&c, type, type);
        c.past = "2,2,4,3";
        ORA_EACH_TYPE(state, row->op, "S") linear_check(&c, type, state);
    }
}

/* ---- RotaryEmbedding, CausalConvWithState, SwiGLU -----------------------------------------------
 */

static void rotary_check(holo_dtype type, const char *dims, int64_t heads, int64_t turned,
                         const char *cache, bool positions, bool interleaved)
{
    const ora *x = ora_make(type, dims, ORA_UNIT, 1), *c = ora_make(type, cache, ORA_UNIT, 2),
              *s = ora_make(type, cache, ORA_UNIT, 3);
    const int64_t seq = x->dim[x->rank == 4 ? 2 : 1], size = attend_size(x, heads),
                  half = c->dim[c->rank - 1];
    ora *id = NULL, *y = ora_like(x, type);
    if (positions) {
        id = ora_new(HOLO_I64, 2, (int64_t[]){x->dim[0], seq});
        for (int64_t k = 0; k < id->count; k++)
            id->v[k].i = (uint64_t)((k * 3 + 1) % c->dim[0]);
    }
    for (int64_t k = 0; k < x->dim[0] * heads * seq * size; k++) {
        int64_t at[4] = {k / (heads * seq * size), k / (seq * size) % heads, k / size % seq,
                         k % size};
        const int64_t e = at[3];
        wide *to = attend_at(y, heads, at);
        *to = *attend_at(x, heads, at);
        if (e >= 2 * half) continue;
        const int64_t pair = interleaved ? e / 2 : e % half;
        const bool second = interleaved ? e % 2 != 0 : e >= half;
        const int64_t token = at[0] * seq + at[2];
        const int64_t place = (positions ? (int64_t)id->v[token].i : token) * half + pair;
        at[3] = interleaved ? 2 * pair : pair;
        const long double a = attend_at(x, heads, at)->re;
        at[3] = interleaved ? 2 * pair + 1 : pair + half;
        const long double b = attend_at(x, heads, at)->re;
        const long double co = c->v[place].re, si = s->v[place].re;
        *to = ora_near(type, second ? si * a + co * b : co * a - si * b, 2, 4);
    }
    char attrs[100];
    snprintf(attrs, sizeof attrs, "interleaved=%d rotary_embedding_dim=%d num_heads=%d",
             interleaved, (int)turned, (int)heads);
    ORA_CHECK("RotaryEmbedding", attrs, ORA_IN(x, c, s, id), ORA_OUT(y));
}

static void attend_rotary(const ora_row *row)
{
    ORA_EACH_TYPE(type, row->op, "T")
    for (int interleaved = 0; interleaved < 2; interleaved++) {
        rotary_check(type, "2,3,4,8", 3, 0, "2,4,4", false, interleaved);
        rotary_check(type, "2,3,4,8", 3, 0, "9,4", true, interleaved);
        rotary_check(type, "2,3,4,8", 3, 4, "9,2", true, interleaved);
        rotary_check(type, "2,4,24", 3, 0, "2,4,4", false, interleaved);
        rotary_check(type, "2,4,24", 3, 6, "9,3", true, interleaved);
        rotary_check(type, "0,3,4,8", 3, 0, "9,4", true, interleaved);
        rotary_check(type, "1,1,1,2", 1, 0, "1,1,1", false, interleaved);
    }
}

/* Element t of the past followed by the input, in row `row` of both. */
static wide causal_at(const ora *x, const ora *past, int64_t row, int64_t t, int64_t before)
{
    if (t >= before) return x->v[row * x->dim[2] + t - before];
    return past == NULL ? (wide){0} : past->v[row * before + t];
}

static void causal_check(holo_dtype type, const char *dims, const char *weight, const char *bias,
                         const char *past, const char *activation)
{
    const ora *x = ora_make(type, dims, ORA_UNIT, 1),
              *w = ora_sized(ora_make(type, weight, ORA_UNIT, 2));
    const ora *b = attend_make(type, bias, 3), *old = attend_make(type, past, 4);
    const int64_t channels = x->dim[1], length = x->dim[2], before = w->dim[2] - 1;
    ora *y = ora_like(x, type), *now = ora_new(type, 3, (int64_t[]){x->dim[0], channels, before});
    for (int64_t row = 0; row < x->dim[0] * channels; row++) {
        for (int64_t t = 0; t < length; t++) {
            long double sum = b == NULL ? 0 : b->v[row % channels].re;
            for (int64_t k = 0; k <= before; k++)
                sum += causal_at(x, old, row, t + k, before).re *
                       w->v[row % channels * (before + 1) + k].re;
            if (strcmp(activation, "none") != 0) sum = sum / (1 + expl(-sum));
            y->v[row * length + t] = ora_near(type, sum, 4, 32);
        }
        for (int64_t k = 0; k < before; k++)
            now->v[row * before + k] = causal_at(x, old, row, length + k, before);
    }
    char attrs[40];
    snprintf(attrs, sizeof attrs, "activation=\"%s\"", activation);
    ORA_CHECK("CausalConvWithState", attrs, ORA_IN(x, w, b, old), ORA_OUT(y, now));
}

static void attend_causal(const ora_row *row)
{
    static const char *const activations[] = {"none", "silu", "swish"};
    ORA_EACH_TYPE(type, row->op, "T")
    for (int k = 0; k < 3; k++) {
        const char *activation = activations[k];
        causal_check(type, "2,3,7", "3,1,4", NULL, NULL, activation);
        causal_check(type, "2,3,7", "3,1,4", "3", "2,3,3", activation);
        causal_check(type, "2,3,1", "3,1,4", "3", "2,3,3", activation);
        causal_check(type, "2,3,2", "3,1,4", "3", NULL, activation);
        causal_check(type, "1,2,5", "2,1,1", NULL, NULL, activation);
        causal_check(type, "0,3,7", "3,1,4", NULL, NULL, activation);
    }
}

static void attend_swiglu_check(holo_dtype type, const char *dims, const char *attrs, float alpha)
{
    const ora *a = ora_make(type, dims, ORA_SMALL, 1), *b = ora_make(type, dims, ORA_SMALL, 2);
    ora *y = ora_like(a, type);
    for (int64_t k = 0; k < y->count; k++) {
        const long double gate = a->v[k].re, size = fabsl(gate * b->v[k].re);
        y->v[k] = ora_near(type, gate / (1 + expl(-alpha * gate)) * b->v[k].re, size, 16);
    }
    ORA_CHECK("SwiGLU", attrs, ORA_IN(a, b), ORA_OUT(y));
}

static void attend_swiglu(const ora_row *row)
{
    ORA_EACH_TYPE(type, row->op, "T")
    {
        attend_swiglu_check(type, "3,40", NULL, 1);
        attend_swiglu_check(type, "2,3,5", "alpha=1.75", 1.75F);
        attend_swiglu_check(type, "7", "alpha=-0.5", -0.5F);
        attend_swiglu_check(type, "", "alpha=0.0", 0);
        attend_swiglu_check(type, "2,0", NULL, 1);
    }
}

const ora_row ora_rows_attend[] = {
    {"Attention", attend_attention, NULL},    {"CausalConvWithState", attend_causal, NULL},
    {"LinearAttention", attend_linear, NULL}, {"RotaryEmbedding", attend_rotary, NULL},
    {"SwiGLU", attend_swiglu, NULL},          {NULL, NULL, NULL},
};

static void attend_rows(void)
{
    ora_run(ora_rows_attend);
}

const hg_test_case hg_tests_oracle_attend[] = {{"rows", attend_rows}, {0}};
