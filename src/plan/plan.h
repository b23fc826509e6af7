/* plan.h - graph to program: kernel calls in order, values, symbols, weights to store. */
#ifndef HG_PLAN_PLAN_H
#define HG_PLAN_PLAN_H

#include "base/file.h"
#include "base/map.h"
#include "eval/eval.h"
#include "isa/program.h"

/* One piece of the weights section: a constant as it is, or what a packing node makes of one. */
typedef struct hg_weight {
    hg_graph *g;
    hg_value_id value; /* constant, or output of an HG_OP_AT_WRITE node */
    uint64_t key;      /* content and packing: equal keys are stored once */
    uint64_t offset, bytes;
    const void *strings; /* constant strings as they are stored (isa/deep.h); NULL for numbers */
} hg_weight;

/* Weights of all graphs of a file. */
typedef struct hg_weights {
    hg_ctx *ctx;
    hg_weight *item;
    size_t count, capacity;
    uint32_t *slot; /* hash table by key: index + 1 */
    size_t n_slot;
    uint64_t bytes; /* size of the section */
} hg_weights;

/* The place of a constant or packed value in the section; added when new. */
HG_MUST_CHECK holo_status hg_weights_add(hg_weights *w, hg_graph *g, hg_value_id value,
                                         uint32_t *index);
typedef bool (*hg_weights_progress)(void *user, uint64_t done, uint64_t total);
/* Streams the section in order of offsets; *hash is that of the section. */
HG_MUST_CHECK holo_status hg_weights_write(hg_weights *w, hg_writer *out,
                                           hg_weights_progress progress, void *user,
                                           uint64_t *hash);

/* A table of texts: positions in it stand for them. */
typedef struct hg_texts {
    hg_ctx *ctx;
    hg_map seen;
    char *text;
    size_t size, capacity;
    size_t longest; /* longer ones are cut */
} hg_texts;

HG_MUST_CHECK holo_status hg_texts_init(hg_texts *t, hg_ctx *ctx, size_t longest);
/* The position of a text; added when new. */
HG_MUST_CHECK holo_status hg_texts_add(hg_texts *t, hg_str text, uint32_t *at);

/* By node, in the arena: an output needs it, so that hg_plan_graph emits it. */
HG_MUST_CHECK holo_status hg_plan_needed(hg_graph *g, const bool **out);
/* Emits every node that an output needs. The tables lie in the arena. */
HG_MUST_CHECK holo_status hg_plan_graph(hg_graph *g, hg_weights *weights, hg_texts *names,
                                        uint32_t nodes_before, hg_program *out);

#endif
