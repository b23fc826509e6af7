/* settle.h - sizes that are found during a run: symbols, dims, memory of late results. */
#ifndef HG_RUNTIME_SETTLE_H
#define HG_RUNTIME_SETTLE_H

#include "runtime/session.h"

/* Late memory that stays taken from step `now` until after step `last`. */
HG_MUST_CHECK holo_status hg_settle_take(holo_session *s, size_t bytes, uint32_t now, uint32_t last,
                                         void **out, holo_error *e);
/* Shape and address of a late value that is a view. */
HG_MUST_CHECK holo_status hg_settle_value(holo_session *s, uint32_t v, holo_error *e);
/* Late inputs of step i. */
HG_MUST_CHECK holo_status hg_settle_inputs(holo_session *s, uint32_t i, holo_error *e);
/* Outputs of step i: args.out has the shapes that were found and extra the bytes behind their
 * elements. They become symbols, dims and memory; then the step is bound. */
HG_MUST_CHECK holo_status hg_settle_outputs(holo_session *s, uint32_t i, holo_error *e);
/* Dims that the end of step i makes known. */
HG_MUST_CHECK holo_status hg_settle_dims(holo_session *s, uint32_t i, holo_error *e);
/* Binds a late kernel step. */
HG_MUST_CHECK holo_status hg_settle_step(holo_session *s, uint32_t i, holo_error *e);
/* "node 'x' (kernel): " in front of the sentence, unless it names a node already. */
holo_status hg_settle_prefix(const holo_session *s, uint32_t i, holo_status status, holo_error *e);

#endif
