/* lane.c - kernel "lane": broadcasting, splitting and packing around the interpreter. */
#include "kernel/lane_code.h"
#include "kernel/value.h"
#include "kernel/variants.h"

extern const hg_kernel hg_kernels_lane[];
#if defined(TUNED)
extern const hg_kernel TUNED(lane)[];
#endif

static const hg_kernel *lane_variant(int i)
{
    if (i == 0) return hg_kernels_lane;
#if defined(TUNED)
    if (i == 1 && tuned_runs()) return TUNED(lane);
#endif
    return NULL;
}

/* a * 100 + b in f32; the second result is b. */
static const hg_lane_op lane_ops[] = {
    {.op = HG_LANE_LOAD, .type = HG_LANE_F32, .dst = 0, .index = 0},
    {.op = HG_LANE_LOAD, .type = HG_LANE_F32, .dst = 1, .index = 1},
    {.op = HG_LANE_CONST, .type = HG_LANE_F32, .dst = 2, .imm = 0x42c80000},
    {.op = HG_LANE_MUL, .type = HG_LANE_F32, .dst = 2, .a = 0, .b = 2},
    {.op = HG_LANE_ADD, .type = HG_LANE_F32, .dst = 2, .a = 2, .b = 1},
};
static const hg_lane_out lane_outs[] = {{2, HG_LANE_F32, 0}, {1, HG_LANE_F32, 0}};
static const hg_lane_code lane_code = {lane_ops, lane_outs, 5, 2, 1, 3};
static const hg_lane_code lane_code_2 = {lane_ops, lane_outs, 5, 2, 2, 3};

typedef struct lane_shapes {
    int rank[3]; /* a, b, out */
    int64_t dim[3][6];
} lane_shapes;

static const lane_shapes lane_cases[] = {
    {{0, 0, 0}, {{0}}},
    {{1, 1, 1}, {{1}, {1}, {1}}},
    {{1, 1, 1}, {{9000}, {9000}, {9000}}},
    {{1, 0, 1}, {{9000}, {0}, {9000}}},
    {{0, 2, 2}, {{0}, {3, 5}, {3, 5}}},
    {{2, 1, 2}, {{300, 70}, {70}, {300, 70}}},
    {{3, 3, 3}, {{40, 40, 60}, {40, 1, 60}, {40, 40, 60}}},
    {{3, 3, 3}, {{4, 1, 60}, {1, 40, 1}, {4, 40, 60}}},
    {{4, 3, 4}, {{2, 16, 9, 7}, {16, 1, 1}, {2, 16, 9, 7}}},
    {{4, 1, 4}, {{2, 9, 7, 16}, {16}, {2, 9, 7, 16}}},
    {{2, 2, 2}, {{5000, 1}, {1, 3}, {5000, 3}}},
    {{2, 2, 2}, {{1, 1}, {1, 1}, {17, 1000}}},
    {{5, 5, 5}, {{3, 1, 4, 1, 5}, {1, 7, 1, 6, 1}, {3, 7, 4, 6, 5}}},
    {{3, 2, 3}, {{1, 1, 4097}, {3, 1}, {2, 3, 4097}}},
    /* many small matrices: one row of all of them at a time */
    {{3, 2, 3}, {{700, 1, 12}, {5, 12}, {700, 5, 12}}},
    {{4, 3, 4}, {{2, 301, 1, 3}, {1, 2, 1}, {2, 301, 2, 3}}},
    {{4, 4, 4}, {{1, 40, 1, 7}, {30, 1, 9, 1}, {30, 40, 9, 7}}},
    {{6, 6, 6}, {{2, 1, 3, 1, 2, 1}, {1, 2, 1, 3, 1, 33}, {2, 2, 3, 3, 2, 33}}},
    {{2, 1, 2}, {{0, 4}, {4}, {0, 4}}},
};

/* Flat index in t of the element that output element i reads. */
static int64_t lane_source(const holo_tensor *t, const holo_tensor *out, int64_t i)
{
    int64_t at[8], own[8];
    move_coordinates(out, i, at);
    for (int d = 0; d < t->rank; d++)
        own[d] = t->dim[d] == 1 ? 0 : at[out->rank - t->rank + d];
    return move_flat(t, own);
}

static void lane_try(const hg_kernel *k, const lane_shapes *s, holo_dtype a, holo_dtype b,
                     holo_dtype out)
{
    move_call c = {0};
    value_in(&c, a, s->rank[0], s->dim[0], 1);
    value_in(&c, b, s->rank[1], s->dim[1], 2);
    move_out(&c, out, s->rank[2], s->dim[2]);
    c.args.code = &lane_code;
    if (move_run(k, &c)) {
        for (int64_t i = 0; i < holo_tensor_count(&c.out[0]); i++) {
            float x = (float)value_get(&c.in[0], lane_source(&c.in[0], &c.out[0], i));
            float y = (float)value_get(&c.in[1], lane_source(&c.in[1], &c.out[0], i));
            float r = x * 100 + y;
            if (out == HOLO_F16) r = hg_f16_to_f32(hg_f32_to_f16(r));
            if (CHECK((float)value_get(&c.out[0], i) == r)) continue;
            hg_test_fail(HG_TEST_HERE, "case %td, element %lld", s - lane_cases, (long long)i);
            break;
        }
    }
    move_free(&c);
}

