/* verify.c - a program that passes cannot fault the run loop: every index is in range, every value
 * is defined before it is used, symbols are bound before they are needed. Sizes and kernel
 * arguments are checked when they are known, by the runtime's prepare and the kernels' own checks.
 */
#include "isa/deep.h"
#include "isa/program.h"

#define VERIFY(condition, ...) HG_REQUIRE(e, condition, HOLO_E_FORMAT, __VA_ARGS__)

static bool verify_slice(uint32_t first, uint32_t count, uint32_t total)
{
    return first <= total && count <= total - first;
}

static holo_status verify_text(const hg_program *p, holo_error *e)
{
    VERIFY(p->head.n_text > 0 && p->text[p->head.n_text - 1] == 0,
           "the text table does not end with a zero byte");
    VERIFY(p->head.name < p->head.n_text, "the graph's name lies outside the text table");
    for (uint32_t i = 0; i < p->head.n_kernel; i++)
        VERIFY(p->kernel[i] < p->head.n_text, "the name of kernel %u lies outside the text table",
               i);
    return HOLO_OK;
}

static holo_status verify_dims(const hg_program *p, holo_error *e)
{
    VERIFY(p->head.n_dim > 0, "the table of dimensions is empty");
    for (uint32_t i = 1; i < p->head.n_dim; i++) {
        const hg_dim_rec *d = &p->dim[i];
        VERIFY(d->op >= HG_DIM_CONST && d->op <= HG_DIM_TRUNCDIV,
               "dimension %u has unknown operation %u", i, d->op);
        if (d->op == HG_DIM_CONST) continue;
        if (d->op == HG_DIM_SYMBOL) {
            VERIFY(d->value >= 0 && d->value < p->head.n_symbol,
                   "dimension %u refers to symbol %lld of %u", i, (long long)d->value,
                   p->head.n_symbol);
            continue;
        }
        VERIFY(d->a != 0 && d->a < i && d->b != 0 && d->b < i,
               "dimension %u is made of %u and %u, expected smaller numbers", i, d->a, d->b);
        VERIFY(d->op == HG_DIM_SELECT ? d->c != 0 && d->c < i : d->c == 0,
               "dimension %u has %u as third operand, which it may not", i, d->c);
    }
    for (uint32_t i = 0; i < p->head.n_symbol; i++) {
        const hg_symbol_rec *s = &p->symbol[i];
        VERIFY(s->kind >= HG_SYMBOL_INPUT && s->kind <= HG_SYMBOL_SIZE,
               "symbol %u has unknown kind %u", i, s->kind);
        VERIFY(s->name < p->head.n_text, "the name of symbol %u lies outside the text table", i);
        VERIFY(s->kind == HG_SYMBOL_INPUT || (s->value != 0 && s->value < p->head.n_value),
               "symbol %u refers to value %u of %u", i, s->value, p->head.n_value);
        VERIFY(s->kind != HG_SYMBOL_SIZE || (int64_t)s->index < (int64_t)p->value[s->value].rank,
               "symbol %u is dimension %u of a value of rank %d", i, s->index,
               p->value[s->value].rank);
    }
    return HOLO_OK;
}

/* Lists of dims that were looked at last: layers repeat, and equal lists are one. */
enum { VERIFY_KNOWN = 32 };

typedef struct verify_known {
    uint32_t first[VERIFY_KNOWN], count[VERIFY_KNOWN];
} verify_known;

/* Entries [first, first + count) of the list have been looked at, or will be now. */
static bool verify_is_known(verify_known *known, uint32_t first, uint32_t count)
{
    const uint32_t i = first % VERIFY_KNOWN;
    if (known->first[i] == first && count <= known->count[i]) return true;
    known->first[i] = first;
    known->count[i] = count;
    return false;
}

