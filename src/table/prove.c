/* prove.c - re-derives what a certificate claims from its text and the bytes of the file alone. */
#include "table/cert.h"

#include "base/atlas.h"
#include "base/hash.h"
#include "isa/byteops.h"

enum { PROVE_ELEMENTS = 1 << 24 };

/* ---- tables ----------------------------------------------------------------------------------
 */

static void prove_open(hg_chain *c)
{
    c->ctx.error = &c->error;
    hg_arena_init(&c->ctx.arena, NULL, (size_t)1 << 30);
    hg_arena_init(&c->ctx.scratch, NULL, (size_t)1 << 30);
}

/* Nodes of an archived chain must be what a chain may hold: point-wise on one input. */
static holo_status prove_nodes(hg_chain *c)
{
    for (hg_node_id id = hg_graph_region(&c->g, HG_REGION_MAIN)->first; id != 0;
         id = hg_graph_node(&c->g, id)->next) {
        const hg_node *n = hg_graph_node(&c->g, id);
        if (!hg_chain_is_pointwise(&c->g, n))
            return hg_fail(&c->error, HOLO_E_DATA, "the chain has a %s, which is not point-wise",
                           n->op->name);
        HG_TRY(hg_op_infer(&c->g, id));
    }
    return HOLO_OK;
}

static holo_status prove_shape(const hg_chain *c, hg_value_id value, holo_dtype dtype)
{
    const hg_type *t = &hg_graph_value(&c->g, value)->type;
    if (t->dtype == dtype && t->rank == 2 && hg_dim_is(&c->g.dims, t->dim[0], c->rows) &&
        hg_dim_is(&c->g.dims, t->dim[1], c->codes.count))
        return HOLO_OK;
    return hg_fail(c->ctx.error, HOLO_E_DATA,
                   "the chain is not from and to what the table is: %lld rows of %lld codes",
                   (long long)c->rows, (long long)c->codes.count);
}

/* One row for all channels of a chain: it must hold for each. */
static void prove_rows(hg_chain *c, const hg_cert_view *v)
{
    const hg_type *t = &hg_graph_value(&c->g, c->in)->type;
    int64_t rows = 0;
    if (v->rows != 1 || t->rank != 2 || !hg_dim_is_const(&c->g.dims, t->dim[0], &rows) ||
        rows < 1 || rows > PROVE_ELEMENTS / c->codes.count)
        return; /* what does not fit is found below */
    c->rows = rows;
}

static holo_status prove_parse(hg_chain *c, const hg_cert_view *v)
{
    HG_TRY(hg_graph_init(&c->g, &c->ctx));
    HG_TRY(hg_graph_parse(&c->g, v->chain, &c->error));
    const hg_region *main = hg_graph_region(&c->g, HG_REGION_MAIN);
    if (main->n_in != 1 || main->n_out != 1)
        return hg_fail(&c->error, HOLO_E_DATA, "the chain has %u inputs and %u results, not one",
                       main->n_in, main->n_out);
    c->in = main->in[0];
    HG_TRY(prove_nodes(c));
    prove_rows(c, v);
    HG_TRY(prove_shape(c, c->in, v->from));
    return prove_shape(c, hg_chain_result(c), v->to);
}

/* Every code of a class has the same entry. */
static holo_status prove_classes(hg_chain *c, const hg_cert_view *v, hg_entries *table)
{
    const size_t size = hg_dtype_bits(v->to) / 8;
    const uint8_t *entry = table->data;
    uint8_t *all = hg_arena_alloc(&c->ctx.arena, 256 * size);
    if (all == NULL) return hg_fail_nomem(&c->error, 256 * size);
    for (size_t code = 0; code < 256; code++)
        memcpy(all + code * size, entry + hg_atlas_class((uint8_t)code) * size, size);
    table->data = all;
    table->bytes = 256 * size;
    table->count = 256;
    return HOLO_OK;
}

