/* make.c - builds ONNX models byte by byte for the tests of import/onnx. */
#include "import/make.h"

#include <stdio.h>
#include <stdlib.h>

make make_new(hg_arena *arena)
{
    return (make){.arena = arena};
}

void make_raw(make *m, const void *bytes, size_t size)
{
    if (m->size + size > m->capacity) {
        const size_t capacity = 2 * (m->size + size) + 64;
        uint8_t *bigger = hg_arena_alloc(m->arena, capacity);
        if (bigger == NULL) abort();
        if (m->size != 0) memcpy(bigger, m->data, m->size);
        m->data = bigger;
        m->capacity = capacity;
    }
    if (size != 0) memcpy(m->data + m->size, bytes, size);
    m->size += size;
}

void make_varint(make *m, uint64_t value)
{
    uint8_t bytes[10];
    size_t n = 0;
    for (; value >= 0x80; value >>= 7)
        bytes[n++] = (uint8_t)(value | 0x80);
    bytes[n++] = (uint8_t)value;
    make_raw(m, bytes, n);
}

void make_tag(make *m, uint32_t field, uint32_t wire_type)
{
    make_varint(m, (uint64_t)field << 3 | wire_type);
}

void make_int(make *m, uint32_t field, int64_t value)
{
    make_tag(m, field, HG_WIRE_VARINT);
    make_varint(m, (uint64_t)value);
}

void make_float(make *m, uint32_t field, float value)
{
    make_tag(m, field, HG_WIRE_FIXED32);
    make_raw(m, &value, sizeof value);
}

void make_bytes(make *m, uint32_t field, const void *bytes, size_t size)
{
    make_tag(m, field, HG_WIRE_BYTES);
    make_varint(m, size);
    make_raw(m, bytes, size);
}

void make_text(make *m, uint32_t field, const char *text)
{
    make_bytes(m, field, text, strlen(text));
}

void make_in(make *m, uint32_t field, const make *inner)
{
    make_bytes(m, field, inner->data, inner->size);
}

/* ---- fixture --------------------------------------------------------------------------------- */

static void make_log(void *user, holo_log_level level, const char *sentence)
{
    make_fixture *f = user;
    const size_t used = strlen(f->log);
    (void)level;
    snprintf(f->log + used, sizeof f->log - used, "%s\n", sentence);
}

void make_init(make_fixture *f)
{
    memset(f, 0, sizeof *f);
    f->ctx.error = &f->error;
    f->ctx.log = make_log;
    f->ctx.log_user = f;
    hg_arena_init(&f->ctx.arena, NULL, 0);
    hg_arena_init(&f->ctx.scratch, NULL, 0);
    hg_arena_init(&f->arena, NULL, 0);
}

void make_deinit(make_fixture *f)
{
    hg_arena_deinit(&f->ctx.arena);
    hg_arena_deinit(&f->ctx.scratch);
    hg_arena_deinit(&f->arena);
    free(f->text);
}

holo_status make_import(make_fixture *f, const make *model, const hg_import_options *options)
{
    /* A block of exactly this size, so that the address sanitizer sees every byte read beyond. */
    uint8_t *bytes = hg_arena_alloc(&f->arena, model->size + 1);
    uint8_t *copy = malloc(model->size == 0 ? 1 : model->size);
    if (bytes == NULL || copy == NULL) abort();
    if (model->size != 0) memcpy(copy, model->data, model->size);
    f->error = (holo_error){0};
    holo_status status = hg_graph_init(&f->graph, &f->ctx);
    if (status == HOLO_OK) status = hg_import_onnx(&f->graph, copy, model->size, options);
    free(copy);
    if (status != HOLO_OK) return status;
    /* Again over bytes that stay, since the graph refers to them. */
    memcpy(bytes, model->data, model->size);
    CHECK_OK(hg_graph_init(&f->graph, &f->ctx), &f->error);
    CHECK_OK(hg_import_onnx(&f->graph, bytes, model->size, options), &f->error);
    CHECK_OK(hg_graph_verify(&f->graph, &f->error), &f->error);
    return HOLO_OK;
}

