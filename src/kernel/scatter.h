/* scatter.h - what kernels that update single elements share: replacing or combining by lane code.
 */
#ifndef HG_KERNEL_SCATTER_H
#define HG_KERNEL_SCATTER_H

#include "kernel/elem.h"

/* data, indices, updates and output have types that fit; lane code, if there is any, takes two
 * elements of the type and gives one. */
HG_MUST_CHECK holo_status hg_scatter_check_types(const hg_args *a, holo_error *e);
size_t hg_scatter_scratch(const hg_args *a);
/* HG_LANE_ADD, MUL, MIN or MAX when that is all the code does with the old element and the update,
 * both float32, as reductions over the edges of a graph do; otherwise 0. */
uint32_t hg_scatter_simple_f32(const hg_args *a);
/* The same bits as that code. */
HG_INLINE float hg_scatter_combine_f32(uint32_t op, float x, float y)
{
    if (op == HG_LANE_ADD) return x + y;
    if (op == HG_LANE_MUL) return x * y;
    if (op == HG_LANE_MIN) return x != x ? x : (x < y ? x : y);
    return x != x ? x : (x > y ? x : y);
}
/* out[at ..] = update[from ..] or code(out[at ..], update[from ..]), n elements. */
void hg_scatter_apply(const hg_args *a, int64_t at, int64_t from, int64_t n, void *scratch);

#endif
