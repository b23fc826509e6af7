/* igemm_finish.h - epilogues of 8-bit products that tuned code can do in registers: one chain of
 * simple operations from the sums to the result, and at most one more chain, from another operand
 * of the same shape, that is added on the way (a residual) or multiplied with (a gate).
 *
 *     sum -> + bias -> float -> * scale -> max 0 -> / s -> round -> + zero -> limit -> 8 bits
 *
 * A value may be multiplied with what a chain makes of it, once: x (1 + erf(x / s)), x sigmoid(x).
 * The bits are those of the lane code. */
#ifndef HG_KERNEL_IGEMM_FINISH_H
#define HG_KERNEL_IGEMM_FINISH_H

#include "isa/kernel.h"

typedef enum hg_finish_kind {
    HG_FINISH_ADD_INT, /* of the i32 bits */
    HG_FINISH_FLOAT,   /* i32 to f32 */
    HG_FINISH_ADD,
    HG_FINISH_SUB,
    HG_FINISH_MUL,
    HG_FINISH_DIV,
    HG_FINISH_MAX,
    HG_FINISH_MIN,
    HG_FINISH_ROUND,
    HG_FINISH_WRAP_U8, /* to i32, its low byte, to f32 */
    HG_FINISH_WRAP_I8,
    HG_FINISH_QUANT, /* round(v / divisor) + zero limited to [low, high], NaN as 0 */
    HG_FINISH_CODE,  /* the same without a divisor */
    HG_FINISH_JOIN,  /* adds the other chain */
    HG_FINISH_GATE,  /* multiplies with it */
    HG_FINISH_ERF,
    HG_FINISH_SIGMOID,
    HG_FINISH_KEEP, /* the value, */
    HG_FINISH_TIMES /* which this one is multiplied with */
} hg_finish_kind;

typedef struct hg_finish_step {
    hg_finish_kind kind;
    int64_t step;     /* of data: 1 by column, 0 one value */
    const void *data; /* f32, or i32 of ADD_INT; NULL: `value` */
    bool is_first;    /* MAX, MIN: the constant is the first operand */
    union {
        float f;
        int32_t i;
    } value;
    float zero, low, high; /* QUANT, whose divisor is value.f, and CODE */
    float inverse;         /* of the divisor, see HG_FINISH_NEAR; NaN: always divide */
} hg_finish_step;

enum { HG_FINISH_STEPS = 40 };

/* round(v * inverse) is round(v / divisor) wherever the product lies at most this far from the
 * whole number: up to 1024 it is off by less than 2^-12 together with the rounding of the quotient,
 * and beyond that both are cut off (limits and zero are within 512). */
#define HG_FINISH_NEAR (0.5f - 1.0f / 4096)

typedef struct hg_finish_chain {
    uint32_t count;
    hg_finish_step step[HG_FINISH_STEPS];
} hg_finish_chain;

typedef struct hg_finish {
    hg_finish_chain main, side;
    const void *side_data; /* NULL: there is no side */
    holo_dtype side_type;  /* u8, i8, i32 or f32 */
    void *out;
    holo_dtype out_type; /* f32, u8, i8 or i16 */
    int64_t columns;     /* of the output */
    /* sum [+ bias] -> float -> * scale [-> + (code - zero) * scale of the side] -> CODE, stored as
     * a byte; no number leaves 32 bits on the way, and limits are whole. */
    bool is_requant;
    /* With is_requant: what becomes of the codes of whole panels, 256 entries; NULL: nothing. */
    const uint8_t *lookup;
} hg_finish;

/* Whether the code of an i32 result is of that form. Checked arguments only. */
bool hg_finish_read(const hg_args *a, uint32_t first_extra, hg_finish *out);

#endif
