/* elem.h - one element of a tensor as a double, whatever its type. For tools: clear, not fast. */
#ifndef HG_IO_ELEM_H
#define HG_IO_ELEM_H

#include "base/base.h"

#include <math.h>

typedef enum hg_elem_class {
    HG_ELEM_FLOAT,   /* floats of any width, complex numbers as two of them */
    HG_ELEM_INTEGER, /* integers and bool */
    HG_ELEM_OTHER    /* strings and containers: no number */
} hg_elem_class;

hg_elem_class hg_elem_classify(holo_dtype dtype);

/* Bits of one element; 0 for containers and unknown types. */
uint32_t hg_elem_bits(holo_dtype dtype);
/* Numbers per element: 2 for complex types, else 1. */
uint32_t hg_elem_parts(holo_dtype dtype);

/* Number i of the tensor, 0 <= i < count * parts. 64-bit integers beyond 2^53 are rounded. */
double hg_elem_get(const holo_tensor *tensor, int64_t i);
/* The same for integer types and bool, without rounding; uint64 wraps. */
int64_t hg_elem_get_int(const holo_tensor *tensor, int64_t i);
/* Stores a number: floats round to nearest even, integers truncate and saturate. */
void hg_elem_set(holo_tensor *tensor, int64_t i, double value);

double hg_elem_from_half(uint16_t bits);
/* Rounds once, from double, to nearest even. */
uint16_t hg_elem_to_half(double value);

/* Reverses the bytes of each of `count` numbers of `width` bytes. */
void hg_elem_swap(void *data, size_t count, size_t width);
bool hg_elem_host_is_big(void);

#endif
