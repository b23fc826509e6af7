/* copy_bytes.c - copy.bytes: copy.strided of elements of a byte whose order changes. It has a name
 * of its own so that only programs that transpose bytes link the tuned code for it. */
#include "kernel/copy.h"

holo_status hg_copy_bytes_check(const hg_args *a, holo_error *e)
{
    return hg_copy_width_check(a, 8, e);
}

static void copy_bytes_run(const hg_args *a, hg_range r)
{
    hg_copy_run(a, r, NULL);
}

const hg_kernel hg_kernels_copy_bytes[] = {
    {.name = "copy.bytes",
     .check = hg_copy_bytes_check,
     .units = hg_copy_call_units,
     .cost = hg_copy_cost,
     .run = copy_bytes_run},
    {0},
};
