/* op_scatter.c - what ScatterElements and ScatterND share. */
#include "op/op_scatter.h"

/* 0 stands for "none". */
static bool scatter_opcode(hg_str reduction, hg_lane_opcode *op)
{
    static const struct {
        const char *name;
        hg_lane_opcode op;
    } known[] = {
        {"none", (hg_lane_opcode)0}, {"add", HG_LANE_ADD}, {"mul", HG_LANE_MUL},
        {"min", HG_LANE_MIN},        {"max", HG_LANE_MAX},
    };
    for (size_t i = 0; i < HG_COUNT(known); i++) {
        if (!hg_str_is(reduction, known[i].name)) continue;
        *op = known[i].op;
        return true;
    }
    return false;
}

holo_status hg_scatter_infer(hg_infer *n)
{
    hg_str reduction;
    hg_lane_opcode op;
    HG_TRY(hg_infer_types(n, 1, HG_TYPE_BIT(HOLO_I32) | HG_TYPE_BIT(HOLO_I64)));
    HG_TRY(hg_infer_same_type(n, 0, 2));
    HG_TRY(hg_infer_rank(n, 0, 1, HG_MAX_RANK));
    HG_TRY(hg_attr_string(n, "reduction", "none", &reduction));
    if (!scatter_opcode(reduction, &op))
        return hg_infer_fail(n, HOLO_E_MODEL,
                             "reduction is \"%.*s\", expected none, add, mul, min or max",
                             HG_STR_ARG(reduction));
    if (op != 0) HG_TRY(hg_infer_types(n, 0, HG_TYPES_NUMBER | HG_TYPES_BOOL));
    return hg_infer_same_as_input(n);
}

holo_status hg_scatter_code(hg_emit *e)
{
    hg_lane_opcode op;
    if (!scatter_opcode(hg_node_string(e->node, "reduction", "none"), &op) || op == 0)
        return HOLO_OK;
    hg_lane_type type = hg_lane_type_of(hg_emit_type(e, 0)->dtype);
    hg_lane *b = hg_lane_new(&e->ctx->arena);
    hg_lane_code *code;
    HG_TRY(HG_NEW(e->ctx, 1, &code));
    if (b == NULL) return hg_fail_nomem(e->ctx->error, sizeof *code);
    hg_lane_id result = hg_lane_2(b, op, hg_lane_load(b, 0, type), hg_lane_load(b, 1, type));
    const hg_lane_out kind = {.type = (uint8_t)type};
    HG_TRY(hg_lane_finish(b, 2, &result, &kind, 1, code, e->ctx->error));
    e->code = code;
    return HOLO_OK;
}
