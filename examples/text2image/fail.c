/* fail.c - writes the sentence that the person reads. */
#include "fail.h"

#include <stdarg.h>
#include <stdio.h>

holo_status fail(holo_error *error, holo_status status, const char *format, ...)
{
    if (error == NULL) return status;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error->message, sizeof error->message, format, arguments);
    va_end(arguments);
    error->status = status;
    return status;
}

holo_status fail_in(holo_error *error, holo_status status, const char *what)
{
    if (error == NULL) return status;
    const holo_error inner = *error;
    return fail(error, status, "%s: %s", what, inner.message);
}
