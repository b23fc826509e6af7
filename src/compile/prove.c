/* prove.c - all certificates of a file, and the steps of its programs that need one: those that
 * read tables, products of bytes in pairs, those with 16-bit codes and those with codes of few
 * bits. Nothing is run. */
#include "archive/read.h"
#include "base/ctx.h"
#include "base/file.h"
#include "isa/program.h"
#include "table/cert.h"

typedef struct prove {
    hg_ctx ctx;
    hg_file file;
    const uint8_t *data;
    hg_holo_head head;
    hg_holo_section *section;
    const uint8_t *weights;
    uint64_t weight_bytes;
    hg_str certs;
    hg_cert_view *proved; /* those that hold */
    size_t n_proved, proved_capacity;
    void (*visit)(void *user, const holo_proof *proof);
    void *user;
    holo_prove_report report;
} prove;

static holo_status prove_say(prove *p, hg_str name, hg_str claim, const char *why)
{
    hg_str label = hg_str_copy(&p->ctx.arena, name), text = hg_str_copy(&p->ctx.arena, claim);
    if (label.text == NULL || text.text == NULL) return hg_fail_nomem(p->ctx.error, claim.length);
    const holo_proof proof = {.name = label.text, .claim = text.text, .why = why};
    if (why == NULL)
        p->report.proved++;
    else
        p->report.failed++;
    if (p->visit != NULL) p->visit(p->user, &proof);
    return HOLO_OK;
}

/* ---- the file --------------------------------------------------------------------------------
 */

static holo_status prove_sections(prove *p)
{
    holo_error *e = p->ctx.error;
    HG_TRY(hg_holo_head_read(p->data, p->file.size, &p->head, e));
    HG_TRY(HG_NEW(&p->ctx, p->head.n_section, &p->section));
    memcpy(p->section, p->data + sizeof p->head, p->head.n_section * sizeof *p->section);
    HG_TRY(hg_holo_check(&p->head, p->section, p->file.size, e));
    for (uint32_t i = 0; i < p->head.n_section; i++) {
        const hg_holo_section *s = &p->section[i];
        const uint8_t *bytes = p->data + s->offset;
        if (s->kind == HG_SECTION_CERTS) {
            HG_TRY(hg_holo_check_hash(s, bytes, "certificates", e));
            p->certs = hg_str_copy(&p->ctx.arena, (hg_str){(const char *)bytes, (size_t)s->size});
            if (p->certs.text == NULL) return hg_fail_nomem(e, (size_t)s->size);
        }
        if (s->kind == HG_SECTION_WEIGHTS) {
            HG_TRY(hg_holo_check_hash(s, bytes, "weights", e));
            p->weights = bytes;
            p->weight_bytes = s->size;
        }
    }
    return HOLO_OK;
}

/* ---- certificates ----------------------------------------------------------------------------
 */

static holo_status prove_certs(prove *p)
{
    hg_str rest = p->certs;
    for (bool more = true;;) {
        hg_cert_view v;
        holo_error why = {0};
        HG_TRY(hg_cert_next(&rest, &v, &more, p->ctx.error));
        if (!more) return HOLO_OK;
        holo_status status = hg_cert_prove(&v, p->weights, p->weight_bytes, &why);
        if (status == HOLO_E_NOMEM) return hg_fail(p->ctx.error, status, "%s", why.message);
        HG_TRY(prove_say(p, v.label, v.claim, status == HOLO_OK ? NULL : why.message));
        if (status != HOLO_OK) continue;
        hg_cert_view *grown = hg_arena_grow(&p->ctx.arena, p->proved, p->n_proved,
                                            &p->proved_capacity, sizeof *grown);
        if (grown == NULL) return hg_fail_nomem(p->ctx.error, sizeof *grown);
        p->proved = grown;
        p->proved[p->n_proved++] = v;
    }
}

/* ---- tables that the programs read -----------------------------------------------------------
 */

/* Parameter i of a step when it is a number, otherwise -1. */
static int64_t prove_param(const hg_program *g, const hg_step_rec *s, uint32_t i)
{
    if (i >= s->n_param) return -1;
    const hg_dim_rec *d = &g->dim[g->list[s->param + i]];
    return d->op == HG_DIM_CONST ? d->value : -1;
}

/* The certificate says of the codes of the step what the step does with them. */
static bool prove_covers(const hg_cert_view *v, const hg_program *g, const hg_step_rec *s)
{
    enum { TABLE_BASE = 1, TABLE_CLASSES = 2, PROGRAM_BASE = 0, PROGRAM_ENTRIES = 1 };
    const hg_value_rec *codes = &g->value[g->list[s->in]], *made = &g->value[g->list[s->out]];
    if (v->from != (holo_dtype)codes->dtype || v->to != (holo_dtype)made->dtype) return false;
    if (v->is_palette)
        return prove_param(g, s, TABLE_BASE) == 0 && prove_param(g, s, TABLE_CLASSES) == 0;
    if (v->is_program)
        return v->base == prove_param(g, s, PROGRAM_BASE) &&
               v->entries == prove_param(g, s, PROGRAM_ENTRIES);
    return v->base == prove_param(g, s, TABLE_BASE) &&
           v->classes == prove_param(g, s, TABLE_CLASSES);
}

