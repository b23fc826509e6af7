/* clock.h - a monotonic clock. */
#ifndef HG_BASE_CLOCK_H
#define HG_BASE_CLOCK_H

/* Seconds since some fixed moment. */
double hg_clock_seconds(void);

#endif
