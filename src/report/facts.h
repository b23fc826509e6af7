/* facts.h - everything the reports say about a model, gathered once. */
#ifndef HG_REPORT_FACTS_H
#define HG_REPORT_FACTS_H

#include "archive/holo.h"
#include "isa/print.h"
#include "runtime/session.h"

/* One kernel that a graph calls. */
typedef struct hg_facts_kernel {
    const char *name;
    const char *variant; /* "reference", "avx2", ...: what runs on this machine */
    uint32_t import;     /* its number in the program */
    uint32_t steps;
    double flops, bytes; /* summed over steps whose sizes are settled */
} hg_facts_kernel;

/* "Conv 53": an operator of the model as imported. */
typedef struct hg_facts_operator {
    hg_str name;
    uint32_t count;
} hg_facts_operator;

typedef struct hg_facts_graph {
    const hg_model_graph *g;
    const hg_program *p;
    uint32_t number; /* of the program, by which IF and LOOP name their bodies */
    hg_dims dims;
    bool is_body;
    bool is_fixed;           /* every input has a fixed shape */
    holo_session *session;   /* prepared, at the sizes below; NULL when that was not possible */
    const char *why;         /* the sentence that says why not */
    int64_t *size;           /* per symbol of kind INPUT: what was assumed */
    uint32_t *producer;      /* per value: its step + 1; 0 for inputs, weights and views */
    uint32_t *reader;        /* per value: the first step that reads it + 1, 0: none */
    uint32_t *kernel_rank;   /* per import: its place in kernel */
    hg_facts_kernel *kernel; /* the most steps first */
    uint32_t n_kernel;
    hg_facts_operator *before; /* the most first; none when the file does not say */
    uint32_t n_before;
} hg_facts_graph;

/* A piece of the weights section, once, however many values refer to it. */
typedef struct hg_facts_weight {
    uint32_t graph, value; /* the first that refers to it */
    uint32_t uses;
    uint64_t offset, bytes;
} hg_facts_weight;

typedef struct hg_facts_pair {
    const char *key, *value;
} hg_facts_pair;

typedef struct hg_facts {
    const holo_model *model;
    hg_arena arena;
    hg_holo_head head;
    hg_holo_section *section;
    hg_facts_graph *graph;   /* graphs, then bodies of control flow */
    uint32_t n_graph;        /* of both */
    hg_facts_weight *weight; /* the largest first */
    size_t n_weight;
    hg_facts_pair *meta; /* without what belongs to this page: holo.before */
    size_t n_meta;
} hg_facts;

/* Always end with hg_facts_deinit. */
HG_MUST_CHECK holo_status hg_facts_init(hg_facts *f, const holo_model *model, holo_error *e);
void hg_facts_deinit(hg_facts *f);

/* Step i of a graph, in words: "matmul.p16", "bind", "dims", ... */
const char *hg_facts_step_kernel(const hg_facts_graph *g, uint32_t step);
/* "avx2", "reference"; "" for steps that call no kernel. */
const char *hg_facts_step_variant(const hg_facts_graph *g, uint32_t step);
/* "program", "weights", "metadata", "names", "proofs", "memo", "places" or "unknown". */
const char *hg_facts_section_text(uint32_t kind);
/* "12.34 MB", "8.17 GFLOP" into text of at least 24 bytes. */
const char *hg_facts_bytes(double bytes, char *text);
const char *hg_facts_flops(double flops, char *text);
/* The weight's own name; packed ones have none: then the node that reads it, and *is_node is set.
 */
const char *hg_facts_weight_name(const hg_facts *f, const hg_facts_weight *w, hg_name *room,
                                 bool *is_node);

/* The forms; facts in, text out. What the sink refuses shows in o->failed. */
void hg_report_text(const hg_facts *f, hg_print *o);
void hg_report_json(const hg_facts *f, hg_print *o);
void hg_report_html(const hg_facts *f, hg_print *o);

#endif
