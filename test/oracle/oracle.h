/* oracle.h - every operator of the standard, for every type, against a second computation.
 *
 * The folder is an oracle: it includes nothing of src/, only the public interface, so that what it
 * expects is never what the library happens to do. A tensor is an array of wide values (`ora`): 64
 * bit integers and long double. A family file (unary.c, reduce.c ...) has a row per operator; its
 * function makes inputs, computes the outputs by the words of the standard and calls ora_check,
 * which writes an ONNX model of one node, compiles and runs it several ways and compares:
 *
 *     constants       every input is an initializer: the node is folded at compile time
 *     fixed           inputs come at run time, parameters (axes, shapes) are initializers
 *     symbolic        the same, and no dimension of the inputs is known when compiling
 *     late            parameters come at run time too
 *
 * each of the last three with all kernels and with the reference kernels alone.
 *
 * A result must lie between the roundings of re - tol and re + tol to its type: tol 0 means rounded
 * right, as for integers and data movement; an operator that may err sets tol and says why.
 *
 * standard.inc lists operators, types and slots of the standard, versions.inc those of the older
 * versions. When the rows of an operator have run, every type that the standard allows in every
 * slot must have occurred, in every version whose words are those of the newest; a version with
 * words of its own must have a row (older.inc); and an operator that the compiler knows but no row
 * names is a failure. */
#ifndef HG_TEST_ORACLE_ORACLE_H
#define HG_TEST_ORACLE_ORACLE_H

#include "test.h"

#include <math.h>
#include <string.h>

typedef struct wide {
    long double re, im, tol; /* floating point and complex numbers */
    uint64_t i;              /* integers and bool: two's complement, extended to 64 bits */
    holo_string s;
} wide;

typedef struct ora {
    holo_dtype type; /* SEQUENCE, OPTIONAL: see item */
    int rank;
    int64_t dim[HOLO_MAX_RANK];
    int64_t count;
    wide *v;
    bool parameter;    /* axes, shapes: an initializer unless everything is late */
    bool never_const;  /* no initializer in any mode */
    bool sized;        /* dimensions decide a rank: known in every mode */
    holo_dtype elem;   /* of an empty container's items */
    holo_dtype middle; /* SEQUENCE for an optional of a sequence */
    struct ora **item;
    size_t n_item;
} ora;

/* ---- tensors: memory lives until the next operator ------------------------------------------- */

void *ora_alloc(size_t bytes); /* zeroed */
ora *ora_new(holo_dtype type, int rank, const int64_t *dim);
/* dims "2,3" ("" for rank 0). */
ora *ora_shape(holo_dtype type, const char *dims);
ora *ora_like(const ora *t, holo_dtype type);
/* Values as text: "1 -2 inf"; strings: words, "_" is the empty one. */
ora *ora_of(holo_dtype type, const char *dims, const char *values);
ora *ora_scalar(holo_dtype type, long double value);
ora *ora_ints(holo_dtype type, int count, const int64_t *values); /* rank 1 */
ora *ora_param(ora *t);
ora *ora_sized(ora *t);
ora *ora_box(holo_dtype container, holo_dtype elem, size_t count, ora *const *items);
/* Small numbers that every type holds; the special ones of the type in turn; numbers in (-1, 1). */
typedef enum ora_fill { ORA_SMALL, ORA_EDGE, ORA_UNIT } ora_fill;
ora *ora_make(holo_dtype type, const char *dims, ora_fill fill, uint32_t seed);
uint32_t ora_random(uint32_t *state);

/* ---- numbers (wide.c) --------------------------------------------------------------------------
 */

