/* fill.c - contents of new tensors.
 *
 *   ""           what suits the type: small numbers, floats often multiples of 1/4
 *   pos, unit    above 0; from 0 to 1
 *   ints(A..B)   integers from A to B
 *   set(1,2,-1)  one of these
 *   idx(A,B)     indices into A, into B, ... by turns; may count from the end
 *   nidx(A,B)    the same, but never below 0
 *   vec(A,B,4)   these numbers in this order
 *   lit(1,0.5)   the same for numbers with a point
 *   axis, axes   one axis of the first input; some, none twice
 *
 * A, B are expressions over the letters of the pattern. */
#include "io/elem.h"
#include "random/random.h"

#include <stdlib.h>

static bool fill_is(const char *fill, const char *name)
{
    return strncmp(fill, name, strlen(name)) == 0;
}

static const char *fill_open(const char *fill)
{
    const char *at = strchr(fill, '(');
    return at == NULL ? fill + strlen(fill) : at + 1;
}

/* Expressions between the brackets. */
static uint32_t fill_args(rnd_source *s, rnd_bind *b, const char *fill, int64_t *arg)
{
    uint32_t n = 0;
    const char *at = fill_open(fill);
    while (*at != 0 && *at != ')' && n < 8) {
        arg[n++] = rnd_eval(s, b, &at);
        while (*at == ',' || *at == '.')
            at++;
    }
    return n;
}

static uint32_t fill_numbers(const char *fill, double *arg)
{
    uint32_t n = 0;
    const char *at = fill_open(fill);
    while (*at != 0 && *at != ')' && n < 16) {
        char *end;
        arg[n++] = strtod(at, &end);
        at = *end == ',' ? end + 1 : end;
    }
    return n;
}

static double fill_float(rnd_source *s)
{
    switch (rnd_below(s, 8)) {
    case 0: return (double)rnd_below(s, 65536) / 16384.0 - 2.0;
    case 1: return rnd_below(s, 40) == 0 ? -0.0 : 0.5;
    case 2: return rnd_below(s, 4) == 0 ? 0.0 : 1.0;
    default: return (double)((int32_t)rnd_below(s, 25) - 12) / 4.0;
    }
}

static double fill_number(rnd_source *s, holo_dtype dtype)
{
    if (dtype == HOLO_BOOL) return rnd_below(s, 2);
    if (hg_dtype_is_unsigned_int(dtype)) return rnd_below(s, rnd_chance(s, 10) ? 251 : 12);
    if (hg_dtype_is_signed_int(dtype)) return (double)((int32_t)rnd_below(s, 17) - 8);
    return fill_float(s);
}

static void fill_texts(rnd_source *s, holo_tensor *t)
{
    static const char *const word[] = {"",  "a",    "B",      "cat",  "the cat",
                                       "1", "-2.5", "a b  c", "zebra"};
    for (int64_t i = 0; i < holo_tensor_count(t); i++) {
        const char *text = word[rnd_below(s, HG_COUNT(word))];
        ((holo_string *)t->data)[i] = (holo_string){text, strlen(text)};
    }
}

/* Axes without repetition: a random start, then every following one. */
static void fill_axes(rnd_source *s, int64_t rank, holo_tensor *t)
{
    int64_t count = holo_tensor_count(t), start = rnd_below(s, (uint32_t)rank);
    for (int64_t i = 0; i < count; i++) {
        int64_t axis = rank == 0 ? 0 : (start + i) % rank;
        hg_elem_set(t, i, (double)(rnd_chance(s, 30) ? axis - rank : axis));
    }
}

static double fill_element(rnd_source *s, const char *fill, const int64_t *arg, uint32_t n_arg,
                           int64_t i, holo_dtype dtype)
{
    int64_t a = n_arg == 0 ? 0 : arg[i % n_arg];
    if (fill_is(fill, "pos")) return 0.25 * (1 + rnd_below(s, 12));
    if (fill_is(fill, "unit")) return rnd_below(s, 17) / 16.0;
    if (fill_is(fill, "ints"))
        return (double)(arg[0] + (n_arg < 2 || arg[1] < arg[0]
                                      ? 0
                                      : rnd_below(s, (uint32_t)(arg[1] - arg[0] + 1))));
    if (fill_is(fill, "set")) return (double)arg[rnd_below(s, n_arg)];
    if (fill_is(fill, "vec")) return (double)(i < (int64_t)n_arg ? arg[i] : 0);
    if (fill_is(fill, "nidx")) return rnd_below(s, (uint32_t)a);
    if (fill_is(fill, "idx"))
        return (double)rnd_below(s, (uint32_t)a) - (rnd_chance(s, 25) ? (double)a : 0.0);
    return fill_number(s, dtype);
}

void rnd_fill(rnd_source *s, rnd_bind *b, const char *fill, holo_tensor *t)
{
    int64_t arg[8] = {0}, parts = holo_tensor_count(t) * hg_elem_parts(t->dtype);
    double number[16];
    if (t->dtype == HOLO_STRING) {
        fill_texts(s, t);
    } else if (fill_is(fill, "axes") || fill_is(fill, "axis")) {
        fill_axes(s, b->letter['#'], t);
    } else if (fill_is(fill, "lit")) {
        uint32_t n = fill_numbers(fill, number);
        for (int64_t i = 0; i < parts && i < (int64_t)n; i++)
            hg_elem_set(t, i, number[i]);
    } else {
        uint32_t n_arg = fill_args(s, b, fill, arg);
        for (int64_t i = 0; i < parts; i++)
            hg_elem_set(t, i, fill_element(s, fill, arg, n_arg, i, t->dtype));
    }
}

static bool fill_element_fits(const char *fill, const int64_t *arg, uint32_t n_arg, int64_t i,
                              double x)
{
    int64_t a = n_arg == 0 ? 0 : arg[i % n_arg];
    if (fill_is(fill, "pos")) return x > 0.01 && x < 100;
    if (fill_is(fill, "unit")) return x >= 0 && x <= 1;
    if (fill_is(fill, "ints")) return x >= (double)arg[0] && n_arg == 2 && x <= (double)arg[1];
    if (fill_is(fill, "nidx")) return x >= 0 && x < (double)a;
    if (fill_is(fill, "idx")) return x >= (double)-a && x < (double)a;
    return false;
}

bool rnd_fits(rnd_source *s, rnd_bind *b, const char *fill, const holo_tensor *t)
{
    int64_t arg[8] = {0};
    if (fill[0] == 0) return !rnd_is_wild(t) || rnd_chance(s, 10);
    if (!rnd_is_plain(t)) return false;
    uint32_t n_arg = fill_args(s, b, fill, arg);
    for (int64_t i = 0; i < holo_tensor_count(t); i++)
        if (!fill_element_fits(fill, arg, n_arg, i, hg_elem_get(t, i))) return false;
    return holo_tensor_count(t) > 0;
}