static void lane_broadcasts(void)
{
    for (int v = 0; v < 2 && lane_variant(v) != NULL; v++)
        for (size_t i = 0; i < HG_COUNT(lane_cases); i++) {
            const holo_dtype types[][3] = {{HOLO_F32, HOLO_F32, HOLO_F32},
                                           {HOLO_F16, HOLO_BF16, HOLO_F16},
                                           {HOLO_F32, HOLO_F16, HOLO_F32}};
            for (size_t t = 0; t < HG_COUNT(types); t++)
                lane_try(lane_variant(v), &lane_cases[i], types[t][0], types[t][1], types[t][2]);
        }
}

static void lane_two_results(void)
{
    for (int v = 0; v < 2 && lane_variant(v) != NULL; v++) {
        move_call c = {0};
        value_in(&c, HOLO_F32, 2, MOVE_DIMS(700, 9), 1);
        value_in(&c, HOLO_F32, 1, MOVE_DIMS(9), 2);
        move_out(&c, HOLO_F32, 2, MOVE_DIMS(700, 9));
        move_out(&c, HOLO_F16, 2, MOVE_DIMS(700, 9));
        c.args.code = &lane_code_2;
        if (move_run(lane_variant(v), &c))
            for (int64_t i = 0; i < 6300; i++) {
                const float *a = c.in[0].data, *b = c.in[1].data, *d = c.out[0].data;
                if (!CHECK(d[i] == a[i] * 100 + b[i % 9])) break;
                if (!CHECK_EQ_INT(((uint16_t *)c.out[1].data)[i], hg_f32_to_f16(b[i % 9]))) break;
            }
        move_free(&c);
    }
}

/* The output is the memory of an input of its shape. */
static void lane_in_place(void)
{
    for (int v = 0; v < 4; v++) {
        const hg_kernel *k = lane_variant(v / 2);
        if (k == NULL) continue;
        move_call c = {0};
        uint32_t own = v % 2 == 0 ? 0 : 1;
        value_in(&c, HOLO_F32, 2, MOVE_DIMS(own == 0 ? 300 : 1, 31), 1);
        value_in(&c, HOLO_F32, 2, MOVE_DIMS(own == 1 ? 300 : 1, 31), 2);
        move_out(&c, HOLO_F32, 2, MOVE_DIMS(300, 31));
        c.args.code = &lane_code;
        move_connect(&c);
        void *scratch = malloc(hg_kernel_work(k, &c.args).scratch);
        k->run(&c.args, (hg_range){0, hg_kernel_work(k, &c.args).units, scratch});
        void *separate = c.out[0].data;
        c.out[0].data = c.in[own].data;
        k->run(&c.args, (hg_range){0, hg_kernel_work(k, &c.args).units, scratch});
        CHECK_MEM(c.out[0].data, separate, 300 * 31 * sizeof(float));
        c.out[0].data = separate;
        free(scratch);
        move_free(&c);
    }
}

/* Four-bit elements: operands whose rows begin inside a byte, and a last byte half used. */
static void lane_packed(void)
{
    static const hg_lane_op ops[] = {
        {.op = HG_LANE_LOAD, .type = HG_LANE_I32, .dst = 0, .index = 0},
        {.op = HG_LANE_LOAD, .type = HG_LANE_I32, .dst = 1, .index = 1},
        {.op = HG_LANE_ADD, .type = HG_LANE_I32, .dst = 2, .a = 0, .b = 1},
    };
    static const hg_lane_out outs[] = {{2, HG_LANE_I32, 1}};
    static const hg_lane_code code = {ops, outs, 3, 2, 1, 3};
    for (int v = 0; v < 4; v++) {
        const hg_kernel *k = lane_variant(v / 2);
        if (k == NULL) continue;
        move_call c = {0};
        move_in(&c, HOLO_I4, 3, MOVE_DIMS(3, 1, 15));
        move_in(&c, HOLO_U2, 3, MOVE_DIMS(3, 5, 1));
        holo_tensor *out = move_out(&c, v % 2 == 0 ? HOLO_I4 : HOLO_I2, 4, MOVE_DIMS(41, 3, 5, 15));
        c.args.code = &code;
        memset(out->data, 0xff, holo_tensor_bytes(out));
        if (move_run(k, &c)) {
            int bits = (int)hg_dtype_bits(out->dtype), low = -(1 << (bits - 1)), high = -low - 1;
            int64_t count = holo_tensor_count(out);
            for (int64_t i = 0; i < count; i++) {
                int64_t a = lane_source(&c.in[0], out, i), b = lane_source(&c.in[1], out, i);
                int r = hg_i4_to_i32(hg_packed_get(c.in[0].data, a, 4)) +
                        hg_packed_get(c.in[1].data, b, 2);
                r = r < low ? low : r > high ? high : r;
                if (!CHECK_EQ_INT(hg_packed_get(out->data, i, bits), r & ((1 << bits) - 1))) break;
            }
            const uint8_t *bytes = out->data;
            int used = (int)(count * bits % 8);
            CHECK_EQ_INT(bytes[holo_tensor_bytes(out) - 1] >> used, 0); /* padding is zero */
        }
        move_free(&c);
    }
}

