/* lane.c - kernel "lane": broadcasting, splitting and packing around the interpreter. */
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
    }
}

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

const hg_test_case hg_tests_kernel_lane[] = {
    {"broadcasts", lane_broadcasts},   {"two_results", lane_two_results},
    {"in_place", lane_in_place},       {"packed", lane_packed},
    {"fault_index", lane_fault_index}, {"cost", lane_cost},
    {"refuses", lane_refuses},         {0},
};
