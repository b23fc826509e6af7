/* norm.c - kernels "layernorm" and "groupnorm" against the definition in f64; every variant the
 * same bits. */
#include "kernel/value.h"
#include "kernel/variants.h"

extern const hg_kernel hg_kernels_layernorm[], hg_kernels_groupnorm[];
#if defined(TUNED)
extern const hg_kernel TUNED(layernorm)[], TUNED(groupnorm)[];
#endif

enum { NORM_LAYER = 0, NORM_GROUP = 1 };

static const hg_kernel *norm_tuned(int which)
{
#if defined(TUNED)
    if (tuned_runs()) return which == NORM_LAYER ? TUNED(layernorm) : TUNED(groupnorm);
#endif
    (void)which;
    return NULL;
}

static const holo_dtype norm_types[] = {HOLO_F32, HOLO_F64, HOLO_F16, HOLO_BF16};

/* ---- layernorm ------------------------------------------------------------------------------- */

typedef struct norm_layer {
    int rank;
    int64_t dim[4];
    int axis;
    int mode;
    int n_in, n_out;
    int scale_rank, bias_rank;
    int64_t scale[3], bias[3];
} norm_layer;

static const norm_layer norm_layers[] = {
    {2, {5, 768}, 1, 0, 3, 3, 1, 1, {768}, {768}},
    {2, {5, 768}, 1, 1, 2, 1, 1, 0, {768}, {0}},
    {2, {7, 33}, 1, 0, 1, 1, 0, 0, {0}, {0}},
    {2, {7, 15}, 1, 0, 2, 2, 1, 0, {15}, {0}},
    {2, {11, 64}, 1, 0, 3, 1, 1, 1, {64}, {64}},
    {2, {5, 4112}, 1, 0, 3, 1, 1, 1, {4112}, {4112}}, /* pieces of sums */
    {2, {5, 2048}, 1, 1, 2, 1, 1, 0, {2048}, {0}},
    {2, {3, 5003}, 1, 0, 1, 1, 0, 0, {0}, {0}},
    {2, {6, 48}, 1, 1, 2, 1, 1, 0, {48}, {0}},
    {3, {2, 2, 32}, 2, 0, 1, 1, 0, 0, {0}, {0}},
    {3, {4, 5, 6}, 1, 0, 3, 3, 2, 2, {5, 6}, {1, 6}},
    {3, {4, 5, 6}, 2, 0, 3, 1, 1, 1, {1}, {6}},
    {3, {4, 5, 6}, 0, 0, 3, 3, 3, 1, {4, 5, 1}, {6}},
    {4, {2, 3, 4, 50}, 2, 1, 3, 3, 1, 2, {50}, {4, 1}},
    {1, {1}, 0, 0, 1, 1, 0, 0, {0}, {0}},
    {2, {3, 4}, 2, 0, 1, 1, 0, 0, {0}, {0}}, /* every element its own row */
    {2, {0, 4}, 1, 0, 1, 3, 0, 0, {0}, {0}},
};

static void norm_make_layer(move_call *c, const norm_layer *l, holo_dtype dtype)
{
    int64_t rows = 1;
    for (int d = 0; d < l->axis; d++)
        rows *= l->dim[d];
    value_in(c, dtype, l->rank, l->dim, 3);
    if (l->n_in > 1) value_in(c, dtype, l->scale_rank, l->scale, 4);
    if (l->n_in > 2) value_in(c, dtype, l->bias_rank, l->bias, 5);
    holo_dtype stash = dtype == HOLO_F64 ? HOLO_F64 : HOLO_F32;
    move_out(c, dtype, l->rank, l->dim);
    if (l->n_out > 1) move_out(c, stash, 1, &rows);
    if (l->n_out > 2) move_out(c, stash, 1, &rows);
    if (l->n_out > 2 && l->mode == 1) free(c->out[1].data), c->out[1] = (holo_tensor){0};
    move_param(c, l->axis);
    value_param_f64(c, 1e-3);
    move_param(c, l->mode);
    move_param(c, stash);
}

