/* progress.c - a bar on a terminal, nothing elsewhere. */
#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L
#endif
#include "progress.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PROGRESS_CELLS = 32 };

progress progress_start(int64_t total)
{
    const char *terminal = getenv("TERM");
    const char *no_color = getenv("NO_COLOR");
    const bool is_dumb = terminal == NULL || strcmp(terminal, "dumb") == 0;
    return (progress){.is_shown = isatty(STDERR_FILENO) == 1 && !is_dumb,
                      .is_coloured = no_color == NULL || no_color[0] == '\0',
                      .total = total};
}

void progress_show(const progress *bar, int64_t done)
{
    if (!bar->is_shown) return;
    char cells[PROGRESS_CELLS + 1];
    const int64_t full = done * PROGRESS_CELLS / bar->total;
    for (int64_t i = 0; i < PROGRESS_CELLS; i++)
        cells[i] = i < full ? '#' : '.';
    cells[PROGRESS_CELLS] = '\0';
    fprintf(stderr, "\r%s%s%s %" PRId64 "/%" PRId64, bar->is_coloured ? "\x1b[32m" : "", cells,
            bar->is_coloured ? "\x1b[0m" : "", done, bar->total);
    fflush(stderr);
}

void progress_end(const progress *bar)
{
    if (!bar->is_shown) return;
    fputs("\r\x1b[K", stderr);
    fflush(stderr);
}
