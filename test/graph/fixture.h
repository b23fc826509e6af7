/* fixture.h - a context, a graph in it and a text sink for the tests of graph/. */
#ifndef HG_TEST_GRAPH_FIXTURE_H
#define HG_TEST_GRAPH_FIXTURE_H

#include "graph/graph.h"
#include "op/op.h"
#include "test.h"

#include <stdio.h>
#include <stdlib.h>

typedef struct fixture {
    hg_ctx ctx;
    hg_graph g;
    holo_error error;
    char *text; /* what fixture_dump wrote */
    size_t length, capacity;
    int allowed; /* allocations left, when limited */
    bool limited;
} fixture;

static inline void *fixture_resize(void *user, void *p, size_t old_size, size_t new_size)
{
    fixture *f = user;
    (void)old_size;
    if (new_size == 0) {
        free(p);
        return NULL;
    }
    if (f->limited && f->allowed-- <= 0) return NULL;
    return realloc(p, new_size);
}

/* allowed < 0: no limit. The graph is not made yet. */
static inline fixture *fixture_new(int allowed)
{
    fixture *f = calloc(1, sizeof *f);
    if (f == NULL) abort();
    f->allowed = allowed;
    f->limited = allowed >= 0;
    holo_allocator alloc = {fixture_resize, f};
    hg_arena_init(&f->ctx.arena, &alloc, 0);
    hg_arena_init(&f->ctx.scratch, &alloc, 0);
    f->ctx.error = &f->error;
    return f;
}

static inline fixture *fixture_graph(void)
{
    fixture *f = fixture_new(-1);
    CHECK_OK(hg_graph_init(&f->g, &f->ctx), &f->error);
    return f;
}

static inline void fixture_free(fixture *f)
{
    hg_arena_deinit(&f->ctx.arena);
    hg_arena_deinit(&f->ctx.scratch);
    free(f->text);
    free(f);
}

static inline bool fixture_sink(void *user, const void *bytes, size_t size)
{
    fixture *f = user;
    if (f->length + size + 1 > f->capacity) {
        f->capacity = (f->length + size + 1) * 2;
        f->text = realloc(f->text, f->capacity);
        if (f->text == NULL) abort();
    }
    memcpy(f->text + f->length, bytes, size);
    f->length += size;
    f->text[f->length] = 0;
    return true;
}

/* The graph's text, valid until the next dump of this fixture. */
static inline const char *fixture_dump(fixture *f)
{
    f->length = 0;
    CHECK_OK(hg_graph_dump(&f->g, fixture_sink, f), &f->error);
    return f->text;
}

static inline fixture *fixture_parse(const char *text)
{
    fixture *f = fixture_graph();
    CHECK_OK(hg_graph_parse(&f->g, hg_str_from(text), &f->error), &f->error);
    return f;
}

static inline const hg_op *fixture_op(const char *name)
{
    const hg_op *op = hg_op_find((hg_str){0}, hg_str_from(name));
    if (op == NULL) hg_test_fail(HG_TEST_HERE, "operator %s is missing", name);
    return op;
}

/* A type with constant dimensions; the list ends with -1. */
static inline hg_type fixture_type(fixture *f, holo_dtype dtype, const int64_t *dims)
{
    hg_type type = {.dtype = dtype};
    for (; *dims >= 0; dims++)
        type.dim[type.rank++] = hg_dim_const(&f->g.dims, *dims);
    return type;
}

static inline hg_value_id fixture_const(fixture *f, holo_dtype dtype, const int64_t *dims,
                                        const void *data, size_t bytes)
{
    hg_value_id id = 0;
    CHECK_OK(hg_graph_add_const(&f->g, (hg_str){0}, fixture_type(f, dtype, dims), data, bytes, &id),
             &f->error);
    return id;
}

static inline hg_value_id fixture_input(fixture *f, const char *name)
{
    hg_value_id id = 0;
    hg_type type = fixture_type(f, HOLO_F32, (const int64_t[]){2, 3, -1});
    CHECK_OK(hg_graph_add_region_input(&f->g, HG_REGION_MAIN, hg_str_from(name), type, &id),
             &f->error);
    return id;
}

/* A node at the end of a region. */
static inline hg_node_id fixture_node(fixture *f, hg_region_id region, const hg_op *op,
                                      const hg_value_id *in, uint32_t n_in, uint32_t n_out)
{
    hg_node_id id = 0;
    hg_node_spec spec = {.op = op, .in = in, .n_in = n_in, .n_out = n_out, .n_body = op->n_body};
    CHECK_OK(hg_graph_add_node(&f->g, region, 0, &spec, &id), &f->error);
    return id;
}

static inline hg_value_id fixture_out(const fixture *f, hg_node_id node, uint32_t i)
{
    return hg_graph_node(&f->g, node)->out[i];
}

#endif
