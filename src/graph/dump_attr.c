/* dump_attr.c - dimensions, types, constants, attributes and lane code as text. */
#include "graph/elem.h"
#include "graph/text.h"

#include <inttypes.h>
#include <math.h>

enum { DUMP_LONGEST = 1 << 16 };

void hg_dump_dim(hg_text *t, const hg_graph *g, hg_arena *scratch, hg_dim dim)
{
    char small[256], *text = small;
    for (size_t size = sizeof small;; size *= 4) {
        hg_dim_print(&g->dims, dim, text, size);
        if (strlen(text) + 1 < size) break;
        text = size * 4 <= DUMP_LONGEST ? hg_arena_alloc(scratch, size * 4) : NULL;
        if (text == NULL) {
            hg_text_add(t, "?"); /* too long for a person; reads back as unknown */
            return;
        }
    }
    hg_text_add(t, text);
}

static void dump_dims(hg_text *t, const hg_graph *g, hg_arena *scratch, const hg_dim *dims,
                      size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (i != 0) hg_text_add(t, ",");
        hg_dump_dim(t, g, scratch, dims[i]);
    }
}

void hg_dump_type(hg_text *t, const hg_graph *g, hg_arena *scratch, const hg_type *type)
{
    const hg_type *level[HG_TEXT_DEPTH];
    uint32_t n = 0;
    bool is_container = true;
    while (is_container && n < HG_TEXT_DEPTH) {
        level[n++] = type;
        is_container =
            type->dtype == HOLO_SEQUENCE || type->dtype == HOLO_OPTIONAL || type->dtype == HOLO_MAP;
        bool is_unknown = type->dtype == HOLO_NONE && type->rank < 0;
        hg_text_add(t, is_unknown ? "?" : holo_dtype_text(type->dtype));
        if (is_container) hg_text_add(t, "(");
        if (type->dtype == HOLO_MAP) hg_text_format(t, "%s,", holo_dtype_text(type->key));
        if (type->item == NULL) break;
        type = type->item;
    }
    while (n-- > 0) {
        type = level[n];
        if (type->dtype == HOLO_SEQUENCE || type->dtype == HOLO_OPTIONAL || type->dtype == HOLO_MAP)
            hg_text_add(t, ")");
        if (type->rank < 0) continue;
        hg_text_add(t, "[");
        dump_dims(t, g, scratch, type->dim, (size_t)type->rank);
        hg_text_add(t, "]");
    }
}

/* ---- constants ----------------------------------------------------------------- */

/* Number of elements that can be printed, -1 when the constant is not what its type says. */
static int64_t dump_count(const hg_graph *g, const hg_value *v)
{
    int64_t count = 1, dim;
    size_t bytes;
    if (v->type.rank < 0 || hg_dtype_bits(v->type.dtype) == 0) return -1;
    for (int32_t i = 0; i < v->type.rank; i++)
        if (!hg_dim_is_const(&g->dims, v->type.dim[i], &dim) || dim < 0 ||
            !hg_mul_i64(count, dim, &count))
            return -1;
    if (!hg_dtype_bytes(v->type.dtype, count, &bytes) || bytes != v->constant->bytes) return -1;
    return count;
}

static void dump_element(hg_text *t, holo_dtype dtype, const void *data, int64_t i)
{
    uint8_t copy[8] = {0};
    hg_elem e = hg_elem_read(dtype, data, i);
    uint64_t bits = hg_elem_read_bits(dtype, data, i);
    if (isnan(e.f)) e.f = (double)NAN; /* the only one that is spelled */
    if (!hg_elem_write(dtype, copy, 0, e) || hg_elem_read_bits(dtype, copy, 0) != bits) {
        hg_text_format(t, "0x%" PRIx64, bits);
        return;
    }
    switch (e.kind) {
    case HG_ELEM_NONE: break;
    case HG_ELEM_INT: hg_text_format(t, "%" PRId64, e.i); break;
    case HG_ELEM_UINT:
        if (dtype == HOLO_BOOL)
            hg_text_add(t, e.u != 0 ? "true" : "false");
        else
            hg_text_format(t, "%" PRIu64, e.u);
        break;
    case HG_ELEM_FLOAT: hg_text_float(t, e.f, dtype != HOLO_F64); break;
    }
}

static void dump_elements(hg_text *t, const hg_value *v, int64_t count)
{
    holo_dtype dtype = v->type.dtype;
    const holo_string *strings = v->constant->data;
    if (dtype == HOLO_C64 || dtype == HOLO_C128) {
        dtype = dtype == HOLO_C64 ? HOLO_F32 : HOLO_F64;
        count *= 2;
    }
    hg_text_add(t, " {");
    for (int64_t i = 0; i < count; i++) {
        if (i != 0) hg_text_add(t, ", ");
        if (dtype == HOLO_STRING)
            hg_text_quote(t, (hg_str){strings[i].text, (size_t)strings[i].length});
        else
            dump_element(t, dtype, v->constant->data, i);
    }
    hg_text_add(t, "}");
}

void hg_dump_const(hg_text *t, const hg_graph *g, hg_arena *scratch, hg_value_id value)
{
    const hg_value *v = hg_graph_value(g, value);
    hg_text_add(t, "const ");
    hg_dump_type(t, g, scratch, &v->type);
    int64_t count = v->constant != NULL ? dump_count(g, v) : -1;
    if (count >= 0 && (count <= HG_TEXT_ELEMENTS || t->is_whole))
        dump_elements(t, v, count);
    else /* the hash is kept in the constant: a graph that is only printed stays the same */
        hg_text_format(t, " #%016" PRIx64, hg_graph_const_hash((hg_graph *)g, value));
}

/* ---- lane code ----------------------------------------------------------------- */

