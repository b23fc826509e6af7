/* fail.c - fail: a branch that the model has, but that no sizes fit. Whoever takes it gets an
 * error.
 *
 *   out  of any type */
#include "kernel/container.h"

static holo_status fail_always(const hg_args *a, holo_error *e)
{
    (void)a;
    return hg_fail(e, HOLO_E_SHAPE, "the model takes a branch whose shapes do not agree");
}

static void fail_run(const hg_args *a, hg_range r)
{
    (void)a, (void)r;
}

const hg_kernel hg_kernels_fail[] = {
    {.name = "fail",
     .flags = HG_KERNEL_LATE,
     .check = fail_always,
     .size = fail_always,
     .units = hg_one_unit,
     .run = fail_run},
    {0},
};
