/* source.h - a model as one C file: what the files of this layer share.
 *
 *   source.c    the file as a whole: weights, memory, one function a step, one that calls them
 *   value.c     where a value lies, as an expression; weights as arrays
 *   write.c     lines, loops, indices, elements
 *   lane.c      lane code as statements
 *   helper.c    the functions of base/half.h and isa/lane_math*.h that the rest calls
 *   others      the loops of one kernel, found by its name
 *
 * Sizes and memory come from a session that is prepared and never run, so they are those of the
 * interpreter; the loops add in the order of the reference kernels, so the bits are too. The text
 * is made twice: the first round goes nowhere and finds out which helpers it needs, which steps can
 * fail on data and which ones there is no C for. */
#ifndef HG_SOURCE_SOURCE_H
#define HG_SOURCE_SOURCE_H

#include "isa/print.h"
#include "runtime/session.h"

/* A text under construction: an expression or a line. One that does not fit becomes "@", which is
 * no C: whatever it is part of is refused. */
enum { HG_SOURCE_TEXT = 1200 };
typedef struct hg_ctext {
    char text[HG_SOURCE_TEXT];
} hg_ctext;

/* A function, type or constant of the headers: lines [first, end) of their text. */
typedef struct hg_source_helper {
    hg_str name;
    uint32_t first, end;
} hg_source_helper;

typedef struct hg_source {
    hg_print out;
    const holo_model *model;
    const hg_model_graph *graph;
    const holo_session *session;
    hg_arena *arena;
    const char *name; /* of the function */
    int depth;

    const hg_source_helper *helper;
    uint32_t n_helper;
    bool *needs;      /* per helper: called, directly or not */
    uint8_t *faults;  /* per step: data can make it fail */
    bool *is_read;    /* per value: a step or an output refers to it */
    uint64_t members; /* types of values in `memory` */

    uint32_t step; /* the current one, from 0 */
    const hg_args *args;
    bool *is_used; /* per input of the step */
    char why[160]; /* why there is no C for it; "" when there is */
    bool is_cut;   /* a line of it was too long */
} hg_source;

/* Writes the loops of one kernel, the function around them is there already: inputs are a0, a1 ...,
 * outputs y0, y1 ... False, with a reason, when there is no C for these arguments. */
typedef struct hg_source_kernel {
    const char *name;
    bool (*write)(hg_source *s, const hg_args *a);
} hg_source_kernel;

/* Part of a name in C. */
static inline bool hg_source_is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/* ---- write.c ----------------------------------------------------------------------------------
 */

void hg_ctext_set(hg_ctext *t, const char *format, ...) HG_PRINTF(2, 3);
void hg_ctext_add(hg_ctext *t, const char *format, ...) HG_PRINTF(2, 3);
/* One line at the current depth, or text as it is. */
void hg_source_line(hg_source *s, const char *format, ...) HG_PRINTF(2, 3);
void hg_source_open(hg_source *s, const char *format, ...) HG_PRINTF(2, 3); /* and " {" */
void hg_source_close(hg_source *s, int levels);
bool hg_source_refuse(hg_source *s, const char *format, ...) HG_PRINTF(2, 3); /* false */

/* for (int32_t v = 0; v < n; v++) {; nothing when n is 1: then v does not occur in indices. */
int hg_source_for(hg_source *s, const char *v, int64_t n);
/* A loop i0, i1, ... for each dim of t in [begin, end); the number of levels to close. */
int hg_source_for_dims(hg_source *s, const holo_tensor *t, int begin, int end);
/* Sum of i<d> * stride[d] over dims other than 1; "0" when nothing is left. */
void hg_source_index(hg_ctext *out, const holo_tensor *over, const int64_t *stride);
/* Number of the element of t that meets element (i0, i1, ...) of `over`. */
void hg_source_at(hg_ctext *out, const holo_tensor *t, const holo_tensor *over);
/* Declares `place`: an index as a place in [0, size); negative ones count from the end, others end
 * the step with a fault. */
