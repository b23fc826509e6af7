/* widen_half.h - constants of 16-bit floats as float32. */
#ifndef HG_PASS_WIDEN_HALF_H
#define HG_PASS_WIDEN_HALF_H

#include "op/op.h"

/* The same numbers; `v` is a constant of type float16 or bfloat16. */
hg_value_id hg_build_widened(hg_build *b, hg_value_id v);

#endif