static holo_status prove_repeat(hg_chain *c, hg_entries *table)
{
    const size_t row = table->bytes;
    uint8_t *all = hg_arena_array(&c->ctx.arena, (size_t)c->rows, row);
    if (all == NULL) return hg_fail_nomem(&c->error, row);
    for (int64_t r = 0; r < c->rows; r++)
        memcpy(all + (size_t)r * row, table->data, row);
    table->data = all;
    table->rows = c->rows;
    table->bytes = (size_t)c->rows * row;
    return HOLO_OK;
}

/* What a program says of each code. */
static holo_status prove_program(hg_chain *c, const hg_cert_view *v, hg_entries *table)
{
    hg_byteops program;
    if (v->classes != 0 || v->rows != 1 || hg_domain_bits(v->from) != 8 ||
        hg_dtype_bits(v->to) != 8 || !hg_byteops_read(table->data, table->bytes, &program))
        return hg_fail(&c->error, HOLO_E_DATA, "its bytes are no program for bytes");
    uint8_t *entry = hg_arena_alloc(&c->ctx.arena, 256);
    if (entry == NULL) return hg_fail_nomem(&c->error, 256);
    for (int64_t k = 0; k < v->entries; k++)
        entry[k] = hg_byteops_at(&program, (uint8_t)(v->base + k));
    table->data = entry;
    table->bytes = (size_t)v->entries;
    return HOLO_OK;
}

static holo_status prove_entries(hg_chain *c, const hg_cert_view *v, const uint8_t *bytes)
{
    hg_entries table = {.data = (void *)(uintptr_t)bytes,
                        .bytes = (size_t)v->bytes,
                        .rows = v->rows,
                        .count = v->entries,
                        .base = v->base};
    int64_t where;
    HG_TRY(prove_parse(c, v));
    if (v->is_program) HG_TRY(prove_program(c, v, &table));
    if (v->classes != 0) HG_TRY(prove_classes(c, v, &table));
    if (c->rows != table.rows) HG_TRY(prove_repeat(c, &table));
    HG_TRY(hg_entries_compare(c, &table, &where));
    if (where < 0) return HOLO_OK;
    return hg_fail(&c->error, HOLO_E_DATA,
                   "row %lld says something else than its chain for code %lld",
                   (long long)(where / table.count), (long long)(v->base + where % table.count));
}

static holo_status prove_table_sizes(const hg_cert_view *v, holo_error *e)
{
    size_t bytes;
    int64_t count;
    const int64_t codes = hg_domain_bits(v->from) == 0 ? 0 : hg_domain_all(v->from).count;
    if (v->base < 0 || v->entries < 1 || v->base > codes || v->entries > codes - v->base ||
        !hg_domain_is_entry(v->to))
        return hg_fail(e, HOLO_E_DATA, "%lld entries from code %lld on are no table of %s",
                       (long long)v->entries, (long long)v->base, holo_dtype_text(v->from));
    if (v->classes > 1 || (v->classes != 0 && (v->entries != HG_ATLAS_CLASSES || v->base != 0 ||
                                               v->rows != 1 || codes != 256)))
        return hg_fail(e, HOLO_E_DATA, "a table of classes has one row of %d entries for bytes",
                       HG_ATLAS_CLASSES);
    if (v->rows < 1 || !hg_mul_i64(v->rows, v->entries, &count) || count > PROVE_ELEMENTS ||
        !hg_dtype_bytes(v->to, count, &bytes) || (!v->is_program && bytes != v->bytes))
        return hg_fail(e, HOLO_E_DATA, "%lld rows of %lld entries are not %llu bytes",
                       (long long)v->rows, (long long)v->entries, (unsigned long long)v->bytes);
    return HOLO_OK;
}

static holo_status prove_table(const hg_cert_view *v, const uint8_t *bytes, holo_error *e)
{
    hg_chain c = {.from = v->from, .to = v->to, .rows = v->rows};
    HG_TRY(prove_table_sizes(v, e));
    c.codes = v->classes != 0 ? hg_domain_all(v->from) : (hg_alphabet){v->base, v->entries};
    prove_open(&c);
    holo_status status = prove_entries(&c, v, bytes);
    if (status != HOLO_OK && e != NULL) *e = c.error;
    hg_chain_deinit(&c);
    return status;
}

