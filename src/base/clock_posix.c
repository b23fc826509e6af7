/* clock_posix.c - the monotonic clock of POSIX. */
#include "base/clock.h"

#include <time.h>

double hg_clock_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}
