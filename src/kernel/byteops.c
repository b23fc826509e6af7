/* byteops.c - byteops: a short program of byte operations for each code.
 *
 *   in[0]  codes of 8 bits, any shape
 *   in[1]  the program (isa/byteops.h), bytes
 *   param  base, entries: codes base to base + entries - 1 may come
 *   out[0] what the program makes of each code, of 8 bits, shape of in[0]
 *
 * A code outside is a fault; its element is left as it was. So is a program that is none. */
#include "kernel/byteops.h"

holo_status hg_kernel_byteops_check(const hg_args *a, holo_error *e)
{
    HG_TRY(hg_check_counts(a, e, 2, 2, 1, HG_BYTEOPS_PARAMS));
    HG_TRY(hg_check_in_type(a, e, 0, HG_TABLE_CODES_8));
    HG_TRY(hg_check_in_type(a, e, 1, HG_TYPE_BIT(HOLO_U8)));
    HG_TRY(hg_check_out_type(a, e, 0, HG_TABLE_CODES_8));
    HG_TRY(hg_check_rank(&a->in[1], e, "program", 1, 1));
    HG_TRY(hg_check_same_shape(&a->out[0], &a->in[0], e, "output"));
    HG_TRY(hg_check_param(a, e, HG_BYTEOPS_BASE, "base", 0, 255));
    return hg_check_param(a, e, HG_BYTEOPS_ENTRIES, "entries", 1, 256 - a->param[HG_BYTEOPS_BASE]);
}

void hg_kernel_byteops_cost(const hg_args *a, hg_cost *cost)
{
    cost->bytes = (double)holo_tensor_count(&a->in[0]);
}

bool hg_byteops_call_of(const hg_args *a, hg_range r, hg_byteops_call *out)
{
    const holo_tensor *x = &a->in[0], *p = &a->in[1];
    *out = (hg_byteops_call){
        .codes = x->data,
        .out = a->out[0].data,
        .begin = r.begin * HG_TABLE_BLOCK,
        .end = hg_min(r.end * HG_TABLE_BLOCK, holo_tensor_count(x)),
        .base = a->param[HG_BYTEOPS_BASE],
        .entries = a->param[HG_BYTEOPS_ENTRIES],
        .fault = a->fault,
    };
    if (out->begin >= out->end) return false;
    if (hg_byteops_read(p->data, (size_t)p->dim[0], &out->program)) return true;
    hg_fault_value(a->fault, "the program of byte operations is none", 0, p->dim[0]);
    return false;
}

void hg_byteops_each(const hg_byteops_call *c, int64_t begin, int64_t end)
{
    uint8_t made[256];
    for (int i = 0; i < 256; i++)
        made[i] = hg_byteops_at(&c->program, (uint8_t)i);
    for (int64_t i = begin; i < end; i++) {
        const uint8_t code = c->codes[i];
        if (HG_UNLIKELY((uint32_t)(code - c->base) >= (uint32_t)c->entries))
            hg_fault_range(c->fault, "code", i, code, c->base, c->base + c->entries - 1);
        else
            c->out[i] = made[code];
    }
}

static void byteops_run(const hg_args *a, hg_range r)
{
    hg_byteops_call c;
    if (hg_byteops_call_of(a, r, &c)) hg_byteops_each(&c, c.begin, c.end);
}

const hg_kernel hg_kernels_byteops[] = {
    {.name = "byteops",
     .flags = HG_KERNEL_INPLACE,
     .check = hg_kernel_byteops_check,
     .units = hg_kernel_table_units,
     .cost = hg_kernel_byteops_cost,
     .run = byteops_run},
    {0},
};
