/* window.c - a window that slides over spatial dimensions. */
#include "oracle/window.h"

#include <stdio.h>

static void window_axis(window *w, int d, const window_text *t)
{
    const int64_t reach = (w->kernel[d] - 1) * w->dilation[d] + 1, s = w->stride[d];
    if (t->automatic != NULL && strncmp(t->automatic, "SAME", 4) == 0) {
        w->out[d] = (w->in[d] + s - 1) / s;
        int64_t total = (w->out[d] - 1) * s + reach - w->in[d];
        if (total < 0) total = 0;
        const bool upper = strcmp(t->automatic, "SAME_UPPER") == 0;
        w->low[d] = upper ? total / 2 : total - total / 2;
        w->high[d] = total - w->low[d];
        return;
    }
    const int64_t room = w->in[d] + w->low[d] + w->high[d] - reach;
    w->out[d] = (t->ceil ? (room + s - 1) / s : room / s) + 1;
    /* A window must not start in the padding behind. */
    if (t->ceil && (w->out[d] - 1) * s >= w->in[d] + w->low[d]) w->out[d]--;
}

window window_make(const ora *x, const int64_t *kernel, const window_text *t)
{
    window w = {.n = x->rank - 2};
    for (int d = 0; d < w.n; d++) {
        w.in[d] = x->dim[d + 2];
        w.kernel[d] = kernel[d];
        w.stride[d] = t->stride[d] == 0 ? 1 : t->stride[d];
        w.dilation[d] = t->dilation[d] == 0 ? 1 : t->dilation[d];
        if (t->automatic == NULL) {
            w.low[d] = t->pads[d];
            w.high[d] = t->pads[d + w.n];
        }
        window_axis(&w, d, t);
    }
    return w;
}

static size_t window_list(char *text, size_t size, const char *name, const int64_t *list, int n)
{
    size_t used = (size_t)snprintf(text, size, "%s=[", name);
    for (int d = 0; d < n; d++)
        used +=
            (size_t)snprintf(text + used, size - used, "%s%lld", d ? "," : "", (long long)list[d]);
    return used + (size_t)snprintf(text + used, size - used, "] ");
}

const char *window_attrs(const window *w, const window_text *t, bool kernel, const char *more)
{
    const size_t size = 300;
    char *text = ora_alloc(size);
    size_t used = 0;
    if (kernel) used += window_list(text + used, size - used, "kernel_shape", w->kernel, w->n);
    if (t->stride[0] != 0)
        used += window_list(text + used, size - used, "strides", w->stride, w->n);
    if (t->dilation[0] != 0)
        used += window_list(text + used, size - used, "dilations", w->dilation, w->n);
    if (t->automatic != NULL)
        used += (size_t)snprintf(text + used, size - used, "auto_pad=\"%s\" ", t->automatic);
    else
        used += window_list(text + used, size - used, "pads", t->pads, 2 * w->n);
    if (t->ceil) used += (size_t)snprintf(text + used, size - used, "ceil_mode=1 ");
    snprintf(text + used, size - used, "%s", more);
    return text;
}

int64_t window_size(const window *w)
{
    int64_t size = 1;
    for (int d = 0; d < w->n; d++)
        size *= w->kernel[d];
    return size;
}

bool window_at(const window *w, const int64_t *out, int64_t k, int64_t *at)
{
    bool inside = true;
    for (int d = w->n - 1; d >= 0; d--) {
        at[d] = out[d] * w->stride[d] - w->low[d] + k % w->kernel[d] * w->dilation[d];
        inside = inside && at[d] >= 0 && at[d] < w->in[d];
        k /= w->kernel[d];
    }
    return inside;
}
