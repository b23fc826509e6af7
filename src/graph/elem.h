/* elem.h - one element of a constant as a wide number, and back; private to graph/. */
#ifndef HG_GRAPH_ELEM_H
#define HG_GRAPH_ELEM_H

#include "base/dtype.h"

typedef enum hg_elem_kind {
    HG_ELEM_NONE = 0, /* strings, complex numbers, containers */
    HG_ELEM_INT,
    HG_ELEM_UINT, /* bool too */
    HG_ELEM_FLOAT
} hg_elem_kind;

typedef struct hg_elem {
    hg_elem_kind kind;
    int64_t i;
    uint64_t u;
    double f;
} hg_elem;

hg_elem_kind hg_elem_kind_of(holo_dtype dtype);
/* The bits of element `index`, at most 64 of them. */
uint64_t hg_elem_read_bits(holo_dtype dtype, const void *data, int64_t index);
void hg_elem_write_bits(holo_dtype dtype, void *data, int64_t index, uint64_t bits);
/* Element `index` of little-endian, perhaps packed and unaligned data. */
hg_elem hg_elem_read(holo_dtype dtype, const void *data, int64_t index);
/* False when the number does not fit the type; floats round to nearest. */
bool hg_elem_write(holo_dtype dtype, void *data, int64_t index, hg_elem value);

#endif