/* Scale or bias that belongs to element i of a row; `otherwise` when there is none. */
static double norm_factor(const move_call *c, uint32_t which, const holo_tensor *tail, int64_t i,
                          double otherwise)
{
    const holo_tensor *t = &c->in[which];
    int64_t at[8], own[8];
    if (which >= c->args.n_in || t->dtype == HOLO_NONE) return otherwise;
    move_coordinates(tail, i, at);
    for (int d = 0; d < t->rank; d++)
        own[d] = t->dim[d] == 1 ? 0 : at[tail->rank - t->rank + d];
    return value_get(t, move_flat(t, own));
}

static void norm_compare_layer(const move_call *c, const norm_layer *l)
{
    holo_tensor tail = {.rank = l->rank - l->axis};
    for (int d = l->axis; d < l->rank; d++)
        tail.dim[d - l->axis] = l->dim[d];
    int64_t n = holo_tensor_count(&tail), rows = n == 0 ? 0 : holo_tensor_count(&c->in[0]) / n;
    double tolerance = value_tolerance(c->in[0].dtype);
    for (int64_t r = 0; r < rows; r++) {
        double mean = 0, square = 0;
        for (int64_t i = 0; i < n && l->mode == 0; i++)
            mean += value_get(&c->in[0], r * n + i) / (double)n;
        for (int64_t i = 0; i < n; i++)
            square += pow(value_get(&c->in[0], r * n + i) - mean, 2) / (double)n;
        double inverse = 1 / sqrt(square + 1e-3);
        for (int64_t i = 0; i < n; i++) {
            double y = (value_get(&c->in[0], r * n + i) - mean) * inverse;
            y = y * norm_factor(c, 1, &tail, i, 1) + norm_factor(c, 2, &tail, i, 0);
            if (!CHECK_NEAR(value_get(&c->out[0], r * n + i), y, tolerance * (4 + fabs(y)))) return;
        }
        double exact = c->in[0].dtype == HOLO_F64 ? 1e-12 : 4e-6;
        if (l->n_out > 1 && l->mode == 0) CHECK_NEAR(value_get(&c->out[1], r), mean, exact);
        if (l->n_out > 2) CHECK_NEAR(value_get(&c->out[2], r), inverse, exact * (1 + inverse));
    }
}

/* Outputs of two calls are the same bytes. */
static void norm_same(const move_call *a, const move_call *b)
{
    for (uint32_t i = 0; i < a->args.n_out; i++)
        if (a->out[i].dtype != HOLO_NONE)
            CHECK_MEM(b->out[i].data, a->out[i].data, holo_tensor_bytes(&a->out[i]));
}

/* The kernel over the memory of x gives what it gave beside it. */
static void norm_in_place(const hg_kernel *k, move_call *c)
{
    void *separate = c->out[0].data, *scratch = malloc(hg_kernel_work(k, &c->args).scratch);
    c->out[0].data = c->in[0].data;
    k->run(&c->args, (hg_range){0, hg_kernel_work(k, &c->args).units, scratch});
    CHECK_MEM(c->out[0].data, separate, holo_tensor_bytes(&c->out[0]));
    c->out[0].data = separate;
    free(scratch);
}

static void norm_layer_matches(void)
{
    for (size_t i = 0; i < HG_COUNT(norm_layers) * HG_COUNT(norm_types); i++) {
        const norm_layer *l = &norm_layers[i / HG_COUNT(norm_types)];
        holo_dtype dtype = norm_types[i % HG_COUNT(norm_types)];
        move_call c = {0}, d = {0};
        norm_make_layer(&c, l, dtype);
        norm_make_layer(&d, l, dtype);
        if (move_run(hg_kernels_layernorm, &c)) {
            norm_compare_layer(&c, l);
            if (norm_tuned(NORM_LAYER) != NULL && move_run(norm_tuned(NORM_LAYER), &d)) {
                norm_same(&c, &d);
                norm_in_place(norm_tuned(NORM_LAYER), &d);
            }
            norm_in_place(hg_kernels_layernorm, &c);
        }
        move_free(&c);
        move_free(&d);
    }
}

