/* op_codes.c - constant 8-bit codes: what packings of products and convolutions share. */
#include "op/op_codes.h"

#include "kernel/igemm.h"

static int32_t codes_signed(const hg_value *v, int64_t i)
{
    const uint8_t code = ((const uint8_t *)v->constant->data)[i];
    if (v->type.dtype == HOLO_U8) return code - HG_CODE_LIFT;
    return code < HG_CODE_LIFT ? code : code - 2 * HG_CODE_LIFT;
}

static int32_t codes_size(const hg_value *v, const hg_code_columns *c, int64_t column, int64_t k)
{
    const int32_t code =
        codes_signed(v, column * c->column_step + k % c->channels * c->channel_step +
                            k / c->channels * c->tap_step);
    return code < 0 ? -code : code;
}

bool hg_codes_are_pairs(const hg_graph *g, const hg_code_columns *c)
{
    const hg_value *v = hg_graph_value(g, c->value);
    if (c->k > HG_PAIR_DEPTH) return false;
    for (int64_t j = 0; j < c->columns; j++)
        for (int64_t k = 0; k + 1 < c->k; k += 2)
            if (codes_size(v, c, j, k) + codes_size(v, c, j, k + 1) > HG_PAIR_LIMIT) return false;
    return true;
}

bool hg_codes_zero_fits(const hg_graph *g, hg_value_id zero, int64_t columns)
{
    if (zero == 0) return true;
    const hg_value *v = hg_graph_value(g, zero);
    if (v->constant == NULL || v->type.rank > 1) return false;
    return v->constant->bytes == 1 || v->constant->bytes == (size_t)columns;
}

hg_value_id hg_build_codes_zero(hg_build *b, hg_value_id zero, holo_dtype codes, int64_t columns)
{
    if (b->status != HOLO_OK || (zero == 0 && codes == HOLO_I8)) return 0;
    int32_t *list;
    bool any = false;
    b->status = HG_NEW(b->ctx, (size_t)columns + 1, &list);
    for (int64_t j = 0; b->status == HOLO_OK && j < columns; j++) {
        const hg_value *v = zero == 0 ? NULL : hg_graph_value(b->g, zero);
        list[j] = v == NULL ? -HG_CODE_LIFT : codes_signed(v, v->constant->bytes == 1 ? 0 : j);
        any |= list[j] != 0;
    }
    const hg_type type = {
        .dtype = HOLO_I32, .rank = 1, .dim = {hg_dim_const(&b->g->dims, columns)}};
    return any ? hg_build_const(b, type, list, (size_t)columns * sizeof *list) : 0;
}

/* Input i is a constant table [256] of that type. */
static bool codes_is_table(const hg_infer *n, uint32_t i, holo_dtype dtype)
{
    const hg_type *t = i < n->n_in ? n->in[i] : NULL;
    return t != NULL && t->rank == 1 && t->dtype == dtype && hg_dim_is(n->dims, t->dim[0], 256) &&
           hg_graph_is_const(n->g, hg_node_in(n->g, n->node, i));
}

uint32_t hg_codes_tables(const hg_node *n)
{
    const uint32_t load = hg_node_int(n, "load", 0) != 0;
    return load + (hg_node_int(n, "lookup", 0) != 0 ? 1 : 0);
}

holo_status hg_infer_lookup(const hg_infer *n)
{
    int64_t lookup, load;
    HG_TRY(hg_attr_int(n, "lookup", 0, &lookup));
    HG_TRY(hg_attr_int(n, "load", 0, &load));
    const uint32_t last = n->n_in - (load != 0 ? 2 : 1);
    if (load != 0 && !codes_is_table(n, n->n_in - 1, n->in[0]->dtype))
        return hg_infer_fail(n, HOLO_E_MODEL, "the last input is no constant table [256] of %s",
                             holo_dtype_text(n->in[0]->dtype));
    if (lookup != 0 && !codes_is_table(n, last, n->out[0].dtype))
        return hg_infer_fail(n, HOLO_E_MODEL, "input %u is no constant table [256] of %s", last,
                             holo_dtype_text(n->out[0].dtype));
    return HOLO_OK;
}

bool hg_codes_table_fits(const hg_graph *g, const hg_node *n)
{
    if (!hg_op_is(n, "holo:Table")) return false;
    const hg_type *codes = &hg_graph_value(g, hg_node_in(g, n, 0))->type,
                  *table = &hg_graph_value(g, hg_node_in(g, n, 1))->type;
    return (codes->dtype == HOLO_U8 || codes->dtype == HOLO_I8) && table->dtype == codes->dtype &&
           table->rank == 1 && hg_dim_is(&g->dims, table->dim[0], 256) &&
           hg_node_int(n, "base", 0) == 0 && hg_node_int(n, "classes", 0) == 0;
}

hg_node_id hg_build_codes_table(hg_build *b, hg_node_id product, hg_value_id x, hg_value_id table,
                                const char *attr_name)
{
    const hg_node *p = hg_graph_node(b->g, product);
    const char *name = hg_op_is(p, "holo:ConvNhwcI8") ? "holo:ConvNhwcI8" : "holo:MatMulP16I8";
    const uint32_t n_in = (uint32_t)hg_max(p->n_in, HG_IGEMM_FIRST_EXTRA), n_attr = p->n_attr;
    hg_value_id *in = hg_arena_array(&b->ctx->arena, n_in + 1, sizeof *in);
    hg_attr *attr = hg_arena_array(&b->ctx->arena, n_attr + 1, sizeof *attr);
    if (in == NULL || attr == NULL) {
        b->status = hg_fail_nomem(b->ctx->error, (n_in + 1) * sizeof *in);
        return 0;
    }
    for (uint32_t i = 0; i < n_in; i++)
        in[i] = i == 0 ? x : i < p->n_in ? hg_node_in(b->g, p, i) : 0;
    in[n_in] = table;
    for (uint32_t i = 0; i < n_attr; i++)
        attr[i] = p->attr[i];
    attr[n_attr] = hg_attr_make_int(attr_name, 1);
    return hg_build_node(b, name, in, n_in + 1, attr, n_attr + 1, 1);
}

holo_status hg_emit_igemm_form(hg_emit *e)
{
    const bool pairs = hg_node_int(e->node, "pairs", 0) != 0;
    const bool lookup = hg_node_int(e->node, "lookup", 0) != 0;
    const bool load = hg_node_int(e->node, "load", 0) != 0;
    return hg_emit_int(e, (pairs ? HG_IGEMM_PAIRS : 0) | (lookup ? HG_IGEMM_LOOKUP : 0) |
                              (load ? HG_IGEMM_LOAD : 0));
}
