/* wide.c - numbers of every element type as wide values: codecs, rounding and comparison. */
#include "oracle/oracle.h"

#include <stdio.h>

/* ---- formats -----------------------------------------------------------------------------------
 */

typedef struct wide_format {
    int mantissa, bias;
    long double largest;
    bool infinite;      /* has infinities */
    bool unsigned_zero; /* the pattern of -0 is the NaN */
} wide_format;

/* By number of type; mantissa 0 and bias 0: none. */
static const wide_format *wide_format_of(holo_dtype type)
{
    static const wide_format table[] = {
        [HOLO_F32] = {23, 127, 0x1.fffffep127L, true, false},
        [HOLO_F64] = {52, 1023, 0x1.fffffffffffffp1023L, true, false},
        [HOLO_F16] = {10, 15, 65504, true, false},
        [HOLO_BF16] = {7, 127, 0x1.fep127L, true, false},
        [HOLO_F8E4M3FN] = {3, 7, 448, false, false},
        [HOLO_F8E4M3FNUZ] = {3, 8, 240, false, true},
        [HOLO_F8E5M2] = {2, 15, 57344, true, false},
        [HOLO_F8E5M2FNUZ] = {2, 16, 57344, false, true},
        [HOLO_F4E2M1] = {1, 1, 6, false, false},
        [HOLO_F8E8M0] = {0, 127, 0x1p127L, false, false},
    };
    if ((size_t)type >= sizeof table / sizeof *table || table[type].bias == 0) return NULL;
    return &table[type];
}

bool ora_is_float(holo_dtype type)
{
    return wide_format_of(type) != NULL;
}

bool ora_is_complex(holo_dtype type)
{
    return type == HOLO_C64 || type == HOLO_C128;
}

bool ora_is_signed(holo_dtype type)
{
    return type == HOLO_I8 || type == HOLO_I16 || type == HOLO_I32 || type == HOLO_I64 ||
           type == HOLO_I4 || type == HOLO_I2;
}

bool ora_is_int(holo_dtype type)
{
    return ora_is_signed(type) || type == HOLO_U8 || type == HOLO_U16 || type == HOLO_U32 ||
           type == HOLO_U64 || type == HOLO_U4 || type == HOLO_U2;
}

int ora_bits(holo_dtype type)
{
    static const uint8_t bits[] = {
        [HOLO_F32] = 32,     [HOLO_U8] = 8,         [HOLO_I8] = 8,     [HOLO_U16] = 16,
        [HOLO_I16] = 16,     [HOLO_I32] = 32,       [HOLO_I64] = 64,   [HOLO_STRING] = 128,
        [HOLO_BOOL] = 8,     [HOLO_F16] = 16,       [HOLO_F64] = 64,   [HOLO_U32] = 32,
        [HOLO_U64] = 64,     [HOLO_C64] = 64,       [HOLO_C128] = 128, [HOLO_BF16] = 16,
        [HOLO_F8E4M3FN] = 8, [HOLO_F8E4M3FNUZ] = 8, [HOLO_F8E5M2] = 8, [HOLO_F8E5M2FNUZ] = 8,
        [HOLO_U4] = 4,       [HOLO_I4] = 4,         [HOLO_F4E2M1] = 4, [HOLO_F8E8M0] = 8,
        [HOLO_U2] = 2,       [HOLO_I2] = 2};
    return (size_t)type < sizeof bits ? bits[type] : 0;
}

size_t ora_bytes(holo_dtype type, int64_t count)
{
    return ((size_t)count * (size_t)ora_bits(type) + 7) / 8;
}

/* ---- integers ----------------------------------------------------------------------------------
 */

int64_t ora_int_min(holo_dtype type)
{
    return ora_is_signed(type) ? -(int64_t)(ora_int_max(type)) - 1 : 0;
}

uint64_t ora_int_max(holo_dtype type)
{
    if (type == HOLO_BOOL) return 1;
    return UINT64_MAX >> (64 - ora_bits(type) + (ora_is_signed(type) ? 1 : 0));
}