void hg_source_place(hg_source *s, const char *index, int64_t size);
/* Declares `at`: `start`, then by each index of tuple i of in[1] on to a place below size[...]. */
void hg_source_tuple(hg_source *s, int64_t tuples, int64_t count, const int64_t *size,
                     const char *start);
/* Adds v * stride to an index; v is left out when its range n is 1. */
void hg_source_add(hg_ctext *index, const char *v, int64_t n, int64_t stride);

/* Sixteen lanes meet: `join` puts lane l + w into lane l. */
void hg_source_tree(hg_source *s, const char *join);

/* "float", "uint16_t": how elements lie in memory; NULL for types that have no C. */
const char *hg_source_ctype(holo_dtype dtype);
const char *hg_source_lane_ctype(uint32_t type);
/* The short name of an element type: f32, u8 ... */
const char *hg_source_suffix(holo_dtype dtype);
/* a<i>, and the input counts as used. */
const char *hg_source_in(hg_source *s, uint32_t i, char name[16]);
/* Element `index` of a<i>, widened to its compute type. */
void hg_source_load(hg_source *s, hg_ctext *out, uint32_t i, const char *index);
void hg_source_widen(hg_source *s, hg_ctext *out, holo_dtype dtype, const char *element);
/* y<i>[index] = value, narrowed from the compute type. */
void hg_source_store(hg_source *s, uint32_t i, const char *index, const char *value, bool saturate);
/* value of compute type as it is stored in an element of dtype. */
void hg_source_narrow(hg_source *s, hg_ctext *out, holo_dtype dtype, const char *value,
                      bool saturate);
/* A number as C text. */
void hg_source_f32(hg_ctext *out, float value);
void hg_source_f64(hg_ctext *out, double value);
void hg_source_int(hg_ctext *out, uint32_t lane_type, uint64_t bits);
/* static const int32_t name[] = {...}; of n numbers. */
void hg_source_table(hg_source *s, const char *name, const int64_t *value, int64_t n);

/* ---- lane.c -----------------------------------------------------------------------------------
 */

/* Statements for the code of the step at element (i0, i1, ...) of out[0], and the stores. Operand 0
 * is the variable `result` of type result_type and the others are in[first + k - 1]; without
 * result, operand k is in[k]. */
bool hg_source_lane(hg_source *s, const char *result, uint32_t first);
/* Statements for code of two operands, which are expressions, and y0[index] = what it gives. */
bool hg_source_combine(hg_source *s, const char *old, const char *update, const char *index);
/* y0[...] = the variable `r`, through the code of the step if it has one. */
bool hg_source_finish(hg_source *s, const char *result, uint32_t first_extra);

/* ---- helper.c ---------------------------------------------------------------------------------
 */

/* Finds them in the text of the headers; false when memory is exhausted. */
HG_MUST_CHECK bool hg_source_helpers_init(hg_source *s);
/* The function will be called. */
void hg_source_need(hg_source *s, const char *function);
/* The text of those that are needed. */
void hg_source_helpers(hg_source *s);

/* ---- value.c ----------------------------------------------------------------------------------
 */

/* Pointer to the first element of a value. */
void hg_source_value(const hg_source *s, hg_ctext *out, uint32_t value);
/* Element type and shape as a comment says them: float32[1,3]. */
void hg_source_shape(hg_ctext *out, const holo_tensor *t);
/* The type whose C elements hold those of dtype: f16 as u16, bool as u8. */
holo_dtype hg_source_plain(holo_dtype dtype);
void hg_source_weights(hg_source *s);
void hg_source_memory(hg_source *s);
/* The parameter of an input or output; an identifier that differs from all others. */
void hg_source_port(const hg_source *s, hg_ctext *out, bool is_output, uint32_t i);
/* The output that a value is computed into directly, or -1. */
int64_t hg_source_direct(const hg_source *s, uint32_t value);

#endif