static holo_status verify_value(const hg_program *p, uint32_t i, verify_known *known, holo_error *e)
{
    const hg_value_rec *v = &p->value[i];
    VERIFY(hg_dtype_is_valid(v->dtype), "value %u has unknown element type %u", i, v->dtype);
    if (v->dtype < 64 && !HG_IS_LINKED(v->dtype))
        return hg_fail(e, HOLO_E_KERNEL, "this runtime was made without the type %s of value %u",
                       holo_dtype_text((holo_dtype)v->dtype), i);
    VERIFY(v->rank >= -1 && v->rank <= HG_MAX_RANK, "value %u has rank %d, at most %d is allowed",
           i, v->rank, HG_MAX_RANK);
    if (v->rank > 0) {
        VERIFY(verify_slice(v->dims, (uint32_t)v->rank, p->head.n_list),
               "the dimensions of value %u lie outside the list", i);
        const bool is_known = verify_is_known(known, v->dims, (uint32_t)v->rank);
        for (int32_t k = 0; !is_known && k < v->rank; k++) {
            uint32_t d = p->list[v->dims + (uint32_t)k];
            VERIFY(d != 0 && d < p->head.n_dim, "value %u has dimension number %u of %u", i, d,
                   p->head.n_dim);
        }
    }
    VERIFY(v->storage >= HG_STORAGE_INPUT && v->storage <= HG_STORAGE_ALIAS,
           "value %u has unknown storage %u", i, v->storage);
    if (v->storage == HG_STORAGE_INPUT)
        VERIFY(v->ref < p->head.n_in && p->in[v->ref].value == i,
               "value %u says it is input %u, which it is not", i, v->ref);
    if (v->storage == HG_STORAGE_WEIGHT)
        VERIFY(v->ref < p->head.n_weight && v->rank >= 0 && !hg_is_container((holo_dtype)v->dtype),
               "value %u refers to weight %u of %u", i, v->ref, p->head.n_weight);
    if (v->storage == HG_STORAGE_ALIAS)
        VERIFY(v->ref != 0 && v->ref < i && p->value[v->ref].storage != HG_STORAGE_ALIAS &&
                   v->offset < p->head.n_dim && hg_dtype_bits((holo_dtype)v->dtype) % 8 == 0 &&
                   (p->value[v->ref].dtype == v->dtype ||
                    (!hg_is_deep((holo_dtype)v->dtype) &&
                     !hg_is_deep((holo_dtype)p->value[v->ref].dtype))),
               "value %u is a view of %u, which is not possible", i, v->ref);
    return HOLO_OK;
}

static holo_status verify_values(const hg_program *p, uint64_t weight_bytes, verify_known *known,
                                 holo_error *e)
{
    VERIFY(p->head.n_value > 0, "the table of values is empty");
    VERIFY(p->value[0].storage == 0, "value 0 has storage %u, but stands for no value",
           p->value[0].storage);
    for (uint32_t i = 0; i < p->head.n_in; i++)
        VERIFY(p->in[i].name < p->head.n_text && p->in[i].value != 0 &&
                   p->in[i].value < p->head.n_value &&
                   p->value[p->in[i].value].storage == HG_STORAGE_INPUT &&
                   p->value[p->in[i].value].ref == i,
               "input %u is not a proper input value", i);
    for (uint32_t i = 0; i < p->head.n_weight; i++)
        VERIFY(p->weight[i].offset <= weight_bytes &&
                   p->weight[i].bytes <= weight_bytes - p->weight[i].offset &&
                   p->weight[i].offset % HG_ALIGN == 0,
               "weight %u lies outside the weights section or is not aligned", i);
    for (uint32_t i = 1; i < p->head.n_value; i++)
        HG_TRY(verify_value(p, i, known, e));
    for (uint32_t i = 0; i < p->head.n_out; i++)
        VERIFY(p->out[i].name < p->head.n_text && p->out[i].value != 0 &&
                   p->out[i].value < p->head.n_value,
               "output %u is not a proper value", i);
    return HOLO_OK;
}

static holo_status verify_code(const hg_program *p, holo_error *e)
{
    hg_lane_code before = {0};
    for (uint32_t i = 0; i < p->head.n_code; i++) {
        const hg_code_rec *r = &p->code_rec[i];
        VERIFY(verify_slice(r->first_op, r->n_op, p->head.n_lane_op) &&
                   verify_slice(r->first_out, r->n_out, p->head.n_lane_out),
               "lane code %u lies outside its table", i);
        hg_lane_code code = hg_program_code(p, i);
        if (i == 0 || !hg_lane_is_alike(&code, &before)) HG_TRY(hg_lane_verify(&code, e));
        before = code;
    }
    return HOLO_OK;
}

/* Value v, which a step writes, is a part of another one. Elements that point elsewhere must all be
 * there before any is read, which nobody could promise. */
static bool verify_is_part(const hg_program *p, const hg_step_rec *s, uint32_t v)
{
    const hg_value_rec *r = &p->value[v];
    return s->op == HG_STEP_KERNEL && r->storage == HG_STORAGE_ALIAS &&
           p->value[r->ref].storage == HG_STORAGE_ARENA && !hg_is_deep((holo_dtype)r->dtype);
}

