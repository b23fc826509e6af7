/* synthesize.c - programs of byte operations in place of tables of bytes, where they cost less. */
#include "base/atlas.h"
#include "table/cert.h"
#include "table/synth.h"

typedef struct synthesize_table {
    holo_dtype from, to;
    const hg_const *constant;
    hg_value_id value;
    uint8_t entry[256];
    hg_alphabet codes;
    hg_entries shape; /* for its cost */
} synthesize_table;

/* A table of one row from bytes to bytes, with an entry for every code it may be given. */
static bool synthesize_reads(const hg_graph *g, const hg_node *n, synthesize_table *t)
{
    if (!hg_chain_is_table(g, n)) return false;
    const hg_value *codes = hg_graph_value(g, hg_node_in(g, n, 0));
    t->value = hg_node_in(g, n, 1);
    const hg_value *table = hg_graph_value(g, t->value);
    t->from = codes->type.dtype;
    t->to = table->type.dtype;
    t->constant = table->constant;
    if (hg_domain_bits(t->from) != 8 || hg_dtype_bits(t->to) != 8 || t->constant == NULL)
        return false;
    const bool classes = hg_node_int(n, "classes", 0) != 0;
    const uint8_t *entry = t->constant->data;
    t->shape = (hg_entries){.bytes = t->constant->bytes,
                            .rows = 1,
                            .count = (int64_t)t->constant->bytes,
                            .classes = classes};
    t->codes =
        classes ? hg_domain_all(t->from) : (hg_alphabet){hg_node_int(n, "base", 0), t->shape.count};
    if (t->codes.base < 0 || t->codes.base + t->codes.count > 256) return false;
    for (int64_t k = 0; k < t->codes.count; k++)
        t->entry[t->codes.base + k] =
            entry[classes ? hg_atlas_class((uint8_t)(t->codes.base + k)) : k];
    return true;
}

/* The certificate of the table, for the program that has taken its place. */
static holo_status synthesize_certify(hg_graph *g, const synthesize_table *t, hg_value_id program)
{
    for (size_t i = 0; i < g->n_cert; i++) {
        if (g->cert[i].value != t->value) continue;
        hg_cert cert = {.value = program, .label = g->cert[i].label};
        HG_TRY(hg_cert_program_text(g->ctx, g->cert[i].text, t->from, t->to, t->codes, &cert.text));
        return hg_graph_add_cert(g, cert);
    }
    return HOLO_OK;
}

static holo_status synthesize_replace(hg_graph *g, hg_node_id id, const synthesize_table *t,
                                      const hg_byteops *program)
{
    hg_build b;
    uint8_t *bytes = hg_arena_alloc(&g->ctx->arena, HG_BYTEOPS_BYTES);
    if (bytes == NULL) return hg_fail_nomem(g->ctx->error, HG_BYTEOPS_BYTES);
    const size_t size = hg_byteops_write(program, bytes);
    const hg_type type = {
        .dtype = HOLO_U8, .rank = 1, .dim = {hg_dim_const(&g->dims, (int64_t)size)}};
    hg_build_init(&b, g, id);
    hg_value_id in[2] = {hg_node_in(g, hg_graph_node(g, id), 0),
                         hg_build_const(&b, type, bytes, size)};
    HG_TRY(b.status);
    HG_TRY(synthesize_certify(g, t, in[1]));
    const hg_attr attr[3] = {hg_attr_make_int("base", t->codes.base),
                             hg_attr_make_int("entries", t->codes.count),
                             hg_attr_make_int("to", t->to)};
    hg_value_id made = hg_build_op(&b, "holo:ByteOps", in, 2, attr, 3);
    HG_TRY(b.status);
    hg_build_replace(&b, 0, made);
    HG_TRY(b.status);
    hg_graph_remove_node(g, id);
    return HOLO_OK;
}

/* Of programs that are lighter than the table, the lightest. */
static uint32_t synthesize_most(const synthesize_table *t, bool always)
{
    uint32_t most = HG_BYTEOPS_MAX;
    const bool checks = t->codes.count != 256;
    while (!always && most > 0 &&
           hg_cost_program(most, checks) >= hg_cost_table(t->from, t->to, &t->shape, 0))
        most--;
    return most;
}

holo_status hg_table_synthesize(hg_graph *g, bool always, bool *changed)
{
    for (hg_node_id id = hg_graph_region(g, HG_REGION_MAIN)->first; id != 0;) {
        synthesize_table t;
        hg_byteops program;
        bool found = false;
        const hg_node_id next = hg_graph_node(g, id)->next;
        if (synthesize_reads(g, hg_graph_node(g, id), &t)) {
            const uint32_t most = synthesize_most(&t, always);
            if (most > 0) HG_TRY(hg_synth_find(g->ctx, t.entry, t.codes, most, &program, &found));
            if (found) HG_TRY(synthesize_replace(g, id, &t, &program));
            *changed |= found;
        }
        id = next;
    }
    return HOLO_OK;
}
