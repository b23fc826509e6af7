/* range.c - which codes can come: intervals along the nodes that make a value.
 *
 * The nodes become a graph of their own, which is also the proof: what comes from elsewhere is an
 * input and may be anything of its type, a constant is its smallest and largest element. Rounding
 * is monotone, so the ends of an interval are computed as the elements are. Approximations of
 * functions are allowed to leave their range by a little. */
#include "base/half.h"
#include "isa/lane_io.h"
#include "table/table.h"

#include <math.h>

enum { RANGE_NODES = 64, RANGE_DEPTH = 16 };

typedef struct range_span {
    double low, high;
    bool nan; /* may be one */
} range_span;

static range_span range_of_lane(uint32_t type)
{
    switch ((hg_lane_type)type) {
    case HG_LANE_I32: return (range_span){INT32_MIN, INT32_MAX, false};
    case HG_LANE_I64: return (range_span){-INFINITY, INFINITY, false};
    case HG_LANE_U64: return (range_span){0, INFINITY, false};
    case HG_LANE_F32:
    case HG_LANE_F64: break;
    }
    return (range_span){-INFINITY, INFINITY, true};
}

static range_span range_of_type(holo_dtype dtype)
{
    const double codes = ldexp(1, (int)hg_dtype_bits(dtype));
    if (dtype == HOLO_BOOL) return (range_span){0, 1, false};
    if (hg_dtype_is_float(dtype) || hg_dtype_bits(dtype) > 32)
        return range_of_lane(hg_lane_type_of(dtype));
    if (hg_dtype_is_signed_int(dtype)) return (range_span){-codes / 2, codes / 2 - 1, false};
    return (range_span){0, codes - 1, false};
}

/* ---- one operation ---------------------------------------------------------------------------
 */

/* Ends that the type cannot hold: integers wrap, and then anything can come. */
static range_span range_settle(range_span s, uint32_t type)
{
    const range_span all = range_of_lane(type);
    const bool is_exact = type == HG_LANE_F32 || type == HG_LANE_F64 ||
                          (fabs(s.low) < 0x1p52 && fabs(s.high) < 0x1p52);
    if (s.low != s.low || s.high != s.high) return all;
    if (!is_exact || s.low < all.low || s.high > all.high) return all;
    return s;
}

static double range_round(double x, uint32_t type)
{
    return type == HG_LANE_F32 ? (double)(float)x : x;
}

static double range_apply(uint32_t op, double a, double b)
{
    switch (op) {
    case HG_LANE_ADD: return a + b;
    case HG_LANE_SUB: return a - b;
    case HG_LANE_MUL: return a * b;
    default: return a / b;
    }
}

/* Monotone in each operand: the ends are among the ends. */
static range_span range_corners(const hg_lane_op *op, range_span a, range_span b)
{
    range_span r = {INFINITY, -INFINITY, a.nan || b.nan};
    const double x[2] = {a.low, a.high}, y[2] = {b.low, b.high};
    for (int i = 0; i < 4; i++) {
        const double v = range_round(range_apply(op->op, x[i & 1], y[i >> 1]), op->type);
        if (v != v) return range_of_lane(op->type);
        r.low = fmin(r.low, v);
        r.high = fmax(r.high, v);
    }
    return range_settle(r, op->type);
}

static double range_monotone(uint32_t op, double x)
{
    switch (op) {
    case HG_LANE_FLOOR: return floor(x);
    case HG_LANE_CEIL: return ceil(x);
    case HG_LANE_ROUND: return rint(x);
    default: return trunc(x);
    }
}

/* Float to integer: what does not fit, NaN too, becomes the smallest integer. */
static range_span range_cast(const hg_lane_op *op, range_span a)
{
    const range_span all = range_of_lane(op->type);
    const bool from_float = op->index == HG_LANE_F32 || op->index == HG_LANE_F64;
    const bool to_float = op->type == HG_LANE_F32 || op->type == HG_LANE_F64;
    if (to_float)
        return (range_span){range_round(a.low, op->type), range_round(a.high, op->type), a.nan};
    if (from_float) {
        if (a.nan || a.low <= all.low || a.high >= all.high) return all;
        return (range_span){trunc(a.low), trunc(a.high), false};
    }
    return range_settle(a, op->type);
}

static range_span range_narrow(range_span a, holo_dtype dtype, bool saturate)
{
    const range_span all = range_of_type(dtype);
    if (dtype == HOLO_BOOL) return all;
    if (hg_dtype_is_float(dtype)) return hg_lane_is_native(dtype) ? a : all;
    if (a.low >= all.low && a.high <= all.high) return a;
    if (!saturate) return all;
    return (range_span){fmin(fmax(a.low, all.low), all.high), fmin(fmax(a.high, all.low), all.high),
                        false};
}

