/* lane_build.c - building lane code: what folds, what is shared, what is refused. */
#include "base/half.h"
#include "isa/kernel.h"
#include "test.h"

#include <math.h>
#include <stdlib.h>

typedef struct build_test {
    hg_arena arena;
    hg_lane *b;
    hg_lane_code code;
    holo_error e;
} build_test;

static void build_begin(build_test *t)
{
    memset(t, 0, sizeof *t);
    hg_arena_init(&t->arena, NULL, 0);
    t->b = hg_lane_new(&t->arena);
}

static void build_end(build_test *t)
{
    hg_arena_deinit(&t->arena);
}

static holo_status build_finish(build_test *t, uint32_t n_in, hg_lane_id result)
{
    hg_lane_out kind = {0};
    return hg_lane_finish(t->b, n_in, &result, &kind, 1, &t->code, &t->e);
}

static hg_lane_id build_f32(build_test *t, double x)
{
    return hg_lane_const_f(t->b, HG_LANE_F32, x);
}

static uint32_t build_count(const hg_lane_code *code, uint32_t op)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < code->n_op; i++)
        n += code->op[i].op == op;
    return n;
}

/* The code's value on one element. */
static double build_value(const hg_lane_code *code, float x, float y)
{
    hg_lane_view in[2] = {{.data = &x, .col = 1, .dtype = HOLO_F32},
                          {.data = &y, .col = 1, .dtype = HOLO_F32}};
    static const holo_dtype dtypes[] = {HOLO_NONE, HOLO_F32, HOLO_F64,
                                        HOLO_I32,  HOLO_I64, HOLO_U64};
    union {
        float f32;
        double f64;
        int32_t i32;
        int64_t i64;
    } r = {0};
    hg_lane_view out = {.data = &r, .col = 1, .dtype = dtypes[code->out[0].type]};
    void *scratch = malloc(hg_lane_scratch(code));
    hg_lane_tile tile = {in, &out, 1, 1, 0, 1, scratch, NULL, NULL};
    hg_lane_run(code, &tile);
    free(scratch);
    switch (code->out[0].type) {
    case HG_LANE_F32: return (double)r.f32;
    case HG_LANE_F64: return r.f64;
    case HG_LANE_I32: return r.i32;
    default: return (double)r.i64;
    }
}

static void build_computes(void)
{
    build_test t;
    build_begin(&t);
    hg_lane_id x = hg_lane_load(t.b, 0, HG_LANE_F32), y = hg_lane_load(t.b, 1, HG_LANE_F32);
    hg_lane_id less = hg_lane_2(t.b, HG_LANE_LT, x, y);
    hg_lane_id sum = hg_lane_2(t.b, HG_LANE_ADD, x, y);
    hg_lane_id r = hg_lane_select(t.b, less, hg_lane_1(t.b, HG_LANE_NEG, sum), sum);
    r = hg_lane_2(t.b, HG_LANE_MUL, r, build_f32(&t, 0.5));
    CHECK_OK(build_finish(&t, 2, r), &t.e);
    CHECK(build_value(&t.code, 1, 4) == -2.5);
    CHECK(build_value(&t.code, 4, 1) == 2.5);
    CHECK_EQ_INT(t.code.n_op, 8);
    CHECK_EQ_INT(t.code.op[0].op, HG_LANE_CONST); /* constants come first */
    build_end(&t);
}

static void build_shares_equal_values(void)
{
    build_test t;
    build_begin(&t);
    hg_lane_id x = hg_lane_load(t.b, 0, HG_LANE_F32);
    CHECK_EQ_INT(hg_lane_load(t.b, 0, HG_LANE_F32), x);
    hg_lane_id a = hg_lane_1(t.b, HG_LANE_EXP, x);
    for (int i = 0; i < 200; i++) /* the table of values grows meanwhile */
        (void)hg_lane_2(t.b, HG_LANE_ADD, x, build_f32(&t, i + 0.25));
    CHECK_EQ_INT(hg_lane_1(t.b, HG_LANE_EXP, x), a);
    CHECK(hg_lane_1(t.b, HG_LANE_LOG, x) != a);
    CHECK_EQ_INT(build_f32(&t, 7.25),
                 hg_lane_cast(t.b, hg_lane_const_f(t.b, HG_LANE_F64, 7.25), HG_LANE_F32));
    CHECK(build_f32(&t, 0.0) != build_f32(&t, -0.0));
    CHECK_EQ_INT(hg_lane_index(t.b), hg_lane_index(t.b));
    build_end(&t);
}

