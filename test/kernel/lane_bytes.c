/* lane_bytes.c - kernel "lane.bytes": bodies of bytes and bodies that only look like it give what
 * the reference interpreter gives. */
#include "kernel/lane_bytes.h"
#include "kernel/lane_code.h"
#include "kernel/value.h"
#include "kernel/variants.h"

extern const hg_kernel hg_kernels_lane_bytes[];

#define CONST(T, to, bits)                                                                         \
    {                                                                                              \
        .op = HG_LANE_CONST, .type = HG_LANE_##T, .dst = to, .imm = bits                           \
    }
#define SELECT(to, x, y, z)                                                                        \
    {                                                                                              \
        .op = HG_LANE_SELECT, .type = HG_LANE_I32, .dst = to, .a = x, .b = y, .c = z               \
    }

typedef struct bytes_case {
    hg_lane_op op[8];
    uint32_t n_op;
    holo_dtype in[2], out;
    bool fits;
} bytes_case;

/* The result is register 7; of two operands. */
static const bytes_case bytes_cases[] = {
    {{LOAD(I32, 0, 0), LOAD(I32, 1, 1), STEP(AND, I32, 7, 0, 1)},
     3,
     {HOLO_BOOL, HOLO_BOOL},
     HOLO_BOOL,
     true},
    {{LOAD(I32, 0, 0), LOAD(I32, 1, 1), STEP(XOR, I32, 0, 0, 1), STEP(OR, I32, 7, 0, 1)},
     4,
     {HOLO_BOOL, HOLO_BOOL},
     HOLO_U8,
     true},
    {{LOAD(I32, 0, 0), LOAD(I32, 1, 1), STEP(LT, I32, 2, 0, 1), CONST(I32, 3, 1),
      STEP(XOR, I32, 7, 2, 3)},
     5,
     {HOLO_U8, HOLO_U8},
     HOLO_BOOL,
     true},
    {{LOAD(I32, 0, 0), LOAD(I32, 1, 1), STEP(LE, I32, 2, 0, 1), STEP(MAX, I32, 3, 0, 1),
      SELECT(7, 2, 3, 0)},
     5,
     {HOLO_I8, HOLO_I8},
     HOLO_I8,
     true},
    {{LOAD(I32, 0, 0), LOAD(I32, 1, 1), STEP(MIN, I32, 2, 0, 1), STEP(LT, I32, 3, 2, 1),
      STEP(EQ, I32, 4, 0, 1), STEP(OR, I32, 7, 3, 4)},
     6,
     {HOLO_I8, HOLO_BOOL},
     HOLO_BOOL,
     true},
    {{LOAD(I32, 0, 0), LOAD(I32, 1, 1), STEP(AND, I32, 7, 0, 1)},
     3,
     {HOLO_U8, HOLO_U8},
     HOLO_BOOL,
     true}, /* not 0 or 1 by itself */
    {{LOAD(F32, 0, 0), LOAD(F32, 1, 1), STEP(LT, F32, 7, 0, 1)},
     3,
     {HOLO_F32, HOLO_F32},
     HOLO_BOOL,
     true},
    {{LOAD(F32, 0, 0), CONST(F32, 1, 0), STEP(EQ, F32, 2, 0, 1), CONST(I32, 3, 1),
      STEP(XOR, I32, 7, 2, 3)},
     5,
     {HOLO_F32, HOLO_F32},
     HOLO_BOOL,
     true},
    {{LOAD(F32, 0, 0), LOAD(F32, 1, 1), STEP(LE, F32, 2, 1, 0), STEP(LE, F32, 3, 0, 1),
      STEP(AND, I32, 7, 2, 3)},
     5,
     {HOLO_F32, HOLO_F32},
     HOLO_I8,
     true},
    {{LOAD(I32, 0, 0), LOAD(I32, 1, 1), STEP(LE, I32, 2, 0, 1), CONST(I32, 3, 1000),
      STEP(LT, I32, 4, 0, 3), STEP(OR, I32, 7, 2, 4)},
     6,
     {HOLO_I32, HOLO_I32},
     HOLO_BOOL,
     true},
    {{LOAD(I64, 0, 0), LOAD(I64, 1, 1), STEP(EQ, I64, 7, 0, 1)},
     3,
     {HOLO_I64, HOLO_I64},
     HOLO_BOOL,
     true},
    {{LOAD(I64, 0, 0), CONST(I64, 1, 0), STEP(LT, I64, 7, 1, 0)},
     3,
     {HOLO_I64, HOLO_I64},
     HOLO_BOOL,
     true},
    {{LOAD(I32, 7, 0)}, 1, {HOLO_BOOL, HOLO_BOOL}, HOLO_U8, true},
    /* values that are no bytes: sums, codes of both kinds, large constants, wider operands */
    {{LOAD(I32, 0, 0), LOAD(I32, 1, 1), STEP(ADD, I32, 7, 0, 1)},
     3,
     {HOLO_U8, HOLO_U8},
     HOLO_U8,
     false},
    {{LOAD(I32, 0, 0), LOAD(I32, 1, 1), STEP(LT, I32, 7, 0, 1)},
     3,
     {HOLO_U8, HOLO_I8},
     HOLO_BOOL,
     false},
    {{LOAD(I32, 0, 0), CONST(I32, 1, 300), STEP(LT, I32, 7, 0, 1)},
     3,
     {HOLO_U8, HOLO_U8},
     HOLO_BOOL,
     false},
    {{LOAD(I32, 0, 0), CONST(I32, 1, 200), STEP(LT, I32, 7, 0, 1)},
     3,
     {HOLO_I8, HOLO_I8},
     HOLO_BOOL,
     false},
    {{LOAD(I32, 0, 0), CONST(I32, 1, UINT32_MAX), STEP(MAX, I32, 7, 0, 1)},
     3,
     {HOLO_U8, HOLO_U8},
     HOLO_U8,
     false},
    {{LOAD(I32, 0, 0), LOAD(I32, 1, 1), STEP(AND, I32, 7, 0, 1)},
     3,
     {HOLO_I32, HOLO_BOOL},
     HOLO_BOOL,
     false},
    {{LOAD(I32, 0, 0), LOAD(I32, 1, 1), STEP(EQ, I32, 7, 0, 1)},
     3,
     {HOLO_I32, HOLO_BOOL},
     HOLO_BOOL,
     false},
    {{LOAD(F32, 0, 0), LOAD(F32, 1, 1), STEP(MAX, F32, 2, 0, 1), STEP(LT, F32, 7, 2, 1)},
     4,
     {HOLO_F32, HOLO_F32},
     HOLO_BOOL,
     false},
    {{LOAD(I32, 0, 0), LOAD(I32, 1, 1), STEP(LT, I32, 7, 0, 1)},
     3,
     {HOLO_U16, HOLO_U16},
     HOLO_BOOL,
     false},
    {{LOAD(I32, 0, 0), LOAD(I32, 1, 1), STEP(XOR, I32, 7, 0, 1)},
     3,
     {HOLO_U8, HOLO_U8},
     HOLO_I32,
     false},
    /* a constant that is a byte for one and a word for another */
    {{LOAD(I32, 0, 0), LOAD(I32, 1, 1), CONST(I32, 2, 1), STEP(LT, I32, 3, 0, 2),
      STEP(AND, I32, 7, 3, 2)},
     5,
     {HOLO_I32, HOLO_I32},
     HOLO_BOOL,
     false},
};

