/* lane_body.c - reading, joining and writing point-wise bodies. */
#include "pass/lane_body.h"

bool hg_lane_body_is(const hg_graph *g, hg_node_id id)
{
    const hg_node *n = hg_graph_node(g, id);
    if (n->n_out != 1 || n->out[0] == 0 || n->n_in == 0) return false;
    if (n->op->lane == NULL && !hg_op_is(n, "holo:Lane")) return false;
    for (uint32_t i = 0; i < n->n_in; i++) {
        hg_value_id v = hg_node_in(g, n, i);
        if (v != 0 && hg_lane_type_of(hg_graph_value(g, v)->type.dtype) == 0) return false;
    }
    return true;
}

/* Collects operands of a body under construction; equal values share one. */
typedef struct body_maker {
    hg_graph *g;
    hg_lane *b;
    hg_value_id *in;
    hg_lane_id *load;
    uint32_t n_in;
} body_maker;

static holo_status body_begin(hg_graph *g, uint32_t max_in, body_maker *m)
{
    *m = (body_maker){.g = g, .b = hg_lane_new(&g->ctx->arena)};
    if (m->b == NULL) return hg_fail_nomem(g->ctx->error, 1024);
    HG_TRY(HG_NEW(g->ctx, max_in + 1, &m->in));
    return HG_NEW(g->ctx, max_in + 1, &m->load);
}

/* A constant with one element becomes an immediate. */
static hg_lane_id body_immediate(body_maker *m, hg_value_id value)
{
    const hg_type *t = &hg_graph_value(m->g, value)->type;
    hg_lane_type type = hg_lane_type_of(t->dtype);
    double x;
    const int64_t *ints;
    size_t count;
    if (hg_dtype_is_float(t->dtype) && hg_graph_const_scalar(m->g, value, &x))
        return hg_lane_const_f(m->b, type, x);
    if (!hg_dtype_is_float(t->dtype) && hg_graph_const_ints(m->g, value, &ints, &count) &&
        count == 1)
        return hg_lane_const_i(m->b, type, ints[0]);
    return 0;
}

/* `immediates`: whether constants may leave the list of operands. An operand whose rank makes the
 * result's rank must stay one. */
static hg_lane_id body_operand(body_maker *m, hg_value_id value, bool immediates)
{
    if (value == 0) return 0;
    hg_lane_id made = immediates ? body_immediate(m, value) : 0;
    if (made != 0) return made;
    for (uint32_t i = 0; i < m->n_in; i++)
        if (m->in[i] == value) return m->load[i];
    m->in[m->n_in] = value;
    m->load[m->n_in] =
        hg_lane_load(m->b, m->n_in, hg_lane_type_of(hg_graph_value(m->g, value)->type.dtype));
    return m->load[m->n_in++];
}

static holo_status body_end(body_maker *m, hg_lane_id result, holo_dtype dtype, hg_lane_out kind,
                            hg_lane_body *out)
{
    *out = (hg_lane_body){.in = m->in, .n_in = m->n_in, .dtype = dtype, .out = kind};
    HG_TRY(hg_lane_finish(m->b, m->n_in, &result, &kind, 1, &out->code, m->g->ctx->error));
    return HOLO_OK;
}

/* At least one operand keeps the shape: constants are immediates only beside one of full rank. */
static bool body_has_full_operand(const hg_graph *g, const hg_node *n)
{
    int32_t rank = hg_graph_value(g, n->out[0])->type.rank;
    for (uint32_t i = 0; i < n->n_in; i++) {
        hg_value_id v = hg_node_in(g, n, i);
        if (v != 0 && !hg_graph_is_const(g, v) && hg_graph_value(g, v)->type.rank == rank)
            return true;
    }
    return false;
}

