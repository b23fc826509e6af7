/* verify.c - a program that passes cannot fault the run loop: every index is in range, every value is
 * defined before it is used, symbols are bound before they are needed. Sizes and kernel arguments are
 * checked when they are known, by the runtime's prepare and the kernels' own checks. */
#include "isa/program.h"

#define VERIFY(condition, ...)                                                                     \
    do {                                                                                           \
        if (HG_UNLIKELY(!(condition))) return hg_fail(e, HOLO_E_FORMAT, __VA_ARGS__);              \
    } while (0)

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
        VERIFY(p->kernel[i] < p->head.n_text, "the name of kernel %u lies outside the text table", i);
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
        VERIFY(d->op != HG_DIM_SELECT || (d->c != 0 && d->c < i),
               "dimension %u selects %u, expected a smaller number", i, d->c);
    }
    for (uint32_t i = 0; i < p->head.n_symbol; i++) {
        const hg_symbol_rec *s = &p->symbol[i];
        VERIFY(s->kind >= HG_SYMBOL_INPUT && s->kind <= HG_SYMBOL_SIZE,
               "symbol %u has unknown kind %u", i, s->kind);
        VERIFY(s->name < p->head.n_text, "the name of symbol %u lies outside the text table", i);
        VERIFY(s->kind == HG_SYMBOL_INPUT || (s->value != 0 && s->value < p->head.n_value),
               "symbol %u refers to value %u of %u", i, s->value, p->head.n_value);
        VERIFY(s->kind != HG_SYMBOL_SIZE ||
                   (int64_t)s->index < (int64_t)p->value[s->value].rank,
               "symbol %u is dimension %u of a value of rank %d", i, s->index,
               p->value[s->value].rank);
    }
    return HOLO_OK;
}

static holo_status verify_value(const hg_program *p, uint32_t i, holo_error *e)
{
    const hg_value_rec *v = &p->value[i];
    VERIFY(hg_dtype_is_valid(v->dtype), "value %u has unknown element type %u", i, v->dtype);
    VERIFY(v->rank >= -1 && v->rank <= HG_MAX_RANK, "value %u has rank %d, at most %d is allowed", i,
           v->rank, HG_MAX_RANK);
    VERIFY(v->name < p->head.n_text, "the name of value %u lies outside the text table", i);
    if (v->rank > 0) {
        VERIFY(verify_slice(v->dims, (uint32_t)v->rank, p->head.n_list),
               "the dimensions of value %u lie outside the list", i);
        for (int32_t k = 0; k < v->rank; k++) {
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
        VERIFY(v->ref < p->head.n_weight && v->rank >= 0, "value %u refers to weight %u of %u", i,
               v->ref, p->head.n_weight);
    if (v->storage == HG_STORAGE_ALIAS)
        VERIFY(v->ref != 0 && v->ref < i && p->value[v->ref].storage != HG_STORAGE_ALIAS &&
                   v->offset < p->head.n_dim && hg_dtype_bits((holo_dtype)v->dtype) % 8 == 0,
               "value %u is a view of %u, which is not possible", i, v->ref);
    return HOLO_OK;
}

static holo_status verify_values(const hg_program *p, uint64_t weight_bytes, holo_error *e)
{
    VERIFY(p->head.n_value > 0, "the table of values is empty");
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
        HG_TRY(verify_value(p, i, e));
    for (uint32_t i = 0; i < p->head.n_out; i++)
        VERIFY(p->out[i].name < p->head.n_text && p->out[i].value != 0 &&
                   p->out[i].value < p->head.n_value,
               "output %u is not a proper value", i);
    return HOLO_OK;
}

static holo_status verify_code(const hg_program *p, holo_error *e)
{
    for (uint32_t i = 0; i < p->head.n_code; i++) {
        const hg_code_rec *r = &p->code_rec[i];
        VERIFY(verify_slice(r->first_op, r->n_op, p->head.n_lane_op) &&
                   verify_slice(r->first_out, r->n_out, p->head.n_lane_out),
               "lane code %u lies outside its table", i);
        hg_lane_code code = hg_program_code(p, i);
        HG_TRY(hg_lane_verify(&code, e));
    }
    return HOLO_OK;
}

static holo_status verify_operands(const hg_program *p, uint32_t i, holo_error *e)
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
        VERIFY(v < p->head.n_value && (v == 0 || p->value[v].storage == HG_STORAGE_ARENA),
               "step %u writes value %u, which it may not", i, v);
    }
    uint32_t n_number = s->op == HG_STEP_BIND ? p->head.n_symbol : p->head.n_dim;
    for (uint32_t k = 0; k < s->n_param; k++) {
        uint32_t d = p->list[s->param + k];
        VERIFY(d < n_number && (d != 0 || s->op == HG_STEP_BIND), "step %u has parameter %u of %u",
               i, d, n_number);
    }
    VERIFY(s->name < p->head.n_text, "the name of step %u lies outside the text table", i);
    VERIFY(s->code <= p->head.n_code, "step %u refers to lane code %u of %u", i, s->code,
           p->head.n_code);
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
    case HG_STEP_LOOP:
        VERIFY(false, "step %u: control flow is not supported by this version", i);
    }
    VERIFY(false, "step %u has unknown operation %u", i, s->op);
}

holo_status hg_program_verify(const hg_program *p, uint64_t weight_bytes, holo_error *e)
{
    HG_TRY(verify_text(p, e));
    HG_TRY(verify_values(p, weight_bytes, e));
    HG_TRY(verify_dims(p, e));
    HG_TRY(verify_code(p, e));
    VERIFY(p->head.numerics <= HOLO_EXACT, "unknown numerics %u", p->head.numerics);
    for (uint32_t i = 0; i < p->head.n_step; i++) {
        HG_TRY(verify_operands(p, i, e));
        HG_TRY(verify_step(p, i, e));
    }
    return HOLO_OK;
}
