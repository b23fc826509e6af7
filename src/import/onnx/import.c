/* import.c - an ONNX model becomes a graph: versions, metadata, names; the order of the work. */
#include "import/onnx/import.h"
#include "import/onnx/importer.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

/* ---- sentences ------------------------------------------------------------------------------- */

hg_str hg_import_shown(hg_str name)
{
    return hg_str_is_text(name) ? name : hg_str_from("?");
}

holo_status hg_import_fail(const hg_importer *im, holo_status status, const char *format, ...)
{
    char sentence[512];
    va_list args;
    va_start(args, format);
    vsnprintf(sentence, sizeof sentence, format, args);
    va_end(args);
    const hg_str name = hg_import_shown(im->where_name), op = hg_import_shown(im->where_op);
    if (im->where == NULL) return hg_fail(im->ctx->error, status, "%s", sentence);
    if (op.length == 0)
        return hg_fail(im->ctx->error, status, "%s '%.*s': %s", im->where, HG_STR_ARG(name),
                       sentence);
    return hg_fail(im->ctx->error, status, "%s '%.*s' (%.*s): %s", im->where, HG_STR_ARG(name),
                   HG_STR_ARG(op), sentence);
}

/* ---- names ----------------------------------------------------------------------------------- */

holo_status hg_import_check_name(const hg_importer *im, const char *what, hg_str name)
{
    const uint32_t most = hg_limit_most(im->ctx->limits.name_bytes, HG_LIMIT_NAME_BYTES);
    if (name.length > most)
        return hg_import_fail(im, most < HG_LIMIT_NAME_BYTES ? HOLO_E_LIMIT : HOLO_E_MODEL,
                              "a %s has %zu bytes, at most %u are allowed", what, name.length,
                              most);
    if (!hg_str_is_text(name))
        return hg_import_fail(im, HOLO_E_MODEL, "a %s is not UTF-8 text", what);
    return HOLO_OK;
}

holo_status hg_import_check_string(const hg_importer *im, size_t length)
{
    const uint64_t most = hg_limit(im->ctx->limits.string_bytes, HG_LIMIT_STRING_BYTES);
    if (length <= most) return HOLO_OK;
    return hg_import_fail(im, HOLO_E_LIMIT,
                          "a string has %zu bytes, at most %" PRIu64 " are allowed", length, most);
}

holo_status hg_import_full_name(const hg_importer *im, const hg_frame *frame, hg_str name,
                                hg_str *out)
{
    *out = name;
    if (frame->prefix.length == 0 || name.length == 0) return HOLO_OK;
    char *text = hg_arena_alloc(&im->ctx->arena, frame->prefix.length + name.length);
    if (text == NULL) return hg_fail_nomem(im->ctx->error, name.length);
    memcpy(text, frame->prefix.text, frame->prefix.length);
    memcpy(text + frame->prefix.length, name.text, name.length);
    *out = (hg_str){text, frame->prefix.length + name.length};
    return HOLO_OK;
}

holo_status hg_import_define(const hg_importer *im, hg_frame *frame, hg_str name, hg_value_id value)
{
    HG_TRY(hg_import_check_name(im, "name of a value", name));
    if (hg_map_get(&frame->names, name) != 0)
        return hg_import_fail(im, HOLO_E_MODEL, "'%.*s' is defined twice", HG_STR_ARG(name));
    if (!hg_map_set(&frame->names, name, value)) return hg_fail_nomem(im->ctx->error, name.length);
    return HOLO_OK;
}

hg_value_id hg_import_find(const hg_frame *frame, hg_str name)
{
    hg_value_id value = 0;
    for (; frame != NULL && value == 0; frame = frame->outer)
        value = hg_map_get(&frame->names, name);
    return value;
}

/* ---- versions -------------------------------------------------------------------------------- */

static hg_str import_domain(hg_str domain)
{
    return hg_str_is(domain, "ai.onnx") ? (hg_str){"", 0} : domain;
}

