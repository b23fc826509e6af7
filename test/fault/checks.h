/* checks.h - was every rule of every check broken by some test? Counted by the runner. */
#ifndef HG_TEST_FAULT_CHECKS_H
#define HG_TEST_FAULT_CHECKS_H

#include <stdbool.h>

/* Before the first case. */
void hg_checks_begin(void);
/* After each case, in its process. */
void hg_checks_collect(void);
/* What this process broke so far does not count: it was broken by chance, not by a test that knows
 * the sentence. */
void hg_checks_forget(void);
/* After the last case: prints the rules that no case broke. True when there are none, or when this
 * build does not count. */
bool hg_checks_complete(void);

#endif
