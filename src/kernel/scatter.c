/* scatter.c - what kernels that update single elements share: replacing or combining by lane code.
 */
#include "kernel/scatter.h"

holo_status hg_scatter_check_types(const hg_args *a, holo_error *e)
{
    HG_TRY(hg_check_in_type(a, e, 0, HG_TYPES_ANY & ~HG_TYPES_NARROW));
    HG_TRY(hg_check_in_type(a, e, 1, HG_ELEM_INDEX));
    HG_TRY(hg_check_in_type(a, e, 2, HG_TYPES_ANY));
    HG_TRY(hg_check_out_type(a, e, 0, HG_TYPES_ANY));
    HG_TRY(hg_check_same_type(&a->in[2], &a->in[0], e, "updates"));
    HG_TRY(hg_check_same_type(&a->out[0], &a->in[0], e, "output"));
    HG_TRY(hg_check_same_shape(&a->out[0], &a->in[0], e, "output"));
    if (a->code == NULL) return HOLO_OK;
    HG_REQUIRE(e, a->code->n_in == 2 && a->code->n_out == 1, HOLO_E_FORMAT,
               "lane code of %u operands and %u results, expected 2 and 1", a->code->n_in,
               a->code->n_out);
    const holo_dtype in[2] = {a->out[0].dtype, a->out[0].dtype};
    return hg_lane_check_types(a->code, in, in, e);
}

size_t hg_scatter_scratch(const hg_args *a)
{
    return a->code == NULL ? 0 : hg_lane_scratch(a->code);
}

uint32_t hg_scatter_simple_f32(const hg_args *a)
{
    const hg_lane_code *c = a->code;
    if (c == NULL || c->n_op != 3 || a->out[0].dtype != HOLO_F32) return 0;
    const hg_lane_op *x = &c->op[0], *y = &c->op[1], *both = &c->op[2];
    if (x->op != HG_LANE_LOAD || y->op != HG_LANE_LOAD || x->index + y->index != 1 ||
        both->type != HG_LANE_F32 || c->out[0].reg != both->dst)
        return 0;
    const uint16_t old = x->index == 0 ? x->dst : y->dst, update = x->index == 0 ? y->dst : x->dst;
    const bool in_order = both->a == old && both->b == update;
    if (both->op == HG_LANE_ADD || both->op == HG_LANE_MUL)
        return in_order || (both->a == update && both->b == old) ? both->op : 0;
    return in_order && (both->op == HG_LANE_MIN || both->op == HG_LANE_MAX) ? both->op : 0;
}

/* y[i] = y[i] op x[i] */
static void scatter_combine_row(uint32_t op, float *HG_RESTRICT y, const float *HG_RESTRICT x,
                                int64_t n)
{
#define ROW(OP)                                                                                    \
    for (int64_t i = 0; op == HG_LANE_##OP && i < n; i++)                                          \
    y[i] = hg_scatter_combine_f32(HG_LANE_##OP, y[i], x[i])
    ROW(ADD);
    ROW(MUL);
    ROW(MIN);
    ROW(MAX);
#undef ROW
}

void hg_scatter_apply(const hg_args *a, int64_t at, int64_t from, int64_t n, void *scratch)
{
    const holo_dtype dtype = a->out[0].dtype;
    const uint32_t bits = hg_dtype_bits(dtype);
    if (a->code == NULL) {
        hg_elem_copy(a->out[0].data, at, a->in[2].data, from, n, bits);
        return;
    }
    const uint32_t simple = hg_scatter_simple_f32(a);
    if (simple != 0) {
        scatter_combine_row(simple, (float *)a->out[0].data + at,
                            (const float *)a->in[2].data + from, n);
        return;
    }
    const int64_t size = (int64_t)bits / 8;
    const hg_lane_view out = {
        .data = (uint8_t *)a->out[0].data + at * size, .row = n, .col = 1, .dtype = dtype};
    hg_lane_view in[2] = {out, out};
    in[1].data = (uint8_t *)a->in[2].data + from * size;
    hg_lane_run(a->code, &(hg_lane_tile){.in = in,
                                         .out = &out,
                                         .rows = 1,
                                         .cols = n,
                                         .first = at,
                                         .row_elements = n,
                                         .scratch = scratch,
                                         .fault = a->fault});
}
