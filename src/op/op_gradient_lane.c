/* op_gradient_lane.c - derivatives of point-wise nodes from their lane code.
 *
 * The code is replayed and then walked backwards; what arrives at the load of an input is its
 * gradient. The result is lane code again, so that it fuses and can be differentiated once more.
 * Where a formula chooses (min, max, select) a factor that is infinite may meet an adjoint of 0
 * that was not chosen: products of such formulas take 0 there. Where two operands of min or max are
 * equal, the second one is taken as chosen. */
#include "op/op_gradient.h"

#include <math.h>

typedef struct gradient_tape {
    hg_lane *b;
    const hg_lane_code *code;
    hg_lane_id *value;   /* of each operation */
    hg_lane_id *adjoint; /* likewise; 0: none */
    uint32_t (*from)[3]; /* operations that give its operands */
    bool chooses;
} gradient_tape;

static hg_lane_id tape_1(gradient_tape *t, hg_lane_opcode op, hg_lane_id x)
{
    return hg_lane_1(t->b, op, x);
}

static hg_lane_id tape_2(gradient_tape *t, hg_lane_opcode op, hg_lane_id x, hg_lane_id y)
{
    return hg_lane_2(t->b, op, x, y);
}

static hg_lane_id tape_number(gradient_tape *t, hg_lane_id like, double value)
{
    return hg_lane_const_f(t->b, hg_lane_typeof(t->b, like), value);
}

/* The adjoint d times a factor. */
static hg_lane_id tape_times(gradient_tape *t, hg_lane_id d, hg_lane_id factor)
{
    hg_lane_id product = tape_2(t, HG_LANE_MUL, d, factor), zero = tape_number(t, d, 0.0);
    if (!t->chooses) return product;
    return hg_lane_select(t->b, tape_2(t, HG_LANE_EQ, d, zero), zero, product);
}

static hg_lane_id tape_over(gradient_tape *t, hg_lane_id d, hg_lane_id divisor)
{
    return tape_times(t, d, tape_1(t, HG_LANE_RECIP, divisor));
}

static hg_lane_id tape_square(gradient_tape *t, hg_lane_id x)
{
    return tape_2(t, HG_LANE_MUL, x, x);
}

/* c + sign x^2 */
static hg_lane_id tape_quadratic(gradient_tape *t, double c, hg_lane_opcode sign, hg_lane_id x)
{
    return tape_2(t, sign, tape_number(t, x, c), tape_square(t, x));
}

static void tape_add(gradient_tape *t, uint32_t i, uint32_t operand, hg_lane_id d)
{
    hg_lane_id *sum = &t->adjoint[t->from[i][operand]];
    *sum = *sum == 0 ? d : tape_2(t, HG_LANE_ADD, *sum, d);
}

/* ---- one operation --------------------------------------------------------------------------- */

/* d times what this returns is the adjoint of the operand x; r is the result. 0: no derivative. */
static hg_lane_id tape_slope(gradient_tape *t, uint32_t op, hg_lane_id x, hg_lane_id r)
{
    switch (op) {
    case HG_LANE_ABS: return tape_1(t, HG_LANE_SIGN, x);
    case HG_LANE_EXP: return r;
    case HG_LANE_EXPM1: return tape_2(t, HG_LANE_ADD, r, tape_number(t, r, 1.0));
    case HG_LANE_SIN: return tape_1(t, HG_LANE_COS, x);
    case HG_LANE_COS: return tape_1(t, HG_LANE_NEG, tape_1(t, HG_LANE_SIN, x));
    case HG_LANE_TAN: return tape_quadratic(t, 1.0, HG_LANE_ADD, r);
    case HG_LANE_SINH: return tape_1(t, HG_LANE_COSH, x);
    case HG_LANE_COSH: return tape_1(t, HG_LANE_SINH, x);
    case HG_LANE_TANH: return tape_quadratic(t, 1.0, HG_LANE_SUB, r);
    case HG_LANE_RECIP: return tape_1(t, HG_LANE_NEG, tape_square(t, r));
    case HG_LANE_SIGMOID:
        return tape_2(t, HG_LANE_MUL, r, tape_2(t, HG_LANE_SUB, tape_number(t, r, 1.0), r));
    case HG_LANE_ERF: {
        hg_lane_id bell = tape_1(t, HG_LANE_EXP, tape_1(t, HG_LANE_NEG, tape_square(t, x)));
        return tape_2(t, HG_LANE_MUL, tape_number(t, x, 1.1283791670955126), bell); /* 2/sqrt(pi) */
    }
    default: return 0;
    }
}