/* ---- narrowing -------------------------------------------------------------------------------
 */

/* The codes that the archived producer can give have entries, all of them. */
static holo_status prove_producer(hg_chain *c, const hg_cert_view *v)
{
    hg_alphabet codes;
    HG_TRY(hg_graph_init(&c->g, &c->ctx));
    HG_TRY(hg_graph_parse(&c->g, v->producer, &c->error));
    if (hg_graph_region(&c->g, HG_REGION_MAIN)->n_out != 1)
        return hg_fail(&c->error, HOLO_E_DATA, "the producer does not have one result");
    HG_TRY(prove_nodes(c));
    const hg_value *result = hg_graph_value(&c->g, hg_region_out(&c->g, HG_REGION_MAIN, 0));
    if (result->type.dtype != v->from)
        return hg_fail(&c->error, HOLO_E_DATA, "the producer gives other codes");
    HG_TRY(hg_range_codes(&c->g, &codes));
    const uint64_t first = (uint64_t)codes.base, last = first + (uint64_t)codes.count - 1;
    if (v->range.length != 0 && (first < v->low || last > v->high))
        return hg_fail(&c->error, HOLO_E_DATA,
                       "codes %llu to %llu can come, claimed are %llu to %llu",
                       (unsigned long long)first, (unsigned long long)last,
                       (unsigned long long)v->low, (unsigned long long)v->high);
    if (codes.base >= v->base && codes.base + codes.count <= v->base + v->entries) return HOLO_OK;
    return hg_fail(&c->error, HOLO_E_DATA,
                   "codes %lld to %lld can come, entries are for %lld to %lld",
                   (long long)codes.base, (long long)(codes.base + codes.count - 1),
                   (long long)v->base, (long long)(v->base + v->entries - 1));
}

static holo_status prove_narrowing(const hg_cert_view *v, holo_error *e)
{
    hg_chain c = {0};
    if (v->classes != 0 || v->entries == hg_domain_all(v->from).count) return HOLO_OK;
    if (v->producer.length == 0)
        return hg_fail(e, HOLO_E_DATA, "it has %lld entries and nothing shows that these suffice",
                       (long long)v->entries);
    prove_open(&c);
    holo_status status = prove_producer(&c, v);
    if (status != HOLO_OK && e != NULL) *e = c.error;
    hg_chain_deinit(&c);
    return status;
}

/* ---- products --------------------------------------------------------------------------------
 */

/* Sizes of the weights of one column, in panels of 16 columns and 4 of k. */
static holo_status prove_columns(const hg_cert_view *v, const uint8_t *bytes, holo_error *e)
{
    enum { ROW = 64, COLUMNS = 16, QUAD = 4 };
    const hg_cert_bound *b = &v->bound;
    const uint64_t panel = (uint64_t)b->panel;
    int64_t sum;
    if (!hg_mul_i64(b->input_max, b->column_max, &sum) || sum > INT32_MAX)
        return hg_fail(e, HOLO_E_DATA, "columns of %lld times %lld do not fit 32 bits",
                       (long long)b->column_max, (long long)b->input_max);
    if (panel == 0 || b->used % ROW != 0 || v->bytes % panel != 0)
        return hg_fail(e, HOLO_E_DATA, "%llu bytes are no panels of %llu",
                       (unsigned long long)v->bytes, (unsigned long long)panel);
    for (uint64_t c = 0; c < v->bytes / panel * COLUMNS; c++) {
        const uint8_t *from = bytes + c / COLUMNS * panel + c % COLUMNS * QUAD;
        sum = 0;
        for (int64_t i = 0; i < b->used / ROW * QUAD; i++) {
            const int32_t w = (int8_t)from[i / QUAD * ROW + i % QUAD];
            sum += w < 0 ? -w : w;
        }
        if (sum > b->column_max)
            return hg_fail(e, HOLO_E_DATA, "the weights of column %llu add up to %lld, above %lld",
                           (unsigned long long)c, (long long)sum, (long long)b->column_max);
    }
    return HOLO_OK;
}

