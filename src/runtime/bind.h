/* bind.h - binding all steps for new sizes. */
#ifndef HG_RUNTIME_BIND_H
#define HG_RUNTIME_BIND_H

#include "runtime/session.h"

/* Fills s->alike; to be called again when a cache has come or gone. */
void hg_session_find_alike(holo_session *s);
/* Binds those steps that are not late and whose dims have moved, or all of them. */
HG_MUST_CHECK holo_status hg_session_bind_steps(holo_session *s, bool all, holo_error *e);

#endif
