/* lane.h - lane code: what every backend can render. A body is a straight list of typed scalar
 * operations on registers, applied to every element of a tile. Loads widen the operand's element
 * type to a compute type, stores narrow it again: f16, bf16, f8, f4 compute in f32; bool, i2..i32,
 * u2..u16 in i32; u32 and u64 in u64; i64 in i64; f64 in f64. Narrow integers wrap at the store,
 * floats round to nearest even. */
#ifndef HG_ISA_LANE_H
#define HG_ISA_LANE_H

#include "base/arena.h"
#include "base/dtype.h"
#include "base/error.h"

typedef enum hg_lane_type {
    HG_LANE_F32 = 1,
    HG_LANE_F64 = 2,
    HG_LANE_I32 = 3,
    HG_LANE_I64 = 4,
    HG_LANE_U64 = 5
} hg_lane_type;

typedef enum hg_lane_opcode {
#define X(number, name, operands, text, meaning) HG_LANE_##name = number,
#include "isa/lane.def"
#undef X
} hg_lane_opcode;

/* One operation, as stored in a .holo file. dst, a, b, c are register numbers. */
typedef struct hg_lane_op {
    uint8_t op;   /* hg_lane_opcode */
    uint8_t type; /* hg_lane_type of the operands (of the result for LOAD, CONST, CAST) */
    uint16_t dst, a, b, c;
    uint16_t zero;
    uint32_t index; /* LOAD: operand; CAST: type of the source; NARROW: element type; otherwise 0 */
    uint64_t imm;   /* CONST: bits of the value in its type (f32 in the low 32 bits) */
} hg_lane_op;

/* One result: register and the element type it is narrowed to. */
typedef struct hg_lane_out {
    uint16_t reg;
    uint8_t type; /* hg_lane_type held by the register */
    uint8_t
        saturate; /* 1: clamp to the range of a narrow integer or an 8-bit float, not wrap or inf */
} hg_lane_out;

enum { HG_LANE_MAX_REG = 256, HG_LANE_MAX_OP = 4096, HG_LANE_MAX_IO = 64 };

typedef struct hg_lane_code {
    const hg_lane_op *op;
    const hg_lane_out *out;
    uint32_t n_op, n_in, n_out, n_reg;
} hg_lane_code;

/* Compute type of an element type; 0 when it has none (string, complex, containers). */
hg_lane_type hg_lane_type_of(holo_dtype dtype);
const char *hg_lane_op_text(uint32_t op);
/* Number of register operands of an opcode, -1 when it is unknown. */
int hg_lane_operands(uint32_t op);
/* The opcode is known and works on (LOAD, CONST, CAST: gives) values of this type. */
bool hg_lane_op_accepts(uint32_t op, uint32_t type);
/* Type of the result of an opcode on operands of `type`: i32 for comparisons, otherwise the same.
 */
hg_lane_type hg_lane_op_result(uint32_t op, uint32_t type);

/* Refuses code that could fault an interpreter: unknown opcodes or types, registers out of range or
 * read before they are written, operand indices beyond n_in, wrong types. The operands' element
 * types are checked apart, by hg_lane_check_types. */
holo_status hg_lane_verify(const hg_lane_code *code, holo_error *e);
/* Code that differs from right code in its constants alone, as fused steps of one kind do, is right
 * too. False when that takes a closer look. */
bool hg_lane_is_alike(const hg_lane_code *code, const hg_lane_code *right);
/* The operands' element types fit the loads, the outputs' the stores. */
holo_status hg_lane_check_types(const hg_lane_code *code, const holo_dtype *in,
                                const holo_dtype *out, holo_error *e);

/* ---- running ----------------------------------------------------------------------------------
 */

/* An operand or result seen from a tile of rows x cols: element (r, j) is number first + r*row +
 * j*col, counted from data. */
typedef struct hg_lane_view {
    void *data;
    int64_t row, col; /* strides in elements; 0 repeats */
    holo_dtype dtype;
    int64_t first; /* mostly 0; needed where elements are narrower than a byte */
} hg_lane_view;

struct hg_fault;

/* d[i] = operation on a[i], b[i], c[i] for i in [0, n), n a multiple of 16; d overlaps none of the
 * others. */
