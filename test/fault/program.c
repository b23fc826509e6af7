/* program.c - what a program may try: a right one made by hand, and one wrong field at a time. Each
 * entry names the sentence, so that a rule that is taken away fails here. */
#include "archive/write.h"
#include "fault/small.h"

typedef struct program_tables {
    hg_program_head head;
    hg_dim_rec dim[10];
    hg_symbol_rec symbol[3];
    hg_value_rec value[8];
    hg_step_rec step[5];
    uint32_t list[24];
    uint32_t kernel[2];
    hg_port_rec in[1], out[2];
    hg_weight_rec weight[1];
    hg_code_rec code_rec[1];
    hg_lane_op lane_op[3];
    hg_lane_out lane_out[1];
    char text[20];
} program_tables;

/* y = x + w; nonzero(y); a size that a tensor of sizes decides. */
static const program_tables program_right = {
    .head = {.n_dim = 10,
             .n_symbol = 3,
             .n_value = 8,
             .n_step = 5,
             .n_list = 24,
             .n_kernel = 2,
             .n_in = 1,
             .n_out = 2,
             .n_weight = 1,
             .n_code = 1,
             .n_lane_op = 3,
             .n_lane_out = 1,
             .n_text = 20},
    .dim = {[1] = {.op = HG_DIM_CONST, .value = 3},
            [2] = {.op = HG_DIM_SYMBOL, .value = 0},
            [3] = {.op = HG_DIM_SYMBOL, .value = 1},
            [4] = {.op = HG_DIM_CONST, .value = 2},
            [5] = {.op = HG_DIM_SYMBOL, .value = 2},
            [6] = {.op = HG_DIM_CONST, .value = 1},
            [7] = {.op = HG_DIM_SELECT, .a = 6, .b = 1, .c = 4},
            [8] = {.op = HG_DIM_FLOORDIV, .a = 7, .b = 6},
            [9] = {.op = HG_DIM_CONST, .value = 0}},
    .symbol = {{.kind = HG_SYMBOL_INPUT, .name = 5, .at_most = 100},
               {.kind = HG_SYMBOL_SIZE, .value = 4, .index = 1, .at_most = -1},
               {.kind = HG_SYMBOL_CONTENT, .value = 5, .index = 0, .at_most = -1}},
    .value =
        {[1] = {.dtype = HOLO_F32, .rank = 2, .storage = HG_STORAGE_INPUT, .dims = 0, .name = 1},
         [2] = {.dtype = HOLO_F32, .rank = 1, .storage = HG_STORAGE_WEIGHT, .dims = 1},
         [3] = {.dtype = HOLO_F32, .rank = 2, .storage = HG_STORAGE_ARENA, .dims = 0, .name = 3},
         [4] = {.dtype = HOLO_I64, .rank = 2, .storage = HG_STORAGE_ARENA, .dims = 2},
         [5] = {.dtype = HOLO_I64, .rank = 1, .storage = HG_STORAGE_ARENA, .dims = 4},
         [6] = {.dtype = HOLO_F32,
                .rank = 1,
                .storage = HG_STORAGE_ALIAS,
                .dims = 4,
                .ref = 2,
                .offset = 6},
         [7] = {.dtype = HOLO_F32, .rank = 1, .storage = HG_STORAGE_ARENA, .dims = 5}},
    .step = {{.op = HG_STEP_KERNEL, .in = 6, .n_in = 2, .out = 8, .n_out = 1, .code = 1, .name = 1},
             {.op = HG_STEP_KERNEL, .kernel = 1, .in = 8, .n_in = 1, .out = 9, .n_out = 1},
             {.op = HG_STEP_DIMS, .out = 10, .n_out = 1, .param = 11, .n_param = 1},
             {.op = HG_STEP_BIND, .in = 10, .n_in = 1, .param = 12, .n_param = 1},
             {.op = HG_STEP_KERNEL, .in = 13, .n_in = 2, .out = 15, .n_out = 1, .code = 1}},
    .list = {2, 1, /* dims of x, w, y */ 4, 3, /* of nonzero */ 6, /* of the sizes */ 5, /* last */
             1, 2, 3, /* step 0; step 1 reads the last one */ 4, 5, 8, /* DIMS */ 2, /* BIND */ 6,
             6, 7},
    .kernel = {7, 12},
    .in = {{.name = 1, .value = 1}},
    .out = {{.name = 3, .value = 4}, {.name = 5, .value = 7}},
    .weight = {{.offset = 0, .bytes = 12}},
    .code_rec = {{.n_op = 3, .n_out = 1, .n_in = 2, .n_reg = 2}},
    .lane_op = {{.op = HG_LANE_LOAD, .type = HG_LANE_F32, .dst = 0, .index = 0},
                {.op = HG_LANE_LOAD, .type = HG_LANE_F32, .dst = 1, .index = 1},
                {.op = HG_LANE_ADD, .type = HG_LANE_F32, .dst = 0, .a = 0, .b = 1}},
    .lane_out = {{.reg = 0, .type = HG_LANE_F32}},
    .text = "\0x\0y\0n\0lane\0nonzero",
};

