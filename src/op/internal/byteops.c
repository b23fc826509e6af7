/* byteops.c - holo:ByteOps: a short program of byte operations for each code.
 *
 *   in            codes of 8 bits; the program, a constant (isa/byteops.h)
 *   to            type of the result, of 8 bits
 *   base, entries codes base to base + entries - 1 may come; all when left out */
#include "op/op.h"

#include "kernel/byteops.h"

static holo_status byteops_infer(hg_infer *n)
{
    int64_t base, entries, to;
    hg_byteops program;
    HG_TRY(hg_infer_types(n, 1, HG_TYPE_BIT(HOLO_U8)));
    HG_TRY(hg_infer_rank(n, 1, 1, 1));
    HG_TRY(hg_attr_int(n, "base", 0, &base));
    HG_TRY(hg_attr_int(n, "entries", 256 - base, &entries));
    HG_TRY(hg_attr_int(n, "to", n->in[0]->dtype, &to));
    const hg_value *v = hg_graph_value(n->g, hg_node_in(n->g, n->node, 1));
    if (v->constant == NULL || !hg_byteops_read(v->constant->data, v->constant->bytes, &program))
        return hg_infer_fail(n, HOLO_E_MODEL, "input 1 is no program of byte operations");
    if (base < 0 || entries < 1 || base > 255 || entries > 256 - base)
        return hg_infer_fail(n, HOLO_E_MODEL, "codes %lld to %lld, expected some of 0 to 255",
                             (long long)base, (long long)(base + entries - 1));
    if (to < 0 || to > 63 || (HG_TABLE_CODES_8 >> to & 1) == 0)
        return hg_infer_fail(n, HOLO_E_MODEL, "attribute 'to' is %lld, expected a type of 8 bits",
                             (long long)to);
    n->out[0] = *n->in[0];
    n->out[0].dtype = (holo_dtype)to;
    return HOLO_OK;
}

static holo_status byteops_emit(hg_emit *e)
{
    const int64_t base = hg_node_int(e->node, "base", 0);
    HG_TRY(hg_emit_int(e, base));
    return hg_emit_int(e, hg_node_int(e->node, "entries", 256 - base));
}

const hg_op hg_op_internal_byteops = {
    .name = "ByteOps",
    .domain = "holo",
    .brief = "a short program of byte operations for each code",
    .since = 1,
    .in = {2, 2},
    .out = {1, 1},
    .types = HG_TABLE_CODES_8,
    .flags = HG_OP_INTERNAL,
    .infer = byteops_infer,
    .kernel = "byteops",
    .emit = byteops_emit,
};
