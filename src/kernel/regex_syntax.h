/* regex_syntax.h - regular expressions in RE2's syntax, checked and rewritten for PCRE2.
 *
 * The two agree on most patterns. What only PCRE2 knows (backreferences, lookaround, possessive
 * repeats, verbs ...) is refused; what means something else there (\s, \v, $, scripts, {,n} ...) is
 * written so that it means what RE2 says. Groups capture nothing: only whether a text matches
 * counts. */
#ifndef HG_KERNEL_REGEX_SYNTAX_H
#define HG_KERNEL_REGEX_SYNTAX_H

#include "base/base.h"

enum {
    HG_REGEX_DEPTH = 250,  /* groups inside each other */
    HG_REGEX_REPEAT = 1000 /* RE2's limit, of one repeat and of repeats inside each other */
};

/* What is wrong with a pattern, and where. */
typedef struct hg_regex_flaw {
    const char *what; /* static text; NULL: nothing */
    size_t at;        /* byte of the pattern */
} hg_regex_flaw;

/* Writes the pattern for PCRE2 to `out`, as much of it as fits `room` bytes; returns its length. */
size_t hg_regex_translate(const char *pattern, size_t length, char *out, size_t room,
                          hg_regex_flaw *flaw);

#endif
