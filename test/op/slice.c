/* slice.c - Slice against the standard's rule, and on sizes that are known later. */
#include "op/rule.h"

static void slice_types(void)
{
    static const rule table[] = {
        {"%x: float32[10,20]",
         "%s = const int64[1] {2} %e = const int64[1] {5} %y = Slice(%x, %s, %e)", "float32[3,20]"},
        {"%x: float32[n,20]",
         "%s = const int64[1] {0} %e = const int64[1] {9223372036854775807} %a = const int64[1] "
         "{0} %y = Slice(%x, %s, %e, %a)",
         "float32[n,20]"},
        {"%x: float32[n,20]",
         "%s = const int64[1] {-1} %e = const int64[1] {-9223372036854775808} %a = const int64[1] "
         "{-1} %t = const int64[1] {-1} %y = Slice(%x, %s, %e, %a, %t)",
         "float32[n,20]"},
        {"%x: int64[4] {batch,3,h,w}",
         "%s = const int64[1] {-2} %e = const int64[1] {100} %y = Slice(%x, %s, %e)",
         "int64[2] {h,w}"},
        {"%x: int64[4] {batch,3,h,w}",
         "%s = const int64[1] {3} %e = const int64[1] {-10} %a = const int64[1] {0} %t = const "
         "int64[1] {-2} %y = Slice(%x, %s, %e, %a, %t)",
         "int64[2] {w,3}"},
        {"%x: float32[10]",
         "%s = const int64[1] {0} %e = const int64[1] {5} %a = const int64[1] {0} %t = const "
         "int64[1] {0} %y = Slice(%x, %s, %e, %a, %t)",
         "!step 0 is 0"},
        {"%x: float32[10]",
         "%s = const int64[1] {0} %e = const int64[2] {5, 6} %y = Slice(%x, %s, %e)",
         "!input 2 has 2 elements, but starts has 1"},
        {"%x: float32[10]",
         "%s = const int64[1] {0} %e = const int64[1] {5} %a = const int64[1] {1} %y = Slice(%x, "
         "%s, %e, %a)",
         "!axis is 1"},
        {"%x: float32[10,2]",
         "%s = const int64[2] {0, 0} %e = const int64[2] {5, 5} %a = const int64[2] {0, -2} %y = "
         "Slice(%x, %s, %e, %a)",
         "!are the same"},
    };
    RULES(table);
}

/* What the standard says: as Python, but a start before the first element is the first element also
 * when the step is negative. */
static int64_t slice_oracle(int64_t size, int64_t start, int64_t end, int64_t step, int64_t *out)
{
    int64_t n = 0;
    const int64_t low = step > 0 ? 0 : -1, high = step > 0 ? size : size - 1;
    start = start < 0 ? (start < -size ? 0 : start + size) : start;
    end = end < 0 ? (end < -size ? low : end + size) : end;
    start = start > high ? high : start;
    end = end < low ? low : end > high ? high : end;
    for (int64_t i = start; step > 0 ? i < end : i > end; i += step) {
        out[n++] = i;
        if (step > size || step < -size) break;
    }
    return n;
}

static void slice_all(void)
{
    static const int64_t place[] = {INT64_MIN, -7, -6, -5, -3, -1, 0, 1, 2, 4, 5, 6, INT64_MAX};
    static const int64_t step[] = {1, 2, 3, 7, INT64_MAX, -1, -2, -3, -9, INT64_MIN};
    for (size_t i = 0; i < HG_COUNT(place) * HG_COUNT(place) * HG_COUNT(step); i++) {
        const int64_t start = place[i / HG_COUNT(place) % HG_COUNT(place)],
                      end = place[i % HG_COUNT(place)];
        const int64_t by = step[i / HG_COUNT(place) / HG_COUNT(place)];
        int64_t expected[8], n = slice_oracle(5, start, end, by, expected);
        char body[512], result[256];
        snprintf(body, sizeof body,
                 "%%x = const float32[5] {0.0, 1.0, 2.0, 3.0, 4.0} %%s = const int64[1] {%lld} %%e "
                 "= const int64[1] {%lld} "
                 "%%a = const int64[1] {0} %%t = const int64[1] {%lld} %%y = Slice(%%x, %%s, %%e, "
                 "%%a, %%t)",
                 (long long)start, (long long)end, (long long)by);
        int at = snprintf(result, sizeof result, "float32[%lld] {", (long long)n);
        for (int64_t k = 0; k < n; k++)
            at += snprintf(result + at, sizeof result - (size_t)at, "%s%lld.0", k == 0 ? "" : ", ",
                           (long long)expected[k]);
        snprintf(result + at, sizeof result - (size_t)at, "}");
        rule_values(&(rule_value){body, result}, 1);
    }
}

static void slice_values(void)
{
    static const rule_value table[] = {
        {"%x = const int32[2,3] {1, 2, 3, 4, 5, 6} %s = const int64[2] {0, 2} %e = const int64[2] "
         "{2, -9} %a = const int64[2] {0, 1} "
         "%t = const int64[2] {1, -2} %y = Slice(%x, %s, %e, %a, %t)",
         "int32[2,2] {3, 1, 6, 4}"},
        {"%x = const int32[3,2] {1, 2, 3, 4, 5, 6} %s = const int64[1] {1} %e = const int64[1] {3} "
         "%y = Slice(%x, %s, %e)",
         "int32[2,2] {3, 4, 5, 6}"},
        {"%x = const uint4[5] {1, 2, 3, 4, 5} %s = const int64[1] {1} %e = const int64[1] {4} %y = "
         "Slice(%x, %s, %e)",
         "uint4[3] {2, 3, 4}"},
        {"%x = const int32[6] {1, 2, 3, 4, 5, 6} %n = const int64[3] {1, 0, 5} %a, %b, %y = "
         "Split(%x, %n)",
         "int32[5] {2, 3, 4, 5, 6}"},
        {"%x = const int32[5] {1, 2, 3, 4, 5} %a, %y, %b = Split(%x) {num_outputs=3}",
         "int32[2] {3, 4}"},
        {"%x = const int32[5] {1, 2, 3, 4, 5} %a, %b, %y = Split(%x) {num_outputs=3}",
         "int32[1] {5}"},
        {"%x = const int32[2] {1, 2} %a, %b, %y = Split(%x) {num_outputs=3}", "int32[0] {}"},
        {"%x = const int32[2,2] {1, 2, 3, 4} %a, %y = Split(%x) {axis=-1}", "int32[2,1] {2, 4}"},
        {"%x = const int32[2,2] {1, 2, 3, 4} %a, %y = Split(%x) {axis=2}",
         "!axis is 2, expected -2 to 1"},
        {"%x = const int32[3] {1, 2, 3} %n = const int64[2] {1, 1} %a, %y = Split(%x, %n)",
         "!the sizes add up to 2, but dimension 0 is 3"},
        {"%x = const int32[3] {1, 2, 3} %n = const int64[2] {4, -1} %a, %y = Split(%x, %n)",
         "!split[1] is -1"},
        {"%x = const int32[3] {1, 2, 3} %n = const int64[1] {3} %a, %y = Split(%x, %n)",
         "!split has 1 sizes, expected 2"},
    };
    RULE_VALUES(table);
}

const hg_test_case hg_tests_op_slice[] = {
    {"types", slice_types},
    {"all", slice_all},
    {"values", slice_values},
    {0},
};