static holo_status prove_product(const hg_cert_view *v, const uint8_t *bytes, holo_error *e)
{
    const hg_cert_bound *b = &v->bound;
    int64_t sum;
    if (b->column_max == 0 && (!hg_mul_i64(b->input_max, b->weight_max, &sum) ||
                               !hg_mul_i64(sum, b->k, &sum) || sum > INT32_MAX))
        return hg_fail(e, HOLO_E_DATA, "%lld products of %lld and %lld do not fit 32 bits",
                       (long long)b->k, (long long)b->input_max, (long long)b->weight_max);
    if (b->panel % 2 != 0 || b->used % 2 != 0 || b->used > b->panel)
        return hg_fail(e, HOLO_E_DATA, "%lld bytes of %lld are no panel", (long long)b->used,
                       (long long)b->panel);
    if (b->pair_max > INT16_MAX || b->pair_max * b->input_max > INT16_MAX)
        return hg_fail(e, HOLO_E_DATA, "pairs of %lld times %lld do not fit 16 bits",
                       (long long)b->pair_max, (long long)b->input_max);
    for (uint64_t i = 0; i < v->bytes; i++) {
        if (b->panel != 0 && i % (uint64_t)b->panel >= (uint64_t)b->used) continue;
        const int32_t w = (int8_t)bytes[i];
        const int32_t next = (i & 1) == 0 && i + 1 < v->bytes ? (int8_t)bytes[i + 1] : 0;
        const int32_t size = w < 0 ? -w : w, pair = size + (next < 0 ? -next : next);
        if (size > b->weight_max)
            return hg_fail(e, HOLO_E_DATA, "weight %llu is %d, more than %lld",
                           (unsigned long long)i, w, (long long)b->weight_max);
        if (b->pair_max != 0 && (i & 1) == 0 && pair > b->pair_max)
            return hg_fail(e, HOLO_E_DATA, "weights %llu and the next add up to %d, more than %lld",
                           (unsigned long long)i, pair, (long long)b->pair_max);
    }
    return b->column_max == 0 ? HOLO_OK : prove_columns(v, bytes, e);
}

/* What codes of up to 4 bits stand for follows from the kind, code by code; a byte is its own
 * number, and kernels take those of a book as no less than -127. */
static int64_t prove_bits_max(hg_bits_kind kind, const uint8_t *bytes, uint64_t n)
{
    int64_t most = 0;
    for (int64_t code = 0; kind != HG_BITS_8 && code < INT64_C(1) << hg_bits_width(kind); code++) {
        const int64_t w = kind == HG_BITS_1      ? 2 * code - 1
                          : kind == HG_BITS_BOOK ? INT8_MAX
                                                 : code - hg_bits_zero(kind);
        most = hg_max(most, w < 0 ? -w : w);
    }
    for (uint64_t i = 0; kind == HG_BITS_8 && i < n; i++) {
        const int64_t w = (int8_t)bytes[i];
        most = hg_max(most, w < 0 ? -w : w);
    }
    return most;
}