static void build_drops_dead_code(void)
{
    build_test t;
    build_begin(&t);
    hg_lane_id x = hg_lane_load(t.b, 0, HG_LANE_F32), y = hg_lane_load(t.b, 1, HG_LANE_F32);
    (void)hg_lane_1(t.b, HG_LANE_SIN, hg_lane_2(t.b, HG_LANE_ADD, x, y));
    CHECK_OK(build_finish(&t, 2, hg_lane_1(t.b, HG_LANE_ABS, x)), &t.e);
    CHECK_EQ_INT(t.code.n_op, 2);
    CHECK_EQ_INT(t.code.n_in, 2);
    build_end(&t);
}

static void build_folds_constants(void)
{
    build_test t;
    build_begin(&t);
    hg_lane_id two = build_f32(&t, 2), half = build_f32(&t, 0.5);
    CHECK_EQ_INT(hg_lane_2(t.b, HG_LANE_MUL, two, half), build_f32(&t, 1));
    CHECK_EQ_INT(hg_lane_1(t.b, HG_LANE_NEG, two), build_f32(&t, -2));
    CHECK_EQ_INT(hg_lane_2(t.b, HG_LANE_LT, half, two), hg_lane_const_i(t.b, HG_LANE_I32, 1));
    CHECK_EQ_INT(hg_lane_cast(t.b, build_f32(&t, -3.75), HG_LANE_I64),
                 hg_lane_const_i(t.b, HG_LANE_I64, -3));
    CHECK_EQ_INT(hg_lane_const_f(t.b, HG_LANE_I32, 41.9), hg_lane_const_i(t.b, HG_LANE_I32, 41));
    CHECK_EQ_INT(hg_lane_const_i(t.b, HG_LANE_U64, -1),
                 hg_lane_1(t.b, HG_LANE_NOT, hg_lane_const_i(t.b, HG_LANE_U64, 0)));
    CHECK_EQ_INT(hg_lane_narrow(t.b, hg_lane_const_i(t.b, HG_LANE_I32, 300), HOLO_U8, false),
                 hg_lane_const_i(t.b, HG_LANE_I32, 44));
    CHECK_EQ_INT(hg_lane_narrow(t.b, hg_lane_const_i(t.b, HG_LANE_I32, 300), HOLO_U8, true),
                 hg_lane_const_i(t.b, HG_LANE_I32, 255));
    /* The same function folds as runs. */
    float e = 0;
    hg_lane_id folded = hg_lane_1(t.b, HG_LANE_EXP, two);
    CHECK_OK(build_finish(&t, 0, folded), &t.e);
    CHECK_EQ_INT(t.code.n_op, 1);
    memcpy(&e, &(uint32_t){(uint32_t)t.code.op[0].imm}, sizeof e);
    hg_lane_id x = hg_lane_load(t.b, 0, HG_LANE_F32);
    CHECK_OK(build_finish(&t, 1, hg_lane_1(t.b, HG_LANE_EXP, x)), &t.e);
    CHECK((double)e == build_value(&t.code, 2, 0));
    /* A division that faults must fault when it runs. */
    hg_lane_id zero = hg_lane_const_i(t.b, HG_LANE_I32, 0);
    hg_lane_id q = hg_lane_2(t.b, HG_LANE_DIV, hg_lane_const_i(t.b, HG_LANE_I32, 5), zero);
    CHECK_OK(build_finish(&t, 0, q), &t.e);
    CHECK_EQ_INT(build_count(&t.code, HG_LANE_DIV), 1);
    CHECK_EQ_INT(hg_lane_2(t.b, HG_LANE_DIV, two, build_f32(&t, 0)),
                 build_f32(&t, (double)INFINITY));
    build_end(&t);
}

