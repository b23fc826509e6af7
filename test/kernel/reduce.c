/* reduce.c - kernel "reduce": every operation, type and set of axes against a plain loop that keeps
 * the sixteen lanes of the exact profile, so that sums are the same bits. */
#include "kernel/reduce.h"
#include "kernel/value.h"
#include "kernel/variants.h"

extern const hg_kernel hg_kernels_reduce[];
#if defined(TUNED)
extern const hg_kernel TUNED(reduce)[], TUNED(reduce_order)[];
#endif

static const hg_kernel *reduce_variant(int i)
{
    if (i == 0) return hg_kernels_reduce;
#if defined(TUNED)
    if (i == 1 && tuned_runs()) return TUNED(reduce);
    if (i == 2 && tuned_runs()) return TUNED(reduce_order);
#endif
    return NULL;
}

static const holo_dtype reduce_types[] = {HOLO_F32, HOLO_F64, HOLO_F16, HOLO_BF16,
                                          HOLO_I8,  HOLO_U8,  HOLO_I16, HOLO_U16,
                                          HOLO_I32, HOLO_I64, HOLO_U32, HOLO_U64};

static bool reduce_is_float(holo_dtype dtype)
{
    return hg_dtype_in(dtype, HG_TYPES_FLOAT);
}

/* Elements as whole numbers of the type or as floats; the list for one output. */
typedef struct reduce_list {
    double real[8192];
    int64_t whole[8192];
    int64_t n;
} reduce_list;

static int64_t reduce_get_int(const holo_tensor *t, int64_t i)
{
    switch ((int)t->dtype) {
    case HOLO_BOOL:
    case HOLO_U8: return ((const uint8_t *)t->data)[i];
    case HOLO_I8: return ((const int8_t *)t->data)[i];
    case HOLO_U16: return ((const uint16_t *)t->data)[i];
    case HOLO_I16: return ((const int16_t *)t->data)[i];
    case HOLO_U32: return ((const uint32_t *)t->data)[i];
    case HOLO_I32: return ((const int32_t *)t->data)[i];
    default: return ((const int64_t *)t->data)[i];
    }
}

/* The elements that output o reduces, in row-major order of the reduced dims. */
static void reduce_collect(reduce_list *list, const holo_tensor *in, int64_t axes, int64_t o)
{
    int64_t at[8] = {0}, steps = 1;
    list->n = 0;
    for (int d = in->rank - 1; d >= 0; d--)
        if ((axes >> d & 1) == 0) {
            at[d] = o % in->dim[d];
            o /= in->dim[d];
        } else {
            steps *= in->dim[d];
        }
    for (int64_t k = 0; k < steps; k++) {
        int64_t rest = k;
        for (int d = in->rank - 1; d >= 0; d--)
            if ((axes >> d & 1) != 0) {
                at[d] = rest % in->dim[d];
                rest /= in->dim[d];
            }
        int64_t i = move_flat(in, at);
        bool is_float = reduce_is_float(in->dtype);
        list->real[k] = is_float ? value_get(in, i) : 0;
        list->whole[k] = is_float ? 0 : reduce_get_int(in, i);
    }
    list->n = steps;
}

/* Sums in lanes of float. */
static float reduce_lanes_f32(const reduce_list *l, hg_reduce_op op)
{
    float lane[16];
    for (int i = 0; i < 16; i++)
        lane[i] = op == HG_REDUCE_PROD ? 1 : 0;
    for (int64_t i = 0; i < l->n; i++) {
        float x = (float)l->real[i], *a = &lane[i % 16];
        float square = x * x;
        *a = op == HG_REDUCE_PROD                               ? *a * x
             : op == HG_REDUCE_SUM_SQUARE || op == HG_REDUCE_L2 ? *a + square
             : op == HG_REDUCE_L1                               ? *a + fabsf(x)
                                                                : *a + x;
    }
    for (int w = 8; w > 0; w /= 2)
        for (int i = 0; i < w; i++)
            lane[i] = op == HG_REDUCE_PROD ? lane[i] * lane[i + w] : lane[i] + lane[i + w];
    return lane[0];
}

