/* entries.c - the entries of a table: the fused chain on every code, then the same node by node. */
#include "base/half.h"
#include "eval/eval.h"
#include "table/table.h"

/* ---- the fused chain -------------------------------------------------------------------------
 */

static holo_status entries_memory(hg_chain *c, holo_dtype dtype, size_t *bytes, void **out)
{
    int64_t count;
    if (!hg_mul_i64(c->rows, c->codes.count, &count) || !hg_dtype_bytes(dtype, count, bytes))
        return hg_fail(&c->error, HOLO_E_LIMIT, "the table is too large");
    *out = hg_arena_alloc(&c->ctx.arena, *bytes + 1);
    return *out != NULL ? HOLO_OK : hg_fail_nomem(&c->error, *bytes);
}

/* Constants: one number a row, or one for all. */
static hg_lane_view entries_operand(const hg_chain *c, hg_value_id value)
{
    const hg_value *v = hg_graph_value(&c->g, value);
    return (hg_lane_view){.data = (void *)(uintptr_t)v->constant->data,
                          .row = v->type.rank == 0 ? 0 : 1,
                          .dtype = v->type.dtype};
}

holo_status hg_entries_make(hg_chain *c, const hg_lane_code *code, const hg_value_id *operand,
                            hg_entries *out, bool *faults)
{
    hg_lane_view in[HG_LANE_MAX_IO] = {{.dtype = c->from, .row = c->codes.count, .col = 1}};
    hg_lane_view result = {.dtype = c->to, .row = c->codes.count, .col = 1};
    hg_fault fault = {0};
    size_t bytes;
    *out = (hg_entries){.rows = c->rows, .count = c->codes.count, .base = c->codes.base};
    HG_TRY(entries_memory(c, c->from, &bytes, &in[0].data));
    HG_TRY(entries_memory(c, c->to, &out->bytes, &out->data));
    hg_domain_fill(c->from, c->codes, c->rows, in[0].data);
    for (uint32_t k = 1; k < code->n_in; k++)
        in[k] = entries_operand(c, operand[k - 1]);
    result.data = out->data;
    void *base, *scratch = hg_alloc_aligned(&c->ctx.arena.alloc, hg_lane_scratch(code), &base);
    if (scratch == NULL) return hg_fail_nomem(&c->error, hg_lane_scratch(code));
    const hg_lane_tile tile = {.in = in,
                               .out = &result,
                               .rows = c->rows,
                               .cols = c->codes.count,
                               .row_elements = c->codes.count,
                               .scratch = scratch,
                               .fault = &fault};
    hg_lane_run(code, &tile);
    hg_free(&c->ctx.arena.alloc, base, hg_lane_scratch(code) + HG_ALIGN);
    *faults = fault.kind != HG_FAULT_NONE;
    return HOLO_OK;
}

/* ---- the same node by node -------------------------------------------------------------------
 */

static holo_status entries_node(hg_chain *c, hg_node_id id)
{
    hg_value_id old = hg_graph_node(&c->g, id)->out[0], made;
    size_t bytes;
    if (!hg_eval_can(&c->g, id))
        return hg_fail(&c->error, HOLO_E_UNSUPPORTED, "a node of the chain cannot be evaluated");
    HG_TRY(hg_eval_bytes(&c->g, id, 0, &bytes));
    void *data = hg_arena_alloc(&c->ctx.arena, bytes + 1);
    if (data == NULL) return hg_fail_nomem(&c->error, bytes);
    HG_TRY(hg_eval_run(&c->g, id, &data));
    HG_TRY(hg_graph_add_const(&c->g, (hg_str){0}, hg_graph_value(&c->g, old)->type, data, bytes,
                              &made));
    hg_graph_replace_uses(&c->g, old, made);
    hg_graph_remove_node(&c->g, id);
    return HOLO_OK;
}

static holo_status entries_all_steps(hg_chain *c)
{
    hg_value_id codes;
    size_t bytes;
    void *data;
    HG_TRY(entries_memory(c, c->from, &bytes, &data));
    hg_domain_fill(c->from, c->codes, c->rows, data);
    HG_TRY(hg_graph_add_const(&c->g, (hg_str){0}, hg_graph_value(&c->g, c->in)->type, data, bytes,
                              &codes));
    hg_graph_replace_uses(&c->g, c->in, codes);
    while (hg_graph_region(&c->g, HG_REGION_MAIN)->first != 0)
        HG_TRY(entries_node(c, hg_graph_region(&c->g, HG_REGION_MAIN)->first));
    return HOLO_OK;
}

static bool entries_is_nan(holo_dtype dtype, const uint8_t *at)
{
    uint16_t half;
    float single;
    if (dtype == HOLO_F32) {
        memcpy(&single, at, 4);
        return single != single;
    }
    if (dtype == HOLO_F16 || dtype == HOLO_BF16) {
        memcpy(&half, at, 2);
        single = dtype == HOLO_F16 ? hg_f16_to_f32(half) : hg_bf16_to_f32(half);
        return single != single;
    }
    return false;
}

bool hg_entries_equal(holo_dtype dtype, const void *a, const void *b, int64_t count, int64_t *where)
{
    const size_t size = hg_dtype_bits(dtype) / 8;
    for (int64_t i = 0; i < count; i++) {
        const uint8_t *x = (const uint8_t *)a + (size_t)i * size;
        const uint8_t *y = (const uint8_t *)b + (size_t)i * size;
        if (memcmp(x, y, size) == 0 || (entries_is_nan(dtype, x) && entries_is_nan(dtype, y)))
            continue;
        *where = i;
        return false;
    }
    return true;
}

holo_status hg_entries_step(hg_chain *c, hg_entries *out)
{
    HG_TRY(entries_all_steps(c));
    const hg_const *result = hg_graph_value(&c->g, hg_chain_result(c))->constant;
    if (result == NULL) return hg_fail(&c->error, HOLO_E_BUG, "the chain has no result");
    *out = (hg_entries){.data = (void *)(uintptr_t)result->data,
                        .bytes = result->bytes,
                        .rows = c->rows,
                        .count = c->codes.count,
                        .base = c->codes.base};
    return HOLO_OK;
}

holo_status hg_entries_compare(hg_chain *c, const hg_entries *table, int64_t *where)
{
    hg_entries expected;
    HG_TRY(hg_entries_step(c, &expected));
    *where = 0;
    if (expected.bytes == table->bytes &&
        hg_entries_equal(c->to, table->data, expected.data, table->rows * table->count, where))
        *where = -1;
    return HOLO_OK;
}

holo_status hg_entries_check(hg_chain *c, const hg_entries *table)
{
    int64_t where;
    HG_TRY(hg_entries_compare(c, table, &where));
    if (where < 0) return HOLO_OK;
    return hg_fail(&c->error, HOLO_E_BUG,
                   "compiler bug: the table differs from its chain at code %lld; compile with "
                   "--disable collapse_tables and report this",
                   (long long)(table->base + where % table->count));
}
