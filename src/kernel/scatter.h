/* scatter.h - what kernels that update single elements share: replacing or combining by lane code.
 */
#ifndef HG_KERNEL_SCATTER_H
#define HG_KERNEL_SCATTER_H

#include "kernel/elem.h"

/* data, indices, updates and output have types that fit; lane code, if there is any, takes two
 * elements of the type and gives one. */
HG_MUST_CHECK holo_status hg_scatter_check_types(const hg_args *a, holo_error *e);
size_t hg_scatter_scratch(const hg_args *a);
/* The code adds floats, as sums over the edges of a graph do. */
bool hg_scatter_adds_f32(const hg_args *a);
/* out[at ..] = update[from ..] or code(out[at ..], update[from ..]), n elements. */
void hg_scatter_apply(const hg_args *a, int64_t at, int64_t from, int64_t n, void *scratch);

#endif
