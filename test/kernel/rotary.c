/* rotary.c - rotary against the formula, each rounding on its own; rows that share angles. */
#include "kernel/move.h"
#include "kernel/variants.h"

#include <math.h>

extern const hg_kernel hg_kernels_rotary[];
#if defined(TUNED)
extern const hg_kernel TUNED(rotary)[];
#endif

/* x [2,3,4,d]; cosines for each of 4 rows, sines for each of 3, and d places. */
static void rotary_make_size(move_call *c, int64_t d)
{
    holo_tensor *t[3] = {move_in(c, HOLO_F32, 4, MOVE_DIMS(2, 3, 4, d)),
                         move_in(c, HOLO_F32, 2, MOVE_DIMS(4, d)),
                         move_in(c, HOLO_F32, 4, MOVE_DIMS(1, 3, 1, d))};
    for (int k = 0; k < 3; k++)
        for (int64_t i = 0; i < holo_tensor_count(t[k]); i++)
            ((float *)t[k]->data)[i] = (float)sin((double)(i * 7 + k) * 0.37) * 1.7f;
    move_out(c, HOLO_F32, 4, MOVE_DIMS(2, 3, 4, d));
}

static void rotary_make(move_call *c)
{
    rotary_make_size(c, 6);
}

static void rotary_turns_on(const hg_kernel *k, int64_t d)
{
    move_call c = {0};
    rotary_make_size(&c, d);
    if (!move_run(k, &c)) return;
    const float *x = c.in[0].data, *cosine = c.in[1].data, *sine = c.in[2].data;
    for (int64_t i = 0; i < holo_tensor_count(&c.out[0]); i++) {
        int64_t at[4];
        move_coordinates(&c.out[0], i, at);
        const int64_t half = d / 2;
        const float other = at[3] < half ? -x[i + half] : x[i - half];
        const volatile float straight = x[i] * cosine[at[2] * d + at[3]];
        const volatile float crossed = other * sine[at[1] * d + at[3]];
        if (!CHECK_NEAR(((const float *)c.out[0].data)[i], straight + crossed, 0)) break;
    }
    move_free(&c);
}

static void rotary_turns(void)
{
    for (int64_t d = 0; d <= 64; d += 2)
        rotary_turns_on(hg_kernels_rotary, d);
}

#if defined(TUNED)
static void rotary_tuned(void)
{
    if (!tuned_runs()) SKIP("not for this CPU");
    for (int64_t d = 0; d <= 64; d += 2)
        rotary_turns_on(TUNED(rotary), d);
}
#endif

static void rotary_refuses(void)
{
    static const move_bad bad[] = {
        {MOVE_N_IN, 0, 0, 2, "2 inputs"},
        {MOVE_N_OUT, 0, 0, 0, "0 outputs"},
        {MOVE_IN_TYPE, 0, 0, HOLO_I32, "input 0 has type int32"},
        {MOVE_IN_TYPE, 2, 0, HOLO_F16, "input 2 has type float16"},
        {MOVE_OUT_TYPE, 0, 0, HOLO_I32, "output 0 has type int32"},
        {MOVE_IN_RANK, 0, 0, 0, "input 0 has rank 0"},
        {MOVE_OUT_DIM, 0, 1, 4, "output"},
        {MOVE_IN_RANK, 1, 0, 0, "an angle has rank 0"},
        {MOVE_IN_DIM, 1, 0, 3, "an angle"},
        {MOVE_IN_DIM, 2, 3, 1, "input 2 has 1 elements in a row, expected 6"},
    };
    MOVE_REFUSES(hg_kernels_rotary, rotary_make, bad);
}

/* Rows of an odd number have no halves. */
static void rotary_odd(void)
{
    move_call c = {0};
    holo_error e = {0};
    for (int k = 0; k < 3; k++)
        move_in(&c, HOLO_F32, 1, MOVE_DIMS(5));
    move_out(&c, HOLO_F32, 1, MOVE_DIMS(5));
    move_connect(&c);
    CHECK_STATUS(hg_kernels_rotary[0].check(&c.args, &e), HOLO_E_SHAPE);
    CHECK_HAS(e.message, "rows have 5 elements");
    move_free(&c);
}

const hg_test_case hg_tests_kernel_rotary[] = {
    {"turns", rotary_turns},
    {"refuses", rotary_refuses},
    {"odd", rotary_odd},
#if defined(TUNED)
    {"tuned", rotary_tuned},
#endif
    {0},
};
