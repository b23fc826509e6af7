/* igemm_finish.c - recognises epilogues that are chains. */
#include "kernel/igemm_finish.h"

#include <math.h>

enum { FINISH_MAX_OP = 64 };

typedef struct igemm_finish_reader {
    const hg_args *args;
    uint32_t first_extra;
    const hg_lane_op *op;
    uint8_t a[FINISH_MAX_OP], b[FINISH_MAX_OP]; /* operands as numbers of operations */
    bool depends[FINISH_MAX_OP];                /* on the sums */
    uint32_t kept;                              /* operation that is kept + 1; 0: none */
    hg_finish *out;
} igemm_finish_reader;

static const holo_tensor *igemm_finish_operand(const igemm_finish_reader *r, uint32_t i)
{
    return &r->args->in[r->first_extra + r->op[i].index - 1];
}

/* A constant, one number, or one for each column. */
static bool igemm_finish_leaf(const igemm_finish_reader *r, uint32_t i, holo_dtype dtype,
                              hg_finish_step *s)
{
    const hg_lane_op *op = &r->op[i];
    if (op->op == HG_LANE_CONST) {
        const uint32_t bits = (uint32_t)op->imm;
        memcpy(&s->value, &bits, sizeof bits);
        return dtype != HOLO_F32 || s->value.f == s->value.f;
    }
    if (op->op != HG_LANE_LOAD || op->index == 0) return false;
    const holo_tensor *t = igemm_finish_operand(r, i);
    const int64_t count = holo_tensor_count(t), columns = r->out->columns;
    s->data = t->data;
    s->step = count != 1;
    return t->dtype == dtype &&
           (count == 1 || (count == columns && t->dim[t->rank - 1] == columns));
}

static bool igemm_finish_push(hg_finish_chain *c, const hg_finish_step *s)
{
    if (c->count == HG_FINISH_STEPS) return false;
    c->step[c->count++] = *s;
    return true;
}

static bool igemm_finish_chain(igemm_finish_reader *r, uint32_t i, hg_finish_chain *c);

/* Where a chain begins: the sums, or an operand of the output's shape. */
static bool igemm_finish_start(const igemm_finish_reader *r, uint32_t i, const hg_finish_chain *c)
{
    if (r->op[i].index == 0) return c == &r->out->main;
    const holo_tensor *t = igemm_finish_operand(r, i), *out = &r->args->out[0];
    if (c != &r->out->side || t->rank != out->rank) return false;
    for (int d = 0; d < out->rank; d++)
        if (t->dim[d] != out->dim[d]) return false;
    r->out->side_data = t->data;
    r->out->side_type = t->dtype;
    return hg_dtype_in(t->dtype, HG_TYPE_BIT(HOLO_U8) | HG_TYPE_BIT(HOLO_I8) |
                                     HG_TYPE_BIT(HOLO_I32) | HG_TYPE_BIT(HOLO_F32));
}

/* float(narrow(int(x))), or float(x). */
static bool igemm_finish_cast(igemm_finish_reader *r, uint32_t i, hg_finish_chain *c)
{
    hg_finish_step s = {.kind = HG_FINISH_FLOAT};
    if (r->op[i].type != HG_LANE_F32 || r->op[i].index != HG_LANE_I32) return false;
    const uint32_t inner = r->a[i];
    if (r->op[inner].op != HG_LANE_NARROW)
        return igemm_finish_chain(r, inner, c) && igemm_finish_push(c, &s);
    const uint32_t whole = r->a[inner];
    const bool is_u8 = r->op[inner].index == HOLO_U8;
    if ((!is_u8 && r->op[inner].index != HOLO_I8) || r->op[inner].imm != 0) return false;
    if (r->op[whole].op != HG_LANE_CAST || r->op[whole].index != HG_LANE_F32) return false;
    s.kind = is_u8 ? HG_FINISH_WRAP_U8 : HG_FINISH_WRAP_I8;
    return igemm_finish_chain(r, r->a[whole], c) && igemm_finish_push(c, &s);
}

