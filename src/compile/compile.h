/* compile.h - one compile call from the inside. */
#ifndef HG_COMPILE_COMPILE_H
#define HG_COMPILE_COMPILE_H

#include "archive/write.h"
#include "graph/graph.h"
#include "import/onnx/external.h"
#include "plan/plan.h"

/* One model of the file under construction. */
typedef struct hg_compile_model {
    hg_graph graph;
    hg_file file;
    hg_external external;
    hg_program program;
    uint32_t nodes_before;
    const char *single; /* a symbolic size that is taken to be 1; NULL: none */
} hg_compile_model;

/* A section of places: room for all buffers there can be, filled when the file has been opened. */
typedef struct hg_compile_places {
    hg_holo_places *section;
    size_t bytes;
    uint32_t at;    /* in the table of sections */
    bool is_better; /* than what a session finds: kept for any sizes */
} hg_compile_places;

typedef struct hg_compile hg_compile;
typedef struct hg_source hg_source;
struct hg_quantize_run;

/* Where the models come from, so that one can be compiled once more. */
struct hg_source {
    holo_status (*fill)(hg_compile *c, const hg_source *s); /* from the source to programs */
    const char *const *paths;
    size_t n_paths;
    const void *data;
    size_t size;
    const holo_graph *graph;
};

struct hg_compile {
    hg_ctx ctx;
    const holo_compile_options *options;
    holo_compile_report report;
    hg_compile_model *model;
    size_t n_model, at; /* at: the one being compiled, for progress */
    hg_program *body;   /* of control flow, behind the models in the file */
    size_t n_body, body_capacity;
    hg_weights weights;
    hg_texts names;
    char *certs; /* section of certificates under construction */
    size_t n_certs, certs_capacity;
    bool *dim_is_used, *shape_is_used;
    bool moves_by_data; /* sizes that data decide: bytes moved cannot be told */
    const void *memo;   /* the section; NULL: none */
    size_t memo_bytes;
    hg_holo_writer holo;       /* of the file as it was written last */
    hg_compile_places *places; /* one per model; section NULL: needs none */
    const hg_source *source;
    struct hg_quantize_run *quantize; /* NULL: nothing is quantised */
};

/* Checks options and makes room for n models. Always end with hg_compile_deinit. */
HG_MUST_CHECK holo_status hg_compile_init(hg_compile *c, const holo_compile_options *options,
                                          size_t n_model, holo_error *e);
void hg_compile_deinit(hg_compile *c);
/* All models of the source, compiled. */
HG_MUST_CHECK holo_status hg_compile_fill(hg_compile *c, const hg_source *source);
/* From a filled graph to its program. */
HG_MUST_CHECK holo_status hg_compile_model_run(hg_compile *c, hg_compile_model *m);
/* Certificates of what the program of a graph reads, behind those of other graphs (certs.c). */
HG_MUST_CHECK holo_status hg_compile_certs(hg_compile *c, hg_graph *g);
/* All programs, metadata and weights. */
HG_MUST_CHECK holo_status hg_compile_write(hg_compile *c, hg_writer *out);
/* Into memory that holo_buffer_free takes: what is there by now, unchecked. */
HG_MUST_CHECK holo_status hg_compile_bytes(hg_compile *c, void **out_data, size_t *out_size);
/* The same with everything that options ask for, checked. */
HG_MUST_CHECK holo_status hg_compile_to_memory(hg_compile *c, void **out_data, size_t *out_size);

#endif
