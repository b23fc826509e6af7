/* regroup.h - how the dims of a Reshape correspond: runs of old dims that become runs of new dims
 * with the same number of elements. */
#ifndef HG_PASS_REGROUP_H
#define HG_PASS_REGROUP_H

#include "op/op.h"

/* Dims [from, from + n_from) become [to, to + n_to); one of the counts is 0 where a dim of size 1
 * goes or comes. */
typedef struct hg_regroup_run {
    int32_t from, n_from, to, n_to;
} hg_regroup_run;

typedef struct hg_regroup {
    hg_regroup_run run[2 * HG_MAX_RANK];
    int32_t count;
} hg_regroup;

/* The finest runs that hold whatever the symbols are; false when a dim is the number 0, where every
 * grouping is as good as another. */
bool hg_regroup_find(hg_dims *d, const hg_type *from, const hg_type *to, hg_regroup *out);
/* Reshape, Flatten, Squeeze or Unsqueeze: the same elements in the same order. */
bool hg_regroup_is_reshape(const hg_node *n);

#endif