static void build_identities(void)
{
    build_test t;
    build_begin(&t);
    hg_lane *b = t.b;
    hg_lane_id x = hg_lane_load(b, 0, HG_LANE_F32), one = build_f32(&t, 1), zero = build_f32(&t, 0);
    hg_lane_id i = hg_lane_load(b, 1, HG_LANE_I32), none = hg_lane_const_i(b, HG_LANE_I32, 0);
    CHECK_EQ_INT(hg_lane_2(b, HG_LANE_MUL, x, one), x);
    CHECK_EQ_INT(hg_lane_2(b, HG_LANE_MUL, one, x), x);
    CHECK_EQ_INT(hg_lane_2(b, HG_LANE_DIV, x, one), x);
    CHECK_EQ_INT(hg_lane_2(b, HG_LANE_SUB, x, zero), x);
    CHECK(hg_lane_2(b, HG_LANE_ADD, x, zero) != x); /* -0 + 0 is 0 */
    CHECK_EQ_INT(hg_lane_2(b, HG_LANE_ADD, i, none), i);
    CHECK_EQ_INT(hg_lane_2(b, HG_LANE_ADD, none, i), i);
    CHECK_EQ_INT(hg_lane_2(b, HG_LANE_OR, i, none), i);
    CHECK_EQ_INT(hg_lane_2(b, HG_LANE_OR, none, i), i);
    CHECK_EQ_INT(hg_lane_2(b, HG_LANE_XOR, i, none), i);
    CHECK_EQ_INT(hg_lane_2(b, HG_LANE_SHL, i, none), i);
    CHECK_EQ_INT(hg_lane_2(b, HG_LANE_SHR, i, none), i);
    CHECK_EQ_INT(hg_lane_2(b, HG_LANE_AND, i, i), i);
    CHECK_EQ_INT(hg_lane_1(b, HG_LANE_NEG, hg_lane_1(b, HG_LANE_NEG, x)), x);
    CHECK_EQ_INT(hg_lane_1(b, HG_LANE_NOT, hg_lane_1(b, HG_LANE_NOT, i)), i);
    hg_lane_id floor = hg_lane_1(b, HG_LANE_FLOOR, x);
    CHECK_EQ_INT(hg_lane_1(b, HG_LANE_FLOOR, floor), floor);
    CHECK_EQ_INT(hg_lane_cast(b, x, HG_LANE_F32), x);
    CHECK_EQ_INT(hg_lane_narrow(b, x, HOLO_F32, false), x);
    hg_lane_id half = hg_lane_narrow(b, x, HOLO_F8E5M2, false);
    CHECK_EQ_INT(hg_lane_narrow(b, half, HOLO_F8E5M2, false), half);
    CHECK(hg_lane_narrow(b, half, HOLO_F8E5M2, true) != half); /* an infinity is clamped */
    CHECK(hg_lane_narrow(b, half, HOLO_F16, false) != half);
    CHECK_EQ_INT(hg_lane_select(b, i, x, x), x);
    CHECK_EQ_INT(hg_lane_select(b, hg_lane_const_i(b, HG_LANE_I32, 3), x, one), x);
    CHECK_EQ_INT(hg_lane_select(b, none, x, one), one);
    build_end(&t);
}

static void build_reuses_registers(void)
{
    build_test t;
    build_begin(&t);
    hg_lane_id x = hg_lane_load(t.b, 0, HG_LANE_F32), r = x;
    for (int i = 0; i < 500; i++)
        r = hg_lane_1(t.b, i % 2 == 0 ? HG_LANE_SIN : HG_LANE_COS, r);
    CHECK_OK(build_finish(&t, 1, r), &t.e);
    CHECK_EQ_INT(t.code.n_op, 501);
    CHECK(t.code.n_reg <= 3);
    /* More loads and constants than registers: they take turns. */
    r = x;
    for (uint32_t i = 0; i < 400; i++)
        r = hg_lane_2(t.b, HG_LANE_ADD, hg_lane_1(t.b, HG_LANE_SQRT, r),
                      hg_lane_1(t.b, HG_LANE_EXP, hg_lane_load(t.b, i % 64, HG_LANE_F32)));
    for (int i = 0; i < 20; i++)
        r = hg_lane_2(t.b, HG_LANE_ADD, r, build_f32(&t, i + 0.125));
    CHECK_OK(build_finish(&t, 64, r), &t.e);
    CHECK(t.code.n_reg <= HG_LANE_MAX_REG);
    build_end(&t);
}

static void build_inlines(void)
{
    build_test t;
    hg_lane_id in[2], out[1];
    build_begin(&t);
    hg_lane_id x = hg_lane_load(t.b, 0, HG_LANE_F32), y = hg_lane_load(t.b, 1, HG_LANE_F32);
    hg_lane_id r = hg_lane_2(t.b, HG_LANE_SUB, x, hg_lane_1(t.b, HG_LANE_ABS, y));
    r = hg_lane_2(t.b, HG_LANE_MUL, r, build_f32(&t, 3));
    CHECK_OK(build_finish(&t, 2, r), &t.e);
    hg_lane_code inner = t.code;
    in[0] = hg_lane_1(t.b, HG_LANE_NEG, x);
    in[1] = y;
    CHECK(hg_lane_inline(t.b, &inner, in, out));
    CHECK_OK(build_finish(&t, 2, out[0]), &t.e);
    CHECK(build_value(&t.code, 2, -5) == (-2 - 5) * 3);
    /* Loads are replaced, and equal values found again. */
    in[0] = x;
    CHECK(hg_lane_inline(t.b, &inner, in, out));
    CHECK_EQ_INT(out[0], r);
    in[0] = hg_lane_const_i(t.b, HG_LANE_I64, 1);
    CHECK(!hg_lane_inline(t.b, &inner, in, out));
    CHECK_STATUS(build_finish(&t, 2, r), HOLO_E_TYPE);
    CHECK_HAS(t.e.message, "an operand of another type in load");
    build_end(&t);
}

