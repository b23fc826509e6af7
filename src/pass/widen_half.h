/* widen_half.h - constants of 16-bit floats as float32, and weights that stay what they are. */
#ifndef HG_PASS_WIDEN_HALF_H
#define HG_PASS_WIDEN_HALF_H

#include "op/op.h"

/* The same numbers; `v` is a constant of type float16 or bfloat16. */
hg_value_id hg_build_widened(hg_build *b, hg_value_id v);

/* Weights that a pass puts in another order: float32, or float16 that a Cast widens. */
typedef struct hg_weights {
    const hg_const *constant;
    holo_dtype dtype;
} hg_weights;

bool hg_weights_read(const hg_graph *g, hg_value_id v, hg_weights *out);
/* Element i of `count` is element from(how, i) of the weights, or 0 where that is negative. The
 * result is float32, of the type's dimensions; float16 remains behind a Cast. */
hg_value_id hg_weights_pick(hg_build *b, const hg_weights *w, hg_type type, int64_t count,
                            int64_t (*from)(const void *how, int64_t i), const void *how);

#endif
