/* pad.c - pad against a plain loop, in every mode. */
#include "kernel/move.h"

extern const hg_kernel hg_kernels_pad[];

typedef struct pad_case {
    int64_t dim[3], before[3], after[3];
} pad_case;

static const pad_case pad_table[] = {
    {{2, 3, 4}, {0, 0, 0}, {0, 0, 0}},  {{2, 3, 4}, {1, 2, 3}, {1, 0, 2}},
    {{2, 3, 4}, {0, 0, -1}, {0, 0, 3}}, {{3, 3, 4}, {-1, 2, -2}, {2, -1, -1}},
    {{2, 1, 5}, {3, 4, 9}, {5, 1, 11}}, {{2, 3, 4}, {-2, 0, 0}, {3, 0, 0}},
    {{1, 1, 4}, {0, 0, 0}, {0, 0, -4}}, {{1, 2, 3}, {0, 0, 5}, {0, 0, -4}},
    {{3, 4, 1}, {1, 0, 0}, {1, 0, 1}},  {{2, 5, 3}, {-1, 0, 2}, {2, 0, -1}},
};

static void pad_make(move_call *c, const pad_case *p, holo_dtype dtype, int64_t mode, bool value)
{
    int64_t dim[3];
    move_in(c, dtype, 3, p->dim);
    if (value) move_in(c, dtype, 0, NULL);
    move_param(c, mode);
    for (int i = 0; i < 3; i++) {
        move_param(c, p->before[i]);
        dim[i] = p->before[i] + p->dim[i] + p->after[i];
    }
    move_out(c, dtype, 3, dim);
}

/* Something of every dimension is left when the rest is cut off: a border has a source. */
static bool pad_leaves(const pad_case *p)
{
    bool leaves = true, empty = false;
    for (int k = 0; k < 3; k++) {
        leaves = leaves && p->dim[k] + hg_min(p->before[k], 0) + hg_min(p->after[k], 0) > 0;
        empty = empty || p->dim[k] + p->before[k] + p->after[k] == 0;
    }
    return leaves || empty;
}

/* Walks from the place to the tensor, one step at a time. */
static int64_t pad_oracle(int64_t mode, int64_t i, int64_t size)
{
    while (i < 0 || i >= size) {
        if (mode == 0) return -1;
        if (mode == 1 && size == 1) return 0;
        if (mode == 1) i = i < 0 ? -i : 2 * (size - 1) - i;
        if (mode == 2) i = i < 0 ? i + 1 : i - 1;
        if (mode == 3) i = i < 0 ? i + size : i - size;
    }
    return i;
}

static void pad_compare(const move_call *c, const pad_case *p, int64_t mode)
{
    const holo_tensor *in = &c->in[0], *out = &c->out[0];
    for (int64_t i = 0; i < holo_tensor_count(out); i++) {
        int64_t at[8];
        bool border = false;
        move_coordinates(out, i, at);
        for (int k = 0; k < 3; k++) {
            const int64_t cut = hg_max(-p->before[k], 0), end = hg_max(-p->after[k], 0);
            at[k] = pad_oracle(mode, at[k] - hg_max(p->before[k], 0), p->dim[k] - cut - end);
            border = border || at[k] < 0;
            at[k] += cut;
        }
        bool same =
            border ? move_same(out, i, &c->in[1], 0) : move_same(out, i, in, move_flat(in, at));
        if (!CHECK(same)) return;
    }
}

static void pad_matches_loop(void)
{
    static const holo_dtype types[] = {HOLO_U8, HOLO_F16, HOLO_F32, HOLO_F64, HOLO_STRING, HOLO_U4};
    for (size_t t = 0; t < HG_COUNT(types); t++)
        for (size_t i = 0; i < HG_COUNT(pad_table); i++)
            for (int64_t mode = 0; mode < 4; mode++) {
                move_call c = {0};
                if (mode != 0 && !pad_leaves(&pad_table[i])) continue;
                pad_make(&c, &pad_table[i], types[t], mode, true);
                if (move_run(hg_kernels_pad, &c)) pad_compare(&c, &pad_table[i], mode);
                move_free(&c);
            }
}

static void pad_with_zero(void)
{
    static const float expected[] = {0, 0, 5};
    move_call c = {0};
    holo_tensor *in = move_in(&c, HOLO_F32, 1, MOVE_DIMS(1));
    *(float *)in->data = 5;
    move_param(&c, 0);
    move_param(&c, 2);
    move_out(&c, HOLO_F32, 1, MOVE_DIMS(3));
    if (move_run(hg_kernels_pad, &c)) CHECK_MEM(c.out[0].data, expected, sizeof expected);
    move_free(&c);
}

static void pad_scalar(void)
{
    move_call c = {0};
    move_in(&c, HOLO_F32, 0, NULL);
    move_param(&c, 0);
    move_out(&c, HOLO_F32, 0, NULL);
    if (move_run(hg_kernels_pad, &c)) CHECK(move_same(&c.out[0], 0, &c.in[0], 0));
    move_free(&c);
}

static void pad_make_good(move_call *c)
{
    pad_make(c, &pad_table[1], HOLO_F32, 2, true);
}

static void pad_refuses(void)
{
    static const move_bad bad[] = {
        {MOVE_N_IN, 0, 0, 0, "0 inputs"},
        {MOVE_N_IN, 0, 0, 3, "3 inputs"},
        {MOVE_N_PARAM, 0, 0, 3, "3 parameters"},
        {MOVE_IN_TYPE, 0, 0, HOLO_NONE, "input 0 is missing"},
        {MOVE_OUT_TYPE, 0, 0, HOLO_NONE, "output 0 is missing"},
        {MOVE_OUT_TYPE, 0, 0, HOLO_I32, "output has type int32"},
        {MOVE_OUT_RANK, 0, 0, 2, "output has rank 2"},
        {MOVE_PARAM, 0, 0, 4, "mode is 4"},
        {MOVE_PARAM, 0, 0, -1, "mode is -1"},
        {MOVE_IN_TYPE, 1, 0, HOLO_I32, "value has type int32"},
        {MOVE_IN_TYPE, 1, 0, HOLO_MAP, "input 1 has type map"},
        {MOVE_IN_RANK, 1, 0, 1, "the value has 0 elements"},
        {MOVE_PARAM, 2, 0, INT64_MAX, "padding is"},
        {MOVE_PARAM, 1, 0, INT64_MIN, "padding is"},
        {MOVE_IN_DIM, 0, 1, 0, "nothing of dimension 1 is left"},
    };
    MOVE_REFUSES(hg_kernels_pad, pad_make_good, bad);
}

const hg_test_case hg_tests_kernel_pad[] = {
    {"matches_loop", pad_matches_loop},
    {"with_zero", pad_with_zero},
    {"scalar", pad_scalar},
    {"refuses", pad_refuses},
    {0},
};
