/* pack_weights.c - matrix products with constant right sides read them in panels of 16 columns.
 * Weights kept as f16 behind a Cast stay f16: the kernel widens them. */
#include "pass/pass.h"

typedef struct pack_source {
    hg_value_id constant; /* [k, n], or [n, k] when transposed */
    bool transposed;
} pack_source;

static hg_node_id pack_producer(const hg_graph *g, hg_value_id v, const char *op)
{
    hg_node_id id = hg_graph_value(g, v)->node;
    return id != 0 && hg_op_is(hg_graph_node(g, id), op) ? id : 0;
}

/* Looks through Cast (from f16) and Transpose, in any order, to a constant matrix. */
static bool pack_find(const hg_graph *g, hg_value_id v, bool transposed, pack_source *out)
{
    for (int depth = 0; depth < 4; depth++) {
        const hg_type *t = &hg_graph_value(g, v)->type;
        if (t->rank != 2) return false;
        if (hg_graph_is_const(g, v)) {
            *out = (pack_source){v, transposed};
            return t->dtype == HOLO_F32 || t->dtype == HOLO_F16;
        }
        hg_node_id cast = pack_producer(g, v, "Cast"), transpose = pack_producer(g, v, "Transpose");
        if (cast == 0 && transpose == 0) return false;
        if (transpose != 0)
            transposed = !transposed; /* of rank 2: any Transpose but the identity */
        v = hg_node_in(g, hg_graph_node(g, cast != 0 ? cast : transpose), 0);
    }
    return false;
}

static holo_status pack_replace(hg_graph *g, hg_node_id id, const pack_source *from)
{
    hg_build b;
    hg_build_init(&b, g, id);
    hg_attr trans = hg_attr_make_int("trans", from->transposed);
    hg_value_id packed = hg_build_op(&b, "holo:PackP16", &from->constant, 1, &trans, 1);
    const hg_type *out = &hg_graph_value(g, hg_graph_node(g, id)->out[0])->type;
    hg_dim columns = out->dim[out->rank - 1];
    hg_attr attr[2] = {
        hg_attr_make_dims(&b, "n", &columns, 1),
        hg_attr_make_float("alpha", hg_node_float(hg_graph_node(g, id), "alpha", 1.0))};
    hg_value_id in[2] = {hg_build_in(&b, 0), packed};
    hg_value_id made = hg_build_op(&b, "holo:MatMulP16", in, 2, attr, 2);
    hg_build_replace(&b, 0, made);
    if (b.status == HOLO_OK) hg_graph_remove_node(g, id);
    return b.status;
}

/* Marks values that only constants decide. Products of them (relative positions times weights, as
 * in DeBERTa) are for fold_constants, which knows no packed layout. */
static holo_status pack_mark_fixed(const hg_graph *g, bool **fixed)
{
    HG_TRY(HG_NEW(g->ctx, g->n_value + 1, fixed));
    for (hg_node_id id = hg_graph_region(g, HG_REGION_MAIN)->first; id != 0;
         id = hg_graph_node(g, id)->next) {
        const hg_node *n = hg_graph_node(g, id);
        bool all = n->n_in > 0 && n->n_body == 0 && (n->op->flags & HG_OP_EFFECT) == 0;
        for (uint32_t i = 0; i < n->n_in && all; i++) {
            hg_value_id v = hg_node_in(g, n, i);
            all = v == 0 || hg_graph_is_const(g, v) || (*fixed)[v];
        }
        for (uint32_t j = 0; j < n->n_out && all; j++)
            (*fixed)[n->out[j]] = true;
    }
    return HOLO_OK;
}

/* A matrix times one column of float32, which lies in the file as kernels read it. */
static bool pack_is_column(const hg_graph *g, const hg_node *n, const pack_source *from)
{
    const hg_type *out = &hg_graph_value(g, n->out[0])->type;
    int64_t columns;
    return out->rank == 2 && hg_graph_value(g, from->constant)->type.dtype == HOLO_F32 &&
           hg_dim_is_const(&g->dims, out->dim[1], &columns) && columns == 1;
}

static bool pack_wants(const hg_graph *g, const hg_node *n, const bool *fixed, pack_source *from)
{
    bool fused = hg_op_is(n, "holo:MatMul");
    if (!fused && !hg_op_is(n, "MatMul")) return false;
    if (fixed[n->out[0]]) return false;
    if (n->n_in != 2 || hg_node_attr(n, "code") != NULL) return false;
    if (hg_graph_value(g, hg_node_in(g, n, 0))->type.dtype != HOLO_F32) return false;
    if (fused && hg_node_int(n, "trans_a", 0) != 0) return false;
    return pack_find(g, hg_node_in(g, n, 1), fused && hg_node_int(n, "trans_b", 0) != 0, from) &&
           !pack_is_column(g, n, from);
}

static holo_status pack_run(hg_graph *g, bool *changed)
{
    bool *fixed;
    HG_TRY(pack_mark_fixed(g, &fixed));
    for (hg_node_id id = hg_graph_region(g, HG_REGION_MAIN)->first; id != 0;) {
        hg_node_id next = hg_graph_node(g, id)->next;
        pack_source from;
        if (pack_wants(g, hg_graph_node(g, id), fixed, &from)) {
            HG_TRY(pack_replace(g, id, &from));
            *changed = true;
        }
        id = next;
    }
    return HOLO_OK;
}

const hg_pass hg_pass_pack_weights = {
    .name = "pack_weights",
    .brief = "constant matrices are stored in the layout the kernels read",
    .flags = HG_PASS_TUNED,
    .run = pack_run,
};
