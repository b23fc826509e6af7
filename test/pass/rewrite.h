/* rewrite.h - a pass as a pair of texts: what goes in, what must come out. */
#ifndef HG_TEST_PASS_REWRITE_H
#define HG_TEST_PASS_REWRITE_H

#include "base/ctx.h"

/* Parses `in`, infers types, runs the pass, removes what died, and compares the text form with
 * `out`, which is parsed and printed too, so that names and layout of the texts do not matter where
 * numbers are given. */
void hg_test_rewrite(const char *file, int line, const char *pass, const hg_ctx *settings,
                     const char *in, const char *out);

#define CHECK_PASS(pass, in, out) hg_test_rewrite(__FILE__, __LINE__, pass, NULL, in, out)
/* The same with numerics, flags and quantize of settings. */
#define CHECK_PASS_WITH(settings, pass, in, out)                                                   \
    hg_test_rewrite(__FILE__, __LINE__, pass, settings, in, out)

#endif
