/* copy_words.c - copy.words: copy.strided of elements of 32 bits whose order changes. It has a name
 * of its own so that only programs that transpose such elements link the tuned code for it. */
#include "kernel/copy.h"

holo_status hg_copy_words_check(const hg_args *a, holo_error *e)
{
    return hg_copy_width_check(a, 32, e);
}

static void copy_words_run(const hg_args *a, hg_range r)
{
    hg_copy_run(a, r, NULL);
}

const hg_kernel hg_kernels_copy_words[] = {
    {.name = "copy.words",
     .check = hg_copy_words_check,
     .units = hg_copy_call_units,
     .cost = hg_copy_cost,
     .run = copy_words_run},
    {0},
};
