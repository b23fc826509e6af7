/* linearattention.c - linearattention against the recurrence in f64, for all rules, types and
 * shares of heads. */
#include "kernel/linearattention.h"
#include "kernel/value.h"

extern const hg_kernel hg_kernels_linearattention[];

enum { Q, K, V, PAST, DECAY, RATE };

typedef struct linear_case {
    holo_dtype dtype, state;
    int64_t batch, tokens, q_heads, heads, keys, values;
    int64_t decay, rate; /* last dimension; 0: absent */
    bool past, present;
    double scale;
} linear_case;

static void linear_absent(move_call *c)
{
    c->args.n_in++;
}

static void linear_make(move_call *c, const linear_case *t)
{
    const int64_t state[] = {t->batch, t->heads, t->keys, t->values};
    int64_t scale;
    value_in(c, t->dtype, 3, MOVE_DIMS(t->batch, t->tokens, t->q_heads * t->keys), 1);
    value_in(c, t->dtype, 3, MOVE_DIMS(t->batch, t->tokens, t->heads * t->keys), 2);
    value_in(c, t->dtype, 3, MOVE_DIMS(t->batch, t->tokens, t->heads * t->values), 3);
    if (t->past)
        value_in(c, t->state, 4, state, 4);
    else
        linear_absent(c);
    if (t->decay != 0)
        value_in(c, t->dtype, 3, MOVE_DIMS(t->batch, t->tokens, t->decay), 5);
    else
        linear_absent(c);
    if (t->rate != 0)
        value_in(c, t->dtype, 3, MOVE_DIMS(t->batch, t->tokens, t->rate), 6);
    else
        linear_absent(c);
    /* short keys and rates below 1, so that the state stays small */
    for (int i = K; i <= RATE; i += RATE - K)
        for (int64_t j = 0; c->in[i].data != NULL && j < holo_tensor_count(&c->in[i]); j++)
            value_set(&c->in[i], j, value_get(&c->in[i], j) * 0.125);
    move_out(c, t->dtype, 3, MOVE_DIMS(t->batch, t->tokens, t->q_heads * t->values));
    if (t->present) move_out(c, t->state, 4, state);
    move_param(c, t->q_heads);
    move_param(c, t->heads);
    memcpy(&scale, &t->scale, sizeof scale);
    move_param(c, scale);
}

/* State [keys][values] of one head, one token after the other, in f64. */
static void linear_step(const move_call *c, const linear_case *t, int64_t item, int64_t token,
                        int64_t head, double *state)
{
    const int64_t at = item * t->tokens + token, row = at * t->heads + head;
    for (int64_t j = 0; j < t->values; j++) {
        double found = 0, v = value_get(&c->in[V], row * t->values + j);
        for (int64_t d = 0; d < t->keys; d++) {
            double *s = &state[d * t->values + j];
            if (t->decay == t->heads) *s *= exp(value_get(&c->in[DECAY], row));
            if (t->decay > t->heads) *s *= exp(value_get(&c->in[DECAY], row * t->keys + d));
            found += *s * value_get(&c->in[K], row * t->keys + d);
        }
        if (t->rate != 0) v = value_get(&c->in[RATE], t->rate == 1 ? at : row) * (v - found);
        for (int64_t d = 0; d < t->keys; d++)
            state[d * t->values + j] += value_get(&c->in[K], row * t->keys + d) * v;
    }
}

static double linear_answer(const move_call *c, const linear_case *t, int64_t at, int64_t q_head,
                            int64_t j, const double *state)
{
    double sum = 0;
    for (int64_t d = 0; d < t->keys; d++)
        sum += state[d * t->values + j] *
               value_get(&c->in[Q], (at * t->q_heads + q_head) * t->keys + d);
    return sum * (t->scale == 0 ? 1 / sqrt((double)t->keys) : t->scale);
}

