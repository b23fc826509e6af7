/* clock.h - time for people. */
#ifndef TEXT2IMAGE_CLOCK_H
#define TEXT2IMAGE_CLOCK_H

#include <stddef.h>

/* Seconds from some fixed moment. */
double clock_seconds(void);

enum { CLOCK_TEXT_BYTES = 32 };

/* "412 us", "55.1 ms", "1.10 s" into text, which is returned. */
const char *clock_text(double seconds, char text[CLOCK_TEXT_BYTES]);

#endif
