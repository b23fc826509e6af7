/* assume.h - sizes for a graph whose inputs leave some open, to say something of it without data.
 */
#ifndef HG_REPORT_ASSUME_H
#define HG_REPORT_ASSUME_H

#include "runtime/session.h"

typedef struct hg_assumed {
    int64_t *dim, *size; /* per dim and per symbol of the program: room, then what was assumed */
    bool is_fixed;       /* every input has a fixed shape */
} hg_assumed;

/* An input that nothing can be made up for, or UINT32_MAX: texts and containers have sizes inside,
 * and a rank may be open, too. */
uint32_t hg_assume_cannot(const hg_program *p);
/* Prepares the session with the bound where one is declared, 1 for what is the first dimension of
 * an input (mostly the batch), `other` for the rest. The inputs have no data. */
HG_MUST_CHECK holo_status hg_assume(holo_session *s, int64_t other, hg_assumed *a, holo_error *e);

#endif