/* f64 data with f32 statistics, as ONNX asks by default. */
static void norm_layer_narrow_stash(void)
{
    move_call c = {0};
    norm_make_layer(&c, &norm_layers[0], HOLO_F64);
    c.param[3] = HOLO_F32;
    c.out[1].dtype = c.out[2].dtype = HOLO_F32; /* the buffers are larger than needed */
    if (move_run(hg_kernels_layernorm, &c)) {
        const double *x = c.in[0].data;
        double mean = 0;
        for (int i = 0; i < 768; i++)
            mean += x[i] / 768;
        CHECK_NEAR(((float *)c.out[1].data)[0], mean, 1e-6);
    }
    move_free(&c);
}

static void norm_make_good_layer(move_call *c)
{
    norm_make_layer(c, &norm_layers[0], HOLO_F32);
}

static const move_bad norm_bad_layer[] = {
    {MOVE_N_OUT, 0, 0, 0, "0 outputs, expected 1 to 3"},
    {MOVE_N_OUT, 0, 0, 4, "4 outputs, expected 1 to 3"},
    {MOVE_N_IN, 0, 0, 0, "0 inputs, expected at least 1"},
    {MOVE_N_IN, 0, 0, 4, "4 inputs, expected at most 3"},
    {MOVE_N_PARAM, 0, 0, 3, "3 parameters, expected 4"},
    {MOVE_IN_TYPE, 0, 0, HOLO_I32, "input 0 has type int32"},
    {MOVE_OUT_TYPE, 0, 0, HOLO_F16, "output has type float16, expected float32"},
    {MOVE_OUT_DIM, 0, 0, 6, "output: dimension 0 is 6, expected 5"},
    {MOVE_PARAM, 0, 0, 3, "axis is 3, expected 0 to 2"},
    {MOVE_PARAM, 0, 0, -1, "axis is -1, expected 0 to 2"},
    {MOVE_PARAM, 2, 0, 2, "mode is 2, expected 0 to 1"},
    {MOVE_PARAM, 2, 0, 1, "RMS norm has no mean"},
    {MOVE_PARAM, 3, 0, HOLO_F64, "stash type 11"},
    {MOVE_PARAM, 3, 0, 99, "stash type 99"},
    {MOVE_IN_TYPE, 1, 0, HOLO_STRING, "input 1 has type string"},
    {MOVE_IN_TYPE, 1, 0, HOLO_F64, "scale has type float64, expected float32"},
    {MOVE_IN_DIM, 1, 0, 767, "scale: dimension 0 is 767"},
    {MOVE_IN_TYPE, 2, 0, HOLO_F16, "bias has type float16, expected float32"},
    {MOVE_IN_RANK, 2, 0, 2, "bias has rank 2, which does not broadcast to rank 1"},
    {MOVE_OUT_TYPE, 1, 0, HOLO_F64, "output 1 has type float64"},
    {MOVE_OUT_DIM, 1, 0, 4, "output 1 has 4 elements, expected one for each of 5 rows"},
    {MOVE_OUT_DIM, 2, 0, 6, "output 2 has 6 elements"},
};

/* ---- groupnorm ------------------------------------------------------------------------------- */

typedef struct norm_group {
    int rank;
    int64_t dim[4];
    int64_t groups, is_last;
    int n_in;
} norm_group;

static const norm_group norm_groups[] = {
    {4, {2, 6, 5, 7}, 3, 0, 3},    {4, {2, 5, 7, 6}, 3, 1, 3}, {4, {1, 320, 4, 4}, 32, 0, 3},
    {4, {1, 4, 4, 320}, 32, 1, 3}, {3, {3, 4, 5000}, 2, 0, 1}, {3, {3, 500, 4}, 2, 1, 1},
    {3, {2, 8, 33}, 8, 0, 2},      {3, {2, 33, 8}, 8, 1, 2},   {2, {3, 40}, 4, 0, 3},
    {2, {3, 40}, 4, 1, 3},         {3, {1, 300, 9}, 1, 0, 3},  {3, {1, 9, 300}, 1, 1, 3},
    {3, {2, 4, 0}, 2, 0, 3},       {3, {2, 0, 4}, 2, 1, 3},    {3, {1, 4100, 6}, 2, 1, 3},
};