static void bytes_which(void)
{
    for (size_t i = 0; i < HG_COUNT(bytes_cases); i++) {
        const bytes_case *c = &bytes_cases[i];
        hg_lane_out out = {7, HG_LANE_I32, 0};
        const hg_lane_code code = {c->op, &out, c->n_op, 2, 1, 8};
        hg_lane_bytes bytes;
        if (!CHECK_EQ_INT(hg_lane_bytes_read(&code, c->in, &c->out, &bytes), c->fits))
            printf("    case %zu\n", i);
        out.saturate = 1;
        CHECK(!hg_lane_bytes_read(&code, c->in, &c->out, &bytes));
    }
}

#if defined(TUNED)
extern const hg_kernel TUNED(lane_bytes)[];

typedef struct bytes_shape {
    int64_t first[2], second[2], out[2];
} bytes_shape;

static const bytes_shape bytes_shapes[] = {
    {{1, 1}, {1, 1}, {1, 1}},          {{1, 31}, {1, 31}, {1, 31}},
    {{1, 32}, {1, 32}, {1, 32}},       {{1, 5000}, {1, 5000}, {1, 5000}},
    {{1, 4113}, {1, 1}, {1, 4113}},    {{1, 1}, {1, 4113}, {1, 4113}},
    {{70, 99}, {70, 1}, {70, 99}},     {{70, 1}, {1, 99}, {70, 99}},
    {{3, 3000}, {1, 3000}, {3, 3000}}, {{200, 7}, {1, 7}, {200, 7}},
    {{1, 1}, {1, 1}, {9, 130}},
};

