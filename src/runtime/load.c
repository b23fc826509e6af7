/* load.c - open: map, copy and verify the program, resolve kernel names, derive what sessions need.
 * The weights are not touched. */
#include "archive/read.h"
#include "base/cpu.h"
#include "base/limits.h"
#include "isa/deep.h"
#include "runtime/model.h"

const char *hg_model_step_kernel(const hg_program *p, uint32_t step)
{
    const hg_step_rec *r = &p->step[step];
    switch ((hg_opcode)r->op) {
    case HG_STEP_KERNEL: return p->text + p->kernel[r->kernel];
    case HG_STEP_BIND: return "bind";
    case HG_STEP_DIMS: return "dims";
    case HG_STEP_IF: return "if";
    case HG_STEP_LOOP: return "loop";
    }
    return "step";
}

const char *hg_model_step_op(const hg_program *p, uint32_t step, hg_name *room)
{
    const char *op = hg_program_step_op(p, step, room);
    return op[0] != 0 ? op : hg_model_step_kernel(p, step);
}

holo_status hg_model_blame(const hg_program *p, uint32_t step, holo_status status, holo_error *e)
{
    hg_name node, op;
    return hg_fail_prefix(e, status, "node '%s' (%s): ", hg_program_step_name(p, step, &node),
                          hg_model_step_op(p, step, &op));
}

/* The last variant of the name that this CPU and the numerics allow, and the one for every CPU. */
static void load_find_kernel(const holo_kernels *kernels, const char *name, uint32_t cpu, bool fast,
                             const hg_kernel **tuned, const hg_kernel **reference)
{
    for (size_t i = 0; kernels != NULL && i < kernels->count; i++) {
        for (const hg_kernel *k = kernels->list[i]; k->name != NULL; k++) {
            if (k->name[0] != name[0] || strcmp(k->name, name) != 0) continue;
            bool is_fast = (k->flags & HG_KERNEL_FAST) != 0;
            if (k->cpu == 0 && !is_fast) *reference = k;
            if ((k->cpu & ~cpu) != 0 || (is_fast && !fast)) continue;
            if (*tuned == NULL || k->cpu >= (*tuned)->cpu) *tuned = k;
        }
    }
}

/* What kernels may use: what the CPU has and the caller allows. */
static uint32_t load_features(uint32_t flags)
{
    if ((flags & HOLO_OPEN_REFERENCE) != 0) return 0;
    uint32_t wide =
        (flags & HOLO_OPEN_NO_AVX512) != 0 ? HG_CPU_AVX512 | HG_CPU_VNNI | HG_CPU_WIDE : 0;
    return hg_cpu_features() & ~wide;
}

/* Every missing name in one sentence. */
static holo_status load_kernels(holo_model *m, hg_model_graph *g, const holo_kernels *kernels,
                                holo_error *e)
{
    const hg_program *p = &g->program;
    const uint32_t cpu = m->cpu = load_features(m->flags);
    char missing[300];
    size_t at = 0;
    uint32_t n_missing = 0;
    g->kernel = hg_arena_array(&m->arena, p->head.n_kernel + 1, sizeof *g->kernel);
    g->reference = hg_arena_array(&m->arena, p->head.n_kernel + 1, sizeof *g->reference);
    if (g->kernel == NULL || g->reference == NULL)
        return hg_fail_nomem(e, p->head.n_kernel * sizeof *g->kernel);
    for (uint32_t i = 0; i < p->head.n_kernel; i++) {
        const char *name = p->text + p->kernel[i];
        load_find_kernel(kernels, name, cpu, p->head.numerics == HOLO_FAST, &g->kernel[i],
                         &g->reference[i]);
        if (g->kernel[i] == NULL)
            load_find_kernel(m->extra, name, cpu, p->head.numerics == HOLO_FAST, &g->kernel[i],
                             &g->reference[i]);
        if (g->reference[i] == NULL) g->reference[i] = g->kernel[i];
        if (g->kernel[i] != NULL) continue;
        n_missing++;
        size_t length = strlen(name);
        if (at + length + 3 > sizeof missing) continue;
        if (at != 0) memcpy(missing + at, ", ", 2), at += 2;
        memcpy(missing + at, name, length);
        at += length;
    }
    if (n_missing == 0) return HOLO_OK;
    missing[at] = 0;
    return hg_fail(e, HOLO_E_KERNEL,
                   "this program has no kernel '%s'; link it or use a full kernel table "
                   "(holo_kernels_all, and holo_kernels_ext as extra)",
                   missing);
}

