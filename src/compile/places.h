/* places.h - where buffers lie, so that memory has few holes and a session need not look for them.
 */
#ifndef HG_COMPILE_PLACES_H
#define HG_COMPILE_PLACES_H

#include "compile/compile.h"

/* Room for a section of the program of model `graph`; none where there is nothing to place. */
HG_MUST_CHECK holo_status hg_places_room(hg_compile *c, uint32_t graph);
/* Fills it from a session whose sizes are settled, or from an order of its buffers that needs less
 * memory than what the runtime finds by itself. *arena: the bytes it needs. */
HG_MUST_CHECK holo_status hg_places_find(hg_compile *c, const holo_session *s, uint32_t graph,
                                         size_t *arena);
/* Drops it where it does not serve for the sizes that the session has now, unless it is an order
 * that a session would not find. */
HG_MUST_CHECK holo_status hg_places_check(hg_compile *c, const holo_session *s, uint32_t graph);
/* Puts the sections of a file that is written into it: through `w`, or where it lies in memory. */
HG_MUST_CHECK holo_status hg_places_seal(hg_compile *c, hg_writer *w, uint8_t *data);

#endif
