/* copy_words.c - copy.words: copy.strided of elements of 32 bits whose order changes. It has a name
 * of its own so that only programs that transpose such elements link the tuned code for it. */
#include "kernel/copy.h"

holo_status hg_copy_words_check(const hg_args *a, holo_error *e)
{
    HG_TRY(hg_copy_check(a, e));
    HG_REQUIRE(e, hg_dtype_bits(a->in[0].dtype) == 32, HOLO_E_TYPE,
               "elements of %s, expected such of 32 bits", holo_dtype_text(a->in[0].dtype));
    return HOLO_OK;
}

static void copy_words_run(const hg_args *a, hg_range r)
{
    hg_copy_run(a, r, NULL);
}

const hg_kernel hg_kernels_copy_words[] = {
    {.name = "copy.words",
     .check = hg_copy_words_check,
     .units = hg_copy_call_units,
     .run = copy_words_run},
    {0},
};