/* The strings of one weight, read once for all sessions. */
static holo_status load_weight_strings(holo_model *m, hg_model_graph *g, uint32_t weight,
                                       holo_error *e)
{
    const hg_weight_rec *w = &g->program.weight[weight];
    const uint8_t *data = m->weights + w->offset;
    uint64_t count = 0; /* compilers that see the whole runtime as one file cannot tell */
    if (g->strings[weight].item != NULL) return HOLO_OK;
    HG_TRY(hg_strings_count(data, w->bytes, &count, e));
    holo_string *item = hg_arena_array(&m->arena, (size_t)count + 1, sizeof *item);
    if (item == NULL) return hg_fail_nomem(e, (size_t)count * sizeof *item);
    if (!hg_strings_load(data, w->bytes, count, item))
        return hg_fail(e, HOLO_E_FORMAT, "the strings of weight %u lie outside it", weight);
    for (uint64_t i = 0; i < count; i++)
        if (item[i].length > hg_limit(m->limits.string_bytes, HG_LIMIT_STRING_BYTES))
            return hg_fail(e, HOLO_E_LIMIT, "string %llu of weight %u has %llu bytes",
                           (unsigned long long)i, weight, (unsigned long long)item[i].length);
    g->strings[weight] = (hg_model_strings){item, count};
    return HOLO_OK;
}

static holo_status load_strings(holo_model *m, hg_model_graph *g, holo_error *e)
{
    const hg_program *p = &g->program;
    for (uint32_t v = 1; v < p->head.n_value; v++) {
        if (p->value[v].dtype != HOLO_STRING || p->value[v].storage != HG_STORAGE_WEIGHT) continue;
        if (g->strings == NULL)
            g->strings = hg_arena_array(&m->arena, p->head.n_weight, sizeof *g->strings);
        if (g->strings == NULL) return hg_fail_nomem(e, p->head.n_weight);
        HG_TRY(load_weight_strings(m, g, p->value[v].ref, e));
    }
    return HOLO_OK;
}

/* What the caller allows, before anything is made from it. */
static holo_status load_limits(holo_model *m, const hg_program *p, holo_error *e)
{
    const uint64_t most = hg_limit(m->limits.steps, HG_LIMIT_STEPS);
    m->n_step += p->head.n_step;
    if (m->n_step > most)
        return hg_fail(e, HOLO_E_LIMIT, "the model has %llu steps, its limit is %llu",
                       (unsigned long long)m->n_step, (unsigned long long)most);
    return HOLO_OK;
}

static holo_status load_graph(holo_model *m, const hg_holo_section *section, hg_model_graph *g,
                              const holo_kernels *kernels, holo_error *e)
{
    if (section->size > SIZE_MAX / 4 || section->size > UINT32_C(1) << 31)
        return hg_fail(e, HOLO_E_FORMAT, "a program section has %llu bytes",
                       (unsigned long long)section->size);
    uint8_t *copy = hg_arena_alloc_raw(&m->arena, (size_t)section->size);
    if (copy == NULL) return hg_fail_nomem(e, (size_t)section->size);
    memcpy(copy, m->data + section->offset, (size_t)section->size);
    HG_TRY(hg_holo_check_hash(section, copy, "program", e));
    HG_TRY(hg_program_view(copy, (size_t)section->size, &g->program, e));
    HG_TRY(load_limits(m, &g->program, e));
    g->program.names = m->names;
    g->program.n_names = m->n_names;
    HG_TRY(hg_program_verify(&g->program, m->weight_bytes, e));
    HG_TRY(load_kernels(m, g, kernels, e));
    HG_TRY(load_strings(m, g, e));
    size_t bytes = hg_model_derived_bytes(&g->program.head);
    void *block = hg_arena_alloc(&m->arena, bytes);
    if (block == NULL) return hg_fail_nomem(e, bytes);
    return hg_model_derive(g, block, e);
}

/* ---- bodies ---------------------------------------------------------------------------------- */

/* The body of step i belongs to it alone and comes later in the file: so bodies are a tree. */
static holo_status load_body(holo_model *m, uint32_t owner, uint32_t i, uint32_t number,
                             uint8_t *depth, holo_error *e)
{
    if (number <= owner || number >= m->n_program || !m->graph[number].program.head.is_body ||
        depth[number] != 0)
        return hg_fail(e, HOLO_E_FORMAT, "step %u of program %u runs program %u of %u", i, owner,
                       number, m->n_program);
    depth[number] = (uint8_t)(depth[owner] + 1);
    if (depth[number] > hg_limit_most(m->limits.nesting, HG_LIMIT_NESTING))
        return hg_fail(e, HOLO_E_LIMIT, "bodies are nested deeper than %u",
                       hg_limit_most(m->limits.nesting, HG_LIMIT_NESTING));
    return HOLO_OK;
}

