/* model.c - writes ONNX models of one node. */
#include "oracle/oracle.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- protocol buffers --------------------------------------------------------------------------
 */

static void model_raw(ora_message *m, const void *bytes, size_t size)
{
    if (m->size + size > m->capacity) {
        const size_t capacity = 2 * (m->size + size) + 64;
        uint8_t *data = ora_alloc(capacity);
        if (m->size > 0) memcpy(data, m->data, m->size);
        m->data = data;
        m->capacity = capacity;
    }
    if (size > 0) memcpy(m->data + m->size, bytes, size);
    m->size += size;
}

static void model_varint(ora_message *m, uint64_t value)
{
    uint8_t bytes[10];
    size_t n = 0;
    for (; value >= 128; value >>= 7)
        bytes[n++] = (uint8_t)(value | 128);
    bytes[n++] = (uint8_t)value;
    model_raw(m, bytes, n);
}

void ora_put_int(ora_message *m, uint32_t field, int64_t value)
{
    model_varint(m, field << 3);
    model_varint(m, (uint64_t)value);
}

void ora_put_float(ora_message *m, uint32_t field, float value)
{
    model_varint(m, field << 3 | 5);
    model_raw(m, &value, sizeof value);
}

void ora_put_bytes(ora_message *m, uint32_t field, const void *bytes, size_t size)
{
    model_varint(m, field << 3 | 2);
    model_varint(m, size);
    model_raw(m, bytes, size);
}

void ora_put_text(ora_message *m, uint32_t field, const char *text)
{
    ora_put_bytes(m, field, text, strlen(text));
}

void ora_put(ora_message *m, uint32_t field, const ora_message *inner)
{
    ora_put_bytes(m, field, inner->data, inner->size);
}

/* ---- tensors and types -------------------------------------------------------------------------
 */

ora_message ora_tensor(const char *name, const ora *t)
{
    ora_message m = {0};
    for (int d = 0; d < t->rank; d++)
        ora_put_int(&m, 1, t->dim[d]);
    ora_put_int(&m, 2, t->type);
    if (t->type == HOLO_STRING) {
        for (int64_t k = 0; k < t->count; k++)
            ora_put_bytes(&m, 6, t->v[k].s.text, (size_t)t->v[k].s.length);
    } else {
        const size_t size = ora_bytes(t->type, t->count);
        void *bytes = ora_alloc(size);
        ora_pack(t, bytes);
        ora_put_bytes(&m, 9, bytes, size);
    }
    ora_put_text(&m, 8, name);
    return m;
}

static ora_message model_tensor_type(const ora *t, const char *symbol, bool shaped)
{
    ora_message type = {0}, shape = {0}, m = {0};
    ora_put_int(&type, 1, t->type);
    for (int d = 0; d < t->rank; d++) {
        ora_message dim = {0};
        char name[32];
        snprintf(name, sizeof name, "%s%d", symbol == NULL ? "" : symbol, d);
        if (symbol != NULL)
            ora_put_text(&dim, 2, name);
        else
            ora_put_int(&dim, 1, t->dim[d]);
        ora_put(&shape, 1, &dim);
    }
    if (shaped) ora_put(&type, 2, &shape);
    ora_put(&m, 1, &type);
    return m;
}

/* Items of a container have types without shapes. */
static ora_message model_type(const ora *t, const char *symbol, bool shaped)
{
    ora_message inner, holder = {0}, m = {0};
    if (t->type != HOLO_SEQUENCE && t->type != HOLO_OPTIONAL)
        return model_tensor_type(t, symbol, shaped);
    if (t->n_item > 0) {
        /* A sized container states the rank of its items, by symbols. */
        inner = model_type(t->item[0], t->sized ? "item" : NULL, t->sized);
    } else {
        const ora elem = {.type = t->elem};
        const ora sequence = {.type = HOLO_SEQUENCE, .elem = t->elem};
        inner = model_type(t->middle == HOLO_SEQUENCE ? &sequence : &elem, NULL, false);
    }
    ora_put(&holder, 1, &inner);
    ora_put(&m, t->type == HOLO_SEQUENCE ? 4 : 9, &holder);
    return m;
}

