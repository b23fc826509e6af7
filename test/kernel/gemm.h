/* gemm.h - what the tests of products and convolutions share: exactly sized tensors (so that the
 * address sanitizer sees any access outside), calls in odd splits, and the error bound of a sum of
 * products. */
#ifndef HG_TEST_KERNEL_GEMM_H
#define HG_TEST_KERNEL_GEMM_H

#include "base/half.h"
#include "kernel/variants.h"
#include "test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { GEMM_MAX_IN = 10, GEMM_MAX_PARAM = 32 };

/* One call; `in`, `out` and `param` are what args points to. */
typedef struct gemm_call {
    hg_args args;
    holo_tensor in[GEMM_MAX_IN], out;
    int64_t param[GEMM_MAX_PARAM];
} gemm_call;

static inline uint32_t gemm_random(uint32_t *seed)
{
    *seed = *seed * 1664525 + 1013904223;
    return *seed >> 8;
}

/* A random size in [low, high]. */
static inline int64_t gemm_size(uint32_t *seed, int64_t low, int64_t high)
{
    return low + (int64_t)(gemm_random(seed) % (uint32_t)(high - low + 1));
}

static inline void *gemm_alloc(size_t bytes)
{
    void *p = malloc(bytes == 0 ? 1 : bytes);
    if (p == NULL) abort();
    return p;
}

static inline double gemm_get(const holo_tensor *t, int64_t i)
{
    const void *d = t->data;
    if (t->dtype == HOLO_F32) return ((const float *)d)[i];
    if (t->dtype == HOLO_F64) return ((const double *)d)[i];
    if (t->dtype == HOLO_F16) return hg_f16_to_f32(((const uint16_t *)d)[i]);
    if (t->dtype == HOLO_BF16) return hg_bf16_to_f32(((const uint16_t *)d)[i]);
    if (t->dtype == HOLO_I32) return ((const int32_t *)d)[i];
    if (t->dtype == HOLO_U32) return ((const uint32_t *)d)[i];
    if (t->dtype == HOLO_I64) return (double)((const int64_t *)d)[i];
    if (t->dtype == HOLO_U64) return (double)((const uint64_t *)d)[i];
    if (t->dtype == HOLO_U8) return ((const uint8_t *)d)[i];
    abort();
}

static inline void gemm_set(holo_tensor *t, int64_t i, double x)
{
    void *d = t->data;
    if (t->dtype == HOLO_F32) ((float *)d)[i] = (float)x;
    if (t->dtype == HOLO_F64) ((double *)d)[i] = x;
    if (t->dtype == HOLO_F16) ((uint16_t *)d)[i] = hg_f32_to_f16((float)x);
    if (t->dtype == HOLO_BF16) ((uint16_t *)d)[i] = hg_f32_to_bf16((float)x);
    if (t->dtype == HOLO_I32) ((int32_t *)d)[i] = (int32_t)(x * 100);
    if (t->dtype == HOLO_U32) ((uint32_t *)d)[i] = (uint32_t)((x + 1) * 100);
    if (t->dtype == HOLO_I64) ((int64_t *)d)[i] = (int64_t)(x * 100);
    if (t->dtype == HOLO_U64) ((uint64_t *)d)[i] = (uint64_t)((x + 1) * 100);
}

/* Values in [-1, 1), scaled to small integers for integer types. */
static inline holo_tensor gemm_tensor(holo_dtype dtype, int rank, const int64_t *dim, uint32_t seed)
{
    holo_tensor t = {.rank = rank, .dtype = dtype};
    for (int i = 0; i < rank; i++)
        t.dim[i] = dim[i];
    t.data = gemm_alloc(holo_tensor_bytes(&t));
    const int64_t count = holo_tensor_count(&t);
    for (int64_t i = 0; i < count; i++)
        gemm_set(&t, i, (double)gemm_random(&seed) / 8388608.0 - 1);
    return t;
}

static inline void gemm_connect(gemm_call *c, uint32_t n_in, uint32_t n_param)
{
    c->args.in = c->in;
    c->args.out = &c->out;
    c->args.param = c->param;
    c->args.n_in = n_in;
    c->args.n_out = 1;
    c->args.n_param = n_param;
}

static inline void gemm_set_f64(gemm_call *c, uint32_t i, double x)
{
    memcpy(&c->param[i], &x, sizeof x);
}

static inline void gemm_free(gemm_call *c)
{
    for (uint32_t i = 0; i < c->args.n_in; i++)
        free(c->in[i].data);
    free(c->out.data);
}

static inline void gemm_range(const hg_kernel *k, const hg_args *a, int64_t begin, int64_t end)
{
    const size_t bytes = hg_kernel_work(k, a).scratch;
    /* aligned, and still followed by a red zone right behind the last byte */
    char *block = gemm_alloc(bytes + 64);
    char *scratch = block + (64 - (uintptr_t)block % 64) % 64;
    char *exact = NULL;
    if ((uintptr_t)block % 64 != 0 &&
        posix_memalign((void **)&exact, 64, bytes == 0 ? 1 : bytes) == 0)
        scratch = exact;
    memset(scratch, 0xff, bytes);
    k->run(a, (hg_range){begin, end, bytes == 0 ? NULL : scratch});
    free(exact);
    free(block);
}

/* In three uneven parts over garbage. */
static inline void gemm_parts(const hg_kernel *k, gemm_call *c)
{
    memset(c->out.data, 0xa5, holo_tensor_bytes(&c->out));
    const int64_t units = hg_kernel_work(k, &c->args).units, first = units > 1,
                  middle = first + (units - first) / 3;
    gemm_range(k, &c->args, middle, units);
    gemm_range(k, &c->args, 0, first);
    gemm_range(k, &c->args, first, middle);
}