holo_status hg_lane_body_read(hg_graph *g, hg_node_id id, hg_lane_body *out)
{
    const hg_node *n = hg_graph_node(g, id);
    hg_lane_code code;
    if (n->op->lane != NULL)
        HG_TRY(hg_op_code(g, id, &code));
    else
        code = *hg_node_attr(n, "code")->code;
    n = hg_graph_node(g, id);
    body_maker m;
    hg_lane_id *in, result;
    HG_TRY(body_begin(g, n->n_in, &m));
    HG_TRY(HG_NEW(g->ctx, n->n_in + 1, &in));
    bool immediates = body_has_full_operand(g, n);
    for (uint32_t i = 0; i < n->n_in; i++)
        in[i] = body_operand(&m, hg_node_in(g, n, i), immediates);
    if (!hg_lane_inline(m.b, &code, in, &result)) {
        /* The builder knows whether memory ran out. */
        HG_TRY(hg_lane_finish(m.b, 0, NULL, NULL, 0, &code, g->ctx->error));
        return hg_fail_nomem(g->ctx->error, sizeof(hg_lane_op)); /* the code itself is sound */
    }
    return body_end(&m, result, hg_graph_value(g, n->out[0])->type.dtype, code.out[0], out);
}

holo_status hg_lane_body_join(hg_graph *g, const hg_lane_body *inner, hg_value_id value,
                              const hg_lane_body *outer, hg_lane_body *out)
{
    body_maker m;
    hg_lane_id *in, middle, result;
    HG_TRY(body_begin(g, inner->n_in + outer->n_in, &m));
    HG_TRY(HG_NEW(g->ctx, inner->n_in + outer->n_in + 1, &in));
    for (uint32_t i = 0; i < inner->n_in; i++)
        in[i] = body_operand(&m, inner->in[i], false);
    if (!hg_lane_inline(m.b, &inner->code, in, &middle))
        return hg_fail_nomem(g->ctx->error, sizeof(hg_lane_op)); /* the code itself is sound */
    middle = hg_lane_narrow(m.b, middle, inner->dtype, inner->out.saturate != 0);
    for (uint32_t i = 0; i < outer->n_in; i++)
        in[i] = outer->in[i] == value ? middle : body_operand(&m, outer->in[i], false);
    if (!hg_lane_inline(m.b, &outer->code, in, &result))
        return hg_fail_nomem(g->ctx->error, sizeof(hg_lane_op)); /* the code itself is sound */
    return body_end(&m, result, outer->dtype, outer->out, out);
}

holo_status hg_lane_body_lead(hg_graph *g, const hg_lane_body *body, hg_value_id first,
                              hg_lane_body *out)
{
    body_maker m;
    hg_lane_id *in, result;
    HG_TRY(body_begin(g, body->n_in + 1, &m));
    HG_TRY(HG_NEW(g->ctx, body->n_in + 1, &in));
    (void)body_operand(&m, first, false);
    for (uint32_t i = 0; i < body->n_in; i++)
        in[i] = body_operand(&m, body->in[i], false);
    if (!hg_lane_inline(m.b, &body->code, in, &result))
        return hg_fail_nomem(g->ctx->error, sizeof(hg_lane_op)); /* the code itself is sound */
    return body_end(&m, result, body->dtype, body->out, out);
}

holo_status hg_lane_body_replace(hg_graph *g, hg_node_id id, const hg_lane_body *body,
                                 hg_node_id *out)
{
    hg_build b;
    hg_build_init(&b, g, id);
    hg_lane_code *code;
    HG_TRY(HG_NEW(g->ctx, 1, &code));
    *code = body->code;
    int64_t dtype = (int64_t)body->dtype;
    hg_attr attr[2] = {hg_attr_make_code("code", code), hg_attr_make_ints(&b, "types", &dtype, 1)};
    hg_node_id made = hg_build_node(&b, "holo:Lane", body->in, body->n_in, attr, 2, 1);
    if (made == 0) return b.status;
    hg_build_replace(&b, 0, hg_graph_node(g, made)->out[0]);
    hg_graph_remove_node(g, id);
    *out = made;
    return b.status;
}
