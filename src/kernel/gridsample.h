/* gridsample.h - parameters of the kernel "gridsample", and what its variants share. */
#ifndef HG_KERNEL_GRIDSAMPLE_H
#define HG_KERNEL_GRIDSAMPLE_H

#include "isa/kernel.h"

/* Places of the parameters. */
enum { HG_GRID_PARAM_MODE, HG_GRID_PARAM_PADDING, HG_GRID_PARAM_ALIGN, HG_GRID_PARAMS };

enum { HG_GRID_NEAREST, HG_GRID_LINEAR, HG_GRID_CUBIC };
enum { HG_GRID_ZEROS, HG_GRID_BORDER, HG_GRID_REFLECTION };

holo_status hg_gridsample_check(const hg_args *a, holo_error *e);
/* A place of the grid: all channels there. */
int64_t hg_gridsample_units(const hg_args *a);
size_t hg_gridsample_scratch(const hg_args *a);
void hg_gridsample_run(const hg_args *a, hg_range r);
/* Linear, pictures of f32, places in f32. */
bool hg_gridsample_is_picture(const hg_args *a);

#endif