/* Domains of the standard have known newest versions; what a later one means cannot be known. */
static holo_status import_check_opset(const hg_importer *im, const hg_onnx_opset *opset)
{
    static const struct {
        const char *domain;
        int64_t newest;
    } known[] = {{"", HG_IMPORT_NEWEST_OPSET},
                 {"ai.onnx.ml", 5},
                 {"ai.onnx.training", 1},
                 {"ai.onnx.preview", 1},
                 {"ai.onnx.preview.training", 1}};
    const hg_str domain = import_domain(opset->domain);
    HG_TRY(hg_import_check_name(im, "domain", domain));
    if (opset->version < 1 || opset->version > INT32_MAX)
        return hg_import_fail(im, HOLO_E_MODEL,
                              "opset version %" PRId64 " of '%.*s', expected 1 or more",
                              opset->version, HG_STR_ARG(domain));
    for (size_t i = 0; i < HG_COUNT(known); i++)
        if (hg_str_is(domain, known[i].domain) && opset->version > known[i].newest)
            return hg_import_fail(im, HOLO_E_UNSUPPORTED,
                                  "opset version %" PRId64 " of '%s', the newest known is %" PRId64,
                                  opset->version, i == 0 ? "ai.onnx" : known[i].domain,
                                  known[i].newest);
    return HOLO_OK;
}

static const hg_opset *import_find_opset(const hg_opsets *opsets, hg_str domain)
{
    for (size_t i = 0; i < opsets->count; i++)
        if (hg_str_equal(opsets->list[i].domain, domain)) return &opsets->list[i];
    return NULL;
}

holo_status hg_import_read_opsets(const hg_importer *im, hg_wire_list list, hg_opsets *out)
{
    hg_wire item;
    if (list.count > HG_IMPORT_MAX_OPSETS)
        return hg_import_fail(im, HOLO_E_LIMIT, "%zu opset imports, at most %d are allowed",
                              list.count, (int)HG_IMPORT_MAX_OPSETS);
    *out = (hg_opsets){0};
    HG_TRY(HG_NEW(im->ctx, list.count + 1, &out->list));
    while (hg_wire_list_next(&list, &item)) {
        hg_onnx_opset opset;
        HG_TRY(hg_onnx_read_opset(&im->source, item, &opset));
        HG_TRY(import_check_opset(im, &opset));
        const hg_str domain = import_domain(opset.domain);
        const hg_opset *known = import_find_opset(out, domain);
        if (known != NULL && known->version != opset.version)
            return hg_import_fail(im, HOLO_E_MODEL,
                                  "opset versions %d and %d of '%.*s', expected one",
                                  known->version, (int)opset.version, HG_STR_ARG(domain));
        if (known == NULL) out->list[out->count++] = (hg_opset){domain, (int32_t)opset.version};
    }
    return HOLO_OK;
}

int32_t hg_import_opset(const hg_importer *im, const hg_frame *frame, hg_str domain)
{
    domain = import_domain(domain);
    const hg_opset *opset = import_find_opset(frame->opsets, domain);
    if (opset == NULL) opset = import_find_opset(&im->opsets, domain);
    return opset == NULL ? 0 : opset->version;
}

static holo_status import_check_versions(hg_importer *im)
{
    const hg_onnx_model *m = &im->model;
    if (!hg_onnx_has(m->has, HG_ONNX_MODEL_IR_VERSION) || m->ir_version < 1)
        return hg_import_fail(im, HOLO_E_MODEL, "not an ONNX model: it has no IR version");
    if (m->ir_version > HG_IMPORT_NEWEST_IR)
        return hg_import_fail(im, HOLO_E_UNSUPPORTED,
                              "IR version %" PRId64 " of ONNX, the newest known is %d",
                              m->ir_version, (int)HG_IMPORT_NEWEST_IR);
    if (!hg_onnx_has(m->has, HG_ONNX_MODEL_GRAPH))
        return hg_import_fail(im, HOLO_E_MODEL, "not an ONNX model: it has no graph");
    HG_TRY(hg_import_read_opsets(im, m->opset_import, &im->opsets));
    if (im->opsets.count == 0 && m->ir_version >= 3)
        return hg_import_fail(im, HOLO_E_MODEL, "the model imports no opset");
    if (im->opsets.count == 0) im->opsets.list[im->opsets.count++] = (hg_opset){{"", 0}, 1};
    return HOLO_OK;
}

/* ---- metadata -------------------------------------------------------------------------------- */

/* Text with line breaks. */
static bool import_is_document(hg_str s)
{
    size_t begin = 0;
    if (s.length > HG_IMPORT_MAX_DOCUMENT) return false;
    for (size_t i = 0; i <= s.length; i++) {
        if (i < s.length && s.text[i] != '\n' && s.text[i] != '\r' && s.text[i] != '\t') continue;
        if (!hg_str_is_text((hg_str){s.text + begin, i - begin})) return false;
        begin = i + 1;
    }
    return true;
}

