/* base.h - the macros and small types every file uses. */
#ifndef HG_BASE_BASE_H
#define HG_BASE_BASE_H

#include "hologram.h"

#include <assert.h>

/* Compiler-specific spelling lives here and nowhere else. */
#if defined(__GNUC__)
#define HG_MUST_CHECK __attribute__((warn_unused_result))
#define HG_PRINTF(at, first) __attribute__((format(printf, at, first)))
#define HG_RESTRICT __restrict__
#define HG_LIKELY(x) __builtin_expect(!!(x), 1)
#define HG_UNLIKELY(x) __builtin_expect(!!(x), 0)
#ifdef __OPTIMIZE_SIZE__
#define HG_INLINE static inline /* as the compiler finds smaller */
#else
#define HG_INLINE static inline __attribute__((always_inline))
#endif
#ifdef __clang__
#define HG_ONCE static __attribute__((noinline))
#else
#define HG_ONCE static __attribute__((noinline, noclone)) /* one copy, whoever calls it */
#endif
#define HG_SECTION(name) __attribute__((section(name), used)) /* gcc drops what is only written */
#define HG_UNROLL _Pragma("GCC unroll 16") /* the whole loop: its bounds are constants */
#else
#define HG_MUST_CHECK
#define HG_PRINTF(at, first)
#define HG_RESTRICT
#define HG_LIKELY(x) (x)
#define HG_UNLIKELY(x) (x)
#define HG_INLINE static inline
#define HG_ONCE static
#define HG_SECTION(name)
#define HG_UNROLL
#endif

/* Machines that say themselves whether a product fits; others divide, or would need a library. */
#if defined(__GNUC__) && defined(__SIZEOF_INT128__) && !defined(__wasm__)
#define HG_MUL_OVERFLOWS(a, b, out) __builtin_mul_overflow((a), (b), (out))
#endif

/* Forwards a failure; the only control-flow macro. */
#define HG_TRY(expr)                                                                               \
    do {                                                                                           \
        holo_status hg_try_status = (expr);                                                        \
        if (HG_UNLIKELY(hg_try_status != HOLO_OK)) return hg_try_status;                           \
    } while (0)

#define HG_COUNT(array) (sizeof(array) / sizeof((array)[0]))

enum { HG_MAX_RANK = HOLO_MAX_RANK, HG_ALIGN = 64 };

static inline int64_t hg_min(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static inline int64_t hg_max(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* Rounds up to a multiple of a power of two; the caller knows it cannot wrap. */
static inline size_t hg_align_up(size_t n, size_t align)
{
    return (n + align - 1) & ~(align - 1);
}

/* Overflow-checked arithmetic: false when the result does not fit. */
static inline bool hg_mul_size(size_t a, size_t b, size_t *out)
{
#ifdef HG_MUL_OVERFLOWS
    size_t product;
    if (HG_MUL_OVERFLOWS(a, b, &product)) return false;
    *out = product;
#else
    if (b != 0 && a > SIZE_MAX / b) return false;
    *out = a * b;
#endif
    return true;
}

static inline bool hg_add_size(size_t a, size_t b, size_t *out)
{
    if (a > SIZE_MAX - b) return false;
    *out = a + b;
    return true;
}

static inline bool hg_add_i64(int64_t a, int64_t b, int64_t *out)
{
    if ((b > 0 && a > INT64_MAX - b) || (b < 0 && a < INT64_MIN - b)) return false;
    *out = a + b;
    return true;
}

static inline bool hg_sub_i64(int64_t a, int64_t b, int64_t *out)
{
    if ((b < 0 && a > INT64_MAX + b) || (b > 0 && a < INT64_MIN + b)) return false;
    *out = a - b;
    return true;
}

static inline bool hg_mul_i64(int64_t a, int64_t b, int64_t *out)
{
#ifdef HG_MUL_OVERFLOWS
    int64_t product;
    if (HG_MUL_OVERFLOWS(a, b, &product)) return false;
    *out = product;
#else
    if (a == 0 || b == 0) {
        *out = 0;
        return true;
    }
    if ((a == -1 && b == INT64_MIN) || (b == -1 && a == INT64_MIN)) return false;
    if (a != -1 && b != -1) {
        int64_t limit_high = INT64_MAX / b, limit_low = INT64_MIN / b;
        if (b > 0 ? (a > limit_high || a < limit_low) : (a < limit_high || a > limit_low))
            return false;
    }
    *out = a * b;
#endif
    return true;
}

/* Division rounding to minus infinity; b != 0 and not INT64_MIN / -1. */
static inline int64_t hg_floor_div(int64_t a, int64_t b)
{
    int64_t q = a / b;
    return (a % b != 0 && ((a < 0) != (b < 0))) ? q - 1 : q;
}

static inline int64_t hg_ceil_div(int64_t a, int64_t b)
{
    int64_t q = a / b;
    return (a % b != 0 && ((a < 0) == (b < 0))) ? q + 1 : q;
}

/* The greatest number that goes into both; neither is negative, and 0 is a multiple of all. */
static inline int64_t hg_gcd(int64_t a, int64_t b)
{
    while (b != 0) {
        const int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* Things cut into parts: things of each but the last, and how many parts. */
typedef struct hg_cut {
    int64_t size, count; /* of the largest part; of parts */
    int64_t total, step;
} hg_cut;

/* `count` parts that begin at multiples of `step` and differ by one of these at most, or fewer
 * where there are not so many; a single part is not rounded. total > 0. */
static inline hg_cut hg_cut_into(int64_t total, int64_t count, int64_t step)
{
    const int64_t steps = hg_ceil_div(total, step);
    hg_cut c = {.count = hg_min(count, steps), .total = total, .step = step};
    c.size = c.count > 1 ? hg_ceil_div(steps, c.count) * step : total;
    return c;
}

/* As few parts as possible of at most `most` each, before that is rounded up. */
static inline hg_cut hg_cut_of(int64_t total, int64_t most, int64_t step)
{
    return hg_cut_into(total, hg_ceil_div(total, most), step);
}

/* Where part i begins; of part `count`: where the last one ends. */
static inline int64_t hg_cut_at(const hg_cut *c, int64_t i)
{
    const int64_t steps = hg_ceil_div(c->total, c->step);
    return hg_min(c->total, (steps / c->count * i + steps % c->count * i / c->count) * c->step);
}

#endif
