/* bind.h - binding all steps for new sizes. */
#ifndef HG_RUNTIME_BIND_H
#define HG_RUNTIME_BIND_H

#include "runtime/session.h"

/* Fills s->alike; to be called again when a cache has come or gone. */
void hg_session_find_alike(holo_session *s);
/* Binds all steps that are not late. */
HG_MUST_CHECK holo_status hg_session_bind_steps(holo_session *s, holo_error *e);
/* Asks the kernel of step i, whose operands and parameters are bound, about them: whether it takes
 * them, how much work that is. */
HG_MUST_CHECK holo_status hg_session_ask_step(holo_session *s, uint32_t i, holo_error *e);
/* What the kernel of step `first` has said holds for step i, which is alike. */
void hg_session_answer(holo_session *s, uint32_t first, uint32_t i);

#endif
