/* clock.c - time for people. */
#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L
#endif
#include "clock.h"

#include <stdio.h>
#include <time.h>

double clock_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

const char *clock_text(double seconds, char text[CLOCK_TEXT_BYTES])
{
    if (seconds < 1e-3)
        snprintf(text, CLOCK_TEXT_BYTES, "%.0f us", seconds * 1e6);
    else if (seconds < 1)
        snprintf(text, CLOCK_TEXT_BYTES, "%.1f ms", seconds * 1e3);
    else
        snprintf(text, CLOCK_TEXT_BYTES, "%.2f s", seconds);
    return text;
}
