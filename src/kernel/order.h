/* order.h - total orders of floats and texts: negative, 0 or positive. */
#ifndef HG_KERNEL_ORDER_H
#define HG_KERNEL_ORDER_H

#include "isa/kernel.h"

/* NaN is above all others and equal to itself. */
static inline int hg_order_f64(double x, double y)
{
    if (x != x || y != y) return (x != x) - (y != y);
    return (x > y) - (x < y);
}

/* By bytes; a beginning comes before the whole. */
static inline int hg_order_string(const holo_string *x, const holo_string *y)
{
    const uint64_t shorter = x->length < y->length ? x->length : y->length;
    int order = shorter == 0 ? 0 : memcmp(x->text, y->text, (size_t)shorter);
    return order != 0 ? order : (x->length > y->length) - (x->length < y->length);
}

#endif
