/* widen_half.c - regions of 16-bit floats around convolutions, products, pools and sums compute in
 * float32. Each such node is wrapped in Casts; a Cast this pass made is read through by the next
 * node, so a region widens once where it begins and rounds once where it ends, and every result is
 * at least as near to the true one. So are Casts that a composite operator became (a normalisation
 * computes in float32 and rounds). Of the model's own Casts those to 16 bits keep rounding; one to
 * float32 ends a region that needs no rounding then. Large f16 weights stay f16: kernels widen them
 * as they read. */
#include "pass/widen_half.h"

#include "base/half.h"
#include "pass/pass.h"

enum { WIDEN_SMALL = 1 << 16 }; /* bytes of an f16 constant that is widened here and now */

static bool widen_is_half(const hg_graph *g, hg_value_id v)
{
    if (v == 0) return false;
    const holo_dtype dtype = hg_graph_value(g, v)->type.dtype;
    return dtype == HOLO_F16 || dtype == HOLO_BF16;
}

static bool widen_is_one_of(const hg_node *n, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (hg_op_is(n, names[i])) return true;
    return false;
}

/* Work of more than an operation for each element: worth a region. Kernels of 16-bit floats widen
 * what they read one number at a time, where a Cast is as fast as memory. */
static bool widen_is_heavy(const hg_node *n)
{
    // clang-format off
    static const char *const names[] = {
        "Conv", "ConvTranspose", "DeformConv", "MatMul", "holo:MatMul", "LSTM", "GRU", "RNN", "GridSample",
        "STFT", "DFT", "AveragePool", "MaxPool", "LpPool", "GlobalAveragePool", "GlobalMaxPool",
        "ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceL1", "ReduceL2",
        "ReduceSumSquare", "ReduceLogSumExp", "ArgMax", "ArgMin", "TopK", "CumSum", "Softmax", "LogSoftmax",
        "LayerNormalization", "InstanceNormalization", "holo:GroupNorm", "BatchNormalization"};
    // clang-format on
    return widen_is_one_of(n, names, HG_COUNT(names));
}

/* Follows a region: all its 16-bit inputs and outputs have one type, which may be float32. */
static bool widen_is_light(const hg_node *n)
{
    // clang-format off
    static const char *const names[] = {
        "Concat", "Split", "Slice", "Transpose", "Reshape", "Squeeze", "Unsqueeze", "Flatten", "Expand",
        "Resize", "Pad", "Gather", "Identity"};
    // clang-format on
    if (hg_op_is(n, "Cast") || hg_op_is(n, "CastLike") || n->op->domain != NULL) return false;
    return n->op->lane != NULL || widen_is_one_of(n, names, HG_COUNT(names));
}

/* A Cast that this pass made, or that an operator of the model became when it was lowered. */
static bool widen_is_made(const hg_graph *g, hg_node_id id, hg_node_id first)
{
    const hg_node *n = hg_graph_node(g, id);
    return hg_op_is(n, "Cast") && (id >= first || (strcmp(n->origin->name, "Cast") != 0 &&
                                                   strcmp(n->origin->name, "CastLike") != 0));
}

/* The float32 that a value was rounded from by such a Cast; 0: none. */
static hg_value_id widen_source(const hg_graph *g, hg_value_id v, hg_node_id first)
{
    const hg_node_id id = hg_graph_value(g, v)->node;
    if (id == 0 || !widen_is_half(g, v) || !widen_is_made(g, id, first)) return 0;
    const hg_value_id source = hg_node_in(g, hg_graph_node(g, id), 0);
    return hg_graph_value(g, source)->type.dtype == HOLO_F32 ? source : 0;
}

static bool widen_wants(const hg_graph *g, hg_node_id id, hg_node_id first)
{
    const hg_node *n = hg_graph_node(g, id);
    bool any = false, from_region = false;
    for (uint32_t i = 0; i < n->n_in; i++) {
        const hg_value_id v = hg_node_in(g, n, i);
        if (!widen_is_half(g, v)) continue;
        any = true;
        from_region |= widen_source(g, v, first) != 0;
    }
    if (!any || n->n_body != 0 || (n->op->flags & HG_OP_EFFECT) != 0) return false;
    return widen_is_heavy(n) || (from_region && widen_is_light(n));
}

hg_value_id hg_build_widened(hg_build *b, hg_value_id v)
{
    const hg_value *value = hg_graph_value(b->g, v);
    const hg_const *c = value->constant;
    hg_type type = value->type;
    const bool is_bf16 = type.dtype == HOLO_BF16;
    const size_t count = c->bytes / sizeof(uint16_t);
    float *wide;
    type.dtype = HOLO_F32;
    b->status = HG_NEW(b->ctx, count + 1, &wide);
    if (b->status != HOLO_OK) return 0;
    for (size_t i = 0; i < count; i++) {
        uint16_t bits;
        memcpy(&bits, (const char *)c->data + i * sizeof bits, sizeof bits);
        wide[i] = is_bf16 ? hg_bf16_to_f32(bits) : hg_f16_to_f32(bits);
    }
    return hg_build_const(b, type, wide, count * sizeof *wide);
}