static double reduce_lanes_f64(const reduce_list *l, hg_reduce_op op)
{
    double lane[16];
    for (int i = 0; i < 16; i++)
        lane[i] = op == HG_REDUCE_PROD ? 1 : 0;
    for (int64_t i = 0; i < l->n; i++) {
        double x = l->real[i], *a = &lane[i % 16];
        double square = x * x;
        *a = op == HG_REDUCE_PROD                               ? *a * x
             : op == HG_REDUCE_SUM_SQUARE || op == HG_REDUCE_L2 ? *a + square
             : op == HG_REDUCE_L1                               ? *a + fabs(x)
                                                                : *a + x;
    }
    for (int w = 8; w > 0; w /= 2)
        for (int i = 0; i < w; i++)
            lane[i] = op == HG_REDUCE_PROD ? lane[i] * lane[i + w] : lane[i] + lane[i + w];
    return lane[0];
}

static double reduce_expect_float(const reduce_list *l, hg_reduce_op op, bool is_f64)
{
    double max = -(double)INFINITY, min = (double)INFINITY, sum = 0;
    for (int64_t i = 0; i < l->n; i++) {
        max = l->real[i] > max || isnan(l->real[i]) ? l->real[i] : max;
        min = l->real[i] < min || isnan(l->real[i]) ? l->real[i] : min;
    }
    double total = is_f64 ? reduce_lanes_f64(l, op) : (double)reduce_lanes_f32(l, op);
    switch ((int)op) {
    case HG_REDUCE_MAX: return max;
    case HG_REDUCE_MIN: return min;
    case HG_REDUCE_MEAN:
        return is_f64 ? total / (double)l->n : (double)((float)total / (float)l->n);
    case HG_REDUCE_L2: return is_f64 ? sqrt(total) : (double)sqrtf((float)total);
    case HG_REDUCE_LOG_SUM: return log(total);
    case HG_REDUCE_LOG_SUM_EXP:
        for (int64_t i = 0; i < l->n; i++)
            sum += exp(l->real[i] - max);
        return max + log(sum);
    default: return total;
    }
}

static int64_t reduce_expect_int(const reduce_list *l, hg_reduce_op op, holo_dtype dtype)
{
    bool is_unsigned = dtype == HOLO_U64 || dtype == HOLO_U32;
    uint64_t sum = op == HG_REDUCE_PROD ? 1 : 0;
    int64_t max = l->whole[0], min = l->whole[0];
    for (int64_t i = 0; i < l->n; i++) {
        uint64_t x = (uint64_t)l->whole[i];
        uint64_t size = l->whole[i] < 0 && dtype != HOLO_U64 ? 0 - x : x;
        bool is_more = is_unsigned ? x > (uint64_t)max : l->whole[i] > max;
        bool is_less = is_unsigned ? x < (uint64_t)min : l->whole[i] < min;
        max = is_more ? l->whole[i] : max;
        min = is_less ? l->whole[i] : min;
        sum = op == HG_REDUCE_PROD                               ? sum * x
              : op == HG_REDUCE_SUM_SQUARE || op == HG_REDUCE_L2 ? sum + x * x
              : op == HG_REDUCE_L1                               ? sum + size
                                                                 : sum + x;
    }
    switch ((int)op) {
    case HG_REDUCE_MAX: return max;
    case HG_REDUCE_MIN: return min;
    case HG_REDUCE_MEAN:
        return dtype == HOLO_U64 ? (int64_t)(sum / (uint64_t)l->n) : (int64_t)sum / l->n;
    default: return (int64_t)sum;
    }
}

static int64_t reduce_expect_arg(const reduce_list *l, bool is_max, bool is_last, holo_dtype dtype)
{
    int64_t best = 0;
    for (int64_t i = 1; i < l->n; i++) {
        double x = l->real[i], y = l->real[best];
        bool is_better = isnan(y) ? false : isnan(x) ? true : is_max ? x > y : x < y;
        bool is_equal = isnan(y) ? isnan(x) : x == y;
        if (!reduce_is_float(dtype)) {
            uint64_t u = (uint64_t)l->whole[i], w = (uint64_t)l->whole[best];
            bool is_more = dtype == HOLO_U64 ? u > w : l->whole[i] > l->whole[best];
            is_equal = u == w;
            is_better = is_max ? is_more : !is_more && !is_equal;
        }
        if (is_better || (is_last && is_equal)) best = i;
    }
    return best;
}

