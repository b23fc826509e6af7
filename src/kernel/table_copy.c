/* table_copy.c - table.copy: what a table says about codes on their way to another place.
 *
 *   in[0]  codes of 8 bits, any shape
 *   in[1]  the table: [entries] or [channels, entries] of bytes
 *   param  axis, base, classes of "table", where axis is one of out[0]; then offset and loops of
 *          "copy.strided"
 *   out[0] table[channel][code - base] of the codes that the loops reach, in their order
 *
 * It is copy.strided and table in one: codes are looked up on the way, or where they were put while
 * they are in cache, and lie nowhere in between. */
#include "kernel/table_copy.h"

/* The call as the table sees it: codes of the output's shape. */
static hg_args table_copy_look(const hg_args *a, holo_tensor in[2])
{
    hg_args look = *a;
    in[0] = a->out[0];
    in[0].dtype = a->in[0].dtype;
    in[1] = a->in[1];
    look.in = in;
    look.n_param = HG_TABLE_PARAMS;
    return look;
}

static hg_args table_copy_move(const hg_args *a)
{
    hg_args move = *a;
    move.n_in = 1;
    move.param += HG_TABLE_PARAMS;
    move.n_param -= HG_TABLE_PARAMS;
    return move;
}

holo_status hg_table_copy_check(const hg_args *a, holo_error *e)
{
    holo_tensor in[2];
    HG_TRY(hg_check_counts(a, e, 2, 2, 1, (int)a->n_param));
    HG_REQUIRE(e, a->n_param > HG_TABLE_PARAMS, HOLO_E_FORMAT,
               "%u parameters, expected more than %d", a->n_param, HG_TABLE_PARAMS);
    HG_TRY(hg_check_in_type(a, e, 0, HG_TABLE_CODES_8));
    HG_TRY(hg_check_out_type(a, e, 0, HG_TABLE_CODES_8));
    const hg_args move = table_copy_move(a), look = table_copy_look(a, in);
    HG_TRY(hg_kernel_table_check(&look, e));
    return hg_copy_check(&move, e);
}

int64_t hg_table_copy_units(const hg_args *a)
{
    const hg_args move = table_copy_move(a);
    const hg_copy_plan p = hg_copy_plan_of(&move);
    return hg_copy_units(&p);
}

size_t hg_table_copy_scratch(const hg_args *a)
{
    const hg_args move = table_copy_move(a);
    return hg_copy_plan_of(&move).tile_loop >= 0 ? HG_TABLE_COPY_LOOK : 0;
}

/* Pixels of three bytes become planes, or planes pixels. Of tables with three rows the channels are
 * the rows of a tile then, or its columns. */
static bool table_copy_is_pixels(const hg_table *t, const hg_copy_plan *p)
{
    const int last = p->loops - 1, mid = p->tile_loop;
    if (mid < 0 || mid != last - 1 || t->entries != 256) return false;
    if (p->extent[mid] == 3 && p->stride[last] == 3)
        return t->channels == 1 || (t->channels == 3 && t->inner == p->extent[last]);
    return p->extent[last] == 3 && (t->channels == 1 || (t->channels == 3 && t->inner == 1));
}

void hg_table_copy_run(const hg_args *a, hg_range r, const hg_table_copy_form *form)
{
    holo_tensor in[2];
    const hg_args move = table_copy_move(a), look = table_copy_look(a, in);
    const hg_copy_plan p = hg_copy_plan_of(&move);
    const hg_table t = hg_table_of(&look);
    const bool is_pixels = form->pixels != NULL && table_copy_is_pixels(&t, &p);
    const bool is_joined = p.tile_loop == p.loops - 2 && p.tile_cols == 1; /* rows of a tile */
    if (is_pixels) form->prepare(&t, r.scratch);
    for (int64_t unit = r.begin; unit < r.end; unit++) {
        hg_copy_part part =
            hg_copy_unit(&move, &p, is_pixels ? form->pixels : form->copy, r.scratch, unit);
        if (is_joined) part = (hg_copy_part){.at = part.at, .rows = 1, .n = part.rows * part.n};
        if (!is_pixels) form->block(&t, &part);
    }
}

static void table_copy_block(const hg_table *t, const hg_copy_part *part)
{
    for (int64_t i = 0; i < part->rows; i++)
        hg_table_each(t, part->at + i * part->step, part->at + i * part->step + part->n);
}

static void table_copy_run(const hg_args *a, hg_range r)
{
    static const hg_table_copy_form form = {.block = table_copy_block};
    hg_table_copy_run(a, r, &form);
}

const hg_kernel hg_kernels_table_copy[] = {
    {.name = "table.copy",
     .check = hg_table_copy_check,
     .units = hg_table_copy_units,
     .scratch = hg_table_copy_scratch,
     .run = table_copy_run},
    {0},
};
