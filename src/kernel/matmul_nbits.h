/* matmul_nbits.h - what the kernels for weights of 2, 4 or 8 bits share. */
#ifndef HG_KERNEL_MATMUL_NBITS_H
#define HG_KERNEL_MATMUL_NBITS_H

#include "base/half.h"
#include "isa/kernel.h"

enum { HG_NBITS_COLUMNS = 4, HG_NBITS_DEPTH = 256 }; /* of a tile: columns, and codes of each */

typedef struct hg_nbits_shape {
    int64_t m, n, k, blocks, block;
    int64_t row, zero_row; /* bytes of a column of codes, and of its packed zero points */
    uint32_t bits;
} hg_nbits_shape;

HG_MUST_CHECK holo_status hg_matmul_nbits_check(const hg_args *a, holo_error *e);
hg_nbits_shape hg_matmul_nbits_shape_of(const hg_args *a);
int64_t hg_matmul_nbits_units(const hg_args *a);
void hg_matmul_nbits_cost(const hg_args *a, hg_cost *cost);
static inline float hg_nbits_load(const holo_tensor *t, int64_t i)
{
    if (t->dtype == HOLO_F32) return ((const float *)t->data)[i];
    const uint16_t half = ((const uint16_t *)t->data)[i];
    return t->dtype == HOLO_F16 ? hg_f16_to_f32(half) : hg_bf16_to_f32(half);
}

/* Code i of a row of bytes. */
static inline uint32_t hg_nbits_code(const uint8_t *bytes, uint32_t bits, int64_t i)
{
    const int64_t bit = i * bits;
    return (uint32_t)bytes[bit / 8] >> (bit % 8) & ((1u << bits) - 1);
}

/* Scale and zero point of a block of a column. */
static inline void hg_nbits_block(const hg_args *a, const hg_nbits_shape *s, int64_t column,
                                  int64_t block, float *scale, float *zero)
{
    *scale = hg_nbits_load(&a->in[2], column * s->blocks + block);
    *zero = (float)(1u << (s->bits - 1));
    if (!hg_args_has(a, 3)) return;
    const holo_tensor *z = &a->in[3];
    if (z->dtype != HOLO_U8)
        *zero = hg_nbits_load(z, column * s->blocks + block);
    else
        *zero =
            (float)hg_nbits_code((const uint8_t *)z->data + column * s->zero_row, s->bits, block);
}

#endif