/* A chain and a leaf; either may come first unless the operation says otherwise. */
static bool igemm_finish_binary(igemm_finish_reader *r, uint32_t i, hg_finish_kind kind,
                                hg_finish_chain *c)
{
    const bool is_int = r->op[i].type == HG_LANE_I32,
               is_ordered = kind == HG_FINISH_SUB || kind == HG_FINISH_DIV;
    const holo_dtype dtype = is_int ? HOLO_I32 : HOLO_F32;
    for (int side = 0; side < (is_ordered ? 1 : 2); side++) {
        const uint32_t inner = side == 0 ? r->a[i] : r->b[i], leaf = side == 0 ? r->b[i] : r->a[i];
        hg_finish_step s = {.kind = is_int ? HG_FINISH_ADD_INT : kind, .is_first = side == 1};
        if (!igemm_finish_leaf(r, leaf, dtype, &s)) continue;
        if (is_int && kind != HG_FINISH_ADD) return false;
        if ((kind == HG_FINISH_MAX || kind == HG_FINISH_MIN) && s.data != NULL) return false;
        return igemm_finish_chain(r, inner, c) && igemm_finish_push(c, &s);
    }
    return false;
}

/* The sum, or product, of a chain from the sums and one that does not depend on them. */
static bool igemm_finish_join(igemm_finish_reader *r, uint32_t i, hg_finish_chain *c)
{
    const uint32_t a = r->a[i], b = r->b[i];
    const hg_finish_step s = {.kind = r->op[i].op == HG_LANE_ADD ? HG_FINISH_JOIN : HG_FINISH_GATE};
    if (c != &r->out->main || r->out->side_data != NULL || r->depends[a] == r->depends[b] ||
        r->op[i].type != HG_LANE_F32)
        return false;
    return igemm_finish_chain(r, r->depends[a] ? b : a, &r->out->side) &&
           igemm_finish_chain(r, r->depends[a] ? a : b, c) && igemm_finish_push(c, &s);
}

/* x times what a chain makes of x. */
static bool igemm_finish_gate(igemm_finish_reader *r, uint32_t i, hg_finish_chain *c)
{
    const uint32_t count = c->count;
    if (r->op[i].type != HG_LANE_F32 || r->kept != 0) return false;
    for (int side = 0; side < 2; side++) {
        const uint32_t x = side == 0 ? r->a[i] : r->b[i], gate = side == 0 ? r->b[i] : r->a[i];
        c->count = count;
        r->kept = 0;
        if (x == gate || !r->depends[x] || !r->depends[gate]) return false;
        if (!igemm_finish_chain(r, x, c) || r->kept != 0) continue;
        r->kept = x + 1;
        if (igemm_finish_push(c, &(hg_finish_step){.kind = HG_FINISH_KEEP}) &&
            igemm_finish_chain(r, gate, c) &&
            igemm_finish_push(c, &(hg_finish_step){.kind = HG_FINISH_TIMES}))
            return true;
    }
    return false;
}

/* A function of a chain. */
static bool igemm_finish_function(igemm_finish_reader *r, uint32_t i, hg_finish_chain *c)
{
    const hg_finish_step s = {.kind = r->op[i].op == HG_LANE_ROUND ? HG_FINISH_ROUND
                                      : r->op[i].op == HG_LANE_ERF ? HG_FINISH_ERF
                                                                   : HG_FINISH_SIGMOID};
    return r->op[i].type == HG_LANE_F32 && igemm_finish_chain(r, r->a[i], c) &&
           igemm_finish_push(c, &s);
}

static bool igemm_finish_chain(igemm_finish_reader *r, uint32_t i, hg_finish_chain *c)
{
    static const struct {
        uint8_t op;
        hg_finish_kind kind;
    } kinds[] = {{HG_LANE_ADD, HG_FINISH_ADD}, {HG_LANE_SUB, HG_FINISH_SUB},
                 {HG_LANE_MUL, HG_FINISH_MUL}, {HG_LANE_DIV, HG_FINISH_DIV},
                 {HG_LANE_MAX, HG_FINISH_MAX}, {HG_LANE_MIN, HG_FINISH_MIN}};
    const hg_lane_op *op = &r->op[i];
    if (r->kept == i + 1) return c == &r->out->main;
    if (op->op == HG_LANE_LOAD) return r->kept == 0 && igemm_finish_start(r, i, c);
    if (op->op == HG_LANE_CAST) return igemm_finish_cast(r, i, c);
    if (op->op == HG_LANE_ROUND || op->op == HG_LANE_ERF || op->op == HG_LANE_SIGMOID)
        return igemm_finish_function(r, i, c);
    if (op->type != HG_LANE_F32 && op->type != HG_LANE_I32) return false;
    for (size_t k = 0; k < HG_COUNT(kinds); k++)
        if (op->op == kinds[k].op) {
            if (igemm_finish_binary(r, i, kinds[k].kind, c)) return true;
            if (op->op == HG_LANE_MUL && igemm_finish_gate(r, i, c)) return true;
            return (op->op == HG_LANE_ADD || op->op == HG_LANE_MUL) && c->count == 0 &&
                   igemm_finish_join(r, i, c);
        }
    return false;
}

