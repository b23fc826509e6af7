/* moves.c - sizes that change: lists of what moves give what settling everything gives, and what
 * does not fit is refused with the same sentence. */
#include "runtime/moves.h"

#include "fault/small.h"

/* Layers that are alike, views at fixed places, a size that is computed, and with %last one whose
 * place moves. */
#define MOVES_LAYER(to, from)                                                                      \
    " %m" to " = MatMul(%" from ", %w) %a" to " = Add(%m" to ", %" from ") %" to                   \
    " = Softmax(%a" to ")"
#define MOVES_BODY                                                                                 \
    "graph(%x: float32[n,4], %z: float32[k,4]) { %w = const float32[4,4] {0.5,1.0,-1.0,0.25,1.0,"  \
    "0.0,0.5,-0.5,0.125,1.0,0.5,0.5,-1.0,0.5,0.25,1.0} %flat = const int64[2] {2,-1} %from = "     \
    "const int64[1] {-1} %to = const int64[1] {1000000} %one = const int64[1] {1}" MOVES_LAYER(    \
        "p", "x") MOVES_LAYER("q", "p")                                                            \
        MOVES_LAYER(                                                                               \
            "r",                                                                                   \
            "q") " %both = Concat(%r, %z) {axis=0} %y = MatMul(%both, %w) %half = Reshape(%y, "    \
                 "%flat) %t "                                                                      \
                 "= Transpose(%half) %tail = Slice(%both, %one, %to) %u = ReduceSum(%tail) %v = "  \
                 "LogSoftmax(%z)"
static const char moves_fixed[] = MOVES_BODY " return %t as \"t\", %u as \"u\", %v as \"v\" }";
static const char moves_shifting[] = MOVES_BODY
    " %last = Slice(%both, %from, %to) return %t as \"t\", %u as \"u\", %last as \"last\" }";

enum { MOVES_MOST = 64 };

typedef struct moves_fixture {
    fault_bytes bytes;
    holo_model *model;
    holo_session *session;
    holo_error e;
    float x[MOVES_MOST * 4];
} moves_fixture;

static bool moves_begin(moves_fixture *f, const char *text, const holo_session_options *options)
{
    *f = (moves_fixture){.bytes = fault_holo(text)};
    for (int i = 0; i < MOVES_MOST * 4; i++)
        f->x[i] = (float)(i % 19) / 8 - 1;
    return CHECK_OK(holo_model_open_memory(f->bytes.data, f->bytes.size, holo_kernels_all(), NULL,
                                           &f->model, &f->e),
                    &f->e) &&
           CHECK_OK(holo_session_new(f->model, options, &f->session, &f->e), &f->e);
}

static void moves_end(moves_fixture *f)
{
    holo_session_free(f->session);
    holo_model_free(f->model);
    free(f->bytes.data);
}

static void moves_bind(moves_fixture *f, holo_session *s, int64_t n, int64_t k)
{
    const holo_tensor x = {.data = f->x, .dim = {n, 4}, .rank = 2, .dtype = HOLO_F32};
    const holo_tensor z = {.data = f->x, .dim = {k, 4}, .rank = 2, .dtype = HOLO_F32};
    CHECK_OK(holo_session_set_input(s, 0, &x, &f->e), &f->e);
    CHECK_OK(holo_session_set_input(s, 1, &z, &f->e), &f->e);
}

/* Against a session that has never had another size. */
static void moves_compare(moves_fixture *f, int64_t n, int64_t k)
{
    holo_session *fresh = NULL;
    if (!CHECK_OK(holo_session_new(f->model, NULL, &fresh, &f->e), &f->e)) return;
    moves_bind(f, fresh, n, k);
    moves_bind(f, f->session, n, k);
    CHECK_OK(holo_session_run(fresh, &f->e), &f->e);
    CHECK_OK(holo_session_run(f->session, &f->e), &f->e);
    for (uint32_t i = 0; i < 3; i++) {
        holo_tensor a, b;
        CHECK_OK(holo_session_output(fresh, i, &a, &f->e), &f->e);
        CHECK_OK(holo_session_output(f->session, i, &b, &f->e), &f->e);
        CHECK_EQ_INT(a.rank, b.rank);
        for (int d = 0; d < a.rank; d++)
            CHECK_EQ_INT(b.dim[d], a.dim[d]);
        CHECK_MEM(b.data, a.data, holo_tensor_bytes(&a));
    }
    for (uint32_t i = 0; i < fresh->graph->program.head.n_step; i++) {
        CHECK(fresh->step[i].kernel == f->session->step[i].kernel);
        CHECK_EQ_INT(f->session->step[i].units, fresh->step[i].units);
        CHECK_EQ_INT(f->session->step[i].tasks, fresh->step[i].tasks);
        CHECK(hg_session_cost(fresh, &fresh->step[i]).bytes ==
              hg_session_cost(f->session, &f->session->step[i]).bytes);
    }
    holo_session_free(fresh);
}