static bool reduce_compare(const move_call *c, reduce_list *list, int64_t o)
{
    hg_reduce_op op = (hg_reduce_op)c->param[0];
    holo_dtype dtype = c->in[0].dtype;
    const holo_tensor *out = &c->out[0];
    reduce_collect(list, &c->in[0], c->param[1], o);
    if (op == HG_REDUCE_ARG_MAX || op == HG_REDUCE_ARG_MIN)
        return ((const int64_t *)out->data)[o] ==
               reduce_expect_arg(list, op == HG_REDUCE_ARG_MAX, c->param[2] != 0, dtype);
    if (!reduce_is_float(dtype)) {
        int64_t expected = reduce_expect_int(list, op, dtype), actual = reduce_get_int(out, o);
        uint32_t bits = hg_dtype_bits(dtype);
        return ((uint64_t)expected ^ (uint64_t)actual) << (64 - bits) == 0;
    }
    double expected = reduce_expect_float(list, op, dtype == HOLO_F64), actual = value_get(out, o);
    bool is_near = op == HG_REDUCE_LOG_SUM || op == HG_REDUCE_LOG_SUM_EXP;
    holo_tensor rounded = {.data = &(double){0}, .dtype = dtype};
    value_set(&rounded, 0, expected);
    if (isnan(expected)) return isnan(actual);
    if (is_near && isfinite(expected))
        return fabs(actual - expected) <= value_tolerance(dtype) * (1 + fabs(expected));
    return actual == value_get(&rounded, 0);
}

static void reduce_fill(holo_tensor *t, uint64_t seed)
{
    for (int64_t i = 0; i < holo_tensor_count(t); i++) {
        double v = value_random(&seed) * 4 - 2;
        int64_t whole = (int64_t)(v * 20);
        uint32_t bits = hg_dtype_bits(t->dtype);
        if (reduce_is_float(t->dtype))
            value_set(t, i, v);
        else
            memcpy((uint8_t *)t->data + i * (int64_t)(bits / 8), &whole, bits / 8);
    }
}

static void reduce_try(const hg_kernel *k, holo_dtype dtype, const int64_t *param, int rank,
                       const int64_t *dim, bool keeps)
{
    static reduce_list list;
    move_call c = {0};
    int64_t out[8];
    int out_rank = 0;
    bool is_arg = param[0] == HG_REDUCE_ARG_MAX || param[0] == HG_REDUCE_ARG_MIN;
    for (int d = 0; d < rank; d++) {
        bool is_reduced = (param[1] >> d & 1) != 0;
        if (!is_reduced || keeps) out[out_rank++] = is_reduced ? 1 : dim[d];
    }
    reduce_fill(move_in(&c, dtype, rank, dim), (uint64_t)param[0] * 77 + (uint64_t)param[1]);
    move_out(&c, is_arg ? HOLO_I64 : dtype, out_rank, out);
    value_params(&c, param, 3);
    if (move_run(k, &c))
        for (int64_t o = 0; o < holo_tensor_count(&c.out[0]); o++)
            if (!reduce_compare(&c, &list, o)) {
                hg_test_fail(HG_TEST_HERE, "%s %s: operation %lld, axes %lld, output %lld",
                             k->cpu != 0 ? "tuned" : "reference", holo_dtype_text(dtype),
                             (long long)param[0], (long long)param[1], (long long)o);
                break;
            }
    move_free(&c);
}

/* Every subset of axes of a shape, for sums and arg max. */
static void reduce_axes(void)
{
    static const int64_t dims[][5] = {{3, 4, 5, 2, 3}, {17, 1, 33, 1, 2}, {2, 40, 1, 3, 19}};
    for (int v = 0; v < 3 && reduce_variant(v) != NULL; v++)
        for (size_t s = 0; s < HG_COUNT(dims); s++)
            for (int64_t axes = 0; axes < 32; axes++) {
                const int64_t sum[3] = {HG_REDUCE_SUM, axes, 0},
                              arg[3] = {HG_REDUCE_ARG_MAX, axes, 0};
                reduce_try(reduce_variant(v), HOLO_F32, sum, 5, dims[s], axes % 2 == 0);
                reduce_try(reduce_variant(v), HOLO_I16, sum, 5, dims[s], true);
                reduce_try(reduce_variant(v), HOLO_F16, arg, 5, dims[s], false);
                reduce_try(reduce_variant(v), HOLO_F32, arg, 5, dims[s], false);
            }
}