static double linear_bound(holo_dtype dtype)
{
    return dtype == HOLO_F32 ? 2e-5 : dtype == HOLO_F16 ? 2e-3 : 1.6e-2;
}

static void linear_near(const holo_tensor *t, int64_t i, double expected)
{
    const double bound = linear_bound(t->dtype) * (1 + fabs(expected));
    if (!(fabs(value_get(t, i) - expected) <= bound))
        hg_test_fail(HG_TEST_HERE, "element %lld is %g, expected %g", (long long)i, value_get(t, i),
                     expected);
}

static void linear_compare(const move_call *c, const linear_case *t)
{
    double state[64 * 64];
    for (int64_t unit = 0; unit < t->batch * t->heads; unit++) {
        const int64_t item = unit / t->heads, head = unit % t->heads, size = t->keys * t->values;
        const int64_t share = t->q_heads / t->heads;
        for (int64_t i = 0; i < size; i++)
            state[i] = t->past ? value_get(&c->in[PAST], unit * size + i) : 0;
        for (int64_t token = 0; token < t->tokens; token++) {
            const int64_t at = item * t->tokens + token;
            linear_step(c, t, item, token, head, state);
            for (int64_t k = head * share; k < (head + 1) * share; k++)
                for (int64_t j = 0; j < t->values; j++)
                    linear_near(&c->out[0], (at * t->q_heads + k) * t->values + j,
                                linear_answer(c, t, at, k, j, state));
        }
        for (int64_t i = 0; t->present && i < size; i++)
            linear_near(&c->out[1], unit * size + i, state[i]);
    }
}

static void linear_matches_recurrence(void)
{
    static const linear_case table[] = {
        {HOLO_F32, HOLO_F32, 2, 5, 3, 3, 4, 5, 0, 0, false, true, 0},
        {HOLO_F32, HOLO_F32, 1, 7, 4, 2, 8, 16, 2, 0, true, true, 0.5},
        {HOLO_F32, HOLO_F32, 2, 3, 2, 2, 5, 33, 10, 0, true, true, 0},
        {HOLO_F32, HOLO_F32, 2, 4, 6, 2, 6, 17, 0, 2, false, true, 0},
        {HOLO_F32, HOLO_F16, 1, 4, 4, 1, 8, 8, 1, 1, true, true, 0},
        {HOLO_F32, HOLO_F32, 2, 4, 4, 4, 3, 20, 12, 1, true, false, 0},
        {HOLO_F16, HOLO_F32, 1, 3, 2, 2, 4, 6, 2, 2, true, true, 0},
        {HOLO_BF16, HOLO_BF16, 2, 2, 2, 1, 4, 6, 4, 1, true, true, 0},
        {HOLO_F16, HOLO_F16, 1, 1, 1, 1, 1, 1, 1, 1, false, true, 0},
        {HOLO_F32, HOLO_F32, 2, 0, 2, 2, 4, 6, 2, 2, true, true, 0}, /* the state passes through */
        {HOLO_F32, HOLO_F32, 0, 3, 2, 2, 4, 6, 2, 2, true, true, 0},
        {HOLO_F32, HOLO_F32, 1, 3, 2, 2, 4, 0, 2, 2, true, true, 0},
        {HOLO_F32, HOLO_F32, 1, 0, 2, 2, 4, 3, 2, 2, false, false, 0},
    };
    for (size_t i = 0; i < HG_COUNT(table); i++) {
        move_call c = {0};
        linear_make(&c, &table[i]);
        if (move_run(hg_kernels_linearattention, &c)) linear_compare(&c, &table[i]);
        move_free(&c);
    }
}

static const linear_case linear_good = {HOLO_F32, HOLO_F32, 2, 3, 4, 2, 4, 6, 2, 2, true, true, 0};

static void linear_make_good(move_call *c)
{
    linear_make(c, &linear_good);
}

