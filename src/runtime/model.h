/* model.h - a loaded model as the runtime sees it: immutable, shared by sessions. */
#ifndef HG_RUNTIME_MODEL_H
#define HG_RUNTIME_MODEL_H

#include "archive/holo.h"
#include "base/arena.h"
#include "base/file.h"
#include "isa/offsets.h"
#include "isa/program.h"

/* What open derives from one program; nothing here is read from the file. "Ready r" means: known to
 * steps with number >= r; 0 is known when inputs are bound, NEVER not at all. */
enum { HG_NEVER = UINT32_MAX };

/* Constant strings of one weight. */
typedef struct hg_model_strings {
    const holo_string *item; /* NULL: the weight holds numbers */
    uint64_t count;
} hg_model_strings;

typedef struct hg_model_graph {
    hg_program program;
    const hg_kernel **kernel; /* per import: the variant tuned for this CPU */
    const hg_kernel *
        *reference;      /* per import: for arguments that variant does not take; may be the same */
    uint32_t *dim_ready; /* per dim */
    uint32_t *value_ready;  /* per value: all its dims (and its offset) are known */
    uint32_t *value_buffer; /* per value: number of its buffer + 1; 0: input or weight */
    uint32_t *value_slot;   /* per value: where its tensor lies in a session, see derive_slots */
    uint32_t *buffer_first, *buffer_last; /* per buffer: steps */
    uint8_t *buffer_late;                 /* per buffer: sized during the run */
    uint8_t *step_late;   /* per step: operands or parameters are known only during the run */
    uint32_t *late_dim;   /* dims with ready > 0, sorted by ready, then number */
    uint32_t *late_first; /* per step + 1: first entry of late_dim that its end makes known */
    uint32_t n_buffer, n_late_dim;
    uint32_t n_slot; /* operands of all steps, then the tensors that are no operand */
    uint32_t n_param;
    uint32_t max_out;   /* largest number of outputs of a step */
    uint32_t n_control; /* steps that run bodies */
    bool has_late;
    bool has_parts;            /* steps write views */
    hg_model_strings *strings; /* per weight; NULL when there are none */
    hg_span_stack places;      /* of buffers, as the file advises; unchecked */
} hg_model_graph;

struct holo_model {
    holo_allocator alloc;
    hg_file file; /* mapped or copied bytes; empty when the caller's memory is used */
    const uint8_t *data;
    const uint8_t *weights;
    uint64_t weight_bytes;
    const char *names;
    uint64_t n_names;
    hg_arena arena;              /* copied sections and derived arrays */
    hg_model_graph *graph;       /* graphs, then bodies */
    uint32_t n_graph, n_program; /* n_program: with bodies */
    const char *meta;            /* pairs of texts */
    size_t meta_bytes;
    uint32_t flags;
    uint32_t cpu; /* HG_CPU_*: what kernels may use */
    holo_limits limits;
    uint64_t n_step;                /* of all programs */
    const holo_kernels *extra;      /* beside the table passed to open; NULL: none */
    const hg_holo_section *section; /* a checked copy of the table */
    uint32_t n_section;
};

/* Names of a graph's inputs and outputs, by which callers find them, are text and differ. */
HG_MUST_CHECK holo_status hg_model_check_ports(holo_model *m, const hg_program *p, holo_error *e);
/* Bytes that hg_model_derive takes from its block. */
size_t hg_model_derived_bytes(const hg_program_head *head);
/* Checks that values and symbols are defined before use, and fills the derived arrays, which lie in
 * `block` (zeroed, 8-byte aligned). Kernels are resolved already. */
HG_MUST_CHECK holo_status hg_model_derive(hg_model_graph *g, void *block, holo_error *e);

/* Where the operands of step i begin, when those of the steps before end at slot `at`. What a step
 * gives last and the next one takes first is one tensor for both. */
static inline uint32_t hg_model_first_slot(const hg_model_graph *g, uint32_t i, uint32_t at)
{
    const hg_step_rec *r = &g->program.step[i];
    const bool shares = r->op == HG_STEP_KERNEL && r->n_in != 0 && at != 0 && !g->step_late[i] &&
                        g->value_slot[g->program.list[r->in]] == at - 1;
    return shares ? at - 1 : at;
}

/* The kernel or operation of a step. */
const char *hg_model_step_kernel(const hg_program *p, uint32_t step);
/* For messages: the model's operator, or the kernel where that is not known. */
const char *hg_model_step_op(const hg_program *p, uint32_t step, hg_name *room);
/* Puts node and operator of a step before the sentence. */
holo_status hg_model_blame(const hg_program *p, uint32_t step, holo_status status, holo_error *e);

#endif
