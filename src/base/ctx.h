/* ctx.h - what every stage of a compile is handed: memory, where to put the error, whom to tell. */
#ifndef HG_BASE_CTX_H
#define HG_BASE_CTX_H

#include "base/arena.h"
#include "base/error.h"

struct hg_quantize;

typedef struct hg_ctx {
    hg_arena arena;   /* lives as long as the compile */
    hg_arena scratch; /* reset after each pass */
    holo_error *error;
    holo_log_fn log;
    void *log_user;
    holo_limits limits;
    holo_numerics numerics;
    uint32_t flags;               /* HOLO_COMPILE_* */
    uint64_t steps;               /* emitted so far */
    double start;                 /* of the compile, when limits.run_ms is set */
    struct hg_quantize *quantize; /* pass/quantize.h; NULL: nothing is quantised */
    uint64_t outlined; /* nodes copied into bodies so far: nesting must not multiply without end */
    const char *kept;  /* symbol of a size that was taken not to be 1, so far; NULL: none */
} hg_ctx;

/* A sentence to the log callback, if there is one. */
void hg_log(const hg_ctx *ctx, holo_log_level level, const char *format, ...) HG_PRINTF(3, 4);

/* E_LIMIT when the compile has taken too long: asked between nodes. */
HG_MUST_CHECK holo_status hg_ctx_check_time(const hg_ctx *ctx);

/* Arena memory or HOLO_E_NOMEM with a sentence: `HG_TRY(HG_NEW(ctx, n, &p))` for a zeroed array of
 * n. */
#define HG_NEW(ctx, count, out)                                                                    \
    ((*(out) = hg_arena_array(&(ctx)->arena, (count), sizeof **(out))) != NULL                     \
         ? HOLO_OK                                                                                 \
         : hg_fail_nomem((ctx)->error, sizeof **(out)))

#endif