uint64_t ora_wrap(holo_dtype type, uint64_t value)
{
    const int bits = ora_bits(type);
    if (bits >= 64) return value;
    const uint64_t low = value & ((1ull << bits) - 1);
    return ora_is_signed(type) && low >> (bits - 1) ? low | ~((1ull << bits) - 1) : low;
}

bool ora_int_less(holo_dtype type, uint64_t a, uint64_t b)
{
    return ora_is_signed(type) ? (int64_t)a < (int64_t)b : a < b;
}

long double ora_real(holo_dtype type, const wide *w)
{
    if (ora_is_signed(type)) return (long double)(int64_t)w->i;
    if (ora_is_int(type) || type == HOLO_BOOL) return (long double)w->i;
    return w->re;
}

wide ora_wide(holo_dtype type, long double value)
{
    wide w = {0};
    if (ora_is_float(type) || ora_is_complex(type))
        w.re = value;
    else if (ora_is_signed(type))
        w.i = (uint64_t)(int64_t)value;
    else if (type != HOLO_STRING)
        w.i = (uint64_t)value;
    return w;
}

/* ---- floats ------------------------------------------------------------------------------------
 */

long double ora_max_finite(holo_dtype type)
{
    return wide_format_of(type)->largest;
}

long double ora_ulp(holo_dtype type, long double value)
{
    const wide_format *f = wide_format_of(type);
    const int lowest = 1 - f->bias;
    int e = lowest;
    if (value != 0 && isfinite(value)) e = ilogbl(value);
    return ldexpl(1, (e < lowest ? lowest : e) - f->mantissa);
}

long double ora_eps(holo_dtype type)
{
    return type == HOLO_F64 || type == HOLO_C128 ? 0x1p-53L : 0x1p-24L;
}

wide ora_near(holo_dtype type, long double value, long double size, long double n)
{
    const long double stages = ora_bits(type) == 16 ? 2 * ora_ulp(type, size) : 0;
    return (wide){.re = value, .tol = n * ora_eps(type) * size + stages};
}

long double ora_round(holo_dtype type, long double value)
{
    const wide_format *f = wide_format_of(type);
    if (!isfinite(value) || value == 0) return value;
    if (type == HOLO_F8E8M0) { /* a power of two; powers have no mantissa to be even */
        if (value < 0x1p-127L) return 0x1p-127L;
        if (value > 0x1p127L) return NAN;
        const int e = ilogbl(value);
        const long double low = ldexpl(1, e);
        return value - low < 2 * low - value ? low : 2 * low;
    }
    const long double unit = ora_ulp(type, value), r = rintl(value / unit) * unit;
    if (fabsl(r) <= f->largest) return r;
    if (f->infinite) return copysignl(INFINITY, r);
    return type == HOLO_F4E2M1 ? copysignl(f->largest, r) : NAN;
}

static uint64_t wide_encode_float(holo_dtype type, long double value)
{
    const wide_format *f = wide_format_of(type);
    const int bits = ora_bits(type);
    const uint64_t sign = signbit(value) ? 1ull << (bits - 1) : 0;
    const uint64_t top = (1ull << (bits - 1)) - 1; /* all but the sign */
    if (type == HOLO_F8E8M0) return isnan(value) ? 255 : (uint64_t)(ilogbl(value) + 127);
    if (isnan(value)) {
        if (f->unsigned_zero) return 1ull << (bits - 1);
        return f->infinite ? top & ~((1ull << (f->mantissa - 1)) - 1) : top;
    }
    if (isinf(value)) return sign | (top & ~((1ull << f->mantissa) - 1));
    if (value == 0) return f->unsigned_zero ? 0 : sign;
    const long double magnitude = fabsl(value);
    int e = ilogbl(magnitude);
    if (e < 1 - f->bias) e = 1 - f->bias;
    const uint64_t m = (uint64_t)ldexpl(magnitude, f->mantissa - e);
    /* A subnormal has exponent field 0, a normal one the leading bit of m added to it. */
    return sign | (m + ((uint64_t)(e + f->bias - 1) << f->mantissa));
}

