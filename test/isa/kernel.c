/* kernel.c - faults, and the rules that kernels' checks share. */
#define HG_RULES_INSIDE /* the functions alone are meant */
#include "isa/kernel.h"
#include "test.h"

#include <pthread.h>

/* ---- faults ---------------------------------------------------------------------------------- */

static void kernel_lowest_fault_wins(void)
{
    hg_fault fault = {0};
    hg_fault_range(&fault, "index", 7, 12, -10, 9);
    CHECK_EQ_INT(fault.kind, HG_FAULT_RANGE);
    CHECK_EQ_INT(fault.value, 12);
    hg_fault_divide(&fault, 9);
    CHECK_EQ_INT(fault.element, 7);
    CHECK_EQ_INT(fault.kind, HG_FAULT_RANGE);
    hg_fault_value(&fault, "trip count", 3, -1);
    CHECK_EQ_INT(fault.kind, HG_FAULT_VALUE);
    CHECK_STR(fault.what, "trip count");
    CHECK_EQ_INT(fault.element, 3);
    CHECK_EQ_INT(fault.low, 0);
    hg_fault_divide(&fault, 0);
    CHECK_EQ_INT(fault.kind, HG_FAULT_DIVIDE);
    CHECK_EQ_INT(fault.lock, 0);
    hg_fault_divide(NULL, 1); /* nobody listens */
}

enum { KERNEL_THREADS = 4, KERNEL_FAULTS = 20000 };

typedef struct kernel_thread {
    hg_fault *fault;
    int64_t number;
} kernel_thread;

static void *kernel_faults(void *user)
{
    const kernel_thread *t = user;
    for (int64_t i = KERNEL_FAULTS; i > 0; i--) {
        int64_t element = i * KERNEL_THREADS + t->number;
        hg_fault_range(t->fault, "index", element, element * 2, element, element + 1);
    }
    return NULL;
}

static void kernel_faults_from_threads(void)
{
    hg_fault fault = {0};
    pthread_t thread[KERNEL_THREADS];
    kernel_thread user[KERNEL_THREADS];
    for (int i = 0; i < KERNEL_THREADS; i++) {
        user[i] = (kernel_thread){&fault, i};
        CHECK_EQ_INT(pthread_create(&thread[i], NULL, kernel_faults, &user[i]), 0);
    }
    for (int i = 0; i < KERNEL_THREADS; i++)
        pthread_join(thread[i], NULL);
    CHECK_EQ_INT(fault.element, KERNEL_THREADS);
    CHECK_EQ_INT(fault.value, KERNEL_THREADS * 2);
    CHECK_EQ_INT(fault.high, KERNEL_THREADS + 1);
}

/* ---- checks ---------------------------------------------------------------------------------- */

static void kernel_counts(void)
{
    holo_error e = {0};
    hg_args a = {.n_in = 2, .n_out = 1, .n_param = 3};
    CHECK_OK(hg_check_counts(&a, &e, 1, 2, 1, 3), &e);
    CHECK_OK(hg_check_counts(&a, &e, 0, -1, 1, 3), &e);
    CHECK_STATUS(hg_check_counts(&a, &e, 3, -1, 1, 3), HOLO_E_FORMAT);
    CHECK_HAS(e.message, "2 inputs, expected at least 3");
    CHECK_STATUS(hg_check_counts(&a, &e, 1, 1, 1, 3), HOLO_E_FORMAT);
    CHECK_HAS(e.message, "2 inputs, expected at most 1");
    CHECK_STATUS(hg_check_counts(&a, &e, 1, 2, 2, 3), HOLO_E_FORMAT);
    CHECK_HAS(e.message, "1 outputs, expected 2");
    CHECK_STATUS(hg_check_counts(&a, &e, 1, 2, 1, 4), HOLO_E_FORMAT);
    CHECK_HAS(e.message, "3 parameters, expected 4");
}

static void kernel_types(void)
{
    holo_error e = {0};
    holo_tensor in = {.dtype = HOLO_F16, .rank = 2, .dim = {3, 4}}, out = in;
    hg_args a = {.in = &in, .out = &out, .n_in = 1, .n_out = 1};
    CHECK_OK(hg_check_in_type(&a, &e, 0, HG_TYPES_FLOAT), &e);
    CHECK_OK(hg_check_out_type(&a, &e, 0, HG_TYPES_FLOAT), &e);
    CHECK_STATUS(hg_check_in_type(&a, &e, 1, HG_TYPES_FLOAT), HOLO_E_FORMAT);
    CHECK_HAS(e.message, "input 1 is missing");
    CHECK_STATUS(hg_check_out_type(&a, &e, 1, HG_TYPES_FLOAT), HOLO_E_FORMAT);
    CHECK_HAS(e.message, "output 1 is missing");
    CHECK_STATUS(hg_check_in_type(&a, &e, 0, HG_TYPES_INT), HOLO_E_TYPE);
    CHECK_HAS(e.message, "input 0 has type float16");
    in.dtype = HOLO_NONE;
    CHECK_STATUS(hg_check_in_type(&a, &e, 0, HG_TYPES_ANY), HOLO_E_FORMAT);
    CHECK_HAS(e.message, "input 0 is missing");
    out.rank = 9;
    CHECK_STATUS(hg_check_out_type(&a, &e, 0, HG_TYPES_FLOAT), HOLO_E_SHAPE);
    CHECK_HAS(e.message, "output 0 has rank 9, expected 0 to 8");
    out.rank = -1;
    CHECK_STATUS(hg_check_out_type(&a, &e, 0, HG_TYPES_FLOAT), HOLO_E_SHAPE);
    out.rank = 2;
    out.dim[1] = -1;
    CHECK_STATUS(hg_check_out_type(&a, &e, 0, HG_TYPES_FLOAT), HOLO_E_SHAPE);
    CHECK_HAS(e.message, "a negative dimension or too many elements");
    /* No elements, but the product of the others would overflow: strides are computed all the same.
     */
    out =
        (holo_tensor){.dtype = HOLO_F32, .rank = 3, .dim = {0, INT64_C(1) << 40, INT64_C(1) << 40}};
    CHECK_STATUS(hg_check_out_type(&a, &e, 0, HG_TYPES_FLOAT), HOLO_E_SHAPE);
}

