/* moves.h - what changes in a session when sizes do, found once: then each new size only changes
 * that. */
#ifndef HG_RUNTIME_MOVES_H
#define HG_RUNTIME_MOVES_H

#include "runtime/session.h"

/* Bytes behind a session's other arrays that this needs; 0: sizes of the graph never change. They
 * are first touched when a size changes. */
size_t hg_moves_bytes(const hg_model_graph *g);
/* Gives everything that depends on the symbols, which are bound, its new sizes: dims, tensors,
 * parameters, steps. Buffers stay where they are. False: that cannot be done this way, because
 * buffers are too small or sizes are wrong; then all has to be settled anew, which says what is
 * wrong. */
bool hg_moves_apply(holo_session *s);
/* Buffers have got other room. */
void hg_moves_new_rooms(holo_session *s);
/* Nothing is known any more, as in a new session. */
void hg_moves_forget(holo_session *s);

#endif
