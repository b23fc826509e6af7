/* lane_verify.c - what verification of lane code refuses, one rule at a time. */
#include "isa/kernel.h"
#include "test.h"

/* ---- verification -----------------------------------------------------------------------------
 */

/* load 0, load 1, add, lt, select, cast, narrow: everything that can be wrong. */
typedef struct verify_program {
    hg_lane_op op[8];
    hg_lane_out out[2];
    hg_lane_code code;
} verify_program;

static void verify_program_init(verify_program *p)
{
    *p = (verify_program){
        .op = {{.op = HG_LANE_LOAD, .type = HG_LANE_F32, .dst = 0, .index = 0},
               {.op = HG_LANE_LOAD, .type = HG_LANE_F32, .dst = 1, .index = 1},
               {.op = HG_LANE_ADD, .type = HG_LANE_F32, .dst = 2, .a = 0, .b = 1},
               {.op = HG_LANE_LT, .type = HG_LANE_F32, .dst = 3, .a = 0, .b = 1},
               {.op = HG_LANE_SELECT, .type = HG_LANE_F32, .dst = 2, .a = 3, .b = 2, .c = 1},
               {.op = HG_LANE_CAST, .type = HG_LANE_I32, .dst = 4, .a = 2, .index = HG_LANE_F32},
               {.op = HG_LANE_NARROW, .type = HG_LANE_I32, .dst = 4, .a = 4, .index = HOLO_I8},
               {.op = HG_LANE_CONST, .type = HG_LANE_I64, .dst = 5, .imm = UINT64_MAX}},
        .out = {{2, HG_LANE_F32, 0}, {4, HG_LANE_I32, 1}}};
    p->code = (hg_lane_code){p->op, p->out, 8, 2, 2, 6};
}

static void verify_refuse(int number, const char *sentence, void (*change)(verify_program *p))
{
    verify_program p;
    holo_error e = {0};
    verify_program_init(&p);
    CHECK_OK(hg_lane_verify(&p.code, &e), &e);
    change(&p);
    if (hg_lane_verify(&p.code, &e) == HOLO_OK)
        hg_test_fail(HG_TEST_HERE, "bad program %d (%s) was accepted", number, sentence);
    else
        CHECK_HAS(e.message, sentence);
}

#define LANE_BAD(X)                                                                                \
    X(1, "4097 operations", p->code.n_op = HG_LANE_MAX_OP + 1)                                     \
    X(2, "257 registers", p->code.n_reg = HG_LANE_MAX_REG + 1)                                     \
    X(3, "65 operands", p->code.n_in = HG_LANE_MAX_IO + 1)                                         \
    X(4, "0 results", p->code.n_out = 0)                                                           \
    X(5, "65 results", p->code.n_out = HG_LANE_MAX_IO + 1)                                         \
    X(6, "unknown opcode 9", p->op[2].op = 9)                                                      \
    X(7, "cannot have type unknown", p->op[2].type = 6)                                            \
    X(8, "cannot have type none", p->op[2].type = 0)                                               \
    X(9, "exp, cannot have type i32", (p->op[2].op = HG_LANE_EXP, p->op[2].type = HG_LANE_I32))    \
    X(10, "and, cannot have type f32", p->op[2].op = HG_LANE_AND)                                  \
    X(11, "in a field that is 0", p->op[2].zero = 1)                                               \
    X(12, "writes register 6 of 6", p->op[2].dst = 6)                                              \
    X(13, "add, reads register 6 of 6", p->op[2].a = 6)                                            \
    X(14, "add, reads register 6 of 6", p->op[2].b = 6)                                            \
    X(15, "add, has more than 2 operands", p->op[2].c = 1)                                         \
    X(16, "select, reads register 6 of 6", p->op[4].c = 6)                                         \
    X(17, "loads operand 2 of 2", p->op[0].index = 2)                                              \
    X(18, "casts from unknown type 0", p->op[5].index = 0)                                         \
    X(19, "casts from unknown type 6", p->op[5].index = 6)                                         \
    X(20, "narrows i32 to element type 1", p->op[6].index = HOLO_F32)                              \
    X(21, "narrows i32 to element type 8", p->op[6].index = HOLO_STRING)                           \
    X(22, "add, has index 1 and immediate 0, not 0", p->op[2].index = 1)                           \
    X(23, "add, has index 0 and immediate 1, not 0", p->op[2].imm = 1)                             \
    X(24, "has the immediate 2, expected at most 1", p->op[6].imm = 2)                             \
    X(25, "expected at most 4294967295", p->op[7].type = HG_LANE_I32)                              \
    X(26, "reads register 5 before it is written", p->op[2].b = 5)                                 \
    X(27, "wants f32 and register 3 holds i32", (p->op[4].b = 3))                                  \
    X(28, "wants i32 and register 1 holds f32", (p->op[4].a = 1))                                  \
    X(29, "wants f64 and register 2 holds f32", p->op[5].index = HG_LANE_F64)                      \
    X(30, "result 0 is register 6", p->out[0].reg = 6)                                             \
    X(31, "result 0 is register 5, which is never written", (p->out[0].reg = 5, p->code.n_op = 7)) \
    X(32, "result 0 wants f64 and register 2 holds f32", p->out[0].type = HG_LANE_F64)             \
    X(33, "result 1 has the flag 2", p->out[1].saturate = 2)                                       \
    X(34, "index, cannot have type f32",                                                           \
      (p->op[2] = (hg_lane_op){.op = HG_LANE_INDEX, .type = 1}))                                   \
    X(35, "load, has the immediate 1, expected at most 0", p->op[0].imm = 1)                       \
    X(36, "const, has index 1, not 0", p->op[7].index = 1)                                         \
    X(37, "cast, has more than 1 operands", p->op[5].b = 1)                                        \
    X(38, "load, has operands and takes none", p->op[1].a = 1)                                     \
    X(39, "const, has operands and takes none", p->op[7].b = 1)                                    \
    X(40, "load, has operands and takes none", p->op[1].c = 1)

