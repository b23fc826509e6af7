/* progress.h - a bar on a terminal, nothing elsewhere. */
#ifndef TEXT2IMAGE_PROGRESS_H
#define TEXT2IMAGE_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

typedef struct progress {
    bool is_shown;
    bool is_coloured;
    int64_t total;
} progress;

/* Decides from standard error, TERM and NO_COLOR. */
progress progress_start(int64_t total);
void progress_show(const progress *bar, int64_t done);
/* Wipes the bar. */
void progress_end(const progress *bar);

#endif