/* d over what this returns is the adjoint of the operand. */
static hg_lane_id tape_divisor(gradient_tape *t, uint32_t op, hg_lane_id x, hg_lane_id r)
{
    switch (op) {
    case HG_LANE_SQRT: return tape_2(t, HG_LANE_ADD, r, r);
    case HG_LANE_LOG: return x;
    case HG_LANE_LOG1P: return tape_2(t, HG_LANE_ADD, x, tape_number(t, x, 1.0));
    case HG_LANE_ATAN: return tape_quadratic(t, 1.0, HG_LANE_ADD, x);
    case HG_LANE_ATANH: return tape_quadratic(t, 1.0, HG_LANE_SUB, x);
    case HG_LANE_ASIN: return tape_1(t, HG_LANE_SQRT, tape_quadratic(t, 1.0, HG_LANE_SUB, x));
    case HG_LANE_ACOS:
        return tape_1(t, HG_LANE_NEG,
                      tape_1(t, HG_LANE_SQRT, tape_quadratic(t, 1.0, HG_LANE_SUB, x)));
    case HG_LANE_ASINH: return tape_1(t, HG_LANE_SQRT, tape_quadratic(t, 1.0, HG_LANE_ADD, x));
    case HG_LANE_ACOSH: return tape_1(t, HG_LANE_SQRT, tape_quadratic(t, -1.0, HG_LANE_ADD, x));
    default: return 0;
    }
}

/* x^y: y x^(y-1), 0 for y = 0; x^y log x, 0 for x = 0. */
static void tape_pow(gradient_tape *t, uint32_t i, hg_lane_id d, hg_lane_id x, hg_lane_id y)
{
    hg_lane_id zero = tape_number(t, x, 0.0), one = tape_number(t, x, 1.0);
    hg_lane_id lower = tape_2(t, HG_LANE_POW, x, tape_2(t, HG_LANE_SUB, y, one));
    hg_lane_id slope = hg_lane_select(t->b, tape_2(t, HG_LANE_EQ, y, zero), zero,
                                      tape_2(t, HG_LANE_MUL, y, lower));
    tape_add(t, i, 0, tape_times(t, d, slope));
    slope = tape_2(t, HG_LANE_MUL, t->value[i], tape_1(t, HG_LANE_LOG, x));
    slope = hg_lane_select(t->b, tape_2(t, HG_LANE_EQ, x, zero), zero, slope);
    tape_add(t, i, 1, tape_times(t, d, slope));
}

/* The adjoint goes to operand `yes` where the condition holds, to operand `no` elsewhere. */
static void tape_choose(gradient_tape *t, uint32_t i, hg_lane_id d, hg_lane_id condition,
                        uint32_t yes, uint32_t no)
{
    hg_lane_id zero = tape_number(t, d, 0.0);
    tape_add(t, i, yes, hg_lane_select(t->b, condition, d, zero));
    tape_add(t, i, no, hg_lane_select(t->b, condition, zero, d));
}

static void tape_binary(gradient_tape *t, uint32_t i, hg_lane_id d, hg_lane_id x, hg_lane_id y)
{
    hg_lane_id ratio, square;
    switch (t->code->op[i].op) {
    case HG_LANE_ADD:
        tape_add(t, i, 0, d);
        tape_add(t, i, 1, d);
        return;
    case HG_LANE_SUB:
        tape_add(t, i, 0, d);
        tape_add(t, i, 1, tape_1(t, HG_LANE_NEG, d));
        return;
    case HG_LANE_MUL:
        tape_add(t, i, 0, tape_times(t, d, y));
        tape_add(t, i, 1, tape_times(t, d, x));
        return;
    case HG_LANE_DIV:
        tape_add(t, i, 0, tape_over(t, d, y));
        ratio = tape_1(t, HG_LANE_NEG, tape_2(t, HG_LANE_DIV, t->value[i], y));
        tape_add(t, i, 1, tape_times(t, d, ratio));
        return;
    case HG_LANE_REM: /* x - trunc(x / y) y */
        ratio = tape_1(t, HG_LANE_TRUNC, tape_2(t, HG_LANE_DIV, x, y));
        tape_add(t, i, 0, d);
        tape_add(t, i, 1, tape_times(t, d, tape_1(t, HG_LANE_NEG, ratio)));
        return;
    case HG_LANE_MAX: tape_choose(t, i, d, tape_2(t, HG_LANE_LT, y, x), 0, 1); return;
    case HG_LANE_MIN: tape_choose(t, i, d, tape_2(t, HG_LANE_LT, x, y), 0, 1); return;
    case HG_LANE_POW: tape_pow(t, i, d, x, y); return;
    case HG_LANE_ATAN2:
        square = tape_2(t, HG_LANE_ADD, tape_square(t, x), tape_square(t, y));
        tape_add(t, i, 0, tape_times(t, d, tape_2(t, HG_LANE_DIV, y, square)));
        ratio = tape_1(t, HG_LANE_NEG, tape_2(t, HG_LANE_DIV, x, square));
        tape_add(t, i, 1, tape_times(t, d, ratio));
        return;
    default: return;
    }
}

