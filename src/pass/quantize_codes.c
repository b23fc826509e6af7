/* quantize_codes.c - numbers of one group as codes: scale and zero point with the least error. */
#include "pass/quantize.h"

#include <math.h>
#include <stdlib.h>

enum { CODES_PIECE = HG_QUANTIZE_BLOCK, CODES_LANES = 8, CODES_TRIES = 24 };

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

/* x is a number: nothing here divides by 0. Adding and taking away 1.5 * 2^52 rounds half to even,
 * as nearbyint does, without a call. */
static int32_t codes_round(double x, int32_t low, int32_t high)
{
    const double whole = 6755399441055744.0;
    const double r = x < low ? low : x > high ? high : x;
    return (int32_t)(r + whole - whole);
}

/* Sum of squared differences of up to CODES_PIECE numbers: as floats, which are exact enough to
 * compare scales with, in lanes. */
static float codes_error_piece(const float *x, float scale, float low, float high)
{
    const float whole = 12582912.0f, inverse = 1 / scale;
    float sum[CODES_LANES] = {0}, all = 0;
    for (int i = 0; i < CODES_PIECE; i += CODES_LANES)
        for (int k = 0; k < CODES_LANES; k++) {
            float r = x[i + k] * inverse;
            r = r < low ? low : r;
            r = r > high ? high : r;
            const float d = x[i + k] - (r + whole - whole) * scale;
            sum[k] += d * d;
        }
    for (int k = 0; k < CODES_LANES; k++)
        all += sum[k];
    return all;
}

/* The number of largest magnitude, with its sign. */
static float codes_extreme(const float *w, int64_t n, int64_t step)
{
    float most = 0;
    for (int64_t i = 0; i < n; i++)
        if (fabsf(w[i * step]) > fabsf(most)) most = w[i * step];
    return most;
}

/* Squared differences that each scale leaves, in units of the largest number: no square is too
 * small for a float. */
static void codes_errors(const float *w, int64_t n, int64_t step, float unit,
                         const float scale[CODES_TRIES], int32_t low, int32_t high,
                         double error[CODES_TRIES])
{
    for (int64_t from = 0; from < n; from += CODES_PIECE) {
        float x[CODES_PIECE] = {0}; /* 0 is a code */
        for (int64_t i = 0; i < CODES_PIECE && from + i < n; i++)
            x[i] = w[(from + i) * step] / unit;
        for (int k = 0; k < CODES_TRIES; k++)
            error[k] += (double)codes_error_piece(x, scale[k], (float)low, (float)high);
    }
}

/* With few codes it pays to cut off the ends: of some scales from the full range downwards, the one
 * with the least error. A scale may be negative: it sends the extreme number to the lowest code. */
static float codes_scale(const float *w, int64_t n, int64_t step, int32_t low, int32_t high)
{
    const float extreme = codes_extreme(w, n, step), unit = fabsf(extreme);
    const int32_t largest = -low > high ? -low : high;
    const double full = (-low > high && extreme > 0 ? -1.0 : 1.0) / largest;
    float scale[CODES_TRIES];
    double error[CODES_TRIES] = {0};
    int best = 0;
    if (extreme == 0 || !isfinite(extreme)) return 1;
    for (int k = 0; k < CODES_TRIES; k++)
        scale[k] = (float)(full * (1.0 - 0.03 * k));
    if (largest <= 8) { /* otherwise there is little to gain */
        codes_errors(w, n, step, unit, scale, low, high, error);
        for (int k = 1; k < CODES_TRIES; k++)
            if (error[k] < error[best]) best = k;
    }
    const float found = (float)((double)unit * full * (1.0 - 0.03 * best));
    return found == 0 ? 1 : found; /* the largest number is almost none */
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
    const float scale = codes_scale(w, n, step, m->low, m->high);
    for (int64_t i = 0; i < n; i++)
        codes[i] =
            (uint8_t)(codes_round((double)w[i * step] / (double)scale, m->low, m->high) + zero);
    return (hg_quantize_code){scale, (float)zero};
}