static range_span range_bits(const hg_lane_op *op, range_span a, range_span b)
{
    /* bits that one operand lacks are in no result */
    if (op->op == HG_LANE_AND && (a.low >= 0 || b.low >= 0))
        return (range_span){0, fmin(a.low >= 0 ? a.high : INFINITY, b.low >= 0 ? b.high : INFINITY),
                            false};
    if (a.low < 0 || b.low < 0 || !(a.high < 0x1p31) || !(b.high < 0x1p31))
        return range_of_lane(op->type);
    double most = 1;
    while (most <= fmax(a.high, b.high))
        most *= 2;
    return (range_span){0, most - 1, false};
}

static range_span range_shift(const hg_lane_op *op, range_span a, range_span b)
{
    if (b.low != b.high || b.low < 0 || b.low > 15 || a.low < 0) return range_of_lane(op->type);
    const double by = ldexp(1, (int)b.low);
    const range_span r = {op->op == HG_LANE_SHL ? a.low * by : floor(a.low / by),
                          op->op == HG_LANE_SHL ? a.high * by : floor(a.high / by), false};
    return range_settle(r, op->type);
}

static range_span range_binary(const hg_lane_op *op, range_span a, range_span b)
{
    switch (op->op) {
    case HG_LANE_ADD:
    case HG_LANE_SUB:
    case HG_LANE_MUL: return range_corners(op, a, b);
    case HG_LANE_DIV:
        if (op->type != HG_LANE_F32 && op->type != HG_LANE_F64) break;
        return b.low > 0 || b.high < 0 ? range_corners(op, a, b) : range_of_lane(op->type);
    case HG_LANE_MIN: return (range_span){fmin(a.low, b.low), fmin(a.high, b.high), a.nan || b.nan};
    case HG_LANE_MAX: return (range_span){fmax(a.low, b.low), fmax(a.high, b.high), a.nan || b.nan};
    case HG_LANE_AND:
    case HG_LANE_OR:
    case HG_LANE_XOR: return range_bits(op, a, b);
    case HG_LANE_SHL:
    case HG_LANE_SHR: return range_shift(op, a, b);
    case HG_LANE_EQ:
    case HG_LANE_LT:
    case HG_LANE_LE: return (range_span){0, 1, false};
    default: break;
    }
    return range_of_lane(op->type);
}

static range_span range_unary(const hg_lane_op *op, range_span a)
{
    const double little = 1 + 0x1p-20;
    switch (op->op) {
    case HG_LANE_NEG: return range_settle((range_span){-a.high, -a.low, a.nan}, op->type);
    case HG_LANE_ABS:
        return range_settle((range_span){a.low > 0    ? a.low
                                         : a.high < 0 ? -a.high
                                                      : 0,
                                         fmax(fabs(a.low), fabs(a.high)), a.nan},
                            op->type);
    case HG_LANE_SIGN: return (range_span){-1, 1, a.nan};
    case HG_LANE_FLOOR:
    case HG_LANE_CEIL:
    case HG_LANE_ROUND:
    case HG_LANE_TRUNC:
        return (range_span){range_monotone(op->op, a.low), range_monotone(op->op, a.high), a.nan};
    case HG_LANE_SIGMOID: return (range_span){-0x1p-20, little, a.nan};
    case HG_LANE_TANH:
    case HG_LANE_ERF: return (range_span){-little, little, a.nan};
    case HG_LANE_EXP: return (range_span){0, INFINITY, a.nan};
    case HG_LANE_NOT: return range_settle((range_span){-1 - a.high, -1 - a.low, false}, op->type);
    case HG_LANE_ISNAN:
    case HG_LANE_ISINF: return (range_span){0, 1, false};
    case HG_LANE_CAST: return range_cast(op, a);
    case HG_LANE_NARROW: return range_narrow(a, (holo_dtype)op->index, op->imm != 0);
    default: break;
    }
    return range_of_lane(hg_lane_op_result(op->op, op->type));
}

static range_span range_const(const hg_lane_op *op)
{
    double d;
    float f;
    const uint32_t low = (uint32_t)op->imm;
    memcpy(&f, &low, 4);
    memcpy(&d, &op->imm, 8);
    const double x = op->type == HG_LANE_F32   ? (double)f
                     : op->type == HG_LANE_F64 ? d
                     : op->type == HG_LANE_I32 ? (double)(int32_t)low
                     : op->type == HG_LANE_I64 ? (double)(int64_t)op->imm
                                               : (double)op->imm;
    if (x != x) return range_of_lane(op->type);
    return range_settle((range_span){x, x, false}, op->type);
}