static void norm_make_group(move_call *c, const norm_group *g, holo_dtype dtype)
{
    int64_t channels = g->dim[g->is_last != 0 ? g->rank - 1 : 1];
    value_in(c, dtype, g->rank, g->dim, 6);
    if (g->n_in > 1) value_in(c, dtype, 1, &channels, 7);
    if (g->n_in > 2) value_in(c, dtype, 1, &channels, 8);
    move_out(c, dtype, g->rank, g->dim);
    move_param(c, g->groups);
    value_param_f64(c, 1e-3);
    move_param(c, g->is_last);
}

static void norm_compare_group(const move_call *c, const norm_group *g)
{
    int64_t channels = g->dim[g->is_last != 0 ? g->rank - 1 : 1], samples = g->dim[0];
    int64_t positions = holo_tensor_count(&c->in[0]) / samples / channels,
            each = channels / g->groups;
    double tolerance = value_tolerance(c->in[0].dtype), n = (double)(each * positions);
    for (int64_t k = 0; k < samples * g->groups; k++) {
        double mean = 0, square = 0;
        for (int pass = 0; pass < 3; pass++)
            for (int64_t i = 0; i < each * positions; i++) {
                int64_t ch = k % g->groups * each + i / positions, p = i % positions;
                int64_t base = k / g->groups * channels * positions;
                int64_t at = base + (g->is_last != 0 ? p * channels + ch : ch * positions + p);
                double x = value_get(&c->in[0], at);
                if (pass == 0) mean += x / n;
                if (pass == 1) square += (x - mean) * (x - mean) / n;
                if (pass < 2) continue;
                double y = (x - mean) / sqrt(square + 1e-3);
                y *= g->n_in > 1 ? value_get(&c->in[1], ch) : 1;
                y += g->n_in > 2 ? value_get(&c->in[2], ch) : 0;
                if (!CHECK_NEAR(value_get(&c->out[0], at), y, tolerance * (4 + fabs(y)))) return;
            }
    }
}

static void norm_group_matches(void)
{
    for (size_t i = 0; i < HG_COUNT(norm_groups) * HG_COUNT(norm_types); i++) {
        const norm_group *g = &norm_groups[i / HG_COUNT(norm_types)];
        holo_dtype dtype = norm_types[i % HG_COUNT(norm_types)];
        move_call c = {0}, d = {0};
        norm_make_group(&c, g, dtype);
        norm_make_group(&d, g, dtype);
        if (move_run(hg_kernels_groupnorm, &c)) {
            norm_compare_group(&c, g);
            if (norm_tuned(NORM_GROUP) != NULL && move_run(norm_tuned(NORM_GROUP), &d)) {
                norm_same(&c, &d);
                norm_in_place(norm_tuned(NORM_GROUP), &d);
            }
            norm_in_place(hg_kernels_groupnorm, &c);
        }
        move_free(&c);
        move_free(&d);
    }
}

static void norm_make_good_group(move_call *c)
{
    norm_make_group(c, &norm_groups[0], HOLO_F32);
}

static const move_bad norm_bad_group[] = {
    {MOVE_N_IN, 0, 0, 4, "4 inputs, expected at most 3"},
    {MOVE_N_OUT, 0, 0, 2, "2 outputs, expected 1"},
    {MOVE_N_PARAM, 0, 0, 4, "4 parameters, expected 3"},
    {MOVE_IN_TYPE, 0, 0, HOLO_I8, "input 0 has type int8"},
    {MOVE_IN_RANK, 0, 0, 1, "input 0 has rank 1, expected 2 to 8"},
    {MOVE_OUT_TYPE, 0, 0, HOLO_F64, "output has type float64, expected float32"},
    {MOVE_OUT_DIM, 0, 3, 8, "output: dimension 3 is 8, expected 7"},
    {MOVE_PARAM, 0, 0, 0, "groups is 0, expected 1 to 6"},
    {MOVE_PARAM, 0, 0, 7, "groups is 7, expected 1 to 6"},
    {MOVE_PARAM, 0, 0, 4, "6 channels do not divide into 4 groups"},
    {MOVE_PARAM, 2, 0, 2, "channels_last is 2, expected 0 to 1"},
    {MOVE_IN_TYPE, 1, 0, HOLO_BOOL, "input 1 has type bool"},
    {MOVE_IN_TYPE, 1, 0, HOLO_F16, "scale has type float16, expected float32"},
    {MOVE_IN_DIM, 1, 0, 1, "scale has rank 1 and 1 elements, expected one for each of 6 channels"},
    {MOVE_IN_RANK, 2, 0, 0, "bias has rank 0"},
    {MOVE_IN_TYPE, 2, 0, HOLO_BF16, "bias has type bfloat16"},
};

