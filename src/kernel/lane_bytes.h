/* lane_bytes.h - what the variants of the kernel "lane.bytes" share: which bodies it is for. */
#ifndef HG_KERNEL_LANE_BYTES_H
#define HG_KERNEL_LANE_BYTES_H

#include "kernel/lane.h"

enum { HG_LANE_BYTES_OPS = 32 };

/* What is known of a body whose values are bytes. */
typedef struct hg_lane_bytes {
    uint32_t wide;   /* bit i: operation i, a load or a constant, gives values of 4 or 8 bytes */
    bool is_signed;  /* bytes are int8, otherwise uint8 */
    bool wants_bool; /* the result is not 0 or 1 by itself and is stored as a bool */
} hg_lane_bytes;

/* False when some value of the body may not fit a byte: then "lane" has to run it. The code is
 * verified; in and out are the element types of operands and results. */
bool hg_lane_bytes_read(const hg_lane_code *code, const holo_dtype *in, const holo_dtype *out,
                        hg_lane_bytes *bytes);
void hg_kernel_lane_bytes_cost(const hg_args *a, hg_cost *cost);

#endif