static void lane_fault_index(void)
{
    static const hg_lane_op ops[] = {
        {.op = HG_LANE_LOAD, .type = HG_LANE_I64, .dst = 0, .index = 0},
        {.op = HG_LANE_LOAD, .type = HG_LANE_I64, .dst = 1, .index = 1},
        {.op = HG_LANE_DIV, .type = HG_LANE_I64, .dst = 2, .a = 0, .b = 1},
    };
    static const hg_lane_out outs[] = {{2, HG_LANE_I64, 0}};
    static const hg_lane_code code = {ops, outs, 3, 2, 1, 3};
    for (int v = 0; v < 2 && lane_variant(v) != NULL; v++) {
        move_call c = {0};
        move_in(&c, HOLO_I64, 2, MOVE_DIMS(5, 3000));
        holo_tensor *by = move_in(&c, HOLO_I64, 2, MOVE_DIMS(5, 1));
        move_out(&c, HOLO_I64, 2, MOVE_DIMS(5, 3000));
        ((int64_t *)by->data)[3] = 0;
        c.args.code = &code;
        move_run(lane_variant(v), &c);
        CHECK_EQ_INT(c.fault.kind, HG_FAULT_DIVIDE);
        CHECK_EQ_INT(c.fault.element, 9000);
        CHECK_EQ_INT(((int64_t *)c.out[0].data)[9001], 0);
        CHECK_EQ_INT(((int64_t *)c.out[0].data)[12000], (12000 * 7 + 1) / 29);
        move_free(&c);
        /* small matrices that are taken together */
        move_in(&c, HOLO_I64, 3, MOVE_DIMS(500, 2, 3));
        by = move_in(&c, HOLO_I64, 3, MOVE_DIMS(500, 1, 3));
        move_out(&c, HOLO_I64, 3, MOVE_DIMS(500, 2, 3));
        ((int64_t *)by->data)[3 * 10 + 1] = ((int64_t *)by->data)[3 * 200] = 0;
        c.args.code = &code;
        move_run(lane_variant(v), &c);
        CHECK_EQ_INT(c.fault.element, 6 * 10 + 1);
        move_free(&c);
    }
}

#if defined(TUNED)
/* Two inputs of 1000 elements and one result; the reference and the variant give the same bits. */
static void lane_same(const hg_lane_op *op, uint32_t n_op, holo_dtype dtype, holo_dtype result)
{
    const hg_lane_out out = {op[n_op - 1].dst, (uint8_t)hg_lane_type_of(result), 0};
    const hg_lane_code code = {op, &out, n_op, 2, 1, 8};
    move_call c = {0};
    for (uint64_t k = 0; k < 2; k++) {
        holo_tensor *t = value_in(&c, dtype, 1, MOVE_DIMS(1000), 3 + k);
        static const float odd[] = {NAN, INFINITY, -INFINITY, -0.0F, 0.0F, 1e30F};
        for (int64_t i = 0; i < 1000; i++) {
            /* first what int32 holds, then its smallest number too, then that of int64 */
            const int64_t least = i < 300 ? 5 : i < 500 ? INT32_MIN : INT64_MIN;
            const int64_t far = i < 300 ? (i % 3 - 1) * INT64_C(2147483000) : 0;
            const int64_t whole =
                i % 7 == 0 ? (i % 2 == 0 ? least : -1) : i * 7919 % 641 - 320 + far;
            const int32_t half = whole == INT64_MIN ? INT32_MIN : (int32_t)whole;
            if (dtype == HOLO_F32 && i % 5 == 0)
                ((float *)t->data)[i] = odd[(i / 5 + (int64_t)k) % 6];
            if (dtype == HOLO_I64) ((int64_t *)t->data)[i] = k == 1 && whole == 0 ? 3 : whole;
            if (dtype == HOLO_I32) ((int32_t *)t->data)[i] = k == 1 && half == 0 ? 3 : half;
        }
    }
    move_out(&c, result, 1, MOVE_DIMS(1000));
    c.args.code = &code;
    uint8_t expected[8000];
    const size_t bytes = holo_tensor_bytes(&c.out[0]);
    if (move_run(hg_kernels_lane, &c)) {
        memcpy(expected, c.out[0].data, bytes);
        memset(c.out[0].data, 0, bytes);
        if (move_run(TUNED(lane), &c)) CHECK_MEM(c.out[0].data, expected, bytes);
    }
    move_free(&c);
}

