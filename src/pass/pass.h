/* pass.h - graph to graph. One idea per pass, one file per pass; the order is in pipeline.c alone.
 */
#ifndef HG_PASS_PASS_H
#define HG_PASS_PASS_H

#include "op/op.h"

enum {
    HG_PASS_ALWAYS = 1 << 0, /* runs under --no-optimize too: without it nothing can be planned */
    HG_PASS_TUNED = 1 << 1   /* prepares for tuned kernels: left out under HOLO_COMPILE_PLAIN */
};

/* Starts from a verified graph and leaves a verified graph. *changed is set when anything was
 * rewritten. */
typedef struct hg_pass {
    const char *name;
    const char *brief;
    uint32_t flags;
    holo_status (*run)(hg_graph *g, bool *changed);
} hg_pass;

typedef struct hg_pipeline_options {
    const char *const *disable;
    size_t n_disable;
    const char *dump_after; /* a pass, "import" or "all"; NULL: none */
    holo_sink_fn dump;
    void *dump_user;
    bool (*progress)(void *user, const char *stage, uint64_t done, uint64_t total);
    holo_status (*inferred)(void *user, const hg_graph *g); /* types are known, all else is as it
                                                               was imported; NULL: nobody asks */
    void *user;                                             /* of progress and inferred */
    bool
        is_inferred; /* leaves out the first pass: bodies are inferred with the graph around them */
} hg_pipeline_options;

/* What goes before when g->ctx->quantize is set: the graph stays one of standard operators. */
HG_MUST_CHECK holo_status hg_pipeline_quantize(hg_graph *g, const hg_pipeline_options *options);
HG_MUST_CHECK holo_status hg_pipeline_run(hg_graph *g, const hg_pipeline_options *options);
/* In pipeline order, NULL-terminated; passes that repeat stand there several times. */
const hg_pass *const *hg_pipeline(void);
/* Puts dims in place of symbols in all types, contents and attributes: to[i] for symbol i, 0 keeps
 * it. */
HG_MUST_CHECK holo_status hg_resolve_symbols(hg_graph *g, const hg_dim *to);
/* The contents of a value are known as expressions, and not merely by reading this very value at
 * run time (fold_shapes.c). */
bool hg_shapes_known(const hg_graph *g, hg_value_id id);
/* Constant f32 [c, 1, 1] or [1, c, 1, 1] for an output [n, c, h, w] (fold_batchnorm.c). */
bool hg_is_channel_const(const hg_graph *g, hg_value_id c, const hg_type *out);
/* Constants in place of the outputs of a node that hg_eval_can (fold_constants.c). */
HG_MUST_CHECK holo_status hg_fold_node(hg_graph *g, hg_node_id id);
/* What has become constant around a body is constant inside: body k of a holo:If or holo:Loop. */
HG_MUST_CHECK holo_status hg_outline_settle(hg_graph *g, hg_node_id id, uint32_t k);
/* NULL when there is none of that name. */
const hg_pass *hg_pass_find(const char *name);

#endif