/* A file of the program and 12 bytes of weights. */
static fault_bytes program_bytes(const program_tables *t)
{
    hg_program p = {.head = t->head,
                    .dim = t->dim,
                    .symbol = t->symbol,
                    .value = t->value,
                    .step = t->step,
                    .list = t->list,
                    .kernel = t->kernel,
                    .in = t->in,
                    .out = t->out,
                    .weight = t->weight,
                    .code_rec = t->code_rec,
                    .lane_op = t->lane_op,
                    .lane_out = t->lane_out,
                    .text = t->text};
    static const float w[3] = {1, 2, 3};
    static const char names[] = "\0add"; /* step 0 has the second, at position 1 */
    hg_holo_section table[3];
    hg_holo_writer holo;
    hg_writer writer;
    holo_error e = {0};
    void *data = NULL;
    fault_bytes b = {0};
    void *section = calloc(1, hg_program_bytes(&p.head));
    hg_program_store(&p, section);
    hg_writer_init_memory(&writer, NULL);
    CHECK_OK(hg_holo_write_begin(&holo, &writer, table, 3, &e), &e);
    CHECK_OK(
        hg_holo_write_section(&holo, HG_SECTION_PROGRAM, section, hg_program_bytes(&p.head), &e),
        &e);
    CHECK_OK(hg_holo_write_section(&holo, HG_SECTION_NAMES, names, sizeof names, &e), &e);
    CHECK_OK(hg_holo_write_section(&holo, HG_SECTION_WEIGHTS, w, sizeof w, &e), &e);
    CHECK_OK(hg_holo_write_finish(&holo, &e), &e);
    CHECK_OK(hg_writer_take(&writer, &data, &b.size, &e), &e);
    hg_writer_abort(&writer);
    free(section);
    b.data = fault_copy(data, b.size);
    free(data);
    return b;
}

/* Opens and, if that works, runs with x = [[1,0,0],[0,0,-2]]. */
static holo_status program_try(const program_tables *t, holo_error *e)
{
    fault_bytes b = program_bytes(t);
    float x[6] = {1, 0, 0, 0, 0, -2};
    holo_tensor in = {.data = x, .dim = {2, 3}, .rank = 2, .dtype = HOLO_F32};
    holo_session_options options = HOLO_SESSION_OPTIONS_INIT;
    holo_model *model = NULL;
    holo_session *session = NULL;
    options.flags = HOLO_SESSION_POISON;
    options.limits.tensor_bytes = 1 << 20;
    holo_status status =
        holo_model_open_memory(b.data, b.size, holo_kernels_all(), NULL, &model, e);
    if (status == HOLO_OK) status = holo_session_new(model, &options, &session, e);
    if (status == HOLO_OK) status = holo_session_set_input(session, 0, &in, e);
    if (status == HOLO_OK) status = holo_session_run(session, e);
    holo_session_free(session);
    holo_model_free(model);
    free(b.data);
    return status;
}

typedef struct program_bad {
    size_t at, bytes;
    int64_t value;
    const char *part;
} program_bad;

#define PROGRAM_AT(place) offsetof(program_tables, place), sizeof(((program_tables *)0)->place)