/* One value for each row, or for all: the same bits, whichever operand it is. */
static void lane_repeats_try(const hg_lane_op *two, const int64_t *dim, bool has_rows)
{
    const hg_lane_op op[] = {
        LOAD(F32, 0, 0),
        LOAD(F32, 1, 1),
        {.op = HG_LANE_CONST, .type = HG_LANE_F32, .dst = 2, .imm = 0x40490fdb},
        two[0],
        two[1],
    };
    const hg_lane_out out = {4, HG_LANE_F32, 0};
    const hg_lane_code code = {op, &out, HG_COUNT(op), 2, 1, 5};
    move_call c = {0};
    value_in(&c, HOLO_F32, 2, dim, 3);
    value_in(&c, HOLO_F32, 2, MOVE_DIMS(has_rows ? dim[0] : 1, 1), 4);
    move_out(&c, HOLO_F32, 2, dim);
    c.args.code = &code;
    static uint8_t expected[40000];
    const size_t bytes = holo_tensor_bytes(&c.out[0]);
    if (CHECK(bytes <= sizeof expected) && move_run(hg_kernels_lane, &c)) {
        memcpy(expected, c.out[0].data, bytes);
        memset(c.out[0].data, 0, bytes);
        if (move_run(TUNED(lane), &c)) CHECK_MEM(c.out[0].data, expected, bytes);
    }
    move_free(&c);
}

static void lane_repeats(void)
{
    static const hg_lane_op two[][2] = {
        {STEP(MUL, F32, 3, 1, 0), STEP(ADD, F32, 4, 3, 1)},
        {STEP(MUL, F32, 3, 0, 2), STEP(ADD, F32, 4, 1, 3)},
        {STEP(SUB, F32, 3, 0, 1), STEP(MUL, F32, 4, 3, 2)},
        {STEP(DIV, F32, 3, 0, 1), STEP(SUB, F32, 4, 3, 1)},
        {STEP(SUB, F32, 3, 1, 0), STEP(ADD, F32, 4, 3, 2)},
        {STEP(ADD, F32, 3, 1, 2), STEP(MUL, F32, 4, 3, 0)},
        {STEP(MAX, F32, 3, 0, 1), STEP(ADD, F32, 4, 3, 1)},
        {STEP(ADD, F32, 3, 0, 0), STEP(ADD, F32, 4, 3, 1)},
    };
    static const int64_t dim[][2] = {{5, 512}, {3, 3000}, {40, 50}, {7, 300}, {1, 2500}};
    if (!tuned_runs()) return;
    for (size_t k = 0; k < HG_COUNT(two); k++)
        for (size_t i = 0; i < 2 * HG_COUNT(dim); i++)
            lane_repeats_try(two[k], dim[i / 2], i % 2 != 0);
}

/* Operations that variants take in pairs: what is between them is used elsewhere, or not. */
static void lane_pairs(void)
{
    static const hg_lane_op chain[] = {
        LOAD(F32, 0, 0),         LOAD(F32, 1, 1),         STEP(MUL, F32, 2, 0, 1),
        STEP(ADD, F32, 3, 2, 0), STEP(MAX, F32, 2, 3, 1), STEP(MIN, F32, 3, 2, 0),
        STEP(MUL, F32, 2, 1, 3), STEP(MUL, F32, 3, 2, 0), STEP(SUB, F32, 2, 3, 1),
        STEP(MUL, F32, 3, 0, 2), LOAD(F32, 4, 0),         STEP(ADD, F32, 5, 3, 4),
        STEP(SUB, F32, 3, 5, 4), LOAD(F32, 4, 1),         STEP(MUL, F32, 5, 3, 4),
    };
    static const hg_lane_op used[] = {
        LOAD(F32, 0, 0),         LOAD(F32, 1, 1),         STEP(MUL, F32, 2, 0, 1),
        STEP(ADD, F32, 3, 1, 2), STEP(SUB, F32, 4, 3, 2), STEP(MAX, F32, 5, 4, 1),
        STEP(MIN, F32, 6, 0, 5), STEP(ADD, F32, 7, 6, 6),
    };
    /* pairs with constants: two of them, one, and one that another pair takes as one value */
    static const hg_lane_op mixed[] = {
        LOAD(F32, 0, 0),         LOAD(F32, 1, 1),         NUMBER(2, 0x3f400000),
        STEP(MUL, F32, 3, 2, 0), NUMBER(4, 0xbe800000),   STEP(ADD, F32, 3, 3, 4),
        STEP(ADD, F32, 5, 3, 2), STEP(MUL, F32, 6, 1, 5), STEP(MUL, F32, 7, 6, 1),
        STEP(MUL, F32, 5, 7, 4), STEP(MUL, F32, 6, 2, 5), STEP(MAX, F32, 7, 6, 5),
        STEP(MUL, F32, 6, 7, 2), STEP(SUB, F32, 7, 6, 4), STEP(MUL, F32, 5, 0, 7),
    };
    if (!tuned_runs()) return;
    for (uint32_t n = 4; n <= HG_COUNT(mixed); n++)
        if (mixed[n - 1].op != HG_LANE_CONST) lane_same(mixed, n, HOLO_F32, HOLO_F32);
    for (uint32_t n = 3; n <= HG_COUNT(chain); n++)
        lane_same(chain, n, HOLO_F32, HOLO_F32);
    for (uint32_t n = 3; n <= HG_COUNT(used); n++)
        lane_same(used, n, HOLO_F32, HOLO_F32);
}