static holo_status load_bodies(holo_model *m, holo_error *e)
{
    uint8_t *depth = hg_arena_alloc(&m->arena, m->n_program);
    if (depth == NULL) return hg_fail_nomem(e, m->n_program);
    for (uint32_t n = 0; n < m->n_program; n++) {
        const hg_program *p = &m->graph[n].program;
        if (p->head.is_body && depth[n] == 0)
            return hg_fail(e, HOLO_E_FORMAT, "program %u is a body that no step runs", n);
        for (uint32_t i = 0; i < p->head.n_step; i++) {
            const hg_step_rec *r = &p->step[i];
            bool is_if = r->op == HG_STEP_IF;
            if (!is_if && r->op != HG_STEP_LOOP) continue;
            HG_TRY(load_body(m, n, i, r->a, depth, e));
            if (is_if) HG_TRY(load_body(m, n, i, r->b, depth, e));
            HG_TRY(hg_program_verify_bodies(p, i, &m->graph[r->a].program,
                                            is_if ? &m->graph[r->b].program : NULL, e));
        }
    }
    return HOLO_OK;
}

/* Graphs come first. */
static holo_status load_count(holo_model *m, holo_error *e)
{
    while (m->n_graph < m->n_program && !m->graph[m->n_graph].program.head.is_body)
        m->n_graph++;
    for (uint32_t n = m->n_graph; n < m->n_program; n++)
        if (!m->graph[n].program.head.is_body)
            return hg_fail(e, HOLO_E_FORMAT, "program %u is a graph behind a body", n);
    if (m->n_graph == 0) return hg_fail(e, HOLO_E_FORMAT, "the file has no graph");
    for (uint32_t n = 1; n < m->n_graph; n++)
        for (uint32_t k = 0; k < n; k++)
            if (strcmp(holo_model_graph_name(m, n), holo_model_graph_name(m, k)) == 0)
                return hg_fail(e, HOLO_E_FORMAT, "graphs %u and %u have the same name '%s'", k, n,
                               holo_model_graph_name(m, n));
    return HOLO_OK;
}

static holo_status load_meta(holo_model *m, const hg_holo_section *section, holo_error *e)
{
    char *copy = hg_arena_alloc(&m->arena, (size_t)section->size + 1);
    if (copy == NULL) return hg_fail_nomem(e, (size_t)section->size);
    memcpy(copy, m->data + section->offset, (size_t)section->size);
    HG_TRY(hg_holo_check_hash(section, copy, "metadata", e));
    size_t ends = 0;
    for (size_t i = 0; i < section->size; i++)
        ends += copy[i] == 0;
    if (section->size != 0 && (copy[section->size - 1] != 0 || ends % 2 != 0))
        return hg_fail(e, HOLO_E_FORMAT, "the metadata are not pairs of texts");
    m->meta = copy;
    m->meta_bytes = (size_t)section->size;
    return HOLO_OK;
}

/* Buffers from the lowest up, by which memory is laid out where they serve: they can be bad, not
 * wrong. */
static holo_status load_places(holo_model *m, const hg_holo_section *section, holo_error *e)
{
    const size_t size = (size_t)section->size;
    if (size < sizeof(hg_holo_places) || size > SIZE_MAX / 4)
        return hg_fail(e, HOLO_E_FORMAT, "a section of places has %zu bytes, expected %zu or more",
                       size, sizeof(hg_holo_places));
    hg_holo_places *copy = hg_arena_alloc_raw(&m->arena, size);
    if (copy == NULL) return hg_fail_nomem(e, size);
    memcpy(copy, m->data + section->offset, size);
    HG_TRY(hg_holo_check_hash(section, copy, "places", e));
    const size_t room = (size - sizeof *copy) / sizeof(hg_span_place);
    if (copy->graph >= m->n_program)
        return hg_fail(e, HOLO_E_FORMAT, "places are those of program %u, the file has %u",
                       copy->graph, m->n_program);
    if (copy->count > room)
        return hg_fail(e, HOLO_E_FORMAT, "a section has %u places, room for %zu", copy->count,
                       room);
    m->graph[copy->graph].places =
        (hg_span_stack){(const hg_span_place *)(const void *)(copy + 1), copy->count};
    return HOLO_OK;
}