static long double wide_decode_float(holo_dtype type, uint64_t code)
{
    const wide_format *f = wide_format_of(type);
    const int bits = ora_bits(type);
    const uint64_t top = (1ull << (bits - 1)) - 1, low = code & top;
    const long double sign = code >> (bits - 1) & 1 ? -1 : 1;
    if (type == HOLO_F8E8M0) return code == 255 ? NAN : ldexpl(1, (int)code - 127);
    const uint64_t exponent = low >> f->mantissa, m = low & ((1ull << f->mantissa) - 1);
    if (f->unsigned_zero && code == 1ull << (bits - 1)) return NAN;
    if (f->infinite && exponent == top >> f->mantissa) return m == 0 ? sign * INFINITY : NAN;
    if (type == HOLO_F8E4M3FN && low == top) return NAN;
    if (exponent == 0) return sign * ldexpl((long double)m, 1 - f->bias - f->mantissa);
    return sign *
           ldexpl((long double)(m | 1ull << f->mantissa), (int)exponent - f->bias - f->mantissa);
}

uint64_t ora_encode(holo_dtype type, const wide *w)
{
    if (ora_is_float(type)) return wide_encode_float(type, ora_round(type, w->re));
    const int bits = ora_bits(type);
    return bits == 64 ? w->i : w->i & ((1ull << bits) - 1);
}

wide ora_decode(holo_dtype type, uint64_t bits)
{
    wide w = {0};
    if (ora_is_float(type))
        w.re = wide_decode_float(type, bits);
    else
        w.i = ora_wrap(type, bits);
    return w;
}

/* ---- memory ------------------------------------------------------------------------------------
 */

static void wide_store(uint8_t *bytes, holo_dtype type, int64_t at, uint64_t code)
{
    const int bits = ora_bits(type);
    if (bits < 8) {
        const int64_t per = 8 / bits;
        const int shift = (int)(at % per) * bits;
        uint8_t *b = bytes + at / per;
        *b = (uint8_t)((*b & ~(((1u << bits) - 1) << shift)) | (unsigned)code << shift);
        return;
    }
    for (int k = 0; k < bits / 8; k++)
        bytes[at * (bits / 8) + k] = (uint8_t)(code >> 8 * k);
}

static uint64_t wide_load(const uint8_t *bytes, holo_dtype type, int64_t at)
{
    const int bits = ora_bits(type);
    if (bits < 8) {
        const int64_t per = 8 / bits;
        return (uint64_t)(bytes[at / per] >> (at % per) * bits) & ((1u << bits) - 1);
    }
    uint64_t code = 0;
    for (int k = bits / 8 - 1; k >= 0; k--)
        code = code << 8 | bytes[at * (bits / 8) + k];
    return code;
}

static holo_dtype wide_part(holo_dtype type) /* of a complex number */
{
    return type == HOLO_C64 ? HOLO_F32 : HOLO_F64;
}

void ora_pack(const ora *t, void *bytes)
{
    for (int64_t k = 0; k < t->count; k++) {
        if (t->type == HOLO_STRING) {
            ((holo_string *)bytes)[k] = t->v[k].s;
        } else if (ora_is_complex(t->type)) {
            const holo_dtype part = wide_part(t->type);
            const wide im = {.re = t->v[k].im};
            wide_store(bytes, part, 2 * k, ora_encode(part, &t->v[k]));
            wide_store(bytes, part, 2 * k + 1, ora_encode(part, &im));
        } else {
            wide_store(bytes, t->type, k, ora_encode(t->type, &t->v[k]));
        }
    }
}

ora *ora_read(const holo_tensor *t)
{
    ora *x = ora_new(t->dtype, t->rank, t->dim);
    for (int64_t k = 0; k < x->count; k++) {
        if (ora_is_complex(t->dtype)) {
            const holo_dtype part = wide_part(t->dtype);
            x->v[k] = ora_decode(part, wide_load(t->data, part, 2 * k));
            x->v[k].im = ora_decode(part, wide_load(t->data, part, 2 * k + 1)).re;
        } else {
            x->v[k] = ora_decode(t->dtype, wide_load(t->data, t->dtype, k));
        }
    }
    return x;
}

