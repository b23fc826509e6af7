/* print.c - text out of a program. */
#include "isa/print.h"

#include "base/half.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum { PRINT_NAME = 120, PRINT_DIM = 160, PRINT_FORMAT = 500 };

/* ---- writer ------------------------------------------------------------------------------------
 */

static void print_drain(hg_print *o)
{
    if (!o->failed && o->used != 0) o->failed = !o->sink(o->user, o->buffer, o->used);
    o->used = 0;
}

void hg_print_put(hg_print *o, const char *bytes, size_t length)
{
    while (length > 0) {
        if (o->used == sizeof o->buffer) print_drain(o);
        size_t room = sizeof o->buffer - o->used, n = length < room ? length : room;
        memcpy(o->buffer + o->used, bytes, n);
        o->used += n;
        bytes += n;
        length -= n;
    }
}

void hg_print_text(hg_print *o, const char *text)
{
    hg_print_put(o, text, strlen(text));
}

void hg_print_format(hg_print *o, const char *format, ...)
{
    char text[PRINT_FORMAT + 1];
    va_list list;
    va_start(list, format);
    int n = vsnprintf(text, sizeof text, format, list);
    va_end(list);
    if (n > 0) hg_print_text(o, text);
}

bool hg_print_flush(hg_print *o)
{
    print_drain(o);
    return !o->failed;
}

size_t hg_print_sequence(const char *text)
{
    const uint8_t *p = (const uint8_t *)text;
    if (p[0] < 0x80) return p[0] >= 0x20 && p[0] != 0x7f;
    size_t n = p[0] >> 5 == 6 ? 2 : p[0] >> 4 == 14 ? 3 : p[0] >> 3 == 30 ? 4 : 0;
    for (size_t i = 1; i < n; i++)
        if (p[i] >> 6 != 2) return 0;
    /* Overlong forms, surrogates, what lies above U+10FFFF, and the control characters U+0080 to
     * 9F. */
    if (n == 2 && (p[0] < 0xc2 || (p[0] == 0xc2 && p[1] < 0xa0))) return 0;
    if (n == 3 && ((p[0] == 0xe0 && p[1] < 0xa0) || (p[0] == 0xed && p[1] > 0x9f))) return 0;
    if (n == 4 && ((p[0] == 0xf0 && p[1] < 0x90) || p[0] > 0xf4 || (p[0] == 0xf4 && p[1] > 0x8f)))
        return 0;
    return n;
}

void hg_print_quote(hg_print *o, const char *text)
{
    size_t left = PRINT_NAME;
    hg_print_text(o, "\"");
    while (*text != 0 && left > 0) {
        size_t n = hg_print_sequence(text);
        if (n == 0)
            hg_print_format(o, "\\x%02x", (uint8_t)*text);
        else if (*text == '"' || *text == '\\')
            hg_print_format(o, "\\%c", *text);
        else
            hg_print_put(o, text, n);
        n = n == 0 ? 1 : n;
        text += n;
        left -= n < left ? n : left;
    }
    hg_print_text(o, *text != 0 ? "...\"" : "\"");
}

void hg_print_float(hg_print *o, double value, bool is_single)
{
    char text[40];
    if (isnan(value) || isinf(value)) {
        hg_print_text(o, isnan(value) ? "nan" : value < 0 ? "-inf" : "inf");
        return;
    }
    for (int digits = is_single ? 6 : 15; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, value);
        double back = strtod(text, NULL);
        if (is_single ? (float)back == (float)value : back == value) break;
    }
    for (char *c = text; *c != 0; c++) /* a program with another locale may have a comma here */
        if (*c == ',') *c = '.';
    hg_print_text(o, text);
}

/* ---- dims and types ----------------------------------------------------------------------------
 */

bool hg_print_dims_init(const hg_program *p, hg_arena *arena, hg_dims *out)
{
    hg_symbol *symbol = hg_arena_array(arena, (size_t)p->head.n_symbol + 1, sizeof *symbol);
    hg_dim_rec *rec = hg_arena_array(arena, (size_t)p->head.n_dim + 1, sizeof *rec);
    if (symbol == NULL || rec == NULL) return false;
    memcpy(rec, p->dim, p->head.n_dim * sizeof *rec);
    for (uint32_t i = 0; i < p->head.n_symbol; i++)
        symbol[i].name = hg_str_from(p->text + p->symbol[i].name);
    *out = (hg_dims){
        .rec = rec, .count = p->head.n_dim, .symbol = symbol, .n_symbol = p->head.n_symbol};
    return true;
}

void hg_print_dim(hg_print *o, const hg_dims *dims, uint32_t dim)
{
    char text[PRINT_DIM];
    hg_dim_print(dims, dim, text, sizeof text);
    hg_print_text(o, text);
    if (strlen(text) + 1 == sizeof text) hg_print_text(o, "...");
}

