/* parse_code.c - reads numbers of every element type, and lane code. */
#include "graph/elem.h"
#include "graph/text.h"

/* ---- numbers ------------------------------------------------------------------------- */

/* "0x..." or digits; false when it is something else or too large. */
static bool parse_bits(hg_str word, uint64_t base, uint64_t *out)
{
    uint64_t value = 0;
    if (word.length == 0) return false;
    for (size_t i = 0; i < word.length; i++) {
        char c = word.text[i];
        uint64_t digit = c >= '0' && c <= '9'   ? (uint64_t)(c - '0')
                         : c >= 'a' && c <= 'f' ? (uint64_t)(c - 'a') + 10
                                                : 99;
        if (digit >= base || value > (UINT64_MAX - digit) / base) return false;
        value = value * base + digit;
    }
    *out = value;
    return true;
}

static bool parse_is_hex(hg_str word)
{
    return word.length > 2 && word.text[0] == '0' && word.text[1] == 'x';
}

static bool parse_uint(holo_dtype dtype, hg_str word, uint64_t *out)
{
    if (dtype != HOLO_BOOL) return parse_bits(word, 10, out);
    *out = hg_str_is(word, "true");
    return *out != 0 || hg_str_is(word, "false");
}

holo_status hg_parse_element(hg_scan *s, holo_dtype dtype, void *data, int64_t index)
{
    hg_elem e = {.kind = hg_elem_kind_of(dtype)};
    hg_scan before = *s;
    hg_str word = hg_scan_number(s);
    bool ok = false;
    uint32_t bits = hg_dtype_bits(dtype);
    if (parse_is_hex(word)) {
        uint64_t value;
        ok = parse_bits((hg_str){word.text + 2, word.length - 2}, 16, &value) &&
             (bits >= 64 || value >> bits == 0);
        if (ok) hg_elem_write_bits(dtype, data, index, value);
    } else if (e.kind == HG_ELEM_FLOAT) {
        ok = hg_text_to_float(word, &e.f) && hg_elem_write(dtype, data, index, e);
    } else if (e.kind == HG_ELEM_UINT) {
        ok = parse_uint(dtype, word, &e.u) && hg_elem_write(dtype, data, index, e);
    } else if (e.kind == HG_ELEM_INT) {
        *s = before;
        HG_TRY(hg_scan_int(s, &e.i));
        ok = hg_elem_write(dtype, data, index, e);
    }
    if (ok) return HOLO_OK;
    return hg_scan_fail(s, "'%.*s' is no %s", HG_STR_ARG(word), holo_dtype_text(dtype));
}

/* ---- lane code ----------------------------------------------------------------------- */

typedef struct parse_code {
    hg_scan *s;
    hg_lane_op *op;
    size_t op_capacity;
    hg_lane_out out[HG_LANE_MAX_IO];
    uint32_t n_op, n_in, n_out, n_reg;
} parse_code;

static holo_status parse_lane_type(hg_scan *s, uint32_t *out)
{
    hg_str word = hg_scan_word(s);
    *out = hg_text_lane_type_from(word);
    if (*out == 0) return hg_scan_fail(s, "'%.*s' is no lane type", HG_STR_ARG(word));
    return HOLO_OK;
}

static bool parse_reg_word(hg_str word, uint16_t *out)
{
    uint64_t value;
    if (word.length < 2 || word.text[0] != 'r') return false;
    if (!parse_bits((hg_str){word.text + 1, word.length - 1}, 10, &value)) return false;
    *out = (uint16_t)value;
    return value < HG_LANE_MAX_REG;
}

static holo_status parse_reg(hg_scan *s, uint16_t *out)
{
    hg_str word = hg_scan_word(s);
    if (parse_reg_word(word, out)) return HOLO_OK;
    return hg_scan_fail(s, "'%.*s' is no register", HG_STR_ARG(word));
}

static holo_status parse_opcode(hg_scan *s, uint8_t *out)
{
    hg_str word = hg_scan_word(s);
    for (uint32_t op = 0; op < 256; op++) {
        if (hg_lane_operands(op) < 0 || !hg_str_is(word, hg_lane_op_text(op))) continue;
        *out = (uint8_t)op;
        return HOLO_OK;
    }
    return hg_scan_fail(s, "'%.*s' is no lane operation", HG_STR_ARG(word));
}

static holo_status parse_lane_const(hg_scan *s, hg_lane_op *op)
{
    static const holo_dtype dtypes[] = {
        [HG_LANE_F32] = HOLO_F32, [HG_LANE_F64] = HOLO_F64, [HG_LANE_I32] = HOLO_I32,
        [HG_LANE_I64] = HOLO_I64, [HG_LANE_U64] = HOLO_U64,
    };
    uint8_t data[8] = {0};
    HG_TRY(hg_parse_element(s, dtypes[op->type], data, 0));
    op->imm = hg_elem_read_bits(dtypes[op->type], data, 0);
    return HOLO_OK;
}

