/* cert.c - writes certificates, and takes them apart again. */
#include "table/cert.h"

#include "base/hash.h"

#include <inttypes.h>
#include <stdlib.h>

/* ---- writing ---------------------------------------------------------------------------------
 */

/* The node's name without what would end a quoted text. */
static holo_status cert_label(hg_graph *g, hg_node_id node, hg_str *out)
{
    char room[64];
    hg_str name = hg_node_label(g, node, room, sizeof room);
    *out = hg_str_format(&g->ctx->arena, "%.*s", HG_STR_ARG(name));
    if (out->text == NULL) return hg_fail_nomem(g->ctx->error, name.length);
    for (size_t i = 0; i < out->length; i++) {
        char *c = (char *)(uintptr_t)&out->text[i];
        if ((unsigned char)*c < ' ' || *c == '"' || *c == 127) *c = '_';
    }
    return HOLO_OK;
}

holo_status hg_cert_add_table(hg_graph *g, hg_value_id value, hg_node_id node, hg_str text)
{
    hg_cert cert = {.value = value, .text = text};
    HG_TRY(cert_label(g, node, &cert.label));
    return hg_graph_add_cert(g, cert);
}

holo_status hg_cert_add_product(hg_graph *g, hg_value_id value, hg_node_id node,
                                const hg_cert_bound *bound)
{
    hg_cert cert = {.value = value};
    HG_TRY(cert_label(g, node, &cert.label));
    cert.text = hg_str_format(&g->ctx->arena,
                              "product k %" PRId64 " input_max %" PRId64 " weight_max %" PRId64
                              " pair_max %" PRId64 " panel %" PRId64 " used %" PRId64,
                              bound->k, bound->input_max, bound->weight_max, bound->pair_max,
                              bound->panel, bound->used);
    if (bound->column_max != 0 && cert.text.text != NULL)
        cert.text = hg_str_format(&g->ctx->arena, "%.*s column_max %" PRId64, HG_STR_ARG(cert.text),
                                  bound->column_max);
    if (cert.text.text != NULL)
        cert.text = hg_str_format(&g->ctx->arena, "%.*s\n", HG_STR_ARG(cert.text));
    if (cert.text.text == NULL) return hg_fail_nomem(g->ctx->error, 128);
    return hg_graph_add_cert(g, cert);
}

/* Codes are at most 255, less a zero point too. */
enum { CERT_CODE = 255, CERT_WIDE = 32768, CERT_WEIGHT = 128, CERT_PAIR = 128, CERT_QUAD = 64 };
/* Inputs of products with codes in panels are rounded to -127 .. 127. */
enum { CERT_BITS_INPUT = 127 };

holo_status hg_cert_add_panels(hg_graph *g, hg_value_id packed, hg_node_id node, int64_t k,
                               bool pairs)
{
    const int64_t used = hg_ceil_div(k, 4) * CERT_QUAD;
    const hg_cert_bound bound = {.k = k,
                                 .input_max = CERT_CODE,
                                 .weight_max = CERT_WEIGHT,
                                 .pair_max = pairs ? CERT_PAIR : 0,
                                 .panel = used + CERT_QUAD,
                                 .used = used};
    if (packed == 0 || k > INT32_MAX / (CERT_CODE * CERT_WEIGHT)) return HOLO_OK;
    return hg_cert_add_product(g, packed, node, &bound);
}

holo_status hg_cert_add_wide_panels(hg_graph *g, hg_value_id packed, hg_node_id node, int64_t k)
{
    const int64_t used = hg_ceil_div(k, 4) * CERT_QUAD;
    const hg_cert_bound bound = {.k = k,
                                 .input_max = CERT_WIDE,
                                 .weight_max = CERT_WEIGHT,
                                 .panel = used + CERT_QUAD,
                                 .used = used,
                                 .column_max = HG_CERT_WIDE_COLUMN};
    return packed == 0 ? HOLO_OK : hg_cert_add_product(g, packed, node, &bound);
}

