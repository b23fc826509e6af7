/* export.h - a graph of standard operators as an ONNX file. */
#ifndef HG_IMPORT_EXPORT_H
#define HG_IMPORT_EXPORT_H

#include "graph/graph.h"

/* Opset 21. Fails with E_UNSUPPORTED for operators of ours, bodies, strings and containers. Names
 * of inputs, outputs and nodes are kept. */
HG_MUST_CHECK holo_status hg_export_onnx(hg_graph *g, holo_sink_fn sink, void *user);

#endif
