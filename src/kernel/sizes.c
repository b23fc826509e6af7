/* sizes.c - sizes: two sizes that a model needs to be equal, compared as soon as they are known.
 * There is nothing to run.
 *
 *   param  what the size is, what it should be */
#include "isa/kernel.h"

static holo_status sizes_check(const hg_args *a, holo_error *e)
{
    HG_REQUIRE(e, a->n_in == 0 && a->n_out == 0 && a->n_param == 2, HOLO_E_FORMAT,
               "%u inputs, %u outputs and %u parameters, expected 0, 0 and 2", a->n_in, a->n_out,
               a->n_param);
    HG_REQUIRE(e, a->param[0] == a->param[1], HOLO_E_SHAPE, "the size is %lld, expected %lld",
               (long long)a->param[0], (long long)a->param[1]);
    return HOLO_OK;
}

static int64_t sizes_units(const hg_args *a)
{
    (void)a;
    return 0;
}

static void sizes_run(const hg_args *a, hg_range r)
{
    (void)a, (void)r;
}

const hg_kernel hg_kernels_sizes[] = {
    {.name = "sizes", .check = sizes_check, .units = sizes_units, .run = sizes_run},
    {0},
};
