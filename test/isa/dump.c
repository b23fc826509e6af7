/* dump.c - the disassembly: every part of a line, hostile names, a sink that refuses. */
#include "isa/program.h"

#include "test.h"

#include <stdio.h>
#include <string.h>

/* Texts by position. */
#define TEXTS                                                                                      \
    "\0"               /* 0 */                                                                     \
    "net\0"            /* 1 */                                                                     \
    "x\0"              /* 5 */                                                                     \
    "y\0"              /* 7 */                                                                     \
    "batch\0"          /* 9 */                                                                     \
    "n items\0"        /* 15 */                                                                    \
    "matmul.p16\0"     /* 23 */                                                                    \
    "lane\0"           /* 34 */                                                                    \
    "fc\0"             /* 39 */                                                                    \
    "a\"b\\\x01\xff\0" /* 42 */                                                                    \
    "h\xc3\xa4\0"      /* 49 */

static const char texts[] = TEXTS;

static const hg_dim_rec dims[] = {
    {0},
    {.op = HG_DIM_SYMBOL, .value = 0},                           /* 1 batch */
    {.op = HG_DIM_CONST, .value = 3},                            /* 2 */
    {.op = HG_DIM_CONST, .value = 4},                            /* 3 */
    {.op = HG_DIM_MUL, .a = 1, .b = 3},                          /* 4 batch*4 */
    {.op = HG_DIM_SYMBOL, .value = 1},                           /* 5 'n items' */
    {.op = HG_DIM_CONST, .value = INT64_C(4602678819172646912)}, /* 6 0.5 as a double */
    {.op = HG_DIM_CONST, .value = INT64_MAX},                    /* 7 */
};

static const hg_symbol_rec symbols[] = {
    {.kind = HG_SYMBOL_INPUT, .name = 9, .at_most = 64},
    {.kind = HG_SYMBOL_CONTENT, .name = 15, .value = 6, .index = 2, .at_most = -1},
};

static const hg_value_rec values[] = {
    {0},
    {.dtype = HOLO_F32, .rank = 2, .storage = HG_STORAGE_INPUT, .dims = 0, .ref = 0},
    {.dtype = HOLO_F32, .rank = 2, .storage = HG_STORAGE_WEIGHT, .dims = 2, .ref = 0},
    {.dtype = HOLO_F32, .rank = 2, .storage = HG_STORAGE_ARENA, .dims = 4},
    {.dtype = HOLO_F32, .rank = 1, .storage = HG_STORAGE_ALIAS, .dims = 6, .ref = 3},
    {.dtype = HOLO_F32, .rank = 1, .storage = HG_STORAGE_ARENA, .dims = 6},
    {.dtype = HOLO_I64, .rank = 1, .storage = HG_STORAGE_ARENA, .dims = 7},
    {.dtype = HOLO_F32, .rank = 0, .storage = HG_STORAGE_ALIAS, .ref = 3, .offset = 1},
    {.dtype = HOLO_F32, .rank = -1, .storage = HG_STORAGE_ARENA},
};

static const uint32_t list[] = {
    1, 2,    /* 0: batch,3 */
    2, 3,    /* 2: 3,4 */
    1, 3,    /* 4: batch,4 */
    4,       /* 6: batch*4 */
    2,       /* 7: 3 */
    1, 2, 0, /* 8: %1 %2 _ */
    3,       /* 11: %3 */
    3, 6, 7, /* 12: parameters 4, 0.5, INT64_MAX */
    4, 7,    /* 15: %4 %7 */
    5, 8, 0, /* 17: %5 %8 _ */
    6,       /* 20: %6 */
    1, 2, 4, /* 21: dims batch,3,batch*4 */
    1,       /* 24: symbol 1 */
};

static const uint32_t kernels[] = {23, 34};

