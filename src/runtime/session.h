/* session.h - a session: the changing half of a run. */
#ifndef HG_RUNTIME_SESSION_H
#define HG_RUNTIME_SESSION_H

#include "base/thread.h"
#include "isa/offsets.h"
#include "runtime/cache.h"
#include "runtime/late.h"
#include "runtime/model.h"

#include <stdatomic.h>

/* What a session shares with those of its bodies: the session of the graph has it. */
typedef struct hg_shared {
    atomic_bool cancelled;
    atomic_bool stopped; /* a part of a step was left out: the run ends */
    double start;        /* of the run, when run_ms is set */
    double traced;       /* seconds of all steps that were traced */
    uint64_t run_ms;
    uint64_t iterations, loop_limit; /* of all loops of a run */
    uint64_t memory, memory_limit;   /* bytes of all sessions; 0: no limit */
    uint8_t *room;                   /* the caller's memory; NULL: from the allocator */
    size_t room_bytes, room_used;
} hg_shared;

/* Memory that is taken when sizes are known. */
typedef struct hg_slab {
    void *data;
    void *base;          /* what to free; NULL when it is the caller's */
    size_t bytes, taken; /* taken: with what comes before data */
    bool wants_large;    /* the first run asks for large pages */
} hg_slab;

typedef struct hg_control hg_control;
typedef struct hg_prefix hg_prefix;
typedef struct hg_moves hg_moves;

/* One step, bound: what the loop needs without looking anything up. One cache line. */
typedef struct hg_step_run {
    const hg_kernel *kernel;
    holo_tensor *in; /* outputs follow: hg_step_out */
    int64_t *param;
    const hg_lane_code *code;
    hg_control *control; /* IF, LOOP */
    int64_t units;
    uint32_t tasks; /* 1: on the calling thread */
    uint16_t n_in, n_out, n_param;
} hg_step_run;

static inline holo_tensor *hg_step_out(const hg_step_run *r)
{
    return r->in + r->n_in;
}

typedef struct hg_bound_output {
    void *data; /* caller's, or NULL */
    size_t bytes;
    bool is_cache; /* data is an input's, too: cache.h */
} hg_bound_output;

struct holo_session {
    const holo_model *model;
    const hg_model_graph *graph;
    holo_allocator alloc;
    holo_pool *pool;
    uint32_t flags, threads;
    holo_limits limits;     /* with the defaults filled in */
    hg_shared own, *shared; /* shared: own, or that of the session whose body this is */
    holo_trace_fn trace;
    void *trace_user;
    holo_memo *memo;
    hg_prefix *prefix; /* during a run: parts that are known or kept; NULL: none */
    hg_cache *cache;   /* NULL: no output has ever been a cache */
    hg_moves *moves;   /* what to do for new sizes */

    void *block; /* every array below: one allocation */
    size_t block_bytes;
    int64_t *dim;          /* evaluated dims */
    int64_t *symbol;       /* bound symbols */
    uint8_t *symbol_known; /* while inputs are being bound */
    hg_step_run *step;
    holo_tensor *operand; /* per step: inputs, then outputs; hg_session_tensor */
    int64_t *param;       /* steps with the same list share it; where `room` is */
    hg_lane_code *code;   /* per lane code of the program */
    hg_span *span;        /* per buffer: bytes are what it has room for */
    uint32_t *room;       /* scratch of the offset assigner and alike */
    size_t *live;         /* in the same place: scratch of the bound */
    uint32_t *alike;      /* per step: the first one that is bound as it is; bind.c */
    holo_tensor *input;   /* as bound by the caller */
    bool *input_set;
    hg_bound_output *output;
    const char **output_name; /* scratch for traces */
    hg_name *name_room;       /* the same: of the node, then of the outputs */
    size_t *extra;            /* per output of the step that runs */
    hg_control **control;     /* per step that has bodies */
    uint32_t n_control;

    hg_slab slab; /* planned region, scratch per thread, and at the end the lists of moves */
    size_t arena_bytes, arena_bound, scratch_bytes; /* scratch of one thread */
    hg_late late;

    uint64_t turn; /* of the loops around; see hg_args */
    hg_fault fault;
    hg_args common; /* of all steps */
    bool shapes_changed, pointers_changed, has_run;
    bool is_ahead;   /* the layout has room for bounds that sizes may never reach */
    uint8_t n_grown; /* layouts because sizes had grown; counts to 3 */
    bool is_bound; /* the last prepare succeeded, and caches are the same: what has not moved stays
                    */
};

