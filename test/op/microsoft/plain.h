/* plain.h - one plain attention in f64. */
#ifndef HG_TEST_OP_MICROSOFT_PLAIN_H
#define HG_TEST_OP_MICROSOFT_PLAIN_H

#include "op/microsoft/compute.h"

/* q [B, N, S, H], k and v [B, K, T, H]; bias [B, N, S, T]; y [B, S, N H]. A bias of -INFINITY is
 * left out of the softmax altogether. */
typedef struct att_case {
    int b, n, k, s, t, h;
    double scale, cap, sink;
    bool has_sink;
} att_case;

static inline void att_plain(const att_case *c, const double *q, const double *k, const double *v,
                             const double *bias, double *y)
{
    for (int row = 0; row < c->b * c->n * c->s; row++) {
        const int s = row % c->s, n = row / c->s % c->n, b = row / c->s / c->n;
        const int kv = b * c->k + n / (c->n / c->k);
        double p[64], sum = c->has_sink ? exp(c->sink) : 0, out[64] = {0};
        for (int t = 0; t < c->t; t++) {
            double x = 0;
            for (int i = 0; i < c->h; i++)
                x += q[row * c->h + i] * k[(kv * c->t + t) * c->h + i];
            x *= c->scale;
            if (c->cap != 0) x = tanh(x / c->cap) * c->cap;
            p[t] = exp(x + bias[row * c->t + t]);
            sum += p[t];
        }
        for (int t = 0; t < c->t; t++)
            for (int i = 0; i < c->h; i++)
                out[i] += p[t] / sum * v[(kv * c->t + t) * c->h + i];
        for (int i = 0; i < c->h; i++)
            y[((b * c->s + s) * c->n + n) * c->h + i] = out[i];
    }
}

/* x [B, S, heads H] plus bias as [B, heads, first + S, H], rows from `first` on. */
static inline void att_by_heads(const double *x, const double *bias, int b, int s, int heads, int h,
                                int first, double *out)
{
    for (int i = 0; i < b * s * heads * h; i++) {
        const int e = i % h, n = i / h % heads, row = i / h / heads % s, batch = i / h / heads / s;
        out[((batch * heads + n) * (first + s) + first + row) * h + e] =
            x[i] + (bias == NULL ? 0 : bias[n * h + e]);
    }
}

/* past [B, heads, P, H] into the first rows of [B, heads, P + S, H]. */
static inline void att_before(const double *past, int planes, int p, int s, int h, double *out)
{
    for (int i = 0; i < planes * p * h; i++)
        out[(i / (p * h) * (p + s)) * h + i % (p * h)] = past[i];
}

#endif
