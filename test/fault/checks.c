/* checks.c - counts which rules (HG_REQUIRE) the cases broke. Cases run in processes of their own,
 * so the counts lie in memory that they share. Builds without HG_RULES count nothing. */
#include "fault/checks.h"

#ifdef HG_RULES

#include "isa/kernel.h"

#include <stdio.h>
#include <sys/mman.h>

/* The linker's names for the ends of the section that HG_REQUIRE fills. */
extern hg_rule __start_hg_rules[], __stop_hg_rules[];

static uint8_t *checks_broken; /* per rule; shared */

static size_t checks_count(void)
{
    return (size_t)(__stop_hg_rules - __start_hg_rules);
}

void hg_checks_begin(void)
{
    void *p = mmap(NULL, checks_count(), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    checks_broken = p == MAP_FAILED ? NULL : p;
}

void hg_checks_collect(void)
{
    for (size_t i = 0; checks_broken != NULL && i < checks_count(); i++)
        if (__start_hg_rules[i].broken != 0) checks_broken[i] = 1;
}

void hg_checks_forget(void)
{
    for (size_t i = 0; i < checks_count(); i++)
        __start_hg_rules[i].broken = 0;
}

bool hg_checks_complete(void)
{
    size_t missing = 0;
    for (size_t i = 0; checks_broken != NULL && i < checks_count(); i++) {
        if (checks_broken[i] != 0) continue;
        printf("%s:%d: no test breaks this rule: %s\n", __start_hg_rules[i].file,
               (int)__start_hg_rules[i].line, __start_hg_rules[i].text);
        missing++;
    }
    if (missing != 0) printf("FAIL rules: %zu of %zu\n", missing, checks_count());
    return missing == 0;
}

#else

void hg_checks_begin(void)
{
}

void hg_checks_collect(void)
{
}

void hg_checks_forget(void)
{
}

bool hg_checks_complete(void)
{
    return true;
}

#endif