#define X(number, sentence, change)                                                                \
    static void verify_bad_##number(verify_program *p)                                             \
    {                                                                                              \
        change;                                                                                    \
    }
LANE_BAD(X)
#undef X

static void verify_refuses(void)
{
#define X(number, sentence, change) verify_refuse(number, sentence, verify_bad_##number);
    LANE_BAD(X)
#undef X
}

/* Nothing that was damaged passes for a variation of what was proved; other constants do. */
static void verify_alike(void)
{
    verify_program right, p;
    verify_program_init(&right);
#define X(number, sentence, change)                                                                \
    verify_program_init(&p);                                                                       \
    verify_bad_##number(&p);                                                                       \
    CHECK(!hg_lane_is_alike(&p.code, &right.code));
    LANE_BAD(X)
#undef X
    verify_program_init(&p);
    p.op[7].imm = 7;
    CHECK(hg_lane_is_alike(&p.code, &right.code));
    right.op[7].type = p.op[7].type = HG_LANE_F32;
    right.op[7].imm = 1;
    CHECK(hg_lane_is_alike(&p.code, &right.code));
    p.op[7].imm = UINT64_C(1) << 32; /* more bits than the type has */
    CHECK(!hg_lane_is_alike(&p.code, &right.code));
    p.op[7].imm = 7;
    p.code.n_in = 3;
    CHECK(!hg_lane_is_alike(&p.code, &right.code));
    p.code.n_in = 2;
    p.code.n_reg = 7;
    CHECK(!hg_lane_is_alike(&p.code, &right.code));
    p.code.n_reg = 6;
    p.code.n_out = 1;
    CHECK(!hg_lane_is_alike(&p.code, &right.code));
}

static void verify_check_types_refuses(void)
{
    verify_program p;
    holo_error e = {0};
    verify_program_init(&p);
    holo_dtype in[2] = {HOLO_F16, HOLO_F8E4M3FN}, out[2] = {HOLO_BF16, HOLO_U4};
    CHECK_OK(hg_lane_check_types(&p.code, in, out, &e), &e);
    in[1] = HOLO_F64;
    CHECK_STATUS(hg_lane_check_types(&p.code, in, out, &e), HOLO_E_TYPE);
    CHECK_HAS(e.message, "operand 1 has type float64, which does not load as f32");
    in[1] = HOLO_NONE;
    CHECK_STATUS(hg_lane_check_types(&p.code, in, out, &e), HOLO_E_TYPE);
    in[1] = HOLO_F32;
    out[1] = HOLO_I64;
    CHECK_STATUS(hg_lane_check_types(&p.code, in, out, &e), HOLO_E_TYPE);
    CHECK_HAS(e.message, "result 1 has type int64, which does not store i32");
}

static void verify_facts(void)
{
    CHECK_STR(hg_lane_op_text(HG_LANE_SIGMOID), "sigmoid");
    CHECK_STR(hg_lane_op_text(250), "unknown");
    CHECK_EQ_INT(hg_lane_operands(HG_LANE_SELECT), 3);
    CHECK_EQ_INT(hg_lane_operands(HG_LANE_LOAD), 0);
    CHECK_EQ_INT(hg_lane_operands(0), -1);
    CHECK_EQ_INT(hg_lane_op_result(HG_LANE_EQ, HG_LANE_F64), HG_LANE_I32);
    CHECK_EQ_INT(hg_lane_op_result(HG_LANE_ISNAN, HG_LANE_F32), HG_LANE_I32);
    CHECK_EQ_INT(hg_lane_op_result(HG_LANE_CAST, HG_LANE_F64), HG_LANE_F64);
    CHECK_EQ_INT(hg_lane_type_of(HOLO_U32), HG_LANE_U64);
    CHECK_EQ_INT(hg_lane_type_of(HOLO_C64), 0);
    CHECK_EQ_INT(hg_lane_type_of(HOLO_I2), HG_LANE_I32);
    CHECK_EQ_INT(hg_lane_type_of(HOLO_F4E2M1), HG_LANE_F32);
}

const hg_test_case hg_tests_isa_lane_verify[] = {
    {"refuses", verify_refuses},
    {"alike", verify_alike},
    {"check_types_refuses", verify_check_types_refuses},
    {"facts", verify_facts},
    {0},
};
