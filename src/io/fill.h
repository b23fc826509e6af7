/* fill.h - deterministic inputs for measuring and comparing.
 *
 * Inputs are written NAME:DTYPE:DIMS:FILL, joined by ';'. DIMS are comma separated, "-" is a
 * scalar. FILL is one of
 *
 * - rand: uniform in [-1, 1); rand01: uniform in [0, 1);
 * - int=N: floor(uniform * N), so 0 .. N-1;
 * - const=V: the number V everywhere; iota: 0, 1, 2, ...;
 * - halfmask: 0 where index % 512 < 200, else 255; piper: 0.667, 1, 0.8 (three values).
 *
 * One 32-bit state, shared by all inputs in their order, makes the random numbers: state = state *
 * 1664525 + 1013904223 (mod 2^32), uniform = state / 2^32 as a double. Only rand, rand01 and int=N
 * draw, one number per element, row-major. Values are computed as double and converted: floats
 * round to nearest even, integers truncate. Another program that follows this makes the same bytes,
 * so results can be compared between programs. */
#ifndef HG_IO_FILL_H
#define HG_IO_FILL_H

#include "base/base.h"

enum { HG_FILL_SEED = 12345 };

typedef struct hg_rng {
    uint32_t state;
} hg_rng;

/* The next number in [0, 1). */
double hg_rng_uniform(hg_rng *rng);

typedef enum hg_fill_kind {
    HG_FILL_RAND,
    HG_FILL_RAND01,
    HG_FILL_INT,
    HG_FILL_CONST,
    HG_FILL_IOTA,
    HG_FILL_HALFMASK,
    HG_FILL_PIPER
} hg_fill_kind;

typedef struct hg_fill {
    hg_fill_kind kind;
    double value; /* of INT and CONST */
} hg_fill;

/* "rand01", "int=100", ... Status: E_ARG with a sentence that lists the forms. */
HG_MUST_CHECK holo_status hg_fill_parse(const char *text, hg_fill *out, holo_error *error);
/* What suits a type when nothing is known: floats in [-1, 1), bytes over their range, other
 * integers and bool 0 or 1 (so that an index is valid wherever there are two rows). */
hg_fill hg_fill_default(holo_dtype dtype);
/* Strings become one digit each. */
void hg_fill_tensor(const hg_fill *fill, hg_rng *rng, holo_tensor *tensor);

typedef struct hg_fill_input {
    char *name;
    holo_tensor tensor;
} hg_fill_input;

typedef struct hg_fill_inputs {
    hg_fill_input *item;
    size_t count;
} hg_fill_inputs;

/* Parses and fills a whole --inputs text. Status: E_ARG, E_LIMIT, E_NOMEM. */
HG_MUST_CHECK holo_status hg_fill_inputs_parse(const char *text, hg_rng *rng, hg_fill_inputs *out,
                                               holo_error *error);
void hg_fill_inputs_free(hg_fill_inputs *inputs);

/* The type with this name ("float32"), or HOLO_NONE. */
holo_dtype hg_dtype_named(const char *name);

#endif
