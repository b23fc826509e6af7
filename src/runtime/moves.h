/* moves.h - what changes in a session when sizes do, found once: then each new size only changes
 * that. */
#ifndef HG_RUNTIME_MOVES_H
#define HG_RUNTIME_MOVES_H

#include "runtime/session.h"

/* Bytes of its lists; 0: sizes of the graph never change. */
size_t hg_moves_bytes(const hg_model_graph *g);
/* Of what a session has of it beside its lists, zeroed. */
extern const size_t hg_moves_size;
/* The lists lie there from now on; NULL: nowhere. Nothing is written there before a size changes.
 */
void hg_moves_new_room(holo_session *s, void *room);
/* Gives everything that depends on the symbols, which are bound, its new sizes: dims, tensors,
 * parameters, steps. Buffers stay where they are. False: that cannot be done this way, because
 * buffers are too small or sizes are wrong; then all has to be settled anew, which says what is
 * wrong. */
bool hg_moves_apply(holo_session *s);
/* Buffers have got other room. */
void hg_moves_widened(holo_session *s);
/* Nothing is known any more, as in a new session. */
void hg_moves_forget(holo_session *s);

#endif