static bool make_sink(void *user, const void *bytes, size_t size)
{
    make_fixture *f = user;
    if (f->text_size + size + 1 > f->text_capacity) {
        f->text_capacity = 2 * (f->text_size + size) + 256;
        f->text = realloc(f->text, f->text_capacity);
        if (f->text == NULL) abort();
    }
    memcpy(f->text + f->text_size, bytes, size);
    f->text_size += size;
    f->text[f->text_size] = 0;
    return true;
}

const char *make_dump(make_fixture *f)
{
    f->text_size = 0;
    CHECK_STATUS(hg_graph_dump(&f->graph, make_sink, f), HOLO_OK);
    return f->text == NULL ? "" : f->text;
}

/* ---- messages -------------------------------------------------------------------------------- */

/* Calls add for each part of a list "a,,b"; "" has no part. */
static void make_each(make *m, uint32_t field, const char *list,
                      void (*add)(make *, uint32_t, const char *, size_t))
{
    while (list != NULL && list[0] != 0) {
        const char *comma = strchr(list, ',');
        add(m, field, list, comma == NULL ? strlen(list) : (size_t)(comma - list));
        if (comma != NULL && comma[1] == 0) add(m, field, "", 0);
        list = comma == NULL ? NULL : comma + 1;
    }
}

static void make_add_name(make *m, uint32_t field, const char *text, size_t length)
{
    make_bytes(m, field, text, length);
}

static void make_add_number(make *m, uint32_t field, const char *text, size_t length)
{
    (void)length;
    make_int(m, field, strtoll(text, NULL, 10));
}

static void make_add_dim(make *m, uint32_t field, const char *text, size_t length)
{
    make dim = make_new(m->arena);
    if (text[0] == '-' || (text[0] >= '0' && text[0] <= '9'))
        make_int(&dim, 1, strtoll(text, NULL, 10));
    else if (text[0] != '?')
        make_bytes(&dim, 2, text, length);
    make_in(m, field, &dim);
}

make make_node(make_fixture *f, const char *name, const char *op, const char *in, const char *out)
{
    make m = make_new(&f->arena);
    make_each(&m, 1, in, make_add_name);
    make_each(&m, 2, out, make_add_name);
    make_text(&m, 3, name);
    make_text(&m, 4, op);
    return m;
}

make make_attr(make_fixture *f, const char *name, int64_t type)
{
    make m = make_new(&f->arena);
    make_text(&m, 1, name);
    make_int(&m, 20, type);
    return m;
}

void make_attr_int(make *node, const char *name, int64_t value)
{
    make m = make_new(node->arena);
    make_text(&m, 1, name);
    make_int(&m, 20, 2);
    make_int(&m, 3, value);
    make_in(node, 5, &m);
}

make make_value(make_fixture *f, const char *name, int64_t elem, const char *dims)
{
    make m = make_new(&f->arena), type = m, tensor = m, shape = m;
    make_each(&shape, 1, dims, make_add_dim);
    make_int(&tensor, 1, elem);
    if (dims != NULL) make_in(&tensor, 2, &shape);
    make_in(&type, 1, &tensor);
    make_text(&m, 1, name);
    make_in(&m, 2, &type);
    return m;
}

make make_tensor(make_fixture *f, const char *name, int64_t elem, const char *dims,
                 const float *values, size_t count)
{
    make m = make_new(&f->arena);
    make_each(&m, 1, dims, make_add_number);
    make_int(&m, 2, elem);
    make_text(&m, 8, name);
    if (values != NULL) make_bytes(&m, 4, values, count * sizeof *values);
    return m;
}

make make_model(make_fixture *f, const make *graph, int64_t opset)
{
    make m = make_new(&f->arena), import = m;
    make_int(&import, 2, opset);
    make_int(&m, 1, 8);
    make_in(&m, 8, &import);
    make_in(&m, 7, graph);
    return m;
}

make make_graph_xy(make_fixture *f)
{
    make g = make_new(&f->arena);
    const make x = make_value(f, "x", ELEM_F32, "batch,3"), y = make_value(f, "y", ELEM_F32, NULL);
    make_text(&g, 2, "tiny");
    make_in(&g, GRAPH_INPUT, &x);
    make_in(&g, GRAPH_OUTPUT, &y);
    return g;
}
