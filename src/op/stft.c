/* stft.c - STFT: Fourier transforms of overlapping pieces of a signal. */
#include "op/op_scalar.h"
#include "op/op_window.h"

typedef struct stft_plan {
    hg_dim step, length, frames, bins;
    int64_t onesided;
} stft_plan;

static holo_status stft_read(const hg_infer *n, stft_plan *p)
{
    hg_dims *d = n->dims;
    int64_t step;
    const hg_type *x = n->in[0];
    HG_TRY(hg_attr_int(n, "onesided", 1, &p->onesided));
    HG_TRY(hg_infer_scalar(n, 1, &p->step));
    if (hg_dim_is_const(d, p->step, &step) && step < 1)
        return hg_infer_fail(n, HOLO_E_MODEL, "frame_step is %lld, expected at least 1",
                             (long long)step);
    if (hg_infer_has(n, 3))
        HG_TRY(hg_infer_scalar(n, 3, &p->length));
    else
        p->length = hg_infer_has(n, 2) ? n->in[2]->dim[0] : x->dim[1];
    hg_dim one = hg_dim_const(d, 1);
    p->frames =
        hg_dim_add(d, hg_dim_floordiv(d, hg_dim_sub(d, x->dim[1], p->length), p->step), one);
    p->bins = p->length;
    if (p->onesided != 0)
        p->bins = hg_dim_add(d, hg_dim_floordiv(d, p->length, hg_dim_const(d, 2)), one);
    return HOLO_OK;
}

static holo_status stft_infer(hg_infer *n)
{
    stft_plan p;
    HG_TRY(hg_infer_rank(n, 0, 2, 3));
    if (hg_infer_has(n, 2)) {
        HG_TRY(hg_infer_rank(n, 2, 1, 1));
        HG_TRY(hg_infer_same_type(n, 0, 2));
    }
    HG_TRY(stft_read(n, &p));
    n->out[0] = (hg_type){.dtype = n->in[0]->dtype,
                          .rank = 4,
                          .dim = {n->in[0]->dim[0], p.frames, p.bins, hg_dim_const(n->dims, 2)}};
    return HOLO_OK;
}

/* Exporters leave the last axis of real signals out. */
static holo_status stft_lower(hg_build *b)
{
    hg_value_id in[4];
    if (hg_build_type(b, hg_build_in(b, 0))->rank == 3) return HOLO_OK;
    for (uint32_t i = 0; i < 4; i++)
        in[i] = hg_build_in(b, i);
    in[0] = hg_build_2(b, "Unsqueeze", in[0], hg_build_ints(b, (int64_t[]){2}, 1));
    hg_node_id id = hg_build_clone(b, in, b->node->n_in);
    if (id != 0) hg_build_replace(b, 0, hg_graph_node(b->g, id)->out[0]);
    return b->status;
}

static holo_status stft_emit(hg_emit *e)
{
    hg_infer n = hg_emit_reader(e);
    stft_plan p;
    HG_TRY(stft_read(&n, &p));
    e->in[1] = hg_node_in(e->g, e->node, 2);
    e->n_in = e->in[1] == 0 ? 1 : 2;
    HG_TRY(hg_emit_dim(e, p.step));
    HG_TRY(hg_emit_dim(e, p.length));
    return hg_emit_int(e, p.onesided != 0);
}

const hg_op hg_op_stft = {
    .name = "STFT",
    .brief = "Fourier transforms of overlapping pieces of a signal",
    .since = 17,
    .in = {2, 4},
    .out = {1, 1},
    .types = HG_TYPES_FLOAT,
    .infer = stft_infer,
    .lower = stft_lower,
    .kernel = "stft",
    .emit = stft_emit,
};