static void reduce_operations(void)
{
    static const struct {
        int rank;
        int64_t dim[3], axes;
    } shapes[] = {{1, {1000}, 1},     {2, {3, 777}, 2},  {2, {500, 3}, 1},  {3, {2, 50, 140}, 2},
                  {3, {5, 3, 37}, 5}, {2, {400, 5}, 2},  {2, {200, 16}, 2}, {3, {3, 100, 7}, 2},
                  {2, {70, 260}, 1},  {3, {3, 33, 2}, 3}};
    for (int v = 0; v < 3 && reduce_variant(v) != NULL; v++)
        for (size_t s = 0; s < HG_COUNT(shapes); s++)
            for (int64_t op = HG_REDUCE_SUM; op <= HG_REDUCE_LOG_SUM; op++)
                for (size_t t = 0; t < HG_COUNT(reduce_types); t++) {
                    const int64_t param[3] = {op, shapes[s].axes, 0};
                    bool is_float = reduce_is_float(reduce_types[t]);
                    bool has_log = op == HG_REDUCE_LOG_SUM || op == HG_REDUCE_LOG_SUM_EXP ||
                                   op == HG_REDUCE_L2;
                    if (!is_float && has_log) continue; /* below */
                    reduce_try(reduce_variant(v), reduce_types[t], param, shapes[s].rank,
                               shapes[s].dim, false);
                }
}

/* Every row of three out of six numbers; alone, and at the end of a longer row. */
static void reduce_few_classes(void)
{
    static const double values[6] = {NAN, -INFINITY, -1, 0, 1, INFINITY};
    static reduce_list list;
    for (int i = 0; i < 36; i++) {
        const int64_t n = i < 12 ? 3 : i < 24 ? 11 : 37;
        const hg_kernel *k = reduce_variant(i / 4 % 3);
        const int64_t param[3] = {i % 2 == 0 ? HG_REDUCE_ARG_MAX : HG_REDUCE_ARG_MIN, 2, i / 2 % 2};
        move_call c = {0};
        if (k == NULL) continue;
        holo_tensor *x = move_in(&c, HOLO_F32, 2, MOVE_DIMS(216, n));
        for (int64_t row = 0; row < 216; row++)
            for (int64_t col = n - 1, rest = row; col >= 0; col--, rest /= 6)
                value_set(x, row * n + col, values[col < n - 3 ? 3 : rest % 6]);
        move_out(&c, HOLO_I64, 1, MOVE_DIMS(216));
        value_params(&c, param, 3);
        if (move_run(k, &c))
            for (int64_t o = 0; o < 216; o++)
                CHECK(reduce_compare(&c, &list, o));
        move_free(&c);
    }
}

static void reduce_logs_of_integers(void)
{
    for (int v = 0; v < 3 && reduce_variant(v) != NULL; v++)
        for (int64_t op = 0; op < 3; op++) {
            static const hg_reduce_op ops[] = {HG_REDUCE_L2, HG_REDUCE_LOG_SUM,
                                               HG_REDUCE_LOG_SUM_EXP};
            static const int expected[] = {7, 2, 5}; /* 7.07, 2.48, 5.41 */
            static const holo_dtype types[] = {HOLO_I32, HOLO_U64, HOLO_I64, HOLO_U8};
            for (size_t t = 0; t < HG_COUNT(types); t++) {
                move_call c = {0};
                holo_tensor *in = move_in(&c, types[t], 1, MOVE_DIMS(3));
                const int64_t value[3] = {3, 4, 5};
                for (int i = 0; i < 3; i++)
                    memcpy((uint8_t *)in->data + (uint32_t)i * (hg_dtype_bits(types[t]) / 8),
                           &value[i], hg_dtype_bits(types[t]) / 8);
                move_out(&c, types[t], 0, NULL);
                value_params(&c, (const int64_t[]){ops[op], 1, 0}, 3);
                if (move_run(reduce_variant(v), &c)) {
                    int64_t r = reduce_get_int(&c.out[0], 0);
                    CHECK_EQ_INT(r, expected[op]);
                }
                move_free(&c);
            }
        }
}