static holo_status verify_operands(const hg_program *p, uint32_t i, verify_known *known,
                                   holo_error *e)
{
    const hg_step_rec *s = &p->step[i];
    VERIFY(s->n_in <= HG_MAX_IN && s->n_out <= HG_MAX_OUT && s->n_param <= HG_MAX_PARAM,
           "step %u has %u inputs, %u outputs and %u parameters", i, s->n_in, s->n_out, s->n_param);
    VERIFY(verify_slice(s->in, s->n_in, p->head.n_list) &&
               verify_slice(s->out, s->n_out, p->head.n_list) &&
               verify_slice(s->param, s->n_param, p->head.n_list),
           "the operands of step %u lie outside the list", i);
    for (uint32_t k = 0; k < s->n_in; k++)
        VERIFY(p->list[s->in + k] < p->head.n_value, "step %u reads value %u of %u", i,
               p->list[s->in + k], p->head.n_value);
    for (uint32_t k = 0; k < s->n_out; k++) {
        uint32_t v = p->list[s->out + k];
        VERIFY(v < p->head.n_value &&
                   (v == 0 || p->value[v].storage == HG_STORAGE_ARENA || verify_is_part(p, s, v)),
               "step %u writes value %u, which it may not", i, v);
    }
    uint32_t n_number = s->op == HG_STEP_BIND ? p->head.n_symbol : p->head.n_dim;
    const bool is_known = s->op != HG_STEP_BIND && verify_is_known(known, s->param, s->n_param);
    for (uint32_t k = 0; !is_known && k < s->n_param; k++) {
        uint32_t d = p->list[s->param + k];
        VERIFY(d < n_number && (d != 0 || s->op == HG_STEP_BIND), "step %u has parameter %u of %u",
               i, d, n_number);
    }
    VERIFY(s->code <= p->head.n_code, "step %u refers to lane code %u of %u", i, s->code,
           p->head.n_code);
    return HOLO_OK;
}

static holo_status verify_loop(const hg_program *p, uint32_t i, holo_error *e)
{
    const hg_step_rec *s = &p->step[i];
    VERIFY(s->n_param >= 1 && s->n_in >= 2, "step %u: LOOP takes a trip count and a condition", i);
    for (uint32_t k = 0; k < s->n_param; k++) {
        const hg_dim_rec *d = &p->dim[p->list[s->param + k]];
        int64_t most = k == 0 ? hg_min(s->n_in - 2, s->n_out) : 1;
        VERIFY(d->op == HG_DIM_CONST && d->value >= 0 && d->value <= most,
               "step %u: LOOP has parameter %u above %lld", i, k, (long long)most);
    }
    VERIFY(s->n_param - 1u == s->n_out - hg_program_n_carried(p, s),
           "step %u: LOOP has %u parameters for %u outputs", i, s->n_param, s->n_out);
    return HOLO_OK;
}

static holo_status verify_step(const hg_program *p, uint32_t i, holo_error *e)
{
    const hg_step_rec *s = &p->step[i];
    switch ((hg_opcode)s->op) {
    case HG_STEP_KERNEL:
        VERIFY(s->kernel < p->head.n_kernel, "step %u calls kernel %u of %u", i, s->kernel,
               p->head.n_kernel);
        return HOLO_OK;
    case HG_STEP_BIND:
        VERIFY(s->n_in == 1 && p->list[s->in] != 0 && s->n_out == 0,
               "step %u: BIND takes one tensor", i);
        for (uint32_t k = 0; k < s->n_param; k++) {
            const hg_symbol_rec *y = &p->symbol[p->list[s->param + k]];
            VERIFY(y->kind == HG_SYMBOL_CONTENT && y->value == p->list[s->in],
                   "step %u binds a symbol that is not of its tensor", i);
        }
        return HOLO_OK;
    case HG_STEP_DIMS:
        VERIFY(s->n_in == 0 && s->n_out == 1 && p->list[s->out] != 0,
               "step %u: DIMS gives one tensor", i);
        return HOLO_OK;
    case HG_STEP_IF:
        VERIFY(s->n_in >= 1 && p->list[s->in] != 0 && s->n_param == 0 && s->a != s->b,
               "step %u: IF takes a condition and two bodies", i);
        return HOLO_OK;
    case HG_STEP_LOOP: return verify_loop(p, i, e);
    }
    VERIFY(false, "step %u has unknown operation %u", i, s->op);
}

holo_status hg_program_verify(const hg_program *p, uint64_t weight_bytes, holo_error *e)
{
    verify_known known = {.count = {0}};
    HG_TRY(verify_text(p, e));
    HG_TRY(verify_values(p, weight_bytes, &known, e));
    HG_TRY(verify_dims(p, e));
    HG_TRY(verify_code(p, e));
    VERIFY(p->head.is_body <= 1, "the head says neither graph nor body");
    VERIFY(p->head.numerics <= HOLO_EXACT, "unknown numerics %u", p->head.numerics);
    for (uint32_t i = 0; i < p->head.n_step; i++) {
        HG_TRY(verify_operands(p, i, &known, e));
        HG_TRY(verify_step(p, i, e));
    }
    return HOLO_OK;
}

/* ---- bodies ---------------------------------------------------------------------------------- */