/* Where number k of packed weights lies: they go by tap, then by channel. */
static int64_t codes_packed(int64_t k, int64_t n, int64_t step, int64_t taps)
{
    const int64_t channels = n / taps;
    return (k % channels * taps + k / channels) * step;
}

/* The largest sum of two neighbours in packed weights. */
static double codes_largest_pair(const float *w, int64_t n, int64_t step, int64_t taps)
{
    double most = 0;
    for (int64_t k = 0; k < n; k += 2) {
        double sum = 0;
        for (int64_t i = k; i < k + 2 && i < n; i++)
            sum += fabs((double)w[codes_packed(i, n, step, taps)]);
        if (sum > most) most = sum;
    }
    return most;
}

static int32_t codes_shorten(int32_t code, int32_t by)
{
    return code < 0 ? code + by : code - by;
}

/* Codes of two neighbours; together at most HG_QUANTIZE_PAIR: both give up half of what is above,
 * which costs least. */
static void codes_pair(const double x[2], double scale, int32_t limit, int32_t code[2])
{
    for (int i = 0; i < 2; i++)
        code[i] = codes_round(x[i] / scale, -limit, limit);
    const int32_t size[2] = {abs(code[0]), abs(code[1])};
    const int32_t above = size[0] + size[1] - HG_QUANTIZE_PAIR;
    if (above <= 0) return;
    const int32_t last = size[1] < above / 2 ? size[1] : above / 2;
    const int32_t first = size[0] < above - last ? size[0] : above - last;
    code[0] = codes_shorten(code[0], first);
    code[1] = codes_shorten(code[1], above - first);
}

/* Codes of a channel in pairs; what their squared differences sum up to. codes NULL: only that. */
static double codes_pairs(const float *w, int64_t n, int64_t step, int64_t taps, float scale,
                          int32_t limit, int8_t *codes)
{
    double sum = 0;
    for (int64_t k = 0; k < n; k += 2) {
        const bool has_second = k + 1 < n;
        const int64_t at[2] = {codes_packed(k, n, step, taps),
                               has_second ? codes_packed(k + 1, n, step, taps) : 0};
        const double x[2] = {(double)w[at[0]], has_second ? (double)w[at[1]] : 0};
        int32_t code[2];
        codes_pair(x, (double)scale, limit, code);
        for (int i = 0; i < 1 + has_second; i++) {
            const double d = x[i] - (double)scale * code[i];
            sum += d * d;
            if (codes != NULL) codes[at[i]] = (int8_t)code[i];
        }
    }
    return sum;
}

/* Cutting off a few pairs may cost less than coarser steps for all: of some scales between those
 * where no pair is cut off and where only pairs are, the one with the least error. */
static float codes_pair_scale(const float *w, int64_t n, int64_t step, int64_t taps, float scale,
                              int32_t limit)
{
    const double full = codes_largest_pair(w, n, step, taps) / (HG_QUANTIZE_PAIR - 1);
    float best = scale;
    double least = INFINITY;
    if (!(full > (double)scale) || !isfinite(full)) return scale;
    for (int k = 0; k <= CODES_TRIES; k++) {
        const float one = (float)(full + ((double)scale - full) * k / CODES_TRIES);
        const double error = codes_pairs(w, n, step, taps, one, limit, NULL);
        if (!(error < least)) continue;
        least = error;
        best = one;
    }
    return best;
}

float hg_quantize_channel(holo_quantize mode, const float *w, int64_t n, int64_t step, int64_t taps,
                          float least, int8_t *codes)
{
    const int32_t limit = codes_modes[mode].limit;
    const bool in_pairs = limit > HG_QUANTIZE_PAIR / 2 && taps != 0;
    float scale = codes_scale(w, n, step, -limit, limit);
    if (in_pairs) scale = codes_pair_scale(w, n, step, taps, scale, limit);
    if (scale < least) scale = least;
    if (scale == 0) scale = 1;
    if (in_pairs) {
        (void)codes_pairs(w, n, step, taps, scale, limit, codes);
        return scale;
    }
    for (int64_t i = 0; i < n; i++)
        codes[i * step] = (int8_t)codes_round((double)w[i * step] / (double)scale, -limit, limit);
    return scale;
}
