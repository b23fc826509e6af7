/* random.h - random graphs over all operators, and what must hold for each of them.
 *
 *   source     where the choices come from: the bytes of a fuzzer, or a seed
 *   value      a tensor of the graph; its contents are known, since every node is computed alone
 *              as soon as it is made
 *   recipe     what an operator needs beyond its table entry (recipes.c); most need nothing
 *   generate   a graph of 2 to 12 nodes around two operators, which are connected
 *   diff       the graph compiled and run in several ways: each must give what its nodes gave alone
 *   shake      how far rounding can move what a graph gives
 *   shrink     a failing graph with fewer nodes that still fails
 *
 * A seed is everything: the same seed makes the same graph. See docs/contributing/testing.mdx. */
#ifndef HG_TEST_RANDOM_RANDOM_H
#define HG_TEST_RANDOM_RANDOM_H

#include "graph/graph.h"
#include "op/op.h"

enum {
    RND_MAX_VALUE = 512,
    RND_MAX_NODE = 128,
    RND_MAX_BODY = 24,
    RND_MAX_IN = 12,
    RND_MAX_OUT = 6,
    RND_MAX_ELEMENTS = 8192,
    RND_NONE = -1
};

/* ---- source ---------------------------------------------------------------------------------- */

typedef struct rnd_source {
    const uint8_t *data;
    size_t size;
    uint64_t state; /* goes on when the bytes have run out */
} rnd_source;

rnd_source rnd_from_seed(uint64_t seed);
rnd_source rnd_from_bytes(const uint8_t *data, size_t size);
/* 0 .. n - 1; 0 when n is 0. */
uint32_t rnd_below(rnd_source *s, uint32_t n);
bool rnd_chance(rnd_source *s, uint32_t percent);

/* ---- graph ----------------------------------------------------------------------------------- */

typedef struct rnd_value {
    holo_tensor t;               /* the contents: of the first turn for what is inside a loop */
    hg_type type;                /* of containers: what their items are */
    int32_t node;                /* that gives it; RND_NONE: an input or a constant */
    int32_t body;                /* where it is defined; 0 is the graph */
    bool is_const;               /* a constant, unless a form says otherwise */
    bool is_pinned;              /* a constant in every form: it decides a shape */
    bool is_formal;              /* input of a body */
    bool is_wild;                /* holds huge numbers, infinities or NaN */
    uint32_t n_uses;             /* by nodes */
    uint8_t symbol[HG_MAX_RANK]; /* inputs: number of the symbol of each dim, 0 when it is fixed */
} rnd_value;

typedef struct rnd_node {
    const hg_op *op;
    int32_t body; /* where it stands */
    int32_t in[RND_MAX_IN];
    uint32_t n_in;
    int32_t out[RND_MAX_OUT];
    uint32_t n_out;
    hg_attr *attr; /* HG_ATTR_TENSOR: `tensor` is a value of this graph */
    uint32_t n_attr;
    int32_t child[2]; /* bodies */
    uint32_t n_child;
} rnd_node;

typedef struct rnd_body {
    int32_t in[RND_MAX_IN];
    uint32_t n_in;
    int32_t out[RND_MAX_OUT];
    uint32_t n_out;
} rnd_body;

typedef struct rnd_graph {
    hg_arena arena;
    rnd_value value[RND_MAX_VALUE];
    int32_t n_value;
    rnd_node node[RND_MAX_NODE];
    int32_t n_node;
    rnd_body body[RND_MAX_BODY]; /* 0 is not used */
    int32_t n_body;
    int32_t out[RND_MAX_VALUE]; /* what the graph gives */
    uint32_t n_out;
    uint32_t n_symbol;
    uint8_t ways; /* which of the costly comparisons to make */
} rnd_graph;

/* How a graph is written down. */
typedef enum rnd_constants {
    RND_AS_IS,
    RND_NO_CONST,  /* what is not pinned is an input */
    RND_ALL_CONST, /* there are no inputs, but for containers */
} rnd_constants;

typedef struct rnd_form {
    rnd_constants constants;
    bool symbolic;
    const bool *keep; /* nodes; NULL: all. What others gave are inputs */
    int32_t body;     /* whose nodes are the graph; 0 as a rule */
    const int32_t *out;
    uint32_t n_out;
} rnd_form;