static const hg_lane_op lane_ops[] = {
    {.op = HG_LANE_LOAD, .type = HG_LANE_F32, .dst = 0, .index = 0},
    {.op = HG_LANE_LOAD, .type = HG_LANE_F32, .dst = 1, .index = 1},
    {.op = HG_LANE_CONST, .type = HG_LANE_F32, .dst = 2, .imm = 0x3dcccccd}, /* 0.1f */
    {.op = HG_LANE_MUL, .type = HG_LANE_F32, .dst = 0, .a = 0, .b = 2},
    {.op = HG_LANE_CAST, .type = HG_LANE_I32, .dst = 3, .a = 0, .index = HG_LANE_F32},
    {.op = HG_LANE_NARROW, .type = HG_LANE_I32, .dst = 3, .a = 3, .index = HOLO_U8, .imm = 1},
    {.op = HG_LANE_CONST, .type = HG_LANE_I32, .dst = 4, .imm = 0xffffffff},
    {.op = HG_LANE_LT, .type = HG_LANE_I32, .dst = 3, .a = 4, .b = 3},
    {.op = HG_LANE_SELECT, .type = HG_LANE_F32, .dst = 5, .a = 3, .b = 0, .c = 1},
};

static const hg_lane_out lane_outs[] = {
    {.reg = 5, .type = HG_LANE_F32},
    {.reg = 1, .type = HG_LANE_F32, .saturate = 1},
};

static const hg_code_rec codes[] = {{.n_op = 9, .n_out = 2, .n_in = 2, .n_reg = 6}};
static const hg_port_rec inputs[] = {{.name = 5, .value = 1}};
static const hg_port_rec outputs[] = {{.name = 7, .value = 5}};
static const hg_weight_rec weights[] = {{.offset = 0, .bytes = 48}};

static const hg_step_rec steps[] = {
    {.op = HG_STEP_KERNEL,
     .kernel = 0,
     .in = 8,
     .n_in = 3,
     .out = 11,
     .n_out = 1,
     .param = 12,
     .n_param = 3,
     .name = 39},
    {.op = HG_STEP_KERNEL,
     .kernel = 1,
     .in = 15,
     .n_in = 2,
     .out = 17,
     .n_out = 3,
     .code = 1,
     .name = 42},
    {.op = HG_STEP_DIMS, .out = 20, .n_out = 1, .param = 21, .n_param = 3, .name = 49},
    {.op = HG_STEP_BIND, .in = 20, .n_in = 1, .param = 24, .n_param = 1, .name = 0},
};

static hg_program dump_program(void)
{
    return (hg_program){
        .head = {.n_dim = 8,
                 .n_symbol = 2,
                 .n_value = 9,
                 .n_step = 4,
                 .n_list = sizeof list / sizeof list[0],
                 .n_kernel = 2,
                 .n_in = 1,
                 .n_out = 1,
                 .n_weight = 1,
                 .n_code = 1,
                 .n_lane_op = 9,
                 .n_lane_out = 2,
                 .n_text = sizeof texts,
                 .name = 1,
                 .nodes_before = 7,
                 .nodes_after = 4},
        .dim = dims,
        .symbol = symbols,
        .value = values,
        .step = steps,
        .list = list,
        .kernel = kernels,
        .in = inputs,
        .out = outputs,
        .weight = weights,
        .code_rec = codes,
        .lane_op = lane_ops,
        .lane_out = lane_outs,
        .text = texts,
        .names = texts,
        .n_names = sizeof texts,
    };
}

typedef struct dump_text {
    char text[8192];
    size_t used, calls, refuse_at;
} dump_text;

static bool dump_take(void *user, const void *bytes, size_t size)
{
    dump_text *t = user;
    if (++t->calls == t->refuse_at || t->used + size >= sizeof t->text) return false;
    memcpy(t->text + t->used, bytes, size);
    t->used += size;
    t->text[t->used] = 0;
    return true;
}

