/* op_content.c - lane code on dimension expressions: how Shape -> Mul -> Add -> Concat chains
 * become symbolic sizes instead of run-time work. */
#include "op/op_content.h"

static bool content_is_bit(const hg_dims *d, hg_dim a)
{
    return a != 0 && d->info[a].low >= 0 && d->info[a].high <= 1;
}

/* Logic on numbers that are 0 or 1. */
static hg_dim content_logic(hg_dims *d, uint32_t op, hg_dim a, hg_dim b)
{
    if (!content_is_bit(d, a) || !content_is_bit(d, b)) return 0;
    if (op == HG_LANE_AND) return hg_dim_mul(d, a, b);
    if (op == HG_LANE_OR) return hg_dim_max(d, a, b);
    return hg_dim_sub(d, hg_dim_const(d, 1), hg_dim_eq(d, a, b));
}

/* One operation; 0 when expressions have no counterpart. */
static hg_dim content_op(hg_dims *d, const hg_lane_op *op, hg_dim a, hg_dim b, hg_dim c)
{
    hg_dim zero = hg_dim_const(d, 0), one = hg_dim_const(d, 1);
    switch (op->op) {
    case HG_LANE_ADD: return hg_dim_add(d, a, b);
    case HG_LANE_SUB: return hg_dim_sub(d, a, b);
    case HG_LANE_MUL: return hg_dim_mul(d, a, b);
    case HG_LANE_DIV: return hg_dim_truncdiv(d, a, b);
    case HG_LANE_MOD: return hg_dim_mod(d, a, b);
    case HG_LANE_MIN: return hg_dim_min(d, a, b);
    case HG_LANE_MAX: return hg_dim_max(d, a, b);
    case HG_LANE_NEG: return hg_dim_sub(d, zero, a);
    case HG_LANE_ABS: return hg_dim_max(d, a, hg_dim_sub(d, zero, a));
    case HG_LANE_EQ: return hg_dim_eq(d, a, b);
    case HG_LANE_LT: return hg_dim_lt(d, a, b);
    case HG_LANE_LE: return hg_dim_sub(d, one, hg_dim_lt(d, b, a));
    case HG_LANE_AND:
    case HG_LANE_OR:
    case HG_LANE_XOR: return content_logic(d, op->op, a, b);
    case HG_LANE_SELECT: return hg_dim_select(d, a, b, c);
    default: return 0;
    }
}

static bool content_is_int(uint32_t type)
{
    return type == HG_LANE_I32 || type == HG_LANE_I64 || type == HG_LANE_U64;
}

/* The number does not wrap in this type, as far as one can tell: a size that does not fit 32 bits
 * would be wrong in the model itself, but a number that is known, or may be negative, or has fewer
 * bits, can be meant to. */
static bool content_fits(const hg_dims *d, holo_dtype dtype, hg_dim a)
{
    int64_t value;
    const bool is_unsigned = hg_dtype_is_unsigned_int(dtype);
    const uint32_t bits = hg_dtype_bits(dtype);
    if (dtype == HOLO_BOOL) return content_is_bit(d, a);
    if (is_unsigned && !hg_dim_is_nonnegative(d, a)) return false;
    if (bits == 64) return true;
    if (!hg_dim_is_const(d, a, &value)) return bits == 32;
    const int64_t end = INT64_C(1) << (is_unsigned ? bits : bits - 1);
    return value < end && (is_unsigned || value >= -end);
}

static bool content_fits_lane(const hg_dims *d, uint32_t type, hg_dim a)
{
    return content_fits(d,
                        type == HG_LANE_U64   ? HOLO_U64
                        : type == HG_LANE_I32 ? HOLO_I32
                                              : HOLO_I64,
                        a);
}

/* Conversions between integers keep the number. */
static hg_dim content_convert(const hg_dims *d, const hg_lane_op *op, hg_dim a)
{
    const holo_dtype dtype = (holo_dtype)op->index;
    if (op->op == HG_LANE_CAST)
        return content_is_int(op->index) && content_fits_lane(d, op->index, a) ? a : 0;
    return hg_dtype_in(dtype, HG_TYPES_INT | HG_TYPES_BOOL) && content_fits(d, dtype, a) ? a : 0;
}