/* A model is not refused for its metadata: what cannot be kept is left out, with a warning. */
static holo_status import_add_meta(hg_importer *im, hg_str key, hg_str value)
{
    hg_graph *g = im->g;
    if (value.length == 0 || key.length == 0) return HOLO_OK;
    if (key.length > HG_LIMIT_NAME_BYTES || !hg_str_is_text(key) || !import_is_document(value)) {
        hg_log(im->ctx, HOLO_LOG_WARNING, "metadata '%.*s' is left out: it is too long or no text",
               HG_STR_ARG(hg_import_shown(key)));
        return HOLO_OK;
    }
    hg_meta *grown =
        hg_arena_grow(&im->ctx->arena, g->meta, g->n_meta, &g->meta_capacity, sizeof *grown);
    if (grown == NULL) return hg_fail_nomem(im->ctx->error, sizeof *grown);
    g->meta = grown;
    g->meta[g->n_meta++] = (hg_meta){key, value};
    return HOLO_OK;
}

static holo_status import_metadata(hg_importer *im)
{
    const hg_onnx_model *m = &im->model;
    hg_wire_list entries = m->metadata_props;
    hg_wire item;
    hg_str producer = m->producer_name, version = {0};
    if (producer.length != 0 && m->producer_version.length != 0 &&
        producer.length + m->producer_version.length < HG_LIMIT_NAME_BYTES)
        producer = hg_str_format(&im->ctx->arena, "%.*s %.*s", (int)producer.length, producer.text,
                                 (int)m->producer_version.length, m->producer_version.text);
    if (hg_onnx_has(m->has, HG_ONNX_MODEL_VERSION) && m->model_version != 0)
        version = hg_str_format(&im->ctx->arena, "%" PRId64, m->model_version);
    HG_TRY(import_add_meta(im, hg_str_from("producer"), producer));
    HG_TRY(import_add_meta(im, hg_str_from("domain"), m->domain));
    HG_TRY(import_add_meta(im, hg_str_from("version"), version));
    HG_TRY(import_add_meta(im, hg_str_from("doc"), m->doc_string));
    while (hg_wire_list_next(&entries, &item)) {
        hg_onnx_entry entry;
        HG_TRY(hg_onnx_read_entry(&im->source, item, &entry));
        HG_TRY(import_add_meta(im, entry.key, entry.value));
    }
    return HOLO_OK;
}

/* ---- unknown operators ----------------------------------------------------------------------- */

static bool import_is_unknown(const hg_callee *c)
{
    return c->op == NULL && c->function == NULL && c->n_nodes > 0;
}

/* All of them in one sentence, and each in the log. */
static holo_status import_report_unknown(const hg_importer *im)
{
    char list[400];
    size_t used = 0, count = 0;
    for (size_t i = 0; i < im->n_callee; i++) {
        const hg_callee *c = &im->callee[i];
        if (!import_is_unknown(c)) continue;
        const hg_str name = hg_import_shown(c->name), domain = hg_import_shown(c->domain);
        const char *colon = domain.length == 0 ? "" : ":";
        const char *nodes = c->n_nodes == 1 ? "node" : "nodes";
        hg_log(im->ctx, HOLO_LOG_WARNING,
               "operator %.*s%s%.*s is not supported: %" PRIu64 " %s, first '%.*s'",
               HG_STR_ARG(domain), colon, HG_STR_ARG(name), c->n_nodes, nodes,
               HG_STR_ARG(c->first));
        int more =
            snprintf(list + used, sizeof list - used, "%s%.*s%s%.*s (%" PRIu64 " %s, first '%.*s')",
                     count == 0 ? "" : ", ", HG_STR_ARG(domain), colon, HG_STR_ARG(name),
                     c->n_nodes, nodes, HG_STR_ARG(c->first));
        count++;
        if (more > 0)
            used += (size_t)more < sizeof list - used ? (size_t)more : sizeof list - used - 1;
    }
    if (count == 0) return HOLO_OK;
    return hg_fail(im->ctx->error, HOLO_E_UNSUPPORTED, "%zu operator%s not supported: %s%s", count,
                   count == 1 ? " is" : "s are", list, used == sizeof list - 1 ? "..." : "");
}

/* ---- arity ----------------------------------------------------------------------------------- */

