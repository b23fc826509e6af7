/* rewrite.c - runs one pass on a graph given as text. */
#include "rewrite.h"
#include "test.h"

#include "pass/pass.h"

#include <stdlib.h>
#include <string.h>

typedef struct rewrite_text {
    char *bytes;
    size_t size;
} rewrite_text;

static bool rewrite_sink(void *user, const void *bytes, size_t size)
{
    rewrite_text *t = user;
    char *bigger = realloc(t->bytes, t->size + size + 1);
    if (bigger == NULL) return false;
    memcpy(bigger + t->size, bytes, size);
    t->bytes = bigger;
    t->size += size;
    t->bytes[t->size] = 0;
    return true;
}

static holo_status rewrite_run(hg_graph *g, hg_ctx *ctx, const char *pass, const char *in)
{
    bool changed = false;
    HG_TRY(hg_graph_init(g, ctx));
    HG_TRY(hg_graph_parse(g, hg_str_from(in), ctx->error));
    HG_TRY(hg_pass_find("infer_shapes")->run(g, &changed));
    if (pass != NULL) {
        HG_TRY(hg_pass_find(pass)->run(g, &changed));
        HG_TRY(hg_graph_verify(g, ctx->error));
    }
    return hg_pass_find("drop_dead")->run(g, &changed);
}

static bool rewrite_print(const char *file, int line, const char *pass, const hg_ctx *settings,
                          const char *in, rewrite_text *out)
{
    holo_error e = {0};
    hg_ctx ctx = {.error = &e};
    hg_graph g;
    if (settings != NULL) {
        ctx.numerics = settings->numerics;
        ctx.flags = settings->flags;
        ctx.quantize = settings->quantize;
    }
    hg_arena_init(&ctx.arena, NULL, 0);
    hg_arena_init(&ctx.scratch, NULL, 0);
    holo_status status = rewrite_run(&g, &ctx, pass, in);
    if (status == HOLO_OK) status = hg_graph_dump(&g, rewrite_sink, out);
    if (status != HOLO_OK)
        hg_test_fail(file, line, "%s: %s", pass == NULL ? "text" : pass, e.message);
    hg_arena_deinit(&ctx.scratch);
    hg_arena_deinit(&ctx.arena);
    return status == HOLO_OK;
}

void hg_test_rewrite(const char *file, int line, const char *pass, const hg_ctx *settings,
                     const char *in, const char *out)
{
    rewrite_text actual = {0}, expected = {0};
    if (rewrite_print(file, line, pass, settings, in, &actual) &&
        rewrite_print(file, line, NULL, settings, out, &expected) &&
        strcmp(actual.bytes, expected.bytes) != 0)
        hg_test_fail(file, line, "%s gave\n%s\nexpected\n%s", pass, actual.bytes, expected.bytes);
    free(actual.bytes);
    free(expected.bytes);
}
