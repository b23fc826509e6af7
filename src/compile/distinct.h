/* distinct.h - how many different numbers the weights hold. */
#ifndef HG_COMPILE_DISTINCT_H
#define HG_COMPILE_DISTINCT_H

#include "compile/compile.h"

/* Fills weight_tensors, weight_values and distinct_values of the report. */
HG_MUST_CHECK holo_status hg_distinct_count(hg_compile *c);

#endif