static void program_refuses(const program_bad *bad, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        program_tables t = program_right;
        holo_error e = {0};
        memcpy((uint8_t *)&t + bad[i].at, &bad[i].value, bad[i].bytes);
        if (program_try(&t, &e) == HOLO_OK)
            hg_test_fail(HG_TEST_HERE, "entry %zu is accepted: %s", i, bad[i].part);
        else
            CHECK_HAS(e.message, bad[i].part);
    }
}

static void program_right_runs(void)
{
    holo_error e = {0};
    CHECK_OK(program_try(&program_right, &e), &e);
}

static void program_texts_and_dims(void)
{
    static const program_bad bad[] = {
        {PROGRAM_AT(text[19]), 'x', "does not end with a zero byte"},
        {PROGRAM_AT(head.name), 20, "the graph's name lies outside"},
        {PROGRAM_AT(kernel[1]), 20, "the name of kernel 1 lies outside"},
        {PROGRAM_AT(kernel[1]), 0, "has no kernel"},
        {PROGRAM_AT(kernel[1]), 13, "has no kernel 'onzero'"},
        {PROGRAM_AT(dim[1].op), 0, "dimension 1 has unknown operation 0"},
        {PROGRAM_AT(dim[9].op), 99, "dimension 9 has unknown operation 99"},
        {PROGRAM_AT(dim[2].value), 3, "dimension 2 refers to symbol 3 of 3"},
        {PROGRAM_AT(dim[2].value), -1, "dimension 2 refers to symbol -1"},
        {PROGRAM_AT(dim[8].a), 8, "dimension 8 is made of 8 and 6"},
        {PROGRAM_AT(dim[8].b), 0, "dimension 8 is made of 7 and 0"},
        {PROGRAM_AT(dim[8].b), INT32_MAX, "dimension 8 is made of"},
        {PROGRAM_AT(dim[7].c), 7, "dimension 7 has 7 as third operand"},
        {PROGRAM_AT(dim[8].c), 1, "dimension 8 has 1 as third operand"},
        {PROGRAM_AT(symbol[0].kind), 0, "symbol 0 has unknown kind 0"},
        {PROGRAM_AT(symbol[0].kind), 4, "symbol 0 has unknown kind 4"},
        {PROGRAM_AT(symbol[0].name), 20, "the name of symbol 0 lies outside"},
        {PROGRAM_AT(symbol[1].value), 8, "symbol 1 refers to value 8 of 8"},
        {PROGRAM_AT(symbol[2].value), 0, "symbol 2 refers to value 0"},
        {PROGRAM_AT(symbol[1].index), 2, "symbol 1 is dimension 2 of a value of rank 2"},
        {PROGRAM_AT(symbol[1].index), 0, "symbol 1 is not dimension 0 of value 4"},
        {PROGRAM_AT(symbol[1].value), 3, "whose size is not found at run time"},
        {PROGRAM_AT(symbol[0].at_most), 1, "compiled for at most 1"},
        {PROGRAM_AT(head.numerics), 2, "unknown numerics 2"},
    };
    program_refuses(bad, HG_COUNT(bad));
}

