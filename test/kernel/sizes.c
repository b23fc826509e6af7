/* sizes.c - sizes: two sizes are equal, or there is a sentence. */
#include "isa/kernel.h"
#include "test.h"

extern const hg_kernel hg_kernels_sizes[];

static holo_status sizes_try(int64_t is, int64_t should, uint32_t n_param, holo_error *e)
{
    const int64_t param[2] = {is, should};
    const hg_args a = {.param = param, .n_param = n_param};
    return hg_kernels_sizes->check(&a, e);
}

static void sizes_compares(void)
{
    holo_error e = {0};
    CHECK_OK(sizes_try(7, 7, 2, &e), &e);
    CHECK_STATUS(sizes_try(3, 7, 2, &e), HOLO_E_SHAPE);
    CHECK_STR(e.message, "the size is 3, expected 7");
    CHECK_STATUS(sizes_try(7, 7, 1, &e), HOLO_E_FORMAT);
    CHECK_HAS(e.message, "1 parameters, expected 0, 0 and 2");
    CHECK_EQ_INT(hg_kernels_sizes->units(&(hg_args){0}), 0);
    hg_kernels_sizes->run(&(hg_args){0}, (hg_range){0});
}

const hg_test_case hg_tests_kernel_sizes[] = {{"compares", sizes_compares}, {0}};