static void reduce_select_last(void)
{
    for (int v = 0; v < 3 && reduce_variant(v) != NULL; v++)
        for (int64_t n = 0; n < 16; n++) {
            move_call c = {0};
            holo_tensor *in = move_in(&c, n % 2 == 0 ? HOLO_F32 : HOLO_I32, 2, MOVE_DIMS(300, 3));
            for (int64_t i = 0; i < 900; i++)
                value_set(in, i, (double)(i * 7 % 5));
            bool along_rows = n / 2 % 2 == 0;
            move_out(&c, HOLO_I64, 1, MOVE_DIMS(along_rows ? 3 : 300));
            value_params(&c,
                         (const int64_t[]){n / 4 % 2 == 0 ? HG_REDUCE_ARG_MAX : HG_REDUCE_ARG_MIN,
                                           along_rows ? 1 : 2, n / 8},
                         3);
            static reduce_list list;
            if (move_run(reduce_variant(v), &c))
                for (int64_t o = 0; o < holo_tensor_count(&c.out[0]); o++)
                    if (!CHECK(reduce_compare(&c, &list, o))) break;
            move_free(&c);
        }
}

/* NaN, infinities and zeros of both signs, where they stand. */
static void reduce_special_floats(void)
{
    static const struct {
        hg_reduce_op op;
        float x[4], expected;
    } cases[] = {
        {HG_REDUCE_MAX, {1, NAN, 3, 2}, NAN},
        {HG_REDUCE_MIN, {1, 2, 3, NAN}, NAN},
        {HG_REDUCE_MAX, {-INFINITY, -INFINITY, -3, -4}, -3},
        {HG_REDUCE_SUM, {INFINITY, 1, 2, 3}, INFINITY},
        {HG_REDUCE_SUM, {INFINITY, -INFINITY, 2, 3}, NAN},
        {HG_REDUCE_LOG_SUM_EXP, {-INFINITY, -INFINITY, -INFINITY, -INFINITY}, -INFINITY},
        {HG_REDUCE_LOG_SUM_EXP, {INFINITY, 1, 2, 3}, INFINITY},
        {HG_REDUCE_LOG_SUM_EXP, {1000, 1000, 1000, 1000}, 1001.3863f},
        {HG_REDUCE_LOG_SUM_EXP, {NAN, 1, 2, 3}, NAN},
        {HG_REDUCE_LOG_SUM, {1, -1, 0, 0}, -INFINITY},
        {HG_REDUCE_PROD, {0, INFINITY, 1, 1}, NAN},
        {HG_REDUCE_MEAN, {1, 2, 3, 5}, 2.75f},
    };
    for (int v = 0; v < 3 && reduce_variant(v) != NULL; v++)
        for (size_t i = 0; i < HG_COUNT(cases) * 2; i++) {
            move_call c = {0};
            bool is_long = i % 2 != 0; /* the last four of 68 elements */
            int64_t n = is_long && cases[i / 2].op == HG_REDUCE_MAX ? 68 : 4;
            float *x = move_in(&c, HOLO_F32, 1, MOVE_DIMS(n))->data;
            for (int64_t k = 0; k < n; k++)
                x[k] = k < n - 4 ? -100 : cases[i / 2].x[k - (n - 4)];
            move_out(&c, HOLO_F32, 1, MOVE_DIMS(1));
            value_params(&c, (const int64_t[]){cases[i / 2].op, 1, 0}, 3);
            if (move_run(reduce_variant(v), &c))
                CHECK_ULP(*(float *)c.out[0].data, cases[i / 2].expected, 1);
            move_free(&c);
        }
}