static void build_several_results(void)
{
    build_test t;
    build_begin(&t);
    hg_lane_id x = hg_lane_load(t.b, 0, HG_LANE_F32), i = hg_lane_cast(t.b, x, HG_LANE_I32);
    hg_lane_id out[3] = {x, i, build_f32(&t, 2)};
    hg_lane_out kind[3] = {{0, HG_LANE_F32, 0}, {0, 0, 1}, {0}};
    CHECK_OK(hg_lane_finish(t.b, 1, out, kind, 3, &t.code, &t.e), &t.e);
    CHECK_EQ_INT(t.code.out[1].type, HG_LANE_I32);
    CHECK_EQ_INT(t.code.out[1].saturate, 1);
    CHECK(t.code.out[0].reg != t.code.out[1].reg && t.code.out[1].reg != t.code.out[2].reg);
    build_end(&t);
}

/* ---- misuse ---------------------------------------------------------------------------------- */

/* Each makes one mistake, which finish reports. */
#define BUILD_BAD(X)                                                                               \
    X(1, HOLO_E_TYPE, "operands of different types in add", hg_lane_2(b, HG_LANE_ADD, x, i))       \
    X(2, HOLO_E_TYPE, "a type it does not take in exp", hg_lane_1(b, HG_LANE_EXP, i))              \
    X(3, HOLO_E_TYPE, "a type it does not take in and", hg_lane_2(b, HG_LANE_AND, x, x))           \
    X(4, HOLO_E_BUG, "a missing operand in neg", hg_lane_1(b, HG_LANE_NEG, 0))                     \
    X(5, HOLO_E_BUG, "a missing operand in neg", hg_lane_1(b, HG_LANE_NEG, 1000))                  \
    X(6, HOLO_E_BUG, "a missing operand in add", hg_lane_2(b, HG_LANE_ADD, x, 0))                  \
    X(7, HOLO_E_BUG, "one operand in add", hg_lane_1(b, HG_LANE_ADD, x))                           \
    X(8, HOLO_E_BUG, "one operand in cast", hg_lane_1(b, HG_LANE_CAST, x))                         \
    X(9, HOLO_E_BUG, "two operands in exp", hg_lane_2(b, HG_LANE_EXP, x, x))                       \
    X(10, HOLO_E_BUG, "two operands in unknown", hg_lane_2(b, (hg_lane_opcode)200, x, x))          \
    X(11, HOLO_E_TYPE, "different types in select", hg_lane_select(b, x, x, x))                    \
    X(12, HOLO_E_TYPE, "different types in select", hg_lane_select(b, i, x, i))                    \
    X(13, HOLO_E_BUG, "a missing operand in select", hg_lane_select(b, i, x, 0))                   \
    X(14, HOLO_E_BUG, "a missing operand in cast", hg_lane_cast(b, 0, HG_LANE_F32))                \
    X(15, HOLO_E_TYPE, "a type it does not take in cast", hg_lane_cast(b, x, (hg_lane_type)9))     \
    X(16, HOLO_E_BUG, "a missing operand in narrow", hg_lane_narrow(b, 0, HOLO_F16, false))        \
    X(17, HOLO_E_TYPE, "not computed so in narrow", hg_lane_narrow(b, x, HOLO_I8, false))          \
    X(18, HOLO_E_TYPE, "does not have in load", hg_lane_load(b, 64, HG_LANE_F32))                  \
    X(19, HOLO_E_TYPE, "does not have in load", hg_lane_load(b, 0, (hg_lane_type)0))

static void build_refuses(void)
{
#define X(number, status, sentence, mistake)                                                       \
    {                                                                                              \
        build_test t;                                                                              \
        build_begin(&t);                                                                           \
        hg_lane *b = t.b;                                                                          \
        hg_lane_id x = hg_lane_load(b, 0, HG_LANE_F32), i = hg_lane_load(b, 1, HG_LANE_I32);       \
        CHECK_EQ_INT(mistake, 0);                                                                  \
        CHECK_EQ_INT(hg_lane_1(b, HG_LANE_NEG, i), 0); /* nothing works after a mistake */         \
        CHECK_EQ_INT(build_f32(&t, 1), 0);                                                         \
        CHECK_EQ_INT(hg_lane_index(b), 0);                                                         \
        CHECK_STATUS(build_finish(&t, 2, x), status);                                              \
        CHECK_HAS(t.e.message, sentence);                                                          \
        build_end(&t);                                                                             \
    }
    BUILD_BAD(X)
#undef X
}

