/* html.h - the pieces of the page that its files share. */
#ifndef HG_REPORT_HTML_H
#define HG_REPORT_HTML_H

#include "report/facts.h"

/* Class of the colour of a step: k0 to k7 for the most frequent kernels, k8 for all others. */
const char *hg_html_colour(const hg_facts_graph *g, uint32_t step);
const char *hg_html_rank_colour(uint32_t rank);
/* Text inside an element or an attribute; everything that could be markup is escaped, names are
 * cut. */
void hg_html_escape(hg_print *o, const char *text);
/* "float32[batch,3]", escaped. */
void hg_html_type(hg_print *o, const hg_facts_graph *g, uint32_t value);
void hg_html_bytes(hg_print *o, double bytes);

/* Pictures of a graph. `arena` lends memory; false when there is none left. */
HG_MUST_CHECK bool hg_html_memory(hg_print *o, const hg_facts_graph *g, hg_arena *arena);
HG_MUST_CHECK bool hg_html_flow(hg_print *o, const hg_facts_graph *g, hg_arena *arena);

extern const char hg_html_style[];

#endif