/* Fills a graph that hg_graph_init just made; port[i] is the value bound to input i. */
HG_MUST_CHECK holo_status rnd_write(const rnd_graph *r, const rnd_form *form, hg_graph *g,
                                    int32_t *port, uint32_t *n_port);
/* The text form, with the contents of small inputs as comments. */
void rnd_print(const rnd_graph *r, const rnd_form *form);

/* ---- tensors --------------------------------------------------------------------------------- */

/* With elements in the arena, all zero. */
holo_tensor rnd_tensor(hg_arena *arena, holo_dtype dtype, int32_t rank, const int64_t *dim);
/* Strings and items included. */
holo_tensor rnd_copy(hg_arena *arena, const holo_tensor *t);
bool rnd_is_plain(const holo_tensor *t); /* numbers: no strings, no container */
/* Same type, shape and bits; a NaN equals a NaN. The sentence says where they differ. */
bool rnd_same(const holo_tensor *actual, const holo_tensor *expected, char *why, size_t size);
/* Largest difference of two tensors of one type; infinite when shapes, integers, texts or the
 * places of NaN and infinities differ. */
double rnd_distance(const holo_tensor *a, const holo_tensor *b);
/* Largest finite magnitude. */
double rnd_magnitude(const holo_tensor *t);
/* Infinities, NaN or numbers above 1e4. */
bool rnd_is_wild(const holo_tensor *t);
/* The unit of rounding of a type: 2^-24 for float32; 0 for integers. */
double rnd_unit(holo_dtype dtype);
/* What is known of the type of a container: its items. */
void rnd_item_type(hg_dims *dims, hg_arena *arena, const holo_tensor *t, hg_type *out);

/* ---- compile and run --------------------------------------------------------------------------
 */

typedef struct rnd_program {
    void *data;
    size_t size;
    int32_t port[RND_MAX_VALUE];
    uint32_t n_port;
} rnd_program;

HG_MUST_CHECK holo_status rnd_compile(const rnd_graph *r, const rnd_form *form,
                                      const holo_compile_options *options, rnd_program *out,
                                      holo_error *e);
void rnd_program_free(rnd_program *p);

typedef struct rnd_run {
    uint32_t open_flags, session_flags;
    bool two_threads;
    const holo_tensor *value; /* by number of value, instead of the graph's own contents; or NULL */
    /* runs first in the same session, whatever comes of it: other contents and sizes; or NULL */
    const rnd_graph *before;
} rnd_run;

/* Copies of the outputs, in the arena. */
HG_MUST_CHECK holo_status rnd_run_program(const rnd_graph *r, const rnd_program *p,
                                          const rnd_run *how, hg_arena *arena, holo_tensor *out,
                                          uint32_t n_out, holo_error *e);

/* ---- generate ----------------------------------------------------------------------------------
 */

typedef struct rnd_bind {
    int64_t letter[128]; /* -1: free */
    int64_t star[2][HG_MAX_RANK];
    int32_t star_rank[2];       /* -1: free */
    int64_t first[HG_MAX_RANK]; /* shape of the first input */
    int32_t first_rank;         /* -1: there is none yet */
    holo_dtype type[128];       /* HOLO_NONE: free */
} rnd_bind;

typedef struct rnd_stats {
    uint64_t graphs, nodes, programs, runs, declined, not_compared;
    char refused[508]; /* why the first operator of the last graph that lacks it is not in it */
} rnd_stats;

typedef struct rnd_gen {
    rnd_graph *g;
    rnd_source *source;
    int32_t body;   /* where nodes are added */
    int32_t depth;  /* of bodies */
    int32_t wanted; /* a value that the next node shall use, or RND_NONE */
    bool used;      /* it did */
    uint64_t *seen; /* by number of operator: nodes made; or NULL */
    rnd_stats *stats;
    holo_status bug; /* a node that failed in a way that no input excuses */
    holo_error error;
} rnd_gen;

/* One operator that can be asked for; internal ones cannot. */
uint32_t rnd_op_count(void);
const hg_op *rnd_op(uint32_t i);

/* Adds a value of the graph; RND_NONE when there is no room. */
int32_t rnd_add_value(rnd_gen *n, holo_tensor t, bool is_const);
/* Adds a node whose op, inputs, attributes, bodies and n_out are set, and computes it. False when
 * it is refused; the graph is then as before. */
