/* ctx.c - compile context. */
#include "base/ctx.h"

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
