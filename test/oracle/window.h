/* window.h - a window that slides over spatial dimensions, as convolutions and pools have it. */
#ifndef HG_TEST_ORACLE_WINDOW_H
#define HG_TEST_ORACLE_WINDOW_H

#include "oracle/oracle.h"

enum { WINDOW_MAX = 3 };

typedef struct window {
    int n; /* spatial dimensions */
    int64_t in[WINDOW_MAX], kernel[WINDOW_MAX], stride[WINDOW_MAX], dilation[WINDOW_MAX];
    int64_t low[WINDOW_MAX], high[WINDOW_MAX], out[WINDOW_MAX];
} window;

/* How a case states it; zeros are the defaults. */
typedef struct window_text {
    int64_t stride[WINDOW_MAX], dilation[WINDOW_MAX], pads[2 * WINDOW_MAX];
    const char *automatic; /* auto_pad */
    bool ceil;
} window_text;

window window_make(const ora *x, const int64_t *kernel, const window_text *t);
/* Attributes of that, `more` behind them. */
const char *window_attrs(const window *w, const window_text *t, bool kernel, const char *more);
/* Steps through kernel places k (flat) at output place `out`: the input place, false outside. */
bool window_at(const window *w, const int64_t *out, int64_t k, int64_t *at);
int64_t window_size(const window *w); /* places of the kernel */

#endif
