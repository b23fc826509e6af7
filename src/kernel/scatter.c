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

bool hg_scatter_adds_f32(const hg_args *a)
{
    const hg_lane_code *c = a->code;
    if (c == NULL || c->n_op != 3 || a->out[0].dtype != HOLO_F32) return false;
    const hg_lane_op *x = &c->op[0], *y = &c->op[1], *sum = &c->op[2];
    return x->op == HG_LANE_LOAD && y->op == HG_LANE_LOAD && x->index + y->index == 1 &&
           sum->op == HG_LANE_ADD && sum->type == HG_LANE_F32 && c->out[0].reg == sum->dst &&
           ((sum->a == x->dst && sum->b == y->dst) || (sum->a == y->dst && sum->b == x->dst));
}

void hg_scatter_apply(const hg_args *a, int64_t at, int64_t from, int64_t n, void *scratch)
{
    const holo_dtype dtype = a->out[0].dtype;
    const uint32_t bits = hg_dtype_bits(dtype);
    if (a->code == NULL) {
        hg_elem_copy(a->out[0].data, at, a->in[2].data, from, n, bits);
        return;
    }
    if (hg_scatter_adds_f32(a)) {
        float *y = (float *)a->out[0].data + at;
        const float *x = (const float *)a->in[2].data + from;
        for (int64_t i = 0; i < n; i++)
            y[i] += x[i];
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
