/* hostile.c - the importer under attack: every truncation, every flipped byte, every allocation
 * failing. */
#include "import/make.h"

#include <stdlib.h>

/* A model with some of everything: settings, initializers of several kinds, attributes, bodies,
 * functions. */
static make hostile_model(make_fixture *f)
{
    static const float values[] = {1, 2, 3};
    static const int64_t index[] = {0, 2};
    make g = make_graph_xy(f);
    const make w = make_tensor(f, "w", ELEM_F32, "3", values, 3);
    make raw = make_tensor(f, "raw", ELEM_F32, "1,3", NULL, 0);
    make_bytes(&raw, 9, values, sizeof values);
    make sparse = make_new(&f->arena), places = make_tensor(f, "", ELEM_I64, "2", NULL, 0);
    const make some = make_tensor(f, "s", ELEM_F32, "2", values, 2);
    make_bytes(&places, 9, index, sizeof index);
    make_in(&sparse, 1, &some);
    make_in(&sparse, 2, &places);
    make_int(&sparse, 3, 3);
    make_in(&g, GRAPH_INITIALIZER, &w);
    make_in(&g, GRAPH_INITIALIZER, &raw);
    make_in(&g, 15, &sparse);
    make k = make_node(f, "k", "Constant", "", "c"), a = make_attr(f, "value_floats", 6);
    make_bytes(&a, 7, values, sizeof values);
    make_in(&k, 5, &a);
    const make n1 = make_node(f, "n1", "Add", "x,w", "p"),
               n2 = make_node(f, "n2", "Mul", "p,c", "q");
    make n3 = make_node(f, "n3", "Clip", "q,,", "r");
    make_attr_int(&n3, "extra", 3);
    make call = make_node(f, "call", "F", "r", "y");
    make_text(&call, 7, "local");
    const make *const nodes[] = {&k, &n2, &n1, &n3, &call};
    for (size_t i = 0; i < HG_COUNT(nodes); i++)
        make_in(&g, GRAPH_NODE, nodes[i]);
    const make info = make_value(f, "p", ELEM_F32, "batch,3");
    make_in(&g, GRAPH_INFO, &info);
    make m = make_model(f, &g, 14), fn = make_new(&f->arena), opset = fn, local = fn;
    make_text(&fn, 1, "F");
    make_text(&fn, 4, "a");
    make_text(&fn, 5, "b");
    make_text(&fn, 10, "local");
    make leaky = make_node(f, "l", "LeakyRelu", "a", "b"), ref = make_new(&f->arena);
    make_text(&ref, 1, "alpha");
    make_text(&ref, 21, "slope");
    make_in(&leaky, 5, &ref);
    make_in(&fn, 7, &leaky);
    make_int(&opset, 2, 14);
    make_in(&fn, 9, &opset);
    make_in(&m, 25, &fn);
    make_text(&local, 1, "local");
    make_int(&local, 2, 1);
    make_in(&m, 8, &local);
    make_text(&m, 2, "producer");
    return m;
}

/* Imports bytes that lie in a block of their own; any status is right, a crash is not. */
static holo_status hostile_try(const uint8_t *bytes, size_t size)
{
    holo_error error = {0};
    hg_ctx ctx = {.error = &error};
    hg_graph graph;
    hg_arena_init(&ctx.arena, NULL, 16 << 20);
    hg_arena_init(&ctx.scratch, NULL, 16 << 20);
    uint8_t *copy = malloc(size == 0 ? 1 : size);
    if (size != 0) memcpy(copy, bytes, size);
    holo_status status = hg_graph_init(&graph, &ctx);
    if (status == HOLO_OK) status = hg_import_onnx(&graph, copy, size, NULL);
    if (status == HOLO_OK && !CHECK_OK(hg_graph_verify(&graph, &error), &error))
        status = HOLO_E_BUG;
    if (status != HOLO_OK) CHECK(error.message[0] != 0 && error.status == status);
    free(copy);
    hg_arena_deinit(&ctx.arena);
    hg_arena_deinit(&ctx.scratch);
    return status;
}

static void hostile_is_fine_as_it_is(void)
{
    make_fixture f;
    make_init(&f);
    const make m = hostile_model(&f);
    CHECK_OK(make_import(&f, &m, NULL), &f.error);
    CHECK_STATUS(hostile_try(m.data, m.size), HOLO_OK);
    make_deinit(&f);
}

static void hostile_truncated(void)
{
    make_fixture f;
    make_init(&f);
    const make m = hostile_model(&f);
    for (size_t size = 0; size < m.size; size++)
        (void)hostile_try(m.data, size);
    make_deinit(&f);
}

