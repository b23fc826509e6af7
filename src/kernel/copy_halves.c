/* copy_halves.c - copy.halves: copy.strided of elements of 16 bits whose order changes. It has a
 * name of its own so that only programs that transpose such elements link the tuned code for it. */
#include "kernel/copy.h"

holo_status hg_copy_halves_check(const hg_args *a, holo_error *e)
{
    HG_TRY(hg_copy_check(a, e));
    HG_REQUIRE(e, hg_dtype_bits(a->in[0].dtype) == 16, HOLO_E_TYPE,
               "elements of %s, expected such of 16 bits", holo_dtype_text(a->in[0].dtype));
    return HOLO_OK;
}

static void copy_halves_run(const hg_args *a, hg_range r)
{
    hg_copy_run(a, r, NULL);
}

const hg_kernel hg_kernels_copy_halves[] = {
    {.name = "copy.halves",
     .check = hg_copy_halves_check,
     .units = hg_copy_call_units,
     .run = copy_halves_run},
    {0},
};
