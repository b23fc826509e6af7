/* sequence.c - checks of the kernels on containers: each rule has a call that breaks it
 * alone. What they compute is tested through models in test/op and test/runtime. */
#include "isa/deep.h"
#include "isa/kernel.h"
#include "test.h"

extern const hg_kernel hg_kernels_sequence[], hg_kernels_sequence_tensor[];

typedef struct sequence_call {
    const char *kernel;
    const char *sentence; /* part of it; NULL: no objection */
    uint32_t n_in, n_out, n_param;
    holo_tensor in[5], out[2];
    int64_t param[4];
} sequence_call;

static const hg_kernel *sequence_find(const char *name)
{
    static const hg_kernel *const lists[] = {hg_kernels_sequence, hg_kernels_sequence_tensor};
    for (size_t i = 0; i < HG_COUNT(lists); i++)
        for (const hg_kernel *k = lists[i]; k->name != NULL; k++)
            if (strcmp(k->name, name) == 0) return k;
    return NULL;
}

static void sequence_try(const sequence_call *calls, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        sequence_call c = calls[i];
        const hg_kernel *k = sequence_find(c.kernel);
        hg_args a = {.in = c.in,
                     .out = c.out,
                     .param = c.param,
                     .n_in = c.n_in,
                     .n_out = c.n_out,
                     .n_param = c.n_param};
        holo_error e = {0};
        if (!CHECK(k != NULL)) continue;
        holo_status status = k->check(&a, &e);
        if (c.sentence == NULL)
            CHECK_OK(status, &e);
        else if (CHECK(status != HOLO_OK))
            CHECK_HAS(e.message, c.sentence);
    }
}

static float sequence_data[64];
static int64_t sequence_numbers[] = {2, 1, 5};
static int64_t sequence_zero[] = {0};
static holo_tensor sequence_items[] = {
    {.data = sequence_data, .dtype = HOLO_F32, .rank = 2, .dim = {2, 3}},
    {.data = sequence_data, .dtype = HOLO_F32, .rank = 2, .dim = {2, 4}},
    {.data = sequence_data, .dtype = HOLO_F32, .rank = 1, .dim = {3}},
    {.data = sequence_data, .dtype = HOLO_U4, .rank = 1, .dim = {3}},
    {.data = sequence_data, .dtype = HOLO_SEQUENCE, .rank = 1, .dim = {0}},
};

#define SEQUENCE(n)                                                                                \
    {                                                                                              \
        .data = sequence_items, .dtype = HOLO_SEQUENCE, .rank = 1, .dim = { n }                    \
    }
#define OF(type, r, ...)                                                                           \
    {                                                                                              \
        .data = sequence_data, .dtype = type, .rank = r, .dim = { __VA_ARGS__ }                    \
    }
#define NUMBERS(array, r, ...)                                                                     \
    {                                                                                              \
        .data = array, .dtype = HOLO_I64, .rank = r, .dim = { __VA_ARGS__ }                        \
    }
#define ABSENT                                                                                     \
    {                                                                                              \
        .dtype = HOLO_NONE                                                                         \
    }

static void sequence_refuses(void)
{
    static const sequence_call calls[] = {
        {"sequence.construct", NULL, 1, 1, 0, {OF(HOLO_F32, 1, 4)}, {SEQUENCE(1)}, {0}},
        {"sequence.construct",
         "the output is float32, expected a container",
         1,
         1,
         0,
         {OF(HOLO_F32, 1, 4)},
         {OF(HOLO_F32, 1, 1)},
         {0}},
        {"sequence.construct",
         "an optional of 2 values",
         2,
         1,
         0,
         {OF(HOLO_F32, 1, 4), OF(HOLO_F32, 1, 4)},
         {OF(HOLO_OPTIONAL, 1, 2)},
         {0}},
        {"sequence.construct", "input 0 is missing", 1, 1, 0, {ABSENT}, {SEQUENCE(1)}, {0}},
        {"sequence.construct",
         "input 0 has type unknown",
         1,
         1,
         0,
         {OF(99, 1, 4)},
         {SEQUENCE(1)},
         {0}},
        {"sequence.insert",
         "4 inputs",
         4,
         1,
         0,
         {SEQUENCE(1), OF(HOLO_F32, 1, 4)},
         {SEQUENCE(2)},
         {0}},
        {"sequence.erase", "3 inputs", 3, 1, 0, {SEQUENCE(2)}, {SEQUENCE(1)}, {0}},
        {"sequence.erase",
         "input 1 has type float32",
         2,
         1,
         0,
         {SEQUENCE(2), OF(HOLO_F32, 0, 0)},
         {SEQUENCE(1)},
         {0}},
        {"sequence.at", "2 outputs", 1, 2, 0, {SEQUENCE(2)}, {OF(HOLO_F32, 2, 2, 3)}, {0}},
        {"sequence.erase", NULL, 1, 1, 0, {SEQUENCE(2)}, {SEQUENCE(1)}, {0}},
        {"sequence.erase", "input 0 is missing", 1, 1, 0, {ABSENT}, {SEQUENCE(1)}, {0}},
        {"sequence.erase", "taken from an empty", 1, 1, 0, {SEQUENCE(0)}, {SEQUENCE(0)}, {0}},
        {"sequence.erase",
         "input 0 has rank 2",
         1,
         1,
         0,
         {OF(HOLO_SEQUENCE, 2, 1, 1)},
         {SEQUENCE(0)},
         {0}},
        {"sequence.erase",
         "the position has 2 elements, expected 1",
         2,
         1,
         0,
         {SEQUENCE(2), NUMBERS(sequence_numbers, 1, 2)},
         {SEQUENCE(1)},
         {0}},
        {"sequence.at", NULL, 1, 1, 0, {SEQUENCE(2)}, {OF(HOLO_F32, 2, 2, 3)}, {0}},
        {"sequence.at", "the sequence is empty", 1, 1, 0, {SEQUENCE(0)}, {OF(HOLO_F32, 1, 3)}, {0}},
    };
    sequence_try(calls, HG_COUNT(calls));
}

