/* string_case.h - upper and lower case of UTF-8 text, by the tables of Unicode: single letters,
 * letters that become several, and the sigma at the end of a word. */
#ifndef HG_KERNEL_STRING_CASE_H
#define HG_KERNEL_STRING_CASE_H

#include "base/base.h"

typedef enum hg_case {
    HG_CASE_NONE = 0,
    HG_CASE_LOWER = 1,
    HG_CASE_UPPER = 2,
    HG_CASE_FOLD = 3 /* for comparing: texts that differ in case alone become the same */
} hg_case;

/* Turkish and Azerbaijani have an i with a dot and one without, each in both cases. */
typedef enum hg_case_rules { HG_CASE_COMMON = 0, HG_CASE_TURKIC = 1 } hg_case_rules;

/* The next code point at text[*at], which moves on; a byte that is no UTF-8 is given as it is, plus
 * 2^31. */
uint32_t hg_utf8_next(const char *text, uint64_t length, uint64_t *at);
/* Writes a code point as hg_utf8_next gives it; 1 to 4 bytes. */
uint64_t hg_utf8_put(uint32_t code, char *text);
/* White space, as Unicode has it. */
bool hg_utf8_is_space(uint32_t code);

/* A text on its way to another case. */
typedef struct hg_case_walk {
    const char *text;
    uint64_t length, at;
    hg_case to;
    hg_case_rules rules;
    bool in_word;     /* a letter with cases stands before */
    uint32_t code[3]; /* what is still to be given */
    uint32_t n_code, next;
} hg_case_walk;

/* The next code point of the result; false at the end. */
bool hg_case_next(hg_case_walk *w, uint32_t *code);
/* Bytes of a text in another case; writes them unless out is NULL. */
uint64_t hg_case_text(const holo_string *s, hg_case to, hg_case_rules rules, char *out);
/* Same text but for case. */
bool hg_case_same(const holo_string *a, const holo_string *b, hg_case_rules rules);

#endif