/* A limit that is a constant second operand. */
static bool igemm_finish_is_limit(const hg_finish_step *s, hg_finish_kind kind)
{
    return s->kind == kind && s->data == NULL && !s->is_first;
}

/* Steps from `at` on as one QUANT, or CODE without a division; how many they are, or 0. `type`:
 * what the result is stored as when the chain ends with them. */
static uint32_t igemm_finish_quant(const hg_finish_chain *c, uint32_t at, holo_dtype type,
                                   hg_finish_step *q)
{
    uint32_t i = at;
    const hg_finish_step *s = c->step;
    *q = (hg_finish_step){.kind = HG_FINISH_CODE, .value.f = 1};
    if (s[i].kind == HG_FINISH_DIV && s[i].data == NULL) {
        q->kind = HG_FINISH_QUANT;
        q->value = s[i++].value;
    }
    if (c->count - i < 3 || s[i++].kind != HG_FINISH_ROUND) return 0;
    if (s[i].kind == HG_FINISH_ADD && s[i].data == NULL) q->zero = s[i++].value.f;
    if (c->count - i < 2 || !igemm_finish_is_limit(&s[i], HG_FINISH_MAX) ||
        !igemm_finish_is_limit(&s[i + 1], HG_FINISH_MIN))
        return 0;
    q->low = s[i].value.f;
    q->high = s[i + 1].value.f;
    i += 2;
    if (i < c->count) {
        if (s[i].kind != HG_FINISH_WRAP_U8 && s[i].kind != HG_FINISH_WRAP_I8) return 0;
        type = s[i++].kind == HG_FINISH_WRAP_U8 ? HOLO_U8 : HOLO_I8;
    }
    const bool is_short = type == HOLO_I16 && q->kind == HG_FINISH_CODE; /* HG_FINISH_NEAR */
    const float lowest = is_short ? -32768 : type == HOLO_I8 ? -128 : 0;
    const float highest = is_short ? 32767 : type == HOLO_I8 ? 127 : 255;
    const bool fits = type != HOLO_F32 && (type != HOLO_I16 || is_short) && q->low >= lowest &&
                      q->low <= 0 && q->high >= 0 && q->high <= highest &&
                      q->zero == (float)(int32_t)q->zero;
    /* The inverse and products with it must not leave the normal numbers. */
    const float size = q->value.f < 0 ? -q->value.f : q->value.f;
    const bool is_usual = size > 1e-30f && size < 1e30f && q->zero >= -512 && q->zero <= 512;
    q->inverse = is_usual ? 1 / q->value.f : NAN;
    return fits ? i - at : 0;
}

static void igemm_finish_join_quants(hg_finish_chain *c, holo_dtype type)
{
    uint32_t to = 0;
    for (uint32_t i = 0; i < c->count;) {
        hg_finish_step q;
        const uint32_t taken = igemm_finish_quant(c, i, type, &q);
        c->step[to++] = taken == 0 ? c->step[i] : q;
        i += taken == 0 ? 1 : taken;
    }
    c->count = to;
}

/* max(v, c) or min(v, c) in front of the last step, which makes codes, limits these instead. */
static bool igemm_finish_limit(hg_finish_chain *c)
{
    if (c->count < 2 || c->step[c->count - 1].kind != HG_FINISH_CODE) return false;
    hg_finish_step *code = &c->step[c->count - 1];
    const hg_finish_step *s = code - 1;
    const float limit = rintf(s->value.f) + code->zero;
    if (!(limit >= code->low && limit <= code->high)) return false;
    if (igemm_finish_is_limit(s, HG_FINISH_MAX))
        code->low = limit;
    else if (igemm_finish_is_limit(s, HG_FINISH_MIN))
        code->high = limit;
    else
        return false;
    c->step[c->count - 2] = *code;
    c->count--;
    return true;
}

/* All factors of a step are at most `limit`. Magnitudes are in the order of their bits, NaN above
 * all: a difference below 0 is one that is larger. Looked at in each call of a kernel, so it had
 * better be short. */
static bool igemm_finish_is_small(const hg_finish *f, const hg_finish_step *s, float limit)
{
    const float *x = s->data == NULL ? &s->value.f : s->data;
    const int64_t count = s->data == NULL || s->step == 0 ? 1 : f->columns;
    int32_t most, bits, differences = 0;
    memcpy(&most, &limit, sizeof most);
    for (int64_t i = 0; i < count; i++) {
        memcpy(&bits, &x[i], sizeof bits);
        differences |= most - (bits & INT32_MAX);
    }
    return s->kind == HG_FINISH_MUL && differences >= 0;
}

