/* fuse_epilogue.c - a point-wise body that reads the result of a matrix product or convolution
 * becomes its epilogue: it runs on each tile while that is in cache, and the result is stored once.
 */
#include "pass/lane_body.h"
#include "pass/pass.h"

/* Operators whose kernels take an epilogue, and how many inputs are their own. */
static const struct {
    const char *name;
    uint32_t own;
    holo_dtype result; /* of the kernel itself */
} epilogue_ops[] = {
    {"holo:MatMulP16", 2, HOLO_F32},
    {"holo:ConvNhwc", 2, HOLO_F32},
    {"holo:ConvDw", 2, HOLO_F32},
    {"holo:MatMul", 2, HOLO_F32},
    {"MatMul", 2, HOLO_F32},
    {"holo:MatMulP16I8", 4, HOLO_I32},
    {"holo:ConvNhwcI8", 4, HOLO_I32},
    {"holo:ConvDwI8", 4, HOLO_I32},
    {"holo:MatMulP16I16", 4, HOLO_I32},
};

static int epilogue_find(const hg_graph *g, hg_node_id id)
{
    if (id == 0) return -1;
    for (size_t i = 0; i < HG_COUNT(epilogue_ops); i++) {
        const hg_node *n = hg_graph_node(g, id);
        if (hg_op_is(n, epilogue_ops[i].name) && hg_node_attr(n, "code") == NULL &&
            n->n_in == epilogue_ops[i].own)
            return (int)i;
    }
    return -1;
}

bool hg_epilogue_takes(const hg_graph *g, hg_node_id id)
{
    return epilogue_find(g, id) >= 0;
}

/* Columns of every operand collapse to one stride when the last dim is whole or 1: always so. Ranks
 * above the result's would change its shape. */
static bool epilogue_fits(const hg_graph *g, const hg_node *n, hg_value_id result, holo_dtype dtype)
{
    const hg_type *to = &hg_graph_value(g, result)->type,
                  *out = &hg_graph_value(g, n->out[0])->type;
    if (to->rank != out->rank || to->dtype != dtype) return false;
    for (int32_t k = 0; k < to->rank; k++)
        if (to->dim[k] != out->dim[k]) return false;
    return hg_graph_only_user(g, result) == hg_graph_value(g, n->out[0])->node &&
           hg_dtype_bits(out->dtype) >= 8;
}

/* The producer that takes the body: of those that can, the one computed last. It moves to where the
 * body is; nothing in between reads its result, since the body alone does. */
static hg_node_id epilogue_producer(const hg_graph *g, const hg_node *n, const uint32_t *position)
{
    hg_node_id last = 0;
    for (uint32_t i = 0; i < n->n_in; i++) {
        const hg_value_id v = hg_node_in(g, n, i);
        const hg_node_id p = v == 0 ? 0 : hg_graph_value(g, v)->node;
        const int op = epilogue_find(g, p);
        if (op >= 0 && (last == 0 || position[p] > position[last]) &&
            epilogue_fits(g, n, hg_graph_node(g, p)->out[0], epilogue_ops[op].result))
            last = p;
    }
    return last;
}

static holo_status epilogue_fuse(hg_graph *g, hg_node_id producer, hg_node_id id)
{
    hg_lane_body body, led;
    hg_value_id result = hg_graph_node(g, producer)->out[0];
    HG_TRY(hg_lane_body_read(g, id, &body));
    HG_TRY(hg_lane_body_lead(g, &body, result, &led));
    hg_build b;
    hg_build_init(&b, g, id);
    const hg_node *p = hg_graph_node(g, producer);
    uint32_t own = p->n_in, n_attr = p->n_attr;
    hg_value_id *in;
    hg_attr *attr;
    hg_lane_code *code;
    HG_TRY(HG_NEW(g->ctx, own + led.n_in, &in));
    HG_TRY(HG_NEW(g->ctx, n_attr + 2, &attr));
    HG_TRY(HG_NEW(g->ctx, 1, &code));
    *code = led.code;
    for (uint32_t i = 0; i < own; i++)
        in[i] = hg_node_in(g, p, i);
    for (uint32_t i = 1; i < led.n_in; i++)
        in[own + i - 1] = led.in[i];
    for (uint32_t i = 0; i < n_attr; i++)
        attr[i] = p->attr[i];
    int64_t dtype = (int64_t)led.dtype;
    attr[n_attr] = hg_attr_make_code("code", code);
    attr[n_attr + 1] = hg_attr_make_ints(&b, "types", &dtype, 1);
    const char *name = epilogue_ops[epilogue_find(g, producer)].name;
    if (strcmp(name, "MatMul") == 0) name = "holo:MatMul";
    hg_node_id made = hg_build_node(&b, name, in, own + led.n_in - 1, attr, n_attr + 2, 1);
    return hg_build_fused(&b, made, producer);
}

static holo_status epilogue_run(hg_graph *g, bool *changed)
{
    if ((g->ctx->flags & HOLO_COMPILE_KEEP_VALUES) != 0) return HOLO_OK;
    uint32_t *position, at = 0;
    HG_TRY(HG_NEW(g->ctx, g->n_node * 2 + 1, &position)); /* each fusion adds one node */
    for (hg_node_id id = hg_graph_region(g, HG_REGION_MAIN)->first; id != 0;) {
        hg_node_id next = hg_graph_node(g, id)->next;
        position[id] = ++at;
        const hg_node *n = hg_graph_node(g, id);
        if (hg_lane_body_is(g, id)) {
            const hg_node_id producer = epilogue_producer(g, n, position);
            if (producer != 0) {
                HG_TRY(epilogue_fuse(g, producer, id));
                hg_node_id made = next == 0 ? hg_graph_region(g, HG_REGION_MAIN)->last
                                            : hg_graph_node(g, next)->prev;
                position[made] = at;
                *changed = true;
            }
        }
        id = next;
    }
    return HOLO_OK;
}

const hg_pass hg_pass_fuse_epilogue = {
    .name = "fuse_epilogue",
    .brief = "point-wise work on a product or convolution runs on its tiles",
    .run = epilogue_run,
};
