/* copy.h - moving elements with strides: what "copy.strided" and kernels that do more with the
 * moved bytes share. */
#ifndef HG_KERNEL_COPY_H
#define HG_KERNEL_COPY_H

#include "isa/kernel.h"

enum { HG_COPY_MAX_LOOPS = 2 * HG_MAX_RANK, HG_COPY_SIDE = 8, HG_COPY_PIXEL = 4 };

/* The loops of a call, joined; checked arguments only. */
typedef struct hg_copy_plan {
    int64_t offset, count;
    int64_t extent[HG_COPY_MAX_LOOPS], stride[HG_COPY_MAX_LOOPS];
    int loops;
    int tile_loop;                   /* with stride 1, when the innermost has another; -1: none */
    int64_t tile_rows, tile_cols;    /* tiles along tile_loop and along the innermost */
    int64_t tile_height, tile_width; /* elements of a tile along these */
} hg_copy_plan;

/* Of the input: rows of n elements, `row` and `stride` apart. */
typedef struct hg_copy_grid {
    int64_t rows, n, row, stride;
} hg_copy_grid;

/* Moves a tile, as an instruction set likes it best: y[r * row + i] = x[r + i * stride], or what
 * `look` says about that. Elements are of one width, which the kernel's check has seen to; wider
 * ones than a byte come in tiles of at least three rows and HG_COPY_SIDE columns; words also in
 * more than HG_COPY_SIDE rows of up to HG_COPY_PIXEL columns that follow each other (row is n). */
typedef void hg_copy_tile(uint8_t *y, const uint8_t *x, hg_copy_grid g, const void *look);

/* Where a unit lies in the output: `rows` rows of n elements, `step` apart from element `at` on. */
typedef struct hg_copy_part {
    int64_t at, rows, n, step;
} hg_copy_part;

/* Of kernels with one input, and the offset and the loops as parameters. */
holo_status hg_copy_check(const hg_args *a, holo_error *e);
/* The same of elements of so many bits, and of those of the kernels that have tuned code. */
holo_status hg_copy_width_check(const hg_args *a, uint32_t bits, holo_error *e);
holo_status hg_copy_bytes_check(const hg_args *a, holo_error *e);
holo_status hg_copy_halves_check(const hg_args *a, holo_error *e);
holo_status hg_copy_words_check(const hg_args *a, holo_error *e);
hg_copy_plan hg_copy_plan_of(const hg_args *a);
int64_t hg_copy_units(const hg_copy_plan *p);
int64_t hg_copy_call_units(const hg_args *a);
void hg_copy_cost(const hg_args *a, hg_cost *cost);
/* Copies one unit; `look` is for `tile` (NULL: none). */
hg_copy_part hg_copy_unit(const hg_args *a, const hg_copy_plan *p, hg_copy_tile *tile,
                          const void *look, int64_t unit);
void hg_copy_run(const hg_args *a, hg_range r, hg_copy_tile *tile);

#endif
