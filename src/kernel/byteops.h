/* byteops.h - what every variant of "byteops" shares: the parameters, the check, and one call. */
#ifndef HG_KERNEL_BYTEOPS_H
#define HG_KERNEL_BYTEOPS_H

#include "isa/byteops.h"
#include "kernel/table.h"

enum { HG_BYTEOPS_BASE, HG_BYTEOPS_ENTRIES, HG_BYTEOPS_PARAMS };

typedef struct hg_byteops_call {
    const uint8_t *codes;
    uint8_t *out; /* may be the codes */
    int64_t begin, end;
    int64_t base, entries; /* codes base to base + entries - 1 may come */
    hg_byteops program;
    hg_fault *fault;
} hg_byteops_call;

holo_status hg_kernel_byteops_check(const hg_args *a, holo_error *e);
/* Vectors that pass a few operations: as quick as moving them. */
void hg_kernel_byteops_cost(const hg_args *a, hg_cost *cost);
/* False when there is nothing to do: no elements, or a program that is none, which is a fault. */
bool hg_byteops_call_of(const hg_args *a, hg_range r, hg_byteops_call *out);
/* Codes [begin, end) of the call, one at a time; one outside is a fault and is left out. */
void hg_byteops_each(const hg_byteops_call *c, int64_t begin, int64_t end);

#endif