static void lane_integers(void)
{
    static const uint8_t ops[] = {HG_LANE_ADD, HG_LANE_SUB, HG_LANE_MUL, HG_LANE_DIV,
                                  HG_LANE_REM, HG_LANE_MOD, HG_LANE_MIN, HG_LANE_MAX,
                                  HG_LANE_ABS, HG_LANE_EQ,  HG_LANE_LT,  HG_LANE_LE};
    if (!tuned_runs()) return;
    for (size_t i = 0; i < HG_COUNT(ops); i++) {
        hg_lane_op wide[] = {LOAD(I64, 0, 0), LOAD(I64, 1, 1), STEP(ADD, I64, 2, 0, 1)};
        hg_lane_op half[] = {LOAD(I32, 0, 0), LOAD(I32, 1, 1), STEP(ADD, I32, 2, 0, 1)};
        wide[2].op = half[2].op = ops[i];
        lane_same(wide, 3, HOLO_I64, ops[i] >= HG_LANE_EQ ? HOLO_I32 : HOLO_I64);
        lane_same(half, 3, HOLO_I32, HOLO_I32);
    }
    static const struct {
        hg_lane_type from, to;
        holo_dtype in, out;
    } casts[] = {{HG_LANE_I64, HG_LANE_F32, HOLO_I64, HOLO_F32},
                 {HG_LANE_F32, HG_LANE_I64, HOLO_F32, HOLO_I64},
                 {HG_LANE_I64, HG_LANE_I32, HOLO_I64, HOLO_I32},
                 {HG_LANE_I32, HG_LANE_I64, HOLO_I32, HOLO_I64}};
    for (size_t i = 0; i < HG_COUNT(casts); i++) {
        const hg_lane_op cast[] = {
            {.op = HG_LANE_LOAD, .type = (uint8_t)casts[i].from, .dst = 0},
            {.op = HG_LANE_CAST, .type = (uint8_t)casts[i].to, .dst = 1, .index = casts[i].from}};
        lane_same(cast, 2, casts[i].in, casts[i].out);
    }
}

static double lane_sigmoid(double x)
{
    return x < 0 ? exp(x) / (1 + exp(x)) : 1 / (1 + exp(-x));
}

/* Functions of the variant that may round otherwise: floats of every size against f64. */
static void lane_fast(void)
{
    static const struct {
        uint8_t op;
        double (*exact)(double);
        double bound; /* units in the last place */
    } table[] = {{HG_LANE_EXP, exp, 1.1},   {HG_LANE_SIGMOID, lane_sigmoid, 2.2},
                 {HG_LANE_TANH, tanh, 2.5}, {HG_LANE_ERF, erf, 1.1},
                 {HG_LANE_ATAN, atan, 2.8}, {HG_LANE_ASIN, asin, 2.2},
                 {HG_LANE_COSH, cosh, 2.0}, {HG_LANE_ACOSH, acosh, 2.6},
                 {HG_LANE_SIN, sin, 1.6},   {HG_LANE_COS, cos, 1.6}};
    if (!tuned_runs()) return;
    for (size_t t = 0; t < HG_COUNT(table); t++) {
        const hg_lane_op op[] = {LOAD(F32, 0, 0),
                                 {.op = table[t].op, .type = HG_LANE_F32, .dst = 1}};
        const hg_lane_out out = {1, HG_LANE_F32, 0};
        const hg_lane_code code = {op, &out, 2, 1, 1, 2};
        const int64_t count = 1 << 17;
        move_call c = {0};
        float *x = move_in(&c, HOLO_F32, 1, &count)->data;
        for (int64_t i = 0; i < count; i++)
            x[i] = hg_f32_from_bits((uint32_t)i * 32749u); /* goes round all bits */
        const float *y = move_out(&c, HOLO_F32, 1, &count)->data;
        c.args.code = &code;
        if (move_run(TUNED(lane) + 1, &c))
            for (int64_t i = 0; i < count; i++) {
                const double exact = table[t].exact((double)x[i]);
                int exponent;
                frexp(exact, &exponent);
                const double unit = ldexp(1, (exponent < -125 ? -125 : exponent) - 24);
                const bool is_same = isnan(exact) ? isnan(y[i]) : (float)exact == y[i];
                const bool is_tiny =
                    table[t].op == HG_LANE_SIGMOID && exact < 0x1p-126 && y[i] == 0;
                if (is_same || is_tiny || fabs((double)y[i] - exact) <= table[t].bound * unit)
                    continue;
                hg_test_fail(HG_TEST_HERE, "operation %d of %a: %a, expected %a", table[t].op,
                             (double)x[i], (double)y[i], exact);
                break;
            }
        move_free(&c);
    }
}

