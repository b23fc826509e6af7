/* whole.h - a graph on every code: node by node through the reference kernels, as it stands. */
#ifndef HG_TEST_TABLE_WHOLE_H
#define HG_TEST_TABLE_WHOLE_H

#include "graph/graph.h"

enum { WHOLE_RESULTS = 8 };

typedef struct whole {
    holo_error error;
    hg_ctx ctx;
    hg_graph g;
    const hg_const *result[WHOLE_RESULTS];
    holo_dtype dtype[WHOLE_RESULTS];
    uint32_t n_result;
} whole;

/* Parses and infers; the pass, unless NULL; `always` collapses whatever it costs. */
holo_status whole_read(whole *w, const char *text, const char *pass, bool always);
/* Input i of the graph holds these bytes; then the results are there. */
holo_status whole_run(whole *w, const void *const *input);
uint32_t whole_count(const whole *w, const char *op);
void whole_free(whole *w);

#endif