/* What stands between the type and the registers. */
static holo_status parse_lane_extra(hg_scan *s, hg_lane_op *op)
{
    if (op->op == HG_LANE_LOAD) return hg_scan_u32(s, &op->index);
    if (op->op == HG_LANE_CONST) return parse_lane_const(s, op);
    if (op->op == HG_LANE_CAST) return parse_lane_type(s, &op->index);
    if (op->op != HG_LANE_NARROW) return HOLO_OK;
    hg_str word = hg_scan_word(s);
    op->index = (uint32_t)hg_dtype_from_text(word.text, word.length);
    if (op->index == HOLO_NONE)
        return hg_scan_fail(s, "'%.*s' is no element type", HG_STR_ARG(word));
    return HOLO_OK;
}

/* Behind the destination register. */
static holo_status parse_lane_op(parse_code *c, uint16_t dst)
{
    hg_scan *s = c->s;
    hg_lane_op op = {.dst = dst};
    uint16_t *reg[3] = {&op.a, &op.b, &op.c};
    uint32_t type;
    HG_TRY(hg_scan_expect(s, "="));
    HG_TRY(parse_opcode(s, &op.op));
    HG_TRY(parse_lane_type(s, &type));
    op.type = (uint8_t)type;
    HG_TRY(parse_lane_extra(s, &op));
    for (int i = 0; i < hg_lane_operands(op.op) && i < 3; i++)
        HG_TRY(parse_reg(s, reg[i]));
    if (op.op == HG_LANE_NARROW && hg_scan_take(s, "sat")) op.imm = 1;
    if (c->n_op == HG_LANE_MAX_OP)
        return hg_scan_fail(s, "more than %d operations", HG_LANE_MAX_OP);
    hg_lane_op *grown = hg_arena_grow(s->arena, c->op, c->n_op, &c->op_capacity, sizeof *grown);
    if (grown == NULL) return hg_fail_nomem(s->error, sizeof *grown);
    c->op = grown;
    grown[c->n_op++] = op;
    if (op.op == HG_LANE_LOAD && op.index >= c->n_in && op.index < HG_LANE_MAX_IO)
        c->n_in = op.index + 1;
    if (op.dst >= c->n_reg) c->n_reg = op.dst + 1u;
    return HOLO_OK;
}

static holo_status parse_lane_out(parse_code *c)
{
    hg_lane_out out = {0};
    uint32_t type;
    HG_TRY(parse_reg(c->s, &out.reg));
    HG_TRY(parse_lane_type(c->s, &type));
    out.type = (uint8_t)type;
    out.saturate = hg_scan_take(c->s, "sat");
    if (c->n_out == HG_LANE_MAX_IO)
        return hg_scan_fail(c->s, "more than %d outputs", HG_LANE_MAX_IO);
    c->out[c->n_out++] = out;
    return HOLO_OK;
}

static holo_status parse_lane_statement(parse_code *c)
{
    hg_str word = hg_scan_word(c->s);
    uint16_t dst;
    if (hg_str_is(word, "in")) return hg_scan_u32(c->s, &c->n_in);
    if (hg_str_is(word, "reg")) return hg_scan_u32(c->s, &c->n_reg);
    if (hg_str_is(word, "out")) return parse_lane_out(c);
    if (parse_reg_word(word, &dst)) return parse_lane_op(c, dst);
    return hg_scan_fail(c->s, "'%.*s' begins no lane statement", HG_STR_ARG(word));
}

holo_status hg_parse_code(hg_scan *s, hg_lane_code **out)
{
    parse_code c = {.s = s};
    while (!hg_scan_take(s, "}")) {
        HG_TRY(parse_lane_statement(&c));
        if (!hg_scan_sees(s, "}")) HG_TRY(hg_scan_expect(s, ";"));
    }
    hg_lane_code *code = hg_arena_alloc(s->arena, sizeof *code);
    hg_lane_out *outs = hg_arena_array(s->arena, HG_LANE_MAX_IO, sizeof *outs);
    if (code == NULL || outs == NULL) return hg_fail_nomem(s->error, sizeof c.out);
    memcpy(outs, c.out, sizeof c.out);
    *code = (hg_lane_code){.op = c.op,
                           .out = outs,
                           .n_op = c.n_op,
                           .n_in = c.n_in,
                           .n_out = c.n_out,
                           .n_reg = c.n_reg};
    holo_error why;
    if (hg_lane_verify(code, &why) != HOLO_OK) return hg_scan_fail(s, "%s", why.message);
    *out = code;
    return HOLO_OK;
}