typedef void (*hg_lane_fn)(void *HG_RESTRICT d, const void *HG_RESTRICT a,
                           const void *HG_RESTRICT b, const void *HG_RESTRICT c, int64_t n);
/* The loop of a verified operation, NULL: the interpreter's own; `from` is the type of a CAST's
 * source, 0 for others. Of two operations, op + HG_LANE_THEN * second: one loop for both, the
 * second of which takes what the first gives and c, NULL: none. With HG_LANE_ONE in `from` b is one
 * value for all i, with HG_LANE_ONE_THEN c is. */
enum { HG_LANE_THEN = 256, HG_LANE_ONE = 1, HG_LANE_ONE_THEN = 2 };
typedef hg_lane_fn (*hg_lane_pick)(uint32_t op, uint32_t type, uint32_t from);

typedef struct hg_lane_tile {
    const hg_lane_view *in, *out;
    int64_t rows, cols;
    int64_t first;        /* flat index of element (0, 0) in the output, for INDEX and faults */
    int64_t row_elements; /* flat index step from row to row */
    void *scratch;        /* hg_lane_scratch bytes, 64-byte aligned */
    struct hg_fault *fault;
    hg_lane_pick pick; /* loops instead of the interpreter's own; may be NULL */
} hg_lane_tile;

/* Bytes of scratch that a run needs. */
size_t hg_lane_scratch(const hg_lane_code *code);
/* The reference interpreter. Tuned ones have the same signature and give the same bits. An output
 * may be the same memory as an input with the same strides. */
void hg_lane_run(const hg_lane_code *code, const hg_lane_tile *tile);
typedef void (*hg_lane_run_fn)(const hg_lane_code *code, const hg_lane_tile *tile);

/* ---- building ---------------------------------------------------------------------------------
 */

typedef uint32_t hg_lane_id; /* a value under construction; 0 means failure (memory or types) */

/* Builds SSA with constant folding of trivial identities and common subexpressions; finish assigns
 * registers. Operations check that operand types agree; the first misuse is kept and finish reports
 * it. */
typedef struct hg_lane hg_lane;

hg_lane *hg_lane_new(hg_arena *arena);
hg_lane_id hg_lane_load(hg_lane *b, uint32_t operand, hg_lane_type type);
hg_lane_id hg_lane_const_f(hg_lane *b, hg_lane_type type, double value); /* any type, converted */
hg_lane_id hg_lane_const_i(hg_lane *b, hg_lane_type type, int64_t value);
hg_lane_id hg_lane_index(hg_lane *b); /* i64 */
hg_lane_id hg_lane_cast(hg_lane *b, hg_lane_id a, hg_lane_type to);
hg_lane_id hg_lane_1(hg_lane *b, hg_lane_opcode op, hg_lane_id a);
hg_lane_id hg_lane_2(hg_lane *b, hg_lane_opcode op, hg_lane_id a, hg_lane_id c);
hg_lane_id hg_lane_select(hg_lane *b, hg_lane_id condition, hg_lane_id yes, hg_lane_id no);
/* Wraps an i32/u64 value to what a store to dtype and a load would give, or rounds f32 through a
 * narrow float; needed between fused operators whose values are narrower than the compute type. */
hg_lane_id hg_lane_narrow(hg_lane *b, hg_lane_id a, holo_dtype dtype, bool saturate);
hg_lane_type hg_lane_typeof(const hg_lane *b, hg_lane_id a);
/* Copies finished code into the builder: its loads are replaced by in[], out receives its results.
 */
bool hg_lane_inline(hg_lane *b, const hg_lane_code *code, const hg_lane_id *in, hg_lane_id *out);
/* The same; each receives the value of every operation. */
bool hg_lane_replay(hg_lane *b, const hg_lane_code *code, const hg_lane_id *in, hg_lane_id *each);
/* Dead code is dropped, registers assigned; the code lies in the builder's arena. */
holo_status hg_lane_finish(hg_lane *b, uint32_t n_in, const hg_lane_id *out,
                           const hg_lane_out *out_kind, uint32_t n_out, hg_lane_code *code,
                           holo_error *e);

#endif