/* A known number; no operand is one, too. */
static bool content_is_number(const hg_dims *d, hg_dim a)
{
    int64_t value;
    return a == 0 || hg_dim_is_const(d, a, &value);
}

static hg_dim content_element(hg_dims *d, const hg_lane_code *code, const hg_dim *in, hg_dim *reg)
{
    for (uint32_t i = 0; i < code->n_op; i++) {
        const hg_lane_op *op = &code->op[i];
        if (!content_is_int(op->type)) return 0;
        hg_dim a = reg[op->a], b = reg[op->b], c = reg[op->c], result;
        if (op->op == HG_LANE_LOAD)
            result = in[op->index];
        else if (op->op == HG_LANE_CONST)
            result = hg_dim_const(d, op->type == HG_LANE_I32 ? (int64_t)(int32_t)op->imm
                                                             : (int64_t)op->imm);
        else if (op->op == HG_LANE_CAST || op->op == HG_LANE_NARROW)
            result = content_convert(d, op, a);
        else
            result = content_op(d, op, a, b, c);
        if (result == 0 || !content_fits_lane(d, op->type, result)) return 0;
        if (hg_lane_operands(op->op) > 0 && content_is_number(d, a) && content_is_number(d, b) &&
            content_is_number(d, c) && !content_is_number(d, result))
            return 0; /* overflows or divides by zero: the kernel wraps, or says so */
        reg[op->dst] = result;
    }
    return reg[code->out[0].reg];
}

/* Which element of input i meets element k of an output with `count` elements; only scalars and
 * equal counts are followed. */
static bool content_gather(hg_graph *g, const hg_node *n, uint32_t k, uint32_t count, hg_dim *in)
{
    for (uint32_t i = 0; i < n->n_in; i++) {
        hg_value_id id = hg_node_in(g, n, i);
        if (id == 0) continue;
        const hg_value *v = hg_graph_value(g, id);
        if (v->n_content != count && v->n_content != 1) return false;
        in[i] = v->content[v->n_content == 1 ? 0 : k];
    }
    return true;
}

static bool content_inputs_known(hg_graph *g, const hg_node *n)
{
    const hg_dim *content;
    uint32_t count;
    for (uint32_t i = 0; i < n->n_in; i++) {
        hg_value_id id = hg_node_in(g, n, i);
        if (id != 0 && !hg_value_content(g, id, &content, &count)) return false;
    }
    return n->n_in > 0;
}

holo_status hg_op_lane_content(hg_graph *g, hg_node_id id)
{
    const hg_node *n = hg_graph_node(g, id);
    if (n->n_out != 1 || n->out[0] == 0) return HOLO_OK;
    const hg_type *type = &hg_graph_value(g, n->out[0])->type;
    int64_t count;
    if (!hg_dtype_in(type->dtype, HG_TYPES_INT | HG_TYPES_BOOL) || type->rank > 2) return HOLO_OK;
    if (!hg_dim_is_const(&g->dims, hg_type_count(g, type), &count) || count > 64) return HOLO_OK;
    if (!content_inputs_known(g, n)) return HOLO_OK;
    hg_lane_code code;
    hg_dim *content, *reg, *in;
    HG_TRY(hg_op_code(g, id, &code));
    HG_TRY(HG_NEW(g->ctx, (size_t)count + 1, &content));
    HG_TRY(HG_NEW(g->ctx, HG_LANE_MAX_REG, &reg));
    HG_TRY(HG_NEW(g->ctx, n->n_in, &in));
    for (uint32_t k = 0; k < (uint32_t)count; k++) {
        if (!content_gather(g, n, k, (uint32_t)count, in)) return HOLO_OK;
        content[k] = content_element(&g->dims, &code, in, reg);
        /* The element that is stored may be narrower than what lanes compute with. */
        if (content[k] == 0 || !content_fits(&g->dims, type->dtype, content[k])) return HOLO_OK;
    }
    hg_graph_value(g, n->out[0])->content = content;
    hg_graph_value(g, n->out[0])->n_content = (uint32_t)count;
    return HOLO_OK;
}
