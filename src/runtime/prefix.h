/* prefix.h - parts of a program that read some of its inputs only, and whose results a memo keeps.
 *
 * The part of a set of inputs is every step that depends on no other input. Its key are those
 * inputs as a whole; its answer are the results that steps outside of it read, or that are outputs.
 * A run that knows the answer of a part leaves its steps out and puts each of these results in
 * place where its step would have made it, so that buffers are shared in time as always. Parts may
 * lie inside each other: an encoder that reads one input, and what two inputs give together. */
#ifndef HG_RUNTIME_PREFIX_H
#define HG_RUNTIME_PREFIX_H

#include "runtime/memo_store.h"
#include "runtime/session.h"

enum { HG_PREFIX_PARTS = 8, HG_PREFIX_SETS = 16 };

typedef enum hg_prefix_state { HG_PREFIX_IDLE, HG_PREFIX_KNOWN, HG_PREFIX_KEPT } hg_prefix_state;

typedef struct hg_prefix_part {
    uint64_t inputs; /* a set */
    hg_prefix_state state;
    uint32_t item;   /* of the store, during a run */
    uint32_t unseen; /* runs in a row whose inputs were not known */
    hg_memo_cursor at;
} hg_prefix_part;

struct hg_prefix {
    /* Before a step: puts its results in place where they are known. */
    holo_status (*before)(hg_prefix *x, const holo_session *s, uint32_t step, bool *known,
                          holo_error *e);
    /* After it: keeps results. */
    void (*after)(hg_prefix *x, const holo_session *s, uint32_t step);
    hg_memo_store *store;
    uint64_t *step_inputs; /* per step: the set it depends on */
    uint64_t *readers;     /* per value: union of the sets of steps that read it or views of it */
    holo_tensor *key;      /* scratch, per input */
    uint64_t set[HG_PREFIX_SETS]; /* that some step depends on */
    uint32_t n_set, n_part;
    hg_prefix_part part[HG_PREFIX_PARTS]; /* those that pay with the sizes at hand, small first */
    uint64_t sizes;                       /* hash of the forms for which they were chosen */
    bool is_sized;
    uint64_t hits, misses;
};

/* Finds the parts of a graph; tables are laid out in memory (HG_ALIGN). Gives the bytes they take,
 * 0 when there are no parts or too little memory. */
size_t hg_prefix_init(hg_prefix *x, const hg_model_graph *g, void *memory, size_t bytes,
                      hg_memo_store *store);
/* Around a run of a prepared session: looks parts up and makes room for those that are not known;
 * keeps them when the run was `good`. */
void hg_prefix_begin(hg_prefix *x, holo_session *s);
void hg_prefix_end(hg_prefix *x, holo_session *s, bool good);

#endif
