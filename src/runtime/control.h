/* control.h - steps that run bodies: each has a session per body, made with the session it belongs
 * to.
 *
 * A body's results are copied into values of the session around it, or computed there when their
 * size is known; nothing refers to a body's memory once the step is done. */
#ifndef HG_RUNTIME_CONTROL_H
#define HG_RUNTIME_CONTROL_H

#include "runtime/session.h"

/* A value that a loop carries or collects. */
typedef struct hg_loop_value {
    holo_tensor now; /* carried: its value; collected: the first item, which gives the shape */
    uint8_t
        *room[2]; /* carried: read and written in turn; collected: items, and what they point to */
    size_t size[2];  /* bytes of it */
    size_t used[2];  /* collected: bytes in use */
    bool is_late[2]; /* late memory of the session; otherwise planned, in `block` */
} hg_loop_value;

struct hg_control {
    holo_session *body[2]; /* LOOP has one */
    holo_tensor *found;    /* per output: what the body gave */
    hg_loop_value *value;  /* LOOP, per output */
    uint32_t n_carried;
    size_t bytes;  /* of this struct and the arrays */
    hg_slab block; /* LOOP: planned rooms of carried values */
    int64_t iteration;
    bool condition;
};

HG_MUST_CHECK holo_status hg_control_new(holo_session *s, uint32_t i,
                                         const holo_session_options *options, hg_control **out,
                                         holo_error *e);
void hg_control_free(holo_session *s, hg_control *c);
/* Prepares the bodies of a step whose sizes are known. A body that cannot be prepared is none of
 * our business until it runs: a branch may be there for other sizes. */
HG_MUST_CHECK holo_status hg_control_prepare(holo_session *s, uint32_t i, holo_error *e);
HG_MUST_CHECK holo_status hg_control_run(holo_session *s, uint32_t i, holo_error *e);

/* loop.c */
HG_MUST_CHECK holo_status hg_loop_prepare(holo_session *s, uint32_t i, holo_error *e);
HG_MUST_CHECK holo_status hg_loop_run(holo_session *s, uint32_t i, holo_error *e);

#endif