bool rnd_add_node(rnd_gen *n, const rnd_node *node);
/* A node of this operator with inputs found or made by its recipe; the first output or RND_NONE. */
int32_t rnd_make(rnd_gen *n, const hg_op *op);
/* If, Loop, Scan and SequenceMap. */
int32_t rnd_make_control(rnd_gen *n, const hg_op *op);
bool rnd_is_visible(const rnd_gen *n, int32_t value);

/* Sets of types have bits for containers, too, beyond the numbers of element types. */
#define RND_SEQUENCE (UINT64_C(1) << 62)
#define RND_OPTIONAL (UINT64_C(1) << 63)
#define RND_MAP (UINT64_C(1) << 61)
bool rnd_type_in(holo_dtype dtype, hg_types types);

typedef struct rnd_want {
    hg_types types;
    const char *dims; /* pattern */
    const char *fill; /* "" for any number */
    bool is_content;  /* decides a shape: a constant as a rule */
} rnd_want;

/* "f32|i8" */
hg_types rnd_types(const char *text, size_t length);
/* A value that meets the want: one that is there, one made from one that is there, or a new one. */
int32_t rnd_find(rnd_gen *n, const rnd_want *want, rnd_bind *bind);
/* A node with these inputs; its first output or RND_NONE. */
int32_t rnd_apply(rnd_gen *n, const char *op, const int32_t *in, uint32_t n_in, const hg_attr *attr,
                  uint32_t n_attr);
/* A constant of integers that decides a shape. */
int32_t rnd_ints(rnd_gen *n, const int64_t *value, int64_t count);
hg_attr rnd_attr_int(const char *name, int64_t value);
/* The same elements, repeated or cut, as a tensor of this type and shape; RND_NONE when impossible.
 */
int32_t rnd_adapt(rnd_gen *n, int32_t value, holo_dtype dtype, int32_t rank, const int64_t *dim);

/* Patterns of dims and expressions over letters (pattern.c). */
void rnd_bind_init(rnd_bind *b);
int64_t rnd_eval(rnd_source *s, rnd_bind *b, const char **text);
bool rnd_match(rnd_source *s, rnd_bind *b, const char *pattern, const holo_tensor *t);
/* False when the tensor would be too large. */
bool rnd_shape(rnd_source *s, rnd_bind *b, const char *pattern, int32_t *rank, int64_t *dim);
int64_t rnd_size(rnd_source *s);

/* Contents (fill.c). */
void rnd_fill(rnd_source *s, rnd_bind *b, const char *fill, holo_tensor *t);
/* The contents could have come from this fill. */
bool rnd_fits(rnd_source *s, rnd_bind *b, const char *fill, const holo_tensor *t);

typedef struct rnd_recipe {
    const char *op;   /* "Conv", "com.microsoft:Gelu" */
    const char *in;   /* see recipes.c */
    const char *attr; /* NULL: none */
    int32_t n_out;    /* 0: as few as allowed */
} rnd_recipe;

/* Number of recipes of an operator, and one of them. */
uint32_t rnd_recipe_count(const hg_op *op);
const rnd_recipe *rnd_recipe_get(const hg_op *op, uint32_t i);
/* Its results may differ in rounding between symbolic and known sizes. */
bool rnd_rounds_by_size(const hg_op *op);

/* A graph with first and second connected where that is possible. False when neither could be made.
 */
bool rnd_generate(rnd_gen *n, const hg_op *first, const hg_op *second);

/* ---- compare -----------------------------------------------------------------------------------
 */

typedef struct rnd_failure {
    const char *check;       /* NULL: none */
    rnd_constants constants; /* of the form that failed */
    bool symbolic;
    char why[700];
} rnd_failure;

/* Every comparison, or only the one named. */
void rnd_diff(const rnd_graph *r, const rnd_form *form, const char *only, rnd_stats *stats,
              rnd_failure *out);

/* How far each output moves, at most, when inputs move by a few units of rounding; or when what
 * every node gives does. Infinite where sizes, integers or texts change. */
void rnd_shake_inputs(const rnd_graph *r, const rnd_form *form, hg_arena *arena, double *moved);
void rnd_shake_nodes(const rnd_graph *r, const rnd_form *form, hg_arena *arena, double *moved);
/* The coarsest rounding that a value of the graph can have had. */
double rnd_coarsest_unit(const rnd_graph *r);

/* One graph from generation to comparison; false when something is wrong, which is printed. */
bool rnd_try(rnd_source source, uint64_t *seen, rnd_stats *stats, const char *title);

#endif
