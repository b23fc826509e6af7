/* program.h - a program: what the planner writes and the runtime walks. One program per graph, and
 * one per body of its control flow.
 *
 * In a file it is one section (names for people are another, shared by all programs):
 * hg_program_head, then the tables below in this order, each starting at a multiple of 8 bytes. No
 * table holds an address, an offset into memory or anything else that could be wrong without being
 * noticed: lifetimes, memory layout and aliasing are derived by the runtime. What is left to verify
 * is that every index is in range and every value is defined before it is used. */
#ifndef HG_ISA_PROGRAM_H
#define HG_ISA_PROGRAM_H

#include "isa/dim.h"
#include "isa/kernel.h"

typedef enum hg_opcode {
#define X(number, name, operands, meaning) HG_STEP_##name = number,
#include "isa/isa.def"
#undef X
} hg_opcode;

/* Where the bytes of a value lie. */
typedef enum hg_storage {
    HG_STORAGE_INPUT = 1,  /* the caller's buffer; ref: number of the input */
    HG_STORAGE_WEIGHT = 2, /* the file; ref: number of the weight */
    HG_STORAGE_ARENA = 3,  /* the session: planned, or late when its size depends on data */
    HG_STORAGE_ALIAS =
        4 /* another value (ref: a smaller number, itself no alias) seen differently; a kernel may
             write it: then it is a part of that value, which no step computes as a whole */
} hg_storage;

typedef struct hg_value_rec {
    uint8_t dtype;
    int8_t rank; /* -1: known only at run time */
    uint8_t storage;
    uint8_t zero;
    uint32_t dims; /* first of rank entries in list: dim numbers */
    uint32_t ref;
    uint32_t offset; /* ALIAS: dim number, in elements; 0: none */
    uint32_t name;   /* position in the names section */
} hg_value_rec;

typedef struct hg_step_rec {
    uint16_t op; /* hg_opcode */
    uint16_t n_in, n_out, n_param;
    uint32_t in;     /* first of n_in entries in list: value numbers, 0 for absent */
    uint32_t out;    /* first of n_out: value numbers, 0 for unwanted */
    uint32_t param;  /* first of n_param: dim numbers; BIND: symbol numbers */
    uint32_t kernel; /* KERNEL: number of the import */
    uint32_t code;   /* number of the lane code + 1, 0: none */
    uint32_t name;   /* position in the names section: the node it came from */
    uint32_t a, b;   /* IF, LOOP: programs of the same file; otherwise 0 */
} hg_step_rec;

typedef struct hg_symbol_rec {
    uint32_t kind;         /* hg_symbol_kind */
    uint32_t name;         /* text */
    uint32_t value, index; /* CONTENT, SIZE: value number and element or axis */
    int64_t at_most;       /* -1: none */
} hg_symbol_rec;

typedef struct hg_port_rec {
    uint32_t name;
    uint32_t value;
} hg_port_rec;

/* Part of the weights section. */
typedef struct hg_weight_rec {
    uint64_t offset, bytes;
} hg_weight_rec;

typedef struct hg_code_rec {
    uint32_t first_op, n_op, first_out, n_out, n_in, n_reg;
} hg_code_rec;

typedef struct hg_program_head {
    uint32_t n_dim;    /* dims 1 .. n_dim - 1; operands have smaller numbers */
    uint32_t n_symbol; /* symbols 0 .. n_symbol - 1 */
    uint32_t n_value;  /* values 1 .. n_value - 1 */
    uint32_t n_step;
    uint32_t n_list;
    uint32_t n_kernel;
    uint32_t n_in, n_out;
    uint32_t n_weight;
    uint32_t n_code, n_lane_op, n_lane_out;
    uint32_t n_text;                    /* bytes; the last one is 0. A text is a position in it */
    uint32_t numerics;                  /* holo_numerics */
    uint32_t name;                      /* text: name of the graph */
    uint32_t nodes_before, nodes_after; /* for inspect */
    uint32_t is_body;                   /* 1: run by a step of an earlier program, not by name */
} hg_program_head;

/* Tables as arrays; they point into the copied section. */
typedef struct hg_program {
    hg_program_head head;
    const hg_dim_rec *dim;
    const hg_symbol_rec *symbol;
    const hg_value_rec *value;
    const hg_step_rec *step;
    const uint32_t *list;
    const uint32_t *kernel; /* texts */
    const hg_port_rec *in, *out;
    const hg_weight_rec *weight;
    const hg_code_rec *code_rec;
    const hg_lane_op *lane_op;
    const hg_lane_out *lane_out;
    const char *text;
    const char *names; /* the names section, as it lies in the file: nothing in it is checked */
    uint64_t n_names;  /* its bytes */
} hg_program;

/* The value whose memory v is a view of, v itself for others (value 0, which is none, too): no
 * view is one of a view. */
static inline uint32_t hg_program_root(const hg_program *p, uint32_t v)
{
    return p->value[v].storage == HG_STORAGE_ALIAS ? p->value[v].ref : v;
}

/* A copied name; longer ones are cut. */
enum { HG_NAME_MAX = 255 };
typedef struct hg_name {
    char text[HG_NAME_MAX + 1];
} hg_name;

/* Between the operator of a step and the name of its node, where both are known. */
#define HG_NAME_AFTER_OP '\x1f'

/* The name at a position, "" when there is none. It is copied to `room`, byte by byte inside the
 * section, because a mapped file may change at any time. */
const char *hg_program_name(const hg_program *p, uint32_t at, hg_name *room);
/* Of a value; "%7" for number 7 without a name, as `hologram inspect --program` writes it. */
const char *hg_program_value_name(const hg_program *p, uint32_t value, hg_name *room);
/* Of a step: the name of its node; the operator of the model that it was made from, "" when that is
 * not known. */
const char *hg_program_step_name(const hg_program *p, uint32_t step, hg_name *room);
const char *hg_program_step_op(const hg_program *p, uint32_t step, hg_name *room);

/* Bytes of the section that head describes, or 0 when that cannot be represented. */
size_t hg_program_bytes(const hg_program_head *head);
/* Points the tables into section (8-byte aligned, `size` bytes); E_FORMAT when sizes do not agree.
 */
HG_MUST_CHECK holo_status hg_program_view(const void *section, size_t size, hg_program *out,
                                          holo_error *e);
/* Writes the section: dst has hg_program_bytes bytes. */
void hg_program_store(const hg_program *p, void *dst);
/* Everything the runtime relies on and does not derive or check itself. weight_bytes: size of the
 * weights section. Linear in the program. */
HG_MUST_CHECK holo_status hg_program_verify(const hg_program *p, uint64_t weight_bytes,
                                            holo_error *e);
/* Step i, IF or LOOP, fits the programs it runs: numbers and types of inputs and outputs. b: NULL
 * for LOOP. */
HG_MUST_CHECK holo_status hg_program_verify_bodies(const hg_program *p, uint32_t i,
                                                   const hg_program *a, const hg_program *b,
                                                   holo_error *e);
/* LOOP: how many values go from one iteration to the next. */
uint32_t hg_program_n_carried(const hg_program *p, const hg_step_rec *s);
/* Lane code number i as the interpreters take it. */
hg_lane_code hg_program_code(const hg_program *p, uint32_t i);
/* Disassembly, a step a line. */
HG_MUST_CHECK holo_status hg_program_dump(const hg_program *p, holo_sink_fn sink, void *user);

#endif
