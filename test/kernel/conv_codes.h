/* conv_codes.h - what the tests of exact convolutions of 8-bit codes share: geometry and oracle. */
#ifndef HG_TEST_KERNEL_CONV_CODES_H
#define HG_TEST_KERNEL_CONV_CODES_H

#include "kernel/codes.h"

typedef struct conv_codes_case {
    int64_t n, h, w, c, o, groups, kh, kw, stride_h, stride_w, pad_h, pad_w, dil_h, dil_w;
} conv_codes_case;

static inline int64_t conv_codes_out(int64_t in, int64_t k, int64_t stride, int64_t pad,
                                     int64_t dil)
{
    return (in + 2 * pad - (k - 1) * dil - 1) / stride + 1;
}

static inline void conv_codes_params(gemm_call *c, const conv_codes_case *p)
{
    const int64_t list[9] = {p->kh,    p->kw,    p->stride_h, p->stride_w, p->pad_h,
                             p->pad_w, p->dil_h, p->dil_w,    p->groups};
    memcpy(c->param, list, sizeof list);
}

/* x [n, h, w, c]; w [o, c / groups, kh, kw] as numbers, zero points taken away. */
static inline int32_t conv_codes_oracle(const conv_codes_case *p, const holo_tensor *x,
                                        int64_t zero, const int32_t *w, int64_t oh, int64_t ow,
                                        int64_t element)
{
    const int64_t o = element % p->o, ox = element / p->o % ow, oy = element / p->o / ow % oh;
    const int64_t n = element / p->o / ow / oh, channels = p->c / p->groups;
    const int64_t first = o / (p->o / p->groups) * channels;
    int64_t sum = 0;
    for (int64_t c = 0; c < channels; c++)
        for (int64_t i = 0; i < p->kh; i++)
            for (int64_t j = 0; j < p->kw; j++) {
                const int64_t y = oy * p->stride_h + i * p->dil_h - p->pad_h;
                const int64_t z = ox * p->stride_w + j * p->dil_w - p->pad_w;
                if (y < 0 || y >= p->h || z < 0 || z >= p->w) continue;
                sum += (codes_get(x, ((n * p->h + y) * p->w + z) * p->c + first + c) - zero) *
                       w[((o * channels + c) * p->kh + i) * p->kw + j];
            }
    return codes_wrap(sum);
}

#endif