static void dump_shows_every_part(void)
{
    const hg_program p = dump_program();
    dump_text t = {0};
    CHECK_STATUS(hg_program_verify(&p, 64, NULL), HOLO_OK);
    CHECK_STATUS(hg_program_dump(&p, dump_take, &t), HOLO_OK);
    CHECK_STR(t.text, "graph \"net\" fast: 4 nodes, 4 steps\n"
                      "symbol batch <= 64: input\n"
                      "symbol 'n items': element 2 of %6\n"
                      "input %1 \"x\": float32[batch,3]\n"
                      "output %5 \"y\": float32[batch*4]\n"
                      "0  %3:float32[batch,4] = matmul.p16(%1, %2:float32[3,4]@weight0, _; "
                      "4,0.5d,9223372036854775807) \"fc\"\n"
                      "1  %5:float32[batch*4], %8:float32[?], _ = lane(%4:float32[batch*4]@%3, "
                      "%7:float32[]@%3+batch) "
                      "{r0=mul(x0,0.1); r3=cast.f32.i32(r0); r3=narrow.uint8.saturate(r3); "
                      "r3=lt.i32(-1,r3); r5=select(r3,r0,x1); y0=r5; y1=x1 saturate} "
                      "\"a\\\"b\\\\\\x01\\xff\"\n"
                      "2  %6:int64[3] = dims(batch,3,batch*4) \"h\xc3\xa4\"\n"
                      "3  bind 'n items' = %6 \"\"\n");
}

static void dump_shows_bodies(void)
{
    const hg_step_rec own[] = {
        {.op = HG_STEP_IF, .in = 11, .n_in = 1, .out = 20, .n_out = 1, .a = 3, .b = 4, .name = 39},
        {.op = HG_STEP_LOOP,
         .in = 8,
         .n_in = 3,
         .out = 20,
         .n_out = 1,
         .param = 2,
         .n_param = 1,
         .a = 5,
         .name = 39},
    };
    hg_program p = dump_program();
    dump_text t = {0};
    p.step = own;
    p.head.n_step = 2;
    p.head.is_body = 1;
    CHECK_STATUS(hg_program_dump(&p, dump_take, &t), HOLO_OK);
    CHECK_HAS(t.text, "body \"net\" fast: 4 nodes, 2 steps\n");
    CHECK_HAS(t.text, "0  %6:int64[3] = if(%3) program 3 else program 4 \"fc\"\n");
    CHECK_HAS(t.text,
              "1  %6:int64[3] = loop(%1, %2:float32[3,4]@weight0, _; 3) program 5 \"fc\"\n");
}

static void dump_cuts_long_names(void)
{
    hg_program p = dump_program();
    static char text[70000];
    dump_text t = {0};
    memcpy(text, texts, sizeof texts);
    memset(text + sizeof texts, 'n', sizeof text - sizeof texts - 1);
    p.text = text;
    p.head.n_text = sizeof text;
    p.head.name = sizeof texts;
    CHECK_STATUS(hg_program_dump(&p, dump_take, &t), HOLO_OK);
    CHECK_HAS(t.text, "nnnn...\" fast");
    CHECK(t.used < 1500);
}

/* An expression that doubles at each step is printed in bounded time and space. */
static void dump_cuts_long_dims(void)
{
    hg_program p = dump_program();
    hg_dim_rec grown[200];
    memcpy(grown, dims, sizeof dims);
    for (uint32_t i = 8; i < 200; i++)
        grown[i] = (hg_dim_rec){.op = HG_DIM_MIN, .a = i - 1, .b = i - 1};
    uint32_t own_list[sizeof list / sizeof list[0]];
    memcpy(own_list, list, sizeof list);
    own_list[6] = 199;
    dump_text t = {0};
    p.dim = grown;
    p.head.n_dim = 200;
    p.list = own_list;
    CHECK_STATUS(hg_program_dump(&p, dump_take, &t), HOLO_OK);
    CHECK_HAS(t.text, "min(min(");
    CHECK_HAS(t.text, "...]");
}

static void dump_reports_a_full_sink(void)
{
    const hg_program p = dump_program();
    for (size_t at = 1; at < 3; at++) {
        dump_text t = {.refuse_at = at};
        holo_status status = hg_program_dump(&p, dump_take, &t);
        CHECK_EQ_INT(status, t.calls == at ? HOLO_E_IO : HOLO_OK);
    }
}

const hg_test_case hg_tests_isa_dump[] = {
    {"shows_every_part", dump_shows_every_part},       {"shows_bodies", dump_shows_bodies},
    {"cuts_long_names", dump_cuts_long_names},         {"cuts_long_dims", dump_cuts_long_dims},
    {"reports_a_full_sink", dump_reports_a_full_sink}, {0},
};
