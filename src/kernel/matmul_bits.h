/* matmul_bits.h - weights of 1 to 8 bits in panels of 32 columns, and what kernels that read them
 * share.
 *
 * A panel is 32 columns; a group is `group` of k (a multiple of 32) with one scale a column. Bytes
 * of one group of one panel, in order; column c = 8 v + u, and i counts inside the group:
 *
 *     1        per 8 of i    32 bytes    byte c: bit i % 8
 *     2        per 16 of i   128 bytes   byte 32 v + 4 u + i % 4: bits 2 (i / 4 % 4); ternary too
 *     3        per 32 of i   384 bytes   twice as for 2 bits, then a third bit: bit i / 4 % 8
 *     4, book  per 8 of i    128 bytes   byte 32 v + 4 u + i % 4: nibble i / 4 % 2
 *     8        per 4 of i    128 bytes   byte 32 v + 4 u + i % 4
 *
 * So one load has what eight columns do to four inputs, or all 32 columns do to a few: each
 * column's sum stays in its lane. */
#ifndef HG_KERNEL_MATMUL_BITS_H
#define HG_KERNEL_MATMUL_BITS_H

#include "isa/kernel.h"

typedef enum hg_bits_kind {
    HG_BITS_1 = 0,   /* -1, 1 */
    HG_BITS_TERNARY, /* -1, 0, 1, and 2 */
    HG_BITS_2,       /* -2 .. 1 */
    HG_BITS_3,       /* -4 .. 3 */
    HG_BITS_4,       /* -8 .. 7 */
    HG_BITS_BOOK,    /* 16 numbers, -127 .. 127, at will */
    HG_BITS_8,       /* -128 .. 127 */
    HG_BITS_KINDS
} hg_bits_kind;

enum { HG_BITS_COLUMNS = 32, HG_BITS_STEP = 32 };

/* Bits of a code in memory. */
uint32_t hg_bits_width(hg_bits_kind kind);
/* The number that stands for 0 in codes without a sign. */
int32_t hg_bits_zero(hg_bits_kind kind);
/* Codes as unsigned numbers: of column c < 32 and position i < group of one group of one panel. */
uint32_t hg_bits_code(hg_bits_kind kind, const uint8_t *bytes, int64_t c, int64_t i);
/* Into bytes that were zero. */
void hg_bits_put(hg_bits_kind kind, uint8_t *bytes, int64_t c, int64_t i, uint32_t code);

typedef struct hg_bits_shape {
    int64_t m, n, k, panels, groups, group;
    size_t group_bytes; /* of one panel */
    hg_bits_kind kind;
} hg_bits_shape;

/* Bytes of all codes. */
static inline size_t hg_bits_bytes(hg_bits_kind kind, int64_t n, int64_t k, int64_t group)
{
    const size_t panels = (size_t)((n + HG_BITS_COLUMNS - 1) / HG_BITS_COLUMNS);
    const size_t groups = (size_t)((k + group - 1) / group);
    return panels * groups * (size_t)group * 4 * hg_bits_width(kind);
}

hg_bits_shape hg_bits_shape_of(const hg_args *a);
HG_MUST_CHECK holo_status hg_matmul_bits_check(const hg_args *a, holo_error *e);
int64_t hg_matmul_bits_units(const hg_args *a);
void hg_matmul_bits_cost(const hg_args *a, hg_cost *cost);

/* Scales of the columns of a group of a panel. */
static inline const float *hg_bits_scales(const hg_args *a, const hg_bits_shape *s, int64_t panel,
                                          int64_t g)
{
    return (const float *)a->in[2].data + (panel * s->groups + g) * HG_BITS_COLUMNS;
}

static inline const uint8_t *hg_bits_codes(const hg_args *a, const hg_bits_shape *s, int64_t panel,
                                           int64_t g)
{
    return (const uint8_t *)a->in[1].data + (size_t)(panel * s->groups + g) * s->group_bytes;
}

/* One row as codes -127 .. 127, filled up with zeros to whole groups. */
typedef struct hg_bits_row {
    int8_t *code;
    float *scale; /* per group; NaN when the group holds a number that is not finite */
    int32_t *sum; /* of codes, per group */
} hg_bits_row;

/* What offsets, where there are some, add to the columns of a panel: each group's sum of the row
 * times theirs. One function for all kernels, so all give the same bits. */
static inline void hg_bits_add_offsets(const hg_args *a, const hg_bits_shape *s,
                                       const hg_bits_row *row, int64_t panel,
                                       float y[HG_BITS_COLUMNS])
{
    if (!hg_args_has(a, 4)) return;
    const float *offset = (const float *)a->in[4].data + panel * s->groups * HG_BITS_COLUMNS;
    for (int64_t g = 0; g < s->groups; g++, offset += HG_BITS_COLUMNS) {
        const float sum = row->scale[g] * (float)row->sum[g];
        for (int c = 0; c < HG_BITS_COLUMNS; c++)
            y[c] += sum * offset[c];
    }
}

/* Bytes of a row, and where the parts of row `number` lie. */
size_t hg_bits_row_bytes(const hg_bits_shape *s);
hg_bits_row hg_bits_row_in(const hg_bits_shape *s, void *scratch, size_t number);
/* A group whose largest number is below this is zero: its inverse would overflow. */
#define HG_BITS_LEAST 1e-36f

#endif