/* ---- comparison --------------------------------------------------------------------------------
 */

static bool wide_near(holo_dtype type, long double want, long double tol, long double got)
{
    if (isnan(want) || isnan(got)) return isnan(want) && isnan(got);
    /* What the oracle itself may have rounded twice. */
    if (type == HOLO_F64 && tol == 0 && ora_round(type, want) != want) tol = fabsl(want) * 0x1p-62L;
    if (isinf(want)) return got == want;
    const long double low = ora_round(type, want - tol), high = ora_round(type, want + tol);
    if (tol == 0 && got == 0 && low == 0 && !wide_format_of(type)->unsigned_zero)
        return signbit(got) == signbit(low);
    return low <= got && got <= high;
}

static bool wide_same(holo_dtype type, const wide *want, const void *data, int64_t at, char *text,
                      size_t size)
{
    if (type == HOLO_STRING) {
        const holo_string *s = (const holo_string *)data + at;
        snprintf(text, size, "\"%.*s\", expected \"%.*s\"", (int)s->length, s->text,
                 (int)want->s.length, want->s.text);
        return s->length == want->s.length &&
               (s->length == 0 || memcmp(s->text, want->s.text, s->length) == 0);
    }
    if (ora_is_complex(type)) {
        const holo_dtype part = wide_part(type);
        const wide re = ora_decode(part, wide_load(data, part, 2 * at)),
                   im = ora_decode(part, wide_load(data, part, 2 * at + 1));
        snprintf(text, size, "%.9Lg%+.9Lgi, expected %.9Lg%+.9Lgi", re.re, im.re, want->re,
                 want->im);
        return wide_near(part, want->re, want->tol, re.re) &&
               wide_near(part, want->im, want->tol, im.re);
    }
    const wide got = ora_decode(type, wide_load(data, type, at));
    if (ora_is_float(type)) {
        snprintf(text, size, "%.17Lg, expected %.17Lg (nearest %.17Lg) within %.3Lg", got.re,
                 want->re, ora_round(type, want->re), want->tol);
        return wide_near(type, want->re, want->tol, got.re);
    }
    snprintf(text, size, "%.0Lf, expected %.0Lf", ora_real(type, &got), ora_real(type, want));
    return got.i == want->i;
}

static bool wide_items(const ora *want, const holo_tensor *got, char *why, size_t size)
{
    const holo_tensor *items = got->data;
    if (got->rank != 1 || got->dim[0] != (int64_t)want->n_item) {
        snprintf(why, size, "%lld items, expected %zu", (long long)got->dim[0], want->n_item);
        return false;
    }
    for (size_t k = 0; k < want->n_item; k++) {
        char inner[300];
        if (ora_matches(want->item[k], &items[k], inner, sizeof inner)) continue;
        snprintf(why, size, "item %zu: %s", k, inner);
        return false;
    }
    return true;
}

bool ora_matches(const ora *want, const holo_tensor *got, char *why, size_t size)
{
    char text[200];
    if (got->dtype != want->type) {
        snprintf(why, size, "type %s, expected %s", holo_dtype_text(got->dtype),
                 holo_dtype_text(want->type));
        return false;
    }
    if (want->type >= HOLO_SEQUENCE) return wide_items(want, got, why, size);
    bool same = got->rank == want->rank;
    for (int d = 0; same && d < want->rank; d++)
        same = got->dim[d] == want->dim[d];
    if (!same) {
        int used = snprintf(why, size, "shape [");
        for (int d = 0; d < got->rank; d++)
            used += snprintf(why + used, size - (size_t)used, "%s%lld", d ? "," : "",
                             (long long)got->dim[d]);
        snprintf(why + used, size - (size_t)used, "], expected [%s]", ora_dims_text(want));
        return false;
    }
    for (int64_t k = 0; k < want->count; k++)
        if (!wide_same(want->type, &want->v[k], got->data, k, text, sizeof text)) {
            snprintf(why, size, "[%lld] is %s", (long long)k, text);
            return false;
        }
    return true;
}