/* ---- both ------------------------------------------------------------------------------------ */

static void norm_refuses(void)
{
    MOVE_REFUSES(hg_kernels_layernorm, norm_make_good_layer, norm_bad_layer);
    MOVE_REFUSES(hg_kernels_groupnorm, norm_make_good_group, norm_bad_group);
}

static void norm_nan_spoils_its_row(void)
{
    for (int v = 0; v < 2; v++) {
        const hg_kernel *k = v == 0 ? hg_kernels_layernorm : norm_tuned(NORM_LAYER);
        move_call c = {0};
        norm_make_layer(&c, &norm_layers[2], HOLO_F32);
        ((float *)c.in[0].data)[40] = NAN;
        if (k != NULL && (move_connect(&c), true)) {
            void *scratch = malloc(hg_kernel_work(k, &c.args).scratch);
            k->run(&c.args, (hg_range){0, hg_kernel_work(k, &c.args).units, scratch});
            for (int i = 0; i < 7 * 33; i++)
                CHECK_EQ_INT(isnan(((float *)c.out[0].data)[i]) != 0, i / 33 == 1);
            free(scratch);
        }
        move_free(&c);
    }
}

/* Numbers from 0 to 1, so many that one chain of additions would drift by 1e-5. */
static void norm_long(void)
{
    enum { LONG = 1 << 21 };
    for (int64_t is_last = 0; is_last < 2; is_last++) {
        const norm_group g = {3, {1, is_last ? LONG : 1, is_last ? 1 : LONG}, 1, is_last, 1};
        for (int which = 0; which < 2; which++) {
            const hg_kernel *k = which == 0 ? hg_kernels_groupnorm : norm_tuned(NORM_GROUP);
            move_call c = {0};
            double mean = 0, square = 0, off = 0;
            norm_make_group(&c, &g, HOLO_F32);
            float *x = c.in[0].data;
            for (uint32_t i = 0; i < LONG; i++)
                x[i] = (float)(i * UINT32_C(2654435761) >> 8) / 16777216.0f;
            for (int64_t i = 0; i < LONG; i++)
                mean += (double)x[i] / LONG;
            for (int64_t i = 0; i < LONG; i++)
                square += ((double)x[i] - mean) * ((double)x[i] - mean) / LONG;
            if (k != NULL && move_run(k, &c))
                for (int64_t i = 0; i < LONG; i++)
                    off = fmax(off, fabs(value_get(&c.out[0], i) -
                                         ((double)x[i] - mean) / sqrt(square + 1e-3)));
            CHECK_NEAR(off, 0, 1e-6);
            move_free(&c);
        }
    }
}

static void norm_cost(void)
{
    move_call c = {0};
    hg_cost cost = {0};
    norm_make_good_layer(&c);
    move_connect(&c);
    hg_kernels_layernorm->cost(&c.args, &cost);
    CHECK(cost.flops == 8.0 * 5 * 768);
    move_free(&c);
}

const hg_test_case hg_tests_kernel_norm[] = {
    {"layer_matches", norm_layer_matches},
    {"layer_narrow_stash", norm_layer_narrow_stash},
    {"group_matches", norm_group_matches},
    {"refuses", norm_refuses},
    {"nan_spoils_its_row", norm_nan_spoils_its_row},
    {"long", norm_long},
    {"cost", norm_cost},
    {0},
};
