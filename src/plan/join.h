/* join.h - results that are put side by side are computed where they end up. */
#ifndef HG_PLAN_JOIN_H
#define HG_PLAN_JOIN_H

#include "op/op.h"

/* What a node becomes: a kernel call, a view, or nothing. */
typedef struct hg_call {
    hg_emit e;
    hg_node_id node; /* 0: not emitted */
    bool needed;
    bool is_join;    /* a Concat: its inputs are already where they belong, but for one perhaps */
    uint32_t copied; /* that one, plus 1; 0: none */
    hg_dim offset;   /* where it belongs, like that of a place */
} hg_call;

/* Where a value lies, when that is a part of another one. */
typedef struct hg_place {
    hg_value_id whole; /* itself in no other value; 0: the value has a place of its own */
    hg_dim offset;     /* in elements; 0: none */
} hg_place;

/* Decides which Concats are no steps. place: by value. Views in `call` are moved along. There are
 * new dims afterwards. */
HG_MUST_CHECK holo_status hg_join_find(hg_graph *g, hg_call *call, size_t n_call, hg_place **place);

#endif