static void linear_refuses(void)
{
    static const move_bad bad[] = {
        {MOVE_N_IN, 0, 0, 5, "5 inputs"},
        {MOVE_N_OUT, 0, 0, 3, "3 outputs"},
        {MOVE_N_PARAM, 0, 0, 2, "2 parameters"},
        {MOVE_IN_TYPE, Q, 0, HOLO_F64, "input 0 has type float64"},
        {MOVE_IN_RANK, Q, 0, 2, "queries has rank 2"},
        {MOVE_IN_TYPE, K, 0, HOLO_NONE, "input 1"},
        {MOVE_IN_TYPE, K, 0, HOLO_F16, "keys has type float16"},
        {MOVE_IN_DIM, K, 0, 3, "dimension 0 of keys is 3"},
        {MOVE_IN_DIM, K, 1, 2, "dimension 1 of keys is 2"},
        {MOVE_IN_DIM, K, 2, 7, "dimension 2 of keys is 7"},
        {MOVE_IN_RANK, K, 0, 2, "keys has rank 2"},
        {MOVE_IN_TYPE, V, 0, HOLO_NONE, "input 2"},
        {MOVE_IN_RANK, V, 0, 4, "values has rank 4"},
        {MOVE_IN_DIM, V, 2, 7, "values of 7 elements for 2 heads"},
        {MOVE_IN_DIM, Q, 2, 17, "queries of 17 elements for 4 heads"},
        {MOVE_IN_TYPE, PAST, 0, HOLO_F64, "input 3 has type float64"},
        {MOVE_IN_DIM, PAST, 2, 5, "dimension 2 of past state is 5"},
        {MOVE_IN_RANK, PAST, 0, 3, "past state has rank 3"},
        {MOVE_IN_DIM, DECAY, 2, 3, "dimension 2 of decay is 3"},
        {MOVE_IN_DIM, RATE, 2, 4, "dimension 2 of rate is 4"},
        {MOVE_OUT_TYPE, 0, 0, HOLO_F64, "output 0 has type float64"},
        {MOVE_OUT_TYPE, 0, 0, HOLO_F16, "output has type float16"},
        {MOVE_OUT_DIM, 0, 2, 25, "dimension 2 of output is 25"},
        {MOVE_OUT_RANK, 0, 0, 2, "output has rank 2"},
        {MOVE_OUT_TYPE, 1, 0, HOLO_F64, "output 1 has type float64"},
        {MOVE_OUT_DIM, 1, 3, 7, "dimension 3 of present state is 7"},
        {MOVE_PARAM, HG_LINEAR_PARAM_HEADS, 0, 0, "heads is 0"},
        {MOVE_PARAM, HG_LINEAR_PARAM_Q_HEADS, 0, 0, "heads of queries is 0"},
        {MOVE_PARAM, HG_LINEAR_PARAM_Q_HEADS, 0, 5, "5 heads of queries"},
    };
    MOVE_REFUSES(hg_kernels_linearattention, linear_make_good, bad);
}

/* Nothing is there, but its size cannot be told. */
static void linear_refuses_huge(void)
{
    static const linear_case none = {HOLO_F32, HOLO_F32, 0, 0, 1, 1, 0, 1, 0, 0, false, false, 0};
    move_call c = {0};
    holo_error e = {0};
    linear_make(&c, &none);
    move_connect(&c);
    c.in[V].dim[2] = c.out[0].dim[2] = INT64_C(1) << 40;
    c.param[HG_LINEAR_PARAM_Q_HEADS] = INT32_MAX;
    CHECK_STATUS(hg_kernels_linearattention->check(&c.args, &e), HOLO_E_SHAPE);
    CHECK_HAS(e.message, "are too many");
    move_free(&c);
}

const hg_test_case hg_tests_kernel_linearattention[] = {
    {"matches_recurrence", linear_matches_recurrence},
    {"refuses", linear_refuses},
    {"refuses_huge", linear_refuses_huge},
    {0},
};
