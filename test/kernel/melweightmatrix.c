/* melweightmatrix.c - melweightmatrix against the standard's triangles. */
#include "kernel/value.h"

extern const hg_kernel hg_kernels_melweightmatrix[];

enum { BANDS = 8, LENGTH = 64 };

static void mel_make(move_call *c, holo_dtype dtype, double low, double high)
{
    value_set(value_in(c, HOLO_I64, 0, MOVE_DIMS(0), 1), 0, LENGTH);
    value_set(value_in(c, HOLO_I32, 0, MOVE_DIMS(0), 1), 0, 16000);
    value_set(value_in(c, HOLO_F32, 0, MOVE_DIMS(0), 1), 0, low);
    value_set(value_in(c, HOLO_F64, 1, MOVE_DIMS(1), 1), 0, high);
    move_out(c, dtype, 2, MOVE_DIMS(LENGTH / 2 + 1, BANDS));
}

static void mel_values(void)
{
    static const holo_dtype types[] = {HOLO_F32, HOLO_F64, HOLO_F16, HOLO_I32};
    for (size_t t = 0; t < HG_COUNT(types); t++) {
        move_call c = {0};
        int64_t bin[BANDS + 2];
        const double low = 2595 * log10(1 + 125.0 / 700), high = 2595 * log10(1 + 7500.0 / 700);
        mel_make(&c, types[t], 125, 7500);
        if (!move_run(hg_kernels_melweightmatrix, &c)) return;
        for (int i = 0; i < BANDS + 2; i++) {
            const double hertz = 700 * (pow(10, (low + i * (high - low) / (BANDS + 2)) / 2595) - 1);
            bin[i] = (int64_t)floor((LENGTH + 1) * hertz / 16000);
        }
        for (int64_t i = 0; i < (LENGTH / 2 + 1) * BANDS; i++) {
            const int64_t j = i / BANDS, *b = bin + i % BANDS;
            double v = 0;
            if (b[0] == b[1] && j == b[1]) v = 1;
            if (j >= b[0] && j <= b[1] && b[0] < b[1])
                v = (double)(j - b[0]) / (double)(b[1] - b[0]);
            if (j >= b[1] && j < b[2]) v = (double)(b[2] - j) / (double)(b[2] - b[1]);
            if (!value_near(&c.out[0], i, types[t] == HOLO_I32 ? trunc(v) : v)) break;
        }
        CHECK_EQ_INT(c.fault.kind, HG_FAULT_NONE);
        move_free(&c);
    }
}

/* Edges outside the spectrum, and rates that are none. */
static void mel_faults(void)
{
    static const double edge[] = {1e9, -1e9, NAN, INFINITY};
    for (size_t k = 0; k < HG_COUNT(edge); k++) {
        move_call c = {0};
        mel_make(&c, HOLO_F32, 125, edge[k]);
        CHECK(move_run(hg_kernels_melweightmatrix, &c));
        CHECK_EQ_INT(c.fault.kind, HG_FAULT_RANGE);
        move_free(&c);
    }
    move_call c = {0};
    mel_make(&c, HOLO_F32, 125, 7500);
    ((int32_t *)c.in[1].data)[0] = 0;
    CHECK(move_run(hg_kernels_melweightmatrix, &c));
    CHECK_EQ_INT(c.fault.kind, HG_FAULT_RANGE);
    move_free(&c);
}

static void mel_make_good(move_call *c)
{
    mel_make(c, HOLO_F32, 125, 7500);
}

static void mel_refuses(void)
{
    static const move_bad bad[] = {
        {MOVE_N_IN, 0, 0, 3, "3 inputs"},
        {MOVE_IN_TYPE, 0, 0, HOLO_F32, "input 0 has type float32"},
        {MOVE_IN_TYPE, 3, 0, HOLO_I32, "input 3 has type int32"},
        {MOVE_IN_DIM, 3, 0, 2, "input 3 has 2 elements"},
        {MOVE_OUT_TYPE, 0, 0, HOLO_BOOL, "output 0 has type bool"},
        {MOVE_OUT_RANK, 0, 0, 1, "output has rank 1"},
    };
    MOVE_REFUSES(hg_kernels_melweightmatrix, mel_make_good, bad);
}

const hg_test_case hg_tests_kernel_melweightmatrix[] = {
    {"values", mel_values},
    {"faults", mel_faults},
    {"refuses", mel_refuses},
    {0},
};