/* The side is (code - zero) * scale, of bytes. */
static bool igemm_finish_is_code(const hg_finish *f)
{
    const hg_finish_step *s = f->side.step;
    const uint32_t less = f->side.count == 3;
    return (f->side_type == HOLO_U8 || f->side_type == HOLO_I8) && f->side.count == 2 + less &&
           s[0].kind == HG_FINISH_FLOAT &&
           (less == 0 || (s[1].kind == HG_FINISH_SUB && s[1].data == NULL && s[1].value.f >= -512 &&
                          s[1].value.f <= 512)) &&
           s[1 + less].data == NULL && igemm_finish_is_small(f, &s[1 + less], 1 << 16);
}

/* See hg_finish.is_requant. */
static bool igemm_finish_is_requant(const hg_finish *f)
{
    const hg_finish_chain *c = &f->main;
    const uint32_t first = c->count > 0 && c->step[0].kind == HG_FINISH_ADD_INT;
    const uint32_t joined = f->side_data != NULL;
    if ((f->out_type != HOLO_U8 && f->out_type != HOLO_I8) || c->count != first + 3 + joined)
        return false;
    const hg_finish_step *s = c->step + first, *last = s + 2 + joined;
    return s[0].kind == HG_FINISH_FLOAT && igemm_finish_is_small(f, &s[1], 0.5f) &&
           (joined == 0 || (s[2].kind == HG_FINISH_JOIN && igemm_finish_is_code(f))) &&
           last->kind == HG_FINISH_CODE && last->zero >= -512 && last->zero <= 512 &&
           last->low == (float)(int32_t)last->low && last->high == (float)(int32_t)last->high;
}

/* Operands of each operation, and whether it depends on the sums. */
static void igemm_finish_link(igemm_finish_reader *r, const hg_lane_code *code, uint8_t *writer)
{
    for (uint32_t i = 0; i < code->n_op; i++) {
        const int operands = hg_lane_operands(code->op[i].op);
        r->a[i] = operands > 0 ? writer[code->op[i].a] : 0;
        r->b[i] = operands > 1 ? writer[code->op[i].b] : 0;
        r->depends[i] = (operands > 0 && r->depends[r->a[i]]) ||
                        (operands > 1 && r->depends[r->b[i]]) ||
                        (code->op[i].op == HG_LANE_LOAD && code->op[i].index == 0);
        writer[code->op[i].dst] = (uint8_t)i;
    }
}

bool hg_finish_read(const hg_args *a, uint32_t first_extra, hg_finish *out)
{
    const hg_lane_code *code = a->code;
    uint8_t writer[HG_LANE_MAX_REG] = {0};
    igemm_finish_reader r = {.args = a, .first_extra = first_extra, .out = out};
    const holo_tensor *y = &a->out[0];
    /* not the whole, which is four thousand bytes */
    out->main.count = out->side.count = 0;
    out->side_data = NULL;
    out->side_type = HOLO_NONE;
    out->out = y->data;
    out->out_type = y->dtype;
    out->columns = y->dim[y->rank - 1];
    out->is_requant = false;
    out->lookup = NULL;
    if (code == NULL || code->n_op == 0 || code->n_op > FINISH_MAX_OP) return false;
    if (!hg_dtype_in(y->dtype, HG_TYPE_BIT(HOLO_F32) | HG_TYPE_BIT(HOLO_U8) | HG_TYPE_BIT(HOLO_I8) |
                                   HG_TYPE_BIT(HOLO_I16)))
        return false;
    r.op = code->op;
    igemm_finish_link(&r, code, writer);
    uint32_t last = writer[code->out[0].reg];
    if (y->dtype != HOLO_F32) { /* stored by its low bits */
        if (code->out[0].saturate != 0 || r.op[last].op != HG_LANE_CAST ||
            r.op[last].type != HG_LANE_I32 || r.op[last].index != HG_LANE_F32)
            return false;
        last = r.a[last];
    }
    if (r.op[last].type != HG_LANE_F32 || !igemm_finish_chain(&r, last, &out->main)) return false;
    igemm_finish_join_quants(&out->main, y->dtype);
    igemm_finish_join_quants(&out->side, HOLO_F32);
    while (igemm_finish_limit(&out->main))
        continue;
    out->is_requant = igemm_finish_is_requant(out);
    return true;
}