static void hostile_flipped(void)
{
    static const uint8_t masks[] = {0x01, 0x02, 0x04, 0x08, 0x10, 0x20, 0x40, 0x80, 0xff, 0x7f};
    make_fixture f;
    make_init(&f);
    const make m = hostile_model(&f);
    for (size_t i = 0; i < m.size; i++)
        for (size_t k = 0; k < HG_COUNT(masks); k++) {
            m.data[i] ^= masks[k];
            (void)hostile_try(m.data, m.size);
            m.data[i] ^= masks[k];
        }
    make_deinit(&f);
}

/* Bytes replaced, removed and repeated at random places; the same every time. */
static void hostile_mutated(void)
{
    make_fixture f;
    make_init(&f);
    const make m = hostile_model(&f);
    uint8_t *bytes = malloc(2 * m.size);
    uint64_t random = 12345;
    for (int round = 0; round < 20000; round++) {
        size_t size = m.size;
        memcpy(bytes, m.data, size);
        for (int edits = 0; edits < 1 + round % 4; edits++) {
            random = random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
            const size_t at = (size_t)(random >> 33) % size, to = (size_t)(random >> 20) % size;
            const size_t n = (random >> 50) % 16 % (size - (at > to ? at : to));
            if (round % 3 == 0)
                bytes[at] = (uint8_t)(random >> 12);
            else if (round % 3 == 1)
                memmove(bytes + at, bytes + to, n);
            else if (size > 64)
                memmove(bytes + at, bytes + at + n, size - at - n), size -= n;
        }
        (void)hostile_try(bytes, size);
    }
    free(bytes);
    make_deinit(&f);
}

/* ---- memory ---------------------------------------------------------------------------------- */

typedef struct hostile_budget {
    int left, live;
} hostile_budget;

static void *hostile_resize(void *user, void *p, size_t old_size, size_t new_size)
{
    hostile_budget *b = user;
    (void)old_size;
    if (new_size == 0) {
        b->live -= p != NULL;
        free(p);
        return NULL;
    }
    if (b->left-- <= 0) return NULL;
    b->live += p == NULL;
    return realloc(p, new_size);
}

/* Arenas ask for little: a limit makes every single request fail in turn. */
static void hostile_out_of_memory(void)
{
    make_fixture f;
    make_init(&f);
    const make m = hostile_model(&f);
    bool is_done = false;
    for (int n = 0; n < 100 && !is_done; n++) {
        hostile_budget budget = {.left = n};
        const holo_allocator alloc = {hostile_resize, &budget};
        holo_error error = {0};
        hg_ctx ctx = {.error = &error};
        hg_graph graph;
        hg_arena_init(&ctx.arena, &alloc, 0);
        hg_arena_init(&ctx.scratch, &alloc, 0);
        holo_status status = hg_graph_init(&graph, &ctx);
        if (status == HOLO_OK) status = hg_import_onnx(&graph, m.data, m.size, NULL);
        CHECK(status == HOLO_OK || status == HOLO_E_NOMEM);
        is_done = status == HOLO_OK;
        hg_arena_deinit(&ctx.arena);
        hg_arena_deinit(&ctx.scratch);
        CHECK_EQ_INT(budget.live, 0);
    }
    CHECK(is_done);
    make_deinit(&f);
}

static void hostile_every_limit(void)
{
    make_fixture f;
    make_init(&f);
    const make m = hostile_model(&f);
    for (int which = 0; which < 2; which++) {
        bool is_done = false;
        for (size_t limit = 1; limit < 200000 && !is_done; limit += limit < 40000 ? 16 : 256) {
            holo_error error = {0};
            hg_ctx ctx = {.error = &error};
            hg_graph graph;
            hg_arena_init(&ctx.arena, NULL, which == 0 ? limit : 0);
            hg_arena_init(&ctx.scratch, NULL, which == 1 ? limit : 0);
            holo_status status = hg_graph_init(&graph, &ctx);
            if (status == HOLO_OK) status = hg_import_onnx(&graph, m.data, m.size, NULL);
            if (!CHECK(status == HOLO_OK || status == HOLO_E_NOMEM))
                hg_test_fail(HG_TEST_HERE, "limit %zu: %s", limit, error.message);
            is_done = status == HOLO_OK;
            hg_arena_deinit(&ctx.arena);
            hg_arena_deinit(&ctx.scratch);
        }
        CHECK(is_done);
    }
    make_deinit(&f);
}

const hg_test_case hg_tests_import_hostile[] = {
    {"is_fine_as_it_is", hostile_is_fine_as_it_is},
    {"truncated", hostile_truncated},
    {"flipped", hostile_flipped},
    {"mutated", hostile_mutated},
    {"out_of_memory", hostile_out_of_memory},
    {"every_limit", hostile_every_limit},
    {0},
};