static void build_finish_refuses(void)
{
    build_test t;
    build_begin(&t);
    hg_lane_id x = hg_lane_load(t.b, 3, HG_LANE_F32), many[65] = {0};
    hg_lane_out kinds[65] = {{0}};
    CHECK_STATUS(build_finish(&t, 4, 0), HOLO_E_BUG);
    CHECK_HAS(t.e.message, "result 0 is missing");
    kinds[0].type = HG_LANE_F64;
    CHECK_STATUS(hg_lane_finish(t.b, 4, &x, kinds, 1, &t.code, &t.e), HOLO_E_TYPE);
    CHECK_HAS(t.e.message, "another type than asked for");
    CHECK_STATUS(hg_lane_finish(t.b, 4, many, kinds, 0, &t.code, &t.e), HOLO_E_LIMIT);
    CHECK_HAS(t.e.message, "0 results");
    CHECK_STATUS(hg_lane_finish(t.b, 4, many, kinds, 65, &t.code, &t.e), HOLO_E_LIMIT);
    CHECK_STATUS(build_finish(&t, 3, x), HOLO_E_FORMAT); /* loads operand 3 of 3 */
    CHECK_STATUS(hg_lane_finish(NULL, 3, &x, kinds, 1, &t.code, &t.e), HOLO_E_NOMEM);
    build_end(&t);
}

static void build_limits(void)
{
    build_test t;
    build_begin(&t);
    /* A chain of operations that is too long; then values that live too long. */
    hg_lane_id x = hg_lane_load(t.b, 0, HG_LANE_F32), r = x, held[300];
    for (int i = 0; i < HG_LANE_MAX_OP; i++)
        r = hg_lane_1(t.b, i % 2 == 0 ? HG_LANE_SIN : HG_LANE_COS, r);
    CHECK_STATUS(build_finish(&t, 1, r), HOLO_E_LIMIT);
    CHECK_HAS(t.e.message, "4097 operations");
    for (int i = 0; i < 300; i++)
        held[i] = hg_lane_1(t.b, HG_LANE_EXP, i == 0 ? x : held[i - 1]);
    r = x;
    for (int i = 0; i < 300; i++)
        r = hg_lane_2(t.b, HG_LANE_ADD, r, held[i]);
    CHECK_STATUS(build_finish(&t, 1, r), HOLO_E_LIMIT);
    CHECK_HAS(t.e.message, "alive at once");
    for (int i = 0; i < 5 * HG_LANE_MAX_OP && r != 0; i++)
        r = hg_lane_2(t.b, HG_LANE_ADD, r, x);
    CHECK_EQ_INT(r, 0);
    CHECK_STATUS(build_finish(&t, 1, x), HOLO_E_LIMIT);
    CHECK_HAS(t.e.message, "too many operations");
    build_end(&t);
}

/* The arena runs out at every possible place: no crash, and finish says so. */
static void build_without_memory(void)
{
    bool succeeded = false;
    for (size_t limit = 1; !succeeded && limit < 200000; limit += 997) {
        hg_arena arena;
        hg_arena_init(&arena, NULL, limit);
        hg_lane *b = hg_lane_new(&arena);
        hg_lane_id r = hg_lane_load(b, 0, HG_LANE_F32);
        for (int i = 0; i < 100; i++)
            r = hg_lane_2(b, HG_LANE_ADD, r, hg_lane_const_f(b, HG_LANE_F32, i + 0.5));
        hg_lane_out kind = {0};
        hg_lane_code code;
        holo_status status = hg_lane_finish(b, 1, &r, &kind, 1, &code, NULL);
        succeeded = status == HOLO_OK;
        CHECK(succeeded || status == HOLO_E_NOMEM);
        hg_arena_deinit(&arena);
    }
    CHECK(succeeded);
}

const hg_test_case hg_tests_isa_lane_build[] = {
    {"computes", build_computes},
    {"shares_equal_values", build_shares_equal_values},
    {"drops_dead_code", build_drops_dead_code},
    {"folds_constants", build_folds_constants},
    {"identities", build_identities},
    {"reuses_registers", build_reuses_registers},
    {"inlines", build_inlines},
    {"several_results", build_several_results},
    {"refuses", build_refuses},
    {"finish_refuses", build_finish_refuses},
    {"limits", build_limits},
    {"without_memory", build_without_memory},
    {0},
};
