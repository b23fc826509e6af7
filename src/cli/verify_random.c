/* verify_random.c - are two tensors draws from the same distribution? Type and shape must agree,
 * then numbers are compared as samples: what they may be, their mean, their spread. Six standard
 * errors are allowed, so that a right generator fails once in a billion cases. */
#include "cli/values.h"
#include "cli/verify.h"
#include "io/elem.h"

#include <inttypes.h>
#include <math.h>

enum { RANDOM_ERRORS = 6 };

typedef struct random_sample {
    int64_t count;
    double mean, variance, low, high;
    bool is_number, is_binary; /* no NaN or infinity; 0 and 1 alone */
} random_sample;

static random_sample random_measure(const holo_tensor *t)
{
    random_sample s = {
        .count = holo_tensor_count(t), .is_number = true, .is_binary = true, .low = INFINITY};
    double sum = 0, squares = 0;
    s.high = -INFINITY;
    for (int64_t i = 0; i < s.count; i++) {
        double x = hg_elem_get(t, i);
        s.is_number = s.is_number && isfinite(x);
        s.is_binary = s.is_binary && (x == 0 || x == 1);
        s.low = fmin(s.low, x);
        s.high = fmax(s.high, x);
        sum += x;
    }
    s.mean = s.count == 0 ? 0 : sum / (double)s.count;
    for (int64_t i = 0; i < s.count; i++)
        squares += (hg_elem_get(t, i) - s.mean) * (hg_elem_get(t, i) - s.mean);
    s.variance = s.count == 0 ? 0 : squares / (double)s.count;
    return s;
}

/* Every element is 1 with the chance that stands at its place. */
static bool random_bernoulli(const holo_tensor *actual, const holo_tensor *chances, char *why,
                             size_t size)
{
    double off = 0, variance = 0;
    for (int64_t i = 0; i < holo_tensor_count(actual); i++) {
        double x = hg_elem_get(actual, i), p = hg_elem_get(chances, i);
        if ((p == 0 && x != 0) || (p == 1 && x != 1)) {
            snprintf(why, size, "%g at %" PRId64 ", whose chance is %g", x, i, p);
            return false;
        }
        off += x - p;
        variance += p * (1 - p);
    }
    if (fabs(off) <= RANDOM_ERRORS * sqrt(variance) + 1) return true;
    snprintf(why, size, "%+.1f ones too many, expected at most %.1f by chance", off,
             RANDOM_ERRORS * sqrt(variance) + 1);
    return false;
}

static bool random_is_chances(const holo_tensor *t, const holo_tensor *actual)
{
    if (t == NULL || t->rank != actual->rank || hg_elem_classify(t->dtype) != HG_ELEM_FLOAT)
        return false;
    for (int32_t k = 0; k < t->rank; k++)
        if (t->dim[k] != actual->dim[k]) return false;
    random_sample s = random_measure(t);
    return s.count > 0 && s.is_number && s.low >= 0 && s.high <= 1;
}

bool hg_verify_same_distribution(const holo_tensor *actual, const holo_tensor *expected,
                                 const holo_tensor *chances, char *why, size_t size)
{
    const hg_cli_tolerance form = {.only_shape = true};
    if (!hg_cli_values_agree(actual, expected, &form, why, size)) return false;
    if (hg_elem_classify(actual->dtype) == HG_ELEM_OTHER || holo_tensor_count(actual) == 0)
        return true;
    const random_sample a = random_measure(actual), b = random_measure(expected);
    if ((b.is_binary && !a.is_binary) || (b.is_number && !a.is_number)) {
        snprintf(why, size, "holds %g to %g, expected %s", a.low, a.high,
                 b.is_binary ? "0 and 1 alone" : "finite numbers");
        return false;
    }
    if (b.is_binary && random_is_chances(chances, actual))
        return random_bernoulli(actual, chances, why, size);
    const double n = (double)a.count, spread = a.variance + b.variance;
    if (fabs(a.mean - b.mean) > RANDOM_ERRORS * sqrt(spread / n)) {
        snprintf(why, size, "its mean is %g, expected about %g", a.mean, b.mean);
        return false;
    }
    if (fabs(a.variance - b.variance) > RANDOM_ERRORS * sqrt(2 / n) * spread) {
        snprintf(why, size, "its variance is %g, expected about %g", a.variance, b.variance);
        return false;
    }
    return true;
}
