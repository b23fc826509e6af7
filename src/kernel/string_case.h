/* string_case.h - upper and lower case of UTF-8 text: letters that have exactly one counterpart, in
 * Latin, Greek, Cyrillic, Armenian and full-width letters. Anything else stays as it is. */
#ifndef HG_KERNEL_STRING_CASE_H
#define HG_KERNEL_STRING_CASE_H

#include "base/base.h"

typedef enum hg_case { HG_CASE_NONE = 0, HG_CASE_LOWER = 1, HG_CASE_UPPER = 2 } hg_case;

/* The next code point at text[*at], which moves on; a byte that is no UTF-8 is given as it is, plus
 * 2^31. */
uint32_t hg_utf8_next(const char *text, uint64_t length, uint64_t *at);
/* Writes a code point as hg_utf8_next gives it; 1 to 4 bytes. */
uint64_t hg_utf8_put(uint32_t code, char *text);
uint32_t hg_case_change(uint32_t code, hg_case to);

#endif