/* The same of two operands: bases and dividends of every size, and near 1. */
static void lane_fast_two(void)
{
    static const float other[] = {2.2F, 0.5F, -1.5F, 3, -2, 100.25F, 1e-3F, 0.3F, -0.7F, INFINITY,
                                  NAN,  0,    -0.0F, 7, 2,  -1e30F,  1e20F, 1,    -3.0F};
    static const struct {
        uint8_t op;
        double (*exact)(double, double);
        double bound; /* units in the last place */
    } table[] = {{HG_LANE_POW, pow, 0.6}, {HG_LANE_REM, fmod, 0}};
    if (!tuned_runs()) return;
    for (size_t k = 0; k < 2 * HG_COUNT(table); k++) {
        const size_t t = k / 2;
        const bool is_one = k % 2 != 0; /* one operand for all */
        const hg_lane_op op[] = {LOAD(F32, 0, 0),
                                 LOAD(F32, 1, 1),
                                 {.op = table[t].op, .type = HG_LANE_F32, .dst = 2, .b = 1}};
        const hg_lane_out out = {2, HG_LANE_F32, 0};
        const hg_lane_code code = {op, &out, 3, 2, 1, 3};
        const int64_t count = 1 << 17, others = is_one ? 1 : count;
        move_call c = {0};
        float *x = move_in(&c, HOLO_F32, 1, &count)->data;
        float *y = move_in(&c, HOLO_F32, 1, &others)->data;
        for (int64_t i = 0; i < count; i++) {
            x[i] = hg_f32_from_bits((uint32_t)i * 32749u);
            if (i % 512 < 384) x[i] = 0.001F + (float)i / 30000; /* whole groups of such */
            y[i % others] = other[i % others / 64 % (int64_t)HG_COUNT(other)];
        }
        const float *r = move_out(&c, HOLO_F32, 1, &count)->data;
        c.args.code = &code;
        if (move_run(TUNED(lane) + 1, &c))
            for (int64_t i = 0; i < count; i++) {
                const double exact = table[t].exact((double)x[i], (double)y[i % others]);
                int exponent;
                frexp(exact, &exponent);
                const double unit = ldexp(1, (exponent < -125 ? -125 : exponent) - 24);
                const bool is_same = isnan(exact) ? isnan(r[i]) : (float)exact == r[i];
                if (is_same || fabs((double)r[i] - exact) <= table[t].bound * unit) continue;
                hg_test_fail(HG_TEST_HERE, "operation %d of %a and %a: %a, expected %a",
                             table[t].op, (double)x[i], (double)y[i % others], (double)r[i], exact);
                break;
            }
        move_free(&c);
    }
}

/* The bits of a power are the same whatever lies beside it: threads may begin anywhere. */
static void lane_fast_alone(void)
{
    const hg_lane_op op[] = {LOAD(F32, 0, 0), LOAD(F32, 1, 1), STEP(POW, F32, 2, 0, 1)};
    const hg_lane_out out = {2, HG_LANE_F32, 0};
    const hg_lane_code code = {op, &out, 3, 2, 1, 3};
    const int64_t count = 4096, one = 1;
    float *results[2];
    move_call c[2];
    if (!tuned_runs()) return;
    memset(c, 0, sizeof c);
    for (int k = 0; k < 2; k++) {
        float *x = move_in(&c[k], HOLO_F32, 1, &count)->data;
        *(float *)move_in(&c[k], HOLO_F32, 1, &one)->data = 2.2F;
        for (int64_t i = 0; i < count; i++)
            x[i] = k == 1 && i % 3 == 0 ? -1 : 0.001F + (float)i / 3000;
        results[k] = move_out(&c[k], HOLO_F32, 1, &count)->data;
        c[k].args.code = &code;
        CHECK(move_run(TUNED(lane) + 1, &c[k]));
    }
    for (int64_t i = 0; i < count; i++)
        if (i % 3 != 0 && !CHECK(results[0][i] == results[1][i])) break;
    move_free(&c[0]);
    move_free(&c[1]);
}
#endif

static void lane_cost(void)
{
    move_call c = {0};
    hg_cost cost = {0};
    value_in(&c, HOLO_F32, 1, MOVE_DIMS(5000), 1);
    value_in(&c, HOLO_F32, 1, MOVE_DIMS(5000), 2);
    move_out(&c, HOLO_F32, 1, MOVE_DIMS(5000));
    c.args.code = &lane_code;
    move_connect(&c);
    hg_kernels_lane->cost(&c.args, &cost);
    CHECK(cost.flops == 10000);
    CHECK_EQ_INT(hg_kernels_lane->units(&c.args), 2);
    move_free(&c);
}

static void lane_make(move_call *c)
{
    value_in(c, HOLO_F32, 2, MOVE_DIMS(3, 4), 1);
    value_in(c, HOLO_F32, 1, MOVE_DIMS(4), 2);
    move_out(c, HOLO_F32, 2, MOVE_DIMS(3, 4));
    move_out(c, HOLO_F32, 2, MOVE_DIMS(3, 4));
    c->args.code = &lane_code_2;
}

static const move_bad lane_bad[] = {
    {MOVE_N_IN, 0, 0, 1, "1 inputs, expected 2 by the lane code"},
    {MOVE_N_OUT, 0, 0, 1, "1 outputs, expected 2 by the lane code"},
    {MOVE_N_PARAM, 0, 0, 1, "1 parameters, expected 0"},
    {MOVE_IN_TYPE, 1, 0, HOLO_NONE, "input 1 is missing"},
    {MOVE_IN_TYPE, 1, 0, HOLO_STRING, "input 1 has type string"},
    {MOVE_IN_TYPE, 1, 0, HOLO_I32, "lane operand 1 has type int32"},
    {MOVE_IN_RANK, 1, 0, 3, "rank 3, which does not broadcast to rank 2"},
    {MOVE_IN_DIM, 1, 0, 3, "dimension 0 is 3, which does not broadcast to 4"},
    {MOVE_IN_DIM, 0, 0, -1, "input 0 has a negative dimension"},
    {MOVE_OUT_TYPE, 1, 0, HOLO_C64, "output 1 has type complex64"},
    {MOVE_OUT_TYPE, 1, 0, HOLO_I64, "lane result 1 has type int64"},
    {MOVE_OUT_DIM, 1, 0, 1, "a lane result: dimension 0 is 1, expected 3"},
    {MOVE_OUT_RANK, 1, 0, 1, "a lane result has rank 1, expected 2"},
};

