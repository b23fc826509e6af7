/* ctx.c - compile context. */
#include "base/ctx.h"

#include "base/clock.h"

#include <stdarg.h>
#include <stdio.h>

void hg_log(const hg_ctx *ctx, holo_log_level level, const char *format, ...)
{
    if (ctx->log == NULL) return;
    char sentence[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(sentence, sizeof sentence, format, args);
    va_end(args);
    ctx->log(ctx->log_user, level, sentence);
}

holo_status hg_ctx_check_time(const hg_ctx *ctx)
{
    const uint64_t most = ctx->limits.run_ms;
    if (most == 0 || (hg_clock_seconds() - ctx->start) * 1e3 <= (double)most) return HOLO_OK;
    return hg_fail(ctx->error, HOLO_E_LIMIT, "the compile took longer than %llu ms (limits.run_ms)",
                   (unsigned long long)most);
}
