/* scatterelements.c - scatterelements against a plain loop; combining by lane code. */
#include "kernel/move.h"

extern const hg_kernel hg_kernels_scatterelements[];

/* data [3, 4, 5]; two indices along the axis, all different. */
static void scatterelements_make(move_call *c, holo_dtype dtype, int axis)
{
    int64_t dim[3] = {3, 4, 5}, at[8];
    move_in(c, dtype, 3, dim);
    const int64_t size = dim[axis];
    for (int i = 0; i < 3; i++)
        dim[i] = i == axis ? 2 : dim[i] - 1;
    holo_tensor *index = move_in(c, HOLO_I64, 3, dim);
    for (int64_t i = 0; i < holo_tensor_count(index); i++) {
        move_coordinates(index, i, at);
        int64_t place = (at[0] + at[1] + at[2]) % size;
        ((int64_t *)index->data)[i] = i % 2 != 0 ? place - size : place;
    }
    holo_tensor *update = move_in(c, dtype, 3, dim);
    const size_t bytes = holo_tensor_bytes(update);
    for (size_t i = 0; i < bytes; i++)
        ((uint8_t *)update->data)[i] = (uint8_t)(~((uint8_t *)update->data)[i] & 1);
    move_out(c, dtype, 3, c->in[0].dim);
    move_param(c, axis);
}

static void scatterelements_compare(const move_call *c, int axis)
{
    const holo_tensor *data = &c->in[0], *index = &c->in[1], *out = &c->out[0];
    int64_t *source = calloc((size_t)holo_tensor_count(out), sizeof *source), at[8];
    for (int64_t i = 0; i < holo_tensor_count(index); i++) {
        int64_t place = ((const int64_t *)index->data)[i];
        move_coordinates(index, i, at);
        at[axis] = place < 0 ? place + data->dim[axis] : place;
        source[move_flat(out, at)] = i + 1;
    }
    for (int64_t i = 0; i < holo_tensor_count(out); i++) {
        bool same = source[i] == 0 ? move_same(out, i, data, i)
                                   : move_same(out, i, &c->in[2], source[i] - 1);
        if (!CHECK(same)) break;
    }
    free(source);
}

static void scatterelements_replaces(void)
{
    static const holo_dtype types[] = {HOLO_U8, HOLO_F16, HOLO_F32, HOLO_I64, HOLO_STRING};
    for (size_t t = 0; t < HG_COUNT(types); t++)
        for (int axis = 0; axis < 3; axis++) {
            move_call c = {0};
            scatterelements_make(&c, types[t], axis);
            if (move_run(hg_kernels_scatterelements, &c)) scatterelements_compare(&c, axis);
            CHECK_EQ_INT(c.fault.kind, HG_FAULT_NONE);
            move_free(&c);
        }
}

/* Sum of elements, in i32. */
static const hg_lane_op scatterelements_sum_op[] = {
    {.op = HG_LANE_LOAD, .type = HG_LANE_I32, .dst = 0, .index = 0},
    {.op = HG_LANE_LOAD, .type = HG_LANE_I32, .dst = 1, .index = 1},
    {.op = HG_LANE_ADD, .type = HG_LANE_I32, .dst = 2, .a = 0, .b = 1},
};
static const hg_lane_out scatterelements_sum_out[] = {{.reg = 2, .type = HG_LANE_I32}};
static const hg_lane_code scatterelements_sum = {.op = scatterelements_sum_op,
                                                 .out = scatterelements_sum_out,
                                                 .n_op = 3,
                                                 .n_in = 2,
                                                 .n_out = 1,
                                                 .n_reg = 3};

static void scatterelements_make_sum(move_call *c)
{
    holo_tensor *data = move_in(c, HOLO_I32, 1, MOVE_DIMS(4));
    move_ints(c, 1, MOVE_DIMS(5), MOVE_DIMS(1, 1, -3, 0, 1));
    holo_tensor *update = move_in(c, HOLO_I32, 1, MOVE_DIMS(5));
    move_out(c, HOLO_I32, 1, MOVE_DIMS(4));
    move_param(c, 0);
    for (int32_t i = 0; i < 4; i++)
        ((int32_t *)data->data)[i] = 1000 * i;
    for (int32_t i = 0; i < 5; i++)
        ((int32_t *)update->data)[i] = i + 1;
    c->args.code = &scatterelements_sum;
}

static void scatterelements_combines(void)
{
    static const int32_t expected[] = {4, 1011, 2000, 3000};
    move_call c = {0};
    scatterelements_make_sum(&c);
    if (move_run(hg_kernels_scatterelements, &c))
        CHECK_MEM(c.out[0].data, expected, sizeof expected);
    move_free(&c);
}

