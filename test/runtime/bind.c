/* bind.c - what is worth sharing among threads: a step that takes longer than waking one. */
#include "runtime/bind.h"

#include "fault/small.h"

enum { BIND_BYTES = 400000 };

typedef struct bind_case {
    const char *text; /* one step */
    holo_tensor in;   /* each input */
    uint32_t n_in;
    bool is_shared;
} bind_case;

static void bind_try(const bind_case *c, holo_pool *pool, uint8_t *data)
{
    holo_model *model = NULL;
    holo_session *session = NULL;
    holo_error e = {0};
    holo_session_options options = HOLO_SESSION_OPTIONS_INIT;
    holo_tensor in = c->in;
    in.data = data;
    options.pool = pool;
    const fault_bytes bytes = fault_holo(c->text);
    if (CHECK_OK(
            holo_model_open_memory(bytes.data, bytes.size, holo_kernels_all(), NULL, &model, &e),
            &e) &&
        CHECK_OK(holo_session_new(model, &options, &session, &e), &e)) {
        for (uint32_t i = 0; i < c->n_in; i++)
            CHECK_OK(holo_session_set_input(session, i, &in, &e), &e);
        CHECK_OK(holo_session_prepare(session, &e), &e);
        CHECK_EQ_INT(session->step[0].tasks > 1, c->is_shared);
    }
    holo_session_free(session);
    holo_model_free(model);
    free(bytes.data);
}

static void bind_shares_long_steps(void)
{
    static const bind_case all[] = {
        /* 2 us and 200 kB; 14 us and 1.2 MB; few bytes and many operations */
        {"graph(%x: bool[100000]) { %y = Not(%x) return %y as \"y\" }",
         {.dim = {100000}, .rank = 1, .dtype = HOLO_BOOL},
         1,
         false},
        {"graph(%x: float32[1000], %z: float32[1000]) { %y = Add(%x, %z) return %y as \"y\" }",
         {.dim = {1000}, .rank = 1, .dtype = HOLO_F32},
         2,
         false},
        {"graph(%x: float32[100000], %z: float32[100000]) { %y = Add(%x, %z) return %y as \"y\" }",
         {.dim = {100000}, .rank = 1, .dtype = HOLO_F32},
         2,
         true},
        {"graph(%x: float32[100,100], %z: float32[100,100]) { %y = MatMul(%x, %z) return %y as "
         "\"y\" }",
         {.dim = {100, 100}, .rank = 2, .dtype = HOLO_F32},
         2,
         true},
        /* elements that lie apart take longer than such that lie side by side */
        {"graph(%x: uint8[400,250]) { %y = Transpose(%x) return %y as \"y\" }",
         {.dim = {400, 250}, .rank = 2, .dtype = HOLO_U8},
         1,
         true},
        {"graph(%x: uint8[400,250]) { %a = const int64[1] {1} %b = const int64[1] {249} %y = "
         "Slice(%x, %a, %b, %a) return %y as \"y\" }",
         {.dim = {400, 250}, .rank = 2, .dtype = HOLO_U8},
         1,
         false},
    };
    holo_pool *pool = NULL;
    holo_error e = {0};
    uint8_t *data = calloc(1, BIND_BYTES);
    if (CHECK(data != NULL) && CHECK_OK(holo_pool_new(2, NULL, &pool, &e), &e))
        for (size_t i = 0; i < HG_COUNT(all); i++)
            bind_try(&all[i], pool, data);
    holo_pool_free(pool);
    free(data);
}

const hg_test_case hg_tests_runtime_bind[] = {
    {"shares_long_steps", bind_shares_long_steps},
    {0},
};
