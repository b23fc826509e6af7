/* dim.h - dimension expressions: the only place where the compiler computes with sizes.
 *
 * A dimension is an id into a table of hash-consed expressions, so equal expressions have equal ids
 * and "are these two dims the same?" is one comparison. Constructors simplify: constants fold, sums
 * and products are kept in a canonical order, exact divisions cancel (batch*12*64 / 768 = batch).
 * Symbols are sizes known later: an input's dimension ("batch"), an element of a small integer
 * tensor, or a size that a kernel finds in data (NonZero). The table is written into the .holo file
 * as records in an order where operands come first; the runtime evaluates them with overflow
 * checks. */
#ifndef HG_ISA_DIM_H
#define HG_ISA_DIM_H

#include "base/arena.h"
#include "base/error.h"
#include "base/map.h"
#include "base/str.h"

typedef uint32_t hg_dim; /* 0: none, an unknown dimension */

typedef enum hg_dim_op {
    HG_DIM_CONST = 1,  /* value */
    HG_DIM_SYMBOL = 2, /* value: number of the symbol */
    HG_DIM_ADD = 3,
    HG_DIM_SUB = 4,
    HG_DIM_MUL = 5,
    HG_DIM_FLOORDIV = 6,
    HG_DIM_CEILDIV = 7,
    HG_DIM_MOD = 8, /* sign of the divisor */
    HG_DIM_MIN = 9,
    HG_DIM_MAX = 10,
    HG_DIM_EQ = 11, /* 1 or 0 */
    HG_DIM_LT = 12,
    HG_DIM_SELECT = 13,  /* a != 0 ? b : c */
    HG_DIM_TRUNCDIV = 14 /* rounds to zero, as integer Div does */
} hg_dim_op;

/* One record, as stored in a file. */
typedef struct hg_dim_rec {
    uint32_t op; /* hg_dim_op */
    uint32_t a, b, c;
    int64_t value;
} hg_dim_rec;

/* Where a symbol's number comes from. */
typedef enum hg_symbol_kind {
    HG_SYMBOL_INPUT = 1,   /* a dimension of a graph input; bound when inputs are */
    HG_SYMBOL_CONTENT = 2, /* element `index` of integer value `value`; bound once computed */
    HG_SYMBOL_SIZE = 3     /* dimension `index` of value `value`, found by its kernel */
} hg_symbol_kind;

typedef struct hg_symbol {
    hg_str name;
    hg_symbol_kind kind;
    uint32_t value, index; /* ids of the graph that made the symbol */
    int64_t at_most;       /* declared upper bound, or -1 */
} hg_symbol;

/* What the constructors know about a record besides itself. */
typedef struct hg_dim_info {
    int64_t low, high; /* bounds of the value; INT64_MIN and INT64_MAX mean none */
    uint64_t key;      /* hash of the structure and the symbols' names: orders terms the same way
                          whatever the order in which expressions were made */
} hg_dim_info;

typedef struct hg_dims {
    hg_arena *arena;
    hg_dim_rec *rec;   /* rec[0] is unused */
    hg_dim_info *info; /* beside rec */
    size_t count, capacity;
    uint32_t *slot; /* hash table of ids */
    size_t n_slot;
    hg_symbol *symbol;
    size_t n_symbol, symbol_capacity;
    hg_map symbol_of; /* name to number + 1 */
    bool failed;      /* memory ran out; every id handed out since is 0 */
} hg_dims;

void hg_dims_init(hg_dims *d, hg_arena *arena);

hg_dim hg_dim_const(hg_dims *d, int64_t value);
/* A new symbol every time. Names are unique: one that is taken or empty gets a number appended. The
 * text is copied. */
hg_dim hg_dim_symbol(hg_dims *d, hg_symbol symbol);
/* The INPUT symbol of that name, made on first use. */
hg_dim hg_dim_named(hg_dims *d, hg_str name);
hg_dim hg_dim_add(hg_dims *d, hg_dim a, hg_dim b);
hg_dim hg_dim_sub(hg_dims *d, hg_dim a, hg_dim b);
hg_dim hg_dim_mul(hg_dims *d, hg_dim a, hg_dim b);
hg_dim hg_dim_floordiv(hg_dims *d, hg_dim a, hg_dim b);
hg_dim hg_dim_ceildiv(hg_dims *d, hg_dim a, hg_dim b);
hg_dim hg_dim_truncdiv(hg_dims *d, hg_dim a, hg_dim b);
hg_dim hg_dim_mod(hg_dims *d, hg_dim a, hg_dim b);
hg_dim hg_dim_min(hg_dims *d, hg_dim a, hg_dim b);
hg_dim hg_dim_max(hg_dims *d, hg_dim a, hg_dim b);
hg_dim hg_dim_eq(hg_dims *d, hg_dim a, hg_dim b);
hg_dim hg_dim_lt(hg_dims *d, hg_dim a, hg_dim b);
hg_dim hg_dim_select(hg_dims *d, hg_dim condition, hg_dim yes, hg_dim no);
/* Any operation of the list above by number. */
hg_dim hg_dim_make(hg_dims *d, hg_dim_op op, hg_dim a, hg_dim b, hg_dim c);

bool hg_dim_is_const(const hg_dims *d, hg_dim dim, int64_t *value);
/* True when dim is the constant `value`. */
bool hg_dim_is(const hg_dims *d, hg_dim dim, int64_t value);
/* Known to be another number than `value` whatever the symbols. */
bool hg_dim_is_never(hg_dims *d, hg_dim dim, int64_t value);
/* The symbol's number when dim is a bare symbol, else -1. */
int64_t hg_dim_symbol_of(const hg_dims *d, hg_dim dim);
/* Known to be at least 0 / 1 whatever the symbols (sizes are never negative). */
bool hg_dim_is_nonnegative(const hg_dims *d, hg_dim dim);
bool hg_dim_is_positive(const hg_dims *d, hg_dim dim);
/* Replaces symbols by other dims: to[i] for symbol i, 0 keeps it. */
hg_dim hg_dim_substitute(hg_dims *d, hg_dim dim, const hg_dim *to, size_t n_to);
/* Text form "batch*12", into buffer; always terminated. Parses back with hg_dim_parse. */
void hg_dim_print(const hg_dims *d, hg_dim dim, char *text, size_t size);
/* Unknown words become INPUT symbols. 0 when the text is no expression. */
hg_dim hg_dim_parse(hg_dims *d, hg_str text);

/* Evaluates one record over already evaluated slots. False on overflow, division by zero. */
bool hg_dim_eval_op(hg_dim_op op, int64_t a, int64_t b, int64_t c, int64_t *out);

#endif
