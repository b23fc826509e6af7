/* value.c - where values lie: parameters, constant arrays, one static memory. */
#include "source/source.h"

#include <inttypes.h>
#include <stdio.h>

/* ---- names ------------------------------------------------------------------------------------
 */

/* Letters, digits and underscores of a name; others become an underscore. */
static void value_identifier(hg_ctext *out, const char *name)
{
    size_t at = strlen(out->text);
    for (size_t i = 0; name[i] != '\0' && i < 60; i++) {
        char c = name[i];
        out->text[at++] = hg_source_is_word(c) ? c : '_';
    }
    out->text[at] = '\0';
}

static void value_port_plain(const hg_program *p, hg_ctext *out, bool is_output, uint32_t i)
{
    const hg_port_rec *port = is_output ? &p->out[i] : &p->in[i];
    hg_ctext_set(out, is_output ? "out_" : "in_");
    value_identifier(out, p->text + port->name);
}

void hg_source_port(const hg_source *s, hg_ctext *out, bool is_output, uint32_t i)
{
    const hg_program *p = &s->graph->program;
    uint32_t n = is_output ? p->head.n_out : p->head.n_in;
    hg_ctext other;
    value_port_plain(p, out, is_output, i);
    for (uint32_t k = 0; k < n; k++) {
        value_port_plain(p, &other, is_output, k);
        if (k == i || strcmp(other.text, out->text) != 0) continue;
        hg_ctext_add(out, "_%" PRIu32, i); /* another one reads the same */
        return;
    }
}

void hg_source_shape(hg_ctext *out, const holo_tensor *t)
{
    hg_ctext_add(out, "%s[", holo_dtype_text(t->dtype));
    for (int d = 0; d < t->rank; d++)
        hg_ctext_add(out, "%s%" PRId64, d == 0 ? "" : ",", t->dim[d]);
    hg_ctext_add(out, "]");
}

/* ---- pointers ---------------------------------------------------------------------------------
 */

int64_t hg_source_direct(const hg_source *s, uint32_t value)
{
    const hg_program *p = &s->graph->program;
    if (p->value[value].storage != HG_STORAGE_ARENA) return -1;
    for (uint32_t i = 0; i < p->head.n_out; i++)
        if (p->out[i].value == value) return i;
    return -1;
}

/* A value that is no alias; `offset` in elements of dtype. */
static void value_base(const hg_source *s, hg_ctext *out, uint32_t v, holo_dtype dtype,
                       int64_t offset)
{
    const hg_value_rec *r = &s->graph->program.value[v];
    int64_t direct = hg_source_direct(s, v);
    if (r->storage == HG_STORAGE_INPUT) {
        hg_source_port(s, out, false, r->ref);
    } else if (direct >= 0) {
        hg_source_port(s, out, true, (uint32_t)direct);
    } else if (r->storage == HG_STORAGE_WEIGHT) {
        hg_ctext_set(out, "w%" PRIu32 "_%s", r->ref, hg_source_suffix(dtype));
    } else {
        const hg_span *span = &s->session->span[s->graph->value_buffer[v] - 1];
        offset += (int64_t)(span->offset / (hg_dtype_bits(dtype) / 8));
        hg_ctext_set(out, "memory.%s", hg_source_suffix(dtype));
    }
    bool is_cast = r->storage != HG_STORAGE_ARENA || direct >= 0;
    if (is_cast && r->storage != HG_STORAGE_WEIGHT && r->dtype != dtype) {
        hg_ctext plain = *out;
        hg_ctext_set(out, "(const %s *)(const void *)%s", hg_source_ctype(dtype), plain.text);
    }
    if (offset != 0) hg_ctext_add(out, " + %" PRId64, offset);
}

void hg_source_value(const hg_source *s, hg_ctext *out, uint32_t value)
{
    const hg_value_rec *r = &s->graph->program.value[value];
    int64_t offset = 0;
    if (r->storage == HG_STORAGE_ALIAS) {
        offset = r->offset != 0 ? s->session->dim[r->offset] : 0;
        value_base(s, out, r->ref, (holo_dtype)r->dtype, offset);
        return;
    }
    value_base(s, out, value, (holo_dtype)r->dtype, 0);
}

holo_dtype hg_source_plain(holo_dtype dtype)
{
    if (dtype == HOLO_F16 || dtype == HOLO_BF16) return HOLO_U16;
    return dtype == HOLO_BOOL ? HOLO_U8 : dtype;
}

/* ---- memory -----------------------------------------------------------------------------------
 */

