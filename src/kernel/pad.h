/* pad.h - where the elements of a padded tensor come from. */
#ifndef HG_KERNEL_PAD_H
#define HG_KERNEL_PAD_H

#include "isa/kernel.h"

/* Which element of dimension d stands at place i of the output; -1: the border's constant. Checked
 * arguments only. */
int64_t hg_pad_source(const hg_args *a, int d, int64_t i);

#endif