static holo_status prove_bits(const hg_cert_view *v, const uint8_t *bytes, holo_error *e)
{
    enum { GROUP_MAX = 65536, CODE_MAX = 127 };
    const hg_cert_bits *b = &v->bits;
    if (b->kind >= HG_BITS_KINDS || b->group < HG_BITS_STEP || b->group > GROUP_MAX ||
        b->group % HG_BITS_STEP != 0)
        return hg_fail(e, HOLO_E_DATA, "kind %lld in groups of %lld is none of a product's",
                       (long long)b->kind, (long long)b->group);
    const hg_bits_kind kind = (hg_bits_kind)b->kind;
    const uint64_t panel = (uint64_t)b->group * 4 * hg_bits_width(kind);
    if (v->bytes % panel != 0)
        return hg_fail(e, HOLO_E_DATA, "%llu bytes are no groups of %llu",
                       (unsigned long long)v->bytes, (unsigned long long)panel);
    const int64_t most = prove_bits_max(kind, bytes, v->bytes);
    if (b->input_max != CODE_MAX || most > b->weight_max)
        return hg_fail(e, HOLO_E_DATA, "codes reach %lld and %d, above what is claimed",
                       (long long)most, CODE_MAX);
    if (b->weight_max > INT16_MAX / (2 * CODE_MAX) ||
        b->weight_max * CODE_MAX > INT32_MAX / b->group)
        return hg_fail(e, HOLO_E_DATA, "sums of products of %d and %lld do not fit", CODE_MAX,
                       (long long)b->weight_max);
    return HOLO_OK;
}

/* ---- palettes --------------------------------------------------------------------------------
 */

static holo_status prove_palette_sizes(const hg_cert_view *v, uint64_t weight_bytes, holo_error *e)
{
    const uint64_t size = hg_dtype_bits(v->to) / 8, code_size = hg_dtype_bits(v->from) / 8;
    if ((v->from != HOLO_U8 && v->from != HOLO_U16) || !hg_domain_is_entry(v->to) ||
        v->entries < 1 || v->entries > PROVE_ELEMENTS || (uint64_t)v->entries * size != v->bytes)
        return hg_fail(e, HOLO_E_DATA, "%lld values are no palette of %s", (long long)v->entries,
                       holo_dtype_text(v->to));
    if (v->codes_offset > weight_bytes || v->codes_bytes > weight_bytes - v->codes_offset ||
        (uint64_t)v->rows > v->codes_bytes || (uint64_t)v->rows * code_size != v->codes_bytes)
        return hg_fail(e, HOLO_E_DATA, "its codes lie outside the weights");
    return HOLO_OK;
}

/* Decodes piece by piece. */
static holo_status prove_palette(const hg_cert_view *v, const uint8_t *weights,
                                 uint64_t weight_bytes, holo_error *e)
{
    uint8_t piece[HG_CERT_PIECE];
    uint64_t hash = 0;
    size_t used = 0;
    HG_TRY(prove_palette_sizes(v, weight_bytes, e));
    const size_t size = hg_dtype_bits(v->to) / 8, code_size = hg_dtype_bits(v->from) / 8;
    for (int64_t i = 0; i < v->rows; i++) {
        uint16_t k = 0;
        memcpy(&k, weights + v->codes_offset + (size_t)i * code_size, code_size);
        if (k >= v->entries)
            return hg_fail(e, HOLO_E_DATA, "code %lld is %u of %lld values", (long long)i, k,
                           (long long)v->entries);
        memcpy(piece + used, weights + v->offset + k * size, size);
        used += size;
        if (used < sizeof piece && i + 1 < v->rows) continue;
        hash = hg_hash(piece, used, hash);
        used = 0;
    }
    if (hash == v->original) return HOLO_OK;
    return hg_fail(e, HOLO_E_DATA, "decoded, its bytes have another hash");
}

holo_status hg_cert_prove(const hg_cert_view *v, const uint8_t *weights, uint64_t weight_bytes,
                          holo_error *e)
{
    if (v->offset > weight_bytes || v->bytes > weight_bytes - v->offset || v->bytes > SIZE_MAX)
        return hg_fail(e, HOLO_E_DATA, "its bytes lie outside the weights");
    const uint8_t *bytes = weights + v->offset;
    if (v->hash != 0 && hg_hash(bytes, (size_t)v->bytes, 0) != v->hash)
        return hg_fail(e, HOLO_E_DATA, "its bytes have another hash");
    if (v->is_palette) return prove_palette(v, weights, weight_bytes, e);
    if (v->is_bits) return prove_bits(v, bytes, e);
    if (!v->is_table) return prove_product(v, bytes, e);
    HG_TRY(prove_table(v, bytes, e));
    return prove_narrowing(v, e);
}