holo_status hg_cert_add_depthwise(hg_graph *g, hg_value_id packed, hg_node_id node, int64_t k)
{
    const hg_cert_bound bound = {.k = k, .input_max = CERT_CODE, .weight_max = CERT_CODE};
    if (packed == 0 || k > INT32_MAX / (CERT_CODE * CERT_CODE)) return HOLO_OK;
    return hg_cert_add_product(g, packed, node, &bound);
}

/* The largest number that a code stands for. */
static int64_t cert_weight_max(hg_bits_kind kind)
{
    const int64_t zero = hg_bits_zero(kind), codes = INT64_C(1) << hg_bits_width(kind);
    if (kind == HG_BITS_8) return CERT_WEIGHT;
    if (kind == HG_BITS_BOOK) return CERT_BITS_INPUT;
    return kind == HG_BITS_1 ? 1 : zero > codes - 1 - zero ? zero : codes - 1 - zero;
}

holo_status hg_cert_add_bits(hg_graph *g, hg_value_id codes, hg_node_id node, hg_bits_kind kind,
                             int64_t group)
{
    hg_cert cert = {.value = codes};
    HG_TRY(cert_label(g, node, &cert.label));
    cert.text = hg_str_format(
        &g->ctx->arena, "bits kind %d group %" PRId64 " input_max %d weight_max %" PRId64 "\n",
        (int)kind, group, CERT_BITS_INPUT, cert_weight_max(kind));
    if (cert.text.text == NULL) return hg_fail_nomem(g->ctx->error, 128);
    return hg_graph_add_cert(g, cert);
}

holo_status hg_cert_add_palette(hg_graph *g, hg_node_id node, hg_value_id codes, hg_value_id values,
                                int64_t count, uint64_t original)
{
    const hg_type *v = &hg_graph_value(g, values)->type, *c = &hg_graph_value(g, codes)->type;
    hg_cert cert = {.value = values, .codes = codes};
    int64_t distinct;
    HG_TRY(cert_label(g, node, &cert.label));
    if (!hg_dim_is_const(&g->dims, v->dim[0], &distinct)) return HOLO_OK;
    cert.text = hg_str_format(
        &g->ctx->arena,
        "palette %s -> %s values %" PRId64 " count %" PRId64 " original %016" PRIx64 "\n",
        holo_dtype_text(c->dtype), holo_dtype_text(v->dtype), distinct, count, original);
    if (cert.text.text == NULL) return hg_fail_nomem(g->ctx->error, 128);
    return hg_graph_add_cert(g, cert);
}

/* Long texts: hg_str_format cuts what "%.*s" gives, this does not. */
static char *cert_append(char *to, hg_str text)
{
    if (text.length != 0) memcpy(to, text.text, text.length);
    return to + text.length;
}

static holo_status cert_join(hg_arena *arena, holo_error *e, const hg_str *part, size_t n,
                             hg_str *out)
{
    size_t size = 0;
    for (size_t i = 0; i < n; i++)
        size += part[i].length;
    char *text = hg_arena_alloc(arena, size + 1), *at = text;
    if (text == NULL) return hg_fail_nomem(e, size);
    for (size_t i = 0; i < n; i++)
        at = cert_append(at, part[i]);
    *out = (hg_str){text, size};
    return HOLO_OK;
}

holo_status hg_cert_table_text(hg_arena *arena, const hg_chain *c, const hg_entries *t,
                               hg_str chain, hg_alphabet range, hg_str producer, hg_str *out)
{
    hg_str part[4] = {{0}};
    part[0] = hg_str_format(
        arena, "table %s -> %s base %" PRId64 " entries %" PRId64 " rows %" PRId64 " classes %d\n",
        holo_dtype_text(c->from), holo_dtype_text(c->to), t->base, t->count, t->rows,
        t->classes ? 1 : 0);
    part[1] = chain;
    if (producer.length != 0)
        part[2] = hg_str_format(arena, "range %" PRId64 " %" PRId64 "\n", range.base,
                                range.base + range.count - 1);
    part[3] = producer;
    if (part[0].text == NULL || (producer.length != 0 && part[2].text == NULL))
        return hg_fail_nomem(c->ctx.error, 128);
    return cert_join(arena, c->ctx.error, part, HG_COUNT(part), out);
}