/* The next array of a block at `base`, of which `used` bytes are taken; NULL while counting. */
static inline void *hg_carve(uint8_t *base, size_t *used, size_t count, size_t size)
{
    void *p = base == NULL ? NULL : base + *used;
    *used += hg_align_up(count * size, 16);
    return p;
}

/* Type, dims and address of a value. */
static inline holo_tensor *hg_session_tensor(const holo_session *s, uint32_t v)
{
    return &s->operand[s->graph->value_slot[v]];
}

/* What the kernel of a step is given. Field by field: copying the whole takes longer than many
 * steps of small models. */
static inline hg_args hg_session_args(const holo_session *s, const hg_step_run *r)
{
    return (hg_args){.in = r->in,
                     .out = hg_step_out(r),
                     .param = r->param,
                     .code = r->code,
                     .fault = s->common.fault,
                     .n_in = r->n_in,
                     .n_out = r->n_out,
                     .n_param = r->n_param,
                     .turn = s->common.turn,
                     .extra = s->common.extra,
                     .stop = s->common.stop,
                     .stop_user = s->common.stop_user,
                     .team = NULL,
                     .cpu = s->common.cpu};
}

/* Sizes are settled for the bound inputs; fills steps that are not late. */
HG_MUST_CHECK holo_status hg_session_prepare(holo_session *s, holo_error *e);
/* Only addresses changed since the last prepare. */
HG_MUST_CHECK holo_status hg_session_rebind(holo_session *s, holo_error *e);
/* A session of any program of the model; shared: NULL for that of a graph. */
HG_MUST_CHECK holo_status hg_session_make(const holo_model *model, uint32_t program,
                                          const holo_session_options *options, hg_shared *shared,
                                          holo_session **out, holo_error *e);
/* No more bytes, elements and dimensions than allowed. */
HG_MUST_CHECK holo_status hg_session_check_size(const holo_session *s, const holo_tensor *t,
                                                const char *name, holo_error *e);
/* Binds what is known to be well-formed. */
HG_MUST_CHECK holo_status hg_session_bind_input(holo_session *s, uint32_t index,
                                                const holo_tensor *tensor, holo_error *e);
void hg_session_bind_output(holo_session *s, uint32_t index, void *data, size_t bytes);
/* Prepares if that is needed and runs once. */
HG_MUST_CHECK holo_status hg_session_run(holo_session *s, holo_error *e);
/* The output of a session that has run. */
holo_tensor hg_session_result(const holo_session *s, uint32_t index);
/* The run was cancelled or takes too long. */
HG_MUST_CHECK holo_status hg_session_check(const holo_session *s, holo_error *e);
/* For hg_args.stop: the same as a question; who is told yes may leave work out. */
bool hg_session_stopped(const void *session);
/* The session holds `now` bytes where it held `before`; E_LIMIT when that is too much. */
HG_MUST_CHECK holo_status hg_session_account(holo_session *s, size_t before, size_t now,
                                             holo_error *e);
/* Makes slab hold `bytes` bytes; what was in it is lost. */
HG_MUST_CHECK holo_status hg_session_reserve(holo_session *s, hg_slab *slab, size_t bytes,
                                             holo_error *e);
void hg_session_release(holo_session *s, hg_slab *slab);
/* The buffer that value v needs a place in, or NULL: it has one elsewhere, or gets it during the
 * run. */
hg_span *hg_session_span(holo_session *s, uint32_t v);
/* Evaluates a dim whose operands are known. */
HG_MUST_CHECK holo_status hg_session_eval(holo_session *s, uint32_t dim, holo_error *e);
/* Dims, type and, for views, address of a value whose dims are known. Addresses of arena values are
 * left. */
HG_MUST_CHECK holo_status hg_session_shape_value(holo_session *s, uint32_t v, holo_error *e);
HG_MUST_CHECK holo_status hg_session_address_value(holo_session *s, uint32_t v, holo_error *e);
/* Operands, parameters, check, units of one step. HG_BIND_SIZE: before the kernel has sized its
 * outputs. */
typedef enum hg_bind_phase { HG_BIND_ALL, HG_BIND_SIZE } hg_bind_phase;
HG_MUST_CHECK holo_status hg_session_bind_step(holo_session *s, uint32_t i, hg_bind_phase phase,
                                               holo_error *e);

/* Operations and bytes of a step that is bound. */
hg_cost hg_session_cost(const holo_session *s, const hg_step_run *r);

/* What step i writes into parts of a value overlaps none of its other operands; their addresses are
 * known. */
HG_MUST_CHECK holo_status hg_session_check_parts(const holo_session *s, uint32_t i, holo_error *e);

#endif
