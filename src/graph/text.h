/* text.h - what dump.c and parse.c agree on, and a buffered writer; private to graph/.
 *
 *     symbol count = size(%nonzero, 1) <= 100
 *     meta "author" = "somebody"
 *     graph main(%input: float32[batch,3,224,224], %mask: bool[]) {
 *       %1 = const float32[3] {0.5, 1.0, -2.0}
 *       %w = const float32[64,3,7,7] #9f3a5c0e11d24b67
 *       %y = Conv(%input, %w, _) {strides=[2,2], group=1} : float32[batch,64,112,112] "conv"
 *       %a, _ = Split(%y) {axis=1} : float32[batch,32,112,112], _
 *       %r = If(%mask) then() {
 *         return %a
 *       } else() {
 *         return %b
 *       } : float32
 *       return %r as "output"
 *     }
 *
 * Names are %name, %"any text", or %7 for a value without a name of its own. All are unique in the
 * whole text and defined before they are used; a constant stands before its first use.
 *
 * A type is float32[batch,3] with ? for an unknown dimension, float32 when the rank is unknown, ?
 * when nothing is; sequence(float32[2]), optional(...), map(int64,float32). Known contents of a
 * small integer tensor follow in braces: int64[2] {batch,3}.
 *
 * A constant of up to 16 elements lists them, complex numbers as two; 0x7fc01234 gives the bits of
 * what has no other spelling. Larger ones are a hash and cannot be read back.
 *
 * Attributes are 1 (int), 1.0 (float), "a" (string), lists of them like [1,2], when empty ints[],
 * floats[] or strings[]; const ... (tensor); dims[batch*2,3]; type float32[2]; and lane code,
 * {r0 = load f32 0; r1 = const f32 2.0; r2 = mul f32 r0 r1; out r2 f32}.
 *
 * Spaces and line ends separate; // begins a comment up to the end of the line. */
#ifndef HG_GRAPH_TEXT_H
#define HG_GRAPH_TEXT_H

#include "graph/graph.h"

enum { HG_TEXT_ELEMENTS = 16, HG_TEXT_DEPTH = 64 };

/* A letter or "_", then letters, digits, "_" and "."; "_" alone is no name. */
bool hg_text_is_name(hg_str s);
bool hg_text_is_name_char(char c);
/* Strings of the keywords "f32" ... of lane types; 0 and NULL when there is none. */
const char *hg_text_lane_type(uint32_t type);
uint32_t hg_text_lane_type_from(hg_str s);
/* strtod in the C locale whatever the program's; false unless the whole text is a number. */
bool hg_text_to_float(hg_str s, double *out);

typedef struct hg_text {
    holo_sink_fn sink;
    void *user;
    bool failed;   /* the sink took no more */
    bool is_whole; /* constants of any size are listed */
    size_t used;
    char buffer[1024];
} hg_text;

void hg_text_put(hg_text *t, const char *text, size_t length);
void hg_text_add(hg_text *t, const char *text);
/* At most 200 bytes. */
void hg_text_format(hg_text *t, const char *format, ...) HG_PRINTF(2, 3);
void hg_text_indent(hg_text *t, uint32_t depth);
/* "text" with \" \\ \n and \xNN. */
void hg_text_quote(hg_text *t, hg_str s);
/* Just enough digits to be read back as the same double (float when is_single); has a "." or an
 * "e". */
void hg_text_float(hg_text *t, double value, bool is_single);
bool hg_text_flush(hg_text *t);

/* dump_attr.c. `scratch` lends memory for long expressions. */
void hg_dump_dim(hg_text *t, const hg_graph *g, hg_arena *scratch, hg_dim dim);
void hg_dump_type(hg_text *t, const hg_graph *g, hg_arena *scratch, const hg_type *type);
/* "const float32[3] {...}" */
void hg_dump_const(hg_text *t, const hg_graph *g, hg_arena *scratch, hg_value_id value);
void hg_dump_attrs(hg_text *t, const hg_graph *g, hg_arena *scratch, const hg_node *n);

/* ---- reading ------------------------------------------------------------------------- */

/* Text being read. Functions skip spaces and comments before they look. */
typedef struct hg_scan {
    const char *start, *at, *end;
    const char *token; /* where the last piece looked at begins: errors name it */
    hg_arena *arena;
    holo_error *error;
} hg_scan;

/* E_MODEL with line and column in front of the sentence. */
holo_status hg_scan_fail(const hg_scan *s, const char *format, ...) HG_PRINTF(2, 3);
/* Takes the text if it comes next. */
bool hg_scan_take(hg_scan *s, const char *text);
/* It comes next, but stays. */
bool hg_scan_sees(hg_scan *s, const char *text);
/* It must come next. */
HG_MUST_CHECK holo_status hg_scan_expect(hg_scan *s, const char *text);
/* Letters, digits, "_" and "."; empty when something else comes. In the text itself, not copied. */
hg_str hg_scan_word(hg_scan *s);
/* The same with "+" and "-". */
hg_str hg_scan_number(hg_scan *s);
/* "text" in the arena. */
HG_MUST_CHECK holo_status hg_scan_string(hg_scan *s, hg_str *out);
/* A word or a string, in the arena. */
HG_MUST_CHECK holo_status hg_scan_name(hg_scan *s, hg_str *out);
HG_MUST_CHECK holo_status hg_scan_int(hg_scan *s, int64_t *out);
HG_MUST_CHECK holo_status hg_scan_u32(hg_scan *s, uint32_t *out);
/* Items of a list up to the closing text; true when there is one more. *first starts as true. */
HG_MUST_CHECK holo_status hg_scan_more(hg_scan *s, const char *close, bool *first, bool *more);

/* parse_attr.c */
HG_MUST_CHECK holo_status hg_parse_type(hg_scan *s, hg_graph *g, hg_type *out);
/* Expressions up to the closing text. */
HG_MUST_CHECK holo_status hg_parse_dims(hg_scan *s, hg_graph *g, const char *close, hg_dim **out,
                                        uint32_t *count);
/* Behind "const". */
HG_MUST_CHECK holo_status hg_parse_const(hg_scan *s, hg_graph *g, hg_str name, hg_value_id *out);
/* Behind "{". */
HG_MUST_CHECK holo_status hg_parse_attrs(hg_scan *s, hg_graph *g, hg_attr **out, uint32_t *count);

/* parse_code.c: a number of a lane type or tensor, and lane code behind "{". */
HG_MUST_CHECK holo_status hg_parse_element(hg_scan *s, holo_dtype dtype, void *data, int64_t index);
HG_MUST_CHECK holo_status hg_parse_code(hg_scan *s, hg_lane_code **out);

#endif