ora_message ora_type(const ora *t, const char *symbol)
{
    return model_type(t, symbol, true);
}

ora_message ora_value_info(const char *name, const ora *t, const char *symbol)
{
    ora_message m = {0};
    const ora_message type = ora_type(t, symbol);
    ora_put_text(&m, 1, name);
    ora_put(&m, 2, &type);
    return m;
}

/* ---- nodes -------------------------------------------------------------------------------------
 */

enum {
    ATTR_FLOAT = 1,
    ATTR_INT = 2,
    ATTR_STRING = 3,
    ATTR_FLOATS = 6,
    ATTR_INTS = 7,
    ATTR_STRINGS = 8
};

/* A value of an attribute as text, up to a space, ',' or ']' outside quotes. */
static const char *model_item(ora_message *m, const char *at, bool list, int *kind)
{
    char word[64];
    if (*at == '"') {
        const char *end = strchr(at + 1, '"');
        ora_put_bytes(m, list ? 9 : 4, at + 1, (size_t)(end - at - 1));
        *kind = list ? ATTR_STRINGS : ATTR_STRING;
        return end + 1;
    }
    const size_t length = strcspn(at, " ,]");
    snprintf(word, sizeof word, "%.*s", (int)length, at);
    if (strpbrk(word, ".enf") != NULL) {
        ora_put_float(m, list ? 7 : 2, strtof(word, NULL));
        *kind = list ? ATTR_FLOATS : ATTR_FLOAT;
    } else {
        ora_put_int(m, list ? 8 : 3, strtoll(word, NULL, 10));
        *kind = list ? ATTR_INTS : ATTR_INT;
    }
    return at + length;
}

static const char *model_attr(ora_message *node, const char *at)
{
    ora_message m = {0};
    const char *equal = strchr(at, '=');
    int kind = ATTR_INTS; /* of an empty list */
    ora_put_bytes(&m, 1, at, (size_t)(equal - at));
    at = equal + 1;
    if (*at == '[') {
        for (at++; *at != ']';) {
            if (*at == ' ' || *at == ',')
                at++;
            else
                at = model_item(&m, at, true, &kind);
        }
        at++;
    } else {
        at = model_item(&m, at, false, &kind);
    }
    ora_put_int(&m, 20, kind);
    ora_put(node, 5, &m);
    return at;
}

static void model_names(ora_message *node, uint32_t field, const char *names)
{
    while (*names != '\0') {
        const size_t length = strcspn(names, ",");
        ora_put_bytes(node, field, names, length);
        names += length + (names[length] == ',' ? 1 : 0);
    }
}

ora_message ora_node(const char *op, const char *in, const char *out, const char *attrs)
{
    ora_message m = {0};
    const char *colon = strchr(op, ':');
    model_names(&m, 1, in);
    model_names(&m, 2, out);
    ora_put_text(&m, 3, "n");
    ora_put_text(&m, 4, colon == NULL ? op : colon + 1);
    if (colon != NULL) ora_put_bytes(&m, 7, op, (size_t)(colon - op));
    while (attrs != NULL && *attrs != '\0')
        attrs = *attrs == ' ' ? attrs + 1 : model_attr(&m, attrs);
    return m;
}

static void model_attr_of(ora_message *node, const char *name, int kind, uint32_t field,
                          const ora_message *value)
{
    ora_message m = {0};
    ora_put_text(&m, 1, name);
    ora_put_int(&m, 20, kind);
    ora_put(&m, field, value);
    ora_put(node, 5, &m);
}

void ora_put_graph_attr(ora_message *node, const char *name, const ora_message *graph)
{
    model_attr_of(node, name, 5, 6, graph);
}

void ora_put_type_attr(ora_message *node, const char *name, const ora *type)
{
    const ora_message m = ora_type(type, NULL);
    model_attr_of(node, name, 13, 14, &m);
}

/* ---- models ------------------------------------------------------------------------------------
 */

bool ora_is_input(const ora *t, ora_mode mode)
{
    if (t->type >= HOLO_SEQUENCE || t->never_const) return true;
    if (mode == ORA_CONSTANTS) return false;
    return mode == ORA_LATE || !t->parameter;
}