static range_span range_element(holo_dtype dtype, const void *data, int64_t i)
{
    uint64_t room = 0;
    hg_lane_op op = {.op = HG_LANE_CONST, .type = (uint8_t)hg_lane_type_of(dtype)};
    hg_lane_read(dtype, &room, data, i, 1, 1);
    op.imm = hg_lane_width(op.type) == 4 ? (uint32_t)room : room;
    return range_const(&op);
}

static range_span range_code(const hg_lane_code *code, const range_span *in, holo_dtype to)
{
    range_span reg[HG_LANE_MAX_REG] = {{0}};
    for (uint32_t i = 0; i < code->n_op; i++) {
        const hg_lane_op *op = &code->op[i];
        const int operands = hg_lane_operands(op->op);
        range_span r = range_of_lane(hg_lane_op_result(op->op, op->type));
        if (op->op == HG_LANE_LOAD) r = in[op->index];
        if (op->op == HG_LANE_CONST) r = range_const(op);
        if (operands == 1) r = range_unary(op, reg[op->a]);
        if (operands == 2) r = range_binary(op, reg[op->a], reg[op->b]);
        if (op->op == HG_LANE_SELECT)
            r = (range_span){fmin(reg[op->b].low, reg[op->c].low),
                             fmax(reg[op->b].high, reg[op->c].high),
                             reg[op->b].nan || reg[op->c].nan};
        reg[op->dst] = r;
    }
    return range_narrow(reg[code->out[0].reg], to, code->out[0].saturate != 0);
}

/* ---- a graph of producers --------------------------------------------------------------------
 */

static range_span range_elements(const hg_graph *g, hg_value_id value)
{
    const hg_value *v = hg_graph_value(g, value);
    const uint32_t bits = hg_dtype_bits(v->type.dtype);
    range_span r = {INFINITY, -INFINITY, false};
    if (bits < 8) return range_of_type(v->type.dtype);
    for (size_t i = 0; i < v->constant->bytes / (bits / 8); i++) {
        const range_span one = range_element(v->type.dtype, v->constant->data, (int64_t)i);
        r = (range_span){fmin(r.low, one.low), fmax(r.high, one.high), r.nan || one.nan};
    }
    return r.low <= r.high ? r : range_of_type(v->type.dtype);
}

holo_status hg_range_codes(hg_graph *g, hg_alphabet *out)
{
    range_span *span, in[HG_LANE_MAX_IO];
    hg_lane_code code;
    HG_TRY(HG_NEW(g->ctx, g->n_value, &span));
    for (hg_value_id v = 1; v < g->n_value; v++)
        span[v] = hg_graph_is_const(g, v) ? range_elements(g, v)
                                          : range_of_type(hg_graph_value(g, v)->type.dtype);
    for (hg_node_id id = hg_graph_region(g, HG_REGION_MAIN)->first; id != 0;
         id = hg_graph_node(g, id)->next) {
        const hg_node *n = hg_graph_node(g, id);
        if (!hg_chain_is_pointwise(g, n) || n->n_in > HG_LANE_MAX_IO) continue;
        for (uint32_t i = 0; i < n->n_in; i++)
            in[i] = span[hg_node_in(g, n, i)];
        if (hg_op_is(n, "holo:Table")) {
            span[n->out[0]] = in[1];
            continue;
        }
        HG_TRY(hg_chain_node_code(g, id, &code));
        n = hg_graph_node(g, id);
        span[n->out[0]] = range_code(&code, in, hg_graph_value(g, n->out[0])->type.dtype);
    }
    hg_value_id result = hg_region_out(g, HG_REGION_MAIN, 0);
    const holo_dtype dtype = hg_graph_value(g, result)->type.dtype;
    const range_span r = span[result];
    *out = hg_domain_all(dtype);
    if (hg_dtype_is_float(dtype) || r.nan || !(r.low <= r.high)) return HOLO_OK;
    if (r.low < 0 && r.high >= 0) return HOLO_OK; /* codes of both ends of the alphabet */
    const double first = r.low < 0 ? r.low + (double)out->count : r.low;
    *out = (hg_alphabet){(int64_t)first, (int64_t)(r.high - r.low) + 1};
    return HOLO_OK;
}

/* ---- extraction ------------------------------------------------------------------------------
 */

typedef struct range_walk {
    const hg_graph *from;
    hg_chain *to;
    hg_value_id seen[RANGE_NODES], made[RANGE_NODES];
    uint32_t n_seen;
} range_walk;

static hg_type range_pair(range_walk *w, holo_dtype dtype)
{
    return (hg_type){.dtype = dtype, .rank = 1, .dim = {hg_dim_const(&w->to->g.dims, 2)}};
}

/* What is not looked into. A constant counts by two of its elements, the smallest and the largest;
 * where that is not possible by its type. */
