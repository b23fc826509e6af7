/* op_upgrade.h - rewrites of old operator versions that several operators share. */
#ifndef HG_OP_OP_UPGRADE_H
#define HG_OP_OP_UPGRADE_H

#include "op/op.h"

/* Element-wise operators before opset 7: with broadcast=1 and axis=k, dimension 0 of input 1 lies
 * at dimension k of input 0. Input 1 gets trailing dimensions of 1, so that numpy's rule says the
 * same. */
holo_status hg_upgrade_broadcast(hg_graph *g, hg_node_id id, int32_t opset);

/* Attributes that became inputs: the node gets constants for those of `name` that are present, as
 * inputs `first`, `first` + 1 ...; a NULL name is an absent input. Does nothing when the node has
 * that many inputs. */
holo_status hg_upgrade_ints_to_inputs(hg_graph *g, hg_node_id id, uint32_t first,
                                      const char *const *name, uint32_t count);

/* Pools of norms before opset 2: p is a float. A whole one becomes an integer; with another the
 * powers are taken before and after. */
holo_status hg_upgrade_norm(hg_graph *g, hg_node_id id, int32_t opset);

/* A node of operator `op` whose outputs take the place of those of the node being rewritten. For
 * .lower. */
holo_status hg_rewrite_as(hg_build *b, const char *op, const hg_value_id *in, uint32_t n_in,
                          const hg_attr *attr, uint32_t n_attr);
/* The same; the old node is removed. For .upgrade. */
holo_status hg_upgrade_replace(hg_build *b, const char *op, const hg_value_id *in, uint32_t n_in,
                               const hg_attr *attr, uint32_t n_attr);

#endif