void hg_print_symbol(hg_print *o, const hg_dims *dims, uint32_t symbol)
{
    hg_dim_rec rec[2] = {{0}, {.op = HG_DIM_SYMBOL, .value = symbol}};
    hg_dims one = *dims;
    one.rec = rec;
    hg_print_dim(o, &one, 1);
}

void hg_print_type(hg_print *o, const hg_program *p, const hg_dims *dims, uint32_t value)
{
    const hg_value_rec *v = &p->value[value];
    hg_print_text(o, holo_dtype_text((holo_dtype)v->dtype));
    hg_print_text(o, "[");
    if (v->rank < 0) hg_print_text(o, "?");
    for (int32_t k = 0; k < v->rank; k++) {
        if (k != 0) hg_print_text(o, ",");
        hg_print_dim(o, dims, p->list[v->dims + (uint32_t)k]);
    }
    hg_print_text(o, "]");
}

/* ---- lane code ---------------------------------------------------------------------------------
 */

/* Per register: number + 1 of the LOAD or CONST that it holds, 0 when it was computed. Those two
 * are shown where they are used. */
typedef struct print_code {
    hg_lane_code code;
    uint16_t simple[HG_LANE_MAX_REG];
} print_code;

static const char *print_lane_type(uint32_t type)
{
    static const char *const text[] = {"?", "f32", "f64", "i32", "i64", "u64"};
    return text[type < HG_COUNT(text) ? type : 0];
}

static void print_const(hg_print *o, const hg_lane_op *op)
{
    switch ((hg_lane_type)op->type) {
    case HG_LANE_F32: hg_print_float(o, (double)hg_f32_from_bits((uint32_t)op->imm), true); return;
    case HG_LANE_F64: hg_print_float(o, hg_f64_from_bits(op->imm), false); return;
    case HG_LANE_I32: hg_print_format(o, "%" PRId32, (int32_t)(uint32_t)op->imm); return;
    case HG_LANE_I64: hg_print_format(o, "%" PRId64, (int64_t)op->imm); return;
    case HG_LANE_U64: hg_print_format(o, "%" PRIu64, op->imm); return;
    }
}

static void print_register(hg_print *o, const print_code *c, uint32_t reg)
{
    uint32_t simple = reg < HG_LANE_MAX_REG ? c->simple[reg] : 0;
    if (simple == 0)
        hg_print_format(o, "r%" PRIu32, reg);
    else if (c->code.op[simple - 1].op == HG_LANE_LOAD)
        hg_print_format(o, "x%" PRIu32, c->code.op[simple - 1].index);
    else
        print_const(o, &c->code.op[simple - 1]);
}

static void print_operation(hg_print *o, const print_code *c, const hg_lane_op *op)
{
    const uint16_t operand[3] = {op->a, op->b, op->c};
    int n = hg_lane_operands(op->op);
    hg_print_format(o, "r%u=%s", op->dst, hg_lane_op_text(op->op));
    if (op->op == HG_LANE_CAST) hg_print_format(o, ".%s", print_lane_type(op->index));
    if (op->op == HG_LANE_NARROW)
        hg_print_format(o, ".%s%s", holo_dtype_text((holo_dtype)op->index),
                        op->imm == 1 ? ".saturate" : "");
    else if (op->type != HG_LANE_F32 || op->op == HG_LANE_CAST)
        hg_print_format(o, ".%s", print_lane_type(op->type));
    hg_print_text(o, "(");
    for (int k = 0; k < n; k++) {
        if (k != 0) hg_print_text(o, ",");
        print_register(o, c, operand[k]);
    }
    hg_print_text(o, "); ");
}

void hg_print_code(hg_print *o, const hg_program *p, uint32_t i)
{
    print_code c = {.code = hg_program_code(p, i)};
    hg_print_text(o, "{");
    for (uint32_t k = 0; k < c.code.n_op; k++) {
        const hg_lane_op *op = &c.code.op[k];
        bool simple = op->op == HG_LANE_LOAD || op->op == HG_LANE_CONST;
        if (!simple) print_operation(o, &c, op);
        if (op->dst < HG_LANE_MAX_REG) c.simple[op->dst] = (uint16_t)(simple ? k + 1 : 0);
    }
    for (uint32_t k = 0; k < c.code.n_out; k++) {
        hg_print_format(o, "%sy%" PRIu32 "=", k == 0 ? "" : "; ", k);
        print_register(o, &c, c.code.out[k].reg);
        if (c.code.out[k].saturate) hg_print_text(o, " saturate");
    }
    hg_print_text(o, "}");
}