static holo_status range_leaf(range_walk *w, hg_value_id value, hg_value_id *out)
{
    const hg_value *v = hg_graph_value(w->from, value);
    const uint32_t bits = hg_dtype_bits(v->type.dtype);
    const size_t size = bits / 8,
                 n = size == 0 || v->constant == NULL ? 0 : v->constant->bytes / size;
    if (n == 0)
        return hg_graph_add_region_input(&w->to->g, HG_REGION_MAIN, (hg_str){0},
                                         range_pair(w, v->type.dtype), out);
    const uint8_t *data = v->constant->data;
    size_t at[2] = {0, 0};
    double end[2] = {INFINITY, -INFINITY};
    for (size_t i = 0; i < n; i++) {
        const range_span one = range_element(v->type.dtype, data, (int64_t)i);
        if (one.low < end[0]) end[0] = one.low, at[0] = i;
        if (one.high > end[1]) end[1] = one.high, at[1] = i;
    }
    uint8_t *pair = hg_arena_alloc(&w->to->ctx.arena, 2 * size);
    if (pair == NULL) return hg_fail_nomem(&w->to->error, 2 * size);
    memcpy(pair, data + at[0] * size, size);
    memcpy(pair + size, data + at[1] * size, size);
    return hg_graph_add_const(&w->to->g, (hg_str){0}, range_pair(w, v->type.dtype), pair, 2 * size,
                              out);
}

static holo_status range_copy(range_walk *w, hg_value_id value, uint32_t depth, hg_value_id *out)
{
    const hg_value *v = hg_graph_value(w->from, value);
    const hg_node *n = v->node == 0 ? NULL : hg_graph_node(w->from, v->node);
    for (uint32_t i = 0; i < w->n_seen; i++)
        if (w->seen[i] == value) {
            *out = w->made[i];
            return HOLO_OK;
        }
    if (n == NULL || depth == 0 || w->n_seen == RANGE_NODES || !hg_chain_is_pointwise(w->from, n) ||
        n->n_in > 3) {
        HG_TRY(range_leaf(w, value, out));
    } else {
        hg_value_id in[3] = {0};
        hg_node_id made;
        for (uint32_t i = 0; i < n->n_in; i++)
            if (hg_node_in(w->from, n, i) != 0)
                HG_TRY(range_copy(w, hg_node_in(w->from, n, i), depth - 1, &in[i]));
        const hg_node_spec spec = {.op = n->op,
                                   .in = in,
                                   .n_in = n->n_in,
                                   .attr = n->attr,
                                   .n_attr = n->n_attr,
                                   .n_out = 1};
        HG_TRY(hg_graph_add_node(&w->to->g, HG_REGION_MAIN, 0, &spec, &made));
        HG_TRY(hg_op_infer(&w->to->g, made));
        *out = hg_graph_node(&w->to->g, made)->out[0];
    }
    if (w->n_seen == RANGE_NODES) return HOLO_OK;
    w->seen[w->n_seen] = value;
    w->made[w->n_seen++] = *out;
    return HOLO_OK;
}

static holo_status range_find(hg_chain *c, const hg_graph *g, hg_value_id value, hg_alphabet *codes)
{
    range_walk w = {.from = g, .to = c};
    hg_value_id made;
    HG_TRY(hg_graph_init(&c->g, &c->ctx));
    c->g.name = hg_str_from("producer");
    HG_TRY(range_copy(&w, value, RANGE_DEPTH, &made));
    HG_TRY(hg_graph_add_region_output(&c->g, HG_REGION_MAIN, hg_str_from("codes"), made));
    return hg_range_codes(&c->g, codes);
}

holo_status hg_range_find(const hg_graph *g, hg_value_id value, hg_arena *arena, hg_alphabet *codes,
                          hg_str *proof)
{
    const holo_dtype dtype = hg_graph_value(g, value)->type.dtype;
    const hg_alphabet all = hg_domain_all(dtype);
    hg_chain c;
    hg_str text = {0};
    *codes = all;
    *proof = (hg_str){0};
    const hg_node_id id = hg_graph_value(g, value)->node;
    if (id == 0 || !hg_chain_is_pointwise(g, hg_graph_node(g, id))) return HOLO_OK;
    hg_chain_open(&c, g);
    holo_status status = range_find(&c, g, value, codes);
    if (status == HOLO_OK && codes->count < all.count) status = hg_chain_text(&c, &text);
    if (status == HOLO_OK && text.length != 0) {
        *proof = hg_str_copy(arena, text);
        if (proof->text == NULL) status = HOLO_E_NOMEM;
    }
    if (status != HOLO_OK) *codes = all; /* no proof, no narrowing */
    hg_chain_deinit(&c);
    return status == HOLO_E_NOMEM ? hg_fail_nomem(g->ctx->error, text.length + 1) : HOLO_OK;
}