holo_status hg_cert_program_text(hg_ctx *ctx, hg_str table, holo_dtype from, holo_dtype to,
                                 hg_alphabet codes, hg_str *out)
{
    const char *end = memchr(table.text, '\n', table.length);
    const size_t claim = end == NULL ? table.length : (size_t)(end - table.text) + 1;
    hg_str part[2] = {{0}, {table.text + claim, table.length - claim}};
    part[0] = hg_str_format(
        &ctx->arena, "program %s -> %s base %" PRId64 " entries %" PRId64 " rows 1 classes 0\n",
        holo_dtype_text(from), holo_dtype_text(to), codes.base, codes.count);
    if (part[0].text == NULL) return hg_fail_nomem(ctx->error, 128);
    return cert_join(&ctx->arena, ctx->error, part, HG_COUNT(part), out);
}

holo_status hg_cert_store(hg_ctx *ctx, const hg_cert *cert, uint64_t offset, uint64_t bytes,
                          uint64_t hash, hg_str *out)
{
    hg_str part[3] = {{0}, cert->text, hg_str_from("end\n")};
    part[0] = hg_str_format(
        &ctx->arena, "certificate \"%.*s\"\nat %" PRIu64 " %" PRIu64 " hash %016" PRIx64 "\n",
        HG_STR_ARG(cert->label), offset, bytes, hash);
    if (part[0].text == NULL) return hg_fail_nomem(ctx->error, 256);
    return cert_join(&ctx->arena, ctx->error, part, HG_COUNT(part), out);
}

/* ---- reading ---------------------------------------------------------------------------------
 */

static bool cert_starts(hg_str line, const char *with)
{
    const size_t n = strlen(with);
    return line.length >= n && memcmp(line.text, with, n) == 0;
}

static hg_str cert_line(hg_str *rest)
{
    const char *end = rest->length == 0 ? NULL : memchr(rest->text, '\n', rest->length);
    const size_t n = end == NULL ? rest->length : (size_t)(end - rest->text);
    hg_str line = {rest->text, n};
    const size_t used = end == NULL ? n : n + 1;
    rest->text += used;
    rest->length -= used;
    return line;
}

/* The next word of a line. */
static hg_str cert_word(hg_str *line)
{
    while (line->length > 0 && line->text[0] == ' ')
        line->text++, line->length--;
    hg_str word = {line->text, 0};
    while (word.length < line->length && line->text[word.length] != ' ')
        word.length++;
    line->text += word.length;
    line->length -= word.length;
    return word;
}

static bool cert_number(hg_str *line, int base, uint64_t *out)
{
    char copy[32], *end;
    hg_str word = cert_word(line);
    if (word.length == 0 || word.length >= sizeof copy || word.text[0] == '-') return false;
    memcpy(copy, word.text, word.length);
    copy[word.length] = 0;
    *out = strtoull(copy, &end, base);
    return *end == 0;
}

/* "name 12": the number, non-negative. */
static bool cert_field(hg_str *line, const char *name, int64_t *out)
{
    uint64_t value;
    if (!hg_str_is(cert_word(line), name) || !cert_number(line, 10, &value)) return false;
    *out = (int64_t)value;
    return value <= INT64_MAX;
}

static bool cert_dtype(hg_str *line, holo_dtype *out)
{
    hg_str word = cert_word(line);
    *out = hg_dtype_from_text(word.text, word.length);
    return *out != HOLO_NONE;
}