static void lane_refuses(void)
{
    holo_error e = {0};
    hg_args none = {0};
    CHECK_STATUS(hg_kernels_lane->check(&none, &e), HOLO_E_FORMAT);
    CHECK_HAS(e.message, "lane code is missing");
    MOVE_REFUSES(hg_kernels_lane, lane_make, lane_bad);
}

/* How codes are made: with a factor for each column, or for each row, instead of one for all; with
 * a zero point; by division; of the operand itself. */
enum {
    LANE_CODES_VECTOR = 1,
    LANE_CODES_ZERO = 2,
    LANE_CODES_DIVIDES = 4,
    LANE_CODES_ROWS = 8,
    LANE_CODES_PLAIN = 16
};

/* limit(round(x * factor) + zero) as codes: the bits of the reference. */
static hg_lane_code lane_codes_of(hg_lane_op op[11], hg_lane_out *out, int how, uint32_t low,
                                  uint32_t high)
{
    const bool has_vector = (how & LANE_CODES_VECTOR) != 0, has_zero = (how & LANE_CODES_ZERO) != 0;
    const bool divides = (how & LANE_CODES_DIVIDES) != 0, turns = has_vector && !divides;
    uint32_t n = 0;
    op[n++] = (hg_lane_op){.op = HG_LANE_LOAD, .type = HG_LANE_F32, .dst = 0};
    op[n++] =
        has_vector
            ? (hg_lane_op){.op = HG_LANE_LOAD, .type = HG_LANE_F32, .dst = 1, .index = 1}
            : (hg_lane_op){
                  .op = HG_LANE_CONST, .type = HG_LANE_F32, .dst = 1, .imm = 0x40a00000}; /* 5 */
    if ((how & LANE_CODES_PLAIN) == 0)
        op[n++] = (hg_lane_op){.op = divides ? HG_LANE_DIV : HG_LANE_MUL,
                               .type = HG_LANE_F32,
                               .dst = 0,
                               .a = turns,
                               .b = !turns};
    op[n++] = (hg_lane_op){.op = HG_LANE_ROUND, .type = HG_LANE_F32, .dst = 0};
    op[n++] = (hg_lane_op){.op = HG_LANE_CONST, .type = HG_LANE_F32, .dst = 2, .imm = 0x40400000};
    if (has_zero) op[n++] = (hg_lane_op){.op = HG_LANE_ADD, .type = HG_LANE_F32, .dst = 0, .b = 2};
    op[n++] = (hg_lane_op){.op = HG_LANE_CONST, .type = HG_LANE_F32, .dst = 2, .imm = low};
    op[n++] = (hg_lane_op){.op = HG_LANE_MAX, .type = HG_LANE_F32, .dst = 0, .b = 2};
    op[n++] = (hg_lane_op){.op = HG_LANE_CONST, .type = HG_LANE_F32, .dst = 2, .imm = high};
    op[n++] = (hg_lane_op){.op = HG_LANE_MIN, .type = HG_LANE_F32, .dst = 0, .b = 2};
    op[n++] = (hg_lane_op){.op = HG_LANE_CAST, .type = HG_LANE_I32, .dst = 0, .index = HG_LANE_F32};
    *out = (hg_lane_out){.type = HG_LANE_I32};
    return (hg_lane_code){op, out, n, has_vector ? 2 : 1, 1, 3};
}

static void lane_codes_try(holo_dtype dtype, int64_t columns, int how, uint32_t low, uint32_t high)
{
    hg_lane_op op[11];
    hg_lane_out out;
    const hg_lane_code code = lane_codes_of(op, &out, how, low, high);
    uint8_t *bytes[2] = {NULL, NULL};
    size_t size = 0;
    for (int v = 0; v < 2 && lane_variant(v) != NULL; v++) {
        move_call c = {0};
        value_in(&c, HOLO_F32, 2, MOVE_DIMS(130, columns), 1);
        if (how % 2 != 0 && (how & LANE_CODES_ROWS) != 0)
            value_in(&c, HOLO_F32, 2, MOVE_DIMS(130, 1), 2);
        else if (how % 2 != 0)
            value_in(&c, HOLO_F32, 1, MOVE_DIMS(columns), 2);
        move_out(&c, dtype, 2, MOVE_DIMS(130, columns));
        float *x = c.in[0].data;
        for (int64_t i = 0; i < 130 * columns; i++)
            x[i] = i % 19 == 3 ? NAN : i % 23 == 5 ? INFINITY : i % 7 == 2 ? 0.1f : x[i] * 900;
        c.args.code = &code;
        if (move_run(lane_variant(v), &c)) {
            size = holo_tensor_bytes(&c.out[0]);
            bytes[v] = malloc(size);
            memcpy(bytes[v], c.out[0].data, size);
        }
        move_free(&c);
    }
    if (bytes[1] != NULL) CHECK_MEM(bytes[1], bytes[0], size);
    free(bytes[0]);
    free(bytes[1]);
}

