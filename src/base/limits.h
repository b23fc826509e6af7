/* limits.h - what a caller allows (holo_limits); zero stands for the default, which any honest
 * model passes. */
#ifndef HG_BASE_LIMITS_H
#define HG_BASE_LIMITS_H

#include "base/base.h"

#define HG_LIMIT_TENSOR_BYTES (UINT64_C(64) << 30)
#define HG_LIMIT_TENSOR_ELEMENTS (UINT64_C(1) << 40)
#define HG_LIMIT_LOOPS (UINT64_C(1) << 31)
#define HG_LIMIT_STEPS (UINT64_C(1) << 24)
#define HG_LIMIT_STRING_BYTES (UINT64_C(1) << 30)
#define HG_LIMIT_NAME_BYTES (UINT64_C(1) << 16)
#define HG_LIMIT_RANK ((uint32_t)HOLO_MAX_RANK)
#define HG_LIMIT_NESTING UINT32_C(64)

static inline uint64_t hg_limit(uint64_t asked, uint64_t standard)
{
    return asked != 0 ? asked : standard;
}

/* For what the formats bound themselves: more cannot be asked for. */
static inline uint32_t hg_limit_most(uint32_t asked, uint32_t most)
{
    return asked != 0 && asked < most ? asked : most;
}

/* Limits of a session: its own where they are set, else those of the model; no zeros but for memory
 * and time. */
static inline holo_limits hg_limits_join(const holo_limits *own, const holo_limits *model)
{
    return (holo_limits){
        .memory_bytes = own->memory_bytes,
        .tensor_bytes =
            hg_limit(own->tensor_bytes, hg_limit(model->tensor_bytes, HG_LIMIT_TENSOR_BYTES)),
        .tensor_elements = hg_limit(own->tensor_elements,
                                    hg_limit(model->tensor_elements, HG_LIMIT_TENSOR_ELEMENTS)),
        .loop_iterations =
            hg_limit(own->loop_iterations, hg_limit(model->loop_iterations, HG_LIMIT_LOOPS)),
        .string_bytes =
            hg_limit(own->string_bytes, hg_limit(model->string_bytes, HG_LIMIT_STRING_BYTES)),
        .run_ms = hg_limit(own->run_ms, model->run_ms),
        .rank = hg_limit_most(own->rank, hg_limit_most(model->rank, HG_LIMIT_RANK)),
    };
}

#endif