static const char *prove_step_fault(const prove *p, const hg_program *g, const hg_step_rec *s,
                                    bool is_program)
{
    const hg_value_rec *t = &g->value[g->list[s->in + 1]];
    if (t->storage != HG_STORAGE_WEIGHT) return "it reads a table that is no constant";
    const hg_weight_rec *w = &g->weight[t->ref];
    bool found = false;
    for (size_t i = 0; i < p->n_proved; i++) {
        const hg_cert_view *v = &p->proved[i];
        if (v->offset != w->offset || v->bytes != w->bytes || v->is_program != is_program) continue;
        if (!v->is_table && !v->is_palette) continue;
        found = true;
        if (prove_covers(v, g, s)) return NULL;
    }
    return found ? "it reads a table in another way than was proved"
                 : "no certificate that holds says what the table must be";
}

/* ---- products -----------------------------------------------------------------------
 */

/* Parameter "form" of a product of bytes (kernel/igemm.h), 0 of other kernels. */
static int64_t prove_form(const hg_program *g, const hg_step_rec *s, const char *kernel)
{
    enum { MATMUL_FORM = 0, CONV_FORM = 9 };
    if (strcmp(kernel, "matmul.p16i8") == 0) return prove_param(g, s, MATMUL_FORM);
    return strcmp(kernel, "conv.nhwc.i8") == 0 ? prove_param(g, s, CONV_FORM) : 0;
}

/* The bound is about the weights as the step reads them: panels of `depth` rows, of which the last
 * are sums. */
static bool prove_bounds(const hg_cert_view *v, const hg_program *g, const hg_value_rec *t,
                         bool is_wide)
{
    enum { CODE_MAX = 255, WIDE_MAX = 32768, ROW = 64 };
    const hg_cert_bound *b = &v->bound;
    if (t->rank < 2 || (is_wide ? b->column_max : b->pair_max) == 0) return false;
    const hg_dim_rec *d = &g->dim[g->list[t->dims + (uint32_t)(t->rank - 2)]];
    const int64_t depth = d->op == HG_DIM_CONST ? d->value : 0;
    return depth > 0 && b->input_max >= (is_wide ? WIDE_MAX : CODE_MAX) &&
           (b->panel == 0 || (b->panel / ROW == depth && b->panel % ROW == 0 &&
                              b->used / ROW == depth - 1 && b->used % ROW == 0));
}

static const char *prove_product_fault(const prove *p, const hg_program *g, const hg_step_rec *s,
                                       bool is_wide)
{
    const hg_value_rec *t = &g->value[g->list[s->in + 1]];
    if (t->storage != HG_STORAGE_WEIGHT) return "its weights are no constant";
    const hg_weight_rec *w = &g->weight[t->ref];
    for (size_t i = 0; i < p->n_proved; i++) {
        const hg_cert_view *v = &p->proved[i];
        if (v->is_table || v->is_palette || v->is_bits || v->offset != w->offset ||
            v->bytes != w->bytes)
            continue;
        if (prove_bounds(v, g, t, is_wide)) return NULL;
    }
    return is_wide ? "no certificate that holds says that its sums fit 32 bits"
                   : "no certificate that holds says that two products fit 16 bits";
}

/* Codes of 1 to 8 bits in panels: the certificate is about these codes, read as the step reads
 * them. */
static const char *prove_bits_fault(const prove *p, const hg_program *g, const hg_step_rec *s)
{
    enum { BITS_KIND = 0, BITS_GROUP = 1 };
    const hg_value_rec *t = &g->value[g->list[s->in + 1]];
    if (t->storage != HG_STORAGE_WEIGHT) return "its codes are no constant";
    const hg_weight_rec *w = &g->weight[t->ref];
    for (size_t i = 0; i < p->n_proved; i++) {
        const hg_cert_view *v = &p->proved[i];
        if (v->is_bits && v->offset == w->offset && v->bytes == w->bytes &&
            v->bits.kind == prove_param(g, s, BITS_KIND) &&
            v->bits.group == prove_param(g, s, BITS_GROUP))
            return NULL;
    }
    return "no certificate that holds says that its sums fit 32 bits";
}

/* ---- steps ------------------------------------------------------------------------------------
 */