static bool cert_claim(hg_str line, hg_cert_view *v)
{
    hg_str kind = cert_word(&line);
    v->is_program = hg_str_is(kind, "program");
    v->is_table = v->is_program || hg_str_is(kind, "table");
    v->is_bits = hg_str_is(kind, "bits");
    if (v->is_bits)
        return cert_field(&line, "kind", &v->bits.kind) &&
               cert_field(&line, "group", &v->bits.group) &&
               cert_field(&line, "input_max", &v->bits.input_max) &&
               cert_field(&line, "weight_max", &v->bits.weight_max);
    if (hg_str_is(kind, "palette")) {
        v->is_table = v->is_palette = true;
        return cert_dtype(&line, &v->from) && hg_str_is(cert_word(&line), "->") &&
               cert_dtype(&line, &v->to) && cert_field(&line, "values", &v->entries) &&
               cert_field(&line, "count", &v->rows) && hg_str_is(cert_word(&line), "original") &&
               cert_number(&line, 16, &v->original);
    }
    if (v->is_table)
        return cert_dtype(&line, &v->from) && hg_str_is(cert_word(&line), "->") &&
               cert_dtype(&line, &v->to) && cert_field(&line, "base", &v->base) &&
               cert_field(&line, "entries", &v->entries) && cert_field(&line, "rows", &v->rows) &&
               cert_field(&line, "classes", &v->classes);
    return hg_str_is(kind, "product") && cert_field(&line, "k", &v->bound.k) &&
           cert_field(&line, "input_max", &v->bound.input_max) &&
           cert_field(&line, "weight_max", &v->bound.weight_max) &&
           cert_field(&line, "pair_max", &v->bound.pair_max) &&
           cert_field(&line, "panel", &v->bound.panel) &&
           cert_field(&line, "used", &v->bound.used) &&
           (line.length == 0 || cert_field(&line, "column_max", &v->bound.column_max));
}

/* Lines up to one that is no part of a graph's text. */
static hg_str cert_graph(hg_str *rest)
{
    hg_str text = {rest->text, 0};
    while (rest->length != 0 && !cert_starts(*rest, "end\n") && !cert_starts(*rest, "range "))
        (void)cert_line(rest);
    text.length = (size_t)(rest->text - text.text);
    return text;
}

holo_status hg_cert_next(hg_str *rest, hg_cert_view *out, bool *more, holo_error *e)
{
    *out = (hg_cert_view){0};
    *more = rest->length != 0;
    if (!*more) return HOLO_OK;
    hg_str line = cert_line(rest);
    bool ok = cert_starts(line, "certificate \"") && line.text[line.length - 1] == '"';
    if (ok) out->label = (hg_str){line.text + 13, line.length - 14};
    line = cert_line(rest);
    ok = ok && hg_str_is(cert_word(&line), "at") && cert_number(&line, 10, &out->offset) &&
         cert_number(&line, 10, &out->bytes) && hg_str_is(cert_word(&line), "hash") &&
         cert_number(&line, 16, &out->hash);
    out->claim = cert_line(rest);
    ok = ok && cert_claim(out->claim, out);
    out->chain = cert_graph(rest);
    if (out->is_palette) {
        hg_str rows = out->chain;
        line = cert_line(&rows);
        ok = ok && hg_str_is(cert_word(&line), "codes") &&
             cert_number(&line, 10, &out->codes_offset) &&
             cert_number(&line, 10, &out->codes_bytes) && rows.length == 0;
    }
    if (cert_starts(*rest, "range ")) {
        line = out->range = cert_line(rest);
        (void)cert_word(&line);
        ok = ok && cert_number(&line, 10, &out->low) && cert_number(&line, 10, &out->high);
        out->producer = cert_graph(rest);
    }
    ok = ok && hg_str_is(cert_line(rest), "end");
    if (ok) return HOLO_OK;
    return hg_fail(e, HOLO_E_FORMAT, "a certificate is not written as expected near '%.*s'",
                   HG_STR_ARG(out->claim));
}
