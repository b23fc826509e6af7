/* table_copy.h - what every variant of "table.copy" shares. */
#ifndef HG_KERNEL_TABLE_COPY_H
#define HG_KERNEL_TABLE_COPY_H

#include "kernel/copy.h"
#include "kernel/table.h"

/* Looks up the codes of a part in place; they and the entries are bytes. */
typedef void hg_table_block(const hg_table *t, const hg_copy_part *part);

holo_status hg_table_copy_check(const hg_args *a, holo_error *e);
int64_t hg_table_copy_units(const hg_args *a);
size_t hg_table_copy_scratch(const hg_args *a);

/* What an instruction set brings along. */
typedef struct hg_table_copy_form {
    /* Tiles of pixels of three bytes, which are looked up as they are moved, in one table of 256
     * entries or in one for each channel; NULL: there is no such code. */
    hg_copy_tile *pixels;
    void (*prepare)(const hg_table *t, void *look); /* `look` of it, HG_TABLE_COPY_LOOK bytes */
    /* All else is moved, NULL: one at a time, and then looked up. */
    hg_copy_tile *copy;
    hg_table_block *block;
} hg_table_copy_form;

enum { HG_TABLE_COPY_LOOK = 2048 };

void hg_table_copy_run(const hg_args *a, hg_range r, const hg_table_copy_form *form);

#endif
