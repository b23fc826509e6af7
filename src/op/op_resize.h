/* op_resize.h - what Resize, Upsample and the channels-last Resize share. */
#ifndef HG_OP_OP_RESIZE_H
#define HG_OP_OP_RESIZE_H

#include "kernel/resize.h"
#include "op/op.h"

/* Where an operator has its inputs (0: it has no such input) and what its attributes default to. */
typedef struct hg_resize_form {
    uint32_t roi, scales, sizes;
    const char *coordinate, *nearest;
    bool is_nhwc; /* X is [N, spatial..., C]; axes, scales and sizes speak of [N, C, spatial...] */
} hg_resize_form;

HG_MUST_CHECK holo_status hg_resize_infer(hg_infer *n, const hg_resize_form *form);
HG_MUST_CHECK holo_status hg_resize_emit(hg_emit *e, const hg_resize_form *form);
HG_MUST_CHECK holo_status hg_resize_gradient(hg_gradient *d, const hg_resize_form *form);

#endif
