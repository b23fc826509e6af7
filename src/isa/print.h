/* print.h - text out of a program: a buffered writer over a sink, and dims, types and lane code as
 * text. */
#ifndef HG_ISA_PRINT_H
#define HG_ISA_PRINT_H

#include "isa/program.h"

/* Start with {.sink = sink, .user = user}; end with hg_print_flush. */
typedef struct hg_print {
    holo_sink_fn sink;
    void *user;
    bool failed; /* the sink took no more: everything after is dropped */
    size_t used;
    char buffer[1024];
} hg_print;

void hg_print_put(hg_print *o, const char *bytes, size_t length);
void hg_print_text(hg_print *o, const char *text);
/* At most 500 bytes: numbers and short static texts, never names. */
void hg_print_format(hg_print *o, const char *format, ...) HG_PRINTF(2, 3);
/* "text" with \" \\ and \xNN for what is no printable UTF-8; cut after 120 bytes. */
void hg_print_quote(hg_print *o, const char *text);
/* Just enough digits to be read back, with "." whatever the locale; nan, inf, -inf. */
void hg_print_float(hg_print *o, double value, bool is_single);
/* False when the sink refused anything. */
bool hg_print_flush(hg_print *o);
/* Bytes of the UTF-8 sequence at text, 0 when it is none or a control character. */
size_t hg_print_sequence(const char *text);

/* The dims of a program for hg_dim_print, in the arena. False when memory is exhausted. */
HG_MUST_CHECK bool hg_print_dims_init(const hg_program *p, hg_arena *arena, hg_dims *out);
/* "batch*12"; cut with "..." when very long. */
void hg_print_dim(hg_print *o, const hg_dims *dims, uint32_t dim);
/* The name of a symbol as dims show it. */
void hg_print_symbol(hg_print *o, const hg_dims *dims, uint32_t symbol);
/* "float32[batch,3]", "float32[?]" when the rank is known only at run time. */
void hg_print_type(hg_print *o, const hg_program *p, const hg_dims *dims, uint32_t value);
/* Lane code number i: {r2=add(x0,x1); r3=max(r2,0); y0=r3}. Operations on f32 have no suffix. */
void hg_print_code(hg_print *o, const hg_program *p, uint32_t i);

#endif
