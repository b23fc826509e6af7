/* error.h - one way to fail: a status and a sentence for the person holding the model. */
#ifndef HG_BASE_ERROR_H
#define HG_BASE_ERROR_H

#include "base/base.h"

/* Writes the sentence into e (may be NULL) and returns status, so that `return hg_fail(...)` reads
 * well. */
holo_status hg_fail(holo_error *e, holo_status status, const char *format, ...) HG_PRINTF(3, 4);
holo_status hg_fail_nomem(holo_error *e, size_t bytes);
/* Puts "prefix" in front of the sentence already in e; returns e's status. */
holo_status hg_fail_prefix(holo_error *e, holo_status status, const char *format, ...)
    HG_PRINTF(3, 4);

#endif
