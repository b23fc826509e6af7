/* stop.c - kernels whose single unit may take long ask whether the run has ended, and then return.
 */
#include "isa/kernel.h"
#include "kernel/rnn.h"
#include "test.h"

#include <stdio.h>
#include <stdlib.h>

typedef struct stop_asked {
    int count, yes_at;
} stop_asked;

static bool stop_answer(const void *user)
{
    stop_asked *asked = (stop_asked *)(uintptr_t)user;
    asked->count++;
    return asked->count >= asked->yes_at;
}

enum { STOP_TENSORS = 8 }; /* those not given are absent */

typedef struct stop_case {
    const char *kernel;
    holo_tensor in[STOP_TENSORS], out[STOP_TENSORS];
    int64_t param[HG_RNN_PARAM_FUNCTIONS + 3 * HG_RNN_FUNCTION_PARAMS];
    uint32_t n_in, n_out, n_param;
    int after; /* questions that may follow the answer yes: one for each loop around */
} stop_case;

static void stop_fill(holo_tensor *t)
{
    const size_t bytes = holo_tensor_bytes(t);
    t->data = calloc(1, bytes == 0 ? 1 : bytes);
    if (t->data == NULL) abort();
    for (int64_t i = 0; t->dtype == HOLO_F32 && i < holo_tensor_count(t); i++)
        ((float *)t->data)[i] = (float)(i * 7919 % 65536) / 65536.0F;
}

/* How often the kernel asks when it is told to stop at question `yes_at`. */
static int stop_run(const stop_case *c, const hg_kernel *k, int yes_at)
{
    stop_asked asked = {.yes_at = yes_at};
    hg_fault fault = {0};
    holo_tensor out[STOP_TENSORS];
    memcpy(out, c->out, sizeof out);
    hg_args a = {.in = c->in,
                 .out = out,
                 .param = c->param,
                 .fault = &fault,
                 .n_in = c->n_in,
                 .n_out = c->n_out,
                 .n_param = c->n_param,
                 .stop = stop_answer,
                 .stop_user = &asked};
    holo_error e = {0};
    CHECK_OK(k->check(&a, &e), &e);
    const size_t scratch = hg_kernel_work(k, &a).scratch;
    void *memory = aligned_alloc(64, (scratch + 127) / 64 * 64);
    if (memory == NULL) abort();
    k->run(&a, (hg_range){0, hg_kernel_work(k, &a).units, memory});
    free(memory);
    return asked.count;
}

static void stop_try(stop_case *c)
{
    const hg_kernel *k = hg_kernel_lookup(holo_kernels_all(), c->kernel);
    for (uint32_t i = 0; i < c->n_in; i++)
        stop_fill(&c->in[i]);
    for (uint32_t i = 0; i < c->n_out; i++)
        stop_fill(&c->out[i]);
    const int all = stop_run(c, k, INT32_MAX);
    const int early = stop_run(c, k, 2);
    if (!CHECK(all > 4) || !CHECK(early >= 2 && early <= 2 + c->after && early < all))
        printf("  %s: %d questions, %d when stopped at the second\n", c->kernel, all, early);
    for (uint32_t i = 0; i < c->n_in; i++)
        free(c->in[i].data);
    for (uint32_t i = 0; i < c->n_out; i++)
        free(c->out[i].data);
}

#define STOP_F32(...)                                                                              \
    {                                                                                              \
        .dtype = HOLO_F32, .rank = (int32_t)(sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t)),  \
        .dim = {                                                                                   \
            __VA_ARGS__                                                                            \
        }                                                                                          \
    }
#define STOP_I64(...)                                                                              \
    {                                                                                              \
        .dtype = HOLO_I64, .rank = (int32_t)(sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t)),  \
        .dim = {                                                                                   \
            __VA_ARGS__                                                                            \
        }                                                                                          \
    }

static void stop_kernels(void)
{
    stop_case list[] = {
        {"topk", {STOP_F32(1 << 18)}, {STOP_F32(1 << 18), STOP_I64(1 << 18)}, {0, 1}, 1, 2, 2, 0},
        {"unique.order", {STOP_F32(1 << 14)}, {STOP_I64(1 << 14)}, {-1}, 1, 1, 1, 0},
        {"nms",
         {STOP_F32(1, 4096, 4), STOP_F32(1, 1, 4096)},
         {STOP_I64(4096, 3), {.dtype = HOLO_I64}},
         {4096, 0},
         2,
         2,
         2,
         1},
        {"det", {STOP_F32(1, 64, 64)}, {STOP_F32(1)}, {0}, 1, 1, 0, 0},
        {"dft", {STOP_F32(1 << 17, 2)}, {STOP_F32(1 << 17, 2)}, {0, 0, 0, 1 << 17}, 1, 1, 4, 20},
        {"dft", {STOP_F32(65537, 1)}, {STOP_F32(65537, 2)}, {0, 0, 0, 65537}, 1, 1, 4, 40},
        {"rnn",
         {STOP_F32(512, 1, 4), STOP_F32(1, 4, 4), STOP_F32(1, 4, 4)},
         {STOP_F32(512, 1, 1, 4)},
         {0},
         6,
         1,
         HG_RNN_PARAM_FUNCTIONS + HG_RNN_FUNCTION_PARAMS,
         0},
        {"gru",
         {STOP_F32(512, 1, 4), STOP_F32(1, 12, 4), STOP_F32(1, 12, 4)},
         {STOP_F32(512, 1, 1, 4)},
         {0},
         6,
         1,
         HG_RNN_PARAM_FUNCTIONS + 2 * HG_RNN_FUNCTION_PARAMS,
         0},
        {"lstm",
         {STOP_F32(512, 1, 4), STOP_F32(1, 16, 4), STOP_F32(1, 16, 4)},
         {STOP_F32(512, 1, 1, 4)},
         {0},
         6,
         1,
         HG_RNN_PARAM_FUNCTIONS + 3 * HG_RNN_FUNCTION_PARAMS,
         0},
        {"recur.p16",
         {STOP_F32(512, 1, 4), STOP_F32(1, 4, 16)},
         {STOP_F32(512, 1, 1, 4)},
         {0},
         2,
         1,
         HG_RNN_PARAM_FUNCTIONS + HG_RNN_FUNCTION_PARAMS + 1,
         0},
        {"linearattention",
         {STOP_F32(1, 1024, 4), STOP_F32(1, 1024, 4), STOP_F32(1, 1024, 4)},
         {STOP_F32(1, 1024, 4)},
         {1, 1, 0},
         6,
         1,
         3,
         0},
    };
    for (size_t i = 0; i < HG_COUNT(list); i++)
        stop_try(&list[i]);
}

/* A kernel that nobody can stop works as before. */
static void stop_never(void)
{
    const hg_args a = {0};
    CHECK(!hg_args_stopped(&a));
}

const hg_test_case hg_tests_fault_stop[] = {
    {"kernels", stop_kernels},
    {"never", stop_never},
    {0},
};
