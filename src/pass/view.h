/* view.h - a value as elements of another one that were only moved: what a kernel that reads by
 * strides needs instead of copies. */
#ifndef HG_PASS_VIEW_H
#define HG_PASS_VIEW_H

#include "op/op.h"

typedef struct hg_view {
    hg_value_id base;
    hg_dim offset; /* in elements of base */
    int32_t rank;
    hg_dim dim[HG_MAX_RANK];
    hg_dim stride[HG_MAX_RANK];
    hg_dim repeat[HG_MAX_RANK]; /* so many elements along the dim are the same; 0: no two */
    double scale;               /* elements are those of base times this */
} hg_view;

/* The value itself. */
void hg_view_of(hg_graph *g, hg_value_id value, hg_view *out);
/* Looks through Transpose, Reshape and the like, Slice, Expand, and products with constants if
 * scales is set; at worst the view is the value itself. */
void hg_view_find(hg_graph *g, hg_value_id value, bool scales, hg_view *out);

/* The value that a Mul or Div multiplies with the constant *by; 0 when it does something else. */
hg_value_id hg_view_factor(const hg_graph *g, const hg_node *n, double *by);

#endif
