/* fuse_pointwise.c - bodies that join although only a run knows that their sizes are the same. */
#include "fault/small.h"
#include "rewrite.h"
#include "test.h"

#define PYRAMID_HEAD                                                                               \
    "graph g(%a: float32[n,3], %s: float32[3], %b: float32[m,3]) {\n"                              \
    "  %c = Concat(%b, %b) {axis=0}\n"

/* 2 m is never 1: n is the same, or 1. */
static void pointwise_pyramid(void)
{
    CHECK_PASS("fuse_pointwise",
               PYRAMID_HEAD "  %p = Mul(%a, %s)\n"
                            "  %y = Add(%p, %c)\n"
                            "  return %y\n}\n",
               PYRAMID_HEAD "  %y = holo:Lane(%a, %s, %c) {code={r0 = load f32 0; r1 = load f32 1; "
                            "r2 = mul f32 r0 r1; r3 = load f32 2; r4 = add f32 r2 r3; out r4 f32}, "
                            "types=[1]}\n"
                            "  return %y\n}\n");
    static const char *const kept[] = {
        /* what takes longer, sizes that may both be 1, one that is 1, a result that others read */
        PYRAMID_HEAD "  %p = Exp(%a)\n  %y = Add(%p, %c)\n  return %y\n}\n",
        "graph g(%a: float32[n], %b: float32[m]) {\n"
        "  %p = Neg(%a)\n  %y = Add(%p, %b)\n  return %y\n}\n",
        PYRAMID_HEAD "  %p = Neg(%s)\n  %y = Add(%p, %c)\n  return %y\n}\n",
        "graph g(%a: float32[1,3], %b: float32[m,3]) {\n  %c = Concat(%b, %b) {axis=0}\n"
        "  %p = Neg(%a)\n  %y = Add(%p, %c)\n  return %y\n}\n",
        PYRAMID_HEAD "  %p = Mul(%a, %s)\n  %y = Add(%p, %c)\n  return %y, %p\n}\n",
    };
    for (size_t i = 0; i < sizeof kept / sizeof kept[0]; i++)
        CHECK_PASS("fuse_pointwise", kept[i], kept[i]);
}

/* a [n, 3] is 1, 2, 3 ..., s 10, 20, 30, b [m, 3] 1: y = a * s + Concat(b, b), or a refusal. */
static bool pointwise_run(holo_session *s, int64_t n, int64_t m)
{
    float a[24], b[24];
    static const float scale[3] = {10, 20, 30};
    holo_error e = {0};
    holo_tensor in[3] = {{.data = a, .dim = {n, 3}, .rank = 2, .dtype = HOLO_F32},
                         {.data = (void *)(uintptr_t)scale, .dim = {3}, .rank = 1},
                         {.data = b, .dim = {m, 3}, .rank = 2, .dtype = HOLO_F32}};
    holo_tensor out;
    in[1].dtype = HOLO_F32;
    for (int i = 0; i < 24; i++) {
        a[i] = (float)i + 1;
        b[i] = 1;
    }
    for (uint32_t i = 0; i < 3; i++)
        CHECK_OK(holo_session_set_input(s, i, &in[i], &e), &e);
    if (holo_session_run(s, &e) != HOLO_OK) return false;
    CHECK_OK(holo_session_output(s, 0, &out, &e), &e);
    CHECK_EQ_INT(out.dim[0], 2 * m);
    for (int64_t i = 0; i < 6 * m; i++)
        if (!CHECK(((const float *)out.data)[i] == a[n == 1 ? i % 3 : i] * scale[i % 3] + 1)) break;
    return true;
}

static void pointwise_runs(void)
{
    holo_model *model;
    holo_session *session;
    holo_error e = {0};
    const fault_bytes file = fault_holo(PYRAMID_HEAD "  %p = Mul(%a, %s)\n"
                                                     "  %y = Add(%p, %c)\n"
                                                     "  return %y as \"y\"\n}\n");
    CHECK_OK(holo_model_open_memory(file.data, file.size, holo_kernels_all(), NULL, &model, &e),
             &e);
    CHECK_OK(holo_session_new(model, NULL, &session, &e), &e);
    CHECK(pointwise_run(session, 4, 2));
    CHECK(pointwise_run(session, 1, 1));
    CHECK(pointwise_run(session, 2, 1));
    CHECK(pointwise_run(session, 1, 3));
    CHECK(!pointwise_run(session, 3, 3));
    CHECK(!pointwise_run(session, 2, 2));
    CHECK(pointwise_run(session, 8, 4));
    holo_session_free(session);
    holo_model_free(model);
    free(file.data);
}

const hg_test_case hg_tests_pass_fuse_pointwise[] = {
    {"pyramid", pointwise_pyramid},
    {"runs", pointwise_runs},
    {0},
};