bool ora_is_float(holo_dtype type); /* real ones, 4 and 8 bits wide too */
bool ora_is_int(holo_dtype type);   /* not bool */
bool ora_is_signed(holo_dtype type);
bool ora_is_complex(holo_dtype type);
int ora_bits(holo_dtype type);
int64_t ora_int_min(holo_dtype type);
uint64_t ora_int_max(holo_dtype type);
uint64_t ora_wrap(holo_dtype type, uint64_t value); /* to the width, then extended */
/* The value as a number, whatever the type. */
long double ora_real(holo_dtype type, const wide *w);
/* From a number the type holds exactly, or for floats: to be rounded when compared. */
wide ora_wide(holo_dtype type, long double value);
/* a < b of integers, by the sign of the type. */
bool ora_int_less(holo_dtype type, uint64_t a, uint64_t b);
/* Nearest value of the type, ties to even; too large ones become infinite, NaN or, without both,
 * the largest. */
long double ora_round(holo_dtype type, long double value);
long double ora_max_finite(holo_dtype type);
long double ora_ulp(holo_dtype type, long double value);
/* Relative error of one rounding in which an operator may compute this type: that of float32 for
 * the narrower ones. */
long double ora_eps(holo_dtype type);
/* A result of `n` roundings of numbers no larger than `size`; 16 bits: of a few stages more. */
wide ora_near(holo_dtype type, long double value, long double size, long double n);
void ora_pack(const ora *t, void *bytes); /* as hologram.h lays tensors out */
bool ora_matches(const ora *want, const holo_tensor *got, char *why, size_t size);
ora *ora_read(const holo_tensor *t); /* of numbers */
size_t ora_bytes(holo_dtype type, int64_t count);
/* The bit pattern of an element, and back. */
uint64_t ora_encode(holo_dtype type, const wide *w);
wide ora_decode(holo_dtype type, uint64_t bits);

/* ---- indices ----------------------------------------------------------------------------------
 */

void ora_unravel(const ora *t, int64_t at, int64_t *index);
int64_t ora_ravel(const ora *t, const int64_t *index);
/* Element of t at the place `index` of a broadcast shape of `rank` dimensions. */
const wide *ora_broadcast_at(const ora *t, int rank, const int64_t *index);
ora *ora_broadcast_new(holo_dtype type, size_t n, ora *const *in);
const char *ora_dims_text(const ora *t);

/* ---- the standard (standard.c) -----------------------------------------------------------------
 */

/* Types allowed for a name, as bits by number of type; containers are not in it. */
uint32_t ora_types(const char *op, const char *name);
#define ORA_EACH_TYPE(type, op, name)                                                              \
    for (holo_dtype type = HOLO_F32; type <= HOLO_I2; type = (holo_dtype)(type + 1))               \
        if (ora_types(op, name) >> type & 1u)

/* ---- checks (check.c) --------------------------------------------------------------------------
 */

typedef struct ora_bytes_t {
    uint8_t *data;
    size_t size, capacity;
} ora_message;

enum { ORA_MAX_IN = 16, ORA_MAX_OUT = 8 };

typedef struct ora_case ora_case;
/* Judges what came out, in the order of the outputs; false: why not. */
typedef bool ora_judge_fn(const ora_case *c, const holo_tensor *got, char *why, size_t size);

struct ora_case {
    const char *op;            /* "Add", or "com.microsoft:Gelu" */
    const char *attrs;         /* axis=-1 alpha=0.5 mode="linear" pads=[0, 1]; NULL: none */
    const ora *in[ORA_MAX_IN]; /* NULL: absent */
    size_t n_in;
    size_t n_outer; /* of these, the last ones: inputs of the graph that only bodies read */
    const ora *out[ORA_MAX_OUT]; /* NULL: not asked for */
    size_t n_out;
    const char *tensor_name; /* an attribute that is a tensor */
    const ora *tensor;
    ora_message more; /* further AttributeProto fields of the node, made with ora_put_* */
    int opset;        /* 0: the newest */
    unsigned skip;    /* modes that cannot be: 1u << ORA_SYMBOLIC when sizes decide the rank ... */
    ora_judge_fn *judge; /* of random numbers, in place of the comparison; NULL: that one */
};