/* Columns that many updates meet in: [2, 7, 19] along axis 1, one index out of range. */
static void scatterelements_columns(void)
{
    static const hg_lane_opcode ops[] = {HG_LANE_ADD, HG_LANE_MUL, HG_LANE_MAX, HG_LANE_MIN};
    for (size_t t = 0; t < 2 * HG_COUNT(ops); t++) {
        hg_lane_op op[3];
        for (int i = 0; i < 3; i++) {
            op[i] = scatterelements_sum_op[i];
            op[i].type = HG_LANE_F32;
        }
        op[2].op = (uint8_t)ops[t / 2];
        if (t % 2 != 0) op[2].a = 1, op[2].b = 0;
        const hg_lane_out out = {.reg = 2, .type = HG_LANE_F32};
        const hg_lane_code code = {
            .op = op, .out = &out, .n_op = 3, .n_in = 2, .n_out = 1, .n_reg = 3};
        float expected[2 * 7 * 19];
        move_call c = {0};
        holo_tensor *data = move_in(&c, HOLO_F32, 3, MOVE_DIMS(2, 7, 19));
        holo_tensor *index = move_in(&c, HOLO_I64, 3, MOVE_DIMS(2, 30, 19));
        holo_tensor *update = move_in(&c, HOLO_F32, 3, MOVE_DIMS(2, 30, 19));
        move_out(&c, HOLO_F32, 3, MOVE_DIMS(2, 7, 19));
        move_param(&c, 1);
        c.args.code = &code;
        for (int i = 0; i < 2 * 7 * 19; i++)
            expected[i] = ((float *)data->data)[i] = (float)(i % 13) / 8;
        for (int i = 0; i < 2 * 30 * 19; i++) {
            const int64_t place = i == 700 ? 7 : (i * 5 + i / 19) % 7;
            float *to = &expected[(i / 570 * 7 + place % 7) * 19 + i % 19];
            const float x = ((float *)update->data)[i] = 0.5f + (float)(i % 11) / 9;
            ((int64_t *)index->data)[i] = i % 3 == 0 && i != 700 ? place - 7 : place;
            if (i == 700) continue;
            *to = t / 2 == 0   ? *to + x
                  : t / 2 == 1 ? *to * x
                               : ((*to > x) == (t / 2 == 2) ? *to : x);
        }
        if (move_run(hg_kernels_scatterelements, &c))
            CHECK_MEM(c.out[0].data, expected, sizeof expected);
        CHECK_EQ_INT(c.fault.element, 700);
        move_free(&c);
    }
}

static void scatterelements_reports(void)
{
    move_call c = {0};
    move_in(&c, HOLO_F32, 1, MOVE_DIMS(3));
    move_ints(&c, 1, MOVE_DIMS(3), MOVE_DIMS(0, 3, -4));
    move_in(&c, HOLO_F32, 1, MOVE_DIMS(3));
    move_out(&c, HOLO_F32, 1, MOVE_DIMS(3));
    move_param(&c, 0);
    move_run(hg_kernels_scatterelements, &c);
    CHECK_EQ_INT(c.fault.element, 1);
    CHECK_EQ_INT(c.fault.value, 3);
    move_free(&c);
}

static void scatterelements_make_good(move_call *c)
{
    scatterelements_make(c, HOLO_F32, 1);
}

static void scatterelements_refuses(void)
{
    static const move_bad bad[] = {
        {MOVE_N_IN, 0, 0, 2, "2 inputs"},
        {MOVE_N_PARAM, 0, 0, 0, "0 parameters"},
        {MOVE_IN_TYPE, 0, 0, HOLO_I4, "input 0 has type int4"},
        {MOVE_IN_TYPE, 1, 0, HOLO_F32, "input 1 has type float32"},
        {MOVE_IN_TYPE, 2, 0, HOLO_NONE, "input 2 is missing"},
        {MOVE_IN_TYPE, 2, 0, HOLO_I32, "updates has type int32"},
        {MOVE_OUT_TYPE, 0, 0, HOLO_NONE, "output 0 is missing"},
        {MOVE_OUT_TYPE, 0, 0, HOLO_I32, "output has type int32"},
        {MOVE_OUT_DIM, 0, 2, 6, "output: dimension 2 is 6"},
        {MOVE_IN_DIM, 2, 0, 1, "updates: dimension 0 is 1"},
        {MOVE_PARAM, 0, 0, 3, "axis is 3"},
        {MOVE_PARAM, 0, 0, -1, "axis is -1"},
    };
    MOVE_REFUSES(hg_kernels_scatterelements, scatterelements_make_good, bad);
}

/* Rules about two tensors at once. */
static void scatterelements_refuses_indices(void)
{
    move_call c = {0};
    holo_error e = {0};
    scatterelements_make_good(&c);
    move_connect(&c);
    c.in[1].dim[2] = c.in[2].dim[2] = 6;
    CHECK_STATUS(hg_kernels_scatterelements->check(&c.args, &e), HOLO_E_SHAPE);
    CHECK_HAS(e.message, "dimension 2 of the indices is 6, expected at most 5");
    c.in[1].rank = c.in[2].rank = 2;
    CHECK_STATUS(hg_kernels_scatterelements->check(&c.args, &e), HOLO_E_SHAPE);
    CHECK_HAS(e.message, "indices has rank 2");
    move_free(&c);
}

static void scatterelements_refuses_code(void)
{
    move_call c = {0};
    holo_error e = {0};
    scatterelements_make_sum(&c);
    move_connect(&c);
    hg_lane_code code = scatterelements_sum;
    c.args.code = &code;
    code.n_in = 3;
    CHECK_STATUS(hg_kernels_scatterelements->check(&c.args, &e), HOLO_E_FORMAT);
    CHECK_HAS(e.message, "3 operands");
    code = scatterelements_sum;
    c.in[0].dtype = c.in[2].dtype = c.out[0].dtype = HOLO_F32;
    CHECK(hg_kernels_scatterelements->check(&c.args, &e) != HOLO_OK);
    move_free(&c);
}

const hg_test_case hg_tests_kernel_scatterelements[] = {
    {"replaces", scatterelements_replaces},
    {"combines", scatterelements_combines},
    {"columns", scatterelements_columns},
    {"reports", scatterelements_reports},
    {"refuses", scatterelements_refuses},
    {"refuses_indices", scatterelements_refuses_indices},
    {"refuses_code", scatterelements_refuses_code},
    {0},
};