static void program_values(void)
{
    static const program_bad bad[] = {
        {PROGRAM_AT(value[3].dtype), 0, "value 3 has unknown element type 0"},
        {PROGRAM_AT(value[3].dtype), 63, "value 3 has unknown element type 63"},
        {PROGRAM_AT(value[3].rank), 9, "value 3 has rank 9"},
        {PROGRAM_AT(value[3].rank), -2, "value 3 has rank -2"},
        {PROGRAM_AT(value[3].dims), 23, "the dimensions of value 3 lie outside"},
        {PROGRAM_AT(value[3].dims), -1, "the dimensions of value 3 lie outside"},
        {PROGRAM_AT(list[0]), 10, "has dimension number 10 of 10"},
        {PROGRAM_AT(list[0]), 0, "has dimension number 0 of 10"},
        {PROGRAM_AT(value[3].storage), 0, "value 3 has unknown storage 0"},
        {PROGRAM_AT(value[3].storage), 5, "value 3 has unknown storage 5"},
        {PROGRAM_AT(value[0].storage), HG_STORAGE_ALIAS,
         "value 0 has storage 4, but stands for no value"},
        {PROGRAM_AT(value[3].storage), HG_STORAGE_INPUT, "value 3 says it is input 0"},
        {PROGRAM_AT(value[2].ref), 1, "value 2 refers to weight 1 of 1"},
        {PROGRAM_AT(value[2].rank), -1, "value 2 refers to weight 0 of 1"},
        {PROGRAM_AT(value[6].ref), 6, "value 6 is a view of 6"},
        {PROGRAM_AT(value[6].ref), 0, "value 6 is a view of 0"},
        {PROGRAM_AT(value[6].dtype), HOLO_I4, "value 6 is a view of 2"},
        {PROGRAM_AT(value[6].offset), 10, "value 6 is a view of 2"},
        {PROGRAM_AT(value[6].offset), 1, "view of 4 bytes at element 3"},
        {PROGRAM_AT(value[6].dims), 1, "view of 12 bytes at element 1"},
        {PROGRAM_AT(in[0].value), 2, "input 0 is not a proper input"},
        {PROGRAM_AT(in[0].value), 0, "input 0 is not a proper input"},
        {PROGRAM_AT(in[0].name), 20, "input 0 is not a proper input"},
        {PROGRAM_AT(value[1].dtype), HOLO_I32, "input 'x' is float32, expected int32"},
        {PROGRAM_AT(out[0].value), 0, "output 0 is not a proper value"},
        {PROGRAM_AT(out[0].value), 8, "output 0 is not a proper value"},
        {PROGRAM_AT(out[1].name), 20, "output 1 is not a proper value"},
        {PROGRAM_AT(weight[0].offset), 64, "weight 0 lies outside"},
        {PROGRAM_AT(weight[0].offset), -64, "weight 0 lies outside"},
        {PROGRAM_AT(weight[0].offset), 4, "weight 0 lies outside"},
        {PROGRAM_AT(weight[0].bytes), 13, "weight 0 lies outside"},
        {PROGRAM_AT(weight[0].bytes), -1, "weight 0 lies outside"},
        {PROGRAM_AT(weight[0].bytes), 8, "has 8 bytes, its shape needs 12"},
        {PROGRAM_AT(dim[1].value), 0, "input 'x' has 3 in dimension 1, expected 0"},
        {PROGRAM_AT(dim[6].value), -1, "would be -1"},
        {PROGRAM_AT(dim[6].value), INT64_MAX, "more than 1048576 bytes"},
        {PROGRAM_AT(dim[6].value), INT64_C(1) << 61, "more than 1048576 bytes"},
        {PROGRAM_AT(dim[6].value), 1 << 20, "its limit is 1048576"},
        {PROGRAM_AT(dim[6].value), 0,
         "): a size cannot be computed"}, /* behind node and operator */
    };
    program_refuses(bad, HG_COUNT(bad));
}

