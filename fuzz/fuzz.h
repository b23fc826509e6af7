/* fuzz.h - what fuzz targets share. A target is one function that takes any bytes and returns 0. */
#ifndef HG_FUZZ_FUZZ_H
#define HG_FUZZ_FUZZ_H

#include "graph/graph.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A promise that must hold; the fuzzer reports the input when it does not. */
#define FUZZ_REQUIRE(condition)                                                                    \
    do {                                                                                           \
        if (!(condition)) abort();                                                                 \
    } while (0)

enum { FUZZ_MEMORY = 64 << 20 };

static inline void fuzz_ctx_init(hg_ctx *ctx, holo_error *error)
{
    *ctx = (hg_ctx){.error = error, .limits = {.memory_bytes = FUZZ_MEMORY}};
    hg_arena_init(&ctx->arena, NULL, FUZZ_MEMORY);
    hg_arena_init(&ctx->scratch, NULL, FUZZ_MEMORY);
}

static inline void fuzz_ctx_deinit(hg_ctx *ctx)
{
    hg_arena_deinit(&ctx->arena);
    hg_arena_deinit(&ctx->scratch);
}

#endif
