/* signal.c - windows and Fourier transforms. */
#include "oracle/oracle.h"

#include <stdio.h>

static const long double signal_pi = 3.14159265358979323846264338327950288L;

/* A real number in any numeric type: integers drop the fraction. */
static wide signal_number(holo_dtype type, long double value)
{
    if (!ora_is_float(type)) return ora_wide(type, truncl(value + 1e-12L));
    return ora_near(type, value, 1, 8);
}

/* ---- windows -----------------------------------------------------------------------------------
 */

/* a0 - a1 cos + a2 cos of twice the angle. */
static const long double signal_hann[] = {0.5L, 0.5L, 0};
static const long double signal_hamming[] = {25 / 46.0L, 21 / 46.0L, 0};
static const long double signal_blackman[] = {0.42L, 0.5L, 0.08L};

static void signal_window_check(const ora_row *row, holo_dtype index, holo_dtype type, int64_t size,
                                bool periodic)
{
    const long double *a = row->data;
    ora *y = ora_new(type, 1, &size);
    for (int64_t k = 0; k < size; k++) {
        const long double angle =
            2 * signal_pi * (long double)k / (long double)(periodic ? size : size - 1);
        y->v[k] = signal_number(type, a[0] - a[1] * cosl(angle) + a[2] * cosl(2 * angle));
    }
    char attrs[60];
    snprintf(attrs, sizeof attrs, "output_datatype=%d%s", (int)type, periodic ? "" : " periodic=0");
    ORA_CHECK(row->op, attrs, ORA_IN(ora_param(ora_scalar(index, (long double)size))), ORA_OUT(y));
}

static void signal_window(const ora_row *row)
{
    static const int64_t sizes[] = {0, 1, 2, 9, 16};
    ORA_EACH_TYPE(type, row->op, "T2")
    for (size_t k = 0; k < 5; k++) {
        signal_window_check(row, k % 2 ? HOLO_I32 : HOLO_I64, type, sizes[k], true);
        if (sizes[k] > 1) signal_window_check(row, HOLO_I32, type, sizes[k], false);
    }
}

/* ---- MelWeightMatrix ---------------------------------------------------------------------------
 */

/* Bin of the spectrum in which edge k of the triangles lies. */
static int64_t signal_mel_bin(int64_t k, int64_t bands, int64_t length, int64_t rate,
                              const long double *hertz)
{
    const long double low = 2595 * log10l(1 + hertz[0] / 700),
                      high = 2595 * log10l(1 + hertz[1] / 700);
    const long double mel = low + (long double)k * (high - low) / (long double)(bands + 2);
    const long double frequency = 700 * (powl(10, mel / 2595) - 1);
    return (int64_t)floorl((long double)(length + 1) * frequency / (long double)rate);
}

static void signal_mel_check(holo_dtype index, holo_dtype edge, holo_dtype type, int64_t bands,
                             int64_t length, int64_t rate, const long double *hertz)
{
    ora *y = ora_new(type, 2, (int64_t[]){length / 2 + 1, bands});
    for (int64_t band = 0; band < bands; band++) {
        int64_t bin[3];
        for (int64_t e = 0; e < 3; e++)
            bin[e] = signal_mel_bin(band + e, bands, length, rate, hertz);
        for (int64_t k = 0; k <= length / 2; k++) {
            long double v = k == bin[1] ? 1 : 0;
            if (k >= bin[0] && k < bin[1])
                v = (long double)(k - bin[0]) / (long double)(bin[1] - bin[0]);
            if (k > bin[1] && k < bin[2])
                v = (long double)(bin[2] - k) / (long double)(bin[2] - bin[1]);
            y->v[k * bands + band] = signal_number(type, v);
        }
    }
    char attrs[60];
    snprintf(attrs, sizeof attrs, "output_datatype=%d", (int)type);
    ORA_CHECK("MelWeightMatrix", attrs,
              ORA_IN(ora_param(ora_scalar(index, (long double)bands)),
                     ora_param(ora_scalar(index, (long double)length)),
                     ora_param(ora_scalar(index, (long double)rate)),
                     ora_param(ora_scalar(edge, hertz[0])), ora_param(ora_scalar(edge, hertz[1]))),
              ORA_OUT(y));
}

