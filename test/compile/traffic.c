/* traffic.c - bytes moved and repeated layers of graphs small enough to count by hand. */
#include "compile/traffic.h"
#include "test.h"

#include "pass/pass.h"
#include "plan/plan.h"

static holo_status traffic_load(hg_graph *g, hg_ctx *ctx, const char *text)
{
    bool changed = false;
    HG_TRY(hg_graph_init(g, ctx));
    HG_TRY(hg_graph_parse(g, hg_str_from(text), ctx->error));
    return hg_pass_find("infer_shapes")->run(g, &changed);
}

static holo_status traffic_plan(hg_graph *g)
{
    hg_weights weights = {.ctx = g->ctx};
    hg_texts names;
    hg_program program;
    HG_TRY(hg_texts_init(&names, g->ctx, 255));
    return hg_plan_graph(g, &weights, &names, 0, &program);
}

static void traffic_check(int line, const char *text, hg_traffic moved, hg_repeat layers)
{
    holo_error e = {0};
    hg_ctx ctx = {.error = &e};
    hg_graph g;
    hg_traffic traffic = {0};
    hg_repeat repeat = {0};
    hg_arena_init(&ctx.arena, NULL, 0);
    hg_arena_init(&ctx.scratch, NULL, 0);
    holo_status status = traffic_load(&g, &ctx, text);
    if (status == HOLO_OK) status = hg_traffic_count(&g, &traffic);
    if (status == HOLO_OK) status = hg_repeat_find(&g, &repeat);
    if (status != HOLO_OK) hg_test_fail(__FILE__, line, "%s", e.message);
    if (traffic.bytes != moved.bytes || traffic.depends_on_data != moved.depends_on_data)
        hg_test_fail(__FILE__, line, "%llu bytes, data %d; expected %llu, %d",
                     (unsigned long long)traffic.bytes, traffic.depends_on_data,
                     (unsigned long long)moved.bytes, moved.depends_on_data);
    if (repeat.count != layers.count || (repeat.count != 0 && repeat.nodes != layers.nodes))
        hg_test_fail(__FILE__, line, "%llu times %llu nodes", (unsigned long long)repeat.count,
                     (unsigned long long)repeat.nodes);
    hg_arena_deinit(&ctx.scratch);
    hg_arena_deinit(&ctx.arena);
}

/* Once it is planned. */
static void traffic_planned(int line, const char *text, uint64_t bytes)
{
    holo_error e = {0};
    hg_ctx ctx = {.error = &e};
    hg_graph g;
    hg_traffic traffic = {0};
    hg_arena_init(&ctx.arena, NULL, 0);
    hg_arena_init(&ctx.scratch, NULL, 0);
    holo_status status = traffic_load(&g, &ctx, text);
    if (status == HOLO_OK) status = traffic_plan(&g);
    if (status == HOLO_OK) status = hg_traffic_count(&g, &traffic);
    if (status != HOLO_OK || traffic.bytes != bytes)
        hg_test_fail(__FILE__, line, "%llu bytes, expected %llu %s",
                     (unsigned long long)traffic.bytes, (unsigned long long)bytes, e.message);
    hg_arena_deinit(&ctx.scratch);
    hg_arena_deinit(&ctx.arena);
}

static void traffic_at_rest(void)
{
    /* Results that are computed where the Concat wants them: three nodes of 32, 32 and 64 bytes. */
    traffic_planned(__LINE__,
                    "graph g(%x: float32[4]) { %a = Relu(%x) %b = Exp(%x) "
                    "%c = Concat(%a, %b) {axis=0} %y = Neg(%c) return %y }",
                    128);
    /* One that is an input is copied: 32, 32 for it, 64. */
    traffic_planned(__LINE__,
                    "graph g(%x: float32[4]) { %a = Relu(%x) "
                    "%c = Concat(%a, %x) {axis=0} %y = Neg(%c) return %y }",
                    128);
    /* Along the inner axis it is a step: 32, 32, 64 and 64. */
    traffic_planned(__LINE__,
                    "graph g(%x: float32[2,2]) { %a = Relu(%x) %b = Exp(%x) "
                    "%c = Concat(%a, %b) {axis=1} %y = Neg(%c) return %y }",
                    192);
    /* A Transpose of one row is a view. */
    traffic_planned(__LINE__,
                    "graph g(%x: float32[1,4]) { %t = Transpose(%x) {perm=[1,0]} %y = Neg(%t) "
                    "return %y }",
                    32);
}

static void traffic_bytes(void)
{
    const hg_repeat none = {0};
    /* Relu reads and writes 16 bytes; the Reshape is a view. */
    traffic_check(__LINE__,
                  "graph g(%x: float32[4]) { %s = const int64[2] {2, 2} %a = Reshape(%x, %s) "
                  "%y = Relu(%a) return %y }",
                  (hg_traffic){32, false}, none);
    /* What is made of constants alone costs no run anything: 16 + 16 + 16 are left. */
    traffic_check(__LINE__,
                  "graph g(%x: float32[4]) { %c = const float32[4] {1.0, 2.0, 3.0, 4.0} "
                  "%d = Exp(%c) %y = Add(%x, %d) return %y }",
                  (hg_traffic){48, false}, none);
    /* An open dimension is 64. */
    traffic_check(__LINE__, "graph g(%x: float32[n,2]) { %y = Relu(%x) return %y }",
                  (hg_traffic){1024, false}, none);
    /* Gather reads as much of its table as it writes: 8 + 8 bytes of indices + 8. */
    traffic_check(__LINE__,
                  "graph g(%i: int64[1], %t: float32[1000,2]) { %y = Gather(%t, %i) return %y }",
                  (hg_traffic){24, false}, none);
}

static void traffic_data(void)
{
    /* NonZero finds its size: int64[2, count] with count taken as 64, from 4 bytes. */
    traffic_check(__LINE__, "graph g(%x: bool[2,2]) { %y = NonZero(%x) return %y }",
                  (hg_traffic){4 + 2 * 64 * 8, true}, (hg_repeat){0});
}

static void traffic_layers(void)
{
    traffic_check(__LINE__,
                  "graph g(%x: float32[4]) { %a = Relu(%x) "
                  "%b = Exp(%a) %c = Sin(%b) %d = Cos(%c) %e = Exp(%d) %f = Sin(%e) %h = Cos(%f) "
                  "%i = Exp(%h) %j = Sin(%i) %k = Cos(%j) %y = Relu(%k) return %y }",
                  (hg_traffic){11 * 32, false}, (hg_repeat){3, 3});
    /* The same operators on other types are no repetition. */
    traffic_check(
        __LINE__,
        "graph g(%x: float32[4], %z: float32[5]) { %b = Exp(%x) %c = Sin(%b) %d = Cos(%c) "
        "%e = Exp(%z) %f = Sin(%e) %h = Cos(%f) return %d, %h }",
        (hg_traffic){3 * 32 + 3 * 40, false}, (hg_repeat){0});
}

const hg_test_case hg_tests_compile_traffic[] = {
    {"bytes", traffic_bytes},
    {"at_rest", traffic_at_rest},
    {"data", traffic_data},
    {"layers", traffic_layers},
    {0},
};