static bool tape_is_float(uint32_t type)
{
    return type == HG_LANE_F32 || type == HG_LANE_F64;
}

/* Whole numbers and what is constant by parts have no derivative, or 0. */
static void tape_back(gradient_tape *t, uint32_t i)
{
    const hg_lane_op *op = &t->code->op[i];
    const hg_lane_id d = t->adjoint[i];
    const int operands = hg_lane_operands(op->op);
    if (d == 0 || operands == 0 || !tape_is_float(op->type)) return;
    const hg_lane_id x = t->value[t->from[i][0]];
    if (op->op == HG_LANE_SELECT) {
        tape_choose(t, i, d, x, 1, 2);
    } else if (op->op == HG_LANE_NEG) {
        tape_add(t, i, 0, tape_1(t, HG_LANE_NEG, d));
    } else if (op->op == HG_LANE_NARROW) {
        tape_add(t, i, 0, d);
    } else if (op->op == HG_LANE_CAST) {
        if (tape_is_float(op->index))
            tape_add(t, i, 0, hg_lane_cast(t->b, d, (hg_lane_type)op->index));
    } else if (operands == 2) {
        tape_binary(t, i, d, x, t->value[t->from[i][1]]);
    } else {
        hg_lane_id slope = tape_slope(t, op->op, x, t->value[i]);
        hg_lane_id divisor = slope != 0 ? 0 : tape_divisor(t, op->op, x, t->value[i]);
        if (slope != 0) tape_add(t, i, 0, tape_times(t, d, slope));
        if (divisor != 0) tape_add(t, i, 0, tape_over(t, d, divisor));
    }
}

/* ---- the whole ------------------------------------------------------------------------------- */

static holo_status tape_code(hg_gradient *d, hg_lane_code *code)
{
    const hg_attr *own = hg_node_attr(hg_gradient_node(d), "code");
    if (hg_gradient_node(d)->op->lane != NULL) return hg_op_code(d->b->g, d->id, code);
    if (own == NULL || own->kind != HG_ATTR_CODE)
        return hg_gradient_fail(d, "the operator has no rule");
    *code = *own->code;
    return HOLO_OK;
}

/* Operand k is input k of the node; behind them come the gradients of the outputs. */
static holo_status tape_record(hg_gradient *d, gradient_tape *t)
{
    hg_ctx *ctx = d->b->ctx;
    const hg_node *node = hg_gradient_node(d);
    const uint32_t n = t->code->n_op;
    uint32_t *writer;
    hg_lane_id *in;
    t->b = hg_lane_new(&ctx->arena);
    if (t->b == NULL) return hg_fail_nomem(ctx->error, 1024);
    HG_TRY(HG_NEW(ctx, n + 1, &t->value));
    HG_TRY(HG_NEW(ctx, n + 1, &t->adjoint));
    HG_TRY(HG_NEW(ctx, n + 1, &t->from));
    HG_TRY(HG_NEW(ctx, HG_LANE_MAX_REG, &writer));
    HG_TRY(HG_NEW(ctx, node->n_in + 1, &in));
    for (uint32_t i = 0; i < node->n_in; i++)
        if (hg_gradient_input(d, i) != 0)
            in[i] = hg_lane_load(t->b, i, hg_lane_type_of(hg_gradient_type(d, i)->dtype));
    if (!hg_lane_replay(t->b, t->code, in, t->value))
        return hg_gradient_fail(d, "its formula cannot be replayed");
    for (uint32_t i = 0; i < n; i++) {
        const hg_lane_op *op = &t->code->op[i];
        t->chooses |= op->op == HG_LANE_SELECT || op->op == HG_LANE_MAX || op->op == HG_LANE_MIN;
        t->from[i][0] = writer[op->a];
        t->from[i][1] = writer[op->b];
        t->from[i][2] = writer[op->c];
        writer[op->dst] = i;
    }
    for (uint32_t j = 0; j < t->code->n_out; j++) {
        hg_lane_id *sum = &t->adjoint[writer[t->code->out[j].reg]];
        if (d->out[j] == 0 || !tape_is_float(t->code->out[j].type)) continue;
        hg_lane_id g = hg_lane_load(t->b, node->n_in + j, (hg_lane_type)t->code->out[j].type);
        *sum = *sum == 0 ? g : tape_2(t, HG_LANE_ADD, *sum, g);
    }
    return HOLO_OK;
}

