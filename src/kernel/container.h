/* container.h - what kernels on sequences, optionals and strings share. */
#ifndef HG_KERNEL_CONTAINER_H
#define HG_KERNEL_CONTAINER_H

#include "isa/deep.h"
#include "isa/kernel.h"

/* in[i] is a container of one of the two types. */
holo_status hg_check_container(const hg_args *a, holo_error *e, uint32_t i, holo_dtype one,
                               holo_dtype other);
/* in[i] is there and well-formed, whatever it is. */
holo_status hg_check_value(const hg_args *a, holo_error *e, uint32_t i);
/* out[0] has type, rank and dims of `expected`. */
holo_status hg_check_result(const hg_args *a, holo_error *e, const holo_tensor *expected);
/* An integer scalar, in[i], as a position from the beginning; `standard` when absent. [low, high]
 * is what it may be; negative numbers count from high + 1 or, for a place between items, from the
 * number of items. */
holo_status hg_read_position(const hg_args *a, holo_error *e, uint32_t i, int64_t count,
                             int64_t last, int64_t standard, int64_t *out);
/* Element k of an int32 or int64 tensor. */
int64_t hg_read_integer(const holo_tensor *t, int64_t k);
/* 1 unit: these kernels are not split. */
int64_t hg_one_unit(const hg_args *a);
/* The bytes behind the elements of out[0]. */
hg_room hg_room_behind(const hg_args *a);

#endif