/* Sections that are read where they lie. */
static holo_status load_in_place(holo_model *m, const hg_holo_section *section, holo_error *e)
{
    const uint8_t *bytes = m->data + section->offset;
    bool is_weights = section->kind == HG_SECTION_WEIGHTS;
    if (is_weights) {
        m->weights = bytes;
        m->weight_bytes = section->size;
    } else if (section->kind == HG_SECTION_NAMES) {
        m->names = (const char *)bytes;
        m->n_names = section->size;
    } else {
        return HOLO_OK;
    }
    if ((m->flags & HOLO_OPEN_CHECK_WEIGHTS) == 0) return HOLO_OK;
    return hg_holo_check_hash(section, bytes, is_weights ? "weights" : "names", e);
}

enum { LOAD_MORE = 1024 }; /* kernels of a program, and what alignment takes */

/* Bytes that will be made of a program, by what its head says, which is not checked yet. */
static size_t load_guess(const hg_holo_section *section, const uint8_t *data, size_t size)
{
    hg_program_head head;
    if (section->kind != HG_SECTION_PROGRAM || section->size < sizeof head ||
        section->size > size || section->offset > size - section->size)
        return 0;
    memcpy(&head, data + section->offset, sizeof head);
    const size_t derived = hg_model_derived_bytes(&head);
    return (size_t)section->size + (derived < section->size ? derived : 0) + LOAD_MORE;
}

/* Memory for them is taken at once. */
static void load_expect(holo_model *m, const hg_holo_head *head, const hg_holo_section *table,
                        size_t size)
{
    size_t bytes = 0;
    for (uint32_t i = 0; i < head->n_section && bytes < size; i++)
        bytes += load_guess(&table[i], m->data, size);
    hg_arena_expect(&m->arena, bytes + head->n_section * (sizeof *table + sizeof *m->graph));
}

static holo_status load_sections(holo_model *m, size_t size, const holo_kernels *kernels,
                                 holo_error *e)
{
    hg_holo_head head;
    HG_TRY(hg_holo_head_read(m->data, size, &head, e));
    load_expect(m, &head, (const hg_holo_section *)(const void *)(m->data + sizeof head), size);
    hg_holo_section *table = hg_arena_array(&m->arena, head.n_section, sizeof *table);
    if (table == NULL) return hg_fail_nomem(e, head.n_section * sizeof *table);
    memcpy(table, m->data + sizeof head, head.n_section * sizeof *table);
    HG_TRY(hg_holo_check(&head, table, size, e));
    m->section = table;
    m->n_section = head.n_section;
    m->graph = hg_arena_array(&m->arena, head.n_section, sizeof *m->graph);
    if (m->graph == NULL) return hg_fail_nomem(e, head.n_section * sizeof *m->graph);
    for (uint32_t i = 0; i < head.n_section; i++)
        HG_TRY(load_in_place(m, &table[i], e));
    for (uint32_t i = 0; i < head.n_section; i++) {
        if (table[i].kind == HG_SECTION_PROGRAM)
            HG_TRY(load_graph(m, &table[i], &m->graph[m->n_program++], kernels, e));
        else if (table[i].kind == HG_SECTION_META)
            HG_TRY(load_meta(m, &table[i], e));
    }
    for (uint32_t i = 0; i < head.n_section; i++)
        if (table[i].kind == HG_SECTION_PLACES) HG_TRY(load_places(m, &table[i], e));
    HG_TRY(load_count(m, e));
    HG_TRY(load_bodies(m, e));
    for (uint32_t i = 0; i < m->n_graph; i++)
        HG_TRY(hg_model_check_ports(m, &m->graph[i].program, e));
    return hg_holo_check_gaps(&head, table, m->data, e);
}

static holo_status load_new(const holo_kernels *kernels, const holo_open_options *options,
                            holo_model **out, holo_error *e)
{
    static const holo_open_options standard = HOLO_OPEN_OPTIONS_INIT;
    if (options == NULL) options = &standard;
    if (options->struct_size != sizeof *options)
        return hg_fail(e, HOLO_E_ARG, "holo_open_options.struct_size is %zu, expected %zu",
                       options->struct_size, sizeof *options);
    if (kernels == NULL || kernels->struct_size != sizeof *kernels)
        return hg_fail(e, HOLO_E_ARG, "a kernel table is needed: pass holo_kernels_all()");
    if (options->extra != NULL && options->extra->struct_size != sizeof *kernels)
        return hg_fail(e, HOLO_E_ARG, "extra is no kernel table: pass holo_kernels_ext() or NULL");
    holo_allocator alloc = hg_allocator_or_libc(options->allocator);
    holo_model *m = hg_alloc_zero(&alloc, sizeof *m);
    if (m == NULL) return hg_fail_nomem(e, sizeof *m);
    m->alloc = alloc;
    m->flags = options->flags;
    m->extra = options->extra;
    m->limits = options->limits;
    hg_arena_init(&m->arena, &alloc, (size_t)options->limits.memory_bytes);
    *out = m;
    return HOLO_OK;
}