/* Whether a mode makes a model that no mode before it makes. */
static bool model_differs(const ora_case *c, ora_mode mode)
{
    bool tensors = true, any = false, parameter = false, sized = false;
    for (size_t k = 0; k < c->n_in; k++) {
        const ora *t = c->in[k];
        if (t == NULL) continue;
        any = true;
        tensors &= t->type < HOLO_SEQUENCE && !t->never_const;
        parameter |= t->parameter;
        sized |= t->rank > 0 && !t->parameter && t->type < HOLO_SEQUENCE;
    }
    switch (mode) {
    case ORA_CONSTANTS: return tensors;
    case ORA_FIXED: return any || !tensors;
    case ORA_SYMBOLIC: return sized;
    case ORA_LATE: return parameter;
    case ORA_MODES: break;
    }
    return false;
}

static void model_slots(const ora_case *c, ora_mode mode, ora_message *graph, char *names,
                        size_t size)
{
    size_t used = 0;
    for (size_t k = 0; k < c->n_in; k++) {
        char name[24], symbol[24];
        snprintf(name, sizeof name, "x%zu", k);
        snprintf(symbol, sizeof symbol, "s%zu_", k);
        if (k < c->n_in - c->n_outer)
            used += (size_t)snprintf(names + used, size - used, "%s%s", k ? "," : "",
                                     c->in[k] == NULL ? "" : name);
        if (c->in[k] == NULL) continue;
        if (ora_is_input(c->in[k], mode)) {
            const bool symbolic = mode == ORA_SYMBOLIC && !c->in[k]->sized;
            const ora_message m = ora_value_info(name, c->in[k], symbolic ? symbol : NULL);
            ora_put(graph, ORA_GRAPH_IN, &m);
        } else {
            const ora_message m = ora_tensor(name, c->in[k]);
            ora_put(graph, ORA_GRAPH_INIT, &m);
        }
    }
}

static ora_message model_graph(const ora_case *c, ora_mode mode)
{
    ora_message graph = {0};
    char in[160] = "", out[80] = "";
    size_t used = 0;
    model_slots(c, mode, &graph, in, sizeof in);
    for (size_t k = 0; k < c->n_out; k++)
        used += (size_t)snprintf(out + used, sizeof out - used, c->out[k] == NULL ? "%s" : "%sy%zu",
                                 k ? "," : "", k);
    ora_message node = ora_node(c->op, in, out, c->attrs);
    model_raw(&node, c->more.data, c->more.size);
    if (c->tensor != NULL) {
        const ora_message tensor = ora_tensor("t", c->tensor);
        model_attr_of(&node, c->tensor_name, 4, 5, &tensor);
    }
    ora_put(&graph, ORA_GRAPH_NODE, &node);
    ora_put_text(&graph, ORA_GRAPH_NAME, "g");
    for (size_t k = 0; k < c->n_out; k++) {
        char name[24];
        if (c->out[k] == NULL) continue;
        snprintf(name, sizeof name, "y%zu", k);
        ora_message m = {0};
        const ora_message type = model_type(c->out[k], NULL, false);
        ora_put_text(&m, 1, name);
        ora_put(&m, 2, &type);
        ora_put(&graph, ORA_GRAPH_OUT, &m);
    }
    return graph;
}

enum { MODEL_NEWEST = 28 }; /* operator set */

static void model_opset(ora_message *model, const char *domain, size_t length, int version)
{
    ora_message m = {0};
    ora_put_bytes(&m, 1, domain, length);
    ora_put_int(&m, 2, version);
    ora_put(model, 8, &m);
}

bool ora_model(const ora_case *c, ora_mode mode, ora_message *out)
{
    if (c->skip >> mode & 1 || !model_differs(c, mode)) return false;
    const ora_message graph = model_graph(c, mode);
    ora_message m = {0};
    const char *colon = strchr(c->op, ':');
    ora_put_int(&m, 1, 10);
    ora_put(&m, 7, &graph);
    model_opset(&m, "", 0, colon != NULL || c->opset == 0 ? MODEL_NEWEST : c->opset);
    if (colon != NULL && c->opset != 0) model_opset(&m, c->op, (size_t)(colon - c->op), c->opset);
    *out = m;
    return true;
}