static const int64_t moves_size_pairs[][2] = {{30, 20}, {31, 20}, {9, 9},  {9, 30}, {30, 20},
                                              {1, 1},   {2, 40},  {40, 2}, {3, 7},  {40, 40}};

static void moves_sizes(void)
{
    static const char *const text[] = {moves_fixed, moves_shifting};
    for (size_t i = 0; i < HG_COUNT(text); i++) {
        moves_fixture f;
        if (moves_begin(&f, text[i], NULL))
            for (size_t k = 0; k < HG_COUNT(moves_size_pairs); k++)
                moves_compare(&f, moves_size_pairs[k][0], moves_size_pairs[k][1]);
        moves_end(&f);
    }
}

/* Smaller sizes are settled by lists alone; larger ones than there is room for are not. */
static void moves_rooms(void)
{
    moves_fixture f;
    if (moves_begin(&f, moves_fixed, NULL)) {
        moves_compare(&f, 30, 30);
        const void *before = f.session->slab.data;
        moves_bind(&f, f.session, 10, 12);
        f.session->symbol[0] = 10;
        f.session->symbol[1] = 12;
        CHECK(hg_moves_apply(f.session));
        CHECK(f.session->slab.data == before);
        f.session->symbol[0] = 60;
        moves_bind(&f, f.session, 60, 12);
        CHECK(!hg_moves_apply(f.session));
        moves_compare(&f, 60, 12);
        moves_compare(&f, 59, 12);
    }
    moves_end(&f);
}

/* Errors are found, and the session goes on. */
static void moves_refuses(void)
{
    moves_fixture f;
    holo_session_options options = HOLO_SESSION_OPTIONS_INIT;
    options.limits.tensor_bytes = 64 * 16;
    if (moves_begin(&f, moves_fixed, &options)) {
        moves_compare(&f, 20, 20);
        moves_compare(&f, 19, 20);
        moves_bind(&f, f.session, 45, 20);
        CHECK_STATUS(holo_session_prepare(f.session, &f.e), HOLO_E_LIMIT);
        CHECK_HAS(f.e.message, "limits.tensor_bytes");
        moves_compare(&f, 20, 19);
        moves_bind(&f, f.session, 20, 0); /* an empty tensor is no error */
        CHECK_OK(holo_session_prepare(f.session, &f.e), &f.e);
        moves_compare(&f, 18, 20);
    }
    moves_end(&f);
}

/* A file whose view leaves what it is a view of, but only with some sizes. */
static void moves_hostile_view(void)
{
    moves_fixture f = {.bytes = fault_holo("graph(%x: float32[n,4], %z: float32[k,4]) { %a = "
                                           "Softmax(%x) %s = const int64[2] {2,-1} %r = "
                                           "Reshape(%a, %s) %y = Softmax(%r) %v = Softmax(%z) "
                                           "return %y as \"y\", %v as \"v\" }")};
    hg_program p = fault_program_of(f.bytes);
    uint32_t view = 0, other = 0;
    for (uint32_t v = 1; v < p.head.n_value; v++)
        if (p.value[v].storage == HG_STORAGE_ALIAS && p.value[v].rank == 2) view = v;
    other = p.list[p.value[p.in[1].value].dims]; /* k */
    if (CHECK(view != 0)) {
        ((uint32_t *)(uintptr_t)p.list)[p.value[view].dims] = other;
        fault_seal(f.bytes.data, f.bytes.size);
        holo_status status = holo_model_open_memory(f.bytes.data, f.bytes.size, holo_kernels_all(),
                                                    NULL, &f.model, &f.e);
        if (CHECK_OK(status, &f.e) &&
            CHECK_OK(holo_session_new(f.model, NULL, &f.session, &f.e), &f.e)) {
            moves_bind(&f, f.session, 8, 2);
            CHECK_OK(holo_session_prepare(f.session, &f.e), &f.e);
            moves_bind(&f, f.session, 6, 2);
            CHECK_OK(holo_session_prepare(f.session, &f.e), &f.e);
            moves_bind(&f, f.session, 6, 3);
            CHECK_STATUS(holo_session_prepare(f.session, &f.e), HOLO_E_SHAPE);
            CHECK_HAS(f.e.message, "is a view of");
        }
    }
    moves_end(&f);
}

const hg_test_case hg_tests_runtime_moves[] = {
    {"sizes", moves_sizes},
    {"rooms", moves_rooms},
    {"refuses", moves_refuses},
    {"hostile_view", moves_hostile_view},
    {0},
};
