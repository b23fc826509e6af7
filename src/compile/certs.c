/* certs.c - the section of certificates: for what the programs read, with its place in the file. */
#include "base/hash.h"
#include "compile/compile.h"
#include "table/cert.h"

#include <inttypes.h>

static bool certs_is_read(const hg_graph *g, hg_value_id value, const bool *needed)
{
    for (uint32_t slot = hg_graph_value(g, value)->first_use; slot != 0;
         slot = g->use[slot - 1].next)
        if (g->use[slot - 1].node != 0 && needed[g->use[slot - 1].node]) return true;
    return false;
}

static holo_status certs_append(hg_compile *c, hg_str text)
{
    if (c->n_certs + text.length > c->certs_capacity) {
        const size_t capacity = 2 * (c->n_certs + text.length);
        char *grown = hg_arena_alloc(&c->ctx.arena, capacity);
        if (grown == NULL) return hg_fail_nomem(c->ctx.error, capacity);
        if (c->n_certs != 0) memcpy(grown, c->certs, c->n_certs);
        c->certs = grown;
        c->certs_capacity = capacity;
    }
    memcpy(c->certs + c->n_certs, text.text, text.length);
    c->n_certs += text.length;
    return HOLO_OK;
}

/* What a packing makes is known when the file is written: its certificate has no hash. */
static uint64_t certs_hash(const hg_graph *g, hg_value_id value)
{
    const hg_const *constant = hg_graph_value(g, value)->constant;
    return constant == NULL ? 0 : hg_hash(constant->data, constant->bytes, 0);
}

/* Adds the line that says where the codes of a palette are. */
static holo_status certs_codes(hg_compile *c, hg_graph *g, hg_cert *cert)
{
    uint32_t index;
    HG_TRY(hg_weights_add(&c->weights, g, cert->codes, &index));
    const hg_weight *w = &c->weights.item[index];
    cert->text = hg_str_format(&c->ctx.arena, "%.*scodes %" PRIu64 " %" PRIu64 "\n",
                               HG_STR_ARG(cert->text), w->offset, w->bytes);
    return cert->text.text == NULL ? hg_fail_nomem(c->ctx.error, 256) : HOLO_OK;
}

static bool certs_has(const hg_graph *g, hg_value_id value)
{
    for (size_t i = 0; i < g->n_cert; i++)
        if (g->cert[i].value == value) return true;
    return false;
}

/* Products with codes in panels, wherever they come from. */
static holo_status certs_bits(hg_graph *g)
{
    for (hg_node_id id = hg_graph_region(g, HG_REGION_MAIN)->first; id != 0;
         id = hg_graph_node(g, id)->next) {
        const hg_node *n = hg_graph_node(g, id);
        if (!hg_op_is(n, "holo:MatMulBits")) continue;
        const hg_value_id codes = hg_node_in(g, n, 1);
        if (!hg_graph_is_const(g, codes) || certs_has(g, codes)) continue;
        HG_TRY(hg_cert_add_bits(g, codes, id, (hg_bits_kind)hg_node_int(n, "kind", 0),
                                hg_node_int(n, "group", 0)));
    }
    return HOLO_OK;
}

holo_status hg_compile_certs(hg_compile *c, hg_graph *g)
{
    const bool *needed;
    HG_TRY(certs_bits(g));
    if (g->n_cert == 0) return HOLO_OK;
    HG_TRY(hg_plan_needed(g, &needed));
    for (size_t i = 0; i < g->n_cert; i++) {
        const hg_cert *cert = &g->cert[i];
        uint32_t index;
        hg_str text;
        if (!certs_is_read(g, cert->value, needed)) continue;
        hg_cert whole = *cert;
        if (cert->codes != 0) HG_TRY(certs_codes(c, g, &whole));
        HG_TRY(hg_weights_add(&c->weights, g, cert->value, &index));
        const hg_weight *w = &c->weights.item[index];
        HG_TRY(
            hg_cert_store(&c->ctx, &whole, w->offset, w->bytes, certs_hash(g, cert->value), &text));
        HG_TRY(certs_append(c, text));
    }
    return HOLO_OK;
}