static void lane_codes(void)
{
    static const int64_t columns[] = {1, 7, 8, 33, 384};
    for (size_t i = 0; i < HG_COUNT(columns); i++)
        for (int how = 0; how < 32; how++) {
            lane_codes_try(HOLO_I16, columns[i], how, 0xc7000000, 0x46fffe00); /* -2^15, 2^15 - 1 */
            lane_codes_try(HOLO_I8, columns[i], how, 0xc3000000, 0x42fe0000);
            lane_codes_try(HOLO_U8, columns[i], how, 0x00000000, 0x437f0000);
            lane_codes_try(HOLO_U8, columns[i], how, 0x40000000, 0x437f0000); /* from 2 on */
        }
}

#if defined(TUNED)
/* Codes become floats: a zero point or none, a factor for all, each row or each column, on either
 * side. */
static void lane_floats_try(holo_dtype dtype, int64_t columns, int how)
{
    const bool has_zero = (how & 1) != 0, is_left = (how & 2) != 0;
    const int factor = how / 4; /* constant, columns, rows, elements where the result goes */
    hg_lane_op op[6] = {
        {.op = HG_LANE_LOAD, .type = HG_LANE_I32, .dst = 0},
        {.op = HG_LANE_CAST, .type = HG_LANE_F32, .dst = 1, .index = HG_LANE_I32},
        {.op = HG_LANE_CONST, .type = HG_LANE_F32, .dst = 2, .imm = 0x42f00000},
        {.op = HG_LANE_SUB, .type = HG_LANE_F32, .dst = 3, .a = 1, .b = 2},
        {.op = HG_LANE_CONST, .type = HG_LANE_F32, .dst = 4, .imm = 0x3dcccccd},
    };
    const uint16_t value = has_zero ? 3 : 1;
    if (factor != 0)
        op[4] = (hg_lane_op){.op = HG_LANE_LOAD, .type = HG_LANE_F32, .dst = 4, .index = 1};
    op[5] = (hg_lane_op){.op = HG_LANE_MUL,
                         .type = HG_LANE_F32,
                         .dst = 5,
                         .a = is_left ? 4 : value,
                         .b = is_left ? value : 4};
    const hg_lane_out out = {5, HG_LANE_F32, 0};
    const hg_lane_code code = {op, &out, 6, factor != 0 ? 2 : 1, 1, 6};
    static float expected[30 * 400];
    move_call c = {0};
    move_in(&c, dtype, 2, MOVE_DIMS(30, columns));
    if (factor == 1) value_in(&c, HOLO_F32, 1, MOVE_DIMS(columns), 2);
    if (factor == 2) value_in(&c, HOLO_F32, 2, MOVE_DIMS(30, 1), 2);
    if (factor == 3) value_in(&c, HOLO_F32, 2, MOVE_DIMS(30, columns), 2);
    move_out(&c, HOLO_F32, 2, MOVE_DIMS(30, columns));
    c.args.code = &code;
    const size_t bytes = holo_tensor_bytes(&c.out[0]);
    if (move_run(hg_kernels_lane, &c)) {
        memcpy(expected, c.out[0].data, bytes);
        memset(c.out[0].data, 0, bytes);
        if (move_run(TUNED(lane), &c)) CHECK_MEM(c.out[0].data, expected, bytes);
        if (factor == 3) {
            const hg_work work = hg_kernel_work(TUNED(lane), &c.args);
            void *separate = c.out[0].data, *scratch = malloc(work.scratch);
            c.out[0].data = c.in[1].data;
            TUNED(lane)->run(&c.args, (hg_range){0, work.units, scratch});
            CHECK_MEM(c.out[0].data, expected, bytes);
            c.out[0].data = separate;
            free(scratch);
        }
    }
    move_free(&c);
}

static void lane_floats(void)
{
    static const int64_t columns[] = {1, 7, 8, 9, 33, 400};
    if (!tuned_runs()) return;
    for (size_t i = 0; i < HG_COUNT(columns); i++)
        for (int how = 0; how < 16; how++) {
            lane_floats_try(HOLO_U8, columns[i], how);
            lane_floats_try(HOLO_I8, columns[i], how);
            lane_floats_try(HOLO_U16, columns[i], how);
        }
}
#endif

const hg_test_case hg_tests_kernel_lane[] = {
    {"broadcasts", lane_broadcasts},
    {"two_results", lane_two_results},
    {"in_place", lane_in_place},
    {"packed", lane_packed},
    {"fault_index", lane_fault_index},
    {"cost", lane_cost},
    {"refuses", lane_refuses},
#if defined(TUNED)
    {"pairs", lane_pairs},
    {"repeats", lane_repeats},
    {"integers", lane_integers},
    {"fast", lane_fast},
    {"fast_two", lane_fast_two},
    {"fast_alone", lane_fast_alone},
    {"floats", lane_floats},
#endif
    {"codes", lane_codes},
    {0},
};