/* Any bytes: truths other than 1, all codes, floats that are no numbers. Often the same. */
static void bytes_fill(holo_tensor *t, uint64_t seed)
{
    static const float odd[] = {NAN, INFINITY, -INFINITY, -0.0F, 0.0F, 1.0F};
    for (int64_t i = 0; i < holo_tensor_count(t); i++) {
        const double v = value_random(&seed);
        if (t->dtype == HOLO_F32)
            ((float *)t->data)[i] = odd[(int)(v * 6)];
        else if (hg_dtype_bits(t->dtype) == 8)
            ((uint8_t *)t->data)[i] = v < 0.4 ? 0 : (uint8_t)(v * 256);
        else if (t->dtype == HOLO_U16)
            ((uint16_t *)t->data)[i] = (uint16_t)(v * 60000);
        else
            value_set(t, i, floor(v * 5) * 500 - 500);
    }
}

static void bytes_try(const bytes_case *b, const bytes_shape *s)
{
    const hg_lane_out out = {7, HG_LANE_I32, 0};
    const hg_lane_code code = {b->op, &out, b->n_op, 2, 1, 8};
    move_call c = {0};
    bytes_fill(move_in(&c, b->in[0], 2, s->first), 5);
    bytes_fill(move_in(&c, b->in[1], 2, s->second), 6);
    move_out(&c, b->out, 2, s->out);
    c.args.code = &code;
    static uint8_t expected[40000];
    const size_t bytes = holo_tensor_bytes(&c.out[0]);
    if (CHECK(bytes <= sizeof expected) && move_run(hg_kernels_lane_bytes, &c)) {
        memcpy(expected, c.out[0].data, bytes);
        memset(c.out[0].data, 9, bytes);
        if (move_run(TUNED(lane_bytes), &c) && !CHECK_MEM(c.out[0].data, expected, bytes))
            printf("    case %td, shape %td\n", b - bytes_cases, s - bytes_shapes);
        const bool is_same = bytes == holo_tensor_bytes(&c.in[0]) && s->first[0] == s->out[0];
        void *separate = c.out[0].data;
        if (is_same) {
            const hg_work work = hg_kernel_work(TUNED(lane_bytes), &c.args);
            void *scratch = malloc(work.scratch);
            c.out[0].data = c.in[0].data;
            TUNED(lane_bytes)->run(&c.args, (hg_range){0, work.units, scratch});
            CHECK_MEM(c.out[0].data, expected, bytes);
            free(scratch);
        }
        c.out[0].data = separate;
    }
    move_free(&c);
}

static void bytes_same(void)
{
    if (!tuned_runs()) return;
    for (size_t i = 0; i < HG_COUNT(bytes_cases); i++)
        for (size_t k = 0; k < HG_COUNT(bytes_shapes); k++)
            bytes_try(&bytes_cases[i], &bytes_shapes[k]);
}
#endif

const hg_test_case hg_tests_kernel_lane_bytes[] = {
    {"which", bytes_which},
#if defined(TUNED)
    {"same", bytes_same},
#endif
    {0},
};
