/* op_map.h - what operators on maps share. */
#ifndef HG_OP_OP_MAP_H
#define HG_OP_OP_MAP_H

#include "op/op.h"

#define HG_MAP_KEYS (HG_TYPE_BIT(HOLO_I64) | HG_TYPES_STRING)
#define HG_MAP_VALUES                                                                              \
    (HG_TYPE_BIT(HOLO_F32) | HG_TYPE_BIT(HOLO_F64) | HG_TYPE_BIT(HOLO_I64) | HG_TYPES_STRING)

/* Input 0 is a map from one of those types to one of these; *value is what it is. */
HG_MUST_CHECK holo_status hg_map_types(const hg_infer *n, hg_types keys, hg_types values,
                                       holo_dtype *value);

/* Output 0 is a sequence of maps from that type to float32, one for each row of input 0. */
HG_MUST_CHECK holo_status hg_map_infer_rows(hg_infer *n, holo_dtype key);

#endif