static void kernel_shapes(void)
{
    holo_error e = {0};
    holo_tensor x = {.dtype = HOLO_F32, .rank = 2, .dim = {3, 4}}, y = x;
    CHECK_OK(hg_check_rank(&x, &e, "input 0", 1, 2), &e);
    CHECK_STATUS(hg_check_rank(&x, &e, "input 0", 3, 8), HOLO_E_SHAPE);
    CHECK_HAS(e.message, "input 0 has rank 2, expected 3 to 8");
    CHECK_STATUS(hg_check_rank(&x, &e, "input 0", 0, 1), HOLO_E_SHAPE);
    CHECK_OK(hg_check_same_shape(&x, &y, &e, "output"), &e);
    y.dim[1] = 5;
    CHECK_STATUS(hg_check_same_shape(&x, &y, &e, "output"), HOLO_E_SHAPE);
    CHECK_HAS(e.message, "output: dimension 1 is 4, expected 5");
    y.rank = 1;
    CHECK_STATUS(hg_check_same_shape(&x, &y, &e, "output"), HOLO_E_SHAPE);
    CHECK_HAS(e.message, "output has rank 2, expected 1");
    CHECK_OK(hg_check_same_type(&x, &y, &e, "output"), &e);
    y.dtype = HOLO_I8;
    CHECK_STATUS(hg_check_same_type(&x, &y, &e, "output"), HOLO_E_TYPE);
    CHECK_HAS(e.message, "output has type float32, expected int8");
}

static void kernel_params(void)
{
    holo_error e = {0};
    const int64_t param[2] = {-3, 7};
    hg_args a = {.param = param, .n_param = 2};
    CHECK_OK(hg_check_param(&a, &e, 0, "axis", -3, 3), &e);
    CHECK_STATUS(hg_check_param(&a, &e, 0, "axis", -2, 3), HOLO_E_ARG);
    CHECK_HAS(e.message, "axis is -3, expected -2 to 3");
    CHECK_STATUS(hg_check_param(&a, &e, 1, "axis", 0, 6), HOLO_E_ARG);
    CHECK_STATUS(hg_check_param(&a, &e, 2, "axis", 0, 6), HOLO_E_FORMAT);
    CHECK_HAS(e.message, "parameter 2, axis, is missing");
    double half = 0.5;
    int64_t bits;
    memcpy(&bits, &half, sizeof bits);
    a.param = &bits;
    CHECK(hg_param_f64(&a, 0) == 0.5);
}

static void kernel_broadcast(void)
{
    holo_error e = {0};
    holo_tensor to = {.rank = 3, .dim = {2, 3, 4}}, from = {.rank = 2, .dim = {3, 1}};
    int64_t stride[8] = {9, 9, 9, 9};
    CHECK_OK(hg_check_broadcast(&from, &to, &e, "mask"), &e);
    hg_broadcast_strides(&from, &to, stride);
    CHECK_EQ_INT(stride[0], 0);
    CHECK_EQ_INT(stride[1], 1);
    CHECK_EQ_INT(stride[2], 0);
    CHECK_EQ_INT(stride[3], 9);
    hg_broadcast_strides(&to, &to, stride);
    CHECK_EQ_INT(stride[0], 12);
    CHECK_EQ_INT(stride[1], 4);
    CHECK_EQ_INT(stride[2], 1);
    from.dim[0] = 2;
    CHECK_STATUS(hg_check_broadcast(&from, &to, &e, "mask"), HOLO_E_SHAPE);
    CHECK_HAS(e.message, "mask: dimension 0 is 2, which does not broadcast to 3");
    from = (holo_tensor){.rank = 4, .dim = {1, 2, 3, 4}};
    CHECK_STATUS(hg_check_broadcast(&from, &to, &e, "mask"), HOLO_E_SHAPE);
    CHECK_HAS(e.message, "mask has rank 4, which does not broadcast to rank 3");
    from = (holo_tensor){.rank = 0};
    CHECK_OK(hg_check_broadcast(&from, &to, &e, "mask"), &e);
}

const hg_test_case hg_tests_isa_kernel[] = {
    {"lowest_fault_wins", kernel_lowest_fault_wins},
    {"faults_from_threads", kernel_faults_from_threads},
    {"counts", kernel_counts},
    {"types", kernel_types},
    {"shapes", kernel_shapes},
    {"params", kernel_params},
    {"broadcast", kernel_broadcast},
    {0},
};