uint32_t hg_program_n_carried(const hg_program *p, const hg_step_rec *s)
{
    return (uint32_t)p->dim[p->list[s->param]].value;
}

static bool verify_same_type(const hg_program *p, uint32_t v, const hg_program *q, uint32_t w)
{
    const hg_value_rec *a = &p->value[v], *b = &q->value[w];
    return a->dtype == b->dtype && (a->rank == b->rank || a->rank < 0 || b->rank < 0);
}

/* Inputs [first, first + count) of the step are inputs [port, port + count) of the body. */
static holo_status verify_body_inputs(const hg_program *p, uint32_t i, uint32_t first,
                                      const hg_program *body, uint32_t port, holo_error *e)
{
    for (uint32_t k = 0; port + k < body->head.n_in; k++) {
        uint32_t v = p->list[p->step[i].in + first + k];
        VERIFY(v != 0 && verify_same_type(p, v, body, body->in[port + k].value),
               "step %u: input %u does not fit input %u of its body", i, first + k, port + k);
    }
    return HOLO_OK;
}

static holo_status verify_body_output(const hg_program *p, uint32_t i, uint32_t j,
                                      const hg_program *body, uint32_t port, holo_error *e)
{
    uint32_t v = p->list[p->step[i].out + j];
    VERIFY(v == 0 || verify_same_type(p, v, body, body->out[port].value),
           "step %u: output %u does not fit output %u of its body", i, j, port);
    return HOLO_OK;
}

static holo_status verify_if_bodies(const hg_program *p, uint32_t i, const hg_program *a,
                                    const hg_program *b, holo_error *e)
{
    const hg_step_rec *s = &p->step[i];
    VERIFY(s->n_in - 1u == (uint64_t)a->head.n_in + b->head.n_in && s->n_out == a->head.n_out &&
               s->n_out == b->head.n_out,
           "step %u: IF has %u inputs and %u outputs, its bodies %u and %u, %u and %u", i, s->n_in,
           s->n_out, a->head.n_in, b->head.n_in, a->head.n_out, b->head.n_out);
    HG_TRY(verify_body_inputs(p, i, 1, a, 0, e));
    HG_TRY(verify_body_inputs(p, i, 1 + a->head.n_in, b, 0, e));
    for (uint32_t j = 0; j < s->n_out; j++) {
        HG_TRY(verify_body_output(p, i, j, a, j, e));
        HG_TRY(verify_body_output(p, i, j, b, j, e));
    }
    return HOLO_OK;
}

static bool verify_is_scalar(const hg_program *p, uint32_t v, holo_dtype dtype)
{
    return p->value[v].dtype == dtype && p->value[v].rank == 0;
}

static holo_status verify_loop_bodies(const hg_program *p, uint32_t i, const hg_program *a,
                                      holo_error *e)
{
    const hg_step_rec *s = &p->step[i];
    uint32_t n_carried = hg_program_n_carried(p, s);
    VERIFY(s->n_in == a->head.n_in && s->n_out + 1u == a->head.n_out,
           "step %u: LOOP has %u inputs and %u outputs, its body %u and %u", i, s->n_in, s->n_out,
           a->head.n_in, a->head.n_out);
    VERIFY(verify_is_scalar(a, a->in[0].value, HOLO_I64) &&
               verify_is_scalar(a, a->in[1].value, HOLO_BOOL) &&
               a->value[a->out[0].value].dtype == HOLO_BOOL,
           "step %u: the body of LOOP does not take a counter and a condition", i);
    HG_TRY(verify_body_inputs(p, i, 2, a, 2, e));
    for (uint32_t j = 0; j < s->n_out; j++) {
        uint32_t v = p->list[s->out + j], inner = a->out[j + 1].value;
        if (j < n_carried) {
            VERIFY(verify_same_type(a, inner, a, a->in[j + 2].value),
                   "step %u: LOOP gives carried value %u another type", i, j);
            HG_TRY(verify_body_output(p, i, j, a, j + 1, e));
            continue;
        }
        bool collects = p->dim[p->list[s->param + 1 + j - n_carried]].value == 1;
        VERIFY(v == 0 || p->value[v].dtype == (collects ? HOLO_SEQUENCE : a->value[inner].dtype),
               "step %u: output %u does not fit what the body gives", i, j);
        VERIFY(collects || hg_dtype_bits((holo_dtype)a->value[inner].dtype) != 0,
               "step %u: output %u stacks what is no tensor", i, j);
    }
    return HOLO_OK;
}

holo_status hg_program_verify_bodies(const hg_program *p, uint32_t i, const hg_program *a,
                                     const hg_program *b, holo_error *e)
{
    return b != NULL ? verify_if_bodies(p, i, a, b, e) : verify_loop_bodies(p, i, a, e);
}