/* Operands that the code does not load are left out: their values need not be kept. */
static holo_status tape_compact(hg_gradient *d, hg_lane_code *code, hg_value_id *in)
{
    const hg_node *node = hg_gradient_node(d);
    const uint32_t most = node->n_in + node->n_out;
    uint32_t *place;
    hg_lane_op *op;
    HG_TRY(HG_NEW(d->b->ctx, most + 1, &place));
    HG_TRY(HG_NEW(d->b->ctx, code->n_op + 1, &op));
    memcpy(op, code->op, code->n_op * sizeof *op);
    code->op = op;
    code->n_in = 0;
    for (uint32_t i = 0; i < code->n_op; i++) {
        if (op[i].op != HG_LANE_LOAD) continue;
        const uint32_t k = op[i].index;
        if (place[k] == 0) {
            in[code->n_in] = k < node->n_in ? hg_gradient_input(d, k) : d->out[k - node->n_in];
            place[k] = ++code->n_in;
        }
        op[i].index = place[k] - 1;
    }
    return HOLO_OK;
}

static holo_status tape_emit(hg_gradient *d, gradient_tape *t, uint32_t i, hg_lane_id result)
{
    hg_build *b = d->b;
    const uint32_t most = hg_gradient_node(d)->n_in + hg_gradient_node(d)->n_out;
    const holo_dtype dtype = hg_gradient_type(d, i)->dtype;
    const hg_lane_out kind = {.type = (uint8_t)hg_lane_type_of(dtype)};
    hg_lane_code *code;
    hg_value_id *in;
    HG_TRY(HG_NEW(b->ctx, 1, &code));
    HG_TRY(HG_NEW(b->ctx, most + 1, &in));
    HG_TRY(hg_lane_finish(t->b, most, &result, &kind, 1, code, b->ctx->error));
    HG_TRY(tape_compact(d, code, in));
    if (code->n_op == 1 && code->n_in == 1 && hg_build_type(b, in[0])->dtype == dtype) {
        d->in[i] = in[0]; /* passed on as it is */
        return HOLO_OK;
    }
    const hg_attr attr[] = {hg_attr_make_code("code", code),
                            hg_attr_make_ints(b, "types", &(int64_t){(int64_t)dtype}, 1)};
    d->in[i] = hg_build_op(b, "holo:Lane", in, code->n_in, attr, HG_COUNT(attr));
    return b->status;
}

holo_status hg_gradient_lane(hg_gradient *d)
{
    hg_lane_code code;
    gradient_tape t = {.code = &code};
    HG_TRY(tape_code(d, &code));
    HG_TRY(tape_record(d, &t));
    for (uint32_t i = code.n_op; i-- > 0;)
        tape_back(&t, i);
    for (uint32_t i = 0; i < hg_gradient_node(d)->n_in; i++) {
        hg_lane_id sum = 0;
        if (!d->wanted[i]) continue;
        for (uint32_t k = 0; k < code.n_op; k++) {
            if (code.op[k].op != HG_LANE_LOAD || code.op[k].index != i || t.adjoint[k] == 0)
                continue;
            sum = sum == 0 ? t.adjoint[k] : tape_2(&t, HG_LANE_ADD, sum, t.adjoint[k]);
        }
        if (sum != 0) HG_TRY(tape_emit(d, &t, i, sum));
    }
    return HOLO_OK;
}
