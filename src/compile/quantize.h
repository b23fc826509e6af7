/* quantize.h - quantised compiles: ranges from samples, errors for the report. */
#ifndef HG_COMPILE_QUANTIZE_H
#define HG_COMPILE_QUANTIZE_H

#include "compile/compile.h"

/* Before the graph of the model is compiled: sets c->ctx.quantize. With samples the model is
 * compiled twice beside it, as it is and quantised, and both are run. Nothing without
 * options->quantize. */
HG_MUST_CHECK holo_status hg_quantize_begin(hg_compile *c);
/* Once it is compiled: calls options->layer and keeps a summary in the metadata. */
HG_MUST_CHECK holo_status hg_quantize_end(hg_compile *c, hg_graph *g);

#endif
