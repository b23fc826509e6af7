/* quantize_codes.c - numbers of one group as codes: scale and zero point with the least error. */
#include "pass/quantize.h"

#include <math.h>

typedef struct codes_mode {
    const char *name;
    uint32_t bits;
    int32_t low, high; /* codes around a zero of 0; Q96 has no fixed zero */
    int32_t limit;     /* 0: not with activations of 8 bits */
    hg_bits_kind kind; /* of codes for panels alone */
} codes_mode;

static const codes_mode codes_modes[] = {
    [HOLO_QUANTIZE_NONE] = {"none", 0, 0, 0, 0, HG_BITS_KINDS},
    [HOLO_QUANTIZE_INT8] = {"int8", 8, -127, 127, HG_QUANTIZE_MAX_WEIGHT, HG_BITS_KINDS},
    [HOLO_QUANTIZE_INT4] = {"int4", 4, -8, 7, 7, HG_BITS_KINDS},
    [HOLO_QUANTIZE_INT2] = {"int2", 2, -2, 1, 1, HG_BITS_KINDS},
    [HOLO_QUANTIZE_TERNARY] = {"ternary", 2, -1, 1, 1, HG_BITS_KINDS},
    [HOLO_QUANTIZE_Q96] = {"q96", 8, 0, 95, 47, HG_BITS_KINDS},
    [HOLO_QUANTIZE_INT3] = {"int3", 3, -4, 3, 3, HG_BITS_3},
    [HOLO_QUANTIZE_BINARY] = {"binary", 1, -1, 1, 0, HG_BITS_1},
    [HOLO_QUANTIZE_NF4] = {"nf4", 4, -127, 127, 0, HG_BITS_BOOK},
    [HOLO_QUANTIZE_MXFP4] = {"mxfp4", 4, -12, 12, 0, HG_BITS_BOOK},
    [HOLO_QUANTIZE_PALETTE] = {"palette", 4, -127, 127, 0, HG_BITS_BOOK},
};

uint32_t hg_quantize_bits(holo_quantize mode)
{
    return codes_modes[mode].bits;
}

const char *hg_quantize_name(holo_quantize mode)
{
    return codes_modes[mode].name;
}

hg_bits_kind hg_quantize_kind(holo_quantize mode)
{
    return codes_modes[mode].kind;
}

int32_t hg_quantize_limit(holo_quantize mode)
{
    return codes_modes[mode].limit;
}

static int32_t codes_round(double x, int32_t low, int32_t high)
{
    double r = nearbyint(x);
    return r < low ? low : r > high ? high : (int32_t)r;
}

/* Sum of squared differences that a scale leaves. */
static double codes_error(const float *w, int64_t n, int64_t step, double scale, int32_t low,
                          int32_t high)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++) {
        double x = (double)w[i * step];
        double d = x - scale * codes_round(x / scale, low, high);
        sum += d * d;
    }
    return sum;
}

/* The number of largest magnitude, with its sign. */
static float codes_extreme(const float *w, int64_t n, int64_t step)
{
    float most = 0;
    for (int64_t i = 0; i < n; i++)
        if (fabsf(w[i * step]) > fabsf(most)) most = w[i * step];
    return most;
}

/* With few codes it pays to cut off the ends: of some scales from the full range downwards, the one
 * with the least error. A scale may be negative: it sends the extreme number to the lowest code. */
static double codes_scale(const float *w, int64_t n, int64_t step, int32_t low, int32_t high)
{
    const double extreme = (double)codes_extreme(w, n, step);
    const int32_t largest = -low > high ? -low : high;
    const double full = -low > high ? extreme / low : fabs(extreme) / largest;
    double best = full, least = INFINITY;
    if (extreme == 0 || !isfinite(extreme)) return 1;
    if (largest > 8) return full; /* little to gain */
    for (int k = 0; k < 24; k++) {
        const double scale = full * (1.0 - 0.03 * k);
        const double error = codes_error(w, n, step, scale, low, high);
        if (error < least) least = error, best = scale;
    }
    return best;
}

static hg_quantize_code codes_q96(const float *w, int64_t n, int64_t step, uint8_t *codes)
{
    float low = 0, high = 0; /* 0 is exact, as everywhere */
    for (int64_t i = 0; i < n; i++) {
        if (w[i * step] < low) low = w[i * step];
        if (w[i * step] > high) high = w[i * step];
    }
    float scale = (high - low) / 95;
    if (scale == 0 || !isfinite(scale)) scale = 1;
    const float zero = (float)codes_round((double)-low / (double)scale, 0, 95);
    for (int64_t i = 0; i < n; i++)
        codes[i] = (uint8_t)codes_round((double)w[i * step] / (double)scale + (double)zero, 0, 95);
    return (hg_quantize_code){scale, zero};
}

hg_quantize_code hg_quantize_group(holo_quantize mode, const float *w, int64_t n, int64_t step,
                                   uint8_t *codes)
{
    const codes_mode *m = &codes_modes[mode];
    if (mode == HOLO_QUANTIZE_Q96) return codes_q96(w, n, step, codes);
    const int32_t zero = mode == HOLO_QUANTIZE_TERNARY ? 1 : 1 << (m->bits - 1);
    const float scale = (float)codes_scale(w, n, step, m->low, m->high);
    for (int64_t i = 0; i < n; i++)
        codes[i] =
            (uint8_t)(codes_round((double)w[i * step] / (double)scale, m->low, m->high) + zero);
    return (hg_quantize_code){scale, (float)zero};
}

/* The largest sum of two neighbours, as they lie in packed weights: by tap, then by channel. */
static double codes_largest_pair(const float *w, int64_t n, int64_t step, int64_t taps)
{
    const int64_t channels = n / taps;
    double most = 0;
    for (int64_t k = 0; k < n; k += 2) {
        double sum = 0;
        for (int64_t i = k; i < k + 2 && i < n; i++)
            sum += fabs((double)w[(i % channels * taps + i / channels) * step]);
        if (sum > most) most = sum;
    }
    return most;
}

float hg_quantize_channel(holo_quantize mode, const float *w, int64_t n, int64_t step, int64_t taps,
                          float least, int8_t *codes)
{
    const int32_t limit = codes_modes[mode].limit;
    float scale = (float)codes_scale(w, n, step, -limit, limit);
    if (limit > HG_QUANTIZE_PAIR / 2 && taps != 0) {
        /* one less: rounding may add a half to both */
        const float pair = (float)(codes_largest_pair(w, n, step, taps) / (HG_QUANTIZE_PAIR - 1));
        if (pair > scale && isfinite(pair)) scale = pair;
    }
    if (scale < least) scale = least;
    if (scale == 0) scale = 1;
    for (int64_t i = 0; i < n; i++)
        codes[i * step] = (int8_t)codes_round((double)w[i * step] / (double)scale, -limit, limit);
    return scale;
}