/* A table of a product, its `last` input from the end: all bytes, of the type of the codes. */
static const char *prove_lookup_fault(const prove *p, const hg_program *g, const hg_step_rec *s,
                                      uint32_t last, uint32_t codes)
{
    const hg_value_rec *t = &g->value[g->list[s->in + s->n_in - last]],
                       *made = &g->value[g->list[codes]];
    if (t->storage != HG_STORAGE_WEIGHT) return "it reads a table that is no constant";
    const hg_weight_rec *w = &g->weight[t->ref];
    for (size_t i = 0; i < p->n_proved; i++) {
        const hg_cert_view *v = &p->proved[i];
        if (v->is_table && !v->is_program && v->offset == w->offset && v->bytes == w->bytes &&
            v->from == (holo_dtype)made->dtype && v->to == v->from && v->base == 0 &&
            v->entries == 256 && v->rows == 1 && v->classes == 0)
            return NULL;
    }
    return "no certificate that holds says what the table must be";
}

/* What a step does that needs a certificate, NULL: nothing; *why: it has none. */
static const char *prove_step(const prove *p, const hg_program *g, const hg_step_rec *s,
                              const char **why)
{
    enum { PAIRS = 1, LOOKUP = 2, LOAD = 4 };
    *why = NULL;
    if (s->op != HG_STEP_KERNEL || s->n_in < 2 || s->n_out != 1) return NULL;
    const char *kernel = g->text + g->kernel[s->kernel];
    const bool is_program = strcmp(kernel, "byteops") == 0;
    if (is_program || strcmp(kernel, "table") == 0 || strcmp(kernel, "table.copy") == 0) {
        *why = prove_step_fault(p, g, s, is_program);
        return is_program ? "program step" : "table step";
    }
    if (strcmp(kernel, "matmul.bits") == 0) {
        *why = prove_bits_fault(p, g, s);
        return "product with codes in panels";
    }
    if (strcmp(kernel, "matmul.p16i16") == 0) {
        *why = prove_product_fault(p, g, s, true);
        return "product with 16-bit codes";
    }
    const int64_t form = prove_form(g, s, kernel);
    if ((form & LOAD) != 0) *why = prove_lookup_fault(p, g, s, 1, s->in);
    if (*why != NULL) return "table before a product";
    if ((form & LOOKUP) != 0)
        *why = prove_lookup_fault(p, g, s, (form & LOAD) != 0 ? 2 : 1, s->out);
    if (*why != NULL) return "table behind a product";
    if ((form & PAIRS) == 0) return NULL;
    *why = prove_product_fault(p, g, s, false);
    return "product in pairs";
}

static holo_status prove_steps(prove *p, const hg_program *g)
{
    for (uint32_t i = 0; i < g->head.n_step; i++) {
        hg_name room;
        const char *why, *claim = prove_step(p, g, &g->step[i], &why);
        if (claim == NULL || why == NULL) continue;
        HG_TRY(
            prove_say(p, hg_str_from(hg_program_step_name(g, i, &room)), hg_str_from(claim), why));
    }
    return HOLO_OK;
}

static holo_status prove_programs(prove *p)
{
    holo_error *e = p->ctx.error;
    for (uint32_t i = 0; i < p->head.n_section; i++) {
        const hg_holo_section *s = &p->section[i];
        hg_program g;
        if (s->kind != HG_SECTION_PROGRAM) continue;
        if (s->size > UINT32_C(1) << 31)
            return hg_fail(e, HOLO_E_FORMAT, "a program section has %llu bytes",
                           (unsigned long long)s->size);
        void *copy = hg_arena_alloc(&p->ctx.arena, (size_t)s->size + HG_ALIGN);
        if (copy == NULL) return hg_fail_nomem(e, (size_t)s->size);
        memcpy(copy, p->data + s->offset, (size_t)s->size);
        HG_TRY(hg_holo_check_hash(s, copy, "program", e));
        HG_TRY(hg_program_view(copy, (size_t)s->size, &g, e));
        HG_TRY(hg_program_verify(&g, p->weight_bytes, e));
        HG_TRY(prove_steps(p, &g));
    }
    return HOLO_OK;
}

holo_status holo_prove_file(const char *path, void (*visit)(void *user, const holo_proof *proof),
                            void *user, holo_prove_report *report, holo_error *error)
{
    holo_error own;
    prove p = {.visit = visit, .user = user};
    if (path == NULL) return hg_fail(error, HOLO_E_ARG, "no file was given");
    p.ctx.error = error != NULL ? error : &own;
    HG_TRY(hg_file_map(path, &p.file, p.ctx.error));
    hg_arena_init(&p.ctx.arena, NULL, 0);
    p.data = p.file.data;
    holo_status status = prove_sections(&p);
    if (status == HOLO_OK) status = prove_certs(&p);
    if (status == HOLO_OK) status = prove_programs(&p);
    if (status == HOLO_OK && report != NULL) *report = p.report;
    hg_arena_deinit(&p.ctx.arena);
    hg_file_unmap(&p.file);
    if (status != HOLO_OK) return hg_fail_prefix(p.ctx.error, status, "%s: ", path);
    return HOLO_OK;
}
