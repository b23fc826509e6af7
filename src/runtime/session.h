/* session.h - a session: the changing half of a run. */
#ifndef HG_RUNTIME_SESSION_H
#define HG_RUNTIME_SESSION_H

#include "base/thread.h"
#include "isa/offsets.h"
#include "runtime/late.h"
#include "runtime/model.h"

#include <stdatomic.h>

/* One step, bound: what the loop needs without looking anything up. */
typedef struct hg_step_run {
    const hg_kernel *kernel;
    hg_args args;
    hg_lane_code code;
    int64_t units;
    uint32_t tasks; /* 1: on the calling thread */
    hg_cost cost;
} hg_step_run;

typedef struct hg_bound_output {
    void *data; /* caller's, or NULL */
    size_t bytes;
} hg_bound_output;

struct holo_session {
    const holo_model *model;
    const hg_model_graph *graph;
    holo_allocator alloc;
    holo_pool *pool;
    uint32_t flags, threads;
    uint64_t memory_limit, tensor_limit, run_ms;
    holo_trace_fn trace;
    void *trace_user;

    void *block; /* every array below: one allocation */
    size_t block_bytes;
    int64_t *dim;          /* evaluated dims */
    int64_t *symbol;       /* bound symbols */
    uint8_t *symbol_known; /* while inputs are being bound */
    holo_tensor *tensor;   /* per value */
    hg_step_run *step;
    holo_tensor *operand;  /* per step: inputs, then outputs */
    int64_t *param;
    hg_span *span;         /* per buffer */
    uint32_t *order;       /* scratch of the offset assigner */
    size_t *live;          /* scratch of the bound */
    holo_tensor *input;    /* as bound by the caller */
    bool *input_set;
    hg_bound_output *output;
    const char **output_name; /* scratch for traces */

    void *slab; /* planned region, then scratch per thread */
    void *slab_base;
    size_t slab_bytes;
    bool slab_is_callers;
    size_t arena_bytes, arena_bound, scratch_bytes; /* scratch of one thread */
    hg_late late;

    hg_fault fault;
    atomic_bool cancelled;
    bool shapes_changed, pointers_changed, has_run;
};

/* Sizes are settled for the bound inputs; fills steps that are not late. */
HG_MUST_CHECK holo_status hg_session_prepare(holo_session *s, holo_error *e);
/* Only addresses changed since the last prepare. */
HG_MUST_CHECK holo_status hg_session_rebind(holo_session *s, holo_error *e);
/* Evaluates a dim whose operands are known. */
HG_MUST_CHECK holo_status hg_session_eval(holo_session *s, uint32_t dim, holo_error *e);
/* Dims, type and, for views, address of a value whose dims are known. Addresses of arena values are left. */
HG_MUST_CHECK holo_status hg_session_shape_value(holo_session *s, uint32_t v, holo_error *e);
HG_MUST_CHECK holo_status hg_session_address_value(holo_session *s, uint32_t v, holo_error *e);
/* Operands, parameters, check, units of one step. HG_BIND_SIZE: before the kernel has sized its outputs. */
typedef enum hg_bind_phase { HG_BIND_ALL, HG_BIND_SIZE } hg_bind_phase;
HG_MUST_CHECK holo_status hg_session_bind_step(holo_session *s, uint32_t i, hg_bind_phase phase,
                                               holo_error *e);

#endif