/* What the processor has beyond the kernel's needs changes no bit. */
static inline void gemm_run_wide(const hg_kernel *k, gemm_call *c)
{
    const size_t bytes = holo_tensor_bytes(&c->out);
    void *narrow = gemm_alloc(bytes);
    memcpy(narrow, c->out.data, bytes);
    for (int is_wide = 0; is_wide < 2; is_wide++) {
        c->args.cpu = tuned_features(is_wide != 0);
        gemm_parts(k, c);
        if (memcmp(narrow, c->out.data, bytes) != 0)
            hg_test_fail(__FILE__, __LINE__, "%s: other bits with all the processor has, wide: %d",
                         k->name, is_wide);
    }
    c->args.cpu = 0;
    free(narrow);
}

/* Checks and runs the kernel; false when it was refused. */
static inline bool gemm_run(const hg_kernel *k, gemm_call *c)
{
    holo_error e = {0};
    if (!CHECK_OK(k->check(&c->args, &e), &e)) return false;
    gemm_parts(k, c);
    if (k->cpu != 0) gemm_run_wide(k, c);
    return true;
}

/* Half a unit in the last place of a type, relative to the value. */
static inline double gemm_epsilon(holo_dtype dtype)
{
    if (dtype == HOLO_F64) return 0x1p-53;
    if (dtype == HOLO_F32) return 0x1p-24;
    if (dtype == HOLO_F16) return 0x1p-11;
    return dtype == HOLO_BF16 ? 0x1p-8 : 0;
}

/* Whether element i of the output is within the bound of a sum of k products accumulated in any
 * order in at least f32: (k + 4) eps * sum|a b|, then one rounding to the output's type. Prints the
 * first failure. */
static inline bool gemm_near(const char *what, const holo_tensor *out, int64_t i, int64_t k,
                             double sum, double sum_abs)
{
    const double accumulate = out->dtype == HOLO_F64 ? 0x1p-53 : 0x1p-24;
    const bool is_int = gemm_epsilon(out->dtype) == 0;
    const double bound = is_int
                             ? 0
                             : (double)(k + 4) * accumulate * sum_abs +
                                   gemm_epsilon(out->dtype) * fabs(sum) + 0x1p-25 * sum_abs + 1e-30;
    const double got = gemm_get(out, i);
    if (fabs(got - sum) <= bound) return true;
    hg_test_fail(__FILE__, __LINE__, "%s: element %lld is %.9g, expected %.9g +- %.3g", what,
                 (long long)i, got, sum, bound);
    return false;
}

/* ---- lane code for epilogues ------------------------------------------------------------- */

enum { GEMM_MAX_OP = 64 };

typedef struct gemm_code {
    hg_lane_code code;
    hg_lane_op op[GEMM_MAX_OP];
    hg_lane_out out;
} gemm_code;

/* max(x + operand 1 + ... + operand `extra`, 0) in f32. */
static inline void gemm_code_sum(gemm_code *c, uint32_t extra)
{
    uint32_t n = 0;
    uint16_t reg = 0;
    memset(c, 0, sizeof *c);
    c->op[n++] = (hg_lane_op){.op = HG_LANE_LOAD, .type = HG_LANE_F32, .dst = 0, .index = 0};
    for (uint32_t i = 1; i <= extra; i++) {
        c->op[n++] = (hg_lane_op){
            .op = HG_LANE_LOAD, .type = HG_LANE_F32, .dst = (uint16_t)(reg + 1), .index = i};
        c->op[n++] = (hg_lane_op){.op = HG_LANE_ADD,
                                  .type = HG_LANE_F32,
                                  .dst = (uint16_t)(reg + 2),
                                  .a = reg,
                                  .b = (uint16_t)(reg + 1)};
        reg = (uint16_t)(reg + 2);
    }
    c->op[n++] = (hg_lane_op){.op = HG_LANE_CONST, .type = HG_LANE_F32, .dst = (uint16_t)(reg + 1)};
    c->op[n++] = (hg_lane_op){.op = HG_LANE_MAX,
                              .type = HG_LANE_F32,
                              .dst = (uint16_t)(reg + 2),
                              .a = reg,
                              .b = (uint16_t)(reg + 1)};
    c->out = (hg_lane_out){.reg = (uint16_t)(reg + 2), .type = HG_LANE_F32};
    c->code = (hg_lane_code){.op = c->op,
                             .out = &c->out,
                             .n_op = n,
                             .n_in = extra + 1,
                             .n_out = 1,
                             .n_reg = (uint32_t)reg + 3};
}

/* ---- bad calls --------------------------------------------------------------------------- */

/* Each breaks exactly one rule of a good call; `part` occurs in the sentence. */
typedef struct gemm_bad {
    const char *part;
    void (*spoil)(gemm_call *c);
    holo_status status;
} gemm_bad;

static inline void gemm_refuse(const hg_kernel *k, void (*make)(gemm_call *), const gemm_bad *bad,
                               size_t count)
{
    for (size_t i = 0; i < count; i++) {
        gemm_call c;
        memset(&c, 0, sizeof c);
        make(&c);
        holo_error e = {0};
        CHECK_OK(k->check(&c.args, &e), &e);
        bad[i].spoil(&c);
        CHECK_STATUS(k->check(&c.args, &e), bad[i].status);
        CHECK_HAS(e.message, bad[i].part);
    }
}

#endif