bool hg_weights_read(const hg_graph *g, hg_value_id v, hg_weights *out)
{
    if (v == 0 || hg_graph_value(g, v)->type.dtype != HOLO_F32) return false;
    const hg_node_id id = hg_graph_value(g, v)->node;
    if (id != 0 && hg_op_is(hg_graph_node(g, id), "Cast"))
        v = hg_node_in(g, hg_graph_node(g, id), 0);
    *out = (hg_weights){hg_graph_value(g, v)->constant, hg_graph_value(g, v)->type.dtype};
    return out->constant != NULL && (out->dtype == HOLO_F32 || out->dtype == HOLO_F16);
}

hg_value_id hg_weights_pick(hg_build *b, const hg_weights *w, hg_type type, int64_t count,
                            int64_t (*from)(const void *how, int64_t i), const void *how)
{
    const size_t size = w->dtype == HOLO_F32 ? sizeof(float) : sizeof(uint16_t);
    const char *data = w->constant->data;
    char *made;
    type.dtype = w->dtype;
    if (b->status == HOLO_OK) b->status = HG_NEW(b->ctx, (size_t)count * size, &made);
    if (b->status != HOLO_OK) return 0;
    for (int64_t i = 0; i < count; i++) {
        const int64_t at = from(how, i);
        if (at >= 0) memcpy(made + (size_t)i * size, data + (size_t)at * size, size);
    }
    const hg_value_id v = hg_build_const(b, type, made, (size_t)count * size);
    return w->dtype == HOLO_F32 ? v : hg_build_cast(b, v, HOLO_F32);
}

static hg_value_id widen_value(hg_build *b, hg_value_id v, hg_node_id first)
{
    const hg_value_id source = widen_source(b->g, v, first);
    if (source != 0) return source;
    const hg_value *value = hg_graph_value(b->g, v);
    const bool is_small = value->constant != NULL &&
                          (value->constant->bytes <= WIDEN_SMALL || value->type.dtype == HOLO_BF16);
    return is_small ? hg_build_widened(b, v) : hg_build_cast(b, v, HOLO_F32);
}

static holo_status widen_node(hg_graph *g, hg_node_id id, hg_node_id first)
{
    hg_build b;
    hg_build_init(&b, g, id);
    const uint32_t n_in = b.node->n_in, n_out = b.node->n_out;
    hg_value_id *in;
    HG_TRY(HG_NEW(g->ctx, n_in + 1, &in));
    for (uint32_t i = 0; i < n_in; i++) {
        const hg_value_id v = hg_build_in(&b, i);
        in[i] = widen_is_half(g, v) ? widen_value(&b, v, first) : v;
        HG_TRY(b.status);
    }
    const hg_node_id made = hg_build_clone(&b, in, n_in);
    HG_TRY(b.status);
    for (uint32_t j = 0; j < n_out; j++) {
        const hg_value_id old = hg_graph_node(g, id)->out[j];
        if (old == 0) continue;
        const hg_value_id wide = hg_graph_node(g, made)->out[j];
        const hg_value_id made_of =
            widen_is_half(g, old) ? hg_build_cast(&b, wide, hg_graph_value(g, old)->type.dtype)
                                  : wide;
        hg_build_replace(&b, j, made_of);
        HG_TRY(b.status);
    }
    hg_graph_remove_node(g, id);
    return HOLO_OK;
}

/* A Cast to float32 of what such a Cast rounded. */
static bool widen_is_return(const hg_graph *g, hg_node_id id, hg_node_id first)
{
    const hg_node *n = hg_graph_node(g, id);
    return hg_op_is(n, "Cast") && widen_source(g, hg_node_in(g, n, 0), first) != 0 &&
           hg_graph_value(g, n->out[0])->type.dtype == HOLO_F32;
}

static holo_status widen_return(hg_graph *g, hg_node_id id, hg_node_id first)
{
    hg_build b;
    hg_build_init(&b, g, id);
    hg_build_replace(&b, 0, widen_source(g, hg_build_in(&b, 0), first));
    if (b.status == HOLO_OK) hg_graph_remove_node(g, id);
    return b.status;
}

static holo_status widen_run(hg_graph *g, bool *changed)
{
    if (g->ctx->numerics == HOLO_EXACT || (g->ctx->flags & HOLO_COMPILE_KEEP_VALUES) != 0)
        return HOLO_OK;
    const hg_node_id first = (hg_node_id)g->n_node;
    for (hg_node_id id = hg_graph_region(g, HG_REGION_MAIN)->first; id != 0;) {
        const hg_node_id next = hg_graph_node(g, id)->next;
        const bool is_return = widen_is_return(g, id, first);
        if (is_return || (id < first && widen_wants(g, id, first))) {
            HG_TRY(is_return ? widen_return(g, id, first) : widen_node(g, id, first));
            *changed = true;
        }
        id = next;
    }
    return HOLO_OK;
}

const hg_pass hg_pass_widen_half = {
    .name = "widen_half",
    .brief = "16-bit floats around convolutions, products, pools and sums are computed in float32",
    .run = widen_run,
};