static void reduce_of_nothing(void)
{
    static const struct {
        hg_reduce_op op;
        holo_dtype dtype;
        double expected;
    } cases[] = {
        {HG_REDUCE_SUM, HOLO_F32, 0},
        {HG_REDUCE_PROD, HOLO_F64, 1},
        {HG_REDUCE_MEAN, HOLO_F16, (double)NAN},
        {HG_REDUCE_MAX, HOLO_F32, -(double)INFINITY},
        {HG_REDUCE_MIN, HOLO_BF16, (double)INFINITY},
        {HG_REDUCE_MAX, HOLO_I8, -128},
        {HG_REDUCE_MIN, HOLO_U8, 255},
        {HG_REDUCE_MAX, HOLO_U8, 0},
        {HG_REDUCE_MIN, HOLO_I32, INT32_MAX},
        {HG_REDUCE_MAX, HOLO_I64, (double)INT64_MIN},
        {HG_REDUCE_MEAN, HOLO_I32, 0},
        {HG_REDUCE_LOG_SUM_EXP, HOLO_F32, -(double)INFINITY},
        {HG_REDUCE_LOG_SUM, HOLO_F32, -(double)INFINITY},
        {HG_REDUCE_L2, HOLO_F32, 0},
    };
    for (int v = 0; v < 3 && reduce_variant(v) != NULL; v++)
        for (size_t i = 0; i < HG_COUNT(cases); i++)
            for (int64_t axes = 2; axes < 4; axes++) {
                move_call c = {0};
                move_in(&c, cases[i].dtype, 2, MOVE_DIMS(3, 0));
                move_out(&c, cases[i].dtype, axes == 2 ? 1 : 0, MOVE_DIMS(3));
                value_params(&c, (const int64_t[]){cases[i].op, axes, 0}, 3);
                if (move_run(reduce_variant(v), &c))
                    CHECK_NEAR(value_get(&c.out[0], 0), cases[i].expected, 0);
                move_free(&c);
            }
}

static void reduce_bool(void)
{
    for (int v = 0; v < 3 && reduce_variant(v) != NULL; v++)
        for (int64_t op = HG_REDUCE_MAX; op <= HG_REDUCE_MIN; op++)
            for (int64_t n = 0; n < 4; n++) {
                move_call c = {0};
                uint8_t *x = move_in(&c, HOLO_BOOL, 2, MOVE_DIMS(2, n))->data;
                for (int64_t i = 0; i < 2 * n; i++)
                    x[i] = i == 1;
                uint8_t *y = move_out(&c, HOLO_BOOL, 1, MOVE_DIMS(2))->data;
                value_params(&c, (const int64_t[]){op, 2, 0}, 3);
                if (move_run(reduce_variant(v), &c)) {
                    bool any = n > 1, all = n == 0;
                    if (n == 1) all = false;
                    CHECK_EQ_INT(y[0], op == HG_REDUCE_MAX ? any : all);
                    CHECK_EQ_INT(y[1], op == HG_REDUCE_MAX ? n == 1 : n < 2);
                }
                move_free(&c);
            }
}

/* result * b + index-free constant, with a second operand broadcast over the outputs. */
static const hg_lane_op reduce_ops[] = {
    {.op = HG_LANE_LOAD, .type = HG_LANE_F32, .dst = 0, .index = 0},
    {.op = HG_LANE_LOAD, .type = HG_LANE_F32, .dst = 1, .index = 1},
    {.op = HG_LANE_MUL, .type = HG_LANE_F32, .dst = 2, .a = 0, .b = 1},
};
static const hg_lane_out reduce_outs[] = {{2, HG_LANE_F32, 0}};
static const hg_lane_code reduce_code = {reduce_ops, reduce_outs, 3, 2, 1, 3};