void hg_source_memory(hg_source *s)
{
    static const holo_dtype types[] = {HOLO_F64, HOLO_F32, HOLO_I64, HOLO_U64, HOLO_I32,
                                       HOLO_U32, HOLO_I16, HOLO_U16, HOLO_I8,  HOLO_U8};
    size_t bytes = hg_align_up(s->session->arena_bytes, 8);
    if (bytes == 0) return;
    hg_source_line(s, "/* Everything between the steps; values that are never alive together share"
                      " places. */");
    hg_source_line(s, "static union {");
    for (size_t i = 0; i < HG_COUNT(types); i++)
        if ((s->members & HG_TYPE_BIT(types[i])) != 0)
            hg_source_line(s, "    %s %s[%zu];", hg_source_ctype(types[i]),
                           hg_source_suffix(types[i]), bytes / (hg_dtype_bits(types[i]) / 8));
    hg_source_line(s, "} memory;");
    hg_source_line(s, "%s", "");
}

/* ---- weights ----------------------------------------------------------------------------------
 */

static void value_element(hg_ctext *out, holo_dtype dtype, const uint8_t *data, int64_t i)
{
    uint32_t bytes = hg_dtype_bits(dtype) / 8;
    uint64_t bits = 0;
    float f32;
    double f64;
    memcpy(&bits, data + (size_t)i * bytes, bytes); /* little-endian, as the file */
    if (dtype == HOLO_F32) {
        memcpy(&f32, &bits, sizeof f32);
        hg_source_f32(out, f32);
    } else if (dtype == HOLO_F64) {
        memcpy(&f64, &bits, sizeof f64);
        hg_source_f64(out, f64);
    } else if (bytes == 8) {
        hg_source_int(out, dtype == HOLO_I64 ? HG_LANE_I64 : HG_LANE_U64, bits);
    } else if (dtype == HOLO_U32) {
        hg_ctext_set(out, "%" PRIu64 "u", bits);
    } else {
        bool is_signed = hg_dtype_is_signed_int(dtype);
        uint64_t sign = is_signed ? UINT64_C(1) << (8 * bytes - 1) : 0;
        hg_source_int(out, HG_LANE_I32, (bits ^ sign) - sign);
    }
}

/* A whole weight as elements of `dtype`. */
static void value_array(hg_source *s, uint32_t v, holo_dtype dtype)
{
    const hg_value_rec *r = &s->graph->program.value[v];
    const hg_weight_rec *w = &s->graph->program.weight[r->ref];
    const uint8_t *data = s->model->weights + w->offset;
    int64_t n = (int64_t)(w->bytes / (hg_dtype_bits(dtype) / 8));
    hg_ctext line, element, shape = {{0}};
    hg_source_shape(&shape, hg_session_tensor(s->session, v));
    hg_source_line(s, "static const %s w%" PRIu32 "_%s[%" PRId64 "] = { /* %s */",
                   hg_source_ctype(dtype), r->ref, hg_source_suffix(dtype), n == 0 ? 1 : n,
                   shape.text);
    for (int64_t i = 0; i < n;) {
        hg_ctext_set(&line, "    ");
        for (; i < n; i++) {
            value_element(&element, dtype, data, i);
            if (strlen(line.text) + strlen(element.text) > 98) break;
            hg_ctext_add(&line, "%s,%s", element.text, i + 1 < n ? " " : "");
        }
        hg_source_line(s, "%s", line.text);
    }
    if (n == 0) hg_source_line(s, "    0,");
    hg_source_line(s, "};");
    hg_source_line(s, "%s", "");
}

/* Weights that steps or outputs refer to, once for each type they are read as. */
void hg_source_weights(hg_source *s)
{
    const hg_program *p = &s->graph->program;
    uint64_t *done = hg_arena_array(s->arena, p->head.n_weight + 1, sizeof *done);
    if (done == NULL) {
        s->out.failed = true;
        return;
    }
    for (uint32_t v = 1; v < p->head.n_value; v++) {
        const hg_value_rec *r = &p->value[v];
        const uint32_t base = hg_program_root(p, v);
        if (p->value[base].storage != HG_STORAGE_WEIGHT || !s->is_read[v]) continue;
        holo_dtype dtype = hg_source_plain((holo_dtype)r->dtype);
        uint64_t *types = &done[p->value[base].ref];
        if ((*types & HG_TYPE_BIT(dtype)) == 0) value_array(s, base, dtype);
        *types |= HG_TYPE_BIT(dtype);
    }
}