static void sequence_split_refuses(void)
{
    static const sequence_call calls[] = {
        {"sequence.split",
         NULL,
         2,
         1,
         2,
         {OF(HOLO_F32, 1, 8), NUMBERS(sequence_numbers, 1, 3)},
         {SEQUENCE(3)},
         {0, 1}},
        {"sequence.split",
         "no sequence of 3 parts",
         2,
         1,
         2,
         {OF(HOLO_F32, 1, 8), NUMBERS(sequence_numbers, 1, 3)},
         {SEQUENCE(2)},
         {0, 1}},
        {"sequence.split",
         "add up to 8, expected 9",
         2,
         1,
         2,
         {OF(HOLO_F32, 1, 9), NUMBERS(sequence_numbers, 1, 3)},
         {SEQUENCE(3)},
         {0, 1}},
        {"sequence.split",
         "part 2 has size 5, 4 are left",
         2,
         1,
         2,
         {OF(HOLO_F32, 1, 7), NUMBERS(sequence_numbers, 1, 3)},
         {SEQUENCE(3)},
         {0, 1}},
        {"sequence.split",
         "1 parameters",
         2,
         1,
         1,
         {OF(HOLO_F32, 1, 8), NUMBERS(sequence_numbers, 1, 3)},
         {SEQUENCE(3)},
         {0, 1}},
        {"sequence.split",
         "the axis is 1",
         2,
         1,
         2,
         {OF(HOLO_F32, 1, 8), NUMBERS(sequence_numbers, 1, 3)},
         {SEQUENCE(3)},
         {1, 1}},
        {"sequence.split",
         "keepdims is 2",
         2,
         1,
         2,
         {OF(HOLO_F32, 1, 8), NUMBERS(sequence_numbers, 1, 3)},
         {SEQUENCE(3)},
         {0, 2}},
        {"sequence.split",
         "input 0 has type sequence",
         1,
         1,
         2,
         {SEQUENCE(3)},
         {SEQUENCE(3)},
         {0, 1}},
        {"sequence.split",
         "the input has rank 0",
         1,
         1,
         2,
         {OF(HOLO_F32, 0, 0)},
         {SEQUENCE(3)},
         {0, 1}},
        {"sequence.split",
         "input 1 has type float32",
         2,
         1,
         2,
         {OF(HOLO_F32, 1, 8), OF(HOLO_F32, 0, 0)},
         {SEQUENCE(3)},
         {0, 1}},
        {"sequence.split",
         "the sizes has rank 2",
         2,
         1,
         2,
         {OF(HOLO_F32, 1, 8), NUMBERS(sequence_numbers, 2, 3, 1)},
         {SEQUENCE(3)},
         {0, 1}},
        {"sequence.split",
         "parts of size 0",
         2,
         1,
         2,
         {OF(HOLO_F32, 1, 8), NUMBERS(sequence_zero, 0, 0)},
         {SEQUENCE(3)},
         {0, 1}},
        {"sequence.split",
         "parts of uint4 that do not fill bytes",
         1,
         1,
         2,
         {OF(HOLO_U4, 2, 2, 3)},
         {SEQUENCE(2)},
         {0, 1}},
    };
    sequence_try(calls, HG_COUNT(calls));
}

static void sequence_concat_refuses(void)
{
    static const sequence_call calls[] = {
        {"sequence.concat", NULL, 1, 1, 2, {SEQUENCE(2)}, {OF(HOLO_F32, 2, 2, 7)}, {1, 0}},
        {"sequence.concat",
         "item 1 has 4 in dimension 1, the first has 3",
         1,
         1,
         2,
         {SEQUENCE(2)},
         {OF(HOLO_F32, 2, 4, 3)},
         {0, 0}},
        {"sequence.concat",
         "item 2 is float32 of rank 1, the first is float32 of rank 2",
         1,
         1,
         2,
         {SEQUENCE(3)},
         {OF(HOLO_F32, 2, 2, 7)},
         {1, 0}},
        {"sequence.concat",
         "items of uint4",
         1,
         1,
         2,
         {{.data = sequence_items + 3, .dtype = HOLO_SEQUENCE, .rank = 1, .dim = {1}}},
         {OF(HOLO_U4, 1, 3)},
         {0, 0}},
        {"sequence.concat",
         "the items are sequence",
         1,
         1,
         2,
         {{.data = sequence_items + 4, .dtype = HOLO_SEQUENCE, .rank = 1, .dim = {1}}},
         {OF(HOLO_F32, 1, 3)},
         {0, 0}},
    };
    sequence_try(calls, HG_COUNT(calls));
}

const hg_test_case hg_tests_kernel_sequence[] = {
    {"refuses", sequence_refuses},
    {"split_refuses", sequence_split_refuses},
    {"concat_refuses", sequence_concat_refuses},
    {0},
};