static void reduce_with_code(void)
{
    for (int v = 0; v < 3 && reduce_variant(v) != NULL; v++)
        for (int64_t along = 0; along < 2; along++) {
            move_call c = {0};
            value_in(&c, HOLO_F16, 3, MOVE_DIMS(40, 30, 50), 5);
            int64_t inner = along == 0 ? 50 : 30;
            value_in(&c, HOLO_F32, 1, MOVE_DIMS(inner), 6);
            move_out(&c, HOLO_F32, 2, MOVE_DIMS(40, inner));
            value_params(&c, (const int64_t[]){HG_REDUCE_SUM, along == 0 ? 2 : 4, 0}, 3);
            c.args.code = &reduce_code;
            static reduce_list list;
            if (move_run(reduce_variant(v), &c))
                for (int64_t o = 0; o < 40 * inner; o++) {
                    reduce_collect(&list, &c.in[0], c.param[1], o);
                    float sum = reduce_lanes_f32(&list, HG_REDUCE_SUM); /* not rounded to f16 */
                    float by = ((const float *)c.in[1].data)[o % inner];
                    if (!CHECK(((const float *)c.out[0].data)[o] == sum * by)) break;
                }
            move_free(&c);
        }
}

static void reduce_make(move_call *c)
{
    move_in(c, HOLO_F32, 3, MOVE_DIMS(2, 3, 4));
    move_out(c, HOLO_F32, 2, MOVE_DIMS(2, 4));
    value_params(c, (const int64_t[]){HG_REDUCE_SUM, 2, 0}, 3);
}

static const move_bad reduce_bad[] = {
    {MOVE_N_IN, 0, 0, 0, "0 inputs, expected at least 1"},
    {MOVE_N_IN, 0, 0, 2, "2 inputs, expected at most 1"},
    {MOVE_N_OUT, 0, 0, 2, "2 outputs, expected 1"},
    {MOVE_N_PARAM, 0, 0, 2, "2 parameters, expected 3"},
    {MOVE_PARAM, 0, 0, 12, "operation is 12, expected 0 to 11"},
    {MOVE_PARAM, 0, 0, -1, "operation is -1"},
    {MOVE_PARAM, 1, 0, 8, "mask of axes is 8, expected 0 to 7"},
    {MOVE_PARAM, 2, 0, 1, "select_last is 1, expected 0 to 0"},
    {MOVE_IN_TYPE, 0, 0, HOLO_BOOL, "input 0 has type bool"},
    {MOVE_IN_TYPE, 0, 0, HOLO_I4, "input 0 has type int4"},
    {MOVE_IN_TYPE, 0, 0, HOLO_F64, "output has type float32, expected float64"},
    {MOVE_OUT_TYPE, 0, 0, HOLO_U4, "output 0 has type uint4"},
    {MOVE_OUT_TYPE, 0, 0, HOLO_I64, "output has type int64, expected float32"},
    {MOVE_OUT_DIM, 0, 1, 3, "not those that are kept"},
    {MOVE_OUT_RANK, 0, 0, 1, "not those that are kept"},
    {MOVE_PARAM, 1, 0, 1, "not those that are kept"},
};

static void reduce_make_arg(move_call *c)
{
    move_in(c, HOLO_F32, 2, MOVE_DIMS(2, 3));
    move_out(c, HOLO_I64, 1, MOVE_DIMS(2));
    value_params(c, (const int64_t[]){HG_REDUCE_ARG_MAX, 2, 1}, 3);
}

static const move_bad reduce_bad_arg[] = {
    {MOVE_OUT_TYPE, 0, 0, HOLO_F32, "output has type float32, expected int64"},
    {MOVE_IN_DIM, 0, 1, 0, "arg max or arg min of no elements"},
    {MOVE_PARAM, 2, 0, 2, "select_last is 2, expected 0 to 1"},
};

static void reduce_make_code(move_call *c)
{
    move_in(c, HOLO_F32, 2, MOVE_DIMS(2, 3));
    move_in(c, HOLO_F32, 1, MOVE_DIMS(2));
    move_out(c, HOLO_F16, 1, MOVE_DIMS(2));
    value_params(c, (const int64_t[]){HG_REDUCE_SUM, 2, 0}, 3);
    c->args.code = &reduce_code;
}

static const move_bad reduce_bad_code[] = {
    {MOVE_N_IN, 0, 0, 1, "1 inputs, expected 2 by the lane code"},
    {MOVE_IN_TYPE, 1, 0, HOLO_STRING, "input 1 has type string"},
    {MOVE_IN_TYPE, 1, 0, HOLO_I64, "lane operand 1 has type int64"},
    {MOVE_IN_TYPE, 0, 0, HOLO_I8, "lane operand 0 has type int32"},
    {MOVE_IN_DIM, 1, 0, 3, "does not broadcast to 2"},
    {MOVE_OUT_TYPE, 0, 0, HOLO_I8, "lane result 0 has type int8"},
};

