/* op_gridsample.h - the derivative of GridSample. */
#ifndef HG_OP_OP_GRIDSAMPLE_H
#define HG_OP_OP_GRIDSAMPLE_H

#include "op/op.h"

HG_MUST_CHECK holo_status hg_gridsample_gradient(hg_gradient *d);

#endif