static holo_status load_finish(holo_model *m, size_t size, const holo_kernels *kernels,
                               holo_model **out, holo_error *e)
{
    holo_status status = load_sections(m, size, kernels, e);
    if (status != HOLO_OK) {
        holo_model_free(m);
        return status;
    }
    if ((m->flags & HOLO_OPEN_PREFAULT) != 0) hg_file_prefault(&m->file);
    *out = m;
    return HOLO_OK;
}

static holo_status load_from_file(holo_model *m, holo_status status, const char *name,
                                  const holo_kernels *kernels, holo_model **out, holo_error *e)
{
    if (status == HOLO_OK) {
        m->data = m->file.data;
        status = load_finish(m, m->file.size, kernels, out, e);
        if (status != HOLO_OK) return hg_fail_prefix(e, status, "%s: ", name);
        return HOLO_OK;
    }
    holo_model_free(m);
    return status;
}

holo_status holo_model_open_file(const char *path, const holo_kernels *kernels,
                                 const holo_open_options *options, holo_model **out,
                                 holo_error *error)
{
    holo_model *m;
    if (path == NULL || out == NULL)
        return hg_fail(error, HOLO_E_ARG, "path and out must not be NULL");
    HG_TRY(load_new(kernels, options, &m, error));
    uint64_t limit = options == NULL ? 0 : options->limits.memory_bytes;
    holo_status status = (m->flags & HOLO_OPEN_COPY) != 0
                             ? hg_file_read(path, limit, &m->alloc, &m->file, error)
                             : hg_file_map(path, &m->file, error);
    return load_from_file(m, status, path, kernels, out, error);
}

holo_status holo_model_open_fd(int fd, uint64_t offset, uint64_t size, const holo_kernels *kernels,
                               const holo_open_options *options, holo_model **out,
                               holo_error *error)
{
    holo_model *m;
    if (out == NULL) return hg_fail(error, HOLO_E_ARG, "out must not be NULL");
    HG_TRY(load_new(kernels, options, &m, error));
    uint64_t limit = options == NULL ? 0 : options->limits.memory_bytes;
    holo_status status = (m->flags & HOLO_OPEN_COPY) != 0
                             ? hg_file_read_fd(fd, offset, size, limit, &m->alloc, &m->file, error)
                             : hg_file_map_fd(fd, offset, size, &m->file, error);
    if (status == HOLO_OK && (uintptr_t)m->file.data % HG_ALIGN != 0)
        status = hg_fail(error, HOLO_E_ARG,
                         "the model starts at byte %llu of the file, expected a multiple of %d",
                         (unsigned long long)offset, HG_ALIGN);
    return load_from_file(m, status, "file descriptor", kernels, out, error);
}

holo_status holo_model_open_memory(const void *data, size_t size, const holo_kernels *kernels,
                                   const holo_open_options *options, holo_model **out,
                                   holo_error *error)
{
    holo_model *m;
    if (data == NULL || out == NULL)
        return hg_fail(error, HOLO_E_ARG, "data and out must not be NULL");
    bool copy = options != NULL && (options->flags & HOLO_OPEN_COPY) != 0;
    if (!copy && (uintptr_t)data % HG_ALIGN != 0)
        return hg_fail(
            error, HOLO_E_ARG,
            "the bytes start at an address that is not a multiple of %d; align them or use "
            "HOLO_OPEN_COPY",
            HG_ALIGN);
    HG_TRY(load_new(kernels, options, &m, error));
    m->data = data;
    if (copy && size != 0) {
        void *base;
        uint8_t *bytes = hg_alloc_aligned(&m->alloc, size, &base);
        if (bytes == NULL) {
            holo_model_free(m);
            return hg_fail_nomem(error, size);
        }
        memcpy(bytes, data, size);
        m->file = (hg_file){.data = bytes,
                            .size = size,
                            .base = base,
                            .base_size = size + HG_ALIGN,
                            .alloc = m->alloc,
                            .is_copy = true};
        m->data = bytes;
    }
    return load_finish(m, size, kernels, out, error);
}

void holo_model_free(holo_model *model)
{
    if (model == NULL) return;
    holo_allocator alloc = model->alloc;
    hg_file_unmap(&model->file);
    hg_arena_deinit(&model->arena);
    hg_free(&alloc, model, sizeof *model);
}
