/* error.c - formats error sentences into the caller's holo_error. */
#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* A cut sentence ends in "..." so that nobody takes half a name for a whole one. */
static void error_mark_cut(char *text, size_t size, int wanted)
{
    if (wanted >= 0 && (size_t)wanted >= size) memcpy(text + size - 4, "...", 4);
}

holo_status hg_fail(holo_error *e, holo_status status, const char *format, ...)
{
    if (e == NULL) return status;
    va_list args;
    va_start(args, format);
    e->status = status;
    error_mark_cut(e->message, sizeof e->message,
                   vsnprintf(e->message, sizeof e->message, format, args));
    va_end(args);
    return status;
}

holo_status hg_fail_nomem(holo_error *e, size_t bytes)
{
    return hg_fail(e, HOLO_E_NOMEM, "out of memory: %zu bytes were asked for", bytes);
}

holo_status hg_fail_prefix(holo_error *e, holo_status status, const char *format, ...)
{
    if (e == NULL) return status;
    char tail[sizeof e->message];
    memcpy(tail, e->message, sizeof tail);
    tail[sizeof tail - 1] = 0;
    va_list args;
    va_start(args, format);
    e->status = status;
    int head = vsnprintf(e->message, sizeof e->message, format, args);
    va_end(args);
    if (head < 0 || (size_t)head >= sizeof e->message) return status;
    size_t room = sizeof e->message - (size_t)head;
    error_mark_cut(e->message + head, room, snprintf(e->message + head, room, "%s", tail));
    return status;
}

const char *holo_status_text(holo_status status)
{
    switch (status) {
#define X(name, number, text)                                                                      \
    case HOLO_##name: return text;
        HOLO_STATUS_MAP(X)
#undef X
    }
    return "unknown status";
}

const char *holo_version(void)
{
    return HOLO_VERSION_TEXT;
}