static void reduce_refuses(void)
{
    MOVE_REFUSES(hg_kernels_reduce, reduce_make, reduce_bad);
    MOVE_REFUSES(hg_kernels_reduce, reduce_make_arg, reduce_bad_arg);
    MOVE_REFUSES(hg_kernels_reduce, reduce_make_code, reduce_bad_code);
}

#if defined(TUNED)
/* Rows and columns of every length around those of vectors: the reference and the variants give
 * the same bits. */
static void reduce_same_try(holo_dtype dtype, hg_reduce_op op, int64_t rows, int64_t cols, int axis)
{
    move_call c = {0};
    holo_tensor *x = move_in(&c, dtype, 2, MOVE_DIMS(rows, cols));
    if (dtype == HOLO_F32)
        value_fill(x, 7);
    else
        for (int64_t i = 0; i < rows * cols; i++)
            ((uint8_t *)x->data)[i] = (uint8_t)(i * 37 % 11 == 0 ? 0 : i * 89 + i / 7);
    if (axis == 1)
        move_out(&c, dtype, 2, MOVE_DIMS(rows, 1));
    else
        move_out(&c, dtype, 2, MOVE_DIMS(1, cols));
    move_param(&c, (int64_t)op);
    move_param(&c, 1 << axis);
    move_param(&c, 0);
    uint8_t expected[4096];
    const size_t bytes = holo_tensor_bytes(&c.out[0]);
    if (CHECK(bytes <= sizeof expected) && move_run(hg_kernels_reduce, &c)) {
        memcpy(expected, c.out[0].data, bytes);
        for (int v = 1; v < 3; v++) {
            memset(c.out[0].data, 9, bytes);
            if (move_run(reduce_variant(v), &c) && !CHECK_MEM(c.out[0].data, expected, bytes))
                printf("    operation %d, %lld by %lld\n", (int)op, (long long)rows,
                       (long long)cols);
        }
    }
    move_free(&c);
}

static void reduce_same(void)
{
    static const int64_t sizes[] = {1, 5, 8, 15, 16, 17, 31, 33, 64, 100, 127, 128, 129, 300, 768};
    static const holo_dtype bytes[] = {HOLO_U8, HOLO_I8, HOLO_BOOL};
    static const hg_reduce_op all[] = {HG_REDUCE_SUM, HG_REDUCE_MEAN,       HG_REDUCE_PROD,
                                       HG_REDUCE_MAX, HG_REDUCE_MIN,        HG_REDUCE_L1,
                                       HG_REDUCE_L2,  HG_REDUCE_LOG_SUM_EXP};
    if (!tuned_runs()) return;
    for (size_t i = 0; i < 2 * HG_COUNT(sizes); i++) {
        const int axis = (int)(i % 2);
        const int64_t n = sizes[i / 2], m = i % 4 < 2 ? 40 : 99;
        for (size_t k = 0; k < 2 * HG_COUNT(bytes); k++)
            reduce_same_try(bytes[k / 2], k % 2 == 0 ? HG_REDUCE_MAX : HG_REDUCE_MIN,
                            axis == 1 ? m : n, axis == 1 ? n : m, axis);
        for (size_t k = 0; k < HG_COUNT(all); k++)
            reduce_same_try(HOLO_F32, all[k], axis == 1 ? m : n, axis == 1 ? n : m, axis);
    }
}
#endif

const hg_test_case hg_tests_kernel_reduce[] = {
#if defined(TUNED)
    {"same", reduce_same},
#endif
    {"axes", reduce_axes},
    {"operations", reduce_operations},
    {"few_classes", reduce_few_classes},
    {"logs_of_integers", reduce_logs_of_integers},
    {"select_last", reduce_select_last},
    {"special_floats", reduce_special_floats},
    {"of_nothing", reduce_of_nothing},
    {"bool", reduce_bool},
    {"with_code", reduce_with_code},
    {"refuses", reduce_refuses},
    {0},
};