static void signal_mel(const ora_row *row)
{
    static const long double whole[] = {0, 4096}, part[] = {128, 3072};
    ORA_EACH_TYPE(type, row->op, "T3")
    {
        signal_mel_check(HOLO_I64, HOLO_F32, type, 8, 16, 8192, whole);
        signal_mel_check(HOLO_I32, HOLO_F32, type, 3, 33, 8000, part);
        signal_mel_check(HOLO_I32, HOLO_F32, type, 0, 16, 8000, part);
    }
    ORA_EACH_TYPE(edge, row->op, "T2")
    signal_mel_check(HOLO_I64, edge, HOLO_F32, 5, 32, 8000, part);
}

/* ---- DFT ---------------------------------------------------------------------------------------
 */

typedef struct signal_sum {
    long double re, im, size;
} signal_sum;

/* Adds (re + i im) e^(i angle), the angle in turns of which `turn` make `of`. */
static void signal_add(signal_sum *s, long double re, long double im, int64_t turn, int64_t of)
{
    const long double angle = 2 * signal_pi * (long double)(turn % of) / (long double)of;
    s->re += re * cosl(angle) - im * sinl(angle);
    s->im += re * sinl(angle) + im * cosl(angle);
    s->size += fabsl(re) + fabsl(im);
}

typedef struct signal_dft {
    int64_t axis, length; /* length -1: absent */
    bool inverse, onesided;
} signal_dft;

/* Component c of x at `at`, with k on the axis; 0 outside. */
static long double signal_part(const ora *x, const int64_t *at, int64_t axis, int64_t k, int64_t c)
{
    int64_t place[HOLO_MAX_RANK];
    memcpy(place, at, sizeof place);
    place[axis] = k;
    place[x->rank - 1] = c;
    if (k >= x->dim[axis] || c >= x->dim[x->rank - 1]) return 0;
    return x->v[ora_ravel(x, place)].re;
}

static signal_sum signal_transform(const ora *x, const signal_dft *d, int64_t axis,
                                   const int64_t *at, int64_t length)
{
    signal_sum s = {0};
    for (int64_t k = 0; k < length; k++) {
        const bool mirror = d->inverse && d->onesided && k > length / 2;
        const int64_t from = mirror ? length - k : k;
        long double re = signal_part(x, at, axis, from, 0), im = signal_part(x, at, axis, from, 1);
        if (mirror) im = -im;
        const int64_t turn = at[axis] * k;
        signal_add(&s, re, im, d->inverse ? turn : turn * (length - 1), length);
    }
    if (d->inverse) {
        s.re /= (long double)length;
        s.im /= (long double)length;
        s.size /= (long double)length;
    }
    return s;
}

static void signal_dft_check(const char *dims, holo_dtype type, holo_dtype index,
                             const signal_dft *d)
{
    const ora *x = ora_make(type, dims, ORA_UNIT, 3);
    int64_t dim[HOLO_MAX_RANK], at[HOLO_MAX_RANK];
    const int64_t axis = d->axis < 0 ? d->axis + x->rank : d->axis;
    const bool real = d->inverse && d->onesided;
    int64_t length = d->length;
    if (length < 0) length = real ? 2 * (x->dim[axis] - 1) : x->dim[axis];
    memcpy(dim, x->dim, sizeof dim);
    dim[axis] = d->onesided && !d->inverse ? length / 2 + 1 : length;
    dim[x->rank - 1] = real ? 1 : 2;
    ora *y = ora_new(type, x->rank, dim);
    for (int64_t k = 0; k < y->count; k++) {
        ora_unravel(y, k, at);
        const signal_sum s = signal_transform(x, d, axis, at, length);
        y->v[k] =
            ora_near(type, at[x->rank - 1] == 0 ? s.re : s.im, s.size, (long double)length + 8);
    }
    char attrs[60];
    snprintf(attrs, sizeof attrs, "inverse=%d onesided=%d", d->inverse, d->onesided);
    ora *given = d->length < 0 ? NULL : ora_param(ora_scalar(index, (long double)length));
    ora *on = ora_param(ora_scalar(HOLO_I64, (long double)d->axis));
    ORA_CHECK("DFT", attrs, ORA_IN(x, given, on), ORA_OUT(y));
    if (d->axis == -2) ORA_CHECK("DFT", attrs, ORA_IN(x, given), ORA_OUT(y));
    snprintf(attrs, sizeof attrs, "inverse=%d onesided=%d axis=%d", d->inverse, d->onesided,
             (int)axis);
    ORA_CHECK("DFT", attrs, ORA_IN(x, given), ORA_OUT(y), .opset = 17);
}

