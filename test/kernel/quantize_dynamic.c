/* quantize_dynamic.c - quantize.extent and quantize.dynamic against ONNX's formula, every variant.
 */
#include "kernel/value.h"

#include "kernel/variants.h"

extern const hg_kernel hg_kernels_quantize_dynamic[];
#if defined(TUNED)
extern const hg_kernel TUNED(quantize_dynamic)[];
#endif

static void dynamic_expect(const float *x, int64_t count, float *scale, float *zero)
{
    float low = 0, high = 0;
    for (int64_t i = 0; i < count; i++) {
        low = fminf(low, x[i]);
        high = fmaxf(high, x[i]);
    }
    *scale = (high - low) / 255.0f;
    *zero = *scale == 0 ? 0 : fminf(fmaxf(rintf(-low / *scale), 0), 255);
}

/* [0] of the list is quantize.dynamic, [1] quantize.extent. With a size below 0 quotients are at a
 * half, or a step beside it. */
static void dynamic_try(const hg_kernel *k, int64_t count, float shift, float size)
{
    move_call c = {0}, d = {0};
    holo_tensor *x = value_in(&c, HOLO_F32, 1, &count, (uint64_t)count + 1);
    float *v = x->data;
    for (int64_t i = 0; i < count; i++)
        v[i] = size < 0 ? (float)(i % 511) * 0.5f * (1 + (float)(i % 5 - 2) * 1.2e-7f)
                        : (v[i] + shift) * size;
    move_out(&c, HOLO_F32, 2, (int64_t[]){(count + 16383) / 16384, 2});
    if (move_run(&k[1], &c)) {
        float scale, zero;
        d.in[0] = c.in[0];
        d.in[1] = c.out[0];
        d.args.n_in = 2;
        move_out(&d, HOLO_U8, 1, &count);
        move_out(&d, HOLO_F32, 0, NULL);
        move_out(&d, HOLO_U8, 0, NULL);
        dynamic_expect(v, count, &scale, &zero);
        if (move_run(&k[0], &d)) {
            CHECK(*(float *)d.out[1].data == scale);
            CHECK_EQ_INT(*(uint8_t *)d.out[2].data, (int)zero);
            for (int64_t i = 0; i < count; i++) {
                const float q = scale == 0 ? 0 : rintf(v[i] / scale) + zero;
                if (!CHECK_EQ_INT(((uint8_t *)d.out[0].data)[i], (int)fminf(fmaxf(q, 0), 255)))
                    break;
            }
        }
    }
    memset(d.in, 0, sizeof d.in);
    move_free(&d);
    move_free(&c);
}

static void dynamic_all(const hg_kernel *k)
{
    static const int64_t sizes[] = {0, 1, 7, 16, 33, 100, 16384, 16385, 50000};
    for (size_t i = 0; i < HG_COUNT(sizes); i++) {
        dynamic_try(k, sizes[i], 0, 1);
        dynamic_try(k, sizes[i], 3, 0.01f);
        dynamic_try(k, sizes[i], -3, 100);
        dynamic_try(k, sizes[i], 0, 0);
        dynamic_try(k, sizes[i], 0, -1);
    }
}

/* A NaN anywhere makes the scale NaN and every code 0. */
static void dynamic_nan_on(const hg_kernel *k)
{
    for (int64_t at = 0; at < 40; at += 13) {
        const int64_t count = 40;
        move_call c = {0}, d = {0};
        holo_tensor *x = value_in(&c, HOLO_F32, 1, &count, 1);
        ((float *)x->data)[at] = NAN;
        move_out(&c, HOLO_F32, 2, (int64_t[]){1, 2});
        CHECK(move_run(&k[1], &c));
        d.in[0] = c.in[0];
        d.in[1] = c.out[0];
        d.args.n_in = 2;
        move_out(&d, HOLO_U8, 1, &count);
        move_out(&d, HOLO_F32, 0, NULL);
        move_out(&d, HOLO_U8, 0, NULL);
        CHECK(move_run(&k[0], &d));
        CHECK(isnan(*(float *)d.out[1].data));
        CHECK_EQ_INT(((uint8_t *)d.out[0].data)[at], 0);
        CHECK_EQ_INT(((uint8_t *)d.out[0].data)[39], 0);
        memset(d.in, 0, sizeof d.in);
        move_free(&d);
        move_free(&c);
    }
}

static void dynamic_values(void)
{
    dynamic_all(hg_kernels_quantize_dynamic);
    dynamic_nan_on(hg_kernels_quantize_dynamic);
}

static void extent_make(move_call *c)
{
    value_in(c, HOLO_F32, 1, (int64_t[]){9}, 1);
    move_out(c, HOLO_F32, 2, (int64_t[]){1, 2});
}

static void dynamic_make(move_call *c)
{
    value_in(c, HOLO_F32, 1, (int64_t[]){9}, 1);
    value_in(c, HOLO_F32, 2, (int64_t[]){1, 2}, 2);
    move_out(c, HOLO_U8, 1, (int64_t[]){9});
    move_out(c, HOLO_F32, 1, (int64_t[]){1});
    move_out(c, HOLO_U8, 1, (int64_t[]){1});
}

static void dynamic_refuses(void)
{
    static const move_bad extent[] = {
        {MOVE_N_IN, 0, 0, 2, "2 inputs"},
        {MOVE_IN_TYPE, 0, 0, HOLO_I32, "input 0 has type int32"},
        {MOVE_OUT_TYPE, 0, 0, HOLO_I32, "output 0 has type int32"},
        {MOVE_OUT_RANK, 0, 0, 1, "bounds has rank 1"},
        {MOVE_OUT_DIM, 0, 0, 2, "bounds are 2 x 2, expected 1 x 2"},
    };
    static const move_bad dynamic[] = {
        {MOVE_N_OUT, 0, 0, 2, "2 outputs"},
        {MOVE_IN_TYPE, 0, 0, HOLO_I32, "input 0 has type int32"},
        {MOVE_IN_TYPE, 1, 0, HOLO_I32, "input 1 has type int32"},
        {MOVE_OUT_TYPE, 0, 0, HOLO_I32, "output 0 has type int32"},
        {MOVE_OUT_TYPE, 1, 0, HOLO_I32, "output 1 has type int32"},
        {MOVE_OUT_TYPE, 2, 0, HOLO_I8, "output 2 has type int8"},
        {MOVE_OUT_DIM, 0, 0, 8, "codes"},
        {MOVE_OUT_DIM, 1, 0, 2, "output 1 has 2 elements"},
        {MOVE_OUT_DIM, 2, 0, 0, "output 2 has 0 elements"},
        {MOVE_IN_DIM, 1, 1, 1, "bounds are 1 x 1"},
    };
    MOVE_REFUSES(&hg_kernels_quantize_dynamic[1], extent_make, extent);
    MOVE_REFUSES(&hg_kernels_quantize_dynamic[0], dynamic_make, dynamic);
}

#if defined(TUNED)
static void dynamic_tuned(void)
{
    if (!tuned_runs()) SKIP("not for this CPU");
    dynamic_all(TUNED(quantize_dynamic));
    dynamic_nan_on(TUNED(quantize_dynamic));
}
#endif

const hg_test_case hg_tests_kernel_quantize_dynamic[] = {
    {"values", dynamic_values},
    {"refuses", dynamic_refuses},
#if defined(TUNED)
    {"tuned", dynamic_tuned},
#endif
    {0},
};
