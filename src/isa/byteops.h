/* byteops.h - short programs of operations on bytes: what a table becomes when few instructions say
 * the same.
 *
 *     n, then n pairs (operation, argument), then lists of sixteen bytes
 *
 * A byte a starts as the code x and goes through the operations in turn. The argument is a constant
 * or, with HG_BYTE_CODE added to the operation, not looked at: x itself takes its place. Of shifts
 * it is the distance, of lookups the number of the list. Numbers are frozen. */
#ifndef HG_ISA_BYTEOPS_H
#define HG_ISA_BYTEOPS_H

#include "base/base.h"

typedef enum hg_byte_op {
    HG_BYTE_ADD = 1, /* a + c, wraps */
    HG_BYTE_FROM,    /* c - a, wraps */
    HG_BYTE_XOR,
    HG_BYTE_AND,
    HG_BYTE_OR,
    HG_BYTE_ADD_U8, /* ends at 255 */
    HG_BYTE_SUB_U8, /* ends at 0 */
    HG_BYTE_ADD_I8, /* ends at -128 and 127 */
    HG_BYTE_SUB_I8,
    HG_BYTE_MIN_U8,
    HG_BYTE_MAX_U8,
    HG_BYTE_MIN_I8,
    HG_BYTE_MAX_I8,
    HG_BYTE_EQUAL,   /* 255 or 0 */
    HG_BYTE_MORE_I8, /* a > c */
    HG_BYTE_ABS_I8,  /* of -128: 128 */
    HG_BYTE_RIGHT,   /* by 0 to 7 bits, zeros come in */
    HG_BYTE_LEFT,
    HG_BYTE_LOOK,        /* list[a & 15], or 0 when bit 7 is set */
    HG_BYTE_NIBBLES_XOR, /* list[a & 15] ^ next list[a >> 4] */
    HG_BYTE_NIBBLES_ADD,
    HG_BYTE_NIBBLES_OR,
    HG_BYTE_NIBBLES_AND,
    HG_BYTE_NIBBLES_MIN,
    HG_BYTE_NIBBLES_MAX,
    HG_BYTE_TWICE_U8, /* a + a, ends at 255 */
    HG_BYTE_TWICE_I8, /* ends at -128 and 127 */
    HG_BYTE_OPS,
    HG_BYTE_CODE = 0x80
} hg_byte_op;

enum { HG_BYTEOPS_MAX = 6, HG_BYTEOPS_LISTS = 4 };
enum { HG_BYTEOPS_BYTES = 1 + 2 * HG_BYTEOPS_MAX + 16 * HG_BYTEOPS_LISTS };

typedef struct hg_byteops {
    uint32_t n, n_list;
    uint8_t op[HG_BYTEOPS_MAX], arg[HG_BYTEOPS_MAX];
    uint8_t list[HG_BYTEOPS_LISTS][16];
} hg_byteops;

/* Operations that take a constant or the code. */
static inline bool hg_byteops_is_binary(uint8_t op)
{
    return op >= HG_BYTE_ADD && op <= HG_BYTE_MORE_I8;
}

/* False when the bytes are no program. */
bool hg_byteops_read(const uint8_t *bytes, size_t size, hg_byteops *out);
/* Number of bytes written, at most HG_BYTEOPS_BYTES. */
size_t hg_byteops_write(const hg_byteops *p, uint8_t *bytes);
/* What one operation makes of a for code x. */
uint8_t hg_byteops_step(const hg_byteops *p, uint32_t i, uint8_t a, uint8_t x);
uint8_t hg_byteops_at(const hg_byteops *p, uint8_t x);
/* Vector instructions of an operation on the CPUs at hand, counted for AVX2. */
uint32_t hg_byteops_weight(uint8_t op, uint8_t arg);

#endif