static void program_steps(void)
{
    static const program_bad bad[] = {
        {PROGRAM_AT(step[0].op), 0, "step 0 has unknown operation 0"},
        {PROGRAM_AT(step[0].op), 999, "step 0 has unknown operation 999"},
        {PROGRAM_AT(step[0].kernel), 2, "step 0 calls kernel 2 of 2"},
        {PROGRAM_AT(step[0].n_in), 4097, "step 0 has 4097 inputs"},
        {PROGRAM_AT(step[0].n_out), 1025, "1025 outputs"},
        {PROGRAM_AT(step[0].n_param), 4097, "4097 parameters"},
        {PROGRAM_AT(step[0].in), 23, "the operands of step 0 lie outside"},
        {PROGRAM_AT(step[0].out), 24, "the operands of step 0 lie outside"},
        {PROGRAM_AT(step[2].param), -1, "the operands of step 2 lie outside"},
        {PROGRAM_AT(list[6]), 8, "step 0 reads value 8 of 8"},
        {PROGRAM_AT(list[9]), 8, "step 1 writes value 8"},
        {PROGRAM_AT(list[9]), 2, "step 1 writes value 2"}, /* a weight */
        {PROGRAM_AT(list[9]), 6, "step 1 writes value 6"}, /* a view */
        {PROGRAM_AT(list[11]), 0, "step 2 has parameter 0"},
        {PROGRAM_AT(list[11]), 10, "step 2 has parameter 10 of 10"},
        {PROGRAM_AT(list[12]), 3, "step 3 has parameter 3 of 3"},
        {PROGRAM_AT(step[0].code), 2, "step 0 refers to lane code 2 of 1"},
        {PROGRAM_AT(step[3].n_in), 0, "step 3: BIND takes one tensor"},
        {PROGRAM_AT(list[12]), 0, "binds a symbol that is not of its tensor"},
        {PROGRAM_AT(symbol[2].value), 3, "binds a symbol that is not of its tensor"},
        {PROGRAM_AT(step[2].n_out), 0, "step 2: DIMS gives one tensor"},
        {PROGRAM_AT(code_rec[0].n_op), 4, "lane code 0 lies outside"},
        {PROGRAM_AT(code_rec[0].first_out), 1, "lane code 0 lies outside"},
        {PROGRAM_AT(lane_op[2].op), 255, "unknown opcode 255"},
        {PROGRAM_AT(list[6]), 3, "step 0 reads value 3 before it is computed"},
        {PROGRAM_AT(list[9]), 3, "step 1 computes value 3 a second time"},
        {PROGRAM_AT(list[9]), 0, "output 0 is never computed"},
        {PROGRAM_AT(step[4].n_out), 0, "output 1 is never computed"},
        {PROGRAM_AT(list[1]), 5, "the size of input 0 depends on the run"},
        {PROGRAM_AT(list[11]), 5, "step 2 needs parameter 0 before it is known"},
        {PROGRAM_AT(list[4]), 5, "step 2 needs the size of value 5 before it is known"},
        {PROGRAM_AT(step[3].n_param), 0, "step 4 needs the size of value 7 before it is known"},
        {PROGRAM_AT(value[5].dtype), HOLO_I32, "1 sizes are stored into 1 elements of int32"},
        {PROGRAM_AT(symbol[2].index), 1, "element 1 of a tensor with 1 elements decides a size"},
    };
    program_refuses(bad, HG_COUNT(bad));
}

/* Tables without entries, and sizes that come too late or never. */
static void program_empty_and_late(void)
{
    holo_error e = {0};
    program_tables t = program_right;
    t.head.n_value = 0;
    t.head.n_in = 0;
    CHECK(program_try(&t, &e) != HOLO_OK);
    CHECK_HAS(e.message, "the table of values is empty");
    t = program_right;
    t.head.n_dim = 0;
    for (uint32_t v = 1; v < t.head.n_value; v++)
        t.value[v].rank = t.value[v].storage == HG_STORAGE_WEIGHT ? 0 : -1;
    t.value[6].storage = HG_STORAGE_ARENA;
    CHECK(program_try(&t, &e) != HOLO_OK);
    CHECK_HAS(e.message, "the table of dimensions is empty");
    /* The last step reads a view whose place is known only after it. */
    t = program_right;
    t.step[3].n_param = 0;
    t.value[6].offset = 5;
    t.value[7].dims = 4;
    CHECK(program_try(&t, &e) != HOLO_OK);
    CHECK_HAS(e.message, "step 4 needs the size of value 6 before it is known");
    t.out[1].value = 6;
    t.step[4].n_in = 0;
    CHECK(program_try(&t, &e) != HOLO_OK);
    CHECK_HAS(e.message, "the size of output 1 is never known");
}

static void program_sizes(void)
{
    static const int64_t factor[] = {INT64_MAX, INT64_MIN, INT64_C(1) << 62};
    for (size_t i = 0; i < HG_COUNT(factor); i++) {
        program_tables t = program_right;
        holo_error e = {0};
        t.dim[8] = (hg_dim_rec){.op = HG_DIM_MUL, .a = 7, .b = 4};
        t.dim[4].value = factor[i];
        CHECK_STATUS(program_try(&t, &e), HOLO_E_SHAPE);
        CHECK_HAS(e.message, "a size cannot be computed");
    }
}

const hg_test_case hg_tests_fault_program[] = {
    {"right_runs", program_right_runs},
    {"texts_and_dims", program_texts_and_dims},
    {"values", program_values},
    {"steps", program_steps},
    {"sizes", program_sizes},
    {"empty_and_late", program_empty_and_late},
    {0},
};
