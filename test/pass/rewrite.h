/* rewrite.h - a pass as a pair of texts: what goes in, what must come out. */
#ifndef HG_TEST_PASS_REWRITE_H
#define HG_TEST_PASS_REWRITE_H

/* Parses `in`, infers types, runs the pass, removes what died, and compares the text form with
 * `out`, which is parsed and printed too, so that names and layout of the texts do not matter where
 * numbers are given. */
void hg_test_rewrite(const char *file, int line, const char *pass, const char *in, const char *out);

#define CHECK_PASS(pass, in, out) hg_test_rewrite(__FILE__, __LINE__, pass, in, out)

#endif