void ora_check(const ora_case *c);
/* Compiling or running says a sentence that holds `part`. */
void ora_refuse(const ora_case *c, const char *part);
#define ORA_COUNT(...) (sizeof((const ora *const[]){__VA_ARGS__}) / sizeof(const ora *))
#define ORA_IN(...) .in = {__VA_ARGS__}, .n_in = ORA_COUNT(__VA_ARGS__)
#define ORA_OUT(...) .out = {__VA_ARGS__}, .n_out = ORA_COUNT(__VA_ARGS__)
/* ORA_CHECK("Add", NULL, ORA_IN(a, b), ORA_OUT(y)) */
#define ORA_CHECK(name, text, ...)                                                                 \
    ora_check(&(ora_case){.op = (name), .attrs = (text), __VA_ARGS__})
#define ORA_REFUSE(part, name, text, ...)                                                          \
    ora_refuse(&(ora_case){.op = (name), .attrs = (text), __VA_ARGS__}, part)

/* ---- rows -------------------------------------------------------------------------------------
 */

typedef struct ora_row ora_row;
struct ora_row {
    const char *op;
    void (*run)(const ora_row *row);
    const void *data; /* of the family */
};

/* Runs the rows and checks that every type of the standard occurred. A file ends with
 *
 *     const ora_row ora_rows_unary[] = {...};
 *     static void unary_rows(void) { ora_run(ora_rows_unary); }
 *     const hg_test_case hg_tests_oracle_unary[] = {{"rows", unary_rows}, {0}}; */
void ora_run(const ora_row *rows);

/* ---- messages of ONNX (model.c) ----------------------------------------------------------------
 */

void ora_put_int(ora_message *m, uint32_t field, int64_t value);
void ora_put_bytes(ora_message *m, uint32_t field, const void *bytes, size_t size);
void ora_put_text(ora_message *m, uint32_t field, const char *text);
void ora_put(ora_message *m, uint32_t field, const ora_message *inner);
void ora_put_float(ora_message *m, uint32_t field, float value);
/* One node: names separated by ','. */
ora_message ora_node(const char *op, const char *in, const char *out, const char *attrs);
/* A graph's attribute of a node, ready for ora_case.more. */
void ora_put_graph_attr(ora_message *node, const char *name, const ora_message *graph);
void ora_put_type_attr(ora_message *node, const char *name, const ora *type);
ora_message ora_type(const ora *t,
                     const char *symbol); /* TypeProto; symbol NULL: sizes as they are */
ora_message ora_value_info(const char *name, const ora *t, const char *symbol);
ora_message ora_tensor(const char *name, const ora *t);
enum {
    ORA_GRAPH_NODE = 1,
    ORA_GRAPH_NAME = 2,
    ORA_GRAPH_INIT = 5,
    ORA_GRAPH_IN = 11,
    ORA_GRAPH_OUT = 12
};
typedef enum ora_mode { ORA_CONSTANTS, ORA_FIXED, ORA_SYMBOLIC, ORA_LATE, ORA_MODES } ora_mode;
/* The model of a case; false when the mode says nothing more than another one. */
bool ora_model(const ora_case *c, ora_mode mode, ora_message *out);
bool ora_is_input(const ora *t, ora_mode mode);
/* standard.c: notes the types of a case. */
void ora_note(const ora_case *c);
void ora_note_begin(const char *op);
void ora_note_end(void);
/* The case as one of the next older version, counted by *k from 0, that it is one of too and in
 * which it has a type that no case before had; false: there is none. */
bool ora_older(const ora_case *c, size_t *k, ora_case *out);
/* older.c: whether a row has the operator with an opset in [from, end). */
bool ora_has_older(const char *op, int from, int end);
/* How many operators the standard has, and how many older versions of them. */
void ora_pairs(size_t *newest, size_t *older);
bool ora_standard_has(const char *op);
/* Types of a name that the standard lists but gives no meaning: the row says why. */
void ora_excuse(const char *name, uint32_t types);
void ora_excuse_containers(const char *name, uint32_t types);

#endif