static bool import_fits(uint32_t n, hg_arity arity)
{
    return (int64_t)n >= arity.min && (arity.max < 0 || (int64_t)n <= arity.max);
}

/* After upgrades: old versions have other numbers. */
static holo_status import_check_arity(hg_importer *im)
{
    for (hg_node_id id = 1; id < im->g->n_node; id++) {
        const hg_node *n = hg_graph_node(im->g, id);
        const bool takes = import_fits(n->n_in, n->op->in),
                   gives = import_fits(n->n_out, n->op->out);
        if (n->region == 0 || (takes && gives)) continue;
        const hg_arity arity = takes ? n->op->out : n->op->in;
        char label[32], most[32] = "";
        im->where = "node";
        im->where_name = hg_node_label(im->g, id, label, sizeof label);
        im->where_op = hg_str_from(n->op->name);
        if (arity.max >= 0) snprintf(most, sizeof most, " and at most %d", arity.max);
        return hg_import_fail(im, HOLO_E_MODEL, "it has %u %s, expected at least %d%s",
                              takes ? n->n_out : n->n_in, takes ? "outputs" : "inputs", arity.min,
                              most);
    }
    return HOLO_OK;
}

/* ---- the work -------------------------------------------------------------------------------- */

/* What a file that is no ONNX model may be; NULL: who knows. */
static const char *import_other(hg_wire bytes)
{
    static const struct {
        size_t at;
        const char *mark, *what;
    } others[] = {
        {4, "ORTM", "one in ONNX Runtime's own format (.ort): export it as .onnx"},
        {0, "HOLO", "a .holo file, which is compiled already"},
        {4, "TFL3", "one for TensorFlow Lite: export it as .onnx"},
        {0, "GGUF", "a GGUF file: export the model as .onnx"},
        {0, "PK\3\4", "a zip archive, as PyTorch writes: export the model as .onnx"},
        {0, "\x89HDF", "an HDF5 file, as Keras writes: export the model as .onnx"},
        {0, "version https://git-lfs", "a Git LFS pointer: fetch the file it stands for"},
        {0, "<", "a page: the download failed"},
    };
    const size_t size = (size_t)(bytes.end - bytes.at);
    for (size_t i = 0; i < HG_COUNT(others); i++) {
        const size_t length = strlen(others[i].mark);
        if (size >= others[i].at + length &&
            memcmp(bytes.at + others[i].at, others[i].mark, length) == 0)
            return others[i].what;
    }
    return NULL;
}

static holo_status import_read(hg_importer *im, hg_wire bytes)
{
    const holo_status status = hg_onnx_read_model(&im->source, bytes, &im->model);
    const char *other = status == HOLO_OK ? NULL : import_other(bytes);
    if (other == NULL) return status;
    return hg_fail(im->ctx->error, status, "not an ONNX model but %s", other);
}

static holo_status import_run(hg_importer *im, hg_wire bytes)
{
    HG_TRY(import_read(im, bytes));
    HG_TRY(import_check_versions(im));
    HG_TRY(import_metadata(im));
    HG_TRY(hg_function_read_all(im));
    HG_TRY(hg_declare_settings(im));
    HG_TRY(hg_import_main(im));
    HG_TRY(hg_declare_check_used(im));
    HG_TRY(import_report_unknown(im));
    HG_TRY(hg_import_upgrade(im));
    HG_TRY(import_check_arity(im));
    if (im->g->dims.failed) return hg_fail_nomem(im->ctx->error, sizeof(hg_dim_rec));
    return HOLO_OK;
}

holo_status hg_import_onnx(hg_graph *g, const void *data, size_t size,
                           const hg_import_options *options)
{
    static const hg_import_options standard;
    hg_importer im = {.g = g,
                      .ctx = g->ctx,
                      .options = options == NULL ? &standard : options,
                      .source = {data, g->ctx->error}};
    if (data == NULL || size == 0)
        return hg_fail(g->ctx->error, HOLO_E_MODEL, "not an ONNX model: it is empty");
    hg_map_init(&im.callee_of, &g->ctx->scratch);
    hg_map_init(&im.choice_of, &g->ctx->scratch);
    hg_map_init(&im.symbol_of, &g->ctx->scratch);
    hg_map_init(&im.shape_of, &g->ctx->scratch);
    const uint8_t *bytes = data;
    holo_status status = import_run(&im, (hg_wire){bytes, bytes + size});
    hg_arena_reset(&g->ctx->scratch);
    return status;
}