static void dump_code_const(hg_text *t, const hg_lane_op *op)
{
    static const holo_dtype dtypes[] = {
        [HG_LANE_F32] = HOLO_F32, [HG_LANE_F64] = HOLO_F64, [HG_LANE_I32] = HOLO_I32,
        [HG_LANE_I64] = HOLO_I64, [HG_LANE_U64] = HOLO_U64,
    };
    uint8_t data[8];
    holo_dtype dtype = op->type < HG_COUNT(dtypes) ? dtypes[op->type] : HOLO_U64;
    for (size_t i = 0; i < 8; i++)
        data[i] = (uint8_t)(op->imm >> (8 * i));
    dump_element(t, dtype == HOLO_NONE ? HOLO_U64 : dtype, data, 0);
}

static const char *dump_lane_type(uint32_t type)
{
    const char *text = hg_text_lane_type(type);
    return text != NULL ? text : "?";
}

static void dump_code_op(hg_text *t, const hg_lane_op *op)
{
    const uint32_t reg[3] = {op->a, op->b, op->c};
    int operands = hg_lane_operands(op->op);
    hg_text_format(t, "r%u = %s %s", (uint32_t)op->dst, hg_lane_op_text(op->op),
                   dump_lane_type(op->type));
    if (op->op == HG_LANE_LOAD) hg_text_format(t, " %u", op->index);
    if (op->op == HG_LANE_CAST) hg_text_format(t, " %s", dump_lane_type(op->index));
    if (op->op == HG_LANE_NARROW) hg_text_format(t, " %s", holo_dtype_text((holo_dtype)op->index));
    if (op->op == HG_LANE_CONST) {
        hg_text_add(t, " ");
        dump_code_const(t, op);
    }
    for (int i = 0; i < operands && i < 3; i++)
        hg_text_format(t, " r%u", reg[i]);
    if (op->op == HG_LANE_NARROW && op->imm != 0) hg_text_add(t, " sat");
    hg_text_add(t, "; ");
}

/* Operands and registers are counted from the code; only a number that differs is printed. */
static void dump_code(hg_text *t, const hg_lane_code *code)
{
    uint32_t n_in = 0, n_reg = 0;
    for (uint32_t i = 0; i < code->n_op; i++) {
        const hg_lane_op *op = &code->op[i];
        if (op->op == HG_LANE_LOAD && op->index >= n_in) n_in = op->index + 1;
        if (op->dst >= n_reg) n_reg = op->dst + 1u;
    }
    hg_text_add(t, "{");
    if (n_in != code->n_in) hg_text_format(t, "in %u; ", code->n_in);
    if (n_reg != code->n_reg) hg_text_format(t, "reg %u; ", code->n_reg);
    for (uint32_t i = 0; i < code->n_op; i++)
        dump_code_op(t, &code->op[i]);
    for (uint32_t i = 0; i < code->n_out; i++) {
        const hg_lane_out *out = &code->out[i];
        hg_text_format(t, "%sout r%u %s%s", i != 0 ? "; " : "", (uint32_t)out->reg,
                       dump_lane_type(out->type), out->saturate != 0 ? " sat" : "");
    }
    hg_text_add(t, "}");
}

/* ---- attributes ---------------------------------------------------------------- */

static void dump_list(hg_text *t, const hg_attr *a)
{
    const char *empty = a->kind == HG_ATTR_INTS     ? "ints["
                        : a->kind == HG_ATTR_FLOATS ? "floats["
                                                    : "strings[";
    hg_text_add(t, a->count == 0 ? empty : "[");
    for (size_t i = 0; i < a->count; i++) {
        if (i != 0) hg_text_add(t, ",");
        if (a->kind == HG_ATTR_INTS)
            hg_text_format(t, "%" PRId64, a->ints[i]);
        else if (a->kind == HG_ATTR_FLOATS)
            hg_text_float(t, (double)a->floats[i], true);
        else
            hg_text_quote(t, a->strings[i]);
    }
    hg_text_add(t, "]");
}

static void dump_attr(hg_text *t, const hg_graph *g, hg_arena *scratch, const hg_attr *a)
{
    switch (a->kind) {
    case HG_ATTR_INT: hg_text_format(t, "%" PRId64, a->i); break;
    case HG_ATTR_FLOAT: hg_text_float(t, (double)a->f, true); break;
    case HG_ATTR_STRING: hg_text_quote(t, a->s); break;
    case HG_ATTR_INTS:
    case HG_ATTR_FLOATS:
    case HG_ATTR_STRINGS: dump_list(t, a); break;
    case HG_ATTR_TENSOR: hg_dump_const(t, g, scratch, a->tensor); break;
    case HG_ATTR_DIMS:
        hg_text_add(t, "dims[");
        dump_dims(t, g, scratch, a->dims, a->count);
        hg_text_add(t, "]");
        break;
    case HG_ATTR_CODE: dump_code(t, a->code); break;
    case HG_ATTR_TYPE:
        hg_text_add(t, "type ");
        hg_dump_type(t, g, scratch, a->type);
        break;
    }
}

void hg_dump_attrs(hg_text *t, const hg_graph *g, hg_arena *scratch, const hg_node *n)
{
    if (n->n_attr == 0) return;
    for (uint32_t i = 0; i < n->n_attr; i++) {
        hg_text_add(t, i == 0 ? " {" : ", ");
        if (hg_text_is_name(n->attr[i].name))
            hg_text_put(t, n->attr[i].name.text, n->attr[i].name.length);
        else
            hg_text_quote(t, n->attr[i].name);
        hg_text_add(t, "=");
        dump_attr(t, g, scratch, &n->attr[i]);
    }
    hg_text_add(t, "}");
}
