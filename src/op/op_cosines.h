/* op_cosines.h - windows that are sums of cosines. */
#ifndef HG_OP_OP_COSINES_H
#define HG_OP_OP_COSINES_H

#include "op/op.h"

/* Input 0 is the size; attributes periodic, output_datatype. */
HG_MUST_CHECK holo_status hg_cosines_infer(hg_infer *n);
/* a[0] - a[1] cos x + a[2] cos 2 x, x from 0 to 2 pi. */
HG_MUST_CHECK holo_status hg_cosines_lower(hg_build *b, const double a[3]);

#endif
