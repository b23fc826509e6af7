/* pb_nodes.c - visits the nodes of an ONNX model without importing it.
 *
 * A tool sometimes needs to know which operators a model has (a random one cannot be compared by
 * value) even if the compiler refuses it. Field numbers are those of onnx.proto. */
#include "io/pb.h"

#include "base/error.h"
#include "io/pb_wire.h"

enum { PB_NODES_MAX_DEPTH = 32 };

typedef struct pb_nodes {
    void (*visit)(void *user, const hg_pb_node *node);
    void *user;
    holo_error *error;
} pb_nodes;

static holo_string pb_nodes_text(const hg_pb_field *f)
{
    return (holo_string){(const char *)f->bytes.at, hg_pb_size(f->bytes)};
}

static holo_status pb_nodes_list(const pb_nodes *c, hg_pb_span list, uint32_t node_field,
                                 int depth);

/* AttributeProto: g is 6, graphs is 11. */
static holo_status pb_nodes_attribute(const pb_nodes *c, hg_pb_span attribute, int depth)
{
    hg_pb_field f;
    hg_pb_step step;
    while ((step = hg_pb_next(&attribute, &f)) == HG_PB_FIELD)
        if ((f.number == 6 || f.number == 11) && f.wire == HG_PB_BYTES)
            HG_TRY(pb_nodes_list(c, f.bytes, 1, depth + 1));
    if (step == HG_PB_BAD)
        return hg_fail(c->error, HOLO_E_MODEL, "the model has a malformed attribute");
    return HOLO_OK;
}

/* NodeProto: input 1, op_type 4, attribute 5, domain 7. */
static holo_status pb_nodes_node(const pb_nodes *c, hg_pb_span all, int depth)
{
    hg_pb_node node = {0};
    hg_pb_span rest = all;
    hg_pb_field f;
    hg_pb_step step;
    while ((step = hg_pb_next(&rest, &f)) == HG_PB_FIELD) {
        if (f.wire != HG_PB_BYTES) continue;
        if (f.number == 1 && node.n_input++ < HG_PB_MAX_NODE_INPUTS)
            node.input[node.n_input - 1] = pb_nodes_text(&f);
        if (f.number == 4) node.op = pb_nodes_text(&f);
        if (f.number == 7) node.domain = pb_nodes_text(&f);
    }
    if (step == HG_PB_BAD) return hg_fail(c->error, HOLO_E_MODEL, "the model has a malformed node");
    c->visit(c->user, &node);
    while (hg_pb_next(&all, &f) == HG_PB_FIELD)
        if (f.number == 5 && f.wire == HG_PB_BYTES) HG_TRY(pb_nodes_attribute(c, f.bytes, depth));
    return HOLO_OK;
}

/* GraphProto keeps its nodes in field 1, FunctionProto in field 7. */
static holo_status pb_nodes_list(const pb_nodes *c, hg_pb_span list, uint32_t node_field, int depth)
{
    hg_pb_field f;
    hg_pb_step step;
    if (depth > PB_NODES_MAX_DEPTH)
        return hg_fail(c->error, HOLO_E_LIMIT, "the model nests graphs more than %d deep",
                       PB_NODES_MAX_DEPTH);
    while ((step = hg_pb_next(&list, &f)) == HG_PB_FIELD)
        if (f.number == node_field && f.wire == HG_PB_BYTES)
            HG_TRY(pb_nodes_node(c, f.bytes, depth));
    if (step == HG_PB_BAD)
        return hg_fail(c->error, HOLO_E_MODEL, "the model has a malformed graph");
    return HOLO_OK;
}

holo_status hg_pb_visit_nodes(const void *data, size_t size,
                              void (*visit)(void *user, const hg_pb_node *node), void *user,
                              holo_error *error)
{
    pb_nodes c = {visit, user, error};
    static const uint8_t nothing[1];
    const uint8_t *start = data == NULL ? nothing : data;
    hg_pb_span model = {start, start + size};
    hg_pb_field f;
    hg_pb_step step;
    while ((step = hg_pb_next(&model, &f)) == HG_PB_FIELD) {
        if (f.wire != HG_PB_BYTES) continue;
        if (f.number == 7) HG_TRY(pb_nodes_list(&c, f.bytes, 1, 0));  /* graph */
        if (f.number == 25) HG_TRY(pb_nodes_list(&c, f.bytes, 7, 0)); /* functions */
    }
    if (step == HG_PB_BAD)
        return hg_fail(error, HOLO_E_MODEL, "the model is malformed or cut short");
    return HOLO_OK;
}
