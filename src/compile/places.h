/* places.h - an order of buffers in which memory has few holes. */
#ifndef HG_COMPILE_PLACES_H
#define HG_COMPILE_PLACES_H

#include "compile/compile.h"

/* Looks for an order of the session's buffers, whose sizes are settled, that needs less memory than
 * what the runtime finds by itself; puts it behind c->places. */
HG_MUST_CHECK holo_status hg_places_find(hg_compile *c, const holo_session *s, uint32_t graph);

#endif