static void signal_dft_lengths(const char *dims, holo_dtype type, bool inverse, bool onesided)
{
    static const int64_t lengths[] = {-1, 1, 4, 7, 8, 15, 16};
    for (size_t k = 0; k < 7; k++) {
        signal_dft_check(dims, type, k % 2 ? HOLO_I32 : HOLO_I64,
                         &(signal_dft){-2, lengths[k], inverse, onesided});
        signal_dft_check(dims, type, HOLO_I64, &(signal_dft){1, lengths[k], inverse, onesided});
    }
    signal_dft_check(dims, type, HOLO_I64, &(signal_dft){-3, -1, inverse, onesided});
}

static void signal_dft_row(const ora_row *row)
{
    ORA_EACH_TYPE(type, row->op, "T1")
    {
        signal_dft_lengths("2,7,5,1", type, false, false);
        signal_dft_lengths("2,7,5,2", type, false, false);
        signal_dft_lengths("2,7,5,1", type, true, false);
        signal_dft_lengths("2,7,5,2", type, true, false);
        signal_dft_lengths("2,7,5,1", type, false, true);
        signal_dft_lengths("2,7,5,2", type, true, true);
        signal_dft_check("0,6,1", type, HOLO_I64, &(signal_dft){1, -1, false, false});
        signal_dft_check("6,1", type, HOLO_I64, &(signal_dft){0, -1, false, true});
        signal_dft_check("67,2", type, HOLO_I64, &(signal_dft){-2, -1, false, false});
    }
}

/* ---- STFT --------------------------------------------------------------------------------------
 */

static void signal_stft_check(const char *dims, holo_dtype type, holo_dtype index, int64_t step,
                              int64_t length, bool window, bool given, bool onesided)
{
    const ora *x = ora_make(type, dims, ORA_UNIT, 3);
    const ora *w = window ? ora_make(type, length == 8 ? "8" : "5", ORA_UNIT, 4) : NULL;
    const int64_t frames = (x->dim[1] - length) / step + 1,
                  bins = onesided ? length / 2 + 1 : length;
    ora *y = ora_new(type, 4, (int64_t[]){x->dim[0], frames, bins, 2});
    for (int64_t k = 0; k < y->count; k++) {
        int64_t at[HOLO_MAX_RANK];
        signal_sum s = {0};
        ora_unravel(y, k, at);
        for (int64_t n = 0; n < length; n++) {
            const int64_t from[] = {at[0], at[1] * step + n, 0};
            const wide *v = &x->v[ora_ravel(x, from)];
            const long double scale = w == NULL ? 1 : w->v[n].re,
                              im = x->dim[2] == 2 ? v[1].re * scale : 0;
            signal_add(&s, v->re * scale, im, at[2] * n * (length - 1), length);
        }
        y->v[k] = ora_near(type, at[3] == 0 ? s.re : s.im, s.size, (long double)length + 8);
    }
    ORA_CHECK("STFT", onesided ? NULL : "onesided=0",
              ORA_IN(x, ora_param(ora_scalar(index, (long double)step)), w,
                     given ? ora_param(ora_scalar(index, (long double)length)) : NULL),
              ORA_OUT(y));
}

static void signal_stft(const ora_row *row)
{
    ORA_EACH_TYPE(type, row->op, "T1")
    ORA_EACH_TYPE(index, row->op, "T2")
    {
        for (int onesided = 0; onesided < 2; onesided++) {
            signal_stft_check("2,23,1", type, index, 3, 8, true, true, onesided);
            signal_stft_check("2,23,1", type, index, 8, 8, true, false, onesided);
            signal_stft_check("1,17,1", type, index, 4, 5, false, true, onesided);
            signal_stft_check("1,5,1", type, index, 4, 5, true, false, onesided);
            signal_stft_check("0,9,1", type, index, 2, 5, true, false, onesided);
        }
        signal_stft_check("2,23,2", type, index, 3, 8, true, true, false);
        signal_stft_check("1,11,2", type, index, 1, 5, false, true, false);
    }
}

const ora_row ora_rows_signal[] = {
    {"BlackmanWindow", signal_window, signal_blackman},
    {"DFT", signal_dft_row, NULL},
    {"HammingWindow", signal_window, signal_hamming},
    {"HannWindow", signal_window, signal_hann},
    {"MelWeightMatrix", signal_mel, NULL},
    {"STFT", signal_stft, NULL},
    {NULL, NULL, NULL},
};

static void signal_rows(void)
{
    ora_run(ora_rows_signal);
}

const hg_test_case hg_tests_oracle_signal[] = {{"rows", signal_rows}, {0}};
